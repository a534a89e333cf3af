/* Images: refused calls, merging of reads, reflection, and the runtime's errors for kernels with texel buffers. */
#include "tests/unit/unit.h"

typedef struct images_rig {
    vc_kernel *k;
    vc_image_ref flat, deep, cube, layers, texels, whole, read, write, any;
    vc_val i, u, f, at, deep_at, texel;
    vc_ref out;
} images_rig;

static vc_image_ref image(vc_kernel *k, const char *name, vc_dim dim, bool storage, vc_format format, uint32_t access) {
    vc_image_desc d;
    memset(&d, 0, sizeof d);
    d.dim = dim;
    d.storage = storage;
    d.format = format;
    d.access = access;
    return vc_image(k, name, &d);
}

static images_rig images_begin_on(uint64_t lacks, vc_buffers buffers) {
    vc_kernel_desc desc;
    images_rig r;
    memset(&desc, 0, sizeof desc);
    desc.name = "paint";
    desc.machine.missing_features = lacks;
    desc.buffers = buffers;
    r.k = vc_begin(&desc);
    r.flat = vc_image(r.k, "flat", NULL);
    r.deep = image(r.k, "deep", VC_DIM_3D, false, VC_FORMAT_NONE, 0);
    r.cube = image(r.k, "cube", VC_DIM_CUBE, false, VC_FORMAT_NONE, 0);
    r.layers = image(r.k, "layers", VC_DIM_2D_ARRAY, false, VC_FORMAT_NONE, VC_READ);
    r.texels = image(r.k, "texels", VC_DIM_BUFFER, false, VC_FORMAT_NONE, 0);
    r.whole = image(r.k, "whole", VC_DIM_2D, true, VC_FORMAT_R32_F, 0);
    r.read = image(r.k, "read", VC_DIM_2D, true, VC_FORMAT_RGBA8_U, VC_READ);
    r.write = image(r.k, "write", VC_DIM_2D, true, VC_FORMAT_RG8_UNORM, VC_WRITE);
    r.any = image(r.k, "any", VC_DIM_2D, true, VC_FORMAT_NONE, VC_READ_WRITE | VC_MAY_ALIAS);
    r.out = vc_buffer(r.k, "out", VC_F32X4, VC_WRITE);
    r.u = vc_local_index(r.k);
    r.i = vc_cast(VC_I32, r.u);
    r.f = vc_cast(VC_F32, r.u);
    r.at = vc_vec2(r.f, r.f);
    r.deep_at = vc_vec3(r.f, r.f, r.f);
    r.texel = vc_vec2(r.i, r.i);
    return r;
}
static images_rig images_begin(void) { return images_begin_on(0, VC_BUFFERS_DEFAULT); }

static void images_fails(images_rig r, const char *text) {
    const char *error;
    vc_spirv(r.k, NULL);
    error = vc_error(r.k);
    assert_non_null(error);
    assert_string_equal(error, text);
    assert_int_equal(vc_sample(r.flat, r.at).owner, 0);
    assert_int_equal(vc_image_levels(r.flat).owner, 0);
    vc_image_store(r.whole, r.texel, r.f);
    assert_null(vc_image(r.k, "late", NULL).kernel);
    assert_null(vc_source(r.k, VC_TARGET_GLSL));
    assert_null(vc_dump(r.k));
    vc_free(r.k);
}
#define FAILS(call, text) do { images_rig r = images_begin(); call; images_fails(r, text); } while (0)

static void declared(vc_image_desc d, const char *text) {
    images_rig r = images_begin();
    assert_null(vc_image(r.k, "odd", &d).kernel);
    images_fails(r, text);
}

