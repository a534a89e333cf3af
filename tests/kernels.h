/* Shared by the tests of kernels: numbers of every kind as bits, validators for SPIR-V and GLSL, and running a
   kernel on buffers. Include after the implementations of both headers. The validators are libraries (spirv-tools,
   glslang), used if their headers are installed and TESTS_NO_VALIDATORS is not defined: a process for each of thousands
   of kernels would take minutes. */
#ifndef TESTS_KERNELS_H
#define TESTS_KERNELS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "turn.h"

#if defined(__has_include) && !defined(TESTS_NO_VALIDATORS)
#if __has_include(<spirv-tools/libspirv.h>)
#include <spirv-tools/libspirv.h>
#define TESTS_HAVE_SPIRV_TOOLS
#endif
#if __has_include(<glslang/Public/resource_limits_c.h>)
#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>
#define TESTS_HAVE_GLSLANG
#endif
#endif

/* ---- numbers: a component is its bit pattern in memory, zero-extended to 64 bits ---- */

#if defined(VKDISPATCH_H)
/* The machine of a context with all types enabled: kernels with any type are built, and their requirements tell
   whether the device can run them. */
static inline vc_machine machine_with_all_types(const vd_context *ctx) {
    vc_machine m = vd_machine(ctx);
    m.missing_features &= ~((uint64_t)VC_FEATURE_F16 | VC_FEATURE_F64 | VC_FEATURE_I8 | VC_FEATURE_I16 | VC_FEATURE_I64
                            | VC_FEATURE_STORAGE_8 | VC_FEATURE_STORAGE_16);
    return m;
}
#endif

static inline unsigned kind_of(vc_type t) { return t & 15u; }
static inline unsigned rows_of(vc_type t) { return 1u + ((t >> 4) & 3u); }
static inline bool is_float(unsigned kind) { return kind >= VC_F16; }
static inline bool is_signed(unsigned kind) { return kind >= VC_I8 && kind <= VC_I64; }
static inline unsigned kind_width(unsigned kind) { /* bits in memory */
    static const unsigned char width[13] = { 0, 32, 8, 16, 32, 64, 8, 16, 32, 64, 16, 32, 64 };
    return width[kind];
}
static inline uint64_t narrow(unsigned kind, uint64_t x) {
    unsigned w = kind_width(kind);
    return w == 64 ? x : x & ((UINT64_C(1) << w) - 1);
}
static inline int64_t widen(unsigned kind, uint64_t x) { /* sign-extended where signed */
    unsigned w = kind_width(kind);
    if (!is_signed(kind) || w == 64 || !(x >> (w - 1))) return (int64_t)x;
    return (int64_t)(x | ~((UINT64_C(1) << w) - 1));
}

static inline uint64_t get_bits(unsigned kind, const void *from, size_t i) {
    uint64_t x = 0;
    size_t size = kind_width(kind) / 8;
    memcpy(&x, (const char *)from + i * size, size); /* little-endian, like all supported devices */
    return x;
}
static inline void put_bits(unsigned kind, void *to, size_t i, uint64_t x) {
    size_t size = kind_width(kind) / 8;
    memcpy((char *)to + i * size, &x, size);
}

/* bits, including the implicit one */
static inline int mantissa_of(unsigned kind) { return kind == VC_F16 ? 11 : kind == VC_F32 ? 24 : 53; }
/* exponent of the least normal number */
static inline int lowest_of(unsigned kind) { return kind == VC_F16 ? -14 : kind == VC_F32 ? -126 : -1022; }

