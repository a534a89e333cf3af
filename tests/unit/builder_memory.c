/* Every allocation fails in turn; memory that is kept for reuse; the layout of the argument block compared with that of
   a C struct. */
#include "tests/unit/unit.h"

static vc_kernel_desc counted(unit_memory *c) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "counted";
    desc.allocator.allocate = unit_allocate;
    desc.allocator.reallocate = unit_reallocate;
    desc.allocator.release = unit_release;
    desc.allocator.user = c;
    return desc;
}

static void memory_record(vc_kernel *k) {
    static const float data[3] = { 1, 2, 3 };
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ_WRITE), t = vc_table(k, "t", VC_F32, data, 3),
           s = vc_shared(k, "s", VC_F32X2, 32), v;
    vc_val n = vc_param(k, "n", VC_U32);
    int j;
    VC_EACH(k, i) {
        v = vc_var(k, "v", VC_F32);
        VC_FOR_STEP(k, m, vc_u32(0), n, vc_u32(3)) {
            VC_IF(k, vc_lt(m, i)) { vc_set(v, vc_add(vc_get(v), vc_load(t, vc_rem(m, vc_u32(3))))); }
            VC_ELSE(k) { vc_store(s, vc_u32(1), vc_vec2(vc_get(v), vc_sin(vc_load(x, m)))); }
        }
        for (j = 0; j < 300; j++) vc_set(v, vc_fma(vc_get(v), vc_load(vc_offset(x, vc_i32(j)), i), vc_f32((float)j)));
        vc_store(x, i, vc_get(v));
    }
}

static void failing_memory(void **state) {
    long n;
    bool done = false;
    (void)state;
    for (n = 0; !done; n++) {
        unit_memory c;
        vc_kernel_desc desc;
        vc_kernel *k;
        memset(&c, 0, sizeof c);
        c.fail_at = n + 1;
        desc = counted(&c);
        k = vc_begin(&desc);
        memory_record(k);
        done = vc_hash(k) != 0 && vc_dump(k) && vc_reflect(k) && vc_source(k, VC_TARGET_CUDA)
               && vc_source(k, VC_TARGET_OPENCL);
        if (!done) {
            assert_non_null(vc_error(k));
            assert_non_null(strstr(vc_error(k), "out of host memory"));
            c.fail_at = 0; /* with memory available again, the same kernel builds */
            if (k) {
                vc_restart(k, &desc);
                memory_record(k);
                assert_true(vc_hash(k) != 0);
            }
        }
        vc_free(k);
        assert_int_equal(c.live, 0);
    }
    assert_true(n > 20);
}

static void memory_is_reused(void **state) {
    unit_memory c;
    vc_kernel_desc desc;
    vc_kernel *k;
    long calls = 0;
    size_t words = 0, first = 0;
    int i;
    (void)state;
    memset(&c, 0, sizeof c);
    desc = counted(&c);
    k = vc_begin(&desc);
    for (i = 0; i < 5; i++) {
        memory_record(k);
        assert_non_null(vc_spirv(k, &words));
        assert_non_null(vc_dump(k));
        if (i) assert_int_equal(words, first);
        /* the second kernel allocates nothing: its module reuses the memory of the first */
        if (i) assert_int_equal(c.calls, calls);
        first = words;
        calls = c.calls;
        vc_restart(k, &desc);
    }
    vc_free(k);
    assert_int_equal(c.live, 0);
}

/* Returned source and SPIR-V stay valid until the kernel changes. */
static void output_stays_valid_until_the_kernel_changes(void **state) {
    vc_kernel *k = vc_begin(NULL);
    const uint32_t *words;
    const char *text, *dump;
    size_t count;
    uint32_t *copy;
    (void)state;
    memory_record(k);
    words = vc_spirv(k, &count);
    text = vc_source(k, VC_TARGET_GLSL);
    dump = vc_dump(k);
    copy = (uint32_t *)malloc(count * sizeof *copy);
    memcpy(copy, words, count * sizeof *copy);
    assert_true(vc_hash(k) != 0);
    assert_ptr_equal(words, vc_spirv(k, &count));
    assert_true(count > 5);
    assert_ptr_equal(text, vc_source(k, VC_TARGET_GLSL));
    assert_memory_equal(copy, words, count * sizeof *copy);
    assert_string_equal(dump, vc_dump(k));
    free(copy);
    vc_free(k);
}

