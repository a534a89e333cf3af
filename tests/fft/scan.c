/* Scans of every type along any axis, in one pass and with three kernels, with segments and callback operations;
   compaction; compared with loops on the host.
       scan [-a]     -a: all cases; otherwise every second one and, with FFT_CASES and on OpenCL, where compiling a
           kernel takes half a second, one in eight, but of types one in two */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <math.h>

/* Without 64-bit atomics and subgroups; with subgroups that do not combine 64-bit integers; NULL: no device */
static vd_context *plain_context, *narrow_context;

/* Integers in every type: small ones, so that sums of floats are exact in any order. */
static void put(vd_type type, void *at, int64_t x) {
    float f = (float)x;
    double d = (double)x;
    if (type == VD_F32) memcpy(at, &f, 4);
    else if (type == VD_F64) memcpy(at, &d, 8);
    else if (type == VD_F16) {
        uint16_t h = 0;
        int exponent = 0;
        if (x) {
            double m = frexp(fabs(d), &exponent);
            h = (uint16_t)((x < 0 ? 0x8000 : 0) | (exponent + 14) << 10 | ((int)(m * 2048) & 1023));
        }
        memcpy(at, &h, 2);
    } else memcpy(at, &x, vd_type_size(type));
}

typedef struct sample {
    vd_reduce_op op;
    vd_type type;
    uint64_t shape[4];
    uint32_t axis; /* 1 + dimension, 0: the last */
    bool exclusive, segmented, last /* a callback: the last number that is not 0 */, in_place, map;
    vd_scan_method way;
    bool gpu;                /* as planned for a GPU */
} sample;

static void last_one(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_select(vc_ne(io->in[1], vc_imm(vc_typeof(io->in[1]), 0)), io->in[1], io->in[0]);
}

static void twice(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_add(io->in[0], io->in[0]);
}

static int64_t combined(const sample *s, int64_t a, int64_t b) {
    if (s->last) return b ? b : a;
    switch (s->op) {
    case VD_REDUCE_MIN: return a < b ? a : b;
    case VD_REDUCE_MAX: return a > b ? a : b;
    case VD_REDUCE_XOR: return a ^ b;
    case VD_REDUCE_PRODUCT: return (int64_t)((uint64_t)a * (uint64_t)b);
    default: return a + b;
    }
}

/* Stores the initial value of an exclusive scan, as bits of the type. */
static void put_identity(const sample *s, void *at) {
    vd_reduce_op op = s->last ? VD_REDUCE_SUM : s->op;
    bool real = s->type >= VD_F16, whole = s->type <= VD_I64;
    uint32_t size = vd_type_size(s->type);
    if (op == VD_REDUCE_PRODUCT) put(s->type, at, 1);
    else if (op != VD_REDUCE_MIN && op != VD_REDUCE_MAX) put(s->type, at, 0);
    else if (real) {
        uint64_t bits = size == 2 ? 0x7c00 : size == 4 ? 0x7f800000u : (uint64_t)0x7ff << 52;
        if (op == VD_REDUCE_MAX) bits |= (uint64_t)1 << (8 * size - 1);
        memcpy(at, &bits, size);
    } else {
        uint64_t top = (uint64_t)1 << (8 * size - 1), bits = op == VD_REDUCE_MIN ? (whole ? top - 1 : UINT64_MAX)
                                                             : whole             ? top
                                                                                 : 0;
        memcpy(at, &bits, size);
    }
}

/* The number at index i, and whether a segment starts there. */
static int64_t number_at(const sample *s, uint64_t i) {
    uint32_t x = (uint32_t)i * 2654435761u ^ (uint32_t)(i >> 5);
    if (s->last) return x % 5 ? 0 : 1 + (int64_t)(x % 37);
    if (s->op == VD_REDUCE_PRODUCT) return s->type >= VD_F16 ? 1 : (int64_t)(x | 1);
    if (s->type >= VD_U8 && s->type <= VD_U64) return (int64_t)(x >> 9) % 3;
    return (int64_t)(x >> 9) % 3 - 1;
}

