/* Threads: any function may be called from any thread. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 200, WORDS = 256 };

typedef struct job {
    fixture *f;
    vd_context *ctx;
    vd_kernel affine;
    vd_buffer shared;
    uint32_t number;
    char problem[512]; /* cmocka's checks may only be used on the main thread */
} job;

#define TRY(call) do { \
        vd_result try_result_ = (call); \
        if (try_result_) { \
            snprintf(j->problem, sizeof j->problem, "%s: %s: %.300s", #call, vd_result_name(try_result_), \
                vd_error_text()); \
            return NULL; \
        } \
    } while (0)
#define EXPECT(condition) do { \
        if (!(condition)) { \
            snprintf(j->problem, sizeof j->problem, "thread %u: %s", j->number, #condition); \
            return NULL; \
        } \
    } while (0)

static void run_jobs(fixture *f, void *(*run)(void *), vd_kernel affine_kernel, vd_buffer shared) {
    static job jobs[THREADS];
    pthread_t threads[THREADS];
    memset(jobs, 0, sizeof jobs);
    for (uint32_t i = 0; i < THREADS; i++) {
        jobs[i].f = f;
        jobs[i].ctx = f->ctx;
        jobs[i].affine = affine_kernel;
        jobs[i].shared = shared;
        jobs[i].number = i;
        assert_int_equal(pthread_create(&threads[i], NULL, run, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        if (jobs[i].problem[0]) fail_msg("%s", jobs[i].problem);
    }
}

static vd_buffer job_buffer(job *j) {
    vd_buffer_desc desc = { 0 };
    desc.name = "of a thread";
    desc.type = VD_U32;
    desc.shape[0] = WORDS;
    return vd_buffer_create(j->ctx, &desc);
}

static void *record_immediate(void *user) {
    job *j = (job *)user;
    uint32_t value = 0;
    vd_buffer own = job_buffer(j);
    EXPECT(own.id);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        TRY(affine(vd_immediate(j->ctx, 0, 0), j->affine, own, WORDS, 1, 1));
        TRY(affine(vd_immediate(j->ctx, 0, 0), j->affine, j->shared, WORDS, 1, 1));
        if (i % 50 == 0) TRY(vd_flush(j->ctx));
        if (i % 70 == 0) TRY(vd_buffer_read(j->ctx, own, 4, &value, 4));
        if (i % 70 == 0 && j->f->executes) EXPECT(value == i + 1);
    }
    TRY(vd_buffer_read(j->ctx, own, 4 * (WORDS - 1), &value, 4));
    if (j->f->executes) EXPECT(value == ROUNDS);
    vd_buffer_destroy(j->ctx, own);
    return NULL;
}

TEST(eight_threads_record_to_the_immediate_list) {
    vd_buffer shared = buffer_u32(f->ctx, "shared", WORDS, NULL);
    vd_stats before = stats_of(f->ctx);
    run_jobs(f, record_immediate, kernel_affine(f->ctx), shared);
    if (f->executes) assert_int_equal(read_u32(f->ctx, shared, WORDS - 1), THREADS * ROUNDS);
    vd_stats s = stats_of(f->ctx);
    assert_int_equal(s.dispatches - before.dispatches, 2 * THREADS * ROUNDS);
    assert_int_equal(s.buffers, before.buffers);
}

static void *record_lists(void *user) {
    job *j = (job *)user;
    uint32_t value = 0;
    vd_buffer own = job_buffer(j);
    EXPECT(own.id);
    for (uint32_t i = 0; i < ROUNDS / 4; i++) {
        vd_event event;
        vd_list *list = vd_list_begin(j->ctx, NULL);
        EXPECT(list);
        for (int n = 0; n < 4; n++) TRY(affine(list, j->affine, own, WORDS, 1, 1));
        TRY(affine(list, j->affine, j->shared, WORDS, 1, 1));
        TRY(vd_write(list, own, 0, &i, 4));
        if (i % 10 == 3) {
            vd_list_discard(list);
            TRY(affine(vd_immediate(j->ctx, 0, 0), j->affine, own, WORDS, 1, 4));
            continue;
        }
        TRY(vd_submit(list, NULL, &event));
        if (i % 5 == 0) TRY(vd_wait(j->ctx, event, VD_FOREVER));
    }
    TRY(vd_buffer_read(j->ctx, own, 8, &value, 4));
    if (j->f->executes) EXPECT(value == ROUNDS);
    return NULL;
}

TEST(eight_threads_submit_lists_of_their_own) {
    vd_buffer shared = buffer_u32(f->ctx, "shared", WORDS, NULL);
    run_jobs(f, record_lists, kernel_affine(f->ctx), shared);
    uint32_t discarded = 0;
    for (uint32_t i = 0; i < ROUNDS / 4; i++) discarded += i % 10 == 3;
    if (f->executes) assert_int_equal(read_u32(f->ctx, shared, 9), THREADS * (ROUNDS / 4 - discarded));
}

static void *come_and_go(void *user) {
    job *j = (job *)user;
    dice d = { j->number };
    static const uint32_t sizes[] = { 1, 17, 1000, 100000 };
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t words = sizes[roll(&d, 4)], tag = j->number << 16 | i, got = 0;
        vd_buffer_desc desc = { 0 };
        desc.type = VD_U32;
        desc.shape[0] = words;
        vd_buffer b = vd_buffer_create(j->ctx, &desc);
        EXPECT(b.id);
        TRY(vd_fill(vd_immediate(j->ctx, 0, 0), b, 0, VD_WHOLE, &tag, 4));
        TRY(vd_buffer_read(j->ctx, b, 4 * (uint64_t)(words - 1), &got, 4));
        EXPECT(got == tag);
        vd_buffer_destroy(j->ctx, b);
    }
    return NULL;
}

