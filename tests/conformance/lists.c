/* Lists, events, waits and asynchronous reads. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"

#include <time.h>

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static vd_result fill_word(vd_list *list, vd_buffer b, uint64_t element, uint32_t word) {
    return vd_fill(list, b, 4 * element, 4, &word, 4);
}

/* ---- order ---- */

TEST(lists_execute_in_order_of_submission) {
    vd_buffer b = buffer_u32(f->ctx, "b", 4, NULL);
    vd_list *first = list_begin(f->ctx), *second = list_begin(f->ctx);
    OK(fill_word(first, b, 0, 1));
    OK(fill_word(second, b, 0, 2));
    OK(fill_word(vd_immediate(f->ctx, 0, 0), b, 0, 3));
    assert_int_equal(read_u32(f->ctx, b, 0), 3);
    OK(vd_submit(second, NULL, NULL));
    assert_int_equal(read_u32(f->ctx, b, 0), 2);
    OK(fill_word(vd_immediate(f->ctx, 0, 0), b, 0, 4));
    OK(vd_submit(first, NULL, NULL));
    assert_int_equal(read_u32(f->ctx, b, 0), 1);
}

TEST_EXECUTED(lists_and_immediate_work_keep_their_order) {
    vd_buffer b = buffer_u32(f->ctx, "b", 100, NULL);
    vd_kernel k = kernel_affine(f->ctx);
    uint32_t expected = 0;
    for (uint32_t i = 0; i < 100; i++) {
        vd_list *list = list_begin(f->ctx);
        OK(affine(list, k, b, 100, 2, 1));                               /* recorded first, */
        OK(affine(vd_immediate(f->ctx, 0, 0), k, b, 100, 3, i));
        OK(vd_submit(list, NULL, NULL));                                 /* submitted second */
        OK(affine(vd_immediate(f->ctx, 0, 0), k, b, 100, 1, 7));
        expected = (expected * 3 + i) * 2 + 1 + 7;
        if (i % 10 == 0) assert_int_equal(read_u32(f->ctx, b, 99), expected);
    }
    assert_int_equal(read_u32(f->ctx, b, 0), expected);
}

/* The list depends on work that was submitted before and, in every other round, has finished: it is one submission in
   either case. */
TEST_EXECUTED(a_list_after_earlier_work_is_one_submission) {
    vd_kernel k = kernel_affine(f->ctx);
    vd_buffer x = buffer_u32(f->ctx, "x", 4096, NULL);
    uint32_t expected = 0;
    for (uint32_t round = 0; round < 20; round++) {
        OK(affine(vd_immediate(f->ctx, 0, 0), k, x, 4096, 3, round));
        OK(round % 2 ? vd_wait_idle(f->ctx) : vd_flush(f->ctx));
        uint64_t before = stats_of(f->ctx).submissions;
        vd_list *list = list_begin(f->ctx);
        OK(affine(list, k, x, 4096, 5, 1));
        OK(vd_submit(list, NULL, NULL));
        assert_int_equal(stats_of(f->ctx).submissions, before + 1);
        expected = (expected * 3 + round) * 5 + 1;
    }
    assert_int_equal(read_u32(f->ctx, x, 0), expected);
    assert_int_equal(read_u32(f->ctx, x, 4095), expected);
}

TEST(a_list_may_be_long) {
    vd_buffer b = buffer_u32(f->ctx, "b", 1000, NULL);
    vd_list *list = list_begin(f->ctx);
    for (uint32_t i = 0; i < 20000; i++) OK(fill_word(list, b, i % 1000, i));
    OK(vd_submit(list, NULL, NULL));
    for (uint32_t i = 0; i < 1000; i += 111) assert_int_equal(read_u32(f->ctx, b, i), 19000 + i);
}

