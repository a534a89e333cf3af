/* Scheduling of graphs: the levels of commands, the number of barriers compared with all possible orders, the memory of
   transient buffers; and what submissions change in recordings. */
#include "tests/unit/unit.h"

/* ---- random graphs of transfers ---- */

enum { GRAPH_MOST = 8, GRAPH_BUFFERS = 3, GRAPH_BYTES = 256 };

typedef struct graph_access { uint32_t buffer, begin, end; bool written; } graph_access;
typedef struct graph_node { graph_access accesses[2]; uint32_t count; } graph_node;
typedef struct graph_model { graph_node nodes[64]; uint32_t count; } graph_model;

static bool graph_conflict(const graph_node *a, const graph_node *b) {
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++) {
            const graph_access *x = &a->accesses[i], *y = &b->accesses[j];
            if (x->buffer == y->buffer && (x->written || y->written) && x->begin < y->end && y->begin < x->end)
                return true;
        }
    return false;
}

static graph_access graph_range(uint64_t *random, uint32_t size, bool written) {
    graph_access a;
    a.buffer = unit_random(random) % GRAPH_BUFFERS;
    a.begin = unit_random(random) % ((GRAPH_BYTES - size) / 4 + 1) * 4;
    a.end = a.begin + size;
    a.written = written;
    return a;
}

/* Records a random graph of copies and fills. Ranges are short, long or everything. */
static vd_graph graph_random(vd_context *ctx, const vd_buffer *buffers, uint64_t *random, uint32_t count,
                             graph_model *model) {
    static const uint32_t sizes[] = { 4, 16, 64, 128, GRAPH_BYTES };
    vd_list *list = vd_graph_begin(ctx, NULL);
    assert_non_null(list);
    for (model->count = 0; model->count < count;) {
        graph_node *n = &model->nodes[model->count];
        uint32_t size = sizes[unit_random(random) % VD__COUNT(sizes)];
        n->count = 1 + unit_random(random) % 2;
        for (uint32_t i = 0; i < n->count; i++) n->accesses[i] = graph_range(random, size, i == 0);
        const graph_access *to = &n->accesses[0], *from = &n->accesses[1];
        if (n->count == 2 && to->buffer == from->buffer && to->begin < from->end && from->begin < to->end) continue;
        if (n->count == 1)
            assert_int_equal(vd_fill(list, buffers[to->buffer], to->begin, size, NULL, 0), VD_OK);
        else
            assert_int_equal(vd_copy(list, buffers[to->buffer], to->begin, buffers[from->buffer], from->begin, size),
                             VD_OK);
        model->count++;
    }
    vd_graph g = vd_graph_end(list);
    assert_true(g.id != 0);
    return g;
}

/* The least number of barriers of any order of the commands that keeps the order of conflicting ones. `done`: commands
   that were executed; `open`: those of them after the last barrier. */
static uint32_t graph_least(const uint32_t *conflicts, uint32_t count, uint32_t done, uint32_t open,
                            uint8_t (*known)[1 << GRAPH_MOST]) {
    uint32_t least = UINT32_MAX;
    if (done == (1u << count) - 1) return 0;
    if (known[done][open]) return known[done][open] - 1u;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t earlier = conflicts[i] & ((1u << i) - 1), bit = 1u << i;
        if ((done & bit) || (earlier & ~done)) continue;
        uint32_t with = 1 + graph_least(conflicts, count, done | bit, bit, known); /* a barrier before it */
        if (with < least) least = with;
        if (conflicts[i] & open) continue;
        uint32_t without = graph_least(conflicts, count, done | bit, open | bit, known);
        if (without < least) least = without;
    }
    known[done][open] = (uint8_t)(least + 1);
    return least;
}

static uint32_t graph_barriers; /* recorded by the backend */

static void graph_spy_barrier(vd__device *dev, vd__commands *c, uint32_t from, uint32_t to,
                              const vd__transition *transitions, uint32_t count) {
    (void)dev, (void)c, (void)from, (void)to, (void)transitions;
    assert_int_equal(count, 0);
    if (to != VD__STAGE_HOST) graph_barriers++;
}

