/* Only the public parts; implementation.c has the definitions. */
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#define USE_RUNTIME
#define USE_CODEGEN
#include "use.h"
