/* Submissions that are suspended while the size of an indirect dispatch is read: what other threads do meanwhile,
   order, failures. The backend waits until the test lets it go on. */
#include "tests/unit/unit.h"

#include <pthread.h>

/* ---- a backend whose waits for a size can be held ---- */

enum { HELD_QUEUES = 3, HELD_VALUES = 256 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool held;                         /* waits for a size do not end */
    int waiting;                       /* threads in a wait */
    vd_result result;                  /* of the next wait for a size that ends */
    int fail_resumed;                  /* so many continued submissions fail */
    struct { uint32_t queue; uint64_t value; } sent[HELD_VALUES]; /* complete submissions, in order */
    int sent_count;
} gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0, VD_OK, 0, { { 0, 0 } }, 0 };

static vd_result held_size_wait(vd__device *dev, uint32_t queue) {
    (void)dev, (void)queue;
    pthread_mutex_lock(&gate.lock);
    gate.waiting++;
    pthread_cond_broadcast(&gate.changed);
    while (gate.held) pthread_cond_wait(&gate.changed, &gate.lock);
    gate.waiting--;
    vd_result r = gate.result;
    gate.result = VD_OK;
    pthread_mutex_unlock(&gate.lock);
    return r ? vd__fail(r, "the wait failed") : VD_OK;
}

static vd_result held_submit(vd__device *dev, uint32_t queue, const vd__submission *s) {
    if (s->resumed && gate.fail_resumed) {
        gate.fail_resumed--;
        return vd__fail(VD_ERROR_BACKEND, "the launch failed");
    }
    vd_result r = vd__dummy_queue_submit(dev, queue, s);
    assert_true(r == VD_OK || r == VD_TIMEOUT);
    if (!r && gate.sent_count < HELD_VALUES) {
        gate.sent[gate.sent_count].queue = queue;
        gate.sent[gate.sent_count++].value = s->value;
    }
    return r;
}