static vd_context *graph_context(vd_buffer buffers[GRAPH_BUFFERS]) {
    static vd__backend spy;
    vd_context *ctx = unit_context(NULL);
    spy = vd__backend_dummy;
    spy.record_barrier = graph_spy_barrier;
    ctx->driver.backend = &spy;
    for (int i = 0; i < GRAPH_BUFFERS; i++) buffers[i] = unit_buffer(ctx, "b", VD_U32, GRAPH_BYTES / 4, NULL);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    return ctx;
}

/* Conflicting commands are in the order of recording, in different levels, and every barrier has a cause. */
static void graph_check(vd_context *ctx, vd_graph handle, const graph_model *model) {
    const vd__graph *g = (const vd__graph *)(const void *)vd__pool_find(&ctx->graphs, handle.id);
    vd_graph_info info;
    assert_int_equal(vd_graph_query(ctx, handle, &info), VD_OK);
    assert_int_equal(info.commands, model->count);
    assert_int_equal(info.barriers, info.levels - 1);
    for (uint32_t j = 0; j < model->count; j++)
        for (uint32_t i = 0; i < j; i++)
            if (graph_conflict(&model->nodes[i], &model->nodes[j])) assert_true(g->levels[i] < g->levels[j]);
    for (uint32_t i = 0; i < model->count; i++)
        if (i) assert_true(g->levels[g->order[i - 1]] <= g->levels[g->order[i]]);
    for (int i = 0; i < info.barriers; i++) {
        vd_graph_barrier_info b;
        assert_int_equal(vd_graph_barrier_query(ctx, handle, i, &b), VD_OK);
        assert_true(b.before < b.after && b.begin < b.end);
        assert_true(graph_conflict(&model->nodes[b.before], &model->nodes[b.after]));
        assert_int_equal(g->levels[b.before], i + 1);
        assert_int_equal(g->levels[b.after], i + 2);
    }
}

static void barriers_are_the_least(void **state) {
    static uint8_t known[1 << GRAPH_MOST][1 << GRAPH_MOST];
    vd_buffer buffers[GRAPH_BUFFERS];
    vd_context *ctx = graph_context(buffers);
    (void)state;
    for (uint64_t seed = 1; seed <= 2000; seed += unit_stride()) {
        uint64_t random = seed;
        uint32_t count = 1 + unit_random(&random) % GRAPH_MOST, conflicts[GRAPH_MOST] = { 0 };
        graph_model model;
        vd_graph_info info;
        graph_barriers = 0;
        vd_graph g = graph_random(ctx, buffers, &random, count, &model);
        graph_check(ctx, g, &model);
        assert_int_equal(vd_graph_query(ctx, g, &info), VD_OK);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t j = 0; j < count; j++)
                if (i != j && graph_conflict(&model.nodes[i], &model.nodes[j])) conflicts[i] |= 1u << j;
        memset(known, 0, sizeof known);
        uint32_t least = graph_least(conflicts, count, 0, 0, known);
        if (least != (uint32_t)info.barriers) print_error("seed %u: %d barriers, but %u suffice\n", (unsigned)seed, info.barriers, (unsigned)least);
        assert_int_equal(info.barriers, least);
        assert_int_equal(graph_barriers, least);
        vd_graph_destroy(ctx, g);
    }
    vd_context_destroy(ctx);
}

static void large_graphs_are_ordered(void **state) {
    vd_buffer buffers[GRAPH_BUFFERS];
    vd_context *ctx = graph_context(buffers);
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed += unit_stride()) {
        uint64_t random = seed;
        graph_model model;
        vd_graph g = graph_random(ctx, buffers, &random, 64, &model);
        graph_check(ctx, g, &model);
        assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_OK);
        vd_graph_destroy(ctx, g);
    }
    vd_context_destroy(ctx);
}

