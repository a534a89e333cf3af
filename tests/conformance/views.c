/* Views: parts of a buffer used as buffers, in every call that accepts a buffer. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"

enum { WORDS = 1024 };

static vd_buffer counted(vd_context *ctx, const char *name) {
    static uint32_t words[WORDS];
    for (uint32_t i = 0; i < WORDS; i++) words[i] = i;
    return buffer_u32(ctx, name, WORDS, words);
}

TEST(views_have_their_own_range_type_and_shape) {
    uint64_t before = stats_of(f->ctx).buffers;
    vd_buffer b = counted(f->ctx, "whole"), v, w;
    vd_buffer_info whole, info;
    vd_view_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "part";
    desc.buffer = b;
    desc.offset = 256;
    desc.type = VD_F32X4;
    desc.shape[0] = 3;
    desc.shape[1] = 5;
    v = vd_buffer_view(f->ctx, &desc);
    assert_true(v.id != 0);
    OK(vd_buffer_query(f->ctx, b, &whole));
    OK(vd_buffer_query(f->ctx, v, &info));
    assert_string_equal(info.name, "part");
    assert_int_equal(info.type, VD_F32X4);
    assert_int_equal(info.shape[0], 3);
    assert_int_equal(info.shape[1], 5);
    assert_int_equal(info.shape[2], 1);
    assert_int_equal(info.size, 240);
    assert_true(info.address == (whole.address ? whole.address + 256 : 0));
    w = view_of(f->ctx, v, 16, VD_U64, 0); /* a view of a view, up to its end */
    OK(vd_buffer_query(f->ctx, w, &info));
    assert_string_equal(info.name, "part");
    assert_int_equal(info.shape[0], 28);
    assert_int_equal(info.size, 224);
    assert_int_equal(read_u32(f->ctx, w, 0), (256 + 16) / 4);
    assert_int_equal(stats_of(f->ctx).buffers, before + 3);
}

TEST(transfers_reach_the_range_of_a_view) {
    uint32_t words[16], got[16], model[WORDS];
    vd_list *now = vd_immediate(f->ctx, 0, 0);
    vd_buffer b = counted(f->ctx, "b"), v = view_u32(f->ctx, b, 100, 50), w = view_u32(f->ctx, v, 10, 20);
    for (uint32_t i = 0; i < WORDS; i++) model[i] = i;
    for (uint32_t i = 0; i < 16; i++) words[i] = 7000 + i;
    OK(vd_buffer_write(f->ctx, w, 8, words, 64));
    memcpy(model + 112, words, 64);
    OK(vd_fill(now, v, 0, 12, NULL, 0));
    memset(model + 100, 0, 12);
    OK(vd_fill(now, v, 161, 3, "x", 1)); /* contains no whole word of the buffer */
    memset((uint8_t *)(model + 100) + 161, 'x', 3);
    OK(vd_fill(now, v, 164, 9, "abc", 3));
    memcpy((uint8_t *)(model + 100) + 164, "abcabcabc", 9);
    OK(vd_copy(now, v, 180, w, 8, 16));
    memcpy(model + 145, model + 112, 16);
    OK(vd_copy(now, b, 0, v, 0, VD_WHOLE));
    memcpy(model, model + 100, 200);
    OK(vd_buffer_read(f->ctx, w, 8, got, 64));
    assert_memory_equal(got, words, 64);
    static uint32_t all[WORDS];
    OK(vd_buffer_read(f->ctx, b, 0, all, VD_WHOLE));
    assert_memory_equal(all, model, sizeof all);
    vd_read_desc desc;
    vd_ticket ticket;
    const void *data;
    memset(&desc, 0, sizeof desc);
    desc.buffer = w;
    desc.offset = 8;
    OK(vd_read_begin(now, &desc, &ticket));
    OK(vd_read_ready(f->ctx, ticket, VD_FOREVER, &data));
    assert_memory_equal(data, words, 64);
    vd_read_end(f->ctx, ticket);
}

