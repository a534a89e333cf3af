/* Invalid input: an error code, a message that names the mistake, a context that still works, and no leaks. */
#include "tests/unit/unit.h"

static vd_context *validate_ctx;
static vd_buffer validate_x, validate_y;
static vd_kernel validate_saxpy;

/* Setup and teardown of each test. Afterwards a dispatch and a read still work, and all memory is released. */
static int validate_setup(void **state) {
    unit_module module;
    (void)state;
    validate_ctx = unit_context(NULL);
    validate_x = unit_buffer(validate_ctx, "x", VD_F32, 1024, NULL);
    validate_y = unit_buffer(validate_ctx, "y", VD_F32, 1024, NULL);
    unit_saxpy(&module);
    validate_saxpy = unit_kernel(validate_ctx, &module, "saxpy");
    return validate_saxpy.id ? 0 : 1;
}

static vd_result validate_run(vd_arg a, vd_arg b, vd_arg c, vd_arg d, int count) {
    vd_arg args[4] = { a, b, c, d };
    return vd_run_args(validate_ctx, validate_saxpy, 1024, 1, 1, args, count);
}

static int validate_teardown(void **state) {
    float got[1024];
    (void)state;
    if (validate_run(vd_b(validate_x), vd_b(validate_y), vd_f32(2), vd_u32(1024), 4)) return 1;
    if (vd_buffer_read(validate_ctx, validate_y, 0, got, VD_WHOLE)) return 1;
    if (unit_stats(validate_ctx).buffers != 2 || unit_stats(validate_ctx).kernels != 1) return 1;
    vd_context_destroy(validate_ctx);
    return 0;
}

#define INVALID(call, text) do { assert_int_equal(call, VD_ERROR_INVALID); CHECK_TEXT(text); } while (0)
#define REFUSED(call, text) do { assert_int_equal((call).id, 0); CHECK_TEXT(text); } while (0)

static void null_everywhere(void **state) {
    float v = 0;
    const void *data;
    vd_ticket t = { 0 };
    vd_event e = { 0, 0, 0, 0 };
    (void)state;
    INVALID(vd_context_create(NULL, NULL), "out is NULL");
    assert_null(vd_device(NULL, 0));
    assert_null(vd_device(validate_ctx, 1));
    CHECK_TEXT("device index is 1");
    REFUSED(vd_buffer_create(NULL, NULL), "the context is NULL");
    REFUSED(vd_buffer_create(validate_ctx, NULL), "vd_buffer_create: desc is NULL");
    REFUSED(vd_kernel_create(validate_ctx, NULL), "vd_kernel_create: desc is NULL");
    INVALID(vd_buffer_write(NULL, validate_x, 0, &v, 4), "the context is NULL");
    INVALID(vd_buffer_write(validate_ctx, validate_x, 0, NULL, 4), "vd_buffer_write: data is NULL");
    INVALID(vd_buffer_read(validate_ctx, validate_x, 0, NULL, 4), "vd_buffer_read: data is NULL");
    INVALID(vd_buffer_query(validate_ctx, validate_x, NULL), "out is NULL");
    INVALID(vd_dispatch(NULL, NULL), "vd_dispatch: the list is NULL");
    INVALID(vd_dispatch(vd_immediate(validate_ctx, 0, 0), NULL), "vd_dispatch: desc is NULL");
    INVALID(vd_copy(NULL, validate_x, 0, validate_y, 0, 4), "vd_copy: the list is NULL");
    INVALID(vd_fill(NULL, validate_x, 0, 4, NULL, 0), "vd_fill: the list is NULL");
    INVALID(vd_write(NULL, validate_x, 0, &v, 4), "vd_write: the list is NULL");
    INVALID(vd_submit(NULL, NULL, NULL), "vd_submit: the list is NULL");
    INVALID(vd_list_end(NULL), "vd_list_end: the list is NULL");
    INVALID(vd_read_begin(vd_immediate(validate_ctx, 0, 0), NULL, &t), "desc is NULL");
    INVALID(vd_read_ready(validate_ctx, t, 0, &data), "the ticket handle is 0");
    INVALID(vd_read_ready(validate_ctx, t, 0, NULL), "data is NULL");
    INVALID(vd_wait(NULL, e, 0), "the context is NULL");
    INVALID(vd_context_stats(validate_ctx, NULL), "out is NULL");
    assert_null(vd_immediate(validate_ctx, 1, 0));
    CHECK_TEXT("vd_immediate: the device index is 1");
    assert_null(vd_immediate(validate_ctx, 0, 3));
    CHECK_TEXT("no queue 3");
    vd_list_discard(NULL);
    vd_context_destroy(NULL);
    vd_buffer none = { 0 };
    vd_buffer_destroy(validate_ctx, none);
}

static void buffer_descs(void **state) {
    vd_buffer_desc d;
    (void)state;
    memset(&d, 0, sizeof d);
    d.name = "b";
    REFUSED(vd_buffer_create(validate_ctx, &d), "vd_buffer_create 'b': desc.shape is 0 along all axes");
    d.shape[2] = 4;
    REFUSED(vd_buffer_create(validate_ctx, &d), "desc.shape[0] is 0, but desc.shape[2] is not");
    d.shape[0] = d.shape[1] = d.shape[2] = 1ull << 31;
    REFUSED(vd_buffer_create(validate_ctx, &d), "more than 2^63 - 1 bytes");
    d.shape[0] = UINT64_MAX;
    d.shape[1] = d.shape[2] = 0;
    d.type = VD_F64X4;
    REFUSED(vd_buffer_create(validate_ctx, &d), "f64x4");
    d.shape[0] = 1;
    d.type = 15;
    REFUSED(vd_buffer_create(validate_ctx, &d), "desc.type is 15, not a valid vd_type");
    d.type = 99999;
    REFUSED(vd_buffer_create(validate_ctx, &d), "desc.type is 99999, not a valid vd_type");
    d.type = VD_U8;
    d.shape[0] = 1ull << 40;
    REFUSED(vd_buffer_create(validate_ctx, &d), "the buffer has 1099511627776 bytes, but the limit of device 'dummy' is 2147483648 (max_buffer_bytes)");
}