/* A level with more buffers than the hazard table holds: later work conflicts with it. */
static void full_levels_conflict_with_later_work(void **state) {
    vd_buffer buffers[GRAPH_BUFFERS];
    vd_context *ctx = graph_context(buffers);
    vd_list *list = vd_graph_begin(ctx, NULL);
    vd_graph_info info;
    (void)state;
    for (int i = 0; i < VD__HAZARDS; i++)
        assert_int_equal(vd_fill(list, unit_buffer(ctx, "b", VD_U32, 4, NULL), 0, 16, NULL, 0), VD_OK);
    for (int i = 0; i < GRAPH_BUFFERS; i++) assert_int_equal(vd_fill(list, buffers[i], 0, 16, NULL, 0), VD_OK);
    vd_graph g = vd_graph_end(list);
    assert_int_equal(vd_graph_query(ctx, g, &info), VD_OK);
    assert_int_equal(info.levels, 1);
    assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_OK);
    graph_barriers = 0;
    assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), buffers[0], 0, 16, NULL, 0), VD_OK);
    assert_int_equal(graph_barriers, 1);
    assert_int_equal(vd_fill(vd_immediate(ctx, 0, 0), buffers[1], 0, 16, NULL, 0), VD_OK);
    assert_int_equal(graph_barriers, 1); /* the barrier orders all of them */
    vd_context_destroy(ctx);
}

/* The code that every function for graphs returns after the device was lost. */
static void lost_devices_are_reported(void **state) {
    vd_context *ctx = unit_context(NULL);
    vd_graph g = vd_graph_end(vd_graph_begin(ctx, NULL));
    vd_graph_info info;
    vd_graph_barrier_info barrier;
    (void)state;
    assert_true(g.id != 0);
    ctx->lost_device = 1;
    ctx->state |= VD__LOST;
    assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_ERROR_DEVICE_LOST);
    assert_int_equal(vd_graph_set(ctx, g, "x", vd_u32(1)), VD_ERROR_DEVICE_LOST);
    assert_int_equal(vd_graph_query(ctx, g, &info), VD_ERROR_DEVICE_LOST);
    assert_int_equal(vd_graph_barrier_query(ctx, g, 0, &barrier), VD_ERROR_DEVICE_LOST);
    vd_context_destroy(ctx);
}

/* ---- transient buffers ---- */

static bool transients_meet(const vd__graph_slot *s, const vd__graph_slot *t) {
    return s->first_level && t->first_level && s->first_level <= t->last_level && t->first_level <= s->last_level;
}

/* Whether a larger buffer in use at the same level, or an earlier one of the same size, is in the way of s at `offset`.
   Those are placed first. */
static bool transient_blocked(const vd__graph *g, uint32_t index, uint64_t offset) {
    const vd__graph_slot *s = vd__graph_slot_at(g, index);
    for (uint32_t i = 0; i < g->all_slots.count; i++) {
        const vd__graph_slot *t = vd__graph_slot_at(g, i);
        bool first = t->buffer->size > s->buffer->size || (t->buffer->size == s->buffer->size && i < index);
        if (first && transients_meet(s, t) && t->memory_offset < offset + s->buffer->size
            && offset < t->memory_offset + t->buffer->size)
            return true;
    }
    return false;
}

/* Buffers that are in use at the same level have different memory, and chains reuse it. Each is at the lowest offset
   that those placed before it leave. */
