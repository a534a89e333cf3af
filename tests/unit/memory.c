/* The sub-allocator and blocks of device memory. */
#include "unit.h"

typedef struct range { uint32_t node, at, size; } range;

static void plain_allocator(vd_allocator *a) {
    a->allocate = vd__default_allocate;
    a->reallocate = vd__default_reallocate;
    a->release = vd__default_release;
    a->user = NULL;
}

/* Ranges that are out never overlap, lie inside, are aligned; when all are back, the space is one range again. */
static void random_ranges(void **state) {
    (void)state;
    static uint8_t taken[1 << 16];
    static range out[4096];
    vd_allocator allocator;
    plain_allocator(&allocator);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t random = seed;
        uint32_t count = 0, size = 1000 + unit_random(&random) % 64000;
        vd__space space;
        assert_true(vd__space_init(&space, &allocator, size));
        memset(taken, 0, sizeof taken);
        for (int step = 0; step < 20000; step++) {
            if (count < 4096 && unit_random(&random) % 100 < (step / 4000 % 2 ? 40u : 60u)) {
                uint32_t wanted = 1 + unit_random(&random) % (unit_random(&random) % 8 ? 40 : 4000), align = 1u << unit_random(&random) % 5;
                uint32_t node = vd__space_take(&space, wanted, align);
                if (!node) continue;
                range r = { node, space.nodes[node].at, wanted };
                assert_int_equal(r.at % align, 0);
                assert_true(r.at + wanted <= size);
                bool overlap = false;
                for (uint32_t i = 0; i < wanted; i++) overlap |= taken[r.at + i]++ != 0;
                assert_false(overlap);
                out[count++] = r;
            } else if (count) {
                uint32_t i = unit_random(&random) % count;
                memset(taken + out[i].at, 0, out[i].size);
                vd__space_give(&space, out[i].node);
                out[i] = out[--count];
            }
        }
        while (count) vd__space_give(&space, out[--count].node);
        assert_int_equal(space.taken, 0);
        uint32_t whole = vd__space_take(&space, size / 2, 1);
        assert_int_not_equal(whole, 0);
        assert_int_equal(space.nodes[whole].at, 0);
        vd__space_give(&space, whole);
        vd__space_free(&space);
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

/* A device with 64 MiB, so with blocks of 8. */
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
    assert_int_equal(unit_stats(ctx).device_bytes, 8 << 20); /* one empty block stays */
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
    CHECK_TEXT("'huge': 1099511627776 bytes");
    CHECK_TEXT("max_buffer_bytes 33554432");
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

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_ranges), cmocka_unit_test(many_small_buffers),
                                        cmocka_unit_test(blocks_are_reused_and_released), cmocka_unit_test(too_much_memory) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
