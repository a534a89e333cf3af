/* Graphs: lists that are recorded once and submitted many times, with slots, instances and transient buffers. */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

enum { N = 1000, REPLAYS = 1000 };

static vd_list *graph_begin(vd_context *ctx) {
    vd_graph_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "work";
    vd_list *list = vd_graph_begin(ctx, &desc);
    if (!list) fail_msg("vd_graph_begin: %s", vd_error_text());
    return list;
}

static vd_graph graph_end(vd_list *list) {
    vd_graph g = vd_graph_end(list);
    if (!g.id) fail_msg("vd_graph_end: %s", vd_error_text());
    return g;
}

static vd_graph_info info_of(vd_context *ctx, vd_graph g) {
    vd_graph_info info;
    OK(vd_graph_query(ctx, g, &info));
    return info;
}

static vd_buffer numbers(vd_context *ctx, const char *name, uint32_t first) {
    uint32_t data[N];
    for (uint32_t i = 0; i < N; i++) data[i] = first + i;
    return buffer_u32(ctx, name, N, data);
}

static vd_buffer transient(vd_list *list, const char *name, uint64_t elements) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    desc.type = VD_U32;
    desc.shape[0] = elements;
    vd_buffer b = vd_graph_buffer(list, &desc);
    if (!b.id) fail_msg("vd_graph_buffer: %s", vd_error_text());
    return b;
}

static vd_buffer slot_buffer(vd_list *list, const char *name, vd_buffer buffer) {
    vd_buffer b = vd_slot_buffer(list, name, buffer);
    if (!b.id) fail_msg("vd_slot_buffer: %s", vd_error_text());
    return b;
}

/* x = mul * x + add, where `add` is slot "add" */
static vd_result affine_slot(vd_list *list, vd_kernel kernel, vd_buffer x, uint32_t mul, uint32_t add) {
    vd_arg args[3];
    args[0] = vd_b(x);
    args[1] = vd_u32(mul);
    args[2] = vd_slot("add", vd_u32(add));
    return dispatch(list, kernel, N, args, 3);
}

/* ---- replays ---- */

TEST(transfers_are_replayed) {
    vd_buffer a = numbers(f->ctx, "a", 0), b = numbers(f->ctx, "b", 1000), c = numbers(f->ctx, "c", 2000);
    uint32_t word = 7, data[2] = { 41, 42 }, odd[3] = { 1, 2, 3 };
    vd_list *list = graph_begin(f->ctx);
    OK(vd_copy(list, b, 4, a, 0, 4 * (N - 1))); /* b[i + 1] = a[i] */
    OK(vd_fill(list, c, 0, 400, &word, 4));
    OK(vd_write(list, a, 0, data, sizeof data));
    OK(vd_copy(list, a, 8, b, 8, 4 * (N - 2))); /* a[i] = b[i], i >= 2 */
    OK(vd_fill(list, c, 401, 24, odd, 12)); /* staged */
    data[0] = data[1] = 0; /* the data was copied */
    vd_graph g = graph_end(list);
    assert_int_equal(read_u32(f->ctx, a, 0), 0); /* recording executes nothing */
    vd_graph_info info = info_of(f->ctx, g);
    assert_string_equal(info.name, "work");
    assert_int_equal(info.commands, 5);
    assert_int_equal(info.levels, 2);
    assert_int_equal(info.barriers, 1);
    vd_graph_barrier_info barrier;
    OK(vd_graph_barrier_query(f->ctx, g, 0, &barrier));
    assert_int_equal(barrier.before, 0);
    assert_int_equal(barrier.after, 2);
    assert_string_equal(barrier.before_name, "copy");
    assert_string_equal(barrier.resource, "a");
    assert_int_equal(barrier.begin, 0);
    assert_int_equal(barrier.end, 8);
    for (uint32_t plays = 1; plays <= 3; plays++) {
        vd_event event;
        OK(vd_graph_submit(f->ctx, g, NULL, &event));
        OK(vd_wait(f->ctx, event, VD_FOREVER));
        assert_int_equal(read_u32(f->ctx, a, 0), 41);
        assert_int_equal(read_u32(f->ctx, a, 1), 42);
        for (uint32_t i = 2; i < 6; i++) { /* each replay moves the numbers after those of vd_write by one */
            uint32_t from = i - plays < i && i >= plays + 2 ? i - plays : UINT32_MAX;
            if (from != UINT32_MAX) assert_int_equal(read_u32(f->ctx, a, i), from);
            else assert_int_equal(read_u32(f->ctx, a, i), i == plays + 1 && plays == 1 ? 1 : read_u32(f->ctx, b, i));
        }
        assert_int_equal(read_u32(f->ctx, c, 99), 7);
        OK(vd_fill(vd_immediate(f->ctx, 0, 0), c, 0, 400, NULL, 0));
    }
    vd_graph_destroy(f->ctx, g);
    FAILS(vd_graph_submit(f->ctx, g, NULL, NULL), VD_ERROR_INVALID, "vd_graph_submit|graph was destroyed");
    vd_buffer_destroy(f->ctx, a);
    vd_buffer_destroy(f->ctx, b);
    vd_buffer_destroy(f->ctx, c);
}

