/* Errors: parts that are joined to one message, long parts, names replaced by outer functions, and running out of
   memory in every allocation of every call. */
#include "tests/unit/unit.h"

static void check_sentence(const char *wanted) {
    if (strcmp(vd_error_text(), wanted) != 0) fail_msg("\"%s\" instead of \"%s\"", vd_error_text(), wanted);
}

/* ---- parts ---- */

static void parts_are_joined(void **state) {
    (void)state;
    assert_int_equal(vd_error_set(VD_ERROR_IO, "%d files", 3), VD_ERROR_IO);
    check_sentence("3 files");
    assert_int_equal(vd_error_result(), VD_ERROR_IO);
    assert_int_equal(vd_error_amend(VD_ERROR_INVALID, "a_call", "thing", NULL), VD_ERROR_INVALID);
    check_sentence("a_call 'thing': 3 files");
    assert_int_equal(vd_error_result(), VD_ERROR_INVALID);
    vd_error_set(VD_ERROR_IO, "other");
    check_sentence("other");
    vd_error_amend(VD_ERROR_IO, "a_call", NULL, NULL);
    check_sentence("a_call: other");
    vd_error_set(VD_OK, "%s", "");
    check_sentence("");
}

/* Fails as a public function `call` does. */
static void fail_in(const char *call, const char *object, const char *reason) {
    vd__fail_named(VD_ERROR_INVALID, object, "%s", reason);
    vd__error_default_call(VD_ERROR_INVALID, call);
}

static void outer_functions_replace_names(void **state) {
    (void)state;
    fail_in("vd_dispatch", "k", "argument 2 is wrong");
    check_sentence("vd_dispatch 'k': argument 2 is wrong");
    vd_error_amend(VD_ERROR_INVALID, NULL, NULL, "tile %d", 7);
    check_sentence("vd_dispatch 'k': tile 7: argument 2 is wrong");
    vd_error_amend(VD_ERROR_INVALID, "vd_run", NULL, NULL);
    check_sentence("vd_run 'k': tile 7: argument 2 is wrong");
    vd_error_amend(VD_ERROR_INVALID, "vd_reduce_run", "sum", "%s", "pass 0");
    check_sentence("vd_reduce_run 'sum': pass 0: tile 7: argument 2 is wrong");
    vd_error_amend(VD_ERROR_INVALID, "vd_reduce_sum", "", NULL);
    check_sentence("vd_reduce_sum: pass 0: tile 7: argument 2 is wrong");
    vd__error_default_call(VD_ERROR_INVALID, "vd_wait");
    check_sentence("vd_reduce_sum: pass 0: tile 7: argument 2 is wrong");
    vd__error_amend(VD_ERROR_INVALID, "mean", NULL); /* clears the call */
    check_sentence("'mean': pass 0: tile 7: argument 2 is wrong");
    vd__fail(VD_ERROR_INVALID, "nothing");
    vd__error_default_call(VD_ERROR_INVALID, "vd_wait");
    check_sentence("vd_wait: nothing");
}

/* Arguments of an error may be freed after the call, or be the last error text itself. */
static void parts_are_copies(void **state) {
    char call[16] = "vd_call", object[16] = "object", reason[16] = "reason";
    (void)state;
    fail_in(call, object, reason);
    memset(call, 'x', 5);
    memset(object, 'x', 5);
    memset(reason, 'x', 5);
    check_sentence("vd_call 'object': reason");
    vd_error_set(VD_ERROR_INVALID, "mine: %s", vd_error_text());
    check_sentence("mine: vd_call 'object': reason");
    vd_error_amend(VD_ERROR_INVALID, NULL, vd_error_text(), "%s", vd_error_text());
    check_sentence("'mine: vd_call 'object': reason': mine: vd_call 'object': reason: mine: vd_call 'object': reason");
}

