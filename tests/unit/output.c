/* Kernel output on the host: invalid formats and records, building kernels for several devices, and limits of
   messages. */
#include "tests/unit/unit.h"

static void formats_are_read(void **state) {
    static const char *const good[] = {
        ":", ":plain", ":100%%", "f32:%f", "f16 f64x4:%5.3g and % -e%%", "u32x2 i8 bool:%u %c %d", "complex_f32:%a",
        "assert:", "assert:%s%n:%", "f32: f32:%.999f"
    };
    static const char *const bad[] = {
        "", "plain", ":%", ":%d", "f32:", "f32:%", "f32:%d", "u32:%f", "f32:%f %f", "f32 f32:%f", " f32:%f",
        "f32  f32:%f%f", "u33:%u", "f32x5:%f", "f32x1:%f", "f32,f32:%f%f", "complex_f32x2:%f", "complex_:%f",
        "complex f32:%f", "u32:%s", "u32:%n", "u32:%llu", "u32:%*u", "u32:%1000u", "f32:%.1000f", "u32:%------u",
        "assert", "assert f32:x", "f32x2x2:%f"
    };
    vd__format f;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!vd__format_read(good[i], &f)) fail_msg("'%s' is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (vd__format_read(bad[i], &f)) fail_msg("'%s' is accepted", bad[i]);
    assert_true(vd__format_read("u32x2 i8 f64:%u %c %f", &f));
    assert_int_equal(f.words, 5);
    char many[40 * 4 + 200] = "u32";
    for (int i = 1; i < 33; i++) strcat(many, " u32");
    strcat(many, ":");
    for (int i = 0; i < 33; i++) strcat(many, "%u");
    assert_false(vd__format_read(many, &f));
    assert_true(vd__format_read(many + 4, &f) == false && f.type_count == 32); /* a conversion without a type */
}

/* ---- kernels ---- */

static struct { int printed, errors, warnings; char text[4000], message[1100]; } heard;

static void hear(void *user, const char *kernel, const uint32_t id[3], const char *text) {
    (void)user;
    (void)id;
    assert_string_equal(kernel, "talk");
    heard.printed++;
    snprintf(heard.text, sizeof heard.text, "%s", text);
}

static void hear_log(void *user, vd_log_level level, const char *message) {
    (void)user;
    if (level == VD_LOG_INFO) return;
    if (level == VD_LOG_ERROR) heard.errors++;
    else heard.warnings++;
    snprintf(heard.message, sizeof heard.message, "%s", message);
}

static vd_context *context_that_prints(uint64_t bytes) {
    vd_context_desc desc;
    vd_context *ctx = NULL;
    memset(&desc, 0, sizeof desc);
    memset(&heard, 0, sizeof heard);
    desc.backend = VD_BACKEND_DUMMY;
    desc.print = hear;
    desc.log = hear_log;
    desc.print_bytes = bytes;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    return ctx;
}

static vc_kernel *kernel_talk(void) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "talk";
    desc.buffers = VC_BUFFERS_ADDRESS;
    vc_kernel *k = vc_begin(&desc);
    vc_val one = vc_const(k, vc_f64(1));
    vc_printf(k, "%u", vc_global_id(k, 0));
    vc_printf(k, "%255.255f %c %g", vc_vec4(one, one, one, one), vc_cast(VC_I8, vc_global_id(k, 0)),
              vc_complex(vc_cast(VC_F16, one), vc_f16(2)));
    vc_assert(k, vc_eq(vc_global_id(k, 0), vc_u32(0)), "no % is read here");
    return k;
}

/* The desc of a kernel, for tests to corrupt. */
typedef struct plan {
    vd_kernel_desc desc;
    vd_arg_info args[8];
    vd_implicit_info hidden[16];
    const char *formats[8];
} plan;

static void plan_of(vc_kernel *k, plan *p) {
    size_t words = 0;
    memset(p, 0, sizeof *p);
    p->desc.code = vc_spirv(k, &words);
    p->desc.code_size = 4 * words;
    const vc_info *info = vc_reflect(k);
    assert_non_null(info);
    for (int i = 0; i < info->arg_count; i++) vc__glue_arg(&p->args[i], &info->args[i]);
    for (int i = 0; i < info->implicit_count; i++) vc__glue_implicit(&p->hidden[i], &info->implicit[i]);
    for (int i = 0; i < info->format_count; i++) p->formats[i] = info->formats[i];
    p->desc.name = info->name;
    p->desc.args = p->args;
    p->desc.arg_count = info->arg_count;
    p->desc.implicit = p->hidden;
    p->desc.implicit_count = info->implicit_count;
    p->desc.argument_bytes = info->argument_bytes;
    p->desc.formats = p->formats;
    p->desc.format_count = info->format_count;
    p->desc.features = info->features;
}

