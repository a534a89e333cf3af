// conditions
#pragma OPENCL FP_CONTRACT OFF
struct conditions_args {
    uint threads_x;
    uint group_base_x;
};

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void conditions(__global const float4 *restrict my_in, __global uint *restrict flags, __global float4 *restrict my_out, const struct conditions_args args) {
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        float4 v2 = my_in[v1];
        float v3 = v2.x;
        bool v4 = v3 < 0.0f;
        float v5 = v2.y;
        bool v6 = v5 < 0.0f;
        float v7 = v2.z;
        bool v8 = v7 < 0.0f;
        float v9 = v2.w;
        bool v10 = v9 < 0.0f;
        bool v11 = (v4 || v6 || v8 || v10) != (flags[v1] != 0);
        uint v12 = as_uint(v3) & 2147483647u;
        uint v13 = as_uint(v5) & 2147483647u;
        uint v14 = as_uint(v7) & 2147483647u;
        uint v15 = as_uint(v9) & 2147483647u;
        bool v16 = 2139095040u < v12 || !(v12 == 2139095040u);
        bool v17 = 2139095040u < v13 || !(v13 == 2139095040u);
        bool v18 = 2139095040u < v14 || !(v14 == 2139095040u);
        bool v19 = 2139095040u < v15 || !(v15 == 2139095040u);
        float v20 = v4 && v16 ? -v3 : as_float(0x7f800000u);
        float v21 = v6 && v17 ? -v5 : as_float(0x7f800000u);
        float v22 = v8 && v18 ? -v7 : as_float(0x7f800000u);
        float v23 = v10 && v19 ? -v9 : as_float(0x7f800000u);
        my_out[v1] = (float4)(v11 ? v20 : v23, v11 ? v21 : v22, v11 ? v22 : v21, v11 ? v23 : v20);
        flags[v1] = v16 && v17 && v18 && v19 && v5 != -0.0f;
    }
}