static void declarations(void **state) {
    vc_image_desc d;
    (void)state;
    memset(&d, 0, sizeof d);
    d.dim = (vc_dim)8;
    declared(d, "vc_image in kernel 'paint': 'odd': dim is 8, which is not a vc_dim");
    d.dim = VC_DIM_1D;
    d.type = VC_F16;
    declared(d, "vc_image in kernel 'paint': 'odd': type is f16, but must be VC_F32, VC_I32 or VC_U32");
    d.type = VC_F32X4;
    declared(d, "vc_image in kernel 'paint': 'odd': type is f32x4, but must be VC_F32, VC_I32 or VC_U32");
    d.type = VC_NONE;
    d.format = VC_FORMAT_RGBA8_UNORM;
    declared(d, "vc_image in kernel 'paint': 'odd': format is rgba8, which requires `storage`; a sampled image must have VC_FORMAT_NONE");
    d.storage = true;
    d.format = (vc_format)40;
    declared(d, "vc_image in kernel 'paint': 'odd': format is 40, which is not a vc_format");
    d.format = VC_FORMAT_R16_I;
    d.type = VC_U32;
    declared(d, "vc_image in kernel 'paint': 'odd': type is u32, but format r16i requires i32");
    d.type = VC_NONE;
    d.access = VC_MAY_ALIAS;
    declared(d, "vc_image in kernel 'paint': 'odd': access is 4, but must be VC_READ, VC_WRITE or VC_READ_WRITE, optionally with VC_MAY_ALIAS");
    d.storage = false;
    d.format = VC_FORMAT_NONE;
    d.access = VC_WRITE;
    declared(d, "vc_image in kernel 'paint': 'odd': access is 2, but must be VC_READ for a sampled image");
}

static void coordinates_are_of_the_right_size(void **state) {
    (void)state;
    FAILS(vc_sample(r.flat, r.f), "vc_sample in kernel 'paint': operand 2 (coordinates) is f32, but image 'flat' (2-D) requires f32x2");
    FAILS(vc_sample(r.flat, r.deep_at), "vc_sample in kernel 'paint': operand 2 (coordinates) is f32x3, but image 'flat' (2-D) requires f32x2");
    FAILS(vc_sample_lod(r.layers, r.at, r.f),
          "vc_sample_lod in kernel 'paint': operand 2 (coordinates) is f32x2, but image 'layers' (2-D array) requires f32x3");
    FAILS(vc_sample(r.cube, r.texel), "vc_sample in kernel 'paint': operand 2 (coordinates) is i32x2, but image 'cube' (cube) requires f32x3");
    FAILS(vc_gather(r.flat, r.texel, 0), "vc_gather in kernel 'paint': operand 2 (coordinates) is i32x2, but image 'flat' (2-D) requires f32x2");
    FAILS(vc_fetch(r.flat, r.at, r.i), "vc_fetch in kernel 'paint': operand 2 (coordinates) is f32x2, but image 'flat' (2-D) requires i32x2 or u32x2");
    FAILS(vc_fetch(r.flat, vc_u32(1), r.i), "vc_fetch in kernel 'paint': operand 2 (coordinates) is u32, but image 'flat' (2-D) requires i32x2 or u32x2");
    FAILS(vc_fetch(r.texels, vc_cast(VC_I64, r.i), vc_u32(0)),
          "vc_fetch in kernel 'paint': operand 2 (coordinates) is i64, but image 'texels' (texel buffer) requires i32 or u32");
    FAILS(vc_image_load(r.whole, r.u), "vc_image_load in kernel 'paint': operand 2 (coordinates) is u32, but image 'whole' (2-D) requires i32x2 or u32x2");
    FAILS(vc_image_store(r.whole, r.at, r.f),
          "vc_image_store in kernel 'paint': operand 2 (coordinates) is f32x2, but image 'whole' (2-D) requires i32x2 or u32x2");
    FAILS(vc_fetch(r.texels, vc_u32(0xffffffffu), vc_u32(0)), "vc_fetch in kernel 'paint': operand 2 is the immediate 4294967295, which is out of range for "
                                                              "i32");
}

