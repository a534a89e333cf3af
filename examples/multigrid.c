/* Solves Poisson's equation, -laplace(u) = source, on a square with given values on its edges, by multigrid. The solver
   is a small library on top of vkdispatch with plans of its own: `source` and `edge` are fragments of the caller, with
   arguments; the tile size of the smoothing kernel is chosen by measuring. Prints the tile size and the residual after
   each cycle, then compares solutions on finer and finer grids with the exact one.
   cc -std=c99 -O1 -I. examples/multigrid.c -o multigrid -ldl -lpthread -lm
   Run: ./multigrid [cycles] */
#define VKDISPATCH_CUDA
#define VKDISPATCH_OPENCL
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#define VKDISPATCH_FFT_IMPLEMENTATION
#include "vkdispatch_fft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the library: public declarations ---- */

typedef struct multigrid multigrid; /* a plan */

typedef struct multigrid_desc {
    const char *name;        /* for messages; default: "multigrid" */
    uint32_t levels;         /* the grid has 2^levels + 1 points along each axis: 1 to 12. Required */
    uint32_t cycles;         /* V-cycles of a run; default: 8 */
    vd_fragment source;      /* the right-hand side at the point in[0], in[1], between 0 and 1: an f32. Required */
    vd_fragment edge;        /* u at a point of the edges, as source; default: 0 */
} multigrid_desc;

typedef struct multigrid_io {
    vd_buffer solution;      /* VD_F32, one for each point; in: the initial guess */
    vd_buffer residuals;     /* VD_F32, cycles + 1: norm of the residual before the first cycle and after each */
    const vd_named_arg *args; /* of the fragments */
    int arg_count;
} multigrid_io;

/* ---- the plan ---- */

enum { MAX_LEVELS = 12 };

/* Buffers of kernels: those of the caller, then those of the level that a dispatch works on. */
enum { SOLUTION, RESIDUALS, CALLER_ROLES, U = CALLER_ROLES, F, R, COARSE_U, COARSE_F, ROLES };

typedef struct tile { uint32_t x, y; } tile; /* points of a work-group */

struct multigrid {
    vd_plan base;
    uint32_t levels, cycles, points; /* points: along an axis of the finest grid */
    tile tile;               /* of the kernel `smooth` */
    vd_plan_fragment source, edge;
    vd_plan_kernel set_up, smooth, residual, restriction, prolongation;
    vd_buffer u[MAX_LEVELS + 1], f[MAX_LEVELS + 1], r[MAX_LEVELS]; /* by level, 0 is the finest; f and r: times the
                                area of a cell */
    vd_buffer norm;
    vd_reduce *reduce;       /* norm of r[0] */
};

/* The point of a thread, of n x n points: its index, column, row, and whether it is not on an edge. */
typedef struct point { vc_val i, n, x, y, inside; } point;

static vc_kernel *begin(multigrid *p, const char *name) {
    return vc_begin(&(vc_kernel_desc){ .name = name, .machine = vd_machine(p->base.ctx) });
}

static point point_of(vc_val n, vc_val i, vc_val x, vc_val y) {
    point g = { .i = i, .n = n, .x = x, .y = y };
    vc_val last = vc_sub(n, vc_u32(1));
    g.inside = vc_and(vc_and(vc_gt(g.x, vc_u32(0)), vc_lt(g.x, last)), vc_and(vc_gt(g.y, vc_u32(0)), vc_lt(g.y, last)));
    return g;
}

static point point_at(vc_val n, vc_val i) { return point_of(n, i, vc_rem(i, n), vc_div(i, n)); }

/* Returns the sum of the four neighbours, with `corners` that of the points diagonal to this one. */
static vc_val neighbours(const point *g, vc_ref u, bool corners) {
    vc_val up = vc_sub(g->i, g->n), down = vc_add(g->i, g->n), one = vc_u32(1);
    if (corners)
        return vc_add(vc_add(vc_load(u, vc_sub(up, one)), vc_load(u, vc_add(up, one))),
                      vc_add(vc_load(u, vc_sub(down, one)), vc_load(u, vc_add(down, one))));
    return vc_add(vc_add(vc_load(u, vc_sub(g->i, one)), vc_load(u, vc_add(g->i, one))),
                  vc_add(vc_load(u, up), vc_load(u, down)));
}

