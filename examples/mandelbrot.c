/* Shows the Mandelbrot set, with four samples for each pixel. Drag to move, turn the wheel to zoom.
   cc -std=c99 -O2 -I. examples/mandelbrot.c -o mandelbrot -ldl -lpthread -lm
   With a window: add -DWINDOW and -lglfw. Run: ./mandelbrot [--picture FILE] [--frames N]; see examples/window.h. */
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "examples/window.h"
#include "vkdispatch_codegen.h"

#include <math.h>

enum { WIDTH = 960, HEIGHT = 600, SAMPLES = 2 }; /* samples of a pixel along each axis */

/* Returns the number of iterations until |z| > 16, with a fraction that makes it continuous; 0 inside of the set. */
static vc_val escape_time(vc_kernel *k, vc_val cx, vc_val cy, vc_val limit) {
    vc_ref zx = vc_var(k, "zx", VC_F32), zy = vc_var(k, "zy", VC_F32), n = vc_var(k, "n", VC_F32);
    vc_set(zx, cx);
    vc_set(zy, cy);
    vc_set(n, vc_f32(1));
    VC_LOOP(k) {
        vc_val x = vc_get(zx), y = vc_get(zy), length = vc_fma(x, x, vc_mul(y, y));
        vc_break_if(k, vc_or(vc_gt(length, vc_f32(256)), vc_ge(vc_get(n), limit)));
        vc_val xx = vc_sub(vc_mul(x, x), vc_mul(y, y));
        vc_set(zy, vc_fma(vc_mul(x, vc_f32(2)), y, cy));
        vc_set(zx, vc_add(xx, cx));
        vc_set(n, vc_add(vc_get(n), vc_f32(1)));
    }
    vc_val x = vc_get(zx), y = vc_get(zy), length = vc_fma(x, x, vc_mul(y, y));
    vc_val smooth = vc_sub(vc_get(n), vc_log2(vc_mul(vc_log2(vc_max(length, vc_f32(4))), vc_f32(0.5f))));
    return vc_select(vc_gt(length, vc_f32(256)), smooth, vc_f32(0));
}

/* A palette that repeats: blue, white, orange, black. */
static vc_val colour_of(vc_val t) {
    vc_val phase = vc_mul(vc_sqrt(t), vc_f32(0.55f)), inside = vc_le(t, vc_f32(0));
    vc_val red = vc_fma(vc_cos(vc_add(phase, vc_f32(2.6f))), vc_f32(0.5f), vc_f32(0.5f));
    vc_val green = vc_fma(vc_cos(vc_add(phase, vc_f32(3.1f))), vc_f32(0.5f), vc_f32(0.5f));
    vc_val blue = vc_fma(vc_cos(vc_add(phase, vc_f32(3.8f))), vc_f32(0.5f), vc_f32(0.5f));
    return vc_mul(vc_vec3(red, green, blue), vc_splat(vc_select(inside, vc_f32(0), vc_f32(1)), 3));
}

static vd_kernel build(vd_context *ctx) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "mandelbrot", .local_size = { 16, 8 },
                                               .machine = vd_machine(ctx) });
    vc_image_ref to = vc_image(k, "to", &(vc_image_desc){ .storage = true, .format = VC_FORMAT_RGBA8_UNORM,
                                                          .access = VC_WRITE });
    vc_val centre_x = vc_param(k, "centre_x", VC_F32), centre_y = vc_param(k, "centre_y", VC_F32);
    vc_val scale = vc_param(k, "scale", VC_F32), limit = vc_param(k, "limit", VC_F32);
    VC_EACH2(k, x, y) {
        vc_val sum = vc_splat(vc_const(k, vc_f32(0)), 3);
        for (int i = 0; i < SAMPLES * SAMPLES; i++) {
            float dx = ((float)(i % SAMPLES) + 0.5f) / SAMPLES, dy = ((float)(i / SAMPLES) + 0.5f) / SAMPLES;
            vc_val cx = vc_fma(vc_add(vc_cast(VC_F32, x), vc_f32(dx - WIDTH / 2)), scale, centre_x);
            vc_val cy = vc_fma(vc_add(vc_cast(VC_F32, y), vc_f32(dy - HEIGHT / 2)), scale, centre_y);
            sum = vc_add(sum, colour_of(escape_time(k, cx, cy, limit)));
        }
        vc_val colour = vc_mul(sum, vc_splat(vc_const(k, vc_f32(1.0f / (SAMPLES * SAMPLES))), 3));
        vc_image_store(to, vc_vec2(x, y), vc_vec4(vc_component(colour, 0), vc_component(colour, 1),
                                                  vc_component(colour, 2), vc_f32(1)));
    }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

int main(int argc, char **argv) {
    window w;
    window_open(&w, "Mandelbrot set", WIDTH, HEIGHT, "mandelbrot.png", 1, argc, argv);
    vd_kernel kernel = build(w.ctx);
    if (!kernel.id) window_fail("cannot build the kernel");
    float x = -0.7443f, y = 0.1313f, scale = 0.0075f / WIDTH;
    do {
        if (w.pressed) {
            x -= scale * (w.x - w.before_x);
            y -= scale * (w.y - w.before_y);
        }
        if (w.scrolled != 0) { /* the point below the mouse stays where it is */
            float factor = powf(0.8f, w.scrolled), smaller = scale * factor;
            x += (w.x - WIDTH / 2) * (scale - smaller);
            y += (w.y - HEIGHT / 2) * (scale - smaller);
            scale = smaller;
        }
        w.scrolled = 0;
        float limit = 200 + 40 * log2f(3.0f / WIDTH / scale + 1);
        if (vd_run2(w.ctx, kernel, WIDTH, HEIGHT, vd_i(w.image), vd_f32(x), vd_f32(y), vd_f32(scale), vd_f32(limit)))
            window_fail("cannot dispatch");
    } while (window_show(&w));
    vd_kernel_destroy(w.ctx, kernel);
    window_close(&w);
    return 0;
}
