/* Random writes, reads, fills and copies compared with an array on the host; lists, tickets, allocations of repeated
   calls. */
#include "tests/unit/unit.h"

enum { BUFFERS = 4, BYTES = 3001, STEPS = 3000 };

static vd_context *device_context(bool shared) {
    vd_device_info device;
    memset(&device, 0, sizeof device);
    device.shared_memory = shared; /* device memory is mapped: reads and writes access it directly */
    device.features = VD_FEATURE_ADDRESS;
    return unit_context(&device);
}

static void model_fill(uint8_t *to, uint64_t size, const uint8_t *value, size_t value_size) {
    for (uint64_t i = 0; i < size; i++) to[i] = value ? value[i % value_size] : 0;
}

static void random_transfers_on(bool shared) {
    static uint8_t model[BUFFERS][BYTES], data[BYTES], got[BYTES];
    for (uint64_t seed = 1; seed <= 6; seed++) {
        uint64_t random = seed;
        vd_context *ctx = device_context(shared);
        vd_buffer b[BUFFERS];
        memset(model, 0, sizeof model);
        for (int i = 0; i < BUFFERS; i++) {
            for (int k = 0; k < BYTES; k++) data[k] = (uint8_t)unit_random(&random);
            if (i) memcpy(model[i], data, BYTES);
            b[i] = unit_buffer(ctx, "b", VD_BYTES, BYTES, i ? data : NULL);
            assert_true(b[i].id != 0);
        }
        vd_list *own = NULL;
        for (int step = 0; step < STEPS; step++) {
            uint32_t x = unit_random(&random) % BUFFERS, y = unit_random(&random) % BUFFERS,
                     what = unit_random(&random) % 10;
            uint64_t at = unit_random(&random) % BYTES,
                     size = unit_random(&random) % (unit_random(&random) % 2 ? 20 : BYTES),
                     to = unit_random(&random) % BYTES;
            uint8_t value[64];
            size_t value_size = 1 + unit_random(&random) % 64;
            if (unit_random(&random) % 2) value_size = (size_t)1 << unit_random(&random) % 3;
            if (size > BYTES - at) size = BYTES - at;
            for (int k = 0; k < 64; k++) value[k] = (uint8_t)(unit_random(&random) % 3 ? 7 : k);
            for (uint64_t k = 0; k < size; k++) data[k] = (uint8_t)unit_random(&random);
            if (!own && unit_random(&random) % 50 == 0) own = vd_list_begin(ctx, NULL);
            /* executed in the order of the model while a list is open */
            vd_list *l = own ? own : vd_immediate(ctx, 0, 0);
            if (what < 3) {
                size -= size % value_size;
                assert_int_equal(vd_fill(l, b[x], at, size, what ? value : NULL, what ? value_size : 0), VD_OK);
                model_fill(model[x] + at, size, what ? value : NULL, value_size);
            } else if (what < 5 || (what < 7 && own)) {
                assert_int_equal(vd_write(l, b[x], at, data, size), VD_OK);
                memcpy(model[x] + at, data, (size_t)size);
            } else if (what < 7) {
                assert_int_equal(vd_buffer_write(ctx, b[x], at, data, size), VD_OK);
                memcpy(model[x] + at, data, (size_t)size);
            } else if (what < 9) {
                if (size > BYTES - to) size = BYTES - to;
                if (x == y && to < at + size && at < to + size) continue;
                assert_int_equal(vd_copy(l, b[x], to, b[y], at, size), VD_OK);
                memcpy(model[x] + to, model[y] + at, (size_t)size);
            } else {
                if (own) assert_int_equal(vd_submit(own, NULL, NULL), VD_OK);
                own = NULL;
                assert_int_equal(vd_buffer_read(ctx, b[x], at, got, size), VD_OK);
                assert_memory_equal(got, model[x] + at, size);
            }
        }
        if (own) assert_int_equal(vd_submit(own, NULL, NULL), VD_OK);
        for (int i = 0; i < BUFFERS; i++) {
            assert_int_equal(vd_buffer_read(ctx, b[i], 0, got, VD_WHOLE), VD_OK);
            assert_memory_equal(got, model[i], BYTES);
        }
        vd_context_destroy(ctx);
    }
}

static void random_transfers(void **state) {
    (void)state;
    random_transfers_on(false);
    random_transfers_on(true);
}

