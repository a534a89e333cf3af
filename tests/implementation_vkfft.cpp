/* The implementations with VkFFT as another engine of transforms, for tests and benchmarks that compare with it. C++,
   because VkFFT 1.2 is. */
#define VKDISPATCH_CUDA
#define VKDISPATCH_OPENCL
#if __has_include(<vkFFT.h>) && __has_include(<glslang/Public/resource_limits_c.h>)
#define VKDISPATCH_VKFFT
#endif
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#define VKDISPATCH_FFT_IMPLEMENTATION
#include "vkdispatch_fft.h"
