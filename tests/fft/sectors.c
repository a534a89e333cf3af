/* The model of memory sectors by which plans copy short rows through shared memory (vd__fft_sector_efficiency),
   compared with sectors counted here, and the plans that follow from it. Runs on the dummy backend. */
#include "tests/fft/own.h"

#include <setjmp.h>

#include <cmocka.h>

static vd_context *gpu(void) {
    vd_context_desc desc = { 0 };
    vd_context *ctx = NULL;
    desc.backend = VD_BACKEND_DUMMY;
    assert_int_equal(setenv("VKDISPATCH_FFT_SHAPES", "gpu-batch", 1), 0); /* the model is of large batches */
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    return ctx;
}

static vd_fft_desc rows_of(uint64_t rows, uint64_t n, vd_fft_kind kind) {
    vd_fft_desc desc = { 0 };
    desc.shape[0] = rows;
    desc.shape[1] = n;
    desc.kind = kind;
    return desc;
}

static vd_fft *plan_of(vd_context *ctx, const vd_fft_desc *desc) {
    vd_fft *plan = vd_fft_create(ctx, desc);
    if (!plan) fail_msg("%s", vd_error_text());
    return plan;
}

/* Whether the rows of the first pass of a direction pass through shared memory while loading, while storing. */
static bool is_tiled(const vd_fft *plan, int direction, int out) {
    vd__fft_tile tile[2];
    vd__fft_choose_tiles(plan, &plan->route[direction].pass[0], tile);
    return tile[out].length != 0;
}

/* The efficiency if each of 128 threads reads element 0, n / 2 or n - 1 of its own row of n elements, which begin
   `pitch` elements apart: sectors are numbers of a bit set here. */
static double thread_rows(uint64_t n, uint64_t pitch, uint64_t bytes) {
    double touched = 0, needed = 0;
    for (uint64_t warp = 0; warp < 4; warp++)
        for (int i = 0; i < 3; i++) {
            static bool is_touched[1 << 20];
            uint64_t j = i == 0 ? 0 : i == 1 ? n / 2 : n - 1, sectors = 0;
            memset(is_touched, 0, sizeof is_touched);
            for (uint64_t thread = warp % 2 * 32 + warp / 2 * 64, end = thread + 32; thread < end; thread++) {
                bool *sector = &is_touched[(thread * pitch + j) * bytes / 32];
                sectors += !*sector;
                *sector = true;
            }
            touched += (double)sectors;
            needed += 32.0 * (double)bytes / 32.0;
        }
    return needed / touched;
}

/* Rows that one thread transforms, of every length and type in memory, without and with gaps between them. */
static void rows_of_one_thread(void **state) {
    static const struct { vd_type type; uint64_t bytes; } types[] = { { VD_F16, 4 }, { VD_F32, 8 }, { VD_F64, 16 } };
    vd_context *ctx = gpu();
    (void)state;
    for (uint64_t n = 2; n <= 32; n++)
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            for (uint64_t gap = 0; gap < 3; gap++) {
                vd_fft_desc desc = rows_of(1000, n, VD_FFT_COMPLEX);
                desc.in_type = desc.out_type = types[i].type;
                desc.in_stride[0] = n + gap;
                desc.in_stride[1] = 1;
                vd_fft *plan = plan_of(ctx, &desc);
                const vd__fft_pass *pass = &plan->route[0].pass[0];
                assert_int_equal(plan->route[0].count, 1);
                if (pass->shape.threads == 1) {
                    double in = thread_rows(n, n + gap, types[i].bytes), out = thread_rows(n, n, types[i].bytes);
                    assert_float_equal(vd__fft_sector_efficiency(plan, pass, false), in, 1e-9);
                    assert_float_equal(vd__fft_sector_efficiency(plan, pass, true), out, 1e-9);
                    assert_int_equal(is_tiled(plan, 0, 0), in < 0.5);
                    assert_int_equal(is_tiled(plan, 0, 1), out < 0.5);
                }
                vd_fft_destroy(plan);
            }
    vd_context_destroy(ctx);
}

