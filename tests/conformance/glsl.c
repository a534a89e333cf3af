/* GLSL and HLSL at run time: what kernels compute, macros, includes, registers, and messages of wrong code. */
#include "tests/conformance/glsl.h"

static void fails_to_compile(fixture *f, vd_kernel_desc d, vd_result wanted, const char *words) {
    vd_kernel k = vd_kernel_create(f->ctx, &d);
    if (k.id) fail_msg("a kernel was made of: %s", (const char *)d.code);
    check_failure("vd_kernel_create", vd_error_result(), wanted, words);
}

static const char glsl_scale[] =
    "/* a comment\n   #version 1 */\n"
    "#version 450\n"
    "layout(local_size_x_id = 0) in;\n"
    "layout(binding = 3) buffer Y { float y[]; };\n"
    "layout(push_constant) uniform P { float by; } p;\n"
    "void main() { y[gl_GlobalInvocationID.x] *= SCALE(p.by); }\n";

TEST(glsl_with_macros_and_constants) {
    const vd_define defines[] = { { "SCALE(x)", "(x + OFFSET)" }, { "OFFSET", NULL } };
    const vd_constant size = { 0, vd_u32(4) };
    float x[4] = { 1, 2, 3, 4 };
    needs_glsl(f);
    vd_kernel_desc d = code_desc(VD_CODE_GLSL, glsl_scale);
    d.defines = defines;
    d.define_count = 2;
    d.constants = &size;
    d.constant_count = 1;
    vd_kernel k = kernel_of(f, &d);
    vd_kernel_info info;
    OK(vd_kernel_query(f->ctx, k, &info));
    assert_int_equal(info.arg_count, 2);
    assert_int_equal(info.local_size[0], 4);
    vd_buffer y = buffer_named(f->ctx, "y", VD_F32, 4, x);
    OK(vd_run(f->ctx, k, 4, vd_b(y), vd_f32(9)));
    OK(vd_buffer_read(f->ctx, y, 0, x, VD_WHOLE));
    for (int i = 0; i < 4 && f->executes; i++) assert_true(x[i] == (float)(10 * (i + 1)));
    d.code_size = sizeof glsl_scale - 1; /* a text without a terminating zero */
    kernel_of(f, &d);
}

/* ---- includes ---- */

typedef struct files { int asked; bool angled; char from[64]; } files;

static const char *file_of(void *user, const char *name, const char *from, bool angled) {
    files *s = (files *)user;
    s->asked++;
    s->angled = angled;
    snprintf(s->from, sizeof s->from, "%s", from);
    if (!strcmp(name, "a.h")) return "#include <b.h>\n#ifndef A_H\n#define A_H\nuint twice(uint x) { return b(x) * 2; }\n#endif";
    if (!strcmp(name, "b.h")) return "#ifndef B_H\n#define B_H\nuint b(uint x) { return x + 1; }\n#include \"a.h\"\n#endif\n";
    if (!strcmp(name, "wrong.h")) return "uint f() { return 1; }\n\nuint g() { return unknown_name; }\n";
    if (!strcmp(name, "large.h")) return "#include \"b.h\"\n#include \"b.h\"\n#include \"b.h\"\n";
    return NULL;
}

static void check_included(fixture *f, const char *code, uint32_t expected) {
    files s = { 0, false, "" };
    vd_kernel_desc d = code_desc(VD_CODE_GLSL, code);
    d.include = file_of;
    d.include_user = &s;
    vd_kernel k = kernel_of(f, &d);
    assert_true(s.asked > 0);
    vd_buffer y = buffer_u32(f->ctx, "y", 1, NULL);
    OK(vd_run(f->ctx, k, 1, vd_b(y)));
    if (f->executes) assert_int_equal(read_u32(f->ctx, y, 0), expected);
}

#define GLSL_HEAD "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0) buffer Y { uint y[]; };\n"

