/* Complex transforms compared with FFTW in double: lengths, axes, directions, norms, in and out of place; invalid
   input.
       transforms [-p I/N] [ENGINE] [NAME]    -p: part I of N of all lengths up to 4200 and of 500 random lengths up to
           2^24; ENGINE: vkfft; NAME: only tests of this name
   The permitted error is 0.5 eps log2 N relative to the root of the sum of squares, as theory gives for twiddle factors
   that are rounded once (Higham, Accuracy and Stability of Numerical Algorithms, section 24.1), plus one rounding for
   short ones. */
#define _POSIX_C_SOURCE 200809L
#include "fftw.h"

#include <math.h>

/* -p FIRST/STEP; without it sweeps is false, and TEST_TURN selects */
static bool sweeps;
static unsigned first, step = 463;
static struct { double ratio; uint64_t length; } worst; /* error, as a multiple of 0.5 eps log2 N */
static vd_fft_engine engine;

typedef struct sample {
    uint64_t shape[4];
    uint32_t axes;
    vd_fft_direction direction;
    vd_fft_norm norm;
    bool in_place;
    uint64_t in_stride[4], out_stride[4]; /* zeros: C order */
    vd_type type, in_type, out_type; /* 0: VD_F32 */
} sample;

/* ---- the oracle ---- */

static uint32_t axes_of(const sample *s) { return s->axes ? s->axes : 1u << (dimensions_of(s->shape) - 1); }

/* In place. Returns the product of the lengths. */
static double transform(const sample *s, fftw_complex *x) {
    return fftw_transform(s->shape, axes_of(s), s->direction == VD_FFT_INVERSE, x);
}

static double scale_of(const sample *s, double product) {
    if (s->norm == VD_FFT_NORM_ORTHO) return 1 / sqrt(product);
    return s->direction && s->norm == VD_FFT_NORM_DEFAULT ? 1 / product : 1;
}

/* ---- one sample ---- */

/* A real in memory, of type f16, f32 or f64. */
static double number_at(vd_type type, const void *array, uint64_t i) {
    uint16_t h;
    if (type == VD_F64) return ((const double *)array)[i];
    if (type == VD_F32) return (double)((const float *)array)[i];
    h = ((const uint16_t *)array)[i];
    double x = h >> 10 & 31 ? ldexp((double)((h & 1023) | 1024), (h >> 10 & 31) - 25) : ldexp((double)(h & 1023), -24);
    return h >> 15 ? -x : x;
}

/* Values that all types represent: multiples of 1 / 1024 below 1, of 2^-23 and of 2^-52 in the wider types. */
static void random_numbers(vd_type type, void *array, uint64_t count) {
    uint64_t state = count * 2654435761u + 1;
    for (uint64_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        if (type == VD_F64) ((double *)array)[i] = (double)(int64_t)state / 9223372036854775808.0;
        else if (type == VD_F32) ((float *)array)[i] = (float)(state >> 40) / 8388608.0f - 1.0f;
        /* +-2^-7 ... 1 */
        else ((uint16_t *)array)[i] = (uint16_t)((state >> 33 & 0x83ff) | ((8 + (state >> 50) % 7) << 10));
    }
}

static vd_buffer complex_buffer(vd_context *ctx, vd_type type, uint64_t elements, const void *data) {
    vd_buffer_desc desc = { 0 };
    desc.name = "numbers";
    desc.type = type != VD_F32 ? (vd_type)(VD_F32X2 - VD_F32 + type) : elements % 2 ? VD_F32X2 : VD_F32C;
    desc.shape[0] = elements;
    desc.data = data;
    return vd_buffer_create(ctx, &desc);
}

static void say(const sample *s) {
    print_error("  shape");
    for (uint32_t i = 0; i < dimensions_of(s->shape); i++) print_error(" %llu", (unsigned long long)s->shape[i]);
    print_error(", axes 0x%x, direction %d, norm %d, in place %d, types %s %s %s\n", axes_of(s), (int)s->direction, (int)s->norm, s->in_place,
                vd_type_name(s->type), vd_type_name(s->in_type), vd_type_name(s->out_type));
}

/* Root of the sum of squared differences, relative. */
static double compare(const sample *s, const void *y, fftw_complex *x, uint64_t n, double scale) {
    double wrong = 0, all = 0;
    for (uint64_t i = 0; i < n; i++)
        for (int c = 0; c < 2; c++) {
            double d = number_at(s->out_type, y, 2 * place_of(s->shape, s->out_stride, i) + (uint64_t)c)
                       - x[i][c] * scale;
            wrong += d * d;
            all += x[i][c] * scale * x[i][c] * scale;
        }
    return sqrt(wrong / all);
}

/* The permitted rounding error: of the arithmetic, and once more if the result is stored in a narrower type. FFTW's own
   error in double counts for f64. */
static double allowed_error(const sample *s, double product) {
    /* of VkFFT, whose powers of twiddle factors are less exact */
    if (engine) return 2 * 1.1921e-7 * log2(product) + 2e-7;
    double eps = s->type == VD_F64 ? 2.2204e-16 : 1.1921e-7, stored = s->out_type == VD_F16   ? 4.9e-4
                                                                      : s->out_type == VD_F32 ? 6e-8
                                                                                              : 1.2e-16;
    return 0.5 * eps * log2(product) + (stored > eps / 2 ? stored : eps / 2) + (s->type == VD_F64 ? eps : 0);
}

/* What another engine does not support, it must refuse with a message. */
static bool is_refused(const sample *s, const vd_fft_desc *desc) {
    bool strides = s->in_stride[0] || s->out_stride[0],
         types = s->type != VD_F32 || s->in_type != VD_F32 || s->out_type != VD_F32;
    /* of cubes whose shape is not a dimension */
    bool planes = s->shape[3] && s->shape[0] * s->shape[1] > vd_device(device_context, 0)->limits.max_groups[2];
    if (!engine || (!strides && !types && !planes && s->norm != VD_FFT_NORM_ORTHO)) return false;
    assert_null(vd_fft_create(device_context, desc));
    if (!strstr(vd_error_text(), types     ? "engine VkFFT supports only f32"
                                 : strides ? "engine VkFFT does not support strides and counts"
                                 : planes  ? "planes, but the limit of the product is"
                                           : "engine VkFFT does not support VD_FFT_NORM_ORTHO"))
        fail_msg("%s", vd_error_text());
    return true;
}

static void *room_for(vd_type type, uint64_t elements) {
    void *room = malloc((size_t)elements * 2 * vd_type_size(type));
    assert_non_null(room);
    return room;
}

static vd_fft_desc desc_of(const sample *s) {
    vd_fft_desc desc = { 0 };
    memcpy(desc.shape, s->shape, sizeof desc.shape);
    desc.axes = s->axes;
    desc.norm = s->norm;
    desc.type = s->type;
    desc.in_type = s->in_type;
    desc.out_type = s->out_type;
    memcpy(desc.in_stride, s->in_stride, sizeof desc.in_stride);
    memcpy(desc.out_stride, s->out_stride, sizeof desc.out_stride);
    desc.engine = engine;
    return desc;
}