static void ranges(void **state) {
    float v[2] = { 0, 0 };
    vd_list *l = vd_immediate(validate_ctx, 0, 0);
    (void)state;
    INVALID(vd_buffer_read(validate_ctx, validate_x, 4092, v, 8), "vd_buffer_read: 8 bytes at offset 4092 extend past the "
            "end of buffer 'x' (4096 bytes)");
    INVALID(vd_buffer_write(validate_ctx, validate_x, 5000, v, 0), "offset 5000 is past the end");
    INVALID(vd_buffer_write(validate_ctx, validate_x, 8, v, UINT64_MAX - 4), "past the end");
    INVALID(vd_fill(l, validate_x, 4096, 4, NULL, 0), "vd_fill: 4 bytes at offset 4096 extend");
    INVALID(vd_fill(l, validate_x, 0, 10, v, 4), "not a multiple of value_size 4");
    INVALID(vd_fill(l, validate_x, 0, 130, v, 65), "value_size is 65");
    INVALID(vd_fill(l, validate_x, 0, 4, v, 0), "value_size is 0");
    INVALID(vd_fill(l, validate_x, 0, 4, NULL, 4), "value is NULL, but value_size is 4; pass 0 to fill with zeros");
    INVALID(vd_copy(l, validate_x, 0, validate_y, 4000, 100), "source offset 4000");
    INVALID(vd_copy(l, validate_x, 4000, validate_y, 0, 100), "target offset 4000");
    INVALID(vd_copy(l, validate_x, 0, validate_x, 50, 100), "source and target overlap");
    assert_int_equal(vd_buffer_read(validate_ctx, validate_x, 4096, NULL, 0), VD_OK);
    assert_int_equal(vd_buffer_write(validate_ctx, validate_x, 0, NULL, 0), VD_OK);
}

static void dispatch_arguments(void **state) {
    (void)state;
    vd_buffer u = unit_buffer(validate_ctx, "u", VD_U32, 1024, NULL);
    vd_buffer raw = unit_buffer(validate_ctx, "raw", VD_BYTES, 4097, NULL);
    vd_arg none = vd_u32(0);
    none.kind = VD_ARG_NONE;
    none.type = VD_BYTES;
    INVALID(validate_run(vd_b(validate_x), vd_b(validate_y), vd_f32(2), vd_u32(4), 3),
            "vd_run 'saxpy': 3 arguments were passed, but the kernel expects 4");
    INVALID(validate_run(vd_b(validate_x), vd_b(u), vd_f32(2), vd_u32(4), 4),
            "vd_run 'saxpy': argument 1 'y' is a buffer of u32, but the kernel expects a buffer of f32");
    INVALID(validate_run(vd_b(validate_x), vd_f32(1), vd_f32(2), vd_u32(4), 4),
            "argument 1 'y' is a value of f32, but the kernel expects a buffer of f32");
    INVALID(validate_run(vd_b(validate_x), vd_b(validate_y), vd_b(validate_x), vd_u32(4), 4),
            "argument 2 'a' is a buffer, but the kernel expects a value of f32");
    INVALID(validate_run(vd_b(validate_x), vd_b(validate_y), vd_u32(2), vd_u32(4), 4),
            "argument 2 'a' is a value of u32, but the kernel expects a value of f32");
    INVALID(validate_run(vd_b(validate_x), vd_b(validate_y), vd_bits(15, 0), vd_u32(4), 4),
            "argument 2 'a' is a value of invalid type 15, but the kernel expects a value of f32");
    INVALID(validate_run(vd_bits(VD_BYTES, 0), vd_b(validate_y), vd_f32(2), vd_u32(4), 4),
            "argument 0 'x' is a value of bytes, but the kernel expects a buffer of f32");
    INVALID(validate_run(vd_b(validate_x), vd_b(validate_y), none, vd_u32(4), 4), "argument 2 'a' is not set");
    INVALID(validate_run(none, vd_b(validate_y), vd_f32(2), vd_u32(4), 4), "argument 0 'x' is not set");
    INVALID(validate_run(vd_b(validate_x), vd_b(validate_y), vd_value(VD_F32, NULL), vd_u32(4), 4), "argument 2 'a' "
            "is a value whose address is NULL");
    INVALID(validate_run(vd_value(VD_F32, NULL), vd_b(validate_y), vd_f32(2), vd_u32(4), 4), "argument 0 'x' is a "
            "value whose address is NULL");
    none.kind = (vd_arg_kind)7;
    INVALID(validate_run(vd_b(validate_x), vd_b(validate_y), none, vd_u32(4), 4),
            "argument 2 'a' is of kind 7, not a valid vd_arg_kind (1 to 5)");
    INVALID(validate_run(none, vd_b(validate_y), vd_f32(2), vd_u32(4), 4),
            "argument 0 'x' is of kind 7, not a valid vd_arg_kind (1 to 5)");
    vd_image image = { validate_x.id };
    vd_sampler sampler = { 1 };
    INVALID(validate_run(vd_b(validate_x), vd_b(validate_y), vd_i(image), vd_u32(4), 4),
            "argument 2 'a' is an image, but the kernel expects a value");
    INVALID(validate_run(vd_s(sampler), vd_b(validate_y), vd_f32(2), vd_u32(4), 4),
            "argument 0 'x' is a sampler, but the kernel expects a buffer");
    INVALID(validate_run(vd_i(image), vd_b(validate_y), vd_f32(2), vd_u32(4), 4),
            "argument 0 'x': the buffer must be passed with vd_b");
    INVALID(validate_run(vd_b(validate_y), vd_b(validate_y), vd_f32(2), vd_u32(4), 4), "arguments 0 'x' and 1 'y' "
            "overlap (both use buffer 'y'), and the kernel writes at least one of them");
    INVALID(validate_run(vd_b(raw), vd_b(validate_y), vd_f32(2), vd_u32(4), 4), "argument 0 'x' is a buffer of bytes "
            "(its desc.type is not set), but the kernel expects a buffer of f32");
    vd_buffer_destroy(validate_ctx, u);
    INVALID(validate_run(vd_b(validate_x), vd_b(u), vd_f32(2), vd_u32(4), 4), "argument 1 'y': the buffer was "
            "destroyed");
    vd_buffer_destroy(validate_ctx, raw);
    vd_kernel gone = { validate_saxpy.id ^ (1u << 24) };
    vd_arg args[4] = { vd_b(validate_x), vd_b(validate_y), vd_f32(2), vd_u32(4) };
    INVALID(vd_run_args(validate_ctx, gone, 1, 1, 1, args, 4), "vd_run: the kernel was destroyed");
    INVALID(vd_run_args(validate_ctx, validate_saxpy, 1, 1, 1, NULL, 4), "4 arguments were passed (args is NULL)");
    assert_int_equal(vd_wait_idle(validate_ctx), VD_OK);
}

