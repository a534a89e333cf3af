/* Errors common to all plans, on the dummy backend: no elements, overlapping memory, missing types, not enough
   temporary memory. Each has a message and leaks nothing. Errors of one kind of plan are tested with that kind. */
#define _POSIX_C_SOURCE 200112L /* setenv */
#include "common.h"

static const vd_buffer none = { 0 };
static const vc_val nothing = { 0, 0 };

static vd_context *context_of(uint64_t disable, uint64_t memory) {
    vd_device_info device = { 0 };
    vd_context_desc desc = { 0 };
    vd_context *ctx = NULL;
    device.device_memory = memory;
    device.host_memory = memory;
    desc.backend = VD_BACKEND_DUMMY;
    desc.disable = disable;
    if (memory) desc.dummy = &device;
    if (vd_context_create(&desc, &ctx)) fail_msg("%s", vd_error_text());
    return ctx;
}

static void refused(vd_result result, const char *text) {
    assert_int_equal(result, VD_ERROR_INVALID);
    says(text);
}

/* ---- one plan of every kind, by type and length ---- */

static void keep(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)user;
    io->out = vc_ne(io->in[0], vc_const(k, vc_imm(vc_typeof(io->in[0]), 0)));
}

static bool keep_all(vd_context *ctx, vd_type type, uint64_t n, vd_scan **out) {
    vd_compact_desc desc = { 0 };
    desc.type = type;
    desc.count = n;
    desc.keep.build = keep;
    return (*out = vd_compact_create(ctx, &desc)) != NULL;
}

typedef enum plan_kind { FFT, REAL, CONVOLVE, REDUCE, SCAN, COMPACT, SORT, HISTOGRAM, TOP_K, KINDS } plan_kind;

static const char *const names[KINDS] = { "vd_fft_create 'fft'",           "vd_fft_create 'fft'",
                                          "vd_convolve_create 'convolve'", "vd_reduce_create 'reduce'",
                                          "vd_scan_create 'scan'",         "vd_compact_create 'compact'",
                                          "vd_sort_create 'sort'",         "vd_histogram_create 'histogram'",
                                          "vd_top_k_create 'top_k'" };

/* Creates a plan and destroys it. Returns whether it could be created. */
static bool make(vd_context *ctx, plan_kind kind, vd_type type, uint64_t n) {
    vd_fft_desc fft = { 0 };
    vd_convolve_desc convolve = { 0 };
    vd_reduce_desc reduce = { 0 };
    vd_scan_desc scan = { 0 };
    vd_sort_desc sort = { 0 };
    vd_histogram_desc histogram = { 0 };
    vd_top_k_desc top = { 0 };
    vd_scan *compact = NULL;
    void *plan = NULL;
    fft.kind = kind == REAL ? VD_FFT_REAL : VD_FFT_COMPLEX;
    fft.type = convolve.type = reduce.type = scan.type = sort.type = histogram.type = top.type = type;
    fft.shape[0] = convolve.shape[0] = reduce.shape[0] = scan.shape[0] = sort.count = histogram.count = top.shape[0] =
        n;
    histogram.bins = 5;
    top.k = 5;
    switch (kind) {
    case CONVOLVE: vd_convolve_destroy((vd_convolve *)(plan = vd_convolve_create(ctx, &convolve))); break;
    case REDUCE: vd_reduce_destroy((vd_reduce *)(plan = vd_reduce_create(ctx, &reduce))); break;
    case SCAN: vd_scan_destroy((vd_scan *)(plan = vd_scan_create(ctx, &scan))); break;
    case COMPACT:
        if (keep_all(ctx, type, n, &compact)) plan = compact;
        vd_scan_destroy(compact);
        break;
    case SORT: vd_sort_destroy((vd_sort *)(plan = vd_sort_create(ctx, &sort))); break;
    case HISTOGRAM: vd_histogram_destroy((vd_histogram *)(plan = vd_histogram_create(ctx, &histogram))); break;
    case TOP_K: vd_top_k_destroy((vd_top_k *)(plan = vd_top_k_create(ctx, &top))); break;
    default: vd_fft_destroy((vd_fft *)(plan = vd_fft_create(ctx, &fft)));
    }
    return plan != NULL;
}

static void no_elements(void **state) {
    vd_context *ctx = context_of(0, 0);
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        assert_false(make(ctx, (plan_kind)kind, VD_F32, 0));
        says(names[kind]);
        says(kind == COMPACT || kind == SORT || kind == HISTOGRAM
                 ? "count is 0" : "dimension 0 of the shape is 0, but must be at least 1");
        nothing_left(ctx);
    }
    vd_context_destroy(ctx);
}

/* If the threads of a work-group have less private memory than one kernel for this length needs, a plan has several. */
static void private_memory(void **state) {
    (void)state;
    for (int limited = 0; limited < 2; limited++) {
        vd_device_info info;
        vd_context_desc desc;
        vd_context *ctx = NULL;
        vd_fft_desc d;
        memset(&info, 0, sizeof info);
        memset(&desc, 0, sizeof desc);
        memset(&d, 0, sizeof d);
        info.facts.groups_as_loops = true;
        info.features = VD_FEATURE_F64 | VD_FEATURE_I64 | VD_FEATURE_ADDRESS;
        info.device_memory = (uint64_t)1 << 32;
        info.limits.max_local_size[0] = info.limits.max_local_invocations = 4096;
        info.limits.max_shared_bytes = 512 << 10;
        info.limits.max_private_bytes = limited ? 6 << 20 : 0;
        desc.backend = VD_BACKEND_DUMMY;
        desc.dummy = &info;
        assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
        d.shape[0] = 16386;
        d.type = VD_F64;
        vd_fft *p = vd_fft_create(ctx, &d);
        assert_non_null(p);
        assert_true((strstr(vd_fft_explain(p), "inputs times the chirp") != NULL) == (limited == 1));
        vd_fft_destroy(p);
        vd_context_destroy(ctx);
    }
}

