/* Devices, their information, and contexts. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"

static void check_limits(const vd_device_info *info) {
    const vd_limits *l = &info->limits;
    for (int axis = 0; axis < 3; axis++) {
        assert_true(l->max_groups[axis] >= 1);
        assert_true(l->max_local_size[axis] >= 1);
        assert_true(l->max_local_size[axis] <= l->max_local_invocations);
    }
    assert_true(l->max_groups[0] >= 65535);
    assert_true(l->max_local_invocations >= 128);
    assert_true(l->max_shared_bytes >= 16384);
    assert_true(l->max_push_bytes >= 128);
    assert_true(l->max_bindings >= 4);
    assert_true(l->binding_alignment >= 1 && (l->binding_alignment & (l->binding_alignment - 1)) == 0);
    assert_true(l->min_subgroup_size >= 1 && l->min_subgroup_size <= l->subgroup_size
                && l->subgroup_size <= l->max_subgroup_size);
    assert_true(l->max_binding_bytes >= 1u << 27);
    assert_true(l->max_buffer_bytes >= l->max_binding_bytes || l->max_buffer_bytes >= 1u << 27);
}

static void check_facts(const vd_device_info *info) {
    const vd_facts *f = &info->facts;
    assert_true(f->code == VD_CODE_SPIRV || f->code == VD_CODE_CUDA || f->code == VD_CODE_OPENCL);
    assert_int_equal(f->executes, info->backend != VD_BACKEND_DUMMY);
    assert_true(f->concurrent_groups >= 1 && f->concurrent_groups <= 1u << 16);
    assert_true(f->max_loop_iterations == 0 || f->max_loop_iterations >= 1000);
    if (!f->executes) return; /* the description may be any */
    assert_int_equal(f->groups_as_loops, info->type == VD_DEVICE_CPU);
    if (f->groups_as_loops) assert_false(f->forward_progress);
    else assert_false(f->lane_access || f->ordered_stores);
}

static void check_info(const vd_device_info *info, vd_backend backend, int index) {
    assert_int_equal(info->backend, backend);
    assert_int_equal(info->index, index);
    assert_true(info->name[0] != 0);
    assert_true(memchr(info->name, 0, sizeof info->name) != NULL);
    assert_true(memchr(info->driver, 0, sizeof info->driver) != NULL);
    assert_true(info->device_memory > 0);
    assert_true(info->timestamp_ns >= 0);
    assert_true(((info->features & VD_FEATURE_TIMESTAMP) != 0) == (info->timestamp_ns > 0));
    check_limits(info);
    check_facts(info);
}

TEST(devices_are_listed_with_sane_information) {
    static vd_device_info infos[16];
    int count = vd_devices(f->backend, NULL, 0);
    assert_true(count >= 1);
    assert_int_equal(vd_devices(f->backend, infos, (int)COUNT(infos)), count);
    for (int i = 0; i < count && i < (int)COUNT(infos); i++) check_info(&infos[i], f->backend, i);
}

TEST(listing_writes_no_more_than_asked_for) {
    static vd_device_info infos[2];
    int count = vd_devices(f->backend, NULL, 0);
    memset(infos, 0x5a, sizeof infos);
    assert_int_equal(vd_devices(f->backend, infos, 1), count);
    for (size_t i = 0; i < sizeof infos[1]; i++) assert_int_equal(((uint8_t *)&infos[1])[i], 0x5a);
    assert_int_equal(vd_devices(f->backend, infos, -1), count);
}

TEST(the_dummy_backend_is_not_listed_by_default) {
    static vd_device_info infos[16];
    (void)f;
    int count = vd_devices(VD_BACKEND_DEFAULT, infos, (int)COUNT(infos));
    for (int i = 0; i < count && i < (int)COUNT(infos); i++) assert_int_not_equal(infos[i].backend, VD_BACKEND_DUMMY);
}

TEST(context_has_one_device) {
    const vd_device_info *info = vd_device(f->ctx, 0);
    assert_non_null(info);
    check_info(info, f->backend, info->index);
    assert_null(vd_device(f->ctx, 1));
    assert_null(vd_device(f->ctx, -1));
    assert_null(vd_device(NULL, 0));
}

