// double
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
struct kernel_double_args {
    double tiny;
    uint threads_x;
    uint group_base_x;
};

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void kernel_double(__global double *restrict x, const struct kernel_double_args args) {
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        double v2 = x[v1];
        double v3 = (v2 + v2 / v2) * 0.5;
        double v4 = (v3 + v2 / v3) * 0.5;
        double v5 = (v4 + v2 / v4) * 0.5;
        double v6 = sqrt(fmax(v5, args.tiny)) + 1e-300;
        x[v1] = v6;
    }
}
