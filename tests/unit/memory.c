/* The sub-allocator and blocks of device memory. */
#include "tests/unit/unit.h"

typedef struct range { uint32_t node, at, size; } range;

static void plain_allocator(vd_allocator *a) {
    a->allocate = vd__default_allocate;
    a->reallocate = vd__default_reallocate;
    a->release = vd__default_release;
    a->user = NULL;
}

/* Allocated ranges never overlap, are within bounds and aligned. When all are freed, the space is one range again. */
static void random_ranges(void **state) {
    (void)state;
    static uint8_t taken[1 << 16];
    static range out[4096];
    vd_allocator allocator;
    plain_allocator(&allocator);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t random = seed;
        uint32_t count = 0, size = 1000 + unit_random(&random) % 64000;
        vd__tlsf space;
        assert_true(vd__tlsf_init(&space, &allocator, size));
        memset(taken, 0, sizeof taken);
        for (int step = 0; step < 20000; step++) {
            if (count < 4096 && unit_random(&random) % 100 < (step / 4000 % 2 ? 40u : 60u)) {
                uint32_t wanted = 1 + unit_random(&random) % (unit_random(&random) % 8 ? 40 : 4000),
                         align = 1u << unit_random(&random) % 5;
                uint32_t node = vd__tlsf_allocate(&space, wanted, align);
                if (!node) continue;
                range r = { node, space.nodes[node].offset, wanted };
                assert_int_equal(r.at % align, 0);
                assert_true(r.at + wanted <= size);
                bool overlap = false;
                for (uint32_t i = 0; i < wanted; i++) overlap |= taken[r.at + i]++ != 0;
                assert_false(overlap);
                out[count++] = r;
            } else if (count) {
                uint32_t i = unit_random(&random) % count;
                memset(taken + out[i].at, 0, out[i].size);
                vd__tlsf_release(&space, out[i].node);
                out[i] = out[--count];
            }
        }
        while (count) vd__tlsf_release(&space, out[--count].node);
        assert_int_equal(space.allocated_size, 0);
        uint32_t whole = vd__tlsf_allocate(&space, size / 2, 1);
        assert_int_not_equal(whole, 0);
        assert_int_equal(space.nodes[whole].offset, 0);
        vd__tlsf_release(&space, whole);
        vd__tlsf_destroy(&space);
    }
}

/* Checks the ranges of a space from the first to the last: they fill it, two free ones are never adjacent, and number
   and total size of the allocated ones are those of the model. Returns the number of free ranges. */
static uint32_t ranges_check(const vd__tlsf *space, uint32_t expected_count, uint32_t expected_size) {
    uint32_t first = 0, at = 0, count = 0, free_count = 0, allocated = 0;
    for (uint32_t n = 1; n < space->node_count && !first; n++)
        if (space->nodes[n].size && !space->nodes[n].previous_physical && !space->nodes[n].offset) first = n;
    for (uint32_t n = first, before = 0; n; before = n, n = space->nodes[n].next_physical) {
        const vd__tlsf_node *node = &space->nodes[n];
        assert_int_equal(node->previous_physical, before);
        assert_int_equal(node->offset, at);
        if (before && !node->allocated) assert_true(space->nodes[before].allocated);
        at += node->size;
        count += node->allocated ? 1 : 0;
        free_count += node->allocated ? 0 : 1;
        if (node->allocated) allocated += node->size;
    }
    assert_int_equal(at, space->size);
    assert_int_equal(count, expected_count);
    assert_int_equal(allocated, expected_size);
    assert_int_equal(space->allocated_size, expected_size);
    return free_count;
}

/* Random allocations and releases against a model: an owner for each unit. MEMORY_STEPS is their number; make test-long
   runs ten million. All ranges are released from time to time: then one free range is left. */
