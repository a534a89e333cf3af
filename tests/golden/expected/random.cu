// random: 128 x 1 x 1 threads per block
struct random_args {
    unsigned long long *state;
    float *my_out;
    long long stride;
    unsigned int threads_x;
    unsigned int group_base_x;
};

extern "C" __global__ void __launch_bounds__(128) random(const struct random_args args) {
    unsigned long long *__restrict__ state = args.state;
    float *__restrict__ my_out = args.my_out;
    unsigned int v1 = (blockIdx.x * 128u + threadIdx.x) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        unsigned long long *v2 = state + (long long)((unsigned long long)((long long)v1) * (unsigned long long)args.stride);
        unsigned long long v3 = v2[0];
        unsigned int v4 = (unsigned int)(((v3 >> 18ull) ^ v3) >> 27ull);
        unsigned int v5 = (unsigned int)(v3 >> 59ull);
        v2[0] = v3 * 6364136223846793005ull + 1442695040888963407ull;
        float v6 = __fmul_rn((float)(((v4 >> (v5 & 31u)) | (v4 << (-v5 & 31u))) >> 8u), 5.9604645e-08f);
        my_out[v1] = v6;
    }
}
