/* Sorting of keys of every type, with and without values, in both orders; histograms; compared with the C library and
   loops on the host.
       sort [-a]     -a: all cases; otherwise, on OpenCL, where compiling a kernel takes half a second, one case in
           four */
#define _POSIX_C_SOURCE 200809L
#include "common.h"
#ifndef SORT_OWN_TESTS
#define SORT_OWN_TESTS /* tests of private functions; each ends with a comma */
#endif

#include <math.h>

static bool lacks(vd_type type) {
    uint64_t features = vd_device(device_context, 0)->features;
    if (type == VD_F64 || type == VD_I64 || type == VD_U64)
        return !(features & VD_FEATURE_I64) || (type == VD_F64 && !(features & VD_FEATURE_F64));
    if (type == VD_F16 || type == VD_I16 || type == VD_U16)
        return !(features & VD_FEATURE_I16) || !(features & VD_FEATURE_STORAGE_16);
    if (type == VD_I8 || type == VD_U8) return !(features & VD_FEATURE_I8) || !(features & VD_FEATURE_STORAGE_8);
    return false;
}

/* ---- keys ---- */

typedef struct item { uint64_t order, bits, value; } item; /* order: compares as the keys do */

static int by_order(const void *a, const void *b) { /* values are the original positions, so this order is stable */
    const item *x = (const item *)a, *y = (const item *)b;
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* Maps floats and signed integers to unsigned ones with the same order: negative numbers first, by decreasing
   magnitude. */
static uint64_t order_of(vd_type type, uint64_t bits, bool descending) {
    uint32_t width = vd_type_size(type) * 8;
    uint64_t top = (uint64_t)1 << (width - 1), ones = top | (top - 1), order = bits;
    if (type <= VD_I64) order = bits ^ top;
    if (type >= VD_F16) order = bits & top ? bits ^ ones : bits | top;
    return descending ? order ^ ones : order;
}

/* Arbitrary bits, including infinities and NaN; `few`: many equal keys. */
static uint64_t key_of(vd_type type, uint64_t i, bool few) {
    uint64_t x = (i + 1) * (uint64_t)0x9e3779b97f4a7c15u, top = (uint64_t)1 << (vd_type_size(type) * 8 - 1);
    x ^= x >> 29;
    if (few) x = x % 5 * (top / 2 + 1);
    return x & (top | (top - 1));
}

typedef struct sample {
    vd_type type, values;
    uint64_t count;
    bool descending, few, in_place;
    vd_scan_method way;
} sample;

static void check(const sample *s) {
    uint32_t size = vd_type_size(s->type), value = vd_type_size(s->values);
    uint64_t n = s->count;
    if (lacks(s->type) || (value == 8 && lacks(VD_U64)) || passes_over(4, 1)) return;
    item *items = (item *)calloc(n, sizeof *items);
    uint8_t *keys = (uint8_t *)calloc(n, size), *values = (uint8_t *)calloc(n, 8), *got = (uint8_t *)calloc(n, size),
            *got_values = (uint8_t *)calloc(n, 8);
    assert_true(items && keys && values && got && got_values);
    for (uint64_t i = 0; i < n; i++) {
        items[i].bits = key_of(s->type, i, s->few);
        items[i].value = i;
        items[i].order = order_of(s->type, items[i].bits, s->descending);
        memcpy(keys + i * size, &items[i].bits, size);
        memcpy(values + i * value, &i, value);
    }
    qsort(items, n, sizeof *items, by_order);
    vd_sort_desc desc = { 0 };
    desc.type = s->type;
    desc.values = s->values;
    desc.count = n;
    desc.descending = s->descending;
    desc.method = s->way;
    vd_sort *plan = vd_sort_create(device_context, &desc);
    if (!plan) fail_msg("%s of %s: %s", vd_type_name(s->values), vd_type_name(s->type), vd_error_text());
    vd_sort_io io = { { 0 }, { 0 }, { 0 }, { 0 } };
    vd_list *list = vd_immediate(device_context, 0, 0);
    io.keys = buffer_of(device_context, s->type, n, keys);
    if (value) io.values = buffer_of(device_context, s->values, n, values);
    if (!s->in_place) io.out = buffer_of(device_context, s->type, n, NULL);
    if (!s->in_place && value) io.out_values = buffer_of(device_context, s->values, n, NULL);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(vd_write(list, io.keys, 0, keys, n * size)
                             || (value && vd_write(list, io.values, 0, values, n * value)),
                         VD_OK);
        vd_result result = vd_sort_run(plan, list, &io);
        if (!result) result = vd_buffer_read(device_context, s->in_place ? io.keys : io.out, 0, got, VD_WHOLE);
        if (!result && value)
            result = vd_buffer_read(device_context, s->in_place ? io.values : io.out_values, 0, got_values, VD_WHOLE);
        if (result) fail_msg("%s", vd_error_text());
        for (uint64_t i = 0; i < n; i++)
            if (memcmp(got + i * size, &items[i].bits, size) != 0
                || memcmp(got_values + i * value, &items[i].value, value) != 0)
                fail_msg("%llu of %s%s%s%s, round %d: element %llu is wrong", (unsigned long long)n,
                         vd_type_name(s->type), value ? " with values" : "", s->descending ? ", descending" : "",
                         s->few ? ", few" : "", round, (unsigned long long)i);
    }
    vd_buffer_destroy(device_context, io.keys);
    vd_buffer_destroy(device_context, io.values);
    vd_buffer_destroy(device_context, io.out);
    vd_buffer_destroy(device_context, io.out_values);
    vd_sort_destroy(plan);
    free(items);
    free(keys);
    free(values);
    free(got);
    free(got_values);
}

