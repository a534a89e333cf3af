/* vc_printf and vc_assert: kernels print the same text as printf on the host; only records that do not fit are lost,
   and this is reported. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"

#include <math.h>
#include <pthread.h>

/* ---- received output ---- */

enum { RECORDS = 40000, LENGTH = 480 };

typedef struct record { uint32_t id[3]; char *text; } record;

/* Output arrives on one thread at a time here. */
static struct {
    record *at;
    uint32_t count;
    char kernel[64], info[256], warning[256], error[256];
    int infos, warnings, errors;
} heard;

static void forget(void) {
    for (uint32_t i = 0; i < heard.count; i++) free(heard.at[i].text);
    free(heard.at);
    memset(&heard, 0, sizeof heard);
}

static void hear(void *user, const char *kernel, const uint32_t id[3], const char *text) {
    assert_ptr_equal(user, &heard);
    if (!heard.at) heard.at = (record *)calloc(RECORDS, sizeof *heard.at);
    assert_non_null(heard.at);
    assert_true(heard.count < RECORDS);
    record *r = &heard.at[heard.count++];
    memcpy(r->id, id, sizeof r->id);
    r->text = strdup(text);
    snprintf(heard.kernel, sizeof heard.kernel, "%s", kernel);
}

static void hear_log(void *user, vd_log_level level, const char *message) {
    (void)user;
    if (level == VD_LOG_INFO) { snprintf(heard.info, sizeof heard.info, "%s", message); heard.infos++; }
    if (level == VD_LOG_WARNING && strstr(message, "print_bytes")) {
        snprintf(heard.warning, sizeof heard.warning, "%s", message);
        heard.warnings++;
    }
    if (level == VD_LOG_ERROR) { snprintf(heard.error, sizeof heard.error, "%s", message); heard.errors++; }
}

static vd_context_desc desc_that_prints(fixture *f, int form, uint64_t bytes, int devices, int queues) {
    vd_context_desc desc = fixture_desc(f);
    desc.log = hear_log;
    desc.disable = form ? VD_FEATURE_ADDRESS : 0;
    desc.print = hear;
    desc.print_user = &heard;
    desc.print_bytes = bytes;
    desc.devices = devices_of(f);
    desc.device_count = devices;
    desc.queues = queues;
    return desc;
}

static vd_context *context_that_prints(fixture *f, int form, uint64_t bytes, int devices, int queues) {
    vd_context_desc desc = desc_that_prints(f, form, bytes, devices, queues);
    vd_context *ctx = context_with(f, &desc);
    forget();
    return ctx;
}

/* ---- every conversion and type ---- */

static const char *const signed_formats[] = {
    "%d", "%+5i|", "%-6d|", "% 05d", "%.3d", "%lld", "%x", "%#o", "%X", "%c", NULL
};
static const char *const unsigned_formats[] = {
    "%u", "%08u", "%-12u|", "%.7u", "%x", "%#X", "%#018x", "%o", "%c", "%4c|", NULL
};
static const char *const bool_formats[] = { "%d", "%u", "%3i|", NULL };
static const char *const float_formats[] = {
    "%f", "%.2f", "%+e", "%G", "%10.3g|", "%-12g|", "%a", "%.3A", "%#g", "%lf", "% E", "%020F", "%.0f", NULL
};

enum { VALUES = 12 };

