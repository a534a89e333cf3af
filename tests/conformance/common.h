/* Shared by the conformance programs. A program runs its tests on every available backend, or on the one named by
   VKDISPATCH_BACKEND or as argument. A test that executes kernels is skipped on the dummy backend.
   -
   Tests share contexts, because some drivers need a fifth of a second to create one and serialise this between
   programs: f->ctx, and contexts with other descs from context_with, serve one test after another, including objects
   that earlier tests left in them. They are recreated after a test that failed, skipped halfway, left an error or
   logged one. A test that needs counters to start at zero uses CASE_FRESH; others compare differences. Memory is
   counted: if any is left after the contexts are destroyed, the last test fails, and the message names the first and
   last test that may have leaked it. With CONFORMANCE_FRESH=1 in the environment every test gets its own contexts,
   which tells which test leaks. */
#ifndef CONFORMANCE_COMMON_H
#define CONFORMANCE_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __has_include
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define HAS_BACKTRACE
#endif
#endif

#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#include "tests/system.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- a counting allocator that can fail ---- */

typedef struct account {
    long live;              /* live blocks */
    long calls;             /* allocations so far */
    long fail_at;           /* this call and all later ones fail; 0: none */
} account;

static bool account_refuses(account *a) {
    long call = __atomic_add_fetch(&a->calls, 1, __ATOMIC_RELAXED);
    return a->fail_at && call >= a->fail_at;
}

static void *account_allocate(void *user, size_t size) {
    account *a = (account *)user;
    void *block = account_refuses(a) ? NULL : malloc(size);
    if (block) __atomic_add_fetch(&a->live, 1, __ATOMIC_RELAXED);
    return block;
}

static void *account_reallocate(void *user, void *block, size_t size) {
    account *a = (account *)user;
    void *grown = account_refuses(a) ? NULL : realloc(block, size);
    if (grown && !block) __atomic_add_fetch(&a->live, 1, __ATOMIC_RELAXED);
    return grown;
}

static void account_release(void *user, void *block) {
    account *a = (account *)user;
    if (block) __atomic_sub_fetch(&a->live, 1, __ATOMIC_RELAXED);
    free(block);
}

static inline vd_allocator account_allocator(account *a) {
    vd_allocator r = { account_allocate, account_reallocate, account_release, NULL };
    r.user = a;
    return r;
}

/* ---- fixture ---- */

enum { SHARED_CONTEXTS = 16 };
typedef struct shared_context { vd_context *ctx; vd_context_desc desc; } shared_context;

typedef struct fixture {
    vd_backend backend;
    bool executes;          /* the backend runs kernels */
    vd_context *ctx;        /* the first of the shared contexts */
    shared_context shared[SHARED_CONTEXTS];
    account memory;
    int messages;           /* number of errors and warnings in the log */
    char message[1024];     /* the first of them */
    char missing[512];      /* why there is no context */
    bool ended;             /* the test reached its end */
    bool apart;             /* TEST_DEVICES: second run, on different devices */
    size_t left;            /* number of remaining tests */
    const char *first, *last; /* the first and last test that used the contexts */
    const char *running;    /* name of the running test */
    pthread_t thread;       /* its thread */
} fixture;

static fixture the_fixture; /* one test runs at a time */

static void fixture_log(void *user, vd_log_level level, const char *message) {
    fixture *f = (fixture *)user;
    /* the loader reports layers requested in the environment */
    if (level > VD_LOG_WARNING || strstr(message, "VK_INSTANCE_LAYERS")) return;
    if (__atomic_fetch_add(&f->messages, 1, __ATOMIC_RELAXED) == 0)
        snprintf(f->message, sizeof f->message, "%s", message);
}

static inline vd_context_desc fixture_desc(fixture *f) {
    vd_context_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.backend = f->backend;
    desc.allocator = account_allocator(&f->memory);
    desc.log = fixture_log;
    desc.log_user = f;
    return desc;
}

