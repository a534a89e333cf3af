/* Buffers of more than 2^32 bytes and of 2^32 elements: kernels, fills, copies, reductions, scans, transforms of rows,
   sorts. Each test runs with a small buffer, which tests the test, and with one of 16 GiB on a GPU with enough memory.
   The results are checked on the device; sums and single elements also on the host. HUGE_BYTES replaces the small
   size: a multiple of 512 KiB. */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

enum { SMALL = 1 << 20, ROW = 4096, LINE = 1 << 16 };

typedef void huge_test(vd_buffer all, uint64_t words);

static uint32_t hash_of(uint64_t i) { return (uint32_t)(i * 2654435761u) ^ (uint32_t)((i >> 16) * 40503u); }

/* Index of this thread's element. Work is dispatched as lines of `LINE` threads, because an axis has fewer than
   2^32. */
static vc_val element(vc_kernel *k) {
    return vc_add(vc_mul(vc_cast(VC_U64, vc_global_id(k, 1)), vc_u64(LINE)), vc_cast(VC_U64, vc_global_id(k, 0)));
}

static vc_val hash_in_kernel(vc_val i) {
    vc_val low = vc_cast(VC_U32, i), middle = vc_cast(VC_U32, vc_shr(i, vc_u32(16)));
    return vc_xor(vc_mul(low, vc_u32(2654435761u)), vc_mul(middle, vc_u32(40503u)));
}

static vc_kernel *begin(const char *name) {
    vc_kernel_desc desc = { 0 };
    desc.name = name;
    desc.local_size[0] = 256;
    desc.machine = vd_machine(device_context);
    return vc_begin(&desc);
}

static void execute(vc_kernel *k, uint64_t threads, const vd_arg *args, int count) {
    vd_kernel kernel = vd_kernel_build(device_context, k);
    vd_dispatch_desc desc = { 0 };
    desc.kernel = kernel;
    desc.threads[0] = LINE;
    desc.threads[1] = threads / LINE;
    desc.args = args;
    desc.arg_count = count;
    vc_free(k);
    if (!kernel.id || vd_dispatch(vd_immediate(device_context, 0, 0), &desc)) fail_msg("%s", vd_error_text());
    vd_kernel_destroy(device_context, kernel);
}

static uint32_t word_at(vd_buffer b, uint64_t index) {
    uint32_t word = 0;
    if (vd_buffer_read(device_context, b, 4 * index, &word, 4)) fail_msg("%s", vd_error_text());
    return word;
}

static uint32_t sum_of(vd_buffer b) {
    vd_buffer out = buffer_of(device_context, VD_U32, 1, NULL);
    if (vd_reduce_sum(device_context, b, out)) fail_msg("%s", vd_error_text());
    uint32_t sum = word_at(out, 0);
    vd_buffer_destroy(device_context, out);
    return sum;
}

/* x[i] = hash of i */
static void store_hashes(vd_buffer all, uint64_t words) {
    vc_kernel *k = begin("hashes");
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_WRITE);
    vc_val i = element(k);
    vc_store(x, i, hash_in_kernel(i));
    vd_arg args[] = { vd_b(all) };
    execute(k, words, args, 1);
}

/* The last quarter is copied to the first, and the second one is filled. */
static void kernels_copies_and_sums(vd_buffer all, uint64_t words) {
    uint64_t quarter = words / 4;
    uint32_t expected = 0, value = 0x89abcdefu, part = (uint32_t)quarter * value;
    store_hashes(all, words);
    for (uint64_t i = 0; i < words; i++) expected += hash_of(i);
    assert_int_equal(sum_of(all), expected);
    vd_list *now = vd_immediate(device_context, 0, 0);
    assert_int_equal(vd_copy(now, all, 0, all, 3 * 4 * quarter, 4 * quarter), VD_OK);
    assert_int_equal(vd_fill(now, all, 4 * quarter, 4 * quarter, &value, 4), VD_OK);
    for (uint64_t i = 0; i < quarter; i++) part += hash_of(3 * quarter + i);
    for (uint64_t i = 2 * quarter; i < words; i++) part += hash_of(i);
    assert_int_equal(sum_of(all), part);
    for (uint64_t i = 1; i < words; i = i * 3 + 1) {
        uint32_t word = i < quarter ? hash_of(3 * quarter + i) : i < 2 * quarter ? value : hash_of(i);
        if (word_at(all, i) != word) fail_msg("x[%llu] is %u, not %u", (unsigned long long)i, word_at(all, i), word);
    }
    assert_int_equal(word_at(all, words - 1), hash_of(words - 1));
}

