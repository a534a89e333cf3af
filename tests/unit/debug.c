/* Debug mode: every failed call is logged once under the name that the user called, unchecked failures are reported
   again, a kernel handle of 0 names its failure, and the log defaults to stderr. */
#include "tests/unit/unit.h"

static struct { int count; vd_log_level level; char text[1024]; } debug_log;

static void debug_log_message(void *user, vd_log_level level, const char *text) {
    (void)user;
    debug_log.count++;
    debug_log.level = level;
    snprintf(debug_log.text, sizeof debug_log.text, "%s", text);
}

static vd_context *debug_context(bool debug) {
    vd_context_desc desc;
    vd_context *ctx = NULL;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    desc.debug = debug;
    desc.log = debug_log_message;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    memset(&debug_log, 0, sizeof debug_log);
    return ctx;
}

static vd_buffer debug_buffer(vd_context *ctx, const char *name, vd_type type) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    desc.type = type;
    desc.shape[0] = 64;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    assert_true(b.id != 0);
    return b;
}

/* x[i] = by */
static vd_kernel debug_kernel(vd_context *ctx) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "set";
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_WRITE);
    vc_val by = vc_param(k, "by", VC_U32);
    VC_EACH(k, i) { vc_store(x, i, by); }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    assert_true(kernel.id != 0);
    return kernel;
}

/* The call that was just made has logged its error, once. */
static void debug_check_logged(const char *call, const char *name) {
    if (debug_log.count != 1) fail_msg("%s: %d messages, the last is '%s'", call, debug_log.count, debug_log.text);
    assert_int_equal(debug_log.level, VD_LOG_ERROR);
    assert_string_equal(debug_log.text, vd_error_text());
    if (strncmp(debug_log.text, name, strlen(name)) != 0) fail_msg("%s logs '%s'", call, debug_log.text);
    memset(&debug_log, 0, sizeof debug_log);
}
#define LOGS(name, ...) ((void)(__VA_ARGS__), debug_check_logged(#__VA_ARGS__, name))

static vd_result debug_use_fails(vd_context *ctx, void **data, void *user) {
    (void)ctx, (void)data, (void)user;
    return vd_error_set(VD_ERROR_IO, "no file");
}

static vd_result debug_native_fails(const vd_native *native, void *user) {
    (void)native, (void)user;
    return VD_ERROR_IO;
}