static void check_as(const sample *s) {
    vd_fft_desc desc = desc_of(s);
    vd_fft_io io;
    uint64_t n = elements_of(s->shape), ins = place_of(s->shape, s->in_stride, n - 1) + 1,
             outs = place_of(s->shape, s->out_stride, n - 1) + 1;
    void *data = room_for(s->in_type, ins), *after = room_for(s->in_type, ins), *result = room_for(s->out_type, outs);
    fftw_complex *expected = (fftw_complex *)fftw_malloc(n * sizeof *expected);
    assert_non_null(expected);
    random_numbers(s->in_type, data, 2 * ins);
    for (uint64_t i = 0; i < n; i++)
        for (int c = 0; c < 2; c++)
            expected[i][c] = number_at(s->in_type, data, 2 * place_of(s->shape, s->in_stride, i) + (uint64_t)c);
    memset(&io, 0, sizeof io);
    if (is_refused(s, &desc)) {
        free(data);
        free(result);
        fftw_free(expected);
        return;
    }
    vd_fft *plan = vd_fft_create(device_context, &desc);
    vd_buffer in = complex_buffer(device_context, s->in_type, ins, data),
              out = s->in_place ? in : complex_buffer(device_context, s->out_type, outs, NULL);
    io.direction = s->direction;
    io.in = in;
    if (!s->in_place) io.out = out;
    if (!plan || vd_fft_run(plan, vd_immediate(device_context, 0, 0), &io)
        || vd_buffer_read(device_context, out, 0, result, VD_WHOLE)) {
        say(s);
        fail_msg("%s", vd_error_text());
    }
    double product = transform(s, expected), error = compare(s, result, expected, n, scale_of(s, product)),
           allowed = allowed_error(s, product);
    if (s->type == VD_F32 && s->out_type == VD_F32 && product > 1
        && error > worst.ratio * 0.5 * 1.1921e-7 * log2(product)) {
        worst.ratio = error / (0.5 * 1.1921e-7 * log2(product));
        worst.length = (uint64_t)product;
    }
    if (!engine && s->shape[1] == 4096 && s->type == VD_F32 && allowed < 1e-6) allowed = 1.9e-7;
    if (!(error <= allowed)) {
        say(s);
        fail_msg("error %.3g, allowed %.3g; the plan is\n%s", error, allowed, vd_fft_explain(plan));
    }
    if (!s->in_place) {
        assert_int_equal(vd_buffer_read(device_context, in, 0, after, VD_WHOLE), VD_OK);
        assert_memory_equal(after, data, ins * 2 * vd_type_size(s->in_type)); /* the input is unchanged */
        vd_buffer_destroy(device_context, out);
    }
    vd_buffer_destroy(device_context, in);
    vd_fft_destroy(plan);
    free(data);
    free(after);
    free(result);
    fftw_free(expected);
}

/* With the types that default to f32. */
static void check(const sample *s) {
    sample full = *s;
    if (!full.type) full.type = VD_F32;
    if (!full.in_type) full.in_type = full.type;
    if (!full.out_type) full.out_type = full.type;
    vd_fft_desc desc = desc_of(&full);
    if (!passes_over_form(&desc, s->direction)) check_as(&full);
}

/* ---- right numbers ---- */

/* Length n in a batch that does not fill the last work-group, alternating direction and placement. */
static void check_length(uint64_t n) {
    sample s = { { 3, n, 0, 0 }, 0, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, false, { 0 }, { 0 }, 0, 0, 0 };
    s.direction = n & 1 ? VD_FFT_INVERSE : VD_FFT_FORWARD;
    s.in_place = n >> 1 & 1;
    check(&s);
}

/* The first index of a list of which one in `count` runs. */
static uint64_t first_index(uint64_t count) { return sweeps ? first : test_turn() % count; }

static void lengths(void **state) {
    static const uint16_t chosen[] = { 63,   64,   75,   96,   100,  121,  127,  128,  143,  169,
                                       243,  256,  257,  289,  360,  509,  512,  625,  729,  961,
                                       1000, 1024, 1155, 1536, 2048, 2401, 4093, 4095, 4096, 4099,
                                       74,   123,  592,  1369, 1517, 3503 }; /* direct stages */
    (void)state;
    need_engine(engine);
    for (uint64_t n = 1; n <= 40 && !first; n += engine ? 4 : 1) check_length(n); /* glslang is slow */
    for (size_t i = 0; i < COUNT(chosen) && !first; i += engine ? 3 : 1) check_length(chosen[i]);
    for (uint64_t n = 41 + first_index(step); n <= 4200; n += engine ? 10 * step : step) check_length(n);
    print_message("# worst of all lengths: %llu, its error is %.2f of 0.5 eps log2 N\n", (unsigned long long)worst.length, worst.ratio);
}

static void need_own_engine(void) {
    need_engine(engine);
    if (!engine) return;
    print_message("# reason: this tests how the engine of this library splits lengths\n");
    skip();
}

/* Shapes of one to four dimensions, of which one has a length with a prime factor above 31; three times out of four, no
   work-group holds it. */
static void check_random_length(uint64_t seed, uint64_t most) {
    static const vd_type mixes[][3] = { { VD_F32, VD_F32, VD_F32 }, { VD_F64, VD_F64, VD_F64 },
                                        { VD_F32, VD_F32, VD_F16 } };
    uint64_t state = seed * 2654435761u + 1, others = 1;
    uint32_t rank = 1 + random_below(&state, 4), axis = random_below(&state, rank);
    const vd_type *types = mixes[random_below(&state, 8) % 3];
    sample s = { { 0 }, 0, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, false, { 0 }, { 0 }, 0, 0, 0 };
    for (uint32_t i = 0; i < rank; i++) others *= s.shape[i] = i == axis ? 1 : 1 + random_below(&state, 5);
    s.shape[axis] = seed % 4 ? random_length(&state, 8200, most / others) : random_length(&state, 34, 8200);
    s.axes = 1u << axis | random_below(&state, 1u << rank);
    s.direction = random_below(&state, 2) ? VD_FFT_INVERSE : VD_FFT_FORWARD;
    s.norm = (vd_fft_norm)random_below(&state, 3);
    for (uint32_t i = 0; i < 3; i++) if (lacks_arithmetic(types[i])) types = mixes[0];
    s.type = types[0];
    s.in_type = types[1];
    s.out_type = types[2];
    s.in_place = s.in_type == s.out_type && random_below(&state, 2);
    random_strides(&state, s.shape, rank, s.in_stride);
    if (s.in_place) memcpy(s.out_stride, s.in_stride, sizeof s.out_stride);
    else random_strides(&state, s.shape, rank, s.out_stride);
    check(&s);
}

