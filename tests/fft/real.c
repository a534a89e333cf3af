/* Transforms of reals compared with FFTW in double: half spectra and their inverse, cosine and sine transforms I to IV;
   lengths, axes, norms, strides, types, in and out of place, long axes; simple calls; invalid input.
       real [-a] [-p I/N] [NAME]      -a: more lengths; -p: only part I of N of all lengths up to 1200 and of 500 random
           lengths up to 2^22; NAME: only this test
       real vkfft                     half spectra with the engine VkFFT
   The permitted error is that of complex transforms of the same logical length (tests/fft/transforms.c). */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "common.h"

#include <fftw3.h>

#include <math.h>

#define NOWHERE UINT64_MAX

static vd_fft_engine engine; /* of all plans that are compared with FFTW */
static unsigned first, step; /* of the lengths 41 to 1200: those with index first, first + step, …; step = 0: none */

typedef struct sample {
    vd_fft_kind kind;
    uint64_t shape[4];
    uint32_t axes;
    vd_fft_direction direction;
    vd_fft_norm norm;
    bool in_place;
    uint64_t in_stride[4], out_stride[4]; /* zeros: C order, padded in place */
    vd_type type, in_type, out_type;      /* 0: VD_F32 */
    uint64_t in_count[4], out_count[4];   /* of the reals or the input, of the bins or the output; 0: all */
    bool pack_rows;
    vd_fft_hook load;
    uint64_t in_start[4], out_start[4];
} sample;

/* One of the two arrays of a transform. */
typedef struct array {
    uint64_t shape[4], stride[4], count, span; /* in numbers; a complex number counts once */
    uint64_t there[4], start[4];               /* number of indices that are in memory, and the first of them */
    uint32_t parts;                            /* reals per number */
    vd_type type;
} array;

static uint32_t dimensions_of(const sample *s) {
    uint32_t d = 0;
    while (d < 4 && s->shape[d]) d++;
    return d;
}

static uint32_t axes_of(const sample *s) { return s->axes ? s->axes : 1u << (dimensions_of(s) - 1); }

static uint32_t halved_axis(const sample *s) {
    uint32_t i = dimensions_of(s);
    while (!(axes_of(s) >> --i & 1)) { }
    return i;
}

/* The array of reals, or the other one. The reals are the input, except for the inverse of a half spectrum. */
static array array_of(const sample *s, bool other) {
    array a = { { 0 }, { 0 }, 1, 1, { 0 }, { 0 }, 1, other ? s->out_type : s->in_type };
    const uint64_t *stride = other ? s->out_stride : s->in_stride, *count = other ? s->out_count : s->in_count;
    uint32_t d = dimensions_of(s), i;
    uint64_t dense = 1;
    bool real = s->kind == VD_FFT_REAL;
    a.parts = real && other ? 2 : 1;
    if (!a.type) a.type = s->type ? s->type : VD_F32;
    for (i = d; i-- > 0;) {
        a.shape[i] = real && other && i == halved_axis(s) ? s->shape[i] / 2 + 1 : s->shape[i];
        a.there[i] = count[i] ? count[i] : a.shape[i];
        a.start[i] = other ? s->out_start[i] : s->in_start[i];
        a.count *= a.shape[i];
        a.stride[i] = stride[0] | stride[1] | stride[2] | stride[3] ? stride[i] : dense;
        if (real && !other && s->in_place) /* the padding for the bins */
            dense *= s->out_count[i]       ? (i == halved_axis(s) ? 2 : 1) * s->out_count[i]
                     : i == halved_axis(s) ? 2 * (s->shape[i] / 2 + 1)
                                           : a.shape[i];
        else
            dense *= a.there[i];
        a.span += (a.there[i] - 1) * a.stride[i];
    }
    return a;
}

static size_t part_size(const array *a) { return (size_t)vd_type_size(a->type); }
static size_t bytes_of(const array *a) { return (size_t)a->span * a->parts * part_size(a); }

/* NOWHERE: not in memory. */
static uint64_t place_of(const array *a, uint64_t i) {
    uint64_t at = 0;
    for (uint32_t d = 4; d-- > 0;) {
        if (!a->shape[d]) continue;
        uint64_t index = i % a->shape[d] - a->start[d]; /* may wrap around */
        if (index >= a->there[d]) return NOWHERE;
        at += index * a->stride[d];
        i /= a->shape[d];
    }
    return at;
}

/* Converts to f16; for NaN, infinities and numbers that f16 represents exactly. */
static uint16_t half_of(double x) {
    int exponent;
    double m = frexp(fabs(x), &exponent);
    if (!isfinite(x)) return isnan(x) ? 0x7e00 : x < 0 ? 0xfc00 : 0x7c00;
    return (uint16_t)((x < 0 ? 0x8000 : 0) | (x == 0 ? 0 : ((exponent + 14) << 10) | ((int)(m * 2048) & 1023)));
}

static double of_half(uint16_t h) {
    double x = h >> 10 & 31 ? ldexp((double)((h & 1023) | 1024), (h >> 10 & 31) - 25) : ldexp((double)(h & 1023), -24);
    if ((h >> 10 & 31) == 31) x = h & 1023 ? (double)NAN : (double)INFINITY;
    return h >> 15 ? -x : x;
}

static void put_number(vd_type type, void *at, double x) {
    float f = (float)x;
    uint16_t h;
    if (type == VD_F64) memcpy(at, &x, sizeof x);
    if (type == VD_F32) memcpy(at, &f, sizeof f);
    if (type != VD_F16) return;
    h = half_of(x);
    memcpy(at, &h, sizeof h);
}

static double get_number(vd_type type, const void *at) {
    float f = 0;
    double x = 0;
    uint16_t h = 0;
    if (type == VD_F64) { memcpy(&x, at, sizeof x); return x; }
    if (type == VD_F32) { memcpy(&f, at, sizeof f); return (double)f; }
    memcpy(&h, at, sizeof h);
    return of_half(h);
}

/* Copies between numbers in C order and their positions in memory. */
static void scatter(const array *a, const double *from, unsigned char *to) {
    for (uint64_t i = 0; i < a->count; i++)
        for (uint32_t c = 0; c < a->parts && place_of(a, i) != NOWHERE; c++)
            put_number(a->type, to + (place_of(a, i) * a->parts + c) * part_size(a), from[i * a->parts + c]);
}

static void gather(const array *a, const unsigned char *from, double *to) {
    for (uint64_t i = 0; i < a->count; i++)
        for (uint32_t c = 0; c < a->parts; c++)
            to[i * a->parts + c] = place_of(a, i) == NOWHERE
                                       ? 0
                                       : get_number(a->type, from + (place_of(a, i) * a->parts + c) * part_size(a));
}

/* Sets numbers that are not in memory to zero. */
static void forget_outside(const array *a, double *x) {
    for (uint64_t i = 0; i < a->count * a->parts; i++) if (place_of(a, i / a->parts) == NOWHERE) x[i] = 0;
}

/* Multiples of 1 / 1024, which every type represents exactly, or of 2^-23. */
static void random_numbers(double *x, uint64_t count, vd_type type) {
    uint64_t state = count * 2654435761u + 1;
    for (uint64_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[i] = type == VD_F16 ? (double)((int)(state >> 53) - 1024) / 1024 : (double)(state >> 40) / 8388608.0 - 1;
    }
}

/* ---- the oracle ---- */

static const fftw_r2r_kind r2r_kinds[2][8] = {
    { FFTW_REDFT00, FFTW_REDFT10, FFTW_REDFT01, FFTW_REDFT11, FFTW_RODFT00, FFTW_RODFT10, FFTW_RODFT01, FFTW_RODFT11 },
    { FFTW_REDFT00, FFTW_REDFT01, FFTW_REDFT10, FFTW_REDFT11, FFTW_RODFT00, FFTW_RODFT01, FFTW_RODFT10, FFTW_RODFT11 }
};

