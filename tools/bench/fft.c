/* Large Fourier transforms and convolutions, compared with cuFFT, VkFFT and a copy of the same size.

       make bench-fft
       build/vkfft/tools/bench/fft [SIZE ...]
       VKDISPATCH_BACKEND=opencl build/vkfft/tools/bench/fft

   SIZE is a size as printed in the output. The default is all sizes; on a processor, the powers of two from 64 to 4096.

   Sizes of complex data: rows, images and cubes (1024, 512x512, 64x64x64), columns of square images (columns-1024,
   columns-in-place-1024), convolutions of images and cubes with one kernel (convolve-512x512, convolve-64x64x64), and
   convolutions of a zero-padded signal of one eighth of the size along each axis, of which only a part of that size is
   needed (cropped-512x512).
   Sizes of real data: rows to half spectra and back (r2c-1001, c2r-1001), convolutions with a kernel of the same size
   (convolve-real-1000, convolve-real-512x512), and with a kernel of 31 elements along each axis (filter-real-1000).
   BENCH_BATCH=1 limits the batch to one transform. Figures called `packed` use plans that may pack two real rows into
   one complex row (pack_rows).

   Each size transforms the same number of bytes (BENCH_BYTES; default 1 GiB, on a processor 16 MiB), out of place,
   forward. Our plan, the others and the copy are timed alternately, BENCH_ROUNDS times (default 7). A round is one
   batch of about 50 ms, recorded in advance and timed from submission to completion. `fft-both` is a forward and an
   inverse transform, compared with cuFFT if present.

   cuFFT is loaded at run time (BENCH_CUFFT: its path); without it, or without CUDA, its figures are skipped. VkFFT is
   an engine of our plans on Vulkan; on OpenCL it runs in our context and queue. Only complex transforms use it. If
   cuFFT is present, VkFFT also runs on CUDA, as `vkfft-cuda` (BENCH_VKFFT_CUDA: its library, build/vkfft_cuda.so). The
   copy is a kernel that moves 16 bytes per thread. If FFTW was available at compile time, the first and the last
   transform of each size of every implementation are compared with FFTW in double precision. An implementation with
   wrong results has no figures.

   On a processor, times are CPU times of all threads of the process, which other programs affect less.

   BENCH_MEASURE=1 adds `fft-measured`: our plans with measured kernels compared with estimated ones, and a description
   of both. BENCH_MEASURE=2 uses VD_FFT_PATIENT instead of VD_FFT_MEASURE.

   `fft-first` is the time for planning, compiling and the first result, once per size, after a plan of another
   length has loaded the drivers. */
#define _POSIX_C_SOURCE 200809L
#include "vkdispatch_fft.h"

#include "tools/bench/bench.h"
#include "tools/bench/fft_cufft.h"
#include "tools/bench/fft_run.h"
#include "tools/bench/fft_work.h"
#include "tools/bench/vkfft_opencl.h"

#include <dlfcn.h>

/* VkFFT where it is not an engine of our plans. */
typedef struct vkfft_calls {
    int (*run)(void *made, int count);
    void (*close)(void *made);
} vkfft_calls;
static const vkfft_calls vkfft_opencl = { vkfft_opencl_run, vkfft_opencl_close };

typedef struct vkfft_cuda {
    const char *(*open)(uint32_t rank, const uint32_t n[3], uint64_t batch, uint64_t in, uint64_t out, uint64_t bytes,
                        void **made);
    vkfft_calls calls;
    const char *none;        /* why it is not available; NULL: it is */
    /* the functions of cuFFT with separate memory, so that out-of-bounds accesses harm no other implementation */
    cufft at;
} vkfft_cuda;

typedef struct bench {
    vd_context *ctx;
    vd_buffer in, out, back; /* `in` repeats the sequence x; `back`: the inverse of `out`, only if cuFFT is present */
    numbers x;
    uint64_t bytes;
    cufft cu;
    const char *no_cufft;
    vkfft_cuda vkfft_cuda;
    int rounds;
    vd_kernel copy;
    vd_native native;
    double product;        /* product of the time ratios ours / VkFFT for powers of two from 64 to 4096 */
    int factors;
    vd_fft_rigor measure, rigor; /* rigor of `fft-measured`, 0: not run; rigor of our next plan */
    bool pack_rows;        /* for our next plan */
} bench;

