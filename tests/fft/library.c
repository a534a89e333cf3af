/* Plans of another library, written with vd_plan_*: what they do, and the errors of their callers and authors. */
#include "common.h"

/* ---- a library: out = map(in) * weight(i), with two fragments that may have arguments ---- */

typedef struct scale_desc {
    const char *name;
    uint64_t count;
    vd_fragment map, weight;
    bool fails, keeps_buffer; /* make fails at its end; the plan has a buffer of its own */
} scale_desc;

typedef struct scale_io {
    vd_buffer in, bias, out;
    const vd_named_arg *args;
    int arg_count;
} scale_io;

typedef struct scale {
    vd_plan base;
    scale_desc desc;
    vd_plan_fragment map, weight;
    vd_plan_kernel kernel, mapped; /* the second one has only the first fragment */
    vd_buffer own;
} scale;

enum { IN, BIAS, OUT, ROLES };

static int made, released, detached;

static vd_result build(scale *p, vd_plan_kernel *kernel, bool weighted) {
    vc_kernel_desc desc = { 0 };
    vc_val none = { 0, 0 };
    desc.name = "scale";
    desc.machine = vd_machine(p->base.ctx);
    vc_kernel *k = vc_begin(&desc);
    vc_ref out = vd_plan_kernel_buffer(kernel, k, OUT, "out", VC_F32, VC_WRITE | VC_MAY_ALIAS);
    if (weighted) vd_plan_kernel_fragment(kernel, k, &p->weight);
    vc_ref in = vd_plan_kernel_buffer(kernel, k, IN, "in", VC_F32, VC_READ | VC_MAY_ALIAS);
    vd_plan_kernel_fragment(kernel, k, &p->map);
    vc_val factor = vc_param(k, "factor", VC_F32);
    VC_EACH(k, i) {
        vc_val x = vc_load(in, i);
        if (p->map.code.build) x = vd_plan_fragment_build(&p->map, k, x, none, none);
        if (weighted && p->weight.code.build) x = vc_mul(x, vd_plan_fragment_build(&p->weight, k, none, none, i));
        vc_store(out, i, vc_mul(x, factor));
    }
    return vd_plan_kernel_build(&p->base, kernel, k);
}

static vd_result scale_make(void *plan, const void *desc) {
    scale *p = (scale *)plan;
    made++;
    p->desc = *(const scale_desc *)desc;
    if (!p->desc.count) return vd_error_set(VD_ERROR_INVALID, "count is 0");
    p->map.name = "map";
    p->map.code = p->desc.map;
    p->map.in[0] = p->map.out = VC_F32;
    p->map.has_arguments = true;
    p->weight.name = "weight";
    p->weight.code = p->desc.weight;
    p->weight.out = VC_F32;
    p->weight.has_index = p->weight.has_arguments = true;
    vd_result r = vd_plan_fragment_check(&p->base, &p->map);
    if (!r) r = vd_plan_fragment_check(&p->base, &p->weight);
    if (!r && p->desc.keeps_buffer) {
        p->own = vd_plan_buffer(&p->base, "own", VD_U32, p->desc.count, NULL);
        if (!p->own.id) r = vd_error_result();
    }
    if (!r) r = build(p, &p->kernel, true);
    if (!r) r = build(p, &p->mapped, false);
    if (!r && p->desc.fails) r = vd_error_set(VD_ERROR_UNSUPPORTED, "fails is true");
    return r;
}

static void scale_release(void *plan) { (void)plan; released++; }

static void scale_detach(void *plan) {
    if (((scale *)plan)->base.ctx) detached++;
}

static const vd_plan_kind scale_kind = { "scale", sizeof(scale), sizeof(scale_desc), scale_make, scale_release,
                                         scale_detach };

