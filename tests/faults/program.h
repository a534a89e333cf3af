/* Shared by the programs of this folder: the state of a driver whose calls fail, and a program that calls it (a kernel,
   a list with a scope and an indirect dispatch, a graph with a scope, a graph with images in a heap, a blit on CUDA,
   a sparse buffer, two queues, transfers). Include after the headers of the library and cmocka. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/turn.h"

/* ---- the driver ---- */

typedef enum manner { ONCE, FOR_EVER, LOST, MANNERS } manner; /* LOST: all later calls report a lost device */
static const char *const manner_names[] = { "once", "for ever", "lost" };

static struct {
    manner manner;
    long calls, refuse;        /* calls so far; number of the first call that fails, 0: none */
    const char *name;          /* of the call that failed */
    long live, garbage;        /* objects or references; garbage that was passed back */
    bool may_leak;             /* a call failed without which objects cannot be destroyed */
} driver;

/* Counts a driver call. Returns whether it fails. */
static bool refused(const char *name) {
    driver.calls++;
    bool now = driver.calls == driver.refuse;
    bool again = driver.manner != ONCE && driver.name && !strcmp(driver.name, name);
    if (now) driver.name = name;
    return now || again;
}

/* Fills the output of a failed call with garbage. */
static void poison(void *out, size_t size) {
    if (out) memset(out, 0xdb, size);
}

/* Counts the destruction of an object. False: the handle is garbage, which the driver must not see. */
static bool destroyed(uint64_t handle) {
    bool garbage = handle == 0xdbdbdbdbdbdbdbdbu;
    if (garbage) driver.garbage++;
    else if (handle) driver.live--;
    return !garbage;
}

/* ---- the program ---- */

enum { COUNT = 1000 };

static vd_kernel make_kernel(vd_context *ctx, vc_kernel **builder) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "triple";
    desc.buffers = vd_device(ctx, 0)->features & VD_FEATURE_ADDRESS ? VC_BUFFERS_ADDRESS : VC_BUFFERS_BINDING;
    *builder = vc_begin(&desc);
    vc_ref x = vc_buffer(*builder, "x", VC_U32, VC_READ_WRITE);
    vc_val by = vc_param(*builder, "by", VC_U32);
    VC_EACH(*builder, i) { vc_store(x, i, vc_mul(vc_load(x, i), by)); }
    return vd_kernel_build(ctx, *builder);
}

/* Multiplies b by 1 in two submissions of a graph, of which the second has two instances. */
static vd_result use_graph(vd_context *ctx, vd_kernel kernel, vd_buffer b) {
    vd_list *list = vd_graph_begin(ctx, NULL);
    vd_buffer_desc desc;
    vd_arg args[2];
    vd_dispatch_desc dispatch;
    memset(&desc, 0, sizeof desc);
    memset(&dispatch, 0, sizeof dispatch);
    if (!list) return vd_error_result();
    desc.type = VD_U32;
    desc.shape[0] = COUNT;
    vd_buffer in = vd_slot_buffer(list, "in", b), t = vd_graph_buffer(list, &desc);
    args[0] = vd_b(t);
    args[1] = vd_slot("by", vd_u32(5));
    dispatch.kernel = kernel;
    dispatch.threads[0] = COUNT;
    dispatch.args = args;
    dispatch.arg_count = 2;
    bool timed = (vd_device(ctx, 0)->features & VD_FEATURE_TIMESTAMP) != 0;
    if (timed) vd_scope_begin(list, "graph");
    vd_copy(list, t, 0, in, 0, VD_WHOLE);
    vd_dispatch(list, &dispatch);
    if (timed) vd_scope_end(list);
    vd_copy(list, in, 0, t, 0, VD_WHOLE);
    vd_graph g = vd_graph_end(list);
    if (!g.id) return vd_error_result();
    vd_graph_submit_desc twice;
    vd_event event;
    memset(&twice, 0, sizeof twice);
    twice.instances = 2;
    vd_result r = vd_graph_set(ctx, g, "by", vd_u32(1));
    if (!r) r = vd_graph_submit(ctx, g, NULL, NULL);
    if (!r) r = vd_graph_submit(ctx, g, &twice, &event);
    if (!r) r = vd_wait(ctx, event, VD_FOREVER);
    vd_graph_destroy(ctx, g);
    return r;
}

static bool kernels_run = true; /* the driver executes kernels */

/* Generates the second level of an image. */
static vd_result use_blits(vd_context *ctx) {
    vd_image_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.format = VD_FORMAT_R32_U;
    desc.extent[0] = desc.extent[1] = desc.levels = 2;
    vd_image image = vd_image_create(ctx, &desc);
    vd_result r = image.id ? vd_generate_mips(vd_immediate(ctx, 0, 0), image) : vd_error_result();
    vd_image_destroy(ctx, image);
    return r;
}

/* Clears images in a heap and copies them to the first element of b, in two submissions of a graph with different
   images. Then writes what that element was. */
