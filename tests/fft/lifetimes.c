/* Plans that outlive their context: running one is an error that says so, information held by the host is still
   available, and destroying the plan works. This holds for plans of every kind, created and destroyed in any order;
   plans kept for simple calls are destroyed with the context. Also kernels of convolutions: a kernel that is set in a
   list is lost if the list is discarded.
       lifetimes [vkfft]    vkfft: only plans of that engine, which own objects of the device */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <pthread.h>

/* ---- a counting allocator that outlives the context ---- */

static uint64_t live; /* live blocks */

static void *count_allocate(void *user, size_t size) {
    void *block = malloc(size);
    if (block) __atomic_add_fetch((uint64_t *)user, 1, __ATOMIC_RELAXED);
    return block;
}

static void *count_reallocate(void *user, void *block, size_t size) {
    if (!block) return count_allocate(user, size);
    return realloc(block, size);
}

static void count_release(void *user, void *block) {
    if (block) __atomic_sub_fetch((uint64_t *)user, 1, __ATOMIC_RELAXED);
    free(block);
}

static char leak_messages[4096]; /* log messages about objects that were not destroyed */

static void keep_log(void *user, vd_log_level level, const char *text) {
    (void)user, (void)level;
    if (strstr(text, " was not destroyed before "))
        snprintf(leak_messages + strlen(leak_messages), sizeof leak_messages - strlen(leak_messages), "%s\n", text);
}

static vd_context *context_of(vd_backend backend) {
    vd_context_desc desc = { 0 };
    vd_context *ctx = NULL;
    leak_messages[0] = 0;
    desc.backend = backend;
    desc.debug = true;
    desc.log = keep_log;
    desc.allocator.allocate = count_allocate;
    desc.allocator.reallocate = count_reallocate;
    desc.allocator.release = count_release;
    desc.allocator.user = &live;
    return vd_context_create(&desc, &ctx) ? NULL : ctx;
}

/* ---- a plan of every kind ---- */

enum { N = 3000 };

typedef struct plans {
    vd_fft *fft, *real;
    vd_convolve *convolve;
    vd_reduce *reduce;
    vd_scan *scan, *compact;
    vd_sort *sort, *counting; /* with the default method, and with three kernels */
    vd_histogram *histogram;
    vd_top_k *top;
} plans;

typedef struct buffers { vd_buffer complexes, in, out, integers; } buffers;

static void positive(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_gt(io->in[0], vc_f32(0));
}

static const char *make_transforms(vd_context *ctx, plans *p) {
    vd_fft_desc fft = { 0 };
    vd_convolve_desc convolve = { 0 };
    fft.shape[0] = 40;
    p->fft = vd_fft_create(ctx, &fft);
    fft.kind = VD_FFT_REAL;
    p->real = vd_fft_create(ctx, &fft);
    convolve.shape[0] = convolve.shape[1] = 16;
    convolve.real = true;
    p->convolve = vd_convolve_create(ctx, &convolve);
    return p->fft && p->real && p->convolve ? NULL : vd_error_text();
}

static const char *make_the_others(vd_context *ctx, plans *p) {
    vd_reduce_desc reduce = { 0 };
    vd_scan_desc scan = { 0 };
    vd_compact_desc compact = { 0 };
    vd_sort_desc sort = { 0 };
    vd_histogram_desc histogram = { 0 };
    vd_top_k_desc top = { 0 };
    reduce.shape[0] = scan.shape[0] = compact.count = sort.count = histogram.count = top.shape[0] = N;
    compact.keep.build = positive;
    histogram.bins = top.k = 10;
    p->reduce = vd_reduce_create(ctx, &reduce);
    p->scan = vd_scan_create(ctx, &scan);
    p->compact = vd_compact_create(ctx, &compact);
    p->sort = vd_sort_create(ctx, &sort);
    sort.method = VD_SCAN_THREE_KERNELS;
    p->counting = vd_sort_create(ctx, &sort);
    p->histogram = vd_histogram_create(ctx, &histogram);
    p->top = vd_top_k_create(ctx, &top);
    return p->reduce && p->scan && p->compact && p->sort && p->counting && p->histogram && p->top ? NULL
                                                                                                  : vd_error_text();
}

