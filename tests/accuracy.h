/* Expected results and tolerances of float operations, one component at a time; of dot products and geometry, one
   vector at a time. */
#ifndef TESTS_ACCURACY_H
#define TESTS_ACCURACY_H

#include "kernels.h"

/* bits: integers and bools; real, slack: result and tolerance of floats */
typedef struct Wanted { uint64_t bits; long double real, slack; } Wanted;

/* Tolerance of a float result: `ulps` units in its last place, plus `per_x` units times |x|, plus `absolute` times a
   factor given by `shape`.
   f32 and f16: "Precision of Core SPIR-V Instructions" and "Precision of GLSL.std.450 Instructions" of the Vulkan
   specification, with inherited bounds worked out. f64: the specification has no bounds; these are measured errors
   of our functions, and a single rounding for operations that every known device rounds once. OpenCL: ulps of f32,
   "Relative Error as ULPs" of the OpenCL C specification; f16 is computed in f32 there. */
/* factor of the absolute part: 1; 1 for |x| <= pi only; see `slack_of` */
typedef enum Shape { FLAT, ONE, POW, TAN, COSH } Shape;
/* { ulps, per_x, absolute }; opencl 0: same as f16, f32 */
typedef struct Bound { OpName op; Shape shape; double f16[3], f32[3], f64[3], opencl; } Bound;
#define PART(n) (1.0 / (1 << (n))) /* 2^-n; C++11 has no hexadecimal floats */
static const Bound bounds[] = {
    { O_div, FLAT, { 2.5, 0, 0 }, { 2.5, 0, 0 }, { 0.5, 0, 0 }, 2.5 },
    { O_sqrt, FLAT, { 5, 0, 0 }, { 5, 0, 0 }, { 0.5, 0, 0 }, 3 },
    { O_rsqrt, FLAT, { 2, 0, 0 }, { 2, 0, 0 }, { 1.5, 0, 0 }, 2 },
    { O_exp, FLAT, { 1, 2, 0 }, { 3, 2, 0 }, { 1.1, 0, 0 }, 3 },
    { O_exp2, FLAT, { 1, 2, 0 }, { 3, 2, 0 }, { 1.2, 0, 0 }, 3 },
    { O_log, FLAT, { 3, 0, PART(7) }, { 3, 0, PART(21) }, { 1, 0, 0 }, 3 },
    { O_log2, FLAT, { 3, 0, PART(7) }, { 3, 0, PART(21) }, { 1, 0, 0 }, 3 },
    { O_pow, POW, { 4, 0, 8 }, { 4, 0, 8 }, { 1.5, 0, 0 }, 16 },
    { O_sin, ONE, { 0, 0, PART(7) }, { 0, 0, PART(11) }, { 1, 0, 0 }, 4 },
    { O_cos, ONE, { 0, 0, PART(7) }, { 0, 0, PART(11) }, { 1, 0, 0 }, 4 },
    { O_tan, TAN, { 3, 0, PART(7) }, { 3, 0, PART(11) }, { 2.5, 0, 0 }, 5 },
    { O_asin, FLAT, { 5, 0, PART(7) }, { 4096, 0, PART(11) }, { 2.5, 0, 0 }, 4 },
    { O_acos, FLAT, { 5, 0, PART(7) }, { 4096, 0, PART(11) }, { 2.5, 0, 0 }, 4 },
    { O_atan, FLAT, { 5, 0, 0 }, { 4096, 0, 0 }, { 1, 0, 0 }, 5 },
    { O_atan2, FLAT, { 5, 0, 0 }, { 4096, 0, 0 }, { 2, 0, 0 }, 6 },
    /* twice the error of exp(x/2), times up to sqrt(2) */
    { O_sinh, COSH, { 1, 0, PART(10) }, { 10, 3, 8 }, { 2, 0, 0 }, 4 },
    { O_cosh, FLAT, { 1, 0, 0 }, { 10, 3, 0 }, { 2, 0, 0 }, 4 },
    { O_tanh, FLAT, { 4, 0, PART(8) }, { 8, 0, PART(20) }, { 2.5, 0, 0 }, 5 },
    /* composed of the above: f16 rounds the f32 result */
    { O_asinh, FLAT, { 1, 0, 0 }, { 4, 0, PART(20) }, { 4, 0, 0 }, 0 },
    { O_acosh, FLAT, { 1, 0, 0 }, { 4, 0, PART(20) }, { 4, 0, 0 }, 0 },
    { O_atanh, FLAT, { 1, 0, 0 }, { 4, 0, PART(20) }, { 3, 0, 0 }, 0 },
    { O_exp10, FLAT, { 1, 0, 0 }, { 6, 0, 0 }, { 2, 0, 0 }, 0 },
    { O_log10, FLAT, { 1, 0, PART(22) }, { 5, 0, PART(22) }, { 2, 0, 0 }, 0 },
    { O_cbrt, FLAT, { 1, 0, 0 }, { 3, 0, 0 }, { 1, 0, 0 }, 0 },
    { O_hypot, FLAT, { 1, 0, 0 }, { 4, 0, 0 }, { 1.5, 0, 0 }, 0 },
    { O_erf, FLAT, { 1, 0, 0 }, { 3, 0, 0 }, { 2, 0, 0 }, 0 },
    { O_radians, FLAT, { 1, 0, 0 }, { 1, 0, 0 }, { 1, 0, 0 }, 0 },
    { O_degrees, FLAT, { 1, 0, 0 }, { 1, 0, 0 }, { 1, 0, 0 }, 0 },
    { O_smoothstep, FLAT, { 1, 0, 0 }, { 12, 0, 0 }, { 6, 0, 0 }, 0 }
};

