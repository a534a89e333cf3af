/* Detects the edges of a photograph with three kernels: greyscale, blur and Sobel filter. Intermediate results stay on
   the device. Writes the result as a PNG.
   cc -std=c99 -O2 -I. examples/picture.c -o picture -ldl -lpthread -lm
   Run: ./picture [in.jpg [out.png]]. Without in.jpg, run it in the root of the repository.
   Needs stb_image.h and stb_image_write.h (Debian: libstb-dev). */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#define VKDISPATCH_CUDA
#define VKDISPATCH_OPENCL
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

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
#include <time.h>

/* a work-group blurs 16 x 16 pixels, for which it loads a tile of 20 x 20 */
enum { SIDE = 16, HALO = 2, TILE = SIDE + 2 * HALO };

static const float gauss[5] = { 1.0f / 16, 4.0f / 16, 6.0f / 16, 4.0f / 16, 1.0f / 16 };
static const float luma[3] = { 0.2126f, 0.7152f, 0.0722f };

static vc_kernel *begin(vd_context *ctx, const char *name) {
    return vc_begin(&(vc_kernel_desc){ .name = name, .local_size = { SIDE, SIDE }, .machine = vd_machine(ctx) });
}

static vd_kernel end(vd_context *ctx, vc_kernel *k) {
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

/* Converts RGBA pixels of four bytes to brightness from 0 to 1. */
static vd_kernel build_grey(vd_context *ctx) {
    vc_kernel *k = begin(ctx, "grey");
    vc_ref rgba = vc_buffer(k, "rgba", VC_U32, VC_READ);
    vc_ref grey = vc_buffer(k, "grey", VC_F32, VC_WRITE);
    VC_EACH2(k, x, y) {
        vc_val at = vc_add(vc_mul(y, vc_threads(k, 0)), x), pixel = vc_load(rgba, at), sum = vc_f32(0);
        for (uint32_t c = 0; c < 3; c++) { /* this loop runs on the host: it adds three terms to the kernel */
            vc_val byte = vc_and(vc_shr(pixel, vc_u32(8 * c)), vc_u32(255));
            sum = vc_add(sum, vc_mul(vc_cast(VC_F32, byte), vc_f32(luma[c] / 255)));
        }
        vc_store(grey, at, sum);
    }
    return end(ctx, k);
}

/* Returns the coordinate `at` + `by`, clamped to the picture. */
static vc_val clamped(vc_val at, int by, vc_val extent) {
    vc_val moved = vc_add(vc_cast(VC_I32, at), vc_i32(by));
    return vc_cast(VC_U32, vc_clamp(moved, vc_i32(0), vc_sub(vc_cast(VC_I32, extent), vc_i32(1))));
}

/* Gaussian blur of 5 x 5 pixels. The work-group first loads its pixels and a border of two into shared memory. */
static vd_kernel build_blur(vd_context *ctx) {
    vc_kernel *k = begin(ctx, "blur");
    vc_ref in = vc_buffer(k, "in", VC_F32, VC_READ);
    vc_ref out = vc_buffer(k, "out", VC_F32, VC_WRITE);
    vc_val width = vc_param(k, "width", VC_U32);
    vc_val height = vc_param(k, "height", VC_U32);
    vc_ref tile = vc_shared(k, "tile", VC_F32, TILE * TILE);
    vc_val left = vc_mul(vc_group_id(k, 0), vc_u32(SIDE)), top = vc_mul(vc_group_id(k, 1), vc_u32(SIDE));
    VC_FOR_STEP(k, i, vc_local_index(k), vc_u32(TILE * TILE), vc_u32(SIDE * SIDE)) {
        vc_val x = clamped(vc_add(left, vc_rem(i, vc_u32(TILE))), -HALO, width);
        vc_val y = clamped(vc_add(top, vc_div(i, vc_u32(TILE))), -HALO, height);
        vc_store(tile, i, vc_load(in, vc_add(vc_mul(y, width), x)));
    }
    vc_barrier(k); /* outside VC_EACH2: every invocation of the work-group must reach the barrier */
    VC_EACH2(k, x, y) {
        vc_val corner = vc_add(vc_mul(vc_local_id(k, 1), vc_u32(TILE)), vc_local_id(k, 0)), sum = vc_f32(0);
        for (uint32_t r = 0; r < 5; r++)
            for (uint32_t c = 0; c < 5; c++)
                sum = vc_fma(vc_load(vc_offset(tile, vc_u32(r * TILE + c)), corner), vc_f32(gauss[r] * gauss[c]), sum);
        vc_store(out, vc_add(vc_mul(y, width), x), sum);
    }
    return end(ctx, k);
}

/* Magnitude of the gradient by the Sobel operator, as a grey RGBA pixel. */
static vd_kernel build_edges(vd_context *ctx) {
    static const float weight[3][3] = { { -1, 0, 1 }, { -2, 0, 2 }, { -1, 0, 1 } };
    vc_kernel *k = begin(ctx, "edges");
    vc_ref in = vc_buffer(k, "in", VC_F32, VC_READ);
    vc_ref out = vc_buffer(k, "out", VC_U32, VC_WRITE);
    VC_EACH2(k, x, y) {
        vc_val width = vc_threads(k, 0), height = vc_threads(k, 1), across = vc_f32(0), down = vc_f32(0);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                vc_val at = vc_add(vc_mul(clamped(y, r - 1, height), width), clamped(x, c - 1, width));
                across = vc_fma(vc_load(in, at), vc_f32(weight[r][c]), across);
                down = vc_fma(vc_load(in, at), vc_f32(weight[c][r]), down);
            }
        vc_val length = vc_sqrt(vc_add(vc_mul(across, across), vc_mul(down, down)));
        vc_val byte = vc_cast(VC_U32, vc_round(vc_mul(vc_clamp(length, vc_f32(0), vc_f32(1)), vc_f32(255))));
        vc_store(out, vc_add(vc_mul(y, width), x), vc_or(vc_mul(byte, vc_u32(0x010101)), vc_u32(0xff000000)));
    }
    return end(ctx, k);
}