static bool head_at(uint64_t i) { return ((uint32_t)i * 2246822519u >> 7) % 301 == 0; }

static void expect(const sample *s, uint64_t n, uint8_t *to) {
    uint32_t size = vd_type_size(s->type), dimensions = 0, axis;
    uint64_t inner = 1, count;
    while (dimensions < 4 && s->shape[dimensions]) dimensions++;
    axis = s->axis ? s->axis - 1 : dimensions - 1;
    for (uint32_t i = axis + 1; i < dimensions; i++) inner *= s->shape[i];
    count = s->shape[axis];
    for (uint64_t row = 0; row < n / count; row++) {
        int64_t sum = 0;
        bool any = false;
        for (uint64_t i = 0; i < count; i++) {
            uint64_t at = row / inner * count * inner + row % inner + i * inner;
            int64_t x = number_at(s, at);
            if (s->map) x *= 2;
            if (s->segmented && head_at(at)) any = false;
            if (s->exclusive) { if (any) put(s->type, to + at * size, sum); else put_identity(s, to + at * size); }
            sum = any ? combined(s, sum, x) : x;
            any = true;
            if (!s->exclusive) put(s->type, to + at * size, sum);
        }
    }
}

static void describe(const sample *s) {
    print_error("  %s, op %d, shape", vd_type_name(s->type), (int)s->op);
    for (int i = 0; i < 4 && s->shape[i]; i++) print_error(" %llu", (unsigned long long)s->shape[i]);
    print_error(", axis %u%s%s%s%s%s, way %d%s\n", s->axis, s->exclusive ? ", exclusive" : "",
                s->segmented ? ", segmented" : "", s->last ? ", last" : "", s->in_place ? ", in place" : "",
                s->map ? ", mapped" : "", (int)s->way, s->gpu ? ", as for a GPU" : "");
}

static vd_scan *plan_of(vd_context *ctx, const sample *s) {
    vd_scan_desc desc = { 0 };
    desc.op = s->op;
    desc.type = s->type;
    memcpy(desc.shape, s->shape, sizeof desc.shape);
    desc.axes = s->axis ? 1u << (s->axis - 1) : 0;
    desc.exclusive = s->exclusive;
    desc.segmented = s->segmented;
    desc.method = s->way;
    if (s->map) desc.map.build = twice;
    if (s->last) desc.combine.build = last_one;
    if (s->last) desc.identity = vc_imm(s->type, 0);
    bool anyway = getenv("VKDISPATCH_FFT_SHAPES") != NULL;
    if (s->gpu) setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1);
    vd_scan *plan = vd_scan_create(ctx, &desc);
    if (!anyway) unsetenv("VKDISPATCH_FFT_SHAPES");
    if (!plan) { describe(s); fail_msg("%s", vd_error_text()); }
    return plan;
}

static void check_in(vd_context *ctx, const sample *s) {
    uint64_t n = 1, bad = 0;
    uint32_t size = vd_type_size(s->type);
    for (int i = 0; i < 4 && s->shape[i]; i++) n *= s->shape[i];
    uint8_t *data = (uint8_t *)calloc(n, size), *wanted = (uint8_t *)calloc(n, size), *got = (uint8_t *)calloc(n, size);
    uint32_t *heads = (uint32_t *)calloc(n, 4);
    assert_true(data && wanted && got && heads);
    for (uint64_t i = 0; i < n; i++) { put(s->type, data + i * size, number_at(s, i)); heads[i] = head_at(i) ? 7 : 0; }
    expect(s, n, wanted);
    vd_scan *plan = plan_of(ctx, s);
    vd_scan_io io = { { 0 }, { 0 }, { 0 }, { 0 } };
    io.in = buffer_of(ctx, s->type, n, data);
    io.out = s->in_place ? io.in : buffer_of(ctx, s->type, n, NULL);
    if (s->segmented) io.segment_heads = buffer_of(ctx, VD_U32, n, heads);
    for (int round = 0; round < 3; round++) { /* tickets are reset, and published sums of an earlier run are ignored */
        assert_int_equal(vd_write(vd_immediate(ctx, 0, 0), io.in, 0, data, n * size), VD_OK);
        vd_result result = vd_scan_run(plan, vd_immediate(ctx, 0, 0), &io);
        if (!result) result = vd_buffer_read(ctx, io.out, 0, got, VD_WHOLE);
        if (result) { describe(s); fail_msg("%s", vd_error_text()); }
        if (memcmp(got, wanted, n * size) == 0) continue;
        describe(s);
        while (!memcmp(got + bad * size, wanted + bad * size, size)) bad++;
        uint64_t g = 0, w = 0;
        memcpy(&g, got + bad * size, size);
        memcpy(&w, wanted + bad * size, size);
        fail_msg("round %d, element %llu: bits %llx, wanted %llx", round, (unsigned long long)bad,
                 (unsigned long long)g, (unsigned long long)w);
    }
    vd_buffer_destroy(ctx, io.in);
    if (!s->in_place) vd_buffer_destroy(ctx, io.out);
    vd_buffer_destroy(ctx, io.segment_heads);
    vd_scan_destroy(plan);
    free(data);
    free(wanted);
    free(got);
    free(heads);
}

