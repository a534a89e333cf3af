/* Resources placed in heaps: aliasing, order, lifetimes, messages; budget and memory pressure. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"

enum { SIDE = 32, TEXELS = SIDE * SIDE, SLOTS = 3, ALIASES = 6 };

static bool has_images(const fixture *f) {
    bool heaps = f->backend == VD_BACKEND_VULKAN || f->backend == VD_BACKEND_DUMMY;
    return heaps && has_features(f, VD_FEATURE_IMAGE);
}

static vd_image_desc picture(vd_buffer heap, uint64_t offset) {
    vd_image_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "picture";
    desc.format = VD_FORMAT_R32_U;
    desc.extent[0] = desc.extent[1] = SIDE;
    desc.heap = heap;
    desc.heap_offset = offset;
    return desc;
}

static vd_image image_at(vd_context *ctx, vd_buffer heap, uint64_t offset) {
    vd_image_desc desc = picture(heap, offset);
    vd_image image = vd_image_create(ctx, &desc);
    if (!image.id) fail_msg("vd_image_create: %s", vd_error_text());
    return image;
}

static vd_placement placement(vd_context *ctx) {
    vd_image_desc desc = picture((vd_buffer){ 0 }, 0);
    vd_placement p;
    OK(vd_image_placement(ctx, &desc, &p));
    assert_true(p.size >= 4 * TEXELS && p.align >= 1);
    p.size = (p.size + p.align - 1) / p.align * p.align; /* of images one after the other */
    return p;
}

static vd_image_transfer whole(vd_image image, vd_buffer buffer) {
    vd_image_transfer t;
    memset(&t, 0, sizeof t);
    t.box.image = image;
    t.buffer = buffer;
    return t;
}

static void check_image(vd_context *ctx, vd_image image, uint32_t value) {
    static uint32_t got[TEXELS];
    vd_image_transfer t = whole(image, (vd_buffer){ 0 });
    memset(got, 0, sizeof got);
    OK(vd_image_download(ctx, &t, got));
    for (uint32_t i = 0; i < TEXELS; i++)
        if (got[i] != value) fail_msg("texel %u is %u, not %u", i, got[i], value);
}

static vd_color color_of(uint32_t value) {
    vd_color c;
    c.u[0] = c.u[1] = c.u[2] = c.u[3] = value;
    return c;
}

/* Random commands on images and buffers that overlap in a heap. Each slot of the heap has one owner, whose contents are
   known; another resource becomes the owner by a discard and a write. Commands are recorded into all kinds of lists and
   graphs, and data moves within the device only. */
TEST(aliases_are_ordered) {
    if (!has_images(f)) skip_because("the backend has no images");
    vd_placement p = placement(f->ctx);
    vd_buffer heap = heap_of(f->ctx, p.size * SLOTS), out = buffer_u32(f->ctx, "out", TEXELS, NULL);
    vd_image images[SLOTS][2];
    vd_buffer views[SLOTS];
    uint32_t owner[SLOTS], value[SLOTS];
    dice d = { 5 };
    for (uint32_t s = 0; s < SLOTS; s++) {
        for (int i = 0; i < 2; i++) images[s][i] = image_at(f->ctx, heap, p.size * s);
        views[s] = view_u32(f->ctx, heap, p.size * s / 4, TEXELS);
        OK(vd_fill(vd_immediate(f->ctx, 0, 0), views[s], 0, VD_WHOLE, &s, 4));
        owner[s] = 2; /* the view */
        value[s] = s;
    }
    for (uint32_t round = 0; round < 60; round++) {
        vd_list *now = vd_immediate(f->ctx, 0, 0);
        uint32_t last = 0, kind = roll(&d, 3);
        vd_list *list = kind == 0 ? now : kind == 1 ? list_begin(f->ctx) : vd_graph_begin(f->ctx, NULL);
        for (uint32_t step = 0; step < 8; step++) {
            uint32_t s = roll(&d, SLOTS), next = roll(&d, 3);
            uint32_t number = round * 100 + step + 1;
            vd_color c = color_of(number);
            if (next == 2) OK(vd_fill(list, views[s], 0, VD_WHOLE, &number, 4));
            else {
                if (owner[s] != next) OK(vd_discard_image(list, images[s][next]));
                OK(vd_clear_image(list, images[s][next], &c));
            }
            owner[s] = next;
            value[s] = number;
            last = s;
        }
        /* another slot gets the contents of the last one, through a buffer outside of the heap */
        uint32_t to = (last + 1) % SLOTS, into = roll(&d, 3);
        vd_image_transfer from = whole(owner[last] < 2 ? images[last][owner[last]] : (vd_image){ 0 }, out);
        vd_image_transfer target = whole(into < 2 ? images[to][into] : (vd_image){ 0 }, out);
        if (owner[last] < 2) OK(vd_copy_from_image(list, &from));
        else OK(vd_copy(list, out, 0, views[last], 0, 4 * TEXELS));
        if (into == 2) OK(vd_copy(list, views[to], 0, out, 0, 4 * TEXELS));
        else {
            OK(vd_discard_image(list, images[to][into]));
            OK(vd_copy_to_image(list, &target));
        }
        owner[to] = into;
        value[to] = value[last];
        if (kind == 1) OK(vd_submit(list, NULL, NULL));
        if (kind == 2) {
            vd_graph g = vd_graph_end(list);
            if (!g.id) fail_msg("vd_graph_end: %s", vd_error_text());
            for (int i = 0; i < 2; i++) OK(vd_graph_submit(f->ctx, g, NULL, NULL));
            vd_graph_destroy(f->ctx, g);
        }
        for (uint32_t s = 0; s < SLOTS; s++)
            if (owner[s] < 2) check_image(f->ctx, images[s][owner[s]], value[s]);
            else for (uint32_t i = 0; i < TEXELS; i += TEXELS - 1)
                assert_int_equal(read_u32(f->ctx, views[s], i), value[s]);
    }
    for (uint32_t s = 0; s < SLOTS; s++)
        for (int i = 0; i < 2; i++) vd_image_destroy(f->ctx, images[s][i]);
    vd_buffer_destroy(f->ctx, heap);
    vd_buffer_destroy(f->ctx, out);
}

