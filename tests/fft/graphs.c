/* Plans of every kind in graphs: replays with other buffers in the slots, other arguments, and several instances give
   the same bytes as immediate runs. */
#include "common.h"

enum { ROWS = 12, LENGTH = 120, N = ROWS * LENGTH, OUTPUTS = 8 };

typedef struct plans {
    vd_fft *fft;
    vd_convolve *convolve;
    vd_reduce *sum, *scaled;
    vd_scan *scan;
    vd_sort *sort;
    vd_histogram *histogram;
    vd_top_k *top_k;
} plans;

static vc_val scale; /* parameter of the map */

static void declare_scale(vc_kernel *k, void *user) {
    (void)user;
    scale = vc_param(k, "scale", VC_F32);
}

static void build_scale(vc_kernel *k, vd_fragment_io *io, void *user) {
    (void)k, (void)user;
    io->out = vc_mul(io->in[0], scale);
}

static void plans_open(plans *p, vd_context *ctx) {
    vd_fft_desc fft = { 0 };
    vd_convolve_desc convolve = { 0 };
    vd_reduce_desc reduce = { 0 };
    vd_scan_desc scan = { 0 };
    vd_sort_desc sort = { 0 };
    vd_histogram_desc histogram = { 0 };
    vd_top_k_desc top_k = { 0 };
    fft.shape[0] = ROWS;
    fft.shape[1] = LENGTH / 2;
    convolve.shape[0] = N / 2;
    reduce.shape[0] = scan.shape[0] = N;
    sort.count = histogram.count = N;
    sort.type = histogram.type = VD_U32;
    histogram.bins = 16;
    top_k.shape[0] = ROWS;
    top_k.shape[1] = LENGTH;
    top_k.k = 5;
    p->fft = vd_fft_create(ctx, &fft);
    p->convolve = vd_convolve_create(ctx, &convolve);
    p->sum = vd_reduce_create(ctx, &reduce);
    reduce.map.declare = declare_scale;
    reduce.map.build = build_scale;
    p->scaled = vd_reduce_create(ctx, &reduce);
    p->scan = vd_scan_create(ctx, &scan);
    p->sort = vd_sort_create(ctx, &sort);
    p->histogram = vd_histogram_create(ctx, &histogram);
    p->top_k = vd_top_k_create(ctx, &top_k);
    if (!p->fft || !p->convolve || !p->sum || !p->scaled || !p->scan || !p->sort || !p->histogram || !p->top_k)
        fail_msg("%s", vd_error_text());
}

static void plans_close(const plans *p) {
    vd_fft_destroy(p->fft);
    vd_convolve_destroy(p->convolve);
    vd_reduce_destroy(p->sum);
    vd_reduce_destroy(p->scaled);
    vd_scan_destroy(p->scan);
    vd_sort_destroy(p->sort);
    vd_histogram_destroy(p->histogram);
    vd_top_k_destroy(p->top_k);
}

#define OK(call) do { if ((call) != VD_OK) fail_msg("%s: %s", #call, vd_error_text()); } while (0)

/* Runs every plan on the same input. `factor`: argument of the reduction with a map. */
static void run_all(const plans *p, vd_list *list, vd_buffer in, const vd_buffer out[OUTPUTS], vd_arg factor) {
    vd_fft_io fft = { VD_FFT_FORWARD, in, out[0], NULL, 0 };
    vd_named_arg named = { "scale", factor };
    vd_reduce_io reduce = { 0 };
    vd_scan_io scan = { 0 };
    vd_sort_io sort = { 0 };
    vd_top_k_io top_k = { 0 };
    reduce.in = scan.in = sort.keys = top_k.in = in;
    reduce.out = out[2];
    reduce.args = &named;
    reduce.arg_count = 1;
    scan.out = out[3];
    sort.out = out[4];
    top_k.values = out[6];
    top_k.indices = out[7];
    OK(vd_fft_run(p->fft, list, &fft));
    fft.direction = VD_FFT_INVERSE; /* in place, after the forward transform */
    fft.in = out[0];
    OK(vd_fft_run(p->fft, list, &fft));
    OK(vd_convolve_run(p->convolve, list, in, out[1]));
    OK(vd_reduce_run_io(p->scaled, list, &reduce));
    OK(vd_scan_run(p->scan, list, &scan));
    OK(vd_sort_run(p->sort, list, &sort));
    OK(vd_histogram_run(p->histogram, list, in, out[5]));
    OK(vd_top_k_run(p->top_k, list, &top_k));
    OK(vd_reduce_run(p->sum, list, out[3], in)); /* changes the input: the next instance differs */
}