static void random_ranges_match_a_model(void **state) {
    enum { UNITS = 1 << 18, MOST = 1 << 14, CHECKED = 1 << 12, EMPTIED = 1 << 17 };
    static uint16_t owners[UNITS]; /* 1 + index in `out`; 0: free */
    static range out[MOST];
    const char *steps_text = getenv("MEMORY_STEPS"), *seed_text = getenv("MEMORY_SEED");
    long steps = steps_text ? atol(steps_text) : 200000 / (long)unit_stride();
    uint64_t random = seed_text ? (uint64_t)atoll(seed_text) : 1;
    uint32_t count = 0, used = 0, refused = 0;
    vd_allocator allocator;
    vd__tlsf space;
    (void)state;
    print_message("# MEMORY_SEED=%llu MEMORY_STEPS=%ld\n", (unsigned long long)random, steps);
    plain_allocator(&allocator);
    memset(owners, 0, sizeof owners);
    assert_true(vd__tlsf_init(&space, &allocator, UNITS));
    for (long step = 1; step <= steps; step++) {
        bool grows = unit_random(&random) % 100 < (step / 20000 % 2 ? 42u : 58u);
        if (grows && count < MOST) {
            uint32_t wanted = 1 + unit_random(&random) % (unit_random(&random) % 64 ? 60 : 8000),
                     align = 1u << unit_random(&random) % 7, node = vd__tlsf_allocate(&space, wanted, align);
            refused += node ? 0 : 1;
            if (!node) continue;
            range r = { node, space.nodes[node].offset, wanted };
            assert_int_equal(r.at % align, 0);
            assert_true(r.at <= UNITS - wanted);
            assert_true(space.nodes[node].size == wanted);
            for (uint32_t i = 0; i < wanted; i++) {
                if (owners[r.at + i]) fail_msg("step %ld: unit %u is allocated twice", step, r.at + i);
                owners[r.at + i] = (uint16_t)(count + 1);
            }
            out[count++] = r;
            used += wanted;
        } else if (count) {
            uint32_t i = unit_random(&random) % count;
            range r = out[i];
            assert_int_equal(space.nodes[r.node].offset, r.at);
            memset(owners + r.at, 0, r.size * sizeof *owners);
            vd__tlsf_release(&space, r.node);
            used -= r.size;
            out[i] = out[--count];
            for (uint32_t k = 0; k < out[i].size && i < count; k++) owners[out[i].at + k] = (uint16_t)(i + 1);
        }
        if (step % CHECKED == 0) ranges_check(&space, count, used);
        if (step % EMPTIED && step != steps) continue;
        while (count) vd__tlsf_release(&space, out[--count].node);
        memset(owners, 0, sizeof owners);
        used = 0;
        assert_int_equal(ranges_check(&space, 0, 0), 1);
    }
    print_message("# %u allocations did not fit\n", refused);
    vd__tlsf_destroy(&space);
}

/* Stores the requested size, and allocates nothing. */
static void *size_reallocate(void *user, void *block, size_t size) {
    *(size_t *)user = size;
    return block;
}

/* Arrays double, up to the largest number of elements that 32 bits can hold. */
static void arrays_grow(void **state) {
    static const struct { uint32_t capacity, need, expected; } cases[] = {
        { 0, 1, 16 }, { 16, 17, 32 }, { 3, 100, 192 }, { 1u << 30, (1u << 30) + 1, 1u << 31 },
        { 1u << 31, (1u << 31) + 1, (1u << 31) + 1 }, { 5, UINT32_MAX, UINT32_MAX }
    };
    size_t size = 0;
    vd_allocator allocator = { NULL, size_reallocate, NULL, NULL };
    (void)state;
    allocator.user = &size;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t capacity = cases[i].capacity;
        void *items = &size;
        assert_true(vd__array_reserve(&allocator, &items, &capacity, cases[i].need, 1));
        assert_int_equal(capacity, cases[i].expected);
        assert_int_equal(size, cases[i].expected);
    }
}

static void many_small_buffers(void **state) {
    (void)state;
    vd_context *ctx = unit_context(NULL);
    static vd_buffer buffers[10000];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 10000; i++) {
            buffers[i] = unit_buffer(ctx, "small", VD_F32, 1 + (uint64_t)i % 100, NULL);
            assert_true(buffers[i].id != 0);
        }
        assert_int_equal(unit_stats(ctx).buffers, 10000);
        assert_true(unit_stats(ctx).device_blocks <= 8);
        for (int i = 0; i < 10000; i++) vd_buffer_destroy(ctx, buffers[i]);
        assert_int_equal(vd_wait_idle(ctx), VD_OK);
        assert_int_equal(unit_stats(ctx).buffers, 0);
        assert_true(unit_stats(ctx).device_blocks <= 8);
    }
    vd_context_destroy(ctx);
}

/* A device with 64 MiB, hence with blocks of 8 MiB. */
static vd_context *small_device(void) {
    vd_device_info device;
    memset(&device, 0, sizeof device);
    device.device_memory = 64 << 20;
    device.limits.max_buffer_bytes = 32 << 20;
    return unit_context(&device);
}