/* Transforms x to y, both in C order. Returns the factor of a round trip. */
static double transform(const sample *s, double *x, double *y) {
    array in = array_of(s, false), out = array_of(s, true);
    bool back = s->kind == VD_FFT_REAL && s->direction, real = s->kind == VD_FFT_REAL;
    fftw_iodim along[4], across[4];
    fftw_r2r_kind kinds[4];
    int along_count = 0, across_count = 0, is = 1, os = 1;
    double product = 1;
    fftw_plan plan;
    for (uint32_t i = dimensions_of(s); i-- > 0;) {
        fftw_iodim d = { (int)s->shape[i], back ? os : is, back ? is : os };
        if (axes_of(s) >> i & 1) {
            int family = ((int)s->kind - VD_FFT_DCT1) % 4;
            product *= real ? (double)d.n : 2 * (double)(d.n + (family ? 0 : s->kind == VD_FFT_DST1 ? 1 : -1));
            if (!real) kinds[along_count] = r2r_kinds[s->direction][(int)s->kind - VD_FFT_DCT1];
            memmove(along + 1, along, (size_t)along_count++ * sizeof *along); /* the halved axis comes last */
            along[0] = d;
        } else {
            across[across_count++] = d;
        }
        is *= (int)in.shape[i];
        os *= (int)out.shape[i];
    }
    if (!real) plan = fftw_plan_guru_r2r(along_count, along, across_count, across, x, y, kinds, FFTW_ESTIMATE);
    else if (back)
        plan = fftw_plan_guru_dft_c2r(along_count, along, across_count, across, (fftw_complex *)x, y, FFTW_ESTIMATE);
    else plan = fftw_plan_guru_dft_r2c(along_count, along, across_count, across, x, (fftw_complex *)y, FFTW_ESTIMATE);
    assert_non_null(plan);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    return product;
}

static double scale_of(const sample *s, double product) {
    if (s->norm == VD_FFT_NORM_ORTHO) return 1 / sqrt(product);
    return s->direction && s->norm == VD_FFT_NORM_DEFAULT ? 1 / product : 1;
}

/* ---- one sample ---- */

static void say(const sample *s) {
    print_error("  kind %d, shape", (int)s->kind);
    for (uint32_t i = 0; i < dimensions_of(s); i++) print_error(" %llu", (unsigned long long)s->shape[i]);
    print_error(", axes 0x%x, direction %d, norm %d, in place %d\n", axes_of(s), (int)s->direction, (int)s->norm,
                s->in_place);
}

static double compare(const double *is, const double *wanted, uint64_t n, double scale) {
    double wrong = 0, all = 0;
    for (uint64_t i = 0; i < n; i++) {
        wrong += (is[i] - wanted[i] * scale) * (is[i] - wanted[i] * scale);
        all += wanted[i] * scale * wanted[i] * scale;
    }
    return sqrt(wrong / all);
}

static double allowed_error(const sample *s, const array *to, double product) {
    if (engine) return 2 * 1.1921e-7 * log2(product) + 2e-7; /* as in tests/fft/transforms.c */
    double eps = s->type == VD_F64 ? 2.2204e-16 : 1.1921e-7, stored = to->type == VD_F16   ? 4.9e-4
                                                                      : to->type == VD_F32 ? 6e-8
                                                                                           : 1.2e-16;
    return 0.5 * eps * log2(product < 2 ? 2 : product) + (stored > eps / 2 ? stored : eps / 2)
           + (s->type == VD_F64 ? eps : 0);
}

static void negate(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k;
    (void)at;
    (void)user;
    v->re = vc_neg(v->re);
}

static vd_fft_desc desc_of(const sample *s) {
    vd_fft_desc desc = { 0 };
    desc.kind = s->kind;
    memcpy(desc.shape, s->shape, sizeof desc.shape);
    desc.axes = s->axes;
    desc.norm = s->norm;
    desc.type = s->type;
    desc.in_type = s->in_type;
    desc.out_type = s->out_type;
    desc.padded = s->in_place && s->kind == VD_FFT_REAL && dimensions_of(s) == halved_axis(s) + 1;
    memcpy(desc.in_stride, s->in_stride, sizeof desc.in_stride);
    memcpy(desc.out_stride, s->out_stride, sizeof desc.out_stride);
    memcpy(desc.in_count, s->in_count, sizeof desc.in_count);
    memcpy(desc.out_count, s->out_count, sizeof desc.out_count);
    memcpy(desc.in_start, s->in_start, sizeof desc.in_start);
    memcpy(desc.out_start, s->out_start, sizeof desc.out_start);
    desc.pack_rows = s->pack_rows;
    desc.load = s->load;
    desc.engine = engine;
    return desc;
}

/* Whether element i of a half spectrum belongs to bin 0 or, for even n, to bin n / 2. */
static bool is_end(const sample *s, uint64_t i) {
    uint64_t n = s->shape[halved_axis(s)];
    for (uint32_t d = halved_axis(s) + 1; d < dimensions_of(s); d++) i /= s->shape[d];
    i %= n / 2 + 1;
    return i == 0 || 2 * i == n;
}

/* Input of an inverse half-spectrum transform: the spectrum of reals, with changed imaginary parts in the bins 0 and n
   / 2, which VkFFT does not ignore. */
static void half_spectrum(const sample *s, double *x) {
    sample forward = *s;
    array reals = array_of(s, false), other = array_of(s, true);
    double *y = (double *)fftw_malloc((size_t)reals.count * sizeof *y);
    forward.direction = VD_FFT_FORWARD;
    random_numbers(y, reals.count, reals.type);
    transform(&forward, y, x);
    for (uint64_t i = 0; i < 2 * other.count; i++) x[i] = (double)(float)x[i];
    for (uint64_t i = 0; !engine && i < other.count; i++) if (is_end(s, i)) x[2 * i + 1] = (double)(i % 7) - 5;
    fftw_free(y);
}

/* With one axis these imaginary parts are ignored. With several axes they are transformed along the other axes first,
   as FFTW does. */
static void forget_ends(const sample *s, double *x) {
    array other = array_of(s, true);
    for (uint64_t i = 0; i < other.count; i++) if (axes_of(s) == 1u << halved_axis(s) && is_end(s, i)) x[2 * i + 1] = 0;
}

static void run_sample(const sample *s, vd_buffer in, vd_buffer out, size_t size, unsigned char *result, vd_fft *plan) {
    vd_fft_io io = { 0 };
    io.direction = s->direction;
    io.in = in;
    if (!s->in_place) io.out = out;
    if (plan && !vd_fft_run(plan, vd_immediate(device_context, 0, 0), &io)
        && !vd_buffer_read(device_context, out, 0, result, size))
        return;
    say(s);
    fail_msg("%s", vd_error_text());
}

static void check_one(const sample *s) {
    vd_fft_desc desc = desc_of(s);
    if (passes_over_form(&desc, s->direction)) return;
    bool back = s->kind == VD_FFT_REAL && s->direction;
    array from = array_of(s, back), to = array_of(s, !back);
    size_t in_size = bytes_of(&from), out_size = bytes_of(&to), room = in_size > out_size ? in_size : out_size;
    unsigned char *data = (unsigned char *)calloc(1, room), *result = (unsigned char *)calloc(1, room),
                  *after = (unsigned char *)malloc(room);
    double *x = (double *)fftw_malloc((size_t)from.count * 2 * sizeof *x),
           *y = (double *)fftw_malloc((size_t)to.count * 2 * sizeof *y);
    double *is = (double *)malloc((size_t)to.count * 2 * sizeof *is);
    assert_true(data && result && after && x && y && is);
    if (back) half_spectrum(s, x);
    else random_numbers(x, from.count, from.type);
    scatter(&from, x, data);
    forget_outside(&from, x);
    if (!back) gather(&from, data, x); /* a position may be read several times */
    else forget_ends(s, x);
    vd_fft *plan = vd_fft_create(device_context, &desc);
    vd_buffer in = buffer_of(device_context, VD_U8, room, data),
              out = s->in_place ? in : buffer_of(device_context, VD_U8, room, NULL);
    run_sample(s, in, out, out_size, result, plan);
    gather(&to, result, is);
    double product = transform(s, x, y);
    forget_outside(&to, y);
    double error = compare(is, y, to.count * to.parts, scale_of(s, product)), allowed = allowed_error(s, &to, product);
    if (!(error <= allowed)) {
        say(s);
        fail_msg("error %.3g, allowed %.3g; the plan is\n%s", error, allowed, vd_fft_explain(plan));
    }
    if (!s->in_place) {
        assert_int_equal(vd_buffer_read(device_context, in, 0, after, room), VD_OK);
        assert_memory_equal(after, data, room); /* the input is unchanged */
        vd_buffer_destroy(device_context, out);
    }
    vd_buffer_destroy(device_context, in);
    vd_fft_destroy(plan);
    free(data);
    free(result);
    free(after);
    free(is);
    fftw_free(x);
    fftw_free(y);
}