static inline double half_value(uint16_t h) {
    int e = (h >> 10) & 31, m = h & 1023;
    double v = e == 31 ? (m ? (double)NAN : (double)INFINITY) : e ? ldexp(m + 1024, e - 25) : ldexp(m, -24);
    return h & 0x8000 ? -v : v;
}
static inline uint16_t half_bits(double v) { /* rounds once, to nearest even */
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    double a = fabs(v);
    if (isnan(v)) return 0x7e00;
    if (a >= 65520) return (uint16_t)(sign | 0x7c00);
    if (a < ldexp(1, -14)) return (uint16_t)(sign | (uint16_t)nearbyint(ldexp(a, 24)));
    int e;
    frexp(a, &e);
    return (uint16_t)(sign | (uint16_t)((uint32_t)(e + 13) * 1024u + (uint32_t)nearbyint(ldexp(a, 11 - e))));
}

static inline double real_of(unsigned kind, uint64_t bits) {
    if (kind == VC_F16) return half_value((uint16_t)bits);
    if (kind == VC_F32) { float f; uint32_t u = (uint32_t)bits; memcpy(&f, &u, 4); return (double)f; }
    double d;
    memcpy(&d, &bits, 8);
    return d;
}
static inline uint64_t bits_of(unsigned kind, double v) {
    if (kind == VC_F16) return half_bits(v);
    if (kind == VC_F32) { float f = (float)v; uint32_t u; memcpy(&u, &f, 4); return u; }
    uint64_t u;
    memcpy(&u, &v, 8);
    return u;
}
/* A small integer as a value of any type. */
static inline uint64_t bits_of_number(vc_type type, int n) { return is_float(type) ? bits_of(type, n) : (uint64_t)n; }
static inline bool is_subnormal(unsigned kind, double v) { return v != 0 && fabs(v) < ldexp(1, lowest_of(kind)); }
static inline double flushed(unsigned kind, double v) { return is_subnormal(kind, v) ? copysign(0.0, v) : v; }
static inline long double unit_of(unsigned kind, long double v) { /* distance between neighbouring numbers at v */
    int e = lowest_of(kind) + 1;
    if (v != 0 && !isnan(v) && !isinf(v)) (void)frexpl(v, &e);
    if (e < lowest_of(kind) + 1) e = lowest_of(kind) + 1;
    return ldexpl(1, e - mantissa_of(kind));
}

