/* Simulates particles that attract each other through a mesh. Each step spreads their mass over the mesh with atomics,
   solves Poisson's equation by Fourier transforms with a store hook that divides by -k^2, and moves the particles along
   the gradient of the potential. Checks the potential of a plane wave, then compares the growth of a wave in a periodic
   box with theory.
   cc -std=c99 -O1 -I. examples/poisson.c -o poisson -ldl -lpthread -lm
   Run: ./poisson [steps] */
#define VKDISPATCH_CUDA
#define VKDISPATCH_OPENCL
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#define VKDISPATCH_FFT_IMPLEMENTATION
#include "vkdispatch_fft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* cells have size 1 and particles mass 1, so the mean density is 1 */
enum { SIDE = 32, CELLS = SIDE * SIDE * SIDE, PARTICLES = CELLS };

static const double pi = 3.14159265358979323846;

/* ---- the potential of a density: laplace(potential) = density - mean ---- */

/* Store hook: divides the spectrum by -k^2. Frequencies above SIDE / 2 are negative. The mean (k = 0) becomes 0. The
   plan is used in both directions; the inverse transform stores the potential unchanged. */
static void divide(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    vc_val square = vc_const(k, vc_f32(0)), factor;
    (void)user;
    if (at->direction == VD_FFT_INVERSE) return;
    for (int axis = 0; axis < 3; axis++) {
        vc_val m = vc_cast(VC_F32, at->coordinate[axis]);
        m = vc_min(m, vc_sub(vc_f32(SIDE), m));
        square = vc_fma(m, m, square);
    }
    factor = vc_select(vc_gt(square, vc_f32(0)), vc_div(vc_f32((float)(-SIDE * SIDE / (4 * pi * pi))), square),
                       vc_f32(0));
    v->re = vc_mul(v->re, factor);
    v->im = vc_mul(v->im, factor);
}

/* ---- particles: the eight mesh nodes around each, and their weights ---- */

typedef struct cloud { vc_val node[3][2], weight[3][2]; } cloud;

static cloud cloud_of(vc_val position) {
    cloud c;
    for (uint32_t axis = 0; axis < 3; axis++) {
        vc_val x = vc_component(position, axis), below = vc_floor(x);
        c.node[axis][0] = vc_and(vc_cast(VC_U32, below), vc_u32(SIDE - 1));
        c.node[axis][1] = vc_and(vc_add(c.node[axis][0], vc_u32(1)), vc_u32(SIDE - 1));
        c.weight[axis][1] = vc_sub(x, below);
        c.weight[axis][0] = vc_sub(vc_f32(1), c.weight[axis][1]);
    }
    return c;
}

/* Bit i of `corner` selects the lower or the upper node along axis i. */
static vc_val corner_weight(const cloud *c, int corner) {
    return vc_mul(vc_mul(c->weight[0][corner & 1], c->weight[1][corner >> 1 & 1]), c->weight[2][corner >> 2]);
}

/* Returns the index of the node of a corner, displaced by `step` nodes along `axis`. */
static vc_val corner_node(const cloud *c, int corner, int axis, uint32_t step) {
    vc_val at = vc_u32(0);
    for (int i = 0; i < 3; i++) {
        vc_val x = c->node[i][corner >> i & 1];
        if (i == axis) x = vc_and(vc_add(x, vc_u32(step)), vc_u32(SIDE - 1));
        at = vc_add(vc_mul(at, vc_u32(SIDE)), x);
    }
    return at;
}

static vd_kernel build_deposit(vd_context *ctx) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "deposit", .machine = vd_machine(ctx) });
    vc_ref position = vc_buffer(k, "position", VC_F32X4, VC_READ);
    vc_ref density = vc_buffer(k, "density", VC_F32, VC_READ_WRITE);
    VC_EACH(k, i) {
        cloud c = cloud_of(vc_load(position, i));
        for (int corner = 0; corner < 8; corner++)
            vc_atomic_add(density, corner_node(&c, corner, 0, 0), corner_weight(&c, corner), NULL);
    }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

/* velocity += kick * force, then position += dt * velocity. The force is the central difference of the potential at
   each corner, averaged with the weights that spread the mass. With equal weights for both, the forces between two
   particles are equal and opposite, and a particle exerts none on itself. */
