/* Invalid input: an error code, a text that names the mistake, and a context that keeps working. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"
#include "tests/conformance/foreign.h"

/* ---- handles ---- */

static void check_buffer_handle(fixture *f, vd_buffer bad, const char *why) {
    uint32_t word = 0;
    vd_buffer good = buffer_u32(f->ctx, "good", 4, NULL);
    vd_list *now = vd_immediate(f->ctx, 0, 0);
    vd_kernel k = kernel_affine(f->ctx);
    vd_buffer_info info;
    vd_ticket ticket;
    vd_read_desc read = { { 0 }, 0, 0, 0 };
    char words[128];
#define WORDS(call) (snprintf(words, sizeof words, "%s|%s", call, why), words)
    FAILS(vd_buffer_query(f->ctx, bad, &info), VD_ERROR_INVALID, WORDS("vd_buffer_query"));
    FAILS(vd_buffer_write(f->ctx, bad, 0, &word, 4), VD_ERROR_INVALID, WORDS("vd_buffer_write"));
    FAILS(vd_buffer_read(f->ctx, bad, 0, &word, 4), VD_ERROR_INVALID, WORDS("vd_buffer_read"));
    FAILS(vd_fill(now, bad, 0, 4, NULL, 0), VD_ERROR_INVALID, WORDS("vd_fill"));
    FAILS(vd_write(now, bad, 0, &word, 4), VD_ERROR_INVALID, WORDS("vd_write"));
    FAILS(vd_copy(now, bad, 0, good, 0, 4), VD_ERROR_INVALID, WORDS("vd_copy"));
    FAILS(vd_copy(now, good, 0, bad, 0, 4), VD_ERROR_INVALID, WORDS("vd_copy"));
    FAILS(affine(now, k, bad, 4, 1, 1), VD_ERROR_INVALID, WORDS("vd_dispatch|affine|0|x"));
    read.buffer = bad;
    FAILS(vd_read_begin(now, &read, &ticket), VD_ERROR_INVALID, WORDS("vd_read_begin"));
    assert_true(ticket.id == 0);
#undef WORDS
    still_works(f);
}

TEST(null_buffers) {
    vd_buffer none = { 0 };
    check_buffer_handle(f, none, "handle is 0");
    vd_buffer_destroy(f->ctx, none);
}

TEST(destroyed_buffers) {
    vd_buffer dead = buffer_u32(f->ctx, "dead", 4, NULL);
    vd_buffer_destroy(f->ctx, dead);
    check_buffer_handle(f, dead, "destroyed");
    vd_error_set(VD_OK, "%s", "");
    vd_buffer_destroy(f->ctx, dead);
    assert_non_null(strstr(vd_error_text(), "destroyed"));
}

TEST(buffers_of_another_context) {
    check_buffer_handle(f, buffer_u32(context_beside(f), "theirs", 4, NULL),
                        "handle is invalid or belongs to another context");
}

TEST(invented_handles) {
    dice d = { 5 };
    vd_buffer_info info;
    for (int i = 0; i < 2000; i++) {
        vd_buffer b = { (uint64_t)roll(&d, 0) << 33 | (uint64_t)roll(&d, 0) << 5 | 1 };
        assert_int_equal(vd_buffer_query(f->ctx, b, &info), VD_ERROR_INVALID);
    }
    vd_buffer real = buffer_u32(f->ctx, "real", 4, NULL);
    for (int bit = 0; bit < 64; bit++) {
        vd_buffer b = { real.id ^ 1ull << bit };
        assert_int_equal(vd_buffer_query(f->ctx, b, &info), VD_ERROR_INVALID);
    }
    still_works(f);
}

