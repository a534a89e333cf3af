/* Shows a slice of a volume: a 3-D image, sampled along a plane. Drag the mouse to turn the plane, and turn the wheel
   to move it.
   cc -std=c99 -O2 -I. examples/volume.c -o volume -ldl -lpthread -lm
   With a window: add -DWINDOW and -lglfw. Run: ./volume [FILE WIDTH HEIGHT DEPTH] [--picture FILE] [--frames N]; see
   examples/window.h. FILE contains one byte for each texel. Without it, the volume is the Shepp-Logan phantom, a model
   of a head that tomography uses as a test. */
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "examples/window.h"
#include "vkdispatch_codegen.h"

#include <math.h>

enum { SIDE = 512, PHANTOM = 160, MAX_EXTENT = 2048 }; /* pixels of the window; texels */

/* Intensity, half axes, centre, and sine of the angle around the z axis of the ellipsoids, whose intensities add. In
   the cube from -1 to 1; with the contrast of Toft, "The Radon Transform", 1996. */
static const float ellipsoids[10][8] = {
    { 1, .69f, .92f, .81f, 0, 0, 0, 0 }, { -.8f, .6624f, .874f, .78f, 0, -.0184f, 0, 0 },
    { -.2f, .11f, .31f, .22f, .22f, 0, 0, -.309017f }, { -.2f, .16f, .41f, .28f, -.22f, 0, 0, .309017f },
    { .1f, .21f, .25f, .41f, 0, .35f, -.15f, 0 }, { .1f, .046f, .046f, .05f, 0, .1f, .25f, 0 },
    { .1f, .046f, .046f, .05f, 0, -.1f, .25f, 0 }, { .1f, .046f, .023f, .05f, -.08f, -.605f, 0, 0 },
    { .1f, .023f, .023f, .02f, 0, -.606f, 0, 0 }, { .1f, .023f, .046f, .02f, .06f, -.605f, 0, 0 }
};

static float phantom_at(float x, float y, float z) {
    float sum = 0;
    for (int i = 0; i < 10; i++) {
        const float *e = ellipsoids[i];
        float s = e[7], c = sqrtf(1 - s * s);
        float dx = x - e[4], dy = y - e[5], dz = (z - e[6]) / e[3];
        float u = (c * dx + s * dy) / e[1], v = (c * dy - s * dx) / e[2];
        if (u * u + v * v + dz * dz <= 1) sum += e[0];
    }
    return sum;
}

static uint8_t *make_phantom(uint32_t extent[3]) {
    uint8_t *texels = (uint8_t *)malloc((size_t)PHANTOM * PHANTOM * PHANTOM);
    extent[0] = extent[1] = extent[2] = PHANTOM;
    for (int i = 0; texels && i < PHANTOM * PHANTOM * PHANTOM; i++) {
        int at[3] = { i % PHANTOM, i / PHANTOM % PHANTOM, i / PHANTOM / PHANTOM };
        float p[3];
        for (int k = 0; k < 3; k++) p[k] = ((float)at[k] + 0.5f) * 2 / PHANTOM - 1;
        texels[i] = (uint8_t)fminf(fmaxf(phantom_at(p[0], -p[1], p[2]), 0) * 255 + 0.5f, 255);
    }
    return texels;
}

/* Reads the volume FILE WIDTH HEIGHT DEPTH. */
static uint8_t *read_volume(char **argv, uint32_t extent[3]) {
    size_t size = 1, got = 0;
    for (int k = 0; k < 3; k++) {
        int value = atoi(argv[1 + k]);
        extent[k] = value < 1 || value > MAX_EXTENT ? 0 : (uint32_t)value;
        size *= extent[k];
    }
    FILE *f = size ? fopen(argv[0], "rb") : NULL;
    uint8_t *texels = f ? (uint8_t *)malloc(size) : NULL;
    if (texels) got = fread(texels, 1, size, f);
    if (f) fclose(f);
    if (got == size && size) return texels;
    fprintf(stderr, "%s: cannot be opened, or has less than %s x %s x %s bytes\n", argv[0], argv[1], argv[2], argv[3]);
    exit(1);
}

