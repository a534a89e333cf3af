/* Used by the programs of tests/compile/link: calls of the library, and calls of Vulkan by the application. C99 and
   C++11. */
#include <stdio.h>
#include <string.h>

enum { SKIPPED = 77 };

/* Fills a buffer on a Vulkan device and reads it back. Returns 0, 1 on failure, or SKIPPED if there is no device.
   `loader`: PFN_vkGetInstanceProcAddr or NULL. */
static int use_library_by(void (*loader)(void))
{
    vd_context_desc desc;
    vd_buffer_desc numbers;
    vd_context *context = NULL;
    vd_buffer buffer;
    unsigned words[4] = { 1, 2, 3, 4 };
    int failed;
    memset(&desc, 0, sizeof desc);
    memset(&numbers, 0, sizeof numbers);
    desc.backend = VD_BACKEND_VULKAN;
    desc.get_instance_proc_addr = loader;
    if (vd_context_create(&desc, &context) != VD_OK) {
        printf("%s\n", vd_error_text());
        return vd_error_result() == VD_ERROR_NO_DEVICE ? SKIPPED : 1;
    }
    numbers.type = VD_U32;
    numbers.shape[0] = 4;
    numbers.data = words;
    buffer = vd_buffer_create(context, &numbers);
    failed = vd_fill(vd_immediate(context, 0, 0), buffer, 0, 8, NULL, 0) != VD_OK ||
             vd_buffer_read(context, buffer, 0, words, VD_WHOLE) != VD_OK || words[0] != 0 || words[3] != 4;
    if (failed) printf("%s\n", vd_error_text());
    vd_context_destroy(context);
    return failed;
}

static int use_library(void)
{
    return use_library_by(NULL);
}

#ifdef USE_VULKAN
/* Calls of the application by the names that its loader or libvulkan provides. Returns the number of devices, -1 on
   failure. */
static int own_devices(VkInstance *instance)
{
    VkApplicationInfo application;
    VkInstanceCreateInfo info;
    unsigned count = 0;
    memset(&application, 0, sizeof application);
    memset(&info, 0, sizeof info);
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_2;
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;
    if (!*instance && vkCreateInstance(&info, NULL, instance) != VK_SUCCESS) return -1;
#ifdef VOLK_H_
    volkLoadInstance(*instance);
#endif
    if (vkEnumeratePhysicalDevices(*instance, &count, NULL) != VK_SUCCESS) return -1;
    return (int)count;
}

/* The application calls Vulkan before, between and after calls of the library. */
static int use_both(void)
{
    VkInstance instance = NULL;
    int before = own_devices(&instance), first = use_library(), between = own_devices(&instance);
    int second = use_library();
    int after = own_devices(&instance);
    if (instance) vkDestroyInstance(instance, NULL);
    if (before != between || before != after) {
        printf("the application found %d, %d and %d devices\n", before, between, after);
        return 1;
    }
    return first ? first : second;
}

static int loaded; /* number of calls of counting_loader */
static PFN_vkGetInstanceProcAddr own_loader;

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL counting_loader(VkInstance instance, const char *name)
{
    loaded++;
    return own_loader(instance, name);
}
#endif
