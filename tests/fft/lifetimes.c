/* Plans that live longer than their context: whatever is run says so, what the host knows is still told, and they are destroyed as ever. Which of them there
   are, and in which order they came and go, does not matter; what the context keeps for simple calls is gone before it. And kernels of convolutions, which
   live no longer than the list in which they are set, if that is discarded.
       lifetimes [vkfft]    vkfft: plans of that engine, which have objects of the device's, and no others */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <pthread.h>

/* ---- host memory that is counted, and that has to be there for longer than the context ---- */

static uint64_t live; /* blocks */

static void *take(void *user, size_t size) {
    void *block = malloc(size);
    if (block) __atomic_add_fetch((uint64_t *)user, 1, __ATOMIC_RELAXED);
    return block;
}

static void *grow(void *user, void *block, size_t size) {
    if (!block) return take(user, size);
    return realloc(block, size);
}

static void give(void *user, void *block) {
    if (block) __atomic_sub_fetch((uint64_t *)user, 1, __ATOMIC_RELAXED);
    free(block);
}

static char told[4096]; /* by the log: of what is left */

static void keep_log(void *user, vd_log_level level, const char *text) {
    (void)user, (void)level;
    if (strstr(text, " was not destroyed before "))
        snprintf(told + strlen(told), sizeof told - strlen(told), "%s\n", text);
}

static vd_context *context_of(vd_backend backend) {
    vd_context_desc desc = { 0 };
    vd_context *ctx = NULL;
    told[0] = 0;
    desc.backend = backend;
    desc.debug = true;
    desc.log = keep_log;
    desc.allocator.allocate = take;
    desc.allocator.reallocate = grow;
    desc.allocator.release = give;
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
    vd_sort *sort, *counting; /* by the default way, by scans of counts */
    vd_histogram *histogram;
    vd_top_k *top;
} plans;

typedef struct buffers { vd_buffer pairs, in, out, numbers; } buffers;