static void out_of_memory_has_one_wording(void **state) {
    (void)state;
    assert_int_equal(vd_error_set(VD_ERROR_OUT_OF_MEMORY, NULL), VD_ERROR_OUT_OF_MEMORY);
    check_sentence("out of host memory");
    vd_error_set(VD_ERROR_OUT_OF_DEVICE_MEMORY, NULL);
    check_sentence("out of device memory");
    vd__error_amend(vd__fail_memory(0), "x", NULL);
    check_sentence("'x': out of host memory");
    vd__fail_memory(4096);
    check_sentence("out of host memory: an allocation of 4096 bytes failed");
    vd__error_add_out_of_memory(vd__fail(VD_ERROR_OUT_OF_DEVICE_MEMORY, "vkAllocateMemory failed"));
    check_sentence("out of device memory: vkAllocateMemory failed");
    vd__error_add_out_of_memory(vd__fail(VD_ERROR_BACKEND, "vkQueueSubmit failed"));
    check_sentence("vkQueueSubmit failed");
}

/* ---- long parts ---- */

static void long_names_leave_room_for_the_reason(void **state) {
    char name[3000], reason[3000];
    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    fail_in(name, name, "the reason");
    assert_non_null(strstr(vd_error_text(), "nnn... 'nnn"));
    assert_non_null(strstr(vd_error_text(), "nnn...': the reason"));
    memset(reason, 'r', sizeof reason - 1);
    reason[sizeof reason - 1] = 0;
    fail_in(name, name, reason);
    assert_string_equal(vd_error_text() + strlen(vd_error_text()) - 6, "rrr...");
    assert_int_equal(strlen(vd_error_text()), sizeof vd__last_error.call + sizeof vd__last_error.object
                                                  + sizeof vd__last_error.reason - 3 + strlen(" '': "));
    vd_error_amend(VD_ERROR_INVALID, NULL, NULL, "%s", name);
    assert_true(strlen(vd_error_text()) < sizeof vd__error_joined);
    assert_string_equal(vd_error_text() + strlen(vd_error_text()) - 6, "rrr...");
}

/* The longest names that are kept whole, the shortest that are cut, and multi-byte characters. */
static void names_are_cut_between_characters(void **state) {
    enum { MOST = sizeof vd__last_error.object - 1 };
    char name[MOST + 2];
    (void)state;
    memset(name, 'n', sizeof name);
    name[MOST] = 0;
    vd__fail_named(VD_ERROR_INVALID, name, "x");
    assert_int_equal(strlen(vd__last_error.object), MOST);
    assert_null(strstr(vd_error_text(), "..."));
    name[MOST] = 'n';
    name[MOST + 1] = 0;
    vd__fail_named(VD_ERROR_INVALID, name, "x");
    assert_int_equal(strlen(vd__last_error.object), MOST);
    assert_string_equal(vd__last_error.object + MOST - 4, "n...");
    for (int shift = 0; shift < 3; shift++) { /* U+20AC has three bytes */
        memset(name, 'n', 3);
        for (int i = shift; i + 3 <= MOST + 1; i += 3) memcpy(name + i, "\xe2\x82\xac", 3);
        vd__fail_named(VD_ERROR_INVALID, name, "x");
        const char *end = strstr(vd__last_error.object, "...");
        assert_non_null(end);
        assert_int_equal((unsigned char)end[-1], 0xac);
        assert_int_equal((end - vd__last_error.object - shift) % 3, 0);
    }
}

static void a_buffer_with_a_long_name(void **state) {
    char name[2000];
    vd_context *ctx = unit_context(NULL);
    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_int_equal(unit_buffer(ctx, name, (vd_type)77, 4, NULL).id, 0);
    CHECK_TEXT("vd_buffer_create 'nnnn");
    CHECK_TEXT("...': desc.type is 77, not a valid vd_type");
    vd_context_destroy(ctx);
}

/* ---- lists ---- */

