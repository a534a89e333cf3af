/* Functions of the builder beyond operators: their results for immediates, and the errors for unsuitable operands.
   tests/codegen/matrix.c tests their results on a device, for every type. */
#include "tests/unit/unit.h"

typedef struct functions_rig { vc_kernel *k; vc_val f, h, d, u, i, b, u3, f3, f2; } functions_rig;

static functions_rig functions_begin(void) {
    vc_kernel_desc desc;
    functions_rig r;
    memset(&desc, 0, sizeof desc);
    r.k = vc_begin(&desc);
    r.f = vc_param(r.k, "f", VC_F32);
    r.h = vc_param(r.k, "h", VC_F16);
    r.d = vc_param(r.k, "d", VC_F64);
    r.u = vc_param(r.k, "u", VC_U32);
    r.i = vc_param(r.k, "i", VC_I16);
    r.b = vc_param(r.k, "b", VC_BOOL);
    r.u3 = vc_param(r.k, "u3", VC_U32X3);
    r.f3 = vc_param(r.k, "f3", VC_F32X3);
    r.f2 = vc_param(r.k, "f2", VC_F32X2);
    return r;
}

static const vc_val never = { 0, 0 };

/* The kernel's error is this message, and the call returned no value. */
#define FAILS(call, text) do { \
        functions_rig r = functions_begin(); \
        vc_val bad = call; \
        assert_int_equal(bad.owner, 0); \
        assert_non_null(vc_error(r.k)); \
        assert_string_equal(vc_error(r.k), text); \
        assert_null(vc_spirv(r.k, NULL)); \
        vc_free(r.k); \
    } while (0)

#define GIVES(call, type, want) do { \
        vc_val got = call; \
        assert_int_equal(got.owner, type); \
        assert_true(got.bits == (uint64_t)(want)); \
    } while (0)

static void bits(void **state) {
    (void)state;
    GIVES(vc_popcount(vc_i8(-1)), VC_I8, 8);
    GIVES(vc_popcount(vc_u64(UINT64_MAX)), VC_U64, 64);
    GIVES(vc_clz(vc_u16(0)), VC_U16, 16);
    GIVES(vc_clz(vc_i64(1)), VC_I64, 63);
    GIVES(vc_ctz(vc_i8(0)), VC_I8, 8);
    GIVES(vc_ctz(vc_u32(40)), VC_U32, 3);
    GIVES(vc_find_lsb(vc_u8(0)), VC_I8, 0xff);
    GIVES(vc_find_msb(vc_u64(0x8000000000000000u)), VC_I64, 63);
    GIVES(vc_find_msb(vc_i32(-1)), VC_I32, 0xffffffffu);
    GIVES(vc_find_msb(vc_i32(-9)), VC_I32, 3);
    GIVES(vc_bit_reverse(vc_u8(0x13)), VC_U8, 0xc8);
    GIVES(vc_byte_swap(vc_u64(0x0102030405060708u)), VC_U64, 0x0807060504030201u);
    GIVES(vc_byte_swap(vc_i16(0x0102)), VC_I16, 0x0201);
    GIVES(vc_rotl(vc_u8(0x81), vc_i64(9)), VC_U8, 3);
    GIVES(vc_rotr(vc_i32(1), vc_u8(1)), VC_I32, 0x80000000u);
    GIVES(vc_bitfield_extract(vc_u32(0xabcd), vc_u32(4), vc_u32(8)), VC_U32, 0xbc);
    GIVES(vc_bitfield_extract(vc_i32(0xabcd), vc_u8(4), vc_i64(8)), VC_I32, 0xffffffbcu);
    GIVES(vc_bitfield_extract(vc_i32(-1), vc_u32(4), vc_u32(0)), VC_I32, 0);
    GIVES(vc_bitfield_extract(vc_u32(0x80000000u), vc_u32(31), vc_u64(1000000000000u)), VC_U32, 1);
    GIVES(vc_bitfield_insert(vc_u32(0xffffffffu), vc_u32(0), vc_u32(8), vc_u32(8)), VC_U32, 0xffff00ffu);
    GIVES(vc_mul_hi(vc_u32(0xffffffffu), vc_u32(0xffffffffu)), VC_U32, 0xfffffffeu);
    GIVES(vc_mul_hi(vc_i64(INT64_MIN), vc_i64(INT64_MIN)), VC_I64, (uint64_t)1 << 62);
    GIVES(vc_mul_hi(vc_i64(-3), vc_i64(5)), VC_I64, UINT64_MAX);
    GIVES(vc_mul_hi(vc_i8(-128), vc_i8(127)), VC_I8, 0xc0);
    GIVES(vc_add_carry(vc_u8(200), vc_u8(56)), VC_U8, 1);
    GIVES(vc_sub_borrow(vc_u64(0), vc_u64(1)), VC_U64, 1);
    GIVES(vc_abs_diff(vc_i8(-128), vc_i8(127)), VC_U8, 255);
    GIVES(vc_add_sat(vc_i32(INT32_MAX), vc_i32(1)), VC_I32, INT32_MAX);
    GIVES(vc_add_sat(vc_u16(65535), vc_u16(1)), VC_U16, 65535);
    GIVES(vc_sub_sat(vc_i64(INT64_MIN), vc_i64(1)), VC_I64, (uint64_t)1 << 63);
    GIVES(vc_sub_sat(vc_u8(1), vc_u8(2)), VC_U8, 0);
    GIVES(vc_average(vc_i32(INT32_MAX), vc_i32(INT32_MAX)), VC_I32, INT32_MAX);
    GIVES(vc_average(vc_i8(-3), vc_i8(0)), VC_I8, 0xfe);
}