static vd_kernel build_push(vd_context *ctx) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "push", .machine = vd_machine(ctx) });
    vc_ref position = vc_buffer(k, "position", VC_F32X4, VC_READ_WRITE);
    vc_ref velocity = vc_buffer(k, "velocity", VC_F32X4, VC_READ_WRITE);
    vc_ref potential = vc_buffer(k, "potential", VC_F32, VC_READ);
    vc_val kick = vc_param(k, "kick", VC_F32), dt = vc_param(k, "dt", VC_F32);
    VC_EACH(k, i) {
        vc_val x[4], v[4], p = vc_load(position, i), old = vc_load(velocity, i);
        cloud c = cloud_of(p);
        for (uint32_t axis = 0; axis < 3; axis++) {
            vc_val force = vc_f32(0);
            for (int corner = 0; corner < 8; corner++) {
                vc_val behind = vc_load(potential, corner_node(&c, corner, (int)axis, SIDE - 1));
                vc_val ahead = vc_load(potential, corner_node(&c, corner, (int)axis, 1));
                force = vc_fma(vc_mul(vc_sub(behind, ahead), vc_f32(0.5f)), corner_weight(&c, corner), force);
            }
            v[axis] = vc_fma(force, kick, vc_component(old, axis));
            x[axis] = vc_mod(vc_fma(v[axis], dt, vc_component(p, axis)), vc_f32(SIDE));
        }
        vc_store(velocity, i, vc_vec4(v[0], v[1], v[2], vc_f32(0)));
        vc_store(position, i, vc_vec4(x[0], x[1], x[2], vc_f32(0)));
    }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

/* ---- the box ---- */

typedef struct point { float x, y, z, none; } point;

typedef struct box {
    vd_context *ctx;
    vd_buffer density, spectrum, potential, position, velocity, mass;
    vd_fft *fft;
    vd_kernel deposit, push;
} box;

static vd_result make_box(box *b) {
    b->density = vd_buffer_create(b->ctx, &(vd_buffer_desc){ .name = "density", .type = VD_F32, .shape = { CELLS } });
    b->spectrum = vd_buffer_create(b->ctx, &(vd_buffer_desc){ .name = "spectrum", .type = VD_F32C,
                                                              .shape = { SIDE, SIDE, SIDE / 2 + 1 } });
    b->potential = vd_buffer_create(b->ctx, &(vd_buffer_desc){ .name = "potential", .type = VD_F32,
                                                               .shape = { CELLS } });
    b->position = vd_buffer_create(b->ctx, &(vd_buffer_desc){ .name = "position", .type = VD_F32X4,
                                                              .shape = { PARTICLES } });
    b->velocity = vd_buffer_create(b->ctx, &(vd_buffer_desc){ .name = "velocity", .type = VD_F32X4,
                                                              .shape = { PARTICLES } });
    b->mass = vd_buffer_create(b->ctx, &(vd_buffer_desc){ .name = "mass", .type = VD_F32, .shape = { 1 } });
    b->fft = vd_fft_create(b->ctx, &(vd_fft_desc){ .kind = VD_FFT_REAL, .shape = { SIDE, SIDE, SIDE }, .axes = 7,
                                                   .store = divide });
    b->deposit = build_deposit(b->ctx);
    b->push = build_push(b->ctx);
    return b->density.id && b->spectrum.id && b->potential.id && b->position.id && b->velocity.id && b->mass.id
        && b->fft && b->deposit.id && b->push.id ? VD_OK : VD_ERROR_INVALID;
}

static vd_result solve(box *b) {
    vd_list *list = vd_immediate(b->ctx, 0, 0);
    vd_result r = vd_fft_run(b->fft, list, &(vd_fft_io){ .in = b->density, .out = b->spectrum });
    return r ? r : vd_fft_run(b->fft, list, &(vd_fft_io){ .direction = VD_FFT_INVERSE, .in = b->spectrum,
                                                          .out = b->potential });
}

/* Leapfrog integration: velocities lag positions by half a step, so the first kick, which starts from rest, lasts dt
   / 2. */
static vd_result run(box *b, int steps, float dt) {
    vd_result r = VD_OK;
    for (int s = 0; s < steps && !r; s++) {
        r = vd_fill(vd_immediate(b->ctx, 0, 0), b->density, 0, VD_WHOLE, NULL, 0);
        if (!r) r = vd_run(b->ctx, b->deposit, PARTICLES, vd_b(b->position), vd_b(b->density));
        if (!r) r = solve(b);
        if (!r)
            r = vd_run(b->ctx, b->push, PARTICLES, vd_b(b->position), vd_b(b->velocity), vd_b(b->potential),
                       vd_f32(s ? dt : dt / 2), vd_f32(dt));
    }
    return r ? r : vd_reduce_sum(b->ctx, b->density, b->mass);
}

/* ---- comparing with theory ---- */

/* Solves for a plane wave oblique to the axes. Its potential is the wave divided by -k^2. Returns in `worst` the
   largest error relative to the amplitude. */
