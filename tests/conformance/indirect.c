/* Dispatches whose size is in a buffer: threads and work-groups, guards, chains, limits, errors. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"

#include <time.h>

enum { ROOM = 1 << 16 };

static vd_dispatch_desc indirect(vd_kernel kernel, vd_buffer counts, uint64_t offset, const vd_arg *args, int count) {
    vd_dispatch_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.kernel = kernel;
    desc.indirect = counts;
    desc.indirect_offset = offset;
    desc.args = args;
    desc.arg_count = count;
    return desc;
}

/* out[i] = threads along x << 8 | i % 256, without a guard but that of the buffer's length */
static vd_kernel kernel_threads(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "threads", 64, 1, 1);
    vc_ref out = vc_buffer(k, "out", VC_U32, VC_WRITE);
    vc_val i = vc_global_id(k, 0);
    VC_IF(k, vc_lt(i, vc_length(out)))
        vc_store(out, i, vc_or(vc_shl(vc_threads(k, 0), vc_u32(8)), vc_and(i, vc_u32(255))));
    return kernel_end(ctx, k);
}

/* to[j] = from[j] / 2 for the three numbers j, for a chain */
static vd_kernel kernel_half(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "half", 1, 1, 1);
    vc_ref from = vc_buffer(k, "from", VC_U32, VC_READ), to = vc_buffer(k, "to", VC_U32, VC_WRITE);
    VC_EACH(k, i) { vc_store(to, i, vc_max(vc_div(vc_load(from, i), vc_u32(2)), vc_u32(1))); }
    return kernel_end(ctx, k);
}

/* x[(z * 7 + y) * 5 + x] += 1 */
static vd_kernel kernel_boxes(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "boxes", 2, 2, 1);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
    vc_val id[3];
    for (uint32_t i = 0; i < 3; i++) id[i] = vc_global_id(k, i);
    vc_val inside = vc_and(vc_and(vc_lt(id[0], vc_threads(k, 0)), vc_lt(id[1], vc_threads(k, 1))),
                           vc_lt(id[2], vc_threads(k, 2)));
    vc_val at = vc_add(vc_mul(vc_add(vc_mul(id[2], vc_u32(7)), id[1]), vc_u32(5)), id[0]);
    VC_IF(k, inside) { vc_store(x, at, vc_add(vc_load(x, at), vc_u32(1))); }
    return kernel_end(ctx, k);
}

static uint32_t *read_all(vd_context *ctx, vd_buffer b) {
    static uint32_t out[ROOM];
    vd_buffer_info info;
    OK(vd_buffer_query(ctx, b, &info));
    OK(vd_buffer_read(ctx, b, 0, out, VD_WHOLE));
    return out;
}

TEST_EXECUTED(numbers_of_threads) {
    static const uint32_t sizes[] = { 1, 63, 64, 65, 1000, 0, ROOM - 1, 3 };
    vd_kernel k = kernel_affine(f->ctx);
    vd_buffer x = buffer_u32(f->ctx, "x", ROOM, NULL), counts = buffer_u32(f->ctx, "counts", 40, NULL);
    vd_arg args[] = { vd_b(x), vd_u32(1), vd_u32(1) };
    vd_list *now = vd_immediate(f->ctx, 0, 0);
    for (uint32_t i = 0; i < COUNT(sizes); i++) {
        uint32_t size[3] = { sizes[i], 1, 1 };
        vd_dispatch_desc desc = indirect(k, counts, 4 * i, args, 3);
        OK(vd_fill(now, x, 0, VD_WHOLE, NULL, 0));
        OK(vd_write(now, counts, 4 * i, size, sizeof size));
        OK(vd_dispatch(now, &desc));
        OK(vd_dispatch(now, &desc));
        const uint32_t *out = read_all(f->ctx, x);
        for (uint32_t j = 0; j < ROOM; j++)
            if (out[j] != (j < sizes[i] ? 2 : 0)) fail_msg("%u threads: x[%u] is %u", sizes[i], j, out[j]);
    }
    vd_buffer_destroy(f->ctx, x);
    vd_buffer_destroy(f->ctx, counts);
    vd_kernel_destroy(f->ctx, k);
}