/* Words per view, so that each view starts at a valid binding offset. */
static uint64_t step_of(fixture *f) {
    uint64_t align = vd_device(f->ctx, 0)->limits.binding_alignment / 4;
    return align < 16 ? 16 : align;
}

TEST_EXECUTED(kernels_see_the_range_of_a_view) {
    uint64_t step = step_of(f);
    vd_buffer b = counted(f->ctx, "b"), v = view_u32(f->ctx, b, step, 10), w = view_u32(f->ctx, b, 2 * step, 10);
    vd_kernel k = kernel_move(f->ctx);
    OK(move(vd_immediate(f->ctx, 0, 0), k, v, w, 10, 5));
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(read_u32(f->ctx, b, 2 * step + i), i < 10 ? step + i + 5 : 2 * step + i);
    vc_kernel *c = kernel_begin(f->ctx, "length", 1, 1, 1);
    vc_ref x = vc_buffer(c, "x", VC_U32, VC_READ_WRITE);
    vc_store(x, vc_u32(0), vc_length(x));
    k = kernel_end(f->ctx, c);
    OK(vd_run(f->ctx, k, 1, vd_b(v)));
    OK(vd_run(f->ctx, k, 1, vd_b(b)));
    assert_int_equal(read_u32(f->ctx, v, 0), 10);
    assert_int_equal(read_u32(f->ctx, b, 0), WORDS);
    assert_int_equal(read_u32(f->ctx, b, step + 1), step + 1);
}

TEST_EXECUTED(alternating_views_in_one_kernel) {
    uint64_t step = step_of(f);
    vd_buffer b = counted(f->ctx, "b"), views[8];
    vd_kernel k = kernel_affine(f->ctx);
    for (uint32_t i = 0; i < 8; i++) views[i] = view_u32(f->ctx, b, i * step, step);
    for (uint32_t round = 0; round < 3; round++)
        for (uint32_t i = 0; i < 8; i++) OK(affine(vd_immediate(f->ctx, 0, 0), k, views[i], step, 1, i + 1));
    for (uint32_t i = 0; i < 8 * step; i++) assert_int_equal(read_u32(f->ctx, b, i), i + 3 * (i / step + 1));
}

TEST(only_views_that_overlap_wait_for_each_other) {
    vd_buffer b = counted(f->ctx, "b"), left = view_u32(f->ctx, b, 0, 64), right = view_u32(f->ctx, b, 64, 64),
              middle = view_u32(f->ctx, b, 32, 64);
    OK(vd_wait_idle(f->ctx));
    vd_list *list = list_begin(f->ctx);
    uint64_t before = stats_of(f->ctx).barriers;
    OK(vd_fill(list, left, 0, VD_WHOLE, "abcd", 4));
    OK(vd_fill(list, right, 0, VD_WHOLE, "efgh", 4));
    OK(vd_submit(list, NULL, NULL));
    uint64_t apart = stats_of(f->ctx).barriers;
    list = list_begin(f->ctx);
    OK(vd_fill(list, left, 0, VD_WHOLE, "ijkl", 4));
    OK(vd_fill(list, middle, 0, VD_WHOLE, "mnop", 4));
    OK(vd_fill(list, right, 64, VD_WHOLE, "qrst", 4));
    OK(vd_submit(list, NULL, NULL));
    uint64_t after = stats_of(f->ctx).barriers;
    assert_true(apart - before <= 1); /* between the batch of creation and the list */
    assert_true(after - apart >= 2);
    char got[512];
    OK(vd_buffer_read(f->ctx, b, 0, got, 512));
    assert_memory_equal(got + 124, "ijklmnop", 8);
    assert_memory_equal(got + 316, "mnopqrst", 8);
}