/* Records a dispatch of both kernels, the second one from `out` to itself. */
static vd_result scale_record(void *plan, vd_list *list, const void *user_io) {
    scale *p = (scale *)plan;
    const scale_io *u = (const scale_io *)user_io;
    vd_plan_role roles[ROLES];
    vd_plan_io io = { 0 };
    vd_dispatch_desc desc = { 0 };
    vd_arg factor = vd_f32(2);
    memset(roles, 0, sizeof roles);
    for (int i = 0; i < ROLES; i++) {
        static const char *const names[] = { "in", "bias", "out" };
        roles[i].name = names[i];
        roles[i].type = VD_F32;
        roles[i].count = p->desc.count;
    }
    roles[IN].buffer = u->in;
    roles[BIAS].buffer = u->bias;
    roles[BIAS].unused = "scale has no bias";
    roles[OUT].buffer = u->out;
    roles[OUT].writes = true;
    roles[OUT].in_place = &roles[IN];
    io.roles = roles;
    io.role_count = ROLES;
    io.args = u->args;
    io.arg_count = u->arg_count;
    vd_result r = vd_plan_check(&p->base, &io);
    desc.threads[0] = p->desc.count;
    desc.args = &factor;
    desc.arg_count = 1;
    if (!r) r = vd_plan_dispatch(list, &p->kernel, &io, &desc);
    roles[IN].buffer = u->out;
    return r ? r : vd_plan_dispatch(list, &p->mapped, &io, &desc);
}

static scale *scale_create(vd_context *ctx, const scale_desc *desc) {
    return (scale *)vd_plan_create(ctx, &scale_kind, "scale_create", desc);
}

static vd_result scale_run(scale *p, vd_list *list, const scale_io *io) {
    return vd_plan_run(p, "scale_run", scale_record, list, io);
}

static vd_result scale_all(vd_context *ctx, const scale_desc *desc, const scale_io *io) {
    vd_result r = vd_plan_run_cached(ctx, &scale_kind, scale_record, desc, io);
    return r ? vd_error_amend(r, "scale_all", "", NULL) : VD_OK;
}

/* ---- fragments of a caller ---- */

typedef struct arguments { vc_val shift; vc_ref weights; } arguments;

static arguments refs;

static void declare_shift(vc_kernel *k, void *user) { ((arguments *)user)->shift = vc_param(k, "shift", VC_F32); }

static void shifted(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k;
    io->out = vc_add(io->in[0], ((arguments *)user)->shift);
}

static void declare_weights(vc_kernel *k, void *user) {
    ((arguments *)user)->weights = vc_buffer(k, "weights", VC_F32, VC_READ);
}

static void weight(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k;
    io->out = vc_load(((arguments *)user)->weights, io->index);
}

static void one(vc_kernel *k, vd_fragment_io *io, void *user) { (void)k, (void)user; io->out = vc_i32(1); }

static void whole(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_cast(VC_I32, io->in[0]);
}

static void nothing(vc_kernel *k, vd_fragment_io *io, void *user) { (void)k, (void)io, (void)user; }

static scale_desc desc_of(uint64_t count) {
    scale_desc desc;
    memset(&desc, 0, sizeof desc); /* descs are compared byte by byte */
    desc.count = count;
    desc.map.build = shifted;
    desc.map.declare = declare_shift;
    desc.weight.build = weight;
    desc.weight.declare = declare_weights;
    desc.map.user = desc.weight.user = &refs;
    return desc;
}

/* The whole text of the last error. */
static void error_is(const char *text) { assert_string_equal(vd_error_text(), text); }

static void refused(vd_result r, const char *text) {
    assert_int_equal(r, VD_ERROR_INVALID);
    error_is(text);
}

static void not_made(vd_context *ctx, const scale_desc *desc, const char *text) {
    assert_null(scale_create(ctx, desc));
    assert_int_equal(vd_error_result(), VD_ERROR_INVALID);
    error_is(text);
    nothing_left(ctx);
}

/* ---- results ---- */

enum { COUNT_OF = 1000 };

