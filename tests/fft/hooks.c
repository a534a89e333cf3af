/* Hooks of transforms: the values they receive and store for every rank, direction and kind of pass, compared with FFTW
   in double; their arguments; invalid hooks. */
#include "fftw.h"

#include <math.h>
#include <sys/resource.h>

typedef struct sample {
    uint64_t shape[4];
    uint32_t axes;
    vd_fft_direction direction;
    bool in_place;
    uint64_t in_stride[4], out_stride[4]; /* zeros: C order */
} sample;

static void coordinates_of(const sample *s, uint64_t i, uint64_t *at) {
    memset(at, 0, 4 * sizeof *at);
    for (uint32_t d = dimensions_of(s->shape); d-- > 0; i /= s->shape[d]) at[d] = i % s->shape[d];
}

/* In place; normalised as plans are by default. */
static void transform(const sample *s, fftw_complex *x) {
    uint32_t axes = s->axes ? s->axes : 1u << (dimensions_of(s->shape) - 1);
    double product = fftw_transform(s->shape, axes, s->direction == VD_FFT_INVERSE, x);
    for (uint64_t i = 0; s->direction && i < elements_of(s->shape); i++)
        for (int c = 0; c < 2; c++) x[i][c] /= product;
}

static float noise(uint64_t i) {
    uint32_t x = (uint32_t)i * 2654435761u;
    x = (x ^ x >> 15) * 2246822519u;
    return (float)((x ^ x >> 13) >> 8) / 8388608.0f - 1.0f;
}

static vd_buffer device_buffer(vd_type type, uint64_t elements, const float *data) {
    vd_buffer_desc desc = { 0 };
    desc.name = "numbers";
    desc.type = type;
    desc.shape[0] = elements;
    desc.data = data;
    vd_buffer b = vd_buffer_create(device_context, &desc);
    if (!b.id) fail_msg("%s", vd_error_text());
    return b;
}

/* ---- hooks that distinguish all elements ---- */

typedef struct mine { vc_ref window; vc_val gain; } mine;

static void declare(vc_kernel *k, void *user) {
    mine *m = (mine *)user;
    m->window = vc_buffer(k, "window", VC_F32, VC_READ);
    m->gain = vc_param(k, "gain", VC_F32);
}

static const float share[4] = { 0.5f, 0.25f, 0.125f, 0.0625f };

/* The element's window multiplied by a function of its coordinates. */
static vc_val weight(const mine *m, const vd_fft_point *at) {
    vc_val sum = vc_f32(1);
    for (int d = 0; d < 4; d++) sum = vc_add(sum, vc_mul(vc_cast(VC_F32, at->coordinate[d]), vc_f32(share[d])));
    return vc_mul(vc_load(m->window, at->index), sum);
}

static double weight_of(const sample *s, const float *window, uint64_t i) {
    uint64_t at[4];
    double sum = 1;
    coordinates_of(s, i, at);
    for (int d = 0; d < 4; d++) sum += (double)at[d] * (double)share[d];
    return (double)window[i] * sum;
}

static void load(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    const mine *m = (const mine *)user;
    vc_val w = weight(m, at);
    (void)k;
    v->re = vc_mul(v->re, w);
    v->im = vc_fma(v->im, w, m->gain);
}

/* Multiplies by the window rotated by a quarter turn, which detects exchanged real and imaginary parts. */
static void store(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    const mine *m = (const mine *)user;
    vc_val w = weight(m, at), re = v->re;
    (void)k;
    v->re = vc_mul(vc_neg(v->im), w);
    v->im = vc_mul(re, vc_mul(w, m->gain));
}

static void say(const sample *s, const vd_fft *plan) {
    print_error("  shape");
    for (uint32_t i = 0; i < dimensions_of(s->shape); i++) print_error(" %llu", (unsigned long long)s->shape[i]);
    print_error(", axes 0x%x, direction %d, in place %d\n%s", s->axes, (int)s->direction, s->in_place,
                plan ? vd_fft_explain((vd_fft *)(uintptr_t)plan) : "");
}

static void expect(const sample *s, const float *data, const float *window, float gain, fftw_complex *x) {
    uint64_t n = elements_of(s->shape);
    for (uint64_t i = 0; i < n; i++) {
        double w = weight_of(s, window, i);
        const float *from = data + 2 * place_of(s->shape, s->in_stride, i);
        x[i][0] = (double)from[0] * w;
        x[i][1] = (double)from[1] * w + (double)gain;
    }
    transform(s, x);
    for (uint64_t i = 0; i < n; i++) {
        double w = weight_of(s, window, i), re = x[i][0];
        x[i][0] = -x[i][1] * w;
        x[i][1] = re * w * (double)gain;
    }
}

static void check(const sample *s) {
    const float gain = 0.75f;
    mine m;
    vd_fft_desc desc = { 0 };
    memcpy(desc.shape, s->shape, sizeof desc.shape);
    memcpy(desc.in_stride, s->in_stride, sizeof desc.in_stride);
    memcpy(desc.out_stride, s->out_stride, sizeof desc.out_stride);
    desc.axes = s->axes;
    desc.load = load;
    desc.store = store;
    desc.hook_declare = declare;
    desc.hook_user = &m;
    if (passes_over_form(&desc, s->direction)) return;
    uint64_t n = elements_of(s->shape), ins = place_of(s->shape, s->in_stride, n - 1) + 1,
             outs = place_of(s->shape, s->out_stride, n - 1) + 1;
    float *data = (float *)malloc(ins * 8), *window = (float *)malloc(n * 4), *result = (float *)malloc(outs * 8);
    fftw_complex *x = (fftw_complex *)fftw_malloc(n * sizeof *x);
    vd_fft_io io;
    assert_true(data && window && result && x);
    for (uint64_t i = 0; i < 2 * ins; i++) data[i] = noise(i);
    for (uint64_t i = 0; i < n; i++) window[i] = noise(~i);
    vd_fft *plan = vd_fft_create(device_context, &desc);
    vd_buffer in = device_buffer(VD_F32C, ins, data), out = s->in_place ? in : device_buffer(VD_F32C, outs, NULL),
              w = device_buffer(VD_F32, n, window);
    vd_named_arg args[2] = { { "gain", vd_f32(gain) }, { "window", vd_b(w) } };
    memset(&io, 0, sizeof io);
    io.direction = s->direction;
    io.in = in;
    if (!s->in_place) io.out = out;
    io.args = args;
    io.arg_count = 2;
    if (!plan || vd_fft_run(plan, vd_immediate(device_context, 0, 0), &io)
        || vd_buffer_read(device_context, out, 0, result, outs * 8)) {
        say(s, plan);
        fail_msg("%s", vd_error_text());
    }
    double wrong = 0, all = 0;
    expect(s, data, window, gain, x);
    for (uint64_t i = 0; i < n; i++)
        for (int c = 0; c < 2; c++) {
            double d = (double)result[2 * place_of(s->shape, s->out_stride, i) + (uint64_t)c] - x[i][c];
            wrong += d * d;
            all += x[i][c] * x[i][c];
        }
    /* the terms of the sum differ widely in magnitude; transforms alone are tested elsewhere */
    if (!(sqrt(wrong / all) <= 1.5e-6)) {
        say(s, plan);
        fail_msg("error %.3g", sqrt(wrong / all));
    }
    vd_buffer_destroy(device_context, in);
    if (!s->in_place) vd_buffer_destroy(device_context, out);
    vd_buffer_destroy(device_context, w);
    vd_fft_destroy(plan);
    free(data);
    free(window);
    free(result);
    fftw_free(x);
}