/* ---- tests ---- */

static void types(void **state) {
    (void)state;
    need_device();
    for (vd_type type = VD_I8; type <= VD_F64; type++) {
        sample s = { type, VD_BYTES, 3000, type % 2 != 0, false, type % 3 == 0, VD_SCAN_DEFAULT };
        if (lacks(type)) print_message("# %s is not here\n", vd_type_name(type));
        check(&s);
        s.values = type % 4 < 2 ? VD_U32 : VD_F64;
        s.descending = !s.descending;
        s.few = true;
        check(&s);
    }
}

static void lengths(void **state) {
    static const uint64_t counts[] = { 1, 2, 3, 7, 8, 9, 255, 256, 257, 4097, 70001 };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(counts); i++) {
        sample s = {
            VD_U32, i % 2 ? VD_U32 : VD_BYTES, 0, i % 4 == 1, i % 3 == 0, i % 2 != 0,
            i % 2 ? VD_SCAN_ONE_PASS : VD_SCAN_THREE_KERNELS
        };
        s.count = counts[i];
        check(&s);
    }
}

/* Large work-groups; ranks by subgroups if they have one size. */
static void as_for_a_gpu(void **state) {
    static const sample samples[] = {
        { VD_F32, VD_U32, 50001, false, false, false, VD_SCAN_ONE_PASS },
        { VD_I64, VD_U64, 50001, false, false, false, VD_SCAN_THREE_KERNELS },
        { VD_F64, VD_BYTES, 20001, true, false, false, VD_SCAN_ONE_PASS },
        { VD_U32, VD_BYTES, 30000, true, true, true, VD_SCAN_THREE_KERNELS },
        { VD_I16, VD_U32, 1537, true, true, false, VD_SCAN_ONE_PASS },
        { VD_U8, VD_U32, 5000, false, false, true, VD_SCAN_DEFAULT },
    };
    (void)state;
    need_device();
    setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1);
    for (size_t i = 0; i < COUNT(samples); i++) check(&samples[i]);
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

