#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_8bit_storage : require

// bodies
layout(local_size_x = 64, local_size_y = 1, local_size_z = 1) in;
struct f32x3 { float x, y, z; };
vec3 unpack(f32x3 m) { return vec3(m.x, m.y, m.z); }
f32x3 pack(vec3 v) { return f32x3(v.x, v.y, v.z); }
layout(set = 0, binding = 0, std430) buffer bodies_block { f32x3 bodies[]; };
layout(set = 0, binding = 0, std430) buffer bodies_2_block { float bodies_2[]; };
layout(set = 0, binding = 0, std430) buffer bodies_3_block { uint8_t bodies_3[]; };
layout(set = 0, binding = 0, std430) buffer bodies_4_block { vec4 bodies_4[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) f32x3 turn_0_in;
    layout(offset = 12) f32x3 turn_1_in;
    layout(offset = 24) f32x3 turn_2_in;
    layout(offset = 36) uint word_36;
    layout(offset = 40) vec2 other_corners;
    layout(offset = 48) vec2 other_corners_2;
    layout(offset = 56) vec2 other_corners_3;
    layout(offset = 64) uint group_base_x;
};
shared vec3 tile_position[64];
shared float tile_mass[64];
shared uint8_t tile_shape_kind[64];
shared vec2 tile_shape_corners[192];
shared vec3 tile_frame_0[64];
shared vec3 tile_frame_1[64];
shared vec3 tile_frame_2[64];
shared vec4 tile_weights[64];

void main() {
    vec3 turn_0 = unpack(turn_0_in);
    vec3 turn_1 = unpack(turn_1_in);
    vec3 turn_2 = unpack(turn_2_in);
    uint8_t other_kind = uint8_t(word_36);
    uint local_x = gl_LocalInvocationID.x;
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 64u;
    uint v2 = v1 * 8u;
    uint v3 = v1 * 24u;
    float v4 = bodies_2[v3 + 3u];
    uint v5 = v1 * 96u;
    uint8_t v6 = bodies_3[v5 + 16u];
    vec2 v7 = vec2(bodies_2[v3 + 5u], bodies_2[v3 + 6u]);
    vec2 v8 = vec2(bodies_2[v3 + 7u], bodies_2[v3 + 8u]);
    vec2 v9 = vec2(bodies_2[v3 + 9u], bodies_2[v3 + 10u]);
    float v10 = bodies_2[v3 + 11u];
    float v11 = bodies_2[v3 + 12u];
    float v12 = bodies_2[v3 + 13u];
    float v13 = bodies_2[v3 + 14u];
    float v14 = bodies_2[v3 + 15u];
    float v15 = bodies_2[v3 + 16u];
    float v16 = bodies_2[v3 + 17u];
    float v17 = bodies_2[v3 + 18u];
    float v18 = bodies_2[v3 + 19u];
    uint v19 = v1 * 6u;
    vec4 v20 = bodies_4[v19 + 5u];
    vec3 sum = vec3(0.0);
    uint v21 = v1 % 3u;
    tile_position[local_x] = unpack(bodies[v2]);
    tile_mass[local_x] = v4;
    tile_shape_kind[local_x] = v6;
    uint v22 = local_x * 3u;
    tile_shape_corners[v22] = v7;
    tile_shape_corners[v22 + 1u] = v8;
    tile_shape_corners[v22 + 2u] = v9;
    tile_frame_0[local_x] = vec3(v10, v11, v12);
    tile_frame_1[local_x] = vec3(v13, v14, v15);
    tile_frame_2[local_x] = vec3(v16, v17, v18);
    tile_weights[local_x] = v20;
    memoryBarrierBuffer();
    barrier();
    for (uint i1 = 0u; i1 < 64u; i1++) {
        float v23 = tile_mass[i1];
        sum = fma(tile_position[i1], vec3(v23), sum);
    }
    precise vec3 v24 = turn_0 * vec3(v10);
    vec3 v25 = fma(turn_2, vec3(v12), fma(turn_1, vec3(v11), v24));
    float v26 = v25.z;
    precise vec3 v27 = turn_0 * vec3(v13);
    vec3 v28 = fma(turn_2, vec3(v15), fma(turn_1, vec3(v14), v27));
    float v29 = v28.x;
    precise vec3 v30 = turn_0 * vec3(v16);
    vec3 v31 = fma(turn_2, vec3(v18), fma(turn_1, vec3(v17), v30));
    float v32 = v31.y;
    float v33 = v31.x;
    float v34 = v28.y;
    precise float v35 = v33 * v34;
    float v36 = v25.y;
    float v37 = v31.z;
    float v38 = v28.z;
    precise float v39 = v33 * v38;
    float v40 = v25.x;
    precise float v41 = v32 * v38;
    precise float v42 = v40 * fma(v34, v37, -v41);
    bool v43 = 0.0 < fma(v26, fma(v29, v32, -v35), fma(v36, -fma(v29, v37, -v39), v42));
    vec3 v44 = sum;
    float v45 = v44.z;
    float v46 = v44.y;
    float v47 = v44.x;
    precise vec3 v48 = turn_0 * vec3(v47);
    bvec2 v49 = bvec2(v43);
    vec2 v50 = mix(other_corners, v7, v49);
    vec2 v51 = mix(other_corners_2, v8, v49);
    vec2 v52 = mix(other_corners_3, v9, v49);
    bodies[v2] = pack(fma(turn_2, vec3(v45), fma(turn_1, vec3(v46), v48)));
    bodies_2[v3 + 3u] = v4;
    bodies_3[v5 + 16u] = v43 ? v6 : other_kind;
    bodies_2[v3 + 5u] = v50.x;
    bodies_2[v3 + 6u] = v50.y;
    bodies_2[v3 + 7u] = v51.x;
    bodies_2[v3 + 8u] = v51.y;
    bodies_2[v3 + 9u] = v52.x;
    bodies_2[v3 + 10u] = v52.y;
    bodies_2[v3 + 11u] = v40;
    bodies_2[v3 + 12u] = v36;
    bodies_2[v3 + 13u] = v26;
    bodies_2[v3 + 14u] = v29;
    bodies_2[v3 + 15u] = v34;
    bodies_2[v3 + 16u] = v38;
    bodies_2[v3 + 17u] = v33;
    bodies_2[v3 + 18u] = v32;
    bodies_2[v3 + 19u] = v37;
    bodies_4[v19 + 5u] = v20;
    uint v53 = v3 + v21 * 2u;
    vec2 v54 = tile_shape_corners[v22 + v21];
    bodies_2[v53 + 5u] = v54.x;
    bodies_2[v53 + 6u] = v54.y;
}
