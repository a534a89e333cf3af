/* Simulates stars that attract each other. In each step, one thread per star sums the pull of all others, which are
   loaded into shared memory in tiles. Compares one step of a small system with plain C, then runs a larger one and
   prints how well energy is conserved.
   cc -std=c99 -O2 -I. examples/nbody.c -o nbody -ldl -lpthread -lm
   Run: ./nbody [stars [steps]] */
#define VKDISPATCH_CUDA
#define VKDISPATCH_OPENCL
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TILE = 64 };                      /* threads per work-group, and stars per tile */
#define SOFTENING 0.01f                  /* softening length squared; keeps close encounters finite */

/* velocity += dt * pull, one thread per star. Positions are x, y, z, mass. The last tile is padded with stars
   without mass. */
static vd_kernel build_pull(vd_context *ctx) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "pull", .local_size = { TILE }, .machine = vd_machine(ctx) });
    vc_ref position = vc_buffer(k, "position", VC_F32X4, VC_READ);
    vc_ref velocity = vc_buffer(k, "velocity", VC_F32X4, VC_READ_WRITE);
    vc_val count = vc_param(k, "count", VC_U32);
    vc_val dt = vc_param(k, "dt", VC_F32);
    vc_ref tile = vc_shared(k, "tile", VC_F32X4, TILE);
    vc_ref pull = vc_var(k, "pull", VC_F32X3);
    vc_val me = vc_global_id(k, 0), lane = vc_local_id(k, 0), zero = vc_splat(vc_const(k, vc_f32(0)), 4);
    vc_val here = vc_swizzle(vc_load_or(position, me, vc_lt(me, count), zero), "xyz");
    VC_FOR_STEP(k, first, vc_u32(0), count, vc_u32(TILE)) {
        vc_val other = vc_add(first, lane);
        vc_store(tile, lane, vc_load_or(position, other, vc_lt(other, count), zero));
        vc_barrier(k);
        VC_FOR(k, j, vc_u32(0), vc_u32(TILE)) {
            vc_val star = vc_load(tile, j), d = vc_sub(vc_swizzle(star, "xyz"), here);
            vc_val inverse = vc_rsqrt(vc_add(vc_dot(d, d), vc_f32(SOFTENING)));
            vc_val strength = vc_mul(vc_component(star, 3), vc_mul(inverse, vc_mul(inverse, inverse)));
            vc_set(pull, vc_fma(d, vc_splat(strength, 3), vc_get(pull)));
        }
        vc_barrier(k);
    }
    VC_IF(k, vc_lt(me, count)) {
        vc_val p = vc_get(pull);
        vc_val change = vc_vec4(vc_component(p, 0), vc_component(p, 1), vc_component(p, 2), vc_f32(0));
        vc_store(velocity, me, vc_fma(change, vc_splat(dt, 4), vc_load(velocity, me)));
    }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

/* position += dt * velocity */
static vd_kernel build_move(vd_context *ctx) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "move", .local_size = { TILE }, .machine = vd_machine(ctx) });
    vc_ref position = vc_buffer(k, "position", VC_F32X4, VC_READ_WRITE);
    vc_ref velocity = vc_buffer(k, "velocity", VC_F32X4, VC_READ);
    vc_val dt = vc_param(k, "dt", VC_F32);
    VC_EACH(k, i) { vc_store(position, i, vc_fma(vc_load(velocity, i), vc_splat(dt, 4), vc_load(position, i))); }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

typedef struct star { float x, y, z, mass; } star; /* in a velocity the fourth component is 0 */

/* The same in plain C, with the same rounding in nearly all operations. */
static void pull_in_c(const star *position, star *velocity, int n, float dt) {
    for (int i = 0; i < n; i++) {
        float pull[3] = { 0, 0, 0 };
        for (int j = 0; j < n; j++) {
            float d[3] = { position[j].x - position[i].x, position[j].y - position[i].y,
                           position[j].z - position[i].z };
            float inverse = 1.0f / sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + SOFTENING);
            for (int c = 0; c < 3; c++) pull[c] += d[c] * (position[j].mass * inverse * inverse * inverse);
        }
        velocity[i].x += pull[0] * dt;
        velocity[i].y += pull[1] * dt;
        velocity[i].z += pull[2] * dt;
    }
}

static double energy(const star *position, const star *velocity, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double x = velocity[i].x, y = velocity[i].y, z = velocity[i].z;
        sum += 0.5 * position[i].mass * (x * x + y * y + z * z);
        for (int j = 0; j < i; j++) {
            x = position[j].x - position[i].x; y = position[j].y - position[i].y; z = position[j].z - position[i].z;
            sum -= (double)position[i].mass * position[j].mass / sqrt(x * x + y * y + z * z + (double)SOFTENING);
        }
    }
    return sum;
}

