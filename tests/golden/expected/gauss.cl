// gauss
#pragma OPENCL FP_CONTRACT OFF
struct gauss_args {
    uint size[2];
    uint group_base_x;
    uint group_base_y;
};

__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void gauss(__global const float *restrict my_in, __global float *restrict my_out, const struct gauss_args args) {
    __local float tile[400];
    uint2 size = (uint2)(args.size[0], args.size[1]);
    uint v1 = size.y;
    uint v2 = size.x;
    uint v3 = (uint)get_global_id(0) + args.group_base_x * 16u;
    uint v4 = (uint)get_global_id(1) + args.group_base_y * 16u;
    for (uint i1 = (uint)(get_local_id(0) + 16 * (get_local_id(1) + 16 * get_local_id(2))); i1 < 400u; i1 += 256u) {
        int v5 = (int)((uint)((int)(((uint)get_group_id(1) + args.group_base_y) * 16u + i1 / 20u)) - 2u);
        int v6 = (int)((uint)((int)v1) - 1u);
        int v7 = 0 < v5 ? v5 : 0;
        int v8 = (int)((uint)((int)(((uint)get_group_id(0) + args.group_base_x) * 16u + i1 % 20u)) - 2u);
        int v9 = (int)((uint)((int)v2) - 1u);
        int v10 = 0 < v8 ? v8 : 0;
        tile[i1] = my_in[(uint)(v7 < v6 ? v7 : v6) * v2 + (uint)(v10 < v9 ? v10 : v9)];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (v3 < v2 && v4 < v1) {
        uint v11 = (uint)get_local_id(1) * 20u + (uint)get_local_id(0);
        float v12 = tile[v11] * 0.00390625f;
        float v13 = fma(tile[v11 + 20], 0.015625f, fma(tile[v11 + 4], 0.00390625f, fma(tile[v11 + 3], 0.015625f, fma(tile[v11 + 2], 0.0234375f, fma(tile[v11 + 1], 0.015625f, v12)))));
        float v14 = fma(tile[v11 + 40], 0.0234375f, fma(tile[v11 + 24], 0.015625f, fma(tile[v11 + 23], 0.0625f, fma(tile[v11 + 22], 0.09375f, fma(tile[v11 + 21], 0.0625f, v13)))));
        float v15 = fma(tile[v11 + 60], 0.015625f, fma(tile[v11 + 44], 0.0234375f, fma(tile[v11 + 43], 0.09375f, fma(tile[v11 + 42], 0.140625f, fma(tile[v11 + 41], 0.09375f, v14)))));
        float v16 = fma(tile[v11 + 80], 0.00390625f, fma(tile[v11 + 64], 0.015625f, fma(tile[v11 + 63], 0.0625f, fma(tile[v11 + 62], 0.09375f, fma(tile[v11 + 61], 0.0625f, v15)))));
        my_out[v4 * v2 + v3] = fma(tile[v11 + 84], 0.00390625f, fma(tile[v11 + 83], 0.015625f, fma(tile[v11 + 82], 0.0234375f, fma(tile[v11 + 81], 0.015625f, v16))));
    }
}
