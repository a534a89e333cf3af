/* Plans chosen by timing kernels: correct results compared with FFTW in double, choices reloaded from the cache
   directory, environment variables. */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <fftw3.h>
#include <glob.h>
#include <math.h>
#include <unistd.h>

static void *some(uint64_t count, size_t size) {
    void *p = calloc((size_t)count, size);
    assert_non_null(p);
    return p;
}

static vd_buffer floats(vd_context *ctx, uint64_t count, const float *data) {
    vd_buffer_desc desc = { 0 };
    desc.type = VD_F32;
    desc.shape[0] = count;
    desc.data = data;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    if (!b.id) fail_msg("%s", vd_error_text());
    return b;
}

static void noise(float *x, uint64_t count) {
    uint32_t state = 12345;
    for (uint64_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
    }
}

static void check_error(double wrong, double all, const char *what) {
    if (!(wrong <= 1e-6 * 1e-6 * all)) fail_msg("error %.3g of\n%s", sqrt(wrong / all), what);
}

/* The same transform by FFTW; complex ones in place. */
static void transform(const vd_fft_desc *desc, fftw_complex *x) {
    fftw_iodim along[4], across[4];
    int along_count = 0, across_count = 0, stride = 1, last = 3;
    while (!desc->shape[last]) last--;
    for (int i = last; i >= 0; i--) {
        fftw_iodim d = { (int)desc->shape[i], stride, stride };
        if (desc->axes ? desc->axes >> i & 1 : i == last) along[along_count++] = d;
        else across[across_count++] = d;
        stride *= (int)desc->shape[i];
    }
    fftw_plan plan = fftw_plan_guru_dft(along_count, along, across_count, across, x, x, FFTW_FORWARD, FFTW_ESTIMATE);
    assert_non_null(plan);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
}

/* Forward transform of complex numbers or, along the last of two dimensions, of reals; also the inverse if `back`. */
static void check_plan(vd_context *ctx, const vd_fft_desc *desc, vd_fft *plan) {
    bool real = desc->kind == VD_FFT_REAL;
    uint64_t n = 1, row = real ? desc->shape[1] : 1, bins = real ? row / 2 + 1 : 1;
    for (int i = 0; i < 4 && desc->shape[i]; i++) n *= desc->shape[i];
    uint64_t ins = real ? n : 2 * n, outs = real ? n / row * bins * 2 : 2 * n;
    float *x = some(ins, sizeof *x), *y = some(outs, sizeof *y), *z = some(ins, sizeof *z);
    fftw_complex *expected = (fftw_complex *)fftw_malloc(n * sizeof *expected);
    double wrong = 0, all = 0, lost = 0, whole = 0;
    noise(x, ins);
    for (uint64_t i = 0; i < n; i++) {
        expected[i][0] = (double)x[real ? i : 2 * i];
        expected[i][1] = real ? 0 : (double)x[2 * i + 1];
    }
    transform(desc, expected);
    vd_fft_io io = { 0 };
    io.in = floats(ctx, ins, x);
    io.out = floats(ctx, outs, NULL);
    if (vd_fft_run(plan, vd_immediate(ctx, 0, 0), &io) || vd_buffer_read(ctx, io.out, 0, y, VD_WHOLE))
        fail_msg("%s", vd_error_text());
    for (uint64_t i = 0; i < outs; i++) {
        uint64_t at = real ? i / 2 / bins * row + i / 2 % bins : i / 2;
        double d = (double)y[i] - expected[at][i % 2];
        wrong += d * d;
        all += expected[at][i % 2] * expected[at][i % 2];
    }
    check_error(wrong, all, vd_fft_explain(plan));
    vd_buffer from = io.out;
    io.out = io.in;
    io.in = from;
    io.direction = VD_FFT_INVERSE;
    if (vd_fft_run(plan, vd_immediate(ctx, 0, 0), &io) || vd_buffer_read(ctx, io.out, 0, z, VD_WHOLE))
        fail_msg("%s", vd_error_text());
    for (uint64_t i = 0; i < ins; i++) {
        lost += (double)(z[i] - x[i]) * (double)(z[i] - x[i]);
        whole += (double)x[i] * (double)x[i];
    }
    check_error(lost, whole, vd_fft_explain(plan));
    vd_buffer_destroy(ctx, io.in);
    vd_buffer_destroy(ctx, io.out);
    fftw_free(expected);
    free(x);
    free(y);
    free(z);
}