static void kinds(void **state) {
    static const sample samples[] = {
        { { 64, 0, 0, 0 }, 0, VD_FFT_FORWARD, true, { 0 }, { 0 } },
        { { 3, 60, 0, 0 }, 0, VD_FFT_INVERSE, false, { 0 }, { 0 } },
        { { 12, 20, 0, 0 }, 3, VD_FFT_FORWARD, false, { 0 }, { 0 } },
        { { 12, 20, 0, 0 }, 1, VD_FFT_INVERSE, true, { 0 }, { 0 } },
        { { 5, 8, 6, 0 }, 7, VD_FFT_INVERSE, false, { 0 }, { 0 } },
        { { 5, 8, 6, 0 }, 2, VD_FFT_FORWARD, true, { 0 }, { 0 } },
        { { 3, 4, 5, 6 }, 5, VD_FFT_FORWARD, false, { 0 }, { 0 } },
        { { 1, 7, 1, 0 }, 4, VD_FFT_FORWARD, false, { 0 }, { 0 } },
        /* Bluestein */
        { { 2, 131, 0, 0 }, 2, VD_FFT_FORWARD, false, { 0 }, { 0 } },
        { { 37, 11, 0, 0 }, 1, VD_FFT_INVERSE, true, { 0 }, { 0 } },
        /* two passes */
        { { 16384, 0, 0, 0 }, 0, VD_FFT_INVERSE, false, { 0 }, { 0 } },
        { { 16384, 3, 0, 0 }, 1, VD_FFT_FORWARD, true, { 0 }, { 0 } },
        { { 12, 20, 0, 0 }, 3, VD_FFT_INVERSE, false, { 23, 1, 0, 0 }, { 1, 13, 0, 0 } },
        { { 5, 8, 6, 0 }, 5, VD_FFT_FORWARD, false, { 0 }, { 1, 30, 5, 0 } },
        /* Bluestein over several passes */
        { { 2, 8209, 0, 0 }, 0, VD_FFT_INVERSE, false, { 0 }, { 0 } },
        { { 2, 8209, 3, 0 }, 3, VD_FFT_FORWARD, true, { 0 }, { 0 } },
        /* two on a GPU */
        { { 512, 40, 0, 0 }, 3, VD_FFT_FORWARD, true, { 0 }, { 0 } },
        { { 16, 128, 96, 0 }, 7, VD_FFT_INVERSE, false, { 0 }, { 0 } },
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(samples); i++) check(&samples[i]);
}

/* ---- elements for which load hooks are called ---- */

static void declare_highest(vc_kernel *k, void *user) {
    *(vc_ref *)user = vc_buffer(k, "highest", VC_U32, VC_READ_WRITE);
}

static void note_highest(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k, (void)v;
    for (uint32_t i = 0; i < 2; i++) {
        vc_atomic_max(*(vc_ref *)user, vc_u32(i), at->coordinate[i], NULL);
        vc_atomic_min(*(vc_ref *)user, vc_u32(2 + i), at->coordinate[i], NULL);
    }
}

typedef struct ranged { vd_fft_kind kind; uint64_t shape[4]; uint32_t axes; uint64_t count[4], start[4]; } ranged;

/* The load hook is called for the first and the last element within in_start and in_count, and for none outside. The
   input of the inverse of VD_FFT_REAL is the half spectrum, which the counts of the output describe. */
static void check_called(const ranged *c, vd_fft_direction direction) {
    bool bins = c->kind == VD_FFT_REAL && direction == VD_FFT_INVERSE;
    vd_fft_desc desc = { 0 };
    vd_fft_io io = { direction, { 0 }, { 0 }, NULL, 0 };
    uint32_t highest[4] = { 0, 0, UINT32_MAX, UINT32_MAX };
    vc_ref ref;
    desc.kind = c->kind;
    memcpy(desc.shape, c->shape, sizeof desc.shape);
    memcpy(bins ? desc.out_count : desc.in_count, c->count, sizeof desc.in_count);
    memcpy(bins ? desc.out_start : desc.in_start, c->start, sizeof desc.in_start);
    desc.axes = c->axes;
    desc.load = note_highest;
    desc.hook_declare = declare_highest;
    desc.hook_user = &ref;
    vd_buffer noted = buffer_of(device_context, VD_U32, 4, highest);
    vd_named_arg arg = { "highest", vd_b(noted) };
    vd_fft *plan = vd_fft_create(device_context, &desc);
    io.in = device_buffer(VD_F32C, c->count[0] * c->count[1], NULL);
    io.out = device_buffer(VD_F32C, c->shape[0] * c->shape[1], NULL);
    io.args = &arg;
    io.arg_count = 1;
    if (!plan || vd_fft_run(plan, vd_immediate(device_context, 0, 0), &io)
        || vd_buffer_read(device_context, noted, 0, highest, 16))
        fail_msg("%s", vd_error_text());
    for (uint32_t d = 0; d < 2; d++)
        if (highest[d] != c->start[d] + c->count[d] - 1 || highest[2 + d] != c->start[d])
            fail_msg("kind %d, %d x %d, dimension %d: called for %u to %u, not for %d to %d", (int)c->kind,
                     (int)c->shape[0], (int)c->shape[1], (int)d, highest[2 + d], highest[d], (int)c->start[d],
                     (int)(c->start[d] + c->count[d] - 1));
    vd_fft_destroy(plan);
    vd_buffer_destroy(device_context, io.in);
    vd_buffer_destroy(device_context, io.out);
    vd_buffer_destroy(device_context, noted);
}

