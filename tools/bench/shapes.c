/* Times kernels of transforms with many shapes: the data to which the estimates of vkdispatch_fft.h are fitted.

       build/gcc/tools/bench/shapes time JOBS [PROCESSES] > timings
       build/gcc/tools/bench/shapes terms timings > terms
       python3 tools/bench/shapes.py terms

   `time`. A line of the file JOBS is "NAME COUNT": for every kernel of the plan NAME, the estimated shape, those that
   VD_FFT_PATIENT times first, and COUNT random shapes are timed. NAME is N, NxN or NxNxN, as in the other benchmarks,
   with a prefix r2c- (reals to half spectra), c2r- (back) or columns- (the first of two dimensions), and optional
   suffixes: @1 is a row in one kernel, @A a row as A columns and rows of N / A elements, in two kernels; #B at the end
   is a batch of at most B transforms. A line of the output is

       NAME KERNEL SHAPE ms MEDIAN LOWEST copy MS registers COUNT

   with a shape as in VKDISPATCH_FFT_FACTORS, the time of a copy of as many bytes, and vd_kernel_info.registers. Each of
   the PROCESSES (default 1) compiles kernels on its own; only one at a time uses the device. BENCH_BYTES is the size of
   the arrays (default 512 MiB, on a processor 1 MiB). BENCH_SECONDS (default 540) limits the time.

   `terms` prints the terms of vd__fft_time_terms for every timing, of plans with few elements those of
   vd__fft_latency_terms. tools/bench/shapes.py fits the weights of VD__FFT_TIME_TERMS and VD__FFT_LATENCY_TERMS to
   them, and prints the residuals. */
#define _GNU_SOURCE
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#define VKDISPATCH_FFT_IMPLEMENTATION
#include "vkdispatch_fft.h"

#include "tools/bench/bench.h"
#include "tools/bench/fft_run.h"
#include "tools/bench/fft_work.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ROUNDS = 3,              /* timed rounds of a shape, alternating with the copy */
    POOL = 512,              /* maximum random shapes from which those to time are selected */
    JOBS = 8192
};

typedef struct job { char name[48]; uint32_t count; } job;

typedef struct bench {
    vd_context *ctx;
    vd__fft_tuner tuner;
    vd_kernel copy;
    vd_buffer in, out;
    uint64_t bytes;
    int lock;                /* a file that is locked while the device is in use; -1: none */
    uint64_t random;         /* state of the random numbers */
} bench;

/* ---- random numbers ---- */

static double random_fraction(bench *b) {
    b->random = b->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(b->random >> 11) / 9007199254740992.0;
}

static uint32_t random_below(bench *b, uint32_t n) { return (uint32_t)(random_fraction(b) * n); }

/* ---- plans ---- */

/* Sets the desc of a plan for a name without suffix; returns false if the name is invalid. */
static bool desc_of_name(const char *name, uint64_t bytes, vd_fft_desc *d) {
    uint32_t n[3] = { 1, 1, 1 };
    bool columns = !strncmp(name, "columns-", 8), real = !strncmp(name, "r2c-", 4), back = !strncmp(name, "c2r-", 4);
    const char *hash = strchr(name, '#');
    char lengths[48];
    snprintf(lengths, sizeof lengths, "%.*s", hash ? (int)(hash - name) : (int)strlen(name), name);
    uint32_t rank = parse_lengths(lengths + (columns ? 8 : real || back ? 4 : 0), n);
    uint64_t one = 8, most = hash ? strtoull(hash + 1, NULL, 10) : UINT64_MAX;
    memset(d, 0, sizeof *d);
    if (!rank || (columns && rank != 2)) return false;
    for (uint32_t i = 0; i < rank; i++) {
        d->shape[i + 1] = n[i];
        if (!columns || !i) d->axes |= 2u << i;
        one *= i + 1 == rank && (real || back) ? n[i] / 2 + 1 : n[i];
    }
    if (real || back) d->kind = VD_FFT_REAL;
    d->shape[0] = bytes / one < most ? bytes / one : most;
    d->norm = VD_FFT_NORM_NONE;
    return d->shape[0] != 0;
}

