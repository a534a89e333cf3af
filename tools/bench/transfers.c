/* Uploading to and downloading from an image of RGBA8 and a large buffer, compared with hand-written Vulkan on the same
   device.

       make bench-transfers

   All copy between host memory and the device through mapped staging memory, and wait for the end. The hand-written
   program has staging memory that is host-visible, and cached if it reads. An image is one copy. A buffer is copied in
   chunks: while the device copies some, the host fills or empties the others; each has a command buffer, which is
   recorded again each time, and a fence. What is read must be what was written. */
#define _POSIX_C_SOURCE 200809L
#define VOLK_IMPLEMENTATION /* for the hand-written program */
#define VKDISPATCH_VOLK
#define VKDISPATCH_IMPLEMENTATION
#include "vkdispatch.h"
#include "tools/bench/bench.h"

enum { SIDE = 1024, BYTES = SIDE * SIDE * 4, ROUNDS = 31, CHUNKS = 4, CHUNK = 8 << 20, BUFFER_ROUNDS = 11 };

static void die(const char *what, int code) {
    fprintf(stderr, "bench-transfers: %s (%d): %s\n", what, code, vd_error_text());
    exit(1);
}

#define NEED(call) do { int code_ = (int)(call); if (code_) die(#call, code_); } while (0)

typedef struct raw {
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue;
    VkImage image;
    VkBuffer staging[2]; /* for uploads and downloads, CHUNKS * CHUNK bytes */
    void *mapped[2];
    VkBuffer buffer;
    VkCommandPool pool;
    VkCommandBuffer commands[CHUNKS];
    VkFence fences[CHUNKS];
} raw;

static vd_result take_native(const vd_native *native, void *user) {
    *(vd_native *)user = *native;
    return VD_OK;
}

/* Allocates memory of a type that has these properties, or the first of the properties if none has all. */
static VkDeviceMemory raw_memory(const raw *r, const VkMemoryRequirements *need, VkFlags wanted, VkFlags required) {
    VkPhysicalDeviceMemoryProperties memory;
    VkMemoryAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = need->size };
    VkDeviceMemory out;
    vkGetPhysicalDeviceMemoryProperties(r->physical_device, &memory);
    for (VkFlags flags = wanted;; flags = required)
        for (uint32_t i = 0; i < memory.memoryTypeCount; i++)
            if (need->memoryTypeBits >> i & 1 && (memory.memoryTypes[i].propertyFlags & flags) == flags) {
                info.memoryTypeIndex = i;
                NEED(vkAllocateMemory(r->device, &info, NULL, &out));
                return out;
            }
}

/* Creates a buffer with a dedicated allocation. */
static VkDeviceMemory raw_buffer(const raw *r, uint64_t size, VkFlags wanted, VkFlags required, VkBuffer *out) {
    VkMemoryRequirements need;
    VkBufferCreateInfo buffer = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT };
    NEED(vkCreateBuffer(r->device, &buffer, NULL, out));
    vkGetBufferMemoryRequirements(r->device, *out, &need);
    VkDeviceMemory memory = raw_memory(r, &need, wanted, required);
    NEED(vkBindBufferMemory(r->device, *out, memory, 0));
    return memory;
}

static void raw_open(raw *r, vd_context *ctx, uint64_t buffer_bytes) {
    const VkFlags host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    vd_native n;
    NEED(vd_native_use(ctx, 0, 0, take_native, &n));
    volkLoadInstance((VkInstance)n.instance);
    r->physical_device = (VkPhysicalDevice)n.physical_device;
    r->device = (VkDevice)n.device;
    r->queue = (VkQueue)n.queue;
    VkImageCreateInfo image = { .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM, .extent = { SIDE, SIDE, 1 }, .mipLevels = 1, .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT, .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT
                                                   | VK_IMAGE_USAGE_TRANSFER_DST_BIT };
    VkMemoryRequirements need;
    NEED(vkCreateImage(r->device, &image, NULL, &r->image));
    vkGetImageMemoryRequirements(r->device, r->image, &need);
    VkDeviceMemory memory = raw_memory(r, &need, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
    NEED(vkBindImageMemory(r->device, r->image, memory, 0));
    raw_buffer(r, buffer_bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0, &r->buffer);
    for (int i = 0; i < 2; i++) {
        memory = raw_buffer(r, CHUNKS * CHUNK, i ? host | VK_MEMORY_PROPERTY_HOST_CACHED_BIT : host, host,
                            &r->staging[i]);
        NEED(vkMapMemory(r->device, memory, 0, VK_WHOLE_SIZE, 0, &r->mapped[i]));
    }
    VkCommandPoolCreateInfo pool = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT, .queueFamilyIndex = n.queue_family };
    VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
    NEED(vkCreateCommandPool(r->device, &pool, NULL, &r->pool));
    for (int i = 0; i < CHUNKS; i++) NEED(vkCreateFence(r->device, &fence, NULL, &r->fences[i]));
    VkCommandBufferAllocateInfo commands = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = r->pool, .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = CHUNKS };
    NEED(vkAllocateCommandBuffers(r->device, &commands, r->commands));
}