static void fills_at_every_offset(void **state) {
    (void)state;
    static const uint8_t value[64] = {
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
        31, 32
    };
    uint8_t got[96], want[96];
    vd_context *ctx = unit_context(NULL);
    vd_buffer b = unit_buffer(ctx, "b", VD_BYTES, 96, NULL);
    for (uint64_t at = 0; at < 9; at++)
        for (uint64_t size = 0; size < 40; size++)
            for (size_t n = 1; n <= 12; n++) {
                if (size % n) continue;
                memset(want, 0xEE, sizeof want);
                model_fill(want + at, size, value, n);
                assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), b, 0, VD_WHOLE, "\xEE", 1), VD_OK);
                assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), b, at, size, value, n), VD_OK);
                assert_int_equal(vd_buffer_read(ctx, b, 0, got, VD_WHOLE), VD_OK);
                assert_memory_equal(got, want, sizeof want);
            }
    vd_context_destroy(ctx);
}

static void large_transfers_are_split(void **state) {
    (void)state;
    enum { LARGE = 50000003 };
    uint8_t *data = (uint8_t *)malloc(LARGE), *got = (uint8_t *)malloc(LARGE);
    vd_context *ctx = unit_context(NULL);
    for (int i = 0; i < LARGE; i++) data[i] = (uint8_t)(i * 7 + i / 255);
    vd_buffer b = unit_buffer(ctx, "large", VD_BYTES, LARGE, data);
    assert_int_equal(vd_buffer_read(ctx, b, 0, got, VD_WHOLE), VD_OK);
    assert_memory_equal(got, data, LARGE);
    assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), b, 0, 3 * 10000001, "abc", 3), VD_OK);
    assert_int_equal(vd_buffer_read(ctx, b, 30000000, got, 6), VD_OK);
    assert_memory_equal(got, "abc", 3);
    assert_memory_equal(got + 3, data + 30000003, 3);
    vd_ticket ticket;
    vd_read_desc read;
    const void *at;
    memset(&read, 0, sizeof read);
    read.buffer = b;
    assert_int_equal(vd_read_begin(vd_immediate(ctx, 0, 0), &read, &ticket), VD_OK);
    assert_int_equal(vd_read_ready(ctx, ticket, VD_FOREVER, &at), VD_OK);
    assert_memory_equal((const uint8_t *)at + 30000003, data + 30000003, LARGE - 30000003);
    vd_read_end(ctx, ticket);
    vd_context_destroy(ctx);
    free(data);
    free(got);
}

static void tickets(void **state) {
    (void)state;
    vd_context *ctx = unit_context(NULL);
    uint32_t words[64];
    const void *data = NULL;
    vd_ticket ticket[40], late;
    vd_read_desc read;
    for (uint32_t i = 0; i < 64; i++) words[i] = i;
    vd_buffer b = unit_buffer(ctx, "b", VD_U32, 64, words);
    memset(&read, 0, sizeof read);
    read.buffer = b;
    for (uint32_t i = 0; i < 40; i++) {
        read.offset = i * 4;
        read.size = 4;
        assert_int_equal(vd_read_begin(vd_immediate(ctx, 0, 0), &read, &ticket[i]), VD_OK);
        assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), b, i * 4, 4, NULL, 0), VD_OK); /* recorded after the read */
    }
    for (uint32_t i = 40; i-- > 0;) {
        assert_int_equal(vd_read_ready(ctx, ticket[i], VD_FOREVER, &data), VD_OK);
        assert_int_equal(*(const uint32_t *)data, i);
    }
    for (uint32_t i = 0; i < 40; i++) vd_read_end(ctx, ticket[i]);
    assert_int_equal(vd_read_ready(ctx, ticket[3], 0, &data), VD_ERROR_INVALID);
    CHECK_TEXT("the ticket was destroyed");
    vd_list *l = vd_list_begin(ctx, NULL);
    assert_int_equal(vd_read_begin(l, &read, &late), VD_OK);
    assert_int_equal(vd_read_ready(ctx, late, 0, &data), VD_ERROR_INVALID);
    CHECK_TEXT("was not submitted yet");
    assert_int_equal(vd_submit(l, NULL, NULL), VD_OK);
    assert_int_equal(vd_read_ready(ctx, late, VD_FOREVER, &data), VD_OK);
    vd_read_end(ctx, late);
    l = vd_list_begin(ctx, NULL);
    assert_int_equal(vd_read_begin(l, &read, &late), VD_OK);
    vd_list_discard(l);
    assert_int_equal(vd_read_ready(ctx, late, 0, &data), VD_ERROR_INVALID);
    CHECK_TEXT("was discarded");
    vd_read_end(ctx, late);
    l = vd_list_begin(ctx, NULL);
    assert_int_equal(vd_read_begin(l, &read, &late), VD_OK);
    vd_read_end(ctx, late); /* before its list is submitted */
    assert_int_equal(vd_submit(l, NULL, NULL), VD_OK);
    vd_context_destroy(ctx);
}

