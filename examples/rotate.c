/* Turns and shrinks a photograph by sampling it: an image with a mip chain, a sampler with a border, and a storage
   image for the result, which becomes a PNG. Mip chains need the Vulkan backend.
   cc -std=c99 -O2 -I. examples/rotate.c -o rotate -ldl -lpthread -lm
   Run: ./rotate [in.jpg [out.png]]. Without in.jpg, run it in the root of the repository.
   Needs stb_image.h and stb_image_write.h (Debian: libstb-dev). */
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

enum { SIZE = 256 }; /* pixels along each side of the result */

/* to[x, y] = from, sampled at the turned position. `scale`: texture coordinates for each pixel. */
static vd_kernel build_rotate(vd_context *ctx) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "rotate", .local_size = { 16, 16 },
                                               .machine = vd_machine(ctx) });
    vc_image_ref from = vc_image(k, "from", NULL);
    vc_image_ref to = vc_image(k, "to", &(vc_image_desc){ .storage = true, .format = VC_FORMAT_RGBA8_UNORM,
                                                          .access = VC_WRITE });
    vc_val cosine = vc_param(k, "cosine", VC_F32), sine = vc_param(k, "sine", VC_F32);
    vc_val scale = vc_param(k, "scale", VC_F32), lod = vc_param(k, "lod", VC_F32);
    VC_EACH2(k, x, y) {
        vc_val u = vc_mul(vc_sub(vc_cast(VC_F32, x), vc_f32(SIZE / 2)), scale);
        vc_val v = vc_mul(vc_sub(vc_cast(VC_F32, y), vc_f32(SIZE / 2)), scale);
        vc_val turned_u = vc_sub(vc_mul(u, cosine), vc_mul(v, sine));
        vc_val turned_v = vc_add(vc_mul(u, sine), vc_mul(v, cosine));
        vc_val at = vc_vec2(vc_add(turned_u, vc_f32(0.5f)), vc_add(turned_v, vc_f32(0.5f)));
        vc_image_store(to, vc_vec2(x, y), vc_sample_lod(from, at, lod));
    }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

int main(int argc, char **argv) {
    const char *in = argc > 1 ? argv[1] : "examples/data/grace_hopper.jpg", *out = argc > 2 ? argv[2] : "rotate.png";
    int width = 0, height = 0, channels = 0;
    static uint8_t pixels[SIZE * SIZE * 4];
    vd_context *ctx = NULL;
    uint8_t *photo = stbi_load(in, &width, &height, &channels, 4);
    if (!photo) { fprintf(stderr, "%s: %s\n", in, stbi_failure_reason()); return 1; }
    if (vd_context_create(&(vd_context_desc){ .backend = VD_BACKEND_VULKAN, .graphics = true }, &ctx)) {
        printf("no Vulkan device: %s\n", vd_error_text());
        return 77;
    }
    uint32_t w = (uint32_t)width, h = (uint32_t)height;
    vd_image from = vd_image_create(ctx, &(vd_image_desc){ .name = "photo", .format = VD_FORMAT_RGBA8_UNORM,
        .extent = { w, h }, .levels = VD_ALL_LEVELS, .usage = VD_IMAGE_SAMPLED, .data = photo });
    vd_image to = vd_image_create(ctx, &(vd_image_desc){ .name = "turned", .format = VD_FORMAT_RGBA8_UNORM,
        .extent = { SIZE, SIZE } });
    vd_sampler sampler = vd_sampler_create(ctx, &(vd_sampler_desc){ .address = { VD_ADDRESS_BORDER, VD_ADDRESS_BORDER },
        .border = VD_BORDER_BLACK });
    vd_kernel rotate = build_rotate(ctx);
    float scale = 1.4f / SIZE, lod = log2f(scale * (float)(w < h ? w : h));
    vd_result r = from.id ? vd_generate_mips(vd_immediate(ctx, 0, 0), from) : VD_ERROR_INVALID; /* too large */
    if (!r)
        r = vd_run2(ctx, rotate, SIZE, SIZE, vd_sampled(from, &sampler), vd_i(to), vd_f32(cosf(0.5f)),
                    vd_f32(sinf(0.5f)), vd_f32(scale), vd_f32(lod > 0 ? lod : 0));
    if (!r) r = vd_image_download(ctx, &(vd_image_transfer){ .box = { .image = to } }, pixels);
    if (r) fprintf(stderr, "%s\n", vd_error_text());
    else if (stbi_write_png(out, SIZE, SIZE, 4, pixels, SIZE * 4)) printf("%s: %u x %u texels turned\n", out, w, h);
    vd_context_destroy(ctx);
    free(photo);
    return r != VD_OK;
}
