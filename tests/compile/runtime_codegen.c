#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#define USE_RUNTIME
#define USE_CODEGEN
#define USE_GLUE
#include "use.h"