static void make(vd_context *ctx, plans *p) {
    const char *problem = make_transforms(ctx, p);
    if (!problem) problem = make_the_others(ctx, p);
    if (problem) fail_msg("%s", problem);
}

static void destroy(plans *p) {
    vd_fft_destroy(p->fft);
    vd_fft_destroy(p->real);
    vd_convolve_destroy(p->convolve);
    vd_reduce_destroy(p->reduce);
    vd_scan_destroy(p->scan);
    vd_scan_destroy(p->compact);
    vd_sort_destroy(p->sort);
    vd_sort_destroy(p->counting);
    vd_histogram_destroy(p->histogram);
    vd_top_k_destroy(p->top);
}

/* Checks the result of a run; `whose` is the start of its message. */
typedef void (*checker)(vd_result result, const char *whose);

static void run_transforms(const plans *p, vd_list *list, const buffers *b, checker check) {
    vd_fft_io io = { VD_FFT_FORWARD, { 0 }, { 0 }, NULL, 0 };
    io.in = b->complexes;
    check(vd_fft_run(p->fft, list, &io), "vd_fft_run 'fft': ");
    io.in = b->in;
    io.out = b->complexes;
    check(vd_fft_run(p->real, list, &io), "vd_fft_run 'fft': ");
    check(vd_convolve_set_filter(p->convolve, list, b->in), "vd_convolve_set_filter 'convolve': ");
    check(vd_convolve_run(p->convolve, list, b->in, b->out), "vd_convolve_run 'convolve': ");
}

static void run_the_others(const plans *p, vd_list *list, const buffers *b, checker check) {
    vd_scan_io scan = { { 0 }, { 0 }, { 0 }, { 0 } };
    vd_sort_io sort = { { 0 }, { 0 }, { 0 }, { 0 } };
    vd_top_k_io top = { { 0 }, { 0 }, { 0 } };
    check(vd_reduce_run(p->reduce, list, b->in, b->out), "vd_reduce_run 'reduce': ");
    scan.in = b->in;
    scan.out = b->out;
    check(vd_scan_run(p->scan, list, &scan), "vd_scan_run 'scan': ");
    scan.count = b->integers;
    check(vd_scan_run(p->compact, list, &scan), "vd_scan_run 'compact': ");
    sort.keys = b->out;
    check(vd_sort_run(p->sort, list, &sort), "vd_sort_run 'sort': ");
    check(vd_sort_run(p->counting, list, &sort), "vd_sort_run 'sort': ");
    check(vd_histogram_run(p->histogram, list, b->in, b->integers), "vd_histogram_run 'histogram': ");
    top.in = b->in;
    top.values = b->out;
    top.indices = b->integers;
    check(vd_top_k_run(p->top, list, &top), "vd_top_k_run 'top_k': ");
}

static void works(vd_result result, const char *whose) { if (result) fail_msg("%s%s", whose, vd_error_text()); }

static void refused(vd_result result, const char *whose) {
    assert_int_equal(result, VD_ERROR_INVALID);
    says(whose);
    says("the plan's context was destroyed; the plan cannot be run any more");
}

static buffers buffers_in(vd_context *ctx) {
    buffers b;
    b.complexes = buffer_of(ctx, VD_F32C, N, NULL);
    b.in = buffer_of(ctx, VD_F32, N, NULL);
    b.out = buffer_of(ctx, VD_F32, N, NULL);
    b.integers = buffer_of(ctx, VD_U32, N, NULL);
    return b;
}

/* ---- tests ---- */