TEST_EXECUTED(numbers_of_groups) {
    vd_kernel k = kernel_threads(f->ctx);
    uint32_t size[4] = { 9, 5, 1, 1 };
    vd_buffer out = buffer_u32(f->ctx, "out", 1000, NULL), counts = buffer_u32(f->ctx, "counts", 4, size);
    vd_arg args[] = { vd_b(out) };
    vd_dispatch_desc desc = indirect(k, counts, 4, args, 1);
    desc.indirect_groups = true;
    OK(vd_dispatch(vd_immediate(f->ctx, 0, 0), &desc));
    const uint32_t *got = read_all(f->ctx, out);
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(got[i], i < 320 ? 320u << 8 | (i & 255) : 0);
    vd_buffer_destroy(f->ctx, out);
    vd_buffer_destroy(f->ctx, counts);
    vd_kernel_destroy(f->ctx, k);
}

TEST_EXECUTED(three_axes) {
    static const uint32_t sizes[][3] = { { 5, 7, 3 }, { 4, 7, 1 }, { 5, 1, 2 }, { 1, 1, 1 }, { 3, 0, 2 }, { 2, 5, 0 } };
    vd_kernel k = kernel_boxes(f->ctx);
    vd_buffer x = buffer_u32(f->ctx, "x", 5 * 7 * 3, NULL), counts = buffer_u32(f->ctx, "counts", 3, NULL);
    vd_arg args[] = { vd_b(x) };
    for (uint32_t i = 0; i < COUNT(sizes); i++) {
        const uint32_t *s = sizes[i];
        vd_dispatch_desc desc = indirect(k, counts, 0, args, 1);
        vd_list *list = list_begin(f->ctx);
        OK(vd_fill(list, x, 0, VD_WHOLE, NULL, 0));
        OK(vd_write(list, counts, 0, s, 12));
        OK(vd_dispatch(list, &desc));
        OK(vd_submit(list, NULL, NULL));
        const uint32_t *out = read_all(f->ctx, x);
        for (uint32_t j = 0; j < 105; j++)
            assert_int_equal(out[j], j % 5 < s[0] && j / 5 % 7 < s[1] && j / 35 < s[2] ? 1 : 0);
    }
    vd_buffer_destroy(f->ctx, x);
    vd_buffer_destroy(f->ctx, counts);
    vd_kernel_destroy(f->ctx, k);
}

/* Each dispatch has half as many threads as the one before. The numbers are computed by dispatches, one after the other
   in one buffer, so that a missing barrier gives wrong ones. */
TEST_EXECUTED(chains) {
    vd_kernel affine_kernel = kernel_affine(f->ctx), half = kernel_half(f->ctx);
    uint32_t size[3] = { ROOM, 1, 1 };
    vd_buffer x = buffer_u32(f->ctx, "x", ROOM, NULL), counts[2] = { buffer_u32(f->ctx, "even", 3, size),
                                                                     buffer_u32(f->ctx, "odd", 3, NULL) };
    for (int way = 0; way < 2; way++) {
        vd_list *list = way ? list_begin(f->ctx) : vd_immediate(f->ctx, 0, 0);
        OK(vd_fill(list, x, 0, VD_WHOLE, NULL, 0));
        OK(vd_write(list, counts[0], 0, size, 12));
        for (uint32_t i = 0; i < 17; i++) {
            vd_arg args[] = { vd_b(x), vd_u32(1), vd_u32(1) },
                   next[] = { vd_b(counts[i % 2]), vd_b(counts[(i + 1) % 2]) };
            vd_dispatch_desc desc = indirect(affine_kernel, counts[i % 2], 0, args, 3);
            OK(vd_dispatch(list, &desc));
            OK(dispatch(list, half, 3, next, 2));
        }
        if (way) OK(vd_submit(list, NULL, NULL));
        const uint32_t *out = read_all(f->ctx, x);
        for (uint32_t j = 0, expected = 17, end = 1; j < ROOM; j++) {
            if (j == end) expected--;
            if (j == end) end *= 2;
            if (out[j] != expected) fail_msg("x[%u] is %u, not %u", j, out[j], expected);
        }
    }
    vd_buffer_destroy(f->ctx, x);
    for (int i = 0; i < 2; i++) vd_buffer_destroy(f->ctx, counts[i]);
    vd_kernel_destroy(f->ctx, affine_kernel);
    vd_kernel_destroy(f->ctx, half);
}