static void lists_keep_their_first_failure_in_parts(void **state) {
    vd_context *ctx = unit_context(NULL);
    vd_list *list = vd_list_begin(ctx, NULL);
    vd_buffer b = unit_buffer(ctx, "b", VD_U32, 4, NULL), none = { 0 };
    char first[1024];
    (void)state;
    assert_int_equal(vd_fill(list, none, 0, 4, NULL, 0), VD_ERROR_INVALID);
    snprintf(first, sizeof first, "%s", vd_error_text());
    CHECK_TEXT("vd_fill: the target buffer");
    vd_error_set(VD_ERROR_IO, "something else");
    assert_int_equal(vd_fill(list, b, 0, 4, NULL, 0), VD_ERROR_INVALID);
    check_sentence(first);
    assert_string_equal(vd__last_error.call, "vd_fill");
    vd_error_set(VD_ERROR_IO, "something else");
    assert_int_equal(vd_submit(list, NULL, NULL), VD_ERROR_INVALID);
    check_sentence(first);
    vd_context_destroy(ctx);
}

/* ---- errors of callbacks that run while a call ends ---- */

static void fail_in_log(void *user, vd_log_level level, const char *message) {
    (void)level, (void)message;
    vd_error_set(VD_ERROR_IO, "%s", "from the callback");
    if (!strstr(vd_error_text(), "callback")) *(int *)user = 1;
}

static void callbacks_do_not_change_the_error(void **state) {
    vd_context_desc desc;
    vd_context *ctx = NULL;
    int wrong = 0;
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    desc.log = fail_in_log;
    desc.log_user = &wrong;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    vd_buffer none = { 0 };
    assert_int_equal(vd_buffer_write(ctx, none, 0, &wrong, 4), VD_ERROR_INVALID);
    const char *text = vd_error_text();
    vd__logf(&ctx->host, VD_LOG_ERROR, "a message that waits");
    vd__api_end(ctx);
    assert_int_equal(wrong, 0);
    assert_non_null(strstr(text, "vd_buffer_write: the target buffer")); /* passing the same pointer */
    check_sentence(text);
    vd_context_destroy(ctx);
}

/* ---- out of memory ---- */

typedef struct world {
    vd_context *ctx;
    vd_kernel kernel;
    vd_buffer x, y;
    vd_list *list;
    float data[64];
} world;

static vd_result made(bool there) { return there ? VD_OK : vd_error_result(); }

static vd_result use_nothing(vd_context *ctx, void **data, void *user) {
    (void)ctx, (void)data, (void)user;
    return VD_OK;
}

static void release_nothing(vd_context *ctx, void *data) { (void)ctx, (void)data; }

static vd_result dispatch_into(world *w, vd_list *list) {
    vd_arg args[4];
    vd_dispatch_desc desc;
    memset(&desc, 0, sizeof desc);
    args[0] = vd_b(w->x);
    args[1] = vd_b(w->y);
    args[2] = vd_f32(1);
    args[3] = vd_u32(3);
    desc.kernel = w->kernel;
    desc.threads[0] = 64;
    desc.args = args;
    desc.arg_count = 4;
    return vd_dispatch(list, &desc);
}

