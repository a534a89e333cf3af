/* vdview: shows a file as a picture: raw texels in any format of vkdispatch.h, or PNG, JPEG and others that stb_image
   reads. Prints the range of each component.

   cc -O1 -I. tools/vdview.c -o vdview -ldl -lpthread -lm     with a window: add -DWINDOW -lglfw
   vdview FILE [--size WxH] [--format NAME] [--offset BYTES] [--pitch BYTES] [--range LOW:HIGH] [--picture OUT.png]
   --size     a raw file; without it, an image file that stb_image reads
   --format   of raw texels, rgba8unorm by default. "vdview --formats" lists them
   --offset   where the texels begin; --pitch: bytes from row to row, without padding by default
   --range    values shown as black and white. Default: 0:1 for normalised formats, else the lowest and highest
   Without a window, the picture is written to vdview.png by default. */
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "examples/window.h"
#include "vkdispatch_codegen.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include <math.h>

enum { MAX_EXTENT = 16384 };

typedef struct options {
    const char *file, *format;
    unsigned width, height;      /* 0: an image file */
    unsigned long long offset, pitch;
    float low, high;
    bool ranged, list, srgb;
} options;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "vdview: %s: %s\n", what, why);
    exit(1);
}

/* Reads the options of vdview, and moves those of examples/window.h to `rest`. Returns their number. */
static int read_options(options *o, int argc, char **argv, char **rest) {
    int count = 1;
    memset(o, 0, sizeof *o);
    o->format = "rgba8unorm";
    rest[0] = argv[0];
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        char end;
        if (!strcmp(argv[i], "--formats")) { o->list = true; continue; }
        if (strncmp(argv[i], "--", 2)) { o->file = argv[i]; continue; }
        i++;
        if (!strcmp(argv[i - 1], "--size") && sscanf(value, "%6ux%6u%c", &o->width, &o->height, &end) == 2) {
            if (!o->width || !o->height || o->width > MAX_EXTENT || o->height > MAX_EXTENT)
                fail(value, "the size must be 1x1 to 16384x16384");
        } else if (!strcmp(argv[i - 1], "--format") && *value) o->format = value;
        else if (!strcmp(argv[i - 1], "--offset") && sscanf(value, "%llu%c", &o->offset, &end) == 1) continue;
        else if (!strcmp(argv[i - 1], "--pitch") && sscanf(value, "%llu%c", &o->pitch, &end) == 1) continue;
        else if (!strcmp(argv[i - 1], "--range") && sscanf(value, "%f:%f%c", &o->low, &o->high, &end) == 2)
            o->ranged = true;
        else if ((!strcmp(argv[i - 1], "--picture") || !strcmp(argv[i - 1], "--frames")) && *value) {
            rest[count++] = argv[i - 1];
            rest[count++] = argv[i];
        } else fail(argv[i - 1], "not an option, or its value is missing or wrong; see the head of tools/vdview.c");
    }
    if (!o->file && !o->list) fail("no file", "usage: vdview FILE [--size WxH] [--format NAME] ...");
    if (o->ranged && !(o->low < o->high)) fail("--range", "LOW must be less than HIGH");
    return count;
}

static vd_format find_format(vd_context *ctx, const char *name, vd_format_info *info) {
    for (int i = 1; i < VD_FORMATS_END; i++)
        if (!vd_format_query(ctx, 0, (vd_format)i, info) && !strcmp(info->name, name)) return (vd_format)i;
    fail(name, "not a format; vdview --formats lists them");
    return VD_FORMAT_NONE;
}

static void list_formats(vd_context *ctx) {
    vd_format_info info;
    for (int i = 1; i < VD_FORMATS_END; i++)
        if (!vd_format_query(ctx, 0, (vd_format)i, &info) && info.usage & VD_IMAGE_SAMPLED) printf("%s\n", info.name);
}

