/* Transforms inside of kernels of the caller (vd_fft_group), compared with FFTW. */
#include "common.h"
#include "fftw.h"

#include <math.h>

typedef struct sample { uint32_t n, transforms, groups; vd_type type; bool filters; } sample;

enum { HOP = 3 }; /* distance between neighbouring rows of the input: rows overlap */

/* Multiplies bin i by 1 / (1 + i). */
static double gain_of(uint32_t i) { return 1 / (1 + (double)i); }

/* Records a kernel that transforms rows of n windowed reals and stores their spectra or, with s->filters, multiplies
   these by gains and stores the inverse transforms. */
static vc_kernel *record(const sample *s, vd_fft_group *fft, const vd_fft_group_info *info) {
    vc_kernel_desc desc;
    vd_fft_value x[VD_FFT_GROUP_VALUES];
    memset(&desc, 0, sizeof desc);
    desc.name = "rows";
    desc.local_size[0] = info->invocations;
    desc.machine = vd_machine(device_context);
    vc_kernel *k = vc_begin(&desc);
    vc_type real = (vc_type)s->type;
    vc_ref in = vc_buffer(k, "in", real, VC_READ), out = vc_buffer(k, "out", real, VC_WRITE);
    vc_val first = vc_mul(vc_group_id(k, 0), vc_u32(info->transforms)), zero = vc_imm(real, 0);
    if (vd_fft_group_begin(fft, k)) fail_msg("%s", vd_error_text());
    for (uint32_t i = 0; i < info->values; i++) {
        vd_fft_slot at = vd_fft_group_slot(fft, i);
        vc_val row = vc_add(first, at.transform);
        x[i].re = vc_load(in, vc_add(vc_mul(row, vc_u32(HOP)), at.index));
        x[i].im = zero;
    }
    if (vd_fft_group_transform(fft, VD_FFT_FORWARD, x)) fail_msg("%s", vd_error_text());
    for (uint32_t i = 0; i < info->values && s->filters; i++) {
        vc_val bin = vc_cast(real, vd_fft_group_spectrum_slot(fft, i).index);
        vc_val one = s->type == VD_F64 ? vc_f64(1) : vc_f32(1);
        vc_val gain = vc_div(one, vc_add(bin, one));
        if (!x[i].re.owner) continue; /* another stage has fewer values */
        x[i].re = vc_mul(x[i].re, gain);
        x[i].im = vc_mul(x[i].im, gain);
    }
    if (s->filters && vd_fft_group_transform(fft, VD_FFT_INVERSE, x)) fail_msg("%s", vd_error_text());
    for (uint32_t i = 0; i < info->values; i++) {
        vd_fft_slot at = s->filters ? vd_fft_group_slot(fft, i) : vd_fft_group_spectrum_slot(fft, i);
        vc_val to = vc_mul(vc_add(vc_mul(vc_add(first, at.transform), vc_u32(s->n)), at.index), vc_u32(2));
        VC_IF(k, at.exists) {
            vc_store(out, to, x[i].re);
            vc_store(out, vc_add(to, vc_u32(1)), x[i].im);
        }
    }
    return k;
}

/* Returns the expected results of a row. */
static void expect(const sample *s, const double *row, fftw_complex *y) {
    for (uint32_t i = 0; i < s->n; i++) {
        y[i][0] = row[i];
        y[i][1] = 0;
    }
    for (int inverse = 0; inverse < (s->filters ? 2 : 1); inverse++) {
        fftw_plan p = fftw_plan_dft_1d((int)s->n, y, y, inverse ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
        fftw_execute(p);
        fftw_destroy_plan(p);
        for (uint32_t i = 0; i < s->n && s->filters && !inverse; i++) {
            y[i][0] *= gain_of(i);
            y[i][1] *= gain_of(i);
        }
    }
}

static double number_at(vd_type type, const void *x, uint64_t i) {
    return type == VD_F64 ? ((const double *)x)[i] : (double)((const float *)x)[i];
}

/* Returns the relative L2 error of the results. */
static double run(const sample *s, vd_kernel kernel, vd_buffer table, uint64_t rows) {
    uint64_t count = (rows - 1) * HOP + s->n, state = s->n;
    double *x = (double *)malloc(count * sizeof *x), wrong = 0, all = 0;
    void *data = malloc(count * 8), *results = malloc(rows * s->n * 16);
    fftw_complex *y = (fftw_complex *)fftw_malloc(s->n * sizeof *y);
    vd_dispatch_desc desc;
    vd_arg args[3];
    assert_true(x && data && results && y);
    for (uint64_t i = 0; i < count; i++) {
        x[i] = (double)random_below(&state, 65536) / 32768 - 1;
        if (s->type == VD_F64) ((double *)data)[i] = x[i];
        else ((float *)data)[i] = (float)x[i];
    }
    vd_buffer in = buffer_of(device_context, s->type, count, data);
    vd_buffer out = buffer_of(device_context, s->type, rows * s->n * 2, NULL);
    args[0] = vd_b(in);
    args[1] = vd_b(out);
    args[2] = vd_b(table);
    memset(&desc, 0, sizeof desc);
    desc.kernel = kernel;
    desc.groups[0] = s->groups;
    desc.args = args;
    desc.arg_count = 3;
    if (vd_dispatch(vd_immediate(device_context, 0, 0), &desc)
        || vd_buffer_read(device_context, out, 0, results, VD_WHOLE))
        fail_msg("%s", vd_error_text());
    for (uint64_t row = 0; row < rows; row++) {
        expect(s, x + row * HOP, y);
        for (uint32_t i = 0; i < 2 * s->n; i++) {
            double d = number_at(s->type, results, row * s->n * 2 + i) - ((double *)y)[i];
            wrong += d * d;
            all += ((double *)y)[i] * ((double *)y)[i];
        }
    }
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, out);
    fftw_free(y);
    free(x);
    free(data);
    free(results);
    return sqrt(wrong / all);
}