static void transient_memory(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed += unit_stride()) {
        enum { TRANSIENTS = 12 };
        uint64_t random = seed, sum = 0;
        vd_buffer b[TRANSIENTS], outer[GRAPH_BUFFERS];
        uint64_t sizes[TRANSIENTS];
        vd_context *ctx = graph_context(outer);
        vd_list *list = vd_graph_begin(ctx, NULL);
        for (int i = 0; i < TRANSIENTS; i++) {
            vd_buffer_desc desc;
            memset(&desc, 0, sizeof desc);
            desc.name = "t";
            desc.type = VD_U32;
            desc.shape[0] = 1 + unit_random(&random) % 5000;
            b[i] = vd_graph_buffer(list, &desc);
            assert_true(b[i].id != 0);
            sizes[i] = 4 * desc.shape[0];
            sum += (sizes[i] + 255) / 256 * 256;
        }
        for (int i = 0; i < 20; i++) {
            uint32_t to = unit_random(&random) % TRANSIENTS, from = unit_random(&random) % TRANSIENTS;
            uint64_t size = sizes[to] < sizes[from] ? sizes[to] : sizes[from];
            if (to != from) assert_int_equal(vd_copy(list, b[to], 0, b[from], 0, size), VD_OK);
        }
        vd_graph handle = vd_graph_end(list);
        const vd__graph *g = (const vd__graph *)(const void *)vd__pool_find(&ctx->graphs, handle.id);
        assert_non_null(g);
        assert_true(g->transient_bytes <= sum);
        for (uint32_t i = 0; i < TRANSIENTS; i++)
            for (uint32_t j = 0; j < i; j++) {
                const vd__graph_slot *s = vd__graph_slot_at(g, i), *t = vd__graph_slot_at(g, j);
                bool share = s->memory_offset < t->memory_offset + t->buffer->size
                             && t->memory_offset < s->memory_offset + s->buffer->size;
                assert_false(share && transients_meet(s, t));
                assert_int_equal(s->memory_offset % 256, 0);
            }
        for (uint32_t i = 0; i < TRANSIENTS; i++)
            for (uint64_t at = 0; at < vd__graph_slot_at(g, i)->memory_offset; at += 256)
                assert_true(transient_blocked(g, i, at));
        assert_int_equal(vd_graph_submit(ctx, handle, NULL, NULL), VD_OK);
        vd_context_destroy(ctx);
    }
}

/* A chain of many transient buffers has two of them in use at a time; then all of them are in use at the same time. */
static void many_transient_buffers(void **state) {
    enum { COUNT = 3000 };
    vd_buffer t[COUNT];
    vd_context *ctx = unit_context(NULL);
    vd_graph_info info;
    (void)state;
    for (int together = 0; together < 2; together++) {
        vd_list *list = vd_graph_begin(ctx, NULL);
        for (int i = 0; i < COUNT; i++) {
            vd_buffer_desc desc;
            memset(&desc, 0, sizeof desc);
            desc.type = VD_U32;
            desc.shape[0] = 64;
            t[i] = vd_graph_buffer(list, &desc);
            if (together || !i) assert_int_equal(vd_fill(list, t[i], 0, 256, NULL, 0), VD_OK);
            else assert_int_equal(vd_copy(list, t[i], 0, t[i - 1], 0, 256), VD_OK);
        }
        for (int i = 1; i < COUNT && together; i++) assert_int_equal(vd_copy(list, t[0], 0, t[i], 0, 256), VD_OK);
        vd_graph g = vd_graph_end(list);
        assert_int_equal(vd_graph_query(ctx, g, &info), VD_OK);
        assert_int_equal(info.levels, COUNT);
        assert_int_equal(info.transient_bytes, together ? 256 * COUNT : 512);
    }
    vd_context_destroy(ctx);
}

/* A transfer of 0 bytes is no command: the transient buffer has no memory. */
static void unused_transient_buffers(void **state) {
    vd_context *ctx = unit_context(NULL);
    vd_buffer x = unit_buffer(ctx, "x", VD_U32, 64, NULL);
    vd_list *list = vd_graph_begin(ctx, NULL);
    vd_buffer_desc desc;
    vd_graph_info info;
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.type = VD_U32;
    desc.shape[0] = 64;
    vd_buffer t = vd_graph_buffer(list, &desc);
    assert_int_equal(vd_copy(list, x, 0, t, 0, 0), VD_OK);
    assert_int_equal(vd_fill(list, x, 0, 4, NULL, 0), VD_OK);
    vd_graph g = vd_graph_end(list);
    assert_int_equal(vd_graph_query(ctx, g, &info), VD_OK);
    assert_int_equal(info.commands, 1);
    assert_int_equal(info.transient_bytes, 0);
    assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_OK);
    vd_context_destroy(ctx);
}

/* ---- launches ---- */