/* Sets all texels of a storage image to a value. */
static vd_kernel kernel_paint(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "paint", 8, 8, 1);
    vc_image_desc image;
    memset(&image, 0, sizeof image);
    image.dim = VC_DIM_2D;
    image.storage = true;
    image.format = VC_FORMAT_R32_U;
    image.access = VC_WRITE;
    vc_image_ref to = vc_image(k, "to", &image);
    vc_val value = vc_param(k, "value", VC_U32);
    VC_EACH2(k, x, y) { vc_image_store(to, vc_vec2(x, y), vc_splat(value, 4)); }
    return kernel_end(ctx, k);
}

/* Barriers only between commands whose ranges of the heap overlap. */
TEST(only_overlaps_conflict) {
    if (!has_images(f)) skip_because("the backend has no images");
    vd_placement p = placement(f->ctx);
    vd_buffer heap = heap_of(f->ctx, 2 * p.size);
    vd_image a = image_at(f->ctx, heap, 0), b = image_at(f->ctx, heap, p.size), also_a = image_at(f->ctx, heap, 0);
    vd_buffer of_b = view_u32(f->ctx, heap, p.size / 4, TEXELS);
    vd_kernel paint = kernel_paint(f->ctx);
    OK(vd_run2(f->ctx, paint, SIDE, SIDE, vd_i(a), vd_u32(1)));
    uint64_t barriers = stats_of(f->ctx).barriers;
    OK(vd_run2(f->ctx, paint, SIDE, SIDE, vd_i(b), vd_u32(2)));
    assert_int_equal(stats_of(f->ctx).barriers, barriers);
    OK(vd_run2(f->ctx, paint, SIDE, SIDE, vd_i(also_a), vd_u32(3)));
    assert_int_equal(stats_of(f->ctx).barriers, barriers + 1);
    OK(vd_fill(vd_immediate(f->ctx, 0, 0), of_b, 0, VD_WHOLE, NULL, 0));
    assert_int_equal(stats_of(f->ctx).barriers, barriers + 1);
    OK(vd_run2(f->ctx, paint, SIDE, SIDE, vd_i(b), vd_u32(4)));
    assert_int_equal(stats_of(f->ctx).barriers, barriers + 2);
    vd_kernel_destroy(f->ctx, paint);
    vd_image_destroy(f->ctx, a);
    vd_image_destroy(f->ctx, b);
    vd_image_destroy(f->ctx, also_a);
    vd_buffer_destroy(f->ctx, heap);
}

