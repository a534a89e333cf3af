// conditions: 128 x 1 x 1 threads per block
struct conditions_args {
    const float4 *my_in;
    unsigned int *flags;
    float4 *my_out;
    unsigned int threads_x;
    unsigned int group_base_x;
};

extern "C" __global__ void __launch_bounds__(128) conditions(const struct conditions_args args) {
    const float4 *__restrict__ my_in = args.my_in;
    unsigned int *__restrict__ flags = args.flags;
    float4 *__restrict__ my_out = args.my_out;
    unsigned int v1 = (blockIdx.x * 128u + threadIdx.x) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        float4 v2 = __ldg(&my_in[v1]);
        float v3 = v2.x;
        bool v4 = v3 < 0.0f;
        float v5 = v2.y;
        bool v6 = v5 < 0.0f;
        float v7 = v2.z;
        bool v8 = v7 < 0.0f;
        float v9 = v2.w;
        bool v10 = v9 < 0.0f;
        unsigned int *v11 = flags + v1;
        bool v12 = (v4 || v6 || v8 || v10) != (v11[0] != 0);
        unsigned int v13 = __float_as_uint(v3) & 2147483647u;
        unsigned int v14 = __float_as_uint(v5) & 2147483647u;
        unsigned int v15 = __float_as_uint(v7) & 2147483647u;
        unsigned int v16 = __float_as_uint(v9) & 2147483647u;
        bool v17 = 2139095040u < v13 || !(v13 == 2139095040u);
        bool v18 = 2139095040u < v14 || !(v14 == 2139095040u);
        bool v19 = 2139095040u < v15 || !(v15 == 2139095040u);
        bool v20 = 2139095040u < v16 || !(v16 == 2139095040u);
        float v21 = v4 && v17 ? -v3 : __uint_as_float(0x7f800000u);
        float v22 = v6 && v18 ? -v5 : __uint_as_float(0x7f800000u);
        float v23 = v8 && v19 ? -v7 : __uint_as_float(0x7f800000u);
        float v24 = v10 && v20 ? -v9 : __uint_as_float(0x7f800000u);
        my_out[v1] = make_float4(v12 ? v21 : v24, v12 ? v22 : v23, v12 ? v23 : v22, v12 ? v24 : v21);
        v11[0] = v17 && v18 && v19 && v20 && v5 != -0.0f;
    }
}