/* ---- crashes that cmocka does not report: those on another thread than the test's, and calls of exit() ---- */

static const int signals[] = {
#ifdef SIGBUS
    SIGBUS, /* not on Windows */
#endif
    SIGSEGV, SIGFPE, SIGILL, SIGABRT
};
static void (*signals_before[COUNT(signals)])(int);

static void report_end(const char *what) {
    char line[512];
    int length = snprintf(line, sizeof line, "%s during %s\n", what, the_fixture.running);
    if (length >= (int)sizeof line) length = (int)sizeof line - 1;
    if (length > 0 && write(STDERR_FILENO, line, (unsigned)length) < 0) return;
#ifdef HAS_BACKTRACE
    void *frames[64];
    backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
#endif
}

static void on_signal(int number) {
    char what[64];
    size_t i = 0;
    while (signals[i] != number) i++;
    if (pthread_equal(pthread_self(), the_fixture.thread) && signals_before[i] != SIG_DFL
        && signals_before[i] != SIG_IGN) {
        signals_before[i](number);
        return;
    }
    snprintf(what, sizeof what, "signal %d on %s thread", number,
             pthread_equal(pthread_self(), the_fixture.thread) ? "the test's" : "another");
    signal(number, SIG_DFL);
    if (the_fixture.running) report_end(what);
    the_fixture.running = NULL;
    raise(number);
}

static void on_exit_within(void) {
    if (the_fixture.running) report_end("exit() was called");
}

static void catch_signals(const char *name) {
    static bool once;
    if (!once) atexit(on_exit_within);
    once = true;
#ifdef HAS_BACKTRACE
    void *frame;
    backtrace(&frame, 1); /* loads libgcc now, not in a signal handler */
#endif
    the_fixture.thread = pthread_self();
    the_fixture.running = name;
    for (size_t i = 0; i < COUNT(signals); i++) {
        void (*before)(int) = signal(signals[i], on_signal);
        if (before != on_signal) signals_before[i] = before; /* cmocka sets its handler for each test */
    }
}

/* ---- contexts ---- */

/* Returns the shared context for this desc (compared as bytes, including pointers). Returns NULL and sets the error
   text on failure. */
static vd_context *shared_context_of(fixture *f, const vd_context_desc *desc) {
    for (int i = 0; i < SHARED_CONTEXTS; i++) {
        shared_context *s = &f->shared[i];
        if (s->ctx && memcmp(&s->desc, desc, sizeof *desc) == 0) return s->ctx;
        if (s->ctx) continue;
        if (vd_context_create(desc, &s->ctx)) return NULL;
        memcpy(&s->desc, desc, sizeof *desc);
        return s->ctx;
    }
    vd_error_set(VD_ERROR_INVALID, "more than %d descs of shared contexts", SHARED_CONTEXTS);
    return NULL;
}

static inline vd_context *context_with(fixture *f, const vd_context_desc *desc) {
    vd_context *ctx = shared_context_of(f, desc);
    if (!ctx) fail_msg("vd_context_create: %s", vd_error_text());
    return ctx;
}

static inline vd_context *context_without(fixture *f, uint64_t features) {
    vd_context_desc desc = fixture_desc(f);
    desc.disable = features;
    return context_with(f, &desc);
}

/* Whether a test may create a great many contexts. */
static inline bool contexts_are_cheap(const fixture *f) {
    return !f->executes || vd_device(f->ctx, 0)->facts.groups_as_loops;
}

/* Another context on the same device. */
static inline vd_context *context_beside(fixture *f) {
    vd_context_desc desc = fixture_desc(f);
    desc.device = 1 + vd_device(f->ctx, 0)->index;
    return context_with(f, &desc);
}

/* For desc.devices in a TEST_DEVICES: the fixture's device repeated, or the backend's devices in turn, starting with
   the fixture's. */