static void gate_hold(bool held) {
    pthread_mutex_lock(&gate.lock);
    gate.held = held;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

/* Returns when `count` threads wait for a size. */
static void gate_await(int count) {
    pthread_mutex_lock(&gate.lock);
    while (gate.waiting < count) pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

/* ---- a context on it, and a thread that submits an indirect dispatch ---- */

typedef struct suspended_rig {
    vd_context *ctx;
    vd_kernel kernel;
    vd_buffer x, y, z, size;           /* the thread uses all but z */
    pthread_t thread;
    uint32_t finished;                 /* the thread's call has returned; atomic */
    vd_result result;                  /* of the thread */
    vd_event event;
    int dispatches;                    /* of the thread */
    bool list;                         /* the thread submits a list instead of the open batch */
} suspended_rig;

static void suspended_open(suspended_rig *g) {
    static vd__backend backend;
    const uint32_t size[3] = { 64, 1, 1 };
    unit_module m;
    vd_context_desc desc;
    memset(g, 0, sizeof *g);
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    desc.queues = HELD_QUEUES;
    assert_int_equal(vd_context_create(&desc, &g->ctx), VD_OK);
    unit_saxpy(&m);
    g->kernel = unit_kernel(g->ctx, &m, "saxpy");
    g->x = unit_buffer(g->ctx, "x", VD_F32, 64, NULL);
    g->y = unit_buffer(g->ctx, "y", VD_F32, 64, NULL);
    g->z = unit_buffer(g->ctx, "z", VD_F32, 64, NULL);
    g->size = unit_buffer(g->ctx, "size", VD_U32, 3, size);
    g->dispatches = 1;
    assert_int_equal(vd_wait_idle(g->ctx), VD_OK);
    backend = vd__backend_dummy;
    backend.queue_submit = held_submit;
    backend.queue_size_wait = held_size_wait;
    g->ctx->driver.backend = &backend;
    gate.sent_count = 0;
}

static vd_result suspended_dispatch(const suspended_rig *g, vd_list *l) {
    vd_arg args[] = { vd_b(g->x), vd_b(g->y), vd_f32(2), vd_u32(64) };
    vd_dispatch_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.kernel = g->kernel;
    desc.args = args;
    desc.arg_count = 4;
    desc.indirect = g->size;
    return vd_dispatch(l, &desc);
}

static void *suspended_run(void *user) {
    suspended_rig *g = (suspended_rig *)user;
    vd_list *l = g->list ? vd_list_begin(g->ctx, NULL) : vd_immediate(g->ctx, 0, 0);
    for (int i = 0; i < g->dispatches && !g->result; i++) g->result = suspended_dispatch(g, l);
    if (!g->result) g->result = vd_submit(l, NULL, &g->event);
    vd__atomic_store32(&g->finished, 1);
    return NULL;
}

static void suspended_start(suspended_rig *g) {
    gate_hold(true);
    assert_int_equal(pthread_create(&g->thread, NULL, suspended_run, g), 0);
    gate_await(1);
}

static void suspended_finish(suspended_rig *g) {
    gate_hold(false);
    pthread_join(g->thread, NULL);
    assert_int_equal(g->result, VD_OK);
}

static void suspended_close(suspended_rig *g) {
    assert_int_equal(gate.waiting, 0);
    vd_context_destroy(g->ctx);
}

/* ---- tests ---- */

/* If the wait held the device's lock, the first of these calls would not return. */
static void other_threads_go_on(void **state) {
    suspended_rig g;
    (void)state;
    for (int list = 0; list < 2; list++) {
        uint32_t word = 5, got = 0;
        vd_event event;
        suspended_open(&g);
        g.list = list != 0;
        suspended_start(&g);
        vd_list *same = vd_immediate(g.ctx, 0, 0), *other = vd_immediate(g.ctx, 0, 1);
        vd_buffer b = unit_buffer(g.ctx, "b", VD_U32, 100, NULL);
        assert_int_equal(vd_buffer_write(g.ctx, b, 4, &word, 4), VD_OK);
        assert_int_equal(vd_fill(other, g.z, 8, 4, &word, 4), VD_OK);
        assert_int_equal(vd_submit(other, NULL, &event), VD_OK);
        assert_int_equal(vd_wait(g.ctx, event, VD_FOREVER), VD_OK);
        assert_int_equal(vd_fill(same, b, 12, 4, &word, 4), VD_OK);  /* recorded, but not submitted */
        assert_int_equal(vd_fill(other, b, 16, 4, &word, 4), VD_OK); /* submits the batch of `same` */
        assert_int_equal(g.ctx->queues[0].submitted, g.ctx->queues[0].sent + 2);
        vd_buffer_destroy(g.ctx, unit_buffer(g.ctx, "of a moment", VD_U32, 100, NULL));
        unit_module m;
        unit_saxpy(&m);
        vd_kernel k = unit_kernel(g.ctx, &m, "made meanwhile");
        assert_int_not_equal(k.id, 0);
        vd_kernel_destroy(g.ctx, k);
        vd_kernel_destroy(g.ctx, g.kernel); /* the suspended submission uses it */
        vd_buffer_destroy(g.ctx, g.size);
        assert_true(unit_stats(g.ctx).submissions > 0);
        assert_int_equal(vd__atomic_load32(&g.finished), 0);
        assert_int_equal(gate.sent_count, 1);
        suspended_finish(&g);
        assert_int_equal(vd_buffer_read(g.ctx, b, 12, &got, 4), VD_OK);
        assert_int_equal(got, 5);
        vd_buffer_destroy(g.ctx, b);
        suspended_close(&g);
    }
}

static void *flush_same_queue(void *user) {
    suspended_rig *g = (suspended_rig *)user;
    float zero = 0;
    vd_result r = vd_fill(vd_immediate(g->ctx, 0, 0), g->y, 0, 4, &zero, 4);
    return r || vd_submit(vd_immediate(g->ctx, 0, 0), NULL, NULL) ? g : NULL;
}

/* A submission to the same queue, and one to another queue that uses the same data, are sent after the suspended one.
   While the first waits for it, the lock is free. */
static void later_submissions_follow(void **state) {
    suspended_rig g;
    pthread_t second;
    void *failed;
    uint32_t word = 1;
    (void)state;
    suspended_open(&g);
    uint64_t before = g.ctx->queues[0].submitted;
    suspended_start(&g);
    assert_int_equal(pthread_create(&second, NULL, flush_same_queue, &g), 0);
    gate_await(2);
    assert_int_equal(vd_fill(vd_immediate(g.ctx, 0, 2), g.z, 0, 4, &word, 4), VD_OK);
    assert_int_equal(vd_submit(vd_immediate(g.ctx, 0, 2), NULL, NULL), VD_OK);
    assert_int_equal(gate.sent_count, 1); /* of queue 2 */
    suspended_finish(&g);
    pthread_join(second, &failed);
    assert_null(failed);
    assert_int_equal(vd_fill(vd_immediate(g.ctx, 0, 1), g.y, 0, 4, &word, 4), VD_OK);
    assert_int_equal(vd_wait_idle(g.ctx), VD_OK);
    assert_int_equal(gate.sent_count, 4);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(gate.sent[i].queue, 0);
        assert_int_equal(gate.sent[i].value, before + (uint64_t)i);
    }
    suspended_close(&g);
}

/* The submission of another queue waits for the suspended one, which this thread completes. */
static void dependent_submissions_complete_it(void **state) {
    suspended_rig g;
    vd_event event;
    uint32_t word = 1;
    (void)state;
    suspended_open(&g);
    g.dispatches = 3;
    suspended_start(&g);
    assert_int_equal(vd_fill(vd_immediate(g.ctx, 0, 1), g.y, 0, 4, &word, 4), VD_OK);
    gate_hold(false);
    assert_int_equal(vd_submit(vd_immediate(g.ctx, 0, 1), NULL, &event), VD_OK);
    assert_int_equal(vd_wait(g.ctx, event, VD_FOREVER), VD_OK);
    assert_int_equal(gate.sent_count, 2);
    assert_int_equal(gate.sent[0].queue, 0);
    assert_int_equal(gate.sent[1].queue, 1);
    suspended_finish(&g);
    suspended_close(&g);
}

/* A wait with a timeout ends in time, and one without waits for the suspended submission. */
static void waits_for_its_value(void **state) {
    suspended_rig g;
    vd_event event;
    (void)state;
    suspended_open(&g);
    suspended_start(&g);
    memset(&event, 0, sizeof event);
    event.context = g.ctx->number;
    event.value = g.ctx->queues[0].submitted;
    assert_int_equal(vd_wait(g.ctx, event, 0), VD_TIMEOUT);
    assert_int_equal(vd_wait(g.ctx, event, 1000000), VD_TIMEOUT);
    suspended_finish(&g);
    assert_int_equal(vd_wait(g.ctx, event, 0), VD_OK);
    suspended_close(&g);
}

/* If the wait or a launch fails, so does the submission, and the next one works. */
static void failures_are_reported(void **state) {
    suspended_rig g;
    (void)state;
    for (int launch = 0; launch < 2; launch++) {
        suspended_open(&g);
        g.dispatches = 2;
        suspended_start(&g);
        gate.result = launch ? VD_OK : VD_ERROR_BACKEND;
        gate.fail_resumed = launch;
        suspended_finish(&g);
        assert_int_equal(vd_wait(g.ctx, g.event, VD_FOREVER), VD_ERROR_BACKEND);
        CHECK_TEXT(launch ? "the launch failed" : "the wait failed");
        assert_int_equal(vd_flush(g.ctx), VD_OK);
        assert_int_equal(suspended_dispatch(&g, vd_immediate(g.ctx, 0, 0)), VD_OK);
        assert_int_equal(vd_wait_idle(g.ctx), VD_OK);
        suspended_close(&g);
    }
}

static void *submit_often(void *user) {
    const suspended_rig *g = (const suspended_rig *)user;
    for (int i = 0; i < 100; i++) {
        uint64_t queue = (uint64_t)(i % HELD_QUEUES);
        vd_list *l = vd_immediate(g->ctx, 0, (int)queue);
        if (suspended_dispatch(g, l) || suspended_dispatch(g, l)) return user;
        if (i % 3 ? vd_flush(g->ctx) : vd_submit(l, NULL, NULL)) return user;
        vd_buffer b = unit_buffer(g->ctx, "b", VD_U32, 100, NULL);
        if (!b.id) return user;
        vd_buffer_destroy(g->ctx, b);
    }
    return NULL;
}

/* Threads that suspend and complete submissions of each other, on queues that depend on each other. */
static void threads_complete_each_other(void **state) {
    enum { THREADS = 4 };
    suspended_rig g;
    pthread_t threads[THREADS];
    void *failed;
    uint64_t last[HELD_QUEUES] = { 0, 0, 0 };
    (void)state;
    suspended_open(&g);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, submit_often, &g), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(vd_wait_idle(g.ctx), VD_OK);
    assert_int_equal(unit_stats(g.ctx).dispatches, THREADS * 200);
    for (int i = 0; i < gate.sent_count; i++) {
        assert_true(gate.sent[i].value > last[gate.sent[i].queue]);
        last[gate.sent[i].queue] = gate.sent[i].value;
    }
    suspended_close(&g);
}

static const struct CMUnitTest suspended_tests[] = {
    POSIX(other_threads_go_on), POSIX(later_submissions_follow), POSIX(dependent_submissions_complete_it),
    POSIX(waits_for_its_value), POSIX(failures_are_reported), POSIX(threads_complete_each_other),
};