typedef struct memory_values {
    int8_t a;
    uint64_t x;
    uint16_t b;
    float c[3];
    double d;
    uint8_t e[4];
    uint32_t flag;
    int16_t f[2];
    uint64_t y;
    uint8_t g;
    uint32_t threads, length;
} memory_values;

static void memory_layout(void **state) {
    static const size_t place[] = { offsetof(memory_values, a), offsetof(memory_values, x), offsetof(memory_values, b),
                                    offsetof(memory_values, c), offsetof(memory_values, d), offsetof(memory_values, e),
                                    offsetof(memory_values, flag), offsetof(memory_values, f),
                                    offsetof(memory_values, y), offsetof(memory_values, g) };
    vc_kernel_desc desc;
    vc_kernel *k;
    vc_ref x, y, shared;
    const vc_info *info;
    int form, i;
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.machine.max_groups[0] = 0x7fffffff;
    k = vc_begin(&desc);
    for (form = VC_BUFFERS_ADDRESS; form <= VC_BUFFERS_BINDING; form++) {
        desc.buffers = (vc_buffers)form;
        vc_restart(k, &desc);
        vc_param(k, "a", VC_I8);
        x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
        vc_param(k, "b", VC_F16);
        vc_param(k, "c", VC_F32X3);
        vc_param(k, "d", VC_F64);
        vc_param(k, "e", VC_VEC(VC_U8, 4));
        vc_param(k, "flag", VC_BOOL);
        vc_param(k, "f", VC_VEC(VC_I16, 2));
        y = vc_buffer(k, "y", VC_F32, VC_READ_WRITE | VC_MAY_ALIAS);
        vc_param(k, "g", VC_U8);
        shared = vc_shared(k, "s", VC_F32X3, 5);
        vc_store(x, vc_u32(0), vc_add(vc_length(y), vc_threads(k, 0)));
        vc_store(shared, vc_u32(0), vc_splat(vc_load(y, vc_u32(0)), 3));
        info = vc_reflect(k);
        if (!info) fail_msg("%s", vc_error(k));
        assert_int_equal(info->arg_count, 10);
        assert_int_equal(info->implicit_count, 2);
        assert_int_equal(info->implicit[0].kind, VC_IMPLICIT_THREADS);
        assert_int_equal(info->implicit[1].kind, VC_IMPLICIT_LENGTH);
        assert_int_equal(info->implicit[1].arg, 8);
        assert_int_equal(info->shared_bytes, 80); /* 3-component vectors have the stride of 4 */
        assert_int_equal(info->args[1].access, VC_WRITE);
        assert_int_equal(info->args[8].access, VC_READ);
        assert_true(info->args[8].may_alias);
        if (form == VC_BUFFERS_BINDING) {
            assert_int_equal(info->args[1].location, 0);
            assert_int_equal(info->args[8].location, 1);
            assert_int_equal(info->args[1].size, 0);
            continue;
        }
        for (i = 0; i < 10; i++) assert_int_equal(info->args[i].location, place[i]);
        assert_int_equal(info->implicit[0].offset, offsetof(memory_values, threads));
        assert_int_equal(info->implicit[1].offset, offsetof(memory_values, length));
        assert_int_equal(info->argument_bytes, offsetof(memory_values, length) + 4);
        assert_int_equal(info->features, VC_FEATURE_ADDRESS | VC_FEATURE_I64);
    }
    vc_free(k);
}

static void memory_sizes(void **state) {
    (void)state;
    assert_int_equal(vc_type_size(VC_BOOL), 4);
    assert_int_equal(vc_type_size(VC_VEC(VC_F16, 3)), 6);
    assert_int_equal(vc_type_size(VC_F64X4), 32);
    assert_int_equal(vc_type_size(VC_NONE), 0);
    assert_int_equal(vc_type_size(VC_F32 + 64), 0);
    assert_int_equal(vc_type_size(0xffffffffu), 0);
    assert_string_equal(vc_type_name(VC_F32X4), "f32x4");
    assert_string_equal(vc_type_name(13), "none");
    assert_int_equal(sizeof(vc__node), 24);
    assert_int_equal(sizeof(vc_val), 16);
}

static const struct CMUnitTest builder_memory_tests[] = {
    cmocka_unit_test(failing_memory), cmocka_unit_test(memory_is_reused),
    cmocka_unit_test(output_stays_valid_until_the_kernel_changes), cmocka_unit_test(memory_layout),
    cmocka_unit_test(memory_sizes),
};
