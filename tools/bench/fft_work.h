/* Sizes, data and expected results of the FFT benchmark. FFTW computes the expected results in double precision.

   The input of every size repeats one sequence of random complex numbers, whose length is prime. A sample is one
   row, column, image or cube of a batch. */
#ifndef FFT_WORK_H
#define FFT_WORK_H

#if defined(__has_include)
#if __has_include(<fftw3.h>)
#define HAS_FFTW 1
#include <fftw3.h>
#endif
#endif
#ifndef HAS_FFTW
#define HAS_FFTW 0
#endif

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void die(const char *what, const char *why) {
    fprintf(stderr, "bench-fft: %s: %s\n", what, why ? why : "");
    exit(1);
}

static inline void *xmalloc(uint64_t bytes) {
    void *block = malloc(bytes);
    if (!block) die("malloc", "out of memory");
    return block;
}

/* ---- sizes ---- */

typedef enum kind {
    COMPLEX = 0,
    REAL,            /* rows of reals to half spectra; BENCH_BYTES counts both together */
    COLUMNS,         /* of square images, transformed along the first axis */
    IN_PLACE,        /* columns in place, alternately forward and inverse */
    CONVOLVE,        /* complex images with a kernel of the same size, circular */
    /* the whole size, but the signal is zero-padded from one eighth of the length along each axis, and only that
       part of the result is needed */
    CROPPED,
    REAL_BACK,       /* rows from half spectra to reals, without scaling */
    CONVOLVE_REAL,   /* rows and images of reals with a kernel of the same size, circular */
    FILTER_REAL      /* the same with a centred kernel of FILTER elements along each axis */
} kind;

enum { FILTER = 31 };

typedef struct size {
    kind what;
    uint32_t rank, n[3];
    double bound;    /* bound of the time ratio ours / cuFFT; 0: none */
    double copy;     /* bound of the time ratio ours / copy */
} size;

