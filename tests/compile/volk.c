/* The volk of the application. */
#define VOLK_IMPLEMENTATION
#include <volk.h>
