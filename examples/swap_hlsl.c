/* Exchanges the red and the blue channel of a picture, by a kernel in HLSL that is compiled at run time. Errors in the
   HLSL are printed with their lines. Needs glslang (Debian: glslang-dev, pkg-config); other versions may need other
   libraries, see "GLSL and HLSL" in vkdispatch.h.
   cc -O1 -I. -c examples/swap_hlsl.c -o swap_hlsl.o &&
   cc swap_hlsl.o -o swap_hlsl $(pkg-config --libs glslang spirv) -lglslang-default-resource-limits -lstdc++ -lm -ldl
   Run: ./swap_hlsl [PICTURE [OUT.png]]. Without PICTURE, run it in the root of the repository. */
#define VKDISPATCH_GLSLANG
#define VKDISPATCH_IMPLEMENTATION
#include "vkdispatch.h"

#include <stdio.h>
#include <stdlib.h>

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

/* Arguments of the dispatch are in the order of kinds of registers: b, t, u, s. */
static const char code[] =
    "Texture2D<float4> source : register(t0);\n"
    "RWTexture2D<float4> target : register(u0);\n"
    "[numthreads(8, 8, 1)]\n"
    "void main(uint3 id : SV_DispatchThreadID) {\n"
    "    uint width, height;\n"
    "    target.GetDimensions(width, height);\n"
    "    if (id.x < width && id.y < height) target[id.xy] = source.Load(int3(id.xy, 0)).bgra;\n"
    "}\n";

static void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, vd_error_text());
    exit(1);
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "examples/data/grace_hopper.jpg", *out = argc > 2 ? argv[2] : "swapped.png";
    int width, height, channels;
    uint8_t *pixels = stbi_load(path, &width, &height, &channels, 4);
    vd_context *ctx = NULL;
    if (!pixels) { fprintf(stderr, "%s: %s\n", path, stbi_failure_reason()); return 1; }
    if (vd_context_create(&(vd_context_desc){ .backend = VD_BACKEND_VULKAN }, &ctx)) {
        printf("no Vulkan device: %s\n", vd_error_text());
        return 77;
    }
    vd_image_desc desc = { .name = "source", .format = VD_FORMAT_RGBA8_UNORM, .usage = VD_IMAGE_SAMPLED,
                           .extent = { (uint32_t)width, (uint32_t)height }, .data = pixels };
    vd_image source = vd_image_create(ctx, &desc);
    desc.name = "target";
    desc.usage = VD_IMAGE_STORAGE;
    desc.data = NULL;
    vd_image target = vd_image_create(ctx, &desc);
    vd_kernel swap = vd_kernel_create(ctx, &(vd_kernel_desc){ .name = "swap.hlsl", .code_kind = VD_CODE_HLSL,
                                                              .code = code, .code_size = sizeof code - 1 });
    if (!source.id || !target.id || !swap.id) fail("cannot start");
    if (vd_run2(ctx, swap, (uint32_t)width, (uint32_t)height, vd_i(source), vd_i(target))) fail("cannot dispatch");
    if (vd_image_download(ctx, &(vd_image_transfer){ .box = { .image = target } }, pixels)) fail("cannot read");
    if (!stbi_write_png(out, width, height, 4, pixels, 4 * width)) {
        fprintf(stderr, "cannot write %s\n", out);
        return 1;
    }
    printf("%s: %d x %d pixels, red and blue exchanged\n", out, width, height);
    stbi_image_free(pixels);
    vd_context_destroy(ctx);
    return 0;
}
