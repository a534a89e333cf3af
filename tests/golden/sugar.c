/* The short notations record the same operations as the calls: vc_imm_of and VC in C, operators in C++. Each kernel is
   written both ways, and both must have the same hash. */
#define VKDISPATCH_SHORT
#include "vkdispatch_codegen.h"

#include <stdio.h>
#include <string.h>

typedef struct inputs {
    vc_val f, g, d, i, j, u, wide, byte, yes, no, v;
} inputs;

typedef vc_val result(const inputs *in);

/* One expression: with calls, and in short notation. */
typedef struct pair { const char *name; result *calls, *brief; } pair;

#define CALLS(name, expression) static vc_val calls_##name(const inputs *in) { return expression; }
#define BRIEF(name, expression) static vc_val brief_##name(const inputs *in) { return expression; }

/* X(name, with calls, in short notation) */
#define IMMEDIATES(X) \
    X(imm_bool, vc_and(in->yes, vc_bool(true)), vc_and(in->yes, VC((bool)1))) \
    X(imm_char, vc_add(in->i, vc_i32('a')), vc_add(in->i, VC((char)'a'))) \
    X(imm_i8, vc_const_i8(in), vc_add(vc_cast(VC_I8, in->i), VC((signed char)-3))) \
    X(imm_i16, vc_add(in->i, vc_i16(-300)), vc_add(in->i, VC((short)-300))) \
    X(imm_i32, vc_mul(in->i, vc_i32(7)), vc_mul(in->i, VC(7))) \
    X(imm_long, vc_mul(in->wide, vc_i64(9)), vc_mul(in->wide, VC(9L))) \
    X(imm_i64, vc_add(in->wide, vc_i64(-5000000000)), vc_add(in->wide, VC(-5000000000LL))) \
    X(imm_u8, vc_add(in->byte, vc_u8(200)), vc_add(in->byte, VC((unsigned char)200))) \
    X(imm_u16, vc_add(in->u, vc_u16(60000)), vc_add(in->u, VC((unsigned short)60000))) \
    X(imm_u32, vc_add(in->u, vc_u32(4000000000u)), vc_add(in->u, VC(4000000000u))) \
    X(imm_ulong, vc_add(in->wide, vc_u64(8)), vc_add(in->wide, VC(8ul))) \
    X(imm_u64, vc_add(vc_cast(VC_U64, in->wide), vc_u64(UINT64_MAX)), \
      vc_add(vc_cast(VC_U64, in->wide), VC(18446744073709551615ull))) \
    X(imm_f32, vc_mul(in->f, vc_f32(0.1f)), vc_mul(in->f, VC(0.1f))) \
    X(imm_f64, vc_mul(in->d, vc_f64(0.1)), vc_mul(in->d, VC(0.1))) \
    X(f64_as_f32, vc_mul(in->f, vc_f32(0.1f)), vc_mul(in->f, VC(0.1))) \
    X(int_as_f32, vc_mul(vc_f32(3), in->f), vc_mul(VC(3), in->f)) \
    X(int_as_f64, vc_fma(in->d, in->d, vc_f64(-2)), vc_fma(in->d, in->d, VC(-2)))

#define vc_const_i8(in) vc_add(vc_cast(VC_I8, (in)->i), vc_i8(-3))

