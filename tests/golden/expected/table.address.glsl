#version 450
#extension GL_EXT_buffer_reference2 : require

// table
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer my_in_at { float at; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly restrict buffer my_out_at { float at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) my_in_at my_in;
    layout(offset = 8) my_out_at my_out;
    layout(offset = 16) uint threads_x;
    layout(offset = 20) uint group_base_x;
};
const float taps[8] = float[](0.5, -0.25, 0.125, 1e-10, 3.0, 16777216.0, 0.1, -0.0);
const int order[4] = int[](3, -1, -2147483648, 0);

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        float window[8];
        my_in_at v2 = my_in + v1;
        float sum = 0.0;
        window[0] = v2.at;
        window[1] = v2[1].at;
        window[2] = v2[2].at;
        window[3] = v2[3].at;
        window[4] = v2[4].at;
        window[5] = v2[5].at;
        window[6] = v2[6].at;
        window[7] = v2[7].at;
        for (uint i1 = 0u; i1 < 8u; i1++) {
            sum = fma(taps[i1], window[(i1 + uint(order[v1 & 3u])) & 7u], sum);
        }
        my_out[v1].at = sum;
    }
}
