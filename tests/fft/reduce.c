/* Reductions of every type and operation over any axes, compared with loops on the host; invalid input.
       reduce [-a]     -a: all cases on OpenCL too, where compiling a kernel takes half a second; otherwise one case in
           eight */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <math.h>

typedef struct sample { uint64_t shape[4]; uint32_t axes; } sample;

static uint64_t elements_of(const sample *s) {
    uint64_t n = 1;
    for (int i = 0; i < 4 && s->shape[i]; i++) n *= s->shape[i];
    return n;
}

/* Index of the result that element `at` belongs to. */
static uint64_t result_of(const sample *s, uint64_t at) {
    uint64_t place = 0, step = 1;
    for (int i = 3; i >= 0; i--) {
        if (!s->shape[i]) continue;
        uint64_t digit = at % s->shape[i];
        at /= s->shape[i];
        if (s->axes >> i & 1) continue;
        place += digit * step;
        step *= s->shape[i];
    }
    return place;
}

static uint64_t results_of(const sample *s) { return result_of(s, elements_of(s) - 1) + 1; }

/* ---- numbers of every type, as 64 bits and as double ---- */

typedef struct number { int64_t whole; double real; } number;

static bool is_real(vd_type type) { return type >= VD_F16; }
static bool is_signed(vd_type type) { return type >= VD_I8 && type <= VD_I64; }

static float f16_value(uint16_t h) {
    int exponent = h >> 10 & 31, fraction = h & 1023;
    float x = exponent ? ldexpf((float)(1024 + fraction), exponent - 25) : ldexpf((float)fraction, -24);
    return h >> 15 ? -x : x;
}

static number get(vd_type type, const void *at) {
    number n = { 0, 0 };
    uint32_t size = vd_type_size(type);
    uint64_t bits = 0;
    memcpy(&bits, at, size);
    if (type == VD_F16) n.real = (double)f16_value((uint16_t)bits);
    if (type == VD_F32) { float f; memcpy(&f, at, 4); n.real = (double)f; }
    if (type == VD_F64) memcpy(&n.real, at, 8);
    n.whole = (int64_t)bits;
    if (is_signed(type) && size < 8 && bits >> (8 * size - 1)) n.whole |= (int64_t)(UINT64_MAX << (8 * size));
    return n;
}

/* Small numbers, so that sums of f16 do not overflow and products stay near one. */
static void put(vd_type type, vd_reduce_op op, void *at, uint32_t random) {
    static const uint16_t halves[4] = { 0x3c00, 0x3800, 0x3e00, 0xbc00 }; /* 1, 0.5, 1.5, -1 */
    double real = op == VD_REDUCE_PRODUCT ? 1 + ((int)(random % 5) - 2) * 0.01
                                          : (double)(int)(random % 2001) / 1000.0 - 1;
    uint64_t whole = random * (uint64_t)0x9e3779b97f4a7c15u;
    if (type == VD_F16) memcpy(at, &halves[op == VD_REDUCE_PRODUCT ? 0 : random % 4], 2);
    else if (type == VD_F32) { float f = (float)real; memcpy(at, &f, 4); }
    else if (type == VD_F64) memcpy(at, &real, 8);
    else memcpy(at, &whole, vd_type_size(type));
}

static number combine(vd_type type, vd_reduce_op op, number a, number b) {
    number n = { 0, 0 };
    bool less = is_signed(type) ? a.whole < b.whole : (uint64_t)a.whole < (uint64_t)b.whole;
    switch (op) {
    case VD_REDUCE_PRODUCT: n.real = a.real * b.real; n.whole = (int64_t)((uint64_t)a.whole * (uint64_t)b.whole); break;
    case VD_REDUCE_MIN: n.real = fmin(a.real, b.real); n.whole = less ? a.whole : b.whole; break;
    case VD_REDUCE_MAX: n.real = fmax(a.real, b.real); n.whole = less ? b.whole : a.whole; break;
    case VD_REDUCE_AND: n.whole = a.whole & b.whole; break;
    case VD_REDUCE_OR: n.whole = a.whole | b.whole; break;
    case VD_REDUCE_XOR: n.whole = a.whole ^ b.whole; break;
    default: n.real = a.real + b.real; n.whole = (int64_t)((uint64_t)a.whole + (uint64_t)b.whole); break;
    }
    return n;
}

/* ---- one case ---- */

/* Whether a result is right: exact except for rounded sums and products. `weight`: the sum of magnitudes of the
   `length` elements. */
static bool is_right(vd_type type, vd_reduce_op op, number got, number wanted, double weight, double length) {
    double eps = type == VD_F16 ? 4.9e-4 : type == VD_F32 ? 6e-8 : 1.2e-16, allowed = 0;
    uint32_t size = vd_type_size(type);
    uint64_t mask = size == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * size)) - 1;
    if (!is_real(type)) return (((uint64_t)got.whole ^ (uint64_t)wanted.whole) & mask) == 0;
    if (op == VD_REDUCE_PRODUCT) allowed = eps * length * fabs(wanted.real);
    /* f16 is summed in f32 */
    if (op <= VD_REDUCE_SUM) allowed = eps * fabs(wanted.real) + (type == VD_F16 ? 1e-5 : 40 * eps) * weight;
    return fabs(got.real - wanted.real) <= allowed;
}

static void complain(const sample *s, vd_type type, vd_reduce_op op, uint64_t result, number got, number wanted) {
    print_error("  shape");
    for (int i = 0; i < 4 && s->shape[i]; i++) print_error(" %llu", (unsigned long long)s->shape[i]);
    fail_msg("%s, op %d, axes 0x%x, result %llu: got %.17g (%lld), wanted %.17g (%lld)", vd_type_name(type), (int)op, s->axes, (unsigned long long)result,
             got.real, (long long)got.whole, wanted.real, (long long)wanted.whole);
}

static void check(const sample *s, vd_type type, vd_reduce_op op) {
    uint64_t n = elements_of(s), results = results_of(s);
    uint32_t size = vd_type_size(type), state = (uint32_t)n + (uint32_t)type;
    uint8_t *data = (uint8_t *)malloc(n * size), *got = (uint8_t *)malloc(results * size);
    number *wanted = (number *)malloc(results * sizeof *wanted);
    double *weight = (double *)calloc(results, sizeof *weight); /* sums of magnitudes, for the permitted error */
    bool *begun = (bool *)calloc(results, sizeof *begun);
    vd_reduce_desc desc = { 0 };
    assert_true(data && got && wanted && weight && begun);
    for (uint64_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        put(type, op, data + i * size, state >> 8);
        number x = get(type, data + i * size);
        uint64_t r = result_of(s, i);
        wanted[r] = begun[r] ? combine(type, op, wanted[r], x) : x;
        weight[r] += fabs(x.real);
        begun[r] = true;
    }
    desc.op = op;
    desc.type = type;
    desc.axes = s->axes;
    memcpy(desc.shape, s->shape, sizeof desc.shape);
    vd_reduce *plan = vd_reduce_create(device_context, &desc);
    vd_buffer in = buffer_of(device_context, type, n, data), out = buffer_of(device_context, type, results, NULL);
    if (!plan) fail_msg("%s", vd_error_text());
    for (int round = 0; round < 2; round++) { /* the first run must reset the tickets */
        assert_int_equal(vd_fill(vd_immediate(device_context, 0, 0), out, 0, VD_WHOLE, NULL, 0), VD_OK);
        vd_result result = vd_reduce_run(plan, vd_immediate(device_context, 0, 0), in, out);
        if (!result) result = vd_buffer_read(device_context, out, 0, got, VD_WHOLE);
        if (result) fail_msg("%s", vd_error_text());
        for (uint64_t r = 0; r < results; r++) {
            number g = get(type, got + r * size);
            if (!is_right(type, op, g, wanted[r], weight[r], (double)(n / results)))
                complain(s, type, op, r, g, wanted[r]);
        }
    }
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, out);
    vd_reduce_destroy(plan);
    free(data);
    free(got);
    free(wanted);
    free(weight);
    free(begun);
}

/* ---- tests ---- */

static void types_and_operations(void **state) {
    static const sample all = { { 3001, 0, 0, 0 }, 1 };
    (void)state;
    need_device();
    for (vd_type type = VD_I8; type <= VD_F64; type++) {
        if (lacks_arithmetic(type)) { print_message("# %s is not here\n", vd_type_name(type)); continue; }
        for (int op = VD_REDUCE_SUM; op <= (is_real(type) ? VD_REDUCE_MAX : VD_REDUCE_XOR); op++)
            if (!passes_over(8, 1)) check(&all, type, (vd_reduce_op)op);
    }
}

static void shapes_and_axes(void **state) {
    static const sample samples[] = {
        { { 1, 0, 0, 0 }, 1 }, { { 7, 0, 0, 0 }, 1 }, { { 100000, 0, 0, 0 }, 1 }, { { 33, 1000, 0, 0 }, 2 },
        { { 1000, 33, 0, 0 }, 1 }, { { 50000, 9, 0, 0 }, 1 }, { { 20, 30, 40, 0 }, 1 }, { { 20, 30, 40, 0 }, 2 },
        { { 20, 30, 40, 0 }, 4 }, { { 20, 30, 40, 0 }, 3 }, { { 20, 30, 40, 0 }, 5 }, { { 20, 30, 40, 0 }, 6 },
        { { 20, 30, 40, 0 }, 7 }, { { 5, 6, 7, 8 }, 5 }, { { 5, 6, 7, 8 }, 10 }, { { 3, 20000, 2, 0 }, 2 },
        { { 1, 5, 1, 64 }, 13 }, { { 1000, 5, 0, 0 }, 2 }, { { 700, 32, 0, 0 }, 2 }, { { 10, 300, 4, 0 }, 4 },
        { { 40, 3, 7, 2 }, 14 },
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(samples); i++) {
        if (!passes_over(8, 1)) check(&samples[i], VD_F32, VD_REDUCE_DEFAULT);
        if (!passes_over(8, 1)) check(&samples[i], VD_I32, VD_REDUCE_MAX);
    }
}

static void squared(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k;
    io->out = vc_mul(vc_mul(io->in[0], io->in[0]), vc_f32(*(const float *)user));
}

static void mapped(void **state) {
    float data[5000], result = 0, scale = 0.5f;
    double wanted = 0;
    vd_reduce_desc desc = { 0 };
    (void)state;
    need_device();
    for (int i = 0; i < 5000; i++) {
        data[i] = (float)(i % 101) * 0.01f;
        wanted += 0.5 * (double)data[i] * (double)data[i];
    }
    desc.shape[0] = 5000;
    desc.map.build = squared;
    desc.map.user = &scale;
    vd_reduce *plan = vd_reduce_create(device_context, &desc);
    vd_buffer in = buffer_of(device_context, VD_F32, 5000, data), out = buffer_of(device_context, VD_F32, 1, NULL);
    if (!plan || vd_reduce_run(plan, vd_immediate(device_context, 0, 0), in, out)) fail_msg("%s", vd_error_text());
    assert_int_equal(vd_buffer_read(device_context, out, 0, &result, 4), VD_OK);
    assert_true(fabs((double)result - wanted) <= 1e-6 * wanted);
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, out);
    vd_reduce_destroy(plan);
}