static void other_operands(void **state) {
    (void)state;
    FAILS(vc_sample_lod(r.flat, r.at, r.i), "vc_sample_lod in kernel 'paint': operand 3 (level of detail) is i32, but image 'flat' (2-D) requires f32");
    FAILS(vc_sample_lod(r.flat, r.at, vc_i32(16777217)),
          "vc_sample_lod in kernel 'paint': operand 3 is the immediate 16777217, which cannot be represented exactly in f32");
    FAILS(vc_sample_grad(r.layers, r.deep_at, r.at, r.deep_at),
          "vc_sample_grad in kernel 'paint': operand 4 (derivative) is f32x3, but image 'layers' (2-D array) requires f32x2");
    FAILS(vc_fetch(r.flat, r.texel, r.f), "vc_fetch in kernel 'paint': operand 3 (level) is f32, but image 'flat' (2-D) requires i32 or u32");
    FAILS(vc_image_size(r.flat, r.f), "vc_image_size in kernel 'paint': operand 2 (level) is f32, but image 'flat' (2-D) requires i32 or u32");
    FAILS(vc_image_size(r.whole, r.u), "vc_image_size in kernel 'paint': image 'whole' has only one level, so level must be the immediate 0");
    FAILS(vc_fetch(r.texels, r.u, vc_u32(1)), "vc_fetch in kernel 'paint': image 'texels' has only one level, so level must be the immediate 0");
    FAILS(vc_image_levels(r.whole),
          "vc_image_levels in kernel 'paint': image 'whole' has only one level; vc_image_levels requires a sampled image that is not a "
          "texel buffer");
    FAILS(vc_image_levels(r.texels),
          "vc_image_levels in kernel 'paint': image 'texels' has only one level; vc_image_levels requires a sampled image that is not a "
          "texel buffer");
    FAILS(vc_image_store(r.whole, r.texel, r.at),
          "vc_image_store in kernel 'paint': the value is f32x2, but the element type is f32x4; convert it with vc_cast");
    FAILS(vc_image_store(r.whole, r.texel, r.i), "vc_image_store in kernel 'paint': the value is i32, but the element type is f32x4; convert it with vc_cast");
    FAILS(vc_gather(r.flat, r.at, 4), "vc_gather in kernel 'paint': component is 4, but must be 0 to 3");
    FAILS(vc_sample_offset(r.flat, r.at, r.f, 8, 0, 0), "vc_sample_offset in kernel 'paint': the offset along x is 8, but must be -8 to 7");
    FAILS(vc_sample_offset(r.flat, r.at, r.f, 1, 1, -1),
          "vc_sample_offset in kernel 'paint': the offset along z is -1, but must be 0 for image 'flat' (2-D)");
    FAILS(vc_sample_offset(r.cube, r.deep_at, r.f, 0, 1, 0),
          "vc_sample_offset in kernel 'paint': the offset along y is 1, but must be 0 for image 'cube' (cube)");
    FAILS(vc_sample(r.flat, vc_vec2(vc_f32(1), vc_f32(2))),
          "vc_sample in kernel 'paint': operand 2 is vc_vec2 of immediates only, so its kernel is unknown; use vc_vec");
    FAILS(VC_SWITCH(r.k, r.i) { vc_image_store(r.whole, r.texel, r.f); },
          "vc_image_store in kernel 'paint': called directly inside a VC_SWITCH, which may only contain VC_CASE and VC_DEFAULT");
}

/* A level of detail is an f32; immediates are converted to it. */
static void levels_of_detail_are_converted(void **state) {
    const vc_val levels[] = { vc_f32(1), vc_i32(1), vc_u64(1), vc_f64(1) };
    uint64_t first = 0;
    (void)state;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        images_rig r = images_begin();
        vc_store(r.out, r.u, vc_sample_lod(r.flat, r.at, levels[i]));
        assert_null(vc_error(r.k));
        if (!i) first = vc_hash(r.k);
        assert_int_not_equal(first, 0);
        assert_true(vc_hash(r.k) == first);
        vc_free(r.k);
    }
}

