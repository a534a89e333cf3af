/* Large sums, scans and sorts, compared with CUB and a copy of the same size.

       make bench-reduce

   Sums of f32, inclusive scans of u32, sorts of u32 keys; sums, variances and argmins of many short rows; sums along
   a short axis that is not the last one; scans of short rows. The copy compared with short rows moves as many bytes
   as the operation reads and writes. Our plan, CUB and the copy are timed alternately; a round is one batch of about
   50 ms, recorded in advance and timed from submission to completion. CUB is device code: if nvcc is installed,
   `make` compiles tools/bench/cub.cu to a library that is loaded at run time (BENCH_CUB: its path); without it, or
   without CUDA, its figures are skipped. BENCH_BYTES limits the sizes. Results are compared with loops on the host. */
#define _POSIX_C_SOURCE 200809L
#define VKDISPATCH_CUDA
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#define VKDISPATCH_FFT_IMPLEMENTATION
#include "vkdispatch_fft.h"

#include "tools/bench/bench.h"

#include <dlfcn.h>
#include <math.h>

enum { ROUNDS = 7, PERIOD = 1000003 /* elements; the input repeats them */ };

static void die(const char *what, const char *why) {
    fprintf(stderr, "bench-reduce: %s: %s\n", what, why ? why : "");
    exit(1);
}

typedef enum kind { SUM = 0, SCAN, SORT, ROW_SUMS, ROW_SCANS, /* the numbers of tools/bench/cub.cu */
                    ROW_VARIANCES, ROW_ARGMINS, ROW_BYTES, COLUMN_SUMS } kind;

typedef struct size {
    kind what;
    uint64_t bytes;
    double bound;            /* bound of the time ratio ours / CUB, for rows ours / copy; 0: none */
    uint64_t length;         /* length of rows and columns; 0: a single one */
} size;

static const char *const names[] = { "sum", "scan", "sort", "row-sums", "row-scans", "row-variances", "row-argmins",
                                     "row-sums-u8", "column-sums" };
enum { COLUMNS = 32 };       /* neighbouring columns of COLUMN_SUMS */

static const size sizes[] = {
    { SUM, 4u << 20, 0.83, 0 }, { SUM, 16u << 20, 0.83, 0 }, { SUM, 64u << 20, 0.83, 0 }, { SUM, 1u << 30, 1.0, 0 },
    { SCAN, 4u << 20, 0, 0 }, { SCAN, 64u << 20, 0, 0 }, { SCAN, 1u << 30, 1.18, 0 },
    { SORT, 1u << 20, 0, 0 }, { SORT, 16u << 20, 0, 0 }, { SORT, 256u << 20, 0, 0 },
#define ROWS_OF(length) { ROW_SUMS, 1u << 30, 1.25, length }, { ROW_SCANS, 1u << 30, 1.25, length }
    ROWS_OF(2), ROWS_OF(3), ROWS_OF(4), ROWS_OF(5), ROWS_OF(7), ROWS_OF(8), ROWS_OF(16), ROWS_OF(32), ROWS_OF(33),
        ROWS_OF(64), ROWS_OF(65), ROWS_OF(100),
    ROWS_OF(127), ROWS_OF(128), ROWS_OF(200), ROWS_OF(255), ROWS_OF(256), ROWS_OF(512), ROWS_OF(1024), ROWS_OF(2048),
#undef ROWS_OF
#define ROWS_OF(length) \
    { ROW_VARIANCES, 1u << 30, 1.25, length }, { ROW_ARGMINS, 1u << 30, 1.25, length }, \
    { ROW_BYTES, 1u << 28, 1.25, length }, \
                        { COLUMN_SUMS, 1u << 30, 1.25, length }
    ROWS_OF(2), ROWS_OF(3), ROWS_OF(16), ROWS_OF(33), ROWS_OF(64), ROWS_OF(100), ROWS_OF(255),
#undef ROWS_OF
};