TEST(eight_threads_create_and_destroy_buffers) {
    vd_kernel no_kernel = { 0 };
    vd_buffer no_buffer = { 0 };
    uint64_t before = stats_of(f->ctx).buffers;
    run_jobs(f, come_and_go, no_kernel, no_buffer);
    assert_int_equal(stats_of(f->ctx).buffers, before);
}

static void *build_kernels(void *user) {
    job *j = (job *)user;
    vd_buffer own = job_buffer(j);
    EXPECT(own.id);
    for (uint32_t i = 0; i < 10; i++) {
        vc_kernel_desc desc = { 0 };
        uint32_t value = 0;
        desc.machine = vd_machine(j->ctx);
        vc_kernel *k = vc_begin(&desc);
        vc_ref x = vc_buffer(k, "x", VC_U32, VC_WRITE);
        VC_EACH(k, n) { vc_store(x, n, vc_add(n, vc_u32(1000 * j->number + i))); }
        vd_kernel kernel = vd_kernel_build(j->ctx, k);
        vc_free(k);
        EXPECT(kernel.id);
        TRY(vd_run(j->ctx, kernel, WORDS, vd_b(own)));
        TRY(vd_buffer_read(j->ctx, own, 12, &value, 4));
        if (j->f->executes) EXPECT(value == 1000 * j->number + i + 3);
        vd_kernel_destroy(j->ctx, kernel);
    }
    return NULL;
}

TEST(eight_threads_build_kernels) {
    vd_kernel no_kernel = { 0 };
    vd_buffer no_buffer = { 0 };
    uint64_t before = stats_of(f->ctx).kernels;
    run_jobs(f, build_kernels, no_kernel, no_buffer);
    assert_int_equal(stats_of(f->ctx).kernels, before);
}

static void *own_context(void *user) {
    job *j = (job *)user;
    for (uint32_t i = 0; i < 2; i++) {
        vd_context_desc desc = fixture_desc(j->f);
        TRY(vd_context_create(&desc, &j->ctx));
        vd_buffer own = job_buffer(j);
        uint32_t tag = j->number * 10 + i, got = 0;
        EXPECT(own.id);
        TRY(vd_buffer_write(j->ctx, own, 400, &tag, 4));
        TRY(vd_buffer_read(j->ctx, own, 400, &got, 4));
        EXPECT(got == tag);
        vd_context_destroy(j->ctx);
    }
    return NULL;
}