TEST(invalid_kernel_handles) {
    vd_kernel k = kernel_affine(f->ctx), none = { 0 }, buffer_as_kernel;
    vd_buffer b = buffer_u32(f->ctx, "b", 4, NULL);
    vd_list *now = vd_immediate(f->ctx, 0, 0);
    vd_kernel_info info;
    vd_kernel_arg_info arg;
    vd_kernel foreign = kernel_affine(context_beside(f));
    buffer_as_kernel.id = b.id;
    vd_kernel_destroy(f->ctx, none);
    vd_kernel_destroy(f->ctx, k);
    FAILS(affine(now, k, b, 4, 1, 1), VD_ERROR_INVALID, "vd_dispatch|kernel|destroyed");
    FAILS(affine(now, none, b, 4, 1, 1), VD_ERROR_INVALID, "vd_dispatch|kernel handle is 0");
    FAILS(affine(now, foreign, b, 4, 1, 1), VD_ERROR_INVALID, "vd_dispatch|kernel|handle is invalid or belongs to "
          "another context");
    FAILS(affine(now, buffer_as_kernel, b, 4, 1, 1), VD_ERROR_INVALID, "vd_dispatch|kernel|buffer");
    FAILS(vd_kernel_query(f->ctx, k, &info), VD_ERROR_INVALID, "vd_kernel_query|destroyed");
    FAILS(vd_kernel_arg_query(f->ctx, k, 0, &arg), VD_ERROR_INVALID, "vd_kernel_arg_query|destroyed");
    FAILS(vd_run(f->ctx, none, 4, vd_b(b)), VD_ERROR_INVALID, "kernel");
    still_works(f);
}

TEST(invalid_tickets) {
    const void *data = NULL;
    vd_ticket none = { 0 }, strange = { 12345678901234567ull };
    FAILS(vd_read_ready(f->ctx, none, 0, &data), VD_ERROR_INVALID, "vd_read_ready|ticket");
    FAILS(vd_read_ready(f->ctx, strange, 0, &data), VD_ERROR_INVALID, "vd_read_ready|ticket");
    vd_read_end(f->ctx, strange);
    still_works(f);
}

/* ---- missing descs and pointers ---- */

TEST(missing_arguments_are_named) {
    vd_ticket ticket;
    vd_buffer b = buffer_u32(f->ctx, "b", 4, NULL);
    vd_list *now = vd_immediate(f->ctx, 0, 0);
    vd_read_desc read = { { 0 }, 0, 0, 0 };
    vd_kernel_desc empty = { 0 };
    read.buffer = b;
    assert_true(vd_buffer_create(f->ctx, NULL).id == 0);
    assert_non_null(strstr(vd_error_text(), "vd_buffer_create"));
    assert_true(vd_kernel_create(f->ctx, NULL).id == 0);
    assert_non_null(strstr(vd_error_text(), "vd_kernel_create"));
    assert_true(vd_kernel_create(f->ctx, &empty).id == 0);
    assert_non_null(strstr(vd_error_text(), "vd_kernel_create"));
    assert_non_null(strstr(vd_error_text(), "code"));
    assert_true(vd_kernel_build(f->ctx, NULL).id == 0);
    FAILS(vd_dispatch(now, NULL), VD_ERROR_INVALID, "vd_dispatch");
    FAILS(vd_read_begin(now, NULL, &ticket), VD_ERROR_INVALID, "vd_read_begin");
    FAILS(vd_read_begin(now, &read, NULL), VD_ERROR_INVALID, "vd_read_begin");
    FAILS(vd_buffer_query(f->ctx, b, NULL), VD_ERROR_INVALID, "vd_buffer_query");
    FAILS(vd_context_stats(f->ctx, NULL), VD_ERROR_INVALID, "vd_context_stats");
    FAILS(vd_buffer_read(f->ctx, b, 0, NULL, 4), VD_ERROR_INVALID, "vd_buffer_read");
    FAILS(vd_buffer_write(f->ctx, b, 0, NULL, 4), VD_ERROR_INVALID, "vd_buffer_write");
    FAILS(vd_buffer_read(NULL, b, 0, &b, 4), VD_ERROR_INVALID, "vd_buffer_read|context");
    still_works(f);
}

/* ---- sizes ---- */

static void bad_buffer(fixture *f, vd_type type, uint64_t x, uint64_t y, uint64_t z, uint64_t w, const char *words) {
    vd_buffer_desc desc = { 0 };
    vd_stats before = stats_of(f->ctx);
    desc.name = "huge";
    desc.type = type;
    desc.shape[0] = x;
    desc.shape[1] = y;
    desc.shape[2] = z;
    desc.shape[3] = w;
    vd_error_set(VD_OK, "%s", "");
    vd_buffer b = vd_buffer_create(f->ctx, &desc);
    assert_true(b.id == 0);
    check_text("vd_buffer_create", words);
    assert_int_equal(stats_of(f->ctx).buffers, before.buffers);
    assert_int_equal(stats_of(f->ctx).device_bytes, before.device_bytes);
}

