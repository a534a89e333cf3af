// newton: 16 x 16 x 1 threads per block
struct newton_args {
    unsigned char *my_out;
    float *my_distance;
    float start_re;
    float start_im;
    float step_re;
    float step_im;
    unsigned int threads_x;
    unsigned int threads_y;
    unsigned int group_base_x;
    unsigned int group_base_y;
};

extern "C" __global__ void __launch_bounds__(256) newton(const struct newton_args args) {
    static const float roots_re[3] = { 1.0f, -0.5f, -0.5f };
    static const float roots_im[3] = { 0.0f, 0.8660254f, -0.8660254f };
    float2 *__restrict__ my_out_2 = (float2 *)args.my_out;
    float *__restrict__ my_distance = args.my_distance;
    unsigned int v1 = (blockIdx.x * 16u + threadIdx.x) + args.group_base_x * 16u;
    unsigned int v2 = (blockIdx.y * 16u + threadIdx.y) + args.group_base_y * 16u;
    float z_re = 0.0f;
    float z_im = 0.0f;
    if (v1 < args.threads_x && v2 < args.threads_y) {
        float v3 = (float)v1;
        float v4 = (float)v2;
        float v5 = __fmul_rn(v4, args.step_im);
        float v6 = args.start_re + fmaf(v3, args.step_re, -v5);
        float v7 = __fmul_rn(v4, args.step_re);
        float v8 = args.start_im + fmaf(v3, args.step_im, v7);
        unsigned int v9 = v2 * args.threads_x + v1;
        z_re = v6;
        z_im = v8;
        for (unsigned int i1 = 0u; i1 < 20u; i1++) {
            float v10 = z_re;
            float v11 = z_im;
            float v12 = __fmul_rn(v11, v11);
            float v13 = fmaf(v10, v10, -v12);
            float v14 = __fmul_rn(v11, v10);
            float v15 = fmaf(v10, v11, v14);
            float v16 = __fmul_rn(v15, v11);
            float v17 = fmaf(v13, v10, -v16) - 1.0f;
            float v18 = __fmul_rn(v15, v10);
            float v19 = fmaf(v13, v11, v18);
            float v20 = fmaxf(fabsf(v17), fabsf(v19));
            bool v21 = 1.1529215e+18f < v20;
            bool v22 = v20 < 8.881784e-16f;
            float v23 = v21 ? 1.26217745e-29f : (v22 ? 7.9228163e+28f : 1.0f);
            float v24 = __fmul_rn(v17, v23);
            float v25 = __fmul_rn(v13, 3.0f);
            float v26 = __fmul_rn(v15, 3.0f);
            float v27 = fmaxf(fabsf(v25), fabsf(v26));
            bool v28 = 1.1529215e+18f < v27;
            bool v29 = v27 < 8.881784e-16f;
            float v30 = v28 ? 1.26217745e-29f : (v29 ? 7.9228163e+28f : 1.0f);
            float v31 = __fmul_rn(v25, v30);
            float v32 = __fmul_rn(v19, v23);
            float v33 = __fmul_rn(v26, v30);
            float v34 = __fmul_rn(v32, v33);
            float v35 = __fmul_rn(v33, v33);
            float v36 = fmaf(v31, v31, v35);
            float v37 = __fmul_rn(v21 ? 2.8147498e+14f : (v22 ? 3.5527137e-15f : 1.0f), v28 ? 3.5527137e-15f : (v29 ? 2.8147498e+14f : 1.0f));
            float v38 = v10 - __fmul_rn(__fmul_rn(__fdiv_rn(fmaf(v24, v31, v34), v36), v37), v37);
            float v39 = __fmul_rn(v24, v33);
            float v40 = v11 - __fmul_rn(__fmul_rn(__fdiv_rn(fmaf(v32, v31, -v39), v36), v37), v37);
            z_re = v38;
            z_im = v40;
        }
        my_out_2[v9] = make_float2(z_re, z_im);
        unsigned int v41 = v9 % 3u;
        float v42 = z_re - roots_re[v41];
        float v43 = fabsf(v42);
        float v44 = z_im - roots_im[v41];
        float v45 = fabsf(v44);
        float v46 = fmaxf(v43, v45);
        float v47 = v46 < 8.6736174e-19f ? 1.1805916e+21f : (1.1529215e+18f < v46 ? 8.4703295e-22f : 1.0f);
        float v48 = __fmul_rn(v43, v47);
        float v49 = __fmul_rn(v45, v47);
        float v50 = __fmul_rn(v49, v49);
        float v51 = __fmul_rn(__fsqrt_rn(fmaf(v48, v48, v50)), v47 == 1.0f ? 1.0f : (v47 == 1.1805916e+21f ? 8.4703295e-22f : 1.1805916e+21f));
        my_distance[v9] = v46 == __uint_as_float(0x7f800000u) ? __uint_as_float(0x7f800000u) : v51;
    }
}