TEST(eight_threads_have_contexts_of_their_own) {
    vd_kernel no_kernel = { 0 };
    vd_buffer no_buffer = { 0 };
    run_jobs(f, own_context, no_kernel, no_buffer);
}

static void *make_errors(void *user) {
    job *j = (job *)user;
    char name[32];
    vd_buffer_desc desc = { 0 };
    snprintf(name, sizeof name, "buffer-of-thread-%u", j->number);
    desc.name = name;
    desc.shape[0] = 16;
    vd_buffer own = vd_buffer_create(j->ctx, &desc);
    EXPECT(own.id);
    for (int i = 0; i < 1000; i++) {
        uint8_t bytes[32];
        EXPECT(vd_buffer_read(j->ctx, own, 8, bytes, 9) == VD_ERROR_INVALID);
        EXPECT(strstr(vd_error_text(), name) != NULL);
    }
    return NULL;
}

/* Records out = 1 * out + "add" into a graph, through a transient buffer, in a scope. */
static vd_graph job_graph(job *j, vd_buffer out) {
    vd_list *list = vd_graph_begin(j->ctx, NULL);
    vd_arg args[3] = { vd_b(out), vd_u32(1), vd_slot("add", vd_u32(0)) };
    vd_buffer_desc desc = { 0 };
    vd_graph none = { 0 };
    if (!list) return none;
    desc.type = VD_U32;
    desc.shape[0] = WORDS;
    vd_buffer between = vd_graph_buffer(list, &desc);
    vd_scope_begin(list, "graph");
    dispatch(list, j->affine, WORDS, args, 3);
    vd_copy(list, between, 0, out, 0, VD_WHOLE);
    vd_copy(list, out, 0, between, 0, VD_WHOLE);
    vd_scope_end(list);
    return vd_graph_end(list);
}

static vd_graph common_graph; /* of the buffer `shared` */

/* Creates, writes, records, replays, reads and destroys; and replays a graph of all threads. */
static void *replay_graphs(void *user) {
    job *j = (job *)user;
    static const uint32_t zeros[WORDS];
    vd_scope_info scopes[8];
    uint32_t value = 0;
    for (uint32_t i = 0; i < 8; i++) {
        vd_buffer own = job_buffer(j);
        EXPECT(own.id);
        TRY(vd_write(vd_immediate(j->ctx, 0, 0), own, 0, zeros, sizeof zeros));
        vd_graph g = job_graph(j, own);
        if (!g.id) TRY(vd_error_result());
        for (uint32_t k = 0; k < 20; k++) {
            vd_graph_value add = { "add", vd_u32(1), 0 };
            vd_graph_submit_desc desc = { NULL, 0, (int)(1 + k % 2), &add, 1 };
            if (k % 5 == 4) TRY(vd_graph_set(j->ctx, g, "add", vd_u32(k)));
            TRY(vd_graph_submit(j->ctx, g, &desc, NULL));
            TRY(vd_graph_submit(j->ctx, common_graph, &desc, NULL));
        }
        vd_profile_read(j->ctx, scopes, 8);
        TRY(vd_buffer_read(j->ctx, own, 4, &value, 4));
        if (j->f->executes) EXPECT(value == 30);
        if (i % 2) vd_buffer_destroy(j->ctx, own);
        vd_graph_destroy(j->ctx, g);
        if (i % 2 == 0) vd_buffer_destroy(j->ctx, own);
    }
    return NULL;
}