/* Replays a chain of kernels with one changed value; nothing is allocated. */
static void replay_changing(vd_context *ctx) {
    vd_kernel kernel = kernel_affine(ctx), mover = kernel_move(ctx), large = kernel_large(ctx);
    vd_buffer x = numbers(ctx, "x", 0), y = numbers(ctx, "y", 0), sum = numbers(ctx, "sum", 0);
    vd_list *list = graph_begin(ctx);
    vd_arg args[21];
    uint32_t vector[4] = { 1, 1, 1, 1 }, model = 5, total = 0;
    OK(affine_slot(list, kernel, x, 3, 1));
    OK(affine(list, kernel, x, N, 5, 2));
    OK(move(list, mover, x, y, N, 9));
    args[0] = vd_b(sum);
    for (int i = 0; i < 20; i++) args[1 + i] = vd_value(VD_U32X4, vector);
    args[20] = vd_slot("last", vd_value(VD_U32X4, vector));
    OK(dispatch(list, large, 1, args, 21));
    vd_graph g = graph_end(list);
    assert_int_equal(info_of(ctx, g).levels, 3);
    assert_int_equal(info_of(ctx, g).slot_count, 2);
    for (uint32_t i = 0; i < 4; i++) { /* until the rings of command buffers have their size */
        OK(vd_graph_set(ctx, g, "add", vd_u32(i + 10)));
        OK(vd_graph_submit(ctx, g, NULL, NULL));
        model = 5 * (3 * model + i + 10) + 2;
        total += 20;
        OK(vd_wait_idle(ctx));
    }
    uint64_t before = stats_of(ctx).host_allocations, submissions = stats_of(ctx).submissions;
    for (uint32_t i = 0; i < REPLAYS; i++) {
        vd_event event;
        vector[3] = i;
        vd_graph_value value = { "last", vd_value(VD_U32X4, vector), 0 };
        vd_graph_submit_desc desc = { NULL, 0, 0, &value, i % 3 == 0 };
        OK(vd_graph_set(ctx, g, "add", vd_u32(i)));
        OK(vd_graph_submit(ctx, g, &desc, &event));
        OK(vd_wait(ctx, event, VD_FOREVER));
        model = 5 * (3 * model + i) + 2;
        total += 19 + (i % 3 == 0 ? i : 1);
    }
    uint64_t allocations = stats_of(ctx).host_allocations - before;
    assert_int_equal(allocations, 0);
    assert_int_equal(stats_of(ctx).submissions - submissions, REPLAYS);
    assert_int_equal(read_u32(ctx, x, 5), model);
    assert_int_equal(read_u32(ctx, y, 5), model + 9);
    assert_int_equal(read_u32(ctx, sum, 0), total);
    for (uint32_t i = 0; i < 100; i++) { /* without waiting */
        OK(vd_graph_set(ctx, g, "add", vd_u32(i)));
        OK(vd_graph_submit(ctx, g, NULL, NULL));
        model = 5 * (3 * model + i) + 2;
    }
    assert_int_equal(read_u32(ctx, x, 5), model);
    vd_graph_destroy(ctx, g); /* after its kernels, and while its buffers exist */
    vd_kernel_destroy(ctx, kernel);
    vd_kernel_destroy(ctx, mover);
    vd_kernel_destroy(ctx, large);
    vd_buffer_destroy(ctx, x);
    vd_buffer_destroy(ctx, y);
    vd_buffer_destroy(ctx, sum);
}

TEST_EXECUTED(values_change_between_replays) {
    replay_changing(f->ctx);
    replay_changing(context_without(f, VD_FEATURE_ADDRESS));
}

/* Graphs are ordered with immediate work and with lists, in both directions. */
TEST_EXECUTED(graphs_are_in_order_with_other_work) {
    vd_kernel kernel = kernel_affine(f->ctx);
    vd_buffer x = numbers(f->ctx, "x", 0);
    vd_list *list = graph_begin(f->ctx);
    uint32_t model = 3;
    OK(affine(list, kernel, x, N, 3, 1));
    OK(affine(list, kernel, x, N, 7, 2));
    vd_graph g = graph_end(list);
    for (uint32_t i = 0; i < 50; i++) {
        OK(vd_run(f->ctx, kernel, N, vd_b(x), vd_u32(2), vd_u32(i)));
        OK(vd_graph_submit(f->ctx, g, NULL, NULL));
        if (i % 2) OK(vd_graph_submit(f->ctx, g, NULL, NULL));
        vd_list *once = list_begin(f->ctx);
        OK(affine(once, kernel, x, N, 5, i));
        OK(vd_submit(once, NULL, NULL));
        model = 2 * model + i;
        for (uint32_t k = 0; k <= i % 2; k++) model = 7 * (3 * model + 1) + 2;
        model = 5 * model + i;
    }
    assert_int_equal(read_u32(f->ctx, x, 3), model);
    vd_graph_destroy(f->ctx, g);
    vd_kernel_destroy(f->ctx, kernel);
    vd_buffer_destroy(f->ctx, x);
}

/* ---- buffer slots ---- */

static void swap_buffers(vd_context *ctx) {
    enum { BUFFERS = 3 };
    vd_kernel mover = kernel_move(ctx);
    vd_buffer b[BUFFERS], y = numbers(ctx, "y", 0), tail = numbers(ctx, "tail", 0);
    uint32_t model[BUFFERS];
    for (uint32_t i = 0; i < BUFFERS; i++) b[i] = numbers(ctx, "b", model[i] = 100 * i);
    vd_list *list = graph_begin(ctx);
    vd_buffer in = slot_buffer(list, "in", b[0]), out = slot_buffer(list, "out", b[1]);
    assert_int_equal(slot_buffer(list, "in", b[0]).id, in.id);
    vd_buffer_info info;
    OK(vd_buffer_query(ctx, in, &info));
    assert_string_equal(info.name, "in");
    assert_int_equal(info.size, 4 * N);
    vd_arg args[3];
    args[0] = vd_slot("in", vd_b(b[0]));
    args[1] = vd_b(out);
    args[2] = vd_u32(1);
    OK(dispatch(list, mover, N, args, 3));
    OK(vd_copy(list, y, 4, out, 0, 4 * (N - 1)));
    OK(vd_fill(list, out, 4, 4, NULL, 0));
    vd_view_desc view;
    memset(&view, 0, sizeof view);
    view.buffer = in;
    view.offset = 1024;
    view.type = VD_U32;
    view.shape[0] = 8;
    vd_buffer part = vd_buffer_view(ctx, &view);
    assert_true(part.id != 0);
    OK(move(list, mover, part, tail, 8, 3)); /* tail[i] = in[256 + i] + 3 */
    vd_graph g = graph_end(list);
    uint64_t before = 0;
    for (uint32_t i = 0; i < 60; i++) {
        uint32_t from = i % BUFFERS, to = (i + 1) % BUFFERS;
        if (i % 2) {
            OK(vd_graph_set(ctx, g, "in", vd_b(b[from])));
            OK(vd_graph_set(ctx, g, "out", vd_b(b[to])));
            OK(vd_graph_submit(ctx, g, NULL, NULL));
        } else {
            vd_graph_value values[2] = { { "in", vd_b(b[from]), 0 }, { "out", vd_b(b[to]), 0 } };
            vd_graph_submit_desc desc = { NULL, 0, 0, values, 2 };
            OK(vd_graph_submit(ctx, g, &desc, NULL));
        }
        assert_int_equal(read_u32(ctx, b[to], 0), model[from] + 1);
        assert_int_equal(read_u32(ctx, b[to], 1), 0);
        assert_int_equal(read_u32(ctx, b[to], 9), model[from] + 10);
        assert_int_equal(read_u32(ctx, y, 1), model[from] + 1);
        assert_int_equal(read_u32(ctx, tail, 7), model[from] + 256 + 7 + 3);
        model[to] = model[from] + 1;
        if (i == 20) before = stats_of(ctx).host_allocations;
    }
    uint64_t allocations = stats_of(ctx).host_allocations - before;
    assert_int_equal(allocations, 0); /* the recordings are kept */
    vd_graph_destroy(ctx, g);
    FAILS(vd_buffer_query(ctx, in, &info), VD_ERROR_INVALID, "was destroyed");
    for (int i = 0; i < BUFFERS; i++) vd_buffer_destroy(ctx, b[i]);
    vd_buffer_destroy(ctx, y);
    vd_buffer_destroy(ctx, tail);
    vd_kernel_destroy(ctx, mover);
}

