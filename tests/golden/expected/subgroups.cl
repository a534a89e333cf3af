// subgroups
#pragma OPENCL FP_CONTRACT OFF
struct subgroups_args {
    uint group_base_x;
};

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void subgroups(__global const float *restrict my_in, __global float *restrict my_out, __global uint *restrict ids, const struct subgroups_args args) {
    __local float part[128];
    uint local_index = (uint)(get_local_id(0) + 128 * (get_local_id(1) + 1 * get_local_id(2)));
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 128u;
    float v2 = my_in[v1];
    if (true) {
        part[local_index] = v2;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint i1 = 0u; i1 < local_index; i1++) {
        float v3 = part[i1] + 0.0f;
        my_out[v1] = v3;
    }
    if (!(0.0f < v2)) {
        float v4 = v2 * v2;
        my_out[v1] = v4;
    }
    if (true) {
        my_out[v1] = v2;
    }
    ids[v1] = 1u;
    ids[v1 + 128u] = 0u;
}
