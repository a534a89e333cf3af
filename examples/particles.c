/* Stirs 65,536 particles with a graph that is recorded once and replayed a thousand times. A moving centre attracts the
   particles; its position is a slot, the only value that changes between replays. Every replay also counts the
   particles in each pixel of a picture, in which older counts fade. Compares the first steps with plain C.
   cc -std=c99 -O2 -I. examples/particles.c -o particles -ldl -lpthread -lm
   Run: ./particles [picture.png [particles [steps]]]
   Needs stb_image_write.h (Debian: libstb-dev). */
#define VKDISPATCH_CUDA
#define VKDISPATCH_OPENCL
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

enum { SIDE = 512, TESTED = 1000, TESTED_STEPS = 10 };
#define DT 0.01f
#define DRAG 0.999f
#define SOFTENING 0.02f /* softening length squared of the attraction */

typedef struct vector { float x, y; } vector;

/* velocity += dt * attraction; position += dt * velocity. The square from 0 to 1 continues at the opposite side. */
static vd_kernel build_move(vd_context *ctx) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "move", .machine = vd_machine(ctx) });
    vc_ref position = vc_buffer(k, "position", VC_F32X2, VC_READ_WRITE);
    vc_ref velocity = vc_buffer(k, "velocity", VC_F32X2, VC_READ_WRITE);
    vc_val centre = vc_param(k, "centre", VC_F32X2);
    VC_EACH(k, i) {
        vc_val p = vc_load(position, i), d = vc_sub(centre, p);
        vc_val pull = vc_div(vc_f32(DT), vc_add(vc_dot(d, d), vc_f32(SOFTENING)));
        vc_val v = vc_mul(vc_fma(d, vc_splat(pull, 2), vc_load(velocity, i)), vc_f32(DRAG));
        vc_val moved = vc_fma(v, vc_splat(vc_const(k, vc_f32(DT)), 2), p);
        vc_store(position, i, vc_sub(moved, vc_floor(moved)));
        vc_store(velocity, i, v);
    }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

/* counts[i] -= counts[i] / 32 */
static vd_kernel build_fade(vd_context *ctx) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "fade", .machine = vd_machine(ctx) });
    vc_ref counts = vc_buffer(k, "counts", VC_U32, VC_READ_WRITE);
    VC_EACH(k, i) {
        vc_val c = vc_load(counts, i);
        vc_store(counts, i, vc_sub(c, vc_div(c, vc_u32(32))));
    }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

/* counts[pixel of each particle] += 32 */
static vd_kernel build_count(vd_context *ctx) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "count", .machine = vd_machine(ctx) });
    vc_ref position = vc_buffer(k, "position", VC_F32X2, VC_READ);
    vc_ref counts = vc_buffer(k, "counts", VC_U32, VC_READ_WRITE);
    VC_EACH(k, i) {
        vc_val p = vc_mul(vc_load(position, i), vc_f32(SIDE)), last = vc_u32(SIDE - 1);
        vc_val x = vc_min(vc_cast(VC_U32, vc_component(p, 0)), last);
        vc_val y = vc_min(vc_cast(VC_U32, vc_component(p, 1)), last);
        vc_atomic_add(counts, vc_add(vc_mul(y, vc_u32(SIDE)), x), vc_u32(32), NULL);
    }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

/* The centre moves on a rosette. */
static vector centre_of(int step) {
    float t = 0.006f * (float)step;
    vector c = { 0.5f + 0.3f * cosf(t) * cosf(0.3f * t), 0.5f + 0.3f * sinf(1.7f * t) };
    return c;
}

static float random_float(uint32_t *state) { /* 0 … 1 */
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 16777216.0f;
}

static void make_particles(vector *position, int n) {
    uint32_t state = 1;
    for (int i = 0; i < n; i++) {
        position[i].x = random_float(&state);
        position[i].y = random_float(&state);
    }
}

typedef struct simulation {
    vd_context *ctx;
    vd_kernel move, fade, count;
    vd_buffer position, velocity, counts;
    vd_graph step;
} simulation;

static vd_buffer make_buffer(vd_context *ctx, const char *name, vd_type type, int elements, const void *data) {
    return vd_buffer_create(ctx, &(vd_buffer_desc){ .name = name, .type = type, .shape = { (uint64_t)elements },
                                                    .data = data });
}

static void stop(const char *what) {
    fprintf(stderr, "%s: %s\n", what, vd_error_text());
    exit(1);
}

/* Records one step of n particles. Fading the counts and moving the particles do not depend on each other, so there is
   one barrier: between them and the counting. Errors are kept in the list, and vd_graph_end returns the first. */
static void record(simulation *s, const vector *position, int n) {
    vector centre = centre_of(0);
    s->position = make_buffer(s->ctx, "position", VD_F32X2, n, position);
    s->velocity = make_buffer(s->ctx, "velocity", VD_F32X2, n, NULL);
    s->counts = make_buffer(s->ctx, "counts", VD_U32, SIDE * SIDE, NULL);
    vd_list *list = vd_graph_begin(s->ctx, &(vd_graph_desc){ .name = "step" });
    vd_arg move[3] = { vd_b(s->position), vd_b(s->velocity), vd_slot("centre", vd_value(VD_F32X2, &centre)) };
    vd_arg count[2] = { vd_b(s->position), vd_b(s->counts) };
    vd_dispatch(list, &(vd_dispatch_desc){ .kernel = s->move, .threads = { (uint64_t)n }, .args = move,
                                           .arg_count = 3 });
    vd_dispatch(list, &(vd_dispatch_desc){ .kernel = s->fade, .threads = { SIDE * SIDE }, .args = &count[1],
                                           .arg_count = 1 });
    vd_dispatch(list, &(vd_dispatch_desc){ .kernel = s->count, .threads = { (uint64_t)n }, .args = count,
                                           .arg_count = 2 });
    s->step = vd_graph_end(list);
    if (!s->step.id) stop("cannot record a step");
}

