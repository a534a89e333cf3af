// compact: 32 x 1 x 1 threads a block
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
    unsigned int v7 = v5 ? group[v6] + v3 : v3;
    group[local_index + 32] = v7;
    __syncthreads();
    bool v8 = 2u <= local_index;
    unsigned int v9 = v8 ? group[(v8 ? local_index - 2u : 0u) + 32] + v7 : v7;
    group[local_index] = v9;
    __syncthreads();
    bool v10 = 4u <= local_index;
    unsigned int v11 = v10 ? group[v10 ? local_index - 4u : 0u] + v9 : v9;
    group[local_index + 32] = v11;
    __syncthreads();
    bool v12 = 8u <= local_index;
    unsigned int v13 = v12 ? group[(v12 ? local_index - 8u : 0u) + 32] + v11 : v11;
    group[local_index] = v13;
    __syncthreads();
    bool v14 = 16u <= local_index;
    group[local_index + 32] = v14 ? group[v14 ? local_index - 16u : 0u] + v13 : v13;
    __syncthreads();
    unsigned int v15 = v5 ? group[v6 + 32] : 0u;
    __syncthreads();
    unsigned int v16 = local_index & 31u;
    unsigned int v17 = __shfl_up_sync(4294967295u, v3, 1u);
    unsigned int v18 = 1u <= v16 ? v17 + v3 : v3;
    unsigned int v19 = __shfl_up_sync(4294967295u, v18, 2u);
    unsigned int v20 = 2u <= v16 ? v19 + v18 : v18;
    unsigned int v21 = __shfl_up_sync(4294967295u, v20, 4u);
    unsigned int v22 = 4u <= v16 ? v21 + v20 : v20;
    unsigned int v23 = __shfl_up_sync(4294967295u, v22, 8u);
    unsigned int v24 = 8u <= v16 ? v23 + v22 : v22;
    unsigned int v25 = __shfl_up_sync(4294967295u, v24, 16u);
    unsigned int v26 = __shfl_sync(4294967295u, 16u <= v16 ? v25 + v24 : v24, 31u);
    unsigned int left = 0u;
    if (v16 == 0u) {
        group[v4] = v26;
    }
    __syncthreads();
    left = 1u;
    while (true) {
        if (left <= 1u) break;
        unsigned int v27 = left;
        unsigned int v28 = v27 - (v27 >> 1u);
        unsigned int v29 = local_index + v28;
        if (v29 < v27) {
            group[local_index] = group[local_index] + group[v29];
        }
        __syncthreads();
        left = v28;
    }
    unsigned int v30 = group[0];
    __syncthreads();
    if (local_index == 0u) {
        unsigned int v31 = atomicAdd((unsigned int *)&count[0], v30);
        place[0] = v31;
    }
    __syncthreads();
    if (v2) {
        my_out[place[0] + v15] = v1;
    }
}
