/* Images and samplers: contents after transfers, conversion of formats against a double oracle, arguments of kernels,
   and the messages of misuse. Backends without images must say so. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/layers.h"
#include <math.h>

static bool has_images(const fixture *f) { return has_features(f, VD_FEATURE_IMAGE); }

/* Whether a view can show some of the layers of an image, or show it with another dimension. */
static bool has_layer_views(const fixture *f) {
    return f->backend != VD_BACKEND_OPENCL && f->backend != VD_BACKEND_CUDA;
}

static void needs_images(const fixture *f) {
    if (!has_images(f)) skip_because("the backend has no images");
}

/* A context on the same device with queues that can blit. */
static vd_context *needs_blits(fixture *f) {
    vd_format_info info;
    vd_context_desc desc = fixture_desc(f);
    needs_images(f);
    desc.graphics = true;
    vd_context *ctx = context_with(f, &desc);
    OK(vd_format_query(ctx, 0, VD_FORMAT_R8_UNORM, &info));
    if (!(info.usage & VD_IMAGE_BLIT)) skip_because("the device has no queue with graphics");
    return ctx;
}

static vd_image_desc image_desc(vd_format format, vd_dim dim, uint32_t x, uint32_t y, uint32_t z) {
    vd_image_desc d;
    memset(&d, 0, sizeof d);
    d.name = "picture";
    d.format = format;
    d.dim = dim;
    d.extent[0] = x;
    d.extent[1] = y;
    d.extent[2] = z;
    return d;
}

static vd_image image_of(vd_context *ctx, const vd_image_desc *desc) {
    vd_image image = vd_image_create(ctx, desc);
    if (!image.id) fail_msg("vd_image_create: %s", vd_error_text());
    return image;
}

static vd_image image_2d(vd_context *ctx, vd_format format, uint32_t x, uint32_t y, const void *data) {
    vd_image_desc d = image_desc(format, VD_DIM_2D, x, y, 0);
    d.data = data;
    return image_of(ctx, &d);
}

static vd_image_transfer transfer_of(vd_image image) {
    vd_image_transfer t;
    memset(&t, 0, sizeof t);
    t.box.image = image;
    return t;
}

static vd_image_box box_of(vd_image image, uint32_t level) {
    vd_image_box b;
    memset(&b, 0, sizeof b);
    b.image = image;
    b.level = level;
    return b;
}

static void download(vd_context *ctx, vd_image image, uint32_t level, void *out) {
    vd_image_transfer t = transfer_of(image);
    t.box.level = level;
    OK(vd_image_download(ctx, &t, out));
}

static void fill_random(uint8_t *bytes, size_t count, uint64_t seed) {
    dice d = { seed };
    for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)roll(&d, 256);
}

/* ---- objects ---- */

TEST(backends_without_images_say_so) {
    vd_image_desc d = image_desc(VD_FORMAT_RGBA8_UNORM, VD_DIM_2D, 4, 4, 0);
    if (has_images(f)) skip_because("the backend has images");
    assert_int_equal(vd_image_create(f->ctx, &d).id, 0);
    check_failure("vd_image_create", vd_error_result(), VD_ERROR_UNSUPPORTED, "does not support images");
    assert_int_equal(vd_sampler_create(f->ctx, NULL).id, 0);
    check_failure("vd_sampler_create", vd_error_result(), VD_ERROR_UNSUPPORTED, "does not support images");
    vd_format_info info;
    OK(vd_format_query(f->ctx, 0, VD_FORMAT_RGBA8_UNORM, &info));
    assert_int_equal(info.usage, 0);
    assert_int_equal(vd_format_nearest(f->ctx, 0, VD_FORMAT_RGBA8_UNORM, VD_IMAGE_SAMPLED), VD_FORMAT_NONE);
}

TEST(images_are_described) {
    needs_images(f);
    vd_stats before = stats_of(f->ctx);
    vd_image_desc d = image_desc(VD_FORMAT_RGBA16_F, VD_DIM_2D_ARRAY, 20, 9, 0);
    d.levels = VD_ALL_LEVELS;
    d.layers = 3;
    d.usage = VD_IMAGE_SAMPLED;
    vd_image image = image_of(f->ctx, &d);
    vd_image_info info;
    OK(vd_image_query(f->ctx, image, &info));
    assert_string_equal(info.name, "picture");
    assert_int_equal(info.format, VD_FORMAT_RGBA16_F);
    assert_int_equal(info.dim, VD_DIM_2D_ARRAY);
    assert_int_equal(info.extent[0], 20);
    assert_int_equal(info.extent[1], 9);
    assert_int_equal(info.extent[2], 1);
    assert_int_equal(info.levels, 5);
    assert_int_equal(info.layers, 3);
    assert_int_equal(info.usage, VD_IMAGE_SAMPLED);
    assert_true(info.size >= 20 * 9 * 3 * 8);
    vd_image_view_desc v;
    memset(&v, 0, sizeof v);
    v.image = image;
    v.level = 2;
    if (has_layer_views(f)) {
        v.dim = VD_DIM_2D;
        v.layer = 1;
        v.layers = 1;
    }
    vd_image view = vd_image_view(f->ctx, &v);
    assert_true(view.id != 0);
    vd_image_info part;
    OK(vd_image_query(f->ctx, view, &part));
    assert_int_equal(part.dim, has_layer_views(f) ? VD_DIM_2D : VD_DIM_2D_ARRAY);
    assert_int_equal(part.extent[0], 5);
    assert_int_equal(part.extent[1], 2);
    assert_int_equal(part.levels, 3);
    assert_int_equal(part.layers, has_layer_views(f) ? 1 : 3);
    assert_int_equal(part.storage, info.storage);
    vd_sampler sampler = vd_sampler_create(f->ctx, NULL);
    assert_true(sampler.id != 0);
    assert_int_equal(stats_of(f->ctx).images, before.images + 2);
    assert_int_equal(stats_of(f->ctx).samplers, before.samplers + 1);
    vd_sampler_destroy(f->ctx, sampler);
    vd_image_destroy(f->ctx, image); /* with its view */
    assert_int_equal(stats_of(f->ctx).images, before.images);
    assert_int_equal(stats_of(f->ctx).samplers, before.samplers);
    FAILS(vd_image_query(f->ctx, view, &part), VD_ERROR_INVALID, "vd_image_query|was destroyed");
}

/* ---- transfers ---- */

TEST(new_images_are_zero) {
    static const struct { vd_format format; vd_dim dim; uint32_t extent[3], layers, levels; } cases[] = {
        { VD_FORMAT_RGBA8_UNORM, VD_DIM_2D, { 17, 5, 1 }, 1, 3 }, { VD_FORMAT_R16_U, VD_DIM_1D, { 33, 1, 1 }, 1, 1 },
        { VD_FORMAT_RGBA32_F, VD_DIM_3D, { 5, 6, 7 }, 1, 2 }, { VD_FORMAT_RG8_SNORM, VD_DIM_CUBE, { 8, 8, 1 }, 6, 1 },
        { VD_FORMAT_BC1_UNORM, VD_DIM_2D, { 12, 9, 1 }, 1, 2 }, { VD_FORMAT_D32_F, VD_DIM_2D, { 9, 4, 1 }, 1, 1 },
        { VD_FORMAT_R32_I, VD_DIM_1D_ARRAY, { 11, 1, 1 }, 4, 1 }
    };
    needs_images(f);
    for (size_t i = 0; i < COUNT(cases); i++) {
        static uint8_t bytes[1 << 14];
        vd_image_desc d = image_desc(cases[i].format, cases[i].dim, cases[i].extent[0], cases[i].extent[1],
                                     cases[i].extent[2]);
        d.layers = cases[i].layers;
        d.levels = cases[i].levels;
        if (vd_format_nearest(f->ctx, 0, d.format, VD_IMAGE_SAMPLED) != d.format) continue;
        vd_image image = image_of(f->ctx, &d);
        for (uint32_t level = 0; level < d.levels; level++) {
            memset(bytes, 99, sizeof bytes);
            download(f->ctx, image, level, bytes);
            assert_int_equal(bytes[0] | bytes[7], 0);
            for (size_t j = 0; j < sizeof bytes && bytes[j] != 99; j++) assert_int_equal(bytes[j], 0);
        }
        vd_image_destroy(f->ctx, image);
    }
}

TEST(boxes_slices_and_pitches) {
    enum { X = 12, Y = 7, Z = 5, BYTES = 4 };
    static uint8_t whole[Z][Y][X][BYTES], box[3][4][40], got[Z][Y][X][BYTES], back[3][4][40];
    static const vd_dim dims[] = { VD_DIM_3D, VD_DIM_2D_ARRAY };
    needs_images(f);
    for (size_t i = 0; i < COUNT(dims); i++) {
        bool layered = dims[i] == VD_DIM_2D_ARRAY;
        vd_image_desc d = image_desc(VD_FORMAT_RGBA8_U, dims[i], X, Y, layered ? 0 : Z);
        if (layered) d.layers = Z;
        fill_random(&whole[0][0][0][0], sizeof whole, 1);
        fill_random(&box[0][0][0], sizeof box, 2);
        d.data = whole;
        vd_image image = image_of(f->ctx, &d);
        vd_image_transfer t = transfer_of(image);
        t.box.offset[0] = 3;
        t.box.offset[1] = 2;
        t.box.extent[0] = 5;
        t.box.extent[1] = 3;
        if (layered) {
            t.box.layer = 1;
            t.box.layers = 3;
        } else {
            t.box.offset[2] = 1;
            t.box.extent[2] = 3;
        }
        t.row_pitch = 40;
        t.slice_pitch = sizeof box[0];
        OK(vd_image_upload(f->ctx, &t, box));
        for (int z = 0; z < 3; z++)
            for (int y = 0; y < 3; y++) memcpy(whole[1 + z][2 + y][3], box[z][y], 5 * BYTES);
        download(f->ctx, image, 0, got);
        assert_memory_equal(got, whole, sizeof got);
        memset(back, 77, sizeof back);
        OK(vd_image_download(f->ctx, &t, back));
        for (int z = 0; z < 3; z++)
            for (int y = 0; y < 4; y++)
                for (int x = 0; x < 40; x++)
                    assert_int_equal(back[z][y][x], y < 3 && x < 5 * BYTES ? box[z][y][x] : 77);
        vd_image_destroy(f->ctx, image);
    }
}

TEST(parts_of_1d_arrays) {
    needs_images(f);
    check_parts_of_1d_arrays(f->ctx);
}

/* Larger than a staging block, so that the transfers are made in pieces: whole slices, and rows of a slice. */
TEST(large_transfers_in_pieces) {
    static const uint32_t extents[][3] = { { 1024, 700, 3 }, { 700, 3000, 1 }, { 64, 64, 300 } };
    needs_images(f);
    for (size_t i = 0; i < COUNT(extents); i++) {
        const uint32_t *e = extents[i];
        size_t bytes = (size_t)e[0] * e[1] * e[2] * 8;
        uint8_t *data = (uint8_t *)malloc(bytes), *got = (uint8_t *)malloc(bytes);
        assert_true(data && got);
        fill_random(data, bytes, i);
        vd_image_desc d = image_desc(VD_FORMAT_RGBA16_U, e[2] > 1 ? VD_DIM_3D : VD_DIM_2D, e[0], e[1], e[2]);
        d.data = data;
        vd_image image = image_of(f->ctx, &d);
        memset(got, 0, bytes);
        download(f->ctx, image, 0, got);
        if (memcmp(got, data, bytes)) fail_msg("case %d differs", (int)i);
        free(data);
        free(got);
        vd_image_destroy(f->ctx, image);
    }
}

TEST(images_and_buffers) {
    enum { X = 10, Y = 6, PITCH = 48 };
    static uint8_t data[Y * PITCH + 8], got[Y * PITCH + 8];
    needs_images(f);
    fill_random(data, sizeof data, 3);
    vd_buffer from = buffer_named(f->ctx, "from", VD_BYTES, sizeof data, data);
    vd_buffer to = buffer_named(f->ctx, "to", VD_BYTES, sizeof got, NULL);
    vd_image image = image_2d(f->ctx, VD_FORMAT_R32_F, X, Y, NULL);
    for (int list = 0; list < 2; list++) {
        vd_list *l = list ? list_begin(f->ctx) : vd_immediate(f->ctx, 0, 0);
        vd_image_transfer t = transfer_of(image);
        t.buffer = from;
        t.offset = 8;
        t.row_pitch = PITCH;
        OK(vd_copy_to_image(l, &t));
        t.buffer = to;
        t.offset = 4;
        t.box.offset[0] = 2;
        t.box.extent[1] = 4;
        OK(vd_copy_from_image(l, &t));
        if (list) OK(vd_submit(l, NULL, NULL));
        OK(vd_buffer_read(f->ctx, to, 0, got, sizeof got));
        for (int y = 0; y < 4; y++) assert_memory_equal(got + 4 + y * PITCH, data + 8 + y * PITCH + 8, (X - 2) * 4);
        OK(vd_fill(vd_immediate(f->ctx, 0, 0), to, 0, VD_WHOLE, NULL, 0));
    }
    vd_buffer_destroy(f->ctx, from);
    vd_buffer_destroy(f->ctx, to);
    vd_image_destroy(f->ctx, image);
}

TEST(image_to_image) {
    uint32_t texels[8][8], got[8][8];
    needs_images(f);
    for (uint32_t i = 0; i < 64; i++) texels[i / 8][i % 8] = 0x01010101u * i;
    vd_image from = image_2d(f->ctx, VD_FORMAT_RGBA8_UNORM, 8, 8, texels);
    vd_image to = image_2d(f->ctx, VD_FORMAT_R32_U, 8, 8, NULL); /* texels of equal size */
    vd_image_box a = box_of(to, 0), b = box_of(from, 0);
    a.offset[0] = 1;
    a.offset[1] = 4;
    b.offset[0] = 2;
    b.extent[0] = 5;
    b.extent[1] = 3;
    OK(vd_copy_image(vd_immediate(f->ctx, 0, 0), &a, &b));
    download(f->ctx, to, 0, got);
    for (uint32_t y = 0; y < 8; y++)
        for (uint32_t x = 0; x < 8; x++) {
            bool inside = x >= 1 && x < 6 && y >= 4 && y < 7;
            assert_int_equal(got[y][x], inside ? texels[y - 4][x + 1] : 0);
        }
    a.image = from;
    FAILS(vd_copy_image(vd_immediate(f->ctx, 0, 0), &a, &b), VD_ERROR_INVALID, "vd_copy_image|same level|'picture'");
    vd_image_destroy(f->ctx, from);
    vd_image_destroy(f->ctx, to);
}

/* ---- an oracle of formats ---- */

static double half_value(uint32_t bits) {
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double value = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    return bits & 0x8000 ? -value : value;
}

static double srgb_code(double x) { return x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055; }

static double srgb_value(double x) { return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4); }

/* The bits of component c of a texel, and their number. Packed formats are words that begin at the lowest bit, except
   r5g6b5. */
static uint32_t texel_bits(const vd_format_info *f, const uint8_t *texel, uint32_t c, uint32_t *bits) {
    static const struct { const char *name; uint8_t bits[4]; } packed[] = {
        { "r11g11b10f", { 11, 11, 10, 0 } }, { "rgb10a2unorm", { 10, 10, 10, 2 } }, { "rgb10a2u", { 10, 10, 10, 2 } },
        { "r5g6b5unorm", { 5, 6, 5, 0 } }, { "rgb9e5f", { 9, 9, 9, 5 } }
    };
    uint32_t word = 0, low = 0, place = strncmp(f->name, "bgra", 4) == 0 && c < 3 ? 2 - c : c;
    for (size_t i = 0; i < COUNT(packed); i++) {
        if (strcmp(f->name, packed[i].name)) continue;
        memcpy(&word, texel, f->block_bytes);
        for (uint32_t j = 0; j < c; j++) low += packed[i].bits[j];
        if (strncmp(f->name, "r5", 2) == 0) low = 16 - low - packed[i].bits[c];
        *bits = packed[i].bits[c];
        return word >> low & ((1u << *bits) - 1);
    }
    *bits = 8 * f->block_bytes / f->components;
    memcpy(&word, texel + place * *bits / 8, *bits / 8);
    return word;
}