static void called_inside(void **state) {
    static const ranged cases[] = {
        { VD_FFT_COMPLEX, { 2, 64 }, 2, { 2, 20 }, { 0 } },
        { VD_FFT_COMPLEX, { 40, 48 }, 3, { 7, 9 }, { 0 } },
        { VD_FFT_COMPLEX, { 2, 16384 }, 2, { 2, 5000 }, { 0 } },
        { VD_FFT_COMPLEX, { 2, 8209 }, 2, { 2, 8209 }, { 0 } },
        { VD_FFT_COMPLEX, { 8209, 3 }, 1, { 700, 3 }, { 0 } },
        { VD_FFT_COMPLEX, { 2, 37 }, 2, { 2, 20 }, { 0 } },
        { VD_FFT_COMPLEX, { 2, 64 }, 2, { 2, 20 }, { 0, 30 } },
        { VD_FFT_COMPLEX, { 40, 48 }, 3, { 7, 9 }, { 33, 2 } },
        { VD_FFT_COMPLEX, { 2, 16384 }, 2, { 2, 5000 }, { 0, 7001 } },
        { VD_FFT_COMPLEX, { 8209, 3 }, 1, { 700, 3 }, { 5000, 0 } },
        { VD_FFT_COMPLEX, { 2, 131 }, 2, { 2, 20 }, { 0, 9 } },
        /* rules of real kinds */
        { VD_FFT_REAL, { 2, 64 }, 2, { 2, 20 }, { 0 } },
        { VD_FFT_REAL, { 2, 64 }, 2, { 2, 13 }, { 0, 7 } },
        { VD_FFT_REAL, { 2, 15 }, 2, { 2, 4 }, { 0, 3 } },
        { VD_FFT_REAL, { 2, 262 }, 2, { 2, 20 }, { 0, 3 } },
        { VD_FFT_REAL, { 3, 16418 }, 2, { 3, 5000 }, { 0, 1 } },
        { VD_FFT_DCT1, { 2, 65 }, 2, { 2, 20 }, { 0, 5 } },
        { VD_FFT_DST1, { 2, 63 }, 2, { 2, 20 }, { 0, 5 } },
        { VD_FFT_DCT2, { 2, 64 }, 2, { 2, 20 }, { 0, 5 } },
        { VD_FFT_DCT3, { 2, 64 }, 2, { 2, 20 }, { 0, 5 } },
        { VD_FFT_DST3, { 2, 45 }, 2, { 2, 20 }, { 0, 5 } },
        { VD_FFT_DCT4, { 2, 64 }, 2, { 2, 20 }, { 0, 5 } },
        { VD_FFT_DST4, { 2, 45 }, 2, { 2, 20 }, { 0, 5 } },
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!passes_over(1, 1)) check_called(&cases[i], VD_FFT_FORWARD);
    check_called(&(ranged){ VD_FFT_REAL, { 2, 64 }, 2, { 2, 20 }, { 0 } }, VD_FFT_INVERSE);
    check_called(&(ranged){ VD_FFT_REAL, { 2, 45 }, 2, { 2, 10 }, { 0, 3 } }, VD_FFT_INVERSE);
}

/* ---- arguments instead of `in` and `out` ---- */

typedef struct real_and_power { vc_ref real, power; } real_and_power;

static void declare_two(vc_kernel *k, void *user) {
    real_and_power *m = (real_and_power *)user;
    m->real = vc_buffer(k, "real", VC_F32, VC_READ);
    m->power = vc_buffer(k, "power", VC_F32, VC_WRITE);
}

static void load_real(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k;
    v->re = vc_load(((const real_and_power *)user)->real, at->index);
    v->im = vc_f32(0);
}

static void store_power(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    static const vc_val nothing = { 0, 0 };
    (void)k;
    vc_store(((const real_and_power *)user)->power, at->index, vc_fma(v->re, v->re, vc_mul(v->im, v->im)));
    v->re = v->im = nothing;
}

/* |X|^2 of real numbers: neither side is complex; there is no input buffer and no output buffer. */
static void check_power(const sample *s) {
    uint64_t n = elements_of(s->shape);
    float *data = (float *)malloc(n * 4), *result = (float *)malloc(n * 4);
    fftw_complex *x = (fftw_complex *)fftw_malloc(n * sizeof *x);
    real_and_power m;
    vd_fft_desc desc = { 0 };
    vd_fft_io io;
    int count = 0;
    assert_true(data && result && x);
    for (uint64_t i = 0; i < n; i++) {
        data[i] = noise(i);
        x[i][0] = (double)data[i];
        x[i][1] = 0;
    }
    memcpy(desc.shape, s->shape, sizeof desc.shape);
    desc.axes = s->axes;
    desc.load = load_real;
    desc.store = store_power;
    desc.hook_declare = declare_two;
    desc.hook_user = &m;
    vd_fft *plan = vd_fft_create(device_context, &desc);
    if (!plan) fail_msg("%s", vd_error_text());
    const vd_arg_info *info = vd_fft_arguments(plan, &count);
    assert_int_equal(count, 2);
    assert_string_equal(info[0].name, "real");
    assert_string_equal(info[1].name, "power");
    assert_int_equal(info[0].access, VD_READ);
    assert_int_equal(info[1].access, VD_WRITE);
    assert_int_equal(info[1].type, VD_F32);
    vd_buffer real = device_buffer(VD_F32, n, data), power = device_buffer(VD_F32, n, NULL);
    vd_named_arg args[2] = { { "real", vd_b(real) }, { "power", vd_b(power) } };
    memset(&io, 0, sizeof io);
    io.direction = s->direction;
    io.args = args;
    io.arg_count = 2;
    if (vd_fft_run(plan, vd_immediate(device_context, 0, 0), &io)
        || vd_buffer_read(device_context, power, 0, result, n * 4))
        fail_msg("%s", vd_error_text());
    transform(s, x);
    double largest = 0;
    for (uint64_t i = 0; i < n; i++) largest = fmax(largest, x[i][0] * x[i][0] + x[i][1] * x[i][1]);
    for (uint64_t i = 0; i < n; i++) {
        double expected = x[i][0] * x[i][0] + x[i][1] * x[i][1];
        if (!(fabs((double)result[i] - expected) <= 2e-6 * largest))
            fail_msg("element %d is %.9g, not %.9g", (int)i, (double)result[i], expected);
    }
    vd_buffer_destroy(device_context, real);
    vd_buffer_destroy(device_context, power);
    vd_fft_destroy(plan);
    free(data);
    free(result);
    fftw_free(x);
}

static void no_arrays(void **state) {
    static const sample samples[] = {
        { { 100, 0, 0, 0 }, 0, VD_FFT_FORWARD, false, { 0 }, { 0 } },
        { { 9, 16, 0, 0 }, 3, VD_FFT_INVERSE, false, { 0 }, { 0 } },
        { { 4, 6, 10, 0 }, 7, VD_FFT_FORWARD, false, { 0 }, { 0 } },
        { { 16384, 0, 0, 0 }, 0, VD_FFT_FORWARD, false, { 0 }, { 0 } },
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(samples); i++)
        if (!passes_over(1, 1)) check_power(&samples[i]);
}

/* ---- real transforms: compared with a plan without hooks on numbers changed by the host; such plans are tested
   elsewhere ---- */

typedef struct real_sample {
    vd_fft_kind kind;
    uint64_t shape[4];
    uint32_t axes;
    vd_fft_direction direction;
    bool in_place;
    uint64_t in_stride[4], out_stride[4]; /* zeros: C order */
    uint64_t in_count[4], out_count[4];   /* zeros: all; in C order */
} real_sample;