/* Computes the right-hand side from `source`, and the edges of the solution from `edge`. */
static vd_result build_set_up(multigrid *p) {
    vc_kernel *k = begin(p, "multigrid set up");
    vc_ref u = vd_plan_kernel_buffer(&p->set_up, k, U, "u", VC_F32, VC_WRITE);
    vc_ref f = vd_plan_kernel_buffer(&p->set_up, k, F, "f", VC_F32, VC_WRITE);
    vd_plan_kernel_fragment(&p->set_up, k, &p->source);
    vd_plan_kernel_fragment(&p->set_up, k, &p->edge);
    vc_val n = vc_param(k, "n", VC_U32), none = { 0 };
    float h = 1 / (float)(p->points - 1);
    VC_EACH(k, i) {
        point g = point_at(n, i);
        vc_val x = vc_mul(vc_cast(VC_F32, g.x), vc_f32(h)), y = vc_mul(vc_cast(VC_F32, g.y), vc_f32(h));
        vc_store(f, i, vc_mul(vd_plan_fragment_build(&p->source, k, x, y, none), vc_f32(h * h)));
        VC_IF(k, vc_not(g.inside)) {
            vc_store(u, i, p->edge.code.build ? vd_plan_fragment_build(&p->edge, k, x, y, none) : vc_f32(0));
        }
    }
    return vd_plan_kernel_build(&p->base, &p->set_up, k);
}

/* Gauss-Seidel, half an iteration: the points of one colour of a chessboard. */
static vd_result build_smooth(multigrid *p, tile t, vd_plan_kernel *kernel) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "multigrid smooth", .machine = vd_machine(p->base.ctx),
                                               .local_size = { t.x, t.y } });
    vc_ref u = vd_plan_kernel_buffer(kernel, k, U, "u", VC_F32, VC_READ_WRITE);
    vc_ref f = vd_plan_kernel_buffer(kernel, k, F, "f", VC_F32, VC_READ);
    vc_val n = vc_param(k, "n", VC_U32), colour = vc_param(k, "colour", VC_U32);
    VC_EACH2(k, x, y) {
        vc_val i = vc_add(vc_mul(y, n), x);
        point g = point_of(n, i, x, y);
        vc_val mine = vc_eq(vc_and(vc_add(x, y), vc_u32(1)), colour);
        VC_IF(k, vc_and(g.inside, mine)) {
            vc_store(u, i, vc_mul(vc_add(neighbours(&g, u, false), vc_load(f, i)), vc_f32(0.25f)));
        }
    }
    return vd_plan_kernel_build(&p->base, kernel, k);
}

/* Records half an iteration. */
static vd_result record_smooth(vd_list *list, const vd_plan_kernel *kernel, const vd_plan_io *io, uint32_t n,
                               uint32_t colour) {
    return vd_plan_dispatch(list, kernel, io, &(vd_dispatch_desc){ .threads = { n, n }, .arg_count = 2,
                                                                  .args = (vd_arg[]){ vd_u32(n), vd_u32(colour) } });
}

static vd_result build_residual(multigrid *p) {
    vc_kernel *k = begin(p, "multigrid residual");
    vc_ref u = vd_plan_kernel_buffer(&p->residual, k, U, "u", VC_F32, VC_READ);
    vc_ref f = vd_plan_kernel_buffer(&p->residual, k, F, "f", VC_F32, VC_READ);
    vc_ref r = vd_plan_kernel_buffer(&p->residual, k, R, "r", VC_F32, VC_WRITE);
    vc_val n = vc_param(k, "n", VC_U32);
    VC_EACH(k, i) {
        point g = point_at(n, i);
        VC_IF(k, g.inside) {
            vc_val minus_laplace = vc_sub(vc_mul(vc_load(u, i), vc_f32(4)), neighbours(&g, u, false));
            vc_store(r, i, vc_sub(vc_load(f, i), minus_laplace));
        }
        VC_ELSE(k) { vc_store(r, i, vc_f32(0)); }
    }
    return vd_plan_kernel_build(&p->base, &p->residual, k);
}