static const size sizes[] = {
    { COMPLEX, 1, { 64, 0, 0 }, 1.02, 1.03 }, { COMPLEX, 1, { 128, 0, 0 }, 1.02, 1.03 },
    { COMPLEX, 1, { 256, 0, 0 }, 1.02, 1.03 }, { COMPLEX, 1, { 512, 0, 0 }, 1.02, 1.03 },
    { COMPLEX, 1, { 1024, 0, 0 }, 1.02, 1.03 }, { COMPLEX, 1, { 2048, 0, 0 }, 1.02, 1.03 },
    { COMPLEX, 1, { 4096, 0, 0 }, 1.02, 1.03 }, { COMPLEX, 1, { 8192, 0, 0 }, 1.02, 1.03 },
    { COMPLEX, 1, { 16384, 0, 0 }, 0.87, 0 }, { COMPLEX, 1, { 1 << 16, 0, 0 }, 0.91, 0 },
    { COMPLEX, 1, { 1 << 18, 0, 0 }, 0.91, 0 }, { COMPLEX, 1, { 1 << 20, 0, 0 }, 0.91, 0 },
    { COMPLEX, 1, { 1 << 22, 0, 0 }, 0.91, 0 }, { COMPLEX, 1, { 1 << 24, 0, 0 }, 0.91, 0 },
    { COMPLEX, 1, { 96, 0, 0 }, 0.95, 0 }, { COMPLEX, 1, { 100, 0, 0 }, 0.95, 0 },
    { COMPLEX, 1, { 243, 0, 0 }, 1.07, 0 }, { COMPLEX, 1, { 360, 0, 0 }, 0.95, 0 },
    { COMPLEX, 1, { 500, 0, 0 }, 1.07, 0 }, { COMPLEX, 1, { 625, 0, 0 }, 1.07, 0 },
    { COMPLEX, 1, { 729, 0, 0 }, 1.07, 0 }, { COMPLEX, 1, { 1000, 0, 0 }, 1.07, 0 },
    { COMPLEX, 1, { 1080, 0, 0 }, 0.95, 0 }, { COMPLEX, 1, { 1536, 0, 0 }, 1.07, 0 },
    { COMPLEX, 1, { 1920, 0, 0 }, 0.95, 0 }, { COMPLEX, 1, { 2187, 0, 0 }, 1.07, 0 },
    { COMPLEX, 1, { 3125, 0, 0 }, 0.95, 0 }, { COMPLEX, 1, { 4000, 0, 0 }, 1.07, 0 },
    { COMPLEX, 1, { 4095, 0, 0 }, 0.95, 0 }, { COMPLEX, 1, { 127, 0, 0 }, 0.67, 0 },
    { COMPLEX, 1, { 509, 0, 0 }, 0.67, 0 }, { COMPLEX, 1, { 1021, 0, 0 }, 0.67, 0 },
    { COMPLEX, 1, { 2027, 0, 0 }, 0.67, 0 }, { COMPLEX, 1, { 4093, 0, 0 }, 0.67, 0 },
    { COMPLEX, 2, { 8, 8, 0 }, 0.63, 0 }, { COMPLEX, 2, { 16, 16, 0 }, 0.63, 0 },
    { COMPLEX, 2, { 32, 32, 0 }, 0.63, 0 }, { COMPLEX, 2, { 64, 64, 0 }, 0.63, 0 },
    { COMPLEX, 2, { 128, 128, 0 }, 0.63, 0 }, { COMPLEX, 2, { 512, 512, 0 }, 0, 0 },
    { COMPLEX, 2, { 1024, 1024, 0 }, 0, 0 }, { COMPLEX, 2, { 2048, 2048, 0 }, 0.83, 0 },
    { COMPLEX, 2, { 4096, 4096, 0 }, 0.83, 0 }, { COMPLEX, 3, { 64, 64, 64 }, 0.67, 0 },
    { COMPLEX, 3, { 128, 128, 128 }, 0.67, 0 }, { COMPLEX, 3, { 256, 256, 256 }, 0.67, 0 },
    { COMPLEX, 3, { 512, 512, 512 }, 0.91, 0 },
    { REAL, 1, { 256, 0, 0 }, 1.02, 0 }, { REAL, 1, { 512, 0, 0 }, 1.02, 0 }, { REAL, 1, { 1024, 0, 0 }, 1.02, 0 },
    { REAL, 1, { 2048, 0, 0 }, 1.02, 0 }, { REAL, 1, { 4096, 0, 0 }, 1.02, 0 }, { REAL, 1, { 105, 0, 0 }, 0, 0 },
    { REAL, 1, { 243, 0, 0 }, 0, 0 }, { REAL, 1, { 1001, 0, 0 }, 0, 0 }, { REAL, 1, { 3375, 0, 0 }, 0, 0 },
    { REAL, 1, { 4095, 0, 0 }, 0, 0 },
    { REAL_BACK, 1, { 105, 0, 0 }, 0, 0 }, { REAL_BACK, 1, { 243, 0, 0 }, 0, 0 },
    { REAL_BACK, 1, { 1001, 0, 0 }, 0, 0 }, { REAL_BACK, 1, { 3375, 0, 0 }, 0, 0 },
    { REAL_BACK, 1, { 4095, 0, 0 }, 0, 0 },
    { COLUMNS, 1, { 256, 0, 0 }, 0, 1.075 }, { COLUMNS, 1, { 512, 0, 0 }, 0, 1.075 },
    { COLUMNS, 1, { 1024, 0, 0 }, 0, 1.075 }, { COLUMNS, 1, { 2048, 0, 0 }, 0, 1.33 },
    { COLUMNS, 1, { 4096, 0, 0 }, 0, 2.13 },
    { IN_PLACE, 1, { 256, 0, 0 }, 0, 1.075 }, { IN_PLACE, 1, { 512, 0, 0 }, 0, 1.075 },
    { IN_PLACE, 1, { 1024, 0, 0 }, 0, 1.075 }, { IN_PLACE, 1, { 2048, 0, 0 }, 0, 1.33 },
    { IN_PLACE, 1, { 4096, 0, 0 }, 0, 2.13 },
    { CONVOLVE, 2, { 8, 8, 0 }, 0.33, 0 }, { CONVOLVE, 2, { 16, 16, 0 }, 0.33, 0 },
    { CONVOLVE, 2, { 32, 32, 0 }, 0.33, 0 }, { CONVOLVE, 2, { 64, 64, 0 }, 0.33, 0 },
    { CONVOLVE, 2, { 128, 128, 0 }, 0.33, 0 }, { CONVOLVE, 2, { 512, 512, 0 }, 0.56, 0 },
    { CONVOLVE, 2, { 1024, 1024, 0 }, 0.56, 0 }, { CONVOLVE, 2, { 2048, 2048, 0 }, 0.56, 0 },
    { CONVOLVE, 2, { 4096, 4096, 0 }, 0.56, 0 }, { CONVOLVE, 3, { 64, 64, 64 }, 0.56, 0 },
    { CONVOLVE, 3, { 128, 128, 128 }, 0.56, 0 }, { CONVOLVE, 3, { 256, 256, 256 }, 0.56, 0 },
    { CROPPED, 2, { 512, 512, 0 }, 0.25, 0 }, { CROPPED, 2, { 1024, 1024, 0 }, 0.25, 0 },
    { CROPPED, 2, { 2048, 2048, 0 }, 0.25, 0 }, { CROPPED, 2, { 4096, 4096, 0 }, 0.25, 0 },
    { CONVOLVE_REAL, 1, { 1000, 0, 0 }, 0, 0 }, { CONVOLVE_REAL, 1, { 4096, 0, 0 }, 0, 0 },
    { CONVOLVE_REAL, 2, { 512, 512, 0 }, 0, 0 }, { CONVOLVE_REAL, 2, { 1000, 1000, 0 }, 0, 0 },
    { CONVOLVE_REAL, 2, { 2048, 2048, 0 }, 0, 0 },
    { FILTER_REAL, 1, { 1000, 0, 0 }, 0, 0 }, { FILTER_REAL, 1, { 4096, 0, 0 }, 0, 0 },
    { FILTER_REAL, 2, { 512, 512, 0 }, 0, 0 }, { FILTER_REAL, 2, { 1000, 1000, 0 }, 0, 0 },
};

