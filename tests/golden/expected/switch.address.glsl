#version 450
#extension GL_EXT_buffer_reference2 : require

// switch
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer code_at { uint at; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly restrict buffer my_switch_at { int at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) code_at code;
    layout(offset = 8) my_switch_at my_switch;
    layout(offset = 16) uint threads_x;
    layout(offset = 20) uint group_base_x;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        int sum = 0;
        for (int i1 = 0; i1 < 8; i1++) {
            uint v2 = code[v1 * 8u + uint(i1)].at % 5u;
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
        my_switch[v1].at = sum;
    }
}
