/* Transfers of rows, memory kinds and mapping. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"

enum { BYTES = 4096 };

static vd_region_desc region(vd_buffer b, uint64_t offset, uint64_t row, uint64_t rows, uint64_t pitch,
                             uint64_t host_pitch) {
    vd_region_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.buffer = b;
    desc.offset = offset;
    desc.row_bytes = row;
    desc.rows = rows;
    desc.pitch = pitch;
    desc.host_pitch = host_pitch;
    return desc;
}

static void rows_copy(uint8_t *to, uint64_t to_pitch, const uint8_t *from, uint64_t from_pitch, uint64_t row,
                      uint64_t rows) {
    for (uint64_t i = 0; i < rows; i++) memcpy(to + i * to_pitch, from + i * from_pitch, row);
}

static void check_bytes(vd_context *ctx, vd_buffer b, const uint8_t *model, size_t count) {
    uint8_t *got = (uint8_t *)malloc(count);
    assert_non_null(got);
    OK(vd_buffer_read(ctx, b, 0, got, count));
    size_t at = 0;
    while (at < count && got[at] == model[at]) at++;
    free(got);
    if (at < count) fail_msg("byte %lu differs", (unsigned long)at);
}

typedef struct shape { uint64_t offset, row, rows, pitch; } shape;

/* Random rows that fit into BYTES. */
static shape some_shape(dice *d, uint64_t row, uint64_t rows) {
    shape s = { 0, row, rows, row };
    uint64_t room = rows > 1 ? (BYTES - row) / (rows - 1) - row : 0;
    s.pitch += roll(d, 3) ? roll(d, (uint32_t)(room < 40 ? room + 1 : 40)) : 0;
    s.offset = roll(d, (uint32_t)(BYTES - (rows - 1) * s.pitch - row + 1));
    return s;
}

TEST(random_regions_match_the_host) {
    static uint8_t model[2][BYTES], host[2 * BYTES], expected[2 * BYTES];
    vd_buffer b[2];
    dice d = { 7 };
    for (int i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < BYTES; k++) model[i][k] = (uint8_t)roll(&d, 256);
        b[i] = buffer_named(f->ctx, "b", VD_BYTES, BYTES, model[i]);
    }
    for (int round = 0; round < 400; round++) {
        uint32_t which = roll(&d, 2), other = roll(&d, 2);
        uint64_t row = 1 + roll(&d, 60), rows = 1 + roll(&d, 40);
        shape s = some_shape(&d, row, rows), t = some_shape(&d, row, rows);
        uint64_t host_pitch = row + roll(&d, 20);
        vd_region_desc desc = region(b[which], s.offset, row, rows, s.pitch, host_pitch);
        vd_list *now = vd_immediate(f->ctx, 0, 0);
        for (uint32_t k = 0; k < sizeof host; k++) host[k] = expected[k] = (uint8_t)roll(&d, 256);
        uint32_t action = roll(&d, 4);
        if (action == 0) OK(vd_buffer_write_region(f->ctx, &desc, host));
        else if (action == 1) OK(vd_write_region(now, &desc, host));
        if (action < 2) rows_copy(model[which] + s.offset, s.pitch, host, host_pitch, row, rows);
        else if (action == 2) {
            OK(vd_buffer_read_region(f->ctx, &desc, host));
            rows_copy(expected, host_pitch, model[which] + s.offset, s.pitch, row, rows);
            assert_memory_equal(host, expected, sizeof host); /* including the bytes between rows */
        } else if (which != other) {
            vd_copy_desc copy = { b[other], b[which], t.offset, s.offset, row, rows, t.pitch, s.pitch };
            OK(vd_copy_region(now, &copy));
            rows_copy(model[other] + t.offset, t.pitch, model[which] + s.offset, s.pitch, row, rows);
        }
    }
    for (int i = 0; i < 2; i++) check_bytes(f->ctx, b[i], model[i], BYTES);
}

