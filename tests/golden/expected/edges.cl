// edges
#pragma OPENCL FP_CONTRACT OFF
struct edges_args {
    uint threads_x;
    uint group_base_x;
};

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void edges(__global const int *restrict a, __global const int *restrict b, __global const float *restrict f, __global int4 *restrict my_out, const struct edges_args args) {
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        int v2 = a[v1];
        int v3 = b[v1];
        bool v4 = v3 == 0;
        bool v5 = v3 == -1;
        int v6 = v4 || v5 ? 1 : v3;
        int v7 = v2 / v6;
        int v8 = v4 ? v2 : (int)((uint)v2 - (uint)((int)((uint)v7 * (uint)v6)));
        float v9 = f[v1];
        float v10 = v9 < 0.0f ? as_float(0x7fc00000u) : pow(fabs(v9), 2.5f);
        int4 v11 = (int4)((int)((uint)(v4 ? -1 : (v5 ? (int)(0u - (uint)v2) : v7)) + (uint)v8), (int)((uint)v8 + (uint)(v8 != 0 && (v8 ^ v3) < 0 ? v3 : 0)), v2 >> (v3 & 31), 2.1474836e+09f <= v10 ? 2147483647 : (int)((as_uint(v10) & 2147483647u) <= 2139095040u ? fmin(fmax(v10, -2.1474836e+09f), 2.1474835e+09f) : 0.0f));
        my_out[v1] = v11;
    }
}
