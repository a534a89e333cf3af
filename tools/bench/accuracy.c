/* Accuracy of transforms beside pocketfft and VkFFT, on the same inputs, compared with FFTW in long double.

       make bench-accuracy
       build/vkfft/tools/bench/accuracy [NAME]        NAME: only lines with this text

   The figure of complex transforms is the average relative error of a bin: the mean of |y - r| / |r| over all results y
   with the references r. That of cosine and sine transforms is the mean of |y - r| divided by the mean of |r|, because
   a few reals near 0 would determine the mean of the quotients. Inputs are random numbers between -1 and 1, in as many
   rows as make up 32768 elements. pocketfft is that of SciPy: PYTHON (default: python3) must be an interpreter that has
   it. VkFFT is used for complex f32. `ratio` is our error divided by that of pocketfft. */
#define _POSIX_C_SOURCE 200809L
#include "vkdispatch_fft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<fftw3.h>)
#include <fftw3.h>
#define HAS_FFTW 1
#endif
#endif

#ifdef HAS_FFTW

/* Length of rows, kind, type, and the limit of `ratio`. */
typedef struct accuracy_case { vd_fft_kind kind; vd_type type; uint64_t n; double bound; } accuracy_case;

enum { ELEMENTS = 32768, CASES = 256 };

static const char *const kind_names[] = { "", "complex", "real", "dct1", "dct2", "dct3", "dct4", "dst1", "dst2", "dst3",
                                          "dst4" };

static uint64_t rows_of(const accuracy_case *c) { return c->n < ELEMENTS ? ELEMENTS / c->n : 1; }
static uint64_t numbers_of(const accuracy_case *c) { return rows_of(c) * c->n * (c->kind == VD_FFT_COMPLEX ? 2 : 1); }
static size_t bytes_of(const accuracy_case *c) { return (size_t)numbers_of(c) * vd_type_size(c->type); }

