/* vd_kernel_load on damaged, truncated and malicious blobs: returns a kernel or an error, nothing else. */
#include "tests/unit/unit.h"

#ifndef AHEAD_FOLDER
#define AHEAD_FOLDER "build/ahead"
#endif

enum { BLOB_MOST = 1 << 20, HEAD = 24 };

/* `assorted` has all kernels of tests/ahead/assorted.c. `few` has three of them, which contain every kind of record: a
   test that loads a blob once for each of its bytes takes a time that grows with the square of its size. */
static uint8_t assorted[BLOB_MOST], few[BLOB_MOST];
static size_t assorted_size, few_size;
static const char *const few_names[] = { "affine", "nothing", "prints" };
enum { FEW = sizeof few_names / sizeof few_names[0] };

static void put_u64(uint8_t *to, uint64_t x) { for (int i = 0; i < 8; i++) to[i] = (uint8_t)(x >> (8 * i)); }

/* Recomputes size and checksum in the header. */
static void repair(uint8_t *blob, size_t size) {
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = HEAD; i < size; i++) sum = (sum ^ blob[i]) * 0x100000001b3u;
    put_u64(blob + 8, size);
    put_u64(blob + 16, sum);
}

/* Copies the kernels of few_names. Their records follow each other, as described in the room `blob`. */
static void make_few(void) {
    static vd__blob_form form;
    vd__blob b = { assorted + HEAD, assorted_size - HEAD, false };
    uint32_t kernels = vd__blob_u32(&b), copied = 0;
    few_size = HEAD + 4;
    for (uint32_t i = 0; i < kernels && !b.bad; i++) {
        const uint8_t *start = b.data;
        const char *name = vd__blob_string(&b);
        bool wanted = false;
        for (uint32_t forms = vd__blob_u32(&b); forms && !b.bad; forms--) vd__blob_form_read(&b, name, &form);
        for (int j = 0; j < FEW; j++) wanted = wanted || strcmp(name, few_names[j]) == 0;
        if (!wanted) continue;
        memcpy(few + few_size, start, (size_t)(b.data - start));
        few_size += (size_t)(b.data - start);
        copied++;
    }
    memcpy(few, assorted, HEAD);
    few[HEAD] = (uint8_t)copied; /* a little-endian u32 */
    repair(few, few_size);
}

static int read_blob(void **state) {
    FILE *f = fopen(AHEAD_FOLDER "/assorted.blob", "rb");
    (void)state;
    if (!f) { print_error("%s/assorted.blob does not exist; tools/vcc makes it\n", AHEAD_FOLDER); return 1; }
    assorted_size = fread(assorted, 1, BLOB_MOST, f);
    fclose(f);
    if (assorted_size < HEAD) return 1;
    make_few();
    return 0;
}

/* Loads a copy that ends at the allocation's end, so that sanitizers detect every byte read past it. */
static vd_kernel load_copy(vd_context *ctx, const uint8_t *blob, size_t size, const char *name) {
    uint8_t *copy = (uint8_t *)malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, blob, size);
    vd_kernel k = vd_kernel_load(ctx, copy, size, name);
    free(copy);
    return k;
}

static void blob_refused(vd_context *ctx, const uint8_t *blob, size_t size, const char *name, const char *part) {
    vd_error_set(VD_OK, "nothing");
    assert_int_equal(load_copy(ctx, blob, size, name).id, 0);
    CHECK_TEXT(name && *name ? "vd_kernel_load '" : "vd_kernel_load: ");
    CHECK_TEXT(part);
}

static void kernels_are_found_by_name(void **state) {
    static const char *const names[] = { "affine", "transpose", "vectors", "halves", "names", "nothing", "prints" };
    vd_context *ctx = unit_context(NULL);
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        vd_kernel k = load_copy(ctx, assorted, assorted_size, names[i]);
        vd_kernel_info info;
        assert_int_equal(vd_kernel_query(ctx, k, &info), VD_OK);
        assert_string_equal(info.name, names[i]);
    }
    blob_refused(ctx, assorted, assorted_size, "left_out", "'left_out': the blob has no kernel of this name");
    blob_refused(ctx, assorted, assorted_size, "", "the blob has no kernel of this name");
    blob_refused(ctx, assorted, assorted_size, NULL, "the blob has 7 kernels; select one with name");
    blob_refused(ctx, few, few_size, NULL, "the blob has 3 kernels; select one with name");
    for (int i = 0; i < FEW; i++) assert_int_not_equal(load_copy(ctx, few, few_size, few_names[i]).id, 0);
    assert_int_equal(vd_kernel_load(ctx, NULL, 5, "affine").id, 0);
    CHECK_TEXT("'affine': blob is NULL");
    assert_int_equal(vd_kernel_load(NULL, assorted, assorted_size, "affine").id, 0);
    CHECK_TEXT("the context is NULL");
    vd_context_destroy(ctx);
}