static const struct kind {
    vc_type type;
    uint64_t needs;
    const char *const *formats;
    uint64_t bits[VALUES];
} kinds[] = {
    { VC_BOOL, 0, bool_formats, { 0, 1 } },
    { VC_I8, VC_FEATURE_STORAGE_8 | VC_FEATURE_I8, signed_formats, { 0, 1, 0x7f, 0x80, 0xff, 65, 10 } },
    { VC_I16, VC_FEATURE_STORAGE_16 | VC_FEATURE_I16, signed_formats, { 0, 1, 0x7fff, 0x8000, 0xffff, 97 } },
    { VC_I32, 0, signed_formats, { 0, 1, 0x7fffffff, 0x80000000u, 0xffffffffu, 12345, 48 } },
    { VC_I64, VC_FEATURE_I64, signed_formats, { 0, 1, INT64_MAX, 1ull << 63, UINT64_MAX, 0x123456789abcdefull } },
    { VC_U8, VC_FEATURE_STORAGE_8 | VC_FEATURE_I8, unsigned_formats, { 0, 1, 0x7f, 0x80, 0xff, 66 } },
    { VC_U16, VC_FEATURE_STORAGE_16 | VC_FEATURE_I16, unsigned_formats, { 0, 1, 0x7fff, 0x8000, 0xffff, 98 } },
    { VC_U32, 0, unsigned_formats, { 0, 1, 0x7fffffff, 0x80000000u, 0xffffffffu, 12345 } },
    { VC_U64, VC_FEATURE_I64, unsigned_formats, { 0, 1, INT64_MAX, 1ull << 63, UINT64_MAX, 0x123456789abcdefull } },
    { VC_F16,
      VC_FEATURE_STORAGE_16 | VC_FEATURE_F16,
      float_formats,
      { 0, 0x3c00, 0xbc00, 0x7bff, 0x3555, 0x7c00, 0xfc00, 0x4248 } },
    { VC_F32,
      0,
      float_formats,
      { 0, 0x80000000u, 0x3f800000u, 0xbf800000u, 0x7f7fffffu, 0x7f800000u, 0xff800000u, 0x3eaaaaabu, 0x40490fdbu,
        0x42f6e979u } },
    { VC_F64,
      VC_FEATURE_F64 | VC_FEATURE_I64,
      float_formats,
      { 0, 1ull << 63, 0x3ff0000000000000ull, 0xbff0000000000000ull, 0x7fefffffffffffffull, 0x7ff0000000000000ull,
        0xfff0000000000000ull, 0x3fd5555555555555ull, 0x400921fb54442d18ull, 1 } },
};

static double f16_value(uint64_t bits) {
    int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    double v = exponent == 31 ? INFINITY : exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return bits >> 15 ? -v : v;
}

static double float_value(vc_type type, uint64_t bits) {
    union { uint64_t u; double d; } wide;
    union { uint32_t u; float f; } narrow;
    wide.u = bits;
    narrow.u = (uint32_t)bits;
    return type == VC_F16 ? f16_value(bits) : type == VC_F32 ? (double)narrow.f : wide.d;
}

/* The expected text, by snprintf. Formats have no length modifier, so it is inserted. */
static void expect(char out[LENGTH], const char *format, vc_type type, uint64_t bits) {
    char with[32], letter = format[strcspn(format, "diuxXocfFeEgGaA")];
    size_t at = strcspn(format, "diuxXocfFeEgGaAl");
    uint32_t size = vc_type_size(type), unused = 64 - 8 * size;
    const char *rest = format + at + strspn(format + at, "l");
    bool is_float = strchr("fFeEgGaA", letter) != NULL;
    snprintf(with, sizeof with, "%.*s%s%s", (int)at, format, is_float || letter == 'c' ? "" : "ll", rest);
    if (is_float) snprintf(out, LENGTH, with, float_value(type, bits));
    else if (letter == 'c') {
        snprintf(out, LENGTH, with, (int)(bits & 255));
        /* C prints the zero byte, which vc_printf omits */
        if (!(bits & 255) && out[strlen(out) + 1] == '|') memmove(out + strlen(out), "|", 2);
    } else if (letter == 'd' || letter == 'i')
        snprintf(out, LENGTH, with,
                 type == VC_BOOL ? (long long)bits : (long long)((int64_t)(bits << unused) >> unused));
    else snprintf(out, LENGTH, with, (unsigned long long)bits);
}

/* One invocation per value, which prints it with every format. */
static void print_kind(vd_context *ctx, const struct kind *kind) {
    uint8_t data[8 * VALUES];
    uint32_t size = vc_type_size(kind->type), formats = 0;
    vc_kernel *k = kernel_begin(ctx, "print_kind", 4, 1, 1);
    vc_ref x = vc_buffer(k, "x", kind->type, VC_READ);
    for (uint32_t i = 0; i < VALUES; i++) memcpy(data + i * size, &kind->bits[i], size);
    vd_buffer b = buffer_named(ctx, "x", kind->type, VALUES, data);
    VC_EACH(k, i) {
        for (const char *const *f = kind->formats; *f; f++, formats++) vc_printf(k, *f, vc_load(x, i));
    }
    vd_kernel kernel = kernel_end(ctx, k);
    forget();
    OK(vd_run(ctx, kernel, VALUES, vd_b(b)));
    OK(vd_wait_idle(ctx));
    assert_int_equal(heard.count, VALUES * formats);
    assert_string_equal(heard.kernel, "print_kind");
    uint32_t next[VALUES] = { 0 };
    for (uint32_t i = 0; i < heard.count; i++) { /* records of one invocation are in order */
        char wanted[LENGTH];
        uint32_t id = heard.at[i].id[0];
        assert_true(id < VALUES && heard.at[i].id[1] == 0 && heard.at[i].id[2] == 0 && next[id] < formats);
        const char *format = kind->formats[next[id]++];
        expect(wanted, format, kind->type, kind->bits[id]);
        if (strcmp(wanted, heard.at[i].text))
            fail_msg("'%s' of %s %llx: '%s', not '%s'", format, vc_type_name(kind->type),
                     (unsigned long long)kind->bits[id], heard.at[i].text, wanted);
    }
    vd_kernel_destroy(ctx, kernel);
    vd_buffer_destroy(ctx, b);
}

