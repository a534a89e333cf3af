/* Host memory of plans, on the dummy backend: plans and the kernels they build allocate only from the context's
   allocator and free everything. When any one allocation fails, there is an error message, nothing leaks, and the same
   call succeeds once memory is available. */
#include "common.h"

/* ---- a counting allocator that can fail ---- */

typedef struct account {
    long live;    /* live blocks */
    long calls;   /* allocations so far */
    long refused; /* number of the allocation that fails; 0: none */
    bool later;   /* all later ones fail too */
} account;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

static long bypassed; /* allocations of the whole program that did not go through an account */

void *__wrap_malloc(size_t size) { return bypassed++, __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return bypassed++, __real_calloc(count, size); }
void *__wrap_realloc(void *block, size_t size) { return bypassed++, __real_realloc(block, size); }

static bool is_refused(account *a) {
    a->calls++;
    return a->refused && (a->later ? a->calls >= a->refused : a->calls == a->refused);
}

static void *take(void *user, size_t size) {
    account *a = (account *)user;
    void *block = is_refused(a) ? NULL : __real_malloc(size);
    if (block) a->live++;
    return block;
}

static void *grow(void *user, void *block, size_t size) {
    account *a = (account *)user;
    void *grown = is_refused(a) ? NULL : __real_realloc(block, size);
    if (grown && !block) a->live++;
    return grown;
}

static void give(void *user, void *block) {
    if (block) ((account *)user)->live--;
    free(block);
}

/* ---- plans are created, run and destroyed ---- */

enum { N = 5000 };

typedef struct fixture {
    vd_context *ctx;
    vd_buffer complexes, in, out, integers;
} fixture;

static vd_list *list_of(const fixture *f) { return vd_immediate(f->ctx, 0, 0); }
static vd_result last(const void *plan) { return plan ? VD_OK : vd_error_result(); }

static void declare(vc_kernel *k, void *user) { *(vc_ref *)user = vc_buffer(k, "window", VC_F32, VC_READ); }

static void window(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    (void)k;
    v->re = vc_mul(v->re, vc_load(*(vc_ref *)user, at->coordinate[0]));
}

static void larger(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_max(io->in[0], io->in[1]);
}

static void twice(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_add(io->in[0], io->in[0]);
}

static void positive(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_gt(io->in[0], vc_f32(0));
}

static vd_result transform(fixture *f, vd_fft_desc *desc, vd_buffer out, const vd_named_arg *args) {
    vd_fft_io io = { VD_FFT_FORWARD, { 0 }, { 0 }, NULL, 0 };
    vd_fft *plan = vd_fft_create(f->ctx, desc);
    vd_result result = last(plan);
    io.in = desc->kind == VD_FFT_REAL ? f->in : f->complexes;
    io.out = out;
    io.args = args;
    io.arg_count = args ? 1 : 0;
    if (!result) result = vd_fft_run(plan, list_of(f), &io);
    vd_fft_destroy(plan);
    return result;
}

static vd_result fft(fixture *f) {
    vd_fft_desc desc = { 0 };
    desc.shape[0] = 8;
    desc.shape[1] = 37;
    desc.axes = 3;
    return transform(f, &desc, (vd_buffer){ 0 }, NULL);
}

static vd_result hooks(fixture *f) {
    vd_fft_desc desc = { 0 };
    vc_ref ref;
    vd_named_arg arg = { "window", vd_b(f->in) };
    desc.shape[0] = 24;
    desc.load = desc.store = window;
    desc.hook_declare = declare;
    desc.hook_user = &ref;
    return transform(f, &desc, (vd_buffer){ 0 }, &arg);
}

static vd_result reals(fixture *f) {
    vd_fft_desc desc = { 0 };
    desc.kind = VD_FFT_REAL;
    desc.shape[0] = 48;
    return transform(f, &desc, f->complexes, NULL);
}

static vd_result convolve(fixture *f) {
    vd_convolve_desc desc = { 0 };
    desc.shape[0] = desc.shape[1] = 16;
    desc.filter_shape[0] = desc.filter_shape[1] = 3;
    desc.mode = VD_CONVOLVE_SAME;
    desc.real = true;
    vd_convolve *plan = vd_convolve_create(f->ctx, &desc);
    vd_result result = last(plan);
    if (!result) result = vd_convolve_set_filter(plan, list_of(f), f->in);
    if (!result) result = vd_convolve_run(plan, list_of(f), f->in, f->out);
    vd_convolve_destroy(plan);
    return result;
}