/* Component c of a texel, in double. */
static double texel_value(const vd_format_info *f, const uint8_t *texel, uint32_t c) {
    uint32_t bits, exponent_bits, raw = c < f->components ? texel_bits(f, texel, c, &bits) : 0;
    const char *kind = f->name + strlen(f->name);
    if (c >= f->components) return c == 3 ? 1 : 0;
    while (!strchr("0123456789", kind[-1])) kind--;
    int32_t sign = (int32_t)(raw << (32 - bits)) >> (32 - bits);
    double high = ldexp(1, (int)bits) - 1, low = ldexp(1, (int)bits - 1) - 1;
    if (!strcmp(kind, "unorm") || !strcmp(f->name, "d16")) return raw / high;
    if (!strcmp(kind, "srgb")) return c < 3 ? srgb_value(raw / high) : raw / high;
    if (!strcmp(kind, "snorm")) return sign / low < -1 ? -1 : sign / low;
    if (!strcmp(kind, "i")) return sign;
    if (!strcmp(kind, "u")) return raw;
    if (!strcmp(f->name, "rgb9e5f")) return ldexp(raw, (int)texel_bits(f, texel, 3, &exponent_bits) - 24);
    if (bits < 32) return half_value(bits == 16 ? raw : raw << (15 - bits));
    float value;
    memcpy(&value, &raw, 4);
    return (double)value;
}

/* Random texels without infinities and NaNs. */
static void fill_texels(const vd_format_info *f, uint8_t *texels, size_t count, uint64_t seed) {
    bool floats = f->name[strlen(f->name) - 1] == 'f';
    fill_random(texels, count * f->block_bytes, seed);
    for (size_t t = 0; floats && t < count; t++) {
        uint8_t *texel = texels + t * f->block_bytes;
        uint32_t bits = 8 * f->block_bytes / f->components, word;
        memcpy(&word, texel, f->block_bytes < 4 ? f->block_bytes : 4);
        if (strncmp(f->name, "r11", 3) == 0) word &= ~(1u << 10 | 1u << 21 | 1u << 31); /* a bit of each exponent */
        memcpy(texel, &word, f->block_bytes < 4 ? f->block_bytes : 4);
        for (uint32_t c = 0; c < f->components && (bits == 16 || bits == 32) && strchr("rd", f->name[0])
                             && strncmp(f->name, "r11", 3) && strncmp(f->name, "rgb9", 4); c++)
            texel[(c + 1) * bits / 8 - 1] &= 0xBF;
    }
}

/* Fails if component c of a texel, as a kernel or a blit has read it, is not that of the oracle. */
static void check_component(const fixture *f, const vd_format_info *info, const uint8_t *texel, uint32_t c,
                            const uint32_t *got, const char *what) {
    double wanted = texel_value(info, texel, c), seen = info->type == VD_I32 ? (double)(int32_t)got[c] : (double)got[c];
    bool normalized = strstr(info->name, "norm") || strstr(info->name, "srgb") || !strcmp(info->name, "d16");
    /* NVIDIA converts components of less than 8 bits to 8 bits first */
    double bound = !normalized ? 0 : 8 * info->block_bytes / info->components < 8 ? 1.0 / 255 : 1e-6;
    float value;
    memcpy(&value, &got[c], 4);
    if (info->type == VD_F32) seen = (double)value;
    if (strstr(info->name, "srgb") && c < 3) { /* half the distance of neighbouring codes, as in Direct3D */
        wanted = srgb_code(wanted);
        seen = srgb_code(seen);
        bound = 0.5 / 255;
    }
    if (info->type == VD_F32 && fabs(wanted) < 1e-30 && fabs(seen) < 1e-30) return; /* denormal */
    (void)f;
    if (!(fabs(seen - wanted) <= bound))
        fail_msg("%s, %s: component %u is %.9g, not %.9g", what, info->name, c, seen, wanted);
}

/* ---- clearing, blits and levels ---- */

TEST(clearing) {
    needs_images(f);
    vd_color color = { { 0.25f, -1.0f, 1.0f, 2.0f } };
    vd_image_desc d = image_desc(VD_FORMAT_RGBA8_UNORM, VD_DIM_2D, 4, 4, 0);
    d.levels = 2;
    vd_image image = image_of(f->ctx, &d);
    OK(vd_clear_image(vd_immediate(f->ctx, 0, 0), image, &color));
    uint8_t got[16][4];
    for (uint32_t level = 0; level < 2; level++) {
        memset(got, 9, sizeof got);
        download(f->ctx, image, level, got);
        assert_in_range(got[0][0], 63, 64);
        assert_int_equal(got[1][1], 0);
        assert_int_equal(got[2][2], 255);
        assert_int_equal(got[3][3], 255);
    }
    vd_image integers = image_2d(f->ctx, VD_FORMAT_RGBA16_I, 3, 1, NULL);
    color.i[0] = -5;
    color.i[1] = 300;
    OK(vd_clear_image(vd_immediate(f->ctx, 0, 0), integers, &color));
    int16_t pairs[3][4];
    download(f->ctx, integers, 0, pairs);
    assert_int_equal(pairs[2][0], -5);
    assert_int_equal(pairs[2][1], 300);
    vd_image_destroy(f->ctx, image);
    vd_image_destroy(f->ctx, integers);
}

TEST(mip_chains) {
    uint8_t texels[16][16], got[8][8];
    vd_context *ctx = needs_blits(f);
    for (uint32_t i = 0; i < 256; i++) texels[i / 16][i % 16] = (uint8_t)(i % 16 * 16);
    vd_image_desc d = image_desc(VD_FORMAT_R8_UNORM, VD_DIM_2D, 16, 16, 0);
    d.levels = VD_ALL_LEVELS;
    d.usage = VD_IMAGE_SAMPLED; /* so that every level changes its layout */
    d.data = texels;
    vd_image image = image_of(ctx, &d);
    OK(vd_generate_mips(vd_immediate(ctx, 0, 0), image));
    download(ctx, image, 1, got);
    for (uint32_t x = 0; f->executes && x < 8; x++) assert_in_range(got[3][x], x * 32 + 7, x * 32 + 9);
    download(ctx, image, 4, got);
    if (f->executes) assert_in_range(got[0][0], 115, 125);
    if (f->backend == VD_BACKEND_DUMMY) assert_int_equal(got[0][0], 0); /* the nearest texel */
    vd_image_destroy(ctx, image);
}

TEST(blits_scale) {
    uint32_t texels[4][4], got[8][8];
    vd_context *ctx = needs_blits(f);
    for (uint32_t i = 0; i < 16; i++) texels[i / 4][i % 4] = i;
    vd_image from = image_2d(ctx, VD_FORMAT_R32_U, 4, 4, texels), to = image_2d(ctx, VD_FORMAT_R32_U, 8, 8, NULL);
    vd_image_box a = box_of(to, 0), b = box_of(from, 0);
    OK(vd_blit_image(vd_immediate(ctx, 0, 0), &a, &b, VD_FILTER_NEAREST));
    download(ctx, to, 0, got);
    for (uint32_t i = 0; i < 64 && (f->executes || f->backend == VD_BACKEND_DUMMY); i++)
        assert_int_equal(got[i / 8][i % 8], texels[i / 16][i % 8 / 2]);
    FAILS(vd_blit_image(vd_immediate(ctx, 0, 0), &a, &b, VD_FILTER_LINEAR), VD_ERROR_UNSUPPORTED,
          "vd_blit_image|r32u|does not support linear filters");
    vd_image_destroy(ctx, from);
    vd_image_destroy(ctx, to);
}

/* Every format is blitted to a format with 32 bits and back, which must restore its texels. */
TEST_EXECUTED(blits_convert_like_the_oracle) {
    enum { X = 16, Y = 8 };
    static uint8_t texels[X * Y * 16], back[X * Y * 16];
    static const vd_format wide[3] = { VD_FORMAT_RGBA32_F, VD_FORMAT_RGBA32_I, VD_FORMAT_RGBA32_U };
    vd_context *ctx = needs_blits(f);
    int checked = 0;
    vd_image images[3];
    for (int i = 0; i < 3; i++) images[i] = image_2d(ctx, wide[i], X, Y, NULL);
    for (int i = 1; i < VD_FORMATS_END; i++) {
        vd_format_info info;
        uint32_t got[X * Y][4];
        OK(vd_format_query(ctx, 0, (vd_format)i, &info));
        if (!(info.usage & VD_IMAGE_BLIT)) continue;
        fill_texels(&info, texels, X * Y, (uint64_t)i);
        int type = info.type == VD_F32 ? 0 : info.type == VD_I32 ? 1 : 2;
        vd_image image = image_2d(ctx, (vd_format)i, X, Y, texels), copy = image_2d(ctx, (vd_format)i, X, Y, NULL);
        vd_image_box narrow = box_of(image, 0), middle = box_of(images[type], 0), end = box_of(copy, 0);
        OK(vd_blit_image(vd_immediate(ctx, 0, 0), &middle, &narrow, VD_FILTER_NEAREST));
        OK(vd_blit_image(vd_immediate(ctx, 0, 0), &end, &middle, VD_FILTER_NEAREST));
        download(ctx, images[type], 0, got);
        download(ctx, copy, 0, back);
        for (uint32_t t = 0; t < X * Y; t++)
            for (uint32_t c = 0; c < 4; c++) {
                const uint8_t *texel = texels + t * info.block_bytes, *again = back + t * info.block_bytes;
                check_component(f, &info, texel, c, got[t], "a blit");
                double value = texel_value(&info, texel, c), restored = texel_value(&info, again, c);
                if (fabs(value - restored) > 1e-6 * fabs(value) && fabs(value) > 1e-30) /* -1 has two codes in snorm */
                    fail_msg("%s: component %u of texel %u is %.9g, not %.9g", info.name, c, t, restored, value);
            }
        vd_image_destroy(ctx, image);
        vd_image_destroy(ctx, copy);
        checked++;
    }
    assert_true(checked >= 20);
    for (int i = 0; i < 3; i++) vd_image_destroy(ctx, images[i]);
}

/* Values outside of the range of a format are clamped, and missing components are 0, 0, 0, 1. */
TEST_EXECUTED(blits_clamp) {
    static const float floats[4] = { -2, 0.5f, 3, -0.25f };
    static const int32_t integers[4] = { -70000, 300, 70000, -129 };
    vd_context *ctx = needs_blits(f);
    uint8_t bytes[4];
    int8_t narrow[4];
    float wide[4];
    vd_image from = image_2d(ctx, VD_FORMAT_RGBA32_F, 1, 1, floats);
    vd_image to = image_2d(ctx, VD_FORMAT_RGBA8_UNORM, 1, 1, NULL);
    vd_image_box a = box_of(to, 0), b = box_of(from, 0);
    OK(vd_blit_image(vd_immediate(ctx, 0, 0), &a, &b, VD_FILTER_NEAREST));
    download(ctx, to, 0, bytes);
    assert_int_equal(bytes[0], 0);
    assert_in_range(bytes[1], 127, 128);
    assert_int_equal(bytes[2], 255);
    assert_int_equal(bytes[3], 0);
    vd_image one = image_2d(ctx, VD_FORMAT_R32_F, 1, 1, floats + 1);
    b.image = one;
    a.image = from;
    OK(vd_blit_image(vd_immediate(ctx, 0, 0), &a, &b, VD_FILTER_NEAREST));
    download(ctx, from, 0, wide);
    assert_true(wide[0] == 0.5f && wide[1] == 0 && wide[2] == 0 && wide[3] == 1);
    vd_image i32 = image_2d(ctx, VD_FORMAT_RGBA32_I, 1, 1, integers);
    vd_image i8 = image_2d(ctx, VD_FORMAT_RGBA8_I, 1, 1, NULL);
    a.image = i8;
    b.image = i32;
    OK(vd_blit_image(vd_immediate(ctx, 0, 0), &a, &b, VD_FILTER_NEAREST));
    download(ctx, i8, 0, narrow);
    assert_int_equal(narrow[0], -128);
    assert_int_equal(narrow[1], 127);
    assert_int_equal(narrow[2], 127);
    assert_int_equal(narrow[3], -128);
    vd_image all[5] = { from, to, one, i32, i8 };
    for (size_t i = 0; i < COUNT(all); i++) vd_image_destroy(ctx, all[i]);
}

typedef struct blit_case {
    vd_dim dim;
    uint32_t from[3], to[3], layers, offset[3], extent[3]; /* extents of the images; box of the source */
    vd_filter filter;
} blit_case;

/* The oracle: texel x of the target, by linear filtering of the source along each axis in double. */
static double blit_value(const blit_case *c, const float *texels, const uint32_t x[3], uint32_t layer) {
    double sum = 0;
    for (uint32_t corner = 0; corner < 8; corner++) {
        double weight = 1;
        size_t at[3];
        for (int i = 0; i < 3; i++) {
            double position = (x[i] + 0.5) * c->extent[i] / c->to[i] + c->offset[i], low = floor(position - 0.5);
            bool linear = c->filter == VD_FILTER_LINEAR, upper = corner >> i & 1;
            if (!linear) low = floor(position);
            double part = linear ? position - 0.5 - low : 0, texel = low + upper;
            weight *= upper ? part : 1 - part;
            at[i] = (size_t)(texel < 0 ? 0 : texel > c->from[i] - 1 ? c->from[i] - 1 : texel);
        }
        sum += weight * (double)texels[((layer * c->from[2] + at[2]) * c->from[1] + at[1]) * c->from[0] + at[0]];
    }
    return sum;
}

static void blit_checked(const fixture *f, vd_context *ctx, const blit_case *c, int number) {
    size_t from_count = (size_t)c->from[0] * c->from[1] * c->from[2] * c->layers,
           count = (size_t)c->to[0] * c->to[1] * c->to[2] * c->layers;
    float *texels = (float *)malloc(from_count * 4), *got = (float *)malloc(count * 4);
    assert_true(texels && got);
    dice d = { 7 };
    for (size_t i = 0; i < from_count; i++) texels[i] = (float)roll(&d, 1000) / 1000;
    vd_image_desc desc = image_desc(VD_FORMAT_R32_F, c->dim, c->from[0], c->from[1], c->from[2]);
    desc.layers = c->layers;
    desc.usage = VD_IMAGE_SAMPLED;
    desc.data = texels;
    vd_image from = image_of(ctx, &desc);
    desc.data = NULL;
    memcpy(desc.extent, c->to, sizeof desc.extent);
    vd_image to = image_of(ctx, &desc);
    vd_image_box a = box_of(to, 0), b = box_of(from, 0);
    memcpy(b.offset, c->offset, sizeof b.offset);
    memcpy(b.extent, c->extent, sizeof b.extent);
    OK(vd_blit_image(vd_immediate(ctx, 0, 0), &a, &b, c->filter));
    download(ctx, to, 0, got);
    /* Vulkan requires 4 bits of weights, lavapipe has 8; the kernel of cuda and opencl has 24 */
    double bound = f->backend == VD_BACKEND_VULKAN ? 0.02 : 1e-5;
    for (size_t i = 0; i < count; i++) {
        uint32_t x[3] = { (uint32_t)(i % c->to[0]), (uint32_t)(i / c->to[0] % c->to[1]),
                          (uint32_t)(i / c->to[0] / c->to[1] % c->to[2]) };
        uint32_t layer = (uint32_t)(i / c->to[0] / c->to[1] / c->to[2]);
        double wanted = blit_value(c, texels, x, layer);
        if (fabs((double)got[i] - wanted) > bound)
            fail_msg("case %d: texel %u %u %u of layer %u is %g, not %g", number, x[0], x[1], x[2], layer,
                     (double)got[i], wanted);
    }
    vd_image_destroy(ctx, from);
    vd_image_destroy(ctx, to);
    free(texels);
    free(got);
}

