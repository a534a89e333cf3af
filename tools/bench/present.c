/* Presenting a computed image of 1280 x 720 pixels to a window of an Xvfb server, compared with a swapchain loop of
   hand-written Vulkan on the same device.

       make bench-present

   In each frame, both run the same SPIR-V, which writes a storage image, blit the image to the swapchain, and present
   it without waiting for the display. The hand-written loop has two frames in flight: a fence and a command buffer for
   each, which is recorded again in every frame. A round is FRAMES frames and the wait for the last one. Both windows
   must show the last frame afterwards. */
#define _POSIX_C_SOURCE 200809L
#include "tests/xserver.h"
#ifdef HAS_X11
#define VK_USE_PLATFORM_XLIB_KHR
#endif
#define VOLK_IMPLEMENTATION /* for the hand-written loop */
#define VKDISPATCH_VOLK
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#include "tools/bench/bench.h"

#ifdef HAS_X11

enum { WIDTH = 1280, HEIGHT = 720, FRAMES = 50, ROUNDS = 21, IN_FLIGHT = 2, IMAGES = 16, LOCAL = 16 };

static void die(const char *what, int code) {
    fprintf(stderr, "bench-present: %s (%d): %s\n", what, code, vd_error_text());
    exit(1);
}

#define NEED(call) do { int code_ = (int)(call); if (code_) die(#call, code_); } while (0)

/* The last frame is grey: all components are `level`. */
static vc_kernel *build_paint(vd_context *ctx) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "paint", .local_size = { LOCAL, LOCAL },
                                               .machine = vd_machine(ctx) });
    vc_image_ref to = vc_image(k, "to", &(vc_image_desc){ .storage = true, .format = VC_FORMAT_RGBA8_UNORM,
                                                          .access = VC_WRITE });
    vc_val level = vc_param(k, "level", VC_F32), x = vc_global_id(k, 0), y = vc_global_id(k, 1);
    vc_image_store(to, vc_vec2(x, y), vc_vec4(level, level, level, vc_f32(1)));
    return k;
}

static float level_of(int frame) { return frame == FRAMES - 1 ? 0.6f : 0.01f * (float)frame; }
enum { LAST_PIXEL = 0x999999 }; /* 0.6 * 255 = 153 */

static void check_window(Window w, const char *whose) {
    static uint32_t pixels[WIDTH * HEIGHT];
    bool right = false;
    double start = bench_now();
    while (!right && bench_now() - start < 5) {
        right = x_screenshot(w, WIDTH, HEIGHT, pixels);
        for (int i = 0; i < WIDTH * HEIGHT && right; i++) right = pixels[i] == LAST_PIXEL;
    }
    if (!right) die(whose, (int)pixels[0]);
}

/* ---- ours ---- */

typedef struct ours {
    vd_context *ctx;
    vd_kernel paint;
    vd_image image;
    vd_swapchain chain;
} ours;

static double ours_round(ours *o) {
    double start = bench_now();
    vd_present_desc present = { .box = { .image = o->image } };
    for (int i = 0; i < FRAMES; i++) {
        NEED(vd_run2(o->ctx, o->paint, WIDTH, HEIGHT, vd_i(o->image), vd_f32(level_of(i))));
        NEED(vd_present(o->ctx, o->chain, &present));
    }
    NEED(vd_wait_idle(o->ctx));
    return (bench_now() - start) / FRAMES;
}

/* ---- hand-written Vulkan ---- */

typedef struct raw {
    VkDevice device;
    VkQueue queue;
    VkSwapchainKHR chain;
    VkImage images[IMAGES], image;
    VkDeviceMemory memory;
    VkImageView view;
    VkCommandPool pool;
    VkCommandBuffer commands[IN_FLIGHT];
    VkFence fences[IN_FLIGHT];
    VkSemaphore acquired[IN_FLIGHT], drawn[IMAGES];
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
} raw;

