/* Rules of the room `rules`: all steps that tools/rules wrote run, and numbers have the types of their operands. Errors
   in the text of a rule are found by tools/rules. */
#include "tests/unit/unit.h"

enum { RULE_F32X2, RULE_U32, RULE_U64, RULE_F64, RULE_TYPES };

/* A kernel whose parameters are lowered: one of each type. */
static vc_kernel *rules_begin(uint32_t number[RULE_TYPES]) {
    static const vc_type types[RULE_TYPES] = { VC_F32X2, VC_U32, VC_U64, VC_F64 };
    vc_kernel *k = vc_begin(NULL);
    vc_val v[RULE_TYPES];
    for (int i = 0; i < RULE_TYPES; i++) {
        v[i] = vc_param(k, NULL, types[i]);
        vc_store(vc_buffer(k, NULL, types[i], VC_WRITE), vc_u32(0), v[i]);
    }
    k->lower.kernel = k;
    k->lower.target = VC_TARGET_SPIRV;
    k->lower.buffers = VC_BUFFERS_BINDING;
    assert_true(vc__lower_all(&k->lower));
    for (int i = 0; i < RULE_TYPES; i++) number[i] = k->lower.map[v[i].bits & 0xffffffffu];
    return k;
}

/* Rules that call others, with several results, polynomials, components and numbers of all sorts. */
static void rules_run(void **state) {
    static const struct { uint32_t rule; int type; } rows[] = {
        { VC__RULE_popcount32, RULE_U32 }, { VC__RULE_unsigned_mul_hi, RULE_U64 }, { VC__RULE_high, RULE_U64 },
        { VC__RULE_half_bits, RULE_F32X2 }, { VC__RULE_half_value, RULE_U32 }, { VC__RULE_log2_pair, RULE_F64 },
        { VC__RULE_squares_minus_1, RULE_F64 }, { VC__RULE_sin_cos_of, RULE_F64 }, { VC__RULE_scaling, RULE_F32X2 },
        { VC__RULE_pack_half, RULE_F32X2 }, { VC__RULE_msb32, RULE_U32 }, { VC__RULE_scale, RULE_F64 }
    };
    uint32_t number[RULE_TYPES];
    vc_kernel *k = rules_begin(number);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t x = number[rows[i].type], before = k->lower.count;
        assert_true(vc__rule_of(&k->lower, rows[i].rule, x, x) < k->lower.count);
        assert_true(k->lower.count > before);
        assert_null(vc_error(k));
    }
    for (size_t i = 0; i < sizeof vc__math64 / sizeof *vc__math64; i++) {
        assert_true(vc__rule_of(&k->lower, vc__math64[i].rule, number[RULE_F64], number[RULE_F64]) < k->lower.count);
        assert_null(vc_error(k));
    }
    vc_free(k);
}

/* Executes the steps of two results of two inputs: a + 1 and the second input. */
static void rules_results(void **state) {
    uint32_t number[RULE_TYPES];
    vc__rule_state r;
    vc_kernel *k = rules_begin(number);
    (void)state;
    vc__rule_begin(&r, &k->lower, VC_F64, number[RULE_F64], number[RULE_F64], VC__NIL);
    vc__rule_run(&r, VC__RULE_sum);
    assert_int_equal(vc__lowered_node(&k->lower, (uint32_t)r.out[0].bits)->op, VC__OP_ADD);
    assert_int_equal(vc__lowered_node(&k->lower, (uint32_t)r.out[1].bits)->op, VC__OP_ADD);
    assert_true(r.out[0].bits != r.out[1].bits);
    vc_free(k);
}

/* Small numbers and names have bit patterns in every type. */
static void rules_numbers(void **state) {
    static const struct { uint32_t owner, bits; vc_type type; uint64_t pattern; } rows[] = {
        { VC__RULE_NUMBER, 1, VC_F64, 0x3fe0000000000000u }, { VC__RULE_NUMBER, 5, VC_F64, 0x4004000000000000u },
        { VC__RULE_NUMBER, 2000, VC_F64, 0x408f400000000000u }, { VC__RULE_NUMBER, 3, VC_F16, 0x3e00u },
        { VC__RULE_NUMBER, 0, VC_F32, 0 }, { VC__RULE_NUMBER, 14, VC_U8, 7 },
        { VC__RULE_NAMED, 0, VC_F64, 0x7ff0000000000000u }, { VC__RULE_NAMED, 1, VC_F32, 0x7fc00000u },
        { VC__RULE_NAMED, 2, VC_F64, 0x0010000000000000u }, { VC__RULE_NAMED, 3, VC_U64, UINT64_MAX },
        { VC__RULE_NAMED, 4, VC_I32, 0x7fffffffu }, { VC__RULE_NAMED, 5, VC_U32, 0xffffu },
        { VC__RULE_NAMED, 6, VC_U32, 31 }, { VC__RULE_NAMED, 7, VC_U64, 32 }
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t bits = vc__rule_pattern(rows[i].type, vc__immediate(rows[i].owner, rows[i].bits));
        assert_true((bits & vc__ones(vc__bits(rows[i].type))) == rows[i].pattern);
    }
    assert_true(vc__rule_pattern(VC_F64, vc__immediate(VC__RULE_NUMBER, (uint64_t)-1492)) == 0xc087500000000000u);
    assert_true(vc__rule_pattern(VC_I64, vc__immediate(VC__RULE_NUMBER, (uint64_t)-6)) == (uint64_t)-3);
}

static const struct CMUnitTest builder_rules_tests[] = {
    cmocka_unit_test(rules_run), cmocka_unit_test(rules_results), cmocka_unit_test(rules_numbers),
};
