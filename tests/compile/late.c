/* Includes the public parts first, as through another header, and the implementations later in the same file. */
#include "vkdispatch_codegen.h"
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch_codegen.h"
#define VKDISPATCH_IMPLEMENTATION
#include "vkdispatch.h"
#define USE_RUNTIME
#define USE_CODEGEN
#include "use.h"