/* ---- operations with several buffers or another result type ---- */

static bool is_arg(vd_reduce_op op) { return op == VD_REDUCE_ARGMIN || op == VD_REDUCE_ARGMAX; }

/* Runs a plan twice, to check that tickets are reset. `out` and `also` have `results` elements. */
static void run(const vd_reduce_desc *desc, const void *data, const void *with, uint64_t n, void *out, vd_type out_type,
                void *also, vd_type also_type, uint64_t results) {
    vd_reduce *plan = vd_reduce_create(device_context, desc);
    vd_type type = desc->type ? desc->type : VD_F32;
    vd_reduce_io io = { { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, NULL, 0 };
    if (!plan) fail_msg("%s", vd_error_text());
    io.in = buffer_of(device_context, type, n, data);
    if (with) io.in_b = buffer_of(device_context, type, n, with);
    io.out = buffer_of(device_context, out_type, results, NULL);
    if (also) io.extra_out = buffer_of(device_context, also_type, results, NULL);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(vd_fill(vd_immediate(device_context, 0, 0), io.out, 0, VD_WHOLE, NULL, 0), VD_OK);
        vd_result result = vd_reduce_run_io(plan, vd_immediate(device_context, 0, 0), &io);
        if (!result) result = is_arg(desc->op) ? read_counts(device_context, io.out, (uint32_t *)out)
                                               : vd_buffer_read(device_context, io.out, 0, out, VD_WHOLE);
        if (!result && also) result = vd_buffer_read(device_context, io.extra_out, 0, also, VD_WHOLE);
        if (result) fail_msg("%s", vd_error_text());
    }
    vd_buffer_destroy(device_context, io.in);
    vd_buffer_destroy(device_context, io.in_b);
    vd_buffer_destroy(device_context, io.out);
    vd_buffer_destroy(device_context, io.extra_out);
    vd_reduce_destroy(plan);
}

/* Index of element `at` among the elements of its result. */
static uint32_t number_of(const sample *s, uint64_t at) {
    sample turned = *s;
    turned.axes = ~s->axes;
    return (uint32_t)result_of(&turned, at);
}

static bool is_less(vd_type type, number a, number b) {
    return is_real(type)     ? a.real < b.real
           : is_signed(type) ? a.whole < b.whole
                             : (uint64_t)a.whole < (uint64_t)b.whole;
}

/* Few different numbers, so that many elements are equal: the lowest index is expected. Occasionally NaN. Half of the
   types have 64-bit indices. */
static void check_arg(const sample *s, vd_type type, bool most) {
    uint64_t n = elements_of(s), results = results_of(s);
    uint32_t size = vd_type_size(type), state = (uint32_t)(n * 7 + (uint64_t)type);
    uint8_t *data = (uint8_t *)calloc(n, size), *values = (uint8_t *)calloc(results, size);
    uint32_t *got = (uint32_t *)calloc(results, 4), *wanted = (uint32_t *)malloc(results * 4);
    number *best = (number *)calloc(results, sizeof *best);
    vd_reduce_desc desc = { 0 };
    assert_true(data && got && wanted && values && best);
    memset(wanted, 0xff, results * 4);
    for (uint64_t i = 0; i < n; i++) {
        static const uint16_t halves[] = { 0x3c00, 0xbc00, 0x4000, 0x7e00, 0x7c00, 0xfc00, 0x8000, 0, 0xfe00, 0x7c01,
                                           0x0400 };
        static const float floats[] = { 1, -1, 2, NAN, INFINITY, -INFINITY, -0.0f, 0, -NAN, NAN, 6.103515625e-5f };
        uint64_t r = result_of(s, i), whole;
        state = state * 1664525u + 1013904223u;
        uint32_t pick = n < 9 ? 3 : (state >> 16) % COUNT(halves); /* short ones: only NaN */
        double real = (double)floats[pick];
        whole = (uint64_t)(state >> 20) % 5 - 2;
        if (type == VD_F16) memcpy(data + i * 2, &halves[pick], 2);
        else if (type == VD_F32) memcpy(data + i * 4, &floats[pick], 4);
        else if (type == VD_F64) memcpy(data + i * 8, &real, 8);
        else memcpy(data + i * size, &whole, size);
        number x = get(type, data + i * size);
        if (is_real(type)) x.real = (double)floats[pick];
        if (is_real(type) && isnan(x.real)) continue;
        if (wanted[r] == UINT32_MAX || (most ? is_less(type, best[r], x) : is_less(type, x, best[r]))) {
            wanted[r] = number_of(s, i);
            best[r] = x;
        }
    }
    desc.op = most ? VD_REDUCE_ARGMAX : VD_REDUCE_ARGMIN;
    desc.type = type;
    desc.axes = s->axes;
    desc.extra_out = true;
    memcpy(desc.shape, s->shape, sizeof desc.shape);
    if ((s->axes + (uint32_t)type / 2) % 2 && !lacks_arithmetic(VD_U64)) desc.index_type = VD_U64;
    run(&desc, data, NULL, n, got, desc.index_type ? VD_U64 : VD_U32, values, type, results);
    for (uint64_t r = 0; r < results; r++) {
        if (got[r] != wanted[r])
            fail_msg("%s of %llu elements, result %llu: got %u, wanted %u", vd_type_name(type), (unsigned long long)n,
                     (unsigned long long)r, got[r], wanted[r]);
        for (uint64_t i = 0; i < n; i++)
            if (result_of(s, i) == r && number_of(s, i) == wanted[r])
                assert_memory_equal(values + r * size, data + i * size, size);
    }
    free(data);
    free(values);
    free(got);
    free(wanted);
    free(best);
}

static void least_and_most(void **state) {
    static const sample samples[] = { { { 20000, 0, 0, 0 }, 1 }, { { 5, 0, 0, 0 }, 1 }, { { 40, 100, 0, 0 }, 1 },
                                      { { 12, 36, 5, 0 }, 2 }, { { 4, 9, 8, 0 }, 5 } };
    (void)state;
    need_device();
    for (vd_type type = VD_I8; type <= VD_F64; type++) {
        if (lacks_arithmetic(type)) { print_message("# %s is not here\n", vd_type_name(type)); continue; }
        for (size_t i = 0; i < COUNT(samples); i++)
            if ((i == type % 4 || type == VD_F32 || !i) && !passes_over(8, 1))
                check_arg(&samples[i], type, (i + type) % 2);
    }
}

/* Vector loads, large work-groups and many of them. */
static void as_for_a_gpu(void **state) {
    static const sample samples[] = {
        { { 300001, 0, 0, 0 }, 1 }, { { 5, 4096, 0, 0 }, 2 }, { { 3, 24, 7, 20 }, 10 }, { { 1000, 8, 0, 0 }, 2 }
    };
    static const vd_type some[] = { VD_F32, VD_I8, VD_F64, VD_U16 };
    (void)state;
    need_device();
    setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1);
    for (size_t i = 0; i < 8; i++) {
        if (lacks_arithmetic(some[i / 2]) || passes_over(8, 1)) continue;
        if (i % 2) check_arg(&samples[i % 4], some[i / 2], i % 4 == 1);
        else check(&samples[i / 2], some[i / 2], VD_REDUCE_DEFAULT);
    }
    check(&samples[0], VD_I32, VD_REDUCE_DEFAULT);
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

/* Devices whose subgroups do not combine 64-bit integers. */
static void without_wide_subgroups(void **state) {
    static const sample all = { { 5001, 0, 0, 0 }, 1 };
    vd_context_desc desc = { 0 };
    vd_context *usual = device_context;
    (void)state;
    need_device();
    desc.disable = VD_FEATURE_SUBGROUP_TYPES;
    assert_int_equal(vd_context_create(&desc, &device_context), VD_OK);
    if (!lacks_arithmetic(VD_I64)) {
        check(&all, VD_I64, VD_REDUCE_MIN);
        check(&all, VD_U64, VD_REDUCE_SUM);
    }
    check(&all, VD_I32, VD_REDUCE_MAX);
    vd_context_destroy(device_context);
    device_context = usual;
}

/* Many lengths, each divided differently among vectors, threads and parts; as one row and as several. */
static void lengths(void **state) {
    enum { MOST = 1100 };
    int32_t data[3 * MOST];
    (void)state;
    need_device();
    for (int i = 0; i < 3 * MOST; i++) data[i] = (int32_t)((uint32_t)i * 2654435761u) >> 3;
    for (uint64_t n = 1; n <= MOST; n += n < 10 ? 1 : 263) {
        vd_reduce_desc desc = { 0 };
        int32_t wanted[3] = { 0, 0, 0 }, got[3];
        if (passes_over(8, 1)) continue;
        desc.type = VD_I32;
        for (uint64_t i = 0; i < 3 * n; i++) wanted[i / n] = (int32_t)((uint32_t)wanted[i / n] + (uint32_t)data[i]);
        desc.shape[0] = n;
        run(&desc, data, NULL, n, got, VD_I32, NULL, VD_I32, 1);
        if (got[0] != wanted[0]) fail_msg("%llu elements: got %d, wanted %d", (unsigned long long)n, got[0], wanted[0]);
        desc.shape[0] = 3;
        desc.shape[1] = n;
        desc.axes = 2;
        run(&desc, data, NULL, 3 * n, got, VD_I32, NULL, VD_I32, 3);
        for (int i = 0; i < 3; i++)
            if (got[i] != wanted[i])
                fail_msg("row %d of %llu elements: got %d, wanted %d", i, (unsigned long long)n, got[i], wanted[i]);
    }
}

/* Far from zero, where the mean of squares minus the square of the mean has no correct digit. */
static void statistics(void **state) {
    enum { N = 30011 };
    float *x = (float *)malloc(4 * N), *y = (float *)malloc(4 * N), got = 0, mean = 0;
    double sum = 0, squares = 0, products = 0, lengths = 0, average;
    vd_reduce_desc desc = { 0 };
    (void)state;
    need_device();
    assert_true(x && y);
    for (int i = 0; i < N; i++) {
        x[i] = 10000 + (float)(i * 7919 % 1009) * 0.001f;
        y[i] = (float)(i % 17) - 8;
        sum += (double)x[i];
        products += (double)x[i] * (double)y[i];
        lengths += (double)x[i] * (double)x[i];
    }
    average = sum / N;
    for (int i = 0; i < N; i++) squares += ((double)x[i] - average) * ((double)x[i] - average);
    desc.shape[0] = N;
    desc.op = VD_REDUCE_VARIANCE;
    desc.extra_out = true;
    desc.correction = 1;
    run(&desc, x, NULL, N, &got, VD_F32, &mean, VD_F32, 1);
    if (fabs((double)got - squares / (N - 1)) > 1e-2 * squares / (N - 1))
        fail_msg("variance %g, wanted %g", (double)got, squares / (N - 1));
    assert_true(fabs((double)mean - average) < 4e-7 * average);
    desc.extra_out = false;
    desc.correction = 0;
    desc.op = VD_REDUCE_MEAN;
    run(&desc, x, NULL, N, &got, VD_F32, NULL, VD_F32, 1);
    assert_true(fabs((double)got - average) < 4e-7 * average);
    desc.op = VD_REDUCE_NORM;
    run(&desc, x, NULL, N, &got, VD_F32, NULL, VD_F32, 1);
    assert_true(fabs((double)got - sqrt(lengths)) < 4e-7 * sqrt(lengths));
    desc.op = VD_REDUCE_DOT;
    run(&desc, x, y, N, &got, VD_F32, NULL, VD_F32, 1);
    assert_true(fabs((double)got - products) < 1e-7 * sqrt(lengths * N * 25));
    free(x);
    free(y);
}