/* One array: numbers with one or two parts, with `there` indices in memory. */
typedef struct real_array { sample s; uint64_t stride[4], there[4], count, span; uint32_t parts; } real_array;

static real_array array_of(const real_sample *r, bool bins) {
    real_array a;
    uint32_t axis;
    memset(&a, 0, sizeof a);
    memcpy(a.s.shape, r->shape, sizeof a.s.shape);
    memcpy(a.stride, bins ? r->out_stride : r->in_stride, sizeof a.stride);
    axis = dimensions_of(a.s.shape);
    while (--axis && r->axes && !(r->axes >> axis & 1)) {}
    a.parts = bins && r->kind == VD_FFT_REAL ? 2 : 1;
    if (a.parts == 2) a.s.shape[axis] = a.s.shape[axis] / 2 + 1;
    a.count = elements_of(a.s.shape);
    if (r->in_place && r->kind == VD_FFT_REAL && !bins) { /* rows padded for their bins */
        uint64_t step = 1;
        for (uint32_t d = dimensions_of(a.s.shape); d-- > 0;
             step *= d == axis ? 2 * (a.s.shape[d] / 2 + 1) : a.s.shape[d])
            a.stride[d] = step;
    }
    a.span = 1;
    for (uint32_t d = dimensions_of(a.s.shape), step = 1; d-- > 0; step *= (uint32_t)a.there[d]) {
        uint64_t count = bins ? r->out_count[d] : r->in_count[d];
        a.there[d] = count ? count : a.s.shape[d];
        if (!r->in_place && !(bins ? r->out_stride[1] : r->in_stride[1])) a.stride[d] = step;
        a.span += (a.there[d] - 1) * (a.stride[d] ? a.stride[d] : step);
    }
    return a;
}

static bool is_there(const real_array *a, uint64_t i) {
    uint64_t at[4];
    coordinates_of(&a->s, i, at);
    for (uint32_t d = 0; d < dimensions_of(a->s.shape); d++) if (at[d] >= a->there[d]) return false;
    return true;
}

/* Different weights for the two directions: a hook knows the direction. */
static void weigh_real(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    const mine *m = (const mine *)user;
    vc_val w = vc_mul(weight(m, at), vc_f32(at->direction ? 0.5f : 2));
    (void)k;
    v->re = vc_mul(v->re, w);
    v->im = vc_mul(v->im, vc_mul(w, m->gain));
}

static void weigh_on_host(const real_sample *r, const real_array *a, const float *window, float gain, float *numbers) {
    for (uint64_t i = 0; i < a->count; i++) {
        double w = weight_of(&a->s, window, i) * (r->direction ? 0.5 : 2);
        float *at = numbers + a->parts * place_of(a->s.shape, a->stride, i);
        if (!is_there(a, i)) continue;
        at[0] = (float)((double)at[0] * w);
        if (a->parts == 2) at[1] = (float)((double)at[1] * w * (double)gain);
    }
}

static vd_fft_desc real_desc(const real_sample *r, bool hooked, mine *m) {
    vd_fft_desc desc = { 0 };
    desc.kind = r->kind;
    memcpy(desc.shape, r->shape, sizeof desc.shape);
    memcpy(desc.in_stride, r->in_stride, sizeof desc.in_stride);
    memcpy(desc.out_stride, r->out_stride, sizeof desc.out_stride);
    memcpy(desc.in_count, r->in_count, sizeof desc.in_count);
    memcpy(desc.out_count, r->out_count, sizeof desc.out_count);
    desc.axes = r->axes;
    desc.norm = VD_FFT_NORM_NONE;
    desc.padded = r->in_place && r->kind == VD_FFT_REAL;
    desc.hook_user = m;
    if (hooked) {
        desc.hook_declare = declare;
        desc.load = desc.store = weigh_real;
    }
    return desc;
}

/* Runs a plan with or without hooks. `memory` contains the input and receives the result. */
static vd_fft *run_real(const real_sample *r, bool hooked, vd_buffer window, float gain, mine *m, float *memory,
                        uint64_t room) {
    vd_named_arg args[2] = { { "gain", vd_f32(gain) }, { "window", vd_b(window) } };
    vd_buffer in = device_buffer(VD_F32, room, memory), out = r->in_place ? in : device_buffer(VD_F32, room, NULL);
    vd_fft_desc desc = real_desc(r, hooked, m);
    vd_fft_io io;
    vd_fft *plan = vd_fft_create(device_context, &desc);
    memset(&io, 0, sizeof io);
    io.direction = r->direction;
    io.in = in;
    if (!r->in_place) io.out = out;
    io.args = args;
    io.arg_count = hooked ? 2 : 0;
    if (!plan || vd_fft_run(plan, vd_immediate(device_context, 0, 0), &io)
        || vd_buffer_read(device_context, out, 0, memory, room * 4))
        fail_msg("kind %d: %s", (int)r->kind, vd_error_text());
    vd_buffer_destroy(device_context, in);
    if (!r->in_place) vd_buffer_destroy(device_context, out);
    return plan;
}

static void check_real(const real_sample *r) {
    const float gain = 0.75f;
    mine m;
    vd_fft_desc desc = real_desc(r, true, &m);
    if (passes_over_form(&desc, r->direction)) return;
    bool back = r->kind == VD_FFT_REAL && r->direction;
    real_array from = array_of(r, back), to = array_of(r, !back);
    uint64_t ins = from.span * from.parts, outs = to.span * to.parts, room = ins > outs ? ins : outs,
             most = from.count > to.count ? from.count : to.count;
    float *window = (float *)malloc(most * 4), *expected = (float *)calloc(room, 4), *result = (float *)calloc(room, 4);
    double wrong = 0, all = 0;
    assert_true(window && expected && result);
    for (uint64_t i = 0; i < most; i++) window[i] = noise(~i);
    for (uint64_t i = 0; i < ins; i++) result[i] = expected[i] = noise(i);
    vd_buffer w = device_buffer(VD_F32, most, window);
    weigh_on_host(r, &from, window, gain, expected);
    vd_fft_destroy(run_real(r, false, w, gain, &m, expected, room));
    weigh_on_host(r, &to, window, gain, expected);
    vd_fft *plan = run_real(r, true, w, gain, &m, result, room);
    for (uint64_t i = 0; i < to.count * to.parts; i++) {
        uint64_t at = to.parts * place_of(to.s.shape, to.stride, i / to.parts) + i % to.parts;
        if (!is_there(&to, i / to.parts)) continue;
        wrong += ((double)result[at] - (double)expected[at]) * ((double)result[at] - (double)expected[at]);
        all += (double)expected[at] * (double)expected[at];
    }
    if (!(sqrt(wrong / all) <= 1e-6)) {
        print_error("kind %d, direction %d, axes 0x%x, shape %d %d %d, in place %d\n%s", (int)r->kind, (int)r->direction, r->axes, (int)r->shape[0],
                    (int)r->shape[1], (int)r->shape[2], r->in_place, vd_fft_explain(plan));
        fail_msg("error %.3g", sqrt(wrong / all));
    }
    vd_fft_destroy(plan);
    vd_buffer_destroy(device_context, w);
    free(window);
    free(expected);
    free(result);
}

