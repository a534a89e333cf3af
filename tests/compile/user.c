/* Only the public parts; the definitions come from implementation.c. */
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#define USE_RUNTIME
#define USE_CODEGEN
#include "use.h"
