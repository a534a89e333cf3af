// saxpy
#pragma OPENCL FP_CONTRACT OFF
struct saxpy_args {
    float a;
    uint threads_x;
    uint group_base_x;
};

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void saxpy(__global const float *restrict x, __global float *restrict y, const struct saxpy_args args) {
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        y[v1] = fma(args.a, x[v1], y[v1]);
    }
}
