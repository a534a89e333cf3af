#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch_codegen.h"
#define USE_CODEGEN
#include "use.h"
