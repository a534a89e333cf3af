/* Every public function of the runtime and of the transforms in one table, for tests that make all calls: from several
   threads, and from callbacks. The objects they use may be destroyed by other threads at any time. A call either works
   or fails with a documented result. */
#ifndef EVERY_CALL_H
#define EVERY_CALL_H

#include "tests/conformance/common.h"
#include "vkdispatch_fft.h"

enum { BUFFERS = 16, VIEWS = 8, KERNELS = 4, IMAGES = 4, SAMPLERS = 2, ELEMENTS = 64 };

/* Handles that the threads exchange. */
typedef struct world {
    vd_context *ctx;
    vd_buffer buffers[BUFFERS], views[VIEWS];
    vd_kernel kernels[KERNELS];
    vd_image images[2 * IMAGES];    /* images, then views */
    vd_sampler samplers[SAMPLERS];
    vd_kernel sampling;             /* id 0 if the backend has no images */
} world;

/* A thread or a callback. */
typedef struct caller {
    world *w;
    uint64_t state;         /* of its random numbers */
    bool within;            /* a callback */
    vd_fft *fft;
    vd_convolve *convolve;
    vd_reduce *reduce;
    vd_scan *scan;
    vd_sort *sort;
    vd_histogram *histogram;
    vd_top_k *top_k;
    char problem[600];
} caller;

static uint32_t any(caller *c, uint32_t below) {
    c->state = c->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(c->state >> 33) % below;
}

static vd_buffer any_buffer(caller *c) {
    vd_buffer b;
    uint32_t i = any(c, BUFFERS + VIEWS);
    b.id = __atomic_load_n(i < BUFFERS ? &c->w->buffers[i].id : &c->w->views[i - BUFFERS].id, __ATOMIC_ACQUIRE);
    return b;
}

static vd_kernel any_kernel(caller *c) {
    vd_kernel k;
    k.id = __atomic_load_n(&c->w->kernels[any(c, KERNELS)].id, __ATOMIC_ACQUIRE);
    return k;
}

static vd_image any_image(caller *c) {
    vd_image image;
    image.id = __atomic_load_n(&c->w->images[any(c, 2 * IMAGES)].id, __ATOMIC_ACQUIRE);
    return image;
}

static vd_list *immediate(caller *c) { return vd_immediate(c->w->ctx, 0, 0); }

/* Keeps the first undocumented result. */
static void check_result(caller *c, const char *call, vd_result r) {
    if (r == VD_OK || r == VD_TIMEOUT || r == VD_ERROR_INVALID || r == VD_ERROR_UNSUPPORTED || c->problem[0]) return;
    snprintf(c->problem, sizeof c->problem, "%s gave %s: %.400s", call, vd_result_name(r), vd_error_text());
}
#define TOOK(call) check_result(c, #call, call)

static void expect(caller *c, const char *what, bool holds) {
    if (!holds && !c->problem[0])
        snprintf(c->problem, sizeof c->problem, "%s does not hold; %.400s", what, vd_error_text());
}
#define EXPECT(condition) expect(c, #condition, condition)

/* ---- objects ---- */

static vd_buffer buffer_of(caller *c, uint32_t kind) {
    static const vd_type types[] = { VD_F32C, VD_F32, VD_U32, VD_BYTES };
    vd_buffer_desc desc;
    char name[100];
    memset(&desc, 0, sizeof desc);
    snprintf(name, sizeof name, "buffer %u of some thread, under a name that is long enough to lie in memory of its own", kind);
    desc.name = name;
    desc.type = types[kind % 4];
    desc.shape[0] = kind % 4 == 3 ? 4 * ELEMENTS : kind % 4 == 0 ? ELEMENTS / 2 : ELEMENTS;
    desc.memory = (vd_memory)(kind / 4 % 4);
    return vd_buffer_create(c->w->ctx, &desc);
}

static void exchange_buffer(caller *c) {
    uint32_t i = any(c, BUFFERS);
    vd_buffer old, made = buffer_of(c, i);
    EXPECT(made.id || c->within);
    old.id = __atomic_exchange_n(&c->w->buffers[i].id, made.id, __ATOMIC_ACQ_REL);
    vd_buffer_destroy(c->w->ctx, old);
}

static void exchange_view(caller *c) {
    vd_view_desc desc;
    vd_buffer old, made;
    uint32_t i = any(c, VIEWS);
    memset(&desc, 0, sizeof desc);
    desc.buffer = any_buffer(c);
    desc.type = VD_F32;
    made = vd_buffer_view(c->w->ctx, &desc);
    old.id = __atomic_exchange_n(&c->w->views[i].id, made.id, __ATOMIC_ACQ_REL);
    vd_buffer_destroy(c->w->ctx, old);
}

/* x[i] = x[i] * mul + add. May be used on any thread; common.h's function ends the test on failure. */
static vd_kernel kernel_of(caller *c) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "a kernel that comes and goes";
    desc.machine = vd_machine(c->w->ctx);
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
    vc_val mul = vc_param(k, "mul", VC_U32), add = vc_param(k, "add", VC_U32);
    VC_EACH(k, i) { vc_store(x, i, vc_add(vc_mul(vc_load(x, i), mul), add)); }
    vd_kernel made = vd_kernel_build(c->w->ctx, k);
    vc_free(k);
    return made;
}

static void exchange_kernel(caller *c) {
    vd_kernel old, made = kernel_of(c);
    EXPECT(made.id || c->within);
    old.id = __atomic_exchange_n(&c->w->kernels[any(c, KERNELS)].id, made.id, __ATOMIC_ACQ_REL);
    vd_kernel_destroy(c->w->ctx, old);
}