/* Scales and boxes of every dimension. The last two do not fit in the buffer of one piece on cuda and opencl. */
TEST_EXECUTED(blits_filter) {
    static const blit_case cases[] = {
        { VD_DIM_2D, { 8, 8, 1 }, { 4, 4, 1 }, 1, { 0, 0, 0 }, { 8, 8, 1 }, VD_FILTER_LINEAR },
        { VD_DIM_2D, { 7, 5, 1 }, { 19, 3, 1 }, 1, { 2, 1, 0 }, { 4, 3, 1 }, VD_FILTER_LINEAR },
        /* no texel of the target is at the same distance from two of the source, of which a driver may choose any */
        { VD_DIM_2D, { 7, 5, 1 }, { 19, 3, 1 }, 1, { 2, 1, 0 }, { 3, 3, 1 }, VD_FILTER_NEAREST },
        { VD_DIM_1D, { 33, 1, 1 }, { 20, 1, 1 }, 1, { 3, 0, 0 }, { 29, 1, 1 }, VD_FILTER_LINEAR },
        { VD_DIM_3D, { 6, 5, 9 }, { 5, 7, 4 }, 1, { 1, 0, 2 }, { 5, 5, 6 }, VD_FILTER_LINEAR },
        { VD_DIM_2D_ARRAY, { 9, 4, 1 }, { 4, 9, 1 }, 3, { 0, 0, 0 }, { 9, 4, 1 }, VD_FILTER_LINEAR },
        { VD_DIM_1D_ARRAY, { 10, 1, 1 }, { 4, 1, 1 }, 3, { 1, 0, 0 }, { 9, 1, 1 }, VD_FILTER_LINEAR },
        { VD_DIM_CUBE, { 8, 8, 1 }, { 3, 3, 1 }, 6, { 0, 0, 0 }, { 8, 8, 1 }, VD_FILTER_LINEAR },
        { VD_DIM_2D, { 1500, 1700, 1 }, { 500, 311, 1 }, 1, { 7, 1, 0 }, { 1490, 1690, 1 }, VD_FILTER_LINEAR },
        { VD_DIM_3D, { 160, 150, 110 }, { 30, 31, 32 }, 1, { 0, 0, 0 }, { 160, 150, 110 }, VD_FILTER_LINEAR }
    };
    vd_context *ctx = needs_blits(f);
    for (size_t i = 0; i < COUNT(cases); i++) blit_checked(f, ctx, &cases[i], (int)i);
}

/* ---- kernels ---- */

static vc_image_ref image_arg(vc_kernel *k, const char *name, vc_dim dim, bool storage, vc_format format, vc_type type,
                              uint32_t access) {
    vc_image_desc d;
    memset(&d, 0, sizeof d);
    d.dim = dim;
    d.storage = storage;
    d.format = format;
    d.type = type;
    d.access = access;
    return vc_image(k, name, &d);
}

/* out[y * width + x] = the texel x, y of level 0 */
static vd_kernel kernel_fetch(vd_context *ctx, vc_type type) {
    vc_kernel *k = kernel_begin(ctx, "fetch", 8, 8, 1);
    vc_image_ref image = image_arg(k, "image", VC_DIM_2D, false, VC_FORMAT_NONE, type, 0);
    vc_ref out = vc_buffer(k, "out", VC_VEC(type, 4), VC_WRITE);
    VC_EACH2(k, x, y) {
        vc_store(out, vc_add(vc_mul(y, vc_threads(k, 0)), x), vc_fetch(image, vc_vec2(x, y), vc_u32(0)));
    }
    return kernel_end(ctx, k);
}

/* Every format without blocks, read by a kernel. */
TEST_EXECUTED(formats_convert_like_the_oracle) {
    enum { X = 16, Y = 16 };
    static uint8_t texels[X * Y * 16];
    needs_images(f);
    vd_kernel kernels[3] = { kernel_fetch(f->ctx, VC_F32), kernel_fetch(f->ctx, VC_I32), kernel_fetch(f->ctx, VC_U32) };
    static const vd_type types[3] = { VD_F32X4, VD_I32X4, VD_U32X4 };
    vd_buffer outs[3];
    int checked = 0;
    for (int i = 0; i < 3; i++) outs[i] = buffer_named(f->ctx, "out", types[i], X * Y, NULL);
    for (int i = 1; i < VD_FORMATS_END; i++) {
        vd_format_info info;
        uint32_t got[X * Y][4];
        OK(vd_format_query(f->ctx, 0, (vd_format)i, &info));
        if (!(info.usage & VD_IMAGE_SAMPLED) || info.block_extent > 1) continue;
        fill_texels(&info, texels, X * Y, (uint64_t)i);
        vd_image image = image_2d(f->ctx, (vd_format)i, X, Y, texels);
        int type = info.type == VD_F32 ? 0 : info.type == VD_I32 ? 1 : 2;
        OK(vd_run2(f->ctx, kernels[type], X, Y, vd_i(image), vd_b(outs[type])));
        OK(vd_buffer_read(f->ctx, outs[type], 0, got, sizeof got));
        for (uint32_t t = 0; t < X * Y; t++)
            for (uint32_t c = 0; c < 4; c++) {
                if (f->backend == VD_BACKEND_OPENCL && info.type != VD_F32 && c == 3 && info.components == 1)
                    continue; /* PoCL 3.1 reads 0 */
                if (f->backend == VD_BACKEND_CUDA && c == 3 && info.components < 4) {
                    assert_int_equal(got[t][c], 0); /* as the manual says */
                    continue;
                }
                check_component(f, &info, texels + t * info.block_bytes, c, got[t], "a fetch");
            }
        vd_image_destroy(f->ctx, image);
        checked++;
    }
    assert_true(checked >= (f->backend == VD_BACKEND_OPENCL ? 20 : 30));
    for (int i = 0; i < 3; i++) vd_kernel_destroy(f->ctx, kernels[i]);
    for (int i = 0; i < 3; i++) vd_buffer_destroy(f->ctx, outs[i]);
}

/* out[i] = sample(image, x[i], y[i]).x */
static vd_kernel kernel_sample(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "sample", 64, 1, 1);
    vc_image_ref image = vc_image(k, "image", NULL);
    vc_ref at = vc_buffer(k, "at", VC_F32X2, VC_READ), out = vc_buffer(k, "out", VC_F32, VC_WRITE);
    VC_EACH(k, i) { vc_store(out, i, vc_component(vc_sample(image, vc_load(at, i)), 0)); }
    return kernel_end(ctx, k);
}

TEST_EXECUTED(samplers_filter_and_address) {
    static const float at[][2] = { { 0.5f, 0.5f }, { -0.25f, 0.25f }, { 1.25f, 0.25f }, { 0.25f, 0.25f } };
    static const float texels[2][2] = { { 0, 1 }, { 2, 3 } };
    static const struct { vd_filter filter; vd_address_mode mode; float wanted[COUNT(at)]; } cases[] = {
        { VD_FILTER_LINEAR, VD_ADDRESS_CLAMP, { 1.5f, 0, 1, 0 } },
        { VD_FILTER_NEAREST, VD_ADDRESS_CLAMP, { -1, 0, 1, 0 } }, /* -1: between texels */
        { VD_FILTER_NEAREST, VD_ADDRESS_REPEAT, { -1, 1, 0, 0 } },
        { VD_FILTER_NEAREST, VD_ADDRESS_MIRROR, { -1, 0, 1, 0 } },
        { VD_FILTER_NEAREST, VD_ADDRESS_BORDER, { -1, 9, 9, 0 } }
    };
    needs_images(f);
    vd_image image = image_2d(f->ctx, VD_FORMAT_R32_F, 2, 2, texels);
    vd_kernel k = kernel_sample(f->ctx);
    vd_buffer points = buffer_named(f->ctx, "at", VD_F32X2, COUNT(at), at), out = buffer_named(f->ctx, "out", VD_F32,
                                                                                              COUNT(at), NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        vd_sampler_desc d;
        float got[COUNT(at)];
        memset(&d, 0, sizeof d);
        d.min_filter = d.mag_filter = d.mip_filter = cases[i].filter;
        d.address[0] = d.address[1] = cases[i].mode;
        d.border = f->backend == VD_BACKEND_OPENCL ? VD_BORDER_TRANSPARENT : VD_BORDER_WHITE;
        vd_sampler sampler = vd_sampler_create(f->ctx, &d);
        assert_true(sampler.id != 0);
        OK(vd_run(f->ctx, k, COUNT(at), vd_sampled(image, &sampler), vd_b(points), vd_b(out)));
        vd_sampler_destroy(f->ctx, sampler); /* while the dispatch uses it */
        OK(vd_buffer_read(f->ctx, out, 0, got, sizeof got));
        for (size_t j = 0; j < COUNT(at); j++) {
            float wanted = cases[i].wanted[j] == 9 ? (d.border ? 1.0f : 0.0f) : cases[i].wanted[j];
            if (wanted >= 0 && fabsf(got[j] - wanted) > 0.01f)
                fail_msg("case %d, point %d: %g, not %g", (int)i, (int)j, (double)got[j], (double)wanted);
        }
    }
    vd_buffer_destroy(f->ctx, points);
    vd_buffer_destroy(f->ctx, out);
    vd_kernel_destroy(f->ctx, k);
    vd_image_destroy(f->ctx, image);
}

/* to[x, y] = from[x, y] + add, for storage images */
static vd_kernel kernel_add(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "add", 8, 8, 1);
    vc_image_ref from = image_arg(k, "from", VC_DIM_2D, true, VC_FORMAT_R32_U, VC_NONE, VC_READ);
    vc_image_ref to = image_arg(k, "to", VC_DIM_2D, true, VC_FORMAT_R32_U, VC_NONE, VC_WRITE);
    vc_val add = vc_param(k, "add", VC_U32);
    VC_EACH2(k, x, y) {
        vc_val at = vc_vec2(x, y), sum = vc_add(vc_component(vc_image_load(from, at), 0), add);
        vc_image_store(to, at, vc_splat(sum, 4));
    }
    return kernel_end(ctx, k);
}

/* Every dimension: each invocation fetches a texel, and stores it doubled in an image of the same shape. */
TEST_EXECUTED(kernels_access_every_dimension) {
    static const struct { vd_dim dim; vc_dim kernel; uint32_t extent[3], layers, coordinates; } cases[] = {
        { VD_DIM_1D, VC_DIM_1D, { 24, 1, 1 }, 1, 1 }, { VD_DIM_2D, VC_DIM_2D, { 6, 4, 1 }, 1, 2 },
        { VD_DIM_3D, VC_DIM_3D, { 3, 4, 2 }, 1, 3 }, { VD_DIM_1D_ARRAY, VC_DIM_1D_ARRAY, { 8, 1, 1 }, 3, 2 },
        { VD_DIM_2D_ARRAY, VC_DIM_2D_ARRAY, { 4, 3, 1 }, 2, 3 }
    };
    uint32_t texels[24], got[24];
    needs_images(f);
    for (uint32_t i = 0; i < 24; i++) texels[i] = 7 * i + 1;
    for (size_t i = 0; i < COUNT(cases); i++) {
        vc_kernel *k = kernel_begin(f->ctx, "double", 8, 1, 1);
        vc_image_ref from = image_arg(k, "from", cases[i].kernel, false, VC_FORMAT_NONE, VC_U32, VC_READ);
        vc_image_ref to = image_arg(k, "to", cases[i].kernel, true, VC_FORMAT_R32_U, VC_NONE, VC_WRITE);
        VC_EACH(k, n) {
            vc_val size = vc_image_size(from, vc_u32(0)), part[3];
            uint32_t c = cases[i].coordinates;
            vc_val rest = n;
            for (uint32_t j = 0; j < c; j++) {
                vc_val extent = c == 1 ? size : vc_component(size, j);
                part[j] = vc_mod(rest, extent);
                rest = vc_div(rest, extent);
            }
            vc_val at = c == 1 ? part[0] : c == 2 ? vc_vec2(part[0], part[1]) : vc_vec3(part[0], part[1], part[2]);
            vc_val texel = vc_fetch(from, at, vc_u32(0));
            vc_image_store(to, at, vc_add(texel, texel));
        }
        vd_kernel kernel = kernel_end(f->ctx, k);
        vd_image_desc d = image_desc(VD_FORMAT_R32_U, cases[i].dim, cases[i].extent[0], cases[i].extent[1],
                                     cases[i].extent[2]);
        d.layers = cases[i].layers;
        vd_image out = image_of(f->ctx, &d);
        d.data = texels;
        vd_image in = image_of(f->ctx, &d);
        OK(vd_run(f->ctx, kernel, 24, vd_i(in), vd_i(out)));
        download(f->ctx, out, 0, got);
        for (uint32_t t = 0; t < 24; t++)
            if (got[t] != 2 * texels[t]) fail_msg("dim %d: texel %u is %u", (int)cases[i].dim, t, got[t]);
        vd_image_destroy(f->ctx, in);
        vd_image_destroy(f->ctx, out);
        vd_kernel_destroy(f->ctx, kernel);
    }
}

/* ---- what kernels read from levels, dimensions and formats ---- */

static vc_val unit_f32(vc_val i) { return vc_cast(VC_F32, i); }

static void set_level(vd_context *ctx, vd_image image, uint32_t level, const void *data) {
    vd_image_transfer t = transfer_of(image);
    t.box.level = level;
    OK(vd_image_upload(ctx, &t, data));
}

/* out[4 * i ...] = a sample at lod i / 2, a texel of level i, the width of the last level, the number of levels */
static vd_kernel kernel_levels(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "levels", 8, 1, 1);
    vc_image_ref image = vc_image(k, "image", NULL);
    vc_ref out = vc_buffer(k, "out", VC_F32, VC_WRITE);
    VC_EACH(k, i) {
        vc_val levels = vc_image_levels(image), last = vc_sub(levels, vc_u32(1)), at = vc_mul(i, vc_u32(4));
        vc_val half = vc_f32(0.5f), zero = vc_const(k, vc_u32(0));
        vc_store(out, at, vc_component(vc_sample_lod(image, vc_vec2(vc_const(k, half), half),
                                                     vc_mul(unit_f32(i), half)), 0));
        vc_store(out, vc_add(at, vc_u32(1)), vc_component(vc_fetch(image, vc_vec2(zero, zero), vc_min(i, last)), 0));
        vc_store(out, vc_add(at, vc_u32(2)), unit_f32(vc_component(vc_image_size(image, last), 0)));
        vc_store(out, vc_add(at, vc_u32(3)), unit_f32(levels));
    }
    return kernel_end(ctx, k);
}

/* The filter of minification applies to lod above 0, that of magnification to the others. */
TEST_EXECUTED(filters_of_minification_and_magnification) {
    static const float at = 0.4f, level_0[4] = { 0, 1, 2, 3 }, level_1[2] = { 10, 20 };
    static const float wanted[2][2] = { { 1.1f, 10 }, { 1, 13 } }; /* by filter of minification; lod 0, 1 */
    needs_images(f);
    if (f->backend == VD_BACKEND_CUDA || f->backend == VD_BACKEND_OPENCL) skip_because("samplers have one filter for both");
    vc_kernel *b = kernel_begin(f->ctx, "lods", 2, 1, 1);
    vc_image_ref ref = vc_image(b, "image", NULL);
    vc_ref results = vc_buffer(b, "out", VC_F32, VC_WRITE);
    vc_val u = vc_param(b, "u", VC_F32);
    VC_EACH(b, i) {
        vc_store(results, i, vc_component(vc_sample_lod(ref, vc_vec2(u, vc_f32(0.5f)), vc_cast(VC_F32, i)), 0));
    }
    vd_kernel k = kernel_end(f->ctx, b);
    vd_image_desc d = image_desc(VD_FORMAT_R32_F, VD_DIM_2D, 4, 1, 0);
    d.levels = 2;
    vd_image image = image_of(f->ctx, &d);
    set_level(f->ctx, image, 0, level_0);
    set_level(f->ctx, image, 1, level_1);
    vd_buffer out = buffer_named(f->ctx, "out", VD_F32, 2, NULL);
    for (int linear = 0; linear < 2; linear++) {
        vd_sampler_desc s;
        float got[2];
        memset(&s, 0, sizeof s);
        s.min_filter = linear ? VD_FILTER_LINEAR : VD_FILTER_NEAREST;
        s.mag_filter = linear ? VD_FILTER_NEAREST : VD_FILTER_LINEAR;
        s.mip_filter = VD_FILTER_NEAREST;
        vd_sampler sampler = vd_sampler_create(f->ctx, &s);
        OK(vd_run(f->ctx, k, 2, vd_sampled(image, &sampler), vd_b(out), vd_f32(at)));
        OK(vd_buffer_read(f->ctx, out, 0, got, sizeof got));
        for (int lod = 0; lod < 2; lod++)
            if (fabsf(got[lod] - wanted[linear][lod]) > 0.05f)
                fail_msg("filter %d, lod %d: %g, not %g", linear, lod, (double)got[lod], (double)wanted[linear][lod]);
        vd_sampler_destroy(f->ctx, sampler);
    }
    vd_buffer_destroy(f->ctx, out);
    vd_kernel_destroy(f->ctx, k);
    vd_image_destroy(f->ctx, image);
}

