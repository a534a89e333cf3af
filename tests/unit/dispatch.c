/* What a dispatch passes to the backend: groups, bindings in order, the argument block with its implicit arguments, and
   the parts of a split dispatch. */
#include "tests/unit/unit.h"

typedef struct dispatch_seen {
    uint32_t groups[3], words[16], binding_count, numbers[4];
    uint64_t sizes[4];
} dispatch_seen;

static dispatch_seen launches[64];
static uint32_t launch_count;

static vd_result dispatch_spy_launch(vd__device *dev, vd__commands *c, const vd__launch *launch) {
    (void)dev, (void)c;
    assert_true(launch_count < VD__COUNT(launches));
    dispatch_seen *s = &launches[launch_count++];
    memset(s, 0, sizeof *s);
    memcpy(s->groups, launch->groups, sizeof s->groups);
    assert_true(launch->argument_bytes <= sizeof s->words);
    memcpy(s->words, launch->arguments, launch->argument_bytes);
    s->binding_count = launch->binding_count;
    for (uint32_t i = 0; i < launch->binding_count; i++) {
        s->numbers[i] = launch->bindings[i].number;
        s->sizes[i] = launch->bindings[i].size;
    }
    return VD_OK;
}

static vd_context *dispatch_ctx;
static vd_kernel dispatch_kernel;
static vd_buffer dispatch_a, dispatch_b, dispatch_c;

static vd_arg_info arg_info(vd_arg_kind kind, const char *name, vd_type type, uint32_t place, uint32_t size) {
    vd_arg_info info;
    memset(&info, 0, sizeof info);
    info.kind = kind;
    info.name = name;
    info.type = type;
    info.access = kind == VD_ARG_VALUE ? 0u : (uint32_t)VD_READ;
    info.location = place;
    info.size = size;
    return info;
}

/* Bindings 5 and 2 in this order, an address at 8, a value at 0, implicit arguments after them; local size 64. */
static int dispatch_setup(void **state) {
    static vd__backend spy;
    static const vd_implicit_info hidden[] = {
        { VD_IMPLICIT_THREADS, 0, 0, 16 },    { VD_IMPLICIT_GROUPS, 0, 1, 20 }, { VD_IMPLICIT_GROUP_BASE, 0, 0, 24 },
        { VD_IMPLICIT_GROUP_BASE, 0, 1, 28 }, { VD_IMPLICIT_LENGTH, 0, 0, 32 }, { VD_IMPLICIT_SHAPE, 1, 1, 36 },
        { VD_IMPLICIT_LENGTH, 3, 0, 40 }
    };
    vd_device_info device;
    vd_arg_info args[4];
    vd_kernel_desc d;
    vd_buffer_desc shape;
    unit_module module;
    (void)state;
    memset(&device, 0, sizeof device);
    device.features = VD_FEATURE_ADDRESS;
    device.limits.max_groups[0] = 100;
    device.limits.max_groups[1] = 10;
    dispatch_ctx = unit_context(&device);
    spy = vd__backend_dummy;
    spy.record_launch = dispatch_spy_launch;
    dispatch_ctx->driver.backend = &spy;
    launch_count = 0;
    args[0] = arg_info(VD_ARG_BINDING, "a", VD_F32, 5, 0);
    args[1] = arg_info(VD_ARG_BINDING, "b", VD_BYTES, 2, 0);
    args[1].access = VD_READ | VD_WRITE;
    args[2] = arg_info(VD_ARG_VALUE, "v", VD_I16, 0, 2);
    args[3] = arg_info(VD_ARG_ADDRESS, "c", VD_STRUCT(4), 8, 8);
    unit_saxpy(&module);
    memset(&d, 0, sizeof d);
    d.name = "k";
    d.code = module.words;
    d.code_size = module.count * 4;
    d.args = args;
    d.arg_count = 4;
    d.implicit = hidden;
    d.implicit_count = 7;
    d.argument_bytes = 44;
    dispatch_kernel = vd_kernel_create(dispatch_ctx, &d);
    if (!dispatch_kernel.id) print_error("%s\n", vd_error_text());
    memset(&shape, 0, sizeof shape);
    shape.type = VD_U16;
    shape.shape[0] = 3;
    shape.shape[1] = 7;
    dispatch_a = unit_buffer(dispatch_ctx, "a", VD_F32, 100, NULL);
    dispatch_b = vd_buffer_create(dispatch_ctx, &shape);
    dispatch_c = unit_buffer(dispatch_ctx, "c", VD_BYTES, 401, NULL);
    return dispatch_kernel.id ? 0 : 1;
}