typedef struct cub {
    /* returns NULL, or the reason for failure */
    const char *(*prepare)(int what, uint64_t count, uint64_t length, const void *period, uint64_t period_count);
    int (*run)(int times);   /* waits for the end; returns 0 on success */
    void (*end)(void);
} cub;

typedef struct bench {
    vd_context *ctx;
    vd_buffer in, out;   /* in: u32 for scans and sorts, otherwise f32; declared as bytes */
    uint32_t *data;          /* the sequence that the input repeats: u32, or f32 for sums */
    vd_reduce *sum;
    vd_scan *scan;
    vd_sort *sort;
    cub cub;
    const char *no_cub;
} bench;

/* Returns NULL, or the reason why CUB is not available. */
static const char *cub_open(cub *c) {
    const char *path = getenv("BENCH_CUB");
    void *library = dlopen(path ? path : "build/cub.so", RTLD_NOW);
    if (!library) return "build/cub.so is not here, which takes nvcc; BENCH_CUB may name it";
    *(void **)&c->prepare = dlsym(library, "bench_cub_prepare");
    *(void **)&c->run = dlsym(library, "bench_cub_run");
    *(void **)&c->end = dlsym(library, "bench_cub_end");
    return c->prepare && c->run && c->end ? NULL : "a function is missing in the library";
}

static uint32_t number_at(kind what, uint64_t i) {
    uint32_t x = (uint32_t)(i % PERIOD) * 2654435761u;
    float real = (float)(x >> 29);
    x ^= x >> 15;
    if (what != SCAN && what != ROW_SCANS && what != SORT) memcpy(&x, &real, 4);
    return what == SCAN || what == ROW_SCANS ? x >> 28 : x;
}

static void fill(bench *b, kind what, uint64_t bytes) {
    for (uint64_t i = 0; i < PERIOD; i++) b->data[i] = number_at(what, i);
    for (uint64_t at = 0; at < bytes; at += 4 * (uint64_t)PERIOD)
        if (vd_buffer_write(b->ctx, b->in, at, b->data, bytes - at < 4 * (uint64_t)PERIOD ? bytes - at
                            : 4 * (uint64_t)PERIOD))
            die("vd_buffer_write", vd_error_text());
}

/* Creates the plan for a size. Returns NULL, or the reason for failure. */
static const char *plan(bench *b, kind what, uint64_t count, uint64_t length) {
    vd_reduce_desc reduce = { 0 };
    vd_scan_desc scan = { 0 };
    vd_sort_desc sort = { 0 };
    reduce.shape[0] = scan.shape[0] = sort.count = count;
    if (length) {
        reduce.shape[0] = scan.shape[0] = what == COLUMN_SUMS ? count / length / COLUMNS : count / length;
        reduce.shape[1] = scan.shape[1] = length;
        if (what == COLUMN_SUMS) reduce.shape[2] = COLUMNS;
        reduce.axes = 2;
    }
    scan.type = sort.type = VD_U32;
    if (what == ROW_BYTES) reduce.type = VD_U8;
    reduce.op = what == ROW_VARIANCES ? VD_REDUCE_VARIANCE : what == ROW_ARGMINS ? VD_REDUCE_ARGMIN : VD_REDUCE_SUM;
    b->sum = what != SCAN && what != ROW_SCANS && what != SORT ? vd_reduce_create(b->ctx, &reduce) : NULL;
    b->scan = what == SCAN || what == ROW_SCANS ? vd_scan_create(b->ctx, &scan) : NULL;
    b->sort = what == SORT ? vd_sort_create(b->ctx, &sort) : NULL;
    return b->sum || b->scan || b->sort ? NULL : vd_error_text();
}

static vd_result record(bench *b, vd_list *list) {
    vd_scan_io scan = { { 0 }, { 0 }, { 0 }, { 0 } };
    vd_sort_io sort = { { 0 }, { 0 }, { 0 }, { 0 } };
    scan.in = sort.keys = b->in;
    scan.out = sort.out = b->out;
    if (b->sum) return vd_reduce_run(b->sum, list, b->in, b->out);
    return b->scan ? vd_scan_run(b->scan, list, &scan) : vd_sort_run(b->sort, list, &sort);
}