static float random_float(uint32_t *state) { /* -1 … 1 */
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 8388608.0f - 1.0f;
}

/* A cloud of stars of total mass 1, rotating about the z axis. */
static void make_stars(star *position, star *velocity, int n) {
    uint32_t state = 1;
    for (int i = 0; i < n; i++) {
        star p = { random_float(&state), random_float(&state), random_float(&state), 1.0f / (float)n };
        star v = { -0.5f * p.y, 0.5f * p.x, 0, 0 };
        position[i] = p;
        velocity[i] = v;
    }
}

/* Runs `steps` steps on the device: uploads the arrays, and reads them back into the same memory. The library
   detects that the second kernel of a step reads what the first one wrote, and inserts barriers. */
static vd_result run(vd_context *ctx, vd_kernel pull, vd_kernel move, star *position, star *velocity, int n, int steps,
                     float dt) {
    const uint64_t count = (uint64_t)n;
    vd_buffer p = vd_buffer_create(ctx, &(vd_buffer_desc){ .name = "position", .type = VD_F32X4, .shape = { count },
                                                           .data = position });
    vd_buffer v = vd_buffer_create(ctx, &(vd_buffer_desc){ .name = "velocity", .type = VD_F32X4, .shape = { count },
                                                           .data = velocity });
    vd_result r = p.id && v.id ? VD_OK : VD_ERROR_OUT_OF_DEVICE_MEMORY;
    for (int s = 0; s < steps && !r; s++) {
        r = vd_run(ctx, pull, count, vd_b(p), vd_b(v), vd_u32((uint32_t)n), vd_f32(dt));
        if (!r) r = vd_run(ctx, move, count, vd_b(p), vd_b(v), vd_f32(dt));
    }
    if (!r) r = vd_buffer_read(ctx, p, 0, position, VD_WHOLE);
    if (!r) r = vd_buffer_read(ctx, v, 0, velocity, VD_WHOLE);
    vd_buffer_destroy(ctx, p);
    vd_buffer_destroy(ctx, v);
    return r;
}

/* Returns in `worst` the largest difference in velocity between the device and plain C after one step. */
static vd_result small_check(vd_context *ctx, vd_kernel pull, vd_kernel move, double *worst) {
    enum { N = 100 };
    star position[N], velocity[N], moved[N], expected[N];
    make_stars(position, velocity, N);
    for (int i = 0; i < N; i++) { moved[i] = position[i]; expected[i] = velocity[i]; }
    pull_in_c(position, expected, N, 0.01f);
    vd_result r = run(ctx, pull, move, moved, velocity, N, 1, 0.01f);
    *worst = 0;
    for (int i = 0; i < N; i++) {
        *worst = fmax(*worst, fabs((double)velocity[i].x - (double)expected[i].x));
        *worst = fmax(*worst, fabs((double)velocity[i].y - (double)expected[i].y));
        *worst = fmax(*worst, fabs((double)velocity[i].z - (double)expected[i].z));
    }
    return r;
}

int main(int argc, char **argv) {
    vd_context *ctx = NULL;
    if (vd_context_create(NULL, &ctx)) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    int n = argc > 1 ? atoi(argv[1]) : 2048, steps = argc > 2 ? atoi(argv[2]) : 100;
    if (n < 1 || steps < 1) {
        fprintf(stderr, "%d stars and %d steps: both must be at least 1\n", n, steps);
        return 1;
    }
    star *position = calloc((size_t)n, sizeof *position), *velocity = calloc((size_t)n, sizeof *velocity);
    vd_kernel pull, move;
    double worst = 0, before, after;
    vd_result r;
    if (!position || !velocity) { fprintf(stderr, "out of memory for %d stars\n", n); return 1; }

    pull = build_pull(ctx);
    move = pull.id ? build_move(ctx) : pull;
    r = move.id ? small_check(ctx, pull, move, &worst) : VD_ERROR_COMPILE;
    if (!r) {
        make_stars(position, velocity, n);
        before = energy(position, velocity, n);
        r = run(ctx, pull, move, position, velocity, n, steps, 0.001f);
        after = energy(position, velocity, n);
        if (!r)
            printf("One step of 100 stars differs from plain C by at most %.1e.\n%d steps of %d stars on %s: energy "
                   "%.6f, then %.6f, a drift of %.3f %%.\n", worst, steps, n, vd_device(ctx, 0)->name, before, after,
                   100 * fabs((after - before) / before));
    }
    if (r) fprintf(stderr, "%s\n", vd_error_text());
    free(position);
    free(velocity);
    vd_context_destroy(ctx);
    return r || worst > 1e-5;
}