static void positive(vc_kernel *k, const vc_val *in, vc_val *out, void *user) {
    (void)k, (void)user;
    *out = vc_gt(in[0], vc_f32(0));
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
    compact.keep = positive;
    histogram.bins = top.k = 10;
    p->reduce = vd_reduce_create(ctx, &reduce);
    p->scan = vd_scan_create(ctx, &scan);
    p->compact = vd_compact_create(ctx, &compact);
    p->sort = vd_sort_create(ctx, &sort);
    sort.method = VD_SCAN_THREE_KERNELS;
    p->counting = vd_sort_create(ctx, &sort);
    p->histogram = vd_histogram_create(ctx, &histogram);
    p->top = vd_top_k_create(ctx, &top);
    return p->reduce && p->scan && p->compact && p->sort && p->counting && p->histogram && p->top ? NULL : vd_error_text();
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

/* What a run gives, and the beginning of what it says. */
typedef void (*checker)(vd_result result, const char *whose);

static void run_transforms(const plans *p, vd_list *list, const buffers *b, checker check) {
    vd_fft_io io = { VD_FFT_FORWARD, { 0 }, { 0 }, NULL, 0 };
    io.in = b->pairs;
    check(vd_fft_run(p->fft, list, &io), "vd_fft_run 'fft': ");
    io.in = b->in;
    io.out = b->pairs;
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
    scan.count = b->numbers;
    check(vd_scan_run(p->compact, list, &scan), "vd_scan_run 'compact': ");
    sort.keys = b->out;
    check(vd_sort_run(p->sort, list, &sort), "vd_sort_run 'sort': ");
    check(vd_sort_run(p->counting, list, &sort), "vd_sort_run 'sort': ");
    check(vd_histogram_run(p->histogram, list, b->in, b->numbers), "vd_histogram_run 'histogram': ");
    top.in = b->in;
    top.values = b->out;
    top.indices = b->numbers;
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
    b.pairs = buffer_of(ctx, VD_F32C, N, NULL);
    b.in = buffer_of(ctx, VD_F32, N, NULL);
    b.out = buffer_of(ctx, VD_F32, N, NULL);
    b.numbers = buffer_of(ctx, VD_U32, N, NULL);
    return b;
}

/* ---- tests ---- */

/* What is read from host memory alone. */
static void still_told(const plans *p) {
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

/* With and without having run before, in its lists and in those of another context. */
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
    still_told(&p);
    destroy(&p);
    vd_context_destroy(other);
    assert_int_equal(live, 0);
}

static void outlived(void **state) {
    (void)state;
    outlived_on(VD_BACKEND_DUMMY, false);
    outlived_on(VD_BACKEND_DUMMY, true);
}

static void outlived_on_a_device(void **state) {
    (void)state;
    need_device();
    outlived_on(vd_device(device_context, 0)->backend, true);
}

/* Under the validation layer an object that is left would be told when the device goes. */
static void of_another_engine(void **state) {
    vd_fft_desc desc = { 0 };
    vd_fft_io io = { VD_FFT_FORWARD, { 0 }, { 0 }, NULL, 0 };
    vd_context *ctx = context_of(VD_BACKEND_VULKAN);
    (void)state;
    if (!ctx) {
        print_message("# reason: there is no vulkan: %s\n", vd_error_text());
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

/* Some before their context and some after it, in whatever order: the first of all, the last, those between. */
static void in_any_order(void **state) {
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

/* Those that the context keeps have given everything back before what is left is told, whether there were others before them or behind. */
static void kept_ones_go_first(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        vd_context *ctx = context_of(VD_BACKEND_DUMMY);
        vd_reduce_desc desc = { 0 };
        vd_reduce *before = NULL, *behind = NULL;
        buffers b = buffers_in(ctx);
        desc.shape[0] = 8;
        if (i & 1) before = vd_reduce_create(ctx, &desc);
        assert_int_equal(vd_fft_forward(ctx, b.pairs), VD_OK);
        assert_int_equal(vd_reduce_sum(ctx, b.in, b.out), VD_OK);
        assert_int_equal(vd_sort_all(ctx, b.in), VD_OK);
        assert_int_equal(vd_fft_shift(ctx, b.in, b.out, 0, VD_FFT_FORWARD), VD_OK);
        if (i & 2) behind = vd_reduce_create(ctx, &desc);
        vd_buffer_destroy(ctx, b.pairs);
        vd_buffer_destroy(ctx, b.in);
        vd_buffer_destroy(ctx, b.out);
        vd_buffer_destroy(ctx, b.numbers);
        vd_reduce_destroy(before);
        vd_reduce_destroy(behind);
        vd_context_destroy(ctx);
        assert_string_equal(told, "");
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

static void made_at_once(void **state) {
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

/* ---- kernels in lists that are submitted, or not ---- */

typedef struct room {
    vd_buffer in, out, kernels[2]; /* of 1, 2, 3 and of 4, 5, 6 */
    vd_convolve *plan;
} room;

static room room_in(vd_context *ctx) {
    const float impulse[16] = { 1 }, kernels[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
    vd_convolve_desc desc = { 0 };
    room r;
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

static void leave_room(vd_context *ctx, room *r) {
    vd_convolve_destroy(r->plan);
    vd_buffer_destroy(ctx, r->in);
    vd_buffer_destroy(ctx, r->out);
    for (int i = 0; i < 2; i++) vd_buffer_destroy(ctx, r->kernels[i]);
}

static void set_in(vd_list *list, const room *r, int kernel) {
    if (vd_convolve_set_filter(r->plan, list, r->kernels[kernel])) fail_msg("%s", vd_error_text());
}

static void run_in(vd_list *list, const room *r) {
    if (vd_convolve_run(r->plan, list, r->in, r->out)) fail_msg("%s", vd_error_text());
}

static void submit(vd_list *list) {
    if (vd_submit(list, NULL, NULL)) fail_msg("%s", vd_error_text());
}

static void refused_in(vd_list *list, const room *r, const char *why) {
    assert_int_equal(vd_convolve_run(r->plan, list, r->in, r->out), VD_ERROR_INVALID);
    says("vd_convolve_run 'convolve': ");
    says(why);
}

/* The last run had this kernel; whatever is in `out` goes. */
static void had(vd_context *ctx, const room *r, int kernel) {
    float got[16];
    if (vd_buffer_read(ctx, r->out, 0, got, VD_WHOLE)) fail_msg("%s", vd_error_text());
    for (int i = 0; i < 16; i++) assert_float_equal(got[i], i < 3 ? (float)(3 * kernel + i + 1) : 0.0f, 1e-4f);
    assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), r->out, 0, VD_WHOLE, NULL, 0), VD_OK);
}

static const char discarded[] = "no filter is set: the list of vd_convolve_set_filter was discarded or could not be submitted";

/* Refused: a discarded list has set nothing, nor has one whose submission fails. */
static void discarded_kernels(void **state) {
    vd_context *ctx = device_context;
    const vd_event nowhere = { 1, 1, 0, 0 };
    vd_submit_desc wrong = { &nowhere, 1 };
    (void)state;
    need_device();
    room r = room_in(ctx);
    vd_list *list = vd_list_begin(ctx, NULL), *second, *now = vd_immediate(ctx, 0, 0);
    refused_in(now, &r, "no filter is set: call vd_convolve_set_filter first");
    set_in(list, &r, 0);
    run_in(list, &r);
    run_in(list, &r);
    vd_list_discard(list);
    refused_in(now, &r, discarded);
    list = vd_list_begin(ctx, NULL); /* at the place of the one before */
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
    run_in(list, &r); /* which may still be submitted */
    vd_list_discard(list);
    refused_in(now, &r, discarded);
    set_in(now, &r, 1);
    run_in(now, &r);
    had(ctx, &r, 1);
    leave_room(ctx, &r);
}

/* Right: in the same list, in one that is submitted later, after one of several was, and where a discarded one would have set another. */
static void submitted_kernels(void **state) {
    vd_context *ctx = device_context;
    (void)state;
    need_device();
    for (int i = 0; i < 5; i++) {
        room r = room_in(ctx);
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
        had(ctx, &r, 0);
        run_in(vd_immediate(ctx, 0, 0), &r);
        had(ctx, &r, 0);
        leave_room(ctx, &r);
    }
}

/* A plan that is destroyed, and one that loses its context, while it is not known what becomes of its kernel. */
static void open_kernels(void **state) {
    vd_context *ctx = dummy_context();
    (void)state;
    room r = room_in(ctx), left = room_in(ctx);
    vd_list *list = vd_list_begin(ctx, NULL);
    set_in(list, &r, 0);
    set_in(list, &left, 0);
    leave_room(ctx, &r);
    submit(list);
    list = vd_list_begin(ctx, NULL);
    r = room_in(ctx);
    set_in(list, &r, 0);
    vd_context_destroy(ctx);
    refused_in(NULL, &r, "the plan's context was destroyed; the plan cannot be run any more");
    vd_convolve_destroy(r.plan);
    vd_convolve_destroy(left.plan);
}

int main(int argc, char **argv) {
    const struct CMUnitTest engine[] = { cmocka_unit_test(of_another_engine) };
    const struct CMUnitTest tests[] = { cmocka_unit_test(outlived), cmocka_unit_test(outlived_on_a_device), cmocka_unit_test(in_any_order),
                                        cmocka_unit_test(kept_ones_go_first), cmocka_unit_test(made_at_once), cmocka_unit_test(discarded_kernels),
                                        cmocka_unit_test(submitted_kernels), cmocka_unit_test(open_kernels) };
    if (argc > 1 && !strcmp(argv[1], "vkfft")) return cmocka_run_group_tests(engine, NULL, NULL);
    return RUN_ON_DEVICE(tests);
}
