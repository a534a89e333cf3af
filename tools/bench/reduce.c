/* Large sums, scans and sorts, compared with CUB and a copy of the same size.

       make bench-reduce, or reduce NAME...     only the operations named; `rows`: 256 MiB in short rows of four types

   Sums of f32, inclusive scans of u32, sorts of u32 keys; sums, variances and argmins of many short rows; sums along
   a short axis that is not the last one; scans of short rows. The copy compared with short rows moves as many bytes
   as the operation reads and writes. Our plan, CUB and the copy are timed alternately; a round is one batch of about
   50 ms, recorded in advance and timed from submission to completion. CUB is device code: if nvcc is installed,
   `make` compiles tools/bench/cub.cu to a library that is loaded at run time (BENCH_CUB: its path); without it, or
   without CUDA, its figures are skipped. BENCH_BYTES limits the sizes. Results are compared with loops on the host;
   those of column-sums are not. */
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
                    ROW_VARIANCES, ROW_ARGMINS, COLUMN_SUMS, KINDS } kind;

typedef struct size {
    kind what;
    uint64_t bytes;
    double bound;            /* bound of the time ratio ours / CUB, for rows ours / copy; 0: none */
    uint64_t length;         /* length of rows and columns; 0: a single one */
    vd_type type;            /* of reductions; 0: f32 */
} size;

static const char *const names[KINDS] = { "sum", "scan", "sort", "row-sums", "row-scans", "row-variances",
                                          "row-argmins", "column-sums" };
enum { COLUMNS = 32 };       /* neighbouring columns of COLUMN_SUMS */

static const size sizes[] = {
#define SINGLE(what, bytes, bound) { what, bytes, bound, 0, (vd_type)0 }
    SINGLE(SUM, 4u << 20, 0.83), SINGLE(SUM, 16u << 20, 0.83), SINGLE(SUM, 64u << 20, 0.83), SINGLE(SUM, 1u << 30, 1.0),
    SINGLE(SCAN, 4u << 20, 0), SINGLE(SCAN, 64u << 20, 0), SINGLE(SCAN, 1u << 30, 1.18),
    SINGLE(SORT, 1u << 20, 0), SINGLE(SORT, 16u << 20, 0), SINGLE(SORT, 256u << 20, 0),
#undef SINGLE
#define ROWS(what, length) { what, 1u << 30, 1.25, length, (vd_type)0 }
#define ROWS_OF(length) ROWS(ROW_SUMS, length), ROWS(ROW_SCANS, length)
    ROWS_OF(2), ROWS_OF(3), ROWS_OF(4), ROWS_OF(5), ROWS_OF(7), ROWS_OF(8), ROWS_OF(16), ROWS_OF(32), ROWS_OF(33),
    ROWS_OF(64), ROWS_OF(65), ROWS_OF(100), ROWS_OF(127), ROWS_OF(128), ROWS_OF(200), ROWS_OF(255), ROWS_OF(256),
    ROWS_OF(512), ROWS_OF(1024), ROWS_OF(2048),
#undef ROWS_OF
#define ROWS_OF(length) ROWS(ROW_VARIANCES, length), ROWS(ROW_ARGMINS, length), ROWS(COLUMN_SUMS, length)
    ROWS_OF(2), ROWS_OF(3), ROWS_OF(16), ROWS_OF(33), ROWS_OF(64), ROWS_OF(100), ROWS_OF(255)
#undef ROWS_OF
#undef ROWS
};

