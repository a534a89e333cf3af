/* Shows a DDS file: a texture with a mip chain, compressed in blocks (BC1 to BC7) or not. The device decodes the blocks
   when a kernel samples the texture. Turn the mouse wheel to change the level of detail.
   cc -std=c99 -O2 -I. examples/dds.c -o dds -ldl -lpthread -lm
   With a window: add -DWINDOW and -lglfw. Run: ./dds [FILE] [--layer N] [--picture FILE] [--frames N]; see
   examples/window.h. Without FILE, run it in the root of the repository. N is the layer of an array, the face of a
   cube, or the slice of a volume. examples/dds.h reads the file. */
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "examples/window.h"
#include "examples/dds.h"
#include "vkdispatch_codegen.h"

enum { MAX_BYTES = 1 << 30 }; /* of a file */

static void refuse(const char *path, const char *why) {
    fprintf(stderr, "%s: %s\n", path, why);
    exit(1);
}

/* The caller frees the result. */
static uint8_t *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t capacity = 1 << 16, got = 1;
    if (!f) refuse(path, "cannot be opened");
    for (*size = 0; got; *size += got) {
        if (*size > MAX_BYTES) refuse(path, "the file has more than 1 GiB");
        capacity *= 2;
        bytes = (uint8_t *)realloc(bytes, capacity);
        if (!bytes) refuse(path, "not enough memory");
        got = fread(bytes + *size, 1, capacity - *size, f);
    }
    if (ferror(f)) refuse(path, "cannot be read");
    fclose(f);
    return bytes;
}

/* Creates an image of a layer or slice, and uploads its levels. */
static vd_image upload(vd_context *ctx, const char *path, const dds_texture *t, uint32_t layer) {
    uint32_t most = dds_max_levels(t->width, t->height, 1), levels = t->levels < most ? t->levels : most;
    uint8_t *unpacked = t->packed ? (uint8_t *)malloc((size_t)t->width * t->height * 4) : NULL;
    vd_image image = vd_image_create(ctx, &(vd_image_desc){ .name = path, .format = t->format,
        .extent = { t->width, t->height }, .levels = levels, .usage = VD_IMAGE_SAMPLED });
    if (t->packed && !unpacked) refuse(path, "not enough memory");
    if (!image.id) window_fail(path);
    for (uint32_t i = 0; i < levels; i++) {
        const uint8_t *texels = t->depth > 1 ? dds_texels(t, 0, layer, i) : dds_texels(t, layer, 0, i);
        if (unpacked) dds_unpack(t, texels, (size_t)dds_bytes(t, i) / t->block_bytes, unpacked);
        if (vd_image_upload(ctx, &(vd_image_transfer){ .box = { .image = image, .level = i } },
                            unpacked ? unpacked : texels))
            window_fail(path);
    }
    free(unpacked);
    return image;
}

static vd_kernel build(vd_context *ctx) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "show", .local_size = { 16, 16 }, .machine = vd_machine(ctx) });
    vc_image_ref from = vc_image(k, "from", NULL);
    vc_image_ref to = vc_image(k, "to", &(vc_image_desc){ .storage = true, .format = VC_FORMAT_RGBA8_UNORM,
                                                          .access = VC_WRITE });
    vc_val level = vc_param(k, "level", VC_F32), scale = vc_param(k, "scale", VC_F32X2);
    VC_EACH2(k, x, y) {
        vc_val centre = vc_vec2(vc_add(vc_cast(VC_F32, x), vc_f32(0.5f)), vc_add(vc_cast(VC_F32, y), vc_f32(0.5f)));
        vc_image_store(to, vc_vec2(x, y), vc_sample_lod(from, vc_mul(centre, scale), level));
    }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

/* Removes FILE and --layer N from the arguments; examples/window.h reads the rest. Returns the number of those. */
static int read_options(int argc, char **argv, const char **path, uint32_t *layer) {
    int count = 1;
    char end;
    for (int i = 1; i < argc; i++) {
        bool value = i + 1 < argc;
        if (value && !strcmp(argv[i], "--layer")) {
            if (sscanf(argv[++i], "%5u%c", layer, &end) != 1) refuse(argv[i], "not the number of a layer");
        } else if (i == 1 && strncmp(argv[i], "--", 2)) *path = argv[i];
        else argv[count++] = argv[i];
    }
    return count;
}

int main(int argc, char **argv) {
    const char *path = "examples/data/grace_hopper.dds";
    char why[DDS_WHY];
    uint32_t layer = 0;
    size_t size;
    dds_texture t;
    window w;
    argc = read_options(argc, argv, &path, &layer);
    uint8_t *bytes = read_file(path, &size);
    if (!dds_read(bytes, size, &t, why)) refuse(path, why);
    uint32_t layers = t.layers * t.depth;
    if (layer >= layers) {
        dds_refuse(why, "there is no layer %llu, only %llu", layer, layers);
        refuse(path, why);
    }
    window_open(&w, "DDS", (int)t.width, (int)t.height, "dds.png", 1, argc, argv);
    vd_image image = upload(w.ctx, path, &t, layer);
    free(bytes);
    vd_kernel show = build(w.ctx);
    float level = 0, scale[2] = { 1.0f / (float)t.width, 1.0f / (float)t.height };
    if (!show.id) window_fail("cannot build the kernel");
    do {
        level += 0.5f * w.scrolled;
        w.scrolled = 0;
        if (level < 0) level = 0;
        if (level > (float)(t.levels - 1)) level = (float)(t.levels - 1);
        if (vd_run2(w.ctx, show, t.width, t.height, vd_i(image), vd_i(w.image), vd_f32(level),
                    vd_value(VD_F32X2, scale)))
            window_fail("cannot dispatch");
    } while (window_show(&w));
    printf("%s: %u x %u texels, %u layers, %u levels\n", path, t.width, t.height, layers, t.levels);
    window_close(&w);
    return 0;
}
