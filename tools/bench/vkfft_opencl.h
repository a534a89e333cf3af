/* VkFFT on OpenCL, in a context and a queue that are given to it: in a file of its own, since VkFFT is for one API at a time, and is C++. */
#ifndef BENCH_VKFFT_OPENCL_H
#define BENCH_VKFFT_OPENCL_H

#include "vkdispatch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NULL, or why there is none. in and out are cl_mem. */
const char *vkfft_opencl_open(const vd_native *native, uint32_t rank, const uint32_t n[3], uint64_t batch, uint64_t in, uint64_t out, uint64_t bytes,
                              void **made);
int vkfft_opencl_run(void *made, int count); /* forward, so often, and waits; 0: done */
void vkfft_opencl_close(void *made);

#ifdef __cplusplus
}
#endif
#endif /* BENCH_VKFFT_OPENCL_H */
