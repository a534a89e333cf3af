/* VkFFT on OpenCL in a given context and queue. A separate file because VkFFT supports one API per translation unit
   and is C++ here. */
#ifndef BENCH_VKFFT_OPENCL_H
#define BENCH_VKFFT_OPENCL_H

#include "vkdispatch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns NULL, or the reason for failure. in and out are cl_mem. */
const char *vkfft_opencl_open(const vd_native *native, uint32_t rank, const uint32_t n[3], uint64_t batch, uint64_t in,
                              uint64_t out, uint64_t bytes, void **made);
int vkfft_opencl_run(void *made, int count); /* runs forward transforms and waits; returns 0 on success */
void vkfft_opencl_close(void *made);

#ifdef __cplusplus
}
#endif
#endif /* BENCH_VKFFT_OPENCL_H */
