// alias: 128 x 1 x 1 threads per block
struct alias_args {
    const float *from;
    float *to;
    unsigned int threads_x;
    unsigned int group_base_x;
};

extern "C" __global__ void __launch_bounds__(128) alias(const struct alias_args args) {
    const float *from = args.from;
    float *to = args.to;
    unsigned int v1 = (blockIdx.x * 128u + threadIdx.x) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        float *v2 = to + v1;
        float v3 = v2[0] + 1.0f;
        const float *v4 = from + v1;
        float v5 = v4[0];
        v2[0] = v3;
        float v6 = __fmul_rn(v4[0], v5);
        v2[0] = v6;
    }
}
