#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_buffer_reference2 : require

// bodies
layout(local_size_x = 64, local_size_y = 1, local_size_z = 1) in;
struct f32x3 { float x, y, z; };
vec3 unpack(f32x3 m) { return vec3(m.x, m.y, m.z); }
f32x3 pack(vec3 v) { return f32x3(v.x, v.y, v.z); }
layout(buffer_reference, std430, buffer_reference_align = 4) buffer bodies_at { f32x3 at; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer bodies_2_at { float at; };
layout(buffer_reference, std430, buffer_reference_align = 1) buffer bodies_3_at { uint8_t at; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer bodies_4_at { vec4 at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) bodies_at bodies;
    layout(offset = 8) f32x3 turn_0_in;
    layout(offset = 20) f32x3 turn_1_in;
    layout(offset = 32) f32x3 turn_2_in;
    layout(offset = 44) uint word_44;
    layout(offset = 48) vec2 other_corners;
    layout(offset = 56) vec2 other_corners_2;
    layout(offset = 64) vec2 other_corners_3;
    layout(offset = 72) uint group_base_x;
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
    bodies_2_at bodies_2 = bodies_2_at(bodies);
    bodies_3_at bodies_3 = bodies_3_at(bodies);
    bodies_4_at bodies_4 = bodies_4_at(bodies);
    vec3 turn_0 = unpack(turn_0_in);
    vec3 turn_1 = unpack(turn_1_in);
    vec3 turn_2 = unpack(turn_2_in);
    uint8_t other_kind = uint8_t(word_44);
    uint local_x = gl_LocalInvocationID.x;
    uint v1 = gl_GlobalInvocationID.x + group_base_x * 64u;
    uint64_t v2 = uint64_t(v1);
    bodies_at v3 = bodies + v2 * 8ul;
    uint64_t v4 = v2 * 24ul;
    bodies_2_at v5 = bodies_2 + v4;
    float v6 = v5[3].at;
    bodies_3_at v7 = bodies_3 + v2 * 96ul;
    uint8_t v8 = v7[16].at;
    vec2 v9 = vec2(v5[5].at, v5[6].at);
    vec2 v10 = vec2(v5[7].at, v5[8].at);
    vec2 v11 = vec2(v5[9].at, v5[10].at);
    float v12 = v5[11].at;
    float v13 = v5[12].at;
    float v14 = v5[13].at;
    float v15 = v5[14].at;
    float v16 = v5[15].at;
    float v17 = v5[16].at;
    float v18 = v5[17].at;
    float v19 = v5[18].at;
    float v20 = v5[19].at;
    bodies_4_at v21 = bodies_4 + v2 * 6ul;
    vec4 v22 = v21[5].at;
    vec3 sum = vec3(0.0);
    uint v23 = v1 % 3u;
    tile_position[local_x] = unpack(v3.at);
    tile_mass[local_x] = v6;
    tile_shape_kind[local_x] = v8;
    uint v24 = local_x * 3u;
    tile_shape_corners[v24] = v9;
    tile_shape_corners[v24 + 1u] = v10;
    tile_shape_corners[v24 + 2u] = v11;
    tile_frame_0[local_x] = vec3(v12, v13, v14);
    tile_frame_1[local_x] = vec3(v15, v16, v17);
    tile_frame_2[local_x] = vec3(v18, v19, v20);
    tile_weights[local_x] = v22;
    memoryBarrierBuffer();
    barrier();
    for (uint i1 = 0u; i1 < 64u; i1++) {
        float v25 = tile_mass[i1];
        sum = fma(tile_position[i1], vec3(v25), sum);
    }
    precise vec3 v26 = turn_0 * vec3(v12);
    vec3 v27 = fma(turn_2, vec3(v14), fma(turn_1, vec3(v13), v26));
    float v28 = v27.z;
    precise vec3 v29 = turn_0 * vec3(v15);
    vec3 v30 = fma(turn_2, vec3(v17), fma(turn_1, vec3(v16), v29));
    float v31 = v30.x;
    precise vec3 v32 = turn_0 * vec3(v18);
    vec3 v33 = fma(turn_2, vec3(v20), fma(turn_1, vec3(v19), v32));
    float v34 = v33.y;
    float v35 = v33.x;
    float v36 = v30.y;
    precise float v37 = v35 * v36;
    float v38 = v27.y;
    float v39 = v33.z;
    float v40 = v30.z;
    precise float v41 = v35 * v40;
    float v42 = v27.x;
    precise float v43 = v34 * v40;
    precise float v44 = v42 * fma(v36, v39, -v43);
    bool v45 = 0.0 < fma(v28, fma(v31, v34, -v37), fma(v38, -fma(v31, v39, -v41), v44));
    vec3 v46 = sum;
    float v47 = v46.z;
    float v48 = v46.y;
    float v49 = v46.x;
    precise vec3 v50 = turn_0 * vec3(v49);
    bvec2 v51 = bvec2(v45);
    vec2 v52 = mix(other_corners, v9, v51);
    vec2 v53 = mix(other_corners_2, v10, v51);
    vec2 v54 = mix(other_corners_3, v11, v51);
    v3.at = pack(fma(turn_2, vec3(v47), fma(turn_1, vec3(v48), v50)));
    v5[3].at = v6;
    v7[16].at = v45 ? v8 : other_kind;
    v5[5].at = v52.x;
    v5[6].at = v52.y;
    v5[7].at = v53.x;
    v5[8].at = v53.y;
    v5[9].at = v54.x;
    v5[10].at = v54.y;
    v5[11].at = v42;
    v5[12].at = v38;
    v5[13].at = v28;
    v5[14].at = v31;
    v5[15].at = v36;
    v5[16].at = v40;
    v5[17].at = v35;
    v5[18].at = v34;
    v5[19].at = v39;
    v21[5].at = v22;
    vec2 v55 = tile_shape_corners[v24 + v23];
    bodies_2_at v56 = bodies_2 + (v4 + uint64_t(v23) * 2ul);
    v56[5].at = v55.x;
    v56[6].at = v55.y;
}
