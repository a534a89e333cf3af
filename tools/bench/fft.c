/* Transforms of much data, beside cuFFT, VkFFT and a copy of the same bytes.

       make bench-fft
       build/vkfft/tools/bench/fft [SIZE ...]         SIZE: as in the output; default: all, on a processor the powers of two from 64 to 4096
       VKDISPATCH_BACKEND=opencl build/vkfft/tools/bench/fft

   Each size fills the same number of bytes (BENCH_BYTES; 1 GiB, on a processor 16 MiB), out of place, forward. Ours, the others and the copy are timed in turn,
   each as one batch of some 50 ms that is recorded first, from its submission to its end; BENCH_ROUNDS times (7). cuFFT is opened at run time (BENCH_CUFFT: its
   path); without it, or without CUDA, those figures are not run. VkFFT is the engine of ours on Vulkan, and on OpenCL works in our context and queue. The copy
   is a kernel, 16 bytes a thread. The first and last transform of each size are compared with FFTW in double where that was there to compile with.

   On a processor the times are those that all threads of the program computed, which other programs disturb less.

   `fft-first` is what planning, compiling and the first result take, with a plan of another length made before, so that drivers are loaded; once each. */
#define _POSIX_C_SOURCE 200809L
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
#include "tools/bench/vkfft_opencl.h"

#include <dlfcn.h>
#include <math.h>


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

static bool on_processor; /* the device */

static double now(void) {
    if (!on_processor) return bench_now();
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct bench {
    vd_context *ctx;
    vd_buffer in, out;
    float *data;           /* what is in `in`, a period of it */
    uint64_t bytes, period; /* complex numbers */
    cufft cu;
    const char *no_cufft;
    int rounds;
    vd_kernel copy;
    vd_native native;
    double product;        /* of ours / VkFFT for powers of two from 64 to 4096 */
    int factors;
} bench;

/* One of what is timed in turn: a plan, VkFFT on OpenCL, cuFFT or, without any of them, the copy. */
typedef struct side { vd_fft *plan; void *opencl; int cufft; double seconds[BENCH_ROUNDS_MAX]; } side;

static vd_result keep_native(const vd_native *native, void *user) {
    ((bench *)user)->native = *native;
    return VD_OK;
}

static vd_fft *plan_of(bench *b, const size *s, uint64_t batch, vd_fft_engine engine) {
    vd_fft_desc desc = { 0 };
    char text[64];
    name_of(s, text, sizeof text);
    desc.name = text;
    desc.shape[0] = batch;
    for (uint32_t i = 0; i < s->rank; i++) { desc.shape[i + 1] = s->n[i]; desc.axes |= 2u << i; }
    desc.engine = engine;
    return vd_fft_create(b->ctx, &desc);
}

static vd_kernel copy_kernel(vd_context *ctx) {
    vc_kernel_desc desc = { 0 };
    desc.name = "copy";
    desc.local_size[0] = 256;
    desc.machine = vd_machine(ctx);
    vc_kernel *k = vc_begin(&desc);
    vc_ref from = vc_buffer(k, "from", VC_F32X4, VC_READ | VC_ANY_TYPE), to = vc_buffer(k, "to", VC_F32X4, VC_WRITE | VC_ANY_TYPE);
    VC_EACH(k, i) { vc_store(to, i, vc_load(from, i)); }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    if (!kernel.id) die("the kernel that copies", vd_error_text());
    return kernel;
}

static vd_result record_copy(bench *b, vd_list *list) {
    vd_dispatch_desc desc = { 0 };
    vd_arg args[2];
    args[0] = vd_b(b->in);
    args[1] = vd_b(b->out);
    desc.kernel = b->copy;
    desc.threads[0] = b->bytes / 16;
    desc.args = args;
    desc.arg_count = 2;
    return vd_dispatch(list, &desc);
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
        vd_result result = plan ? vd_fft_run(plan, list, &io) : record_copy(b, list);
        if (result) die(plan ? "vd_fft_run" : "vd_dispatch", vd_error_text());
    }
    if (vd_list_end(list)) die("vd_list_end", vd_error_text());
    double start = now();
    if (vd_submit(list, NULL, &event) || vd_wait(b->ctx, event, VD_FOREVER)) die("vd_submit", vd_error_text());
    return now() - start;
}