static void dispatch_extents(void **state) {
    vd_dispatch_desc d;
    vd_arg args[4] = { vd_b(validate_x), vd_b(validate_y), vd_f32(2), vd_u32(4) };
    vd_list *l = vd_immediate(validate_ctx, 0, 0);
    (void)state;
    memset(&d, 0, sizeof d);
    d.kernel = validate_saxpy;
    d.args = args;
    d.arg_count = 4;
    INVALID(vd_dispatch(l, &d), "vd_dispatch 'saxpy': neither threads nor groups are set");
    d.threads[1] = 5;
    INVALID(vd_dispatch(l, &d), "threads is 0 x 5");
    d.threads[0] = 5;
    d.threads[1] = 0;
    d.threads[2] = 5;
    INVALID(vd_dispatch(l, &d), "threads[1] is 0, but threads[2] is not");
    d.threads[2] = 0;
    d.threads[0] = 1ull << 32;
    INVALID(vd_dispatch(l, &d), "threads[0] is 4294967296, but the limit is 2^32 - 1");
    d.threads[0] = 65536 * 64;
    assert_int_equal(vd_dispatch(l, &d), VD_ERROR_UNSUPPORTED);
    CHECK_TEXT("the dispatch has 65536 work-groups along axis 0, but the device's limit is 65535 (max_groups)");
    d.threads[0] = 0;
    d.groups[0] = UINT32_MAX;
    assert_int_equal(vd_dispatch(l, &d), VD_ERROR_UNSUPPORTED);
    CHECK_TEXT("the dispatch has 4294967295 work-groups along axis 0, but the device's limit is 65535 (max_groups)");
    d.groups[0] = 65535;
    d.groups[1] = 1;
    assert_int_equal(vd_dispatch(l, &d), VD_OK);
    d.threads[0] = 64;
    INVALID(vd_dispatch(l, &d), "vd_dispatch 'saxpy': both threads (64) and groups (65535 x 1) are set");
}

