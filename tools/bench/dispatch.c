/* Recording, dependent dispatches, graphs, round trips and large copies, compared with hand-written Vulkan in one
   process on one device.

       make bench-dispatch

   Both implementations run the same SPIR-V, x[i + first] += step, in one work-group. The hand-written one uses device
   entry points, one command pool that is reset, the pipeline bound once per command buffer, one memory barrier between
   dependent dispatches, and a wait for a fence. Its command memory comes from the driver's allocator. It has its own
   device, with the same queue family as ours.
   Recording is measured in CPU time of the calling thread, which varies less on a busy machine, and starts at the
   second dispatch, so it excludes the cost of beginning a command buffer. All other figures are wall-clock times of
   the whole operation, except graph-…-host, the CPU time of a submission. graph-changed sets one value before each
   submission, and is compared with command buffers that do not change. late-readback is the CPU time of a frame that
   dispatches, begins to read 2 MB and uses the 2 MB of three frames earlier, at 120 frames a second; the hand-written
   one has a command pool, a fence and a buffer for each of the three frames. late-time is the same without the
   comparison, late-frames how many of ours were not complete then, late-allocations the host allocations. tracking is
   the CPU time that a dispatch takes longer if it declares buffers that the kernel reaches through addresses
   (vd_dispatch_desc.uses): six buffers, six others of 6000 each time, or one that contains 6000 as views. overlap
   compares dispatches on disjoint views of a buffer with dependent ones. Every counter is read back and compared with
   the number of dispatches. */
#define _POSIX_C_SOURCE 200809L
#define VOLK_IMPLEMENTATION /* for the hand-written implementation */
#define VKDISPATCH_VOLK
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

enum { WARM = 4, THREADS = 64, WORDS = 16384, CHAIN = 1000, GATHERED = 500, SHORT = 16, TRIPS = 40, SLICE = 256,
       REACHABLE = 6000, USES = 6, RECORD_ROUNDS = 41, CHAIN_ROUNDS = 15, TRIP_ROUNDS = 21, LATE = 3,
       FRAMES = 101, FRAME_WORDS = 1 << 19 };
#define BENCH_PROGRAM "bench-dispatch"
#include "tools/bench/ours.h"

/* ---- the program that both run ---- */

typedef struct program {
    vc_kernel *builder;
    const vc_info *info;
    const uint32_t *words;
    size_t count;
    vc_buffers form;
} program;

static void program_make(program *p, vd_context *ctx, vc_buffers form) {
    p->builder = ours_builder(ctx, form);
    p->form = form;
    p->words = vc_spirv(p->builder, &p->count);
    p->info = vc_reflect(p->builder);
    if (!p->words) die(vc_error(p->builder) ? vc_error(p->builder) : "no SPIR-V", 0);
}

/* ---- ours ---- */

static vd_buffer apart[CHAIN], views[CHAIN];

static double since(double start, int dispatches) { return (bench_busy() - start) / dispatches; }

static double ours_record_list(void *side) {
    ours *o = (ours *)side;
    vd_list *list = ours_begin(o);
    ours_dispatch(o, list, o->x, work_of(0));
    double start = bench_busy();
    for (int i = 1; i < CHAIN; i++) ours_dispatch(o, list, o->x, work_of(i));
    double took = since(start, CHAIN - 1);
    chain_expect(o->expected, CHAIN);
    ours_finish(o, list);
    return took;
}

/* Few enough that the runtime does not submit in between. */
static double ours_record_run(void *side) {
    ours *o = (ours *)side;
    NEED(vd_run(o->ctx, o->kernel, THREADS, vd_b(o->x), vd_u32(work_of(0))));
    double start = bench_busy();
    for (int i = 1; i < GATHERED; i++) NEED(vd_run(o->ctx, o->kernel, THREADS, vd_b(o->x), vd_u32(work_of(i))));
    double took = since(start, GATHERED - 1);
    chain_expect(o->expected, GATHERED);
    NEED(vd_wait_idle(o->ctx));
    return took;
}

/* Every dispatch has its own buffer, so there are no barriers between them. */
static double ours_record_apart(void *side) {
    ours *o = (ours *)side;
    vd_list *list = ours_begin(o);
    ours_dispatch(o, list, apart[0], step_of(0));
    double start = bench_busy();
    for (int i = 1; i < CHAIN; i++) ours_dispatch(o, list, apart[i], step_of(i));
    double took = since(start, CHAIN - 1);
    ours_finish(o, list);
    return took;
}

static double ours_chain_device(void *side) {
    ours *o = (ours *)side;
    vd_list *list = ours_begin(o);
    ours_record(o, list);
    NEED(vd_list_end(list));
    ours_wake(o);
    double start = bench_now();
    ours_finish(o, list);
    return bench_now() - start;
}

/* As ours_chain_device, on disjoint views of one buffer. */
static double ours_apart_device(void *side) {
    ours *o = (ours *)side;
    vd_list *list = ours_begin(o);
    for (int i = 0; i < CHAIN; i++) ours_dispatch(o, list, views[i], step_of(i));
    NEED(vd_list_end(list));
    ours_wake(o);
    double start = bench_now();
    ours_finish(o, list);
    return bench_now() - start;
}

/* Graphs: of CHAIN dispatches, without and with a slot, and of SHORT ones. */
static vd_graph chain_graph, changed_graph, short_graph;
static uint32_t changed; /* number of changes */

static double ours_replay_host(void *side) { return ours_replay((ours *)side, chain_graph, CHAIN, 0, true); }
static double ours_replay_device(void *side) { return ours_replay((ours *)side, chain_graph, CHAIN, 0, false); }
static double ours_replay_short(void *side) { return ours_replay((ours *)side, short_graph, SHORT, 0, false); }
static double ours_changed_host(void *side) {
    return ours_replay((ours *)side, changed_graph, CHAIN, 1 + changed++ % 7, true);
}
static double ours_changed_device(void *side) {
    return ours_replay((ours *)side, changed_graph, CHAIN, 1 + changed++ % 7, false);
}

