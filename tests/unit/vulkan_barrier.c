/* Vulkan barriers: pipeline stages and access masks. Opens no driver: a spy replaces vkCmdPipelineBarrier. */
#include "tests/unit/unit.h"

static struct {
    VkPipelineStageFlags before, after;
    VkAccessFlags source, target;
    VkCommandBuffer buffer;
    uint32_t calls, image_count;
    VkImageMemoryBarrier images[16];
} barrier_seen; /* the last barrier; images: of the last call that had some */

static VKAPI_ATTR void VKAPI_CALL spy(VkCommandBuffer buffer, VkPipelineStageFlags before, VkPipelineStageFlags after,
                                      VkDependencyFlags flags, uint32_t count, const VkMemoryBarrier *barriers,
                                      uint32_t buffer_count, const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                                      const VkImageMemoryBarrier *images) {
    (void)buffers;
    assert_int_equal(flags, 0);
    assert_int_equal(buffer_count, 0);
    barrier_seen.before = before;
    barrier_seen.after = after;
    barrier_seen.calls++;
    for (uint32_t i = 0; i < image_count; i++) barrier_seen.images[i] = images[i];
    barrier_seen.image_count += image_count;
    if (image_count == 16) return; /* more barriers of images follow, then the global one */
    assert_int_equal(count, 1);    /* one global memory barrier */
    barrier_seen.source = barriers[0].srcAccessMask;
    barrier_seen.target = barriers[0].dstAccessMask;
    barrier_seen.buffer = buffer;
}

static void barrier_record_images(uint32_t from, uint32_t to, bool moves, const vd__transition *transitions,
                                  uint32_t count) {
    static vd__vk_device vk;
    static vd__vk_commands commands;
    vd__device dev;
    vd__commands c;
    memset(&dev, 0, sizeof dev);
    memset(&c, 0, sizeof c);
    memset(&barrier_seen, 0, sizeof barrier_seen);
    vk.vkCmdPipelineBarrier = spy;
    vk.copy_kernel_min_bytes = moves ? 0 : UINT64_MAX;
    dev.native = &vk;
    commands.buffer = (VkCommandBuffer)(uintptr_t)64;
    c.native = &commands;
    vd__vk_record_barrier(&dev, &c, from, to, transitions, count);
    assert_ptr_equal(barrier_seen.buffer, commands.buffer);
}

/* Records a barrier. `moves`: transfers may be kernels. */
static void barrier_record(uint32_t from, uint32_t to, bool moves) {
    barrier_record_images(from, to, moves, NULL, 0);
    assert_int_equal(barrier_seen.calls, 1);
    assert_int_equal(barrier_seen.image_count, 0);
}

#define COMPUTE_ACCESSES (VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_UNIFORM_READ_BIT)
#define TRANSFER_ACCESSES (VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT)

