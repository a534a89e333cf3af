/* Each feature disabled in turn: what needs it is refused with an error that names it, or works in another way with the
   same result; everything else works. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"

enum { N = 64 };

/* ---- kernels that need a feature: y[i] is i and becomes give(i) ---- */

typedef struct need {
    uint64_t feature;
    void (*body)(vc_kernel *k, vc_val i, vc_ref y);
    uint32_t (*give)(uint32_t i);
    vc_type narrow;         /* element type of a second buffer z, or none */
    vc_buffers buffers;
} need;

static uint32_t give_half(uint32_t i) { return i / 2; }
static uint32_t give_same(uint32_t i) { return i; }
static uint32_t give_seven(uint32_t i) { (void)i; return 7; }
static uint32_t give_8(uint32_t i) { return i * 3 & 0xff; }
static uint32_t give_16(uint32_t i) { return i * 2000 & 0xffff; }

static void halved(vc_kernel *k, vc_val i, vc_ref y, vc_type type) {
    (void)k;
    vc_val x = vc_cast(type, vc_load(y, i));
    vc_store(y, i, vc_cast(VC_U32, vc_mul(x, vc_cast(type, vc_f32(0.5f)))));
}
static void use_f16(vc_kernel *k, vc_val i, vc_ref y) { halved(k, i, y, VC_F16); }
static void use_f64(vc_kernel *k, vc_val i, vc_ref y) { halved(k, i, y, VC_F64); }

static void multiplied(vc_val i, vc_ref y, vc_type type, uint32_t by) {
    vc_store(y, i, vc_cast(VC_U32, vc_mul(vc_cast(type, vc_load(y, i)), vc_cast(type, vc_u32(by)))));
}
static void use_i8(vc_kernel *k, vc_val i, vc_ref y) { (void)k; multiplied(i, y, VC_U8, 3); }
static void use_i16(vc_kernel *k, vc_val i, vc_ref y) { (void)k; multiplied(i, y, VC_U16, 2000); }

static void use_i64(vc_kernel *k, vc_val i, vc_ref y) {
    (void)k;
    vc_val x = vc_mul(vc_cast(VC_U64, vc_load(y, i)), vc_u64(0x100000001u));
    vc_store(y, i, vc_cast(VC_U32, vc_shr(x, vc_u64(32))));
}

/* Through a narrow element of a buffer and back. */
static void use_storage(vc_kernel *k, vc_val i, vc_ref y, vc_type type) {
    vc_ref z = vc_buffer(k, "z", type, VC_READ_WRITE);
    vc_store(z, i, vc_cast(type, vc_load(y, i)));
    vc_store(y, i, vc_cast(VC_U32, vc_load(z, i)));
}
static void use_storage_8(vc_kernel *k, vc_val i, vc_ref y) { use_storage(k, i, y, VC_U8); }
static void use_storage_16(vc_kernel *k, vc_val i, vc_ref y) { use_storage(k, i, y, VC_U16); }

static void use_address(vc_kernel *k, vc_val i, vc_ref y) { (void)k; vc_store(y, i, vc_load(y, i)); }

static void seven(vc_val i, vc_ref y, vc_val is_so) { vc_store(y, i, vc_select(is_so, vc_u32(7), vc_load(y, i))); }

/* Whether adding up ones over a subgroup gives its size. */
static void use_sum(vc_kernel *k, vc_val i, vc_ref y, vc_val one) {
    vc_val sum = vc_cast(VC_U32, vc_subgroup_reduce(VC_ADD, vc_const(k, one)));
    seven(i, y, vc_eq(sum, vc_subgroup_reduce(VC_MAX, vc_add(vc_subgroup_local_id(k), vc_u32(1)))));
}
static void use_subgroup(vc_kernel *k, vc_val i, vc_ref y) { use_sum(k, i, y, vc_u32(1)); }
static void use_subgroup_types(vc_kernel *k, vc_val i, vc_ref y) { use_sum(k, i, y, vc_u16(1)); }
static void use_clustered(vc_kernel *k, vc_val i, vc_ref y) {
    vc_store(y, i, vc_subgroup_clustered(VC_MAX, vc_const(k, vc_u32(7)), 2));
}