/* Frequency of a row. */
static vc_val frequency(vc_val row) { return vc_and(vc_mul(row, vc_u32(2654435761u)), vc_u32(ROW - 1)); }

/* Row r is a complex exponential with one frequency, whose spectrum has one bin of ROW and otherwise zeros. type: of
   the complex numbers in memory. */
static void transform_rows(vd_buffer all, vd_type type, uint64_t count, float tolerance) {
    uint64_t rows = count / ROW;
    vd_buffer x = view_of(device_context, all, type, 0, count);
    vd_buffer wrong = buffer_of(device_context, VD_U32, 1, NULL);
    vd_arg args[] = { vd_b(x), vd_b(wrong) };
    vd_fft_desc desc = { 0 };
    vd_fft_io io = { 0 };
    vc_kernel *k = begin("waves");
    vc_ref to = vc_buffer(k, "x", type, VC_WRITE);
    vc_val i = element(k), row = vc_cast(VC_U32, vc_div(i, vc_u64(ROW))), at = vc_cast(VC_U32, i);
    vc_val turn = vc_and(vc_mul(frequency(row), vc_and(at, vc_u32(ROW - 1))), vc_u32(ROW - 1));
    vc_val angle = vc_mul(vc_cast(VC_F32, turn), vc_f32(6.283185307f / ROW));
    vc_store(to, i, vc_cast(type, vc_vec2(vc_cos(angle), vc_sin(angle))));
    execute(k, count, args, 1);

    desc.shape[0] = rows;
    desc.shape[1] = ROW;
    desc.in_type = desc.out_type = type == VD_VEC(VD_F16, 2) ? VD_F16 : VD_F32;
    vd_fft *plan = vd_fft_create(device_context, &desc);
    io.in = io.out = x;
    if (!plan || vd_fft_run(plan, vd_immediate(device_context, 0, 0), &io)) fail_msg("%s", vd_error_text());

    k = begin("check");
    vc_ref from = vc_buffer(k, "x", type, VC_READ), errors = vc_buffer(k, "wrong", VC_U32, VC_READ_WRITE);
    i = element(k);
    row = vc_cast(VC_U32, vc_div(i, vc_u64(ROW)));
    vc_val bin = vc_and(vc_cast(VC_U32, i), vc_u32(ROW - 1)), v = vc_cast(VC_F32X2, vc_load(from, i));
    vc_val expected = vc_select(vc_eq(bin, frequency(row)), vc_f32(ROW), vc_f32(0));
    vc_val error = vc_add(vc_abs(vc_sub(vc_component(v, 0), expected)), vc_abs(vc_component(v, 1)));
    VC_IF(k, vc_not(vc_lt(error, vc_f32(tolerance)))) vc_atomic_add(errors, vc_u32(0), vc_u32(1), NULL);
    assert_int_equal(vd_fill(vd_immediate(device_context, 0, 0), wrong, 0, VD_WHOLE, NULL, 0), VD_OK);
    execute(k, count, args, 2);
    assert_int_equal(word_at(wrong, 0), 0);
    vd_fft_destroy(plan);
    vd_buffer_destroy(device_context, x);
    vd_buffer_destroy(device_context, wrong);
}

static void transforms_of_rows(vd_buffer all, uint64_t words) { transform_rows(all, VD_F32X2, words / 2, 0.05f); }

/* Of 2^32 complex numbers, in 16 GiB. The spectrum's highest value is rounded to a multiple of 4. */
static void transforms_of_halves(vd_buffer all, uint64_t words) {
    if (!(vd_device(device_context, 0)->features & VD_FEATURE_STORAGE_16)) {
        print_message("# reason: the device has no 16-bit elements in buffers\n");
        skip();
    }
    transform_rows(all, VD_VEC(VD_F16, 2), words, 4);
}

/* Scans ones in place: each sum is the index modulo 2^32. */
static void scans(vd_buffer all, uint64_t words) {
    vd_buffer wrong = buffer_of(device_context, VD_U32, 1, NULL);
    vd_arg args[] = { vd_b(all), vd_b(wrong) };
    vd_list *now = vd_immediate(device_context, 0, 0);
    const uint32_t one = 1;
    assert_int_equal(vd_fill(now, all, 0, VD_WHOLE, &one, 4), VD_OK);
    if (vd_scan_exclusive(device_context, all, all)) fail_msg("%s", vd_error_text());
    vc_kernel *k = begin("numbers");
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ), count = vc_buffer(k, "wrong", VC_U32, VC_READ_WRITE);
    vc_val i = element(k);
    VC_IF(k, vc_ne(vc_load(x, i), vc_cast(VC_U32, i))) vc_atomic_add(count, vc_u32(0), vc_u32(1), NULL);
    execute(k, words, args, 2);
    assert_int_equal(word_at(wrong, 0), 0);
    vd_buffer_destroy(device_context, wrong);
}

