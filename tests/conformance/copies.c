/* Copies that the Vulkan backend makes with a kernel (VKDISPATCH_COPIES), compared with a model on the host. Accesses
   the insides of the backend. */
#define _POSIX_C_SOURCE 200809L
#include "tests/insides.h"
#include "tests/conformance/common.h"

enum { BYTES = 20000 };

static vd__vk_device *vulkan_of(vd_context *ctx) { return vd__vk_device_of(&ctx->devices[0].device); }

/* A context with VKDISPATCH_COPIES set to `how`. Skips the test if buffers have no addresses. */
static vd_context *open_with(fixture *f, const char *how) {
    vd_context *ctx = NULL;
    vd_context_desc desc = fixture_desc(f);
    needs_feature(f, VD_FEATURE_ADDRESS);
    desc.queues = 2;
    setenv("VKDISPATCH_COPIES", how, 1);
    vd_result r = vd_context_create(&desc, &ctx);
    unsetenv("VKDISPATCH_COPIES");
    OK(r);
    return ctx;
}

static vd_buffer bytes_named(vd_context *ctx, const char *name, const uint8_t *data) {
    return buffer_named(ctx, name, VD_BYTES, BYTES, data);
}

static void check_bytes(vd_context *ctx, vd_buffer b, const uint8_t *wanted) {
    static uint8_t got[BYTES];
    OK(vd_buffer_read(ctx, b, 0, got, VD_WHOLE));
    for (int i = 0; i < BYTES; i++)
        if (got[i] != wanted[i]) fail_msg("byte %d is %u, not %u", i, got[i], wanted[i]);
}

/* The shared context that copies by kernel. */
static vd_context *context_that_moves(fixture *f) {
    vd_context_desc desc = fixture_desc(f);
    needs_feature(f, VD_FEATURE_ADDRESS);
    desc.queues = 2;
    setenv("VKDISPATCH_COPIES", "kernel", 1);
    vd_context *ctx = shared_context_of(f, &desc);
    unsetenv("VKDISPATCH_COPIES");
    if (!ctx) fail_msg("vd_context_create: %s", vd_error_text());
    return ctx;
}

/* Random ranges, within one buffer and between two, on two queues. */
static void copy_at_random(vd_context *ctx, int rounds) {
    static uint8_t model[2][BYTES];
    vd_buffer b[2];
    dice d = { 5 };
    for (int n = 0; n < 2; n++) {
        for (int i = 0; i < BYTES; i++) model[n][i] = (uint8_t)roll(&d, 256);
        b[n] = bytes_named(ctx, n ? "b" : "a", model[n]);
    }
    for (int round = 0; round < rounds; round++) {
        uint32_t unit = round % 3 ? 1u << roll(&d, 5) : 16, size = unit * (1 + roll(&d, BYTES / 2 / unit)), to, from;
        uint32_t n = roll(&d, 2), m = roll(&d, 2);
        do {
            to = unit * roll(&d, (BYTES - size) / unit + 1);
            from = unit * roll(&d, (BYTES - size) / unit + 1);
        } while (n == m && to < from + size && from < to + size);
        OK(vd_copy(vd_immediate(ctx, 0, (int)roll(&d, 2)), b[n], to, b[m], from, size));
        memcpy(model[n] + to, model[m] + from, size);
        if (round % 50 == 0) check_bytes(ctx, b[n], model[n]);
    }
    for (int n = 0; n < 2; n++) {
        check_bytes(ctx, b[n], model[n]);
        vd_buffer_destroy(ctx, b[n]);
    }
}

TEST_EXECUTED(random_ranges_are_copied) {
    vd_context *ctx = context_that_moves(f);
    copy_at_random(ctx, 1000);
    assert_int_equal(vulkan_of(ctx)->copy_kernel_state, VD__VK_COPY_READY);
}

/* As if the device allowed two groups in a dispatch. */
TEST_EXECUTED(more_groups_than_a_dispatch_allows) {
    vd_context *ctx = open_with(f, "kernel");
    ctx->devices[0].device.info.limits.max_groups[0] = 2;
    copy_at_random(ctx, 200);
    assert_int_equal(vulkan_of(ctx)->copy_kernel_state, VD__VK_COPY_READY);
    vd_context_destroy(ctx);
}

/* Rows with a pitch, some of them too short for a kernel. */
TEST_EXECUTED(rows) {
    static uint8_t from[BYTES], to[BYTES];
    vd_context *ctx = context_that_moves(f);
    for (int i = 0; i < BYTES; i++) {
        from[i] = (uint8_t)(i * 7);
        to[i] = (uint8_t)(i * 3);
    }
    vd_buffer a = bytes_named(ctx, "from", from), b = bytes_named(ctx, "to", to);
    for (uint64_t row = 1; row < 100; row += 11) {
        vd_copy_desc desc = { b, a, row, 3 * row, row, 100, 112, 128 };
        OK(vd_copy_region(vd_immediate(ctx, 0, 0), &desc));
        for (uint64_t i = 0; i < 100; i++) memcpy(to + row + i * 112, from + 3 * row + i * 128, row);
    }
    check_bytes(ctx, b, to);
}