static void random_lengths(void **state) {
    static const sample chosen[] = {
        { { 3, 203, 0, 0 }, 0, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, false, { 0 }, { 0 }, 0, 0, 0 },
        { { 203, 3, 0, 0 }, 1, VD_FFT_INVERSE, VD_FFT_NORM_DEFAULT, true, { 0 }, { 0 }, 0, 0, 0 },
        { { 10007, 0, 0, 0 }, 0, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, true, { 0 }, { 0 }, 0, 0, 0 },
        { { 65537, 0, 0, 0 }, 0, VD_FFT_INVERSE, VD_FFT_NORM_DEFAULT, false, { 0 }, { 0 }, 0, 0, 0 },
        { { 1000003, 0, 0, 0 }, 0, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, false, { 0 }, { 0 }, 0, 0, 0 },
        { { 3, 8209, 2, 0 }, 2, VD_FFT_INVERSE, VD_FFT_NORM_DEFAULT, false, { 1, 7, 3, 0 }, { 1, 3, 24627, 0 }, 0, 0,
          0 },
    };
    (void)state;
    need_own_engine();
    for (size_t i = 0; i < COUNT(chosen) && !first; i++) check(&chosen[i]);
    for (uint64_t i = first_index(100); i < 500; i += sweeps ? step : 100)
        check_random_length(i, sweeps ? 1 << 24 : 1 << 20);
}

/* Three passes, and five passes of Bluestein's algorithm. */
static void small_work_groups(void **state) {
    static const sample samples[] = {
        { { 100000, 0, 0, 0 }, 0, VD_FFT_INVERSE, VD_FFT_NORM_DEFAULT, true, { 0 }, { 0 }, 0, 0, 0 },
        { { 2, 100003, 3, 0 }, 2, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, true, { 0 }, { 0 }, 0, 0, 0 },
        { { 100003, 2, 0, 0 }, 3, VD_FFT_INVERSE, VD_FFT_NORM_DEFAULT, false, { 0 }, { 0 }, 0, 0, 0 },
    };
    vd_fft_desc desc = { 0 };
    (void)state;
    need_own_engine();
    uint32_t shared = limit_shared_memory(512);
    check(&samples[0]);
    desc.shape[0] = 100003;
    limit_to_kernels(&desc, 5);
    for (size_t i = 1; i < COUNT(samples); i++) check(&samples[i]);
    limit_shared_memory(shared);
}

/* Radices that the planner would not choose, through VKDISPATCH_FFT_FACTORS. b: the inner length of Bluestein's
   algorithm, which has prime factors above 7 here. Radices above 31: direct stages at each position, alone or two,
   whose threads have one or several pairs of results, with equal or different inputs; exchanges of both components at
   once, and of one. */
static void forced_factors(void **state) {
    static const struct { uint64_t n; const char *factors; } cases[] = {
        { 131, "b29x9/29/1/0" },        { 137, "b13x21/21/1/0" },       { 139, "b31x9/31/1/0" },
        { 143, "11x13/13/1/0" },        { 74, "1x37x2/38/2/1" },        { 111, "3x37x1/19/2/0" },
        { 111, "3x37x1/57/2/1" },       { 444, "4x37x3/48/1/0" },       { 127, "1x127x1/8/3/0" },
        { 1517, "1x37x41x1/128/1/1" },
    };
    (void)state;
    if (engine) {
        print_message("# reason: the engine VkFFT does not read VKDISPATCH_FFT_FACTORS\n");
        skip();
    }
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(setenv("VKDISPATCH_FFT_FACTORS", cases[i].factors, 1), 0);
        check_length(cases[i].n);
    }
    unsetenv("VKDISPATCH_FFT_FACTORS");
}

static void axes(void **state) {
    static const sample samples[] = {
        { { 12, 20, 0, 0 }, 1, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, true, { 0 }, { 0 }, 0, 0, 0 },
        { { 12, 20, 0, 0 }, 3, VD_FFT_INVERSE, VD_FFT_NORM_DEFAULT, false, { 0 }, { 0 }, 0, 0, 0 },
        { { 5, 8, 6, 0 }, 7, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, false, { 0 }, { 0 }, 0, 0, 0 },
        { { 5, 8, 6, 0 }, 2, VD_FFT_INVERSE, VD_FFT_NORM_DEFAULT, true, { 0 }, { 0 }, 0, 0, 0 },
        { { 3, 4, 5, 6 }, 15, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, true, { 0 }, { 0 }, 0, 0, 0 },
        { { 3, 4, 5, 6 }, 5, VD_FFT_INVERSE, VD_FFT_NORM_DEFAULT, false, { 0 }, { 0 }, 0, 0, 0 },
        { { 37, 11, 0, 0 }, 1, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, true, { 0 }, { 0 }, 0, 0, 0 },
        { { 41, 37, 0, 0 }, 3, VD_FFT_INVERSE, VD_FFT_NORM_DEFAULT, false, { 0 }, { 0 }, 0, 0, 0 },
        { { 131, 11, 0, 0 }, 1, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, true, { 0 }, { 0 }, 0, 0, 0 },
        { { 64, 64, 0, 0 }, 3, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, true, { 0 }, { 0 }, 0, 0, 0 },
        { { 1, 16, 1, 0 }, 7, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, false, { 0 }, { 0 }, 0, 0, 0 },
        { { 2, 256, 33, 0 }, 2, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, true, { 0 }, { 0 }, 0, 0, 0 },
        /* more than the group count limit of a dispatch */
        { { 70000, 2, 4, 0 }, 6, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, false, { 0 }, { 0 }, 0, 0, 0 },
        { { 35000, 2, 2, 2 }, 14, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, false, { 0 }, { 0 }, 0, 0, 0 },
    };
    (void)state;
    need_engine(engine);
    for (size_t i = 0; i < COUNT(samples); i++) check(&samples[i]);
}

static void norms(void **state) {
    (void)state;
    need_engine(engine);
    for (int norm = VD_FFT_NORM_DEFAULT; norm <= VD_FFT_NORM_ORTHO; norm++)
        for (int direction = 0; direction < 2; direction++) {
            sample s = {
                { 6, 30, 0, 0 }, 3, (vd_fft_direction)direction, (vd_fft_norm)norm, true, { 0 }, { 0 }, 0, 0, 0
            };
            check(&s);
        }
}

static void long_axes(void **state) {
    static const sample samples[] = {
        { { 16384, 0, 0, 0 }, 0, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, true, { 0 }, { 0 }, 0, 0, 0 },
        { { 20000, 0, 0, 0 }, 0, VD_FFT_INVERSE, VD_FFT_NORM_DEFAULT, false, { 0 }, { 0 }, 0, 0, 0 },
        { { 4096, 40, 0, 0 }, 1, VD_FFT_INVERSE, VD_FFT_NORM_DEFAULT, true, { 0 }, { 0 }, 0, 0, 0 },
        /* 3^13: three passes on a GPU */
        { { 1594323, 0, 0, 0 }, 0, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, false, { 0 }, { 0 }, 0, 0, 0 },
        { { 32768, 3, 0, 0 }, 1, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, true, { 0 }, { 0 }, 0, 0, 0 },
        { { 2, 1 << 18, 0, 0 }, 0, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, false, { 0 }, { 0 }, 0, 0, 0 },
    };
    (void)state;
    need_engine(engine);
    for (size_t i = 0; i < COUNT(samples); i++) check(&samples[i]);
}