/* A pixel shows the texel at origin + x * right + y * down, in parts of the volume. */
static vd_kernel build(vd_context *ctx) {
    vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = "slice", .local_size = { 16, 16 }, .machine = vd_machine(ctx) });
    vc_image_ref volume = vc_image(k, "volume", &(vc_image_desc){ .dim = VC_DIM_3D });
    vc_image_ref to = vc_image(k, "to", &(vc_image_desc){ .storage = true, .format = VC_FORMAT_RGBA8_UNORM,
                                                          .access = VC_WRITE });
    vc_val origin = vc_param(k, "origin", VC_F32X3), right = vc_param(k, "right", VC_F32X3);
    vc_val down = vc_param(k, "down", VC_F32X3);
    VC_EACH2(k, x, y) {
        vc_val across = vc_mul(right, vc_cast(VC_F32, x)), along = vc_mul(down, vc_cast(VC_F32, y));
        vc_val value = vc_component(vc_sample_lod(volume, vc_add(origin, vc_add(across, along)), vc_f32(0)), 0);
        vc_val light = vc_min(vc_mul(value, vc_f32(2.2f)), vc_f32(1)); /* soft tissue is 0.2 to 0.4 */
        vc_val warm = vc_mul(light, vc_sub(vc_f32(1.1f), vc_mul(light, vc_f32(0.1f))));
        vc_image_store(to, vc_vec2(x, y), vc_vec4(vc_min(warm, vc_f32(1)), light, light, vc_f32(1)));
    }
    vd_kernel kernel = vd_kernel_build(ctx, k);
    vc_free(k);
    return kernel;
}

/* The plane through the centre, turned by two angles in radians and moved along its normal. */
static void plane(float yaw, float pitch, float moved, float origin[3], float right[3], float down[3]) {
    const float cy = cosf(yaw), sy = sinf(yaw), cp = cosf(pitch), sp = sinf(pitch);
    const float r[3] = { cy, 0, -sy }, d[3] = { sy * sp, cp, cy * sp }, n[3] = { sy * cp, -sp, cy * cp };
    for (int k = 0; k < 3; k++) {
        right[k] = r[k] / SIDE;
        down[k] = d[k] / SIDE;
        origin[k] = 0.5f + moved * n[k] - (right[k] + down[k]) * (SIDE - 1) / 2;
    }
}

int main(int argc, char **argv) {
    bool named = argc > 4 && strncmp(argv[1], "--", 2);
    float yaw = 0.5f, pitch = 0.35f, moved = 0, origin[3], right[3], down[3];
    uint32_t extent[3];
    uint8_t *texels = named ? read_volume(argv + 1, extent) : make_phantom(extent);
    window w;
    if (named) argv[4] = argv[0];
    window_open(&w, "Volume", SIDE, SIDE, "volume.png", 1, argc - 4 * named, argv + 4 * named);
    vd_image volume = vd_image_create(w.ctx, &(vd_image_desc){
        .name = "volume", .format = VD_FORMAT_R8_UNORM, .dim = VD_DIM_3D, .extent = { extent[0], extent[1], extent[2] },
        .usage = VD_IMAGE_SAMPLED, .data = texels });
    vd_sampler sampler = vd_sampler_create(w.ctx, &(vd_sampler_desc){ /* black outside of the volume */
        .address = { VD_ADDRESS_BORDER, VD_ADDRESS_BORDER, VD_ADDRESS_BORDER } });
    vd_kernel slice = build(w.ctx);
    if (!texels || !volume.id || !sampler.id || !slice.id) window_fail("cannot start");
    free(texels);
    do {
        if (w.pressed) {
            yaw += (w.x - w.before_x) * 0.01f;
            pitch += (w.y - w.before_y) * 0.01f;
        }
        moved = fminf(fmaxf(moved + 0.01f * w.scrolled, -0.8f), 0.8f);
        w.scrolled = 0;
        plane(yaw, pitch, moved, origin, right, down);
        if (vd_run2(w.ctx, slice, SIDE, SIDE, vd_sampled(volume, &sampler), vd_i(w.image), vd_value(VD_F32X3, origin),
                    vd_value(VD_F32X3, right), vd_value(VD_F32X3, down)))
            window_fail("cannot dispatch");
    } while (window_show(&w));
    window_close(&w);
    return 0;
}