static void images_have_a_type(void **state) {
    (void)state;
    FAILS(vc_sample(r.whole, r.at), "vc_sample in kernel 'paint': image 'whole' is a storage image, which has no sampler; use vc_image_load");
    FAILS(vc_gather(r.texels, r.f, 0), "vc_gather in kernel 'paint': image 'texels' is a texel buffer, which has no sampler; use vc_fetch");
    FAILS(vc_gather(r.deep, r.deep_at, 0), "vc_gather in kernel 'paint': image 'deep' is 3-D, but must be 2-D, 2-D array or cube");
    FAILS(vc_fetch(r.read, r.texel, r.i), "vc_fetch in kernel 'paint': image 'read' is a storage image; use vc_image_load");
    FAILS(vc_fetch(r.cube, r.texel, r.i), "vc_fetch in kernel 'paint': image 'cube' is a cube, whose texels have no integer coordinates; use vc_sample_lod");
    FAILS(vc_image_load(r.flat, r.texel), "vc_image_load in kernel 'paint': image 'flat' is not a storage image; use vc_fetch");
    FAILS(vc_image_store(r.flat, r.texel, r.f), "vc_image_store in kernel 'paint': image 'flat' is not a storage image, so it cannot be stored to");
    FAILS(vc_image_store(r.texels, r.i, r.f), "vc_image_store in kernel 'paint': image 'texels' is not a storage image, so it cannot be stored to");
    FAILS(vc_image_load(r.write, r.texel), "vc_image_load in kernel 'paint': image 'write' was declared without VC_READ");
    FAILS(vc_image_store(r.read, r.texel, r.u), "vc_image_store in kernel 'paint': image 'read' was declared without VC_WRITE");
}

static void images_of_other_kernels(void **state) {
    images_rig r = images_begin(), other = images_begin();
    vc_image_ref none;
    (void)state;
    memset(&none, 0, sizeof none);
    vc_sample(other.flat, r.at);
    images_fails(other, "vc_sample in kernel 'paint': operand 2 belongs to another kernel");
    vc_sample(none, r.at);
    images_fails(r, "vc_sample in kernel 'paint': the image was never set");
    r = images_begin();
    vc_restart(r.k, NULL);
    vc_image_levels(r.flat);
    assert_string_equal(vc_error(r.k), "vc_image_levels in kernel 'kernel': the image was created before vc_restart");
    vc_restart(r.k, NULL);
    r.flat.node = 0;
    r.flat.generation = vc_image(r.k, "x", NULL).generation;
    vc_image_levels(r.flat);
    assert_string_equal(vc_error(r.k), "vc_image_levels in kernel 'kernel': the image was created before vc_restart");
    vc_free(r.k);
    assert_int_equal(vc_sample(none, vc_f32(1)).owner, 0);
    vc_image_store(none, vc_u32(1), vc_f32(1));
    assert_null(vc_image(NULL, "x", NULL).kernel);
}

static void machine_has_to_have(uint64_t lacks, void (*call)(images_rig r), const char *text) {
    images_rig r = images_begin_on(lacks, VC_BUFFERS_DEFAULT);
    call(r);
    images_fails(r, text);
}
static void sampled(images_rig r) { vc_store(r.out, r.u, vc_sample(r.flat, r.at)); }
static void stored_rare(images_rig r) { vc_image_store(r.write, r.texel, r.f); }
static void loaded_any(images_rig r) { vc_store(r.out, r.u, vc_image_load(r.any, r.texel)); }
static void stored_any(images_rig r) { vc_image_store(r.any, r.texel, r.f); }

static void features(void **state) {
    images_rig r = images_begin();
    (void)state;
    machine_has_to_have(VC_FEATURE_IMAGE, sampled, "vc_sample in kernel 'paint': requires images, which the device does not support (VC_FEATURE_IMAGE)");
    machine_has_to_have(VC_FEATURE_IMAGE_FORMATS, stored_rare,
        "vc_image_store in kernel 'paint': requires a storage image format that not all devices support, which the device does not support "
        "(VC_FEATURE_IMAGE_FORMATS)");
    machine_has_to_have(VC_FEATURE_IMAGE_READ, loaded_any,
        "vc_image_load in kernel 'paint': requires loading from storage images of any format, which the device does not support (VC_FEATURE_IMAGE_READ)");
    machine_has_to_have(VC_FEATURE_IMAGE_WRITE, stored_any,
        "vc_image_store in kernel 'paint': requires storing to storage images of any format, which the device does not support (VC_FEATURE_IMAGE_WRITE)");
    stored_any(r);
    assert_int_equal(vc_reflect(r.k)->features, VC_FEATURE_IMAGE | VC_FEATURE_IMAGE_WRITE);
    vc_free(r.k);
}

