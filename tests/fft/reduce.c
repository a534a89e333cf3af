/* Reductions of every type and operation, over any axes, against loops on the host; and what bad input gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vkdispatch_fft.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static vd_context *device_context; /* NULL: no device */

static void need_device(void) {
    if (device_context) return;
    print_message("# reason: no device runs kernels here: %s\n", vd_error_text());
    skip();
}

typedef struct sample { uint64_t shape[4]; uint32_t axes; } sample;

static uint64_t elements_of(const sample *s) {
    uint64_t n = 1;
    for (int i = 0; i < 4 && s->shape[i]; i++) n *= s->shape[i];
    return n;
}

/* Which result element `at` belongs to. */
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

/* Small numbers, so that sums of f16 do not overflow; products stay near one. */
static void put(vd_type type, vd_reduce_op op, void *at, uint32_t random) {
    static const uint16_t halves[4] = { 0x3c00, 0x3800, 0x3e00, 0xbc00 }; /* 1, 0.5, 1.5, -1 */
    double real = op == VD_REDUCE_PRODUCT ? 1 + ((int)(random % 5) - 2) * 0.01 : (double)(int)(random % 2001) / 1000.0 - 1;
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

static vd_buffer buffer_of(vd_context *ctx, vd_type type, uint64_t elements, const void *data) {
    vd_buffer_desc desc = { 0 };
    desc.type = type;
    desc.shape[0] = elements;
    desc.data = data;
    return vd_buffer_create(ctx, &desc);
}

static bool lacks(vd_type type) {
    uint64_t features = vd_device(device_context, 0)->features;
    if (type == VD_F64) return !(features & VD_FEATURE_F64);
    if (type == VD_I64 || type == VD_U64) return !(features & VD_FEATURE_I64);
    if (type == VD_F16) return !(features & VD_FEATURE_F16) || !(features & VD_FEATURE_STORAGE_16);
    if (type == VD_I16 || type == VD_U16) return !(features & VD_FEATURE_I16) || !(features & VD_FEATURE_STORAGE_16);
    if (type == VD_I8 || type == VD_U8) return !(features & VD_FEATURE_I8) || !(features & VD_FEATURE_STORAGE_8);
    return false;
}

/* Whether a result is right: exact but for rounded sums and products. `weight`: the sum of magnitudes, of `length` elements. */
static bool is_right(vd_type type, vd_reduce_op op, number got, number wanted, double weight, double length) {
    double eps = type == VD_F16 ? 4.9e-4 : type == VD_F32 ? 6e-8 : 1.2e-16, allowed = 0;
    uint32_t size = vd_type_size(type);
    uint64_t mask = size == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * size)) - 1;
    if (!is_real(type)) return (((uint64_t)got.whole ^ (uint64_t)wanted.whole) & mask) == 0;
    if (op == VD_REDUCE_PRODUCT) allowed = eps * length * fabs(wanted.real);
    if (op <= VD_REDUCE_SUM) allowed = eps * fabs(wanted.real) + (type == VD_F16 ? 1e-5 : 40 * eps) * weight; /* f16 is summed in f32 */
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
    double *weight = (double *)calloc(results, sizeof *weight); /* sums of magnitudes, for the error allowed */
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
    for (int round = 0; round < 2; round++) { /* tickets are put back */
        assert_int_equal(vd_fill(vd_immediate(device_context, 0, 0), out, 0, VD_WHOLE, NULL, 0), VD_OK);
        vd_result result = vd_reduce_run(plan, vd_immediate(device_context, 0, 0), in, out);
        if (!result) result = vd_buffer_read(device_context, out, 0, got, VD_WHOLE);
        if (result) fail_msg("%s", vd_error_text());
        for (uint64_t r = 0; r < results; r++) {
            number g = get(type, got + r * size);
            if (!is_right(type, op, g, wanted[r], weight[r], (double)(n / results))) complain(s, type, op, r, g, wanted[r]);
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
        if (lacks(type)) { print_message("# %s is not here\n", vd_type_name(type)); continue; }
        for (int op = VD_REDUCE_SUM; op <= (is_real(type) ? VD_REDUCE_MAX : VD_REDUCE_XOR); op++) check(&all, type, (vd_reduce_op)op);
    }
}

static void shapes_and_axes(void **state) {
    static const sample samples[] = {
        { { 1, 0, 0, 0 }, 1 }, { { 7, 0, 0, 0 }, 1 }, { { 100000, 0, 0, 0 }, 1 }, { { 33, 1000, 0, 0 }, 2 }, { { 1000, 33, 0, 0 }, 1 },
        { { 50000, 9, 0, 0 }, 1 }, { { 20, 30, 40, 0 }, 1 }, { { 20, 30, 40, 0 }, 2 }, { { 20, 30, 40, 0 }, 4 }, { { 20, 30, 40, 0 }, 3 },
        { { 20, 30, 40, 0 }, 5 }, { { 20, 30, 40, 0 }, 6 }, { { 20, 30, 40, 0 }, 7 }, { { 5, 6, 7, 8 }, 5 }, { { 5, 6, 7, 8 }, 10 },
        { { 3, 20000, 2, 0 }, 2 }, { { 1, 5, 1, 64 }, 13 },
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(samples); i++) {
        check(&samples[i], VD_F32, VD_REDUCE_DEFAULT);
        check(&samples[i], VD_I32, VD_REDUCE_MAX);
    }
}