static void wrong_bits(void **state) {
    (void)state;
    FAILS(vc_popcount(r.f), "vc_popcount in kernel 'kernel': operand 1 'f' is f32, but must be an integer");
    FAILS(vc_clz(r.b), "vc_clz in kernel 'kernel': operand 1 'b' is bool, but must be an integer");
    FAILS(vc_find_msb(r.f3), "vc_find_msb in kernel 'kernel': operand 1 'f3' is f32x3, but must be an integer");
    FAILS(vc_rotl(r.u, r.f), "vc_rotl in kernel 'kernel': operand 2 'f' is f32, but must be an integer");
    FAILS(vc_rotr(r.u3, vc_vec2(r.u, r.u)),
          "vc_rotr in kernel 'kernel': operand 1 is u32x3 and operand 2 is u32x2; vectors must have the same number of components");
    FAILS(vc_bitfield_extract(r.u, r.u, r.b), "vc_bitfield_extract in kernel 'kernel': operand 3 'b' is bool, but must be an integer");
    FAILS(vc_bitfield_insert(r.u, r.i, vc_u32(1), vc_u32(2)),
          "vc_bitfield_insert in kernel 'kernel': operand 1 'u' is u32 and operand 2 'i' is i16; both must have the same type; convert one with vc_cast");
    FAILS(vc_mul_hi(r.u, vc_i32(-1)), "vc_mul_hi in kernel 'kernel': operand 2 is the immediate -1, which is out of range for u32");
    FAILS(vc_add_carry(r.f, r.f), "vc_add_carry in kernel 'kernel': operand 1 'f' is f32, but must be an integer");
    FAILS(vc_abs_diff(r.u, r.i), "vc_abs_diff in kernel 'kernel': operand 1 'u' is u32 and operand 2 'i' is i16; both "
                                 "must have the same type; convert one with vc_cast");
    FAILS(vc_average(r.u, never), "vc_average in kernel 'kernel': operand 2 was never set");
    FAILS(vc_add(r.u, vc_clz(vc_f32(1))),
          "vc_add in kernel 'kernel': operand 2 is vc_clz of immediates only, so its kernel is unknown; wrap one of them in vc_const");
    assert_int_equal(vc_add_sat(vc_u32(1), never).owner, 0);
}