/* Many in one recording: their argument blocks need more than one block of memory. */
TEST_EXECUTED(many_indirect_dispatches) {
    vd_kernel k = kernel_affine(f->ctx);
    vd_buffer x = buffer_u32(f->ctx, "x", 2000, NULL), counts = buffer_u32(f->ctx, "counts", 3 * 2000, NULL);
    uint32_t size[3] = { 0, 1, 1 };
    for (int round = 0; round < 2; round++) {
        vd_list *list = list_begin(f->ctx);
        OK(vd_fill(list, x, 0, VD_WHOLE, NULL, 0));
        for (uint32_t i = 0; i < 2000; i++) {
            size[0] = i;
            OK(vd_write(list, counts, 12 * i, size, 12));
        }
        for (uint32_t i = 0; i < 2000; i++) {
            vd_arg args[] = { vd_b(x), vd_u32(1), vd_u32(i % 3) };
            vd_dispatch_desc desc = indirect(k, counts, 12 * i, args, 3);
            OK(vd_dispatch(list, &desc));
        }
        OK(vd_submit(list, NULL, NULL));
        uint32_t *out = read_all(f->ctx, x), expected = 0;
        for (uint32_t i = 2000; i--;) {
            assert_int_equal(out[i], expected);
            expected += i % 3;
        }
    }
    vd_buffer_destroy(f->ctx, x);
    vd_buffer_destroy(f->ctx, counts);
    vd_kernel_destroy(f->ctx, k);
}

/* The numbers are in the part of a buffer that other work writes, in a view, or in the buffer that the kernel uses. */
TEST_EXECUTED(views_and_aliases) {
    vd_kernel k = kernel_affine(f->ctx);
    uint32_t start[8] = { 7, 7, 3, 1, 1, 7, 7, 7 };
    vd_buffer x = buffer_u32(f->ctx, "x", 8, start);
    vd_view_desc view;
    memset(&view, 0, sizeof view);
    view.buffer = x;
    view.offset = 8;
    view.shape[0] = 12;
    vd_buffer part = vd_buffer_view(f->ctx, &view);
    vd_arg args[] = { vd_b(x), vd_u32(2), vd_u32(0) };
    vd_dispatch_desc desc = indirect(k, part, 0, args, 3);
    OK(vd_dispatch(vd_immediate(f->ctx, 0, 0), &desc)); /* 3 threads, which double the number to 6 */
    OK(vd_dispatch(vd_immediate(f->ctx, 0, 0), &desc)); /* 6 threads, among them those of the other axes */
    const uint32_t expected[8] = { 28, 28, 12, 2, 2, 14, 7, 7 };
    assert_memory_equal(read_all(f->ctx, x), expected, sizeof expected);
    vd_buffer_destroy(f->ctx, x);
    vd_kernel_destroy(f->ctx, k);
}

/* out[0] = threads along y; without a group base along this axis */
static vd_kernel kernel_limited(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "limited", 1, 1, 1);
    vc_ref out = vc_buffer(k, "out", VC_U32, VC_WRITE);
    VC_IF(k, vc_eq(vc_global_id(k, 0), vc_u32(0))) vc_store(out, vc_u32(0), vc_threads(k, 1));
    return kernel_end(ctx, k);
}

/* Increments x at the number of each thread, by values that pass through shared memory, and adds the number of its
   work-group, so that a work-group that is executed twice, not at all or with a wrong id gives a wrong result. */
static vd_kernel kernel_census(vd_context *ctx, uint32_t sx, uint32_t sy, uint32_t sz) {
    vc_kernel *k = kernel_begin(ctx, "census", sx, sy, sz);
    uint32_t all = sx * sy * sz;
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE), shared = vc_shared(k, "shared", VC_U32, all);
    vc_val i = vc_local_index(k), id[3], size[3], group[3];
    for (uint32_t a = 0; a < 3; a++) {
        id[a] = vc_global_id(k, a);
        group[a] = vc_group_id(k, a);
        size[a] = vc_threads(k, a);
    }
    vc_val number = vc_add(vc_mul(vc_add(vc_mul(group[2], vc_u32(1000)), group[1]), vc_u32(1000)), group[0]);
    vc_store(shared, i, vc_add(number, i));
    vc_barrier(k);
    vc_val got = vc_load(shared, vc_sub(vc_u32(all - 1), i));
    vc_val at = vc_add(vc_mul(vc_add(vc_mul(id[2], size[1]), id[1]), size[0]), id[0]);
    vc_val inside = vc_and(vc_and(vc_lt(id[0], size[0]), vc_lt(id[1], size[1])), vc_lt(id[2], size[2]));
    VC_IF(k, inside) vc_store(x, at, vc_add(vc_load(x, at), vc_add(got, vc_u32(1))));
    return kernel_end(ctx, k);
}

