/* Sparse buffers: pages that get memory and lose it, compared with a model on the host; kernels, views and graphs that
   use them; memory that is allocated and freed; messages. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/sparse_driver.h"

enum { PAGES = 9 };

static uint64_t page_of(vd_context *ctx) { return vd_device(ctx, 0)->limits.sparse_page_bytes; }

static vd_buffer_desc sparse_desc(uint64_t bytes) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "sparse";
    desc.type = VD_U32;
    desc.shape[0] = bytes / 4;
    desc.devices = 1;
    desc.sparse = true;
    return desc;
}

/* The buffer has `pages` pages, the last of which is only used in part. Skips the test if there are no sparse
   buffers. */
static vd_buffer sparse_buffer(vd_context *ctx, uint64_t pages) {
    vd_buffer_desc desc = sparse_desc(1024);
    if (!page_of(ctx)) {
        assert_int_equal(vd_buffer_create(ctx, &desc).id, 0);
        check_failure("vd_buffer_create", vd_error_result(), VD_ERROR_UNSUPPORTED,
                      "'sparse': desc.sparse is set, but|has no sparse buffers (limits.sparse_page_bytes is 0)");
        skip_because("the device has no sparse buffers");
    }
    desc = sparse_desc(pages * page_of(ctx) - 1024);
    vd_buffer b = vd_buffer_create(ctx, &desc);
    if (!b.id) fail_msg("vd_buffer_create: %s", vd_error_text());
    return b;
}

static uint64_t bytes_of(vd_context *ctx) {
    vd_memory_info info;
    OK(vd_wait_idle(ctx));
    OK(vd_memory_query(ctx, 0, &info));
    return info.bytes;
}

/* The first and the last word of each page, in a model of the buffer. */
typedef struct model { bool bound[PAGES]; uint32_t words[PAGES][2]; } model;

static uint64_t word_at(vd_context *ctx, uint64_t page, int last) {
    uint64_t end = page + 1 < PAGES ? page_of(ctx) : page_of(ctx) - 1024;
    return page * page_of(ctx) / 4 + (last ? end / 4 - 1 : 0);
}

static void check_model(vd_context *ctx, vd_buffer b, const model *m) {
    for (uint64_t i = 0; i < PAGES; i++)
        for (int last = 0; last < 2 && m->bound[i]; last++) {
            uint32_t got = read_u32(ctx, b, word_at(ctx, i, last));
            if (got != m->words[i][last])
                fail_msg("word %d of page %d is %u, not %u", last, (int)i, got, m->words[i][last]);
        }
}

/* Random ranges are bound and unbound; new pages are 0, the others keep their data. */
TEST(pages_come_and_go) {
    vd_context *ctx = f->ctx;
    vd_buffer b = sparse_buffer(ctx, PAGES);
    uint64_t page = page_of(ctx), random = 7;
    model m;
    memset(&m, 0, sizeof m);
    for (int step = 0; step < 60; step++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t first = (random >> 33) % PAGES, end = first + 1 + (random >> 43) % (PAGES - first);
        bool bind = (random >> 53) % 3 != 0;
        uint64_t size = end == PAGES && (random >> 55) % 2 ? VD_WHOLE : (end - first) * page;
        if (end == PAGES && size != VD_WHOLE) size -= 1024;
        if (bind) OK(vd_buffer_bind(ctx, b, first * page, size));
        else OK(vd_buffer_unbind(ctx, b, first * page, size));
        for (uint64_t i = first; i < end; i++) {
            if (m.bound[i] != bind) m.words[i][0] = m.words[i][1] = 0;
            m.bound[i] = bind;
        }
        check_model(ctx, b, &m);
        for (uint64_t i = 0; i < PAGES; i++)
            for (int last = 0; last < 2 && m.bound[i]; last++) {
                m.words[i][last] = (uint32_t)(random >> 20) + (uint32_t)(2 * i) + (uint32_t)last;
                OK(vd_buffer_write(ctx, b, 4 * word_at(ctx, i, last), &m.words[i][last], 4));
            }
        check_model(ctx, b, &m);
    }
    vd_buffer_destroy(ctx, b);
    still_works(f);
}