static inline uint64_t points(const size *s) {
    uint64_t n = 1;
    for (uint32_t i = 0; i < s->rank; i++) n *= s->n[i];
    return n;
}

static inline void name_of(const size *s, char *out, size_t space) {
    static const char *const prefix[] = { "", "r2c-", "columns-", "columns-in-place-", "convolve-", "cropped-", "c2r-",
                                          "convolve-real-", "filter-real-" };
    int used = snprintf(out, space, "%s", prefix[s->what]);
    snprintf(out + used, space - (size_t)used, s->rank == 1 ? "%u" : s->rank == 2 ? "%ux%u" : "%ux%ux%u", s->n[0],
             s->n[1], s->n[2]);
}

/* Reads "AxBxC"; returns the number of lengths, or 0. */
static inline uint32_t parse_lengths(const char *text, uint32_t *n) {
    uint32_t rank = 0;
    while (rank < 3 && *text >= '1' && *text <= '9') {
        n[rank++] = (uint32_t)strtoul(text, (char **)&text, 10);
        if (*text == 'x') text++;
    }
    return *text ? 0 : rank;
}

static inline bool is_columns(const size *s) { return s->what == COLUMNS || s->what == IN_PLACE; }
static inline bool is_real_convolution(const size *s) { return s->what == CONVOLVE_REAL || s->what == FILTER_REAL; }
static inline bool is_convolution(const size *s) {
    return s->what == CONVOLVE || s->what == CROPPED || is_real_convolution(s);
}
static inline bool is_real_row(const size *s) { return s->what == REAL || s->what == REAL_BACK; }
static inline bool is_real_result(const size *s) { return s->what == REAL_BACK || is_real_convolution(s); }
/* Whether two rows or images of reals can be packed as one complex transform. */
static inline bool may_pack(const size *s) { return (is_real_row(s) && s->n[0] % 2) || is_real_convolution(s); }
/* elements along one axis of the signal */
static inline uint32_t signal_extent(const size *s) { return s->what == CROPPED ? s->n[0] / 8 : s->n[0]; }

static uint64_t max_batch = UINT64_MAX; /* BENCH_BATCH */

static inline void read_max_batch(void) {
    const char *batch = getenv("BENCH_BATCH");
    if (batch && strtoull(batch, NULL, 0)) max_batch = strtoull(batch, NULL, 0);
}

/* The number of transforms (for columns: images) that fit into `bytes`. For reals, including their half spectra. */
static inline uint64_t batch_of(const size *s, uint64_t bytes) {
    uint64_t last = s->n[s->rank - 1], rows = points(s) / last, batch = bytes / (8 * (last / 2 + 1) * rows);
    if (!is_real_row(s) && !is_real_convolution(s)) batch = bytes / (8 * points(s) * (is_columns(s) ? s->n[0] : 1));
    return batch < max_batch ? batch : max_batch;
}