TEST_EXECUTED(every_conversion_prints_what_the_host_prints) {
    for (int form = 0; form < 2; form++) {
        vd_context *ctx = context_that_prints(f, form, 0, 1, 1);
        for (size_t i = 0; i < COUNT(kinds); i++) {
            uint64_t lacks = vd_machine(ctx).missing_features;
            /* C source does not need the other features */
            if (f->backend == VD_BACKEND_OPENCL || f->backend == VD_BACKEND_CUDA) lacks &= VC_FEATURE_F64;
            if (kinds[i].needs & lacks) print_message("# %s is not had here\n", vc_type_name(kinds[i].type));
            else print_kind(ctx, &kinds[i]);
        }
        forget();
    }
}

/* ---- several operands, vectors, complex numbers, plain text ---- */

static void one_line(vd_context *ctx, vc_kernel *k, const char *wanted) {
    vd_kernel kernel = kernel_end(ctx, k);
    forget();
    OK(vd_run_args(ctx, kernel, 1, 1, 1, NULL, 0));
    OK(vd_wait_idle(ctx));
    assert_int_equal(heard.count, 1);
    assert_string_equal(heard.at[0].text, wanted);
    vd_kernel_destroy(ctx, kernel);
}

TEST_EXECUTED(vectors_and_several_operands) {
    vd_context *ctx = context_that_prints(f, 0, 0, 1, 1);
    vc_kernel *k = kernel_begin(ctx, "vectors", 1, 1, 1);
    vc_val one = vc_const(k, vc_f32(1)), id = vc_global_id(k, 0);
    vc_printf(k, "%.1f and %d, 100%%: %u\n", vc_vec3(one, vc_f32(2.5f), vc_f32(-3)),
              vc_vec2(vc_cast(VC_I32, id), vc_i32(-7)), vc_u32(9));
    one_line(ctx, k, "(1.0, 2.5, -3.0) and (0, -7), 100%: 9\n");
    k = kernel_begin(ctx, "complex", 1, 1, 1);
    vc_printf(k, "%g", vc_complex(vc_cast(VC_F32, id = vc_global_id(k, 0)), vc_f32(2)));
    one_line(ctx, k, "(0, 2)");
    k = kernel_begin(ctx, "plain", 1, 1, 1);
    vc_printf(k, "nothing but %% and \xc3\xa9");
    one_line(ctx, k, "nothing but % and \xc3\xa9");
    k = kernel_begin(ctx, "imm", 1, 1, 1);
    vc_printf(k, "%d", vc_i64(-5000000000));
    one_line(ctx, k, "-5000000000");
    forget();
}

/* ---- many invocations, and too many ---- */

static vd_kernel kernel_count(vd_context *ctx, const char *name) {
    vc_kernel *k = kernel_begin(ctx, name, 8, 8, 1);
    VC_EACH2(k, x, y) { vc_printf(k, "%u", vc_add(vc_mul(y, vc_u32(200)), x)); }
    return kernel_end(ctx, k);
}

static vd_result run_count(vd_list *list, vd_kernel kernel, uint64_t rows) {
    vd_dispatch_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.kernel = kernel;
    desc.threads[0] = 200;
    desc.threads[1] = rows;
    return vd_dispatch(list, &desc);
}

/* Checks that each record is complete and that no invocation printed twice. Returns the number of records. */
static uint32_t check_count(uint32_t rows) {
    uint8_t *seen = (uint8_t *)calloc(200, rows);
    assert_non_null(seen);
    for (uint32_t i = 0; i < heard.count; i++) {
        const record *r = &heard.at[i];
        uint32_t at = 200 * r->id[1] + r->id[0];
        assert_true(r->id[0] < 200 && r->id[1] < rows && r->id[2] == 0);
        assert_int_equal(strtoul(r->text, NULL, 10), at);
        assert_int_equal(seen[at]++, 0);
    }
    free(seen);
    return heard.count;
}

