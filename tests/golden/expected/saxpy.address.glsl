#version 450
#extension GL_EXT_buffer_reference2 : require

// saxpy
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer x_at { float at; };
layout(buffer_reference, std430, buffer_reference_align = 4) restrict buffer y_at { float at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) x_at x;
    layout(offset = 8) y_at y;
    layout(offset = 16) float a;
    layout(offset = 20) uint threads_x;
    layout(offset = 24) uint group_base_x;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        y_at v2 = y + v1;
        v2.at = fma(a, x[v1].at, v2.at);
    }
}
