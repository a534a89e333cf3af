/* Convolutions and correlations in every range, in one to three dimensions, complex and real, with batches, channels
   and kernels, compared with sums in double; invalid input.
       convolve [-a]        -a: every sample on OpenCL too, where compiling is slow; otherwise a third of them */
#define _POSIX_C_SOURCE 200112L /* setenv */
#include "common.h"

#include <math.h>

typedef struct sample {
    uint64_t shape[3], kernel[3];
    vd_convolve_kind kind;
    vd_convolve_mode range;
    uint32_t batch, channels, kernels;
    int real;                /* 0: complex numbers, 1: reals, 2: reals, two groups packed into one */
    vd_type type;
} sample;

static bool per_group; /* plans have filter_per_group */

static uint32_t at_least_one(uint32_t x) { return x ? x : 1; }

static uint64_t count_of(const uint64_t *shape) {
    return shape[0] * (shape[1] ? shape[1] : 1) * (shape[2] ? shape[2] : 1);
}

static double noise(uint64_t i) {
    uint32_t x = (uint32_t)i * 2654435761u + 12345;
    x = (x ^ x >> 15) * 2246822519u;
    return (double)((x ^ x >> 13) >> 8) / 8388608.0 - 1.0;
}

/* The elements as the device gets them, in double: complex, with 0 for the imaginary part of reals. */
static double *elements(const sample *s, uint64_t count, uint64_t seed) {
    double *x = (double *)malloc((size_t)count * 2 * sizeof *x);
    assert_non_null(x);
    for (uint64_t i = 0; i < 2 * count; i++) {
        x[i] = i % 2 && s->real ? 0 : noise(i + seed);
        if (s->type != VD_F64) x[i] = (double)(float)x[i];
    }
    return x;
}

static vd_buffer numbers_buffer(const sample *s, uint64_t count, const double *x) {
    vd_buffer_desc desc = { 0 };
    uint64_t parts = s->real ? 1 : 2;
    vd_type type = s->type == VD_F64 ? VD_F64 : VD_F32;
    double *wide = (double *)malloc((size_t)(count * parts) * sizeof *wide);
    float *narrow = (float *)malloc((size_t)(count * parts) * sizeof *narrow);
    assert_true(wide && narrow);
    for (uint64_t i = 0; x && i < count * parts; i++) {
        wide[i] = x[s->real ? 2 * i : i];
        narrow[i] = (float)wide[i];
    }
    desc.type = type;
    desc.shape[0] = count * parts;
    desc.data = !x ? NULL : type == VD_F64 ? (const void *)wide : narrow;
    vd_buffer b = vd_buffer_create(device_context, &desc);
    if (!b.id) fail_msg("%s", vd_error_text());
    free(wide);
    free(narrow);
    return b;
}

/* Result `to` along a dimension uses signal element `to + first - m` with kernel element m for a convolution, and `to +
   first + m` for a correlation. */
static int64_t first_of(const sample *s, int64_t m) {
    bool back = s->kind == VD_CONVOLVE_CORRELATION;
    switch (s->range) {
    case VD_CONVOLVE_FULL: return back ? 1 - m : 0;
    case VD_CONVOLVE_VALID: return back ? 0 : m - 1;
    case VD_CONVOLVE_SAME:
    case VD_CONVOLVE_CENTRED: return back ? -(m / 2) : (m - 1) / 2;
    default: return 0;
    }
}

static uint64_t results_of(const sample *s, int d) {
    uint64_t n = s->shape[d], m = s->kernel[d];
    if (!n) return 0;
    return s->range == VD_CONVOLVE_FULL ? n + m - 1 : s->range == VD_CONVOLVE_VALID ? n - m + 1 : n;
}

/* Index of the signal's element, or -1 outside of it. */
static int64_t source_of(const sample *s, int d, uint64_t to, uint64_t m) {
    int64_t n = (int64_t)s->shape[d], at;
    if (!n) return 0;
    at = (int64_t)to + first_of(s, (int64_t)s->kernel[d])
         + (s->kind == VD_CONVOLVE_CORRELATION ? (int64_t)m : -(int64_t)m);
    if (s->range <= VD_CONVOLVE_CENTRED) return (at % n + n) % n;
    return at < 0 || at >= n ? -1 : at;
}

/* Adds one image convolved with one kernel. */
static void add_image(const sample *s, double *y, const double *x, const double *k) {
    uint64_t size[3], kernel[3], shape[3];
    for (int d = 0; d < 3; d++) {
        size[d] = results_of(s, d) ? results_of(s, d) : 1;
        kernel[d] = s->shape[d] ? s->kernel[d] : 1;
        shape[d] = s->shape[d] ? s->shape[d] : 1;
    }
    for (uint64_t i = 0; i < size[0] * size[1] * size[2]; i++)
        for (uint64_t j = 0; j < kernel[0] * kernel[1] * kernel[2]; j++) {
            int64_t a = source_of(s, 0, i / (size[1] * size[2]), j / (kernel[1] * kernel[2]));
            int64_t b = source_of(s, 1, i / size[2] % size[1], j / kernel[2] % kernel[1]),
                    c = source_of(s, 2, i % size[2], j % kernel[2]);
            if (a < 0 || b < 0 || c < 0) continue;
            const double *p = x + 2 * (((uint64_t)a * shape[1] + (uint64_t)b) * shape[2] + (uint64_t)c), *q = k + 2 * j;
            double im = s->kind == VD_CONVOLVE_CORRELATION ? -q[1] : q[1];
            y[2 * i] += p[0] * q[0] - p[1] * im;
            y[2 * i + 1] += p[0] * im + p[1] * q[0];
        }
}

static void say(const sample *s, vd_convolve *plan) {
    print_error("  shape %d %d %d, kernel %d %d %d, ", (int)s->shape[0], (int)s->shape[1], (int)s->shape[2],
                (int)s->kernel[0], (int)s->kernel[1], (int)s->kernel[2]);
    print_error("kind %d, range %d, batch %u, channels %u, kernels %u%s, real %d, type %s\n%s", (int)s->kind, (int)s->range, s->batch, s->channels, s->kernels,
                per_group ? " for each group" : "", s->real, vd_type_name(s->type), plan ? vd_convolve_explain(plan) : "");
}

static double distance(const sample *s, vd_buffer out, const double *y, uint64_t count) {
    uint64_t parts = s->real ? 1 : 2, size = s->type == VD_F64 ? 8 : 4;
    void *got = malloc((size_t)(count * parts * size));
    double wrong = 0, all = 0;
    assert_non_null(got);
    if (vd_buffer_read(device_context, out, 0, got, count * parts * size)) fail_msg("%s", vd_error_text());
    for (uint64_t i = 0; i < count * parts; i++) {
        double expected = y[s->real ? 2 * i : i],
               d = (s->type == VD_F64 ? ((double *)got)[i] : (double)((float *)got)[i]) - expected;
        wrong += d * d;
        all += expected * expected;
    }
    free(got);
    return sqrt(wrong / all);
}

static vd_convolve *plan_of(vd_context *ctx, const sample *s) {
    vd_convolve_desc desc;
    memset(&desc, 0, sizeof desc);
    memcpy(desc.shape, s->shape, sizeof desc.shape);
    memcpy(desc.filter_shape, s->kernel, sizeof desc.filter_shape);
    desc.kind = s->kind;
    desc.mode = s->range;
    desc.batch = s->batch;
    desc.channels = s->channels;
    desc.filters = s->kernels;
    desc.real = s->real != 0;
    desc.type = s->type;
    desc.pack_rows = s->real != 1; /* ignored for complex signals */
    desc.filter_per_group = per_group;
    return vd_convolve_create(ctx, &desc);
}