/* Plans the row of a plan again: as one kernel, or as columns of `first` elements and rows. */
static bool split_row(vd_fft *p, uint32_t first) {
    p->route[0].count = p->route[1].count = 0;
    vd__fft_problem problem = vd__fft_axis_problem(p, 0, 1, true);
    problem.min_columns = 1;
    p->layout[VD__FFT_TEMP].span = vd__fft_dense_layout(p, 1, problem.length).span;
    return first == 1 ? vd__fft_plan_one_pass(p, &problem, problem.n, 0)
                      : problem.n % first == 0 && vd__fft_plan_split(p, &problem, first, false);
}

static vd_fft *plan_of(bench *b, const char *name) {
    char base[48];
    const char *at = strchr(name, '@'), *hash = strchr(name, '#');
    vd_fft_desc desc;
    vd_fft *p = NULL;
    snprintf(base, sizeof base, "%.*s%s", at ? (int)(at - name) : (int)strlen(name), name, at && hash ? hash : "");
    if (!desc_of_name(base, b->bytes, &desc) || vd__fft_new_estimated(b->ctx, &desc, NULL, &p)) return NULL;
    if (!at || split_row(p, (uint32_t)strtoul(at + 1, NULL, 10))) return p;
    vd_fft_destroy(p);
    return NULL;
}

/* The direction in which the kernels of a plan run: 1 for c2r. */
static uint32_t direction_of(const char *name) { return !strncmp(name, "c2r-", 4); }

static vd__fft_pass *pass_of(vd_fft *p, uint32_t direction, uint32_t i) {
    vd__fft_route *r = vd__fft_route_of(p, direction);
    return i < r->count ? &r->pass[i] : NULL;
}

static void print_choice(char *out, size_t space, const vd__fft_choice *c) {
    size_t at = 0;
    for (uint32_t i = 0; i < VD__FFT_STAGES && c->radix[i]; i++)
        at += (size_t)snprintf(out + at, space - at, "%s%u", !i ? "" : c->register_exchange >> i & 1 ? "+" : "x",
                               c->radix[i]);
    snprintf(out + at, space - at, "/%u/%u/%u", c->threads, c->ffts_per_group, c->slices);
}

/* ---- random shapes ---- */

/* Appends `stages` random radices whose product is n to c; returns false if it found none. */
static bool random_radices(bench *b, uint32_t n, uint32_t stages, uint32_t *count, vd__fft_choice *c) {
    for (uint32_t i = 0; i < stages && *count < VD__FFT_STAGES; i++) {
        uint32_t r = n;
        if (i + 1 < stages)
            for (uint32_t tries = 0; tries < 60 && (r == n || n % r); tries++)
                r = 2 + random_below(b, VD__FFT_RADIX - 1);
        if (n % r || r > VD__FFT_RADIX || r < 2) return false;
        c->radix[(*count)++] = r;
        n /= r;
    }
    return n == 1;
}

/* Number of stages of an axis: usually the fewest that are possible. */
static uint32_t random_stages(bench *b, uint32_t n) {
    uint32_t stages = n <= 32 ? 1 : n <= 600 ? 2 : n <= 6000 ? 3 : 4;
    if (random_below(b, 4) == 0) stages += 1;
    else if (stages > 1 && random_below(b, 4) == 0) stages--;
    return stages;
}

/* Length of the transforms of a kernel; by Bluestein's algorithm a random one of the lengths that are possible. */
static uint32_t random_length(bench *b, const vd__fft_pass *pass) {
    if (!pass->bluestein_length) return pass->shape.n;
    uint64_t m = vd__fft_lowest_bluestein(pass), power = 1;
    while (power < m) power *= 2;
    uint32_t steps = random_below(b, 8);
    for (uint32_t i = 0; i <= steps; i++) m = vd__fft_next_smooth(m + (i > 0), 7);
    return (uint32_t)(steps == 7 || m > power ? power : m);
}

/* Sets the registers through which stages exchange values, where the shape allows it. */
static void exchange_in_registers(const vd_fft *p, const vd__fft_shape *shape, vd__fft_choice *c) {
    vd__fft_shape s = *shape;
    for (uint32_t i = 1; i < s.stages; i++)
        if (vd__fft_can_exchange_registers(&s, i, p->device.shuffle_lanes)) s.register_exchange |= 1u << i;
    c->register_exchange = s.register_exchange;
}