/* Even and odd lengths, Bluestein, columns, strides, several axes, long axes in both directions: every pass with loads
   and stores of its own. */
static void real_kinds(void **state) {
    static const real_sample samples[] = {
        { VD_FFT_REAL, { 3, 64 }, 0, VD_FFT_FORWARD, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 3, 64 }, 0, VD_FFT_INVERSE, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 3, 15 }, 0, VD_FFT_FORWARD, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 4, 15 }, 0, VD_FFT_INVERSE, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 5, 1 }, 0, VD_FFT_FORWARD, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 5, 2 }, 0, VD_FFT_INVERSE, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 3, 37 }, 0, VD_FFT_FORWARD, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 12, 20 }, 3, VD_FFT_FORWARD, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 12, 20 }, 3, VD_FFT_INVERSE, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 20, 11 }, 1, VD_FFT_FORWARD, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 21, 11 }, 1, VD_FFT_INVERSE, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 5, 8, 6 }, 5, VD_FFT_FORWARD, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 5, 8, 6 }, 3, VD_FFT_INVERSE, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 3, 16, 5 }, 2, VD_FFT_FORWARD, false, { 90, 5, 1 }, { 1, 3, 27 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 9, 32 }, 0, VD_FFT_FORWARD, false, { 41, 1 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 7, 20 }, 0, VD_FFT_FORWARD, true, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 6, 20 }, 3, VD_FFT_INVERSE, true, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 2, 40000 }, 0, VD_FFT_FORWARD, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 19683, 2 }, 1, VD_FFT_INVERSE, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 3, 64 }, 0, VD_FFT_FORWARD, false, { 0 }, { 0 }, { 0, 20 }, { 0, 9 } },
        { VD_FFT_REAL, { 3, 64 }, 0, VD_FFT_INVERSE, false, { 0 }, { 0 }, { 0, 20 }, { 0, 9 } },
        { VD_FFT_REAL, { 3, 64 }, 0, VD_FFT_FORWARD, false, { 0 }, { 0 }, { 0, 21 }, { 0, 32 } },
        { VD_FFT_REAL, { 4, 15 }, 0, VD_FFT_INVERSE, false, { 0 }, { 0 }, { 0, 7 }, { 0, 3 } },
        { VD_FFT_REAL, { 12, 20 }, 3, VD_FFT_FORWARD, false, { 0 }, { 0 }, { 7, 6 }, { 5, 11 } },
        { VD_FFT_REAL, { 12, 20 }, 3, VD_FFT_INVERSE, false, { 0 }, { 0 }, { 7, 6 }, { 5, 11 } },
        { VD_FFT_DCT3, { 3, 15 }, 0, VD_FFT_FORWARD, false, { 0 }, { 0 }, { 0, 6 }, { 0, 9 } },
        { VD_FFT_REAL, { 2, 16418 }, 0, VD_FFT_FORWARD, true, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_REAL, { 16418, 2 }, 1, VD_FFT_INVERSE, false, { 0 }, { 0 }, { 9000 }, { 7000 } },
        { VD_FFT_REAL, { 8209, 3 }, 3, VD_FFT_FORWARD, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_DST4, { 2, 8209 }, 2, VD_FFT_FORWARD, false, { 0 }, { 0 }, { 0 }, { 0 } },
        { VD_FFT_DCT2, { 16418, 2 }, 3, VD_FFT_INVERSE, false, { 0 }, { 0 }, { 0 }, { 0 } },
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(samples); i++) check_real(&samples[i]);
    /* alternately the inverse of odd rows, and columns too, in place */
    for (int kind = VD_FFT_DCT1; kind <= VD_FFT_DST4; kind++) {
        bool turn = kind & 1;
        real_sample r = {
            (vd_fft_kind)kind, { 15, turn ? 16 : 11 }, turn ? 3 : 2, turn ? VD_FFT_FORWARD : VD_FFT_INVERSE, turn,
            { 0 }, { 0 }, { 0 }, { 0 }
        };
        check_real(&r);
    }
}

/* The imaginary part is ignored, so these hooks leave it unset, in one direction. */
static void load_re_only(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k;
    if (!at->direction) v->re = vc_load(((const real_and_power *)user)->real, at->index);
}

static void store_re_only(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    static const vc_val nothing = { 0, 0 };
    (void)k;
    if (!at->direction) return;
    vc_store(((const real_and_power *)user)->power, at->index, v->re);
    v->re = nothing;
}

/* Reals from one argument to another by way of a spectrum in an argument; and a power spectrum of reals, as no_arrays,
   but with half the bins. */
static void run_own(vd_fft *plan, vd_fft_direction direction, vd_buffer in, vd_buffer out, vd_buffer real,
                    vd_buffer power) {
    vd_named_arg args[2] = { { "real", vd_b(real) }, { "power", vd_b(power) } };
    vd_fft_io io;
    memset(&io, 0, sizeof io);
    io.direction = direction;
    io.in = in;
    io.out = out;
    io.args = args;
    io.arg_count = 2;
    if (!plan || vd_fft_run(plan, vd_immediate(device_context, 0, 0), &io)) fail_msg("%s", vd_error_text());
}