/* If an axis has odd length, also with two rows packed into one. */
static void check(const sample *s) {
    sample packed = *s;
    bool odd = false;
    check_one(s);
    packed.pack_rows = true;
    for (uint32_t d = 0; d < dimensions_of(s); d++) odd |= axes_of(s) >> d & 1 && s->shape[d] % 2;
    if (odd) check_one(&packed);
}

/* ---- right numbers ---- */

/* Batches of 3, alternating direction and placement. */
static void check_length(vd_fft_kind kind, uint64_t n) {
    sample s = { .kind = kind, .shape = { 3, n } };
    s.direction = (n + (uint64_t)kind) & 1 ? VD_FFT_INVERSE : VD_FFT_FORWARD;
    s.in_place = (n + (uint64_t)kind) >> 1 & 1;
    if (kind == VD_FFT_DCT1 && n == 1) return; /* DCT-I of length 1 does not exist */
    check(&s);
}

static void lengths_of(vd_fft_kind kind) {
    static const uint16_t many[] = { 45, 63, 72, 64, 74, 128, 101, 225, 256, 257, 343, 509, 512, 1000, 1018 };
    need_device();
    for (uint64_t n = 41 + first; step && n <= 1200; n += step) check_length(kind, n);
    if (first) return;
    for (uint64_t n = 1; n <= 6; n++) check_length(kind, n);
    /* in two stages, of all or of half the length */
    check_length(kind, kind == VD_FFT_DCT1 ? 41 : kind == VD_FFT_DST1 ? 39 : kind % 2 ? 45 : 72);
    /* by a direct stage and by Bluestein's algorithm, of half the length or of all of it */
    if (kind % 3 == 1) check_length(kind, kind == VD_FFT_DST1 ? 73 : 74);
    if (kind % 3 == 0) check_length(kind, kind == VD_FFT_DCT1 ? 75 : 37);
    if (kind % 3 == 2) check_length(kind, kind == VD_FFT_REAL ? 262 : 131);
    for (uint64_t n = 7; all_cases && n <= 40; n++) check_length(kind, n);
    for (size_t i = 0; all_cases && i < COUNT(many); i++) check_length(kind, many[i]);
}

static void half_spectra(void **state) { (void)state; lengths_of(VD_FFT_REAL); }
static void cosine_1(void **state) { (void)state; lengths_of(VD_FFT_DCT1); }
static void cosine_2(void **state) { (void)state; lengths_of(VD_FFT_DCT2); }
static void cosine_3(void **state) { (void)state; lengths_of(VD_FFT_DCT3); }
static void cosine_4(void **state) { (void)state; lengths_of(VD_FFT_DCT4); }
static void sine_1(void **state) { (void)state; lengths_of(VD_FFT_DST1); }
static void sine_2(void **state) { (void)state; lengths_of(VD_FFT_DST2); }
static void sine_3(void **state) { (void)state; lengths_of(VD_FFT_DST3); }
static void sine_4(void **state) { (void)state; lengths_of(VD_FFT_DST4); }

static void check_all(const sample *samples, size_t count) {
    need_device();
    for (size_t i = 0; i < count; i++) check(&samples[i]);
}

/* Shapes of one to four dimensions, of which one has a length that no work-group holds: with a prime factor above 31 in
   the length of the complex transform. */
static void check_random_length(uint64_t seed, uint64_t most) {
    uint64_t state = seed * 2654435761u + 7, others = 1;
    uint32_t rank = 1 + random_below(&state, 4), axis = random_below(&state, rank);
    sample s = { .kind = (vd_fft_kind)(VD_FFT_REAL + (seed + random_below(&state, 2)) % 9) };
    for (uint32_t i = 0; i < rank; i++) others *= s.shape[i] = i == axis ? 1 : 2 + random_below(&state, 4);
    s.shape[axis] = seed % 4 ? random_length(&state, 8200, most / others) : random_length(&state, 34, 8200);
    if (random_below(&state, 2)) s.shape[axis] *= 2;
    if (s.kind == VD_FFT_DCT1) s.shape[axis]++;
    if (s.kind == VD_FFT_DST1) s.shape[axis]--;
    s.axes = 1u << axis | (random_below(&state, 2) ? random_below(&state, 1u << rank) : 0);
    s.direction = random_below(&state, 2) ? VD_FFT_INVERSE : VD_FFT_FORWARD;
    s.norm = (vd_fft_norm)random_below(&state, 3);
    s.type = random_below(&state, 3) || lacks_arithmetic(VD_F64) ? VD_F32 : VD_F64;
    s.in_place = random_below(&state, 2) && dimensions_of(&s) == halved_axis(&s) + 1;
    array in = array_of(&s, false), out = array_of(&s, true);
    if (!s.in_place) random_strides(&state, in.shape, rank, s.in_stride);
    if (!s.in_place) random_strides(&state, out.shape, rank, s.out_stride);
    check_one(&s);
}

/* Three passes, and five passes of Bluestein's algorithm. */
static void small_work_groups(void **state) {
    static const sample samples[] = {
        { .kind = VD_FFT_REAL, .shape = { 200000 } },
        { .kind = VD_FFT_DCT3, .shape = { 100000, 2 }, .axes = 1 },
        { .kind = VD_FFT_DCT4, .shape = { 3, 98415 } },
        { .kind = VD_FFT_REAL, .shape = { 3, 100003 }, .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_DST2, .shape = { 200006, 2 }, .axes = 1 },
    };
    vd_fft_desc desc = { 0 }, prime = { 0 };
    (void)state;
    need_device();
    prime.shape[0] = 100003;
    uint32_t shared = limit_shared_memory(512);
    desc.kind = VD_FFT_DCT4;
    desc.shape[0] = 98415;
    assert_int_equal(count_kernels(&desc), 6); /* of both directions */
    for (size_t i = 0; i < COUNT(samples); i++) {
        if (i == 3) limit_to_kernels(&prime, 5);
        check_one(&samples[i]);
    }
    limit_shared_memory(shared);
}

static void random_lengths(void **state) {
    static const sample chosen[] = {
        { .kind = VD_FFT_REAL, .shape = { 6293 } },
        { .kind = VD_FFT_REAL, .shape = { 2, 6293 }, .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_DST1, .shape = { 4096 } },
        { .kind = VD_FFT_REAL, .shape = { 16418 }, .in_place = true },
        { .kind = VD_FFT_REAL, .shape = { 20014, 3 }, .axes = 1, .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 3, 16418 }, .in_count = { 0, 7000 }, .out_count = { 0, 8000 } },
        { .kind = VD_FFT_DCT2, .shape = { 2, 16418 }, .in_count = { 0, 9000 }, .out_count = { 0, 300 } },
        { .kind = VD_FFT_DCT4, .shape = { 8209, 2 }, .axes = 1, .in_count = { 9 } },
        /* 2 * 3^13: three passes and a fold on a GPU */
        { .kind = VD_FFT_REAL, .shape = { 3188646 } },
        { .kind = VD_FFT_DCT4, .shape = { 3188646 }, .direction = VD_FFT_INVERSE },
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(chosen) && !first; i++) check_one(&chosen[i]);
    for (uint64_t i = first; i < 500; i += step ? step : 180) check_random_length(i, step ? 1 << 22 : 1 << 18);
}