/* The bytes between rows get the filler; those before the first row and after the last one stay. */
TEST(writes_fill_the_bytes_between_rows) {
    static uint8_t model[BYTES], host[BYTES];
    dice d = { 3 };
    for (uint32_t i = 0; i < BYTES; i++) model[i] = 1;
    vd_buffer b = buffer_named(f->ctx, "b", VD_BYTES, BYTES, model);
    for (int round = 0; round < 60; round++) {
        uint64_t row = 1 + roll(&d, 60), rows = 1 + roll(&d, 40), host_pitch = row + roll(&d, 20);
        shape s = some_shape(&d, row, rows);
        vd_region_desc desc = region(b, s.offset, row, rows, s.pitch, host_pitch);
        desc.fill = true;
        desc.filler = (uint8_t)roll(&d, 256);
        for (uint32_t i = 0; i < BYTES; i++) host[i] = (uint8_t)roll(&d, 256);
        if (round % 2) OK(vd_buffer_write_region(f->ctx, &desc, host));
        else OK(vd_write_region(vd_immediate(f->ctx, 0, 0), &desc, host));
        memset(model + s.offset, desc.filler, (rows - 1) * s.pitch + row);
        rows_copy(model + s.offset, s.pitch, host, host_pitch, row, rows);
        check_bytes(f->ctx, b, model, BYTES);
    }
    vd_region_desc outside = region(b, BYTES - 10, 4, 3, 8, 4);
    outside.fill = true;
    FAILS(vd_buffer_write_region(f->ctx, &outside, host), VD_ERROR_INVALID, "vd_buffer_write_region|'b'");
    FAILS(vd_write_region(vd_immediate(f->ctx, 0, 0), &outside, host), VD_ERROR_INVALID, "vd_write_region|'b'");
    outside.offset = 0;
    FAILS(vd_buffer_write_region(f->ctx, &outside, NULL), VD_ERROR_INVALID, "data is NULL");
    check_bytes(f->ctx, b, model, BYTES);
    vd_buffer_destroy(f->ctx, b);
}

/* 2 MB are read three frames late. After the first frames there are no allocations, and all data pointers are those of
   a few blocks of staging memory: nothing is copied. */
TEST(late_readback_allocates_nothing) {
    enum { WORDS = 1 << 19, FRAMES = 60, LATE = 3 };
    vd_buffer b = buffer_u32(f->ctx, "b", WORDS, NULL);
    vd_ticket ring[LATE] = { { 0 } };
    const void *seen[16];
    size_t seen_count = 0;
    vd_stats steady = stats_of(f->ctx);
    vd_list *now = vd_immediate(f->ctx, 0, 0);
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        vd_read_desc read;
        const void *data = NULL;
        memset(&read, 0, sizeof read);
        read.buffer = b;
        vd_ticket *t = &ring[frame % LATE];
        if (frame >= LATE) {
            OK(vd_read_ready(f->ctx, *t, VD_FOREVER, &data)); /* a real program polls */
            assert_int_equal(((const uint32_t *)data)[0], frame - LATE);
            assert_int_equal(((const uint32_t *)data)[WORDS - 1], frame - LATE);
            size_t i = 0;
            while (i < seen_count && seen[i] != data) i++;
            assert_true(i < COUNT(seen));
            if (i == seen_count) seen[seen_count++] = data;
            vd_read_end(f->ctx, *t);
        }
        if (frame == FRAMES / 2) steady = stats_of(f->ctx);
        OK(vd_fill(now, b, 0, VD_WHOLE, &frame, 4));
        OK(vd_read_begin(now, &read, t));
        OK(vd_flush(f->ctx));
    }
    vd_stats after = stats_of(f->ctx);
    assert_int_equal(after.host_allocations, steady.host_allocations);
    assert_int_equal(after.device_blocks, steady.device_blocks);
    assert_int_equal(after.device_bytes, steady.device_bytes);
    assert_true(seen_count <= 2 * LATE + 2);
    for (int i = 0; i < LATE; i++) vd_read_end(f->ctx, ring[i]);
    vd_buffer_destroy(f->ctx, b);
}

