/* Several queues of a device and several devices of a context: dependencies are detected wherever the commands were
   recorded. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"

#include <pthread.h>

enum { WORDS = 256 };

static vd_context *context_of(fixture *f, int devices, int queues) {
    vd_context_desc desc = fixture_desc(f);
    desc.queues = queues;
    desc.devices = devices_of(f);
    desc.device_count = devices;
    return context_with(f, &desc);
}

static vd_buffer buffer_on(vd_context *ctx, const char *name, uint64_t words, uint32_t devices, const void *data) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    desc.type = VD_U32;
    desc.shape[0] = words;
    desc.devices = devices;
    desc.data = data;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    if (!b.id) fail_msg("vd_buffer_create '%s': %s", name, vd_error_text());
    return b;
}

static void read_on(vd_context *ctx, vd_buffer b, int device, uint32_t *out, uint64_t words) {
    vd_region_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.buffer = b;
    desc.row_bytes = 4 * words;
    desc.device = 1 + device;
    OK(vd_buffer_read_region(ctx, &desc, out));
}

static void write_on(vd_context *ctx, vd_buffer b, int device, const uint32_t *words, uint64_t count) {
    vd_region_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.buffer = b;
    desc.row_bytes = 4 * count;
    desc.device = 1 + device;
    OK(vd_buffer_write_region(ctx, &desc, words));
}

/* ---- several queues ---- */

TEST(queues_wait_for_data) {
    vd_context *ctx = context_of(f, 1, 4);
    vd_buffer b[4];
    uint32_t got[WORDS];
    for (int i = 0; i < 4; i++) b[i] = buffer_on(ctx, "b", WORDS, 0, NULL);
    for (uint32_t round = 1; round <= 30; round++) {
        OK(vd_fill(vd_immediate(ctx, 0, 0), b[0], 0, VD_WHOLE, &round, 4));
        /* each reads what the previous queue writes */
        for (int q = 1; q < 4; q++) OK(vd_copy(vd_immediate(ctx, 0, q), b[q], 0, b[q - 1], 0, VD_WHOLE));
        uint32_t other = round + 1000;
        OK(vd_fill(vd_immediate(ctx, 0, (int)(round % 3)), b[2], 0, VD_WHOLE, &other, 4)); /* after it was read */
        OK(vd_buffer_read(ctx, b[3], 0, got, sizeof got));
        for (uint32_t i = 0; i < WORDS; i++) assert_int_equal(got[i], round);
        OK(vd_buffer_read(ctx, b[2], 0, got, sizeof got));
        assert_int_equal(got[WORDS - 1], other);
    }
}

TEST_EXECUTED(other_queues_wait_for_long_work) {
    vd_context *ctx = context_of(f, 1, 4);
    uint32_t one[64], model[64], got[64];
    for (uint32_t i = 0; i < 64; i++) one[i] = i;
    vd_buffer x = buffer_on(ctx, "x", 64, 0, one), y = buffer_on(ctx, "y", 64, 0, NULL),
              z = buffer_on(ctx, "z", 64, 0, NULL);
    vd_kernel slow = kernel_slow(ctx), add = kernel_move(ctx);
    vd_list *second = vd_immediate(ctx, 0, 1);
    for (int round = 0; round < 3; round++) {
        OK(vd_run(ctx, slow, 64, vd_b(x), vd_u32(SLOW_ROUNDS)));
        OK(vd_flush(ctx));
        OK(move(second, add, x, y, 64, 0)); /* must wait */
        OK(vd_submit(second, NULL, NULL));
        OK(vd_run(ctx, add, 64, vd_b(y), vd_b(z), vd_u32(1)));
        OK(vd_buffer_read(ctx, x, 0, model, sizeof model));
        OK(vd_buffer_read(ctx, z, 0, got, sizeof got));
        for (uint32_t i = 0; i < 64; i++) assert_int_equal(got[i], model[i] + 1);
    }
}