/* For each point of the coarser grid, which has n points along each axis: the right-hand side is a weighted mean of the
   residual (full weighting), times 4 for its larger cells. The first guess of the correction is 0. */
static vd_result build_restrict(multigrid *p) {
    vc_kernel *k = begin(p, "multigrid restrict");
    vc_ref r = vd_plan_kernel_buffer(&p->restriction, k, R, "r", VC_F32, VC_READ);
    vc_ref u = vd_plan_kernel_buffer(&p->restriction, k, COARSE_U, "coarse_u", VC_F32, VC_WRITE);
    vc_ref f = vd_plan_kernel_buffer(&p->restriction, k, COARSE_F, "coarse_f", VC_F32, VC_WRITE);
    vc_val n = vc_param(k, "n", VC_U32);
    VC_EACH(k, i) {
        point coarse = point_at(n, i), fine = coarse;
        fine.n = vc_sub(vc_mul(n, vc_u32(2)), vc_u32(1));
        fine.i = vc_mul(vc_add(vc_mul(coarse.y, fine.n), coarse.x), vc_u32(2));
        vc_store(u, i, vc_f32(0));
        VC_IF(k, coarse.inside) {
            vc_val sum = vc_fma(neighbours(&fine, r, false), vc_f32(0.5f), vc_load(r, fine.i));
            vc_store(f, i, vc_fma(neighbours(&fine, r, true), vc_f32(0.25f), sum));
        }
    }
    return vd_plan_kernel_build(&p->base, &p->restriction, k);
}

/* Adds the correction of the coarser grid, interpolated linearly along both axes. */
static vd_result build_prolong(multigrid *p) {
    vc_kernel *k = begin(p, "multigrid prolong");
    vc_ref u = vd_plan_kernel_buffer(&p->prolongation, k, U, "u", VC_F32, VC_READ_WRITE);
    vc_ref from = vd_plan_kernel_buffer(&p->prolongation, k, COARSE_U, "coarse_u", VC_F32, VC_READ);
    vc_val n = vc_param(k, "n", VC_U32), one = vc_u32(1);
    VC_EACH(k, i) {
        point g = point_at(n, i);
        vc_val width = vc_add(vc_shr(n, one), one), sum = vc_f32(0);
        VC_IF(k, g.inside) {
            for (int corner = 0; corner < 4; corner++) {
                vc_val x = vc_shr(corner & 1 ? vc_add(g.x, one) : g.x, one);
                vc_val y = vc_shr(corner & 2 ? vc_add(g.y, one) : g.y, one);
                sum = vc_add(vc_load(from, vc_add(vc_mul(y, width), x)), sum);
            }
            vc_store(u, i, vc_fma(sum, vc_f32(0.25f), vc_load(u, i)));
        }
    }
    return vd_plan_kernel_build(&p->base, &p->prolongation, k);
}

/* ---- the tile size, chosen by measuring ---- */

static bool accepts_tile(void *plan, const void *choice) {
    const vd_limits *limits = &vd_device(((multigrid *)plan)->base.ctx, 0)->limits;
    const tile *t = choice;
    return t->x && t->y && t->x <= limits->max_local_size[0] && t->y <= limits->max_local_size[1]
           && (uint64_t)t->x * t->y <= limits->max_local_invocations;
}

static uint32_t propose_tiles(void *plan, void *choices, uint32_t count, const void *best) {
    static const tile tiles[] = { { 32, 4 }, { 128, 1 }, { 64, 2 }, { 16, 8 }, { 64, 4 }, { 16, 16 }, { 8, 8 } };
    if (best) return count; /* no variants of the fastest */
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
        if (accepts_tile(plan, &tiles[i])) ((tile *)choices)[count++] = tiles[i];
    return count;
}