static void any_alignment_is_accepted(void **state) {
    static uint8_t moved[BLOB_MOST + 8];
    vd_context *ctx = unit_context(NULL);
    (void)state;
    for (size_t by = 0; by < 8; by++) {
        memcpy(moved + by, assorted, assorted_size);
        assert_int_not_equal(vd_kernel_load(ctx, moved + by, assorted_size, "transpose").id, 0);
    }
    vd_context_destroy(ctx);
}

static void truncated_blobs_are_refused(void **state) {
    vd_context *ctx = unit_context(NULL);
    static uint8_t cut[BLOB_MOST];
    (void)state;
    for (size_t size = 0; size < few_size; size += unit_stride()) {
        blob_refused(ctx, few, size, "affine", size < HEAD ? "not a file of kernels" : "its header has");
        if (size < HEAD) continue;
        memcpy(cut, few, size);
        repair(cut, size);
        blob_refused(ctx, cut, size, "affine", "tables are inconsistent");
    }
    memcpy(cut, few, few_size);
    repair(cut, few_size + 4);
    blob_refused(ctx, cut, few_size + 4, "affine", "tables are inconsistent");
    vd_context_destroy(ctx);
}

static void every_changed_byte_is_detected(void **state) {
    vd_context *ctx = unit_context(NULL);
    (void)state;
    for (size_t i = 0; i < few_size; i += unit_stride()) {
        uint8_t was = few[i];
        few[i] = (uint8_t)(was ^ (1u << i % 8));
        blob_refused(ctx, few, few_size, "affine",
                     i < 4    ? "not a file of kernels"
                     : i < 8  ? "has version"
                     : i < 16 ? "its header has"
                              : "is damaged");
        few[i] = was;
    }
    vd_context_destroy(ctx);
}

/* With a valid checksum, changed contents give a kernel or an error. The sanitized run checks that there is no other
   effect. */
static void changed_contents_with_a_valid_checksum_are_harmless(void **state) {
    static const uint32_t odd[] = {
        0, 1, 2, 3, 4, 255, 64, 65, 257, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0xfffffffc
    };
    static uint8_t changed[BLOB_MOST];
    vd_context *ctx = unit_context(NULL);
    uint64_t random = 1;
    int made = 0;
    (void)state;
    for (uint32_t round = 0; round < 20000 / unit_stride(); round++) {
        size_t size = few_size;
        memcpy(changed, few, size);
        for (uint32_t times = 1 + unit_random(&random) % 3; times; times--) {
            const bool early = unit_random(&random) % 4 != 0;
            const size_t words = (size - HEAD) / 4, number = unit_random(&random);
            const size_t at = HEAD + 4 * (early ? number % 60 % words : number % words);
            uint32_t word = odd[unit_random(&random) % (sizeof odd / sizeof odd[0])];
            if (unit_random(&random) % 2) memcpy(changed + at, &word, 4);
            else changed[at] = (uint8_t)unit_random(&random);
        }
        if (unit_random(&random) % 8 == 0) size = HEAD + unit_random(&random) % (size - HEAD);
        repair(changed, size);
        vd_error_set(VD_OK, "nothing");
        vd_kernel k = load_copy(ctx, changed, size, few_names[round % FEW]);
        if (!k.id) assert_string_not_equal(vd_error_text(), "nothing");
        else vd_kernel_destroy(ctx, k);
        made += k.id != 0;
    }
    assert_true(made > 100);
    vd_context_destroy(ctx);
}

/* ---- out of memory ---- */

static void failed_allocations_are_reported(void **state) {
    unit_memory memory = { 0, 0, 0, false };
    bool made = false;
    (void)state;
    for (long at = 1; !made; at++) {
        vd_context_desc desc;
        vd_context *ctx = NULL;
        memset(&desc, 0, sizeof desc);
        desc.backend = VD_BACKEND_DUMMY;
        desc.allocator.allocate = unit_allocate;
        desc.allocator.reallocate = unit_reallocate;
        desc.allocator.release = unit_release;
        desc.allocator.user = &memory;
        assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
        memory.calls = 0;
        memory.fail_at = at;
        vd_error_set(VD_OK, "nothing");
        made = vd_kernel_load(ctx, assorted, assorted_size, "transpose").id != 0;
        memory.fail_at = 0;
        if (!made) CHECK_TEXT("vd_kernel_load 'transpose': out of host memory");
        vd_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
        assert_true(at < 100);
    }
}

#define CASE(name) cmocka_unit_test_setup(name, read_blob)

static const struct CMUnitTest blob_tests[] = {
    CASE(kernels_are_found_by_name), CASE(any_alignment_is_accepted),
    CASE(truncated_blobs_are_refused), CASE(every_changed_byte_is_detected),
    CASE(changed_contents_with_a_valid_checksum_are_harmless), CASE(failed_allocations_are_reported),
};
#undef CASE