/* An image of two levels, or a view of the second level of any image. */
static vd_image image_of(caller *c, bool view) {
    vd_image_desc desc;
    vd_image_view_desc view_desc;
    memset(&desc, 0, sizeof desc);
    memset(&view_desc, 0, sizeof view_desc);
    desc.name = "an image of some thread, under a name that is long enough to lie in memory of its own";
    desc.format = vd_format_nearest(c->w->ctx, 0, VD_FORMAT_RGBA8_UNORM, VD_IMAGE_SAMPLED);
    desc.extent[0] = desc.extent[1] = 8;
    desc.levels = 2;
    view_desc.image = any_image(c);
    view_desc.level = 1;
    vd_texel_buffer_desc texels;
    memset(&texels, 0, sizeof texels);
    texels.buffer = any_buffer(c);
    texels.format = VD_FORMAT_R32_U;
    vd_image_destroy(c->w->ctx, vd_texel_buffer(c->w->ctx, &texels)); /* fails without texel buffers */
    vd_image made = view ? vd_image_view(c->w->ctx, &view_desc) : vd_image_create(c->w->ctx, &desc);
    if (!made.id) check_result(c, view ? "vd_image_view" : "vd_image_create", vd_error_result());
    return made;
}

static void exchange_image(caller *c) {
    uint32_t i = any(c, 2 * IMAGES);
    vd_image old, made = image_of(c, i >= IMAGES);
    old.id = __atomic_exchange_n(&c->w->images[i].id, made.id, __ATOMIC_ACQ_REL);
    vd_image_destroy(c->w->ctx, old);
}

static void exchange_sampler(caller *c) {
    vd_sampler old, made = vd_sampler_create(c->w->ctx, NULL);
    if (!made.id) check_result(c, "vd_sampler_create", vd_error_result());
    old.id = __atomic_exchange_n(&c->w->samplers[any(c, SAMPLERS)].id, made.id, __ATOMIC_ACQ_REL);
    vd_sampler_destroy(c->w->ctx, old);
}

/* x[i] = the first component of a texel */
static vd_kernel sampling_kernel(vd_context *ctx) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "sampling";
    desc.machine = vd_machine(ctx);
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_WRITE);
    vc_image_ref image = vc_image(k, "image", NULL);
    vc_val middle = vc_const(k, vc_f32(0.5f));
    VC_EACH(k, i) { vc_store(x, i, vc_cast(VC_U32, vc_component(vc_sample(image, vc_vec2(middle, middle)), 0))); }
    vd_kernel made = vd_kernel_build(ctx, k);
    vc_free(k);
    return made;
}

static void call_kernel_load(caller *c) {
    vd_kernel_destroy(c->w->ctx, vd_kernel_load(c->w->ctx, "VDKB", 4, NULL));
}

/* ---- buffers ---- */

static void call_buffer_query(caller *c) {
    vd_buffer_info info;
    vd_result r = vd_buffer_query(c->w->ctx, any_buffer(c), &info);
    check_result(c, "vd_buffer_query", r);
    if (!r) EXPECT(strncmp(info.name, "buffer ", 7) == 0);
}

static void call_buffer_read(caller *c) {
    uint32_t words[ELEMENTS];
    TOOK(vd_buffer_read(c->w->ctx, any_buffer(c), 4 * any(c, 8), words, 16));
}

static void call_buffer_write(caller *c) {
    uint32_t words[ELEMENTS] = { 0 };
    TOOK(vd_buffer_write(c->w->ctx, any_buffer(c), 4 * any(c, 8), words, 16));
}

static vd_region_desc any_region(caller *c) {
    vd_region_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.buffer = any_buffer(c);
    desc.row_bytes = 8;
    desc.rows = 3;
    desc.pitch = 16;
    return desc;
}

static void call_regions(caller *c) {
    uint32_t words[ELEMENTS] = { 0 };
    vd_region_desc desc = any_region(c);
    TOOK(vd_buffer_read_region(c->w->ctx, &desc, words));
    TOOK(vd_buffer_write_region(c->w->ctx, &desc, words));
    vd_list *l = immediate(c);
    TOOK(vd_write_region(l, &desc, words));
}

static void call_buffer_send(caller *c) {
    TOOK(vd_buffer_send(c->w->ctx, any_buffer(c), 0, 0, any_buffer(c), 0, 0, 32));
}

static void call_map(caller *c) {
    void *at;
    vd_buffer b = any_buffer(c);
    vd_result r = vd_buffer_map(c->w->ctx, b, 0, VD_READ_WRITE, &at);
    check_result(c, "vd_buffer_map", r);
    if (!r) TOOK(vd_buffer_unmap(c->w->ctx, b, 0));
}

static void call_pages(caller *c) {
    TOOK(vd_buffer_bind(c->w->ctx, any_buffer(c), 0, VD_WHOLE));
    TOOK(vd_buffer_unbind(c->w->ctx, any_buffer(c), 0, VD_WHOLE));
    vd_image_box box;
    memset(&box, 0, sizeof box);
    box.image = any_image(c);
    TOOK(vd_image_bind(c->w->ctx, &box, 0));
    TOOK(vd_image_unbind(c->w->ctx, &box));
}

static void call_export(caller *c) {
    vd_external out;
    if (vd_buffer_export(c->w->ctx, any_buffer(c), &out) == VD_OK) close((int)out.handle);
}

