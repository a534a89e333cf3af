// compact: 32 x 1 x 1 threads per block
#ifndef VC_subgroup_add
#define VC_subgroup_add
template <class T> static __device__ __inline__ T vc_subgroup_add(T x, unsigned int mask, unsigned int lane) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(mask, x);
#else
    for (unsigned int n = 1; n < 32; n *= 2) {
        unsigned int half = mask & ((1u << n) - 1u) << ((lane & -n) ^ n);
        T y = __shfl_sync(mask, x, mask == 0xffffffffu ? lane ^ n : 31 - __clz((int)half));
        if (half) x = (T)((unsigned int)x + (unsigned int)y);
    }
    return x;
#endif
}
#endif
struct compact_args {
    const float *my_in;
    float *my_out;
    unsigned int *count;
    unsigned int group_base_x;
};

extern "C" __global__ void __launch_bounds__(32) compact(const struct compact_args args) {
    __shared__ unsigned int place[1];
    __shared__ unsigned int group[64];
    const float *__restrict__ my_in = args.my_in;
    float *__restrict__ my_out = args.my_out;
    unsigned int *__restrict__ count = args.count;
    unsigned int local_index = threadIdx.x;
    float v1 = __ldg(&my_in[(blockIdx.x * 32u + threadIdx.x) + args.group_base_x * 32u]);
    bool v2 = 0.0f < v1;
    unsigned int v3 = v2 ? 1u : 0u;
    unsigned int v4 = local_index >> 5u;
    group[local_index] = v3;
    __syncthreads();
    bool v5 = 1u <= local_index;
    unsigned int v6 = v5 ? local_index - 1u : 0u;
    unsigned int v7 = group[v6] + v3;
    unsigned int v8 = v5 ? v7 : v3;
    group[local_index + 32] = v8;
    __syncthreads();
    bool v9 = 2u <= local_index;
    unsigned int v10 = group[(v9 ? local_index - 2u : 0u) + 32] + v8;
    unsigned int v11 = v9 ? v10 : v8;
    group[local_index] = v11;
    __syncthreads();
    bool v12 = 4u <= local_index;
    unsigned int v13 = group[v12 ? local_index - 4u : 0u] + v11;
    unsigned int v14 = v12 ? v13 : v11;
    group[local_index + 32] = v14;
    __syncthreads();
    bool v15 = 8u <= local_index;
    unsigned int v16 = group[(v15 ? local_index - 8u : 0u) + 32] + v14;
    unsigned int v17 = v15 ? v16 : v14;
    group[local_index] = v17;
    __syncthreads();
    bool v18 = 16u <= local_index;
    unsigned int v19 = group[v18 ? local_index - 16u : 0u] + v17;
    group[local_index + 32] = v18 ? v19 : v17;
    __syncthreads();
    unsigned int v20 = group[v6 + 32];
    unsigned int v21 = v5 ? v20 : 0u;
    __syncthreads();
    unsigned int v22 = local_index & 31u;
    unsigned int v23 = vc_subgroup_add(v3, 4294967295u, v22);
    unsigned int remaining = 0u;
    if (v22 == 0u) {
        group[v4] = v23;
    }
    __syncthreads();
    remaining = 1u;
    while (true) {
        if (remaining <= 1u) break;
        unsigned int v24 = remaining;
        unsigned int v25 = v24 - (v24 >> 1u);
        unsigned int v26 = local_index + v25;
        if (v26 < v24) {
            group[local_index] = group[local_index] + group[v26];
        }
        __syncthreads();
        remaining = v25;
    }
    unsigned int v27 = group[0];
    __syncthreads();
    if (local_index == 0u) {
        unsigned int v28 = atomicAdd((unsigned int *)&count[0], v27);
        place[0] = v28;
    }
    __syncthreads();
    if (v2) {
        my_out[place[0] + v21] = v1;
    }
}