static vd_fft *made(vd_context *ctx, const vd_fft_desc *desc) {
    vd_fft *plan = vd_fft_create(ctx, desc);
    if (!plan) fail_msg("%s", vd_error_text());
    return plan;
}

static bool explains(vd_fft *plan, const char *text) { return strstr(vd_fft_explain(plan), text) != NULL; }

static void check_says(vd_fft *plan, const char *text, bool wanted) {
    if (explains(plan, text) != wanted)
        fail_msg("'%s' %s in\n%s", text, wanted ? "is not" : "is", vd_fft_explain(plan));
}

static vd_fft_desc desc_of(uint64_t a, uint64_t b, uint64_t c, uint32_t axes) {
    vd_fft_desc desc = { 0 };
    desc.shape[0] = a;
    desc.shape[1] = b;
    desc.shape[2] = c;
    desc.axes = axes;
    desc.rigor = VD_FFT_MEASURE;
    return desc;
}

/* PoCL compiles slowly, and measuring does not differ there. */
static bool is_slow(void) { return vd_device(device_context, 0)->backend == VD_BACKEND_OPENCL; }

static void check_measured(vd_fft_desc desc) {
    vd_stats stats;
    vd_fft *plan = made(device_context, &desc);
    check_says(plan, "  measured", true);
    check_plan(device_context, &desc, plan);
    vd_fft_destroy(plan);
    assert_int_equal(vd_context_stats(device_context, &stats), VD_OK);
    assert_int_equal(stats.buffers, 0);
    assert_int_equal(stats.kernels, 0);
}

static void shapes_for_processors(void **state) {
    (void)state;
    need_device();
    check_measured(desc_of(9, 16, 0, 1));
    if (is_slow()) return;
    check_measured(desc_of(3, 4, 6, 6));
    vd_fft_desc real = desc_of(7, 12, 0, 2);
    real.kind = VD_FFT_REAL;
    check_measured(real);
}

static void shapes_for_gpus(void **state) {
    (void)state;
    need_device();
    setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1);
    if (is_slow() || !passes_over(1, 1)) check_measured(desc_of(5, 4, 6, 6));
    if (!is_slow() && !passes_over(1, 1))
        check_measured(desc_of(9, 131, 0, 2)); /* Bluestein's algorithm, of 270 to 512 points */
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

/* The same results as the estimated plan. */
static void check_convolution(bool padded) {
    enum { SIDE = 5, KERNEL = 4, POINTS = SIDE * SIDE, RESULTS = (SIDE + KERNEL - 1) * (SIDE + KERNEL - 1) };
    float x[2 * POINTS], k[2 * POINTS], y[2][2 * RESULTS] = { { 0 } };
    double wrong = 0, all = 0;
    noise(x, 2 * POINTS);
    for (int i = 0; i < 2 * POINTS; i++) k[i] = x[(i * 7 + 3) % (2 * POINTS)];
    vd_buffer in = floats(device_context, 2 * POINTS, x), kernel = floats(device_context, 2 * POINTS, k),
              out = floats(device_context, 2 * RESULTS, y[0]);
    for (int i = 0; i < 2; i++) {
        vd_convolve_desc desc = { 0 };
        desc.shape[0] = desc.shape[1] = padded ? SIDE : KERNEL;
        desc.filter_shape[0] = desc.filter_shape[1] = KERNEL;
        desc.mode = padded ? VD_CONVOLVE_FULL : VD_CONVOLVE_CIRCULAR;
        desc.rigor = i ? VD_FFT_MEASURE : VD_FFT_ESTIMATE;
        vd_convolve *plan = vd_convolve_create(device_context, &desc);
        vd_list *list = vd_immediate(device_context, 0, 0);
        if (!plan || vd_convolve_set_filter(plan, list, kernel) || vd_convolve_run(plan, list, in, out))
            fail_msg("%s", vd_error_text());
        assert_int_equal(vd_buffer_read(device_context, out, 0, y[i], VD_WHOLE), VD_OK);
        assert_int_equal(strstr(vd_convolve_explain(plan), "  measured") != NULL, i);
        vd_convolve_destroy(plan);
    }
    for (int i = 0; i < 2 * RESULTS; i++) {
        wrong += (double)(y[1][i] - y[0][i]) * (double)(y[1][i] - y[0][i]);
        all += (double)y[0][i] * (double)y[0][i];
    }
    check_error(wrong, all, "a convolution");
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, kernel);
    vd_buffer_destroy(device_context, out);
}

