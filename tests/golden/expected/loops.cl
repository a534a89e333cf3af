// loops
#pragma OPENCL FP_CONTRACT OFF
struct loops_args {
    int rows;
    uint threads_x;
    uint group_base_x;
};

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void loops(__global uint *restrict my_out, const struct loops_args args) {
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        uint sum = 0u;
        if (v1 % 7u == 6u) return;
        for (int i1 = (int)~((int)((uint)args.rows - 1u)); i1 < 0; i1 += 2) {
            int v2 = (int)~i1;
            if ((v2 & 3) == 3) continue;
            for (uint i2 = 0u; i2 < v1; i2++) {
                if ((i2 & 1u) == 0u) continue;
                if (1000u < sum) break;
                if ((int)i2 < v2) {
                    sum = sum + i2;
                } else {
                    sum = sum ^ (uint)v2;
                }
            }
        }
        my_out[v1] = sum;
    }
}
