// loops: 128 x 1 x 1 threads per block
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
        for (int i1 = (int)~((int)((unsigned int)args.rows - 1u)); i1 < 0; i1 += 2) {
            int v2 = (int)~i1;
            if ((v2 & 3) == 3) continue;
            for (unsigned int i2 = 0u; i2 < v1; i2++) {
                if ((i2 & 1u) == 0u) continue;
                if (1000u < sum) break;
                if ((int)i2 < v2) {
                    sum = sum + i2;
                } else {
                    sum = sum ^ (unsigned int)v2;
                }
            }
        }
        my_out[v1] = sum;
    }
}