/* Two fragments with arguments, in a kernel that has both and in one that has the first alone; other order of names. */
static void results(void **state) {
    static float x[COUNT_OF], w[COUNT_OF], y[COUNT_OF];
    (void)state;
    need_device();
    scale_desc desc = desc_of(COUNT_OF);
    for (int i = 0; i < COUNT_OF; i++) x[i] = (float)i, w[i] = (float)(i % 7);
    vd_buffer in = buffer_of(device_context, VD_F32, COUNT_OF, x);
    vd_buffer out = buffer_of(device_context, VD_F32, COUNT_OF, NULL);
    vd_buffer weights = buffer_of(device_context, VD_F32, COUNT_OF, w), none = { 0 };
    vd_named_arg args[] = { { "weights", vd_b(weights) }, { "shift", vd_f32(3) } };
    scale_io io = { in, none, out, args, 2 };
    scale *p = scale_create(device_context, &desc);
    if (!p) fail_msg("%s", vd_error_text());
    for (int cached = 0; cached < 2; cached++) {
        vd_list *list = vd_immediate(device_context, 0, 0);
        io.in = cached ? out : in; /* in place, from the results of the first round */
        if (cached ? scale_all(device_context, &desc, &io) : scale_run(p, list, &io)) fail_msg("%s", vd_error_text());
        assert_int_equal(vd_buffer_read(device_context, out, 0, y, VD_WHOLE), VD_OK);
        for (int i = 0; i < COUNT_OF; i++) {
            x[i] = ((x[i] + 3) * w[i] * 2 + 3) * 2;
            if (y[i] != x[i]) fail_msg("%d: %g instead of %g", i, (double)y[i], (double)x[i]);
        }
    }
    assert_int_equal(p->base.argument_count, 2);
    assert_string_equal(p->base.arguments[0].name, "shift");
    assert_string_equal(p->base.arguments[1].name, "weights");
    assert_int_equal(p->base.arguments[0].type, VD_F32);
    assert_int_equal(p->base.arguments[1].access, VD_READ);
    vd_plan_destroy(p);
    vd_buffer_destroy(device_context, in);
    vd_buffer_destroy(device_context, out);
    vd_buffer_destroy(device_context, weights);
}

/* ---- errors ---- */