#ifdef __cplusplus
static vc_val compound(vc_val a, vc_val b) {
    a += b;
    a *= 2;
    return a;
}
#define OPERATORS(X) \
    X(add, vc_add(in->f, in->g), in->f + in->g) \
    X(add_number, vc_add(in->f, vc_f32(1.5f)), in->f + 1.5f) \
    X(number_sub, vc_sub(vc_f64(1.5), in->d), 1.5 - in->d) \
    X(sub, vc_sub(in->u, in->u), in->u - in->u) \
    X(mul, vc_mul(in->v, vc_f32(3)), in->v * 3.0f) \
    X(div, vc_div(vc_i32(100), in->u), 100 / in->u) \
    X(rem, vc_rem(in->i, vc_i32(10)), in->i % 10) \
    X(neg, vc_neg(in->f), -in->f) \
    X(inverted, vc_not(in->u), ~in->u) \
    X(negated, vc_not(in->yes), !in->yes) \
    X(both, vc_and(in->yes, in->no), in->yes & in->no) \
    X(masked, vc_and(in->u, vc_u32(255)), in->u & 255u) \
    X(either, vc_or(in->yes, vc_bool(false)), in->yes | false) \
    X(differs, vc_xor(in->i, in->j), in->i ^ in->j) \
    X(shl, vc_shl(vc_i32(1), in->u), 1 << in->u) \
    X(shr, vc_shr(in->i, vc_i32(3)), in->i >> 3) \
    X(eq, vc_eq(in->f, vc_f32(0)), in->f == 0.0f) \
    X(ne, vc_ne(vc_i32(3), in->u), 3 != in->u) \
    X(lt, vc_lt(in->f, in->g), in->f < in->g) \
    X(le, vc_le(in->u, vc_i32(9)), in->u <= 9) \
    X(gt, vc_gt(vc_f32(2), in->f), 2.0f > in->f) \
    X(ge, vc_ge(in->i, in->j), in->i >= in->j) \
    X(double_of_f32, vc_mul(in->f, vc_f32(2)), in->f * 2.0) \
    X(int_of_f32, vc_sub(vc_f32(1), in->f), 1 - in->f) \
    X(function_number, vc_max(in->f, vc_f32(0.5f)), vc_max(in->f, 0.5f)) \
    X(function_numbers, vc_clamp(in->f, vc_f32(0), vc_f32(1)), vc_clamp(in->f, 0, 1.0)) \
    X(function_int, vc_min(in->u, vc_u32(7)), vc_min(in->u, 7)) \
    X(compound, vc_mul(vc_add(in->f, in->g), vc_f32(2)), compound(in->f, in->g)) \
    X(nested, vc_sub(vc_mul(vc_add(in->f, in->g), in->f), vc_div(vc_neg(in->g), vc_f32(3))), \
      (in->f + in->g) * in->f - -in->g / 3.0f) \
    X(precedence, vc_or(vc_lt(vc_add(in->i, vc_shl(in->j, vc_i32(2))), vc_i32(5)), in->no), \
      (in->i + (in->j << 2) < 5) | in->no)
#else
#define OPERATORS(X)
#endif

#define BODIES(name, by_calls, brief) CALLS(name, by_calls) BRIEF(name, brief)
IMMEDIATES(BODIES)
OPERATORS(BODIES)

#define ROW(name, by_calls, brief) { #name, calls_##name, brief_##name },
static const pair pairs[] = { IMMEDIATES(ROW) OPERATORS(ROW) };

static int cases, failures;

static void report(bool good, const char *name, const char *why) {
    printf("%s %d - %s\n", good ? "ok" : "not ok", ++cases, name);
    if (!good) printf("# %s\n", why);
    failures += !good;
}

static vc_kernel *make(result *expression) {
    vc_kernel *k = vc_begin(NULL);
    inputs in;
    vc_val v;
    in.f = vc_param(k, "f", VC_F32);
    in.g = vc_param(k, "g", VC_F32);
    in.d = vc_param(k, "d", VC_F64);
    in.i = vc_param(k, "i", VC_I32);
    in.j = vc_param(k, "j", VC_I32);
    in.u = vc_param(k, "u", VC_U32);
    in.wide = vc_param(k, "wide", VC_I64);
    in.byte = vc_param(k, "byte", VC_U8);
    in.yes = vc_param(k, "yes", VC_BOOL);
    in.no = vc_param(k, "no", VC_BOOL);
    in.v = vc_param(k, "v", VC_F32X4);
    v = expression(&in);
    vc_set(vc_buffer(k, "out", vc_typeof(v), VC_WRITE), v);
    return k;
}

static void compare(const pair *p) {
    vc_kernel *a = make(p->calls), *b = make(p->brief);
    uint64_t first = vc_hash(a), second = vc_hash(b);
    report(first && first == second, p->name, vc_error(a) ? vc_error(a) : vc_error(b) ? vc_error(b)
           : "the hashes differ");
    vc_free(a);
    vc_free(b);
}

#ifdef __cplusplus
static void refuses(const char *name, result *expression, const char *text) {
    vc_kernel *k = make(expression);
    const char *error = vc_error(k);
    report(error && strcmp(error, text) == 0, name, error ? error : "no error");
    vc_free(k);
}

/* The short notations perform no implicit conversions that calls do not perform. */
CALLS(int_beside_float, in->f * 16777217)
CALLS(float_beside_double, in->d * 2.0f)
CALLS(not_of_a_number, !in->u)
#endif

int main(void) {
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) compare(&pairs[i]);
#ifdef __cplusplus
    refuses("an int that f32 cannot represent", calls_int_beside_float,
            "vc_mul in kernel 'kernel': operand 2 is the immediate 16777217, which cannot be represented exactly in f32");
    refuses("a float beside a double", calls_float_beside_double,
            "vc_mul in kernel 'kernel': operand 1 'd' is f64 and operand 2 is f32; both must have the same type; convert one with vc_cast");
    refuses("! of a number", calls_not_of_a_number,
            "vc_eq in kernel 'kernel': operand 1 'u' is u32 and operand 2 is bool; both must have the same type; convert one with vc_cast");
#endif
    printf("1..%d\n", cases);
    return failures != 0;
}
