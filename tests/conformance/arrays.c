/* Arrays of images, samplers and buffers: what kernels in GLSL and HLSL read from their elements, order and lifetimes,
   elements in slots of graphs, and the messages of misuse. */
#include "tests/conformance/glsl.h"

enum { PICTURES = 6 };

/* Image i has (n + 1) x (n + 2) texels of value 10 * (n + 1), n = i modulo 7. */
static vd_image picture(vd_context *ctx, uint32_t i, uint32_t usage) {
    float texels[8 * 9];
    char name[16];
    vd_image_desc d;
    memset(&d, 0, sizeof d);
    snprintf(name, sizeof name, "picture %u", (unsigned)i);
    for (size_t t = 0; t < COUNT(texels); t++) texels[t] = 10 * (float)(i % 7 + 1);
    d.name = name;
    d.format = VD_FORMAT_R32_F;
    d.dim = VD_DIM_2D;
    d.extent[0] = i % 7 + 1;
    d.extent[1] = i % 7 + 2;
    d.usage = usage;
    d.data = texels;
    vd_image image = vd_image_create(ctx, &d);
    if (!image.id) fail_msg("%s", vd_error_text());
    return image;
}

static void pictures(vd_context *ctx, vd_image *images, vd_arg *args, uint32_t count, uint32_t usage) {
    for (uint32_t i = 0; i < count; i++) {
        images[i] = picture(ctx, i, usage);
        args[i] = vd_i(images[i]);
    }
}

static void destroy_pictures(vd_context *ctx, const vd_image *images, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) vd_image_destroy(ctx, images[i]);
}

static vd_sampler nearest(vd_context *ctx, vd_address_mode mode, vd_border border) {
    vd_sampler_desc d;
    memset(&d, 0, sizeof d);
    d.min_filter = d.mag_filter = d.mip_filter = VD_FILTER_NEAREST;
    d.address[0] = d.address[1] = mode;
    d.border = border;
    vd_sampler s = vd_sampler_create(ctx, &d);
    if (!s.id) fail_msg("%s", vd_error_text());
    return s;
}

static void needs(fixture *f, uint64_t feature) {
    needs_glsl(f);
    needs_feature(f, feature);
}

static void check_floats(fixture *f, vd_buffer b, const float *expected, uint32_t count) {
    float got[64];
    OK(vd_buffer_read(f->ctx, b, 0, got, count * sizeof *got));
    for (uint32_t i = 0; i < count && f->executes; i++)
        if (got[i] != expected[i]) fail_msg("element %u is %g, not %g", (unsigned)i, (double)got[i], (double)expected[i]);
}

/* Value, width and height of each image: indices are constants, which every device supports. */
#define TEXEL(n) if (gl_GlobalInvocationID.x == n) show(n, texelFetch(sampler2D(t[n], s), ivec2(0), 0).x, \
                                                        textureSize(sampler2D(t[n], s), 0));
#define STRING_(x) #x
#define STRING(x) STRING_(x)
static const char glsl_constant[] =
    "layout(local_size_x = 8) in;\n"
    "layout(binding = 1) uniform texture2D t[6];\n"
    "layout(binding = 2) uniform sampler s;\n"
    "layout(binding = 5) writeonly buffer Y { float y[]; };\n"
    "void show(uint i, float x, ivec2 size) { y[3 * i] = x; y[3 * i + 1] = size.x; y[3 * i + 2] = size.y; }\n"
    "void main() { " STRING(TEXEL(0) TEXEL(1) TEXEL(2) TEXEL(3) TEXEL(4) TEXEL(5)) " }";

/* The same with an index that differs between invocations. */
static const char glsl_any[] =
    "#version 450\n#extension GL_EXT_nonuniform_qualifier : require\n"
    "layout(local_size_x = 8) in;\n"
    "layout(binding = 1) uniform texture2D t[];\n"
    "layout(binding = 2) uniform sampler s;\n"
    "layout(binding = 5) writeonly buffer Y { float y[]; };\n"
    "void main() { uint i = gl_GlobalInvocationID.x; if (i >= 6) return;\n"
    "ivec2 size = textureSize(sampler2D(t[nonuniformEXT(i)], s), 0);\n"
    "y[3 * i] = texelFetch(sampler2D(t[nonuniformEXT(i)], s), ivec2(0), 0).x;\n"
    "y[3 * i + 1] = size.x; y[3 * i + 2] = size.y; }";