static vd_result use_images(vd_context *ctx, vd_buffer b) {
    vd_image_desc desc;
    vd_buffer_desc heap;
    vd_placement place;
    vd_image images[2];
    vd_image_transfer down;
    vd_sampler_desc sampler;
    memset(&desc, 0, sizeof desc);
    memset(&heap, 0, sizeof heap);
    memset(&down, 0, sizeof down);
    memset(&sampler, 0, sizeof sampler);
    desc.format = VD_FORMAT_R32_U;
    desc.extent[0] = desc.extent[1] = 1;
    vd_result r = vd_image_placement(ctx, &desc, &place);
    if (r == VD_ERROR_UNSUPPORTED) return VD_OK; /* the backend has no images in heaps */
    if (r) return r;
    uint64_t stride = (place.size + place.align - 1) / place.align * place.align;
    heap.shape[0] = 2 * stride;
    heap.heap = true;
    desc.heap = vd_buffer_create(ctx, &heap);
    if (!desc.heap.id) return vd_error_result();
    for (int i = 0; i < 2; i++, desc.heap_offset += stride) {
        images[i] = vd_image_create(ctx, &desc);
        if (!images[i].id) return vd_error_result();
    }
    vd_sampler unused = vd_sampler_create(ctx, &sampler);
    if (!unused.id) return vd_error_result();
    vd_list *list = vd_graph_begin(ctx, NULL);
    if (!list) return vd_error_result();
    down.box.image = vd_slot_image(list, "image", images[0]);
    down.buffer = b;
    vd_discard_image(list, down.box.image);
    vd_clear_image(list, down.box.image, NULL);
    vd_copy_from_image(list, &down);
    vd_graph g = vd_graph_end(list);
    if (!g.id) return vd_error_result();
    for (int i = 0; i < 2 && !r; i++) {
        r = vd_graph_set(ctx, g, "image", vd_i(images[i]));
        if (!r) r = vd_graph_submit(ctx, g, NULL, NULL);
    }
    static const uint32_t first = 7;
    if (!r) r = vd_write(vd_immediate(ctx, 0, 0), b, 0, &first, 4);
    vd_image_destroy(ctx, images[0]);
    return r;
}

/* Fills bound pages of a sparse buffer, of which one loses its memory, and destroys it with the others. */
static vd_result use_pages(vd_context *ctx) {
    vd_buffer_desc desc;
    uint64_t page = vd_device(ctx, 0)->limits.sparse_page_bytes;
    uint32_t seven = 7, got = 0;
    memset(&desc, 0, sizeof desc);
    desc.shape[0] = 3 * page;
    desc.devices = 1;
    desc.sparse = true;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    vd_result r = b.id ? vd_buffer_bind(ctx, b, page, 2 * page) : vd_error_result();
    if (!r) r = vd_fill(vd_immediate(ctx, 0, 0), b, 2 * page - 4, 8, &seven, 4);
    if (!r) r = vd_buffer_unbind(ctx, b, page, page);
    if (!r) r = vd_buffer_read(ctx, b, 2 * page, &got, 4);
    if (!r) assert_int_equal(got, 7);
    vd_buffer_destroy(ctx, b);
    return r;
}

/* Commands in a list, graphs and the immediate lists of two queues. VD_OK: `out` has the result. */
static vd_result use_context(vd_context *ctx, vd_kernel kernel, uint32_t *out) {
    static uint32_t numbers[COUNT], seven[COUNT];
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    for (uint32_t i = 0; i < COUNT; i++) numbers[i] = i;
    for (uint32_t i = 0; i < COUNT; i++) seven[i] = 7;
    desc.type = VD_U32;
    desc.shape[0] = COUNT;
    desc.data = numbers;
    vd_buffer a = vd_buffer_create(ctx, &desc);
    if (!a.id) return vd_error_result();
    desc.data = NULL;
    vd_buffer b = vd_buffer_create(ctx, &desc);
    if (!b.id) return vd_error_result();
    vd_result r = vd_run(ctx, kernel, COUNT, vd_b(a), vd_u32(3));
    vd_list *list = r ? NULL : vd_list_begin(ctx, NULL);
    if (!list) return vd_error_result();
    vd_arg args[2] = { vd_b(b), vd_u32(2) };
    vd_dispatch_desc dispatch;
    memset(&dispatch, 0, sizeof dispatch);
    static const uint32_t size[3] = { COUNT, 1, 1 };
    desc.data = size;
    desc.shape[0] = 3;
    dispatch.kernel = kernel;
    dispatch.indirect = vd_buffer_create(ctx, &desc);
    if (!dispatch.indirect.id) return vd_error_result();
    dispatch.args = args;
    dispatch.arg_count = 2;
    bool timed = (vd_device(ctx, 0)->features & VD_FEATURE_TIMESTAMP) != 0;
    if (timed) vd_scope_begin(list, "list");
    vd_copy(list, b, 0, a, 0, VD_WHOLE);
    vd_dispatch(list, &dispatch);
    if (timed) vd_scope_end(list);
    vd_submit_desc submit;
    memset(&submit, 0, sizeof submit);
    vd_event event;
    r = vd_submit(list, &submit, &event);
    if (!r) r = vd_wait(ctx, event, VD_FOREVER);
    if (r) return r;
    vd_scope_info scope;
    if (vd_profile_read(ctx, &scope, 1)) assert_true(timed && scope.begin_ns <= scope.end_ns);
    vd_list *second = vd_immediate(ctx, 0, 1);
    r = second ? vd_write(second, a, 0, seven, 4 * COUNT / 2) : vd_error_result();
    if (!r) r = vd_copy(second, b, 0, a, 0, 4 * COUNT / 4);
    if (!r) r = vd_flush(ctx);
    if (!r) r = use_graph(ctx, kernel, b);
    if (!r && (vd_device(ctx, 0)->features & VD_FEATURE_IMAGE)) r = use_images(ctx, b);
    /* other drivers take too long to compile the kernel of blits each time */
    if (!r && !kernels_run && (vd_device(ctx, 0)->features & VD_FEATURE_IMAGE)) r = use_blits(ctx);
    if (!r && vd_device(ctx, 0)->limits.sparse_page_bytes) r = use_pages(ctx);
    if (!r) r = vd_buffer_read(ctx, b, 0, out, VD_WHOLE);
    if (!r) r = vd_wait_idle(ctx);
    vd_buffer_destroy(ctx, a);
    return r;
}