TEST_EXECUTED(immediate_work_is_submitted_when_the_batch_is_full) {
    vd_buffer b = buffer_u32(f->ctx, "b", 64, NULL);
    vd_kernel k = kernel_affine(f->ctx);
    for (uint32_t i = 0; i < 5000; i++) OK(affine(vd_immediate(f->ctx, 0, 0), k, b, 64, 1, 1));
    assert_true(stats_of(f->ctx).submissions >= 1);
    assert_int_equal(read_u32(f->ctx, b, 63), 5000);
}

TEST(writes_in_a_list_are_copied_when_recorded) {
    uint32_t word = 5;
    vd_buffer b = buffer_u32(f->ctx, "b", 4, NULL);
    vd_list *list = list_begin(f->ctx);
    OK(vd_write(list, b, 4, &word, 4));
    word = 6;
    OK(vd_write(list, b, 8, &word, 4));
    word = 7;
    assert_int_equal(read_u32(f->ctx, b, 1), 0);
    OK(vd_submit(list, NULL, NULL));
    assert_int_equal(read_u32(f->ctx, b, 1), 5);
    assert_int_equal(read_u32(f->ctx, b, 2), 6);
}

/* ---- end of a list ---- */

TEST(a_discarded_list_does_nothing) {
    vd_buffer b = buffer_u32(f->ctx, "b", 4, NULL);
    for (int i = 0; i < 100; i++) {
        uint32_t words[4] = { 1, 1, 1, 1 };
        vd_list *list = list_begin(f->ctx);
        OK(fill_word(list, b, 0, 9));
        OK(vd_write(list, b, 4, words, 8));
        if (i % 2) OK(vd_list_end(list));
        vd_list_discard(list);
    }
    OK(vd_wait_idle(f->ctx));
    assert_int_equal(read_u32(f->ctx, b, 0), 0);
    assert_int_equal(read_u32(f->ctx, b, 1), 0);
    vd_list_discard(NULL);
}

TEST(a_watched_list_reports_its_status) {
    vd_buffer b = buffer_u32(f->ctx, "b", 4, NULL);
    vd_ticket tickets[4];
    const void *data = &b;
    for (uint32_t i = 0; i < 4; i++) {
        vd_list *list = i == 3 ? vd_immediate(f->ctx, 0, 0) : list_begin(f->ctx);
        if (i) OK(fill_word(list, b, i, i));
        OK(vd_list_watch(list, &tickets[i]));
        assert_int_equal(vd_list_get_status(f->ctx, tickets[i]),
                         i == 3 ? VD_LIST_STATUS_SUBMITTED : VD_LIST_STATUS_OPEN);
        if (i == 2) vd_list_discard(list);
        else OK(vd_submit(list, NULL, NULL));
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(vd_list_get_status(f->ctx, tickets[i]),
                         i == 2 ? VD_LIST_STATUS_DISCARDED : VD_LIST_STATUS_SUBMITTED);
        if (i != 2) OK(vd_read_ready(f->ctx, tickets[i], VD_FOREVER, &data));
        if (i != 2) assert_null(data);
        vd_read_end(f->ctx, tickets[i]);
        assert_int_equal(vd_list_get_status(f->ctx, tickets[i]), VD_LIST_STATUS_UNKNOWN);
        assert_int_equal(read_u32(f->ctx, b, i), i == 2 ? 0 : i);
    }
}

TEST(an_empty_list_can_be_submitted) {
    vd_event event;
    vd_list *list = list_begin(f->ctx);
    OK(vd_submit(list, NULL, &event));
    OK(vd_wait(f->ctx, event, VD_FOREVER));
    OK(vd_submit(vd_immediate(f->ctx, 0, 0), NULL, &event));
    OK(vd_wait(f->ctx, event, VD_FOREVER));
}

TEST(an_ended_list_accepts_no_commands) {
    vd_buffer b = buffer_u32(f->ctx, "b", 4, NULL);
    vd_list *list = list_begin(f->ctx);
    OK(fill_word(list, b, 0, 1));
    OK(vd_list_end(list));
    FAILS(fill_word(list, b, 0, 2), VD_ERROR_INVALID, "vd_fill|ended");
    vd_submit(list, NULL, NULL);
    still_works(f);
}

