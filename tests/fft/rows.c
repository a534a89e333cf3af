/* Rows of a batch are independent: a row's result has the same bits wherever the row is and whatever the other rows
   contain. Each plan runs three times: with equal rows, then twice with every second row replaced by noise 10^6 times
   as large, by NaN or by infinities. Covers all kinds of transforms in both directions, odd and even lengths, one to
   three axes, rows and columns, f16, f32 and f64, in place, with hooks, and real convolutions in all ranges.
       rows */
#define _POSIX_C_SOURCE 200112L /* setenv */
#include "common.h"

#include <math.h>

/* Input or output of a run: `units` independent arrays of numbers. Element e of unit u is at index of_unit(u, e). */
typedef struct layout {
    uint64_t shape[4];
    uint32_t own;            /* bits: dimensions of one unit; the others count the units */
    uint32_t parts;          /* numbers per element: 2 if complex */
    vd_type type;
} layout;

static uint64_t product_of(const layout *l, uint32_t dimensions) {
    uint64_t n = 1;
    for (uint32_t d = 0; d < 4 && l->shape[d]; d++) if (dimensions >> d & 1) n *= l->shape[d];
    return n;
}

static uint64_t units_of(const layout *l) { return product_of(l, ~l->own); }
static uint64_t elements_of(const layout *l) { return product_of(l, l->own); }
static uint64_t bytes_of(const layout *l) { return product_of(l, 15) * l->parts * vd_type_size(l->type); }

static uint64_t element_at(const layout *l, uint64_t unit, uint64_t element) {
    uint64_t at = 0, stride = 1;
    for (uint32_t d = 4; d-- > 0;) {
        if (!l->shape[d]) continue;
        uint64_t *index = l->own >> d & 1 ? &element : &unit;
        at += *index % l->shape[d] * stride;
        *index /= l->shape[d];
        stride *= l->shape[d];
    }
    return at;
}

static double noise(uint64_t i) {
    uint32_t x = (uint32_t)i * 2654435761u + 12345;
    x = (x ^ x >> 15) * 2246822519u;
    return (double)((x ^ x >> 13) >> 8) / 8388608.0 - 1.0;
}

/* Converts to f16 by truncation. */
static uint16_t half_of(double x) {
    int exponent;
    double m = frexp(fabs(x), &exponent);
    uint16_t sign = x < 0 ? 0x8000 : 0;
    if (isnan(x)) return 0x7e00;
    if (isinf(x) || exponent > 16) return (uint16_t)(sign | 0x7c00);
    if (exponent < -13) return sign;
    return (uint16_t)(sign | (uint32_t)(exponent + 14) << 10 | ((uint32_t)(m * 2048) & 1023));
}

static void put_number(vd_type type, unsigned char *at, double x) {
    float f = (float)x;
    uint16_t h = half_of(x);
    memcpy(at, type == VD_F64 ? (const void *)&x : type == VD_F32 ? (const void *)&f : &h, (size_t)vd_type_size(type));
}

/* Equal units, except every second one starting at `first`; first 2: no exception. */
static void fill(const layout *l, unsigned first, unsigned char *to) {
    double large = l->type == VD_F16 ? 1e4 : 1e6;
    for (uint64_t u = 0; u < units_of(l); u++) {
        bool other = first < 2 && u % 2 == first;
        for (uint64_t i = 0; i < elements_of(l) * l->parts; i++) {
            uint64_t at = element_at(l, u, i / l->parts) * l->parts + i % l->parts;
            double x = noise(i);
            if (other)
                x = u / 2 % 3 == 0   ? large * noise(i + 1000 * (u + 1))
                    : u / 2 % 3 == 1 ? (double)NAN
                    : i % 3          ? (double)INFINITY
                                     : -(double)INFINITY;
            put_number(l->type, to + at * vd_type_size(l->type), x);
        }
    }
}