/* expected: image i of the array is image order[i]. */
static void expect_pictures(float expected[3 * PICTURES], const uint32_t order[PICTURES]) {
    for (uint32_t i = 0; i < PICTURES; i++) {
        expected[3 * i] = 10 * (float)(order[i] + 1);
        expected[3 * i + 1] = (float)(order[i] + 1);
        expected[3 * i + 2] = (float)(order[i] + 2);
    }
}

static void images_with(fixture *f, const vd_kernel_desc *d, uint32_t count) {
    vd_image images[PICTURES];
    vd_arg elements[PICTURES];
    vd_kernel_arg_info info;
    float expected[3 * PICTURES];
    vd_kernel k = kernel_of(f, d);
    vd_sampler s = nearest(f->ctx, VD_ADDRESS_CLAMP, VD_BORDER_TRANSPARENT);
    vd_buffer y = buffer_named(f->ctx, "y", VD_F32, 3 * PICTURES, NULL);
    OK(vd_kernel_arg_query(f->ctx, k, 0, &info));
    assert_string_equal(info.name, "t");
    assert_true(info.arg.kind == VD_ARG_IMAGE && info.arg.separate && info.arg.count == count && !info.arg.size);
    pictures(f->ctx, images, elements, PICTURES, 0);
    expect_pictures(expected, (const uint32_t[]){ 0, 1, 2, 3, 4, 5 });
    OK(vd_run(f->ctx, k, PICTURES, vd_array(elements, PICTURES), vd_s(s), vd_b(y)));
    check_floats(f, y, expected, 3 * PICTURES);
    elements[3] = vd_i(images[0]); /* elements are read when the dispatch is recorded; one image can be several */
    elements[0] = vd_i(images[5]);
    OK(vd_run(f->ctx, k, PICTURES, vd_array(elements, PICTURES), vd_s(s), vd_b(y)));
    vd_image_destroy(f->ctx, images[4]); /* in use */
    elements[4] = vd_i(images[1]);
    expect_pictures(expected, (const uint32_t[]){ 5, 1, 2, 0, 4, 5 });
    check_floats(f, y, expected, 3 * PICTURES);
    OK(vd_run(f->ctx, k, PICTURES, vd_array(elements, PICTURES), vd_s(s), vd_b(y)));
    expect_pictures(expected, (const uint32_t[]){ 5, 1, 2, 0, 1, 5 });
    check_floats(f, y, expected, 3 * PICTURES);
    OK(vd_run(f->ctx, k, PICTURES, vd_array(elements, 2), vd_s(s), vd_b(y))); /* the others are those of element 0 */
    expect_pictures(expected, (const uint32_t[]){ 5, 1, 5, 5, 5, 5 });
    check_floats(f, y, expected, 3 * PICTURES);
    destroy_pictures(f->ctx, images, 4);
    vd_image_destroy(f->ctx, images[5]);
    vd_sampler_destroy(f->ctx, s);
    vd_buffer_destroy(f->ctx, y);
    vd_kernel_destroy(f->ctx, k);
}

TEST(images_by_constant_indices) {
    needs(f, VD_FEATURE_IMAGE);
    vd_kernel_desc d = code_desc(VD_CODE_GLSL, glsl_constant);
    images_with(f, &d, PICTURES);
}

TEST(images_by_any_index) {
    needs(f, VD_FEATURE_BINDLESS);
    vd_kernel_desc d = code_desc(VD_CODE_GLSL, glsl_any);
    images_with(f, &d, 64);
    d.elements = PICTURES;
    images_with(f, &d, PICTURES);
}

static const char hlsl_images[] =
    "Texture2D<float4> t[3] : register(t2);\nSamplerState s[2] : register(s1);\n"
    "RWStructuredBuffer<float> y : register(u0);\n"
    "[numthreads(1, 1, 1)] void main() {\n"
    "y[0] = t[0].SampleLevel(s[1], float2(0.5, 0.5), 0).x; y[1] = t[1].SampleLevel(s[0], float2(2, 2), 0).x;\n"
    "y[2] = t[2].SampleLevel(s[1], float2(2, 2), 0).x; }";

