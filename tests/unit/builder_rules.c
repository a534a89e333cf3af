/* Rules of the room `rules`: their texts parse, and their arity is checked. */
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

static int rule_type(const char *name) {
    static const char *const words[] = { "popcount32", "mul_hi", "half_value", "reverse32", "msb32" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) if (!strcmp(name, words[i])) return RULE_U32;
    if (!strcmp(name, "low") || !strcmp(name, "high")) return RULE_U64;
    return strcmp(name, "half_bits") ? RULE_F64 : RULE_F32X2;
}

static void rules_parse(void **state) {
    uint32_t number[RULE_TYPES], count = 0;
    vc_kernel *k = rules_begin(number);
    (void)state;
    for (const vc__rule_row *row = vc__rules; row->name[0]; row++, count++) {
        uint32_t x = number[rule_type(row->name)];
        vc__rule_state r;
        vc__rule_begin(&r, &k->lower, vc__lowered_type(&k->lower, x), x, x, x);
        r.v['w' - 'a'] = vc__rule_node(x);
        assert_true((row->make ? row->make(&k->lower, x) : vc__rule_end(&r, row->text)) < k->lower.count);
        assert_null(vc_error(k));
    }
    assert_true(count > 20);
    for (size_t i = 0; i < sizeof vc__math64 / sizeof *vc__math64; i++) {
        assert_true(vc__rule_of(&k->lower, vc__math64[i].text, number[RULE_F64], number[RULE_F64]) < k->lower.count);
        assert_null(vc_error(k));
    }
    vc_free(k);
}

static void rules_errors(void **state) {
    static const char *const broken[] = { "x +", "x + y)", "(x", "fma(x, y)", "abs(x, y)", "nothing(x)",
                                         "a = x x + y", "x ? y", "sqrt(x", "f64 x", "poly(x)" };
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        uint32_t number[RULE_TYPES];
        vc_kernel *k = rules_begin(number);
        vc__rule_of(&k->lower, broken[i], number[RULE_F64], number[RULE_F64]);
        assert_non_null(vc_error(k));
        assert_non_null(strstr(vc_error(k), "a rule does not parse at"));
        vc_free(k);
    }
}

/* Numbers have the type of the operand that they are combined with. */
static void rules_numbers(void **state) {
    static const struct { const char *text; int type; uint64_t bits; } rows[] = {
        { "x * 0.5", RULE_F64, 0x3fe0000000000000u }, { "x * 2.5", RULE_F64, 0x4004000000000000u },
        { "x * -746", RULE_F64, 0xc087500000000000u }, { "x * 1000", RULE_F64, 0x408f400000000000u },
        { "x / inf", RULE_F64, 0x7ff0000000000000u }, { "x / nan", RULE_F64, 0x7ff8000000000000u },
        { "x * least", RULE_F64, 0x0010000000000000u },
        { "x * {0x3f800001, 0x3ff0000000000001}", RULE_F64, 0x3ff0000000000001u }, { "x & mask", RULE_U32, 0xffffu },
        { "x & positive", RULE_U32, 0x7fffffffu }, { "x ^ ones", RULE_U32, 0xffffffffu }, { "x << top", RULE_U32, 31 },
        { "x << half", RULE_U64, 32 }, { "x + -3", RULE_U64, 0xfffffffffffffffdu },
        { "x + 0xc8000fff", RULE_U32, 0xc8000fffu }
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t number[RULE_TYPES], x;
        uint64_t bits = 0;
        vc_kernel *k = rules_begin(number);
        x = vc__rule_of(&k->lower, rows[i].text, number[rows[i].type], VC__NIL);
        assert_null(vc_error(k));
        assert_true(vc__const_bits(&k->lower, vc__lowered_node(&k->lower, x)->a[1], &bits));
        assert_true(bits == rows[i].bits);
        vc_free(k);
    }
}

static const struct CMUnitTest builder_rules_tests[] = {
    cmocka_unit_test(rules_parse), cmocka_unit_test(rules_errors), cmocka_unit_test(rules_numbers),
};
