/* The reader of DDS files in examples/dds.h: damaged files, formats, kinds of textures, masks. conformance/blocks
   samples its textures. */
#include "tests/unit/unit.h"
#include "examples/dds.h"

enum { DDS_ROOM = 1 << 16 };

static void dds_set(uint8_t *file, uint32_t at, uint32_t value) {
    for (uint32_t k = 0; k < 4; k++) file[at + k] = (uint8_t)(value >> 8 * k);
}

/* Writes a header for a texture of 8 x 8 texels of BC1. */
static void dds_header(uint8_t *file) {
    static const struct { uint32_t at, value; } words[] = { { 0, DDS_CODE('D', 'D', 'S', ' ') }, { DDS_SIZE, 124 },
        { DDS_HEIGHT, 8 }, { DDS_WIDTH, 8 }, { DDS_LEVELS, 1 }, { DDS_FORMAT_SIZE, 32 }, { DDS_FORMAT_FLAGS, 4 },
        { DDS_FOURCC, DDS_CODE('D', 'X', 'T', '1') }, { DDS_DIMENSION, 3 }, { DDS_ARRAY, 1 } };
    memset(file, 0, DDS_EXTENDED);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) dds_set(file, words[i].at, words[i].value);
}

static void dds_set_dxgi(uint8_t *file, uint32_t dxgi) {
    dds_set(file, DDS_FOURCC, DDS_CODE('D', 'X', '1', '0'));
    dds_set(file, DDS_DXGI, dxgi);
}

/* Checks that the texels of an accepted file are inside of it, and that a refusal is a sentence. */
static bool dds_accepts(const uint8_t *file, size_t size) {
    char why[DDS_WHY];
    dds_texture t;
    memset(why, 0, sizeof why);
    if (!dds_read(file, size, &t, why)) {
        assert_true(strlen(why) > 20 && strlen(why) < DDS_WHY - 1 && !strchr(why, '\n'));
        return false;
    }
    for (uint32_t level = 0; level < t.levels; level++) {
        const uint8_t *last = dds_texels(&t, t.layers - 1, t.depth - 1, level);
        assert_true(last >= t.texels && last + dds_bytes(&t, level) <= file + size);
    }
    return true;
}

/* Every value of every byte of the header, with and without the extended header. */
static void damaged_headers(void **state) {
    uint8_t *file = (uint8_t *)malloc(DDS_EXTENDED + 32);
    uint32_t accepted = 0, refused = 0;
    (void)state;
    for (uint32_t extended = 0; extended < 2; extended++)
        for (uint32_t at = 0; at < DDS_EXTENDED; at++)
            for (uint32_t value = 0; value < 256; value++) {
                dds_header(file);
                if (extended) dds_set_dxgi(file, 71);
                file[at] = (uint8_t)value;
                if (dds_accepts(file, DDS_EXTENDED + 32)) accepted++;
                else refused++;
            }
    free(file);
    assert_true(accepted > 1000 && refused > 10000);
}

/* Random words in up to four fields at a time. */
static void random_headers(void **state) {
    static const uint32_t fields[] = { DDS_SIZE, DDS_HEIGHT, DDS_WIDTH, DDS_DEPTH, DDS_LEVELS, DDS_FORMAT_FLAGS,
        DDS_FOURCC, DDS_BITS, DDS_MASKS, DDS_MASKS + 12, DDS_CAPS2, DDS_DXGI, DDS_DIMENSION, DDS_MISC, DDS_ARRAY };
    uint8_t *file = (uint8_t *)malloc(DDS_ROOM);
    uint64_t seed = 1;
    (void)state;
    memset(file, 0, DDS_ROOM);
    for (uint32_t i = 0; i < 200000; i += unit_stride()) {
        dds_header(file);
        if (i % 2) dds_set_dxgi(file, unit_random(&seed) % 130);
        for (uint32_t k = 0; k < i / 2 % 5; k++) {
            uint32_t value = unit_random(&seed) >> unit_random(&seed) % 32;
            dds_set(file, fields[unit_random(&seed) % (sizeof fields / sizeof *fields)], value);
        }
        dds_accepts(file, DDS_ROOM);
    }
    free(file);
}