static void check(const vc_arg_info *a, const char *name, vc_dim dim, bool is_sampled, vc_format format, vc_type type,
                  uint32_t access, uint32_t place) {
    assert_string_equal(a->name, name);
    assert_int_equal(a->kind, VC_ARG_IMAGE);
    assert_int_equal(a->dim, dim);
    assert_int_equal(a->sampled, is_sampled);
    assert_int_equal(a->format, format);
    assert_int_equal(a->type, type);
    assert_int_equal(a->access, access);
    assert_int_equal(a->location, place);
    assert_int_equal(a->size, 0);
}

static void images_reflection(void **state) {
    (void)state;
    for (int form = VC_BUFFERS_ADDRESS; form <= VC_BUFFERS_BINDING; form++) {
        images_rig r = images_begin_on(0, (vc_buffers)form);
        vc_ref last = vc_buffer(r.k, "last", VC_F32, VC_WRITE);
        vc_image_ref more = image(r.k, "more", VC_DIM_1D, true, VC_FORMAT_R32_I, 0);
        const vc_info *info;
        vc_store(last, r.u, vc_component(vc_sample(r.flat, r.at), 1));
        vc_image_store(r.whole, r.texel, vc_f32(0));
        vc_store(r.out, r.u, vc_add(vc_image_load(r.any, r.texel), vc_cast(VC_F32X4, vc_image_load(r.read, r.texel))));
        vc_image_store(r.any, r.texel, r.f);
        vc_store(r.out, r.u, vc_splat(vc_cast(VC_F32, vc_image_size(more, vc_u32(0))), 4));
        info = vc_reflect(r.k);
        assert_non_null(info);
        assert_int_equal(info->arg_count, 12);
        check(&info->args[0], "flat", VC_DIM_2D, true, VC_FORMAT_NONE, VC_F32, VC_READ, 0);
        check(&info->args[1], "deep", VC_DIM_3D, true, VC_FORMAT_NONE, VC_F32, 0, 1);
        check(&info->args[4], "texels", VC_DIM_BUFFER, true, VC_FORMAT_NONE, VC_F32, 0, 4);
        check(&info->args[5], "whole", VC_DIM_2D, false, VC_FORMAT_R32_F, VC_F32, VC_WRITE, 5);
        check(&info->args[6], "read", VC_DIM_2D, false, VC_FORMAT_RGBA8_U, VC_U32, VC_READ, 6);
        check(&info->args[8], "any", VC_DIM_2D, false, VC_FORMAT_NONE, VC_F32, VC_READ_WRITE, 8);
        assert_true(info->args[8].may_alias);
        assert_int_equal(info->args[9].kind, form == VC_BUFFERS_ADDRESS ? VC_ARG_ADDRESS : VC_ARG_BINDING);
        assert_int_equal(info->args[9].location, form == VC_BUFFERS_ADDRESS ? 0 : 9);
        check(&info->args[11], "more", VC_DIM_1D, false, VC_FORMAT_R32_I, VC_I32, VC_READ,
              form == VC_BUFFERS_ADDRESS ? 9 : 11);
        assert_int_equal(info->args[11].sampled, false);
        vc_free(r.k);
    }
}

/* In CUDA C images are handles in the argument block; in OpenCL C they are parameters at their bindings. */
static void reflection_of_c(void **state) {
    images_rig r = images_begin();
    const vc_info *info;
    (void)state;
    sampled(r);
    info = vc_reflect_for(r.k, VC_TARGET_CUDA);
    assert_non_null(info);
    assert_int_equal(info->args[2].kind, VC_ARG_IMAGE);
    assert_int_equal(info->args[2].location, 16);
    assert_int_equal(info->args[2].size, 8);
    assert_int_equal(info->args[9].location, 72);
    assert_int_equal(info->argument_bytes, 80);
    vc_free(r.k);
    r = images_begin();
    assert_null(vc_source(r.k, VC_TARGET_OPENCL));
    assert_string_equal(vc_error(r.k), "vc_image in kernel 'paint': image 'cube' (cube): cubes are not supported in OpenCL C");
    vc_free(r.k);
}

static uint32_t occurrences_of(const char *text, const char *what) {
    uint32_t n = 0;
    for (; (text = strstr(text, what)) != NULL; text++) n++;
    return n;
}