/* Staging memory of a burst is freed after 1024 submissions that do not need it. */
TEST(unused_staging_memory_is_freed) {
    enum { PART = 3 << 20, PARTS = 8 };
    static uint8_t bytes[PART];
    vd_context *ctx = context_without(f, VD_FEATURE_MAPPED);
    vd_buffer b = buffer_named(ctx, "b", VD_BYTES, PART, NULL);
    OK(vd_wait_idle(ctx));
    vd_stats before = stats_of(ctx);
    vd_list *list = list_begin(ctx);
    for (int i = 0; i < PARTS; i++) OK(vd_write(list, b, 0, bytes, PART));
    OK(vd_submit(list, NULL, NULL));
    OK(vd_wait_idle(ctx));
    vd_stats burst = stats_of(ctx);
    assert_true(burst.device_blocks >= before.device_blocks + PARTS - 2);
    for (uint32_t i = 0; i < 3000; i++) {
        OK(vd_fill(vd_immediate(ctx, 0, 0), b, 0, 4, &i, 4));
        OK(vd_flush(ctx));
        if (i % 100 == 0) OK(vd_wait_idle(ctx));
    }
    OK(vd_wait_idle(ctx));
    vd_stats after = stats_of(ctx);
    assert_true(after.device_blocks <= before.device_blocks + 1);
    OK(vd_buffer_write(ctx, b, 0, bytes, PART));
    vd_buffer_destroy(ctx, b);
}