/* One implementation: a plan, VkFFT on OpenCL or CUDA, cuFFT, or the copy (if none of these is set). */
typedef struct impl {
    const char *name;
    char none[256];          /* why it is not run; empty: it is */
    vd_fft *plan;
    vd_convolve *convolve;
    void *vkfft;
    const vkfft_calls *calls; /* functions for `vkfft` */
    cufft *cu;               /* its data, and its functions unless `vkfft` is set */
    bool in_place, inverse_too, back; /* back: from half spectra to reals */
    double error;            /* largest relative error of its samples; negative: not compared */
    double seconds[BENCH_ROUNDS_MAX];
} impl;

static impl impl_of(const char *name) {
    impl s;
    memset(&s, 0, sizeof s);
    s.name = name;
    s.error = -1;
    return s;
}

static void keep_reason(impl *s, const char *why) { snprintf(s->none, sizeof s->none, "%s", why ? why : ""); }

static vd_result keep_native(const vd_native *native, void *user) {
    ((bench *)user)->native = *native;
    return VD_OK;
}

/* ---- plans ---- */

static vd_fft *plan_of(bench *b, const size *s, vd_fft_engine engine) {
    vd_fft_desc desc = desc_of(s, b->bytes);
    char text[64];
    name_of(s, text, sizeof text);
    desc.name = text;
    desc.pack_rows = b->pack_rows;
    desc.engine = engine;
    desc.rigor = b->rigor;
    return vd_fft_create(b->ctx, &desc);
}

/* Sets the kernel of a convolution. For a cropped result the plan has a longer kernel, whose middle is aligned with
   the first element; a result of this size only uses part of it. */
static void set_kernel(bench *b, const size *s, vd_convolve *plan) {
    uint64_t n = s->n[0], m = 14 * (n / 8) + 1, shift = n - n / 8, count = s->what == CROPPED ? m * m : points(s);
    if (is_real_convolution(s)) count = kernel_points(s);
    float *given = (float *)xmalloc(points(s) * 8), *kernel = (float *)xmalloc(count * 8);
    vd_buffer_desc desc = { 0 };
    memset(kernel, 0, count * 8);
    if (is_real_convolution(s)) make_real_kernel(&b->x, s, kernel);
    else make_kernel(&b->x, s, s->what == CROPPED ? given : kernel);
    for (uint64_t y = 0; s->what == CROPPED && y < n; y++)
        for (uint64_t x = 0; x < n; x++)
            memcpy(kernel + 2 * (y * m + x), given + 2 * ((y + n - shift) % n * n + (x + n - shift) % n), 8);
    desc.type = is_real_convolution(s) ? VD_F32 : VD_F32X2;
    desc.shape[0] = count;
    desc.data = kernel;
    vd_buffer buffer = vd_buffer_create(b->ctx, &desc);
    vd_list *list = begin(b->ctx);
    if (!buffer.id || vd_convolve_set_filter(plan, list, buffer)) die("vd_convolve_set_filter", vd_error_text());
    if (vd_list_end(list)) die("vd_list_end", vd_error_text());
    submit(b->ctx, list);
    vd_buffer_destroy(b->ctx, buffer);
    free(kernel);
    free(given);
}

static vd_convolve *convolution_of(bench *b, const size *s) {
    vd_convolve_desc desc = { 0 };
    for (uint32_t i = 0; i < s->rank; i++) desc.shape[i] = signal_extent(s);
    desc.batch = (uint32_t)batch_of(s, b->bytes);
    if (s->what == CROPPED) {
        desc.filter_shape[0] = desc.filter_shape[1] = 14 * (s->n[0] / 8) + 1;
        desc.mode = VD_CONVOLVE_SAME;
    }
    if (s->what == FILTER_REAL) {
        for (uint32_t i = 0; i < s->rank; i++) desc.filter_shape[i] = FILTER;
        desc.mode = VD_CONVOLVE_CENTRED;
    }
    desc.real = is_real_convolution(s);
    desc.pack_rows = b->pack_rows;
    desc.rigor = b->rigor;
    vd_convolve *plan = vd_convolve_create(b->ctx, &desc);
    if (plan) set_kernel(b, s, plan);
    return plan;
}

