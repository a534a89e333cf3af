/* The k largest or smallest elements of rows and their indices: every type, k from one to the whole row, few and many
   rows, equal elements, infinities and NaN, maps, simple calls, compared with a sort on the host; invalid input.
       top_k [-a]     -a: all cases; otherwise half of them and, on OpenCL, where compiling a kernel takes a second, one
           in eight of those */
#include "common.h"

static bool lacks(vd_type type) {
    uint64_t features = vd_device(device_context, 0)->features;
    if (type == VD_F64 || type == VD_I64 || type == VD_U64)
        return !(features & VD_FEATURE_I64) || (type == VD_F64 && !(features & VD_FEATURE_F64));
    if (type == VD_F16 || type == VD_I16 || type == VD_U16) return !(features & VD_FEATURE_STORAGE_16);
    if (type == VD_I8 || type == VD_U8) return !(features & VD_FEATURE_STORAGE_8);
    return false;
}

/* ---- the oracle ---- */

typedef struct item { uint64_t order, bits; uint32_t index; } item; /* order: a larger one is selected first */

static int by_order(const void *a, const void *b) {
    const item *x = (const item *)a, *y = (const item *)b;
    if (x->order != y->order) return x->order > y->order ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static uint64_t ones_of(vd_type type) { return UINT64_MAX >> (64 - vd_type_size(type) * 8); }

static bool is_nan(vd_type type, uint64_t bits) {
    uint64_t infinity = type == VD_F16 ? 0x7c00 : type == VD_F32 ? 0x7f800000 : (uint64_t)0x7ff << 52;
    return type >= VD_F16 && (bits & ones_of(type) >> 1) > infinity;
}

/* Numerical order, with -0 before 0 and NaN last. */
static uint64_t order_of(vd_type type, uint64_t bits, bool smallest) {
    uint64_t ones = ones_of(type), top = ones - ones / 2, order = bits;
    if (type <= VD_I64) order = bits ^ top;
    if (type >= VD_F16) order = bits & top ? bits ^ ones : bits | top;
    return is_nan(type, bits) ? 0 : smallest ? order ^ ones : order;
}

typedef enum numbers { ANY, FEW, EQUAL } numbers; /* arbitrary bits, five values, one value */

static uint64_t bits_of(vd_type type, uint64_t i, numbers which) {
    uint64_t x = (i + 1) * (uint64_t)0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    if (which == FEW) x = x % 5 * (ones_of(type) / 4 + 1);
    return which == EQUAL ? 7 : x & ones_of(type);
}

/* ---- one case ---- */

typedef struct sample { vd_type type; uint64_t shape[4]; uint32_t k; bool smallest; numbers which; } sample;

static void say(const sample *s) {
    print_error("  %u of %llu x %llu x %llu of %s, %s, numbers %d\n", s->k, (unsigned long long)s->shape[0],
                (unsigned long long)s->shape[1], (unsigned long long)s->shape[2], vd_type_name(s->type),
                s->smallest ? "smallest" : "largest", (int)s->which);
}

static void compare(const sample *s, const item *wanted, const uint8_t *values, const uint32_t *indices, uint64_t row) {
    uint32_t size = vd_type_size(s->type);
    for (uint32_t i = 0; i < s->k; i++) {
        uint64_t got = 0;
        memcpy(&got, values + (row * s->k + i) * size, size);
        if (indices[row * s->k + i] == wanted[i].index
            && (got == wanted[i].bits || (is_nan(s->type, got) && is_nan(s->type, wanted[i].bits))))
            continue;
        say(s);
        fail_msg("row %llu, number %u: 0x%llx at %u in place of 0x%llx at %u", (unsigned long long)row, i,
                 (unsigned long long)got, indices[row * s->k + i], (unsigned long long)wanted[i].bits, wanted[i].index);
    }
}

static void check(const sample *s) {
    uint32_t size = vd_type_size(s->type), dimensions = 0;
    uint64_t count = 1, n = 0;
    if (lacks(s->type)) return;
    while (dimensions < 4 && s->shape[dimensions]) count *= n = s->shape[dimensions++];
    uint64_t rows = count / n, left = rows * s->k;
    item *items = (item *)malloc(count * sizeof *items);
    uint8_t *data = (uint8_t *)malloc(count * size), *values = (uint8_t *)malloc(left * size);
    uint32_t *indices = (uint32_t *)malloc(left * sizeof *indices);
    assert_true(items && data && values && indices);
    for (uint64_t i = 0; i < count; i++) {
        item x = { 0, bits_of(s->type, i, s->which), (uint32_t)(i % n) };
        x.order = order_of(s->type, x.bits, s->smallest);
        items[i] = x;
        memcpy(data + i * size, &x.bits, size);
    }
    vd_top_k_desc desc = { 0 };
    memcpy(desc.shape, s->shape, sizeof desc.shape);
    desc.type = s->type;
    desc.k = s->k;
    desc.smallest = s->smallest;
    bool wide = count % 3 == 0 && vd_device(device_context, 0)->features & VD_FEATURE_I64;
    if (wide) desc.index_type = VD_U64;
    vd_top_k *plan = vd_top_k_create(device_context, &desc);
    vd_top_k_io io = { buffer_of(device_context, s->type, count, data), buffer_of(device_context, s->type, left, NULL),
                       buffer_of(device_context, wide ? VD_U64 : count_type(n), left, NULL) };
    for (int round = 0; round < 2; round++) { /* a run must not depend on what the previous one left */
        if (!plan || vd_top_k_run(plan, vd_immediate(device_context, 0, 0), &io)
            || vd_buffer_read(device_context, io.values, 0, values, VD_WHOLE)
            || read_counts(device_context, io.indices, indices)) {
            say(s);
            fail_msg("%s", vd_error_text());
        }
        for (uint64_t row = 0; row < rows; row++) {
            if (!round) qsort(items + row * n, (size_t)n, sizeof *items, by_order);
            compare(s, items + row * n, values, indices, row);
        }
    }
    vd_top_k_destroy(plan);
    vd_buffer_destroy(device_context, io.in);
    vd_buffer_destroy(device_context, io.values);
    vd_buffer_destroy(device_context, io.indices);
    free(items);
    free(data);
    free(values);
    free(indices);
}

/* ---- tests ---- */

static void types(void **state) {
    (void)state;
    need_device();
    for (vd_type type = VD_I8; type <= VD_F64; type++) {
        sample s = { type, { 3, 700 }, 20, type % 2 != 0, ANY };
        if (lacks(type)) print_message("# %s is not here\n", vd_type_name(type));
        if (!passes_over(8, 1)) check(&s);
        s.smallest = !s.smallest;
        s.which = FEW;
        if (all_cases) check(&s);
    }
}

static void sizes(void **state) {
    static const sample samples[] = {
        { VD_F32, { 5, 1 }, 1, true, ANY }, { VD_F32, { 7, 33 }, 33, false, ANY },
        { VD_F32, { 3, 1025 }, 1024, false, ANY }, { VD_U8, { 500, 20 }, 4, false, ANY },
        { VD_F32, { 2, 3, 4, 65 }, 3, true, FEW }, { VD_I32, { 4000 }, 600, true, EQUAL },
        { VD_F32, { 1 }, 1, false, ANY }, { VD_F32, { 2 }, 2, false, ANY }, { VD_F32, { 1000 }, 1, false, ANY },
        { VD_F32, { 1000 }, 1000, true, ANY }, { VD_U32, { 1024 }, 1024, false, FEW },
        { VD_F32, { 2, 3, 129 }, 5, false, ANY }, { VD_I32, { 2, 300 }, 7, false, EQUAL },
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < (all_cases ? COUNT(samples) : 6); i++)
        if (!passes_over(8, 1)) check(&samples[i]);
}

/* In large_top_k.c: rows at the limit of 32-bit indices, arrays at the limit of 32-bit addresses, and one more. */
static void limits_of_indices(void **state) {
    static const sample samples[] = {
        { VD_F32, { 100 }, 5, false, ANY },      { VD_I32, { 101 }, 101, true, FEW },
        { VD_U32, { 3, 101 }, 2, false, ANY },   { VD_F32, { 4, 25 }, 25, true, ANY },
        { VD_F32, { 101, 1 }, 1, false, ANY },   { VD_U32, { 2, 100 }, 9, true, FEW },
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(samples); i++)
        if (!passes_over(1, 1)) check(&samples[i]);
}

/* Rows that several work-groups share. */
static void long_rows(void **state) {
    static const sample samples[] = {
        { VD_F32, { 100003 }, 3, false, ANY }, { VD_U32, { 2, 50000 }, 300, true, FEW },
        { VD_U32, { 3, 70001 }, 1024, false, ANY }, { VD_F32, { 65536 }, 1, true, ANY },
        { VD_I32, { 200000 }, 1000, false, EQUAL }, { VD_U64, { 40000 }, 33, true, ANY },
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(samples); i++)
        if (!passes_over(3, 3)) check(&samples[i]);
}

/* Zeros of both signs, infinities, and NaN last. */
static void specials(void **state) {
    static const uint32_t data[8] = {
        0x7fc00001u, 0x80000000u, 0xff800000u, 0, 0xffc00000u, 0x7f800000u, 0x80000000u, 0x3f800000u
    };
    static const uint32_t largest[8] = { 5, 7, 3, 1, 6, 2, 0, 4 }, smallest[8] = { 2, 1, 6, 3, 7, 5, 0, 4 };
    uint32_t indices[8], values[8];
    (void)state;
    need_device();
    vd_buffer in = buffer_of(device_context, VD_F32, 8, data), out = buffer_of(device_context, VD_F32, 8, NULL);
    vd_buffer at = buffer_of(device_context, VD_U32, 8, NULL);
    for (int small = 0; small < 2; small++) {
        vd_result (*call)(vd_context *, vd_buffer, vd_buffer, vd_buffer) = small ? vd_top_k_smallest : vd_top_k_largest;
        if (call(device_context, in, out, at) || vd_buffer_read(device_context, at, 0, indices, sizeof indices) ||
            vd_buffer_read(device_context, out, 0, values, sizeof values))
            fail_msg("%s", vd_error_text());
        assert_memory_equal(indices, small ? smallest : largest, sizeof indices);
        for (int i = 0; i < 6; i++) assert_int_equal(values[i], data[indices[i]]);
        for (int i = 6; i < 8; i++) assert_true((values[i] & 0x7fffffffu) > 0x7f800000u);
    }
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, out);
    vd_buffer_destroy(device_context, at);
}

