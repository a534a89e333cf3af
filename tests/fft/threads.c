/* Simple calls from several threads: creating a plan does not block threads that need another plan, results are right,
   and the documented number of plans is kept. */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <pthread.h>
#include <time.h>

/* ---- one thread blocks while it creates a plan ---- */

typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    pthread_t slow;          /* the thread whose next large allocation blocks */
    bool armed, inside, open, late;
} gate;

/* bytes; the object of a transform plan is larger, and while it is allocated only the entry of that plan is locked */
enum { LARGE = 4096 };

static void block_large_allocation(gate *g, size_t size) {
    struct timespec limit;
    pthread_mutex_lock(&g->lock);
    if (g->armed && size >= LARGE && pthread_equal(g->slow, pthread_self())) {
        g->armed = false;
        g->inside = true;
        pthread_cond_broadcast(&g->turn);
        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_sec += 20;
        while (!g->open && !g->late) g->late = pthread_cond_timedwait(&g->turn, &g->lock, &limit) != 0;
    }
    pthread_mutex_unlock(&g->lock);
}

static void *take(void *user, size_t size) {
    block_large_allocation((gate *)user, size);
    return malloc(size);
}

static void *grow(void *user, void *block, size_t size) {
    (void)user;
    return realloc(block, size);
}

static void give(void *user, void *block) {
    (void)user;
    free(block);
}

typedef struct job {
    vd_context *ctx;
    gate *g;
    uint32_t number, done;
    char problem[256]; /* cmocka's checks may only be used on the main thread */
} job;

static vd_buffer complex_of(vd_context *ctx, uint64_t count, const void *data) {
    return buffer_of(ctx, VD_F32C, count, data);
}

static void *forward_slowly(void *user) {
    job *j = (job *)user;
    vd_buffer b = complex_of(j->ctx, 40, NULL);
    pthread_mutex_lock(&j->g->lock);
    j->g->slow = pthread_self();
    j->g->armed = true;
    pthread_mutex_unlock(&j->g->lock);
    if (vd_fft_forward(j->ctx, b)) snprintf(j->problem, sizeof j->problem, "%.250s", vd_error_text());
    vd_buffer_destroy(j->ctx, b);
    return NULL;
}

static void creating_a_plan_does_not_block_others(void **state) {
    vd_context_desc desc = { 0 };
    vd_context *ctx = NULL;
    pthread_t thread;
    gate g;
    job j;
    (void)state;
    memset(&g, 0, sizeof g);
    memset(&j, 0, sizeof j);
    pthread_mutex_init(&g.lock, NULL);
    pthread_cond_init(&g.turn, NULL);
    desc.backend = VD_BACKEND_DUMMY;
    desc.allocator.allocate = take;
    desc.allocator.reallocate = grow;
    desc.allocator.release = give;
    desc.allocator.user = &g;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    j.ctx = ctx;
    j.g = &g;
    vd_buffer b = complex_of(ctx, 56, NULL), sums = buffer_of(ctx, VD_F32, 16, NULL),
              sum = buffer_of(ctx, VD_F32, 1, NULL);
    assert_int_equal(pthread_create(&thread, NULL, forward_slowly, &j), 0);
    pthread_mutex_lock(&g.lock);
    while (!g.inside) pthread_cond_wait(&g.turn, &g.lock);
    pthread_mutex_unlock(&g.lock);
    vd_result first = vd_fft_forward(ctx, b), second = vd_reduce_sum(ctx, sums, sum); /* each creates a plan */
    pthread_mutex_lock(&g.lock);
    g.open = true;
    pthread_cond_broadcast(&g.turn);
    pthread_mutex_unlock(&g.lock);
    pthread_join(thread, NULL);
    if (j.problem[0]) fail_msg("%s", j.problem);
    assert_int_equal(first, VD_OK);
    assert_int_equal(second, VD_OK);
    if (g.late) fail_msg("creating one plan blocked a thread that needed another");
    vd_buffer_destroy(ctx, b);
    vd_buffer_destroy(ctx, sums);
    vd_buffer_destroy(ctx, sum);
    vd_context_destroy(ctx);
    pthread_mutex_destroy(&g.lock);
    pthread_cond_destroy(&g.turn);
}

/* ---- many threads at once ---- */

enum { THREADS = 4 };

#define TRY(call) do { \
        if (call) { \
            snprintf(j->problem, sizeof j->problem, "%s: %.200s", #call, vd_error_text()); \
            return NULL; \
        } \
    } while (0)