static void open_ours(bench *b, const size *s, impl *ours) {
    if (is_convolution(s)) ours->convolve = convolution_of(b, s);
    else ours->plan = plan_of(b, s, VD_FFT_ENGINE_DEFAULT);
    ours->in_place = s->what == IN_PLACE;
    ours->back = s->what == REAL_BACK;
    if (!ours->plan && !ours->convolve) keep_reason(ours, vd_error_text());
}

static void open_packed(bench *b, const size *s, impl *packed) {
    b->pack_rows = true;
    open_ours(b, s, packed);
    b->pack_rows = false;
}

/* VkFFT as an engine of our plans, or directly. */
static void open_vkfft(bench *b, const size *s, impl *out) {
    out->in_place = s->what == IN_PLACE;
    if (is_convolution(s) || is_real_row(s)) keep_reason(out, "its engine here has complex transforms alone");
    else if (b->native.backend != VD_BACKEND_OPENCL) {
        out->plan = plan_of(b, s, VD_FFT_ENGINE_VKFFT);
        if (!out->plan) keep_reason(out, vd_error_text());
    } else if (s->what != COMPLEX) keep_reason(out, "on OpenCL it has rows, images and cubes alone here");
    else {
        vd_buffer_info in, to;
        if (vd_buffer_query(b->ctx, b->in, &in) || vd_buffer_query(b->ctx, b->out, &to))
            die("vd_buffer_query", vd_error_text());
        out->calls = &vkfft_opencl;
        keep_reason(out, vkfft_opencl_open(&b->native, s->rank, s->n, batch_of(s, b->bytes), in.native, to.native,
                                           b->bytes, &out->vkfft));
    }
}

/* Call after cuFFT was opened: uses its data. */
static void open_vkfft_cuda(bench *b, const size *s, impl *out) {
    const char *why = b->vkfft_cuda.none;
    if (!why && s->what != COMPLEX) why = "it has rows, images and cubes alone here";
    cufft *at = &b->vkfft_cuda.at;
    at->s = s;
    if (!why && cufft_fill(at)) why = "cuMemcpyHtoD failed";
    if (!why) why = b->vkfft_cuda.open(s->rank, s->n, batch_of(s, b->bytes), at->in, at->out, b->bytes, &out->vkfft);
    keep_reason(out, why);
    if (!why) out->cu = at;
    out->calls = &b->vkfft_cuda.calls;
}

/* Call after cuFFT was opened. Allocates a margin on both sides of the memory to tolerate out-of-bounds accesses. */
static const char *load_vkfft_cuda(vkfft_cuda *v, const cufft *cu) {
    enum { MARGIN = 1 << 26 };
    const char *path = getenv("BENCH_VKFFT_CUDA");
    void *library = dlopen(path ? path : "build/vkfft_cuda.so", RTLD_NOW);
    if (!library) return "build/vkfft_cuda.so is not here, which takes the CUDA toolkit; BENCH_VKFFT_CUDA may name it";
    *(void **)&v->open = dlsym(library, "vkfft_cuda_open");
    *(void **)&v->calls.run = dlsym(library, "vkfft_cuda_run");
    *(void **)&v->calls.close = dlsym(library, "vkfft_cuda_close");
    if (!v->open || !v->calls.run || !v->calls.close) return "a function of build/vkfft_cuda.so is missing";
    v->at = *cu;
    if (cu->allocate(&v->at.in, cu->bytes + 2 * MARGIN) || cu->allocate(&v->at.out, cu->bytes + 2 * MARGIN))
        return "no memory for it";
    v->at.in += MARGIN;
    v->at.out += MARGIN;
    return NULL;
}

static void close_impl(impl *s) {
    if (s->vkfft) s->calls->close(s->vkfft);
    else if (s->cu) cufft_end(s->cu);
    vd_fft_destroy(s->plan);
    vd_convolve_destroy(s->convolve);
}

/* ---- running ---- */

