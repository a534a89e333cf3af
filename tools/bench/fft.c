/* Transforms of much data, beside cuFFT and a copy of the same bytes.

       make bench-fft

   Each size fills the same number of bytes (BENCH_BYTES; 1 GiB, on a processor 16 MiB), out of place, forward. Ours, cuFFT and the copy are timed in turn, each
   as one batch of some 50 ms that is recorded first, from its submission to its end. cuFFT is opened at run time (BENCH_CUFFT: its path); without it, or
   without CUDA, those figures are not run. The first and last transform of each size are compared with FFTW in double where that was there to compile with. */
#define _POSIX_C_SOURCE 200809L
#define VKDISPATCH_CUDA
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#define VKDISPATCH_FFT_IMPLEMENTATION
#include "vkdispatch_fft.h"

#if defined(__has_include)
#if __has_include(<fftw3.h>)
#define HAS_FFTW 1
#include <fftw3.h>
#endif
#endif
#ifndef HAS_FFTW
#define HAS_FFTW 0
#endif

#include "tools/bench/bench.h"

#include <dlfcn.h>
#include <math.h>

enum { ROUNDS = 7 };

static void die(const char *what, const char *why) {
    fprintf(stderr, "bench-fft: %s: %s\n", what, why ? why : "");
    exit(1);
}

/* ---- the sizes ---- */

typedef struct size { uint32_t rank, n[3]; double bound; /* of ours / cuFFT in time; 0: none */ } size;

static const size sizes[] = {
    { 1, { 64, 0, 0 }, 1.02 }, { 1, { 128, 0, 0 }, 1.02 }, { 1, { 256, 0, 0 }, 1.02 }, { 1, { 512, 0, 0 }, 1.02 }, { 1, { 1024, 0, 0 }, 1.02 },
    { 1, { 2048, 0, 0 }, 1.02 }, { 1, { 4096, 0, 0 }, 1.02 }, { 1, { 8192, 0, 0 }, 1.02 }, { 1, { 16384, 0, 0 }, 0.87 }, { 1, { 65536, 0, 0 }, 0.91 },
    { 1, { 1 << 18, 0, 0 }, 0.91 }, { 1, { 1 << 20, 0, 0 }, 0.91 }, { 1, { 1 << 22, 0, 0 }, 0.91 }, { 1, { 96, 0, 0 }, 0.95 },
    { 1, { 100, 0, 0 }, 0.95 }, { 1, { 243, 0, 0 }, 1.07 }, { 1, { 360, 0, 0 }, 0.95 }, { 1, { 500, 0, 0 }, 1.07 }, { 1, { 625, 0, 0 }, 1.07 },
    { 1, { 729, 0, 0 }, 1.07 }, { 1, { 1000, 0, 0 }, 1.07 }, { 1, { 1080, 0, 0 }, 0.95 }, { 1, { 1536, 0, 0 }, 1.07 }, { 1, { 1920, 0, 0 }, 0.95 },
    { 1, { 2187, 0, 0 }, 1.07 }, { 1, { 3125, 0, 0 }, 0.95 }, { 1, { 4000, 0, 0 }, 1.07 }, { 1, { 4095, 0, 0 }, 0.95 }, { 1, { 127, 0, 0 }, 0.67 },
    { 1, { 509, 0, 0 }, 0.67 }, { 1, { 1021, 0, 0 }, 0.67 }, { 1, { 2027, 0, 0 }, 0.67 }, { 1, { 4093, 0, 0 }, 0.67 }, { 2, { 8, 8, 0 }, 0.63 },
    { 2, { 16, 16, 0 }, 0.63 }, { 2, { 32, 32, 0 }, 0.63 }, { 2, { 64, 64, 0 }, 0.63 },
    { 2, { 128, 128, 0 }, 0.63 }, { 2, { 512, 512, 0 }, 0 }, { 2, { 1024, 1024, 0 }, 0 }, { 2, { 2048, 2048, 0 }, 0.83 },
    { 2, { 4096, 4096, 0 }, 0.83 }, { 3, { 64, 64, 64 }, 0.67 }, { 3, { 128, 128, 128 }, 0.67 }, { 3, { 256, 256, 256 }, 0.67 },
    { 3, { 512, 512, 512 }, 0.91 },
};

static uint64_t points(const size *s) {
    uint64_t n = 1;
    for (uint32_t i = 0; i < s->rank; i++) n *= s->n[i];
    return n;
}

static void name_of(const size *s, char *out, size_t room) {
    snprintf(out, room, s->rank == 1 ? "%u" : s->rank == 2 ? "%ux%u" : "%ux%ux%u", s->n[0], s->n[1], s->n[2]);
}

/* ---- cuFFT, with the few functions of the CUDA driver it needs ---- */

typedef struct cufft {
    int (*plan_many)(int *plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride, int odist, int type, int batch);
    int (*execute)(int plan, uint64_t in, uint64_t out, int direction);
    int (*destroy)(int plan);
    int (*synchronize)(void);
    uint64_t in, out;      /* device pointers */
} cufft;