static void check_one_in(uint32_t few, const sample *s) {
    if (lacks_arithmetic(s->type) || passes_over(few, 2)) return;
    check_in(device_context, s);
}

static void check(const sample *s) { check_one_in(8, s); }

/* ---- tests ---- */

static const vd_scan_method ways[] = { VD_SCAN_ONE_PASS, VD_SCAN_THREE_KERNELS };

static void types(void **state) {
    (void)state;
    need_device();
    for (vd_type type = VD_I8; type <= VD_F64; type++) {
        if (lacks_arithmetic(type)) { print_message("# %s is not here\n", vd_type_name(type)); continue; }
        for (int w = 0; w < 2; w++) {
            sample s = {
                VD_REDUCE_DEFAULT, VD_I32, { 5000, 0, 0, 0 }, 0, false, false, false, false, false, VD_SCAN_DEFAULT,
                false
            };
            s.type = type;
            s.way = ways[w];
            s.exclusive = (type + (vd_type)w) % 2;
            check_one_in(2, &s);
        }
    }
}

static void operations(void **state) {
    static const vd_reduce_op ops[] = { VD_REDUCE_SUM, VD_REDUCE_PRODUCT, VD_REDUCE_MIN, VD_REDUCE_MAX, VD_REDUCE_XOR };
    static const vd_type some[] = { VD_I32, VD_F32, VD_U64, VD_F16 };
    (void)state;
    need_device();
    for (size_t o = 0; o < COUNT(ops); o++)
        for (size_t t = 0; t < COUNT(some); t++) {
            sample s = {
                ops[o], some[t], { 3000, 0, 0, 0 }, 0, (o + t) % 2 != 0, false, false, false, false,
                ways[(o / 2 + t) % 2], false
            };
            if (ops[o] < VD_REDUCE_AND || some[t] < VD_F16) check(&s);
        }
}

/* Initial values of minimum and maximum, for every integer type; at segment starts too. */
static void identities(void **state) {
    (void)state;
    need_device();
    for (vd_type type = VD_I8; type <= VD_U64; type++)
        for (int i = 0; i < 2; i++) {
            sample s = {
                VD_REDUCE_MIN, type, { 700, 0, 0, 0 }, 0, true, type % 2 != 0, false, false, type == VD_I16,
                VD_SCAN_DEFAULT, false
            };
            if (i) s.op = VD_REDUCE_MAX;
            if (!lacks_arithmetic(type) && !passes_over(4, 1)) check_in(device_context, &s);
        }
}

/* All lengths up to a limit, and lengths around whole tiles; kernels depend on the length. */
static void lengths(void **state) {
    static const uint64_t more[] = { 31, 32, 33, 127, 255, 257, 1023, 1024, 1025, 2047, 2049, 4096, 33333 };
    (void)state;
    need_device();
    for (uint64_t i = 1; i <= 9 + COUNT(more); i++) {
        sample s = {
            VD_REDUCE_SUM, VD_I32, { 0, 0, 0, 0 }, 0, i % 2 != 0, false, false, i % 3 == 0, false, ways[i / 2 % 2],
            false
        };
        s.shape[0] = i > 9 ? more[i - 10] : i;
        check(&s);
    }
}