TEST(hlsl_arrays) {
    vd_image images[3];
    vd_arg elements[3], samplers[2];
    vd_kernel_arg_info info;
    needs(f, VD_FEATURE_IMAGE);
    vd_kernel_desc d = code_desc(VD_CODE_HLSL, hlsl_images);
    vd_kernel k = kernel_of(f, &d);
    OK(vd_kernel_arg_query(f->ctx, k, 0, &info));
    assert_true(info.arg.count == 3 && info.arg.location == 18);
    OK(vd_kernel_arg_query(f->ctx, k, 2, &info));
    assert_true(info.arg.count == 2 && info.arg.kind == VD_ARG_SAMPLER);
    vd_buffer y = buffer_named(f->ctx, "y", VD_F32, 3, NULL);
    vd_sampler border = nearest(f->ctx, VD_ADDRESS_BORDER, VD_BORDER_WHITE);
    vd_sampler clamp = nearest(f->ctx, VD_ADDRESS_CLAMP, VD_BORDER_TRANSPARENT);
    pictures(f->ctx, images, elements, 3, 0);
    samplers[0] = vd_s(border);
    samplers[1] = vd_s(clamp);
    OK(vd_run(f->ctx, k, 1, vd_array(elements, 3), vd_b(y), vd_array(samplers, 2)));
    check_floats(f, y, (const float[]){ 10, 1, 30 }, 3);
    samplers[0] = vd_s(clamp);
    samplers[1] = vd_s(border);
    OK(vd_run(f->ctx, k, 1, vd_array(elements, 3), vd_b(y), vd_array(samplers, 2)));
    check_floats(f, y, (const float[]){ 10, 20, 1 }, 3);
    OK(vd_run(f->ctx, k, 1, vd_array(elements, 3), vd_b(y), vd_array(samplers, 1))); /* both are `clamp` */
    check_floats(f, y, (const float[]){ 10, 20, 30 }, 3);
    destroy_pictures(f->ctx, images, 3);
    vd_sampler_destroy(f->ctx, border);
    vd_sampler_destroy(f->ctx, clamp);
    vd_buffer_destroy(f->ctx, y);
    vd_kernel_destroy(f->ctx, k);
}

/* An index into an array of images that is not constant needs a feature, although the module declares no capability. */
TEST(features_of_indices) {
    static const char images[] = "layout(binding = 0) uniform texture2D t[4]; layout(binding = 1) uniform sampler s;\n"
                                 "layout(binding = 2) buffer Y { float y[]; }; layout(push_constant) uniform P { uint i; };\n"
                                 "void main() { y[0] = textureLod(sampler2D(t[i], s), vec2(0), 0).x; }";
    static const char buffers[] = "layout(binding = 0) buffer Y { float y[]; } b[4];\n"
                                  "layout(push_constant) uniform P { uint i; };\nvoid main() { b[i].y[0] = 1; }";
    static const char inside[] = "layout(binding = 0) buffer Y { float y[4]; };\n"
                                 "layout(push_constant) uniform P { uint i; };\nvoid main() { y[i] = 1; }";
    static const struct { const char *code; uint64_t feature; } rows[] = {
        { images, VD_FEATURE_BINDLESS }, { buffers, VD_FEATURE_BUFFER_ARRAYS }, { inside, 0 },
        { glsl_any, VD_FEATURE_BINDLESS }, { glsl_constant, 0 }, { hlsl_images, 0 }
    };
    needs(f, VD_FEATURE_IMAGE);
    for (size_t i = 0; i < COUNT(rows); i++) {
        vd_kernel_desc d = code_desc(rows[i].code == hlsl_images ? VD_CODE_HLSL : VD_CODE_GLSL, rows[i].code);
        vd_kernel_info info;
        vd_kernel k = vd_kernel_create(f->ctx, &d);
        assert_true((k.id != 0) == has_features(f, rows[i].feature));
        if (k.id) {
            OK(vd_kernel_query(f->ctx, k, &info));
            assert_true((info.features & (VD_FEATURE_BINDLESS | VD_FEATURE_BUFFER_ARRAYS)) == rows[i].feature);
            vd_kernel_destroy(f->ctx, k);
        }
        if (!rows[i].feature) continue;
        vd_context *without = context_without(f, rows[i].feature);
        assert_false(vd_device(without, 0)->features & rows[i].feature);
        assert_false(vd_kernel_create(without, &d).id);
        check_failure("vd_kernel_create", vd_error_result(), VD_ERROR_UNSUPPORTED, vd_feature_name(rows[i].feature));
    }
}

/* ---- kernels of the builder ---- */

/* y[i] = the first texel of element i of an array of 6. Indices are constants or, with `any`, differ. */
static vc_kernel *pick(vd_context *ctx, bool any) {
    vc_image_desc d;
    memset(&d, 0, sizeof d);
    d.count = PICTURES;
    vc_kernel *k = kernel_begin(ctx, "pick", 8, 1, 1);
    vc_image_ref t = vc_image(k, "t", &d);
    vc_ref y = vc_buffer(k, "y", VC_F32, VC_WRITE);
    vc_val zero = vc_vec2(vc_const(k, vc_i32(0)), vc_i32(0));
    VC_EACH(k, i) {
        if (any) vc_store(y, i, vc_component(vc_fetch(vc_image_at(t, i), zero, vc_u32(0)), 0));
        for (uint32_t e = 0; e < PICTURES && !any; e++)
            VC_IF(k, vc_eq(i, vc_u32(e)))
                vc_store(y, i, vc_component(vc_fetch(vc_image_at(t, vc_u32(e)), zero, vc_u32(0)), 0));
    }
    return k;
}

