/* Barriers: the exact number in named situations; in random streams, whether there is one between every two commands
   that conflict. */
#include "tests/unit/unit.h"

/* ---- a backend that records what reaches the queue ---- */

typedef struct touch { uint32_t serial, mode; uint64_t begin, end; } touch;
typedef struct command { uint32_t from, to, stage, count; touch touches[2]; } command; /* stage 0: a barrier */
typedef struct stream { const vd__commands *key; uint32_t count; command commands[4096]; } stream;

static stream recordings[256], queue_stream;
static uint32_t recording_count;

static stream *recording_of(const vd__commands *c) {
    for (uint32_t i = 0; i < recording_count; i++)
        if (recordings[i].key == c) return &recordings[i];
    assert_true(recording_count < VD__COUNT(recordings));
    recordings[recording_count].key = c;
    return &recordings[recording_count++];
}

static command *next_command(const vd__commands *c, uint32_t stage) {
    stream *s = recording_of(c);
    assert_true(s->count < VD__COUNT(s->commands));
    command *k = &s->commands[s->count++];
    memset(k, 0, sizeof *k);
    k->stage = stage;
    return k;
}

static void add_touch(command *k, const vd__memory *m, uint32_t mode, uint64_t offset, uint64_t size) {
    touch t = { m->serial, mode, offset, offset + size };
    k->touches[k->count++] = t;
}

static vd_result spy_begin(vd__device *dev, vd__commands *c, bool reusable) {
    recording_of(c)->count = 0;
    return vd__tape_commands_begin(dev, c, reusable);
}

static void spy_barrier(vd__device *dev, vd__commands *c, uint32_t from, uint32_t to, const vd__transition *transitions,
                        uint32_t count) {
    (void)dev, (void)transitions;
    assert_int_equal(count, 0);
    command *k = next_command(c, 0);
    k->from = from;
    k->to = to;
}

static vd_result hazards_spy_launch(vd__device *dev, vd__commands *c, const vd__launch *launch) {
    (void)dev;
    command *k = next_command(c, VD__STAGE_COMPUTE);
    for (uint32_t i = 0; i < launch->binding_count; i++)
        add_touch(k, launch->bindings[i].memory, launch->bindings[i].number ? VD_READ_WRITE : VD_READ,
                  launch->bindings[i].offset, launch->bindings[i].size);
    return VD_OK;
}

static void spy_copy(vd__device *dev, vd__commands *c, const vd__memory *to, const vd__memory *from,
                     const vd__copy_range *ranges, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        command *k = next_command(c, VD__STAGE_TRANSFER);
        if (!to->mapped) add_touch(k, to, VD_WRITE, ranges[i].to, ranges[i].size);
        if (!from->mapped) add_touch(k, from, VD_READ, ranges[i].from, ranges[i].size);
    }
    vd__tape_record_copy(dev, c, to, from, ranges, count);
}

static void spy_fill(vd__device *dev, vd__commands *c, const vd__memory *to, uint64_t offset, uint64_t size,
                     uint32_t word) {
    add_touch(next_command(c, VD__STAGE_TRANSFER), to, VD_WRITE, offset, size);
    vd__tape_record_fill(dev, c, to, offset, size, word);
}

static vd_result spy_submit(vd__device *dev, uint32_t queue, const vd__submission *submission) {
    const stream *s = submission->commands ? recording_of(submission->commands) : NULL;
    static const command first = { VD__STAGES_ALL, VD__STAGES_ALL, 0, 0, { { 0, 0, 0, 0 }, { 0, 0, 0, 0 } } };
    if (s && submission->barrier_first) {
        assert_true(queue_stream.count < VD__COUNT(queue_stream.commands));
        queue_stream.commands[queue_stream.count++] = first;
    }
    for (uint32_t i = 0; s && i < s->count; i++) {
        assert_true(queue_stream.count < VD__COUNT(queue_stream.commands));
        queue_stream.commands[queue_stream.count++] = s->commands[i];
    }
    return vd__dummy_queue_submit(dev, queue, submission);
}

static vd_context *spied_context(void) {
    static vd__backend spy;
    vd_context *ctx = unit_context(NULL);
    spy = vd__backend_dummy;
    spy.commands_begin = spy_begin;
    spy.record_barrier = spy_barrier;
    spy.record_launch = hazards_spy_launch;
    spy.record_copy = spy_copy;
    spy.record_fill = spy_fill;
    spy.queue_submit = spy_submit;
    ctx->driver.backend = &spy;
    recording_count = 0;
    queue_stream.count = 0;
    return ctx;
}