static void calls_with_a_context_are_logged(void **state) {
    static const int key;
    vd_context *ctx = debug_context(true);
    vd_buffer none = { 0 }, stale, b = debug_buffer(ctx, "b", VD_U32);
    vd_kernel no_kernel = { 0 }, wrong = { 77 };
    vd_ticket wrong_ticket = { 77 };
    vd_event wrong_event = { 1, 99, 0, 0 };
    vd_view_desc view;
    vd_region_desc region;
    uint32_t word = 0;
    void *pointer;
    const void *data;
    vd_external external;
    vd_stats stats;
    vd_kernel_desc kernel_desc;
    (void)state;
    memset(&view, 0, sizeof view);
    memset(&region, 0, sizeof region);
    memset(&kernel_desc, 0, sizeof kernel_desc);
    stale.id = 77;
    LOGS("vd_device:", vd_device(ctx, 3));
    LOGS("vd_context_stats", vd_context_stats(ctx, NULL));
    LOGS("vd_context_attach", vd_context_attach(ctx, NULL, debug_use_fails, NULL, NULL));
    LOGS("", vd_context_attach(ctx, &key, debug_use_fails, NULL, NULL));
    LOGS("vd_native_use", vd_native_use(ctx, 0, 9, debug_native_fails, NULL));
    LOGS("vd_native_use", vd_native_use(ctx, 0, 0, debug_native_fails, NULL));
    LOGS("vd_buffer_create", vd_buffer_create(ctx, NULL));
    LOGS("vd_buffer_view", vd_buffer_view(ctx, NULL));
    LOGS("vd_buffer_view", vd_buffer_view(ctx, &view));
    LOGS("vd_buffer_destroy", (vd_buffer_destroy(ctx, stale), 0));
    LOGS("vd_buffer_query", vd_buffer_query(ctx, b, NULL));
    LOGS("vd_buffer_write", vd_buffer_write(ctx, none, 0, &word, 4));
    vd_error_text();
    LOGS("vd_buffer_write", vd_buffer_write(ctx, b, 1000, &word, 4));
    LOGS("vd_buffer_read", vd_buffer_read(ctx, stale, 0, &word, 4));
    LOGS("vd_buffer_write_region", vd_buffer_write_region(ctx, NULL, &word));
    LOGS("vd_buffer_read_region", vd_buffer_read_region(ctx, &region, &word));
    LOGS("vd_buffer_send", vd_buffer_send(ctx, b, 0, 0, none, 0, 0, 4));
    LOGS("vd_buffer_send", vd_buffer_send(ctx, b, 0, 0, b, 5, 0, 4));
    LOGS("vd_buffer_map", vd_buffer_map(ctx, b, 0, 0, &pointer));
    LOGS("vd_buffer_unmap", vd_buffer_unmap(ctx, b, 0));
    LOGS("vd_buffer_export", vd_buffer_export(ctx, b, &external));
    LOGS("vd_dlpack_export", vd_dlpack_export(ctx, b, 0, NULL));
    LOGS("vd_dlpack_import", vd_dlpack_import(ctx, NULL, "t"));
    LOGS("vd_kernel_create", vd_kernel_create(ctx, &kernel_desc));
    LOGS("vd_kernel_load", vd_kernel_load(ctx, &word, 4, "k"));
    LOGS("vd_kernel_destroy", (vd_kernel_destroy(ctx, wrong), 0));
    LOGS("vd_kernel_query", vd_kernel_query(ctx, no_kernel, NULL));
    LOGS("vd_kernel_build", vd_kernel_build(ctx, NULL));
    LOGS("vd_immediate", vd_immediate(ctx, 0, 8));
    LOGS("vd_list_get_status", vd_list_get_status(ctx, wrong_ticket));
    LOGS("vd_run", vd_run_args(ctx, no_kernel, 1, 1, 1, NULL, 0));
    LOGS("vd_read_ready", vd_read_ready(ctx, wrong_ticket, 0, &data));
    LOGS("vd_read_end", (vd_read_end(ctx, wrong_ticket), 0));
    LOGS("vd_wait", vd_wait(ctx, wrong_event, 0));
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    assert_int_equal(vd_context_stats(ctx, &stats), VD_OK);
    assert_int_equal(debug_log.count, 0);
    vd_buffer_destroy(ctx, b);
    vd_context_destroy(ctx);
}

/* Later calls with a list that has failed return its error again, but it was logged already. */
static void calls_with_a_list_are_logged(void **state) {
    vd_context *ctx = debug_context(true);
    vd_buffer none = { 0 }, b = debug_buffer(ctx, "b", VD_U32);
    vd_list_desc list_desc;
    vd_region_desc region;
    uint32_t word = 0;
    (void)state;
    memset(&list_desc, 0, sizeof list_desc);
    memset(&region, 0, sizeof region);
    list_desc.device = 9;
    LOGS("vd_list_begin", vd_list_begin(ctx, &list_desc));
    LOGS("vd_list_end", vd_list_end(vd_immediate(ctx, 0, 0)));
    LOGS("vd_list_discard", (vd_list_discard(vd_immediate(ctx, 0, 0)), 0));
    for (int way = 0; way < 8; way++) {
        vd_list *l = vd_list_begin(ctx, NULL);
        switch (way) {
        case 0: LOGS("vd_dispatch", vd_dispatch(l, NULL)); break;
        case 1: LOGS("vd_copy", vd_copy(l, b, 0, none, 0, 4)); break;
        case 2: LOGS("vd_copy_region", vd_copy_region(l, NULL)); break;
        case 3: LOGS("vd_fill", vd_fill(l, none, 0, 4, NULL, 0)); break;
        case 4: LOGS("vd_record_native", vd_record_native(l, NULL)); break;
        case 5: LOGS("vd_write", vd_write(l, b, 999, &word, 4)); break;
        case 6: LOGS("vd_write_region", vd_write_region(l, &region, &word)); break;
        default: LOGS("vd_read_begin", vd_read_begin(l, NULL, NULL)); break;
        }
        assert_int_equal(vd_fill(l, b, 0, 4, NULL, 0), VD_ERROR_INVALID);
        assert_int_equal(vd_submit(l, NULL, NULL), VD_ERROR_INVALID);
        assert_int_equal(debug_log.count, 0);
    }
    vd_list *l = vd_list_begin(ctx, NULL);
    assert_int_equal(vd_submit(l, NULL, NULL), VD_OK);
    LOGS("vd_submit", vd_submit(l, NULL, NULL));
    vd_buffer_destroy(ctx, b);
    vd_context_destroy(ctx);
}