static void raw_barrier(const raw *r, VkImageLayout from, VkImageLayout to) {
    VkImageMemoryBarrier barrier = { .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT, .oldLayout = from, .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED, .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = r->image, .subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 } };
    vkCmdPipelineBarrier(r->commands[0], VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                         NULL, 0, NULL, 1, &barrier);
}

static void raw_begin(const raw *r, int i) {
    VkCommandBufferBeginInfo begin = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                       .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT };
    NEED(vkBeginCommandBuffer(r->commands[i], &begin));
}

static void raw_submit(const raw *r, int i) {
    VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1,
                            .pCommandBuffers = &r->commands[i] };
    NEED(vkEndCommandBuffer(r->commands[i]));
    NEED(vkQueueSubmit(r->queue, 1, &submit, r->fences[i]));
}

static void raw_wait(const raw *r, int i) {
    NEED(vkWaitForFences(r->device, 1, &r->fences[i], VK_TRUE, UINT64_MAX));
    NEED(vkResetFences(r->device, 1, &r->fences[i]));
}

/* Transfers the image and waits. The image is in the layout of a sampled image between transfers. */
static void raw_transfer(const raw *r, void *host, bool upload) {
    const VkImageLayout rest = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    VkImageLayout layout = upload ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    VkBufferImageCopy copy = { .imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
                               .imageExtent = { SIDE, SIDE, 1 } };
    if (upload) memcpy(r->mapped[0], host, BYTES);
    raw_begin(r, 0);
    raw_barrier(r, upload ? VK_IMAGE_LAYOUT_UNDEFINED : rest, layout);
    if (upload) vkCmdCopyBufferToImage(r->commands[0], r->staging[0], r->image, layout, 1, &copy);
    else vkCmdCopyImageToBuffer(r->commands[0], r->image, layout, r->staging[1], 1, &copy);
    raw_barrier(r, layout, rest);
    raw_submit(r, 0);
    raw_wait(r, 0);
    if (!upload) memcpy(host, r->mapped[1], BYTES);
}

/* Transfers a multiple of CHUNK bytes, at least CHUNKS of them, and waits. */
static void raw_transfer_buffer(const raw *r, uint8_t *host, uint64_t bytes, bool upload) {
    const int last = (int)(bytes / CHUNK);
    for (int i = 0; i < last + CHUNKS; i++) {
        int slot = i % CHUNKS;
        uint64_t at = (uint64_t)slot * CHUNK, done = (uint64_t)(i - CHUNKS) * CHUNK, next = (uint64_t)i * CHUNK;
        if (i >= CHUNKS) raw_wait(r, slot);
        if (i >= CHUNKS && !upload) memcpy(host + done, (uint8_t *)r->mapped[1] + at, CHUNK);
        if (i >= last) continue;
        VkBufferCopy copy = { upload ? at : next, upload ? next : at, CHUNK };
        if (upload) memcpy((uint8_t *)r->mapped[0] + at, host + next, CHUNK);
        raw_begin(r, slot);
        if (upload) vkCmdCopyBuffer(r->commands[slot], r->staging[0], r->buffer, 1, &copy);
        else vkCmdCopyBuffer(r->commands[slot], r->buffer, r->staging[1], 1, &copy);
        raw_submit(r, slot);
    }
}

static void ours_transfer(vd_context *ctx, vd_image image, void *host, bool upload) {
    vd_image_transfer whole = { .box = { .image = image } };
    if (!upload) {
        NEED(vd_image_download(ctx, &whole, host));
        return;
    }
    NEED(vd_image_upload(ctx, &whole, host));
    NEED(vd_wait_idle(ctx));
}