/* Copies and fills across pages, and in a graph that is replayed. */
TEST(transfers_cross_pages) {
    vd_context *ctx = f->ctx;
    vd_buffer b = sparse_buffer(ctx, PAGES), other = buffer_u32(ctx, "other", 64, NULL);
    uint64_t page = page_of(ctx);
    uint32_t got[64], value = 77;
    OK(vd_buffer_bind(ctx, b, 2 * page, 2 * page));
    OK(vd_fill(vd_immediate(ctx, 0, 0), b, 3 * page - 128, 256, &value, 4));
    OK(vd_copy(vd_immediate(ctx, 0, 0), other, 0, b, 3 * page - 128, 256));
    OK(vd_buffer_read(ctx, other, 0, got, sizeof got));
    for (int i = 0; i < 64; i++) assert_int_equal(got[i], 77);
    vd_list *list = vd_graph_begin(ctx, NULL);
    value = 78;
    OK(vd_fill(list, b, 3 * page - 64, 128, &value, 4));
    OK(vd_copy(list, other, 0, b, 3 * page - 128, 256));
    vd_graph g = vd_graph_end(list);
    assert_int_not_equal(g.id, 0);
    for (int i = 0; i < 2; i++) OK(vd_graph_submit(ctx, g, NULL, NULL));
    OK(vd_buffer_read(ctx, other, 0, got, sizeof got));
    for (int i = 0; i < 64; i++) assert_int_equal(got[i], i >= 16 && i < 48 ? 78 : 77);
    vd_graph_destroy(ctx, g);
    vd_buffer_destroy(ctx, b);
    vd_buffer_destroy(ctx, other);
}

TEST_EXECUTED(kernels_use_bound_pages) {
    vd_context *ctx = f->ctx;
    vd_buffer b = sparse_buffer(ctx, PAGES);
    uint64_t page = page_of(ctx);
    vd_kernel kernel = kernel_affine(ctx);
    OK(vd_buffer_bind(ctx, b, 5 * page, 2 * page));
    vd_buffer view = view_u32(ctx, b, 5 * page / 4, 2 * page / 4);
    for (uint32_t i = 0; i < 3; i++) OK(affine(vd_immediate(ctx, 0, 0), kernel, view, 2 * page / 4, 3, 1));
    for (int i = 0; i < 2; i++) assert_int_equal(read_u32(ctx, b, word_at(ctx, 5 + (uint64_t)i, i)), 13);
    OK(affine(vd_immediate(ctx, 0, 0), kernel, view, 2 * page / 4, 1, 1));
    OK(vd_buffer_unbind(ctx, b, 6 * page, page)); /* waits for the kernel */
    assert_int_equal(read_u32(ctx, b, word_at(ctx, 5, 1)), 14);
    vd_buffer_destroy(ctx, view);
    vd_buffer_destroy(ctx, b);
    vd_kernel_destroy(ctx, kernel);
}

/* Each page is an allocation; memory is freed by unbinding and with the buffer, which may be larger than the device's
   memory. */
TEST(memory_is_allocated_and_freed) {
    vd_buffer_destroy(f->ctx, sparse_buffer(f->ctx, PAGES)); /* or skips the test */
    vd_context_desc own = fixture_desc(f);
    vd_context *ctx;
    OK(vd_context_create(&own, &ctx));
    vd_buffer b = sparse_buffer(ctx, PAGES);
    uint64_t page = page_of(ctx), before = bytes_of(ctx);
    OK(vd_buffer_bind(ctx, b, 0, 4 * page));
    assert_int_equal(bytes_of(ctx), before + 4 * page);
    OK(vd_buffer_bind(ctx, b, 2 * page, 4 * page)); /* two of them have memory */
    assert_int_equal(bytes_of(ctx), before + 6 * page);
    OK(vd_buffer_unbind(ctx, b, page, VD_WHOLE));
    assert_int_equal(bytes_of(ctx), before + page);
    vd_buffer_destroy(ctx, b);
    assert_int_equal(bytes_of(ctx), before);
    vd_buffer_desc desc = sparse_desc(2 * vd_device(ctx, 0)->device_memory);
    if (f->backend != VD_BACKEND_DUMMY && 8 * desc.shape[0] <= vd_device(ctx, 0)->limits.max_sparse_bytes) {
        b = vd_buffer_create(ctx, &desc);
        if (!b.id) fail_msg("vd_buffer_create: %s", vd_error_text());
        uint64_t last = (4 * desc.shape[0] - 1) / page * page;
        uint32_t value = 5;
        OK(vd_buffer_bind(ctx, b, last, VD_WHOLE));
        OK(vd_buffer_write(ctx, b, last, &value, 4));
        assert_int_equal(read_u32(ctx, b, last / 4), 5);
    } else sparse_buffer(ctx, PAGES);
    vd_context_destroy(ctx); /* frees the buffer */
}