/* The first members of DLManagedTensor and of the versioned struct. */
typedef struct tensor {
    void *data;
    int32_t device[2], ndim;
    uint8_t type[4];
    int64_t *shape, *strides;
    uint64_t offset;
} tensor;
typedef struct managed { tensor t; void *manager; void (*deleter)(struct DLManagedTensor *self); } managed;
typedef struct versioned {
    uint32_t version[2];
    void *manager;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    tensor t;
} versioned;

static void call_dlpack(caller *c) {
    struct DLManagedTensor *t = NULL;
    struct DLManagedTensorVersioned *v = NULL;
    vd_buffer b = { 0 };
    if (vd_dlpack_export(c->w->ctx, any_buffer(c), 0, &t) == VD_OK) b = vd_dlpack_import(c->w->ctx, t, "in again");
    if (t && !b.id) ((managed *)(void *)t)->deleter(t);
    vd_buffer_destroy(c->w->ctx, b);
    b.id = 0;
    if (vd_dlpack_export_versioned(c->w->ctx, any_buffer(c), 0, &v) == VD_OK)
        b = vd_dlpack_import_versioned(c->w->ctx, v, NULL);
    if (v && !b.id) ((versioned *)(void *)v)->deleter(v);
    vd_buffer_destroy(c->w->ctx, b);
}

/* ---- kernels, commands, lists ---- */

static void call_kernel_query(caller *c) {
    vd_kernel_info info;
    vd_kernel_arg_info arg;
    TOOK(vd_kernel_query(c->w->ctx, any_kernel(c), &info));
    TOOK(vd_kernel_arg_query(c->w->ctx, any_kernel(c), 0, &arg));
}

static void call_dispatch(caller *c) {
    vd_arg args[] = { vd_b(any_buffer(c)), vd_u32(3), vd_u32(1) };
    vd_dispatch_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.kernel = any_kernel(c);
    desc.threads[0] = 16;
    desc.args = args;
    desc.arg_count = 3;
    TOOK(vd_dispatch(immediate(c), &desc));
    desc.threads[0] = 0;
    desc.indirect = buffer_of(c, 1); /* zeros */
    TOOK(vd_dispatch(immediate(c), &desc));
    vd_buffer_destroy(c->w->ctx, desc.indirect);
    TOOK(vd_run_args(c->w->ctx, desc.kernel, 16, 1, 1, args, 3));
}

static void call_transfers(caller *c) {
    uint32_t words[3] = { 1, 2, 3 };
    vd_copy_desc copy;
    memset(&copy, 0, sizeof copy);
    copy.from = any_buffer(c);
    copy.to = any_buffer(c);
    copy.row_bytes = 4;
    copy.rows = 2;
    copy.from_pitch = 8;
    copy.to_pitch = 12;
    TOOK(vd_copy(immediate(c), any_buffer(c), 0, any_buffer(c), 64, 64));
    TOOK(vd_copy_region(immediate(c), &copy));
    TOOK(vd_fill(immediate(c), any_buffer(c), 0, 48, words, 12));
    TOOK(vd_fill(immediate(c), any_buffer(c), 1, 6, NULL, 0));
    TOOK(vd_fill(immediate(c), any_buffer(c), 0, 50, words, 12));
    TOOK(vd_write(immediate(c), any_buffer(c), 0, words, 12));
}

static vd_result nothing_to_record(void *user, void *commands) { (void)user, (void)commands; return VD_OK; }
static vd_result nothing_to_do(const vd_native *native, void *user) { (void)native, (void)user; return VD_OK; }

static void call_others(caller *c) {
    vd_record_use use;
    vd_record_desc desc;
    memset(&desc, 0, sizeof desc);
    use.buffer = any_buffer(c);
    use.access = VD_READ;
    desc.uses = &use;
    desc.use_count = 1;
    desc.record = nothing_to_record;
    TOOK(vd_record_native(immediate(c), &desc));
    TOOK(vd_native_use(c->w->ctx, 0, 0, nothing_to_do, NULL));
}

static void call_read_begin(caller *c) {
    vd_read_desc desc;
    vd_ticket t;
    const void *data;
    memset(&desc, 0, sizeof desc);
    desc.buffer = any_buffer(c);
    if (vd_read_begin(immediate(c), &desc, &t)) return;
    TOOK(vd_read_ready(c->w->ctx, t, any(c, 2) ? 0 : VD_FOREVER, &data));
    EXPECT(c->within || vd_list_get_status(c->w->ctx, t) == VD_LIST_STATUS_SUBMITTED);
    vd_read_end(c->w->ctx, t);
}

static void call_list(caller *c) {
    vd_list *l = vd_list_begin(c->w->ctx, NULL);
    vd_arg args[] = { vd_b(any_buffer(c)), vd_u32(3), vd_u32(1) };
    vd_dispatch_desc desc;
    vd_read_desc read;
    vd_ticket watch, t = { 0 };
    vd_event event;
    uint32_t word = 5;
    if (!l) return;
    EXPECT(vd_list_context(l) == c->w->ctx && !vd_list_device(l));
    memset(&desc, 0, sizeof desc);
    memset(&read, 0, sizeof read);
    read.buffer = any_buffer(c);
    desc.kernel = any_kernel(c);
    desc.threads[0] = 16;
    desc.args = args;
    desc.arg_count = 3;
    vd_list_watch(l, &watch);
    for (uint32_t i = any(c, 4); i; i--) vd_dispatch(l, &desc);
    vd_write(l, any_buffer(c), 0, &word, 4);
    vd_copy(l, any_buffer(c), 0, any_buffer(c), 0, 16);
    vd_read_begin(l, &read, &t);
    if (any(c, 2)) vd_list_end(l);
    if (!any(c, 4)) vd_list_discard(l);
    else if (vd_submit(l, NULL, &event) == VD_OK && any(c, 2)) TOOK(vd_wait(c->w->ctx, event, VD_FOREVER));
    vd_list_get_status(c->w->ctx, watch);
    vd_read_end(c->w->ctx, watch);
    vd_read_end(c->w->ctx, t);
}

