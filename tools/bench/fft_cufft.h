/* cuFFT for tools/bench/fft.c, loaded at run time with the few functions of the CUDA driver that it needs.

   A convolution is what a program with cuFFT alone would do: a forward transform, a kernel that multiplies by the
   spectrum (two numbers per thread), and an inverse transform, in place after the first step. This moves the data 11
   times, or 10 times if the spectrum stays in caches. The kernel is CUDA C, compiled by NVRTC. A cuFFT plan has one
   stride for its batch, so columns of square images are replaced by the columns of one wide image. Convolutions of
   real data use half spectra. */
#ifndef FFT_CUFFT_H
#define FFT_CUFFT_H

#include "tools/bench/fft_work.h"

#include <dlfcn.h>

typedef struct cufft {
    int (*plan_many)(int *plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride,
                     int odist, int type, int batch);
    int (*execute)(int plan, uint64_t in, uint64_t out, int direction);
    int (*execute_real)(int plan, uint64_t in, uint64_t out), (*execute_back)(int plan, uint64_t in, uint64_t out);
    int (*destroy)(int plan);
    int (*set_stream)(int plan, void *stream);
    int (*synchronize)(void);
    int (*allocate)(uint64_t *to, size_t bytes);
    int (*release)(uint64_t at);
    int (*upload)(uint64_t to, const void *from, size_t bytes);
    int (*download)(void *to, uint64_t from, size_t bytes);
    int (*launch)(void *function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
                  unsigned shared, void *stream, void **arguments, void **extra);
    int (*stream_create)(void **stream, unsigned flags), (*stream_destroy)(void *stream);
    int (*capture)(void *stream, int mode), (*captured)(void *stream, void **graph);
    int (*instantiate)(void **executable, void *graph, unsigned long long flags);
    int (*graph_destroy)(void *graph), (*executable_destroy)(void *executable);
    int (*graph_launch)(void *executable, void *stream);
    uint64_t in, out, back, bytes; /* device pointers */
    void *multiply, *multiply_bins;
    const char *no_multiply;
    const numbers *x;
    /* for the current size */
    const size *s;
    int plan, plan_back;     /* plan_back: for convolutions of reals */
    uint64_t spectrum;
    bool inverse_too;        /* odd transforms are the inverse, from `out` to `back` */
} cufft;

static inline void *symbol(void *library, const char *name) { return library ? dlsym(library, name) : NULL; }

static const char *const multiply_source =
    "extern \"C\" __global__ void multiply(float4 *x, const float4 *k, unsigned count, unsigned mask, float scale) {\n"
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i >= count) return;\n"
    "    float4 a = x[i], b = k[i & mask];\n"
    "    x[i] = make_float4((a.x * b.x - a.y * b.y) * scale, (a.x * b.y + a.y * b.x) * scale,\n"
    "                       (a.z * b.z - a.w * b.w) * scale, (a.z * b.w + a.w * b.z) * scale);\n"
    "}\n"
    "extern \"C\" __global__ void multiply_bins(float2 *x, const float2 *k, unsigned count, unsigned bins, float "
    "scale) {\n"
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i >= count) return;\n"
    "    float2 a = x[i], b = k[i % bins];\n"
    "    x[i] = make_float2((a.x * b.x - a.y * b.y) * scale, (a.x * b.y + a.y * b.x) * scale);\n"
    "}\n";

/* Compiles CUDA C to PTX. Returns NULL, or the reason for failure. */
static inline const char *multiply_ptx(char **ptx) {
    static const char *const names[] = { "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so" },
        *const options[] = { "-arch=compute_75" };
    const char *named = getenv("VKDISPATCH_NVRTC");
    void *library = named ? dlopen(named, RTLD_NOW) : NULL, *program;
    int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *),
        (*compile)(void *, int, const char *const *);
    int (*length)(void *, size_t *), (*get)(void *, char *);
    size_t bytes;
    for (size_t i = 0; !library && !named && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW);
    *(void **)&create = symbol(library, "nvrtcCreateProgram");
    *(void **)&compile = symbol(library, "nvrtcCompileProgram");
    *(void **)&length = symbol(library, "nvrtcGetPTXSize");
    *(void **)&get = symbol(library, "nvrtcGetPTX");
    if (!create || !compile || !length || !get)
        return "the kernel that multiplies takes NVRTC, which is not here; VKDISPATCH_NVRTC may name it";
    if (create(&program, multiply_source, "multiply.cu", 0, NULL, NULL) || compile(program, 1, options)
        || length(program, &bytes))
        return "NVRTC does not compile the kernel that multiplies";
    *ptx = (char *)xmalloc(bytes);
    return get(program, *ptx) ? "NVRTC gives no PTX of the kernel that multiplies" : NULL;
}