/* Distance from a middle value; the first three elements of a row are skipped. */
static void far_from(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k;
    vc_val distance = vc_abs(vc_sub(io->in[0], vc_f32(*(const float *)user)));
    io->out = vc_select(vc_lt(io->index, vc_u32(3)), vc_f32(-1), distance);
}

static void maps(void **state) {
    float data[2 * 40], values[2 * 2], middle = 10;
    uint32_t indices[2 * 2];
    vd_top_k_desc desc = { 0 };
    (void)state;
    need_device();
    for (int i = 0; i < 80; i++) data[i] = (float)(i % 40 * 7 % 40);
    desc.shape[0] = 2;
    desc.shape[1] = 40;
    desc.k = 2;
    desc.map.build = far_from;
    desc.map.user = &middle;
    vd_top_k *plan = vd_top_k_create(device_context, &desc);
    vd_top_k_io io = { buffer_of(device_context, VD_F32, 80, data), buffer_of(device_context, VD_F32, 4, NULL),
                       buffer_of(device_context, VD_U32, 4, NULL) };
    if (!plan || vd_top_k_run(plan, vd_immediate(device_context, 0, 0), &io)
        || vd_buffer_read(device_context, io.values, 0, values, VD_WHOLE)
        || vd_buffer_read(device_context, io.indices, 0, indices, VD_WHOLE))
        fail_msg("%s", vd_error_text());
    for (int i = 0; i < 4; i++) {
        assert_true(values[i] == (i % 2 ? 28 : 29));
        assert_int_equal((int)data[indices[i]], i % 2 ? 38 : 39);
    }
    vd_top_k_destroy(plan);
    vd_buffer_destroy(device_context, io.in);
    vd_buffer_destroy(device_context, io.values);
    vd_buffer_destroy(device_context, io.indices);
}