/* Records transform number i of a list. If two alternate, odd ones are the inverse of the one before. */
static vd_result record(bench *b, const impl *s, vd_list *list, int i) {
    vd_fft_io io = { 0 };
    bool second = i % 2 != 0;
    if (s->convolve) return vd_convolve_run(s->convolve, list, b->in, b->out);
    if (!s->plan) return record_copy(list, b->copy, b->in, b->out, b->bytes);
    io.in = s->in_place || (s->inverse_too && second) ? b->out : b->in;
    io.out = b->out;
    if (s->back) io.direction = VD_FFT_INVERSE;
    if (s->inverse_too && second) io.out = b->back;
    if ((s->in_place || s->inverse_too) && second) io.direction = VD_FFT_INVERSE;
    return vd_fft_run(s->plan, list, &io);
}

static double time_list(bench *b, const impl *s, int count) {
    vd_list *list = begin(b->ctx);
    for (int i = 0; i < count; i++)
        if (record(b, s, list, i)) die("recording", vd_error_text());
    if (vd_list_end(list)) die("vd_list_end", vd_error_text());
    double start = now();
    submit(b->ctx, list);
    return now() - start;
}

/* Returns the seconds for one batch of `count`. */
static double time_of(bench *b, const impl *s, int count) {
    if (!s->cu && !s->vkfft) return time_list(b, s, count);
    double start = now();
    if (s->vkfft) {
        if (s->calls->run(s->vkfft, count)) die(s->name, "failed");
        return now() - start;
    }
    s->cu->inverse_too = s->inverse_too;
    for (int i = 0; i < count; i++)
        if (cufft_run(s->cu, i)) die("cuFFT", "a call failed");
    if (s->cu->synchronize()) die("cuCtxSynchronize", "failed");
    return now() - start;
}

/* ---- comparing with FFTW ---- */

/* Fills the data and runs the transform once. */
static void run_once(bench *b, const impl *s) {
    if (s->in_place) {
        impl copy = impl_of("copy");
        time_of(b, &copy, 1);
    }
    time_of(b, s, 1);
}

#if HAS_FFTW
static void read_sample(bench *b, const size *s, const impl *which, uint64_t number, float *to) {
    sample_range p = range_of(s, b->bytes, number, which->cu != NULL);
    vd_result result = VD_OK;
    if (which->cu) {
        if (cufft_read(which->cu, number, to)) die("cuMemcpyDtoH", "failed");
        return;
    }
    if (p.stride == 1) result = vd_buffer_read(b->ctx, b->out, p.first * p.parts * 4, to, p.count * p.parts * 4);
    for (uint64_t i = 0; p.stride != 1 && i < p.count && !result; i++)
        result = vd_buffer_read(b->ctx, b->out, (p.first + i * p.stride) * 8, to + 2 * i, 8);
    if (result) die("vd_buffer_read", vd_error_text());
}

/* Compares the samples, for large ones only the last. */
static void compare(bench *b, const size *s, impl *const *impls, int count) {
    uint64_t last = count_of(s, b->bytes) - 1, first = is_convolution(s) && points(s) > 1u << 20 ? last : 0;
    for (uint64_t number = first; number <= last; number += last > first ? last - first : 1) {
        fftw_complex *right[2] = { NULL, NULL }; /* the second one for cuFFT if its samples differ */
        float *found = (float *)xmalloc(points(s) * 8);
        for (int i = 0; i < count; i++) {
            bool other = is_columns(s) && impls[i]->cu;
            if (impls[i]->none[0]) continue;
            if (!right[other]) right[other] = expected_sample(&b->x, s, b->bytes, number, other);
            run_once(b, impls[i]);
            read_sample(b, s, impls[i], number, found);
            double error = error_of(right[other], found, range_of(s, b->bytes, number, other));
            if (error > impls[i]->error) impls[i]->error = error;
        }
        free(found);
        fftw_free(right[0]);
        fftw_free(right[1]);
    }
}
#else
static void compare(bench *b, const size *s, impl *const *impls, int count) {
    (void)b, (void)s, (void)impls, (void)count;
}
#endif

/* Excludes an implementation with a wrong result. */
static void exclude_wrong(impl *s) {
    if (s->error <= 1e-4 || s->none[0]) return;
    snprintf(s->none, sizeof s->none, "its result is WRONG, by %.3g of it", s->error);
}