/* Memory runs out in the middle of a range: the call fails, and the context goes on. */
TEST(memory_runs_out) {
    vd_device_info device;
    vd_context_desc desc = fixture_desc(f);
    vd_context *ctx;
    if (f->backend != VD_BACKEND_DUMMY) skip_because("only devices of the dummy backend have little memory");
    memset(&device, 0, sizeof device);
    device.device_memory = (uint64_t)16 << 20;
    device.limits.sparse_page_bytes = (uint64_t)1 << 20;
    desc.dummy = &device;
    OK(vd_context_create(&desc, &ctx));
    vd_buffer b = sparse_buffer(ctx, 100);
    check_failure("vd_buffer_bind", vd_buffer_bind(ctx, b, 0, VD_WHOLE), VD_ERROR_OUT_OF_DEVICE_MEMORY,
                  "vd_buffer_bind 'sparse'|out of device memory");
    OK(vd_buffer_unbind(ctx, b, 0, VD_WHOLE));
    vd_buffer_desc other;
    memset(&other, 0, sizeof other);
    other.type = VD_U32;
    other.shape[0] = 3 << 20; /* 12 of 16 MiB */
    vd_buffer used = vd_buffer_create(ctx, &other);
    OK(vd_fill(vd_immediate(ctx, 0, 0), used, 0, VD_WHOLE, NULL, 0));
    vd_buffer_destroy(ctx, used); /* in use by the open batch, which the next call waits for */
    OK(vd_buffer_bind(ctx, b, 20 << 20, 8 << 20));
    assert_int_equal(read_u32(ctx, b, 21 << 18), 0);
    vd_context_destroy(ctx);
}

#define REFUSED(call, result, words) check_failure(#call, (call), result, words)

