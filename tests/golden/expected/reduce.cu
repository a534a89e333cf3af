// reduce: 256 x 1 x 1 threads per block
struct reduce_args {
    const float *my_in;
    float *my_out;
    unsigned int group_base_x;
    unsigned int in_length;
};

extern "C" __global__ void __launch_bounds__(256) reduce(const struct reduce_args args) {
    __shared__ float part[256];
    const float *__restrict__ my_in = args.my_in;
    float *__restrict__ my_out = args.my_out;
    unsigned int local_index = threadIdx.x;
    unsigned int v1 = (blockIdx.x * 256u + threadIdx.x) + args.group_base_x * 256u;
    bool v2 = v1 < args.in_length;
    float v3 = __ldg(&my_in[v2 ? v1 : 0u]);
    part[local_index] = v2 ? v3 : 0.0f;
    __syncthreads();
    if (local_index < 128u) {
        float v4 = part[local_index] + part[local_index + 128];
        part[local_index] = v4;
    }
    __syncthreads();
    if (local_index < 64u) {
        float v5 = part[local_index] + part[local_index + 64];
        part[local_index] = v5;
    }
    __syncthreads();
    if (local_index < 32u) {
        float v6 = part[local_index] + part[local_index + 32];
        part[local_index] = v6;
    }
    __syncthreads();
    if (local_index < 16u) {
        float v7 = part[local_index] + part[local_index + 16];
        part[local_index] = v7;
    }
    __syncthreads();
    if (local_index < 8u) {
        float v8 = part[local_index] + part[local_index + 8];
        part[local_index] = v8;
    }
    __syncthreads();
    if (local_index < 4u) {
        float v9 = part[local_index] + part[local_index + 4];
        part[local_index] = v9;
    }
    __syncthreads();
    if (local_index < 2u) {
        float v10 = part[local_index] + part[local_index + 2];
        part[local_index] = v10;
    }
    __syncthreads();
    if (local_index < 1u) {
        float v11 = part[local_index] + part[local_index + 1];
        part[local_index] = v11;
    }
    __syncthreads();
    if (local_index == 0u) {
        my_out[blockIdx.x + args.group_base_x] = part[0];
    }
}
