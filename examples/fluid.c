/* A fluid in two dimensions (J. Stam, "Stable Fluids", 1999): forces, advection, and a projection that removes the
   divergence. Stir it with the mouse; without a window, a moving jet does. The dye is sampled with linear filters.
   cc -std=c99 -O2 -I. examples/fluid.c -o fluid -ldl -lpthread -lm
   With a window: add -DWINDOW and -lglfw. Run: ./fluid [--picture FILE] [--frames N]; see examples/window.h. */
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "examples/window.h"
#include "vkdispatch_codegen.h"

#include <math.h>

enum { WIDTH = 640, HEIGHT = 400, SWEEPS = 16, PICTURE_FRAMES = 40 };

typedef struct fluid {
    window w;
    vd_kernel advect, stir, diverge, relax, project, show;
    vd_image velocity[2], dye[2], pressure[2], divergence;
} fluid;

static vc_kernel *begin(vd_context *ctx, const char *name) {
    return vc_begin(&(vc_kernel_desc){ .name = name, .local_size = { 16, 16 }, .machine = vd_machine(ctx) });
}

static vd_kernel end(vd_context *ctx, vc_kernel *k) {
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    if (!kernel.id) window_fail("cannot build a kernel");
    return kernel;
}

static vc_image_ref target(vc_kernel *k, vc_format format) {
    return vc_image(k, "to", &(vc_image_desc){ .storage = true, .format = format, .access = VC_WRITE });
}

/* Texture coordinates of the middle of a cell, moved by (dx, dy) cells. */
static vc_val place(vc_kernel *k, vc_val x, vc_val y, vc_val dx, vc_val dy) {
    vc_val u = vc_mul(vc_add(vc_add(vc_cast(VC_F32, x), vc_f32(0.5f)), dx), vc_const(k, vc_f32(1.0f / WIDTH)));
    vc_val v = vc_mul(vc_add(vc_add(vc_cast(VC_F32, y), vc_f32(0.5f)), dy), vc_const(k, vc_f32(1.0f / HEIGHT)));
    return vc_vec2(u, v);
}

/* Component `c` of a neighbour; of the cell itself at the edge. */
static vc_val near(vc_image_ref from, vc_val x, vc_val y, int dx, int dy, uint32_t c) {
    vc_val to_x = vc_clamp(vc_add(vc_cast(VC_I32, x), vc_i32(dx)), vc_i32(0), vc_i32(WIDTH - 1));
    vc_val to_y = vc_clamp(vc_add(vc_cast(VC_I32, y), vc_i32(dy)), vc_i32(0), vc_i32(HEIGHT - 1));
    return vc_component(vc_fetch(from, vc_vec2(to_x, to_y), vc_i32(0)), c);
}

/* to = from, as it was one step before at the place from which the flow came; fades. */
static vd_kernel build_advect(vd_context *ctx) {
    vc_kernel *k = begin(ctx, "advect");
    vc_image_ref velocity = vc_image(k, "velocity", NULL), from = vc_image(k, "from", NULL);
    vc_image_ref to = target(k, VC_FORMAT_RGBA16_F);
    vc_val keep = vc_param(k, "keep", VC_F32);
    VC_EACH2(k, x, y) {
        vc_val v = vc_sample(velocity, place(k, x, y, vc_f32(0), vc_f32(0)));
        vc_val back = place(k, x, y, vc_neg(vc_component(v, 0)), vc_neg(vc_component(v, 1)));
        vc_image_store(to, vc_vec2(x, y), vc_mul(vc_sample(from, back), vc_splat(keep, 4)));
    }
    return end(ctx, k);
}

/* Adds `amount` around a point. */
static vd_kernel build_stir(vd_context *ctx) {
    vc_kernel *k = begin(ctx, "stir");
    vc_image_ref from = vc_image(k, "from", NULL), to = target(k, VC_FORMAT_RGBA16_F);
    vc_val at = vc_param(k, "at", VC_F32X2), amount = vc_param(k, "amount", VC_F32X4);
    VC_EACH2(k, x, y) {
        vc_val d = vc_sub(vc_vec2(vc_cast(VC_F32, x), vc_cast(VC_F32, y)), at);
        vc_val weight = vc_exp(vc_mul(vc_dot(d, d), vc_f32(-1.0f / 150)));
        vc_val old = vc_sample(from, place(k, x, y, vc_f32(0), vc_f32(0)));
        vc_image_store(to, vc_vec2(x, y), vc_fma(amount, vc_splat(weight, 4), old));
    }
    return end(ctx, k);
}