TEST(impossible_buffer_sizes) {
    const uint64_t big = 1ull << 40;
    bad_buffer(f, VD_F32, 0, 0, 0, 0, "vd_buffer_create|huge|shape");
    bad_buffer(f, VD_F32, 4, 0, 4, 0, "vd_buffer_create|huge|shape");
    bad_buffer(f, VD_F32, 0, 4, 0, 0, "vd_buffer_create|huge|shape");
    bad_buffer(f, VD_BYTES, big, big, 1, 1, "vd_buffer_create|huge|1099511627776");
    bad_buffer(f, VD_F64X4, UINT64_MAX, 1, 1, 1, "vd_buffer_create|huge");
    bad_buffer(f, VD_F32, 1ull << 62, 4, 1, 1, "vd_buffer_create|huge");
    bad_buffer(f, VD_F32, 1ull << 32, 1ull << 32, 1ull << 32, 1ull << 32, "vd_buffer_create|huge");
    bad_buffer(f, 13, 4, 1, 1, 1, "vd_buffer_create|huge|13");
    bad_buffer(f, 0x80000000u, 4, 1, 1, 1, "vd_buffer_create|huge|type");
    still_works(f);
}

TEST(a_buffer_of_a_tebibyte) {
    const vd_device_info *info = vd_device(f->ctx, 0);
    uint64_t limit = info->device_memory > info->limits.max_buffer_bytes ? info->device_memory
                                                                         : info->limits.max_buffer_bytes;
    if (limit >= 1ull << 40) skip_because("the device may have a tebibyte");
    vd_buffer_desc desc = { 0 };
    desc.name = "tebibyte";
    desc.shape[0] = 1ull << 40;
    for (int i = 0; i < 3; i++) {
        assert_true(vd_buffer_create(f->ctx, &desc).id == 0);
        check_text("vd_buffer_create", "vd_buffer_create|tebibyte|1099511627776");
    }
    still_works(f);
}

/* Allocates buffers of maximum size until memory runs out: an error, and all of it is released. */
TEST(device_memory_runs_out) {
    vd_device_info info = *vd_device(f->ctx, 0);
    if (f->backend != VD_BACKEND_DUMMY) skip_because("filling a real device's memory would stop this machine");
    vd_context *ctx = NULL;
    vd_context_desc context = fixture_desc(f);
    info.limits.max_buffer_bytes = 1 << 20;
    info.device_memory = 4 << 20;
    context.dummy = &info;
    OK(vd_context_create(&context, &ctx));
    vd_buffer_desc desc = { 0 };
    desc.name = "part";
    desc.shape[0] = (1 << 20) + 1;
    assert_true(vd_buffer_create(ctx, &desc).id == 0);
    check_text("vd_buffer_create", "vd_buffer_create|part|1048577|1048576");
    vd_context_destroy(ctx);
}

TEST(ranges_past_the_end) {
    uint8_t bytes[64];
    vd_buffer b = buffer_u32(f->ctx, "short", 4, NULL), c = buffer_u32(f->ctx, "other", 4, NULL);
    vd_list *now = vd_immediate(f->ctx, 0, 0);
    vd_ticket ticket;
    vd_read_desc read = { { 0 }, 8, 9, 0 };
    read.buffer = b;
    FAILS(vd_buffer_read(f->ctx, b, 0, bytes, 17), VD_ERROR_INVALID, "vd_buffer_read|short|17|16");
    FAILS(vd_buffer_read(f->ctx, b, 17, bytes, 0), VD_ERROR_INVALID, "vd_buffer_read|short|17|16");
    FAILS(vd_buffer_read(f->ctx, b, 17, bytes, VD_WHOLE), VD_ERROR_INVALID, "vd_buffer_read|short|17|16");
    FAILS(vd_buffer_read(f->ctx, b, 8, bytes, UINT64_MAX - 4), VD_ERROR_INVALID, "vd_buffer_read|short");
    FAILS(vd_buffer_read(f->ctx, b, UINT64_MAX - 3, bytes, 4), VD_ERROR_INVALID, "vd_buffer_read|short");
    FAILS(vd_buffer_write(f->ctx, b, 8, bytes, 9), VD_ERROR_INVALID, "vd_buffer_write|short|8|9|16");
    FAILS(vd_write(now, b, 16, bytes, 1), VD_ERROR_INVALID, "vd_write|short|16|1");
    FAILS(vd_fill(now, b, 8, 12, NULL, 0), VD_ERROR_INVALID, "vd_fill|short|8|12|16");
    FAILS(vd_copy(now, c, 0, b, 8, 12), VD_ERROR_INVALID, "vd_copy|short|8|12|16");
    FAILS(vd_copy(now, c, 12, b, 0, 8), VD_ERROR_INVALID, "vd_copy|other|12|8|16");
    FAILS(vd_read_begin(now, &read, &ticket), VD_ERROR_INVALID, "vd_read_begin|short|8|9|16");
    still_works(f);
}