static bool random_choice(bench *b, const vd_fft *p, const vd__fft_pass *pass, vd__fft_choice *c,
                          vd__fft_shape *shape) {
    static const uint32_t butterflies[] = { 1, 1, 1, 2, 2, 4 }, rows[] = { 2, 2, 2, 1, 4, 4, 8, 16 },
                          columns[] = { 2, 4, 8, 8, 16, 16, 32, 64 }, row_slices[] = { 0, 0, 1, 1, 1, 2 },
                          column_slices[] = { 0, 1, 1, 2, 2, 4 };
    const vd__fft_shape *s = &pass->shape;
    uint32_t count = 0, n = 1;
    memset(c, 0, sizeof *c);
    for (uint32_t i = 0; i < s->axes; i++) {
        uint32_t length = pass->bluestein_length ? random_length(b, pass) : s->size[vd__fft_axis_at(s, i)];
        n *= length;
        if (!random_radices(b, length, random_stages(b, length), &count, c)) return false;
    }
    uint32_t each = c->radix[random_below(b, count)] * butterflies[random_below(b, 6)];
    if (n % each) return false;
    c->threads = n / each;
    bool column = s->columns_in || s->columns_out;
    uint32_t usual = (64 + c->threads - 1) / c->threads;
    c->ffts_per_group = column ? columns[random_below(b, 8)] : usual * rows[random_below(b, 8)] / 2;
    if (!column && c->ffts_per_group > vd__fft_transform_count(pass))
        c->ffts_per_group = (uint32_t)vd__fft_transform_count(pass);
    if (!c->ffts_per_group || c->threads * c->ffts_per_group < 8) return false;
    if (c->ffts_per_group > vd__fft_transform_count(pass)) return false;
    if (count > 1) c->slices = column ? column_slices[random_below(b, 6)] : row_slices[random_below(b, 6)];
    if (vd__fft_apply_choice(p, pass, c, shape)) return false;
    if (s->axes < 2 || random_below(b, 2)) return true;
    exchange_in_registers(p, shape, c);
    return !vd__fft_apply_choice(p, pass, c, shape);
}

typedef struct candidate { vd__fft_choice c; double rank, time; } candidate;

static int by_rank(const void *a, const void *b) {
    double x = ((const candidate *)a)->rank, y = ((const candidate *)b)->rank;
    return x < y ? -1 : x > y;
}

/* The estimate by which the planner compares shapes of a pass. */
static double estimate_of(const vd_fft *p, const vd__fft_pass *pass, const vd__fft_shape *s) {
    return vd__fft_is_estimated(&p->device, s) ? vd__fft_shape_time(&p->device, s, vd__fft_transform_count(pass),
                                                                    pass->end[0].array.block.product)
                                               : vd__fft_cost(&p->device, s);
}

/* Sets the shapes that VD_FFT_PATIENT times first: the current one and those of the lowest estimates. Returns their
   number. */
static uint32_t propose_shapes(bench *b, candidate *out) {
    static vd__fft_choice choices[VD_PLAN_MAX_CHOICES];
    b->tuner.choice = choices;
    b->tuner.count = 0;
    b->tuner.patient = true;
    vd__fft_propose_shapes(&b->tuner);
    memset(out, 0, b->tuner.count * sizeof *out);
    for (uint32_t i = 0; i < b->tuner.count; i++) out[i].c = choices[i];
    return b->tuner.count;
}

/* Selects shapes to time: those of propose_shapes, then `count` of a random pool, a third with the lowest estimates and
   the others at random, preferring few stages of similar radices. Returns their number. */