TEST_EXECUTED(buffers_are_swapped) {
    swap_buffers(f->ctx);
    swap_buffers(context_without(f, VD_FEATURE_ADDRESS));
}

/* Commands that were independent conflict with other buffers in the slots. */
TEST_EXECUTED(conflicts_follow_the_buffers) {
    vd_kernel mover = kernel_move(f->ctx);
    vd_buffer a = numbers(f->ctx, "a", 0), b = numbers(f->ctx, "b", 5), c = numbers(f->ctx, "c", 0),
              d = numbers(f->ctx, "d", 0);
    vd_list *list = graph_begin(f->ctx);
    vd_buffer first = slot_buffer(list, "first", a), second = slot_buffer(list, "second", b);
    OK(vd_fill(list, first, 0, VD_WHOLE, NULL, 0));
    OK(move(list, mover, second, c, N, 1));
    OK(move(list, mover, b, d, N, 2)); /* the same buffer, not through the slot */
    vd_graph g = graph_end(list);
    assert_int_equal(info_of(f->ctx, g).levels, 1);
    OK(vd_graph_submit(f->ctx, g, NULL, NULL));
    assert_int_equal(read_u32(f->ctx, c, 7), 5 + 7 + 1);
    assert_int_equal(read_u32(f->ctx, d, 7), 5 + 7 + 2);
    OK(vd_graph_set(f->ctx, g, "first", vd_b(b)));
    OK(vd_graph_submit(f->ctx, g, NULL, NULL));
    assert_int_equal(info_of(f->ctx, g).levels, 2);
    assert_int_equal(read_u32(f->ctx, c, 7), 1);
    assert_int_equal(read_u32(f->ctx, d, 7), 2);
    OK(vd_graph_set(f->ctx, g, "second", vd_b(c)));
    FAILS(vd_graph_submit(f->ctx, g, NULL, NULL), VD_ERROR_INVALID, "'second' and 'c' overlap|command 1 'move'");
    OK(vd_graph_set(f->ctx, g, "second", vd_b(b)));
    OK(vd_graph_submit(f->ctx, g, NULL, NULL));
    vd_graph_destroy(f->ctx, g);
    vd_buffer_destroy(f->ctx, a);
    vd_buffer_destroy(f->ctx, b);
    vd_buffer_destroy(f->ctx, c);
    vd_buffer_destroy(f->ctx, d);
    vd_kernel_destroy(f->ctx, mover);
}

/* ---- thread slots ---- */

/* x[id] = threads of axis 0, over three axes */
static vd_kernel kernel_extent(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "extent", 4, 2, 1);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_WRITE);
    VC_EACH3(k, i, j, m) {
        vc_val row = vc_add(vc_mul(m, vc_u32(10)), j);
        vc_store(x, vc_add(vc_mul(row, vc_u32(10)), i), vc_u32(1));
    }
    return kernel_end(ctx, k);
}

static void change_threads(vd_context *ctx) {
    vd_kernel kernel = kernel_affine(ctx), extent = kernel_extent(ctx);
    vd_buffer x = numbers(ctx, "x", 0), y = numbers(ctx, "y", 0);
    uint32_t one[N], model[N], got[N], box[3] = { 1, 1, 1 };
    for (uint32_t i = 0; i < N; i++) one[i] = 1, model[i] = i;
    vd_arg args[3], out[1];
    args[0] = vd_b(x);
    args[1] = vd_slot("n", vd_u32(100)); /* the number of threads is a value too */
    args[2] = vd_u32(1);
    out[0] = vd_b(y);
    vd_dispatch_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.kernel = kernel;
    desc.threads[0] = 100;
    desc.args = args;
    desc.arg_count = 3;
    desc.threads_slot = "n";
    vd_list *list = graph_begin(ctx);
    OK(vd_dispatch(list, &desc));
    memset(&desc, 0, sizeof desc);
    desc.kernel = extent;
    desc.threads[0] = 2;
    desc.threads[1] = 3;
    desc.threads[2] = 1;
    desc.args = out;
    desc.arg_count = 1;
    desc.threads_slot = "box";
    OK(vd_dispatch(list, &desc));
    vd_graph g = graph_end(list);
    static const uint32_t counts[] = { 100, 1, 0, 64, 65, 999, 1000, 0, 3, 100 };
    for (uint32_t i = 0; i < COUNT(counts); i++) {
        OK(vd_graph_set(ctx, g, "n", vd_u32(counts[i])));
        box[0] = 1 + i % 10;
        box[1] = i % 4;
        box[2] = 1 + i % 3;
        if (i) OK(vd_graph_set(ctx, g, "box", vd_value(VD_U32X3, box)));
        else memcpy(box, desc.threads, 4), box[1] = 3, box[2] = 1;
        OK(vd_buffer_write(ctx, y, 0, one, sizeof one));
        OK(vd_fill(vd_immediate(ctx, 0, 0), y, 0, VD_WHOLE, NULL, 0));
        OK(vd_graph_submit(ctx, g, NULL, NULL));
        for (uint32_t k = 0; k < counts[i]; k++) model[k] = model[k] * counts[i] + 1;
        OK(vd_buffer_read(ctx, x, 0, got, sizeof got));
        assert_memory_equal(got, model, sizeof got);
        OK(vd_buffer_read(ctx, y, 0, got, sizeof got));
        for (uint32_t k = 0; k < N; k++) {
            bool inside = k % 10 < box[0] && k / 10 % 10 < box[1] && k / 100 < box[2];
            assert_int_equal(got[k], inside);
        }
    }
    FAILS(vd_graph_set(ctx, g, "n", vd_value(VD_U32X3, box)), VD_ERROR_INVALID, "slot 'n'|u32|u32x3");
    FAILS(vd_graph_set(ctx, g, "box", vd_u32(3)), VD_ERROR_INVALID, "slot 'box'|u32x3|value of u32");
    vd_graph_destroy(ctx, g);
    vd_buffer_destroy(ctx, x);
    vd_buffer_destroy(ctx, y);
    vd_kernel_destroy(ctx, kernel);
    vd_kernel_destroy(ctx, extent);
}