/* Arrays in Fortran order, with padded rows, transposed, too long for one kernel. */
static void strides(void **state) {
    static const sample samples[] = {
        { { 12, 20, 0, 0 }, 2, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, true, { 1, 12, 0, 0 }, { 1, 12, 0, 0 }, 0, 0, 0 },
        { { 12, 20, 0, 0 }, 3, VD_FFT_INVERSE, VD_FFT_NORM_DEFAULT, false, { 23, 1, 0, 0 }, { 1, 13, 0, 0 }, 0, 0, 0 },
        /* overlapping input: frames, one element apart too; tiles of an image; a long axis */
        { { 20, 64, 0, 0 }, 0, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, false, { 16, 1, 0, 0 }, { 0 }, 0, 0, 0 },
        { { 9, 37, 0, 0 }, 0, VD_FFT_INVERSE, VD_FFT_NORM_DEFAULT, false, { 1, 1, 0, 0 }, { 0 }, 0, 0, 0 },
        { { 5, 12, 20, 0 }, 6, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, false, { 7, 50, 1, 0 }, { 0 }, 0, 0, 0 },
        { { 3, 16384, 0, 0 }, 0, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, false, { 100, 2, 0, 0 }, { 0 }, 0, 0, 0 },
        { { 5, 8, 6, 0 }, 5, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, false, { 0 }, { 1, 30, 5, 0 }, 0, 0, 0 },
        { { 5, 33, 6, 0 }, 2, VD_FFT_INVERSE, VD_FFT_NORM_DEFAULT, false, { 6, 31, 1, 0 }, { 2, 10, 332, 0 }, 0, 0, 0 },
        { { 3, 4, 5, 6 }, 6, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, true, { 1, 3, 12, 60 }, { 1, 3, 12, 60 }, 0, 0, 0 },
        { { 3, 131, 2, 0 }, 2, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, true, { 3, 10, 1, 0 }, { 3, 10, 1, 0 }, 0, 0, 0 },
        { { 3, 16384, 0, 0 }, 2, VD_FFT_INVERSE, VD_FFT_NORM_DEFAULT, false, { 1, 3, 0, 0 }, { 16400, 1, 0, 0 }, 0, 0,
          0 },
        { { 2, 16384, 3, 0 }, 2, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, true, { 1, 7, 2, 0 }, { 1, 7, 2, 0 }, 0, 0, 0 },
        { { 1, 7, 1, 0 }, 4, VD_FFT_FORWARD, VD_FFT_NORM_ORTHO, false, { 0 }, { 1, 3, 1, 0 }, 0, 0, 0 },
    };
    (void)state;
    need_engine(engine);
    for (size_t i = 0; i < COUNT(samples); i++) check(&samples[i]);
}

/* Arithmetic in f64, and numbers stored in another type: one pass, two, several axes. */
static void types(void **state) {
    static const vd_type mixes[][3] = { { VD_F64, VD_F64, VD_F64 }, { VD_F32, VD_F16, VD_F16 },
                                        { VD_F32, VD_F16, VD_F32 }, { VD_F32, VD_F32, VD_F16 },
                                        { VD_F64, VD_F32, VD_F64 }, { VD_F32, VD_F64, VD_F16 } };
    static const uint64_t shapes[][4] = {
        { 3, 64 }, { 7, 37 }, { 2, 131 }, { 2, 1000 }, { 1, 16384 }, { 12, 20, 6 }, { 1, 1, 1 }
    };
    (void)state;
    need_engine(engine);
    const uint64_t features = vd_device(device_context, 0)->features;
    for (size_t m = 0; m < COUNT(mixes); m++) {
        sample s = {
            { 0 }, 0, VD_FFT_FORWARD, VD_FFT_NORM_ORTHO, false, { 0 }, { 0 }, mixes[m][0], mixes[m][1], mixes[m][2]
        };
        bool f64 = s.type == VD_F64 || s.in_type == VD_F64 || s.out_type == VD_F64,
             f16 = s.in_type == VD_F16 || s.out_type == VD_F16;
        if ((f64 && !(features & VD_FEATURE_F64)) || (f16 && !(features & VD_FEATURE_STORAGE_16))) {
            vd_fft_desc desc = { 0 };
            desc.shape[0] = 8;
            desc.type = s.type;
            desc.in_type = s.in_type;
            desc.out_type = s.out_type;
            assert_null(vd_fft_create(device_context, &desc));
            continue;
        }
        for (size_t i = m % 2; i < COUNT(shapes); i += 2) { /* every second one: halves the time */
            memcpy(s.shape, shapes[i], sizeof s.shape);
            s.axes = i == 5 ? 7 : 0;
            s.direction = (vd_fft_direction)((i / 2 + m) % 2);
            s.in_place = s.in_type == s.out_type && i / 2 % 2;
            check(&s);
        }
    }
}

/* Signals that cover a part of the transform, and results of which a part is kept; both are contiguous in memory. */
static uint64_t part_of(const sample *s, const uint64_t *start, const uint64_t *count, uint64_t i, bool *inside) {
    uint64_t at = 0, size = 1;
    *inside = true;
    for (uint32_t d = dimensions_of(s->shape); d-- > 0; i /= s->shape[d]) {
        uint64_t n = count[d] ? count[d] : s->shape[d] - start[d], index = i % s->shape[d] - start[d];
        *inside = *inside && index < n;
        at += index * size;
        size *= n;
    }
    return at;
}

static uint64_t size_of_part(const sample *s, const uint64_t *start, const uint64_t *count) {
    uint64_t size = 1;
    for (uint32_t d = 0; d < dimensions_of(s->shape); d++) size *= count[d] ? count[d] : s->shape[d] - start[d];
    return size;
}

static void check_part(const sample *s, const uint64_t *begin, const uint64_t *filled, const uint64_t *begin_kept,
                       const uint64_t *kept) {
    vd_fft_desc desc = { 0 };
    memcpy(desc.shape, s->shape, sizeof desc.shape);
    memcpy(desc.in_start, begin, sizeof desc.in_start);
    memcpy(desc.out_start, begin_kept, sizeof desc.out_start);
    memcpy(desc.in_count, filled, sizeof desc.in_count);
    memcpy(desc.out_count, kept, sizeof desc.out_count);
    desc.axes = s->axes;
    desc.norm = VD_FFT_NORM_NONE;
    if (passes_over_form(&desc, s->direction)) return;
    uint64_t n = elements_of(s->shape), ins = size_of_part(s, begin, filled), outs = size_of_part(s, begin_kept, kept);
    float *data = (float *)malloc(ins * 8), *result = (float *)malloc(outs * 8);
    fftw_complex *expected = (fftw_complex *)fftw_malloc(n * sizeof *expected);
    vd_fft_io io = { VD_FFT_FORWARD, { 0 }, { 0 }, NULL, 0 };
    double wrong = 0, all = 0;
    bool inside;
    assert_true(data && result && expected);
    random_numbers(VD_F32, data, 2 * ins);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = part_of(s, begin, filled, i, &inside);
        for (int c = 0; c < 2; c++) expected[i][c] = inside ? (double)data[2 * at + (uint64_t)c] : 0;
    }
    vd_fft *plan = vd_fft_create(device_context, &desc);
    io.direction = s->direction;
    io.in = complex_buffer(device_context, VD_F32, ins, data);
    io.out = complex_buffer(device_context, VD_F32, outs, NULL);
    if (!plan || vd_fft_run(plan, vd_immediate(device_context, 0, 0), &io)
        || vd_buffer_read(device_context, io.out, 0, result, VD_WHOLE)) {
        say(s);
        fail_msg("%s", vd_error_text());
    }
    double allowed = 0.5 * 1.1921e-7 * log2(transform(s, expected)) + 6e-8;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = part_of(s, begin_kept, kept, i, &inside);
        for (int c = 0; inside && c < 2; c++) {
            double d = (double)result[2 * at + (uint64_t)c] - expected[i][c];
            wrong += d * d;
            all += expected[i][c] * expected[i][c];
        }
    }
    if (!(sqrt(wrong / all) <= allowed)) {
        say(s);
        fail_msg("error %.3g, allowed %.3g; the plan is\n%s", sqrt(wrong / all), allowed, vd_fft_explain(plan));
    }
    vd_buffer_destroy(device_context, io.in);
    vd_buffer_destroy(device_context, io.out);
    vd_fft_destroy(plan);
    free(data);
    free(result);
    fftw_free(expected);
}

