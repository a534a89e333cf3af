/* Sums, scans and sorts by CUB for tools/bench/reduce.c, which loads this as a library:
   nvcc -O3 -shared -Xcompiler -fPIC tools/bench/cub.cu -o build/cub.so */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <stdint.h>
#include <string.h>

static struct {
    int what;                /* 0 sum of f32, 1 inclusive scan of u32, 2 sort of u32, 3 row sums, 4 row scans */
    uint64_t count, length;  /* elements in total and per row */
    void *in, *out, *room;
    size_t room_bytes;
} now;

struct row_begin { int64_t length; __host__ __device__ int64_t operator()(int64_t row) const { return row * length; } };
struct row_of { uint32_t length; __host__ __device__ uint32_t operator()(uint32_t i) const { return i / length; } };

static cudaError_t launch_rows(void *room, size_t &bytes) {
    thrust::counting_iterator<int64_t> row(0);
    thrust::counting_iterator<uint32_t> element(0);
    row_begin begin = { (int64_t)now.length };
    row_of of = { (uint32_t)now.length };
    auto first = thrust::make_transform_iterator(row, begin);
    if (now.what == 3)
        return cub::DeviceSegmentedReduce::Sum(room, bytes, (const float *)now.in, (float *)now.out,
                                               (int)(now.count / now.length), first, first + 1);
    return cub::DeviceScan::InclusiveSumByKey(room, bytes, thrust::make_transform_iterator(element, of),
                                              (const uint32_t *)now.in, (uint32_t *)now.out, (int)now.count);
}

static cudaError_t launch(void *room, size_t &bytes) {
    if (now.what == 0)
        return cub::DeviceReduce::Sum(room, bytes, (const float *)now.in, (float *)now.out, (int64_t)now.count);
    if (now.what > 2) return launch_rows(room, bytes);
    if (now.what == 1)
        return cub::DeviceScan::InclusiveSum(room, bytes, (const uint32_t *)now.in, (uint32_t *)now.out,
                                             (int64_t)now.count);
    return cub::DeviceRadixSort::SortKeys(room, bytes, (const uint32_t *)now.in, (uint32_t *)now.out,
                                          (int64_t)now.count);
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

extern "C" const char *bench_cub_prepare(int what, uint64_t count, uint64_t length, const void *period,
                                         uint64_t period_count) {
    cudaError_t e;
    now.what = what;
    now.count = count;
    now.length = length;
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