/* Calls on immediates fold if every step is rounded once. */
static void functions_floats(void **state) {
    (void)state;
    GIVES(vc_saturate(vc_f32(2)), VC_F32, unit_bits32(1));
    GIVES(vc_saturate(vc_f16(0.5f)), VC_F16, 0x3800);
    GIVES(vc_smoothstep(vc_f32(0), vc_f32(4), vc_f32(1)), VC_F32, unit_bits32(0.15625f));
    GIVES(vc_ldexp(vc_f32(0.75f), vc_i8(-3)), VC_F32, unit_bits32(0.09375f));
    GIVES(vc_ldexp(vc_f16(1), vc_i32(15)), VC_F16, 0x7800);
    GIVES(vc_ldexp(vc_f32(1), vc_u64(1000000)), VC_F32, 0x7f800000);
    GIVES(vc_frexp_mantissa(vc_f32(-12)), VC_F32, unit_bits32(-0.75f));
    GIVES(vc_frexp_exponent(vc_f32(-12)), VC_I32, 4);
    GIVES(vc_frexp_exponent(vc_f16(1)), VC_I32, 1);
    GIVES(vc_frexp_exponent(vc_f64(0)), VC_I32, 0);
    GIVES(vc_modf_fract(vc_f32(-1.75f)), VC_F32, unit_bits32(-0.75f));
    GIVES(vc_modf_fract(vc_imm(VC_F32, 0xff800000u)), VC_F32, 0);
    GIVES(vc_norm(vc_f32(-3)), VC_F32, unit_bits32(3));
    GIVES(vc_distance(vc_f32(3), vc_f32(5)), VC_F32, unit_bits32(2));
}

static void wrong_floats(void **state) {
    (void)state;
    FAILS(vc_asinh(r.u), "vc_asinh in kernel 'kernel': operand 1 'u' is u32, but must be f16, f32 or f64");
    FAILS(vc_hypot(r.f, r.d), "vc_hypot in kernel 'kernel': operand 1 'f' is f32 and operand 2 'd' is f64; both must "
                              "have the same type; convert one with vc_cast");
    FAILS(vc_smoothstep(r.f, r.f3, r.f2), "vc_smoothstep in kernel 'kernel': operand 2 'f3' is f32x3 and operand 3 'f2' is f32x2; vectors must have the same "
                                          "number of components");
    FAILS(vc_ldexp(r.f, r.h), "vc_ldexp in kernel 'kernel': operand 2 'h' is f16, but must be an integer");
    FAILS(vc_cross(r.f3, r.d), "vc_cross in kernel 'kernel': operand 1 'f3' is f32x3 and operand 2 'd' is f64; both "
                               "must have the same type; convert one with vc_cast");
    FAILS(vc_cross(r.f2, r.f2), "vc_cross in kernel 'kernel': the operands are f32x2, but must be vectors of 3 components");
    FAILS(vc_add(r.f, vc_cross(vc_f32(1), vc_f32(1))),
          "vc_add in kernel 'kernel': operand 2 is vc_cross of immediates only, so its kernel is unknown; wrap one of them in vc_const");
    FAILS(vc_refract(r.f3, r.f3, r.f3), "vc_refract in kernel 'kernel': operand 3 is f32x3, but must be a scalar");
    FAILS(vc_reflect_vector(r.b, r.b), "vc_reflect_vector in kernel 'kernel': operand 1 'b' is bool, but must be f16, f32 or f64");
    FAILS(vc_add(r.f, vc_erf(vc_f32(1))),
          "vc_add in kernel 'kernel': operand 2 is vc_erf of immediates only, so its kernel is unknown; wrap one of them in vc_const");
}

