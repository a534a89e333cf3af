/* CUDA C with images, run on the host with a small model of texture and surface objects: coordinates of every
   dimension, levels, and the conversion of every format. Tests the meaning of the text, not what a GPU makes of it. */
#include "tests/insides.h"
#include "../kernels.h"
#include "host_cuda.h"

enum { N = 8, SIDE = 4 };

/* An image of the model. A row along y of a 1-D array, or along z of other arrays, is a layer. */
typedef struct Image { unsigned extent[3], bytes; unsigned char *level[4]; } Image;

/* Texels outside of an image, and texels of a wrong size, are neither read nor written. Each level has half the extent
   of the one before along x and y. Samples take the nearest texel of four floats. */
static const char model[] =
    "struct Image { unsigned extent[3], bytes; unsigned char *level[4]; };\n"
    "enum { cudaBoundaryModeZero };\n"
    "static unsigned char *texel(unsigned long long t, int l, int x, int y, int z) {\n"
    "    Image *i = (Image *)t;\n"
    "    int w = i->extent[0] >> l, h = i->extent[1] >> l, d = i->extent[2];\n"
    "    if (!h) h = 1;\n"
    "    if (x < 0 || x >= w || y < 0 || y >= h || z < 0 || z >= d) {\n"
    "        static unsigned char outside[16]; memset(outside, 77, 16); return outside; }\n"
    "    return i->level[l] + ((z * h + y) * w + x) * i->bytes;\n"
    "}\n"
    "#define BYTE ((Image *)t)->bytes\n"
    "#define SURFACE(name, params, x, y, z) \\\n"
    "    template <class T> static T name##read(unsigned long long t, params int) { \\\n"
    "        T v; memcpy(&v, texel(t, 0, x, y, z), sizeof v); return v; } \\\n"
    "    template <class T> static void name##write(T v, unsigned long long t, params int) { \\\n"
    "        if (sizeof v == BYTE) memcpy(texel(t, 0, x, y, z), &v, sizeof v); }\n"
    "#define COMMA ,\n"
    "SURFACE(surf2D, int bx COMMA int y COMMA, bx / BYTE, y, 0)\n"
    "SURFACE(surf3D, int bx COMMA int y COMMA int z COMMA, bx / BYTE, y, z)\n"
    "SURFACE(surf1DLayered, int bx COMMA int y COMMA, bx / BYTE, y, 0)\n"
    "SURFACE(surf2DLayered, int bx COMMA int y COMMA int z COMMA, bx / BYTE, y, z)\n"
    "static int at(float x, unsigned n) { int i = (int)floorf(x * n); return i < 0 ? 0 : i < (int)n ? i : n - 1; }\n"
    "#define E(i) (((Image *)t)->extent[i])\n"
    "#define TEXTURE(name, params, x, y, z) \\\n"
    "    template <class T> static T name(unsigned long long t, params int = 0) { \\\n"
    "        T v; memcpy(&v, texel(t, 0, x, y, z), sizeof v); return v; }\n"
    "TEXTURE(tex2D, float u COMMA float v_ COMMA, at(u, E(0)), at(v_, E(1)), 0)\n"
    "TEXTURE(tex3D, float u COMMA float v_ COMMA float w COMMA, at(u, E(0)), at(v_, E(1)), at(w, E(2)))\n"
    "TEXTURE(tex1DLayered, float u COMMA int layer COMMA, at(u, E(0)), layer, 0)\n"
    "TEXTURE(tex2DLayered, float u COMMA float v_ COMMA int layer COMMA, at(u, E(0)), at(v_, E(1)), layer)\n"
    "template <class T> static T tex2DLod(unsigned long long t, float u, float v_, float lod) {\n"
    "    int l = (int)rintf(lod); T v; memcpy(&v, texel(t, l, at(u, E(0) >> l), at(v_, E(1) >> l), 0), sizeof v);\n"
    "    return v; }\n"
    "#define VC_FETCH_1DLayered_f32\n"
    "static float4 vc_fetch_1DLayered_f32(unsigned long long t, int x, int layer, int l) {\n"
    "    float4 v; memcpy(&v, texel(t, l, x, layer, 0), sizeof v); return v; }\n"
    "#define VC_FETCH_2D_f32\n"
    "static float4 vc_fetch_2D_f32(unsigned long long t, int x, int y, int l) {\n"
    "    float4 v; memcpy(&v, texel(t, l, x, y, 0), sizeof v); return v; }\n";