TEST(eight_threads_replay_graphs) {
    vd_context_desc desc = fixture_desc(f);
    fixture profiled = *f;
    job all;
    desc.profile = true;
    memset(&all, 0, sizeof all);
    profiled.ctx = context_with(f, &desc);
    all.ctx = profiled.ctx;
    all.affine = kernel_affine(profiled.ctx);
    all.shared = buffer_u32(profiled.ctx, "shared", WORDS, NULL);
    common_graph = job_graph(&all, all.shared);
    if (!common_graph.id) fail_msg("vd_graph_end: %s", vd_error_text());
    run_jobs(&profiled, replay_graphs, all.affine, all.shared);
    OK(vd_wait_idle(profiled.ctx));
    if (f->executes) assert_int_equal(read_u32(profiled.ctx, all.shared, 7), THREADS * 8 * 30);
    vd_graph_destroy(profiled.ctx, common_graph);
    vd_kernel_destroy(profiled.ctx, all.affine);
    vd_buffer_destroy(profiled.ctx, all.shared);
}

TEST(each_thread_has_an_error_text_of_its_own) {
    vd_kernel no_kernel = { 0 };
    vd_buffer no_buffer = { 0 };
    vd_error_set(VD_OK, "the main thread's");
    run_jobs(f, make_errors, no_kernel, no_buffer);
    assert_string_equal(vd_error_text(), "the main thread's");
}

static void *wait_together(void *user) {
    job *j = (job *)user;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        vd_event event;
        TRY(affine(vd_immediate(j->ctx, 0, 0), j->affine, j->shared, WORDS, 1, 1));
        TRY(vd_submit(vd_immediate(j->ctx, 0, 0), NULL, &event));
        vd_result polled = vd_wait(j->ctx, event, 0);
        EXPECT(polled == VD_OK || polled == VD_TIMEOUT);
        if (i % 3 == 0) TRY(vd_wait(j->ctx, event, VD_FOREVER));
        if (i % 40 == 0) TRY(vd_wait_idle(j->ctx));
    }
    return NULL;
}

TEST(eight_threads_submit_and_wait) {
    vd_buffer shared = buffer_u32(f->ctx, "shared", WORDS, NULL);
    run_jobs(f, wait_together, kernel_affine(f->ctx), shared);
    if (f->executes) assert_int_equal(read_u32(f->ctx, shared, 0), THREADS * ROUNDS);
}

enum { LENT = 4 };
static vd_buffer lent[LENT]; /* under lent_lock; replaced by thread 0 */
static pthread_mutex_t lent_lock = PTHREAD_MUTEX_INITIALIZER;

static vd_buffer lent_buffer(uint32_t i) {
    pthread_mutex_lock(&lent_lock);
    vd_buffer b = lent[i % LENT];
    pthread_mutex_unlock(&lent_lock);
    return b;
}

/* Thread 0 destroys buffers that the others use in lists: a call succeeds, or it reports the destroyed buffer. */
static void *destroy_or_use(void *user) {
    job *j = (job *)user;
    for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
        if (!j->number) {
            vd_buffer fresh = job_buffer(j), old = lent_buffer(i);
            EXPECT(fresh.id);
            pthread_mutex_lock(&lent_lock);
            lent[i % LENT] = fresh;
            pthread_mutex_unlock(&lent_lock);
            vd_buffer_destroy(j->ctx, old);
            continue;
        }
        vd_list *list = vd_list_begin(j->ctx, NULL);
        vd_result r = VD_OK;
        EXPECT(list);
        for (uint32_t n = 0; n < 6 && !r; n++) {
            vd_buffer b = lent_buffer(i + n / 3);
            r = n % 3 == 0   ? vd_fill(list, b, 0, 64, NULL, 0)
                : n % 3 == 1 ? vd_copy(list, j->shared, 64 * j->number, b, 0, 64)
                             : affine(list, j->affine, b, WORDS, 1, 1);
            EXPECT(!r || r == VD_ERROR_INVALID);
        }
        if (r || i % 4 == 0) vd_list_discard(list);
        else TRY(vd_submit(list, NULL, NULL));
    }
    return NULL;
}