TEST(includes) {
    files s = { 0, false, "" };
    needs_glsl(f);
    check_included(f, GLSL_HEAD "#include \"a.h\"\n#include <b.h>\nvoid main() { y[0] = twice(20); }", 42);
    check_included(f, GLSL_HEAD "#if 0\n#include \"none.h\"\n#endif\nvoid main() { y[0] = 7; }", 7);
    check_included(f, GLSL_HEAD "#include \"large.h\"\n  # include <a.h>\nvoid main() { y[0] = __LINE__ + b(0); }", 7);
    vd_kernel_desc d = code_desc(VD_CODE_GLSL, GLSL_HEAD "/*\n#include \"none.h\"\n*/ // #include \"a.h\"\n"
                                 "void main() { y[0] = 1; }");
    d.include = file_of;
    d.include_user = &s;
    kernel_of(f, &d);
    assert_int_equal(s.asked, 0);
    d.code = GLSL_HEAD "#include \"a.h\"\nvoid main() { y[0] = 1; }";
    kernel_of(f, &d);
    assert_true(s.angled && !strcmp(s.from, "a.h")); /* b.h is asked for in a.h, and a.h in b.h never */
}

TEST(messages_name_file_and_line) {
    files s = { 0, false, "" };
    needs_glsl(f);
    vd_kernel_desc d = code_desc(VD_CODE_GLSL, GLSL_HEAD "void main() {\n    y[0] = missing;\n}");
    fails_to_compile(f, d, VD_ERROR_COMPILE, "vd_kernel_create 'blur': glslang failed to compile|blur:5:|'missing'");
    d.code = GLSL_HEAD "#include \"wrong.h\"\nvoid main() { y[0] = g(); }";
    fails_to_compile(f, d, VD_ERROR_COMPILE, "wrong.h|was not found because the kernel desc has no include callback|blur:4:");
    d.include = file_of;
    d.include_user = &s;
    fails_to_compile(f, d, VD_ERROR_COMPILE, "wrong.h:3:|'unknown_name'");
    d.code = GLSL_HEAD "#include \"a.h\"\nvoid main() { y[0] = missing; }";
    fails_to_compile(f, d, VD_ERROR_COMPILE, "blur:5:|'missing'");
    d.code = GLSL_HEAD "#if 0\n#include \"a.h\"\n#endif\n\nvoid main() { y[0] = missing; }";
    fails_to_compile(f, d, VD_ERROR_COMPILE, "blur:8:|'missing'");
    d.code = GLSL_HEAD "#include \"none.h\"\nvoid main() {}";
    fails_to_compile(f, d, VD_ERROR_COMPILE, "blur:4:|none.h|was not found");
    d.code = GLSL_HEAD "#include none.h\nvoid main() {}";
    fails_to_compile(f, d, VD_ERROR_COMPILE, "blur:4:|an include directive needs a name of 1 to 255 bytes");
    d.name = "a\"b\\c\nd";
    d.code = "void main() { x; }";
    fails_to_compile(f, d, VD_ERROR_COMPILE, "a_b_c_d:1:");
    d.name = NULL;
    fails_to_compile(f, d, VD_ERROR_COMPILE, "code:1:");
    d = code_desc(VD_CODE_HLSL, "RWByteAddressBuffer y;\n[numthreads(1, 1, 1)]\nvoid main() {\n  y.Store(0, nothing);\n}");
    fails_to_compile(f, d, VD_ERROR_COMPILE, "blur|(4)|error");
}

/* ---- HLSL ---- */

static const char hlsl_registers[] =
    "#define REG(kind, n) register(kind##n)\n"
    "StructuredBuffer<float> x : register(t0);\n"
    "ByteAddressBuffer raw : REG(t, 1);\n"
    "RWStructuredBuffer<float> y : register(u0);\n"
    "RWStructuredBuffer<uint> z : register( u2 );\n"
    "[numthreads(4, 1, 1)] void scale(uint3 id : SV_DispatchThreadID) {\n"
    "    y[id.x] = x[id.x] * 3 + asfloat(raw.Load(4 * id.x));\n"
    "    z[id.x] = id.x;\n"
    "}\n";