/* The file of the example: damaged at each byte of its header, and cut at many lengths. Each length has a
   separate allocation, so that the address sanitizer detects reads past the end. */
static void damaged_file_of_the_example(void **state) {
    FILE *f = fopen("examples/data/grace_hopper.dds", "rb");
    uint8_t *whole = (uint8_t *)malloc(DDS_ROOM);
    (void)state;
    assert_true(f && whole);
    size_t size = fread(whole, 1, DDS_ROOM, f);
    fclose(f);
    assert_true(dds_accepts(whole, size));
    for (size_t length = 0; length < size; length += length < 160 ? 1 : 509) {
        uint8_t *cut = (uint8_t *)malloc(length ? length : 1);
        memcpy(cut, whole, length);
        assert_false(dds_accepts(cut, length));
        free(cut);
    }
    assert_false(dds_accepts(whole, size - 1));
    for (uint32_t at = 0; at < DDS_HEADER; at++)
        for (uint32_t bit = 0; bit < 8; bit++) {
            whole[at] ^= (uint8_t)(1 << bit);
            dds_accepts(whole, size);
            whole[at] ^= (uint8_t)(1 << bit);
        }
    free(whole);
}

static void dds_refused_with(const uint8_t *file, size_t size, const char *words) {
    char why[DDS_WHY];
    dds_texture t;
    if (dds_read(file, size, &t, why)) fail_msg("accepted instead of '%s'", words);
    if (!strstr(why, words)) fail_msg("'%s' instead of '%s'", why, words);
}

static void reasons_name_the_field(void **state) {
    static const struct { uint32_t dxgi, at, value; const char *words; } cases[] = {
        { 0, 0, 0, "begins with 0x00000000 instead of \"DDS \"" }, { 0, DDS_SIZE, 1, "header size 1 is not 124" },
        { 0, DDS_FORMAT_SIZE, 33, "size 33 of the pixel format is not 32" },
        { 0, DDS_WIDTH, 0, "width 0 is not in 1 to 16384" },
        { 0, DDS_WIDTH, 16385, "width 16385 is not in 1 to 16384" },
        { 0, DDS_WIDTH, 0x80000000, "width 2147483648 is not in" }, { 0, DDS_HEIGHT, 0, "height 0 is not in" },
        { 0, DDS_HEIGHT, 0x80000000, "height 2147483648 is not in" },
        { 0, DDS_LEVELS, 5, "has 5 levels, but its extents allow only 4" },
        { 0, DDS_LEVELS, 0xFFFFFFFF, "has 4294967295 levels" },
        { 0, DDS_FOURCC, DDS_CODE('D', 'X', 'T', '6'), "format code 0x36545844 is not supported" },
        { 0, DDS_FOURCC, 0, "format code 0x00000000" }, { 0, DDS_FORMAT_FLAGS, 0, "format flags 0x0: only" },
        { 0, DDS_FORMAT_FLAGS, 0x60, "format flags 0x60: only" }, { 0, DDS_FORMAT_FLAGS, 0x200, "format flags 0x200" },
        { 0, DDS_FORMAT_FLAGS, 0x80000, "format flags 0x80000: only" },
        { 0, DDS_FORMAT_FLAGS, 0x40, "a texel has 0 bits" }, { 0, DDS_CAPS2, 0x200, "caps2 0x200 describes a cube" },
        { 0, DDS_CAPS2, 0x200200, "caps2 0x200200" }, { 0, DDS_CAPS2, 0x200000, "depth 0 is not in 1 to 16384" },
        { 0, DDS_WIDTH, 9, "the texels have 48 bytes, but only 32 follow the header" },
        { 0, DDS_CAPS2, 0xFE00, "the texels have 192 bytes" },
        { 1, DDS_DXGI, 1, "DXGI format 1 is not supported" }, { 0xFFFFFFFF, DDS_DXGI, 0xFFFFFFFF, "format 4294967295" },
        { 1, DDS_DXGI, 0, "DXGI format 0" }, { 71, DDS_DIMENSION, 1, "resource dimension 1 is not 2, 3 or 4" },
        { 71, DDS_DIMENSION, 5, "resource dimension 5" },
        { 71, DDS_DIMENSION, 2, "height 8 of a 1-D texture is not 1" },
        { 71, DDS_DIMENSION, 4, "depth 0 is not in" }, { 71, DDS_ARRAY, 0, "array size 0 is not in 1 to 2048" },
        { 71, DDS_ARRAY, 2049, "array size 2049" }, { 71, DDS_ARRAY, 0x80000000, "array size 2147483648" },
        { 71, DDS_ARRAY, 2, "the texels have 64 bytes, but only 32" }, { 71, DDS_MISC, 4, "the texels have 192 bytes" },
    };
    uint8_t file[DDS_EXTENDED + 32];
    (void)state;
    memset(file, 0, sizeof file);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dds_header(file);
        if (cases[i].dxgi) dds_set_dxgi(file, cases[i].dxgi);
        dds_set(file, cases[i].at, cases[i].value);
        dds_refused_with(file, cases[i].dxgi ? sizeof file : DDS_HEADER + 32, cases[i].words);
    }
    dds_header(file);
    dds_set(file, DDS_WIDTH, 4);
    dds_set(file, DDS_CAPS2, 0xFE00);
    dds_refused_with(file, sizeof file, "a face of a cube has 4 x 8 texels");
    dds_set_dxgi(file, 71);
    dds_set(file, DDS_MISC, 4);
    dds_refused_with(file, sizeof file, "a face of a cube has 4 x 8 texels");
    dds_set(file, DDS_DIMENSION, 4);
    dds_refused_with(file, sizeof file, "a volume is also a cube");
    dds_refused_with(file, DDS_EXTENDED - 1, "has 147 bytes, but its header, which is extended, has 148");
}

