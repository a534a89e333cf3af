#version 450

// alias
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) readonly buffer from_block { float from[]; };
layout(set = 0, binding = 1, std430) buffer to_block { float to[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) uint threads_x;
    layout(offset = 4) uint group_base_x;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        float v2 = from[v1];
        to[v1] = to[v1] + 1.0;
        precise float v3 = from[v1] * v2;
        to[v1] = v3;
    }
}