static void check(const sample *s) {
    vd_fft_group_desc desc = { NULL, s->n, s->transforms, s->type };
    vd_fft_group_info info;
    if (lacks_arithmetic(s->type)) return;
    vd_fft_group *fft = vd_fft_group_create(device_context, &desc);
    if (!fft) fail_msg("%u: %s", s->n, vd_error_text());
    assert_int_equal(vd_fft_group_query(fft, &info), VD_OK);
    assert_int_equal(info.n, s->n);
    assert_in_range(info.transforms, 1, s->transforms ? s->transforms : 1);
    vc_kernel *k = record(s, fft, &info);
    vd_kernel kernel = vd_kernel_build(device_context, k);
    if (!kernel.id) fail_msg("%u: %s", s->n, vd_error_text());
    vc_free(k);
    double error = run(s, kernel, info.table, (uint64_t)s->groups * info.transforms);
    double eps = s->type == VD_F64 ? 2.2e-16 : 1.2e-7;
    if (!(error <= (0.5 * log2((double)s->n) + 1) * eps)) fail_msg("length %u: error %.3g", s->n, error);
    vd_kernel_destroy(device_context, kernel);
    vd_fft_group_destroy(fft);
}

static void lengths(void **state) {
    static const sample samples[] = {
        { 1, 0, 2, VD_F32, false },    { 2, 4, 3, VD_F32, true },    { 7, 50, 2, VD_F32, false },
        { 16, 8, 2, VD_F32, true },    { 31, 1, 2, VD_F32, false },  { 60, 2, 3, VD_F32, true },
        { 64, 4, 2, VD_F64, true },    { 100, 3, 2, VD_F32, true },  { 210, 1, 2, VD_F32, true },
        { 243, 1, 3, VD_F32, false },  { 256, 1, 5, VD_F32, true },  { 400, 2, 2, VD_F64, false },
        { 1000, 0, 2, VD_F32, true },  { 1024, 2, 2, VD_F32, false }, { 4096, 1, 2, VD_F32, true },
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < COUNT(samples); i++)
        if (!passes_over(1, 1)) check(&samples[i]);
}

static void bad_input(void **state) {
    vd_fft_group_desc desc = { "rows", 0, 0, 0 };
    vd_fft_group_info info;
    vc_kernel_desc kernel_desc;
    vd_fft_value x[VD_FFT_GROUP_VALUES];
    (void)state;
    need_device();
    assert_null(vd_fft_group_create(device_context, NULL));
    says("vd_fft_group_create: desc is NULL");
    assert_null(vd_fft_group_create(device_context, &desc));
    says("vd_fft_group_create 'rows': n is 0");
    desc.n = 37;
    assert_null(vd_fft_group_create(device_context, &desc));
    says("n is 37, but must have no prime factors above 31");
    desc.n = 1u << 30;
    assert_null(vd_fft_group_create(device_context, &desc));
    says("n is 1073741824, but the limit is "); /* 16384 on a GPU */
    desc.n = 64;
    desc.type = VD_U32;
    assert_null(vd_fft_group_create(device_context, &desc));
    says("type is u32, but must be f32 or f64");
    desc.type = VD_F32;
    vd_fft_group *fft = vd_fft_group_create(device_context, &desc);
    assert_non_null(fft);
    assert_int_equal(vd_fft_group_query(NULL, &info), VD_ERROR_INVALID);
    assert_int_equal(vd_fft_group_query(fft, NULL), VD_ERROR_INVALID);
    says("vd_fft_group_query 'rows': out is NULL");
    assert_int_equal(vd_fft_group_query(fft, &info), VD_OK);
    assert_int_equal(vd_fft_group_transform(fft, VD_FFT_FORWARD, x), VD_ERROR_INVALID);
    says("vd_fft_group_transform 'rows': no kernel was begun: vd_fft_group_begin was not called, or failed");
    assert_int_equal(vd_fft_group_slot(fft, 0).index.owner, 0);
    assert_int_equal(vd_fft_group_spectrum_slot(NULL, 0).index.owner, 0);
    assert_int_equal(vd_fft_group_begin(fft, NULL), VD_ERROR_INVALID);
    memset(&kernel_desc, 0, sizeof kernel_desc);
    kernel_desc.local_size[0] = info.invocations + 1;
    vc_kernel *k = vc_begin(&kernel_desc);
    assert_int_equal(vd_fft_group_begin(fft, k), VD_ERROR_INVALID);
    says("invocations, but the transform needs");
    vc_free(k);
    kernel_desc.local_size[0] = info.invocations;
    k = vc_begin(&kernel_desc);
    assert_int_equal(vd_fft_group_begin(fft, k), VD_OK);
    assert_int_equal(vd_fft_group_transform(fft, VD_FFT_FORWARD, NULL), VD_ERROR_INVALID);
    for (uint32_t i = 0; i < VD_FFT_GROUP_VALUES; i++) x[i].re = x[i].im = vc_const(k, vc_f32(1));
    assert_int_equal(vd_fft_group_transform(fft, (vd_fft_direction)2, x), VD_ERROR_INVALID);
    x[1].im = vc_const(k, vc_u32(1));
    assert_int_equal(vd_fft_group_transform(fft, VD_FFT_FORWARD, x), VD_ERROR_INVALID);
    says("values[1].im is u32, but must be a value of type f32");
    vc_free(k);
    vd_fft_group_destroy(fft);
    vd_fft_group_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(lengths), cmocka_unit_test(bad_input) };
    return RUN_ON_DEVICE(tests);
}