/* Returns launch i of the newest recording of a graph. */
static const vd__tape_launch *graph_launch(vd_context *ctx, vd_graph handle, uint32_t i) {
    const vd__graph *g = (const vd__graph *)(const void *)vd__pool_find(&ctx->graphs, handle.id);
    const vd__tape *tape = &g->recordings->recording.commands.tape;
    for (uint32_t at = 0; at < tape->count; at += vd__tape_command_at(tape, at)->words) {
        const void *command = vd__tape_command_at(tape, at);
        if (((const vd__tape_command *)command)->kind != VD__TAPE_LAUNCH) continue;
        if (!i--) return (const vd__tape_launch *)command;
    }
    return NULL;
}

/* Returns the value of an argument in a launch, as bits. */
static uint32_t graph_argument(vd_context *ctx, vd_kernel kernel, const vd__tape_launch *launch, int arg) {
    vd_kernel_arg_info info;
    uint32_t bits;
    assert_non_null(launch);
    assert_int_equal(vd_kernel_arg_query(ctx, kernel, arg, &info), VD_OK);
    memcpy(&bits, (const uint8_t *)vd__tape_arguments(launch) + info.arg.location, 4);
    return bits;
}

/* saxpy with slots "a" and "n", which is its number of threads too */
static vd_result graph_saxpy(vd_list *list, vd_kernel kernel, vd_buffer x, vd_buffer y, uint64_t threads) {
    vd_arg args[4];
    vd_dispatch_desc d;
    args[0] = vd_b(x);
    args[1] = vd_b(y);
    args[2] = vd_slot("a", vd_f32(1));
    args[3] = vd_slot("n", vd_u32((uint32_t)threads));
    memset(&d, 0, sizeof d);
    d.kernel = kernel;
    d.threads[0] = threads;
    d.args = args;
    d.arg_count = 4;
    d.threads_slot = "n";
    return vd_dispatch(list, &d);
}

static void submissions_change_arguments(void **state) {
    unit_module module;
    vd_context *ctx = unit_context(NULL);
    vd_buffer x = unit_buffer(ctx, "x", VD_F32, 1000, NULL), y = unit_buffer(ctx, "y", VD_F32, 1000, NULL);
    float values[3] = { 4, 5, 6 };
    (void)state;
    unit_saxpy(&module);
    vd_kernel kernel = unit_kernel(ctx, &module, "saxpy");
    vd_list *list = vd_graph_begin(ctx, NULL);
    assert_int_equal(graph_saxpy(list, kernel, x, y, 1000), VD_OK);
    vd_graph g = vd_graph_end(list);
    assert_true(g.id != 0);
    assert_int_equal(graph_argument(ctx, kernel, graph_launch(ctx, g, 0), 2), unit_bits32(1));
    uint32_t groups = graph_launch(ctx, g, 0)->groups[0];
    assert_int_equal(vd_graph_set(ctx, g, "a", vd_f32(3)), VD_OK);
    assert_int_equal(graph_argument(ctx, kernel, graph_launch(ctx, g, 0), 2), unit_bits32(1));
    assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_OK);
    assert_int_equal(graph_argument(ctx, kernel, graph_launch(ctx, g, 0), 2), unit_bits32(3));
    vd_graph_value value = { "a", vd_value(VD_F32, values), 3 };
    vd_graph_submit_desc desc = { NULL, 0, 3, &value, 1 };
    assert_int_equal(vd_graph_submit(ctx, g, &desc, NULL), VD_OK);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(graph_argument(ctx, kernel, graph_launch(ctx, g, i), 2), unit_bits32(values[i]));
    assert_null(graph_launch(ctx, g, 3));
    assert_int_equal(vd_graph_set(ctx, g, "n", vd_u32(10)), VD_OK);
    assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_OK);
    assert_int_equal(graph_launch(ctx, g, 0)->groups[0], 1);
    assert_true(groups > 1);
    /* the value of vd_graph_set */
    assert_int_equal(graph_argument(ctx, kernel, graph_launch(ctx, g, 0), 2), unit_bits32(3));
    assert_int_equal(graph_argument(ctx, kernel, graph_launch(ctx, g, 0), 3), 10);
    assert_int_equal(vd_graph_set(ctx, g, "n", vd_u32(0)), VD_OK); /* no launch at all */
    assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_OK);
    assert_null(graph_launch(ctx, g, 0));
    vd_context_destroy(ctx);
}