TEST_EXECUTED(threads_change) {
    change_threads(f->ctx);
    change_threads(context_without(f, VD_FEATURE_ADDRESS));
}

/* The number of threads is in a buffer: one that the graph writes, or the one in a slot. */
static void run_indirect(vd_context *ctx) {
    vd_kernel kernel = kernel_affine(ctx);
    uint32_t counts[2][4] = { { 0, 100, 1, 1 }, { 0, 7, 1, 1 } }, model[2] = { 50, 5 };
    vd_buffer x = numbers(ctx, "x", 0), a = buffer_u32(ctx, "a", 4, counts[0]), b = buffer_u32(ctx, "b", 4, counts[1]);
    vd_arg args[3];
    args[0] = vd_b(x);
    args[1] = vd_slot("mul", vd_u32(1));
    args[2] = vd_u32(1);
    vd_list *list = graph_begin(ctx);
    vd_buffer t = transient(list, "t", 4), in = slot_buffer(list, "counts", a);
    vd_dispatch_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.kernel = kernel;
    desc.args = args;
    desc.arg_count = 3;
    desc.indirect = in;
    desc.indirect_offset = 4;
    OK(vd_dispatch(list, &desc));
    OK(vd_copy(list, t, 0, in, 4, 12));
    desc.indirect = t;
    desc.indirect_offset = 0;
    OK(vd_dispatch(list, &desc));
    vd_graph g = graph_end(list);
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t threads = i % 2 ? 7 : 100;
        OK(vd_graph_set(ctx, g, "counts", vd_b(i % 2 ? b : a)));
        OK(vd_graph_set(ctx, g, "mul", vd_u32(i)));
        OK(vd_graph_submit(ctx, g, NULL, NULL));
        for (int k = 0; k < 2; k++)
            for (int n = 0; n < 2; n++)
                if ((k ? 5u : 50u) < threads) model[k] = model[k] * i + 1;
        assert_int_equal(read_u32(ctx, x, 50), model[0]);
        assert_int_equal(read_u32(ctx, x, 5), model[1]);
        assert_int_equal(read_u32(ctx, x, 100), 100);
    }
    vd_graph_destroy(ctx, g);
    vd_buffer_destroy(ctx, x);
    vd_buffer_destroy(ctx, a);
    vd_buffer_destroy(ctx, b);
    vd_kernel_destroy(ctx, kernel);
}

TEST_EXECUTED(buffers_have_numbers_of_threads) {
    run_indirect(f->ctx);
    run_indirect(context_without(f, VD_FEATURE_ADDRESS));
}

/* ---- instances ---- */

static void run_instances(vd_context *ctx) {
    enum { MOST = 9 };
    vd_kernel kernel = kernel_affine(ctx);
    vd_buffer x = numbers(ctx, "x", 0);
    uint32_t model = 4, adds[MOST], muls[MOST];
    vd_arg args[3];
    args[0] = vd_b(x);
    args[1] = vd_slot("mul", vd_u32(1));
    args[2] = vd_slot("add", vd_u32(0));
    vd_list *list = graph_begin(ctx);
    OK(dispatch(list, kernel, N, args, 3));
    OK(affine(list, kernel, x, N, 3, 1));
    OK(dispatch(list, kernel, N, args, 3));
    vd_graph g = graph_end(list);
    uint64_t before = 0;
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t instances = 1 + i % 3 * 4;
        for (uint32_t k = 0; k < MOST; k++) adds[k] = i + k, muls[k] = 2 * k + i + 1;
        OK(vd_graph_set(ctx, g, "mul", vd_u32(i + 2)));
        vd_graph_value values[2] = { { "add", vd_value(VD_U32, adds), MOST }, { "mul", vd_value(VD_U32, muls), MOST } };
        vd_graph_submit_desc desc = { NULL, 0, (int)instances, values, i % 2 ? 2 : 1 };
        OK(vd_flush(ctx));
        uint64_t submissions = stats_of(ctx).submissions;
        OK(vd_graph_submit(ctx, g, &desc, NULL));
        uint64_t made = stats_of(ctx).submissions - submissions;
        assert_int_equal(made, 1);
        for (uint32_t k = 0; k < instances; k++) {
            uint32_t mul = i % 2 ? muls[k] : i + 2;
            model = 3 * (mul * model + adds[k]) + 1;
            model = mul * model + adds[k];
        }
        assert_int_equal(read_u32(ctx, x, 4), model);
        if (i == 20) before = stats_of(ctx).host_allocations;
    }
    uint64_t allocations = stats_of(ctx).host_allocations - before;
    assert_int_equal(allocations, 0);
    vd_graph_value few = { "add", vd_value(VD_U32, adds), 2 };
    vd_graph_submit_desc desc = { NULL, 0, 3, &few, 1 };
    FAILS(vd_graph_submit(ctx, g, &desc, NULL), VD_ERROR_INVALID,
          "vd_graph_submit 'work'|vd_graph_value.count of slot 'add' is 2, but must be 0 or at least 3");
    desc.instances = -1;
    FAILS(vd_graph_submit(ctx, g, &desc, NULL), VD_ERROR_INVALID, "instances is -1");
    assert_int_equal(read_u32(ctx, x, 4), model);
    vd_graph_destroy(ctx, g);
    vd_buffer_destroy(ctx, x);
    vd_kernel_destroy(ctx, kernel);
}