/* A plan and its buffers. */
typedef struct runner {
    vd_fft *fft;
    vd_convolve *convolve;
    vd_fft_direction direction;
    bool in_place;
    layout in, out;
    const char *text;        /* for messages */
} runner;

static void run(const runner *r, const unsigned char *data, unsigned char *result) {
    uint64_t bytes = bytes_of(&r->in) > bytes_of(&r->out) ? bytes_of(&r->in) : bytes_of(&r->out);
    vd_buffer in = buffer_of(device_context, VD_U8, bytes, data),
              out = r->in_place ? in : buffer_of(device_context, VD_U8, bytes, NULL);
    vd_list *list = vd_immediate(device_context, 0, 0);
    vd_fft_io io = { 0 };
    io.direction = r->direction;
    io.in = in;
    io.out = out;
    if (r->in_place) io.out.id = 0;
    if (r->fft ? vd_fft_run(r->fft, list, &io) : vd_convolve_run(r->convolve, list, in, out))
        fail_msg("%s: %s", r->text, vd_error_text());
    if (vd_buffer_read(device_context, out, 0, result, bytes_of(&r->out))) fail_msg("%s: %s", r->text, vd_error_text());
    if (!r->in_place) vd_buffer_destroy(device_context, out);
    vd_buffer_destroy(device_context, in);
}

/* Fails if unit u differs in any bit from unit 0 of the first run. */
static void compare_unit(const runner *r, const unsigned char *first, const unsigned char *now, uint64_t u,
                         unsigned step) {
    const layout *l = &r->out;
    size_t size = (size_t)vd_type_size(l->type) * l->parts;
    for (uint64_t e = 0; e < elements_of(l); e++) {
        if (!memcmp(first + element_at(l, 0, e) * size, now + element_at(l, u, e) * size, size)) continue;
        fail_msg("%s, direction %d, %s: unit %llu of %llu differs at element %llu beside %s\n%s", r->text,
                 (int)r->direction, vd_type_name(l->type), (unsigned long long)u, (unsigned long long)units_of(l),
                 (unsigned long long)e, step == 0 ? "equal rows" : "rows of large numbers, NaN and infinities",
                 r->fft ? vd_fft_explain(r->fft) : vd_convolve_explain(r->convolve));
    }
}

static void check_runs(const runner *r) {
    uint64_t room = bytes_of(&r->in) > bytes_of(&r->out) ? bytes_of(&r->in) : bytes_of(&r->out);
    unsigned char *data = (unsigned char *)calloc(1, room), *first = (unsigned char *)malloc(room),
                  *now = (unsigned char *)malloc(room);
    assert_true(data && first && now);
    for (unsigned step = 0; step < 3; step++) {
        fill(&r->in, step ? step % 2 : 2, data);
        run(r, data, step ? now : first);
        for (uint64_t u = step == 0; u < units_of(&r->out); u++)
            if (!step || u % 2 != step % 2) compare_unit(r, first, step ? now : first, u, step);
    }
    free(data);
    free(first);
    free(now);
}

/* ---- transforms ---- */

typedef struct sample {
    vd_fft_kind kind;
    uint64_t shape[4];
    uint32_t axes;
    bool in_place;           /* complex, cosines and sines */
    vd_type type, stored;    /* 0: VD_F32, and as `type` */
    vd_fft_hook hook;
} sample;

static void scale(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k, (void)at, (void)user;
    v->re = vc_mul(v->re, vc_f32(0.75f));
    v->im = vc_mul(v->im, vc_f32(0.75f));
}

static layout layout_of(const sample *s, bool bins) {
    layout l;
    uint32_t last = 3;
    memset(&l, 0, sizeof l);
    memcpy(l.shape, s->shape, sizeof l.shape);
    l.own = s->axes;
    l.type = s->stored ? s->stored : s->type ? s->type : VD_F32;
    l.parts = s->kind == VD_FFT_COMPLEX || bins ? 2 : 1;
    while (!(s->axes >> last & 1)) last--;
    if (bins) l.shape[last] = l.shape[last] / 2 + 1;
    return l;
}