/* Reads the texels of a raw file. The caller frees them. */
static void *read_raw(const options *o, const vd_format_info *info, uint64_t *pitch) {
    uint64_t columns = (o->width + info->block_extent - 1) / info->block_extent, row = columns * info->block_bytes;
    uint64_t rows = (o->height + info->block_height - 1) / info->block_height;
    *pitch = o->pitch ? o->pitch : row;
    if (*pitch < row || *pitch > UINT32_MAX) fail("--pitch", "less than the bytes of a row, or too large");
    size_t need = (size_t)((rows - 1) * *pitch + row);
    FILE *f = fopen(o->file, "rb");
    void *bytes = malloc(need);
    if (!f) fail(o->file, "cannot be opened");
    if (!bytes) fail(o->file, "not enough memory");
    if (o->offset > 0x7FFFFFFF) fail("--offset", "more than 2147483647");
    bool sought = !fseek(f, (long)o->offset, SEEK_SET);
    size_t got = sought ? fread(bytes, 1, need, f) : 0;
    if (!sought || ferror(f)) fail(o->file, "cannot be read");
    fclose(f);
    if (got < need) {
        fprintf(stderr, "vdview: %s: %ux%u texels of %s need %zu bytes from offset %llu, but the file has only %zu\n",
                o->file, o->width, o->height, o->format, need, o->offset, got);
        exit(1);
    }
    return bytes;
}

/* values[y * width + x] = the texel as four f32 */
static vd_kernel build_decode(vd_context *ctx, vc_type type) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "decode", .local_size = { 16, 16 },
                                               .machine = vd_machine(ctx) });
    vc_image_ref from = vc_image(k, "from", &(vc_image_desc){ .type = type });
    vc_ref values = vc_buffer(k, "values", VC_F32X4, VC_WRITE);
    vc_val width = vc_param(k, "width", VC_U32);
    VC_EACH2(k, x, y) {
        vc_val texel = vc_fetch(from, vc_vec2(x, y), vc_u32(0)), c[4];
        for (uint32_t i = 0; i < 4; i++) c[i] = vc_cast(VC_F32, vc_component(texel, i));
        vc_store(values, vc_add(vc_mul(y, width), x), vc_vec4(c[0], c[1], c[2], c[3]));
    }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

/* Returns the texels as four f32 each, decoded by the device. The caller frees them. */
static float *decode(vd_context *ctx, const options *o, vd_format format, const vd_format_info *info,
                     const void *texels, uint64_t pitch) {
    uint64_t count = (uint64_t)o->width * o->height;
    float *values = (float *)malloc((size_t)count * 4 * sizeof *values);
    vd_image image = vd_image_create(ctx, &(vd_image_desc){ .name = o->file, .format = format,
        .extent = { o->width, o->height }, .usage = VD_IMAGE_SAMPLED });
    vd_image_transfer transfer = { .box = { .image = image }, .row_pitch = pitch };
    vd_buffer buffer = vd_buffer_create(ctx, &(vd_buffer_desc){ .name = "values", .type = VD_F32X4,
                                                                .shape = { count } });
    vd_kernel kernel = build_decode(ctx, info->type == VD_I32 ? VC_I32 : info->type == VD_U32 ? VC_U32 : VC_F32);
    if (!values || !image.id || !buffer.id || !kernel.id) window_fail("vdview");
    vd_result r = vd_image_upload(ctx, &transfer, texels);
    if (!r) r = vd_run2(ctx, kernel, o->width, o->height, vd_i(image), vd_b(buffer), vd_u32(o->width));
    if (!r) r = vd_buffer_read(ctx, buffer, 0, values, VD_WHOLE);
    if (r) window_fail("vdview");
    vd_kernel_destroy(ctx, kernel);
    vd_buffer_destroy(ctx, buffer);
    vd_image_destroy(ctx, image);
    return values;
}

