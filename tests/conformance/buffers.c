/* Buffers: all types and shapes, any range, sharing, reuse and release of memory. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"

static const vd_type scalars[] = {
    VD_BOOL, VD_I8, VD_I16, VD_I32, VD_I64, VD_U8, VD_U16, VD_U32, VD_U64, VD_F16, VD_F32, VD_F64
};

static uint8_t pattern(uint64_t i, uint32_t seed) { return (uint8_t)((i * 2654435761u + seed * 40503u) >> 7); }

static uint8_t *pattern_make(uint64_t size, uint32_t seed) {
    uint8_t *data = (uint8_t *)malloc(size);
    assert_non_null(data);
    for (uint64_t i = 0; i < size; i++) data[i] = pattern(i, seed);
    return data;
}

static void check_query(fixture *f, vd_buffer b, const vd_buffer_desc *desc, uint64_t size) {
    vd_buffer_info info;
    OK(vd_buffer_query(f->ctx, b, &info));
    assert_string_equal(info.name, desc->name);
    assert_int_equal(info.type, desc->type);
    assert_int_equal(info.size, size);
    for (int axis = 0; axis < 4; axis++) assert_int_equal(info.shape[axis], desc->shape[axis] ? desc->shape[axis] : 1);
}

static void check_type(fixture *f, vd_type type, const uint64_t *shape) {
    vd_buffer_desc desc = { 0 };
    uint64_t size = type == VD_BYTES ? 1 : vd_type_size(type);
    assert_true(size > 0);
    desc.name = "typed";
    desc.type = type;
    for (int axis = 0; axis < 4; axis++) {
        desc.shape[axis] = shape[axis];
        size *= shape[axis] ? shape[axis] : 1;
    }
    uint8_t *data = pattern_make(size, type), *back = pattern_make(size, type + 1);
    desc.data = data;
    vd_buffer b = vd_buffer_create(f->ctx, &desc);
    if (!b.id) fail_msg("type %s: %s", vd_type_name(type), vd_error_text());
    check_query(f, b, &desc, size);
    OK(vd_buffer_read(f->ctx, b, 0, back, size));
    assert_memory_equal(back, data, size);
    vd_buffer_destroy(f->ctx, b);
    free(data);
    free(back);
}

TEST(every_type_and_shape_is_read_back) {
    static const uint64_t shapes[][4] = {
        { 1, 0, 0, 0 }, { 7, 0, 0, 0 }, { 5, 3, 0, 0 }, { 3, 5, 7, 0 }, { 2, 3, 5, 7 }, { 1000, 0, 0, 0 },
        { 1, 1, 1, 9 }
    };
    for (size_t s = 0; s < COUNT(shapes); s++) {
        check_type(f, VD_BYTES, shapes[s]);
        for (size_t i = 0; i < COUNT(scalars); i++) {
            for (uint32_t rows = 1; rows <= 4; rows++) check_type(f, VD_VEC(scalars[i], rows), shapes[s]);
        }
    }
}

TEST(without_data_a_buffer_is_zero) {
    uint8_t back[5000];
    for (int round = 0; round < 3; round++) {
        vd_buffer b = buffer_named(f->ctx, "zero", VD_BYTES, sizeof back, NULL);
        memset(back, 0xff, sizeof back);
        OK(vd_buffer_read(f->ctx, b, 0, back, VD_WHOLE));
        for (size_t i = 0; i < sizeof back; i++) assert_int_equal(back[i], 0);
        memset(back, 0xff, sizeof back); /* the next buffer may reuse this memory */
        OK(vd_buffer_write(f->ctx, b, 0, back, VD_WHOLE));
        vd_buffer_destroy(f->ctx, b);
        OK(vd_wait_idle(f->ctx));
    }
}