/* Returns the seconds for one batch of `count` of our operation, or of copies of `bytes`. */
static double time_ours(bench *b, int count, uint64_t bytes) {
    vd_list_desc list_desc = { 0 };
    vd_list *list = vd_list_begin(b->ctx, &list_desc);
    vd_event event;
    for (int i = 0; i < count; i++) {
        vd_result result = bytes ? vd_copy(list, b->out, 0, b->in, 0, bytes) : record(b, list);
        if (result) die(bytes ? "vd_copy" : "recording", vd_error_text());
    }
    if (vd_list_end(list)) die("vd_list_end", vd_error_text());
    double start = bench_now();
    if (vd_submit(list, NULL, &event) || vd_wait(b->ctx, event, VD_FOREVER)) die("vd_submit", vd_error_text());
    return bench_now() - start;
}

static double time_cub(bench *b, int count) {
    double start = bench_now();
    if (b->cub.run(count)) die("CUB", "failed");
    return bench_now() - start;
}

/* Checks sums exactly. The unit tests check the other kinds. */
static bool rows_are_right(bench *b, kind what, uint64_t count, uint64_t length) {
    uint64_t piece = 1u << 18;
    float *got = (float *)malloc(4 * piece);
    bool right = true;
    if (!got) die("malloc", "");
    for (uint64_t at = 0; what == ROW_SUMS && at < count / length; at += piece) {
        uint64_t n = count / length - at < piece ? count / length - at : piece;
        if (vd_buffer_read(b->ctx, b->out, 4 * at, got, 4 * n)) die("vd_buffer_read", vd_error_text());
        for (uint64_t i = 0; i < n; i++) {
            float sum = 0;
            for (uint64_t j = 0; j < length; j++) {
                float x;
                memcpy(&x, &b->data[((at + i) * length + j) % PERIOD], 4);
                sum += x;
            }
            right &= got[i] == sum;
        }
    }
    free(got);
    return right;
}

static bool is_right(bench *b, kind what, uint64_t count, uint64_t length) {
    uint64_t piece = 1u << 20, mixed = 0, wanted = 0;
    uint32_t sum = 0, last = 0, *got = (uint32_t *)malloc(4 * piece);
    double total = 0;
    bool right = true;
    if (!got) die("malloc", "");
    if (length && what != ROW_SCANS) { free(got); return rows_are_right(b, what, count, length); }
    if (what == SUM) {
        float found;
        for (uint64_t i = 0; i < count; i++) { float x; memcpy(&x, &b->data[i % PERIOD], 4); total += (double)x; }
        if (vd_buffer_read(b->ctx, b->out, 0, &found, 4)) die("vd_buffer_read", vd_error_text());
        right = fabs((double)found - total) <= 1e-5 * total;
    }
    for (uint64_t at = 0; what != SUM && at < count; at += piece) {
        uint64_t n = count - at < piece ? count - at : piece;
        if (vd_buffer_read(b->ctx, b->out, 4 * at, got, 4 * n)) die("vd_buffer_read", vd_error_text());
        for (uint64_t i = 0; i < n; i++) {
            uint32_t x = b->data[(at + i) % PERIOD];
            if (length && (at + i) % length == 0) sum = 0;
            if (what != SORT) { right &= got[i] == (sum += x); continue; }
            right &= got[i] >= last; /* in ascending order, and the same keys as far as two checksums show */
            last = got[i];
            mixed += (uint64_t)got[i] * got[i] + got[i];
            wanted += (uint64_t)x * x + x;
        }
    }
    free(got);
    return right && mixed == wanted;
}