static void convolutions(void **state) {
    (void)state;
    need_device();
    if (!passes_over(1, 1)) check_convolution(false);
    setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1); /* in one kernel, whose spectrum has the layout of its shape */
    if (!passes_over(1, 1)) check_convolution(false);
    if (!passes_over(1, 1)) check_convolution(true); /* of 8 by 8, split and not */
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

/* ---- cached choices ---- */

enum { LINE = 1000 };

static char folder[64], pattern[100];

static vd_context *context_with(const char *directory) {
    vd_context_desc desc = { 0 };
    vd_context *ctx = NULL;
    desc.cache_directory = directory;
    if (vd_context_create(&desc, &ctx)) fail_msg("%s", vd_error_text());
    return ctx;
}

/* Creates a plan in a new context and checks the first line of its explanation, which names the choice. */
static void check_found(const char *directory, uint64_t n, const char *how, char *line) {
    vd_context *ctx = context_with(directory);
    vd_fft_desc desc = desc_of(3, n, 0, 2);
    vd_fft *plan = made(ctx, &desc);
    check_says(plan, how, true);
    const char *text = vd_fft_explain(plan);
    snprintf(line, LINE, "%.*s", (int)strcspn(text, "\n"), text);
    check_plan(ctx, &desc, plan);
    vd_fft_destroy(plan);
    vd_context_destroy(ctx);
}

/* The name of the only file, or of file number i. */
static void file_of(size_t i, size_t count, char *out) {
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, count);
    snprintf(out, LINE, "%s", found.gl_pathv[i]);
    globfree(&found);
}

static size_t read_file(const char *path, char *bytes, size_t room) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

static void write_file(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void choices_are_cached(void **state) {
    static char bytes[1 << 16], changed[1 << 16];
    char first[LINE], line[LINE], path[LINE], other[LINE];
    (void)state;
    need_device();
    check_found(folder, 6, "  measured now, ", first);
    check_found(folder, 6, "  measured earlier, ", line);
    assert_string_equal(line, first);
    file_of(0, 1, path);
    size_t size = read_file(path, bytes, sizeof bytes);
    assert_true(size > 64 && size < sizeof bytes);
    memcpy(changed, bytes, size);
    changed[size / 2] ^= 1;
    write_file(path, changed, size);
    check_found(folder, 6, "  measured now, ", line);
    assert_int_equal(read_file(path, changed, sizeof changed), size); /* it was rewritten */
    write_file(path, bytes, size - 5);
    check_found(folder, 6, "  measured now, ", line);
    write_file(path, bytes, size);
    check_found(folder, 6, "  measured earlier, ", line);
    assert_string_equal(line, first);
    check_found(folder, 5, "  measured now, ", line);
    file_of(0, 2, other);
    if (!strcmp(other, path)) file_of(1, 2, other);
    write_file(other, bytes, size); /* for another length */
    check_found(folder, 5, "  measured now, ", line);
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(other), 0);
}

static void contexts_remember_choices(void **state) {
    char line[LINE];
    (void)state;
    need_device();
    vd_context *ctx = context_with(NULL);
    vd_fft_desc desc = desc_of(30, 6, 0, 2);
    vd_fft *plan = made(ctx, &desc);
    check_says(plan, "  measured now, ", true);
    vd_fft_destroy(plan);
    desc.shape[0] = 31; /* the padded length is the same power of two */
    plan = made(ctx, &desc);
    check_says(plan, "  measured earlier, ", true);
    check_plan(ctx, &desc, plan);
    vd_fft_destroy(plan);
    desc.shape[0] = 32;
    plan = made(ctx, &desc);
    check_says(plan, "  measured now, ", true);
    vd_fft_destroy(plan);
    vd_context_destroy(ctx);
    check_found("/tmp/vkdispatch-there-is-no-such-folder", 6, "  measured now, ", line);
}