static void nothing_is_logged_without_debug_mode(void **state) {
    vd_context *ctx = debug_context(false);
    vd_kernel none = { 0 };
    (void)state;
    assert_int_equal(vd_run_args(ctx, none, 1, 1, 1, NULL, 0), VD_ERROR_INVALID);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    assert_int_equal(vd_fill(vd_list_begin(ctx, NULL), (vd_buffer){ 0 }, 0, 4, NULL, 0), VD_ERROR_INVALID);
    assert_null(vd_device(ctx, 1));
    vd_context_destroy(ctx);
    assert_int_equal(debug_log.count, 0);
}

/* A library on top reports its own failure; what it recovers from is not logged. */
static void libraries_report_their_own_failures(void **state) {
    vd_context *ctx = debug_context(true);
    vd_callback_scope outer, inner;
    (void)state;
    vd_callback_scope_begin(ctx, "lib_try", &outer);
    vd_buffer_create(ctx, NULL);
    vd_callback_scope_end(&outer);
    assert_int_equal(debug_log.count, 0);
    vd_callback_scope_begin(ctx, "lib_run", &outer);
    vd_callback_scope_begin(ctx, "lib_inner", &inner);
    vd_buffer_create(ctx, NULL);
    vd_error_amend(VD_ERROR_INVALID, "lib_inner", "x", NULL);
    vd_callback_scope_end(&inner);
    vd_error_amend(VD_ERROR_INVALID, "lib_run", "y", "pass %d", 2);
    assert_int_equal(debug_log.count, 0);
    LOGS("lib_run 'y': pass 2: desc is NULL", (vd_callback_scope_end(&outer), 0));
    vd_callback_scope_begin(ctx, "lib_run", &outer); /* succeeds; the old error is that of lib_run */
    vd_callback_scope_end(&outer);
    assert_int_equal(debug_log.count, 0);
    vd_context_destroy(ctx);
}

/* ---- unchecked failures ---- */

static void unchecked_failures_are_reported_again(void **state) {
    vd_context *ctx = debug_context(true);
    vd_buffer b = debug_buffer(ctx, "b", VD_F32);
    vd_kernel kernel = debug_kernel(ctx);
    vd_event event;
    uint32_t word;
    (void)state;
    for (int way = 0; way < 5; way++) {
        vd_run(ctx, kernel, 64, vd_b(b), vd_u32(1)); /* b is f32 */
        vd_result r = way == 0   ? vd_flush(ctx)
                      : way == 1 ? vd_wait_idle(ctx)
                      : way == 2 ? vd_buffer_read(ctx, b, 0, &word, 4)
                      : way == 3 ? vd_wait(ctx, (vd_event){ 0, 0, 0, 0 }, VD_FOREVER)
                                 : (vd_submit(vd_immediate(ctx, 0, 0), NULL, &event), vd_wait(ctx, event, VD_FOREVER));
        assert_int_equal(r, VD_ERROR_INVALID);
        if (!strstr(vd_error_text(), ": an earlier call failed, and its result was not checked: vd_run 'set': argument 0 'x' is a buffer of f32"))
            fail_msg("%s", vd_error_text());
        assert_int_equal(debug_log.count, 2);
        assert_string_equal(debug_log.text, vd_error_text());
        memset(&debug_log, 0, sizeof debug_log);
        assert_int_equal(vd_wait_idle(ctx), VD_OK);
    }
    vd_context_destroy(ctx);
}