TEST(copies_that_overlap) {
    vd_buffer b = buffer_u32(f->ctx, "self", 16, NULL);
    FAILS(vd_copy(vd_immediate(f->ctx, 0, 0), b, 0, b, 4, 8), VD_ERROR_INVALID, "vd_copy|self|overlap");
    FAILS(vd_copy(vd_immediate(f->ctx, 0, 0), b, 4, b, 0, 8), VD_ERROR_INVALID, "vd_copy|self|overlap");
    FAILS(vd_copy(vd_immediate(f->ctx, 0, 0), b, 0, b, 0, 4), VD_ERROR_INVALID, "vd_copy|self|overlap");
    OK(vd_copy(vd_immediate(f->ctx, 0, 0), b, 0, b, 8, 8));
    still_works(f);
}

TEST(fill_values_that_do_not_fit) {
    uint8_t value[80] = { 0 };
    vd_buffer b = buffer_u32(f->ctx, "b", 64, NULL);
    vd_list *now = vd_immediate(f->ctx, 0, 0);
    FAILS(vd_fill(now, b, 0, 130, value, 65), VD_ERROR_INVALID, "vd_fill|65|64");
    FAILS(vd_fill(now, b, 0, 12, value, 0), VD_ERROR_INVALID, "vd_fill|0");
    FAILS(vd_fill(now, b, 0, 10, value, 4), VD_ERROR_INVALID, "vd_fill|10|4");
    FAILS(vd_fill(now, b, 0, VD_WHOLE, value, 24), VD_ERROR_INVALID, "vd_fill|256|24");
    still_works(f);
}

/* ---- arguments of a dispatch ---- */

TEST(arguments_that_do_not_match) {
    vd_buffer x = buffer_u32(f->ctx, "x", 64, NULL), floats = buffer_named(f->ctx, "floats", VD_F32, 64, NULL),
              y = buffer_u32(f->ctx, "y", 64, NULL);
    vd_buffer bytes = buffer_named(f->ctx, "bytes", VD_BYTES, 256, NULL);
    vd_kernel k = kernel_affine(f->ctx), copy = kernel_move(f->ctx);
    FAILS(vd_run(f->ctx, k, 64, vd_b(x), vd_u32(1)), VD_ERROR_INVALID, "vd_run|affine|2|3");
    FAILS(vd_run(f->ctx, k, 64, vd_b(x), vd_u32(1), vd_u32(1), vd_u32(1)), VD_ERROR_INVALID, "vd_run|affine|4|3");
    FAILS(vd_run_args(f->ctx, k, 64, 1, 1, NULL, 3), VD_ERROR_INVALID, "vd_run|affine|NULL");
    FAILS(vd_run_args(f->ctx, k, 64, 1, 1, NULL, -1), VD_ERROR_INVALID, "vd_run|affine|-1");
    FAILS(vd_run(f->ctx, k, 64, vd_b(floats), vd_u32(1), vd_u32(1)), VD_ERROR_INVALID,
          "vd_run|affine|argument 0|'x'|f32|u32");
    FAILS(vd_run(f->ctx, k, 64, vd_u32(1), vd_u32(1), vd_u32(1)), VD_ERROR_INVALID,
          "vd_run|affine|argument 0|'x'|value|buffer");
    FAILS(vd_run(f->ctx, k, 64, vd_b(x), vd_b(y), vd_u32(1)), VD_ERROR_INVALID,
          "vd_run|affine|argument 1|'mul'|buffer|value");
    FAILS(vd_run(f->ctx, k, 64, vd_b(x), vd_u32(1), vd_f32(1)), VD_ERROR_INVALID,
          "vd_run|affine|argument 2|'add'|f32|u32");
    FAILS(vd_run(f->ctx, k, 64, vd_b(x), vd_u32(1), vd_i32(1)), VD_ERROR_INVALID,
          "vd_run|affine|argument 2|'add'|i32|u32");
    FAILS(vd_run(f->ctx, copy, 64, vd_b(x), vd_b(x), vd_u32(1)), VD_ERROR_INVALID, "vd_run|move|'from'|'to'|'x'");
    FAILS(vd_run(f->ctx, k, 64, vd_b(bytes), vd_u32(1), vd_u32(1)), VD_ERROR_INVALID,
          "argument 0 'x' is a buffer of bytes|desc.type is not set|expects a buffer of u32");
    vd_arg none[3];
    memset(none, 0, sizeof none);
    FAILS(dispatch(vd_immediate(f->ctx, 0, 0), k, 64, none, 3), VD_ERROR_INVALID, "vd_dispatch|affine|argument 0");
    if (f->executes) assert_int_equal(read_u32(f->ctx, x, 0), 0);
    still_works(f);
}