/* A copy kernel between two dispatches does not change their push constants, pipeline and bindings. */
TEST_EXECUTED(dispatches_around_a_copy_kernel) {
    for (int form = 0; form < 2; form++) {
        vd_context *ctx = context_that_moves(f);
        uint32_t got[64];
        vc_kernel_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.name = "add";
        desc.local_size[0] = 64;
        desc.machine = vd_machine(ctx);
        desc.buffers = form ? VC_BUFFERS_BINDING : VC_BUFFERS_ADDRESS;
        vc_kernel *k = vc_begin(&desc);
        vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
        vc_val add = vc_param(k, "add", VC_U32);
        VC_EACH(k, i) { vc_store(x, i, vc_add(vc_load(x, i), add)); }
        vd_kernel kernel = kernel_end(ctx, k);
        vd_buffer a = buffer_u32(ctx, "a", 64, NULL), b = buffer_u32(ctx, "b", 64, NULL);
        vd_list *list = list_begin(ctx);
        for (int i = 0; i < 20; i++) {
            vd_arg args[2];
            args[0] = vd_b(a);
            args[1] = vd_u32(5);
            OK(dispatch(list, kernel, 64, args, 2));
            OK(vd_copy(list, b, 0, a, 0, 256));
            if (i % 2) OK(vd_copy(list, a, 0, b, 0, 256));
        }
        OK(vd_submit(list, NULL, NULL));
        OK(vd_buffer_read(ctx, b, 0, got, VD_WHOLE));
        for (int i = 0; i < 64; i++) assert_int_equal(got[i], 100);
        assert_int_equal(vulkan_of(ctx)->copy_kernel_state, VD__VK_COPY_READY);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL no_module(VkDevice device, const VkShaderModuleCreateInfo *info,
                                                const VkAllocationCallbacks *a, VkShaderModule *out) {
    (void)device, (void)info, (void)a, (void)out;
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* If the copy kernel cannot be created, the driver copies, and the log says why, once. No call fails, so the thread's
   error remains that of the last call that failed. */
TEST_EXECUTED(the_copy_kernel_cannot_be_created) {
    vd_context *ctx = open_with(f, "kernel");
    vulkan_of(ctx)->vkCreateShaderModule = no_module;
    assert_int_equal(vd_error_set(VD_ERROR_INVALID, "an earlier failure"), VD_ERROR_INVALID);
    copy_at_random(ctx, 100);
    assert_string_equal(vd_error_text(), "an earlier failure");
    assert_int_equal(vd_error_result(), VD_ERROR_INVALID);
    assert_int_equal(vulkan_of(ctx)->copy_kernel_state, VD__VK_COPY_FAILED);
    assert_int_equal(f->messages, 1);
    assert_non_null(strstr(f->message, "the copy kernel could not be created"));
    vd_context_destroy(ctx);
    /* the text of vd_error_text is not changed either, also without a log */
    const char *text = vd_error_text();
    ctx = open_with(f, "kernel");
    ctx->host.log = NULL;
    vulkan_of(ctx)->vkCreateShaderModule = no_module;
    copy_at_random(ctx, 1);
    assert_int_equal(vulkan_of(ctx)->copy_kernel_state, VD__VK_COPY_FAILED);
    assert_string_equal(text, "an earlier failure");
    vd_context_destroy(ctx);
}

/* On devices with shared memory the driver's copies are as fast. */
TEST_EXECUTED(devices_that_copy_by_kernel) {
    vd_context *ctx = open_with(f, "driver");
    copy_at_random(ctx, 50);
    assert_int_equal(vulkan_of(ctx)->copy_kernel_state, VD__VK_COPY_UNTRIED);
    vd_context_destroy(ctx);
    if (!getenv("VKDISPATCH_COPIES"))
        assert_true(vd_device(f->ctx, 0)->type == VD_DEVICE_DISCRETE
                    || vulkan_of(f->ctx)->copy_kernel_min_bytes == UINT64_MAX);
    vd_context_desc desc = fixture_desc(f);
    setenv("VKDISPATCH_COPIES", "magic", 1);
    vd_result r = vd_context_create(&desc, &ctx);
    unsetenv("VKDISPATCH_COPIES");
    check_failure("vd_context_create", r, VD_ERROR_INVALID, "vd_context_create: VKDISPATCH_COPIES is 'magic'|kernel, driver");
}

static const struct CMUnitTest cases[] = {
    CASE(random_ranges_are_copied), CASE(more_groups_than_a_dispatch_allows), CASE(rows),
    CASE(dispatches_around_a_copy_kernel), CASE(the_copy_kernel_cannot_be_created), CASE(devices_that_copy_by_kernel)
};

static int run_cases(const char *name) { return RUN_CASES(name, cases); }

int main(int argc, char **argv) {
    const char *only = argc > 1 ? argv[1] : getenv("VKDISPATCH_BACKEND");
    char *vulkan[2] = { argv[0], (char *)(uintptr_t)"vulkan" };
    if (!only || !*only || !strcmp(only, "vulkan")) return run_backends(2, vulkan, "copies", run_cases);
    printf("# reason: only the Vulkan backend copies by a kernel\nok 1 - copies on %s # SKIP all of its tests\n1..1\n", only);
    return 0;
}