static uint32_t select_shapes(bench *b, const vd_fft *p, const vd__fft_pass *pass, uint32_t count, candidate *out) {
    static candidate pool[POOL];
    uint32_t proposed = propose_shapes(b, out), selected = proposed, pooled = 0;
    vd__fft_shape shape;
    for (uint32_t tries = 0; tries < 40000 && pooled < POOL && pooled < 12 * count; tries++) {
        candidate *k = &pool[pooled];
        uint32_t i = 0;
        if (!random_choice(b, p, pass, &k->c, &shape)) continue;
        while (i < pooled && memcmp(&pool[i].c, &k->c, sizeof k->c) != 0) i++;
        for (uint32_t j = 0; j < proposed; j++) if (!memcmp(&out[j].c, &k->c, sizeof k->c)) i = POOL;
        if (i != pooled) continue;
        k->time = estimate_of(p, pass, &shape);
        k->rank = k->time;
        pooled++;
    }
    qsort(pool, pooled, sizeof *pool, by_rank);
    for (uint32_t i = 0; i < pooled && selected < proposed + count / 3; i++) {
        out[selected++] = pool[i];
        pool[i].time = 0;
    }
    for (uint32_t i = 0; i < pooled; i++) {
        uint32_t k = 0, largest = 1, smallest = VD__FFT_RADIX;
        for (; k < VD__FFT_STAGES && pool[i].c.radix[k]; k++) {
            if (pool[i].c.radix[k] > largest) largest = pool[i].c.radix[k];
            if (pool[i].c.radix[k] < smallest) smallest = pool[i].c.radix[k];
        }
        pool[i].rank = 20.0 * k + largest - smallest;
    }
    qsort(pool, pooled, sizeof *pool, by_rank);
    for (uint32_t tries = 0; tries < 40 * count && selected < proposed + count && pooled; tries++) {
        uint32_t i = (uint32_t)(-log(1 - random_fraction(b)) * (pooled / 3 + 3));
        if (i >= pooled) i = pooled - 1;
        if (pool[i].time <= 0) continue;
        out[selected++] = pool[i];
        pool[i].time = 0;
    }
    return selected;
}

/* ---- timing ---- */

static void lock(const bench *b, bool on) { if (b->lock >= 0) flock(b->lock, on ? LOCK_EX : LOCK_UN); }

/* Returns the seconds of `count` runs of a trial or, if it is NULL, of a copy of `bytes` bytes. */
static double time_runs(bench *b, const vd__fft_trial *t, uint64_t bytes, uint32_t count) {
    vd_list *list = begin(b->ctx);
    for (uint32_t i = 0; i < count; i++)
        if (t ? vd__fft_record_trial(&b->tuner, t, list) : record_copy(list, b->copy, b->in, b->out, bytes / 16 * 16))
            die("recording", vd_error_text());
    if (vd_list_end(list)) die("vd_list_end", vd_error_text());
    double start = bench_now();
    submit(b->ctx, list);
    return bench_now() - start;
}

/* Times a trial and prints the line. */
static void time_trial(bench *b, const job *j, uint32_t number, const vd__fft_choice *c, const vd__fft_trial *t) {
    double ours[ROUNDS], copy[ROUNDS], lowest = 1e9;
    vd_kernel_info info;
    char text[128], line[512];
    const vd__fft_pass *pass = b->tuner.pass;
    const vd_fft *p = b->tuner.plan;
    uint64_t bytes = (vd__fft_bytes(p, pass->end[0].role) + vd__fft_bytes(p, pass->end[1].role)) / 2;
    double once = time_runs(b, t, 0, 1);
    once = time_runs(b, t, 0, 2) / 2;
    uint32_t runs = once > 0.0025 ? 1 : (uint32_t)(0.0025 / once) + 1;
    if (runs > 800) runs = 800;
    if (vd_kernel_query(b->ctx, t->kernel, &info)) die("vd_kernel_query", vd_error_text());
    for (uint32_t i = 0; i < ROUNDS; i++) {
        ours[i] = time_runs(b, t, 0, runs) / runs;
        copy[i] = time_runs(b, NULL, bytes, runs) / runs;
        if (ours[i] < lowest) lowest = ours[i];
    }
    print_choice(text, sizeof text, c);
    int length = snprintf(line, sizeof line, "%s %u %s ms %.5f %.5f copy %.5f registers %u\n", j->name, number,
                          text, 1e3 * bench_median(ours, ROUNDS), 1e3 * lowest, 1e3 * bench_median(copy, ROUNDS),
                          info.registers);
    if (write(1, line, (size_t)length) != length) die("write", "failed");
}