static void ours_transfer_buffer(vd_context *ctx, vd_buffer buffer, void *host, bool upload) {
    if (!upload) {
        NEED(vd_buffer_read(ctx, buffer, 0, host, VD_WHOLE));
        return;
    }
    NEED(vd_buffer_write(ctx, buffer, 0, host, VD_WHOLE));
    NEED(vd_wait_idle(ctx));
}

static void compare_images(vd_context *ctx, const raw *r) {
    static uint8_t texels[BYTES], got[2][BYTES];
    static bench_pair p = { .size = "1024x1024", .rival = "vulkan", .rounds = ROUNDS, .scale = 1e6, .unit = "us",
                            .bound = 1 / 0.95 };
    vd_image image = vd_image_create(ctx, &(vd_image_desc){ .format = VD_FORMAT_RGBA8_UNORM, .extent = { SIDE, SIDE },
                                                            .usage = VD_IMAGE_SAMPLED });
    if (!image.id) die("creating the image", 0);
    NEED(vd_wait_idle(ctx));
    for (int upload = 1; upload >= 0; upload--) {
        p.name = upload ? "image-upload" : "image-download";
        for (int i = -2; i < ROUNDS; i++) {
            double times[3];
            for (size_t j = 0; upload && j < BYTES; j += 4096) texels[j] = (uint8_t)(i + (int)(j >> 12));
            times[0] = bench_now();
            ours_transfer(ctx, image, upload ? texels : got[0], upload);
            times[1] = bench_now();
            raw_transfer(r, upload ? texels : got[1], upload);
            times[2] = bench_now();
            if (i < 0) continue;
            p.ours[i] = times[1] - times[0];
            p.theirs[i] = times[2] - times[1];
        }
        bench_print(&p);
    }
    for (int i = 0; i < 2; i++)
        if (memcmp(got[i], texels, BYTES)) die(i ? "the texels of the hand-written program" : "our texels", i);
}

static void compare_buffers(vd_context *ctx, const raw *r, uint64_t bytes) {
    static bench_pair p = { .rival = "vulkan", .rounds = BUFFER_ROUNDS, .scale = 1e3, .unit = "ms", .bound = 1 / 0.95 };
    vd_buffer buffer = vd_buffer_create(ctx, &(vd_buffer_desc){ .shape = { bytes } });
    uint8_t *data = (uint8_t *)malloc(3 * bytes), *got = data + bytes;
    if (!buffer.id || !data) die("creating the buffer", 0);
    memset(got, 0, 2 * bytes);
    for (uint64_t j = 0; j < bytes; j++) data[j] = (uint8_t)(j * 0x9e3779b1u >> 24);
    p.size = bytes >> 30 ? "1GiB" : "64MiB";
    NEED(vd_wait_idle(ctx));
    for (int upload = 1; upload >= 0; upload--) {
        p.name = upload ? "buffer-upload" : "buffer-download";
        for (int i = -2; i < BUFFER_ROUNDS; i++) {
            double times[3];
            times[0] = bench_now();
            ours_transfer_buffer(ctx, buffer, upload ? data : got, upload);
            times[1] = bench_now();
            raw_transfer_buffer(r, upload ? data : got + bytes, bytes, upload);
            times[2] = bench_now();
            if (i < 0) continue;
            p.ours[i] = times[1] - times[0];
            p.theirs[i] = times[2] - times[1];
        }
        bench_print(&p);
    }
    if (memcmp(got, data, bytes)) die("our bytes", 0);
    if (memcmp(got + bytes, data, bytes)) die("the bytes of the hand-written program", 0);
    free(data);
}

int main(void) {
    static raw r;
    vd_context *ctx = NULL;
    if (vd_context_create(&(vd_context_desc){ .backend = VD_BACKEND_VULKAN }, &ctx)) {
        bench_not_run("transfers", "all", vd_error_text());
        return 0;
    }
    uint64_t bytes = vd_device(ctx, 0)->type == VD_DEVICE_DISCRETE ? 1u << 30 : 64u << 20;
    raw_open(&r, ctx, bytes);
    compare_images(ctx, &r);
    compare_buffers(ctx, &r, bytes);
    return 0; /* the hand-written objects use the context's device: the process ends with both */
}
