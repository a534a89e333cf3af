/* Functions of f64 that the library implements itself: their errors on the device in units in the last place, over
   their whole range and for difficult arguments.
     math64 [-v]      prints the argument with the largest error of each */
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#include "../kernels.h"

enum { COUNT = 1 << 16 };

typedef enum Where { ANYWHERE, NEAR_ONE, ANGLE, UNIT } Where; /* which difficult arguments make up half of the tests */

typedef struct Function {
    const char *name;
    vc_val (*one)(vc_val);
    vc_val (*two)(vc_val, vc_val);
    long double (*want)(long double), (*want2)(long double, long double);
    double low, high;   /* range of the other half of the arguments */
    Where where;
    double bound;       /* largest allowed error in ulps */
} Function;

static long double rsqrt_of(long double x) { return 1 / sqrtl(x); }
static long double pow_of(long double x, long double y) { return x < 0 ? (long double)NAN : powl(x, y); }

static long double exp10_of(long double x) { return powl(10, x); }

static const Function functions[] = {
    { "rsqrt", vc_rsqrt, NULL, rsqrt_of, NULL, 0, 100, ANYWHERE, 1.6 },
    { "exp", vc_exp, NULL, expl, NULL, -707, 709, UNIT, 1.1 },
    { "exp2", vc_exp2, NULL, exp2l, NULL, -1021, 1023, UNIT, 1.2 },
    { "log", vc_log, NULL, logl, NULL, 0, 3, NEAR_ONE, 1 },
    { "log2", vc_log2, NULL, log2l, NULL, 0, 3, NEAR_ONE, 0.6 },
    { "pow", NULL, vc_pow, NULL, pow_of, 0, 10, NEAR_ONE, 1.4 },
    { "sin", vc_sin, NULL, sinl, NULL, -20, 20, ANGLE, 0.9 },
    { "cos", vc_cos, NULL, cosl, NULL, -20, 20, ANGLE, 0.9 },
    { "tan", vc_tan, NULL, tanl, NULL, -20, 20, ANGLE, 2.3 },
    { "asin", vc_asin, NULL, asinl, NULL, -1, 1, UNIT, 2.3 },
    { "acos", vc_acos, NULL, acosl, NULL, -1, 1, UNIT, 1.3 },
    { "atan", vc_atan, NULL, atanl, NULL, -5, 5, ANYWHERE, 0.9 },
    { "atan2", NULL, vc_atan2, NULL, atan2l, -5, 5, ANYWHERE, 1.6 },
    { "sinh", vc_sinh, NULL, sinhl, NULL, -5, 5, UNIT, 1.8 },
    { "cosh", vc_cosh, NULL, coshl, NULL, -5, 5, UNIT, 1.6 },
    { "tanh", vc_tanh, NULL, tanhl, NULL, -5, 5, UNIT, 2.6 },
    { "asinh", vc_asinh, NULL, asinhl, NULL, -5, 5, ANYWHERE, 3 },
    { "acosh", vc_acosh, NULL, acoshl, NULL, 1, 5, NEAR_ONE, 2.6 },
    { "atanh", vc_atanh, NULL, atanhl, NULL, -1, 1, UNIT, 2 },
    { "exp10", vc_exp10, NULL, exp10_of, NULL, -307, 308, UNIT, 2 },
    { "log10", vc_log10, NULL, log10l, NULL, 0, 3, NEAR_ONE, 1.6 },
    { "cbrt", vc_cbrt, NULL, cbrtl, NULL, -5, 5, ANYWHERE, 0.8 },
    { "hypot", NULL, vc_hypot, NULL, hypotl, -5, 5, ANYWHERE, 1.3 },
    { "erf", vc_erf, NULL, erfl, NULL, -7, 7, UNIT, 1.6 }
};

static double fraction(uint64_t *state) { return (double)(random_next(state) >> 11) * 0x1p-53; }

static double hard(Where where, uint64_t *state) {
    double x = fraction(state) - 0.5;
    int steps;
    switch (where) {
    case NEAR_ONE: return 1 + ldexp(x, -(int)(random_next(state) % 50));
    case ANGLE: /* multiples of pi / 2 up to 2^30, and neighbouring numbers */
        x = (double)(nearbyintl(ldexpl(x, (int)(random_next(state) % 31))) * 1.57079632679489661923L);
        for (steps = (int)(random_next(state) % 3); steps > 0; steps--) x = nextafter(x, 1e9);
        return x;
    case UNIT: return ldexp(2 * x, -(int)(random_next(state) % 30));
    default:
        do { uint64_t bits = random_next(state); x = real_of(VC_F64, bits);
             } while (isnan(x) || is_subnormal(VC_F64, x));
        return x;
    }
}