static void squared(vc_kernel *k, const vc_val *element, vc_val *out, void *user) {
    (void)k;
    *out = vc_mul(vc_mul(*element, *element), vc_f32(*(const float *)user));
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
    desc.map = squared;
    desc.map_user = &scale;
    vd_reduce *plan = vd_reduce_create(device_context, &desc);
    vd_buffer in = buffer_of(device_context, VD_F32, 5000, data), out = buffer_of(device_context, VD_F32, 1, NULL);
    if (!plan || vd_reduce_run(plan, vd_immediate(device_context, 0, 0), in, out)) fail_msg("%s", vd_error_text());
    assert_int_equal(vd_buffer_read(device_context, out, 0, &result, 4), VD_OK);
    assert_true(fabs((double)result - wanted) <= 1e-6 * wanted);
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, out);
    vd_reduce_destroy(plan);
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
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, out);
}

static void refuse(vd_context *ctx, const vd_reduce_desc *desc, const char *part) {
    assert_null(vd_reduce_create(ctx, desc));
    if (!strstr(vd_error_text(), part)) fail_msg("no \"%s\" in: %s", part, vd_error_text());
}

static void latch(vc_kernel *k, const vc_val *element, vc_val *out, void *user) {
    (void)k, (void)user;
    *out = vc_add(*element, vc_u32(1));
}

static void bad_input(void **state) {
    vd_context_desc dummy = { 0 };
    vd_context *ctx = NULL;
    vd_stats stats;
    (void)state;
    dummy.backend = VD_BACKEND_DUMMY;
    assert_int_equal(vd_context_create(&dummy, &ctx), VD_OK);
    vd_reduce_desc desc = { 0 };
    refuse(NULL, &desc, "ctx is NULL");
    refuse(ctx, NULL, "desc is NULL");
    refuse(ctx, &desc, "the shape has no elements");
    desc.shape[0] = 100;
    desc.op = (vd_reduce_op)9;
    refuse(ctx, &desc, "op is 9");
    desc.op = VD_REDUCE_AND;
    refuse(ctx, &desc, "type is f32; it takes a scalar integer");
    desc.op = VD_REDUCE_SUM;
    desc.type = VD_F32X2;
    refuse(ctx, &desc, "type is f32x2; it takes a scalar number");
    desc.type = VD_F32;
    desc.axes = 2;
    refuse(ctx, &desc, "axes is 0x2, but there are 1 dimensions");
    desc.axes = 0;
    desc.shape[2] = 3;
    refuse(ctx, &desc, "dimension 1 is 0, but dimension 2 is not");
    desc.shape[1] = (uint64_t)1 << 40;
    refuse(ctx, &desc, "more than 2147483648 elements");
    desc.shape[1] = desc.shape[2] = 0;
    desc.map = latch;
    refuse(ctx, &desc, "vc_add in kernel 'reduce'");
    desc.map = NULL;
    vd_reduce *plan = vd_reduce_create(ctx, &desc);
    assert_non_null(plan);
    vd_buffer small = buffer_of(ctx, VD_F32, 99, NULL), one = buffer_of(ctx, VD_F32, 1, NULL), none = { 0 };
    assert_int_equal(vd_reduce_run(NULL, vd_immediate(ctx, 0, 0), small, one), VD_ERROR_INVALID);
    assert_int_equal(vd_reduce_run(plan, vd_immediate(ctx, 0, 0), small, one), VD_ERROR_INVALID);
    assert_non_null(strstr(vd_error_text(), "has 396 bytes, the plan needs 400"));
    assert_int_equal(vd_reduce_run(plan, vd_immediate(ctx, 0, 0), none, one), VD_ERROR_INVALID);
    assert_int_equal(vd_reduce_sum(ctx, none, one), VD_ERROR_INVALID);
    vd_buffer_destroy(ctx, small);
    vd_buffer_destroy(ctx, one);
    vd_reduce_destroy(plan);
    vd_reduce_destroy(NULL);
    assert_int_equal(vd_context_stats(ctx, &stats), VD_OK);
    assert_int_equal(stats.buffers, 0);
    assert_int_equal(stats.kernels, 0);
    vd_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_and_operations), cmocka_unit_test(shapes_and_axes), cmocka_unit_test(mapped), cmocka_unit_test(simple),
        cmocka_unit_test(bad_input),
    };
    if (vd_context_create(NULL, &device_context)) device_context = NULL;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    vd_context_destroy(device_context);
    return failed;
}
