/* Every image function for every dimension and kind of image it supports. Both forms are validated as SPIR-V and
   compiled as GLSL, which must need the same capabilities. CUDA C and OpenCL C are compiled if the language has the
   function; otherwise the builder must report an error. Runs nothing.
     images [-v] [PART]     PART: only cases whose name contains it; -v prints each name */
#include "tests/insides.h"
#include "../kernels.h"
#include "nvrtc.h"
#include "opencl.h"

enum { BATCH = 24 };
typedef enum Call { SAMPLE, LOD, GRAD, OFFSET, GATHER, FETCH, FETCH_BASE, LEVELS, SIZE, LOAD, STORE, BOTH, CALLS } Call;
static const char *const call_names[CALLS] = { "sample", "lod", "grad", "offset", "gather", "fetch", "fetch 0",
                                               "levels", "size", "load", "store", "both" };
static const char *const dim_names[] = { "", "1d", "2d", "3d", "cube", "1d array", "2d array", "buffer" };

typedef struct Case { vc_image_desc desc; Call call; char name[48]; } Case;

/* Texts of one language that are compiled together. */
typedef struct Batch {
    const char *language, *missing; char *text; size_t length; int count; long compiled, refused, wrong;
} Batch;
static Batch cuda = { "CUDA C", NULL, NULL, 0, 0, 0, 0, 0 }, opencl_c = { "OpenCL C", NULL, NULL, 0, 0, 0, 0, 0 };
static const char *filter;
static bool verbose;
static long kernels, passed, failed;

static void wrong(const Case *c, const char *where, const char *why) {
    printf("  %s, %s: %s\n", c->name, where, why);
    failed++;
}

static const char *opencl_wrong(const char *text) {
    const char *log = NULL;
    void *made = opencl_build(text, opencl_language(), &log); /* images that are loaded and stored need 2.0 */
    if (made) opencl_drop(made);
    return made ? NULL : log;
}

static void flush(Batch *b) {
    const char *why;
    if (!b->count) return;
    why = b == &cuda ? nvrtc_wrong(b->text) : opencl_wrong(b->text);
    if (!why) b->compiled += b->count;
    else {
        printf("  %d texts of %s: %s\n%s\n", b->count, b->language, why, b->text);
        b->wrong++;
        failed++;
    }
    b->length = 0;
    b->count = 0;
}

static void add(Batch *b, const char *text) {
    size_t more = strlen(text);
    if (b->missing) return;
    b->text = (char *)realloc(b->text, b->length + more + 1);
    if (!b->text) exit(2);
    memcpy(b->text + b->length, text, more + 1);
    b->length += more;
    if (++b->count == BATCH) flush(b);
}

/* ---- kernels ---- */

static unsigned coordinates(vc_dim dim) {
    return dim == VC_DIM_2D || dim == VC_DIM_1D_ARRAY ? 2 : dim == VC_DIM_1D || dim == VC_DIM_BUFFER ? 1 : 3;
}
static unsigned along(vc_dim dim) { return coordinates(dim) - (dim == VC_DIM_1D_ARRAY || dim == VC_DIM_2D_ARRAY); }

static vc_val vector_of(vc_val x, unsigned rows) {
    vc_val y = vc_add(x, x), z = vc_add(y, x);
    return rows == 1 ? x : rows == 2 ? vc_vec2(x, y) : vc_vec3(x, y, z);
}