static void blocks_are_reused_and_released(void **state) {
    (void)state;
    vd_context *ctx = small_device();
    vd_buffer b[16];
    for (int i = 0; i < 16; i++) b[i] = unit_buffer(ctx, "quarter", VD_U8, 2 << 20, NULL);
    assert_in_range(unit_stats(ctx).device_blocks, 4, 6);
    for (int i = 0; i < 16; i++) vd_buffer_destroy(ctx, b[i]);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    assert_int_equal(unit_stats(ctx).device_bytes, 8 << 20); /* one empty block is kept */
    for (int i = 0; i < 20; i++) {
        vd_buffer big = unit_buffer(ctx, "big", VD_U8, 30 << 20, NULL); /* 600 MiB in all */
        if (!big.id) print_error("%s\n", vd_error_text());
        assert_true(big.id != 0);
        vd_buffer_destroy(ctx, big);
    }
    vd_context_destroy(ctx);
}

static void too_much_memory(void **state) {
    (void)state;
    vd_context *ctx = small_device();
    assert_int_equal(unit_buffer(ctx, "huge", VD_U8, 1ull << 40, NULL).id, 0);
    CHECK_TEXT("'huge': the buffer has 1099511627776 bytes");
    CHECK_TEXT("33554432 (max_buffer_bytes)");
    vd_buffer a = unit_buffer(ctx, "a", VD_U8, 31 << 20, NULL), b = unit_buffer(ctx, "b", VD_U8, 30 << 20, NULL);
    vd_buffer c = unit_buffer(ctx, "c", VD_U8, 6 << 20, NULL);
    assert_true(a.id && b.id);
    assert_int_equal(c.id, 0);
    CHECK_TEXT("vd_buffer_create 'c'");
    vd_buffer d = unit_buffer(ctx, "d", VD_U8, 1 << 20, NULL); /* a smaller block still fits */
    assert_true(d.id != 0);
    vd_buffer_destroy(ctx, b);
    c = unit_buffer(ctx, "c", VD_U8, 6 << 20, NULL);
    assert_true(c.id != 0);
    vd_context_destroy(ctx);
}

/* An allocator that knows the bytes that are in use. */
typedef struct live_bytes { size_t live, peak; } live_bytes;
typedef union bytes_head { size_t size; long double align; void *pointer; } bytes_head;

static void *bytes_reallocate(void *user, void *block, size_t size) {
    live_bytes *b = (live_bytes *)user;
    bytes_head *head = block ? (bytes_head *)block - 1 : NULL;
    size_t before = head ? head->size : 0;
    head = (bytes_head *)realloc(head, sizeof *head + size);
    if (!head) return NULL;
    head->size = size;
    b->live += size - before;
    if (b->live > b->peak) b->peak = b->live;
    return head + 1;
}
static void *bytes_allocate(void *user, size_t size) { return bytes_reallocate(user, NULL, size); }
static void bytes_release(void *user, void *block) {
    if (!block) return;
    bytes_head *head = (bytes_head *)block - 1;
    ((live_bytes *)user)->live -= head->size;
    free(head);
}

/* Creates, fills, copies and destroys buffers in immediate work, and through a second list. */
static void short_lived(vd_context *ctx, vd_buffer kept, uint32_t rounds) {
    for (uint32_t i = 0; i < rounds; i++) {
        vd_buffer b = unit_buffer(ctx, "short-lived", VD_U32, 1 + i % 200, NULL);
        vd_list *list = i % 5 ? vd_immediate(ctx, 0, 0) : vd_list_begin(ctx, NULL);
        assert_true(b.id != 0);
        assert_int_equal(vd_fill(list, b, 0, VD_WHOLE, NULL, 0), VD_OK);
        assert_int_equal(vd_copy(list, kept, 4 * (uint64_t)(i % 100), b, 0, 4), VD_OK);
        if (i % 5 == 0) assert_int_equal(vd_submit(list, NULL, NULL), VD_OK);
        vd_buffer_destroy(ctx, b);
    }
}