static void output_refused(vd_context *ctx, const plan *p, const char *part) {
    vd_error_set(VD_OK, "nothing");
    assert_int_equal(vd_kernel_create(ctx, &p->desc).id, 0);
    CHECK_TEXT("vd_kernel_create 'talk': ");
    CHECK_TEXT(part);
}

static void descs_that_print_are_checked(void **state) {
    vd_context *ctx = context_that_prints(0);
    vc_kernel *k = kernel_talk();
    plan p;
    int output = 0;
    (void)state;
    plan_of(k, &p);
    while (p.hidden[output].kind != VD_IMPLICIT_OUTPUT) output++;
    assert_int_not_equal(vd_kernel_create(ctx, &p.desc).id, 0);
    p.formats[1] = "f32:%d";
    output_refused(ctx, &p, "format 1 'f32:%d' is invalid: expected \"types:text\", for example \"f32:%f\"");
    p.formats[1] = NULL;
    output_refused(ctx, &p, "format 1 '' is invalid");
    p.desc.format_count = 0;
    output_refused(ctx, &p, "desc.format_count is 0, but a kernel that prints needs 1 to 1024 formats");
    p.desc.format_count = 1025;
    output_refused(ctx, &p, "desc.format_count is 1025, but");
    p.desc.formats = NULL;
    p.desc.format_count = 3;
    output_refused(ctx, &p, "desc.format_count is 3 and desc.formats is NULL");
    plan_of(k, &p);
    p.hidden[output].arg = 5;
    output_refused(ctx, &p, ".arg is 5, but must be the index of a buffer that is not an array");
    plan_of(k, &p);
    p.args[0].type = VD_F32;
    output_refused(ctx, &p, "but the output buffer must be the last argument, and have type u32");
    plan_of(k, &p);
    p.hidden[output].kind = (vd_implicit)7;
    output_refused(ctx, &p, ".kind is 7, but must be 1 to 6");
    plan_of(k, &p);
    p.hidden[output].axis = 3;
    output_refused(ctx, &p, ".axis is 3, but must be 0 to 2");
    plan_of(k, &p);
    p.hidden[output].offset = 2;
    output_refused(ctx, &p, ".offset is 2, but must be a multiple of 4, and its 4 bytes must be inside the argument block of ");
    plan_of(k, &p);
    p.hidden[output ? 0 : 1].kind = VD_IMPLICIT_OUTPUT;
    p.hidden[output ? 0 : 1].axis = 0;
    output_refused(ctx, &p, "2 implicit arguments of kind VD_IMPLICIT_OUTPUT, but the limit is 1");
    vc_free(k);
    vd_context_destroy(ctx);
    vd_context_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    desc.print_bytes = ((uint64_t)1 << 30) + 1;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_ERROR_INVALID);
    CHECK_TEXT("vd_context_create: desc.print_bytes is 1073741825, but the limit is 2^30");
}

/* Processes these words like output of a finished submission. */
static void print_words(vd_context *ctx, const uint32_t *words, uint32_t count) {
    vd_list *l = &ctx->queues[0].open_batch;
    assert_int_equal(vd__output_acquire(l), VD_OK);
    memcpy(l->output->storage.memory.mapped, words, 4 * (size_t)count);
    vd__output_print(ctx, l->output);
    vd__api_end(ctx);
}