/* Scans of short rows fit devices with small work-groups and little shared memory. */
static void short_rows(void **state) {
    (void)state;
    for (int small_memory = 0; small_memory < 2; small_memory++) {
        vd_device_info info;
        vd_context_desc desc;
        vd_context *ctx = NULL;
        memset(&info, 0, sizeof info);
        memset(&desc, 0, sizeof desc);
        info.features = VD_FEATURE_F64 | VD_FEATURE_I64 | VD_FEATURE_ADDRESS;
        info.device_memory = (uint64_t)1 << 32;
        info.limits.max_local_size[0] = info.limits.max_local_invocations = small_memory ? 256 : 32;
        info.limits.max_shared_bytes = small_memory ? 16 << 10 : 48 << 10;
        desc.backend = VD_BACKEND_DUMMY;
        desc.dummy = &info;
        assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
        for (uint32_t count = 1; count <= 520; count += 8) {
            vd_scan_desc d = { 0 };
            vd_scan_io io = { 0 };
            d.type = VD_F64;
            d.shape[0] = 2000;
            d.shape[1] = count;
            d.segmented = true;
            vd_buffer_desc b = { 0 };
            b.type = VD_F64;
            b.shape[0] = 2000 * (uint64_t)count;
            io.in = io.out = vd_buffer_create(ctx, &b);
            b.type = VD_U32;
            io.segment_heads = vd_buffer_create(ctx, &b);
            vd_scan *p = vd_scan_create(ctx, &d);
            if (!p || vd_scan_run(p, vd_immediate(ctx, 0, 0), &io)) fail_msg("%u elements: %s", count, vd_error_text());
            vd_scan_destroy(p);
            vd_buffer_destroy(ctx, io.in);
            vd_buffer_destroy(ctx, io.segment_heads);
        }
        vd_context_destroy(ctx);
    }
}

/* Sorting floats needs only the features of integers of the same size. */
static void missing_types(void **state) {
    static const struct { uint64_t feature; vd_type type; const char *says; } cases[] = {
        { VD_FEATURE_F64, VD_F64, "f64" }, { VD_FEATURE_I64 | VD_FEATURE_F64, VD_U64, "64-bit integer" },
        { VD_FEATURE_STORAGE_16, VD_F16, "16-bit elements in buffers" },
        { VD_FEATURE_STORAGE_8, VD_I8, "8-bit elements in buffers" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        vd_context *ctx = context_of(cases[i].feature, 0);
        for (int kind = 0; kind < KINDS; kind++) {
            if (kind < REDUCE && cases[i].type != VD_F64) continue; /* these accept no other type */
            if (kind == SORT && cases[i].type == VD_F64) continue;
            if (make(ctx, (plan_kind)kind, cases[i].type, 40))
                fail_msg("%s of %s is not refused", names[kind], vd_type_name(cases[i].type));
            says(cases[i].says);
            assert_int_equal(vd_error_result(), VD_ERROR_UNSUPPORTED);
            nothing_left(ctx);
        }
        vd_buffer in = buffer_of(ctx, cases[i].type, 40, NULL);
        assert_int_equal(vd_reduce_sum(ctx, in, in), VD_ERROR_UNSUPPORTED);
        says("vd_reduce_sum: ");
        says(cases[i].says);
        vd_context_destroy(ctx);
    }
}

/* Transforms name the desc's field. */
static void missing_types_in_memory(void **state) {
    static const struct { uint64_t feature; vd_type type, in, out; const char *says; } cases[] = {
        { VD_FEATURE_F64, VD_F64, VD_F32, VD_F32,
          "vd_fft_create 'fft': type is f64, but the device does not support f64" },
        { VD_FEATURE_F64, VD_F32, VD_F64, VD_F32, "in_type is f64, but the device" },
        { VD_FEATURE_F64, VD_F32, VD_F32, VD_F64, "out_type is f64, but the device" },
        { VD_FEATURE_STORAGE_16, VD_F32, VD_F16, VD_F32, "vd_fft_create 'fft': in_type is f16, but the device does not support 16-bit elements in buffers" },
        { VD_FEATURE_STORAGE_16, VD_F32, VD_F32, VD_F16, "out_type is f16, but" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        vd_context *ctx = context_of(cases[i].feature, 0);
        vd_fft_desc desc = { 0 };
        desc.shape[0] = 16;
        desc.type = cases[i].type;
        desc.in_type = cases[i].in;
        desc.out_type = cases[i].out;
        assert_null(vd_fft_create(ctx, &desc));
        says(cases[i].says);
        assert_int_equal(vd_error_result(), VD_ERROR_UNSUPPORTED);
        vd_context_destroy(ctx);
    }
}

/* A device with 64 KiB: tables, partial results and copies of keys do not fit. */
static void no_memory(void **state) {
    static const struct { plan_kind kind; uint64_t n; } cases[] = {
        { FFT, 1u << 20 }, { REAL, 1u << 20 }, { CONVOLVE, 1u << 16 }, { SORT, 1u << 20 }, { SCAN, 1u << 28 },
        { COMPACT, 1u << 28 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        vd_context *ctx = context_of(0, 1u << 16);
        if (make(ctx, cases[i].kind, VD_F32, cases[i].n)) fail_msg("%s is not refused", names[cases[i].kind]);
        says("': cannot create buffer '");
        says("65536");
        says(names[cases[i].kind]);
        assert_int_equal(vd_error_result(), VD_ERROR_OUT_OF_DEVICE_MEMORY);
        nothing_left(ctx);
        vd_context_destroy(ctx);
    }
}

/* Bytes: one element is one byte. */
static void no_memory_for_parts(void **state) {
    vd_context *ctx = context_of(0, 1u << 16);
    vd_reduce_desc desc = { 0 };
    (void)state;
    desc.op = VD_REDUCE_VARIANCE;
    desc.shape[0] = 1u << 16;
    desc.shape[1] = 4096;
    desc.axes = 1; /* several parts per column */
    assert_null(vd_reduce_create(ctx, &desc));
    says("vd_reduce_create 'reduce': cannot create buffer 'reduce partials' of ");
    assert_null(strstr(vd_error_text(), " of 0 bytes"));
    assert_int_equal(vd_error_result(), VD_ERROR_OUT_OF_DEVICE_MEMORY);
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

/* A sine transform whose intermediate buffer has more than 2^32 elements although the transform has fewer. */
static void second_buffer(void **state) {
    vd_context *ctx = context_of(0, 0);
    vd_fft_desc desc = { 0 };
    (void)state;
    desc.kind = VD_FFT_DST1;
    desc.shape[0] = 131073;
    desc.shape[1] = 32767;
    assert_null(vd_fft_create(ctx, &desc));
    says("vd_fft_create 'fft': cannot create buffer 'fft temporary 1' of 34360000512 bytes");
    assert_int_equal(vd_error_result(), VD_ERROR_UNSUPPORTED);
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

/* ---- host memory of kernels ---- */

typedef struct meter { int left; } meter; /* allocations left until they fail */

static void *take(void *user, size_t size) { return ((meter *)user)->left-- > 0 ? malloc(size) : NULL; }
static void *grow(void *user, void *block, size_t size) {
    return ((meter *)user)->left-- > 0 ? realloc(block, size) : NULL;
}
static void give(void *user, void *block) { (void)user; free(block); }

static vd_kernel build(vd_context *ctx, meter *m) {
    vc_kernel_desc desc = { 0 };
    desc.allocator.allocate = take;
    desc.allocator.reallocate = grow;
    desc.allocator.release = give;
    desc.allocator.user = m;
    vc_kernel *k = vc_begin(&desc);
    if (!k) return (vd_kernel){ 0 };
    vc_ref out = vc_buffer(k, "out", VC_F32, VC_WRITE);
    vc_store(out, vc_local_index(k), vc_f32(1));
    vd_kernel kernel = vd_kernel_build(ctx, k);
    assert_true(kernel.id || vd_error_result() == VD_ERROR_OUT_OF_MEMORY);
    if (!kernel.id) says("out of host memory");
    vc_free(k);
    return kernel;
}

static void no_host_memory(void **state) {
    vd_context *ctx = context_of(0, 0);
    int starved = 0;
    (void)state;
    for (int left = 0; left < 200; left++) {
        meter m = { left };
        vd_kernel kernel = build(ctx, &m);
        if (kernel.id) break;
        starved++;
    }
    assert_in_range(starved, 3, 199);
    vd_context_destroy(ctx);
}

/* ---- fragments ---- */

static void gain(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)user;
    io->out = vc_mul(io->in[0], vc_param(k, "gain", VC_F32));
}

static void whole(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_cast(VC_I32, io->in[0]);
}

static void two(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_vec2(io->in[0], io->in[0]);
}

static void positive(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_gt(io->in[0], vc_f32(0));
}

static void immediate(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)io, (void)user;
    io->out = vc_u32(1);
}

static void same(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)user;
    vc_printf(k, "%f", io->in[0]);
    io->out = io->in[0];
}

typedef enum place { REDUCE_MAP, REDUCE_COMBINE, SCAN_MAP, SCAN_COMBINE, KEEP, BIN, TOP_MAP, PLACES } place;

static struct { place at; vc_val stranger; } tried;

static vc_val right_type(vc_val x) { return tried.at == KEEP ? vc_gt(x, vc_f32(0)) : x; }

static void silent(vc_kernel *k, vd_fragment_io *io, void *user) { (void)k, (void)io, (void)user; }

static void both(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = right_type(vc_add(io->in[0], io->in[1]));
}

static void waits(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)user;
    vc_barrier(k);
    io->out = right_type(io->in[0]);
}

static void gathers(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)user;
    vc_group_reduce(k, VC_ADD, io->in[0], &io->out);
    io->out = right_type(io->out);
}

