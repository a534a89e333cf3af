/* Transforms of about 2000 sizes, most of them not in the tables of measured shapes, compared with cuFFT and a copy.

       make bench-fft-sweep PART=1/8
       build/gcc/tools/bench/sweep [PART] [SIZE ...]

   Sizes: rows of all lengths from 2 to 8192 without prime factors above 13; 300 random lengths beyond, up to 2^24; 150
   random lengths with a prime factor above 31, up to 2^22; 200 random images and cubes; each complex or of reals (rows
   up to 8192: both). PART is part I of N of the sizes, so that each part takes a few minutes; the default is all of
   them, on a processor 1/200. SIZE, in the printed form (360, r2c-360, 48x100), replaces this list and may be any size.
   BENCH_SECONDS (default 540) ends a part early; the summary states how many sizes are left.

   BENCH_BATCH=1 (make bench-fft-single) times single transforms, each of which waits for the previous one: rows of 256
   to 2^20 elements, images of 64² to 1024², cubes of 32³ to 128³, and random sizes in these ranges. cuFFT runs from
   calls, and once more from a CUDA graph of as many transforms (`graph`, `graph-speed`).

   VKDISPATCH_BACKEND=cuda or opencl runs ours on CUDA or OpenCL instead of Vulkan.

   BENCH_MEASURE=1 adds `measured`: the time of ours with kernels chosen by timing (VD_FFT_MEASURE).

   Each size transforms the same number of bytes (BENCH_BYTES; default 512 MiB, on a processor 1 MiB), out of place,
   forward. Our plan, cuFFT (see fft.c) and the copy are timed alternately, BENCH_ROUNDS times (default 5), each for a
   few milliseconds; the figures are medians. `speed` is the time of cuFFT divided by ours, `copied` our time divided by
   that of the copy.

   Verification. `sums`: for transforms X of N elements, including the last one, the device computes the sum over k of
   X[k] exp(2 pi i k a / N), which is N x[a], with weights from the host in double precision. The figure is the largest
   error divided by N; a single wrong element changes it by about 1 / sqrt(N). `fftw`: relative error of the last
   transform, compared with FFTW if that was available at compile time. Sizes with wrong results count as failures. */
#define _POSIX_C_SOURCE 200809L
#define VKDISPATCH_CUDA
#define VKDISPATCH_OPENCL
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#define VKDISPATCH_FFT_IMPLEMENTATION
#include "vkdispatch_fft.h"

#include "tools/bench/bench.h"
#include "tools/bench/fft_cufft.h"
#include "tools/bench/fft_run.h"
#include "tools/bench/fft_work.h"

enum {
    CHUNK = 16384,           /* elements that a work-group sums */
    SAMPLES = 4096,          /* maximum transforms of a size that are verified */
    PARTIALS = 1 << 18       /* maximum partial sums */
};

/* Classes of sizes, each with a line of the summary. */
typedef enum size_class {
    ROWS, REAL_ROWS, LONG_ROWS, LONG_REAL_ROWS, PRIMES, REAL_PRIMES, IMAGES, REAL_IMAGES, CLASSES
} size_class;
static const char *const class_names[CLASSES] = { "rows", "real-rows", "long-rows", "long-real-rows", "primes",
                                                  "real-primes", "images", "real-images" };

typedef struct item { size s; size_class in; } item;

typedef struct summary {
    int count, compared, above; /* sizes; those compared with cuFFT; those whose speed is at least 0.97 */
    double log_speed, worst, log_copied;
    char worst_name[64];
} summary;

typedef struct sweep {
    vd_context *ctx;
    vd_buffer in, out, partials;
    numbers x;
    uint64_t bytes;
    cufft cu;
    const char *no_cufft;
    int rounds;
    bool measure;            /* also time plans with measured kernels */
    vd_kernel copy, sum;
    summary summaries[CLASSES];
    int failed;
} sweep;

