/* Average relative errors of a bin, mean |y - r| / |r| over all results y and references r, for random numbers. Bounds
   are those of pocketfft (SciPy 1.17.1) for the same inputs, times a factor; tools/bench/accuracy.c compares both. */
#include "common.h"
#include "fftw.h"

#include <math.h>

typedef struct bound { uint64_t n; double f32, f64; } bound; /* f64 0: not tested */

/* Returns the error of a transform of rows of n elements. */
static double error_of(vd_type type, uint64_t n) {
    uint64_t rows = n < 32768 ? 32768 / n : 1, count = rows * n, state = n;
    size_t size = 2 * vd_type_size(type);
    fftw_complex *x = (fftw_complex *)fftw_malloc(count * sizeof *x);
    char *data = (char *)malloc(count * size);
    double sum = 0;
    vd_fft_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.shape[0] = rows;
    desc.shape[1] = n;
    desc.type = type;
    assert_true(x != NULL && data != NULL);
    for (uint64_t i = 0; i < 2 * count; i++) {
        float v = (float)random_below(&state, 1u << 24) / (float)(1 << 23) - 1;
        ((double *)x)[i] = (double)v;
        if (type == VD_F64) ((double *)(void *)data)[i] = (double)v;
        else ((float *)(void *)data)[i] = v;
    }
    int length = (int)n;
    fftw_plan reference = fftw_plan_many_dft(1, &length, (int)rows, x, NULL, 1, length, x, NULL, 1, length,
                                             FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_execute(reference);
    fftw_destroy_plan(reference);
    vd_fft *plan = vd_fft_create(device_context, &desc);
    if (!plan) fail_msg("%s", vd_error_text());
    vd_fft_io io;
    memset(&io, 0, sizeof io);
    io.in = buffer_of(device_context, type == VD_F64 ? VD_F64X2 : VD_F32X2, count, data);
    assert_int_equal(vd_fft_run(plan, vd_immediate(device_context, 0, 0), &io), VD_OK);
    assert_int_equal(vd_buffer_read(device_context, io.in, 0, data, VD_WHOLE), VD_OK);
    for (uint64_t i = 0; i < count; i++) {
        double re = type == VD_F64 ? ((double *)(void *)data)[2 * i] : (double)((float *)(void *)data)[2 * i];
        double im = type == VD_F64 ? ((double *)(void *)data)[2 * i + 1] : (double)((float *)(void *)data)[2 * i + 1];
        sum += hypot(re - x[i][0], im - x[i][1]) / hypot(x[i][0], x[i][1]);
    }
    vd_buffer_destroy(device_context, io.in);
    vd_fft_destroy(plan);
    fftw_free(x);
    free(data);
    return sum / (double)count;
}

static void check(const bound *bounds, size_t count, double factor) {
    for (size_t i = 0; i < count; i++) {
        double error = error_of(VD_F32, bounds[i].n);
        if (error > factor * bounds[i].f32)
            fail_msg("f32 %u: error %.3g, bound %.3g", (unsigned)bounds[i].n, error, factor * bounds[i].f32);
        if (bounds[i].f64 == 0 || !(vd_device(device_context, 0)->features & VD_FEATURE_F64)) continue;
        error = error_of(VD_F64, bounds[i].n);
        /* the error of FFTW in double is about as large */
        if (error > 1.5 * factor * bounds[i].f64)
            fail_msg("f64 %u: error %.3g, bound %.3g", (unsigned)bounds[i].n, error, 1.5 * factor * bounds[i].f64);
    }
}

/* Rows that take several kernels. */
static void long_rows(void **state) {
    static const bound bounds[] = { { 65536, 2.23e-7, 0 }, { 262144, 2.37e-7, 0 } };
    (void)state;
    need_device();
    check(bounds, COUNT(bounds), 1.07);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(long_rows) };
    return RUN_ON_DEVICE(tests);
}