/* Compiles a shape, times it, and destroys its kernel and tables. */
static void time_shape(bench *b, const job *j, uint32_t number, const vd__fft_choice *c) {
    vd__fft_tuner *tuner = &b->tuner;
    vd_fft *scratch = tuner->scratch;
    vd__fft_pass *pass = &scratch->route[0].pass[0];
    vd__fft_trial trial;
    memset(&trial, 0, sizeof trial);
    struct vd__plan_object *objects = tuner->plan->base.objects;
    tuner->plan->base.objects = NULL;
    vd__fft_isolate_pass(tuner, scratch);
    scratch->base.count_registers = true;
    vd_result result = vd__fft_apply_choice(tuner->plan, tuner->pass, c, &pass->shape) ? VD_ERROR_UNSUPPORTED : VD_OK;
    if (!result) result = vd__fft_make_tables(scratch);
    if (!result) result = vd__fft_build_kernel(scratch, 0, tuner->direction, false);
    lock(b, true);
    if (!result) result = vd__fft_upload_tables(scratch);
    if (!result && scratch->generated_end)
        result = vd__fft_fill_ones(scratch, scratch->tables, scratch->table_count);
    vd__fft_free(&scratch->base.allocator, scratch->table);
    trial.kernel = pass->kernels[tuner->direction][0].kernel;
    trial.tables = scratch->tables;
    trial.groups = vd__fft_group_count(pass);
    if (!result) time_trial(b, j, number, c, &trial);
    tuner->plan->base.objects = scratch->base.objects;
    vd__plan_drop_objects(&tuner->plan->base, NULL);
    lock(b, false);
    tuner->plan->base.objects = objects;
}

static void run_job(bench *b, const job *j) {
    static candidate shapes[POOL + VD_PLAN_MAX_CHOICES];
    vd_fft *p = plan_of(b, j->name);
    if (!p) {
        fprintf(stderr, "%s: %s\n", j->name, vd_error_text());
        return;
    }
    b->random = 88172645463325252u;
    for (const char *c = j->name; *c; c++) b->random = (b->random ^ (unsigned char)*c) * 1099511628211u;
    vd__fft_tuner *tuner = &b->tuner;
    tuner->plan = p;
    tuner->direction = direction_of(j->name);
    for (uint32_t i = 0; (tuner->pass = pass_of(p, tuner->direction, i)) != NULL; i++) {
        if (vd__fft_has(tuner->pass, VD__STEP_FOLD) || vd__fft_bytes(p, tuner->pass->end[0].role) > 2 * b->bytes
            || vd__fft_bytes(p, tuner->pass->end[1].role) > 2 * b->bytes || vd__fft_has(tuner->pass, VD__STEP_SPECTRUM))
            continue;
        uint32_t count = select_shapes(b, p, tuner->pass, j->count, shapes);
        for (uint32_t k = 0; k < count; k++) time_shape(b, j, i, &shapes[k].c);
    }
    vd_fft_destroy(p);
}

/* ---- terms of the estimate ---- */

/* Prints the terms of a timed shape, if its time is estimated. *plan: the plan of the previous line, called `last`. */
static void print_terms(bench *b, char *last, vd_fft **plan, const char *name, uint32_t number, const char *text,
                        double ms, double copy) {
    static const char *const kinds[VD__FFT_KERNEL_KINDS] = { "rows", "columns" };
    double term[(int)VD__FFT_TERMS > (int)VD__FFT_LATENCIES ? (int)VD__FFT_TERMS : (int)VD__FFT_LATENCIES];
    vd__fft_choice c;
    vd__fft_shape s;
    if (strcmp(name, last) != 0) {
        vd_fft_destroy(*plan);
        *plan = plan_of(b, name);
        snprintf(last, sizeof(((job *)0)->name), "%s", name);
    }
    const vd__fft_pass *pass = *plan ? pass_of(*plan, direction_of(name), number) : NULL;
    if (!pass || vd__fft_parse_choice(&text, &c) || vd__fft_apply_choice(*plan, pass, &c, &s)
        || !vd__fft_is_estimated(&(*plan)->device, &s))
        return;
    const vd__fft_device *d = &(*plan)->device;
    if (d->few) {
        vd__fft_pass timed = *pass;
        timed.shape = s;
        vd__fft_latency_terms(d, &s, (double)vd__fft_group_count(&timed), term);
    } else vd__fft_time_terms(d, &s, term);
    printf("%s %s/%u %.5f %.5f", d->few ? "few" : kinds[vd__fft_kernel_kind(&s)], name, number, ms, copy);
    for (uint32_t i = 0; i < (d->few ? (uint32_t)VD__FFT_LATENCIES : (uint32_t)VD__FFT_TERMS); i++)
        printf(" %.5f", term[i]);
    printf("\n");
}

