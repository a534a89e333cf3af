/* Launches and round trips on CUDA, compared with the driver API written by hand, in one process on one device.

       make bench-cuda

   Both implementations run the same CUDA C, compiled by NVRTC: x[i + first] += step, in one work-group. The
   hand-written one keeps the primary context current, has its own stream, passes arguments by pointers, reads back into
   pinned memory, copies from there to the memory of the caller, and waits for the stream. All times are wall-clock
   times. Every counter is read back and compared with the number of launches. */
#define _POSIX_C_SOURCE 200809L
#define VKDISPATCH_CUDA
#define VKDISPATCH_NO_VULKAN
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

enum { WARM = 4, THREADS = 64, WORDS = 16384, CHAIN = 1000, SHORT = 16, TRIPS = 100, PUSHES = 1000, CHAIN_ROUNDS = 21,
       TRIP_ROUNDS = 21, STARTS = 5, STREAM_ROUNDS = 15 };
#define STREAM_BYTES ((uint64_t)1 << 29)

#define BENCH_PROGRAM "bench-cuda"
#include "tools/bench/ours.h"

static const char count_text[] =
    "extern \"C\" __global__ void count(unsigned *x, unsigned work) {\n"
    "    x[blockIdx.x * 64u + threadIdx.x + (work >> 16) * 256u] += work & 65535u;\n"
    "}\n";

/* ---- ours ---- */

static vd_context *context_open(const char *cache) {
    vd_context_desc desc = { 0 };
    vd_context *ctx = NULL;
    desc.backend = VD_BACKEND_CUDA;
    desc.cache_directory = cache;
    NEED(vd_context_create(&desc, &ctx));
    return ctx;
}

static vd_kernel count_create(vd_context *ctx) {
    static const vd_arg_info args[] = { { "x", VD_ARG_ADDRESS, VD_U32, VD_READ_WRITE, 0, 8, 0, false, false,
                                          VD_DIM_DEFAULT, VD_FORMAT_NONE, false, false, 0 },
                                          { "work", VD_ARG_VALUE, VD_U32, 0, 8, 4, 0, false, false, VD_DIM_DEFAULT,
                                            VD_FORMAT_NONE, false, false, 0 } };
    vd_kernel_desc desc = { 0 };
    desc.name = "count";
    desc.code = count_text;
    desc.args = args;
    desc.arg_count = 2;
    desc.argument_bytes = 12;
    desc.local_size[0] = THREADS;
    desc.local_size[1] = desc.local_size[2] = 1;
    vd_kernel k = vd_kernel_create(ctx, &desc);
    if (!k.id) die("vd_kernel_create", 0);
    return k;
}

/* Without an explicit list: the runtime batches and submits the dispatches. */
static double ours_runs(void *side) {
    ours *o = (ours *)side;
    ours_wake(o);
    double start = bench_now();
    for (int i = 0; i < CHAIN; i++) NEED(vd_run(o->ctx, o->kernel, THREADS, vd_b(o->x), vd_u32(work_of(i))));
    NEED(vd_wait_idle(o->ctx));
    double took = bench_now() - start;
    chain_expect(o->expected, CHAIN);
    return took;
}

/* Graphs: of CHAIN dispatches, without and with a slot, and of SHORT ones. */
static vd_graph chain_graph, changed_graph, short_graph;
static uint32_t changed; /* number of changes */

static double ours_replay_host(void *side) { return ours_replay((ours *)side, chain_graph, CHAIN, 0, true); }
static double ours_replay_device(void *side) { return ours_replay((ours *)side, chain_graph, CHAIN, 0, false); }
static double ours_replay_short(void *side) { return ours_replay((ours *)side, short_graph, SHORT, 0, false); }
static double ours_changed_host(void *side) {
    return ours_replay((ours *)side, changed_graph, CHAIN, 1 + changed++ % 7, true);
}
static double ours_changed_device(void *side) {
    return ours_replay((ours *)side, changed_graph, CHAIN, 1 + changed++ % 7, false);
}

/* ---- the driver API by hand ---- */