TEST(vectors_passed_as_bits) {
    vc_kernel *b = kernel_begin(f->ctx, "vectors", 1, 1, 1);
    vc_ref out = vc_buffer(b, "out", VC_U32X4, VC_WRITE);
    vc_store(out, vc_u32(0), vc_param(b, "v", VC_U32X4));
    vd_kernel k = kernel_end(f->ctx, b);
    vd_buffer buffer = buffer_named(f->ctx, "out", VD_U32X4, 4, NULL);
    FAILS(vd_run(f->ctx, k, 1, vd_b(buffer), vd_bits(VD_U32X4, 7)), VD_ERROR_INVALID,
          "vd_run|vectors|argument 1|'v'|16");
    FAILS(vd_run(f->ctx, k, 1, vd_b(buffer), vd_u32(7)), VD_ERROR_INVALID, "vd_run|vectors|argument 1|'v'|u32x4");
    still_works(f);
}

TEST(impossible_threads_and_groups) {
    vd_buffer x = buffer_u32(f->ctx, "x", 64, NULL);
    vd_kernel k = kernel_affine(f->ctx);
    vd_arg args[3];
    args[0] = vd_b(x);
    args[1] = args[2] = vd_u32(0);
    vd_dispatch_desc desc = { { 0 }, { 0, 0, 0 }, { 0, 0, 0 }, NULL, 3, { 0 }, 0, false, NULL, NULL, 0 };
    desc.kernel = k;
    desc.args = args;
    vd_list *now = vd_immediate(f->ctx, 0, 0);
    FAILS(vd_dispatch(now, &desc), VD_ERROR_INVALID, "vd_dispatch|affine|threads");
    desc.threads[0] = 1ull << 33;
    FAILS(vd_dispatch(now, &desc), VD_ERROR_INVALID, "vd_dispatch|affine|threads|8589934592");
    desc.threads[0] = 4;
    desc.threads[1] = 0;
    desc.threads[2] = 4;
    FAILS(vd_dispatch(now, &desc), VD_ERROR_INVALID, "vd_dispatch|affine|threads");
    desc.threads[0] = desc.threads[2] = 0;
    desc.groups[0] = UINT64_MAX;
    FAILS(vd_dispatch(now, &desc), VD_ERROR_INVALID, "vd_dispatch|affine|groups|18446744073709551615");
    desc.groups[0] = 1ull << 31; /* multiplied by 64 threads */
    FAILS(vd_dispatch(now, &desc), VD_ERROR_INVALID, "vd_dispatch|affine|groups|2147483648");
    still_works(f);
}

/* ---- kernels ---- */

TEST(a_kernel_with_an_error) {
    uint64_t before = stats_of(f->ctx).kernels;
    vc_kernel *k = kernel_begin(f->ctx, "wrong", 64, 1, 1);
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ);
    vc_store(x, vc_u32(0), vc_f32(1));
    assert_non_null(vc_error(k));
    assert_true(vd_kernel_build(f->ctx, k).id == 0);
    check_text("vd_kernel_build", "wrong|x");
    vc_free(k);
    k = kernel_begin(f->ctx, "open", 64, 1, 1);
    x = vc_buffer(k, "x", VC_F32, VC_WRITE);
    vc_if_begin(k, vc_eq(vc_local_index(k), vc_u32(0)));
    assert_true(vd_kernel_build(f->ctx, k).id == 0);
    check_text("vd_kernel_build", "open");
    vc_free(k);
    assert_int_equal(stats_of(f->ctx).kernels, before);
    still_works(f);
}