static void unchecked_transfers_are_reported_again(void **state) {
    vd_context *ctx = debug_context(true);
    vd_buffer b = debug_buffer(ctx, "b", VD_F32), none = { 0 };
    vd_image_transfer image = { 0 };
    uint32_t word = 0;
    (void)state;
    for (int way = 0; way < 3; way++) {
        const char *call = way == 0 ? "vd_buffer_write" : way == 1 ? "vd_buffer_send" : "vd_image_upload";
        if (way == 0) vd_buffer_write(ctx, b, (uint64_t)1 << 40, &word, 4);
        if (way == 1) vd_buffer_send(ctx, none, 0, 0, b, 0, 0, 4);
        if (way == 2) vd_image_upload(ctx, &image, &word);
        assert_int_equal(vd_wait_idle(ctx), VD_ERROR_INVALID);
        const char *earlier = strstr(vd_error_text(), "an earlier call failed, and its result was not checked: ");
        if (!earlier || !strstr(earlier, call)) fail_msg("%s: %s", call, vd_error_text());
        assert_int_equal(vd_wait_idle(ctx), VD_OK);
    }
    vd_context_destroy(ctx);
}

static void checked_failures_are_not_reported_again(void **state) {
    vd_context *ctx = debug_context(true);
    vd_buffer b = debug_buffer(ctx, "b", VD_F32);
    vd_kernel kernel = debug_kernel(ctx);
    (void)state;
    vd_run(ctx, kernel, 64, vd_b(b), vd_u32(1));
    assert_non_null(strstr(vd_error_text(), "vd_run"));
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    vd_run(ctx, kernel, 64, vd_b(b), vd_u32(1));
    assert_int_equal(vd_error_result(), VD_ERROR_INVALID);
    vd_fill(vd_immediate(ctx, 0, 0), b, 0, 1000, NULL, 0);
    assert_int_equal(vd_flush(ctx), VD_ERROR_INVALID);
    assert_non_null(strstr(vd_error_text(), "vd_flush: an earlier call failed, and its result was not checked: vd_fill: "));
    vd_buffer_create(ctx, NULL); /* its result shows the failure */
    assert_int_equal(vd_flush(ctx), VD_OK);
    vd_list *l = vd_list_begin(ctx, NULL); /* so does vd_submit */
    vd_fill(l, b, 0, 1000, NULL, 0);
    assert_int_equal(vd_submit(l, NULL, NULL), VD_ERROR_INVALID);
    assert_int_equal(vd_flush(ctx), VD_OK);
    vd_run(ctx, kernel, 64, vd_b(b), vd_u32(1)); /* left when the context is destroyed */
    vd_context_destroy(ctx);
}

/* ---- kernels that could not be created ---- */

