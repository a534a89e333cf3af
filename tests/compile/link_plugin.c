/* A plugin that contains an implementation. */
#define VKDISPATCH_STATIC
#define VKDISPATCH_IMPLEMENTATION
#include "vkdispatch.h"
#include "link_use.h"

#ifdef __cplusplus
extern "C"
#endif
int plugin_run(void);
int plugin_run(void)
{
    return use_library();
}