static vd_result call_buffer(world *w) { return made(unit_buffer(w->ctx, "new", VD_U32, 4, NULL).id != 0); }
static vd_result call_filled(world *w) { return made(unit_buffer(w->ctx, "new", VD_U32, 4, w->data).id != 0); }
static vd_result call_list(world *w) { return made(vd_list_begin(w->ctx, NULL) != NULL); }
static vd_result call_fill(world *w) { return vd_fill(w->list, w->x, 1, 7, NULL, 0); }
static vd_result call_copy(world *w) { return vd_copy(w->list, w->x, 0, w->y, 0, 64); }
static vd_result call_write(world *w) { return vd_write(w->list, w->x, 0, w->data, 64); }
static vd_result call_buffer_write(world *w) { return vd_buffer_write(w->ctx, w->x, 0, w->data, 64); }
static vd_result call_buffer_read(world *w) { return vd_buffer_read(w->ctx, w->x, 0, w->data, 64); }
static vd_result call_send(world *w) { return vd_buffer_send(w->ctx, w->x, 0, 0, w->y, 0, 0, 64); }
static vd_result call_dispatch(world *w) { return dispatch_into(w, w->list); }
static vd_result call_run(world *w) {
    return vd_run(w->ctx, w->kernel, 64, vd_b(w->x), vd_b(w->y), vd_f32(1), vd_u32(3));
}
static vd_result call_submit(world *w) { return dispatch_into(w, w->list) ? VD_OK : vd_submit(w->list, NULL, NULL); }
static vd_result call_attach(world *w) { return vd_context_attach(w->ctx, w, use_nothing, NULL, release_nothing); }

static vd_result call_view(world *w) {
    vd_view_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "view";
    desc.buffer = w->x;
    return made(vd_buffer_view(w->ctx, &desc).id != 0);
}

static vd_result call_kernel(world *w) {
    unit_module m;
    unit_saxpy(&m);
    return made(unit_kernel(w->ctx, &m, "saxpy").id != 0);
}

static vd_result call_watch(world *w) {
    vd_ticket ticket;
    return vd_list_watch(w->list, &ticket);
}

static vd_result call_read_begin(world *w) {
    vd_read_desc desc;
    vd_ticket ticket;
    memset(&desc, 0, sizeof desc);
    desc.buffer = w->x;
    return vd_read_begin(w->list, &desc, &ticket);
}

/* text: the start of the message; `least`: minimum number of allocations that can fail. A list that failed for lack of
   memory is tested with the calls that record into it. */
static const struct { const char *text; vd_result (*call)(world *w); long least; } memory_calls[] = {
    { "vd_buffer_create 'new': ", call_buffer, 1 }, { "vd_buffer_create 'new': ", call_filled, 1 },
    { "vd_buffer_view 'view': ", call_view, 1 }, { "vd_kernel_create 'saxpy': ", call_kernel, 2 },
    { "vd_list_begin: ", call_list, 1 }, { "vd_fill: ", call_fill, 1 }, { "vd_copy: ", call_copy, 1 },
    { "vd_write: ", call_write, 1 }, { "vd_buffer_write: ", call_buffer_write, 0 },
    { "vd_buffer_read: ", call_buffer_read, 0 }, { "vd_buffer_send: ", call_send, 0 },
    { "vd_dispatch 'saxpy': ", call_dispatch, 1 }, { "vd_run 'saxpy': ", call_run, 0 },
    { "vd_submit: ", call_submit, 0 }, { "vd_context_attach: ", call_attach, 1 }, { "vd_list_watch: ", call_watch, 1 },
    { "vd_read_begin: ", call_read_begin, 1 },
};

static void open_world(world *w, unit_memory *a) {
    unit_module m;
    vd_context_desc desc;
    memset(w, 0, sizeof *w);
    memset(a, 0, sizeof *a);
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    desc.allocator.allocate = unit_allocate;
    desc.allocator.reallocate = unit_reallocate;
    desc.allocator.release = unit_release;
    desc.allocator.user = a;
    assert_int_equal(vd_context_create(&desc, &w->ctx), VD_OK);
    unit_saxpy(&m);
    w->kernel = unit_kernel(w->ctx, &m, "saxpy");
    w->x = unit_buffer(w->ctx, "x", VD_F32, 64, NULL);
    w->y = unit_buffer(w->ctx, "y", VD_F32, 64, NULL);
    w->list = vd_list_begin(w->ctx, NULL);
    assert_true(w->kernel.id && w->x.id && w->y.id && w->list);
    assert_int_equal(vd_wait_idle(w->ctx), VD_OK);
}