static bool conflict(const command *a, const command *b) {
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++) {
            const touch *x = &a->touches[i], *y = &b->touches[j];
            if (x->serial == y->serial && ((x->mode | y->mode) & VD_WRITE) && x->begin < y->end && y->begin < x->end)
                return true;
        }
    return false;
}

/* Between any two commands that conflict there is a barrier for their stages. The ranges of one fill or write never
   conflict. */
static void check_stream(void) {
    const command *c = queue_stream.commands;
    for (uint32_t j = 0; j < queue_stream.count; j++) {
        bool open_compute = true, open_transfer = true; /* no barrier from that stage to this command yet */
        for (uint32_t i = j; c[j].stage && i-- > 0;) {
            if (!c[i].stage) {
                if (!(c[i].to & c[j].stage)) continue;
                if (c[i].from & VD__STAGE_COMPUTE) open_compute = false;
                if (c[i].from & VD__STAGE_TRANSFER) open_transfer = false;
            } else if ((c[i].stage == VD__STAGE_COMPUTE ? open_compute : open_transfer) && conflict(&c[i], &c[j])) {
                print_error("commands %u and %u of %u conflict, and there is no barrier between them\n", i, j, queue_stream.count);
                fail();
            }
        }
    }
}

static void stream_dispatch(vd_list *l, vd_kernel kernel, vd_buffer x, vd_buffer y) {
    vd_dispatch_desc d;
    vd_arg args[4] = { vd_b(x), vd_b(y), vd_f32(1), vd_u32(64) };
    memset(&d, 0, sizeof d);
    d.kernel = kernel;
    d.threads[0] = 64;
    d.args = args;
    d.arg_count = 4;
    assert_int_equal(vd_dispatch(l, &d), VD_OK);
}

/* Records a random dispatch, copy, fill or write; `what` of 0 to 13 chooses which. */
static void stream_command(vd_list *l, vd_kernel kernel, const vd_buffer b[6], uint32_t what, uint64_t *random) {
    static const char data[256];
    uint32_t x = unit_random(random) % 6, y = unit_random(random) % 6;
    uint64_t at = unit_random(random) % 63 * 4, size = 4 + unit_random(random) % 16 * 4,
             to = unit_random(random) % 63 * 4;
    if (at + size > 256) size = 256 - at;
    if (to + size > 256) to = 256 - size;
    if (what < 5 && x != y) stream_dispatch(l, kernel, b[x], b[y]);
    else if (what < 9 && x != y) assert_int_equal(vd_copy(l, b[x], to, b[y], at, size), VD_OK);
    else if (what < 13) assert_int_equal(vd_fill(l, b[x], at, size, NULL, 0), VD_OK);
    else assert_int_equal(vd_write(l, b[x], at, data, size), VD_OK);
}

/* A graph of random commands; with an even number, of dispatches only: its barriers have fewer stages. */
static vd_graph stream_graph(vd_context *ctx, vd_kernel kernel, const vd_buffer b[6], int number, uint64_t *random) {
    vd_list *l = vd_graph_begin(ctx, NULL);
    for (uint32_t i = 0, count = 1 + unit_random(random) % 8; i < count; i++) {
        uint32_t x = unit_random(random) % 6, y = (x + 1 + unit_random(random) % 5) % 6;
        if (number % 2) stream_command(l, kernel, b, unit_random(random) % 13, random);
        else stream_dispatch(l, kernel, b[x], b[y]);
    }
    vd_graph g = vd_graph_end(l);
    assert_int_not_equal(g.id, 0);
    return g;
}

static void random_streams(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t random = seed;
        unit_module module;
        vd_context *ctx = spied_context();
        vd_buffer b[6];
        vd_graph graphs[4];
        vd_list *lists[3] = { NULL, NULL, NULL };
        unit_saxpy(&module);
        vd_kernel kernel = unit_kernel(ctx, &module, "saxpy");
        for (int i = 0; i < 6; i++) b[i] = unit_buffer(ctx, "b", VD_F32, 64, NULL);
        for (int i = 0; i < 4; i++) graphs[i] = stream_graph(ctx, kernel, b, i, &random);
        for (int step = 0; step < 400; step++) {
            uint32_t r = unit_random(&random) % 4, what = unit_random(&random) % 16;
            if (r < 3 && !lists[r]) lists[r] = vd_list_begin(ctx, NULL);
            vd_list *l = r < 3 ? lists[r] : vd_immediate(ctx, 0, 0);
            if (what < 14) stream_command(l, kernel, b, what, &random);
            else if (what == 14 && r < 3) {
                vd_list_discard(l);
                lists[r] = NULL;
            } else if (what == 14)
                assert_int_equal(vd_graph_submit(ctx, graphs[unit_random(&random) % 4], NULL, NULL), VD_OK);
            else {
                assert_int_equal(vd_submit(l, NULL, NULL), VD_OK);
                if (r < 3) lists[r] = NULL;
            }
        }
        assert_int_equal(vd_wait_idle(ctx), VD_OK);
        check_stream();
        vd_context_destroy(ctx);
    }
}

