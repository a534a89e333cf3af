/* Transforms over several axes in one kernel, and of large images and cubes in two, compared with FFTW in double, and
   the number of kernels. They are planned as for a GPU on every device. The permitted error is that of
   tests/fft/transforms.c. */
#define _POSIX_C_SOURCE 200112L /* setenv */
#include "fftw.h"

#include <math.h>

typedef struct sample {
    uint64_t shape[4];
    uint32_t axes;
    uint64_t in_stride[4], out_stride[4]; /* zeros: C order */
    uint32_t passes;                      /* with 32 KiB of shared memory */
} sample;

/* The unnormalised spectrum of the sample's numbers, in C order. */
static fftw_complex *expect(const sample *s, const float *data, bool inverse) {
    fftw_complex *x = (fftw_complex *)fftw_malloc(elements_of(s->shape) * sizeof *x);
    assert_non_null(x);
    for (uint64_t i = 0; i < elements_of(s->shape); i++)
        for (int c = 0; c < 2; c++) x[i][c] = (double)data[2 * place_of(s->shape, s->in_stride, i) + (uint64_t)c];
    fftw_transform(s->shape, s->axes, inverse, x);
    return x;
}

static void say(const sample *s, vd_fft *plan) {
    print_error("  shape");
    for (uint32_t i = 0; i < dimensions_of(s->shape); i++) print_error(" %llu", (unsigned long long)s->shape[i]);
    print_error(", axes 0x%x; the plan is\n%s", s->axes, vd_fft_explain(plan));
}

static uint32_t passes_of(vd_fft *plan) {
    uint32_t count = 0;
    for (const char *at = vd_fft_explain(plan); *at; at++) count += *at == '\n';
    return count;
}

static void run(const sample *s, const vd_fft_desc *desc, const float *data, fftw_complex *expected, bool inverse,
                bool in_place) {
    uint64_t n = elements_of(s->shape), ins = place_of(s->shape, s->in_stride, n - 1) + 1,
             outs = place_of(s->shape, s->out_stride, n - 1) + 1;
    double wrong = 0, all = 0, product = 1;
    float *result = (float *)malloc((ins > outs ? ins : outs) * 8);
    vd_fft_io io = { 0 };
    assert_non_null(result);
    vd_fft *plan = vd_fft_create(device_context, desc);
    io.direction = inverse ? VD_FFT_INVERSE : VD_FFT_FORWARD;
    io.in = buffer_of(device_context, VD_F32C, ins, data);
    vd_buffer out = in_place ? io.in : buffer_of(device_context, VD_F32C, outs, NULL);
    if (!in_place) io.out = out;
    if (!plan || vd_fft_run(plan, vd_immediate(device_context, 0, 0), &io)
        || vd_buffer_read(device_context, out, 0, result, VD_WHOLE)) {
        say(s, plan);
        fail_msg("%s", vd_error_text());
    }
    for (uint64_t i = 0; i < n; i++)
        for (int c = 0; c < 2; c++) {
            double d = (double)result[2 * place_of(s->shape, s->out_stride, i) + (uint64_t)c] - expected[i][c];
            wrong += d * d;
            all += expected[i][c] * expected[i][c];
        }
    for (uint32_t i = 0; i < dimensions_of(s->shape); i++) if (s->axes >> i & 1) product *= (double)s->shape[i];
    if (!(sqrt(wrong / all) <= 0.5 * 1.1921e-7 * log2(product) + 6e-8)) {
        say(s, plan);
        fail_msg("%s, %s: error %.3g", inverse ? "inverse" : "forward", in_place ? "in place" : "out of place",
                 sqrt(wrong / all));
    }
    if (!in_place) {
        assert_int_equal(vd_buffer_read(device_context, io.in, 0, result, VD_WHOLE), VD_OK);
        assert_memory_equal(result, data, ins * 8); /* the input is unchanged */
        vd_buffer_destroy(device_context, out);
    }
    if (passes_of(plan) != s->passes) {
        say(s, plan);
        fail_msg("%u passes, not %u", passes_of(plan), s->passes);
    }
    vd_buffer_destroy(device_context, io.in);
    vd_fft_destroy(plan);
    free(result);
}