TEST(mistakes) {
    vd_context *ctx = f->ctx;
    vd_buffer b = sparse_buffer(ctx, PAGES), plain = buffer_u32(ctx, "plain", 64, NULL), none = { 0 };
    uint64_t page = page_of(ctx);
    vd_buffer view = view_u32(ctx, b, page / 4, 64);
    REFUSED(vd_buffer_bind(NULL, b, 0, page), VD_ERROR_INVALID, "vd_buffer_bind: the context is NULL");
    REFUSED(vd_buffer_bind(ctx, none, 0, page), VD_ERROR_INVALID, "vd_buffer_bind|0");
    REFUSED(vd_buffer_bind(ctx, plain, 0, page), VD_ERROR_INVALID, "vd_buffer_bind 'plain': the buffer was created without");
    REFUSED(vd_buffer_bind(ctx, view_u32(ctx, plain, 0, 64), 0, page), VD_ERROR_INVALID,
            "vd_buffer_bind 'plain': the buffer was created without vd_buffer_desc.sparse");
    REFUSED(vd_buffer_unbind(ctx, view, 0, page), VD_ERROR_INVALID,
            "vd_buffer_unbind 'sparse': the buffer is a view; pass the buffer that it is a view of");
    REFUSED(vd_buffer_bind(ctx, b, 4, page), VD_ERROR_INVALID, "offset 4 or size|limits.sparse_page_bytes");
    REFUSED(vd_buffer_bind(ctx, b, 0, page / 2), VD_ERROR_INVALID, "is not a multiple of|limits.sparse_page_bytes");
    REFUSED(vd_buffer_unbind(ctx, b, 0, PAGES * page), VD_ERROR_INVALID, "vd_buffer_unbind 'sparse': offset 0 and size");
    REFUSED(vd_buffer_bind(ctx, b, UINT64_MAX, 1), VD_ERROR_INVALID, "exceed the buffer");
    OK(vd_buffer_bind(ctx, b, page, 0));
    vd_buffer_desc desc = sparse_desc(page);
    desc.data = &page;
    assert_int_equal(vd_buffer_create(ctx, &desc).id, 0);
    check_failure("vd_buffer_create", vd_error_result(), VD_ERROR_INVALID, "desc.sparse and desc.data are set");
    desc = sparse_desc(page);
    desc.memory = VD_MEMORY_UPLOAD;
    assert_int_equal(vd_buffer_create(ctx, &desc).id, 0);
    check_failure("vd_buffer_create", vd_error_result(), VD_ERROR_INVALID, "desc.sparse and desc.memory are set");
    desc = sparse_desc(vd_device(ctx, 0)->limits.max_sparse_bytes / 4 * 4 + 4);
    assert_int_equal(vd_buffer_create(ctx, &desc).id, 0);
    check_failure("vd_buffer_create", vd_error_result(), VD_ERROR_UNSUPPORTED, "max_sparse_bytes");
    vd_buffer_destroy(ctx, view);
    vd_buffer_destroy(ctx, b);
    REFUSED(vd_buffer_bind(ctx, b, 0, page), VD_ERROR_INVALID, "vd_buffer_bind: the buffer was destroyed");
    vd_buffer_destroy(ctx, plain);
    still_works(f);
}

/* ---- a Vulkan driver that emulates sparse buffers ----
   Drivers for processors lack them. Such a buffer is bound to ordinary memory for all pages. Pages that are bound or
   unbound get other contents, and no two pages may be bound to the same memory. */

enum { SPARSE_BUFFERS = 8, EMULATED_PAGE = 2 << 20 };

static struct {
    PFN_vkCreateBuffer create_buffer;
    PFN_vkDestroyBuffer destroy_buffer;
    PFN_vkGetBufferMemoryRequirements requirements;
    PFN_vkBindBufferMemory bind;
    PFN_vkMapMemory map;
    struct { VkBuffer buffer; VkDeviceMemory memory; uint8_t *mapped; } buffers[SPARSE_BUFFERS];
    VkDeviceMemory bound[64];  /* memory of each page, of one buffer at a time */
    int binds;
} emulated;

