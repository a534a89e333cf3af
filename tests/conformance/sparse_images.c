/* Sparse images: tiles that are bound to ranges of a heap and unbound, compared with a model on the host; transfers and
   kernels that use bound tiles; messages. Drivers for processors have no sparse images: on Vulkan, a loader emulates
   them and checks the bindings of tiles, mip tails and metadata. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/sparse_driver.h"

enum { X = 300, Y = 270, Z = 40, LAYERS = 3, HEAP_TILES = 200, MAX_TILES = 512 };

/* ---- a Vulkan driver that emulates sparse images ----
   Each image is bound to ordinary memory for all its texels. Calls of vkQueueBindSparse are checked and recorded. */

typedef struct binding {
    uint32_t level, layer, at[3]; /* a tile; or level UINT32_MAX: at[0] 0: mip tail, 1: metadata */
    uint64_t offset;              /* in the heap, bytes */
} binding;

enum { TILE_BYTES = 65536, SPARSE_IMAGES = 4 };

static struct {
    PFN_vkCreateImage create_image;
    PFN_vkDestroyImage destroy_image;
    PFN_vkGetImageMemoryRequirements requirements;
    PFN_vkBindImageMemory bind;
    bool metadata, one_tail, other_tail; /* what the emulated images have; other_tail: only the metadata is one tail */
    struct { VkImage image; VkDeviceMemory memory; VkImageCreateInfo info; } images[SPARSE_IMAGES];
    VkDeviceMemory heap;               /* of all bindings; VK_NULL_HANDLE: none yet */
    binding bindings[MAX_TILES];       /* of one image at a time */
    int count, submissions;
} emulated;

static int emulated_find(VkImage image) {
    int i = 0;
    while (i < SPARSE_IMAGES && emulated.images[i].image != image) i++;
    return i;
}

static VKAPI_ATTR VkResult VKAPI_CALL emulated_create_image(VkDevice device, const VkImageCreateInfo *info,
                                                            const VkAllocationCallbacks *a, VkImage *out) {
    VkImageCreateInfo plain = *info;
    VkMemoryRequirements need;
    plain.flags &= ~(VkImageCreateFlags)SPARSE_FLAGS;
    VkResult result = emulated.create_image(device, &plain, a, out);
    if (result || plain.flags == info->flags) return result;
    driver.wrong += (info->flags & SPARSE_FLAGS) != SPARSE_FLAGS;
    int i = emulated_find(VK_NULL_HANDLE);
    emulated.requirements(device, *out, &need);
    VkMemoryAllocateInfo allocate = { VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, NULL, need.size, 0 };
    emulated.images[i].image = *out;
    emulated.images[i].info = *info;
    result = driver.allocate(device, &allocate, NULL, &emulated.images[i].memory);
    return result ? result : emulated.bind(device, *out, emulated.images[i].memory, 0);
}

static VKAPI_ATTR void VKAPI_CALL emulated_destroy_image(VkDevice device, VkImage image,
                                                         const VkAllocationCallbacks *a) {
    int i = image ? emulated_find(image) : SPARSE_IMAGES;
    emulated.destroy_image(device, image, a);
    if (i == SPARSE_IMAGES) return;
    driver.release(device, emulated.images[i].memory, NULL);
    memset(&emulated.images[i], 0, sizeof emulated.images[i]);
    emulated.heap = VK_NULL_HANDLE;
    emulated.count = 0;
}

static VKAPI_ATTR void VKAPI_CALL emulated_requirements(VkDevice device, VkImage image, VkMemoryRequirements *out) {
    emulated.requirements(device, image, out);
    if (emulated_find(image) < SPARSE_IMAGES) out->alignment = TILE_BYTES;
}

static VkExtent3D emulated_tile(const VkImageCreateInfo *info) {
    VkExtent3D plane = { 128, 128, 1 }, block = { 32, 32, 16 };
    return info->imageType == VK_IMAGE_TYPE_3D ? block : plane;
}

