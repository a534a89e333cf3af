/* vd_plan_tune: the fastest choice, choices that fail or have other results, timings kept in a context and in its cache
   directory, and mistakes of the library that calls it. */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <glob.h>
#include <unistd.h>

/* ---- a library: out = 2 in, after steps of a random generator, some for each round, that do not change it ---- */

/* ROUNDS: some tens of milliseconds, much more than a delay of the operating system or other programs on the GPU */
enum { COUNT_OF = 1024, ROUNDS = 30000 };

typedef struct choice { uint32_t rounds, added; } choice; /* added: to the results */

typedef struct library_desc { const char *name; } library_desc;

typedef struct library {
    vd_plan base;
    vd_buffer in, out;
    vd_plan_tuner tuner;
    const choice *list;      /* what propose appends in the first call */
    uint32_t listed, refined; /* refined: 1 to append a variant in the second call */
    choice best;             /* the argument of the second call */
    int proposals, builds, accepted; /* calls */
    bool accepts, zero, refuses_build, refuses_record, refuses_prepare;
    vd_type nan;             /* the results are NaN of this type; 0: they are not */
} library;

static vd_result library_make(void *plan, const void *desc) {
    library *p = (library *)plan;
    static uint32_t numbers[COUNT_OF];
    (void)desc;
    for (uint32_t i = 0; i < COUNT_OF; i++) numbers[i] = i + 1;
    p->in = vd_plan_buffer(&p->base, "in", VD_U32, COUNT_OF, numbers);
    p->out = vd_plan_buffer(&p->base, "out", VD_U32, COUNT_OF, NULL);
    return p->in.id && p->out.id ? VD_OK : vd_error_result();
}

static const vd_plan_kind kind = { "library", sizeof(library), sizeof(library_desc), library_make, NULL, NULL };

static uint32_t propose(void *user, void *choices, uint32_t count, const void *best) {
    library *p = (library *)user;
    choice *to = (choice *)choices;
    p->proposals++;
    if (!best) {
        memcpy(to, p->list, p->listed * sizeof *to);
        return p->listed;
    }
    memcpy(&p->best, best, sizeof p->best);
    to[count].rounds = p->best.rounds + 1;
    to[count].added = 0;
    return count + p->refined;
}

static bool accepts(void *user, const void *c) {
    library *p = (library *)user;
    p->accepted++;
    return p->accepts && ((const choice *)c)->rounds < 1000000;
}

static vd_result build(void *user, const void *from, void *trial) {
    library *p = (library *)user;
    const choice *c = (const choice *)from;
    vd_plan_kernel *kernel = (vd_plan_kernel *)trial;
    vc_kernel_desc desc = { 0 };
    p->builds++;
    if (p->refuses_build) return vd_error_set(VD_ERROR_UNSUPPORTED, "no kernel for %u rounds", c->rounds);
    if (!c->rounds) return vd_error_set(VD_ERROR_UNSUPPORTED, "rounds is 0");
    const vd_device_info *device = vd_device(p->base.ctx, 0);
    uint32_t steps = device->type == VD_DEVICE_CPU ? c->rounds : 30 * c->rounds;
    if (device->type == VD_DEVICE_CPU && device->backend == VD_BACKEND_OPENCL) steps = (steps + 7) / 8; /* slow */
    if (!vd_plan_buffer(&p->base, "scratch", VD_U32, 16, NULL).id) return vd_error_result(); /* of the trial */
    desc.name = "library";
    desc.machine = vd_machine(p->base.ctx);
    vc_kernel *k = vc_begin(&desc);
    vc_ref in = vd_plan_kernel_buffer(kernel, k, 0, "in", VC_U32, VC_READ);
    vc_ref out = vd_plan_kernel_buffer(kernel, k, 1, "out", VC_U32, VC_WRITE);
    VC_EACH(k, i) {
        vc_val x = vc_load(in, i);
        vc_ref state = vc_var(k, "state", VC_U32);
        vc_set(state, x);
        VC_FOR(k, j, vc_u32(0), vc_u32(steps)) {
            vc_val s = vc_get(state);
            (void)j;
            s = vc_xor(s, vc_shl(s, vc_u32(13)));
            s = vc_xor(s, vc_shr(s, vc_u32(17)));
            vc_set(state, vc_xor(s, vc_shl(s, vc_u32(5)))); /* xorshift never reaches 0 */
        }
        vc_val changed = vc_add(vc_mul(x, vc_u32(2)), vc_u32(c->added));
        changed = vc_select(vc_eq(vc_get(state), vc_u32(0)), x, changed);
        vc_store(out, i, p->zero ? vc_u32(0) : p->nan ? vc_u32(UINT32_MAX) : changed);
    }
    return vd_plan_kernel_build(&p->base, kernel, k);
}