static void axes(void **state) {
    static const sample samples[] = {
        { .kind = VD_FFT_REAL, .shape = { 12, 20 }, .axes = 3 },
        { .kind = VD_FFT_REAL, .shape = { 12, 20 }, .axes = 3, .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 12, 21 }, .axes = 3, .in_place = true },
        { .kind = VD_FFT_REAL, .shape = { 9, 14 }, .axes = 3, .direction = VD_FFT_INVERSE, .in_place = true },
        { .kind = VD_FFT_REAL, .shape = { 12, 20 }, .axes = 1 },
        { .kind = VD_FFT_REAL, .shape = { 13, 20 }, .axes = 1, .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 5, 8, 6 }, .axes = 7 },
        { .kind = VD_FFT_REAL, .shape = { 5, 8, 6 }, .axes = 7, .direction = VD_FFT_INVERSE, .in_place = true },
        { .kind = VD_FFT_REAL, .shape = { 5, 8, 6 }, .axes = 3, .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 5, 9, 6 }, .axes = 2 },
        { .kind = VD_FFT_REAL, .shape = { 3, 4, 5, 6 }, .axes = 15 },
        { .kind = VD_FFT_REAL, .shape = { 3, 4, 5, 6 }, .axes = 10, .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 1, 16, 1 }, .axes = 7 },
        { .kind = VD_FFT_REAL, .shape = { 1, 1, 1 }, .axes = 5, .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 37, 34 }, .axes = 3, .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 64, 64 }, .axes = 3, .norm = VD_FFT_NORM_ORTHO },
        { .kind = VD_FFT_DCT2, .shape = { 12, 20 }, .axes = 3 },
        { .kind = VD_FFT_DCT2, .shape = { 11, 20 }, .axes = 3, .direction = VD_FFT_INVERSE, .in_place = true },
        { .kind = VD_FFT_DCT1, .shape = { 5, 8, 6 }, .axes = 7, .in_place = true },
        { .kind = VD_FFT_DST1, .shape = { 5, 8, 6 }, .axes = 2, .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_DCT4, .shape = { 5, 8, 7 }, .axes = 6 },
        { .kind = VD_FFT_DST4, .shape = { 5, 8, 6 }, .axes = 5, .direction = VD_FFT_INVERSE, .in_place = true },
        { .kind = VD_FFT_DST2, .shape = { 3, 4, 5, 6 }, .axes = 15 },
        { .kind = VD_FFT_DST3, .shape = { 3, 4, 5, 6 }, .axes = 9, .norm = VD_FFT_NORM_ORTHO },
        { .kind = VD_FFT_DCT3, .shape = { 1, 16, 1 }, .axes = 7 },
    };
    (void)state;
    check_all(samples, COUNT(samples));
}

static void norms(void **state) {
    (void)state;
    need_device();
    for (int norm = VD_FFT_NORM_DEFAULT; norm <= VD_FFT_NORM_ORTHO; norm++)
        for (int direction = 0; direction < 2; direction++)
            for (int kind = VD_FFT_REAL; kind <= VD_FFT_DST4; kind++) {
                sample s = { .kind = (vd_fft_kind)kind,
                             .shape = { 2, 3 },
                             .direction = (vd_fft_direction)direction,
                             .norm = (vd_fft_norm)norm };
                check(&s);
            }
}

/* Rows too long for one kernel, and columns of them. */
static void long_axes(void **state) {
    static const sample samples[] = {
        { .kind = VD_FFT_REAL, .shape = { 2, 32768 } },
        { .kind = VD_FFT_REAL, .shape = { 2, 32768 }, .axes = 3, .direction = VD_FFT_INVERSE, .in_place = true },
        { .kind = VD_FFT_DCT2, .shape = { 2, 32768, 2 }, .axes = 2, .in_place = true },
        { .kind = VD_FFT_DST4, .shape = { 2, 19683 } },
    };
    static const sample more[] = {
        { .kind = VD_FFT_REAL, .shape = { 2, 40000 }, .axes = 3, .direction = VD_FFT_INVERSE, .in_place = true },
        { .kind = VD_FFT_REAL, .shape = { 2, 19683 }, .in_place = true },
        { .kind = VD_FFT_DCT3, .shape = { 32768, 2 }, .axes = 1 },
        { .kind = VD_FFT_REAL, .shape = { 2, 65536 }, .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 3, 40000, 2 }, .axes = 2, .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 3, 40000, 3 }, .axes = 2 },
        { .kind = VD_FFT_REAL, .shape = { 2, 19683 }, .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 16384, 6 }, .axes = 3, .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_DCT1, .shape = { 2, 20001 } },
        { .kind = VD_FFT_DST2, .shape = { 2, 19683 } },
        { .kind = VD_FFT_DST3, .shape = { 19683, 2 }, .axes = 1, .in_place = true },
        { .kind = VD_FFT_DCT4, .shape = { 2, 40000 } },
        { .kind = VD_FFT_DST1, .shape = { 3, 19682, 2 }, .axes = 2 },
        { .kind = VD_FFT_DST4, .shape = { 2, 1 << 20 } },
    };
    (void)state;
    check_all(samples, COUNT(samples));
    if (all_cases) check_all(more, COUNT(more));
}

static void strides(void **state) {
    static const sample samples[] = {
        { .kind = VD_FFT_REAL, .shape = { 12, 20 }, .in_stride = { 1, 12 }, .out_stride = { 1, 13 } },
        { .kind = VD_FFT_REAL, .shape = { 12, 20 }, .axes = 3, .direction = VD_FFT_INVERSE, .in_stride = { 23, 1 },
          .out_stride = { 1, 14 } },
        { .kind = VD_FFT_REAL, .shape = { 12, 20 }, .axes = 3, .direction = VD_FFT_INVERSE, .in_stride = { 24, 1 },
          .out_stride = { 11, 1 } },
        { .kind = VD_FFT_REAL, .shape = { 3, 15 }, .in_stride = { 40, 2 }, .out_stride = { 16, 2 },
          .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 5, 8, 6 }, .axes = 5, .out_stride = { 1, 20, 5 } },
        { .kind = VD_FFT_REAL, .shape = { 4, 10, 6 }, .axes = 2, .in_place = true, .in_stride = { 72, 1, 12 },
          .out_stride = { 36, 1, 6 } },
        { .kind = VD_FFT_DCT2, .shape = { 12, 20 }, .in_stride = { 1, 12 }, .out_stride = { 21, 1 } },
        { .kind = VD_FFT_DST3, .shape = { 5, 33, 6 }, .axes = 2, .direction = VD_FFT_INVERSE, .in_stride = { 6, 31, 1 },
          .out_stride = { 2, 10, 332 } },
        { .kind = VD_FFT_DCT4, .shape = { 3, 37, 2 }, .axes = 2, .in_place = true, .in_stride = { 3, 10, 1 },
          .out_stride = { 3, 10, 1 } },
        /* overlapping input rows */
        { .kind = VD_FFT_REAL, .shape = { 20, 64 }, .in_stride = { 16, 1 } },
        { .kind = VD_FFT_REAL, .shape = { 20, 64 }, .in_stride = { 1, 1 } },
        { .kind = VD_FFT_REAL, .shape = { 7, 33 }, .in_stride = { 10, 2 } },
        { .kind = VD_FFT_REAL, .shape = { 5, 12, 20 }, .axes = 6, .in_stride = { 7, 50, 1 } },
        { .kind = VD_FFT_REAL, .shape = { 3, 40000 }, .in_stride = { 100, 1 } },
        { .kind = VD_FFT_DCT2, .shape = { 9, 20 }, .in_stride = { 7, 1 } },
    };
    (void)state;
    check_all(samples, COUNT(samples));
}

