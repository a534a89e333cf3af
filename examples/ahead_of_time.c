/* Runs kernels that were compiled ahead of time: the program contains their code, but not the builder. Simulates a rod
   that cools down; its initial temperature is half a period of a sine. Compares the result with the exact solution.
   The kernels are in examples/kernels/heat.c. Build with:
   mkdir -p build && tools/vcc examples/kernels/heat.c --header build/heat.h &&
   cc -I. -Ibuild examples/ahead_of_time.c -o ahead_of_time -ldl -lpthread -lm */
#define VKDISPATCH_IMPLEMENTATION
#include "vkdispatch.h"
#include "heat.h"

#include <math.h>
#include <stdio.h>

enum { POINTS = 101, STEPS = 500 };

int main(void) {
    vd_context *ctx = NULL;
    if (vd_context_create(NULL, &ctx)) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }

    const double rate = 0.25, step = 3.14159265358979323846 / (POINTS - 1);
    vd_kernel start = heat_start_create(ctx), next = heat_step_create(ctx);
    vd_buffer_desc desc = { .type = VD_F32, .shape = { POINTS } };
    vd_buffer rod[2] = { vd_buffer_create(ctx, &desc), vd_buffer_create(ctx, &desc) };

    float heat[POINTS];
    vd_result r = vd_run(ctx, start, POINTS, vd_b(rod[0]), vd_f32((float)step));
    for (int i = 0; i < STEPS && !r; i++)
        r = vd_run(ctx, next, POINTS, vd_b(rod[i % 2]), vd_b(rod[1 - i % 2]), vd_f32((float)rate));
    if (!r) r = vd_buffer_read(ctx, rod[STEPS % 2], 0, heat, VD_WHOLE);
    if (r) fprintf(stderr, "%s\n", vd_error_text());

    /* A sine keeps its shape: each step multiplies it by the same factor. */
    double factor = pow(1 - 2 * rate * (1 - cos(step)), STEPS), worst = 0;
    for (int i = 0; i < POINTS && !r; i++) worst = fmax(worst, fabs(heat[i] - factor * sin(i * step)));
    if (!r)
        printf("After %d steps the middle of the rod has %.6f, expected is %.6f; the largest error is %.1e.\n", STEPS,
               heat[POINTS / 2], factor, worst);
    vd_context_destroy(ctx);
    return r || !(worst < 1e-4);
}
