/* Finds by how much two pictures are shifted, by phase correlation: it multiplies the spectrum of one with the
   conjugate of the other and keeps only the phase. The inverse transform of that is a single peak at the shift. A load
   hook cuts both pictures from one photograph; the second one is darker and noisy.
   cc -std=c99 -O1 -I. examples/register.c -o register -ldl -lpthread -lm
   Run: ./register [in.jpg]. Without in.jpg, run it in the root of the repository.
   Needs stb_image.h (Debian: libstb-dev). */
#define VKDISPATCH_CUDA
#define VKDISPATCH_OPENCL
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#define VKDISPATCH_FFT_IMPLEMENTATION
#include "vkdispatch_fft.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HIGH = 240, WIDE = 256, BINS = HIGH * (WIDE / 2 + 1) }; /* size of a part, and of its spectrum */

static const double pi = 3.14159265358979323846;

typedef struct position { uint32_t y, x; } position;

/* ---- first plan: from two parts of the photograph to two spectra ---- */

typedef struct cutting { vc_ref photo; vc_val width, y[2], x[2]; } cutting;

static void declare_cutting(vc_kernel *k, void *user) {
    cutting *c = user;
    c->photo = vc_buffer(k, "photo", VC_F32, VC_READ);
    c->width = vc_param(k, "width", VC_U32);
    c->y[0] = vc_param(k, "first y", VC_U32);
    c->x[0] = vc_param(k, "first x", VC_U32);
    c->y[1] = vc_param(k, "second y", VC_U32);
    c->x[1] = vc_param(k, "second x", VC_U32);
}

/* Window sin(x)^2 that is 0 at the borders. Without it, the borders would be edges at the same position in both
   parts. */
static vc_val window(vc_val at, int extent) {
    vc_val s = vc_sin(vc_mul(vc_cast(VC_F32, at), vc_f32((float)(pi / extent))));
    return vc_mul(s, s);
}

/* Load hook: the second part has a third of the brightness, plus noise of a tenth of the full range. */
static void load_part(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    const cutting *c = user;
    vc_val second = vc_eq(at->coordinate[0], vc_u32(1));
    vc_val y = vc_add(at->coordinate[1], vc_select(second, c->y[1], c->y[0]));
    vc_val x = vc_add(at->coordinate[2], vc_select(second, c->x[1], c->x[0]));
    vc_val pixel = vc_load(c->photo, vc_add(vc_mul(y, c->width), x));
    vc_val noise = vc_uniform(VC_F32, vc_hash_bits(at->index));
    pixel = vc_select(second, vc_fma(noise, vc_f32(0.1f), vc_div(pixel, vc_f32(3))), pixel);
    (void)k;
    v->re = vc_mul(pixel, vc_mul(window(at->coordinate[1], HIGH), window(at->coordinate[2], WIDE)));
}

/* ---- second plan: the phase of the product of the spectra, transformed back ---- */

static void declare_spectra(vc_kernel *k, void *user) { *(vc_ref *)user = vc_buffer(k, "spectra", VC_F32X2, VC_READ); }

static void load_phase(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    const vc_ref spectra = *(vc_ref *)user;
    vc_val a = vc_load(spectra, at->index), b = vc_load(vc_offset(spectra, vc_u32(BINS)), at->index);
    vc_val ar = vc_component(a, 0), ai = vc_component(a, 1), br = vc_component(b, 0), bi = vc_component(b, 1);
    vc_val re = vc_fma(ar, br, vc_mul(ai, bi)), im = vc_fma(ai, br, vc_neg(vc_mul(ar, bi)));
    vc_val scale = vc_rsqrt(vc_max(vc_fma(re, re, vc_mul(im, im)), vc_f32(1e-20f)));
    (void)k;
    v->re = vc_mul(re, scale);
    v->im = vc_mul(im, scale);
}

/* ---- the complete search ---- */

typedef struct finder {
    vd_context *ctx;
    uint32_t high, wide;     /* of the photograph */
    vd_buffer photo, spectra, match, best, height;
    cutting cutting;
    vc_ref both;             /* the argument "spectra" of the second plan */
    vd_fft *forward, *inverse;
    vd_reduce *brightest;
} finder;

static vd_result make_finder(finder *f, const float *photo) {
    const vd_fft_desc forward = { .name = "parts", .kind = VD_FFT_REAL, .shape = { 2, HIGH, WIDE }, .axes = 6,
                                  .load = load_part, .hook_declare = declare_cutting, .hook_user = &f->cutting };
    const vd_fft_desc inverse = { .name = "match", .kind = VD_FFT_REAL, .shape = { HIGH, WIDE }, .axes = 3,
                                  .load = load_phase, .hook_declare = declare_spectra, .hook_user = &f->both };
    f->photo = vd_buffer_create(f->ctx, &(vd_buffer_desc){ .name = "photo", .type = VD_F32,
                                                           .shape = { f->high, f->wide }, .data = photo });
    f->spectra = vd_buffer_create(f->ctx, &(vd_buffer_desc){ .name = "spectra", .type = VD_F32X2,
                                                             .shape = { 2, BINS } });
    f->match = vd_buffer_create(f->ctx, &(vd_buffer_desc){ .name = "match", .type = VD_F32, .shape = { HIGH, WIDE } });
    f->best = vd_buffer_create(f->ctx, &(vd_buffer_desc){ .name = "best", .type = VD_U32, .shape = { 1 } });
    f->height = vd_buffer_create(f->ctx, &(vd_buffer_desc){ .name = "height", .type = VD_F32, .shape = { 1 } });
    f->forward = vd_fft_create(f->ctx, &forward);
    f->inverse = vd_fft_create(f->ctx, &inverse);
    f->brightest = vd_reduce_create(f->ctx, &(vd_reduce_desc){ .op = VD_REDUCE_ARGMAX, .shape = { HIGH, WIDE },
                                                               .extra_out = true });
    return f->photo.id && f->spectra.id && f->match.id && f->best.id && f->height.id && f->forward && f->inverse
        && f->brightest ? VD_OK : VD_ERROR_INVALID;
}

