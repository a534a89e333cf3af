#version 450
#extension GL_EXT_buffer_reference2 : require

// names
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly restrict buffer my_out_at { float at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) my_out_at my_out;
    layout(offset = 8) float value;
    layout(offset = 12) float value_2;
    layout(offset = 16) float my_float;
    layout(offset = 20) float my_global;
    layout(offset = 24) float my_v1;
    layout(offset = 28) float my_gl_Position;
    layout(offset = 32) float sum;
    layout(offset = 36) float sum_2;
    layout(offset = 40) float sum_2_2;
    layout(offset = 44) float my_7_up;
    layout(offset = 48) float t;
    layout(offset = 52) float my_threadIdx;
    layout(offset = 56) float my_main;
    layout(offset = 60) float a_b;
    layout(offset = 64) float value_3;
    layout(offset = 68) uint threads_x;
    layout(offset = 72) uint group_base_x;
};

void main() {
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    float v2 = 0.0 + value + value_2 + my_float + my_global + my_v1 + my_gl_Position + sum + sum_2 + sum_2_2;
    float v3 = v2 + my_7_up + t + my_threadIdx + my_main + a_b + value_3;
    if (v1 < threads_x) {
        float sum_3 = 0.0;
        sum_3 = v3;
        if (1.0 < sum_3) {
            sum_3 = 1.0;
        }
        my_out[v1].at = sum_3;
    }
}