TEST(context_starts_empty) {
    vd_stats s = stats_of(f->ctx);
    assert_true(s.dispatches == 0 && s.copies == 0 && s.fills == 0 && s.barriers == 0);
    assert_true(s.buffers == 0 && s.kernels == 0);
    assert_true(s.host_allocations > 0);
}

TEST(device_is_chosen_by_index) {
    vd_context_desc desc = fixture_desc(f);
    vd_context *ctx = NULL;
    int count = vd_devices(f->backend, NULL, 0);
    for (int i = 0; i < count; i++) {
        desc.device = i + 1;
        OK(vd_context_create(&desc, &ctx));
        assert_int_equal(vd_device(ctx, 0)->index, i);
        vd_context_destroy(ctx);
    }
    desc.device = count + 1;
    ctx = (vd_context *)1;
    FAILS(vd_context_create(&desc, &ctx), VD_ERROR_NO_DEVICE, "");
    assert_null(ctx);
    assert_true(strlen(vd_error_text()) > 10);
}

TEST(device_is_chosen_by_a_part_of_its_name_in_any_case) {
    char part[8] = { 0 };
    vd_context *ctx = NULL;
    vd_context_desc desc = fixture_desc(f);
    memcpy(part, vd_device(f->ctx, 0)->name, 5);
    for (int i = 0; i < 5; i++) part[i] = (char)(i % 2 && part[i] >= 'a' && part[i] <= 'z' ? part[i] - 32 : part[i]);
    desc.device_name = part;
    OK(vd_context_create(&desc, &ctx));
    assert_string_equal(vd_device(ctx, 0)->name, vd_device(f->ctx, 0)->name);
    vd_context_destroy(ctx);
    desc.device_name = "no such device";
    FAILS(vd_context_create(&desc, &ctx), VD_ERROR_NO_DEVICE, "no such device");
    assert_null(ctx);
}

TEST(features_can_be_disabled) {
    vd_context *ctx = NULL;
    vd_context_desc desc = fixture_desc(f);
    uint64_t had = vd_device(f->ctx, 0)->features;
    desc.disable = VD_FEATURE_F64 | VD_FEATURE_ADDRESS | VD_FEATURE_I64;
    OK(vd_context_create(&desc, &ctx));
    uint64_t has = vd_device(ctx, 0)->features;
    assert_true((has & desc.disable) == 0);
    assert_true((has & ~had) == 0);
    assert_true((vd_machine(ctx).missing_features & (VC_FEATURE_F64 | VC_FEATURE_ADDRESS | VC_FEATURE_I64))
                == (VC_FEATURE_F64 | VC_FEATURE_ADDRESS | VC_FEATURE_I64));
    vd_context_destroy(ctx);
}

TEST(vd_machine_describes_the_device) {
    const vd_device_info *info = vd_device(f->ctx, 0);
    vc_machine m = vd_machine(f->ctx);
    assert_int_equal(m.max_local_invocations, info->limits.max_local_invocations);
    assert_int_equal(m.max_shared_bytes, info->limits.max_shared_bytes);
    for (int axis = 0; axis < 3; axis++) {
        assert_int_equal(m.max_groups[axis], info->limits.max_groups[axis]);
        assert_int_equal(m.max_local_size[axis], info->limits.max_local_size[axis]);
    }
    assert_true(((m.missing_features & VC_FEATURE_F64) != 0) == !(info->features & VD_FEATURE_F64));
}

/* Returns the iterations that a loop over `count` makes. */
static uint32_t iterations_of(fixture *f, uint32_t count) {
    vc_kernel *k = kernel_begin(f->ctx, "loop", 1, 1, 1);
    vc_ref out = vc_buffer(k, "out", VC_U32, VC_READ_WRITE), made = vc_var(k, "made", VC_U32);
    vc_val limit = vc_param(k, "limit", VC_U32);
    vc_set(made, vc_u32(0));
    VC_FOR(k, i, vc_u32(0), limit) { vc_set(made, vc_add(vc_get(made), vc_u32(1))); }
    vc_store(out, vc_u32(0), vc_get(made));
    vd_kernel loop = kernel_end(f->ctx, k);
    vd_buffer b = buffer_u32(f->ctx, "made", 1, NULL);
    vd_arg args[2] = { vd_b(b), vd_u32(count) };
    OK(vd_run_args(f->ctx, loop, 1, 1, 1, args, 2));
    uint32_t result = read_u32(f->ctx, b, 0);
    vd_buffer_destroy(f->ctx, b);
    vd_kernel_destroy(f->ctx, loop);
    return result;
}

