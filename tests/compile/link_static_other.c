#define VKDISPATCH_STATIC
#define VKDISPATCH_IMPLEMENTATION
#include "vkdispatch.h"
#include "link_use.h"

#ifdef __cplusplus
extern "C"
#endif
int other_unit(void);
int other_unit(void)
{
    return use_library();
}
