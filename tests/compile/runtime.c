#define VKDISPATCH_IMPLEMENTATION
#include "vkdispatch.h"
#define USE_RUNTIME
#include "use.h"