/* Input that covers a part of the transform, and output of a part of the result. */
static void parts(void **state) {
    static const sample samples[] = {
        /* half spectra: two by two, one by one, two rows at once; by Bluestein's algorithm; one index, all but one, a
           part of either half */
        { .kind = VD_FFT_REAL, .shape = { 3, 64 }, .in_count = { 0, 8 } },
        { .kind = VD_FFT_REAL, .shape = { 3, 64 }, .in_count = { 0, 13 }, .out_count = { 0, 7 } },
        { .kind = VD_FFT_REAL, .shape = { 3, 64 }, .in_count = { 0, 1 }, .out_count = { 0, 32 },
          .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 3, 64 }, .in_count = { 0, 24 }, .out_count = { 0, 5 },
          .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 3, 64 }, .out_count = { 0, 17 }, .in_stride = { 71, 1 } },
        { .kind = VD_FFT_REAL, .shape = { 3, 15 }, .in_count = { 0, 4 }, .out_count = { 0, 3 } },
        { .kind = VD_FFT_REAL, .shape = { 3, 15 }, .in_count = { 0, 9 }, .out_count = { 0, 7 },
          .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 2, 262 }, .in_count = { 0, 20 }, .out_count = { 0, 20 } },
        { .kind = VD_FFT_REAL, .shape = { 4, 37 }, .in_count = { 0, 30 }, .out_count = { 0, 2 },
          .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 4, 131 }, .in_count = { 0, 80 }, .out_count = { 0, 3 } },
        { .kind = VD_FFT_REAL, .shape = { 3, 64 }, .in_count = { 0, 24 }, .out_count = { 0, 12 }, .in_place = true },
        { .kind = VD_FFT_REAL, .shape = { 3, 64 }, .in_count = { 0, 24 }, .in_place = true,
          .direction = VD_FFT_INVERSE },
        /* several axes, in all positions */
        { .kind = VD_FFT_REAL, .shape = { 12, 20 }, .axes = 3, .in_count = { 5, 7 }, .out_count = { 3, 4 } },
        { .kind = VD_FFT_REAL, .shape = { 12, 20 }, .axes = 3, .in_count = { 5, 7 }, .out_count = { 3, 4 },
          .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 6, 8, 10 }, .axes = 7, .in_count = { 3, 4, 6 } },
        { .kind = VD_FFT_REAL, .shape = { 6, 8, 10 }, .axes = 3, .out_count = { 2, 3 }, .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 6, 8, 10 }, .axes = 6, .in_count = { 0, 3, 2 }, .in_place = true },
        { .kind = VD_FFT_REAL, .shape = { 16, 5 }, .axes = 1, .in_count = { 4 }, .out_count = { 3 } },
        /* in two kernels, and in three */
        { .kind = VD_FFT_REAL, .shape = { 2, 40000 }, .in_count = { 0, 9000 }, .out_count = { 0, 4001 } },
        { .kind = VD_FFT_REAL, .shape = { 2, 40000 }, .in_count = { 0, 9000 }, .out_count = { 0, 4001 },
          .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_REAL, .shape = { 19683, 2 }, .axes = 1, .in_count = { 5000 }, .out_count = { 77 } },
        /* cosines and sines */
        { .kind = VD_FFT_DCT1, .shape = { 3, 41 }, .in_count = { 0, 9 }, .out_count = { 0, 30 } },
        { .kind = VD_FFT_DCT2, .shape = { 3, 64 }, .in_count = { 0, 9 }, .out_count = { 0, 13 } },
        { .kind = VD_FFT_DCT2, .shape = { 3, 45 }, .in_count = { 0, 20 }, .out_count = { 0, 44 },
          .direction = VD_FFT_INVERSE },
        { .kind = VD_FFT_DCT2, .shape = { 8, 12 }, .axes = 3, .in_count = { 3, 5 }, .out_count = { 3, 5 },
          .in_place = true },
        { .kind = VD_FFT_DCT3, .shape = { 3, 64 }, .in_count = { 0, 7 }, .out_count = { 0, 50 } },
        { .kind = VD_FFT_DCT4, .shape = { 3, 64 }, .in_count = { 0, 11 }, .out_count = { 0, 60 } },
        { .kind = VD_FFT_DCT4, .shape = { 3, 37 }, .in_count = { 0, 11 }, .out_count = { 0, 20 } },
        { .kind = VD_FFT_DST1, .shape = { 3, 39 }, .in_count = { 0, 8 }, .out_count = { 0, 21 } },
        { .kind = VD_FFT_DST2, .shape = { 3, 64 }, .in_count = { 0, 9 }, .out_count = { 0, 13 } },
        { .kind = VD_FFT_DST3, .shape = { 3, 45 }, .in_count = { 0, 9 }, .out_count = { 0, 13 } },
        { .kind = VD_FFT_DST4, .shape = { 3, 64 }, .in_count = { 0, 9 }, .out_count = { 0, 13 } },
        { .kind = VD_FFT_DCT2, .shape = { 3, 20000 }, .in_count = { 0, 300 }, .out_count = { 0, 70 } },
    };
    (void)state;
    check_all(samples, COUNT(samples));
    /* parts in the middle and at the end */
    for (size_t i = 0; i < COUNT(samples); i++) {
        sample s = samples[i];
        array in = array_of(&s, false), out = array_of(&s, true);
        for (uint32_t d = 0; d < dimensions_of(&s); d++) {
            s.in_start[d] = (in.shape[d] - in.there[d]) / (i % 3 ? 2 : 1);
            s.out_start[d] = (out.shape[d] - out.there[d]) / (i % 4 ? 1 : 3);
        }
        check_one(&s);
    }
}

static void types(void **state) {
    static const vd_type mixes[][3] = {
        { VD_F64, VD_F64, VD_F64 }, { VD_F32, VD_F16, VD_F16 }, { VD_F64, VD_F32, VD_F64 }, { VD_F32, VD_F32, VD_F16 }
    };
    static const sample samples[] = {
        { .kind = VD_FFT_REAL, .shape = { 3, 64 }, .norm = VD_FFT_NORM_ORTHO },
        { .kind = VD_FFT_REAL, .shape = { 8, 15 }, .axes = 3, .norm = VD_FFT_NORM_ORTHO },
        { .kind = VD_FFT_DCT2, .shape = { 9, 16 }, .axes = 3, .norm = VD_FFT_NORM_ORTHO },
        { .kind = VD_FFT_DCT1, .shape = { 2, 20001 }, .norm = VD_FFT_NORM_ORTHO },
        { .kind = VD_FFT_REAL, .shape = { 8, 18 }, .axes = 3, .norm = VD_FFT_NORM_ORTHO, .direction = VD_FFT_INVERSE },
    };
    (void)state;
    need_device();
    const uint64_t features = vd_device(device_context, 0)->features;
    for (size_t m = 0; m < COUNT(mixes); m++) {
        bool f64 = mixes[m][0] == VD_F64, f16 = mixes[m][2] == VD_F16;
        if ((f64 && !(features & VD_FEATURE_F64)) || (f16 && !(features & VD_FEATURE_STORAGE_16))) {
            print_message("# reason: the device has no %s\n", f64 ? "f64" : "f16 in buffers");
            skip();
        }
        for (size_t i = 0; i < COUNT(samples); i++) {
            sample s = samples[i];
            s.type = mixes[m][0];
            s.in_type = mixes[m][1];
            s.out_type = mixes[m][2];
            /* one that goes through three kernels is enough */
            if (s.shape[1] > 20000 && (!f16 || s.type == s.in_type) && !all_cases) continue;
            if (f16 && s.direction) continue; /* a spectrum that f16 represents exactly need not belong to reals */
            check(&s);
        }
    }
}

/* ---- ignored imaginary parts ---- */

/* Runs the inverse transform with this value in the imaginary parts of the bins 0 and n / 2. */
static void run_with_ends(const sample *s, vd_fft *plan, double value, double *results) {
    array from = array_of(s, true), to = array_of(s, false);
    size_t room = bytes_of(&from) > bytes_of(&to) ? bytes_of(&from) : bytes_of(&to);
    unsigned char *data = (unsigned char *)calloc(1, room);
    double *x = (double *)malloc((size_t)from.count * 2 * sizeof *x);
    assert_true(data && x);
    random_numbers(x, from.count * 2, from.type);
    for (uint64_t i = 0; i < from.count; i++) if (is_end(s, i)) x[2 * i + 1] = value;
    scatter(&from, x, data);
    vd_buffer in = buffer_of(device_context, VD_U8, room, data),
              out = s->in_place ? in : buffer_of(device_context, VD_U8, room, NULL);
    run_sample(s, in, out, bytes_of(&to), data, plan);
    gather(&to, data, results);
    if (!s->in_place) vd_buffer_destroy(device_context, out);
    vd_buffer_destroy(device_context, in);
    free(data);
    free(x);
}

