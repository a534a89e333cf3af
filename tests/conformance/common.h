/* What the conformance programs share. Every program runs its tests on each backend there is, or on the one named by VKDISPATCH_BACKEND or as argument; a
   test that needs kernels to be executed skips itself on the dummy. Each test has a context of its own, whose memory is counted: what is left
   after its destruction fails the test. */
#ifndef CONFORMANCE_COMMON_H
#define CONFORMANCE_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- memory that is counted, and can be made to run out ---- */

typedef struct account {
    long live;              /* blocks */
    long calls;             /* that asked for memory */
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

/* ---- a test and its context ---- */

typedef struct fixture {
    vd_backend backend;
    bool executes;          /* kernels run */
    vd_context *ctx;
    account memory;
    int messages;           /* errors and warnings in the log */
    char message[1024];     /* the first of them */
    char missing[512];      /* why there is no context */
} fixture;

static fixture the_fixture; /* one test runs at a time */

static void fixture_log(void *user, vd_log_level level, const char *message) {
    fixture *f = (fixture *)user;
    if (level > VD_LOG_WARNING || strstr(message, "VK_INSTANCE_LAYERS")) return; /* the loader tells that somebody asked for layers in the environment */
    if (__atomic_fetch_add(&f->messages, 1, __ATOMIC_RELAXED) == 0) snprintf(f->message, sizeof f->message, "%s", message);
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

static int fixture_setup(void **state) {
    fixture *f = &the_fixture;
    vd_backend backend = f->backend;
    memset(f, 0, sizeof *f);
    f->backend = backend;
    f->executes = backend != VD_BACKEND_DUMMY;
    vd_context_desc desc = fixture_desc(f);
    if (vd_context_create(&desc, &f->ctx)) snprintf(f->missing, sizeof f->missing, "%.500s", vd_error_text());
    else if (strstr(vd_device(f->ctx, 0)->name, "fake")) f->executes = false; /* tests/fake */
    *state = f;
    return 0;
}

static int fixture_teardown(void **state) {
    fixture *f = (fixture *)*state;
    vd_context_destroy(f->ctx);
    f->ctx = NULL;
    if (f->memory.live == 0) return 0;
    print_message("# %ld blocks of memory are left after vd_context_destroy\n", f->memory.live);
    return 1;
}

static fixture *fixture_start(void **state, bool executes) {
    fixture *f = (fixture *)*state;
    if (!f->ctx) {
        print_message("# reason: %s\n", f->missing);
        skip();
    }
    if (executes && !f->executes) {
        print_message("# reason: %s executes nothing\n", f->backend == VD_BACKEND_DUMMY ? "the dummy backend" : "a fake of CUDA's driver");
        skip();
    }
    return f;
}

#define TEST_(name, executes) \
    static void name##_body(fixture *f); \
    static void name(void **state) { name##_body(fixture_start(state, executes)); } \
    static void name##_body(fixture *f)
#define TEST(name) TEST_(name, false)          /* works on every backend */
#define TEST_EXECUTED(name) TEST_(name, true)  /* needs kernels to run */
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

/* Whether the backend takes SPIR-V. One that does not has to say so of this desc, which is all that is then tested. */
static inline bool takes_spirv(fixture *f, const vd_kernel_desc *desc) {
    if (f->backend == VD_BACKEND_VULKAN || f->backend == VD_BACKEND_DUMMY) return true;
    vd_kernel k = vd_kernel_create(f->ctx, desc);
    if (k.id) fail_msg("a backend that takes no SPIR-V made a kernel of it");
    if (!strstr(vd_error_text(), "the code is SPIR-V") || !strstr(vd_error_text(), "takes")) fail_msg("%s", vd_error_text());
    return false;
}

static inline void skip_because(const char *reason) {
    print_message("# reason: %s\n", reason);
    skip();
}

/* ---- running the tests ---- */

static const struct { vd_backend backend; const char *name; } all_backends[] = { { VD_BACKEND_VULKAN, "vulkan" }, { VD_BACKEND_CUDA, "cuda" },
    { VD_BACKEND_OPENCL, "opencl" }, { VD_BACKEND_DUMMY, "dummy" } };

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
    static int run_cases(const char *name) { return cmocka_run_group_tests_name(name, cases, NULL, NULL); } \
    int main(int argc, char **argv) { return run_backends(argc, argv, program, run_cases); }

/* ---- checks ---- */

/* The call must succeed; the library's text says why it did not. */
#define OK(call) do { \
        vd_result ok_result_ = (call); \
        if (ok_result_ != VD_OK) fail_msg("%s gave %s: %s", #call, vd_result_name(ok_result_), vd_error_text()); \
    } while (0)

/* The error text must hold each of the words, which are separated by '|'. */
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

/* The call must fail with this result and such a text. */
static inline void check_failure(const char *call, vd_result got, vd_result wanted, const char *words) {
    if (got != wanted) fail_msg("%s gave %s, not %s: %s", call, vd_result_name(got), vd_result_name(wanted), vd_error_text());
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

static inline vd_buffer buffer_named(vd_context *ctx, const char *name, vd_type type, uint64_t elements, const void *data) {
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

static inline vd_buffer buffer_u32(vd_context *ctx, const char *name, uint64_t elements, const void *data) {
    return buffer_named(ctx, name, VD_U32, elements, data);
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

/* to[i] = from[i] + add */
static inline vd_kernel kernel_move(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "move", 64, 1, 1);
    vc_ref from = vc_buffer(k, "from", VC_U32, VC_READ), to = vc_buffer(k, "to", VC_U32, VC_WRITE);
    vc_val add = vc_param(k, "add", VC_U32);
    VC_EACH(k, i) { vc_store(to, i, vc_add(vc_load(from, i), add)); }
    return kernel_end(ctx, k);
}

enum { SLOW_STEPS = 16, SLOW_ROUNDS = 60000 }; /* lavapipe leaves loops after 65535 rounds */

/* x[i] goes SLOW_STEPS * rounds times through a generator of random numbers, so that the device is busy for a while. */
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

static inline vd_result affine(vd_list *list, vd_kernel kernel, vd_buffer x, uint64_t threads, uint32_t mul, uint32_t add) {
    vd_arg args[3];
    args[0] = vd_b(x);
    args[1] = vd_u32(mul);
    args[2] = vd_u32(add);
    return dispatch(list, kernel, threads, args, 3);
}

static inline vd_result move(vd_list *list, vd_kernel kernel, vd_buffer from, vd_buffer to, uint64_t threads, uint32_t add) {
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

/* Whatever happened before: the context still moves data, and runs kernels where it can. */
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

/* ---- random numbers: the same everywhere ---- */

typedef struct dice { uint64_t state; } dice;

static inline uint32_t roll(dice *d, uint32_t below) {
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return below ? (uint32_t)(d->state >> 33) % below : (uint32_t)(d->state >> 33);
}

#endif /* CONFORMANCE_COMMON_H */
