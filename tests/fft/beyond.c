/* Plans and runs for arrays of more than 2^32 elements, on a dummy backend without memory: kernels are built and
   launches recorded, for a GPU and for a processor. tests/fft/large*.c run such kernels on small arrays. */
#define _POSIX_C_SOURCE 200809L
#include "tests/insides.h"

#include "common.h"
#include "no_memory.h"

#define P(n) ((uint64_t)1 << (n))

static vd_context *ctx;
static vd__backend backend;
static uint32_t launches;

static vd_result count_launch(vd__device *dev, vd__commands *c, const vd__launch *launch) {
    (void)dev, (void)c;
    for (int i = 0; i < 3; i++) assert_true(launch->groups[i] > 0);
    launches++;
    return VD_OK;
}

static void open_context(bool processor) {
    vd_device_info info = { 0 };
    vd_context_desc desc = { 0 };
    info.type = processor ? VD_DEVICE_CPU : VD_DEVICE_DISCRETE;
    info.features = ((uint64_t)1 << 14) - 1;
    info.facts.forward_progress = !processor;
    info.facts.groups_as_loops = info.facts.ordered_stores = processor;
    info.facts.concurrent_groups = processor ? 8 : 528;
    info.device_memory = P(50);
    info.limits.max_buffer_bytes = info.limits.max_binding_bytes = P(50);
    info.limits.max_groups[0] = INT32_MAX;
    desc.backend = VD_BACKEND_DUMMY;
    desc.dummy = &info;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    backend = no_memory_backend();
    backend.record_launch = count_launch;
    ctx->driver.backend = &backend;
}

static vd_buffer array(vd_type type, uint64_t elements) {
    vd_buffer b = buffer_of(ctx, type, elements, NULL);
    if (!b.id) fail_msg("%s", vd_error_text());
    return b;
}

static uint64_t product(const uint64_t *shape) {
    uint64_t n = 1;
    for (int i = 0; i < 4 && shape[i]; i++) n *= shape[i];
    return n;
}

/* Checks the result of recording a run: that launches were recorded or, if `refusal` is not NULL, that the run was
   refused with this text. number: of the case, for messages. */
static void expect(vd_result result, const char *refusal, size_t number) {
    if (!result != !refusal) fail_msg("case %zu: %s", number, result ? vd_error_text() : "not refused");
    if (refusal) says(refusal);
    else assert_true(launches > 0);
    launches = 0;
}

/* ---- one function for each kind of plan, with a table of cases ---- */