/* Level n of an image contains n everywhere: seen whole, through views of levels, and with limits of samplers. */
TEST_EXECUTED(levels_are_sampled) {
    static const struct { uint32_t level, levels; float bias, low, high; bool nearest; } cases[] = {
        { 0, 4, 0, 0, 0, false }, { 1, 2, 0, 0, 0, false }, { 2, 1, 0, 0, 0, false }, { 1, 3, 0, 0, 0, false },
        { 0, 4, 1, 0, 0, false }, { 0, 4, 0, 1.5f, 0, false }, { 0, 4, 0, 0, 2, false }, { 1, 3, 0, 1, 0, false },
        { 0, 4, 0.25f, 0, 0, true }
    };
    needs_images(f);
    if (f->backend == VD_BACKEND_OPENCL) skip_because("kernels read only the first level");
    vd_image_desc d = image_desc(VD_FORMAT_R32_F, VD_DIM_2D, 16, 8, 0);
    d.levels = 4;
    d.usage = VD_IMAGE_SAMPLED;
    vd_image image = image_of(f->ctx, &d);
    float texels[128], got[8][4];
    for (uint32_t level = 0; level < 4; level++) {
        for (int i = 0; i < 128; i++) texels[i] = (float)level;
        set_level(f->ctx, image, level, texels);
    }
    vd_kernel k = kernel_levels(f->ctx);
    vd_buffer out = buffer_named(f->ctx, "out", VD_F32, 32, NULL);
    for (size_t c = 0; c < COUNT(cases); c++) {
        vd_image_view_desc v;
        vd_sampler_desc s;
        memset(&v, 0, sizeof v);
        memset(&s, 0, sizeof s);
        v.image = image;
        v.level = cases[c].level;
        v.levels = cases[c].levels;
        s.lod_bias = cases[c].bias;
        s.min_lod = cases[c].low;
        s.max_lod = cases[c].high;
        s.mip_filter = cases[c].nearest ? VD_FILTER_NEAREST : VD_FILTER_LINEAR;
        vd_image view = vd_image_view(f->ctx, &v);
        vd_sampler sampler = vd_sampler_create(f->ctx, &s);
        assert_true(view.id && sampler.id);
        OK(vd_run(f->ctx, k, 8, vd_sampled(view, &sampler), vd_b(out)));
        OK(vd_buffer_read(f->ctx, out, 0, got, sizeof got));
        for (uint32_t i = 0; i < 8; i++) {
            float lod = 0.5f * (float)i + cases[c].bias, last = (float)cases[c].levels - 1;
            uint32_t level = i < cases[c].levels ? i : cases[c].levels - 1;
            if (lod < cases[c].low) lod = cases[c].low;
            if (cases[c].high > 0 && lod > cases[c].high) lod = cases[c].high;
            if (lod > last) lod = last;
            if (cases[c].nearest) lod = floorf(lod + 0.5f);
            float wanted[4] = { (float)cases[c].level + lod, (float)(cases[c].level + level),
                                (float)(16 >> (cases[c].level + cases[c].levels - 1)), (float)cases[c].levels };
            for (int j = 0; j < 4; j++)
                if (fabsf(got[i][j] - wanted[j]) > 0.01f)
                    fail_msg("case %d, invocation %u, value %d: %g, not %g", (int)c, i, j, (double)got[i][j],
                             (double)wanted[j]);
        }
        vd_image_destroy(f->ctx, view);
        vd_sampler_destroy(f->ctx, sampler);
    }
    vd_buffer_destroy(f->ctx, out);
    vd_kernel_destroy(f->ctx, k);
    vd_image_destroy(f->ctx, image);
}

/* Each invocation samples the centre of a texel. */
TEST_EXECUTED(samples_of_every_dimension) {
    static const struct { vd_dim dim; vc_dim kernel; uint32_t extent[3], layers, axes; } cases[] = {
        { VD_DIM_1D, VC_DIM_1D, { 24, 1, 1 }, 1, 1 }, { VD_DIM_2D, VC_DIM_2D, { 6, 4, 1 }, 1, 2 },
        { VD_DIM_3D, VC_DIM_3D, { 3, 4, 2 }, 1, 3 }, { VD_DIM_1D_ARRAY, VC_DIM_1D_ARRAY, { 8, 1, 1 }, 3, 1 },
        { VD_DIM_2D_ARRAY, VC_DIM_2D_ARRAY, { 4, 3, 1 }, 2, 2 }
    };
    float texels[24], got[24];
    needs_images(f);
    for (uint32_t i = 0; i < 24; i++) texels[i] = (float)(7 * i + 1);
    vd_buffer out = buffer_named(f->ctx, "out", VD_F32, 24, NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (f->backend == VD_BACKEND_OPENCL && cases[i].layers > 1) continue; /* PoCL 3.1 multiplies the layer */
        vc_kernel *k = kernel_begin(f->ctx, "sample", 8, 1, 1);
        vc_image_ref image = image_arg(k, "image", cases[i].kernel, false, VC_FORMAT_NONE, VC_F32, VC_READ);
        vc_ref to = vc_buffer(k, "out", VC_F32, VC_WRITE);
        VC_EACH(k, n) {
            vc_val rest = n, part[3];
            uint32_t axes = cases[i].axes, c = axes + (cases[i].layers > 1);
            for (uint32_t j = 0; j < axes; j++) {
                uint32_t extent = cases[i].extent[j];
                part[j] = vc_div(vc_add(unit_f32(vc_mod(rest, vc_u32(extent))), vc_f32(0.5f)), vc_f32((float)extent));
                rest = vc_div(rest, vc_u32(extent));
            }
            if (c > axes) part[axes] = unit_f32(rest);
            vc_val at = c == 1 ? part[0] : c == 2 ? vc_vec2(part[0], part[1]) : vc_vec3(part[0], part[1], part[2]);
            vc_store(to, n, vc_component(vc_sample(image, at), 0));
        }
        vd_kernel kernel = kernel_end(f->ctx, k);
        vd_image_desc d = image_desc(VD_FORMAT_R32_F, cases[i].dim, cases[i].extent[0], cases[i].extent[1],
                                     cases[i].extent[2]);
        d.layers = cases[i].layers;
        d.data = texels;
        vd_image in = image_of(f->ctx, &d);
        OK(vd_run(f->ctx, kernel, 24, vd_i(in), vd_b(out)));
        OK(vd_buffer_read(f->ctx, out, 0, got, sizeof got));
        for (uint32_t t = 0; t < 24; t++)
            if (fabsf(got[t] - texels[t]) > 0.1f)
                fail_msg("dim %d: texel %u is %g, not %g", (int)cases[i].dim, t, (double)got[t], (double)texels[t]);
        vd_image_destroy(f->ctx, in);
        vd_kernel_destroy(f->ctx, kernel);
    }
    vd_buffer_destroy(f->ctx, out);
}

TEST_EXECUTED(cubes_are_sampled) {
    static const float at[][4] = { { 1, 0.1f, 0.2f, 0 }, { -1, 0.1f, 0.2f, 0 }, { 0.1f, 1, 0.2f, 0 },
                                   { 0.2f, -1, 0, 0 }, { 0, 0.1f, 1, 0 }, { 0.1f, 0.2f, -1, 0 } };
    float texels[6][16], got[6];
    needs_images(f);
    if (f->backend == VD_BACKEND_OPENCL) skip_because("kernels have no cubes");
    for (int i = 0; i < 96; i++) texels[i / 16][i % 16] = (float)(i / 16);
    vc_kernel *k = kernel_begin(f->ctx, "cube", 8, 1, 1);
    vc_image_ref image = image_arg(k, "image", VC_DIM_CUBE, false, VC_FORMAT_NONE, VC_F32, VC_READ);
    vc_ref points = vc_buffer(k, "at", VC_F32X4, VC_READ), to = vc_buffer(k, "out", VC_F32, VC_WRITE);
    VC_EACH(k, i) { vc_store(to, i, vc_component(vc_sample(image, vc_swizzle(vc_load(points, i), "xyz")), 0)); }
    vd_kernel kernel = kernel_end(f->ctx, k);
    vd_image_desc d = image_desc(VD_FORMAT_R32_F, VD_DIM_CUBE, 4, 4, 0);
    d.data = texels;
    vd_image cube = image_of(f->ctx, &d);
    vd_buffer in = buffer_named(f->ctx, "at", VD_F32X4, 6, at), out = buffer_named(f->ctx, "out", VD_F32, 6, NULL);
    OK(vd_run(f->ctx, kernel, 6, vd_i(cube), vd_b(in), vd_b(out)));
    OK(vd_buffer_read(f->ctx, out, 0, got, sizeof got));
    for (int i = 0; i < 6; i++)
        if (fabsf(got[i] - (float)i) > 0.01f) fail_msg("face %d is %g", i, (double)got[i]);
    vd_buffer_destroy(f->ctx, in);
    vd_buffer_destroy(f->ctx, out);
    vd_kernel_destroy(f->ctx, kernel);
    vd_image_destroy(f->ctx, cube);
}

TEST_EXECUTED(texels_are_gathered) {
    static const float texels[4] = { 10, 11, 12, 13 }, wanted[4] = { 12, 13, 11, 10 };
    float got[4];
    needs_images(f);
    if (f->backend == VD_BACKEND_OPENCL) skip_because("the language has no gathers");
    vc_kernel *k = kernel_begin(f->ctx, "gather", 8, 1, 1);
    vc_image_ref image = vc_image(k, "image", NULL);
    vc_ref to = vc_buffer(k, "out", VC_F32X4, VC_WRITE);
    VC_EACH(k, i) {
        vc_val half = vc_const(k, vc_f32(0.5f));
        vc_store(to, i, vc_gather(image, vc_vec2(half, half), 0));
    }
    vd_kernel kernel = kernel_end(f->ctx, k);
    vd_image floats = image_2d(f->ctx, VD_FORMAT_R32_F, 2, 2, texels);
    vd_buffer out = buffer_named(f->ctx, "out", VD_F32X4, 1, NULL);
    OK(vd_run(f->ctx, kernel, 1, vd_i(floats), vd_b(out)));
    OK(vd_buffer_read(f->ctx, out, 0, got, sizeof got));
    for (int i = 0; i < 4; i++)
        if (fabsf(got[i] - wanted[i]) > 0.01f) fail_msg("texel %d of the gather is %g", i, (double)got[i]);
    vd_buffer_destroy(f->ctx, out);
    vd_kernel_destroy(f->ctx, kernel);
    vd_image_destroy(f->ctx, floats);
}

/* Checks a texel that a kernel stored as `value`: component c of the memory, and what a kernel loads. */
static void check_stored(const vd_format_info *info, const uint8_t *texel, uint32_t c, double value, double loaded) {
    double stored = texel_value(info, texel, c), bound = 0;
    bool is_signed = strstr(info->name, "snorm") != NULL;
    uint32_t bits = 32;
    if (c < info->components) texel_bits(info, texel, c, &bits);
    if (strstr(info->name, "norm")) {
        double low = is_signed ? -1 : 0;
        value = value < low ? low : value > 1 ? 1 : value;
        bound = 0.51 / (ldexp(1, (int)bits - is_signed) - 1);
    } else if (info->type == VD_F32 && bits < 32) {
        if (bits < 16 && value < 0) value = 0;               /* without a sign */
        bound = ldexp(fabs(value), bits < 16 ? 5 - (int)bits : -10); /* some drivers truncate */
    }
    if (fabs(stored - value) > bound && c < info->components && (bits > 2 || value <= 3))
        fail_msg("%s: component %u was stored as %.9g, not %.9g", info->name, c, stored, value);
    if (fabs(loaded - stored) > 1e-6)
        fail_msg("%s: component %u was loaded as %.9g, not %.9g", info->name, c, loaded, stored);
}

static vd_image texel_buffer(vd_context *ctx, vd_buffer buffer, vd_format format, uint64_t offset, uint64_t texels) {
    vd_texel_buffer_desc d;
    memset(&d, 0, sizeof d);
    d.name = "texels";
    d.buffer = buffer;
    d.format = format;
    d.offset = offset;
    d.texels = texels;
    vd_image image = vd_texel_buffer(ctx, &d);
    if (!image.id) fail_msg("vd_texel_buffer: %s", vd_error_text());
    return image;
}

static void needs_texels(const fixture *f) {
    needs_images(f);
    if (!vd_device(f->ctx, 0)->limits.max_texels) skip_because("the device has no texel buffers");
}

/* A kernel stores values to 1-D images of each format, or to texel buffers, another one loads them. */
static int store_and_load(const fixture *f, vd_dim dim, vd_buffer memory) {
    enum { N = 8 };
    static const float floats[N] = { 0, 1, 0.3f, -0.4f, -1.5f, 2.5f, 0.7f, -1 };
    static const int32_t integers[N] = { 0, 1, 100, 77, 5, 99, 127, 3 };
    int checked = 0;
    bool buffers = dim == VD_DIM_BUFFER;
    uint64_t offset = 3 * (uint64_t)vd_device(f->ctx, 0)->limits.texel_alignment;
    for (int i = 1; i <= VD_FORMAT_R8_U; i++) {
        vd_format_info info;
        uint8_t texels[N * 16];
        uint32_t got[N][4], values[N][4];
        OK(vd_format_query(f->ctx, 0, (vd_format)i, &info));
        if (!(info.usage & (buffers ? VD_IMAGE_STORAGE_TEXELS : VD_IMAGE_STORAGE))) continue;
        vc_dim kernel_dim = buffers ? VC_DIM_BUFFER : VC_DIM_1D;
        vc_type type = VC_VEC((vc_type)info.type, 4);
        vc_kernel *store = kernel_begin(f->ctx, "store", N, 1, 1), *load = kernel_begin(f->ctx, "load", N, 1, 1);
        vc_image_ref to = image_arg(store, "to", kernel_dim, true, (vc_format)i, VC_NONE, VC_WRITE);
        vc_ref in = vc_buffer(store, "in", type, VC_READ);
        VC_EACH(store, n) { vc_image_store(to, n, vc_load(in, n)); }
        vc_image_ref from = image_arg(load, "from", kernel_dim, true, (vc_format)i, VC_NONE, VC_READ);
        vc_ref out = vc_buffer(load, "out", type, VC_WRITE);
        VC_EACH(load, n) { vc_store(out, n, vc_image_load(from, n)); }
        vd_kernel kernels[2] = { kernel_end(f->ctx, store), kernel_end(f->ctx, load) };
        for (int j = 0; j < 4 * N; j++) {
            int32_t integer = info.type == VD_I32 && j % 3 == 0 ? -integers[j % N] : integers[j % N];
            float value = floats[(j + j / 4) % N];
            memcpy(&values[j / 4][j % 4], info.type == VD_F32 ? (const void *)&value : (const void *)&integer, 4);
        }
        vd_image_desc d = image_desc((vd_format)i, VD_DIM_1D, N, 0, 0);
        d.usage = VD_IMAGE_STORAGE;
        vd_image image = buffers ? texel_buffer(f->ctx, memory, d.format, offset, N) : image_of(f->ctx, &d);
        vd_buffer source = buffer_named(f->ctx, "in", type, N, values),
                  target = buffer_named(f->ctx, "out", type, N, NULL);
        OK(vd_run(f->ctx, kernels[0], N, vd_i(image), vd_b(source)));
        OK(vd_run(f->ctx, kernels[1], N, vd_i(image), vd_b(target)));
        if (buffers) OK(vd_buffer_read(f->ctx, memory, offset, texels, N * info.block_bytes));
        else download(f->ctx, image, 0, texels);
        OK(vd_buffer_read(f->ctx, target, 0, got, sizeof got));
        for (uint32_t j = 0; j < 4 * N; j++) {
            double pair[2];
            for (int s = 0; s < 2; s++) {
                uint32_t word = s ? got[j / 4][j % 4] : values[j / 4][j % 4];
                float value;
                memcpy(&value, &word, 4);
                pair[s] = info.type == VD_F32 ? (double)value : info.type == VD_I32 ? (double)(int32_t)word
                                                                                    : (double)word;
            }
            if (f->backend == VD_BACKEND_OPENCL && j % 4 >= info.components) continue; /* PoCL 3.1 */
            check_stored(&info, texels + j / 4 * info.block_bytes, j % 4, pair[0], pair[1]);
        }
        for (int j = 0; j < 2; j++) vd_kernel_destroy(f->ctx, kernels[j]);
        vd_buffer_destroy(f->ctx, source);
        vd_buffer_destroy(f->ctx, target);
        vd_image_destroy(f->ctx, image);
        checked++;
    }
    return checked;
}