static inline const int *devices_of(const fixture *f) {
    static int list[2][VD_MAX_DEVICES];
    int count = vd_devices(f->backend, NULL, 0);
    for (int i = 0; i < VD_MAX_DEVICES; i++)
        list[f->apart][i] = 1 + (vd_device(f->ctx, 0)->index + (f->apart ? i : 0)) % count;
    return list[f->apart];
}

/* Destroys the contexts. Returns 1 if memory is left. */
static int fixture_close(fixture *f) {
    for (int i = 0; i < SHARED_CONTEXTS; i++) vd_context_destroy(f->shared[i].ctx);
    memset(f->shared, 0, sizeof f->shared);
    f->ctx = NULL;
    if (f->memory.live == 0) return 0;
    print_message("# warning: %ld blocks of memory are left after vd_context_destroy (tests %s to %s)\n", f->memory.live, f->first, f->last);
    f->memory.live = 0;
    return 1;
}

static int fixture_open(void **state) {
    fixture *f = &the_fixture;
    f->messages = 0;
    f->message[0] = 0;
    f->memory.fail_at = 0;
    f->ended = f->apart = false;
    f->left--;
    *state = f;
    if (f->ctx) return 0;
    vd_context_desc desc = fixture_desc(f);
    f->first = NULL;
    f->executes = f->backend != VD_BACKEND_DUMMY;
    f->ctx = shared_context_of(f, &desc);
    if (!f->ctx) snprintf(f->missing, sizeof f->missing, "%.500s", vd_error_text());
    else if (strstr(vd_device(f->ctx, 0)->name, "fake")) f->executes = false; /* tests/fake */
    return 0;
}

static inline int fixture_open_fresh(void **state) {
    return fixture_close(&the_fixture) || fixture_open(state);
}

static int fixture_end(void **state) {
    fixture *f = (fixture *)*state;
    f->running = NULL;
    bool keep = f->ended && f->left && !f->messages && !getenv("CONFORMANCE_FRESH");
    f->memory.fail_at = 0;
    for (int i = 0; i < SHARED_CONTEXTS && keep; i++)
        keep = !f->shared[i].ctx || vd_wait_idle(f->shared[i].ctx) == VD_OK;
    return keep ? 0 : fixture_close(f);
}

static fixture *fixture_start(void **state, const char *name, bool executes) {
    fixture *f = (fixture *)*state;
    if (!f->first) f->first = name;
    f->last = name;
    catch_signals(name);
    if (!f->ctx) {
        print_message("# reason: %s\n", f->missing);
        skip();
    }
    if (executes && !f->executes) {
        print_message("# reason: %s executes nothing\n",
                      f->backend == VD_BACKEND_DUMMY ? "the dummy backend" : "a fake of CUDA's driver");
        f->ended = true;
        skip();
    }
    return f;
}

#define TEST_(name, executes) \
    static void name##_body(fixture *f); \
    static void name(void **state) { \
        fixture *f = fixture_start(state, #name, executes); \
        name##_body(f); \
        f->ended = true; \
    } \
    static void name##_body(fixture *f)
#define TEST(name) TEST_(name, false)          /* works on every backend */
#define TEST_EXECUTED(name) TEST_(name, true)  /* executes kernels */
/* Runs with one device used several times and, if the backend has more than one, again with different devices. Use
   devices_of for desc.devices. */
#define TEST_DEVICES_(name, executes) \
    static void name##_once(fixture *f); \
    TEST_(name, executes) { \
        name##_once(f); \
        f->apart = true; \
        if (vd_devices(f->backend, NULL, 0) > 1) name##_once(f); \
        f->apart = false; \
    } \
    static void name##_once(fixture *f)
#define TEST_DEVICES(name) TEST_DEVICES_(name, false)
#define TEST_DEVICES_EXECUTED(name) TEST_DEVICES_(name, true)
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_end)
/* with contexts that no test has used */
#define CASE_FRESH(name) cmocka_unit_test_setup_teardown(name, fixture_open_fresh, fixture_end)
#define RUN_CASES(name, cases) (the_fixture.left = COUNT(cases), cmocka_run_group_tests_name(name, cases, NULL, NULL))