static void use_reconvergence(vc_kernel *k, vc_val i, vc_ref y) {
    VC_IF(k, vc_lt(i, vc_u32(3))) { vc_store(y, i, vc_subgroup_reduce(VC_MAX, vc_const(k, vc_u32(7)))); }
    VC_ELSE(k) { vc_store(y, i, vc_subgroup_reduce(VC_MIN, vc_const(k, vc_u32(7)))); }
}

static void use_atomic(vc_kernel *k, vc_val i, vc_ref y, vc_type type) {
    vc_ref z = vc_buffer(k, "z", type, VC_READ_WRITE);
    vc_atomic_add(z, i, vc_cast(type, vc_load(y, i)), NULL);
}
static void use_atomic_i64(vc_kernel *k, vc_val i, vc_ref y) { use_atomic(k, i, y, VC_U64); }
static void use_atomic_f32(vc_kernel *k, vc_val i, vc_ref y) { use_atomic(k, i, y, VC_F32); }

/* The sum of its bytes. */
static void use_dot(vc_kernel *k, vc_val i, vc_ref y) {
    vc_store(y, i, vc_dot_4xu8(vc_load(y, i), vc_const(k, vc_u32(0x01010101))));
}

static void use_f64_round(vc_kernel *k, vc_val i, vc_ref y) {
    (void)k; /* at 2^32, where adding 1 in f32 changes nothing */
    vc_val x = vc_add(vc_cast(VC_F64, vc_load(y, i)), vc_f64(0.25)), big = vc_f64(4294967296.0);
    vc_store(y, i, vc_cast(VC_U32, vc_sub(vc_round(vc_add(x, big)), big)));
}
/* Whether the neighbour's f64 arrives; a subgroup may be one invocation. */
static void use_shuffle_64(vc_kernel *k, vc_val i, vc_ref y) {
    vc_val own = vc_cast(VC_U32, vc_load(y, i)),
           other = vc_cast(VC_U32, vc_subgroup_shuffle_xor(vc_cast(VC_F64, own), vc_u32(1)));
    seven(i, y, vc_or(vc_eq(other, vc_xor(own, vc_u32(1))), vc_lt(vc_subgroup_size(k), vc_u32(2))));
}
static void use_unpack(vc_kernel *k, vc_val i, vc_ref y) {
    (void)k;
    vc_store(
        y, i,
        vc_cast(VC_U32, vc_component(vc_unpack_half2(vc_or(vc_mul(vc_load(y, i), vc_u32(0)), vc_u32(0x3c003c00))), 1)));
}
static uint32_t give_one(uint32_t i) { (void)i; return 1; }

static const need needs[] = {
    { VD_FEATURE_F16, use_f16, give_half, VC_NONE, VC_BUFFERS_DEFAULT },
    { VD_FEATURE_F64, use_f64, give_half, VC_NONE, VC_BUFFERS_DEFAULT },
    { VD_FEATURE_I8, use_i8, give_8, VC_NONE, VC_BUFFERS_DEFAULT },
    { VD_FEATURE_I16, use_i16, give_16, VC_NONE, VC_BUFFERS_DEFAULT },
    { VD_FEATURE_I64, use_i64, give_same, VC_NONE, VC_BUFFERS_DEFAULT },
    { VD_FEATURE_STORAGE_8, use_storage_8, give_same, VC_U8, VC_BUFFERS_DEFAULT },
    { VD_FEATURE_STORAGE_16, use_storage_16, give_same, VC_U16, VC_BUFFERS_DEFAULT },
    { VD_FEATURE_ADDRESS, use_address, give_same, VC_NONE, VC_BUFFERS_ADDRESS },
    { VD_FEATURE_SUBGROUP, use_subgroup, give_seven, VC_NONE, VC_BUFFERS_DEFAULT },
    { VD_FEATURE_ATOMIC_I64, use_atomic_i64, give_same, VC_U64, VC_BUFFERS_DEFAULT },
    { VD_FEATURE_ATOMIC_F32_ADD, use_atomic_f32, give_same, VC_F32, VC_BUFFERS_DEFAULT },
    { VD_FEATURE_SUBGROUP_TYPES, use_subgroup_types, give_seven, VC_NONE, VC_BUFFERS_DEFAULT },
    { VD_FEATURE_SUBGROUP_CLUSTERED, use_clustered, give_seven, VC_NONE, VC_BUFFERS_DEFAULT },
    { VD_FEATURE_RECONVERGENCE, use_reconvergence, give_seven, VC_NONE, VC_BUFFERS_DEFAULT },
    { VD_FEATURE_F64_ROUND, use_f64_round, give_same, VC_NONE, VC_BUFFERS_DEFAULT },
    { VD_FEATURE_SHUFFLE_64, use_shuffle_64, give_seven, VC_NONE, VC_BUFFERS_DEFAULT },
    { VD_FEATURE_UNPACK_HALF, use_unpack, give_one, VC_NONE, VC_BUFFERS_DEFAULT },
    { VD_FEATURE_DOT_4X8, use_dot, give_same, VC_NONE, VC_BUFFERS_DEFAULT }
};