static void real_arrays(void **state) {
    enum { ROWS = 5, N = 96, BINS = N / 2 + 1 };
    float data[ROWS * N], result[ROWS * N];
    const vd_buffer none = { 0 };
    real_and_power m;
    vd_fft_desc desc = { 0 };
    (void)state;
    need_device();
    for (uint64_t i = 0; i < ROWS * N; i++) data[i] = noise(i);
    desc.kind = VD_FFT_REAL;
    desc.shape[0] = ROWS;
    desc.shape[1] = N;
    desc.load = load_real;
    desc.store = store_power;
    desc.hook_declare = declare_two;
    desc.hook_user = &m;
    vd_fft *plan = vd_fft_create(device_context, &desc);
    vd_buffer real = device_buffer(VD_F32, ROWS * N, data), power = device_buffer(VD_F32, ROWS * N, NULL),
              bins = device_buffer(VD_F32C, ROWS * BINS, NULL);
    run_own(plan, VD_FFT_FORWARD, none, none, real, power);
    assert_int_equal(vd_buffer_read(device_context, power, 0, result, ROWS * BINS * 4), VD_OK);
    for (uint32_t i = 0; i < ROWS * BINS; i++) {
        double re = 0, im = 0;
        for (uint32_t j = 0; j < N; j++) {
            double turn = 2 * 3.14159265358979323846 * (i % BINS * j % N) / N;
            re += (double)data[i / BINS * N + j] * cos(turn);
            im -= (double)data[i / BINS * N + j] * sin(turn);
        }
        if (!(fabs((double)result[i] - re * re - im * im) <= 1e-4))
            fail_msg("element %d is %.9g, not %.9g", (int)i, (double)result[i], re * re + im * im);
    }
    vd_fft_destroy(plan);
    desc.load = load_re_only;
    desc.store = NULL;
    plan = vd_fft_create(device_context, &desc);
    run_own(plan, VD_FFT_FORWARD, none, bins, real, power);
    vd_fft_destroy(plan);
    desc.load = NULL;
    desc.store = store_re_only;
    plan = vd_fft_create(device_context, &desc);
    run_own(plan, VD_FFT_INVERSE, bins, none, real, power);
    vd_fft_destroy(plan);
    assert_int_equal(vd_buffer_read(device_context, power, 0, result, sizeof result), VD_OK);
    for (uint32_t i = 0; i < ROWS * N; i++)
        if (!(fabsf(result[i] - data[i]) <= 1e-6f))
            fail_msg("number %d is %.9g, not %.9g", (int)i, (double)result[i], (double)data[i]);
    vd_buffer_destroy(device_context, real);
    vd_buffer_destroy(device_context, power);
    vd_buffer_destroy(device_context, bins);
}

/* ---- shifts ---- */

static void shift_one(uint64_t height, uint64_t width, uint32_t axes, vd_fft_direction direction) {
    uint64_t down = axes == 2   ? 0
                    : direction ? height - height / 2
                                : height / 2,
             right = axes == 1   ? 0
                     : direction ? width - width / 2
                                 : width / 2;
    float data[2 * 40 * 31], result[2 * 40 * 31];
    vd_buffer_desc desc = { 0 };
    for (uint64_t i = 0; i < 2 * height * width; i++) data[i] = noise(i);
    desc.type = VD_F32C;
    desc.shape[0] = height;
    desc.shape[1] = width;
    desc.data = data;
    vd_buffer in = vd_buffer_create(device_context, &desc), out = vd_buffer_create(device_context, &desc);
    if (vd_fft_shift(device_context, in, out, axes, direction)
        || vd_buffer_read(device_context, out, 0, result, VD_WHOLE))
        fail_msg("%s", vd_error_text());
    for (uint64_t y = 0; y < height; y++)
        for (uint64_t x = 0; x < width; x++)
            assert_memory_equal(&result[2 * ((y + down) % height * width + (x + right) % width)],
                                &data[2 * (y * width + x)], 8);
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, out);
}

static void shifts(void **state) {
    double odd[5], even[4];
    (void)state;
    need_device();
    for (uint32_t axes = 0; axes < 4; axes++)
        for (int direction = 0; direction < 2; direction++) {
            shift_one(6, 7, axes, (vd_fft_direction)direction);
            shift_one(9, 1, axes, (vd_fft_direction)direction);
            shift_one(40, 31, axes, (vd_fft_direction)direction); /* several work-groups in large_hooks.c */
        }
    vd_fft_freq(5, 0.5, odd);
    vd_fft_freq(4, 1, even);
    for (int i = 0; i < 5; i++) assert_true(fabs(odd[i] - (i < 3 ? i : i - 5) / 2.5) < 1e-15);
    for (int i = 0; i < 4; i++) assert_true(fabs(even[i] - (i < 2 ? i : i - 4) / 4.0) < 1e-15);
}

/* ---- hooks that print, with and without arguments ---- */

typedef struct printing { mine m; bool declares; int load, store; } printing;

static void declare_printing(vc_kernel *k, void *user) {
    printing *p = (printing *)user;
    if (p->declares) declare(k, &p->m);
}

static void print_load(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    const printing *p = (const printing *)user;
    vc_assert(k, vc_lt(at->index, vc_u32(48)), "an element of 48");
    VC_IF(k, vc_eq(at->index, vc_u32(20))) vc_printf(k, "load %u: %.2f", at->index, v->re);
    if (p->declares) v->re = vc_mul(v->re, vc_mul(p->m.gain, vc_load(p->m.window, at->index)));
}

static void print_store(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)user;
    VC_IF(k, vc_eq(at->index, vc_u32(16))) vc_printf(k, "store %u: %.2f", at->index, v->re);
}

static void hear(void *user, const char *kernel, const uint32_t id[3], const char *text) {
    printing *p = (printing *)user;
    (void)kernel;
    (void)id;
    if (strcmp(text, "load 20: 3.00") == 0) p->load++;
    else if (strcmp(text, p->declares ? "store 16: 96.00" : "store 16: 48.00") == 0) p->store++;
    else fail_msg("\"%s\"", text);
}

/* All numbers are 3, in rows of 16: the text arrives, the arguments are those declared, and the result is the same as
   without printing. */
static void printf_in_hooks(void **state) {
    vd_context_desc context = { 0 };
    vd_context *ctx = NULL;
    printing p;
    float data[96], window[48], result[96];
    (void)state;
    need_device();
    memset(&p, 0, sizeof p);
    context.print = hear;
    context.print_user = &p;
    if (vd_context_create(&context, &ctx)) fail_msg("%s", vd_error_text());
    for (int i = 0; i < 96; i++) data[i] = i % 2 ? 0.0f : 3.0f;
    for (int i = 0; i < 48; i++) window[i] = 4;
    for (int turn = 0; turn < 2; turn++) {
        vd_fft_desc desc = { 0 };
        vd_fft_io io = { VD_FFT_FORWARD, { 0 }, { 0 }, NULL, 0 };
        int count = 7;
        p.declares = turn;
        p.load = p.store = 0;
        desc.shape[0] = 3;
        desc.shape[1] = 16;
        desc.load = print_load;
        desc.store = print_store;
        desc.hook_declare = declare_printing;
        desc.hook_user = &p;
        vd_fft *plan = vd_fft_create(ctx, &desc);
        if (!plan) fail_msg("%s", vd_error_text());
        vd_fft_arguments(plan, &count);
        assert_int_equal(count, turn ? 2 : 0);
        vd_buffer b = buffer_of(ctx, VD_F32C, 48, data), w = buffer_of(ctx, VD_F32, 48, window);
        vd_named_arg args[2] = { { "gain", vd_f32(0.5f) }, { "window", vd_b(w) } };
        io.in = b;
        io.args = args;
        io.arg_count = count;
        if (vd_fft_run(plan, vd_immediate(ctx, 0, 0), &io) || vd_buffer_read(ctx, b, 0, result, sizeof result))
            fail_msg("%s", vd_error_text());
        vd_fft_destroy(plan);
        vd_buffer_destroy(ctx, b);
        vd_buffer_destroy(ctx, w);
        for (int i = 0; i < 96; i++) assert_float_equal(result[i], (i % 32 ? 0.0f : turn ? 96.0f : 48.0f), 1e-4f);
        assert_true(p.load > 0); /* load hooks may run twice */
        assert_int_equal(p.store, 1);
    }
    vd_context_destroy(ctx);
}