static void *symbol(void *library, const char *name) { return library ? dlsym(library, name) : NULL; }

/* Why there is none, or NULL. */
static const char *cufft_open(cufft *c, uint64_t bytes) {
    const char *path = getenv("BENCH_CUFFT");
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *library = dlopen(path ? path : "libcufft.so", RTLD_NOW), *context = NULL;
    if (!driver) return "libcuda.so.1 is not here";
    if (!library) return "libcufft.so is not here; BENCH_CUFFT may name it";
    int (*init)(unsigned), (*retain)(void **, int), (*current)(void *), (*allocate)(uint64_t *, size_t), (*clear)(uint64_t, unsigned char, size_t);
    *(void **)&init = symbol(driver, "cuInit");
    *(void **)&retain = symbol(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&current = symbol(driver, "cuCtxSetCurrent");
    *(void **)&allocate = symbol(driver, "cuMemAlloc_v2");
    *(void **)&clear = symbol(driver, "cuMemsetD8_v2");
    *(void **)&c->synchronize = symbol(driver, "cuCtxSynchronize");
    *(void **)&c->plan_many = symbol(library, "cufftPlanMany");
    *(void **)&c->execute = symbol(library, "cufftExecC2C");
    *(void **)&c->destroy = symbol(library, "cufftDestroy");
    if (!init || !retain || !current || !allocate || !clear || !c->synchronize || !c->plan_many || !c->execute || !c->destroy) return "a function is missing";
    if (init(0) || retain(&context, 0) || current(context) || allocate(&c->in, bytes) || allocate(&c->out, bytes)) return "no CUDA device, or no memory on it";
    return clear(c->in, 0x3c, bytes) ? "cuMemsetD8 failed" : NULL; /* 0x3c3c3c3c is 0.0115 */
}

/* ---- ours ---- */

typedef struct bench {
    vd_context *ctx;
    vd_buffer in, out;
    float *data;           /* what is in `in`, a period of it */
    uint64_t bytes, period; /* complex numbers */
    cufft cu;
    const char *no_cufft;
} bench;

static vd_fft *plan_of(bench *b, const size *s, uint64_t batch) {
    vd_fft_desc desc = { 0 };
    char text[64];
    name_of(s, text, sizeof text);
    desc.name = text;
    desc.shape[0] = batch;
    for (uint32_t i = 0; i < s->rank; i++) { desc.shape[i + 1] = s->n[i]; desc.axes |= 2u << i; }
    return vd_fft_create(b->ctx, &desc);
}

/* Seconds of one batch of `count`: transforms, or copies where there is no plan. */
static double time_ours(bench *b, vd_fft *plan, int count) {
    vd_list_desc list_desc = { 0 };
    vd_list *list = vd_list_begin(b->ctx, &list_desc);
    vd_fft_io io = { 0 };
    vd_event event;
    io.in = b->in;
    io.out = b->out;
    for (int i = 0; i < count; i++) {
        vd_result result = plan ? vd_fft_run(plan, list, &io) : vd_copy(list, b->out, 0, b->in, 0, b->bytes);
        if (result) die(plan ? "vd_fft_run" : "vd_copy", vd_error_text());
    }
    if (vd_list_end(list)) die("vd_list_end", vd_error_text());
    double start = bench_now();
    if (vd_submit(list, NULL, &event) || vd_wait(b->ctx, event, VD_FOREVER)) die("vd_submit", vd_error_text());
    return bench_now() - start;
}

static double time_cufft(bench *b, int plan, int count) {
    double start = bench_now();
    for (int i = 0; i < count; i++)
        if (b->cu.execute(plan, b->cu.in, b->cu.out, -1)) die("cufftExecC2C", "");
    if (b->cu.synchronize()) die("cuCtxSynchronize", "");
    return bench_now() - start;
}

/* Relative error of transform `number`; negative: nothing to compare with. */
static double error_of(bench *b, const size *s, uint64_t number) {
#if HAS_FFTW
    uint64_t n = points(s);
    int dims[3] = { (int)s->n[0], (int)s->n[1], (int)s->n[2] };
    fftw_complex *x = (fftw_complex *)fftw_malloc(n * sizeof *x);
    float *y = (float *)malloc(n * 8);
    double wrong = 0, all = 0;
    if (!x || !y) die("malloc", "");
    for (uint64_t i = 0; i < n; i++)
        for (int c = 0; c < 2; c++) x[i][c] = (double)b->data[2 * ((number * n + i) % b->period) + (uint64_t)c];
    fftw_plan plan = fftw_plan_dft((int)s->rank, dims, x, x, FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    if (vd_buffer_read(b->ctx, b->out, number * n * 8, y, n * 8)) die("vd_buffer_read", vd_error_text());
    for (uint64_t i = 0; i < n; i++)
        for (int c = 0; c < 2; c++) {
            double d = (double)y[2 * i + (uint64_t)c] - x[i][c];
            wrong += d * d;
            all += x[i][c] * x[i][c];
        }
    fftw_free(x);
    free(y);
    return sqrt(wrong / all);
#else
    (void)b, (void)s, (void)number;
    return -1;
#endif
}

static bool bench_size(bench *b, const size *s) {
    uint64_t n = points(s), batch = b->bytes / (8 * n);
    char text[64];
    int theirs = 0, dims[3] = { (int)s->n[0], (int)s->n[1], (int)s->n[2] };
    name_of(s, text, sizeof text);
    if (!batch) { bench_not_run("fft", text, "larger than the data"); return true; }
    double begin = bench_now();
    vd_fft *plan = plan_of(b, s, batch);
    if (!plan) { bench_not_run("fft", text, vd_error_text()); return true; }
    double once = time_ours(b, plan, 1), first = bench_now() - begin;
    once = time_ours(b, plan, 2) / 2;
    int count = once > 0.05 ? 1 : (int)(0.05 / once) + 1;
    double e = error_of(b, s, 0), last = error_of(b, s, batch - 1), most = 0.5 * 1.1921e-7 * log2((double)n) + 1e-8;
    if (last > e) e = last;
    if (!b->no_cufft && b->cu.plan_many(&theirs, (int)s->rank, dims, NULL, 1, 0, NULL, 1, 0, 0x29, (int)batch)) die("cufftPlanMany", text);
    bench_pair pair = { "fft", text, "cufft", { 0 }, { 0 }, ROUNDS, 1e3 / count, "ms", s->bound }, copy = pair;
    copy.rival = "copy";
    copy.bound = 0;
    for (int i = -1; i < ROUNDS; i++) {
        double ours = time_ours(b, plan, count), cu = b->no_cufft ? 1 : time_cufft(b, theirs, count), copied = time_ours(b, NULL, count);
        if (i < 0) continue; /* warms up */
        pair.ours[i] = copy.ours[i] = ours;
        pair.theirs[i] = cu;
        copy.theirs[i] = copied;
    }
    if (b->no_cufft) bench_not_run("fft", text, b->no_cufft); else bench_print(&pair);
    bench_print(&copy);
    printf("bench fft-error %s ours=%.3g bound=%.3g %s first=%.1fms\n", text, e, most, e < 0 ? "not compared" : e <= most ? "ok" : "WRONG", first * 1e3);
    printf("%s", vd_fft_explain(plan));
    if (!b->no_cufft) b->cu.destroy(theirs);
    vd_fft_destroy(plan);
    return e <= most;
}

/* Random numbers, a prime number of them, again and again. */
static void fill(bench *b) {
    uint64_t total = b->bytes / 8;
    uint32_t x = 1;
    b->period = 1000003 < total ? 1000003 : total;
    b->data = (float *)malloc(b->period * 8);
    if (!b->data) die("malloc", "");
    for (uint64_t i = 0; i < 2 * b->period; i++) {
        x = x * 1664525u + 1013904223u;
        b->data[i] = (float)(x >> 8) / 8388608.0f - 1.0f;
    }
    for (uint64_t at = 0; at < total; at += b->period)
        if (vd_buffer_write(b->ctx, b->in, at * 8, b->data, (total - at < b->period ? total - at : b->period) * 8)) die("vd_buffer_write", vd_error_text());
}

int main(int argc, char **argv) {
    bench b;
    bool right = true;
    memset(&b, 0, sizeof b);
    if (vd_context_create(NULL, &b.ctx)) die("vd_context_create", vd_error_text());
    const char *bytes = getenv("BENCH_BYTES");
    b.bytes = bytes ? strtoull(bytes, NULL, 0) : vd_device(b.ctx, 0)->type == VD_DEVICE_CPU ? 1u << 24 : 1u << 30;
    vd_buffer_desc desc = { 0 };
    desc.type = VD_F32X2;
    desc.shape[0] = b.bytes / 8;
    b.in = vd_buffer_create(b.ctx, &desc);
    b.out = vd_buffer_create(b.ctx, &desc);
    if (!b.in.id || !b.out.id) die("vd_buffer_create", vd_error_text());
    fill(&b);
    b.no_cufft = vd_device(b.ctx, 0)->type == VD_DEVICE_CPU ? "the device is a processor" : cufft_open(&b.cu, b.bytes);
    printf("bench fft on %s, %llu bytes\n", vd_device(b.ctx, 0)->name, (unsigned long long)b.bytes);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[64];
        bool wanted = argc < 2;
        name_of(&sizes[i], text, sizeof text);
        for (int j = 1; j < argc; j++) wanted |= !strcmp(text, argv[j]);
        if (wanted) right &= bench_size(&b, &sizes[i]);
    }
    free(b.data);
    vd_context_destroy(b.ctx);
    return right ? 0 : 1;
}
