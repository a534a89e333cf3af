/* Chains of dispatches and round trips: hand-written OpenCL beside ours, in one process on one device.

       make bench-opencl

   Both sides run the same OpenCL C: x[i] += step, one workgroup. step changes from call to call, so that both hand over new values each time. The
   hand-written side is what a careful engineer writes: one in-order queue, buffer arguments set once, values set before each launch, one flush and one wait
   for a chain, a blocking read for a round trip. It uses a context and a queue of its own. Every counter is read back and compared with the number of
   dispatches. */
#define _POSIX_C_SOURCE 200809L
#define VKDISPATCH_OPENCL
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

#include "tools/bench/bench.h"

enum { WARM = 4, THREADS = 64, WORDS = 16384, CHAIN = 1000, TRIPS = 40, CHAIN_ROUNDS = 15, TRIP_ROUNDS = 21 };

static void die(const char *what, int code) {
    fprintf(stderr, "bench-opencl: %s (%d): %s\n", what, code, vd_error_text());
    exit(1);
}

#define NEED(call) do { int code_ = (int)(call); if (code_) die(#call, code_); } while (0)

static uint32_t step_of(int i) { return 1u + ((uint32_t)i & 1u); }

static vc_kernel *program_make(vd_context *ctx) {
    vc_kernel_desc desc = { 0 };
    desc.name = "count";
    desc.local_size[0] = THREADS;
    desc.machine = vd_machine(ctx);
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
    vc_val step = vc_param(k, "step", VC_U32);
    VC_EACH(k, i) { vc_store(x, i, vc_add(vc_load(x, i), step)); }
    return k;
}

/* ---- ours ---- */

typedef struct counting { unsigned long calls; } counting;

static void *count_allocate(void *user, size_t size) { ((counting *)user)->calls++; return malloc(size); }
static void *count_reallocate(void *user, void *block, size_t size) { ((counting *)user)->calls++; return realloc(block, size); }
static void count_release(void *user, void *block) { (void)user; free(block); }

typedef struct ours {
    vd_context *ctx;
    vd_kernel kernel;
    vd_buffer x;
    uint32_t expected;  /* in every counter of x */
    counting counter;
} ours;

static vd_result ours_open(ours *o, bool objects) {
    vd_context_desc desc = { 0 };
    memset(o, 0, sizeof *o);
    desc.backend = VD_BACKEND_OPENCL;
    desc.disable = objects ? VD_FEATURE_ADDRESS : 0;
    desc.allocator.allocate = count_allocate;
    desc.allocator.reallocate = count_reallocate;
    desc.allocator.release = count_release;
    desc.allocator.user = &o->counter;
    return vd_context_create(&desc, &o->ctx);
}

static void ours_start(ours *o, vc_kernel *k) {
    vd_buffer_desc desc = { 0 };
    desc.type = VD_U32;
    desc.shape[0] = WORDS;
    o->kernel = vd_kernel_build(o->ctx, k);
    o->x = vd_buffer_create(o->ctx, &desc);
    if (!o->kernel.id || !o->x.id) die("no kernel or buffer", 0);
}

static double ours_chain(void *side) {
    ours *o = (ours *)side;
    vd_list_desc list_desc = { 0 };
    vd_event event;
    double start = bench_now();
    vd_list *list = vd_list_begin(o->ctx, &list_desc);
    for (int i = 0; i < CHAIN; i++) {
        vd_arg args[2];
        vd_dispatch_desc desc = { 0 };
        args[0] = vd_b(o->x);
        args[1] = vd_u32(step_of(i));
        desc.kernel = o->kernel;
        desc.threads[0] = THREADS;
        desc.args = args;
        desc.arg_count = 2;
        NEED(vd_dispatch(list, &desc));
        o->expected += step_of(i);
    }
    NEED(vd_submit(list, NULL, &event));
    NEED(vd_wait(o->ctx, event, VD_FOREVER));
    return bench_now() - start;
}

static double ours_trip(ours *o, uint64_t bytes) {
    static uint32_t got[WORDS];
    double times[TRIPS];
    for (int i = 0; i < TRIPS; i++) {
        double start = bench_now();
        NEED(vd_run(o->ctx, o->kernel, THREADS, vd_b(o->x), vd_u32(step_of(i))));
        NEED(vd_buffer_read(o->ctx, o->x, 0, got, bytes));
        times[i] = bench_now() - start;
        o->expected += step_of(i);
        if (got[0] != o->expected) die("ours: wrong value read back", (int)got[0]);
    }
    return bench_median(times, TRIPS);
}

static double ours_trip_small(void *side) { return ours_trip((ours *)side, 4); }
static double ours_trip_large(void *side) { return ours_trip((ours *)side, 4 * WORDS); }

static void ours_check(ours *o) {
    static uint32_t got[WORDS];
    NEED(vd_buffer_read(o->ctx, o->x, 0, got, VD_WHOLE));
    for (uint32_t i = 0; i < WORDS; i++)
        if (got[i] != (i < THREADS ? o->expected : 0)) die("ours: wrong counter", (int)i);
}

/* ---- hand-written OpenCL ---- */

