/* Sorts of arrays whose indices have 64 bits: the tests of sort.c, with a lower limit for indices of 32 bits. */
#define VKDISPATCH_CUDA
#define VKDISPATCH_OPENCL
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#define VKDISPATCH_FFT_IMPLEMENTATION
#define VD__REDUCE_NARROW 100ull
#define FFT_FEW_CASES 1
#include "tests/fft/sort.c"
