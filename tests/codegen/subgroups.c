/* Subgroups: every operation on every type it supports, with full and partial subgroups, compared with an oracle that
   knows the lane of each invocation. Runs with buffers by address, as bindings, from GLSL, and with subgroups disabled,
   so that each invocation is its own subgroup.
     subgroups [-v] [PART]     PART: only cases whose name contains it; -v prints each name */
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#include "../kernels.h"
#define RUN_OPENCL
#define RUN_NVRTC
#define RUN_DISABLE VD_FEATURE_SUBGROUP
#define RUN_DISABLE_MORE (VD_FEATURE_SUBGROUP_TYPES | VD_FEATURE_SHUFFLE_64)
#include "run.h"
#include "combine.h"

enum { MOST = 1024, GROUPS = 3 };

typedef enum What { REDUCE, INCLUSIVE, EXCLUSIVE, CLUSTERED, BROADCAST, FIRST, DYNAMIC, SHUFFLE, XOR, UP, DOWN, ANY,
                    ALL, EQUAL, BALLOT, COUNTS, ELECT }
What;
static const char *const names[] = { "reduce", "inclusive", "exclusive", "clustered", "broadcast", "first", "dynamic",
                                     "shuffle", "xor", "up", "down", "any", "all", "equal", "ballot", "counts",
                                     "elect" };
typedef struct Case { What what; vc_combine op; vc_type type; uint32_t local, number; } Case;

static vc_type out_type(const Case *c) {
    return c->what == BALLOT || c->what == COUNTS ? (vc_type)VC_U32X4 : c->what >= ANY ? (vc_type)VC_U32 : c->type;
}

static vc_val odd(vc_val v) { return vc_ne(vc_and(v, vc_u32(1)), vc_u32(0)); }

static vc_val lanes_of(const Case *c, vc_kernel *k, vc_val v, vc_val i) {
    vc_val lane = vc_subgroup_local_id(k), n = vc_u32(c->number), ballot;
    switch (c->what) {
    case REDUCE: return vc_subgroup_reduce(c->op, v);
    case INCLUSIVE: return vc_subgroup_inclusive(c->op, v);
    case EXCLUSIVE: return vc_subgroup_exclusive(c->op, v);
    case CLUSTERED: return vc_subgroup_clustered(c->op, v, c->number);
    case BROADCAST: return vc_subgroup_broadcast(v, n);
    case FIRST: return vc_subgroup_broadcast_first(v);
    case DYNAMIC: return vc_subgroup_broadcast(v, vc_rem(vc_group_id(k, 0), vc_u32(2)));
    case SHUFFLE: return vc_subgroup_shuffle(v,
                                             vc_xor(lane, vc_and(vc_sub(vc_subgroup_size(k), vc_u32(1)), vc_u32(5))));
    case XOR: return vc_subgroup_shuffle_xor(v, n);
    case UP: return vc_subgroup_shuffle_up(v, n);
    case DOWN: return vc_subgroup_shuffle_down(v, n);
    case ANY: return vc_cast(VC_U32, vc_subgroup_any(vc_eq(vc_and(i, vc_u32(31)), n)));
    case ALL: return vc_cast(VC_U32, vc_subgroup_all(vc_ne(vc_and(i, vc_u32(31)), n)));
    case EQUAL: return vc_cast(VC_U32, vc_subgroup_all_equal(v));
    case BALLOT: return vc_subgroup_ballot(odd(vc_shr(i, n)));
    case COUNTS:
        ballot = vc_subgroup_ballot(odd(vc_shr(i, n)));
        return vc_vec4(vc_subgroup_ballot_count(ballot), vc_subgroup_ballot_inclusive(ballot),
                       vc_subgroup_ballot_exclusive(ballot), vc_u32(7));
    default: return vc_cast(VC_U32, vc_subgroup_elect(k));
    }
}

static void build(void *user, vc_kernel *k) {
    const Case *c = (const Case *)user;
    vc_ref in = vc_buffer(k, "in", c->type, VC_READ), out = vc_buffer(k, "out", out_type(c), VC_WRITE);
    vc_ref ids = vc_buffer(k, "ids", VC_U32X4, VC_WRITE);
    vc_val i = vc_global_id(k, 0);
    vc_store(out, i, lanes_of(c, k, vc_load(in, i), i));
    vc_store(ids, i, vc_vec4(vc_subgroup_id(k), vc_subgroup_local_id(k), vc_subgroup_size(k), vc_subgroup_count(k)));
}

static uint8_t in_data[MOST * 32], out_data[MOST * 32];
static uint32_t ids[MOST][4];

/* Inputs whose sums and products are exact in any order: halves of small integers, and powers of two with small
   products. */