/* Built for no particular machine, so that the runtime must detect what does not fit. */
static vd_kernel build_unchecked(fixture *f, uint32_t local, uint32_t shared, bool f64) {
    vc_kernel_desc desc = { 0 };
    desc.name = "demanding";
    desc.local_size[0] = local;
    desc.buffers = VC_BUFFERS_BINDING;
    vc_kernel *k = vc_begin(&desc);
    vc_ref x = vc_buffer(k, "x", f64 ? VC_F64 : VC_U32, VC_READ_WRITE);
    if (shared) {
        vc_ref s = vc_shared(k, "s", VC_U32, shared / 4);
        vc_store(s, vc_local_index(k), vc_u32(1));
        vc_barrier(k);
        vc_store(x, vc_global_id(k, 0), vc_load(s, vc_u32(0)));
    } else {
        vc_store(x, vc_global_id(k, 0), vc_add(vc_load(x, vc_u32(0)), f64 ? vc_f64(1) : vc_u32(1)));
    }
    if (vc_error(k)) fail_msg("%s", vc_error(k));
    vd_kernel kernel = vd_kernel_build(f->ctx, k);
    vc_free(k);
    return kernel;
}

TEST(a_workgroup_that_is_too_large) {
    const vd_limits *l = &vd_device(f->ctx, 0)->limits;
    char words[128];
    assert_true(build_unchecked(f, l->max_local_invocations + 1, 0, false).id == 0);
    snprintf(words, sizeof words, "demanding|local|%u|%u", l->max_local_invocations + 1, l->max_local_invocations);
    check_text("vd_kernel_build", words);
    vc_kernel *k = kernel_begin(f->ctx, "fails early", l->max_local_size[0] + 1, 1, 1);
    assert_non_null(vc_error(k));
    snprintf(words, sizeof words, "%u", l->max_local_size[0]);
    assert_non_null(strstr(vc_error(k), words));
    vc_free(k);
    still_works(f);
}

TEST(too_much_shared_memory) {
    uint32_t limit = vd_device(f->ctx, 0)->limits.max_shared_bytes;
    char words[128];
    assert_true(build_unchecked(f, 64, limit + 4, false).id == 0);
    snprintf(words, sizeof words, "demanding|shared|%u|%u", limit + 4, limit);
    check_text("vd_kernel_build", words);
    still_works(f);
}

TEST(too_much_private_memory) {
    const vd_limits *l = &vd_device(f->ctx, 0)->limits;
    uint64_t most = l->max_private_bytes < 4u << 20 ? l->max_private_bytes : 4u << 20; /* the builder's own limit */
    uint32_t words = (uint32_t)(most / l->max_local_invocations / 4);
    for (int more = 0; more < 2 && words; more++) { /* a whole work-group of what fits, and of what does not */
        vc_kernel *k = kernel_begin(f->ctx, "private", l->max_local_invocations, 1, 1);
        vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE), own = vc_array(k, "own", VC_U32, words + (uint32_t)more);
        vc_val i = vc_global_id(k, 0);
        VC_FOR(k, j, vc_u32(0), vc_u32(words)) { vc_store(own, j, vc_add(i, j)); }
        vc_barrier(k);
        vc_store(x, i, vc_load(own, vc_rem(vc_load(x, i), vc_u32(words))));
        vd_kernel kernel = vd_kernel_build(f->ctx, k);
        vc_free(k);
        assert_true((kernel.id == 0) == (more == 1));
        if (more) check_text("vd_kernel_build", "private|limit");
        vd_buffer b = buffer_u32(f->ctx, "x", l->max_local_invocations, NULL);
        if (!more) OK(vd_run(f->ctx, kernel, l->max_local_invocations, vd_b(b)));
        OK(vd_wait_idle(f->ctx));
        vd_kernel_destroy(f->ctx, kernel);
        vd_buffer_destroy(f->ctx, b);
    }
    still_works(f);
}

TEST(a_feature_the_device_lacks) {
    fixture without = *f;
    without.ctx = context_without(f, VD_FEATURE_F64 | VD_FEATURE_ADDRESS);
    assert_true(build_unchecked(&without, 64, 0, true).id == 0);
    check_text("vd_kernel_build", "demanding|f64");
    vc_kernel *k = kernel_begin(without.ctx, "fails early", 64, 1, 1);
    vc_ref x = vc_buffer(k, "x", VC_F64, VC_READ_WRITE);
    vc_store(x, vc_u32(0), vc_mul(vc_load(x, vc_u32(0)), vc_f64(2)));
    assert_null(vc_spirv(k, NULL));
    assert_non_null(vc_error(k));
    assert_non_null(strstr(vc_error(k), "f64"));
    vc_free(k);
    still_works(&without);
}

