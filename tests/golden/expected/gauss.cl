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
    uint local_index = (uint)(get_local_id(0) + 16 * (get_local_id(1) + 16 * get_local_id(2)));
    uint v1 = local_index < 400u ? (400u - local_index - 1u) / 256u + 1u : 0u;
    uint v2 = size.y;
    uint v3 = size.x;
    uint v4 = (uint)get_global_id(0) + args.group_base_x * 16u;
    uint v5 = (uint)get_global_id(1) + args.group_base_y * 16u;
    for (uint i1 = 0u; i1 < v1; i1++) {
        uint v6 = local_index + i1 * 256u;
        int v7 = (int)((uint)((int)(((uint)get_group_id(1) + args.group_base_y) * 16u + v6 / 20u)) - 2u);
        int v8 = (int)((uint)((int)v2) - 1u);
        int v9 = 0 < v7 ? v7 : 0;
        int v10 = (int)((uint)((int)(((uint)get_group_id(0) + args.group_base_x) * 16u + v6 % 20u)) - 2u);
        int v11 = (int)((uint)((int)v3) - 1u);
        int v12 = 0 < v10 ? v10 : 0;
        tile[v6] = my_in[(uint)(v9 < v8 ? v9 : v8) * v3 + (uint)(v12 < v11 ? v12 : v11)];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (v4 < v3 && v5 < v2) {
        uint v13 = (uint)get_local_id(1) * 20u + (uint)get_local_id(0);
        float v14 = tile[v13] * 0.00390625f;
        float v15 = fma(tile[v13 + 20], 0.015625f, fma(tile[v13 + 4], 0.00390625f, fma(tile[v13 + 3], 0.015625f, fma(tile[v13 + 2], 0.0234375f, fma(tile[v13 + 1], 0.015625f, v14)))));
        float v16 = fma(tile[v13 + 40], 0.0234375f, fma(tile[v13 + 24], 0.015625f, fma(tile[v13 + 23], 0.0625f, fma(tile[v13 + 22], 0.09375f, fma(tile[v13 + 21], 0.0625f, v15)))));
        float v17 = fma(tile[v13 + 60], 0.015625f, fma(tile[v13 + 44], 0.0234375f, fma(tile[v13 + 43], 0.09375f, fma(tile[v13 + 42], 0.140625f, fma(tile[v13 + 41], 0.09375f, v16)))));
        float v18 = fma(tile[v13 + 80], 0.00390625f, fma(tile[v13 + 64], 0.015625f, fma(tile[v13 + 63], 0.0625f, fma(tile[v13 + 62], 0.09375f, fma(tile[v13 + 61], 0.0625f, v17)))));
        my_out[v5 * v3 + v4] = fma(tile[v13 + 84], 0.00390625f, fma(tile[v13 + 83], 0.015625f, fma(tile[v13 + 82], 0.0234375f, fma(tile[v13 + 81], 0.015625f, v18))));
    }
}
