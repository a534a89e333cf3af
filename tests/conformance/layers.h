/* Transfers of parts of 1-D arrays, on every device and on a driver that refuses them. */
#ifndef CONFORMANCE_LAYERS_H
#define CONFORMANCE_LAYERS_H

#include "tests/conformance/common.h"

enum { LAYERS_X = 11, LAYERS = 5, LAYERS_BEGIN = 3, LAYERS_WIDTH = 6 }; /* image; texels of a box */

/* An image, and the texels that it should have. */
typedef struct layer_stack { vd_image image; uint32_t texels[LAYERS][LAYERS_X]; } layer_stack;

static inline void layers_create(vd_context *ctx, layer_stack *l, vd_format format, uint32_t first) {
    vd_image_desc d;
    memset(&d, 0, sizeof d);
    for (uint32_t i = 0; i < LAYERS * LAYERS_X; i++) l->texels[i / LAYERS_X][i % LAYERS_X] = first + i;
    d.format = format;
    d.dim = VD_DIM_1D_ARRAY;
    d.extent[0] = LAYERS_X;
    d.layers = LAYERS;
    d.data = l->texels;
    l->image = vd_image_create(ctx, &d);
    if (!l->image.id) fail_msg("vd_image_create: %s", vd_error_text());
}

static inline void layers_check(vd_context *ctx, const layer_stack *l, const char *what) {
    uint32_t got[LAYERS][LAYERS_X];
    vd_image_transfer t;
    memset(&t, 0, sizeof t);
    t.box.image = l->image;
    OK(vd_image_download(ctx, &t, got));
    for (int y = 0; y < LAYERS; y++)
        for (int x = 0; x < LAYERS_X; x++)
            if (got[y][x] != l->texels[y][x])
                fail_msg("%s: texel %d of layer %d is %u, not %u", what, x, y, got[y][x], l->texels[y][x]);
}

static inline vd_image_transfer layers_transfer(const layer_stack *l, uint32_t first, uint32_t count) {
    vd_image_transfer t;
    memset(&t, 0, sizeof t);
    t.box.image = l->image;
    t.box.offset[0] = LAYERS_BEGIN;
    t.box.extent[0] = LAYERS_WIDTH;
    t.box.layer = first;
    t.box.layers = count;
    return t;
}

/* Writes, reads and copies boxes of layers, the latter also to another format. */
static inline void check_boxes_of_layers(vd_context *ctx, uint32_t first, uint32_t count) {
    enum { PITCH = 8, GUARD = 77 };
    uint32_t box[LAYERS][PITCH], got[LAYERS][PITCH];
    layer_stack a, b;
    layers_create(ctx, &a, VD_FORMAT_R32_U, 1000);
    layers_create(ctx, &b, first % 2 ? VD_FORMAT_R32_I : VD_FORMAT_R32_U, 2000);
    for (uint32_t i = 0; i < LAYERS * PITCH; i++) {
        box[i / PITCH][i % PITCH] = 3000 + i;
        got[i / PITCH][i % PITCH] = GUARD;
    }
    vd_image_transfer t = layers_transfer(&a, first, count);
    t.row_pitch = t.slice_pitch = sizeof box[0];
    OK(vd_image_upload(ctx, &t, box));
    for (uint32_t y = 0; y < count; y++) memcpy(&a.texels[first + y][LAYERS_BEGIN], box[y], 4 * LAYERS_WIDTH);
    layers_check(ctx, &a, "vd_image_upload");
    OK(vd_image_download(ctx, &t, got));
    for (uint32_t y = 0; y < LAYERS; y++)
        for (uint32_t x = 0; x < PITCH; x++)
            assert_int_equal(got[y][x], y < count && x < LAYERS_WIDTH ? box[y][x] : GUARD);
    vd_image_box to = t.box;
    to.image = b.image;
    to.offset[0] = 0;
    to.layer = LAYERS - count;
    OK(vd_copy_image(vd_immediate(ctx, 0, 0), &to, &t.box));
    for (uint32_t y = 0; y < count; y++) memcpy(b.texels[to.layer + y], box[y], 4 * LAYERS_WIDTH);
    layers_check(ctx, &b, "vd_copy_image");
    vd_image_destroy(ctx, a.image);
    vd_image_destroy(ctx, b.image);
}

/* Every layer is copied to the middle of a buffer, and from there to the next layer. */
static inline void check_layers_and_buffers(vd_context *ctx) {
    enum { AT = 4, SIZE = AT + LAYERS_WIDTH + 3 };
    uint32_t words[SIZE], got[SIZE];
    layer_stack a;
    for (uint32_t i = 0; i < SIZE; i++) words[i] = i;
    layers_create(ctx, &a, VD_FORMAT_R32_U, 1000);
    vd_buffer buffer = buffer_named(ctx, "words", VD_U32, SIZE, words);
    for (uint32_t y = 0; y < LAYERS; y++) {
        vd_image_transfer t = layers_transfer(&a, y, 1);
        t.buffer = buffer;
        t.offset = 4 * AT;
        OK(vd_copy_from_image(vd_immediate(ctx, 0, 0), &t));
        OK(vd_buffer_read(ctx, buffer, 0, got, sizeof got));
        memcpy(words + AT, &a.texels[y][LAYERS_BEGIN], 4 * LAYERS_WIDTH);
        assert_memory_equal(got, words, sizeof got);
        t.box.layer = (y + 1) % LAYERS;
        OK(vd_copy_to_image(vd_immediate(ctx, 0, 0), &t));
        memcpy(&a.texels[t.box.layer][LAYERS_BEGIN], words + AT, 4 * LAYERS_WIDTH);
        layers_check(ctx, &a, "vd_copy_to_image");
    }
    vd_buffer_destroy(ctx, buffer);
    vd_image_destroy(ctx, a.image);
}

static inline void check_parts_of_1d_arrays(vd_context *ctx) {
    for (uint32_t first = 0; first < LAYERS; first++)
        for (uint32_t count = 1; first + count <= LAYERS; count += 2) check_boxes_of_layers(ctx, first, count);
    check_layers_and_buffers(ctx);
}

#endif