/* Long rows and columns use whole sectors, and pass through no shared memory on their way. */
static void long_rows_and_columns(void **state) {
    static const uint64_t lengths[] = { 256, 512, 1024, 2048, 4096 };
    vd_context *ctx = gpu();
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int columns = 0; columns < 2; columns++) {
            vd_fft_desc desc = rows_of(columns ? lengths[i] : 64, columns ? 64 : lengths[i], VD_FFT_COMPLEX);
            desc.axes = columns ? 1 : 2;
            vd_fft *plan = plan_of(ctx, &desc);
            for (int out = 0; out < 2; out++) {
                assert_float_equal(vd__fft_sector_efficiency(plan, &plan->route[0].pass[0], out != 0), 1, 1e-9);
                assert_false(is_tiled(plan, 0, out));
            }
            assert_null(strstr(vd_fft_explain(plan), "sectors"));
            vd_fft_destroy(plan);
        }
    vd_context_destroy(ctx);
}

/* Reals of every kind: short rows are copied in both directions, and the explanation states it. Elements that a thread
   loads for one input count once: DCT2 reads pairs of reals 16 bytes apart. */
static void real_kinds(void **state) {
    vd_context *ctx = gpu();
    (void)state;
    for (int kind = VD_FFT_REAL; kind <= VD_FFT_DST4; kind++) {
        vd_fft_desc desc = rows_of(4096, 28, (vd_fft_kind)kind);
        vd_fft *plan = plan_of(ctx, &desc);
        for (int direction = 0; direction < 2; direction++)
            for (int out = 0; out < 2; out++) assert_true(is_tiled(plan, direction, out));
        assert_non_null(strstr(vd_fft_explain(plan), " % of sectors, so rows are copied through "));
        vd_fft_destroy(plan);
    }
    vd_fft_desc desc = rows_of(64, 4096, VD_FFT_DCT2);
    vd_fft *plan = plan_of(ctx, &desc);
    assert_float_equal(vd__fft_sector_efficiency(plan, &plan->route[0].pass[0], false), 0.5, 0.01);
    assert_false(is_tiled(plan, 0, 0));
    /* its inverse, DCT3, stores one real at a time, 16 bytes apart */
    assert_float_equal(vd__fft_sector_efficiency(plan, &plan->route[1].pass[0], true), 0.25, 0.01);
    assert_true(is_tiled(plan, 1, 1));
    vd_fft_destroy(plan);
    vd_context_destroy(ctx);
}

/* Nothing is copied if it would not help or is impossible: a single row, hooks that read or write nothing of the array,
   columns, too little shared memory. */
static void drops_values(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    static const vc_val none = { 0 };
    (void)k, (void)at, (void)user;
    v->re = v->im = none;
}
static void invents_values(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k, (void)user;
    v->re = v->im = vc_cast(VC_F32, at->index);
}

static void not_copied(void **state) {
    vd_context *ctx = gpu();
    (void)state;
    vd_fft_desc desc = rows_of(1, 14, VD_FFT_COMPLEX);
    vd_fft *single = plan_of(ctx, &desc);
    assert_false(is_tiled(single, 0, 0) || is_tiled(single, 0, 1));
    desc.shape[0] = 1000;
    desc.store = drops_values;
    vd_fft *stores_nothing = plan_of(ctx, &desc);
    assert_true(is_tiled(stores_nothing, 0, 0));
    assert_false(is_tiled(stores_nothing, 0, 1));
    desc.load = invents_values;
    desc.store = NULL;
    vd_fft *loads_nothing = plan_of(ctx, &desc);
    assert_false(is_tiled(loads_nothing, 0, 0));
    assert_true(is_tiled(loads_nothing, 0, 1));
    desc = rows_of(14, 1000, VD_FFT_REAL);
    desc.axes = 1;
    vd_fft *columns = plan_of(ctx, &desc);
    assert_false(is_tiled(columns, 0, 0) || is_tiled(columns, 0, 1));
    vd_fft_destroy(single);
    vd_fft_destroy(stores_nothing);
    vd_fft_destroy(loads_nothing);
    vd_fft_destroy(columns);
    vd_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_one_thread), cmocka_unit_test(long_rows_and_columns), cmocka_unit_test(real_kinds),
        cmocka_unit_test(not_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