/* Scopes of several threads nest in one list, so there may be too many, or none to end. */
static void call_profile(caller *c) {
    vd_scope_info scopes[4];
    char text[200];
    TOOK(vd_scope_begin(immediate(c), any(c, 2) ? "a scope" : "another scope"));
    call_dispatch(c);
    TOOK(vd_scope_end(immediate(c)));
    EXPECT(vd_profile_read(c->w->ctx, scopes, 4) <= 4);
    vd_profile_print(c->w->ctx, text, any(c, sizeof text));
    EXPECT(vd_profile_write(c->w->ctx, "/no/such/folder/trace.json") != VD_OK);
}

/* Every call of a graph. Handles of buffers and kernels may become invalid at any time. */
static void call_graph(caller *c) {
    vd_list *list = vd_graph_begin(c->w->ctx, NULL);
    vd_buffer_desc desc;
    vd_graph_info info;
    vd_graph_barrier_info barrier;
    vd_arg args[2];
    memset(&desc, 0, sizeof desc);
    desc.type = VD_U32;
    desc.shape[0] = ELEMENTS;
    if (!list) return;
    vd_buffer in = vd_slot_buffer(list, "in", any_buffer(c)), temporary = vd_graph_buffer(list, &desc);
    TOOK(vd_copy(list, temporary, 0, in, 0, 16));
    TOOK(vd_copy(list, any_buffer(c), 0, temporary, 0, 16));
    if (any(c, 4) == 0) { /* fails on a backend without images */
        vd_image picture = vd_slot_image(list, "picture", any_image(c));
        TOOK(vd_clear_image(list, picture, NULL));
    }
    args[0] = vd_b(any_buffer(c));
    args[1] = vd_slot("value", vd_u32(3));
    if (any(c, 2)) TOOK(dispatch(list, any_kernel(c), ELEMENTS, args, 2));
    vd_graph g = vd_graph_end(list);
    TOOK(vd_graph_submit(c->w->ctx, g, NULL, NULL));
    TOOK(vd_graph_set(c->w->ctx, g, any(c, 2) ? "in" : "value", any(c, 2) ? vd_b(any_buffer(c)) : vd_u32(1)));
    TOOK(vd_graph_submit(c->w->ctx, g, NULL, NULL));
    TOOK(vd_graph_query(c->w->ctx, g, &info));
    TOOK(vd_graph_barrier_query(c->w->ctx, g, 0, &barrier));
    vd_graph_destroy(c->w->ctx, g);
}

static void call_wait(caller *c) {
    TOOK(vd_flush(c->w->ctx));
    TOOK(vd_wait_idle(c->w->ctx));
}

/* ---- contexts, errors, libraries on top ---- */

static void call_context(caller *c) {
    vd_stats stats;
    int count = 0;
    TOOK(vd_context_stats(c->w->ctx, &stats));
    EXPECT(vd_device(c->w->ctx, 0) != NULL && vd_device_count(c->w->ctx) > 0);
    EXPECT(vd_context_allocator(c->w->ctx).allocate != NULL);
    vd_device(c->w->ctx, 99);
    EXPECT(vd_type_size(VD_F32) == 4 && vd_type_name(VD_F32) && vd_feature_name(1) && vd_backend_name(VD_BACKEND_VULKAN)
           && vd_time_ns());
    EXPECT(vd_backend_from_name("dummy") == VD_BACKEND_DUMMY && vd_error_text() && vd_result_name(vd_error_result()));
    vd_error_set(VD_ERROR_INVALID, "%d", count);
    vd_error_amend(VD_ERROR_INVALID, "a_call", "an object", "%d", count);
    double bins[4];
    vd_fft_freq(4, 1, bins);
    EXPECT(vd_fft_good_size(11) == 12);
}

static void call_context_create(caller *c) {
    vd_context *ctx = NULL;
    vd_context_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    EXPECT(vd_devices(VD_BACKEND_DUMMY, NULL, 0) == 1);
    TOOK(vd_context_create(&desc, &ctx));
    vd_context_destroy(ctx);
    if (c->within) vd_context_destroy(c->w->ctx); /* refused in a callback */
}

static vd_result use_nothing(vd_context *ctx, void **data, void *user) {
    (void)ctx, (void)data, (void)user;
    return VD_OK;
}

static void call_libraries(caller *c) {
    static const char key = 'k';
    char bytes[4] = { 0 };
    vd_callback_scope scope;
    vd_callback_scope_begin(c->w->ctx, "a library", &scope);
    vd_callback_scope_end(&scope);
    TOOK(vd_context_attach(c->w->ctx, &key, use_nothing, NULL, NULL));
    vd_cache_store(c->w->ctx, "test", "key", 3, bytes, 4);
    vd_cache_load(c->w->ctx, "test", "key", 3, bytes, 4);
}

/* ---- transforms ---- */