static vd_result build_trial(void *plan, const void *choice, void *kernel) {
    return build_smooth(plan, *(const tile *)choice, kernel);
}

/* The buffer of the residuals serves as solution. */
static vd_result record_trial(void *plan, const void *kernel, vd_list *list) {
    multigrid *p = plan;
    vd_plan_role roles[ROLES] = { [U] = { .buffer = p->r[0] }, [F] = { .buffer = p->f[0] } };
    vd_plan_io io = { .roles = roles, .role_count = CALLER_ROLES };
    vd_result r = record_smooth(list, kernel, &io, p->points, 0);
    return r ? r : record_smooth(list, kernel, &io, p->points, 1);
}

/* All tiles must compute the same from these numbers. */
static vd_result prepare_trial(void *plan, vd_plan_results *results) {
    static const float numbers[] = { 1, 0.5f, -0.75f, 0.25f };
    multigrid *p = plan;
    *results = (vd_plan_results){ .buffer = p->r[0], .type = VD_F32, .count = (uint64_t)p->points * p->points,
                                  .tolerance = 1e-6 };
    return vd_fill(vd_immediate(p->base.ctx, 0, 0), p->r[0], 0, (results->count & ~(uint64_t)3) * sizeof(float),
                   numbers, sizeof numbers);
}

static vd_result choose_tile(multigrid *p) {
    tile choices[VD_PLAN_MAX_CHOICES];
    vd_plan_timings timings;
    uint64_t fields[] = { 1 /* version of the kernel */, p->points };
    vd_plan_tuner tuner = { .name = "tile", .fields = fields, .field_count = 2, .choice_size = sizeof(tile),
                            .trial_size = sizeof(vd_plan_kernel), .user = p, .propose = propose_tiles,
                            .accepts = accepts_tile, .build = build_trial, .record = record_trial,
                            .prepare = prepare_trial };
    vd_result r = vd_plan_tune(&p->base, &tuner, choices, &timings);
    if (!r) p->tile = choices[0];
    return r;
}

/* ---- making a plan ---- */

static uint32_t points_of(const multigrid *p, uint32_t level) { return (1u << (p->levels - level)) + 1; }

static vd_result make_buffers(multigrid *p) {
    p->norm = vd_plan_buffer(&p->base, "norm", VD_F32, 1, NULL);
    for (uint32_t l = 0; l < p->levels; l++) {
        uint64_t count = (uint64_t)points_of(p, l) * points_of(p, l);
        if (l) p->u[l] = vd_plan_buffer(&p->base, "u", VD_F32, count, NULL);
        p->f[l] = vd_plan_buffer(&p->base, "f", VD_F32, count, NULL);
        p->r[l] = vd_plan_buffer(&p->base, "r", VD_F32, count, NULL);
        if ((l && !p->u[l].id) || !p->f[l].id || !p->r[l].id) return vd_error_result();
    }
    return p->norm.id ? VD_OK : vd_error_result();
}

static vd_result multigrid_make(void *plan, const void *user_desc) {
    multigrid *p = plan;
    const multigrid_desc *d = user_desc;
    if (!d->levels || d->levels > MAX_LEVELS)
        return vd_error_set(VD_ERROR_INVALID, "levels is %u, but must be 1 to %d", d->levels, MAX_LEVELS);
    if (!d->source.build) return vd_error_set(VD_ERROR_INVALID, "source.build is NULL");
    p->levels = d->levels;
    p->cycles = d->cycles ? d->cycles : 8;
    p->points = points_of(p, 0);
    p->source = (vd_plan_fragment){ .name = "source", .code = d->source, .in = { VC_F32, VC_F32 }, .out = VC_F32,
                                    .has_arguments = true };
    p->edge = p->source;
    p->edge.name = "edge";
    p->edge.code = d->edge;
    vd_result r = vd_plan_fragment_check(&p->base, &p->source);
    if (!r) r = vd_plan_fragment_check(&p->base, &p->edge);
    if (!r) r = make_buffers(p);
    if (!r) r = build_set_up(p);
    if (!r) r = choose_tile(p);
    if (!r) r = build_smooth(p, p->tile, &p->smooth);
    if (!r) r = build_residual(p);
    if (!r) r = build_restrict(p);
    if (!r) r = build_prolong(p);
    if (r) return r;
    p->reduce = vd_reduce_create(p->base.ctx, &(vd_reduce_desc){ .name = p->base.name, .op = VD_REDUCE_NORM,
                                                                 .shape = { (uint64_t)p->points * p->points } });
    return p->reduce ? VD_OK : vd_error_result();
}

