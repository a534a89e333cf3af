/* Shared by the tests of swapchains: descs, a picture whose pixels differ, a kernel that computes frames, and what a
   window shows. */
#ifndef CONFORMANCE_PRESENTS_H
#define CONFORMANCE_PRESENTS_H

#include "tests/conformance/common.h"

static inline vd_swapchain_desc chain_desc(const void *display, uint64_t window) {
    vd_swapchain_desc d;
    memset(&d, 0, sizeof d);
    d.name = "view";
    d.display = (void *)(uintptr_t)display;
    d.window = window;
    return d;
}

static inline vd_swapchain chain_with(vd_context *ctx, const vd_swapchain_desc *d) {
    vd_swapchain s = vd_swapchain_create(ctx, d);
    if (!s.id) fail_msg("vd_swapchain_create: %s", vd_error_text());
    return s;
}

/* 0x00RRGGBB of a texel of the test picture. */
static inline uint32_t texel(int x, int y, uint32_t seed) {
    uint32_t v = (uint32_t)(x * 2654435 + y * 40503) * (2 * seed + 1) + seed * 7919;
    return (v ^ v >> 9) & 0xFFFFFF;
}

static inline vd_image picture(vd_context *ctx, vd_format format, int width, int height, uint32_t seed) {
    uint8_t *texels = (uint8_t *)malloc((size_t)(width * height) * 4);
    vd_image_desc d;
    bool bgr = format == VD_FORMAT_BGRA8_UNORM;
    for (int i = 0; i < width * height; i++) {
        uint32_t c = texel(i % width, i / width, seed);
        texels[4 * i] = (uint8_t)(bgr ? c : c >> 16);
        texels[4 * i + 1] = (uint8_t)(c >> 8);
        texels[4 * i + 2] = (uint8_t)(bgr ? c >> 16 : c);
        texels[4 * i + 3] = 255;
    }
    memset(&d, 0, sizeof d);
    d.name = "picture";
    d.format = format;
    d.extent[0] = (uint32_t)width;
    d.extent[1] = (uint32_t)height;
    d.data = texels;
    vd_image image = vd_image_create(ctx, &d);
    free(texels);
    if (!image.id) fail_msg("vd_image_create: %s", vd_error_text());
    return image;
}

static inline vd_present_desc present_desc(vd_image image, int x, int y) {
    vd_present_desc d;
    memset(&d, 0, sizeof d);
    d.box.image = image;
    d.x = x;
    d.y = y;
    d.background.f[0] = 1;
    d.background.f[2] = 1;
    return d;
}

enum { MAGENTA = 0xFF00FF };

/* What the window shows at a pixel after the present of the box at this offset in the picture. */
static inline uint32_t expected(const vd_present_desc *d, int width, int height, uint32_t seed, int x, int y) {
    int from_x = x - d->x, from_y = y - d->y;
    int w = d->box.extent[0] ? (int)d->box.extent[0] : width - (int)d->box.offset[0];
    int h = d->box.extent[1] ? (int)d->box.extent[1] : height - (int)d->box.offset[1];
    if (from_x < 0 || from_y < 0 || from_x >= w || from_y >= h) return MAGENTA;
    return texel(from_x + (int)d->box.offset[0], from_y + (int)d->box.offset[1], seed);
}

/* Sets red and blue of all texels to `level`. */
static inline vd_kernel kernel_paint(vd_context *ctx) {
    vc_kernel *k = vc_begin(NULL);
    vc_image_desc stored;
    memset(&stored, 0, sizeof stored);
    stored.storage = true;
    stored.format = VC_FORMAT_RGBA8_UNORM;
    stored.access = VC_WRITE;
    vc_image_ref to = vc_image(k, "to", &stored);
    vc_val level = vc_param(k, "level", VC_F32), x = vc_global_id(k, 0), y = vc_global_id(k, 1);
    vc_image_store(to, vc_vec2(x, y), vc_vec4(level, vc_f32(0), level, vc_f32(1)));
    vd_kernel paint = vd_kernel_build(ctx, k);
    vc_free(k);
    if (!paint.id) fail_msg("vd_kernel_build: %s", vd_error_text());
    return paint;
}

#endif