static bool passes_over_plan(const sample *s) {
    if (!few_cases) return false;
    vd_convolve *plan = plan_of(device_context, s);
    bool known = plan && forms_occurred(vd_convolve_explain(plan), VD_FFT_FORWARD,
                                      ((uint64_t)s->type * 4 + (uint64_t)s->real) * 2 + per_group);
    vd_convolve_destroy(plan);
    return known;
}

static void check_one(const sample *s) {
    if (passes_over_plan(s)) return;
    uint64_t batch = at_least_one(s->batch), channels = at_least_one(s->channels), kernels = at_least_one(s->kernels),
             results[3], shape[3];
    for (int d = 0; d < 3; d++) results[d] = results_of(s, d);
    uint64_t n = count_of(s->shape), m = count_of(s->kernel), out_count = count_of(results);
    uint64_t ins = batch * channels * n, outs = batch * kernels * out_count, groups = per_group ? batch : 1,
             weights = groups * kernels * channels * m;
    double *x = elements(s, ins, 1), *k = elements(s, weights, 777),
           *y = (double *)calloc((size_t)outs, 16);
    assert_non_null(y);
    vd_convolve *plan = plan_of(device_context, s);
    vd_buffer in = numbers_buffer(s, ins, x), kernel = numbers_buffer(s, weights, k),
              out = numbers_buffer(s, outs, NULL);
    vd_list *list = vd_immediate(device_context, 0, 0);
    if (!plan || vd_convolve_set_filter(plan, list, kernel) || vd_convolve_run(plan, list, in, out)) {
        say(s, plan);
        fail_msg("%s", vd_error_text());
    }
    vd_convolve_shape(plan, shape);
    assert_memory_equal(shape, results, sizeof shape);
    for (uint64_t b = 0; b < batch; b++)
        for (uint64_t i = 0; i < kernels; i++)
            for (uint64_t c = 0; c < channels; c++)
                add_image(s, y + 2 * (b * kernels + i) * out_count, x + 2 * (b * channels + c) * n,
                          k + 2 * (((per_group ? b : 0) * kernels + i) * channels + c) * m);
    double error = distance(s, out, y, outs), allowed = s->type == VD_F64 ? 2e-15 : 1e-6;
    if (!(error <= allowed)) {
        say(s, plan);
        fail_msg("error %.3g, allowed %.3g", error, allowed);
    }
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, kernel);
    vd_buffer_destroy(device_context, out);
    vd_convolve_destroy(plan);
    free(x);
    free(k);
    free(y);
}

/* Reals also with two groups packed into one. One batch in three also with filters of each group. */
static void check(const sample *s) {
    sample packed = *s;
    check_one(s);
    per_group = true;
    if (s->batch > 1 && (few_cases || !passes_over(1, 3))) check_one(s);
    per_group = false;
    packed.real = 2;
    if (s->real == 1 && s->batch > 1) check_one(&packed);
}

static void ranges(void **state) {
    (void)state;
    need_device();
    for (int kind = VD_CONVOLVE_CONVOLUTION; kind <= VD_CONVOLVE_CORRELATION; kind++)
        for (int range = VD_CONVOLVE_CIRCULAR; range <= VD_CONVOLVE_VALID; range++)
            for (int real = 0; real < 2; real++) {
                sample s = {
                    { 15, 0, 0 }, { 6, 0, 0 }, (vd_convolve_kind)kind, (vd_convolve_mode)range, 3, 1, 1, real, VD_F32
                };
                check(&s);
            }
}

static void check_all(const sample *samples, size_t count) {
    need_device();
    for (size_t i = 0; i < count; i++) check(&samples[i]);
}