static void raw_swapchain(raw *r, const vd_native *n, Window w) {
    VkXlibSurfaceCreateInfoKHR info = { .sType = VK_STRUCTURE_TYPE_XLIB_SURFACE_CREATE_INFO_KHR, .dpy = x_display,
                                        .window = w };
    VkSurfaceKHR surface;
    VkSurfaceCapabilitiesKHR c;
    NEED(vkCreateXlibSurfaceKHR((VkInstance)n->instance, &info, NULL, &surface));
    NEED(vkGetPhysicalDeviceSurfaceCapabilitiesKHR((VkPhysicalDevice)n->physical_device, surface, &c));
    VkSwapchainCreateInfoKHR create = { .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR, .surface = surface,
        .minImageCount = c.minImageCount < 3 ? 3 : c.minImageCount, .imageFormat = VK_FORMAT_B8G8R8A8_UNORM,
        .imageColorSpace = VK_COLOR_SPACE_SRGB_NONLINEAR_KHR, .imageExtent = c.currentExtent, .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT, .preTransform = c.currentTransform,
        .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR, .presentMode = VK_PRESENT_MODE_IMMEDIATE_KHR,
        .clipped = VK_TRUE };
    NEED(vkCreateSwapchainKHR(r->device, &create, NULL, &r->chain));
    uint32_t count = IMAGES;
    NEED(vkGetSwapchainImagesKHR(r->device, r->chain, &count, r->images));
}

static void raw_image(raw *r, const vd_native *n) {
    VkImageCreateInfo info = { .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM, .extent = { WIDTH, HEIGHT, 1 }, .mipLevels = 1, .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT, .usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT };
    VkPhysicalDeviceMemoryProperties memory;
    VkMemoryRequirements need;
    NEED(vkCreateImage(r->device, &info, NULL, &r->image));
    vkGetImageMemoryRequirements(r->device, r->image, &need);
    vkGetPhysicalDeviceMemoryProperties((VkPhysicalDevice)n->physical_device, &memory);
    uint32_t type = 0;
    while (!(need.memoryTypeBits >> type & 1)
           || !(memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT))
        type++;
    VkMemoryAllocateInfo allocate = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = need.size,
                                      .memoryTypeIndex = type };
    NEED(vkAllocateMemory(r->device, &allocate, NULL, &r->memory));
    NEED(vkBindImageMemory(r->device, r->image, r->memory, 0));
    VkImageViewCreateInfo view = { .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, .image = r->image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D, .format = info.format,
        .subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 } };
    NEED(vkCreateImageView(r->device, &view, NULL, &r->view));
}

static void raw_pipeline(raw *r, vc_kernel *k) {
    VkDescriptorSetLayoutBinding binding = { .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, .descriptorCount = 1,
                                             .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT };
    VkDescriptorSetLayoutCreateInfo sets = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                             .bindingCount = 1, .pBindings = &binding };
    VkPushConstantRange push = { VK_SHADER_STAGE_COMPUTE_BIT, 0, 16 };
    VkDescriptorSetLayout set_layout;
    VkShaderModule module;
    VkDescriptorPool pool;
    VkShaderModuleCreateInfo code = { .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO };
    code.pCode = vc_spirv(k, &code.codeSize);
    code.codeSize *= 4;
    NEED(vkCreateDescriptorSetLayout(r->device, &sets, NULL, &set_layout));
    VkPipelineLayoutCreateInfo layout = { .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1,
        .pSetLayouts = &set_layout, .pushConstantRangeCount = 1, .pPushConstantRanges = &push };
    NEED(vkCreatePipelineLayout(r->device, &layout, NULL, &r->layout));
    NEED(vkCreateShaderModule(r->device, &code, NULL, &module));
    VkComputePipelineCreateInfo info = { .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .layout = r->layout,
        .stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                   .module = module, .pName = "main" } };
    NEED(vkCreateComputePipelines(r->device, VK_NULL_HANDLE, 1, &info, NULL, &r->pipeline));
    VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1 };
    VkDescriptorPoolCreateInfo create = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1,
                                          .poolSizeCount = 1, .pPoolSizes = &size };
    NEED(vkCreateDescriptorPool(r->device, &create, NULL, &pool));
    VkDescriptorSetAllocateInfo allocate = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool, .descriptorSetCount = 1, .pSetLayouts = &set_layout };
    NEED(vkAllocateDescriptorSets(r->device, &allocate, &r->set));
    VkDescriptorImageInfo image = { VK_NULL_HANDLE, r->view, VK_IMAGE_LAYOUT_GENERAL };
    VkWriteDescriptorSet write = { .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = r->set,
        .descriptorCount = 1, .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, .pImageInfo = &image };
    vkUpdateDescriptorSets(r->device, 1, &write, 0, NULL);
}