TEST(the_first_error_of_a_list_is_kept) {
    vd_buffer b = buffer_u32(f->ctx, "kept", 4, NULL);
    vd_list *list = list_begin(f->ctx);
    OK(fill_word(list, b, 0, 1));
    FAILS(vd_fill(list, b, 12, 8, NULL, 0), VD_ERROR_INVALID, "vd_fill|kept|16");
    vd_buffer none = { 0 };
    assert_int_not_equal(vd_copy(list, none, 0, b, 0, 4), VD_OK);
    vd_error_set(VD_OK, "something else");
    FAILS(vd_list_end(list), VD_ERROR_INVALID, "vd_fill|kept|16");
    FAILS(vd_submit(list, NULL, NULL), VD_ERROR_INVALID, "kept");
    assert_int_equal(read_u32(f->ctx, b, 0), 0);
    still_works(f);
}

TEST(an_error_in_immediate_work_does_not_persist) {
    vd_buffer b = buffer_u32(f->ctx, "b", 4, NULL);
    FAILS(vd_fill(vd_immediate(f->ctx, 0, 0), b, 12, 8, NULL, 0), VD_ERROR_INVALID, "vd_fill");
    OK(fill_word(vd_immediate(f->ctx, 0, 0), b, 0, 1));
    OK(vd_flush(f->ctx));
    assert_int_equal(read_u32(f->ctx, b, 0), 1);
}

TEST(a_null_list_is_an_error) {
    vd_buffer b = buffer_u32(f->ctx, "b", 4, NULL);
    vd_ticket ticket;
    uint32_t word = 0;
    vd_read_desc read = { { 0 }, 0, 0, 0 };
    read.buffer = b;
    FAILS(vd_fill(NULL, b, 0, 4, NULL, 0), VD_ERROR_INVALID, "vd_fill");
    FAILS(vd_copy(NULL, b, 0, b, 8, 4), VD_ERROR_INVALID, "vd_copy");
    FAILS(vd_write(NULL, b, 0, &word, 4), VD_ERROR_INVALID, "vd_write");
    FAILS(vd_dispatch(NULL, NULL), VD_ERROR_INVALID, "vd_dispatch");
    FAILS(vd_read_begin(NULL, &read, &ticket), VD_ERROR_INVALID, "vd_read_begin");
    FAILS(vd_list_end(NULL), VD_ERROR_INVALID, "vd_list_end");
    FAILS(vd_submit(NULL, NULL, NULL), VD_ERROR_INVALID, "vd_submit");
}

TEST(invalid_devices_and_queues_are_refused) {
    vd_list_desc desc = { VD_LIST_ONCE, 2, 0, NULL };
    assert_null(vd_immediate(f->ctx, 1, 0));
    assert_non_null(strstr(vd_error_text(), "vd_immediate"));
    assert_null(vd_immediate(f->ctx, 0, 1));
    assert_null(vd_immediate(f->ctx, -1, 0));
    assert_null(vd_list_begin(f->ctx, &desc));
    assert_non_null(strstr(vd_error_text(), "vd_list_begin"));
    desc.device = 0;
    desc.queue = 7;
    assert_null(vd_list_begin(f->ctx, &desc));
    assert_true(vd_immediate(f->ctx, 0, 0) == vd_immediate(f->ctx, 0, 0));
}

TEST(no_desc_means_all_defaults) {
    vd_list *list = vd_list_begin(f->ctx, NULL);
    assert_non_null(list);
    vd_list_discard(list);
}

/* ---- events and waits ---- */