TEST_EXECUTED(storage_formats_convert) {
    needs_images(f);
    int checked = store_and_load(f, VD_DIM_1D, (vd_buffer){ 0 });
    assert_true(checked >= (f->backend == VD_BACKEND_OPENCL ? 10 : f->backend == VD_BACKEND_CUDA ? 35 : 12));
}

/* ---- texel buffers ---- */

TEST_EXECUTED(storage_texels_convert) {
    needs_texels(f);
    vd_buffer memory = buffer_named(f->ctx, "memory", VD_BYTES, 1 << 14, NULL);
    assert_true(store_and_load(f, VD_DIM_BUFFER, memory) >= (f->backend == VD_BACKEND_VULKAN ? 3 : 10));
    vd_buffer_destroy(f->ctx, memory);
}

/* out[i] = texel i, or the number of texels in component 0 after the last one */
static vd_kernel kernel_fetch_texels(vd_context *ctx, vc_type type) {
    vc_kernel *k = kernel_begin(ctx, "fetch", 8, 1, 1);
    vc_image_ref image = image_arg(k, "texels", VC_DIM_BUFFER, false, VC_FORMAT_NONE, type, 0);
    vc_ref out = vc_buffer(k, "out", VC_VEC(type, 4), VC_WRITE);
    VC_EACH(k, i) {
        vc_val size = vc_image_size(image, vc_u32(0)), last = vc_sub(size, vc_u32(1));
        vc_val texel = vc_fetch(image, vc_min(i, last), vc_u32(0));
        vc_store(out, i, vc_select(vc_lt(i, size), texel, vc_splat(vc_cast(type, size), 4)));
    }
    return kernel_end(ctx, k);
}

/* Every format is fetched from the middle of a buffer. */
TEST_EXECUTED(texels_convert_like_the_oracle) {
    enum { N = 256 };
    static uint8_t texels[N * 16];
    needs_texels(f);
    vd_kernel kernels[3] = { kernel_fetch_texels(f->ctx, VC_F32), kernel_fetch_texels(f->ctx, VC_I32),
                             kernel_fetch_texels(f->ctx, VC_U32) };
    static const vd_type types[3] = { VD_F32X4, VD_I32X4, VD_U32X4 };
    uint64_t offset = 2 * (uint64_t)vd_device(f->ctx, 0)->limits.texel_alignment;
    vd_buffer outs[3], memory = buffer_named(f->ctx, "memory", VD_BYTES, 1 << 16, NULL);
    int checked = 0;
    for (int i = 0; i < 3; i++) outs[i] = buffer_named(f->ctx, "out", types[i], N + 1, NULL);
    for (int i = 1; i < VD_FORMATS_END; i++) {
        vd_format_info info;
        uint32_t got[N + 1][4];
        OK(vd_format_query(f->ctx, 0, (vd_format)i, &info));
        if (!(info.usage & VD_IMAGE_TEXELS)) continue;
        fill_texels(&info, texels, N, (uint64_t)i);
        OK(vd_write(vd_immediate(f->ctx, 0, 0), memory, offset, texels, N * info.block_bytes));
        vd_image view = texel_buffer(f->ctx, memory, (vd_format)i, offset, N);
        int type = info.type == VD_F32 ? 0 : info.type == VD_I32 ? 1 : 2;
        OK(vd_run(f->ctx, kernels[type], N + 1, vd_i(view), vd_b(outs[type])));
        vd_image_destroy(f->ctx, view); /* while the dispatch uses it */
        OK(vd_buffer_read(f->ctx, outs[type], 0, got, sizeof got));
        float size;
        memcpy(&size, &got[N][0], 4);
        assert_int_equal(info.type == VD_F32 ? (uint32_t)size : got[N][0], N);
        for (uint32_t t = 0; t < N; t++)
            for (uint32_t c = 0; c < 4; c++) {
                if (f->backend == VD_BACKEND_OPENCL && info.type != VD_F32 && c == 3 && info.components == 1)
                    continue; /* PoCL 3.1 reads 0 */
                if (f->backend == VD_BACKEND_CUDA && c == 3 && info.components < 4) {
                    assert_int_equal(got[t][c], 0); /* as the manual says */
                    continue;
                }
                check_component(f, &info, texels + t * info.block_bytes, c, got[t], "a texel buffer");
            }
        checked++;
    }
    assert_true(checked >= 20);
    for (int i = 0; i < 3; i++) vd_kernel_destroy(f->ctx, kernels[i]);
    for (int i = 0; i < 3; i++) vd_buffer_destroy(f->ctx, outs[i]);
    vd_buffer_destroy(f->ctx, memory);
}

/* texels[i] = texels[i] + add */
static vd_kernel kernel_add_texels(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "add", 8, 1, 1);
    vc_image_ref image = image_arg(k, "texels", VC_DIM_BUFFER, true, VC_FORMAT_R32_U, VC_NONE, VC_READ_WRITE);
    vc_val add = vc_param(k, "add", VC_U32);
    VC_EACH(k, i) { vc_image_store(image, i, vc_add(vc_image_load(image, i), vc_splat(add, 4))); }
    return kernel_end(ctx, k);
}

TEST(texel_buffers_are_described) {
    enum { N = 512 };
    needs_texels(f);
    for (int sparse = 0; sparse < (vd_device(f->ctx, 0)->limits.sparse_page_bytes ? 2 : 1); sparse++) {
        vd_buffer_desc d;
        vd_image_info info;
        vd_buffer_info memory;
        memset(&d, 0, sizeof d);
        d.type = VD_U32;
        d.shape[0] = N;
        d.sparse = sparse;
        vd_buffer buffer = vd_buffer_create(f->ctx, &d);
        vd_image texels = texel_buffer(f->ctx, buffer, VD_FORMAT_R32_U, N / 2 * 4, 0);
        OK(vd_image_query(f->ctx, texels, &info));
        OK(vd_buffer_query(f->ctx, buffer, &memory));
        assert_int_equal(info.dim, VD_DIM_BUFFER);
        assert_int_equal(info.extent[0], N / 2);
        assert_int_equal(info.size, N / 2 * 4);
        assert_true(info.native == memory.native && info.storage == memory.storage);
        vd_buffer_destroy(f->ctx, buffer); /* with its texel buffer */
    }
}

/* The texel buffers share bytes with each other and with buffers: all commands on them are ordered, in an immediate
   list, a list and a graph. */
TEST_EXECUTED(texels_are_ordered) {
    enum { N = 512 };
    uint32_t numbers[N], got[N];
    needs_texels(f);
    for (uint32_t i = 0; i < N; i++) numbers[i] = i;
    vd_buffer memory = buffer_named(f->ctx, "memory", VD_U32, N, numbers);
    vd_view_desc half;
    memset(&half, 0, sizeof half);
    half.buffer = memory;
    half.type = VD_U32;
    half.offset = N / 2 * 4;
    vd_buffer upper = vd_buffer_view(f->ctx, &half);
    vd_image all = texel_buffer(f->ctx, memory, VD_FORMAT_R32_U, 0, 0),
             part = texel_buffer(f->ctx, upper, VD_FORMAT_R32_U, 0, 0);
    vd_image_info info;
    vd_kernel k = kernel_add_texels(f->ctx);
    vd_graph graph = { 0 };
    for (int pass = 0; pass < 3; pass++) {
        vd_list *l = pass == 0 ? vd_immediate(f->ctx, 0, 0) : pass == 1 ? list_begin(f->ctx)
                                                                        : vd_graph_begin(f->ctx, NULL);
        for (uint32_t i = 0; i < 2; i++) {
            vd_arg args[2] = { vd_i(i ? part : all), vd_u32(i ? 1000 : 10) };
            vd_dispatch_desc d;
            memset(&d, 0, sizeof d);
            d.kernel = k;
            d.threads[0] = i ? N / 2 : N;
            d.args = args;
            d.arg_count = 2;
            OK(vd_dispatch(l, &d));
        }
        OK(vd_copy(l, memory, 0, upper, 0, N / 4 * 4)); /* a quarter of the buffer follows from the stores */
        if (pass == 1) OK(vd_submit(l, NULL, NULL));
        if (pass == 2) {
            graph = vd_graph_end(l);
            assert_true(graph.id != 0);
            OK(vd_graph_submit(f->ctx, graph, NULL, NULL));
        }
        OK(vd_buffer_read(f->ctx, memory, 0, got, sizeof got));
        for (uint32_t i = 0; i < N; i++) numbers[i] += i < N / 2 ? 10u : 1010u;
        memcpy(numbers, numbers + N / 2, N / 4 * 4);
        for (uint32_t i = 0; i < N; i++)
            if (got[i] != numbers[i]) fail_msg("pass %d: number %u is %u, not %u", pass, i, got[i], numbers[i]);
    }
    vd_buffer_destroy(f->ctx, memory); /* with its views and texel buffers */
    FAILS(vd_image_query(f->ctx, all, &info), VD_ERROR_INVALID, "vd_image_query|was destroyed");
    FAILS(vd_run(f->ctx, k, N, vd_i(part), vd_u32(1)), VD_ERROR_INVALID, "was destroyed");
    FAILS(vd_graph_submit(f->ctx, graph, NULL, NULL), VD_ERROR_INVALID, "image 'texels' was destroyed");
    vd_graph_destroy(f->ctx, graph);
    vd_kernel_destroy(f->ctx, k);
}

/* Devices without texel buffers say so. */
TEST(devices_without_texel_buffers_say_so) {
    needs_images(f);
    if (vd_device(f->ctx, 0)->limits.max_texels) skip_because("the device has texel buffers");
    vd_buffer memory = buffer_named(f->ctx, "memory", VD_BYTES, 4096, NULL);
    vd_texel_buffer_desc d;
    vd_format_info info;
    memset(&d, 0, sizeof d);
    d.buffer = memory;
    d.format = VD_FORMAT_RGBA32_F;
    assert_int_equal(vd_texel_buffer(f->ctx, &d).id, 0);
    check_failure("vd_texel_buffer", vd_error_result(), VD_ERROR_UNSUPPORTED, "rgba32f|VD_IMAGE_TEXELS");
    OK(vd_format_query(f->ctx, 0, d.format, &info));
    assert_int_equal(info.usage & (VD_IMAGE_TEXELS | VD_IMAGE_STORAGE_TEXELS), 0);
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "texels", .machine = vd_machine(f->ctx) });
    vc_image_ref image = image_arg(k, "texels", VC_DIM_BUFFER, false, VC_FORMAT_NONE, VC_F32, 0);
    vc_ref out = vc_buffer(k, "out", VC_F32X4, VC_WRITE);
    VC_EACH(k, i) { vc_store(out, i, vc_fetch(image, i, vc_u32(0))); }
    assert_int_equal(vd_kernel_build(f->ctx, k).id, 0);
    check_failure("vd_kernel_build", vd_error_result(), VD_ERROR_UNSUPPORTED, "argument 0 'texels' is a texel buffer");
    vc_free(k);
    vd_buffer_destroy(f->ctx, memory);
}

static void texels_refused(fixture *f, const vd_texel_buffer_desc *d, vd_result wanted, const char *parts) {
    assert_int_equal(vd_texel_buffer(f->ctx, d).id, 0);
    check_failure("vd_texel_buffer", vd_error_result(), wanted, parts);
}

TEST(texel_buffers_that_are_refused) {
    needs_texels(f);
    const vd_limits *limits = &vd_device(f->ctx, 0)->limits;
    vd_buffer memory = buffer_named(f->ctx, "memory", VD_BYTES, 4096, NULL);
    vd_texel_buffer_desc good, d;
    memset(&good, 0, sizeof good);
    good.buffer = memory;
    good.format = VD_FORMAT_RGBA32_F;
    vd_image texels = vd_texel_buffer(f->ctx, &good), image = image_2d(f->ctx, VD_FORMAT_R32_U, 4, 4, NULL);
    assert_true(texels.id != 0);
    assert_int_equal(vd_texel_buffer(f->ctx, NULL).id, 0);
    check_failure("vd_texel_buffer", vd_error_result(), VD_ERROR_INVALID, "vd_texel_buffer|desc is NULL");
    d = good;
    d.buffer.id = 0;
    texels_refused(f, &d, VD_ERROR_INVALID, "vd_texel_buffer|the buffer");
    d = good;
    d.format = VD_FORMAT_NONE;
    texels_refused(f, &d, VD_ERROR_INVALID, "vd_texel_buffer 'memory'|the format is 0");
    d.format = VD_FORMAT_BC1_UNORM;
    texels_refused(f, &d, VD_ERROR_UNSUPPORTED, "bc1unorm|fetch from (VD_IMAGE_TEXELS)");
    d.format = VD_FORMAT_D32_F;
    texels_refused(f, &d, VD_ERROR_UNSUPPORTED, "d32f|fetch from");
    d = good;
    d.usage = 8;
    texels_refused(f, &d, VD_ERROR_INVALID, "desc.usage is 8, but must be VD_IMAGE_SAMPLED, VD_IMAGE_STORAGE or both");
    d = good;
    d.offset = 4096;
    texels_refused(f, &d, VD_ERROR_INVALID, "1 texels of 16 bytes at desc.offset 4096 extend past the end|(4096 bytes)");
    d.offset = 1024;
    d.texels = 193;
    texels_refused(f, &d, VD_ERROR_INVALID, "193 texels of 16 bytes at desc.offset 1024 extend past the end");
    d.texels = UINT64_MAX;
    texels_refused(f, &d, VD_ERROR_INVALID, "texels of 16 bytes at desc.offset");
    d = good;
    d.offset = UINT64_MAX;
    texels_refused(f, &d, VD_ERROR_INVALID, "past the end");
    d = good;
    d.offset = limits->texel_alignment / 2;
    if (d.offset) texels_refused(f, &d, VD_ERROR_INVALID, "which is not a multiple of|(texel_alignment)");
    /* functions for images */
    vd_list *l = vd_immediate(f->ctx, 0, 0);
    vd_image_transfer t = transfer_of(texels);
    uint8_t bytes[4096];
    vd_image_view_desc view;
    memset(&view, 0, sizeof view);
    view.image = texels;
    FAILS(vd_image_upload(f->ctx, &t, bytes), VD_ERROR_INVALID, "vd_image_upload|'memory' is a texel buffer");
    FAILS(vd_image_download(f->ctx, &t, bytes), VD_ERROR_INVALID, "vd_image_download|'memory' is a texel buffer");
    FAILS(vd_clear_image(l, texels, NULL), VD_ERROR_INVALID, "vd_clear_image|'memory' is a texel buffer");
    FAILS(vd_discard_image(l, texels), VD_ERROR_INVALID, "vd_discard_image|'memory' is a texel buffer");
    assert_int_equal(vd_image_view(f->ctx, &view).id, 0);
    check_failure("vd_image_view", vd_error_result(), VD_ERROR_INVALID, "vd_image_view|'memory' is a texel buffer");
    vd_image_box a = box_of(image, 0), b = box_of(texels, 0);
    FAILS(vd_copy_image(l, &a, &b), VD_ERROR_INVALID, "vd_copy_image|source image 'memory' is a texel buffer");
    /* arguments */
    vd_kernel k = kernel_add_texels(f->ctx);
    FAILS(vd_run(f->ctx, k, 4, vd_i(image), vd_u32(1)), VD_ERROR_INVALID,
          "image 'picture' is a 2-D image, but the kernel expects a texel buffer");
    FAILS(vd_run(f->ctx, k, 4, vd_i(texels), vd_u32(1)), VD_ERROR_INVALID,
          "'memory' has format rgba32f|components are f32|expects u32");
    FAILS(vd_run(f->ctx, k, 4, vd_b(memory), vd_u32(1)), VD_ERROR_INVALID, "argument 0 'texels'");
    d = good;
    d.format = VD_FORMAT_R32_U;
    d.usage = VD_IMAGE_SAMPLED;
    vd_image fetched = vd_texel_buffer(f->ctx, &d);
    FAILS(vd_run(f->ctx, k, 4, vd_i(fetched), vd_u32(1)), VD_ERROR_INVALID, "was created without VD_IMAGE_STORAGE");
    /* graphs */
    vd_list *g = vd_graph_begin(f->ctx, NULL);
    assert_int_equal(vd_slot_image(g, "slot", texels).id, 0);
    check_failure("vd_slot_image", vd_error_result(), VD_ERROR_INVALID, "vd_slot_image|'memory' is a texel buffer");
    vd_list_discard(g);
    g = vd_graph_begin(f->ctx, NULL);
    vd_arg args[2] = { vd_slot("slot", vd_i(texels)), vd_u32(1) };
    vd_dispatch_desc dispatch;
    memset(&dispatch, 0, sizeof dispatch);
    dispatch.kernel = k;
    dispatch.threads[0] = 4;
    dispatch.args = args;
    dispatch.arg_count = 2;
    FAILS(vd_dispatch(g, &dispatch), VD_ERROR_UNSUPPORTED, "slot 'slot': 'memory' is a texel buffer");
    vd_list_discard(g);
    g = vd_graph_begin(f->ctx, NULL);
    vd_buffer_desc transient;
    memset(&transient, 0, sizeof transient);
    transient.shape[0] = 4096;
    d = good;
    d.buffer = vd_graph_buffer(g, &transient);
    assert_true(d.buffer.id != 0);
    texels_refused(f, &d, VD_ERROR_UNSUPPORTED, "vd_texel_buffer|belongs to a graph");
    vd_list_discard(g);
    vd_kernel_destroy(f->ctx, k);
    vd_image_destroy(f->ctx, fetched);
    vd_image_destroy(f->ctx, texels);
    vd_image_destroy(f->ctx, image);
    vd_buffer_destroy(f->ctx, memory);
}