static void kernel_descs(void **state) {
    unit_module module;
    vd_kernel_desc d;
    vd_arg_info args[17];
    vd_implicit_info hidden, twice[2];
    (void)state;
    unit_saxpy(&module);
    memset(&d, 0, sizeof d);
    memset(args, 0, sizeof args);
    memset(&hidden, 0, sizeof hidden);
    d.name = "k";
    REFUSED(vd_kernel_create(validate_ctx, &d), "vd_kernel_create 'k': desc.code is NULL");
    d.code = module.words;
    d.code_size = 19;
    REFUSED(vd_kernel_create(validate_ctx, &d), "has 19 bytes");
    d.code_size = module.count * 4;
    d.entry = "other";
    REFUSED(vd_kernel_create(validate_ctx, &d), "no compute entry point 'other'");
    d.entry = NULL;
    d.features = VD_FEATURE_F64;
    d.local_size[0] = 32;
    REFUSED(vd_kernel_create(validate_ctx, &d), "desc.local_size is 32 x 1 x 1, but the local size of the module is 64 x 1 x 1");
    d.local_size[0] = 0;
    d.shared_bytes = 49153;
    REFUSED(vd_kernel_create(validate_ctx, &d), "needs 49153 bytes of shared memory, but the device's limit is 49152");
    d.shared_bytes = 0;
    d.arg_count = 1;
    REFUSED(vd_kernel_create(validate_ctx, &d), "desc.arg_count is 1, but desc.args is NULL");
    d.args = args;
    REFUSED(vd_kernel_create(validate_ctx, &d), "argument 0 '' has kind 0");
    args[0].kind = VD_ARG_VALUE;
    args[0].name = "v";
    REFUSED(vd_kernel_create(validate_ctx, &d), "argument 0 'v' has neither a type nor a size");
    args[0].type = VD_F64;
    args[0].size = 4;
    REFUSED(vd_kernel_create(validate_ctx, &d), "argument 0 'v' has 4 bytes in the argument block, but f64 has 8");
    args[0].size = 8;
    args[0].location = 4;
    d.argument_bytes = 8;
    REFUSED(vd_kernel_create(validate_ctx, &d), "argument 0 'v' ends at byte 12, but the argument block has 8 bytes");
    d.argument_bytes = 1028;
    REFUSED(vd_kernel_create(validate_ctx, &d), "desc.argument_bytes is 1028");
    d.argument_bytes = 16;
    d.implicit_count = -1;
    REFUSED(vd_kernel_create(validate_ctx, &d), "desc.implicit_count is -1, but it must not be negative");
    d.implicit = &hidden;
    d.implicit_count = 1;
    REFUSED(vd_kernel_create(validate_ctx, &d), "desc.implicit[0].kind is ");
    hidden.kind = VD_IMPLICIT_LENGTH; /* an implicit argument of a value */
    REFUSED(vd_kernel_create(validate_ctx, &d), "desc.implicit[0].arg is ");
    hidden.kind = VD_IMPLICIT_THREADS;
    hidden.offset = 8; /* the second half of 'v' */
    REFUSED(vd_kernel_create(validate_ctx, &d), "desc.implicit[0].offset is 8, but argument 0 has bytes 4 to 11 of the "
            "argument block");
    hidden.offset = 12;
    twice[0] = twice[1] = hidden;
    d.implicit = twice;
    d.implicit_count = 2;
    REFUSED(vd_kernel_create(validate_ctx, &d), "desc.implicit[0] and desc.implicit[1] both have offset 12");
    d.implicit_count = 0;
    args[1] = args[0];
    args[1].name = "w";
    args[1].type = VD_F32;
    args[1].size = 4;
    args[1].location = 8;
    d.arg_count = 2;
    REFUSED(vd_kernel_create(validate_ctx, &d), "argument 1 'w' has bytes 8 to 11 of the argument block, and argument 0 "
            "bytes 4 to 11; they must not overlap");
    for (uint32_t i = 0; i < 17; i++) {
        args[i].kind = VD_ARG_BINDING;
        args[i].type = VD_F32;
        args[i].access = VD_READ;
        args[i].location = i;
    }
    d.arg_count = 17;
    REFUSED(vd_kernel_create(validate_ctx, &d), "17 buffers by binding, but the device's limit is 16");
    args[2].location = 1;
    REFUSED(vd_kernel_create(validate_ctx, &d), "arguments 1 and 2 both have binding 1");
    args[1].access = 4;
    REFUSED(vd_kernel_create(validate_ctx, &d), "has access 4");
    d.arg_count = 65;
    REFUSED(vd_kernel_create(validate_ctx, &d), "desc.arg_count is 65, but must be 0 to 64");
}

static void kernels_beyond_the_limits(void **state) {
    vd_device_info device;
    unit_module module;
    vd_kernel_desc d;
    (void)state;
    memset(&device, 0, sizeof device);
    device.limits.max_local_size[0] = 32;
    memcpy(device.name, "small", 6);
    vd_context *small = unit_context(&device);
    unit_saxpy(&module);
    memset(&d, 0, sizeof d);
    d.name = "k";
    d.code = module.words;
    d.code_size = module.count * 4;
    REFUSED(vd_kernel_create(small, &d), "local_size[0] is 64, but the device's limit is 32");
    d.features = VD_FEATURE_F64 | VD_FEATURE_I64;
    REFUSED(vd_kernel_create(small, &d), "needs feature f64, which device 'small' does not have (more features are missing)");
    d.features = (uint64_t)1 << 40;
    REFUSED(vd_kernel_create(small, &d), "needs feature 0x10000000000, which device 'small' does not have");
    d.threads[1] = 5;
    REFUSED(vd_kernel_create(small, &d), "desc.threads[0] is 0, but desc.threads[1] is not");
    vd_context_destroy(small);
}

static void events(void **state) {
    vd_event e, none = { 0, 0, 0, 0 };
    vd_submit_desc d;
    vd_context *other = unit_context(NULL);
    (void)state;
    assert_int_equal(vd_fill(vd_immediate(validate_ctx, 0, 0), validate_x, 0, 4, NULL, 0), VD_OK);
    assert_int_equal(vd_submit(vd_immediate(validate_ctx, 0, 0), NULL, &e), VD_OK);
    assert_int_equal(vd_wait(validate_ctx, e, VD_FOREVER), VD_OK);
    assert_int_equal(vd_wait(validate_ctx, none, 0), VD_OK);
    INVALID(vd_wait(other, e, 0), "vd_wait: the event belongs to another context");
    memset(&d, 0, sizeof d);
    d.waits = &e;
    d.wait_count = 1;
    INVALID(vd_submit(vd_immediate(other, 0, 0), &d, NULL), "vd_submit: the event belongs to another context");
    assert_int_equal(vd_submit(vd_immediate(validate_ctx, 0, 0), &d, NULL), VD_OK);
    e.value += 100;
    INVALID(vd_wait(validate_ctx, e, 0), "the last submission of its queue has");
    e.value -= 100;
    e.queue = 2;
    INVALID(vd_wait(validate_ctx, e, 0), "queue 2");
    d.waits = NULL;
    INVALID(vd_submit(vd_immediate(validate_ctx, 0, 0), &d, NULL), "desc.wait_count is 1, but desc.waits is NULL");
    d.wait_count = -1;
    INVALID(vd_submit(vd_immediate(validate_ctx, 0, 0), &d, NULL), "desc.wait_count is -1, but it must not be negative");
    vd_context_destroy(other);
}