/* Layers, slices and levels follow each other without gaps, layer by layer. The pitch in the header has no effect. */
static void dds_check_order(const uint8_t *file, size_t size, uint32_t layers, uint32_t depth) {
    char why[DDS_WHY];
    dds_texture t;
    if (!dds_read(file, size, &t, why)) fail_msg("%s", why);
    assert_int_equal(t.layers, layers);
    assert_int_equal(t.depth, depth);
    const uint8_t *next = t.texels;
    for (uint32_t layer = 0; layer < layers; layer++)
        for (uint32_t level = 0; level < t.levels; level++)
            for (uint32_t slice = 0; slice < (depth >> level ? depth >> level : 1); slice++) {
                uint32_t w = t.width >> level ? t.width >> level : 1, h = t.height >> level ? t.height >> level : 1;
                uint32_t side = t.block_extent;
                assert_ptr_equal(dds_texels(&t, layer, slice << level, level), next);
                assert_int_equal(dds_bytes(&t, level), (w + side - 1) / side * ((h + side - 1) / side) * t.block_bytes);
                next += dds_bytes(&t, level);
            }
    assert_ptr_equal(next, t.texels + dds_layer_bytes(&t, t.levels) * layers);
    assert_false(dds_accepts(file, (size_t)(next - file) - 1));
    assert_true(dds_accepts(file, (size_t)(next - file)));
}