/* k is the length of the output, for each row of the buffer's shape. */
static void simple_calls(void **state) {
    vd_buffer_desc desc = { 0 };
    int16_t data[3 * 5] = { 4, -2, 9, 9, 0, 1, 2, 3, 4, 5, -5, -4, -3, -2, -1 }, values[3 * 2];
    uint32_t indices[3 * 2];
    static const int16_t wanted[3 * 2] = { 9, 9, 5, 4, -1, -2 };
    static const uint32_t where[3 * 2] = { 2, 3, 4, 3, 4, 3 };
    (void)state;
    need_device();
    if (lacks(VD_I16)) {
        print_message("# reason: the device has no i16 in buffers\n");
        skip();
    }
    desc.type = VD_I16;
    desc.shape[0] = 3;
    desc.shape[1] = 5;
    desc.data = data;
    vd_buffer in = vd_buffer_create(device_context, &desc), out = buffer_of(device_context, VD_I16, 6, NULL),
              at = buffer_of(device_context, VD_U32, 6, NULL);
    vd_buffer odd = buffer_of(device_context, VD_I16, 7, NULL);
    if (vd_top_k_largest(device_context, in, out, at) || vd_buffer_read(device_context, out, 0, values, sizeof values)
        || vd_buffer_read(device_context, at, 0, indices, sizeof indices))
        fail_msg("%s", vd_error_text());
    assert_memory_equal(values, wanted, sizeof wanted);
    assert_memory_equal(indices, where, sizeof where);
    assert_int_equal(vd_top_k_smallest(device_context, in, odd, at), VD_ERROR_INVALID);
    const char *expected = "buffer 'numbers' (values) has 7 elements, but must have the same number for each of 3 rows, at most "
                           "5 (the length of a row)";
    if (!strstr(vd_error_text(), expected)) fail_msg("%s", vd_error_text());
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, out);
    vd_buffer_destroy(device_context, at);
    vd_buffer_destroy(device_context, odd);
}