TEST(buffers_are_destroyed_while_lists_use_them) {
    vd_buffer shared = buffer_u32(f->ctx, "shared", WORDS, NULL);
    uint64_t before = stats_of(f->ctx).buffers;
    for (int i = 0; i < LENT; i++) lent[i] = buffer_u32(f->ctx, "lent", WORDS, NULL);
    run_jobs(f, destroy_or_use, kernel_affine(f->ctx), shared);
    for (int i = 0; i < LENT; i++) vd_buffer_destroy(f->ctx, lent[i]);
    OK(vd_wait_idle(f->ctx));
    assert_int_equal(stats_of(f->ctx).buffers, before);
}

static vd_buffer one_size; /* 64 threads, for all threads */

static vd_result dispatch_indirectly(vd_list *list, const job *j, vd_buffer x, uint32_t add) {
    vd_arg args[] = { vd_b(x), vd_u32(1), vd_u32(add) };
    vd_dispatch_desc desc = { 0 };
    desc.kernel = j->affine;
    desc.args = args;
    desc.arg_count = 3;
    desc.indirect = one_size;
    return vd_dispatch(list, &desc);
}

/* On three queues, in immediate lists and lists of their own. */
static void *submit_indirect(void *user) {
    job *j = (job *)user;
    vd_buffer own = job_buffer(j);
    uint32_t value = 0;
    EXPECT(own.id);
    for (uint32_t i = 0; i < ROUNDS / 4; i++) {
        vd_list_desc desc = { 0 };
        vd_event event;
        desc.queue = (int)((j->number + i) % 3);
        vd_list *list = i % 2 ? vd_list_begin(j->ctx, &desc) : vd_immediate(j->ctx, 0, desc.queue);
        EXPECT(list);
        TRY(dispatch_indirectly(list, j, own, 1));
        TRY(dispatch_indirectly(list, j, j->shared, 1));
        TRY(vd_submit(list, NULL, &event));
        if (i % 5 == 0) TRY(vd_wait(j->ctx, event, VD_FOREVER));
        if (i % 7 == 0) TRY(vd_flush(j->ctx));
        vd_buffer brief = job_buffer(j);
        EXPECT(brief.id);
        if (i % 3 == 0) TRY(vd_copy(vd_immediate(j->ctx, 0, 0), brief, 0, own, 0, VD_WHOLE));
        vd_buffer_destroy(j->ctx, brief);
    }
    TRY(vd_buffer_read(j->ctx, own, 4 * 63, &value, 4));
    if (j->f->executes) EXPECT(value == ROUNDS / 4);
    TRY(vd_buffer_read(j->ctx, own, 4 * 64, &value, 4));
    if (j->f->executes) EXPECT(value == 0);
    vd_buffer_destroy(j->ctx, own);
    return NULL;
}

TEST(eight_threads_dispatch_indirectly) {
    const uint32_t size[3] = { 64, 1, 1 };
    vd_context_desc desc = fixture_desc(f);
    fixture three = *f;
    desc.queues = 3;
    three.ctx = context_with(f, &desc);
    one_size = buffer_u32(three.ctx, "size", 3, size);
    vd_buffer shared = buffer_u32(three.ctx, "shared", WORDS, NULL);
    run_jobs(&three, submit_indirect, kernel_affine(three.ctx), shared);
    if (f->executes) assert_int_equal(read_u32(three.ctx, shared, 63), THREADS * (ROUNDS / 4));
    OK(vd_wait_idle(three.ctx));
    vd_buffer_destroy(three.ctx, shared);
    vd_buffer_destroy(three.ctx, one_size);
}

static const struct CMUnitTest cases[] = {
    CASE(eight_threads_record_to_the_immediate_list), CASE(eight_threads_submit_lists_of_their_own),
    CASE(eight_threads_create_and_destroy_buffers), CASE(eight_threads_build_kernels),
    CASE(eight_threads_have_contexts_of_their_own), CASE(eight_threads_replay_graphs),
    CASE(each_thread_has_an_error_text_of_its_own),
    CASE(eight_threads_submit_and_wait), CASE(buffers_are_destroyed_while_lists_use_them),
    CASE(eight_threads_dispatch_indirectly),
};

MAIN("threads", cases)