TEST(arrays_of_the_builder) {
    needs_feature(f, VD_FEATURE_IMAGE);
    for (int any = 0; any < 2; any++) {
        vd_image images[PICTURES];
        vd_arg elements[PICTURES];
        vc_kernel *code = pick(f->ctx, any);
        vd_kernel k = vd_kernel_build(f->ctx, code);
        bool works = f->backend != VD_BACKEND_OPENCL && (!any || has_features(f, VD_FEATURE_BINDLESS));
        if (works != (k.id != 0)) fail_msg("%s", vd_error_text());
        if (!works && f->backend == VD_BACKEND_OPENCL) check_text("vd_kernel_build", "not supported in OpenCL C");
        else if (!works)
            check_failure("vd_kernel_build", vd_error_result(), VD_ERROR_UNSUPPORTED, "VC_FEATURE_BINDLESS");
        vc_free(code);
        if (!works) continue;
        vd_buffer y = buffer_named(f->ctx, "y", VD_F32, PICTURES, NULL);
        pictures(f->ctx, images, elements, PICTURES, 0);
        OK(vd_run(f->ctx, k, PICTURES, vd_array(elements, PICTURES), vd_b(y)));
        check_floats(f, y, (const float[]){ 10, 20, 30, 40, 50, 60 }, PICTURES);
        OK(vd_run(f->ctx, k, PICTURES, vd_array(elements + 1, 2), vd_b(y)));
        check_floats(f, y, (const float[]){ 20, 30, 20, 20, 20, 20 }, PICTURES);
        destroy_pictures(f->ctx, images, PICTURES);
        vd_buffer_destroy(f->ctx, y);
        vd_kernel_destroy(f->ctx, k);
    }
}

/* ---- buffers ---- */

static const char glsl_buffers[] =
    "layout(local_size_x = 1) in;\n"
    "layout(binding = 0) readonly buffer B { float x[]; } b[5];\n"
    "layout(binding = 2) writeonly buffer Y { float y[]; } y[2];\n"
    "layout(push_constant) uniform P { uint from, to; };\n"
    "void main() { y[to].y[0] = b[from].x[1]; y[to].y[1] = b[from].x.length(); }";

TEST(buffers_by_index) {
    vd_buffer b[5], y[2];
    vd_arg elements[5], results[2];
    vd_kernel_arg_info info;
    needs(f, VD_FEATURE_BUFFER_ARRAYS);
    vd_kernel_desc d = code_desc(VD_CODE_GLSL, glsl_buffers);
    vd_kernel k = kernel_of(f, &d);
    OK(vd_kernel_arg_query(f->ctx, k, 0, &info));
    assert_true(info.arg.kind == VD_ARG_BINDING && info.arg.count == 5 && info.arg.access == VD_READ);
    assert_true(info.arg.type == VD_F32);
    OK(vd_kernel_arg_query(f->ctx, k, 1, &info));
    assert_true(info.arg.count == 2 && info.arg.access == VD_WRITE);
    for (uint32_t i = 0; i < 5; i++) {
        float x[8] = { 0 };
        x[1] = (float)(i + 1);
        b[i] = buffer_named(f->ctx, "x", VD_F32, i + 2, x);
        elements[i] = vd_b(b[i]);
    }
    for (int i = 0; i < 2; i++) results[i] = vd_b(y[i] = buffer_named(f->ctx, "y", VD_F32, 2, NULL));
    for (uint32_t i = 0; i < 10; i++) {
        OK(vd_run(f->ctx, k, 1, vd_array(elements, 5), vd_array(results, 2), vd_u32(i / 2), vd_u32(i % 2)));
        check_floats(f, y[i % 2], (const float[]){ (float)(i / 2 + 1), (float)(i / 2 + 2) }, 2);
    }
    OK(vd_run(f->ctx, k, 1, vd_array(elements, 1), vd_array(results, 1), vd_u32(4), vd_u32(1)));
    check_floats(f, y[0], (const float[]){ 1, 2 }, 2);
    results[1] = vd_b(b[2]); /* also read */
    FAILS(vd_run(f->ctx, k, 1, vd_array(elements, 5), vd_array(results, 2), vd_u32(0), vd_u32(0)), VD_ERROR_INVALID,
          "vd_run 'blur'|arguments 0 'b' and 1 'y' overlap (both use buffer 'x')|(element 1)");
    results[1] = results[0];
    FAILS(vd_run(f->ctx, k, 1, vd_array(elements, 5), vd_array(results, 2), vd_u32(0), vd_u32(0)), VD_ERROR_INVALID,
          "arguments 1 'y' and 1 'y' overlap (both use buffer 'y')|(element 1)");
    for (int i = 0; i < 5; i++) vd_buffer_destroy(f->ctx, b[i]);
    for (int i = 0; i < 2; i++) vd_buffer_destroy(f->ctx, y[i]);
    vd_kernel_destroy(f->ctx, k);
}