TEST(any_range_can_be_written_and_read) {
    enum { SIZE = 4099 };
    static uint8_t model[SIZE], back[SIZE];
    dice d = { 11 };
    memset(model, 0, sizeof model);
    vd_buffer b = buffer_named(f->ctx, "bytes", VD_BYTES, SIZE, NULL);
    for (int i = 0; i < 300; i++) {
        uint32_t offset = roll(&d, SIZE), size = roll(&d, SIZE - offset + 1);
        for (uint32_t j = 0; j < size; j++) model[offset + j] = (uint8_t)roll(&d, 256);
        OK(vd_buffer_write(f->ctx, b, offset, model + offset, size));
        offset = roll(&d, SIZE);
        size = roll(&d, SIZE - offset + 1);
        memset(back, 0, sizeof back);
        OK(vd_buffer_read(f->ctx, b, offset, back, size));
        assert_memory_equal(back, model + offset, size);
    }
}

TEST(empty_ranges_are_allowed) {
    vd_buffer b = buffer_u32(f->ctx, "some", 4, NULL);
    OK(vd_buffer_write(f->ctx, b, 0, NULL, 0));
    OK(vd_buffer_write(f->ctx, b, 16, NULL, 0));
    OK(vd_buffer_read(f->ctx, b, 16, NULL, 0));
    OK(vd_buffer_read(f->ctx, b, 3, NULL, 0));
    OK(vd_fill(vd_immediate(f->ctx, 0, 0), b, 16, 0, NULL, 0));
    OK(vd_copy(vd_immediate(f->ctx, 0, 0), b, 0, b, 0, 0));
    assert_int_equal(read_u32(f->ctx, b, 3), 0);
}

TEST(whole_extends_to_the_end) {
    uint32_t in[4] = { 1, 2, 3, 4 }, out[4] = { 9, 9, 9, 9 };
    vd_buffer b = buffer_u32(f->ctx, "some", 4, NULL);
    OK(vd_buffer_write(f->ctx, b, 4, in, VD_WHOLE));
    OK(vd_buffer_read(f->ctx, b, 8, out, VD_WHOLE));
    assert_int_equal(out[0], 2);
    assert_int_equal(out[1], 3);
    assert_int_equal(out[2], 9);
    OK(vd_fill(vd_immediate(f->ctx, 0, 0), b, 8, VD_WHOLE, NULL, 0));
    OK(vd_buffer_read(f->ctx, b, 0, out, VD_WHOLE));
    assert_int_equal(out[1], 1);
    assert_int_equal(out[2], 0);
    assert_int_equal(out[3], 0);
}

TEST(the_source_of_a_write_is_free_when_it_returns) {
    uint32_t data[256], back[256];
    vd_buffer b[8];
    for (int i = 0; i < 8; i++) b[i] = buffer_u32(f->ctx, "w", 256, NULL);
    for (uint32_t i = 0; i < 8; i++) {
        for (uint32_t j = 0; j < 256; j++) data[j] = i * 1000 + j;
        OK(vd_buffer_write(f->ctx, b[i], 0, data, VD_WHOLE));
        memset(data, 0, sizeof data);
    }
    for (uint32_t i = 0; i < 8; i++) {
        OK(vd_buffer_read(f->ctx, b[i], 0, back, VD_WHOLE));
        for (uint32_t j = 0; j < 256; j++) assert_int_equal(back[j], i * 1000 + j);
    }
}

/* Larger than a block of device memory and than any staging ring. */
TEST(large_buffers_are_written_and_read_in_one_call) {
    uint64_t size = 80u << 20 | 12;
    uint8_t *data = pattern_make(size, 5), *back = (uint8_t *)malloc(size);
    assert_non_null(back);
    vd_buffer b = buffer_named(f->ctx, "large", VD_BYTES, size, data);
    OK(vd_buffer_read(f->ctx, b, 0, back, VD_WHOLE));
    assert_memory_equal(back, data, size);
    OK(vd_buffer_write(f->ctx, b, 7, data, size - 7));
    OK(vd_buffer_read(f->ctx, b, 7, back, VD_WHOLE));
    assert_memory_equal(back, data, size - 7);
    OK(vd_buffer_read(f->ctx, b, size - 3, back, 3));
    assert_memory_equal(back, data + size - 10, 3);
    free(data);
    free(back);
}