static long passed, failed, skipped;

/* Runs a kernel for N threads. `block` is the argument block; its implicit arguments are set here. */
static bool run(vc_kernel *k, unsigned char *block, const unsigned shape[4]) {
    const char *text = vc_source(k, VC_TARGET_CUDA);
    const vc_info *info = vc_reflect_for(k, VC_TARGET_CUDA);
    if (!text) {
        printf("  %s\n", vc_error(k));
        return false;
    }
    for (int i = 0; i < info->implicit_count; i++) {
        const vc_implicit_info *h = &info->implicit[i];
        uint32_t value = h->kind == VC_IMPLICIT_THREADS ? N : h->kind == VC_IMPLICIT_SHAPE ? shape[h->axis] : 0;
        memcpy(block + h->offset, &value, 4);
    }
    size_t size = sizeof model + strlen(text) + sizeof host_cuda_runner + 3 * strlen(info->entry) + 8;
    char *whole = (char *)malloc(size), name[80];
    int used = snprintf(whole, size, "%s%s", model, text);
    snprintf(whole + used, size - (size_t)used, host_cuda_runner, info->entry, info->entry, info->entry);
    snprintf(name, sizeof name, "run_%s", info->entry);
    void *library = host_cuda_build(whole), *symbol = library ? dlsym(library, name) : NULL;
    HostCudaRun *call;
    memcpy(&call, &symbol, sizeof symbol);
    if (call) call(block, info->local_size[0], 1);
    else printf("  the text does not compile:\n%s\n", text);
    if (library) dlclose(library);
    free(whole);
    return call != NULL;
}

static void put_address(unsigned char *block, const vc_info *info, int arg, const void *address) {
    uint64_t value = (uintptr_t)address;
    memcpy(block + info->args[arg].location, &value, 8);
}

static vc_kernel *begin(const char *name) {
    vc_kernel_desc d;
    memset(&d, 0, sizeof d);
    d.name = name;
    d.local_size[0] = N;
    return vc_begin(&d);
}

static vc_val coordinates(vc_dim dim, vc_val x, vc_val y, vc_val z) {
    unsigned n = vc__dims[dim].coordinates;
    return n == 1 ? x : n == 2 ? vc_vec2(x, y) : vc_vec3(x, y, z);
}

static void check(const char *what, unsigned i, double got, double wanted, double bound) {
    bool right = fabs(got - wanted) <= bound;
    passed += right;
    failed += !right;
    if (!right) printf("  %s, number %u: %.9g, not %.9g\n", what, i, got, wanted);
}

typedef union Texel { float f[4]; uint32_t u[4]; int32_t i[4]; } Texel;

static double number(uint32_t kind, const Texel *t, unsigned c) {
    return kind == VC_F32 ? (double)t->f[c] : kind == VC_I32 ? (double)t->i[c] : (double)t->u[c];
}