/* The first and the last barrier of a graph order it with other submissions; those between them have the stages of the
   graph's commands only. */
static void barriers_of_graphs_have_few_stages(void **state) {
    unit_module module;
    vd_context *ctx = spied_context();
    vd_buffer x = unit_buffer(ctx, "x", VD_F32, 64, NULL), y = unit_buffer(ctx, "y", VD_F32, 64, NULL);
    const uint32_t expected[] = { VD__STAGES_ALL, VD__STAGE_COMPUTE, VD__STAGE_COMPUTE, VD__STAGES_ALL };
    uint32_t seen = 0;
    (void)state;
    unit_saxpy(&module);
    vd_kernel kernel = unit_kernel(ctx, &module, "saxpy");
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    vd_list *l = vd_graph_begin(ctx, NULL);
    for (int i = 0; i < 5; i++) stream_dispatch(l, kernel, x, y);
    assert_int_not_equal(vd_graph_end(l).id, 0);
    const stream *s = &recordings[recording_count - 1];
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->commands[i].stage) continue;
        assert_true(seen < VD__COUNT(expected));
        assert_int_equal(s->commands[i].from, expected[seen]);
        assert_int_equal(s->commands[i].to, expected[seen++]);
    }
    assert_int_equal(seen, 4);
    vd_context_destroy(ctx);
}

/* ---- named situations ---- */

static uint64_t barriers_before;
static vd_context *hazards_ctx;
static vd_buffer hazards_a, hazards_b, hazards_c;
static vd_kernel hazards_saxpy;

static int hazards_setup(void **state) {
    unit_module module;
    (void)state;
    hazards_ctx = unit_context(NULL);
    hazards_a = unit_buffer(hazards_ctx, "a", VD_F32, 1024, NULL);
    hazards_b = unit_buffer(hazards_ctx, "b", VD_F32, 1024, NULL);
    hazards_c = unit_buffer(hazards_ctx, "c", VD_F32, 1024, NULL);
    unit_saxpy(&module);
    hazards_saxpy = unit_kernel(hazards_ctx, &module, "saxpy");
    vd_flush(hazards_ctx);
    vd__hazards_clear(&hazards_ctx->queues[0].open_batch.hazards); /* forget the fills of buffer creation */
    barriers_before = unit_stats(hazards_ctx).barriers;
    return hazards_saxpy.id ? 0 : 1;
}

static int hazards_teardown(void **state) {
    (void)state;
    vd_context_destroy(hazards_ctx);
    return 0;
}

static void run_in(vd_list *l, vd_buffer x, vd_buffer y) {
    vd_dispatch_desc d;
    vd_arg args[4] = { vd_b(x), vd_b(y), vd_f32(1), vd_u32(64) };
    memset(&d, 0, sizeof d);
    d.kernel = hazards_saxpy;
    d.groups[0] = 1;
    d.args = args;
    d.arg_count = 4;
    assert_int_equal(vd_dispatch(l, &d), VD_OK);
}

static void hazards_run(vd_buffer x, vd_buffer y) { run_in(vd_immediate(hazards_ctx, 0, 0), x, y); }
static uint64_t hazards_barriers(void) { return unit_stats(hazards_ctx).barriers - barriers_before; }

/* A dispatch that also accesses a buffer through an address. */
static vd_result run_uses(vd_list *l, vd_buffer x, vd_buffer y, vd_buffer used, uint32_t access, int count) {
    vd_record_use uses[VD_MAX_ARGS + 1];
    vd_dispatch_desc d;
    vd_arg args[4] = { vd_b(x), vd_b(y), vd_f32(1), vd_u32(64) };
    for (int i = 0; i <= VD_MAX_ARGS; i++) {
        uses[i].buffer = used;
        uses[i].access = access;
    }
    memset(&d, 0, sizeof d);
    d.kernel = hazards_saxpy;
    d.threads[0] = 64;
    d.args = args;
    d.arg_count = 4;
    d.uses = uses;
    d.use_count = count;
    return vd_dispatch(l, &d);
}