TEST(lists_of_two_queues_keep_their_order) {
    vd_context *ctx = context_of(f, 1, 4);
    uint32_t got[WORDS];
    vd_buffer a = buffer_on(ctx, "a", WORDS, 0, NULL), b = buffer_on(ctx, "b", WORDS, 0, NULL);
    for (uint32_t round = 1; round <= 20; round++) {
        vd_list *lists[3];
        for (int q = 0; q < 3; q++) {
            vd_list_desc desc;
            memset(&desc, 0, sizeof desc);
            desc.queue = q;
            lists[q] = vd_list_begin(ctx, &desc);
            assert_non_null(lists[q]);
        }
        OK(vd_copy(lists[2], a, 4, b, 0, 8)); /* recorded first, submitted last */
        OK(vd_fill(lists[0], a, 0, VD_WHOLE, &round, 4));
        OK(vd_copy(lists[1], b, 0, a, 16, 8));
        OK(vd_fill(lists[1], b, 4, 4, "\1\0\0\0", 4));
        for (int q = 0; q < 3; q++) OK(vd_submit(lists[q], NULL, NULL));
        OK(vd_buffer_read(ctx, a, 0, got, sizeof got));
        assert_int_equal(got[0], round);
        assert_int_equal(got[1], round);
        assert_int_equal(got[2], 1);
        assert_int_equal(got[3], round);
    }
}

TEST(events_order_queues) {
    vd_context *ctx = context_of(f, 1, 4);
    vd_buffer a = buffer_on(ctx, "a", WORDS, 0, NULL), b = buffer_on(ctx, "b", WORDS, 0, NULL);
    vd_event events[2];
    vd_submit_desc after;
    memset(&after, 0, sizeof after);
    after.waits = events;
    after.wait_count = 1;
    OK(vd_fill(vd_immediate(ctx, 0, 0), a, 0, VD_WHOLE, NULL, 0));
    OK(vd_submit(vd_immediate(ctx, 0, 0), NULL, &events[0]));
    assert_int_equal(events[0].queue, 0);
    OK(vd_fill(vd_immediate(ctx, 0, 1), b, 0, VD_WHOLE, NULL, 0));
    OK(vd_submit(vd_immediate(ctx, 0, 1), &after, &events[1]));
    assert_int_equal(events[1].queue, 1);
    OK(vd_wait(ctx, events[1], VD_FOREVER));
    OK(vd_wait(ctx, events[0], 0)); /* must be done before */
    OK(vd_submit(vd_immediate(ctx, 0, 1), &after, &events[1])); /* submits only the wait */
    OK(vd_wait(ctx, events[1], VD_FOREVER));
    events[0].queue = 4;
    FAILS(vd_submit(vd_immediate(ctx, 0, 1), &after, NULL), VD_ERROR_INVALID, "vd_submit: the event belongs to device 0, queue 4|1 devices with 4 queues");
    FAILS(vd_wait(ctx, events[0], 0), VD_ERROR_INVALID, "vd_wait: the event belongs to device 0, queue 4");
    events[0].queue = 0;
    events[0].device = 1;
    FAILS(vd_wait(ctx, events[0], 0), VD_ERROR_INVALID, "vd_wait: the event belongs to device 1, queue 0");
}

TEST(any_queue_is_one_with_little_to_do) {
    vd_context *ctx = context_of(f, 1, 4);
    vd_buffer b = buffer_on(ctx, "b", WORDS, 0, NULL);
    OK(vd_wait_idle(ctx));
    OK(vd_fill(vd_immediate(ctx, 0, 0), b, 0, 4, NULL, 0));
    assert_ptr_equal(vd_immediate(ctx, 0, VD_QUEUE_ANY), vd_immediate(ctx, 0, 1)); /* queue 0 collects the results */
    OK(vd_wait_idle(ctx));
    assert_ptr_equal(vd_immediate(ctx, 0, VD_QUEUE_ANY), vd_immediate(ctx, 0, 0));
}