/* What census adds for a thread. */
static uint32_t census_of(const uint32_t id[3], const uint32_t local[3]) {
    uint32_t all = local[0] * local[1] * local[2], number = 0, index = 0;
    for (int a = 3; a-- > 0;) {
        number = number * 1000 + id[a] / local[a];
        index = index * local[a] + id[a] % local[a];
    }
    return number + all - 1 - index + 1;
}

/* Dispatches census `times` times by the numbers in `counts` and checks all of x. */
static void census_check(fixture *f, vd_context *ctx, vd_buffer x, const uint32_t size[3], const uint32_t local[3],
                         uint32_t times) {
    uint64_t count = (uint64_t)size[0] * size[1] * size[2];
    vd_buffer_info info;
    OK(vd_buffer_query(ctx, x, &info));
    uint32_t *out = (uint32_t *)malloc(info.size);
    OK(vd_buffer_read(ctx, x, 0, out, VD_WHOLE));
    for (uint64_t i = 0; i < info.size / 4 && f->executes; i++) {
        uint32_t id[3] = { (uint32_t)i, 0, 0 }, expected = 0;
        if (i < count) {
            id[0] = (uint32_t)(i % size[0]);
            id[1] = (uint32_t)(i / size[0] % size[1]);
            id[2] = (uint32_t)(i / size[0] / size[1]);
            expected = times * census_of(id, local);
        }
        if (out[i] != expected)
            fail_msg("%u x %u x %u threads: x[%u] is %u, not %u", size[0], size[1], size[2], (unsigned)i, out[i],
                     expected);
    }
    free(out);
}

/* counts[j] = numbers[j] + values[j] */
static vd_kernel kernel_count(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "count", 1, 1, 1);
    vc_ref counts = vc_buffer(k, "counts", VC_U32, VC_WRITE);
    vc_val value[3] = { vc_param(k, "x", VC_U32), vc_param(k, "y", VC_U32), vc_param(k, "z", VC_U32) };
    for (uint32_t i = 0; i < 3; i++) vc_store(counts, vc_u32(i), value[i]);
    return kernel_end(ctx, k);
}

/* More work-groups than a launch can have, along one axis, with a number that another dispatch has computed. */
TEST(numbers_above_the_limit) {
    static const uint32_t locals[3][3] = { { 2, 1, 1 }, { 1, 3, 1 }, { 1, 1, 2 } };
    enum { MOST = 400000 };
    vd_kernel count = kernel_count(f->ctx);
    vd_buffer x = buffer_u32(f->ctx, "x", MOST, NULL), counts = buffer_u32(f->ctx, "counts", 3, NULL);
    for (int axis = 0; axis < 3; axis++) {
        const uint32_t *local = locals[axis];
        uint32_t limit = vd_device(f->ctx, 0)->limits.max_groups[axis];
        if (limit > 65535) limit = 65535; /* most devices with other limits have none that a test could exceed */
        uint32_t threads = limit * local[axis];
        const uint32_t sizes[] = { 0, 1, threads, threads + 1, 2 * threads + local[axis] + 1 };
        vd_kernel census = kernel_census(f->ctx, local[0], local[1], local[2]);
        for (uint32_t i = 0; i < COUNT(sizes); i++) {
            uint32_t size[3] = { 1, 1, 1 };
            size[axis] = sizes[i];
            vd_list *list = list_begin(f->ctx);
            vd_arg args[] = { vd_b(counts), vd_u32(size[0]), vd_u32(size[1]), vd_u32(size[2]) }, one[] = { vd_b(x) };
            vd_dispatch_desc desc = indirect(census, counts, 0, one, 1);
            OK(vd_fill(list, x, 0, VD_WHOLE, NULL, 0));
            OK(dispatch(list, count, 1, args, 4));
            OK(vd_dispatch(list, &desc));
            OK(vd_dispatch(list, &desc));
            OK(vd_submit(list, NULL, NULL));
            census_check(f, f->ctx, x, size, local, 2);
        }
        vd_kernel_destroy(f->ctx, census);
    }
    OK(vd_wait_idle(f->ctx));
    assert_int_equal(f->messages, 0);
    vd_buffer_destroy(f->ctx, x);
    vd_buffer_destroy(f->ctx, counts);
    vd_kernel_destroy(f->ctx, count);
}

