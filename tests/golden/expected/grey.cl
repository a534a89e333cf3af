// grey
#pragma OPENCL FP_CONTRACT OFF
struct grey_args {
    uint threads_x;
    uint threads_y;
    uint group_base_x;
    uint group_base_y;
};

__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void grey(__global const uchar4 *restrict rgba, __global float *restrict grey, const struct grey_args args) {
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 16u;
    uint v2 = (uint)get_global_id(1) + args.group_base_y * 16u;
    if (v1 < args.threads_x && v2 < args.threads_y) {
        uint v3 = v2 * args.threads_x + v1;
        uchar4 v4 = rgba[v3];
        float v5 = (float)((uint)v4.x) * 0.003921569f * 0.2126f + (float)((uint)v4.y) * 0.003921569f * 0.7152f;
        float v6 = v5 + (float)((uint)v4.z) * 0.003921569f * 0.0722f;
        grey[v3] = v6;
    }
}