/* Whether the backend accepts SPIR-V. If not, checks that creating a kernel from this desc fails with that reason. */
static inline bool takes_spirv(fixture *f, const vd_kernel_desc *desc) {
    if (f->backend == VD_BACKEND_VULKAN || f->backend == VD_BACKEND_DUMMY) return true;
    vd_kernel k = vd_kernel_create(f->ctx, desc);
    if (k.id) fail_msg("a backend that takes no SPIR-V made a kernel of it");
    if (!strstr(vd_error_text(), "desc.code_kind is SPIR-V") || !strstr(vd_error_text(), "accepts"))
        fail_msg("%s", vd_error_text());
    return false;
}

static inline void skip_because(const char *reason) { /* before the test did anything */
    print_message("# reason: %s\n", reason);
    the_fixture.ended = true;
    skip();
}

static inline bool has_features(const fixture *f, uint64_t features) {
    return (vd_device(f->ctx, 0)->features & features) == features;
}

static inline void needs_feature(const fixture *f, uint64_t feature) {
    char reason[100];
    if (has_features(f, feature)) return;
    snprintf(reason, sizeof reason, "the device does not have feature %s", vd_feature_name(feature));
    skip_because(reason);
}

/* ---- running the tests ---- */

static const struct {
    vd_backend backend;
    const char *name;
} all_backends[] = { { VD_BACKEND_VULKAN, "vulkan" },
                     { VD_BACKEND_CUDA, "cuda" },
                     { VD_BACKEND_OPENCL, "opencl" },
                     { VD_BACKEND_DUMMY, "dummy" } };

typedef int (*run_group)(const char *name);

static inline int run_backends(int argc, char **argv, const char *program, run_group run) {
    const char *only = argc > 1 ? argv[1] : getenv("VKDISPATCH_BACKEND");
    int failed = 0, ran = 0;
    for (size_t i = 0; i < COUNT(all_backends); i++) {
        char name[128];
        if (only && *only && strcmp(only, all_backends[i].name)) continue;
        the_fixture.backend = all_backends[i].backend;
        snprintf(name, sizeof name, "%s on %s", program, all_backends[i].name);
        ran++;
        if (vd_devices(the_fixture.backend, NULL, 0)) failed += run(name);
        else printf("# reason: there is no %s device here\nok 1 - %s # SKIP all of its tests\n1..1\n", all_backends[i].name, name);
    }
    if (!ran) fprintf(stderr, "%s: no backend is called '%s'\n", program, only);
    return failed || !ran;
}

#define MAIN(program, cases) \
    static int run_cases(const char *name) { return RUN_CASES(name, cases); } \
    int main(int argc, char **argv) { return run_backends(argc, argv, program, run_cases); }

/* ---- checks ---- */

/* The call must succeed; on failure the error text is printed. */
#define OK(call) do { \
        vd_result ok_result_ = (call); \
        if (ok_result_ != VD_OK) fail_msg("%s gave %s: %s", #call, vd_result_name(ok_result_), vd_error_text()); \
    } while (0)

/* The error text must contain each of the words, which are separated by '|'. */
static inline void check_text(const char *call, const char *words) {
    char all[512], *word = all, *next;
    const char *text = vd_error_text();
    snprintf(all, sizeof all, "%s", words);
    for (; word && *word; word = next) {
        next = strchr(word, '|');
        if (next) *next++ = 0;
        if (!strstr(text, word)) fail_msg("%s: the text '%s' lacks '%s'", call, text, word);
    }
}

/* The call must fail with this result and a text that contains the words. */
static inline void check_failure(const char *call, vd_result got, vd_result wanted, const char *words) {
    if (got != wanted)
        fail_msg("%s gave %s, not %s: %s", call, vd_result_name(got), vd_result_name(wanted), vd_error_text());
    check_text(call, words);
}
#define FAILS(call, wanted, words) check_failure(#call, call, wanted, words)