static vd_result record(void *user, const void *trial, vd_list *list) {
    library *p = (library *)user;
    vd_plan_role roles[2];
    vd_plan_io io;
    vd_dispatch_desc desc;
    memset(roles, 0, sizeof roles);
    memset(&io, 0, sizeof io);
    memset(&desc, 0, sizeof desc);
    roles[0].buffer = p->in;
    roles[1].buffer = p->out;
    io.roles = roles;
    io.role_count = 2;
    desc.threads[0] = COUNT_OF;
    if (p->refuses_record) return vd_error_set(VD_ERROR_UNSUPPORTED, "nothing is recorded");
    return vd_plan_dispatch(list, (const vd_plan_kernel *)trial, &io, &desc);
}

static vd_result prepare(void *user, vd_plan_results *results) {
    library *p = (library *)user;
    if (p->refuses_prepare) return vd_error_set(VD_ERROR_UNSUPPORTED, "nothing is prepared");
    results->buffer = p->out;
    results->type = p->nan ? p->nan : (vd_type)VD_U32;
    results->count = COUNT_OF * sizeof(uint32_t) / vd_type_size(results->type);
    return vd_fill(vd_immediate(p->base.ctx, 0, 0), p->out, 0, VD_WHOLE, NULL, 0);
}

static const choice usual[] = { { ROUNDS, 0 }, { 1, 1 }, { 2, 0 }, { 0, 0 } }; /* slow, wrong, fast, fails */

static library *library_create(vd_context *ctx, uint64_t *field) {
    library_desc desc = { NULL };
    library *p = (library *)vd_plan_create(ctx, &kind, "library_create", &desc);
    if (!p) fail_msg("%s", vd_error_text());
    p->list = usual;
    p->listed = COUNT(usual);
    p->accepts = true;
    p->tuner.name = "rounds";
    p->tuner.fields = field;
    p->tuner.field_count = 1;
    p->tuner.choice_size = sizeof(choice);
    p->tuner.trial_size = sizeof(vd_plan_kernel);
    p->tuner.user = p;
    p->tuner.propose = propose;
    p->tuner.accepts = accepts;
    p->tuner.build = build;
    p->tuner.record = record;
    p->tuner.prepare = prepare;
    return p;
}

static void objects_are(vd_context *ctx, uint64_t buffers) {
    vd_stats stats;
    assert_int_equal(vd_context_stats(ctx, &stats), VD_OK);
    assert_int_equal(stats.buffers, buffers);
    assert_int_equal(stats.kernels, 0);
}

static choice found[VD_PLAN_MAX_CHOICES];
static vd_plan_timings times;

static void tune(library *p) {
    if (vd_plan_tune(&p->base, &p->tuner, found, &times)) fail_msg("%s", vd_error_text());
    objects_are(p->base.ctx, 2);
}

/* Those of `usual` that can be timed, and one variant. */
static void check_usual(bool from_cache) {
    assert_int_equal(times.count, 3);
    assert_int_equal(times.from_cache, from_cache);
    assert_int_equal(times.default_index, 2);
    assert_int_equal(found[2].rounds, ROUNDS);
    assert_in_range(found[0].rounds, 2, 3);
    assert_int_equal(found[0].rounds + found[1].rounds, 5);
    for (uint32_t i = 0; i < times.count; i++) {
        assert_int_equal(found[i].added, 0);
        assert_true(times.ms[i] > 0);
    }
    assert_true(times.ms[0] <= times.ms[1] && times.ms[1] < times.ms[2]);
}

/* ---- measuring ---- */

static void the_fastest_is_found(void **state) {
    uint64_t field = 1;
    (void)state;
    need_device();
    library *p = library_create(device_context, &field);
    p->refined = 1;
    vd_error_set(VD_ERROR_IO, "an earlier failure");
    const char *text = vd_error_text();
    tune(p);
    check_usual(false);
    assert_string_equal(text, "an earlier failure"); /* not those of the trials */
    assert_string_equal(vd_error_text(), "an earlier failure");
    assert_int_equal(vd_error_result(), VD_ERROR_IO);
    assert_int_equal(p->proposals, 2);
    assert_int_equal(p->best.rounds, 2);
    assert_int_equal(p->builds, 5);
    tune(p); /* from the context */
    check_usual(true);
    assert_int_equal(p->builds, 5);
    field = 2;
    tune(p); /* another key */
    check_usual(false);
    assert_int_equal(p->builds, 10);
    p->tuner.name = "others";
    tune(p);
    check_usual(false);
    vd_plan_destroy(p);
    nothing_left(device_context);
}

