// gauss: 16 x 16 x 1 threads a block
struct gauss_args {
    const float *my_in;
    float *my_out;
    unsigned int size[2];
    unsigned int group_base_x;
    unsigned int group_base_y;
};

extern "C" __global__ void __launch_bounds__(256) gauss(const struct gauss_args args) {
    __shared__ float tile[400];
    const float *__restrict__ my_in = args.my_in;
    float *__restrict__ my_out = args.my_out;
    uint2 size = make_uint2(args.size[0], args.size[1]);
    unsigned int local_index = (threadIdx.x + 16u * threadIdx.y);
    unsigned int v1 = local_index < 400u ? (400u - local_index - 1u) / 256u + 1u : 0u;
    unsigned int v2 = size.y;
    unsigned int v3 = size.x;
    unsigned int v4 = (blockIdx.x * 16u + threadIdx.x) + args.group_base_x * 16u;
    unsigned int v5 = (blockIdx.y * 16u + threadIdx.y) + args.group_base_y * 16u;
    for (unsigned int i1 = 0u; i1 < v1; i1++) {
        unsigned int v6 = local_index + i1 * 256u;
        int v7 = (int)((unsigned int)((int)((blockIdx.y + args.group_base_y) * 16u + v6 / 20u)) - 2u);
        int v8 = (int)((unsigned int)((int)v2) - 1u);
        int v9 = 0 < v7 ? v7 : 0;
        int v10 = (int)((unsigned int)((int)((blockIdx.x + args.group_base_x) * 16u + v6 % 20u)) - 2u);
        int v11 = (int)((unsigned int)((int)v3) - 1u);
        int v12 = 0 < v10 ? v10 : 0;
        float v13 = __ldg(&my_in[(unsigned int)(v9 < v8 ? v9 : v8) * v3 + (unsigned int)(v12 < v11 ? v12 : v11)]);
        tile[v6] = v13;
    }
    __syncthreads();
    if (v4 < v3 && v5 < v2) {
        unsigned int v14 = threadIdx.y * 20u + threadIdx.x;
        float v15 = __fmul_rn(tile[v14], 0.00390625f);
        float v16 = fmaf(tile[v14 + 20], 0.015625f, fmaf(tile[v14 + 4], 0.00390625f, fmaf(tile[v14 + 3], 0.015625f, fmaf(tile[v14 + 2], 0.0234375f, fmaf(tile[v14 + 1], 0.015625f, v15)))));
        float v17 = fmaf(tile[v14 + 40], 0.0234375f, fmaf(tile[v14 + 24], 0.015625f, fmaf(tile[v14 + 23], 0.0625f, fmaf(tile[v14 + 22], 0.09375f, fmaf(tile[v14 + 21], 0.0625f, v16)))));
        float v18 = fmaf(tile[v14 + 60], 0.015625f, fmaf(tile[v14 + 44], 0.0234375f, fmaf(tile[v14 + 43], 0.09375f, fmaf(tile[v14 + 42], 0.140625f, fmaf(tile[v14 + 41], 0.09375f, v17)))));
        float v19 = fmaf(tile[v14 + 80], 0.00390625f, fmaf(tile[v14 + 64], 0.015625f, fmaf(tile[v14 + 63], 0.0625f, fmaf(tile[v14 + 62], 0.09375f, fmaf(tile[v14 + 61], 0.0625f, v18)))));
        my_out[v5 * v3 + v4] = fmaf(tile[v14 + 84], 0.00390625f, fmaf(tile[v14 + 83], 0.015625f, fmaf(tile[v14 + 82], 0.0234375f, fmaf(tile[v14 + 81], 0.015625f, v19))));
    }
}