static inline const char *multiply_open(cufft *c, void *driver) {
    int (*load)(void **, const void *), (*function)(void **, void *, const char *);
    void *module;
    char *ptx = NULL;
    const char *why = multiply_ptx(&ptx);
    *(void **)&load = symbol(driver, "cuModuleLoadData");
    *(void **)&function = symbol(driver, "cuModuleGetFunction");
    *(void **)&c->launch = symbol(driver, "cuLaunchKernel");
    if (!why && (!load || !function || !c->launch || load(&module, ptx) || function(&c->multiply, module, "multiply") ||
                 function(&c->multiply_bins, module, "multiply_bins")))
        why = "the CUDA driver does not take the kernel that multiplies";
    free(ptx);
    return why;
}

static inline int cufft_fill(cufft *c) {
    for (uint64_t at = 0; at < c->bytes; at += c->x->period * 8) {
        uint64_t left = c->bytes - at;
        if (c->upload(c->in + at, c->x->data, left < c->x->period * 8 ? left : c->x->period * 8)) return 1;
    }
    return 0;
}

/* Returns NULL, or the reason why cuFFT is not available. */
static inline const char *cufft_open(cufft *c, const numbers *x, uint64_t bytes) {
    const char *path = getenv("BENCH_CUFFT");
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *library = dlopen(path ? path : "libcufft.so", RTLD_NOW);
    void *context = NULL;
    if (!driver) return "libcuda.so.1 is not here";
    if (!library) return "libcufft.so is not here; BENCH_CUFFT may name it";
    int (*init)(unsigned), (*retain)(void **, int), (*current)(void *);
    *(void **)&init = symbol(driver, "cuInit");
    *(void **)&retain = symbol(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&current = symbol(driver, "cuCtxSetCurrent");
    *(void **)&c->allocate = symbol(driver, "cuMemAlloc_v2");
    *(void **)&c->release = symbol(driver, "cuMemFree_v2");
    *(void **)&c->upload = symbol(driver, "cuMemcpyHtoD_v2");
    *(void **)&c->download = symbol(driver, "cuMemcpyDtoH_v2");
    *(void **)&c->synchronize = symbol(driver, "cuCtxSynchronize");
    *(void **)&c->stream_create = symbol(driver, "cuStreamCreate");
    *(void **)&c->stream_destroy = symbol(driver, "cuStreamDestroy_v2");
    *(void **)&c->capture = symbol(driver, "cuStreamBeginCapture_v2");
    *(void **)&c->captured = symbol(driver, "cuStreamEndCapture");
    *(void **)&c->instantiate = symbol(driver, "cuGraphInstantiateWithFlags");
    *(void **)&c->graph_destroy = symbol(driver, "cuGraphDestroy");
    *(void **)&c->executable_destroy = symbol(driver, "cuGraphExecDestroy");
    *(void **)&c->graph_launch = symbol(driver, "cuGraphLaunch");
    *(void **)&c->plan_many = symbol(library, "cufftPlanMany");
    *(void **)&c->execute = symbol(library, "cufftExecC2C");
    *(void **)&c->execute_real = symbol(library, "cufftExecR2C");
    *(void **)&c->execute_back = symbol(library, "cufftExecC2R");
    *(void **)&c->destroy = symbol(library, "cufftDestroy");
    *(void **)&c->set_stream = symbol(library, "cufftSetStream");
    if (!c->stream_create || !c->stream_destroy || !c->capture || !c->captured || !c->instantiate || !c->graph_destroy
        || !c->executable_destroy || !c->graph_launch || !c->set_stream)
        return "a function of CUDA graphs or cuFFT is missing";
    if (!init || !retain || !current || !c->allocate || !c->release || !c->upload || !c->download || !c->synchronize
        || !c->plan_many || !c->execute || !c->execute_real || !c->execute_back || !c->destroy)
        return "a function of CUDA or cuFFT is missing";
    c->x = x;
    c->bytes = bytes;
    if (init(0) || retain(&context, 0) || current(context) || c->allocate(&c->in, bytes) || c->allocate(&c->out, bytes)
        || c->allocate(&c->back, bytes))
        return "no CUDA device, or no memory on it";
    c->no_multiply = multiply_open(c, driver);
    return cufft_fill(c) ? "cuMemcpyHtoD failed" : NULL;
}

enum { CUFFT_R2C = 0x2a, CUFFT_C2R = 0x2c, CUFFT_C2C = 0x29 };

static inline const char *cufft_plan(cufft *c, uint64_t batch, int type, int *plan) {
    const size *s = c->s;
    int dims[3] = { (int)s->n[0], (int)s->n[1], (int)s->n[2] }, columns = (int)count_of(s, c->bytes);
    int failed = is_columns(s) ? c->plan_many(plan, 1, dims, dims, columns, 1, dims, columns, 1, type, columns)
                               : c->plan_many(plan, (int)s->rank, dims, NULL, 1, 0, NULL, 1, 0, type, (int)batch);
    return failed ? "cufftPlanMany failed" : NULL;
}

/* Uploads zero-padded signals and the kernel, and transforms the kernel. */
static inline const char *cufft_convolution(cufft *c, uint64_t batch) {
    uint64_t image = points(c->s) * 8;
    float *host = (float *)xmalloc(image);
    const char *why = c->no_multiply;
    int plan = 0, failed = 0;
    if (!why && c->allocate(&c->spectrum, image)) why = "no memory for the spectrum";
    if (!why) why = cufft_plan(c, 1, CUFFT_C2C, &plan);
    make_kernel(c->x, c->s, host);
    if (!why && (c->upload(c->spectrum, host, image) || c->execute(plan, c->spectrum, c->spectrum, -1)
                 || c->synchronize())) why = "cufftExecC2C failed";
    if (plan) c->destroy(plan);
    for (uint64_t i = 0; c->s->what == CROPPED && !why && !failed && i < batch; i++) {
        make_signal(c->x, c->s, i, host);
        failed = c->upload(c->in + i * image, host, image);
    }
    free(host);
    return failed ? "cuMemcpyHtoD failed" : why;
}

/* Number of bins in the half spectrum of one image. */
static inline uint64_t bins_of(const size *s) { return points(s) / s->n[s->rank - 1] * (s->n[s->rank - 1] / 2 + 1); }

/* The same for reals. Also creates the plan of the inverse transform. */
static inline const char *cufft_real_convolution(cufft *c, uint64_t batch) {
    float *host = (float *)xmalloc(points(c->s) * 4);
    const char *why = c->no_multiply;
    int plan = 0;
    if (!why && c->allocate(&c->spectrum, bins_of(c->s) * 8)) why = "no memory for the spectrum";
    if (!why) why = cufft_plan(c, 1, CUFFT_R2C, &plan);
    if (!why) why = cufft_plan(c, batch, CUFFT_C2R, &c->plan_back);
    pad_real_kernel(c->x, c->s, host);
    if (!why && (c->upload(c->back, host, points(c->s) * 4) || c->execute_real(plan, c->back, c->spectrum)
                 || c->synchronize())) why = "cufftExecR2C failed";
    if (plan) c->destroy(plan);
    free(host);
    return why;
}

/* The result is in `back`, the spectrum in `out`. */
static inline int cufft_run_real_convolution(cufft *c) {
    unsigned bins = (unsigned)bins_of(c->s), count = (unsigned)(batch_of(c->s, c->bytes) * bins);
    float scale = 1.0f / (float)points(c->s);
    void *arguments[5];
    arguments[0] = &c->out;
    arguments[1] = &c->spectrum;
    arguments[2] = &count;
    arguments[3] = &bins;
    arguments[4] = &scale;
    return c->execute_real(c->plan, c->in, c->out) || c->launch(c->multiply_bins, (count + 255) / 256, 1, 1, 256, 1, 1,
                                                                0, NULL, arguments,
                                                                NULL) || c->execute_back(c->plan_back, c->out, c->back);
}

static inline int cufft_multiply(cufft *c) {
    /* n is a power of two */
    unsigned n = (unsigned)points(c->s), count = (unsigned)(batch_of(c->s, c->bytes) * n / 2), mask = n / 2 - 1;
    float scale = 1.0f / (float)n;
    void *arguments[5];
    arguments[0] = &c->out;
    arguments[1] = &c->spectrum;
    arguments[2] = &count;
    arguments[3] = &mask;
    arguments[4] = &scale;
    return c->launch(c->multiply, (count + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL);
}

/* Enqueues transform number i. */
static inline int cufft_run(cufft *c, int i) {
    if (c->s->what == REAL) return c->execute_real(c->plan, c->in, c->out);
    if (c->s->what == REAL_BACK) return c->execute_back(c->plan, c->in, c->out);
    if (is_real_convolution(c->s)) return cufft_run_real_convolution(c);
    if (c->inverse_too && i % 2) return c->execute(c->plan, c->out, c->back, 1);
    if (c->execute(c->plan, c->in, c->out, -1)) return 1;
    return is_convolution(c->s) ? cufft_multiply(c) || c->execute(c->plan, c->out, c->out, 1) : 0;
}

/* Captures `count` transforms of the current size as a CUDA graph. Returns NULL if that fails. */
static inline void *cufft_graph(cufft *c, int count) {
    void *stream = NULL, *graph = NULL, *executable = NULL;
    if (c->stream_create(&stream, 1) || c->set_stream(c->plan, stream) || c->capture(stream, 1)) return NULL;
    for (int i = 0; i < count; i++) if (cufft_run(c, i)) return NULL;
    if (c->captured(stream, &graph) || c->instantiate(&executable, graph, 0)) executable = NULL;
    if (graph) c->graph_destroy(graph);
    return c->set_stream(c->plan, NULL) || c->stream_destroy(stream) ? NULL : executable;
}

/* Prepares for a size. Returns NULL, or the reason for failure. */
static inline const char *cufft_begin(cufft *c, const size *s) {
    uint64_t batch = batch_of(s, c->bytes);
    c->s = s;
    c->plan = c->plan_back = 0;
    c->spectrum = 0;
    c->inverse_too = false;
    if (s->what == IN_PLACE) return "it does not scale, so that numbers would grow; the same out of place has it";
    const char *why = cufft_plan(c, batch, s->what == REAL || is_real_convolution(s) ? CUFFT_R2C : s->what == REAL_BACK
                                 ? CUFFT_C2R : CUFFT_C2C, &c->plan);
    if (!why && is_real_convolution(s)) why = cufft_real_convolution(c, batch);
    else if (!why && is_convolution(s)) why = cufft_convolution(c, batch);
    return why ? why : cufft_run(c, 0) || c->synchronize() ? "a call of it failed" : NULL;
}

static inline void cufft_end(cufft *c) {
    if (c->plan) c->destroy(c->plan);
    if (c->plan_back) c->destroy(c->plan_back);
    if (c->spectrum) c->release(c->spectrum);
    if (c->s && (c->s->what == CROPPED || c->s->what == REAL_BACK) && cufft_fill(c)) die("cuMemcpyHtoD", "failed");
    c->plan = c->plan_back = 0;
    c->spectrum = 0;
    c->s = NULL;
}

/* Reads a sample of the result. */
static inline int cufft_read(cufft *c, uint64_t number, float *to) {
    sample_range p = range_of(c->s, c->bytes, number, true);
    uint64_t n = c->s->n[0], side = signal_extent(c->s);
    int failed = 0;
    if (c->s->what == CROPPED)
        for (uint64_t y = 0; y < side; y++)
            failed |= c->download(to + 2 * y * side, c->out + (number * n + y) * n * 8, side * 8);
    else if (p.stride == 1)
        failed = c->download(to, (is_real_convolution(c->s) ? c->back : c->out) + p.first * p.parts * 4,
                             p.count * p.parts * 4);
    else
        for (uint64_t i = 0; i < p.count; i++)
            failed |= c->download(to + 2 * i, c->out + (p.first + i * p.stride) * 8, 8);
    return failed;
}

#endif /* FFT_CUFFT_H */