/* A kernel stores texels of a format along x, loads them again, and must have its values, rounded and clamped. */
static void try_format(vc_dim dim, vc_format format) {
    static const float floats[N] = { 0, 1, 0.3f, -0.4f, -1.5f, 2.5f, 0.7f, -1 };
    const vc__format_info *f = &vc__formats[format];
    vc_type type = VC_VEC((vc_type)f->kind, 4);
    Texel in[N], out[N];
    unsigned char texels[N * 3 * 2 * 16], block[256] = { 0 };
    vc_image_desc d;
    vc_kernel *k = begin("texels");
    memset(&d, 0, sizeof d);
    d.dim = dim;
    d.storage = true;
    d.format = format;
    vc_image_ref image = vc_image(k, "image", &d);
    vc_ref from = vc_buffer(k, "from", type, VC_READ), to = vc_buffer(k, "to", type, VC_WRITE);
    vc_val i = vc_global_id(k, 0), y = vc_const(k, vc_u32(2)), z = vc_const(k, vc_u32(1));
    vc_val at = coordinates(dim, i, y, z);
    vc_image_store(image, at, vc_load(from, i));
    vc_store(to, i, vc_image_load(image, at));
    for (unsigned j = 0; j < 4 * N; j++) {
        in[j / 4].i[j % 4] = f->kind == VC_I32 && j % 3 ? -(int32_t)j : (int32_t)j;
        if (f->kind == VC_F32) in[j / 4].f[j % 4] = floats[(j + j / 4) % N];
    }
    Image texture = { { N, dim == VC_DIM_1D ? 1 : 3, dim == VC_DIM_3D || dim == VC_DIM_2D_ARRAY ? 2 : 1 },
                      f->bits / 8u * f->channels, { texels, NULL, NULL, NULL } };
    const vc_info *info = vc_reflect_for(k, VC_TARGET_CUDA);
    static const unsigned shape[4] = { N, 1, 1, 1 };
    put_address(block, info, 0, dim == VC_DIM_BUFFER ? (const void *)texels : &texture);
    put_address(block, info, 1, in);
    put_address(block, info, 2, out);
    if (!run(k, block, shape)) failed++;
    else
        for (unsigned j = 0; j < 4 * N; j++) {
            unsigned c = j % 4;
            double x = number(f->kind, &in[j / 4], c), got = number(f->kind, &out[j / 4], c);
            double low = f->coded == 's' ? -1 : 0, steps = ldexp(1, f->bits - (f->coded == 's')) - 1, bound = 0;
            if (f->coded == 'u' || f->coded == 's') {
                x = x < low ? low : x > 1 ? 1 : x;
                bound = 0.5001 / steps;
            } else if (f->coded == 'h') bound = fabs(x) * ldexp(1, -11);
            if (c >= f->channels) x = c == 3, bound = 0;
            check(f->glsl, j, got, x, bound);
        }
    vc_free(k);
}

/* Each thread samples the centre of a texel, whose first component is its index, in rows of SIDE texels. */
static void try_sample(vc_dim dim) {
    static float texels[SIDE * 3 * 2][4];
    float out[2 * N];
    unsigned char block[256] = { 0 };
    bool layered = vc__dims[dim].layers;
    unsigned axes = vc__dims[dim].axes, rows = vc__dims[dim].coordinates > 1 ? 3 : 1,
             planes = vc__dims[dim].coordinates > 2 ? 2 : 1;
    vc_image_desc d;
    vc_kernel *k = begin("sampled");
    memset(&d, 0, sizeof d);
    d.dim = dim;
    vc_image_ref image = vc_image(k, "image", &d);
    vc_ref to = vc_buffer(k, "to", VC_F32, VC_WRITE);
    vc_val i = vc_global_id(k, 0), n[3];
    unsigned extents[3] = { SIDE, rows, planes };
    for (unsigned j = 0; j < 3; j++) {
        n[j] = vc_cast(VC_F32, vc_mod(i, vc_u32(extents[j])));
        if (j < axes || !layered) n[j] = vc_div(vc_add(n[j], vc_f32(0.5f)), vc_f32((float)extents[j]));
    }
    vc_store(to, i, vc_component(vc_sample(image, coordinates(dim, n[0], n[1], n[2])), 0));
    bool fetches = axes == 1; /* of these, the model has fetches */
    vc_val x = vc_mod(i, vc_u32(SIDE)), layer = vc_mod(i, vc_u32(rows));
    if (fetches)
        vc_store(to, vc_add(i, vc_u32(N)), vc_component(vc_fetch(image, coordinates(dim, x, layer, x), vc_u32(0)), 0));
    for (unsigned j = 0; j < SIDE * 3 * 2; j++) texels[j][0] = (float)j;
    Image texture = { { SIDE, rows, planes }, 16, { (unsigned char *)texels, NULL, NULL, NULL } };
    const vc_info *info = vc_reflect_for(k, VC_TARGET_CUDA);
    static const unsigned shape[4] = { SIDE, 1, 1, 1 };
    put_address(block, info, 0, &texture);
    put_address(block, info, 1, out);
    if (!run(k, block, shape)) failed++;
    else
        for (unsigned j = 0; j < (fetches ? 2 * N : N); j++)
            check(vc__dims[dim].name, j, (double)out[j], (j % N % planes * rows + j % N % rows) * SIDE + j % SIDE, 0);
    vc_free(k);
}