/* vd_list_watch: the status of a list, empty or not, after submission, discard or failure. Later lists may reuse its
   memory. */
static void watched_lists_report_their_status(void **state) {
    (void)state;
    vd_context *ctx = unit_context(NULL), *other = unit_context(NULL);
    vd_buffer b = unit_buffer(ctx, "b", VD_U32, 64, NULL);
    const void *data = &data;
    vd_ticket tickets[12], none = { 0 };
    for (int i = 0; i < 12; i++) {
        vd_list *l = vd_list_begin(ctx, NULL);
        if (i & 1) assert_int_equal(vd_fill(l, b, 0, 4, NULL, 0), VD_OK);
        assert_int_equal(vd_list_watch(l, &tickets[i]), VD_OK);
        assert_int_equal(vd_list_get_status(ctx, tickets[i]), VD_LIST_STATUS_OPEN);
        assert_int_equal(vd_read_ready(ctx, tickets[i], VD_FOREVER, &data), VD_ERROR_INVALID);
        CHECK_TEXT("was not submitted yet");
        if (i & 2) assert_int_equal(vd_list_end(l), VD_OK);
        assert_int_equal(vd_list_get_status(ctx, tickets[i]), VD_LIST_STATUS_OPEN);
        if (i < 4) assert_int_equal(vd_submit(l, NULL, NULL), VD_OK);
        else if (i < 8) vd_list_discard(l);
        else {
            if (!(i & 2)) assert_int_equal(vd_fill(l, b, 5000, 4, NULL, 0), VD_ERROR_INVALID);
            vd_event wrong = { 1, 1, 0, 0 };
            vd_submit_desc desc;
            memset(&desc, 0, sizeof desc);
            desc.waits = &wrong;
            desc.wait_count = 1;
            assert_int_equal(vd_submit(l, &desc, NULL), VD_ERROR_INVALID);
        }
        for (int j = 0; j <= i; j++)
            assert_int_equal(vd_list_get_status(ctx, tickets[j]),
                             j < 4 ? VD_LIST_STATUS_SUBMITTED : VD_LIST_STATUS_DISCARDED);
    }
    for (int i = 0; i < 12; i++) {
        data = &data;
        assert_int_equal(vd_read_ready(ctx, tickets[i], VD_FOREVER, &data), i < 4 ? VD_OK : VD_ERROR_INVALID);
        assert_null(data);
        vd_read_end(ctx, tickets[i]);
        assert_int_equal(vd_list_get_status(ctx, tickets[i]), VD_LIST_STATUS_UNKNOWN);
        CHECK_TEXT("vd_list_get_status: the ticket was destroyed");
    }
    assert_int_equal(vd_list_get_status(ctx, none), VD_LIST_STATUS_UNKNOWN);
    assert_int_equal(vd_list_get_status(NULL, none), VD_LIST_STATUS_UNKNOWN);
    CHECK_TEXT("vd_list_get_status: the context is NULL");
    assert_int_equal(vd_list_watch(NULL, &tickets[0]), VD_ERROR_INVALID);
    CHECK_TEXT("vd_list_watch: the list is NULL");
    assert_int_equal(vd_list_watch(vd_immediate(ctx, 0, 0), NULL), VD_ERROR_INVALID);
    CHECK_TEXT("vd_list_watch: out is NULL");
    for (int i = 0; i < 3; i++) { /* immediate lists: empty, with a command, submitted */
        if (i == 1) assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), b, 0, 4, NULL, 0), VD_OK);
        if (i == 2) assert_int_equal(vd_flush(ctx), VD_OK);
        assert_int_equal(vd_list_watch(vd_immediate(ctx, 0, 0), &tickets[i]), VD_OK);
        assert_int_equal(vd_list_get_status(ctx, tickets[i]), VD_LIST_STATUS_SUBMITTED);
        assert_int_equal(vd_list_get_status(other, tickets[i]), VD_LIST_STATUS_UNKNOWN);
        assert_int_equal(vd_read_ready(ctx, tickets[i], VD_FOREVER, &data), VD_OK);
        assert_null(data);
    }
    vd_list *l = vd_list_begin(ctx, NULL), *next;
    assert_int_equal(vd_list_watch(l, &tickets[3]), VD_OK);
    vd_read_end(ctx, tickets[3]); /* ticket destroyed early */
    vd_list_discard(l);
    next = vd_list_begin(ctx, NULL);
    assert_int_equal(vd_list_watch(next, &tickets[3]), VD_OK);
    assert_int_equal(vd_list_get_status(ctx, tickets[3]), VD_LIST_STATUS_OPEN);
    vd_context_destroy(ctx); /* while a list is watched */
    vd_context_destroy(other);
}