/* Queries that need only host memory. */
static void queries_still_work(const plans *p) {
    uint64_t shape[3] = { 7, 7, 7 };
    int count = 7;
    assert_non_null(strstr(vd_fft_explain(p->fft), "rows of 40"));
    assert_non_null(strstr(vd_fft_explain(p->real), "for reals"));
    assert_non_null(strstr(vd_convolve_explain(p->convolve), "multiplied by the spectrum"));
    vd_convolve_shape(p->convolve, shape);
    assert_true(shape[0] == 16 && shape[1] == 16 && !shape[2]);
    vd_fft_arguments(p->fft, &count);
    assert_int_equal(count, 0);
}

/* With and without an earlier run, recorded in its own lists and in those of another context. */
static void outlived_on(vd_backend backend, bool run) {
    vd_context *other = dummy_context(), *ctx = context_of(backend);
    plans p;
    buffers b;
    if (!ctx) fail_msg("%s", vd_error_text());
    make(ctx, &p);
    b = buffers_in(ctx);
    if (run) {
        run_transforms(&p, vd_immediate(ctx, 0, 0), &b, works);
        run_the_others(&p, vd_immediate(ctx, 0, 0), &b, works);
    }
    vd_context_destroy(ctx);
    b = buffers_in(other);
    for (int i = 0; i < 2; i++) {
        run_transforms(&p, i ? NULL : vd_immediate(other, 0, 0), &b, refused);
        run_the_others(&p, i ? NULL : vd_immediate(other, 0, 0), &b, refused);
    }
    queries_still_work(&p);
    destroy(&p);
    vd_context_destroy(other);
    assert_int_equal(live, 0);
}

static void plans_outlive_their_context(void **state) {
    (void)state;
    outlived_on(VD_BACKEND_DUMMY, false);
    outlived_on(VD_BACKEND_DUMMY, true);
}

static void device_plans_outlive_their_context(void **state) {
    (void)state;
    need_device();
    outlived_on(vd_device(device_context, 0)->backend, true);
}

/* The validation layer reports objects that are left when the device is destroyed. */
static void vkfft_plans_outlive_their_context(void **state) {
    vd_fft_desc desc = { 0 };
    vd_fft_io io = { VD_FFT_FORWARD, { 0 }, { 0 }, NULL, 0 };
    vd_context *ctx = context_of(VD_BACKEND_VULKAN);
    (void)state;
    if (!ctx) {
        print_message("# reason: no Vulkan device: %s\n", vd_error_text());
        skip();
    }
    desc.shape[0] = 64;
    desc.engine = VD_FFT_ENGINE_VKFFT;
    vd_fft *idle = vd_fft_create(ctx, &desc), *used = vd_fft_create(ctx, &desc);
    if (!idle && strstr(vd_error_text(), "not compiled in")) {
        print_message("# reason: %s\n", vd_error_text());
        vd_context_destroy(ctx);
        skip();
    }
    if (!idle || !used) fail_msg("%s", vd_error_text());
    io.in = buffer_of(ctx, VD_F32C, 64, NULL);
    works(vd_fft_run(used, vd_immediate(ctx, 0, 0), &io), "vd_fft_run: ");
    vd_context_destroy(ctx);
    refused(vd_fft_run(used, NULL, &io), "vd_fft_run 'fft': ");
    assert_string_equal(vd_fft_explain(idle), "VkFFT\n");
    assert_string_equal(vd_fft_explain(used), "VkFFT\n");
    vd_fft_destroy(idle);
    vd_fft_destroy(used);
    assert_int_equal(live, 0);
}

/* Some plans are destroyed before their context and some after it, in any order. */
static void plans_are_destroyed_in_any_order(void **state) {
    enum { PLANS = 5 };
    (void)state;
    for (uint32_t order = 0; order < 1u << PLANS; order++) {
        vd_context *ctx = context_of(VD_BACKEND_DUMMY);
        vd_histogram_desc desc = { 0 };
        vd_histogram *p[PLANS];
        vd_stats stats;
        desc.count = desc.bins = 4;
        for (int i = 0; i < PLANS; i++) p[i] = vd_histogram_create(ctx, &desc);
        for (int i = 0; i < PLANS; i++) if (order >> i & 1) vd_histogram_destroy(p[i]);
        assert_int_equal(vd_context_stats(ctx, &stats), VD_OK);
        assert_int_equal(stats.kernels, PLANS - __builtin_popcount(order));
        p[0] = order & 1 ? vd_histogram_create(ctx, &desc) : p[0];
        vd_context_destroy(ctx);
        for (int i = PLANS; i-- > 0;) if (!i || !(order >> i & 1)) vd_histogram_destroy(p[i]);
        assert_int_equal(live, 0);
    }
}

