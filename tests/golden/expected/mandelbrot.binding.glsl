#version 450

// mandelbrot
layout(local_size_x = 8, local_size_y = 8, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) writeonly restrict buffer rounds_block { uint rounds[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) vec2 corner;
    layout(offset = 8) float my_step;
    layout(offset = 12) uint most_rounds;
    layout(offset = 16) uint threads_x;
    layout(offset = 20) uint threads_y;
    layout(offset = 24) uint group_base_x;
    layout(offset = 28) uint group_base_y;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 8u;
    uint v2 = gl_GlobalInvocationID.y + group_base_y * 8u;
    if (v1 < threads_x && v2 < threads_y) {
        uint n = 0u;
        float zx = 0.0;
        float zy = 0.0;
        float v3 = fma(float(v2), my_step, corner.y);
        float v4 = fma(float(v1), my_step, corner.x);
        while (true) {
            float v5 = zx;
            precise float v6 = v5 * v5;
            float v7 = zy;
            precise float v8 = v7 * v7;
            precise float v9 = v6 + v8;
            if (most_rounds <= n || 4.0 < v9) break;
            precise float v10 = v5 * v7 * 2.0 + v3;
            zy = v10;
            precise float v11 = v6 - v8;
            zx = v11 + v4;
            n = n + 1u;
        }
        rounds[v2 * threads_x + v1] = n;
    }
}
