// reduce
#pragma OPENCL FP_CONTRACT OFF
struct reduce_args {
    uint group_base_x;
    uint in_length;
};

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void reduce(__global const float *restrict my_in, __global float *restrict my_out, const struct reduce_args args) {
    __local float part[256];
    uint local_index = (uint)(get_local_id(0) + 256 * (get_local_id(1) + 1 * get_local_id(2)));
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 256u;
    bool v2 = v1 < args.in_length;
    float v3 = my_in[v2 ? v1 : 0u];
    part[local_index] = v2 ? v3 : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (local_index < 128u) {
        float v4 = part[local_index] + part[local_index + 128];
        part[local_index] = v4;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (local_index < 64u) {
        float v5 = part[local_index] + part[local_index + 64];
        part[local_index] = v5;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (local_index < 32u) {
        float v6 = part[local_index] + part[local_index + 32];
        part[local_index] = v6;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (local_index < 16u) {
        float v7 = part[local_index] + part[local_index + 16];
        part[local_index] = v7;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (local_index < 8u) {
        float v8 = part[local_index] + part[local_index + 8];
        part[local_index] = v8;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (local_index < 4u) {
        float v9 = part[local_index] + part[local_index + 4];
        part[local_index] = v9;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (local_index < 2u) {
        float v10 = part[local_index] + part[local_index + 2];
        part[local_index] = v10;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (local_index < 1u) {
        float v11 = part[local_index] + part[local_index + 1];
        part[local_index] = v11;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (local_index == 0u) {
        my_out[(uint)get_group_id(0) + args.group_base_x] = part[0];
    }
}
