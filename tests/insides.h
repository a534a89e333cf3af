/* Private types and functions of runtime and builder, for programs that are linked with tests/implementation.c. Include
   this header first.
   -
   Public functions are those of the archive: gnu_inline lets the compiler read their bodies here without compiling
   them. A private function that a test calls is compiled a second time, with variables of its own: vd_error_text() does
   not know what a private function failed with. The Makefile compiles these programs with -O1 -fno-inline, with which
   gcc discards what no test calls. */
#ifndef TESTS_INSIDES_H
#define TESTS_INSIDES_H

#define VKDISPATCH_CUDA
#define VKDISPATCH_OPENCL
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

#pragma GCC system_header /* for C99, an inline function with external linkage must not call a static one */
#undef VD_API
#undef VC_API
#define VD_API extern inline __attribute__((gnu_inline))
#define VC_API extern inline __attribute__((gnu_inline))
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#undef VD_API
#undef VC_API
#define VD_API extern
#define VC_API extern

#endif
