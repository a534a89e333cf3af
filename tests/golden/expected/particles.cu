// particles: 128 x 1 x 1 threads per block
struct particles_args {
    float3 *position;
    float3 *velocity;
    const float *mass;
    float dt;
    float pull[3];
    unsigned int threads_x;
    unsigned int group_base_x;
};

extern "C" __global__ void __launch_bounds__(128) particles(const struct particles_args args) {
    float3 *__restrict__ position = args.position;
    float3 *__restrict__ velocity = args.velocity;
    const float *__restrict__ mass = args.mass;
    float3 pull = make_float3(args.pull[0], args.pull[1], args.pull[2]);
    unsigned int v1 = (blockIdx.x * 128u + threadIdx.x) + args.group_base_x * 128u;
    if (v1 < args.threads_x) {
        float3 *v2 = velocity + v1;
        float3 v3 = v2[0];
        float3 *v4 = position + v1;
        float3 v5 = v4[0];
        float v6 = v5.x;
        float v7 = pull.x - v6;
        float v8 = v5.y;
        float v9 = pull.y - v8;
        float v10 = v5.z;
        float v11 = pull.z - v10;
        float v12 = __fmul_rn(v7, v7);
        float v13 = fmaf(v11, v11, fmaf(v9, v9, v12)) + 0.0001f;
        float v14 = rsqrtf(v13);
        float v15 = __fmul_rn(v14, __fmul_rn(v14, v14));
        float v16 = __fdiv_rn(v15, __ldg(&mass[v1]));
        float v17 = v3.x + __fmul_rn(__fmul_rn(v7, v16), args.dt);
        float v18 = v3.y + __fmul_rn(__fmul_rn(v9, v16), args.dt);
        float v19 = v3.z + __fmul_rn(__fmul_rn(v11, v16), args.dt);
        v2[0] = make_float3(v17, v18, v19);
        float v20 = v6 + __fmul_rn(v17, args.dt);
        float v21 = v8 + __fmul_rn(v18, args.dt);
        float v22 = v10 + __fmul_rn(v19, args.dt);
        v4[0] = make_float3(v20, v21, v22);
    }
}