static double ours_short(void *side) {
    ours *o = (ours *)side;
    ours_wake(o);
    double start = bench_now();
    vd_list *list = ours_begin(o);
    for (int i = 0; i < SHORT; i++) ours_dispatch(o, list, o->x, work_of(i));
    chain_expect(o->expected, SHORT);
    ours_finish(o, list);
    return bench_now() - start;
}

/* ---- tracking of declared buffers ---- */

/* CPU time of recording a dispatch. It declares `count` buffers of `from`: the same ones each time, or in turn others
   of REACHABLE. */
static double ours_record_uses(ours *o, const vd_buffer *from, int count, bool in_turn) {
    vd_list *list = ours_begin(o);
    double start = 0;
    for (int i = 0; i < CHAIN; i++) {
        vd_record_use uses[USES];
        vd_arg args[2] = { vd_b(apart[i]), vd_u32(step_of(i)) };
        vd_dispatch_desc desc = { 0 };
        for (int j = 0; j < count; j++)
            uses[j] = (vd_record_use){ from[in_turn ? (i * count + j) * 7 % REACHABLE : j], VD_READ };
        desc.kernel = o->kernel;
        desc.threads[0] = THREADS;
        desc.args = args;
        desc.arg_count = 2;
        desc.uses = uses;
        desc.use_count = count;
        if (i == 1) start = bench_busy();
        NEED(vd_dispatch(list, &desc));
    }
    double took = since(start, CHAIN - 1);
    ours_finish(o, list);
    return took;
}

static void bench_tracking(ours *o, const char *form) {
    static vd_buffer reachable[REACHABLE];
    static const struct { const char *size; int count; bool in_turn, whole; double bound; } rows[] = {
        { "6-buffers", USES, false, false, 0.3 },
        { "6-of-6000-buffers", USES, true, false, 2 },
        { "6000-views-of-one", 1, false, true, 2 }
    };
    vd_buffer whole = ours_buffer(o->ctx, VD_U32, (uint64_t)REACHABLE * THREADS);
    vd_view_desc view = { 0 };
    view.buffer = whole;
    view.type = VD_U32;
    view.shape[0] = THREADS;
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        double times[RECORD_ROUNDS];
        char name[64];
        for (int i = 0; i < REACHABLE; i++) {
            view.offset = (uint64_t)i * THREADS * 4;
            reachable[i] = rows[row].whole ? vd_buffer_view(o->ctx, &view) : ours_buffer(o->ctx, VD_U32, THREADS);
            if (!reachable[i].id) die("vd_buffer_view", i);
        }
        const vd_buffer *from = rows[row].whole ? &whole : reachable;
        for (int i = -WARM; i < RECORD_ROUNDS; i++) {
            double none = ours_record_uses(o, NULL, 0, false);
            double took = ours_record_uses(o, from, rows[row].count, rows[row].in_turn);
            if (i >= 0) times[i] = 1e6 * (took - none);
        }
        for (int i = 0; i < REACHABLE; i++) vd_buffer_destroy(o->ctx, reachable[i]);
        snprintf(name, sizeof name, "tracking-%s", form);
        bench_print_alone(name, rows[row].size, times, RECORD_ROUNDS, "us/dispatch", rows[row].bound);
    }
    vd_buffer_destroy(o->ctx, whole);
}

/* ---- readback some frames later ---- */

typedef struct ours_late {
    ours *o;
    vd_buffer x;
    vd_ticket ring[LATE];
} ours_late;

/* Frame i: returns its CPU time. *incomplete is incremented if the data of LATE frames earlier is not there yet. */
static double ours_frame(void *side, int i, double *incomplete) {
    ours_late *l = (ours_late *)side;
    vd_context *ctx = l->o->ctx;
    vd_ticket *ticket = &l->ring[i % LATE];
    vd_read_desc read = { 0 };
    const void *data = NULL;
    double start = bench_busy();
    read.buffer = l->x;
    if (i >= LATE) {
        vd_result r = vd_read_ready(ctx, *ticket, 0, &data);
        if (r == VD_TIMEOUT) ++*incomplete;
        else NEED(r);
        vd_read_end(ctx, *ticket);
    }
    NEED(vd_run(ctx, l->o->kernel, THREADS, vd_b(l->x), vd_u32(1)));
    NEED(vd_read_begin(vd_immediate(ctx, 0, 0), &read, ticket));
    NEED(vd_flush(ctx));
    return bench_busy() - start;
}

/* Runs frames `first` to `first + count - 1`, 120 a second. */
static void frames_run(double (*frame)(void *, int, double *), void *side, int first, int count, double *times,
                       double *incomplete) {
    *incomplete = 0;
    for (int i = 0; i < count; i++) {
        double next = bench_now() + 1.0 / 120;
        times[i] = frame(side, first + i, incomplete);
        while (bench_now() < next) nanosleep(&(struct timespec){ 0, 200000 }, NULL);
    }
}

/* ---- hand-written Vulkan ---- */

typedef struct raw_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    VkDeviceAddress address;
    uint32_t *mapped;
} raw_buffer;

typedef struct raw {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkPhysicalDeviceMemoryProperties memory;
    VkDevice device;
    struct VolkDeviceTable vk;
    uint32_t family;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkCommandPool replay_pool;
    VkCommandBuffer replays[3];     /* recorded once: CHAIN and SHORT dispatches, and one that adds nothing */
    VkFence fence;
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool sets_pool;
    VkDescriptorSet sets[2 + CHAIN]; /* x, then one per slice of `apart`, then the buffer of frames */
    VkPipelineLayout layout;
    VkPipeline pipeline;
    raw_buffer x, apart, readback;  /* apart: CHAIN slices of SLICE bytes */
    raw_buffer frame;               /* FRAME_WORDS words */
    const program *program;
    uint32_t block[32];
    uint32_t expected[SLICES];
    bool spin;
} raw;

