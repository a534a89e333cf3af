/* Constant folding: floats compared with the host's arithmetic, which rounds the same way if no operand is subnormal;
   integers compared with the manual. */
#include "tests/unit/unit.h"
#include <math.h>

static uint64_t fold_seed = 1;
static uint64_t fold_next(void) {
    fold_seed ^= fold_seed << 13;
    fold_seed ^= fold_seed >> 7;
    fold_seed ^= fold_seed << 17;
    return fold_seed;
}

static uint64_t bits64(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }

/* Mostly numbers near each other, so that sums cancel; occasionally any number. */
static double number(void) {
    uint64_t r = fold_next();
    double x = (double)(r >> 11) * ldexp(1, (int)(r % 7) - 55) * (r & 1024 ? 1 : -1);
    return (r & 0x3800) ? x : ldexp(x, (int)(fold_next() % 90) - 45);
}

static void fold_floats(void **state) {
    unsigned i;
    (void)state;
    for (i = 0; i < 200000 / unit_stride(); i++) {
        volatile float a = (float)number(), b = (float)number(), r;
        vc_val x = vc_f32(a), y = vc_f32(b);
        r = a + b; if (fabsf(r) > 1e-30f) assert_int_equal(vc_add(x, y).bits, unit_bits32(r));
        r = a - b; if (fabsf(r) > 1e-30f) assert_int_equal(vc_sub(x, y).bits, unit_bits32(r));
        r = a * b; if (fabsf(r) > 1e-30f) assert_int_equal(vc_mul(x, y).bits, unit_bits32(r));
        r = a / b; if (fabsf(r) > 1e-30f) assert_int_equal(vc_div(x, y).bits, unit_bits32(r));
        r = sqrtf(fabsf(a)); assert_int_equal(vc_sqrt(vc_abs(x)).bits, unit_bits32(r));
        r = floorf(a); assert_int_equal(vc_floor(x).bits, unit_bits32(r));
        r = ceilf(a); assert_int_equal(vc_ceil(x).bits, unit_bits32(r));
        r = truncf(a); assert_int_equal(vc_trunc(x).bits, unit_bits32(r));
        r = nearbyintf(a); assert_int_equal(vc_round(x).bits, unit_bits32(r));
        assert_int_equal(vc_lt(x, y).bits, a < b);
        assert_int_equal(vc_ge(x, y).bits, a >= b);
        assert_int_equal(vc_max(x, y).bits, unit_bits32(a > b ? a : b));
        assert_int_equal(vc_cast(VC_F64, x).bits, bits64((double)a));
    }
}

/* sqrt of mingw-w64 rounds twice. */
static double rounded_sqrt(double x) {
#ifdef __MINGW32__
    __asm__("sqrtsd %1, %0" : "=x"(x) : "x"(x));
    return x;
#else
    return sqrt(x);
#endif
}

static void doubles(void **state) {
    unsigned i;
    (void)state;
    for (i = 0; i < 200000 / unit_stride(); i++) {
        volatile double a = number(), b = number(), r;
        vc_val x = vc_f64(a), y = vc_f64(b);
        r = a + b; assert_true(vc_add(x, y).bits == bits64(r));
        r = a - b; assert_true(vc_sub(x, y).bits == bits64(r));
        r = a * b; assert_true(vc_mul(x, y).bits == bits64(r));
        r = a / b; assert_true(vc_div(x, y).bits == bits64(r));
        r = rounded_sqrt(fabs(a)); assert_true(vc_sqrt(vc_abs(x)).bits == bits64(r));
        r = nearbyint(a); assert_true(vc_round(x).bits == bits64(r));
        if (fabs(a) < 1e9) assert_int_equal(vc_cast(VC_I64, x).bits, (uint64_t)(int64_t)a);
        volatile float single = (float)a;
        if (fabsf(single) > 1e-30f) assert_int_equal(vc_cast(VC_F32, x).bits, unit_bits32(single));
        uint64_t u = fold_next() >> (fold_next() % 64);
        volatile float f = (float)u;
        volatile double d = (double)(int64_t)u;
        assert_int_equal(vc_cast(VC_F32, vc_u64(u)).bits, unit_bits32(f));
        assert_true(vc_cast(VC_F64, vc_i64((int64_t)u)).bits == bits64(d));
    }
}