static void arguments(const Function *f, double *a, double *b) {
    uint64_t state = 17;
    for (int i = 0; i < COUNT; i++) {
        a[i] = i % 2 ? f->low + fraction(&state) * (f->high - f->low) : hard(f->where, &state);
        b[i] = i % 2 ? f->low + fraction(&state) * (f->high - f->low) : hard(ANYWHERE, &state);
        if (f->two == vc_pow) b[i] = (fraction(&state) - 0.5) * 2000 / fabs(log2(a[i])); /* results of all magnitudes */
    }
}

static bool run(vd_context *ctx, const Function *f, const double *a, const double *b, double *out) {
    vc_kernel_desc desc;
    vd_buffer_desc shape;
    vd_buffer in[3];
    memset(&desc, 0, sizeof desc);
    memset(&shape, 0, sizeof shape);
    desc.name = f->name;
    desc.machine = vd_machine(ctx);
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "a", VC_F64, VC_READ), y = vc_buffer(k, "b", VC_F64, VC_READ);
    vc_ref z = vc_buffer(k, "out", VC_F64, VC_WRITE);
    VC_EACH(k, i) { vc_store(z, i, f->one ? f->one(vc_load(x, i)) : f->two(vc_load(x, i), vc_load(y, i))); }
    vd_kernel made = vd_kernel_build(ctx, k);
    vc_free(k);
    shape.type = VD_F64;
    shape.shape[0] = COUNT;
    for (int i = 0; i < 3; i++) {
        shape.data = i == 0 ? a : i == 1 ? b : NULL;
        in[i] = vd_buffer_create(ctx, &shape);
    }
    bool right = vd_run(ctx, made, COUNT, vd_b(in[0]), vd_b(in[1]), vd_b(in[2])) == VD_OK
        && vd_buffer_read(ctx, in[2], 0, out, VD_WHOLE) == VD_OK;
    for (int i = 0; i < 3; i++) vd_buffer_destroy(ctx, in[i]);
    vd_kernel_destroy(ctx, made);
    return right;
}

static double error_of(double got, long double want) {
    double nearest = (double)want;
    if (isnan(want)) return isnan(got) ? 0 : (double)INFINITY;
    /* subnormals may be flushed to zero */
    if ((isinf(nearest) && got == nearest) || (got == 0 && fabs(nearest) < 0x1p-1022)) return 0;
    if (isnan(got) || isinf(got)) return fabsl(want) > 0x1.fffffffffffffp1023L ? 1 : (double)INFINITY;
    return (double)(fabsl((long double)got - want) / unit_of(VC_F64, want));
}

int main(int count, char **args) {
    static double a[COUNT], b[COUNT], out[COUNT];
    int passed = 0, failed = 0, total = (int)(sizeof functions / sizeof functions[0]);
    vd_context_desc desc;
    vd_context *ctx = NULL;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_VULKAN;
    bool here = vd_context_create(&desc, &ctx) == VD_OK;
    if (!here || !(vd_device(ctx, 0)->features & VD_FEATURE_F64)) {
        printf("# reason: %s\n0 passed, 0 failed, %d skipped\n", here ? "the device has no f64" : vd_error_text(),
               total);
        vd_context_destroy(ctx);
        return 0;
    }
    for (int i = 0; i < total; i++) {
        const Function *f = &functions[i];
        double worst = 0;
        int at = 0;
        arguments(f, a, b);
        bool ran = run(ctx, f, a, b, out);
        if (!ran) printf("  %s: %s\n", f->name, vd_error_text());
        for (int j = 0; ran && j < COUNT; j++) {
            double e = error_of(out[j], f->want ? f->want((long double)a[j]) : f->want2((long double)a[j],
                                                                                        (long double)b[j]));
            if (e > worst) { worst = e; at = j; }
        }
        bool right = ran && worst <= f->bound;
        if (!right || count > 1)
            printf("  %-6s %6.3f ulp of %.1f at %a %a: %a\n", f->name, worst, f->bound, a[at], b[at], out[at]);
        if (right) passed++; else failed++;
    }
    (void)args;
    vd_context_destroy(ctx);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed > 0;
}