static bool raw_same_device(const VkPhysicalDeviceProperties *p, const vd_device_info *info) {
    return p->vendorID == info->vendor_id && p->deviceID == info->device_id && strcmp(p->deviceName, info->name) == 0;
}

static void raw_instance(raw *r, const vd_device_info *info) {
    VkApplicationInfo app = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2 };
    VkInstanceCreateInfo create = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app };
    NEED(volkInitialize());
    NEED(vkCreateInstance(&create, NULL, &r->instance));
    volkLoadInstance(r->instance);
    VkPhysicalDevice all[16];
    uint32_t count = 16;
    VkResult listed = vkEnumeratePhysicalDevices(r->instance, &count, all);
    if (listed && listed != VK_INCOMPLETE) die("vkEnumeratePhysicalDevices", (int)listed);
    for (uint32_t i = 0; i < count && !r->physical; i++) {
        VkPhysicalDeviceProperties p;
        vkGetPhysicalDeviceProperties(all[i], &p);
        if (raw_same_device(&p, info)) r->physical = all[i];
    }
    if (!r->physical) die("the device of our context is not among Vulkan's", 0);
    vkGetPhysicalDeviceMemoryProperties(r->physical, &r->memory);
}

/* Returns the first compute queue family, preferring one without graphics. */
static void raw_family(raw *r) {
    VkQueueFamilyProperties families[32];
    uint32_t count = 32;
    vkGetPhysicalDeviceQueueFamilyProperties(r->physical, &count, families);
    r->family = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        bool draws = (families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
        if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)) continue;
        if (r->family == UINT32_MAX || (!draws && (families[r->family].queueFlags & VK_QUEUE_GRAPHICS_BIT)))
            r->family = i;
    }
    if (r->family == UINT32_MAX) die("no compute queue", 0);
}

static void raw_device(raw *r) {
    VkPhysicalDeviceVulkan12Features has12 = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES };
    VkPhysicalDeviceFeatures2 has = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &has12 };
    vkGetPhysicalDeviceFeatures2(r->physical, &has);
    VkPhysicalDeviceVulkan12Features want12 = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES };
    VkPhysicalDeviceFeatures2 want = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &want12 };
    want12.bufferDeviceAddress = has12.bufferDeviceAddress;
    want.features.shaderInt64 = has.features.shaderInt64;
    float priority = 1;
    VkDeviceQueueCreateInfo queue = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                      .queueFamilyIndex = r->family, .queueCount = 1, .pQueuePriorities = &priority };
    VkDeviceCreateInfo create = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &want,
                                  .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue };
    NEED(vkCreateDevice(r->physical, &create, NULL, &r->device));
    volkLoadDeviceTable(&r->vk, r->device);
    r->vk.vkGetDeviceQueue(r->device, r->family, 0, &r->queue);
}

static uint32_t raw_memory_type(const raw *r, uint32_t mask, VkMemoryPropertyFlags wanted) {
    for (uint32_t i = 0; i < r->memory.memoryTypeCount; i++) {
        if ((mask >> i & 1u) && (r->memory.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
    }
    return UINT32_MAX;
}

static raw_buffer raw_buffer_create(const raw *r, uint64_t size, bool readback) {
    raw_buffer b = { 0 };
    bool address = r->program->form == VC_BUFFERS_ADDRESS && !readback;
    VkBufferCreateInfo create = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size };
    create.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT
        | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    if (address) create.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    NEED(r->vk.vkCreateBuffer(r->device, &create, NULL, &b.handle));
    VkMemoryRequirements needs;
    r->vk.vkGetBufferMemoryRequirements(r->device, b.handle, &needs);
    VkMemoryAllocateFlagsInfo flags = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT };
    VkMemoryAllocateInfo allocate = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = address ? &flags : NULL,
                                      .allocationSize = needs.size };
    VkMemoryPropertyFlags host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkMemoryPropertyFlags best = readback ? host | VK_MEMORY_PROPERTY_HOST_CACHED_BIT
        : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    allocate.memoryTypeIndex = raw_memory_type(r, needs.memoryTypeBits, best);
    if (allocate.memoryTypeIndex == UINT32_MAX)
        allocate.memoryTypeIndex = raw_memory_type(r, needs.memoryTypeBits, readback ? host : 0);
    NEED(r->vk.vkAllocateMemory(r->device, &allocate, NULL, &b.memory));
    NEED(r->vk.vkBindBufferMemory(r->device, b.handle, b.memory, 0));
    VkBufferDeviceAddressInfo where = { .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = b.handle };
    if (address) b.address = r->vk.vkGetBufferDeviceAddress(r->device, &where);
    if (readback) NEED(r->vk.vkMapMemory(r->device, b.memory, 0, VK_WHOLE_SIZE, 0, (void **)&b.mapped));
    return b;
}