/* ---- invalid hooks and arguments, without a device ---- */

static void declare_many(vc_kernel *k, void *user) {
    char name[24];
    (void)user;
    for (int i = 0; i < 17; i++) {
        snprintf(name, sizeof name, "many %d", i);
        vc_param(k, name, VC_F32);
    }
}

/* Declares two arguments with these names. */
static void declare_named(vc_kernel *k, void *user) {
    const char *const *name = (const char *const *)user;
    vc_param(k, name[0], VC_F32);
    vc_buffer(k, name[1], VC_F32, VC_READ);
}

static void load_nothing(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k;
    (void)at;
    (void)v;
    (void)user;
}

static void bad_names(vd_context *ctx, vd_fft_desc desc) {
    static const char of_64[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    static const struct { const char *name[2], *says; } cases[] = {
        { { "w", "w" }, "vd_fft_create 'hooked': hook_declare declares argument 'w', but the plan already has "
                        "an argument of this name" },
        { { "w", of_64 }, "'hooked': the name of argument '0123456789abcdef0123...' of hook_declare has 64 bytes, but the limit is 63" },
        { { NULL, "w" }, "'hooked': argument 0 of hook_declare has no name" },
        { { "w", "" }, "'hooked': argument 1 of hook_declare has no name" },
    };
    const char *longest[2] = { of_64 + 1, "w" };
    const vd_arg_info *info;
    int count = 0;
    desc.load = load_nothing;
    desc.store = NULL;
    desc.hook_declare = declare_named;
    for (size_t i = 0; i < COUNT(cases); i++) {
        desc.hook_user = (void *)(uintptr_t)cases[i].name;
        assert_null(vd_fft_create(ctx, &desc));
        says(cases[i].says);
        assert_int_equal(vd_error_result(), cases[i].name[1] == of_64 ? VD_ERROR_UNSUPPORTED : VD_ERROR_INVALID);
    }
    desc.hook_user = (void *)longest;
    vd_fft *plan = vd_fft_create(ctx, &desc);
    assert_non_null(plan);
    info = vd_fft_arguments(plan, &count);
    assert_int_equal(count, 2);
    assert_string_equal(info[0].name, longest[0]);
    vd_fft_destroy(plan);
}

static void mixed_up(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k;
    (void)user;
    v->re = vc_add(v->re, at->index);
}

static void leaves(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)v;
    (void)user;
    vc_return_if(k, vc_gt(at->index, vc_u32(7)));
}

static void leaves_together(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)v;
    (void)user;
    if (at->direction) vc_return_if(k, vc_gt(vc_groups(k, 0), vc_u32(7)));
}

static void waits(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)at;
    (void)v;
    (void)user;
    vc_barrier(k);
}

static void sums(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)at;
    (void)user;
    vc_group_reduce(k, VC_ADD, v->re, &v->re);
}

static void bad_places(vd_context *ctx, vd_fft_desc desc) {
    static const struct { vd_fft_hook hook; const char *says; } cases[] = {
        { leaves, "hook contains vc_return_if" }, { leaves_together, "hook contains vc_return_if" },
        { waits, "hook runs in divergent control flow: vc_barrier in kernel 'hooked'" },
        { sums, "hook runs in divergent control flow: vc_group_reduce in kernel 'hooked'" },
    };
    desc.hook_declare = NULL;
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        desc.load = i % 2 ? NULL : cases[i / 2].hook;
        desc.store = i % 2 ? cases[i / 2].hook : NULL;
        assert_null(vd_fft_create(ctx, &desc));
        says(cases[i / 2].says);
        says(i % 2 ? "the store hook" : "the load hook");
    }
}

static void wants_f64(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k;
    (void)at;
    (void)user;
    v->re = vc_cast(VC_F32, vc_sqrt(vc_cast(VC_F64, v->re)));
}

/* Records until the builder fails; that must happen without more address space than exists. */
static void too_long(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    struct rlimit limit, none;
    assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
    none = limit;
    none.rlim_cur = 1;
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    for (int i = 0; i < 1 << 22 && !vc_error(k); i++) v->re = vc_sub(vc_mul(v->re, v->re), v->im);
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    (void)at;
    (void)user;
}

static void leaves_integers(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k;
    (void)user;
    v->re = at->index;
}

static void leaves_half(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    const vc_val nothing = { 0, 0 };
    (void)k;
    (void)at;
    (void)user;
    v->im = nothing;
}

static void declares(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)user;
    if (at->direction) v->re = vc_mul(v->re, vc_param(k, "late", VC_F32));
}

static vc_val stranger;   /* a value of another kernel */

static void foreign(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k;
    (void)at;
    (void)user;
    v->im = stranger;
}

/* Not every failure is the hook's. */
static void results(vd_context *ctx, vd_fft_desc desc) {
    static const struct { vd_fft_hook hook; vd_result result; const char *says; } cases[] = {
        { mixed_up, VD_ERROR_COMPILE, "hook: vc_add" },
        { waits, VD_ERROR_COMPILE, "hook runs in divergent control flow: vc_barrier in kernel 'hooked'" },
        { leaves, VD_ERROR_COMPILE, "contains vc_return_if; use vc_select or VC_IF instead" },
        { wants_f64, VD_ERROR_UNSUPPORTED, "hook: vc_cast in kernel 'hooked'" },
        { leaves_integers, VD_ERROR_COMPILE, "hook sets re to u32 and im to f32, but f32 is expected" },
        { leaves_half, VD_ERROR_COMPILE, "hook sets re to f32 and im to {0}, but f32 is expected" },
        { foreign, VD_ERROR_COMPILE, "hook sets im to a value of another kernel" },
        { declares, VD_ERROR_COMPILE,
          "'hooked': argument 'late' is declared while an element is recorded; declare it in hook_declare" },
        { too_long, VD_ERROR_OUT_OF_MEMORY, "hook: " },
    };
    size_t count = COUNT(cases);
    vc_kernel *other = vc_begin(NULL);
    stranger = vc_const(other, vc_f32(1));
#ifdef __SANITIZE_ADDRESS__
    count--; /* the hook's allocator ends the program without memory */
#endif
    desc.hook_declare = NULL;
    for (size_t i = 0; i < 2 * count; i++) {
        desc.load = i % 2 ? NULL : cases[i / 2].hook;
        desc.store = i % 2 ? cases[i / 2].hook : NULL;
        assert_null(vd_fft_create(ctx, &desc));
        if (vd_error_result() != cases[i / 2].result)
            fail_msg("%s: %s", vd_result_name(vd_error_result()), vd_error_text());
        says(cases[i / 2].says);
    }
    vc_free(other);
}