static vd_result check_wave(box *b, double *worst) {
    static float wave[CELLS], potential[CELLS];
    const double step = 2 * pi / SIDE, square = step * step * (2 * 2 + 1 * 1 + 3 * 3);
    for (int i = 0; i < CELLS; i++)
        wave[i] = (float)(1 + sin(step * (2 * (i / (SIDE * SIDE)) + i / SIDE % SIDE - 3 * (i % SIDE))));
    vd_result r = vd_buffer_write(b->ctx, b->density, 0, wave, VD_WHOLE);
    if (!r) r = solve(b);
    if (!r) r = vd_buffer_read(b->ctx, b->potential, 0, potential, VD_WHOLE);
    *worst = 0;
    for (int i = 0; i < CELLS; i++) *worst = fmax(*worst, fabs((double)potential[i] * -square - ((double)wave[i] - 1)));
    return r;
}

static float random_float(uint32_t *state) { /* -1 … 1 */
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 8388608.0f - 1.0f;
}

static float home_of(int i) { return (float)(i / (SIDE * SIDE)) + 0.5f; }

/* One particle in the middle of each cell, displaced along x by a wave with an amplitude of half a cell, and along
   each axis by a random distance of up to a tenth. */
static void make_particles(point *position) {
    uint32_t state = 1;
    for (int i = 0; i < PARTICLES; i++) {
        float x = home_of(i) + 0.5f * (float)sin(2 * pi * (double)home_of(i) / SIDE) + 0.1f * random_float(&state);
        float y = (float)(i / SIDE % SIDE) + 0.5f + 0.1f * random_float(&state);
        float z = (float)(i % SIDE) + 0.5f + 0.1f * random_float(&state);
        position[i] = (point){ x, y, z, 0 };
    }
}

/* Returns the amplitude of that wave in cells. */
static double height_of(const point *position) {
    double sum = 0;
    for (int i = 0; i < PARTICLES; i++)
        sum += remainder((double)position[i].x - (double)home_of(i), SIDE) * sin(2 * pi * (double)home_of(i) / SIDE);
    return 2 * sum / PARTICLES;
}

/* Returns the length of the sum of all velocities relative to the sum of their lengths. */
static double momentum_of(const point *velocity) {
    double x = 0, y = 0, z = 0, all = 0;
    for (int i = 0; i < PARTICLES; i++) {
        double vx = velocity[i].x, vy = velocity[i].y, vz = velocity[i].z;
        x += vx; y += vy; z += vz;
        all += sqrt(vx * vx + vy * vy + vz * vz);
    }
    return sqrt(x * x + y * y + z * z) / all;
}

int main(int argc, char **argv) {
    static point position[PARTICLES], velocity[PARTICLES];
    box b = { 0 };
    if (vd_context_create(NULL, &b.ctx)) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    int steps = argc > 1 ? atoi(argv[1]) : 30;
    float mass = 0;
    double worst, before, after, theory, momentum;
    if (steps < 1 || steps > 40) {
        fprintf(stderr, "%d steps: must be 1 to 40; later, particles overtake each other\n", steps);
        return 1;
    }
    make_particles(position);
    before = height_of(position);
    vd_result r = make_box(&b);
    if (!r) r = check_wave(&b, &worst);
    if (!r) r = vd_buffer_write(b.ctx, b.position, 0, position, VD_WHOLE);
    if (!r) r = vd_fill(vd_immediate(b.ctx, 0, 0), b.velocity, 0, VD_WHOLE, NULL, 0);
    if (!r) r = run(&b, steps, 0.05f);
    if (!r) r = vd_buffer_read(b.ctx, b.position, 0, position, VD_WHOLE);
    if (!r) r = vd_buffer_read(b.ctx, b.velocity, 0, velocity, VD_WHOLE);
    if (!r) r = vd_buffer_read(b.ctx, b.mass, 0, &mass, VD_WHOLE);
    if (r) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    after = height_of(position);
    /* matter of density 1, at rest at first, that collapses under laplace(potential) = density - 1 */
    theory = before * cosh(0.05 * steps);
    momentum = momentum_of(velocity);
    printf("Relative error of the potential of a wave on %d x %d x %d: %.1e.\n", SIDE, SIDE, SIDE, worst);
    printf("%d steps of %d particles on %s: total mass on the mesh %.2f, relative momentum %.1e.\n", steps,
           PARTICLES, vd_device(b.ctx, 0)->name, (double)mass, momentum);
    printf("A wave of %.4f cells grew by %.4f, in theory by %.4f.\n", before, after - before, theory - before);
    vd_fft_destroy(b.fft);
    vd_context_destroy(b.ctx);
    return !(worst < 1e-5 && fabs((double)mass - PARTICLES) < 1e-4 * PARTICLES && momentum < 1e-5
             && fabs((after - before) / (theory - before) - 1) < 0.03);
}
