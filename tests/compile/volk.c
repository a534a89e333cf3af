/* An application's own volk. */
#define VOLK_IMPLEMENTATION
#include <volk.h>