static void refuse_run(vd_fft *plan, vd_context *ctx, const vd_fft_io *io, const char *part) {
    assert_int_not_equal(vd_fft_run(plan, vd_immediate(ctx, 0, 0), io), VD_OK);
    says(part);
}

static void bad_arguments(vd_context *ctx, vd_fft_desc desc) {
    vd_buffer_desc memory = { 0 };
    vd_named_arg args[3] = { { "gain", vd_f32(1) }, { "wind", vd_f32(1) }, { "gain", vd_f32(2) } };
    vd_fft_io io;
    vd_fft *plan = vd_fft_create(ctx, &desc);
    assert_non_null(plan);
    memset(&io, 0, sizeof io);
    memory.type = VD_F32C;
    memory.shape[0] = 16;
    io.in = vd_buffer_create(ctx, &memory);
    refuse_run(plan, ctx, &io, "'hooked': argument 'window' is missing");
    vd_fft_io empty = { 0 };
    refuse_run(plan, ctx, &empty, "'hooked': in: the buffer handle is 0");
    io.arg_count = 2;
    refuse_run(plan, ctx, &io, "'hooked': arg_count is 2, but args is NULL");
    io.arg_count = -1;
    refuse_run(plan, ctx, &io, "'hooked': arg_count is -1, but must not be negative");
    io.arg_count = 2;
    io.args = args;
    refuse_run(plan, ctx, &io, "'hooked': the plan has no argument 'wind'");
    args[1].name = NULL;
    refuse_run(plan, ctx, &io, "'hooked': the plan has no argument ''");
    args[1].name = "window";
    refuse_run(plan, ctx, &io, "'window' is a value of f32, but the kernel expects a buffer of f32");
    args[1].value = vd_b(io.in);
    refuse_run(plan, ctx, &io, "'window' is a buffer of complex f32, but the kernel expects a buffer of f32");
    io.arg_count = 3;
    refuse_run(plan, ctx, &io, "vd_fft_run 'hooked': argument 'gain' is passed twice");
    vd_buffer_destroy(ctx, io.in);
    vd_fft_destroy(plan);
}

static void refuse_shift(vd_context *ctx, vd_buffer in, vd_buffer out, uint32_t axes, const char *part) {
    assert_int_equal(vd_fft_shift(ctx, in, out, axes, VD_FFT_FORWARD), VD_ERROR_INVALID);
    says(part);
}

static void bad_shifts(vd_context *ctx) {
    vd_buffer_desc desc = { 0 };
    vd_buffer none = { 0 }, b[4];
    desc.name = "bytes";
    desc.type = VD_U8;
    desc.shape[0] = 16;
    b[0] = vd_buffer_create(ctx, &desc);
    desc.name = "numbers";
    desc.type = VD_F32;
    b[1] = vd_buffer_create(ctx, &desc);
    desc.shape[0] = 15;
    b[2] = vd_buffer_create(ctx, &desc);
    desc.shape[0] = 4;
    desc.shape[1] = 8;
    b[3] = vd_buffer_create(ctx, &desc);
    assert_int_equal(vd_fft_shift(ctx, none, b[1], 0, VD_FFT_FORWARD), VD_ERROR_INVALID);
    refuse_shift(ctx, b[0], b[1], 0, "'bytes' (in) has type u8, but elements of 4, 8 or 16 bytes are expected");
    refuse_shift(ctx, b[1], b[1], 0, "in and out are the same buffer");
    refuse_shift(ctx, b[1], b[2], 0, "'numbers' (out) has 60 bytes, but the plan needs 64");
    refuse_shift(ctx, b[1], b[2], 16, "vd_fft_shift: axes is 0x10 (bit 4), but the shape 16 x 1 x 1 x 1 has only 4 dimensions");
    refuse_shift(ctx, b[3], b[1], 0x80000014u, "axes is 0x80000014 (bit 4), but the shape 4 x 8 x 1 x 1 has only 4 ");
    refuse_shift(ctx, b[3], b[1], 1u << 31, "(bit 31), but the shape 4 x 8 x 1 x 1 has only 4 dimensions");
    for (int i = 0; i < 4; i++) vd_buffer_destroy(ctx, b[i]);
}

/* The same without f64. */
static void hook_results(void **state) {
    vd_context_desc context = { 0 };
    vd_context *ctx = NULL;
    vd_fft_desc desc = { 0 };
    (void)state;
    context.backend = VD_BACKEND_DUMMY;
    context.disable = VD_FEATURE_F64;
    assert_int_equal(vd_context_create(&context, &ctx), VD_OK);
    desc.name = "hooked";
    desc.shape[0] = 16;
    results(ctx, desc);
    desc.kind = VD_FFT_DCT2;
    desc.store = leaves_integers;
    assert_null(vd_fft_create(ctx, &desc));
    says("'hooked': the store hook sets re to u32, but f32 is expected");
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

static void bad_input(void **state) {
    vd_context *ctx = dummy_context();
    vd_fft_desc desc = { 0 };
    mine m;
    int count = 7;
    (void)state;
    desc.name = "hooked";
    desc.shape[0] = 16;
    desc.load = mixed_up;
    assert_null(vd_fft_create(ctx, &desc));
    says("vd_fft_create 'hooked': the load hook: ");
    says("vc_add");
    desc.load = NULL;
    desc.store = store;
    desc.hook_user = &m;
    desc.hook_declare = declare_many;
    memset(&m, 0, sizeof m);
    assert_null(vd_fft_create(ctx, &desc)); /* the window is not declared */
    desc.store = NULL;
    desc.load = load_nothing;
    assert_null(vd_fft_create(ctx, &desc));
    says("'hooked': argument '");
    assert_int_equal(vd_error_result(), VD_ERROR_UNSUPPORTED);
    bad_names(ctx, desc);
    bad_places(ctx, desc);
    desc.store = NULL;
    desc.load = load_real;
    assert_null(vd_fft_create(ctx, &desc));
    desc.load = load;
    desc.store = store;
    desc.hook_declare = declare;
    bad_arguments(ctx, desc);
    desc.engine = VD_FFT_ENGINE_VKFFT;
    assert_null(vd_fft_create(ctx, &desc));
    says("'hooked': engine VkFFT does not support hooks");
    bad_shifts(ctx);
    assert_null(vd_fft_arguments(NULL, &count));
    says("vd_fft_arguments: plan is NULL");
    assert_int_equal(count, 0);
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds), cmocka_unit_test(called_inside), cmocka_unit_test(no_arrays),
        cmocka_unit_test(real_kinds), cmocka_unit_test(real_arrays), cmocka_unit_test(shifts),
        cmocka_unit_test(printf_in_hooks), cmocka_unit_test(hook_results), cmocka_unit_test(bad_input),
    };
    return RUN_ON_DEVICE(tests);
}