/* Features that only appear in vd_device_info, and those of images, which dispatches do not accept yet. */
static const uint64_t others[] = { VD_FEATURE_FMA | VD_FEATURE_TIMESTAMP | VD_FEATURE_IMAGE,
                                   VD_FEATURE_IMAGE_FORMATS | VD_FEATURE_IMAGE_READ | VD_FEATURE_IMAGE_WRITE,
                                   VD_FEATURE_MAPPED,
                                   VD_FEATURE_CACHED,
                                   VD_FEATURE_COHERENT,
                                   VD_FEATURE_QUEUES,
                                   VD_FEATURE_SHARING,
                                   VD_FEATURE_BUFFER_ARRAYS | VD_FEATURE_BINDLESS };

static vc_kernel *need_begin(const need *n, const vc_machine *machine) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = vd_feature_name(n->feature);
    desc.local_size[0] = N;
    desc.buffers = n->buffers;
    if (machine) desc.machine = *machine;
    vc_kernel *k = vc_begin(&desc);
    assert_non_null(k);
    vc_ref y = vc_buffer(k, "y", VC_U32, VC_READ_WRITE);
    n->body(k, vc_global_id(k, 0), y);
    return k;
}

/* Runs a kernel that could be built: the result must be the same. */
static void need_run(fixture *f, vd_context *ctx, const need *n, vd_kernel kernel) {
    uint32_t x[N];
    uint64_t zeros[N] = { 0 };
    for (uint32_t i = 0; i < N; i++) x[i] = i;
    vd_buffer y = buffer_u32(ctx, "y", N, x), z = buffer_named(ctx, "z", n->narrow ? n->narrow : VD_U32, N, zeros);
    vd_arg args[2];
    args[0] = vd_b(y);
    args[1] = vd_b(z);
    OK(dispatch(vd_immediate(ctx, 0, 0), kernel, N, args, n->narrow ? 2 : 1));
    OK(vd_buffer_read(ctx, y, 0, x, VD_WHOLE));
    for (uint32_t i = 0; i < N && f->executes; i++)
        if (x[i] != n->give(i))
            fail_msg("%s: element %u is %u, not %u", vd_feature_name(n->feature), i, x[i], n->give(i));
    vd_buffer_destroy(ctx, y);
    vd_buffer_destroy(ctx, z);
}

/* With the context's machine in the builder: an error that names the feature (not if it is a `must`), or another way to
   the same result. */
static bool need_by_builder(fixture *f, vd_context *ctx, const need *n, bool must) {
    vc_machine machine = vd_machine(ctx);
    vc_kernel *k = need_begin(n, &machine);
    vd_kernel kernel = vd_kernel_build(ctx, k);
    char text[1024], name[64] = "VC_FEATURE_";
    snprintf(text, sizeof text, "%s", vd_error_text());
    vc_free(k);
    if (kernel.id) {
        need_run(f, ctx, n, kernel);
        vd_kernel_destroy(ctx, kernel);
        return true;
    }
    if (must) fail_msg("%s: %s", vd_feature_name(n->feature), text);
    for (const char *at = vd_feature_name(n->feature); *at; at++)
        name[strlen(name)] = (char)(*at >= 'a' && *at <= 'z' ? *at - 32 : *at);
    if (!strstr(text, name) && !strstr(text, vd_feature_name(n->feature))) fail_msg("without %s: '%s'", name, text);
    return false;
}