/* ---- the reference in plain C, one pixel at a time ---- */

typedef struct picture { unsigned char *rgba; int width, height; } picture;

static int inside(int at, int extent) { return at < 0 ? 0 : at >= extent ? extent - 1 : at; }

static double grey_at(const picture *p, int x, int y) {
    const unsigned char *pixel = p->rgba + 4 * ((size_t)inside(y, p->height) * (size_t)p->width
                                                + (size_t)inside(x, p->width));
    return (pixel[0] * (double)luma[0] + pixel[1] * (double)luma[1] + pixel[2] * (double)luma[2]) / 255;
}

static double blur_at(const picture *p, int x, int y) {
    double sum = 0;
    x = inside(x, p->width);
    y = inside(y, p->height);
    for (int r = 0; r < 5; r++)
        for (int c = 0; c < 5; c++) sum += (double)gauss[r] * (double)gauss[c] * grey_at(p, x + c - 2, y + r - 2);
    return sum;
}

static double edge_at(const picture *p, int x, int y) {
    static const int weight[3] = { 1, 2, 1 };
    double across = 0, down = 0;
    for (int i = 0; i < 3; i++) {
        across += weight[i] * (blur_at(p, x + 1, y + i - 1) - blur_at(p, x - 1, y + i - 1));
        down += weight[i] * (blur_at(p, x + i - 1, y + 1) - blur_at(p, x + i - 1, y - 1));
    }
    return 255 * fmin(1, sqrt(across * across + down * down));
}