static void a_kernel_handle_of_0_names_its_failure(void **state) {
    (void)state;
    for (int debug = 0; debug < 2; debug++) {
        vd_context *ctx = debug_context(debug);
        vd_kernel none = { 0 };
        vd_run_args(ctx, none, 1, 1, 1, NULL, 0);
        assert_string_equal(vd_error_text(),
                            "vd_run: the kernel handle is 0; it was never created, or creating it failed");
        vc_kernel *k = vc_begin(NULL);
        vc_store(vc_buffer(k, "x", VC_U32, VC_WRITE), vc_u32(0), vc_f32(1));
        vd_kernel kernel = vd_kernel_build(ctx, k);
        vc_free(k);
        vd_fill(vd_immediate(ctx, 0, 0), (vd_buffer){ 0 }, 0, 4, NULL, 0);
        vd_run_args(ctx, kernel, 1, 1, 1, NULL, 0);
        if (!strstr(vd_error_text(), "creating it failed (last failure: vd_kernel_build: ")) fail_msg("%s", vd_error_text());
        vd_kernel_load(ctx, "x", 1, "missing");
        vd_run_args(ctx, none, 1, 1, 1, NULL, 0);
        if (!strstr(vd_error_text(), "(last failure: vd_kernel_load 'missing': ")) fail_msg("%s", vd_error_text());
        vd_context_destroy(ctx);
    }
}

/* ---- warnings ---- */