static vd_result reduce(fixture *f) {
    vd_reduce_desc desc = { 0 };
    desc.shape[0] = N;
    desc.map.build = twice;
    desc.combine.build = larger;
    desc.identity = vc_f32(0);
    vd_reduce *plan = vd_reduce_create(f->ctx, &desc);
    vd_result result = last(plan);
    if (!result) result = vd_reduce_run(plan, list_of(f), f->in, f->out);
    vd_reduce_destroy(plan);
    return result;
}

static vd_result run_scan(fixture *f, vd_scan *plan, bool compacts) {
    vd_scan_io io = { { 0 }, { 0 }, { 0 }, { 0 } };
    vd_result result = last(plan);
    io.in = f->in;
    io.out = f->out;
    if (compacts) io.count = f->integers;
    if (!result) result = vd_scan_run(plan, list_of(f), &io);
    vd_scan_destroy(plan);
    return result;
}

static vd_result scan(fixture *f) {
    vd_scan_desc desc = { 0 };
    desc.shape[0] = N;
    desc.method = VD_SCAN_THREE_KERNELS;
    return run_scan(f, vd_scan_create(f->ctx, &desc), false);
}

static vd_result compact(fixture *f) {
    vd_compact_desc desc = { 0 };
    desc.count = N;
    desc.keep.build = positive;
    desc.method = VD_SCAN_ONE_PASS;
    return run_scan(f, vd_compact_create(f->ctx, &desc), true);
}

static vd_result sort(fixture *f) {
    vd_sort_desc desc = { 0 };
    vd_sort_io io = { { 0 }, { 0 }, { 0 }, { 0 } };
    desc.count = N;
    desc.values = VD_U32;
    vd_sort *plan = vd_sort_create(f->ctx, &desc);
    vd_result result = last(plan);
    io.keys = f->in;
    io.values = f->integers;
    if (!result) result = vd_sort_run(plan, list_of(f), &io);
    vd_sort_destroy(plan);
    return result;
}

static vd_result histogram(fixture *f) {
    vd_histogram_desc desc = { 0 };
    desc.count = N;
    desc.bins = 40;
    vd_histogram *plan = vd_histogram_create(f->ctx, &desc);
    vd_result result = last(plan);
    if (!result) result = vd_histogram_run(plan, list_of(f), f->in, f->integers);
    vd_histogram_destroy(plan);
    return result;
}

static vd_result top_k(fixture *f) {
    vd_top_k_desc desc = { 0 };
    vd_top_k_io io = { { 0 }, { 0 }, { 0 } };
    desc.shape[0] = N;
    desc.k = 10;
    vd_top_k *plan = vd_top_k_create(f->ctx, &desc);
    vd_result result = last(plan);
    io.in = f->in;
    io.values = f->out;
    io.indices = f->integers;
    if (!result) result = vd_top_k_run(plan, list_of(f), &io);
    vd_top_k_destroy(plan);
    return result;
}

/* Simple calls, whose plans the context keeps. */
static vd_result simple(fixture *f) {
    vd_result result = vd_reduce_sum(f->ctx, f->in, f->out);
    if (!result) result = vd_fft_shift(f->ctx, f->in, f->out, 0, VD_FFT_FORWARD);
    return result;
}

/* The calls that may fail; a message names one of them. */
static const struct { const char *name; vd_result (*run)(fixture *f); const char *calls[3]; } plans[] = {
    { "fft", fft, { "vd_fft_create 'fft': ", "vd_fft_run 'fft': ", NULL } },
    { "hooks", hooks, { "vd_fft_create 'fft': ", "vd_fft_run 'fft': ", NULL } },
    { "reals", reals, { "vd_fft_create 'fft': ", "vd_fft_run 'fft': ", NULL } },
    { "convolve", convolve, { "vd_convolve_create 'convolve': ", "vd_convolve_set_filter 'convolve': ",
                              "vd_convolve_run 'convolve': " } },
    { "reduce", reduce, { "vd_reduce_create 'reduce': ", "vd_reduce_run 'reduce': ", NULL } },
    { "scan", scan, { "vd_scan_create 'scan': ", "vd_scan_run 'scan': ", NULL } },
    { "compact", compact, { "vd_compact_create 'compact': ", "vd_scan_run 'compact': ", NULL } },
    { "sort", sort, { "vd_sort_create 'sort': ", "vd_sort_run 'sort': ", NULL } },
    { "histogram", histogram, { "vd_histogram_create 'histogram': ", "vd_histogram_run 'histogram': ", NULL } },
    { "top_k", top_k, { "vd_top_k_create 'top_k': ", "vd_top_k_run 'top_k': ", NULL } },
    { "simple calls", simple, { "vd_reduce_sum: ", "vd_fft_shift: ", NULL } },
};