static void returns(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)user;
    io->out = right_type(io->in[0]);
    vc_return_if(k, vc_lt(io->in[0], vc_f32(3)));
}

static void foreign(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)io, (void)user;
    io->out = tried.stranger;
}

static void from_block(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)user;
    VC_IF(k, vc_lt(io->in[0], vc_f32(1))) { io->out = right_type(vc_mul(io->in[0], io->in[0])); }
}

static void leaves_open(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)user;
    io->out = right_type(io->in[0]);
    VC_IF(k, vc_lt(io->in[0], vc_f32(1))) break;
}

static void hook_declare(vc_kernel *k, void *user) {
    (void)user;
    vc_param(k, "gain", VC_F32);
}

/* Whether a plan with this fragment can be created. */
static bool with_fragment(vd_context *ctx, place at, vd_fragment_build f) {
    static const plan_kind kinds[PLACES] = { REDUCE, REDUCE, SCAN, SCAN, COMPACT, HISTOGRAM, TOP_K };
    vd_reduce_desc reduce = { 0 };
    vd_scan_desc scan = { 0 };
    vd_compact_desc compact = { 0 };
    vd_histogram_desc histogram = { 0 };
    vd_top_k_desc top = { 0 };
    void *plan = NULL;
    tried.at = at;
    reduce.shape[0] = scan.shape[0] = compact.count = histogram.count = top.shape[0] = 5000;
    histogram.bins = top.k = 5;
    if (at == REDUCE_MAP) reduce.map.build = f;
    else reduce.combine.build = f, reduce.identity = vc_f32(0);
    if (at == SCAN_MAP) scan.map.build = f;
    else scan.combine.build = f, scan.identity = vc_f32(0);
    compact.keep.build = f;
    histogram.bin.build = f;
    top.map.build = f;
    switch (kinds[at]) {
    case REDUCE: vd_reduce_destroy((vd_reduce *)(plan = vd_reduce_create(ctx, &reduce))); break;
    case SCAN: vd_scan_destroy((vd_scan *)(plan = vd_scan_create(ctx, &scan))); break;
    case COMPACT: vd_scan_destroy((vd_scan *)(plan = vd_compact_create(ctx, &compact))); break;
    case HISTOGRAM: vd_histogram_destroy((vd_histogram *)(plan = vd_histogram_create(ctx, &histogram))); break;
    default: vd_top_k_destroy((vd_top_k *)(plan = vd_top_k_create(ctx, &top)));
    }
    return plan != NULL;
}

