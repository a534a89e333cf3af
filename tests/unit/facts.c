/* Facts of devices: what backends derive from type and vendor, what the dummy backend takes from its description, and
   the builder's output for a device. */
#include "tests/unit/unit.h"

static void facts_follow_from_type_and_vendor(void **state) {
    static const struct { vd_device_type type; uint32_t vendor; bool progress, loops; } cases[] = {
        { VD_DEVICE_DISCRETE, 0x10de, true, false },   { VD_DEVICE_DISCRETE, 0x1002, true, false },
        { VD_DEVICE_INTEGRATED, 0x8086, true, false }, { VD_DEVICE_INTEGRATED, 0x106b, false, false },
        { VD_DEVICE_INTEGRATED, 0x1010, false, false }, { VD_DEVICE_INTEGRATED, 0x13b5, false, false },
        { VD_DEVICE_INTEGRATED, 0x5143, false, false }, { VD_DEVICE_VIRTUAL, 0, false, false },
        { VD_DEVICE_OTHER, 0, false, false },          { VD_DEVICE_CPU, 0x10005, false, true }
    };
    (void)state;
    for (size_t i = 0; i < VD__COUNT(cases); i++) {
        vd_device_info info;
        memset(&info, 0, sizeof info);
        info.type = cases[i].type;
        info.vendor_id = cases[i].vendor;
        vd__facts_init(&info, VD_CODE_OPENCL, 20);
        assert_int_equal(info.facts.forward_progress, cases[i].progress);
        assert_int_equal(info.facts.groups_as_loops, cases[i].loops);
        assert_int_equal(info.facts.ordered_stores, cases[i].loops && VD__HAS_ORDERED_STORES);
        assert_int_equal(info.facts.code, VD_CODE_OPENCL);
        assert_int_equal(info.facts.concurrent_groups, 80);
        assert_true(info.facts.executes && !info.facts.lane_access && !info.facts.max_loop_iterations);
        vd__facts_init(&info, VD_CODE_OPENCL, 0); /* the API does not tell the number of multiprocessors */
        assert_int_equal(info.facts.concurrent_groups, cases[i].loops ? 4 * vd__processor_count() : 528);
    }
}

static void dummy_is_a_desktop_gpu_by_default(void **state) {
    (void)state;
    vd_context *ctx = unit_context(NULL);
    const vd_facts *f = &vd_device(ctx, 0)->facts;
    assert_true(f->forward_progress && !f->ordered_stores && !f->groups_as_loops && !f->lane_access);
    assert_int_equal(f->code, VD_CODE_SPIRV);
    assert_int_equal(f->concurrent_groups, 528);
    assert_int_equal(f->max_loop_iterations, 0);
    assert_false(f->executes);
    vd_context_destroy(ctx);
}

static void dummy_takes_facts_from_its_description(void **state) {
    vd_device_info device;
    (void)state;
    memset(&device, 0, sizeof device);
    vd_context *ctx = unit_context(&device);
    const vd_facts *f = &vd_device(ctx, 0)->facts;
    assert_false(f->forward_progress);
    assert_int_equal(f->code, VD_CODE_SPIRV);
    assert_int_equal(f->concurrent_groups, 528);
    vd_context_destroy(ctx);
    device.facts.executes = device.facts.debug = true; /* ignored */
    device.facts.forward_progress = device.facts.ordered_stores = true;
    device.facts.groups_as_loops = device.facts.lane_access = true;
    device.facts.code = VD_CODE_CUDA;
    device.facts.concurrent_groups = 7;
    device.facts.max_loop_iterations = 1000;
    ctx = unit_context(&device);
    f = &vd_device(ctx, 0)->facts;
    assert_false(f->executes || f->debug || vd_machine(ctx).debug);
    assert_true(f->forward_progress && f->ordered_stores && f->groups_as_loops && f->lane_access);
    assert_int_equal(f->code, VD_CODE_CUDA);
    assert_int_equal(f->concurrent_groups, 7);
    assert_int_equal(f->max_loop_iterations, 1000);
    vd_context_destroy(ctx);
}

/* ---- the builder's output ---- */

static vd_code facts_code; /* of the last kernel */