/* splitmix64 (Steele, Lea, Flood 2014): any seed is a good seed */
static inline uint64_t random_next(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* ---- operations, one component at a time ---- */

enum { B = 1, I = 2, U = 4, F = 8 };
#define OPS(X) \
    X(neg, 1, I|U|F, 0) X(add, 2, I|U|F, 0) X(sub, 2, I|U|F, 0) X(mul, 2, I|U|F, 0) X(div, 2, I|U|F, 0) \
        X(rem, 2, I|U|F, 0) X(mod, 2, I|U|F, 0) \
    X(fma, 3, I|U|F, 0) X(abs, 1, I|U|F, 0) X(sign, 1, I|U|F, 0) X(min, 2, I|U|F, 0) X(max, 2, I|U|F, 0) \
        X(clamp, 3, I|U|F, 0) X(mix, 3, F, 0) \
    X(step, 2, F, 0) X(floor, 1, F, 0) X(ceil, 1, F, 0) X(trunc, 1, F, 0) X(round, 1, F, 0) X(fract, 1, F, 0) \
        X(sqrt, 1, F, 0) X(rsqrt, 1, F, 0) \
    X(exp, 1, F, 0) X(exp2, 1, F, 0) X(log, 1, F, 0) X(log2, 1, F, 0) X(pow, 2, F, 0) X(sin, 1, F, 0) X(cos, 1, F, 0) \
        X(tan, 1, F, 0) X(asin, 1, F, 0) \
    X(acos, 1, F, 0) X(atan, 1, F, 0) X(atan2, 2, F, 0) X(sinh, 1, F, 0) X(cosh, 1, F, 0) X(tanh, 1, F, 0) \
        X(asinh, 1, F, 0) \
    X(acosh, 1, F, 0) X(atanh, 1, F, 0) X(exp10, 1, F, 0) X(log10, 1, F, 0) X(cbrt, 1, F, 0) X(hypot, 2, F, 0) \
        X(erf, 1, F, 0) X(radians, 1, F, 0) \
    X(degrees, 1, F, 0) X(smoothstep, 3, F, 0) X(saturate, 1, F, 0) X(modf_fract, 1, F, 0) X(isnan, 1, F, 1) \
        X(isinf, 1, F, 1) \
    X(not, 1, B|I|U, 0) X(and, 2, B|I|U, 0) X(or, 2, B|I|U, 0) X(xor, 2, B|I|U, 0) X(shl, 2, I|U, 0) \
        X(shr, 2, I|U, 0) X(eq, 2, B|I|U|F, 1) \
    X(ne, 2, B|I|U|F, 1) X(lt, 2, I|U|F, 1) X(le, 2, I|U|F, 1) X(gt, 2, I|U|F, 1) X(ge, 2, I|U|F, 1) \
    X(popcount, 1, I|U, 0) X(clz, 1, I|U, 0) X(ctz, 1, I|U, 0) X(find_lsb, 1, I|U, I) X(find_msb, 1, I|U, I) \
        X(bit_reverse, 1, I|U, 0) \
    X(byte_swap, 1, I|U, 0) X(rotl, 2, I|U, 0) X(rotr, 2, I|U, 0) X(bitfield_extract, 3, I|U, 0) X(mul_hi, 2, I|U, 0) \
        X(add_carry, 2, I|U, 0) \
    X(sub_borrow, 2, I|U, 0) X(abs_diff, 2, I|U, U) X(add_sat, 2, I|U, 0) X(sub_sat, 2, I|U, 0) X(average, 2, I|U, 0)
#define OPS_NAME(name, arity, kinds, result) O_##name,
typedef enum OpName { OPS(OPS_NAME) O_COUNT } OpName;

typedef struct Op {
    OpName id;
    const char *name;
    int arity, kinds;
    int result; /* 0: the type of the first operand; B: bool; I and U: the integer of its width */
    vc_val (*f1)(vc_val);
    vc_val (*f2)(vc_val, vc_val);
    vc_val (*f3)(vc_val, vc_val, vc_val);
} Op;
#define OPS_1(name) vc_##name, NULL, NULL
#define OPS_2(name) NULL, vc_##name, NULL
#define OPS_3(name) NULL, NULL, vc_##name
#define OPS_ROW(name, arity, kinds, result) { O_##name, #name, arity, kinds, result, OPS_##arity(name) },
static const Op ops[] = { OPS(OPS_ROW) };

static inline vc_type result_of(const Op *op, vc_type t) {
    if (op->result == B) return VC_VEC(VC_BOOL, rows_of(t));
    if (op->result == I && !is_signed(kind_of(t))) return t - (VC_U8 - VC_I8);
    return op->result == U && is_signed(kind_of(t)) ? t + (VC_U8 - VC_I8) : t;
}

/* Arithmetic as devices must perform it: rounded to the kind after each operation. */
static inline double rounded(unsigned kind, double v) { return real_of(kind, bits_of(kind, v)); }

static inline double step_by_step(OpName op, unsigned kind, const double *x, int variant) {
    double q;
    switch (op) {
    case O_neg: return -x[0];
    case O_add: return rounded(kind, x[0] + x[1]);
    case O_sub: return rounded(kind, x[0] - x[1]);
    case O_mul: return rounded(kind, x[0] * x[1]);
    case O_fma:
        return variant ? rounded(kind, rounded(kind, x[0] * x[1]) + x[2]) : kind == VC_F64 ? fma(x[0], x[1], x[2])
            : kind == VC_F32 ? (double)fmaf((float)x[0], (float)x[1], (float)x[2]) : rounded(kind, x[0] * x[1] + x[2]);
    case O_rem: case O_mod:
        q = fmod(x[0], x[1]);
        return op == O_mod && q != 0 && (q < 0) != (x[1] < 0) ? rounded(kind, q + x[1]) : q;
    case O_mix: return rounded(kind, rounded(kind, x[0] * rounded(kind, 1 - x[2])) + rounded(kind, x[1] * x[2]));
    case O_abs: return fabs(x[0]);
    case O_sign: return x[0] > 0 ? 1 : x[0] < 0 ? -1 : 0;
    case O_min: return fmin(x[0], x[1]);
    case O_max: return fmax(x[0], x[1]);
    case O_clamp: return fmin(fmax(x[0], x[1]), x[2]);
    case O_step: return x[1] < x[0] ? 0 : 1;
    case O_floor: return floor(x[0]);
    case O_ceil: return ceil(x[0]);
    case O_trunc: return trunc(x[0]);
    case O_round: return nearbyint(x[0]);
    case O_fract: return rounded(kind, x[0] - floor(x[0]));
    case O_saturate: return fmin(fmax(x[0], 0), 1);
    case O_modf_fract: return isinf(x[0]) ? 0 : x[0] - trunc(x[0]);
    default: return x[0] / x[1]; /* div; f64 too is rounded once */
    }
}

static inline uint64_t int_quotient(OpName op, unsigned kind, uint64_t a, uint64_t b) {
    int64_t x = widen(kind, a), y = widen(kind, b);
    if (b == 0) return op == O_div ? ~UINT64_C(0) : a;
    if (!is_signed(kind)) return op == O_div ? a / b : a % b;
    if (y == -1) return op == O_div ? 0 - a : 0;
    if (op == O_div) return (uint64_t)(x / y);
    int64_t r = x % y;
    return (uint64_t)(op == O_mod && r != 0 && (r < 0) != (y < 0) ? r + y : r);
}

static inline int top_bit(uint64_t x) { int n = -1; while (x) { x >>= 1; n++; } return n; }
static inline uint64_t mirrored(uint64_t x, unsigned width, unsigned piece) { /* pieces in reverse order */
    uint64_t r = 0;
    for (unsigned i = 0; i < width; i += piece) r = r << piece | (x >> i & ((UINT64_C(1) << piece) - 1));
    return r;
}
static inline uint64_t upper_product(uint64_t a, uint64_t b) { /* schoolbook multiplication in base 2^16 */
    uint64_t column[8] = { 0 }, r = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            uint64_t p = (a >> 16 * i & 0xffff) * (b >> 16 * j & 0xffff);
            column[i + j] += p & 0xffff;
            column[i + j + 1] += p >> 16;
        }
    for (int i = 0; i < 7; i++) column[i + 1] += column[i] >> 16;
    for (int i = 7; i >= 4; i--) r = r << 16 | (column[i] & 0xffff);
    return r;
}