/* out[y * size + x] = the texel of a level */
static vd_kernel kernel_fetch_level(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "fetch", 8, 8, 1);
    vc_image_ref image = vc_image(k, "image", NULL);
    vc_ref out = vc_buffer(k, "out", VC_F32X4, VC_WRITE);
    vc_val level = vc_param(k, "level", VC_U32);
    VC_EACH2(k, x, y) { vc_store(out, vc_add(vc_mul(y, vc_threads(k, 0)), x), vc_fetch(image, vc_vec2(x, y), level)); }
    return kernel_end(ctx, k);
}

/* Blocks of one colour, a different one in each block, in every level down to 1 x 1 texel. */
TEST_EXECUTED(block_formats_are_decoded) {
    enum { SIDE = 16 };
    static const uint16_t colors[4] = { 0xF800, 0x07E0, 0xFFFF, 0x8410 };
    static const float decoded[4][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 1, 1, 1 },
                                         { 16 / 31.0f, 32 / 63.0f, 16 / 31.0f } };
    static const uint8_t depths[4] = { 10, 100, 200, 255 };
    static const vd_format formats[] = { VD_FORMAT_BC1_UNORM, VD_FORMAT_BC1_SRGB, VD_FORMAT_BC3_UNORM,
                                         VD_FORMAT_BC3_SRGB, VD_FORMAT_BC4_UNORM, VD_FORMAT_BC5_UNORM };
    needs_images(f);
    if (f->backend == VD_BACKEND_OPENCL) skip_because("OpenCL has no block formats");
    vd_kernel k = kernel_fetch_level(f->ctx);
    vd_buffer out = buffer_named(f->ctx, "out", VD_F32X4, SIDE * SIDE, NULL);
    for (size_t n = 0; n < COUNT(formats); n++) {
        vd_image_desc d = image_desc(formats[n], VD_DIM_2D, SIDE, SIDE, 0);
        vd_format_info info;
        OK(vd_format_query(f->ctx, 0, formats[n], &info));
        if (!(info.usage & VD_IMAGE_SAMPLED)) continue;
        d.levels = VD_ALL_LEVELS;
        vd_image image = image_of(f->ctx, &d);
        for (uint32_t level = 0; SIDE >> level; level++) {
            uint32_t side = SIDE >> level, blocks = (side + 3) / 4;
            uint8_t data[16 * 16] = { 0 }, back[16 * 16];
            float got[SIDE * SIDE][4];
            for (uint32_t b = 0; b < blocks * blocks; b++) {
                uint8_t *at = data + b * info.block_bytes;
                bool colored = info.components == 4;
                if (info.block_bytes == 16 || !colored) at[0] = depths[(b + level) % 4]; /* alpha, or red */
                if (info.block_bytes == 16 && !colored) at[8] = depths[(b + level + 1) % 4]; /* green */
                if (colored) memcpy(at + info.block_bytes - 8, &colors[(b + level) % 4], 2);
            }
            set_level(f->ctx, image, level, data);
            download(f->ctx, image, level, back);
            assert_memory_equal(back, data, blocks * blocks * info.block_bytes);
            OK(vd_run2(f->ctx, k, side, side, vd_i(image), vd_b(out), vd_u32(level)));
            OK(vd_buffer_read(f->ctx, out, 0, got, side * side * 16));
            for (uint32_t t = 0; t < side * side; t++) {
                uint32_t b = t / side / 4 * blocks + t % side / 4;
                for (uint32_t c = 0; c < info.components; c++) {
                    double wanted = info.components < 4 || c == 3 ? depths[(b + level + c % 3) % 4] / 255.0
                                    : (double)decoded[(b + level) % 4][c];
                    if (info.components == 4 && c == 3 && info.block_bytes == 8) wanted = 1;
                    if (strstr(info.name, "srgb") && c < 3) wanted = srgb_value(wanted);
                    if (fabs((double)got[t][c] - wanted) > 2.1 / 255)
                        fail_msg("%s, level %u, texel %u: component %u is %g, not %g", info.name, level, t, c,
                                 (double)got[t][c], wanted);
                }
            }
        }
        vd_image_destroy(f->ctx, image);
    }
    vd_buffer_destroy(f->ctx, out);
    vd_kernel_destroy(f->ctx, k);
}

/* A kernel that loads from and stores to one image: each invocation counts up three times; once in CUDA C, where a
   kernel must not load what it has stored. */
TEST_EXECUTED(one_image_is_loaded_and_stored) {
    uint32_t texels[4][8], got[4][8];
    needs_images(f);
    uint32_t rounds = f->backend == VD_BACKEND_CUDA ? 1 : 3;
    for (uint32_t i = 0; i < 32; i++) texels[i / 8][i % 8] = i;
    vc_kernel *k = kernel_begin(f->ctx, "count", 8, 4, 1);
    vc_image_ref image = image_arg(k, "image", VC_DIM_2D, true, VC_FORMAT_R32_U, VC_NONE, VC_READ_WRITE);
    VC_EACH2(k, x, y) {
        VC_FOR(k, j, vc_u32(0), vc_u32(rounds)) {
            vc_image_store(image, vc_vec2(x, y), vc_add(vc_image_load(image, vc_vec2(x, y)), vc_add(j, vc_u32(1))));
        }
    }
    vd_kernel kernel = kernel_end(f->ctx, k);
    vd_image a = image_2d(f->ctx, VD_FORMAT_R32_U, 8, 4, texels);
    OK(vd_run2(f->ctx, kernel, 8, 4, vd_i(a)));
    download(f->ctx, a, 0, got);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(got[i / 8][i % 8], i + rounds * (rounds + 1) / 2);
    vd_image_destroy(f->ctx, a);
    vd_kernel_destroy(f->ctx, kernel);
}

/* A chain of kernels and transfers on two images and on views of levels: every command needs the one before. */
TEST_EXECUTED(commands_on_images_are_ordered) {
    uint32_t got[8][8];
    needs_images(f);
    vd_kernel k = kernel_add(f->ctx);
    vd_image_desc d = image_desc(VD_FORMAT_R32_U, VD_DIM_2D, 16, 16, 0);
    d.levels = 2;
    vd_image image = image_of(f->ctx, &d), other = image_2d(f->ctx, VD_FORMAT_R32_U, 8, 8, NULL);
    vd_image_view_desc v;
    memset(&v, 0, sizeof v);
    v.image = image;
    v.level = 1;
    vd_image second = vd_image_view(f->ctx, &v);
    assert_true(second.id != 0);
    for (int list = 0; list < 2; list++) {
        vd_list *l = list ? list_begin(f->ctx) : vd_immediate(f->ctx, 0, 0);
        OK(vd_clear_image(l, other, NULL));
        for (uint32_t i = 0; i < 10; i++) {
            vd_dispatch_desc dispatch_desc;
            vd_arg args[3];
            memset(&dispatch_desc, 0, sizeof dispatch_desc);
            args[0] = vd_i(other);
            args[1] = vd_i(second);
            args[2] = vd_u32(i);
            dispatch_desc.kernel = k;
            dispatch_desc.threads[0] = dispatch_desc.threads[1] = 8;
            dispatch_desc.args = args;
            dispatch_desc.arg_count = 3;
            OK(vd_dispatch(l, &dispatch_desc));
            vd_image_box to = box_of(other, 0), from = box_of(image, 1);
            OK(vd_copy_image(l, &to, &from));
        }
        if (list) OK(vd_submit(l, NULL, NULL));
        download(f->ctx, other, 0, got);
        for (uint32_t i = 0; i < 64; i++) assert_int_equal(got[i / 8][i % 8], 45);
    }
    vd_image_destroy(f->ctx, image);
    vd_image_destroy(f->ctx, other);
    vd_kernel_destroy(f->ctx, k);
}

/* An image that can only be sampled changes its layout for every transfer. */
TEST_EXECUTED(sampled_images_between_transfers) {
    static const float at[1][2] = { { 0.5f, 0.5f } };
    needs_images(f);
    float value = 1, got;
    vd_image_desc d = image_desc(VD_FORMAT_R32_F, VD_DIM_2D, 1, 1, 0);
    d.usage = VD_IMAGE_SAMPLED;
    d.data = &value;
    vd_image image = image_of(f->ctx, &d);
    vd_kernel k = kernel_sample(f->ctx);
    vd_buffer points = buffer_named(f->ctx, "at", VD_F32X2, 1, at), out = buffer_named(f->ctx, "out", VD_F32, 1, NULL);
    vd_buffer source = buffer_named(f->ctx, "source", VD_F32, 1, &value);
    vd_arg args[3];
    args[0] = vd_i(image);
    args[1] = vd_b(points);
    args[2] = vd_b(out);
    for (int i = 0; i < 6; i++) {
        vd_list *l = i % 2 ? list_begin(f->ctx) : vd_immediate(f->ctx, 0, 0);
        vd_image_transfer t = transfer_of(image);
        t.buffer = source;
        value = (float)(i + 2);
        OK(vd_write(l, source, 0, &value, 4));
        OK(vd_copy_to_image(l, &t));
        OK(dispatch(l, k, 1, args, 3));
        t.buffer = source;
        OK(vd_copy_from_image(l, &t));
        if (i % 2) OK(vd_submit(l, NULL, NULL));
        OK(vd_buffer_read(f->ctx, out, 0, &got, 4));
        assert_true(got == value);
        OK(vd_buffer_read(f->ctx, source, 0, &got, 4));
        assert_true(got == value);
    }
    vd_buffer_destroy(f->ctx, points);
    vd_buffer_destroy(f->ctx, out);
    vd_buffer_destroy(f->ctx, source);
    vd_kernel_destroy(f->ctx, k);
    vd_image_destroy(f->ctx, image);
}

/* ---- graphs ---- */

/* A graph whose commands read the image in slot "in": a copy to a buffer, and a dispatch that stores to "to". */
static vd_graph graph_with_images(vd_context *ctx, vd_kernel add, vd_image in, vd_image to, vd_buffer copy) {
    vd_list *list = vd_graph_begin(ctx, NULL);
    vd_arg args[3] = { vd_slot("in", vd_i(in)), vd_slot("to", vd_i(to)), vd_u32(5) };
    vd_dispatch_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.kernel = add;
    desc.threads[0] = desc.threads[1] = 8;
    desc.args = args;
    desc.arg_count = 3;
    OK(vd_dispatch(list, &desc));
    vd_image slot = vd_slot_image(list, "in", in), same = vd_slot_image(list, "in", in);
    assert_true(slot.id && slot.id == same.id);
    vd_image_transfer t = transfer_of(slot);
    t.buffer = copy;
    OK(vd_copy_from_image(list, &t));
    FAILS(vd_run2(ctx, add, 8, 8, vd_i(slot), vd_i(to), vd_u32(1)), VD_ERROR_INVALID, "vd_run 'add'|belongs to a graph");
    FAILS(vd_image_download(ctx, &t, &args), VD_ERROR_INVALID, "vd_image_download|belongs to a graph");
    FAILS(vd_copy_from_image(vd_immediate(ctx, 0, 0), &t), VD_ERROR_INVALID, "vd_copy_from_image|belongs to a graph");
    vd_image_destroy(ctx, slot);
    check_text("vd_image_destroy", "belongs to a graph and is destroyed with it");
    vd_graph g = vd_graph_end(list);
    if (!g.id) fail_msg("vd_graph_end: %s", vd_error_text());
    vd_sampler sampler = vd_sampler_create(ctx, NULL);
    FAILS(vd_graph_set(ctx, g, "to", vd_sampled(to, &sampler)), VD_ERROR_INVALID,
          "slot 'to' is an image without a sampler, but the new value has one; use vd_i");
    FAILS(vd_graph_set(ctx, g, "to", vd_slot("from", vd_i(to))), VD_ERROR_INVALID,
          "slot 'to' is an image, but the new value is itself a slot");
    vd_sampler_destroy(ctx, sampler);
    return g;
}

