/* Vulkan barriers: pipeline stages and access masks. Opens no driver: a spy replaces vkCmdPipelineBarrier. */
#include "tests/unit/unit.h"

static struct {
    VkPipelineStageFlags before, after;
    VkAccessFlags source, target;
    VkCommandBuffer buffer;
    uint32_t calls;
} barrier_seen; /* the last barrier */

static VKAPI_ATTR void VKAPI_CALL spy(VkCommandBuffer buffer, VkPipelineStageFlags before, VkPipelineStageFlags after,
                                      VkDependencyFlags flags, uint32_t count, const VkMemoryBarrier *barriers,
                                      uint32_t buffer_count, const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                                      const VkImageMemoryBarrier *images) {
    (void)buffers, (void)images;
    assert_int_equal(flags, 0);
    assert_int_equal(count, 1); /* one global memory barrier */
    assert_int_equal(buffer_count + image_count, 0);
    barrier_seen.before = before;
    barrier_seen.after = after;
    barrier_seen.source = barriers[0].srcAccessMask;
    barrier_seen.target = barriers[0].dstAccessMask;
    barrier_seen.buffer = buffer;
    barrier_seen.calls++;
}

/* Records a barrier. `moves`: transfers may be kernels. */
static void barrier_record(uint32_t from, uint32_t to, bool moves) {
    static vd__vk_device vk;
    static vd__vk_commands commands;
    vd__device dev;
    vd__commands c;
    memset(&dev, 0, sizeof dev);
    memset(&c, 0, sizeof c);
    memset(&barrier_seen, 0, sizeof barrier_seen);
    vk.vkCmdPipelineBarrier = spy;
    vk.move_min_bytes = moves ? 0 : UINT64_MAX;
    dev.native = &vk;
    commands.buffer = (VkCommandBuffer)(uintptr_t)64;
    c.native = &commands;
    vd__vk_record_barrier(&dev, &c, from, to);
    assert_int_equal(barrier_seen.calls, 1);
    assert_ptr_equal(barrier_seen.buffer, commands.buffer);
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
};