TEST(many_writes_in_a_row_keep_their_order) {
    enum { SIZE = 1 << 20 };
    uint8_t *data = pattern_make(SIZE, 1), *back = (uint8_t *)malloc(SIZE);
    assert_non_null(back);
    vd_buffer b = buffer_named(f->ctx, "target", VD_BYTES, SIZE, NULL);
    for (uint32_t i = 0; i < 100; i++) {
        memset(data, (int)i, SIZE / 2);
        OK(vd_write(vd_immediate(f->ctx, 0, 0), b, (i % 3) * 1000, data, SIZE / 2));
    }
    OK(vd_buffer_read(f->ctx, b, 0, back, VD_WHOLE));
    assert_int_equal(back[500], 99);
    assert_int_equal(back[SIZE / 2 - 1], 99);
    assert_int_equal(back[SIZE / 2 + 999], 98);
    assert_int_equal(back[SIZE / 2 + 1999], 98);
    assert_int_equal(back[SIZE / 2 + 2000], 0);
    free(data);
    free(back);
}

TEST(fills_repeat_patterns_of_any_length) {
    enum { SIZE = 4096 };
    static uint8_t model[SIZE], back[SIZE], value[64];
    static const uint32_t lengths[] = { 1, 2, 3, 4, 5, 8, 12, 16, 31, 64 };
    dice d = { 3 };
    vd_buffer b = buffer_named(f->ctx, "filled", VD_BYTES, SIZE, NULL);
    memset(model, 0, sizeof model);
    for (int i = 0; i < 200; i++) {
        uint32_t length = lengths[roll(&d, COUNT(lengths))], offset = roll(&d, SIZE - 64),
                 size = roll(&d, (SIZE - offset) / length + 1) * length;
        for (uint32_t j = 0; j < length; j++) value[j] = (uint8_t)roll(&d, 256);
        for (uint32_t j = 0; j < size; j++) model[offset + j] = value[j % length];
        OK(vd_fill(vd_immediate(f->ctx, 0, 0), b, offset, size, value, length));
        if (i % 10) continue;
        OK(vd_buffer_read(f->ctx, b, 0, back, VD_WHOLE));
        assert_memory_equal(back, model, SIZE);
    }
    OK(vd_buffer_read(f->ctx, b, 0, back, VD_WHOLE));
    assert_memory_equal(back, model, SIZE);
}

TEST(copies_go_between_buffers_and_within_one) {
    uint8_t data[64], back[64];
    for (int i = 0; i < 64; i++) data[i] = (uint8_t)i;
    vd_buffer a = buffer_named(f->ctx, "a", VD_BYTES, 64, data), b = buffer_named(f->ctx, "b", VD_BYTES, 64, NULL);
    vd_list *now = vd_immediate(f->ctx, 0, 0);
    OK(vd_copy(now, b, 3, a, 10, 20));
    OK(vd_copy(now, b, 40, b, 3, 20));
    OK(vd_copy(now, a, 0, b, 40, VD_WHOLE));
    OK(vd_buffer_read(f->ctx, b, 0, back, 64));
    for (int i = 0; i < 20; i++) assert_true(back[3 + i] == 10 + i && back[40 + i] == 10 + i);
    assert_true(back[2] == 0 && back[23] == 0 && back[60] == 0);
    OK(vd_buffer_read(f->ctx, a, 0, back, 64));
    assert_true(back[0] == 10 && back[19] == 29 && back[20] == 0 && back[23] == 0 && back[24] == 24);
}

/* ---- random operations against a model on the host ---- */

enum { MODELS = 6, MODEL_WORDS = 3000 };

typedef struct model {
    vd_buffer buffer[MODELS];
    uint32_t words[MODELS][MODEL_WORDS], back[MODEL_WORDS];
    vd_kernel affine, move;
    dice dice;
} model;

typedef struct span { uint32_t first, count; } span;

static span random_span(dice *d) {
    span s = { roll(d, MODEL_WORDS), 0 };
    s.count = 1 + roll(d, MODEL_WORDS - s.first);
    return s;
}