TEST_EXECUTED(instances_have_their_own_values) {
    run_instances(f->ctx);
    run_instances(context_without(f, VD_FEATURE_ADDRESS));
}

/* ---- transient buffers ---- */

static void use_transients(vd_context *ctx) {
    vd_kernel mover = kernel_move(ctx);
    vd_buffer x = numbers(ctx, "x", 0), y = numbers(ctx, "y", 0), z = numbers(ctx, "z", 0);
    vd_list *list = graph_begin(ctx);
    vd_buffer t[6];
    for (int i = 0; i < 6; i++) t[i] = transient(list, "temporary", N);
    OK(move(list, mover, x, t[0], N, 1)); /* a chain, in which two of the buffers are in use at a time */
    for (int i = 0; i < 4; i++) OK(move(list, mover, t[i], t[i + 1], N, 1));
    OK(move(list, mover, t[4], y, N, 1));
    OK(vd_copy(list, t[5], 0, x, 0, VD_WHOLE)); /* beside it */
    OK(vd_copy(list, z, 0, t[5], 0, VD_WHOLE));
    vd_graph g = graph_end(list);
    vd_graph_info info = info_of(ctx, g);
    assert_int_equal(info.levels, 6);
    assert_int_equal(info.slot_count, 0);
    assert_true(info.transient_bytes >= 3 * 4 * N && info.transient_bytes < 4 * 4 * N);
    for (uint32_t i = 0; i < 3; i++) {
        vd_graph_submit_desc desc = { NULL, 0, (int)(1 + i), NULL, 0 };
        OK(vd_run(ctx, mover, N, vd_b(y), vd_b(x), vd_u32(i)));
        OK(vd_graph_submit(ctx, g, &desc, NULL));
        assert_int_equal(read_u32(ctx, y, 8), read_u32(ctx, x, 8) + 6);
        assert_int_equal(read_u32(ctx, z, 8), read_u32(ctx, x, 8));
    }
    FAILS(vd_run(ctx, mover, N, vd_b(t[0]), vd_b(x), vd_u32(0)), VD_ERROR_INVALID, "'temporary' belongs to a graph");
    FAILS(vd_buffer_read(ctx, t[0], 0, &info, 4), VD_ERROR_INVALID, "'temporary' belongs to a graph");
    vd_buffer_destroy(ctx, t[0]);
    check_text("vd_buffer_destroy", "belongs to a graph and is destroyed with it");
    vd_graph_destroy(ctx, g);
    vd_buffer_destroy(ctx, x);
    vd_buffer_destroy(ctx, y);
    vd_buffer_destroy(ctx, z);
    vd_kernel_destroy(ctx, mover);
}

TEST_EXECUTED(transient_buffers_share_memory) {
    use_transients(f->ctx);
    use_transients(context_without(f, VD_FEATURE_ADDRESS));
}

/* ---- images ---- */

TEST(images_are_replayed) {
    vd_image_desc image;
    memset(&image, 0, sizeof image);
    image.format = VD_FORMAT_RGBA8_UNORM;
    image.extent[0] = image.extent[1] = 8;
    image.usage = VD_IMAGE_SAMPLED;
    needs_feature(f, VD_FEATURE_IMAGE);
    vd_image a = vd_image_create(f->ctx, &image), b = vd_image_create(f->ctx, &image);
    assert_true(a.id && b.id);
    vd_buffer from = numbers(f->ctx, "from", 100), to = numbers(f->ctx, "to", 0), other = numbers(f->ctx, "other", 9);
    vd_list *list = graph_begin(f->ctx);
    vd_buffer in = slot_buffer(list, "in", from);
    vd_image_transfer up, down;
    vd_image_box box_a, box_b;
    memset(&up, 0, sizeof up);
    memset(&box_a, 0, sizeof box_a);
    up.box.image = box_a.image = a;
    up.buffer = in;
    down = up;
    box_b = box_a;
    down.box.image = box_b.image = b;
    down.buffer = to;
    OK(vd_copy_to_image(list, &up));
    OK(vd_copy_image(list, &box_b, &box_a));
    OK(vd_copy_from_image(list, &down));
    vd_graph g = graph_end(list);
    assert_int_equal(info_of(f->ctx, g).levels, 3);
    for (uint32_t i = 0; i < 4; i++) {
        OK(vd_graph_set(f->ctx, g, "in", vd_b(i % 2 ? other : from)));
        OK(vd_fill(vd_immediate(f->ctx, 0, 0), to, 0, VD_WHOLE, NULL, 0));
        OK(vd_graph_submit(f->ctx, g, NULL, NULL));
        assert_int_equal(read_u32(f->ctx, to, 63), (i % 2 ? 9 : 100) + 63);
        OK(vd_clear_image(vd_immediate(f->ctx, 0, 0), a, NULL));
    }
    vd_image_destroy(f->ctx, b);
    FAILS(vd_graph_submit(f->ctx, g, NULL, NULL), VD_ERROR_INVALID, "image|was destroyed|command 1 'image transfer'");
    vd_graph_destroy(f->ctx, g);
    vd_image_destroy(f->ctx, a);
    vd_buffer_destroy(f->ctx, from);
    vd_buffer_destroy(f->ctx, to);
    vd_buffer_destroy(f->ctx, other);
}

/* ---- printf ---- */

typedef struct printed { int count; char text[64]; } printed;

static void on_print(void *user, const char *kernel, const uint32_t id[3], const char *text) {
    printed *p = (printed *)user;
    (void)kernel, (void)id;
    p->count++;
    snprintf(p->text, sizeof p->text, "%s", text);
}