TEST(objects_live_until_their_last_queue_is_done) {
    vd_context *ctx = context_of(f, 1, 4);
    uint64_t before = stats_of(ctx).buffers;
    for (uint32_t round = 1; round < 40; round++) {
        uint32_t got = 0;
        vd_buffer a = buffer_on(ctx, "a", 1 << 14, 0, NULL), b = buffer_on(ctx, "b", 1 << 14, 0, NULL), v;
        vd_view_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.buffer = a;
        desc.offset = 256;
        v = vd_buffer_view(ctx, &desc);
        OK(vd_fill(vd_immediate(ctx, 0, (int)(round % 3)), v, 0, VD_WHOLE, &round, 4));
        OK(vd_copy(vd_immediate(ctx, 0, (int)((round + 1) % 3)), b, 0, v, 0, 4096));
        vd_buffer_destroy(ctx, a);
        OK(vd_buffer_read(ctx, b, 4092, &got, 4));
        assert_int_equal(got, round);
        vd_buffer_destroy(ctx, b);
        vd_buffer_destroy(ctx, v);
    }
    OK(vd_wait_idle(ctx));
    assert_int_equal(stats_of(ctx).buffers, before);
}

/* ---- threads ---- */

enum { THREADS = 3, ROUNDS = 150 };

typedef struct worker {
    vd_context *ctx;
    vd_kernel add;
    vd_buffer shared, own;
    int queue, wrong;
} worker;

/* Adds to a buffer that all threads share and to one of its own, which it sometimes reads. */
static void *work(void *user) {
    worker *w = (worker *)user;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        uint32_t got = 0;
        vd_list *list = vd_immediate(w->ctx, 0, w->queue);
        w->wrong += affine(list, w->add, w->shared, 64, 1, 1) != VD_OK
                    || affine(list, w->add, w->own, 64, 1, 2) != VD_OK;
        if (round % 10 == 0)
            w->wrong += vd_buffer_read(w->ctx, w->own, 4 * (round % 64), &got, 4) != VD_OK || got != 2 * round;
        if (round % 7 == 0) w->wrong += vd_submit(list, NULL, NULL) != VD_OK;
    }
    return NULL;
}

TEST_EXECUTED(threads_record_on_queues_of_their_own) {
    vd_context *ctx = context_of(f, 1, 4);
    vd_buffer shared = buffer_on(ctx, "shared", 64, 0, NULL);
    worker workers[THREADS];
    pthread_t threads[THREADS];
    uint32_t got[64];
    for (int i = 0; i < THREADS; i++) {
        workers[i].ctx = ctx;
        workers[i].add = kernel_affine(ctx);
        workers[i].shared = shared;
        workers[i].own = buffer_on(ctx, "own", 64, 0, NULL);
        workers[i].queue = i;
        workers[i].wrong = 0;
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].wrong, 0);
    }
    OK(vd_buffer_read(ctx, shared, 0, got, sizeof got));
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(got[i], THREADS * ROUNDS);
}

/* ---- several devices ---- */

TEST_DEVICES(each_device_has_its_own_copy) {
    vd_context *ctx = context_of(f, 3, 1);
    uint32_t words[WORDS], got[WORDS];
    for (uint32_t i = 0; i < WORDS; i++) words[i] = i;
    vd_buffer_info info;
    vd_buffer all = buffer_on(ctx, "all", WORDS, 0, words), some = buffer_on(ctx, "some", WORDS, 6, words);
    assert_non_null(vd_device(ctx, 2));
    assert_null(vd_device(ctx, 3));
    OK(vd_buffer_query(ctx, some, &info));
    assert_int_equal(info.devices, 6);
    for (int d = 0; d < 3; d++) {
        uint32_t mark = 100 + (uint32_t)d;
        OK(vd_fill(vd_immediate(ctx, d, 0), all, 0, 4, &mark, 4));
    }
    words[1] = 77;
    OK(vd_buffer_write(ctx, all, 4, words + 1, 4)); /* to each device */
    words[2] = 78;
    write_on(ctx, all, 1, words, 3); /* to one device */
    for (int d = 0; d < 3; d++) {
        read_on(ctx, all, d, got, WORDS);
        assert_int_equal(got[0], d == 1 ? 0 : 100 + d);
        assert_int_equal(got[1], 77);
        assert_int_equal(got[2], d == 1 ? 78 : 2);
        assert_int_equal(got[WORDS - 1], WORDS - 1);
    }
    OK(vd_buffer_read(ctx, some, 0, got, sizeof got)); /* from device 1 */
    assert_int_equal(got[9], 9);
}