/* Sorts the first `keys` words; the plan needs another copy. */
static void sort_words(vd_buffer all, uint64_t words, uint64_t keys) {
    vd_buffer x = view_of(device_context, all, VD_U32, 0, keys);
    vd_buffer wrong = buffer_of(device_context, VD_U32, 1, NULL);
    store_hashes(all, words);
    uint32_t before = sum_of(x);
    vd_sort_desc desc = { 0 };
    vd_sort_io io = { 0 };
    desc.type = VD_U32;
    desc.count = keys;
    io.keys = x;
    vd_sort *plan = vd_sort_create(device_context, &desc);
    if (!plan || vd_sort_run(plan, vd_immediate(device_context, 0, 0), &io)) fail_msg("%s", vd_error_text());
    assert_int_equal(sum_of(x), before);

    vc_kernel *k = begin("order");
    vc_ref from = vc_buffer(k, "x", VC_U32, VC_READ), count = vc_buffer(k, "wrong", VC_U32, VC_READ_WRITE);
    vc_val i = element(k), last = vc_eq(i, vc_u64(keys - 1));
    vc_val next = vc_load(from, vc_select(last, i, vc_add(i, vc_u64(1))));
    VC_IF(k, vc_gt(vc_load(from, i), next)) vc_atomic_add(count, vc_u32(0), vc_u32(1), NULL);
    vd_arg args[] = { vd_b(x), vd_b(wrong) };
    assert_int_equal(vd_fill(vd_immediate(device_context, 0, 0), wrong, 0, VD_WHOLE, NULL, 0), VD_OK);
    execute(k, keys, args, 2);
    assert_int_equal(word_at(wrong, 0), 0);
    vd_sort_destroy(plan);
    vd_buffer_destroy(device_context, x);
    vd_buffer_destroy(device_context, wrong);
}

static void sorted_keys(vd_buffer all, uint64_t words) { sort_words(all, words, words / 2); }
static void sorted_words(vd_buffer all, uint64_t words) { sort_words(all, words, words); }