/* From the second iteration on, the same calls allocate nothing. */
static void repeats_allocate_nothing(void **state) {
    (void)state;
    static uint8_t data[100000];
    unit_module module;
    vd_context *ctx = unit_context(NULL);
    unit_saxpy(&module);
    vd_kernel k = unit_kernel(ctx, &module, "saxpy");
    vd_buffer x = unit_buffer(ctx, "x", VD_F32, 25000, NULL), y = unit_buffer(ctx, "y", VD_F32, 25000, NULL);
    uint64_t before = 0;
    for (int round = 0; round < 50; round++) {
        if (round == 2) before = unit_stats(ctx).host_allocations;
        for (int i = 0; i < 20; i++) {
            vd_arg args[4] = { vd_b(x), vd_b(y), vd_f32(1), vd_u32(3) };
            assert_int_equal(vd_run_args(ctx, k, 64, 1, 1, args, 4), VD_OK);
        }
        vd_list *l = vd_list_begin(ctx, NULL);
        assert_int_equal(vd_fill(l, x, 0, VD_WHOLE, "abcdefghijkl", 8), VD_OK);
        assert_int_equal(vd_write(l, y, 0, data, sizeof data), VD_OK);
        assert_int_equal(vd_copy(l, x, 0, y, 0, 1000), VD_OK);
        vd_ticket ticket;
        vd_read_desc read;
        const void *at;
        memset(&read, 0, sizeof read);
        read.buffer = x;
        assert_int_equal(vd_read_begin(l, &read, &ticket), VD_OK);
        assert_int_equal(vd_submit(l, NULL, NULL), VD_OK);
        assert_int_equal(vd_read_ready(ctx, ticket, VD_FOREVER, &at), VD_OK);
        vd_read_end(ctx, ticket);
        assert_int_equal(vd_buffer_write(ctx, y, 0, data, sizeof data), VD_OK);
        assert_int_equal(vd_buffer_read(ctx, x, 0, data, sizeof data), VD_OK);
    }
    assert_int_equal(unit_stats(ctx).host_allocations, before);
    vd_context_destroy(ctx);
}

static void destroyed_while_in_use(void **state) {
    (void)state;
    vd_context *ctx = unit_context(NULL);
    float value = 3, got = 0;
    vd_buffer keep = unit_buffer(ctx, "keep", VD_F32, 1, NULL);
    vd_list *l = vd_list_begin(ctx, NULL);
    vd_buffer gone = unit_buffer(ctx, "gone", VD_F32, 1, &value);
    assert_int_equal(vd_copy(l, keep, 0, gone, 0, 4), VD_OK);
    vd_buffer_destroy(ctx, gone);
    for (int i = 0; i < 100; i++) { /* these must not reuse its memory */
        float other = 9;
        vd_buffer b = unit_buffer(ctx, "other", VD_F32, 1, &other);
        vd_buffer_destroy(ctx, b);
        assert_int_equal(vd_wait_idle(ctx), VD_OK);
    }
    assert_int_equal(vd_submit(l, NULL, NULL), VD_OK);
    assert_int_equal(vd_buffer_read(ctx, keep, 0, &got, 4), VD_OK);
    assert_true(got == 3);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    assert_int_equal(unit_stats(ctx).buffers, 1);
    vd_context_destroy(ctx);
}

/* ---- submissions that fail ---- */

static int fail_next;

static vd_result failing_submit(vd__device *dev, uint32_t queue, const vd__submission *s) {
    if (s->commands && fail_next) {
        fail_next--;
        return vd__fail(VD_ERROR_BACKEND, "the driver is tired");
    }
    return vd__dummy_queue_submit(dev, queue, s);
}

