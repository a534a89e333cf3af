/* Two translation units, each with a static implementation. Both use Vulkan, one after the other and nested. */
#define VKDISPATCH_STATIC
#define VKDISPATCH_IMPLEMENTATION
#include "vkdispatch.h"
#include "link_use.h"

#ifdef __cplusplus
extern "C"
#endif
int other_unit(void);

int main(void)
{
    vd_context *context = NULL;
    vd_context_desc desc;
    int first = use_library(), other = other_unit(), within = 0;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_VULKAN;
    if (!first && vd_context_create(&desc, &context) == VD_OK) {
        within = other_unit();
        vd_context_destroy(context);
    }
    return first ? first : other ? other : within;
}
