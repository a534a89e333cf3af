/* Reads DDS files in memory: 2-D textures, arrays, cubes, volumes; blocks, floats, and texels that masks describe. The
   file is not trusted: dds_read checks all that the other functions use.
   Specification: "DDS_HEADER" and "Programming guide for DDS" in the documentation of Direct3D. */
#ifndef EXAMPLES_DDS_H
#define EXAMPLES_DDS_H

#include "vkdispatch.h"

#include <stdio.h>
#include <string.h>

enum {
    DDS_HEADER = 128, DDS_EXTENDED = DDS_HEADER + 20, /* bytes before the texels */
    DDS_MAX_EXTENT = 16384,  /* texels along an axis */
    DDS_MAX_LAYERS = 2048,   /* of an array; an array of cubes has six times as many faces */
    DDS_WHY = 200            /* bytes of a message */
};

typedef struct dds_texture {
    uint32_t width, height;
    uint32_t depth;          /* slices of a volume, otherwise 1 */
    uint32_t layers;         /* of an array, or faces of cubes, otherwise 1 */
    uint32_t levels;
    vd_format format;        /* as stored; VD_FORMAT_RGBA8_UNORM, written by dds_unpack, if there are masks */
    uint32_t block_extent, block_bytes; /* of a texel, or of a block of texels */
    bool packed;             /* masks describe the texels */
    uint32_t masks[4];       /* of red, green, blue, alpha; 0: no such component */
    const uint8_t *texels;
} dds_texture;

#define DDS_CODE(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/* Formats by the code in the header, which is text or a number of D3DFORMAT, or by the number of DXGI_FORMAT in the
   extended header. Formats of sRGB are read as if they were linear. */
static const struct { uint32_t code, dxgi; vd_format format; uint32_t bytes; } dds_formats[] = {
    { DDS_CODE('D', 'X', 'T', '1'), 71, VD_FORMAT_BC1_UNORM, 8 }, { 0, 72, VD_FORMAT_BC1_UNORM, 8 },
    { DDS_CODE('D', 'X', 'T', '2'), 74, VD_FORMAT_BC2_UNORM, 16 },
    { DDS_CODE('D', 'X', 'T', '3'), 75, VD_FORMAT_BC2_UNORM, 16 },
    { DDS_CODE('D', 'X', 'T', '4'), 77, VD_FORMAT_BC3_UNORM, 16 },
    { DDS_CODE('D', 'X', 'T', '5'), 78, VD_FORMAT_BC3_UNORM, 16 },
    { DDS_CODE('A', 'T', 'I', '1'), 80, VD_FORMAT_BC4_UNORM, 8 },
    { DDS_CODE('B', 'C', '4', 'U'), 80, VD_FORMAT_BC4_UNORM, 8 },
    { DDS_CODE('B', 'C', '4', 'S'), 81, VD_FORMAT_BC4_SNORM, 8 },
    { DDS_CODE('A', 'T', 'I', '2'), 83, VD_FORMAT_BC5_UNORM, 16 },
    { DDS_CODE('B', 'C', '5', 'U'), 83, VD_FORMAT_BC5_UNORM, 16 },
    { DDS_CODE('B', 'C', '5', 'S'), 84, VD_FORMAT_BC5_SNORM, 16 },
    { 0, 95, VD_FORMAT_BC6H_UF, 16 }, { 0, 96, VD_FORMAT_BC6H_F, 16 }, { 0, 98, VD_FORMAT_BC7_UNORM, 16 },
    { 0, 99, VD_FORMAT_BC7_UNORM, 16 },
    { 36, 11, VD_FORMAT_RGBA16_UNORM, 8 }, { 110, 13, VD_FORMAT_RGBA16_SNORM, 8 }, { 111, 54, VD_FORMAT_R16_F, 2 },
    { 112, 34, VD_FORMAT_RG16_F, 4 }, { 113, 10, VD_FORMAT_RGBA16_F, 8 }, { 114, 41, VD_FORMAT_R32_F, 4 },
    { 115, 16, VD_FORMAT_RG32_F, 8 }, { 116, 2, VD_FORMAT_RGBA32_F, 16 },
    { 0, 24, VD_FORMAT_RGB10A2_UNORM, 4 }, { 0, 26, VD_FORMAT_R11G11B10_F, 4 }, { 0, 28, VD_FORMAT_RGBA8_UNORM, 4 },
    { 0, 29, VD_FORMAT_RGBA8_UNORM, 4 }, { 0, 31, VD_FORMAT_RGBA8_SNORM, 4 }, { 0, 35, VD_FORMAT_RG16_UNORM, 4 },
    { 0, 37, VD_FORMAT_RG16_SNORM, 4 }, { 0, 49, VD_FORMAT_RG8_UNORM, 2 }, { 0, 51, VD_FORMAT_RG8_SNORM, 2 },
    { 0, 56, VD_FORMAT_R16_UNORM, 2 }, { 0, 58, VD_FORMAT_R16_SNORM, 2 }, { 0, 61, VD_FORMAT_R8_UNORM, 1 },
    { 0, 63, VD_FORMAT_R8_SNORM, 1 }, { 0, 67, VD_FORMAT_RGB9E5_F, 4 }, { 0, 85, VD_FORMAT_R5G6B5_UNORM, 2 },
    { 0, 87, VD_FORMAT_BGRA8_UNORM, 4 }, { 0, 91, VD_FORMAT_BGRA8_UNORM, 4 }
};