/* The metadata, if any, is listed first. */
static VKAPI_ATTR void VKAPI_CALL emulated_tiles(VkDevice device, VkImage image, uint32_t *count,
                                                 VkSparseImageMemoryRequirements *out) {
    const VkImageCreateInfo *info = &emulated.images[emulated_find(image)].info;
    VkSparseImageMemoryRequirements *colour = &out[emulated.metadata];
    VkExtent3D tile = emulated_tile(info);
    VkSparseImageFormatFlags single = emulated.one_tail ? VK_SPARSE_IMAGE_FORMAT_SINGLE_MIPTAIL_BIT : 0;
    (void)device;
    driver.wrong += *count < 2;
    *count = 1 + (uint32_t)emulated.metadata;
    memset(out, 0, *count * sizeof *out);
    out->formatProperties.aspectMask = VK_IMAGE_ASPECT_METADATA_BIT;
    out->formatProperties.flags = emulated.other_tail ? VK_SPARSE_IMAGE_FORMAT_SINGLE_MIPTAIL_BIT : single;
    out->imageMipTailOffset = (VkDeviceSize)1 << 34;
    out->imageMipTailStride = 3 << 20;
    out->imageMipTailSize = 2 * TILE_BYTES;
    colour->formatProperties.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT;
    colour->formatProperties.imageGranularity = tile;
    colour->formatProperties.flags = single;
    while (info->extent.width >> colour->imageMipTailFirstLod >= tile.width
           && info->extent.height >> colour->imageMipTailFirstLod >= tile.height) colour->imageMipTailFirstLod++;
    colour->imageMipTailSize = colour->imageMipTailFirstLod < info->mipLevels ? 3 * TILE_BYTES : 0;
    colour->imageMipTailOffset = (VkDeviceSize)1 << 32;
    colour->imageMipTailStride = 5 << 20;
}

/* Remembers a binding, or forgets it without memory. */
static void emulated_change(const binding *b, VkDeviceMemory memory) {
    int i = 0;
    while (i < emulated.count && memcmp(&emulated.bindings[i], b, offsetof(binding, offset))) i++;
    if (memory && !emulated.heap) emulated.heap = memory;
    driver.wrong += memory ? memory != emulated.heap || b->offset % TILE_BYTES : b->offset != 0;
    if (memory && i < MAX_TILES) emulated.bindings[i] = *b;
    if (memory && i == emulated.count) emulated.count++;
    if (!memory && i < emulated.count) emulated.bindings[i] = emulated.bindings[--emulated.count];
}

static void emulated_change_tile(const VkImageCreateInfo *info, const VkSparseImageMemoryBind *t) {
    VkExtent3D tile = emulated_tile(info);
    const uint32_t side[] = { tile.width, tile.height, tile.depth },
                   size[] = { info->extent.width, info->extent.height, info->extent.depth },
                   extent[] = { t->extent.width, t->extent.height, t->extent.depth },
                   offset[] = { (uint32_t)t->offset.x, (uint32_t)t->offset.y, (uint32_t)t->offset.z };
    binding b;
    memset(&b, 0, sizeof b);
    b.level = t->subresource.mipLevel;
    b.layer = t->subresource.arrayLayer;
    b.offset = t->memoryOffset;
    for (int i = 0; i < 3; i++) {
        uint32_t all = size[i] >> b.level ? size[i] >> b.level : 1;
        b.at[i] = offset[i] / side[i];
        driver.wrong += offset[i] % side[i] || extent[i] > side[i] || offset[i] + extent[i] > all
                          || (extent[i] < side[i] && offset[i] + extent[i] < all);
    }
    driver.wrong += t->flags || t->subresource.aspectMask != VK_IMAGE_ASPECT_COLOR_BIT
                      || b.level >= info->mipLevels || b.layer >= info->arrayLayers;
    emulated_change(&b, t->memory);
}

static void emulated_change_tail(const VkSparseMemoryBind *t) {
    bool metadata = t->flags == VK_SPARSE_MEMORY_BIND_METADATA_BIT;
    uint64_t base = (uint64_t)1 << (metadata ? 34 : 32), stride = metadata ? 3 << 20 : 5 << 20;
    binding b;
    memset(&b, 0, sizeof b);
    b.level = UINT32_MAX;
    b.layer = (uint32_t)((t->resourceOffset - base) / stride);
    b.at[0] = metadata;
    b.offset = t->memoryOffset;
    driver.wrong += (t->flags && !metadata) || (t->resourceOffset - base) % stride || b.layer >= 6
                      || t->size != (metadata ? 2 * TILE_BYTES : 3 * TILE_BYTES) || (b.layer && emulated.one_tail);
    emulated_change(&b, t->memory);
}

