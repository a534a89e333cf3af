/* The schedule of a kernel: canonical order, merging, dead code, folding; checked in dumps. */
#include "tests/unit/unit.h"

static vc_kernel *order_begin(vc_kernel *k, bool fast) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "k";
    desc.fast = fast;
    desc.machine.max_groups[0] = 0x7fffffff;
    if (!k) return vc_begin(&desc);
    vc_restart(k, &desc);
    return k;
}

static void order_dumps(vc_kernel *k, const char *text) {
    const char *dump = vc_dump(k);
    if (!dump) fail_msg("%s", vc_error(k));
    assert_string_equal(dump, text);
}

/* f(a) - f(b) with loads and implicit arguments, the operands recorded left or right first. */
static vc_val step(vc_kernel *k, vc_ref x, vc_val i, vc_val a, uint32_t axis) {
    return vc_add(vc_mul(vc_load(vc_offset(x, vc_u32(axis)), i), a),
                  vc_cast(VC_F32, vc_add(vc_groups(k, axis), vc_u32(7 + axis))));
}

static char *both(bool right, uint64_t *hash) {
    vc_kernel *k = order_begin(NULL, false);
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ_WRITE);
    vc_val a = vc_param(k, "a", VC_F32), l, r, m, n;
    char *copy = (char *)malloc(8192);
    VC_EACH(k, i) {
        if (right) {
            r = step(k, x, i, a, 1);
            l = step(k, x, i, a, 0);
        } else {
            l = step(k, x, i, a, 0);
            r = step(k, x, i, a, 1);
        }
        if (right) { n = vc_max(r, l); m = vc_min(l, r); } else { m = vc_min(l, r); n = vc_max(r, l); }
        vc_store(x, i, vc_sub(m, n));
    }
    assert_non_null(vc_dump(k));
    strcpy(copy, vc_dump(k));
    *hash = vc_hash(k);
    vc_free(k);
    return copy;
}

static void evaluation_order(void **state) {
    uint64_t h1, h2;
    char *left = both(false, &h1), *right = both(true, &h2);
    (void)state;
    assert_string_equal(left, right);
    assert_true(h1 == h2 && h1);
    free(left);
    free(right);
}

/* The guard covers the whole offset, also one that a 32-bit index cannot hold. */
static void guarded_loads(void **state) {
    vc_kernel *k = order_begin(NULL, false);
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ), y = vc_buffer(k, "y", VC_F32, VC_WRITE);
    vc_val i = vc_param(k, "i", VC_U32), c = vc_param(k, "c", VC_BOOL);
    (void)state;
    vc_store(y, i, vc_load_or(vc_offset(x, vc_i64((int64_t)1 << 33)), i, c, vc_f32(0)));
    order_dumps(k, "kernel k 128 x 1 x 1\n"
             "  buffer f32 x, read\n"
             "  buffer f32 y, write\n"
             "  param u32 i\n"
             "  param bool c\n"
             "  %7 i64 = cast i\n"
             "  %8 i64 = add %7 8589934592i64\n"
             "  %9 i64 = select c %8 0i64\n"
             "  %10 f32 = load x[%9]\n"
             "  %11 f32 = select c %10 0.0\n"
             "  store y[i] %11\n");
    vc_free(k);
}

/* Reserved words of GLSL may be names; names that only resemble them are unchanged. A 64-bit index is added to the
   address, since [] does not accept it. */
static void order_glsl_words(void **state) {
    static const char *const words[] = {
        "texture2DArray", "usampler2DMSArray", "subpassInputMS", "dmat2x3", "f32vec2", "smooth", "devicecoherent"
    };
    static const char *const plain[] = { "image", "texture2", "matrix", "vector" };
    vc_kernel *k = order_begin(NULL, false);
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ_WRITE);
    vc_val n = vc_param(k, "n", VC_I64);
    const char *text;
    char line[64];
    size_t i;
    (void)state;
    for (i = 0; i < sizeof words / sizeof *words; i++)
        vc_store(vc_shared(k, words[i], VC_F32, 4), vc_u32(0), vc_f32(1));
    for (i = 0; i < sizeof plain / sizeof *plain; i++)
        vc_store(vc_shared(k, plain[i], VC_F32, 4), vc_u32(0), vc_f32(1));
    vc_store(x, n, vc_f32(2));
    text = vc_source(k, VC_TARGET_GLSL);
    assert_non_null(text);
    for (i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(line, sizeof line, "shared float my_%s[4];", words[i]);
        assert_non_null(strstr(text, line));
    }
    for (i = 0; i < sizeof plain / sizeof *plain; i++) {
        snprintf(line, sizeof line, "shared float %s[4];", plain[i]);
        assert_non_null(strstr(text, line));
    }
    assert_non_null(strstr(text, "(x + uint64_t(n)).at = 2.0;"));
    vc_free(k);
}