/* Means, variances and norms: floats for integers, f16 for f16. Every type, with rows and columns. */
static void statistics_of_types(void **state) {
    enum { ROWS = 9, WIDE = 40 };
    (void)state;
    need_device();
    for (vd_type type = VD_I8; type <= VD_F64; type++) {
        uint8_t data[ROWS * WIDE * 8], got[WIDE * 8], mean[WIDE * 8];
        vd_type result = type == VD_F16 ? VD_F16 : type == VD_I64 || type == VD_U64 || type == VD_F64 ? VD_F64 : VD_F32;
        uint32_t size = vd_type_size(type);
        if (passes_over(8, 1)) continue;
        if (lacks_arithmetic(type) || lacks_arithmetic(result)) {
            print_message("# %s is not here\n", vd_type_name(type));
            continue;
        }
        for (uint64_t i = 0; i < ROWS * WIDE; i++) {
            static const uint16_t halves[4] = { 0x3c00, 0x4000, 0x4200, 0x4400 };
            uint64_t whole = 1 + i * 31 % 4;
            float f = (float)whole;
            double d = (double)whole;
            const void *from = type == VD_F16   ? (const void *)&halves[whole - 1]
                               : type == VD_F32 ? (const void *)&f
                                                : (const void *)&whole;
            memcpy(data + i * size, type == VD_F64 ? (const void *)&d : from, size);
        }
        for (uint32_t axes = 1; axes <= 2; axes++) {
            uint64_t results = axes == 1 ? WIDE : ROWS, count = axes == 1 ? ROWS : WIDE;
            vd_reduce_desc desc = { 0 };
            desc.type = type;
            desc.shape[0] = ROWS;
            desc.shape[1] = WIDE;
            desc.axes = axes;
            desc.op = VD_REDUCE_VARIANCE;
            desc.extra_out = true;
            run(&desc, data, NULL, ROWS * WIDE, got, result, mean, result, results);
            for (uint64_t r = 0; r < results; r++) {
                double sum = 0, squares = 0, eps = type == VD_F16 ? 1e-3 : 1e-6;
                for (uint64_t i = 0; i < count; i++) {
                    double v = (double)(1 + (axes == 1 ? i * WIDE + r : r * WIDE + i) * 31 % 4);
                    sum += v;
                    squares += v * v;
                }
                double average = sum / (double)count, variance = squares / (double)count - average * average;
                number g = get(result, got + r * vd_type_size(result)),
                       m = get(result, mean + r * vd_type_size(result));
                if (fabs(g.real - variance) > eps * (1 + variance) || fabs(m.real - average) > eps * average)
                    fail_msg("%s, axes %u, result %llu: %g %g, wanted %g %g", vd_type_name(type), axes,
                             (unsigned long long)r, g.real, m.real, variance, average);
            }
        }
    }
}

static void times(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_mul(io->in[0], io->in[1]);
}

/* squared distance between the inputs */
static void unequal(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_mul(vc_sub(io->in[0], io->in[1]), vc_sub(io->in[0], io->in[1]));
}

static void own_operations(void **state) {
    enum { N = 5003 };
    (void)state;
    need_device();
    for (vd_type type = VD_I8; type <= VD_F64; type++) {
        static const uint64_t ones[3] = { 0x3c00, 0x3f800000u, (uint64_t)0x3ff << 52 };
        uint8_t data[N * 8], got[8] = { 0 }, wanted[8] = { 0 };
        vd_reduce_desc desc = { 0 };
        if (lacks_arithmetic(type) || passes_over(8, 1)) continue;
        for (int i = 0; i < N; i++)
            put(type, VD_REDUCE_PRODUCT, data + (size_t)i * vd_type_size(type), (uint32_t)i * 2654435761u | 1);
        desc.type = type;
        desc.shape[0] = N;
        desc.op = VD_REDUCE_PRODUCT;
        run(&desc, data, NULL, N, wanted, type, NULL, type, 1);
        desc.op = VD_REDUCE_DEFAULT;
        desc.combine.build = times;
        desc.identity = vc_imm(type, is_real(type) ? ones[type - VD_F16] : 1);
        run(&desc, data, NULL, N, got, type, NULL, type, 1);
        if (is_real(type))
            assert_true(fabs(get(type, got).real - get(type, wanted).real) <= 1e-3 * fabs(get(type, wanted).real));
        else assert_memory_equal(got, wanted, 8);
    }
    float a[101], b[101], got = 0, wanted = 0;
    vd_reduce_desc desc = { 0 };
    for (int i = 0; i < 101; i++) {
        a[i] = (float)(i % 7);
        b[i] = (float)(i % 5);
        wanted += (a[i] - b[i]) * (a[i] - b[i]);
    }
    desc.op = VD_REDUCE_DOT;
    desc.shape[0] = 101;
    desc.map.build = unequal;
    run(&desc, a, b, 101, &got, VD_F32, NULL, VD_F32, 1);
    assert_true(got == wanted);
}

static void known(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_select(vc_isnan(io->in[0]), io->in[1], io->in[0]);
}

static void larger(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_max(io->in[0], io->in[1]);
}

/* Identities that are not normal numbers: NaN, infinity, subnormals. Values of f16 are combined as f32. */
static void identities(void **state) {
    static const struct { vd_type type; uint64_t bits; vd_fragment_build combine; double wanted;
    } cases[] = { /* of -4 */
                  { VD_F32, 0x7fc00000u, known, -4 },
                  { VD_F16, 0x7e00, known, -4 },
                  { VD_F32, 0xff800000u, larger, -4 },
                  { VD_F16, 0xfc00, larger, -4 },
                  { VD_F32, 1, larger, 0 },
                  { VD_F16, 1, larger, 1 / 16777216.0 },
                  { VD_F16, 0x83ff, larger, -1023 / 16777216.0 },
                  { VD_F16, 0x0400, larger, 1 / 16384.0 },
                  { VD_F16, 0, larger, 0 },
                  { VD_F16, 0xbc01, larger, -1025 / 1024.0 },
                  { VD_F16, 0x7bff, larger, 65504 }
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t data[8] = { 0 }, got[8] = { 0 };
        vd_reduce_desc desc = { 0 };
        if (lacks_arithmetic(cases[i].type)) continue;
        memcpy(data, cases[i].type == VD_F32 ? (const void *)&(float){ -4 } : (const void *)&(uint16_t){ 0xc400 },
               vd_type_size(cases[i].type));
        desc.type = cases[i].type;
        desc.shape[0] = 1;
        desc.combine.build = cases[i].combine;
        desc.identity = vc_imm(cases[i].type, cases[i].bits);
        run(&desc, data, NULL, 1, got, cases[i].type, NULL, cases[i].type, 1);
        if (!(fabs(get(cases[i].type, got).real - cases[i].wanted) < 1e-9))
            fail_msg("case %d: %g", (int)i, get(cases[i].type, got).real);
    }
}

