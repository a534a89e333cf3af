/* Chains of dispatches, graphs and round trips on OpenCL, compared with hand-written OpenCL in one process on one
   device.

       make bench-opencl

   Both implementations run the same OpenCL C, x[i + first] += step, in one work-group. The hand-written one uses one
   in-order queue, buffer arguments set once, values set before each launch, one flush and one wait per chain, and a
   blocking read per round trip. It has its own context and queue. A graph is compared with the same launches by hand,
   because OpenCL has no graphs; …-host is the CPU time of its submission. Every counter is read back and compared with
   the number of dispatches. */
#define _POSIX_C_SOURCE 200809L
#define VKDISPATCH_OPENCL
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

enum { WARM = 4, THREADS = 64, WORDS = 16384, CHAIN = 1000, TRIPS = 40, CHAIN_ROUNDS = 15, TRIP_ROUNDS = 21 };
#define BENCH_PROGRAM "bench-opencl"
#include "tools/bench/ours.h"

/* ---- hand-written OpenCL ---- */

typedef struct raw {
    vd__cl_driver cl;                     /* only the table of functions is used */
    vd__cl_context context;
    vd__cl_command_queue queue;
    vd__cl_program program;
    vd__cl_kernel_id kernel;
    vd__cl_mem x;
    uint32_t block[32], value_bytes, work_at;
    uint32_t expected[SLICES];
} raw;

/* Finds the platform and device of our context by its position in the list. */
static vd__cl_device_entry raw_place(raw *r, int index) {
    vd__cl_platform_id platforms[16];
    vd__cl_device_entry place = { NULL, NULL };
    uint32_t count = 0;
    NEED(r->cl.clGetPlatformIDs(16, platforms, &count));
    for (uint32_t i = 0; i < count && index >= 0; i++) {
        vd__cl_device_id devices[32];
        uint32_t devices_count = 0;
        if (r->cl.clGetDeviceIDs(platforms[i], UINT32_MAX, 32, devices, &devices_count)) continue;
        place.platform = platforms[i];
        if (index < (int)devices_count) place.device = devices[index];
        index -= (int)devices_count;
    }
    if (!place.device) die("the device of our context is not among OpenCL's", 0);
    return place;
}

/* Writes the implicit arguments once: they describe one launch with THREADS threads and never change. */
static void raw_values(raw *r, const vc_info *info) {
    if (info->argument_bytes > sizeof r->block)
        die("the block of values is larger than expected", (int)info->argument_bytes);
    r->value_bytes = info->argument_bytes;
    r->work_at = info->args[1].location;
    for (int i = 0; i < info->implicit_count; i++) {
        uint32_t value = info->implicit[i].kind == VC_IMPLICIT_THREADS  ? (info->implicit[i].axis ? 1 : THREADS)
                         : info->implicit[i].kind == VC_IMPLICIT_GROUPS ? 1
                                                                        : 0;
        memcpy((char *)r->block + info->implicit[i].offset, &value, 4);
    }
}

static void raw_open(raw *r, vc_kernel *k, int index, const char *options) {
    const char *text = vc_source(k, VC_TARGET_OPENCL);
    const vc_info *info = vc_reflect_for(k, VC_TARGET_OPENCL);
    uint32_t zero = 0;
    int32_t error = 0;
    void *library = vd__library_open("libOpenCL.so.1");
    memset(r, 0, sizeof *r);
    if (!text || !info || !library || vd__cl_load(&r->cl, library)) die("no text or no library", 0);
    vd__cl_device_entry place = raw_place(r, index);
    intptr_t properties[3] = { VD__CL_CONTEXT_PLATFORM, 0, 0 };
    properties[1] = (intptr_t)place.platform;
    r->context = r->cl.clCreateContext(properties, 1, &place.device, NULL, NULL, &error);
    NEED(error);
    r->queue = r->cl.clCreateCommandQueue(r->context, place.device, 0, &error);
    NEED(error);
    r->program = r->cl.clCreateProgramWithSource(r->context, 1, &text, NULL, &error);
    NEED(error);
    NEED(r->cl.clBuildProgram(r->program, 1, &place.device, options, NULL, NULL));
    r->kernel = r->cl.clCreateKernel(r->program, info->entry, &error);
    NEED(error);
    r->x = r->cl.clCreateBuffer(r->context, VD__CL_MEM_READ_WRITE, 4 * WORDS, NULL, &error);
    NEED(error);
    NEED(r->cl.clEnqueueFillBuffer(r->queue, r->x, &zero, 4, 0, 4 * WORDS, 0, NULL, NULL));
    NEED(r->cl.clFinish(r->queue));
    NEED(r->cl.clSetKernelArg(r->kernel, 0, sizeof r->x, &r->x));
    raw_values(r, info);
}

static void raw_dispatch(raw *r, uint32_t work) {
    static const size_t global = THREADS, local = THREADS;
    memcpy((char *)r->block + r->work_at, &work, 4);
    NEED(r->cl.clSetKernelArg(r->kernel, 1, r->value_bytes, r->block));
    NEED(r->cl.clEnqueueNDRangeKernel(r->queue, r->kernel, 1, NULL, &global, &local, 0, NULL, NULL));
}