static uint64_t input_of(const Case *c, size_t i, unsigned component) {
    uint64_t state = i * 4 + component, r = random_next(&state);
    unsigned kind = kind_of(c->type);
    if (c->what == EQUAL && is_float(kind) && i / c->local != 1)
        return bits_of(kind, i / c->local == 2 ? (double)NAN : i % 67 == 3 ? -0.0 : 0.0);
    if (c->what == EQUAL)
        return i / c->local == 1 ? bits_of_number(kind, kind == VC_BOOL ? 1 : 5)
            : bits_of_number(kind, (int)(i % 67 == 3));
    if (kind == VC_BOOL) return r & 1;
    if (!is_float(kind)) return narrow(kind, r);
    if (c->op == VC_MUL) return bits_of(kind, i % 8 == 3 ? 2.0 : i % 8 == 5 ? -0.5 : r & 1 ? 1 : -1);
    return bits_of(kind, ((double)(r % 64) - 32) / 2);
}

/* Index of the invocation of this workgroup and subgroup with that lane id; MOST: none. */
static size_t at(const Case *c, size_t i, uint32_t lane) {
    size_t first = i / c->local * c->local, j;
    for (j = first; j < first + c->local; j++) if (ids[j][0] == ids[i][0] && ids[j][1] == lane) return j;
    return MOST;
}

/* Combines the lanes from `from` up to, but not including, `to`. */
static uint64_t over(const Case *c, size_t i, uint32_t from, uint32_t to, unsigned component, uint64_t r) {
    for (uint32_t lane = from; lane < to; lane++) {
        size_t j = at(c, i, lane);
        if (j < MOST) r = combined(c->op, kind_of(c->type), r, input_of(c, j, component));
    }
    return r;
}

static uint64_t bit_of(const Case *c, size_t i, uint32_t lane) {
    size_t j = at(c, i, lane);
    return j < MOST ? (j >> c->number) & 1 : 0;
}

/* Returns false if any result is allowed. */
static bool want_moved(const Case *c, size_t i, unsigned component, uint64_t *w) {
    uint32_t lane = ids[i][1], size = ids[i][2], from = 0;
    size_t j;
    switch (c->what) {
    case BROADCAST: from = size == 1 ? 0 : c->number; break;
    case FIRST: while (at(c, i, from) == MOST) from++; break;
    case DYNAMIC: from = size == 1 ? 0 : (uint32_t)(i / c->local % 2); break;
    case SHUFFLE: from = lane ^ ((size - 1) & 5); break;
    case XOR: from = size == 1 ? 0 : lane ^ c->number; break;
    case UP: from = lane - c->number; break;
    default: from = lane + c->number; break;
    }
    j = at(c, i, from);
    if (j < MOST) *w = input_of(c, j, component);
    return j < MOST;
}

static bool want(const Case *c, size_t i, unsigned component, uint64_t *w) {
    uint32_t lane = ids[i][1], size = ids[i][2], from, l, first = 0, count[3] = { 0, 0, 0 };
    uint64_t none = c->op ? neutral(c->op, kind_of(c->type)) : 0, any = 0, all = 1, equal = 1;
    uint64_t ballot[4] = { 0, 0, 0, 0 };
    size_t begin = i / c->local * c->local, j;
    unsigned k;
    switch (c->what) {
    case REDUCE: *w = over(c, i, 0, size, component, none); return true;
    case INCLUSIVE: *w = over(c, i, 0, lane + 1, component, none); return true;
    case EXCLUSIVE: *w = over(c, i, 0, lane, component, none); return true;
    case CLUSTERED: from = size == 1 ? 0 : lane / c->number * c->number; *w = over(c, i, from,
                                                                                   size == 1 ? 1 : from + c->number,
                                                                                   component, none); return true;
    default: break;
    }
    if (c->what < ANY) return want_moved(c, i, component, w);
    for (j = begin; j < begin + c->local; j++) {
        if (ids[j][0] != ids[i][0]) continue;
        any |= (j & 31) == c->number;
        all &= (j & 31) != c->number;
        for (k = 0; k < rows_of(c->type); k++) equal &= input_of(c, j, k) == input_of(c, i, k);
    }
    while (at(c, i, first) == MOST) first++;
    for (l = 0; l < size; l++) {
        uint32_t bit = (uint32_t)bit_of(c, i, l);
        ballot[l / 32] |= (uint64_t)bit << l % 32;
        count[0] += bit;
        count[1] += l <= lane ? bit : 0;
        count[2] += l < lane ? bit : 0;
    }
    *w = c->what == ANY ? any : c->what == ALL ? all : c->what == EQUAL ? equal : c->what == BALLOT ? ballot[component]
        : c->what == ELECT ? lane == first
       : component == 3 ? 7 : count[component];
    return true;
}

/* Lane ids in a subgroup differ and are below its size, and the number of subgroups is the reported one. */
static bool ids_right(const Case *c, size_t threads) {
    for (size_t i = 0; i < threads; i++) {
        if (ids[i][1] >= ids[i][2] || ids[i][0] >= ids[i][3] || at(c, i, ids[i][1]) != i) return false;
        if (ids[i][2] * ids[i][3] < c->local) return false;
    }
    return true;
}

enum { ADDRESS = 1, BINDING = 2, GLSL = 4, WITHOUT = 8, WITHOUT_GLSL = 16, NARROW = 32, OPENCL = 64,
       EVERY = 31 | OPENCL };