static VKAPI_ATTR VkResult VKAPI_CALL emulated_create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                             const VkAllocationCallbacks *a, VkBuffer *out) {
    VkBufferCreateInfo plain = *info;
    VkMemoryRequirements need;
    void *mapped;
    int i = 0;
    plain.flags = 0;
    VkResult result = emulated.create_buffer(device, &plain, a, out);
    if (result || !info->flags) return result;
    driver.wrong += info->flags != (VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT);
    while (i < SPARSE_BUFFERS - 1 && emulated.buffers[i].buffer) i++;
    emulated.requirements(device, *out, &need);
    VkMemoryAllocateFlags address = 0;
    if (info->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) address = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateFlagsInfo flags = { VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, NULL, address, 0 };
    VkMemoryAllocateInfo allocate = { VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &flags, need.size, 0 };
    emulated.buffers[i].buffer = *out;
    result = driver.allocate(device, &allocate, NULL, &emulated.buffers[i].memory);
    if (!result) result = emulated.bind(device, *out, emulated.buffers[i].memory, 0);
    if (!result) result = emulated.map(device, emulated.buffers[i].memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    emulated.buffers[i].mapped = result ? NULL : (uint8_t *)mapped;
    return result;
}

static VKAPI_ATTR void VKAPI_CALL emulated_destroy_buffer(VkDevice device, VkBuffer buffer,
                                                          const VkAllocationCallbacks *a) {
    emulated.destroy_buffer(device, buffer, a);
    for (int i = 0; i < SPARSE_BUFFERS && buffer; i++) {
        if (emulated.buffers[i].buffer != buffer) continue;
        driver.release(device, emulated.buffers[i].memory, NULL);
        memset(&emulated.buffers[i], 0, sizeof emulated.buffers[i]);
        memset(emulated.bound, 0, sizeof emulated.bound);
    }
}

static void emulated_change(uint8_t *mapped, const VkSparseMemoryBind *b) {
    uint64_t page = b->resourceOffset / EMULATED_PAGE;
    driver.wrong += b->resourceOffset % EMULATED_PAGE || b->size != EMULATED_PAGE || b->memoryOffset || page >= 64;
    for (int i = 0; i < 64; i++) driver.wrong += b->memory && emulated.bound[i] == b->memory;
    driver.wrong += !emulated.bound[page % 64] == !b->memory;
    emulated.bound[page % 64] = b->memory;
    memset(mapped + b->resourceOffset, 0x5a, EMULATED_PAGE);
    emulated.binds++;
}

/* Executes the changes, then signals as a submission does. */
static VKAPI_ATTR VkResult VKAPI_CALL emulated_bind_sparse(VkQueue queue, uint32_t count, const VkBindSparseInfo *info,
                                                           VkFence fence) {
    const VkSparseBufferMemoryBindInfo *buffer = info->pBufferBinds;
    driver.wrong += count != 1 || info->bufferBindCount != 1 || !info->signalSemaphoreCount;
    driver.idle(queue);
    for (int i = 0; i < SPARSE_BUFFERS; i++)
        for (uint32_t k = 0; k < buffer->bindCount && emulated.buffers[i].buffer == buffer->buffer; k++)
            emulated_change(emulated.buffers[i].mapped, &buffer->pBinds[k]);
    return driver_signal(queue, info, fence);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL emulated_device_proc(VkDevice device, const char *name) {
    REPLACE(emulated.create_buffer, vkCreateBuffer, emulated_create_buffer)
    REPLACE(emulated.destroy_buffer, vkDestroyBuffer, emulated_destroy_buffer)
    if (strcmp(name, "vkQueueBindSparse")) return driver.device_proc(device, name);
    FIND(emulated.requirements, vkGetBufferMemoryRequirements);
    FIND(emulated.bind, vkBindBufferMemory);
    FIND(emulated.map, vkMapMemory);
    driver_find(device);
    return (PFN_vkVoidFunction)emulated_bind_sparse;
}

/* The tests above with that driver. */
TEST(vulkan_binds_pages) {
    vd_context_desc desc = fixture_desc(f);
    vd_context *shared = f->ctx;
    if (!driver_open(f, &desc)) skip_because("only the loader of Vulkan can be replaced");
    if (page_of(shared)) skip_because("the driver has sparse buffers");
    memset(&emulated, 0, sizeof emulated);
    driver.wrong = 0;
    OK(vd_context_create(&desc, &f->ctx));
    assert_int_equal(page_of(f->ctx), EMULATED_PAGE);
    pages_come_and_go_body(f);
    transfers_cross_pages_body(f);
    kernels_use_bound_pages_body(f);
    mistakes_body(f);
    vd_buffer left = sparse_buffer(f->ctx, PAGES);
    OK(vd_buffer_bind(f->ctx, left, 0, VD_WHOLE));
    vd_context_destroy(f->ctx);
    f->ctx = shared;
    assert_int_equal(driver.wrong, 0);
    assert_true(emulated.binds > PAGES);
    for (int i = 0; i < SPARSE_BUFFERS; i++) assert_true(!emulated.buffers[i].buffer);
}

static const struct CMUnitTest cases[] = {
    CASE(vulkan_binds_pages), CASE(pages_come_and_go), CASE(transfers_cross_pages), CASE(kernels_use_bound_pages),
    CASE(memory_is_allocated_and_freed), CASE(memory_runs_out), CASE(mistakes),
};
MAIN("sparse", cases)