/* t0 and u0 are different resources, and the order of the arguments is b, t, u, s. */
TEST(hlsl_registers_are_bindings_by_kind) {
    static const struct { const char *name; uint32_t binding, access; } expected[] = {
        { "x", 16, VD_READ }, { "raw", 17, VD_READ }, { "y", 32, VD_WRITE }, { "z", 34, VD_WRITE }
    };
    float x[4] = { 1, 2, 3, 4 }, raw[4] = { 0.5f, 0.5f, 0.5f, 0.5f }, got[4];
    needs_glsl(f);
    vd_kernel_desc d = code_desc(VD_CODE_HLSL, hlsl_registers);
    d.entry = "scale";
    vd_kernel k = kernel_of(f, &d);
    vd_kernel_info info;
    OK(vd_kernel_query(f->ctx, k, &info));
    assert_int_equal(info.arg_count, 4);
    assert_int_equal(info.local_size[0], 4);
    for (int i = 0; i < 4; i++) {
        vd_kernel_arg_info a;
        OK(vd_kernel_arg_query(f->ctx, k, i, &a));
        assert_string_equal(a.name, expected[i].name);
        assert_int_equal(a.arg.location, expected[i].binding);
        assert_int_equal(a.arg.access, expected[i].access);
    }
    vd_buffer bx = buffer_named(f->ctx, "x", VD_F32, 4, x), braw = buffer_named(f->ctx, "raw", VD_U32, 4, raw);
    vd_buffer by = buffer_named(f->ctx, "y", VD_F32, 4, NULL), bz = buffer_u32(f->ctx, "z", 4, NULL);
    OK(vd_run(f->ctx, k, 4, vd_b(bx), vd_b(braw), vd_b(by), vd_b(bz)));
    OK(vd_buffer_read(f->ctx, by, 0, got, VD_WHOLE));
    for (int i = 0; i < 4 && f->executes; i++) assert_true(got[i] == x[i] * 3 + 0.5f);
}

TEST(hlsl_constant_buffers) {
    const uint32_t p[8] = { 0, 0, 0, 7, 3, 0, 0, 0 }, q[4] = { 100, 0, 0, 0 };
    needs_glsl(f);
    vd_kernel_desc d = code_desc(VD_CODE_HLSL,
                                 "cbuffer Q : register(b5) { uint c; };\n"
                                 "cbuffer P : register(b0) { uint4 a; uint b; };\n"
                                 "RWStructuredBuffer<uint> y : register(u0);\n"
                                 "[numthreads(1, 1, 1)] void main() { y[0] = a.w * b + c; }");
    vd_kernel k = kernel_of(f, &d);
    vd_buffer bp = buffer_u32(f->ctx, "p", 8, p), bq = buffer_u32(f->ctx, "q", 4, q);
    vd_buffer y = buffer_u32(f->ctx, "y", 1, NULL);
    OK(vd_run(f->ctx, k, 1, vd_b(bp), vd_b(bq), vd_b(y)));
    if (f->executes) assert_int_equal(read_u32(f->ctx, y, 0), 121);
}