/* The call that was just made has logged this warning, or nothing. */
static void debug_check_warning(const char *call, const char *wanted) {
    if (debug_log.count != (wanted != NULL)) fail_msg("%s: %d messages: '%s'", call, debug_log.count, debug_log.text);
    if (wanted) {
        assert_int_equal(debug_log.level, VD_LOG_WARNING);
        assert_string_equal(debug_log.text, wanted);
    }
    memset(&debug_log, 0, sizeof debug_log);
}
#define WARNS(wanted, ...) \
    do { \
        assert_int_equal((__VA_ARGS__), VD_OK); \
        debug_check_warning(#__VA_ARGS__, wanted); \
    } while (0)

static void kernels_without_effect(void **state) {
    (void)state;
    for (int debug = 0; debug < 2; debug++) {
        vd_context *ctx = debug_context(debug);
        vc_kernel_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.name = "nothing";
        vc_kernel *k = vc_begin(&desc);
        vc_load(vc_buffer(k, "x", VC_U32, VC_READ), vc_global_id(k, 0));
        vd_kernel kernel = vd_kernel_build(ctx, k);
        assert_true(kernel.id != 0);
        vc_free(k);
        debug_check_warning("vd_kernel_build",
                            debug ? "kernel 'nothing' has no effect: no argument is declared as written "
                                    "(vd_arg_info.access), and it has no printf or assert" : NULL);
        debug_kernel(ctx);
        debug_check_warning("vd_kernel_build", NULL);
        vd_kernel_destroy(ctx, kernel);
        vd_context_destroy(ctx);
    }
}

static void axes_that_a_kernel_does_not_use(void **state) {
    (void)state;
    vd_context *ctx = debug_context(true);
    vd_kernel kernel = debug_kernel(ctx);
    vd_buffer b = debug_buffer(ctx, "b", VD_U32);
    vd_arg args[2] = { vd_b(b), vd_u32(1) };
    vd_dispatch_desc dispatch;
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    memset(&dispatch, 0, sizeof dispatch);
    WARNS(NULL, vd_run_args(ctx, kernel, 64, 1, 1, args, 2));
    WARNS("vd_run 'set': threads[1] is 8, but the kernel uses no id along axis 1, so the same work is repeated",
          vd_run_args(ctx, kernel, 64, 8, 1, args, 2));
    dispatch.kernel = kernel;
    dispatch.groups[0] = dispatch.groups[1] = 1;
    dispatch.groups[2] = 3;
    dispatch.args = args;
    dispatch.arg_count = 2;
    WARNS("vd_dispatch 'set': groups[2] is 3, but the kernel uses no id along axis 2, so the same work is repeated",
          vd_dispatch(vd_immediate(ctx, 0, 0), &dispatch));
    desc.local_size[0] = 8;
    desc.local_size[1] = 8;
    vc_kernel *k = vc_begin(&desc);
    vc_store(vc_buffer(k, "x", VC_U32, VC_WRITE), vc_local_index(k), vc_u32(1));
    assert_int_equal(vc_reflect(k)->axes, 3);
    vd_kernel other = vd_kernel_build(ctx, k);
    vc_free(k);
    WARNS(NULL, vd_run_args(ctx, other, 8, 8, 1, args, 1));
    vd_context_destroy(ctx);
}

static void reads_of_what_is_not_submitted(void **state) {
    (void)state;
    static const char dispatched[] = "vd_run 'copy': buffer 'from' is read, but a list that writes it has not been "
                                     "submitted; submit that list first",
                      read[] = "vd_buffer_read: buffer 'from' is read, but a list that writes it has not been "
                               "submitted; submit that list first",
                      submitted[] = "vd_submit: buffer 'from' is read, but a list that writes it has not been "
                                    "submitted; submit that list first";
    uint32_t word = 0;
    vd_context *ctx = debug_context(true);
    vd_kernel set = debug_kernel(ctx);
    vd_buffer from = debug_buffer(ctx, "from", VD_U32), to = debug_buffer(ctx, "to", VD_U32);
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "copy";
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ), y = vc_buffer(k, "y", VC_U32, VC_WRITE);
    VC_EACH(k, i) { vc_store(y, i, vc_load(x, i)); }
    vd_kernel copy = vd_kernel_build(ctx, k);
    vc_free(k);
    vd_arg args[2] = { vd_b(from), vd_u32(1) };
    vd_dispatch_desc dispatch;
    memset(&dispatch, 0, sizeof dispatch);
    dispatch.kernel = set;
    dispatch.threads[0] = 64;
    dispatch.args = args;
    dispatch.arg_count = 2;
    for (int way = 0; way < 5; way++) {
        vd_list *l = vd_list_begin(ctx, NULL), *reader = vd_list_begin(ctx, NULL);
        vd_arg copied[2] = { vd_b(from), vd_b(to) };
        vd_dispatch_desc reading = dispatch;
        reading.kernel = copy;
        reading.args = copied;
        WARNS(NULL, vd_copy(l, from, 0, from, 0, 0)); /* size 0 writes nothing */
        WARNS(NULL, vd_fill(l, from, 0, 0, NULL, 0));
        WARNS(NULL, vd_write(l, from, 0, NULL, 0));
        WARNS(NULL, vd_run(ctx, copy, 64, vd_b(from), vd_b(to)));
        switch (way) {
        case 0: WARNS(NULL, vd_dispatch(l, &dispatch)); break;
        case 1: WARNS(NULL, vd_fill(l, from, 0, VD_WHOLE, NULL, 0)); break;
        case 2: WARNS(NULL, vd_write(l, from, 0, &word, 4)); break;
        default: WARNS(NULL, vd_copy(l, from, 0, to, 0, VD_WHOLE)); break;
        }
        WARNS(dispatched, vd_run(ctx, copy, 64, vd_b(from), vd_b(to)));
        WARNS(read, vd_buffer_read(ctx, from, 0, &word, 4));
        WARNS(NULL, vd_dispatch(reader, &reading)); /* lists may be recorded in any order */
        if (way == 4) vd_list_discard(l);
        else if (way != 3) WARNS(NULL, vd_submit(l, NULL, NULL));
        WARNS(way == 3 ? submitted : NULL, vd_submit(reader, NULL, NULL));
        if (way == 3) WARNS(NULL, vd_submit(l, NULL, NULL));
        WARNS(NULL, vd_run(ctx, copy, 64, vd_b(from), vd_b(to)));
        WARNS(NULL, vd_buffer_read(ctx, from, 0, &word, 4));
    }
    vd_context_destroy(ctx);
}

/* ---- launch sizes stored with kernels (in any mode) ---- */

/* The threads of the last dispatch of the immediate list, from its argument block. */
static vd_kernel launch_kernel(vd_context *ctx, const char *of, uint32_t x, uint32_t y) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "launched";
    desc.local_size[0] = 8;
    desc.threads_of = of;
    desc.threads[0] = x;
    desc.threads[1] = y;
    vc_kernel *k = vc_begin(&desc);
    vc_ref a = vc_buffer(k, "a", VC_U32, VC_WRITE), b = vc_buffer(k, "b", VC_F64, VC_WRITE);
    vc_store(a, vc_global_id(k, 0), vc_global_id(k, 1));
    vc_store(b, vc_global_id(k, 0), vc_f64(1));
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

