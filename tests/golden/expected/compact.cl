// compact
#pragma OPENCL FP_CONTRACT OFF
struct compact_args {
    uint group_base_x;
};

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void compact(__global const float *restrict my_in, __global float *restrict my_out, __global uint *restrict count, const struct compact_args args) {
    __local uint place[1];
    __local uint group[64];
    uint local_index = (uint)(get_local_id(0) + 32 * (get_local_id(1) + 1 * get_local_id(2)));
    float v1 = my_in[(uint)get_global_id(0) + args.group_base_x * 32u];
    bool v2 = 0.0f < v1;
    uint v3 = v2 ? 1u : 0u;
    group[local_index] = v3;
    barrier(CLK_LOCAL_MEM_FENCE);
    bool v4 = 1u <= local_index;
    uint v5 = v4 ? local_index - 1u : 0u;
    uint v6 = v4 ? group[v5] + v3 : v3;
    group[local_index + 32] = v6;
    barrier(CLK_LOCAL_MEM_FENCE);
    bool v7 = 2u <= local_index;
    uint v8 = v7 ? group[(v7 ? local_index - 2u : 0u) + 32] + v6 : v6;
    group[local_index] = v8;
    barrier(CLK_LOCAL_MEM_FENCE);
    bool v9 = 4u <= local_index;
    uint v10 = v9 ? group[v9 ? local_index - 4u : 0u] + v8 : v8;
    group[local_index + 32] = v10;
    barrier(CLK_LOCAL_MEM_FENCE);
    bool v11 = 8u <= local_index;
    uint v12 = v11 ? group[(v11 ? local_index - 8u : 0u) + 32] + v10 : v10;
    group[local_index] = v12;
    barrier(CLK_LOCAL_MEM_FENCE);
    bool v13 = 16u <= local_index;
    group[local_index + 32] = v13 ? group[v13 ? local_index - 16u : 0u] + v12 : v12;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint v14 = v4 ? group[v5 + 32] : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint left = 0u;
    if (true) {
        group[local_index] = v3;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    left = 32u;
    while (true) {
        if (left <= 1u) break;
        uint v15 = left;
        uint v16 = v15 - (v15 >> 1u);
        uint v17 = local_index + v16;
        if (v17 < v15) {
            group[local_index] = group[local_index] + group[v17];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        left = v16;
    }
    uint v18 = group[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (local_index == 0u) {
        uint v19 = atomic_add((volatile __global uint *)&count[0], v18);
        place[0] = v19;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (v2) {
        my_out[place[0] + v14] = v1;
    }
}