/* Images with 8 and with 16 bits for each component; two types of images in one kernel; and atomics. */
TEST(hlsl_images_of_any_format) {
    static const char swap[] = "Texture2D<float4> t : register(t0);\nRWTexture2D<float4> u : register(u0);\n"
                               "[numthreads(1, 1, 1)] void main(uint3 i : SV_DispatchThreadID) {\n"
                               "u[i.xy] = t.Load(int3(i.xy, 0)).bgra; }";
    static const char two[] = "RWTexture2D<float4> a : register(u0);\nRWTexture2D<float2> b : register(u1);\n"
                              "[numthreads(1, 1, 1)] void main() { b[uint2(0, 0)] = a[uint2(0, 0)].zw; }";
    static const char count[] = "RWTexture2D<uint> a : register(u0);\n[numthreads(4, 1, 1)] void main() {\n"
                                "InterlockedAdd(a[uint2(0, 0)], 1); }";
    static const uint8_t texels[2][4] = { { 10, 20, 30, 40 }, { 50, 60, 70, 80 } };
    const uint64_t needed = VD_FEATURE_IMAGE | VD_FEATURE_IMAGE_WRITE;
    uint8_t got[2][4];
    float pair[2];
    needs_glsl(f);
    if ((vd_device(f->ctx, 0)->features & needed) != needed) skip_because("storage images need formats");
    vd_image_desc id;
    vd_image_transfer whole;
    memset(&id, 0, sizeof id);
    memset(&whole, 0, sizeof whole);
    id.extent[0] = 2;
    id.format = VD_FORMAT_RGBA8_UNORM;
    id.data = texels;
    vd_image from = vd_image_create(f->ctx, &id);
    id.data = NULL;
    vd_image to = vd_image_create(f->ctx, &id);
    vd_kernel_desc d = code_desc(VD_CODE_HLSL, swap);
    vd_kernel k = kernel_of(f, &d);
    OK(vd_run(f->ctx, k, 2, vd_i(from), vd_i(to)));
    whole.box.image = to;
    OK(vd_image_download(f->ctx, &whole, got));
    for (int i = 0; i < 2 && f->executes; i++)
        for (int c = 0; c < 4; c++) assert_int_equal(got[i][c], texels[i][c == 3 ? 3 : 2 - c]);

    const float color[4] = { 1, 2, 3, 4 };
    id.extent[0] = 1;
    id.format = VD_FORMAT_RGBA32_F;
    id.data = color;
    vd_image wide = vd_image_create(f->ctx, &id);
    id.format = VD_FORMAT_RG32_F;
    id.data = NULL;
    vd_image narrow = vd_image_create(f->ctx, &id);
    d = code_desc(VD_CODE_HLSL, two);
    vd_kernel components = kernel_of(f, &d);
    OK(vd_run(f->ctx, components, 1, vd_i(wide), vd_i(narrow)));
    whole.box.image = narrow;
    OK(vd_image_download(f->ctx, &whole, pair));
    if (f->executes) assert_true(pair[0] == 3 && pair[1] == 4);
    FAILS(vd_run(f->ctx, components, 1, vd_i(to), vd_i(narrow)), VD_ERROR_INVALID, "format rgba8unorm|expects rgba32f");

    uint32_t counted = 0;
    id.format = VD_FORMAT_R32_U;
    vd_image counter = vd_image_create(f->ctx, &id);
    d = code_desc(VD_CODE_HLSL, count);
    vd_kernel atomic = kernel_of(f, &d);
    OK(vd_run(f->ctx, atomic, 8, vd_i(counter)));
    whole.box.image = counter;
    OK(vd_image_download(f->ctx, &whole, &counted));
    if (f->executes) assert_int_equal(counted, 8);
    vd_image all[5] = { from, to, wide, narrow, counter };
    for (size_t i = 0; i < COUNT(all); i++) vd_image_destroy(f->ctx, all[i]);
}