static inline vd_stats stats_of(vd_context *ctx) {
    vd_stats s;
    memset(&s, 0, sizeof s);
    OK(vd_context_stats(ctx, &s));
    return s;
}

/* ---- buffers ---- */

static inline vd_buffer buffer_named(vd_context *ctx, const char *name, vd_type type, uint64_t elements,
                                     const void *data) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    desc.type = type;
    desc.shape[0] = elements;
    desc.data = data;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    if (!b.id) fail_msg("vd_buffer_create '%s': %s", name ? name : "", vd_error_text());
    return b;
}

/* A heap named 'heap'. */
static inline vd_buffer heap_of(vd_context *ctx, uint64_t bytes) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "heap";
    desc.shape[0] = bytes;
    desc.heap = true;
    vd_buffer heap = vd_buffer_create(ctx, &desc);
    if (!heap.id) fail_msg("vd_buffer_create 'heap': %s", vd_error_text());
    return heap;
}

static inline vd_buffer buffer_u32(vd_context *ctx, const char *name, uint64_t elements, const void *data) {
    return buffer_named(ctx, name, VD_U32, elements, data);
}

/* The id is 0 if vd_buffer_view fails. */
static inline vd_buffer view_of(vd_context *ctx, vd_buffer b, uint64_t offset, vd_type type, uint64_t elements) {
    vd_view_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.buffer = b;
    desc.offset = offset;
    desc.type = type;
    desc.shape[0] = elements;
    return vd_buffer_view(ctx, &desc);
}

static inline vd_buffer view_u32(vd_context *ctx, vd_buffer b, uint64_t first, uint64_t elements) {
    vd_buffer v = view_of(ctx, b, 4 * first, VD_U32, elements);
    if (!v.id) fail_msg("vd_buffer_view: %s", vd_error_text());
    return v;
}

static inline uint32_t read_u32(vd_context *ctx, vd_buffer b, uint64_t element) {
    uint32_t value = 0;
    OK(vd_buffer_read(ctx, b, 4 * element, &value, 4));
    return value;
}

/* ---- kernels ---- */

static inline vc_kernel *kernel_begin(vd_context *ctx, const char *name, uint32_t x, uint32_t y, uint32_t z) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    desc.local_size[0] = x;
    desc.local_size[1] = y;
    desc.local_size[2] = z;
    desc.machine = vd_machine(ctx);
    vc_kernel *k = vc_begin(&desc);
    assert_non_null(k);
    return k;
}

static inline vd_kernel kernel_end(vd_context *ctx, vc_kernel *k) {
    vd_kernel kernel = vd_kernel_build(ctx, k);
    if (!kernel.id) {
        char text[1024];
        snprintf(text, sizeof text, "%s", vd_error_text());
        vc_free(k);
        fail_msg("vd_kernel_build: %s", text);
    }
    vc_free(k);
    return kernel;
}

/* x[i] = x[i] * mul + add */
static inline vd_kernel kernel_affine(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "affine", 64, 1, 1);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
    vc_val mul = vc_param(k, "mul", VC_U32), add = vc_param(k, "add", VC_U32);
    VC_EACH(k, i) { vc_store(x, i, vc_add(vc_mul(vc_load(x, i), mul), add)); }
    return kernel_end(ctx, k);
}

/* out[0] += one component of each of 20 vectors, 320 bytes of arguments */
static inline vd_kernel kernel_large(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "large", 1, 1, 1);
    vc_ref out = vc_buffer(k, "out", VC_U32, VC_READ_WRITE);
    vc_val sum = vc_load(out, vc_u32(0));
    for (uint32_t i = 0; i < 20; i++) sum = vc_add(sum, vc_component(vc_param(k, NULL, VC_U32X4), i % 4));
    vc_store(out, vc_u32(0), sum);
    return kernel_end(ctx, k);
}