static void parts(void **state) {
    static const struct { uint64_t shape[4]; uint32_t axes; uint64_t filled[4], kept[4]; } cases[] = {
        { { 3, 64 }, 2, { 0, 8 }, { 0 } }, { { 3, 64 }, 2, { 0, 13 }, { 0, 7 } }, { { 5, 7 }, 2, { 0, 1 }, { 0, 6 } },
        { { 3, 37 }, 2, { 0, 20 }, { 0, 30 } }, { { 32, 48 }, 3, { 5, 7 }, { 0 } }, { { 32, 48 }, 3, { 0 }, { 9, 10 } },
        { { 32, 48 }, 3, { 4, 48 }, { 32, 3 } }, { { 2, 30, 5 }, 2, { 0, 11 }, { 0, 17 } },
        { { 2, 16384 }, 2, { 0, 4000 }, { 0 } }, { { 3, 16384, 2 }, 2, { 0, 5001 }, { 0, 777 } },
        { { 6, 8, 10 }, 7, { 3, 4, 5 }, { 2, 3, 4 } }, { { 1, 1000000 }, 2, { 0, 300001 }, { 0, 700003 } },
        { { 4096, 24 }, 1, { 100 }, { 4001 } }, { { 2, 8209 }, 2, { 0, 3000 }, { 0, 7000 } },
        { { 8209, 3 }, 1, { 8000 }, { 100 } },
        /* Bluestein's algorithm in one kernel, with convolutions shorter than twice the length */
        { { 3, 131 }, 2, { 0, 5 }, { 0, 90 } }, { { 3, 131 }, 2, { 0, 97 }, { 0, 7 } },
        { { 131, 5 }, 1, { 60 }, { 60 } },
    };
    (void)state;
    need_engine(engine);
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (passes_over(1, 1)) continue;
        sample s = { { 0 }, cases[i].axes, (vd_fft_direction)(i % 2), VD_FFT_NORM_NONE, false, { 0 }, { 0 }, 0, 0, 0 };
        uint64_t begin[4] = { 0 }, begin_kept[4] = { 0 };
        memcpy(s.shape, cases[i].shape, sizeof s.shape);
        check_part(&s, begin, cases[i].filled, begin_kept, cases[i].kept);
        for (uint32_t d = 0; d < 4; d++) { /* in the middle and at the end */
            if (cases[i].filled[d]) begin[d] = (s.shape[d] - cases[i].filled[d]) / (i % 3 ? 2 : 1);
            if (cases[i].kept[d]) begin_kept[d] = (s.shape[d] - cases[i].kept[d]) / (i % 4 ? 1 : 3);
        }
        check_part(&s, begin, cases[i].filled, begin_kept, cases[i].kept);
    }
    for (uint32_t seed = 0; seed < (sweeps ? 200u : 8u); seed++) {
        uint64_t state_of = seed, parts[4][4] = { { 0 } };
        uint32_t rank = 1 + random_below(&state_of, 3);
        sample s = { { 0 }, 0, (vd_fft_direction)(seed % 2), VD_FFT_NORM_NONE, false, { 0 }, { 0 }, 0, 0, 0 };
        s.axes = 1 + random_below(&state_of, (1u << rank) - 1);
        for (uint32_t d = 0; d < rank; d++) {
            uint32_t n = 1 + random_below(&state_of, rank == 1 ? 3000 : rank == 2 ? 150 : 24);
            s.shape[d] = n;
            for (uint32_t i = 0; i < 4 && s.axes >> d & 1; i += 2) {
                parts[i][d] = random_below(&state_of, n);
                parts[i + 1][d] = random_below(&state_of, n + 1 - (uint32_t)parts[i][d]); /* 0: to the end */
            }
        }
        check_part(&s, parts[0], parts[1], parts[2], parts[3]);
    }
}

/* Simple calls keep their plan: the second call builds no kernel. */
static void simple_calls(void **state) {
    float data[2 * 24], result[2 * 24];
    vd_stats before, after;
    (void)state;
    need_engine(engine);
    random_numbers(VD_F32, data, 48);
    vd_buffer b = complex_buffer(device_context, VD_F32, 24, data);
    assert_int_equal(vd_fft_forward(device_context, b), VD_OK);
    assert_int_equal(vd_fft_inverse(device_context, b), VD_OK);
    assert_int_equal(vd_context_stats(device_context, &before), VD_OK);
    assert_int_equal(vd_fft_forward(device_context, b), VD_OK);
    assert_int_equal(vd_fft_inverse(device_context, b), VD_OK);
    assert_int_equal(vd_context_stats(device_context, &after), VD_OK);
    assert_int_equal(after.kernels, before.kernels);
    assert_int_equal(after.buffers, before.buffers);
    assert_int_equal(vd_buffer_read(device_context, b, 0, result, VD_WHOLE), VD_OK);
    for (int i = 0; i < 48; i++) assert_float_equal(result[i], data[i], 1e-6f);
    vd_buffer_destroy(device_context, b);
}

static vd_result refuses_to_make(void *plan, const void *desc) {
    (void)plan, (void)desc;
    return vd_error_set(VD_ERROR_UNSUPPORTED, "it never works");
}

