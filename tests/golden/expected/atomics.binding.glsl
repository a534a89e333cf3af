#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_atomic_float : require
#extension GL_KHR_memory_scope_semantics : require

// atomics
layout(local_size_x = 64, local_size_y = 1, local_size_z = 1) in;
layout(set = 0, binding = 0, std430) readonly restrict buffer my_in_block { float my_in[]; };
layout(set = 0, binding = 1, std430) coherent restrict buffer count_block { uint count[]; };
layout(set = 0, binding = 2, std430) coherent restrict buffer sum_block { float sum[]; };
layout(set = 0, binding = 3, std430) coherent restrict buffer range_block { uint range[]; };
layout(set = 0, binding = 4, std430) coherent restrict buffer total_block { int64_t total[]; };
layout(set = 0, binding = 5, std430) coherent restrict buffer flag_block { uint flag[]; };
layout(push_constant, std430) uniform arguments {
    layout(offset = 0) uint group_base_x;
};
shared uint tile[64];

void main() {
    uint local_index = gl_LocalInvocationIndex;
    float v1 = my_in[gl_GlobalInvocationID.x + group_base_x * 64u];
    float v2 = 0.0 < v1 ? v1 : 0.0;
    uint v3 = (4.2949673e+09 <= v1 ? 4294967295u : uint(v2 < 4.294967e+09 ? v2 : 4.294967e+09)) & 63u;
    tile[local_index] = 0u;
    memoryBarrierBuffer();
    barrier();
    uint v4 = atomicAdd(tile[v3], 1u);
    atomicAdd(total[0], -1l);
    atomicAdd(sum[v3], v1);
    uint v5 = range[0];
    for (uint v6; (v6 = atomicCompSwap(range[0], v5, floatBitsToUint(v1 < uintBitsToFloat(v5) || isnan(uintBitsToFloat(v5)) ? v1 : uintBitsToFloat(v5)))) != v5; v5 = v6) { }
    precise float v7 = v1 * 2.0;
    uint v8 = range[1];
    for (uint v9; (v9 = atomicCompSwap(range[1], v8, floatBitsToUint(uintBitsToFloat(v8) < v7 || isnan(uintBitsToFloat(v8)) ? v7 : uintBitsToFloat(v8)))) != v8; v8 = v9) { }
    float v10 = uintBitsToFloat(v8);
    atomicExchange(range[local_index + 2u], floatBitsToUint(v10));
    memoryBarrierBuffer();
    barrier();
    atomicAdd(count[local_index], tile[local_index]);
    uint v11 = atomicCompSwap(flag[0], v4, v4 + 1u);
    if (v11 == 7u) {
        memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
        memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsRelease);
        atomicStore(flag[1], v11, gl_ScopeDevice, 0, 0);
    }
    uint v12 = atomicLoad(flag[2], gl_ScopeDevice, 0, 0);
    memoryBarrier(gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquire);
    atomicXor(flag[3], v12);
}