/* Segments of all lengths, including empty ones; indices count from the start of a segment. */
static void segments(void **state) {
    enum { MOST = 90, N = MOST * (MOST - 1) / 2 };
    static const vd_reduce_op ops[] = { VD_REDUCE_SUM, VD_REDUCE_ARGMAX, VD_REDUCE_MEAN };
    int32_t data[N];
    uint32_t offsets[MOST + 1], got[MOST];
    (void)state;
    need_device();
    for (int i = 0; i < N; i++) data[i] = (int32_t)((uint32_t)i * 2654435761u >> 20) - 2048;
    for (uint32_t i = 0; i <= MOST; i++) offsets[i] = i * (i ? i - 1 : 0) / 2;
    for (size_t o = 0; o < 2 * COUNT(ops); o++) { /* short ones, one thread each; and longer ones */
        uint32_t count = o % 2 ? 60 : MOST, n = count * (count - 1) / 2;
        vd_reduce_desc desc = { 0 };
        desc.op = ops[o / 2];
        desc.type = VD_I32;
        desc.shape[0] = n;
        desc.segments = count;
        vd_reduce *plan = vd_reduce_create(device_context, &desc);
        if (!plan) fail_msg("%s", vd_error_text());
        vd_type type = ops[o / 2] == VD_REDUCE_SUM ? VD_I32 : ops[o / 2] == VD_REDUCE_MEAN ? VD_F32 : VD_U32;
        vd_reduce_io io = { { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, NULL, 0 };
        io.in = buffer_of(device_context, VD_I32, n, data);
        io.offsets = buffer_of(device_context, VD_U32, count + 1, offsets);
        io.out = buffer_of(device_context, type, count, NULL);
        vd_result result = vd_reduce_run_io(plan, vd_immediate(device_context, 0, 0), &io);
        if (!result) result = vd_buffer_read(device_context, io.out, 0, got, VD_WHOLE);
        if (result) fail_msg("%s", vd_error_text());
        for (uint32_t i = 0; i < count; i++) {
            int32_t sum = 0;
            uint32_t best = UINT32_MAX, length = offsets[i + 1] - offsets[i];
            float mean;
            for (uint32_t j = 0; j < length; j++) {
                int32_t x = data[offsets[i] + j];
                sum += x;
                if (best == UINT32_MAX || x > data[offsets[i] + best]) best = j;
            }
            memcpy(&mean, &got[i], 4);
            if (o / 2 == 2) assert_true(length ? fabs((double)mean - (double)sum / length) < 1e-3 : isnan(mean));
            else if (got[i] != (o / 2 ? best : (uint32_t)sum))
                fail_msg("op %d, segment %u: got %u", (int)ops[o / 2], i, got[i]);
        }
        vd_buffer_destroy(device_context, io.in);
        vd_buffer_destroy(device_context, io.offsets);
        vd_buffer_destroy(device_context, io.out);
        vd_reduce_destroy(plan);
    }
}

/* Minimum and maximum of an empty segment, for every integer type, and of a segment of three numbers; by one thread and
   by a work-group. */
static void empty_segments(void **state) {
    enum { MOST = 40 };
    uint32_t offsets[MOST + 1] = { 0, 3, 3 };
    (void)state;
    need_device();
    for (uint32_t i = 3; i <= MOST; i++) offsets[i] = 3;
    for (uint32_t i = 0; i < 32; i++) {
        vd_type type = (vd_type)(VD_I8 + i / 4);
        uint32_t size = vd_type_size(type), count = i & 2 ? MOST : 2;
        uint64_t ones = UINT64_MAX >> (64 - 8 * size), top = ones / 2 + 1, data[3] = { 0, 0, 0 }, got[MOST] = { 0 };
        uint64_t least = is_signed(type) ? top : 0, most = is_signed(type) ? top - 1 : ones,
                 empty = i & 1 ? least : most, full = i & 1 ? 7 : 5;
        uint64_t seen[2] = { 0, 0 };
        if (lacks_arithmetic(type) || passes_over(4, 1)) continue;
        for (uint64_t j = 0; j < 3; j++) memcpy((uint8_t *)data + j * size, &(uint64_t){ 5 + j }, size);
        vd_reduce_desc desc = { 0 };
        desc.op = i & 1 ? VD_REDUCE_MAX : VD_REDUCE_MIN;
        desc.type = type;
        desc.shape[0] = 3;
        desc.segments = count;
        vd_reduce *plan = vd_reduce_create(device_context, &desc);
        if (!plan) fail_msg("%s", vd_error_text());
        vd_reduce_io io = { { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, NULL, 0 };
        io.in = buffer_of(device_context, type, 3, data);
        io.offsets = buffer_of(device_context, VD_U32, count + 1, offsets);
        io.out = buffer_of(device_context, type, count, NULL);
        if (vd_reduce_run_io(plan, vd_immediate(device_context, 0, 0), &io)
            || vd_buffer_read(device_context, io.out, 0, got, VD_WHOLE))
            fail_msg("%s", vd_error_text());
        memcpy(&seen[0], got, size);
        memcpy(&seen[1], (uint8_t *)got + (count - 1) * size, size);
        if (seen[0] != full || seen[1] != empty)
            fail_msg("%s, op %d: 0x%llx and, of none, 0x%llx", vd_type_name(type), (int)desc.op,
                     (unsigned long long)seen[0], (unsigned long long)seen[1]);
        vd_buffer_destroy(device_context, io.in);
        vd_buffer_destroy(device_context, io.offsets);
        vd_buffer_destroy(device_context, io.out);
        vd_reduce_destroy(plan);
    }
}

/* More loads per thread than llvmpipe allows iterations (65535): columns, by eight work-groups of four rows of threads
   with eight loads an iteration, in the 128 MiB that a binding may have; one segment among many, by one thread; one
   among few, by a work-group. All elements are 1. */
static void long_results(void **state) {
    static const struct {
        uint64_t shape[2], segments;
    } cases[] = { { { 560000, 0 }, 20000 }, { { 16777200, 8 }, 0 }, { { 68000000, 0 }, 4 } };
    (void)state;
    need_device();
    if (lacks_arithmetic(VD_U8)) skip();
    for (size_t c = 0; c < COUNT(cases); c++) {
        if (passes_over(1, 1)) continue;
        uint64_t n = cases[c].shape[0] * (cases[c].shape[1] ? cases[c].shape[1] : 1), segments = cases[c].segments,
                 results = segments ? segments : 8;
        uint8_t *data = (uint8_t *)malloc(n);
        uint32_t *offsets = (uint32_t *)malloc(4 * (results + 1));
        float *got = (float *)malloc(4 * results), wanted;
        vd_reduce_desc desc = { 0 };
        assert_true(data && offsets && got);
        memset(data, 1, n);
        for (uint32_t i = 0; i <= results; i++) offsets[i] = (uint32_t)(i ? n - results + i : 0);
        desc.op = segments ? VD_REDUCE_NORM : VD_REDUCE_MEAN; /* a square root, so that a float can hold it */
        desc.type = VD_U8;
        memcpy(desc.shape, cases[c].shape, sizeof cases[c].shape);
        desc.axes = 1;
        desc.segments = segments;
        vd_reduce *plan = vd_reduce_create(device_context, &desc);
        if (!plan) fail_msg("%s", vd_error_text());
        vd_reduce_io io = { { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, NULL, 0 };
        io.in = buffer_of(device_context, VD_U8, n, data);
        if (segments) io.offsets = buffer_of(device_context, VD_U32, results + 1, offsets);
        io.out = buffer_of(device_context, VD_F32, results, NULL);
        if (vd_reduce_run_io(plan, vd_immediate(device_context, 0, 0), &io)
            || vd_buffer_read(device_context, io.out, 0, got, VD_WHOLE))
            fail_msg("%s", vd_error_text());
        for (uint64_t i = 0; i < results; i++) {
            wanted = segments && !i ? sqrtf((float)offsets[1]) : 1;
            if (fabsf(got[i] - wanted) > 1e-5f * wanted)
                fail_msg("case %d, result %llu: %g, not %g", (int)c, (unsigned long long)i, (double)got[i],
                         (double)wanted);
        }
        vd_buffer_destroy(device_context, io.in);
        vd_buffer_destroy(device_context, io.offsets);
        vd_buffer_destroy(device_context, io.out);
        vd_reduce_destroy(plan);
        free(data);
        free(offsets);
        free(got);
    }
}

static void any_and_all(void **state) {
    enum { N = 3000 };
    static uint32_t bools[N];
    static uint8_t bytes[N];
    uint32_t got = 7;
    vd_reduce_desc desc = { 0 };
    (void)state;
    need_device();
    for (int set = 0; set <= N; set += N / 2) { /* none, one of them, all */
        for (int i = 0; i < N; i++) bytes[i] = (uint8_t)(3 * (bools[i] = set == N || (set && i == 1234)));
        for (int any = 0; any < 2; any++) {
            uint32_t wanted = any ? set > 0 : set == N;
            desc.op = any ? VD_REDUCE_ANY : VD_REDUCE_ALL;
            desc.type = VD_BOOL;
            desc.shape[0] = N;
            run(&desc, bools, NULL, N, &got, VD_BOOL, NULL, VD_BOOL, 1);
            assert_int_equal(got, wanted);
            desc.op = any ? VD_REDUCE_OR : VD_REDUCE_AND;
            run(&desc, bools, NULL, N, &got, VD_BOOL, NULL, VD_BOOL, 1);
            assert_int_equal(got, wanted);
            desc.op = any ? VD_REDUCE_ANY : VD_REDUCE_ALL;
            desc.type = VD_U8;
            if (lacks_arithmetic(VD_U8)) continue;
            run(&desc, bytes, NULL, N, &got, VD_BOOL, NULL, VD_BOOL, 1);
            assert_int_equal(got, wanted);
        }
    }
}

/* A view that starts in the middle of a vector; every run gives the same bits. */
static void views_and_repeats(void **state) {
    enum { N = 60000 };
    float *data = (float *)malloc(4 * N), first = 0, got = 0;
    vd_reduce_desc desc = { 0 };
    double wanted = 0;
    (void)state;
    need_device();
    assert_non_null(data);
    for (int i = 0; i < N; i++) data[i] = (float)(i * 7919 % 1009) * 0.001f;
    for (int i = 0; i < N - 101; i++) wanted += (double)data[i + 1];
    desc.shape[0] = N - 101;
    vd_buffer whole = buffer_of(device_context, VD_F32, N, data), in = view_of(device_context, whole, VD_F32, 4, 0);
    vd_buffer out = buffer_of(device_context, VD_F32, 1, NULL);
    setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1);
    vd_reduce *plan = vd_reduce_create(device_context, &desc);
    unsetenv("VKDISPATCH_FFT_SHAPES");
    assert_true(in.id && out.id && plan);
    for (int round = 0; round < 12; round++) {
        /* from round 1 on, with vector loads */
        vd_result result = vd_reduce_run(plan, vd_immediate(device_context, 0, 0), round ? whole : in, out);
        /* with bindings */
        if (!round && result == VD_ERROR_UNSUPPORTED) { print_message("# %s\n", vd_error_text()); continue; }
        if (!result) result = vd_buffer_read(device_context, out, 0, &got, 4);
        if (result) fail_msg("%s", vd_error_text());
        if (!round) assert_true(fabs((double)got - wanted) < 1e-5 * wanted);
        if (round == 1) first = got;
        if (round > 1) assert_memory_equal(&got, &first, 4);
    }
    vd_reduce_destroy(plan);
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, whole);
    vd_buffer_destroy(device_context, out);
    free(data);
}

static void simple(void **state) {
    static const float data[6] = { 3, -1, 4, 1, -5, 9 };
    float result[3] = { 0, 0, 0 };
    (void)state;
    need_device();
    vd_buffer in = buffer_of(device_context, VD_F32, 6, data), out = buffer_of(device_context, VD_F32, 1, NULL);
    assert_int_equal(vd_reduce_sum(device_context, in, out), VD_OK);
    assert_int_equal(vd_buffer_read(device_context, out, 0, &result[0], 4), VD_OK);
    assert_int_equal(vd_reduce_min(device_context, in, out), VD_OK);
    assert_int_equal(vd_buffer_read(device_context, out, 0, &result[1], 4), VD_OK);
    assert_int_equal(vd_reduce_max(device_context, in, out), VD_OK);
    assert_int_equal(vd_buffer_read(device_context, out, 0, &result[2], 4), VD_OK);
    assert_true(result[0] == 11 && result[1] == -5 && result[2] == 9);
    vd_buffer where = buffer_of(device_context, VD_U32, 1, NULL), yes = buffer_of(device_context, VD_BOOL, 1, NULL);
    uint32_t whole[3] = { 0, 0, 0 };
    assert_int_equal(
        vd_reduce_argmin(device_context, in, where) || vd_buffer_read(device_context, where, 0, &whole[0], 4), VD_OK);
    assert_int_equal(
        vd_reduce_argmax(device_context, in, where) || vd_buffer_read(device_context, where, 0, &whole[1], 4), VD_OK);
    assert_int_equal(vd_reduce_any(device_context, in, yes) || vd_reduce_all(device_context, in, yes), VD_OK);
    assert_int_equal(vd_buffer_read(device_context, yes, 0, &whole[2], 4), VD_OK);
    assert_true(whole[0] == 4 && whole[1] == 5 && whole[2] == 1);
    assert_int_equal(
        vd_reduce_dot(device_context, in, in, out) || vd_buffer_read(device_context, out, 0, &result[0], 4), VD_OK);
    assert_int_equal(vd_reduce_norm(device_context, in, out) || vd_buffer_read(device_context, out, 0, &result[1], 4),
                     VD_OK);
    assert_int_equal(vd_reduce_mean(device_context, in, out) || vd_buffer_read(device_context, out, 0, &result[2], 4),
                     VD_OK);
    assert_true(result[0] == 133 && fabs((double)result[1] - sqrt(133.0)) < 1e-5
                && fabs((double)result[2] - 11.0 / 6) < 1e-6);
    vd_buffer mean = buffer_of(device_context, VD_F32, 1, NULL);
    assert_int_equal(vd_reduce_variance(device_context, in, out, mean)
                         || vd_buffer_read(device_context, out, 0, &result[0], 4),
                     VD_OK);
    assert_true(fabs((double)result[0] - (133.0 / 6 - 121.0 / 36)) < 1e-5);
    vd_buffer_destroy(device_context, mean);
    vd_buffer_destroy(device_context, where);
    vd_buffer_destroy(device_context, yes);
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, out);
}

static void refuse(vd_context *ctx, const vd_reduce_desc *desc, const char *part) {
    assert_null(vd_reduce_create(ctx, desc));
    says(part);
}

static void latch(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)user;
    io->out = vc_add(io->in[0], vc_const(k, vc_u32(1)));
}