/* While a list is open for a million operations of other lists, neither host nor device memory grows. */
static void an_open_list_keeps_no_memory_of_others(void **state) {
    (void)state;
    enum { ROUNDS = 250000, WARM_UP = 5000 }; /* four operations each */
    live_bytes count = { 0, 0 };
    vd_context_desc desc;
    vd_context *ctx = NULL;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    desc.allocator.allocate = bytes_allocate;
    desc.allocator.reallocate = bytes_reallocate;
    desc.allocator.release = bytes_release;
    desc.allocator.user = &count;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    vd_buffer kept = unit_buffer(ctx, "kept", VD_U32, 100, NULL);
    vd_list *open = vd_list_begin(ctx, NULL);
    assert_int_equal(vd_fill(open, kept, 0, VD_WHOLE, "abcd", 4), VD_OK);
    short_lived(ctx, kept, WARM_UP);
    size_t peak = count.peak;
    uint64_t device_bytes = unit_stats(ctx).device_bytes;
    short_lived(ctx, kept, ROUNDS / unit_stride());
    assert_int_equal(count.peak, peak);
    assert_int_equal(unit_stats(ctx).device_bytes, device_bytes);
    assert_int_equal(vd_submit(open, NULL, NULL), VD_OK);
    uint32_t word = 0;
    assert_int_equal(vd_buffer_read(ctx, kept, 396, &word, 4), VD_OK);
    assert_memory_equal(&word, "abcd", 4);
    vd_context_destroy(ctx);
    assert_int_equal(count.live, 0);
}

#if VD__HAS_VULKAN
typedef struct heap { long calls, live, fail_after; } heap;

static void *heap_allocate(void *user, size_t size) {
    heap *h = (heap *)user;
    if (h->fail_after && h->calls >= h->fail_after) return NULL;
    h->calls++;
    h->live++;
    return malloc(size);
}

static void *heap_reallocate(void *user, void *block, size_t size) { (void)user; return realloc(block, size); }

static void heap_release(void *user, void *block) {
    ((heap *)user)->live--;
    free(block);
}

static uint8_t *piece(vd__vk_arena *a, size_t size, size_t align) {
    uint8_t *p = (uint8_t *)vd__vk_arena_allocate(a, size, align, VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % (align < 16 ? 16 : align), 0);
    memset(p, (int)(size & 0xFFu), size);
    return p;
}

static void arena_start(vd__vk_arena *a, heap *h, vd_allocator *allocator) {
    vd_allocator counted = { heap_allocate, heap_reallocate, heap_release, NULL };
    memset(h, 0, sizeof *h);
    memset(a, 0, sizeof *a);
    *allocator = counted;
    allocator->user = h;
    a->allocator = allocator;
}

/* Allocations of all sizes keep their contents until they are freed. From the second recording on, small ones come from
   existing slabs. */