static void raw_sets(raw *r) {
    VkDescriptorSetLayoutBinding binding = { .binding = r->program->info->args[0].location,
                                             .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = 1,
                                             .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT };
    VkDescriptorSetLayoutCreateInfo layout = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                               .bindingCount = 1, .pBindings = &binding };
    NEED(r->vk.vkCreateDescriptorSetLayout(r->device, &layout, NULL, &r->set_layout));
    VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2 + CHAIN };
    VkDescriptorPoolCreateInfo pool = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 2 + CHAIN,
                                        .poolSizeCount = 1, .pPoolSizes = &size };
    NEED(r->vk.vkCreateDescriptorPool(r->device, &pool, NULL, &r->sets_pool));
    for (uint32_t i = 0; i < 2 + CHAIN; i++) {
        VkDescriptorSetAllocateInfo allocate = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                                 .descriptorPool = r->sets_pool, .descriptorSetCount = 1,
                                                 .pSetLayouts = &r->set_layout };
        NEED(r->vk.vkAllocateDescriptorSets(r->device, &allocate, &r->sets[i]));
        VkDescriptorBufferInfo buffer = { i ? r->frame.handle : r->x.handle, 0, VK_WHOLE_SIZE };
        VkDescriptorBufferInfo slice = { r->apart.handle, (i - 1) * SLICE, SLICE };
        VkWriteDescriptorSet write = { .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = r->sets[i],
                                       .dstBinding = binding.binding, .descriptorCount = 1,
                                       .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                       .pBufferInfo = i && i <= CHAIN ? &slice : &buffer };
        r->vk.vkUpdateDescriptorSets(r->device, 1, &write, 0, NULL);
    }
}

static void raw_pipeline(raw *r) {
    VkPushConstantRange range = { VK_SHADER_STAGE_COMPUTE_BIT, 0, r->program->info->argument_bytes };
    VkPipelineLayoutCreateInfo layout = { .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                          .setLayoutCount = r->set_layout ? 1 : 0, .pSetLayouts = &r->set_layout,
                                          .pushConstantRangeCount = 1, .pPushConstantRanges = &range };
    NEED(r->vk.vkCreatePipelineLayout(r->device, &layout, NULL, &r->layout));
    VkShaderModuleCreateInfo code = { .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                      .codeSize = 4 * r->program->count, .pCode = r->program->words };
    VkShaderModule module;
    NEED(r->vk.vkCreateShaderModule(r->device, &code, NULL, &module));
    VkComputePipelineCreateInfo create = { .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                           .layout = r->layout };
    create.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    create.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    create.stage.module = module;
    create.stage.pName = "main";
    NEED(r->vk.vkCreateComputePipelines(r->device, VK_NULL_HANDLE, 1, &create, NULL, &r->pipeline));
    r->vk.vkDestroyShaderModule(r->device, module, NULL);
}

static void raw_queue_objects(raw *r) {
    VkCommandPoolCreateInfo pool = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                     .queueFamilyIndex = r->family };
    NEED(r->vk.vkCreateCommandPool(r->device, &pool, NULL, &r->pool));
    VkCommandBufferAllocateInfo allocate = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = r->pool, .commandBufferCount = 1 };
    NEED(r->vk.vkAllocateCommandBuffers(r->device, &allocate, &r->commands));
    VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
    NEED(r->vk.vkCreateFence(r->device, &fence, NULL, &r->fence));
}

static void raw_values(raw *r, VkDeviceAddress x, uint32_t work) {
    const vc_info *info = r->program->info;
    if (info->args[0].kind == VC_ARG_ADDRESS) memcpy((char *)r->block + info->args[0].location, &x, 8);
    memcpy((char *)r->block + info->args[1].location, &work, 4);
}

/* Writes the implicit arguments once: they describe one launch with THREADS threads and never change. */
static void raw_hidden(raw *r) {
    const vc_info *info = r->program->info;
    if (info->argument_bytes > sizeof r->block)
        die("the block of values is larger than expected", (int)info->argument_bytes);
    for (int i = 0; i < info->implicit_count; i++) {
        uint32_t value = info->implicit[i].kind == VC_IMPLICIT_THREADS  ? (info->implicit[i].axis ? 1 : THREADS)
                         : info->implicit[i].kind == VC_IMPLICIT_GROUPS ? 1
                                                                        : 0;
        memcpy((char *)r->block + info->implicit[i].offset, &value, 4);
    }
}

static void raw_begin(raw *r) {
    VkCommandBufferBeginInfo begin = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                       .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT };
    NEED(r->vk.vkResetCommandPool(r->device, r->pool, 0));
    NEED(r->vk.vkBeginCommandBuffer(r->commands, &begin));
    r->vk.vkCmdBindPipeline(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, r->pipeline);
    if (r->set_layout)
        r->vk.vkCmdBindDescriptorSets(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, r->layout, 0, 1, r->sets, 0, NULL);
}

static void raw_dispatch(raw *r, VkDeviceAddress x, uint32_t work) {
    raw_values(r, x, work);
    r->vk.vkCmdPushConstants(r->commands, r->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, r->program->info->argument_bytes,
                             r->block);
    r->vk.vkCmdDispatch(r->commands, 1, 1, 1);
}

static void raw_barrier(raw *r, VkPipelineStageFlags from, VkAccessFlags writes, VkPipelineStageFlags to,
                        VkAccessFlags accesses) {
    VkMemoryBarrier barrier = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = writes,
                                .dstAccessMask = accesses };
    r->vk.vkCmdPipelineBarrier(r->commands, from, to, 0, 1, &barrier, 0, NULL, 0, NULL);
}

