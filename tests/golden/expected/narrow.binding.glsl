#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require

// narrow
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) readonly restrict buffer a_block { uint8_t a[]; };
layout(set = 0, binding = 1, std430) restrict buffer b_block { int16_t b[]; };
layout(set = 0, binding = 2, std430) restrict buffer c_block { float16_t c[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) uint word_0;
    layout(offset = 4) uint word_4;
    layout(offset = 8) uint on_in;
    layout(offset = 12) uint threads_x;
    layout(offset = 16) uint group_base_x;
};

void main() {
    uint8_t bias = uint8_t(word_0);
    int16_t limit = int16_t(word_0 >> 16);
    float16_t gain = unpackFloat2x16(word_4).x;
    bool on = bool(on_in);
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        uint8_t v2 = a[v1] + bias;
        b[v1] = min(b[v1] + int16_t(v2 < bias ? uint8_t(255) : v2), limit);
        if (on) {
            precise float16_t v3 = c[v1] * gain + 0.0999755859375hf;
            c[v1] = v3;
        }
    }
}