static void lists(void **state) {
    (void)state;
#ifndef __cplusplus /* in C++ a value that is no enumerator is undefined behaviour */
    vd_list_desc d;
    memset(&d, 0, sizeof d);
    d.kind = (vd_list_kind)1;
    assert_null(vd_list_begin(validate_ctx, &d));
    CHECK_TEXT("desc.kind is 1, but must be VD_LIST_ONCE");
#endif
    INVALID(vd_list_end(vd_immediate(validate_ctx, 0, 0)), "cannot be ended");
    vd_list *l = vd_list_begin(validate_ctx, NULL);
    INVALID(vd_fill(l, validate_x, 5000, 4, NULL, 0), "offset 5000");
    INVALID(vd_copy(l, validate_x, 0, validate_y, 0, 4), "vd_fill: offset 5000"); /* the first error is kept */
    INVALID(vd_list_end(l), "vd_fill: offset 5000");
    INVALID(vd_submit(l, NULL, NULL), "vd_fill: offset 5000");
    INVALID(vd_submit(l, NULL, NULL), "already submitted or discarded");
    l = vd_list_begin(validate_ctx, NULL);
    assert_int_equal(vd_fill(l, validate_x, 0, 4, NULL, 0), VD_OK);
    assert_int_equal(vd_list_end(l), VD_OK);
    INVALID(vd_fill(l, validate_x, 0, 4, NULL, 0), "vd_fill: the list was already ended");
    vd_event e;
    assert_int_equal(vd_submit(l, NULL, &e), VD_OK);
    assert_int_equal(vd_wait(validate_ctx, e, VD_FOREVER), VD_OK);
    l = vd_list_begin(validate_ctx, NULL);
    assert_int_equal(vd_submit(l, NULL, &e), VD_OK); /* an empty list */
    assert_int_equal(vd_wait(validate_ctx, e, VD_FOREVER), VD_OK);
}

static void environment(void **state) {
    vd_context *c = NULL;
    vd_context_desc d;
    (void)state;
    memset(&d, 0, sizeof d);
    setenv("VKDISPATCH_BACKEND", "metal", 1);
    INVALID(vd_context_create(NULL, &c), "VKDISPATCH_BACKEND is 'metal'; the choices are:");
#if VD__HAS_VULKAN
    assert_non_null(strstr(vd_error_text(), ": vulkan, cuda, dummy (not compiled in: opencl, see VKDISPATCH_OPENCL)"));
#endif
    setenv("VKDISPATCH_BACKEND", "dummy", 1);
    setenv("VKDISPATCH_DEVICE", "3", 1);
    assert_int_equal(vd_context_create(NULL, &c), VD_ERROR_NO_DEVICE);
    CHECK_TEXT("VKDISPATCH_DEVICE is 3, but the dummy devices are: 0 'dummy'");
    setenv("VKDISPATCH_DEVICE", "99999999999999999999", 1);
    assert_int_equal(vd_context_create(NULL, &c), VD_ERROR_NO_DEVICE);
    CHECK_TEXT("VKDISPATCH_DEVICE is 99999999999999999999, but the");
    for (int i = 0; i < 2; i++) {
        d.device = i ? 7 : -5;
        assert_int_equal(vd_context_create(&d, &c), VD_ERROR_NO_DEVICE);
        CHECK_TEXT(i ? "desc.device is 7 (1 + index), but the dummy devices are: 0 'dummy'" : "desc.device is -5 (1 + index), but the");
    }
    d.device = 0;
    setenv("VKDISPATCH_DEVICE", "geforce", 1);
    assert_int_equal(vd_context_create(NULL, &c), VD_ERROR_NO_DEVICE);
    CHECK_TEXT("is 'geforce', but no dummy device has a name that contains it");
    setenv("VKDISPATCH_DEVICE", "UMM", 1);
    setenv("VKDISPATCH_BUFFERS", "texture", 1);
    INVALID(vd_context_create(NULL, &c), "VKDISPATCH_BUFFERS is 'texture'; the choices are: binding, address");
    setenv("VKDISPATCH_BUFFERS", "binding", 1);
    setenv("VKDISPATCH_COPIES", "magic", 1); /* affects only Vulkan, but is invalid for every backend */
    INVALID(vd_context_create(NULL, &c), "VKDISPATCH_COPIES is 'magic'; the choices are: kernel, driver");
    setenv("VKDISPATCH_COPIES", "Kernel", 1);
    assert_int_equal(vd_context_create(NULL, &c), VD_OK);
    assert_false(vd_device(c, 0)->features & VD_FEATURE_ADDRESS);
    vd_context_destroy(c);
    unsetenv("VKDISPATCH_BACKEND");
    unsetenv("VKDISPATCH_DEVICE");
    unsetenv("VKDISPATCH_BUFFERS");
    unsetenv("VKDISPATCH_COPIES");
    d.backend = VD_BACKEND_OPENCL;
    INVALID(vd_context_create(&d, &c), "desc.backend is 4 (opencl), which is not compiled in; the choices are: ");
    d.backend = (vd_backend)99;
    INVALID(vd_context_create(&d, &c), "desc.backend is 99, not a valid vd_backend (0 to 4)");
    for (int i = 0; i < 2; i++) { /* without CUDA the stream would be ignored */
        d.backend = i ? VD_BACKEND_DUMMY : VD_BACKEND_DEFAULT;
        d.cuda_stream = &d;
        INVALID(vd_context_create(&d, &c), i ? "desc.cuda_stream requires VD_BACKEND_CUDA, but desc.backend is 2" : "desc.backend is 0");
    }
    d.cuda_stream = NULL;
    d.backend = VD_BACKEND_DUMMY;
    d.allocator.allocate = vd__default_allocate;
    INVALID(vd_context_create(&d, &c), "desc.allocator.reallocate is NULL; set allocate, reallocate and release, or none");
    INVALID(vd_context_create_version(NULL, &c, 990000), "vkdispatch.h 99.0.0, but the implementation is");
}