TEST(hlsl_textures) {
    const uint8_t texels[4] = { 255, 0, 51, 255 };
    float got[4];
    needs_glsl(f);
    needs_feature(f, VD_FEATURE_IMAGE);
    vd_kernel_desc d = code_desc(VD_CODE_HLSL,
                                 "Texture2D<float4> t : register(t3);\nSamplerState s : register(s1);\n"
                                 "RWStructuredBuffer<float4> y : register(u0);\n"
                                 "[numthreads(1, 1, 1)] void main() { y[0] = t.SampleLevel(s, float2(0.5, 0.5), 0); }");
    vd_kernel k = kernel_of(f, &d);
    vd_image_desc id;
    vd_sampler_desc sd;
    memset(&id, 0, sizeof id);
    memset(&sd, 0, sizeof sd);
    id.format = VD_FORMAT_RGBA8_UNORM;
    id.extent[0] = id.extent[1] = 1;
    id.data = texels;
    vd_image image = vd_image_create(f->ctx, &id);
    vd_sampler sampler = vd_sampler_create(f->ctx, &sd);
    vd_buffer y = buffer_named(f->ctx, "y", VD_F32X4, 1, NULL);
    OK(vd_run(f->ctx, k, 1, vd_i(image), vd_b(y), vd_s(sampler)));
    OK(vd_buffer_read(f->ctx, y, 0, got, VD_WHOLE));
    if (f->executes) assert_true(got[0] == 1 && got[1] == 0 && got[2] > 0.199f && got[2] < 0.201f);
    vd_image_destroy(f->ctx, image);
    vd_sampler_destroy(f->ctx, sampler);
}

/* Doubles the integers of a texel buffer of bytes, from another one. */
TEST(texel_buffers) {
    static const char glsl[] = "#version 450\nlayout(local_size_x = 4) in;\n"
                               "layout(binding = 5) uniform usamplerBuffer from;\n"
                               "layout(binding = 2, r32ui) uniform uimageBuffer to;\n"
                               "void main() { int i = int(gl_GlobalInvocationID.x);\n"
                               "if (i < textureSize(from)) imageStore(to, i, 2 * texelFetch(from, i)); }";
    static const char hlsl[] = "Buffer<uint> from : register(t0);\nRWBuffer<uint> to : register(u0);\n"
                               "[numthreads(4, 1, 1)] void main(uint3 i : SV_DispatchThreadID) {\n"
                               "to[i.x] = 2 * from.Load(i.x); }";
    static const struct { vd_code kind; const char *code; uint32_t first; } cases[] = {
        { VD_CODE_GLSL, glsl, 1 }, { VD_CODE_HLSL, hlsl, 0 } /* index of `from` */
    };
    needs_glsl(f);
    if (!vd_device(f->ctx, 0)->limits.max_texels) skip_because("the device has no texel buffers");
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint8_t bytes[64] = { 7, 8, 9, 255 };
        uint32_t got[4];
        vd_kernel_arg_info arg;
        vd_texel_buffer_desc td;
        memset(&td, 0, sizeof td);
        vd_buffer source = td.buffer = buffer_named(f->ctx, "bytes", VD_BYTES, sizeof bytes, bytes);
        td.format = VD_FORMAT_R8_U;
        td.texels = 4;
        vd_image from = vd_texel_buffer(f->ctx, &td);
        vd_buffer y = buffer_u32(f->ctx, "y", 4, NULL);
        td.buffer = y;
        td.format = VD_FORMAT_R32_U;
        vd_image to = vd_texel_buffer(f->ctx, &td);
        assert_true(from.id && to.id);
        vd_kernel_desc d = code_desc(cases[i].kind, cases[i].code);
        vd_kernel k = kernel_of(f, &d);
        int first = (int)cases[i].first;
        OK(vd_kernel_arg_query(f->ctx, k, first, &arg));
        assert_string_equal(arg.name, "from");
        assert_true(arg.arg.kind == VD_ARG_IMAGE && arg.arg.dim == VD_DIM_BUFFER && arg.arg.sampled);
        assert_true(!arg.arg.separate && arg.arg.access == VD_READ && arg.arg.type == VD_U32);
        OK(vd_kernel_arg_query(f->ctx, k, 1 - first, &arg));
        assert_true(arg.arg.kind == VD_ARG_IMAGE && arg.arg.dim == VD_DIM_BUFFER && !arg.arg.sampled);
        assert_true(arg.arg.format == VD_FORMAT_R32_U && arg.arg.access & VD_WRITE);
        OK(vd_run(f->ctx, k, 4, vd_i(first ? to : from), vd_i(first ? from : to)));
        OK(vd_buffer_read(f->ctx, y, 0, got, VD_WHOLE));
        for (int j = 0; j < 4 && f->executes; j++) assert_int_equal(got[j], 2 * bytes[j]);
        FAILS(vd_run(f->ctx, k, 4, vd_i(from), vd_i(from)), VD_ERROR_INVALID, "format r8u, but the kernel expects r32u");
        vd_kernel_destroy(f->ctx, k);
        vd_buffer_destroy(f->ctx, source); /* with the texel buffers */
        vd_buffer_destroy(f->ctx, y);
    }
}