/* A loop is as long as the facts of the device allow; without a limit, longer than that of any known driver. */
TEST_EXECUTED(loops_are_as_long_as_the_facts_say) {
    uint32_t limit = vd_device(f->ctx, 0)->facts.max_loop_iterations, count = limit ? limit : 200000;
    assert_int_equal(iterations_of(f, count), count);
}

TEST(several_contexts_coexist) {
    enum { CONTEXTS = 3 };
    vd_context *ctx[CONTEXTS];
    vd_buffer b[CONTEXTS];
    vd_context_desc desc = fixture_desc(f);
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        OK(vd_context_create(&desc, &ctx[i]));
        b[i] = buffer_u32(ctx[i], "mine", 1, &i);
    }
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        assert_int_equal(read_u32(ctx[i], b[i], 0), i);
        uint32_t value = 0;
        vd_buffer foreign = b[(i + 1) % CONTEXTS];
        FAILS(vd_buffer_read(ctx[i], foreign, 0, &value, 4), VD_ERROR_INVALID, "vd_buffer_read|context");
    }
    for (uint32_t i = 0; i < CONTEXTS; i += 2) vd_context_destroy(ctx[i]);
    for (uint32_t i = 1; i < CONTEXTS; i += 2) {
        assert_int_equal(read_u32(ctx[i], b[i], 0), i);
        vd_context_destroy(ctx[i]);
    }
}

TEST(contexts_are_created_and_destroyed) {
    vd_context_desc desc = fixture_desc(f);
    for (uint32_t i = 0; i < 3; i++) {
        vd_context *ctx = NULL;
        long live = f->memory.live;
        OK(vd_context_create(&desc, &ctx));
        vd_buffer b = buffer_u32(ctx, "mine", 1, &i);
        assert_int_equal(read_u32(ctx, b, 0), i);
        vd_context_destroy(ctx);
        assert_int_equal(f->memory.live, live);
    }
}

TEST(destroying_a_context_destroys_its_objects) {
    vd_context *ctx = NULL;
    vd_context_desc desc = fixture_desc(f);
    long live = f->memory.live;
    OK(vd_context_create(&desc, &ctx));
    vd_buffer b = buffer_u32(ctx, "left", 1000, NULL);
    vd_kernel k = kernel_affine(ctx);
    vd_list *open = list_begin(ctx), *ended = list_begin(ctx);
    vd_ticket ticket;
    vd_read_desc read = { { 0 }, 0, 0, 0 };
    read.buffer = b;
    OK(affine(vd_immediate(ctx, 0, 0), k, b, 1000, 3, 1));
    OK(affine(open, k, b, 1000, 3, 1));
    OK(affine(ended, k, b, 1000, 3, 1));
    OK(vd_list_end(ended));
    OK(vd_read_begin(vd_immediate(ctx, 0, 0), &read, &ticket));
    vd_context_destroy(ctx);
    assert_int_equal(f->memory.live, live);
}

TEST(null_contexts_are_refused) {
    vd_stats s;
    vd_event none = { 0, 0, 0, 0 };
    (void)f;
    vd_context_destroy(NULL);
    FAILS(vd_context_create(NULL, NULL), VD_ERROR_INVALID, "vd_context_create");
    FAILS(vd_context_stats(NULL, &s), VD_ERROR_INVALID, "vd_context_stats");
    FAILS(vd_flush(NULL), VD_ERROR_INVALID, "vd_flush");
    FAILS(vd_wait(NULL, none, 0), VD_ERROR_INVALID, "vd_wait");
    FAILS(vd_wait_idle(NULL), VD_ERROR_INVALID, "vd_wait_idle");
    assert_null(vd_immediate(NULL, 0, 0));
    assert_null(vd_list_begin(NULL, NULL));
}