/* Buffers are also reached through addresses in a buffer; desc.uses orders the dispatch. */
TEST(buffers_by_address) {
    static const char code[] = "#version 450\n#extension GL_EXT_buffer_reference_uvec2 : require\n"
                               "layout(buffer_reference, std430) buffer Mesh { float x[]; };\n"
                               "layout(local_size_x = 4) in;\nlayout(binding = 0) readonly buffer Meshes { uvec2 meshes[]; };\n"
                               "layout(binding = 1) writeonly buffer Y { float y[]; };\n"
                               "void main() { uint i = gl_GlobalInvocationID.x; y[i] = Mesh(meshes[i]).x[1]; }";
    vd_buffer b[4];
    vd_record_use uses[4];
    uint64_t addresses[4];
    needs(f, VD_FEATURE_ADDRESS);
    vd_kernel_desc d = code_desc(VD_CODE_GLSL, code);
    vd_kernel k = kernel_of(f, &d);
    for (uint32_t i = 0; i < 4; i++) {
        vd_buffer_info info;
        b[i] = buffer_named(f->ctx, "x", VD_F32, 2, NULL);
        OK(vd_buffer_query(f->ctx, b[i], &info));
        addresses[i] = info.address;
        uses[i].buffer = b[i];
        uses[i].access = VD_READ;
    }
    vd_buffer meshes = buffer_named(f->ctx, "meshes", VD_U32X2, 4, addresses);
    vd_buffer y = buffer_named(f->ctx, "y", VD_F32, 4, NULL);
    vd_arg args[2] = { vd_b(meshes), vd_b(y) };
    vd_dispatch_desc dispatch_desc;
    memset(&dispatch_desc, 0, sizeof dispatch_desc);
    dispatch_desc.kernel = k;
    dispatch_desc.threads[0] = 4;
    dispatch_desc.args = args;
    dispatch_desc.arg_count = 2;
    dispatch_desc.uses = uses;
    dispatch_desc.use_count = 4;
    vd_list *list = list_begin(f->ctx);
    const float values[4] = { 5, 6, 7, 8 };
    for (int i = 0; i < 4; i++) OK(vd_fill(list, b[i], 0, VD_WHOLE, &values[i], 4));
    OK(vd_dispatch(list, &dispatch_desc));
    OK(vd_submit(list, NULL, NULL));
    check_floats(f, y, values, 4);
    for (int i = 0; i < 4; i++) vd_buffer_destroy(f->ctx, b[i]);
    vd_buffer_destroy(f->ctx, meshes);
    vd_buffer_destroy(f->ctx, y);
    vd_kernel_destroy(f->ctx, k);
}