static void buffers_reached_through_addresses(void **state) {
    vd_list *now = vd_immediate(hazards_ctx, 0, 0);
    vd_buffer d = unit_buffer(hazards_ctx, "d", VD_F32, 1024, NULL), e = unit_buffer(hazards_ctx, "e", VD_F32, 64, NULL);
    vd_graph_info info;
    (void)state;
    vd_flush(hazards_ctx);
    vd__hazards_clear(&hazards_ctx->queues[0].open_batch.hazards);
    barriers_before = unit_stats(hazards_ctx).barriers;
    assert_int_equal(run_uses(now, hazards_a, hazards_b, d, VD_READ, 1), VD_OK);
    assert_int_equal(run_uses(now, hazards_a, hazards_c, d, VD_READ, VD_MAX_ARGS - 2), VD_OK);
    assert_int_equal(hazards_barriers(), 0);
    assert_int_equal(run_uses(now, hazards_a, e, d, VD_WRITE, 1), VD_OK);
    assert_int_equal(hazards_barriers(), 1);
    hazards_run(d, hazards_b);
    assert_int_equal(hazards_barriers(), 2);
    hazards_run(hazards_a, hazards_c); /* the declared use of the earlier dispatch does not stay */
    assert_int_equal(hazards_barriers(), 2);
    vd_list *l = vd_graph_begin(hazards_ctx, NULL);
    for (int i = 0; i < 2; i++)
        assert_int_equal(run_uses(l, hazards_a, i ? hazards_b : hazards_c, d, VD_WRITE, 1), VD_OK);
    vd_graph g = vd_graph_end(l);
    assert_int_equal(vd_graph_query(hazards_ctx, g, &info), VD_OK);
    assert_int_equal(info.barriers, 1);
    l = vd_list_begin(hazards_ctx, NULL);
    assert_int_equal(run_uses(l, hazards_a, hazards_b, d, VD_READ, 1), VD_OK);
    vd_graph_destroy(hazards_ctx, g);
    assert_int_equal(vd_wait_idle(hazards_ctx), VD_OK);
    uint64_t buffers = unit_stats(hazards_ctx).buffers;
    vd_buffer_destroy(hazards_ctx, d);
    assert_int_equal(vd_wait_idle(hazards_ctx), VD_OK);
    assert_int_equal(hazards_ctx->garbage_count, 0); /* the list keeps it */
    vd_list_discard(l);
    assert_int_equal(vd_wait_idle(hazards_ctx), VD_OK);
    assert_int_equal(unit_stats(hazards_ctx).buffers, buffers - 1);
    assert_int_equal(run_uses(now, hazards_a, hazards_b, d, VD_READ, 1), VD_ERROR_INVALID);
    CHECK_TEXT("vd_dispatch 'saxpy': desc.uses[0]: the buffer");
    assert_int_equal(run_uses(now, hazards_a, hazards_b, e, 4, 1), VD_ERROR_INVALID);
    CHECK_TEXT("vd_dispatch 'saxpy': desc.uses[0].access is 4, but must be VD_READ, VD_WRITE or both");
    assert_int_equal(run_uses(now, hazards_a, hazards_b, e, VD_READ, VD_MAX_ARGS - 1), VD_ERROR_INVALID);
    CHECK_TEXT("vd_dispatch 'saxpy': desc.use_count is");
    assert_int_equal(run_uses(now, hazards_a, hazards_b, e, VD_READ, -1), VD_ERROR_INVALID);
    CHECK_TEXT("vd_dispatch 'saxpy': desc.use_count is -1, but must be 0 to");
    hazards_run(hazards_a, hazards_b);
}

