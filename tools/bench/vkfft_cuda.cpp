/* VkFFT on CUDA for tools/bench/fft.c. A separate library, so that the benchmark starts without CUDA:

       make build/vkfft_cuda.so                       needs VkFFT and the CUDA toolkit

   Uses the current context and its default stream. */
#include <stdint.h>

#if __has_include(<vkFFT.h>)
#define VKFFT_BACKEND 1
#include <vkFFT.h>

#include <new>

typedef struct theirs {
    VkFFTApplication app;
    CUdevice device;
    void *in, *out;
    uint64_t bytes;
} theirs;

/* Returns NULL, or the reason for failure. in and out are device pointers. */
extern "C" const char *vkfft_cuda_open(uint32_t rank, const uint32_t n[3], uint64_t batch, uint64_t in, uint64_t out,
                                       uint64_t bytes, void **made) {
    theirs *t = new (std::nothrow) theirs();
    VkFFTConfiguration c = {};
    if (!t) return "out of host memory";
    t->in = (void *)in;
    t->out = (void *)out;
    t->bytes = bytes;
    c.FFTdim = rank;
    for (uint32_t i = 0; i < rank; i++) c.size[i] = n[rank - 1 - i];
    c.numberBatches = batch;
    c.device = &t->device;
    c.useLUT = 1;
    c.makeForwardPlanOnly = 1;
    c.isInputFormatted = 1;
    c.bufferSize = c.inputBufferSize = &t->bytes;
    if (cuCtxGetDevice(&t->device) || initializeVkFFT(&t->app, c)) {
        delete t;
        return "VkFFT makes no plan for CUDA";
    }
    *made = t;
    return NULL;
}

/* Runs `count` forward transforms and waits. Returns 0 on success. */
extern "C" int vkfft_cuda_run(void *made, int count) {
    theirs *t = (theirs *)made;
    VkFFTLaunchParams launch = {};
    launch.buffer = &t->out;
    launch.inputBuffer = &t->in;
    for (int i = 0; i < count; i++) if (VkFFTAppend(&t->app, -1, &launch)) return 1;
    return cudaDeviceSynchronize() != cudaSuccess;
}

extern "C" void vkfft_cuda_close(void *made) {
    deleteVkFFT(&((theirs *)made)->app);
    delete (theirs *)made;
}

#else
extern "C" const char *vkfft_cuda_open(uint32_t, const uint32_t *, uint64_t, uint64_t, uint64_t, uint64_t, void **) {
    return "VkFFT was not here to compile";
}
extern "C" int vkfft_cuda_run(void *, int) { return 1; }
extern "C" void vkfft_cuda_close(void *) {}
#endif