/* Kept plans are released before leak messages are printed, no matter in which order plans were created. */
static void kept_plans_are_released_first(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        vd_context *ctx = context_of(VD_BACKEND_DUMMY);
        vd_reduce_desc desc = { 0 };
        vd_reduce *before = NULL, *after = NULL;
        buffers b = buffers_in(ctx);
        desc.shape[0] = 8;
        if (i & 1) before = vd_reduce_create(ctx, &desc);
        assert_int_equal(vd_fft_forward(ctx, b.complexes), VD_OK);
        assert_int_equal(vd_reduce_sum(ctx, b.in, b.out), VD_OK);
        assert_int_equal(vd_sort_all(ctx, b.in), VD_OK);
        assert_int_equal(vd_fft_shift(ctx, b.in, b.out, 0, VD_FFT_FORWARD), VD_OK);
        if (i & 2) after = vd_reduce_create(ctx, &desc);
        vd_buffer_destroy(ctx, b.complexes);
        vd_buffer_destroy(ctx, b.in);
        vd_buffer_destroy(ctx, b.out);
        vd_buffer_destroy(ctx, b.integers);
        vd_reduce_destroy(before);
        vd_reduce_destroy(after);
        vd_context_destroy(ctx);
        assert_string_equal(leak_messages, "");
        assert_int_equal(live, 0);
    }
}

/* ---- several threads ---- */

enum { THREADS = 4, ROUNDS = 20, LEFT = 3 };

typedef struct job {
    vd_context *ctx;
    vd_scan *left[LEFT];
    vd_fft *transform;
    bool failed;
} job;

static void *make_and_destroy(void *user) {
    job *j = (job *)user;
    vd_scan_desc scan = { 0 };
    vd_fft_desc fft = { 0 };
    scan.shape[0] = 100;
    fft.shape[0] = 32;
    for (int i = 0; i < ROUNDS; i++) {
        vd_scan *p = vd_scan_create(j->ctx, &scan);
        vd_fft *f = vd_fft_create(j->ctx, &fft);
        j->failed = j->failed || !p || !f;
        vd_scan_destroy(j->left[i % LEFT]);
        j->left[i % LEFT] = p;
        vd_fft_destroy(j->transform);
        j->transform = f;
    }
    return NULL;
}