/* Executes the changes, then signals as a submission does. */
static VKAPI_ATTR VkResult VKAPI_CALL emulated_bind_sparse(VkQueue queue, uint32_t count, const VkBindSparseInfo *info,
                                                           VkFence fence) {
    driver.wrong += count != 1 || info->bufferBindCount || info->imageBindCount + info->imageOpaqueBindCount != 1
                      || info->waitSemaphoreCount != 1 || info->signalSemaphoreCount != 1;
    driver.idle(queue);
    emulated.submissions++;
    for (uint32_t i = 0; info->imageBindCount && i < info->pImageBinds->bindCount; i++)
        emulated_change_tile(&emulated.images[emulated_find(info->pImageBinds->image)].info,
                             &info->pImageBinds->pBinds[i]);
    for (uint32_t i = 0; info->imageOpaqueBindCount && i < info->pImageOpaqueBinds->bindCount; i++)
        emulated_change_tail(&info->pImageOpaqueBinds->pBinds[i]);
    return driver_signal(queue, info, fence);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL emulated_device_proc(VkDevice device, const char *name) {
    REPLACE(emulated.create_image, vkCreateImage, emulated_create_image)
    REPLACE(emulated.destroy_image, vkDestroyImage, emulated_destroy_image)
    REPLACE(emulated.requirements, vkGetImageMemoryRequirements, emulated_requirements)
    if (!strcmp(name, "vkGetImageSparseMemoryRequirements")) return (PFN_vkVoidFunction)emulated_tiles;
    if (strcmp(name, "vkQueueBindSparse")) return driver.device_proc(device, name);
    FIND(emulated.bind, vkBindImageMemory);
    driver_find(device);
    return (PFN_vkVoidFunction)emulated_bind_sparse;
}

/* ---- helpers ---- */

static vd_image_desc sparse_desc(vd_dim dim, vd_buffer heap) {
    vd_image_desc d;
    memset(&d, 0, sizeof d);
    d.name = "tiled";
    d.format = VD_FORMAT_RGBA8_UNORM;
    d.dim = dim;
    d.extent[0] = X;
    d.extent[1] = dim == VD_DIM_CUBE ? X : Y;
    d.extent[2] = dim == VD_DIM_3D ? Z : 1;
    d.levels = VD_ALL_LEVELS;
    d.layers = dim == VD_DIM_2D_ARRAY ? LAYERS : 0;
    d.heap = heap;
    d.sparse = true;
    return d;
}

/* A context whose first device has sparse images: emulated on Vulkan if the driver has none. Skips the test if there is
   none, after checking that creating one fails. */
static vd_context *needs_sparse(fixture *f) {
    vd_context_desc desc = fixture_desc(f);
    vd_format_info format;
    OK(vd_format_query(f->ctx, 0, VD_FORMAT_RGBA8_UNORM, &format));
    if (!format.usage) skip_because("the backend has no images");
    vd_buffer_desc plain;
    memset(&plain, 0, sizeof plain);
    plain.shape[0] = 1 << 20;
    plain.heap = true;
    vd_buffer heap = vd_buffer_create(f->ctx, &plain);
    if (!heap.id) skip_because("the backend has no heaps");
    vd_image_desc d = sparse_desc(VD_DIM_2D, heap);
    vd_image image = vd_image_create(f->ctx, &d);
    vd_result r = image.id ? VD_OK : vd_error_result();
    if (r) check_failure("vd_image_create", r, VD_ERROR_UNSUPPORTED,
                         "vd_image_create 'tiled': device '|does not support a sparse 2-D image of format rgba8unorm");
    vd_image_destroy(f->ctx, image);
    vd_buffer_destroy(f->ctx, heap);
    if (!r) return f->ctx;
    if (!driver_open(f, &desc)) skip_because("the device has no sparse images");
    return context_with(f, &desc);
}

static vd_image image_new(vd_context *ctx, const vd_image_desc *d, vd_image_info *info) {
    vd_image image = vd_image_create(ctx, d);
    if (!image.id) fail_msg("vd_image_create: %s", vd_error_text());
    OK(vd_image_query(ctx, image, info));
    return image;
}

static uint32_t level_extent(const vd_image_info *info, uint32_t level, int axis) {
    return info->extent[axis] >> level ? info->extent[axis] >> level : 1;
}

static uint32_t random_below(uint64_t *state, uint32_t n) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % n;
}