/* a and b are sign-extended; x, y, z are their absolute values */
static inline uint64_t want_bits_of_int(OpName op, unsigned w, bool s, int64_t a, int64_t b, uint64_t x, uint64_t y,
                                        uint64_t z) {
    uint64_t ones = w == 64 ? ~UINT64_C(0) : (UINT64_C(1) << w) - 1, at, count;
    int64_t most = (int64_t)(ones >> 1);
    switch (op) {
    case O_popcount: { uint64_t n = 0; for (; x; x &= x - 1) n++; return n; }
    case O_clz: return (uint64_t)((int)w - 1 - top_bit(x));
    case O_ctz: return x ? (uint64_t)top_bit(x & (0 - x)) : w;
    case O_find_lsb: return (uint64_t)(int64_t)top_bit(x & (0 - x));
    case O_find_msb: return (uint64_t)(int64_t)top_bit(s && a < 0 ? ~(uint64_t)a : x);
    case O_bit_reverse: return mirrored(x, w, 1);
    case O_byte_swap: return mirrored(x, w, 8);
    case O_rotl: at = y & (w - 1); return at ? x << at | x >> (w - at) : x;
    case O_rotr: at = y & (w - 1); return at ? x >> at | x << (w - at) : x;
    case O_bitfield_extract:
        at = y & (w - 1);
        count = z > w - at ? w - at : z;
        x = count < 64 ? x >> at & ((UINT64_C(1) << count) - 1) : x;
        return s && count && x >> (count - 1) ? x | ~(count < 64 ? (UINT64_C(1) << count) - 1 : ~UINT64_C(0)) : x;
    case O_mul_hi:
        if (w < 64) return s ? (uint64_t)((a * b) >> w) : (x * y) >> w;
        return upper_product(x, y) - (s && a < 0 ? y : 0) - (s && b < 0 ? x : 0);
    case O_add_carry: return x > ones - y;
    case O_sub_borrow: return x < y;
    case O_abs_diff: return s ? (a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a) : x > y ? x - y : y - x;
    case O_add_sat:
        if (!s) return x > ones - y ? ones : x + y;
        return (uint64_t)(b > 0 && a > most - b ? most : b < 0 && a < -most - 1 - b ? -most - 1 : a + b);
    case O_sub_sat:
        if (!s) return x < y ? 0 : x - y;
        return (uint64_t)(b < 0 && a > most + b ? most : b > 0 && a < -most - 1 + b ? -most - 1 : a - b);
    default: /* average */
        return s ? (uint64_t)((a >> 1) + (b >> 1) + (a & b & 1)) : (x >> 1) + (y >> 1) + (x & y & 1);
    }
}