static int dispatch_teardown(void **state) {
    (void)state;
    vd_context_destroy(dispatch_ctx);
    return 0;
}

static vd_result dispatch_run(uint64_t x, uint64_t y, uint64_t z) {
    vd_arg args[4] = { vd_b(dispatch_a), vd_b(dispatch_b), vd_i16(-2), vd_b(dispatch_c) };
    return vd_run_args(dispatch_ctx, dispatch_kernel, x, y, z, args, 4);
}

static void one_launch(void **state) {
    (void)state;
    assert_int_equal(dispatch_run(130, 10, 1), VD_OK);
    const dispatch_seen *s = &launches[0];
    assert_int_equal(launch_count, 1);
    assert_int_equal(s->groups[0], 3);
    assert_int_equal(s->groups[1], 10);
    assert_int_equal(s->binding_count, 2);
    assert_int_equal(s->numbers[0], 2);
    assert_int_equal(s->numbers[1], 5);
    assert_int_equal(s->sizes[0], 42); /* exact, although the storage is whole words: a module queries its length */
    assert_int_equal(s->words[0], 0xFFFE);
    vd_buffer_info info;
    assert_int_equal(vd_buffer_query(dispatch_ctx, dispatch_c, &info), VD_OK);
    assert_memory_equal(&s->words[2], &info.address, 8);
    assert_int_equal(s->words[4], 130);
    assert_int_equal(s->words[5], 10);
    assert_int_equal(s->words[6], 0);
    assert_int_equal(s->words[8], 100);
    assert_int_equal(s->words[9], 7);
    assert_int_equal(s->words[10], 100); /* whole elements of 401 bytes */
}

/* Every group of the dispatch is in exactly one part. */
static void split(void **state) {
    (void)state;
    assert_int_equal(dispatch_run(64 * 250, 25, 1), VD_OK);
    assert_int_equal(launch_count, 9);
    static uint8_t done[25][250];
    memset(done, 0, sizeof done);
    for (uint32_t i = 0; i < launch_count; i++) {
        const dispatch_seen *s = &launches[i];
        assert_true(s->groups[0] <= 100 && s->groups[1] <= 10);
        assert_int_equal(s->words[4], 64 * 250);
        assert_int_equal(s->words[5], 25);
        for (uint32_t y = 0; y < s->groups[1]; y++)
            for (uint32_t x = 0; x < s->groups[0]; x++) done[s->words[7] + y][s->words[6] + x]++;
    }
    for (int y = 0; y < 25; y++)
        for (int x = 0; x < 250; x++) assert_int_equal(done[y][x], 1);
    assert_int_equal(unit_stats(dispatch_ctx).dispatches, 1);
    assert_int_equal(dispatch_run(64, 1, 65536), VD_ERROR_UNSUPPORTED); /* this axis has no group base */
    CHECK_TEXT("65536 work-groups along axis 2");
    assert_int_equal(dispatch_run(UINT32_MAX, UINT32_MAX, 1), VD_ERROR_UNSUPPORTED);
    CHECK_TEXT("would be split into");
}

