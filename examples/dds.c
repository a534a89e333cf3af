/* Shows a DDS file: a texture with a mip chain, compressed in blocks (BC1 to BC7) or not. The device decodes the blocks
   when a kernel samples the texture. Turn the mouse wheel to change the level of detail.
   cc -std=c99 -O2 -I. examples/dds.c -o dds -ldl -lpthread -lm
   With a window: add -DWINDOW and -lglfw. Run: ./dds [FILE] [--picture FILE] [--frames N]; see examples/window.h.
   Without FILE, run it in the root of the repository. */
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "examples/window.h"
#include "vkdispatch_codegen.h"

enum { HEADER = 128, EXTENDED = HEADER + 20, MAX_EXTENT = 16384 }; /* bytes before the texels; texels */

/* Formats by the code in the header, or by the number of DXGI_FORMAT in the extended header. The window shows the
   components without conversion, so those of _SRGB formats are not decoded either. */
static const struct { const char *code; uint32_t dxgi; vd_format format; } formats[] = {
    { "DXT1", 71, VD_FORMAT_BC1_UNORM }, { "DXT1", 72, VD_FORMAT_BC1_UNORM }, { "DXT3", 74, VD_FORMAT_BC2_UNORM },
    { "DXT3", 75, VD_FORMAT_BC2_UNORM }, { "DXT5", 77, VD_FORMAT_BC3_UNORM }, { "DXT5", 78, VD_FORMAT_BC3_UNORM },
    { "ATI1", 80, VD_FORMAT_BC4_UNORM }, { "BC4U", 80, VD_FORMAT_BC4_UNORM }, { "BC4S", 81, VD_FORMAT_BC4_SNORM },
    { "ATI2", 83, VD_FORMAT_BC5_UNORM }, { "BC5U", 83, VD_FORMAT_BC5_UNORM }, { "BC5S", 84, VD_FORMAT_BC5_SNORM },
    { "    ", 95, VD_FORMAT_BC6H_UF }, { "    ", 96, VD_FORMAT_BC6H_F }, { "    ", 98, VD_FORMAT_BC7_UNORM },
    { "    ", 99, VD_FORMAT_BC7_UNORM }, { "    ", 28, VD_FORMAT_RGBA8_UNORM }, { "    ", 29, VD_FORMAT_RGBA8_UNORM },
    { "    ", 87, VD_FORMAT_BGRA8_UNORM }, { "    ", 91, VD_FORMAT_BGRA8_UNORM }, { "    ", 10, VD_FORMAT_RGBA16_F },
    { "    ", 2, VD_FORMAT_RGBA32_F }
};

typedef struct texture {
    uint8_t *bytes;          /* the file */
    size_t size, texels;     /* in bytes; offset of the first level */
    uint32_t width, height, levels;
    vd_format format;
} texture;

static void refuse(const char *path, const char *why) {
    fprintf(stderr, "%s: %s\n", path, why);
    exit(1);
}

static uint32_t word(const texture *t, size_t at) { /* little-endian */
    const uint8_t *b = t->bytes + at;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Without a code, 32 bits for each texel are accepted, with red in the lowest or in the third byte. */
static vd_format find_format(const texture *t) {
    bool extended = !memcmp(t->bytes + 84, "DX10", 4);
    bool coded = word(t, 80) & 4;
    for (size_t i = 0; i < sizeof formats / sizeof *formats && coded; i++)
        if (extended ? word(t, HEADER) == formats[i].dxgi : !memcmp(t->bytes + 84, formats[i].code, 4))
            return formats[i].format;
    if (coded || word(t, 88) != 32) return VD_FORMAT_NONE;
    if (word(t, 92) == 0xFF && word(t, 100) == 0xFF0000) return VD_FORMAT_RGBA8_UNORM;
    return word(t, 92) == 0xFF0000 && word(t, 100) == 0xFF ? VD_FORMAT_BGRA8_UNORM : VD_FORMAT_NONE;
}

static void read_file(const char *path, texture *t) {
    FILE *f = fopen(path, "rb");
    size_t capacity = 1 << 16, got = 1;
    memset(t, 0, sizeof *t);
    if (!f) refuse(path, "cannot be opened");
    while (got) {
        capacity *= 2;
        t->bytes = (uint8_t *)realloc(t->bytes, capacity);
        if (!t->bytes) refuse(path, "not enough memory");
        got = fread(t->bytes + t->size, 1, capacity - t->size, f);
        t->size += got;
    }
    fclose(f);
}

/* Reads the header, which is not trusted. */
static void read_header(const char *path, texture *t) {
    if (t->size < HEADER || memcmp(t->bytes, "DDS ", 4) || word(t, 4) != HEADER - 4 || word(t, 76) != 32)
        refuse(path, "not a DDS file");
    bool extended = word(t, 80) & 4 && !memcmp(t->bytes + 84, "DX10", 4);
    t->texels = extended ? EXTENDED : HEADER;
    if (t->size < t->texels) refuse(path, "the header is cut off");
    if (word(t, 112) & 0x200200 || (extended && word(t, HEADER + 4) != 3)) /* caps2: cube, volume; dimension: 2-D */
        refuse(path, "cubes, volumes and 1-D textures are not supported");
    t->height = word(t, 12);
    t->width = word(t, 16);
    t->levels = word(t, 28) ? word(t, 28) : 1;
    t->format = find_format(t);
    if (!t->format) refuse(path, "the format is not supported");
    if (!t->width || !t->height || t->width > MAX_EXTENT || t->height > MAX_EXTENT || t->levels > 15)
        refuse(path, "the extent or the number of levels is invalid");
}

static uint32_t level_extent(uint32_t extent, uint32_t level) { return extent >> level ? extent >> level : 1; }

/* Creates the image and uploads its levels, each of which begins where the one before ends. */
static vd_image upload(vd_context *ctx, const char *path, const texture *t) {
    vd_format_info info;
    vd_image image = vd_image_create(ctx, &(vd_image_desc){ .name = path, .format = t->format,
        .extent = { t->width, t->height }, .levels = t->levels, .usage = VD_IMAGE_SAMPLED });
    if (!image.id || vd_format_query(ctx, 0, t->format, &info)) window_fail(path);
    size_t at = t->texels;
    for (uint32_t i = 0; i < t->levels; i++) {
        size_t columns = (level_extent(t->width, i) + info.block_extent - 1) / info.block_extent;
        size_t rows = (level_extent(t->height, i) + info.block_extent - 1) / info.block_extent;
        size_t bytes = columns * rows * info.block_bytes;
        if (t->size - at < bytes) refuse(path, "the file ends within a level");
        if (vd_image_upload(ctx, &(vd_image_transfer){ .box = { .image = image, .level = i } }, t->bytes + at))
            window_fail(path);
        at += bytes;
    }
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

int main(int argc, char **argv) {
    bool named = argc > 1 && strncmp(argv[1], "--", 2);
    const char *path = named ? argv[1] : "examples/data/grace_hopper.dds";
    texture t;
    window w;
    if (named) argv[1] = argv[0];
    read_file(path, &t);
    read_header(path, &t);
    window_open(&w, "DDS", (int)t.width, (int)t.height, "dds.png", 1, argc - named, argv + named);
    vd_image image = upload(w.ctx, path, &t);
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
    printf("%s: %u x %u texels, %u levels\n", path, t.width, t.height, t.levels);
    window_close(&w);
    free(t.bytes);
    return 0;
}
