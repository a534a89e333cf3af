/* Every callback makes every public call: each call works or fails with a documented result, and nothing hangs, crashes
   or leaks. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/every_call.h"
#include "tests/turn.h"

enum { TIMEOUT_S = 120 }; /* for one test; the signal that ends the program names it */

static world the_world;
static caller here;
static const named_call *to_make; /* NULL: no call */
static int depth, made;

/* Called by each callback below. */
static void call_now(void) {
    const named_call *call = to_make;
    if (!call || depth) return;
    depth++;
    made++;
    call->make(&here);
    depth--;
}

/* ---- the callbacks ---- */

static void on_print(void *user, const char *kernel, const uint32_t id[3], const char *text) {
    (void)user, (void)kernel, (void)id, (void)text;
    call_now();
}
static void on_log(void *user, vd_log_level level, const char *message) {
    (void)user, (void)level, (void)message;
    call_now();
}
static void on_release(void *user, uint64_t address) { (void)user, (void)address; call_now(); }
static vd_result on_attach(vd_context *ctx, void **data, void *user) {
    (void)ctx, (void)data, (void)user;
    call_now();
    return VD_OK;
}
static vd_result on_native(const vd_native *native, void *user) { (void)native, (void)user; call_now(); return VD_OK; }
static vd_result on_record(void *user, void *commands) { (void)user, (void)commands; call_now(); return VD_OK; }

static void on_fragment(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    call_now();
    io->out = io->in[0];
}

static void on_hook(vc_kernel *k, const vd_fft_point *at, vd_fft_value *value, void *user) {
    (void)k, (void)at, (void)value, (void)user;
    call_now();
}

/* ---- operations that invoke the callbacks ---- */

static vd_kernel talking;

static void print_something(vd_context *ctx) {
    vd_run_args(ctx, talking, 1, 1, 1, NULL, 0);
    vd_wait_idle(ctx);
}

/* Output that is delivered while a kept plan runs: full batches are submitted inside it. */
static void print_in_transform(vd_context *ctx) {
    struct timespec nap = { 0, 20000000 };
    vd_run_args(ctx, talking, 1, 1, 1, NULL, 0);
    for (int i = 0; i < 1200; i++) {
        vd_reduce_sum(ctx, the_world.buffers[1], the_world.buffers[5]);
        if (i == 600) nanosleep(&nap, NULL);
    }
    vd_wait_idle(ctx);
}

/* A log message. Where kernels run, printf without a callback; elsewhere, a cache directory that does not exist. */
static void log_something(vd_context *ctx) { vd_cache_store(ctx, "log", "key", 3, "data", 4); }

static vd_buffer imported(vd_context *ctx) {
    static uint64_t memory[512] __attribute__((aligned(4096)));
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "buffer of the caller's";
    desc.type = VD_F32;
    desc.shape[0] = 1024;
    desc.import = VD_IMPORT_HOST;
    desc.address = (uintptr_t)memory;
    desc.release = on_release;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    vd_fill(vd_immediate(ctx, 0, 0), b, 0, VD_WHOLE, NULL, 0);
    return b;
}

static void let_go(vd_context *ctx) {
    vd_buffer_destroy(ctx, imported(ctx));
    vd_wait_idle(ctx);
}

/* Memory whose release is noticed while such a plan is created. */
static void release_in_transform(vd_context *ctx) {
    static uint64_t elements;
    vd_view_desc desc;
    vd_buffer b = imported(ctx), view;
    memset(&desc, 0, sizeof desc);
    desc.buffer = the_world.buffers[1];
    desc.shape[0] = 1 + elements++ % ELEMENTS;
    desc.type = VD_F32;
    view = vd_buffer_view(ctx, &desc);
    vd_buffer_destroy(ctx, b);
    vd_reduce_sum(ctx, view, the_world.buffers[5]);
    vd_buffer_destroy(ctx, view);
    vd_wait_idle(ctx);
}

static void attach(vd_context *ctx) {
    static const char key = 'c';
    vd_context_attach(ctx, &key, on_attach, NULL, NULL);
}

static void lend(vd_context *ctx) { vd_native_use(ctx, 0, 0, on_native, NULL); }

static void record(vd_context *ctx) {
    vd_record_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.record = on_record;
    vd_record_native(vd_immediate(ctx, 0, 0), &desc);
}

static void reduce_with_fragment(vd_context *ctx) {
    vd_reduce_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.shape[0] = ELEMENTS;
    desc.map.build = on_fragment;
    vd_reduce *p = vd_reduce_create(ctx, &desc);
    vd_reduce_run(p, vd_immediate(ctx, 0, 0), the_world.buffers[1], the_world.buffers[5]);
    vd_reduce_destroy(p);
}

static void fft_with_hook(vd_context *ctx) {
    vd_fft_desc desc;
    vd_fft_io io;
    memset(&desc, 0, sizeof desc);
    memset(&io, 0, sizeof io);
    desc.shape[0] = ELEMENTS / 2;
    desc.load = on_hook;
    io.in = the_world.buffers[0];
    vd_fft *p = vd_fft_create(ctx, &desc);
    vd_fft_run(p, vd_immediate(ctx, 0, 0), &io);
    vd_fft_destroy(p);
}

/* ---- every callback makes every call ---- */