TEST_EXECUTED(many_invocations_print_once_each) {
    for (int form = 0; form < 2; form++) {
        vd_context *ctx = context_that_prints(f, form, 0, 1, 1);
        vd_kernel kernel = kernel_count(ctx, "count");
        OK(run_count(vd_immediate(ctx, 0, 0), kernel, 150));
        OK(vd_wait_idle(ctx));
        assert_int_equal(check_count(150), 30000);
        assert_int_equal(heard.warnings, 0);
        forget();
    }
}

TEST_EXECUTED(lost_records_are_reported_once) {
    for (int form = 0; form < 2; form++) {
        char wanted[200];
        const int bytes = 4 * (8 + 5 * 1000 + 3);
        vd_context *ctx = context_that_prints(f, form, (uint64_t)bytes, 1, 1);
        vd_kernel kernel = kernel_count(ctx, "count"), other = kernel_count(ctx, "other");
        OK(run_count(vd_immediate(ctx, 0, 0), kernel, 100));
        OK(vd_wait_idle(ctx));
        assert_int_equal(check_count(100), 1000);
        assert_int_equal(heard.warnings, 1);
        snprintf(wanted, sizeof wanted, "19000 records of kernel 'count' did not fit into the %d bytes of vd_context_desc.print_bytes", bytes);
        assert_string_equal(heard.warning, wanted);
        forget(); /* the next one starts empty and does not read old records */
        OK(run_count(vd_immediate(ctx, 0, 0), kernel, 5));
        OK(vd_wait_idle(ctx));
        assert_int_equal(check_count(5), 1000);
        assert_int_equal(heard.warnings, 0);
        forget();
        OK(run_count(vd_immediate(ctx, 0, 0), kernel, 10));
        OK(run_count(vd_immediate(ctx, 0, 0), other, 10));
        OK(vd_wait_idle(ctx));
        assert_int_equal(heard.count, 1000);
        assert_non_null(strstr(heard.warning, "3000 records of kernels 'count', 'other' and possibly others"));
        forget();
    }
}

/* ---- assertions ---- */

static vd_kernel kernel_asserts(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "guarded", 4, 1, 1);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
    vc_val limit = vc_param(k, "limit", VC_U32);
    VC_EACH(k, i) {
        vc_assert(k, vc_lt(vc_load(x, i), limit), "x[i] < 100%d");
        vc_assert(k, vc_bool(true), "never");
        vc_store(x, i, vc_add(vc_load(x, i), vc_u32(1)));
    }
    return kernel_end(ctx, k);
}

TEST_EXECUTED(assertions_are_reported_once) {
    for (int form = 0; form < 2; form++) {
        const uint32_t data[9] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
        vd_context *ctx = context_that_prints(f, form, 0, 1, 1);
        vd_kernel kernel = kernel_asserts(ctx);
        vd_buffer x = buffer_u32(ctx, "x", 9, data);
        vd_event event;
        OK(vd_run(ctx, kernel, 9, vd_b(x), vd_u32(9)));
        OK(vd_wait_idle(ctx));
        assert_int_equal(heard.errors, 0);
        OK(vd_run(ctx, kernel, 9, vd_b(x), vd_u32(9)));
        OK(vd_submit(vd_immediate(ctx, 0, 0), NULL, &event));
        OK(vd_wait(ctx, event, VD_FOREVER));
        assert_string_equal(heard.error, "kernel 'guarded': assertion 'x[i] < 100%d' failed in invocation (8, 0, 0)");
        assert_int_equal(heard.errors, 1);
        FAILS(vd_wait_idle(ctx), VD_ERROR_ASSERTION, "kernel 'guarded': assertion 'x[i] < 100%d' failed in invocation (8, 0, 0)");
        OK(vd_wait_idle(ctx));
        OK(vd_flush(ctx));
        OK(vd_run(ctx, kernel, 9, vd_b(x), vd_u32(0)));
        FAILS(vd_wait_idle(ctx), VD_ERROR_ASSERTION, "kernel 'guarded'|failed in invocation (|, 0, 0) and 8 more");
        assert_int_equal(read_u32(ctx, x, 8), 11); /* the invocations continued */
        assert_int_equal(heard.errors, 2);
        assert_int_equal(heard.count, 0);
        forget();
    }
}

