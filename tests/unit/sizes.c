/* Offsets and sizes above 4 GiB reach the backend unchanged. The memory of the large buffer does not exist: a backend
   that allocates nothing and only records what it is asked to do. */
#include "tests/unit/unit.h"

#define SIZES_GIB ((uint64_t)1 << 30)
enum { SIZES_ROWS = 8 };

static struct { uint64_t to, from, size; uint32_t count; } sizes_last; /* the last fill or copy */

static vd_result sizes_block_create(vd__device *dev, vd__block *block) {
    if (block->size < SIZES_GIB) return vd__dummy_block_create(dev, block);
    block->native[0] = 1 << 16;
    block->coherent = true;
    return VD_OK;
}

static void sizes_block_destroy(vd__device *dev, vd__block *block) {
    if (block->size < SIZES_GIB) vd__dummy_block_destroy(dev, block);
}

static void sizes_fill(vd__device *dev, vd__commands *c, const vd__memory *to, uint64_t offset, uint64_t size,
                       uint32_t word) {
    (void)dev, (void)c, (void)to, (void)word;
    sizes_last.to = offset;
    sizes_last.size = size;
}

static void sizes_copy(vd__device *dev, vd__commands *c, const vd__memory *to, const vd__memory *from,
                       const vd__copy_range *ranges, uint32_t count) {
    (void)dev, (void)c, (void)to, (void)from;
    sizes_last.to = ranges[count - 1].to;
    sizes_last.from = ranges[count - 1].from;
    sizes_last.size = ranges[count - 1].size;
    sizes_last.count = count;
}

static void large_offsets_reach_the_backend(void **state) {
    const uint64_t size = 17 * SIZES_GIB + 48, high = 13 * SIZES_GIB + 4;
    static vd__backend backend;
    vd_device_info device;
    uint32_t word = 7;
    (void)state;
    memset(&device, 0, sizeof device);
    device.device_memory = device.limits.max_buffer_bytes = device.limits.max_binding_bytes = (uint64_t)1 << 40;
    vd_context *ctx = unit_context(&device);
    const vd__backend *dummy = ctx->driver.backend;
    backend = *dummy;
    backend.block_create = sizes_block_create;
    backend.block_destroy = sizes_block_destroy;
    backend.record_fill = sizes_fill;
    backend.record_copy = sizes_copy;
    ctx->driver.backend = &backend;
    vd_list *now = vd_immediate(ctx, 0, 0);
    vd_buffer b = unit_buffer(ctx, "large", VD_U32X4, size / 16, NULL);
    assert_true(b.id != 0);
    assert_true(sizes_last.to == 0 && sizes_last.size == size);
    assert_int_equal(vd_fill(now, b, high, 2 * SIZES_GIB, &word, 4), VD_OK);
    assert_true(sizes_last.to == high && sizes_last.size == 2 * SIZES_GIB);
    assert_int_equal(vd_copy(now, b, high, b, 12, 5 * SIZES_GIB - 60), VD_ERROR_INVALID); /* past the end */
    assert_int_equal(vd_copy(now, b, high, b, 12, 4 * SIZES_GIB), VD_OK);
    assert_true(sizes_last.to == high && sizes_last.from == 12 && sizes_last.size == 4 * SIZES_GIB);
    assert_int_equal(vd_write(now, b, high + 4, &word, 4), VD_OK);
    assert_true(sizes_last.to == high + 4 && sizes_last.size == 4);
    vd_copy_desc rows = { b, b, 9 * SIZES_GIB, 4, 64, SIZES_ROWS, SIZES_GIB, SIZES_GIB };
    assert_int_equal(vd_copy_region(now, &rows), VD_OK);
    assert_int_equal(sizes_last.count, SIZES_ROWS);
    assert_true(sizes_last.to == 16 * SIZES_GIB && sizes_last.from == 7 * SIZES_GIB + 4);
    vd_view_desc view;
    memset(&view, 0, sizeof view);
    view.buffer = b;
    view.offset = high + 12;
    view.type = VD_U32;
    vd_buffer v = vd_buffer_view(ctx, &view);
    vd_buffer_info info;
    assert_int_equal(vd_buffer_query(ctx, v, &info), VD_OK);
    assert_true(info.size == size - view.offset && info.shape[0] == info.size / 4 && info.native_offset == view.offset);
    vd_read_desc read;
    vd_ticket ticket;
    memset(&read, 0, sizeof read);
    read.buffer = v;
    read.offset = 3 * SIZES_GIB;
    read.size = 16;
    assert_int_equal(vd_read_begin(now, &read, &ticket), VD_OK);
    assert_true(sizes_last.from == view.offset + read.offset && sizes_last.size == 16);
    vd_read_end(ctx, ticket);
    /* ranges that differ by 4 GiB do not conflict */
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    assert_int_equal(vd_fill(now, b, 0, VD_WHOLE, NULL, 0), VD_OK);
    assert_int_equal(vd_fill(now, b, 256, 256, &word, 4), VD_OK);
    uint64_t barriers = unit_stats(ctx).barriers;
    assert_int_equal(vd_fill(now, b, 4 * SIZES_GIB + 256, 256, &word, 4), VD_OK);
    assert_int_equal(unit_stats(ctx).barriers, barriers);
    assert_int_equal(vd_fill(now, b, 4 * SIZES_GIB + 508, 256, &word, 4), VD_OK);
    assert_int_equal(unit_stats(ctx).barriers, barriers + 1);
    vd_buffer_destroy(ctx, b);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    ctx->driver.backend = dummy;
    for (uint32_t type = 0; type < 32; type++) /* the empty blocks, which are kept, are small */
        for (vd__heap_block *h = ctx->devices[0].heap.blocks[type]; h; h = h->next)
            assert_true(h->block.size < SIZES_GIB);
    vd_context_destroy(ctx);
}

static const struct CMUnitTest sizes_tests[] = { cmocka_unit_test(large_offsets_reach_the_backend) };