static bool is_opencl; /* tests OpenCL, or CUDA C with the math library of the host */

static inline long double slack_of(OpName op, unsigned kind, long double want, const double *x) {
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        const Bound *b = &bounds[i];
        if (b->op != op) continue;
        const double *n = kind == VC_F16 ? b->f16 : kind == VC_F32 ? b->f32 : b->f64;
        long double unit = unit_of(kind, want), absolute = n[2];
        if (is_opencl && kind != VC_F64 && b->opencl > 0)
            return unit * (kind == VC_F16 ? 0.6L : (long double)b->opencl + 0.5L);
        if (b->shape == POW && (x[0] == 0 || x[0] == 1 || x[1] == 0 || isinf(x[0]) || isinf(x[1]))) return 0;
        if (b->shape == POW && absolute > 0)
            absolute *= unit * (1 + fabsl((long double)x[1] * log2l(fabsl((long double)x[0])))
                                + fabsl((long double)x[1]));
        if (b->shape == TAN && absolute > 0) absolute *= 1 + want * want + fabsl(want);
        if (b->shape == COSH && absolute > 0) absolute *= unit_of(kind, coshl((long double)x[0]));
        /* rounding of the oracle */
        return unit * (n[0] + (n[1] > 0 ? n[1] * fabs(x[0]) : 0)) + absolute
            + (n[0] < 1 && n[2] == 0 ? 0 : unit * 0.5L);
    }
    return 0;
}

static inline long double function_of(OpName op, long double x, long double y) {
    switch (op) {
    case O_sqrt: return sqrtl(x);
    case O_rsqrt: return 1 / sqrtl(x);
    case O_exp: return expl(x);
    case O_exp2: return exp2l(x);
    case O_log: return logl(x);
    case O_log2: return log2l(x);
    case O_pow: return x < 0 && y != 0 ? (long double)NAN : powl(x == 0 ? 0 : x, y); /* -0 counts as 0 */
    case O_sin: return sinl(x);
    case O_cos: return cosl(x);
    case O_tan: return tanl(x);
    case O_asin: return asinl(x);
    case O_acos: return acosl(x);
    case O_atan: return atanl(x);
    case O_atan2: return atan2l(x, y);
    case O_sinh: return sinhl(x);
    case O_cosh: return coshl(x);
    case O_tanh: return tanhl(x);
    case O_asinh: return asinhl(x);
    case O_acosh: return acoshl(x);
    case O_atanh: return atanhl(x);
    case O_exp10: return powl(10, x);
    case O_log10: return log10l(x);
    case O_cbrt: return cbrtl(x);
    case O_hypot: return hypotl(x, y);
    case O_erf: return erfl(x);
    case O_radians: return x * (3.14159265358979323846264338L / 180);
    case O_degrees: return x * (180 / 3.14159265358979323846264338L);
    default: return x / y;
    }
}