static void kinds_of_textures(void **state) {
    static const struct {
        uint32_t dxgi, width, height, depth, levels, caps, dimension, misc, count, layers;
    } cases[] = {
        { 0, 13, 7, 0, 4, 0, 0, 0, 0, 1 }, { 0, 1, 1, 0, 1, 0, 0, 0, 0, 1 }, { 0, 3, 50, 0, 0, 0, 0, 0, 0, 1 },
        { 0, 16, 16, 0, 5, 0xFE00, 0, 0, 0, 6 }, { 0, 16, 16, 0, 2, 0x2A00, 0, 0, 0, 2 },
        { 0, 9, 5, 6, 4, 0x200000, 0, 0, 0, 1 }, { 0, 1, 1, 40, 6, 0x200000, 0, 0, 0, 1 },
        { 98, 9, 5, 0, 3, 0, 3, 0, 7, 7 }, { 95, 8, 8, 0, 4, 0, 3, 4, 3, 18 }, { 10, 5, 3, 9, 4, 0, 4, 0, 1, 1 },
        { 61, 100, 1, 0, 7, 0, 2, 0, 2, 2 }, { 61, 100, 0, 0, 1, 0, 2, 0, 1, 1 }, { 115, 5, 5, 0, 3, 0, 3, 0, 1, 1 },
    };
    uint8_t *file = (uint8_t *)malloc(DDS_ROOM);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(file, 0, DDS_ROOM);
        dds_header(file);
        dds_set(file, 20, 77); /* the pitch */
        dds_set(file, DDS_WIDTH, cases[i].width);
        dds_set(file, DDS_HEIGHT, cases[i].height);
        dds_set(file, DDS_DEPTH, cases[i].depth);
        dds_set(file, DDS_LEVELS, cases[i].levels);
        dds_set(file, DDS_CAPS2, cases[i].caps);
        if (cases[i].dxgi) {
            dds_set_dxgi(file, cases[i].dxgi);
            dds_set(file, DDS_DIMENSION, cases[i].dimension);
            dds_set(file, DDS_MISC, cases[i].misc);
            dds_set(file, DDS_ARRAY, cases[i].count);
        }
        dds_check_order(file, DDS_ROOM, cases[i].layers, cases[i].depth ? cases[i].depth : 1);
    }
    free(file);
}

/* Each code and number has the format that the runtime describes in the same way. */
static void formats_of_files(void **state) {
    uint8_t file[DDS_EXTENDED + 16 * 4];
    char why[DDS_WHY];
    dds_texture t;
    (void)state;
    memset(file, 0, sizeof file);
    for (size_t i = 0; i < 2 * (sizeof dds_formats / sizeof *dds_formats); i++) {
        uint32_t code = dds_formats[i / 2].code;
        if (i % 2 && !code) continue;
        dds_header(file);
        dds_set(file, DDS_WIDTH, 2);
        dds_set(file, DDS_HEIGHT, 2);
        if (i % 2) dds_set(file, DDS_FOURCC, code);
        else dds_set_dxgi(file, dds_formats[i / 2].dxgi);
        if (!dds_read(file, sizeof file, &t, why)) fail_msg("%s", why);
        const vd__format_row *row = &vd__format_rows[t.format];
        assert_int_equal(t.format, dds_formats[i / 2].format);
        assert_int_equal(t.block_bytes, row->bytes);
        assert_int_equal(t.block_extent, row->block[0]);
        assert_true(row->kind == VD__TEXEL_UNORM || row->kind == VD__TEXEL_SNORM || row->kind == VD__TEXEL_FLOAT);
        assert_ptr_equal(t.texels, file + (i % 2 ? DDS_HEADER : DDS_EXTENDED));
        assert_false(t.packed);
    }
}