static void raw_frames(raw *r, const vd_native *n) {
    VkCommandPoolCreateInfo pool = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT, .queueFamilyIndex = n->queue_family };
    NEED(vkCreateCommandPool(r->device, &pool, NULL, &r->pool));
    VkCommandBufferAllocateInfo allocate = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = r->pool, .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = IN_FLIGHT };
    NEED(vkAllocateCommandBuffers(r->device, &allocate, r->commands));
    VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .flags = VK_FENCE_CREATE_SIGNALED_BIT };
    VkSemaphoreCreateInfo semaphore = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO };
    for (int i = 0; i < IN_FLIGHT; i++) {
        NEED(vkCreateFence(r->device, &fence, NULL, &r->fences[i]));
        NEED(vkCreateSemaphore(r->device, &semaphore, NULL, &r->acquired[i]));
    }
    for (int i = 0; i < IMAGES; i++) NEED(vkCreateSemaphore(r->device, &semaphore, NULL, &r->drawn[i]));
}

static VkImageMemoryBarrier raw_change(VkImage image, VkImageLayout from, VkImageLayout to, VkAccessFlags before,
                                       VkAccessFlags after) {
    VkImageMemoryBarrier b = { .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER, .srcAccessMask = before,
        .dstAccessMask = after, .oldLayout = from, .newLayout = to, .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED, .image = image,
        .subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 } };
    return b;
}

static void raw_record(raw *r, VkCommandBuffer c, VkImage target, float level) {
    const VkPipelineStageFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, copy = VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkCommandBufferBeginInfo begin = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                       .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT };
    VkImageBlit blit = { .srcSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
        .srcOffsets = { { 0, 0, 0 }, { WIDTH, HEIGHT, 1 } },
        .dstSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 }, .dstOffsets = { { 0, 0, 0 }, { WIDTH, HEIGHT, 1 } } };
    VkImageMemoryBarrier first = raw_change(r->image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL,
                                            VK_ACCESS_TRANSFER_READ_BIT, VK_ACCESS_SHADER_WRITE_BIT);
    VkImageMemoryBarrier middle[2] = {
        raw_change(r->image, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_ACCESS_SHADER_WRITE_BIT,
                   VK_ACCESS_TRANSFER_READ_BIT),
        raw_change(target, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 0,
                   VK_ACCESS_TRANSFER_WRITE_BIT) };
    VkImageMemoryBarrier last = raw_change(target, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                           VK_IMAGE_LAYOUT_PRESENT_SRC_KHR, VK_ACCESS_TRANSFER_WRITE_BIT, 0);
    NEED(vkBeginCommandBuffer(c, &begin));
    vkCmdPipelineBarrier(c, copy, compute, 0, 0, NULL, 0, NULL, 1, &first);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, r->pipeline);
    vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, r->layout, 0, 1, &r->set, 0, NULL);
    vkCmdPushConstants(c, r->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof level, &level);
    vkCmdDispatch(c, WIDTH / LOCAL, HEIGHT / LOCAL, 1);
    vkCmdPipelineBarrier(c, compute | copy, copy, 0, 0, NULL, 0, NULL, 2, middle);
    vkCmdBlitImage(c, r->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, target, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1,
                   &blit, VK_FILTER_NEAREST);
    vkCmdPipelineBarrier(c, copy, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0, NULL, 0, NULL, 1, &last);
    NEED(vkEndCommandBuffer(c));
}

