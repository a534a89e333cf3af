// switch
#pragma OPENCL FP_CONTRACT OFF
struct kernel_switch_args {
    uint threads_x;
    uint group_base_x;
};

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void kernel_switch(__global const uint *restrict code, __global int *restrict my_switch, const struct kernel_switch_args args) {
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        int sum = 0;
        for (int i1 = 0; i1 < 8; i1++) {
            uint v2 = code[v1 * 8u + (uint)i1] % 5u;
            if (v2 == 0u) {
                sum = (int)((uint)sum + (uint)i1);
            } else if (v2 == 1u) {
                sum = (int)((uint)sum * 3u);
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