static void random_write(model *m, vd_list *list, uint32_t which) {
    span s = random_span(&m->dice);
    for (uint32_t i = 0; i < s.count; i++) m->words[which][s.first + i] = roll(&m->dice, 0);
    OK(vd_write(list, m->buffer[which], 4 * s.first, m->words[which] + s.first, 4 * s.count));
}

static void random_fill(model *m, vd_list *list, uint32_t which) {
    span s = random_span(&m->dice);
    uint32_t value = roll(&m->dice, 0);
    for (uint32_t i = 0; i < s.count; i++) m->words[which][s.first + i] = value;
    OK(vd_fill(list, m->buffer[which], 4 * s.first, 4 * s.count, &value, 4));
}

static void random_copy(model *m, vd_list *list, uint32_t to, uint32_t from) {
    span s = random_span(&m->dice);
    uint32_t count = s.count, at = roll(&m->dice, MODEL_WORDS - count + 1);
    if (to == from) { /* disjoint halves */
        count = 1 + roll(&m->dice, MODEL_WORDS / 2);
        s.first = 0;
        at = MODEL_WORDS - count;
    }
    memmove(m->words[to] + at, m->words[from] + s.first, 4 * count);
    OK(vd_copy(list, m->buffer[to], 4 * at, m->buffer[from], 4 * s.first, 4 * count));
}

static void random_affine(model *m, vd_list *list, uint32_t which) {
    uint32_t mul = roll(&m->dice, 0) | 1, add = roll(&m->dice, 0), threads = 1 + roll(&m->dice, MODEL_WORDS);
    for (uint32_t i = 0; i < threads; i++) m->words[which][i] = m->words[which][i] * mul + add;
    OK(affine(list, m->affine, m->buffer[which], threads, mul, add));
}

static void random_move(model *m, vd_list *list, uint32_t to, uint32_t from) {
    uint32_t add = roll(&m->dice, 0), threads = 1 + roll(&m->dice, MODEL_WORDS);
    if (to == from) return;
    for (uint32_t i = 0; i < threads; i++) m->words[to][i] = m->words[from][i] + add;
    OK(move(list, m->move, m->buffer[from], m->buffer[to], threads, add));
}

static void random_read(fixture *f, model *m, uint32_t which) {
    span s = random_span(&m->dice);
    OK(vd_buffer_read(f->ctx, m->buffer[which], 4 * s.first, m->back, 4 * s.count));
    if (memcmp(m->back, m->words[which] + s.first, 4 * s.count)) fail_msg("buffer %u differs from the model", which);
}

/* Records one operation. Reads only if no other list is pending. */
static void random_operation(fixture *f, model *m, vd_list *list, bool immediate) {
    uint32_t what = roll(&m->dice, f->executes ? 12 : 5), a = roll(&m->dice, MODELS), b = roll(&m->dice, MODELS);
    if (what == 0) random_write(m, list, a);
    else if (what == 1) random_fill(m, list, a);
    else if (what <= 3) random_copy(m, list, a, b);
    else if (what == 4 && immediate) random_read(f, m, a);
    else if (what <= 8 && what > 4) random_affine(m, list, a);
    else if (what > 8) random_move(m, list, a, b);
}

static void random_run(fixture *f, uint32_t seed, int operations) {
    static model m;
    memset(&m, 0, sizeof m);
    m.dice.state = seed;
    m.affine = kernel_affine(f->ctx);
    m.move = kernel_move(f->ctx);
    for (int i = 0; i < MODELS; i++) m.buffer[i] = buffer_u32(f->ctx, "random", MODEL_WORDS, NULL);
    for (int i = 0; i < operations;) {
        bool immediate = roll(&m.dice, 4) != 0;
        vd_list *list = immediate ? vd_immediate(f->ctx, 0, 0) : list_begin(f->ctx);
        for (uint32_t run = 1 + roll(&m.dice, 20); run && i < operations; run--, i++)
            random_operation(f, &m, list, immediate);
        if (!immediate) OK(vd_submit(list, NULL, NULL));
        else if (roll(&m.dice, 8) == 0) OK(vd_flush(f->ctx));
    }
    for (uint32_t i = 0; i < MODELS; i++) {
        OK(vd_buffer_read(f->ctx, m.buffer[i], 0, m.back, VD_WHOLE));
        if (memcmp(m.back, m.words[i], sizeof m.back))
            fail_msg("seed %u: buffer %u differs from the model at the end", seed, i);
        vd_buffer_destroy(f->ctx, m.buffer[i]);
    }
    vd_kernel_destroy(f->ctx, m.affine);
    vd_kernel_destroy(f->ctx, m.move);
}