/* 2^26 work-groups of 64 threads: kernels that do not read the number of threads can be dispatched. */
static void more_than_2_32_threads(void **state) {
    vd_dispatch_desc d;
    unit_module module;
    vd_arg args[4] = { vd_b(dispatch_a), vd_b(dispatch_b), vd_i16(-2), vd_b(dispatch_c) };
    (void)state;
    memset(&d, 0, sizeof d);
    d.kernel = dispatch_kernel;
    d.groups[0] = (uint64_t)UINT32_MAX / 64 + 1;
    d.args = args;
    d.arg_count = 4;
    assert_int_equal(vd_dispatch(vd_immediate(dispatch_ctx, 0, 0), &d), VD_ERROR_INVALID);
    CHECK_TEXT("vd_dispatch 'k': groups[0] is 67108864; with local size 64 this is more than 2^32 - 1 threads, but the "
               "kernel reads their number (VD_IMPLICIT_THREADS)");
    unit_saxpy(&module);
    d.kernel = unit_kernel(dispatch_ctx, &module, "saxpy");
    args[0] = vd_b(unit_buffer(dispatch_ctx, "x", VD_F32, 100, NULL));
    args[1] = vd_b(dispatch_a);
    args[2] = vd_f32(2);
    args[3] = vd_u32(100);
    dispatch_ctx->devices[0].device.info.limits.max_groups[0] = UINT32_MAX;
    if (vd_dispatch(vd_immediate(dispatch_ctx, 0, 0), &d)) fail_msg("%s", vd_error_text());
    assert_int_equal(launch_count, 1);
    assert_int_equal(launches[0].groups[0], 67108864);
}

/* Runs the kernel with `a` as its first buffer. Expects that buffer's length, and all else as before. */
static void expect_first(vd_buffer a, uint32_t length) {
    vd_buffer kept = dispatch_a;
    dispatch_seen first = launches[0];
    dispatch_a = a;
    launch_count = 0;
    assert_int_equal(dispatch_run(130, 10, 1), VD_OK);
    dispatch_a = kept;
    assert_int_equal(launch_count, 1);
    assert_int_equal(launches[0].sizes[1], 4 * length);
    assert_int_equal(launches[0].words[8], length);
    first.sizes[1] = 4 * length;
    first.words[8] = length;
    assert_memory_equal(&launches[0], &first, sizeof first);
}

/* Buffers that are passed again are not resolved again; those that are passed between them are, and so are new buffers
   in the memory of destroyed ones. */
static void repeated_buffers(void **state) {
    (void)state;
    vd_buffer other = unit_buffer(dispatch_ctx, "other", VD_F32, 50, NULL);
    assert_int_equal(dispatch_run(130, 10, 1), VD_OK);
    expect_first(dispatch_a, 100);
    expect_first(other, 50);
    expect_first(other, 50);
    expect_first(dispatch_a, 100);
    vd_buffer_destroy(dispatch_ctx, dispatch_a);
    assert_int_equal(dispatch_run(130, 10, 1), VD_ERROR_INVALID);
    CHECK_TEXT("'a'");
    assert_int_equal(vd_wait_idle(dispatch_ctx), VD_OK);
    vd_buffer replaced = unit_buffer(dispatch_ctx, "replaced", VD_F32, 60, NULL);
    assert_int_equal((uint32_t)replaced.id & VD__ID_SLOT_MASK, (uint32_t)dispatch_a.id & VD__ID_SLOT_MASK);
    expect_first(replaced, 60);
    /* without a dispatch in between */
    vd_buffer_destroy(dispatch_ctx, replaced);
    assert_int_equal(vd_wait_idle(dispatch_ctx), VD_OK);
    vd_buffer again = unit_buffer(dispatch_ctx, "again", VD_F32, 70, NULL);
    assert_int_equal((uint32_t)again.id & VD__ID_SLOT_MASK, (uint32_t)replaced.id & VD__ID_SLOT_MASK);
    expect_first(again, 70);
}

/* A changed buffer may overlap one that is passed again. */
static void overlap_with_a_repeated_buffer(void **state) {
    (void)state;
    vd_view_desc part;
    memset(&part, 0, sizeof part);
    dispatch_b = unit_buffer(dispatch_ctx, "x", VD_F32, 100, NULL);
    part.buffer = dispatch_b;
    part.type = VD_F32;
    assert_int_equal(dispatch_run(130, 10, 1), VD_OK);
    dispatch_a = vd_buffer_view(dispatch_ctx, &part);
    assert_int_equal(dispatch_run(130, 10, 1), VD_ERROR_INVALID);
    CHECK_TEXT("overlap");
}

