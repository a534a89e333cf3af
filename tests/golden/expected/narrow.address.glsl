#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_buffer_reference2 : require

// narrow
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 1) readonly restrict buffer a_at { uint8_t at; };
layout(buffer_reference, std430, buffer_reference_align = 2) restrict buffer b_at { int16_t at; };
layout(buffer_reference, std430, buffer_reference_align = 2) restrict buffer c_at { float16_t at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) a_at a;
    layout(offset = 8) b_at b;
    layout(offset = 16) c_at c;
    layout(offset = 24) uint word_24;
    layout(offset = 28) uint word_28;
    layout(offset = 32) uint on_in;
    layout(offset = 36) uint threads_x;
    layout(offset = 40) uint group_base_x;
};

void main() {
    uint8_t bias = uint8_t(word_24);
    int16_t limit = int16_t(word_24 >> 16);
    float16_t gain = unpackFloat2x16(word_28).x;
    bool on = bool(on_in);
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        b_at v2 = b + v1;
        uint8_t v3 = a[v1].at + bias;
        v2.at = min(v2.at + int16_t(v3 < bias ? uint8_t(255) : v3), limit);
        if (on) {
            c_at v4 = c + v1;
            precise float16_t v5 = v4.at * gain + 0.0999755859375hf;
            v4.at = v5;
        }
    }
}