/* ---- without a device, without memory ---- */

static void the_dummy_backend_estimates(void **state) {
    vd_context_desc desc = { 0 };
    vd_context *ctx = NULL;
    (void)state;
    desc.backend = VD_BACKEND_DUMMY;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    vd_fft_desc fft = desc_of(3, 64, 0, 2);
    vd_fft *plan = made(ctx, &fft);
    check_says(plan, "rows of 64 = ", true);
    check_says(plan, "measured", false);
    vd_fft_destroy(plan);
    fft.rigor = (vd_fft_rigor)4;
    assert_null(vd_fft_create(ctx, &fft));
    assert_non_null(strstr(vd_error_text(), "rigor is 4, but must be 0 to 3 (VD_FFT_PATIENT)"));
    vd_context_destroy(ctx);
}

typedef struct meter { long left; } meter; /* allocations until one fails; negative: none fails */

static bool is_refused(void *user) { return ((meter *)user)->left > 0 && --((meter *)user)->left == 0; }
static void *allocate(void *user, size_t size) { return is_refused(user) ? NULL : malloc(size); }
static void *reallocate(void *user, void *block, size_t size) { return is_refused(user) ? NULL : realloc(block, size); }
static void release(void *user, void *block) { (void)user; free(block); }

static void memory_runs_out(void **state) {
    meter m = { 0 };
    vd_context_desc desc = { 0 };
    vd_context *ctx = NULL;
    vd_stats stats;
    int estimated = 0;
    (void)state;
    need_device();
    desc.allocator.allocate = allocate;
    desc.allocator.reallocate = reallocate;
    desc.allocator.release = release;
    desc.allocator.user = &m;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    for (long at = 1; at <= 64; at += at / 4 + 1) {
        vd_fft_desc fft = desc_of((uint64_t)at, 2 + (uint64_t)(at % 2), 0, 2);
        m.left = at;
        vd_fft *plan = vd_fft_create(ctx, &fft);
        m.left = 0;
        if (plan) check_plan(ctx, &fft, plan);
        else assert_non_null(strstr(vd_error_text(), "memory"));
        if (plan && !explains(plan, "measured")) estimated++;
        vd_fft_destroy(plan);
        assert_int_equal(vd_context_stats(ctx, &stats), VD_OK);
        assert_int_equal(stats.buffers, 0);
        assert_int_equal(stats.kernels, 0);
    }
    assert_in_range(estimated, 1, 64);
    vd_context_destroy(ctx);
}

/* ---- the environment ---- */

static void the_environment_overrides_choices(void **state) {
    (void)state;
    need_device();
    vd_fft_desc desc = desc_of(3, 9, 0, 2);
    setenv("VKDISPATCH_FFT", "estimate", 1);
    vd_fft *plan = made(device_context, &desc);
    check_says(plan, "measured", false);
    vd_fft_destroy(plan);
    desc.rigor = VD_FFT_RIGOR_DEFAULT;
    setenv("VKDISPATCH_FFT", "patient", 1);
    plan = made(device_context, &desc);
    unsetenv("VKDISPATCH_FFT");
    check_says(plan, "  measured now, ", true);
    check_plan(device_context, &desc, plan);
    vd_fft_destroy(plan);
}

static void check_refused(const vd_fft_desc *desc, const char *factors, const char *text) {
    setenv("VKDISPATCH_FFT_FACTORS", factors, 1);
    vd_fft *plan = vd_fft_create(device_context, desc);
    unsetenv("VKDISPATCH_FFT_FACTORS");
    if (plan) fail_msg("'%s' is accepted:\n%s", factors, vd_fft_explain(plan));
    if (!strstr(vd_error_text(), text)) fail_msg("'%s': %s", factors, vd_error_text());
}

static void check_forced(const vd_fft_desc *desc, const char *factors, const char *text) {
    setenv("VKDISPATCH_FFT_FACTORS", factors, 1);
    vd_fft *plan = made(device_context, desc);
    unsetenv("VKDISPATCH_FFT_FACTORS");
    check_says(plan, text, true);
    check_says(plan, "measured", false);
    if (!strchr(factors, ',')) { /* the shape is printed in the same format */
        char shape[64];
        snprintf(shape, sizeof shape, ", shape %s", factors + strspn(factors, "rcb"));
        check_says(plan, shape, true);
    }
    if (!passes_over(1, 1)) check_plan(device_context, desc, plan);
    vd_fft_destroy(plan);
}