static bool has_types(const sample *s) {
    uint64_t features = vd_device(device_context, 0)->features;
    return (s->type != VD_F64 || features & VD_FEATURE_F64)
           && (s->stored != VD_F16 || features & VD_FEATURE_STORAGE_16);
}

static void check(const sample *s) {
    vd_fft_desc desc = { 0 };
    char text[128];
    if (!has_types(s)) return;
    desc.kind = s->kind;
    memcpy(desc.shape, s->shape, sizeof desc.shape);
    desc.axes = s->axes;
    desc.type = s->type;
    desc.in_type = desc.out_type = s->stored;
    desc.load = desc.store = s->hook;
    vd_fft *plan = vd_fft_create(device_context, &desc);
    if (!plan) fail_msg("%s", vd_error_text());
    snprintf(text, sizeof text, "kind %d of %d x %d x %d x %d, axes 0x%x", (int)s->kind, (int)s->shape[0],
             (int)s->shape[1], (int)s->shape[2], (int)s->shape[3], s->axes);
    for (int direction = 0; direction < 2; direction++) {
        bool real = s->kind == VD_FFT_REAL;
        if (passes_over_form(&desc, (vd_fft_direction)direction)) continue;
        runner r = {
            plan, NULL, (vd_fft_direction)direction, s->in_place, layout_of(s, real && direction),
            layout_of(s, real && !direction), text
        };
        check_runs(&r);
    }
    vd_fft_destroy(plan);
}

static void check_all(const sample *samples, size_t count) {
    need_device();
    for (size_t i = 0; i < count; i++) if (!passes_over(3, 1)) check(&samples[i]);
}

/* Odd and even lengths, also with Bluestein's algorithm; odd and even batches, so that the last work-group is
   partial. */
static void kinds(void **state) {
    static const uint64_t lengths[] = { 15, 16, 131 };
    (void)state;
    need_device();
    for (int kind = VD_FFT_COMPLEX; kind <= VD_FFT_DST4; kind++)
        for (size_t i = 0; i < COUNT(lengths); i++) {
            sample s = { (vd_fft_kind)kind, { 7 - (unsigned)kind % 2, lengths[i] }, 2, false, 0, 0, NULL };
            s.in_place = kind != VD_FFT_REAL && kind % 2;
            if (!passes_over(5, 1)) check(&s);
        }
}

static void shapes(void **state) {
    static const sample samples[] = {
        { VD_FFT_REAL, { 5, 105 }, 2, false, 0, 0, NULL },
        { VD_FFT_REAL, { 4, 1 }, 2, false, 0, 0, NULL },
        { VD_FFT_REAL, { 21, 5 }, 1, false, 0, 0, NULL }, /* columns */
        { VD_FFT_REAL, { 3, 15, 3 }, 2, false, 0, 0, NULL },
        { VD_FFT_REAL, { 4, 9, 15 }, 6, false, 0, 0, NULL }, /* images, cubes */
        { VD_FFT_REAL, { 3, 5, 6, 7 }, 14, false, 0, 0, NULL },
        { VD_FFT_DCT2, { 5, 9, 15 }, 6, true, 0, 0, NULL },
        { VD_FFT_DST4, { 9, 4, 7 }, 5, false, 0, 0, NULL },
        { VD_FFT_COMPLEX, { 5, 9, 15 }, 6, true, 0, 0, NULL },
        { VD_FFT_REAL, { 4, 19683 }, 2, false, 0, 0, NULL }, /* in several kernels */
    };
    (void)state;
    check_all(samples, COUNT(samples));
}

static void types(void **state) {
    static const sample samples[] = {
        { VD_FFT_REAL, { 5, 45 }, 2, false, VD_F64, 0, NULL },
        { VD_FFT_DCT3, { 4, 15 }, 2, true, VD_F64, 0, NULL },
        { VD_FFT_REAL, { 5, 45 }, 2, false, VD_F32, VD_F16, NULL },
        { VD_FFT_DST2, { 4, 15 }, 2, true, VD_F32, VD_F16, NULL },
    };
    (void)state;
    check_all(samples, COUNT(samples));
}

