/* CUB's sum, scan and sort for tools/bench/reduce.c, which opens this as a library: nvcc -O3 -shared -Xcompiler -fPIC tools/bench/cub.cu -o build/cub.so */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include <stdint.h>
#include <string.h>

static struct {
    int what;                /* 0 a sum of f32, 1 an inclusive scan of u32, 2 a sort of u32 */
    uint64_t count;
    void *in, *out, *room;
    size_t room_bytes;
} now;

static cudaError_t launch(void *room, size_t &bytes) {
    if (now.what == 0) return cub::DeviceReduce::Sum(room, bytes, (const float *)now.in, (float *)now.out, (int64_t)now.count);
    if (now.what == 1) return cub::DeviceScan::InclusiveSum(room, bytes, (const uint32_t *)now.in, (uint32_t *)now.out, (int64_t)now.count);
    return cub::DeviceRadixSort::SortKeys(room, bytes, (const uint32_t *)now.in, (uint32_t *)now.out, (int64_t)now.count);
}

extern "C" void bench_cub_end(void) {
    cudaFree(now.in);
    cudaFree(now.out);
    cudaFree(now.room);
    memset(&now, 0, sizeof now);
}

static cudaError_t prepare(const void *period, uint64_t period_count) {
    cudaError_t e = cudaMalloc(&now.in, now.count * 4);
    if (!e) e = cudaMalloc(&now.out, now.count * 4);
    for (uint64_t at = 0; at < now.count && !e; at += period_count) {
        uint64_t n = now.count - at < period_count ? now.count - at : period_count;
        e = cudaMemcpy((uint32_t *)now.in + at, period, n * 4, cudaMemcpyHostToDevice);
    }
    if (!e) e = launch(NULL, now.room_bytes);
    if (!e) e = cudaMalloc(&now.room, now.room_bytes);
    return e;
}

extern "C" const char *bench_cub_prepare(int what, uint64_t count, const void *period, uint64_t period_count) {
    cudaError_t e;
    now.what = what;
    now.count = count;
    e = prepare(period, period_count);
    if (!e) return NULL;
    bench_cub_end();
    return cudaGetErrorString(e);
}

extern "C" int bench_cub_run(int times) {
    for (int i = 0; i < times; i++)
        if (launch(now.room, now.room_bytes)) return 1;
    return cudaDeviceSynchronize() != cudaSuccess;
}