static double time_cufft(bench *b, int plan, int count) {
    double start = now();
    for (int i = 0; i < count; i++)
        if (b->cu.execute(plan, b->cu.in, b->cu.out, -1)) die("cufftExecC2C", "");
    if (b->cu.synchronize()) die("cuCtxSynchronize", "");
    return now() - start;
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

static double time_of(bench *b, const side *s, int count) {
    if (s->cufft) return time_cufft(b, s->cufft, count);
    if (!s->opencl) return time_ours(b, s->plan, count);
    double start = now();
    if (vkfft_opencl_run(s->opencl, count)) die("VkFFT on OpenCL", "");
    return now() - start;
}

/* VkFFT as our engine or beside us; why not, or NULL. */
static const char *vkfft_open(bench *b, const size *s, uint64_t batch, side *out) {
    if (b->native.backend == VD_BACKEND_OPENCL) {
        vd_buffer_info in, to;
        if (vd_buffer_query(b->ctx, b->in, &in) || vd_buffer_query(b->ctx, b->out, &to)) die("vd_buffer_query", vd_error_text());
        return vkfft_opencl_open(&b->native, s->rank, s->n, batch, in.native, to.native, b->bytes, &out->opencl);
    }
    out->plan = plan_of(b, s, batch, VD_FFT_ENGINE_VKFFT);
    return out->plan ? NULL : vd_error_text();
}

static void print_pair(const bench *b, const char *name, const char *text, const char *rival, const side *ours, const side *theirs, int count, double bound) {
    bench_pair pair;
    memset(&pair, 0, sizeof pair);
    pair.name = name;
    pair.size = text;
    pair.rival = rival;
    memcpy(pair.ours, ours->seconds, sizeof pair.ours);
    memcpy(pair.theirs, theirs->seconds, sizeof pair.theirs);
    pair.rounds = count ? b->rounds : 1;
    pair.scale = 1e3 / (count ? count : 1);
    pair.unit = "ms";
    pair.bound = bound;
    bench_print(&pair);
}

/* Planning, compiling, the first result: once. */
static const char *first_of_both(bench *b, const size *s, uint64_t batch, side *ours, side *theirs) {
    double start = now();
    ours->plan = plan_of(b, s, batch, VD_FFT_ENGINE_DEFAULT);
    if (!ours->plan) return vd_error_text();
    time_of(b, ours, 1);
    ours->seconds[0] = now() - start;
    start = now();
    const char *none = vkfft_open(b, s, batch, theirs);
    if (!none) time_of(b, theirs, 1);
    theirs->seconds[0] = now() - start;
    return none;
}

static double worst_error(bench *b, const size *s, uint64_t batch) {
    double first = error_of(b, s, 0), last = error_of(b, s, batch - 1);
    return last > first ? last : first;
}

static bool is_power(const size *s) { return s->rank == 1 && s->n[0] >= 64 && s->n[0] <= 4096 && !(s->n[0] & (s->n[0] - 1)); }

static void bench_rounds(bench *b, const size *s, const char *text, side *ours, side *vkfft, const char *no_vkfft) {
    side cu = { NULL, NULL, 0, { 0 } }, copy = cu;
    int dims[3] = { (int)s->n[0], (int)s->n[1], (int)s->n[2] };
    uint64_t batch = b->bytes / (8 * points(s));
    double once = time_of(b, ours, 2) / 2;
    int count = once > 0.05 ? 1 : (int)(0.05 / once) + 1;
    if (!b->no_cufft && b->cu.plan_many(&cu.cufft, (int)s->rank, dims, NULL, 1, 0, NULL, 1, 0, 0x29, (int)batch)) die("cufftPlanMany", text);
    for (int i = -1; i < b->rounds; i++) {
        int at = i < 0 ? 0 : i; /* the first one warms up */
        ours->seconds[at] = time_of(b, ours, count);
        if (!no_vkfft) vkfft->seconds[at] = time_of(b, vkfft, count);
        if (!b->no_cufft) cu.seconds[at] = time_of(b, &cu, count);
        copy.seconds[at] = time_of(b, &copy, count);
    }
    if (b->no_cufft) bench_not_run("fft", text, b->no_cufft);
    else print_pair(b, "fft", text, "cufft", ours, &cu, count, s->bound);
    if (no_vkfft) bench_not_run("fft", text, no_vkfft);
    else print_pair(b, "fft", text, "vkfft", ours, vkfft, count, 1);
    print_pair(b, "fft", text, "copy", ours, &copy, count, 0);
    if (cu.cufft) b->cu.destroy(cu.cufft);
    if (no_vkfft || !is_power(s)) return;
    b->product *= bench_median(ours->seconds, b->rounds) / bench_median(vkfft->seconds, b->rounds);
    b->factors++;
}

static bool bench_size(bench *b, const size *s) {
    uint64_t n = points(s), batch = b->bytes / (8 * n);
    char text[64];
    side ours = { NULL, NULL, 0, { 0 } }, vkfft = ours;
    name_of(s, text, sizeof text);
    if (!batch) { bench_not_run("fft", text, "larger than the data"); return true; }
    const char *none = first_of_both(b, s, batch, &ours, &vkfft);
    if (!ours.plan) { bench_not_run("fft", text, none); return true; }
    if (!none) print_pair(b, "fft-first", text, "vkfft", &ours, &vkfft, 0, 0.5);
    double theirs = none ? -1 : worst_error(b, s, batch);
    time_of(b, &ours, 1);
    double e = worst_error(b, s, batch), most = 0.5 * 1.1921e-7 * log2((double)n) + 1e-8;
    bench_rounds(b, s, text, &ours, &vkfft, none);
    printf("bench fft-error %s ours=%.3g vkfft=%.3g bound=%.3g %s\n", text, e, theirs, most, e < 0 ? "not compared" : e <= most ? "ok" : "WRONG");
    printf("%s", vd_fft_explain(ours.plan));
    if (vkfft.opencl) vkfft_opencl_close(vkfft.opencl);
    vd_fft_destroy(vkfft.plan);
    vd_fft_destroy(ours.plan);
    return e <= most;
}

/* Makes drivers and compilers load what they load once. */
static void warm(bench *b) {
    static const size any = { 1, { 48, 0, 0 }, 0 };
    side ours = { NULL, NULL, 0, { 0 } }, vkfft = ours;
    first_of_both(b, &any, b->bytes / (8 * 48), &ours, &vkfft);
    if (vkfft.opencl) vkfft_opencl_close(vkfft.opencl);
    vd_fft_destroy(vkfft.plan);
    vd_fft_destroy(ours.plan);
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

static void open_bench(bench *b) {
    const char *bytes = getenv("BENCH_BYTES"), *rounds = getenv("BENCH_ROUNDS");
    vd_buffer_desc desc = { 0 };
    memset(b, 0, sizeof *b);
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 0); /* first results are those of a cold start */
    setenv("POCL_KERNEL_CACHE", "0", 0);
    if (vd_context_create(NULL, &b->ctx)) die("vd_context_create", vd_error_text());
    if (vd_native_use(b->ctx, 0, 0, keep_native, b)) die("vd_native_use", vd_error_text());
    b->product = 1;
    on_processor = vd_device(b->ctx, 0)->type == VD_DEVICE_CPU;
    b->rounds = rounds ? atoi(rounds) : 7;
    if (b->rounds < 1 || b->rounds > BENCH_ROUNDS_MAX) die("BENCH_ROUNDS", rounds);
    b->bytes = bytes ? strtoull(bytes, NULL, 0) : on_processor ? 1u << 24 : 1u << 30;
    desc.type = VD_F32X2;
    desc.shape[0] = b->bytes / 8;
    desc.exportable = b->native.backend == VD_BACKEND_OPENCL;
    b->in = vd_buffer_create(b->ctx, &desc);
    b->out = vd_buffer_create(b->ctx, &desc);
    if (!b->in.id || !b->out.id) die("vd_buffer_create", vd_error_text());
    b->copy = copy_kernel(b->ctx);
    fill(b);
    if (vd_wait_idle(b->ctx)) die("vd_wait_idle", vd_error_text());
    b->no_cufft = on_processor ? "the device is a processor" : cufft_open(&b->cu, b->bytes);
}

int main(int argc, char **argv) {
    bench b;
    bool right = true;
    open_bench(&b);
    warm(&b);
    printf("bench fft on %s, %llu bytes\n", vd_device(b.ctx, 0)->name, (unsigned long long)b.bytes);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[64];
        bool wanted = argc < 2 && (!on_processor || is_power(&sizes[i]));
        name_of(&sizes[i], text, sizeof text);
        for (int j = 1; j < argc; j++) wanted |= !strcmp(text, argv[j]);
        if (wanted) right &= bench_size(&b, &sizes[i]);
    }
    if (b.factors == 7) {
        double mean = pow(b.product, 1.0 / 7), bound = 1 / 1.5;
        printf("bench fft-mean 64-4096 ratio=%.3f bound=%.3g %s\n", mean, bound, mean <= bound ? "ok" : "short");
    }
    free(b.data);
    vd_context_destroy(b.ctx);
    return right ? 0 : 1;
}