/* Returns how many of 121 pixels, including the corners, differ by more than one brightness level. */
static int wrong_pixels(const picture *p, const unsigned char *edges) {
    int wrong = 0;
    for (int j = 0; j <= 10; j++)
        for (int i = 0; i <= 10; i++) {
            int x = (p->width - 1) * i / 10, y = (p->height - 1) * j / 10;
            wrong += fabs(edge_at(p, x, y) - edges[4 * ((size_t)y * (size_t)p->width + (size_t)x)]) > 1;
        }
    return wrong;
}

/* ---- running the kernels ---- */

static vd_buffer make(vd_context *ctx, const char *name, vd_type type, const picture *p, const void *data) {
    return vd_buffer_create(ctx, &(vd_buffer_desc){ .name = name, .type = type,
                                                    .shape = { (uint64_t)p->width, (uint64_t)p->height },
                                                    .data = data });
}

/* Runs all three kernels and reads the result into `edges`. `ms` is the time from the first dispatch to the end of
   the read, in milliseconds. */
static vd_result filter(vd_context *ctx, const picture *p, unsigned char *edges, double *ms) {
    const uint64_t w = (uint64_t)p->width, h = (uint64_t)p->height;
    vd_kernel grey = build_grey(ctx), blur = grey.id ? build_blur(ctx) : grey, find = blur.id ? build_edges(ctx) : blur;
    vd_buffer rgba = make(ctx, "rgba", VD_U32, p, p->rgba), a = make(ctx, "grey", VD_F32, p, NULL);
    vd_buffer b = make(ctx, "blurred", VD_F32, p, NULL), out = make(ctx, "edges", VD_U32, p, NULL);
    vd_result r = find.id && rgba.id && a.id && b.id && out.id ? vd_wait_idle(ctx) : VD_ERROR_INVALID;
    struct timespec start, stop;
    for (int round = 0; round < 2 && !r; round++) { /* the first round is a warm-up */
        clock_gettime(CLOCK_MONOTONIC, &start);
        r = vd_run2(ctx, grey, w, h, vd_b(rgba), vd_b(a));
        if (!r) r = vd_run2(ctx, blur, w, h, vd_b(a), vd_b(b), vd_u32((uint32_t)w), vd_u32((uint32_t)h));
        if (!r) r = vd_run2(ctx, find, w, h, vd_b(b), vd_b(out));
        if (!r) r = vd_buffer_read(ctx, out, 0, edges, VD_WHOLE);
        clock_gettime(CLOCK_MONOTONIC, &stop);
        *ms = (double)(stop.tv_sec - start.tv_sec) * 1e3 + (double)(stop.tv_nsec - start.tv_nsec) * 1e-6;
    }
    return r;
}

int main(int argc, char **argv) {
    vd_context *ctx = NULL;
    if (vd_context_create(NULL, &ctx)) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    const char *from = argc > 1 ? argv[1] : "examples/data/grace_hopper.jpg";
    const char *to = argc > 2 ? argv[2] : "picture.png";
    picture p = { NULL, 0, 0 };
    double ms = 0;
    p.rgba = stbi_load(from, &p.width, &p.height, NULL, 4);
    if (!p.rgba) { fprintf(stderr, "%s: %s\n", from, stbi_failure_reason()); return 1; }
    unsigned char *edges = malloc((size_t)p.width * (size_t)p.height * 4);
    if (!edges || filter(ctx, &p, edges, &ms)) {
        fprintf(stderr, "%s\n", vd_error_text());
        vd_context_destroy(ctx);
        return 1;
    }
    int wrong = wrong_pixels(&p, edges);
    printf("%s, %d x %d, on %s: three kernels and reading back took %.2f ms; %d of 121 pixels differ from plain C.\n",
           from, p.width, p.height, vd_device(ctx, 0)->name, ms, wrong);
    int written = stbi_write_png(to, p.width, p.height, 4, edges, p.width * 4);
    if (written) printf("The edges are in %s.\n", to);
    else fprintf(stderr, "cannot write %s\n", to);
    free(edges);
    stbi_image_free(p.rgba);
    vd_context_destroy(ctx);
    return wrong || !written;
}