static void multigrid_release(void *plan) { vd_reduce_destroy(((multigrid *)plan)->reduce); }

static const vd_plan_kind multigrid_kind = { .name = "multigrid", .size = sizeof(multigrid),
                                             .desc_size = sizeof(multigrid_desc), .make = multigrid_make,
                                             .release = multigrid_release };

/* ---- a run ---- */

typedef struct cycle { multigrid *p; vd_list *list; vd_plan_role *roles; vd_plan_io *io; } cycle;

/* Sets the buffers of a level. */
static void select_level(const cycle *c, uint32_t level) {
    const multigrid *p = c->p;
    c->roles[U].buffer = level ? p->u[level] : c->roles[SOLUTION].buffer;
    c->roles[F].buffer = p->f[level];
    c->roles[R].buffer = p->r[level];
    c->roles[COARSE_U].buffer = p->u[level + 1];
    c->roles[COARSE_F].buffer = p->f[level + 1];
}

/* Dispatches a kernel for n x n points of a level. */
static vd_result dispatch(const cycle *c, const vd_plan_kernel *kernel, uint32_t level, uint32_t n) {
    select_level(c, level);
    return vd_plan_dispatch(c->list, kernel, c->io, &(vd_dispatch_desc){ .threads = { (uint64_t)n * n }, .arg_count = 1,
                                                                        .args = (vd_arg[]){ vd_u32(n) } });
}

static vd_result smooth(const cycle *c, uint32_t level, uint32_t times) {
    vd_result r = VD_OK;
    select_level(c, level);
    for (uint32_t i = 0; i < 2 * times && !r; i++)
        r = record_smooth(c->list, &c->p->smooth, c->io, points_of(c->p, level), i & 1);
    return r;
}

/* On the coarsest grid, of one inner point, smoothing solves exactly. */
static vd_result v_cycle(const cycle *c) {
    const multigrid *p = c->p;
    vd_result r = VD_OK;
    for (uint32_t l = 0; l + 1 < p->levels && !r; l++) {
        r = smooth(c, l, 2);
        if (!r) r = dispatch(c, &p->residual, l, points_of(p, l));
        if (!r) r = dispatch(c, &p->restriction, l, points_of(p, l + 1));
    }
    if (!r) r = smooth(c, p->levels - 1, 1);
    for (uint32_t l = p->levels - 1; l-- > 0 && !r;) {
        r = dispatch(c, &p->prolongation, l, points_of(p, l));
        if (!r) r = smooth(c, l, 2);
    }
    return r;
}

static vd_result multigrid_record(void *plan, vd_list *list, const void *user_io) {
    multigrid *p = plan;
    const multigrid_io *u = user_io;
    vd_plan_role roles[ROLES] = {
        { .name = "solution", .buffer = u->solution, .type = VD_F32, .count = (uint64_t)p->points * p->points,
          .writes = true },
        { .name = "residuals", .buffer = u->residuals, .type = VD_F32, .count = p->cycles + 1, .writes = true },
    };
    vd_plan_io io = { .roles = roles, .role_count = CALLER_ROLES, .args = u->args, .arg_count = u->arg_count };
    cycle c = { p, list, roles, &io };
    vd_result r = vd_plan_check(&p->base, &io);
    if (!r) r = dispatch(&c, &p->set_up, 0, p->points);
    for (uint32_t i = 0; i <= p->cycles && !r; i++) {
        if (i) r = v_cycle(&c);
        if (!r) r = dispatch(&c, &p->residual, 0, p->points);
        if (!r) r = vd_reduce_run(p->reduce, list, p->r[0], p->norm);
        if (!r) r = vd_copy(list, u->residuals, i * sizeof(float), p->norm, 0, sizeof(float));
    }
    return r;
}