TEST_DEVICES_EXECUTED(kernels_run_on_each_device) {
    vd_context *ctx = context_of(f, 2, 2);
    uint32_t got[WORDS];
    vd_buffer b = buffer_on(ctx, "b", WORDS, 0, NULL);
    vd_kernel k = kernel_affine(ctx);
    for (int d = 0; d < 2; d++)
        for (int q = 0; q < 2; q++)
            for (int i = 0; i < 10; i++) OK(affine(vd_immediate(ctx, d, q), k, b, WORDS, 1, (uint32_t)(1 + d)));
    for (int d = 0; d < 2; d++) {
        vd_list_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.device = 1 + d;
        vd_list *list = vd_list_begin(ctx, &desc);
        OK(affine(list, k, b, WORDS, 2, 0));
        OK(vd_submit(list, NULL, NULL));
        read_on(ctx, b, d, got, WORDS);
        for (uint32_t i = 0; i < WORDS; i++) assert_int_equal(got[i], 40 * (1 + d));
    }
    vd_kernel_destroy(ctx, k);
}

TEST_DEVICES(buffers_are_sent_between_devices) {
    vd_context *ctx = context_of(f, 2, 2);
    enum { MANY = 3 << 20 };
    uint32_t *words = (uint32_t *)malloc(4 * MANY), *got = (uint32_t *)malloc(4 * MANY);
    assert_true(words && got);
    for (uint32_t i = 0; i < MANY; i++) words[i] = i * 2654435761u;
    vd_buffer a = buffer_on(ctx, "a", MANY, 1, words), b = buffer_on(ctx, "b", MANY, 2, NULL),
              both = buffer_on(ctx, "both", WORDS, 0, NULL);
    OK(vd_buffer_send(ctx, b, 1, 0, a, 0, 0, VD_WHOLE)); /* larger than a piece of staging memory */
    OK(vd_buffer_read(ctx, b, 0, got, 4 * MANY));
    assert_memory_equal(got, words, 4 * MANY);
    OK(vd_fill(vd_immediate(ctx, 0, 0), both, 0, VD_WHOLE, "abcd", 4));
    OK(vd_buffer_send(ctx, both, 1, 8, both, 0, 3, 10));
    read_on(ctx, both, 1, got, 8);
    assert_memory_equal((uint8_t *)got + 8, "dabcdabcda", 10);
    assert_int_equal(((uint8_t *)got)[7], 0);
    assert_int_equal(((uint8_t *)got)[18], 0);
    OK(vd_buffer_send(ctx, a, 0, 0, a, 0, 400, 400)); /* same device: a copy */
    assert_int_equal(read_u32(ctx, a, 5), words[105]);
    free(words);
    free(got);
}

TEST_DEVICES(events_order_devices) {
    vd_context *ctx = context_of(f, 2, 2);
    vd_buffer b = buffer_on(ctx, "b", WORDS, 0, NULL);
    vd_event first, second;
    vd_submit_desc after;
    memset(&after, 0, sizeof after);
    after.waits = &first;
    after.wait_count = 1;
    OK(vd_fill(vd_immediate(ctx, 0, 0), b, 0, VD_WHOLE, NULL, 0));
    OK(vd_submit(vd_immediate(ctx, 0, 0), NULL, &first));
    OK(vd_fill(vd_immediate(ctx, 1, 0), b, 0, VD_WHOLE, NULL, 0));
    OK(vd_submit(vd_immediate(ctx, 1, 0), &after, &second));
    assert_int_equal(second.device, 1);
    OK(vd_wait(ctx, first, 0));
    OK(vd_wait(ctx, second, VD_FOREVER));
}

/* ---- invalid input ---- */

static void check_desc(fixture *f, int queues, const int *devices, int count, int device, vd_result wanted,
                       const char *words) {
    vd_context *ctx = NULL;
    vd_context_desc desc = fixture_desc(f);
    desc.queues = queues;
    desc.devices = devices;
    desc.device_count = count;
    desc.device = device;
    FAILS(vd_context_create(&desc, &ctx), wanted, words);
    assert_null(ctx);
}