static void refused_fragment(vd_context *ctx, place at, vd_fragment_build f, const char *text) {
    static const char *const what[PLACES] = {
        "vd_reduce_create 'reduce': map", "vd_reduce_create 'reduce': combine", "vd_scan_create 'scan': map",
        "vd_scan_create 'scan': combine", "vd_compact_create 'compact': keep",  "vd_histogram_create 'histogram': bin",
        "vd_top_k_create 'top_k': map"
    };
    if (with_fragment(ctx, at, f)) fail_msg("%s... \"%s\" is not refused", what[at], text);
    says(what[at]);
    says(text);
    assert_int_equal(vd_error_result(), VD_ERROR_INVALID);
    nothing_left(ctx);
}

/* Fragments with arguments of their own and with wrong types; immediates are converted. */
static void fragments(void **state) {
    vd_context *ctx = context_of(0, 0);
    vd_reduce_desc any = { 0 };
    (void)state;
    for (int i = 0; i < PLACES; i++) {
        place at = (place)i;
        if (at == REDUCE_MAP) {
            assert_false(with_fragment(ctx, at, gain));
            says("vd_reduce_create 'reduce': argument 'gain' is declared while an element is recorded; declare it in map.declare");
            nothing_left(ctx);
        } else if (at != KEEP)
            refused_fragment(ctx, at, gain, " declares argument 'gain', but this plan passes no arguments to it");
        if (at == KEEP) refused_fragment(ctx, at, whole, "io->out is i32, but bool is expected");
        else if (at == BIN) refused_fragment(ctx, at, positive, "io->out is bool, but a number is expected");
        else refused_fragment(ctx, at, whole, "io->out is i32, but f32 is expected");
        refused_fragment(ctx, at, two,
                         at == KEEP  ? "io->out is f32x2, but bool"
                         : at == BIN ? "io->out is f32x2, but a number"
                                     : "io->out is f32x2, but f32");
        if (!with_fragment(ctx, at, at == KEEP ? positive : same)) fail_msg("%s", vd_error_text());
        if (!with_fragment(ctx, at, immediate)) fail_msg("%s", vd_error_text());
    }
    any.shape[0] = 100;
    any.op = VD_REDUCE_ANY;
    any.map.build = positive;
    vd_reduce *plan = vd_reduce_create(ctx, &any);
    if (!plan) fail_msg("%s", vd_error_text());
    vd_reduce_destroy(plan);
    any.op = VD_REDUCE_MAX;
    assert_null(vd_reduce_create(ctx, &any));
    says("'reduce': map: io->out is bool, but f32 is expected");
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

/* What fragments may leave unset, and what they must not do in divergent control flow. */
static void fragments_left(void **state) {
    vd_context *ctx = context_of(0, 0);
    vc_kernel *other = vc_begin(NULL);
    (void)state;
    tried.stranger = vc_const(other, vc_f32(1));
    for (int i = 0; i < PLACES; i++) {
        place at = (place)i;
        refused_fragment(ctx, at, silent, ": io->out is not set");
        refused_fragment(ctx, at, foreign, ": io->out is a value of another kernel");
        refused_fragment(ctx, at, from_block, "was created in a block that is already closed");
        refused_fragment(ctx, at, leaves_open, ": kernel '");
        refused_fragment(ctx, at, waits, " runs in divergent control flow: vc_barrier");
        refused_fragment(ctx, at, gathers, " runs in divergent control flow: vc_group_reduce");
        refused_fragment(ctx, at, returns, " contains vc_return_if; use vc_select or VC_IF instead");
        if (at == REDUCE_COMBINE || at == SCAN_COMBINE) assert_true(with_fragment(ctx, at, both));
        else if (at != TOP_MAP) refused_fragment(ctx, at, both, " (in[1] is not set): vc_add in kernel '");
        else refused_fragment(ctx, at, both, ": vc_add in kernel 'top_k'");
    }
    vc_free(other);
    vd_context_destroy(ctx);
}

/* An error from before the fragment is recorded does not mention its inputs. */
static void small_work_groups(void **state) {
    vd_device_info device = { 0 };
    vd_context_desc desc = { 0 };
    vd_context *ctx = NULL;
    vd_scan *plan = NULL;
    (void)state;
    device.limits.max_local_size[0] = device.limits.max_local_invocations = 1;
    desc.backend = VD_BACKEND_DUMMY;
    desc.dummy = &device;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    assert_false(keep_all(ctx, VD_F32, 100, &plan));
    assert_int_equal(vd_error_result(), VD_ERROR_UNSUPPORTED);
    says("vd_compact_create 'compact': keep: kernel 'compact': local_size");
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

/* Tables larger than any buffer are refused before the host computes them, which would need their size in doubles. */
static void large_tables(void **state) {
    vd_device_info device = { 0 };
    vd_context_desc context = { 0 };
    vd_fft_desc desc = { 0 };
    vd_context *ctx = NULL;
    (void)state;
    device.limits.max_buffer_bytes = (uint64_t)1 << 16;
    context.backend = VD_BACKEND_DUMMY;
    context.dummy = &device;
    if (vd_context_create(&context, &ctx)) fail_msg("%s", vd_error_text());
    desc.shape[0] = 1 << 20;
    desc.kind = VD_FFT_DST4;
    assert_null(vd_fft_create(ctx, &desc));
    says("complex numbers, but the limit of a buffer is 8192");
    says("vd_fft_create 'fft': the tables have at least ");
    assert_int_equal(vd_error_result(), VD_ERROR_UNSUPPORTED);
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

/* Axes of cosine and sine transforms whose indices do not fit into 32 bits are refused. */
static void long_axes(void **state) {
    static const vd_fft_kind kinds[] = { VD_FFT_DCT1, VD_FFT_DCT2, VD_FFT_DCT3, VD_FFT_DCT4,
                                         VD_FFT_DST1, VD_FFT_DST2, VD_FFT_DST3, VD_FFT_DST4 };
    vd_context *ctx = context_of(0, 0);
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        vd_fft_desc desc = { 0 };
        desc.kind = kinds[i];
        desc.shape[0] = ((uint64_t)1 << 31) + (kinds[i] == VD_FFT_DST1 ? 0 : 1);
        assert_null(vd_fft_create(ctx, &desc));
        assert_int_equal(vd_error_result(), VD_ERROR_UNSUPPORTED);
        says(kinds[i] == VD_FFT_DST1
                 ? "dimension 0 has 2147483648 elements, but the limit of VD_FFT_DST1 is 2147483647"
                 : "dimension 0 has 2147483649 elements, but the limit of cosine and sine transforms is 2147483648");
    }
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

/* ---- buffers of simple calls, lists ---- */

typedef enum simple_call {
    SUM,
    VARIANCE,
    EXCLUSIVE,
    SORT_ALL,
    SORT_PAIRS,
    LARGEST,
    FORWARD,
    REAL_INVERSE,
    SHIFT,
    CONVOLVE_2D,
    SIMPLE_CALLS
} simple_call;

static vd_result run_simple(vd_context *ctx, simple_call which, vd_buffer in) {
    vd_buffer out = in;
    switch (which) {
    case SUM: return vd_reduce_sum(ctx, in, out);
    case VARIANCE: return vd_reduce_variance(ctx, in, out, out);
    case EXCLUSIVE: return vd_scan_exclusive(ctx, in, out);
    case SORT_ALL: return vd_sort_all(ctx, in);
    case SORT_PAIRS: return vd_sort_pairs(ctx, in, out);
    case LARGEST: return vd_top_k_largest(ctx, in, out, out);
    case FORWARD: return vd_fft_forward(ctx, in);
    case REAL_INVERSE: return vd_fft_real_inverse(ctx, in, out);
    case SHIFT: return vd_fft_shift(ctx, in, out, 0, VD_FFT_FORWARD);
    default: return vd_convolve_2d(ctx, in, in, out, VD_CONVOLVE_SAME);
    }
}

static void simple_calls(void **state) {
    static const char *const what[SIMPLE_CALLS] = {
        "vd_reduce_sum: in: ",          "vd_reduce_variance: in: ", "vd_scan_exclusive: in: ",
        "vd_sort_all: keys: ",          "vd_sort_pairs: keys: ",    "vd_top_k_largest: in: ",
        "vd_fft_forward: buffer: ",     "vd_fft_real_inverse: reals: ", "vd_fft_shift: in: ",
        "vd_convolve_2d: image: "
    };
    vd_context *ctx = context_of(0, 0);
    vd_buffer bytes = buffer_of(ctx, VD_BYTES, 400, NULL), gone = buffer_of(ctx, VD_F32, 100, NULL);
    (void)state;
    vd_buffer_destroy(ctx, gone);
    for (int i = 0; i < SIMPLE_CALLS; i++) {
        simple_call call = (simple_call)i;
        refused(run_simple(ctx, call, none), what[i]);
        says("the buffer handle is 0");
        refused(run_simple(ctx, call, gone), what[i]);
        says("was destroyed");
        assert_null(strstr(vd_error_text(), "vd_buffer_query"));
        refused(run_simple(ctx, call, bytes),
                call <= LARGEST ? "has type bytes, but a scalar type is expected" : "has type bytes, but ");
        if (call == SUM) says("vd_reduce_sum: buffer 'numbers' (in) ");
    }
    refused(vd_fft_3d(ctx, bytes, (vd_fft_direction)9), "vd_fft_3d: direction is 9, but must be 0 to 1 (VD_FFT_INVERSE)");
    vd_buffer_destroy(ctx, bytes);
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

/* Recording into NULL or into a list of another context. */
static void lists(void **state) {
    vd_context *ctx = context_of(0, 0), *other = context_of(0, 0);
    vd_list *bad[2] = { NULL, vd_immediate(other, 0, 0) };
    static const char *const why[2] = { "the list is NULL", "the list belongs to another context" };
    vd_fft_desc fft = { 0 };
    vd_convolve_desc convolve = { 0 };
    vd_reduce_desc reduce = { 0 };
    vd_scan_desc scan = { 0 };
    vd_sort_desc sort = { 0 };
    vd_histogram_desc histogram = { 0 };
    vd_top_k_desc top = { 0 };
    (void)state;
    assert_ptr_equal(vd_list_context(bad[1]), other);
    assert_null(vd_list_context(NULL));
    assert_int_equal(vd_list_device(bad[1]), 0);
    assert_int_equal(vd_list_device(NULL), -1);
    fft.shape[0] = convolve.shape[0] = convolve.filter_shape[0] = reduce.shape[0] = scan.shape[0] = sort.count =
        histogram.count = top.shape[0] = 16;
    histogram.bins = top.k = 16;
    vd_fft *f = vd_fft_create(ctx, &fft);
    vd_convolve *c = vd_convolve_create(ctx, &convolve);
    vd_reduce *r = vd_reduce_create(ctx, &reduce);
    vd_scan *s = vd_scan_create(ctx, &scan);
    vd_sort *o = vd_sort_create(ctx, &sort);
    vd_histogram *h = vd_histogram_create(ctx, &histogram);
    vd_top_k *t = vd_top_k_create(ctx, &top);
    vd_buffer complexes = buffer_of(ctx, VD_F32C, 16, NULL), in = buffer_of(ctx, VD_F32, 16, NULL),
              out = buffer_of(ctx, VD_F32, 16, NULL);
    vd_buffer integers = buffer_of(ctx, VD_U32, 16, NULL);
    vd_fft_io fft_io = { VD_FFT_FORWARD, { 0 }, { 0 }, NULL, 0 };
    vd_scan_io scan_io = { { 0 }, { 0 }, { 0 }, { 0 } };
    vd_sort_io sort_io = { { 0 }, { 0 }, { 0 }, { 0 } };
    vd_top_k_io top_io = { { 0 }, { 0 }, { 0 } };
    if (!f || !c || !r || !s || !o || !h || !t) fail_msg("%s", vd_error_text());
    fft_io.in = complexes;
    scan_io.in = sort_io.keys = top_io.in = in;
    scan_io.out = top_io.values = out;
    top_io.indices = integers;
    for (int i = 0; i < 2; i++) {
        refused(vd_fft_run(f, bad[i], &fft_io), "vd_fft_run 'fft': ");
        says(why[i]);
        refused(vd_convolve_set_filter(c, bad[i], complexes), "vd_convolve_set_filter 'convolve': ");
        says(why[i]);
        refused(vd_reduce_run(r, bad[i], in, out), "vd_reduce_run 'reduce': ");
        says(why[i]);
        refused(vd_scan_run(s, bad[i], &scan_io), "vd_scan_run 'scan': ");
        says(why[i]);
        refused(vd_sort_run(o, bad[i], &sort_io), "vd_sort_run 'sort': ");
        says(why[i]);
        refused(vd_histogram_run(h, bad[i], in, integers), "vd_histogram_run 'histogram': ");
        says(why[i]);
        refused(vd_top_k_run(t, bad[i], &top_io), "vd_top_k_run 'top_k': ");
        says(why[i]);
    }
    assert_int_equal(vd_convolve_set_filter(c, vd_immediate(ctx, 0, 0), complexes), VD_OK);
    refused(vd_convolve_run(c, bad[1], complexes, complexes), "vd_convolve_run 'convolve': the list belongs to another context");
    vd_fft_destroy(f);
    vd_convolve_destroy(c);
    vd_reduce_destroy(r);
    vd_scan_destroy(s);
    vd_sort_destroy(o);
    vd_histogram_destroy(h);
    vd_top_k_destroy(t);
    vd_context_destroy(other);
    vd_context_destroy(ctx);
}

/* ---- overlapping memory ---- */

typedef struct memory { vd_context *ctx; vd_buffer all, view[4]; } memory;

/* A view of this many elements from a byte offset. */
static vd_buffer part(memory *m, int which, vd_type type, uint64_t offset, uint64_t count) {
    vd_view_desc desc = { 0 };
    if (m->view[which].id) vd_buffer_destroy(m->ctx, m->view[which]);
    desc.name = "part";
    desc.buffer = m->all;
    desc.type = type;
    desc.offset = offset;
    desc.shape[0] = count;
    m->view[which] = vd_buffer_view(m->ctx, &desc);
    if (!m->view[which].id) fail_msg("%s", vd_error_text());
    return m->view[which];
}

static void overlapping_transforms(memory *m, vd_list *list) {
    vd_fft_desc desc = { 0 };
    vd_fft_io io = { VD_FFT_FORWARD, { 0 }, { 0 }, NULL, 0 };
    desc.shape[0] = 8;
    desc.shape[1] = 64;
    desc.axes = 3;
    desc.out_count[1] = 60; /* no pass uses both of them */
    vd_fft *plan = vd_fft_create(m->ctx, &desc);
    io.in = part(m, 0, VD_F32C, 0, 512);
    io.out = part(m, 1, VD_F32C, 256, 512);
    refused(vd_fft_run(plan, list, &io), "vd_fft_run 'fft': in and out overlap; they must be disjoint or begin at the same byte");
    vd_fft_destroy(plan);
    refused(vd_fft_shift(m->ctx, io.in, io.out, 0, VD_FFT_FORWARD), "vd_fft_shift: in and out overlap");
}

static void overlapping_reductions(memory *m, vd_list *list) {
    vd_reduce_desc desc = { 0 };
    vd_reduce_io io = { { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, NULL, 0 };
    desc.shape[0] = 1000;
    desc.op = VD_REDUCE_VARIANCE;
    desc.extra_out = true;
    vd_reduce *plan = vd_reduce_create(m->ctx, &desc);
    io.in = part(m, 0, VD_F32, 0, 1000);
    io.out = part(m, 1, VD_F32, 256, 4);
    io.extra_out = part(m, 2, VD_F32, 8192, 4);
    refused(vd_reduce_run_io(plan, list, &io), "vd_reduce_run_io 'reduce': in and out overlap");
    io.out = part(m, 1, VD_F32, 8192, 4);
    refused(vd_reduce_run_io(plan, list, &io), "extra_out and out overlap");
    vd_reduce_destroy(plan);
    desc.op = VD_REDUCE_DOT;
    desc.extra_out = false;
    plan = vd_reduce_create(m->ctx, &desc);
    io.in_b = part(m, 2, VD_F32, 8192, 1000);
    io.extra_out = none;
    refused(vd_reduce_run_io(plan, list, &io), "in_b and out overlap");
    vd_reduce_destroy(plan);
    desc.op = VD_REDUCE_SUM;
    desc.segments = 4;
    plan = vd_reduce_create(m->ctx, &desc);
    io.in_b = none;
    io.offsets = part(m, 2, VD_U32, 8192, 5);
    refused(vd_reduce_run_io(plan, list, &io), "offsets and out overlap");
    vd_reduce_destroy(plan);
}

static void overlapping_scans(memory *m, vd_list *list) {
    vd_scan_desc desc = { 0 };
    vd_scan_io io = { { 0 }, { 0 }, { 0 }, { 0 } };
    vd_scan *plan;
    desc.shape[0] = 1000;
    plan = vd_scan_create(m->ctx, &desc);
    io.in = part(m, 0, VD_F32, 0, 1000);
    io.out = part(m, 1, VD_F32, 16, 1000);
    refused(vd_scan_run(plan, list, &io), "vd_scan_run 'scan': in and out overlap; they must be disjoint or begin at the same byte");
    vd_scan_destroy(plan);
    assert_true(keep_all(m->ctx, VD_F32, 1000, &plan));
    io.count = part(m, 2, VD_U32, 16384, 1);
    refused(vd_scan_run(plan, list, &io), "'compact': in and out overlap");
    io.out = part(m, 1, VD_F32, 16384, 1000);
    refused(vd_scan_run(plan, list, &io), "out and count overlap");
    io.count = part(m, 2, VD_U32, 0, 1);
    refused(vd_scan_run(plan, list, &io), "in and count overlap");
    vd_scan_destroy(plan);
}

static void overlapping_sorts(memory *m, vd_list *list) {
    vd_sort_desc desc = { 0 };
    vd_histogram_desc counts = { 0 };
    vd_sort_io io = { { 0 }, { 0 }, { 0 }, { 0 } };
    desc.count = 1000;
    desc.values = VD_U32;
    vd_sort *plan = vd_sort_create(m->ctx, &desc);
    io.keys = part(m, 0, VD_F32, 0, 1000);
    io.values = part(m, 1, VD_U32, 8192, 1000);
    io.out = part(m, 2, VD_F32, 16, 1000);
    io.out_values = part(m, 3, VD_U32, 16384, 1000);
    refused(vd_sort_run(plan, list, &io), "vd_sort_run 'sort': keys and out overlap; they must be disjoint or begin at the same byte");
    io.out = part(m, 2, VD_F32, 8192, 1000);
    refused(vd_sort_run(plan, list, &io), "out and values overlap");
    io.out = part(m, 2, VD_F32, 16384, 1000);
    refused(vd_sort_run(plan, list, &io), "out and out_values overlap");
    io.out = none;
    io.out_values = part(m, 3, VD_U32, 8208, 1000);
    refused(vd_sort_run(plan, list, &io), "values and out_values overlap; they must be disjoint or begin at the same byte");
    vd_sort_destroy(plan);
    counts.count = 1000;
    counts.bins = 10;
    vd_histogram *histogram = vd_histogram_create(m->ctx, &counts);
    refused(vd_histogram_run(histogram, list, io.keys, part(m, 2, VD_U32, 64, 10)),
            "vd_histogram_run 'histogram': in and out overlap");
    vd_histogram_destroy(histogram);
}

static void overlaps(void **state) {
    memory m = { NULL, { 0 }, { { 0 }, { 0 }, { 0 }, { 0 } } };
    vd_buffer_desc desc = { 0 };
    (void)state;
    m.ctx = context_of(0, 0);
    desc.shape[0] = 1 << 16;
    m.all = vd_buffer_create(m.ctx, &desc);
    overlapping_transforms(&m, vd_immediate(m.ctx, 0, 0));
    overlapping_reductions(&m, vd_immediate(m.ctx, 0, 0));
    overlapping_scans(&m, vd_immediate(m.ctx, 0, 0));
    overlapping_sorts(&m, vd_immediate(m.ctx, 0, 0));
    for (size_t i = 0; i < COUNT(m.view); i++) vd_buffer_destroy(m.ctx, m.view[i]);
    vd_buffer_destroy(m.ctx, m.all);
    nothing_left(m.ctx);
    vd_context_destroy(m.ctx);
}

/* ---- arguments without effect ---- */

static void refused_plan(vd_context *ctx, const void *plan, const char *text) {
    if (plan) fail_msg("\"%s\" is not refused", text);
    refused(vd_error_result(), text);
    nothing_left(ctx);
}

static void fields_of_transforms(vd_context *ctx) {
    vd_fft_desc declares = { 0 }, strides = { 0 }, counts = { 0 }, padded = { 0 };
    vd_convolve_desc convolve = { 0 };
    declares.shape[0] = strides.shape[0] = counts.shape[0] = padded.shape[0] = convolve.shape[0] = 16;
    declares.hook_declare = hook_declare;
    refused_plan(ctx, vd_fft_create(ctx, &declares), "vd_fft_create 'fft': hook_declare is set, but load and store are not");
    strides.in_stride[0] = 1;
    strides.in_stride[1] = 5;
    refused_plan(ctx, vd_fft_create(ctx, &strides), "vd_fft_create 'fft': in_stride[1] is 5, but the shape is 1-dimensional");
    counts.out_count[3] = 3;
    refused_plan(ctx, vd_fft_create(ctx, &counts), "vd_fft_create 'fft': out_count[3] is 3, but the shape is 1-dimensional");
    padded.kind = VD_FFT_REAL;
    padded.padded = true;
    padded.in_stride[0] = 1;
    refused_plan(ctx, vd_fft_create(ctx, &padded), "vd_fft_create 'fft': padded is true, but in_stride[0] is 1");
    convolve.filter_shape[1] = 3;
    refused_plan(ctx, vd_convolve_create(ctx, &convolve), "vd_convolve_create 'convolve': filter_shape[0] is 0, but filter_shape[1] is not");
    uint64_t shape[3] = { 1, 2, 3 };
    vd_convolve_shape(NULL, shape);
    assert_true(!shape[0] && !shape[1] && !shape[2]);
}

static void fields_of_others(vd_context *ctx) {
    vc_kernel *k = vc_begin(NULL);
    vd_reduce_desc reduce = { 0 };
    vd_scan_desc scan = { 0 };
    reduce.shape[0] = scan.shape[0] = 16;
    reduce.identity = scan.identity = vc_f32(1);
    refused_plan(ctx, vd_reduce_create(ctx, &reduce), "vd_reduce_create 'reduce': identity is set, but combine is not");
    refused_plan(ctx, vd_scan_create(ctx, &scan), "vd_scan_create 'scan': identity is set, but combine is not");
    reduce.combine.build = scan.combine.build = same;
    reduce.identity = scan.identity = nothing;
    refused_plan(ctx, vd_reduce_create(ctx, &reduce), "vd_reduce_create 'reduce': combine is set, but identity is not");
    refused_plan(ctx, vd_scan_create(ctx, &scan), "vd_scan_create 'scan': combine is set, but identity is not");
    reduce.identity = scan.identity = vc_const(k, vc_f32(1));
    refused_plan(ctx, vd_reduce_create(ctx, &reduce), "vd_reduce_create 'reduce': identity is a value of a kernel, but must be an immediate");
    refused_plan(ctx, vd_scan_create(ctx, &scan), "vd_scan_create 'scan': identity is a value of a kernel, but must be an immediate");
    vc_free(k);
    memset(&reduce, 0, sizeof reduce);
    reduce.shape[0] = 16;
    reduce.op = VD_REDUCE_MEAN;
    reduce.correction = 1;
    refused_plan(ctx, vd_reduce_create(ctx, &reduce), "vd_reduce_create 'reduce': correction is 1, but op is VD_REDUCE_MEAN; only VD_REDUCE_VARIANCE");
}

/* Passes, one at a time, each buffer that a plan does not use. */
static void buffers_without_use(vd_context *ctx) {
    static const char *const of_reduce[] = { "in_b must be {0}, because desc.op is not VD_REDUCE_DOT",
        "offsets must be {0}, because desc.segments is 0", "extra_out must be {0}, because desc.extra_out is false" };
    static const char *const of_scan[] = { "segment_heads must be {0}, because desc.segmented is false",
                                           "count must be {0}, because the plan is not a compaction" };
    static const char *const of_sort[] = { "values must be {0}, because desc.values is 0",
                                           "out_values must be {0}, because desc.values is 0" };
    vd_reduce_desc reduce = { 0 };
    vd_scan_desc scan = { 0 };
    vd_sort_desc sort = { 0 };
    reduce.shape[0] = scan.shape[0] = sort.count = 16;
    vd_reduce *r = vd_reduce_create(ctx, &reduce);
    vd_scan *s = vd_scan_create(ctx, &scan);
    vd_sort *o = vd_sort_create(ctx, &sort);
    vd_buffer in = buffer_of(ctx, VD_F32, 16, NULL), out = buffer_of(ctx, VD_F32, 16, NULL),
              more = buffer_of(ctx, VD_U32, 17, NULL);
    vd_list *list = vd_immediate(ctx, 0, 0);
    for (int i = 0; i < 3; i++) {
        vd_reduce_io io = { { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, NULL, 0 };
        io.in = in;
        io.out = out;
        assert_int_equal(vd_reduce_run_io(r, list, &io), VD_OK);
        *(i == 0 ? &io.in_b : i == 1 ? &io.offsets : &io.extra_out) = more;
        refused(vd_reduce_run_io(r, list, &io), of_reduce[i]);
    }
    for (int i = 0; i < 2; i++) {
        vd_scan_io of = { { 0 }, { 0 }, { 0 }, { 0 } };
        vd_sort_io io = { { 0 }, { 0 }, { 0 }, { 0 } };
        of.in = io.keys = in;
        of.out = io.out = out;
        *(i ? &of.count : &of.segment_heads) = more;
        refused(vd_scan_run(s, list, &of), of_scan[i]);
        *(i ? &io.out_values : &io.values) = more;
        refused(vd_sort_run(o, list, &io), of_sort[i]);
    }
    vd_reduce_destroy(r);
    vd_scan_destroy(s);
    vd_sort_destroy(o);
    vd_buffer_destroy(ctx, in);
    vd_buffer_destroy(ctx, out);
    vd_buffer_destroy(ctx, more);
}

static void without_effect(void **state) {
    vd_context *ctx = context_of(0, 0);
    (void)state;
    fields_of_transforms(ctx);
    fields_of_others(ctx);
    buffers_without_use(ctx);
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

/* ---- unknown words in environment variables; empty ones are ignored ---- */

static void environment(void **state) {
    vd_context *ctx = context_of(0, 0);
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        setenv("VKDISPATCH_FFT_SHAPES", "nonsense", 1);
        if (make(ctx, (plan_kind)kind, VD_F32, 40)) fail_msg("%s: an unknown word is accepted", names[kind]);
        says(names[kind]);
        says("VKDISPATCH_FFT_SHAPES is 'nonsense', but must be gpu");
        setenv("VKDISPATCH_FFT_SHAPES", "", 1);
        assert_true(make(ctx, (plan_kind)kind, VD_F32, 40));
        unsetenv("VKDISPATCH_FFT_SHAPES");
        if (kind >= REDUCE) continue;
        setenv("VKDISPATCH_FFT", "nonsense", 1);
        assert_false(make(ctx, (plan_kind)kind, VD_F32, 40));
        says(names[kind]);
        says("VKDISPATCH_FFT is 'nonsense', but must be estimate, measure or patient");
        setenv("VKDISPATCH_FFT", "", 1);
        assert_true(make(ctx, (plan_kind)kind, VD_F32, 40));
        unsetenv("VKDISPATCH_FFT");
    }
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

static void no_bins(void **state) {
    vd_context *ctx = context_of(0, 0);
    vd_buffer reals = buffer_of(ctx, VD_F32, 64, NULL);
    (void)state;
    refused(vd_fft_real_forward(ctx, reals, none), "vd_fft_real_forward: bins: the buffer handle is 0");
    refused(vd_fft_real_inverse(ctx, none, reals), "vd_fft_real_inverse: bins: the buffer handle is 0");
    vd_buffer_destroy(ctx, reals);
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_elements), cmocka_unit_test(private_memory), cmocka_unit_test(short_rows),
        cmocka_unit_test(missing_types),
        cmocka_unit_test(missing_types_in_memory), cmocka_unit_test(no_memory), cmocka_unit_test(no_memory_for_parts),
        cmocka_unit_test(no_host_memory), cmocka_unit_test(fragments), cmocka_unit_test(fragments_left),
        cmocka_unit_test(small_work_groups),
        cmocka_unit_test(large_tables), cmocka_unit_test(long_axes), cmocka_unit_test(second_buffer),
        cmocka_unit_test(simple_calls), cmocka_unit_test(lists), cmocka_unit_test(overlaps),
        cmocka_unit_test(environment), cmocka_unit_test(no_bins), cmocka_unit_test(without_effect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
