/* Random graphs of kernels, copies, fills and writes, with slots of every kind, views, transient buffers and instances,
   compared with a model on the host after every submission. FUZZ_COUNT graphs from seed FUZZ_SEED on; the seed of a
   graph that differs is printed. Backends that execute no kernels run graphs of transfers. */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

enum {
    N = 192, BUFFERS = 7, TRANSIENTS = 3, SLOTS = 2, VALUES = 3, VIEWS = 4, MOST = 24, SUBMISSIONS = 5, INSTANCES = 4,
    BASES = BUFFERS + SLOTS + TRANSIENTS /* buffers, then slots, then transient buffers */
};

/* Slot i has buffer i, or, when it is changed, buffer ALTERNATE + i; no command uses one of them beside the slot. */
enum { ALTERNATE = BUFFERS - SLOTS };

typedef enum kind { AFFINE, MOVE, COPY, FILL, WRITE, ROWS, KINDS } kind;

typedef struct part { uint32_t base, first, count; vd_buffer buffer; } part; /* elements */

typedef struct step {
    kind kind;
    part to, from;
    uint32_t mul, add;          /* of kernels */
    uint32_t mul_slot, add_slot; /* 1 + value slot; 0: constants */
    bool threads_slot;
    uint32_t to_byte, from_byte, bytes; /* of transfers */
    uint8_t data[64];           /* pattern of a fill of `size` bytes, or what is written */
    uint32_t size;
} step;

typedef struct play {
    dice d;
    vd_context *ctx;
    vd_kernel affine, move;
    uint32_t align;             /* elements */
    vd_buffer buffers[BUFFERS], bases[BASES];
    part views[VIEWS];
    step steps[MOST];
    uint32_t count;
    uint32_t contents[BUFFERS + TRANSIENTS][N]; /* the model */
    uint32_t bound[SLOTS], values[VALUES], threads; /* values of vd_graph_set */
} play;

/* ---- the model ---- */

static uint32_t *memory_of(play *p, uint32_t base, const uint32_t bound[SLOTS]) {
    if (base < BUFFERS) return p->contents[base];
    return p->contents[base < BUFFERS + SLOTS ? bound[base - BUFFERS] : base - SLOTS];
}

static void model_step(play *p, const step *s, const uint32_t bound[SLOTS], const uint32_t *values, uint32_t threads) {
    uint32_t *to = memory_of(p, s->to.base, bound) + s->to.first;
    const uint32_t *from = memory_of(p, s->from.base, bound) + s->from.first;
    uint32_t mul = s->mul_slot ? values[s->mul_slot - 1] : s->mul, add = s->add_slot ? values[s->add_slot - 1] : s->add;
    uint32_t n = s->threads_slot ? threads : s->to.count;
    uint8_t *bytes = (uint8_t *)to + s->to_byte;
    switch (s->kind) {
    case AFFINE: for (uint32_t i = 0; i < n; i++) to[i] = to[i] * mul + add; return;
    case MOVE: for (uint32_t i = 0; i < n; i++) to[i] = from[i] + add; return;
    case COPY: memcpy(bytes, (const uint8_t *)from + s->from_byte, s->bytes); return;
    case FILL: for (uint32_t i = 0; i < s->bytes; i++) bytes[i] = s->data[i % s->size]; return;
    case WRITE: memcpy(bytes, s->data, s->bytes); return;
    default: /* 5 rows of `bytes` bytes, at pitches of 40 and 24 */
        for (uint32_t i = 0; i < 5; i++)
            memcpy(bytes + 40 * i, (const uint8_t *)from + s->from_byte + 24 * i, s->bytes);
    }
}

/* ---- generation ---- */

static bool is_transient(uint32_t base) { return base >= BUFFERS + SLOTS; }

/* Whether two bases may be the same memory. */
static bool may_meet(uint32_t a, uint32_t b) {
    if (a == b) return true;
    for (uint32_t i = 0; i < SLOTS; i++) {
        bool slot_a = a == BUFFERS + i, slot_b = b == BUFFERS + i;
        if ((slot_a && (b == i || b == ALTERNATE + i)) || (slot_b && (a == i || a == ALTERNATE + i))) return true;
    }
    return false;
}

static part any_part(play *p) {
    part all = { roll(&p->d, BASES), 0, N, { 0 } };
    if (roll(&p->d, 3) == 0) return p->views[roll(&p->d, VIEWS)];
    all.buffer = p->bases[all.base];
    return all;
}

