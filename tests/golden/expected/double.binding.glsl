#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

// double
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) restrict buffer x_block { double x[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) double tiny;
    layout(offset = 8) uint threads_x;
    layout(offset = 12) uint group_base_x;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        double v2 = x[v1];
        precise double v3 = (v2 + (v2 < packDouble2x32(uvec2(0x00000000u, 0x7ff00000u)) && -v2 < packDouble2x32(uvec2(0x00000000u, 0x7ff00000u)) && v2 != 0.0lf ? 1.0lf : packDouble2x32(uvec2(0x00000000u, 0x7ff80000u)))) * 0.5lf;
        precise double v4 = (v3 + v2 / v3) * 0.5lf;
        precise double v5 = (v4 + v2 / v4) * 0.5lf;
        precise double v6 = sqrt(tiny < v5 || !((doubleBitsToUint64(tiny) & 9223372036854775807ul) <= 9218868437227405312ul) ? v5 : tiny) + 1e-300lf;
        x[v1] = v6;
    }
}