/* ---- tests ---- */

/* A model of the bindings of tiles. */
typedef struct model { binding tiles[MAX_TILES]; int count; } model;

static void model_change(model *m, const binding *b, bool bind) {
    int i = 0;
    while (i < m->count && memcmp(&m->tiles[i], b, offsetof(binding, offset))) i++;
    if (bind) {
        assert_true(i < MAX_TILES);
        m->tiles[i] = *b;
        m->count += i == m->count;
    } else if (i < m->count) m->tiles[i] = m->tiles[--m->count];
}

/* The bindings that the driver has got are those of the model. */
static void check_bindings(const model *m) {
    if (!emulated.submissions) return;
    assert_int_equal(driver.wrong, 0);
    assert_int_equal(emulated.count, m->count);
    for (int i = 0; i < m->count; i++) {
        int k = 0;
        while (k < emulated.count && memcmp(&emulated.bindings[k], &m->tiles[i], offsetof(binding, offset))) k++;
        if (k == emulated.count || emulated.bindings[k].offset != m->tiles[i].offset)
            fail_msg("tile %u %u %u of level %u, layer %u", m->tiles[i].at[0], m->tiles[i].at[1], m->tiles[i].at[2],
                     m->tiles[i].level, m->tiles[i].layer);
    }
}

/* Adds the tiles of a box to the model: n[] along each axis, from first[] on. */
static void model_box(const vd_image_info *info, const vd_image_box *box, const uint32_t first[3], const uint32_t n[3],
                      uint64_t offset, bool bind, model *m) {
    uint32_t tiles = 0;
    for (uint32_t l = 0; l < box->layers; l++)
        for (uint32_t i = 0; i < n[0] * n[1] * n[2]; i++, tiles++) {
            binding b;
            memset(&b, 0, sizeof b);
            b.level = box->level;
            b.layer = box->layer + l;
            b.at[0] = first[0] + i % n[0];
            b.at[1] = first[1] + i / n[0] % n[1];
            b.at[2] = first[2] + i / n[0] / n[1];
            b.offset = offset + tiles * info->tile_bytes;
            model_change(m, &b, bind);
        }
}

/* Chooses a box of tiles of a random level, and adds it to the model. */
static void random_box(const vd_image_info *info, uint64_t *seed, vd_image_box *box, uint64_t offset, bool bind,
                       model *m) {
    uint32_t first[3], n[3];
    box->level = random_below(seed, info->tail_level);
    box->layer = random_below(seed, info->layers);
    box->layers = 1 + random_below(seed, info->layers - box->layer);
    for (int i = 0; i < 3; i++) {
        uint32_t size = level_extent(info, box->level, i), all = (size + info->tile[i] - 1) / info->tile[i];
        first[i] = random_below(seed, all);
        n[i] = 1 + random_below(seed, all - first[i]);
        box->offset[i] = first[i] * info->tile[i];
        uint32_t end = (first[i] + n[i]) * info->tile[i];
        box->extent[i] = end < size ? end - box->offset[i] : random_below(seed, 2) ? size - box->offset[i] : 0;
    }
    model_box(info, box, first, n, offset, bind, m);
}

/* Binds the mip tails of all layers to consecutive ranges, and adds them to the model. */
static uint64_t bind_tails(vd_context *ctx, vd_image image, const vd_image_info *info, uint64_t offset, model *m) {
    vd_image_box box;
    memset(&box, 0, sizeof box);
    box.image = image;
    box.level = info->tail_level;
    if (!info->tail_bytes) return offset;
    OK(vd_image_bind(ctx, &box, offset));
    for (uint32_t l = 0; l < (info->one_tail ? 1 : info->layers); l++)
        for (uint32_t k = 0; k < 2; k++) {
            binding b;
            memset(&b, 0, sizeof b);
            b.level = UINT32_MAX;
            b.layer = l;
            b.at[0] = k;
            b.offset = offset;
            if (k ? !emulated.metadata : info->tail_level == info->levels) continue;
            if (emulated.submissions) offset += k ? 2 * TILE_BYTES : 3 * TILE_BYTES;
            else if (!k) offset += info->tail_bytes;
            model_change(m, &b, true);
        }
    return offset;
}

