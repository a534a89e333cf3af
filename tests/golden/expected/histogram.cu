// histogram: 64 x 1 x 1 threads per block
struct histogram_args {
    const unsigned char *my_in;
    unsigned int *bins;
    unsigned int threads_x;
    unsigned int group_base_x;
    unsigned int in_length;
};

extern "C" __global__ void __launch_bounds__(64) histogram(const struct histogram_args args) {
    const unsigned char *__restrict__ my_in = args.my_in;
    unsigned int *__restrict__ bins = args.bins;
    unsigned int v1 = (blockIdx.x * 64u + threadIdx.x) + args.group_base_x * 64u;
    if (v1 < args.threads_x) {
        unsigned int count = 0u;
        for (unsigned int i1 = 0u; i1 < args.in_length; i1++) {
            count = count + ((unsigned int)__ldg(&my_in[i1]) == v1 ? 1u : 0u);
        }
        bins[v1] = count;
    }
}