/* Reads of an image that is never written are merged across stores to other objects; reads of an image that is written
   are merged only between stores. */
static void images_merging(void **state) {
    images_rig r = images_begin();
    const char *text;
    (void)state;
    vc_store(r.out, r.u, vc_add(vc_sample(r.flat, r.at), vc_image_load(r.any, r.texel)));
    vc_store(r.out, r.i,
             vc_add(vc_sample(r.flat, r.at), vc_add(vc_image_load(r.any, r.texel), vc_image_load(r.any, r.texel))));
    vc_image_store(r.any, r.texel, r.f);
    vc_store(r.out, vc_u32(7),
             vc_add(vc_image_load(r.any, r.texel), vc_cast(VC_F32X4, vc_image_load(r.read, r.texel))));
    vc_store(r.out, vc_u32(8), vc_cast(VC_F32X4, vc_image_load(r.read, r.texel)));
    vc_sample(r.deep, r.deep_at);
    text = vc_source(r.k, VC_TARGET_GLSL);
    assert_non_null(text);
    assert_int_equal(occurrences_of(text, "textureLod("), 1);
    assert_int_equal(occurrences_of(text, "imageLoad(my_any"), 3);
    assert_int_equal(occurrences_of(text, "imageLoad(read"), 1);
    assert_int_equal(occurrences_of(text, "deep"), 0);
    vc_free(r.k);
}

/* Barriers order stores to images too. */
static void images_barriers(void **state) {
    images_rig r = images_begin();
    (void)state;
    vc_image_store(r.any, r.texel, r.f);
    vc_barrier(r.k);
    vc_store(r.out, r.u, vc_image_load(r.any, r.texel));
    assert_non_null(strstr(vc_source(r.k, VC_TARGET_GLSL), "memoryBarrierImage();\n"));
    vc_free(r.k);
    r = images_begin();
    vc_image_store(r.any, r.texel, r.f);
    vc_fence(r.k, VC_SCOPE_DEVICE, 0);
    assert_non_null(strstr(vc_source(r.k, VC_TARGET_GLSL), "gl_StorageSemanticsImage"));
    vc_free(r.k);
}

static void the_runtime_accepts_kernels_with_texel_buffers(void **state) {
    vd_device_info device;
    vd_context *ctx = unit_context(NULL);
    vd_kernel_desc d;
    images_rig r = images_begin();
    size_t words = 0;
    (void)state;
    memcpy(&device, vd_device(ctx, 0), sizeof device);
    vd_context_destroy(ctx);
    device.features |= VD_FEATURE_IMAGE;
    ctx = unit_context(&device);
    sampled(r);
    vc_store(r.out, r.u, vc_fetch(r.texels, r.u, vc_u32(0)));
    assert_true(vd_kernel_build(ctx, r.k).id != 0);
    memset(&d, 0, sizeof d);
    d.name = "module";
    d.code = vc_spirv(r.k, &words);
    d.code_size = words * 4;
    vd_kernel module = vd_kernel_create(ctx, &d); /* it contains only the images that are used */
    vd_kernel_arg_info arg;
    bool found = false;
    assert_true(module.id != 0);
    for (int i = 0; vd_kernel_arg_query(ctx, module, i, &arg) == VD_OK; i++) {
        if (strcmp(arg.name, "texels")) continue;
        found = true;
        assert_int_equal(arg.arg.kind, VD_ARG_IMAGE);
        assert_int_equal(arg.arg.dim, VD_DIM_BUFFER);
        assert_true(arg.arg.sampled && !arg.arg.separate);
        assert_int_equal(arg.arg.type, VD_F32);
        assert_int_equal(arg.arg.access, VD_READ);
    }
    assert_true(found);
    vc_free(r.k);
    vd_context_destroy(ctx);
    device.features &= ~(uint64_t)VD_FEATURE_IMAGE;
    ctx = unit_context(&device);
    r = images_begin();
    sampled(r);
    assert_int_equal(vd_kernel_build(ctx, r.k).id, 0);
    CHECK_TEXT("vd_kernel_build 'paint': the kernel requires the feature image, which");
    vc_free(r.k);
    vd_context_destroy(ctx);
}