/* A sampler that is an argument of its own changes between the submissions of a graph. */
TEST_EXECUTED(samplers_in_slots) {
    static const float texels[2][2] = { { 0, 1 }, { 2, 3 } };
    float got = 0;
    needs_glsl(f);
    needs_feature(f, VD_FEATURE_IMAGE);
    vd_kernel_desc d = code_desc(VD_CODE_HLSL,
                                 "Texture2D<float4> t : register(t3);\nSamplerState s : register(s1);\n"
                                 "RWStructuredBuffer<float> y : register(u0);\n"
                                 "[numthreads(1, 1, 1)] void main() { y[0] = t.SampleLevel(s, float2(1.25, 0.25), 0).x; }");
    vd_kernel k = kernel_of(f, &d);
    vd_image_desc id;
    vd_sampler samplers[2];
    memset(&id, 0, sizeof id);
    id.format = VD_FORMAT_R32_F;
    id.extent[0] = id.extent[1] = 2;
    id.data = texels;
    vd_image image = vd_image_create(f->ctx, &id);
    vd_buffer y = buffer_named(f->ctx, "y", VD_F32, 1, NULL);
    for (int i = 0; i < 2; i++) {
        vd_sampler_desc sd;
        memset(&sd, 0, sizeof sd);
        sd.min_filter = sd.mag_filter = sd.mip_filter = VD_FILTER_NEAREST;
        sd.address[0] = sd.address[1] = i ? VD_ADDRESS_REPEAT : VD_ADDRESS_CLAMP;
        samplers[i] = vd_sampler_create(f->ctx, &sd);
    }
    vd_list *list = vd_graph_begin(f->ctx, NULL);
    vd_arg args[3] = { vd_i(image), vd_b(y), vd_slot("sampler", vd_s(samplers[0])) };
    OK(dispatch(list, k, 1, args, 3));
    vd_graph g = vd_graph_end(list);
    assert_true(g.id != 0);
    for (int i = 0; i < 6; i++) {
        OK(vd_graph_set(f->ctx, g, "sampler", vd_s(samplers[i % 2])));
        OK(vd_graph_submit(f->ctx, g, NULL, NULL));
        OK(vd_buffer_read(f->ctx, y, 0, &got, 4));
        assert_true(got == (i % 2 ? 0 : 1));
    }
    FAILS(vd_graph_set(f->ctx, g, "sampler", vd_i(image)), VD_ERROR_INVALID, "slot 'sampler' is a sampler|an image");
    FAILS(vd_graph_set(f->ctx, g, "sampler", vd_s((vd_sampler){ 0 })), VD_ERROR_INVALID, "slot 'sampler': the sampler");
    vd_sampler_destroy(f->ctx, samplers[1]);
    FAILS(vd_graph_submit(f->ctx, g, NULL, NULL), VD_ERROR_INVALID, "the sampler in slot 'sampler' was destroyed");
    vd_graph_destroy(f->ctx, g);
    vd_image_destroy(f->ctx, image);
    vd_sampler_destroy(f->ctx, samplers[0]);
    vd_kernel_destroy(f->ctx, k);
    vd_buffer_destroy(f->ctx, y);
}

