/* Finds the strongest tones of noisy signals in two dispatches: a Fourier transform that windows what it loads and stores no spectrum but its power, and a
   kernel in which a workgroup a signal picks the highest peaks.
   cc -std=c99 -O1 -I. examples/top_k.c -o top_k -ldl -lpthread -lm
   Run: ./top_k [--backend vulkan|cuda|opencl] [seed] */
#define VKDISPATCH_CUDA
#define VKDISPATCH_OPENCL
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#define VKDISPATCH_FFT_IMPLEMENTATION
#include "vkdispatch_fft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNALS = 32, SAMPLES = 4096, BINS = SAMPLES / 2 + 1, TONES = 5, RATE = 48000, LANES = 128 };

static const double pi = 3.14159265358979323846;

/* ---- the transform ---- */

typedef struct arguments { vc_ref window, power; } arguments;

static void declare(vc_kernel *k, void *user) {
    arguments *a = user;
    a->window = vc_buffer(k, "window", VC_F32, VC_READ);
    a->power = vc_buffer(k, "power", VC_F32, VC_WRITE);
}

static void load_windowed(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k;
    v->re = vc_mul(v->re, vc_load(((const arguments *)user)->window, at->coordinate[1]));
}

/* What is left unset is not stored, so the plan needs no output. */
static void store_power(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k;
    vc_store(((const arguments *)user)->power, at->index, vc_fma(v->re, v->re, vc_mul(v->im, v->im)));
    v->re = v->im = (vc_val){ 0, 0 };
}

/* ---- the peaks ---- */

/* One workgroup a signal. Each round finds the highest peak, and then takes it away. The higher neighbour says where between two bins the tone is: of this
   window a fraction of d of a bin makes their magnitudes (1 + d) : (2 - d), and the higher of them (1 - d^2) pi d / sin(pi d) times too small. */
static vd_kernel build_peaks(vd_context *ctx) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "peaks", .local_size = { LANES }, .machine = vd_machine(ctx) });
    vc_ref power = vc_buffer(k, "power", VC_F32, VC_READ);
    vc_ref found = vc_buffer(k, "found", VC_F32X2, VC_WRITE); /* frequency and amplitude */
    vc_ref peak = vc_shared(k, "peak", VC_F32, BINS);
    vc_val signal = vc_group_id(k, 0), lane = vc_local_id(k, 0), highest, where;
    power = vc_offset(power, vc_mul(signal, vc_u32(BINS)));
    VC_FOR_STEP(k, i, lane, vc_u32(BINS), vc_u32(LANES)) {
        vc_val here = vc_load(power, i), inside = vc_and(vc_gt(i, vc_u32(0)), vc_lt(i, vc_u32(BINS - 1)));
        vc_val left = vc_load_or(power, vc_sub(i, vc_u32(1)), inside, here), right = vc_load_or(power, vc_add(i, vc_u32(1)), inside, here);
        vc_store(peak, i, vc_select(vc_and(vc_gt(here, left), vc_ge(here, right)), here, vc_f32(0)));
    }
    VC_FOR(k, round, vc_u32(0), vc_u32(TONES)) {
        vc_ref best = vc_var(k, "best", VC_F32), at = vc_var(k, "at", VC_U32);
        vc_barrier(k);
        VC_FOR_STEP(k, i, lane, vc_u32(BINS), vc_u32(LANES)) {
            vc_val here = vc_load(peak, i), higher = vc_gt(here, vc_get(best));
            vc_set(at, vc_select(higher, i, vc_get(at)));
            vc_set(best, vc_max(here, vc_get(best)));
        }
        vc_group_reduce(k, VC_MAX, vc_get(best), &highest);
        vc_group_reduce(k, VC_MIN, vc_select(vc_eq(vc_get(best), highest), vc_get(at), vc_u32(BINS - 2)), &where);
        VC_IF(k, vc_eq(lane, vc_u32(0))) {
            vc_val left = vc_load_or(power, vc_sub(where, vc_u32(1)), vc_gt(where, vc_u32(0)), vc_f32(0)), right = vc_load(power, vc_add(where, vc_u32(1)));
            vc_val ratio = vc_sqrt(vc_div(vc_max(left, right), highest));
            vc_val d = vc_clamp(vc_div(vc_sub(vc_mul(ratio, vc_f32(2)), vc_f32(1)), vc_add(ratio, vc_f32(1))), vc_f32(0.001f), vc_f32(0.5f));
            vc_val place = vc_add(vc_cast(VC_F32, where), vc_select(vc_gt(right, left), d, vc_neg(d))), turn = vc_mul(d, vc_f32((float)pi));
            vc_val lost = vc_div(vc_mul(turn, vc_sub(vc_f32(1), vc_mul(d, d))), vc_sin(turn));
            vc_val amplitude = vc_mul(vc_mul(vc_sqrt(highest), lost), vc_f32(4.0f / SAMPLES));
            vc_store(found, vc_add(vc_mul(signal, vc_u32(TONES)), round), vc_vec2(vc_mul(place, vc_f32((float)RATE / SAMPLES)), amplitude));
            vc_store(peak, where, vc_f32(0));
        }
    }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

typedef struct tone { float frequency, amplitude; } tone;

static vd_buffer floats(vd_context *ctx, const char *name, size_t count, const float *data) {
    return vd_buffer_create(ctx, &(vd_buffer_desc){ .name = name, .type = VD_F32, .shape = { count }, .data = data });
}