TEST(running_out_of_host_memory_while_opening_leaks_nothing) {
    vd_context_desc desc = fixture_desc(f);
    account memory = { 0, 0, 0 };
    vd_result result = VD_ERROR_OUT_OF_MEMORY;
    desc.allocator = account_allocator(&memory);
    for (long at = 1; at < 200 && result; at += contexts_are_cheap(f) ? 1 : 4) {
        vd_context *ctx = NULL;
        memory.calls = 0;
        memory.fail_at = at;
        result = vd_context_create(&desc, &ctx);
        if (result) assert_int_equal(result, VD_ERROR_OUT_OF_MEMORY);
        assert_true((ctx != NULL) == (result == VD_OK));
        memory.fail_at = 0;
        vd_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
    }
    assert_int_equal(result, VD_OK);
}

static void busy_work(vd_context *ctx) {
    vd_buffer a = buffer_u32(ctx, "a", 5000, NULL), b = buffer_u32(ctx, "b", 5000, NULL);
    vd_kernel grow = kernel_affine(ctx), copy = kernel_move(ctx);
    for (uint32_t i = 0; i < 20; i++) {
        vd_list *list = list_begin(ctx), *now = vd_immediate(ctx, 0, 0);
        uint32_t word = i;
        OK(affine(now, grow, a, 5000, 3, i));
        OK(move(now, copy, a, b, 5000, 1));
        OK(vd_copy(now, a, 0, b, 4000, 4000));
        OK(vd_fill(now, b, 16, 64, &word, 4));
        OK(vd_write(now, b, 3, &word, 3));
        OK(affine(list, grow, b, 100, 1, 1));
        OK(vd_submit(list, NULL, NULL));
        read_u32(ctx, b, i);
    }
    vd_buffer_destroy(ctx, a);
    vd_kernel_destroy(ctx, grow);
}

TEST_EXECUTED(validation_reports_nothing) {
    vd_context *ctx = NULL;
    for (int form = 0; form < 2; form++) {
        vd_context_desc desc = fixture_desc(f);
        desc.debug = true;
        desc.disable = form ? VD_FEATURE_ADDRESS : 0;
        OK(vd_context_create(&desc, &ctx));
        busy_work(ctx);
        vd_context_destroy(ctx);
    }
    if (strstr(f->message, "the layer VK_LAYER_KHRONOS_validation is not installed")) skip_because(f->message);
    if (f->messages) fail_msg("%d messages, the first: %s", f->messages, f->message);
}

TEST(types_and_features_have_names_and_sizes) {
    (void)f;
    assert_int_equal(vd_type_size(VD_F32X4), 16);
    assert_int_equal(vd_type_size(VD_F64X3), 24);
    assert_int_equal(vd_type_size(VD_BOOL), 4);
    assert_int_equal(vd_type_size(VD_I8), 1);
    assert_int_equal(vd_type_size(VD_BYTES), 0);
    assert_int_equal(vd_type_size(15), 0);
    assert_string_equal(vd_type_name(VD_F32X4), "f32x4");
    assert_string_equal(vd_type_name(VD_U8), "u8");
    assert_string_equal(vd_feature_name(VD_FEATURE_F64), "f64");
    assert_non_null(vd_feature_name(1ull << 63));
    assert_non_null(vd_result_name((vd_result)999));
    assert_non_null(vd_type_name(9999));
}

TEST(error_text_belongs_to_the_caller_of_error_set) {
    (void)f;
    assert_int_equal(vd_error_set(VD_ERROR_IO, "plan '%s' of %d", "p", 7), VD_ERROR_IO);
    assert_string_equal(vd_error_text(), "plan 'p' of 7");
}

static const struct CMUnitTest cases[] = {
    CASE(devices_are_listed_with_sane_information), CASE(listing_writes_no_more_than_asked_for),
    CASE(the_dummy_backend_is_not_listed_by_default), CASE(context_has_one_device), CASE_FRESH(context_starts_empty),
    CASE(device_is_chosen_by_index), CASE(device_is_chosen_by_a_part_of_its_name_in_any_case),
    CASE(features_can_be_disabled), CASE(vd_machine_describes_the_device), CASE(loops_are_as_long_as_the_facts_say),
    CASE(several_contexts_coexist),
    CASE(contexts_are_created_and_destroyed), CASE(destroying_a_context_destroys_its_objects),
    CASE(null_contexts_are_refused), CASE(running_out_of_host_memory_while_opening_leaks_nothing),
    CASE(validation_reports_nothing), CASE(types_and_features_have_names_and_sizes),
    CASE(error_text_belongs_to_the_caller_of_error_set),
};

MAIN("devices", cases)