static void words(void **state) {
    (void)state;
    GIVES(vc_cast_sat(VC_I8, vc_i32(-300)), VC_I8, 0x80);
    GIVES(vc_cast_sat(VC_U8, vc_i64(-1)), VC_U8, 0);
    GIVES(vc_cast_sat(VC_I32, vc_u32(0xffffffffu)), VC_I32, INT32_MAX);
    GIVES(vc_cast_sat(VC_U64, vc_i8(-1)), VC_U64, 0);
    GIVES(vc_cast_sat(VC_I64, vc_u8(255)), VC_I64, 255);
    GIVES(vc_cast_sat(VC_U8, vc_f32(300)), VC_U8, 255);
    GIVES(vc_round_f16(vc_f32(2049)), VC_F32, unit_bits32(2048));
    GIVES(vc_dot_4xi8(vc_u32(0x80808080u), vc_u32(0x80808080u)), VC_I32, 65536);
    GIVES(vc_dot_4xu8(vc_u32(0xffffffffu), vc_u32(0xffffffffu)), VC_U32, 260100);
    GIVES(vc_dot_4xi8_4xu8(vc_u32(0xffffffffu), vc_u32(0x01020304u)), VC_I32, 0xfffffff6u);
    GIVES(vc_dot_4xi8_sat(vc_u32(0x7f7f7f7fu), vc_u32(0x7f7f7f7fu), vc_i32(INT32_MAX - 1)), VC_I32, INT32_MAX);
    GIVES(vc_dot_4xu8_sat(vc_u32(1), vc_u32(1), vc_u32(0xffffffffu)), VC_U32, 0xffffffffu);
    GIVES(vc_ravel(vc_u32(5), vc_u32(7)), VC_U32, 5);
    GIVES(vc_uniform(VC_F32, vc_u32(0xffffffffu)), VC_F32, 0x3f7fffffu);
    GIVES(vc_uniform(VC_F64, vc_u64((uint64_t)1 << 63)), VC_F64, 0x3fe0000000000000u);
    GIVES(vc_uniform(VC_F16, vc_u32(0xffffffffu)), VC_F16, 0x3bff);
    /* the first two values of splitmix64 from 0 */
    GIVES(vc_hash_bits(vc_u64(0)), VC_U64, 0xe220a8397b1dcdafu);
    GIVES(vc_hash_bits(vc_u64(0x9e3779b97f4a7c15u)), VC_U64, 0x6e789e6aa1b965f4u);
    GIVES(vc_hash_bits(vc_u32(0)), VC_U32, 129708002u);
}

/* The opcodes of dot products in the SPIR-V, with a parameter or (`known`) with constants. 0: no dot product. */
static uint32_t dots_in(uint64_t lacks, bool known) {
    vc_kernel_desc desc;
    size_t words = 0;
    uint32_t found = 0;
    memset(&desc, 0, sizeof desc);
    desc.machine.missing_features = lacks;
    vc_kernel *k = vc_begin(&desc);
    vc_val a = known ? vc_const(k, vc_u32(0x01020304u)) : vc_param(k, "a", VC_U32);
    vc_ref out = vc_buffer(k, "out", VC_I32, VC_WRITE);
    vc_store(out, vc_u32(0), vc_dot_4xi8_sat(a, vc_u32(0xff00ff00u), vc_i32(7)));
    const uint32_t *code = vc_spirv(k, &words);
    assert_non_null(code);
    for (size_t at = 5; at < words; at += code[at] >> 16)
        if ((code[at] & 0xffffu) >= 4450 && (code[at] & 0xffffu) <= 4455) found = found * 10000 + (code[at] & 0xffffu);
    bool needs = (vc_reflect(k)->features & VC_FEATURE_DOT_4X8) != 0;
    assert_int_equal(needs, found != 0);
    assert_int_equal(strstr(vc_source(k, VC_TARGET_CUDA), "dp4a.s32.s32") != NULL, !known);
    assert_int_equal(strstr(vc_source(k, VC_TARGET_CUDA), "dp4a.u32.u32") != NULL, false);
    assert_null(strstr(vc_source(k, VC_TARGET_GLSL), "dot_4x"));
    vc_free(k);
    return found;
}

static void dot_instructions(void **state) {
    (void)state;
    assert_int_equal(dots_in(0, false), 4453);
    assert_int_equal(dots_in(VC_FEATURE_DOT_4X8, false), 0);
    assert_int_equal(dots_in(0, true), 0);
}