/* ---- the library: its public functions ---- */

static multigrid *multigrid_create(vd_context *ctx, const multigrid_desc *desc) {
    return vd_plan_create(ctx, &multigrid_kind, "multigrid_create", desc);
}

static void multigrid_destroy(multigrid *p) { vd_plan_destroy(p); }

static vd_result multigrid_run(multigrid *p, vd_list *list, const multigrid_io *io) {
    return vd_plan_run(p, "multigrid_run", multigrid_record, list, io);
}

/* The same with a plan that the context keeps. */
static vd_result multigrid_solve(vd_context *ctx, const multigrid_desc *desc, const multigrid_io *io) {
    vd_result r = vd_plan_run_cached(ctx, &multigrid_kind, multigrid_record, desc, io);
    return r ? vd_error_amend(r, "multigrid_solve", "", NULL) : VD_OK;
}

/* ---- a program that uses the library ----
   The exact solution is a sum of waves, strength * sin(m pi x) * sin(n pi y), which are 0 on the edges, and of
   slope * (x^2 - y^2), which has no source. */

typedef struct wave { float m, n, strength, none; } wave;

enum { WAVES = 3 };

static const double pi = 3.14159265358979323846;
static const wave waves[WAVES] = { { 1, 1, 1, 0 }, { 3, 2, 0.5f, 0 }, { 2, 5, -0.25f, 0 } };

typedef struct arguments { vc_ref waves; vc_val slope; } arguments;

static void declare_waves(vc_kernel *k, void *user) {
    ((arguments *)user)->waves = vc_buffer(k, "waves", VC_F32X4, VC_READ);
}

static void source(vc_kernel *k, vd_fragment_io *io, void *user) {
    vc_val sum = vc_const(k, vc_f32(0));
    for (uint32_t i = 0; i < WAVES; i++) {
        vc_val w = vc_load(((const arguments *)user)->waves, vc_u32(i));
        vc_val m = vc_mul(vc_component(w, 0), vc_f32((float)pi)), n = vc_mul(vc_component(w, 1), vc_f32((float)pi));
        vc_val height = vc_mul(vc_sin(vc_mul(m, io->in[0])), vc_sin(vc_mul(n, io->in[1])));
        sum = vc_fma(vc_mul(vc_fma(m, m, vc_mul(n, n)), vc_component(w, 2)), height, sum);
    }
    io->out = sum;
}

static void declare_slope(vc_kernel *k, void *user) { ((arguments *)user)->slope = vc_param(k, "slope", VC_F32); }

static void edge(vc_kernel *k, vd_fragment_io *io, void *user) {
    vc_val difference = vc_sub(vc_mul(io->in[0], io->in[0]), vc_mul(io->in[1], io->in[1]));
    (void)k;
    io->out = vc_mul(((const arguments *)user)->slope, difference);
}

static double exact(double x, double y, double slope) {
    double sum = slope * (x * x - y * y);
    for (int i = 0; i < WAVES; i++)
        sum += (double)waves[i].strength * sin((double)waves[i].m * pi * x) * sin((double)waves[i].n * pi * y);
    return sum;
}

/* Returns the largest error of a solution. */
static double error_of(const float *u, uint32_t points, double slope) {
    double worst = 0, h = 1.0 / (points - 1);
    for (uint32_t y = 0; y < points; y++)
        for (uint32_t x = 0; x < points; x++)
            worst = fmax(worst, fabs((double)u[y * points + x] - exact(x * h, y * h, slope)));
    return worst;
}

enum { LEVELS = 7, MAX_CYCLES = 20, POINTS = (1 << LEVELS) + 1 };

typedef struct problem {
    vd_context *ctx;
    multigrid_desc desc;
    multigrid_io io;
    vd_named_arg args[2];
    float slope;
} problem;