static void results_need_not_be_compared(void **state) {
    uint64_t field = 3;
    (void)state;
    need_device();
    library *p = library_create(device_context, &field);
    p->tuner.prepare = NULL;
    tune(p);
    assert_int_equal(times.count, 3);
    assert_int_equal(times.default_index, 2);
    assert_int_equal(found[0].rounds + found[1].rounds, 3);
    vd_plan_destroy(p);
}

/* A default that is as fast as the others stays the choice. */
static void one_choice(void **state) {
    static const choice one[] = { { 5, 0 } };
    uint64_t field = 4;
    (void)state;
    need_device();
    library *p = library_create(device_context, &field);
    p->list = one;
    p->listed = 1;
    tune(p);
    assert_int_equal(times.count, 1);
    assert_int_equal(times.default_index, 0);
    assert_int_equal(found[0].rounds, 5);
    p->listed = 0;
    field = 5;
    tune(p); /* nothing to measure */
    assert_int_equal(times.count, 0);
    vd_plan_destroy(p);
}

/* ---- kept timings ---- */

static char folder[64], path[200];

static vd_context *context_with_folder(void) {
    vd_context_desc desc = { 0 };
    vd_context *ctx = NULL;
    desc.cache_directory = folder;
    if (vd_context_create(&desc, &ctx)) fail_msg("%s", vd_error_text());
    return ctx;
}

/* Tunes in a new context. Returns the number of trials that were built. */
static int tune_anew(uint64_t field, bool is_accepted) {
    vd_context *ctx = context_with_folder();
    library *p = library_create(ctx, &field);
    p->refined = 1;
    p->accepts = is_accepted;
    tune(p);
    check_usual(!p->builds);
    int builds = p->builds;
    vd_plan_destroy(p);
    vd_context_destroy(ctx);
    return builds;
}

static void remove_files(const char *pattern) {
    char full[120];
    glob_t files;
    snprintf(full, sizeof full, "%s/%s", folder, pattern);
    if (glob(full, 0, NULL, &files)) return;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        snprintf(path, sizeof path, "%s", files.gl_pathv[i]);
        assert_int_equal(remove(path), 0);
    }
    globfree(&files);
}

static void timings_are_kept_in_files(void **state) {
    choice first[3];
    float ms[3];
    (void)state;
    need_device();
    assert_int_equal(tune_anew(1, true), 5);
    memcpy(first, found, sizeof first);
    memcpy(ms, times.ms, sizeof ms);
    assert_int_equal(tune_anew(1, true), 0);
    assert_memory_equal(first, found, sizeof first);
    assert_memory_equal(ms, times.ms, sizeof ms);
    assert_int_equal(tune_anew(2, true), 5);
    assert_int_equal(tune_anew(1, true), 0);
    assert_int_equal(tune_anew(1, false), 5); /* the plan does not accept the kept choice */
    assert_int_equal(tune_anew(1, true), 0);
    remove_files("vkdispatch-library-*");
}

static void a_damaged_file_is_replaced(void **state) {
    (void)state;
    need_device();
    assert_int_equal(tune_anew(7, true), 5);
    remove_files("vkdispatch-library-*"); /* sets path */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite("damaged", 1, 7, file), 7);
    fclose(file);
    assert_int_equal(tune_anew(7, true), 5);
    assert_int_equal(tune_anew(7, true), 0);
    remove_files("vkdispatch-library-*");
}

/* ---- errors ---- */

static void fails(library *p, vd_result code, const char *text) {
    memset(&times, 0xFF, sizeof times);
    assert_int_equal(vd_plan_tune(&p->base, &p->tuner, found, &times), code);
    assert_string_equal(vd_error_text(), text);
    objects_are(p->base.ctx, 2);
}

/* The default must work; the message is its own. */
static void the_default_fails(void **state) {
    uint64_t field = 6;
    (void)state;
    need_device();
    library *p = library_create(device_context, &field);
    p->refuses_build = true;
    fails(p, VD_ERROR_UNSUPPORTED, "cannot tune 'rounds': no kernel for 30000 rounds");
    assert_int_equal(p->builds, 1);
    p->refuses_build = false;
    p->refuses_prepare = true;
    fails(p, VD_ERROR_UNSUPPORTED, "cannot tune 'rounds': nothing is prepared");
    p->refuses_prepare = false;
    p->refuses_record = true;
    fails(p, VD_ERROR_UNSUPPORTED, "cannot tune 'rounds': nothing is recorded");
    p->tuner.prepare = NULL;
    fails(p, VD_ERROR_UNSUPPORTED, "cannot tune 'rounds': nothing is recorded");
    p->refuses_record = false;
    p->tuner.prepare = prepare;
    p->zero = true;
    fails(p, VD_ERROR_INVALID, "cannot tune 'rounds': the results of the first choice are all zero, or are not numbers");
    p->zero = false;
    for (p->nan = VD_F16; p->nan <= VD_F64; p->nan++)
        fails(p, VD_ERROR_INVALID, "cannot tune 'rounds': the results of the first choice are all zero, or are not numbers");
    vd_plan_destroy(p);
}