static void check_launch(vd_context *ctx, uint32_t x, uint32_t y) {
    const vd__dispatch_state *d = ctx->queues->open_batch.dispatch;
    assert_int_equal(d->threads[0], x);
    assert_int_equal(d->threads[1], y);
    assert_int_equal(d->threads[2], 1);
    assert_int_equal(d->launch.groups[0], (x + 7) / 8);
    assert_int_equal(d->launch.groups[1], y);
}

static void graphs_that_were_not_ended(void **state) {
    vd_context *ctx = debug_context(true);
    vd_buffer_desc desc;
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.shape[0] = 64;
    vd_list *list = vd_graph_begin(ctx, NULL);
    vd_buffer b = vd_graph_buffer(list, &desc);
    for (int i = 0; i < 3; i++) assert_int_equal(vd_fill(list, b, 0, 64, NULL, 0), VD_OK);
    vd_context_destroy(ctx);
    assert_int_equal(debug_log.count, 1);
    assert_string_equal(debug_log.text, "vd_context_destroy: a graph with 3 commands was not ended (vd_graph_end)");
}

static void kernels_with_a_launch_size(void **state) {
    (void)state;
    vd_context *ctx = debug_context(false);
    vd_buffer a = debug_buffer(ctx, "a", VD_U32), b = debug_buffer(ctx, "b", VD_F64);
    vd_view_desc view;
    memset(&view, 0, sizeof view);
    view.buffer = b;
    view.type = VD_F64;
    view.shape[0] = 9;
    vd_buffer part = vd_buffer_view(ctx, &view);
    vd_kernel constant = launch_kernel(ctx, NULL, 20, 3), length = launch_kernel(ctx, "b", 0, 0);
    assert_int_equal(vd_run(ctx, constant, 0, vd_b(a), vd_b(b)), VD_OK);
    check_launch(ctx, 20, 3);
    assert_int_equal(vd_run(ctx, constant, 5, vd_b(a), vd_b(b)), VD_OK);
    check_launch(ctx, 5, 1);
    for (int round = 0; round < 3; round++) { /* the size is that of each dispatch's own argument */
        assert_int_equal(vd_run(ctx, length, 0, vd_b(a), vd_b(b)), VD_OK);
        check_launch(ctx, 64, 1);
        assert_int_equal(vd_run(ctx, length, 0, vd_b(a), vd_b(part)), VD_OK);
        check_launch(ctx, 9, 1);
    }
    assert_int_equal(vd_run(ctx, length, 0, vd_b(a), vd_u32(1)), VD_ERROR_INVALID);
    assert_non_null(strstr(vd_error_text(), "vd_run 'launched': argument 1 'b' is a value of u32"));
    assert_int_equal(vd_run2(ctx, length, 0, 5, vd_b(a), vd_b(b)), VD_ERROR_INVALID);
    vd_buffer_desc short_desc;
    memset(&short_desc, 0, sizeof short_desc);
    short_desc.shape[0] = 4;
    short_desc.type = VD_U8;
    assert_int_equal(vd_run(ctx, length, 0, vd_b(a), vd_b(vd_buffer_create(ctx, &short_desc))), VD_ERROR_INVALID);
    assert_string_equal(vd_error_text(), "vd_run 'launched': argument 1 'b' determines the number of threads, but its 4 "
                                         "bytes are less than one element (8 bytes)");
    vd_kernel none = launch_kernel(ctx, NULL, 0, 0);
    assert_int_equal(vd_run(ctx, none, 0, vd_b(a), vd_b(b)), VD_ERROR_INVALID);
    assert_true(launch_kernel(ctx, "c", 0, 0).id == 0);
    assert_string_equal(vd_error_text(),
                        "vd_kernel_build 'launched': desc.threads_of is 'c', but no buffer has that name");
    vd_context_destroy(ctx);
}