static vd_kernel build_diverge(vd_context *ctx) {
    vc_kernel *k = begin(ctx, "diverge");
    vc_image_ref v = vc_image(k, "velocity", NULL), to = target(k, VC_FORMAT_R32_F);
    VC_EACH2(k, x, y) {
        vc_val across = vc_sub(near(v, x, y, 1, 0, 0), near(v, x, y, -1, 0, 0));
        vc_val down = vc_sub(near(v, x, y, 0, 1, 1), near(v, x, y, 0, -1, 1));
        vc_val sum = vc_mul(vc_add(across, down), vc_f32(0.5f));
        vc_image_store(to, vc_vec2(x, y), vc_vec4(sum, sum, sum, sum));
    }
    return end(ctx, k);
}

/* One sweep of Jacobi's method for the pressure. */
static vd_kernel build_relax(vd_context *ctx) {
    vc_kernel *k = begin(ctx, "relax");
    vc_image_ref p = vc_image(k, "pressure", NULL), divergence = vc_image(k, "divergence", NULL);
    vc_image_ref to = target(k, VC_FORMAT_R32_F);
    VC_EACH2(k, x, y) {
        vc_val beside = vc_add(near(p, x, y, 1, 0, 0), near(p, x, y, -1, 0, 0));
        vc_val above = vc_add(near(p, x, y, 0, 1, 0), near(p, x, y, 0, -1, 0));
        vc_val sum = vc_sub(vc_add(beside, above), near(divergence, x, y, 0, 0, 0));
        vc_val value = vc_mul(sum, vc_f32(0.25f));
        vc_image_store(to, vc_vec2(x, y), vc_vec4(value, value, value, value));
    }
    return end(ctx, k);
}

/* Subtracts the gradient of the pressure. */
static vd_kernel build_project(vd_context *ctx) {
    vc_kernel *k = begin(ctx, "project");
    vc_image_ref v = vc_image(k, "velocity", NULL), p = vc_image(k, "pressure", NULL);
    vc_image_ref to = target(k, VC_FORMAT_RGBA16_F);
    VC_EACH2(k, x, y) {
        vc_val dx = vc_sub(near(p, x, y, 1, 0, 0), near(p, x, y, -1, 0, 0));
        vc_val dy = vc_sub(near(p, x, y, 0, 1, 0), near(p, x, y, 0, -1, 0));
        vc_val vx = vc_fma(dx, vc_f32(-0.5f), near(v, x, y, 0, 0, 0));
        vc_val vy = vc_fma(dy, vc_f32(-0.5f), near(v, x, y, 0, 0, 1));
        vc_image_store(to, vc_vec2(x, y), vc_vec4(vx, vy, vc_f32(0), vc_f32(0)));
    }
    return end(ctx, k);
}

static vd_kernel build_show(vd_context *ctx) {
    vc_kernel *k = begin(ctx, "show");
    vc_image_ref dye = vc_image(k, "dye", NULL), to = target(k, VC_FORMAT_RGBA8_UNORM);
    VC_EACH2(k, x, y) {
        vc_val c = vc_sample(dye, place(k, x, y, vc_f32(0), vc_f32(0)));
        vc_val bright = vc_sub(vc_f32(1), vc_exp(vc_neg(c)));
        vc_image_store(to, vc_vec2(x, y), vc_vec4(vc_component(bright, 0), vc_component(bright, 1),
                                                  vc_component(bright, 2), vc_f32(1)));
    }
    return end(ctx, k);
}

static vd_image make_image(vd_context *ctx, const char *name, vd_format format) {
    vd_image image = vd_image_create(ctx, &(vd_image_desc){ .name = name, .format = format,
                                                            .extent = { WIDTH, HEIGHT } });
    if (!image.id) window_fail("cannot create an image");
    return image;
}

static void swap(vd_image images[2]) {
    vd_image first = images[0];
    images[0] = images[1];
    images[1] = first;
}