static void plans_of_transforms(vd_context *ctx) {
    static const struct { uint64_t shape[3]; uint32_t axes; vd_fft_kind kind; const char *refused; } cases[] = {
        { { 1 << 24, 1 << 10 }, 2, VD_FFT_COMPLEX, NULL },
        { { 1 << 10, 1 << 24 }, 1, VD_FFT_COMPLEX, NULL },
        { { 1 << 24, 1 << 11 }, 2, VD_FFT_REAL, NULL },
        { { 1 << 11, 1 << 24 }, 1, VD_FFT_DCT2, NULL },
        /* several passes; the dummy backend lacks the memory */
        { { 1 << 10, 1 << 24 }, 2, VD_FFT_COMPLEX, "cannot create buffer 'fft temporary 1' of 137438953472 bytes" },
        { { 1 << 16, 65537 }, 2, VD_FFT_COMPLEX, "cannot create buffer 'fft temporary 1' of " },
        { { (uint64_t)1 << 33 }, 1, VD_FFT_COMPLEX,
          "dimension 0 has 8589934592 elements, but the limit of a transformed dimension is 4294967295" },
        { { (uint64_t)1 << 32, 2 }, 2, VD_FFT_COMPLEX, "dimension 1 has 4294967296 transforms, but the limit is 2147483648" },
        { { (uint64_t)1 << 32, 32 }, 2, VD_FFT_COMPLEX, "4294967296 x 32, but the limit is 68719476736 elements" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        vd_fft_desc desc = { 0 };
        memcpy(desc.shape, cases[i].shape, sizeof cases[i].shape);
        desc.axes = cases[i].axes;
        desc.kind = cases[i].kind;
        vd_fft *plan = vd_fft_create(ctx, &desc);
        if (!plan != (cases[i].refused != NULL)) fail_msg("case %zu: %s", i, vd_error_text());
        if (!plan) says(cases[i].refused);
        vd_fft_destroy(plan);
    }
}

/* Plans of more than 2^32 elements, which the dummy backend does not execute. */
static void plans(void **state) {
    vd_context *ctx = dummy_context();
    vd_scan_desc scan = { 0 };
    vd_reduce_desc reduce = { 0 };
    vd_sort_desc sort = { 0 };
    (void)state;
    scan.type = reduce.type = sort.type = VD_U8;
    for (int axis = 0; axis < 3; axis++) { /* the last axis; others, which are short and long */
        scan.shape[0] = axis == 1 ? 40 : (uint64_t)1 << (axis ? 20 : 33);
        scan.shape[1] = axis == 1 ? (uint64_t)1 << 28 : axis ? 10007 : 0;
        scan.axes = axis ? 1 : 0;
        vd_scan *p = vd_scan_create(ctx, &scan);
        if (!p) fail_msg("%s", vd_error_text());
        vd_scan_destroy(p);
    }
    scan.shape[0] = ((uint64_t)1 << 32) + 1;
    scan.shape[1] = 3;
    assert_null(vd_scan_create(ctx, &scan));
    says("3 rows of 4294967297 elements, but the limit is 4294967295 rows, and elements of a "
         "row, along an axis that is not the last");
    reduce.shape[0] = (uint64_t)1 << 39;
    vd_reduce *r = vd_reduce_create(ctx, &reduce);
    if (!r) fail_msg("%s", vd_error_text());
    vd_reduce_destroy(r);
    plans_of_transforms(ctx);
    sort.count = ((uint64_t)1 << 33) + 1; /* a plan with fewer keys has memory for them */
    assert_null(vd_sort_create(ctx, &sort));
    says("count is 8589934593, but the limit is 8589934592");
    vd_context_destroy(ctx);
}

static void run_with(huge_test *test, uint64_t bytes) {
    vd_buffer all = buffer_of(device_context, VD_U32, bytes / 4, NULL);
    if (!all.id) fail_msg("%s", vd_error_text());
    test(all, bytes / 4);
    vd_buffer_destroy(device_context, all);
    assert_int_equal(vd_plan_cache_clear(device_context), VD_OK);
    assert_int_equal(vd_wait_idle(device_context), VD_OK);
    nothing_left(device_context);
}

static void need_64_bits(void) {
    need_device();
    if (vd_device(device_context, 0)->features & VD_FEATURE_I64) return;
    print_message("# reason: the device has no 64-bit integers\n");
    skip();
}

static void run_small(huge_test *test) {
    const char *bytes = getenv("HUGE_BYTES");
    need_64_bits();
    run_with(test, bytes ? strtoull(bytes, NULL, 0) : SMALL);
}

static void run_huge(huge_test *test) {
    const uint64_t bytes = (uint64_t)16 << 30;
    need_64_bits();
    const vd_device_info *device = vd_device(device_context, 0);
    uint64_t limit = device->limits.max_buffer_bytes, binding = device->limits.max_binding_bytes;
    if (!(device->features & VD_FEATURE_ADDRESS) && binding < limit) limit = binding;
    if (device->type != VD_DEVICE_DISCRETE || device->device_memory < 2 * bytes + bytes / 2 || limit < bytes) {
        print_message("# reason: '%s' has %llu MiB of memory and buffers of up to %llu MiB; this test needs a GPU with "
                      "40 GiB and buffers of 16 GiB\n", device->name,
                      (unsigned long long)(device->device_memory >> 20), (unsigned long long)(limit >> 20));
        skip();
    }
    run_with(test, bytes);
}

#define TESTS(name) \
    static void name##_small(void **state) { (void)state; run_small(name); } \
    static void name##_of_16_gib(void **state) { (void)state; run_huge(name); }
TESTS(kernels_copies_and_sums)
TESTS(transforms_of_rows)
TESTS(transforms_of_halves)
TESTS(sorted_keys)
TESTS(sorted_words)
TESTS(scans)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_copies_and_sums_small), cmocka_unit_test(transforms_of_rows_small),
        cmocka_unit_test(sorted_keys_small), cmocka_unit_test(kernels_copies_and_sums_of_16_gib),
        cmocka_unit_test(transforms_of_rows_of_16_gib), cmocka_unit_test(sorted_keys_of_16_gib),
        cmocka_unit_test(sorted_words_small), cmocka_unit_test(sorted_words_of_16_gib), cmocka_unit_test(scans_small),
        cmocka_unit_test(scans_of_16_gib), cmocka_unit_test(plans), cmocka_unit_test(transforms_of_halves_small),
        cmocka_unit_test(transforms_of_halves_of_16_gib),
    };
    return RUN_ON_DEVICE(tests);
}