/* The most recent plans are kept; the first one is created again. */
static void simple_calls_keep_recent_plans(void **state) {
    enum { KEPT = 64, MANY = KEPT + 6 };
    vd_context_desc dummy = { 0 };
    vd_context *ctx = NULL;
    vd_stats stats, again;
    vd_buffer buffers[MANY];
    (void)state;
    dummy.backend = VD_BACKEND_DUMMY;
    assert_int_equal(vd_context_create(&dummy, &ctx), VD_OK);
    for (uint32_t i = 0; i < MANY; i++) {
        buffers[i] = complex_buffer(ctx, VD_F32, i + 2, NULL);
        assert_int_equal(vd_fft_forward(ctx, buffers[i]), VD_OK);
    }
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    assert_int_equal(vd_context_stats(ctx, &stats), VD_OK);
    assert_int_equal(stats.kernels, KEPT); /* each of these plans has one kernel */
    assert_int_equal(vd_fft_forward(ctx, buffers[MANY - KEPT]), VD_OK); /* the oldest plan that is kept */
    assert_int_equal(vd_context_stats(ctx, &again), VD_OK);
    assert_int_equal(again.kernels, KEPT);
    assert_int_equal(vd_fft_forward(ctx, buffers[0]), VD_OK);
    assert_int_equal(vd_context_stats(ctx, &again), VD_OK);
    assert_int_equal(again.kernels, KEPT);
    vd_plan_cache_info cache;
    assert_int_equal(vd_plan_cache_query(ctx, &cache), VD_OK);
    assert_int_equal(cache.plans, KEPT);
    assert_int_equal(cache.capacity, KEPT);
    assert_int_equal(cache.hits, 1);
    assert_int_equal(cache.misses, MANY + 1);
    assert_int_equal(cache.evictions, MANY + 1 - KEPT);
    for (int i = 0; i < 2; i++) { /* a cache without plans can be cleared too */
        assert_int_equal(vd_plan_cache_clear(ctx), VD_OK);
        assert_int_equal(vd_wait_idle(ctx), VD_OK);
        assert_int_equal(vd_context_stats(ctx, &again), VD_OK);
        assert_int_equal(again.kernels, 0);
        assert_int_equal(vd_plan_cache_query(ctx, &cache), VD_OK);
        assert_int_equal(cache.plans, 0);
        assert_int_equal(cache.misses, MANY + 1);
    }
    for (int i = 0; i < 2; i++) assert_int_equal(vd_fft_forward(ctx, buffers[5]), VD_OK);
    assert_int_equal(vd_plan_cache_query(ctx, &cache), VD_OK);
    assert_int_equal(cache.plans, 1);
    assert_int_equal(cache.misses, MANY + 2);
    assert_int_equal(cache.hits, 2);
    for (uint32_t i = 0; i < MANY; i++) vd_buffer_destroy(ctx, buffers[i]);
    vd_context_destroy(ctx);
}

/* A plan that cannot be made counts as a miss. */
static void plan_cache_errors(void **state) {
    vd_context *ctx = dummy_context();
    vd_plan_cache_info cache;
    (void)state;
    assert_int_equal(vd_plan_cache_query(ctx, &cache), VD_OK);
    assert_int_equal(cache.plans + cache.hits + cache.misses, 0);
    assert_int_equal(vd_plan_cache_clear(ctx), VD_OK);
    vd_buffer b = complex_buffer(ctx, VD_F32, 16, NULL);
    vd_plan_kind broken = { 0 };
    broken.name = "broken";
    broken.size = sizeof(vd_plan);
    broken.desc_size = sizeof(const char *);
    broken.make = refuses_to_make;
    const char *name = "x";
    assert_int_equal(vd_plan_run_cached(ctx, &broken, NULL, &name, &b), VD_ERROR_UNSUPPORTED);
    assert_int_equal(vd_plan_cache_query(ctx, &cache), VD_OK);
    assert_int_equal(cache.plans, 0);
    assert_int_equal(cache.misses, 1);
    assert_int_equal(vd_plan_cache_query(NULL, &cache), VD_ERROR_INVALID);
    says("vd_plan_cache_query: ctx is NULL");
    assert_int_equal(vd_plan_cache_query(ctx, NULL), VD_ERROR_INVALID);
    says("vd_plan_cache_query: out is NULL");
    assert_int_equal(vd_plan_cache_clear(NULL), VD_ERROR_INVALID);
    says("vd_plan_cache_clear: ctx is NULL");
    vd_buffer_destroy(ctx, b);
    vd_context_destroy(ctx);
}

/* The source text of every kernel of plans in every target, without a device; what cannot be returned is refused. */
static void sources(void **state) {
    static const vc_target targets[] = { VC_TARGET_GLSL, VC_TARGET_CUDA, VC_TARGET_OPENCL };
    static const char *const words[] = { "#version 450", "__global__", "__kernel" };
    vd_context *ctx = dummy_context();
    vd_fft_desc desc = { 0 };
    vd_convolve_desc convolve = { 0 };
    (void)state;
    desc.shape[0] = 100000;
    convolve.shape[0] = 100;
    vd_fft *plan = vd_fft_create(ctx, &desc);
    vd_convolve *convolution = vd_convolve_create(ctx, &convolve);
    assert_non_null(plan);
    assert_non_null(convolution);
    for (int i = 0; i < 3; i++) {
        vd_fft_step kernel = { VD_FFT_FORWARD, 0, false };
        const char *text = vd_convolve_source(convolution, &kernel, targets[i]);
        assert_non_null(text);
        assert_non_null(strstr(text, words[i]));
        char start[200] = "";
        for (uint32_t number = 0; number < 2; number++)
            for (int direction = 0; direction < 2; direction++)
                for (int in_place = 0; in_place < 2; in_place++) {
                    kernel.direction = (vd_fft_direction)direction;
                    kernel.number = number;
                    kernel.in_place = in_place != 0;
                    text = vd_fft_source(plan, &kernel, targets[i]);
                    assert_non_null(text);
                    assert_non_null(strstr(text, words[i]));
                    if (number + (uint32_t)direction == 0 && !in_place) snprintf(start, sizeof start, "%s", text);
                }
        assert_true(strncmp(start, text, sizeof start - 1) != 0); /* the name of the kernel */
    }
    desc.shape[0] = 37;
    desc.shape[1] = 41;
    desc.axes = 3;
    vd_fft *image = vd_fft_create(ctx, &desc); /* the second kernel transforms in place what the first one wrote */
    assert_non_null(image);
    for (uint32_t i = 0; i < 4; i++) {
        vd_fft_step kernel = { VD_FFT_FORWARD, i / 2, i % 2 != 0 };
        const char *text = vd_fft_source(image, &kernel, VC_TARGET_CUDA);
        assert_non_null(text);
        assert_true((strstr(text, "data") != NULL) == (i != 0));
    }
    vd_fft_destroy(image);
    for (uint32_t i = 0; i < 4; i++) { /* from the input to an intermediate buffer, from there to the output */
        vd_fft_step kernel = { VD_FFT_FORWARD, i / 2, i % 2 != 0 };
        const char *text = vd_fft_source(plan, &kernel, VC_TARGET_CUDA);
        assert_non_null(text);
        assert_null(strstr(text, "data"));
    }
    vd_fft_step kernel = { VD_FFT_FORWARD, 2, false };
    assert_null(vd_fft_source(plan, &kernel, VC_TARGET_GLSL));
    says("vd_fft_source 'fft': step.number is 2, but must be below 2, the number of kernels of this direction");
    kernel.number = 0;
    assert_null(vd_fft_source(plan, &kernel, VC_TARGET_SPIRV));
    says("target is 1, but must be VC_TARGET_GLSL, VC_TARGET_CUDA or VC_TARGET_OPENCL");
    assert_null(vd_fft_source(plan, NULL, VC_TARGET_GLSL));
    says("vd_fft_source 'fft': step is NULL");
    assert_null(vd_fft_source(NULL, &kernel, VC_TARGET_GLSL));
    says("vd_fft_source: plan is NULL");
    vd_fft_desc real = { 0 };
    real.shape[0] = 10;
    real.shape[1] = 28;
    real.axes = 2;
    real.kind = VD_FFT_REAL; /* not padded */
    vd_fft *apart = vd_fft_create(ctx, &real);
    kernel.in_place = true;
    assert_null(vd_fft_source(apart, &kernel, VC_TARGET_GLSL));
    says("vd_fft_source 'fft': running in place requires that each row of reals begins where its bins begin");
    vd_fft_destroy(apart);
    assert_null(vd_convolve_source(convolution, &kernel, VC_TARGET_GLSL));
    says("vd_convolve_source 'convolve': step.in_place is true, but convolutions cannot run in place");
    kernel.in_place = false;
    kernel.direction = (vd_fft_direction)2;
    assert_null(vd_fft_source(plan, &kernel, VC_TARGET_GLSL));
    says("step.direction is 2");
    kernel.direction = VD_FFT_INVERSE;
    assert_null(vd_convolve_source(convolution, &kernel, VC_TARGET_GLSL));
    says("vd_convolve_source 'convolve': step.direction is VD_FFT_INVERSE, but convolutions have only VD_FFT_FORWARD");
    vd_context_destroy(ctx);
    assert_null(vd_fft_source(plan, &kernel, VC_TARGET_GLSL));
    says("the plan's context was destroyed");
    vd_fft_destroy(plan);
    vd_convolve_destroy(convolution);
}