TEST(events_are_reached) {
    vd_event events[20], none = { 0, 0, 0, 0 };
    vd_buffer b = buffer_u32(f->ctx, "b", 4, NULL);
    OK(vd_wait(f->ctx, none, 0));
    for (uint32_t i = 0; i < 20; i++) {
        vd_list *list = i % 2 ? list_begin(f->ctx) : vd_immediate(f->ctx, 0, 0);
        OK(fill_word(list, b, 0, i));
        OK(vd_submit(list, NULL, &events[i]));
    }
    for (int i = 19; i >= 0; i--) OK(vd_wait(f->ctx, events[i], VD_FOREVER));
    for (int i = 0; i < 20; i++) OK(vd_wait(f->ctx, events[i], 0));
    assert_int_equal(read_u32(f->ctx, b, 0), 19);
}

TEST(invalid_events_are_refused) {
    vd_event event, bad;
    OK(vd_submit(vd_immediate(f->ctx, 0, 0), NULL, &event));
    bad = event;
    bad.value += 1000;
    FAILS(vd_wait(f->ctx, bad, 1000), VD_ERROR_INVALID, "vd_wait");
    bad = event;
    bad.queue = 9;
    FAILS(vd_wait(f->ctx, bad, 1000), VD_ERROR_INVALID, "vd_wait");
    bad = event;
    bad.device = 9;
    FAILS(vd_wait(f->ctx, bad, 1000), VD_ERROR_INVALID, "vd_wait");
    FAILS(vd_wait(context_beside(f), event, 1000), VD_ERROR_INVALID, "vd_wait|context");
    OK(vd_wait(f->ctx, event, VD_FOREVER));
}

TEST_EXECUTED(waits_end_in_time) {
    vd_buffer b = buffer_u32(f->ctx, "b", 512, NULL);
    vd_kernel slow = kernel_slow(f->ctx);
    vd_event event;
    vd_list *list = list_begin(f->ctx);
    vd_arg args[2];
    args[0] = vd_b(b);
    args[1] = vd_u32(SLOW_ROUNDS);
    OK(dispatch(list, slow, 512, args, 2));
    OK(vd_submit(list, NULL, &event));
    uint64_t start = now_ns();
    vd_result polled = vd_wait(f->ctx, event, 0);
    assert_true(polled == VD_OK || polled == VD_TIMEOUT);
    vd_result waited = vd_wait(f->ctx, event, 2000000);
    uint64_t took = now_ns() - start;
    assert_true(waited == VD_OK || waited == VD_TIMEOUT);
    if (waited == VD_TIMEOUT) assert_true(took >= 1900000);
    if (waited == VD_TIMEOUT) assert_int_equal(polled, VD_TIMEOUT);
    OK(vd_wait(f->ctx, event, VD_FOREVER));
    OK(vd_wait(f->ctx, event, 0));
    uint32_t expected = 0;
    for (uint32_t i = 0; i < SLOW_ROUNDS * SLOW_STEPS; i++) expected = expected * 1664525u + i / SLOW_STEPS;
    assert_int_equal(read_u32(f->ctx, b, 511), expected);
}

TEST(submissions_wait_for_events) {
    vd_buffer a = buffer_u32(f->ctx, "a", 4, NULL), b = buffer_u32(f->ctx, "b", 4, NULL);
    vd_event events[3];
    memset(events, 0, sizeof events); /* the last one stays {0}, which counts as done */
    for (int i = 0; i < 2; i++) {
        vd_list *list = list_begin(f->ctx);
        OK(fill_word(list, a, (uint64_t)i, 5));
        OK(vd_submit(list, NULL, &events[i]));
    }
    vd_submit_desc after = { NULL, 3 };
    after.waits = events;
    vd_list *list = list_begin(f->ctx);
    OK(vd_copy(list, b, 0, a, 0, 16));
    OK(vd_submit(list, &after, &events[0]));
    OK(vd_wait(f->ctx, events[0], VD_FOREVER));
    assert_int_equal(read_u32(f->ctx, b, 1), 5);
}