/* y[i] = a texel of t, which is sampled or loaded. */
static vd_kernel texels_kernel(vd_context *ctx, bool sampled) {
    vc_kernel_desc desc;
    vc_image_desc image;
    memset(&desc, 0, sizeof desc);
    memset(&image, 0, sizeof image);
    desc.machine = vd_machine(ctx);
    image.storage = !sampled;
    if (!sampled) image.format = VC_FORMAT_R32_F;
    vc_kernel *k = vc_begin(&desc);
    vc_image_ref t = vc_image(k, "t", &image);
    vc_ref y = vc_buffer(k, "y", VC_F32, VC_WRITE);
    VC_EACH(k, i) {
        vc_val at = vc_cast(sampled ? VC_F32 : VC_I32, i), both = vc_vec2(at, at);
        vc_store(y, i, vc_component(sampled ? vc_sample(t, both) : vc_image_load(t, both), 0));
    }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    assert_true(kernel.id != 0);
    return kernel;
}

static void samplers_of_images(void **state) {
    (void)state;
    vd_context *ctx = unit_context(NULL);
    vd_kernel sample = texels_kernel(ctx, true), load = texels_kernel(ctx, false);
    vd_sampler samplers[2];
    vd_image_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "t";
    desc.format = VD_FORMAT_R32_F;
    desc.extent[0] = desc.extent[1] = 4;
    vd_image t = vd_image_create(ctx, &desc);
    vd_buffer y = unit_buffer(ctx, "y", VD_F32, 64, NULL);
    for (int i = 0; i < 2; i++) samplers[i] = vd_sampler_create(ctx, NULL);
    assert_int_equal(vd_run(ctx, sample, 64, vd_i(t), vd_b(y)), VD_OK);
    assert_int_equal(vd_run(ctx, sample, 64, vd_sampled(t, &samplers[0]), vd_b(y)), VD_OK);
    assert_int_equal(vd_run(ctx, load, 64, vd_i(t), vd_b(y)), VD_OK);
    assert_int_equal(vd_run(ctx, load, 64, vd_sampled(t, &samplers[0]), vd_b(y)), VD_ERROR_INVALID);
    CHECK_TEXT("argument 0 't' has a sampler (vd_sampled), but the kernel reads or writes image 't' without one");

    vd_arg args[2] = { vd_slot("t", vd_sampled(t, &samplers[0])), vd_b(y) };
    vd_dispatch_desc dispatch;
    memset(&dispatch, 0, sizeof dispatch);
    dispatch.kernel = sample;
    dispatch.threads[0] = 64;
    dispatch.args = args;
    dispatch.arg_count = 2;
    vd_list *list = vd_graph_begin(ctx, NULL);
    assert_int_equal(vd_dispatch(list, &dispatch), VD_OK);
    vd_graph g = vd_graph_end(list);
    assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_OK);
    list = vd_graph_begin(ctx, NULL);
    assert_int_equal(vd_dispatch(list, &dispatch), VD_OK);
    args[0] = vd_slot("t", vd_sampled(t, &samplers[1]));
    assert_int_equal(vd_dispatch(list, &dispatch), VD_ERROR_INVALID);
    CHECK_TEXT("slot 't' was used before with another initial sampler");
    vd_list_discard(list);
    vd_sampler_destroy(ctx, samplers[0]);
    assert_int_equal(vd_run(ctx, sample, 64, vd_sampled(t, &samplers[0]), vd_b(y)), VD_ERROR_INVALID);
    CHECK_TEXT("argument 0 't': the sampler was destroyed");
    vd_context_destroy(ctx);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, dispatch_setup, dispatch_teardown)

static const struct CMUnitTest dispatch_tests[] = {
    CASE(one_launch), CASE(split), CASE(more_than_2_32_threads), CASE(repeated_buffers),
    CASE(overlap_with_a_repeated_buffer), cmocka_unit_test(samplers_of_images),
};
#undef CASE
