/* Draws the spectrogram of a sound: time to the right, frequency upwards, loudness as brightness. A single plan does
   all the work: a stride makes the frames overlap, a load hook applies the window, and a store hook writes decibels to
   the right pixel.
   cc -std=c99 -O1 -I. examples/spectrogram.c -o spectrogram -ldl -lpthread -lm
   Run: ./spectrogram [in.wav [out.png]]. The default is a speech sample of ALSA (Debian: alsa-utils).
   Needs stb_image_write.h (Debian: libstb-dev). */
#define VKDISPATCH_CUDA
#define VKDISPATCH_OPENCL
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#define VKDISPATCH_FFT_IMPLEMENTATION
#include "vkdispatch_fft.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* frames begin HOP samples apart, more in long sounds */
enum { FRAME = 1024, BINS = FRAME / 2 + 1, HOP = 128, COLUMNS = 4096 };

static const double pi = 3.14159265358979323846;

typedef struct sound { float *sample; uint32_t count, rate; } sound; /* -1 … 1, one channel */

/* ---- WAV files with 16 bits per sample ---- */

static uint32_t little(const unsigned char *at, int bytes) {
    uint32_t x = 0;
    while (bytes-- > 0) x = x << 8 | at[bytes];
    return x;
}

/* Reads the mean of all channels. Returns NULL, or the reason for failure. */
static const char *decode(const unsigned char *file, size_t size, sound *s) {
    uint32_t channels = 0, bits = 0, format = 0;
    if (size < 12 || memcmp(file, "RIFF", 4) || memcmp(file + 8, "WAVE", 4)) return "no WAV file";
    for (size_t at = 12; at + 8 <= size;) {
        const unsigned char *chunk = file + at + 8;
        size_t left = size - at - 8, length = little(file + at + 4, 4);
        if (length > left) length = left;
        if (memcmp(file + at, "fmt ", 4) == 0 && length >= 16) {
            format = little(chunk, 2);
            channels = little(chunk + 2, 2);
            s->rate = little(chunk + 4, 4);
            bits = little(chunk + 14, 2);
        } else if (memcmp(file + at, "data", 4) == 0) {
            if ((format != 1 && format != 0xfffe) || bits != 16 || channels < 1 || channels > 2)
                return "only 16 bits and one or two channels are read";
            if (!s->rate) return "no samples a second";
            s->count = (uint32_t)(length / (2 * channels));
            s->sample = malloc(s->count ? s->count * sizeof *s->sample : 1);
            for (uint32_t i = 0; s->sample && i < s->count * channels; i += channels) {
                float sum = 0;
                for (uint32_t c = 0; c < channels; c++) sum += (float)(int16_t)little(chunk + 2 * (i + c), 2);
                s->sample[i / channels] = sum / (32768.0f * (float)channels);
            }
            return !s->sample ? "no memory" : s->count < FRAME ? "shorter than a frame" : NULL;
        }
        at += 8 + length + length % 2;
    }
    return "no samples";
}

static const char *read_sound(const char *path, sound *s) {
    FILE *f = fopen(path, "rb");
    long size = f && !fseek(f, 0, SEEK_END) ? ftell(f) : -1;
    unsigned char *file = size > 0 && size < 1 << 28 ? malloc((size_t)size) : NULL;
    const char *why = f ? "cannot be read"
        : "cannot be opened; Debian's package alsa-utils has /usr/share/sounds/alsa/Front_Center.wav";
    if (file && !fseek(f, 0, SEEK_SET) && fread(file, 1, (size_t)size, f) == (size_t)size)
        why = decode(file, (size_t)size, s);
    if (f) fclose(f);
    free(file);
    return why;
}

/* ---- the transform ---- */

typedef struct arguments { vc_ref window, picture; vc_val frames; } arguments;

static void declare(vc_kernel *k, void *user) {
    arguments *a = user;
    a->window = vc_buffer(k, "window", VC_F32, VC_READ);
    a->picture = vc_buffer(k, "picture", VC_F32, VC_WRITE);
    a->frames = vc_param(k, "frames", VC_U32);
}

static void load_windowed(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k;
    v->re = vc_mul(v->re, vc_load(((const arguments *)user)->window, at->coordinate[1]));
}

/* Store hook: writes decibels relative to a sine of full amplitude, at least -120. The lowest frequency is the
   bottom row of the picture. The hook leaves the value unset, so the plan stores nothing and needs no output. */
static void store_decibels(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    const arguments *a = user;
    vc_val frame = at->coordinate[0], bin = at->coordinate[1];
    vc_val power = vc_max(vc_fma(v->re, v->re, vc_mul(v->im, v->im)), vc_f32(1e-12f));
    (void)k;
    vc_store(a->picture, vc_add(vc_mul(vc_sub(vc_u32(BINS - 1), bin), a->frames), frame),
             vc_mul(vc_log10(power), vc_f32(10)));
    v->re = v->im = (vc_val){ 0, 0 };
}

/* loudest: the index of the loudest pixel */
typedef struct picture { float *decibels; uint32_t frames, hop, loudest; } picture;