/* Binds the first slices of tiles of a 3-D image, more than the library passes to the driver at once. */
static void bind_many(vd_context *ctx, vd_image image, const vd_image_info *info, uint64_t offset, model *m) {
    const uint32_t first[3] = { 0, 0, 0 };
    uint32_t n[3];
    vd_image_box box;
    memset(&box, 0, sizeof box);
    box.image = image;
    box.layers = 1;
    for (int i = 0; i < 3; i++) n[i] = (info->extent[i] + info->tile[i] - 1) / info->tile[i];
    if (n[2] > 2) n[2] = 2;
    if (n[0] * n[1] * n[2] < 65 || offset / info->tile_bytes + n[0] * n[1] * n[2] > HEAP_TILES) return;
    box.extent[2] = n[2] * info->tile[2];
    OK(vd_image_bind(ctx, &box, offset));
    model_box(info, &box, first, n, offset, true, m);
    check_bindings(m);
}

/* Random boxes of an image are bound and unbound. */
static void check_kind(vd_context *ctx, vd_dim dim, uint32_t levels) {
    vd_buffer heap = heap_of(ctx, (uint64_t)HEAP_TILES * TILE_BYTES);
    vd_image_desc desc = sparse_desc(dim, heap);
    vd_image_info info;
    vd_placement all;
    uint64_t seed = dim;
    model m = { .count = 0 };
    desc.levels = levels;
    emulated.submissions = driver.wrong = 0;
    vd_image image = image_new(ctx, &desc, &info);
    assert_true(info.tile[0] && info.tile[1] && info.tile[2] && info.tile_bytes && info.tail_level <= info.levels);
    assert_true(info.tail_level == info.levels || info.tail_bytes);
    OK(vd_image_placement(ctx, &desc, &all));
    assert_true(all.size > 0);
    uint64_t tails = bind_tails(ctx, image, &info, info.tile_bytes, &m);
    for (int step = 0; step < 40; step++) {
        vd_image_box box;
        memset(&box, 0, sizeof box);
        box.image = image;
        bool bind = random_below(&seed, 3) != 0;
        uint64_t offset = tails + random_below(&seed, 4) * info.tile_bytes;
        if (!info.tail_level) break;
        random_box(&info, &seed, &box, offset, bind, &m);
        if (bind) OK(vd_image_bind(ctx, &box, offset));
        else OK(vd_image_unbind(ctx, &box));
        check_bindings(&m);
    }
    if (dim == VD_DIM_3D && info.tail_level) bind_many(ctx, image, &info, tails, &m);
    vd_image_box box;
    memset(&box, 0, sizeof box);
    box.image = image;
    for (box.level = 0; box.level < info.tail_level; box.level++) OK(vd_image_unbind(ctx, &box));
    if (info.tail_bytes) OK(vd_image_unbind(ctx, &box));
    m.count = 0;
    check_bindings(&m);
    vd_buffer_destroy(ctx, heap); /* in any order */
    vd_image_destroy(ctx, image);
    OK(vd_wait_idle(ctx));
}

TEST(tiles_come_and_go) {
    static const vd_dim dims[] = { VD_DIM_2D, VD_DIM_2D_ARRAY, VD_DIM_CUBE, VD_DIM_3D };
    vd_context *ctx = needs_sparse(f);
    for (size_t i = 0; i < COUNT(dims); i++)
        for (uint32_t levels = 1; levels <= 2; levels++)
            check_kind(ctx, dims[i], levels == 2 ? VD_ALL_LEVELS : 1);
}

/* Metadata and tails that layers share, which only the emulated driver has. */
TEST(tails_and_metadata) {
    vd_context *ctx = needs_sparse(f);
    if (ctx == f->ctx) skip_because("only the emulated driver has metadata");
    for (int i = 1; i < 4; i++) {
        emulated.metadata = i & 1;
        emulated.one_tail = i >> 1;
        check_kind(ctx, VD_DIM_2D_ARRAY, VD_ALL_LEVELS);
        check_kind(ctx, VD_DIM_2D_ARRAY, 1);
    }
    emulated.one_tail = false;
    emulated.metadata = emulated.other_tail = true;
    vd_buffer heap = heap_of(ctx, 1 << 20);
    vd_image_desc d = sparse_desc(VD_DIM_2D_ARRAY, heap);
    assert_int_equal(vd_image_create(ctx, &d).id, 0);
    check_failure("vd_image_create", vd_error_result(), VD_ERROR_UNSUPPORTED,
                  "vd_image_create 'tiled'|has no tiles for format rgba8unorm that vd_image_bind supports");
    emulated.metadata = emulated.other_tail = false;
    vd_buffer_destroy(ctx, heap);
}

