/* A Vulkan driver that supports sparse resources, for devices whose driver does not. The functions below replace those
   of the instance; emulated_device_proc of the program, those of the device that create and bind its resources. */
#ifndef CONFORMANCE_SPARSE_DRIVER_H
#define CONFORMANCE_SPARSE_DRIVER_H

#include "tests/conformance/common.h"

#include <dlfcn.h>
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

static struct {
    PFN_vkGetInstanceProcAddr instance_proc;
    PFN_vkGetDeviceProcAddr device_proc;
    PFN_vkGetPhysicalDeviceFeatures2 features;
    PFN_vkGetPhysicalDeviceProperties2 properties;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties families;
    PFN_vkGetPhysicalDeviceImageFormatProperties image_format;
    PFN_vkCreateDevice create_device;
    PFN_vkAllocateMemory allocate;
    PFN_vkFreeMemory release;
    PFN_vkQueueSubmit submit;
    PFN_vkQueueWaitIdle idle;
    int wrong; /* calls with wrong arguments */
} driver;

/* Returns the replacement of a function of the device, or the function of the driver. */
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL emulated_device_proc(VkDevice device, const char *name);

static VKAPI_ATTR void VKAPI_CALL emulated_features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *out) {
    driver.features(device, out);
    out->features.sparseBinding = out->features.sparseResidencyBuffer = VK_TRUE;
    out->features.sparseResidencyImage2D = out->features.sparseResidencyImage3D = VK_TRUE;
}

static VKAPI_ATTR void VKAPI_CALL emulated_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *out) {
    driver.properties(device, out);
    out->properties.limits.sparseAddressSpaceSize = (VkDeviceSize)1 << 30;
    out->properties.sparseProperties.residencyNonResidentStrict = VK_TRUE;
}

static VKAPI_ATTR void VKAPI_CALL emulated_families(VkPhysicalDevice device, uint32_t *count,
                                                    VkQueueFamilyProperties *out) {
    driver.families(device, count, out);
    for (uint32_t i = 0; out && i < *count; i++) out[i].queueFlags |= VK_QUEUE_SPARSE_BINDING_BIT;
}

enum { SPARSE_FLAGS = VK_IMAGE_CREATE_SPARSE_BINDING_BIT | VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT };

static VKAPI_ATTR VkResult VKAPI_CALL emulated_image_format(VkPhysicalDevice device, VkFormat format, VkImageType type,
                                                            VkImageTiling tiling, VkImageUsageFlags usage,
                                                            VkImageCreateFlags flags, VkImageFormatProperties *out) {
    if (flags & SPARSE_FLAGS && type == VK_IMAGE_TYPE_1D) return VK_ERROR_FORMAT_NOT_SUPPORTED;
    return driver.image_format(device, format, type, tiling, usage, flags & ~(VkImageCreateFlags)SPARSE_FLAGS, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL emulated_create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                             const VkAllocationCallbacks *a, VkDevice *out) {
    VkPhysicalDeviceFeatures *enabled = &((VkPhysicalDeviceFeatures2 *)(uintptr_t)info->pNext)->features;
    driver.wrong += !enabled->sparseBinding || !enabled->sparseResidencyBuffer;
#ifndef VKDISPATCH_NO_IMAGES
    driver.wrong += !enabled->sparseResidencyImage2D || !enabled->sparseResidencyImage3D;
#endif
    enabled->sparseBinding = enabled->sparseResidencyBuffer = VK_FALSE;
    enabled->sparseResidencyImage2D = enabled->sparseResidencyImage3D = VK_FALSE;
    return driver.create_device(physical, info, a, out);
}

/* Stores the function `name` of the device in `pointer`. */
#define FIND(pointer, name) do { \
        PFN_vkVoidFunction found_ = driver.device_proc(device, #name); \
        memcpy((void *)&(pointer), (void *)&found_, sizeof found_); \
    } while (0)

/* In emulated_device_proc: replaces the function `function`. */
#define REPLACE(pointer, function, replacement) \
    if (!strcmp(name, #function)) { \
        FIND(pointer, function); \
        return (PFN_vkVoidFunction)replacement; \
    }

static inline void driver_find(VkDevice device) {
    FIND(driver.allocate, vkAllocateMemory);
    FIND(driver.release, vkFreeMemory);
    FIND(driver.submit, vkQueueSubmit);
    FIND(driver.idle, vkQueueWaitIdle);
}

/* Waits for and signals the semaphores of a call of vkQueueBindSparse. */
static inline VkResult driver_signal(VkQueue queue, const VkBindSparseInfo *info, VkFence fence) {
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSubmitInfo submit = { VK_STRUCTURE_TYPE_SUBMIT_INFO, info->pNext, info->waitSemaphoreCount, info->pWaitSemaphores,
                            &stage, 0, NULL, info->signalSemaphoreCount, info->pSignalSemaphores };
    return driver.submit(queue, 1, &submit, fence);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL emulated_proc(VkInstance instance, const char *name) {
    PFN_vkVoidFunction found = driver.instance_proc(instance, name);
#define HOOK(member, function, replacement) \
    if (found && !strcmp(name, #function)) { \
        memcpy((void *)&driver.member, (void *)&found, sizeof found); \
        return (PFN_vkVoidFunction)replacement; \
    }
    HOOK(features, vkGetPhysicalDeviceFeatures2, emulated_features)
    HOOK(properties, vkGetPhysicalDeviceProperties2, emulated_properties)
    HOOK(families, vkGetPhysicalDeviceQueueFamilyProperties, emulated_families)
    HOOK(image_format, vkGetPhysicalDeviceImageFormatProperties, emulated_image_format)
    HOOK(create_device, vkCreateDevice, emulated_create_device)
    HOOK(device_proc, vkGetDeviceProcAddr, emulated_device_proc)
#undef HOOK
    return found;
}

/* Sets the loader of a desc to this driver. Returns false if the backend has no loader. */
static inline bool driver_open(const fixture *f, vd_context_desc *desc) {
    void *library = f->backend == VD_BACKEND_VULKAN ? dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
    void *found = library ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
    if (!found) return false;
    memcpy((void *)&driver.instance_proc, &found, sizeof found);
    desc->get_instance_proc_addr = (void (*)(void))emulated_proc;
    return true;
}

#endif