static void views_make(play *p) {
    for (uint32_t i = 0; i < VIEWS; i++) {
        part *v = &p->views[i];
        vd_view_desc desc;
        memset(&desc, 0, sizeof desc);
        v->base = roll(&p->d, BASES);
        v->first = roll(&p->d, N / p->align) * p->align;
        v->count = 1 + roll(&p->d, N - v->first);
        desc.buffer = p->bases[v->base];
        desc.offset = 4 * v->first;
        desc.type = VD_U32;
        desc.shape[0] = v->count;
        v->buffer = vd_buffer_view(p->ctx, &desc);
        if (!v->buffer.id) fail_msg("vd_buffer_view: %s", vd_error_text());
    }
}

/* Chooses a step. The bytes of a transfer are inside of both parts. */
static void choose(play *p, step *s, bool kernels) {
    memset(s, 0, sizeof *s);
    s->kind = (kind)(kernels ? roll(&p->d, KINDS) : COPY + roll(&p->d, KINDS - COPY));
    do {
        s->to = any_part(p);
        s->from = any_part(p);
    } while (may_meet(s->to.base, s->from.base) && s->kind != FILL && s->kind != WRITE && s->kind != AFFINE);
    s->mul = roll(&p->d, 9);
    s->add = roll(&p->d, 0);
    s->mul_slot = roll(&p->d, 3) ? 0 : 1 + roll(&p->d, VALUES);
    s->add_slot = roll(&p->d, 2) ? 0 : 1 + roll(&p->d, VALUES);
    uint32_t least = s->kind == MOVE && s->from.count < s->to.count ? s->from.count : s->to.count;
    if (s->kind <= MOVE) s->to.count = least;
    s->threads_slot = s->kind <= MOVE && least == N && roll(&p->d, 3) == 0;
    uint32_t to_size = 4 * s->to.count, from_size = 4 * s->from.count;
    for (uint32_t i = 0; i < sizeof s->data; i++) s->data[i] = (uint8_t)roll(&p->d, 256);
    s->size = 1 + roll(&p->d, 5);
    if (s->kind == ROWS && (to_size < 200 || from_size < 200)) s->kind = FILL;
    if (s->kind == ROWS) {
        s->bytes = 1 + roll(&p->d, 24);
        s->to_byte = roll(&p->d, to_size - 199);
        s->from_byte = roll(&p->d, from_size - 199);
        return;
    }
    s->to_byte = roll(&p->d, to_size);
    s->from_byte = s->kind == COPY ? roll(&p->d, from_size) : 0;
    uint32_t room = to_size - s->to_byte;
    if (s->kind == COPY && from_size - s->from_byte < room) room = from_size - s->from_byte;
    if (s->kind == WRITE && room > sizeof s->data) room = sizeof s->data;
    s->bytes = 1 + roll(&p->d, room);
    if (s->kind == FILL) s->bytes = (s->bytes + s->size - 1) / s->size * s->size;
    if (s->kind == FILL && s->bytes > room) s->bytes = room / s->size * s->size;
}

static vd_arg value_of(const play *p, uint32_t slot, uint32_t constant) {
    char name[8];
    static const char *const names[VALUES] = { "v0", "v1", "v2" };
    (void)name;
    return slot ? vd_slot(names[slot - 1], vd_u32(p->values[slot - 1])) : vd_u32(constant);
}

static vd_result record(const play *p, vd_list *list, const step *s) {
    vd_dispatch_desc d;
    vd_copy_desc rows;
    vd_arg args[3];
    memset(&d, 0, sizeof d);
    memset(&rows, 0, sizeof rows);
    switch (s->kind) {
    case COPY: return vd_copy(list, s->to.buffer, s->to_byte, s->from.buffer, s->from_byte, s->bytes);
    case FILL: return vd_fill(list, s->to.buffer, s->to_byte, s->bytes, s->data, s->size);
    case WRITE: return vd_write(list, s->to.buffer, s->to_byte, s->data, s->bytes);
    case ROWS:
        rows.to = s->to.buffer;
        rows.from = s->from.buffer;
        rows.to_offset = s->to_byte;
        rows.from_offset = s->from_byte;
        rows.row_bytes = s->bytes;
        rows.rows = 5;
        rows.to_pitch = 40;
        rows.from_pitch = 24;
        return vd_copy_region(list, &rows);
    default:
        args[0] = vd_b(s->kind == MOVE ? s->from.buffer : s->to.buffer);
        args[1] = s->kind == MOVE ? vd_b(s->to.buffer) : value_of(p, s->mul_slot, s->mul);
        args[2] = value_of(p, s->add_slot, s->add);
        d.kernel = s->kind == MOVE ? p->move : p->affine;
        d.threads[0] = s->threads_slot ? p->threads : s->to.count;
        d.args = args;
        d.arg_count = 3;
        d.threads_slot = s->threads_slot ? "n" : NULL;
        return vd_dispatch(list, &d);
    }
}

