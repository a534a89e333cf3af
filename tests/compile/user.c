/* Only the public parts; implementation.c has the definitions. In C++ they must have no cast in the style of C. */
#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wold-style-cast"
#endif
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#include "vkdispatch_fft.h"
#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif
#define USE_RUNTIME
#define USE_CODEGEN
#include "use.h"
