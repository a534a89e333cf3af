// particles
#pragma OPENCL FP_CONTRACT OFF
struct particles_args {
    float dt;
    float pull[3];
    uint threads_x;
    uint group_base_x;
};

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void particles(__global float *restrict position, __global float *restrict velocity, __global const float *restrict mass, const struct particles_args args) {
    float3 pull = (float3)(args.pull[0], args.pull[1], args.pull[2]);
    uint v1 = (uint)get_global_id(0) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        float3 v2 = vload3(v1, velocity);
        float3 v3 = vload3(v1, position);
        float v4 = v3.x;
        float v5 = pull.x - v4;
        float v6 = v3.y;
        float v7 = pull.y - v6;
        float v8 = v3.z;
        float v9 = pull.z - v8;
        float v10 = v5 * v5;
        float v11 = fma(v9, v9, fma(v7, v7, v10)) + 0.0001f;
        float v12 = rsqrt(v11);
        float v13 = v12 * (v12 * v12);
        float v14 = v13 / mass[v1];
        float v15 = v2.x + v5 * v14 * args.dt;
        float v16 = v2.y + v7 * v14 * args.dt;
        float v17 = v2.z + v9 * v14 * args.dt;
        vstore3((float3)(v15, v16, v17), v1, velocity);
        float v18 = v4 + v15 * args.dt;
        float v19 = v6 + v16 * args.dt;
        float v20 = v8 + v17 * args.dt;
        vstore3((float3)(v18, v19, v20), v1, position);
    }
}