static void call_fft_simple(caller *c) {
    vd_context *ctx = c->w->ctx;
    TOOK(vd_fft_forward(ctx, any_buffer(c)));
    TOOK(vd_fft_inverse(ctx, any_buffer(c)));
    TOOK(vd_fft_2d(ctx, any_buffer(c), VD_FFT_FORWARD));
    TOOK(vd_fft_3d(ctx, any_buffer(c), VD_FFT_INVERSE));
    TOOK(vd_fft_real_forward(ctx, any_buffer(c), any_buffer(c)));
    TOOK(vd_fft_real_inverse(ctx, any_buffer(c), any_buffer(c)));
    TOOK(vd_fft_shift(ctx, any_buffer(c), any_buffer(c), 0, VD_FFT_FORWARD));
    vd_plan_cache_info cache;
    TOOK(vd_plan_cache_query(ctx, &cache));
    if (!any(c, 4)) TOOK(vd_plan_cache_clear(ctx));
}

static void call_fft(caller *c) {
    vd_fft_io io;
    int count;
    memset(&io, 0, sizeof io);
    io.in = any_buffer(c);
    TOOK(vd_fft_run(c->fft, immediate(c), &io));
    vd_fft_step step;
    memset(&step, 0, sizeof step);
    vd_fft_explain(c->fft);
    vd_fft_source(c->fft, &step, VC_TARGET_GLSL);
    vd_fft_memory(c->fft);
    vd_fft_arguments(c->fft, &count);
}

static void call_fft_group(caller *c) {
    vd_fft_group_desc desc;
    vd_fft_group_info info;
    vd_fft_value x[VD_FFT_GROUP_VALUES];
    vc_kernel_desc kernel;
    memset(&desc, 0, sizeof desc);
    memset(&kernel, 0, sizeof kernel);
    desc.n = 8;
    vd_fft_group *group = vd_fft_group_create(c->w->ctx, &desc);
    if (!group) return;
    TOOK(vd_fft_group_query(group, &info));
    kernel.local_size[0] = info.invocations;
    vc_kernel *k = vc_begin(&kernel);
    EXPECT(vc_invocations(k) == info.invocations);
    TOOK(vd_fft_group_begin(group, k));
    for (uint32_t i = 0; i < VD_FFT_GROUP_VALUES; i++) {
        x[i].re = vc_cast(VC_F32, vd_fft_group_slot(group, i).index);
        x[i].im = vc_cast(VC_F32, vd_fft_group_spectrum_slot(group, i).index);
    }
    TOOK(vd_fft_group_transform(group, VD_FFT_FORWARD, x));
    vc_free(k);
    vd_fft_group_destroy(group);
}

static void call_fft_rows(caller *c) {
    static const uint64_t shape[4] = { 2, 6 };
    float reals[12] = { 0 };
    vd_fft_padded_buffer rows;
    if (vd_fft_padded_buffer_create(c->w->ctx, shape, &rows)) return;
    TOOK(vd_fft_padded_buffer_write(c->w->ctx, &rows, reals));
    TOOK(vd_fft_padded_buffer_read(c->w->ctx, &rows, reals));
    vd_fft_padded_buffer_destroy(c->w->ctx, &rows);
}

static void call_convolve(caller *c) {
    uint64_t shape[3];
    TOOK(vd_convolve_set_filter(c->convolve, immediate(c), any_buffer(c)));
    TOOK(vd_convolve_run(c->convolve, immediate(c), any_buffer(c), any_buffer(c)));
    TOOK(vd_convolve_2d(c->w->ctx, any_buffer(c), any_buffer(c), any_buffer(c), VD_CONVOLVE_SAME));
    vd_convolve_shape(c->convolve, shape);
    vd_convolve_memory(c->convolve);
    vd_convolve_explain(c->convolve);
    vd_fft_step step;
    memset(&step, 0, sizeof step);
    vd_convolve_source(c->convolve, &step, VC_TARGET_OPENCL);
    vd_convolve_io io;
    int count;
    memset(&io, 0, sizeof io);
    io.in = any_buffer(c);
    io.out = any_buffer(c);
    TOOK(vd_convolve_run_io(c->convolve, immediate(c), &io));
    vd_convolve_arguments(c->convolve, &count);
}

static void call_reduce(caller *c) {
    vd_context *ctx = c->w->ctx;
    vd_reduce_io io;
    int count;
    memset(&io, 0, sizeof io);
    io.in = any_buffer(c);
    io.out = any_buffer(c);
    TOOK(vd_reduce_run_io(c->reduce, immediate(c), &io));
    vd_reduce_arguments(c->reduce, &count);
    TOOK(vd_reduce_run(c->reduce, immediate(c), any_buffer(c), any_buffer(c)));
    /* with the plan that may be running the callback */
    if (c->within) TOOK(vd_reduce_sum(ctx, c->w->buffers[1], c->w->buffers[5]));
    switch (any(c, 10)) {
    case 0: TOOK(vd_reduce_sum(ctx, any_buffer(c), any_buffer(c))); return;
    case 1: TOOK(vd_reduce_min(ctx, any_buffer(c), any_buffer(c))); return;
    case 2: TOOK(vd_reduce_max(ctx, any_buffer(c), any_buffer(c))); return;
    case 3: TOOK(vd_reduce_any(ctx, any_buffer(c), any_buffer(c))); return;
    case 4: TOOK(vd_reduce_all(ctx, any_buffer(c), any_buffer(c))); return;
    case 5: TOOK(vd_reduce_argmin(ctx, any_buffer(c), any_buffer(c))); return;
    case 6: TOOK(vd_reduce_argmax(ctx, any_buffer(c), any_buffer(c))); return;
    case 7: TOOK(vd_reduce_norm(ctx, any_buffer(c), any_buffer(c))); return;
    case 8: TOOK(vd_reduce_mean(ctx, any_buffer(c), any_buffer(c))); return;
    default:
        TOOK(vd_reduce_variance(ctx, any_buffer(c), any_buffer(c), any_buffer(c)));
        TOOK(vd_reduce_dot(ctx, any_buffer(c), any_buffer(c), any_buffer(c)));
    }
}

