// mandelbrot: 8 x 8 x 1 threads per block
struct mandelbrot_args {
    unsigned int *rounds;
    float corner[2];
    float my_step;
    unsigned int most_rounds;
    unsigned int threads_x;
    unsigned int threads_y;
    unsigned int group_base_x;
    unsigned int group_base_y;
};

extern "C" __global__ void __launch_bounds__(64) mandelbrot(const struct mandelbrot_args args) {
    unsigned int *__restrict__ rounds = args.rounds;
    float2 corner = make_float2(args.corner[0], args.corner[1]);
    unsigned int v1 = (blockIdx.x * 8u + threadIdx.x) + args.group_base_x * 8u;
    unsigned int v2 = (blockIdx.y * 8u + threadIdx.y) + args.group_base_y * 8u;
    if (v1 < args.threads_x && v2 < args.threads_y) {
        unsigned int n = 0u;
        float zx = 0.0f;
        float zy = 0.0f;
        float v3 = fmaf((float)v2, args.my_step, corner.y);
        float v4 = fmaf((float)v1, args.my_step, corner.x);
        while (true) {
            float v5 = zx;
            float v6 = __fmul_rn(v5, v5);
            float v7 = zy;
            float v8 = __fmul_rn(v7, v7);
            float v9 = v6 + v8;
            if (args.most_rounds <= n || 4.0f < v9) break;
            float v10 = __fmul_rn(__fmul_rn(v5, v7), 2.0f) + v3;
            zy = v10;
            float v11 = v6 - v8 + v4;
            zx = v11;
            n = n + 1u;
        }
        rounds[v2 * args.threads_x + v1] = n;
    }
}
