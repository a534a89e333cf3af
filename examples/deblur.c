/* Blurs a photograph, rounds it to 8 bits, and restores it with a Wiener filter. Both steps are convolutions by Fourier
   transforms: the first multiplies by the spectrum of the blur, the second divides by it as far as the rounding noise
   allows.
   cc -std=c99 -O2 -I. examples/deblur.c -o deblur -ldl -lpthread -lm
   Run: ./deblur [in.jpg [out.png]]. Without in.jpg, run it in the root of the repository.
   Needs stb_image.h and stb_image_write.h (Debian: libstb-dev). */
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
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RADIUS = 4, SIDE = 2 * RADIUS + 1 };

typedef struct picture { unsigned char *grey; int width, height; } picture;

/* A disc that sums to 1: the image of a point that is out of focus. */
static void make_disc(float *disc) {
    float sum = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        double y = i / SIDE - RADIUS, x = i % SIDE - RADIUS;
        disc[i] = (float)fmin(1, fmax(0, RADIUS + 0.5 - sqrt(x * x + y * y)));
        sum += disc[i];
    }
    for (int i = 0; i < SIDE * SIDE; i++) disc[i] /= sum;
}

/* Replaces the spectrum H of the disc by conj(H) / (|H|^2 + noise / signal). */
static void wiener(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    vc_val size = vc_fma(v->re, v->re, vc_fma(v->im, v->im, vc_f32(2e-4f)));
    (void)k, (void)at, (void)user;
    v->re = vc_div(v->re, size);
    v->im = vc_div(vc_neg(v->im), size);
}

/* Convolves the picture in place with the disc, or with the disc after `hook` has changed its spectrum. Converts
   the bytes to floats and back. */
static vd_result convolve(vd_context *ctx, picture *p, const float *disc, vd_fft_hook hook) {
    size_t n = (size_t)p->width * (size_t)p->height;
    float *x = malloc(n * sizeof *x);
    if (!x) return vd_error_set(VD_ERROR_OUT_OF_MEMORY, "no memory for the picture");
    for (size_t i = 0; i < n; i++) x[i] = p->grey[i] / 255.0f;
    vd_buffer in = vd_buffer_create(ctx, &(vd_buffer_desc){ .name = "picture", .type = VD_F32, .shape = { n },
                                                            .data = x });
    vd_buffer out = vd_buffer_create(ctx, &(vd_buffer_desc){ .name = "result", .type = VD_F32, .shape = { n } });
    vd_buffer filter = vd_buffer_create(ctx, &(vd_buffer_desc){ .name = "disc", .type = VD_F32, .shape = { SIDE, SIDE },
                                                                .data = disc });
    vd_convolve *plan = vd_convolve_create(ctx,
                                           &(vd_convolve_desc){ .shape = { (uint64_t)p->height, (uint64_t)p->width },
                                                                .filter_shape = { SIDE, SIDE },
                                                                .mode = VD_CONVOLVE_CENTRED, .real = true,
                                                                .spectrum_hook = hook });
    vd_list *list = vd_immediate(ctx, 0, 0);
    vd_result r = plan && in.id && out.id && filter.id ? vd_convolve_set_filter(plan, list, filter) : VD_ERROR_INVALID;
    if (!r) r = vd_convolve_run(plan, list, in, out);
    if (!r) r = vd_buffer_read(ctx, out, 0, x, VD_WHOLE);
    for (size_t i = 0; i < n && !r; i++) p->grey[i] = (unsigned char)lrintf(255 * fminf(1, fmaxf(0, x[i])));
    vd_convolve_destroy(plan);
    free(x);
    return r;
}

/* ---- the reference in plain C ---- */

static int wrapped(int at, int extent) { return (at % extent + extent) % extent; }

/* Returns how many of 121 pixels, including the corners, differ by more than one brightness level. */
static int wrong_pixels(const unsigned char *sharp, const picture *blurred, const float *disc) {
    int wrong = 0, w = blurred->width, h = blurred->height;
    for (int j = 0; j < 121; j++) {
        int x = (w - 1) * (j % 11) / 10, y = (h - 1) * (j / 11) / 10;
        double sum = 0;
        for (int i = 0; i < SIDE * SIDE; i++)
            sum += (double)disc[i] * sharp[wrapped(y + RADIUS - i / SIDE, h) * w + wrapped(x + RADIUS - i % SIDE, w)];
        wrong += fabs(sum - blurred->grey[y * w + x]) > 1;
    }
    return wrong;
}

/* Root of the mean squared difference, in brightness levels. */
static double difference(const unsigned char *a, const unsigned char *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    return sqrt(sum / (double)n);
}

int main(int argc, char **argv) {
    vd_context *ctx = NULL;
    if (vd_context_create(NULL, &ctx)) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    int wrong, written;
    const char *from = argc > 1 ? argv[1] : "examples/data/grace_hopper.jpg";
    const char *to = argc > 2 ? argv[2] : "deblur.png";
    float disc[SIDE * SIDE];
    picture p = { NULL, 0, 0 };
    double blurred, restored;
    p.grey = stbi_load(from, &p.width, &p.height, NULL, 1);
    if (!p.grey) { fprintf(stderr, "%s: %s\n", from, stbi_failure_reason()); return 1; }
    size_t n = (size_t)p.width * (size_t)p.height;
    unsigned char *sharp = malloc(n);
    if (!sharp) return 1;
    memcpy(sharp, p.grey, n);
    make_disc(disc);
    vd_result r = convolve(ctx, &p, disc, NULL);
    if (r) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    wrong = wrong_pixels(sharp, &p, disc);
    blurred = difference(sharp, p.grey, n);
    if (convolve(ctx, &p, disc, wiener)) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    restored = difference(sharp, p.grey, n);
    printf("%s, %d x %d, on %s: %d of 121 blurred pixels differ from plain C.\n", from, p.width, p.height,
           vd_device(ctx, 0)->name, wrong);
    printf("RMS difference from the sharp picture in brightness levels: blurred %.2f, restored %.2f.\n", blurred,
           restored);
    written = stbi_write_png(to, p.width, p.height, 1, p.grey, p.width);
    if (written) printf("The restored picture is in %s.\n", to);
    else fprintf(stderr, "cannot write %s\n", to);
    free(sharp);
    stbi_image_free(p.grey);
    vd_context_destroy(ctx);
    return wrong || !written || !(restored < blurred / 2);
}