static void call_scan(caller *c) {
    vd_scan_io io;
    memset(&io, 0, sizeof io);
    io.in = any_buffer(c);
    io.out = any_buffer(c);
    TOOK(vd_scan_run(c->scan, immediate(c), &io));
    TOOK(vd_scan_inclusive(c->w->ctx, any_buffer(c), any_buffer(c)));
    TOOK(vd_scan_exclusive(c->w->ctx, any_buffer(c), any_buffer(c)));
}

static void call_sort(caller *c) {
    vd_sort_io io;
    vd_top_k_io top;
    memset(&io, 0, sizeof io);
    memset(&top, 0, sizeof top);
    io.keys = any_buffer(c);
    top.in = any_buffer(c);
    top.values = any_buffer(c);
    top.indices = any_buffer(c);
    TOOK(vd_sort_run(c->sort, immediate(c), &io));
    TOOK(vd_sort_all(c->w->ctx, any_buffer(c)));
    TOOK(vd_sort_pairs(c->w->ctx, any_buffer(c), any_buffer(c)));
    TOOK(vd_histogram_run(c->histogram, immediate(c), any_buffer(c), any_buffer(c)));
    TOOK(vd_top_k_run(c->top_k, immediate(c), &top));
    TOOK(vd_top_k_largest(c->w->ctx, any_buffer(c), any_buffer(c), any_buffer(c)));
    TOOK(vd_top_k_smallest(c->w->ctx, any_buffer(c), any_buffer(c), any_buffer(c)));
}

static void keep_all(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_ge(io->in[0], vc_f32(0));
}

/* Plans of one caller; creating them may fail in a callback. */
static void plans_open(caller *c) {
    vd_context *ctx = c->w->ctx;
    vd_fft_desc fft;
    vd_convolve_desc convolve;
    vd_reduce_desc reduce;
    vd_scan_desc scan;
    vd_sort_desc sort;
    vd_histogram_desc histogram;
    vd_top_k_desc top_k;
    memset(&fft, 0, sizeof fft);
    memset(&convolve, 0, sizeof convolve);
    memset(&reduce, 0, sizeof reduce);
    memset(&scan, 0, sizeof scan);
    memset(&sort, 0, sizeof sort);
    memset(&histogram, 0, sizeof histogram);
    memset(&top_k, 0, sizeof top_k);
    fft.shape[0] = convolve.shape[0] = ELEMENTS / 2;
    reduce.shape[0] = scan.shape[0] = top_k.shape[0] = sort.count = histogram.count = ELEMENTS;
    histogram.bins = top_k.k = 4;
    c->fft = vd_fft_create(ctx, &fft);
    c->convolve = vd_convolve_create(ctx, &convolve);
    c->reduce = vd_reduce_create(ctx, &reduce);
    c->scan = vd_scan_create(ctx, &scan);
    c->sort = vd_sort_create(ctx, &sort);
    c->histogram = vd_histogram_create(ctx, &histogram);
    c->top_k = vd_top_k_create(ctx, &top_k);
}

static void plans_close(caller *c) {
    vd_fft_destroy(c->fft);
    vd_convolve_destroy(c->convolve);
    vd_reduce_destroy(c->reduce);
    vd_scan_destroy(c->scan);
    vd_sort_destroy(c->sort);
    vd_histogram_destroy(c->histogram);
    vd_top_k_destroy(c->top_k);
}

static void call_plans(caller *c) {
    caller other = *c;
    vd_compact_desc desc;
    if (!c->within && any(c, 20)) return; /* compiles many kernels */
    memset(&desc, 0, sizeof desc);
    desc.count = ELEMENTS;
    desc.keep.build = keep_all;
    vd_scan_destroy(vd_compact_create(c->w->ctx, &desc));
    plans_open(&other);
    plans_close(&other);
}

/* ---- a library on top, whose plans apply a fragment to each element ---- */

typedef struct apply_desc { const char *name; vd_fragment fragment; } apply_desc;
typedef struct apply_io { vd_buffer in, out; } apply_io;

typedef struct apply {
    vd_plan base;
    vd_plan_fragment fragment;
    vd_plan_kernel kernel;
    vd_buffer own;
} apply;

static vd_result apply_make(void *plan, const void *desc) {
    apply *p = (apply *)plan;
    vc_kernel_desc kernel;
    p->fragment.name = "fragment";
    p->fragment.code = ((const apply_desc *)desc)->fragment;
    p->fragment.in[0] = VC_F32;
    p->fragment.out = VC_BOOL;
    vd_result r = vd_plan_fragment_check(&p->base, &p->fragment);
    if (r) return r;
    p->own = vd_plan_buffer(&p->base, "own", VD_U32, ELEMENTS, NULL);
    if (!p->own.id) return vd_error_result();
    memset(&kernel, 0, sizeof kernel);
    kernel.name = "apply";
    kernel.machine = vd_machine(p->base.ctx);
    vc_kernel *k = vc_begin(&kernel);
    vc_ref in = vd_plan_kernel_buffer(&p->kernel, k, 0, "in", VC_F32, VC_READ);
    vc_ref out = vd_plan_kernel_buffer(&p->kernel, k, 1, "out", VC_U32, VC_WRITE);
    vd_plan_kernel_fragment(&p->kernel, k, &p->fragment);
    VC_EACH(k, i) {
        vc_val x = vc_load(in, i);
        vc_store(out, i, vc_cast(VC_U32, vd_plan_fragment_build(&p->fragment, k, x, x, x)));
    }
    return vd_plan_kernel_build(&p->base, &p->kernel, k);
}