/* Numbers of DXGI_FORMAT whose texels masks describe. */
static const struct { uint32_t dxgi, bytes, masks[4]; } dds_packed_formats[] = {
    { 65, 1, { 0, 0, 0, 0xFF } }, { 86, 2, { 0x7C00, 0x3E0, 0x1F, 0x8000 } },
    { 88, 4, { 0xFF0000, 0xFF00, 0xFF, 0 } }, { 93, 4, { 0xFF0000, 0xFF00, 0xFF, 0 } },
    { 115, 2, { 0xF00, 0xF0, 0xF, 0xF000 } }
};

/* Offsets of fields in the file. */
enum { DDS_SIZE = 4, DDS_HEIGHT = 12, DDS_WIDTH = 16, DDS_DEPTH = 24, DDS_LEVELS = 28,
       DDS_FORMAT_SIZE = 76, DDS_FORMAT_FLAGS = 80, DDS_FOURCC = 84, DDS_BITS = 88, DDS_MASKS = 92, DDS_CAPS2 = 112,
       DDS_DXGI = 128, DDS_DIMENSION = 132, DDS_MISC = 136, DDS_ARRAY = 140 };

static uint32_t dds_word(const uint8_t *file, size_t at) { /* little-endian */
    return DDS_CODE(file[at], file[at + 1], file[at + 2], file[at + 3]);
}

static bool dds_refuse(char *why, const char *format, unsigned long long value, unsigned long long limit) {
    snprintf(why, DDS_WHY, format, value, limit);
    return false;
}

/* Reads masks: those of luminance are those of red, green and blue. */
static bool dds_read_masks(const uint8_t *file, dds_texture *t, char *why) {
#define DDS_WRONG_MASK " mask 0x%08llX does not consist of adjacent bits of a texel of %llu bits"
    static const char *const wrong[] = { "red" DDS_WRONG_MASK, "green" DDS_WRONG_MASK, "blue" DDS_WRONG_MASK,
                                         "alpha" DDS_WRONG_MASK };
    uint32_t flags = dds_word(file, DDS_FORMAT_FLAGS), bits = dds_word(file, DDS_BITS);
    bool luminance = flags & 0x20000, colour = luminance || flags & 0x40;
    if (!(flags & 0x20042) || flags & 0x80228)
        return dds_refuse(why, "format flags 0x%llX: only codes (0x4), RGB (0x40), luminance (0x20000) and alpha (0x2) "
                          "are supported", flags, 0);
    if (bits % 8 || bits < 8 || bits > 32)
        return dds_refuse(why, "a texel has %llu bits, but must have 8, 16, 24 or 32", bits, 0);
    for (uint32_t i = 0; i < 4; i++) {
        bool used = i < 3 ? colour : flags & 3;
        uint64_t mask = used ? dds_word(file, DDS_MASKS + 4 * (luminance && i < 3 ? 0 : i)) : 0;
        uint64_t lowest = mask & (~mask + 1);
        if (mask >> bits || (mask + lowest) & mask) return dds_refuse(why, wrong[i], mask, bits);
        t->masks[i] = (uint32_t)mask;
    }
    t->packed = true;
    t->format = VD_FORMAT_RGBA8_UNORM;
    t->block_bytes = bits / 8;
    if (t->masks[0] | t->masks[1] | t->masks[2] | t->masks[3]) return true;
    return dds_refuse(why, "the masks of a texel of %llu bits are 0", bits, 0);
}

