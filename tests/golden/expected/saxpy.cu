// saxpy: 128 x 1 x 1 threads per block
struct saxpy_args {
    const float *x;
    float *y;
    float a;
    unsigned int threads_x;
    unsigned int group_base_x;
};

extern "C" __global__ void __launch_bounds__(128) saxpy(const struct saxpy_args args) {
    const float *__restrict__ x = args.x;
    float *__restrict__ y = args.y;
    unsigned int v1 = (blockIdx.x * 128u + threadIdx.x) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        float *v2 = y + v1;
        v2[0] = fmaf(args.a, __ldg(&x[v1]), v2[0]);
    }
}
