/* Barriers: one wherever a command must wait for another, and no others. They are counted while work is recorded into
   one open list. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"

typedef struct scene {
    vd_context *ctx;
    vd_list *list;
    vd_kernel affine, move;
    vd_buffer a, b, c, d;
    uint64_t before;
} scene;

enum { WORDS = 1024 };

/* Opens a list that has nothing to wait for, so that only its own barriers are counted: a barrier between two fills
   comes after the fills of buffer creation. */
static scene scene_begin(fixture *f) {
    scene s;
    vd_buffer apart = buffer_u32(f->ctx, "apart", 16, NULL);
    s.ctx = f->ctx;
    s.affine = kernel_affine(f->ctx);
    s.move = kernel_move(f->ctx);
    s.a = buffer_u32(f->ctx, "a", WORDS, NULL);
    s.b = buffer_u32(f->ctx, "b", WORDS, NULL);
    s.c = buffer_u32(f->ctx, "c", WORDS, NULL);
    s.d = buffer_u32(f->ctx, "d", WORDS, NULL);
    for (int i = 0; i < 2; i++) OK(vd_fill(vd_immediate(f->ctx, 0, 0), apart, 0, VD_WHOLE, NULL, 0));
    OK(vd_wait_idle(f->ctx));
    s.list = list_begin(f->ctx);
    s.before = stats_of(f->ctx).barriers;
    return s;
}

static void grow(scene *s, vd_buffer x) { OK(affine(s->list, s->affine, x, WORDS, 1, 1)); }
static void copy_by_kernel(scene *s, vd_buffer from, vd_buffer to) { OK(move(s->list, s->move, from, to, WORDS, 0)); }
static void fill(scene *s, vd_buffer x, uint64_t first, uint64_t count) {
    OK(vd_fill(s->list, x, 4 * first, 4 * count, NULL, 0));
}

static void copy(scene *s, vd_buffer to, uint64_t to_first, vd_buffer from, uint64_t from_first, uint64_t count) {
    OK(vd_copy(s->list, to, 4 * to_first, from, 4 * from_first, 4 * count));
}

static void scene_end(scene *s, uint64_t expected) {
    OK(vd_submit(s->list, NULL, NULL));
    OK(vd_wait_idle(s->ctx));
    uint64_t placed = stats_of(s->ctx).barriers - s->before;
    if (placed != expected)
        fail_msg("%llu barriers, expected %llu", (unsigned long long)placed, (unsigned long long)expected);
}

TEST(none_between_independent_dispatches) {
    scene s = scene_begin(f);
    grow(&s, s.a);
    grow(&s, s.b);
    grow(&s, s.c);
    grow(&s, s.d);
    scene_end(&s, 0);
}

TEST(one_between_a_write_and_a_read) {
    scene s = scene_begin(f);
    grow(&s, s.a);
    copy_by_kernel(&s, s.a, s.b);
    scene_end(&s, 1);
}

TEST(one_between_a_read_and_a_write) {
    scene s = scene_begin(f);
    copy_by_kernel(&s, s.a, s.b);
    grow(&s, s.a);
    scene_end(&s, 1);
}

TEST(one_between_two_writes) {
    scene s = scene_begin(f);
    copy_by_kernel(&s, s.a, s.c);
    copy_by_kernel(&s, s.b, s.c);
    scene_end(&s, 1);
}

TEST(none_between_two_reads) {
    scene s = scene_begin(f);
    copy_by_kernel(&s, s.a, s.b);
    copy_by_kernel(&s, s.a, s.c);
    copy_by_kernel(&s, s.a, s.d);
    scene_end(&s, 0);
}

TEST(one_per_link_of_a_chain) {
    scene s = scene_begin(f);
    for (int i = 0; i < 100; i++) grow(&s, s.a);
    scene_end(&s, 99);
}

TEST(one_for_several_waits_at_the_same_point) {
    scene s = scene_begin(f);
    grow(&s, s.a);
    grow(&s, s.b);
    grow(&s, s.c);
    copy_by_kernel(&s, s.a, s.d); /* waits for all three with one barrier */
    copy_by_kernel(&s, s.b, s.a); /* a was read since: needs another barrier */
    scene_end(&s, 2);
}