static void check_ends(const sample *s) {
    static const double values[] = { NAN, INFINITY, -INFINITY, 60000, -60000 };
    size_t count = (size_t)array_of(s, false).count;
    double *wanted = (double *)malloc(2 * count * sizeof *wanted), *is = wanted + count;
    vd_fft_desc desc = desc_of(s);
    vd_fft *plan = vd_fft_create(device_context, &desc);
    assert_non_null(wanted);
    if (!plan) fail_msg("%s", vd_error_text());
    run_with_ends(s, plan, 0, wanted);
    for (size_t i = 0; i < count; i++) assert_true(isfinite(wanted[i]));
    for (size_t i = 0; i < COUNT(values); i++) {
        run_with_ends(s, plan, values[i], is);
        if (!memcmp(is, wanted, count * sizeof *is)) continue;
        say(s);
        fail_msg("an imaginary part of %g in bin 0 or n / 2 is not ignored; the plan is\n%s", values[i], vd_fft_explain(plan));
    }
    vd_fft_destroy(plan);
    free(wanted);
}

/* One axis: of even and of odd length, alone or two rows at once; by Bluestein's algorithm; by a direct stage; in
   several kernels; rows and columns, partial, in place, with a hook. The other axes have one element. */
static const sample with_ends[] = {
    { .shape = { 5, 1 } },
    { .shape = { 5, 2 } },
    { .shape = { 5, 4 } },
    { .shape = { 5, 64 } },
    { .shape = { 5, 42 } }, /* for a GPU, transformed at full length */
    { .shape = { 4, 64 }, .pack_rows = true },
    { .shape = { 5, 15 } },
    { .shape = { 5, 15 }, .pack_rows = true },
    { .shape = { 4, 262 } },
    { .shape = { 4, 131 } },
    { .shape = { 3, 131 }, .pack_rows = true },
    { .shape = { 4, 37 } },
    { .shape = { 3, 37 }, .pack_rows = true },
    { .shape = { 2, 40000 } },
    { .shape = { 3, 19683 } },
    { .shape = { 3, 19683 }, .pack_rows = true },
    { .shape = { 20, 6 }, .axes = 1 },
    { .shape = { 21, 6 }, .axes = 1 },
    { .shape = { 40000, 2 }, .axes = 1 },
    { .shape = { 1, 20 }, .axes = 3 },
    { .shape = { 3, 16, 3 }, .axes = 2, .in_stride = { 60, 3, 1 } },
    { .shape = { 3, 64 }, .out_count = { 0, 24 } },
    { .shape = { 3, 64 }, .in_place = true },
    { .shape = { 3, 15 }, .in_place = true },
    { .shape = { 3, 64 }, .load = negate },
    { .shape = { 3, 15 }, .load = negate },
    { .shape = { 3, 64 }, .type = VD_F64 },
    { .shape = { 3, 15 }, .type = VD_F64 },
    { .shape = { 3, 64 }, .in_type = VD_F16, .out_type = VD_F16 },
    { .shape = { 3, 15 }, .in_type = VD_F16, .out_type = VD_F16 },
};

static void check_all_ends(bool as_gpu) {
    const uint64_t features = vd_device(device_context, 0)->features;
    for (size_t i = 0; i < COUNT(with_ends); i++) {
        sample s = with_ends[i];
        uint64_t n = s.shape[halved_axis(&s)];
        /* compiling these kernels for GPUs takes seconds */
        if (as_gpu && !all_cases && (n > 1000 || n % 131 == 0)) continue;
        s.kind = VD_FFT_REAL;
        s.direction = VD_FFT_INVERSE;
        if (s.type == VD_F64 && !(features & VD_FEATURE_F64)) continue;
        if (s.in_type == VD_F16 && !(features & VD_FEATURE_STORAGE_16)) continue;
        if (passes_over(8, 1)) continue;
        check_ends(&s);
    }
}

static void ignored_parts(void **state) {
    (void)state;
    need_device();
    check_all_ends(false);
    if (getenv("VKDISPATCH_FFT_SHAPES")) return;
    assert_int_equal(setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1), 0);
    check_all_ends(true);
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

/* ---- simple calls ---- */

static vd_buffer shaped(vd_context *ctx, vd_type type, uint64_t a, uint64_t b, uint64_t c) {
    vd_buffer_desc desc = { .name = "numbers", .type = type, .shape = { a, b, c } };
    return vd_buffer_create(ctx, &desc);
}

static void simple(void **state) {
    double x[4 * 15], y[2 * 4 * 8], back[4 * 15];
    float data[4 * 15], bins[2 * 4 * 8];
    sample s = { .kind = VD_FFT_REAL, .shape = { 4, 15 } };
    (void)state;
    need_device();
    random_numbers(x, COUNT(x), VD_F32);
    for (size_t i = 0; i < COUNT(x); i++) data[i] = (float)x[i];
    vd_buffer reals = shaped(device_context, VD_F32, 4, 15, 1), half = shaped(device_context, VD_F32C, 4, 8, 1);
    assert_int_equal(vd_buffer_write(device_context, reals, 0, data, sizeof data), VD_OK);
    assert_int_equal(vd_fft_real_forward(device_context, reals, half), VD_OK);
    assert_int_equal(vd_buffer_read(device_context, half, 0, bins, sizeof bins), VD_OK);
    transform(&s, x, y);
    for (size_t i = 0; i < COUNT(y); i++) assert_float_equal(bins[i], (float)y[i], 2e-6f);
    memset(data, 0, sizeof data);
    assert_int_equal(vd_buffer_write(device_context, reals, 0, data, sizeof data), VD_OK);
    assert_int_equal(vd_fft_real_inverse(device_context, half, reals), VD_OK);
    assert_int_equal(vd_buffer_read(device_context, reals, 0, data, sizeof data), VD_OK);
    for (size_t i = 0; i < COUNT(x); i++) back[i] = (double)data[i];
    assert_true(compare(back, x, COUNT(x), 1) < 3e-7);
    assert_int_equal(vd_fft_real_forward(device_context, reals, reals), VD_ERROR_INVALID);
    assert_int_equal(vd_fft_real_forward(device_context, half, reals), VD_ERROR_INVALID);
    if (!strstr(vd_error_text(), "(reals) has type complex f32, but f32 is expected")) fail_msg("%s", vd_error_text());
    vd_buffer_destroy(device_context, reals);
    vd_buffer_destroy(device_context, half);
}

/* Complex transforms over two and three axes: a round trip, and one number checked by hand. */
static void several_axes(void **state) {
    float data[2 * 2 * 3 * 4], result[2 * 2 * 3 * 4];
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(data); i++) data[i] = (float)(i % 7) - 3;
    vd_buffer b = shaped(device_context, VD_F32C, 2, 3, 4);
    for (int d = 2; d <= 3; d++) {
        vd_result (*call)(vd_context *, vd_buffer, vd_fft_direction) = d == 2 ? vd_fft_2d : vd_fft_3d;
        double sum = 0;
        for (size_t i = 0; i < (d == 2 ? 12 : 24); i++) sum += (double)data[2 * i];
        assert_int_equal(vd_buffer_write(device_context, b, 0, data, sizeof data), VD_OK);
        assert_int_equal(call(device_context, b, VD_FFT_FORWARD), VD_OK);
        assert_int_equal(vd_buffer_read(device_context, b, 0, result, sizeof result), VD_OK);
        assert_float_equal(result[0], (float)sum, 1e-5f);
        assert_int_equal(call(device_context, b, VD_FFT_INVERSE), VD_OK);
        assert_int_equal(vd_buffer_read(device_context, b, 0, result, sizeof result), VD_OK);
        for (size_t i = 0; i < COUNT(data); i++) assert_float_equal(result[i], data[i], 2e-6f);
    }
    vd_buffer_destroy(device_context, b);
}