static void invalid_records_are_harmless(void **state) {
    enum { WORDS = 64 };
    uint32_t words[WORDS];
    uint64_t seed = 7;
    vd_context *ctx = context_that_prints(4 * WORDS);
    vc_kernel *k = kernel_talk();
    vd_kernel kernel = vd_kernel_build(ctx, k);
    (void)state;
    assert_int_not_equal(kernel.id, 0);
    memset(words, 0, sizeof words);
    words[0] = 5 + 15;
    words[8] = 1;
    words[12] = 77;
    words[13] = 2;
    for (int i = 0; i < 4; i++) words[18 + 2 * i] = 0x40080000u;
    words[25] = 65;
    words[26] = 0x3f800000u;
    words[27] = 0x40000000u;
    print_words(ctx, words, WORDS);
    assert_int_equal(heard.printed, 2);
    assert_int_equal(strlen(heard.text), 1 + 4 * 257 + 3 * 2 + 1 + 3 + strlen("(1, 2)"));
    assert_string_equal(heard.text + strlen(heard.text) - 9, " A (1, 2)");
    words[0]--; /* truncates the last record */
    print_words(ctx, words, WORDS);
    assert_int_equal(heard.printed, 3);
    words[4] = 3; /* a failed assertion without a record, with an invalid format number */
    words[1] = 1;
    print_words(ctx, words, WORDS);
    assert_int_equal(heard.errors, 1);
    assert_int_equal(heard.warnings, 1);
    assert_int_equal(vd_flush(ctx), VD_ERROR_ASSERTION);
    CHECK_TEXT("kernel '': assertion '' failed in an unknown invocation (its record did not fit) and 2 more");
    for (int round = 0; round < 20000; round++) {
        for (uint32_t i = 0; i < WORDS; i++) words[i] = unit_random(&seed) >> (unit_random(&seed) % 32);
        words[0] = unit_random(&seed) % (2 * WORDS);
        for (uint32_t i = 8; i < WORDS; i += 5) words[i] = unit_random(&seed) % 5;
        print_words(ctx, words, WORDS);
    }
    assert_true(heard.printed > 1000);
    assert_int_equal(vd_wait_idle(ctx), VD_ERROR_ASSERTION);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    vc_free(k);
    vd_context_destroy(ctx);
}

/* ---- a driver that copies the output but fails to reset it ---- */

static vd__backend forgetful;
static bool forgets;

static vd_result skip_fill(void *user, const vd__tape_fill *fill) {
    (void)user, (void)fill;
    return VD_OK;
}

static vd_result submit_without_fills(vd__device *dev, uint32_t queue, const vd__submission *s) {
    static const vd__tape_player player = { vd__dummy_play_launch, vd__dummy_play_copy, skip_fill,
                                            vd__dummy_play_image, vd__dummy_play_timestamp, vd__dummy_play_read, NULL };
    if (!forgets || !s->commands) return vd__dummy_queue_submit(dev, queue, s);
    vd__tape_play(dev, s, &player, dev);
    return vd__fail(VD_ERROR_BACKEND, "the fill failed");
}

static void talk_once(vd_context *ctx, vd_kernel kernel, bool own_list) {
    vd_list *l = own_list ? vd_list_begin(ctx, NULL) : vd_immediate(ctx, 0, 0);
    vd_dispatch_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.kernel = kernel;
    desc.threads[0] = 1;
    assert_int_equal(vd_dispatch(l, &desc), VD_OK);
    assert_int_equal(vd_submit(l, NULL, NULL), VD_OK);
}

static void output_is_not_read_twice_if_its_reset_failed(void **state) {
    vd_context *ctx = context_that_prints(0);
    vc_kernel *k = kernel_talk();
    vd_kernel kernel = vd_kernel_build(ctx, k);
    (void)state;
    vc_free(k);
    forgetful = vd__backend_dummy;
    forgetful.queue_submit = submit_without_fills;
    ctx->driver.backend = &forgetful;
    /* the failing submission and the next ones use the immediate list or lists of their own */
    for (int way = 0; way < 4; way++) {
        const vd__buffer *b = (const vd__buffer *)(void *)vd__pool_find(&ctx->buffers, ctx->queues[0].output.id);
        uint32_t *head = (uint32_t *)(void *)vd__dummy_bytes(&b->storage->memory);
        talk_once(ctx, kernel, (way & 1) != 0);
        assert_int_equal(vd_wait_idle(ctx), VD_OK);
        forgets = true;
        head[4] = 1; /* as if an assertion had failed */
        head[5] = 1;
        talk_once(ctx, kernel, (way & 1) != 0);
        forgets = false;
        assert_int_not_equal(vd_wait_idle(ctx), VD_OK);
        vd_wait_idle(ctx); /* report the remaining errors */
        vd_wait_idle(ctx);
        heard.errors = 0;
        for (int round = 0; round < 3; round++) {
            talk_once(ctx, kernel, (way & 2) != 0);
            assert_int_equal(vd_wait_idle(ctx), VD_OK);
        }
        assert_int_equal(heard.errors, 0);
        assert_int_equal(head[4], 0);
    }
    ctx->driver.backend = &vd__backend_dummy;
    vd_context_destroy(ctx);
}