static void *memory_of(size_t bytes) {
    void *p = calloc(1, bytes);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

static double number_at(const accuracy_case *c, const void *x, uint64_t i) {
    return c->type == VD_F64 ? ((const double *)x)[i] : (double)((const float *)x)[i];
}

/* Random numbers of the case's type. */
static void *inputs_of(const accuracy_case *c) {
    uint64_t state = 88172645463325252u + c->n;
    void *x = memory_of(bytes_of(c));
    for (uint64_t i = 0; i < numbers_of(c); i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        double v = (double)(state >> 11) / 4503599627370496.0 - 1;
        if (c->type == VD_F64) ((double *)x)[i] = v;
        else ((float *)x)[i] = (float)v;
    }
    return x;
}

/* Transforms the inputs in long double. */
static long double *references_of(const accuracy_case *c, const void *x) {
    static const fftw_r2r_kind kinds[] = { FFTW_REDFT00, FFTW_REDFT10, FFTW_REDFT01, FFTW_REDFT11, FFTW_RODFT00,
                                           FFTW_RODFT10, FFTW_RODFT01, FFTW_RODFT11 };
    uint64_t count = numbers_of(c), row = count / rows_of(c);
    long double *y = (long double *)fftwl_malloc((size_t)count * sizeof *y);
    if (!y) exit(1);
    for (uint64_t i = 0; i < count; i++) y[i] = (long double)number_at(c, x, i);
    for (uint64_t i = 0; i < rows_of(c); i++) {
        long double *at = y + i * row;
        fftwl_complex *complex_at = (fftwl_complex *)(void *)at;
        fftwl_plan p = c->kind == VD_FFT_COMPLEX
                           ? fftwl_plan_dft_1d((int)c->n, complex_at, complex_at, FFTW_FORWARD, FFTW_ESTIMATE)
                           : fftwl_plan_r2r_1d((int)c->n, at, at, kinds[c->kind - VD_FFT_DCT1], FFTW_ESTIMATE);
        fftwl_execute(p);
        fftwl_destroy_plan(p);
    }
    return y;
}

/* The error of results, as described above; below 0 if there are none. */
static double error_of(const accuracy_case *c, const void *results, const long double *r) {
    uint64_t step = c->kind == VD_FFT_COMPLEX ? 2 : 1, count = numbers_of(c);
    long double sum = 0, sizes = 0;
    if (!results) return -1;
    for (uint64_t i = 0; i < count; i += step) {
        long double re = (long double)number_at(c, results, i) - r[i], im = 0, size = r[i] * r[i];
        if (step == 2) {
            im = (long double)number_at(c, results, i + 1) - r[i + 1];
            size += r[i + 1] * r[i + 1];
        }
        sum += step == 2 ? sqrtl((re * re + im * im) / size) : fabsl(re);
        sizes += step == 2 ? 1 : fabsl(r[i]);
    }
    return (double)(sum / sizes);
}

/* Transforms on the device; NULL if the engine does not support the case. */
static void *transform(vd_context *ctx, const accuracy_case *c, vd_fft_engine engine, const void *x) {
    vd_fft_desc desc;
    vd_buffer_desc buffer;
    vd_fft_io io;
    memset(&desc, 0, sizeof desc);
    memset(&buffer, 0, sizeof buffer);
    memset(&io, 0, sizeof io);
    desc.shape[0] = rows_of(c);
    desc.shape[1] = c->n;
    desc.kind = c->kind;
    desc.type = c->type;
    desc.engine = engine;
    buffer.type = c->type;
    buffer.shape[0] = numbers_of(c);
    buffer.data = x;
    vd_fft *plan = vd_fft_create(ctx, &desc);
    if (!plan) return NULL;
    io.in = vd_buffer_create(ctx, &buffer);
    void *y = memory_of(bytes_of(c));
    vd_result r = vd_fft_run(plan, vd_immediate(ctx, 0, 0), &io);
    if (!r) r = vd_buffer_read(ctx, io.in, 0, y, VD_WHOLE);
    vd_buffer_destroy(ctx, io.in);
    vd_fft_destroy(plan);
    if (!r) return y;
    fprintf(stderr, "%s\n", vd_error_text());
    free(y);
    return NULL;
}

/* Writes or reads a file of the directory; returns NULL if it does not exist. */
static void *file_of(const char *directory, int number, const char *suffix, const accuracy_case *c, const void *data) {
    char path[300];
    snprintf(path, sizeof path, "%s/%d.%s", directory, number, suffix);
    FILE *f = fopen(path, data ? "wb" : "rb");
    if (!f) return NULL;
    void *out = data ? NULL : memory_of(bytes_of(c));
    size_t done = data ? fwrite(data, 1, bytes_of(c), f) : fread(out, 1, bytes_of(c), f);
    fclose(f);
    unlink(data ? "" : path);
    if (done == bytes_of(c)) return out;
    free(out);
    return NULL;
}

/* Runs pocketfft on all cases: accuracy.py reads the list and the inputs, and writes the results. */
static void run_pocketfft(const char *directory, const accuracy_case *cases, int count) {
    char path[300], command[800];
    const char *python = getenv("PYTHON");
    snprintf(path, sizeof path, "%s/list", directory);
    FILE *list = fopen(path, "w");
    for (int i = 0; list && i < count; i++) {
        void *x = inputs_of(&cases[i]);
        fprintf(list, "%d %s %s %llu\n", i, kind_names[cases[i].kind], vd_type_name(cases[i].type),
                (unsigned long long)cases[i].n);
        file_of(directory, i, "in", &cases[i], x);
        free(x);
    }
    if (list) fclose(list);
    snprintf(command, sizeof command, "%s tools/bench/accuracy.py %s", python ? python : "python3", directory);
    if (!list || system(command) != 0) fprintf(stderr, "pocketfft: not available (set PYTHON)\n");
    unlink(path);
}

static void report(vd_context *ctx, const accuracy_case *c, const void *pocketfft) {
    void *x = inputs_of(c);
    long double *r = references_of(c, x);
    void *ours = transform(ctx, c, VD_FFT_ENGINE_DEFAULT, x);
    void *vkfft = c->kind == VD_FFT_COMPLEX && c->type == VD_F32 ? transform(ctx, c, VD_FFT_ENGINE_VKFFT, x) : NULL;
    double own = error_of(c, ours, r), other = error_of(c, pocketfft, r), third = error_of(c, vkfft, r);
    printf("accuracy %s-%s %llu ours=%.3g", kind_names[c->kind], vd_type_name(c->type), (unsigned long long)c->n, own);
    if (other > 0) printf(" pocketfft=%.3g ratio=%.2f bound=%.2f", other, own / other, c->bound);
    if (third > 0) printf(" vkfft=%.3g", third);
    printf(other <= 0 || own <= c->bound * other ? " ok\n" : " short\n");
    fflush(stdout);
    free(x);
    free(ours);
    free(vkfft);
    fftwl_free(r);
}

static int add_case(accuracy_case *cases, int count, vd_fft_kind kind, vd_type type, uint64_t n, double bound) {
    accuracy_case c;
    c.kind = kind;
    c.type = type;
    c.n = n;
    c.bound = bound;
    cases[count] = c;
    return count + 1;
}

static int list_cases(accuracy_case *cases) {
    static const uint64_t primes[] = { 7,  11, 13, 17, 19, 23, 29, 31,  37,  41,  43,  47,  53,  59,   61,
                                       67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127, 1009, 10007 };
    static const uint64_t lengths[] = { 16, 64, 100, 243, 1000, 1024, 4096, 16384, 65536 };
    int count = 0;
    for (int wide = 0; wide < 2; wide++) {
        vd_type type = wide ? VD_F64 : VD_F32;
        for (uint64_t n = 16; n <= 1 << 20; n *= 4)
            count = add_case(cases, count, VD_FFT_COMPLEX, type, n, n >= 65536 ? 1.05 : 1.2);
        for (size_t i = 0; i < sizeof primes / sizeof *primes; i++)
            count = add_case(cases, count, VD_FFT_COMPLEX, type, primes[i], 1.2);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (int kind = VD_FFT_DCT1; kind <= VD_FFT_DST4; kind++)
                if (i % 4 == (size_t)kind % 4 || kind == VD_FFT_DCT2 || kind == VD_FFT_DST2)
                    count = add_case(cases, count, (vd_fft_kind)kind, type, lengths[i], 1.2);
    }
    return count;
}

int main(int argc, char **argv) {
    static accuracy_case cases[CASES];
    char directory[] = "/tmp/accuracy-XXXXXX", name[80];
    vd_context *ctx = NULL;
    int count = list_cases(cases);
    if (vd_context_create(NULL, &ctx) || !mkdtemp(directory)) {
        printf("skipped: %s\n", vd_error_text());
        return 0;
    }
    printf("# %s\n", vd_device(ctx, 0)->name);
    run_pocketfft(directory, cases, count);
    for (int i = 0; i < count; i++) {
        void *pocketfft = file_of(directory, i, "out", &cases[i], NULL);
        free(file_of(directory, i, "in", &cases[i], NULL)); /* removes it */
        snprintf(name, sizeof name, "%s-%s %llu", kind_names[cases[i].kind], vd_type_name(cases[i].type),
                 (unsigned long long)cases[i].n);
        bool wide = cases[i].type == VD_F64 && !(vd_device(ctx, 0)->features & VD_FEATURE_F64);
        if (!wide && (argc < 2 || strstr(name, argv[1]))) report(ctx, &cases[i], pocketfft);
        free(pocketfft);
    }
    rmdir(directory);
    vd_context_destroy(ctx);
    return 0;
}

#else
int main(void) {
    printf("skipped: compiled without fftw3.h\n");
    return 0;
}
#endif