/* ---- one size ---- */

enum { IMPLS = 4 };          /* ours, cuFFT, VkFFT, VkFFT on CUDA */

static void print_pair(const bench *b, const char *name, const char *text, const impl *ours, const impl *theirs,
                       int count, double bound) {
    bench_pair pair;
    char why[320];
    if (theirs->none[0]) {
        snprintf(why, sizeof why, "%s: %s", theirs->name, theirs->none);
        bench_not_run(name, text, why);
        return;
    }
    memset(&pair, 0, sizeof pair);
    pair.name = name;
    pair.size = text;
    pair.rival = theirs->name;
    memcpy(pair.ours, ours->seconds, sizeof pair.ours);
    memcpy(pair.theirs, theirs->seconds, sizeof pair.theirs);
    pair.rounds = count ? b->rounds : 1;
    pair.scale = 1e3 / (count ? count : 1);
    pair.unit = "ms";
    pair.bound = bound;
    bench_print(&pair);
}

/* The first recording may compile kernels. Records the reason if that fails. */
static void try_to_record(bench *b, impl *which) {
    vd_list *list = begin(b->ctx);
    if (record(b, which, list, 0)) keep_reason(which, vd_error_text());
    vd_list_discard(list);
}

/* Measures planning, compiling and the first result, once. */
static void first_of(bench *b, const size *s, impl *which, void (*open)(bench *, const size *, impl *)) {
    double start = now();
    open(b, s, which);
    if (!which->none[0] && !which->vkfft) try_to_record(b, which);
    if (!which->none[0]) time_of(b, which, 1);
    which->seconds[0] = now() - start;
}

static void rounds_of(bench *b, impl *const *impls, int many, int count) {
    for (int i = -1; i < b->rounds; i++)
        for (int j = 0; j < many; j++)
            /* round -1 is a warm-up */
            if (!impls[j]->none[0]) impls[j]->seconds[i < 0 ? 0 : i] = time_of(b, impls[j], count);
}

/* Returns how many transforms take about 50 ms, an even number if two alternate. */
static int count_for(bench *b, const impl *s) {
    double once = time_of(b, s, 2) / 2;
    int count = once > 0.05 ? 1 : (int)(0.05 / once) + 1;
    return s->in_place || s->inverse_too ? (count + 1) / 2 * 2 : count;
}

static bool is_power(const size *s) {
    return s->what == COMPLEX && s->rank == 1 && s->n[0] >= 64 && s->n[0] <= 4096 && !(s->n[0] & (s->n[0] - 1));
}

/* Compares forward and inverse complex transforms with cuFFT. Returns whether the data was restored. */
static bool bench_both(bench *b, const size *s, const char *text, impl *ours, impl *cu) {
    impl *const impls[] = { ours, cu };
    float found[16], given[16];
    double wrong = 0;
    if (s->what != COMPLEX || cu->none[0]) return true;
    ours->inverse_too = cu->inverse_too = true;
    int count = count_for(b, ours);
    rounds_of(b, impls, 2, count);
    print_pair(b, "fft-both", text, ours, cu, count / 2, s->bound);
    uint64_t from = batch_of(s, b->bytes) * points(s) - 8;
    if (vd_buffer_read(b->ctx, b->back, from * 8, found, sizeof found)) die("vd_buffer_read", vd_error_text());
    take(&b->x, from, 1, 8, given);
    for (int i = 0; i < 16; i++) wrong = fmax(wrong, fabs((double)(found[i] - given[i])));
    ours->inverse_too = cu->inverse_too = false;
    return wrong < 1e-4;
}

static const char *explain(const impl *ours) {
    return ours->plan ? vd_fft_explain(ours->plan) : vd_convolve_explain(ours->convolve);
}

/* Compares our plans with and without packed rows. Returns whether the result is right. */
static bool bench_packed(bench *b, const size *s, const char *text, const impl *ours, double most) {
    impl packed = impl_of("packed"), alone = *ours, *const impls[] = { &packed, &alone };
    if (!may_pack(s) || batch_of(s, b->bytes) < 2) return true;
    open_packed(b, s, &packed);
    if (!packed.none[0]) try_to_record(b, &packed);
    compare(b, s, impls, 1);
    int count = count_for(b, &alone);
    rounds_of(b, impls, 2, count);
    print_pair(b, "fft", text, &alone, &packed, count, 0);
    if (!packed.none[0]) printf("bench fft-error %s packed=%.3g\n%s", text, packed.error, explain(&packed));
    close_impl(&packed);
    return packed.error <= most;
}