typedef struct raw {
    vd__cl_driver cl;                     /* the functions alone */
    vd__cl_context context;
    vd__cl_command_queue queue;
    vd__cl_program program;
    vd__cl_kernel_id kernel;
    vd__cl_mem x;
    uint32_t block[32], value_bytes, step_at;
    uint32_t expected;
} raw;

/* The platform and device that our context has, which is listed at the same place. */
static vd__cl_place raw_place(raw *r, int index) {
    vd__cl_platform_id platforms[16];
    vd__cl_place place = { NULL, NULL };
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

/* Hidden values stay the same throughout: of one launch with THREADS threads. */
static void raw_values(raw *r, const vc_info *info) {
    if (info->value_bytes > sizeof r->block) die("the block of values is larger than expected", (int)info->value_bytes);
    r->value_bytes = info->value_bytes;
    r->step_at = info->args[1].place;
    for (int i = 0; i < info->hidden_count; i++) {
        uint32_t value = info->hidden[i].kind == VC_HIDDEN_THREADS ? (info->hidden[i].axis ? 1 : THREADS) : info->hidden[i].kind == VC_HIDDEN_GROUPS ? 1 : 0;
        memcpy((char *)r->block + info->hidden[i].place, &value, 4);
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
    vd__cl_place place = raw_place(r, index);
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

static void raw_dispatch(raw *r, int i) {
    static const size_t global = THREADS, local = THREADS;
    uint32_t step = step_of(i);
    memcpy((char *)r->block + r->step_at, &step, 4);
    NEED(r->cl.clSetKernelArg(r->kernel, 1, r->value_bytes, r->block));
    NEED(r->cl.clEnqueueNDRangeKernel(r->queue, r->kernel, 1, NULL, &global, &local, 0, NULL, NULL));
    r->expected += step;
}

static double raw_chain(void *side) {
    raw *r = (raw *)side;
    double start = bench_now();
    for (int i = 0; i < CHAIN; i++) raw_dispatch(r, i);
    NEED(r->cl.clFinish(r->queue));
    return bench_now() - start;
}

static double raw_trip(raw *r, size_t bytes) {
    static uint32_t got[WORDS];
    double times[TRIPS];
    for (int i = 0; i < TRIPS; i++) {
        double start = bench_now();
        raw_dispatch(r, i);
        NEED(r->cl.clEnqueueReadBuffer(r->queue, r->x, 1, 0, bytes, got, 0, NULL, NULL));
        times[i] = bench_now() - start;
        if (got[0] != r->expected) die("hand-written: wrong value read back", (int)got[0]);
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

static const struct {
    const char *name, *size;
    double (*ours)(void *);
    double (*theirs)(void *);
    int rounds;
    double scale;
    const char *unit;
} comparisons[] = {
    { "opencl-chain", "1000", ours_chain, raw_chain, CHAIN_ROUNDS, 1e6 / CHAIN, "us/dispatch" },
    { "opencl-roundtrip", "4B", ours_trip_small, raw_trip_small, TRIP_ROUNDS, 1e6, "us" },
    { "opencl-roundtrip", "64KiB", ours_trip_large, raw_trip_large, TRIP_ROUNDS, 1e6, "us" },
};
enum { COMPARISONS = sizeof comparisons / sizeof *comparisons };

/* Returns how often our allocator was called in the timed rounds. */
static unsigned long compare(int which, const char *form, ours *o, raw *r) {
    static bench_pair pair;
    char name[64];
    snprintf(name, sizeof name, "%s-%s", comparisons[which].name, form);
    pair.name = name;
    pair.size = comparisons[which].size;
    pair.rival = "opencl";
    pair.rounds = comparisons[which].rounds;
    pair.scale = comparisons[which].scale;
    pair.unit = comparisons[which].unit;
    pair.bound = 1.1;
    for (int i = 0; i < WARM; i++) {
        comparisons[which].theirs(r);
        comparisons[which].ours(o);
    }
    unsigned long before = o->counter.calls;
    for (int i = 0; i < pair.rounds; i++) {
        pair.theirs[i] = comparisons[which].theirs(r);
        pair.ours[i] = comparisons[which].ours(o);
    }
    bench_print(&pair);
    return o->counter.calls - before;
}

static void bench_form(bool objects) {
    static ours o;
    static raw r;
    const char *form = objects ? "objects" : "shared";
    double allocations = 0;
    if (ours_open(&o, objects)) {
        bench_not_run("opencl", form, vd_error_text());
        return;
    }
    const vd_device_info *info = vd_device(o.ctx, 0);
    const vd__cl_device *device = vd__cl_device_of(&o.ctx->machines[0].device);
    if (!objects && !device->shared) bench_not_run("opencl", form, "host and device do not share memory");
    else {
        printf("# %s, %s, memory in %s\n", info->name, info->driver, objects ? "buffer objects" : "shared virtual memory");
        vc_kernel *k = program_make(o.ctx);
        ours_start(&o, k);
        raw_open(&r, k, info->index, device->options);
        for (int i = 0; i < COMPARISONS; i++) allocations += (double)compare(i, form, &o, &r);
        ours_check(&o);
        bench_print_alone(objects ? "opencl-allocations-objects" : "opencl-allocations-shared", "second-and-later-calls", &allocations, 1, "calls", 0);
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