TEST(a_thousand_random_operations_agree_with_a_model) {
    for (uint32_t seed = 1; seed <= 4; seed++) random_run(f, seed, 1000);
}

/* ---- allocation ---- */

TEST(ten_thousand_small_buffers_share_few_blocks) {
    enum { SMALL = 10000 };
    static vd_buffer b[SMALL];
    uint64_t before = stats_of(f->ctx).device_blocks, others = stats_of(f->ctx).buffers, first = 0;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < SMALL; i++) b[i] = buffer_u32(f->ctx, NULL, 4 + i % 13, NULL);
        assert_int_equal(stats_of(f->ctx).buffers, others + SMALL);
        for (uint32_t i = 0; i < SMALL; i += 997) OK(vd_buffer_write(f->ctx, b[i], 4, &i, 4));
        for (uint32_t i = 0; i < SMALL; i += 997) assert_int_equal(read_u32(f->ctx, b[i], 1), i);
        uint64_t blocks = stats_of(f->ctx).device_blocks;
        assert_true(blocks <= before + 8);
        if (round) assert_true(blocks <= first);
        first = blocks;
        for (uint32_t i = 0; i < SMALL; i++) vd_buffer_destroy(f->ctx, b[i]);
        assert_int_equal(stats_of(f->ctx).buffers, others);
        OK(vd_wait_idle(f->ctx));
    }
}

TEST(memory_of_destroyed_buffers_is_reused) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < 400; i++) {
        vd_buffer b = buffer_u32(f->ctx, "turn", 1 << 18, NULL);
        OK(vd_buffer_write(f->ctx, b, 4 * i, &i, 4));
        assert_int_equal(read_u32(f->ctx, b, i), i);
        vd_buffer_destroy(f->ctx, b);
        if (i == 10) bytes = stats_of(f->ctx).device_bytes;
    }
    assert_true(stats_of(f->ctx).device_bytes <= bytes);
}

TEST(allocations_in_any_order_never_overlap) {
    enum { SLOTS = 64 };
    static vd_buffer b[SLOTS];
    static uint32_t words[SLOTS], tag[SLOTS];
    dice d = { 77 };
    memset(b, 0, sizeof b);
    for (uint32_t i = 0; i < 2000; i++) {
        uint32_t slot = roll(&d, SLOTS);
        if (b[slot].id) {
            assert_int_equal(read_u32(f->ctx, b[slot], 0), tag[slot]);
            assert_int_equal(read_u32(f->ctx, b[slot], words[slot] - 1), tag[slot]);
            vd_buffer_destroy(f->ctx, b[slot]);
        }
        words[slot] = 1 + roll(&d, 1u << (4 + roll(&d, 12)));
        tag[slot] = i;
        b[slot] = buffer_u32(f->ctx, "slot", words[slot], NULL);
        OK(vd_fill(vd_immediate(f->ctx, 0, 0), b[slot], 0, VD_WHOLE, &i, 4));
    }
}

TEST_EXECUTED(a_buffer_may_be_destroyed_while_in_use) {
    vd_kernel grow = kernel_affine(f->ctx), copy = kernel_move(f->ctx);
    vd_buffer out = buffer_u32(f->ctx, "out", 1000, NULL);
    for (uint32_t round = 0; round < 50; round++) {
        vd_list *now = vd_immediate(f->ctx, 0, 0);
        vd_buffer a = buffer_u32(f->ctx, "dying", 1000, NULL);
        OK(affine(now, grow, a, 1000, 1, round));
        OK(move(now, copy, a, out, 1000, 5));
        vd_buffer_destroy(f->ctx, a);
        vd_buffer other = buffer_u32(f->ctx, "heir", 1000, NULL); /* must not reuse memory in use */
        uint32_t junk = 0xdeadbeef;
        OK(vd_fill(now, other, 0, VD_WHOLE, &junk, 4));
        assert_int_equal(read_u32(f->ctx, out, 999), round + 5);
        assert_int_equal(read_u32(f->ctx, other, 0), junk);
        vd_buffer_destroy(f->ctx, other);
    }
}