static void bad_input(void **state) {
    vd_context *ctx = dummy_context();
    (void)state;
    vd_reduce_desc desc = { 0 };
    vc_val nothing = { 0, 0 };
    refuse(NULL, &desc, "ctx is NULL");
    refuse(ctx, NULL, "desc is NULL");
    refuse(ctx, &desc, "dimension 0 of the shape is 0, but must be at least 1");
    desc.shape[0] = 100;
    desc.op = (vd_reduce_op)99;
    refuse(ctx, &desc, "op is 99, but must be 0 to 15 (VD_REDUCE_VARIANCE)");
    desc.op = VD_REDUCE_AND;
    refuse(ctx, &desc, "type is f32, but must be a scalar integer or bool");
    desc.op = VD_REDUCE_MEAN;
    desc.type = VD_BOOL;
    refuse(ctx, &desc, "type is bool, but must be a scalar number");
    desc.type = VD_F32;
    desc.extra_out = true;
    refuse(ctx, &desc, "extra_out is true, but op is VD_REDUCE_MEAN; only VD_REDUCE_ARGMIN, _ARGMAX and "
           "_VARIANCE have a second result");
    desc.op = VD_REDUCE_VARIANCE;
    desc.correction = 100;
    refuse(ctx, &desc, "correction is 100, but must be less than 100, the number of elements of each result");
    desc.segments = 7;
    refuse(ctx, &desc, "correction is 100, but must be less than 100, the number of elements of the array");
    desc.correction = 0;
    desc.shape[1] = 2;
    refuse(ctx, &desc, "segments is 7, but the shape is 2-dimensional; segments require one dimension");
    assert_int_equal(vd_error_result(), VD_ERROR_INVALID);
    desc.shape[1] = 0;
    desc.segments = (uint64_t)1 << 31;
    refuse(ctx, &desc, "segments is 2147483648, but the limit is 2^31 - 1");
    assert_int_equal(vd_error_result(), VD_ERROR_UNSUPPORTED);
    desc.segments = 0;
    desc.extra_out = false;
    desc.combine.build = times;
    refuse(ctx, &desc, "op is VD_REDUCE_VARIANCE, but must be 0 because combine is set");
    desc.op = VD_REDUCE_DEFAULT;
    desc.identity = vc_u32(1);
    refuse(ctx, &desc, "identity has type u32, but the elements have type f32");
    desc.combine.build = NULL;
    desc.identity = nothing;
    desc.op = VD_REDUCE_SUM;
    desc.type = VD_F32X2;
    refuse(ctx, &desc, "type is f32x2, but must be a scalar number");
    desc.type = VD_F32;
    desc.axes = 2;
    refuse(ctx, &desc, "axes is 0x2 (bit 1), but the shape");
    desc.axes = 0;
    desc.shape[2] = 3;
    refuse(ctx, &desc, "dimension 1 of the shape is 0, but dimension 2 is not");
    desc.shape[1] = (uint64_t)1 << 40;
    refuse(ctx, &desc, ", but the limit is 1099511627776 elements");
    desc.shape[2] = 0;
    desc.shape[0] = 7;
    desc.shape[1] = UINT32_MAX;
    desc.axes = 2;
    desc.index_type = VD_U64;
    refuse(ctx, &desc, "index_type is u64, but op is VD_REDUCE_SUM; only VD_REDUCE_ARGMIN and _ARGMAX use it");
    desc.op = VD_REDUCE_ARGMIN;
    desc.index_type = VD_F32;
    refuse(ctx, &desc, "index_type is f32, but must be VD_U32 or VD_U64");
    desc.index_type = VD_U32;
    refuse(ctx, &desc, "indices of 4294967295 elements are u32, but the limit for u32 is 4294967294");
    desc.op = VD_REDUCE_SUM;
    desc.index_type = (vd_type)0;
    desc.axes = 1;
    refuse(ctx, &desc, "there are 4294967295 results, but the limit is 2147483648");
    desc.shape[0] = 100;
    desc.shape[1] = 0;
    desc.axes = 0;
    desc.segments = 3;
    desc.shape[0] = ((uint64_t)1 << 31) + 1;
    refuse(ctx, &desc, ", but the limit is 2147483648 elements");
    desc.shape[0] = 100;
    desc.segments = 0;
    desc.map.build = latch;
    refuse(ctx, &desc, "vc_add in kernel 'reduce'");
    desc.map.build = NULL;
    vd_reduce *plan = vd_reduce_create(ctx, &desc);
    assert_non_null(plan);
    vd_buffer small = buffer_of(ctx, VD_F32, 99, NULL), one = buffer_of(ctx, VD_F32, 1, NULL), none = { 0 };
    assert_int_equal(vd_reduce_run(NULL, vd_immediate(ctx, 0, 0), small, one), VD_ERROR_INVALID);
    assert_int_equal(vd_reduce_run(plan, vd_immediate(ctx, 0, 0), small, one), VD_ERROR_INVALID);
    says("has 396 bytes, but the plan needs 400");
    assert_int_equal(vd_reduce_run(plan, vd_immediate(ctx, 0, 0), none, one), VD_ERROR_INVALID);
    assert_int_equal(vd_reduce_run_io(plan, vd_immediate(ctx, 0, 0), NULL), VD_ERROR_INVALID);
    vd_buffer whole = buffer_of(ctx, VD_I32, 100, NULL), right = buffer_of(ctx, VD_F32, 100, NULL);
    assert_int_equal(vd_reduce_run(plan, vd_immediate(ctx, 0, 0), whole, one), VD_ERROR_INVALID);
    says("has type i32, but f32 is expected");
    assert_int_equal(vd_reduce_run(plan, vd_immediate(ctx, 0, 0), right, right), VD_ERROR_INVALID);
    says("'reduce': in and out overlap");
    desc.op = VD_REDUCE_DOT;
    vd_reduce *dot = vd_reduce_create(ctx, &desc);
    vd_reduce_io io = { right, small, one, none, none, NULL, 0 };
    assert_int_equal(vd_reduce_run_io(dot, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    says("(in_b) has 396 bytes");
    vd_reduce_destroy(dot);
    vd_buffer_destroy(ctx, whole);
    vd_buffer_destroy(ctx, right);
    assert_int_equal(vd_reduce_sum(ctx, none, one), VD_ERROR_INVALID);
    vd_buffer_destroy(ctx, small);
    vd_buffer_destroy(ctx, one);
    vd_reduce_destroy(plan);
    vd_reduce_destroy(NULL);
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

/* ---- maps with arguments and the index of the element ---- */

typedef struct weights { vc_ref factors; vc_val shift; } weights;

static void declare_weights(vc_kernel *k, void *user) {
    weights *w = (weights *)user;
    w->factors = vc_buffer(k, "factors", VC_U32, VC_READ);
    w->shift = vc_param(k, "shift", VC_U32);
}

static void weighted(vc_kernel *k, vd_fragment_io *io, void *user) {
    const weights *w = (const weights *)user;
    (void)k;
    io->out = vc_add(vc_xor(io->in[0], vc_load(w->factors, io->index)), w->shift);
}

/* Computes one result of `op` over the mapped elements. */
static double weighted_result(const sample *s, vd_reduce_op op, const uint32_t *data, const uint32_t *factors,
                              uint64_t result) {
    double sum = 0, squares = 0, count = 0, least = INFINITY, where = 0;
    for (uint64_t i = 0; i < elements_of(s); i++) {
        double x = (double)((data[i] ^ factors[i]) + 5);
        if (result_of(s, i) != result) continue;
        if (x < least) { least = x; where = count; }
        sum += x;
        squares += x * x;
        count++;
    }
    return op == VD_REDUCE_SUM ? sum : op == VD_REDUCE_ARGMIN ? where : squares / count - sum / count * (sum / count);
}

/* Returns the number of elements to the first address that a view may have. */
static uint32_t view_step(void) {
    const vd_device_info *info = vd_device(device_context, 0);
    const uint32_t alignment = info->limits.binding_alignment;
    return info->features & VD_FEATURE_ADDRESS || alignment < 4 ? 1 : alignment / 4;
}

/* steps: distance in view_step() between the buffer and the view that is reduced, so that the address of the view does
   not allow vector loads if it need not. */
static void check_weighted(const sample *s, vd_reduce_op op, uint32_t steps) {
    uint64_t n = elements_of(s), results = results_of(s);
    uint32_t skipped = steps * view_step();
    uint32_t *data = (uint32_t *)malloc((n + skipped) * 4), *factors = (uint32_t *)malloc(n * 4);
    uint32_t *got = (uint32_t *)malloc(results * 4);
    weights user;
    vd_reduce_desc desc = { 0 };
    vd_reduce_io io = { { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, NULL, 0 };
    int count = 0;
    assert_true(data && factors && got);
    for (uint64_t i = 0; i < n + skipped; i++) data[i] = (uint32_t)(i * 7919 % 1009);
    for (uint64_t i = 0; i < n; i++) factors[i] = (uint32_t)(i * 104729 % 997);
    desc.op = op;
    desc.type = VD_U32;
    memcpy(desc.shape, s->shape, sizeof desc.shape);
    desc.axes = s->axes;
    desc.map.build = weighted;
    desc.map.declare = declare_weights;
    desc.map.user = &user;
    vd_reduce *plan = vd_reduce_create(device_context, &desc);
    if (!plan) fail_msg("%s", vd_error_text());
    const vd_arg_info *info = vd_reduce_arguments(plan, &count);
    assert_int_equal(count, 2);
    assert_string_equal(info[0].name, "factors");
    assert_int_equal(info[0].access, VC_READ);
    assert_string_equal(info[1].name, "shift");
    vd_buffer whole = buffer_of(device_context, VD_U32, n + skipped, data);
    io.in = view_of(device_context, whole, VD_U32, skipped * 4, 0);
    io.out = buffer_of(device_context, op == VD_REDUCE_VARIANCE ? VD_F32 : VD_U32, results, NULL);
    vd_buffer at = buffer_of(device_context, VD_U32, n, factors);
    vd_named_arg args[] = { { "shift", vd_u32(5) }, { "factors", vd_b(at) } };
    io.args = args;
    io.arg_count = 2;
    vd_result ran = vd_reduce_run_io(plan, vd_immediate(device_context, 0, 0), &io);
    if (ran || vd_buffer_read(device_context, io.out, 0, got, VD_WHOLE)) fail_msg("%s", vd_error_text());
    for (uint64_t i = 0; i < results; i += results > 50 ? 1 + results / 50 : 1) {
        double wanted = weighted_result(s, op, data + skipped, factors, i), result = (double)got[i];
        float f;
        memcpy(&f, &got[i], 4);
        if (op == VD_REDUCE_VARIANCE) result = (double)f;
        if (fabs(result - wanted) > (op == VD_REDUCE_VARIANCE ? 1e-4 * wanted : 0))
            fail_msg("op %d, axes 0x%x, shape %d %d, result %d: got %g, wanted %g", (int)op, s->axes, (int)s->shape[0],
                     (int)s->shape[1], (int)i, result, wanted);
    }
    vd_buffer_destroy(device_context, io.in);
    vd_buffer_destroy(device_context, whole);
    vd_buffer_destroy(device_context, io.out);
    vd_buffer_destroy(device_context, at);
    vd_reduce_destroy(plan);
    free(data);
    free(factors);
    free(got);
}

/* Whole arrays with a remainder after the last vector, rows, columns, both; short rows, which are staged in shared
   memory on a GPU; views. */
static void maps_with_arguments(void **state) {
    static const sample samples[] = { { { 5003 }, 1 }, { { 40, 1000 }, 2 }, { { 700, 40 }, 1 }, { { 12, 50, 6 }, 5 },
                                      { { 900, 7 }, 2 }, { { 900, 8 }, 2 }, { { 300, 3, 4 }, 2 } };
    static const vd_reduce_op ops[] = { VD_REDUCE_SUM, VD_REDUCE_ARGMIN, VD_REDUCE_VARIANCE };
    (void)state;
    need_device();
    for (int gpu = 0; gpu < 2; gpu++) {
        if (gpu) setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1);
        for (size_t i = 0; i < COUNT(samples) * COUNT(ops); i++)
            if (!passes_over(4, 1)) check_weighted(&samples[i / COUNT(ops)], ops[i % COUNT(ops)], 0);
        check_weighted(&samples[0], VD_REDUCE_SUM, 1);
        check_weighted(&samples[5], VD_REDUCE_SUM, 3);
    }
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

/* Arguments that are missing, unknown or passed twice, and fragments that may not have any. */
static void bad_arguments(void **state) {
    vd_context *ctx = dummy_context();
    vd_reduce_desc desc = { 0 };
    vd_top_k_desc top = { 0 };
    weights user;
    (void)state;
    desc.type = top.type = VD_U32;
    desc.shape[0] = top.shape[0] = 100;
    desc.map.declare = declare_weights;
    desc.map.user = &user;
    refuse(ctx, &desc, "map.declare is set, but map.build is not");
    desc.combine.declare = declare_weights;
    desc.map.build = weighted;
    refuse(ctx, &desc, "combine.declare is set, but combine.build is not");
    desc.combine.declare = NULL;
    top.map = desc.map;
    top.k = 1;
    assert_null(vd_top_k_create(ctx, &top));
    says("'top_k': map.declare is set, but this plan passes no arguments to map");
    vd_reduce *plan = vd_reduce_create(ctx, &desc);
    if (!plan) fail_msg("%s", vd_error_text());
    vd_buffer in = buffer_of(ctx, VD_U32, 100, NULL), out = buffer_of(ctx, VD_U32, 1, NULL), none = { 0 };
    vd_named_arg args[] = { { "factors", vd_b(in) }, { "shift", vd_u32(1) }, { "shift", vd_u32(1) } };
    vd_named_arg other = { "shifts", vd_u32(1) };
    vd_reduce_io io = { in, none, out, none, none, args, 2 };
    assert_int_equal(vd_reduce_run_io(plan, vd_immediate(ctx, 0, 0), &io), VD_OK);
    assert_int_equal(vd_reduce_run(plan, vd_immediate(ctx, 0, 0), in, out), VD_ERROR_INVALID);
    says("vd_reduce_run 'reduce': argument 'factors' is missing");
    io.arg_count = 3;
    assert_int_equal(vd_reduce_run_io(plan, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    says("argument 'shift' is passed twice");
    io.args = &other;
    io.arg_count = 1;
    assert_int_equal(vd_reduce_run_io(plan, vd_immediate(ctx, 0, 0), &io), VD_ERROR_INVALID);
    says("'reduce': the plan has no argument 'shifts'");
    assert_null(vd_reduce_arguments(NULL, NULL));
    says("vd_reduce_arguments: plan is NULL");
    vd_buffer_destroy(ctx, in);
    vd_buffer_destroy(ctx, out);
    vd_reduce_destroy(plan);
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

/* ---- short rows, as on a GPU: many per work-group ---- */

static uint32_t hashed(uint64_t i) { return (uint32_t)i * 2654435761u >> 7; }

/* Mean and variance, norm, and dot product of rows of f32, compared with double. */
static void check_statistics_of_rows(uint64_t rows, uint64_t n) {
    float *x = (float *)malloc(4 * rows * n), *y = (float *)malloc(4 * rows * n), *got = (float *)malloc(4 * rows),
          *mean = (float *)malloc(4 * rows);
    static const vd_reduce_op ops[] = { VD_REDUCE_VARIANCE, VD_REDUCE_NORM, VD_REDUCE_DOT, VD_REDUCE_MEAN };
    assert_true(x && y && got && mean);
    for (uint64_t i = 0; i < rows * n; i++) {
        x[i] = (float)(hashed(i) % 1000) * 0.01f - 3;
        y[i] = (float)(hashed(i + 7) % 100) * 0.1f - 5;
    }
    for (size_t o = 0; o < COUNT(ops); o++) {
        vd_reduce_desc desc = { 0 };
        desc.op = ops[o];
        desc.shape[0] = rows;
        desc.shape[1] = n;
        desc.axes = 2;
        desc.extra_out = desc.op == VD_REDUCE_VARIANCE;
        run(&desc, x, desc.op == VD_REDUCE_DOT ? y : NULL, rows * n, got, VD_F32, desc.extra_out ? mean : NULL, VD_F32,
            rows);
        for (uint64_t r = 0; r < rows; r++) {
            double sum = 0, squares = 0, products = 0, far = 0, size = 0, count = (double)n, wanted;
            for (uint64_t i = r * n; i < (r + 1) * n; i++) {
                sum += (double)x[i];
                squares += (double)x[i] * (double)x[i];
                products += (double)x[i] * (double)y[i];
                size += fabs((double)x[i]) * (1 + fabs((double)y[i]));
            }
            for (uint64_t i = r * n; i < (r + 1) * n; i++)
                far += ((double)x[i] - sum / count) * ((double)x[i] - sum / count);
            wanted = o == 0 ? far / count : o == 1 ? sqrt(squares) : o == 2 ? products : sum / count;
            if (fabs((double)got[r] - wanted) > 4e-6 * (1 + (o == 2 ? size : fabs(wanted))))
                fail_msg("op %d, %llu rows of %llu, result %llu: got %.9g, wanted %.9g", (int)desc.op, (unsigned long long)rows, (unsigned long long)n,
                         (unsigned long long)r, (double)got[r], wanted);
            if (!o && fabs((double)mean[r] - sum / count) > 2e-6)
                fail_msg("mean %llu: %g, not %g", (unsigned long long)r, (double)mean[r], sum / count);
        }
    }
    free(x);
    free(y);
    free(got);
    free(mean);
}

/* Any and all of rows of bools and bytes, few of which differ from the rest; map and combine callbacks. */
static void check_bools_of_rows(uint64_t rows, uint64_t n, vd_type type) {
    uint32_t size = vd_type_size(type), *got = (uint32_t *)malloc(4 * rows);
    uint8_t *data = (uint8_t *)calloc(rows * n, size);
    assert_true(data && got);
    for (int any = 0; any < 2; any++) {
        vd_reduce_desc desc = { 0 };
        for (uint64_t i = 0; i < rows * n; i++) data[i * size] = (hashed(i) % (2 * n) == 0) == any;
        desc.op = any ? VD_REDUCE_ANY : VD_REDUCE_ALL;
        desc.type = type;
        desc.shape[0] = rows;
        desc.shape[1] = n;
        desc.axes = 2;
        run(&desc, data, NULL, rows * n, got, VD_BOOL, NULL, VD_BOOL, rows);
        for (uint64_t r = 0; r < rows; r++) {
            uint32_t ones = 0;
            for (uint64_t i = r * n; i < (r + 1) * n; i++) ones += data[i * size];
            if (got[r] != (any ? ones > 0 : ones == n))
                fail_msg("%s of %s, row %llu of %llu: %u", any ? "any" : "all", vd_type_name(type),
                         (unsigned long long)r, (unsigned long long)n, got[r]);
        }
    }
    free(data);
    free(got);
}

static void own_rows(uint64_t rows, uint64_t n) {
    float *x = (float *)malloc(4 * rows * n), *got = (float *)malloc(4 * rows), half = 0.5f;
    vd_reduce_desc desc = { 0 };
    assert_true(x && got);
    for (uint64_t i = 0; i < rows * n; i++) x[i] = (float)(hashed(i) % 9);
    desc.shape[0] = rows;
    desc.shape[1] = n;
    desc.axes = 2;
    desc.map.build = squared;
    desc.map.user = &half;
    desc.combine.build = larger;
    desc.identity = vc_f32(-1);
    run(&desc, x, NULL, rows * n, got, VD_F32, NULL, VD_F32, rows);
    for (uint64_t r = 0; r < rows; r++) {
        float wanted = 0;
        for (uint64_t i = r * n; i < (r + 1) * n; i++) wanted = fmaxf(wanted, 0.5f * x[i] * x[i]);
        if (got[r] != wanted)
            fail_msg("row %llu of %llu: %g, not %g", (unsigned long long)r, (unsigned long long)n, (double)got[r],
                     (double)wanted);
    }
    free(x);
    free(got);
}

static void short_rows(void **state) {
    static const uint64_t lengths_of_rows[] = {
        1, 2, 3, 4, 6, 7, 8, 11, 18, 33, 64, 100, 127, 200, 255, 256, 511, 1024, 2048
    };
    (void)state;
    need_device();
    /* NVRTC needs some tenths of a second per kernel */
    uint32_t others = vd_device(device_context, 0)->backend == VD_BACKEND_CUDA ? 4 : 1;
    setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1);
    for (size_t i = 0; i < COUNT(lengths_of_rows); i++) {
        uint64_t n = lengths_of_rows[i], rows = i % 3 == 0 ? 2500 / n + 37 : i % 3 == 1 ? 32 : n < 64 ? 1003 : 130;
        sample s = { { rows, n, 0, 0 }, 2 };
        if (passes_over(6, others)) continue;
        for (vd_type type = VD_I8; type <= VD_F64; type++) {
            if (lacks_arithmetic(type) || (type != VD_F32 && (i + type) % (all_cases ? 3 : 5))) continue;
            check(&s, type,
                  is_real(type) || i % 2 ? (i % 4 == 1 && type != VD_F16 ? VD_REDUCE_MAX : VD_REDUCE_SUM)
                                         : VD_REDUCE_XOR);
            check_arg(&s, type, (i + type) % 2);
        }
        check_statistics_of_rows(rows, n);
        check_bools_of_rows(rows, n, VD_BOOL);
        if (!lacks_arithmetic(VD_U8)) check_bools_of_rows(rows, n, VD_U8);
        own_rows(rows, n);
    }
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

/* Short axes other than the last, or several: blocks of memory with several results each. */
static void short_blocks(void **state) {
    static const sample samples[] = { { { 300, 16, 3, 0 }, 2 }, { { 77, 5, 7, 0 }, 2 },   { { 40, 2, 100, 0 }, 2 },
                                      { { 50, 3, 5, 7 }, 10 },  { { 50, 3, 5, 8 }, 10 },  { { 50, 3, 4, 8 }, 12 },
                                      { { 33, 4, 4, 4 }, 4 },   { { 9, 11, 13, 6 }, 8 },  { { 700, 2, 2, 0 }, 2 },
                                      { { 6, 7, 12, 4 }, 10 },  { { 3, 700, 4, 0 }, 5 },  { { 64, 12, 40, 0 }, 2 },
                                      { { 5, 4, 3000, 0 }, 2 }, { { 3, 3000, 0, 0 }, 1 }, { { 8, 1000, 0, 0 }, 1 },
                                      { { 17, 520, 0, 0 }, 1 }, { { 20, 9, 300, 0 }, 2 }, { { 100, 70, 33, 0 }, 2 } };
    (void)state;
    need_device();
    /* NVRTC needs some tenths of a second per kernel */
    uint32_t others = vd_device(device_context, 0)->backend == VD_BACKEND_CUDA ? 4 : 1;
    setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1);
    for (size_t i = 0; i < COUNT(samples); i++) {
        if (passes_over(6, others)) continue;
        size_t one = (i + i / 6) % 3; /* each shape with one type, in turn; also in variants, which run one in six */
        if (all_cases || one == 0) check(&samples[i], VD_F32, VD_REDUCE_SUM);
        if (all_cases || one == 1) check(&samples[i], VD_I32, VD_REDUCE_MIN);
        if ((all_cases || one == 2) && !lacks_arithmetic(VD_F64)) check(&samples[i], VD_F64, VD_REDUCE_MAX);
        if (all_cases || one == 0) check_arg(&samples[i], VD_F32, i % 2);
    }
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

/* Reduces rows that begin at elements 0, 1, 2, 3 and at the second vector of a buffer, if views may begin there. */
static void check_small_rows(vd_type type, uint64_t rows, uint64_t n, vd_reduce_op op) {
    enum { BEFORE = 16 };
    static const uint32_t starts[] = { 0, 1, 2, 3, BEFORE };
    uint32_t size = vd_type_size(type), out_size = op == VD_REDUCE_ARGMIN ? 4 : size;
    uint8_t *data = (uint8_t *)malloc((rows * n + BEFORE) * size), *got = (uint8_t *)malloc(rows * 4);
    vd_reduce_desc desc = { 0 };
    assert_true(data && got);
    for (uint64_t i = 0; i < rows * n + BEFORE; i++) put(type, op, data + i * size, hashed(i));
    desc.op = op;
    desc.type = type;
    desc.shape[0] = rows;
    desc.shape[1] = n;
    desc.axes = 2;
    vd_reduce *plan = vd_reduce_create(device_context, &desc);
    vd_buffer whole = buffer_of(device_context, type, rows * n + BEFORE, data);
    vd_buffer out = buffer_of(device_context, op == VD_REDUCE_ARGMIN ? VD_U32 : type, rows, NULL);
    assert_true(plan && whole.id && out.id);
    for (size_t s = 0; s < COUNT(starts); s++) {
        vd_buffer in = view_of(device_context, whole, type, starts[s] * size, 0);
        vd_result result = vd_reduce_run(plan, vd_immediate(device_context, 0, 0), in, out);
        if (!result) result = vd_buffer_read(device_context, out, 0, got, rows * out_size);
        if (result && result != VD_ERROR_UNSUPPORTED) fail_msg("%s", vd_error_text()); /* unsupported: with bindings */
        for (uint64_t r = 0; r < rows && !result; r++) {
            const uint8_t *row = data + (starts[s] + r * n) * size;
            number wanted = get(type, row);
            double weight = fabs(wanted.real);
            uint64_t least = 0;
            for (uint64_t i = 1; i < n; i++) {
                number x = get(type, row + i * size), best = get(type, row + least * size);
                if (is_real(type) ? x.real < best.real : x.whole < best.whole) least = i;
                wanted = combine(type, op, wanted, x);
                weight += fabs(x.real);
            }
            if (op == VD_REDUCE_ARGMIN ? get(VD_U32, got + 4 * r).whole != (int64_t)least
                                       : !is_right(type, op, get(type, got + r * size), wanted, weight, (double)n))
                fail_msg("%s, op %d, %llu rows of %llu from element %u: result %llu is wrong", vd_type_name(type),
                         (int)op, (unsigned long long)rows, (unsigned long long)n, starts[s], (unsigned long long)r);
        }
        vd_buffer_destroy(device_context, in);
    }
    vd_reduce_destroy(plan);
    vd_buffer_destroy(device_context, out);
    vd_buffer_destroy(device_context, whole);
    free(data);
    free(got);
}

/* Rows of small elements and any length, in views that begin at each element of a word and between two vectors. The
   number of elements is no multiple of a vector. */
static void small_rows_of_views(void **state) {
    static const uint64_t lengths_of_rows[] = { 3, 7, 17, 31, 100, 255, 1023 };
    static const vd_type types[] = { VD_U8, VD_I8, VD_U16, VD_F16 };
    (void)state;
    need_device();
    /* NVRTC needs some tenths of a second per kernel */
    uint32_t others = vd_device(device_context, 0)->backend == VD_BACKEND_CUDA ? 4 : 1;
    setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1);
    for (size_t i = 0; i < COUNT(lengths_of_rows) * COUNT(types); i++) {
        vd_type type = types[i % COUNT(types)];
        uint64_t n = lengths_of_rows[i / COUNT(types)], rows = 8000 / n + 41;
        if (lacks_arithmetic(type) || passes_over(6, others)) continue;
        check_small_rows(type, rows, n, VD_REDUCE_SUM);
        check_small_rows(type, rows, n, i % 2 ? VD_REDUCE_ARGMIN : VD_REDUCE_MAX);
    }
    unsetenv("VKDISPATCH_FFT_SHAPES");
}

/* Rows that start in the middle of a vector, read element by element. */
static void short_rows_of_views(void **state) {
    enum { ROWS = 70, N = 24 };
    float data[ROWS * N + 1], got[ROWS];
    vd_reduce_desc desc = { 0 };
    (void)state;
    need_device();
    for (int i = 0; i <= ROWS * N; i++) data[i] = (float)(i * 7919 % 1009);
    desc.shape[0] = ROWS;
    desc.shape[1] = N;
    desc.axes = 2;
    vd_buffer whole = buffer_of(device_context, VD_F32, ROWS * N + 1, data);
    vd_buffer in = view_of(device_context, whole, VD_F32, 4, 0), out = buffer_of(device_context, VD_F32, ROWS, NULL);
    setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1);
    vd_reduce *plan = vd_reduce_create(device_context, &desc);
    unsetenv("VKDISPATCH_FFT_SHAPES");
    assert_true(in.id && out.id && plan);
    vd_result result = vd_reduce_run(plan, vd_immediate(device_context, 0, 0), in, out);
    if (result == VD_ERROR_UNSUPPORTED) print_message("# %s\n", vd_error_text()); /* with bindings */
    else {
        if (result || vd_buffer_read(device_context, out, 0, got, sizeof got)) fail_msg("%s", vd_error_text());
        for (int r = 0; r < ROWS; r++) {
            float wanted = 0;
            for (int i = 0; i < N; i++) wanted += data[1 + r * N + i];
            assert_true(got[r] == wanted);
        }
    }
    vd_reduce_destroy(plan);
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, whole);
    vd_buffer_destroy(device_context, out);
}

/* ---- rounding errors: sums compared with double, where each thread adds many elements ---- */

typedef enum numbers { TENTHS, ALTERNATING, ONE_HUGE, TINY, MIXED, NUMBERS } numbers;

static float number_at(numbers which, uint64_t i, uint64_t n) {
    uint32_t h = hashed(i * 2 + 1);
    switch (which) {
    case ALTERNATING: return i % 2 ? -1000.1f : 1000.3f;
    case ONE_HUGE: return i == n / 3 ? 1e9f : 0.1f;
    case TINY: return 1.7e-37f;
    case MIXED: return ldexpf((float)(h & 0xffff) / 65536 - 0.25f, (int)(h >> 16 & 15));
    default: return 0.1f;
    }
}

typedef struct summing { uint64_t shape[4]; uint32_t axes; uint64_t segments; } summing;

static uint64_t summed_of(const summing *s) {
    return s->shape[0] * (s->shape[1] ? s->shape[1] : 1) * (s->shape[2] ? s->shape[2] : 1);
}

/* The result that an element belongs to. With segments, the first one has all elements except one for each of the
   others. */
static uint64_t sum_of(const summing *s, uint64_t at) {
    sample shape = { { s->shape[0], s->shape[1], s->shape[2], s->shape[3] }, s->axes };
    uint64_t first = s->shape[0] - s->segments + 1;
    if (s->segments) return at < first ? 0 : at - first + 1;
    return result_of(&shape, at);
}

/* Runs a plan, with offsets if there are segments. `also` may be NULL. */
static void run_sums(const summing *s, vd_reduce_desc *desc, const float *data, const float *with, uint64_t n,
                     float *out, float *also, uint64_t results) {
    vd_reduce_io io = { { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, NULL, 0 };
    uint32_t *offsets = (uint32_t *)malloc(4 * (results + 1));
    assert_non_null(offsets);
    for (uint32_t i = 0; i <= results; i++) offsets[i] = (uint32_t)(i ? n - results + i : 0);
    memcpy(desc->shape, s->shape, sizeof desc->shape);
    desc->axes = s->axes;
    desc->segments = s->segments;
    vd_reduce *plan = vd_reduce_create(device_context, desc);
    if (!plan) fail_msg("%s", vd_error_text());
    io.in = buffer_of(device_context, VD_F32, n, data);
    if (with) io.in_b = buffer_of(device_context, VD_F32, n, with);
    if (s->segments) io.offsets = buffer_of(device_context, VD_U32, results + 1, offsets);
    io.out = buffer_of(device_context, VD_F32, results, NULL);
    if (also) io.extra_out = buffer_of(device_context, VD_F32, results, NULL);
    for (int round = 0; round < 2; round++) { /* the same bits each time */
        float *again = (float *)malloc(4 * results);
        vd_result result = vd_reduce_run_io(plan, vd_immediate(device_context, 0, 0), &io);
        if (!result) result = vd_buffer_read(device_context, io.out, 0, again, VD_WHOLE);
        if (!result && also) result = vd_buffer_read(device_context, io.extra_out, 0, also, VD_WHOLE);
        if (result) fail_msg("%s", vd_error_text());
        if (round) assert_memory_equal(out, again, 4 * results);
        memcpy(out, again, 4 * results);
        free(again);
    }
    vd_buffer_destroy(device_context, io.in);
    vd_buffer_destroy(device_context, io.in_b);
    vd_buffer_destroy(device_context, io.offsets);
    vd_buffer_destroy(device_context, io.out);
    vd_buffer_destroy(device_context, io.extra_out);
    vd_reduce_destroy(plan);
    free(offsets);
}

static void plus(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_add(io->in[0], io->in[1]);
}

/* The error of sum, mean, norm, dot product, map and combine is at most 4 eps log2(n) times the sum of magnitudes. */
static void check_sums(const summing *s, numbers which, int form) {
    uint64_t n = summed_of(s), results = s->segments ? s->segments : sum_of(s, n - 1) + 1;
    float *data = (float *)malloc(4 * n), *out = (float *)malloc(4 * results), two = 2;
    double *sum = (double *)calloc(results, sizeof *sum), *size = (double *)calloc(results, sizeof *size),
           *count = (double *)calloc(results, sizeof *count);
    vd_reduce_desc desc = { 0 };
    assert_true(data && out && sum && size && count);
    for (uint64_t i = 0; i < n; i++) {
        double x = (double)(data[i] = number_at(which, i, n));
        uint64_t r = sum_of(s, i);
        double term = form == 2 || form == 3 ? x * x : form == 4 ? 2 * x * x : x;
        sum[r] += term;
        size[r] += fabs(term);
        count[r]++;
    }
    desc.op = form == 1 ? VD_REDUCE_MEAN : form == 2 ? VD_REDUCE_NORM : form == 3 ? VD_REDUCE_DOT : VD_REDUCE_DEFAULT;
    if (form == 4) { desc.map.build = squared; desc.map.user = &two; }
    if (form == 5) { desc.combine.build = plus; desc.identity = vc_f32(0); }
    run_sums(s, &desc, data, form == 3 ? data : NULL, n, out, NULL, results);
    for (uint64_t r = 0; r < results; r++) {
        double got = (double)out[r], bound = 4 * 1.1920929e-7 * (count[r] > 2 ? log2(count[r]) : 1) * size[r];
        if (form == 1) got *= count[r];
        if (form == 2) got *= got;
        if (fabs(got - sum[r]) > bound)
            fail_msg("numbers %d, form %d, %llu elements, axes 0x%x, result %llu: got %.9g, wanted %.9g, which is %.1f times what is allowed", (int)which, form,
                     (unsigned long long)n, s->axes, (unsigned long long)r, got, sum[r], fabs(got - sum[r]) / bound);
    }
    free(data);
    free(out);
    free(sum);
    free(size);
    free(count);
}

static void errors_of_sums(void **state) {
    static const summing cases[] = { { { (1 << 22) + 1, 0, 0, 0 }, 1, 0 }, { { (1 << 20) - 1, 8, 0, 0 }, 1, 0 },
                                     { { 70, 3, 8001, 0 }, 5, 0 },         { { 700000, 0, 0, 0 }, 1, 20000 },
                                     { { 2000000, 0, 0, 0 }, 1, 3 },       { { 3, 500001, 0, 0 }, 2, 0 } };
    (void)state;
    need_device();
    for (size_t c = 0; c < COUNT(cases); c++)
        for (int which = 0; which < NUMBERS; which++) {
            if (passes_over(6, 1)) continue;
            int form = which == ONE_HUGE || which == TINY ? 0 : (int)(c + (size_t)which) % 6;
            check_sums(&cases[c], (numbers)which, form);
            if (which == TENTHS && form) check_sums(&cases[c], TENTHS, 0);
        }
    static const summing large = { { 30000001, 0, 0, 0 }, 1, 0 };
    check_sums(&large, TENTHS, 0);
}

/* Normally distributed numbers around a million, stored as multiples of 1/16: the variance must be correct to 1e-5, the
   mean to the last place. */
static void variance_far_from_zero(void **state) {
    static const summing cases[] = { { { 1000003, 0, 0, 0 }, 1, 0 }, { { 300, 3000, 0, 0 }, 2, 0 },
                                     { { 30000, 30, 0, 0 }, 1, 0 },  { { 40, 9, 700, 0 }, 5, 0 },
                                     { { 400000, 0, 0, 0 }, 1, 5 },  { { 100000, 0, 0, 0 }, 1, 5000 },
                                     { { 2000, 33, 0, 0 }, 2, 0 },   { { 900, 64, 0, 0 }, 2, 0 },
                                     { { 300, 16, 12, 0 }, 2, 0 } };
    (void)state;
    need_device();
    for (size_t c = 0; c < 2 * COUNT(cases); c++) {
        if (passes_over(6, 1)) continue;
        const summing *s = &cases[c / 2];
        uint64_t n = summed_of(s), results = s->segments ? s->segments : sum_of(s, n - 1) + 1;
        float *data = (float *)malloc(4 * n), *out = (float *)malloc(4 * results), *mean = (float *)malloc(4 * results);
        double *sum = (double *)calloc(results, sizeof *sum), *far = (double *)calloc(results, sizeof *far);
        double *count = (double *)calloc(results, sizeof *count);
        vd_reduce_desc desc = { 0 };
        assert_true(data && out && mean && sum && far && count);
        for (uint64_t i = 0; i < n; i++) {
            double u = (hashed(i * 3) % 1000000 + 0.5) / 1000000, v = (hashed(i * 5 + 1) % 1000000 + 0.5) / 1000000;
            data[i] = (float)(1e6 + sqrt(-2 * log(u)) * cos(6.283185307179586 * v));
            sum[sum_of(s, i)] += (double)data[i] - 1e6;
            count[sum_of(s, i)]++;
        }
        for (uint64_t i = 0; i < n; i++) {
            uint64_t r = sum_of(s, i);
            double x = (double)data[i] - 1e6 - sum[r] / count[r];
            far[r] += x * x;
        }
        desc.op = VD_REDUCE_VARIANCE;
        desc.extra_out = true;
        if (c % 2) setenv("VKDISPATCH_FFT_SHAPES", "gpu", 1);
        run_sums(s, &desc, data, NULL, n, out, mean, results);
        unsetenv("VKDISPATCH_FFT_SHAPES");
        for (uint64_t r = 0; r < results; r++) {
            double wanted = far[r] / count[r], average = 1e6 + sum[r] / count[r];
            if (fabs((double)out[r] - wanted) > 1e-5 * wanted || fabs((double)mean[r] - average) > 0.07)
                fail_msg("case %d, result %llu: variance %.9g, wanted %.9g; mean %.9g, wanted %.9g", (int)c, (unsigned long long)r, (double)out[r], wanted,
                         (double)mean[r], average);
        }
        free(data);
        free(out);
        free(mean);
        free(sum);
        free(far);
        free(count);
    }
}

/* Infinities and NaN give the same results as without compensation. */
static void errors_with_infinities(void **state) {
    static const summing rows = { { 3, 70001, 0, 0 }, 2, 0 };
    static float data[3 * 70001];
    float sums[3], variances[3], means[3];
    vd_reduce_desc desc = { 0 };
    (void)state;
    need_device();
    for (int i = 0; i < 3 * 70001; i++) data[i] = 1;
    data[5] = INFINITY;
    data[70001] = NAN;
    data[140002] = -3e38f; /* shifting by this would overflow */
    data[140003] = 3e38f;
    run_sums(&rows, &desc, data, NULL, 3 * 70001, sums, NULL, 3);
    assert_true(isinf(sums[0]) && sums[0] > 0 && isnan(sums[1]) && fabsf(sums[2]) < 1e33f);
    desc.op = VD_REDUCE_VARIANCE;
    desc.extra_out = true;
    run_sums(&rows, &desc, data, NULL, 3 * 70001, variances, means, 3);
    assert_true(!(variances[0] < INFINITY) && isnan(variances[1]) && !(variances[2] < INFINITY) && isnan(means[1]));
}

/* Offsets that decrease make empty segments; those beyond the array mean its end. */
static void unusual_offsets(void **state) {
    const uint32_t offsets[6] = { 0, 500, 200, 2000, 1500, UINT32_MAX };
    const float wanted[5] = { 500, 0, 800, 0, 0 };
    float data[1000], got[5];
    vd_reduce_desc desc = { 0 };
    vd_reduce_io io = { 0 };
    (void)state;
    need_device();
    for (int i = 0; i < 1000; i++) data[i] = 1;
    desc.shape[0] = 1000;
    desc.segments = 5;
    vd_reduce *plan = vd_reduce_create(device_context, &desc);
    if (!plan) fail_msg("%s", vd_error_text());
    io.in = buffer_of(device_context, VD_F32, 1000, data);
    io.out = buffer_of(device_context, VD_F32, 5, NULL);
    io.offsets = buffer_of(device_context, VD_U32, 6, offsets);
    if (vd_reduce_run_io(plan, vd_immediate(device_context, 0, 0), &io)) fail_msg("%s", vd_error_text());
    if (vd_buffer_read(device_context, io.out, 0, got, VD_WHOLE)) fail_msg("%s", vd_error_text());
    for (int i = 0; i < 5; i++) assert_true(got[i] == wanted[i]);
    vd_reduce_destroy(plan);
    vd_buffer_destroy(device_context, io.in);
    vd_buffer_destroy(device_context, io.out);
    vd_buffer_destroy(device_context, io.offsets);
}

static void add_hundred(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k;
    (void)user;
    io->out = vc_add(vc_cast(VC_I32, io->in[0]), vc_i32(100));
}

/* Maps may return more than the type of the elements can hold: only results are converted to it. */
static void wide_maps(void **state) {
    enum { COUNT_OF_BYTES = 70000 };
    vd_reduce_desc desc = { 0 };
    int8_t *data = (int8_t *)malloc(COUNT_OF_BYTES), got = 0;
    (void)state;
    need_device();
    for (int i = 0; i < COUNT_OF_BYTES; i++) data[i] = 127; /* 227, as an i8 -29 */
    data[60000] = 1;
    desc.type = VD_I8;
    desc.shape[0] = COUNT_OF_BYTES;
    desc.op = VD_REDUCE_MIN;
    desc.map.build = add_hundred;
    vd_reduce *plan = vd_reduce_create(device_context, &desc);
    if (plan) {
        vd_buffer in = buffer_of(device_context, VD_I8, COUNT_OF_BYTES, data);
        vd_buffer out = buffer_of(device_context, VD_I8, 1, NULL);
        if (vd_reduce_run(plan, vd_immediate(device_context, 0, 0), in, out)) fail_msg("%s", vd_error_text());
        if (vd_buffer_read(device_context, out, 0, &got, 1)) fail_msg("%s", vd_error_text());
        assert_int_equal(got, 101);
        vd_reduce_destroy(plan);
        vd_buffer_destroy(device_context, in);
        vd_buffer_destroy(device_context, out);
    } else assert_int_equal(vd_error_result(), VD_ERROR_UNSUPPORTED); /* no 8-bit elements */
    free(data);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_and_operations), cmocka_unit_test(shapes_and_axes), cmocka_unit_test(mapped),
        cmocka_unit_test(simple), cmocka_unit_test(least_and_most), cmocka_unit_test(lengths),
        cmocka_unit_test(statistics), cmocka_unit_test(statistics_of_types), cmocka_unit_test(own_operations),
        cmocka_unit_test(identities), cmocka_unit_test(segments), cmocka_unit_test(empty_segments),
        cmocka_unit_test(long_results), cmocka_unit_test(any_and_all), cmocka_unit_test(as_for_a_gpu),
        cmocka_unit_test(short_rows), cmocka_unit_test(short_blocks), cmocka_unit_test(short_rows_of_views),
        cmocka_unit_test(small_rows_of_views),
        cmocka_unit_test(errors_of_sums), cmocka_unit_test(variance_far_from_zero),
        cmocka_unit_test(errors_with_infinities), cmocka_unit_test(views_and_repeats),
        cmocka_unit_test(without_wide_subgroups), cmocka_unit_test(bad_input),
        cmocka_unit_test(maps_with_arguments), cmocka_unit_test(bad_arguments),
        cmocka_unit_test(unusual_offsets), cmocka_unit_test(wide_maps),
    };
    all_cases = argc > 1 && !strcmp(argv[1], "-a");
#ifdef VD__REDUCE_NARROW
    cmocka_set_skip_filter("short_*"); /* staged plans, which large arrays do not have */
#endif
    return RUN_ON_DEVICE(tests);
}