/* ---- arrays ---- */

static vc_image_ref image_array(vc_kernel *k, const char *name, uint32_t count, bool storage) {
    vc_image_desc d;
    memset(&d, 0, sizeof d);
    d.count = count;
    d.storage = storage;
    d.format = storage ? VC_FORMAT_R32_F : VC_FORMAT_NONE;
    return vc_image(k, name, &d);
}

static void arrays_need_an_index(void **state) {
    (void)state;
    FAILS(vc_image_at(r.flat, r.u), "vc_image_at in kernel 'paint': image 'flat' is not an array");
    FAILS(vc_sample(image_array(r.k, "many", 3, false), r.at),
          "vc_sample in kernel 'paint': image 'many' is an array; select an element with vc_image_at");
    FAILS(vc_image_at(vc_image_at(image_array(r.k, "many", 3, false), r.u), r.u),
          "vc_image_at in kernel 'paint': image 'many' is not an array");
    FAILS(vc_image_at(image_array(r.k, "many", 3, false), vc_u32(3)),
          "vc_image_at in kernel 'paint': index is 3, but must be below 3, the number of elements of image 'many'");
    FAILS(vc_image_at(image_array(r.k, "many", 3, false), vc_i32(-1)),
          "vc_image_at in kernel 'paint': index is -1, but must be below 3, the number of elements of image 'many'");
    FAILS(vc_image_at(image_array(r.k, "many", 3, false), r.f),
          "vc_image_at in kernel 'paint': operand 2 (index) is f32, but image 'many' (2-D) requires i32 or u32");
    FAILS(image_array(r.k, "many", 1025, false),
          "vc_image in kernel 'paint': 'many': count is 1025, but must be 0 to 1024, and 0 for a texel buffer");
}

/* An index is not usable after the block that computed it. An index from before the block is. */
static void indices_of_closed_blocks(void **state) {
    (void)state;
    for (int inside = 0; inside < 2; inside++) {
        images_rig r = images_begin();
        vc_image_ref many = image_array(r.k, "many", 3, false), element = many;
        vc_val before = vc_mod(r.u, vc_u32(3));
        VC_IF(r.k, vc_lt(r.u, vc_u32(5))) {
            element = vc_image_at(many, inside ? vc_add(before, r.u) : before);
            vc_store(r.out, r.u, vc_fetch(element, r.texel, vc_u32(0)));
        }
        vc_store(r.out, r.u, vc_fetch(element, r.texel, vc_u32(0)));
        if (inside)
            images_fails(r, "vc_fetch in kernel 'paint': the index of an element of image 'many' was computed in a block "
                            "that is already closed; pass it out of the block in a variable (vc_var)");
        else {
            assert_non_null(vc_spirv(r.k, NULL));
            vc_free(r.k);
        }
    }
}