static inline uint64_t want_int(OpName op, unsigned kind, uint64_t a, uint64_t b, uint64_t c) {
    int64_t x = widen(kind, a), y = widen(kind, b), z = widen(kind, c);
    bool s = is_signed(kind), below = s ? x < y : a < b, boolean = kind == VC_BOOL;
    unsigned w = kind_width(kind);
    if (op > O_ge) return want_bits_of_int(op, w, s, x, y, a, b, s && z < 0 ? ~UINT64_C(0) : c);
    switch (op) {
    case O_neg: return 0 - a;
    case O_add: return a + b;
    case O_sub: return a - b;
    case O_mul: return a * b;
    case O_div: case O_rem: case O_mod: return int_quotient(op, kind, a, b);
    case O_fma: return a * b + c;
    case O_abs: return s && x < 0 ? 0 - a : a;
    case O_sign: return s ? (uint64_t)((x > 0) - (x < 0)) : a != 0;
    case O_min: return below ? a : b;
    case O_max: return below ? b : a;
    case O_clamp:
        if (s) { x = x > y ? x : y; return (uint64_t)(x < z ? x : z); }
        a = a > b ? a : b;
        return a < c ? a : c;
    case O_not: return boolean ? !a : ~a;
    case O_and: return a & b;
    case O_or: return a | b;
    case O_xor: return a ^ b;
    case O_shl: return a << (b & (w - 1));
    case O_shr: return s ? (uint64_t)(x >> (b & (w - 1))) : a >> (b & (w - 1));
    case O_eq: return a == b;
    case O_ne: return a != b;
    case O_lt: return below;
    case O_le: return below || a == b;
    case O_gt: return !below && a != b;
    default: return !below; /* ge */
    }
}

/* Converts v to another kind by value: integers wrap, floats saturate, everything rounds once. */
static inline uint64_t cast_bits(unsigned from, unsigned to, uint64_t a) {
    double v = is_float(from) ? real_of(from, a) : is_signed(from) ? (double)widen(from, a) : (double)a;
    if (to == VC_BOOL) return is_float(from) ? v != 0 : a != 0;
    if (is_float(to)) {
        /* converts a 64-bit integer to f32 with one rounding; through a double it would round twice */
        if (to == VC_F32 && !is_float(from)) v = is_signed(from) ? (double)(float)widen(from, a) : (double)(float)a;
        return bits_of(to, v);
    }
    if (!is_float(from)) return narrow(to, (uint64_t)widen(from, a));
    bool s = is_signed(to);
    double limit = ldexp(1, (int)kind_width(to) - (s ? 1 : 0));
    uint64_t most = s ? (UINT64_C(1) << (kind_width(to) - 1)) - 1 : ~UINT64_C(0);
    v = trunc(v);
    if (isnan(v)) return 0;
    if (v >= limit) return narrow(to, most);
    if (v <= (s ? -limit : 0)) return s ? most + 1 : 0;
    return narrow(to, v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v);
}