/* number of samples */
static inline uint64_t count_of(const size *s, uint64_t bytes) {
    return batch_of(s, bytes) * (is_columns(s) ? s->n[0] : 1);
}

/* ---- data ---- */

typedef struct numbers { float *data; uint64_t period; } numbers; /* `period` complex numbers */

static inline numbers make_numbers(uint64_t most) {
    numbers x = { NULL, most < 1000003 ? most : 1000003 };
    uint32_t seed = 1;
    x.data = (float *)xmalloc(x.period * 8);
    for (uint64_t i = 0; i < 2 * x.period; i++) {
        seed = seed * 1664525u + 1013904223u;
        x.data[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
    }
    return x;
}

static inline void take(const numbers *x, uint64_t first, uint64_t stride, uint64_t count, float *out) {
    for (uint64_t i = 0; i < count; i++) memcpy(out + 2 * i, x->data + 2 * ((first + i * stride) % x->period), 8);
}

/* The kernel of convolutions, of the given size; element 0 has index 0. */
static inline void make_kernel(const numbers *x, const size *s, float *out) { take(x, 12345, 1, points(s), out); }

/* Copies reals from number `first` on. */
static inline void take_reals(const numbers *x, uint64_t first, uint64_t count, float *out) {
    for (uint64_t i = 0; i < count; i++) out[i] = x->data[(first + i) % (2 * x->period)];
}
static inline uint64_t kernel_extent(const size *s) { return s->what == FILTER_REAL ? FILTER : s->n[0]; }
static inline uint64_t kernel_points(const size *s) {
    return s->rank == 1 ? kernel_extent(s) : kernel_extent(s) * kernel_extent(s);
}
static inline void make_real_kernel(const numbers *x, const size *s, float *out) {
    take_reals(x, 12345, kernel_points(s), out);
}

/* The same, zero-padded to the size of the transform. */
static inline void pad_real_kernel(const numbers *x, const size *s, float *out) {
    uint64_t side = kernel_extent(s), n = s->n[0], shift = s->what == FILTER_REAL ? n - (FILTER - 1) / 2 : 0;
    float *kernel = (float *)xmalloc(kernel_points(s) * sizeof *kernel);
    make_real_kernel(x, s, kernel);
    memset(out, 0, points(s) * sizeof *out);
    for (uint64_t i = 0; i < kernel_points(s); i++) {
        uint64_t row = s->rank == 1 ? 0 : (i / side + shift) % n;
        out[row * n + (i % side + shift) % n] = kernel[i];
    }
    free(kernel);
}

/* Zero-padded signal number `image`. */
static inline void make_signal(const numbers *x, const size *s, uint64_t image, float *out) {
    uint64_t n = s->n[0], side = signal_extent(s);
    if (s->what == CONVOLVE) {
        take(x, image * points(s), 1, points(s), out);
        return;
    }
    memset(out, 0, n * n * 8);
    for (uint64_t y = 0; y < side; y++) take(x, (image * side + y) * side, 1, side, out + 2 * y * n);
}

/* ---- the position of a sample in memory, in elements of `parts` floats ---- */

typedef struct sample_range { uint64_t first, stride, count, parts; } sample_range;

/* Returns the range of a sample in the result. `wide`: columns of one image that contains all columns, instead of
   square images. */
static inline sample_range range_of(const size *s, uint64_t bytes, uint64_t number, bool wide) {
    uint64_t n = s->n[0], side = signal_extent(s), columns = wide ? count_of(s, bytes) : n;
    sample_range p = { 0, 1, points(s), is_real_result(s) ? 1 : 2 };
    if (s->what == REAL) p.count = n / 2 + 1;
    if (s->what == CROPPED) p.count = side * side;
    if (is_columns(s)) p.stride = columns;
    p.first = is_columns(s) ? number / columns * columns * n + number % columns : number * p.count;
    return p;
}

#if HAS_FFTW
static inline void widen(const float *from, fftw_complex *to, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        to[i][0] = (double)from[2 * i];
        to[i][1] = (double)from[2 * i + 1];
    }
}