static bool dds_read_format(const uint8_t *file, bool extended, dds_texture *t, char *why) {
    uint32_t code = dds_word(file, DDS_FOURCC), number = extended ? dds_word(file, DDS_DXGI) : code;
    t->block_extent = 1;
    if (!(dds_word(file, DDS_FORMAT_FLAGS) & 4)) return dds_read_masks(file, t, why);
    for (size_t i = 0; i < sizeof dds_formats / sizeof *dds_formats; i++) {
        if (!number || number != (extended ? dds_formats[i].dxgi : dds_formats[i].code)) continue;
        t->format = dds_formats[i].format;
        t->block_bytes = dds_formats[i].bytes;
        t->block_extent = t->format >= VD_FORMAT_BC1_UNORM ? 4 : 1;
        return true;
    }
    for (size_t i = 0; i < sizeof dds_packed_formats / sizeof *dds_packed_formats && extended; i++) {
        if (number != dds_packed_formats[i].dxgi) continue;
        memcpy(t->masks, dds_packed_formats[i].masks, sizeof t->masks);
        t->format = VD_FORMAT_RGBA8_UNORM;
        t->block_bytes = dds_packed_formats[i].bytes;
        t->packed = true;
        return true;
    }
    return dds_refuse(why, extended ? "DXGI format %llu is not supported" : "format code 0x%08llX is not supported",
                      number, 0);
}

static bool dds_read_array(const uint8_t *file, dds_texture *t, char *why) { /* the extended header */
    uint32_t dimension = dds_word(file, DDS_DIMENSION), count = dds_word(file, DDS_ARRAY);
    bool cube = dds_word(file, DDS_MISC) & 4;
    if (dimension < 2 || dimension > 4)
        return dds_refuse(why, "resource dimension %llu is not 2, 3 or 4 (1-D, 2-D, 3-D)", dimension, 0);
    if (!count || count > DDS_MAX_LAYERS)
        return dds_refuse(why, "array size %llu is not in 1 to %llu", count, DDS_MAX_LAYERS);
    if (dimension == 2 && t->height > 1)
        return dds_refuse(why, "height %llu of a 1-D texture is not %llu", t->height, 1);
    if (dimension == 2) t->height = 1;
    if (dimension == 4 && (cube || count > 1))
        return dds_refuse(why, "a volume is also a cube, or its array size %llu is not %llu", count, 1);
    if (dimension == 4) t->depth = dds_word(file, DDS_DEPTH);
    t->layers = cube ? 6 * count : count;
    if (!cube || t->width == t->height) return true;
    return dds_refuse(why, "a face of a cube has %llu x %llu texels, but must be square", t->width, t->height);
}

/* The kinds of textures that a header without the extension describes: cubes may lack faces. */
static bool dds_read_kind(const uint8_t *file, dds_texture *t, char *why) {
    uint32_t caps = dds_word(file, DDS_CAPS2), faces = 0;
    if (caps & 0x200000) t->depth = dds_word(file, DDS_DEPTH);
    if (!(caps & 0x200)) return true;
    for (uint32_t bit = 10; bit < 16; bit++) faces += caps >> bit & 1;
    if (!faces || caps & 0x200000)
        return dds_refuse(why, "caps2 0x%llX describes a cube that has no face or is also a volume", caps, 0);
    t->layers = faces;
    if (t->width == t->height) return true;
    return dds_refuse(why, "a face of a cube has %llu x %llu texels, but must be square", t->width, t->height);
}

static uint32_t dds_extent(uint32_t extent, uint32_t level) { return extent >> level ? extent >> level : 1; }

/* Number of levels down to 1 texel. */
static uint32_t dds_max_levels(uint32_t width, uint32_t height, uint32_t depth) {
    uint32_t levels = 1;
    while ((width | height | depth) >> levels) levels++;
    return levels;
}

/* Bytes of a layer or slice of a level, without padding. The pitch in the header is not used: many programs write it
   wrongly, and the specification advises to compute it. */
static uint64_t dds_bytes(const dds_texture *t, uint32_t level) {
    uint64_t columns = (dds_extent(t->width, level) + t->block_extent - 1) / t->block_extent;
    return columns * ((dds_extent(t->height, level) + t->block_extent - 1) / t->block_extent) * t->block_bytes;
}

