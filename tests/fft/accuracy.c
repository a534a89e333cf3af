/* Average errors for random numbers between -1 and 1: of complex transforms mean |y - r| / |r| over all results y and
   references r, of cosine and sine transforms mean |y - r| / mean |r|. Bounds are the errors of pocketfft (SciPy
   1.17.1), times a factor; tools/bench/accuracy.c compares both for the same inputs. */
#include "common.h"

#include <fftw3.h>
#include <math.h>

typedef struct bound { uint64_t n; double f32, f64; vd_fft_kind kind; } bound; /* f64 0: not tested; kind 0: complex */

/* In long double: the errors of FFTW in double are as large as those that are measured. */
static void transform_references(vd_fft_kind kind, int n, int rows, long double *x) {
    static const fftw_r2r_kind kinds[] = { FFTW_REDFT00, FFTW_REDFT10, FFTW_REDFT01, FFTW_REDFT11, FFTW_RODFT00,
                                           FFTW_RODFT10, FFTW_RODFT01, FFTW_RODFT11 };
    fftwl_complex *z = (fftwl_complex *)(void *)x;
    fftwl_plan plan = kind ? fftwl_plan_many_r2r(1, &n, rows, x, NULL, 1, n, x, NULL, 1, n, &kinds[kind - VD_FFT_DCT1],
                                                 FFTW_ESTIMATE)
                           : fftwl_plan_many_dft(1, &n, rows, z, NULL, 1, n, z, NULL, 1, n, FFTW_FORWARD,
                                                 FFTW_ESTIMATE);
    fftwl_execute(plan);
    fftwl_destroy_plan(plan);
}

/* Returns the error of a transform of rows of n elements, and whether its plan uses Bluestein's algorithm. */
static double error_of(vd_fft_kind kind, vd_type type, uint64_t n, bool *bluestein) {
    uint64_t rows = n < 32768 ? 32768 / n : 1, parts = kind ? 1 : 2, count = rows * n * parts, state = n;
    long double *x = (long double *)fftwl_malloc((size_t)count * sizeof *x);
    char *data = (char *)malloc(count * vd_type_size(type));
    long double sum = 0, sizes = 0;
    vd_fft_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.shape[0] = rows;
    desc.shape[1] = n;
    desc.type = type;
    desc.kind = kind;
    assert_true(x != NULL && data != NULL);
    for (uint64_t i = 0; i < count; i++) {
        float v = (float)random_below(&state, 1u << 24) / (float)(1 << 23) - 1;
        x[i] = (long double)v;
        if (type == VD_F64) ((double *)(void *)data)[i] = (double)v;
        else ((float *)(void *)data)[i] = v;
    }
    transform_references(kind, (int)n, (int)rows, x);
    vd_fft *plan = vd_fft_create(device_context, &desc);
    if (!plan) fail_msg("%s", vd_error_text());
    vd_fft_io io;
    memset(&io, 0, sizeof io);
    io.in = buffer_of(device_context, type, count, data);
    assert_int_equal(vd_fft_run(plan, vd_immediate(device_context, 0, 0), &io), VD_OK);
    assert_int_equal(vd_buffer_read(device_context, io.in, 0, data, VD_WHOLE), VD_OK);
    for (uint64_t i = 0; i < count; i += parts) {
        long double part[2] = { 0, 0 };
        for (uint64_t c = 0; c < parts; c++)
            part[c] = type == VD_F64 ? (long double)((double *)(void *)data)[i + c]
                                     : (long double)((float *)(void *)data)[i + c];
        sum += kind ? fabsl(part[0] - x[i]) : hypotl(part[0] - x[i], part[1] - x[i + 1]) / hypotl(x[i], x[i + 1]);
        sizes += kind ? fabsl(x[i]) : 1;
    }
    *bluestein = strstr(vd_fft_explain(plan), "Bluestein") != NULL;
    vd_buffer_destroy(device_context, io.in);
    vd_fft_destroy(plan);
    fftwl_free(x);
    free(data);
    return (double)(sum / sizes);
}

/* Cosine and sine transforms for which the planner estimates that direct stages take too long use Bluestein's
   algorithm, which has twice the error. */
static void check(const bound *bounds, size_t count, double factor) {
    const bool has_f64 = vd_device(device_context, 0)->features & VD_FEATURE_F64;
    for (size_t i = 0; i < 2 * count; i++) {
        const bound *b = &bounds[i % count];
        const bool wide = i >= count, tested = !wide || (b->f64 > 0 && has_f64);
        bool bluestein = false;
        if (!tested || passes_over(2, 1)) continue;
        double error = error_of(b->kind, wide ? VD_F64 : VD_F32, b->n, &bluestein);
        double most = (b->kind && bluestein ? 2 : factor) * (wide ? b->f64 : b->f32);
        if (error > most)
            fail_msg("kind %d %s %u: error %.3g, bound %.3g", (int)b->kind, wide ? "f64" : "f32", (unsigned)b->n,
                     error, most);
    }
}

