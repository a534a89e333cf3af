#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_buffer_reference2 : require

// double
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 8) restrict buffer x_at { double at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) x_at x;
    layout(offset = 8) double tiny;
    layout(offset = 16) uint threads_x;
    layout(offset = 20) uint group_base_x;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        x_at v2 = x + v1;
        double v3 = v2.at;
        precise double v4 = (v3 + (v3 < packDouble2x32(uvec2(0x00000000u, 0x7ff00000u)) && -v3 < packDouble2x32(uvec2(0x00000000u, 0x7ff00000u)) && v3 != 0.0lf ? 1.0lf : packDouble2x32(uvec2(0x00000000u, 0x7ff80000u)))) * 0.5lf;
        precise double v5 = (v4 + v3 / v4) * 0.5lf;
        precise double v6 = (v5 + v3 / v5) * 0.5lf;
        precise double v7 = sqrt(tiny < v6 || !((doubleBitsToUint64(tiny) & 9223372036854775807ul) <= 9218868437227405312ul) ? v6 : tiny) + 1e-300lf;
        v2.at = v7;
    }
}
