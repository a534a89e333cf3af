// mandelbrot
#pragma OPENCL FP_CONTRACT OFF
struct mandelbrot_args {
    float corner[2];
    float my_step;
    uint most_rounds;
    uint threads_x;
    uint threads_y;
    uint group_base_x;
    uint group_base_y;
};

__kernel __attribute__((reqd_work_group_size(8, 8, 1)))
void mandelbrot(__global uint *restrict rounds, const struct mandelbrot_args args) {
    float2 corner = (float2)(args.corner[0], args.corner[1]);
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 8u;
    uint v2 = (uint)get_global_id(1) + args.group_base_y * 8u;
    if (v1 < args.threads_x && v2 < args.threads_y) {
        uint n = 0u;
        float zx = 0.0f;
        float zy = 0.0f;
        float v3 = fma((float)v2, args.my_step, corner.y);
        float v4 = fma((float)v1, args.my_step, corner.x);
        while (true) {
            float v5 = zx;
            float v6 = v5 * v5;
            float v7 = zy;
            float v8 = v7 * v7;
            float v9 = v6 + v8;
            if (args.most_rounds <= n || 4.0f < v9) break;
            float v10 = v5 * v7 * 2.0f + v3;
            zy = v10;
            float v11 = v6 - v8 + v4;
            zx = v11;
            n = n + 1u;
        }
        rounds[v2 * args.threads_x + v1] = n;
    }
}
