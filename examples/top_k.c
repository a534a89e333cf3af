/* Finds the strongest tones of noisy signals in two dispatches. The first is a Fourier transform with a window in its
   load hook; its store hook writes the power instead of the spectrum. The second selects the bins of highest power. The
   host then finds the peaks among them.
   cc -std=c99 -O1 -I. examples/top_k.c -o top_k -ldl -lpthread -lm
   Run: ./top_k [seed] */
#define VKDISPATCH_CUDA
#define VKDISPATCH_OPENCL
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#define VKDISPATCH_FFT_IMPLEMENTATION
#include "vkdispatch_fft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIGNALS = 32, SAMPLES = 4096, BINS = SAMPLES / 2 + 1, TONES = 5, BEST = 32, RATE = 48000 };

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

/* Store hook: writes the power. It leaves the value unset, so the plan stores nothing and needs no output. */
static void store_power(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k;
    vc_store(((const arguments *)user)->power, at->index, vc_fma(v->re, v->re, vc_mul(v->im, v->im)));
    v->re = v->im = (vc_val){ 0, 0 };
}

/* ---- the peaks ---- */

typedef struct tone { float frequency, amplitude; } tone;

/* The bins of highest power of one signal, in descending order. */
typedef struct best { const float *power; const uint32_t *bin; } best;

static double power_at(const best *b, uint32_t bin) { /* 0 for bins that were not selected; their power is small */
    for (int i = 0; i < BEST; i++) if (b->bin[i] == bin) return (double)b->power[i];
    return 0;
}

/* Interpolates between the bin and its higher neighbour. With a Hann window, a tone d bins away from a bin makes the
   ratio of their magnitudes (1 + d) : (2 - d), and the higher magnitude is (1 - d^2) pi d / sin(pi d) too small. */
static tone tone_at(const best *b, uint32_t bin) {
    double left = power_at(b, bin - 1), right = power_at(b, bin + 1), here = power_at(b, bin);
    double ratio = sqrt(fmax(left, right) / here);
    double d = fmin(fmax((2 * ratio - 1) / (ratio + 1), 0.001), 0.5), lost = (1 - d * d) * pi * d / sin(pi * d);
    tone t = { (float)((bin + (right > left ? d : -d)) * RATE / SAMPLES), (float)(sqrt(here) * lost * 4 / SAMPLES) };
    return t;
}

/* A bin with a higher neighbour belongs to the tone of that neighbour. */
static void find_peaks(const best *b, tone *found) {
    for (int i = 0, count = 0; i < BEST && count < TONES; i++) {
        uint32_t bin = b->bin[i];
        if (power_at(b, bin - 1) < (double)b->power[i] && power_at(b, bin + 1) <= (double)b->power[i])
            found[count++] = tone_at(b, bin);
    }
}

static vd_buffer floats(vd_context *ctx, const char *name, size_t count, const float *data) {
    return vd_buffer_create(ctx, &(vd_buffer_desc){ .name = name, .type = VD_F32, .shape = { count }, .data = data });
}

/* Finds the tones of all signals. `dispatches` is the number of dispatches this needed. */
static vd_result find(vd_context *ctx, const float *signal, const float *window, tone *found, uint64_t *dispatches) {
    arguments a;
    vd_stats before, after;
    vd_buffer signals = floats(ctx, "signal", SIGNALS * SAMPLES, signal);
    vd_buffer windows = floats(ctx, "window", SAMPLES, window);
    vd_buffer power = floats(ctx, "power", SIGNALS * BINS, NULL);
    vd_buffer highest = floats(ctx, "highest", SIGNALS * BEST, NULL);
    vd_buffer bins = vd_buffer_create(ctx, &(vd_buffer_desc){ .name = "bins", .type = VD_U32,
                                                              .shape = { SIGNALS, BEST } });
    vd_fft *plan = vd_fft_create(ctx, &(vd_fft_desc){ .name = "power", .kind = VD_FFT_REAL,
                                                      .shape = { SIGNALS, SAMPLES }, .load = load_windowed,
                                                      .store = store_power, .hook_declare = declare, .hook_user = &a });
    vd_top_k *top = vd_top_k_create(ctx, &(vd_top_k_desc){ .shape = { SIGNALS, BINS }, .k = BEST });
    vd_named_arg args[] = { { "window", vd_b(windows) }, { "power", vd_b(power) } };
    static float powers[SIGNALS * BEST];
    static uint32_t indices[SIGNALS * BEST];
    vd_result r = plan && top && signals.id && windows.id && power.id && highest.id && bins.id
        ? VD_OK : VD_ERROR_INVALID;
    if (!r) r = vd_context_stats(ctx, &before);
    if (!r) r = vd_fft_run(plan, vd_immediate(ctx, 0, 0), &(vd_fft_io){ .in = signals, .args = args, .arg_count = 2 });
    if (!r)
        r = vd_top_k_run(top, vd_immediate(ctx, 0, 0), &(vd_top_k_io){ .in = power, .values = highest,
                                                                       .indices = bins });
    if (!r) r = vd_context_stats(ctx, &after);
    if (!r) r = vd_buffer_read(ctx, highest, 0, powers, VD_WHOLE);
    if (!r) r = vd_buffer_read(ctx, bins, 0, indices, VD_WHOLE);
    for (int s = 0; s < SIGNALS && !r; s++)
        find_peaks(&(best){ powers + s * BEST, indices + s * BEST }, found + s * TONES);
    if (!r) *dispatches = after.dispatches - before.dispatches;
    if (!r) printf("%s", vd_fft_explain(plan));
    vd_fft_destroy(plan);
    vd_top_k_destroy(top);
    return r;
}