TEST_EXECUTED(kernels_of_a_graph_print) {
    printed p = { 0, "" };
    vd_context_desc desc = fixture_desc(f);
    desc.print = on_print;
    desc.print_user = &p;
    vd_context *ctx;
    OK(vd_context_create(&desc, &ctx));
    vc_kernel *k = kernel_begin(ctx, "speak", 1, 1, 1);
    vc_val n = vc_param(k, "n", VC_U32);
    vc_printf(k, "n is %u", n);
    vd_kernel kernel = kernel_end(ctx, k);
    vd_arg args[1];
    args[0] = vd_slot("n", vd_u32(0));
    vd_list *list = graph_begin(ctx);
    OK(dispatch(list, kernel, 1, args, 1));
    OK(dispatch(list, kernel, 1, args, 1));
    vd_graph g = graph_end(list);
    for (uint32_t i = 0; i < 5; i++) {
        vd_event event;
        char text[64];
        OK(vd_graph_set(ctx, g, "n", vd_u32(i)));
        OK(vd_graph_submit(ctx, g, NULL, &event));
        OK(vd_wait(ctx, event, VD_FOREVER));
        snprintf(text, sizeof text, "n is %u", (unsigned)i);
        assert_int_equal(p.count, 2 * (i + 1));
        assert_string_equal(p.text, text);
    }
    vd_context_destroy(ctx); /* with its graph */
}

/* ---- lifetimes ---- */

TEST(destroyed_objects_are_found) {
    vd_buffer a = numbers(f->ctx, "a", 0), b = numbers(f->ctx, "b", 0), c = numbers(f->ctx, "c", 0);
    vd_list *list = graph_begin(f->ctx);
    vd_buffer in = slot_buffer(list, "in", a);
    OK(vd_copy(list, b, 0, in, 0, VD_WHOLE));
    OK(vd_fill(list, c, 0, VD_WHOLE, NULL, 0));
    vd_graph g = graph_end(list);
    OK(vd_graph_submit(f->ctx, g, NULL, NULL));
    vd_buffer_destroy(f->ctx, a);
    FAILS(vd_graph_submit(f->ctx, g, NULL, NULL), VD_ERROR_INVALID,
          "vd_graph_submit 'work'|buffer in slot 'in' was destroyed|command 0 'copy'|set the slot again");
    FAILS(vd_graph_set(f->ctx, g, "in", vd_b(a)), VD_ERROR_INVALID, "slot 'in': the buffer was destroyed");
    OK(vd_graph_set(f->ctx, g, "in", vd_b(c)));
    OK(vd_graph_submit(f->ctx, g, NULL, NULL));
    vd_buffer_destroy(f->ctx, c);
    a = numbers(f->ctx, "a", 0); /* in the slot of the destroyed one */
    OK(vd_graph_set(f->ctx, g, "in", vd_b(a)));
    FAILS(vd_graph_submit(f->ctx, g, NULL, NULL), VD_ERROR_INVALID, "buffer 'c' was destroyed|command 1 'fill'");
    vd_graph_destroy(f->ctx, g);
    OK(vd_wait_idle(f->ctx));
    list = graph_begin(f->ctx);
    OK(vd_copy(list, b, 0, a, 0, VD_WHOLE));
    vd_buffer_destroy(f->ctx, a);
    assert_int_equal(vd_graph_end(list).id, 0);
    check_text("vd_graph_end", "vd_graph_end|buffer 'a' was destroyed before vd_graph_end");
    vd_buffer_destroy(f->ctx, b);
}

TEST_EXECUTED(graphs_are_destroyed_in_flight) {
    vd_kernel slow = kernel_slow(f->ctx);
    for (int i = 0; i < 4; i++) {
        vd_buffer x = numbers(f->ctx, "x", 0);
        vd_arg args[2];
        args[0] = vd_b(x);
        args[1] = vd_slot("rounds", vd_u32(10));
        vd_list *list = graph_begin(f->ctx);
        OK(dispatch(list, slow, N, args, 2));
        vd_graph g = graph_end(list);
        OK(vd_graph_set(f->ctx, g, "rounds", vd_u32(1000)));
        OK(vd_graph_submit(f->ctx, g, NULL, NULL));
        vd_graph_destroy(f->ctx, g);
        vd_buffer_destroy(f->ctx, x);
    }
    vd_kernel_destroy(f->ctx, slow);
    vd_graph_destroy(f->ctx, (vd_graph){ 0 });
    OK(vd_wait_idle(f->ctx));
}

TEST_DEVICES(contexts_are_destroyed_with_graphs) {
    vd_context_desc desc = fixture_desc(f);
    desc.devices = devices_of(f);
    desc.device_count = 2;
    vd_context *ctx;
    OK(vd_context_create(&desc, &ctx));
    vd_buffer a = numbers(ctx, "a", 0), b = numbers(ctx, "b", 3);
    vd_graph_desc graph_desc = { "second", 2, 0 };
    for (int i = 0; i < 3; i++) {
        vd_list *list = vd_graph_begin(ctx, &graph_desc);
        vd_buffer in = slot_buffer(list, "in", a), t = transient(list, "t", N);
        OK(vd_copy(list, t, 0, in, 0, VD_WHOLE));
        OK(vd_copy(list, b, 0, t, 0, VD_WHOLE));
        if (i == 1) vd_list_discard(list);
        if (i) continue; /* the last one stays open */
        vd_graph g = graph_end(list);
        OK(vd_graph_submit(ctx, g, NULL, NULL));
    }
    OK(vd_wait_idle(ctx));
    assert_int_equal(stats_of(ctx).graphs, 1);
    assert_int_equal(stats_of(ctx).buffers, 2);
    vd_context_destroy(ctx);
}

/* ---- errors ---- */