/* `dispatches`: how many that took. */
static vd_result find(vd_context *ctx, const float *signal, const float *window, tone *found, uint64_t *dispatches) {
    arguments a;
    vd_stats before, after;
    vd_buffer signals = floats(ctx, "signal", SIGNALS * SAMPLES, signal), windows = floats(ctx, "window", SAMPLES, window);
    vd_buffer power = floats(ctx, "power", SIGNALS * BINS, NULL);
    vd_buffer tones = vd_buffer_create(ctx, &(vd_buffer_desc){ .name = "found", .type = VD_F32X2, .shape = { SIGNALS, TONES } });
    vd_fft *plan = vd_fft_create(ctx, &(vd_fft_desc){ .name = "power", .kind = VD_FFT_REAL, .shape = { SIGNALS, SAMPLES }, .load = load_windowed,
                                                      .store = store_power, .hook_declare = declare, .hook_user = &a });
    vd_kernel peaks = build_peaks(ctx);
    vd_fft_argument args[] = { { "window", vd_b(windows) }, { "power", vd_b(power) } };
    vd_result r = plan && peaks.id && signals.id && windows.id && power.id && tones.id ? VD_OK : VD_ERROR_INVALID;
    if (!r) r = vd_context_stats(ctx, &before);
    if (!r) r = vd_fft_run(plan, vd_immediate(ctx, 0, 0), &(vd_fft_io){ .in = signals, .args = args, .arg_count = 2 });
    if (!r) r = vd_run(ctx, peaks, SIGNALS * LANES, vd_b(power), vd_b(tones));
    if (!r) r = vd_context_stats(ctx, &after);
    if (!r) r = vd_buffer_read(ctx, tones, 0, found, VD_WHOLE);
    if (!r) *dispatches = after.dispatches - before.dispatches;
    if (!r) printf("%s", vd_fft_explain(plan));
    vd_fft_destroy(plan);
    return r;
}

/* ---- signals whose tones are known ---- */

static double random_number(uint32_t *state) { /* 0 … 1 */
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0;
}

/* Each tone has a part of the spectrum to itself, so that no two come close. */
static void make_signal(float *signal, tone *tones, uint32_t *state) {
    double phase[TONES];
    for (int t = 0; t < TONES; t++) {
        tones[t].frequency = (float)(1000 + 4000 * (t + 0.9 * random_number(state)));
        tones[t].amplitude = (float)(0.2 + 0.8 * random_number(state));
        phase[t] = 2 * pi * random_number(state);
    }
    for (int i = 0; i < SAMPLES; i++) {
        double sum = random_number(state) - random_number(state);
        for (int t = 0; t < TONES; t++) sum += (double)tones[t].amplitude * sin(2 * pi * (double)tones[t].frequency * i / RATE + phase[t]);
        signal[i] = (float)sum;
    }
}

/* How many tones were not found where and as strong as they are. */
static int missed(const tone *tones, const tone *found, bool print) {
    int wrong = 0;
    for (int t = 0; t < TONES; t++) {
        int best = 0;
        for (int f = 1; f < TONES; f++)
            if (fabsf(found[f].frequency - tones[t].frequency) < fabsf(found[best].frequency - tones[t].frequency)) best = f;
        wrong += !(fabsf(found[best].frequency - tones[t].frequency) < 0.25f * RATE / SAMPLES && fabsf(found[best].amplitude - tones[t].amplitude) < 0.05f);
        if (print) printf("%8.1f Hz of amplitude %.2f: found %8.1f Hz of %.2f, as number %d\n", (double)tones[t].frequency, (double)tones[t].amplitude,
                          (double)found[best].frequency, (double)found[best].amplitude, best + 1);
    }
    return wrong;
}

int main(int argc, char **argv) {
    bool chosen = argc > 2 && strcmp(argv[1], "--backend") == 0;
    vd_context_desc desc = { .backend = chosen ? vd_backend_named(argv[2]) : VD_BACKEND_DEFAULT };
    uint32_t state = argc > (chosen ? 3 : 1) ? (uint32_t)strtoul(argv[chosen ? 3 : 1], NULL, 10) : 1;
    static float signal[SIGNALS * SAMPLES], window[SAMPLES];
    static tone tones[SIGNALS * TONES], found[SIGNALS * TONES];
    uint64_t dispatches = 0;
    int wrong = 0;
    vd_context *ctx = NULL;
    if (chosen && !desc.backend) { fprintf(stderr, "there is no backend '%s'\n", argv[2]); return 1; }
    for (int i = 0; i < SAMPLES; i++) window[i] = (float)(0.5 - 0.5 * cos(2 * pi * i / SAMPLES));
    for (int s = 0; s < SIGNALS; s++) make_signal(signal + s * SAMPLES, tones + s * TONES, &state);
    vd_result r = vd_context_create(&desc, &ctx);
    if (!r) r = find(ctx, signal, window, found, &dispatches);
    if (r) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    for (int s = 0; s < SIGNALS; s++) wrong += missed(tones + s * TONES, found + s * TONES, s == 0);
    printf("%d signals of %d samples on %s, in %llu dispatches: %d of %d tones were missed.\n", SIGNALS, SAMPLES, vd_device(ctx, 0)->name,
           (unsigned long long)dispatches, wrong, SIGNALS * TONES);
    vd_context_destroy(ctx);
    return wrong != 0 || dispatches != 2;
}
