/* Shared by the benchmarks against hand-written code: one kernel that adds a step to THREADS of WORDS counters, chains
   of CHAIN dispatches and round trips through vkdispatch, and the comparison. Step and counters change from dispatch to
   dispatch, so that both implementations pass new arguments each time, and because on some devices the time of a
   dispatch depends on the address: by up to 8 % on an H200, where two buffers cannot have the same addresses.
   The first submission after one of the other implementation takes longer, up to 9 % of a chain on an H200. Before each
   timing of a whole operation both implementations therefore run a dispatch that adds nothing.
   Define or include first: BENCH_PROGRAM (the name of the program), the headers with their implementation, and the
   enumerators WARM, THREADS, WORDS, CHAIN and TRIPS. */
#ifndef BENCH_OURS_H
#define BENCH_OURS_H

#include "tools/bench/bench.h"

static void die(const char *what, int code) {
    fprintf(stderr, "%s: %s (%d): %s\n", BENCH_PROGRAM, what, code, vd_error_text());
    exit(1);
}

#define NEED(call) do { int code_ = (int)(call); if (code_) die(#call, code_); } while (0)

enum { SLICES = 64 }; /* of the counters; a dispatch changes the first THREADS of one */

static inline uint32_t step_of(int i) { return 1u + ((uint32_t)i & 1u); }

/* The argument of dispatch i of a chain: its step, and its slice in the upper half. */
static inline uint32_t work_of(int i) { return step_of(i) | ((uint32_t)i % SLICES) << 16; }

/* Adds the steps of a chain to the counters of each slice. */
static inline void chain_expect(uint32_t expected[SLICES], int count) {
    for (int i = 0; i < count; i++) expected[i % SLICES] += step_of(i);
}

/* Returns the index of a wrong counter, or -1. */
static inline int chain_check(const uint32_t *got, const uint32_t expected[SLICES]) {
    for (int i = 0; i < WORDS; i++)
        if (got[i] != (i % (WORDS / SLICES) < THREADS ? expected[i / (WORDS / SLICES)] : 0)) return i;
    return -1;
}

/* ---- an allocator that counts calls ---- */

typedef struct counting { unsigned long calls; } counting;

static void *count_allocate(void *user, size_t size) { ((counting *)user)->calls++; return malloc(size); }
static void *count_reallocate(void *user, void *block, size_t size) {
    ((counting *)user)->calls++;
    return realloc(block, size);
}
static void count_release(void *user, void *block) { (void)user; free(block); }

/* ---- opening ---- */

typedef struct ours {
    vd_context *ctx;
    vd_kernel kernel;
    vd_buffer x;
    uint32_t expected[SLICES]; /* in the counters of each slice of x */
    counting counter;
} ours;

static inline vd_result ours_open(ours *o, vd_backend backend, uint64_t disable) {
    vd_context_desc desc = { 0 };
    memset(o, 0, sizeof *o);
    desc.backend = backend;
    desc.disable = disable;
    desc.allocator.allocate = count_allocate;
    desc.allocator.reallocate = count_reallocate;
    desc.allocator.release = count_release;
    desc.allocator.user = &o->counter;
    return vd_context_create(&desc, &o->ctx);
}

static inline vd_buffer ours_buffer(vd_context *ctx, vd_type type, uint64_t elements) {
    vd_buffer_desc desc = { 0 };
    desc.type = type;
    desc.shape[0] = elements;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    if (!b.id) die("vd_buffer_create", 0);
    return b;
}

/* x[i + slice * (WORDS / SLICES)] += step, both of one argument */
static inline vc_kernel *ours_builder(vd_context *ctx, vc_buffers form) {
    vc_kernel_desc desc = { 0 };
    desc.name = "count";
    desc.local_size[0] = THREADS;
    desc.machine = vd_machine(ctx);
    desc.buffers = form;
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
    vc_val work = vc_param(k, "work", VC_U32), first = vc_mul(vc_shr(work, vc_u32(16)), vc_u32(WORDS / SLICES));
    VC_EACH(k, i) {
        vc_val at = vc_add(i, first);
        vc_store(x, at, vc_add(vc_load(x, at), vc_and(work, vc_u32(0xffff))));
    }
    return k;
}

static inline void ours_start(ours *o, vd_kernel kernel) {
    if (!kernel.id) die("no kernel", 0);
    o->kernel = kernel;
    o->x = ours_buffer(o->ctx, VD_U32, WORDS);
}

/* ---- dispatches ---- */

static inline void ours_dispatch(ours *o, vd_list *list, vd_buffer x, uint32_t work) {
    vd_arg args[2];
    vd_dispatch_desc desc = { 0 };
    args[0] = vd_b(x);
    args[1] = vd_u32(work);
    desc.kernel = o->kernel;
    desc.threads[0] = THREADS;
    desc.args = args;
    desc.arg_count = 2;
    NEED(vd_dispatch(list, &desc));
}

static inline vd_list *ours_begin(ours *o) {
    vd_list_desc desc = { 0 };
    vd_list *list = vd_list_begin(o->ctx, &desc);
    if (!list) die("vd_list_begin", 0);
    return list;
}