static bool bench_size(bench *b, const size *s) {
    char text[32];
    bool rows = s->length > 0;
    uint64_t count = s->bytes / (s->what == ROW_BYTES ? 1 : 4), copy_bytes = s->bytes;
    if (rows) count -= count % (s->length * (s->what == COLUMN_SUMS ? COLUMNS : 1));
    if (rows && s->what != ROW_SCANS) copy_bytes = (s->bytes + s->bytes / s->length) / 2 / 4 * 4;
    snprintf(text, sizeof text, rows ? "%lluMiB/%llu" : "%lluMiB", (unsigned long long)(s->bytes >> 20),
             (unsigned long long)s->length);
    fill(b, s->what, s->bytes);
    const char *why = plan(b, s->what, count, s->length), *no_cub = b->no_cub;
    if (!no_cub && s->what > ROW_SCANS) no_cub = "CUB does not have it";
    if (why) { bench_not_run(names[s->what], text, why); return true; }
    double once = time_ours(b, 1, 0);
    bool right = is_right(b, s->what, count, s->length);
    once = time_ours(b, 2, 0) / 2;
    int times = once > 0.05 ? 1 : once < 5e-5 ? 1000 : (int)(0.05 / once) + 1;
    int cub_times = times;
    if (!no_cub) no_cub = b->cub.prepare((int)s->what, count, s->length, b->data, PERIOD);
    bench_pair pair = { names[s->what], text, "cub", { 0 }, { 0 }, ROUNDS, 1e6 / times, "us", s->bound }, copy = pair;
    copy.rival = "copy";
    if (rows) pair.bound = 0;
    else copy.bound = 0;
    if (!no_cub) {
        double one = time_cub(b, 1) + time_cub(b, 1);
        if (one / 2 * times > 0.1) cub_times = one / 2 > 0.1 ? 1 : (int)(0.1 / (one / 2));
    }
    for (int i = -1; i < ROUNDS; i++) {
        double ours = time_ours(b, times, 0), theirs = no_cub ? 1 : time_cub(b, cub_times) * times / cub_times;
        double copied = time_ours(b, times, copy_bytes);
        if (i < 0) continue; /* warm-up */
        pair.ours[i] = copy.ours[i] = ours;
        pair.theirs[i] = theirs;
        copy.theirs[i] = copied;
    }
    if (no_cub) bench_not_run(names[s->what], text, no_cub);
    else { bench_print(&pair); b->cub.end(); }
    bench_print(&copy);
    time_ours(b, 1, 0); /* the buffer holds the copy: run the operation again */
    if (!is_right(b, s->what, count, s->length)) right = false;
    vd_reduce_destroy(b->sum);
    vd_scan_destroy(b->scan);
    vd_sort_destroy(b->sort);
    printf("bench %s-result %s %s\n", names[s->what], text, right ? "ok" : "WRONG");
    return right;
}

int main(int argc, char **argv) {
    bench b;
    bool right = true;
    memset(&b, 0, sizeof b);
    if (vd_context_create(NULL, &b.ctx)) die("vd_context_create", vd_error_text());
    const vd_device_info *device = vd_device(b.ctx, 0);
    const char *bytes = getenv("BENCH_BYTES");
    uint64_t most = bytes ? strtoull(bytes, NULL, 0) : device->type == VD_DEVICE_CPU ? 4u << 20 : 1u << 30;
    vd_buffer_desc desc = { 0 };
    desc.type = VD_BYTES;
    desc.shape[0] = most < 1u << 20 ? 1u << 20 : most;
    b.in = vd_buffer_create(b.ctx, &desc);
    b.out = vd_buffer_create(b.ctx, &desc);
    b.data = (uint32_t *)malloc(4 * (size_t)PERIOD);
    if (!b.in.id || !b.out.id || !b.data) die("vd_buffer_create", vd_error_text());
    b.no_cub = device->type == VD_DEVICE_CPU ? "the device is a processor" : cub_open(&b.cub);
    printf("bench reduce on %s, up to %llu bytes\n", device->name, (unsigned long long)most);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bool wanted = argc < 2;
        for (int j = 1; j < argc; j++) wanted |= !strcmp(names[sizes[i].what], argv[j]);
        size s = sizes[i];
        if (s.length && s.bytes > most) s.bytes = most;
        if (wanted && s.bytes <= most) right &= bench_size(&b, &s);
    }
    free(b.data);
    vd_context_destroy(b.ctx);
    return right ? 0 : 1;
}