static bool make_problem(problem *p, arguments *a, uint32_t cycles) {
    vd_buffer table = vd_buffer_create(p->ctx, &(vd_buffer_desc){ .name = "waves", .type = VD_F32X4,
                                                                  .shape = { WAVES }, .data = waves });
    p->io.solution = vd_buffer_create(p->ctx, &(vd_buffer_desc){ .name = "solution", .type = VD_F32,
                                                                 .shape = { POINTS, POINTS } });
    p->io.residuals = vd_buffer_create(p->ctx, &(vd_buffer_desc){ .name = "residuals", .type = VD_F32,
                                                                  .shape = { MAX_CYCLES + 1 } });
    p->desc.cycles = cycles;
    p->desc.source = (vd_fragment){ source, declare_waves, a };
    p->desc.edge = (vd_fragment){ edge, declare_slope, a };
    p->slope = 0.75f;
    p->args[0] = (vd_named_arg){ "waves", vd_b(table) };
    p->args[1] = (vd_named_arg){ "slope", vd_f32(p->slope) };
    p->io.args = p->args;
    p->io.arg_count = 2;
    return table.id && p->io.solution.id && p->io.residuals.id;
}

/* Prints how much each cycle reduces the residual. Sets *ratio to the last residual, relative to the first. */
static vd_result show_residuals(problem *p, double *ratio) {
    static float residuals[MAX_CYCLES + 1];
    p->desc.levels = LEVELS;
    multigrid *plan = multigrid_create(p->ctx, &p->desc);
    vd_result r = plan ? multigrid_run(plan, vd_immediate(p->ctx, 0, 0), &p->io) : vd_error_result();
    if (plan) printf("tiles of %u x %u points\n", plan->tile.x, plan->tile.y);
    if (!r) r = vd_buffer_read(p->ctx, p->io.residuals, 0, residuals, (p->desc.cycles + 1) * sizeof(float));
    for (uint32_t i = 0; i <= p->desc.cycles && !r; i++)
        printf("%2u cycles: residual %.2e\n", i, (double)(*ratio = (double)residuals[i] / (double)residuals[0]));
    multigrid_destroy(plan);
    return r;
}

/* Solves on a grid and sets *error to the largest error. */
static vd_result show_error(problem *p, uint32_t levels, double *error) {
    static float u[POINTS * POINTS];
    uint32_t points = (1u << levels) + 1;
    p->desc.levels = levels;
    vd_result r = vd_fill(vd_immediate(p->ctx, 0, 0), p->io.solution, 0, VD_WHOLE, NULL, 0);
    if (!r) r = multigrid_solve(p->ctx, &p->desc, &p->io);
    if (!r) r = vd_buffer_read(p->ctx, p->io.solution, 0, u, (uint64_t)points * points * sizeof(float));
    if (r) return r;
    *error = error_of(u, points, (double)p->slope);
    printf("%3u x %3u points on %s: largest error %.2e\n", points, points, vd_device(p->ctx, 0)->name, *error);
    return VD_OK;
}

int main(int argc, char **argv) {
    problem p = { 0 };
    arguments a;
    if (vd_context_create(NULL, &p.ctx)) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    int cycles = argc > 1 ? atoi(argv[1]) : 6;
    double ratio = 1, errors[LEVELS + 1] = { 0 };
    if (cycles < 5 || cycles > MAX_CYCLES) {
        fprintf(stderr, "%d cycles: must be 5 to %d\n", cycles, MAX_CYCLES);
        return 1;
    }
    vd_result r = make_problem(&p, &a, (uint32_t)cycles) ? show_residuals(&p, &ratio) : vd_error_result();
    for (uint32_t levels = 4; levels <= LEVELS && !r; levels++) r = show_error(&p, levels, &errors[levels]);
    if (r) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    vd_context_destroy(p.ctx);
    /* the error of this discretisation is proportional to the square of the spacing */
    bool quarters = true;
    for (uint32_t levels = 5; levels <= LEVELS; levels++)
        quarters &= errors[levels - 1] / errors[levels] > 3.5 && errors[levels - 1] / errors[levels] < 4.5;
    return !(ratio < 1e-4 && quarters);
}