static void raw_barrier_compute(raw *r) {
    raw_barrier(r, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

/* Records dispatches first … count - 1, each dependent on the previous one. */
static void raw_record(raw *r, int first, int count) {
    for (int i = first; i < count; i++) {
        if (i) raw_barrier_compute(r);
        raw_dispatch(r, r->x.address, work_of(i));
    }
    if (!first) chain_expect(r->expected, count);
}

static void raw_finish(raw *r) {
    VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1,
                            .pCommandBuffers = &r->commands };
    NEED(r->vk.vkResetFences(r->device, 1, &r->fence));
    NEED(r->vk.vkQueueSubmit(r->queue, 1, &submit, r->fence));
    while (r->spin && r->vk.vkGetFenceStatus(r->device, r->fence) == VK_NOT_READY) { }
    NEED(r->vk.vkWaitForFences(r->device, 1, &r->fence, VK_TRUE, UINT64_MAX));
}

/* Runs a dispatch that adds nothing. */
static void raw_wake(raw *r) {
    VkCommandBuffer commands = r->commands;
    r->commands = r->replays[2];
    raw_finish(r);
    r->commands = commands;
}

/* Records the command buffers that are submitted many times. */
static void raw_prerecord(raw *r) {
    VkCommandPoolCreateInfo pool = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                     .queueFamilyIndex = r->family };
    NEED(r->vk.vkCreateCommandPool(r->device, &pool, NULL, &r->replay_pool));
    VkCommandBufferAllocateInfo allocate = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = r->replay_pool, .commandBufferCount = 3 };
    VkCommandBufferBeginInfo begin = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                       .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT };
    NEED(r->vk.vkAllocateCommandBuffers(r->device, &allocate, r->replays));
    VkCommandBuffer commands = r->commands;
    for (int i = 0; i < 3; i++) {
        r->commands = r->replays[i];
        NEED(r->vk.vkBeginCommandBuffer(r->commands, &begin));
        r->vk.vkCmdBindPipeline(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, r->pipeline);
        if (r->set_layout)
            r->vk.vkCmdBindDescriptorSets(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, r->layout, 0, 1, r->sets, 0,
                                          NULL);
        raw_barrier_compute(r);
        if (i == 2) raw_dispatch(r, r->x.address, 0);
        else raw_record(r, 0, i ? SHORT : CHAIN);
        NEED(r->vk.vkEndCommandBuffer(r->commands));
    }
    r->commands = commands;
    memset(r->expected, 0, sizeof r->expected);
}

/* Submits a recorded command buffer and waits for it. Returns like ours_replay. */
static double raw_replay(raw *r, int which, bool host) {
    VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1,
                            .pCommandBuffers = &r->replays[which] };
    if (!host) raw_wake(r);
    double start = host ? bench_busy() : bench_now();
    NEED(r->vk.vkResetFences(r->device, 1, &r->fence));
    NEED(r->vk.vkQueueSubmit(r->queue, 1, &submit, r->fence));
    double took = host ? bench_busy() - start : 0;
    NEED(r->vk.vkWaitForFences(r->device, 1, &r->fence, VK_TRUE, UINT64_MAX));
    if (!host) took = bench_now() - start;
    chain_expect(r->expected, which ? SHORT : CHAIN);
    return took;
}

static double raw_replay_host(void *side) { return raw_replay((raw *)side, 0, true); }
static double raw_replay_device(void *side) { return raw_replay((raw *)side, 0, false); }
static double raw_replay_short(void *side) { return raw_replay((raw *)side, 1, false); }

/* Begins a command buffer whose first dispatch depends on the previous command buffer. */
static void raw_begin_after(raw *r) {
    raw_begin(r);
    raw_barrier_compute(r);
}

static double raw_record_timed(raw *r, int count) {
    raw_begin_after(r);
    raw_dispatch(r, r->x.address, work_of(0));
    double start = bench_busy();
    raw_record(r, 1, count);
    double took = since(start, count - 1);
    chain_expect(r->expected, count);
    NEED(r->vk.vkEndCommandBuffer(r->commands));
    raw_finish(r);
    return took;
}

static double raw_record_list(void *side) { return raw_record_timed((raw *)side, CHAIN); }
static double raw_record_run(void *side) { return raw_record_timed((raw *)side, GATHERED); }

static void raw_dispatch_apart(raw *r, int i) {
    if (r->set_layout)
        r->vk.vkCmdBindDescriptorSets(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, r->layout, 0, 1, &r->sets[1 + i], 0,
                                      NULL);
    raw_dispatch(r, r->apart.address + (uint64_t)i * SLICE, step_of(i));
}

static double raw_record_apart(void *side) {
    raw *r = (raw *)side;
    raw_begin_after(r);
    raw_dispatch_apart(r, 0);
    double start = bench_busy();
    for (int i = 1; i < CHAIN; i++) raw_dispatch_apart(r, i);
    double took = since(start, CHAIN - 1);
    NEED(r->vk.vkEndCommandBuffer(r->commands));
    raw_finish(r);
    return took;
}

static double raw_chain_device(void *side) {
    raw *r = (raw *)side;
    raw_begin_after(r);
    raw_record(r, 0, CHAIN);
    NEED(r->vk.vkEndCommandBuffer(r->commands));
    raw_wake(r);
    double start = bench_now();
    raw_finish(r);
    return bench_now() - start;
}

static double raw_chain_total(void *side) {
    raw *r = (raw *)side;
    raw_wake(r);
    double start = bench_now();
    raw_begin_after(r);
    raw_record(r, 0, CHAIN);
    NEED(r->vk.vkEndCommandBuffer(r->commands));
    raw_finish(r);
    return bench_now() - start;
}

static double raw_short(void *side) {
    raw *r = (raw *)side;
    raw_wake(r);
    double start = bench_now();
    raw_begin_after(r);
    raw_record(r, 0, SHORT);
    NEED(r->vk.vkEndCommandBuffer(r->commands));
    raw_finish(r);
    return bench_now() - start;
}

static void raw_record_readback(raw *r, uint64_t bytes) {
    VkBufferCopy copy = { 0, 0, bytes };
    raw_barrier(r, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                VK_ACCESS_TRANSFER_READ_BIT);
    r->vk.vkCmdCopyBuffer(r->commands, r->x.handle, r->readback.handle, 1, &copy);
    raw_barrier(r, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                VK_ACCESS_HOST_READ_BIT);
}

static double raw_trip(raw *r, uint64_t bytes) {
    static uint32_t got[WORDS];
    double times[TRIPS];
    for (int i = 0; i < TRIPS; i++) {
        double start = bench_now();
        raw_begin_after(r);
        raw_dispatch(r, r->x.address, step_of(i));
        raw_record_readback(r, bytes);
        NEED(r->vk.vkEndCommandBuffer(r->commands));
        raw_finish(r);
        memcpy(got, r->readback.mapped, bytes);
        times[i] = bench_now() - start;
        r->expected[0] += step_of(i);
        if (got[0] != r->expected[0]) die("hand-written: wrong value read back", (int)got[0]);
    }
    return bench_median(times, TRIPS);
}