static double raw_chain(void *side) {
    raw *r = (raw *)side;
    raw_dispatch(r, 0); /* adds nothing */
    NEED(r->cl.clFinish(r->queue));
    double start = bench_now();
    for (int i = 0; i < CHAIN; i++) raw_dispatch(r, work_of(i));
    NEED(r->cl.clFinish(r->queue));
    chain_expect(r->expected, CHAIN);
    return bench_now() - start;
}

/* The CPU time until all launches are flushed. */
static double raw_chain_host(void *side) {
    raw *r = (raw *)side;
    double start = bench_busy();
    for (int i = 0; i < CHAIN; i++) raw_dispatch(r, work_of(i));
    NEED(r->cl.clFlush(r->queue));
    double took = bench_busy() - start;
    NEED(r->cl.clFinish(r->queue));
    chain_expect(r->expected, CHAIN);
    return took;
}

static double raw_trip(raw *r, size_t bytes) {
    static uint32_t got[WORDS];
    double times[TRIPS];
    for (int i = 0; i < TRIPS; i++) {
        double start = bench_now();
        raw_dispatch(r, step_of(i));
        r->expected[0] += step_of(i);
        NEED(r->cl.clEnqueueReadBuffer(r->queue, r->x, 1, 0, bytes, got, 0, NULL, NULL));
        times[i] = bench_now() - start;
        if (got[0] != r->expected[0]) die("hand-written: wrong value read back", (int)got[0]);
    }
    return bench_median(times, TRIPS);
}

static double raw_trip_small(void *side) { return raw_trip((raw *)side, 4); }
static double raw_trip_large(void *side) { return raw_trip((raw *)side, 4 * WORDS); }

static void raw_close(raw *r) {
    r->cl.clReleaseMemObject(r->x);
    r->cl.clReleaseKernel(r->kernel);
    r->cl.clReleaseProgram(r->program);
    r->cl.clReleaseCommandQueue(r->queue);
    r->cl.clReleaseContext(r->context);
}

/* ---- comparing ---- */

static vd_graph chain_graph;

static double ours_replay_host(void *side) { return ours_replay((ours *)side, chain_graph, CHAIN, 0, true); }
static double ours_replay_device(void *side) { return ours_replay((ours *)side, chain_graph, CHAIN, 0, false); }

static const comparison comparisons[] = {
    { "opencl-chain", "1000", "opencl", ours_chain, raw_chain, CHAIN_ROUNDS, 1e6 / CHAIN, "us/dispatch", 1.1 },
    { "opencl-graph-replay-host", "1000", "opencl", ours_replay_host, raw_chain_host, CHAIN_ROUNDS, 1e6, "us", 1.1 },
    { "opencl-graph-replay-device", "1000", "opencl", ours_replay_device, raw_chain, CHAIN_ROUNDS, 1e6 / CHAIN,
      "us/dispatch", 1.1 },
    { "opencl-roundtrip", "4B", "opencl", ours_trip_small, raw_trip_small, TRIP_ROUNDS, 1e6, "us", 1.1 },
    { "opencl-roundtrip", "64KiB", "opencl", ours_trip_large, raw_trip_large, TRIP_ROUNDS, 1e6, "us", 1.1 },
};
enum { COMPARISONS = sizeof comparisons / sizeof *comparisons };

static void bench_form(bool objects) {
    static ours o;
    static raw r;
    const char *form = objects ? "objects" : "shared";
    double allocations = 0;
    if (ours_open(&o, VD_BACKEND_OPENCL, objects ? VD_FEATURE_ADDRESS : 0)) {
        bench_not_run("opencl", form, vd_error_text());
        return;
    }
    const vd_device_info *info = vd_device(o.ctx, 0);
    const vd__cl_device *device = vd__cl_device_of(&o.ctx->devices[0].device);
    if (!objects && !device->svm) bench_not_run("opencl", form, "host and device do not share memory");
    else {
        printf("# %s, %s, memory in %s\n", info->name, info->driver,
               objects ? "buffer objects" : "shared virtual memory");
        vc_kernel *k = ours_builder(o.ctx, VC_BUFFERS_DEFAULT);
        ours_start(&o, vd_kernel_build(o.ctx, k));
        chain_graph = ours_graph(&o, CHAIN, false);
        raw_open(&r, k, info->index, device->options);
        for (int i = 0; i < COMPARISONS; i++) allocations += (double)compare(&comparisons[i], form, &o.counter, &o, &r);
        ours_check(&o);
        bench_print_alone(objects ? "opencl-allocations-objects" : "opencl-allocations-shared",
                          "second-and-later-calls", &allocations, 1, "calls", 0);
        raw_close(&r);
        vc_free(k);
    }
    vd_context_destroy(o.ctx);
}

int main(void) {
    bench_form(false);
    bench_form(true);
    return 0;
}