/* A storage image that a kernel writes, then the bytes of another resource at the same place. */
TEST_EXECUTED(kernels_use_placed_images) {
    if (!has_images(f)) skip_because("the backend has no images");
    vd_kernel paint = kernel_paint(f->ctx);
    vd_placement p = placement(f->ctx);
    vd_buffer heap = heap_of(f->ctx, p.size), part = view_u32(f->ctx, heap, 0, TEXELS);
    vd_image a = image_at(f->ctx, heap, 0);
    for (uint32_t i = 1; i < 20; i++) {
        vd_list *now = vd_immediate(f->ctx, 0, 0);
        OK(vd_fill(now, part, 0, VD_WHOLE, &i, 4));
        assert_int_equal(read_u32(f->ctx, part, 77), i);
        OK(vd_discard_image(now, a));
        OK(vd_run2(f->ctx, paint, SIDE, SIDE, vd_i(a), vd_u32(i * 5)));
        check_image(f->ctx, a, i * 5);
    }
    vd_image_destroy(f->ctx, a);
    vd_buffer_destroy(f->ctx, heap);
    vd_kernel_destroy(f->ctx, paint);
}

/* Images keep the memory of their heap, in any order of destruction, also while they are in use. */
TEST(heaps_live_as_long_as_their_images) {
    if (!has_images(f)) skip_because("the backend has no images");
    vd_placement p = placement(f->ctx);
    OK(vd_wait_idle(f->ctx));
    vd_stats before = stats_of(f->ctx);
    for (int first = 0; first < 2; first++) {
        vd_buffer heap = heap_of(f->ctx, p.size);
        vd_image image = image_at(f->ctx, heap, 0);
        vd_color c = color_of(9);
        OK(vd_clear_image(vd_immediate(f->ctx, 0, 0), image, &c));
        if (first) vd_image_destroy(f->ctx, image);
        vd_buffer_destroy(f->ctx, heap);
        if (!first) check_image(f->ctx, image, 9);
        if (!first) vd_image_destroy(f->ctx, image);
        OK(vd_wait_idle(f->ctx));
        OK(vd_wait_idle(f->ctx));
        vd_stats after = stats_of(f->ctx);
        assert_int_equal(after.buffers, before.buffers);
        assert_int_equal(after.images, before.images);
        assert_true(after.device_bytes <= before.device_bytes + (8 << 20)); /* staging memory of the download */
    }
}

TEST(initial_contents) {
    if (!has_images(f)) skip_because("the backend has no images");
    static uint32_t texels[TEXELS];
    for (uint32_t i = 0; i < TEXELS; i++) texels[i] = 3;
    vd_placement p = placement(f->ctx);
    vd_buffer heap = heap_of(f->ctx, 3 * p.size);
    vd_image_desc desc = picture(heap, p.size);
    desc.data = texels;
    uint32_t seven = 7;
    OK(vd_fill(vd_immediate(f->ctx, 0, 0), heap, 0, VD_WHOLE, &seven, 4));
    vd_image image = vd_image_create(f->ctx, &desc);
    assert_true(image.id);
    check_image(f->ctx, image, 3);
    vd_buffer before = view_u32(f->ctx, heap, 0, p.size / 4),
              after = view_u32(f->ctx, heap, 2 * p.size / 4, p.size / 4);
    assert_int_equal(read_u32(f->ctx, before, p.size / 4 - 1), 7);
    assert_int_equal(read_u32(f->ctx, after, 0), 7);
    vd_image_destroy(f->ctx, image);
    vd_buffer_destroy(f->ctx, heap);
}