static void shapes_and_axes(void **state) {
    static const struct { uint64_t shape[4]; uint32_t axis; } shapes[] = {
        { { 7, 1500, 0, 0 }, 0 }, { { 7, 1501, 0, 0 }, 2 }, { { 300, 40, 0, 0 }, 1 }, { { 3000, 3, 0, 0 }, 1 },
        { { 6, 50, 33, 0 }, 2 }, { { 6, 50, 33, 0 }, 3 }, { { 6, 50, 33, 0 }, 1 }, { { 3, 4, 5, 6 }, 2 },
        { { 1, 9, 1, 1 }, 2 }, { { 2, 2200, 0, 0 }, 0 },
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (int w = 0; w < 2; w++) {
            sample s = {
                VD_REDUCE_SUM, VD_F32, { 0, 0, 0, 0 }, 0, false, false, false, false, false, VD_SCAN_DEFAULT, false
            };
            memcpy(s.shape, shapes[i].shape, sizeof s.shape);
            s.axis = shapes[i].axis;
            s.way = ways[w];
            s.exclusive = (i + (size_t)w) % 2;
            s.in_place = i % 2;
            if (!w || !s.axis || s.axis == 4 || !s.shape[s.axis]) check(&s);
        }
}

static void segments_and_own_operations(void **state) {
    (void)state;
    need_device();
    for (int i = 0; i < 24; i++) { /* segments, order, both; either end; either direction; along rows and columns */
        sample s = {
            VD_REDUCE_DEFAULT, VD_U32, { 9000, 0, 0, 0 }, 0, false, false, false, false, false, VD_SCAN_DEFAULT, false
        };
        s.segmented = i % 3 != 1;
        s.last = i % 3 > 0;
        s.exclusive = i / 3 % 2;
        s.way = ways[i / 6 % 2];
        if (i >= 12) { s.shape[0] = 150; s.shape[1] = 41; s.axis = 1; s.type = i % 2 ? VD_F32 : VD_I64; s.map = true; }
        if (i < 18) check(&s);
    }
    sample wide = {
        VD_REDUCE_DEFAULT, VD_F64, { 4, 3000, 0, 0 }, 0, false, true, true, false, true, VD_SCAN_ONE_PASS, false
    };
    check(&wide);
}

/* Many rows of up to some hundred elements; a work-group has several. */
static void short_rows(void **state) {
    static const uint64_t lengths[] = {
        1, 2, 3, 4, 5, 7, 8, 9, 10, 16, 17, 33, 64, 65, 100, 127, 200, 255, 256, 511, 512, 513
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < 3 * COUNT(lengths); i++) {
        uint64_t n = lengths[i / 3];
        sample s = { VD_REDUCE_SUM,
                     VD_F32,
                     { i % 5 < 2 ? 32 : 3000 / n + 35, n, 0, 0 },
                     0,
                     i % 2 == 0,
                     i % 3 == 1,
                     i % 4 == 3,
                     i % 5 == 2,
                     i % 7 == 3,
                     ways[i % 2],
                     i % 3 != 0 };
        if (!s.last && i % 3 == 2) s.op = i % 2 ? VD_REDUCE_MAX : VD_REDUCE_PRODUCT;
        if (s.last) s.op = VD_REDUCE_DEFAULT;
        if (s.op == VD_REDUCE_PRODUCT) s.map = false; /* powers of two overflow in floats */
        if (i % 3) s.type = (vd_type)(VD_I8 + i / 2 % 11);
        check(&s);
    }
}

/* Columns of more than 65535 rows, llvmpipe's limit for a loop, and the carry from one part to the next. */
static void long_columns(void **state) {
    static const sample samples[] = {
        { VD_REDUCE_SUM, VD_I32, { 70000, 2, 0, 0 }, 1, false, false, false, true, false, VD_SCAN_DEFAULT, false },
        { VD_REDUCE_SUM, VD_U8, { 2, 70000, 33, 0 }, 2, true, true, false, false, false, VD_SCAN_DEFAULT, false },
        { VD_REDUCE_DEFAULT, VD_I64, { 70000, 3, 0, 0 }, 1, true, false, true, false, true, VD_SCAN_ONE_PASS, false },
        { VD_REDUCE_MIN, VD_I16, { 600000, 3, 0, 0 }, 1, true, false, false, false, false, VD_SCAN_DEFAULT, true },
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(samples); i++)
        if (!lacks_arithmetic(samples[i].type)) check_in(device_context, &samples[i]);
}

/* As planned for GPUs, and for devices that lack features. */
static void other_devices(void **state) {
    (void)state;
    need_device();
    for (int i = 0; i < 8; i++) {
        sample s = {
            VD_REDUCE_SUM, VD_I32, { 100000, 0, 0, 0 }, 0, i % 2 != 0, false, false, false, false, VD_SCAN_ONE_PASS,
            true
        };
        if (i == 2) s.op = VD_REDUCE_MAX;
        if (i == 3) { s.type = VD_U64; s.shape[0] = 3; s.shape[1] = 15000; }
        if (i == 4) { s.type = VD_F16; s.shape[0] = 33333; s.in_place = true; }
        s.segmented = i == 5;
        s.last = i == 6;
        if (s.last) s.op = VD_REDUCE_DEFAULT;
        if (i == 7) s.way = VD_SCAN_THREE_KERNELS;
        check(&s);
        s.gpu = false;
        if (narrow_context && i == 3 && !lacks_arithmetic(s.type)) {
            s.gpu = true;
            check_in(narrow_context, &s);
            s.gpu = false;
        }
        if (plain_context && i < 6 && !lacks_arithmetic(s.type) && !passes_over(8, 2)) check_in(plain_context, &s);
    }
}

static void chosen(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k;
    io->out = vc_lt(io->in[0], vc_cast(vc_typeof(io->in[0]), vc_i32(*(const int32_t *)user)));
}

static void compaction(void **state) {
    static const vd_type some[] = { VD_I32, VD_F32, VD_F64, VD_I8 };
    static const uint64_t counts[] = { 1, 5, 1024, 10007, 100, 101 };
    (void)state;
    need_device();
    for (size_t i = 0; i < 28; i++) { /* the last ones: the limit of 32-bit indices in large_scan.c, and one more */
        vd_compact_desc desc = { 0 };
        int32_t limit = i / 4 == 4 ? -9 : i / 4 == 3 ? 9 : 0; /* none, all */
        vd_type type = desc.type = some[i % 4];
        uint32_t size = vd_type_size(type), kept = 0, count = 77;
        uint64_t n = desc.count = counts[i < 20 ? i / 4 % 4 : i / 4 - 1];
        if (lacks_arithmetic(type) || (passes_over(8, 2) && i < 20)) continue;
        uint8_t *data = (uint8_t *)calloc(n + 1, size), *wanted = (uint8_t *)calloc(n + 1, size),
                *got = (uint8_t *)calloc(n + 1, size);
        assert_true(data && wanted && got);
        for (uint64_t e = 0; e < n; e++) {
            int64_t x = (int64_t)((uint32_t)e * 2654435761u >> 20) % 17 - 8;
            put(type, data + e * size, x);
            if (x < limit) put(type, wanted + size * kept++, x);
        }
        desc.keep.build = chosen;
        desc.keep.user = &limit;
        desc.method = ways[i / 2 % 2];
        vd_scan *plan = vd_compact_create(device_context, &desc);
        if (!plan) fail_msg("%s", vd_error_text());
        vd_scan_io io = { { 0 }, { 0 }, { 0 }, { 0 } };
        io.in = buffer_of(device_context, type, n, data);
        io.out = buffer_of(device_context, type, n, NULL);
        io.count = buffer_of(device_context, count_type(n), 1, NULL);
        for (int round = 0; round < 2; round++) {
            vd_result result = vd_scan_run(plan, vd_immediate(device_context, 0, 0), &io);
            if (!result) result = vd_buffer_read(device_context, io.out, 0, got, VD_WHOLE);
            if (!result) result = read_counts(device_context, io.count, &count);
            if (result) fail_msg("%s", vd_error_text());
            if (count != kept || memcmp(got, wanted, n * size) != 0)
                fail_msg("%llu of %s: kept %u, wanted %u", (unsigned long long)n, vd_type_name(type), count, kept);
        }
        vd_buffer_destroy(device_context, io.in);
        vd_buffer_destroy(device_context, io.out);
        vd_buffer_destroy(device_context, io.count);
        vd_scan_destroy(plan);
        free(data);
        free(wanted);
        free(got);
    }
}

static void simple_calls(void **state) {
    static const int32_t data[7] = { 3, -1, 4, 1, -5, 9, 2 };
    int32_t got[7];
    (void)state;
    need_device();
    vd_buffer in = buffer_of(device_context, VD_I32, 7, data), out = buffer_of(device_context, VD_I32, 7, NULL);
    assert_int_equal(
        vd_scan_inclusive(device_context, in, out) || vd_buffer_read(device_context, out, 0, got, VD_WHOLE), VD_OK);
    for (int i = 0, sum = 0; i < 7; i++) assert_int_equal(got[i], sum += data[i]);
    assert_int_equal(vd_scan_exclusive(device_context, in, in) || vd_buffer_read(device_context, in, 0, got, VD_WHOLE),
                     VD_OK);
    for (int i = 0, sum = 0; i < 7; sum += data[i++]) assert_int_equal(got[i], sum);
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, out);
}