static const size short_rows[] = { /* named `rows` */
#define ROWS(what, length, type) { what, 1u << 28, 1.25, length, type }
#define ROWS_OF(type) \
    ROWS(ROW_SUMS, 3, type), ROWS(ROW_SUMS, 7, type), ROWS(ROW_SUMS, 17, type), ROWS(ROW_SUMS, 31, type), \
    ROWS(ROW_SUMS, 64, type), ROWS(ROW_SUMS, 100, type), ROWS(ROW_SUMS, 255, type)
    ROWS_OF(VD_U8), ROWS_OF(VD_F16), ROWS_OF(VD_F32), ROWS_OF(VD_F64),
#undef ROWS_OF
#define ROWS_OF(what, type) ROWS(what, 17, type), ROWS(what, 100, type), ROWS(what, 255, type)
    ROWS_OF(ROW_VARIANCES, VD_F32), ROWS_OF(ROW_ARGMINS, VD_U8), ROWS_OF(ROW_ARGMINS, VD_F16),
    ROWS_OF(ROW_ARGMINS, VD_F32)
#undef ROWS_OF
#undef ROWS
};

typedef struct cub {
    /* returns NULL, or the reason for failure */
    const char *(*prepare)(int what, uint64_t count, uint64_t length, const void *period, uint64_t period_count);
    int (*run)(int times);   /* waits for the end; returns 0 on success */
    void (*end)(void);
} cub;