static void failed_submissions_end_their_events(void **state) {
    (void)state;
    static vd__backend backend;
    vd_context *ctx = unit_context(NULL);
    backend = vd__backend_dummy;
    backend.queue_submit = failing_submit;
    ctx->driver.backend = &backend;
    vd_event event;
    vd_buffer b = unit_buffer(ctx, "b", VD_F32, 64, NULL);
    assert_int_equal(vd_flush(ctx), VD_OK);
    fail_next = 1;
    assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), b, 0, VD_WHOLE, NULL, 0), VD_OK);
    assert_int_equal(vd_submit(vd_immediate(ctx, 0, 0), NULL, &event), VD_OK);
    assert_int_equal(vd_wait(ctx, event, VD_FOREVER), VD_ERROR_BACKEND);
    CHECK_TEXT("the driver is tired");
    assert_int_equal(vd_flush(ctx), VD_OK); /* already reported */
    fail_next = 1;
    assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), b, 0, VD_WHOLE, NULL, 0), VD_OK);
    assert_int_equal(vd_flush(ctx), VD_ERROR_BACKEND);
    assert_int_equal(vd_flush(ctx), VD_OK);
    assert_int_equal(vd_wait_idle(ctx), VD_ERROR_BACKEND); /* the result of the last batch */
    assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), b, 0, VD_WHOLE, NULL, 0), VD_OK);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    vd_context_destroy(ctx);
}

static vd_result lost_submit(vd__device *dev, uint32_t queue, const vd__submission *s) {
    (void)dev, (void)queue, (void)s;
    return vd__fail(VD_ERROR_DEVICE_LOST, "the driver lost it");
}

static void a_lost_device_stays_lost(void **state) {
    (void)state;
    static vd__backend backend;
    float x = 0;
    vd_context *ctx = unit_context(NULL), *other = unit_context(NULL);
    backend = vd__backend_dummy;
    vd_buffer b = unit_buffer(ctx, "b", VD_F32, 64, NULL), c = unit_buffer(other, "c", VD_F32, 64, NULL);
    backend.queue_submit = lost_submit;
    ctx->driver.backend = &backend;
    assert_int_equal(vd_buffer_read(ctx, b, 0, &x, 4), VD_ERROR_DEVICE_LOST);
    assert_int_equal(vd_flush(ctx), VD_ERROR_DEVICE_LOST);
    /* the list no longer exists */
    assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), b, 0, 4, NULL, 0), VD_ERROR_INVALID);
    assert_int_equal(unit_buffer(ctx, "d", VD_F32, 1, NULL).id, 0);
    CHECK_TEXT("was lost");
    vd_swapchain_info info;
    vd_swapchain none = { 0 };
    assert_int_equal(vd_swapchain_query(ctx, none, &info), VD_ERROR_DEVICE_LOST);
    assert_int_equal(vd_native_use(ctx, 0, 0, NULL, NULL), VD_ERROR_DEVICE_LOST);
    assert_int_equal(vd_buffer_read(other, c, 0, &x, 4), VD_OK);
    vd_context_destroy(ctx);
    vd_context_destroy(other);
}

static vd_result lost_on_device_1(vd__device *dev, uint32_t queue, const vd__submission *s) {
    if (!strcmp(dev->info.name, "left")) return vd__dummy_queue_submit(dev, queue, s);
    return vd__fail(VD_ERROR_DEVICE_LOST, "the driver lost it");
}

static vd_context *left_and_right(void) {
    static const int twice[2] = { 1, 1 };
    vd_context_desc desc;
    vd_context *ctx = NULL;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    desc.devices = twice;
    desc.device_count = 2;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    snprintf(ctx->devices[0].device.info.name, 8, "left");
    snprintf(ctx->devices[1].device.info.name, 8, "right");
    return ctx;
}

static uint32_t texels_on_device_0(vd__device *dev, vd_format format) {
    bool right = !strcmp(dev->info.name, "right");
    return vd__dummy_format_usage(dev, format) & (right ? (uint32_t)VD_IMAGE_SAMPLED : UINT32_MAX);
}