/* Counts of threads that need more work-groups than the device has fail, because saxpy has no group base. */
static void too_many_threads_are_refused(void **state) {
    unit_module module;
    vd_context *ctx = unit_context(NULL);
    vd_buffer x = unit_buffer(ctx, "x", VD_F32, 1000, NULL), y = unit_buffer(ctx, "y", VD_F32, 1000, NULL);
    (void)state;
    unit_saxpy(&module);
    vd_kernel kernel = unit_kernel(ctx, &module, "saxpy");
    vd_list *list = vd_graph_begin(ctx, NULL);
    assert_int_equal(graph_saxpy(list, kernel, x, y, 1000), VD_OK);
    vd_graph g = vd_graph_end(list);
    ctx->devices[0].device.info.limits.max_groups[0] = 16;
    assert_int_equal(vd_graph_set(ctx, g, "n", vd_u32(100000)), VD_OK);
    assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_ERROR_UNSUPPORTED);
    unit_check_text("max_groups", __FILE__, __LINE__);
    assert_int_equal(vd_graph_set(ctx, g, "n", vd_u32(1000)), VD_OK);
    assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_OK);
    vd_context_destroy(ctx);
}

static vd_buffer graph_transient(vd_list *list) {
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.type = VD_U32;
    desc.shape[0] = 1024;
    return vd_graph_buffer(list, &desc);
}

/* Two transient buffers are in use at the same time unless slot s contains x: then the second one is filled from what
   the first one was copied to. The size is that of the last schedule, the memory that of the largest one. */
static void transient_bytes_can_shrink(void **state) {
    vd_context *ctx = unit_context(NULL);
    vd_buffer x = unit_buffer(ctx, "x", VD_U32, 1024, NULL), y = unit_buffer(ctx, "y", VD_U32, 1024, NULL);
    vd_graph_info info;
    (void)state;
    vd_list *list = vd_graph_begin(ctx, NULL);
    vd_buffer s = vd_slot_buffer(list, "s", y), first = graph_transient(list), second = graph_transient(list);
    assert_int_equal(vd_fill(list, first, 0, 4096, NULL, 0), VD_OK);
    assert_int_equal(vd_copy(list, x, 0, first, 0, 4096), VD_OK);
    assert_int_equal(vd_copy(list, second, 0, s, 0, 4096), VD_OK);
    assert_int_equal(vd_copy(list, y, 0, second, 0, 4096), VD_OK);
    vd_graph handle = vd_graph_end(list);
    const vd__graph *g = (const vd__graph *)(const void *)vd__pool_find(&ctx->graphs, handle.id);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(vd_graph_query(ctx, handle, &info), VD_OK);
        assert_int_equal(info.transient_bytes, i ? 4096 : 8192);
        assert_int_equal(info.levels, i ? 4 : 2);
        assert_int_equal(g->transient_capacity, 8192);
        assert_null(g->transients->next);
        assert_int_equal(vd_graph_set(ctx, handle, "s", vd_b(x)), VD_OK);
        assert_int_equal(vd_graph_submit(ctx, handle, NULL, NULL), VD_OK);
    }
    vd_context_destroy(ctx);
}

static uint64_t graph_time; /* the timeline value that a queue has reached */

static uint64_t graph_queue_value(vd__device *dev, uint32_t queue) {
    (void)dev, (void)queue;
    return graph_time;
}

static uint32_t graph_recordings(vd_context *ctx, vd_graph handle) {
    const vd__graph *g = (const vd__graph *)(const void *)vd__pool_find(&ctx->graphs, handle.id);
    uint32_t count = 0;
    for (const vd__graph_recording *r = g->recordings; r; r = r->next) count++;
    return count;
}