static void run_jobs(vd_context *ctx, void *(*run)(void *)) {
    static job jobs[THREADS];
    pthread_t threads[THREADS];
    memset(jobs, 0, sizeof jobs);
    for (uint32_t i = 0; i < THREADS; i++) {
        jobs[i].ctx = ctx;
        jobs[i].number = i;
        assert_int_equal(pthread_create(&threads[i], NULL, run, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) if (jobs[i].problem[0]) fail_msg("thread %d: %s", i, jobs[i].problem);
}

/* Uses plans that other threads use too, in another order, with buffers of its own. The transform of ones is n followed
   by zeros, exactly. */
static void *some_of_each(void *user) {
    static const uint64_t lengths[] = { 8, 16, 32, 64 };
    job *j = (job *)user;
    for (uint32_t round = 0; round < 12; round++) {
        uint64_t n = lengths[(round + j->number) % COUNT(lengths)];
        uint32_t numbers[64], sum = 0, wanted = 0;
        float x[2 * 64];
        for (uint64_t i = 0; i < n; i++) {
            x[2 * i] = 1;
            x[2 * i + 1] = 0;
            numbers[i] = (uint32_t)(i * i) + j->number;
            wanted += numbers[i];
        }
        vd_buffer b = complex_of(j->ctx, n, x), in = buffer_of(j->ctx, VD_U32, n, numbers),
                  out = buffer_of(j->ctx, VD_U32, 1, NULL);
        TRY(vd_fft_forward(j->ctx, b));
        TRY(vd_reduce_sum(j->ctx, in, out));
        TRY(vd_buffer_read(j->ctx, b, 0, x, VD_WHOLE));
        TRY(vd_buffer_read(j->ctx, out, 0, &sum, VD_WHOLE));
        if (x[0] != (float)n || x[2] != 0 || x[2 * n - 2] != 0)
            snprintf(j->problem, sizeof j->problem, "a transform of %u is wrong", (unsigned)n);
        if (sum != wanted)
            snprintf(j->problem, sizeof j->problem, "a sum of %u is %u, not %u", (unsigned)n, sum, wanted);
        vd_buffer_destroy(j->ctx, b);
        vd_buffer_destroy(j->ctx, in);
        vd_buffer_destroy(j->ctx, out);
    }
    return NULL;
}

static void right_results(void **state) {
    (void)state;
    need_device();
    run_jobs(device_context, some_of_each);
}

/* More plans than are kept; those of neighbouring threads overlap. */
static void *many_plans(void *user) {
    job *j = (job *)user;
    for (uint64_t n = 1; n <= 60; n++) {
        vd_buffer b = complex_of(j->ctx, 2 * (n + 30 * j->number), NULL);
        TRY(vd_fft_forward(j->ctx, b));
        vd_buffer_destroy(j->ctx, b);
    }
    return NULL;
}

static vd_stats stats_of(vd_context *ctx) {
    vd_stats stats;
    assert_int_equal(vd_context_stats(ctx, &stats), VD_OK);
    return stats;
}

/* Whether transforming b creates a plan: that takes at least seven allocations; running an existing one takes none,
   apart from lists that grow. */
static bool makes_a_plan(vd_context *ctx, vd_buffer b) {
    uint64_t before = stats_of(ctx).host_allocations;
    if (vd_fft_forward(ctx, b)) fail_msg("%s", vd_error_text());
    return stats_of(ctx).host_allocations - before > 5;
}

/* Lengths of 8 … 72 need one kernel each. */
static void sixty_four_are_kept(void **state) {
    vd_context *ctx = dummy_context();
    vd_buffer b[65];
    (void)state;
    run_jobs(ctx, many_plans);
    for (uint64_t i = 0; i < 65; i++) b[i] = complex_of(ctx, 8 + i, NULL);
    for (int i = 0; i < 64; i++) makes_a_plan(ctx, b[i]);
    assert_int_equal(stats_of(ctx).kernels, 64);
    for (int i = 0; i < 64; i++) assert_false(makes_a_plan(ctx, b[i]));
    assert_false(makes_a_plan(ctx, b[0]));
    assert_true(makes_a_plan(ctx, b[64])); /* replaces the least recently used */
    assert_int_equal(stats_of(ctx).kernels, 64);
    for (int i = 0; i < 65; i++) if (i != 1) assert_false(makes_a_plan(ctx, b[i]));
    assert_true(makes_a_plan(ctx, b[1]));
    for (int i = 0; i < 65; i++) vd_buffer_destroy(ctx, b[i]);
    vd_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(creating_a_plan_does_not_block_others),
                                        cmocka_unit_test(right_results), cmocka_unit_test(sixty_four_are_kept) };
    return RUN_ON_DEVICE(tests);
}