/* The first implementation is ours. */
static bool bench_rounds(bench *b, const size *s, const char *text, impl *const *all) {
    impl *ours = all[0], *cu = all[1], *vkfft = all[2], copy = impl_of("copy");
    impl *const impls[] = { ours, cu, vkfft, all[3], &copy };
    compare(b, s, impls, IMPLS);
    for (int i = 1; i < IMPLS; i++) exclude_wrong(impls[i]);
    int count = count_for(b, ours);
    rounds_of(b, impls, IMPLS + 1, count);
    print_pair(b, "fft", text, ours, cu, count, s->bound);
    print_pair(b, "fft", text, ours, vkfft, count, 1);
    print_pair(b, "fft", text, ours, all[3], count, 1);
    print_pair(b, "fft", text, ours, &copy, count, on_processor ? 0 : s->copy);
    if (!vkfft->none[0] && is_power(s)) {
        b->product *= bench_median(ours->seconds, b->rounds) / bench_median(vkfft->seconds, b->rounds);
        b->factors++;
    }
    return bench_both(b, s, text, ours, cu);
}

static void print_errors(const char *text, impl *const *impls, double most, bool right) {
    printf("bench fft-error %s ", text);
    for (int i = 0; i < IMPLS; i++)
        if (impls[i]->error >= 0) printf("%s=%.3g ", impls[i]->name, impls[i]->error);
    printf("bound=%.3g %s\n", most, !right ? "WRONG" : impls[0]->error < 0 ? "not compared" : "ok");
}

/* Compares measured with estimated kernels of our plans. Returns whether the result is right. */
static bool bench_measured(bench *b, const size *s, const char *text, const impl *ours, double most) {
    impl measured = impl_of("measured"), estimated = *ours, *const impls[] = { &measured, &estimated };
    if (!b->measure) return true;
    double start = now();
    estimated.name = "estimated";
    b->rigor = b->measure;
    open_ours(b, s, &measured);
    b->rigor = VD_FFT_RIGOR_DEFAULT;
    printf("bench fft-measuring %s took %.4g ms\n", text, 1e3 * (now() - start));
    compare(b, s, impls, 1);
    int count = count_for(b, &estimated);
    rounds_of(b, impls, 2, count);
    if (measured.none[0]) bench_not_run("fft-measured", text, measured.none);
    else print_pair(b, "fft-measured", text, &measured, &estimated, count, 0);
    if (!measured.none[0]) printf("bench fft-error %s measured=%.3g\n%s", text, measured.error, explain(&measured));
    fflush(stdout);
    close_impl(&measured);
    return measured.error <= most;
}

static bool bench_size(bench *b, const size *s) {
    char text[64];
    impl ours = impl_of("ours"), cu = impl_of("cufft"), vkfft = impl_of("vkfft"), cuda = impl_of("vkfft-cuda");
    impl *const impls[] = { &ours, &cu, &vkfft, &cuda };
    double most = (0.5 * 1.1921e-7 * log2((double)points(s)) + 1e-8) * (is_convolution(s) ? 3 : 1);
    name_of(s, text, sizeof text);
    if (!batch_of(s, b->bytes)) { bench_not_run("fft", text, "larger than the data"); return true; }
    first_of(b, s, &ours, open_ours);
    if (ours.none[0]) { bench_not_run("fft", text, ours.none); close_impl(&ours); return true; }
    first_of(b, s, &vkfft, open_vkfft);
    if (!vkfft.none[0]) print_pair(b, "fft-first", text, &ours, &vkfft, 0, s->what == COMPLEX ? 0.5 : 0);
    if (!b->no_cufft) cu.cu = &b->cu;
    keep_reason(&cu, b->no_cufft ? b->no_cufft : cufft_begin(&b->cu, s));
    open_vkfft_cuda(b, s, &cuda);
    bool came_back = bench_rounds(b, s, text, impls), right = ours.error <= most && came_back;
    print_errors(text, impls, most, right);
    printf("%s", explain(&ours));
    right &= bench_packed(b, s, text, &ours, most);
    right &= bench_measured(b, s, text, &ours, most);
    for (int i = IMPLS - 1; i >= 0; i--) close_impl(impls[i]);
    return right;
}