static void need(vd_result r) {
    if (r) window_fail("cannot dispatch");
}

/* Where and how the fluid is stirred: with the mouse, or without a window along a rosette. */
static bool stirring(const window *w, float at[2], float push[2]) {
    float t = 0.05f * (float)w->frame;
    at[0] = w->x;
    at[1] = w->y;
    push[0] = 0.4f * (w->x - w->before_x);
    push[1] = 0.4f * (w->y - w->before_y);
    if (!w->picture) return w->pressed;
    at[0] = WIDTH * (0.5f + 0.3f * cosf(t));
    at[1] = HEIGHT * (0.5f + 0.3f * sinf(2 * t));
    push[0] = -2.5f * sinf(t);
    push[1] = 2.5f * cosf(2 * t);
    return true;
}

static void stir(fluid *f) {
    vd_context *ctx = f->w.ctx;
    float at[2], push[2], t = 0.03f * (float)f->w.frame;
    if (!stirring(&f->w, at, push)) return;
    float force[4] = { push[0], push[1], 0, 0 };
    float colour[4] = { 0.3f + 0.3f * cosf(t), 0.3f + 0.3f * cosf(t + 2), 0.3f + 0.3f * cosf(t + 4), 0 };
    need(vd_run2(ctx, f->stir, WIDTH, HEIGHT, vd_i(f->velocity[0]), vd_i(f->velocity[1]), vd_value(VD_F32X2, at),
                 vd_value(VD_F32X4, force)));
    swap(f->velocity);
    need(vd_run2(ctx, f->stir, WIDTH, HEIGHT, vd_i(f->dye[0]), vd_i(f->dye[1]), vd_value(VD_F32X2, at),
                 vd_value(VD_F32X4, colour)));
    swap(f->dye);
}

static void step(fluid *f) {
    vd_context *ctx = f->w.ctx;
    stir(f);
    need(vd_run2(ctx, f->diverge, WIDTH, HEIGHT, vd_i(f->velocity[0]), vd_i(f->divergence)));
    for (int i = 0; i < SWEEPS; i++) {
        need(vd_run2(ctx, f->relax, WIDTH, HEIGHT, vd_i(f->pressure[0]), vd_i(f->divergence), vd_i(f->pressure[1])));
        swap(f->pressure);
    }
    need(vd_run2(ctx, f->project, WIDTH, HEIGHT, vd_i(f->velocity[0]), vd_i(f->pressure[0]), vd_i(f->velocity[1])));
    swap(f->velocity);
    need(vd_run2(ctx, f->advect, WIDTH, HEIGHT, vd_i(f->velocity[0]), vd_i(f->dye[0]), vd_i(f->dye[1]),
                 vd_f32(0.998f)));
    swap(f->dye);
    need(vd_run2(ctx, f->advect, WIDTH, HEIGHT, vd_i(f->velocity[0]), vd_i(f->velocity[0]), vd_i(f->velocity[1]),
                 vd_f32(0.999f)));
    swap(f->velocity);
    need(vd_run2(ctx, f->show, WIDTH, HEIGHT, vd_i(f->dye[0]), vd_i(f->w.image)));
}

int main(int argc, char **argv) {
    fluid f;
    window_open(&f.w, "Fluid", WIDTH, HEIGHT, "fluid.png", PICTURE_FRAMES, argc, argv);
    vd_context *ctx = f.w.ctx;
    f.advect = build_advect(ctx);
    f.stir = build_stir(ctx);
    f.diverge = build_diverge(ctx);
    f.relax = build_relax(ctx);
    f.project = build_project(ctx);
    f.show = build_show(ctx);
    for (int i = 0; i < 2; i++) {
        f.velocity[i] = make_image(ctx, "velocity", VD_FORMAT_RGBA16_F);
        f.dye[i] = make_image(ctx, "dye", VD_FORMAT_RGBA16_F);
        f.pressure[i] = make_image(ctx, "pressure", VD_FORMAT_R32_F);
    }
    f.divergence = make_image(ctx, "divergence", VD_FORMAT_R32_F);
    do step(&f);
    while (window_show(&f.w));
    window_close(&f.w);
    return 0;
}
