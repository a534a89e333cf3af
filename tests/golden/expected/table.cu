// table: 128 x 1 x 1 threads per block
struct table_args {
    const float *my_in;
    float *my_out;
    unsigned int threads_x;
    unsigned int group_base_x;
};

extern "C" __global__ void __launch_bounds__(128) table(const struct table_args args) {
    static const float taps[8] = { 0.5f, -0.25f, 0.125f, 1e-10f, 3.0f, 16777216.0f, 0.1f, -0.0f };
    static const int order[4] = { 3, -1, (-2147483647 - 1), 0 };
    const float *__restrict__ my_in = args.my_in;
    float *__restrict__ my_out = args.my_out;
    unsigned int v1 = (blockIdx.x * 128u + threadIdx.x) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        float window[8];
        const float *v2 = my_in + v1;
        float sum = 0.0f;
        window[0] = __ldg(&v2[0]);
        window[1] = __ldg(&v2[1]);
        window[2] = __ldg(&v2[2]);
        window[3] = __ldg(&v2[3]);
        window[4] = __ldg(&v2[4]);
        window[5] = __ldg(&v2[5]);
        window[6] = __ldg(&v2[6]);
        window[7] = __ldg(&v2[7]);
        for (unsigned int i1 = 0u; i1 < 8u; i1++) {
            sum = fmaf(taps[i1], window[(i1 + (unsigned int)order[v1 & 3u]) & 7u], sum);
        }
        my_out[v1] = sum;
    }
}
