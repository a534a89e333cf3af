// alias
#pragma OPENCL FP_CONTRACT OFF
struct alias_args {
    uint threads_x;
    uint group_base_x;
};

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void alias(__global const float *from, __global float *to, const struct alias_args args) {
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        float v2 = to[v1] + 1.0f;
        float v3 = from[v1];
        to[v1] = v2;
        float v4 = from[v1] * v3;
        to[v1] = v4;
    }
}