/* Records the steps. The first step that uses a transient buffer follows a fill of all of it. */
static vd_graph record_all(play *p, bool kernels) {
    static const char *const names[SLOTS] = { "s0", "s1" };
    vd_list *list = vd_graph_begin(p->ctx, NULL);
    vd_buffer_desc desc;
    bool begun[BASES] = { false };
    if (!list) fail_msg("vd_graph_begin: %s", vd_error_text());
    memset(&desc, 0, sizeof desc);
    desc.type = VD_U32;
    desc.shape[0] = N;
    for (uint32_t i = 0; i < BASES; i++)
        p->bases[i] = i < BUFFERS ? p->buffers[i]
                      : i < BUFFERS + SLOTS ? vd_slot_buffer(list, names[i - BUFFERS], p->buffers[i - BUFFERS])
                                            : vd_graph_buffer(list, &desc);
    views_make(p);
    uint32_t steps = 1 + roll(&p->d, MOST - 4);
    for (p->count = 0; p->count < steps;) {
        step next;
        choose(p, &next, kernels);
        const part *parts[2] = { &next.to, &next.from };
        for (int i = 0; i < 2 && p->count < MOST - 1; i++) {
            uint32_t base = parts[i]->base;
            if (!is_transient(base) || begun[base]) continue;
            begun[base] = true;
            step *fill = &p->steps[p->count++];
            memset(fill, 0, sizeof *fill);
            fill->kind = FILL;
            fill->to.base = fill->from.base = base;
            fill->to.buffer = p->bases[base];
            fill->to.count = N;
            fill->bytes = 4 * N;
            fill->size = 4;
            memcpy(fill->data, &base, 4);
        }
        if ((is_transient(next.to.base) && !begun[next.to.base])
            || (is_transient(next.from.base) && !begun[next.from.base]))
            continue;
        p->steps[p->count++] = next;
    }
    for (uint32_t i = 0; i < p->count; i++)
        if (record(p, list, &p->steps[i])) fail_msg("step %u: %s", i, vd_error_text());
    vd_graph g = vd_graph_end(list);
    if (!g.id) fail_msg("vd_graph_end: %s", vd_error_text());
    return g;
}

/* ---- submissions ---- */

/* Sets a slot if the graph has it. */
static void set(const play *p, vd_graph g, const char *name, vd_arg value) {
    vd_result r = vd_graph_set(p->ctx, g, name, value);
    if (r && !strstr(vd_error_text(), "there is no slot")) fail_msg("vd_graph_set: %s", vd_error_text());
}

static bool uses_value(const play *p, uint32_t slot) {
    for (uint32_t i = 0; i < p->count; i++)
        if (p->steps[i].kind <= MOVE && (p->steps[i].add_slot == 1 + slot
                                         || (p->steps[i].kind == AFFINE && p->steps[i].mul_slot == 1 + slot)))
            return true;
    return false;
}