static inline void transform(const size *s, fftw_complex *x, int sign) {
    int dims[3] = { (int)s->n[0], (int)s->n[1], (int)s->n[2] };
    fftw_plan plan = fftw_plan_dft((int)s->rank, dims, x, x, sign, FFTW_ESTIMATE);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
}

static inline void widen_reals(const float *from, fftw_complex *to, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        to[i][0] = (double)from[i];
        to[i][1] = 0;
    }
}

/* Makes the kernel and the signal of a convolution. */
static inline void make_factors(const numbers *x, const size *s, uint64_t number, fftw_complex *kernel,
                                fftw_complex *signal) {
    uint64_t n = points(s);
    float *given = (float *)xmalloc(n * 8);
    if (is_real_convolution(s)) {
        pad_real_kernel(x, s, given);
        widen_reals(given, kernel, n);
        take_reals(x, number * n, n, given);
        widen_reals(given, signal, n);
    } else {
        make_kernel(x, s, given);
        widen(given, kernel, n);
        make_signal(x, s, number, given);
        widen(given, signal, n);
    }
    free(given);
}

static inline void convolve(const numbers *x, const size *s, uint64_t number, fftw_complex *out) {
    uint64_t n = points(s), side = signal_extent(s);
    fftw_complex *kernel = (fftw_complex *)fftw_malloc(n * sizeof *kernel);
    if (!kernel) die("fftw_malloc", "out of memory");
    make_factors(x, s, number, kernel, out);
    transform(s, kernel, FFTW_FORWARD);
    transform(s, out, FFTW_FORWARD);
    for (uint64_t i = 0; i < n; i++) {
        double re = out[i][0] * kernel[i][0] - out[i][1] * kernel[i][1];
        double im = out[i][0] * kernel[i][1] + out[i][1] * kernel[i][0];
        out[i][0] = re / (double)n;
        out[i][1] = im / (double)n;
    }
    transform(s, out, FFTW_BACKWARD);
    for (uint64_t y = 1; side < s->n[0] && y < side; y++)
        memmove(out + y * side, out + y * s->n[0], side * sizeof *out);
    fftw_free(kernel);
}

/* Transforms a half spectrum to reals. Ignores the imaginary part of bin 0, and of bin n / 2 if n is even. */
static inline void back_to_reals(const float *bins, const size *s, fftw_complex *out) {
    uint64_t n = s->n[0];
    widen(bins, out, n / 2 + 1);
    for (uint64_t k = n / 2 + 1; k < n; k++) {
        out[k][0] = out[n - k][0];
        out[k][1] = -out[n - k][1];
    }
    out[0][1] = 0;
    if (n % 2 == 0) out[n / 2][1] = 0;
    transform(s, out, FFTW_BACKWARD);
}

/* Returns the expected value of a sample; its range has the number of elements. */
static inline fftw_complex *expected_sample(const numbers *x, const size *s, uint64_t bytes, uint64_t number,
                                            bool wide) {
    sample_range p = range_of(s, bytes, number, wide);
    uint64_t n = points(s);
    fftw_complex *out = (fftw_complex *)fftw_malloc(n * sizeof *out);
    float *given = (float *)xmalloc(n * 8);
    if (!out) die("fftw_malloc", "out of memory");
    if (is_convolution(s)) convolve(x, s, number, out);
    else if (s->what == REAL_BACK) {
        take(x, number * (n / 2 + 1), 1, n / 2 + 1, given);
        back_to_reals(given, s, out);
    } else {
        if (s->what == REAL) take_reals(x, number * n, n, given);
        else take(x, p.first, p.stride, n, given);
        if (s->what == REAL) widen_reals(given, out, n);
        else widen(given, out, n);
        transform(s, out, FFTW_FORWARD);
    }
    free(given);
    return out;
}

/* Returns the relative error in the 2-norm. */
static inline double error_of(fftw_complex *right, const float *found, sample_range p) {
    double wrong = 0, all = 0;
    for (uint64_t i = 0; i < p.count; i++)
        for (uint64_t c = 0; c < p.parts; c++) {
            double d = (double)found[p.parts * i + c] - right[i][c];
            wrong += d * d;
            all += right[i][c] * right[i][c];
        }
    wrong = sqrt(wrong / all);
    return wrong == wrong ? wrong : 1e300; /* NaN counts as a large error */
}
#endif

#endif /* FFT_WORK_H */