TEST(kernels_accept_disjoint_views_only) {
    uint64_t step = step_of(f);
    vd_buffer b = counted(f->ctx, "b"), left = view_u32(f->ctx, b, 0, step), right = view_u32(f->ctx, b, step, step);
    vd_buffer both = view_u32(f->ctx, b, 0, step + 1), also_left = view_u32(f->ctx, b, 0, step);
    vd_kernel k = kernel_move(f->ctx);
    vd_list *now = vd_immediate(f->ctx, 0, 0);
    OK(move(now, k, left, right, 4, 0));
    FAILS(move(now, k, both, right, 4, 0), VD_ERROR_INVALID, "vd_dispatch 'move'|'from'|'to'|overlap");
    FAILS(move(now, k, left, also_left, 4, 0), VD_ERROR_INVALID, "overlap (both use buffer");
    FAILS(move(now, k, left, b, 4, 0), VD_ERROR_INVALID, "overlap (both use buffer");
    FAILS(vd_copy(now, left, 0, both, 4, 8), VD_ERROR_INVALID, "vd_copy: source and target overlap: 8 bytes|overlap");
    OK(vd_copy(now, right, 0, left, 0, 8));
    still_works(f);
}

TEST(unaligned_views_are_refused) {
    const vd_device_info *info = vd_device(f->ctx, 0);
    bool address = (info->features & VD_FEATURE_ADDRESS) != 0;
    vd_buffer b = counted(f->ctx, "b"), odd = view_of(f->ctx, b, 2, VD_U32, 4), word = view_of(f->ctx, b, 4, VD_U32, 4);
    vd_kernel k = kernel_affine(f->ctx);
    vd_list *now = vd_immediate(f->ctx, 0, 0);
    assert_true(odd.id != 0);
    FAILS(affine(now, k, odd, 4, 1, 0), VD_ERROR_INVALID, "vd_dispatch 'affine'|argument 0 'x'|byte 2|multiple of 4");
    if (address || info->limits.binding_alignment <= 4) OK(affine(now, k, word, 4, 1, 0));
    else FAILS(affine(now, k, word, 4, 1, 0), VD_ERROR_UNSUPPORTED, "vd_dispatch 'affine'|argument 0 'x'|byte 4|binding_alignment");
    OK(vd_fill(now, odd, 0, VD_WHOLE, "z", 1)); /* transfers accept any byte offset */
    still_works(f);
}

TEST(views_are_destroyed_with_their_buffer) {
    uint32_t word = 1;
    uint64_t before = stats_of(f->ctx).buffers;
    vd_buffer b = counted(f->ctx, "b"), v = view_u32(f->ctx, b, 1, 8), w = view_u32(f->ctx, v, 1, 4);
    vd_kernel k = kernel_affine(f->ctx);
    OK(vd_buffer_write(f->ctx, v, 0, &word, 4));
    vd_buffer_destroy(f->ctx, v);
    FAILS(vd_buffer_read(f->ctx, v, 0, &word, 4), VD_ERROR_INVALID, "vd_buffer_read|was destroyed");
    assert_int_equal(read_u32(f->ctx, w, 0), 2); /* a view of a view depends only on the buffer */
    vd_buffer_destroy(f->ctx, b);
    OK(vd_wait_idle(f->ctx));
    vd_buffer other = counted(f->ctx, "other"); /* may reuse its memory */
    vd_buffer_info info;
    FAILS(vd_buffer_read(f->ctx, w, 0, &word, 4), VD_ERROR_INVALID, "vd_buffer_read|was destroyed");
    FAILS(vd_buffer_write(f->ctx, w, 0, &word, 4), VD_ERROR_INVALID, "was destroyed");
    FAILS(vd_fill(vd_immediate(f->ctx, 0, 0), w, 0, 4, NULL, 0), VD_ERROR_INVALID, "vd_fill|was destroyed");
    FAILS(vd_copy(vd_immediate(f->ctx, 0, 0), other, 0, w, 0, 4), VD_ERROR_INVALID,
          "vd_copy: the source buffer was destroyed");
    FAILS(affine(vd_immediate(f->ctx, 0, 0), k, w, 4, 1, 1), VD_ERROR_INVALID,
          "vd_dispatch 'affine'|'x'|was destroyed");
    FAILS(vd_buffer_query(f->ctx, w, &info), VD_ERROR_INVALID, "was destroyed");
    assert_int_equal(view_of(f->ctx, w, 0, VD_U32, 1).id, 0);
    check_text("vd_buffer_view", "was destroyed");
    vd_buffer_destroy(f->ctx, w);
    FAILS(vd_buffer_read(f->ctx, w, 0, &word, 4), VD_ERROR_INVALID, "was destroyed");
    assert_int_equal(read_u32(f->ctx, other, 5), 5);
    assert_int_equal(stats_of(f->ctx).buffers, before + 1);
}