/* Bytes of the first `levels` levels of a layer, with their slices. */
static uint64_t dds_layer_bytes(const dds_texture *t, uint32_t levels) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < levels; i++) bytes += dds_bytes(t, i) * dds_extent(t->depth, i);
    return bytes;
}

/* Returns the texels of a level: those of a layer (layer < t->layers), or those of a slice of a volume. `slice` counts
   the slices of level 0 (slice < t->depth); each other level has half as many. */
static const uint8_t *dds_texels(const dds_texture *t, uint32_t layer, uint32_t slice, uint32_t level) {
    uint32_t last = dds_extent(t->depth, level) - 1, from = slice >> level;
    uint64_t before = layer * dds_layer_bytes(t, t->levels) + dds_layer_bytes(t, level);
    return t->texels + (size_t)(before + (from < last ? from : last) * dds_bytes(t, level));
}

static bool dds_check_extents(const dds_texture *t, uint64_t bytes, char *why) {
    const uint32_t extents[] = { t->width, t->height, t->depth };
    static const char *const names[] = { "width %llu is not in 1 to %llu", "height %llu is not in 1 to %llu",
                                         "depth %llu is not in 1 to %llu" };
    for (int i = 0; i < 3; i++)
        if (!extents[i] || extents[i] > DDS_MAX_EXTENT) return dds_refuse(why, names[i], extents[i], DDS_MAX_EXTENT);
    uint32_t most = dds_max_levels(t->width, t->height, t->depth);
    if (t->levels > most)
        return dds_refuse(why, "the texture has %llu levels, but its extents allow only %llu", t->levels, most);
    uint64_t need = dds_layer_bytes(t, t->levels) * t->layers;
    if (need <= bytes) return true;
    return dds_refuse(why, "the texels have %llu bytes, but only %llu follow the header", need, bytes);
}

/* Reads the header of a file in memory. The texture points to the file. Returns false, and a sentence in `why`
   (DDS_WHY bytes), if the file is damaged or its format is not supported. */
static bool dds_read(const uint8_t *file, size_t size, dds_texture *t, char *why) {
    memset(t, 0, sizeof *t);
    if (size < DDS_HEADER)
        return dds_refuse(why, "the file has %llu bytes, but the header of a DDS file has %llu", size, DDS_HEADER);
    if (memcmp(file, "DDS ", 4))
        return dds_refuse(why, "not a DDS file: it begins with 0x%08llX instead of \"DDS \"", dds_word(file, 0), 0);
    if (dds_word(file, DDS_SIZE) != 124)
        return dds_refuse(why, "header size %llu is not %llu", dds_word(file, DDS_SIZE), 124);
    if (dds_word(file, DDS_FORMAT_SIZE) != 32)
        return dds_refuse(why, "size %llu of the pixel format is not %llu", dds_word(file, DDS_FORMAT_SIZE), 32);
    bool extended = dds_word(file, DDS_FORMAT_FLAGS) & 4 && !memcmp(file + DDS_FOURCC, "DX10", 4);
    size_t header = extended ? DDS_EXTENDED : DDS_HEADER;
    if (size < header)
        return dds_refuse(why, "the file has %llu bytes, but its header, which is extended, has %llu", size, header);
    t->width = dds_word(file, DDS_WIDTH);
    t->height = dds_word(file, DDS_HEIGHT);
    t->depth = t->layers = 1;
    t->levels = dds_word(file, DDS_LEVELS) ? dds_word(file, DDS_LEVELS) : 1;
    t->texels = file + header;
    return dds_read_format(file, extended, t, why)
           && (extended ? dds_read_array(file, t, why) : dds_read_kind(file, t, why))
           && dds_check_extents(t, size - header, why);
}

/* Converts `count` texels that masks describe to four bytes each. A missing colour is 0, a missing alpha 255. */
static inline void dds_unpack(const dds_texture *t, const uint8_t *from, size_t count, uint8_t *out) {
    for (size_t i = 0; i < count; i++) {
        uint32_t texel = 0;
        for (uint32_t k = 0; k < t->block_bytes; k++) texel |= (uint32_t)from[i * t->block_bytes + k] << 8 * k;
        for (size_t c = 0; c < 4; c++) {
            uint32_t mask = t->masks[c], lowest = mask & (~mask + 1);
            uint64_t highest = mask ? mask / lowest : 1, value = mask ? (texel & mask) / lowest : c == 3;
            out[4 * i + c] = (uint8_t)((2 * 255 * value + highest) / (2 * highest)); /* rounded */
        }
    }
}

#endif