TEST(wrong_placements_are_refused) {
    vd_placement p;
    vd_image_desc desc = picture((vd_buffer){ 0 }, 64);
    FAILS(vd_image_placement(f->ctx, NULL, &p), VD_ERROR_INVALID, "vd_image_placement|desc is NULL");
    FAILS(vd_image_placement(f->ctx, &desc, NULL), VD_ERROR_INVALID, "vd_image_placement|out is NULL");
    FAILS(vd_image_placement(NULL, &desc, &p), VD_ERROR_INVALID, "vd_image_placement");
    FAILS(vd_discard_image(NULL, (vd_image){ 0 }), VD_ERROR_INVALID, "vd_discard_image|list is NULL");
    FAILS(vd_discard_image(vd_immediate(f->ctx, 0, 0), (vd_image){ 0 }), VD_ERROR_INVALID, "vd_discard_image");
    vd_buffer_desc imported;
    memset(&imported, 0, sizeof imported);
    imported.shape[0] = 64;
    imported.heap = true;
    imported.address = 64;
    assert_true(vd_buffer_create(f->ctx, &imported).id == 0);
    check_text("vd_buffer_create", "vd_buffer_create|desc.heap");
    assert_true(vd_image_create(f->ctx, &desc).id == 0);
    check_text("vd_image_create", "vd_image_create 'picture'|heap_offset is 64|heap is not set");
    if (!has_images(f)) {
        desc.heap_offset = 0;
        FAILS(vd_image_placement(f->ctx, &desc, &p), VD_ERROR_UNSUPPORTED, "vd_image_placement");
        return;
    }
    p = placement(f->ctx);
    vd_buffer heap = heap_of(f->ctx, 2 * p.size), plain = buffer_u32(f->ctx, "plain", p.size, NULL);
    desc = picture(plain, 0);
    assert_true(vd_image_create(f->ctx, &desc).id == 0);
    check_text("vd_image_create", "vd_image_create 'picture'|'plain'|without desc.heap");
    desc = picture(view_u32(f->ctx, heap, 0, 16), 0);
    assert_true(vd_image_create(f->ctx, &desc).id == 0);
    check_text("vd_image_create", "without desc.heap");
    desc = picture(heap, 2 * p.size);
    assert_true(vd_image_create(f->ctx, &desc).id == 0);
    check_text("vd_image_create", "vd_image_create 'picture'|the image needs|'heap' has");
    desc.heap_offset = UINT64_MAX / p.align * p.align;
    assert_true(vd_image_create(f->ctx, &desc).id == 0);
    check_text("vd_image_create", "the image needs");
    desc.heap_offset = 1;
    if (p.align > 1) {
        assert_true(vd_image_create(f->ctx, &desc).id == 0);
        check_text("vd_image_create", "heap_offset is 1|multiple of");
    }
    vd_buffer_destroy(f->ctx, heap);
    desc.heap_offset = 0;
    assert_true(vd_image_create(f->ctx, &desc).id == 0);
    check_text("vd_image_create", "heap|destroyed");
    vd_buffer_destroy(f->ctx, plain);
    OK(vd_wait_idle(f->ctx));
    still_works(f);
}

/* Images in a slot of a graph that are in heaps: two share their memory, which each of them discards. */
TEST_EXECUTED(placed_images_in_slots) {
    if (!has_images(f)) skip_because("the backend has no images");
    vd_placement p = placement(f->ctx);
    vd_buffer heap = heap_of(f->ctx, 2 * p.size), out = buffer_u32(f->ctx, "out", TEXELS, NULL);
    vd_kernel paint = kernel_paint(f->ctx);
    vd_image images[3] = { image_at(f->ctx, heap, 0), image_at(f->ctx, heap, p.size), image_at(f->ctx, heap, 0) };
    vd_image_desc alone_desc = picture((vd_buffer){ 0 }, 0);
    vd_image alone = vd_image_create(f->ctx, &alone_desc);
    vd_list *list = vd_graph_begin(f->ctx, NULL);
    vd_image slot = vd_slot_image(list, "picture", images[0]);
    assert_true(slot.id && alone.id);
    OK(vd_discard_image(list, slot));
    vd_arg args[2] = { vd_i(slot), vd_slot("value", vd_u32(0)) };
    vd_dispatch_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.kernel = paint;
    desc.threads[0] = desc.threads[1] = SIDE;
    desc.args = args;
    desc.arg_count = 2;
    OK(vd_dispatch(list, &desc));
    vd_image_transfer down = whole(slot, out);
    OK(vd_copy_from_image(list, &down));
    vd_graph g = vd_graph_end(list);
    if (!g.id) fail_msg("vd_graph_end: %s", vd_error_text());
    for (uint32_t i = 0; i < 12; i++) {
        OK(vd_graph_set(f->ctx, g, "picture", vd_i(images[i % 3])));
        OK(vd_graph_set(f->ctx, g, "value", vd_u32(100 + i)));
        OK(vd_graph_submit(f->ctx, g, NULL, NULL));
        assert_int_equal(read_u32(f->ctx, out, 5), 100 + i);
        if (i % 3 == 1) check_image(f->ctx, images[1], 100 + i);
    }
    FAILS(vd_graph_set(f->ctx, g, "picture", vd_i(alone)), VD_ERROR_INVALID, "slot 'picture': image '|' is not in a heap, but the initial image is in one");
    vd_graph_destroy(f->ctx, g);
    for (int i = 0; i < 3; i++) vd_image_destroy(f->ctx, images[i]);
    vd_image_destroy(f->ctx, alone);
    vd_kernel_destroy(f->ctx, paint);
    vd_buffer_destroy(f->ctx, heap);
    vd_buffer_destroy(f->ctx, out);
}