/* Submissions with other buffers are recorded again. A graph keeps as many recordings as are in flight, then four. */
static void recordings_are_freed(void **state) {
    enum { BUFFERS = 20 };
    static vd__backend stalled;
    vd_context *ctx = unit_context(NULL);
    vd_buffer b[BUFFERS];
    (void)state;
    for (int i = 0; i < BUFFERS; i++) b[i] = unit_buffer(ctx, "b", VD_U32, 64, NULL);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    vd_list *list = vd_graph_begin(ctx, NULL);
    assert_int_equal(vd_fill(list, vd_slot_buffer(list, "b", b[0]), 0, 256, NULL, 0), VD_OK);
    vd_graph g = vd_graph_end(list);
    graph_time = ctx->queues[0].submitted;
    stalled = vd__backend_dummy;
    stalled.queue_value = graph_queue_value;
    ctx->driver.backend = &stalled;
    for (uint32_t i = 0; i < 2 * BUFFERS; i++) {
        if (i >= 12) graph_time = ctx->queues[0].submitted; /* all submissions complete */
        assert_int_equal(vd_graph_set(ctx, g, "b", vd_b(b[i % BUFFERS])), VD_OK);
        assert_int_equal(vd_graph_submit(ctx, g, NULL, NULL), VD_OK);
        assert_int_equal(graph_recordings(ctx, g), i < 12 ? i + 1 : 4);
    }
    ctx->driver.backend = &vd__backend_dummy;
    vd_context_destroy(ctx);
}

/* Messages about slots. */
static void slot_messages(void **state) {
    vd_context *ctx = unit_context(NULL);
    vd_image images[2];
    vd_image_desc desc;
    unit_module module;
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.extent[0] = desc.extent[1] = 4;
    for (int i = 0; i < 2; i++) {
        desc.format = i ? VD_FORMAT_R32_U : VD_FORMAT_R32_F;
        images[i] = vd_image_create(ctx, &desc);
    }
    vd_list *list = vd_graph_begin(ctx, NULL);
    assert_true(vd_slot_image(list, "in", images[0]).id != 0);
    assert_int_equal(vd_slot_image(list, "in", images[1]).id, 0);
    CHECK_TEXT("vd_slot_image: slot 'in' was used before with another initial image");
    vd_list_discard(list);

    unit_saxpy(&module);
    vd_kernel kernel = unit_kernel(ctx, &module, "saxpy");
    vd_buffer x = unit_buffer(ctx, "x", VD_F32, 64, NULL), y = unit_buffer(ctx, "y", VD_F32, 64, NULL);
    vd_arg args[4] = { vd_b(x), vd_b(y), vd_f32(2), vd_u32(64) };
    vd_dispatch_desc dispatch;
    memset(&dispatch, 0, sizeof dispatch);
    dispatch.kernel = kernel;
    dispatch.threads[0] = dispatch.threads[1] = 8;
    dispatch.threads_slot = "n";
    dispatch.args = args;
    dispatch.arg_count = 4;
    list = vd_graph_begin(ctx, NULL);
    assert_int_equal(vd_dispatch(list, &dispatch), VD_OK);
    vd_graph g = vd_graph_end(list);
    assert_int_equal(vd_graph_set(ctx, g, "n", vd_bits(VD_U32X3, 1)), VD_ERROR_INVALID);
    CHECK_TEXT("slot 'n' is a number of threads of type u32x3, but the new value is in vd_arg.bits, which has only 8 "
               "bytes; use vd_value");
    assert_int_equal(vd_graph_set(ctx, g, "n", vd_u32(1)), VD_ERROR_INVALID);
    CHECK_TEXT("but the new value is a value of u32");
    vd_context_destroy(ctx);
}

static const struct CMUnitTest graphs_tests[] = {
    cmocka_unit_test(barriers_are_the_least), cmocka_unit_test(large_graphs_are_ordered),
    cmocka_unit_test(transient_memory), cmocka_unit_test(many_transient_buffers),
    cmocka_unit_test(unused_transient_buffers),
    cmocka_unit_test(submissions_change_arguments),
    cmocka_unit_test(too_many_threads_are_refused), cmocka_unit_test(full_levels_conflict_with_later_work),
    cmocka_unit_test(lost_devices_are_reported), cmocka_unit_test(transient_bytes_can_shrink),
    cmocka_unit_test(recordings_are_freed), cmocka_unit_test(slot_messages),
};