static void simple(void **state) {
    static const float data[6] = { 3, -1, 4, 1, -5, 9 }, sorted[6] = { -5, -1, 1, 3, 4, 9 };
    static const uint32_t index[6] = { 0, 1, 2, 3, 4, 5 }, order[6] = { 4, 1, 3, 0, 2, 5 };
    float got[6];
    uint32_t moved[6];
    (void)state;
    need_device();
    vd_buffer keys = buffer_of(device_context, VD_F32, 6, data);
    assert_int_equal(vd_sort_all(device_context, keys) || vd_buffer_read(device_context, keys, 0, got, VD_WHOLE),
                     VD_OK);
    assert_memory_equal(got, sorted, sizeof got);
    vd_buffer_destroy(device_context, keys);
    keys = buffer_of(device_context, VD_F32, 6, data);
    vd_buffer values = buffer_of(device_context, VD_U32, 6, index), few = buffer_of(device_context, VD_U32, 5, index);
    assert_int_equal(vd_sort_pairs(device_context, keys, values), VD_OK);
    assert_int_equal(vd_buffer_read(device_context, keys, 0, got, VD_WHOLE), VD_OK);
    assert_int_equal(vd_buffer_read(device_context, values, 0, moved, VD_WHOLE), VD_OK);
    assert_memory_equal(got, sorted, sizeof got);
    assert_memory_equal(moved, order, sizeof moved);
    assert_int_equal(vd_sort_pairs(device_context, keys, few), VD_ERROR_INVALID);
    assert_non_null(strstr(vd_error_text(), "vd_sort_pairs: "));
    assert_non_null(strstr(vd_error_text(), "(values) has 20 bytes, but the plan needs 24"));
    vd_buffer_destroy(device_context, few);
    vd_buffer_destroy(device_context, values);
    vd_buffer_destroy(device_context, keys);
}

static void tenth(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k;
    io->out = vc_mul(io->in[0], vc_f32(*(const float *)user));
}

static void histograms(void **state) {
    enum { N = 20000, MOST = 40000 };
    static const uint32_t bins[] = { 10, 300, MOST };
    float *reals = (float *)malloc(4 * N), factor = 0.1f;
    int32_t *wholes = (int32_t *)malloc(4 * N);
    uint32_t *got = (uint32_t *)malloc(4 * MOST), *wanted = (uint32_t *)malloc(4 * MOST);
    (void)state;
    need_device();
    assert_true(reals && wholes && got && wanted);
    for (int i = 0; i < N; i++) {
        wholes[i] = (int32_t)((uint32_t)i * 2654435761u >> 16) - 20000;
        reals[i] = (float)(wholes[i] % 4000);
        if (i % 1000 == 0) reals[i] = i % 3000 ? NAN : INFINITY;
    }
    for (size_t i = 0; i < 2 * COUNT(bins); i++) { /* in shared memory, and too many for that */
        if (passes_over(1, 1)) continue;
        vd_histogram_desc desc = { 0 };
        bool real = i % 2;
        desc.type = real ? VD_F32 : VD_I32;
        desc.count = N;
        desc.bins = bins[i / 2];
        if (real) { desc.bin.build = tenth; desc.bin.user = &factor; }
        memset(wanted, 0, 4 * MOST);
        for (int e = 0; e < N; e++) {
            float at = reals[e] * factor;
            if (real ? at >= 0 && at < (float)desc.bins : wholes[e] >= 0 && wholes[e] < (int32_t)desc.bins)
                wanted[real ? (int)at : wholes[e]]++;
        }
        vd_histogram *plan = vd_histogram_create(device_context, &desc);
        if (!plan) fail_msg("%s", vd_error_text());
        vd_buffer in = buffer_of(device_context, desc.type, N, real ? (const void *)reals : wholes),
                  out = buffer_of(device_context, count_type(N), desc.bins, NULL);
        for (int round = 0; round < 2; round++) {
            vd_result result = vd_histogram_run(plan, vd_immediate(device_context, 0, 0), in, out);
            if (!result) result = read_counts(device_context, out, got);
            if (result) fail_msg("%s", vd_error_text());
            assert_memory_equal(got, wanted, 4 * desc.bins);
        }
        vd_buffer_destroy(device_context, in);
        vd_buffer_destroy(device_context, out);
        vd_histogram_destroy(plan);
    }
    free(reals);
    free(wholes);
    free(got);
    free(wanted);
}