/* Rows longer than a piece of staging memory, and very many short ones, through a list, which never writes directly. */
TEST(large_regions_are_split) {
    static const struct { uint64_t row, rows, pitch, host_pitch; } cases[] = {
        { (5u << 20) + 3, 2, (5u << 20) + 64, (5u << 20) + 10 }, { 1000, 9000, 1024, 1000 }, { 7, 100000, 8, 9 },
        { 1024, 9000, 1024, 1100 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint64_t bytes = cases[i].rows * cases[i].pitch, there = cases[i].rows * cases[i].host_pitch;
        uint8_t *model = (uint8_t *)calloc(1, bytes), *host = (uint8_t *)malloc(there),
                *back = (uint8_t *)calloc(1, there);
        assert_true(model && host && back);
        for (uint64_t k = 0; k < there; k++) host[k] = (uint8_t)(k * 7 + (k >> 9));
        vd_buffer b = buffer_named(f->ctx, "b", VD_BYTES, bytes, NULL);
        vd_region_desc desc = region(b, 0, cases[i].row, cases[i].rows, cases[i].pitch, cases[i].host_pitch);
        vd_list *list = list_begin(f->ctx);
        OK(vd_write_region(list, &desc, host));
        OK(vd_submit(list, NULL, NULL));
        rows_copy(model, cases[i].pitch, host, cases[i].host_pitch, cases[i].row, cases[i].rows);
        check_bytes(f->ctx, b, model, bytes);
        OK(vd_buffer_read_region(f->ctx, &desc, back));
        for (uint64_t k = 0; k < cases[i].rows; k++)
            if (memcmp(back + k * cases[i].host_pitch, host + k * cases[i].host_pitch, cases[i].row))
                fail_msg("case %d: row %d differs", (int)i, (int)k);
        vd_buffer_destroy(f->ctx, b);
        free(model);
        free(host);
        free(back);
    }
}

TEST(columns_of_one_buffer_can_be_copied) {
    uint8_t model[BYTES];
    for (uint32_t k = 0; k < BYTES; k++) model[k] = (uint8_t)(k * 31);
    vd_buffer b = buffer_named(f->ctx, "matrix", VD_BYTES, BYTES, model);
    vd_list *now = vd_immediate(f->ctx, 0, 0);
    vd_copy_desc copy = { b, b, 32, 0, 32, 64, 64, 64 }; /* the left half to the right */
    OK(vd_copy_region(now, &copy));
    rows_copy(model + 32, 64, model, 64, 32, 64);
    check_bytes(f->ctx, b, model, BYTES);
    copy.to_offset = 31;
    FAILS(vd_copy_region(now, &copy), VD_ERROR_INVALID, "vd_copy_region: source and target overlap: 2048 bytes at "
          "offsets 0 and 31 of the memory of buffer 'matrix'");
    copy.to_offset = 40; /* its end overlaps the source of the next row */
    copy.rows = 63;
    FAILS(vd_copy_region(now, &copy), VD_ERROR_INVALID, "overlap");
    copy.to_offset = 64 * 32 + 8;
    copy.rows = 31;
    OK(vd_copy_region(now, &copy));
    rows_copy(model + 64 * 32 + 8, 64, model, 64, 32, 31);
    check_bytes(f->ctx, b, model, BYTES);
}

TEST(repeated_regions_allocate_nothing) {
    static uint8_t host[64 * 64];
    vd_buffer b = buffer_named(f->ctx, "b", VD_BYTES, BYTES, NULL),
              c = buffer_named(f->ctx, "c", VD_BYTES, BYTES, NULL);
    vd_region_desc desc = region(b, 5, 20, 60, 64, 64);
    vd_copy_desc copy = { c, b, 0, 5, 20, 60, 32, 64 };
    long before = 0;
    for (int i = 0; i < 30; i++) {
        if (i == 6) before = f->memory.calls;
        OK(vd_buffer_write_region(f->ctx, &desc, host));
        OK(vd_copy_region(vd_immediate(f->ctx, 0, 0), &copy));
        OK(vd_buffer_read_region(f->ctx, &desc, host));
        OK(vd_write_region(vd_immediate(f->ctx, 0, 0), &desc, host));
        OK(vd_wait_idle(f->ctx));
    }
    assert_int_equal(f->memory.calls, before);
}

TEST(bad_regions_are_refused) {
    uint8_t host[64];
    vd_buffer b = buffer_named(f->ctx, "b", VD_BYTES, 100, NULL),
              dead = buffer_named(f->ctx, "dead", VD_BYTES, 8, NULL), none = { 0 };
    vd_buffer_destroy(f->ctx, dead);
    vd_region_desc desc = region(b, 0, 10, 4, 8, 0);
    FAILS(vd_buffer_write_region(NULL, &desc, host), VD_ERROR_INVALID, "vd_buffer_write_region: the context is NULL");
    FAILS(vd_buffer_write_region(f->ctx, NULL, host), VD_ERROR_INVALID, "vd_buffer_write_region: desc is NULL");
    FAILS(vd_buffer_read_region(f->ctx, NULL, host), VD_ERROR_INVALID, "vd_buffer_read_region: desc is NULL");
    FAILS(vd_buffer_write_region(f->ctx, &desc, host), VD_ERROR_INVALID,
          "vd_buffer_write_region: pitch 8|10 bytes of a row");
    desc.pitch = 0;
    desc.host_pitch = 9;
    FAILS(vd_buffer_read_region(f->ctx, &desc, host), VD_ERROR_INVALID,
          "vd_buffer_read_region: host pitch 9|10 bytes of a row");
    desc.host_pitch = 0;
    FAILS(vd_buffer_read_region(f->ctx, &desc, NULL), VD_ERROR_INVALID, "vd_buffer_read_region: data is NULL");
    desc.rows = 11;
    FAILS(vd_buffer_read_region(f->ctx, &desc, host), VD_ERROR_INVALID,
          "offset 0|11 rows of 10 bytes with pitch 10|'b' (100 bytes)");
    desc.rows = UINT64_MAX;
    FAILS(vd_buffer_write_region(f->ctx, &desc, host), VD_ERROR_INVALID, "past the end");
    desc.rows = 2;
    desc.pitch = UINT64_MAX - 3;
    FAILS(vd_buffer_write_region(f->ctx, &desc, host), VD_ERROR_INVALID, "past the end");
    desc.pitch = 0;
    desc.host_pitch = UINT64_MAX;
    FAILS(vd_buffer_write_region(f->ctx, &desc, host), VD_ERROR_INVALID, "host pitch 18446744073709551615 x 2 rows exceeds the address space");
    FAILS(vd_buffer_read_region(f->ctx, &desc, host), VD_ERROR_INVALID, "host pitch 18446744073709551615 x 2 rows exceeds the address space");
    desc.host_pitch = (uint64_t)1 << 63;
    FAILS(vd_write_region(vd_immediate(f->ctx, 0, 0), &desc, host), VD_ERROR_INVALID,
          "vd_write_region: host pitch 9223372036854775808");
    desc.rows = 5;
    desc.host_pitch = (uint64_t)1 << 62; /* four times this overflows to 0 */
    FAILS(vd_buffer_read_region(f->ctx, &desc, host), VD_ERROR_INVALID, "host pitch 4611686018427387904 x 5 rows exceeds the address space");
    desc.rows = 2;
    desc.host_pitch = desc.row_bytes = 0;
    FAILS(vd_buffer_write_region(f->ctx, &desc, host), VD_ERROR_INVALID, "rows is 2, but row_bytes is 0; set it to the bytes of a row");
    desc.row_bytes = 10;
    desc.offset = 95;
    FAILS(vd_buffer_write_region(f->ctx, &desc, host), VD_ERROR_INVALID, "10 bytes at offset 95 extend|'b' (100 bytes)");
    desc.offset = 0;
    desc.device = 9;
    FAILS(vd_buffer_write_region(f->ctx, &desc, host), VD_ERROR_INVALID, "vd_buffer_write_region: desc.device is 9 (1 + device index)");
    desc.device = -1;
    FAILS(vd_buffer_read_region(f->ctx, &desc, host), VD_ERROR_INVALID, "vd_buffer_read_region: desc.device is -1 (1 + device index)");
    desc.device = 0;
    desc.buffer = dead;
    FAILS(vd_buffer_read_region(f->ctx, &desc, host), VD_ERROR_INVALID, "source buffer was destroyed");
    desc.buffer = none;
    FAILS(vd_buffer_write_region(f->ctx, &desc, host), VD_ERROR_INVALID, "target buffer handle is 0");
    vd_copy_desc copy = { b, dead, 0, 0, 4, 2, 0, 0 };
    FAILS(vd_copy_region(vd_immediate(f->ctx, 0, 0), &copy), VD_ERROR_INVALID,
          "vd_copy_region: the source buffer was destroyed");
    FAILS(vd_copy_region(vd_immediate(f->ctx, 0, 0), NULL), VD_ERROR_INVALID, "vd_copy_region: desc is NULL");
    FAILS(vd_copy_region(NULL, &copy), VD_ERROR_INVALID, "vd_copy_region: the list is NULL");
    copy.from = b;
    copy.from_offset = 50;
    copy.to_pitch = 3;
    FAILS(vd_copy_region(vd_immediate(f->ctx, 0, 0), &copy), VD_ERROR_INVALID,
          "vd_copy_region: target pitch 3|4 bytes of a row");
    copy.to_pitch = 200;
    FAILS(vd_copy_region(vd_immediate(f->ctx, 0, 0), &copy), VD_ERROR_INVALID,
          "target offset 0|with pitch 200|past the end");
    still_works(f);
}

/* ---- memory kinds ---- */

static vd_buffer buffer_in(vd_context *ctx, vd_memory memory, uint64_t words, const void *data) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "kind";
    desc.type = VD_U32;
    desc.shape[0] = words;
    desc.data = data;
    desc.memory = memory;
    return vd_buffer_create(ctx, &desc);
}