static void plans_of_several_threads(void **state) {
    vd_context *ctx = context_of(VD_BACKEND_DUMMY);
    pthread_t threads[THREADS];
    job jobs[THREADS];
    (void)state;
    memset(jobs, 0, sizeof jobs);
    for (int i = 0; i < THREADS; i++) {
        jobs[i].ctx = ctx;
        assert_int_equal(pthread_create(&threads[i], NULL, make_and_destroy, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    vd_context_destroy(ctx);
    for (int i = 0; i < THREADS; i++) {
        assert_false(jobs[i].failed);
        for (int k = 0; k < LEFT; k++) vd_scan_destroy(jobs[i].left[k]);
        vd_fft_destroy(jobs[i].transform);
    }
    assert_int_equal(live, 0);
}

/* ---- convolution kernels set in lists that are submitted or discarded ---- */

typedef struct convolution {
    vd_buffer in, out, kernels[2]; /* of 1, 2, 3 and of 4, 5, 6 */
    vd_convolve *plan;
} convolution;

static convolution convolution_in(vd_context *ctx) {
    const float impulse[16] = { 1 }, kernels[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
    vd_convolve_desc desc = { 0 };
    convolution r;
    desc.shape[0] = 16;
    desc.filter_shape[0] = 3;
    desc.real = true;
    r.in = buffer_of(ctx, VD_F32, 16, impulse);
    r.out = buffer_of(ctx, VD_F32, 16, NULL);
    for (int i = 0; i < 2; i++) r.kernels[i] = buffer_of(ctx, VD_F32, 3, kernels[i]);
    r.plan = vd_convolve_create(ctx, &desc);
    if (!r.plan) fail_msg("%s", vd_error_text());
    return r;
}

static void convolution_destroy(vd_context *ctx, convolution *r) {
    vd_convolve_destroy(r->plan);
    vd_buffer_destroy(ctx, r->in);
    vd_buffer_destroy(ctx, r->out);
    for (int i = 0; i < 2; i++) vd_buffer_destroy(ctx, r->kernels[i]);
}

static void set_in(vd_list *list, const convolution *r, int kernel) {
    if (vd_convolve_set_filter(r->plan, list, r->kernels[kernel])) fail_msg("%s", vd_error_text());
}

static void run_in(vd_list *list, const convolution *r) {
    if (vd_convolve_run(r->plan, list, r->in, r->out)) fail_msg("%s", vd_error_text());
}

static void submit(vd_list *list) {
    if (vd_submit(list, NULL, NULL)) fail_msg("%s", vd_error_text());
}

static void refused_in(vd_list *list, const convolution *r, const char *why) {
    assert_int_equal(vd_convolve_run(r->plan, list, r->in, r->out), VD_ERROR_INVALID);
    says("vd_convolve_run 'convolve': ");
    says(why);
}

/* The last run used this kernel. Clears `out`. */
static void check_kernel_used(vd_context *ctx, const convolution *r, int kernel) {
    float got[16];
    if (vd_buffer_read(ctx, r->out, 0, got, VD_WHOLE)) fail_msg("%s", vd_error_text());
    for (int i = 0; i < 16; i++) assert_float_equal(got[i], i < 3 ? (float)(3 * kernel + i + 1) : 0.0f, 1e-4f);
    assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), r->out, 0, VD_WHOLE, NULL, 0), VD_OK);
}

static const char discarded[] = "no filter is set: the list of vd_convolve_set_filter was discarded or could not be submitted";

/* Refused: each device has its own filters, and a pending list sets only that of its device. */
static void kernels_of_each_device(void **state) {
    int devices[2];
    vd_context_desc desc = { 0 };
    vd_list_desc on_second = { 0 };
    vd_context *ctx = NULL;
    (void)state;
    need_device();
    desc.backend = vd_device(device_context, 0)->backend;
    devices[0] = devices[1] = 1 + vd_device(device_context, 0)->index;
    desc.devices = devices;
    desc.device_count = 2;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
    convolution r = convolution_in(ctx);
    vd_list *first = vd_immediate(ctx, 0, 0), *second = vd_immediate(ctx, 1, 0);
    on_second.device = 2;
    set_in(first, &r, 0);
    run_in(first, &r);
    assert_int_equal(vd_list_device(second), 1);
    refused_in(second, &r, "no filter is set on device 1: call vd_convolve_set_filter with a list of this device");
    vd_list *list = vd_list_begin(ctx, &on_second);
    set_in(list, &r, 1);
    run_in(second, &r); /* the list may still be submitted */
    vd_list_discard(list);
    refused_in(second, &r, "no filter is set on device 1");
    set_in(second, &r, 1);
    run_in(second, &r);
    check_kernel_used(ctx, &r, 0);
    convolution_destroy(ctx, &r);
    vd_context_destroy(ctx);
}

/* Refused: a list sets no kernel if it is discarded or if its submission fails. */
static void kernels_in_discarded_lists(void **state) {
    vd_context *ctx = device_context;
    const vd_event nowhere = { 1, 1, 0, 0 };
    vd_submit_desc wrong = { &nowhere, 1 };
    (void)state;
    need_device();
    convolution r = convolution_in(ctx);
    vd_list *list = vd_list_begin(ctx, NULL), *second, *now = vd_immediate(ctx, 0, 0);
    refused_in(now, &r, "no filter is set: call vd_convolve_set_filter first");
    set_in(list, &r, 0);
    run_in(list, &r);
    run_in(list, &r);
    vd_list_discard(list);
    refused_in(now, &r, discarded);
    list = vd_list_begin(ctx, NULL); /* reuses the memory of the previous list */
    refused_in(list, &r, discarded);
    set_in(list, &r, 0);
    set_in(list, &r, 1);
    assert_int_equal(vd_submit(list, &wrong, NULL), VD_ERROR_INVALID);
    refused_in(now, &r, discarded);
    list = vd_list_begin(ctx, NULL);
    second = vd_list_begin(ctx, NULL);
    set_in(list, &r, 0);
    set_in(second, &r, 1);
    vd_list_discard(second);
    set_in(list, &r, 0);
    run_in(list, &r); /* allowed: the list may still be submitted */
    vd_list_discard(list);
    refused_in(now, &r, discarded);
    set_in(now, &r, 1);
    run_in(now, &r);
    check_kernel_used(ctx, &r, 1);
    convolution_destroy(ctx, &r);
}

/* Accepted: in the same list, in a list that is submitted later, after one of several lists was submitted, and if a
   list that would have set another kernel was discarded. */
static void kernels_in_submitted_lists(void **state) {
    vd_context *ctx = device_context;
    (void)state;
    need_device();
    for (int i = 0; i < 5; i++) {
        convolution r = convolution_in(ctx);
        vd_list *first = vd_list_begin(ctx, NULL), *second = vd_list_begin(ctx, NULL);
        set_in(first, &r, 0);
        if (i == 0) run_in(first, &r);
        if (i == 1) run_in(second, &r);
        if (i == 2) set_in(second, &r, 1);
        submit(first);
        if (i == 2) vd_list_discard(second);
        if (i == 3) set_in(second, &r, 1);
        if (i == 3) vd_list_discard(second);
        if (i == 4) assert_int_equal(vd_wait_idle(ctx), VD_OK);
        if (i < 2 || i == 4) submit(second);
        if (i > 1) run_in(vd_immediate(ctx, 0, 0), &r);
        check_kernel_used(ctx, &r, 0);
        run_in(vd_immediate(ctx, 0, 0), &r);
        check_kernel_used(ctx, &r, 0);
        convolution_destroy(ctx, &r);
    }
}

/* A plan is destroyed, and another loses its context, while the list that sets its kernel is open. */
static void kernels_in_open_lists(void **state) {
    vd_context *ctx = dummy_context();
    (void)state;
    convolution r = convolution_in(ctx), left = convolution_in(ctx);
    vd_list *list = vd_list_begin(ctx, NULL);
    set_in(list, &r, 0);
    set_in(list, &left, 0);
    convolution_destroy(ctx, &r);
    submit(list);
    list = vd_list_begin(ctx, NULL);
    r = convolution_in(ctx);
    set_in(list, &r, 0);
    vd_context_destroy(ctx);
    refused_in(NULL, &r, "the plan's context was destroyed; the plan cannot be run any more");
    vd_convolve_destroy(r.plan);
    vd_convolve_destroy(left.plan);
}

int main(int argc, char **argv) {
    const struct CMUnitTest engine[] = { cmocka_unit_test(vkfft_plans_outlive_their_context) };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_outlive_their_context),      cmocka_unit_test(device_plans_outlive_their_context),
        cmocka_unit_test(plans_are_destroyed_in_any_order), cmocka_unit_test(kept_plans_are_released_first),
        cmocka_unit_test(plans_of_several_threads),         cmocka_unit_test(kernels_of_each_device),
        cmocka_unit_test(kernels_in_discarded_lists),
        cmocka_unit_test(kernels_in_submitted_lists),       cmocka_unit_test(kernels_in_open_lists)
    };
    if (argc > 1 && !strcmp(argv[1], "vkfft")) return cmocka_run_group_tests(engine, NULL, NULL);
    return RUN_ON_DEVICE(tests);
}