static vd_buffer number_buffer(vd_context *ctx, uint32_t seed) {
    float data[N];
    for (uint32_t i = 0; i < N; i++) data[i] = (float)(1 + (seed + i * 7919u) % 1009u) / 64;
    return buffer_of(ctx, VD_BYTES, sizeof data, data); /* read as f32, u32 and complex numbers */
}

static void read_all(vd_context *ctx, vd_buffer in, const vd_buffer out[OUTPUTS], float to[OUTPUTS + 1][N]) {
    for (int i = 0; i <= OUTPUTS; i++) OK(vd_buffer_read(ctx, i ? out[i - 1] : in, 0, to[i], sizeof to[i]));
}

static void outputs_open(vd_context *ctx, vd_buffer out[OUTPUTS]) {
    for (int i = 0; i < OUTPUTS; i++) {
        out[i] = buffer_of(ctx, VD_BYTES, 4 * N, NULL);
        assert_true(out[i].id != 0);
    }
}

static void plans_are_replayed(void **state) {
    static float wanted[OUTPUTS + 1][N], got[OUTPUTS + 1][N];
    vd_context *ctx = device_context;
    vd_buffer in[2], same[2], out[OUTPUTS], graph_out[OUTPUTS];
    plans p;
    (void)state;
    need_device();
    plans_open(&p, ctx);
    outputs_open(ctx, out);
    outputs_open(ctx, graph_out);
    for (uint32_t i = 0; i < 2; i++) {
        in[i] = number_buffer(ctx, 100 * i);
        same[i] = number_buffer(ctx, 100 * i);
    }
    vd_list *list = vd_graph_begin(ctx, NULL);
    OK(list ? VD_OK : VD_ERROR_INVALID);
    if (vd_convolve_set_filter(p.convolve, list, in[0]) == VD_OK) fail_msg("a graph set the first filter of a plan");
    says("cannot contain this command");
    vd_list_discard(list);
    OK(vd_convolve_set_filter(p.convolve, vd_immediate(ctx, 0, 0), in[0]));
    list = vd_graph_begin(ctx, NULL);
    run_all(&p, list, vd_slot_buffer(list, "in", same[0]), graph_out, vd_slot("scale", vd_f32(2)));
    vd_graph graph = vd_graph_end(list);
    if (!graph.id) fail_msg("%s", vd_error_text());
    vd_graph_info info;
    OK(vd_graph_query(ctx, graph, &info));
    assert_true(info.levels < info.commands); /* independent plans overlap */
    for (uint32_t i = 0; i < 6; i++) {
        float factor = (float)(i + 1);
        vd_graph_submit_desc desc = { NULL, 0, 1 + (int)(i % 3), NULL, 0 };
        for (int k = 0; k < desc.instances; k++)
            run_all(&p, vd_immediate(ctx, 0, 0), in[i % 2], out, vd_f32(factor));
        OK(vd_graph_set(ctx, graph, "in", vd_b(same[i % 2])));
        OK(vd_graph_set(ctx, graph, "scale", vd_f32(factor)));
        OK(vd_graph_submit(ctx, graph, &desc, NULL));
        read_all(ctx, in[i % 2], out, wanted);
        read_all(ctx, same[i % 2], graph_out, got);
        for (int k = 0; k <= OUTPUTS; k++)
            if (memcmp(wanted[k], got[k], sizeof wanted[k])) fail_msg("replay %u: buffer %d differs", i, k - 1);
    }
    plans_close(&p);
    OK(vd_wait_idle(ctx));
    assert_int_equal(vd_graph_submit(ctx, graph, NULL, NULL), VD_ERROR_INVALID);
    says("was destroyed");
    vd_graph_destroy(ctx, graph);
    for (int i = 0; i < OUTPUTS; i++) {
        vd_buffer_destroy(ctx, out[i]);
        vd_buffer_destroy(ctx, graph_out[i]);
    }
    for (int i = 0; i < 2; i++) {
        vd_buffer_destroy(ctx, in[i]);
        vd_buffer_destroy(ctx, same[i]);
    }
    OK(vd_wait_idle(ctx));
    nothing_left(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(plans_are_replayed) };
    return RUN_ON_DEVICE(tests);
}