/* Prints the range of each component. Sets the range to show, unless it was given. */
static void find_range(options *o, const float *values, uint32_t components) {
    float lowest = INFINITY, highest = -INFINITY;
    uint64_t count = (uint64_t)o->width * o->height;
    for (uint32_t c = 0; c < components; c++) {
        float low = INFINITY, high = -INFINITY;
        double sum = 0;
        uint64_t finite = 0;
        for (uint64_t i = 0; i < count; i++) {
            float v = values[4 * i + c];
            if (!isfinite(v)) continue;
            if (v < low) low = v;
            if (v > high) high = v;
            sum += (double)v;
            finite++;
        }
        printf("%c: %g to %g, mean %g", "rgba"[c], (double)low, (double)high, finite ? sum / (double)finite : 0);
        if (finite < count) printf(", %llu infinite or NaN", (unsigned long long)(count - finite));
        printf("\n");
        if (low < lowest && c < 3) lowest = low;
        if (high > highest && c < 3) highest = high;
    }
    if (o->ranged) return;
    o->low = lowest < highest ? lowest : lowest - 0.5f;
    o->high = lowest < highest ? highest : lowest + 0.5f;
}

static uint8_t shade(const options *o, float v) {
    float x = (v - o->low) / (o->high - o->low);
    if (o->srgb) x = x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1 / 2.4f) - 0.055f; /* the device decoded it */
    return (uint8_t)(x >= 1 ? 255 : x > 0 ? 255 * x + 0.5f : 0); /* NaN: black */
}

/* Reads and decodes the file. The caller frees the values. */
static float *load(vd_context *ctx, options *o) {
    vd_format_info info;
    uint64_t pitch = 0;
    void *texels = NULL;
    if (!o->width) {
        int width, height, channels;
        texels = stbi_load(o->file, &width, &height, &channels, 4);
        if (!texels) fail(o->file, stbi_failure_reason());
        o->width = (unsigned)width;
        o->height = (unsigned)height;
        o->format = "rgba8unorm";
    }
    vd_format format = find_format(ctx, o->format, &info);
    if (!texels) texels = read_raw(o, &info, &pitch);
    float *values = decode(ctx, o, format, &info, texels, pitch);
    printf("%s: %u x %u texels of %s\n", o->file, o->width, o->height, o->format);
    o->srgb = strstr(info.name, "srgb") != NULL;
    bool normal = strstr(info.name, "norm") || o->srgb;
    if (normal && !o->ranged) o->high = 1;
    o->ranged = o->ranged || normal;
    find_range(o, values, info.components);
    for (uint64_t i = 0; i < (uint64_t)o->width * o->height && info.components == 1; i++)
        values[4 * i + 1] = values[4 * i + 2] = values[4 * i]; /* grey */
    free(texels);
    return values;
}

/* Uploads the picture to the image of the window. */
static void draw(const window *w, const options *o, const float *values) {
    size_t count = (size_t)o->width * o->height;
    uint8_t *pixels = (uint8_t *)malloc(4 * count);
    vd_image_transfer transfer = { .box = { .image = w->image } };
    if (!pixels) fail(o->file, "not enough memory");
    for (size_t i = 0; i < 4 * count; i++) pixels[i] = i % 4 < 3 ? shade(o, values[i]) : 255;
    if (vd_image_upload(w->ctx, &transfer, pixels)) window_fail("vdview");
    free(pixels);
}

int main(int argc, char **argv) {
    options o;
    window w;
    vd_context *ctx = NULL;
    char **rest = (char **)malloc((size_t)(argc + 1) * sizeof *rest);
    if (!rest) return 1;
    int rest_count = read_options(&o, argc, argv, rest);
    if (vd_context_create(&(vd_context_desc){ .backend = VD_BACKEND_VULKAN }, &ctx)) {
        printf("no Vulkan device: %s\n", vd_error_text());
        return 77;
    }
    float *values = NULL;
    if (o.list) list_formats(ctx);
    else values = load(ctx, &o);
    vd_context_destroy(ctx);
    if (values) {
        window_open(&w, "vdview", (int)o.width, (int)o.height, "vdview.png", 1, rest_count, rest);
        draw(&w, &o, values);
        while (window_show(&w));
        window_close(&w);
    }
    free(values);
    free(rest);
    return 0;
}
