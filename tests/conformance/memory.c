/* Host memory: repeated calls allocate nothing, running out of it is an error like any other, and all of it is
   released. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"

/* ---- no allocations in repeated calls ---- */

typedef struct work {
    vd_context *ctx;
    vd_kernel affine, large;
    vd_buffer a, b;
    uint32_t round;
} work;

typedef void (*one_call)(work *w);

static void call_dispatch(work *w) { OK(vd_run(w->ctx, w->affine, 1000, vd_b(w->a), vd_u32(1), vd_u32(w->round))); }
static void call_dispatch_other(work *w) {
    OK(vd_run(w->ctx, w->affine, 1000, vd_b(w->round % 2 ? w->a : w->b), vd_u32(1), vd_u32(1)));
}
static void call_write(work *w) { OK(vd_buffer_write(w->ctx, w->a, 8, &w->round, 4)); }
static void call_fill(work *w) { OK(vd_fill(vd_immediate(w->ctx, 0, 0), w->a, 0, 400, &w->round, 4)); }
static void call_copy(work *w) { OK(vd_copy(vd_immediate(w->ctx, 0, 0), w->a, 0, w->b, 0, 400)); }
static void call_read(work *w) { read_u32(w->ctx, w->a, 3); }

static void call_large_values(work *w) {
    vd_arg args[21];
    uint32_t v[4] = { 1, 2, 3, w->round };
    args[0] = vd_b(w->a);
    for (int i = 0; i < 20; i++) args[1 + i] = vd_value(VD_U32X4, v);
    OK(dispatch(vd_immediate(w->ctx, 0, 0), w->large, 1, args, 21));
}

static void call_write_large(work *w) {
    static uint32_t words[1 << 14];
    words[5] = w->round;
    OK(vd_buffer_write(w->ctx, w->a, 0, words, sizeof words));
}

static void call_read_large(work *w) {
    static uint32_t words[1 << 14];
    OK(vd_buffer_read(w->ctx, w->a, 0, words, sizeof words));
}

static void call_list(work *w) {
    vd_list *list = list_begin(w->ctx);
    vd_event event;
    for (int i = 0; i < 10; i++) OK(affine(list, w->affine, w->a, 100, 1, 1));
    OK(vd_copy(list, w->b, 0, w->a, 0, 64));
    OK(vd_submit(list, NULL, &event));
    OK(vd_wait(w->ctx, event, VD_FOREVER));
}

static void call_read_begin(work *w) {
    vd_ticket ticket;
    const void *data;
    vd_read_desc desc = { { 0 }, 0, 64, 0 };
    desc.buffer = w->a;
    OK(vd_read_begin(vd_immediate(w->ctx, 0, 0), &desc, &ticket));
    OK(vd_read_ready(w->ctx, ticket, VD_FOREVER, &data));
    vd_read_end(w->ctx, ticket);
}

static void call_burst(work *w) {
    for (int i = 0; i < 300; i++) call_dispatch(w);
}

static void call_discard(work *w) {
    vd_list *list = list_begin(w->ctx);
    OK(affine(list, w->affine, w->a, 100, 1, 1));
    vd_list_discard(list);
}

/* warm: calls before allocations stop. A list that waits for the previous one starts a second recording, and the two
   alternate. */
static const struct { const char *name; one_call call; uint32_t warm; } calls[] = {
    { "a dispatch", call_dispatch, 1 }, { "a dispatch of other buffers", call_dispatch_other, 2 },
    { "a dispatch with values in memory", call_large_values, 1 }, { "a write", call_write, 1 },
    { "a write of 64 KiB", call_write_large, 1 }, { "a fill", call_fill, 1 }, { "a copy", call_copy, 1 },
    { "a read", call_read, 1 }, { "a read of 64 KiB", call_read_large, 1 }, { "a list", call_list, 4 },
    { "an asynchronous read", call_read_begin, 1 }, { "300 dispatches in a row", call_burst, 1 },
    { "a discarded list", call_discard, 1 },
};

static work work_begin(vd_context *ctx) {
    work w;
    memset(&w, 0, sizeof w);
    w.ctx = ctx;
    w.affine = kernel_affine(ctx);
    w.large = kernel_large(ctx);
    w.a = buffer_u32(ctx, "a", 1 << 14, NULL);
    w.b = buffer_u32(ctx, "b", 1 << 14, NULL);
    OK(vd_wait_idle(ctx));
    return w;
}

static void check_call(fixture *f, work *w, size_t which) {
    long before = 0;
    for (w->round = 0; w->round < 60; w->round++) {
        calls[which].call(w);
        OK(vd_wait_idle(w->ctx));
        if (w->round + 1 == calls[which].warm) before = f->memory.calls;
    }
    if (f->memory.calls != before)
        fail_msg("%s: %ld allocations in later calls", calls[which].name, f->memory.calls - before);
}

/* Calls of one kind may reuse what another left; where contexts are cheap, each kind starts with a new one. */
static void check_calls(fixture *f, uint64_t disable) {
    bool apart = contexts_are_cheap(f);
    for (size_t i = 0; i < COUNT(calls);) {
        vd_context *ctx = NULL;
        vd_context_desc desc = fixture_desc(f);
        desc.disable = disable;
        OK(vd_context_create(&desc, &ctx));
        work w = work_begin(ctx);
        do check_call(f, &w, i);
        while (++i < COUNT(calls) && !apart);
        assert_true(stats_of(ctx).host_allocations > 0);
        vd_context_destroy(ctx);
    }
}