static unsigned bit_of_form(int form) {
    static const char *const form_names[] = { "address", "binding", "glsl", "without", "without glsl", "without more",
                                              "opencl" };
    unsigned i = 0;
    while (i < sizeof form_names / sizeof *form_names && strcmp(form_names[i], forms[form].name)) i++;
    return 1u << i;
}

/* `some`: bit mask of the forms to run in. Every form of a kernel is validated as SPIR-V and as GLSL. */
static void check(const Case *c, unsigned some) {
    char name[96];
    vc_type out = out_type(c);
    unsigned rows = rows_of(c->type), kind = kind_of(c->type);
    size_t threads = (size_t)c->local * GROUPS;
    static const char *const combines[] = { "", "add", "mul", "min", "max", "and", "or", "xor" };
    snprintf(name, sizeof name, "%s %s %s local %u number %u", names[c->what], combines[c->op], vc_type_name(c->type),
             c->local, c->number);
    for (size_t i = 0; i < threads; i++)
        for (unsigned j = 0; j < rows; j++) put_bits(kind, in_data, i * rows + j, input_of(c, i, j));
    for (int f = 0; f < FORMS; f++) {
        if (!(some & bit_of_form(f))) continue;
        Run run = run_begin(name, f, (uint32_t)threads, c->local, build, (void *)(uintptr_t)c);
        bool good = true;
        run_buffer(&run, c->type, (uint32_t)threads, in_data, NULL);
        run_buffer(&run, out, (uint32_t)threads, NULL, out_data);
        run_buffer(&run, VC_U32X4, (uint32_t)threads, NULL, ids);
        if (!run_end(&run)) continue;
        good = ids_right(c, threads);
        if (!good) printf("  %s: ids\n", name);
        for (size_t i = 0; i < threads && good; i++)
            for (unsigned j = 0; j < rows_of(out) && good; j++) {
                uint64_t w = 0, got = get_bits(kind_of(out), out_data, i * rows_of(out) + j);
                if (!want(c, i, j, &w) || got == w) continue;
                /* the sign of zero may differ */
                good = is_float(kind_of(out)) && real_of(kind_of(out), got) == real_of(kind_of(out), w);
                if (!good)
                    printf("  %s [%zu].%u in subgroup %u at %u of %u: got %llx, wanted %llx\n", name, i, j, ids[i][0],
                           ids[i][1], ids[i][2], (unsigned long long)got, (unsigned long long)w);
            }
        run_judge(&run, good);
    }
}

static void check_moves(vc_type type, uint32_t local, unsigned some) {
    static const What moves[] = { BROADCAST, FIRST, DYNAMIC, SHUFFLE, XOR, UP, DOWN, EQUAL };
    for (size_t m = 0; m < sizeof moves / sizeof *moves; m++) {
        Case c = { moves[m], VC_COMBINE_NONE, type, local, 0 };
        c.number = moves[m] == XOR ? 3 : moves[m] == BROADCAST ? 1 : 2;
        if (rows_of(type) == 1 || moves[m] == SHUFFLE || moves[m] == BROADCAST) check(&c, some);
    }
}

static void check_arithmetic(vc_type type, uint32_t local, unsigned some) {
    for (uint32_t op = VC_ADD; op <= VC_XOR; op++) {
        bool bits = op >= VC_AND;
        if (bits ? is_float(kind_of(type)) : kind_of(type) == VC_BOOL) continue;
        for (int what = REDUCE; what <= CLUSTERED; what++) {
            Case c = { (What)what, (vc_combine)op, type, local, 0 };
            if (rows_of(type) > 1 && (what == CLUSTERED || (op != VC_ADD && op != VC_XOR))) continue;
            if (what != CLUSTERED) check(&c, some);
            else for (c.number = 1; c.number <= 8; c.number *= 2)
                if (c.number == 4 || (c.number != 2 && op == VC_ADD)) check(&c, some);
        }
    }
}

int main(int count, char **args) {
    static const uint32_t locals[] = { 64, 20, 1 };
    run_open(count, args);
    for (vc_type kind = VC_BOOL; kind <= VC_F64; kind++)
        for (uint32_t rows = 1; rows <= 4; rows++) {
            vc_type type = rows == 1 ? kind : VC_VEC(kind, rows);
            unsigned narrow_too = kind_width(kind) < 32 ? NARROW : 0;
            check_arithmetic(type, rows == 1 ? 20 : 64, (rows == 1 ? ADDRESS | GLSL | WITHOUT : ADDRESS) | narrow_too);
            check_moves(type, rows == 1 ? 20 : 64, (rows == 1 ? ADDRESS | GLSL : ADDRESS) | narrow_too);
        }
    for (size_t l = 0; l < sizeof locals / sizeof *locals; l++) {
        check_arithmetic(VC_U32, locals[l], l == 1 ? BINDING | WITHOUT_GLSL : EVERY);
        check_moves(VC_F32, locals[l], EVERY);
        for (int what = ANY; what <= ELECT; what++)
            for (uint32_t number = 0; number < 6; number += 5) {
                Case c = { (What)what, VC_COMBINE_NONE, VC_U32, locals[l], number };
                if (what != EQUAL) check(&c, EVERY);
            }
    }
    return run_close();
}
