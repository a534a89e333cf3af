// edges: 128 x 1 x 1 threads per block
struct edges_args {
    const int *a;
    const int *b;
    const float *f;
    int4 *my_out;
    unsigned int threads_x;
    unsigned int group_base_x;
};

extern "C" __global__ void __launch_bounds__(128) edges(const struct edges_args args) {
    const int *__restrict__ a = args.a;
    const int *__restrict__ b = args.b;
    const float *__restrict__ f = args.f;
    int4 *__restrict__ my_out = args.my_out;
    unsigned int v1 = (blockIdx.x * 128u + threadIdx.x) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        int v2 = __ldg(&a[v1]);
        int v3 = __ldg(&b[v1]);
        bool v4 = v3 == 0;
        bool v5 = v3 == -1;
        int v6 = v4 || v5 ? 1 : v3;
        int v7 = v2 / v6;
        int v8 = v4 ? v2 : (int)((unsigned int)v2 - (unsigned int)((int)((unsigned int)v7 * (unsigned int)v6)));
        float v9 = __ldg(&f[v1]);
        float v10 = v9 < 0.0f ? __uint_as_float(0x7fc00000u) : powf(fabsf(v9), 2.5f);
        int4 v11 = make_int4((int)((unsigned int)(v4 ? -1 : (v5 ? (int)(0u - (unsigned int)v2) : v7)) + (unsigned int)v8), (int)((unsigned int)v8 + (unsigned int)(v8 != 0 && (v8 ^ v3) < 0 ? v3 : 0)), v2 >> (v3 & 31), 2.1474836e+09f <= v10 ? 2147483647 : (int)((__float_as_uint(v10) & 2147483647u) <= 2139095040u ? fminf(fmaxf(v10, -2.1474836e+09f), 2.1474835e+09f) : 0.0f));
        my_out[v1] = v11;
    }
}
