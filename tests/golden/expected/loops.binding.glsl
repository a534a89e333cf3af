#version 450

// loops
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) writeonly restrict buffer my_out_block { uint my_out[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) int rows;
    layout(offset = 4) uint threads_x;
    layout(offset = 8) uint group_base_x;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        uint sum = 0u;
        if (v1 % 7u == 6u) return;
        for (int i1 = ~(rows - 1); i1 < 0; i1 += 2) {
            int v2 = ~i1;
            if ((v2 & 3) == 3) continue;
            for (uint i2 = 0u; i2 < v1; i2++) {
                if ((i2 & 1u) == 0u) continue;
                if (1000u < sum) break;
                if (int(i2) < v2) {
                    sum = sum + i2;
                } else {
                    sum = sum ^ uint(v2);
                }
            }
        }
        my_out[v1] = sum;
    }
}
