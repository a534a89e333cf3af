/* SPIR-V modules apart from their instructions: version, capabilities, entry point, limits. */
#include "tests/unit/unit.h"

typedef void Build(vc_kernel *k);

static void build_nothing(vc_kernel *k) { (void)k; }

static void build_saxpy(vc_kernel *k) {
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ), y = vc_buffer(k, "y", VC_F32, VC_READ_WRITE);
    vc_val a = vc_param(k, "a", VC_F32);
    VC_EACH(k, i) { vc_store(y, i, vc_fma(a, vc_load(x, i), vc_load(y, i))); }
}

/* Small types that are only stored need only the storage feature. */
static void build_storage_only(vc_kernel *k) {
    vc_ref x = vc_buffer(k, "x", VC_U8, VC_READ), h = vc_buffer(k, "h", VC_F16, VC_READ_WRITE),
           v = vc_buffer(k, "v", VC_VEC(VC_U8, 4), VC_READ);
    vc_val i = vc_global_id(k, 0), sum = vc_add(vc_cast(VC_F32, vc_load(x, i)), vc_cast(VC_F32, vc_load(h, i)));
    vc_val four = vc_cast(VC_F32X4, vc_load(v, i));
    vc_store(h, i, vc_cast(VC_F16, vc_add(sum, vc_dot(four, four))));
}

static void build_switch_on_stored(vc_kernel *k) {
    vc_ref x = vc_buffer(k, "x", VC_I8, VC_READ_WRITE);
    vc_val v = vc_load(x, vc_u32(0));
    VC_SWITCH(k, v) {
        VC_CASE(k, -128) { vc_store(x, vc_u32(1), v); }
        VC_CASE(k, 127) { vc_store(x, vc_u32(2), v); }
    }
}

static void build_small_vectors(vc_kernel *k) {
    vc_ref x = vc_buffer(k, "x", VC_VEC(VC_I16, 3), VC_READ_WRITE);
    vc_store(x, vc_u32(0), vc_load(x, vc_u32(1)));
}

static void build_counted(vc_kernel *k) {
    vc_ref x = vc_buffer(k, "x", VC_U16, VC_READ), y = vc_buffer(k, "y", VC_U32, VC_WRITE);
    vc_val first = vc_load(x, vc_u32(0)), limit = vc_load(x, vc_u32(1));
    VC_FOR(k, i, first, limit) { vc_store(y, vc_cast(VC_U32, i), vc_u32(1)); }
}

static void build_params(vc_kernel *k) {
    vc_ref y = vc_buffer(k, NULL, VC_F32, VC_WRITE);
    vc_val p = vc_param(k, "p", VC_VEC(VC_F16, 3)), q = vc_param(k, "q", VC_I8),
           r = vc_param(k, "r", VC_VEC(VC_BOOL, 2)), t = vc_param(k, "t", VC_F64X3);
    vc_store(y, vc_global_id(k, 1), vc_cast(VC_F32, vc_component(p, 2)));
    vc_store(y, vc_u32(1), vc_select(vc_any(r), vc_cast(VC_F32, q), vc_cast(VC_F32, vc_component(t, 1))));
}

static void build_places(vc_kernel *k) {
    vc_ref s = vc_shared(k, "s", VC_BOOL, 100), y = vc_buffer(k, "y", VC_F64, VC_READ_WRITE),
           a = vc_array(k, "a", VC_VEC(VC_I64, 2), 7);
    vc_val i = vc_local_index(k);
    vc_store(s, i, vc_lt(vc_load(y, i), vc_f64(1)));
    vc_barrier(k);
    vc_store(a, i, vc_splat(vc_cast(VC_I64, i), 2));
    vc_store(y, i, vc_select(vc_load(s, i), vc_cast(VC_F64, vc_component(vc_load(a, i), 1)), vc_f64(0)));
}

static Build *const builds[] = {
    build_nothing, build_saxpy, build_storage_only, build_switch_on_stored, build_small_vectors, build_counted,
    build_params, build_places
};

static uint64_t feature_of(uint32_t capability) {
    switch (capability) {
    case 1: return 0;
    case 9: return VC_FEATURE_F16;
    case 10: return VC_FEATURE_F64;
    case 11: return VC_FEATURE_I64;
    case 22: return VC_FEATURE_I16;
    case 39: return VC_FEATURE_I8;
    case 4433: return VC_FEATURE_STORAGE_16;
    case 4448: return VC_FEATURE_STORAGE_8;
    case 5347: return VC_FEATURE_ADDRESS;
    default: return UINT64_MAX;
    }
}