/* ---- signals with known tones ---- */

static double random_number(uint32_t *state) { /* 0 … 1 */
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0;
}

/* Each tone has a separate frequency range, so no two are close to each other. */
static void make_signal(float *signal, tone *tones, uint32_t *state) {
    double phase[TONES];
    for (int t = 0; t < TONES; t++) {
        tones[t].frequency = (float)(1000 + 4000 * (t + 0.9 * random_number(state)));
        tones[t].amplitude = (float)(0.2 + 0.8 * random_number(state));
        phase[t] = 2 * pi * random_number(state);
    }
    for (int i = 0; i < SAMPLES; i++) {
        double sum = random_number(state) - random_number(state);
        for (int t = 0; t < TONES; t++)
            sum += (double)tones[t].amplitude * sin(2 * pi * (double)tones[t].frequency * i / RATE + phase[t]);
        signal[i] = (float)sum;
    }
}

/* Returns how many tones were not found with the right frequency and amplitude. */
static int missed(const tone *tones, const tone *found, bool print) {
    int wrong = 0;
    for (int t = 0; t < TONES; t++) {
        int nearest = 0;
        for (int f = 1; f < TONES; f++)
            if (fabsf(found[f].frequency - tones[t].frequency) < fabsf(found[nearest].frequency - tones[t].frequency))
                nearest = f;
        wrong += !(fabsf(found[nearest].frequency - tones[t].frequency) < 0.25f * RATE / SAMPLES
                   && fabsf(found[nearest].amplitude - tones[t].amplitude) < 0.05f);
        if (print)
            printf("%8.1f Hz of amplitude %.2f: found %8.1f Hz of %.2f, as number %d\n", (double)tones[t].frequency,
                   (double)tones[t].amplitude, (double)found[nearest].frequency, (double)found[nearest].amplitude,
                   nearest + 1);
    }
    return wrong;
}

int main(int argc, char **argv) {
    vd_context *ctx = NULL;
    if (vd_context_create(NULL, &ctx)) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    uint32_t state = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
    static float signal[SIGNALS * SAMPLES], window[SAMPLES];
    static tone tones[SIGNALS * TONES], found[SIGNALS * TONES];
    uint64_t dispatches = 0;
    int wrong = 0;
    for (int i = 0; i < SAMPLES; i++) window[i] = (float)(0.5 - 0.5 * cos(2 * pi * i / SAMPLES));
    for (int s = 0; s < SIGNALS; s++) make_signal(signal + s * SAMPLES, tones + s * TONES, &state);
    vd_result r = find(ctx, signal, window, found, &dispatches);
    if (r) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    for (int s = 0; s < SIGNALS; s++) wrong += missed(tones + s * TONES, found + s * TONES, s == 0);
    printf("%d signals of %d samples on %s, in %llu dispatches: %d of %d tones were missed.\n", SIGNALS, SAMPLES,
           vd_device(ctx, 0)->name, (unsigned long long)dispatches, wrong, SIGNALS * TONES);
    vd_context_destroy(ctx);
    return wrong != 0 || dispatches != 2;
}
