#version 450
#extension GL_EXT_buffer_reference2 : require

// particles
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
struct f32x3 { float x, y, z; };
vec3 unpack(f32x3 m) { return vec3(m.x, m.y, m.z); }
f32x3 pack(vec3 v) { return f32x3(v.x, v.y, v.z); }
layout(buffer_reference, std430, buffer_reference_align = 4) restrict buffer position_at { f32x3 at; };
layout(buffer_reference, std430, buffer_reference_align = 4) restrict buffer velocity_at { f32x3 at; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer mass_at { float at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) position_at position;
    layout(offset = 8) velocity_at velocity;
    layout(offset = 16) mass_at mass;
    layout(offset = 24) float dt;
    layout(offset = 28) f32x3 pull_in;
    layout(offset = 40) uint threads_x;
    layout(offset = 44) uint group_base_x;
};

void main() {
    vec3 pull = unpack(pull_in);
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        velocity_at v2 = velocity + v1;
        position_at v3 = position + v1;
        vec3 v4 = unpack(v3.at);
        vec3 v5 = pull - v4;
        float v6 = v5.x;
        float v7 = v5.y;
        float v8 = v5.z;
        float v9 = inversesqrt(fma(v8, v8, fma(v7, v7, v6 * v6)) + 0.0001);
        float v10 = v9 * (v9 * v9) / mass[v1].at;
        vec3 v11 = vec3(dt);
        precise vec3 v12 = unpack(v2.at) + v5 * vec3(v10) * v11;
        v2.at = pack(v12);
        precise vec3 v13 = v4 + v12 * v11;
        v3.at = pack(v13);
    }
}