static const vd_plan_kind apply_kind = { "apply", sizeof(apply), sizeof(apply_desc), apply_make, NULL, NULL };

static vd_result apply_record(void *plan, vd_list *list, const void *user_io) {
    apply *p = (apply *)plan;
    vd_plan_role roles[2];
    vd_plan_io io;
    vd_dispatch_desc desc;
    memset(roles, 0, sizeof roles);
    memset(&io, 0, sizeof io);
    memset(&desc, 0, sizeof desc);
    roles[0].name = "in";
    roles[0].buffer = ((const apply_io *)user_io)->in;
    roles[0].type = VD_F32;
    roles[1].name = "out";
    roles[1].buffer = ((const apply_io *)user_io)->out;
    roles[1].type = VD_U32;
    roles[1].writes = true;
    roles[0].count = roles[1].count = desc.threads[0] = ELEMENTS;
    io.roles = roles;
    io.role_count = 2;
    vd_result r = vd_plan_check(&p->base, &io);
    return r ? r : vd_plan_dispatch(list, &p->kernel, &io, &desc);
}

/* Functions of a tuner that proposes no choice, so that nothing is measured. */
static uint32_t apply_propose(void *user, void *choices, uint32_t count, const void *best) {
    (void)user, (void)choices, (void)best;
    return count;
}

static bool apply_accepts(void *user, const void *choice) { return !user && choice; }

static vd_result apply_build(void *user, const void *choice, void *trial) {
    (void)user, (void)choice, (void)trial;
    return VD_ERROR_UNSUPPORTED;
}

static vd_result apply_record_trial(void *user, const void *trial, vd_list *list) {
    (void)user, (void)trial, (void)list;
    return VD_ERROR_UNSUPPORTED;
}

static vd_result apply_tune(apply *p) {
    uint32_t choices[VD_PLAN_MAX_CHOICES];
    vd_plan_timings timings;
    vd_plan_tuner tuner;
    memset(&tuner, 0, sizeof tuner);
    tuner.name = "nothing";
    tuner.choice_size = sizeof choices[0];
    tuner.propose = apply_propose;
    tuner.accepts = apply_accepts;
    tuner.build = apply_build;
    tuner.record = apply_record_trial;
    return vd_plan_tune(&p->base, &tuner, choices, &timings);
}

static void call_library(caller *c) {
    apply_desc desc;
    apply_io io;
    memset(&desc, 0, sizeof desc);
    desc.fragment.build = keep_all;
    io.in = any_buffer(c);
    io.out = any_buffer(c);
    TOOK(vd_plan_run_cached(c->w->ctx, &apply_kind, apply_record, &desc, &io));
    if (!c->within && any(c, 20)) return; /* compiles a kernel */
    apply *p = (apply *)vd_plan_create(c->w->ctx, &apply_kind, "apply_create", &desc);
    TOOK(vd_plan_run(p, "apply_run", apply_record, immediate(c), &io));
    TOOK(p ? apply_tune(p) : VD_ERROR_INVALID);
    vd_plan_destroy(p);
}

/* ---- images ---- */

static void call_image_commands(caller *c) {
    vd_image_transfer t;
    vd_image_box to, from;
    uint32_t texels[64];
    memset(texels, 0, sizeof texels);
    memset(&t, 0, sizeof t);
    memset(&to, 0, sizeof to);
    memset(&from, 0, sizeof from);
    t.box.image = any_image(c);
    to.image = any_image(c);
    from.image = any_image(c);
    t.buffer = any_buffer(c);
    to.level = any(c, 2);
    to.extent[0] = to.extent[1] = from.extent[0] = from.extent[1] = 4;
    TOOK(vd_image_upload(c->w->ctx, &t, texels));
    TOOK(vd_copy_from_image(immediate(c), &t));
    TOOK(vd_copy_to_image(immediate(c), &t));
    TOOK(vd_copy_image(immediate(c), &to, &from));
    TOOK(vd_blit_image(immediate(c), &to, &from, VD_FILTER_NEAREST));
    TOOK(vd_generate_mips(immediate(c), any_image(c)));
    TOOK(vd_clear_image(immediate(c), any_image(c), NULL));
    TOOK(vd_image_download(c->w->ctx, &t, texels));
}

/* Without a window: on a context that cannot present, and with handles of other objects. */
static void call_swapchain(caller *c) {
    vd_swapchain_desc desc;
    vd_present_desc present;
    vd_swapchain_info info;
    memset(&desc, 0, sizeof desc);
    memset(&present, 0, sizeof present);
    desc.window = 1;
    present.box.image = any_image(c);
    vd_swapchain s = vd_swapchain_create(c->w->ctx, &desc);
    EXPECT(!s.id);
    s.id = any_image(c).id;
    TOOK(vd_present(c->w->ctx, s, &present));
    TOOK(vd_swapchain_query(c->w->ctx, s, &info));
    vd_swapchain_destroy(c->w->ctx, s);
}