static void replay(simulation *s, int steps) {
    for (int i = 0; i < steps; i++) {
        vector centre = centre_of(i);
        if (vd_graph_set(s->ctx, s->step, "centre", vd_value(VD_F32X2, &centre))) stop("cannot set the centre");
        if (vd_graph_submit(s->ctx, s->step, NULL, NULL)) stop("cannot submit a step");
    }
}

static void discard(simulation *s) {
    vd_graph_destroy(s->ctx, s->step);
    vd_buffer_destroy(s->ctx, s->position);
    vd_buffer_destroy(s->ctx, s->velocity);
    vd_buffer_destroy(s->ctx, s->counts);
}

static void step_in_c(vector *position, vector *velocity, int n, vector centre) {
    for (int i = 0; i < n; i++) {
        vector *p = &position[i], *v = &velocity[i], d = { centre.x - p->x, centre.y - p->y };
        float pull = DT / (d.x * d.x + d.y * d.y + SOFTENING);
        v->x = (v->x + d.x * pull) * DRAG;
        v->y = (v->y + d.y * pull) * DRAG;
        p->x += v->x * DT;
        p->y += v->y * DT;
        p->x -= floorf(p->x);
        p->y -= floorf(p->y);
    }
}

/* Returns the largest difference in position between the device and plain C after a few steps of a few particles. */
static double small_check(simulation *s) {
    static vector position[TESTED], expected[TESTED], velocity[TESTED];
    double worst = 0;
    make_particles(position, TESTED);
    memcpy(expected, position, sizeof expected);
    for (int i = 0; i < TESTED_STEPS; i++) step_in_c(expected, velocity, TESTED, centre_of(i));
    record(s, position, TESTED);
    replay(s, TESTED_STEPS);
    if (vd_buffer_read(s->ctx, s->position, 0, position, VD_WHOLE)) stop("cannot read");
    for (int i = 0; i < TESTED; i++) {
        double x = fabs((double)position[i].x - (double)expected[i].x),
               y = fabs((double)position[i].y - (double)expected[i].y);
        worst = fmax(worst, fmax(fmin(x, 1 - x), fmin(y, 1 - y))); /* a particle may have crossed the edge */
    }
    discard(s);
    return worst;
}

/* Writes the square roots of the counts as a picture. */
static int write_picture(const char *path, const uint32_t *counts) {
    static uint8_t pixels[SIDE * SIDE];
    uint32_t most = 1;
    for (int i = 0; i < SIDE * SIDE; i++) most = counts[i] > most ? counts[i] : most;
    for (int i = 0; i < SIDE * SIDE; i++)
        pixels[i] = (uint8_t)(255 * sqrt((double)counts[i] / most));
    return stbi_write_png(path, SIDE, SIDE, 1, pixels, SIDE);
}

int main(int argc, char **argv) {
    static uint32_t counts[SIDE * SIDE];
    const char *path = argc > 1 ? argv[1] : "particles.png";
    int n = argc > 2 ? atoi(argv[2]) : 1 << 16, steps = argc > 3 ? atoi(argv[3]) : 1000;
    simulation s = { NULL, { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, { 0 } };
    vd_graph_info info;
    if (n < 1 || steps < 1) {
        fprintf(stderr, "%d particles and %d steps: both must be at least 1\n", n, steps);
        return 1;
    }
    if (vd_context_create(NULL, &s.ctx)) stop("no device");
    s.move = build_move(s.ctx);
    s.fade = build_fade(s.ctx);
    s.count = build_count(s.ctx);
    if (!s.move.id || !s.fade.id || !s.count.id) stop("no kernel");
    double worst = small_check(&s);
    vector *position = malloc((size_t)n * sizeof *position);
    if (!position) { fprintf(stderr, "out of memory for %d particles\n", n); return 1; }
    make_particles(position, n);
    record(&s, position, n);
    vd_graph_query(s.ctx, s.step, &info);
    uint64_t start = vd_time_ns();
    replay(&s, steps);
    if (vd_buffer_read(s.ctx, s.counts, 0, counts, VD_WHOLE)) stop("cannot read");
    double seconds = 1e-9 * (double)(vd_time_ns() - start);
    printf("%d steps of %d particles differ from plain C by at most %.1e.\n%d replays of %d commands with %d barrier on "
           "%s: %.0f us each.\n", TESTED_STEPS, TESTED, worst, steps, info.commands, info.barriers,
           vd_device(s.ctx, 0)->name, 1e6 * seconds / steps);
    int written = write_picture(path, counts);
    if (!written) fprintf(stderr, "%s could not be written\n", path);
    free(position);
    vd_context_destroy(s.ctx);
    return !written || worst > 1e-4;
}