/* Texels with masks against their value in double: code / largest code. */
static void masks_of_texels(void **state) {
    static const struct { uint32_t flags, bits, masks[4]; } cases[] = {
        { 0x41, 32, { 0xFF0000, 0xFF00, 0xFF, 0xFF000000 } }, { 0x40, 32, { 0xFF0000, 0xFF00, 0xFF, 0 } },
        { 0x41, 32, { 0xFF, 0xFF00, 0xFF0000, 0xFF000000 } }, { 0x40, 24, { 0xFF0000, 0xFF00, 0xFF, 0 } },
        { 0x41, 16, { 0x7C00, 0x3E0, 0x1F, 0x8000 } }, { 0x40, 16, { 0xF800, 0x7E0, 0x1F, 0 } },
        { 0x41, 16, { 0xF00, 0xF0, 0xF, 0xF000 } }, { 0x41, 16, { 0xE0, 0x1C, 3, 0xFF00 } },
        { 0x40, 8, { 0xE0, 0x1C, 3, 0 } },
        { 0x41, 32, { 0x3FF, 0xFFC00, 0x3FF00000, 0xC0000000 } }, { 0x40, 32, { 0xFFFF, 0xFFFF0000, 0, 0 } },
        { 0x20000, 8, { 0xFF, 0, 0, 0 } }, { 0x20001, 16, { 0xFF, 0, 0, 0xFF00 } }, { 0x20001, 8, { 0xF, 0, 0, 0xF0 } },
        { 0x20000, 16, { 0xFFFF, 0, 0, 0 } }, { 2, 8, { 0, 0, 0, 0xFF } }, { 0x20000, 32, { 0xFFFFFFFF, 0, 0, 0 } },
    };
    enum { SIDE = 16 };
    uint8_t *file = (uint8_t *)malloc(DDS_ROOM), out[SIDE * SIDE][4];
    char why[DDS_WHY];
    uint64_t seed = 3;
    dds_texture t;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t bytes = cases[i].bits / 8;
        dds_header(file);
        dds_set(file, DDS_WIDTH, SIDE);
        dds_set(file, DDS_HEIGHT, SIDE);
        dds_set(file, DDS_FORMAT_FLAGS, cases[i].flags);
        dds_set(file, DDS_BITS, cases[i].bits);
        for (uint32_t c = 0; c < 4; c++) dds_set(file, DDS_MASKS + 4 * c, cases[i].masks[c]);
        for (uint32_t k = 0; k < SIDE * SIDE * bytes; k++) file[DDS_HEADER + k] = (uint8_t)(unit_random(&seed) >> 8);
        memset(file + DDS_HEADER + bytes, 0xFF, bytes);
        if (!dds_read(file, DDS_HEADER + SIDE * SIDE * bytes, &t, why)) fail_msg("%s", why);
        assert_int_equal(t.format, VD_FORMAT_RGBA8_UNORM);
        dds_unpack(&t, t.texels, SIDE * SIDE, out[0]);
        for (uint32_t k = 0; k < SIDE * SIDE * 4; k++) {
            uint32_t mask = cases[i].masks[cases[i].flags & 0x20000 && k % 4 < 3 ? 0 : k % 4], texel = 0;
            memcpy(&texel, t.texels + k / 4 * bytes, bytes); /* little-endian */
            uint32_t lowest = mask & (0u - mask);
            double wanted = mask ? (double)((texel & mask) / lowest) / (mask / lowest) : k % 4 == 3;
            double error = out[k / 4][k % 4] - 255 * wanted;
            if (error > 0.5 || error < -0.5)
                fail_msg("case %d: component %u of %08x is %u instead of %g", (int)i, k % 4, texel, out[k / 4][k % 4],
                         255 * wanted);
        }
    }
    for (uint32_t c = 0; c < 4; c++) { /* bits beyond the texel, bits apart from each other */
        static const char *const names[] = { "red mask 0x", "green mask 0x", "blue mask 0x", "alpha mask 0x" };
        dds_header(file);
        dds_set(file, DDS_FORMAT_FLAGS, 0x41);
        dds_set(file, DDS_BITS, 16);
        dds_set(file, DDS_MASKS + 4 * c, 0x18000);
        dds_refused_with(file, DDS_ROOM, names[c]);
        dds_set(file, DDS_MASKS + 4 * c, 0x5);
        dds_refused_with(file, DDS_ROOM, names[c]);
        dds_set(file, DDS_MASKS + 4 * c, 0);
        dds_refused_with(file, DDS_ROOM, "the masks of a texel of 16 bits are 0");
        dds_set(file, DDS_BITS, 40);
        dds_refused_with(file, DDS_ROOM, "a texel has 40 bits, but must have 8, 16, 24 or 32");
    }
    free(file);
}

static const struct CMUnitTest dds_tests[] = {
    cmocka_unit_test(damaged_headers), cmocka_unit_test(random_headers), cmocka_unit_test(damaged_file_of_the_example),
    cmocka_unit_test(reasons_name_the_field), cmocka_unit_test(kinds_of_textures), cmocka_unit_test(formats_of_files),
    cmocka_unit_test(masks_of_texels),
};