/* Texels of bound tiles are written and read by transfers, and sampled by a kernel. */
static void check_texels(fixture *f, vd_context *ctx, vd_image image, const vd_image_info *info) {
    static uint8_t texels[128 * 128][4], got[128 * 128][4];
    vd_image_transfer t;
    memset(&t, 0, sizeof t);
    t.box.image = image;
    t.box.layer = t.box.layers = 1;
    for (int i = 0; i < 3; i++) {
        t.box.offset[i] = i < 2 ? info->tile[i] : 0;
        t.box.extent[i] = info->tile[i] < 128 ? info->tile[i] : i < 2 ? 128 : 1;
    }
    for (uint32_t i = 0; i < COUNT(texels); i++)
        for (uint32_t k = 0; k < 4; k++) texels[i][k] = (uint8_t)(i * 7 + i / 128 * 3 + k * 50);
    OK(vd_image_upload(ctx, &t, texels));
    memset(got, 0, sizeof got);
    OK(vd_image_download(ctx, &t, got));
    assert_memory_equal(got, texels, (size_t)t.box.extent[0] * t.box.extent[1] * 4);
    if (!f->executes) return;
    vc_kernel *k = kernel_begin(ctx, "read", 8, 8, 1);
    vc_image_desc array;
    memset(&array, 0, sizeof array);
    array.dim = VC_DIM_2D_ARRAY;
    vc_image_ref from = vc_image(k, "from", &array);
    vc_ref out = vc_buffer(k, "out", VC_F32X4, VC_WRITE);
    vc_val x0 = vc_param(k, "x0", VC_U32), y0 = vc_param(k, "y0", VC_U32);
    VC_EACH2(k, x, y) {
        vc_val at = vc_vec3(vc_add(x, x0), vc_add(y, y0), vc_u32(1));
        vc_store(out, vc_add(vc_mul(y, vc_threads(k, 0)), x), vc_fetch(from, at, vc_u32(0)));
    }
    vd_kernel kernel = kernel_end(ctx, k);
    static float sampled[128 * 128][4];
    uint32_t w = t.box.extent[0], h = t.box.extent[1];
    vd_buffer buffer = buffer_named(ctx, "out", VD_F32X4, (uint64_t)w * h, NULL);
    OK(vd_run2(ctx, kernel, w, h, vd_i(image), vd_b(buffer), vd_u32(t.box.offset[0]), vd_u32(t.box.offset[1])));
    OK(vd_buffer_read(ctx, buffer, 0, sampled, (uint64_t)w * h * 16));
    for (uint32_t i = 0; i < w * h * 4; i++) {
        float error = sampled[i / 4][i % 4] * 255 - texels[i / 4][i % 4];
        if (error > 0.01f || error < -0.01f) fail_msg("texel %u is %g", i / 4, (double)sampled[i / 4][i % 4]);
    }
    vd_buffer_destroy(ctx, buffer);
    vd_kernel_destroy(ctx, kernel);
}

TEST(bound_tiles_are_used) {
    vd_context *ctx = needs_sparse(f);
    vd_buffer heap = heap_of(ctx, 64 * TILE_BYTES);
    vd_image_desc d = sparse_desc(VD_DIM_2D_ARRAY, heap);
    vd_image_info info;
    vd_image image = image_new(ctx, &d, &info);
    vd_image_box box;
    model m = { .count = 0 };
    uint64_t tails = bind_tails(ctx, image, &info, 0, &m);
    memset(&box, 0, sizeof box);
    box.image = image;
    box.layer = box.layers = 1;
    OK(vd_image_bind(ctx, &box, tails));
    check_texels(f, ctx, image, &info);
    OK(vd_image_unbind(ctx, &box)); /* waits for the kernel */
    OK(vd_image_bind(ctx, &box, tails + info.tile_bytes)); /* other memory */
    check_texels(f, ctx, image, &info);
    vd_image_destroy(ctx, image);
    vd_buffer_destroy(ctx, heap);
    OK(vd_wait_idle(ctx));
}