static void transforms(vd_list *list) {
    static const struct { uint64_t shape[4]; uint32_t axes; vd_type type; vd_fft_kind kind; } cases[] = {
        { { P(29), 64, 0, 0 }, 2, VD_F32, VD_FFT_COMPLEX }, { { P(30), 64, 0, 0 }, 2, VD_F16, VD_FFT_COMPLEX },
        { { P(31), 4, 0, 0 }, 2, VD_F16, VD_FFT_COMPLEX }, { { P(24), 4096, 0, 0 }, 2, VD_F32, VD_FFT_COMPLEX },
        { { P(18), P(18), 0, 0 }, 2, VD_F32, VD_FFT_COMPLEX }, { { P(17), P(18), 0, 0 }, 3, VD_F32, VD_FFT_COMPLEX },
        { { 64, P(30), 0, 0 }, 1, VD_F32, VD_FFT_COMPLEX }, { { P(10), P(10), P(15), 0 }, 7, VD_F32, VD_FFT_COMPLEX },
        { { P(24), 1009, 0, 0 }, 2, VD_F32, VD_FFT_COMPLEX }, { { P(25), P(10), 0, 0 }, 2, VD_F32, VD_FFT_REAL },
        { { P(10), P(24), 0, 0 }, 2, VD_F32, VD_FFT_REAL }, { { 64, P(29), 0, 0 }, 1, VD_F32, VD_FFT_DCT2 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        vd_fft_desc desc = { 0 };
        vd_fft_io io = { 0 };
        memcpy(desc.shape, cases[i].shape, sizeof desc.shape);
        desc.axes = cases[i].axes;
        desc.kind = cases[i].kind;
        desc.in_type = desc.out_type = cases[i].type;
        vd_fft *plan = vd_fft_create(ctx, &desc);
        if (!plan) fail_msg("case %zu: %s", i, vd_error_text());
        io.in = array(VD_BYTES, product(desc.shape) * 16);
        io.out = desc.kind == VD_FFT_COMPLEX ? io.in : array(VD_BYTES, product(desc.shape) * 16);
        expect(vd_fft_run(plan, list, &io), NULL, i);
        vd_fft_destroy(plan);
    }
}

static void reductions(vd_list *list) {
    static const struct { uint64_t shape[4]; uint32_t axes; vd_reduce_op op; vd_type type, out; } cases[] = {
        { { P(33), 0, 0, 0 }, 1, VD_REDUCE_SUM, VD_F32, VD_F32 },
        { { P(40), 0, 0, 0 }, 1, VD_REDUCE_MAX, VD_U8, VD_U8 },
        { { P(31), 4, 0, 0 }, 2, VD_REDUCE_SUM, VD_F32, VD_F32 },
        { { 4, P(31), 0, 0 }, 1, VD_REDUCE_SUM, VD_F32, VD_F32 },
        { { P(26), 4, 32, 0 }, 2, VD_REDUCE_SUM, VD_U8, VD_U8 },
        { { P(28), 17, 3, 0 }, 5, VD_REDUCE_MEAN, VD_F32, VD_F32 },
        { { P(33), 0, 0, 0 }, 1, VD_REDUCE_ARGMIN, VD_F32, VD_U64 },
        { { 3, UINT32_MAX - 1, 0, 0 }, 2, VD_REDUCE_ARGMAX, VD_U8, VD_U32 },
        { { 3, UINT32_MAX, 0, 0 }, 2, VD_REDUCE_ARGMAX, VD_U8, VD_U64 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        vd_reduce_desc desc = { 0 };
        memcpy(desc.shape, cases[i].shape, sizeof desc.shape);
        desc.axes = cases[i].axes;
        desc.op = cases[i].op;
        desc.type = cases[i].type;
        vd_reduce *plan = vd_reduce_create(ctx, &desc);
        if (!plan) fail_msg("case %zu: %s", i, vd_error_text());
        vd_buffer in = array(desc.type, product(desc.shape)), out = array(cases[i].out, P(31));
        expect(vd_reduce_run(plan, list, in, out), NULL, i);
        vd_reduce_destroy(plan);
    }
}

/* Types of indices: explicit ones, and those of the buffers that functions without a plan receive. */
static void indices(vd_list *list) {
    vd_reduce_desc desc = { 0 };
    vd_top_k_desc best = { 0 };
    vd_buffer in = array(VD_U8, UINT32_MAX), out = array(VD_U32, 1), wide = array(VD_U64, 1), value = array(VD_U8, 1);
    (void)list;
    desc.op = VD_REDUCE_ARGMIN;
    desc.type = best.type = VD_U8;
    desc.shape[0] = best.shape[0] = UINT32_MAX;
    desc.index_type = best.index_type = VD_U32;
    best.k = 1;
    assert_null(vd_reduce_create(ctx, &desc));
    says("indices of 4294967295 elements are u32, but the limit for u32 is 4294967294; use indices of type VD_U64");
    assert_null(vd_top_k_create(ctx, &best));
    says("indices of 4294967295 elements are u32, but the limit for u32 is 2147483648; use indices of type VD_U64");
    expect(vd_reduce_argmin(ctx, in, wide), NULL, 0);
    expect(vd_reduce_argmax(ctx, in, out), "vd_reduce_argmax: indices of 4294967295 elements are u32, but the limit", 1);
    expect(vd_top_k_smallest(ctx, in, value, wide), NULL, 2);
    expect(vd_top_k_largest(ctx, in, value, out), "vd_top_k_largest: indices of 4294967295 elements are u32, but", 3);
}

static void shifts(vd_list *list) {
    static const struct { uint64_t shape[4]; uint32_t axes; const char *refusal; } cases[] = {
        { { P(33), 0, 0, 0 }, 1, NULL }, { { 3, P(32), 5, 1 }, 15, NULL }, { { P(19), P(19), 0, 0 }, 2, NULL },
        { { P(38) + 1, 0, 0, 0 }, 0, "'numbers' has 274877906945 elements, but the limit is 274877906944" },
    };
    (void)list;
    for (size_t i = 0; i < COUNT(cases); i++) {
        vd_buffer_desc desc = { 0 };
        desc.name = "numbers";
        desc.type = VD_F32;
        memcpy(desc.shape, cases[i].shape, sizeof desc.shape);
        vd_buffer in = vd_buffer_create(ctx, &desc), out = vd_buffer_create(ctx, &desc);
        expect(vd_fft_shift(ctx, in, out, cases[i].axes, VD_FFT_FORWARD), cases[i].refusal, i);
    }
}

static void scans(vd_list *list) {
    static const struct { uint64_t shape[4]; uint32_t axes; vd_type type; } cases[] = {
        { { P(33), 0, 0, 0 }, 1, VD_F32 }, { { P(40), 0, 0, 0 }, 1, VD_U8 }, { { P(32), 4, 0, 0 }, 2, VD_F32 },
        { { P(23), 4096, 0, 0 }, 2, VD_F32 }, { { P(20), 40960, 0, 0 }, 1, VD_F32 },
        { { 2, UINT32_MAX, 0, 0 }, 1, VD_F32 },
    };
    for (size_t i = 0; i < 3 * COUNT(cases); i++) {
        vd_scan_desc desc = { 0 };
        vd_scan_io io = { 0 };
        memcpy(desc.shape, cases[i / 3].shape, sizeof desc.shape);
        desc.axes = cases[i / 3].axes;
        desc.type = cases[i / 3].type;
        desc.method = (vd_scan_method)(i % 3);
        vd_scan *plan = vd_scan_create(ctx, &desc);
        if (!plan) fail_msg("case %zu: %s", i, vd_error_text());
        io.in = io.out = array(desc.type, product(desc.shape));
        expect(vd_scan_run(plan, list, &io), NULL, i);
        vd_scan_destroy(plan);
    }
}

static void positive(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_lt(vc_imm(vc_typeof(io->in[0]), 0), io->in[0]);
}

static void compactions_and_sorts(vd_list *list) {
    for (size_t method = 0; method < 3; method++) {
        vd_compact_desc compact = { 0 };
        vd_scan_io scan = { 0 };
        compact.type = VD_U8;
        compact.count = P(36);
        compact.keep.build = positive;
        compact.method = (vd_scan_method)method;
        vd_scan *plan = vd_compact_create(ctx, &compact);
        if (!plan) fail_msg("%s", vd_error_text());
        scan.in = array(VD_U8, P(36));
        scan.out = array(VD_U8, P(36));
        scan.count = array(VD_U64, 1);
        expect(vd_scan_run(plan, list, &scan), NULL, method);
        vd_scan_destroy(plan);
        vd_sort_desc desc = { 0 };
        vd_sort_io io = { 0 };
        desc.type = VD_F32;
        desc.values = VD_U64;
        desc.count = P(33);
        desc.method = compact.method;
        vd_sort *sort = vd_sort_create(ctx, &desc);
        if (!sort) fail_msg("%s", vd_error_text());
        io.keys = array(VD_F32, P(33));
        io.values = array(VD_U64, P(33));
        expect(vd_sort_run(sort, list, &io), NULL, method);
        vd_sort_destroy(sort);
    }
}

static void histograms(vd_list *list) {
    for (size_t i = 0; i < 3; i++) {
        static const uint32_t bins[] = { 256, 65536, 1 << 20 };
        vd_histogram_desc desc = { 0 };
        desc.type = i ? VD_F32 : VD_U8;
        desc.count = P(36);
        desc.bins = bins[i];
        vd_histogram *plan = vd_histogram_create(ctx, &desc);
        if (!plan) fail_msg("%s", vd_error_text());
        expect(vd_histogram_run(plan, list, array(desc.type, P(36)), array(VD_U64, bins[i])), NULL, i);
        vd_histogram_destroy(plan);
    }
}

static void top_k(vd_list *list) {
    static const struct { uint64_t shape[4]; uint32_t k; vd_type index; } cases[] = {
        { { P(33), 0, 0, 0 }, 10, VD_U64 }, { { INT32_MAX, 4, 0, 0 }, 2, VD_U32 }, { { P(29), 64, 0, 0 }, 2, VD_U32 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        vd_top_k_desc desc = { 0 };
        vd_top_k_io io;
        memcpy(desc.shape, cases[i].shape, sizeof desc.shape);
        desc.k = cases[i].k;
        vd_top_k *plan = vd_top_k_create(ctx, &desc);
        if (!plan) fail_msg("case %zu: %s", i, vd_error_text());
        io.in = array(VD_F32, product(desc.shape));
        io.values = array(VD_F32, P(32));
        io.indices = array(cases[i].index, P(32));
        expect(vd_top_k_run(plan, list, &io), NULL, i);
        vd_top_k_destroy(plan);
    }
}

/* ---- */

static void run_on(void (*test)(vd_list *list), bool processor) {
    vd_list_desc desc = { 0 };
    open_context(processor);
    vd_list *list = vd_list_begin(ctx, &desc);
    test(list);
    vd_list_discard(list);
    vd_context_destroy(ctx);
}

#define TEST(name) \
    static void name##_on_a_gpu(void **state) { (void)state; run_on(name, false); } \
    static void name##_on_a_processor(void **state) { (void)state; run_on(name, true); }
TEST(transforms)
TEST(reductions)
TEST(scans)
TEST(compactions_and_sorts)
TEST(histograms)
TEST(top_k)
TEST(indices)
TEST(shifts)

#define BOTH(name) cmocka_unit_test(name##_on_a_gpu), cmocka_unit_test(name##_on_a_processor)

int main(void) {
    const struct CMUnitTest tests[] = { BOTH(transforms), BOTH(reductions), BOTH(scans), BOTH(compactions_and_sorts),
                                        BOTH(histograms), BOTH(top_k), BOTH(indices), BOTH(shifts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
