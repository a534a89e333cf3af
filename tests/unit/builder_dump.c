/* vc_dump beyond the samples of tests/golden: composite types, unusual numbers and names. */
#include "tests/unit/unit.h"

static void dump_dumps(vc_kernel *k, const char *text) {
    const char *dump = vc_dump(k);
    if (!dump) fail_msg("%s", vc_error(k));
    assert_string_equal(dump, text);
    vc_free(k);
}

static void composite(void **state) {
    static const vc_member members[] = { { "at", VC_F32X3 }, { "charge", VC_F32C }, { NULL, VC_U8 } };
    vc_kernel *k = vc_begin(NULL);
    vc_type particle = vc_struct(k, "particle", members, 3);
    vc_ref p = vc_buffer(k, "p", particle, VC_READ_WRITE | VC_MAY_ALIAS),
           s = vc_shared(k, "s", vc_array_type(k, particle, 4), 2), t;
    vc_val turn = vc_param(k, "turn", VC_F32X2X2);
    vc_val i = vc_local_index(k);
    (void)state;
    t = vc_field(vc_at(p, i), 0);
    vc_set(vc_field(vc_at(vc_at(s, vc_u32(1)), i), 0), vc_get(t));
    vc_set(vc_field(vc_at(p, i), 2), vc_cast(VC_U8, vc_component(vc_part(turn, 1), 0)));
    dump_dumps(k, "kernel kernel 128 x 1 x 1\n"
             "  struct particle of 24 bytes: f32x3 at, complex f32 charge, u8 ''\n"
             "  buffer struct particle p, read write may alias\n"
             "  param f32x2x2 turn\n"
             "  shared f32x3 s_at of 8\n"
             "  %5 i64 = index local_index * 2\n"
             "  %6 f32x3 = load p:f32x3[%5]\n"
             "  store s_at[local_index + 4] %6\n"
             "  %8 i64 = index local_index * 24\n"
             "  %9 f32 = component turn_1 x\n"
             "  %10 u8 = cast %9\n"
             "  store p:u8[%8 + 20] %10\n");
}

static void numbers(void **state) {
    static const float f[] = { 0, -0.0f, 1, 0.1f, 1e30f, -2.5e-7f };
    static const uint32_t odd[] = { 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 1 };
    vc_kernel *k = vc_begin(NULL);
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_WRITE);
    (void)state;
    for (size_t i = 0; i < sizeof f / sizeof f[0]; i++) vc_set(x, vc_f32(f[i]));
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) vc_set(x, vc_imm(VC_F32, odd[i]));
    vc_set(vc_buffer(k, "d", VC_F64, VC_WRITE), vc_f64(0.1));
    vc_set(vc_buffer(k, "h", VC_F16, VC_WRITE), vc_f16(-1.5f));
    vc_set(vc_buffer(k, "b", VC_BOOL, VC_WRITE), vc_bool(true));
    vc_set(vc_buffer(k, "i", VC_I64, VC_WRITE), vc_i64(INT64_MIN));
    vc_set(vc_buffer(k, "u", VC_U64, VC_WRITE), vc_u64(UINT64_MAX));
    vc_set(vc_buffer(k, "c", VC_I8, VC_WRITE), vc_i8(-128));
    vc_set(vc_buffer(k, "v", VC_U16 + 16, VC_WRITE), vc_vec2(vc_const(k, vc_u16(1)), vc_u16(65535)));
    dump_dumps(k, "kernel kernel 128 x 1 x 1\n"
             "  buffer f32 x, write\n"
             "  buffer f64 d, write\n"
             "  buffer f16 h, write\n"
             "  buffer bool b, write\n"
             "  buffer i64 i, write\n"
             "  buffer u64 u, write\n"
             "  buffer i8 c, write\n"
             "  buffer u16x2 v, write\n"
             "  store x[0] 0.0\n"
             "  store x[0] -0.0\n"
             "  store x[0] 1.0\n"
             "  store x[0] 0.1\n"
             "  store x[0] 1e+30\n"
             "  store x[0] -2.5e-07\n"
             "  store x[0] inf\n"
             "  store x[0] -inf\n"
             "  store x[0] nan(0x7fc00000)\n"
             "  store x[0] nan(0xffc00001)\n"
             "  store x[0] 1.4013e-45\n"
             "  store d[0] 0.1f64\n"
             "  store h[0] -1.5f16\n"
             "  store b[0] true\n"
             "  store i[0] -9223372036854775808i64\n"
             "  store u[0] 18446744073709551615u64\n"
             "  store c[0] -128i8\n"
             "  store v[0] (1u16, 65535u16)\n");
}