static void edges(void **state) {
    vc_val inf = vc_f32(INFINITY), nan = vc_imm(VC_F32, 0x7fc00000), tiny = vc_imm(VC_F32, 1),
           least = vc_imm(VC_F32, 0x00800000);
    (void)state;
    assert_int_equal(vc_add(inf, vc_f32(1)).bits, 0x7f800000);
    assert_int_equal(vc_div(vc_f32(-1), vc_f32(0)).bits, 0xff800000);
    assert_int_equal(vc_sub(vc_f32(1), vc_f32(1)).bits, 0);
    assert_int_equal(vc_typeof(vc_sub(inf, inf)), VC_NONE);             /* NaN: not folded */
    assert_int_equal(vc_typeof(vc_add(tiny, vc_f32(1))), VC_NONE);      /* subnormal operand */
    assert_int_equal(vc_typeof(vc_mul(least, vc_f32(0.5f))), VC_NONE);  /* subnormal result */
    assert_int_equal(vc_typeof(vc_sin(vc_f32(0))), VC_NONE);            /* libm is not used for folding */
    assert_int_equal(vc_typeof(vc_fma(vc_f32(1), vc_f32(1), vc_f32(1))), VC_NONE);
    assert_int_equal(vc_typeof(vc_vec2(vc_f32(1), vc_f32(1))), VC_NONE); /* immediates are scalars */
    assert_true(vc_any(vc_bool(true)).bits && !vc_all(vc_bool(false)).bits);
    assert_int_equal(vc_max(nan, vc_f32(2)).bits, unit_bits32(2));
    assert_int_equal(vc_min(vc_f32(2), nan).bits, unit_bits32(2));
    assert_int_equal(vc_lt(nan, nan).bits, 0);
    assert_int_equal(vc_ne(nan, nan).bits, 1);
    assert_int_equal(vc_isnan(nan).bits, 1);
    assert_int_equal(vc_isinf(inf).bits, 1);
    assert_int_equal(vc_sign(nan).bits, 0);
    assert_int_equal(vc_cast(VC_I32, nan).bits, 0);
    assert_int_equal(vc_cast(VC_I32, vc_f32(-3e9f)).bits, 0x80000000u);
    assert_int_equal(vc_cast(VC_U8, vc_f32(-3)).bits, 0);
    assert_int_equal(vc_cast(VC_U8, vc_f32(300)).bits, 255);
    assert_int_equal(vc_cast(VC_I8, vc_f32(-2.9f)).bits, 0xfe);
    assert_int_equal(vc_cast(VC_BOOL, vc_f32(-0.0f)).bits, 0);
    assert_int_equal(vc_f16(1.0f / 3).bits, 0x3555);
    assert_int_equal(vc_f16(65520).bits, 0x7c00);
    assert_int_equal(vc_f16(5.9604645e-8f).bits, 1);
    assert_int_equal(vc_f16(2.9802322e-8f).bits, 0);
    assert_int_equal(vc_mul(vc_f16(255), vc_f16(257)).bits, 0x7c00);
    assert_int_equal(vc_add(vc_f16(2048), vc_f16(3)).bits, 0x6802);
    assert_int_equal(vc_round(vc_f32(2.5f)).bits, unit_bits32(2));
    assert_int_equal(vc_round(vc_f32(-0.5f)).bits, unit_bits32(-0.0f));
    assert_int_equal(vc_floor(vc_f32(-0.25f)).bits, unit_bits32(-1));
    assert_int_equal(vc_fract(vc_f32(-0.25f)).bits, unit_bits32(0.75f));
}

