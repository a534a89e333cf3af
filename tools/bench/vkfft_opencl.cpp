/* See vkfft_opencl.h. */
#include "tools/bench/vkfft_opencl.h"

#if __has_include(<vkFFT.h>) && __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#define VKFFT_BACKEND 3
#include <vkFFT.h>

#include <new>

typedef struct theirs {
    VkFFTApplication app;
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    cl_mem in, out;
    uint64_t bytes;
} theirs;

const char *vkfft_opencl_open(const vd_native *native, uint32_t rank, const uint32_t n[3], uint64_t batch, uint64_t in,
                              uint64_t out, uint64_t bytes, void **made) {
    theirs *t = new (std::nothrow) theirs();
    VkFFTConfiguration c = {};
    if (!t) return "out of host memory";
    t->context = (cl_context)native->context;
    t->device = (cl_device_id)native->device;
    t->queue = (cl_command_queue)native->queue;
    t->in = (cl_mem)in;
    t->out = (cl_mem)out;
    t->bytes = bytes;
    c.FFTdim = rank;
    for (uint32_t i = 0; i < rank; i++) c.size[i] = n[rank - 1 - i];
    c.numberBatches = batch;
    c.device = &t->device;
    c.context = &t->context;
    c.useLUT = 1;
    c.makeForwardPlanOnly = 1;
    c.isInputFormatted = 1;
    c.bufferSize = c.inputBufferSize = &t->bytes;
    if (initializeVkFFT(&t->app, c)) {
        delete t;
        return "VkFFT makes no plan for OpenCL";
    }
    *made = t;
    return NULL;
}

int vkfft_opencl_run(void *made, int count) {
    theirs *t = (theirs *)made;
    VkFFTLaunchParams launch = {};
    launch.commandQueue = &t->queue;
    launch.buffer = &t->out;
    launch.inputBuffer = &t->in;
    for (int i = 0; i < count; i++) if (VkFFTAppend(&t->app, -1, &launch)) return 1;
    return clFinish(t->queue);
}

void vkfft_opencl_close(void *made) {
    deleteVkFFT(&((theirs *)made)->app);
    delete (theirs *)made;
}

#else
const char *vkfft_opencl_open(const vd_native *, uint32_t, const uint32_t *, uint64_t, uint64_t, uint64_t, uint64_t,
                              void **) {
    return "VkFFT was not here to compile";
}
int vkfft_opencl_run(void *, int) { return 1; }
void vkfft_opencl_close(void *) {}
#endif
