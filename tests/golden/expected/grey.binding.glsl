#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_8bit_storage : require

// grey
layout(local_size_x = 16, local_size_y = 16, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) readonly restrict buffer rgba_block { u8vec4 rgba[]; };
layout(set = 0, binding = 1, std430) writeonly restrict buffer grey_block { float grey[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) uint threads_x;
    layout(offset = 4) uint threads_y;
    layout(offset = 8) uint group_base_x;
    layout(offset = 12) uint group_base_y;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 16u;
    uint v2 = gl_GlobalInvocationID.y + group_base_y * 16u;
    if (v1 < threads_x && v2 < threads_y) {
        uint v3 = v2 * threads_x + v1;
        vec4 v4 = vec4(uvec4(rgba[v3])) * vec4(0.003921569);
        precise float v5 = v4.x * 0.2126 + v4.y * 0.7152 + v4.z * 0.0722;
        grey[v3] = v5;
    }
}