TEST(flush_submits_and_idle_waits) {
    vd_buffer b = buffer_u32(f->ctx, "b", 4, NULL);
    uint64_t before;
    OK(vd_flush(f->ctx));
    OK(vd_wait_idle(f->ctx));
    before = stats_of(f->ctx).submissions;
    OK(fill_word(vd_immediate(f->ctx, 0, 0), b, 0, 1));
    OK(vd_flush(f->ctx));
    assert_int_equal(stats_of(f->ctx).submissions, before + 1);
    OK(vd_flush(f->ctx)); /* nothing is left to submit */
    assert_int_equal(stats_of(f->ctx).submissions, before + 1);
    OK(vd_wait_idle(f->ctx));
    assert_int_equal(stats_of(f->ctx).submissions, before + 1);
}

/* ---- asynchronous reads ---- */

static vd_ticket read_begin(vd_list *list, vd_buffer b, uint64_t offset, uint64_t size) {
    vd_ticket ticket = { 0 };
    vd_read_desc desc = { { 0 }, 0, 0, 0 };
    desc.buffer = b;
    desc.offset = offset;
    desc.size = size;
    OK(vd_read_begin(list, &desc, &ticket));
    return ticket;
}

TEST(a_read_has_the_data_of_its_place_in_the_order) {
    uint32_t words[4] = { 1, 2, 3, 4 };
    const void *data = NULL;
    vd_buffer b = buffer_u32(f->ctx, "b", 4, words);
    vd_ticket early = read_begin(vd_immediate(f->ctx, 0, 0), b, 4, 8);
    OK(fill_word(vd_immediate(f->ctx, 0, 0), b, 1, 99));
    vd_ticket late = read_begin(vd_immediate(f->ctx, 0, 0), b, 0, 0);
    OK(vd_read_ready(f->ctx, late, VD_FOREVER, &data));
    assert_int_equal(((const uint32_t *)data)[1], 99);
    assert_int_equal(((const uint32_t *)data)[3], 4);
    const void *older = NULL;
    OK(vd_read_ready(f->ctx, early, VD_FOREVER, &older));
    assert_int_equal(((const uint32_t *)older)[0], 2);
    assert_int_equal(((const uint32_t *)older)[1], 3);
    OK(vd_read_ready(f->ctx, early, 0, &data));
    assert_ptr_equal(data, older);
    vd_read_end(f->ctx, early);
    vd_read_end(f->ctx, late);
    FAILS(vd_read_ready(f->ctx, early, 0, &data), VD_ERROR_INVALID, "vd_read_ready");
}

TEST(data_stays_valid_until_read_end) {
    enum { READS = 32, WORDS = 5000 };
    static uint32_t words[WORDS];
    vd_ticket tickets[READS];
    const void *data[READS];
    vd_buffer b = buffer_u32(f->ctx, "b", WORDS, NULL);
    for (uint32_t i = 0; i < READS; i++) {
        for (uint32_t j = 0; j < WORDS; j++) words[j] = i * 100000 + j;
        OK(vd_write(vd_immediate(f->ctx, 0, 0), b, 0, words, sizeof words));
        tickets[i] = read_begin(vd_immediate(f->ctx, 0, 0), b, 0, VD_WHOLE);
    }
    for (uint32_t i = 0; i < READS; i++)
        OK(vd_read_ready(f->ctx, tickets[READS - 1 - i], VD_FOREVER, &data[READS - 1 - i]));
    for (uint32_t i = 0; i < 1000; i++) read_u32(f->ctx, b, i); /* other reads do not reuse its memory */
    for (uint32_t i = 0; i < READS; i++) {
        for (uint32_t j = 0; j < WORDS; j += 499) assert_int_equal(((const uint32_t *)data[i])[j], i * 100000 + j);
    }
    for (uint32_t i = 0; i < READS; i++) vd_read_end(f->ctx, tickets[(i * 7) % READS]);
}

