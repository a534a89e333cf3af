// grey: 16 x 16 x 1 threads per block
struct grey_args {
    const uchar4 *rgba;
    float *grey;
    unsigned int threads_x;
    unsigned int threads_y;
    unsigned int group_base_x;
    unsigned int group_base_y;
};

extern "C" __global__ void __launch_bounds__(256) grey(const struct grey_args args) {
    const uchar4 *__restrict__ rgba = args.rgba;
    float *__restrict__ grey = args.grey;
    unsigned int v1 = (blockIdx.x * 16u + threadIdx.x) + args.group_base_x * 16u;
    unsigned int v2 = (blockIdx.y * 16u + threadIdx.y) + args.group_base_y * 16u;
    if (v1 < args.threads_x && v2 < args.threads_y) {
        unsigned int v3 = v2 * args.threads_x + v1;
        uchar4 v4 = __ldg(&rgba[v3]);
        float v5 = __fmul_rn(__fmul_rn((float)((unsigned int)v4.x), 0.003921569f), 0.2126f) + __fmul_rn(__fmul_rn((float)((unsigned int)v4.y), 0.003921569f), 0.7152f);
        float v6 = v5 + __fmul_rn(__fmul_rn((float)((unsigned int)v4.z), 0.003921569f), 0.0722f);
        grey[v3] = v6;
    }
}