static void order_merging(void **state) {
    vc_kernel *k = order_begin(NULL, false);
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ), y = vc_buffer(k, "y", VC_F32, VC_READ_WRITE);
    vc_val a = vc_param(k, "a", VC_F32), zero = vc_u32(0);
    (void)state;
    vc_sin(a); /* dead */
    VC_IF(k, vc_lt(a, vc_f32(1))) {
        vc_store(y, zero, vc_add(vc_mul(a, a), vc_load(x, zero)));
        vc_store(y, zero, vc_add(vc_load(y, zero), vc_load(x, zero))); /* x is never written: one load; y is: two */
    }
    vc_store(y, zero, vc_mul(a, a)); /* recorded after the block: computed again */
    vc_store(y, vc_u32(1), vc_sub(vc_mul(a, a), vc_load(y, zero)));
    order_dumps(k, "kernel k 128 x 1 x 1\n"
             "  buffer f32 x, read\n"
             "  buffer f32 y, read write\n"
             "  param f32 a\n"
             "  %4 bool = lt a 1.0\n"
             "  if %4\n"
             "    %6 f32 = mul a a precise\n"
             "    %7 f32 = load x[0]\n"
             "    %8 f32 = add %6 %7 precise\n"
             "    store y[0] %8\n"
             "    %10 f32 = load y[0]\n"
             "    %11 f32 = add %10 %7 precise\n"
             "    store y[0] %11\n"
             "  end if\n"
             "  %14 f32 = mul a a precise\n"
             "  store y[0] %14\n"
             "  %16 f32 = load y[0]\n"
             "  %17 f32 = sub %14 %16 precise\n"
             "  store y[1] %17\n");
    order_begin(k, false); /* recorded before the block but first used inside it: computed before it, once */
    y = vc_buffer(k, "y", VC_F32, VC_WRITE);
    a = vc_param(k, "a", VC_F32);
    {
        vc_val early = vc_mul(a, a);
        VC_IF(k, vc_lt(a, vc_f32(1))) { vc_store(y, zero, vc_mul(a, a)); vc_store(y, vc_u32(1), early); }
    }
    order_dumps(k, "kernel k 128 x 1 x 1\n"
             "  buffer f32 y, write\n"
             "  param f32 a\n"
             "  %3 bool = lt a 1.0\n"
             "  %4 f32 = mul a a precise\n"
             "  if %3\n"
             "    store y[0] %4\n"
             "    store y[1] %4\n"
             "  end if\n");
    vc_free(k);
}

static void flow(void **state) {
    vc_kernel *k = order_begin(NULL, false);
    vc_ref y = vc_buffer(k, "y", VC_I32, VC_WRITE), s;
    vc_val n = vc_param(k, "n", VC_I32), d;
    (void)state;
    s = vc_var(k, "s", VC_I32);
    VC_FOR_STEP(k, i, n, vc_i32(0), vc_i32(-2)) {
        vc_set(s, vc_add(vc_get(s), i));
        vc_continue_if(k, vc_eq(i, vc_i32(4)));
    }
    VC_SWITCH(k, n) {
        d = vc_add(n, n); /* recorded between the cases: computed before the switch */
        VC_CASE(k, -1) { vc_store(y, vc_u32(0), d); }
        VC_DEFAULT(k) { vc_store(y, vc_u32(0), vc_get(s)); }
    }
    VC_IF(k, vc_bool(true)) { vc_barrier(k); } VC_ELSE(k) { vc_return_if(k, vc_bool(true)); }
    order_dumps(k, "kernel k 128 x 1 x 1\n"
             "  buffer i32 y, write\n"
             "  param i32 n\n"
             "  %6 i32 = not n\n"
             "  var i32 s\n"
             "  %8 i32 = for %6 -1 2\n"
             "    %9 i32 = load s\n"
             "    %10 i32 = not %8\n"
             "    %11 i32 = add %9 %10\n"
             "    store s %11\n"
             "    %13 bool = eq %10 4\n"
             "    continue_if %13\n"
             "  end for\n"
             "  %16 i32 = add n n\n"
             "  switch n\n"
             "    case -1\n"
             "      store y[0] %16\n"
             "    end case\n"
             "    default\n"
             "      %22 i32 = load s\n"
             "      store y[0] %22\n"
             "    end default\n"
             "  end switch\n"
             "  if true\n"
             "    barrier\n"
             "  else\n"
             "    return_if true\n"
             "  end else\n");
    vc_free(k);
}