/* Level n contains n: a sample, a fetch of its last texel by the queried size, and the number of levels. */
static void try_levels(void) {
    static float texels[3][16 * 8][4];
    float out[N][4];
    unsigned char block[256] = { 0 };
    vc_kernel *k = begin("levels");
    vc_image_ref image = vc_image(k, "image", NULL);
    vc_ref to = vc_buffer(k, "to", VC_F32X4, VC_WRITE);
    vc_val i = vc_global_id(k, 0), levels = vc_image_levels(image), level = vc_mod(i, levels), half = vc_f32(0.5f);
    vc_val size = vc_image_size(image, level), last = vc_sub(size, vc_splat(vc_const(k, vc_u32(1)), 2));
    vc_val sample = vc_sample_lod(image, vc_vec2(vc_const(k, half), half), vc_cast(VC_F32, level));
    vc_store(to, i, vc_vec4(vc_component(sample, 0), vc_component(vc_fetch(image, last, level), 0),
                            vc_cast(VC_F32, vc_component(size, 0)), vc_cast(VC_F32, levels)));
    for (unsigned l = 0; l < 3; l++)
        for (unsigned j = 0; j < 16 * 8; j++) texels[l][j][0] = (float)l;
    Image texture = { { 16, 8, 1 }, 16, { (unsigned char *)texels[0], (unsigned char *)texels[1],
                                          (unsigned char *)texels[2], NULL } };
    const vc_info *info = vc_reflect_for(k, VC_TARGET_CUDA);
    static const unsigned shape[4] = { 16, 8, 1, 3 };
    put_address(block, info, 0, &texture);
    put_address(block, info, 1, out);
    if (!run(k, block, shape)) failed++;
    else
        for (unsigned j = 0; j < N; j++) {
            check("sample of a level", j, (double)out[j][0], j % 3, 0);
            check("texel of a level", j, (double)out[j][1], j % 3, 0);
            check("width of a level", j, (double)out[j][2], 16 >> j % 3, 0);
            check("number of levels", j, (double)out[j][3], 3, 0);
        }
    vc_free(k);
}

int main(void) {
    static const vc_dim dims[] = { VC_DIM_1D, VC_DIM_2D, VC_DIM_3D, VC_DIM_1D_ARRAY, VC_DIM_2D_ARRAY,
                                   VC_DIM_BUFFER };
    if (system("${CXX:-g++} --version >/dev/null 2>&1")) {
        printf("# reason: no C++ compiler\n");
        skipped = 1;
    }
    for (uint32_t f = 1; f < VC__IMAGE_FORMATS && !skipped; f++) /* each format with one of the dimensions */
        if (vc__formats[f].coded != 'p') try_format(dims[f % 6], (vc_format)f);
    for (unsigned i = 0; i < 5 && !skipped; i++) try_sample(dims[i]);
    if (!skipped) try_levels();
    printf("%ld passed, %ld failed, %ld skipped\n", passed, failed, skipped);
    return failed > 0;
}