TEST(bad_devices_and_queues_are_refused) {
    static const int good[2] = { 1, 1 }, bad[2] = { 1, 99 };
    uint32_t word = 0;
    check_desc(f, -1, NULL, 0, 0, VD_ERROR_INVALID, "vd_context_create: desc.queues is -1|0 to 4");
    check_desc(f, 5, NULL, 0, 0, VD_ERROR_INVALID, "vd_context_create: desc.queues is 5|0 to 4");
    check_desc(f, 0, NULL, 2, 0, VD_ERROR_INVALID, "vd_context_create: desc.device_count is 2, but desc.devices is "
               "NULL");
    check_desc(f, 0, NULL, 17, 0, VD_ERROR_INVALID, "vd_context_create: desc.device_count is 17, but must be 0 to 16");
    check_desc(f, 0, good, 17, 0, VD_ERROR_INVALID, "vd_context_create: desc.device_count is 17, but must be 0 to "
               "16");
    check_desc(f, 0, good, 2, 1, VD_ERROR_INVALID, "vd_context_create|desc.device_count is 2, but desc.device or desc.device_name is set too");
    check_desc(f, 0, bad, 2, 0, VD_ERROR_NO_DEVICE, "desc.devices[1] is 99");
    vd_context *ctx = context_of(f, 2, 2);
    vd_buffer only = buffer_on(ctx, "only", 8, 2, NULL), all = buffer_on(ctx, "all", 8, 0, NULL);
    assert_null(vd_immediate(ctx, 2, 0));
    check_text("no such device", "vd_immediate: the device index is 2, but must be less than 2");
    assert_null(vd_immediate(ctx, -1, 0));
    assert_null(vd_immediate(ctx, 1, 2));
    check_text("no such queue", "vd_immediate: device 1 has no queue 2; it has 2");
    FAILS(vd_fill(vd_immediate(ctx, 0, 0), only, 0, 4, NULL, 0), VD_ERROR_INVALID, "vd_fill: buffer 'only' has no memory on device 0 (its device mask is 0x2)");
    FAILS(vd_copy(vd_immediate(ctx, 0, 0), all, 0, only, 0, 4), VD_ERROR_INVALID,
          "vd_copy: buffer 'only' has no memory on device 0");
    FAILS(affine(vd_immediate(ctx, 0, 0), kernel_affine(ctx), only, 8, 1, 1), VD_ERROR_INVALID,
          "vd_dispatch 'affine'|'x'|'only' has no memory on device 0");
    FAILS(vd_buffer_send(ctx, only, 0, 0, all, 0, 0, 4), VD_ERROR_INVALID,
          "vd_buffer_send: buffer 'only' has no memory on device 0");
    FAILS(vd_buffer_send(ctx, all, 2, 0, all, 0, 0, 4), VD_ERROR_INVALID, "vd_buffer_send: the device index is 2");
    FAILS(vd_buffer_send(ctx, all, 1, 0, all, -1, 0, 4), VD_ERROR_INVALID, "vd_buffer_send: the device index is -1");
    FAILS(vd_buffer_send(ctx, all, 1, 30, all, 0, 0, 4), VD_ERROR_INVALID, "vd_buffer_send: 4 bytes at target offset 30 extend");
    FAILS(vd_buffer_send(ctx, all, 1, 0, all, 1, 4, 16), VD_ERROR_INVALID,
          "vd_buffer_send: source and target overlap: 16 bytes at offsets 4 and 0 of the memory of buffer 'all'");
    void *p;
    FAILS(vd_buffer_map(ctx, only, 0, VD_READ, &p), VD_ERROR_INVALID,
          "vd_buffer_map: buffer 'only' has no memory on device 0");
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "far";
    desc.shape[0] = 4;
    desc.devices = 5;
    assert_int_equal(vd_buffer_create(ctx, &desc).id, 0);
    check_text("devices", "vd_buffer_create 'far': desc.devices is 0x5, but the context has 2 devices (mask 0x3)");
    OK(vd_buffer_read(ctx, only, 0, &word, 4));
    still_works(f);
}

/* ---- a thousand operations ---- */

enum { BUFFERS = 5, DEVICES = 2, QUEUES = 3, OPERATIONS = 1000, SOURCES = BUFFERS + 3 };