TEST(addresses_on_devices_without_them) {
    fixture without = *f;
    without.ctx = context_without(f, VD_FEATURE_F64 | VD_FEATURE_ADDRESS);
    vc_kernel_desc described = { 0 };
    described.name = "by address";
    described.buffers = VC_BUFFERS_ADDRESS;
    vc_kernel *k = vc_begin(&described);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_WRITE);
    vc_store(x, vc_global_id(k, 0), vc_u32(1));
    size_t words = 0;
    vd_kernel_desc plain = { 0 };
    plain.name = "by address";
    plain.code = vc_spirv(k, &words);
    plain.code_size = 4 * words;
    assert_non_null(plain.code);
    assert_true(vd_kernel_create(without.ctx, &plain).id == 0);
    check_text("vd_kernel_create", "by address|address");
    vc_free(k);
    still_works(&without);
}

TEST(a_dummy_device_with_few_features) {
    vd_device_info info;
    vd_context_desc desc = fixture_desc(f);
    fixture modest = *f;
    memset(&info, 0, sizeof info);
    if (vd_devices(VD_BACKEND_DUMMY, &info, 1) < 1) fail_msg("no dummy");
    info.features = 0;
    info.limits.max_local_invocations = 128;
    info.limits.max_local_size[0] = 128;
    desc.backend = VD_BACKEND_DUMMY;
    desc.dummy = &info;
    OK(vd_context_create(&desc, &modest.ctx));
    modest.executes = false;
    assert_true(vd_device(modest.ctx, 0)->features == 0);
    assert_true(build_unchecked(&modest, 64, 0, true).id == 0);
    check_text("vd_kernel_build", "demanding|f64");
    assert_true(build_unchecked(&modest, 129, 0, false).id == 0);
    check_text("vd_kernel_build", "demanding|129|128");
    still_works(&modest);
    vd_context_destroy(modest.ctx);
}

/* ---- invalid code ---- */

static void refused_module(fixture *f, const void *code, size_t size, const char *what) {
    vd_kernel_desc desc = { 0 };
    desc.name = "broken";
    desc.code = code;
    desc.code_size = size;
    vd_error_set(VD_OK, "%s", "");
    vd_kernel k = vd_kernel_create(f->ctx, &desc);
    if (k.id) fail_msg("%s of %u bytes was taken", what, (unsigned)size);
    if (!strstr(vd_error_text(), "broken")) fail_msg("%s: '%s' does not name the kernel", what, vd_error_text());
}

TEST(truncated_modules) {
    uint64_t before = stats_of(f->ctx).kernels;
    for (size_t bytes = 0; bytes < sizeof foreign_saxpy; bytes++)
        refused_module(f, foreign_saxpy, bytes, "a cut module");
    assert_int_equal(stats_of(f->ctx).kernels, before);
    still_works(f);
}

TEST(truncated_modules_of_the_builder) {
    vc_kernel *k = kernel_begin(f->ctx, "whole", 64, 1, 1);
    vc_ref x = vc_buffer(k, "x", VC_F32, VC_READ_WRITE), s = vc_shared(k, "s", VC_F32, 64);
    vc_val n = vc_param(k, "n", VC_U32);
    vc_store(s, vc_local_index(k), vc_f32(1));
    vc_barrier(k);
    VC_EACH(k, i) {
        VC_FOR(k, j, vc_u32(0), n) { vc_store(x, i, vc_add(vc_load(x, j), vc_load(s, vc_u32(3)))); }
    }
    size_t words = 0;
    const uint32_t *code = vc_spirv(k, &words);
    if (!code) fail_msg("%s", vc_error(k));
    for (size_t i = 0; i < words; i++) refused_module(f, code, 4 * i, "a cut module of ours");
    vc_free(k);
    still_works(f);
}

TEST(random_bytes) {
    static uint32_t words[512];
    dice d = { 99 };
    for (int round = 0; round < 2000; round++) {
        size_t count = 1 + roll(&d, COUNT(words));
        for (size_t i = 0; i < count; i++) words[i] = roll(&d, 0) ^ roll(&d, 0) << 16;
        if (round % 2) memcpy(words, foreign_saxpy, 20); /* a valid header followed by random words */
        refused_module(f, words, 4 * count, "noise");
    }
    still_works(f);
}

/* Modules with changed words: the rest may be valid, but nothing may crash. Run on the dummy backend only, so that no
   driver has to cope with them. */
