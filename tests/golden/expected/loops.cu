// loops: 128 x 1 x 1 threads a block
struct loops_args {
    unsigned int *my_out;
    int rows;
    unsigned int threads_x;
    unsigned int group_base_x;
};

extern "C" __global__ void __launch_bounds__(128) loops(const struct loops_args args) {
    unsigned int *__restrict__ my_out = args.my_out;
    unsigned int v1 = (blockIdx.x * 128u + threadIdx.x) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        unsigned int sum = 0u;
        if (v1 % 7u == 6u) return;
        int v2 = (int)((unsigned int)args.rows - 1u);
        unsigned int v3 = -1 < v2 ? ((unsigned int)v2 - 4294967295u - 1u) / 2u + 1u : 0u;
        for (unsigned int i1 = 0u; i1 < v3; i1++) {
            int v4 = (int)((unsigned int)v2 + (unsigned int)((int)(i1 * 4294967294u)));
            if ((v4 & 3) == 3) continue;
            for (unsigned int i2 = 0u; i2 < v1; i2++) {
                if ((i2 & 1u) == 0u) continue;
                if (1000u < sum) break;
                if ((int)i2 < v4) {
                    sum = sum + i2;
                } else {
                    sum = sum ^ (unsigned int)v4;
                }
            }
        }
        my_out[v1] = sum;
    }
}