typedef struct world {
    vd_context *ctx;
    bool executes;
    vd_kernel affine, move;
    vd_buffer buffers[SOURCES];                 /* the last ones are views */
    uint32_t first[SOURCES], words[SOURCES];    /* `first` word and number of words within their buffer */
    uint32_t of[SOURCES];
    uint32_t model[DEVICES][BUFFERS][WORDS];
    vd_event event;
    dice d;
} world;

static uint32_t *model_of(world *w, int device, uint32_t b) { return w->model[device][w->of[b]] + w->first[b]; }

static void world_view(world *w, uint32_t i, uint32_t of, uint32_t first, uint32_t words) {
    vd_view_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.buffer = w->buffers[of];
    desc.offset = 4 * first;
    desc.type = VD_U32;
    desc.shape[0] = words;
    w->buffers[i] = vd_buffer_view(w->ctx, &desc);
    assert_true(w->buffers[i].id != 0);
    w->of[i] = of;
    w->first[i] = first;
    w->words[i] = words;
}

static void world_begin(world *w, fixture *f, int devices, int queues, uint64_t seed) {
    memset(w, 0, sizeof *w);
    w->ctx = context_of(f, devices, queues);
    w->executes = f->executes;
    w->d.state = seed;
    w->affine = kernel_affine(w->ctx);
    w->move = kernel_move(w->ctx);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        w->buffers[i] = buffer_on(w->ctx, "b", WORDS, 0, NULL);
        w->of[i] = i;
        w->words[i] = WORDS;
    }
    uint32_t align = 1;
    for (int i = 0; i < devices; i++) {
        uint32_t step = vd_device(w->ctx, i)->limits.binding_alignment / 4;
        if (step > align) align = step; /* powers of two */
    }
    for (uint32_t i = 0; i < 3; i++) world_view(w, BUFFERS + i, i / 2, (i % 2 ? 64 : 0) / align * align, 100);
}

/* Selects disjoint ranges of two buffers. */
static bool some_pair(world *w, uint32_t *a, uint32_t *b) {
    *a = roll(&w->d, SOURCES);
    *b = roll(&w->d, SOURCES);
    return w->of[*a] != w->of[*b];
}

static void one_dispatch(world *w, vd_list *list, int device) {
    uint32_t a, b, add = roll(&w->d, 100);
    if (!w->executes) return;
    if (some_pair(w, &a, &b) && roll(&w->d, 2)) {
        uint32_t n = 1 + roll(&w->d, w->words[a] < w->words[b] ? w->words[a] : w->words[b]);
        OK(move(list, w->move, w->buffers[a], w->buffers[b], n, add));
        for (uint32_t i = 0; i < n; i++) model_of(w, device, b)[i] = model_of(w, device, a)[i] + add;
    } else {
        uint32_t n = 1 + roll(&w->d, w->words[a]), mul = 1 + roll(&w->d, 5);
        OK(affine(list, w->affine, w->buffers[a], n, mul, add));
        for (uint32_t i = 0; i < n; i++) model_of(w, device, a)[i] = model_of(w, device, a)[i] * mul + add;
    }
}

static void one_transfer(world *w, vd_list *list, int device) {
    uint32_t a, b, words[WORDS], at, from, n;
    bool apart = some_pair(w, &a, &b);
    at = roll(&w->d, w->words[b]);
    n = 1 + roll(&w->d, w->words[b] - at);
    switch (roll(&w->d, apart ? 4 : 2)) {
    case 0:
        from = roll(&w->d, 1000);
        OK(vd_fill(list, w->buffers[b], 4 * at, 4 * n, &from, 4));
        for (uint32_t i = 0; i < n; i++) model_of(w, device, b)[at + i] = from;
        break;
    case 1:
        for (uint32_t i = 0; i < n; i++) words[i] = roll(&w->d, 0);
        OK(vd_write(list, w->buffers[b], 4 * at, words, 4 * n));
        memcpy(model_of(w, device, b) + at, words, 4 * n);
        break;
    default:
        if (n > w->words[a]) n = w->words[a];
        from = roll(&w->d, w->words[a] - n + 1);
        OK(vd_copy(list, w->buffers[b], 4 * at, w->buffers[a], 4 * from, 4 * n));
        memcpy(model_of(w, device, b) + at, model_of(w, device, a) + from, 4 * n);
    }
}