/* With low limits of the device, all axes are above them at the same time; in lists and in graphs, whose numbers are in
   a slot. */
TEST(low_limits) {
    static const uint32_t local[3] = { 2, 3, 1 }, sizes[][3] = {
        { 14, 15, 3 }, { 15, 15, 3 }, { 14, 16, 3 }, { 14, 15, 4 }, { 16, 19, 5 }, { 99, 77, 13 }, { 1, 1, 40 },
        { 0, 99, 99 }, { 99, 0, 99 }, { 99, 99, 0 }, { 1, 1, 1 }, { 29, 46, 10 }, { 28, 45, 9 } };
    vd_context_desc desc = fixture_desc(f);
    vd_context *ctx = NULL;
    OK(vd_context_create(&desc, &ctx));
    /* there is no device with such limits */
    vd_limits *limits = (vd_limits *)(uintptr_t)&vd_device(ctx, 0)->limits;
    for (uint32_t i = 0; i < 3; i++) limits->max_groups[i] = 7 - 2 * i;
    vd_kernel count = kernel_count(ctx), census = kernel_census(ctx, local[0], local[1], local[2]);
    vd_buffer x = buffer_u32(ctx, "x", 100000, NULL), counts = buffer_u32(ctx, "counts", 3, NULL);
    vd_arg one[] = { vd_b(x) };
    vd_dispatch_desc launch = indirect(census, counts, 0, one, 1);
    vd_list *list = vd_graph_begin(ctx, NULL);
    vd_arg slots[] = { vd_b(counts), vd_slot("x", vd_u32(1)), vd_slot("y", vd_u32(1)), vd_slot("z", vd_u32(1)) };
    OK(vd_fill(list, x, 0, VD_WHOLE, NULL, 0));
    OK(dispatch(list, count, 1, slots, 4));
    OK(vd_dispatch(list, &launch));
    vd_graph g = vd_graph_end(list);
    if (!g.id) fail_msg("vd_graph_end: %s", vd_error_text());
    for (uint32_t i = 0; i < COUNT(sizes); i++) {
        const uint32_t *size = sizes[i];
        vd_arg args[] = { vd_b(counts), vd_u32(size[0]), vd_u32(size[1]), vd_u32(size[2]) };
        vd_list *now = vd_immediate(ctx, 0, 0);
        OK(vd_fill(now, x, 0, VD_WHOLE, NULL, 0));
        OK(dispatch(now, count, 1, args, 4));
        for (int j = 0; j < 3; j++) OK(vd_dispatch(now, &launch));
        census_check(f, ctx, x, size, local, 3);
        OK(vd_graph_set(ctx, g, "x", args[1]));
        OK(vd_graph_set(ctx, g, "y", args[2]));
        OK(vd_graph_set(ctx, g, "z", args[3]));
        OK(vd_graph_submit(ctx, g, NULL, NULL));
        census_check(f, ctx, x, size, local, 1);
    }
    vd_graph_destroy(ctx, g);
    vd_context_destroy(ctx);
    assert_int_equal(f->messages, 0);
}