/* ---- sizes ---- */

typedef struct items { item *at; size_t count, room; } items;

static void add(items *list, size_class in, kind what, uint32_t rank, uint32_t a, uint32_t b, uint32_t c) {
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 1024;
        list->at = (item *)realloc(list->at, list->room * sizeof *list->at);
        if (!list->at) die("realloc", "out of memory");
    }
    item *i = &list->at[list->count++];
    memset(i, 0, sizeof *i);
    i->in = in;
    i->s.what = what;
    i->s.rank = rank;
    i->s.n[0] = a;
    i->s.n[1] = b;
    i->s.n[2] = c;
}

static bool is_smooth(uint32_t n, uint32_t limit) {
    for (uint32_t p = 2; p <= limit; p++) while (n % p == 0) n /= p;
    return n == 1;
}

/* Returns a random number from 0 to 1. */
static double random_fraction(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* Returns a random length from `low` to about `high`, uniform in its logarithm: without prime factors above 13 or, if
   not `smooth`, with one above 31. */
static uint32_t random_length(uint64_t *state, double low, double high, bool smooth) {
    uint32_t n = (uint32_t)(low * pow(high / low, random_fraction(state)));
    while (smooth ? !is_smooth(n, 13) : is_smooth(n, 31)) n++;
    return n;
}

static items all_sizes(void) {
    items list = { NULL, 0, 0 };
    uint64_t state = 20261122;
    for (uint32_t n = 2; n <= 8192; n++) {
        if (!is_smooth(n, 13)) continue;
        add(&list, ROWS, COMPLEX, 1, n, 0, 0);
        add(&list, REAL_ROWS, REAL, 1, n, 0, 0);
    }
    for (int i = 0; i < 300; i++)
        add(&list, i % 2 ? LONG_REAL_ROWS : LONG_ROWS, i % 2 ? REAL : COMPLEX, 1,
            random_length(&state, 8193, 1 << 24, true), 0, 0);
    for (int i = 0; i < 150; i++)
        add(&list, i % 2 ? REAL_PRIMES : PRIMES, i % 2 ? REAL : COMPLEX, 1,
            random_length(&state, 37, 1 << 22, false), 0, 0);
    for (int i = 0; i < 200; i++) {
        uint32_t rank = i % 4 < 2 ? 2 : 3, a = random_length(&state, rank == 2 ? 16 : 8, rank == 2 ? 4096 : 512, true),
                 b = random_length(&state, rank == 2 ? 16 : 8, rank == 2 ? 4096 : 512, true),
                 c = rank == 2 ? 0 : random_length(&state, 8, 512, true);
        add(&list, i % 2 ? REAL_IMAGES : IMAGES, i % 2 ? REAL : COMPLEX, rank, a, b, c);
    }
    return list;
}

/* The same for BENCH_BATCH=1. */
static items single_sizes(void) {
    items list = { NULL, 0, 0 };
    uint64_t state = 20261129;
    for (int real = 0; real < 2; real++) {
        kind what = real ? REAL : COMPLEX;
        for (uint32_t n = 256; n <= 1 << 20; n *= 2) add(&list, (size_class)(ROWS + real), what, 1, n, 0, 0);
        for (uint32_t n = 64; n <= 1024; n *= 2) add(&list, (size_class)(IMAGES + real), what, 2, n, n, 0);
        for (uint32_t n = 32; n <= 128; n *= 2) add(&list, (size_class)(IMAGES + real), what, 3, n, n, n);
        for (int i = 0; i < 20; i++)
            add(&list, (size_class)(ROWS + real), what, 1, random_length(&state, 256, 1 << 20, true), 0, 0);
        for (int i = 0; i < 10; i++) {
            uint32_t a = random_length(&state, 64, 1024, true), b = random_length(&state, 64, 1024, true);
            add(&list, (size_class)(IMAGES + real), what, 2, a, b, 0);
        }
        for (int i = 0; i < 5; i++) {
            uint32_t a = random_length(&state, 32, 128, true), b = random_length(&state, 32, 128, true);
            add(&list, (size_class)(IMAGES + real), what, 3, a, b, random_length(&state, 32, 128, true));
        }
    }
    return list;
}

/* Adds the size that name_of prints as `name`. */
static void add_named(items *list, const char *name) {
    bool real = !strncmp(name, "r2c-", 4);
    uint32_t n[3] = { 0 }, rank = parse_lengths(name + (real ? 4 : 0), n);
    if (!rank || n[0] < 2) die(name, "is not a size such as 360, r2c-360 or 48x100, and not the first argument I/N");
    int of_complex = rank > 1 ? IMAGES : !is_smooth(n[0], 31) ? PRIMES : n[0] > 8192 ? LONG_ROWS : ROWS;
    add(list, (size_class)(of_complex + real), real ? REAL : COMPLEX, rank, n[0], n[1], n[2]);
}

/* ---- verification by sums ---- */

/* Elements of the result of one transform, and of one row of it. */
static uint64_t row_of(const size *s) { return s->what == REAL ? s->n[s->rank - 1] / 2 + 1 : s->n[s->rank - 1]; }
static uint64_t results_of(const size *s) { return points(s) / s->n[s->rank - 1] * row_of(s); }

/* Work-group g sums chunk g % chunks of transform last - g / chunks * step: the real parts of its elements times the
   weights outer[index / row] and inner[index % row]. */
static vd_kernel sum_kernel(vd_context *ctx) {
    vc_kernel_desc desc = { 0 };
    desc.name = "sum";
    desc.local_size[0] = 256;
    desc.machine = vd_machine(ctx);
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", VC_F32X2, VC_READ | VC_ANY_TYPE), outer = vc_buffer(k, "outer", VC_F32X2, VC_READ),
           inner = vc_buffer(k, "inner", VC_F32X2, VC_READ), out = vc_buffer(k, "out", VC_F32, VC_WRITE);
    vc_val elements = vc_param(k, "elements", VC_U32), row = vc_param(k, "row", VC_U32),
           chunks = vc_param(k, "chunks", VC_U32), last = vc_param(k, "last", VC_U32),
           step = vc_param(k, "step", VC_U32);
    vc_val group = vc_group_id(k, 0), total;
    vc_val transform = vc_sub(last, vc_mul(vc_div(group, chunks), step));
    vc_val first = vc_add(vc_mul(vc_rem(group, chunks), vc_u32(CHUNK)), vc_local_index(k));
    vc_ref sum = vc_var(k, "sum", VC_F32);
    vc_set(sum, vc_f32(0));
    VC_FOR(k, i, vc_u32(0), vc_u32(CHUNK / 256)) {
        vc_val index = vc_add(first, vc_mul(i, vc_u32(256)));
        VC_IF(k, vc_lt(index, elements)) {
            vc_val v = vc_load(x, vc_add(vc_mul(transform, elements), index));
            vc_val a = vc_load(outer, vc_div(index, row)), b = vc_load(inner, vc_rem(index, row));
            vc_val re = vc_sub(vc_mul(vc_component(a, 0), vc_component(b, 0)),
                               vc_mul(vc_component(a, 1), vc_component(b, 1)));
            vc_val im = vc_add(vc_mul(vc_component(a, 0), vc_component(b, 1)),
                               vc_mul(vc_component(a, 1), vc_component(b, 0)));
            vc_set(sum, vc_add(vc_get(sum), vc_sub(vc_mul(vc_component(v, 0), re), vc_mul(vc_component(v, 1), im))));
        }
    }
    vc_group_reduce(k, VC_ADD, vc_get(sum), &total);
    VC_IF(k, vc_eq(vc_local_index(k), vc_u32(0))) { vc_store(out, group, total); }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    if (!kernel.id) die("the kernel that sums", vd_error_text());
    return kernel;
}

/* Creates a buffer of `count` weights, number i being factor(i) exp(2 pi i phase(i)). */
static vd_buffer weights(sweep *w, const size *s, const uint32_t *a, bool inner) {
    uint32_t last = s->rank - 1;
    uint64_t count = inner ? row_of(s) : points(s) / s->n[last];
    float *data = (float *)xmalloc(count * 8);
    vd_buffer_desc desc = { 0 };
    for (uint64_t i = 0; i < count; i++) {
        double turns = inner ? (double)(i * a[last] % s->n[last]) / s->n[last] : 0, factor = 1;
        uint64_t rest = i;
        for (uint32_t d = last; !inner && d-- > 0; rest /= s->n[d])
            turns += (double)(rest % s->n[d] * a[d] % s->n[d]) / s->n[d];
        /* other bins of reals occur a second time, conjugated */
        if (inner && s->what == REAL) factor = i == 0 || 2 * i == s->n[last] ? 1 : 2;
        else if (inner) turns += 0.125; /* so that imaginary parts count too */
        data[2 * i] = (float)(factor * cos(2 * 3.14159265358979323846 * turns));
        data[2 * i + 1] = (float)(factor * sin(2 * 3.14159265358979323846 * turns));
    }
    desc.type = VD_F32X2;
    desc.shape[0] = count;
    desc.data = data;
    vd_buffer b = vd_buffer_create(w->ctx, &desc);
    if (!b.id) die("vd_buffer_create", vd_error_text());
    free(data);
    return b;
}

/* The expected sum of a transform, divided by N. */
static double expected_sum(const sweep *w, const size *s, const uint32_t *a, uint64_t transform) {
    uint64_t at = 0;
    for (uint32_t d = 0; d < s->rank; d++) at = at * s->n[d] + a[d];
    at += transform * points(s);
    if (s->what == REAL) return (double)w->x.data[at % (2 * w->x.period)];
    return ((double)w->x.data[at % w->x.period * 2] - (double)w->x.data[at % w->x.period * 2 + 1]) * sqrt(0.5);
}

/* Returns the largest error of the sums, divided by N. */
static double check_sums(sweep *w, const size *s) {
    uint64_t batch = batch_of(s, w->bytes), chunks = (results_of(s) + CHUNK - 1) / CHUNK;
    uint64_t samples = batch < SAMPLES ? batch : SAMPLES;
    uint32_t a[3];
    double worst = 0;
    if (samples > PARTIALS / chunks) samples = PARTIALS / chunks;
    if (!samples) return 1e300;
    uint64_t step = batch / samples;
    for (uint32_t d = 0; d < 3; d++) a[d] = (s->n[d] + 1) / 3;
    vd_buffer outer = weights(w, s, a, false), inner = weights(w, s, a, true);
    float *partial = (float *)xmalloc(samples * chunks * 4);
    vd_arg args[9];
    vd_dispatch_desc desc = { 0 };
    args[0] = vd_b(w->out);
    args[1] = vd_b(outer);
    args[2] = vd_b(inner);
    args[3] = vd_b(w->partials);
    args[4] = vd_u32((uint32_t)results_of(s));
    args[5] = vd_u32((uint32_t)row_of(s));
    args[6] = vd_u32((uint32_t)chunks);
    args[7] = vd_u32((uint32_t)(batch - 1));
    args[8] = vd_u32((uint32_t)step);
    desc.kernel = w->sum;
    desc.groups[0] = samples * chunks;
    desc.args = args;
    desc.arg_count = 9;
    if (vd_dispatch(vd_immediate(w->ctx, 0, 0), &desc)
        || vd_buffer_read(w->ctx, w->partials, 0, partial, samples * chunks * 4))
        die("sums", vd_error_text());
    for (uint64_t i = 0; i < samples; i++) {
        double sum = 0;
        for (uint64_t j = 0; j < chunks; j++) sum += (double)partial[i * chunks + j];
        double error = fabs(sum / (double)points(s) - expected_sum(w, s, a, batch - 1 - i * step));
        worst = error <= worst ? worst : error == error ? error : 1e300;
    }
    vd_buffer_destroy(w->ctx, outer);
    vd_buffer_destroy(w->ctx, inner);
    free(partial);
    return worst;
}

/* Returns the relative error of the last transform, or a negative number if it cannot be compared. */
static double check_fftw(sweep *w, const size *s) {
#if HAS_FFTW
    uint64_t last = batch_of(s, w->bytes) - 1;
    sample_range p = range_of(s, w->bytes, last, false);
    if (s->what == REAL && s->rank > 1) return -1;
    fftw_complex *right = expected_sample(&w->x, s, w->bytes, last, false);
    float *found = (float *)xmalloc(p.count * 8);
    if (vd_buffer_read(w->ctx, w->out, p.first * 8, found, p.count * 8)) die("vd_buffer_read", vd_error_text());
    double error = error_of(right, found, p);
    fftw_free(right);
    free(found);
    return error;
#else
    (void)w, (void)s;
    return -1;
#endif
}

/* ---- one size ---- */

/* What is timed: our plan or, if it is NULL, the copy. */
static double time_list(sweep *w, const size *s, vd_fft *plan, int count) {
    vd_list *list = begin(w->ctx);
    vd_fft_io io = { 0 };
    uint64_t bytes = batch_of(s, w->bytes) * (s->what == REAL ? points(s) * 2 + results_of(s) * 4 : points(s) * 8);
    io.in = w->in;
    io.out = w->out;
    for (int i = 0; i < count; i++)
        if (plan ? vd_fft_run(plan, list, &io) : record_copy(list, w->copy, w->in, w->out, bytes / 16 * 16))
            die(plan ? "vd_fft_run" : "the copy", vd_error_text());
    if (vd_list_end(list)) die("vd_list_end", vd_error_text());
    double start = now();
    submit(w->ctx, list);
    return now() - start;
}

static double time_cufft(cufft *c, int count) {
    double start = now();
    for (int i = 0; i < count; i++)
        if (cufft_run(c, i)) die("cuFFT", "a call failed");
    if (c->synchronize()) die("cuCtxSynchronize", "failed");
    return now() - start;
}

static double time_graph(cufft *c, void *executable) {
    double start = now();
    if (c->graph_launch(executable, NULL) || c->synchronize()) die("cuGraphLaunch", "failed");
    return now() - start;
}

/* What is timed: our plan, cuFFT, the copy, our plan with measured kernels, cuFFT in a CUDA graph. */
enum { OURS, CUFFT, COPY, MEASURED, GRAPH, TIMED };

/* Median times of one run in seconds; 0: not available. */
typedef struct times { double of[TIMED]; } times;

/* `measured` may be NULL. */
static times time_all(sweep *w, const size *s, vd_fft *plan, vd_fft *measured, bool has_cufft) {
    double at[TIMED][BENCH_ROUNDS_MAX];
    times t = { { 0 } };
    time_list(w, s, plan, 1);
    double once = time_list(w, s, plan, 20) / 20;
    int count = once > 0.004 ? 1 : (int)(0.004 / once) + 1;
    if (count > 2000) count = 2000;
    if (has_cufft) time_cufft(&w->cu, 1);
    void *graph = has_cufft && max_batch == 1 ? cufft_graph(&w->cu, count) : NULL;
    if (graph) time_graph(&w->cu, graph);
    if (measured) time_list(w, s, measured, 1);
    for (int i = 0; i < w->rounds; i++) {
        at[OURS][i] = time_list(w, s, plan, count);
        at[CUFFT][i] = has_cufft ? time_cufft(&w->cu, count) : 0;
        at[COPY][i] = time_list(w, s, NULL, count);
        at[MEASURED][i] = measured ? time_list(w, s, measured, count) : 0;
        at[GRAPH][i] = graph ? time_graph(&w->cu, graph) : 0;
    }
    if (graph) w->cu.executable_destroy(graph);
    for (int i = 0; i < TIMED; i++) t.of[i] = bench_median(at[i], w->rounds) / count;
    return t;
}

static void add_to_summary(summary *g, const char *name, times t) {
    double speed = t.of[CUFFT] / t.of[OURS];
    g->log_copied += log(t.of[OURS] / t.of[COPY]);
    g->count++;
    if (t.of[CUFFT] <= 0) return;
    g->log_speed += log(speed);
    g->above += speed >= 0.97;
    if (!g->compared++ || speed < g->worst) {
        g->worst = speed;
        snprintf(g->worst_name, sizeof g->worst_name, "%s", name);
    }
}

static void bench_size(sweep *w, const item *i) {
    const size *s = &i->s;
    char name[64];
    name_of(s, name, sizeof name);
    if (!batch_of(s, w->bytes)) {
        bench_not_run("sweep", name, "larger than the data");
        return;
    }
    vd_fft_desc desc = desc_of(s, w->bytes);
    vd_fft *plan = vd_fft_create(w->ctx, &desc);
    if (!plan) {
        bench_not_run("sweep", name, vd_error_text());
        w->failed++;
        return;
    }
    time_list(w, s, plan, 1);
    double sums = check_sums(w, s), fftw = check_fftw(w, s), most = 0.5 * 1.1921e-7 * log2((double)points(s)) + 1e-7;
    bool right = sums <= 1e-5 && fftw <= most;
    const char *why = w->no_cufft ? w->no_cufft : cufft_begin(&w->cu, s);
    if (w->measure) desc.rigor = VD_FFT_MEASURE;
    vd_fft *measured = w->measure ? vd_fft_create(w->ctx, &desc) : NULL;
    times t = time_all(w, s, plan, measured, !why);
    if (!w->no_cufft) cufft_end(&w->cu);
    printf("sweep %s %s ours=%.4g", class_names[i->in], name, 1e3 * t.of[OURS]);
    if (!why) printf(" cufft=%.4g speed=%.3f", 1e3 * t.of[CUFFT], t.of[CUFFT] / t.of[OURS]);
    else if (!w->no_cufft) printf(" cufft=failed");
    if (t.of[GRAPH] > 0) printf(" graph=%.4g graph-speed=%.3f", 1e3 * t.of[GRAPH], t.of[GRAPH] / t.of[OURS]);
    if (measured) printf(" measured=%.4g", 1e3 * t.of[MEASURED]);
    printf(" copy=%.4g unit=ms copied=%.3f sums=%.2g", 1e3 * t.of[COPY], t.of[OURS] / t.of[COPY], sums);
    if (fftw >= 0) printf(" fftw=%.2g", fftw);
    printf(" %s\n", right ? "ok" : "WRONG");
    fflush(stdout);
    if (!right) printf("%s", vd_fft_explain(plan));
    w->failed += !right;
    add_to_summary(&w->summaries[i->in], name, t);
    vd_fft_destroy(plan);
    if (measured) vd_fft_destroy(measured);
}

/* ---- all sizes ---- */

static vd_buffer buffer_of(vd_context *ctx, vd_type type, uint64_t count) {
    vd_buffer_desc desc = { 0 };
    desc.type = type;
    desc.shape[0] = count;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    if (!b.id) die("vd_buffer_create", vd_error_text());
    return b;
}

static void open_sweep(sweep *w) {
    const char *bytes = getenv("BENCH_BYTES"), *rounds = getenv("BENCH_ROUNDS");
    memset(w, 0, sizeof *w);
    if (vd_context_create(NULL, &w->ctx)) die("vd_context_create", vd_error_text());
    on_processor = vd_device(w->ctx, 0)->type == VD_DEVICE_CPU;
    w->rounds = rounds ? atoi(rounds) : on_processor ? 1 : 5;
    w->measure = getenv("BENCH_MEASURE") != NULL;
    read_max_batch();
    if (w->rounds < 1 || w->rounds > BENCH_ROUNDS_MAX) die("BENCH_ROUNDS", rounds);
    w->bytes = (bytes ? strtoull(bytes, NULL, 0) : on_processor ? 1u << 20 : 1u << 29) / 16 * 16;
    if (w->bytes < 4096) die("BENCH_BYTES", "at least 4096");
    w->x = make_numbers(w->bytes / 8);
    w->no_cufft = on_processor ? "the device is a processor" : cufft_open(&w->cu, &w->x, w->bytes);
    w->in = buffer_of(w->ctx, VD_F32X2, w->bytes / 8);
    w->out = buffer_of(w->ctx, VD_F32X2, w->bytes / 8);
    w->partials = buffer_of(w->ctx, VD_F32, PARTIALS);
    w->copy = copy_kernel(w->ctx);
    w->sum = sum_kernel(w->ctx);
    fill(w->ctx, w->in, &w->x, w->bytes);
}

static void print_summary(const sweep *w, int left) {
    summary all;
    memset(&all, 0, sizeof all);
    for (int i = 0; i <= CLASSES; i++) {
        const summary *g = i < CLASSES ? &w->summaries[i] : &all;
        if (i < CLASSES && g->compared && (!all.compared || g->worst < all.worst)) {
            all.worst = g->worst;
            snprintf(all.worst_name, sizeof all.worst_name, "%s", g->worst_name);
        }
        if (i < CLASSES) {
            all.count += g->count;
            all.compared += g->compared;
            all.above += g->above;
            all.log_speed += g->log_speed;
            all.log_copied += g->log_copied;
        }
        if (!g->count) continue;
        printf("sweep-summary %s sizes=%d copied=%.3f", i < CLASSES ? class_names[i] : "all", g->count,
               exp(g->log_copied / g->count));
        if (g->compared)
            printf(" compared=%d speed=%.3f share-0.97=%.3f worst=%.3f (%s)", g->compared,
                   exp(g->log_speed / g->compared), (double)g->above / g->compared, g->worst, g->worst_name);
        printf("\n");
    }
    printf("sweep-summary failures=%d left=%d%s%s\n", w->failed, left, w->no_cufft ? ", no cuFFT: " : "",
           w->no_cufft ? w->no_cufft : "");
}

int main(int argc, char **argv) {
    sweep w;
    items list = { NULL, 0, 0 };
    unsigned part = 1, of = 1;
    bool parted = argc > 1 && strchr(argv[1], '/') && sscanf(argv[1], "%u/%u", &part, &of) == 2;
    int names = argc - 1 - parted, left = 0;
    const char *seconds = getenv("BENCH_SECONDS");
    double start = bench_now(), limit = seconds ? atof(seconds) : 540;
    open_sweep(&w);
    if (!names) list = max_batch == 1 ? single_sizes() : all_sizes();
    for (int i = argc - names; i < argc; i++) add_named(&list, argv[i]);
    if (!parted && !names && on_processor) of = 200;
    if (!of || part < 1 || part > of) die("PART", "must be I/N with I from 1 to N");
    printf("sweep on %s, %llu bytes, part %u of %u of %zu sizes\n", vd_device(w.ctx, 0)->name,
           (unsigned long long)w.bytes, part, of, list.count);
    for (size_t i = 0; i < list.count; i++) {
        if ((i + i / of) % of != part - 1) continue;
        if (bench_now() - start > limit) left++;
        else bench_size(&w, &list.at[i]);
    }
    print_summary(&w, left);
    free(list.at);
    free(w.x.data);
    vd_context_destroy(w.ctx);
    return w.failed != 0;
}
