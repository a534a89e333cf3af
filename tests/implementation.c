/* The implementations with every backend, compiled once into an archive for tests that do not need their insides.
   Programs that define the implementations themselves link nothing from it. ONLY_FFT and WITHOUT_FFT make two objects
   of it, so that programs can be linked with other functions of vkdispatch_fft.h. */
#define VKDISPATCH_CUDA
#define VKDISPATCH_OPENCL
#ifndef ONLY_FFT
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#endif
#ifndef WITHOUT_FFT
#define VKDISPATCH_FFT_IMPLEMENTATION
#endif
#include "vkdispatch_fft.h"