/* ---- an allocator that fails on the n-th call ---- */

static int calls_left;

static void *failing_allocate(void *user, size_t size) {
    (void)user;
    return calls_left-- > 0 ? malloc(size) : NULL;
}

static void *failing_reallocate(void *user, void *block, size_t size) {
    (void)user;
    return calls_left-- > 0 ? realloc(block, size) : NULL;
}

static void failing_release(void *user, void *block) {
    (void)user;
    free(block);
}

static void no_host_memory(void **state) {
    unit_module module;
    vd_context_desc d;
    (void)state;
    memset(&d, 0, sizeof d);
    d.backend = VD_BACKEND_DUMMY;
    d.allocator.allocate = failing_allocate;
    d.allocator.reallocate = failing_reallocate;
    d.allocator.release = failing_release;
    unit_saxpy(&module);
    for (int n = 0; n < 60; n++) {
        vd_context *c = NULL;
        float v[4] = { 1, 2, 3, 4 };
        calls_left = n;
        if (vd_context_create(&d, &c)) continue;
        vd_buffer a = unit_buffer(c, "a", VD_F32, 4, v), b = unit_buffer(c, "b", VD_F32, 4, NULL);
        vd_kernel k = unit_kernel(c, &module, "k");
        vd_list *l = vd_list_begin(c, NULL);
        vd_copy(l, a, 0, b, 0, 4);
        vd_submit(l, NULL, NULL);
        vd_arg args[4] = { vd_b(a), vd_b(b), vd_f32(1), vd_u32(4) };
        vd_run_args(c, k, 4, 1, 1, args, 4);
        vd_buffer_read(c, a, 0, v, VD_WHOLE);
        calls_left = 1 << 20;
        vd_wait_idle(c); /* the open batch may have failed */
        vd_buffer e = unit_buffer(c, "e", VD_F32, 4, v);
        assert_int_equal(vd_buffer_read(c, e, 0, v, VD_WHOLE), VD_OK);
        vd_context_destroy(c);
    }
}

/* Source text is not parsed: arguments and local size come from the desc. Code kinds that a backend does not accept are
   named in the error. */
static void code_of_other_kinds(void **state) {
    (void)state;
    static const char text[] = "kernel void k() {}";
    vd_kernel_desc d;
    vd_kernel k;
    memset(&d, 0, sizeof d);
    d.name = "text";
    d.code_kind = VD_CODE_OPENCL;
    assert_true(vd_kernel_create(validate_ctx, &d).id == 0);
    CHECK_TEXT("desc.code is NULL");
    d.code = text;
    assert_true(vd_kernel_create(validate_ctx, &d).id == 0);
    CHECK_TEXT("local_size[0] is 0");
    d.local_size[0] = d.local_size[1] = d.local_size[2] = 1;
    k = vd_kernel_create(validate_ctx, &d);
    assert_true(k.id != 0);
    vd_kernel_destroy(validate_ctx, k);
    d.code_size = 6; /* not zero-terminated */
    k = vd_kernel_create(validate_ctx, &d);
    assert_true(k.id != 0);
    vd_kernel_destroy(validate_ctx, k);
    d.arg_count = 1;
    assert_true(vd_kernel_create(validate_ctx, &d).id == 0);
    CHECK_TEXT("desc.arg_count is 1, but desc.args is NULL");
    d.arg_count = 0;
    d.code = "";
    d.code_size = 0;
    assert_true(vd_kernel_create(validate_ctx, &d).id == 0);
    CHECK_TEXT("the OpenCL C code is empty");
    d.code_kind = VD_CODE_CUBIN;
    d.code = text;
    assert_true(vd_kernel_create(validate_ctx, &d).id == 0);
    CHECK_TEXT("the cubin code is empty");
    d.code_kind = (vd_code)8;
    assert_true(vd_kernel_create(validate_ctx, &d).id == 0);
    CHECK_TEXT("desc.code_kind is 8, not a valid vd_code (0 to 7)");
}

/* A backend that only accepts SPIR-V says so. */
static void code_that_a_backend_does_not_accept(void **state) {
    (void)state;
    const vd__backend *real = validate_ctx->driver.backend;
    vd__backend narrow = *real;
    vd_kernel_desc d;
    memset(&d, 0, sizeof d);
    d.name = "text";
    d.code_kind = VD_CODE_PTX;
    d.code = "x";
    memset(narrow.codes, 0, sizeof narrow.codes);
    narrow.codes[0] = VD_CODE_SPIRV;
    narrow.codes[1] = VD_CODE_CUBIN;
    validate_ctx->driver.backend = &narrow;
    assert_true(vd_kernel_create(validate_ctx, &d).id == 0);
    CHECK_TEXT("desc.code_kind is PTX (3), but backend dummy accepts SPIR-V, cubin");
    validate_ctx->driver.backend = real;
}