TEST(repeated_calls_allocate_nothing) { check_calls(f, 0); }
TEST(repeated_calls_allocate_nothing_with_bindings) { check_calls(f, VD_FEATURE_ADDRESS); }

/* Without waiting, several submissions are in flight at once; their number stops growing, on a busy machine after some
   time. */
TEST(allocations_of_a_busy_queue_stop) {
    enum { BATCHES = 20 };
    work w = work_begin(f->ctx);
    long more = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        long before = f->memory.calls;
        for (w.round = 0; w.round < 2000; w.round++) call_dispatch(&w);
        OK(vd_wait_idle(f->ctx));
        more = f->memory.calls - before;
        if (batch > 1 && more <= 2) return;
    }
    fail_msg("%ld allocations in 2000 calls after %d times as many", more, BATCHES - 1);
}

TEST(the_context_counts_its_allocations) {
    uint64_t before = stats_of(f->ctx).host_allocations;
    long counted = f->memory.calls;
    buffer_u32(f->ctx, "a", 4, NULL);
    kernel_affine(f->ctx);
    assert_true(stats_of(f->ctx).host_allocations >= before);
    assert_true((long)(stats_of(f->ctx).host_allocations - before) <= f->memory.calls - counted + 1000);
}

/* ---- running out of memory ---- */

typedef vd_result (*attempt)(vd_context *ctx);

static vd_result attempt_buffer(vd_context *ctx) {
    vd_buffer_desc desc = { 0 };
    desc.name = "a buffer with a name that is not short at all";
    desc.shape[0] = 1000;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    if (!b.id) return VD_ERROR_OUT_OF_MEMORY;
    vd_buffer_destroy(ctx, b);
    return VD_OK;
}

static vd_result attempt_kernel(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "attempted", 64, 1, 1);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
    VC_EACH(k, i) { vc_store(x, i, vc_u32(1)); }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    if (!kernel.id) return VD_ERROR_OUT_OF_MEMORY;
    vd_kernel_destroy(ctx, kernel);
    return VD_OK;
}

static vd_result attempt_list(vd_context *ctx) {
    vd_buffer_desc desc = { 0 };
    desc.shape[0] = 1000;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    vd_list *list = vd_list_begin(ctx, NULL);
    vd_result result = list && b.id ? VD_OK : VD_ERROR_OUT_OF_MEMORY;
    for (int i = 0; i < 50 && !result; i++) result = vd_fill(list, b, 4 * (uint64_t)i, 4, NULL, 0);
    if (!result) result = vd_write(list, b, 0, &desc, sizeof desc);
    if (list && result) vd_list_discard(list);
    else if (list) result = vd_submit(list, NULL, NULL);
    if (!result) result = vd_wait_idle(ctx);
    vd_buffer_destroy(ctx, b);
    return result;
}

static vd_result attempt_read(vd_context *ctx) {
    static uint8_t bytes[100000];
    vd_buffer_desc desc = { 0 };
    desc.shape[0] = sizeof bytes;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    vd_result result = b.id ? vd_buffer_write(ctx, b, 1, bytes, sizeof bytes - 1) : VD_ERROR_OUT_OF_MEMORY;
    if (!result) result = vd_buffer_read(ctx, b, 1, bytes, 99000);
    vd_buffer_destroy(ctx, b);
    return result;
}

static void check_attempt(fixture *f, const char *name, attempt call) {
    vd_result result = VD_ERROR_OUT_OF_MEMORY;
    for (long at = 1; at < 300 && result; at += contexts_are_cheap(f) ? 1 : 5) {
        account memory = { 0, 0, 0 };
        vd_context *ctx = NULL;
        vd_context_desc desc = fixture_desc(f);
        desc.allocator = account_allocator(&memory);
        OK(vd_context_create(&desc, &ctx));
        memory.calls = 0;
        memory.fail_at = at;
        result = call(ctx);
        if (result && result != VD_ERROR_OUT_OF_MEMORY)
            fail_msg("%s, allocation %ld fails: %s: %s", name, at, vd_result_name(result), vd_error_text());
        if (result) check_text(name, "out of host memory");
        if (result && strncmp(vd_error_text(), "vd_", 3) != 0)
            fail_msg("%s, allocation %ld: no call in: %s", name, at, vd_error_text());
        memory.fail_at = 0;
        vd_flush(ctx); /* a failed submission is reported here, once */
        OK(call(ctx)); /* works again in the same context once memory is available */
        vd_context_destroy(ctx);
        if (memory.live) fail_msg("%s, allocation %ld fails: %ld blocks leak", name, at, memory.live);
    }
    if (result) fail_msg("%s does not end", name);
}

TEST(running_out_of_memory_is_reported) {
    check_attempt(f, "a buffer", attempt_buffer);
    check_attempt(f, "a kernel", attempt_kernel);
    check_attempt(f, "a list", attempt_list);
    check_attempt(f, "a read", attempt_read);
}

static const struct CMUnitTest cases[] = {
    CASE(repeated_calls_allocate_nothing), CASE(repeated_calls_allocate_nothing_with_bindings),
    CASE(allocations_of_a_busy_queue_stop), CASE(the_context_counts_its_allocations),
    CASE(running_out_of_memory_is_reported),
};

MAIN("memory", cases)