/* Signed coordinates if the call takes a level, otherwise unsigned. */
static void build(vc_kernel *k, const Case *c) {
    const vc_dim dim = c->desc.dim;
    vc_image_ref image = vc_image(k, "image", &c->desc);
    vc_ref out = vc_buffer(k, "out", VC_VEC(c->desc.type, 4), VC_WRITE);
    vc_val i = vc_global_id(k, 0), n = vc_cast(VC_I32, i), f = vc_cast(VC_F32, i);
    vc_val r = vc_splat(vc_cast(c->desc.type, i), 4), size;
    vc_val at = vector_of(f, coordinates(dim)), texel = vector_of(i, coordinates(dim));
    vc_val step = vector_of(vc_mul(f, vc_f32(0.25f)), along(dim));
    bool one = c->desc.storage || dim == VC_DIM_BUFFER;
    switch (c->call) {
    case SAMPLE: r = vc_sample(image, at); break;
    case LOD: r = vc_sample_lod(image, at, f); break;
    case GRAD: r = vc_add(vc_sample_grad(image, at, step, step),
                          vc_sample_grad(image, at, step, vc_mul(step, step))); break;
    case OFFSET: r = vc_sample_offset(image, at, vc_f32(0.5f), -8, along(dim) > 1 ? 7 : 0,
                                      along(dim) > 2 ? 1 : 0); break;
    case GATHER: r = vc_gather(image, at, 3); break;
    case FETCH: r = vc_fetch(image, vector_of(n, coordinates(dim)), n); break;
    case FETCH_BASE: r = vc_fetch(image, texel, vc_u32(0)); break;
    case LEVELS: r = vc_splat(vc_cast(c->desc.type, vc_image_levels(image)), 4); break;
    case SIZE:
        size = vc_image_size(image, one ? vc_u32(0) : i);
        r = vc_splat(vc_cast(c->desc.type, vc_swizzle(size, "x")), 4);
        break;
    case LOAD: r = vc_image_load(image, texel); break;
    case STORE: vc_image_store(image, vector_of(n, coordinates(dim)), vc_add(r, r)); break;
    default:
        r = vc_image_load(image, texel);
        vc_image_store(image, vector_of(n, coordinates(dim)), vc_add(r, r));
        break;
    }
    vc_store(out, i, r);
}

/* ---- checks ---- */

/* The capabilities for images, one bit each. */
static unsigned capabilities(const uint32_t *words, size_t count) {
    static const uint32_t numbers[] = { 43, 44, 46, 47, 49, 50, 55, 56 };
    unsigned found = 0;
    for (size_t at = 5; at < count && words[at] >> 16; at += words[at] >> 16)
        for (unsigned i = 0; (words[at] & 0xffffu) == 17 && i < 8; i++)
            if (words[at + 1] == numbers[i]) found |= 1u << i;
    return found;
}

static bool right_reflection(const Case *c, vc_kernel *k) {
    const vc_info *info = vc_reflect(k), *other;
    const vc_arg_info *a;
    uint32_t access = c->call == STORE ? VC_WRITE : c->call == BOTH ? VC_READ_WRITE : VC_READ;
    if (!info || info->arg_count != 2) return false;
    a = &info->args[0];
    if (a->kind != VC_ARG_IMAGE || a->dim != c->desc.dim || a->format != c->desc.format
        || a->sampled == c->desc.storage) return false;
    if (a->access != access || a->type != c->desc.type || a->location != 0 || a->size != 0
        || !(info->features & VC_FEATURE_IMAGE)) return false;
    if (info->args[1].kind == VC_ARG_BINDING && info->args[1].location != 1) return false;
    other = vc_reflect_for(k, VC_TARGET_CUDA);
    return !other || (other->args[0].kind == VC_ARG_IMAGE && other->args[0].size == 8 && other->args[0].location == 0
                      && other->args[1].location == 8);
}

static void try_form(const Case *c, vc_kernel *k, const char *form) {
    size_t count = 0;
    const uint32_t *words = vc_spirv(k, &count);
    const char *text = vc_source(k, VC_TARGET_GLSL), *why;
    char where[40];
    snprintf(where, sizeof where, "%s form", form);
    kernels++;
    if (!words || !text) { wrong(c, where, vc_error(k) ? vc_error(k) : "no code"); return; }
    if (!right_reflection(c, k)) { wrong(c, where, "the reflection"); return; }
    if (!is_sampled(kernels)) { passed++; return; }
    why = spirv_wrong(words, count);
    if (why) { wrong(c, where, why); return; }
    why = glsl_wrong(text);
    if (why) { wrong(c, where, why); puts(text); return; }
#if defined(TESTS_HAVE_GLSLANG)
    if (capabilities(words, count) != capabilities(glsl_words, glsl_count)) {
        wrong(c, where, "other capabilities than from GLSL");
        return;
    }
#endif
    passed++;
}

static vc_kernel *made(const Case *c, vc_buffers buffers) {
    static char name[16];
    static unsigned number;
    vc_kernel_desc desc;
    vc_kernel *k;
    memset(&desc, 0, sizeof desc);
    snprintf(name, sizeof name, "k%u", number++);
    desc.name = name;
    desc.buffers = buffers;
    k = vc_begin(&desc);
    build(k, c);
    return k;
}