TEST(recording_errors) {
    vd_buffer a = numbers(f->ctx, "a", 0), b = numbers(f->ctx, "b", 0);
    uint32_t word = 1;
    vd_ticket ticket;
    vd_read_desc read;
    vd_list *list = graph_begin(f->ctx), *once = list_begin(f->ctx), *other = graph_begin(f->ctx);
    memset(&read, 0, sizeof read);
    read.buffer = a;
    FAILS(vd_list_end(list), VD_ERROR_INVALID, "vd_list_end 'work'|call vd_graph_end");
    FAILS(vd_list_watch(list, &ticket), VD_ERROR_UNSUPPORTED, "vd_list_watch 'work'|cannot contain this command");
    assert_int_equal(vd_graph_end(once).id, 0);
    check_text("vd_graph_end", "the list does not record a graph");
    assert_int_equal(vd_slot_buffer(once, "in", a).id, 0);
    check_text("vd_slot_buffer", "vd_slot_buffer|the list does not record a graph");
    vd_list_discard(once);
    FAILS(vd_submit(list, NULL, NULL), VD_ERROR_INVALID, "vd_submit 'work'|call vd_graph_end");
    FAILS(vd_scope_end(other), VD_ERROR_INVALID, "vd_scope_end|no open scope");
    vd_list_discard(other);
    slot_buffer(list, "in", a);
    FAILS(vd_read_begin(list, &read, &ticket), VD_ERROR_UNSUPPORTED, "vd_read_begin 'work'|cannot contain");
    assert_int_equal(vd_graph_end(list).id, 0); /* a graph with an error never submits */
    check_text("vd_graph_end", "vd_read_begin|cannot contain");
    assert_int_equal(vd_graph_end(list).id, 0);
    check_text("vd_graph_end", "its graph was ended");
    FAILS(vd_fill(list, a, 0, 4, &word, 4), VD_ERROR_INVALID, "already");
    list = graph_begin(f->ctx);
    vd_buffer_desc heap;
    memset(&heap, 0, sizeof heap);
    heap.type = VD_U32;
    heap.shape[0] = N;
    heap.heap = true;
    assert_int_equal(vd_graph_buffer(list, &heap).id, 0);
    check_text("vd_graph_buffer", "vd_graph_buffer|only name, type and shape");
    vd_list_discard(list);
    if (vd_device(f->ctx, 0)->limits.sparse_page_bytes) {
        list = graph_begin(f->ctx);
        heap.heap = false;
        heap.sparse = true;
        assert_int_equal(vd_graph_buffer(list, &heap).id, 0);
        check_text("vd_graph_buffer", "vd_graph_buffer|only name, type and shape");
        vd_list_discard(list);
    }
    list = graph_begin(f->ctx);
    slot_buffer(list, "in", a);
    assert_int_equal(vd_slot_buffer(list, "in", b).id, 0);
    check_text("vd_slot_buffer", "slot 'in' was used before with another initial buffer");
    assert_int_equal(vd_graph_end(list).id, 0);
    list = graph_begin(f->ctx);
    assert_int_equal(vd_slot_buffer(list, "", a).id, 0);
    check_text("vd_slot_buffer", "a slot needs a name");
    vd_list_discard(list);
    assert_null(vd_graph_begin(NULL, NULL));
    assert_int_equal(vd_graph_end(NULL).id, 0);
    vd_graph_desc desc = { NULL, 7, 0 };
    assert_null(vd_graph_begin(f->ctx, &desc));
    check_text("vd_graph_begin", "vd_graph_begin|device");
    vd_buffer_destroy(f->ctx, a);
    vd_buffer_destroy(f->ctx, b);
}

TEST_EXECUTED(slot_errors) {
    vd_kernel kernel = kernel_affine(f->ctx);
    vd_buffer x = numbers(f->ctx, "x", 0), small = buffer_u32(f->ctx, "small", 7, NULL);
    vd_buffer floats = buffer_named(f->ctx, "floats", VD_F32, N, NULL);
    vd_arg args[3];
    args[0] = vd_slot("x", vd_b(x));
    args[1] = vd_slot("mul", vd_u32(2));
    args[2] = vd_slot("add", vd_u32(1));
    FAILS(dispatch(vd_immediate(f->ctx, 0, 0), kernel, N, args, 3), VD_ERROR_INVALID,
          "vd_dispatch 'affine'|argument 0 'x' is slot 'x'|vd_graph_begin");
    args[0] = vd_b(x);
    FAILS(dispatch(vd_immediate(f->ctx, 0, 0), kernel, N, args, 3), VD_ERROR_INVALID, "argument 1 'mul' is slot 'mul'");
    vd_list *list = graph_begin(f->ctx);
    args[0] = vd_slot("x", vd_b(x));
    OK(dispatch(list, kernel, N, args, 3));
    args[1] = vd_slot("mul", vd_u32(3));
    FAILS(dispatch(list, kernel, N, args, 3), VD_ERROR_INVALID, "slot 'mul' was used before with another initial value");
    vd_list_discard(list);
    list = graph_begin(f->ctx);
    args[1] = vd_slot("x", vd_u32(2));
    FAILS(dispatch(list, kernel, N, args, 3), VD_ERROR_INVALID, "slot 'x' is a buffer of u32, but is used as a value of u32");
    vd_list_discard(list);
    list = graph_begin(f->ctx);
    args[1] = vd_slot("mul", vd_u32(2));
    OK(dispatch(list, kernel, N, args, 3));
    vd_graph g = graph_end(list);
    vd_context *other = context_beside(f);
    FAILS(vd_graph_set(f->ctx, g, "speed", vd_u32(1)), VD_ERROR_INVALID,
          "vd_graph_set 'work'|no slot 'speed'|'x', 'mul', 'add'");
    FAILS(vd_graph_set(f->ctx, g, NULL, vd_u32(1)), VD_ERROR_INVALID, "name is NULL");
    FAILS(vd_graph_set(f->ctx, g, "mul", vd_f32(1)), VD_ERROR_INVALID, "slot 'mul' is a value of u32|a value of f32");
    FAILS(vd_graph_set(f->ctx, g, "mul", vd_b(x)), VD_ERROR_INVALID, "slot 'mul' is a value of u32|a buffer");
    FAILS(vd_graph_set(f->ctx, g, "mul", vd_value(VD_U32, NULL)), VD_ERROR_INVALID, "slot 'mul'|a value whose address is NULL");
    FAILS(vd_graph_set(f->ctx, g, "x", vd_u32(1)), VD_ERROR_INVALID, "slot 'x' is a buffer of u32|a value of u32");
    FAILS(vd_graph_set(f->ctx, g, "x", vd_b(small)), VD_ERROR_INVALID, "slot 'x'|shape 1000|'small'|shape 7");
    FAILS(vd_graph_set(f->ctx, g, "x", vd_b(floats)), VD_ERROR_INVALID, "slot 'x' is a buffer of u32|'floats' has f32");
    FAILS(vd_graph_set(f->ctx, g, "x", vd_b((vd_buffer){ 0 })), VD_ERROR_INVALID, "slot 'x': the buffer handle is 0");
    FAILS(vd_graph_submit(other, g, NULL, NULL), VD_ERROR_INVALID, "vd_graph_submit|another context");
    FAILS(vd_graph_submit(f->ctx, (vd_graph){ 0 }, NULL, NULL), VD_ERROR_INVALID, "the graph handle is 0");
    FAILS(vd_graph_submit(NULL, g, NULL, NULL), VD_ERROR_INVALID, "the context is NULL");
    vd_graph_value value = { "mul", vd_f32(2), 0 };
    vd_graph_submit_desc desc = { NULL, 0, 0, &value, 1 };
    FAILS(vd_graph_submit(f->ctx, g, &desc, NULL), VD_ERROR_INVALID, "slot 'mul' is a value of u32");
    desc.values = NULL;
    FAILS(vd_graph_submit(f->ctx, g, &desc, NULL), VD_ERROR_INVALID, "desc.values is NULL");
    vd_graph_barrier_info barrier;
    FAILS(vd_graph_barrier_query(f->ctx, g, 0, &barrier), VD_ERROR_INVALID, "index is 0|must be below 0");
    FAILS(vd_graph_query(f->ctx, g, NULL), VD_ERROR_INVALID, "out is NULL");
    assert_int_equal(read_u32(f->ctx, x, 9), 9); /* nothing was executed */
    vd_kernel_destroy(f->ctx, kernel);
    FAILS(vd_graph_submit(f->ctx, g, NULL, NULL), VD_ERROR_INVALID, "kernel 'affine' was destroyed");
    vd_graph_destroy(f->ctx, g);
    vd_graph_destroy(f->ctx, g);
    check_text("vd_graph_destroy", "the graph was destroyed");
    vd_buffer_destroy(f->ctx, x);
    vd_buffer_destroy(f->ctx, small);
    vd_buffer_destroy(f->ctx, floats);
}