/* ---- all sizes ---- */

/* Makes drivers and compilers load everything they load once. */
static void warm(bench *b) {
    static const size any = { COMPLEX, 1, { 48, 0, 0 }, 0, 0 };
    impl ours = impl_of("ours"), vkfft = impl_of("vkfft");
    first_of(b, &any, &ours, open_ours);
    first_of(b, &any, &vkfft, open_vkfft);
    close_impl(&vkfft);
    close_impl(&ours);
}

static void open_buffers(bench *b) {
    vd_buffer_desc desc = { 0 };
    desc.type = VD_F32X2;
    desc.shape[0] = b->bytes / 8;
    desc.exportable = b->native.backend == VD_BACKEND_OPENCL;
    b->in = vd_buffer_create(b->ctx, &desc);
    b->out = vd_buffer_create(b->ctx, &desc);
    if (!b->no_cufft) b->back = vd_buffer_create(b->ctx, &desc);
    if (!b->in.id || !b->out.id || (!b->no_cufft && !b->back.id)) die("vd_buffer_create", vd_error_text());
    b->copy = copy_kernel(b->ctx);
    fill(b->ctx, b->in, &b->x, b->bytes);
    if (vd_wait_idle(b->ctx)) die("vd_wait_idle", vd_error_text());
}

static void open_bench(bench *b) {
    const char *bytes = getenv("BENCH_BYTES"), *rounds = getenv("BENCH_ROUNDS");
    const char *measure = getenv("BENCH_MEASURE");
    memset(b, 0, sizeof *b);
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 0); /* first results measure a cold start */
    setenv("POCL_KERNEL_CACHE", "0", 0);
    if (vd_context_create(NULL, &b->ctx)) die("vd_context_create", vd_error_text());
    if (vd_native_use(b->ctx, 0, 0, keep_native, b)) die("vd_native_use", vd_error_text());
    b->product = 1;
    if (measure && atoi(measure)) b->measure = atoi(measure) == 1 ? VD_FFT_MEASURE : VD_FFT_PATIENT;
    on_processor = vd_device(b->ctx, 0)->type == VD_DEVICE_CPU;
    b->rounds = rounds ? atoi(rounds) : 7;
    if (b->rounds < 1 || b->rounds > BENCH_ROUNDS_MAX) die("BENCH_ROUNDS", rounds);
    b->bytes = bytes ? strtoull(bytes, NULL, 0) : on_processor ? 1u << 24 : 1u << 30;
    if (b->bytes < 4096) die("BENCH_BYTES", "at least 4096");
    read_max_batch();
    b->x = make_numbers(b->bytes / 8);
    b->no_cufft = on_processor ? "the device is a processor" : cufft_open(&b->cu, &b->x, b->bytes);
    b->vkfft_cuda.none = b->no_cufft ? b->no_cufft : load_vkfft_cuda(&b->vkfft_cuda, &b->cu);
    open_buffers(b);
}

int main(int argc, char **argv) {
    bench b;
    bool right = true;
    open_bench(&b);
    warm(&b);
    printf("bench fft on %s, %llu bytes\n", vd_device(b.ctx, 0)->name, (unsigned long long)b.bytes);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[64];
        bool wanted = argc < 2 && (!on_processor || is_power(&sizes[i]));
        name_of(&sizes[i], text, sizeof text);
        for (int j = 1; j < argc; j++) wanted |= !strcmp(text, argv[j]);
        if (wanted) right &= bench_size(&b, &sizes[i]);
    }
    if (b.factors == 7) {
        double mean = pow(b.product, 1.0 / 7), bound = 1 / 1.5;
        printf("bench fft-mean 64-4096 ratio=%.3f bound=%.3g %s\n", mean, bound, mean <= bound ? "ok" : "short");
    }
    free(b.x.data);
    vd_context_destroy(b.ctx);
    return right ? 0 : 1;
}