static void kernel_after_kernel(void **state) {
    (void)state;
    barrier_record(VD__STAGE_COMPUTE, VD__STAGE_COMPUTE, false);
    assert_int_equal(barrier_seen.before, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
    assert_int_equal(barrier_seen.after, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
    assert_int_equal(barrier_seen.source, VK_ACCESS_SHADER_WRITE_BIT);
    assert_int_equal(barrier_seen.target, COMPUTE_ACCESSES);
}

static void transfer_before_kernel(void **state) {
    (void)state;
    barrier_record(VD__STAGE_TRANSFER, VD__STAGE_COMPUTE | VD__STAGE_TRANSFER, false);
    assert_int_equal(barrier_seen.before, VK_PIPELINE_STAGE_TRANSFER_BIT);
    assert_int_equal(barrier_seen.after, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT);
    assert_int_equal(barrier_seen.source, VK_ACCESS_TRANSFER_WRITE_BIT);
    assert_int_equal(barrier_seen.target, COMPUTE_ACCESSES | TRANSFER_ACCESSES);
}

static void host_reads_results(void **state) {
    (void)state;
    barrier_record(VD__STAGE_COMPUTE, VD__STAGE_HOST, false);
    assert_int_equal(barrier_seen.after, VK_PIPELINE_STAGE_HOST_BIT);
    assert_int_equal(barrier_seen.target, VK_ACCESS_HOST_READ_BIT);
    barrier_record(VD__STAGE_HOST, VD__STAGE_COMPUTE, false);
    assert_int_equal(barrier_seen.before, VK_PIPELINE_STAGE_HOST_BIT);
    assert_int_equal(barrier_seen.source, VK_ACCESS_HOST_WRITE_BIT);
}

static void check_range(const VkImageSubresourceRange *r, uint32_t level, uint32_t levels, uint32_t layer,
                        uint32_t layers) {
    assert_int_equal(r->aspectMask, VK_IMAGE_ASPECT_COLOR_BIT);
    assert_int_equal(r->baseMipLevel, level);
    assert_int_equal(r->levelCount, levels);
    assert_int_equal(r->baseArrayLayer, layer);
    assert_int_equal(r->layerCount, layers);
}

/* A range of subresources becomes whole levels and parts of levels. */
static void image_layouts(void **state) {
    vd__image_shape shape;
    vd__memory memory;
    vd__transition t = { &memory, 0, 20, VD__LAYOUT_UNDEFINED, VD__LAYOUT_TARGET };
    (void)state;
    memset(&shape, 0, sizeof shape);
    shape.format = VD_FORMAT_RGBA8_UNORM;
    shape.dim = VD_DIM_2D_ARRAY;
    shape.extent[0] = shape.extent[1] = 64;
    shape.extent[2] = 1;
    shape.levels = 5;
    shape.layers = 4;
    shape.usage = VD_IMAGE_SAMPLED;
    memset(&memory, 0, sizeof memory);
    memory.native[0] = 99;
    memory.native[1] = (uintptr_t)&shape;
    barrier_record_images(VD__STAGE_TRANSFER, VD__STAGE_COMPUTE, false, &t, 1);
    assert_int_equal(barrier_seen.image_count, 1);
    assert_int_equal((uint64_t)barrier_seen.images[0].image, 99);
    assert_int_equal(barrier_seen.images[0].oldLayout, VK_IMAGE_LAYOUT_UNDEFINED);
    assert_int_equal(barrier_seen.images[0].newLayout, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    assert_int_equal(barrier_seen.images[0].srcAccessMask, VK_ACCESS_TRANSFER_WRITE_BIT);
    assert_int_equal(barrier_seen.images[0].dstAccessMask, COMPUTE_ACCESSES);
    check_range(&barrier_seen.images[0].subresourceRange, 0, 5, 0, 4);
    t.begin = 2;
    t.end = 15;
    barrier_record_images(VD__STAGE_TRANSFER, VD__STAGE_COMPUTE, false, &t, 1);
    assert_int_equal(barrier_seen.image_count, 3);
    check_range(&barrier_seen.images[0].subresourceRange, 0, 1, 2, 2);
    check_range(&barrier_seen.images[1].subresourceRange, 1, 2, 0, 4);
    check_range(&barrier_seen.images[2].subresourceRange, 3, 1, 0, 3);
    vd__transition many[40];
    for (uint32_t i = 0; i < 40; i++) {
        many[i] = t;
        many[i].begin = i % 20;
        many[i].end = many[i].begin + 1;
    }
    barrier_record_images(VD__STAGE_TRANSFER, VD__STAGE_COMPUTE, false, many, 40);
    assert_int_equal(barrier_seen.image_count, 40);
    assert_int_equal(barrier_seen.calls, 3);
}

/* A copy may be a kernel on such devices, so its barriers cover both stages. */
static void transfers_by_kernel(void **state) {
    (void)state;
    barrier_record(VD__STAGE_TRANSFER, VD__STAGE_TRANSFER, true);
    assert_int_equal(barrier_seen.before, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT);
    assert_int_equal(barrier_seen.after, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT);
    assert_int_equal(barrier_seen.source, VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
    assert_int_equal(barrier_seen.target, COMPUTE_ACCESSES | TRANSFER_ACCESSES);
}

static const struct CMUnitTest vulkan_barrier_tests[] = {
    cmocka_unit_test(kernel_after_kernel), cmocka_unit_test(transfer_before_kernel),
    cmocka_unit_test(host_reads_results), cmocka_unit_test(transfers_by_kernel),
    cmocka_unit_test(image_layouts),
};