typedef struct raw {
    vd__cu_driver cu;   /* only the table of functions is used */
    vd__nvrtc rtc;
    void *context, *stream, *module, *function;
    vd__cu_address x;
    uint32_t *readback;
    uint32_t expected[SLICES];
    void *graphs[2], *execs[2];     /* captured once: CHAIN and SHORT launches */
    int (*synchronize)(void *stream);
    int (*begin_capture)(void *stream, int mode);
    int (*end_capture)(void *stream, void **graph);
    int (*instantiate)(void **exec, void *graph, unsigned long long flags);
    int (*launch)(void *exec, void *stream);
    int (*destroy_exec)(void *exec);
    int (*destroy_graph)(void *graph);
} raw;

static void raw_find(raw *r, const char *name, void *to) {
    void *found = vd__library_find(r->cu.library, name);
    if (!found) die(name, 0);
    memcpy(to, &found, sizeof found);
}

static void *raw_compile(raw *r, const char *text, const char *entry, void **module) {
    int major = 0, minor = 0;
    void *program, *function;
    char option[64];
    const char *options[1];
    size_t size;
    NEED(r->cu.cuDeviceGetAttribute(&major, VD__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    NEED(r->cu.cuDeviceGetAttribute(&minor, VD__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
    snprintf(option, sizeof option, "--gpu-architecture=sm_%d%d", major, minor);
    options[0] = option;
    NEED(r->rtc.nvrtcCreateProgram(&program, text, "bench", 0, NULL, NULL));
    NEED(r->rtc.nvrtcCompileProgram(program, 1, options));
    NEED(r->rtc.nvrtcGetCUBINSize(program, &size));
    char *image = (char *)malloc(size);
    NEED(r->rtc.nvrtcGetCUBIN(program, image));
    NEED(r->cu.cuModuleLoadDataEx(module, image, 0, NULL, NULL));
    NEED(r->cu.cuModuleGetFunction(&function, *module, entry));
    free(image);
    NEED(r->rtc.nvrtcDestroyProgram(&program));
    return function;
}

static void raw_open(raw *r) {
    const char *named = vd__environment("VKDISPATCH_LIBCUDA");
    void *memory;
    memset(r, 0, sizeof *r);
    r->cu.library = vd__library_open(named ? named : "libcuda.so.1");
    if (!r->cu.library || vd__cu_load(&r->cu, r->cu.library)) die("libcuda", 0);
    NEED(r->cu.cuInit(0));
    NEED(r->cu.cuDriverGetVersion(&r->cu.version));
    r->rtc.library = vd__nvrtc_library(&r->cu);
    if (!r->rtc.library || vd__nvrtc_load(&r->rtc, r->rtc.library)) die("libnvrtc", 0);
    raw_find(r, "cuStreamSynchronize", (void *)&r->synchronize);
    raw_find(r, "cuStreamBeginCapture_v2", (void *)&r->begin_capture);
    raw_find(r, "cuStreamEndCapture", (void *)&r->end_capture);
    raw_find(r, "cuGraphInstantiateWithFlags", (void *)&r->instantiate);
    raw_find(r, "cuGraphLaunch", (void *)&r->launch);
    raw_find(r, "cuGraphExecDestroy", (void *)&r->destroy_exec);
    raw_find(r, "cuGraphDestroy", (void *)&r->destroy_graph);
    NEED(r->cu.cuDevicePrimaryCtxRetain(&r->context, 0));
    NEED(r->cu.cuCtxPushCurrent(r->context));
    NEED(r->cu.cuStreamCreate(&r->stream, VD__CU_STREAM_NON_BLOCKING));
    r->function = raw_compile(r, count_text, "count", &r->module);
    NEED(r->cu.cuMemAlloc(&r->x, 4 * WORDS));
    NEED(r->cu.cuMemsetD32Async(r->x, 0, WORDS, r->stream));
    NEED(r->cu.cuMemHostAlloc(&memory, 4 * WORDS, VD__CU_HOST_BLOCK));
    r->readback = (uint32_t *)memory;
}

static void raw_launch(raw *r, uint32_t work) {
    void *parameters[2];
    parameters[0] = &r->x;
    parameters[1] = &work;
    NEED(r->cu.cuLaunchKernel(r->function, 1, 1, 1, THREADS, 1, 1, 0, r->stream, parameters, NULL));
}

/* Runs a launch that adds nothing. */
static void raw_wake(raw *r) {
    raw_launch(r, 0);
    NEED(r->synchronize(r->stream));
}

static double raw_chain(void *side) {
    raw *r = (raw *)side;
    raw_wake(r);
    double start = bench_now();
    for (int i = 0; i < CHAIN; i++) raw_launch(r, work_of(i));
    NEED(r->synchronize(r->stream));
    double took = bench_now() - start;
    chain_expect(r->expected, CHAIN);
    return took;
}

/* The cost of creating a CUDA graph for every submission, for comparison. */
static double raw_chain_graph(void *side) {
    raw *r = (raw *)side;
    void *graph, *exec;
    raw_wake(r);
    double start = bench_now();
    NEED(r->begin_capture(r->stream, 1));
    for (int i = 0; i < CHAIN; i++) raw_launch(r, work_of(i));
    NEED(r->end_capture(r->stream, &graph));
    NEED(r->instantiate(&exec, graph, 0));
    NEED(r->launch(exec, r->stream));
    NEED(r->synchronize(r->stream));
    double took = bench_now() - start;
    NEED(r->destroy_exec(exec));
    NEED(r->destroy_graph(graph));
    chain_expect(r->expected, CHAIN);
    return took;
}

static void raw_capture(raw *r) {
    for (int which = 0; which < 2; which++) {
        NEED(r->begin_capture(r->stream, 1));
        for (int i = 0; i < (which ? SHORT : CHAIN); i++) raw_launch(r, work_of(i));
        NEED(r->end_capture(r->stream, &r->graphs[which]));
        NEED(r->instantiate(&r->execs[which], r->graphs[which], 0));
    }
}

/* Launches a captured graph and waits for it. Returns like ours_replay. */
static double raw_replay(raw *r, int which, bool host) {
    if (!host) raw_wake(r);
    double start = host ? bench_busy() : bench_now();
    NEED(r->launch(r->execs[which], r->stream));
    double took = host ? bench_busy() - start : 0;
    NEED(r->synchronize(r->stream));
    if (!host) took = bench_now() - start;
    chain_expect(r->expected, which ? SHORT : CHAIN);
    return took;
}

static double raw_replay_host(void *side) { return raw_replay((raw *)side, 0, true); }
static double raw_replay_device(void *side) { return raw_replay((raw *)side, 0, false); }
static double raw_replay_short(void *side) { return raw_replay((raw *)side, 1, false); }

static double raw_trip(raw *r, uint64_t bytes) {
    static uint32_t got[WORDS];
    double times[TRIPS];
    for (int i = 0; i < TRIPS; i++) {
        double start = bench_now();
        raw_launch(r, step_of(i));
        NEED(r->cu.cuMemcpyAsync((uint64_t)(uintptr_t)r->readback, r->x, (size_t)bytes, r->stream));
        NEED(r->synchronize(r->stream));
        memcpy(got, r->readback, (size_t)bytes); /* into memory of the caller, as in our implementation */
        times[i] = bench_now() - start;
        r->expected[0] += step_of(i);
        if (got[0] != r->expected[0]) die("by hand: wrong value read back", (int)got[0]);
    }
    return bench_median(times, TRIPS);
}
static double raw_trip_small(void *side) { return raw_trip((raw *)side, 4); }
static double raw_trip_large(void *side) { return raw_trip((raw *)side, 4 * WORDS); }

/* ---- comparisons ---- */

static void push_and_pop(raw *r) {
    double ns[STARTS];
    void *context;
    for (int i = 0; i < STARTS; i++) {
        double start = bench_now();
        for (int j = 0; j < PUSHES; j++) {
            NEED(r->cu.cuCtxPushCurrent(r->context));
            NEED(r->cu.cuCtxPopCurrent(&context));
        }
        ns[i] = (bench_now() - start) * 1e9 / PUSHES;
    }
    bench_print_alone("cuda-context", "push+pop", ns, STARTS, "ns", -1);
}

/* Time from text to a kernel: compiled by NVRTC, and from the cache. */
static void starts(void) {
    char folder[] = "/tmp/bench-cuda-XXXXXX", command[64];
    double cold[STARTS], cached[STARTS];
    if (!mkdtemp(folder)) die("mkdtemp", 0);
    for (int i = 0; i < STARTS; i++) {
        vd_context *ctx = context_open(NULL);
        double start = bench_now();
        count_create(ctx);
        cold[i] = (bench_now() - start) * 1e3;
        vd_context_destroy(ctx);
        ctx = context_open(folder);
        if (!i) vd_kernel_destroy(ctx, count_create(ctx));
        start = bench_now();
        count_create(ctx);
        cached[i] = (bench_now() - start) * 1e3;
        vd_context_destroy(ctx);
    }
    bench_print_alone("cuda-kernel", "nvrtc", cold, STARTS, "ms", -1);
    bench_print_alone("cuda-kernel", "cached", cached, STARTS, "ms", -1);
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command)) die(command, 0);
}

/* ---- kernels of the builder, compared with hand-written ones ---- */

typedef struct streamed {
    ours *o;
    raw *r;
    vd_kernel kernel;
    vd_buffer x, y;
    void *function;
    vd__cu_address from, to;
    bool saxpy;
} streamed;

static double streamed_ours(void *side) {
    streamed *s = (streamed *)side;
    uint64_t n = STREAM_BYTES / 4;
    double start = bench_now();
    if (s->saxpy) NEED(vd_run(s->o->ctx, s->kernel, n, vd_f32(0.5f), vd_b(s->x), vd_b(s->y)));
    else NEED(vd_run(s->o->ctx, s->kernel, n, vd_b(s->x), vd_b(s->y)));
    NEED(vd_wait_idle(s->o->ctx));
    return bench_now() - start;
}

static double streamed_raw(void *side) {
    streamed *s = (streamed *)side;
    unsigned n = (unsigned)(STREAM_BYTES / 4);
    float a = 0.5f;
    void *parameters[4];
    parameters[0] = &s->from;
    parameters[1] = &s->to;
    parameters[2] = &n;
    parameters[3] = &a;
    double start = bench_now();
    NEED(s->r->cu.cuLaunchKernel(s->function, (n + 255) / 256, 1, 1, 256, 1, 1, 0, s->r->stream, parameters, NULL));
    NEED(s->r->synchronize(s->r->stream));
    return bench_now() - start;
}

static void streamed_compare(streamed *s, bool saxpy) {
    static const char texts[] =
        "extern \"C\" __global__ void copy(const float *x, float *y, unsigned n) { unsigned i = blockIdx.x * 256u + "
        "threadIdx.x;"
        " if (i < n) y[i] = x[i]; }\nextern \"C\" __global__ void saxpy(const float *x, float *y, unsigned n, float a) "
        "{ unsigned i = blockIdx.x * 256u +"
        " threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }\n";
    vc_kernel_desc desc = { 0 };
    void *module;
    desc.name = saxpy ? "saxpy" : "copy";
    desc.local_size[0] = 256;
    desc.machine = vd_machine(s->o->ctx);
    vc_kernel *k = vc_begin(&desc);
    vc_val a = saxpy ? vc_param(k, "a", VC_F32) : vc_f32(0);
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ), y = vc_buffer(k, "y", VC_F32, VC_READ_WRITE);
    VC_EACH(k, i) { vc_store(y, i, saxpy ? vc_fma(a, vc_load(x, i), vc_load(y, i)) : vc_load(x, i)); }
    s->kernel = vd_kernel_build(s->o->ctx, k);
    if (!s->kernel.id) die("vd_kernel_build", 0);
    vc_free(k);
    s->saxpy = saxpy;
    s->function = raw_compile(s->r, texts, desc.name, &module);
    const comparison c = { saxpy ? "cuda-saxpy" : "cuda-copy", "512MiB", "cuda", streamed_ours, streamed_raw,
                           STREAM_ROUNDS, 1e3, "ms", 1 / 0.99 };
    compare(&c, NULL, &s->o->counter, s, s);
    vd_kernel_destroy(s->o->ctx, s->kernel);
    NEED(s->r->cu.cuModuleUnload(module));
}

static void streams(ours *o, raw *r) {
    static streamed s;
    s.o = o;
    s.r = r;
    s.x = ours_buffer(o->ctx, VD_F32, STREAM_BYTES / 4);
    s.y = ours_buffer(o->ctx, VD_F32, STREAM_BYTES / 4);
    NEED(r->cu.cuMemAlloc(&s.from, STREAM_BYTES));
    NEED(r->cu.cuMemAlloc(&s.to, STREAM_BYTES));
    streamed_compare(&s, false);
    streamed_compare(&s, true);
    NEED(r->cu.cuMemFree(s.from));
    NEED(r->cu.cuMemFree(s.to));
}

static void raw_check(raw *r) {
    NEED(r->cu.cuMemcpyAsync((uint64_t)(uintptr_t)r->readback, r->x, 4 * WORDS, r->stream));
    NEED(r->synchronize(r->stream));
    int wrong = chain_check(r->readback, r->expected);
    if (wrong >= 0) die("by hand: wrong counter", wrong);
}

static const comparison comparisons[] = {
    { "cuda-chain", "1000", "cuda", ours_runs, raw_chain, CHAIN_ROUNDS, 1e6 / CHAIN, "us", 1.05 },
    { "cuda-chain", "1000", "graph", ours_runs, raw_chain_graph, CHAIN_ROUNDS, 1e6 / CHAIN, "us", 0 },
    { "cuda-graph-replay-host", "1000", "graph", ours_replay_host, raw_replay_host, CHAIN_ROUNDS, 1e6, "us", 0 },
    { "cuda-graph-replay-device", "1000", "graph", ours_replay_device, raw_replay_device, CHAIN_ROUNDS, 1e6 / CHAIN,
      "us", 1.03 },
    { "cuda-graph-changed-host", "1000", "graph-unchanged", ours_changed_host, raw_replay_host, CHAIN_ROUNDS, 1e6, "us",
      0 },
    { "cuda-graph-changed-device", "1000", "graph-unchanged", ours_changed_device, raw_replay_device, CHAIN_ROUNDS,
      1e6 / CHAIN, "us", 1.05 },
    { "cuda-graph-dependent", "16", "graph", ours_replay_short, raw_replay_short, CHAIN_ROUNDS, 1e6, "us", 1.05 },
    { "cuda-trip", "4B", "cuda", ours_trip_small, raw_trip_small, TRIP_ROUNDS, 1e6, "us", 1.2 },
    { "cuda-trip", "64KiB", "cuda", ours_trip_large, raw_trip_large, TRIP_ROUNDS, 1e6, "us", 1.2 },
};

int main(void) {
    static ours o;
    static raw r;
    double allocations = 0;
    if (ours_open(&o, VD_BACKEND_CUDA, 0)) {
        bench_not_run("cuda", "all", vd_error_text());
        return 0;
    }
    printf("# %s, %s\n", vd_device(o.ctx, 0)->name, vd_device(o.ctx, 0)->driver);
    ours_start(&o, count_create(o.ctx));
    chain_graph = ours_graph(&o, CHAIN, false);
    changed_graph = ours_graph(&o, CHAIN, true);
    short_graph = ours_graph(&o, SHORT, false);
    raw_open(&r);
    raw_capture(&r);
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        allocations += (double)compare(&comparisons[i], NULL, &o.counter, &o, &r);
    bench_print_alone("cuda-allocations", "second-and-later-calls", &allocations, 1, "calls", 0);
    streams(&o, &r);
    push_and_pop(&r);
    starts();
    ours_check(&o);
    raw_check(&r);
    vd_context_destroy(o.ctx);
    return 0;
}