static void shapes_can_be_set(void **state) {
    (void)state;
    need_device();
    setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1);
    vd_fft_desc rows = desc_of(33, 64, 0, 2), columns = desc_of(64, 33, 0, 1), image = desc_of(3, 16, 16, 6),
                prime = desc_of(5, 131, 0, 2);
    rows.rigor = columns.rigor = prime.rigor = VD_FFT_RIGOR_DEFAULT;
    check_forced(&rows, "4x4x4/16/3/2", "rows of 64 = 4 x 4 x 4, 16 threads per transform, 3 transforms per work-group, exchange in 2 slices");
    check_forced(&rows, "16x16/16/1/0,r2x32/4/2/0,c4x16/8/8/0",
                 "rows of 64 = 2 x 32, 4 threads per transform, 2 transforms per work-group, 1104 bytes of shared memory");
    check_forced(&columns, "16x16/16/1/0,r2x32/4/2/0,c4x16/8/8/0",
                 "columns of 64 = 4 x 16, 8 threads per transform, 8 transforms per work-group, 4608 bytes of shared memory");
    check_forced(&image, "4x4+4x4/16/1/1", "= 4 x 4 + 4 x 4, 16 threads per transform, 1 transform per work-group");
    check_forced(&prime, "b17x17/17/2/0", "rows of 289 (Bluestein for length 131) = 17 x 17, 17 threads per transform, 2 transforms per work-group");
    vd_fft_desc direct = desc_of(5, 74, 0, 2);
    direct.rigor = VD_FFT_RIGOR_DEFAULT;
    check_forced(&direct, "2x37x1/19/3/0", "rows of 74 = 2 x 37 x 1, 19 threads per transform, 3 transforms per work-group");
    check_refused(&direct, "2x37/19/1/0", "a radix above 32 is the first or the last one; add a radix of 1");
    check_refused(&direct, "1x2x37x1/19/1/0", "a radix of 1 is allowed only as the first one before a radix above 32, or as the last "
                  "one after it");
    check_refused(&rows, "8x8/1/1/1", "contains '8x8/1/1/1', but a kernel with transforms of "
                  "64 elements cannot have this shape: a thread holds more than 32 values");
    check_refused(&prime, "b32x32x32x32/1/1/0", "the product of the radices is more than 65536");
    check_refused(&rows, "8x8/8/1/3", "slices must be 0, 1, 2 or 4");
    check_refused(&rows, "2x32/4/1/4", "slices do not divide the radices");
    check_refused(&rows, "64/1/1/0", "a radix above 32 is not a prime up to 127");
    check_refused(&rows, "8+8/8/1/0", "the stage after a + cannot receive its values in registers");
    check_refused(&rows, "8x8/8/60000/0", "threads or transforms exceed the threads of a work-group");
    check_refused(&rows, "8x8/8/1000/0", "threads times transforms exceed the threads of a work-group");
    check_refused(&image, "32x8/16/1/0", "a radix does not divide the length of its axis");
    check_refused(&rows, "0x0/0/0/0", "a radix is missing or invalid: each entry");
    check_refused(&rows, "8x8/8/0/0", "the number of transforms is missing or invalid");
    check_refused(&rows, "4x4x6/24", "'4x4x6/24', but the number of transforms is missing or invalid: each entry must be radices/threads/transforms/slices");
    check_refused(&rows, "8x8/8/1", "the number of slices is missing or invalid");
    check_refused(&rows, "p0", "or a number of parts, p1 to p32");
    check_refused(&rows, "p33", "or a number of parts, p1 to p32");
    check_refused(&rows, "8x8", "the number of threads is missing or invalid");
    check_refused(&rows, "8x8/8 4", "the number of transforms is missing or invalid");
    check_refused(&rows, "x", "a radix is missing or invalid");
    check_refused(&rows, "99999999x8/8/1/0", "contains '99999999x8/8/1/0', but a radix is missing or invalid");
    check_refused(&rows, "8x8/4294967304/1/0", "the number of threads is missing or invalid");
    check_refused(&rows, "8x8/8/1/0,", "contains '', but a radix is missing or invalid");
    check_refused(&rows, "8x8/8/1/0x", "the separator after the slices is missing or invalid");
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

