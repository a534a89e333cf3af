#version 450

// table
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) readonly restrict buffer my_in_block { float my_in[]; };
layout(set = 0, binding = 1, std430) writeonly restrict buffer my_out_block { float my_out[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) uint threads_x;
    layout(offset = 4) uint group_base_x;
};
const float taps[8] = float[](0.5, -0.25, 0.125, 1e-10, 3.0, 16777216.0, 0.1, -0.0);
const int order[4] = int[](3, -1, -2147483648, 0);

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        float window[8];
        float sum = 0.0;
        window[0] = my_in[v1];
        window[1] = my_in[v1 + 1u];
        window[2] = my_in[v1 + 2u];
        window[3] = my_in[v1 + 3u];
        window[4] = my_in[v1 + 4u];
        window[5] = my_in[v1 + 5u];
        window[6] = my_in[v1 + 6u];
        window[7] = my_in[v1 + 7u];
        for (uint i1 = 0u; i1 < 8u; i1++) {
            sum = fma(taps[i1], window[(i1 + uint(order[v1 & 3u])) & 7u], sum);
        }
        my_out[v1] = sum;
    }
}
