/* The program whose driver calls are refused: a kernel, a list, two queues, transfers. After the headers of the library and cmocka. */

enum { COUNT = 1000 };

static vd_kernel make_kernel(vd_context *ctx, vc_kernel **builder) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "triple";
    desc.buffers = vd_device(ctx, 0)->features & VD_FEATURE_ADDRESS ? VC_BUFFERS_ADDRESS : VC_BUFFERS_BINDING;
    *builder = vc_begin(&desc);
    vc_ref x = vc_buffer(*builder, "x", VC_U32, VC_READ_WRITE);
    vc_val by = vc_param(*builder, "by", VC_U32);
    VC_EACH(*builder, i) { vc_store(x, i, vc_mul(vc_load(x, i), by)); }
    return vd_kernel_build(ctx, *builder);
}

/* Commands in a list of its own and in the immediate ones of two queues; VD_OK: out has the result. */
static vd_result use_context(vd_context *ctx, vd_kernel kernel, uint32_t *out) {
    static uint32_t numbers[COUNT], seven[COUNT];
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    for (uint32_t i = 0; i < COUNT; i++) numbers[i] = i;
    for (uint32_t i = 0; i < COUNT; i++) seven[i] = 7;
    desc.type = VD_U32;
    desc.shape[0] = COUNT;
    desc.data = numbers;
    vd_buffer a = vd_buffer_create(ctx, &desc);
    if (!a.id) return vd_error_result();
    desc.data = NULL;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    if (!b.id) return vd_error_result();
    vd_result r = vd_run(ctx, kernel, COUNT, vd_b(a), vd_u32(3));
    vd_list *list = r ? NULL : vd_list_begin(ctx, NULL);
    if (!list) return vd_error_result();
    vd_arg args[2] = { vd_b(b), vd_u32(2) };
    vd_dispatch_desc dispatch;
    memset(&dispatch, 0, sizeof dispatch);
    dispatch.kernel = kernel;
    dispatch.threads[0] = COUNT;
    dispatch.args = args;
    dispatch.arg_count = 2;
    vd_copy(list, b, 0, a, 0, VD_WHOLE);
    vd_dispatch(list, &dispatch);
    vd_submit_desc submit;
    memset(&submit, 0, sizeof submit);
    vd_event event;
    r = vd_submit(list, &submit, &event);
    if (!r) r = vd_wait(ctx, event, VD_FOREVER);
    if (r) return r;
    vd_list *second = vd_immediate(ctx, 0, 1);
    r = second ? vd_write(second, a, 0, seven, 4 * COUNT / 2) : vd_error_result();
    if (!r) r = vd_copy(second, b, 0, a, 0, 4 * COUNT / 4);
    if (!r) r = vd_flush(ctx);
    if (!r) r = vd_buffer_read(ctx, b, 0, out, VD_WHOLE);
    if (!r) r = vd_wait_idle(ctx);
    vd_buffer_destroy(ctx, a);
    return r;
}

static void check_result(const uint32_t *out) {
    for (uint32_t i = 0; i < COUNT; i++)
        if (out[i] != (i < COUNT / 4 ? 7 : 6 * i)) fail_msg("element %u is %u after no error", i, out[i]);
}