static void refused_descs(void **state) {
    vd_context *ctx = dummy_context();
    (void)state;
    scale_desc desc = desc_of(0);
    not_made(ctx, NULL, "scale_create: desc is NULL");
    assert_null(scale_create(NULL, &desc));
    error_is("scale_create 'scale': ctx is NULL");
    scale_desc any = { 0 };
    assert_null(vd_plan_create(ctx, NULL, "scale_create", &any));
    error_is("scale_create: kind is NULL");
    vd_plan_kind unmade = scale_kind;
    unmade.make = NULL;
    assert_null(vd_plan_create(ctx, &unmade, "scale_create", &any));
    error_is("scale_create 'scale': kind->make is NULL");
    not_made(ctx, &desc, "scale_create 'scale': count is 0");
    desc = desc_of(8);
    desc.name = "mine";
    desc.map.build = NULL;
    not_made(ctx, &desc, "scale_create 'mine': map.declare is set, but map.build is not");
    desc = desc_of(8);
    desc.weight.declare = declare_shift;
    not_made(ctx, &desc, "scale_create 'scale': weight.declare declares argument 'shift', but the plan already has an "
                         "argument of this name");
    desc.weight.build = one;
    desc.weight.declare = NULL;
    vd_plan_destroy(scale_create(ctx, &desc)); /* immediates are converted */
    nothing_left(ctx);
    desc.map.build = whole;
    not_made(ctx, &desc, "scale_create 'scale': map: io->out is i32, but f32 is expected");
    desc.map.build = nothing;
    not_made(ctx, &desc, "scale_create 'scale': map: io->out is not set");
    desc = desc_of(8);
    desc.fails = desc.keeps_buffer = true; /* what was made is destroyed */
    assert_null(scale_create(ctx, &desc));
    assert_int_equal(vd_error_result(), VD_ERROR_UNSUPPORTED);
    error_is("scale_create 'scale': fails is true");
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

static void refused_runs(void **state) {
    vd_context *ctx = dummy_context(), *other = dummy_context();
    vd_list *list = vd_immediate(ctx, 0, 0);
    scale_desc desc = desc_of(8);
    (void)state;
    vd_buffer in = buffer_of(ctx, VD_F32, 8, NULL), out = buffer_of(ctx, VD_F32, 8, NULL), none = { 0 };
    vd_buffer small = buffer_of(ctx, VD_F32, 7, NULL), words = buffer_of(ctx, VD_U32, 8, NULL);
    vd_named_arg args[] = { { "shift", vd_f32(1) }, { "weights", vd_b(in) }, { "shift", vd_f32(1) } };
    vd_named_arg wrong[] = { { "shifts", vd_f32(1) }, { NULL, vd_f32(1) } };
    vd_named_arg types[] = { { "shift", vd_u32(1) }, { "weights", vd_b(words) } };
    scale_io io = { in, none, out, args, 2 };
    scale *p = scale_create(ctx, &desc);
    if (!p) fail_msg("%s", vd_error_text());
    assert_int_equal(scale_run(p, list, &io), VD_OK);
    refused(scale_run(NULL, list, &io), "scale_run: plan is NULL");
    refused(scale_run(p, list, NULL), "scale_run 'scale': io is NULL");
    refused(scale_run(p, NULL, &io), "scale_run 'scale': the list is NULL");
    refused(vd_plan_run(p, "scale_run", NULL, list, &io), "scale_run 'scale': run is NULL");
    refused(scale_run(p, vd_immediate(other, 0, 0), &io), "scale_run 'scale': the list belongs to another context");
    io.in = none;
    refused(scale_run(p, list, &io), "scale_run 'scale': in: the buffer handle is 0");
    io.in = small;
    refused(scale_run(p, list, &io),
            "scale_run 'scale': buffer 'numbers' (in) has 28 bytes, but the plan needs 32");
    io.in = words;
    refused(scale_run(p, list, &io),
            "scale_run 'scale': buffer 'numbers' (in) has type u32, but f32 is expected");
    io.in = in;
    io.bias = in;
    refused(scale_run(p, list, &io), "scale_run 'scale': bias must be {0}, because scale has no bias");
    io.bias = none;
    io.arg_count = 1;
    refused(scale_run(p, list, &io), "scale_run 'scale': argument 'weights' is missing");
    io.arg_count = 3;
    refused(scale_run(p, list, &io), "scale_run 'scale': argument 'shift' is passed twice");
    io.arg_count = -1;
    refused(scale_run(p, list, &io), "scale_run 'scale': arg_count is -1, but must not be negative");
    io.args = NULL;
    io.arg_count = 2;
    refused(scale_run(p, list, &io), "scale_run 'scale': arg_count is 2, but args is NULL");
    io.args = wrong;
    io.arg_count = 1;
    refused(scale_run(p, list, &io), "scale_run 'scale': the plan has no argument 'shifts'");
    io.args = wrong + 1;
    refused(scale_run(p, list, &io), "scale_run 'scale': the plan has no argument ''");
    io.args = types;
    io.arg_count = 2;
    refused(scale_run(p, list, &io),
            "scale_run 'scale': argument 1 'weights' is a buffer of u32, but the kernel expects a buffer of f32");
    io.args = NULL;
    io.arg_count = 0;
    refused(scale_all(ctx, &desc, &io), "scale_all: argument 'shift' is missing");
    desc.count = 0;
    refused(scale_all(ctx, &desc, &io), "scale_all: count is 0");
    vd_plan_destroy(p);
    vd_context_destroy(other);
    vd_context_destroy(ctx);
}

/* ---- mistakes of the library ---- */

static void waits(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)user;
    vc_barrier(k);
    io->out = vc_f32(1);
}