/* An assertion is reported even if there is no space for its record. */
TEST_EXECUTED(assertions_are_reported_if_the_buffer_is_full) {
    vd_context *ctx = context_that_prints(f, 0, 256, 1, 1);
    vc_kernel *k = kernel_begin(ctx, "full", 1, 1, 1);
    for (int i = 0; i < 20; i++) vc_printf(k, "%u", vc_global_id(k, 0));
    vc_assert(k, vc_ne(vc_global_id(k, 0), vc_u32(0)), "not the first");
    vd_kernel kernel = kernel_end(ctx, k);
    OK(vd_run_args(ctx, kernel, 1, 1, 1, NULL, 0));
    FAILS(vd_wait_idle(ctx), VD_ERROR_ASSERTION, "kernel 'full': assertion 'not the first' failed in an unknown invocation (its record did not fit)");
    assert_int_equal(heard.count, 11);
    assert_non_null(strstr(heard.warning, "10 records of kernel 'full' did not fit"));
    forget();
}

/* ---- lists, queues, devices, order ---- */

TEST_DEVICES_EXECUTED(lists_of_several_queues_and_devices_print) {
    enum { DEVICES = 2, QUEUES = 3, ROUNDS = 4 };
    vd_context *ctx = context_that_prints(f, 0, 0, DEVICES, QUEUES);
    vd_kernel kernel = kernel_count(ctx, "count");
    for (int round = 0; round < ROUNDS; round++)
        for (int d = 0; d < DEVICES; d++)
            for (int q = 0; q < QUEUES; q++) {
                vd_list_desc desc;
                memset(&desc, 0, sizeof desc);
                desc.device = 1 + d;
                desc.queue = q;
                vd_list *list = vd_list_begin(ctx, &desc), *dropped = vd_list_begin(ctx, &desc);
                assert_non_null(list);
                OK(run_count(list, kernel, 1));
                OK(run_count(dropped, kernel, 1));
                OK(run_count(vd_immediate(ctx, d, q), kernel, 1));
                OK(run_count(list, kernel, 1));
                OK(vd_submit(list, NULL, NULL));
                vd_list_discard(dropped);
            }
    vd_kernel_destroy(ctx, kernel);
    OK(vd_wait_idle(ctx));
    assert_int_equal(heard.count, ROUNDS * DEVICES * QUEUES * 3 * 200);
    uint32_t each[200] = { 0 };
    for (uint32_t i = 0; i < heard.count; i++) each[strtoul(heard.at[i].text, NULL, 10) % 200]++;
    for (uint32_t i = 0; i < 200; i++) assert_int_equal(each[i], ROUNDS * DEVICES * QUEUES * 3);
    forget();
}

/* Threads share a queue, create and destroy kernels, and wait: each record is delivered exactly once, by any of
   them. */
enum { THREADS = 4, TURNS = 20 };

static uint32_t heard_by_threads[THREADS * TURNS];

static void hear_threads(void *user, const char *kernel, const uint32_t id[3], const char *text) {
    (void)user;
    (void)kernel;
    (void)id;
    __atomic_add_fetch(&heard_by_threads[strtoul(text, NULL, 10) % (THREADS * TURNS)], 1, __ATOMIC_RELAXED);
}

typedef struct turn { vd_context *ctx; uint32_t thread, failed; } turn;

static void *take_turns(void *user) {
    turn *t = (turn *)user;
    for (uint32_t i = 0; i < TURNS; i++) {
        vc_kernel_desc desc;
        char name[16];
        memset(&desc, 0, sizeof desc);
        snprintf(name, sizeof name, "thread%u", (unsigned)t->thread);
        desc.name = name;
        desc.machine = vd_machine(t->ctx);
        vc_kernel *k = vc_begin(&desc);
        vc_val number = vc_param(k, "number", VC_U32);
        VC_EACH(k, id) { vc_printf(k, "%u", vc_add(number, vc_and(id, vc_u32(0)))); }
        vd_kernel kernel = vd_kernel_build(t->ctx, k);
        vc_free(k);
        t->failed += vd_run(t->ctx, kernel, 3, vd_u32(t->thread * TURNS + i)) != VD_OK;
        if (i % 3 == 0) t->failed += vd_wait_idle(t->ctx) != VD_OK;
        if (i % 3 == 1) t->failed += vd_submit(vd_immediate(t->ctx, 0, 0), NULL, NULL) != VD_OK;
        vd_kernel_destroy(t->ctx, kernel);
    }
    return NULL;
}