/* Images, and views of levels, are exchanged between submissions. */
TEST_EXECUTED(images_in_slots) {
    uint32_t got[8][8];
    vd_stats before, after;
    needs_images(f);
    vd_kernel add = kernel_add(f->ctx);
    vd_image_desc d = image_desc(VD_FORMAT_R32_U, VD_DIM_2D, 16, 16, 0);
    d.levels = 2;
    vd_image chain = image_of(f->ctx, &d), in[3], to[2];
    vd_image_view_desc v;
    memset(&v, 0, sizeof v);
    v.image = chain;
    v.level = 1;
    in[2] = vd_image_view(f->ctx, &v);
    for (int i = 0; i < 2; i++) {
        in[i] = image_2d(f->ctx, VD_FORMAT_R32_U, 8, 8, NULL);
        to[i] = image_2d(f->ctx, VD_FORMAT_R32_U, 8, 8, NULL);
    }
    vd_buffer copy = buffer_u32(f->ctx, "copy", 64, NULL);
    vd_context_stats(f->ctx, &before);
    vd_graph g = graph_with_images(f->ctx, add, in[0], to[0], copy);
    vd_context_stats(f->ctx, &after);
    assert_int_equal(after.images, before.images);
    for (uint32_t i = 0; i < 12; i++) {
        vd_color c;
        memset(&c, 0, sizeof c);
        c.u[0] = 1000 + i;
        OK(vd_clear_image(vd_immediate(f->ctx, 0, 0), in[i % 3], &c));
        vd_graph_value value = { "to", vd_i(to[i / 2 % 2]), 0 };
        vd_graph_submit_desc desc = { NULL, 0, 0, &value, 1 };
        OK(vd_graph_set(f->ctx, g, "in", vd_i(in[i % 3])));
        OK(vd_graph_submit(f->ctx, g, &desc, NULL));
        download(f->ctx, to[i / 2 % 2], 0, got);
        for (uint32_t j = 0; j < 64; j++) assert_int_equal(got[j / 8][j % 8], 1005 + i);
        assert_int_equal(read_u32(f->ctx, copy, 63), 1000 + i);
    }
    /* wrong values */
    vd_image floats = image_2d(f->ctx, VD_FORMAT_R32_F, 8, 8, NULL);
    vd_image small = image_2d(f->ctx, VD_FORMAT_R32_U, 8, 4, NULL);
    FAILS(vd_graph_set(f->ctx, g, "in", vd_i(floats)), VD_ERROR_INVALID, "vd_graph_set|slot 'in': image|has format r32f, but the initial image has r32u");
    FAILS(vd_graph_set(f->ctx, g, "in", vd_i(small)), VD_ERROR_INVALID, "has extent[1] = 4, but the initial image has 8");
    FAILS(vd_graph_set(f->ctx, g, "in", vd_i(chain)), VD_ERROR_INVALID, "slot 'in': image|has levels = 2");
    FAILS(vd_graph_set(f->ctx, g, "in", vd_b(copy)), VD_ERROR_INVALID, "slot 'in' is an image|a buffer");
    FAILS(vd_graph_set(f->ctx, g, "in", vd_u32(1)), VD_ERROR_INVALID, "slot 'in' is an image|a value of u32");
    FAILS(vd_graph_set(f->ctx, g, "in", vd_i((vd_image){ 0 })), VD_ERROR_INVALID, "slot 'in': the image handle is 0");
    OK(vd_graph_set(f->ctx, g, "in", vd_i(to[0])));
    FAILS(vd_graph_submit(f->ctx, g, NULL, NULL), VD_ERROR_INVALID, "'in' and 'to' overlap|command 0 'add'");
    OK(vd_graph_set(f->ctx, g, "in", vd_i(in[1])));
    vd_image_destroy(f->ctx, in[1]);
    FAILS(vd_graph_submit(f->ctx, g, NULL, NULL), VD_ERROR_INVALID, "the image in slot 'in' was destroyed|set the slot again");
    OK(vd_graph_set(f->ctx, g, "in", vd_i(in[0])));
    OK(vd_graph_submit(f->ctx, g, NULL, NULL));
    vd_list *list = vd_graph_begin(f->ctx, NULL);
    assert_true(vd_slot_image(list, "in", in[0]).id != 0);
    assert_int_equal(vd_slot_image(list, "in", to[0]).id, 0);
    check_text("vd_slot_image", "slot 'in' was used before with another initial image");
    vd_list_discard(list);
    list = vd_graph_begin(f->ctx, NULL);
    assert_int_equal(vd_slot_image(list, "", to[0]).id, 0);
    check_text("vd_slot_image", "a slot needs a name");
    vd_list_discard(list);
    vd_graph_destroy(f->ctx, g);
    vd_image_destroy(f->ctx, chain);
    vd_image_destroy(f->ctx, floats);
    vd_image_destroy(f->ctx, small);
    vd_image_destroy(f->ctx, in[0]);
    for (int i = 0; i < 2; i++) vd_image_destroy(f->ctx, to[i]);
    vd_buffer_destroy(f->ctx, copy);
    vd_kernel_destroy(f->ctx, add);
}

/* The sampler of an image in a slot, and the default one. */
TEST_EXECUTED(samplers_in_slots) {
    static const float at[1][2] = { { 0.4f, 0.4f } }, texels[2][2] = { { 0, 1 }, { 2, 3 } };
    needs_images(f);
    vd_image image = image_2d(f->ctx, VD_FORMAT_R32_F, 2, 2, texels);
    vd_image other = image_2d(f->ctx, VD_FORMAT_R32_F, 2, 2, NULL);
    vd_kernel k = kernel_sample(f->ctx);
    vd_buffer points = buffer_named(f->ctx, "at", VD_F32X2, 1, at), out = buffer_named(f->ctx, "out", VD_F32, 1, NULL);
    vd_sampler_desc d;
    float got = 0;
    memset(&d, 0, sizeof d);
    d.min_filter = d.mag_filter = d.mip_filter = VD_FILTER_NEAREST;
    vd_sampler nearest = vd_sampler_create(f->ctx, &d);
    vd_list *list = vd_graph_begin(f->ctx, NULL);
    vd_arg args[3] = { vd_slot("texture", vd_sampled(image, &nearest)), vd_b(points), vd_b(out) };
    OK(dispatch(list, k, 1, args, 3));
    vd_graph g = vd_graph_end(list);
    assert_true(g.id != 0);
    for (int i = 0; i < 8; i++) {
        vd_arg now = i % 4 == 3 ? vd_sampled(other, &nearest) : i % 2 ? vd_i(image) : vd_sampled(image, &nearest);
        float wanted = i % 4 == 3 ? 0 : i % 2 ? 0.9f : 0;
        OK(vd_graph_set(f->ctx, g, "texture", now));
        OK(vd_graph_submit(f->ctx, g, NULL, NULL));
        OK(vd_buffer_read(f->ctx, out, 0, &got, 4));
        assert_true(fabsf(got - wanted) < 0.02f);
    }
    vd_sampler_destroy(f->ctx, nearest);
    FAILS(vd_graph_submit(f->ctx, g, NULL, NULL), VD_ERROR_INVALID, "the sampler in slot 'texture' was destroyed");
    FAILS(vd_graph_set(f->ctx, g, "texture", vd_sampled(image, &nearest)), VD_ERROR_INVALID, "slot 'texture': the sampler");
    OK(vd_graph_set(f->ctx, g, "texture", vd_i(image)));
    OK(vd_graph_submit(f->ctx, g, NULL, NULL));
    list = vd_graph_begin(f->ctx, NULL);
    OK(dispatch(list, k, 1, (args[0] = vd_slot("texture", vd_i(image)), args), 3));
    vd_sampler second = vd_sampler_create(f->ctx, &d);
    args[0] = vd_slot("texture", vd_sampled(image, &second));
    FAILS(dispatch(list, k, 1, args, 3), VD_ERROR_INVALID, "slot 'texture' was used before with another initial sampler");
    vd_list_discard(list);
    vd_sampler_destroy(f->ctx, second);
    vd_graph_destroy(f->ctx, g);
    vd_buffer_destroy(f->ctx, points);
    vd_buffer_destroy(f->ctx, out);
    vd_kernel_destroy(f->ctx, k);
    vd_image_destroy(f->ctx, image);
    vd_image_destroy(f->ctx, other);
}

TEST(destroyed_images_complete_their_work) {
    uint32_t got = 0, seven = 7;
    needs_images(f);
    vd_buffer out = buffer_u32(f->ctx, "out", 1, NULL);
    vd_image image = image_2d(f->ctx, VD_FORMAT_R32_U, 1, 1, &seven);
    vd_list *l = list_begin(f->ctx);
    vd_image_transfer t = transfer_of(image);
    t.buffer = out;
    OK(vd_copy_from_image(l, &t));
    vd_image_destroy(f->ctx, image);
    FAILS(vd_copy_from_image(vd_immediate(f->ctx, 0, 0), &t), VD_ERROR_INVALID, "the image was destroyed");
    OK(vd_submit(l, NULL, NULL));
    OK(vd_buffer_read(f->ctx, out, 0, &got, 4));
    assert_int_equal(got, 7);
    vd_buffer_destroy(f->ctx, out);
}

/* ---- modules ---- */

TEST(modules_are_reflected) {
    needs_images(f);
    vc_kernel *k = kernel_begin(f->ctx, "reflected", 8, 1, 1);
    vc_image_ref sampled = image_arg(k, "sampled", VC_DIM_3D, false, VC_FORMAT_NONE, VC_NONE, 0);
    vc_image_ref stored = image_arg(k, "stored", VC_DIM_2D_ARRAY, true, VC_FORMAT_RGBA8_I, VC_NONE, VC_WRITE);
    vc_val i = vc_global_id(k, 0), x = vc_cast(VC_F32, i);
    vc_image_store(stored, vc_vec3(i, i, i), vc_cast(VC_VEC(VC_I32, 4), vc_sample(sampled, vc_vec3(x, x, x))));
    size_t count = 0;
    const uint32_t *words = vc_spirv(k, &count);
    assert_non_null(words);
    vd_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.code = words;
    desc.code_size = count * sizeof *words;
    if (!takes_spirv(f, &desc)) {
        vc_free(k);
        skip_because("the backend takes no SPIR-V");
    }
    vd_kernel kernel = vd_kernel_create(f->ctx, &desc);
    vc_free(k);
    if (!kernel.id) fail_msg("%s", vd_error_text());
    vd_kernel_arg_info info;
    OK(vd_kernel_arg_query(f->ctx, kernel, 0, &info));
    assert_string_equal(info.name, "sampled");
    assert_int_equal(info.arg.kind, VD_ARG_IMAGE);
    assert_true(info.arg.sampled && !info.arg.separate);
    assert_int_equal(info.arg.dim, VD_DIM_3D);
    assert_int_equal(info.arg.type, VD_F32);
    OK(vd_kernel_arg_query(f->ctx, kernel, 1, &info));
    assert_false(info.arg.sampled);
    assert_int_equal(info.arg.dim, VD_DIM_2D_ARRAY);
    assert_int_equal(info.arg.format, VD_FORMAT_RGBA8_I);
    assert_int_equal(info.arg.type, VD_I32);
    assert_int_equal(info.arg.access, VD_WRITE);
    vd_kernel_destroy(f->ctx, kernel);
}

/* ---- misuse ---- */

static void refused(fixture *f, vd_image_desc d, vd_result wanted, const char *words) {
    assert_int_equal(vd_image_create(f->ctx, &d).id, 0);
    check_failure("vd_image_create", vd_error_result(), wanted, words);
}

TEST(descs_that_are_refused) {
    needs_images(f);
    vd_image_desc good = image_desc(VD_FORMAT_RGBA8_UNORM, VD_DIM_2D, 4, 4, 0), d = good;
    assert_int_equal(vd_image_create(f->ctx, NULL).id, 0);
    check_text("vd_image_create", "vd_image_create|desc is NULL");
    d.format = VD_FORMAT_NONE;
    refused(f, d, VD_ERROR_INVALID, "vd_image_create 'picture'|the format is 0");
    d = good;
    d.dim = VD_DIM_BUFFER;
    refused(f, d, VD_ERROR_INVALID, "desc.dim is 7");
    d = good;
    d.extent[0] = 0;
    refused(f, d, VD_ERROR_INVALID, "desc.extent[0] is 0");
    d = good;
    d.extent[2] = 2;
    refused(f, d, VD_ERROR_INVALID, "desc.extent[2] is 2|must be 0 or 1 with this desc.dim");
    d = good;
    d.extent[0] = 1u << 20;
    refused(f, d, VD_ERROR_UNSUPPORTED, "desc.extent[0] is 1048576|the device's limit is");
    d = good;
    d.layers = 2;
    refused(f, d, VD_ERROR_INVALID, "desc.layers is 2");
    d = good;
    d.dim = VD_DIM_2D_ARRAY;
    d.layers = 1u << 20;
    refused(f, d, VD_ERROR_UNSUPPORTED, "desc.layers is 1048576|limit");
    d = good;
    d.levels = 4;
    refused(f, d, VD_ERROR_INVALID, "desc.levels is 4|at most 3");
    d = good;
    d.dim = VD_DIM_CUBE;
    d.extent[1] = 3;
    refused(f, d, VD_ERROR_INVALID, "desc.extent[1] is 3, but they must be equal for a cube");
    d.extent[1] = 0;
    refused(f, d, VD_ERROR_INVALID, "desc.extent[1] is 0, but they must be equal for a cube");
    d = good;
    d.usage = 4;
    refused(f, d, VD_ERROR_INVALID, "desc.usage is 4");
    d = good;
    d.format = VD_FORMAT_BC1_UNORM;
    d.usage = VD_IMAGE_STORAGE;
    refused(f, d, VD_ERROR_UNSUPPORTED, "does not support format bc1unorm for storage images|vd_format_nearest");
}

TEST(nearest_formats) {
    needs_images(f);
    assert_int_equal(vd_format_nearest(f->ctx, 0, VD_FORMAT_RGBA8_UNORM, VD_IMAGE_SAMPLED), VD_FORMAT_RGBA8_UNORM);
    assert_int_equal(vd_format_nearest(f->ctx, 0, VD_FORMAT_BC3_UNORM, VD_IMAGE_STORAGE), VD_FORMAT_RGBA8_UNORM);
    assert_int_equal(vd_format_nearest(f->ctx, 0, VD_FORMAT_R32_I, VD_IMAGE_LINEAR), VD_FORMAT_NONE);
    if (f->backend != VD_BACKEND_DUMMY) return;
    assert_int_equal(vd_format_nearest(f->ctx, 0, VD_FORMAT_ETC2_RGB8_SRGB, VD_IMAGE_SAMPLED), VD_FORMAT_RGBA8_SRGB);
    assert_int_equal(vd_format_nearest(f->ctx, 0, VD_FORMAT_R11G11B10_F, VD_IMAGE_STORAGE), VD_FORMAT_RGBA16_F);
    vd_format_info info;
    OK(vd_format_query(f->ctx, 0, VD_FORMAT_R11G11B10_F, &info));
    assert_string_equal(info.name, "r11g11b10f");
    assert_int_equal(info.components, 3);
    assert_int_equal(info.block_bytes, 4);
    assert_int_equal(info.usage, 0);
    FAILS(vd_format_query(f->ctx, 0, VD_FORMATS_END, &info), VD_ERROR_INVALID, "vd_format_query|not a valid vd_format");
}

TEST(boxes_that_are_refused) {
    uint8_t bytes[4096];
    needs_images(f);
    vd_image image = image_2d(f->ctx, VD_FORMAT_RGBA8_UNORM, 8, 8, NULL);
    vd_image_transfer good = transfer_of(image), t = good;
    vd_buffer b = buffer_u32(f->ctx, "small", 16, NULL);
    vd_list *l = vd_immediate(f->ctx, 0, 0);
    t.box.level = 1;
    FAILS(vd_image_upload(f->ctx, &t, bytes), VD_ERROR_INVALID, "vd_image_upload|box.level is 1, but the last level of image 'picture' is 0");
    t = good;
    t.box.layers = 2;
    FAILS(vd_image_download(f->ctx, &t, bytes), VD_ERROR_INVALID, "vd_image_download|layers 2|1 layers");
    t = good;
    t.box.offset[1] = 8;
    FAILS(vd_image_upload(f->ctx, &t, bytes), VD_ERROR_INVALID, "box.offset[1] 8|outside level 0|8 texels");
    t = good;
    t.box.offset[0] = 1;
    t.box.extent[0] = 8;
    FAILS(vd_image_upload(f->ctx, &t, bytes), VD_ERROR_INVALID, "box.offset[0] 1 + extent 8|outside");
    t = good;
    t.row_pitch = 31;
    FAILS(vd_image_upload(f->ctx, &t, bytes), VD_ERROR_INVALID, "row_pitch is 31|32 bytes of a row");
    t = good;
    t.slice_pitch = 128;
    FAILS(vd_image_upload(f->ctx, &t, bytes), VD_ERROR_INVALID, "slice_pitch is 128|8 rows");
    FAILS(vd_image_upload(f->ctx, &good, NULL), VD_ERROR_INVALID, "data is NULL");
    FAILS(vd_image_upload(f->ctx, NULL, bytes), VD_ERROR_INVALID, "desc is NULL");
    t = good;
    t.buffer = b;
    FAILS(vd_copy_to_image(l, &t), VD_ERROR_INVALID, "vd_copy_to_image|past the end of buffer 'small'");
    t.box.extent[1] = 1;
    t.offset = 2;
    FAILS(vd_copy_from_image(l, &t), VD_ERROR_INVALID, "desc.offset 2 is byte 2 of the memory of the buffer, but must be a multiple of 4 and of ");
    t.buffer.id = image.id;
    FAILS(vd_copy_to_image(l, &t), VD_ERROR_INVALID, "expected a buffer, got an image");
    t.box.image.id = b.id;
    FAILS(vd_copy_to_image(l, &t), VD_ERROR_INVALID, "expected an image, got a buffer");
    vd_image floats = image_2d(f->ctx, VD_FORMAT_RGBA16_F, 8, 8, NULL);
    vd_image_box to = box_of(floats, 0), from = box_of(image, 0);
    FAILS(vd_copy_image(l, &to, &from), VD_ERROR_INVALID, "rgba8unorm|rgba16f|differ in size");
    FAILS(vd_copy_image(l, NULL, &from), VD_ERROR_INVALID, "to is NULL");
    vd_image small = image_2d(f->ctx, VD_FORMAT_RGBA8_UNORM, 4, 8, NULL);
    to.image = small;
    FAILS(vd_copy_image(l, &to, &from), VD_ERROR_INVALID, "8 texels of the target along axis 0, but the target has 4");
    if (vd_format_nearest(f->ctx, 0, VD_FORMAT_BC1_UNORM, VD_IMAGE_SAMPLED) == VD_FORMAT_BC1_UNORM) {
        vd_image blocks = image_2d(f->ctx, VD_FORMAT_BC1_UNORM, 8, 8, NULL);
        t = transfer_of(blocks);
        t.box.offset[0] = 2;
        FAILS(vd_image_upload(f->ctx, &t, bytes), VD_ERROR_INVALID, "begins or ends inside of a block|bc1unorm");
        FAILS(vd_clear_image(l, blocks, NULL), VD_ERROR_INVALID, "vd_clear_image|cannot be cleared");
        vd_image_destroy(f->ctx, blocks);
    }
    FAILS(vd_generate_mips(l, small) == VD_OK ? vd_clear_image(l, (vd_image){ 0 }, NULL) : VD_OK, VD_ERROR_INVALID,
          "the image handle is 0");
    vd_image_destroy(f->ctx, image);
    vd_image_destroy(f->ctx, floats);
    vd_image_destroy(f->ctx, small);
    vd_buffer_destroy(f->ctx, b);
}