static void check_result(const uint32_t *out) {
    uint32_t factor = kernels_run ? 6 : 1;
    for (uint32_t i = 0; i < COUNT; i++)
        if (out[i] != (i < COUNT / 4 ? 7 : factor * i)) fail_msg("element %u is %u after no error", i, out[i]);
}

/* Success must not change the thread's error text. */
static vd_result run_program(const vd_context_desc *desc) {
    vd_context *ctx = NULL;
    vc_kernel *builder = NULL;
    static uint32_t out[COUNT];
    memset(out, 0, sizeof out);
    vd_error_set(VD_TIMEOUT, "an earlier failure");
    vd_result r = vd_context_create(desc, &ctx);
    if (r) return r;
    assert_int_equal(vd_error_result(), VD_TIMEOUT);
    assert_string_equal(vd_error_text(), "an earlier failure");
    vd_kernel kernel = make_kernel(ctx, &builder);
    r = kernel.id ? use_context(ctx, kernel, out) : vd_error_result();
    vc_free(builder);
    if (!r) check_result(out);
    vd_context_destroy(ctx);
    return r;
}

/* ---- runs of the program ---- */

static const char *refused_name(void) { return driver.name ? driver.name : "none"; }

static void tell_signal(int signal_number) {
    char text[200];
    int length = snprintf(text, sizeof text, "# signal %d at call %ld, %s, refused %s\n", signal_number, driver.refuse,
                          refused_name(), manner_names[driver.manner]);
    if (write(1, text, (size_t)length)) {}
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Runs the program with call number `refuse` failing, 0: none. An alarm ends it after a minute if it hangs. */
static vd_result run_refusing(const vd_context_desc *desc, long refuse, manner how) {
    driver.refuse = refuse;
    driver.manner = how;
    driver.name = NULL;
    driver.calls = 0;
    driver.may_leak = false;
    signal(SIGALRM, tell_signal);
    signal(SIGSEGV, tell_signal);
    alarm(60);
    vd_result r = run_program(desc);
    alarm(0);
    if (driver.may_leak) driver.live = 0;
    if (driver.live || driver.garbage)
        fail_msg("call %ld, %s, refused %s: %ld objects are left, garbage was destroyed %ld times; "
                 "the program ended with %d (%s)",
                 refuse, refused_name(), manner_names[how], driver.live, driver.garbage, (int)r, vd_error_text());
    return r;
}

static void skip_without_device(vd_result r) {
    if (r != VD_ERROR_NO_DEVICE) return;
    print_message("# reason: %s\n", vd_error_text());
    skip();
}

/* Runs the program with each call failing in each of the first `manners`, or, if `rotate` is set, in one of them, the
   next one for each call and turn. With RUN_SAMPLE=6, every sixth call fails in each manner, another one in the next
   manner and turn. Returns how many runs failed; *runs: of how many. */
static long refuse_each(const vd_context_desc *desc, int manners, bool rotate, long *runs) {
    vd_result r = run_refusing(desc, 0, ONCE);
    skip_without_device(r);
    assert_int_equal(r, VD_OK);
    long errors = 0, calls = driver.calls;
    const char *sample = getenv("RUN_SAMPLE");
    long one_in = sample ? atol(sample) : 1;
    if (rotate && one_in < manners) one_in = manners;
    *runs = 0;
    for (int how = 0; how < manners; how++)
        for (long n = 1; n <= calls; n++) {
            if (!is_in_turn((uint64_t)(n + how), (uint64_t)one_in)) continue;
            errors += run_refusing(desc, n, (manner)how) != VD_OK;
            ++*runs;
        }
    print_message("# %ld calls, %d manners, %ld runs, %ld errors\n", calls, manners, *runs, errors);
    assert_int_equal(run_refusing(desc, 0, ONCE), VD_OK);
    return errors;
}