/* ---- invalid input, without a device ---- */

static void refuse(vd_context *ctx, const vd_top_k_desc *desc, const char *part) {
    assert_null(vd_top_k_create(ctx, desc));
    says(part);
}

static void refuse_run(vd_top_k *plan, vd_context *ctx, vd_top_k_io io, const char *part) {
    assert_int_equal(vd_top_k_run(plan, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    says(part);
}

static void mixed_up(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k;
    (void)user;
    io->out = vc_add(io->in[0], io->index);
}

static void bad_runs(vd_context *ctx, vd_top_k *plan) {
    vd_buffer in = buffer_of(ctx, VD_F32, 200, NULL), few = buffer_of(ctx, VD_F32, 199, NULL),
              two = buffer_of(ctx, VD_F32, 20, NULL);
    vd_buffer at = buffer_of(ctx, VD_U32, 20, NULL), wide = buffer_of(ctx, VD_U64, 20, NULL), none = { 0 };
    vd_top_k_io io = { in, two, at };
    assert_int_equal(vd_top_k_run(plan, vd_immediate(ctx, 0, 0), NULL), VD_ERROR_INVALID);
    says("io is NULL");
    assert_int_equal(vd_top_k_run(NULL, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    says("plan is NULL");
    refuse_run(plan, ctx, (vd_top_k_io){ none, two, at }, "in: the buffer handle is 0");
    refuse_run(plan, ctx, (vd_top_k_io){ few, two, at }, "(in) has 796 bytes, but the plan needs 800");
    refuse_run(plan, ctx, (vd_top_k_io){ in, at, at }, "(values) has type u32, but f32 is expected");
    refuse_run(plan, ctx, (vd_top_k_io){ in, two, two }, "(indices) has type f32, but u32 is expected");
    refuse_run(plan, ctx, (vd_top_k_io){ in, two, wide }, "(indices) has type u64, but u32 is expected");
    vd_buffer view = view_of(ctx, in, VD_F32, 80, 20), places = view_of(ctx, in, VD_U32, 80, 20);
    refuse_run(plan, ctx, (vd_top_k_io){ in, view, at }, "in and values overlap");
    refuse_run(plan, ctx, (vd_top_k_io){ in, two, places }, "in and indices overlap");
    vd_buffer other = buffer_of(ctx, VD_F32, 200, NULL);
    refuse_run(plan, ctx, (vd_top_k_io){ other, view, places }, "values and indices overlap");
    vd_buffer all[] = { view, places, in, few, two, at, wide, other };
    for (size_t i = 0; i < COUNT(all); i++) vd_buffer_destroy(ctx, all[i]);
}

/* More elements than eight work-groups, or one, count by all digits in 65535 iterations, llvmpipe's limit for a loop;
   most of them are equal. */
static void very_long_rows(void **state) {
    enum { N = 7000000, K = 5 };
    static const uint64_t shapes[2][2] = { { N, 0 }, { 9, N / 7 } };
    uint8_t *data = (uint8_t *)malloc(9 * N / 7);
    (void)state;
    need_device();
    if (lacks(VD_U8)) skip();
    assert_non_null(data);
    for (int c = 0; c < 2; c++) {
        uint64_t n = c ? shapes[c][1] : N, rows = c ? 9 : 1;
        uint8_t values[9 * K];
        uint32_t indices[9 * K];
        memset(data, 7, (size_t)(n * rows));
        for (uint64_t row = 0; row < rows; row++) data[row * n + n - 1 - row] = data[row * n + n / 2] = 200;
        vd_top_k_desc desc = { 0 };
        memcpy(desc.shape, shapes[c], sizeof shapes[c]);
        desc.type = VD_U8;
        desc.k = K;
        vd_top_k *plan = vd_top_k_create(device_context, &desc);
        vd_top_k_io io = { buffer_of(device_context, VD_U8, n * rows, data),
                           buffer_of(device_context, VD_U8, rows * K, NULL),
                           buffer_of(device_context, count_type(n), rows * K, NULL) };
        if (!plan || vd_top_k_run(plan, vd_immediate(device_context, 0, 0), &io)
            || vd_buffer_read(device_context, io.values, 0, values, VD_WHOLE)
            || read_counts(device_context, io.indices, indices))
            fail_msg("%s", vd_error_text());
        for (uint32_t row = 0; row < rows; row++)
            for (uint32_t i = 0; i < K; i++) {
                uint32_t wanted = i == 0 ? (uint32_t)n / 2 : i == 1 ? (uint32_t)n - 1 - row : i - 2;
                if (values[row * K + i] != (i < 2 ? 200 : 7) || indices[row * K + i] != wanted)
                    fail_msg("row %u, number %u: %u at %u", row, i, values[row * K + i], indices[row * K + i]);
            }
        vd_top_k_destroy(plan);
        vd_buffer_destroy(device_context, io.in);
        vd_buffer_destroy(device_context, io.values);
        vd_buffer_destroy(device_context, io.indices);
    }
    vd_top_k_desc most = { 0 };
    most.type = VD_U8;
    most.shape[0] = (uint64_t)1 << 31;
    most.k = 1024;
    if (vd_device(device_context, 0)->facts.max_loop_iterations == 65535) {
        assert_null(vd_top_k_create(device_context, &most));
        says("k is 1024 for rows of 2147483648 elements: this needs 110592 loop iterations per invocation, "
             "but the limit is 32768 (half of vd_facts.max_loop_iterations)");
    }
    free(data);
}

static void bad_input(void **state) {
    vd_context *ctx = dummy_context();
    vd_top_k_desc desc = { 0 };
    (void)state;
    refuse(NULL, &desc, "ctx is NULL");
    refuse(ctx, NULL, "desc is NULL");
    refuse(ctx, &desc, "'top_k': dimension 0 of the shape is 0, but must be at least 1");
    desc.name = "best";
    desc.shape[0] = 2;
    desc.shape[2] = 100;
    refuse(ctx, &desc, "'best': dimension 1 of the shape is 0, but dimension 2 is not");
    desc.shape[1] = 100;
    desc.shape[2] = 0;
    refuse(ctx, &desc, "k is 0, but must be 1 to 100, the length of a row");
    desc.k = 101;
    refuse(ctx, &desc, "k is 101, but must be 1 to 100, the length of a row");
    desc.shape[1] = 2000;
    desc.k = 1025;
    refuse(ctx, &desc, "k is 1025, but the limit is 1024");
    desc.shape[0] = (uint64_t)1 << 40;
    refuse(ctx, &desc, ", but the limit is 1099511627776 elements");
    desc.shape[1] = 2;
    desc.shape[0] = (uint64_t)1 << 33;
    desc.k = 1;
    refuse(ctx, &desc, "8589934592 rows need 8589934592 work-groups, but the limit is 2147483647");
    desc.shape[0] = 2;
    desc.shape[1] = 100;
    desc.k = 10;
    desc.type = VD_F32X2;
    refuse(ctx, &desc, "type is f32x2, but must be a scalar number");
    desc.type = VD_F32;
    desc.index_type = VD_I32;
    refuse(ctx, &desc, "vd_top_k_create 'best': index_type is i32, but must be VD_U32 or VD_U64");
    desc.index_type = (vd_type)0;
    desc.map.build = mixed_up;
    refuse(ctx, &desc, "vc_add in kernel 'best'");
    desc.map.build = NULL;
    vd_top_k *plan = vd_top_k_create(ctx, &desc);
    if (!plan) fail_msg("%s", vd_error_text());
    bad_runs(ctx, plan);
    vd_top_k_destroy(plan);
    vd_top_k_destroy(NULL);
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types), cmocka_unit_test(sizes), cmocka_unit_test(limits_of_indices),
        cmocka_unit_test(long_rows),
        cmocka_unit_test(very_long_rows), cmocka_unit_test(specials), cmocka_unit_test(maps),
        cmocka_unit_test(simple_calls), cmocka_unit_test(bad_input),
    };
    all_cases = argc > 1 && !strcmp(argv[1], "-a");
    return RUN_ON_DEVICE(tests);
}
