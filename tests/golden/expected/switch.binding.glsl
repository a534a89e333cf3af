#version 450

// switch
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) readonly restrict buffer code_block { uint code[]; };
layout(set = 0, binding = 1, std430) writeonly restrict buffer my_switch_block { int my_switch[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) uint threads_x;
    layout(offset = 4) uint group_base_x;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        int sum = 0;
        for (int i1 = 0; i1 < 8; i1++) {
            uint v2 = code[v1 * 8u + uint(i1)] % 5u;
            if (v2 == 0u) {
                sum = sum + i1;
            } else if (v2 == 1u) {
                sum = sum * 3;
            } else if (v2 == 3u) {
                if (100 < sum) break;
            } else {
                sum = ~sum;
            }
            int v3 = sum;
            switch (v3) {
            case -1: {
                sum = -2147483648;
            } break;
            case 7: {
                sum = 2147483647;
            } break;
            }
        }
        my_switch[v1] = sum;
    }
}