static void integers(void **state) {
    (void)state;
    assert_int_equal(vc_div(vc_i32(7), vc_i32(0)).bits, 0xffffffffu);
    assert_int_equal(vc_div(vc_i32(INT32_MIN), vc_i32(-1)).bits, 0x80000000u);
    assert_int_equal(vc_div(vc_i64(INT64_MIN), vc_i64(-1)).bits, (uint64_t)1 << 63);
    assert_int_equal(vc_rem(vc_i32(-7), vc_i32(0)).bits, 0xfffffff9u);
    assert_int_equal(vc_rem(vc_i32(-7), vc_i32(3)).bits, 0xffffffffu);
    assert_int_equal(vc_mod(vc_i32(-7), vc_i32(3)).bits, 2);
    assert_int_equal(vc_mod(vc_i32(7), vc_i32(-3)).bits, 0xfffffffeu);
    assert_int_equal(vc_rem(vc_i8(INT8_MIN), vc_i8(-1)).bits, 0);
    assert_int_equal(vc_add(vc_u8(200), vc_u8(100)).bits, 44);
    assert_int_equal(vc_mul(vc_i16(300), vc_i16(300)).bits, 24464);
    assert_int_equal(vc_shl(vc_u32(1), vc_u32(33)).bits, 2);
    assert_int_equal(vc_shr(vc_i8(-128), vc_u64(9)).bits, 0xc0);
    assert_int_equal(vc_abs(vc_i32(INT32_MIN)).bits, 0x80000000u);
    assert_int_equal(vc_sign(vc_i8(-3)).bits, 0xff);
    assert_int_equal(vc_min(vc_i32(-1), vc_i32(1)).bits, 0xffffffffu);
    assert_int_equal(vc_clamp(vc_u32(9), vc_u32(1), vc_u32(4)).bits, 4);
    assert_int_equal(vc_cast(VC_I64, vc_i8(-1)).bits, UINT64_MAX);
    assert_int_equal(vc_add(vc_i32(1), vc_u64(2)).owner, VC_I32);
    assert_int_equal(vc_not(vc_bool(true)).bits, 0);
    assert_int_equal(vc_select(vc_bool(true), vc_u8(3), vc_u8(4)).bits, 3);
    assert_int_equal(vc_imm(VC_U8, 0x1ff).bits, 0xff);
    assert_int_equal(vc_typeof(vc_imm(VC_F32X2, 0)), VC_NONE);
}

/* Whether fma with this constant factor stays one operation. Vectors repeat the factor in each component. */
static bool stays_fused(float factor, bool first, vc_type type) {
    vc_kernel *k = vc_begin(NULL);
    vc_ref r = vc_buffer(k, "r", type, VC_READ_WRITE);
    vc_val x = vc_load(r, vc_u32(0)), y = vc_f32(factor);
    bool fused;
    vc_store(r, vc_u32(1), vc_fma(first ? y : x, first ? x : y, x));
    assert_non_null(vc_spirv(k, NULL));
    assert_non_null(vc_source(k, VC_TARGET_GLSL));
    fused = strstr(vc_source(k, VC_TARGET_GLSL), "fma(") != NULL;
    vc_free(k);
    return fused;
}

static void fma_by_zero(void **state) {
    static const vc_type types[] = { VC_F32, VC_F32X3 };
    uint32_t i, first;
    (void)state;
    for (i = 0; i < 2; i++)
        for (first = 0; first < 2; first++) {
            assert_true(stays_fused(0.3f, first, types[i]));
            assert_false(stays_fused(0, first, types[i]));
            assert_false(stays_fused(-0.0f, first, types[i]));
        }
}

/* Drivers for Vulkan may confuse quotients and remainders of the same u64 (vc__rem_uses_quotient). */
static void remainders_of_u64(void **state) {
    (void)state;
    for (uint32_t variable = 0; variable < 2; variable++) {
        vc_kernel *k = vc_begin(NULL);
        vc_ref out = vc_buffer(k, "out", VC_U64, VC_READ | VC_WRITE);
        vc_val x = vc_load(out, vc_u32(0)), y = variable ? vc_load(out, vc_u32(1)) : vc_u64(7);
        vc_store(out, vc_u32(2), vc_rem(x, y));
        vc_store(out, vc_u32(3), vc_mod(vc_add(x, vc_u64(1)), y));
        vc_store(out, vc_u32(4), vc_div(x, y));
        assert_non_null(vc_source(k, VC_TARGET_GLSL));
        assert_null(strchr(vc_source(k, VC_TARGET_GLSL), '%'));
        vc_free(k);
    }
}

static const struct CMUnitTest builder_fold_tests[] = {
    cmocka_unit_test(fold_floats), cmocka_unit_test(doubles), cmocka_unit_test(edges), cmocka_unit_test(integers),
    cmocka_unit_test(fma_by_zero), cmocka_unit_test(remainders_of_u64),
};