/* Padded rows: read and written without the padding, transformed in place; the bins are seen through another view. */
static void rows(void **state) {
    static const uint64_t shapes[][4] = { { 3, 10 }, { 2, 3, 7 }, { 9 }, { 2, 2, 2, 6 } };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(shapes); i++) {
        if (passes_over(1, 1)) continue;
        sample s = { .kind = VD_FFT_REAL };
        memcpy(s.shape, shapes[i], sizeof s.shape);
        array reals = array_of(&s, false), bins = array_of(&s, true);
        double x[64], y[64], is[64];
        float data[64];
        vd_fft_padded_buffer r;
        vd_fft_desc desc = { .kind = VD_FFT_REAL, .padded = true };
        assert_int_equal(vd_fft_padded_buffer_create(device_context, shapes[i], &r), VD_OK);
        memcpy(desc.shape, r.shape, sizeof desc.shape);
        vd_fft *plan = vd_fft_create(device_context, &desc);
        assert_non_null(plan);
        random_numbers(x, reals.count, VD_F32);
        for (uint64_t j = 0; j < reals.count; j++) data[j] = (float)x[j];
        assert_int_equal(vd_fft_padded_buffer_write(device_context, &r, data), VD_OK);
        vd_fft_io io = { .in = r.reals };
        if (vd_fft_run(plan, vd_immediate(device_context, 0, 0), &io)) fail_msg("%s", vd_error_text());
        assert_int_equal(vd_buffer_read(device_context, r.bins, 0, data, bins.count * 8), VD_OK);
        for (uint64_t j = 0; j < 2 * bins.count; j++) is[j] = (double)data[j];
        transform(&s, x, y);
        assert_true(compare(is, y, 2 * bins.count, 1) < 5e-7);
        io.direction = VD_FFT_INVERSE;
        io.in = r.bins;
        if (vd_device(device_context, 0)->backend == VD_BACKEND_VULKAN) io.out = r.reals; /* two views of one memory */
        if (vd_fft_run(plan, vd_immediate(device_context, 0, 0), &io)) fail_msg("%s", vd_error_text());
        assert_int_equal(vd_fft_padded_buffer_read(device_context, &r, data), VD_OK);
        for (uint64_t j = 0; j < reals.count; j++) is[j] = (double)data[j];
        assert_true(compare(is, x, reals.count, 1) < 5e-7);
        vd_fft_destroy(plan);
        vd_fft_padded_buffer_destroy(device_context, &r);
    }
}

/* ---- invalid input and explanations, without a device ---- */

static void refuse(vd_context *ctx, const vd_fft_desc *desc, const char *part) {
    assert_null(vd_fft_create(ctx, desc));
    says(part);
}

/* The batch is so large that the plan is not one of few elements. */
static void explains(vd_context *ctx, vd_fft_kind kind, uint64_t n, bool pack_rows, const char *part) {
    vd_fft_desc desc = { .kind = kind, .shape = { 1 << 20, n }, .pack_rows = pack_rows };
    vd_fft *plan = vd_fft_create(ctx, &desc);
    assert_non_null(plan);
    if (!strstr(vd_fft_explain(plan), part)) fail_msg("no \"%s\" in: %s", part, vd_fft_explain(plan));
    vd_fft_destroy(plan);
}

