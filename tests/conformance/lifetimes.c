/* Lifetimes: threads destroy objects that other threads use, and all memory is released. LIFETIMES_SECONDS: run time on
   each backend; LIFETIMES_CYCLES: number of objects of each kind that are created and destroyed. The defaults are
   short. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/every_call.h"

enum { DESTROYERS = 4, USERS = 4 };

static volatile uint32_t stop;
static uint64_t rounds;

static void *destroy(void *user) {
    caller *c = (caller *)user;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE) && !c->problem[0]) {
        static const uint8_t often[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2,
                                         3, 3, 3, 3, 3, 3, 4, 4 };
        exchanges[often[any(c, COUNT(often))]].make(c);
    }
    return NULL;
}

static void *use(void *user) {
    caller *c = (caller *)user;
    uint64_t done = 0;
    for (; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE) && !c->problem[0]; done++) calls[any(c, COUNT(calls))].make(c);
    __atomic_add_fetch(&rounds, done, __ATOMIC_RELAXED);
    return NULL;
}

static void run_threads(vd_context *ctx, double seconds) {
    static world w;
    static caller callers[DESTROYERS + USERS];
    pthread_t threads[COUNT(callers)];
    world_open(&w, ctx);
    memset(callers, 0, sizeof callers);
    stop = 0;
    rounds = 0;
    for (uint32_t i = 0; i < COUNT(callers); i++) {
        callers[i].w = &w;
        callers[i].state = i + 1;
        if (i >= DESTROYERS) plans_open(&callers[i]);
    }
    for (uint32_t i = 0; i < COUNT(callers); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i < DESTROYERS ? destroy : use, &callers[i]), 0);
    struct timespec length = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
    nanosleep(&length, NULL);
    __atomic_store_n(&stop, 1u, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < COUNT(callers); i++) pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < COUNT(callers); i++)
        if (callers[i].problem[0]) fail_msg("%s", callers[i].problem);
    for (uint32_t i = DESTROYERS; i < COUNT(callers); i++) plans_close(&callers[i]);
    world_close(&w);
    print_message("# %llu rounds of calls\n", (unsigned long long)rounds);
}

static double seconds(void) {
    const char *text = getenv("LIFETIMES_SECONDS");
    return text && *text ? atof(text) : 1;
}

TEST(threads_destroy_what_others_use) {
    run_threads(f->ctx, seconds());
    vd_wait_idle(f->ctx);
    still_works(f);
}

TEST(threads_destroy_what_others_use_without_mapped_memory) {
    run_threads(context_without(f, VD_FEATURE_MAPPED), seconds() / 2);
    still_works(f);
}

/* ---- creating and destroying objects: host memory stays bounded ---- */

/* Bytes in use, stored in front of each block. */
typedef struct bytes { long long used; } bytes;
enum { BYTES_HEAD = 32 };

static void *bytes_reallocate(void *user, void *block, size_t size) {
    size_t *old = block ? (size_t *)(void *)((char *)block - BYTES_HEAD) : NULL;
    long long before = old ? (long long)*old : 0;
    size_t *made = (size_t *)realloc(old, size + BYTES_HEAD);
    if (!made) return NULL;
    *made = size;
    __atomic_add_fetch(&((bytes *)user)->used, (long long)size - before, __ATOMIC_RELAXED);
    return (char *)made + BYTES_HEAD;
}

static void *bytes_allocate(void *user, size_t size) { return bytes_reallocate(user, NULL, size); }

static void bytes_release(void *user, void *block) {
    if (!block) return;
    size_t *head = (size_t *)(void *)((char *)block - BYTES_HEAD);
    __atomic_sub_fetch(&((bytes *)user)->used, (long long)*head, __ATOMIC_RELAXED);
    free(head);
}

static uint64_t memory_of_the_caller[1024] __attribute__((aligned(4096)));
static int release_calls;

static void on_release(void *user, uint64_t address) {
    (void)user;
    release_calls += address == (uintptr_t)memory_of_the_caller;
}

static vd_buffer short_lived(vd_context *ctx) { return buffer_u32(ctx, "one that soon goes", 16, NULL); }

static void cycle_buffer(caller *c) {
    vd_buffer b = short_lived(c->w->ctx);
    OK(vd_fill(immediate(c), b, 0, 64, "abcd", 4));
    vd_buffer_destroy(c->w->ctx, b);
}