/* A module built for a machine with all features, without reflection: its capabilities are read. */
static void need_by_module(vd_context *ctx, const need *n) {
    /* has no capability */
    const uint64_t unseen = VD_FEATURE_SUBGROUP_TYPES | VD_FEATURE_F64_ROUND | VD_FEATURE_SHUFFLE_64
                            | VD_FEATURE_UNPACK_HALF;
    vc_kernel *k = need_begin(n, NULL);
    vd_kernel_desc desc;
    size_t words = 0;
    memset(&desc, 0, sizeof desc);
    desc.name = "foreign";
    desc.code = vc_spirv(k, &words);
    desc.code_size = 4 * words;
    if (!desc.code) fail_msg("%s", vc_error(k));
    uint64_t lacks = vc_reflect(k)->features & ~vd_device(ctx, 0)->features;
    vd_kernel kernel = vd_kernel_create(ctx, &desc);
    if (kernel.id && lacks & n->feature && !(n->feature & unseen))
        fail_msg("a module that needs %s was taken", vd_feature_name(n->feature));
    if (!kernel.id && !lacks) fail_msg("%s", vd_error_text());
    if (!kernel.id && lacks == n->feature) check_text("vd_kernel_create", vd_feature_name(n->feature));
    vd_kernel_destroy(ctx, kernel);
    vc_free(k);
}

/* The features in the reflection are checked on every backend. CUDA always has addresses. */
static void need_by_desc(vd_context *ctx, uint64_t feature) {
    vc_kernel *k = vc_begin(NULL);
    vd_kernel_desc desc;
    size_t words = 0;
    vd_backend backend = vd_device(ctx, 0)->backend;
    memset(&desc, 0, sizeof desc);
    desc.name = "described";
    desc.features = feature;
    desc.local_size[0] = 1;
    desc.code = "nothing";
    if (backend == VD_BACKEND_OPENCL || backend == VD_BACKEND_CUDA)
        desc.code_kind = backend == VD_BACKEND_OPENCL ? VD_CODE_OPENCL : VD_CODE_CUDA;
    else {
        desc.local_size[0] = 0;
        desc.code = vc_spirv(k, &words);
        desc.code_size = 4 * words;
    }
    vd_kernel kernel = { 0 };
    if (backend != VD_BACKEND_CUDA || feature != VD_FEATURE_ADDRESS) kernel = vd_kernel_create(ctx, &desc);
    else vd_error_set(VD_OK, "described: address");
    assert_int_equal(kernel.id, 0);
    check_text("vd_kernel_create", "described");
    check_text("vd_kernel_create", vd_feature_name(feature));
    vc_free(k);
}

/* ---- features of the runtime ---- */

static vd_buffer buffer_in(vd_context *ctx, vd_memory memory, const void *data) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "in";
    desc.type = VD_U32;
    desc.shape[0] = N;
    desc.memory = memory;
    desc.data = data;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    if (!b.id) fail_msg("%s", vd_error_text());
    return b;
}