static void wrong_words(void **state) {
    (void)state;
    FAILS(vc_cast_sat(VC_F32X2, r.f3), "vc_cast_sat in kernel 'kernel': operand 1 is f32x3, which cannot be converted to f32x2: the number of components must "
                                       "be the same, unless the operand is a scalar");
    FAILS(vc_pack_half2(r.f3), "vc_pack_half2 in kernel 'kernel': operand 1 'f3' is f32x3, but must be f32x2");
    FAILS(vc_unpack_half2(r.i), "vc_unpack_half2 in kernel 'kernel': operand 1 'i' is i16, but must be u32");
    FAILS(vc_round_f16(r.d), "vc_round_f16 in kernel 'kernel': operand 1 is f64, but must be f32");
    FAILS(vc_pack_unorm4x8(r.f2), "vc_pack_unorm4x8 in kernel 'kernel': operand 1 'f2' is f32x2, but must be f32x4");
    FAILS(vc_unpack_snorm2x16(r.f), "vc_unpack_snorm2x16 in kernel 'kernel': operand 1 'f' is f32, but must be u32");
    FAILS(vc_pack_4x8(r.u3), "vc_pack_4x8 in kernel 'kernel': operand 1 is u32x3, but must be i32x4 or u32x4");
    FAILS(vc_pack_2x32(VC_F32, vc_vec2(r.u, r.u)), "vc_pack_2x32 in kernel 'kernel': type is f32, but must be i64, u64 or f64");
    FAILS(vc_unpack_2x32(r.u), "vc_unpack_2x32 in kernel 'kernel': operand 1 is u32, but must be i64, u64 or f64");
    FAILS(vc_dot_4xi8(r.u, r.u3), "vc_dot_4xi8 in kernel 'kernel': operand 2 'u3' is u32x3, but must be u32");
    FAILS(vc_dot_4xi8_sat(r.u, r.u, r.u), "vc_dot_4xi8_sat in kernel 'kernel': operand 3 'u' is u32, but must be i32");
    FAILS(vc_ravel(r.u3, r.u), "vc_ravel in kernel 'kernel': operand 2 'u' is u32, but must be u32x3");
    FAILS(vc_unravel(r.u3, r.u3), "vc_unravel in kernel 'kernel': operand 1 'u3' is u32x3, but must be u32");
    FAILS(vc_philox(r.u3, r.u3), "vc_philox in kernel 'kernel': operand 1 'u3' is u32x3, but must be u32x4");
    FAILS(vc_uniform(VC_I32, r.u), "vc_uniform in kernel 'kernel': type is i32, but must be f16, f32 or f64");
    FAILS(vc_uniform(VC_F32, r.i), "vc_uniform in kernel 'kernel': operand 1 is i16, but must be u32 or u64");
    FAILS(vc_normal(r.u3), "vc_normal in kernel 'kernel': operand 1 is u32x3, but must be a vector of 2 or 4 components");
    FAILS(vc_hash_bits(r.f), "vc_hash_bits in kernel 'kernel': operand 1 'f' is f32, but must be an integer");
}

/* Devices may round packed f16 differently, so the device's conversion is used only if the kernel is fast. Neither way
   needs the type f16. */
static void packed_half(void **state) {
    int fast;
    (void)state;
    for (fast = 0; fast < 2; fast++) {
        vc_kernel_desc desc;
        vc_kernel *k;
        vc_ref x;
        const char *text;
        memset(&desc, 0, sizeof desc);
        desc.fast = fast != 0;
        k = vc_begin(&desc);
        x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
        VC_EACH(k, i) { vc_store(x, i, vc_pack_half2(vc_neg(vc_unpack_half2(vc_load(x, i))))); }
        text = vc_source(k, VC_TARGET_GLSL);
        assert_non_null(text);
        assert_true((strstr(text, "packHalf2x16(-") != NULL) == (fast != 0));
        assert_non_null(strstr(text, "unpackHalf2x16("));
        assert_false(vc_reflect(k)->features & (VC_FEATURE_F16 | VC_FEATURE_I16 | VC_FEATURE_STORAGE_16));
        vc_free(k);
    }
}

/* Infinity and NaN too: a driver converts them to 0. */
static void unpacking_constant_halves(void **state) {
    vc_kernel *k = vc_begin(NULL);
    vc_ref out = vc_buffer(k, "out", VC_F32X2, VC_WRITE);
    const char *text;
    (void)state;
    vc_store(out, vc_u32(0), vc_unpack_half2(vc_const(k, vc_u32(0xfc006250u))));
    vc_store(out, vc_u32(1), vc_unpack_half2(vc_const(k, vc_u32(0x7e000001u))));
    text = vc_source(k, VC_TARGET_GLSL);
    assert_non_null(text);
    assert_null(strstr(text, "unpackHalf2x16("));
    assert_non_null(strstr(text, "808.0"));
    assert_non_null(strstr(text, "0xff800000u"));
    text = vc_source(k, VC_TARGET_OPENCL);
    assert_non_null(text);
    assert_non_null(strstr(text, "808.0f"));
    assert_non_null(strstr(text, "5.9604645e-08f"));
    vc_free(k);
}

