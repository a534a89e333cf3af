// switch: 128 x 1 x 1 threads per block
struct kernel_switch_args {
    const unsigned int *code;
    int *my_switch;
    unsigned int threads_x;
    unsigned int group_base_x;
};

extern "C" __global__ void __launch_bounds__(128) kernel_switch(const struct kernel_switch_args args) {
    const unsigned int *__restrict__ code = args.code;
    int *__restrict__ my_switch = args.my_switch;
    unsigned int v1 = (blockIdx.x * 128u + threadIdx.x) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        int sum = 0;
        for (int i1 = 0; i1 < 8; i1++) {
            unsigned int v2 = __ldg(&code[v1 * 8u + (unsigned int)i1]) % 5u;
            if (v2 == 0u) {
                sum = (int)((unsigned int)sum + (unsigned int)i1);
            } else if (v2 == 1u) {
                sum = (int)((unsigned int)sum * 3u);
            } else if (v2 == 3u) {
                if (100 < sum) break;
            } else {
                sum = (int)~sum;
            }
            int v3 = sum;
            switch (v3) {
            case -1: {
                sum = (-2147483647 - 1);
            } break;
            case 7: {
                sum = 2147483647;
            } break;
            }
        }
        my_switch[v1] = sum;
    }
}