/* Memory of every kind, written and read in every way. */
static void check_memory(fixture *f, vd_context *ctx, uint64_t off) {
    vd_kernel k = { 0 };
    bool runs = f->executes && off >= VD_FEATURE_MAPPED; /* irrelevant for features of kernels */
    if (runs) k = kernel_affine(ctx);
    for (int kind = VD_MEMORY_DEVICE; kind <= VD_MEMORY_SHARED; kind++) {
        uint32_t x[N], back[N];
        void *at = NULL;
        vd_buffer_info info;
        for (uint32_t i = 0; i < N; i++) x[i] = i + 1;
        vd_buffer b = buffer_in(ctx, (vd_memory)kind, x);
        OK(vd_buffer_query(ctx, b, &info));
        if (off & VD_FEATURE_COHERENT) assert_false(info.persistent);
        if (kind == VD_MEMORY_DEVICE && off & VD_FEATURE_MAPPED) {
            assert_false(info.mapped);
            FAILS(vd_buffer_map(ctx, b, 0, VD_READ, &at), VD_ERROR_UNSUPPORTED, "vd_buffer_map|'in'|feature: mapped");
        }
        if (info.mapped) {
            OK(vd_buffer_map(ctx, b, 0, VD_READ_WRITE, &at));
            ((uint32_t *)at)[3] += 100;
            OK(vd_buffer_unmap(ctx, b, 0));
            x[3] += 100;
        }
        OK(vd_buffer_write(ctx, b, 8, x + 5, 4));
        OK(vd_fill(vd_immediate(ctx, 0, 0), b, 16, 8, NULL, 0));
        x[2] = x[5];
        x[4] = x[5] = 0;
        if (runs) {
            OK(affine(vd_immediate(ctx, 0, 0), k, b, N, 3, 1));
            for (int i = 0; i < N; i++) x[i] = x[i] * 3 + 1;
        }
        if (info.mapped) {
            OK(vd_buffer_map(ctx, b, 0, VD_READ, &at));
            assert_memory_equal(at, x, sizeof x);
            OK(vd_buffer_unmap(ctx, b, 0));
        }
        OK(vd_buffer_read(ctx, b, 0, back, VD_WHOLE));
        assert_memory_equal(back, x, sizeof x);
        vd_buffer_destroy(ctx, b);
    }
    if (runs) vd_kernel_destroy(ctx, k);
}

/* Each queue reads what the previous one writes. */
static void check_queues(vd_context *ctx) {
    uint32_t value = 0;
    vd_buffer a = buffer_u32(ctx, "a", 1, NULL), b = buffer_u32(ctx, "b", 1, NULL);
    for (uint32_t i = 1; i <= 20; i++) {
        OK(vd_fill(vd_immediate(ctx, 0, (int)(i % 3)), a, 0, 4, &i, 4));
        OK(vd_copy(vd_immediate(ctx, 0, (int)((i + 1) % 3)), b, 0, a, 0, 4));
        if (i % 5) continue;
        OK(vd_buffer_read(ctx, b, 0, &value, 4));
        assert_int_equal(value, i);
    }
    vd_buffer_destroy(ctx, a);
    vd_buffer_destroy(ctx, b);
}

static void check_sharing(vd_context *ctx) {
    static uint32_t theirs[4096];
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "theirs";
    desc.type = VD_U32;
    desc.shape[0] = 16;
    for (int import = VD_IMPORT_ADDRESS; import <= VD_IMPORT_CL_MEM; import++) {
        desc.import = (vd_import)import;
        desc.address = ((uintptr_t)theirs + 4095) / 4096 * 4096;
        assert_int_equal(vd_buffer_create(ctx, &desc).id, 0);
        check_text("vd_buffer_create", "theirs|feature: sharing");
    }
    desc.address = 0;
    desc.import = VD_IMPORT_ADDRESS;
    desc.exportable = true;
    assert_int_equal(vd_buffer_create(ctx, &desc).id, 0);
    check_text("vd_buffer_create", "theirs|exportable|feature: sharing");
}

/* ---- each feature in turn ---- */

