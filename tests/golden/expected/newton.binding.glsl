#version 450

// newton
layout(local_size_x = 16, local_size_y = 16, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) writeonly restrict buffer my_out_block { vec2 my_out[]; };
layout(set = 0, binding = 1, std430) writeonly restrict buffer my_distance_block { float my_distance[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) float start_re;
    layout(offset = 4) float start_im;
    layout(offset = 8) float step_re;
    layout(offset = 12) float step_im;
    layout(offset = 16) uint threads_x;
    layout(offset = 20) uint threads_y;
    layout(offset = 24) uint group_base_x;
    layout(offset = 28) uint group_base_y;
};
const float roots_re[3] = float[](1.0, -0.5, -0.5);
const float roots_im[3] = float[](0.0, 0.8660254, -0.8660254);

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 16u;
    uint v2 = gl_GlobalInvocationID.y + group_base_y * 16u;
    float z_re = 0.0;
    float z_im = 0.0;
    if (v1 < threads_x && v2 < threads_y) {
        float v3 = float(v1);
        float v4 = float(v2);
        precise float v5 = v4 * step_im;
        precise float v6 = start_re + fma(v3, step_re, -v5);
        precise float v7 = v4 * step_re;
        precise float v8 = start_im + fma(v3, step_im, v7);
        uint v9 = v2 * threads_x + v1;
        z_re = v6;
        z_im = v8;
        for (uint i1 = 0u; i1 < 20u; i1++) {
            float v10 = z_re;
            float v11 = z_im;
            precise float v12 = v11 * v11;
            float v13 = fma(v10, v10, -v12);
            precise float v14 = v11 * v10;
            float v15 = fma(v10, v11, v14);
            precise float v16 = v15 * v11;
            precise float v17 = fma(v13, v10, -v16) - 1.0;
            float v18 = abs(v17);
            precise float v19 = v15 * v10;
            float v20 = fma(v13, v11, v19);
            float v21 = abs(v20);
            float v22 = v21 < v18 || !((floatBitsToUint(v21) & 2147483647u) <= 2139095040u) ? v18 : v21;
            bool v23 = 1.1529215e+18 < v22;
            bool v24 = v22 < 8.881784e-16;
            float v25 = v23 ? 1.26217745e-29 : (v24 ? 7.9228163e+28 : 1.0);
            precise float v26 = v17 * v25;
            precise float v27 = v13 * 3.0;
            float v28 = abs(v27);
            precise float v29 = v15 * 3.0;
            float v30 = abs(v29);
            float v31 = v30 < v28 || !((floatBitsToUint(v30) & 2147483647u) <= 2139095040u) ? v28 : v30;
            bool v32 = 1.1529215e+18 < v31;
            bool v33 = v31 < 8.881784e-16;
            float v34 = v32 ? 1.26217745e-29 : (v33 ? 7.9228163e+28 : 1.0);
            precise float v35 = v27 * v34;
            precise float v36 = v20 * v25;
            precise float v37 = v29 * v34;
            precise float v38 = v36 * v37;
            precise float v39 = v37 * v37;
            float v40 = fma(v35, v35, v39);
            precise float v41 = (v23 ? 2.8147498e+14 : (v24 ? 3.5527137e-15 : 1.0)) * (v32 ? 3.5527137e-15 : (v33 ? 2.8147498e+14 : 1.0));
            precise float v42 = v10 - fma(v26, v35, v38) / v40 * v41 * v41;
            precise float v43 = v26 * v37;
            precise float v44 = v11 - fma(v36, v35, -v43) / v40 * v41 * v41;
            z_re = v42;
            z_im = v44;
        }
        my_out[v9] = vec2(z_re, z_im);
        uint v45 = v9 % 3u;
        precise float v46 = z_re - roots_re[v45];
        float v47 = abs(v46);
        precise float v48 = z_im - roots_im[v45];
        float v49 = abs(v48);
        float v50 = v49 < v47 || !((floatBitsToUint(v49) & 2147483647u) <= 2139095040u) ? v47 : v49;
        float v51 = v50 < 8.6736174e-19 ? 1.1805916e+21 : (1.1529215e+18 < v50 ? 8.4703295e-22 : 1.0);
        precise float v52 = v47 * v51;
        precise float v53 = v49 * v51;
        precise float v54 = v53 * v53;
        precise float v55 = sqrt(fma(v52, v52, v54)) * (v51 == 1.0 ? 1.0 : (v51 == 1.1805916e+21 ? 8.4703295e-22 : 1.1805916e+21));
        my_distance[v9] = v50 == uintBitsToFloat(0x7f800000u) ? uintBitsToFloat(0x7f800000u) : v55;
    }
}