/* to[i] = from[i] + add */
static inline vd_kernel kernel_move(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "move", 64, 1, 1);
    vc_ref from = vc_buffer(k, "from", VC_U32, VC_READ), to = vc_buffer(k, "to", VC_U32, VC_WRITE);
    vc_val add = vc_param(k, "add", VC_U32);
    VC_EACH(k, i) { vc_store(to, i, vc_add(vc_load(from, i), add)); }
    return kernel_end(ctx, k);
}

enum { SLOW_STEPS = 16, SLOW_ROUNDS = 60000 }; /* lavapipe ends loops after 65535 iterations */

/* Applies a random number generator SLOW_STEPS * rounds times to x[i], to keep the device busy. */
static inline vd_kernel kernel_slow(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "slow", 64, 1, 1);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
    vc_val rounds = vc_param(k, "rounds", VC_U32);
    VC_EACH(k, i) {
        vc_ref v = vc_var(k, "v", VC_U32);
        vc_set(v, vc_load(x, i));
        VC_FOR(k, round, vc_u32(0), rounds) {
            vc_val x_now = vc_get(v);
            for (int step = 0; step < SLOW_STEPS; step++) x_now = vc_add(vc_mul(x_now, vc_u32(1664525)), round);
            vc_set(v, x_now);
        }
        vc_store(x, i, vc_get(v));
    }
    return kernel_end(ctx, k);
}

static inline vd_result dispatch(vd_list *list, vd_kernel kernel, uint64_t threads, const vd_arg *args, int count) {
    vd_dispatch_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.kernel = kernel;
    desc.threads[0] = threads;
    desc.args = args;
    desc.arg_count = count;
    return vd_dispatch(list, &desc);
}

static inline vd_result affine(vd_list *list, vd_kernel kernel, vd_buffer x, uint64_t threads, uint32_t mul,
                               uint32_t add) {
    vd_arg args[3];
    args[0] = vd_b(x);
    args[1] = vd_u32(mul);
    args[2] = vd_u32(add);
    return dispatch(list, kernel, threads, args, 3);
}

static inline vd_result move(vd_list *list, vd_kernel kernel, vd_buffer from, vd_buffer to, uint64_t threads,
                             uint32_t add) {
    vd_arg args[3];
    args[0] = vd_b(from);
    args[1] = vd_b(to);
    args[2] = vd_u32(add);
    return dispatch(list, kernel, threads, args, 3);
}

static inline vd_list *list_begin(vd_context *ctx) {
    vd_list_desc desc;
    memset(&desc, 0, sizeof desc);
    vd_list *list = vd_list_begin(ctx, &desc);
    if (!list) fail_msg("vd_list_begin: %s", vd_error_text());
    return list;
}

/* Checks that the context still transfers data and, where supported, runs kernels. */
static inline void still_works(fixture *f) {
    uint32_t data[4] = { 1, 2, 3, 4 };
    vd_buffer b = buffer_u32(f->ctx, "still", 4, data);
    OK(vd_fill(vd_immediate(f->ctx, 0, 0), b, 4, 4, NULL, 0));
    if (f->executes) {
        vd_kernel k = kernel_affine(f->ctx);
        OK(vd_run(f->ctx, k, 4, vd_b(b), vd_u32(1), vd_u32(0)));
        vd_kernel_destroy(f->ctx, k);
    }
    memset(data, 9, sizeof data);
    OK(vd_buffer_read(f->ctx, b, 0, data, VD_WHOLE));
    assert_int_equal(data[0], 1);
    assert_int_equal(data[1], 0);
    assert_int_equal(data[3], 4);
    vd_buffer_destroy(f->ctx, b);
}

/* ---- random numbers, reproducible ---- */

typedef struct dice { uint64_t state; } dice;

static inline uint32_t roll(dice *d, uint32_t below) {
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return below ? (uint32_t)(d->state >> 33) % below : (uint32_t)(d->state >> 33);
}

#endif /* CONFORMANCE_COMMON_H */