/* Returns in `best` the index of the brightest point, and in `height` its value, which is 1 if the parts differ only
   by a shift. */
static vd_result find(finder *f, position first, position second, uint32_t *best, float *height) {
    const vd_named_arg cut[] = { { "photo", vd_b(f->photo) }, { "width", vd_u32(f->wide) },
                                    { "first y", vd_u32(first.y) }, { "first x", vd_u32(first.x) },
                                    { "second y", vd_u32(second.y) }, { "second x", vd_u32(second.x) } };
    const vd_named_arg both = { "spectra", vd_b(f->spectra) };
    vd_list *list = vd_immediate(f->ctx, 0, 0);
    vd_result r = vd_fft_run(f->forward, list, &(vd_fft_io){ .out = f->spectra, .args = cut, .arg_count = 6 });
    if (!r)
        r = vd_fft_run(f->inverse, list, &(vd_fft_io){ .direction = VD_FFT_INVERSE, .out = f->match, .args = &both,
                                                       .arg_count = 1 });
    if (!r)
        r = vd_reduce_run_io(f->brightest, list, &(vd_reduce_io){ .in = f->match, .out = f->best,
                                                                  .extra_out = f->height });
    if (!r) r = vd_buffer_read(f->ctx, f->best, 0, best, VD_WHOLE);
    if (!r) r = vd_buffer_read(f->ctx, f->height, 0, height, VD_WHOLE);
    return r;
}

/* Shifts by more than half the extent are negative shifts. */
static int signed_shift(uint32_t at, int extent) { return (int)at > extent / 2 ? (int)at - extent : (int)at; }

/* Returns the offset of the first part so that two parts `shift` apart are centred in the photograph. */
static uint32_t begin_of(uint32_t extent, uint32_t part, int shift) {
    uint32_t distance = (uint32_t)abs(shift), left = (extent - part - distance) / 2;
    return shift < 0 ? left + distance : left;
}

/* Cuts the second part (dy, dx) away from the first, and prints the shift that was found. */
static vd_result try_shift(finder *f, int dy, int dx, int *wrong) {
    const position first = { begin_of(f->high, HIGH, dy), begin_of(f->wide, WIDE, dx) };
    const position second = { (uint32_t)((int)first.y + dy), (uint32_t)((int)first.x + dx) };
    uint32_t best = 0;
    float height = 0;
    vd_result r = find(f, first, second, &best, &height);
    int y = signed_shift(best / WIDE, HIGH), x = signed_shift(best % WIDE, WIDE);
    if (r) return r;
    printf("shifted by %4d, %4d: found %4d, %4d, where the match is %.3f\n", dy, dx, y, x, (double)height);
    *wrong += y != dy || x != dx;
    return VD_OK;
}

int main(int argc, char **argv) {
    static const int shifts[][2] = { { 0, 0 }, { 1, -1 }, { 17, 40 }, { -33, 12 }, { -60, -75 }, { 90, 5 } };
    const int count = sizeof shifts / sizeof *shifts;
    finder f = { 0 };
    if (vd_context_create(NULL, &f.ctx)) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    const char *from = argc > 1 ? argv[1] : "examples/data/grace_hopper.jpg";
    int width, height, wrong = 0;
    unsigned char *bytes = stbi_load(from, &width, &height, NULL, 1);
    if (!bytes) { fprintf(stderr, "%s: %s\n", from, stbi_failure_reason()); return 1; }
    if (width < 2 * WIDE || height < 2 * HIGH) {
        fprintf(stderr, "%s is smaller than %d x %d\n", from, 2 * WIDE, 2 * HIGH);
        return 1;
    }
    f.high = (uint32_t)height;
    f.wide = (uint32_t)width;
    size_t pixels = (size_t)width * (size_t)height;
    float *photo = malloc(pixels * sizeof *photo);
    if (!photo) return 1;
    for (size_t i = 0; i < pixels; i++) photo[i] = (float)bytes[i] / 255;
    vd_result r = make_finder(&f, photo);
    for (int i = 0; i < count && !r; i++) r = try_shift(&f, shifts[i][0], shifts[i][1], &wrong);
    if (r) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    printf("%s in parts of %d x %d on %s: %d of %d shifts are wrong.\n", from, WIDE, HIGH, vd_device(f.ctx, 0)->name,
           wrong, count);
    vd_fft_destroy(f.forward);
    vd_fft_destroy(f.inverse);
    vd_reduce_destroy(f.brightest);
    vd_context_destroy(f.ctx);
    free(photo);
    stbi_image_free(bytes);
    return wrong;
}