TEST(every_kind_of_memory_holds_data) {
    uint32_t words[300], got[300];
    for (uint32_t i = 0; i < 300; i++) words[i] = i * i;
    vd_buffer device = buffer_u32(f->ctx, "device", 300, NULL);
    for (vd_memory kind = VD_MEMORY_DEVICE; kind <= VD_MEMORY_SHARED; kind = (vd_memory)(kind + 1)) {
        vd_buffer_info info;
        vd_buffer b = buffer_in(f->ctx, kind, 300, words), zero = buffer_in(f->ctx, kind, 300, NULL);
        assert_true(b.id && zero.id);
        OK(vd_buffer_query(f->ctx, b, &info));
        assert_int_equal(info.memory, kind);
        /* kernels access host memory */
        if (kind != VD_MEMORY_DEVICE && (info.address || f->backend == VD_BACKEND_VULKAN)) assert_true(info.mapped);
        OK(vd_copy(vd_immediate(f->ctx, 0, 0), device, 0, b, 0, VD_WHOLE));
        OK(vd_copy(vd_immediate(f->ctx, 0, 0), zero, 40, device, 40, 400));
        OK(vd_buffer_read(f->ctx, zero, 0, got, sizeof got));
        for (uint32_t i = 0; i < 300; i++) assert_int_equal(got[i], i >= 10 && i < 110 ? words[i] : 0);
        if (f->executes) {
            OK(affine(vd_immediate(f->ctx, 0, 0), kernel_affine(f->ctx), b, 300, 2, 1));
            OK(vd_buffer_read(f->ctx, b, 0, got, sizeof got));
            for (uint32_t i = 0; i < 300; i++) assert_int_equal(got[i], 2 * words[i] + 1);
        }
    }
}