static void submit(play *p, vd_graph g) {
    static const char *const value_names[VALUES] = { "v0", "v1", "v2" }, *const buffer_names[SLOTS] = { "s0", "s1" };
    uint32_t arrays[VALUES][INSTANCES], bound[SLOTS];
    vd_graph_value values[VALUES + SLOTS];
    vd_graph_submit_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.values = values;
    desc.instances = (int)roll(&p->d, INSTANCES + 1);
    uint32_t instances = desc.instances ? (uint32_t)desc.instances : 1;
    for (uint32_t i = 0; i < VALUES; i++) {
        if (roll(&p->d, 2)) set(p, g, value_names[i], vd_u32(p->values[i] = roll(&p->d, 1000)));
        bool own = uses_value(p, i) && roll(&p->d, 3) == 0, array = own && roll(&p->d, 2);
        for (uint32_t k = 0; k < INSTANCES; k++)
            arrays[i][k] = !own ? p->values[i] : k && !array ? arrays[i][0] : roll(&p->d, 1000);
        vd_graph_value v = { value_names[i], vd_value(VD_U32, arrays[i]), array ? INSTANCES : 0 };
        if (own) values[desc.value_count++] = v;
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (roll(&p->d, 3) == 0) {
            p->bound[i] = roll(&p->d, 2) ? i : ALTERNATE + i;
            set(p, g, buffer_names[i], vd_b(p->buffers[p->bound[i]]));
        }
        bound[i] = p->bound[i];
        if (roll(&p->d, 4)) continue;
        bound[i] = roll(&p->d, 2) ? i : ALTERNATE + i;
        vd_graph_value v = { buffer_names[i], vd_b(p->buffers[bound[i]]), 0 };
        values[desc.value_count++] = v;
    }
    if (roll(&p->d, 3) == 0) set(p, g, "n", vd_u32(p->threads = roll(&p->d, N + 1)));
    OK(vd_graph_submit(p->ctx, g, &desc, NULL));
    for (uint32_t k = 0; k < instances; k++) {
        uint32_t now[VALUES];
        for (uint32_t i = 0; i < VALUES; i++) now[i] = arrays[i][k];
        for (uint32_t i = 0; i < p->count; i++) model_step(p, &p->steps[i], bound, now, p->threads);
    }
}

static void check_contents(const play *p, uint64_t seed, uint32_t submission) {
    uint32_t got[N];
    for (uint32_t i = 0; i < BUFFERS; i++) {
        OK(vd_buffer_read(p->ctx, p->buffers[i], 0, got, sizeof got));
        for (uint32_t k = 0; k < N; k++)
            if (got[k] != p->contents[i][k])
                fail_msg("FUZZ_SEED=%llu FUZZ_COUNT=1: submission %u, buffer %u: element %u is %u, but must be %u",
                         (unsigned long long)seed, submission, i, k, got[k], p->contents[i][k]);
    }
}

static void play_one(play *p, uint64_t seed, bool kernels) {
    p->d.state = seed * 0x9E3779B97F4A7C15u + 1;
    for (uint32_t i = 0; i < BUFFERS; i++) {
        for (uint32_t k = 0; k < N; k++) p->contents[i][k] = roll(&p->d, 0);
        OK(vd_buffer_write(p->ctx, p->buffers[i], 0, p->contents[i], sizeof p->contents[i]));
    }
    for (uint32_t i = 0; i < SLOTS; i++) p->bound[i] = i;
    for (uint32_t i = 0; i < VALUES; i++) p->values[i] = roll(&p->d, 100);
    p->threads = 1 + roll(&p->d, N);
    vd_graph g = record_all(p, kernels);
    for (uint32_t i = 0; i < SUBMISSIONS; i++) {
        submit(p, g);
        if (roll(&p->d, 3) == 0 || i + 1 == SUBMISSIONS) check_contents(p, seed, i);
    }
    for (uint32_t i = 0; i < VIEWS; i++) vd_buffer_destroy(p->ctx, p->views[i].buffer);
    vd_graph_destroy(p->ctx, g);
}

static uint64_t number_from(const char *variable, uint64_t otherwise) {
    const char *text = getenv(variable);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

TEST(graphs_equal_the_model) {
    play *p = (play *)calloc(1, sizeof *p);
    uint64_t seed = number_from("FUZZ_SEED", 1), count = number_from("FUZZ_COUNT", 100);
    assert_non_null(p);
    p->ctx = f->ctx;
    p->align = vd_device(f->ctx, 0)->limits.binding_alignment / 4;
    if (!p->align) p->align = 1;
    if (f->executes) {
        p->affine = kernel_affine(f->ctx);
        p->move = kernel_move(f->ctx);
    }
    for (uint32_t i = 0; i < BUFFERS; i++) p->buffers[i] = buffer_u32(f->ctx, "b", N, NULL);
    for (uint64_t i = 0; i < count; i++) play_one(p, seed + i, f->executes);
    for (uint32_t i = 0; i < BUFFERS; i++) vd_buffer_destroy(f->ctx, p->buffers[i]);
    vd_kernel_destroy(f->ctx, p->affine);
    vd_kernel_destroy(f->ctx, p->move);
    free(p);
}

static const struct CMUnitTest cases[] = { CASE(graphs_equal_the_model) };
MAIN("random_graphs", cases)