/* More elements than eight work-groups count in 65535 iterations, llvmpipe's limit for a loop. */
static void long_histogram(void **state) {
    enum { N = 8 * 32 * 65535 + 70000 };
    uint8_t *data = (uint8_t *)malloc(N);
    uint32_t got[4], wanted[4] = { 0, 0, 0, 0 };
    (void)state;
    need_device();
    if (lacks(VD_U8)) skip();
    assert_non_null(data);
    for (uint32_t i = 0; i < N; i++) wanted[data[i] = (uint8_t)(i * 2654435761u >> 30)]++;
    vd_histogram_desc desc = { 0 };
    desc.type = VD_U8;
    desc.count = N;
    desc.bins = 4;
    vd_histogram *plan = vd_histogram_create(device_context, &desc);
    vd_buffer in = buffer_of(device_context, VD_U8, N, data), out = buffer_of(device_context, count_type(N), 4, NULL);
    if (!plan || vd_histogram_run(plan, vd_immediate(device_context, 0, 0), in, out)
        || read_counts(device_context, out, got))
        fail_msg("%s", vd_error_text());
    assert_memory_equal(got, wanted, sizeof got);
    vd_histogram_destroy(plan);
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, out);
    free(data);
}

/* With the limit of 32-bit counts in large_sort.c, and one more. A buffer of the other type is refused. */
static void counts_at_the_limit(void **state) {
    static const float data[101] = { 1, 2, 2 };
    (void)state;
    need_device();
    for (uint32_t n = 100; n <= 101; n++) {
        uint32_t got[3];
        vd_type type = count_type(n), other = type == VD_U32 ? VD_U64 : VD_U32;
        vd_histogram_desc desc = { 0 };
        desc.count = n;
        desc.bins = 3;
        vd_histogram *plan = vd_histogram_create(device_context, &desc);
        vd_buffer in = buffer_of(device_context, VD_F32, n, data), out = buffer_of(device_context, type, 3, NULL),
                  wrong = buffer_of(device_context, other, 6, NULL);
        vd_list *list = vd_immediate(device_context, 0, 0);
        if (!plan || vd_histogram_run(plan, list, in, out) || read_counts(device_context, out, got))
            fail_msg("%s", vd_error_text());
        assert_int_equal(got[0], n - 3);
        assert_int_equal(got[1], 1);
        assert_int_equal(got[2], 2);
        assert_int_equal(vd_histogram_run(plan, list, in, wrong), VD_ERROR_INVALID);
        says(type == VD_U32 ? "(out) has type u64, but u32 is expected" : "(out) has type u32, but u64 is expected");
        vd_buffer all[] = { in, out, wrong };
        for (size_t i = 0; i < COUNT(all); i++) vd_buffer_destroy(device_context, all[i]);
        vd_histogram_destroy(plan);
    }
}

/* One bin more than an f32 can count, and numbers that no u32 can hold. */
static void many_bins(void **state) {
    static const float data[] = {
        16777216, 16777216, 16777218, 4294967296, -1, 3e38f, 16777215, INFINITY, -INFINITY, NAN
    };
    uint32_t got[2] = { 0, 0 };
    (void)state;
    need_device();
    vd_histogram_desc desc = { 0 };
    desc.count = COUNT(data);
    desc.bins = (1u << 24) + 1;
    vd_histogram *plan = vd_histogram_create(device_context, &desc);
    vd_buffer in = buffer_of(device_context, VD_F32, desc.count, data),
              out = buffer_of(device_context, VD_U32, desc.bins, NULL);
    if (!plan || vd_histogram_run(plan, vd_immediate(device_context, 0, 0), in, out) ||
        vd_buffer_read(device_context, out, 4 * (uint64_t)(desc.bins - 2), got, sizeof got))
        fail_msg("%s", vd_error_text());
    assert_int_equal(got[0], 1);
    assert_int_equal(got[1], 2);
    vd_histogram_destroy(plan);
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, out);
}

static void latch(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)user;
    io->out = vc_add(io->in[0], vc_const(k, vc_u32(1)));
}

