// gauss: 16 x 16 x 1 threads per block
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
    unsigned int v1 = size.y;
    unsigned int v2 = size.x;
    unsigned int v3 = (blockIdx.x * 16u + threadIdx.x) + args.group_base_x * 16u;
    unsigned int v4 = (blockIdx.y * 16u + threadIdx.y) + args.group_base_y * 16u;
    for (unsigned int i1 = (threadIdx.x + 16u * threadIdx.y); i1 < 400u; i1 += 256u) {
        int v5 = (int)((unsigned int)((int)((blockIdx.y + args.group_base_y) * 16u + i1 / 20u)) - 2u);
        int v6 = (int)((unsigned int)((int)v1) - 1u);
        int v7 = 0 < v5 ? v5 : 0;
        int v8 = (int)((unsigned int)((int)((blockIdx.x + args.group_base_x) * 16u + i1 % 20u)) - 2u);
        int v9 = (int)((unsigned int)((int)v2) - 1u);
        int v10 = 0 < v8 ? v8 : 0;
        float v11 = __ldg(&my_in[(unsigned int)(v7 < v6 ? v7 : v6) * v2 + (unsigned int)(v10 < v9 ? v10 : v9)]);
        tile[i1] = v11;
    }
    __syncthreads();
    if (v3 < v2 && v4 < v1) {
        unsigned int v12 = threadIdx.y * 20u + threadIdx.x;
        float v13 = __fmul_rn(tile[v12], 0.00390625f);
        float v14 = fmaf(tile[v12 + 20], 0.015625f, fmaf(tile[v12 + 4], 0.00390625f, fmaf(tile[v12 + 3], 0.015625f, fmaf(tile[v12 + 2], 0.0234375f, fmaf(tile[v12 + 1], 0.015625f, v13)))));
        float v15 = fmaf(tile[v12 + 40], 0.0234375f, fmaf(tile[v12 + 24], 0.015625f, fmaf(tile[v12 + 23], 0.0625f, fmaf(tile[v12 + 22], 0.09375f, fmaf(tile[v12 + 21], 0.0625f, v14)))));
        float v16 = fmaf(tile[v12 + 60], 0.015625f, fmaf(tile[v12 + 44], 0.0234375f, fmaf(tile[v12 + 43], 0.09375f, fmaf(tile[v12 + 42], 0.140625f, fmaf(tile[v12 + 41], 0.09375f, v15)))));
        float v17 = fmaf(tile[v12 + 80], 0.00390625f, fmaf(tile[v12 + 64], 0.015625f, fmaf(tile[v12 + 63], 0.0625f, fmaf(tile[v12 + 62], 0.09375f, fmaf(tile[v12 + 61], 0.0625f, v16)))));
        my_out[v4 * v2 + v3] = fmaf(tile[v12 + 84], 0.00390625f, fmaf(tile[v12 + 83], 0.015625f, fmaf(tile[v12 + 82], 0.0234375f, fmaf(tile[v12 + 81], 0.015625f, v17))));
    }
}