/* A dispatch that reads an element waits for the one that wrote it, but not for others. */
TEST(elements_are_ordered) {
    static const char write_code[] = "layout(binding = 0) buffer X { float x[]; }; layout(push_constant) uniform P { float v; };\n"
                                     "void main() { x[1] = v; }";
    vd_buffer b[5], other;
    vd_arg elements[5];
    needs(f, VD_FEATURE_BUFFER_ARRAYS);
    vd_kernel_desc d = code_desc(VD_CODE_GLSL, glsl_buffers), w = code_desc(VD_CODE_GLSL, write_code);
    vd_kernel k = kernel_of(f, &d), writer = kernel_of(f, &w);
    for (int i = 0; i < 5; i++) elements[i] = vd_b(b[i] = buffer_named(f->ctx, "x", VD_F32, 2, NULL));
    vd_buffer y = buffer_named(f->ctx, "y", VD_F32, 2, NULL);
    vd_arg result = vd_b(y);
    other = buffer_named(f->ctx, "other", VD_F32, 2, NULL);
    OK(vd_wait_idle(f->ctx));
    for (int i = 0; i < 6; i++) {
        vd_arg args[2] = { vd_b(i < 5 ? b[i] : other), vd_f32((float)(7 + i)) };
        vd_arg read[4] = { vd_array(elements, 5), vd_array(&result, 1), vd_u32((uint32_t)i), vd_u32(0) };
        vd_graph_info graph;
        vd_list *list = list_begin(f->ctx), *kept = vd_graph_begin(f->ctx, NULL);
        uint64_t before = stats_of(f->ctx).barriers;
        read[2] = vd_u32(i < 5 ? (uint32_t)i : 0);
        OK(dispatch(list, writer, 1, args, 2));
        OK(dispatch(list, k, 1, read, 4));
        OK(vd_submit(list, NULL, NULL));
        OK(vd_wait_idle(f->ctx));
        uint64_t barriers = stats_of(f->ctx).barriers - before;
        assert_true(i < 5 ? barriers >= 1 : barriers <= 1); /* one may order the list after the last one */
        check_floats(f, y, (const float[]){ i < 5 ? (float)(7 + i) : 7.0f, 2 }, 2);
        OK(dispatch(kept, writer, 1, args, 2));
        OK(dispatch(kept, k, 1, read, 4));
        vd_graph g = vd_graph_end(kept);
        OK(vd_graph_query(f->ctx, g, &graph));
        assert_int_equal(graph.barriers, i < 5 ? 1 : 0);
        vd_graph_destroy(f->ctx, g);
    }
    for (int i = 0; i < 5; i++) vd_buffer_destroy(f->ctx, b[i]);
    vd_buffer_destroy(f->ctx, y);
    vd_buffer_destroy(f->ctx, other);
    vd_kernel_destroy(f->ctx, k);
    vd_kernel_destroy(f->ctx, writer);
}

/* ---- many elements, and storage images ---- */

static const char glsl_stores[] =
    "layout(local_size_x = 1) in;\n"
    "layout(binding = 0) uniform texture2D t[80];\n"
    "layout(binding = 1, r32f) uniform image2D u[3];\n"
    "layout(binding = 2) uniform sampler s;\n"
    "layout(push_constant) uniform P { uint by; } p;\n"
    "void main() { imageStore(u[0], ivec2(0), texelFetch(sampler2D(t[79], s), ivec2(0), 0) * p.by);\n"
    "imageStore(u[2], ivec2(0), texelFetch(sampler2D(t[70], s), ivec2(0), 0) + imageLoad(u[1], ivec2(0))); }";

static float texel_of(fixture *f, vd_image image) {
    float got[8 * 9];
    vd_image_transfer t;
    memset(&t, 0, sizeof t);
    t.box.image = image;
    OK(vd_image_download(f->ctx, &t, got));
    return got[0];
}

TEST(more_elements_than_arguments) {
    static vd_image from[80], to[3];
    static vd_arg elements[80], results[3];
    const vd_color color = { { 10, 0, 0, 0 } };
    needs(f, VD_FEATURE_IMAGE);
    vd_kernel_desc d = code_desc(VD_CODE_GLSL, glsl_stores);
    vd_kernel k = kernel_of(f, &d);
    vd_sampler s = nearest(f->ctx, VD_ADDRESS_CLAMP, VD_BORDER_TRANSPARENT);
    pictures(f->ctx, from, elements, 80, VD_IMAGE_SAMPLED);
    for (int i = 0; i < 3; i++) results[i] = vd_i(to[i] = picture(f->ctx, 2, VD_IMAGE_STORAGE));
    for (int i = 1; i <= 3; i++) {
        OK(vd_run(f->ctx, k, 1, vd_array(elements, 80), vd_array(results, 3), vd_s(s), vd_u32((uint32_t)i)));
        if (f->executes) assert_true(texel_of(f, to[0]) == (float)i * 30 && texel_of(f, to[2]) == 10 + 30);
    }
    vd_list *list = vd_graph_begin(f->ctx, NULL);
    vd_arg args[4] = { vd_array(elements, 80), vd_array(results, 3), vd_s(s), vd_slot("by", vd_u32(5)) };
    results[2] = vd_slot("result", vd_i(to[2]));
    elements[79] = vd_slot("last", vd_i(from[79]));
    OK(dispatch(list, k, 1, args, 4));
    vd_graph g = vd_graph_end(list);
    if (!g.id) fail_msg("%s", vd_error_text());
    OK(vd_graph_submit(f->ctx, g, NULL, NULL));
    if (f->executes) assert_true(texel_of(f, to[0]) == 5 * 30);
    vd_image other = picture(f->ctx, 2, VD_IMAGE_STORAGE), ten = picture(f->ctx, 2, VD_IMAGE_SAMPLED);
    OK(vd_clear_image(vd_immediate(f->ctx, 0, 0), ten, &color));
    OK(vd_graph_set(f->ctx, g, "last", vd_i(ten)));
    OK(vd_graph_set(f->ctx, g, "result", vd_i(other)));
    OK(vd_graph_set(f->ctx, g, "by", vd_u32(6)));
    OK(vd_graph_submit(f->ctx, g, NULL, NULL));
    if (f->executes) assert_true(texel_of(f, to[0]) == 6 * 10 && texel_of(f, other) == 10 + 30);
    OK(vd_graph_set(f->ctx, g, "result", vd_i(to[1])));
    FAILS(vd_graph_submit(f->ctx, g, NULL, NULL), VD_ERROR_INVALID, "'picture 2' and 'result' overlap|'blur'");
    OK(vd_graph_set(f->ctx, g, "result", vd_i(other)));
    vd_image_destroy(f->ctx, from[70]);
    FAILS(vd_graph_submit(f->ctx, g, NULL, NULL), VD_ERROR_INVALID, "'picture 70'|destroyed");
    vd_graph_destroy(f->ctx, g);
    destroy_pictures(f->ctx, from, 70);
    destroy_pictures(f->ctx, from + 71, 9);
    destroy_pictures(f->ctx, to, 3);
    vd_image_destroy(f->ctx, other);
    vd_image_destroy(f->ctx, ten);
    vd_sampler_destroy(f->ctx, s);
    vd_kernel_destroy(f->ctx, k);
}