static void call_images(caller *c) {
    vd_image_info info;
    vd_format_info format;
    vd_sampler sampler;
    TOOK(vd_format_query(c->w->ctx, 0, VD_FORMAT_RGBA8_UNORM, &format));
    vd_result r = vd_image_query(c->w->ctx, any_image(c), &info);
    check_result(c, "vd_image_query", r);
    if (!r) EXPECT(strncmp(info.name, "an image ", 9) == 0);
    sampler.id = __atomic_load_n(&c->w->samplers[any(c, SAMPLERS)].id, __ATOMIC_ACQUIRE);
    vd_arg args[] = { vd_b(any_buffer(c)), vd_sampled(any_image(c), any(c, 2) ? &sampler : NULL) };
    TOOK(vd_run_args(c->w->ctx, c->w->sampling, 16, 1, 1, args, 2));
    call_image_commands(c);
}

static void call_heaps(caller *c) {
    vd_buffer_desc desc;
    vd_image_desc image;
    vd_memory_info memory;
    vd_placement place;
    memset(&desc, 0, sizeof desc);
    memset(&image, 0, sizeof image);
    TOOK(vd_memory_query(c->w->ctx, 0, &memory));
    image.format = VD_FORMAT_R32_U;
    image.extent[0] = 8;
    vd_result r = vd_image_placement(c->w->ctx, &image, &place);
    check_result(c, "vd_image_placement", r);
    if (r) return;
    desc.shape[0] = 2 * place.size + place.align;
    desc.heap = true;
    image.heap = vd_buffer_create(c->w->ctx, &desc);
    image.heap_offset = (place.size + place.align - 1) / place.align * place.align;
    vd_image placed = vd_image_create(c->w->ctx, &image);
    EXPECT(placed.id || c->within);
    TOOK(vd_discard_image(immediate(c), placed));
    TOOK(vd_clear_image(immediate(c), placed, NULL));
    bool first = any(c, 2) != 0;
    if (first) vd_image_destroy(c->w->ctx, placed);
    vd_buffer_destroy(c->w->ctx, image.heap);
    if (!first) vd_image_destroy(c->w->ctx, placed);
}

/* ---- the table ---- */

typedef struct named_call { const char *name; void (*make)(caller *c); } named_call;

static const named_call exchanges[] = { { "create and destroy buffers", exchange_buffer },
                                        { "create and destroy views", exchange_view },
                                        { "create and destroy kernels", exchange_kernel },
                                        { "create and destroy images", exchange_image },
                                        { "create and destroy samplers", exchange_sampler } };

static const named_call calls[] = { { "kernel_load", call_kernel_load },
                                    { "buffer_query", call_buffer_query },
                                    { "buffer_read", call_buffer_read },
                                    { "buffer_write", call_buffer_write },
                                    { "regions", call_regions },
                                    { "buffer_send", call_buffer_send },
                                    { "map", call_map },
                                    { "bind and unbind pages", call_pages },
                                    { "export", call_export },
                                    { "dlpack", call_dlpack },
                                    { "kernel_query", call_kernel_query },
                                    { "dispatch", call_dispatch },
                                    { "transfers", call_transfers },
                                    { "record and native_use", call_others },
                                    { "read_begin", call_read_begin },
                                    { "list", call_list },
                                    { "graph", call_graph },
                                    { "wait", call_wait },
                                    { "profile", call_profile },
                                    { "images", call_images }, { "swapchain", call_swapchain },
                                    { "heaps", call_heaps },
                                    { "context", call_context },
                                    { "context_create", call_context_create },
                                    { "libraries", call_libraries },
                                    { "reduce", call_reduce },
                                    { "fft_simple", call_fft_simple },
                                    { "fft", call_fft },
                                    { "fft_group", call_fft_group },
                                    { "fft_rows", call_fft_rows },
                                    { "convolve", call_convolve },
                                    { "scan", call_scan },
                                    { "sort", call_sort },
                                    { "plans", call_plans },
                                    { "library", call_library } };
enum { TRANSFORMS = 23 }; /* index of the first function of vkdispatch_fft.h after the reductions */

/* Called while no other thread uses the world. */
static void world_open(world *w, vd_context *ctx) {
    caller c;
    memset(&c, 0, sizeof c);
    memset(w, 0, sizeof *w);
    w->ctx = ctx;
    c.w = w;
    for (uint32_t i = 0; i < BUFFERS; i++) w->buffers[i] = buffer_of(&c, i);
    for (uint32_t i = 0; i < 4 * VIEWS; i++) exchange_view(&c);
    for (uint32_t i = 0; i < KERNELS; i++) w->kernels[i] = kernel_of(&c);
    for (uint32_t i = 0; i < 8 * IMAGES; i++) exchange_image(&c);
    for (uint32_t i = 0; i < 4 * SAMPLERS; i++) exchange_sampler(&c);
    w->sampling = sampling_kernel(ctx);
    if (c.problem[0]) fail_msg("%s", c.problem);
}

static void world_close(world *w) {
    for (uint32_t i = 0; i < VIEWS; i++) vd_buffer_destroy(w->ctx, w->views[i]);
    for (uint32_t i = 0; i < BUFFERS; i++) vd_buffer_destroy(w->ctx, w->buffers[i]);
    for (uint32_t i = 0; i < KERNELS; i++) vd_kernel_destroy(w->ctx, w->kernels[i]);
    for (uint32_t i = 2 * IMAGES; i--;) vd_image_destroy(w->ctx, w->images[i]);
    for (uint32_t i = 0; i < SAMPLERS; i++) vd_sampler_destroy(w->ctx, w->samplers[i]);
    vd_kernel_destroy(w->ctx, w->sampling);
}
#endif