TEST(modules_with_a_word_changed) {
    static uint32_t words[COUNT(foreign_saxpy)];
    dice d = { 7 };
    if (f->backend != VD_BACKEND_DUMMY) skip_because("a driver is not asked to take modules that only look right");
    for (int round = 0; round < 5000; round++) {
        memcpy(words, foreign_saxpy, sizeof words);
        for (uint32_t n = 1 + roll(&d, 3); n; n--)
            words[roll(&d, COUNT(words))] = roll(&d, 3) ? roll(&d, 64) : roll(&d, 0);
        vd_kernel_desc desc = { 0 };
        desc.code = words;
        desc.code_size = sizeof words;
        vd_kernel_destroy(f->ctx, vd_kernel_create(f->ctx, &desc));
    }
    still_works(f);
}

TEST(modules_described_wrongly) {
    vd_arg_info args[2];
    memset(args, 0, sizeof args);
    args[0].name = "x";
    args[0].kind = VD_ARG_BINDING;
    args[0].type = VD_F32;
    args[0].access = VD_READ;
    vd_kernel_desc desc = { 0 };
    desc.name = "described";
    desc.code = foreign_saxpy;
    desc.code_size = sizeof foreign_saxpy;
    if (!takes_spirv(f, &desc)) return;
    desc.args = args;
    desc.arg_count = 65;
    assert_true(vd_kernel_create(f->ctx, &desc).id == 0);
    check_text("vd_kernel_create", "described|65|64");
    desc.arg_count = -3;
    assert_true(vd_kernel_create(f->ctx, &desc).id == 0);
    check_text("vd_kernel_create", "described|-3");
    desc.arg_count = 1;
    desc.argument_bytes = 4096;
    assert_true(vd_kernel_create(f->ctx, &desc).id == 0);
    check_text("vd_kernel_create", "described|4096|1024");
    desc.argument_bytes = 0;
    desc.local_size[0] = 16;
    assert_true(vd_kernel_create(f->ctx, &desc).id == 0);
    check_text("vd_kernel_create", "described|16|32");
    desc.local_size[0] = 0;
    desc.entry = "elsewhere";
    assert_true(vd_kernel_create(f->ctx, &desc).id == 0);
    check_text("vd_kernel_create", "described|elsewhere");
    desc.entry = NULL;
    desc.code_kind = (vd_code)77;
    assert_true(vd_kernel_create(f->ctx, &desc).id == 0);
    check_text("vd_kernel_create", "described|77");
    still_works(f);
}

TEST(a_builder_with_too_many_values) {
    vc_kernel *k = kernel_begin(f->ctx, "too many", 1, 1, 1);
    vc_ref x = vc_buffer(k, "x", VC_U32X4, VC_WRITE);
    vc_val sum = vc_splat(vc_const(k, vc_u32(0)), 4);
    for (int i = 0; i < 70; i++) sum = vc_add(sum, vc_param(k, NULL, VC_U32X4));
    vc_store(x, vc_u32(0), sum);
    assert_true(vd_kernel_build(f->ctx, k).id == 0);
    check_text("vd_kernel_build", "too many");
    vc_free(k);
    still_works(f);
}

static const struct CMUnitTest cases[] = {
    CASE(null_buffers), CASE(destroyed_buffers), CASE(buffers_of_another_context), CASE_FRESH(invented_handles),
    CASE(invalid_kernel_handles), CASE(invalid_tickets), CASE(missing_arguments_are_named),
    CASE(impossible_buffer_sizes), CASE(a_buffer_of_a_tebibyte), CASE(device_memory_runs_out),
    CASE(ranges_past_the_end), CASE(copies_that_overlap), CASE(fill_values_that_do_not_fit),
    CASE(arguments_that_do_not_match), CASE(vectors_passed_as_bits), CASE(impossible_threads_and_groups),
    CASE(a_kernel_with_an_error), CASE(a_workgroup_that_is_too_large), CASE(too_much_shared_memory),
    CASE(too_much_private_memory), CASE(a_feature_the_device_lacks), CASE(addresses_on_devices_without_them),
    CASE(a_dummy_device_with_few_features), CASE(truncated_modules), CASE(truncated_modules_of_the_builder),
    CASE(random_bytes), CASE(modules_with_a_word_changed), CASE(modules_described_wrongly),
    CASE(a_builder_with_too_many_values),
};

MAIN("errors", cases)