/* Each value is stored; it must simplify to the constant or the parameter itself. */
static void simplified(void **state) {
    vc_kernel *k = order_begin(NULL, false);
    vc_ref y = vc_buffer(k, "y", VC_U32, VC_WRITE), z = vc_buffer(k, "z", VC_F32, VC_WRITE);
    vc_val n = vc_param(k, "n", VC_U32), a = vc_param(k, "a", VC_F32), all = vc_u32(0xffffffffu), none = vc_u32(0),
           v = vc_vec3(n, n, none);
    vc_val same[] = { vc_add(n, none),
                      vc_mul(vc_u32(1), n),
                      vc_and(n, all),
                      vc_or(n, n),
                      vc_xor(n, none),
                      vc_shl(n, vc_u32(32)),
                      vc_div(n, vc_u32(1)),
                      vc_not(vc_not(n)),
                      vc_select(vc_eq(n, n), n, none),
                      vc_component(v, 1),
                      vc_extract(v, vc_i32(9)),
                      vc_cast(VC_U32, n),
                      vc_bitcast(VC_U32, vc_bitcast(VC_F32, vc_bitcast(VC_I32, n))),
                      vc_select(vc_const(k, vc_bool(false)), none, n),
                      vc_min(n, n) };
    vc_val zero[] = {
        vc_mul(n, none), vc_sub(n, n), vc_xor(n, n), vc_rem(n, vc_u32(1)), vc_select(vc_lt(n, n), n, none),
        vc_and(none, n)
    };
    vc_val floats[] = {
        vc_mul(a, vc_f32(1)), vc_sub(a, vc_f32(0)), vc_add(vc_f32(-0.0f), a), vc_neg(vc_neg(a)), vc_div(a, vc_f32(1))
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof same / sizeof same[0]; i++) vc_store(y, vc_u32(0), same[i]);
    for (i = 0; i < sizeof zero / sizeof zero[0]; i++) vc_store(y, vc_u32(0), zero[i]);
    for (i = 0; i < sizeof floats / sizeof floats[0]; i++) vc_store(z, vc_u32(0), floats[i]);
    assert_non_null(vc_dump(k));
    assert_int_equal(vc_reflect(k)->live_operations, 5 + sizeof same / sizeof same[0] + sizeof zero / sizeof zero[0]
                                                         + sizeof floats / sizeof floats[0]
                                                         + (vc_reflect(k)->args[0].kind == VC_ARG_ADDRESS ? 2u : 0u));
    order_begin(k, false); /* not exact for every input: not simplified */
    z = vc_buffer(k, "z", VC_F32, VC_WRITE);
    a = vc_param(k, "a", VC_F32);
    vc_store(z, vc_u32(0), vc_add(vc_sub(a, a), vc_mul(a, vc_f32(0))));
    assert_non_null(strstr(vc_dump(k), "sub a a"));
    assert_non_null(strstr(vc_dump(k), "mul a 0.0"));
    order_begin(k, true);
    z = vc_buffer(k, "z", VC_F32, VC_WRITE);
    a = vc_param(k, "a", VC_F32);
    vc_store(z, vc_u32(0), vc_add(vc_sub(a, a), vc_mul(a, vc_f32(0))));
    assert_null(strstr(vc_dump(k), "mul"));
    vc_free(k);
}

static void long_chain(void **state) {
    vc_kernel *k = order_begin(NULL, false);
    vc_ref y = vc_buffer(k, "y", VC_F32, VC_WRITE);
    vc_val a = vc_param(k, "a", VC_F32), v = a;
    size_t words = 0;
    int i;
    (void)state;
    for (i = 0; i < 1000000; i++) v = vc_add(v, a);
    vc_store(y, vc_u32(0), v);
    assert_non_null(vc_spirv(k, &words));
    assert_true(words > 5000000);
    assert_true(vc_reflect(k)->live_operations >= 1000000);
    vc_free(k);
}

static void too_large(void **state) {
    vc_kernel *k = order_begin(NULL, false);
    vc_val a = vc_param(k, "a", VC_F32);
    int i;
    (void)state;
    for (i = 0; i < 10000001; i++) vc_neg(a);
    assert_string_equal(vc_error(k), "kernel 'k': too many operations: the limit is 10000000");
    vc_free(k);
}

static const struct CMUnitTest builder_order_tests[] = {
    cmocka_unit_test(evaluation_order), cmocka_unit_test(guarded_loads), cmocka_unit_test(order_glsl_words),
    cmocka_unit_test(order_merging), cmocka_unit_test(flow), cmocka_unit_test(simplified), cmocka_unit_test(long_chain),
    cmocka_unit_test(too_large),
};