/* Repeated dispatches declare other uses each time; a view is one too. */
static void uses_of_repeated_dispatches(void **state) {
    vd_list *now = vd_immediate(hazards_ctx, 0, 0);
    vd_buffer d = unit_buffer(hazards_ctx, "d", VD_F32, 1024, NULL), e = unit_buffer(hazards_ctx, "e", VD_F32, 64, NULL);
    vd_view_desc desc;
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.buffer = d;
    desc.offset = 2048;
    desc.type = VD_F32;
    desc.shape[0] = 512;
    vd_buffer upper = vd_buffer_view(hazards_ctx, &desc);
    desc.offset = 0;
    vd_buffer lower = vd_buffer_view(hazards_ctx, &desc);
    assert_true(upper.id && lower.id);
    vd_flush(hazards_ctx);
    vd__hazards_clear(&hazards_ctx->queues[0].open_batch.hazards);
    barriers_before = unit_stats(hazards_ctx).barriers;
    assert_int_equal(run_uses(now, hazards_a, hazards_b, upper, VD_WRITE, 1), VD_OK);
    assert_int_equal(run_uses(now, hazards_a, hazards_c, upper, VD_READ, 0), VD_OK);
    assert_int_equal(run_uses(now, hazards_a, e, lower, VD_READ, 2), VD_OK);
    assert_int_equal(run_uses(now, hazards_a, hazards_a, lower, VD_READ, 1), VD_ERROR_INVALID);
    assert_int_equal(hazards_barriers(), 0);
    assert_int_equal(run_uses(now, hazards_a, hazards_b, d, VD_READ, 1), VD_OK);
    assert_int_equal(hazards_barriers(), 1);
    assert_int_equal(run_uses(now, hazards_a, hazards_c, d, VD_READ, 3), VD_OK);
    assert_int_equal(hazards_barriers(), 1);
    assert_int_equal(run_uses(now, hazards_a, e, lower, VD_WRITE, 1), VD_OK);
    assert_int_equal(hazards_barriers(), 2);
    assert_int_equal(run_uses(now, hazards_a, hazards_b, upper, VD_READ, 0), VD_OK);
    assert_int_equal(hazards_barriers(), 2);
}

static void shared_reads_need_none(void **state) {
    (void)state;
    hazards_run(hazards_a, hazards_b);
    hazards_run(hazards_a, hazards_c);
    assert_int_equal(hazards_barriers(), 0);
}

static void read_after_write_needs_one(void **state) {
    (void)state;
    hazards_run(hazards_a, hazards_b);
    hazards_run(hazards_b, hazards_c);
    assert_int_equal(hazards_barriers(), 1);
    hazards_run(hazards_a, hazards_b); /* b is read by the second dispatch */
    assert_int_equal(hazards_barriers(), 2);
}

static void one_barrier_serves_all(void **state) {
    (void)state;
    vd_list *l = vd_immediate(hazards_ctx, 0, 0);
    vd_fill(l, hazards_a, 0, VD_WHOLE, NULL, 0);
    vd_fill(l, hazards_b, 0, VD_WHOLE, NULL, 0);
    hazards_run(hazards_a, hazards_b);
    hazards_run(hazards_a, hazards_c); /* the barrier came after the write of a */
    assert_int_equal(hazards_barriers(), 1);
}

static void write_after_read_and_write(void **state) {
    (void)state;
    vd_list *l = vd_immediate(hazards_ctx, 0, 0);
    vd_copy(l, hazards_b, 0, hazards_a, 0, 64);
    vd_fill(l, hazards_a, 0, 64, NULL, 0);
    assert_int_equal(hazards_barriers(), 1);
    vd_fill(l, hazards_a, 0, 64, NULL, 0);
    assert_int_equal(hazards_barriers(), 2);
}

static void disjoint_ranges_need_none(void **state) {
    (void)state;
    vd_list *l = vd_immediate(hazards_ctx, 0, 0);
    for (uint64_t i = 0; i < 16; i++) vd_fill(l, hazards_a, i * 64, 64, NULL, 0);
    vd_copy(l, hazards_a, 1024, hazards_b, 0, 1024);
    vd_copy(l, hazards_c, 0, hazards_a, 2048, 1024);
    assert_int_equal(hazards_barriers(), 0);
    vd_copy(l, hazards_c, 1024, hazards_a, 1000, 4);
    assert_int_equal(hazards_barriers(), 1);
}

static void across_submissions(void **state) {
    (void)state;
    hazards_run(hazards_a, hazards_b);
    vd_flush(hazards_ctx);
    hazards_run(hazards_b, hazards_c);
    assert_int_equal(hazards_barriers(), 1);
    vd_flush(hazards_ctx);
    hazards_run(hazards_a, hazards_b);
    assert_int_equal(hazards_barriers(), 2);
}