static void good_sizes(void **state) {
    (void)state;
    assert_int_equal(vd_fft_good_size(0), 1);
    assert_int_equal(vd_fft_good_size(1), 1);
    assert_int_equal(vd_fft_good_size(11), 12);
    assert_int_equal(vd_fft_good_size(121), 125);
    assert_int_equal(vd_fft_good_size(4097), 4116); /* 2 2 3 7 7 7 */
    assert_true(vd_fft_good_size(1000000000000001) == 1000188000000000);
    assert_true(vd_fft_good_size(UINT64_MAX) == 0);
}

/* As the manual states: on a GPU, a row of 16384 elements takes two kernels, but 1000 such rows take one. */
static void few_elements(void **state) {
    vd_context *ctx = dummy_context();
    const char *shapes = getenv("VKDISPATCH_FFT_SHAPES");
    bool as_batch = shapes && !strcmp(shapes, "gpu-batch");
    (void)state;
    for (int many = 0; many < 2; many++) {
        vd_fft_desc desc = { 0 };
        int lines = 0;
        desc.shape[0] = many ? 1000 : 1;
        desc.shape[1] = 16384;
        desc.axes = 2;
        vd_fft *plan = vd_fft_create(ctx, &desc);
        assert_non_null(plan);
        for (const char *c = vd_fft_explain(plan); *c; c++) lines += *c == '\n';
        assert_int_equal(lines, many || as_batch ? 1 : 2); /* a line for each kernel */
        vd_fft_destroy(plan);
    }
    vd_context_destroy(ctx);
}

/* As the manual states: an intermediate buffer of 2 n - 1 to 2.3 n complex numbers, tables of 3 n to 3.4 n. */
static void device_memory(void **state) {
    vd_context *ctx = dummy_context();
    vd_fft_desc desc = { 0 };
    vd_convolve_desc convolve = { 0 };
    (void)state;
    desc.shape[0] = convolve.shape[0] = 1000;
    vd_fft *one_pass = vd_fft_create(ctx, &desc);
    assert_in_range(vd_fft_memory(one_pass), 1, 8000);
    static const uint64_t primes[] = { 8209, 16411, 32771, 65537, 131101, 262147 };
    for (size_t i = 0; i < COUNT(primes); i++) {
        uint64_t n = desc.shape[0] = primes[i];
        vd_fft *plan = vd_fft_create(ctx, &desc);
        assert_in_range(vd_fft_memory(plan), 8 * (5 * n - 1), 8 * (57 * n / 10));
        vd_fft_destroy(plan);
    }
    vd_convolve *convolution = vd_convolve_create(ctx, &convolve);
    assert_in_range(vd_convolve_memory(convolution), 8000, 3 * 8000);
    vd_context_destroy(ctx);
    assert_int_equal(vd_fft_memory(NULL), 0);
    assert_int_equal(vd_convolve_memory(NULL), 0);
    assert_int_equal(vd_fft_memory(one_pass), 0);
    vd_fft_destroy(one_pass);
    vd_convolve_destroy(convolution);
}

/* The tables that the device computes are also those of the second device, here the same one again. */
static void second_device(void **state) {
    enum { N = 10007 };
    static const int devices[2] = { 1, 1 };
    static const sample s = { { N, 0, 0, 0 }, 0, VD_FFT_FORWARD, VD_FFT_NORM_DEFAULT, true, { 0 }, { 0 }, 0, 0, 0 };
    vd_context_desc desc = { 0 };
    vd_context *ctx = NULL;
    (void)state;
    need_device();
    desc.backend = vd_device(device_context, 0)->backend;
    desc.devices = devices;
    desc.device_count = 2;
    if (vd_context_create(&desc, &ctx)) fail_msg("%s", vd_error_text());
    vd_fft_desc fft = { 0 };
    vd_fft_io io = { VD_FFT_FORWARD, { 0 }, { 0 }, NULL, 0 };
    vd_read_desc read = { 0 };
    vd_ticket ticket = { 0 };
    const void *found = NULL;
    float *data = (float *)malloc(N * 8);
    fftw_complex *expected = (fftw_complex *)fftw_malloc(N * sizeof *expected);
    double wrong = 0, all = 0;
    assert_true(data && expected);
    random_numbers(VD_F32, data, 2 * N);
    for (int i = 0; i < 2 * N; i++) expected[i / 2][i % 2] = (double)data[i];
    transform(&s, expected);
    fft.shape[0] = N;
    vd_fft *plan = vd_fft_create(ctx, &fft);
    io.in = read.buffer = complex_buffer(ctx, VD_F32, N, data);
    vd_list *list = vd_immediate(ctx, 1, 0);
    if (!plan || vd_fft_run(plan, list, &io) || vd_read_begin(list, &read, &ticket)
        || vd_read_ready(ctx, ticket, VD_FOREVER, &found))
        fail_msg("%s", vd_error_text());
    for (int i = 0; i < 2 * N; i++) {
        double d = (double)((const float *)found)[i] - expected[i / 2][i % 2];
        wrong += d * d;
        all += expected[i / 2][i % 2] * expected[i / 2][i % 2];
    }
    assert_true(sqrt(wrong / all) < 1e-6);
    vd_read_end(ctx, ticket);
    vd_buffer_destroy(ctx, io.in);
    vd_fft_destroy(plan);
    vd_context_destroy(ctx);
    free(data);
    fftw_free(expected);
}

/* ---- invalid input, without a device ---- */

static void refuse(vd_context *ctx, const vd_fft_desc *desc, const char *part) {
    vd_fft *plan = vd_fft_create(ctx, desc);
    assert_null(plan);
    if (!strstr(vd_error_text(), part)) fail_msg("no \"%s\" in: %s", part, vd_error_text());
}