/* One real group, which has no other to be packed with, with short kernels and with kernels as long as the signal. */
static void reals(void **state) {
    static const sample samples[] = {
        { { 100, 0, 0 }, { 100, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 1, 0, 0, 1, VD_F32 },
        /* prime length, with channels and kernels */
        { { 37, 0, 0 }, { 37, 0, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CENTRED, 1, 3, 2, 1, VD_F32 },
        { { 64, 0, 0 }, { 1, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 1, 0, 0, 1, VD_F32 },
        { { 64, 0, 0 }, { 33, 0, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CIRCULAR, 1, 0, 0, 1, VD_F32 },
        { { 9, 16, 0 }, { 9, 16, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_FULL, 1, 0, 0, 1, VD_F32 },
        { { 9, 16, 0 }, { 4, 7, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 1, 2, 2, 1, VD_F32 },
        { { 16, 0, 0 }, { 15, 0, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_VALID, 1, 0, 0, 1, VD_F32 },
        /* by half spectra */
        { { 9, 16, 0 }, { 9, 16, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CIRCULAR, 3, 2, 2, 1, VD_F32 },
        { { 8, 15, 0 }, { 3, 12, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CENTRED, 2, 1, 3, 1, VD_F32 },
        { { 37, 16, 0 }, { 2, 16, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 1, 0, 0, 1, VD_F32 },
        { { 4, 6, 10 }, { 4, 6, 10 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CENTRED, 2, 0, 0, 1, VD_F32 },
    };
    (void)state;
    check_all(samples, COUNT(samples));
    vd_convolve *plan = plan_of(device_context, &samples[COUNT(samples) - 1]);
    assert_non_null(plan);
    /* a GPU needs one kernel */
    if (!getenv("VKDISPATCH_FFT_SHAPES") && vd_device(device_context, 0)->facts.groups_as_loops)
        assert_non_null(strstr(vd_convolve_explain(plan), "for reals of 10"));
    vd_convolve_destroy(plan);
}

static void shapes(void **state) {
    static const sample samples[] = {
        { { 1, 0, 0 }, { 1, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_FULL, 0, 0, 0, false, VD_F32 },
        { { 5, 0, 0 }, { 9, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_SAME, 0, 0, 0, false, VD_F32 },
        { { 100, 0, 0 }, { 100, 0, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CIRCULAR, 2, 0, 0, false, VD_F32 },
        { { 15, 10, 0 }, { 4, 5, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_VALID, 3, 0, 0, true, VD_F32 },
        { { 15, 10, 0 }, { 4, 5, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_FULL, 2, 0, 0, false, VD_F32 },
        { { 37, 0, 0 }, { 37, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 2, 0, 0, false, VD_F32 },
        { { 16, 32, 0 }, { 16, 32, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 0, 0, 0, false, VD_F32 },
        { { 12, 1, 0 }, { 5, 1, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_SAME, 0, 0, 0, true, VD_F32 },
        { { 1, 20, 0 }, { 1, 5, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_FULL, 5, 0, 0, true, VD_F32 },
        { { 8, 10, 12 }, { 3, 4, 5 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_SAME, 3, 0, 0, true, VD_F32 },
        { { 16384, 0, 0 }, { 9, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_SAME, 0, 0, 0, true, VD_F32 },
    };
    (void)state;
    check_all(samples, COUNT(samples));
}

static void channels(void **state) {
    static const sample samples[] = {
        { { 15, 0, 0 }, { 5, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 2, 3, 1, false, VD_F32 },
        { { 15, 0, 0 }, { 5, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_FULL, 2, 1, 3, false, VD_F32 },
        { { 15, 0, 0 }, { 5, 0, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_SAME, 3, 2, 3, true, VD_F32 },
        { { 20, 18, 0 }, { 3, 3, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_VALID, 3, 3, 2, true, VD_F32 },
        { { 20, 18, 0 }, { 3, 3, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CENTRED, 2, 1, 4, false, VD_F32 },
        { { 6, 8, 10 }, { 3, 3, 3 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_SAME, 1, 2, 2, true, VD_F32 },
    };
    (void)state;
    check_all(samples, COUNT(samples));
}

/* Lengths that need Bluestein's algorithm or several passes, in the periodic modes and, along other axes than the
   last, in all. */
static void long_axes(void **state) {
    static const sample samples[] = {
        { { 131, 0, 0 }, { 5, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 2, 3, 2, false, VD_F32 },
        { { 148, 0, 0 }, { 5, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 2, 3, 2, false, VD_F32 },
        { { 131, 6, 0 }, { 3, 5, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CENTRED, 2, 1, 3, false, VD_F32 },
        { { 37, 6, 4 }, { 3, 5, 4 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 1, 2, 2, true, VD_F32 },
        { { 137, 8, 0 }, { 7, 8, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CENTRED, 3, 2, 1, true, VD_F32 },
        { { 20000, 0, 0 }, { 3, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 1, 2, 3, false, VD_F32 },
        { { 10007, 0, 0 }, { 4, 0, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CIRCULAR, 1, 0, 0, false, VD_F32 },
        { { 10007, 0, 0 }, { 4, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CENTRED, 2, 2, 1, false, VD_F32 },
        { { 8209, 3, 0 }, { 2, 3, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 2, 0, 0, false, VD_F32 },
        { { 3, 8209, 0 }, { 2, 3, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CENTRED, 1, 2, 2, false, VD_F32 },
        { { 8209, 0, 0 }, { 3, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 3, 0, 0, true, VD_F32 },
        { { 8209, 2, 0 }, { 3, 2, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 3, 0, 0, true, VD_F32 },
    };
    (void)state;
    check_all(samples, COUNT(samples));
}

/* As many channels as a loop on llvmpipe handles; on devices that limit loops, one more than allowed. */
static void very_many(void **state) {
    static const sample samples[] = {
        { { 2, 0, 0 }, { 2, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 1, 32768, 1, false, VD_F64 },
        { { 2, 0, 0 }, { 2, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 1, 1, 32768, false, VD_F64 },
    };
    (void)state;
    need_device();
    /* sums of so many elements in f32 are less exact */
    if (vd_device(device_context, 0)->features & VD_FEATURE_F64) check_all(samples, COUNT(samples));
    uint32_t limit = (vd_device(device_context, 0)->facts.max_loop_iterations + 1) / 2;
    for (int i = 0; i < 2 && limit; i++) {
        vd_convolve_desc desc = { 0 };
        desc.shape[0] = 2;
        if (i) desc.filters = limit + 1;
        else desc.channels = limit + 1;
        assert_null(vd_convolve_create(device_context, &desc));
        assert_int_equal(vd_error_result(), VD_ERROR_UNSUPPORTED);
        char text[120];
        snprintf(text, sizeof text, "%s is %u, but the limit is %u (half of vd_facts.max_loop_iterations)", i ? "filters" : "channels",
                 limit + 1, limit);
        if (!strstr(vd_error_text(), text)) fail_msg("%s", vd_error_text());
    }
}

static void doubles(void **state) {
    static const sample samples[] = {
        { { 30, 0, 0 }, { 7, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_FULL, 2, 0, 0, false, VD_F64 },
        { { 12, 14, 0 }, { 3, 4, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_SAME, 3, 2, 2, true, VD_F64 },
    };
    (void)state;
    need_device();
    if (!(vd_device(device_context, 0)->features & VD_FEATURE_F64)) {
        print_message("# reason: the device has no f64\n");
        skip();
    }
    check_all(samples, COUNT(samples));
}

/* One forward pass of a kernel, multiplication, and inverse, as the plan explains. The image is too large for one
   kernel of any device. */
static void passes(void **state) {
    static const sample one = {
        { 1024, 0, 0 }, { 1024, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 4, 0, 0, false, VD_F32
    };
    static const sample two = {
        { 512, 1024, 0 }, { 512, 1024, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 4, 0, 0, false, VD_F32
    };
    const sample *samples[2] = { &one, &two };
    (void)state;
    need_device();
    for (int i = 0; i < 2; i++) {
        vd_convolve *plan = plan_of(device_context, samples[i]);
        const char *text = vd_convolve_explain(plan), *line = text;
        int lines = 0;
        for (; *line; line++) lines += *line == '\n';
        assert_int_equal(lines, i ? 3 : 1);
        assert_non_null(strstr(text, "multiplied by the spectrum, inverse transform"));
        vd_convolve_destroy(plan);
    }
}

/* Images in one kernel, on every device. */
static void as_for_a_gpu(void **state) {
    static const sample samples[] = {
        { { 16, 20, 0 }, { 16, 20, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 3, 0, 0, false, VD_F32 },
        { { 8, 12, 0 }, { 3, 3, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CENTRED, 2, 2, 2, true, VD_F32 },
        { { 4, 5, 6 }, { 3, 3, 3 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CENTRED, 1, 1, 2, false, VD_F32 },
        { { 20, 18, 0 }, { 3, 3, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_SAME, 1, 0, 0, false, VD_F32 },
        { { 64, 64, 0 }, { 3, 5, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CENTRED, 2, 0, 0, false, VD_F32 },
    };
    (void)state;
    need_device();
    assert_int_equal(setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1), 0);
    vd_convolve *plan = plan_of(device_context, &samples[0]);
    assert_non_null(plan);
    assert_int_equal(strchr(vd_convolve_explain(plan), '\n')[1], 0); /* one line, one pass */
    vd_convolve_destroy(plan);
    check_all(samples, COUNT(samples));
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

/* Images in one kernel whose two axes are joined in registers, also with several kernels and channels. */
static void joined_axes(void **state) {
    static const struct { const char *factors; sample s; } cases[] = { /* also used by the transform of the kernel */
        { "4x4+4x4/16/1/1", { { 16, 16, 0 }, { 16, 16, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 3, 1, 2,
          false, VD_F32 } },
        { "2x4+4x2/4/2/0", { { 8, 8, 0 }, { 3, 5, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CENTRED, 3, 2, 1, 2,
          VD_F32 } },
        { "8+2x4/4/1/1", { { 8, 8, 0 }, { 8, 8, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 2, 0, 0, false,
          VD_F32 } },
        { "2x3+3x2/4/1/1", { { 6, 6, 0 }, { 6, 6, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 2, 0, 0, false,
          VD_F32 } },
    };
    (void)state;
    need_device();
    assert_int_equal(setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(setenv("VKDISPATCH_FFT_FACTORS", cases[i].factors, 1), 0);
        vd_convolve *plan = plan_of(device_context, &cases[i].s);
        if (!plan) fail_msg("%s", vd_error_text());
        if (!strstr(vd_convolve_explain(plan), " + ")) fail_msg("%s: %s", cases[i].factors, vd_convolve_explain(plan));
        vd_convolve_destroy(plan);
        check(&cases[i].s);
    }
    unsetenv("VKDISPATCH_FFT_FACTORS");
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

/* The first axis is split, in some plans together with the last; planned for a processor and for a GPU; with rows that
   are all zero and rows that are partly zero, with results that lack some rows, in place and not. The explanation must
   show the split; for sample `alone` only rows are split. */
static void check_split(const char *parts, const sample *samples, size_t count, bool as_gpu, size_t alone) {
    assert_int_equal(setenv("VKDISPATCH_FFT_FACTORS", parts, 1), 0);
    if (as_gpu) assert_int_equal(setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1), 0);
    for (size_t i = 0; i < count; i++) {
        vd_convolve *plan = plan_of(device_context, &samples[i]);
        assert_non_null(plan);
        const char *text = vd_convolve_explain(plan), *line = text;
        int lines = 0;
        for (; *line; line++) lines += *line == '\n';
        if (lines != 3 || !strstr(text, "results times twiddle factors of") || !strstr(text, "inputs times twiddle factors of"))
            fail_msg("%s: %s", parts, text);
        if (i == alone && (!strstr(text, "stored as 4 parts, results times twiddle factors of")
                           || !strstr(text, "sum of 4 parts, inputs times twiddle factors of"))) fail_msg("%s", text);
        vd_convolve_destroy(plan);
        check(&samples[i]);
    }
    unsetenv("VKDISPATCH_FFT_FACTORS");
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

static void split_first_axis(void **state) {
    static const sample two[] = {
        { { 16, 32, 0 }, { 16, 32, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 3, 0, 0, false, VD_F32 },
        { { 18, 15, 0 }, { 3, 5, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_SAME, 2, 2, 2, true, VD_F32 },
        { { 6, 8, 10 }, { 2, 3, 4 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CENTRED, 2, 1, 2, false, VD_F32 },
    };
    static const sample four[] = {
        { { 16, 10, 0 }, { 7, 3, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CENTRED, 3, 1, 3, false, VD_F32 },
        { { 32, 6, 0 }, { 32, 6, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 3, 3, 1, 2, VD_F32 },
        /* 5 rows of 16: three parts of four are zero */
        { { 5, 8, 0 }, { 12, 9, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_FULL, 2, 1, 1, false, VD_F32 },
        /* and not wanted either */
        { { 3, 30, 0 }, { 27, 3, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_SAME, 3, 1, 2, true, VD_F32 },
        /* one row is wanted */
        { { 20, 9, 0 }, { 20, 9, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_VALID, 2, 2, 1, false, VD_F32 },
        /* no more rows than a part has */
        { { 2, 5, 4 }, { 7, 2, 3 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_FULL, 2, 2, 2, true, VD_F32 },
    };
    static const sample wide[] = {
        { { 12, 14, 0 }, { 3, 4, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CENTRED, 3, 2, 2, 2, VD_F64 },
        { { 5, 3, 0 }, { 8, 2, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_FULL, 2, 1, 1, false, VD_F64 },
    };
    (void)state;
    need_device();
    check_split("p2", two, COUNT(two), true, COUNT(two));
    check_split("p4", four, COUNT(four), true, 3);
    check_split("p4", four + 1, 3, false, 2);
    if (vd_device(device_context, 0)->features & VD_FEATURE_F64)
        check_split("p3,p2", wide, COUNT(wide), false, COUNT(wide));
}

/* A part of another length for a kernel whose shape also comes from the environment, and an axis that the part does not
   divide. */
static void requested_parts(void **state) {
    sample s = { { 30, 16, 0 }, { 30, 16, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 1, 0, 0, false, VD_F32 };
    vd_convolve *plan;
    (void)state;
    need_device();
    assert_int_equal(setenv("VKDISPATCH_FFT_FACTORS", "r16x3/16/1/0,p3,c2x5/2/4/0", 1), 0);
    plan = plan_of(device_context, &s);
    if (!plan) fail_msg("%s", vd_error_text());
    assert_non_null(strstr(vd_convolve_explain(plan), "rows of 16 by 3 = 16 by 3, 16 threads per transform"));
    assert_non_null(strstr(vd_convolve_explain(plan), "columns of 10 = 2 x 5, 2 threads per transform, 4 transforms per work-group"));
    vd_convolve_destroy(plan);
    check(&s);
    assert_int_equal(setenv("VKDISPATCH_FFT_FACTORS", "p4", 1), 0); /* of 30: not split */
    plan = plan_of(device_context, &s);
    assert_non_null(plan);
    assert_null(strstr(vd_convolve_explain(plan), "twiddle factors"));
    vd_convolve_destroy(plan);
    assert_int_equal(setenv("VKDISPATCH_FFT_FACTORS", "px", 1), 0);
    assert_null(plan_of(device_context, &s));
    assert_non_null(strstr(vd_error_text(), "contains 'px', but the number of parts is missing or invalid: each entry must be"));
    unsetenv("VKDISPATCH_FFT_FACTORS");
}

/* Parts of lengths with known shapes: 512 x 512 and 1024 x 1024, narrow ones of the same columns, and both kinds of
   kernels of 128 x 128 x 128. */
static void known_parts(void **state) {
    static const struct { const char *factors, *columns; sample s; } cases[] = {
        { "p8", "columns of 64 = 16 x 4, 4 threads per transform, 32 transforms per work-group, 16384 bytes of shared memory",
          { { 512, 32, 0 }, { 3, 3, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CENTRED, 2, 0, 0, false, VD_F32 } },
        { "p8", "columns of 128 = 16 x 8, 8 threads per transform, 16 transforms per work-group, 16384 bytes of shared memory",
          { { 1024, 24, 0 }, { 3, 2, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CENTRED, 1, 0, 0, false, VD_F32 } },
        { "p16", "columns of 128 by 8 = 16 x 8 by 8, 32 threads per transform, 8 transforms per work-group, exchange in 2 slices",
          { { 128, 128, 8 }, { 2, 3, 2 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CENTRED, 1, 0, 0, false, VD_F32 } },
        { "p16", "rows of 128 by 16 = 8 x 16 by 16, 128 threads per transform, 1 transform per work-group, re and im exchanged separately",
          { { 32, 4, 128 }, { 3, 2, 2 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CENTRED, 2, 0, 0, false, VD_F32 } },
        /* of both images, one kilobyte of each row at a time, since the spectra have 16 MiB */
        { "p4", "columns of 32 = ",
          { { 128, 256, 0 }, { 2, 1, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CENTRED, 2, 8, 8, false, VD_F32 } },
    };
    (void)state;
    need_device();
    assert_int_equal(setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(setenv("VKDISPATCH_FFT_FACTORS", cases[i].factors, 1), 0);
        vd_convolve *plan = plan_of(device_context, &cases[i].s);
        if (!plan) fail_msg("%s", vd_error_text());
        if (!strstr(vd_convolve_explain(plan), cases[i].columns))
            fail_msg("%s: %s", cases[i].columns, vd_convolve_explain(plan));
        vd_convolve_destroy(plan);
        check(&cases[i].s);
    }
    unsetenv("VKDISPATCH_FFT_FACTORS");
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

/* A GPU gets the plan that was fastest on an NVIDIA H200 with 1 GiB of data: large images and cubes are split, small
   and narrow ones are not. Planned without a device. */
static void parts_chosen_for_a_gpu(void **state) {
#define WHOLE(...) \
    { __VA_ARGS__ }, { __VA_ARGS__ }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 1, 0, 0, false, VD_F32
#define CROPPED(n) \
    { n / 8, n / 8, 0 }, { 14 * (n / 8) + 1, 14 * (n / 8) + 1, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_SAME, \
    1, 0, 0, false, VD_F32
    static const struct { sample s; const char *there, *middle; } cases[] = { /* NULL: not transposed */
        { { WHOLE(64, 64, 0) }, NULL,
          "rows of 64 by 64 = 8 x 8 + 4 x 16, last axis first, 128 threads per transform, 1 transform per work-group, re and im exchanged separately" },
        { { WHOLE(512, 512, 0) }, "rows of 512 by 8",
          "columns of 64 = 16 x 4, 4 threads per transform, 32 transforms per work-group, 16384 bytes" },
        { { WHOLE(1024, 1024, 0) }, "rows of 1024 by 8",
          "columns of 128 = 16 x 8, 8 threads per transform, 16 transforms per work-group, 16384 bytes" },
        { { WHOLE(2048, 2048, 0) }, "rows of 2048 by 2", "columns of 1024" }, /* equally fast in 4 parts */
        { { WHOLE(4096, 4096, 0) }, "rows of 4096 by 4", "columns of 1024" },
        { { WHOLE(64, 64, 64) }, "rows of 64 by 32", "columns of 64 by 2" },
        { { WHOLE(128, 128, 128) }, "rows of 128 by 16 = 8 x 16 by 16",
          "columns of 128 by 8 = 16 x 8 by 8, 32 threads per transform, 8 transforms per work-group, exchange in 2 slices" },
        { { WHOLE(256, 256, 256) }, "rows of 256 by 32", "columns of 256 by 8" },
        { { CROPPED(512) }, NULL, "columns of 512" },
        { { CROPPED(1024) }, NULL, "columns of 1024" },
        { { CROPPED(2048) }, "stored as 2 parts", "columns of 1024" },
        { { CROPPED(4096) }, "stored as 4 parts", "columns of 1024" },
        { { { 1024, 1024, 0 }, { 3, 3, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CENTRED, 8, 3, 8, 2, VD_F32 },
          "rows of 1024 by ", "columns of " },
    };
#undef WHOLE
#undef CROPPED
    vd_context_desc dummy = { 0 };
    vd_context *ctx = NULL;
    (void)state;
    dummy.backend = VD_BACKEND_DUMMY;
    assert_int_equal(vd_context_create(&dummy, &ctx), VD_OK);
    for (size_t i = 0; i < COUNT(cases); i++) {
        vd_convolve *plan = plan_of(ctx, &cases[i].s);
        if (!plan) fail_msg("%s", vd_error_text());
        const char *text = vd_convolve_explain(plan), *there = cases[i].there;
        if (!strstr(text, cases[i].middle) || !strstr(text, "inputs times twiddle factors of") == !!there
            || (there && !strstr(text, there))) fail_msg("%d: %s", (int)i, text);
        vd_convolve_destroy(plan);
    }
    vd_context_destroy(ctx);
}

/* A filter that divides by what it would have multiplied with, so that the second convolution undoes the first. */
static void inverse_filter(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    vc_val size = vc_fma(v->re, v->re, vc_mul(v->im, v->im));
    (void)k;
    (void)at;
    (void)user;
    v->re = vc_div(v->re, size);
    v->im = vc_div(vc_neg(v->im), size);
}

static void filters(void **state) {
    static const float kernel_data[3] = { 0.25f, 1, 0.125f };
    float data[40], result[40];
    vd_buffer_desc desc = { 0 };
    vd_convolve_desc convolve;
    (void)state;
    need_device();
    for (uint64_t i = 0; i < 40; i++) data[i] = (float)noise(i);
    desc.type = VD_F32;
    desc.shape[0] = 40;
    desc.data = data;
    vd_buffer in = vd_buffer_create(device_context, &desc);
    desc.data = NULL;
    vd_buffer middle = vd_buffer_create(device_context, &desc), out = vd_buffer_create(device_context, &desc);
    desc.shape[0] = 3;
    desc.data = kernel_data;
    vd_buffer kernel = vd_buffer_create(device_context, &desc);
    memset(&convolve, 0, sizeof convolve);
    convolve.shape[0] = 40;
    convolve.filter_shape[0] = 3;
    convolve.real = true;
    vd_convolve *there = vd_convolve_create(device_context, &convolve);
    convolve.spectrum_hook = inverse_filter;
    vd_convolve *back = vd_convolve_create(device_context, &convolve);
    vd_list *list = vd_immediate(device_context, 0, 0);
    if (!there || !back || vd_convolve_set_filter(there, list, kernel) || vd_convolve_set_filter(back, list, kernel)
        || vd_convolve_run(there, list, in, middle) || vd_convolve_run(back, list, middle, out)
        || vd_buffer_read(device_context, out, 0, result, VD_WHOLE))
        fail_msg("%s", vd_error_text());
    for (int i = 0; i < 40; i++) assert_float_equal(result[i], data[i], 2e-6f);
    vd_convolve_destroy(there);
    vd_convolve_destroy(back);
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, middle);
    vd_buffer_destroy(device_context, out);
    vd_buffer_destroy(device_context, kernel);
}

static void printing_filter(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)user;
    vc_assert(k, vc_lt(at->coordinate[1], vc_u32(16)), "a bin of 16");
    VC_IF(k, vc_eq(at->coordinate[1], vc_u32(0))) vc_printf(k, "bin %u: %.1f", at->coordinate[1], v->re);
}

static void hear(void *user, const char *kernel, const uint32_t id[3], const char *text) {
    (void)kernel;
    (void)id;
    assert_string_equal(text, "bin 0: 6.0");
    ++*(int *)user;
}

/* printf of a filter arrives once, and the kernel's spectrum is available. */
static void printf_in_filters(void **state) {
    const float data[16] = { 1 }, kernel_data[3] = { 1, 2, 3 };
    float result[16];
    vd_context_desc context = { 0 };
    vd_convolve_desc desc = { 0 };
    vd_buffer_desc memory = { 0 };
    vd_context *ctx = NULL;
    int heard = 0;
    (void)state;
    need_device();
    context.print = hear;
    context.print_user = &heard;
    if (vd_context_create(&context, &ctx)) fail_msg("%s", vd_error_text());
    desc.shape[0] = 16;
    desc.filter_shape[0] = 3;
    desc.real = true;
    desc.spectrum_hook = printing_filter;
    vd_convolve *plan = vd_convolve_create(ctx, &desc);
    memory.type = VD_F32;
    memory.shape[0] = 16;
    memory.data = data;
    vd_buffer in = vd_buffer_create(ctx, &memory);
    memory.data = NULL;
    vd_buffer out = vd_buffer_create(ctx, &memory);
    memory.shape[0] = 3;
    memory.data = kernel_data;
    vd_buffer kernel = vd_buffer_create(ctx, &memory);
    vd_list *list = vd_immediate(ctx, 0, 0);
    if (!plan || vd_convolve_set_filter(plan, list, kernel) || vd_convolve_run(plan, list, in, out)
        || vd_buffer_read(ctx, out, 0, result, VD_WHOLE))
        fail_msg("%s", vd_error_text());
    for (int i = 0; i < 16; i++) assert_float_equal(result[i], (i < 3 ? (float)(i + 1) : 0.0f), 1e-5f);
    assert_int_equal(heard, 1);
    vd_convolve_destroy(plan);
    vd_buffer_destroy(ctx, in);
    vd_buffer_destroy(ctx, out);
    vd_buffer_destroy(ctx, kernel);
    vd_context_destroy(ctx);
}

/* Images through the context's kept plan: the second call builds no kernel. */
static void simple_calls(void **state) {
    static const sample samples[2] = {
        { { 12, 20, 0 }, { 3, 5, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_SAME, 3, 1, 1, true, VD_F32 },
        { { 12, 20, 0 }, { 3, 5, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CENTRED, 3, 1, 1, true, VD_F32 },
    };
    (void)state;
    need_device();
    for (int i = 0; i < 2; i++) {
        const sample *s = &samples[i];
        double *x = elements(s, 720, 5), *k = elements(s, 15, 6), *y = (double *)calloc(720, 16);
        float data[720], kernel_data[15];
        vd_buffer_desc desc = { 0 };
        vd_stats before, after;
        assert_non_null(y);
        for (int j = 0; j < 720; j++) data[j] = (float)x[2 * j];
        for (int j = 0; j < 15; j++) kernel_data[j] = (float)k[2 * j];
        desc.type = VD_F32;
        desc.shape[0] = 3;
        desc.shape[1] = 12;
        desc.shape[2] = 20;
        desc.data = data;
        vd_buffer in = vd_buffer_create(device_context, &desc);
        desc.data = NULL;
        vd_buffer out = vd_buffer_create(device_context, &desc);
        desc.shape[1] = 5;
        desc.shape[2] = 0;
        desc.data = kernel_data;
        vd_buffer kernel = vd_buffer_create(device_context, &desc);
        if (vd_convolve_2d(device_context, in, kernel, out, s->range)) fail_msg("%s", vd_error_text());
        assert_int_equal(vd_context_stats(device_context, &before), VD_OK);
        assert_int_equal(vd_convolve_2d(device_context, in, kernel, out, s->range), VD_OK);
        assert_int_equal(vd_context_stats(device_context, &after), VD_OK);
        assert_int_equal(after.kernels, before.kernels);
        for (int j = 0; j < 3; j++) add_image(s, y + 480 * j, x + 480 * j, k);
        double error = distance(s, out, y, 720);
        if (!(error < 1e-6)) fail_msg("error %.3g", error);
        vd_buffer_destroy(device_context, in);
        vd_buffer_destroy(device_context, out);
        vd_buffer_destroy(device_context, kernel);
        free(x);
        free(k);
        free(y);
    }
}

/* ---- invalid input, without a device ---- */

static void refuse(vd_context *ctx, const vd_convolve_desc *desc, const char *part) {
    assert_null(vd_convolve_create(ctx, desc));
    if (!strstr(vd_error_text(), part)) fail_msg("no \"%s\" in: %s", part, vd_error_text());
}

static void refuse_run(vd_result result, const char *part) {
    assert_int_equal(result, VD_ERROR_INVALID);
    if (!strstr(vd_error_text(), part)) fail_msg("no \"%s\" in: %s", part, vd_error_text());
}

static void mixed_up(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k;
    (void)user;
    v->re = vc_add(v->re, at->index);
}

static void leaves_nothing(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k, (void)at, (void)user;
    v->re = v->im = (vc_val){ 0, 0 };
}

static void bad_runs(vd_context *ctx, const vd_convolve_desc *desc) {
    vd_buffer_desc memory = { 0 };
    vd_convolve *plan = vd_convolve_create(ctx, desc);
    vd_list *list = vd_immediate(ctx, 0, 0);
    assert_non_null(plan);
    memory.name = "numbers";
    memory.type = VD_F32;
    memory.shape[0] = 64;
    vd_buffer a = vd_buffer_create(ctx, &memory);
    memory.shape[0] = 63;
    vd_buffer b = vd_buffer_create(ctx, &memory);
    refuse_run(vd_convolve_run(NULL, list, a, b), "plan is NULL");
    refuse_run(vd_convolve_set_filter(NULL, list, a), "plan is NULL");
    refuse_run(vd_convolve_run(plan, list, a, b), "'made': no filter is set: call vd_convolve_set_filter first");
    refuse_run(vd_convolve_set_filter(plan, list, b), "'numbers' (filter) has 252 bytes, but the plan needs 256");
    assert_int_equal(vd_convolve_set_filter(plan, list, a), VD_OK);
    refuse_run(vd_convolve_run(plan, list, a, a), "in and out overlap");
    refuse_run(vd_convolve_run(plan, list, a, b), "'numbers' (out) has 252 bytes, but the plan needs 256");
    refuse_run(vd_convolve_run(plan, list, b, a), "'numbers' (in) has 252 bytes, but the plan needs 256");
    refuse_run(vd_convolve_2d(ctx, a, a, b, VD_CONVOLVE_FULL), "mode is 3, but must be VD_CONVOLVE_CENTRED or VD_CONVOLVE_SAME");
    vd_stats before, after;
    assert_int_equal(vd_context_stats(ctx, &before), VD_OK);
    refuse_run(vd_convolve_2d(ctx, a, a, b, VD_CONVOLVE_SAME), "'numbers' (out) has 252 bytes, but the plan needs 256");
    assert_int_equal(vd_context_stats(ctx, &after), VD_OK);
    assert_int_equal(after.kernels, before.kernels); /* no plan was made */
    assert_int_equal(after.buffers, before.buffers);
    vd_buffer_destroy(ctx, a);
    vd_buffer_destroy(ctx, b);
    vd_convolve_destroy(plan);
    vd_convolve_destroy(NULL);
}

/* ---- a map between the transforms ---- */

/* Multiplies by a weight for each signal and frequency, adds a value to frequency 0, and conjugates. */
typedef struct mapped { vc_ref weights; vc_val offset; uint64_t length[3]; bool wide; } mapped;

static void declare_map(vc_kernel *k, void *user) {
    mapped *m = (mapped *)user;
    m->weights = vc_buffer(k, "weights", m->wide ? VC_F64 : VC_F32, VC_READ);
    m->offset = vc_param(k, "offset", m->wide ? VC_F64 : VC_F32);
}

static void map_spectrum(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    const mapped *m = (const mapped *)user;
    vc_val index = at->coordinate[0];
    for (int d = 0; d < 3; d++) index = vc_add(vc_mul(index, vc_u32((uint32_t)m->length[d])), at->coordinate[d + 1]);
    uint32_t count = (uint32_t)(m->length[0] * m->length[1] * m->length[2]);
    vc_val weight = vc_load(m->weights, index), first = vc_eq(vc_rem(index, vc_u32(count)), vc_u32(0));
    vc_val zero = vc_const(k, m->wide ? vc_f64(0) : vc_f32(0));
    v->re = vc_add(vc_mul(v->re, weight), vc_select(first, m->offset, zero));
    v->im = vc_neg(vc_mul(v->im, weight));
}

/* Transforms one dimension of x by its definition. */
static void sum_dimension(double *x, const uint64_t *shape, int dimension, int sign) {
    uint64_t n = shape[dimension], inner = 1, count = shape[0] * shape[1] * shape[2];
    double *line = (double *)malloc((size_t)n * 2 * sizeof *line);
    assert_non_null(line);
    for (int d = dimension + 1; d < 3; d++) inner *= shape[d];
    for (uint64_t i = 0; i < count; i++) {
        if (i / inner % n) continue;
        for (uint64_t k = 0; k < n; k++) {
            line[2 * k] = line[2 * k + 1] = 0;
            for (uint64_t j = 0; j < n; j++) {
                double angle = sign * 2 * 3.14159265358979323846 * (double)(j * k % n) / (double)n;
                const double *p = x + 2 * (i + j * inner);
                line[2 * k] += p[0] * cos(angle) - p[1] * sin(angle);
                line[2 * k + 1] += p[0] * sin(angle) + p[1] * cos(angle);
            }
        }
        for (uint64_t k = 0; k < n; k++) memcpy(x + 2 * (i + k * inner), line + 2 * k, 2 * sizeof *line);
    }
    free(line);
}

/* Runs a plan with the map above, and compares with sums in double. pad: additional elements of the period. */
static void check_map(const sample *s, uint64_t pad, const char *expected_kernels) {
    uint64_t shape[3], length[3], batch = at_least_one(s->batch);
    double *y = NULL;
    mapped m = { { 0 }, { 0, 0 }, { 1, 1, 1 }, s->type == VD_F64 };
    for (int d = 0; d < 3; d++) {
        shape[d] = s->shape[d] ? s->shape[d] : 1;
        m.length[d] = length[d] = s->shape[d] && pad ? vd_fft_good_size(shape[d] + pad) : shape[d];
    }
    uint64_t n = shape[0] * shape[1] * shape[2], all = length[0] * length[1] * length[2];
    vd_convolve_desc desc = { 0 };
    memcpy(desc.shape, s->shape, sizeof desc.shape);
    for (int d = 0; d < 3 && pad; d++) desc.filter_shape[d] = s->shape[d] ? pad + 1 : 0;
    desc.mode = pad ? VD_CONVOLVE_FULL : VD_CONVOLVE_CIRCULAR;
    desc.batch = s->batch;
    desc.type = s->type;
    desc.real = s->real != 0;
    desc.map = map_spectrum;
    desc.map_declare = declare_map;
    desc.hook_user = &m;
    vd_convolve *plan = vd_convolve_create(device_context, &desc);
    if (!plan) fail_msg("%s", vd_error_text());
    if (expected_kernels && !strstr(vd_convolve_explain(plan), expected_kernels))
        fail_msg("%s", vd_convolve_explain(plan));
    sample real = *s;
    real.real = 1;
    double *x = elements(s, batch * n, 3), *weights = elements(&real, batch * all, 99);
    vd_buffer in = numbers_buffer(s, batch * n, x), w = numbers_buffer(&real, batch * all, weights);
    uint64_t results[3] = { 1, 1, 1 };
    for (int d = 0; d < 3; d++) results[d] = shape[d] + (s->shape[d] ? pad : 0);
    uint64_t out_count = results[0] * results[1] * results[2];
    vd_buffer out = numbers_buffer(s, batch * out_count, NULL);
    vd_named_arg args[2] = { { "offset", s->type == VD_F64 ? vd_f64(2.5) : vd_f32(2.5f) }, { "weights", vd_b(w) } };
    vd_convolve_io io = { in, out, args, 2 };
    if (vd_convolve_run_io(plan, vd_immediate(device_context, 0, 0), &io)) fail_msg("%s", vd_error_text());
    double *expected = (double *)calloc((size_t)(batch * out_count), 16);
    assert_non_null(expected);
    for (uint64_t b = 0; b < batch; b++) {
        y = (double *)calloc((size_t)all, 16);
        assert_non_null(y);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t to = (i / (shape[1] * shape[2]) * length[1] + i / shape[2] % shape[1]) * length[2] + i % shape[2];
            memcpy(y + 2 * to, x + 2 * (b * n + i), 16);
        }
        for (int d = 0; d < 3; d++) sum_dimension(y, length, d, -1);
        for (uint64_t i = 0; i < all; i++) {
            y[2 * i] = y[2 * i] * weights[2 * (b * all + i)] + (i ? 0 : 2.5);
            y[2 * i + 1] *= -weights[2 * (b * all + i)];
        }
        for (int d = 0; d < 3; d++) sum_dimension(y, length, d, 1);
        for (uint64_t i = 0; i < out_count; i++) {
            uint64_t row = i / (results[1] * results[2]) * length[1] + i / results[2] % results[1];
            uint64_t from = row * length[2] + i % results[2];
            expected[2 * (b * out_count + i)] = y[2 * from] / (double)all;
            expected[2 * (b * out_count + i) + 1] = y[2 * from + 1] / (double)all;
        }
        free(y);
    }
    double error = distance(s, out, expected, batch * out_count);
    if (!(error <= (s->type == VD_F64 ? 2e-15 : 1e-6))) {
        say(s, plan);
        fail_msg("error %.3g of a map", error);
    }
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, w);
    vd_buffer_destroy(device_context, out);
    vd_convolve_destroy(plan);
    free(x);
    free(weights);
    free(expected);
}

static void maps(void **state) {
    static const struct { sample s; uint64_t pad; } cases[] = {
        { { { 24, 0, 0 }, { 0 }, VD_CONVOLVE_KIND_DEFAULT, VD_CONVOLVE_MODE_DEFAULT, 3, 1, 1, 0, VD_F32 }, 0 },
        { { { 37, 0, 0 }, { 0 }, VD_CONVOLVE_KIND_DEFAULT, VD_CONVOLVE_MODE_DEFAULT, 2, 1, 1, 0, VD_F32 }, 0 },
        { { { 24, 0, 0 }, { 0 }, VD_CONVOLVE_KIND_DEFAULT, VD_CONVOLVE_MODE_DEFAULT, 2, 1, 1, 1, VD_F32 }, 7 },
        { { { 6, 10, 0 }, { 0 }, VD_CONVOLVE_KIND_DEFAULT, VD_CONVOLVE_MODE_DEFAULT, 2, 1, 1, 0, VD_F32 }, 0 },
        { { { 12, 10, 0 }, { 0 }, VD_CONVOLVE_KIND_DEFAULT, VD_CONVOLVE_MODE_DEFAULT, 3, 1, 1, 1, VD_F32 }, 3 },
        { { { 3, 4, 5 }, { 0 }, VD_CONVOLVE_KIND_DEFAULT, VD_CONVOLVE_MODE_DEFAULT, 2, 1, 1, 1, VD_F32 }, 0 },
        { { { 30, 16, 0 }, { 0 }, VD_CONVOLVE_KIND_DEFAULT, VD_CONVOLVE_MODE_DEFAULT, 1, 1, 1, 0, VD_F64 }, 0 },
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int as_gpu = 0; as_gpu < 2; as_gpu++) {
            if ((cases[i].s.type == VD_F64 && lacks_arithmetic(VD_F64)) || passes_over(1, 1)) continue;
            if (as_gpu) assert_int_equal(setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1), 0);
            check_map(&cases[i].s, cases[i].pad, cases[i].s.shape[1] ? NULL : "map of the spectrum");
            unsetenv("VKDISPATCH_FFT_SHAPES");
        }
    /* parts of the first axis are transformed together with the last one */
    sample parts = { { 32, 8, 12 }, { 0 }, VD_CONVOLVE_KIND_DEFAULT, VD_CONVOLVE_MODE_DEFAULT, 2, 1, 1, 0, VD_F32 };
    assert_int_equal(setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1), 0);
    assert_int_equal(setenv("VKDISPATCH_FFT_FACTORS", "p4", 1), 0);
    if (!passes_over(1, 1)) check_map(&parts, 2, NULL);
    unsetenv("VKDISPATCH_FFT_FACTORS");
    unsetenv("VKDISPATCH_FFT_SHAPES");
    /* the first axis takes several passes; the map is part of the last one before the inverse transform */
    uint32_t shared = limit_shared_memory(512);
    sample s = { { 300, 0, 0 }, { 0 }, VD_CONVOLVE_KIND_DEFAULT, VD_CONVOLVE_MODE_DEFAULT, 2, 1, 1, 0, VD_F32 };
    if (!passes_over(1, 1)) check_map(&s, 0, NULL);
    s.real = 1;
    if (!passes_over(1, 1)) check_map(&s, 20, NULL);
    limit_shared_memory(shared);
}

static void bad_map(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)at, (void)user;
    v->re = vc_const(k, vc_u32(1));
}

static void declare_many(vc_kernel *k, void *user) {
    for (int i = 0; i < *(const int *)user; i++) {
        char name[32];
        snprintf(name, sizeof name, "value %d", i);
        vc_param(k, name, VC_F32);
    }
}

static void keep_map(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k, (void)at, (void)v, (void)user;
}

/* A map has at most 13 arguments, whether the signals are complex or real, which takes arguments of the library. */
static void many_arguments(vd_context *ctx, bool real) {
    int count = 13;
    vd_convolve_desc desc = { 0 };
    desc.shape[0] = 16;
    desc.map = keep_map;
    desc.map_declare = declare_many;
    desc.hook_user = &count;
    desc.real = real;
    vd_convolve *plan = vd_convolve_create(ctx, &desc);
    if (!plan) fail_msg("%s", vd_error_text());
    vd_convolve_destroy(plan);
    count = 14;
    assert_null(vd_convolve_create(ctx, &desc));
    assert_int_equal(vd_error_result(), VD_ERROR_UNSUPPORTED);
    says("argument 'value 13' of map_declare exceeds the limit of 13 arguments");
}

static void declare_by_name(vc_kernel *k, void *user) { vc_param(k, (const char *)user, VC_F32); }

/* Arguments of a map must not have the names of the plan's own arguments, whether this plan has them or not. */
static void reserved_names(vd_context *ctx, bool real) {
    static char names[][8] = { "in", "out", "roots", "inner" };
    vd_convolve_desc desc = { 0 };
    desc.shape[0] = 16;
    desc.map = keep_map;
    desc.map_declare = declare_by_name;
    desc.real = real;
    for (int i = 0; i < 4; i++) {
        char text[100];
        desc.hook_user = names[i];
        vd_convolve *plan = vd_convolve_create(ctx, &desc);
        assert_int_equal(plan != NULL, i == 3);
        vd_convolve_destroy(plan);
        snprintf(text, sizeof text, "map_declare declares argument '%s', but this name is reserved", names[i]);
        if (i < 3) says(text);
    }
}

static void bad_maps(void **state) {
    vd_context_desc dummy = { 0 };
    vd_context *ctx = NULL;
    vd_convolve_desc desc = { 0 };
    mapped m = { { 0 }, { 0, 0 }, { 1, 1, 16 }, false };
    (void)state;
    dummy.backend = VD_BACKEND_DUMMY;
    assert_int_equal(vd_context_create(&dummy, &ctx), VD_OK);
    desc.shape[0] = 16;
    desc.map_declare = declare_map;
    desc.hook_user = &m;
    assert_null(vd_convolve_create(ctx, &desc));
    says("vd_convolve_create 'convolve': map_declare is set, but map is not");
    desc.map = map_spectrum;
    desc.channels = 2;
    assert_null(vd_convolve_create(ctx, &desc));
    says("map is set, but channels is 2; map requires 1");
    desc.channels = 0;
    desc.filter_per_group = true;
    assert_null(vd_convolve_create(ctx, &desc));
    says("map and filter_per_group are set, but a plan with a map has no filter");
    desc.filter_per_group = false;
    desc.mode = VD_CONVOLVE_SAME;
    assert_null(vd_convolve_create(ctx, &desc));
    says("map is set, but mode is neither VD_CONVOLVE_CIRCULAR nor VD_CONVOLVE_FULL");
    desc.mode = VD_CONVOLVE_CIRCULAR;
    desc.kind = VD_CONVOLVE_CORRELATION;
    assert_null(vd_convolve_create(ctx, &desc));
    says("map is set, but kind is not VD_CONVOLVE_CONVOLUTION");
    desc.kind = VD_CONVOLVE_CONVOLUTION;
    desc.map = bad_map;
    assert_null(vd_convolve_create(ctx, &desc));
    says("the map sets re to u32 and im to f32, but f32 is expected");
    desc.map = map_spectrum;
    desc.rigor = VD_FFT_MEASURE;
    vd_convolve *plan = vd_convolve_create(ctx, &desc);
    if (!plan) fail_msg("%s", vd_error_text());
    int count = 0;
    const vd_arg_info *args = vd_convolve_arguments(plan, &count);
    assert_int_equal(count, 2);
    assert_string_equal(args[0].name, "weights");
    assert_string_equal(args[1].name, "offset");
    vd_buffer in = buffer_of(ctx, VD_F32C, 16, NULL), out = buffer_of(ctx, VD_F32C, 16, NULL);
    vd_list *list = vd_immediate(ctx, 0, 0);
    assert_int_equal(vd_convolve_set_filter(plan, list, in), VD_ERROR_INVALID);
    says("vd_convolve_set_filter 'convolve': the plan has a map instead of filters (desc.map)");
    assert_int_equal(vd_convolve_run(plan, list, in, out), VD_ERROR_INVALID);
    says("argument 'weights' is missing");
    vd_convolve_io io = { in, out, NULL, 2 };
    assert_int_equal(vd_convolve_run_io(plan, list, &io), VD_ERROR_INVALID);
    says("vd_convolve_run_io 'convolve': arg_count is 2, but args is NULL");
    io.arg_count = 14;
    assert_int_equal(vd_convolve_run_io(plan, list, &io), VD_ERROR_INVALID);
    says("arg_count is 14, but must be 0 to 13");
    assert_int_equal(vd_convolve_run_io(plan, list, NULL), VD_ERROR_INVALID);
    assert_null(vd_convolve_arguments(NULL, &count));
    many_arguments(ctx, false);
    many_arguments(ctx, true);
    reserved_names(ctx, false);
    reserved_names(ctx, true);
    vd_convolve_destroy(plan);
    vd_buffer_destroy(ctx, in);
    vd_buffer_destroy(ctx, out);
    vd_context_destroy(ctx);
}

static void bad_input(void **state) {
    vd_context_desc dummy = { 0 };
    vd_context *ctx = NULL;
    vd_convolve_desc desc;
    vd_stats stats;
    (void)state;
    memset(&desc, 0, sizeof desc);
    dummy.backend = VD_BACKEND_DUMMY;
    assert_int_equal(vd_context_create(&dummy, &ctx), VD_OK);
    refuse(NULL, &desc, "ctx is NULL");
    refuse(ctx, NULL, "desc is NULL");
    refuse(ctx, &desc, "'convolve': dimension 0 of the shape is 0, but must be at least 1");
    desc.name = "made";
    desc.shape[0] = 8;
    desc.shape[1] = 8;
    desc.filter_shape[0] = 4;
    refuse(ctx, &desc, "'made': the filter is 1-dimensional, but the signal is 2-dimensional");
    desc.filter_shape[2] = 3;
    refuse(ctx, &desc, "'made': filter_shape: dimension 1 of the shape is 0, but dimension 2 is not");
    desc.filter_shape[2] = 0;
    desc.filter_shape[1] = 9;
    refuse(ctx, &desc, "'made': filter_shape[1] is 9, but this mode allows at most shape[1], 8");
    desc.filter_shape[1] = 4;
    desc.kind = (vd_convolve_kind)3;
    refuse(ctx, &desc, "'made': kind is 3, but must be 0 to 2 (VD_CONVOLVE_CORRELATION)");
    desc.kind = VD_CONVOLVE_KIND_DEFAULT;
    desc.mode = (vd_convolve_mode)6;
    refuse(ctx, &desc, "'made': mode is 6, but must be 0 to 5 (VD_CONVOLVE_VALID)");
    desc.mode = VD_CONVOLVE_MODE_DEFAULT;
    desc.type = VD_F16;
    refuse(ctx, &desc, "'made': type is f16, but must be f32 or f64");
    desc.type = VD_F32;
    desc.spectrum_hook = mixed_up;
    refuse(ctx, &desc, "vd_convolve_create 'made': spectrum_hook: the store hook: ");
    desc.spectrum_hook = leaves_nothing;
    refuse(ctx, &desc, "vd_convolve_create 'made': spectrum_hook sets re or im to {0}");
    desc.spectrum_hook = NULL;
    desc.shape[0] = desc.shape[1] = (uint64_t)1 << 20;
    refuse(ctx, &desc, ", but the limit is 4294967295 elements");
    desc.shape[0] = desc.shape[1] = 8;
    desc.filter_shape[0] = desc.filter_shape[1] = 8;
    desc.channels = desc.filters = 8192;
    refuse(ctx, &desc, "'made': channels is 8192, filters is 8192 and each spectrum has 64 elements, but the limit of "
                       "their product is 4294967295");
    desc.channels = desc.filters = 256;
    desc.batch = 1024;
    desc.filter_per_group = true;
    refuse(ctx, &desc, "'made': batch is 1024, channels is 256, filters is 256 and each spectrum has 64 elements, but "
                       "the limit of their product is 4294967295");
    desc.channels = desc.filters = desc.batch = 0;
    desc.filter_per_group = false;
    desc.real = true;
    bad_runs(ctx, &desc);
    assert_int_equal(vd_context_stats(ctx, &stats), VD_OK);
    assert_int_equal(stats.buffers, 0);
    assert_int_equal(stats.kernels, 0);
    vd_context_destroy(ctx);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges), cmocka_unit_test(reals), cmocka_unit_test(shapes), cmocka_unit_test(channels),
        cmocka_unit_test(long_axes), cmocka_unit_test(very_many), cmocka_unit_test(doubles), cmocka_unit_test(passes),
        cmocka_unit_test(as_for_a_gpu), cmocka_unit_test(joined_axes), cmocka_unit_test(split_first_axis),
        cmocka_unit_test(requested_parts), cmocka_unit_test(known_parts), cmocka_unit_test(parts_chosen_for_a_gpu),
        cmocka_unit_test(filters), cmocka_unit_test(printf_in_filters), cmocka_unit_test(simple_calls),
        cmocka_unit_test(maps), cmocka_unit_test(bad_maps), cmocka_unit_test(bad_input),
    };
    all_cases = argc > 1 && !strcmp(argv[1], "-a");
    return RUN_ON_DEVICE(tests);
}