TEST(wrong_arguments) {
    vd_context *ctx = needs_sparse(f);
    vd_buffer heap = heap_of(ctx, 64 * TILE_BYTES), none = { 0 };
    vd_image_desc good = sparse_desc(VD_DIM_2D_ARRAY, heap), d;
    vd_image_info info;
#define REFUSED(field, value, result, words) \
    d = good; \
    d.field = value; \
    assert_int_equal(vd_image_create(ctx, &d).id, 0); \
    check_failure("vd_image_create", vd_error_result(), result, words)
    REFUSED(heap, none, VD_ERROR_INVALID, "vd_image_create 'tiled': desc.sparse is set, but desc.heap,");
    REFUSED(heap_offset, TILE_BYTES, VD_ERROR_INVALID, "desc.sparse and desc.heap_offset are set");
    REFUSED(data, &info, VD_ERROR_INVALID, "desc.sparse and desc.data are set");
    REFUSED(dim, VD_DIM_1D, VD_ERROR_UNSUPPORTED, "1-D image, which has no tiles on any device; use a 2-D image");
    REFUSED(dim, VD_DIM_1D_ARRAY, VD_ERROR_UNSUPPORTED, "1-D image, which has no tiles on any device");
    vd_image image = image_new(ctx, &good, &info), stale = image;
    vd_image_desc plain = good;
    plain.sparse = false;
    plain.heap = none;
    vd_image other = vd_image_create(ctx, &plain);
    vd_image_view_desc view;
    memset(&view, 0, sizeof view);
    view.image = image;
    vd_image_box box = { image, 0, 0, 0, { 0, 0, 0 }, { 0, 0, 0 } }, b;
#define WRONG(field, value, words) \
    b = box; \
    b.field = value; \
    FAILS(vd_image_bind(ctx, &b, 0), VD_ERROR_INVALID, "vd_image_bind|" words); \
    FAILS(vd_image_unbind(ctx, &b), VD_ERROR_INVALID, "vd_image_unbind|" words)
    WRONG(image, other, "'tiled': the image was created without vd_image_desc.sparse");
    WRONG(image, vd_image_view(ctx, &view), "the image is a view; pass the image that it is a view of");
    WRONG(image.id, 0, "the image handle is 0");
    WRONG(level, 77, "box.level is 77");
    WRONG(layer, LAYERS, "box.layer 3");
    WRONG(offset[0], 1, "begins or ends inside of a tile (vd_image_info.tile[0] is");
    WRONG(extent[1], info.tile[1] + 1, "begins or ends inside of a tile (vd_image_info.tile[1] is");
    WRONG(offset[0], 2 * X, "box.offset[0] 600");
    FAILS(vd_image_bind(ctx, &box, 1), VD_ERROR_INVALID, "vd_image_bind 'tiled': offset is 1, but must be a multiple");
    FAILS(vd_image_bind(ctx, &box, 60 * info.tile_bytes), VD_ERROR_INVALID, "bytes of heap 'heap'");
    FAILS(vd_image_bind(ctx, &box, UINT64_MAX / info.tile_bytes * info.tile_bytes), VD_ERROR_INVALID, "of heap 'heap'");
    FAILS(vd_image_bind(ctx, NULL, 0), VD_ERROR_INVALID, "vd_image_bind: box is NULL");
    FAILS(vd_image_bind(NULL, &box, 0), VD_ERROR_INVALID, "vd_image_bind: the context is NULL");
    vd_image_destroy(ctx, other);
    vd_image_destroy(ctx, image);
    b = box;
    b.image = stale;
    FAILS(vd_image_bind(ctx, &b, 0), VD_ERROR_INVALID, "the image was destroyed");
    vd_buffer_destroy(ctx, heap);
    OK(vd_wait_idle(ctx));
}

static const struct CMUnitTest cases[] = {
    CASE(tiles_come_and_go), CASE(tails_and_metadata), CASE(bound_tiles_are_used), CASE(wrong_arguments),
};
MAIN("sparse_images", cases)
