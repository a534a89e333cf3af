#define VKDISPATCH_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
