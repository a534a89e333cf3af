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
        int v2 = rows - 1;
        uint v3 = -1 < v2 ? (uint(v2) - 4294967295u - 1u) / 2u + 1u : 0u;
        for (uint i1 = 0u; i1 < v3; i1++) {
            int v4 = v2 + int(i1 * 4294967294u);
            if ((v4 & 3) == 3) continue;
            for (uint i2 = 0u; i2 < v1; i2++) {
                if ((i2 & 1u) == 0u) continue;
                if (1000u < sum) break;
                if (int(i2) < v4) {
                    sum = sum + i2;
                } else {
                    sum = sum ^ uint(v4);
                }
            }
        }
        my_out[v1] = sum;
    }
}
