/* A flock of birds in C++: steers every bird by its neighbours (separation, alignment, cohesion) and prints how much
   they agree on a direction, from 0 to 1.
   c++ -std=c++11 -O1 -I. examples/boids.cpp -o boids -ldl -lpthread */
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

const unsigned birds = 1000;
const int steps = 300;

/* Numbers convert to values of the other operand's type; += on a vc_ref stores to a variable. */
vd_kernel build_step(vd_context *ctx) {
    vc_kernel_desc desc = {};
    desc.name = "step";
    desc.machine = vd_machine(ctx);
    vc_kernel *k = vc_begin(&desc);
    vc_ref from = vc_buffer(k, "from", VC_F32X4, VC_READ), to = vc_buffer(k, "to", VC_F32X4, VC_WRITE);
    VC_EACH(k, i) {
        vc_val me = vc_load(from, i), position = vc_swizzle(me, "xy"), velocity = vc_swizzle(me, "zw");
        vc_ref push = vc_var(k, "push", VC_F32X2), course = vc_var(k, "course", VC_F32X2);
        vc_ref center = vc_var(k, "center", VC_F32X2), near_birds = vc_var(k, "near_birds", VC_F32);
        VC_FOR(k, j, 0u, vc_length(from)) {
            vc_val other = vc_load(from, j), away = position - vc_swizzle(other, "xy");
            away -= vc_round(away); /* the world is a torus of size 1 */
            vc_val distance = vc_dot(away, away), is_near = (distance < 0.01) & (j != i);
            VC_IF(k, is_near) {
                push += away / vc_max(distance, 1e-5);
                course += vc_swizzle(other, "zw");
                center += -away;
                near_birds += 1;
            }
        }
        vc_val count = vc_max(vc_get(near_birds), 1);
        velocity += vc_get(push) / count * 2e-5 + vc_get(center) / count * 1e-3;
        velocity += (vc_get(course) / count - velocity) * 0.05 * vc_min(vc_get(near_birds), 1);
        velocity *= 0.004 / vc_max(vc_norm(velocity), 1e-6);
        vc_store(to, i, vc_vec(k, vc_fract(position + velocity), velocity));
    }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

/* The length of the mean direction. */
double agreement(const std::vector<float> &flock) {
    double x = 0, y = 0;
    for (unsigned i = 0; i < birds; i++) {
        double speed = std::hypot(flock[4 * i + 2], flock[4 * i + 3]);
        x += flock[4 * i + 2] / speed;
        y += flock[4 * i + 3] / speed;
    }
    return std::hypot(x, y) / birds;
}

vd_buffer make_buffer(vd_context *ctx, const float *data) {
    vd_buffer_desc desc = {};
    desc.type = VD_F32X4; /* position, velocity */
    desc.shape[0] = birds;
    desc.data = data;
    return vd_buffer_create(ctx, &desc);
}

} // namespace

int main() {
    vd_context *ctx = nullptr;
    if (vd_context_create(nullptr, &ctx)) { std::fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    std::vector<float> flock(4 * birds);
    for (float &x : flock) x = static_cast<float>(std::rand()) / static_cast<float>(RAND_MAX);
    for (unsigned i = 0; i < birds; i++)
        for (unsigned c = 2; c < 4; c++) flock[4 * i + c] = (flock[4 * i + c] - 0.5f) * 0.01f;
    double before = agreement(flock);
    vd_kernel step = build_step(ctx);
    vd_buffer buffers[2] = { make_buffer(ctx, flock.data()), make_buffer(ctx, nullptr) };
    vd_result result = VD_OK;
    for (int i = 0; i < steps && !result; i++)
        result = vd_run(ctx, step, birds, vd_b(buffers[i % 2]), vd_b(buffers[(i + 1) % 2]));
    if (!result) result = vd_buffer_read(ctx, buffers[steps % 2], 0, flock.data(), 4 * flock.size());
    if (result) std::fprintf(stderr, "%s\n", vd_error_text());
    else std::printf("agreement before: %.2f, after %d steps: %.2f\n", before, steps, agreement(flock));
    vd_context_destroy(ctx);
    return result || agreement(flock) < 0.5;
}