/* ---- bad input ---- */

TEST(bad_input) {
    static const char *const garbage[] = {
        "", "#", "#version", "#version 9999\nvoid main() {}", "\"", "/*", "void main() {", "#include", "#include \"",
        "\n\n#if", "\x80\xff\x01", "#define X X\nX", "}}}}", "#error here"
    };
    const vd_define nameless = { NULL, "1" }, two_lines = { "A", "1\n#error" };
    needs_glsl(f);
    for (size_t i = 0; i < COUNT(garbage); i++)
        for (int kind = VD_CODE_GLSL; kind <= VD_CODE_HLSL; kind++) {
            vd_kernel_desc d = code_desc((vd_code)kind, garbage[i]);
            vd_kernel k = vd_kernel_create(f->ctx, &d);
            if (!k.id && !strstr(vd_error_text(), "vd_kernel_create 'blur': ")) fail_msg("%s", vd_error_text());
        }
    vd_kernel_desc d = code_desc(VD_CODE_GLSL, NULL);
    fails_to_compile(f, d, VD_ERROR_INVALID, "desc.code is NULL");
    d.code = "";
    fails_to_compile(f, d, VD_ERROR_COMPILE, "the GLSL code is empty");
    d.code = "void main() {}";
    d.define_count = 1;
    fails_to_compile(f, d, VD_ERROR_INVALID, "desc.define_count is 1, but desc.defines is NULL");
    d.defines = &nameless;
    fails_to_compile(f, d, VD_ERROR_INVALID, "desc.defines[0] has no name");
    d.defines = &two_lines;
    fails_to_compile(f, d, VD_ERROR_INVALID, "desc.defines[0] has more than one line");
    d.define_count = -1;
    fails_to_compile(f, d, VD_ERROR_INVALID, "desc.define_count is -1, but it must not be negative");
    d.define_count = 0;
    d.entry = "other";
    fails_to_compile(f, d, VD_ERROR_COMPILE, "no compute entry point 'other'");
    d = code_desc(VD_CODE_HLSL, "RWByteAddressBuffer y : register(u16);\n[numthreads(1, 1, 1)] void main() { y.Store(0, 1); }");
    fails_to_compile(f, d, VD_ERROR_UNSUPPORTED, "the HLSL code uses register u16, but the highest number is 15");
    d = code_desc(VD_CODE_HLSL, "[numthreads(1, 1, 1)] void main() {}");
    d.entry = "absent";
    fails_to_compile(f, d, VD_ERROR_COMPILE, "blur");
}

static const char *self_growing(void *user, const char *name, const char *from, bool angled) {
    static char text[1 << 14];
    const size_t comment = 1 << 13; /* few files reach the limit */
    (void)from, (void)angled, (void)user;
    memset(text, '/', comment);
    text[comment - 1] = '\n';
    size_t used = comment; /* each file includes ten others, so that all together would have no limit */
    for (int i = 0; i < 10; i++) used += (size_t)snprintf(text + used, sizeof text - used, "#include \"%.20s%d\"\n", name, i);
    return text;
}

TEST(includes_without_end) {
    needs_glsl(f);
    vd_kernel_desc d = code_desc(VD_CODE_GLSL, "#include \"x\"\nvoid main() {}");
    d.include = self_growing;
    fails_to_compile(f, d, VD_ERROR_UNSUPPORTED, "more than 16777216 bytes");
}

static const struct CMUnitTest cases[] = {
    CASE(glsl_with_macros_and_constants), CASE(includes), CASE(messages_name_file_and_line),
    CASE(hlsl_registers_are_bindings_by_kind), CASE(hlsl_constant_buffers),
    CASE(hlsl_textures), CASE(texel_buffers), CASE(samplers_in_slots), CASE(bad_input), CASE(includes_without_end),
    CASE(hlsl_images_of_any_format),
};

MAIN("glsl", cases)