typedef struct bench {
    vd_context *ctx;
    vd_buffer in, out;       /* of bytes */
    void *data;              /* the sequence that the input repeats: u32 for scans and sorts, otherwise small numbers */
    double *numbers;         /* the same */
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

static bool is_reduction(kind what) { return what != SCAN && what != ROW_SCANS && what != SORT; }

static vd_type type_of(const size *s) { return !is_reduction(s->what) ? VD_U32 : s->type ? s->type : VD_F32; }

/* Writes a whole number from 0 to 7 as an element of a type. */
static void put(vd_type type, void *to, uint32_t number) {
    static const uint16_t halves[8] = { 0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700 };
    double f64 = number;
    float f32 = (float)number;
    uint8_t u8 = (uint8_t)number;
    if (type == VD_U8) memcpy(to, &u8, 1);
    else if (type == VD_F16) memcpy(to, &halves[number], 2);
    else if (type == VD_F32) memcpy(to, &f32, 4);
    else memcpy(to, &f64, 8);
}

/* Returns a result: an integer or a normal number or zero. */
static double get(vd_type type, const void *from) {
    double f64 = 0;
    float f32;
    uint32_t bits = 0;
    memcpy(&bits, from, vd_type_size(type) < 4 ? vd_type_size(type) : 4);
    if (type == VD_F64) memcpy(&f64, from, 8);
    if (type == VD_F16 && bits) f64 = ldexp(1024 + (bits & 1023), (int)(bits >> 10) - 25);
    if (type == VD_U8 || type == VD_U32) f64 = bits;
    if (type != VD_F32) return f64;
    memcpy(&f32, from, 4);
    return (double)f32;
}

static void fill(bench *b, const size *s) {
    uint64_t element = vd_type_size(type_of(s)), period = element * PERIOD;
    for (uint32_t i = 0; i < PERIOD; i++) {
        uint32_t x = i * 2654435761u, mixed = x ^ x >> 15;
        uint32_t key = s->what == SORT ? mixed : mixed >> 28;
        b->numbers[i] = x >> 29;
        if (is_reduction(s->what)) put(type_of(s), (char *)b->data + i * element, x >> 29);
        else memcpy((char *)b->data + i * element, &key, 4);
    }
    for (uint64_t at = 0; at < s->bytes; at += period)
        if (vd_buffer_write(b->ctx, b->in, at, b->data, s->bytes - at < period ? s->bytes - at : period))
            die("vd_buffer_write", vd_error_text());
}

/* Creates the plan for a size. Returns NULL, or the reason for failure. */
static const char *plan(bench *b, const size *s, uint64_t count) {
    vd_reduce_desc reduce = { 0 };
    vd_scan_desc scan = { 0 };
    vd_sort_desc sort = { 0 };
    reduce.shape[0] = scan.shape[0] = sort.count = count;
    if (s->length) {
        reduce.shape[0] = scan.shape[0] = s->what == COLUMN_SUMS ? count / s->length / COLUMNS : count / s->length;
        reduce.shape[1] = scan.shape[1] = s->length;
        if (s->what == COLUMN_SUMS) reduce.shape[2] = COLUMNS;
        reduce.axes = 2;
    }
    reduce.type = scan.type = sort.type = type_of(s);
    reduce.op = s->what == ROW_VARIANCES ? VD_REDUCE_VARIANCE : s->what == ROW_ARGMINS ? VD_REDUCE_ARGMIN
                                                                                    : VD_REDUCE_SUM;
    b->sum = is_reduction(s->what) ? vd_reduce_create(b->ctx, &reduce) : NULL;
    b->scan = s->what == SCAN || s->what == ROW_SCANS ? vd_scan_create(b->ctx, &scan) : NULL;
    b->sort = s->what == SORT ? vd_sort_create(b->ctx, &sort) : NULL;
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

/* Whether `got` is the result of the row that begins at number `first`: sums and indices exactly, sums of u8 modulo
   256, variances with an error of 1e-5. */
static bool row_is_right(const bench *b, const size *s, uint64_t first, double got) {
    double sum = 0, squares = 0, least = b->numbers[first];
    uint64_t index = 0, at = first;
    for (uint64_t j = 0; j < s->length; j++) {
        double x = b->numbers[at];
        sum += x;
        if (s->what == ROW_VARIANCES) squares += x * x;
        if (x < least) { least = x; index = j; }
        if (++at == PERIOD) at = 0;
    }
    double n = (double)s->length, variance = squares / n - sum / n * (sum / n);
    if (s->what == ROW_VARIANCES) return fabs(got - variance) <= 1e-5 * variance + 1e-12;
    if (s->what == ROW_ARGMINS) return got == (double)index;
    return got == (type_of(s) == VD_U8 ? fmod(sum, 256) : sum);
}

static bool rows_are_right(bench *b, const size *s, uint64_t rows) {
    uint64_t piece = 1u << 18, first = 0;
    vd_type type = s->what == ROW_ARGMINS ? VD_U32 : type_of(s);
    uint32_t element = vd_type_size(type);
    char *got = (char *)malloc(8 * piece);
    bool right = true;
    if (!got) die("malloc", "");
    for (uint64_t at = 0; at < rows; at += piece) {
        uint64_t n = rows - at < piece ? rows - at : piece;
        if (vd_buffer_read(b->ctx, b->out, element * at, got, element * n)) die("vd_buffer_read", vd_error_text());
        for (uint64_t i = 0; i < n; i++, first = (first + s->length) % PERIOD)
            right &= row_is_right(b, s, first, get(type, got + i * element));
    }
    free(got);
    return right;
}

static bool is_right(bench *b, const size *s, uint64_t count) {
    uint64_t piece = 1u << 20, mixed = 0, wanted = 0;
    uint32_t sum = 0, last = 0, *got = (uint32_t *)malloc(4 * piece);
    double total = 0;
    bool right = true;
    if (!got) die("malloc", "");
    if (is_reduction(s->what) && s->length) {
        free(got);
        return s->what == COLUMN_SUMS || rows_are_right(b, s, count / s->length);
    }
    if (s->what == SUM) {
        float found;
        for (uint64_t i = 0; i < count; i++) total += b->numbers[i % PERIOD];
        if (vd_buffer_read(b->ctx, b->out, 0, &found, 4)) die("vd_buffer_read", vd_error_text());
        right = fabs((double)found - total) <= 1e-5 * total;
    }
    for (uint64_t at = 0; s->what != SUM && at < count; at += piece) {
        uint64_t n = count - at < piece ? count - at : piece;
        if (vd_buffer_read(b->ctx, b->out, 4 * at, got, 4 * n)) die("vd_buffer_read", vd_error_text());
        for (uint64_t i = 0; i < n; i++) {
            uint32_t x = ((const uint32_t *)b->data)[(at + i) % PERIOD];
            if (s->length && (at + i) % s->length == 0) sum = 0;
            if (s->what != SORT) { right &= got[i] == (sum += x); continue; }
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
    char text[32], name[32];
    bool rows = s->length > 0;
    uint64_t element = vd_type_size(type_of(s)), count = s->bytes / element, copy_bytes = s->bytes;
    uint64_t result_bytes = s->what == ROW_ARGMINS ? 4 : element;
    if (rows) count -= count % (s->length * (s->what == COLUMN_SUMS ? COLUMNS : 1));
    if (rows && s->what != ROW_SCANS) copy_bytes = (s->bytes + count / s->length * result_bytes) / 2 / 4 * 4;
    snprintf(name, sizeof name, s->type ? "%s-%s" : "%s", names[s->what], vd_type_name(s->type));
    snprintf(text, sizeof text, rows ? "%lluMiB/%llu" : "%lluMiB", (unsigned long long)(s->bytes >> 20),
             (unsigned long long)s->length);
    fill(b, s);
    const char *why = plan(b, s, count), *no_cub = b->no_cub;
    if (!no_cub && (s->what > ROW_SCANS || s->type)) no_cub = "not compared with CUB";
    if (why) { bench_not_run(name, text, why); return true; }
    double once = time_ours(b, 1, 0);
    bool right = is_right(b, s, count);
    once = time_ours(b, 2, 0) / 2;
    int times = once > 0.05 ? 1 : once < 5e-5 ? 1000 : (int)(0.05 / once) + 1;
    int cub_times = times;
    if (!no_cub) no_cub = b->cub.prepare((int)s->what, count, s->length, b->data, PERIOD);
    bench_pair pair = { name, text, "cub", { 0 }, { 0 }, ROUNDS, 1e6 / times, "us", s->bound }, copy = pair;
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
    if (no_cub) bench_not_run(name, text, no_cub);
    else { bench_print(&pair); b->cub.end(); }
    bench_print(&copy);
    time_ours(b, 1, 0); /* the buffer holds the copy: run the operation again */
    if (!is_right(b, s, count)) right = false;
    vd_reduce_destroy(b->sum);
    vd_scan_destroy(b->scan);
    vd_sort_destroy(b->sort);
    printf("bench %s-result %s %s\n", name, text, right ? "ok" : "WRONG");
    return right;
}

/* Whether the command line has this name, or none. */
static bool is_wanted(int argc, char **argv, const char *name) {
    bool wanted = argc < 2;
    for (int i = 1; i < argc; i++) wanted |= !strcmp(name, argv[i]);
    return wanted;
}

/* Times a size of at most `most` bytes: rows are shortened to that, others are skipped. */
static bool bench_limited(bench *b, size s, uint64_t most) {
    if (s.length && s.bytes > most) s.bytes = most;
    return s.bytes > most || bench_size(b, &s);
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
    b.data = malloc(8 * (size_t)PERIOD);
    b.numbers = (double *)malloc(PERIOD * sizeof *b.numbers);
    if (!b.in.id || !b.out.id || !b.data || !b.numbers) die("vd_buffer_create", vd_error_text());
    b.no_cub = device->type == VD_DEVICE_CPU ? "the device is a processor" : cub_open(&b.cub);
    printf("bench reduce on %s, up to %llu bytes\n", device->name, (unsigned long long)most);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (is_wanted(argc, argv, names[sizes[i].what])) right &= bench_limited(&b, sizes[i], most);
    for (size_t i = 0; i < sizeof short_rows / sizeof *short_rows; i++)
        if (is_wanted(argc, argv, "rows")) right &= bench_limited(&b, short_rows[i], most);
    free(b.numbers);
    free(b.data);
    vd_context_destroy(b.ctx);
    return right ? 0 : 1;
}