/* Rows that take several kernels. */
static void long_rows(void **state) {
    static const bound bounds[] = {
        { 65536, 2.23e-7, 0, VD_FFT_KIND_DEFAULT }, { 262144, 2.37e-7, 0, VD_FFT_KIND_DEFAULT },
    };
    (void)state;
    need_device();
    check(bounds, COUNT(bounds), 1.07);
}

/* Prime lengths that direct stages compute. The larger bounds are those of lengths that pocketfft computes by
   Bluestein's algorithm. */
static void primes(void **state) {
    static const bound bounds[] = {
        { 37, 1.17e-7, 2.29e-16, VD_FFT_KIND_DEFAULT }, { 41, 1.23e-7, 2.42e-16, VD_FFT_KIND_DEFAULT },
        { 43, 1.21e-7, 2.34e-16, VD_FFT_KIND_DEFAULT }, { 47, 1.26e-7, 2.47e-16, VD_FFT_KIND_DEFAULT },
        { 53, 1.31e-7, 2.72e-16, VD_FFT_KIND_DEFAULT }, { 59, 1.32e-7, 2.48e-16, VD_FFT_KIND_DEFAULT },
        { 61, 1.33e-7, 2.5e-16, VD_FFT_KIND_DEFAULT }, { 67, 1.39e-7, 2.57e-16, VD_FFT_KIND_DEFAULT },
        { 71, 1.41e-7, 2.7e-16, VD_FFT_KIND_DEFAULT }, { 73, 1.41e-7, 2.67e-16, VD_FFT_KIND_DEFAULT },
        { 79, 1.49e-7, 2.75e-16, VD_FFT_KIND_DEFAULT }, { 83, 1.47e-7, 2.8e-16, VD_FFT_KIND_DEFAULT },
        { 89, 3.06e-7, 6.06e-16, VD_FFT_KIND_DEFAULT }, { 97, 1.51e-7, 2.9e-16, VD_FFT_KIND_DEFAULT },
        { 101, 2.98e-7, 6.35e-16, VD_FFT_KIND_DEFAULT }, { 103, 3.08e-7, 6.74e-16, VD_FFT_KIND_DEFAULT },
        { 107, 2.98e-7, 6.28e-16, VD_FFT_KIND_DEFAULT }, { 109, 1.58e-7, 3.09e-16, VD_FFT_KIND_DEFAULT },
        { 113, 3.11e-7, 6.82e-16, VD_FFT_KIND_DEFAULT }, { 127, 2.81e-7, 5.7e-16, VD_FFT_KIND_DEFAULT },
    };
    (void)state;
    need_device();
    check(bounds, COUNT(bounds), 1.2);
}

/* Cosine and sine transforms. Those of kind I of 243 and 16384 elements are complex transforms with the prime factors
   61, 43 and 127, 113. Kind IV of odd length multiplies both components of each bin by sqrt(1/2) and adds them; these
   roundings make its error in f64 1.23 times that of pocketfft. */
static void cosines_and_sines(void **state) {
    static const bound bounds[] = {
        { 243, 8.44e-8, 1.63e-16, VD_FFT_DCT1 }, { 16384, 1.15e-7, 2.38e-16, VD_FFT_DCT1 },
        { 243, 1.22e-7, 2.47e-16, VD_FFT_DCT2 }, { 16384, 1.39e-7, 2.7e-16, VD_FFT_DCT2 },
        { 243, 1.24e-7, 2.65e-16, VD_FFT_DCT3 }, { 16384, 1.4e-7, 2.85e-16, VD_FFT_DCT3 },
        { 243, 1.21e-7, 0, VD_FFT_DCT4 }, { 16384, 1.43e-7, 3.01e-16, VD_FFT_DCT4 },
        { 243, 8.07e-8, 1.59e-16, VD_FFT_DST1 }, { 16384, 1.13e-7, 2.36e-16, VD_FFT_DST1 },
        { 243, 1.21e-7, 2.5e-16, VD_FFT_DST2 }, { 16384, 1.4e-7, 2.72e-16, VD_FFT_DST2 },
        { 243, 1.23e-7, 2.62e-16, VD_FFT_DST3 }, { 16384, 1.42e-7, 2.85e-16, VD_FFT_DST3 },
        { 243, 1.2e-7, 0, VD_FFT_DST4 }, { 16384, 1.42e-7, 3.02e-16, VD_FFT_DST4 },
    };
    static const bound odd[] = { { 243, 1.21e-7, 2.26e-16, VD_FFT_DCT4 }, { 243, 1.2e-7, 2.26e-16, VD_FFT_DST4 } };
    (void)state;
    need_device();
    check(bounds, COUNT(bounds), 1.2);
    check(odd, COUNT(odd), 1.25);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(long_rows), cmocka_unit_test(primes),
                                        cmocka_unit_test(cosines_and_sines) };
    return RUN_ON_DEVICE(tests);
}