static void refused_kernels(void **state) {
    vd_context *ctx = dummy_context();
    scale_desc desc = desc_of(8);
    vd_plan_kernel kernel = { 0 };
    vd_plan_io io = { 0 };
    vd_dispatch_desc dispatch = { 0 };
    vc_kernel_desc kernel_desc = { 0 };
    (void)state;
    scale *p = scale_create(ctx, &desc);
    if (!p) fail_msg("%s", vd_error_text());
    assert_int_equal(vd_plan_kernel_build(&p->base, &kernel, NULL), VD_ERROR_OUT_OF_MEMORY); /* vc_begin failed */
    kernel_desc.name = "many";
    kernel_desc.machine = vd_machine(ctx);
    vc_kernel *k = vc_begin(&kernel_desc);
    for (uint32_t i = 0; i < VD_PLAN_MAX_KERNEL_ARGS + 1; i++)
        vd_plan_kernel_buffer(&kernel, k, 0, "in", VC_F32, VC_READ);
    assert_int_equal(vd_plan_kernel_build(&p->base, &kernel, k), VD_ERROR_UNSUPPORTED);
    error_is("a kernel has 33 declarations of buffers and of arguments of fragments, but the limit is 32");
    assert_int_equal(kernel.count, 0);
    dispatch.arg_count = VD_MAX_ARGS;
    refused(vd_plan_dispatch(vd_immediate(ctx, 0, 0), &p->kernel, &io, &dispatch),
            "arg_count is 64, but must be 0 to 60");
    vd_plan_fragment longest = { 0 };
    longest.name = "a_fragment_of_a_library_whose_name_has_fifty_bytes";
    longest.code.build = waits;
    longest.out = VC_F32;
    assert_int_equal(vd_plan_fragment_check(&p->base, &longest), VD_ERROR_INVALID);
    assert_non_null(strstr(vd_error_text(), "has_fifty_bytes runs in divergent control flow: vc_barrier"));
    vd_plan_destroy(p);
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

/* ---- lifetimes ---- */

/* Plans destroyed after their context; a cached one is destroyed by the context, before it detaches the others. */
static void destroyed_context(void **state) {
    vd_context *ctx = dummy_context();
    scale_desc desc = desc_of(8);
    (void)state;
    made = released = detached = 0;
    desc.keeps_buffer = true;
    vd_buffer in = buffer_of(ctx, VD_F32, 8, NULL), out = buffer_of(ctx, VD_F32, 8, NULL), none = { 0 };
    vd_named_arg args[] = { { "shift", vd_f32(1) }, { "weights", vd_b(in) } };
    scale_io io = { in, none, out, args, 2 };
    scale *p[3];
    for (int i = 0; i < 3; i++) {
        p[i] = scale_create(ctx, &desc);
        if (!p[i]) fail_msg("%s", vd_error_text());
    }
    vd_plan_destroy(p[1]);
    for (int i = 0; i < 3; i++) {
        if (i == 2) desc.count = 7; /* another plan */
        assert_int_equal(scale_all(ctx, &desc, &io), VD_OK);
    }
    assert_int_equal(made, 5);
    assert_int_equal(released, 1);
    vd_context_destroy(ctx);
    assert_int_equal(released, 3);
    assert_int_equal(detached, 2);
    assert_null(p[0]->base.ctx);
    refused(scale_run(p[0], NULL, &io),
            "scale_run 'scale': the plan's context was destroyed; the plan cannot be run any more");
    vd_plan_destroy(p[0]);
    vd_plan_destroy(p[2]);
    vd_plan_destroy(NULL);
    assert_int_equal(released, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results), cmocka_unit_test(refused_descs), cmocka_unit_test(refused_runs),
        cmocka_unit_test(refused_kernels), cmocka_unit_test(destroyed_context),
    };
    return RUN_ON_DEVICE(tests);
}