/* Some devices have no limit that a test could exceed. */
TEST(limits_are_applied_and_logged) {
    uint32_t limit = vd_device(f->ctx, 0)->limits.max_groups[1];
    if (limit == UINT32_MAX) skip_because("the device has no limit");
    vd_kernel k = kernel_limited(f->ctx);
    vd_buffer out = buffer_u32(f->ctx, "out", 1, NULL), counts = buffer_u32(f->ctx, "counts", 3, NULL);
    vd_arg args[] = { vd_b(out) };
    vd_dispatch_desc desc = indirect(k, counts, 0, args, 1);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t size[3] = { 1, i ? limit + i - 1 : limit, 1 };
        OK(vd_buffer_write(f->ctx, counts, 0, size, 12));
        OK(vd_dispatch(vd_immediate(f->ctx, 0, 0), &desc));
        OK(vd_wait_idle(f->ctx));
        if (f->executes) assert_int_equal(read_u32(f->ctx, out, 0), limit);
        assert_int_equal(f->messages, i == 2);
        if (i == 2) assert_non_null(strstr(f->message, "vd_dispatch 'limited'"));
    }
    OK(vd_wait_idle(f->ctx));
    assert_int_equal(f->messages, 1); /* once */
    f->messages = 0;
    vd_buffer_destroy(f->ctx, out);
    vd_buffer_destroy(f->ctx, counts);
    vd_kernel_destroy(f->ctx, k);
}

TEST(wrong_indirect_dispatches_are_refused) {
    vd_kernel k = kernel_affine(f->ctx);
    vd_buffer x = buffer_u32(f->ctx, "x", 64, NULL), counts = buffer_u32(f->ctx, "counts", 4, NULL), gone = counts;
    vd_arg args[] = { vd_b(x), vd_u32(1), vd_u32(1) };
    vd_list *now = vd_immediate(f->ctx, 0, 0);
    vd_dispatch_desc desc = indirect(k, counts, 8, args, 3);
    FAILS(vd_dispatch(now, &desc), VD_ERROR_INVALID, "vd_dispatch 'affine'|'counts'|16 bytes");
    desc.indirect_offset = UINT64_MAX - 3;
    FAILS(vd_dispatch(now, &desc), VD_ERROR_INVALID, "vd_dispatch 'affine'|'counts'");
    desc.indirect_offset = 2;
    FAILS(vd_dispatch(now, &desc), VD_ERROR_INVALID, "vd_dispatch 'affine'|indirect_offset is 2|multiple of 4");
    desc.indirect_offset = 0;
    desc.threads[0] = 4;
    FAILS(vd_dispatch(now, &desc), VD_ERROR_INVALID, "vd_dispatch 'affine'|both threads and indirect");
    desc.threads[0] = 0;
    desc.groups[2] = 1;
    FAILS(vd_dispatch(now, &desc), VD_ERROR_INVALID, "vd_dispatch 'affine'|both groups and indirect");
    desc.groups[2] = 0;
    vd_view_desc view;
    memset(&view, 0, sizeof view);
    view.buffer = counts;
    view.offset = 2;
    desc.indirect = vd_buffer_view(f->ctx, &view);
    FAILS(vd_dispatch(now, &desc), VD_ERROR_INVALID, "vd_dispatch 'affine'|byte 2|multiple of 4");
    vd_buffer_destroy(f->ctx, counts);
    desc.indirect = gone;
    FAILS(vd_dispatch(now, &desc), VD_ERROR_INVALID, "vd_dispatch 'affine'|indirect|destroyed");
    /* a direct dispatch that succeeded does not hide the error of the next one */
    desc.indirect.id = 0;
    desc.threads[0] = 4;
    OK(vd_dispatch(now, &desc));
    desc.indirect = x;
    FAILS(vd_dispatch(now, &desc), VD_ERROR_INVALID, "both threads and indirect");
    vd_buffer_destroy(f->ctx, x);
    vd_kernel_destroy(f->ctx, k);
    still_works(f);
}

/* A list keeps the buffer. */
TEST(the_buffer_may_be_destroyed) {
    vd_kernel k = kernel_affine(f->ctx);
    uint32_t size[3] = { 10, 1, 1 };
    vd_buffer x = buffer_u32(f->ctx, "x", 64, NULL), counts = buffer_u32(f->ctx, "counts", 3, size);
    vd_arg args[] = { vd_b(x), vd_u32(1), vd_u32(1) };
    vd_list *list = list_begin(f->ctx);
    vd_dispatch_desc desc = indirect(k, counts, 0, args, 3);
    OK(vd_dispatch(list, &desc));
    vd_buffer_destroy(f->ctx, counts);
    OK(vd_wait_idle(f->ctx));
    vd_buffer other = buffer_u32(f->ctx, "other", 3, NULL);
    OK(vd_submit(list, NULL, NULL));
    if (f->executes) assert_int_equal(read_u32(f->ctx, x, 9), 1);
    assert_int_equal(read_u32(f->ctx, x, 10), 0);
    vd_buffer_destroy(f->ctx, other);
    vd_buffer_destroy(f->ctx, x);
    vd_kernel_destroy(f->ctx, k);
}