static vd_context *context_with_callbacks(fixture *f) {
    vd_context_desc desc = fixture_desc(f);
    vd_context *ctx = NULL;
    desc.print = on_print;
    desc.log = on_log;
    desc.cache_directory = "build/no such folder";
    to_make = NULL;
    OK(vd_context_create(&desc, &ctx));
    return ctx;
}

/* Makes every call from within a callback; with CALLS_SAMPLE=4 every fourth, the next ones from the next callback. */
static void from_within(fixture *f, void (*cause)(vd_context *ctx), bool certain) {
    static uint32_t callback;
    const char *sample = getenv("CALLS_SAMPLE");
    uint64_t one_in = sample && atoi(sample) > 0 ? (uint64_t)atoi(sample) : 1;
    vd_context *ctx = context_with_callbacks(f);
    uint32_t count = COUNT(calls) + COUNT(exchanges);
    /* PoCL and NVRTC take seconds to compile the kernels of transforms */
    bool slow = f->executes && f->backend != VD_BACKEND_VULKAN;
    world_open(&the_world, ctx);
    memset(&here, 0, sizeof here);
    here.w = &the_world;
    here.within = true;
    if (!slow) plans_open(&here);
    if (f->executes) {
        vc_kernel *k = kernel_begin(ctx, "talking", 1, 1, 1);
        vc_printf(k, "%u", vc_global_id(k, 0));
        talking = kernel_end(ctx, k);
    }
    alarm(TIMEOUT_S);
    for (uint32_t i = 0; i < count; i++) {
        if ((slow && i >= TRANSFORMS && i < COUNT(calls)) || !is_in_turn(i + callback, one_in)) continue;
        made = 0;
        to_make = i < COUNT(calls) ? &calls[i] : &exchanges[i - COUNT(calls)];
        cause(ctx);
        if (certain && !made) fail_msg("the callback was not called for %s", to_make->name);
        if (here.problem[0]) fail_msg("%s: %s", to_make->name, here.problem);
        to_make = NULL;
    }
    callback++;
    plans_close(&here);
    world_close(&the_world);
    here.fft = NULL;
    here.convolve = NULL;
    here.reduce = NULL;
    here.scan = NULL;
    here.sort = NULL;
    here.histogram = NULL;
    here.top_k = NULL;
    to_make = &calls[0]; /* also while the context is destroyed */
    vd_context_destroy(ctx);
    to_make = NULL;
    alarm(0);
}

TEST_EXECUTED(print_calls_everything) { from_within(f, print_something, true); }
TEST_EXECUTED(print_within_a_transform_calls_everything) { from_within(f, print_in_transform, true); }
TEST(log_calls_everything) { from_within(f, log_something, true); }
TEST(release_calls_everything) { from_within(f, let_go, false); }
TEST(release_within_a_transform_calls_everything) { from_within(f, release_in_transform, false); }
TEST(use_of_attachments_calls_everything) { from_within(f, attach, true); }
TEST(use_of_native_objects_calls_everything) { from_within(f, lend, true); }
TEST(record_calls_everything) { from_within(f, record, false); }
TEST(fragments_call_everything) { from_within(f, reduce_with_fragment, true); }
TEST(hooks_call_everything) { from_within(f, fft_with_hook, true); }

/* The declared function is in every_call.h, here or in the list of functions that a test cannot call. */
static void check_header(const char *path) {
    static const char *const none[] = { "vd_context_create_version", "vd_kernel_create", "vd_machine", NULL };
    static char header[1 << 21], table[1 << 17];
    FILE *h = fopen(path, "r"), *t = fopen("tests/conformance/every_call.h", "r");
    if (!h || !t) skip_because("not started in the root of the repository");
    header[fread(header, 1, sizeof header - 1, h)] = 0;
    table[fread(table, 1, sizeof table - 1, t)] = 0;
    fclose(h);
    fclose(t);
    *strstr(header, "_IMPLEMENTED") = 0; /* only the declarations */
    for (char *at = strstr(header, "\nVD_API "); at; at = strstr(at + 1, "\nVD_API ")) {
        char name[64] = "", call[72];
        size_t end = strcspn(at + 1, "(") + 1, begin = end, listed = 0;
        while (at[begin - 1] != ' ' && at[begin - 1] != '*') begin--;
        snprintf(name, sizeof name, "%.*s", (int)(end - begin), at + begin);
        snprintf(call, sizeof call, "%s(", name);
        while (none[listed] && strcmp(none[listed], name)) listed++;
        if (!none[listed] && !strstr(table, call)) fail_msg("no call of the table makes %s", name);
    }
}

TEST(the_table_has_every_function) {
    (void)f;
    check_header("vkdispatch.h");
    check_header("vkdispatch_fft.h");
}

static const struct CMUnitTest cases[] = { CASE(the_table_has_every_function), CASE(print_calls_everything),
    CASE(print_within_a_transform_calls_everything), CASE(log_calls_everything), CASE(release_calls_everything),
    CASE(release_within_a_transform_calls_everything), CASE(use_of_attachments_calls_everything),
    CASE(use_of_native_objects_calls_everything), CASE(record_calls_everything), CASE(fragments_call_everything),
    CASE(hooks_call_everything),
};
MAIN("callbacks", cases)
