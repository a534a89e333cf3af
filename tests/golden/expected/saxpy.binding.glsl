#version 450

// saxpy
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) readonly restrict buffer x_block { float x[]; };
layout(set = 0, binding = 1, std430) restrict buffer y_block { float y[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) float a;
    layout(offset = 4) uint threads_x;
    layout(offset = 8) uint group_base_x;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        y[v1] = fma(a, x[v1], y[v1]);
    }
}
