#version 450

// particles
layout(local_size_x = 128, local_size_y = 1, local_size_z = 1) in;
struct f32x3 { float x, y, z; };
vec3 unpack(f32x3 m) { return vec3(m.x, m.y, m.z); }
f32x3 pack(vec3 v) { return f32x3(v.x, v.y, v.z); }
layout(set = 0, binding = 0, std430) restrict buffer position_block { f32x3 position[]; };
layout(set = 0, binding = 1, std430) restrict buffer velocity_block { f32x3 velocity[]; };
layout(set = 0, binding = 2, std430) readonly restrict buffer mass_block { float mass[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) float dt;
    layout(offset = 4) f32x3 pull_in;
    layout(offset = 16) uint threads_x;
    layout(offset = 20) uint group_base_x;
};

void main() {
    vec3 pull = unpack(pull_in);
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 128u;
    if (v1 < threads_x) {
        vec3 v2 = unpack(position[v1]);
        vec3 v3 = pull - v2;
        float v4 = v3.x;
        float v5 = v3.y;
        float v6 = v3.z;
        float v7 = inversesqrt(fma(v6, v6, fma(v5, v5, v4 * v4)) + 0.0001);
        float v8 = v7 * (v7 * v7) / mass[v1];
        vec3 v9 = vec3(dt);
        precise vec3 v10 = unpack(velocity[v1]) + v3 * vec3(v8) * v9;
        velocity[v1] = pack(v10);
        precise vec3 v11 = v2 + v10 * v9;
        position[v1] = pack(v11);
    }
}