/* Functions of NaN fold before the text is printed: some C compilers drop the store or crash on them. */
static void functions_of_constant_nan(void **state) {
    vc_kernel *k = vc_begin(NULL);
    vc_ref out = vc_buffer(k, "out", VC_F32, VC_WRITE);
    vc_val none = vc_const(k, vc_imm(VC_F32, 0x7fc00000u)), wide = vc_const(k, vc_imm(VC_F64, 0xfff8000000000001u));
    const char *text;
    (void)state;
    vc_store(out, vc_u32(0), vc_tanh(none));
    vc_store(out, vc_u32(1), vc_round(none));
    vc_store(out, vc_u32(2), vc_cast(VC_F32, vc_exp(vc_const(k, vc_imm(VC_F16, 0x7e00)))));
    vc_store(out, vc_u32(3), vc_cast(VC_F32, vc_bitcast(VC_U64, vc_sin(wide))));
    text = vc_source(k, VC_TARGET_OPENCL);
    assert_non_null(text);
    assert_null(strstr(text, "tanh("));
    assert_null(strstr(text, "rint("));
    assert_null(strstr(text, "exp("));
    assert_null(strstr(text, "floor("));
    assert_non_null(strstr(text, "as_float(0x7fc00000u)"));
    text = vc_source(k, VC_TARGET_GLSL);
    assert_non_null(text);
    assert_non_null(strstr(text, "tanh("));
    vc_free(k);
}

/* Immediates next to a value of the kernel need not fold: products that are subnormal, infinity minus infinity. */
static void immediates_that_do_not_fold(void **state) {
    vc_kernel *k = vc_begin(NULL);
    vc_ref out = vc_buffer(k, "out", VC_F32, VC_WRITE);
    vc_val x = vc_param(k, "x", VC_F32), h = vc_param(k, "h", VC_F16), tiny = vc_f32(1e-30f),
           none = vc_imm(VC_F32, 0x7f800000u);
    size_t words;
    (void)state;
    vc_store(out, vc_u32(0), vc_faceforward(x, tiny, tiny));
    vc_store(out, vc_u32(1), vc_refract(none, x, none));
    vc_store(out, vc_u32(2), vc_refract(x, tiny, tiny));
    vc_store(out, vc_u32(3), vc_smoothstep(none, none, x));
    vc_store(out, vc_u32(4), vc_hypot(x, vc_imm(VC_F32, 1)));
    vc_store(out, vc_u32(5), vc_reflect_vector(x, vc_imm(VC_F32, 0x7fc00000u)));
    vc_store(out, vc_u32(6), vc_cast(VC_F32, vc_distance(h, vc_imm(VC_F16, 1))));
    vc_store(out, vc_u32(7), vc_cast(VC_F32, vc_faceforward(vc_f16(1), h, vc_imm(VC_F16, 0x8001))));
    assert_null(vc_error(k));
    assert_non_null(vc_spirv(k, &words));
    assert_non_null(vc_source(k, VC_TARGET_GLSL));
    assert_non_null(vc_source(k, VC_TARGET_OPENCL));
    vc_free(k);
}

static const struct CMUnitTest builder_functions_tests[] = {
    cmocka_unit_test(bits), cmocka_unit_test(wrong_bits), cmocka_unit_test(functions_floats),
    cmocka_unit_test(wrong_floats), cmocka_unit_test(words), cmocka_unit_test(wrong_words),
    cmocka_unit_test(packed_half), cmocka_unit_test(unpacking_constant_halves),
    cmocka_unit_test(functions_of_constant_nan), cmocka_unit_test(immediates_that_do_not_fold),
    cmocka_unit_test(dot_instructions),
};
#undef FAILS