TEST(interleaved_chains_share_their_barriers) {
    scene s = scene_begin(f);
    for (int i = 0; i < 10; i++) {
        grow(&s, s.a);
        grow(&s, s.b);
    }
    scene_end(&s, 9);
}

TEST(none_between_copies_of_disjoint_ranges) {
    scene s = scene_begin(f);
    copy(&s, s.a, 0, s.b, 0, 100);
    copy(&s, s.a, 100, s.b, 50, 100);
    copy(&s, s.a, 500, s.a, 300, 100);
    fill(&s, s.a, 600, 424);
    scene_end(&s, 0);
}

TEST(one_between_copies_that_overlap_in_one_word) {
    scene s = scene_begin(f);
    copy(&s, s.a, 0, s.b, 0, 101);
    copy(&s, s.a, 100, s.b, 0, 100);
    scene_end(&s, 1);
}

TEST(one_between_fill_and_dispatch_and_copy) {
    scene s = scene_begin(f);
    fill(&s, s.a, 0, WORDS);
    grow(&s, s.a);
    copy(&s, s.b, 0, s.a, 0, WORDS);
    scene_end(&s, 2);
}

TEST(none_between_disjoint_fill_and_dispatch) {
    scene s = scene_begin(f);
    fill(&s, s.a, 0, WORDS);
    grow(&s, s.b);
    copy(&s, s.c, 0, s.d, 0, WORDS);
    scene_end(&s, 0);
}

TEST(one_before_all_readers_of_one_write) {
    scene s = scene_begin(f);
    grow(&s, s.a);
    copy_by_kernel(&s, s.a, s.b);
    copy_by_kernel(&s, s.a, s.c);
    copy(&s, s.d, 0, s.a, 0, 10);
    scene_end(&s, 1);
}

TEST(one_between_two_lists_that_write_the_same) {
    scene s = scene_begin(f);
    grow(&s, s.a);
    OK(vd_submit(s.list, NULL, NULL));
    s.list = list_begin(f->ctx);
    grow(&s, s.a);
    scene_end(&s, 1);
    if (f->executes) assert_int_equal(read_u32(f->ctx, s.a, 5), 2);
}

TEST(none_between_independent_lists) {
    scene s = scene_begin(f);
    grow(&s, s.a);
    OK(vd_submit(s.list, NULL, NULL));
    s.list = list_begin(f->ctx);
    grow(&s, s.b);
    scene_end(&s, 0);
}

TEST(immediate_lists_need_the_same_barriers) {
    scene s = scene_begin(f);
    vd_list_discard(s.list);
    s.list = vd_immediate(f->ctx, 0, 0);
    for (int i = 0; i < 10; i++) grow(&s, s.a);
    copy_by_kernel(&s, s.a, s.b);
    OK(vd_flush(f->ctx));
    copy_by_kernel(&s, s.b, s.c); /* a submission is not a barrier */
    scene_end(&s, 11);
}

TEST(bindings_need_the_same_barriers) {
    fixture bound = *f;
    bound.ctx = context_without(f, VD_FEATURE_ADDRESS);
    scene s = scene_begin(&bound);
    for (int i = 0; i < 10; i++) {
        grow(&s, s.a);
        grow(&s, s.b);
        copy_by_kernel(&s, s.c, s.d);
    }
    scene_end(&s, 9);
}

static const struct CMUnitTest cases[] = {
    CASE(none_between_independent_dispatches), CASE(one_between_a_write_and_a_read),
    CASE(one_between_a_read_and_a_write), CASE(one_between_two_writes), CASE(none_between_two_reads),
    CASE(one_per_link_of_a_chain), CASE(one_for_several_waits_at_the_same_point),
    CASE(interleaved_chains_share_their_barriers), CASE(none_between_copies_of_disjoint_ranges),
    CASE(one_between_copies_that_overlap_in_one_word), CASE(one_between_fill_and_dispatch_and_copy),
    CASE(none_between_disjoint_fill_and_dispatch), CASE(one_before_all_readers_of_one_write),
    CASE(one_between_two_lists_that_write_the_same), CASE(none_between_independent_lists),
    CASE(immediate_lists_need_the_same_barriers), CASE(bindings_need_the_same_barriers),
};

MAIN("barriers", cases)
