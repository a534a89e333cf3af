/* An application that links libvulkan and calls its prototypes. HEADERS_LAST: it includes the Vulkan headers after
   the implementation. */
#ifndef HEADERS_LAST
#include <vulkan/vulkan.h>
#endif
#define VKDISPATCH_IMPLEMENTATION
#include "vkdispatch.h"
#ifdef HEADERS_LAST
#include <vulkan/vulkan.h>
#endif
#define USE_VULKAN
#include "link_use.h"

int main(void)
{
    int result = use_both();
    own_loader = vkGetInstanceProcAddr;
    if (!result) result = use_library_by((void (*)(void))counting_loader);
    if (!loaded) printf("the library did not start from desc.get_instance_proc_addr\n");
    return result ? result : !loaded;
}