static void dump_names(void **state) {
    vc_kernel_desc desc;
    vc_kernel *k;
    vc_ref a, b;
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.name = "it's a \"name\"\n";
    desc.fast = true;
    desc.local_size[1] = 2;
    desc.local_size[0] = 8;
    k = vc_begin(&desc);
    a = vc_buffer(k, "9", VC_U32, VC_READ);
    b = vc_buffer(k, NULL, VC_U32, VC_WRITE);
    vc_store(b, vc_length(a), vc_load(a, vc_shape(b, 2)));
    vc_set(vc_buffer(k, "", VC_U32, VC_WRITE), vc_u32(7));
    vc_set(vc_buffer(k, "x\\y\x7f\xc3\xbc", VC_U32, VC_WRITE), vc_u32(8));
    VC_IF(k, vc_eq(vc_local_id(k, 1), vc_u32(0))) {
        vc_ref sum = vc_var(k, "sum", VC_U32), again = vc_var(k, "sum", VC_U32);
        vc_set(sum, vc_u32(1));
        vc_set(again, vc_get(sum));
        vc_set(b, vc_get(again));
    }
    VC_ELSE(k) { vc_return_if(k, vc_bool(true)); }
    dump_dumps(k, "kernel 'it\\047s a \"name\"\\012' 8 x 2 x 1, fast\n"
             "  buffer u32 '9', read\n"
             "  buffer u32 buffer#1, write\n"
             "  buffer u32 buffer#2, write\n"
             "  buffer u32 'x\\134y\\177\\303\\274', write\n"
             "  %12 u32 = load '9'[shape(buffer#1, 2)]\n"
             "  store buffer#1[length('9')] %12\n"
             "  store buffer#2[0] 7u\n"
             "  store 'x\\134y\\177\\303\\274'[0] 8u\n"
             "  %16 bool = eq local_id.y 0u\n"
             "  if %16\n"
             "    var u32 sum#4\n"
             "    var u32 sum#5\n"
             "    store sum#4 1u\n"
             "    %21 u32 = load sum#4\n"
             "    store sum#5 %21\n"
             "    %23 u32 = load sum#5\n"
             "    store buffer#1[0] %23\n"
             "  else\n"
             "    return_if true\n"
             "  end else\n");
}

/* Very long names, more objects of one name than are numbered, blocks nested deeper than lines are indented. */
static void many(void **state) {
    char name[5000];
    vc_kernel *k = vc_begin(NULL);
    vc_ref x;
    const char *dump;
    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    x = vc_buffer(k, name, VC_U32, VC_READ_WRITE);
    for (int i = 0; i < 70; i++) vc_set(x, vc_param(k, "p", VC_U32));
    for (int i = 0; i < 100; i++) vc_if_begin(k, vc_lt(vc_get(x), vc_u32((uint32_t)i)));
    vc_set(x, vc_u32(1));
    for (int i = 0; i < 100; i++) vc_block_end(k);
    dump = vc_dump(k);
    assert_non_null(dump);
    assert_non_null(strstr(dump, "param u32 p#70\n"));
    assert_non_null(strstr(dump, "nnn...'#0[0] p#70\n"));
    assert_non_null(strstr(dump, "\n                                                store"));
    assert_null(strstr(dump, "\n                                                 "));
    vc_free(k);
}

static const struct CMUnitTest builder_dump_tests[] = {
    cmocka_unit_test(composite), cmocka_unit_test(numbers), cmocka_unit_test(dump_names), cmocka_unit_test(many),
};