/* A dispatch can have VD_MAX_ARGS buffers, and in addition the output buffer and the buffer of an indirect dispatch. */
static void a_dispatch_that_prints_has_the_most_accesses(void **state) {
    vd_context *ctx = context_that_prints(0);
    vc_kernel *k = kernel_talk();
    vd_record_use uses[VD_MAX_ARGS];
    vd_dispatch_desc desc;
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.kernel = vd_kernel_build(ctx, k);
    desc.indirect = unit_buffer(ctx, "size", VD_U32, 3, NULL);
    for (int i = 0; i < VD_MAX_ARGS; i++) {
        uses[i].buffer = desc.indirect;
        uses[i].access = VD_READ;
    }
    desc.uses = uses;
    desc.use_count = VD_MAX_ARGS;
    vc_free(k);
    vd_list *l = vd_immediate(ctx, 0, 0);
    assert_int_equal(vd_dispatch(l, &desc), VD_OK);
    assert_int_equal(l->dispatch->access_count, VD_MAX_ARGS + 2);
    assert_true(l->dispatch->access_count <= VD__COUNT(l->dispatch->own_accesses));
    vd_context_destroy(ctx);
}

/* Kernels with equal names and formats share one list of formats. */
static void equal_formats_are_shared(void **state) {
    vd_context *ctx = context_that_prints(0);
    vc_kernel *k = kernel_talk();
    (void)state;
    for (int i = 0; i < 10; i++) vd_kernel_destroy(ctx, vd_kernel_build(ctx, k));
    assert_int_equal(ctx->format_count, 3);
    vc_printf(k, "more");
    vd_kernel_build(ctx, k);
    assert_int_equal(ctx->format_count, 7);
    const char *kernel;
    assert_string_equal(vd__format_find(ctx, 1, &kernel)->text, "%u");
    assert_string_equal(vd__format_find(ctx, 7, &kernel)->text, "more");
    assert_null(vd__format_find(ctx, 0, &kernel));
    assert_null(vd__format_find(ctx, 8, &kernel));
    vc_free(k);
    vd_context_destroy(ctx);
}

/* ---- devices with different features ---- */

static vd_kernel kernel_of(vd_context *ctx, vc_type type, uint32_t local, const vc_machine *machine) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "twice";
    desc.local_size[0] = local;
    if (machine) desc.machine = *machine;
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", type, VC_READ_WRITE);
    VC_EACH(k, i) { vc_store(x, i, vc_add(vc_load(x, i), vc_load(x, i))); }
    vd_kernel made = vd_kernel_build(ctx, k);
    vc_free(k);
    return made;
}

static void kernels_must_fit_all_devices(void **state) {
    static const int twice[2] = { 1, 1 };
    vd_context_desc desc;
    vd_context *ctx = NULL;
    vd_kernel_desc form;
    (void)state;
    memset(&desc, 0, sizeof desc);
    memset(&form, 0, sizeof form);
    desc.backend = VD_BACKEND_DUMMY;
    desc.devices = twice;
    desc.device_count = 2;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    assert_int_equal(vd_device_count(ctx), 2);
    assert_int_equal(vd_device_count(NULL), 0);
    vd_device_info *second = &ctx->devices[1].device.info;
    form.code_kind = VD_CODE_SPIRV;
    form.features = VD_FEATURE_F64;
    assert_int_equal(vd__blob_form_match(ctx, &form), 2);
    assert_int_not_equal(kernel_of(ctx, VC_F64, 256, NULL).id, 0);
    vc_machine before = vd_machine(ctx), now;
    second->features &= ~(uint64_t)(VD_FEATURE_F64 | VD_FEATURE_ADDRESS);
    second->limits.max_local_size[0] = 128;
    second->limits.max_groups[1] = 5;
    now = vd_machine(ctx);
    assert_false(before.missing_features & (VC_FEATURE_F64 | VC_FEATURE_ADDRESS));
    assert_int_equal(now.missing_features, before.missing_features | VC_FEATURE_F64 | VC_FEATURE_ADDRESS);
    assert_int_equal(now.max_local_size[0], 128);
    assert_int_equal(now.max_local_size[1], before.max_local_size[1]);
    assert_int_equal(now.max_groups[1], 5);
    assert_int_equal(vd__blob_form_match(ctx, &form), 1);
    assert_int_not_equal(kernel_of(ctx, VC_F32, 128, NULL).id, 0); /* with bindings */
    assert_int_equal(kernel_of(ctx, VC_F64, 128, &now).id, 0);
    CHECK_TEXT("f64");
    assert_int_equal(kernel_of(ctx, VC_F32, 256, NULL).id, 0);
    CHECK_TEXT("local_size[0] is 256");
    vd_context_destroy(ctx);
}