static double raw_trip_small(void *side) { return raw_trip((raw *)side, 4); }
static double raw_trip_large(void *side) { return raw_trip((raw *)side, 4 * WORDS); }

static double raw_trip_spinning(void *side) {
    raw *r = (raw *)side;
    r->spin = true;
    double took = raw_trip(r, 4);
    r->spin = false;
    return took;
}

static void raw_zero(raw *r) {
    raw_begin(r);
    r->vk.vkCmdFillBuffer(r->commands, r->x.handle, 0, VK_WHOLE_SIZE, 0);
    r->vk.vkCmdFillBuffer(r->commands, r->apart.handle, 0, VK_WHOLE_SIZE, 0);
    raw_barrier(r, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
        VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    NEED(r->vk.vkEndCommandBuffer(r->commands));
    raw_finish(r);
}

static void raw_open(raw *r, const program *p, const vd_device_info *info) {
    memset(r, 0, sizeof *r);
    r->program = p;
    raw_instance(r, info);
    raw_family(r);
    raw_device(r);
    r->x = raw_buffer_create(r, 4 * WORDS, false);
    r->apart = raw_buffer_create(r, CHAIN * SLICE, false);
    r->readback = raw_buffer_create(r, 4 * WORDS, true);
    r->frame = raw_buffer_create(r, 4 * FRAME_WORDS, false);
    if (p->form == VC_BUFFERS_BINDING) raw_sets(r);
    raw_pipeline(r);
    raw_queue_objects(r);
    raw_hidden(r);
    raw_zero(r);
    raw_prerecord(r);
}

static void raw_check(raw *r) {
    raw_begin_after(r);
    raw_record_readback(r, 4 * WORDS);
    NEED(r->vk.vkEndCommandBuffer(r->commands));
    raw_finish(r);
    int wrong = chain_check(r->readback.mapped, r->expected);
    if (wrong >= 0) die("hand-written: wrong counter", wrong);
}

static void raw_buffer_destroy(raw *r, raw_buffer *b) {
    r->vk.vkDestroyBuffer(r->device, b->handle, NULL);
    r->vk.vkFreeMemory(r->device, b->memory, NULL);
}

static void raw_close(raw *r) {
    raw_buffer_destroy(r, &r->frame);
    raw_buffer_destroy(r, &r->apart);
    raw_buffer_destroy(r, &r->x);
    raw_buffer_destroy(r, &r->readback);
    r->vk.vkDestroyFence(r->device, r->fence, NULL);
    r->vk.vkDestroyCommandPool(r->device, r->pool, NULL);
    r->vk.vkDestroyCommandPool(r->device, r->replay_pool, NULL);
    r->vk.vkDestroyPipeline(r->device, r->pipeline, NULL);
    r->vk.vkDestroyPipelineLayout(r->device, r->layout, NULL);
    r->vk.vkDestroyDescriptorPool(r->device, r->sets_pool, NULL);
    r->vk.vkDestroyDescriptorSetLayout(r->device, r->set_layout, NULL);
    r->vk.vkDestroyDevice(r->device, NULL);
    vkDestroyInstance(r->instance, NULL);
}

/* ---- readback some frames later, by hand ---- */

/* Each frame of the ring has its own command pool, fence and readback buffer. x is the buffer of frames. */
static void raw_late_open(const raw *r, raw ring[LATE]) {
    raw zeroed = *r;
    zeroed.x = r->frame;
    raw_zero(&zeroed);
    for (int i = 0; i < LATE; i++) {
        ring[i] = *r;
        ring[i].x = r->frame;
        ring[i].sets[0] = r->sets[1 + CHAIN];
        ring[i].readback = raw_buffer_create(r, 4 * FRAME_WORDS, true);
        raw_queue_objects(&ring[i]);
    }
}

/* Like ours_frame. */
static double raw_frame(void *side, int i, double *incomplete) {
    raw *r = (raw *)side + i % LATE;
    VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1,
                            .pCommandBuffers = &r->commands };
    double start = bench_busy();
    if (i >= LATE) {
        VkResult done = r->vk.vkGetFenceStatus(r->device, r->fence);
        if (done == VK_NOT_READY) {
            ++*incomplete;
            NEED(r->vk.vkWaitForFences(r->device, 1, &r->fence, VK_TRUE, UINT64_MAX));
        } else NEED(done);
        NEED(r->vk.vkResetFences(r->device, 1, &r->fence));
    }
    raw_begin(r);
    raw_barrier(r, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    raw_dispatch(r, r->x.address, 1);
    raw_record_readback(r, 4 * FRAME_WORDS);
    NEED(r->vk.vkEndCommandBuffer(r->commands));
    NEED(r->vk.vkQueueSubmit(r->queue, 1, &submit, r->fence));
    return bench_busy() - start;
}

/* Checks the number of frames that the last one has read back. */
static void raw_late_close(raw *ring, int frames) {
    NEED(ring->vk.vkDeviceWaitIdle(ring->device));
    uint32_t got = ring[(frames - 1) % LATE].readback.mapped[0];
    if (got != (uint32_t)frames) die("hand-written: wrong number of frames", (int)got);
    for (int i = 0; i < LATE; i++) {
        raw_buffer_destroy(&ring[i], &ring[i].readback);
        ring->vk.vkDestroyFence(ring->device, ring[i].fence, NULL);
        ring->vk.vkDestroyCommandPool(ring->device, ring[i].pool, NULL);
    }
}

static void bench_late_readback(ours *o, const raw *r, const char *form) {
    static bench_pair pair;
    static raw ring[LATE];
    ours_late l = { .o = o, .x = ours_buffer(o->ctx, VD_U32, FRAME_WORDS) };
    double warm[LATE * WARM], incomplete, raw_incomplete, allocations;
    char name[64];
    pair = (bench_pair){ .name = name, .size = "2MB", .rival = "vulkan", .rounds = FRAMES, .scale = 1e6, .unit = "us",
                         .bound = 1.2 };
    raw_late_open(r, ring);
    frames_run(raw_frame, ring, 0, LATE * WARM, warm, &raw_incomplete);
    frames_run(raw_frame, ring, LATE * WARM, FRAMES, pair.theirs, &raw_incomplete);
    raw_late_close(ring, LATE * WARM + FRAMES);
    frames_run(ours_frame, &l, 0, LATE * WARM, warm, &incomplete);
    allocations = (double)o->counter.calls;
    frames_run(ours_frame, &l, LATE * WARM, FRAMES, pair.ours, &incomplete);
    allocations = (double)o->counter.calls - allocations;
    for (int i = 0; i < LATE; i++) vd_read_end(o->ctx, l.ring[i]);
    snprintf(name, sizeof name, "late-readback-%s", form);
    bench_print(&pair);
    for (int i = 0; i < FRAMES; i++) pair.ours[i] *= pair.scale;
    snprintf(name, sizeof name, "late-time-%s", form);
    bench_print_alone(name, "2MB", pair.ours, FRAMES, pair.unit, 60);
    snprintf(name, sizeof name, "late-frames-%s", form);
    bench_print_alone(name, "2MB", &incomplete, 1, "frames", -1);
    snprintf(name, sizeof name, "late-allocations-%s", form);
    bench_print_alone(name, "2MB", &allocations, 1, "calls", 0);
    vd_buffer_destroy(o->ctx, l.x);
}

/* ---- comparing ---- */

static const comparison comparisons[] = {
    { "record-dependent", "1000", "vulkan", ours_record_list, raw_record_list, RECORD_ROUNDS, 1e6, "us/dispatch", 1.2 },
    { "record-dependent-run", "500", "vulkan", ours_record_run, raw_record_run, RECORD_ROUNDS, 1e6, "us/dispatch",
      1.2 },
    { "record-independent", "1000", "vulkan", ours_record_apart, raw_record_apart, RECORD_ROUNDS, 1e6, "us/dispatch",
      1.2 },
    { "chain-device", "1000", "vulkan", ours_chain_device, raw_chain_device, CHAIN_ROUNDS, 1e6 / CHAIN, "us/dispatch",
      1.05 },
    { "chain-with-recording", "1000", "vulkan", ours_chain, raw_chain_total, CHAIN_ROUNDS, 1e6 / CHAIN, "us/dispatch",
      1.05 },
    { "graph-replay-host", "1000", "vulkan", ours_replay_host, raw_replay_host, RECORD_ROUNDS, 1e6, "us", 0 },
    { "graph-replay-device", "1000", "vulkan", ours_replay_device, raw_replay_device, CHAIN_ROUNDS, 1e6 / CHAIN,
      "us/dispatch", 1.01 },
    { "graph-changed-host", "1000", "vulkan-unchanged", ours_changed_host, raw_replay_host, RECORD_ROUNDS, 1e6, "us",
      0 },
    { "graph-changed-device", "1000", "vulkan-unchanged", ours_changed_device, raw_replay_device, CHAIN_ROUNDS,
      1e6 / CHAIN, "us/dispatch", 1.03 },
    { "dependent", "16", "vulkan", ours_short, raw_short, TRIP_ROUNDS, 1e6, "us", 1.05 },
    { "graph-dependent", "16", "vulkan", ours_replay_short, raw_replay_short, TRIP_ROUNDS, 1e6, "us", 1.05 },
    { "roundtrip", "4B", "vulkan", ours_trip_small, raw_trip_small, TRIP_ROUNDS, 1e6, "us", 1 },
    { "roundtrip", "64KiB", "vulkan", ours_trip_large, raw_trip_large, TRIP_ROUNDS, 1e6, "us", 1 },
    { "roundtrip", "4B", "vulkan-spinning", ours_trip_small, raw_trip_spinning, TRIP_ROUNDS, 1e6, "us", 0 },
};
enum { COMPARISONS = sizeof comparisons / sizeof *comparisons };

/* Both sides are ours: disjoint views beside one chain. 1.8 times the throughput. */
static const comparison overlap = { "overlap", "1000", "dependent", ours_apart_device, ours_chain_device, CHAIN_ROUNDS,
                                    1e6 / CHAIN, "us/dispatch", 1 / 1.8 };

static void bench_form(bool binding) {
    static ours o;
    static raw r;
    program p;
    const char *form = binding ? "binding" : "address";
    double allocations = 0;
    if (ours_open(&o, VD_BACKEND_VULKAN, binding ? VD_FEATURE_ADDRESS : 0)) {
        bench_not_run("dispatch", form, vd_error_text());
        return;
    }
    const vd_device_info *info = vd_device(o.ctx, 0);
    if (!binding && !(info->features & VD_FEATURE_ADDRESS)) {
        bench_not_run("dispatch", form, "the device has no buffer addresses");
        vd_context_destroy(o.ctx);
        return;
    }
    printf("# %s, %s, buffers by %s\n", info->name, info->driver, form);
    program_make(&p, o.ctx, binding ? VC_BUFFERS_BINDING : VC_BUFFERS_ADDRESS);
    ours_start(&o, vd_kernel_build(o.ctx, p.builder));
    vd_view_desc view = { 0 };
    view.buffer = ours_buffer(o.ctx, VD_U32, CHAIN * THREADS);
    view.type = VD_U32;
    view.shape[0] = THREADS;
    for (int i = 0; i < CHAIN; i++) {
        apart[i] = ours_buffer(o.ctx, VD_U32, THREADS);
        view.offset = (uint64_t)i * THREADS * 4;
        views[i] = vd_buffer_view(o.ctx, &view);
        if (!views[i].id) die("vd_buffer_view", i);
    }
    chain_graph = ours_graph(&o, CHAIN, false);
    changed_graph = ours_graph(&o, CHAIN, true);
    short_graph = ours_graph(&o, SHORT, false);
    raw_open(&r, &p, info);
    for (int i = 0; i < COMPARISONS; i++) allocations += (double)compare(&comparisons[i], form, &o.counter, &o, &r);
    allocations += (double)compare(&overlap, form, &o.counter, &o, &o);
    ours_check(&o);
    raw_check(&r);
    bench_print_alone(binding ? "allocations-binding" : "allocations-address", "second-and-later-calls", &allocations,
                      1, "calls", 0);
    bench_tracking(&o, form);
    bench_late_readback(&o, &r, form);
    raw_close(&r);
    vc_free(p.builder);
    vd_context_destroy(o.ctx);
}

/* ---- copies: by the runtime, compared with the copy command of the driver ---- */

typedef struct copying {
    vd_context *ctx;
    vd_buffer from, to;
    uint64_t bytes;
} copying;

/* Returns false if there is no such device. `how` is the value of VKDISPATCH_COPIES, NULL for the default. */
static bool copying_open(copying *c, const char *how) {
    vd_context_desc desc = { 0 };
    desc.backend = VD_BACKEND_VULKAN;
    if (how) setenv("VKDISPATCH_COPIES", how, 1);
    vd_result r = vd_context_create(&desc, &c->ctx);
    unsetenv("VKDISPATCH_COPIES");
    if (r) return false;
    c->bytes = vd_device(c->ctx, 0)->type == VD_DEVICE_DISCRETE ? 512u << 20 : 16u << 20;
    c->from = ours_buffer(c->ctx, VD_BYTES, c->bytes);
    c->to = ours_buffer(c->ctx, VD_BYTES, c->bytes);
    NEED(vd_wait_idle(c->ctx));
    return true;
}

static double copying_copy(void *side) {
    copying *c = (copying *)side;
    double start = bench_now();
    NEED(vd_copy(vd_immediate(c->ctx, 0, 0), c->to, 0, c->from, 0, VD_WHOLE));
    NEED(vd_wait_idle(c->ctx));
    return bench_now() - start;
}

static double copying_fill(void *side) {
    copying *c = (copying *)side;
    double start = bench_now();
    NEED(vd_fill(vd_immediate(c->ctx, 0, 0), c->to, 0, VD_WHOLE, NULL, 0));
    NEED(vd_wait_idle(c->ctx));
    return bench_now() - start;
}

/* The fill has no bound: it shows whether fills too should use a kernel. */
static void bench_copies(void) {
    copying mine, driver;
    counting none = { 0 };
    if (!copying_open(&mine, NULL)) {
        bench_not_run("copy", "large", vd_error_text());
        return;
    }
    if (!copying_open(&driver, "driver")) die("the same device opens once only", 0);
    const char *size = mine.bytes >> 20 == 512 ? "512MiB" : "16MiB";
    const comparison copy = { "copy", size, "vkCmdCopyBuffer", copying_copy, copying_copy, TRIP_ROUNDS, 1e3, "ms",
                              1.1 };
    const comparison fill = { "fill", size, "copy", copying_fill, copying_copy, TRIP_ROUNDS, 1e3, "ms", 0 };
    compare(&copy, NULL, &none, &mine, &driver);
    compare(&fill, NULL, &none, &mine, &mine);
    vd_context_destroy(mine.ctx);
    vd_context_destroy(driver.ctx);
}

/* ---- dispatches that do not wait, for tools/bench/original ---- */

/* Returns the wall-clock time of a dispatch: in a graph of `size`, or for 0 by a call. */
static double submit_many(ours *o, vd_graph graph, int size, int count) {
    double start = bench_now();
    for (int i = 0; i < count; i++) {
        if (size) NEED(vd_graph_submit(o->ctx, graph, NULL, NULL));
        else {
            NEED(vd_run(o->ctx, o->kernel, THREADS, vd_b(o->x), vd_u32(work_of(0))));
            NEED(vd_flush(o->ctx));
        }
        chain_expect(o->expected, size ? size : 1);
    }
    NEED(vd_wait_idle(o->ctx));
    return (bench_now() - start) / count / (size ? size : 1);
}

static void bench_without_waiting(void) {
    static const struct { const char *name; int size, count; } rows[] = {
        { "call", 0, 5000 }, { "graph-1", 1, 5000 }, { "graph-100", 100, 250 }, { "graph-1000", 1000, 25 }
    };
    static ours o;
    double times[CHAIN_ROUNDS];
    if (ours_open(&o, VD_BACKEND_DEFAULT, 0)) {
        bench_not_run("dispatch", "call", vd_error_text());
        return;
    }
    vc_kernel *k = ours_builder(o.ctx, VC_BUFFERS_DEFAULT);
    ours_start(&o, vd_kernel_build(o.ctx, k));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vd_graph graph = { 0 };
        if (rows[i].size) graph = ours_graph(&o, rows[i].size, false);
        submit_many(&o, graph, rows[i].size, rows[i].count);
        for (int round = 0; round < CHAIN_ROUNDS; round++)
            times[round] = 1e6 * submit_many(&o, graph, rows[i].size, rows[i].count);
        bench_print_alone(rows[i].name, "64", times, CHAIN_ROUNDS, "us", -1);
    }
    ours_check(&o);
    vc_free(k);
    vd_context_destroy(o.ctx);
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) {
        bench_without_waiting();
        return 0;
    }
    bench_form(false);
    bench_form(true);
    bench_copies();
    return 0;
}