/* The message names one of the calls and says "out of memory" once. */
static void check_words(size_t plan, long number) {
    static const char words[] = "out of host memory";
    const char *text = vd_error_text(), *at = strstr(text, words);
    bool named = false;
    for (int i = 0; i < 3 && plans[plan].calls[i]; i++)
        named |= strncmp(text, plans[plan].calls[i], strlen(plans[plan].calls[i])) == 0;
    if (!named || !at || strstr(at + sizeof words - 1, words))
        fail_msg("%s, request %ld: %s", plans[plan].name, number, text);
}

/* ---- tests ---- */

static void open_context(fixture *f, account *a) {
    vd_context_desc desc = { 0 };
    memset(a, 0, sizeof *a);
    desc.backend = VD_BACKEND_DUMMY;
    desc.allocator.allocate = take;
    desc.allocator.reallocate = grow;
    desc.allocator.release = give;
    desc.allocator.user = a;
    if (vd_context_create(&desc, &f->ctx)) fail_msg("%s", vd_error_text());
    f->complexes = buffer_of(f->ctx, VD_F32C, N, NULL);
    f->in = buffer_of(f->ctx, VD_F32, N, NULL);
    f->out = buffer_of(f->ctx, VD_F32, N, NULL);
    f->integers = buffer_of(f->ctx, VD_U32, N, NULL);
    a->calls = 0;
}

/* Destroys the context; nothing may be left. */
static void close_context(fixture *f, account *a) {
    vd_context_destroy(f->ctx);
    assert_int_equal(a->live, 0);
}

static void plans_allocate_from_the_context(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(plans); i++) {
        fixture f;
        account a;
        bypassed = 0;
        open_context(&f, &a);
        if (plans[i].run(&f)) fail_msg("%s: %s", plans[i].name, vd_error_text());
        assert_int_equal(vd_wait_idle(f.ctx), VD_OK);
        if (a.calls < 10) fail_msg("%s: %ld requests", plans[i].name, a.calls);
        close_context(&f, &a);
        if (bypassed) fail_msg("%s: %ld allocations bypassed the context", plans[i].name, bypassed);
    }
    vc_free(vc_begin(NULL)); /* checks that the counter counts */
    assert_true(bypassed > 0);
}

/* Lets one allocation of a plan fail. Returns whether there was an allocation of that number. */
static bool refuses(size_t plan, long number, bool later) {
    fixture f;
    account a;
    vd_stats stats;
    open_context(&f, &a);
    vd_error_set(VD_ERROR_IO, "nothing");
    a.refused = number;
    a.later = later;
    vd_result result = plans[plan].run(&f);
    bool came = a.calls >= number;
    a.refused = 0;
    if (result && result != VD_ERROR_OUT_OF_MEMORY && result != VD_ERROR_OUT_OF_DEVICE_MEMORY)
        fail_msg("%s, request %ld: %d, %s", plans[plan].name, number, (int)result, vd_error_text());
    if (result) check_words(plan, number);
    if (plans[plan].run != simple) {
        assert_int_equal(vd_context_stats(f.ctx, &stats), VD_OK);
        if (stats.buffers != 4 || stats.kernels)
            fail_msg("%s, request %ld: %u kernels are left", plans[plan].name, number, (unsigned)stats.kernels);
    }
    if (result && plans[plan].run(&f)) fail_msg("%s after request %ld: %s", plans[plan].name, number, vd_error_text());
    close_context(&f, &a);
    return came;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(plans); i++)
        for (int later = 0; later < 2; later++) {
            long number = 1;
            while (refuses(i, number, later)) number++;
            if (number < 10) fail_msg("%s: %ld requests", plans[i].name, number);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(plans_allocate_from_the_context),
                                        cmocka_unit_test(every_allocation_fails_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