static uint32_t too_many(void *user, void *choices, uint32_t count, const void *best) {
    (void)user, (void)choices, (void)count, (void)best;
    return VD_PLAN_MAX_CHOICES + 1;
}

static void refused(library *p, const char *text) {
    fails(p, VD_ERROR_INVALID, text);
    p->tuner.name = "rounds";
    p->tuner.choice_size = sizeof(choice);
    p->tuner.propose = propose;
    p->tuner.accepts = accepts;
    p->tuner.build = build;
    p->tuner.record = record;
}

static void refused_tuners(void **state) {
    vd_context *ctx = dummy_context();
    uint64_t field = 1;
    (void)state;
    library *p = library_create(ctx, &field);
    p->tuner.name = NULL;
    refused(p, "vd_plan_tune '': tuner.name is NULL");
    p->tuner.propose = NULL;
    refused(p, "vd_plan_tune 'rounds': tuner.propose is NULL");
    p->tuner.accepts = NULL;
    refused(p, "vd_plan_tune 'rounds': tuner.accepts is NULL");
    p->tuner.build = NULL;
    refused(p, "vd_plan_tune 'rounds': tuner.build is NULL");
    p->tuner.record = NULL;
    refused(p, "vd_plan_tune 'rounds': tuner.record is NULL");
    p->tuner.choice_size = 0;
    refused(p, "vd_plan_tune 'rounds': tuner.choice_size is 0");
    p->tuner.propose = too_many;
    refused(p, "cannot tune 'rounds': propose returned 41, but must return 0 to 40");
    p->tuner.fields = NULL;
    refused(p, "vd_plan_tune 'rounds': tuner.fields is NULL");
    assert_int_equal(vd_plan_tune(NULL, &p->tuner, found, &times), VD_ERROR_INVALID);
    assert_string_equal(vd_error_text(), "vd_plan_tune: plan is NULL");
    assert_int_equal(vd_plan_tune(&p->base, NULL, found, &times), VD_ERROR_INVALID);
    assert_string_equal(vd_error_text(), "vd_plan_tune: tuner is NULL");
    assert_int_equal(vd_plan_tune(&p->base, &p->tuner, NULL, &times), VD_ERROR_INVALID);
    assert_string_equal(vd_error_text(), "vd_plan_tune: choices is NULL");
    assert_int_equal(vd_plan_tune(&p->base, &p->tuner, found, NULL), VD_ERROR_INVALID);
    assert_string_equal(vd_error_text(), "vd_plan_tune: timings is NULL");
    p->tuner.fields = &field;
    vd_context_destroy(ctx);
    assert_int_equal(vd_plan_tune(&p->base, &p->tuner, found, &times), VD_ERROR_INVALID);
    assert_string_equal(vd_error_text(), "vd_plan_tune 'rounds': the plan's context was destroyed");
    vd_plan_destroy(p);
}

/* The dummy backend executes nothing: the default is the choice, and no kernel is made. */
static void the_dummy_backend_measures_nothing(void **state) {
    vd_context *ctx = dummy_context();
    uint64_t field = 1;
    (void)state;
    library *p = library_create(ctx, &field);
    memset(&times, 0xFF, sizeof times);
    tune(p);
    assert_int_equal(times.count, 0);
    assert_int_equal(times.from_cache, 0);
    assert_int_equal(found[0].rounds, ROUNDS);
    assert_int_equal(p->proposals, 1);
    assert_int_equal(p->builds, 0);
    vd_plan_destroy(p);
    nothing_left(ctx);
    vd_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_is_found), cmocka_unit_test(results_need_not_be_compared),
        cmocka_unit_test(one_choice), cmocka_unit_test(timings_are_kept_in_files),
        cmocka_unit_test(a_damaged_file_is_replaced), cmocka_unit_test(the_default_fails),
        cmocka_unit_test(refused_tuners), cmocka_unit_test(the_dummy_backend_measures_nothing),
    };
    snprintf(folder, sizeof folder, "/tmp/vkdispatch-tuner-XXXXXX");
    if (!mkdtemp(folder)) return 1;
    int failed = RUN_ON_DEVICE(tests);
    remove_files("*"); /* compiled programs too */
    return rmdir(folder) ? 1 : failed;
}