/* Reads timings. The device is one without execution that has the limits of a GPU. */
static int print_all_terms(const char *path) {
    static bench b;
    char line[512], name[48], text[128], last[48] = "";
    double median, lowest, copy;
    unsigned number;
    vd_context_desc desc = { 0 };
    vd_fft *plan = NULL;
    FILE *f = fopen(path, "r");
    if (!f) die(path, "cannot be opened");
    desc.backend = VD_BACKEND_DUMMY;
    if (vd_context_create(&desc, &b.ctx)) die("vd_context_create", vd_error_text());
    b.bytes = 1u << 29;
#define PRINT_NAME(term, ...) printf(" " #term);
    printf("names time");
    VD__FFT_TIME_TERMS(PRINT_NAME)
    printf("\nnames few");
    VD__FFT_LATENCY_TERMS(PRINT_NAME)
    printf("\n");
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%47s %u %127s ms %lf %lf copy %lf", name, &number, text, &median, &lowest, &copy) == 6)
            print_terms(&b, last, &plan, name, number, text, lowest, copy);
    fclose(f);
    vd_fft_destroy(plan);
    vd_context_destroy(b.ctx);
    return 0;
}

/* ---- processes ---- */

static job jobs[JOBS];

static int read_jobs(const char *path) {
    FILE *f = fopen(path, "r");
    int count = 0;
    if (!f) die(path, "cannot be opened");
    while (count < JOBS && fscanf(f, "%47s %u", jobs[count].name, &jobs[count].count) == 2) {
        if (jobs[count].count > POOL) jobs[count].count = POOL;
        count++;
    }
    fclose(f);
    return count;
}

static void open_bench(bench *b, const char *path) {
    const char *bytes = getenv("BENCH_BYTES");
    vd_buffer_desc desc = { 0 };
    memset(b, 0, sizeof *b);
    b->lock = path ? open(path, O_RDONLY) : -1;
    if (vd_context_create(NULL, &b->ctx)) die("vd_context_create", vd_error_text());
    on_processor = vd_device(b->ctx, 0)->type == VD_DEVICE_CPU;
    b->bytes = (bytes ? strtoull(bytes, NULL, 0) : on_processor ? 1u << 20 : 1u << 29) / 16 * 16;
    b->tuner.scratch = (vd_fft *)xmalloc(sizeof *b->tuner.scratch);
    b->copy = copy_kernel(b->ctx);
    desc.type = VD_F32X2;
    desc.shape[0] = b->bytes / 4 + 65536;
    lock(b, true);
    b->in = b->tuner.in = vd_buffer_create(b->ctx, &desc);
    b->out = b->tuner.out = vd_buffer_create(b->ctx, &desc);
    if (!b->in.id || !b->out.id) die("vd_buffer_create", vd_error_text());
    numbers x = make_numbers(b->bytes / 8);
    fill(b->ctx, b->in, &x, 2 * b->bytes);
    free(x.data);
    lock(b, false);
}

/* Memory that all processes share. */
typedef struct progress { int next, open; } progress; /* the next job; number of processes that can begin */

/* Runs jobs until none is left or the time is over. Begins when all processes have created their contexts. */
static void work(progress *shared, const char *path, int processes, int count) {
    static bench b;
    const char *seconds = getenv("BENCH_SECONDS");
    double end = bench_now() + (seconds ? atof(seconds) : 540);
    open_bench(&b, path);
    __sync_fetch_and_add(&shared->open, 1);
    while (__sync_fetch_and_add(&shared->open, 0) < processes && bench_now() < end - 1) usleep(10000);
    while (bench_now() < end) {
        int i = __sync_fetch_and_add(&shared->next, 1);
        if (i >= count) break;
        run_job(&b, &jobs[i]);
    }
    vd_context_destroy(b.ctx);
}

static int time_all(const char *path, int processes) {
    int count = read_jobs(path), failed = 0, status;
    progress *shared = (progress *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                                        0);
    if (shared == MAP_FAILED) die("mmap", "failed");
    for (int i = 0; i < processes; i++) {
        if (fork()) continue;
        work(shared, path, processes, count);
        _exit(0);
    }
    while (wait(&status) > 0) failed += status != 0;
    if (shared->next < count) fprintf(stderr, "%d of %d jobs are left\n", count - shared->next, count);
    return failed != 0;
}

int main(int argc, char **argv) {
    if (argc > 2 && !strcmp(argv[1], "time")) return time_all(argv[2], argc > 3 ? atoi(argv[3]) : 1);
    if (argc == 3 && !strcmp(argv[1], "terms")) return print_all_terms(argv[2]);
    fprintf(stderr, "usage: shapes time JOBS [PROCESSES] | shapes terms TIMINGS\n");
    return 2;
}