static void bad_input(void **state) {
    vd_context *ctx = dummy_context();
    (void)state;
    vd_sort_desc desc = { 0 };
    assert_null(vd_sort_create(NULL, &desc));
    says("ctx is NULL");
    assert_null(vd_sort_create(ctx, NULL));
    says("desc is NULL");
    assert_null(vd_sort_create(ctx, &desc));
    says("count is 0");
    desc.count = (uint64_t)1 << 40;
    assert_null(vd_sort_create(ctx, &desc));
    says("vd_sort_create 'sort': count is 1099511627776, but the limit is 8589934592");
    desc.count = 100;
    desc.type = VD_F32X2;
    assert_null(vd_sort_create(ctx, &desc));
    says("type is f32x2, but must be a scalar number");
    desc.type = VD_U32;
    desc.values = VD_F32X4;
    assert_null(vd_sort_create(ctx, &desc));
    says("values is f32x4 (16 bytes), but must be a type of 4 or 8 bytes");
    desc.values = VD_F32X2;
    desc.method = (vd_scan_method)9;
    assert_null(vd_sort_create(ctx, &desc));
    says("method is 9, but must be 0 to 2 (VD_SCAN_THREE_KERNELS)");
    desc.method = VD_SCAN_DEFAULT;
    vd_sort *plan = vd_sort_create(ctx, &desc);
    if (!plan) fail_msg("%s", vd_error_text());
    vd_buffer keys = buffer_of(ctx, VD_U32, 100, NULL), values = buffer_of(ctx, VD_F32X2, 99, NULL),
              other = buffer_of(ctx, VD_F32, 100, NULL);
    vd_sort_io io = { { 0 }, { 0 }, { 0 }, { 0 } };
    vd_list *list = vd_immediate(ctx, 0, 0);
    assert_int_equal(vd_sort_run(plan, list, NULL), VD_ERROR_INVALID);
    assert_int_equal(vd_sort_run(NULL, list, &io), VD_ERROR_INVALID);
    assert_int_equal(vd_sort_run(plan, list, &io), VD_ERROR_INVALID);
    io.keys = other;
    assert_int_equal(vd_sort_run(plan, list, &io), VD_ERROR_INVALID);
    says("(keys) has type f32, but u32 is expected");
    io.keys = keys;
    io.values = values;
    assert_int_equal(vd_sort_run(plan, list, &io), VD_ERROR_INVALID);
    says("(values) has 792 bytes, but the plan needs 800");
    vd_sort_destroy(plan);
    vd_sort_destroy(NULL);
    vd_histogram_desc counts = { 0 };
    assert_null(vd_histogram_create(ctx, NULL));
    assert_null(vd_histogram_create(NULL, &counts));
    assert_null(vd_histogram_create(ctx, &counts));
    says("count is 0");
    counts.count = ((uint64_t)1 << 40) + 1;
    counts.bins = 1;
    assert_null(vd_histogram_create(ctx, &counts));
    says("vd_histogram_create 'histogram': count is 1099511627777, but the limit is 1099511627776");
    counts.count = 100;
    counts.bins = 0;
    assert_null(vd_histogram_create(ctx, &counts));
    says("bins is 0");
    counts.bins = (1u << 31) + 1;
    assert_null(vd_histogram_create(ctx, &counts));
    says("bins is 2147483649, but the limit is 2^31");
    counts.bins = 8;
    counts.type = VD_BOOL;
    assert_null(vd_histogram_create(ctx, &counts));
    says("type is bool, but must be a scalar number");
    counts.type = VD_F32;
    counts.bin.build = latch;
    assert_null(vd_histogram_create(ctx, &counts));
    says("vc_add in kernel 'histogram'");
    counts.bin.build = NULL;
    vd_histogram *histogram = vd_histogram_create(ctx, &counts);
    if (!histogram) fail_msg("%s", vd_error_text());
    assert_int_equal(vd_histogram_run(NULL, list, other, keys), VD_ERROR_INVALID);
    assert_int_equal(vd_histogram_run(histogram, list, keys, keys), VD_ERROR_INVALID);
    says("(in) has type u32, but f32 is expected");
    assert_int_equal(vd_histogram_run(histogram, list, other, other), VD_ERROR_INVALID);
    says("(out) has type f32, but u32 is expected");
    vd_histogram_destroy(histogram);
    vd_histogram_destroy(NULL);
    vd_buffer_destroy(ctx, keys);
    vd_buffer_destroy(ctx, values);
    vd_buffer_destroy(ctx, other);
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types), cmocka_unit_test(lengths), cmocka_unit_test(as_for_a_gpu), cmocka_unit_test(simple),
        cmocka_unit_test(histograms), SORT_OWN_TESTS cmocka_unit_test(counts_at_the_limit),
        cmocka_unit_test(long_histogram), cmocka_unit_test(many_bins),
        cmocka_unit_test(bad_input),
    };
    all_cases = argc > 1 && !strcmp(argv[1], "-a");
    return RUN_ON_DEVICE(tests);
}