static void bad_input(void **state) {
    vd_context *ctx = dummy_context();
    vd_fft_padded_buffer r;
    (void)state;
    vd_fft_desc desc = { .shape = { 4, 10 }, .kind = (vd_fft_kind)11 };
    refuse(ctx, &desc, "kind is 11, but must be 0 to 10 (VD_FFT_DST4)");
    desc.kind = VD_FFT_DCT1;
    desc.shape[1] = 1;
    refuse(ctx, &desc, "dimension 1 has 1 element, but VD_FFT_DCT1 needs at least 2");
    desc.padded = true;
    desc.kind = VD_FFT_DCT2;
    refuse(ctx, &desc, "padded is true, but kind is not VD_FFT_REAL");
    desc.kind = VD_FFT_KIND_DEFAULT;
    refuse(ctx, &desc, "padded is true, but kind is not VD_FFT_REAL");
    desc.kind = VD_FFT_REAL;
    desc.axes = 1;
    refuse(ctx, &desc, "padded is true, but axes is 0x1; padded requires that the last dimension is transformed");
    desc.axes = 0;
    desc.padded = false;
    desc.engine = VD_FFT_ENGINE_VKFFT;
    refuse(ctx, &desc, "engine VkFFT");
    desc.kind = VD_FFT_DCT2;
    refuse(ctx, &desc, "kind is a cosine or sine transform, but engine VkFFT supports only VD_FFT_COMPLEX and VD_FFT_REAL");
    desc.kind = VD_FFT_REAL;
    desc.engine = VD_FFT_ENGINE_DEFAULT;
    desc.padded = true;
    desc.shape[1] = 10;
    desc.in_count[1] = 9;
    desc.out_count[1] = 4;
    refuse(ctx, &desc, "padded is true, but a row of reals needs more memory than its bins: in_count selects 4 x 9 reals and out_count 4 x 4 bins");
    desc.out_count[1] = 7;
    refuse(ctx, &desc, "out_count[1] is 7, but dimension 1 of the half spectrum has 6 elements");
    desc.in_count[1] = 11;
    refuse(ctx, &desc, "in_count[1] is 11, but dimension 1 of the reals has 10 elements");
    desc.in_count[1] = desc.out_count[1] = 0;
    desc.shape[0] = 1;
    desc.shape[1] = UINT32_MAX;
    refuse(ctx, &desc, "length 4294967295 of dimension 1 needs convolutions of length 6442450942, but the limit is 4294967295; see vd_fft_good_size");
    desc.shape[0] = 4;
    desc.shape[1] = 10;
    desc.padded = false;
    vd_fft *plan = vd_fft_create(ctx, &desc);
    assert_non_null(plan);
    vd_buffer reals = buffer_of(ctx, VD_F32, 40, NULL), bins = buffer_of(ctx, VD_F32C, 24, NULL),
              few = buffer_of(ctx, VD_F32C, 23, NULL);
    vd_fft_io io = { .in = bins };
    for (int i = 0; i < 4; i++) { /* whatever the amount of shared memory */
        io.in = i < 2 ? bins : reals;
        io.direction = i % 2 ? VD_FFT_INVERSE : VD_FFT_FORWARD;
        assert_int_equal(vd_fft_run(plan, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
        says("running in place requires that each row of reals begins where its bins begin (see desc.padded), but the strides are { 10, 1 } and { 6, 1 }");
    }
    io.direction = VD_FFT_FORWARD;
    io.in.id = 0;
    assert_int_equal(vd_fft_run(plan, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    says("in: the buffer handle is 0");
    io.in = reals;
    io.out = few;
    assert_int_equal(vd_fft_run(plan, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    says("(out) has 184 bytes, but the plan needs 192");
    io.direction = VD_FFT_INVERSE;
    io.in = few;
    io.out = reals;
    assert_int_equal(vd_fft_run(plan, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    says("(in) has 184 bytes, but the plan needs 192");
    vd_buffer_destroy(ctx, few);
    vd_buffer view = view_of(ctx, bins, VD_F32, 4, 0);
    io.in = few = buffer_of(ctx, VD_F32C, 24, NULL);
    io.out = view;
    assert_int_equal(vd_fft_run(plan, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    says(" (reals): "), says(", but must be a multiple of 8 bytes");
    vd_fft_destroy(plan);
    desc.store = negate; /* with and without hooks, reals are read and written in pairs */
    plan = vd_fft_create(ctx, &desc);
    assert_int_equal(vd_fft_run(plan, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    says(" (reals): "), says(", but must be a multiple of 8 bytes");
    desc.store = NULL;
    vd_fft_destroy(plan);
    desc.in_stride[0] = 2;
    desc.in_stride[1] = 1;
    plan = vd_fft_create(ctx, &desc);
    assert_non_null(plan);
    io.out = reals;
    assert_int_equal(vd_fft_run(plan, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    says("in_stride is { 2, 1 }, so the reals overlap and the inverse cannot write them");
    vd_buffer_destroy(ctx, view);
    vd_fft_destroy(plan);
    vd_buffer_destroy(ctx, reals);
    vd_buffer_destroy(ctx, bins);
    vd_buffer_destroy(ctx, few);
    uint64_t none[4] = { 0, 0, 0, 0 };
    assert_int_equal(vd_fft_padded_buffer_create(ctx, none, &r), VD_ERROR_INVALID);
    assert_int_equal(vd_fft_padded_buffer_create(ctx, none, NULL), VD_ERROR_INVALID);
    explains(ctx, VD_FFT_REAL, 64, false, "rows of 32 for reals of 64");
    explains(ctx, VD_FFT_REAL, 63, false, "rows of 63 for reals of 63");
    explains(ctx, VD_FFT_REAL, 63, true, "rows of 63 for packed reals of 63");
    explains(ctx, VD_FFT_DCT2, 64, false, "rows of 32 for a DCT-II of 64");
    explains(ctx, VD_FFT_DCT2, 64, false, "inverse:\nrows of 32 for a DCT-III of 64");
    explains(ctx, VD_FFT_DST1, 63, false, "rows of 64 for a DST-I of 63");
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

/* ---- tables ---- */

static void *take(void *user, size_t size) {
    (void)user;
    return malloc(size);
}

/* Keeps the size of the largest block that is reallocated. */
static void *grow(void *user, void *block, size_t size) {
    size_t *largest = (size_t *)user;
    if (size > *largest) *largest = size;
    return realloc(block, size);
}

static void give(void *user, void *block) {
    (void)user;
    free(block);
}

/* Kernels of both directions, and the first and last of each, share their tables. The largest allocation of a plan is
   the array of all tables, complex f64, which doubles until they fit; twice as much means one table too many. */
static void tables_are_shared(void **state) {
    static const struct { vd_fft_kind kind; uint64_t n, bytes; } cases[] = {
        { VD_FFT_REAL, 200000, 2 << 20 }, { VD_FFT_DCT1, 100001, 2 << 20 }, { VD_FFT_DCT2, 100000, 4 << 20 },
        { VD_FFT_DCT3, 100000, 4 << 20 }, { VD_FFT_DCT4, 200000, 2 << 20 }, { VD_FFT_DST1, 99999, 2 << 20 },
        { VD_FFT_DST2, 100000, 4 << 20 }, { VD_FFT_DST4, 200000, 2 << 20 },
    };
    vd_context_desc context = { 0 };
    vd_context *ctx = NULL;
    size_t largest = 0;
    (void)state;
    context.backend = VD_BACKEND_DUMMY;
    context.allocator.allocate = take;
    context.allocator.reallocate = grow;
    context.allocator.release = give;
    context.allocator.user = &largest;
    assert_int_equal(vd_context_create(&context, &ctx), VD_OK);
    for (size_t i = 0; i < COUNT(cases); i++) {
        vd_fft_desc desc = { 0 };
        desc.kind = cases[i].kind;
        desc.shape[0] = cases[i].n;
        largest = 0;
        vd_fft *plan = vd_fft_create(ctx, &desc);
        if (!plan) fail_msg("%s", vd_error_text());
        if (largest != cases[i].bytes)
            fail_msg("kind %d of %d: %zu bytes", (int)cases[i].kind, (int)cases[i].n, largest);
        vd_fft_destroy(plan);
    }
    vd_context_destroy(ctx);
}

/* ---- the engine VkFFT ---- */

static void half_spectra_of_vkfft(void **state) {
    static const sample shapes[] = {
        { .shape = { 64 } }, { .shape = { 3, 2 } }, { .shape = { 3, 63 } }, { .shape = { 5, 1000 } },
        { .shape = { 3, 74 } }, { .shape = { 2, 37 } }, { .shape = { 2, 8192 } }, { .shape = { 65536 } },
        { .shape = { 100000 } }, { .shape = { 20, 12 }, .axes = 3 },
        { .shape = { 6, 1, 63 }, .axes = 5 }, { .shape = { 8, 12, 10 }, .axes = 7 },
        { .shape = { 4, 6, 16 }, .axes = 6 }, { .shape = { 4, 6, 9 }, .axes = 5 },
        { .shape = { 2, 3, 4, 10 }, .axes = 8 }, { .shape = { 2, 3, 4, 10 }, .axes = 14 },
        { .shape = { 2, 3, 4, 10 }, .axes = 12 }, { .shape = { 2, 3, 8, 10 }, .axes = 10 },
    };
    (void)state;
    need_engine(engine);
    for (size_t i = 0; i < COUNT(shapes); i++) {
        for (int form = 0; form < 4; form++) {
            sample s = shapes[i];
            s.kind = VD_FFT_REAL;
            s.direction = (vd_fft_direction)(form & 1);
            s.in_place = form >> 1 & 1;
            s.norm = i & 1 ? VD_FFT_NORM_NONE : VD_FFT_NORM_DEFAULT;
            check_one(&s);
        }
    }
}

static void refused_by_vkfft(void **state) {
    static const struct { sample s; const char *reason; } cases[] = {
        { { .shape = { 8, 4 }, .axes = 1 }, "axes is 0x1, but engine VkFFT supports VD_FFT_REAL only if the last "
                                            "dimension, 1, is transformed" },
        { { .shape = { 4, 2, 4, 8 }, .axes = 15 }, "axes is 0xf, but engine VkFFT cannot transform dimension 0" },
        { { .shape = { 8 }, .in_count = { 7 } }, "engine VkFFT does not support strides and counts" },
        { { .shape = { 3, 8 }, .out_stride = { 6, 1 } }, "engine VkFFT does not support strides and counts" },
        { { .shape = { 65535, 65536 }, .in_place = true },
          "engine VkFFT: the reals span 4295032828 elements, but the limit is 4294967295" },
        { { .shape = { 8 }, .norm = VD_FFT_NORM_ORTHO }, "engine VkFFT does not support VD_FFT_NORM_ORTHO" },
        { { .shape = { 8 }, .type = VD_F64 }, "engine VkFFT supports only f32" },
    };
    (void)state;
    need_engine(engine);
    for (size_t i = 0; i < COUNT(cases); i++) {
        sample s = cases[i].s;
        s.kind = VD_FFT_REAL;
        vd_fft_desc desc = desc_of(&s);
        refuse(device_context, &desc, cases[i].reason);
    }
}

#define BY_LENGTH \
    cmocka_unit_test(half_spectra), cmocka_unit_test(cosine_1), cmocka_unit_test(cosine_2), \
    cmocka_unit_test(cosine_3), cmocka_unit_test(cosine_4), cmocka_unit_test(sine_1), cmocka_unit_test(sine_2), \
    cmocka_unit_test(sine_3), cmocka_unit_test(sine_4)

int main(int argc, char **argv) {
    const struct CMUnitTest by_length[] = { BY_LENGTH, cmocka_unit_test(random_lengths) };
    const struct CMUnitTest tests[] = {
        BY_LENGTH, cmocka_unit_test(axes), cmocka_unit_test(norms), cmocka_unit_test(random_lengths),
        cmocka_unit_test(small_work_groups), cmocka_unit_test(long_axes),
        cmocka_unit_test(strides), cmocka_unit_test(parts), cmocka_unit_test(types), cmocka_unit_test(ignored_parts),
        cmocka_unit_test(simple), cmocka_unit_test(several_axes), cmocka_unit_test(rows),
        cmocka_unit_test(tables_are_shared), cmocka_unit_test(bad_input),
    };
    const struct CMUnitTest by_engine[] = {
        cmocka_unit_test(half_spectra_of_vkfft), cmocka_unit_test(refused_by_vkfft),
    };
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-a")) all_cases = true;
        else if (!strcmp(argv[i], "vkfft")) engine = VD_FFT_ENGINE_VKFFT;
        else if (!strcmp(argv[i], "-p") && i + 1 < argc && sscanf(argv[i + 1], "%u/%u", &first, &step) == 2 && step)
            i++;
        else cmocka_set_test_filter(argv[i]);
    }
    if (engine) return RUN_ON_DEVICE(by_engine);
    if (step) return RUN_ON_DEVICE(by_length);
    return RUN_ON_DEVICE(tests);
}