static void bad_input(void **state) {
    vd_context_desc dummy = { 0 };
    vd_context *ctx = NULL;
    vd_stats stats;
    (void)state;
    dummy.backend = VD_BACKEND_DUMMY;
    assert_int_equal(vd_context_create(&dummy, &ctx), VD_OK);
    vd_fft_desc desc = { 0 };
    refuse(NULL, &desc, "ctx is NULL");
    refuse(ctx, NULL, "desc is NULL");
    refuse(ctx, &desc, "dimension 0 of the shape is 0, but must be at least 1");
    desc.name = "wide";
    desc.shape[0] = 4;
    desc.shape[2] = 4;
    refuse(ctx, &desc, "'wide': dimension 1 of the shape is 0, but dimension 2 is not");
    desc.shape[1] = 4;
    desc.axes = 9;
    refuse(ctx, &desc, "axes is 0x9 (bit 3), but the shape");
    desc.axes = 0;
    desc.norm = (vd_fft_norm)7;
    refuse(ctx, &desc, "norm is 7, but must be 0 to 2 (VD_FFT_NORM_ORTHO)");
    desc.norm = VD_FFT_NORM_DEFAULT;
    desc.engine = (vd_fft_engine)7;
    refuse(ctx, &desc, "engine is 7, but must be 0 to 1 (VD_FFT_ENGINE_VKFFT)");
    desc.engine = VD_FFT_ENGINE_VKFFT;
    refuse(ctx, &desc, "engine VkFFT");
    desc.engine = VD_FFT_ENGINE_DEFAULT;
    desc.type = VD_F16;
    refuse(ctx, &desc, "type is f16, but must be f32 or f64");
    desc.type = VD_F32;
    desc.out_type = VD_I32;
    refuse(ctx, &desc, "out_type is i32, but must be f16, f32 or f64");
    desc.out_type = VD_F32;
    desc.shape[2] = (uint64_t)1 << 60;
    refuse(ctx, &desc, "the shape is 4 x 4 x 1152921504606846976, but the limit is 68719476736 elements");
    desc.shape[0] = desc.shape[1] = 1;
    desc.shape[0] = 4;
    desc.shape[2] = 16;
    desc.out_stride[0] = 15;
    desc.out_stride[2] = desc.out_stride[1] = 1;
    refuse(ctx, &desc, "out_stride[0] is 15, but must be at least 16, the span of the dimensions whose strides are not larger");
    memset(desc.out_stride, 0, sizeof desc.out_stride);
    desc.in_stride[2] = desc.in_stride[1] = 1;
    refuse(ctx, &desc, "in_stride[0] is 0, but must be at least 1");
    desc.in_stride[0] = (uint64_t)1 << 40;
    refuse(ctx, &desc, "in_stride[0] is 1099511627776, so the array spans more than 68719476736 elements, the limit");
    desc.in_stride[0] = 17;
    desc.in_count[2] = 17;
    refuse(ctx, &desc, "in_count[2] is 17, but dimension 2 has 16 elements");
    desc.in_count[2] = 0;
    desc.out_count[0] = 3;
    refuse(ctx, &desc, "out_count[0] is 3, but must be 0 or 4, because dimension 0 is not transformed");
    desc.out_count[0] = 0;
    desc.in_start[0] = 1;
    refuse(ctx, &desc, "in_start[0] is 1, but must be 0, because dimension 0 is not transformed");
    desc.in_start[0] = 0;
    desc.out_start[2] = UINT64_MAX;
    refuse(ctx, &desc, "out_start[2] is 18446744073709551615 and out_count[2] is 0, but dimension 2 has 16 elements");
    desc.out_start[2] = 10;
    desc.out_count[2] = 7;
    refuse(ctx, &desc, "out_start[2] is 10 and out_count[2] is 7, but dimension 2 has 16 elements");
    desc.out_start[2] = desc.out_count[2] = 0;
    desc.in_start[3] = 5;
    refuse(ctx, &desc, "in_start[3] is 5, but the shape is 3-dimensional");
    desc.in_start[3] = 0;
    vd_fft *strided = vd_fft_create(ctx, &desc);
    assert_non_null(strided);
    memset(desc.in_stride, 0, sizeof desc.in_stride);
    desc.shape[0] = 1;
    vd_fft *plan = vd_fft_create(ctx, &desc);
    assert_non_null(plan);
    vd_buffer small = complex_buffer(ctx, VD_F32, 15, NULL), none = { 0 };
    vd_fft_io io;
    memset(&io, 0, sizeof io);
    assert_int_equal(vd_fft_run(NULL, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    assert_int_equal(vd_fft_run(plan, vd_immediate(ctx, 0, 0), NULL), VD_ERROR_INVALID);
    assert_int_equal(vd_fft_run(plan, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    io.in = complex_buffer(ctx, VD_F32, 67, NULL);
    assert_int_equal(vd_fft_run(strided, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    assert_non_null(strstr(vd_error_text(), "running in place requires equal counts and strides, but in has 4 x 1 x 16 "
                                            "elements with strides { 17, 1, 1 } and out has 4 x 1 x 16 elements with "
                                            "strides { 16, 16, 1 }"));
    vd_buffer_destroy(ctx, io.in);
    vd_fft_destroy(strided);
    io.in = small;
    assert_int_equal(vd_fft_run(plan, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    assert_non_null(strstr(vd_error_text(), "has 120 bytes, but the plan needs 128"));
    io.direction = (vd_fft_direction)2;
    assert_int_equal(vd_fft_run(plan, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    assert_int_equal(vd_fft_forward(ctx, none), VD_ERROR_INVALID);
    vd_buffer_desc real = { 0 };
    real.type = VD_F32;
    real.shape[0] = 16;
    none = vd_buffer_create(ctx, &real);
    assert_int_equal(vd_fft_inverse(ctx, none), VD_ERROR_INVALID);
    assert_non_null(strstr(vd_error_text(), "vd_fft_inverse: buffer 'unnamed "));
    assert_non_null(strstr(vd_error_text(), "' has type f32, but complex f32 or f32x2 is expected"));
    vd_buffer_destroy(ctx, none);
    vd_buffer_destroy(ctx, small);
    vd_fft_destroy(plan);
    vd_fft_destroy(NULL);
    assert_int_equal(vd_context_stats(ctx, &stats), VD_OK);
    assert_int_equal(stats.buffers, 0);
    assert_int_equal(stats.kernels, 0);
    vd_context_destroy(ctx);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths), cmocka_unit_test(random_lengths), cmocka_unit_test(small_work_groups),
        cmocka_unit_test(forced_factors), cmocka_unit_test(axes), cmocka_unit_test(norms), cmocka_unit_test(long_axes),
        cmocka_unit_test(strides), cmocka_unit_test(types), cmocka_unit_test(parts), cmocka_unit_test(simple_calls),
        cmocka_unit_test(simple_calls_keep_recent_plans), cmocka_unit_test(plan_cache_errors),
        cmocka_unit_test(sources), cmocka_unit_test(good_sizes),
        cmocka_unit_test(few_elements), cmocka_unit_test(device_memory),
        cmocka_unit_test(second_device), cmocka_unit_test(bad_input),
    };
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-p") && i + 1 < argc && sscanf(argv[i + 1], "%u/%u", &first, &step) == 2 && step) {
            sweeps = true;
            i++;
        } else if (!strcmp(argv[i], "vkfft")) engine = VD_FFT_ENGINE_VKFFT;
        else cmocka_set_test_filter(argv[i]);
    }
    return RUN_ON_DEVICE(tests);
}