/* The message states "out of memory" once, after the names. */
static void check_memory_text(const char *beginning, long at) {
    const char *text = vd_error_text(), *words = strstr(text, "out of host memory");
    if (strncmp(text, beginning, strlen(beginning)) != 0)
        fail_msg("allocation %ld: \"%s\" does not begin with \"%s\"", at, text, beginning);
    if (!words || strstr(words + strlen("out of host memory"), "memory")) fail_msg("allocation %ld: %s", at, text);
}

static void every_allocation_names_the_call(void **state) {
    (void)state;
    for (size_t i = 0; i < VD__COUNT(memory_calls); i++) {
        long at = 1;
        for (vd_result result = VD_ERROR_INVALID; result; at++) {
            world w;
            unit_memory a;
            open_world(&w, &a);
            a.calls = 0;
            a.fail_at = at;
            vd_error_set(VD_OK, "%s", "");
            result = memory_calls[i].call(&w);
            a.fail_at = 0;
            if (result) {
                assert_int_equal(result, VD_ERROR_OUT_OF_MEMORY);
                check_memory_text(memory_calls[i].text, at);
            }
            vd_context_destroy(w.ctx);
            assert_true(at < 100);
        }
        if (at - 2 < memory_calls[i].least) fail_msg("%s%ld allocations fail", memory_calls[i].text, at - 2);
    }
}

static void every_allocation_of_a_context(void **state) {
    (void)state;
    for (long at = 1;; at++) {
        vd_context_desc desc;
        vd_context *ctx = NULL;
        unit_memory a = { 0, 0, 0, false };
        memset(&desc, 0, sizeof desc);
        desc.backend = VD_BACKEND_DUMMY;
        desc.allocator.allocate = unit_allocate;
        desc.allocator.reallocate = unit_reallocate;
        desc.allocator.release = unit_release;
        desc.allocator.user = &a;
        a.fail_at = at;
        vd_result result = vd_context_create(&desc, &ctx);
        a.fail_at = 0;
        vd_context_destroy(ctx);
        if (!result) {
            assert_true(at > 3);
            return;
        }
        assert_int_equal(result, VD_ERROR_OUT_OF_MEMORY);
        check_memory_text("vd_context_create: ", at);
    }
}

static void device_memory(void **state) {
    vd_device_info device;
    (void)state;
    memset(&device, 0, sizeof device);
    device.device_memory = 64 << 20;
    device.limits.max_buffer_bytes = 1ull << 41;
    vd_context *ctx = unit_context(&device);
    assert_int_equal(unit_buffer(ctx, "huge", VD_U8, 1ull << 40, NULL).id, 0);
    CHECK_TEXT("vd_buffer_create 'huge': out of device memory: the buffer has 1099511627776 bytes, but");
    vd_buffer b = unit_buffer(ctx, "b", VD_U8, 60 << 20, NULL);
    assert_true(b.id != 0);
    assert_int_equal(unit_buffer(ctx, "c", VD_U8, 40 << 20, NULL).id, 0);
    CHECK_TEXT("vd_buffer_create 'c': cannot allocate 41943040 bytes: out of device memory: ");
    vd_context_destroy(ctx);
}

static const struct CMUnitTest errors_tests[] = {
    cmocka_unit_test(parts_are_joined), cmocka_unit_test(outer_functions_replace_names),
    cmocka_unit_test(parts_are_copies), cmocka_unit_test(out_of_memory_has_one_wording),
    cmocka_unit_test(long_names_leave_room_for_the_reason), cmocka_unit_test(names_are_cut_between_characters),
    cmocka_unit_test(a_buffer_with_a_long_name), cmocka_unit_test(lists_keep_their_first_failure_in_parts),
    cmocka_unit_test(callbacks_do_not_change_the_error), cmocka_unit_test(every_allocation_names_the_call),
    cmocka_unit_test(every_allocation_of_a_context), cmocka_unit_test(device_memory),
};
