/* An application's own volk, beside which ours has to link. */
#define VOLK_IMPLEMENTATION
#include <volk.h>