static void commands_memory(void **state) {
    (void)state;
    enum { PIECES = 5000 };
    static uint8_t *pieces[PIECES];
    static size_t sizes[PIECES];
    vd__vk_arena a;
    vd_allocator allocator;
    heap h;
    arena_start(&a, &h, &allocator);
    uint8_t *before = piece(&a, 100, 8); /* before the first recording: allocated separately */
    assert_int_equal(h.live, 1);
    for (int round = 0; round < 4; round++) {
        uint64_t random = 7;
        long calls = h.calls, large = 0;
        vd__vk_arena_reset(&a);
        for (int i = 0; i < PIECES; i++) {
            sizes[i] = unit_random(&random) % (i % 50 ? 300 : 9000);
            size_t align = (size_t)1 << unit_random(&random) % (i % 50 ? 5 : 9);
            large += sizes[i] > VD__VK_ALLOCATION_MAX || align > 16;
            pieces[i] = piece(&a, sizes[i], align);
            if (i % 7) continue;
            size_t size = sizes[i] * 2 + 1;
            pieces[i] = (uint8_t *)vd__vk_arena_reallocate(&a, pieces[i], size, 8, VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
            assert_non_null(pieces[i]);
            for (size_t k = 0; k < sizes[i]; k++) assert_int_equal(pieces[i][k], sizes[i] & 0xFFu);
            large += size > VD__VK_ALLOCATION_MAX;
            sizes[i] = size;
            memset(pieces[i], (int)(size & 0xFFu), size);
        }
        for (int i = 0; i < PIECES; i++) {
            for (size_t k = 0; k < sizes[i]; k++) assert_int_equal(pieces[i][k], sizes[i] & 0xFFu);
            vd__vk_arena_free(&a, pieces[i]);
        }
        if (round) assert_int_equal(h.calls - calls, large);
        assert_int_equal(a.live_allocations, 0);
    }
    vd__vk_arena_free(&a, NULL);
    vd__vk_arena_free(&a, before);
    vd__vk_slabs_free(&a, &a.slabs);
    assert_int_equal(h.live, 0);
}

/* Freed memory is reused at once. A recording of many commands does not keep its memory. While a driver holds
   allocations across a reset, the next ones come from the allocator. */
static void commands_memory_is_released(void **state) {
    (void)state;
    vd__vk_arena a;
    vd_allocator allocator;
    heap h;
    arena_start(&a, &h, &allocator);
    vd__vk_arena_reset(&a);
    uint8_t *first = piece(&a, 40, 8);
    for (int i = 0; i < 100000; i++) vd__vk_arena_free(&a, piece(&a, 1000, 8));
    assert_int_equal(h.live, 1);
    vd__vk_arena_free(&a, first);
    uint8_t *kept = piece(&a, 24, 8);
    for (int i = 0; i < 100000; i++) piece(&a, 100, 8);
    assert_true(h.live > 2 * VD__VK_SLABS_KEPT);
    a.live_allocations = 1; /* all but `kept` count as freed */
    vd__vk_arena_reset(&a);
    long live = h.live;
    uint8_t *alone = piece(&a, 24, 8);
    assert_int_equal(h.live, live + 1);
    assert_int_equal(kept[0], 24);
    vd__vk_arena_free(&a, alone);
    vd__vk_arena_free(&a, kept);
    vd__vk_arena_reset(&a);
    assert_int_equal(h.live, VD__VK_SLABS_KEPT);
    assert_ptr_equal(piece(&a, 40, 8), first);
    vd__vk_slabs_free(&a, &a.slabs);
    assert_int_equal(h.live, 0);
}

static void commands_memory_fails(void **state) {
    (void)state;
    vd__vk_arena a;
    vd_allocator allocator;
    heap h;
    arena_start(&a, &h, &allocator);
    vd__vk_arena_reset(&a);
    h.fail_after = 2;
    int taken = 0;
    while (vd__vk_arena_allocate(&a, 1000, 8, VK_SYSTEM_ALLOCATION_SCOPE_OBJECT)) taken++;
    assert_int_equal(taken, 2 * ((VD__VK_SLAB_BYTES - 16) / 1024));
    assert_true(a.failed);
    a.live_allocations = 0;
    vd__vk_arena_reset(&a);
    assert_false(a.failed);
    uint8_t *p = piece(&a, 10, 8);
    assert_null(vd__vk_arena_reallocate(&a, p, SIZE_MAX - 8, 8, VK_SYSTEM_ALLOCATION_SCOPE_OBJECT));
    assert_true(a.failed);
    assert_int_equal(p[9], 10);
    assert_null(vd__vk_arena_reallocate(&a, p, 0, 8, VK_SYSTEM_ALLOCATION_SCOPE_OBJECT));
    assert_int_equal(a.live_allocations, 0);
    vd__vk_slabs_free(&a, &a.slabs);
    assert_int_equal(h.live, 0);
}
#endif

static char memory_text[256];

static bool memory_destroys_its_context(void *user, int device, uint64_t bytes) {
    (void)device, (void)bytes;
    vd_context_destroy(*(vd_context **)user);
    snprintf(memory_text, sizeof memory_text, "%s", vd_error_text());
    return false;
}

static void pressure_callbacks_must_not_destroy(void **state) {
    vd_device_info device;
    vd_context_desc desc;
    vd_image_desc image;
    vd_context *ctx = NULL;
    (void)state;
    memset(&device, 0, sizeof device);
    memset(&desc, 0, sizeof desc);
    memset(&image, 0, sizeof image);
    device.device_memory = 1 << 20;
    device.features = VD_FEATURE_IMAGE;
    desc.backend = VD_BACKEND_DUMMY;
    desc.dummy = &device;
    desc.memory_pressure = memory_destroys_its_context;
    desc.pressure_user = &ctx;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    image.format = VD_FORMAT_RGBA32_F;
    image.extent[0] = image.extent[1] = 1024;
    assert_int_equal(vd_image_create(ctx, &image).id, 0);
    assert_int_equal(vd_error_result(), VD_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_string_equal(memory_text, "vd_context_destroy: must not be called from `memory_pressure` of the context");
    vd_context_destroy(ctx);
}

static const struct CMUnitTest memory_tests[] = {
    cmocka_unit_test(random_ranges), cmocka_unit_test(random_ranges_match_a_model),
    cmocka_unit_test(arrays_grow), cmocka_unit_test(many_small_buffers),
    cmocka_unit_test(blocks_are_reused_and_released), cmocka_unit_test(too_much_memory),
    cmocka_unit_test(an_open_list_keeps_no_memory_of_others), cmocka_unit_test(pressure_callbacks_must_not_destroy),
#if VD__HAS_VULKAN
    cmocka_unit_test(commands_memory), cmocka_unit_test(commands_memory_is_released),
    cmocka_unit_test(commands_memory_fails),
#endif
};