static vd_result facts_kernel_create(vd__device *dev, const vd_kernel_desc *desc, vd__kernel_code *code) {
    (void)dev, (void)code;
    facts_code = desc->code_kind;
    return VD_OK;
}

static void kernels_are_compiled_to_the_code_of_the_device(void **state) {
    static const struct { vd_code code; vc_target target; vd_code built; } cases[] = {
        { VD_CODE_DEFAULT, VC_TARGET_SPIRV, VD_CODE_SPIRV }, { VD_CODE_SPIRV, VC_TARGET_SPIRV, VD_CODE_SPIRV },
        { VD_CODE_CUDA, VC_TARGET_CUDA, VD_CODE_CUDA },      { VD_CODE_OPENCL, VC_TARGET_OPENCL, VD_CODE_OPENCL },
        { VD_CODE_PTX, VC_TARGET_SPIRV, VD_CODE_SPIRV }
    };
    (void)state;
    assert_int_equal(vd_target(NULL), VC_TARGET_NONE);
    for (size_t i = 0; i < VD__COUNT(cases); i++) {
        vd_device_info device;
        vd__backend spy = vd__backend_dummy;
        vc_kernel_desc desc;
        memset(&device, 0, sizeof device);
        memset(&desc, 0, sizeof desc);
        device.features = VD_FEATURE_I64 | VD_FEATURE_ADDRESS;
        device.facts.code = cases[i].code;
        vd_context *ctx = unit_context(&device);
        spy.kernel_create = facts_kernel_create;
        ctx->driver.backend = &spy;
        assert_int_equal(vd_target(ctx), cases[i].target);
        desc.name = "clear";
        vc_kernel *k = vc_begin(&desc);
        vc_ref out = vc_buffer(k, "out", VC_U32, VC_WRITE);
        VC_EACH(k, id) { vc_store(out, id, vc_u32(0)); }
        facts_code = VD_CODE_DEFAULT;
        if (!vd_kernel_build(ctx, k).id) fail_msg("%s", vd_error_text());
        assert_int_equal(facts_code, cases[i].built);
        vc_free(k);
        vd_context_destroy(ctx);
    }
}

/* ---- versions of SPIR-V ---- */

static void newer_spirv_than_the_driver_accepts_is_refused(void **state) {
    unit_module module;
    vd_kernel_desc desc;
    (void)state;
    vd_context *ctx = unit_context(NULL);
    unit_saxpy(&module);
    memset(&desc, 0, sizeof desc);
    desc.name = "new";
    desc.code = module.words;
    desc.code_size = module.count * 4;
    for (uint32_t minor = 3; minor <= 6; minor++) {
        module.words[1] = 0x10000 | minor << 8;
        ctx->devices[0].device.max_spirv_minor = 0; /* any */
        assert_int_not_equal(vd_kernel_create(ctx, &desc).id, 0);
        ctx->devices[0].device.max_spirv_minor = 5;
        assert_true((vd_kernel_create(ctx, &desc).id != 0) == (minor <= 5));
    }
    CHECK_TEXT("the SPIR-V has version 1.6");
    CHECK_TEXT("the limit is 1.5");
    vd_context_destroy(ctx);
}

/* A loader of Vulkan 1.2 and a device with 1.3, and both with 1.3. */
static void spirv_version_follows_the_loader(void **state) {
    static vd__vk_facts facts;
    (void)state;
    facts.core.properties.apiVersion = VK_API_VERSION_1_3;
    facts.version = VK_API_VERSION_1_2;
    assert_int_equal(vd__vk_max_spirv_minor(&facts), 5);
    facts.version = VK_API_VERSION_1_3;
    assert_int_equal(vd__vk_max_spirv_minor(&facts), 0);
}

static const struct CMUnitTest facts_tests[] = {
    cmocka_unit_test(facts_follow_from_type_and_vendor), cmocka_unit_test(dummy_is_a_desktop_gpu_by_default),
    cmocka_unit_test(dummy_takes_facts_from_its_description),
    cmocka_unit_test(kernels_are_compiled_to_the_code_of_the_device),
    cmocka_unit_test(newer_spirv_than_the_driver_accepts_is_refused),
    cmocka_unit_test(spirv_version_follows_the_loader),
};