/* With RUN_SAMPLE=4 in the environment, programs of codegen build every kernel in every language, but validate, compile
   and run only one in four: nearly all of their time is spent in validators, compilers and drivers. */
static inline long run_sample(void) {
    const char *known = getenv("RUN_SAMPLE");
    return known && atol(known) > 1 ? atol(known) : 1;
}

/* Whether a kernel is in this sample. */
static inline bool is_sampled(long number) { return in_sample((uint64_t)number, (uint64_t)run_sample()); }

/* RUN_NVRTC=0: CUDA C and OpenCL C are built, but not compiled. Returns why not, or NULL. */
static inline const char *texts_only(void) {
    const char *known = getenv("RUN_NVRTC");
    return known && !strcmp(known, "0") ? "RUN_NVRTC is 0" : NULL;
}

/* ---- validators: return NULL if valid, otherwise the error ---- */

static inline const char *spirv_wrong(const uint32_t *code, size_t words) {
#if defined(TESTS_HAVE_SPIRV_TOOLS)
    static spv_context context;
    static char text[1000];
    if (!context) context = spvContextCreate(SPV_ENV_VULKAN_1_2);
    spv_const_binary_t binary = { code, words };
    spv_diagnostic said = NULL;
    bool right = spvValidate(context, &binary, &said) == SPV_SUCCESS;
    snprintf(text, sizeof text, "%s", said ? said->error : "");
    spvDiagnosticDestroy(said);
    return right ? NULL : text;
#else
    (void)code; (void)words;
    return NULL;
#endif
}

#if defined(TESTS_HAVE_GLSLANG)
static uint32_t *glsl_words; /* SPIR-V of the last text */
static size_t glsl_count;

static inline const char *glsl_wrong(const char *source) {
    static bool ready;
    static char text[1500];
    if (!ready) ready = glslang_initialize_process() != 0;
    glslang_input_t input;
    memset(&input, 0, sizeof input);
    input.language = GLSLANG_SOURCE_GLSL;
    input.stage = GLSLANG_STAGE_COMPUTE;
    input.client = GLSLANG_CLIENT_VULKAN;
    input.client_version = GLSLANG_TARGET_VULKAN_1_2;
    input.target_language = GLSLANG_TARGET_SPV;
    input.target_language_version = GLSLANG_TARGET_SPV_1_3;
    input.code = source;
    input.default_version = 450;
    input.default_profile = GLSLANG_NO_PROFILE;
    input.messages = (glslang_messages_t)(GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT);
    input.resource = glslang_default_resource();
    glslang_shader_t *shader = glslang_shader_create(&input);
    glslang_program_t *program = glslang_program_create();
    bool right = glslang_shader_preprocess(shader, &input) && glslang_shader_parse(shader, &input);
    if (right) {
        glslang_program_add_shader(program, shader);
        right = glslang_program_link(program, GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT);
    }
    snprintf(text, sizeof text, "%s%s", glslang_shader_get_info_log(shader),
             right ? "" : glslang_program_get_info_log(program));
    glsl_count = 0;
    if (right) {
        glslang_program_SPIRV_generate(program, GLSLANG_STAGE_COMPUTE);
        glsl_count = glslang_program_SPIRV_get_size(program);
        glsl_words = (uint32_t *)realloc(glsl_words, glsl_count * 4);
        glslang_program_SPIRV_get(program, glsl_words);
    }
    glslang_program_delete(program);
    glslang_shader_delete(shader);
    return right ? NULL : text;
}
#else
static inline const char *glsl_wrong(const char *source) { (void)source; return NULL; }
#endif

#endif /* TESTS_KERNELS_H */