/* ---- undelivered messages ---- */

static struct { int infos; unsigned dropped; uint64_t bytes; char warning[200]; } taken_messages;

static void take_message(void *user, vd_log_level level, const char *message) {
    (void)user;
    taken_messages.infos += level == VD_LOG_INFO;
    taken_messages.bytes += strlen(message);
    if (level != VD_LOG_WARNING || sscanf(message, "%u", &taken_messages.dropped) != 1) return;
    snprintf(taken_messages.warning, sizeof taken_messages.warning, "%s", message);
}

/* Messages queued until a library's call ends, as by a loop that logs endlessly. */
static void queued_messages_are_limited(void **state) {
    enum { MANY = 50000 };
    vd_context_desc desc;
    vd_context *ctx = NULL;
    vd_callback_scope scope;
    (void)state;
    memset(&desc, 0, sizeof desc);
    memset(&taken_messages, 0, sizeof taken_messages);
    desc.backend = VD_BACKEND_DUMMY;
    desc.log = take_message;
    desc.print_bytes = 4096;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    for (int round = 0; round < 2; round++) {
        memset(&taken_messages, 0, sizeof taken_messages);
        vd_callback_scope_begin(ctx, "a library", &scope);
        for (int i = 0; i < MANY; i++) vd__logf(&ctx->host, VD_LOG_INFO, "message %d of many", i);
        vd_callback_scope_end(&scope);
        assert_true(taken_messages.bytes < 1 << 20);
        assert_true(taken_messages.infos > 1000 && taken_messages.infos < MANY);
        assert_int_equal(taken_messages.infos + (int)taken_messages.dropped, MANY);
        assert_non_null(strstr(taken_messages.warning, " messages were dropped: more than 1048576 bytes waited"));
    }
    vd_context_destroy(ctx);
}

/* ---- contexts whose log callbacks use each other ---- */

static struct { vd_context *ctx; int heard, depth; } pair[2];

/* Causes a log message: the cache directory does not exist. */
static void log_something(vd_context *ctx) { vd_cache_store(ctx, "log", "key", 3, "data", 4); }

/* Makes the other context log too. */
static void log_to_the_other(void *user, vd_log_level level, const char *message) {
    int self = user == &pair[1];
    (void)level, (void)message;
    pair[self].heard++;
    assert_int_equal(pair[self].depth, 0);
    assert_true(pair[self].heard < 10);
    pair[self].depth++;
    if (pair[1 - self].ctx) log_something(pair[1 - self].ctx);
    pair[self].depth--;
}

static void log_callbacks_that_trigger_each_other_terminate(void **state) {
    (void)state;
    memset(pair, 0, sizeof pair);
    for (int i = 0; i < 2; i++) {
        vd_context_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.backend = VD_BACKEND_DUMMY;
        desc.log = log_to_the_other;
        desc.log_user = &pair[i];
        desc.cache_directory = "build/no such folder";
        assert_int_equal(vd_context_create(&desc, &pair[i].ctx), VD_OK);
    }
    pair[0].heard = pair[1].heard = 0;
    log_something(pair[0].ctx);
    assert_int_equal(pair[0].heard, 1);
    assert_int_equal(pair[1].heard, 1);
    log_something(pair[1].ctx);
    assert_int_equal(pair[0].heard, 2);
    assert_int_equal(pair[1].heard, 2);
    for (int i = 0; i < 2; i++) vd_context_destroy(pair[i].ctx);
}

static const struct CMUnitTest output_tests[] = {
    cmocka_unit_test(formats_are_read), cmocka_unit_test(descs_that_print_are_checked),
    cmocka_unit_test(invalid_records_are_harmless), cmocka_unit_test(output_is_not_read_twice_if_its_reset_failed),
    cmocka_unit_test(a_dispatch_that_prints_has_the_most_accesses), cmocka_unit_test(equal_formats_are_shared),
    cmocka_unit_test(kernels_must_fit_all_devices), cmocka_unit_test(queued_messages_are_limited),
    cmocka_unit_test(log_callbacks_that_trigger_each_other_terminate),
};
