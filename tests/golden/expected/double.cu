// double: 128 x 1 x 1 threads per block
struct kernel_double_args {
    double *x;
    double tiny;
    unsigned int threads_x;
    unsigned int group_base_x;
};

extern "C" __global__ void __launch_bounds__(128) kernel_double(const struct kernel_double_args args) {
    double *__restrict__ x = args.x;
    unsigned int v1 = (blockIdx.x * 128u + threadIdx.x) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        double *v2 = x + v1;
        double v3 = v2[0];
        double v4 = __dmul_rn(v3 + __ddiv_rn(v3, v3), 0.5);
        double v5 = __dmul_rn(v4 + __ddiv_rn(v3, v4), 0.5);
        double v6 = __dmul_rn(v5 + __ddiv_rn(v3, v5), 0.5);
        double v7 = __dsqrt_rn(fmax(v6, args.tiny)) + 1e-300;
        v2[0] = v7;
    }
}