/* The capabilities are exactly the features in the reflection. */
static void test_capabilities_are_features(void **state) {
    (void)state;
    for (size_t i = 0; i < 2 * sizeof builds / sizeof builds[0]; i++) {
        vc_kernel_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.buffers = i & 1 ? VC_BUFFERS_BINDING : VC_BUFFERS_ADDRESS;
        vc_kernel *k = vc_begin(&desc);
        builds[i / 2](k);
        size_t words = 0;
        const uint32_t *code = vc_spirv(k, &words);
        if (!code) fail_msg("kernel %zu: %s", i, vc_error(k));
        uint64_t features = 0;
        for (size_t at = 5; (code[at] & 0xffffu) == 17; at += 2) features |= feature_of(code[at + 1]);
        if (features != vc_reflect(k)->features) print_message("# kernel %zu\n", i / 2);
        assert_int_equal(features, vc_reflect(k)->features);
        vc_free(k);
    }
}

/* Every instruction lies within the module and every id within the bound; from SPIR-V 1.4 on the entry point lists all
   variables. */
static void test_versions(void **state) {
    static const struct { uint32_t asked, got, variables; } versions[] = {
        { 0, 0x10300u, 1 }, { 0x10300u, 0x10300u, 1 }, { 0x10400u, 0x10400u, 2 }, { 0x10500u, 0x10500u, 2 },
        { 0x10600u, 0x10600u, 2 }
    };
    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        vc_kernel_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.machine.spirv_version = versions[i].asked;
        desc.buffers = VC_BUFFERS_ADDRESS;
        vc_kernel *k = vc_begin(&desc);
        build_saxpy(k);
        size_t words = 0, at = 5;
        const uint32_t *code = vc_spirv(k, &words);
        assert_non_null(code);
        assert_int_equal(code[0], 0x07230203u);
        assert_int_equal(code[1], versions[i].got);
        for (; at < words; at += code[at] >> 16) {
            assert_int_not_equal(code[at] >> 16, 0);
            /* "main" takes two words */
            if ((code[at] & 0xffffu) == 15) assert_int_equal(code[at] >> 16, 5 + versions[i].variables);
        }
        assert_int_equal(at, words);
        vc_free(k);
    }
}

static void test_invalid_versions(void **state) {
    static const uint32_t versions[] = {
        7, 3, 0x10000u, 0x10200u, 0x102ffu, 0x10301u, 0x10601u, 0x10700u, 0x20000u, UINT32_MAX
    };
    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        vc_kernel_desc desc;
        char text[96];
        memset(&desc, 0, sizeof desc);
        desc.name = "odd";
        desc.machine.spirv_version = versions[i];
        vc_kernel *k = vc_begin(&desc);
        build_saxpy(k);
        assert_null(vc_spirv(k, NULL));
        snprintf(text, sizeof text, "kernel 'odd': machine.spirv_version is 0x%x, but must be 0x10300", (unsigned)versions[i]);
        assert_int_equal(strncmp(vc_error(k), text, strlen(text)), 0);
        vc_restart(k, NULL);
        build_saxpy(k);
        assert_non_null(vc_spirv(k, NULL));
        vc_free(k);
    }
}

static void test_limits(void **state) {
    static uint32_t data[65533];
    (void)state;
    vc_kernel *k = vc_begin(NULL);
    for (uint32_t count = 65532; count <= 65533; count++) {
        vc_ref y = vc_buffer(k, "y", VC_U32, VC_WRITE), t = vc_table(k, "t", VC_U32, data, count);
        vc_val i = vc_global_id(k, 0);
        vc_store(y, i, vc_load(t, i));
        assert_true((vc_spirv(k, NULL) != NULL) == (count == 65532));
        vc_restart(k, NULL);
    }
    for (int64_t count = 16383; count <= 16384; count++) {
        vc_ref y = vc_buffer(k, "y", VC_U32, VC_READ_WRITE);
        vc_val v = vc_load(y, vc_u32(0));
        VC_SWITCH(k, v) {
            for (int64_t j = 0; j < count; j++) VC_CASE(k, j) { vc_store(y, vc_u32((uint32_t)j), v); }
        }
        assert_true((vc_spirv(k, NULL) != NULL) == (count == 16383));
        vc_restart(k, NULL);
    }
    vc_free(k);
}

static const struct CMUnitTest spirv_modules_tests[] = {
    cmocka_unit_test(test_capabilities_are_features), cmocka_unit_test(test_versions),
    cmocka_unit_test(test_invalid_versions), cmocka_unit_test(test_limits),
};
