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
    uint v6 = group[v5] + v3;
    uint v7 = v4 ? v6 : v3;
    group[local_index + 32] = v7;
    barrier(CLK_LOCAL_MEM_FENCE);
    bool v8 = 2u <= local_index;
    uint v9 = group[(v8 ? local_index - 2u : 0u) + 32] + v7;
    uint v10 = v8 ? v9 : v7;
    group[local_index] = v10;
    barrier(CLK_LOCAL_MEM_FENCE);
    bool v11 = 4u <= local_index;
    uint v12 = group[v11 ? local_index - 4u : 0u] + v10;
    uint v13 = v11 ? v12 : v10;
    group[local_index + 32] = v13;
    barrier(CLK_LOCAL_MEM_FENCE);
    bool v14 = 8u <= local_index;
    uint v15 = group[(v14 ? local_index - 8u : 0u) + 32] + v13;
    uint v16 = v14 ? v15 : v13;
    group[local_index] = v16;
    barrier(CLK_LOCAL_MEM_FENCE);
    bool v17 = 16u <= local_index;
    uint v18 = group[v17 ? local_index - 16u : 0u] + v16;
    group[local_index + 32] = v17 ? v18 : v16;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint v19 = group[v5 + 32];
    uint v20 = v4 ? v19 : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint remaining = 0u;
    if (true) {
        group[local_index] = v3;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    remaining = 32u;
    while (true) {
        if (remaining <= 1u) break;
        uint v21 = remaining;
        uint v22 = v21 - (v21 >> 1u);
        uint v23 = local_index + v22;
        if (v23 < v21) {
            group[local_index] = group[local_index] + group[v23];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        remaining = v22;
    }
    uint v24 = group[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (local_index == 0u) {
        uint v25 = atomic_add((volatile __global uint *)&count[0], v24);
        place[0] = v25;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (v2) {
        my_out[place[0] + v20] = v1;
    }
}