static inline void ours_record(ours *o, vd_list *list) {
    for (int i = 0; i < CHAIN; i++) ours_dispatch(o, list, o->x, work_of(i));
    chain_expect(o->expected, CHAIN);
}

/* Runs a dispatch that adds nothing. */
static inline void ours_wake(ours *o) {
    NEED(vd_run(o->ctx, o->kernel, THREADS, vd_b(o->x), vd_u32(0)));
    NEED(vd_wait_idle(o->ctx));
}

static inline void ours_finish(ours *o, vd_list *list) {
    vd_event event;
    NEED(vd_submit(list, NULL, &event));
    NEED(vd_wait(o->ctx, event, VD_FOREVER));
}

/* Times a list from its beginning to the completion of its work. */
static inline double ours_chain(void *side) {
    ours *o = (ours *)side;
    ours_wake(o);
    double start = bench_now();
    vd_list *list = ours_begin(o);
    ours_record(o, list);
    ours_finish(o, list);
    return bench_now() - start;
}

static inline double ours_trip(ours *o, uint64_t bytes) {
    static uint32_t got[WORDS];
    double times[TRIPS];
    for (int i = 0; i < TRIPS; i++) {
        double start = bench_now();
        NEED(vd_run(o->ctx, o->kernel, THREADS, vd_b(o->x), vd_u32(step_of(i))));
        NEED(vd_buffer_read(o->ctx, o->x, 0, got, bytes));
        times[i] = bench_now() - start;
        o->expected[0] += step_of(i);
        if (got[0] != o->expected[0]) die("ours: wrong value read back", (int)got[0]);
    }
    return bench_median(times, TRIPS);
}

static inline double ours_trip_small(void *side) { return ours_trip((ours *)side, 4); }
static inline double ours_trip_large(void *side) { return ours_trip((ours *)side, 4 * WORDS); }

static inline void ours_check(ours *o) {
    static uint32_t got[WORDS];
    NEED(vd_buffer_read(o->ctx, o->x, 0, got, VD_WHOLE));
    int wrong = chain_check(got, o->expected);
    if (wrong >= 0) die("ours: wrong counter", wrong);
}

/* ---- graphs ---- */

/* Records `count` dependent dispatches. With `slot`, the step of the first one is slot "step"; it is 1. */
static inline vd_graph ours_graph(ours *o, int count, bool slot) {
    vd_list *list = vd_graph_begin(o->ctx, NULL);
    if (!list) die("vd_graph_begin", 0);
    for (int i = 0; i < count; i++) {
        vd_arg args[2];
        vd_dispatch_desc desc = { 0 };
        args[0] = vd_b(o->x);
        args[1] = slot && !i ? vd_slot("step", vd_u32(work_of(i))) : vd_u32(work_of(i));
        desc.kernel = o->kernel;
        desc.threads[0] = THREADS;
        desc.args = args;
        desc.arg_count = 2;
        NEED(vd_dispatch(list, &desc));
    }
    vd_graph g = vd_graph_end(list);
    if (!g.id) die("vd_graph_end", 0);
    return g;
}

/* Submits a graph of `count` dispatches, and waits for it. Returns the CPU time of the submission (host), or the time
   of both. step: value of the slot, 0 if the graph has none. */
static inline double ours_replay(ours *o, vd_graph g, int count, uint32_t step, bool host) {
    vd_event event;
    if (!host) ours_wake(o);
    double start = host ? bench_busy() : bench_now();
    if (step) NEED(vd_graph_set(o->ctx, g, "step", vd_u32(step)));
    NEED(vd_graph_submit(o->ctx, g, NULL, &event));
    double took = host ? bench_busy() - start : 0;
    NEED(vd_wait(o->ctx, event, VD_FOREVER));
    if (!host) took = bench_now() - start;
    chain_expect(o->expected, count);
    o->expected[0] += step ? step - 1 : 0;
    return took;
}

/* ---- comparing ---- */

typedef double (*measure)(void *side);

typedef struct comparison {
    const char *name, *size, *rival;
    measure ours, theirs;
    int rounds;
    double scale;
    const char *unit;
    double bound;       /* 0: no bound */
} comparison;

/* Times our function on `a` and the other implementation on `b` alternately, and prints the result; `form` is appended
   to the name.
   Returns how often the allocator of `counter` was called during the timed rounds. */
static inline unsigned long compare(const comparison *c, const char *form, const counting *counter, void *a, void *b) {
    static bench_pair pair;
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", c->name, form ? "-" : "", form ? form : "");
    pair.name = name;
    pair.size = c->size;
    pair.rival = c->rival;
    pair.rounds = c->rounds;
    pair.scale = c->scale;
    pair.unit = c->unit;
    pair.bound = c->bound;
    for (int i = 0; i < WARM; i++) { /* until each of the recordings that are used in rotation was used */
        c->theirs(b);
        c->ours(a);
    }
    unsigned long before = counter->calls;
    for (int i = 0; i < c->rounds; i++) {
        pair.theirs[i] = c->theirs(b);
        pair.ours[i] = c->ours(a);
    }
    bench_print(&pair);
    return counter->calls - before;
}

#endif /* BENCH_OURS_H */