/* Whether the Vulkan specification guarantees nothing for f16 and f32, and we guarantee nothing for f64. */
static inline bool undefined_for(OpName op, unsigned kind, const double *x) {
    bool loose = kind != VC_F64 && !(is_opencl && op >= O_sqrt && op <= O_tanh && op != O_pow && op != O_atan2);
    double least = ldexp(1, lowest_of(kind));
    switch (op) {
    case O_sin: case O_cos: case O_tan: return fabs(x[0]) > (loose ? 3.1416 : ldexp(1, 30)) && (loose || !isinf(x[0]));
    case O_atan2: return loose && x[0] != 0 && x[1] != 0 && (fabs(x[1]) < least || fabs(x[1]) > ldexp(1, 126));
    case O_rem: case O_mod:
        return !(fabs(x[0] / x[1]) < ldexp(1, mantissa_of(kind) - 1))
            || (loose && (fabs(x[1]) > ldexp(1, 126) || is_subnormal(kind, x[1])))
            || (!isinf(x[1]) && isinf(rounded(kind, fabs(x[0]) + fabs(x[1])))); /* the product may overflow */
    /* 2.5 ulp only for a denominator of 2^-126 to 2^126 */
    case O_div: return loose && (fabs(x[1]) > ldexp(1, 126) || is_subnormal(kind, x[1]));
    case O_sqrt: case O_rsqrt: return x[0] < 0 && loose;
    case O_asin: case O_acos: return loose && fabs(x[0]) > 1;
    case O_log: case O_log2: case O_log10: return loose && x[0] < 0;
    case O_smoothstep: return !(x[0] < x[1]) || !(fabs(x[0]) + fabs(x[1]) + fabs(x[2]) < ldexp(1, -lowest_of(kind)))
                              || x[1] - x[0] < ldexp(1, lowest_of(kind) + mantissa_of(kind));
    case O_tanh: return loose && isinf(x[0]);
    default: return false;
    }
}

/* The smallest normal number if x is NULL or one of its three elements is subnormal, otherwise 0. */
static inline long double least_of(unsigned kind, const double *x) {
    for (int i = 0; x && i < 3; i++)
        if (is_subnormal(kind, x[i])) x = NULL;
    return x ? 0 : ldexpl(1, lowest_of(kind));
}

/* Remainder: the rounded product causes an error of one unit of the dividend, and possibly of one divisor at both
   ends of the range. */
static inline void remainder_slack(OpName op, unsigned kind, const double *x, bool other_end, Wanted *w) {
    long double step = op == O_mod ? (long double)x[1] : copysignl((long double)fabs(x[1]), (long double)x[0]);
    w->slack = unit_of(kind, (long double)x[0]) + least_of(kind, NULL);
    if (isnan(w->real) || isinf(w->real) || isnan(step) || !other_end) return;
    if (fabsl(w->real) <= w->slack) w->real += step;
    else if (fabsl(step) - fabsl(w->real) <= w->slack) w->real -= step;
}

static inline bool want_float(OpName op, unsigned kind, const double *given, int variant, Wanted *w) {
    double x[3];
    for (int i = 0; i < 3; i++) x[i] = variant & (2 << i) ? flushed(kind, given[i]) : given[i];
    if (undefined_for(op, kind, x)) return false;
    switch (op) {
    case O_isnan: w->bits = isnan(x[0]) ? 1u : 0u; return true;
    case O_isinf: w->bits = isinf(x[0]) ? 1u : 0u; return true;
    case O_eq: w->bits = x[0] == x[1] ? 1u : 0u; return true;
    case O_ne: w->bits = x[0] != x[1] ? 1u : 0u; return true;
    case O_lt: w->bits = x[0] < x[1] ? 1u : 0u; return true;
    case O_le: w->bits = x[0] <= x[1] ? 1u : 0u; return true;
    case O_gt: w->bits = x[0] > x[1] ? 1u : 0u; return true;
    case O_ge: w->bits = x[0] >= x[1] ? 1u : 0u; return true;
    default: break;
    }
    w->slack = 0;
    if (op == O_smoothstep) {
        long double t = ((long double)x[2] - x[0]) / ((long double)x[1] - x[0]);
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        w->real = t * t * (3 - 2 * t);
    } else if (op >= O_sqrt && op <= O_degrees) w->real = function_of(op, (long double)x[0], (long double)x[1]);
    else w->real = (long double)step_by_step(op, kind, x, variant & 1);
    if (op == O_div && kind != VC_F64) w->real = (long double)x[0] / (long double)x[1];
    if (op == O_mix)
        w->slack = 2 * (unit_of(kind, (long double)(x[0] * (1 - x[2]))) + unit_of(kind, (long double)(x[1] * x[2])))
            + least_of(kind, NULL);
    /* a comparison may flush the operand that it returns */
    else if (op == O_min || op == O_max || op == O_clamp) w->slack = least_of(kind, x);
    else if (op == O_rem || op == O_mod) remainder_slack(op, kind, x, variant & 1, w);
    else if (!isnan(w->real) && !isinf(w->real)) w->slack = slack_of(op, kind, w->real, x);
    return true;
}