TEST_EXECUTED(a_read_may_not_be_ready_yet) {
    vd_buffer b = buffer_u32(f->ctx, "b", 64, NULL);
    vd_kernel slow = kernel_slow(f->ctx);
    const void *data = NULL;
    OK(vd_run(f->ctx, slow, 64, vd_b(b), vd_u32(SLOW_ROUNDS)));
    vd_ticket ticket = read_begin(vd_immediate(f->ctx, 0, 0), b, 0, 4);
    vd_result polled = vd_read_ready(f->ctx, ticket, 0, &data);
    assert_true(polled == VD_OK || polled == VD_TIMEOUT);
    OK(vd_read_ready(f->ctx, ticket, VD_FOREVER, &data));
    assert_non_null(data);
    vd_read_end(f->ctx, ticket);
}

TEST(a_read_in_a_list_is_ready_after_submission) {
    const void *data = NULL;
    vd_buffer b = buffer_u32(f->ctx, "b", 4, NULL);
    vd_list *list = list_begin(f->ctx);
    OK(fill_word(list, b, 2, 42));
    vd_ticket ticket = read_begin(list, b, 8, 4);
    vd_result early = vd_read_ready(f->ctx, ticket, 0, &data);
    assert_int_not_equal(early, VD_OK);
    OK(vd_submit(list, NULL, NULL));
    OK(vd_read_ready(f->ctx, ticket, VD_FOREVER, &data));
    assert_int_equal(*(const uint32_t *)data, 42);
    vd_read_end(f->ctx, ticket);
}

TEST(a_read_in_a_discarded_list_fails) {
    const void *data = NULL;
    vd_buffer b = buffer_u32(f->ctx, "b", 4, NULL);
    vd_list *list = list_begin(f->ctx);
    vd_ticket ticket = read_begin(list, b, 8, 4);
    vd_list_discard(list);
    FAILS(vd_read_ready(f->ctx, ticket, 1000, &data), VD_ERROR_INVALID, "vd_read_ready");
    vd_read_end(f->ctx, ticket);
    still_works(f);
}

TEST(a_read_can_be_cancelled) {
    vd_buffer b = buffer_u32(f->ctx, "b", 1000, NULL);
    for (int i = 0; i < 1000; i++) {
        vd_ticket ticket = read_begin(vd_immediate(f->ctx, 0, 0), b, 0, VD_WHOLE);
        vd_read_end(f->ctx, ticket);
    }
    vd_ticket none = { 0 };
    vd_read_end(f->ctx, none);
    still_works(f);
}

static const struct CMUnitTest cases[] = {
    CASE(lists_execute_in_order_of_submission), CASE(lists_and_immediate_work_keep_their_order),
    CASE(a_list_after_earlier_work_is_one_submission), CASE(a_list_may_be_long),
    CASE(immediate_work_is_submitted_when_the_batch_is_full), CASE(writes_in_a_list_are_copied_when_recorded),
    CASE(a_discarded_list_does_nothing), CASE(a_watched_list_reports_its_status), CASE(an_empty_list_can_be_submitted),
    CASE(an_ended_list_accepts_no_commands), CASE(the_first_error_of_a_list_is_kept),
    CASE(an_error_in_immediate_work_does_not_persist), CASE(a_null_list_is_an_error),
    CASE(invalid_devices_and_queues_are_refused), CASE(no_desc_means_all_defaults), CASE(events_are_reached),
    CASE(invalid_events_are_refused), CASE(waits_end_in_time), CASE(submissions_wait_for_events),
    CASE(flush_submits_and_idle_waits), CASE(a_read_has_the_data_of_its_place_in_the_order),
    CASE(data_stays_valid_until_read_end), CASE(a_read_may_not_be_ready_yet),
    CASE(a_read_in_a_list_is_ready_after_submission), CASE(a_read_in_a_discarded_list_fails),
    CASE(a_read_can_be_cancelled),
};

MAIN("lists", cases)