TEST(views_and_samplers_that_are_refused) {
    needs_images(f);
    vd_image_desc d = image_desc(VD_FORMAT_RGBA8_UNORM, VD_DIM_2D_ARRAY, 8, 8, 0);
    d.layers = 4;
    vd_image image = image_of(f->ctx, &d);
    vd_image_view_desc good, v;
    memset(&good, 0, sizeof good);
    good.image = image;
    v = good;
    v.level = 1;
    assert_int_equal(vd_image_view(f->ctx, &v).id, 0);
    check_text("vd_image_view", "vd_image_view 'picture'|desc.level 1|1 levels");
    v = good;
    v.layer = 2;
    v.layers = 3;
    assert_int_equal(vd_image_view(f->ctx, &v).id, 0);
    check_text("vd_image_view", "desc.layer 2 + layers 3|4 layers");
    v = good;
    v.dim = VD_DIM_2D;
    assert_int_equal(vd_image_view(f->ctx, &v).id, 0);
    check_text("vd_image_view", "a 2-D image with layers 0 to 3 cannot be a view of image|2-D array with 4 layers");
    vd_sampler_desc s;
    memset(&s, 0, sizeof s);
    s.name = "soft";
    s.address[1] = (vd_address_mode)9;
    assert_int_equal(vd_sampler_create(f->ctx, &s).id, 0);
    check_text("vd_sampler_create", "vd_sampler_create 'soft'|desc.address[1] is 9");
    s.address[1] = VD_ADDRESS_CLAMP;
    s.min_lod = 3;
    s.max_lod = 2;
    assert_int_equal(vd_sampler_create(f->ctx, &s).id, 0);
    check_text("vd_sampler_create", "min_lod is 3");
    vd_sampler_destroy(f->ctx, (vd_sampler){ image.id });
    check_text("vd_sampler_destroy", "expected a sampler, got an image");
    vd_image_destroy(f->ctx, image);
}

TEST(arguments_that_are_refused) {
    needs_images(f);
    vc_kernel *k = kernel_begin(f->ctx, "paint", 8, 1, 1);
    vc_image_ref from = vc_image(k, "from", NULL);
    vc_image_ref to = image_arg(k, "to", VC_DIM_2D, true, VC_FORMAT_RGBA8_UNORM, VC_NONE, VC_WRITE);
    vc_val i = vc_global_id(k, 0), x = vc_cast(VC_F32, i);
    vc_image_store(to, vc_vec2(i, i), vc_sample(from, vc_vec2(x, x)));
    vd_kernel paint = kernel_end(f->ctx, k);
    vd_image good = image_2d(f->ctx, VD_FORMAT_RGBA8_UNORM, 8, 8, NULL);
    vd_image target = image_2d(f->ctx, VD_FORMAT_RGBA8_UNORM, 8, 8, NULL);
    vd_image integers = image_2d(f->ctx, VD_FORMAT_R32_U, 8, 8, NULL);
    vd_image floats = image_2d(f->ctx, VD_FORMAT_R32_F, 8, 8, NULL);
    vd_image_desc d = image_desc(VD_FORMAT_RGBA8_UNORM, VD_DIM_1D, 8, 0, 0);
    vd_image line = image_of(f->ctx, &d);
    d = image_desc(VD_FORMAT_RGBA8_UNORM, VD_DIM_2D, 8, 8, 0);
    d.usage = VD_IMAGE_SAMPLED;
    vd_image sampled_only = image_of(f->ctx, &d);
    vd_buffer b = buffer_u32(f->ctx, "b", 4, NULL);
    vd_sampler none = { 0 };
#define RUN(a, c) vd_run(f->ctx, paint, 8, a, c)
    OK(RUN(vd_i(good), vd_i(target)));
    FAILS(RUN(vd_i(line), vd_i(target)), VD_ERROR_INVALID, "'paint'|argument 0 'from'|is a 1-D image, but the kernel expects a 2-D image");
    FAILS(RUN(vd_i(integers), vd_i(target)), VD_ERROR_INVALID, "format r32u|u32, but the kernel expects f32");
    FAILS(RUN(vd_i(good), vd_i(floats)), VD_ERROR_INVALID, "argument 1 'to'|r32f, but the kernel expects rgba8unorm");
    FAILS(RUN(vd_i(good), vd_i(sampled_only)), VD_ERROR_INVALID, "without VD_IMAGE_STORAGE");
    FAILS(RUN(vd_i(good), vd_i(good)), VD_ERROR_INVALID, "overlap|image 'picture'");
    FAILS(RUN(vd_b(b), vd_i(target)), VD_ERROR_INVALID, "argument 0 'from': the image|expected an image, got a buffer");
    FAILS(RUN(vd_u32(1), vd_i(target)), VD_ERROR_INVALID, "argument 0 'from' is a value, but the kernel expects an image");
    FAILS(RUN(vd_sampled(good, &none), vd_i(target)), VD_ERROR_INVALID, "the sampler handle is 0");
    vd_sampler linear = vd_sampler_create(f->ctx, NULL);
    FAILS(RUN(vd_i(good), vd_sampled(target, &linear)), VD_ERROR_INVALID,
          "argument 1 'to' has a sampler (vd_sampled), but the kernel reads or writes image 'picture' without one; use vd_i");
    vd_kernel fetch = kernel_fetch(f->ctx, VC_U32);
    FAILS(vd_run2(f->ctx, fetch, 1, 1, vd_sampled(integers, &linear), vd_b(b)), VD_ERROR_UNSUPPORTED,
          "sampler 'unnamed |' has linear filters, which format r32u of image 'picture' does not support");
    vd_kernel_destroy(f->ctx, fetch);
    vd_sampler_destroy(f->ctx, linear);
    vd_image_destroy(f->ctx, line);
    FAILS(RUN(vd_i(line), vd_i(target)), VD_ERROR_INVALID, "the image was destroyed");
    vd_kernel move_kernel = kernel_move(f->ctx);
    FAILS(vd_run(f->ctx, move_kernel, 4, vd_i(good), vd_b(b), vd_u32(0)), VD_ERROR_INVALID, "expected a buffer, got an image");
    vd_kernel_destroy(f->ctx, move_kernel);
    vd_kernel_destroy(f->ctx, paint);
    vd_image_destroy(f->ctx, good);
    vd_image_destroy(f->ctx, target);
    vd_image_destroy(f->ctx, integers);
    vd_image_destroy(f->ctx, floats);
    vd_image_destroy(f->ctx, sampled_only);
    vd_buffer_destroy(f->ctx, b);
}

/* What OpenCL does not have is refused by name. */
TEST(limits_of_opencl) {
    if (f->backend != VD_BACKEND_OPENCL) skip_because("only for OpenCL");
    needs_images(f);
    vd_image_desc d = image_desc(VD_FORMAT_RGBA8_UNORM, VD_DIM_2D_ARRAY, 8, 8, 0);
    d.layers = 4;
    vd_image layers = image_of(f->ctx, &d);
    vd_image_view_desc v;
    memset(&v, 0, sizeof v);
    v.image = layers;
    v.layer = v.layers = 1;
    assert_int_equal(vd_image_view(f->ctx, &v).id, 0);
    check_failure("vd_image_view", vd_error_result(), VD_ERROR_UNSUPPORTED,
                  "vd_image_view 'picture'|backend opencl supports only views with the dimension and all 4 layers");
    static const struct { vd_sampler_desc desc; const char *lack; } samplers[] = {
        { { .min_filter = VD_FILTER_NEAREST }, "different filters" }, { { .min_lod = 1 }, "levels of detail" },
        { { .lod_bias = 1 }, "levels of detail" }, { { .compare = VD_COMPARE_LESS }, "comparisons" },
        { { .anisotropy = 4 }, "anisotropy" },
        { { .address = { VD_ADDRESS_BORDER }, .border = VD_BORDER_BLACK }, "border colours" }
    };
    for (size_t i = 0; i < COUNT(samplers); i++) {
        assert_int_equal(vd_sampler_create(f->ctx, &samplers[i].desc).id, 0);
        check_failure("vd_sampler_create", vd_error_result(), VD_ERROR_UNSUPPORTED, samplers[i].lack);
        check_text("vd_sampler_create", "vd_sampler_create|backend opencl does not support samplers with ");
    }
    vd_sampler_desc s;
    memset(&s, 0, sizeof s);
    s.name = "wrap";
    s.address[0] = VD_ADDRESS_REPEAT;
    vd_sampler wrap = vd_sampler_create(f->ctx, &s);
    vd_kernel sample = kernel_sample(f->ctx);
    vd_image image = image_2d(f->ctx, VD_FORMAT_R32_F, 2, 2, NULL);
    vd_buffer points = buffer_named(f->ctx, "at", VD_F32X2, 1, NULL), out = buffer_named(f->ctx, "out", VD_F32, 1, NULL);
    FAILS(vd_run(f->ctx, sample, 1, vd_sampled(image, &wrap), vd_b(points), vd_b(out)), VD_ERROR_UNSUPPORTED,
          "'sample'|argument 0 'image': sampler 'wrap' has different address modes along the first 2 axes, which backend opencl");
    d.heap = heap_of(f->ctx, 1 << 16);
    refused(f, d, VD_ERROR_UNSUPPORTED, "vd_image_create 'picture'|backend opencl cannot place images in heaps");
    vd_buffer_destroy(f->ctx, d.heap);
    vd_buffer_destroy(f->ctx, points);
    vd_buffer_destroy(f->ctx, out);
    vd_image_destroy(f->ctx, image);
    vd_image_destroy(f->ctx, layers);
    vd_sampler_destroy(f->ctx, wrap);
    vd_kernel_destroy(f->ctx, sample);
}

/* What CUDA does not have is refused by name. */
TEST(limits_of_cuda) {
    if (f->backend != VD_BACKEND_CUDA) skip_because("only for CUDA");
    vd_image_desc d = image_desc(VD_FORMAT_RGBA8_UNORM, VD_DIM_2D_ARRAY, 8, 8, 0);
    d.layers = 4;
    vd_image layers = image_of(f->ctx, &d);
    vd_image_view_desc v;
    memset(&v, 0, sizeof v);
    v.image = layers;
    v.layer = v.layers = 1;
    assert_int_equal(vd_image_view(f->ctx, &v).id, 0);
    check_failure("vd_image_view", vd_error_result(), VD_ERROR_UNSUPPORTED,
                  "vd_image_view 'picture'|backend cuda supports only views with the dimension|all 4 layers");
    vd_image_desc blocks = image_desc(VD_FORMAT_BC1_UNORM, VD_DIM_2D, 16, 16, 0);
    blocks.levels = 3;
    vd_image chain = image_of(f->ctx, &blocks);
    memset(&v, 0, sizeof v);
    v.image = chain;
    v.level = 1;
    assert_int_equal(vd_image_view(f->ctx, &v).id, 0);
    check_text("vd_image_view", "backend cuda supports only views of one or all levels for format bc1unorm");
    vd_image_destroy(f->ctx, chain);
    static const struct { vd_sampler_desc desc; const char *lack; } samplers[] = {
        { { .min_filter = VD_FILTER_NEAREST }, "different filters" }, { { .compare = VD_COMPARE_LESS }, "comparisons" }
    };
    for (size_t i = 0; i < COUNT(samplers); i++) {
        assert_int_equal(vd_sampler_create(f->ctx, &samplers[i].desc).id, 0);
        check_failure("vd_sampler_create", vd_error_result(), VD_ERROR_UNSUPPORTED, samplers[i].lack);
        check_text("vd_sampler_create", "vd_sampler_create|backend cuda does not support samplers with ");
    }
    static const vd_format missing[] = { VD_FORMAT_BGRA8_UNORM, VD_FORMAT_R11G11B10_F, VD_FORMAT_RGB10A2_U,
                                         VD_FORMAT_RGB9E5_F, VD_FORMAT_ASTC_4X4_UNORM };
    for (size_t i = 0; i < COUNT(missing); i++) {
        vd_image_desc other = image_desc(missing[i], VD_DIM_2D, 8, 8, 0);
        refused(f, other, VD_ERROR_UNSUPPORTED, "does not support format|for sampled images|vd_format_nearest");
    }
    assert_int_equal(vd_format_nearest(f->ctx, 0, VD_FORMAT_BGRA8_SRGB, VD_IMAGE_SAMPLED), VD_FORMAT_RGBA8_SRGB);
    vd_image blocks_4 = image_2d(f->ctx, VD_FORMAT_BC4_UNORM, 8, 8, NULL);
    vd_image_box to = box_of(layers, 0), from = box_of(blocks_4, 0);
    to.layers = 1;
    FAILS(vd_blit_image(vd_immediate(f->ctx, 0, 0), &to, &from, VD_FILTER_NEAREST), VD_ERROR_UNSUPPORTED,
          "vd_blit_image|bc4unorm|cannot be blitted");
    vd_image_destroy(f->ctx, blocks_4);
    d.heap = heap_of(f->ctx, 1 << 16);
    refused(f, d, VD_ERROR_UNSUPPORTED, "vd_image_create 'picture'|backend cuda cannot place images in heaps");
    vd_buffer_destroy(f->ctx, d.heap);
    vd_image_destroy(f->ctx, layers);
}

static const struct CMUnitTest cases[] = {
    CASE(backends_without_images_say_so), CASE(images_are_described), CASE(new_images_are_zero),
    CASE(boxes_slices_and_pitches), CASE(parts_of_1d_arrays), CASE(large_transfers_in_pieces),
    CASE(images_and_buffers), CASE(image_to_image),
    CASE(clearing), CASE(mip_chains), CASE(blits_scale), CASE(blits_convert_like_the_oracle),
    CASE(blits_clamp), CASE(blits_filter), CASE(formats_convert_like_the_oracle),
    CASE(samplers_filter_and_address), CASE(commands_on_images_are_ordered), CASE(sampled_images_between_transfers),
    CASE(images_in_slots), CASE(samplers_in_slots),
    CASE(destroyed_images_complete_their_work), CASE(modules_are_reflected), CASE(descs_that_are_refused),
    CASE(nearest_formats), CASE(boxes_that_are_refused), CASE(views_and_samplers_that_are_refused),
    CASE(arguments_that_are_refused), CASE(kernels_access_every_dimension), CASE(one_image_is_loaded_and_stored),
    CASE(limits_of_opencl), CASE(limits_of_cuda), CASE(levels_are_sampled), CASE(samples_of_every_dimension),
    CASE(filters_of_minification_and_magnification),
    CASE(cubes_are_sampled), CASE(texels_are_gathered), CASE(storage_formats_convert), CASE(storage_texels_convert),
    CASE(texels_convert_like_the_oracle), CASE(texel_buffers_are_described), CASE(texels_are_ordered),
    CASE(devices_without_texel_buffers_say_so), CASE(texel_buffers_that_are_refused), CASE(block_formats_are_decoded)
};

MAIN("images", cases)
