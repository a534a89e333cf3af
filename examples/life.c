/* Conway's Game of Life, one cell in each pixel of two images that alternate. Cells that died fade. Draw cells with the
   mouse.
   cc -std=c99 -O2 -I. examples/life.c -o life -ldl -lpthread -lm
   With a window: add -DWINDOW and -lglfw. Run: ./life [--picture FILE] [--frames N]; see examples/window.h. */
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "examples/window.h"
#include "vkdispatch_codegen.h"

enum { WIDTH = 768, HEIGHT = 512, LIMIT_FRAMES = 400 };

/* Reads the cell at an offset of (x, y), continued at the opposite side: 1 or 0. */
static vc_val cell(vc_image_ref from, vc_val x, vc_val y, int dx, int dy) {
    vc_val at_x = vc_mod(vc_add(x, vc_u32((uint32_t)(WIDTH + dx))), vc_u32(WIDTH));
    vc_val at_y = vc_mod(vc_add(y, vc_u32((uint32_t)(HEIGHT + dy))), vc_u32(HEIGHT));
    return vc_component(vc_image_load(from, vc_vec2(at_x, at_y)), 0);
}

/* Red: the cell lives. Green and blue: it has lived lately. */
static vd_kernel build_step(vd_context *ctx) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "step", .local_size = { 16, 16 }, .machine = vd_machine(ctx) });
    vc_image_desc image = { .storage = true, .format = VC_FORMAT_RGBA8_UNORM, .access = VC_READ };
    vc_image_ref from = vc_image(k, "from", &image);
    image.access = VC_WRITE;
    vc_image_ref to = vc_image(k, "to", &image);
    vc_val pen = vc_param(k, "pen", VC_F32X2), radius = vc_param(k, "radius", VC_F32);
    VC_EACH2(k, x, y) {
        vc_val old = vc_image_load(from, vc_vec2(x, y)), count = vc_const(k, vc_f32(0));
        for (int i = 0; i < 9; i++)
            if (i != 4) count = vc_add(count, cell(from, x, y, i % 3 - 1, i / 3 - 1));
        vc_val alive = vc_component(old, 0), three = vc_lt(vc_abs(vc_sub(count, vc_f32(3))), vc_f32(0.5f));
        vc_val two = vc_lt(vc_abs(vc_sub(count, vc_f32(2))), vc_f32(0.5f));
        vc_val d = vc_sub(vc_vec2(vc_cast(VC_F32, x), vc_cast(VC_F32, y)), pen);
        vc_val drawn = vc_lt(vc_dot(d, d), vc_mul(radius, radius));
        vc_val lives = vc_or(drawn, vc_or(three, vc_and(two, vc_gt(alive, vc_f32(0.5f)))));
        vc_val red = vc_select(lives, vc_f32(1), vc_f32(0));
        vc_val green = vc_max(red, vc_mul(vc_component(old, 1), vc_f32(0.93f)));
        vc_val blue = vc_max(red, vc_mul(vc_component(old, 2), vc_f32(0.985f)));
        vc_image_store(to, vc_vec2(x, y), vc_vec4(red, green, blue, vc_f32(1)));
    }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

/* A third of the cells live. */
static vd_image random_cells(vd_context *ctx) {
    static uint8_t texels[WIDTH * HEIGHT][4];
    uint32_t state = 1;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        state = state * 1664525u + 1013904223u;
        memset(texels[i], (state >> 24) % 3 ? 0 : 255, 4);
    }
    return vd_image_create(ctx, &(vd_image_desc){ .name = "cells", .format = VD_FORMAT_RGBA8_UNORM,
                                                  .extent = { WIDTH, HEIGHT }, .data = texels });
}

int main(int argc, char **argv) {
    window w;
    window_open(&w, "Game of Life", WIDTH, HEIGHT, "life.png", LIMIT_FRAMES, argc, argv);
    vd_kernel step = build_step(w.ctx);
    vd_image other = random_cells(w.ctx);
    if (!step.id || !other.id) window_fail("cannot start");
    do {
        float pen[2] = { w.x, w.y };
        vd_result r = vd_run2(w.ctx, step, WIDTH, HEIGHT, vd_i(other), vd_i(w.image), vd_value(VD_F32X2, pen),
                              vd_f32(w.pressed ? 3 : 0));
        if (r) window_fail("cannot dispatch");
        vd_image shown = w.image;
        bool more = window_show(&w);
        w.image = other;
        other = shown;
        if (!more) break;
    } while (true);
    vd_kernel_destroy(w.ctx, step);
    window_close(&w);
    return 0;
}