/* Exchanging values between neighbours of a subgroup is supported on llvmpipe if subgroups are large enough and full;
   elsewhere such shapes are refused. */
static void lanes_can_be_set(void **state) {
    static const struct { uint32_t n, threads, lanes; const char *factors, *text; } rows[] = {
        { 64, 8, 8, "8+8/8/3/0", "rows of 64 = 8 + 8, 8 threads per transform, 3 transforms per work-group, 0 bytes of shared memory" },
        { 256, 16, 8, "16+8x2/16/1/1", "rows of 256 = 16 + 8 x 2, 16 threads per transform" },
        { 256, 32, 8, "4x8+8/32/2/0", "rows of 256 = 4 x 8 + 8, 32 threads per transform" },
        { 320, 40, 8, "8+8x5/40/1/0", "rows of 320 = 8 + 8 x 5, 40 threads per transform" },
        { 96, 8, 4, "12+4x2/8/2/0", "rows of 96 = 12 + 4 x 2, 8 threads per transform" }
    };
    (void)state;
    need_device();
    const vd_device_info *d = vd_device(device_context, 0);
    bool llvmpipe = d->facts.lane_access && d->limits.min_subgroup_size == d->limits.max_subgroup_size;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bool exchanges = llvmpipe && d->limits.min_subgroup_size % rows[i].lanes == 0
                         && rows[i].threads % d->limits.min_subgroup_size == 0;
        vd_fft_desc desc = desc_of(7, rows[i].n, 0, 2);
        desc.rigor = VD_FFT_RIGOR_DEFAULT;
        if (exchanges) check_forced(&desc, rows[i].factors, rows[i].text);
        else check_refused(&desc, rows[i].factors, "elements cannot have this shape");
        desc.shape[1] *= 2;
        desc.kind = VD_FFT_REAL; /* half as many complex numbers */
        if (exchanges) check_forced(&desc, rows[i].factors, " + ");
    }
    vd_fft_desc turned = desc_of(64, 9, 0, 1), few = desc_of(7, 64, 0, 2);
    turned.rigor = few.rigor = VD_FFT_RIGOR_DEFAULT;
    if (llvmpipe && d->limits.min_subgroup_size == 8)
        check_forced(&turned, "8+8/8/8/0", "columns of 64 = 8 + 8, 8 threads per transform, 8 transforms per work-group");
    else check_refused(&turned, "8+8/8/8/0", "elements cannot have this shape");
    check_refused(&few, "8+8/16/1/0", "elements cannot have this shape");     /* 16 threads, 8 values to share */
    check_refused(&few, "4+16/8/1/0", "elements cannot have this shape");
    check_refused(&few, "4+4+4/16/1/0", "elements cannot have this shape");   /* one stage passes its input on */
}

/* Removes the cached CUDA or OpenCL programs. The tests remove measured choices themselves. */
static void empty_folder(void) {
    char programs[100];
    glob_t found;
    snprintf(programs, sizeof programs, "%s/vkdispatch-[!f]*", folder);
    if (glob(programs, 0, NULL, &found)) return;
    for (size_t i = 0; i < found.gl_pathc; i++) remove(found.gl_pathv[i]);
    globfree(&found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_for_processors), cmocka_unit_test(shapes_for_gpus), cmocka_unit_test(convolutions),
        cmocka_unit_test(choices_are_cached), cmocka_unit_test(contexts_remember_choices),
        cmocka_unit_test(the_dummy_backend_estimates), cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(the_environment_overrides_choices), cmocka_unit_test(shapes_can_be_set),
        cmocka_unit_test(lanes_can_be_set),
    };
    snprintf(folder, sizeof folder, "/tmp/vkdispatch-measure-XXXXXX");
    if (!mkdtemp(folder)) return 1;
    snprintf(pattern, sizeof pattern, "%s/vkdispatch-fft-*", folder);
    int failed = RUN_ON_DEVICE(tests);
    empty_folder();
    if (rmdir(folder) && !failed) failed = 1; /* an unexpected file was left there */
    return failed;
}