TEST(memory_is_described) {
    vd_memory_info before, now;
    OK(vd_memory_query(f->ctx, 0, &before));
    assert_true(before.device_memory == vd_device(f->ctx, 0)->device_memory);
    vd_buffer heap = heap_of(f->ctx, 64 << 20);
    OK(vd_memory_query(f->ctx, 0, &now));
    assert_true(now.bytes >= before.bytes + (64 << 20) && now.blocks == before.blocks + 1);
    assert_true(now.budget <= now.device_memory);
    vd_buffer_destroy(f->ctx, heap);
    FAILS(vd_memory_query(f->ctx, 0, NULL), VD_ERROR_INVALID, "vd_memory_query|out is NULL");
    FAILS(vd_memory_query(f->ctx, 7, &now), VD_ERROR_INVALID, "vd_memory_query|7");
    FAILS(vd_memory_query(NULL, 0, &now), VD_ERROR_INVALID, "vd_memory_query");
}

/* ---- memory pressure ---- */

typedef struct cache { vd_context *ctx; vd_buffer buffers[8]; int count, calls; uint64_t bytes; } cache;

static bool cache_shrink(void *user, int device, uint64_t bytes) {
    cache *c = (cache *)user;
    vd_buffer_info info;
    assert_int_equal(device, 0);
    c->calls++;
    c->bytes = bytes;
    if (!c->count) return false;
    assert_int_equal(vd_buffer_query(c->ctx, c->buffers[0], &info), VD_OK); /* calls are allowed */
    vd_buffer_destroy(c->ctx, c->buffers[--c->count]);
    return true;
}

/* A device with 64 MiB, in which a cache holds 6 buffers of 8 MiB. */
TEST(a_callback_frees_memory) {
    if (f->backend != VD_BACKEND_DUMMY) skip_because("the memory of this device is not limited");
    enum { MIB = 1 << 20 };
    cache c;
    vd_device_info device;
    vd_context_desc desc = fixture_desc(f);
    memset(&c, 0, sizeof c);
    memset(&device, 0, sizeof device);
    device.device_memory = 64 * MIB;
    desc.dummy = &device;
    desc.memory_pressure = cache_shrink;
    desc.pressure_user = &c;
    OK(vd_context_create(&desc, &c.ctx));
    vd_memory_info info;
    OK(vd_memory_query(c.ctx, 0, &info));
    assert_int_equal(info.budget, 64 * MIB);
    for (int i = 0; i < 6; i++) c.buffers[c.count++] = buffer_named(c.ctx, "cached", VD_BYTES, 8 * MIB, NULL);
    OK(vd_memory_query(c.ctx, 0, &info));
    assert_int_equal(info.budget, 16 * MIB);
    vd_error_set(VD_ERROR_IO, "an earlier failure");
    const char *text = vd_error_text();
    vd_buffer large = buffer_named(c.ctx, "large", VD_BYTES, 32 * MIB, NULL);
    assert_string_equal(text, "an earlier failure"); /* attempts that failed are not seen */
    assert_string_equal(vd_error_text(), "an earlier failure");
    assert_int_equal(c.calls, 2);
    assert_int_equal(c.count, 4);
    assert_int_equal(c.bytes, 32 * MIB);
    vd_buffer_desc more;
    memset(&more, 0, sizeof more);
    more.name = "more";
    more.shape[0] = 40 * MIB;
    assert_true(vd_buffer_create(c.ctx, &more).id == 0); /* there is nothing left to free */
    assert_int_equal(vd_error_result(), VD_ERROR_OUT_OF_DEVICE_MEMORY);
    check_text("vd_buffer_create", "vd_buffer_create 'more'|out of device memory");
    assert_int_equal(c.count, 0);
    assert_int_equal(c.calls, 7);
    vd_buffer_destroy(c.ctx, large);
    OK(vd_wait_idle(c.ctx));
    vd_buffer b = vd_buffer_create(c.ctx, &more);
    assert_true(b.id != 0);
    vd_buffer rest = buffer_named(c.ctx, "rest", VD_BYTES, 20 * MIB, NULL);
    assert_true(rest.id != 0);
    vd_error_set(VD_ERROR_IO, "an earlier failure");
    text = vd_error_text();
    vd_buffer small = buffer_named(c.ctx, "small", VD_BYTES, MIB, NULL); /* there is no memory for a block of 8 MiB */
    assert_true(small.id != 0);
    assert_string_equal(text, "an earlier failure");
    assert_string_equal(vd_error_text(), "an earlier failure");
    vd_context_destroy(c.ctx);
}

static const struct CMUnitTest cases[] = {
    CASE(aliases_are_ordered), CASE(only_overlaps_conflict), CASE(kernels_use_placed_images),
    CASE(heaps_live_as_long_as_their_images), CASE(initial_contents), CASE(wrong_placements_are_refused),
    CASE(placed_images_in_slots), CASE(memory_is_described), CASE(a_callback_frees_memory),
};
MAIN("heaps", cases)
