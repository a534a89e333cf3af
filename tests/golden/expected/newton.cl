// newton
#pragma OPENCL FP_CONTRACT OFF
struct newton_args {
    float start_re;
    float start_im;
    float step_re;
    float step_im;
    uint threads_x;
    uint threads_y;
    uint group_base_x;
    uint group_base_y;
};

__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void newton(__global uchar *restrict my_out, __global float *restrict my_distance, const struct newton_args args) {
    __constant float roots_re[3] = { 1.0f, -0.5f, -0.5f };
    __constant float roots_im[3] = { 0.0f, 0.8660254f, -0.8660254f };
    __global float2 *restrict my_out_2 = (__global float2 *)my_out;
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 16u;
    uint v2 = (uint)get_global_id(1) + args.group_base_y * 16u;
    float z_re = 0.0f;
    float z_im = 0.0f;
    if (v1 < args.threads_x && v2 < args.threads_y) {
        float v3 = (float)v1;
        float v4 = (float)v2;
        float v5 = v4 * args.step_im;
        float v6 = args.start_re + fma(v3, args.step_re, -v5);
        float v7 = v4 * args.step_re;
        float v8 = args.start_im + fma(v3, args.step_im, v7);
        uint v9 = v2 * args.threads_x + v1;
        z_re = v6;
        z_im = v8;
        for (uint i1 = 0u; i1 < 20u; i1++) {
            float v10 = z_re;
            float v11 = z_im;
            float v12 = v11 * v11;
            float v13 = fma(v10, v10, -v12);
            float v14 = v11 * v10;
            float v15 = fma(v10, v11, v14);
            float v16 = v15 * v11;
            float v17 = fma(v13, v10, -v16) - 1.0f;
            float v18 = v15 * v10;
            float v19 = fma(v13, v11, v18);
            float v20 = fmax(fabs(v17), fabs(v19));
            bool v21 = 1.1529215e+18f < v20;
            bool v22 = v20 < 8.881784e-16f;
            float v23 = v21 ? 1.26217745e-29f : (v22 ? 7.9228163e+28f : 1.0f);
            float v24 = v17 * v23;
            float v25 = v13 * 3.0f;
            float v26 = v15 * 3.0f;
            float v27 = fmax(fabs(v25), fabs(v26));
            bool v28 = 1.1529215e+18f < v27;
            bool v29 = v27 < 8.881784e-16f;
            float v30 = v28 ? 1.26217745e-29f : (v29 ? 7.9228163e+28f : 1.0f);
            float v31 = v25 * v30;
            float v32 = v19 * v23;
            float v33 = v26 * v30;
            float v34 = v32 * v33;
            float v35 = v33 * v33;
            float v36 = fma(v31, v31, v35);
            float v37 = (v21 ? 2.8147498e+14f : (v22 ? 3.5527137e-15f : 1.0f)) * (v28 ? 3.5527137e-15f : (v29 ? 2.8147498e+14f : 1.0f));
            float v38 = v10 - fma(v24, v31, v34) / v36 * v37 * v37;
            float v39 = v24 * v33;
            float v40 = v11 - fma(v32, v31, -v39) / v36 * v37 * v37;
            z_re = v38;
            z_im = v40;
        }
        my_out_2[v9] = (float2)(z_re, z_im);
        uint v41 = v9 % 3u;
        float v42 = z_re - roots_re[v41];
        float v43 = fabs(v42);
        float v44 = z_im - roots_im[v41];
        float v45 = fabs(v44);
        float v46 = fmax(v43, v45);
        float v47 = v46 < 8.6736174e-19f ? 1.1805916e+21f : (1.1529215e+18f < v46 ? 8.4703295e-22f : 1.0f);
        float v48 = v43 * v47;
        float v49 = v45 * v47;
        float v50 = v49 * v49;
        float v51 = sqrt(fma(v48, v48, v50)) * (v47 == 1.0f ? 1.0f : (v47 == 1.1805916e+21f ? 8.4703295e-22f : 1.1805916e+21f));
        my_distance[v9] = v46 == as_float(0x7f800000u) ? as_float(0x7f800000u) : v51;
    }
}