/* The error contains the first error of the compiler's log and the source line it is about. */
static void logs_of_compilers(void **state) {
    static const char source[] = "first\n  int x = y;\nthird";
    static const struct { const char *log, *text; } rows[] = {
        { "warning: 1 thing\n/tmp/a_b.cl:2:11: error: use of y\nmore",
          "X failed to compile the code: error: use of y; source line 2 is 'int x = y;'" },
        { "k.cu(3): error: no\n", "X failed to compile the code: error: no; source line 3 is 'third'" },
        { "error: /a/b.cl:1:2: bad\nerror: x.cl:2:1: worse",
          "X failed to compile the code: error: /a/b.cl:1:2: bad; source line 1 is 'first'" },
        { "k.cu(30): error: past the end\n", "X failed to compile the code: k.cu(30): error: past the end\n" },
        { "a.cl:3:1: warning: unused variable 'error_sum'\na.cl:2:7: error: use of y\n",
          "X failed to compile the code: error: use of y; source line 2 is 'int x = y;'" },
        { "something else", "X failed to compile the code: something else" },
        { "", "X failed to compile the code: the compiler's log is empty" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(vd__fail_compile("X", source, rows[i].log), VD_ERROR_COMPILE);
        assert_string_equal(vd_error_text(), rows[i].text);
    }
}

/* One written buffer among the maximum number of arguments: an alias is found at every position, and no other argument
   is mistaken for one. */
static void aliases_among_many_arguments(void **state) {
    static char names[VD_MAX_ARGS][8];
    static vd_buffer buffers[2 * VD_MAX_ARGS];
    vd_arg_info infos[VD_MAX_ARGS];
    vd_arg args[VD_MAX_ARGS];
    vd_kernel_desc desc;
    unit_module module;
    uint64_t random = 1;
    (void)state;
    memset(infos, 0, sizeof infos);
    memset(&desc, 0, sizeof desc);
    for (uint32_t i = 0; i < VD_MAX_ARGS; i++) {
        snprintf(names[i], sizeof names[i], "b%u", i);
        infos[i].name = names[i];
        infos[i].kind = VD_ARG_ADDRESS;
        infos[i].type = VD_F32;
        infos[i].access = i ? VD_READ : VD_READ_WRITE;
        infos[i].location = 8 * i;
        infos[i].size = 8;
    }
    unit_saxpy(&module);
    desc.name = "many";
    desc.code = module.words;
    desc.code_size = module.count * 4;
    desc.args = infos;
    desc.arg_count = VD_MAX_ARGS;
    desc.argument_bytes = 8 * VD_MAX_ARGS;
    vd_kernel many = vd_kernel_create(validate_ctx, &desc);
    if (!many.id) fail_msg("%s", vd_error_text());
    for (int i = 0; i < 2 * VD_MAX_ARGS; i++) buffers[i] = unit_buffer(validate_ctx, "b", VD_F32, 16, NULL);
    for (int round = 0; round < 500; round++) {
        char text[96];
        for (uint32_t i = 0; i < VD_MAX_ARGS; i++)
            args[i] = vd_b(buffers[(i * 2 + (unit_random(&random) & 1u) + (uint32_t)round) % (2 * VD_MAX_ARGS)]);
        assert_int_equal(vd_run_args(validate_ctx, many, 64, 1, 1, args, VD_MAX_ARGS), VD_OK);
        uint32_t same = 1 + unit_random(&random) % (VD_MAX_ARGS - 1);
        args[same] = args[0];
        snprintf(text, sizeof text, "arguments 0 'b0' and %u 'b%u' overlap", same, same);
        INVALID(vd_run_args(validate_ctx, many, 64, 1, 1, args, VD_MAX_ARGS), text);
        args[0] = vd_b(validate_x);
        args[same] = args[same == 1 ? 2 : 1]; /* two that are only read */
        assert_int_equal(vd_run_args(validate_ctx, many, 64, 1, 1, args, VD_MAX_ARGS), VD_OK);
    }
    for (int i = 0; i < 2 * VD_MAX_ARGS; i++) vd_buffer_destroy(validate_ctx, buffers[i]);
    vd_kernel_destroy(validate_ctx, many);
    assert_int_equal(vd_wait_idle(validate_ctx), VD_OK);
}

/* Structs have no scalar type: their default alignment is 4 bytes, whatever their size. */
static void views_of_structs(void **state) {
    (void)state;
    for (uint32_t size = 4; size <= 64; size += 4) {
        unit_module module;
        unit_saxpy(&module);
        vd_arg_info infos[2];
        memset(infos, 0, sizeof infos);
        for (uint32_t i = 0; i < 2; i++) {
            infos[i].name = i ? "b" : "a";
            infos[i].kind = VD_ARG_ADDRESS;
            infos[i].type = VD_STRUCT(size);
            infos[i].access = i ? VD_WRITE : VD_READ;
            infos[i].location = 8 * i;
            infos[i].size = 8;
        }
        vd_kernel_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.code = module.words;
        desc.code_size = module.count * 4;
        desc.args = infos;
        desc.arg_count = 2;
        desc.argument_bytes = 16;
        for (int i = 0; i < 3; i++) desc.local_size[i] = i ? 1 : 64;
        vd_kernel k = vd_kernel_create(validate_ctx, &desc);
        vd_buffer a = unit_buffer(validate_ctx, "a", VD_STRUCT(size), 8, NULL);
        vd_buffer b = unit_buffer(validate_ctx, "b", VD_STRUCT(size), 8, NULL);
        vd_view_desc view;
        memset(&view, 0, sizeof view);
        view.buffer = a;
        view.offset = size;
        view.type = VD_STRUCT(size);
        view.shape[0] = 4;
        vd_buffer second = vd_buffer_view(validate_ctx, &view);
        if (!second.id || vd_run(validate_ctx, k, 4, vd_b(second), vd_b(b)))
            fail_msg("%u bytes: %s", size, vd_error_text());
        vd_buffer_destroy(validate_ctx, a);
        vd_buffer_destroy(validate_ctx, b);
        vd_kernel_destroy(validate_ctx, k);
    }
    assert_int_equal(vd_wait_idle(validate_ctx), VD_OK);
}

/* Only floats form matrices and complex numbers, a vector has at most 4 components, and complex numbers have no
   rows. */
static void types_that_do_not_exist(void **state) {
    static const vd_type wrong[] = {
        VD_VEC(VD_F32, 5), VD_COMPLEX(VD_I32), VD_COMPLEX(VD_VEC(VD_F32, 2)), VD_MAT(VD_U32, 2, 2),
        VD_MAT(VD_BOOL, 3, 4), (vd_type)13, (vd_type)0x40, (vd_type)0x200,
    };
    (void)state;
    for (size_t i = 0; i < VD__COUNT(wrong); i++) {
        vd_buffer_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.type = wrong[i];
        desc.shape[0] = 4;
        assert_int_equal(vd_type_size(wrong[i]), 0);
        assert_string_equal(vd_type_name(wrong[i]), "invalid");
        assert_int_equal(vd_buffer_create(validate_ctx, &desc).id, 0);
        assert_int_equal(vd_error_result(), VD_ERROR_INVALID);
    }
    assert_int_equal(vd_type_size(VD_MAT(VD_F16, 4, 3)), 24);
    assert_int_equal(vd_type_size(VD_COMPLEX(VD_F64)), 16);
    assert_int_equal(vd_type_size(VD_VEC(VD_BOOL, 3)), 12);
}

/* vd_kernel_arg_query returns the alignment that a dispatch requires; bindings end at 63 on every backend. */
static void resolved_arguments(void **state) {
    unit_module module;
    vd_kernel_arg_info info;
    vd_arg_info arg;
    vd_kernel_desc desc;
    (void)state;
    assert_int_equal(vd_kernel_arg_query(validate_ctx, validate_saxpy, 0, &info), VD_OK);
    assert_int_equal(info.arg.align, 4);
    unit_saxpy(&module);
    memset(&arg, 0, sizeof arg);
    memset(&desc, 0, sizeof desc);
    arg.name = "x";
    arg.kind = VD_ARG_BINDING;
    arg.type = VD_F64;
    arg.access = VD_READ;
    desc.code = module.words;
    desc.code_size = module.count * 4;
    desc.args = &arg;
    desc.arg_count = 1;
    for (arg.location = 62; arg.location < 65; arg.location++) {
        vd_kernel k = vd_kernel_create(validate_ctx, &desc);
        assert_int_equal(k.id != 0, arg.location < 64);
        if (!k.id) continue;
        assert_int_equal(vd_kernel_arg_query(validate_ctx, k, 0, &info), VD_OK);
        assert_int_equal(info.arg.align, 8);
        vd_kernel_destroy(validate_ctx, k);
    }
    assert_int_equal(vd_error_result(), VD_ERROR_UNSUPPORTED);
    assert_int_equal(vd_wait_idle(validate_ctx), VD_OK);
}

/* Public functions for libraries on top accept NULL, and a cache kind cannot name a path outside the directory. */
static void calls_for_libraries(void **state) {
    vd_context *c = NULL;
    vd_context_desc desc;
    int devices[2] = { 0, 0 }, key = 1;
    char data[4] = "abc";
    (void)state;
    vd_callback_scope_begin(validate_ctx, "x", NULL);
    vd_callback_scope_end(NULL);
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    desc.devices = devices;
    INVALID(vd_context_create(&desc, &c), "desc.devices is set, but desc.device_count is 0");
    desc.devices = NULL;
    desc.cache_directory = "build";
    assert_int_equal(vd_context_create(&desc, &c), VD_OK);
    vd_cache_store(c, "../build/x", &key, sizeof key, data, sizeof data);
    assert_int_equal(vd_cache_load(c, "../build/x", &key, sizeof key, data, sizeof data), 0);
    vd_context_destroy(c);
}

static void names_of_backends(void **state) {
    (void)state;
    for (int b = VD_BACKEND_DEFAULT; b <= VD_BACKEND_OPENCL; b++)
        assert_int_equal(vd_backend_from_name(vd_backend_name((vd_backend)b)), b);
    assert_string_equal(vd_backend_name(VD_BACKEND_OPENCL), "opencl");
    assert_string_equal(vd_backend_name((vd_backend)77), "");
    assert_int_equal(vd_backend_from_name("OpenCL"), VD_BACKEND_OPENCL);
    assert_int_equal(vd_backend_from_name("open"), VD_BACKEND_DEFAULT);
    assert_int_equal(vd_backend_from_name(NULL), VD_BACKEND_DEFAULT);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, validate_setup, validate_teardown)

static const struct CMUnitTest validate_tests[] = {
    CASE(null_everywhere), CASE(buffer_descs), CASE(ranges), CASE(dispatch_arguments), CASE(dispatch_extents),
    CASE(kernel_descs), CASE(code_of_other_kinds), CASE(code_that_a_backend_does_not_accept), CASE(logs_of_compilers),
    CASE(names_of_backends), CASE(views_of_structs), CASE(types_that_do_not_exist), CASE(resolved_arguments),
    CASE(calls_for_libraries), CASE(aliases_among_many_arguments), CASE(kernels_beyond_the_limits), CASE(events),
    CASE(lists), CASE(environment), CASE(no_host_memory),
};
#undef CASE