/* Submissions of one recording: each that exceeds the limit is logged once, also if the graph is destroyed then. */
TEST(limits_of_graphs_are_logged) {
    uint32_t limit = vd_device(f->ctx, 0)->limits.max_groups[1];
    if (limit == UINT32_MAX) skip_because("the device has no limit");
    vd_kernel k = kernel_limited(f->ctx);
    vd_buffer out = buffer_u32(f->ctx, "out", 1, NULL), counts = buffer_u32(f->ctx, "counts", 3, NULL);
    vd_arg args[] = { vd_b(out) };
    vd_dispatch_desc desc = indirect(k, counts, 0, args, 1);
    vd_list *list = vd_graph_begin(f->ctx, NULL);
    OK(vd_dispatch(list, &desc));
    vd_graph g = vd_graph_end(list);
    assert_true(g.id != 0);
    static const uint32_t above[] = { 0, 1, 0, 0, 1 }, logged[] = { 0, 1, 1, 1, 2 };
    for (uint32_t i = 0; i < COUNT(above); i++) {
        uint32_t size[3] = { 1, limit + above[i], 1 };
        OK(vd_buffer_write(f->ctx, counts, 0, size, 12));
        OK(vd_graph_submit(f->ctx, g, NULL, NULL));
        if (i + 1 == COUNT(above)) vd_graph_destroy(f->ctx, g);
        OK(vd_wait_idle(f->ctx));
        assert_int_equal(f->messages, logged[i]);
        if (f->executes) assert_int_equal(read_u32(f->ctx, out, 0), limit);
    }
    f->messages = 0;
    vd_buffer_destroy(f->ctx, out);
    vd_buffer_destroy(f->ctx, counts);
    vd_kernel_destroy(f->ctx, k);
}

/* The kernel writes the buffer with its own number of threads, which is in a slot once and passed directly once. */
TEST(graphs_write_their_numbers_of_threads) {
    const uint32_t three[4] = { 3, 1, 1, 0 }, doubled[4] = { 6, 2, 2, 0 };
    vd_kernel k = kernel_affine(f->ctx);
    vd_buffer x = buffer_u32(f->ctx, "x", 4, three);
    vd_arg args[] = { vd_slot("x", vd_b(x)), vd_u32(2), vd_u32(0) };
    vd_dispatch_desc desc = indirect(k, x, 0, args, 3);
    vd_list *list = vd_graph_begin(f->ctx, NULL);
    OK(vd_dispatch(list, &desc));
    vd_graph g = vd_graph_end(list);
    if (!g.id) fail_msg("vd_graph_end: %s", vd_error_text());
    OK(vd_graph_submit(f->ctx, g, NULL, NULL));
    if (f->executes) assert_memory_equal(read_all(f->ctx, x), doubled, sizeof doubled);
    vd_graph_destroy(f->ctx, g);
    vd_buffer_destroy(f->ctx, x);
    vd_kernel_destroy(f->ctx, k);
}

/* size[0] = 64 once flag[0] is not 0, and 0 if that takes too long */
static vd_kernel kernel_waits(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "waits", 1, 1, 1);
    vc_ref flag = vc_buffer(k, "flag", VC_U32, VC_READ), size = vc_buffer(k, "size", VC_U32, VC_WRITE);
    vc_ref seen = vc_var(k, "seen", VC_U32);
    vc_set(seen, vc_u32(0));
    VC_FOR(k, round, vc_u32(0), vc_u32(1u << 31)) {
        vc_val now;
        vc_atomic_load(flag, vc_u32(0), &now);
        vc_set(seen, now);
        vc_break_if(k, vc_ne(now, vc_u32(0)));
    }
    vc_store(size, vc_u32(0), vc_mul(vc_get(seen), vc_u32(64)));
    return kernel_end(ctx, k);
}