static void check_without(fixture *f, uint64_t off, size_t turn) {
    const uint64_t types = VD_FEATURE_F16 | VD_FEATURE_F64 | VD_FEATURE_I8 | VD_FEATURE_I16 | VD_FEATURE_I64
                           | VD_FEATURE_STORAGE_8 | VD_FEATURE_STORAGE_16;
    fixture without = *f;
    vd_context_desc desc = fixture_desc(f);
    uint64_t had = vd_device(f->ctx, 0)->features;
    desc.disable = off;
    desc.queues = 3;
    OK(vd_context_create(&desc, &without.ctx));
    const vd_device_info *info = vd_device(without.ctx, 0);
    assert_int_equal(info->features & off, 0);
    assert_int_equal(info->features & ~had, 0);
    assert_true(((info->features & VD_FEATURE_TIMESTAMP) != 0) == (info->timestamp_ns > 0));
    still_works(&without);
    check_memory(&without, without.ctx, off);
    check_queues(without.ctx);
    if (off & VD_FEATURE_SHARING) check_sharing(without.ctx);
    for (uint64_t bit = 1; bit < VD_FEATURE_MAPPED && off < VD_FEATURE_MAPPED; bit <<= 1)
        if (off & bit) need_by_desc(without.ctx, bit);
    bool spirv = f->backend == VD_BACKEND_VULKAN || f->backend == VD_BACKEND_DUMMY;
    for (size_t i = 0; i < COUNT(needs); i++) {
        const need *n = &needs[i];
        bool rests = (had & ~info->features & n->feature) != 0; /* depends on the disabled feature, or is it */
        if (spirv) need_by_module(without.ctx, n);
        if (f->backend == VD_BACKEND_CUDA && !f->executes) continue; /* the fake compiles nothing */
        /* its compilers are slow */
        if (!rests && !(off & n->feature) && f->backend == VD_BACKEND_OPENCL && (i + turn) % 7) continue;
        bool of_f64 = n->feature == VD_FEATURE_SHUFFLE_64 && off & VD_FEATURE_F64;
        bool built = need_by_builder(&without, without.ctx, n,
                                     !rests && (had & n->feature) && off != VD_FEATURE_I16 && !of_f64);
        if (built && (off & n->feature & types)) /* although C source could do without */
            fail_msg("%s was built", vd_feature_name(n->feature));
    }
    without.executes = false; /* worked before */
    still_works(&without);
    vd_context_destroy(without.ctx);
}

TEST(kernel_features_are_disabled) {
    for (size_t i = 0; i < COUNT(needs); i++) check_without(f, needs[i].feature, i);
}

TEST(other_features_are_disabled) {
    for (size_t i = 0; i < COUNT(others); i++) check_without(f, others[i], i);
}

TEST(every_feature_is_tested) {
    uint64_t here = 0;
    (void)f;
    for (size_t i = 0; i < COUNT(needs); i++) here |= needs[i].feature;
    for (size_t i = 0; i < COUNT(others); i++) here |= others[i];
    for (int bit = 0; bit < 64; bit++) {
        const char *name = vd_feature_name((uint64_t)1 << bit);
        if ((strcmp(name, "unknown") != 0) != (here >> bit & 1u))
            fail_msg("feature %d '%s' is not forced off here", bit, name);
    }
}

TEST(all_features_are_disabled) { check_without(f, UINT64_MAX, 0); }

TEST(the_environment_disables_features) {
    vd_context *ctx = NULL;
    const char *kept = getenv("VKDISPATCH_DISABLE");
    char before[512];
    snprintf(before, sizeof before, "%s", kept ? kept : "");
    vd_context_desc desc = fixture_desc(f);
    desc.disable = VD_FEATURE_I8;
    setenv("VKDISPATCH_DISABLE", "F64,mapped,,subgroup", 1);
    OK(vd_context_create(&desc, &ctx));
    assert_int_equal(
        vd_device(ctx, 0)->features
            & (VD_FEATURE_F64 | VD_FEATURE_MAPPED | VD_FEATURE_SUBGROUP | VD_FEATURE_SUBGROUP_TYPES | VD_FEATURE_I8),
        0);
    vd_context_destroy(ctx);
    setenv("VKDISPATCH_DISABLE", "f64,f65", 1);
    FAILS(vd_context_create(&desc, &ctx), VD_ERROR_INVALID, "vd_context_create|VKDISPATCH_DISABLE|'f65'");
    setenv("VKDISPATCH_DISABLE", "f6", 1);
    FAILS(vd_context_create(&desc, &ctx), VD_ERROR_INVALID, "'f6'");
    if (kept) setenv("VKDISPATCH_DISABLE", before, 1);
    else unsetenv("VKDISPATCH_DISABLE");
}

static const struct CMUnitTest cases[] = {
    CASE(kernel_features_are_disabled), CASE(other_features_are_disabled), CASE(every_feature_is_tested),
    CASE(all_features_are_disabled), CASE(the_environment_disables_features)
};

MAIN("features", cases)