/* ---- the log without a callback, and the environment ---- */

#ifndef _WIN32
/* Runs `use` with stderr in a file, and compares what it prints. */
static void debug_check_stderr(void (*use)(void), const char *wanted) {
    char text[2048];
    FILE *file = tmpfile();
    assert_non_null(file);
    int saved = dup(2);
    assert_true(saved >= 0 && dup2(fileno(file), 2) == 2);
    use();
    dup2(saved, 2);
    close(saved);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    if (*wanted ? !strstr(text, wanted) : *text) fail_msg("printed '%s'", text);
}

static void debug_use_context(void) {
    vd_context_desc desc;
    vd_context *ctx = NULL;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    vd_buffer_create(ctx, NULL);
    vd_context_destroy(ctx);
}

static void debug_create_fails(void) {
    vd_context_desc desc;
    vd_context *ctx = NULL;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    desc.queues = 99;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_ERROR_INVALID);
}

static void debug_no_context(void) { vd_buffer_create(NULL, NULL); }

static void the_environment_turns_debug_mode_on(void **state) {
    vd_context *ctx = NULL;
    (void)state;
    debug_check_stderr(debug_use_context, "");
    debug_check_stderr(debug_create_fails, "");
    debug_check_stderr(debug_no_context, "");
    setenv("VKDISPATCH_DEBUG", "1", 1);
    debug_check_stderr(debug_use_context, "vkdispatch error: vd_buffer_create: desc is NULL\n");
    debug_check_stderr(debug_create_fails, "vkdispatch error: vd_context_create: desc.queues is 99");
    debug_check_stderr(debug_no_context, "vkdispatch error: vd_buffer_create: the context is NULL\n");
    setenv("VKDISPATCH_DEBUG", "0", 1);
    debug_check_stderr(debug_use_context, "");
    setenv("VKDISPATCH_DEBUG", "yes", 1);
    assert_int_equal(vd_context_create(NULL, &ctx), VD_ERROR_INVALID);
    assert_string_equal(vd_error_text(), "vd_context_create: VKDISPATCH_DEBUG is 'yes', but must be 0 or 1");
    unsetenv("VKDISPATCH_DEBUG");
}
#endif

static void a_failure_to_open_is_logged(void **state) {
    vd_context_desc desc;
    vd_context *ctx = NULL;
    (void)state;
    memset(&desc, 0, sizeof desc);
    memset(&debug_log, 0, sizeof debug_log);
    desc.backend = VD_BACKEND_DUMMY;
    desc.queues = 99;
    desc.log = debug_log_message;
    assert_true(vd_context_create(&desc, &ctx) != VD_OK);
    assert_int_equal(debug_log.count, 0);
    desc.debug = true;
    LOGS("vd_context_create", vd_context_create(&desc, &ctx));
}

static const struct CMUnitTest debug_tests[] = {
    cmocka_unit_test(calls_with_a_context_are_logged), cmocka_unit_test(calls_with_a_list_are_logged),
    cmocka_unit_test(nothing_is_logged_without_debug_mode), cmocka_unit_test(libraries_report_their_own_failures),
    cmocka_unit_test(unchecked_failures_are_reported_again),
    cmocka_unit_test(unchecked_transfers_are_reported_again), cmocka_unit_test(checked_failures_are_not_reported_again),
    cmocka_unit_test(a_kernel_handle_of_0_names_its_failure), cmocka_unit_test(kernels_without_effect),
    cmocka_unit_test(axes_that_a_kernel_does_not_use), cmocka_unit_test(reads_of_what_is_not_submitted),
    cmocka_unit_test(graphs_that_were_not_ended), cmocka_unit_test(kernels_with_a_launch_size),
    POSIX(the_environment_turns_debug_mode_on),
    cmocka_unit_test(a_failure_to_open_is_logged),
};