/* Transfers change the layouts of elements between two dispatches. */
TEST(transfers_of_elements) {
    vd_image images[PICTURES];
    vd_arg elements[PICTURES];
    float expected[3 * PICTURES];
    const vd_color grey = { { 77, 0, 0, 0 } };
    needs(f, VD_FEATURE_IMAGE);
    vd_kernel_desc d = code_desc(VD_CODE_GLSL, glsl_constant);
    vd_kernel k = kernel_of(f, &d);
    vd_sampler s = nearest(f->ctx, VD_ADDRESS_CLAMP, VD_BORDER_TRANSPARENT);
    vd_buffer y = buffer_named(f->ctx, "y", VD_F32, 3 * PICTURES, NULL);
    pictures(f->ctx, images, elements, PICTURES, VD_IMAGE_SAMPLED);
    expect_pictures(expected, (const uint32_t[]){ 0, 1, 2, 3, 4, 5 });
    vd_arg args[3] = { vd_array(elements, PICTURES), vd_s(s), vd_b(y) };
    vd_list *list = list_begin(f->ctx);
    OK(dispatch(list, k, PICTURES, args, 3));
    OK(vd_clear_image(list, images[2], &grey));
    OK(dispatch(list, k, PICTURES, args, 3));
    OK(vd_submit(list, NULL, NULL));
    expected[6] = 77;
    check_floats(f, y, expected, 3 * PICTURES);
    destroy_pictures(f->ctx, images, PICTURES);
    vd_sampler_destroy(f->ctx, s);
    vd_buffer_destroy(f->ctx, y);
    vd_kernel_destroy(f->ctx, k);
}

/* ---- misuse ---- */