/* Dot product of `rows` products, summed in order. */
static inline bool want_sum(unsigned kind, unsigned rows, const double *a, const double *b, Wanted *w) {
    long double size = 0, flushed_part = 0, p;
    w->real = 0;
    for (unsigned j = 0; j < rows; j++) {
        p = (long double)a[j] * (long double)b[j];
        w->real += p;
        size += fabsl(p);
        if (is_subnormal(kind, a[j]) || is_subnormal(kind, b[j])) flushed_part += fabsl(p);
    }
    w->slack = size >= ldexpl(1, -lowest_of(kind)) ? 0 : (unit_of(kind, size) + least_of(kind, NULL)) * rows
        + flushed_part;
    return !(size >= ldexpl(1, -lowest_of(kind)) && !isnan(w->real)); /* a step may overflow */
}

typedef enum Geometry { G_norm, G_distance, G_normalize, G_cross, G_faceforward, G_mirror, G_refract,
                        G_COUNT } Geometry;

/* Computed in long double. The tolerance is that of rounded sums of products, relative to the size of the terms.
   Excludes overflow and squares below the smallest normal number. */
static inline bool want_geometry(Geometry which, unsigned kind, unsigned rows, double (*given)[4], unsigned component,
                                 Wanted *w) {
    unsigned next = (component + 1) % 3, last = (component + 2) % 3;
    long double x[3][4], squares = 0, dot = 0, size = 0, most = 0, least = INFINITY,
        limit = ldexpl(1, kind == VC_F16 ? 4 : kind == VC_F32 ? 30 : 250), k, root;
    for (unsigned r = 0; r < 3; r++)
        for (unsigned j = 0; j < rows; j++) {
            x[r][j] = (long double)given[r][j];
            if (isnan(x[r][j]) || isinf(x[r][j])) return false;
            if (fabsl(x[r][j]) > most) most = fabsl(x[r][j]);
            if (x[r][j] != 0 && fabsl(x[r][j]) < least) least = fabsl(x[r][j]);
        }
    if (most > limit || least < 1 / limit) return false;
    for (unsigned j = 0; j < rows; j++) {
        long double d = x[0][j] - x[1][j];
        squares += d * d;
        dot += which == G_faceforward ? x[1][j] * x[2][j] : x[0][j] * x[1][j];
        size += fabsl(which == G_faceforward ? x[1][j] * x[2][j] : x[0][j] * x[1][j]);
    }
    switch (which) {
    case G_norm: case G_distance: w->real = sqrtl(squares); w->slack = 6 * unit_of(kind, w->real); return true;
    case G_normalize:
        w->real = x[0][component] / sqrtl(squares);
        w->slack = 8 * unit_of(kind, w->real);
        return squares != 0;
    case G_cross:
        w->real = x[0][next] * x[1][last] - x[0][last] * x[1][next];
        w->slack = 2 * unit_of(kind, fabsl(x[0][next] * x[1][last]) + fabsl(x[0][last] * x[1][next]));
        return true;
    case G_faceforward:
        w->real = dot < 0 ? x[0][component] : -x[0][component];
        w->slack = 0;
        return fabsl(dot) > 8 * unit_of(kind, size) || size == 0;
    case G_mirror:
        w->real = x[0][component] - 2 * dot * x[1][component];
        w->slack = 8 * unit_of(kind, fabsl(x[0][component]) + 2 * size * fabsl(x[1][component]));
        return kind != VC_F16 || fabsl(w->real) < 60000;
    default:
        k = 1 - x[2][0] * x[2][0] * (1 - dot * dot);
        /* tolerance of k */
        root = 16 * unit_of(kind == VC_F16 ? (unsigned)VC_F32 : kind, 1 + x[2][0] * x[2][0] * (1 + size * size));
        w->real = k < 0 ? 0 : x[2][0] * x[0][component] - (x[2][0] * dot + sqrtl(k)) * x[1][component];
        w->slack = k < 0 ? 0 : 16 * unit_of(kind, fabsl(x[2][0] * x[0][component]) + (fabsl(x[2][0]) * size + sqrtl(k))
                                            * fabsl(x[1][component]))
                               + root / sqrtl(k) * fabsl(x[1][component]);
        return fabsl(k) > 2 * root && (kind != VC_F16 || fabsl(w->real) < 60000);
    }
}

#endif /* TESTS_ACCURACY_H */