/* A texel buffer describes the memory of its buffer, which need not be on device 0. */
static void texel_buffers_of_two_devices(void **state) {
    static vd__backend backend;
    vd_context *ctx = left_and_right();
    vd_buffer_desc desc;
    vd_texel_buffer_desc texels;
    vd_buffer_info buffer;
    vd_image_info image;
    (void)state;
    memset(&desc, 0, sizeof desc);
    memset(&texels, 0, sizeof texels);
    desc.shape[0] = 64;
    desc.devices = 2;
    texels.buffer = vd_buffer_create(ctx, &desc);
    texels.format = VD_FORMAT_R32_F;
    vd_image made = vd_texel_buffer(ctx, &texels);
    assert_int_equal(vd_buffer_query(ctx, texels.buffer, &buffer), VD_OK);
    assert_int_equal(vd_image_query(ctx, made, &image), VD_OK);
    assert_int_not_equal(image.storage, 0);
    assert_int_equal(image.storage, buffer.storage);
    backend = vd__backend_dummy;
    backend.format_usage = texels_on_device_0;
    ctx->driver.backend = &backend;
    assert_int_equal(vd_texel_buffer(ctx, &texels).id, 0);
    CHECK_TEXT("device 'right' does not support format r32f for texel buffers that kernels fetch from "
               "(VD_IMAGE_TEXELS)");
    ctx->driver.backend = &vd__backend_dummy;
    vd_context_destroy(ctx);
}

static void messages_name_the_lost_device(void **state) {
    static vd__backend backend;
    vd_context *ctx = left_and_right();
    (void)state;
    backend = vd__backend_dummy;
    backend.queue_submit = lost_on_device_1;
    ctx->driver.backend = &backend;
    vd_buffer b = unit_buffer(ctx, "b", VD_F32, 64, NULL);
    assert_int_equal(vd_fill(vd_immediate(ctx, 1, 0), b, 0, VD_WHOLE, NULL, 0), VD_OK);
    assert_int_equal(vd_wait_idle(ctx), VD_ERROR_DEVICE_LOST);
    CHECK_TEXT("device 1 'right' was lost: the driver lost it");
    assert_int_equal(vd_flush(ctx), VD_ERROR_DEVICE_LOST);
    CHECK_TEXT("vd_flush: device 1 'right' was lost earlier");
    vd_context_destroy(ctx);
}

/* ---- waits that time out ---- */

static uint64_t stalled_value(vd__device *dev, uint32_t queue) {
    (void)dev, (void)queue;
    return 0;
}

static vd_result stalled_wait(vd__device *dev, uint32_t queue, uint64_t value, uint64_t timeout_ns) {
    (void)dev, (void)queue, (void)value, (void)timeout_ns;
    return VD_TIMEOUT;
}

static void timeouts_keep_the_error(void **state) {
    (void)state;
    static vd__backend backend;
    vd_context *ctx = unit_context(NULL);
    vd_read_desc read;
    vd_event event;
    vd_ticket ticket;
    const void *data = NULL;
    memset(&read, 0, sizeof read);
    read.buffer = unit_buffer(ctx, "b", VD_F32, 64, NULL);
    backend = vd__backend_dummy;
    backend.queue_value = stalled_value;
    backend.queue_wait = stalled_wait;
    ctx->driver.backend = &backend;
    assert_int_equal(vd_read_begin(vd_immediate(ctx, 0, 0), &read, &ticket), VD_OK);
    assert_int_equal(vd_submit(vd_immediate(ctx, 0, 0), NULL, &event), VD_OK);
    vd_error_set(VD_ERROR_UNSUPPORTED, "an earlier failure");
    for (uint64_t timeout = 0; timeout <= 100000; timeout += 50000) {
        assert_int_equal(vd_wait(ctx, event, timeout), VD_TIMEOUT);
        assert_int_equal(vd_read_ready(ctx, ticket, timeout, &data), VD_TIMEOUT);
        assert_null(data);
        assert_string_equal(vd_error_text(), "an earlier failure");
        assert_int_equal(vd_error_result(), VD_ERROR_UNSUPPORTED);
    }
    ctx->driver.backend = &vd__backend_dummy;
    assert_int_equal(vd_wait(ctx, event, 0), VD_OK);
    vd_context_destroy(ctx);
}

static const struct CMUnitTest transfers_tests[] = {
    cmocka_unit_test(random_transfers), cmocka_unit_test(fills_at_every_offset),
    cmocka_unit_test(large_transfers_are_split), cmocka_unit_test(tickets),
    cmocka_unit_test(watched_lists_report_their_status), cmocka_unit_test(repeats_allocate_nothing),
    cmocka_unit_test(destroyed_while_in_use), cmocka_unit_test(failed_submissions_end_their_events),
    cmocka_unit_test(a_lost_device_stays_lost), cmocka_unit_test(messages_name_the_lost_device),
    cmocka_unit_test(texel_buffers_of_two_devices), cmocka_unit_test(timeouts_keep_the_error),
};