/* Work recorded before a mapping is done when it returns, and work recorded later sees what the host writes. */
TEST(mappings_are_ordered_with_work) {
    vd_list *now = vd_immediate(f->ctx, 0, 0);
    for (vd_memory kind = VD_MEMORY_UPLOAD; kind <= VD_MEMORY_SHARED; kind = (vd_memory)(kind + 1)) {
        vd_buffer b = buffer_in(f->ctx, kind, 1000, NULL), out = buffer_u32(f->ctx, "out", 1000, NULL);
        vd_view_desc part;
        memset(&part, 0, sizeof part);
        part.buffer = b;
        part.offset = 400;
        vd_buffer view = vd_buffer_view(f->ctx, &part);
        vd_buffer_info info;
        OK(vd_buffer_query(f->ctx, b, &info));
        for (uint32_t round = 1; round < 20 && info.mapped; round++) {
            void *p = NULL, *q = NULL;
            OK(vd_fill(now, b, 0, VD_WHOLE, &round, 4));
            OK(vd_buffer_map(f->ctx, b, 0, VD_READ_WRITE, &p));
            assert_int_equal(((uint32_t *)p)[0], round);
            assert_int_equal(((uint32_t *)p)[999], round);
            for (uint32_t i = 0; i < 1000; i++) ((uint32_t *)p)[i] = i + round;
            OK(vd_buffer_map(f->ctx, view, 0, VD_READ, &q));
            assert_ptr_equal(q, (uint8_t *)p + 400);
            OK(vd_buffer_unmap(f->ctx, view, 0));
            OK(vd_buffer_unmap(f->ctx, b, 0));
            OK(vd_copy(now, out, 0, b, 0, VD_WHOLE));
            assert_int_equal(read_u32(f->ctx, out, 500), 500 + round);
        }
    }
}

