/* A separate copy of the functions of vkdispatch_fft.h, for programs that call private ones or need other limits.
   Runtime and builder are those of tests/implementation.c. Include this header first. */
#ifndef TESTS_FFT_OWN_H
#define TESTS_FFT_OWN_H

#define _POSIX_C_SOURCE 200809L
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#undef VD_API
#define VD_API static __attribute__((unused))
#define VKDISPATCH_FFT_IMPLEMENTATION
#include "vkdispatch_fft.h"

#endif