TEST(buffers_may_be_destroyed_while_a_list_uses_them) {
    uint32_t one = 1;
    vd_buffer a = buffer_u32(f->ctx, "dying", 64, NULL), b = buffer_u32(f->ctx, "living", 64, NULL);
    OK(vd_fill(vd_immediate(f->ctx, 0, 0), a, 0, VD_WHOLE, &one, 4));
    vd_list *list = list_begin(f->ctx);
    OK(vd_copy(list, b, 0, a, 0, VD_WHOLE));
    vd_buffer_destroy(f->ctx, a);
    vd_result result = vd_submit(list, NULL, NULL);
    if (result == VD_OK) assert_int_equal(read_u32(f->ctx, b, 63), 1);
    else assert_int_equal(result, VD_ERROR_INVALID);
    still_works(f);
}

static vd_context *own_context(fixture *f) {
    vd_context_desc desc = fixture_desc(f);
    vd_context *ctx = NULL;
    OK(vd_context_create(&desc, &ctx));
    return ctx;
}

/* An open list keeps only the memory that its commands use. */
TEST(memory_is_reclaimed_while_a_list_is_open) {
    enum { WORDS = 2 << 20 }; /* 8 MiB */
    uint64_t peak[2] = { 0, 0 };
    for (int open = 0; open < 2; open++) {
        vd_context *ctx = own_context(f);
        vd_list *list = open ? list_begin(ctx) : NULL;
        for (int i = 0; i < 64; i++) {
            vd_buffer_destroy(ctx, buffer_u32(ctx, "short-lived", WORDS, NULL));
            OK(vd_wait_idle(ctx));
            uint64_t bytes = stats_of(ctx).device_bytes;
            if (bytes > peak[open]) peak[open] = bytes;
        }
        vd_list_discard(list);
        vd_context_destroy(ctx);
    }
    assert_true(peak[0] <= (uint64_t)64 << 20);
    assert_int_equal(peak[1], peak[0]);
}

/* Each list keeps its own buffer. They are freed in the order in which the lists end, not in that of their creation or
   destruction. The buffers have blocks of their own. */
TEST(memory_is_reclaimed_in_any_order) {
    enum { LISTS = 3, WORDS = 10 << 20 };
    vd_context *ctx = own_context(f);
    vd_list *lists[LISTS];
    uint64_t bytes[LISTS + 1] = { stats_of(ctx).device_bytes };
    for (int i = 0; i < LISTS; i++) {
        vd_buffer b = buffer_u32(ctx, "large", WORDS, NULL);
        bytes[i + 1] = stats_of(ctx).device_bytes;
        lists[i] = list_begin(ctx);
        OK(vd_fill(lists[i], b, 0, 4, NULL, 0));
        vd_buffer_destroy(ctx, b);
    }
    OK(vd_wait_idle(ctx));
    assert_int_equal(stats_of(ctx).device_bytes, bytes[3]);
    OK(vd_submit(lists[2], NULL, NULL));
    OK(vd_wait_idle(ctx));
    assert_int_equal(stats_of(ctx).device_bytes, bytes[2]);
    vd_list_discard(lists[0]);
    assert_int_equal(stats_of(ctx).device_bytes, bytes[1]);
    OK(vd_submit(lists[1], NULL, NULL));
    OK(vd_wait_idle(ctx));
    assert_int_equal(stats_of(ctx).device_bytes, bytes[0]);
    vd_context_destroy(ctx);
}