static void check_buffer(world *w, int device, uint32_t b) {
    uint32_t got[WORDS];
    read_on(w->ctx, w->buffers[b], device, got, w->words[b]);
    for (uint32_t i = 0; i < w->words[b]; i++)
        if (got[i] != model_of(w, device, b)[i])
            fail_msg("device %d, buffer %u, word %u: %u, not %u", device, b, i, got[i], model_of(w, device, b)[i]);
}

/* Records several operations into a list and submits it. */
static void one_list(world *w, int device, int queue) {
    vd_list_desc desc;
    vd_submit_desc after;
    memset(&desc, 0, sizeof desc);
    memset(&after, 0, sizeof after);
    desc.device = 1 + device;
    desc.queue = queue;
    after.waits = &w->event;
    after.wait_count = roll(&w->d, 4) == 0;
    vd_list *list = vd_list_begin(w->ctx, &desc);
    for (uint32_t i = 1 + roll(&w->d, 6); i; i--) {
        if (roll(&w->d, 2)) one_dispatch(w, list, device);
        else one_transfer(w, list, device);
    }
    OK(vd_submit(list, &after, &w->event));
}

static void one_operation(world *w, int devices, int queues) {
    int device = (int)roll(&w->d, (uint32_t)devices), queue = (int)roll(&w->d, (uint32_t)queues);
    vd_list *list = vd_immediate(w->ctx, device, queue);
    uint32_t action = roll(&w->d, 100), b = roll(&w->d, SOURCES);
    if (action < 45) one_dispatch(w, list, device);
    else if (action < 75) one_transfer(w, list, device);
    else if (action < 85) one_list(w, device, queue);
    else if (action < 90) check_buffer(w, device, b);
    else if (action < 93) OK(vd_submit(list, NULL, &w->event));
    else if (action < 97) {
        uint32_t word = roll(&w->d, 0);
        OK(vd_buffer_write(w->ctx, w->buffers[b], 0, &word, 4));
        for (int d = 0; d < devices; d++) model_of(w, d, b)[0] = word;
    } else if (devices > 1) {
        uint32_t n = 1 + roll(&w->d, w->words[b]);
        OK(vd_buffer_send(w->ctx, w->buffers[b], 1 - device, 0, w->buffers[b], device, 0, 4 * n));
        memcpy(model_of(w, 1 - device, b), model_of(w, device, b), 4 * n);
    }
}

static void check_operations(fixture *f, int devices, int queues, uint64_t seed) {
    static world w;
    world_begin(&w, f, devices, queues, seed);
    for (int i = 0; i < OPERATIONS; i++) one_operation(&w, devices, queues);
    for (int d = 0; d < devices; d++)
        for (uint32_t b = 0; b < SOURCES; b++) check_buffer(&w, d, b);
    OK(vd_wait_idle(w.ctx));
}

TEST(random_operations_on_one_queue) { check_operations(f, 1, 1, 11); }
TEST(random_operations_on_several_queues) { check_operations(f, 1, QUEUES, 12); }
TEST_DEVICES(random_operations_on_several_devices_and_queues) { check_operations(f, DEVICES, QUEUES, 13); }

static const struct CMUnitTest cases[] = {
    CASE(queues_wait_for_data), CASE(other_queues_wait_for_long_work), CASE(lists_of_two_queues_keep_their_order),
    CASE(events_order_queues), CASE(any_queue_is_one_with_little_to_do),
    CASE(objects_live_until_their_last_queue_is_done), CASE(threads_record_on_queues_of_their_own),
    CASE(each_device_has_its_own_copy), CASE(kernels_run_on_each_device), CASE(buffers_are_sent_between_devices),
    CASE(events_order_devices), CASE(bad_devices_and_queues_are_refused), CASE(random_operations_on_one_queue),
    CASE(random_operations_on_several_queues), CASE(random_operations_on_several_devices_and_queues),
};

MAIN("queues", cases)