TEST(a_buffer_may_be_destroyed_while_its_views_are_in_use) {
    uint64_t before = stats_of(f->ctx).buffers;
    for (uint32_t round = 0; round < 20; round++) {
        vd_buffer b = counted(f->ctx, "b"), v = view_u32(f->ctx, b, 16, 64),
                  keep = buffer_u32(f->ctx, "keep", 64, NULL);
        vd_list *list = list_begin(f->ctx);
        OK(vd_fill(list, v, 0, VD_WHOLE, &round, 4));
        OK(vd_copy(list, keep, 0, v, 0, 256));
        vd_buffer_destroy(f->ctx, b);
        vd_buffer_destroy(f->ctx, v);
        OK(vd_submit(list, NULL, NULL));
        assert_int_equal(read_u32(f->ctx, keep, 63), round);
        vd_buffer_destroy(f->ctx, keep);
    }
    OK(vd_wait_idle(f->ctx));
    assert_int_equal(stats_of(f->ctx).buffers, before);
}

TEST(bad_views_are_refused) {
    vd_buffer b = counted(f->ctx, "b"), none = { 0 };
    vd_view_desc desc;
    memset(&desc, 0, sizeof desc);
    assert_int_equal(vd_buffer_view(NULL, &desc).id, 0);
    check_text("no context", "vd_buffer_view: the context is NULL");
    assert_int_equal(vd_buffer_view(f->ctx, NULL).id, 0);
    check_text("no desc", "vd_buffer_view: desc is NULL");
    assert_int_equal(view_of(f->ctx, none, 0, VD_U32, 1).id, 0);
    check_text("no buffer", "vd_buffer_view: the buffer handle is 0");
    assert_int_equal(view_of(f->ctx, b, 4 * WORDS, VD_U32, 0).id, 0);
    check_text("at the end", "vd_buffer_view 'b': desc.offset 4096|'b' (4096 bytes)");
    assert_int_equal(view_of(f->ctx, b, 4, VD_U32, WORDS).id, 0);
    check_text("past the end", "the 4096 bytes of desc.shape at desc.offset 4 extend past the end|'b' (4096 bytes)");
    assert_int_equal(view_of(f->ctx, b, 4, VD_U64, 0).id, 0);
    check_text("not a whole number", "4092 bytes|offset 4|u64");
    assert_int_equal(view_of(f->ctx, b, 4, 999, 1).id, 0);
    check_text("not a vd_type", "desc.type is 999, not a valid vd_type");
    assert_int_equal(view_of(f->ctx, b, 0, VD_U32, UINT64_MAX).id, 0);
    check_text("too many", "2^63 - 1 bytes");
    vd_buffer v = view_u32(f->ctx, b, 8, 8);
    uint32_t word = 0;
    FAILS(vd_buffer_write(f->ctx, v, 32, &word, 4), VD_ERROR_INVALID,
          "vd_buffer_write: 4 bytes at offset 32|'b' (32 bytes)");
    FAILS(vd_buffer_read(f->ctx, v, UINT64_MAX - 1, &word, 4), VD_ERROR_INVALID, "past the end");
    still_works(f);
}

static const struct CMUnitTest cases[] = {
    CASE(views_have_their_own_range_type_and_shape), CASE(transfers_reach_the_range_of_a_view),
    CASE(kernels_see_the_range_of_a_view), CASE(alternating_views_in_one_kernel),
    CASE(only_views_that_overlap_wait_for_each_other), CASE(kernels_accept_disjoint_views_only),
    CASE(unaligned_views_are_refused), CASE(views_are_destroyed_with_their_buffer),
    CASE(a_buffer_may_be_destroyed_while_its_views_are_in_use), CASE(bad_views_are_refused),
};

MAIN("views", cases)