static void lists_merge(void **state) {
    (void)state;
    vd_list *l = vd_list_begin(hazards_ctx, NULL);
    run_in(l, hazards_a, hazards_b);
    assert_int_equal(vd_submit(l, NULL, NULL), VD_OK);
    assert_int_equal(hazards_barriers(), 0);
    l = vd_list_begin(hazards_ctx, NULL);
    run_in(l, hazards_b, hazards_c); /* reads what the first list wrote; known only on submission */
    run_in(l, hazards_c, hazards_a);
    assert_int_equal(hazards_barriers(), 0);
    assert_int_equal(vd_submit(l, NULL, NULL), VD_OK);
    assert_int_equal(hazards_barriers(), 2);
    hazards_run(hazards_b, hazards_c); /* c was read after the list's last barrier */
    assert_int_equal(hazards_barriers(), 3);
    vd_buffer d = unit_buffer(hazards_ctx, "d", VD_F32, 1024, NULL);
    hazards_run(hazards_b, d);
    assert_int_equal(hazards_barriers(), 4); /* d was filled on creation */
}

/* The barrier goes before a command when any of its accesses needs it. */
static void a_barrier_goes_before_the_whole_command(void **state) {
    (void)state;
    vd_fill(vd_immediate(hazards_ctx, 0, 0), hazards_a, 0, VD_WHOLE, NULL, 0);
    vd_list *l = vd_list_begin(hazards_ctx, NULL);
    run_in(l, hazards_b, hazards_c);
    run_in(l, hazards_a, hazards_c); /* a is used after the list's barrier, which the fill waits for too */
    assert_int_equal(vd_submit(l, NULL, NULL), VD_OK);
    assert_int_equal(hazards_barriers(), 1);
    hazards_run(hazards_c, hazards_a); /* a was read after it, and c was written */
    assert_int_equal(hazards_barriers(), 2);
}

/* The memory that a list uses, before and after its barriers, counts as in use until the list has finished. */
static void a_list_marks_its_memory_in_use(void **state) {
    (void)state;
    vd_buffer x[40], y[40];
    for (int i = 0; i < 40; i++) x[i] = unit_buffer(hazards_ctx, "x", VD_F32, 64, NULL);
    for (int i = 0; i < 40; i++) y[i] = unit_buffer(hazards_ctx, "y", VD_F32, 64, NULL);
    for (int barriers_in_list = 0; barriers_in_list < 40; barriers_in_list += 13) {
        vd_list *l = vd_list_begin(hazards_ctx, NULL);
        for (int i = 0; i < 40; i++) run_in(l, x[i], y[i % (40 - barriers_in_list)]);
        assert_int_equal(vd_submit(l, NULL, NULL), VD_OK);
        for (int i = 0; i < 40; i++) {
            const vd__buffer *of_x = (const vd__buffer *)(void *)vd__pool_find(&hazards_ctx->buffers, x[i].id);
            const vd__buffer *of_y = (const vd__buffer *)(void *)vd__pool_find(&hazards_ctx->buffers, y[i].id);
            bool written = i < 40 - barriers_in_list;
            assert_int_equal(of_x->storage->last_use[0], hazards_ctx->queues[0].submitted);
            assert_true(of_x->storage->last_write < hazards_ctx->queues[0].submitted);
            assert_int_equal(of_y->storage->last_use[0] == hazards_ctx->queues[0].submitted, written);
            assert_int_equal(of_y->storage->last_write == hazards_ctx->queues[0].submitted, written);
        }
    }
}

/* A list that conflicts with submitted work starts with a barrier; it needs no additional submission. */
static void a_list_is_one_submission(void **state) {
    (void)state;
    for (int finished = 0; finished < 2; finished++) {
        hazards_run(hazards_a, hazards_b);
        vd_flush(hazards_ctx);
        if (finished) assert_int_equal(vd_wait_idle(hazards_ctx), VD_OK);
        uint64_t submissions = unit_stats(hazards_ctx).submissions, before = hazards_barriers();
        vd_list *l = vd_list_begin(hazards_ctx, NULL);
        run_in(l, hazards_b, hazards_c);
        assert_int_equal(vd_submit(l, NULL, NULL), VD_OK);
        assert_int_equal(unit_stats(hazards_ctx).submissions, submissions + 1);
        assert_int_equal(hazards_barriers(), before + 1);
        l = vd_list_begin(hazards_ctx, NULL);
        run_in(l, hazards_b, hazards_a); /* b was made visible, and a has not been used since */
        assert_int_equal(vd_submit(l, NULL, NULL), VD_OK);
        assert_int_equal(unit_stats(hazards_ctx).submissions, submissions + 2);
        assert_int_equal(hazards_barriers(), before + 1);
    }
}