static void refuse(vd_context *ctx, const vd_scan_desc *desc, const char *part) {
    assert_null(vd_scan_create(ctx, desc));
    says(part);
}

static void refuse_run(vd_scan *plan, vd_context *ctx, const vd_scan_io *io, const char *part) {
    assert_int_equal(vd_scan_run(plan, vd_immediate(ctx, 0, 0), io), VD_ERROR_INVALID);
    says(part);
}

static void latch(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)user;
    io->out = vc_add(io->in[0], vc_const(k, vc_u32(1)));
}

static void bad_input(void **state) {
    vd_context *ctx = dummy_context();
    (void)state;
    vd_scan_desc desc = { 0 };
    vc_val nothing = { 0, 0 };
    refuse(NULL, &desc, "ctx is NULL");
    refuse(ctx, NULL, "desc is NULL");
    refuse(ctx, &desc, "dimension 0 of the shape is 0, but must be at least 1");
    desc.shape[0] = 100000;
    desc.op = VD_REDUCE_ARGMIN;
    refuse(ctx, &desc, "op is VD_REDUCE_ARGMIN (10), but must be VD_REDUCE_SUM to VD_REDUCE_XOR");
    desc.op = VD_REDUCE_OR;
    refuse(ctx, &desc, "type is f32, but must be a scalar integer");
    desc.op = VD_REDUCE_DEFAULT;
    desc.type = VD_F32C;
    refuse(ctx, &desc, "type is complex f32, but must be a scalar number");
    desc.type = VD_F32;
    desc.axes = 2;
    refuse(ctx, &desc, "axes is 0x2 (bit 1), but the shape");
    desc.shape[1] = 3;
    desc.axes = 3;
    refuse(ctx, &desc, "axes is 0x3, but a scan is along one dimension");
    desc.shape[1] = desc.axes = 0;
    desc.method = (vd_scan_method)3;
    refuse(ctx, &desc, "method is 3, but must be 0 to 2 (VD_SCAN_THREE_KERNELS)");
    desc.method = VD_SCAN_DEFAULT;
    desc.shape[1] = (uint64_t)1 << 41;
    refuse(ctx, &desc, ", but the limit is 1099511627776 elements");
    desc.shape[1] = 0;
    desc.combine.build = last_one;
    desc.identity = vc_i32(0);
    refuse(ctx, &desc, "identity has type i32, but the elements have type f32");
    desc.op = VD_REDUCE_MAX;
    refuse(ctx, &desc, "op is VD_REDUCE_MAX, but must be 0 because combine is set");
    desc.op = VD_REDUCE_DEFAULT;
    desc.combine.build = NULL;
    desc.identity = nothing;
    desc.map.build = latch;
    refuse(ctx, &desc, "vc_add in kernel 'scan'");
    desc.map.build = NULL;
    vd_compact_desc compact = { 0 };
    compact.count = 10;
    assert_null(vd_compact_create(ctx, &compact));
    says("keep.build is NULL");
    assert_null(vd_compact_create(ctx, NULL));
    compact.keep.build = chosen;
    compact.count = ((uint64_t)1 << 40) + 1;
    assert_null(vd_compact_create(ctx, &compact));
    says("count is 1099511627777, but the limit is 1099511627776");
    desc.segmented = true;
    vd_scan *plan = vd_scan_create(ctx, &desc);
    assert_non_null(plan);
    vd_buffer small = buffer_of(ctx, VD_F32, 99999, NULL), right = buffer_of(ctx, VD_F32, 100000, NULL),
              whole = buffer_of(ctx, VD_I32, 100000, NULL);
    vd_scan_io io = { { 0 }, { 0 }, { 0 }, { 0 } };
    assert_int_equal(vd_scan_run(NULL, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    assert_int_equal(vd_scan_run(plan, vd_immediate(ctx, 0, 0), NULL), VD_ERROR_INVALID);
    io.in = io.out = right;
    refuse_run(plan, ctx, &io, "buffer");
    io.segment_heads = whole;
    refuse_run(plan, ctx, &io, "(segment_heads) has type i32, but u32 is expected");
    io.in = small;
    refuse_run(plan, ctx, &io, "(in) has 399996 bytes, but the plan needs 400000");
    io.in = whole;
    refuse_run(plan, ctx, &io, "(in) has type i32, but f32 is expected");
    vd_buffer large = buffer_of(ctx, VD_F32, 100001, NULL), heads = buffer_of(ctx, VD_U32, 100000, NULL);
    vd_buffer first = view_of(ctx, large, VD_F32, 0, 100000), second = view_of(ctx, large, VD_F32, 4, 100000),
              third = view_of(ctx, large, VD_U32, 0, 100000);
    io.in = first;
    io.out = second;
    io.segment_heads = heads;
    refuse_run(plan, ctx, &io, "in and out overlap; they must be disjoint or begin at the same byte");
    io.in = right;
    io.segment_heads = third;
    refuse_run(plan, ctx, &io, "segment_heads and out overlap");
    vd_buffer_destroy(ctx, first);
    vd_buffer_destroy(ctx, second);
    vd_buffer_destroy(ctx, third);
    vd_buffer_destroy(ctx, heads);
    vd_buffer_destroy(ctx, large);
    vd_buffer_destroy(ctx, small);
    vd_buffer_destroy(ctx, right);
    vd_buffer_destroy(ctx, whole);
    vd_scan_destroy(plan);
    vd_scan_destroy(NULL);
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types), cmocka_unit_test(operations), cmocka_unit_test(identities), cmocka_unit_test(lengths),
        cmocka_unit_test(shapes_and_axes), cmocka_unit_test(segments_and_own_operations),
        cmocka_unit_test(other_devices), cmocka_unit_test(short_rows), cmocka_unit_test(long_columns),
        cmocka_unit_test(compaction), cmocka_unit_test(simple_calls), cmocka_unit_test(bad_input),
    };
    vd_context_desc plain = { 0 };
    all_cases = argc > 1 && !strcmp(argv[1], "-a");
    open_device();
    plain.disable = VD_FEATURE_ATOMIC_I64 | VD_FEATURE_SUBGROUP;
    if (vd_context_create(&plain, &plain_context)) plain_context = NULL;
    plain.disable = VD_FEATURE_SUBGROUP_TYPES;
    if (vd_context_create(&plain, &narrow_context)) narrow_context = NULL;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    vd_context_destroy(plain_context);
    vd_context_destroy(narrow_context);
    return close_device(failed);
}