TEST(wrong_elements) {
    vd_image images[PICTURES];
    vd_arg elements[PICTURES], samplers[1];
    needs(f, VD_FEATURE_IMAGE);
    vd_kernel_desc d = code_desc(VD_CODE_GLSL, glsl_constant);
    vd_kernel k = kernel_of(f, &d);
    vd_sampler s = nearest(f->ctx, VD_ADDRESS_CLAMP, VD_BORDER_TRANSPARENT);
    vd_buffer y = buffer_named(f->ctx, "y", VD_F32, 3 * PICTURES, NULL);
    pictures(f->ctx, images, elements, PICTURES, 0);
    samplers[0] = vd_s(s);
#define FAILS_WITH(array, words) FAILS(vd_run(f->ctx, k, 1, array, vd_s(s), vd_b(y)), VD_ERROR_INVALID, words)
    FAILS_WITH(vd_i(images[0]), "vd_run 'blur'|argument 0 't' is an array, but was not passed with vd_array");
    FAILS_WITH(vd_array(elements, 0), "argument 0 't' has 0 elements, but the kernel expects 1 to 6");
    FAILS_WITH(vd_array(elements, 7), "argument 0 't' has 7 elements, but the kernel expects 1 to 6");
    FAILS_WITH(vd_array(NULL, 6), "argument 0 't' has 6 elements at address NULL");
    elements[3] = vd_f32(1);
    FAILS_WITH(vd_array(elements, 6), "argument 0 't' is a value, but the kernel expects an image (element 3)");
    elements[3] = (vd_arg){ VD_ARG_NONE, 0, 0, NULL, NULL };
    FAILS_WITH(vd_array(elements, 6), "argument 0 't': the image is missing|(element 3)");
    elements[3] = vd_array(elements, 1);
    FAILS_WITH(vd_array(elements, 6), "argument 0 't': the image is an array, but the kernel expects none (element 3)");
    elements[3] = vd_sampled(images[3], &s);
    FAILS_WITH(vd_array(elements, 6), "argument 0 't' has a sampler|(element 3)");
    elements[3] = vd_slot("x", vd_i(images[3]));
    FAILS_WITH(vd_array(elements, 6), "argument 0 't' is slot 'x', but only a list of vd_graph_begin|(element 3)");
    elements[3] = vd_i(images[3]);
    vd_image_destroy(f->ctx, images[3]);
    FAILS_WITH(vd_array(elements, 6), "argument 0 't': the image was destroyed (element 3)");
    FAILS_WITH(vd_slot("x", vd_array(elements, 6)), "argument 0 't' is an array, but was not passed with vd_array");
#undef FAILS_WITH
    FAILS(vd_run(f->ctx, k, 1, vd_array(elements, 3), vd_array(samplers, 1), vd_b(y)), VD_ERROR_INVALID,
          "argument 1 's' has kind 32, but the kernel expects a sampler");
    FAILS(vd_run(f->ctx, k, 1, vd_array(elements, 3), vd_s(s), vd_array(elements, 1)), VD_ERROR_INVALID,
          "argument 2 'y' is an array, but the kernel expects none");
    OK(vd_run(f->ctx, k, 1, vd_array(elements, 3), vd_s(s), vd_b(y)));
    destroy_pictures(f->ctx, images, 3);
    destroy_pictures(f->ctx, images + 4, 2);
    vd_sampler_destroy(f->ctx, s);
    vd_buffer_destroy(f->ctx, y);
    vd_kernel_destroy(f->ctx, k);
}

TEST(wrong_modules) {
    static const struct { const char *code, *words; } rows[] = {
        { "layout(binding = 0) buffer B { float x[]; } b[2][3]; void main() { b[1][1].x[0] = 1; }",
          "the SPIR-V has an array of arrays of descriptors 'b'" },
        { "layout(binding = 0) buffer B { float x[]; } b[2000]; void main() { b[1].x[0] = 1; }",
          "argument 0 'b' is an array of 2000 elements, but the limit is 1024 (VD_MAX_ELEMENTS)" },
        { "layout(binding = 0) buffer B { float x[]; } b[3]; layout(binding = 0) buffer C { float x[]; } c;\n"
          "void main() { b[1].x[0] = c.x[0]; }", "two buffers with binding 0" }
    };
    needs_glsl(f);
    for (size_t i = 0; i < COUNT(rows); i++) {
        vd_kernel_desc d = code_desc(VD_CODE_GLSL, rows[i].code);
        assert_false(vd_kernel_create(f->ctx, &d).id);
        check_failure("vd_kernel_create", vd_error_result(), VD_ERROR_UNSUPPORTED, rows[i].words);
    }
}

/* OpenCL C cannot select a parameter by an index. */
TEST(backends_without_arrays) {
    vd_arg_info args[2];
    vd_kernel_desc d = code_desc(VD_CODE_DEFAULT, "kernel void k(read_only image2d_t t, sampler_t s, global float *y) {}");
    if (f->backend != VD_BACKEND_OPENCL) skip_because("the backend has arrays");
    memset(args, 0, sizeof args);
    args[0].name = "t";
    args[0].kind = VD_ARG_IMAGE;
    args[0].type = VD_F32;
    args[0].sampled = true;
    args[0].count = 4;
    args[1].kind = VD_ARG_BINDING;
    args[1].location = 1;
    d.args = args;
    d.arg_count = 2;
    d.local_size[0] = 1;
    assert_false(vd_kernel_create(f->ctx, &d).id);
    check_failure("vd_kernel_create", vd_error_result(), VD_ERROR_UNSUPPORTED,
                  "argument 0 't' is an array, but kernels of backend opencl cannot index arguments");
}

static const struct CMUnitTest cases[] = {
    CASE(images_by_constant_indices), CASE(images_by_any_index), CASE(hlsl_arrays), CASE(features_of_indices),
    CASE(arrays_of_the_builder),
    CASE(buffers_by_index), CASE(buffers_by_address), CASE(elements_are_ordered), CASE(more_elements_than_arguments),
    CASE(transfers_of_elements), CASE(wrong_elements), CASE(wrong_modules), CASE(backends_without_arrays),
};

MAIN("arrays", cases)