static void many_memories_grow_the_table(void **state) {
    (void)state;
    static vd_buffer many[300];
    for (int i = 0; i < 300; i++) many[i] = unit_buffer(hazards_ctx, "many", VD_F32, 64, NULL);
    vd_flush(hazards_ctx);
    vd__hazards_clear(&hazards_ctx->queues[0].open_batch.hazards);
    for (int i = 0; i < 300; i += 2) hazards_run(many[i], many[i + 1]);
    assert_int_equal(hazards_barriers(), 0);
    hazards_run(many[1], hazards_a);
    assert_int_equal(hazards_barriers(), 1);
}

static const vd__tracked_memory *find(const vd__hazards *h, uint32_t serial) {
    return vd__hazards_tracked(h, vd__hazards_slot(h, serial));
}

/* Two open lists that share their buffers pin each of them once, and their tables stop growing. */
static void open_lists_hold_bounded_memory(void **state) {
    (void)state;
    enum { BUFFERS = 40, OPERATIONS = 1000000 };
    vd_buffer b[BUFFERS];
    vd_list *lists[2];
    for (int i = 0; i < BUFFERS; i++) b[i] = unit_buffer(hazards_ctx, "b", VD_F32, 64, NULL);
    for (int i = 0; i < 2; i++) lists[i] = vd_list_begin(hazards_ctx, NULL);
    for (int i = 0; i < OPERATIONS; i++) {
        run_in(lists[i % 2], b[i % BUFFERS], b[(i % BUFFERS + 1 + i / 2 % (BUFFERS - 1)) % BUFFERS]);
        if (i % 1000 == 0) /* the spy's own memory is limited */
            for (uint32_t r = 0; r < recording_count; r++) recordings[r].count = 0;
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(lists[i]->use_count, BUFFERS + 1); /* and the kernel */
        assert_true(lists[i]->use_capacity <= 64);
        assert_true(lists[i]->hazards.count <= BUFFERS);
    }
    for (int i = 0; i < BUFFERS; i++) vd_buffer_destroy(hazards_ctx, b[i]);
    assert_int_equal(hazards_ctx->garbage_count, 0); /* all are pinned */
    for (int i = 0; i < 2; i++) vd_list_discard(lists[i]);
    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < 2 * lists[i]->use_capacity; k++) assert_int_equal(lists[i]->use_table[k], 0);
    assert_int_equal(vd_wait_idle(hazards_ctx), VD_OK);
    assert_int_equal(hazards_ctx->garbage_count, 0);
}

/* A destroyed view of an image waits for its own last use, not for those of the image: it is freed although every batch
   uses the image. */
static void views_of_images_in_use_are_freed(void **state) {
    (void)state;
    vd_image_desc desc;
    vd_image_view_desc view_desc;
    memset(&desc, 0, sizeof desc);
    memset(&view_desc, 0, sizeof view_desc);
    desc.format = VD_FORMAT_RGBA8_UNORM;
    desc.extent[0] = desc.extent[1] = 4;
    view_desc.image = vd_image_create(hazards_ctx, &desc);
    vd_list *l = vd_immediate(hazards_ctx, 0, 0);
    for (int i = 0; i < 10; i++) {
        vd_image view = vd_image_view(hazards_ctx, &view_desc);
        assert_int_equal(vd_clear_image(l, view, NULL), VD_OK);
        vd_image_destroy(hazards_ctx, view);
        assert_int_equal(hazards_ctx->garbage_count, 1); /* used by the open batch */
        assert_int_equal(vd_flush(hazards_ctx), VD_OK);
        assert_int_equal(vd_clear_image(l, view_desc.image, NULL), VD_OK);
        vd__reap(hazards_ctx);
        assert_int_equal(hazards_ctx->garbage_count, 0);
    }
    vd_list *open = vd_list_begin(hazards_ctx, NULL);
    vd_image view = vd_image_view(hazards_ctx, &view_desc);
    assert_int_equal(vd_clear_image(open, view, NULL), VD_OK);
    vd_image_destroy(hazards_ctx, view_desc.image);
    vd__reap(hazards_ctx);
    assert_int_equal(hazards_ctx->garbage_count, 0); /* pinned by the list, and the image by its view */
    assert_int_equal(vd_submit(open, NULL, NULL), VD_OK);
    assert_int_equal(vd_wait_idle(hazards_ctx), VD_OK);
    assert_int_equal(hazards_ctx->garbage_count, 0);
}

enum { LARGE_COMMAND = 300 }; /* accesses: more than a new table holds */

/* Sets reads of as many memories, which do not exist. */
static void large_command(vd__access accesses[LARGE_COMMAND]) {
    static vd__storage storages[LARGE_COMMAND];
    memset(accesses, 0, LARGE_COMMAND * sizeof *accesses);
    for (uint32_t i = 0; i < LARGE_COMMAND; i++) {
        storages[i].memory.serial = 1000 + i;
        accesses[i].storage = &storages[i];
        accesses[i].end = 4;
    }
}