/* ---- threads ---- */

typedef struct worker { vd_context *ctx; vd_graph graph; uint32_t seed; bool failed; } worker;

static void *work(void *user) {
    worker *w = (worker *)user;
    for (uint32_t i = 0; i < 100; i++) {
        vd_graph_value value = { "add", vd_u32(w->seed), 0 };
        vd_graph_submit_desc desc = { NULL, 0, 1 + (int)(i % 2), &value, 1 };
        vd_event event;
        w->failed = w->failed || vd_graph_submit(w->ctx, w->graph, &desc, &event) != VD_OK;
        if (i % 8 == 0) w->failed = w->failed || vd_wait(w->ctx, event, VD_FOREVER) != VD_OK;
    }
    return NULL;
}

TEST_EXECUTED(several_threads_submit_one_graph) {
    enum { WORKERS = 4 };
    vd_kernel kernel = kernel_affine(f->ctx);
    vd_buffer x = numbers(f->ctx, "x", 0);
    vd_list *list = graph_begin(f->ctx);
    OK(affine_slot(list, kernel, x, 1, 0));
    vd_graph g = graph_end(list);
    worker workers[WORKERS];
    pthread_t threads[WORKERS];
    uint32_t total = 0;
    for (uint32_t i = 0; i < WORKERS; i++) {
        worker w = { f->ctx, g, 7 * i + 1, false };
        workers[i] = w;
        total += 150 * w.seed;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(workers[i].failed);
    }
    assert_int_equal(read_u32(f->ctx, x, 11), 11 + total);
    vd_graph_destroy(f->ctx, g);
    vd_kernel_destroy(f->ctx, kernel);
    vd_buffer_destroy(f->ctx, x);
}

/* ---- memory ---- */

/* Whatever allocation fails: an error, no leak, and a graph that works or does not exist. */
TEST(host_memory_runs_out) {
    vd_buffer a = numbers(f->ctx, "a", 0), b = numbers(f->ctx, "b", 0);
    for (long n = 1; n < 60; n++) {
        f->memory.fail_at = 0;
        OK(vd_wait_idle(f->ctx));
        f->memory.fail_at = f->memory.calls + n;
        vd_list *list = vd_graph_begin(f->ctx, NULL);
        vd_graph g = { 0 };
        if (list) {
            vd_buffer in = vd_slot_buffer(list, "in", a);
            vd_buffer_desc desc;
            memset(&desc, 0, sizeof desc);
            desc.type = VD_U32;
            desc.shape[0] = N;
            vd_buffer t = vd_graph_buffer(list, &desc);
            vd_copy(list, t, 0, in, 0, VD_WHOLE);
            vd_copy(list, b, 0, t, 0, VD_WHOLE);
            vd_fill(list, b, 0, 72, &desc, 24);
            g = vd_graph_end(list);
        }
        if (g.id) vd_graph_submit(f->ctx, g, NULL, NULL);
        else if (list && vd_error_result() != VD_ERROR_OUT_OF_MEMORY) fail_msg("allocation %ld: %s", n, vd_error_text());
        vd_graph_destroy(f->ctx, g);
        f->memory.fail_at = 0;
    }
    vd_buffer_destroy(f->ctx, a);
    vd_buffer_destroy(f->ctx, b);
    OK(vd_wait_idle(f->ctx));
}

static const struct CMUnitTest cases[] = {
    CASE(transfers_are_replayed), CASE(values_change_between_replays), CASE(graphs_are_in_order_with_other_work),
    CASE(buffers_are_swapped), CASE(conflicts_follow_the_buffers), CASE(threads_change),
    CASE(buffers_have_numbers_of_threads), CASE(instances_have_their_own_values),
    CASE(transient_buffers_share_memory), CASE(images_are_replayed), CASE(kernels_of_a_graph_print),
    CASE(destroyed_objects_are_found), CASE(graphs_are_destroyed_in_flight), CASE(contexts_are_destroyed_with_graphs),
    CASE(recording_errors), CASE(slot_errors), CASE(several_threads_submit_one_graph),
    CASE_FRESH(host_memory_runs_out)
};
MAIN("graphs", cases)