static vd_result draw(vd_context *ctx, const sound *s, const float *window, picture *p) {
    arguments a;
    const uint64_t pixels = (uint64_t)BINS * p->frames;
    vd_buffer samples = vd_buffer_create(ctx, &(vd_buffer_desc){ .name = "sound", .type = VD_F32, .shape = { s->count },
                                                                 .data = s->sample });
    vd_buffer windows = vd_buffer_create(ctx, &(vd_buffer_desc){ .name = "window", .type = VD_F32, .shape = { FRAME },
                                                                 .data = window });
    vd_buffer out = vd_buffer_create(ctx, &(vd_buffer_desc){ .name = "picture", .type = VD_F32,
                                                             .shape = { BINS, p->frames } });
    vd_buffer loudest = vd_buffer_create(ctx, &(vd_buffer_desc){ .name = "loudest", .type = VD_U32, .shape = { 1 } });
    vd_fft *plan = vd_fft_create(ctx, &(vd_fft_desc){ .name = "spectrogram", .kind = VD_FFT_REAL,
                                                      .shape = { p->frames, FRAME }, .in_stride = { p->hop, 1 },
                                                      .load = load_windowed, .store = store_decibels,
                                                      .hook_declare = declare, .hook_user = &a });
    vd_named_arg args[] = { { "window", vd_b(windows) }, { "picture", vd_b(out) }, { "frames", vd_u32(p->frames) } };
    vd_result r = VD_ERROR_INVALID;
    p->decibels = malloc(pixels * sizeof *p->decibels);
    if (!p->decibels) r = vd_error_set(VD_ERROR_OUT_OF_MEMORY, "no memory for the picture");
    else if (plan && samples.id && windows.id && out.id && loudest.id)
        r = vd_fft_run(plan, vd_immediate(ctx, 0, 0), &(vd_fft_io){ .in = samples, .args = args, .arg_count = 3 });
    if (!r) r = vd_reduce_argmax(ctx, out, loudest);
    if (!r) r = vd_buffer_read(ctx, out, 0, p->decibels, VD_WHOLE);
    if (!r) r = vd_buffer_read(ctx, loudest, 0, &p->loudest, VD_WHOLE);
    vd_fft_destroy(plan);
    return r;
}

/* Hann window, scaled so that a sine of amplitude 1 has a peak of 1. */
static void make_window(float *window) {
    for (int i = 0; i < FRAME; i++) window[i] = (float)((1 - cos(2 * pi * i / FRAME)) * 2 / FRAME);
}

/* ---- the reference in plain C ---- */

static double amplitude(const sound *s, const float *window, uint32_t from, uint32_t bin) {
    double re = 0, im = 0;
    for (uint32_t i = 0; i < FRAME; i++) {
        double x = (double)s->sample[from + i] * (double)window[i], turn = 2 * pi * (bin * i % FRAME) / FRAME;
        re += x * cos(turn);
        im -= x * sin(turn);
    }
    return sqrt(re * re + im * im);
}

/* Returns how many of 400 amplitudes, including those at the borders, are wrong. The tolerance is 1e-4 relative plus
   2e-6, twice the level of -120 dB. */
static int wrong_pixels(const sound *s, const float *window, const picture *p) {
    int wrong = 0;
    for (uint32_t j = 0; j < 400; j++) {
        uint32_t frame = (p->frames - 1) * (j % 20) / 19, bin = (BINS - 1) * (j / 20) / 19;
        double exact = amplitude(s, window, frame * p->hop, bin);
        double got = pow(10, (double)p->decibels[(BINS - 1 - bin) * p->frames + frame] / 20);
        wrong += !(fabs(got - exact) <= 2e-6 + 1e-4 * exact);
    }
    return wrong;
}

/* The loudest point is white; 80 dB below it is black. */
static int write_picture(const char *path, const picture *p) {
    const size_t pixels = (size_t)BINS * p->frames;
    unsigned char *grey = malloc(pixels);
    int written;
    if (!grey) return 0;
    for (size_t i = 0; i < pixels; i++)
        grey[i] = (unsigned char)(255 * fmaxf(0, 1 + (p->decibels[i] - p->decibels[p->loudest]) / 80));
    written = stbi_write_png(path, (int)p->frames, BINS, 1, grey, (int)p->frames);
    free(grey);
    return written;
}

int main(int argc, char **argv) {
    vd_context *ctx = NULL;
    if (vd_context_create(NULL, &ctx)) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    int wrong, written;
    const char *from = argc > 1 ? argv[1] : "/usr/share/sounds/alsa/Front_Center.wav";
    const char *to = argc > 2 ? argv[2] : "spectrogram.png";
    float window[FRAME];
    sound s = { NULL, 0, 0 };
    picture p = { NULL, 0, HOP, 0 };
    const char *why = read_sound(from, &s);
    if (why) { fprintf(stderr, "%s: %s\n", from, why); return 1; }
    if (s.count / COLUMNS > p.hop) p.hop = s.count / COLUMNS;
    p.frames = (s.count - FRAME) / p.hop + 1;
    make_window(window);
    vd_result r = draw(ctx, &s, window, &p);
    if (r) { fprintf(stderr, "%s\n", vd_error_text()); return 1; }
    wrong = wrong_pixels(&s, window, &p);
    printf("%s, %.2f s, on %s: %u frames of %d samples, one every %u; %d of 400 amplitudes differ from plain C.\n",
           from, (double)s.count / s.rate, vd_device(ctx, 0)->name, p.frames, FRAME, p.hop, wrong);
    printf("Loudest point: %.2f s, %.0f Hz, %.1f dB.\n", (p.loudest % p.frames * p.hop + FRAME / 2.0) / s.rate,
           (double)(BINS - 1 - p.loudest / p.frames) * s.rate / FRAME, (double)p.decibels[p.loudest]);
    written = write_picture(to, &p);
    if (written) printf("The spectrogram is in %s.\n", to);
    else fprintf(stderr, "cannot write %s\n", to);
    free(s.sample);
    free(p.decibels);
    vd_context_destroy(ctx);
    return wrong || !written;
}
