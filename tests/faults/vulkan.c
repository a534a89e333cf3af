/* Every Vulkan call of a program that may fail does so once, from then on, and with a lost device. Outputs of failed
   calls are filled with garbage. The program must terminate, must not pass garbage back to the driver, must report an
   error or have the right result, and must destroy everything. The library gets the driver through
   desc.get_instance_proc_addr. */
#define _POSIX_C_SOURCE 200809L
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include "tests/faults/program.h"

/* ---- the driver ---- */

static struct {
    PFN_vkGetInstanceProcAddr instance_proc;
    PFN_vkGetDeviceProcAddr device_proc;
    long idle_call, early;     /* the first vkDeviceWaitIdle; objects destroyed after that call failed */
    bool running;              /* vkDeviceWaitIdle failed */
    VkSemaphore read, readable; /* the timeline that was read last; the one that can always be read */
} vulkan;

static VkResult refusal(const char *name) {
    if (!refused(name)) return VK_SUCCESS;
    return driver.manner == LOST ? VK_ERROR_DEVICE_LOST : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static bool object_destroyed(uint64_t handle) {
    vulkan.early += handle && vulkan.running;
    return destroyed(handle);
}

/* name, parameters, arguments, the output and its size */
#define MAKERS(X) \
    X(vkCreateInstance, (const VkInstanceCreateInfo *a, const VkAllocationCallbacks *b, VkInstance *out), (a, b, out)) \
    X(vkCreateDevice, (VkPhysicalDevice a, const VkDeviceCreateInfo *b, const VkAllocationCallbacks *c, \
        VkDevice *out), (a, b, c, out)) \
    X(vkCreateSemaphore, (VkDevice a, const VkSemaphoreCreateInfo *b, const VkAllocationCallbacks *c, \
        VkSemaphore *out), (a, b, c, out)) \
    X(vkAllocateMemory, (VkDevice a, const VkMemoryAllocateInfo *b, const VkAllocationCallbacks *c, \
        VkDeviceMemory *out), (a, b, c, out)) \
    X(vkCreateBuffer, (VkDevice a, const VkBufferCreateInfo *b, const VkAllocationCallbacks *c, VkBuffer *out), \
        (a, b, c, out)) \
    X(vkCreateShaderModule, (VkDevice a, const VkShaderModuleCreateInfo *b, const VkAllocationCallbacks *c, \
        VkShaderModule *out), (a, b, c, out)) \
    X(vkCreatePipelineCache, (VkDevice a, const VkPipelineCacheCreateInfo *b, const VkAllocationCallbacks *c, \
        VkPipelineCache *out), (a, b, c, out)) \
    X(vkCreatePipelineLayout, (VkDevice a, const VkPipelineLayoutCreateInfo *b, const VkAllocationCallbacks *c, \
        VkPipelineLayout *out), (a, b, c, out)) \
    X(vkCreateComputePipelines, (VkDevice a, VkPipelineCache b, uint32_t c, const VkComputePipelineCreateInfo *d, \
        const VkAllocationCallbacks *e, VkPipeline *out), (a, b, c, d, e, out)) \
    X(vkCreateDescriptorSetLayout, (VkDevice a, const VkDescriptorSetLayoutCreateInfo *b, \
        const VkAllocationCallbacks *c, VkDescriptorSetLayout *out), (a, b, c, out)) \
    X(vkCreateDescriptorPool, (VkDevice a, const VkDescriptorPoolCreateInfo *b, const VkAllocationCallbacks *c, \
        VkDescriptorPool *out), (a, b, c, out)) \
    X(vkCreateCommandPool, (VkDevice a, const VkCommandPoolCreateInfo *b, const VkAllocationCallbacks *c, \
        VkCommandPool *out), (a, b, c, out)) \
    X(vkCreateQueryPool, (VkDevice a, const VkQueryPoolCreateInfo *b, const VkAllocationCallbacks *c, \
        VkQueryPool *out), (a, b, c, out)) \
    X(vkCreateImage, (VkDevice a, const VkImageCreateInfo *b, const VkAllocationCallbacks *c, VkImage *out), \
        (a, b, c, out)) \
    X(vkCreateImageView, (VkDevice a, const VkImageViewCreateInfo *b, const VkAllocationCallbacks *c, \
        VkImageView *out), (a, b, c, out)) \
    X(vkCreateSampler, (VkDevice a, const VkSamplerCreateInfo *b, const VkAllocationCallbacks *c, VkSampler *out), \
        (a, b, c, out))

/* Functions whose output is not an object to destroy. */
#define GETTERS(X) \
    X(vkEnumerateInstanceVersion, (uint32_t *out), (out)) \
    X(vkEnumerateInstanceExtensionProperties, (const char *a, uint32_t *out, VkExtensionProperties *b), (a, out, b)) \
    X(vkEnumerateInstanceLayerProperties, (uint32_t *out, VkLayerProperties *a), (out, a)) \
    X(vkEnumeratePhysicalDevices, (VkInstance a, uint32_t *out, VkPhysicalDevice *b), (a, out, b)) \
    X(vkEnumerateDeviceExtensionProperties, (VkPhysicalDevice a, const char *b, uint32_t *out, \
        VkExtensionProperties *c), (a, b, out, c)) \
    X(vkMapMemory, (VkDevice a, VkDeviceMemory b, VkDeviceSize c, VkDeviceSize d, VkMemoryMapFlags e, void **out), \
        (a, b, c, d, e, out)) \
    X(vkAllocateDescriptorSets, (VkDevice a, const VkDescriptorSetAllocateInfo *b, VkDescriptorSet *out), (a, b, out)) \
    X(vkAllocateCommandBuffers, (VkDevice a, const VkCommandBufferAllocateInfo *b, VkCommandBuffer *out), (a, b, out)) \
    X(vkGetPipelineCacheData, (VkDevice a, VkPipelineCache b, size_t *out, void *c), (a, b, out, c)) \
    X(vkGetMemoryFdKHR, (VkDevice a, const VkMemoryGetFdInfoKHR *b, int *out), (a, b, out))

#define ACTIONS(X) \
    X(vkGetQueryPoolResults, (VkDevice a, VkQueryPool b, uint32_t c, uint32_t d, size_t e, void *f, VkDeviceSize g, \
        VkQueryResultFlags h), (a, b, c, d, e, f, g, h)) \
    X(vkQueueSubmit, (VkQueue a, uint32_t b, const VkSubmitInfo *c, VkFence d), (a, b, c, d)) \
    X(vkFlushMappedMemoryRanges, (VkDevice a, uint32_t b, const VkMappedMemoryRange *c), (a, b, c)) \
    X(vkInvalidateMappedMemoryRanges, (VkDevice a, uint32_t b, const VkMappedMemoryRange *c), (a, b, c)) \
    X(vkMergePipelineCaches, (VkDevice a, VkPipelineCache b, uint32_t c, const VkPipelineCache *d), (a, b, c, d)) \
    X(vkBindBufferMemory, (VkDevice a, VkBuffer b, VkDeviceMemory c, VkDeviceSize d), (a, b, c, d)) \
    X(vkBindImageMemory, (VkDevice a, VkImage b, VkDeviceMemory c, VkDeviceSize d), (a, b, c, d)) \
    X(vkResetCommandPool, (VkDevice a, VkCommandPool b, VkCommandPoolResetFlags c), (a, b, c)) \
    X(vkBeginCommandBuffer, (VkCommandBuffer a, const VkCommandBufferBeginInfo *b), (a, b)) \
    X(vkEndCommandBuffer, (VkCommandBuffer a), (a))

/* Functions that wait even if they fail: work has ended when the device is lost. */
#define WAITS(X) \
    X(vkWaitSemaphores, (VkDevice a, const VkSemaphoreWaitInfo *b, uint64_t c), (a, b, c))

#define DESTROYERS(X) \
    X(vkDestroySemaphore, VkSemaphore) \
    X(vkFreeMemory, VkDeviceMemory) \
    X(vkDestroyBuffer, VkBuffer) \
    X(vkDestroyShaderModule, VkShaderModule) \
    X(vkDestroyPipelineCache, VkPipelineCache) \
    X(vkDestroyPipelineLayout, VkPipelineLayout) \
    X(vkDestroyPipeline, VkPipeline) \
    X(vkDestroyDescriptorSetLayout, VkDescriptorSetLayout) \
    X(vkDestroyDescriptorPool, VkDescriptorPool) \
    X(vkDestroyCommandPool, VkCommandPool) \
    X(vkDestroyQueryPool, VkQueryPool) \
    X(vkDestroyImage, VkImage) \
    X(vkDestroyImageView, VkImageView) \
    X(vkDestroySampler, VkSampler)

#define POINTER(name) static PFN_##name real_##name;
#define POINTER_3(name, parameters, arguments) POINTER(name)
#define POINTER_2(name, type) POINTER(name)
MAKERS(POINTER_3) GETTERS(POINTER_3) ACTIONS(POINTER_3) WAITS(POINTER_3) DESTROYERS(POINTER_2)
POINTER(vkDestroyInstance) POINTER(vkDestroyDevice) POINTER(vkGetSemaphoreCounterValue) POINTER(vkDeviceWaitIdle)

#define MAKER(name, parameters, arguments) \
    static VKAPI_ATTR VkResult VKAPI_CALL fault_##name parameters { \
        VkResult result = refusal(#name); \
        if (result) poison(out, sizeof *out); \
        else if ((result = real_##name arguments) >= 0) driver.live++; \
        return result; \
    }
MAKERS(MAKER)

#define GETTER(name, parameters, arguments) \
    static VKAPI_ATTR VkResult VKAPI_CALL fault_##name parameters { \
        VkResult result = refusal(#name); \
        if (result) poison(out, sizeof *out); \
        return result ? result : real_##name arguments; \
    }
GETTERS(GETTER)

#define ACTION(name, parameters, arguments) \
    static VKAPI_ATTR VkResult VKAPI_CALL fault_##name parameters { \
        VkResult result = refusal(#name); \
        return result ? result : real_##name arguments; \
    }
ACTIONS(ACTION)

#define WAIT(name, parameters, arguments) \
    static VKAPI_ATTR VkResult VKAPI_CALL fault_##name parameters { \
        VkResult result = refusal(#name), real = real_##name arguments; \
        return result ? result : real; \
    }
WAITS(WAIT)

#define DESTROYER(name, type) \
    static VKAPI_ATTR void VKAPI_CALL fault_##name(VkDevice device, type handle, \
        const VkAllocationCallbacks *callbacks) { \
        if (object_destroyed((uint64_t)handle)) real_##name(device, handle, callbacks); \
    }
DESTROYERS(DESTROYER)

/* Waits even if it fails: it is the last call of a program. */
static VKAPI_ATTR VkResult VKAPI_CALL fault_vkDeviceWaitIdle(VkDevice device) {
    VkResult result = refusal("vkDeviceWaitIdle"), real = real_vkDeviceWaitIdle(device);
    if (!vulkan.idle_call) vulkan.idle_call = driver.calls;
    vulkan.running = result && result != VK_ERROR_DEVICE_LOST;
    return result ? result : real;
}

static VKAPI_ATTR VkResult VKAPI_CALL
fault_vkGetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore, uint64_t *out) {
    VkResult result = semaphore == vulkan.readable ? VK_SUCCESS : refusal("vkGetSemaphoreCounterValue");
    vulkan.read = semaphore;
    if (result) poison(out, sizeof *out);
    return result ? result : real_vkGetSemaphoreCounterValue(device, semaphore, out);
}

static VKAPI_ATTR void VKAPI_CALL fault_vkDestroyInstance(VkInstance instance, const VkAllocationCallbacks *callbacks) {
    if (object_destroyed((uint64_t)(uintptr_t)instance)) real_vkDestroyInstance(instance, callbacks);
}

static VKAPI_ATTR void VKAPI_CALL fault_vkDestroyDevice(VkDevice device, const VkAllocationCallbacks *callbacks) {
    if (object_destroyed((uint64_t)(uintptr_t)device)) real_vkDestroyDevice(device, callbacks);
}

/* The replacement of a driver function. */
static PFN_vkVoidFunction replaced(const char *name, PFN_vkVoidFunction real) {
    if (!real) return NULL;
#define REPLACE(call) \
    if (!strcmp(name, #call)) { real_##call = (PFN_##call)real; return (PFN_vkVoidFunction)fault_##call; }
#define REPLACE_3(call, parameters, arguments) REPLACE(call)
#define REPLACE_2(call, type) REPLACE(call)
    MAKERS(REPLACE_3)
    GETTERS(REPLACE_3)
    ACTIONS(REPLACE_3)
    WAITS(REPLACE_3)
    DESTROYERS(REPLACE_2)
    REPLACE(vkDestroyInstance)
    REPLACE(vkDestroyDevice)
    REPLACE(vkGetSemaphoreCounterValue)
    REPLACE(vkDeviceWaitIdle)
    return real;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name) {
    return replaced(name, vulkan.device_proc(device, name));
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char *name) {
    PFN_vkVoidFunction real = vulkan.instance_proc(instance, name);
    if (strcmp(name, "vkGetDeviceProcAddr") != 0) return replaced(name, real);
    vulkan.device_proc = (PFN_vkGetDeviceProcAddr)real;
    return (PFN_vkVoidFunction)device_proc;
}

/* ---- the tests ---- */

static vd_context_desc make_desc(int queues, uint64_t disable) {
    vd_context_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_VULKAN;
    desc.queues = queues;
    desc.disable = disable;
    desc.get_instance_proc_addr = (void (*)(void))instance_proc;
    return desc;
}

/* The configurations have most calls in common: one of them is run with all manners. */
static void refuse_each_without(uint64_t disable, bool rotate) {
    vd_context_desc desc = make_desc(2, disable);
    long runs, errors = refuse_each(&desc, MANNERS, rotate, &runs);
    assert_true(errors > runs / MANNERS);
}

static void buffers_by_address(void **state) {
    (void)state;
    refuse_each_without(0, false);
}

static void buffers_by_binding(void **state) {
    (void)state;
    refuse_each_without(VD_FEATURE_ADDRESS, true);
}

static void staging_memory(void **state) {
    (void)state;
    refuse_each_without(VD_FEATURE_MAPPED | VD_FEATURE_COHERENT | VD_FEATURE_CACHED, true);
}

static void pipeline_cache(void **state) {
    (void)state;
    char folder[] = "/tmp/vd-faults-XXXXXX";
    assert_non_null(mkdtemp(folder));
    vd_context_desc desc = make_desc(2, 0);
    desc.cache_directory = folder;
    long runs, errors = refuse_each(&desc, MANNERS, true, &runs);
    assert_true(errors > runs / MANNERS);
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        if (e->d_name[0] != '.') assert_int_equal(unlinkat(dirfd(d), e->d_name, 0), 0);
    closedir(d);
    assert_int_equal(rmdir(folder), 0);
}

static vd_context *open_context(int queues) {
    vd_context_desc desc = make_desc(queues, 0);
    vd_context *ctx = NULL;
    driver.refuse = 0;
    driver.name = NULL;
    driver.manner = FOR_EVER;
    vulkan.readable = VK_NULL_HANDLE;
    vulkan.idle_call = 0;
    vd_result r = vd_context_create(&desc, &ctx);
    skip_without_device(r);
    assert_int_equal(r, VD_OK);
    return ctx;
}

static vd_buffer make_buffer(vd_context *ctx) {
    vd_buffer_desc numbers;
    memset(&numbers, 0, sizeof numbers);
    numbers.type = VD_U32;
    numbers.shape[0] = COUNT;
    vd_buffer b = vd_buffer_create(ctx, &numbers);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    return b;
}

/* Submits a fill. */
static vd_event fill(vd_context *ctx, int queue, vd_buffer b) {
    vd_event event;
    assert_int_equal(vd_fill(vd_immediate(ctx, 0, queue), b, 0, VD_WHOLE, NULL, 0), VD_OK);
    assert_int_equal(vd_submit(vd_immediate(ctx, 0, queue), NULL, &event), VD_OK);
    return event;
}

/* The kernel that probes the device must finish before its objects are destroyed; if waiting for it fails, the device
   is not opened. */
static void waiting_for_the_probe_kernel_fails(void **state) {
    (void)state;
    vd_context *ctx = open_context(1);
    long probed = vulkan.idle_call;
    vd_context_destroy(ctx);
    if (!probed) {
        print_message("# reason: this device is not probed\n");
        skip();
    }
    vd_context_desc desc = make_desc(2, 0);
    vulkan.idle_call = 0;
    assert_int_equal(run_refusing(&desc, 0, ONCE), VD_OK);
    long call = vulkan.idle_call;
    vulkan.early = 0;
    assert_int_equal(run_refusing(&desc, call, ONCE), VD_OK);
    assert_int_equal(vulkan.early, 0);
    assert_int_equal(run_refusing(&desc, call, FOR_EVER), VD_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(vd_error_text(), "vkDeviceWaitIdle failed"));
    assert_int_equal(run_refusing(&desc, call, LOST), VD_ERROR_DEVICE_LOST);
    assert_non_null(strstr(vd_error_text(), "vkDeviceWaitIdle failed"));
}

/* Only reading the timeline fails, permanently; each way of waiting must detect it. */
static void reading_the_timeline_fails(void **state) {
    (void)state;
    for (int way = 0; way < 3; way++) {
        vd_context *ctx = open_context(1);
        vd_buffer b = make_buffer(ctx);
        uint32_t out[4];
        const void *data = NULL;
        vd_ticket ticket = { 0 };
        vd_read_desc read;
        memset(&read, 0, sizeof read);
        read.buffer = b;
        read.size = sizeof out;
        if (way == 2) assert_int_equal(vd_read_begin(vd_immediate(ctx, 0, 0), &read, &ticket), VD_OK);
        fill(ctx, 0, b);
        driver.name = "vkGetSemaphoreCounterValue";
        alarm(60);
        vd_result r = VD_OK;
        if (way == 0) r = vd_wait_idle(ctx);
        if (way == 1) r = vd_buffer_read(ctx, b, 0, out, sizeof out);
        while (way == 2 && (r = vd_read_ready(ctx, ticket, 0, &data)) == VD_TIMEOUT) {}
        alarm(0);
        assert_int_equal(r, VD_ERROR_DEVICE_LOST);
        vd_context_destroy(ctx);
        assert_int_equal(driver.live, 0);
    }
}

/* A driver that is short of memory for some milliseconds causes no loss, however often the timeline is polled. */
static void reading_the_timeline_fails_for_a_while(void **state) {
    (void)state;
    vd_context *ctx = open_context(1);
    vd_event event = fill(ctx, 0, make_buffer(ctx));
    driver.name = "vkGetSemaphoreCounterValue";
    uint64_t end = vd_time_ns() + 20000000;
    while (vd_time_ns() < end) assert_int_equal(vd_wait(ctx, event, 0), VD_TIMEOUT);
    driver.name = NULL;
    assert_int_equal(vd_wait(ctx, event, VD_FOREVER), VD_OK);
    vd_context_destroy(ctx);
    assert_int_equal(driver.live, 0);
}

/* A wait ends with an error although the timeline of another queue can be read. */
static void reading_one_timeline_fails(void **state) {
    (void)state;
    vd_context *ctx = open_context(2);
    vd_buffer a = make_buffer(ctx), b = make_buffer(ctx);
    assert_int_equal(vd_wait(ctx, fill(ctx, 0, a), VD_FOREVER), VD_OK);
    vulkan.readable = vulkan.read;
    vd_event event = fill(ctx, 1, b);
    driver.name = "vkGetSemaphoreCounterValue";
    uint64_t end = vd_time_ns() + (uint64_t)20 * 1000000000u;
    vd_result r = VD_TIMEOUT;
    while (r == VD_TIMEOUT && vd_time_ns() < end) {
        assert_int_equal(vd_wait(ctx, fill(ctx, 0, a), VD_FOREVER), VD_OK);
        r = vd_wait(ctx, event, 0);
    }
    assert_int_equal(r, VD_ERROR_DEVICE_LOST);
    vd_context_destroy(ctx);
    vulkan.readable = VK_NULL_HANDLE;
    assert_int_equal(driver.live, 0);
}

int main(void) {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL),
         *found = library ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
    if (!found) {
        printf("# reason: there is no libvulkan.so.1\nok 1 - faults on vulkan # SKIP all of its tests\n1..1\n");
        return 0;
    }
    memcpy(&vulkan.instance_proc, &found, sizeof found);
    const struct CMUnitTest tests[] = { cmocka_unit_test(buffers_by_address),
                                        cmocka_unit_test(buffers_by_binding),
                                        cmocka_unit_test(staging_memory),
                                        cmocka_unit_test(pipeline_cache),
                                        cmocka_unit_test(reading_the_timeline_fails),
                                        cmocka_unit_test(reading_the_timeline_fails_for_a_while),
                                        cmocka_unit_test(reading_one_timeline_fails),
                                        cmocka_unit_test(waiting_for_the_probe_kernel_fails) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
