#version 450
#extension GL_EXT_buffer_reference2 : require

// alias
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer from_at { float at; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer to_at { float at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) from_at from;
    layout(offset = 8) to_at to;
    layout(offset = 16) uint threads_x;
    layout(offset = 20) uint group_base_x;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        to_at v2 = to + v1;
        from_at v3 = from + v1;
        float v4 = v3.at;
        v2.at = v2.at + 1.0;
        precise float v5 = v3.at * v4;
        v2.at = v5;
    }
}