static double raw_round(raw *r) {
    double start = bench_now();
    for (int i = 0; i < FRAMES; i++) {
        int frame = i % IN_FLIGHT;
        uint32_t image;
        NEED(vkWaitForFences(r->device, 1, &r->fences[frame], VK_TRUE, UINT64_MAX));
        NEED(vkResetFences(r->device, 1, &r->fences[frame]));
        NEED(vkAcquireNextImageKHR(r->device, r->chain, UINT64_MAX, r->acquired[frame], VK_NULL_HANDLE, &image));
        raw_record(r, r->commands[frame], r->images[image], level_of(i));
        VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
        VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .waitSemaphoreCount = 1,
            .pWaitSemaphores = &r->acquired[frame], .pWaitDstStageMask = &stage, .commandBufferCount = 1,
            .pCommandBuffers = &r->commands[frame], .signalSemaphoreCount = 1, .pSignalSemaphores = &r->drawn[image] };
        NEED(vkQueueSubmit(r->queue, 1, &submit, r->fences[frame]));
        VkPresentInfoKHR present = { .sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR, .waitSemaphoreCount = 1,
            .pWaitSemaphores = &r->drawn[image], .swapchainCount = 1, .pSwapchains = &r->chain,
            .pImageIndices = &image };
        NEED(vkQueuePresentKHR(r->queue, &present));
    }
    NEED(vkWaitForFences(r->device, IN_FLIGHT, r->fences, VK_TRUE, UINT64_MAX));
    return (bench_now() - start) / FRAMES;
}

/* ---- both ---- */

static vd_result take_native(const vd_native *native, void *user) {
    *(vd_native *)user = *native;
    return VD_OK;
}

static void raw_open(raw *r, const ours *o, vc_kernel *k, Window w) {
    vd_native n;
    NEED(vd_native_use(o->ctx, 0, 0, take_native, &n));
    volkLoadInstance((VkInstance)n.instance);
    r->device = (VkDevice)n.device;
    r->queue = (VkQueue)n.queue;
    raw_swapchain(r, &n, w);
    raw_image(r, &n);
    raw_pipeline(r, k);
    raw_frames(r, &n);
}

int main(void) {
    static ours o;
    static raw r;
    static bench_pair p = { .name = "present", .size = "1280x720", .rival = "vulkan", .rounds = ROUNDS, .scale = 1e6,
                            .unit = "us", .bound = 1 / 0.9 };
    const char *missing = x_open();
    if (!missing && vd_context_create(&(vd_context_desc){ .backend = VD_BACKEND_VULKAN,
                                                          .window_system = VD_WINDOW_XLIB }, &o.ctx))
        missing = vd_error_text();
    if (missing) { bench_not_run("present", "1280x720", missing); return 0; }
    Window windows[2] = { x_window(WIDTH, HEIGHT), x_window(WIDTH, HEIGHT) };
    o.chain = vd_swapchain_create(o.ctx, &(vd_swapchain_desc){ .display = x_display, .window = windows[0],
                                                               .vsync = VD_VSYNC_OFF, .frames = IN_FLIGHT });
    if (!o.chain.id) { bench_not_run("present", "1280x720", vd_error_text()); return 0; }
    vc_kernel *k = build_paint(o.ctx);
    o.paint = vd_kernel_build(o.ctx, k);
    o.image = vd_image_create(o.ctx, &(vd_image_desc){ .format = VD_FORMAT_RGBA8_UNORM, .extent = { WIDTH, HEIGHT },
                                                       .usage = VD_IMAGE_STORAGE });
    if (!o.paint.id || !o.image.id) die("creating the objects", 0);
    raw_open(&r, &o, k, windows[1]);
    for (int i = -2; i < ROUNDS; i++) {
        double times[2] = { ours_round(&o), raw_round(&r) };
        if (i < 0) continue;
        p.ours[i] = times[0];
        p.theirs[i] = times[1];
    }
    bench_print(&p);
    for (int i = 0; i < 2; i++) { /* the window below shows its contents only when it is raised */
        XRaiseWindow(x_display, windows[i]);
        XSync(x_display, False);
        if (i) raw_round(&r);
        else ours_round(&o);
        check_window(windows[i], i ? "the window of the hand-written loop" : "our window");
    }
    vc_free(k);
    return 0; /* the hand-written objects use the context's device: the process ends with both */
}

#else
int main(void) {
    bench_not_run("present", "1280x720", "the headers of Xlib are not installed (Debian: libx11-dev)");
    return 0;
}
#endif