static void assert_tracked(const vd_list *l) {
    assert_int_equal(l->hazards.count, LARGE_COMMAND);
    assert_true(l->hazards.limit >= LARGE_COMMAND);
    for (uint32_t i = 0; i < LARGE_COMMAND; i++) assert_non_null(find(&l->hazards, 1000 + i));
}

/* After a failed submission the accesses are unknown: a barrier precedes the next command, and then the table grows. */
static void a_large_command_after_a_failed_submission(void **state) {
    vd_list *l = &hazards_ctx->queues[0].open_batch;
    vd__access accesses[LARGE_COMMAND];
    (void)state;
    large_command(accesses);
    assert_true(l->hazards.limit < LARGE_COMMAND);
    vd__mutex_lock(l->queue->lock);
    vd__queue_add_failure(l->queue, l->queue->submitted, VD_ERROR_BACKEND);
    assert_int_equal(vd__list_command(l, accesses, LARGE_COMMAND, VD__STAGE_COMPUTE), VD_OK);
    vd__mutex_unlock(l->queue->lock);
    assert_tracked(l);
    assert_int_equal(unit_stats(hazards_ctx).barriers, barriers_before + 1);
}

/* The first barrier of a list exchanges its two tables, of which only the first has grown. */
static void a_large_command_at_the_first_barrier_of_a_list(void **state) {
    vd_list *l = vd_list_begin(hazards_ctx, NULL);
    vd__access accesses[LARGE_COMMAND];
    (void)state;
    large_command(accesses);
    accesses[LARGE_COMMAND - 1].written = true;
    assert_int_equal(vd__list_command(l, &accesses[LARGE_COMMAND - 1], 1, VD__STAGE_COMPUTE), VD_OK);
    assert_int_equal(vd__list_command(l, accesses, LARGE_COMMAND, VD__STAGE_COMPUTE), VD_OK);
    assert_true(l->has_barrier);
    assert_tracked(l);
    vd_list_discard(l);
}

/* The table finds every entry, also after it grows and when the epoch counter wraps. */
static void epochs(void **state) {
    (void)state;
    vd__hazards h;
    assert_true(vd__hazards_init(&h, &hazards_ctx->host.allocator));
    for (int round = 0; round < 6; round++) {
        /* as after very many barriers: the table is empty, and the next barrier wraps the counter */
        if (round == 3) h.epoch = 0 - VD__EPOCH;
        for (uint32_t i = 0; i < 500; i++) {
            assert_null(find(&h, i * 64));
            vd__access access = { NULL, i, i + 1, i % 2 != 0, 0, false, false, 0 };
            assert_true(h.count < h.limit || vd__hazards_grow(&h, h.count + 1));
            assert_true(vd__hazards_access(&h, i * 64, &access, h.count));
        }
        for (uint32_t i = 0; i < 500; i++) {
            const vd__tracked_memory *t = find(&h, i * 64);
            assert_non_null(t);
            assert_int_equal(t->serial, i * 64);
            assert_true(vd__tracked_conflicts(t, i, i + 1, true));
            assert_int_equal(vd__tracked_conflicts(t, i, i + 1, false), i % 2);
            assert_false(vd__tracked_conflicts(t, i + 1, i + 2, true));
        }
        vd__hazards_clear(&h);
    }
    vd__hazards_free(&h);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, hazards_setup, hazards_teardown)

static const struct CMUnitTest hazards_tests[] = {
    cmocka_unit_test(random_streams), cmocka_unit_test(barriers_of_graphs_have_few_stages),
    CASE(shared_reads_need_none), CASE(read_after_write_needs_one), CASE(buffers_reached_through_addresses),
    CASE(uses_of_repeated_dispatches),
    CASE(one_barrier_serves_all), CASE(write_after_read_and_write), CASE(disjoint_ranges_need_none),
    CASE(across_submissions), CASE(lists_merge), CASE(a_list_is_one_submission), CASE(many_memories_grow_the_table),
    CASE(a_barrier_goes_before_the_whole_command), CASE(a_list_marks_its_memory_in_use),
    CASE(open_lists_hold_bounded_memory), CASE(views_of_images_in_use_are_freed),
    CASE(a_large_command_after_a_failed_submission), CASE(a_large_command_at_the_first_barrier_of_a_list), CASE(epochs),
};
#undef CASE