TEST(output_of_several_threads) {
    pthread_t threads[THREADS];
    turn turns[THREADS];
    vd_context *ctx = NULL;
    vd_context_desc desc = fixture_desc(f);
    desc.print = hear_threads;
    desc.print_bytes = 1 << 16;
    OK(vd_context_create(&desc, &ctx));
    memset(heard_by_threads, 0, sizeof heard_by_threads);
    for (uint32_t i = 0; i < THREADS; i++) {
        turns[i].ctx = ctx;
        turns[i].thread = i;
        turns[i].failed = 0;
        assert_int_equal(pthread_create(&threads[i], NULL, take_turns, &turns[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(turns[i].failed, 0);
    }
    vd_context_destroy(ctx);
    for (uint32_t i = 0; i < THREADS * TURNS; i++) assert_int_equal(heard_by_threads[i], f->executes ? 3 : 0);
}

/* Pending output is printed by vd_context_destroy, and that of submitted work by a read. */
TEST_EXECUTED(reads_and_vd_context_destroy_deliver_output) {
    const uint32_t data[4] = { 0, 0, 0, 0 };
    vd_context *ctx = NULL;
    vd_context_desc desc = desc_that_prints(f, 0, 0, 1, 1);
    forget();
    OK(vd_context_create(&desc, &ctx));
    vc_kernel *k = kernel_begin(ctx, "late", 1, 1, 1);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_WRITE);
    VC_EACH(k, i) {
        vc_store(x, i, vc_u32(7));
        vc_printf(k, "%u", i);
    }
    vd_kernel kernel = kernel_end(ctx, k);
    vd_buffer b = buffer_u32(ctx, "x", 4, data);
    OK(vd_run(ctx, kernel, 4, vd_b(b)));
    assert_int_equal(heard.count, 0);
    assert_int_equal(read_u32(ctx, b, 3), 7);
    assert_int_equal(heard.count, 4);
    OK(vd_run(ctx, kernel, 3, vd_b(b)));
    vd_context_destroy(ctx);
    assert_int_equal(heard.count, 7);
    forget();
}

/* The shared output buffer does not cause barriers between them. */
TEST_EXECUTED(kernels_that_print_need_no_barriers) {
    vd_context *ctx = context_that_prints(f, 0, 0, 1, 1);
    vd_kernel kernel = kernel_count(ctx, "count");
    uint64_t buffers = stats_of(ctx).buffers, barriers[3]; /* the first one needs no barrier */
    for (int many = 0; many < 3; many++) {
        OK(vd_wait_idle(ctx));
        uint64_t before = stats_of(ctx).barriers;
        for (int i = 0; i < (many == 2 ? 20 : 1); i++) OK(run_count(vd_immediate(ctx, 0, 0), kernel, 1));
        OK(vd_wait_idle(ctx));
        barriers[many] = stats_of(ctx).barriers - before;
    }
    assert_int_equal(barriers[1], barriers[2]);
    assert_int_equal(heard.count, 22 * 200);
    assert_int_equal(stats_of(ctx).buffers, buffers);
    forget();
}

/* Without a callback, output goes to the log. */
TEST_EXECUTED(output_goes_to_the_log_by_default) {
    vd_context *ctx = NULL;
    vd_context_desc desc = fixture_desc(f);
    desc.log = hear_log;
    forget();
    OK(vd_context_create(&desc, &ctx));
    vc_kernel *k = kernel_begin(ctx, "logged", 1, 1, 1);
    vc_printf(k, "here: %u\n", vc_global_id(k, 0));
    vd_kernel kernel = kernel_end(ctx, k);
    heard.infos = 0;
    OK(vd_run_args(ctx, kernel, 1, 1, 1, NULL, 0));
    OK(vd_wait_idle(ctx));
    assert_int_equal(heard.infos, 1);
    assert_string_equal(heard.info, "kernel 'logged', invocation (0, 0, 0): here: 0");
    vd_context_destroy(ctx);
    forget();
}

static vd_context *printing;

static void print_destroys(void *user, const char *kernel, const uint32_t id[3], const char *text) {
    hear(user, kernel, id, text);
    vd_context_destroy(printing);
    check_text("vd_context_destroy", "vd_context_destroy: must not be called from `print` of the context");
}

TEST_EXECUTED(a_print_callback_cannot_destroy_its_context) {
    vd_context_desc desc = fixture_desc(f);
    desc.log = hear_log;
    desc.print = print_destroys;
    desc.print_user = &heard;
    forget();
    OK(vd_context_create(&desc, &printing));
    vd_context *ctx = printing;
    vc_kernel *k = kernel_begin(ctx, "last", 1, 1, 1);
    vc_printf(k, "%u", vc_global_id(k, 0));
    vd_kernel kernel = kernel_end(ctx, k);
    OK(vd_run_args(ctx, kernel, 2, 1, 1, NULL, 0));
    OK(vd_wait_idle(ctx));
    assert_int_equal(heard.count, 2);
    assert_non_null(strstr(heard.error, "vd_context_destroy"));
    OK(vd_run_args(ctx, kernel, 2, 1, 1, NULL, 0));
    vd_context_destroy(ctx);
    assert_int_equal(heard.count, 4);
    forget();
}

/* On every backend: kernels that print can be created, their argument count excludes the output buffer, and they cost
   nothing in a context without output. */
TEST(the_output_buffer_is_not_an_argument) {
    vd_context *ctx = context_that_prints(f, 0, 0, 1, 1);
    vd_kernel_info info;
    vd_kernel plain = kernel_affine(ctx);
    uint64_t bytes = stats_of(ctx).device_bytes, buffers = stats_of(ctx).buffers;
    OK(vd_kernel_query(ctx, plain, &info));
    assert_int_equal(info.arg_count, 3);
    vd_kernel kernel = kernel_asserts(ctx);
    OK(vd_kernel_query(ctx, kernel, &info));
    assert_int_equal(info.arg_count, 2);
    assert_true(stats_of(ctx).device_bytes >= bytes);
    assert_int_equal(stats_of(ctx).buffers, buffers);
    vd_buffer x = buffer_u32(ctx, "x", 4, NULL);
    FAILS(vd_run(ctx, kernel, 4, vd_b(x)), VD_ERROR_INVALID, "vd_run 'guarded': 1 arguments were passed, but the "
          "kernel expects 2");
    FAILS(vd_run(ctx, kernel, 4, vd_b(x), vd_u32(4), vd_b(x)), VD_ERROR_INVALID,
          "3 arguments were passed, but the kernel expects 2");
    OK(vd_run(ctx, kernel, 4, vd_b(x), vd_u32(4)));
    OK(vd_wait_idle(ctx));
    forget();
}

/* Every allocation fails in turn: an error, and no leak. */
TEST(every_allocation_can_fail) {
    bool through = false;
    for (long at = 1; at < 400 && !through; at += contexts_are_cheap(f) ? 1 : 5) {
        vd_context *ctx = NULL;
        vd_context_desc desc = fixture_desc(f);
        long before = f->memory.live;
        OK(vd_context_create(&desc, &ctx));
        vc_kernel *k = kernel_begin(ctx, "short", 1, 1, 1);
        vc_printf(k, "%u", vc_global_id(k, 0));
        f->memory.fail_at = f->memory.calls + at;
        vd_kernel kernel = vd_kernel_build(ctx, k);
        through = kernel.id && vd_run_args(ctx, kernel, 1, 1, 1, NULL, 0) == VD_OK && vd_wait_idle(ctx) == VD_OK
                  && f->memory.calls < f->memory.fail_at;
        f->memory.fail_at = 0;
        vc_free(k);
        vd_context_destroy(ctx);
        assert_int_equal(f->memory.live, before);
    }
    assert_true(through);
}

static const struct CMUnitTest cases[] = {
    CASE(every_conversion_prints_what_the_host_prints), CASE(vectors_and_several_operands),
    CASE(many_invocations_print_once_each), CASE(lost_records_are_reported_once), CASE(assertions_are_reported_once),
    CASE(assertions_are_reported_if_the_buffer_is_full), CASE(lists_of_several_queues_and_devices_print),
    CASE(output_of_several_threads), CASE(reads_and_vd_context_destroy_deliver_output),
    CASE(a_print_callback_cannot_destroy_its_context), CASE(kernels_that_print_need_no_barriers),
    CASE(output_goes_to_the_log_by_default), CASE(the_output_buffer_is_not_an_argument),
    CASE(every_allocation_can_fail),
};

MAIN("print", cases)
