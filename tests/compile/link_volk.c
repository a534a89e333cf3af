/* An application that uses volk (compiled in volk.c) and passes its loader to the library. UNINITIALISED: the
   library is the first to use volk. */
#define VKDISPATCH_VOLK
#define VKDISPATCH_IMPLEMENTATION
#include "vkdispatch.h"
#define USE_VULKAN
#include "link_use.h"

int main(void)
{
    int result;
#ifdef UNINITIALISED
    result = use_library();
    if (result) return result;
#endif
    if (volkInitialize() != VK_SUCCESS) return SKIPPED;
    result = use_both();
    own_loader = vkGetInstanceProcAddr;
    vkGetInstanceProcAddr = counting_loader;
    if (!result) result = use_library();
    if (!loaded) printf("the library did not start from the application's vkGetInstanceProcAddr\n");
    return result ? result : !loaded;
}