TEST_EXECUTED(a_mapping_may_persist) {
    vd_buffer_info info;
    vd_buffer b = buffer_in(f->ctx, VD_MEMORY_SHARED, 64, NULL);
    vd_kernel k = kernel_affine(f->ctx);
    void *p = NULL;
    OK(vd_buffer_query(f->ctx, b, &info));
    if (!info.persistent) skip_because("the device has no shared memory that is coherent");
    OK(vd_buffer_map(f->ctx, b, 0, VD_READ_WRITE, &p));
    uint32_t *words = (uint32_t *)p;
    for (uint32_t round = 0; round < 50; round++) {
        vd_event done;
        words[7] = round;
        OK(affine(vd_immediate(f->ctx, 0, 0), k, b, 64, 3, 1));
        OK(vd_submit(vd_immediate(f->ctx, 0, 0), NULL, &done));
        OK(vd_wait(f->ctx, done, VD_FOREVER));
        assert_int_equal(words[7], 3 * round + 1);
    }
    OK(vd_buffer_unmap(f->ctx, b, 0));
}

TEST(bad_mappings_are_refused) {
    void *p = &p;
    vd_buffer_info info;
    vd_buffer b = buffer_in(f->ctx, VD_MEMORY_SHARED, 64, NULL), device = buffer_u32(f->ctx, "device", 4, NULL),
              dead = buffer_u32(f->ctx, "dead", 4, NULL);
    vd_buffer_destroy(f->ctx, dead);
    FAILS(vd_buffer_map(NULL, b, 0, VD_READ, &p), VD_ERROR_INVALID, "vd_buffer_map: the context is NULL");
    assert_null(p);
    FAILS(vd_buffer_map(f->ctx, b, 0, VD_READ, NULL), VD_ERROR_INVALID, "vd_buffer_map|out is NULL");
    FAILS(vd_buffer_map(f->ctx, b, 0, 0, &p), VD_ERROR_INVALID, "vd_buffer_map: access is 0");
    FAILS(vd_buffer_map(f->ctx, b, 0, 4, &p), VD_ERROR_INVALID, "vd_buffer_map: access is 4");
    FAILS(vd_buffer_map(f->ctx, b, 3, VD_READ, &p), VD_ERROR_INVALID, "vd_buffer_map: the device index is 3");
    FAILS(vd_buffer_map(f->ctx, dead, 0, VD_READ, &p), VD_ERROR_INVALID, "vd_buffer_map: the buffer was destroyed");
    OK(vd_buffer_query(f->ctx, device, &info));
    if (info.mapped) OK(vd_buffer_map(f->ctx, device, 0, VD_READ, &p));
    else
        FAILS(vd_buffer_map(f->ctx, device, 0, VD_READ, &p), VD_ERROR_UNSUPPORTED,
              "vd_buffer_map: buffer 'device'|VD_MEMORY_SHARED");
    FAILS(vd_buffer_unmap(f->ctx, b, 0), VD_ERROR_INVALID, "vd_buffer_unmap: buffer 'kind' is not mapped");
    FAILS(vd_buffer_unmap(f->ctx, dead, 0), VD_ERROR_INVALID, "vd_buffer_unmap: the buffer was destroyed");
    FAILS(vd_buffer_unmap(NULL, b, 0), VD_ERROR_INVALID, "vd_buffer_unmap: the context is NULL");
    assert_int_equal(buffer_in(f->ctx, (vd_memory)9, 4, NULL).id, 0);
    check_text("a kind", "vd_buffer_create 'kind': desc.memory is 9, not a valid vd_memory (0 to 3)");
    still_works(f);
}

static const struct CMUnitTest cases[] = {
    CASE(random_regions_match_the_host),
    CASE(writes_fill_the_bytes_between_rows), CASE(late_readback_allocates_nothing),
    CASE(unused_staging_memory_is_freed), CASE(large_regions_are_split), CASE(columns_of_one_buffer_can_be_copied),
    CASE(repeated_regions_allocate_nothing), CASE(bad_regions_are_refused), CASE(every_kind_of_memory_holds_data),
    CASE(mappings_are_ordered_with_work), CASE(a_mapping_may_persist), CASE(bad_mappings_are_refused),
};

MAIN("regions", cases)