/* Bindings, and consecutive handles in CUDA C. Only indices that are not constant need a feature. */
static void arrays_are_reflected(void **state) {
    (void)state;
    for (int any = 0; any < 2; any++) {
        vc_kernel_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.name = "pick";
        vc_kernel *k = vc_begin(&desc);
        vc_image_ref from = image_array(k, "from", 6, false), to = image_array(k, "to", 3, true);
        vc_val i = vc_local_index(k), at = vc_vec2(i, i);
        vc_val texel = vc_fetch(vc_image_at(from, any ? vc_mod(i, vc_u32(6)) : vc_u32(5)), at, vc_u32(0));
        vc_image_store(vc_image_at(to, vc_u32(2)), at, texel);
        for (int cuda = 0; cuda < 2; cuda++) {
            const vc_info *info = cuda ? vc_reflect_for(k, VC_TARGET_CUDA) : vc_reflect(k);
            assert_non_null(info);
            assert_true(info->args[0].count == 6 && info->args[1].count == 3);
            assert_int_equal(info->args[0].size, cuda ? 48 : 0);
            assert_int_equal(info->args[1].size, cuda ? 24 : 0);
            assert_int_equal(info->args[1].location, cuda ? 48 : 1);
            if (!cuda) assert_int_equal((info->features & VC_FEATURE_BINDLESS) != 0, any);
        }
        assert_non_null(vc_spirv(k, NULL));
        const char *glsl = vc_source(k, VC_TARGET_GLSL);
        assert_true(strstr(glsl, "sampler2D from[6];") && strstr(glsl, "imageStore(to[2], "));
        assert_int_equal(strstr(glsl, "#extension GL_EXT_nonuniform_qualifier : require") != NULL, any);
        assert_non_null(strstr(glsl, any ? "texelFetch(from[nonuniformEXT(" : "texelFetch(from[5], "));
        const char *cuda = vc_source(k, VC_TARGET_CUDA);
        assert_true(strstr(cuda, "unsigned long long from[6];") && strstr(cuda, "args.to[2]"));
        assert_null(vc_source(k, VC_TARGET_OPENCL));
        assert_non_null(strstr(vc_error(k), "image 'from' (2-D): arrays of images are not supported in OpenCL C"));
        vc_free(k);
    }
    images_rig r = images_begin();
    vc_store(r.out, r.u, vc_cast(VC_F32X4, vc_component(vc_image_size(vc_image_at(image_array(r.k, "many", 3, false),
                                                                                    vc_u32(1)), vc_u32(0)), 0)));
    assert_non_null(vc_spirv(r.k, NULL));
    assert_null(vc_source(r.k, VC_TARGET_CUDA));
    assert_non_null(strstr(vc_error(r.k), "image 'many' is an array, whose elements have no size"));
    vc_free(r.k);
}

/* Sizes are those of the first level; layers do not depend on the level. */
static void sizes_are_implicit_in_cuda(void **state) {
    (void)state;
    images_rig r = images_begin();
    vc_val level = vc_select(vc_lt(r.u, vc_u32(1)), vc_const(r.k, vc_u32(2)), r.u);
    vc_val size = vc_image_size(r.layers, level), levels = vc_image_levels(r.layers);
    vc_val sum = vc_add(vc_add(vc_component(size, 0), vc_component(size, 2)), levels);
    vc_store(r.out, r.u, vc_splat(vc_cast(VC_F32, vc_add(sum, vc_component(vc_image_size(r.read, vc_u32(0)), 1))), 4));
    const char *text = vc_source(r.k, VC_TARGET_CUDA);
    const vc_info *info = vc_reflect_for(r.k, VC_TARGET_CUDA);
    static const struct { uint32_t arg, axis; } wanted[] = { { 3, 0 }, { 3, 2 }, { 3, 3 }, { 6, 1 } };
    if (!text) fail_msg("%s", vc_error(r.k));
    assert_null(strstr(text, "txq"));
    assert_non_null(strstr(text, "args.layers_shape_0 >> "));
    assert_null(strstr(text, "args.layers_shape_2 >> "));
    assert_null(strstr(text, "args.read_shape_1 >> "));
    assert_int_equal(info->implicit_count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_int_equal(info->implicit[i].kind, VC_IMPLICIT_SHAPE);
        assert_int_equal(info->implicit[i].arg, wanted[i].arg);
        assert_int_equal(info->implicit[i].axis, wanted[i].axis);
    }
    assert_int_equal(vc_reflect(r.k)->implicit_count, 0); /* SPIR-V has queries */
    vc_free(r.k);
}

static const struct CMUnitTest builder_images_tests[] = {
    cmocka_unit_test(declarations), cmocka_unit_test(coordinates_are_of_the_right_size),
    cmocka_unit_test(other_operands), cmocka_unit_test(levels_of_detail_are_converted),
    cmocka_unit_test(images_have_a_type), cmocka_unit_test(images_of_other_kernels),
    cmocka_unit_test(features), cmocka_unit_test(images_reflection), cmocka_unit_test(reflection_of_c),
    cmocka_unit_test(sizes_are_implicit_in_cuda), cmocka_unit_test(arrays_need_an_index),
    cmocka_unit_test(indices_of_closed_blocks), cmocka_unit_test(arrays_are_reflected),
    cmocka_unit_test(images_merging), cmocka_unit_test(images_barriers),
    cmocka_unit_test(the_runtime_accepts_kernels_with_texel_buffers),
};
#undef FAILS