/* Views that are destroyed with their buffer. */
static void cycle_view(caller *c) {
    vd_buffer b = short_lived(c->w->ctx), view;
    vd_view_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.buffer = b;
    desc.offset = 16;
    desc.type = VD_U32;
    view = vd_buffer_view(c->w->ctx, &desc);
    desc.buffer = view;
    assert_int_not_equal(vd_buffer_view(c->w->ctx, &desc).id, 0);
    OK(vd_fill(immediate(c), view, 0, 32, NULL, 0));
    vd_buffer_destroy(c->w->ctx, b);
}

static void cycle_import(caller *c) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.type = VD_U32;
    desc.shape[0] = 1024;
    desc.import = VD_IMPORT_HOST;
    desc.address = (uintptr_t)memory_of_the_caller;
    desc.release = on_release;
    vd_buffer_destroy(c->w->ctx, vd_buffer_create(c->w->ctx, &desc));
}

static void cycle_tensor(caller *c) { call_dlpack(c); }
static void cycle_ticket(caller *c) { call_read_begin(c); }
static void cycle_list(caller *c) { call_list(c); }
static void cycle_kernel(caller *c) { exchange_kernel(c); }
static void cycle_map(caller *c) { call_map(c); }
static void cycle_transfers(caller *c) { call_transfers(c); }
static void cycle_libraries(caller *c) { call_libraries(c); }
static void cycle_rows(caller *c) { call_fft_rows(c); }

static void cycle_plan(caller *c) {
    vd_reduce_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.shape[0] = ELEMENTS;
    vd_reduce_destroy(vd_reduce_create(c->w->ctx, &desc));
}

/* `share`: where compilers and drivers are slow, one in `share` cycles is run. */
static const struct { const char *what; void (*cycle)(caller *c); uint32_t share, cheap_share;
} kinds[] = { { "buffers", cycle_buffer, 1, 1 },           { "views", cycle_view, 1, 1 },
              { "imported buffers", cycle_import, 50, 1 }, { "tensors", cycle_tensor, 20, 1 },
              { "tickets", cycle_ticket, 4, 1 },           { "lists", cycle_list, 4, 1 },
              { "kernels", cycle_kernel, 400, 20 },        { "mappings", cycle_map, 4, 1 },
              { "transfers", cycle_transfers, 20, 1 },     { "attachments", cycle_libraries, 1, 1 },
              { "rows of an FFT", cycle_rows, 20, 1 },     { "plans", cycle_plan, 2000, 100 } };

static void cycle(caller *c, fixture *f, bytes *memory) {
    const char *text = getenv("LIFETIMES_CYCLES");
    uint32_t cycles = text && *text ? (uint32_t)atoi(text) : 24000;
    /* recordings in progress at the same time, each with memory of the driver */
    long long slack = f->executes ? 512 << 10 : 0;
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        uint32_t count = cycles / (f->executes ? kinds[kind].share : kinds[kind].cheap_share);
        long long half = 0, end;
        if (count < 4) count = 4;
        for (uint32_t i = 0; i < count; i++) {
            kinds[kind].cycle(c);
            if (i % 64 == 63 || i + 1 == count / 2 || i + 1 == count) vd_wait_idle(c->w->ctx);
            if (i + 1 == count / 2) half = __atomic_load_n(&memory->used, __ATOMIC_RELAXED);
        }
        end = __atomic_load_n(&memory->used, __ATOMIC_RELAXED);
        if (end - half > count / 2 + slack)
            fail_msg("%s: %lld bytes after %u of them, %lld after %u", kinds[kind].what, half, count / 2, end, count);
    }
}

static void check_memory_stays_bounded(fixture *f, uint64_t disable) {
    static world w;
    vd_context_desc desc = fixture_desc(f);
    bytes memory = { 0 };
    caller c;
    memset(&c, 0, sizeof c);
    desc.allocator.allocate = bytes_allocate;
    desc.allocator.reallocate = bytes_reallocate;
    desc.allocator.release = bytes_release;
    desc.allocator.user = &memory;
    desc.disable = disable;
    c.w = &w;
    vd_context *ctx = NULL;
    OK(vd_context_create(&desc, &ctx));
    world_open(&w, ctx);
    cycle(&c, f, &memory);
    world_close(&w);
    vd_context_destroy(ctx);
    assert_int_equal(memory.used, 0);
}

TEST(memory_stays_bounded) { check_memory_stays_bounded(f, 0); }
TEST(memory_stays_bounded_without_mapped_memory) { check_memory_stays_bounded(f, VD_FEATURE_MAPPED); }

static const struct CMUnitTest cases[] = { CASE_FRESH(threads_destroy_what_others_use),
                                           CASE_FRESH(threads_destroy_what_others_use_without_mapped_memory),
                                           CASE(memory_stays_bounded),
                                           CASE(memory_stays_bounded_without_mapped_memory) };
MAIN("lifetimes", cases)