static void *submit_immediate(void *user) {
    vd_context *ctx = (vd_context *)user;
    return vd_submit(vd_immediate(ctx, 0, 0), NULL, NULL) ? user : NULL;
}

/* The submission of a dispatch waits for its size, which a kernel writes after another thread has created, written,
   destroyed, and dispatched on another queue. If the wait held a lock, the kernel would give up. */
TEST_EXECUTED(other_threads_go_on) {
    static const uint32_t size[3] = { 0, 1, 1 };
    const struct timespec nap = { 0, 1000000 };
    uint32_t word = 1;
    vd_context_desc open = fixture_desc(f);
    vd_buffer_desc desc = { 0 };
    pthread_t thread;
    void *failed;
    open.queues = 2;
    vd_context *ctx = context_with(f, &open);
    if (f->backend != VD_BACKEND_OPENCL || vd_device(ctx, 0)->type != VD_DEVICE_CPU
        || !(vd_device(ctx, 0)->features & VD_FEATURE_MAPPED))
        skip_because("no kernel can wait for the host");
    vd_kernel waits = kernel_waits(ctx), k = kernel_affine(ctx);
    vd_buffer x = buffer_u32(ctx, "x", 64, NULL), y = buffer_u32(ctx, "y", 64, NULL),
              counts = buffer_u32(ctx, "counts", 3, size);
    desc.type = VD_U32;
    desc.shape[0] = 1;
    desc.memory = VD_MEMORY_SHARED;
    vd_buffer flag = vd_buffer_create(ctx, &desc);
    void *mapped = NULL;
    OK(vd_buffer_map(ctx, flag, 0, VD_READ_WRITE, &mapped));
    uint32_t *host = (uint32_t *)mapped;
    __atomic_store_n(host, 0, __ATOMIC_SEQ_CST);
    vd_arg args[] = { vd_b(x), vd_u32(1), vd_u32(1) }, of_y[] = { vd_b(y), vd_u32(1), vd_u32(1) };
    vd_dispatch_desc dispatched = indirect(k, counts, 0, args, 3);
    OK(vd_wait_idle(ctx));
    OK(vd_run(ctx, waits, 1, vd_b(flag), vd_b(counts)));
    OK(vd_dispatch(vd_immediate(ctx, 0, 0), &dispatched));
    uint64_t before = stats_of(ctx).submissions;
    assert_int_equal(pthread_create(&thread, NULL, submit_immediate, ctx), 0);
    while (stats_of(ctx).submissions == before) nanosleep(&nap, NULL); /* it is suspended */
    desc.memory = VD_MEMORY_DEVICE;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    assert_int_not_equal(b.id, 0);
    OK(vd_buffer_write(ctx, b, 0, &word, 4));
    vd_buffer_destroy(ctx, b);
    OK(dispatch(vd_immediate(ctx, 0, 1), k, 64, of_y, 3));
    OK(vd_submit(vd_immediate(ctx, 0, 1), NULL, NULL));
    __atomic_store_n(host, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, &failed);
    assert_null(failed);
    assert_int_equal(read_u32(ctx, x, 63), 1);
    assert_int_equal(read_u32(ctx, y, 63), 1);
    OK(vd_buffer_unmap(ctx, flag, 0));
    vd_buffer_destroy(ctx, flag);
    vd_buffer_destroy(ctx, counts);
    vd_buffer_destroy(ctx, x);
    vd_buffer_destroy(ctx, y);
    vd_kernel_destroy(ctx, waits);
    vd_kernel_destroy(ctx, k);
}

static const struct CMUnitTest cases[] = {
    CASE(numbers_of_threads), CASE(numbers_of_groups), CASE(three_axes), CASE(chains), CASE(many_indirect_dispatches),
    CASE(views_and_aliases), CASE(numbers_above_the_limit), CASE(low_limits),
    CASE(limits_are_applied_and_logged), CASE(wrong_indirect_dispatches_are_refused),
    CASE(the_buffer_may_be_destroyed), CASE(limits_of_graphs_are_logged), CASE(graphs_write_their_numbers_of_threads),
    CASE(other_threads_go_on),
};
MAIN("indirect", cases)