static void hooks(void **state) {
    static const sample samples[] = {
        { VD_FFT_REAL, { 5, 15 }, 2, false, 0, 0, scale },
        { VD_FFT_DCT4, { 4, 21 }, 2, false, 0, 0, scale },
        { VD_FFT_DST3, { 5, 37 }, 2, true, 0, 0, scale },
        { VD_FFT_REAL, { 6, 16 }, 2, false, 0, 0, scale },
    };
    (void)state;
    check_all(samples, COUNT(samples));
}

/* Several axes in one kernel, and work-groups with many rows. */
static void as_for_a_gpu(void **state) {
    static const sample samples[] = {
        { VD_FFT_REAL, { 67, 15 }, 2, false, 0, 0, NULL }, { VD_FFT_REAL, { 5, 9, 15 }, 6, false, 0, 0, NULL },
        { VD_FFT_DCT2, { 66, 15 }, 2, true, 0, 0, NULL },  { VD_FFT_COMPLEX, { 5, 9, 15 }, 6, false, 0, 0, NULL },
    };
    (void)state;
    assert_int_equal(setenv("VKDISPATCH_FFT_SHAPES", "gpu-batch", 1), 0);
    check_all(samples, COUNT(samples));
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

/* ---- convolutions ---- */

typedef struct convolution {
    uint64_t shape[3], kernel[3];
    vd_convolve_kind kind;
    vd_convolve_mode range;
    uint32_t batch, channels, kernels;
    vd_type type;
    bool complex;
    vd_fft_hook filter;
} convolution;

static uint32_t at_least_one(uint32_t x) { return x ? x : 1; }

static void set_kernel(vd_convolve *plan, const convolution *c, uint32_t parts) {
    layout l;
    memset(&l, 0, sizeof l);
    l.shape[0] = at_least_one(c->kernels) * at_least_one(c->channels);
    memcpy(l.shape + 1, c->kernel, sizeof c->kernel);
    l.own = 15;
    l.parts = parts;
    l.type = c->type;
    unsigned char *data = (unsigned char *)malloc((size_t)bytes_of(&l));
    assert_non_null(data);
    fill(&l, 2, data);
    vd_buffer kernel = buffer_of(device_context, VD_U8, bytes_of(&l), data);
    if (vd_convolve_set_filter(plan, vd_immediate(device_context, 0, 0), kernel)) fail_msg("%s", vd_error_text());
    vd_buffer_destroy(device_context, kernel);
    free(data);
}

static void check_convolution(const convolution *c) {
    vd_convolve_desc desc = { 0 };
    uint32_t parts = c->complex ? 2 : 1, dimensions = 0;
    uint64_t result[3];
    char text[128];
    if (c->type == VD_F64 && !(vd_device(device_context, 0)->features & VD_FEATURE_F64)) return;
    memcpy(desc.shape, c->shape, sizeof desc.shape);
    memcpy(desc.filter_shape, c->kernel, sizeof desc.filter_shape);
    desc.kind = c->kind;
    desc.mode = c->range;
    desc.batch = c->batch;
    desc.channels = c->channels;
    desc.filters = c->kernels;
    desc.type = c->type;
    desc.real = !c->complex;
    desc.spectrum_hook = c->filter;
    vd_convolve *plan = vd_convolve_create(device_context, &desc);
    if (!plan) fail_msg("%s", vd_error_text());
    set_kernel(plan, c, parts);
    vd_convolve_shape(plan, result);
    while (dimensions < 3 && c->shape[dimensions]) dimensions++;
    snprintf(text, sizeof text, "convolution of %d x %d x %d, kind %d, range %d", (int)c->shape[0], (int)c->shape[1],
             (int)c->shape[2], (int)c->kind, (int)c->range);
    /* the channels of a group form one unit; in the output, the results of all its kernels */
    runner r = {
        NULL, plan, VD_FFT_FORWARD, false, { { c->batch, 0, 0, 0 }, 2, parts, c->type },
        { { c->batch, 0, 0, 0 }, 2, parts, c->type }, text
    };
    r.in.shape[1] = at_least_one(c->channels);
    r.out.shape[1] = at_least_one(c->kernels);
    for (uint32_t d = 0; d < dimensions; d++) {
        r.in.shape[1] *= c->shape[d];
        r.out.shape[1] *= result[d];
    }
    check_runs(&r);
    vd_convolve_destroy(plan);
}

static void check_convolutions(const convolution *cases, size_t count) {
    need_device();
    for (size_t i = 0; i < count; i++) if (!passes_over(3, 1)) check_convolution(&cases[i]);
}

static void twice(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k, (void)at, (void)user;
    v->re = vc_mul(v->re, vc_f32(2));
    v->im = vc_mul(v->im, vc_f32(2));
}

static void ranges(void **state) {
    (void)state;
    need_device();
    for (int kind = VD_CONVOLVE_CONVOLUTION; kind <= VD_CONVOLVE_CORRELATION; kind++)
        for (int range = VD_CONVOLVE_CIRCULAR; range <= VD_CONVOLVE_VALID; range++) {
            convolution c = {
                { 15, 0, 0 }, { 6, 0, 0 }, (vd_convolve_kind)kind, (vd_convolve_mode)range, 5 + (unsigned)range % 2, 0,
                0, VD_F32, false, NULL
            };
            if (!passes_over(3, 1)) check_convolution(&c);
        }
}

static const convolution convolutions[] = {
    { { 16, 0, 0 }, { 16, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 5, 0, 0, VD_F32, false, NULL },
    { { 37, 0, 0 }, { 37, 0, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CIRCULAR, 4, 0, 0, VD_F32, false, NULL },
    { { 16, 0, 0 }, { 3, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CENTRED, 5, 0, 0, VD_F32, false, twice },
    { { 15, 0, 0 }, { 5, 0, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_SAME, 5, 2, 3, VD_F32, false, NULL },
    { { 15, 0, 0 }, { 15, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 4, 3, 1, VD_F32, false, NULL },
    { { 12, 10, 0 }, { 12, 10, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 5, 0, 0, VD_F32, false, NULL },
    { { 12, 9, 0 }, { 3, 2, 0 }, VD_CONVOLVE_CORRELATION, VD_CONVOLVE_CENTRED, 4, 1, 2, VD_F32, false, NULL },
    { { 4, 5, 6 }, { 3, 3, 3 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_FULL, 3, 0, 0, VD_F32, false, NULL },
    { { 15, 0, 0 }, { 15, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_CIRCULAR, 5, 0, 0, VD_F64, false, NULL },
    { { 15, 0, 0 }, { 6, 0, 0 }, VD_CONVOLVE_CONVOLUTION, VD_CONVOLVE_SAME, 5, 0, 0, VD_F32, true, NULL },
};

static void convolved(void **state) {
    (void)state;
    check_convolutions(convolutions, COUNT(convolutions));
}

/* Images in one kernel, and split. */
static void convolved_as_for_a_gpu(void **state) {
    (void)state;
    assert_int_equal(setenv("VKDISPATCH_FFT_SHAPES", "gpu-batch", 1), 0);
    check_convolutions(convolutions + 3, 4);
    assert_int_equal(setenv("VKDISPATCH_FFT_FACTORS", "p2", 1), 0);
    check_convolutions(convolutions + 5, 2);
    unsetenv("VKDISPATCH_FFT_FACTORS");
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds), cmocka_unit_test(shapes), cmocka_unit_test(types), cmocka_unit_test(hooks),
        cmocka_unit_test(as_for_a_gpu), cmocka_unit_test(ranges), cmocka_unit_test(convolved),
        cmocka_unit_test(convolved_as_for_a_gpu),
    };
    return RUN_ON_DEVICE(tests);
}