TEST(a_new_buffer_is_not_mistaken_for_a_destroyed_one) {
    uint32_t value = 0;
    vd_buffer dead = buffer_u32(f->ctx, "dead", 4, NULL);
    vd_buffer_destroy(f->ctx, dead);
    for (int i = 0; i < 100; i++) {
        vd_buffer b = buffer_u32(f->ctx, "new", 4, NULL);
        assert_true(b.id != dead.id);
        FAILS(vd_buffer_read(f->ctx, dead, 0, &value, 4), VD_ERROR_INVALID, "vd_buffer_read");
        vd_buffer_destroy(f->ctx, b);
    }
}

/* ---- memory of the application ---- */

typedef struct release_record { int times; uint64_t address; } release_record;
static void released(void *user, uint64_t address) {
    release_record *record = (release_record *)user;
    record->times++;
    record->address = address;
}

/* Device memory of one context, imported into another. */
TEST(device_memory_is_imported) {
    uint32_t data[64], got[64];
    vd_context *other = context_beside(f);
    vd_buffer_desc desc;
    vd_buffer_info info;
    release_record t = { 0, 0 };
    for (uint32_t i = 0; i < 64; i++) data[i] = i;
    vd_buffer theirs = buffer_u32(other, "theirs", 64, data);
    OK(vd_wait_idle(other));
    OK(vd_buffer_query(other, theirs, &info));
    memset(&desc, 0, sizeof desc);
    desc.name = "lent";
    desc.type = VD_U32;
    desc.shape[0] = 64;
    desc.address = info.address ? info.address : 4096;
    desc.release = released;
    desc.release_user = &t;
    bool taken = f->backend == VD_BACKEND_CUDA || (f->backend == VD_BACKEND_DUMMY && info.address);
    vd_buffer b = { 0 };
    if (taken || f->backend != VD_BACKEND_DUMMY) b = vd_buffer_create(f->ctx, &desc);
    if (taken) {
        assert_true(b.id != 0);
        OK(vd_buffer_read(f->ctx, b, 0, got, VD_WHOLE));
        assert_memory_equal(got, data, sizeof data);
        if (f->executes) OK(affine(vd_immediate(f->ctx, 0, 0), kernel_affine(f->ctx), b, 64, 3, 1));
        OK(vd_fill(vd_immediate(f->ctx, 0, 0), b, 0, 4, NULL, 0));
        vd_buffer_destroy(f->ctx, b);
        OK(vd_wait_idle(f->ctx));
        assert_true(t.times == 1 && t.address == desc.address);
        assert_int_equal(read_u32(other, theirs, 0), 0);
        assert_int_equal(read_u32(other, theirs, 63), f->executes ? 3 * 63 + 1 : 63);
    } else if (f->backend != VD_BACKEND_DUMMY) {
        assert_true(b.id == 0);
        check_text("vd_buffer_create", "lent|does not support importing");
        assert_int_equal(t.times, 0);
    }
    still_works(f);
}

static const struct CMUnitTest cases[] = {
    CASE(every_type_and_shape_is_read_back), CASE(without_data_a_buffer_is_zero),
    CASE(any_range_can_be_written_and_read), CASE(empty_ranges_are_allowed), CASE(whole_extends_to_the_end),
    CASE(the_source_of_a_write_is_free_when_it_returns), CASE(large_buffers_are_written_and_read_in_one_call),
    CASE(many_writes_in_a_row_keep_their_order), CASE(fills_repeat_patterns_of_any_length),
    CASE(copies_go_between_buffers_and_within_one), CASE(a_thousand_random_operations_agree_with_a_model),
    CASE(ten_thousand_small_buffers_share_few_blocks), CASE(memory_of_destroyed_buffers_is_reused),
    CASE(allocations_in_any_order_never_overlap), CASE(a_buffer_may_be_destroyed_while_in_use),
    CASE(buffers_may_be_destroyed_while_a_list_uses_them), CASE(a_new_buffer_is_not_mistaken_for_a_destroyed_one),
    CASE(memory_is_reclaimed_while_a_list_is_open), CASE(memory_is_reclaimed_in_any_order),
    CASE(device_memory_is_imported),
};

MAIN("buffers", cases)