static void try_text(const Case *c, vc_target target, Batch *b) {
    vc_kernel *k = made(c, VC_BUFFERS_DEFAULT);
    const char *text = vc_source(k, target), *why = vc_error(k);
    if (text) {
        if (is_sampled(kernels)) add(b, text);
        passed++;
    } else if (why && strstr(why, "not supported in") && strstr(why, "image 'image'") && strstr(why, b->language)) {
        b->refused++;
        passed++;
    } else wrong(c, b->language, why ? why : "no text");
    vc_free(k);
}

static void try_case(vc_dim dim, bool storage, vc_type type, uint32_t format, Call call) {
    static const char *const forms[] = { "", "address", "binding" };
    Case c;
    memset(&c, 0, sizeof c);
    c.desc.dim = dim;
    c.desc.type = type;
    c.desc.storage = storage;
    c.desc.format = (vc_format)format;
    c.call = call;
    snprintf(c.name, sizeof c.name, "%s %s %s %s", dim_names[dim], storage ? format ? vc__formats[format].glsl : "any"
             : "sampled", vc_type_name(type), call_names[call]);
    if (filter && !strstr(c.name, filter)) return;
    if (verbose) puts(c.name);
    for (int f = VC_BUFFERS_ADDRESS; f <= VC_BUFFERS_BINDING; f++) {
        vc_kernel *k = made(&c, (vc_buffers)f);
        try_form(&c, k, forms[f]);
        vc_free(k);
    }
    try_text(&c, VC_TARGET_CUDA, &cuda);
    try_text(&c, VC_TARGET_OPENCL, &opencl_c);
    fflush(stdout);
}

/* Whether a sampled image of this dimension supports the call. */
static bool has(vc_dim dim, Call call) {
    if (dim == VC_DIM_BUFFER) return call == FETCH_BASE || call == SIZE;
    if (call == OFFSET || call == FETCH || call == FETCH_BASE) return dim != VC_DIM_CUBE;
    return call != GATHER || dim == VC_DIM_2D || dim == VC_DIM_2D_ARRAY || dim == VC_DIM_CUBE;
}

int main(int count, char **args) {
    static const vc_type types[] = { VC_F32, VC_I32, VC_U32 };
    for (int i = 1; i < count; i++) if (!strcmp(args[i], "-v")) verbose = true; else filter = args[i];
    cuda.missing = texts_only() ? texts_only() : nvrtc_open();
    opencl_c.missing = texts_only() ? texts_only() : opencl_open();
    if (cuda.missing) printf("# reason: CUDA C not compiled: %s\n", cuda.missing);
    if (opencl_c.missing) printf("# reason: OpenCL C not compiled: %s\n", opencl_c.missing);
#if !defined(TESTS_HAVE_SPIRV_TOOLS)
    printf("# reason: SPIR-V not validated: no spirv-tools/libspirv.h\n");
#endif
#if !defined(TESTS_HAVE_GLSLANG)
    printf("# reason: GLSL not compiled: no glslang_c_interface.h\n");
#endif
    for (int d = VC_DIM_1D; d <= VC_DIM_BUFFER; d++) {
        for (int t = 0; t < 3; t++) {
            for (int call = SAMPLE; call <= SIZE; call++)
                if (has((vc_dim)d, (Call)call)) try_case((vc_dim)d, false, types[t], 0, (Call)call);
            for (int call = SIZE; call < CALLS; call++) try_case((vc_dim)d, true, types[t], 0, (Call)call);
        }
        for (uint32_t f = 1; f < VC__IMAGE_FORMATS; f++)
            for (int call = LOAD; call < CALLS; call++) try_case((vc_dim)d, true, vc__formats[f].kind, f, (Call)call);
    }
    flush(&cuda);
    flush(&opencl_c);
    printf("%ld kernels in SPIR-V and GLSL; CUDA C: %ld compiled, %ld refused; OpenCL C: %ld compiled, %ld refused\n",
           kernels, cuda.compiled, cuda.refused, opencl_c.compiled, opencl_c.refused);
    printf("%ld passed, %ld failed, %d skipped\n", passed, failed, texts_only() ? 0 : (cuda.missing != NULL) + (opencl_c.missing != NULL));
    free(cuda.text);
    free(opencl_c.text);
    return failed > 0;
}
