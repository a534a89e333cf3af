#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_atomic_float : require
#extension GL_KHR_memory_scope_semantics : require

// atomics
layout(local_size_x = 64, local_size_y = 1, local_size_z = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer my_in_at { float at; };
layout(buffer_reference, std430, buffer_reference_align = 4) coherent restrict buffer count_at { uint at; };
layout(buffer_reference, std430, buffer_reference_align = 4) coherent restrict buffer sum_at { float at; };
layout(buffer_reference, std430, buffer_reference_align = 4) coherent restrict buffer range_at { uint at; };
layout(buffer_reference, std430, buffer_reference_align = 8) coherent restrict buffer total_at { int64_t at; };
layout(buffer_reference, std430, buffer_reference_align = 4) coherent restrict buffer flag_at { uint at; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) my_in_at my_in;
    layout(offset = 8) count_at count;
    layout(offset = 16) sum_at sum;
    layout(offset = 24) range_at range;
    layout(offset = 32) total_at total;
    layout(offset = 40) flag_at flag;
    layout(offset = 48) uint group_base_x;
};
shared uint tile[64];

void main() {
    uint local_index = gl_LocalInvocationIndex;
    float v1 = my_in[gl_GlobalInvocationID.x + group_base_x * 64u].at;
    float v2 = 0.0 < v1 ? v1 : 0.0;
    uint v3 = (4.2949673e+09 <= v1 ? 4294967295u : uint(v2 < 4.294967e+09 ? v2 : 4.294967e+09)) & 63u;
    tile[local_index] = 0u;
    memoryBarrierBuffer();
    barrier();
    uint v4 = atomicAdd(tile[v3], 1u);
    atomicAdd(total.at, -1l);
    atomicAdd(sum[v3].at, v1);
    uint v5 = range.at;
    for (uint v6; (v6 = atomicCompSwap(range.at, v5, floatBitsToUint(v1 < uintBitsToFloat(v5) || isnan(uintBitsToFloat(v5)) ? v1 : uintBitsToFloat(v5)))) != v5; v5 = v6) { }
    precise float v7 = v1 * 2.0;
    uint v8 = range[1].at;
    for (uint v9; (v9 = atomicCompSwap(range[1].at, v8, floatBitsToUint(uintBitsToFloat(v8) < v7 || isnan(uintBitsToFloat(v8)) ? v7 : uintBitsToFloat(v8)))) != v8; v8 = v9) { }
    float v10 = uintBitsToFloat(v8);
    atomicExchange(range[local_index + 2u].at, floatBitsToUint(v10));
    memoryBarrierBuffer();
    barrier();
    atomicAdd(count[local_index].at, tile[local_index]);
    uint v11 = atomicCompSwap(flag.at, v4, v4 + 1u);
    if (v11 == 7u) {
        memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
        memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsRelease);
        atomicStore(flag[1].at, v11, gl_ScopeDevice, 0, 0);
    }
    uint v12 = atomicLoad(flag[2].at, gl_ScopeDevice, 0, 0);
    memoryBarrier(gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquire);
    atomicXor(flag[3].at, v12);
}