static void check(const sample *s, bool inverse, bool in_place) {
    uint64_t n = elements_of(s->shape), ins = place_of(s->shape, s->in_stride, n - 1) + 1;
    vd_fft_desc desc = { 0 };
    memcpy(desc.shape, s->shape, sizeof desc.shape);
    memcpy(desc.in_stride, s->in_stride, sizeof desc.in_stride);
    memcpy(desc.out_stride, s->out_stride, sizeof desc.out_stride);
    desc.axes = s->axes;
    desc.norm = VD_FFT_NORM_NONE;
    in_place = in_place && !memcmp(s->in_stride, s->out_stride, sizeof s->in_stride);
    if (passes_over_form(&desc, inverse ? VD_FFT_INVERSE : VD_FFT_FORWARD)) return;
    float *data = (float *)malloc(ins * 8);
    uint32_t state = (uint32_t)n * 2654435761u + 1;
    assert_non_null(data);
    for (uint64_t i = 0; i < 2 * ins; i++) {
        state = state * 1664525u + 1013904223u;
        data[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
    }
    fftw_complex *expected = expect(s, data, inverse);
    run(s, &desc, data, expected, inverse, in_place);
    fftw_free(expected);
    free(data);
}

static void check_all(const sample *samples, size_t count) {
    if (!device_context) {
        print_message("# reason: no device runs kernels here: %s\n", vd_error_text());
        skip();
    }
    for (size_t i = 0; i < count; i++) check(&samples[i], i & 1, i >> 1 & 1); /* alternating */
}

/* One kernel if the image fits into a work-group. */
static void images(void **state) {
    static const sample samples[] = {
        { { 3, 2, 2, 0 }, 6, { 0 }, { 0 }, 1 }, { { 33, 8, 8, 0 }, 6, { 0 }, { 0 }, 1 },
        { { 9, 16, 16, 0 }, 6, { 0 }, { 0 }, 1 }, { { 3, 32, 32, 0 }, 6, { 0 }, { 0 }, 1 },
        { { 2, 64, 64, 0 }, 6, { 0 }, { 0 }, 1 }, { { 5, 12, 20, 0 }, 6, { 0 }, { 0 }, 1 },
        { { 2, 7, 9, 0 }, 6, { 0 }, { 0 }, 1 }, { { 3, 5, 128, 0 }, 6, { 0 }, { 0 }, 1 },
        { { 2, 128, 6, 0 }, 6, { 0 }, { 0 }, 1 }, { { 1, 16, 256, 0 }, 7, { 0 }, { 0 }, 1 },
        { { 6, 6, 17, 0 }, 5, { 0 }, { 0 }, 1 }, { { 8, 8, 40, 0 }, 3, { 0 }, { 0 }, 1 },
        { { 2, 2, 3, 3 }, 15, { 0 }, { 0 }, 1 }, { { 3, 128, 128, 0 }, 6, { 0 }, { 0 }, 1 },
    };
    (void)state;
    check_all(samples, COUNT(samples));
}

static void cubes(void **state) {
    static const sample samples[] = {
        { { 3, 8, 8, 8 }, 14, { 0 }, { 0 }, 1 }, { { 16, 16, 16, 0 }, 7, { 0 }, { 0 }, 1 },
        { { 2, 10, 12, 14 }, 14, { 0 }, { 0 }, 1 }, { { 32, 32, 32, 0 }, 7, { 0 }, { 0 }, 2 },
        { { 5, 7, 9, 11 }, 15, { 0 }, { 0 }, 1 },
    };
    (void)state;
    check_all(samples, COUNT(samples));
}

/* Large images, and cubes whose slowest axis is split in two. */
static void parts(void **state) {
    static const sample samples[] = {
        { { 512, 16, 0, 0 }, 3, { 0 }, { 0 }, 1 }, { { 512, 64, 0, 0 }, 3, { 0 }, { 0 }, 2 },
        { { 2, 768, 40, 0 }, 6, { 0 }, { 0 }, 2 }, { { 1024, 128, 0, 0 }, 3, { 0 }, { 0 }, 2 },
        { { 128, 128, 128, 0 }, 7, { 0 }, { 0 }, 2 }, { { 2, 24, 128, 96 }, 14, { 0 }, { 0 }, 2 },
        { { 512, 80, 1, 0 }, 3, { 1, 515, 1, 0 }, { 1, 515, 1, 0 }, 2 },
        { { 60, 128, 96, 0 }, 7, { 0 }, { 1, 60, 7681, 0 }, 2 },
    };
    (void)state;
    check_all(samples, COUNT(samples));
}

/* Fortran order, padded rows, batches that vary faster than the image, transposition. */
static void strides(void **state) {
    static const sample samples[] = {
        { { 12, 20, 3, 0 }, 3, { 1, 12, 240, 0 }, { 1, 12, 240, 0 }, 1 },
        { { 3, 12, 20, 0 }, 6, { 300, 23, 1, 0 }, { 1, 3, 37, 0 }, 1 },
        { { 16, 8, 9, 0 }, 3, { 80, 10, 1, 0 }, { 80, 10, 1, 0 }, 1 },
        { { 16, 16, 3, 0 }, 3, { 0 }, { 1, 16, 256, 0 }, 1 }, { { 4, 5, 6, 3 }, 7, { 3, 12, 61, 1 }, { 0 }, 1 },
    };
    (void)state;
    check_all(samples, COUNT(samples));
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(images), cmocka_unit_test(cubes), cmocka_unit_test(parts),
                                        cmocka_unit_test(strides) };
    setenv("VKDISPATCH_FFT_SHAPES", "gpu-batch", 1);
    return RUN_ON_DEVICE(tests);
}
