/* Random kernels. Each is a tree generated from a seed. The builder emits it, and an interpreter runs it on the host,
   one workgroup at a time.

     kernels [--count N] [--seed S] [--print] [--check] [--coverage] [--all] [-v]
       --count N, --seed S   number of kernels and first seed; also FUZZ_COUNT, FUZZ_SEED in the environment
       --check               build and validate only: kernels are neither run nor compiled as CUDA C
       --coverage            build only; every call and every operation must occur in some kernel (see coverage.h)
       --all                 run each kernel in all forms and through all compilers; by default only in some
   FUZZ_PRINT=hash prints seeds and hashes only. This mode, --check and --coverage need no GPU.

   One kernel in eight is misused on purpose: it must have an error message, or be valid SPIR-V if the misuse happens to
   be legal. All other kernels must be valid SPIR-V with the results of the interpreter. Values that are not exact by
   definition (subnormals, the sign of a zero seen through its bits, fma with one or two roundings) are called loose. A
   loose value and everything computed from it is not compared. Results of float functions are compared within their
   documented bounds; values computed from them are loose.

   Pure values are emitted where they are used, once per use, in the order in which the compiler evaluates arguments.
   So different compilers make different calls, which must produce the same bytes. */
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#include "../accuracy.h"
#include "../kernels.h"
#include "coverage.h"
#include "../packings.h"
#include "../codegen/nvrtc.h"

enum { ELEMENTS = 64, MAX_NODES = 600, MAX_BLOCKS = 128, INS = 3, OUTS = 3, PARAMS = 2, ARRAY = 4, NOTHING = -1,
       /* two more outputs for atomics: SUMS is shared by all invocations, CELLS has one element each */
       SUMS = OUTS, CELLS,
       LATE, ALL_OUTS = LATE + 4 }; /* outputs for the final values of any type */

/* ---- the tree ---- */

typedef enum What {
    W_OP, W_IMMEDIATE, W_CONST, W_CAST, W_BITCAST, W_VECTOR, W_SPLAT, W_COMPONENT, W_EXTRACT, W_INSERT, W_SWIZZLE,
        W_SELECT, W_CALL, W_COMPOSITE, W_MORE,
    W_ANY, W_ALL, W_DOT,
    /* up to here: values without side effects, which may be emitted late */
    W_LOAD, W_LOAD_OR, W_TABLE, W_PARAM, W_PLACE,
    /* values that must be emitted in place */
    W_COUNTER, W_OWN, W_GET, W_ARRAY_LOAD, W_SHARED_LOAD, W_ATOMIC_CELL, W_GROUP, W_LANES,
    W_STORE, W_VAR, W_SET, W_ARRAY, W_ARRAY_STORE, W_SHARED_STORE, W_ATOMIC_SUM, W_ATOMIC_SHARED, W_BARRIER, W_SCOPED,
        W_FENCE, W_SAY,
    W_IF, W_FOR, W_LOOP, W_SWITCH, W_BREAK, W_CONTINUE, W_RETURN
} What;

typedef struct Node {
    What what;
    const Op *op;      /* for W_OP */
    vc_combine combine;/* for atomics and collectives */
    vc_type type;      /* type of its value, or of the memory it declares */
    int a, b, c, d;    /* operand nodes, or the memory it accesses */
    uint64_t bits[4];  /* for constants */
    int index;         /* index of the buffer, component, id or call, or number of cases */
    int64_t step;
    int body, other;   /* blocks */
    int next;          /* next node in its block */
    int weight;        /* number of nodes it emits if late; 0: emitted in place */
    bool plain;        /* computed from immediates only: belongs to no kernel */
    bool anchored;     /* its first operand must be made a constant of the kernel, for the same reason */
} Node;

typedef struct Tree {
    Node node[MAX_NODES];
    int nodes;
    int first[MAX_BLOCKS], last[MAX_BLOCKS], blocks;
    int case_block[MAX_NODES]; /* blocks of switch cases, consecutive from the `other` of the switch */
    int cases;
    vc_type in[INS], out[ALL_OUTS], param[PARAMS], shared;
    uint64_t param_bits[PARAMS][4];
    uint64_t table[ARRAY][4];
    vc_type table_type;
    uint32_t local;
    bool used[ALL_OUTS];
    bool bound;        /* uses something that crashes lavapipe with buffers by address */
    bool each;         /* inside VC_EACH: no barriers, but returns */
    uint32_t axes;     /* axes of VC_EACH; all threads are along the first */
    bool says;         /* uses vc_printf and vc_assert */
    bool lazy;         /* selects that are emitted in place evaluate only the chosen operand */
    bool wrapped;      /* memory is wrapped in structs and arrays, and some values pass through them */
    vc_buffers buffers;
} Tree;

/* ---- data ---- */

static uint8_t input_data[64][INS][ELEMENTS * 4 * 8];

static uint64_t number_of(unsigned kind, uint64_t *state) {
    static const double floats[] = { 0, 1, -1, 0.5, 2, 3, -7, 0.75, 100, 1e3, -2.5, (double)INFINITY, (double)NAN,
                                     65504, 1e-2, 1024.25 };
    uint64_t r = random_next(state), pick = r % 8;
    r >>= 8;
    if (kind == VC_BOOL) return r & 1;
    if (is_float(kind))
        return bits_of(kind, pick < 3 ? floats[r % 16] : ldexp((double)(int64_t)(r % 2001) - 1000,
                                                               -(int)(r >> 20 & 7)));
    if (pick < 3) return narrow(kind, r % 12);
    if (pick == 3) return narrow(kind, 0 - r % 12);
    if (pick == 4) return narrow(kind, (UINT64_C(1) << (kind_width(kind) - 1)) - r % 3);
    return narrow(kind, r * UINT64_C(0x9e3779b97f4a7c15));
}

static void make_inputs(void) {
    uint64_t state = 99;
    for (vc_type t = 0; t < 64; t++)
        for (int role = 0; role < INS && kind_of(t) >= VC_BOOL && kind_of(t) <= VC_F64; role++)
            for (size_t i = 0; i < ELEMENTS * rows_of(t); i++)
                put_bits(kind_of(t), input_data[t][role], i, number_of(kind_of(t), &state));
}

/* ---- generating a tree ---- */

typedef struct Maker {
    Tree *t;
    uint64_t state;
    int visible[MAX_NODES], seen; /* values in scope */
    int memory[MAX_NODES], held;  /* variables and arrays in scope */
    /* block: of the next node; loops: nesting depth; counted: loops with constant bounds */
    int block, depth, loops, counted;
    bool shared_dirty, shared_read;
} Maker;

static unsigned roll(Maker *m, unsigned sides) { return (unsigned)(random_next(&m->state) >> 33) % sides; }

static vc_type random_type(Maker *m) {
    static const unsigned char kinds[] = {
        VC_BOOL, VC_I8, VC_I16, VC_I32, VC_I32, VC_I64, VC_U8, VC_U16, VC_U32, VC_U32, VC_U32, VC_U64, VC_F16, VC_F32,
            VC_F32, VC_F32, VC_F64
    };
    unsigned rows = roll(m, 3) ? 1 : 2 + roll(m, 3);
    return VC_VEC(kinds[roll(m, sizeof kinds)], rows);
}

static int new_block(Maker *m) {
    if (m->t->blocks == MAX_BLOCKS) return MAX_BLOCKS - 1;
    m->t->first[m->t->blocks] = m->t->last[m->t->blocks] = NOTHING;
    return m->t->blocks++;
}

static int weight_of(Maker *m, int node) { return node == NOTHING ? 0 : m->t->node[node].weight; }

/* Operations on integer immediates fold to immediates. Elsewhere one operand must become a constant of the kernel. */
static void settle(Maker *m, Node *n) {
    const Node *list = m->t->node;
    bool plain = n->a != NOTHING && list[n->a].plain && (n->b == NOTHING || list[n->b].plain)
        && (n->c == NOTHING || list[n->c].plain);
    n->plain = n->what == W_IMMEDIATE;
    /* for one axis, an index equals its operand */
    if (n->what == W_CALL || n->what == W_GROUP || n->what == W_LANES) n->anchored = list[n->a].plain;
    if (!plain || n->what > W_DOT) return;
    bool whole = rows_of(n->type) == 1 && !is_float(kind_of(n->type)) && !is_float(kind_of(list[n->a].type));
    n->plain = whole && (n->what == W_OP || n->what == W_CAST);
    n->anchored = !n->plain;
}

static int put(Maker *m, What what, vc_type type, int a, int b, int c) {
    Tree *t = m->t;
    if (t->nodes == MAX_NODES) t->nodes--; /* cannot happen: `full` stops earlier */
    int id = t->nodes++;
    Node *n = &t->node[id];
    memset(n, 0, sizeof *n);
    n->what = what; n->type = type; n->a = a; n->b = b; n->c = c; n->d = NOTHING;
    n->next = NOTHING; n->body = n->other = NOTHING;
    settle(m, n);
    if (t->last[m->block] == NOTHING) t->first[m->block] = id; else t->node[t->last[m->block]].next = id;
    t->last[m->block] = id;
    if (what < W_COUNTER) {
        int w = (what == W_CALL ? 4 : 1) + weight_of(m, a) + weight_of(m, b) + weight_of(m, c);
        if (what == W_IMMEDIATE || (w < 10 && roll(m, 2))) n->weight = what == W_IMMEDIATE ? 0 : w;
    }
    if (what < W_STORE) m->visible[m->seen++] = id;
    return id;
}
static bool full(const Maker *m) { return m->t->nodes > MAX_NODES - 80 || m->t->blocks > MAX_BLOCKS - 8; }

static int value_of(Maker *m, vc_type type);

static int constant(Maker *m, vc_type type) {
    int id = rows_of(type) > 1 ? NOTHING : put(m, roll(m, 3) ? W_IMMEDIATE : W_CONST, type, NOTHING, NOTHING, NOTHING);
    if (id != NOTHING) { m->t->node[id].bits[0] = number_of(kind_of(type), &m->state); return id; }
    int part[4] = { NOTHING, NOTHING, NOTHING, NOTHING };
    for (unsigned i = 0; i < rows_of(type); i++) part[i] = constant(m, kind_of(type));
    id = put(m, W_VECTOR, type, part[0], part[1], part[2]);
    m->t->node[id].d = part[3];
    return id;
}

static int immediate(Maker *m, vc_type kind, uint64_t bits) {
    int id = put(m, W_IMMEDIATE, kind, NOTHING, NOTHING, NOTHING);
    m->t->node[id].bits[0] = bits;
    return id;
}

static int visible_of(Maker *m, vc_type type, bool scalar_too) {
    if (!m->seen) return NOTHING;
    for (unsigned i = 0, from = roll(m, (unsigned)m->seen); i < (unsigned)m->seen; i++) {
        int id = m->visible[(from + i) % (unsigned)m->seen];
        vc_type has = m->t->node[id].type;
        if (has == type || (scalar_too && has == kind_of(type))) return id;
    }
    return NOTHING;
}

static int any_visible(Maker *m, unsigned rows) { /* any kind, with this number of rows */
    if (!m->seen) return NOTHING;
    for (unsigned i = 0, from = roll(m, (unsigned)m->seen); i < (unsigned)m->seen; i++) {
        int id = m->visible[(from + i) % (unsigned)m->seen];
        if (rows_of(m->t->node[id].type) == rows) return id;
    }
    return NOTHING;
}

static int value_of(Maker *m, vc_type type) {
    int id = roll(m, 8) ? visible_of(m, type, false) : NOTHING;
    if (id == NOTHING && roll(m, 3)) {
        int from = any_visible(m, roll(m, 4) ? rows_of(type) : 1);
        if (from != NOTHING) id = put(m, W_CAST, type, from, NOTHING, NOTHING);
    }
    return id == NOTHING ? constant(m, type) : id;
}

static int operand(Maker *m, vc_type type) { /* a scalar operand of a vector operation is repeated */
    return rows_of(type) > 1 && roll(m, 4) == 0 ? value_of(m, kind_of(type)) : value_of(m, type);
}

static int masked(Maker *m, uint32_t limit) { /* a u32 below `limit`, a power of two */
    const Op *op = &ops[O_and];
    int a = value_of(m, VC_U32), b = immediate(m, VC_U32, limit - 1);
    int id = put(m, W_OP, VC_U32, a, b, NOTHING);
    m->t->node[id].op = op;
    return id;
}

/* Operations with exact results on every device. */
static bool exact_on_floats(OpName op) {
    return op <= O_mul || (op >= O_fma && op <= O_clamp) || (op >= O_step && op <= O_fract) || op == O_isnan
        || op == O_isinf || op >= O_eq
           || op == O_saturate || op == O_modf_fract;
}

static void make_operation(Maker *m) {
    const Op *op = &ops[roll(m, O_COUNT)];
    vc_type t;
    do t = random_type(m);
    while (!(op->kinds & (kind_of(t) == VC_BOOL ? B : is_float(kind_of(t)) ? F : is_signed(kind_of(t)) ? I : U)));
    int a = value_of(m, t), b = NOTHING, c = NOTHING;
    if (op->id == O_shl || op->id == O_shr || op->id == O_rotl || op->id == O_rotr)
        b = value_of(m, VC_VEC(VC_I8 + roll(m, 8), rows_of(t)));
    else if (op->arity > 1) b = operand(m, t);
    if (op->arity > 2) c = operand(m, t);
    int id = put(m, W_OP, result_of(op, t), a, b, c);
    m->t->node[id].op = op;
}

static void make_vector_value(Maker *m) {
    unsigned rows = 2 + roll(m, 3), pick = roll(m, 7);
    vc_type t = VC_VEC(kind_of(random_type(m)), rows);
    int id = NOTHING;
    if (pick == 0) {
        int x[4];
        for (unsigned i = 0; i < 4; i++) x[i] = i < rows ? value_of(m, kind_of(t)) : NOTHING;
        id = put(m, W_VECTOR, t, x[0], x[1], x[2]);
        m->t->node[id].d = x[3];
        return;
    }
    if (pick == 1) { id = value_of(m, kind_of(t)); put(m, W_SPLAT, t, id, NOTHING, NOTHING); return; }
    int v = value_of(m, t), s;
    unsigned component = roll(m, rows);
    switch (pick) {
    case 2: id = put(m, W_COMPONENT, kind_of(t), v, NOTHING, NOTHING); break;
    case 3:
        s = roll(m, 2) ? masked(m, 8) : value_of(m, VC_I32);
        id = put(m, W_EXTRACT, kind_of(t), v, s, NOTHING);
        break;
    case 4: s = value_of(m, kind_of(t)); id = put(m, W_INSERT, t, v, s, NOTHING); break;
    case 5:
        id = put(m, W_SWIZZLE, VC_VEC(kind_of(t), 1 + roll(m, 4)), v, NOTHING, NOTHING);
        component = roll(m, 256);
        break;
    default:
        if (kind_of(t) == VC_BOOL) id = put(m, roll(m, 2) ? W_ANY : W_ALL, VC_BOOL, v, NOTHING, NOTHING);
        else if (!is_float(kind_of(t))) { s = value_of(m, t); id = put(m, W_DOT, kind_of(t), v, s, NOTHING); }
        break;
    }
    if (id != NOTHING) m->t->node[id].index = (int)component;
}

/* Packing, hashing, and index calculations of arrays. */
static void make_call(Maker *m) {
    int which = (int)roll(m, sizeof packings / sizeof *packings), a, b = NOTHING, c = NOTHING;
    const struct Packing *p = &packings[which];
    a = value_of(m, p->a);
    if (p->b) b = value_of(m, p->b);
    if (p->d) c = value_of(m, p->d);
    a = put(m, W_CALL, p->out, a, b, c);
    m->t->node[a].index = which;
}

/* Complex numbers and 2 x 2 matrices, which the tree treats as vectors of their components. */
typedef enum Composite {
    C_ADD, C_SUB, C_MUL, C_CONJ, C_EQ, C_MUL_REAL, C_NEG, C_DIV, C_ABS, C_ARG, C_POLAR, C_EXP, C_LOG, C_SQRT, C_POW,
    M_MUL_VECTOR, M_TRANSPOSE, M_MUL, M_ADD, M_OUTER, M_COLUMN, M_DETERMINANT, M_INVERSE, C_COUNT
} Composite;
static const struct { unsigned char a, b, out; } composite_rows[C_COUNT] = {
    { 2, 2, 2 }, { 2, 2, 2 }, { 2, 2, 2 }, { 2, 0, 2 }, { 2, 2, 1 }, { 2, 1, 2 }, { 2, 0, 2 }, { 2, 2, 2 }, { 2, 0, 1 },
    { 2, 0, 1 }, { 2, 0, 2 }, { 2, 0, 2 }, { 2, 0, 2 }, { 2, 0, 2 }, { 2, 2, 2 }, { 4, 2, 2 }, { 4, 0, 4 }, { 4, 4, 4 },
    { 4, 4, 4 }, { 2, 2, 4 }, { 4, 0, 2 }, { 4, 0, 1 }, { 4, 0, 4 }
};

static void make_composite(Maker *m) {
    unsigned which = roll(m, C_COUNT), kind = roll(m, 3) ? VC_F32 : VC_F64;
    int a = value_of(m, VC_VEC(kind, composite_rows[which].a)), b = NOTHING;
    if (composite_rows[which].b) b = value_of(m, VC_VEC(kind, composite_rows[which].b));
    a = put(m, W_COMPOSITE, which == C_EQ ? (vc_type)VC_BOOL : VC_VEC(kind, composite_rows[which].out), a, b, NOTHING);
    m->t->node[a].index = (int)which;
}

/* Operations on operands of several types. */
typedef enum More { X_CAST_SAT, X_BIT_INSERT, X_LDEXP, X_MANTISSA, X_EXPONENT, X_DOT, X_NORM, X_DISTANCE, X_NORMALIZE,
                    X_CROSS, X_FACEFORWARD, X_MIRROR,
                    X_REFRACT, X_COUNT } More; /* from X_NORM on in the order of Geometry */

static vc_type integers(Maker *m, unsigned rows) { return VC_VEC(VC_I8 + roll(m, 8), rows); }

static void make_more(Maker *m) {
    unsigned which = roll(m, X_COUNT), rows = roll(m, 3) ? 1 : 2 + roll(m, 3);
    vc_type t, out;
    int a, b = NOTHING, c = NOTHING, d = NOTHING, id;
    if (which == X_DOT && rows == 1) rows = 2;
    t = which == X_CAST_SAT ? random_type(m) : which == X_BIT_INSERT ? integers(m, rows)
        : VC_VEC(VC_F16 + roll(m, 3), which == X_CROSS ? 3 : rows);
    out = which == X_CAST_SAT ? VC_VEC(kind_of(random_type(m)), rows_of(t)) : which == X_EXPONENT ? VC_VEC(VC_I32, rows)
        : which == X_DOT || which == X_NORM || which == X_DISTANCE ? kind_of(t) : t;
    a = value_of(m, t);
    if (which == X_LDEXP) b = value_of(m, integers(m, rows));
    else if (which == X_BIT_INSERT || which == X_DOT || (which >= X_DISTANCE && which != X_NORMALIZE))
        b = value_of(m, t);
    if (which == X_FACEFORWARD || which == X_REFRACT) c = value_of(m, which == X_REFRACT ? kind_of(t) : t);
    if (which == X_BIT_INSERT) { c = value_of(m, integers(m, rows)); d = value_of(m, integers(m, rows)); }
    id = put(m, W_MORE, out, a, b, c);
    m->t->node[id].index = (int)which;
    m->t->node[id].d = d;
}

static void make_read(Maker *m) {
    Tree *t = m->t;
    int which = (int)roll(m, INS), id = NOTHING, at, on, other;
    switch (roll(m, 7)) {
    case 0: at = masked(m, ELEMENTS); id = put(m, W_LOAD, t->in[which], at, NOTHING, NOTHING); break;
    case 1:
        on = value_of(m, VC_BOOL);
        at = masked(m, ELEMENTS);
        other = value_of(m, t->in[which]);
        id = put(m, W_LOAD_OR, t->in[which], at, on, other);
        break;
    case 2: at = masked(m, ARRAY); id = put(m, W_TABLE, t->table_type, at, NOTHING, NOTHING); break;
    case 3: which = (int)roll(m, PARAMS); id = put(m, W_PARAM, t->param[which], NOTHING, NOTHING, NOTHING); break;
    case 4:
        which = (int)roll(m, 24);
        id = put(m, W_PLACE, VC_U32, NOTHING, NOTHING, NOTHING);
        t->node[id].plain = which % 8 == 4; /* the local size is an immediate */
        break;
    case 5: which = (int)roll(m, OUTS); id = put(m, W_OWN, t->out[which], NOTHING, NOTHING, NOTHING); break;
    default:
        if (t->each || m->shared_dirty) return;
        at = masked(m, t->local);
        id = put(m, W_SHARED_LOAD, t->shared, at, NOTHING, NOTHING);
        m->shared_read = true;
        break;
    }
    t->node[id].index = which;
}

static void make_value(Maker *m) {
    unsigned pick = roll(m, 13);
    if (pick == 12) make_more(m);
    else if (pick == 11) make_call(m);
    else if (pick == 10) make_composite(m);
    else if (pick < 5) make_operation(m);
    else if (pick < 6) make_vector_value(m);
    else if (pick < 8) make_read(m);
    else if (pick < 9) {
        vc_type t = random_type(m);
        int on = value_of(m, VC_VEC(VC_BOOL, roll(m, 2) ? rows_of(t) : 1));
        int a = value_of(m, t), b = operand(m, t);
        put(m, W_SELECT, t, on, a, b);
    } else {
        vc_type t = random_type(m), to = random_type(m);
        int a = value_of(m, t);
        to = VC_VEC(kind_of(to), rows_of(t));
        bool same = kind_of(t) != VC_BOOL && kind_of(to) != VC_BOOL && kind_width(kind_of(t))
            == kind_width(kind_of(to));
        put(m, same && roll(m, 2) ? W_BITCAST : W_CAST, to, a, NOTHING, NOTHING);
    }
}

static void make_memory(Maker *m) {
    Tree *t = m->t;
    int at = m->held ? m->memory[roll(m, (unsigned)m->held)] : NOTHING, v, i;
    bool fresh = at == NOTHING || roll(m, 4) == 0;
    if (fresh && roll(m, 3)) {
        v = put(m, W_VAR, random_type(m), NOTHING, NOTHING, NOTHING);
        m->memory[m->held++] = v;
        return;
    }
    if (fresh) {
        int id = put(m, W_ARRAY, random_type(m), NOTHING, NOTHING, NOTHING);
        for (uint64_t j = 0; j < ARRAY; j++) { /* undefined until stored */
            v = value_of(m, t->node[id].type);
            i = immediate(m, VC_U32, j);
            put(m, W_ARRAY_STORE, 0, id, i, v);
        }
        m->memory[m->held++] = id;
        return;
    }
    bool array = t->node[at].what == W_ARRAY, reads = roll(m, 2) != 0;
    vc_type type = t->node[at].type;
    i = array ? masked(m, ARRAY) : NOTHING;
    v = reads ? NOTHING : value_of(m, type);
    if (reads) put(m, array ? W_ARRAY_LOAD : W_GET, type, at, i, NOTHING);
    else if (array) put(m, W_ARRAY_STORE, 0, at, i, v);
    else put(m, W_SET, 0, at, v, NOTHING);
}

static void make_store(Maker *m) {
    int which = (int)roll(m, OUTS), v = value_of(m, m->t->out[which]), id = put(m, W_STORE, 0, v, NOTHING, NOTHING);
    m->t->node[id].index = which;
}

/* each invocation stores to its own element only; barriers separate this from reads by others */
static void make_shared(Maker *m) {
    int v = value_of(m, m->t->shared);
    if (m->shared_read || roll(m, 4) == 0) put(m, W_BARRIER, 0, NOTHING, NOTHING, NOTHING);
    put(m, W_SHARED_STORE, 0, v, NOTHING, NOTHING);
    put(m, W_BARRIER, 0, NOTHING, NOTHING, NOTHING);
    m->shared_dirty = m->shared_read = false;
}

/* Atomics with results that do not depend on the order. Each element of the sums has one operation, and its old
   values are not used. In the cells only one invocation accesses an element, so old values are used. */
/* floats: up to A_STORE */
typedef enum Atomic { A_ADD, A_SUB, A_MIN, A_MAX, A_EXCHANGE, A_COMPARE, A_LOAD, A_STORE, A_AND, A_OR, A_XOR,
                      A_COUNT } Atomic;
static const vc_combine sums[8] = { VC_ADD, VC_MIN, VC_MAX, VC_AND, VC_OR, VC_XOR, VC_ADD, VC_MAX };

/* Not in loops: lavapipe (Mesa 22.3) treats a fence like a barrier, and loses invocations that reach it more often
   than others. */
static bool ordered(Maker *m) { return !m->loops && !m->counted && roll(m, 2); }

static void make_atomic(Maker *m) {
    Tree *t = m->t;
    int a, b = NOTHING, id, which;
    if (roll(m, 2)) {
        vc_type type = t->out[SUMS];
        do which = (int)roll(m, 8); while (is_float(type) && sums[which] != VC_MIN && sums[which] != VC_MAX);
        a = value_of(m, type);
        b = masked(m, ELEMENTS / 8);
        id = put(m, W_ATOMIC_SUM, 0, a, b, NOTHING);
        t->node[id].index = which;
        t->node[id].step = ordered(m);
        t->used[SUMS] = true;
        return;
    }
    which = (int)roll(m, is_float(t->out[CELLS]) ? A_STORE + 1 : A_COUNT);
    a = value_of(m, t->out[CELLS]);
    if (which == A_COMPARE) b = value_of(m, t->out[CELLS]);
    id = put(m, W_ATOMIC_CELL, t->out[CELLS], a, b, NOTHING);
    t->node[id].index = which;
    t->node[id].step = ordered(m);
    t->used[CELLS] = true;
}

static bool combines(vc_combine op, vc_type type) { /* and is independent of the order */
    if (kind_of(type) == VC_BOOL) return op >= VC_AND;
    return !is_float(kind_of(type)) || op == VC_MIN || op == VC_MAX;
}

/* Emits the barriers that reads and stores of shared memory need. */
static void make_atomic_shared(Maker *m) {
    Tree *t = m->t;
    unsigned kind = kind_of(t->shared);
    if (m->shared_dirty || rows_of(t->shared) > 1 || (kind != VC_I32 && kind != VC_U32 && kind != VC_F32
                                                      && kind != VC_U64)) return;
    int v = value_of(m, t->shared), at = masked(m, t->local), id;
    vc_combine op;
    do op = (vc_combine)(VC_ADD + roll(m, 7)); while (op == VC_MUL || !combines(op, t->shared));
    if (m->shared_read) put(m, W_BARRIER, 0, NOTHING, NOTHING, NOTHING);
    id = put(m, W_ATOMIC_SHARED, 0, v, at, NOTHING);
    t->node[id].combine = op;
    put(m, W_BARRIER, 0, NOTHING, NOTHING, NOTHING);
    m->shared_read = false;
}

/* Work-group collectives, and subgroup operations that are combined so that the result does not depend on the
   subgroup partition. */
typedef enum Together { G_REDUCE, G_INCLUSIVE, G_EXCLUSIVE, G_BROADCAST, G_LANES_REDUCE, G_TOGETHER } Together;
typedef enum Lanes { L_SHUFFLE, L_XOR, L_SCAN, L_CLUSTERED, L_BALLOT, L_FIRST, L_VOTE, L_COUNTS, L_UP_DOWN, L_BROADCAST,
                     L_IDS, L_COUNT } Lanes;

static void make_together(Maker *m) {
    unsigned which = roll(m, G_TOGETHER);
    vc_type type = kind_of(random_type(m));
    vc_combine op = VC_COMBINE_NONE;
    if (which == G_LANES_REDUCE && kind_width(type) < 32) return; /* subgroup operations must support the type */
    if (which != G_BROADCAST)
        do op = (vc_combine)(VC_ADD + roll(m, 7));
        while (!combines(op, type) || (which == G_LANES_REDUCE && op == VC_MUL));
    int id = put(m, W_GROUP, type, value_of(m, type), NOTHING, NOTHING);
    m->t->node[id].index = (int)which;
    m->t->node[id].combine = op;
    m->t->node[id].step = roll(m, m->t->local);
}

static void make_lanes(Maker *m) {
    unsigned which = roll(m, L_COUNT);
    bool condition = which == L_BALLOT || which == L_VOTE || which == L_COUNTS;
    vc_type type = condition ? (vc_type)VC_BOOL : random_type(m);
    vc_combine op = VC_COMBINE_NONE;
    if (!condition && kind_width(kind_of(type)) != 32) type = VC_VEC(roll(m, 2) ? VC_U32 : VC_I32, rows_of(type));
    if (which == L_SCAN || which == L_CLUSTERED) do op = (vc_combine)(VC_ADD + roll(m, 7)); while (!combines(op, type));
    int id = put(m, W_LANES, type, value_of(m, type), NOTHING, NOTHING);
    m->t->node[id].index = (int)which;
    m->t->node[id].combine = op;
    m->t->node[id].step = (int64_t)(1 + roll(m, 5));
}

/* Fences, redundant barriers, and output. */
static void make_odd(Maker *m, bool together) {
    unsigned which = roll(m, 3);
    int v, id;
    if (which == 2 && m->t->says) {
        v = value_of(m, VC_VEC(VC_I8 + roll(m, 11), 1 + roll(m, 2)));
        id = put(m, W_SAY, 0, v, NOTHING, NOTHING);
    } else if (which == 1 && together) id = put(m, W_SCOPED, 0, NOTHING, NOTHING, NOTHING);
    else if (ordered(m)) id = put(m, W_FENCE, 0, NOTHING, NOTHING, NOTHING);
    else return;
    m->t->node[id].index = (int)roll(m, 4);
    m->t->node[id].step = roll(m, 3);
}

static void make_statement(Maker *m, bool uniform);

static int make_block(Maker *m, unsigned statements, bool uniform, int counter_type) {
    int id = new_block(m), outer = m->block, seen = m->seen, held = m->held;
    m->block = id;
    m->depth++;
    if (counter_type) {
        (void)put(m, W_COUNTER, (vc_type)counter_type, NOTHING, NOTHING, NOTHING);
        /* after the reads of the previous iteration */
        if (uniform && !m->t->each) put(m, W_BARRIER, 0, NOTHING, NOTHING, NOTHING);
    }
    for (unsigned i = 0; i < statements && !full(m); i++) make_statement(m, uniform);
    m->depth--;
    m->block = outer;
    m->seen = seen;
    m->held = held;
    return id;
}

static void make_for(Maker *m, bool uniform) {
    unsigned kind = VC_I8 + roll(m, 8);
    static const int steps[] = { 1, 1, 1, 2, 3, -1, -2 };
    int step = steps[roll(m, is_signed(kind) ? 7 : 5)], a, b, id;
    uint64_t base = is_signed(kind) ? 0 - (uint64_t)roll(m, 3) : roll(m, 3);
    /* counts to the last number of a signed type */
    if (roll(m, 6) == 0) base = (UINT64_C(1) << (kind_width(kind) - 1)) - 3;
    a = immediate(m, kind, narrow(kind, base));
    b = immediate(m, kind, narrow(kind, step > 0 ? base + roll(m, 5) : base - roll(m, 5)));
    if (!uniform && roll(m, 2)) { /* a limit that differs between invocations */
        a = immediate(m, kind, 0);
        b = put(m, W_CAST, kind, masked(m, 4), NOTHING, NOTHING);
        step = step < 0 ? -step : step;
    }
    id = put(m, W_FOR, 0, a, b, NOTHING);
    m->t->node[id].step = step;
    m->t->node[id].index = uniform;
    m->loops += !uniform;
    m->counted += uniform;
    bool dirty = m->shared_dirty;
    int body = make_block(m, 1 + roll(m, 4), uniform, (int)kind);
    m->shared_dirty |= dirty; /* it may run zero iterations */
    m->loops -= !uniform;
    m->counted -= uniform;
    m->t->node[id].body = body;
}

static void make_switch(Maker *m) {
    static const unsigned char kinds[] = { VC_U32, VC_I32, VC_I8, VC_U64, VC_U16 };
    Tree *t = m->t;
    int v = value_of(m, kinds[roll(m, 5)]), id = put(m, W_SWITCH, 0, v, NOTHING, NOTHING), count = (int)roll(m, 4);
    int list[4];
    t->node[id].index = count;
    t->node[id].step = (int64_t)roll(m, 3); /* value of the first case; the others are consecutive */
    for (int i = 0; i < count; i++) list[i] = make_block(m, roll(m, 3), false, 0);
    t->node[id].other = t->cases;
    for (int i = 0; i < count; i++) t->case_block[t->cases++] = list[i];
    if (roll(m, 2)) { int body = make_block(m, 1 + roll(m, 2), false, 0); t->node[id].body = body; }
}

static void make_flow(Maker *m, bool uniform) {
    int v, id, body;
    if (m->depth > 3) return;
    switch (roll(m, 6)) {
    case 0: make_for(m, uniform && roll(m, 2) && m->depth < 2); return;
    case 1: make_switch(m); return;
    case 2:
        /* with a hidden counter that ends it after five iterations */
        id = put(m, W_LOOP, 0, NOTHING, NOTHING, NOTHING);
        m->loops++;
        body = make_block(m, 1 + roll(m, 4), false, 0);
        m->loops--;
        m->t->node[id].body = body;
        return;
    case 3:
        v = value_of(m, VC_BOOL);
        if (m->loops) put(m, roll(m, 2) ? W_BREAK : W_CONTINUE, 0, v, NOTHING, NOTHING);
        else if (m->t->each && roll(m, 3) == 0) put(m, W_RETURN, 0, v, NOTHING, NOTHING);
        return;
    default:
        v = value_of(m, VC_BOOL);
        id = put(m, W_IF, 0, v, NOTHING, NOTHING);
        body = make_block(m, 1 + roll(m, 4), false, 0);
        m->t->node[id].body = body;
        if (roll(m, 2)) { body = make_block(m, 1 + roll(m, 3), false, 0); m->t->node[id].other = body; }
        return;
    }
}

static void make_statement(Maker *m, bool uniform) {
    unsigned pick = roll(m, 16);
    bool together = uniform && !m->t->each;
    if (pick >= 14 && together) switch (roll(m, 3)) {
    case 0: make_atomic_shared(m); break;
    case 1: make_together(m); break;
    default: make_lanes(m); break;
    }
    else if (pick == 13) make_atomic(m);
    else if (pick == 12 && roll(m, 3) == 0) make_odd(m, together);
    else if (pick < 6) make_value(m);
    else if (pick < 8) make_memory(m);
    else if (pick < 9) make_store(m);
    else if (pick < 10 && together) make_shared(m);
    else make_flow(m, uniform);
}

static void make_tree(Tree *t, uint64_t seed) {
    static const unsigned char atomic_kinds[8] = { VC_U32, VC_I32, VC_U32, VC_I32, VC_F32, VC_U64, VC_I64, VC_F64 };
    Maker *m = (Maker *)calloc(1, sizeof *m);
    memset(t, 0, sizeof *t);
    m->t = t;
    m->state = seed * UINT64_C(0xd1342543de82ef95) + 7;
    t->each = roll(m, 2) != 0;
    t->wrapped = seed % 3 == 0;
    t->lazy = seed % 5 == 1;
    t->says = seed % 16 == 3;
    t->axes = 1 + roll(m, 3);
    t->local = t->each ? 1 + roll(m, 64) : 8u << roll(m, 4);
    t->buffers = roll(m, 2) ? VC_BUFFERS_ADDRESS : VC_BUFFERS_BINDING;
    for (int i = 0; i < INS; i++) t->in[i] = random_type(m);
    for (int i = 0; i < OUTS; i++) t->out[i] = random_type(m);
    for (int i = 0; i < OUTS; i++) t->used[i] = true;
    t->out[SUMS] = atomic_kinds[roll(m, 8)];
    t->out[CELLS] = atomic_kinds[roll(m, 8)];
    for (int i = 0; i < PARAMS; i++) {
        t->param[i] = random_type(m);
        for (int j = 0; j < 4; j++) t->param_bits[i][j] = number_of(kind_of(t->param[i]), &m->state);
    }
    t->shared = random_type(m);
    t->table_type = random_type(m);
    for (int i = 0; i < ARRAY; i++)
        for (int j = 0; j < 4; j++) t->table[i][j] = number_of(kind_of(t->table_type), &m->state);
    m->block = new_block(m);
    m->shared_dirty = true; /* uninitialised so far */
    (void)put(m, W_PLACE, VC_U32, NOTHING, NOTHING, NOTHING); /* a value that differs between invocations */
    for (int i = 0; i < INS; i++) {
        int at = masked(m, ELEMENTS), id = put(m, W_LOAD, t->in[i], at, NOTHING, NOTHING);
        t->node[id].index = i;
    }
    unsigned statements = 4 + roll(m, 22);
    for (unsigned i = 0; i < statements && !full(m); i++) make_statement(m, true);
    for (int i = 0; i < OUTS; i++) { /* so that the generated values are used */
        int v = value_of(m, t->out[i]), id = put(m, W_STORE, 0, v, NOTHING, NOTHING);
        t->node[id].index = i;
    }
    for (int i = LATE; i < ALL_OUTS; i++) {
        int v = m->visible[roll(m, (unsigned)m->seen)];
        if (t->node[v].plain) continue;
        t->out[i] = t->node[v].type;
        t->used[i] = true;
        t->node[put(m, W_STORE, 0, v, NOTHING, NOTHING)].index = i;
    }
    free(m);
}

/* ---- emitting it through the builder ---- */

/* The interpreter ignores this: the same memory and values as members of structs and elements of arrays. Buffers
   keep their layout: a single element that is an array of everything. */
static vc_type wrap_type(vc_kernel *k, vc_type type) {
    const vc_member m[] = { { "before", VC_U8 }, { "it", type }, { NULL, VC_F32C },
                            { "list", vc_array_type(k, type, ARRAY) } };
    return vc_struct(k, "wrap", m, 4);
}
static vc_ref wrap_var(vc_kernel *k, vc_type type, bool array) {
    return vc_field(vc_var(k, "v", wrap_type(k, type)), array ? 3 : 1);
}
static vc_ref wrap_array(vc_kernel *k, vc_ref memory) { return vc_at(memory, vc_const(k, vc_u32(0))); }

/* condition ? a : b through a struct of both */
static vc_val wrap_select(vc_kernel *k, vc_type type, vc_val condition, vc_val a, vc_val b) {
    const vc_member m[] = { { "x", type }, { "y", type } };
    vc_type pair = vc_struct(k, "pair", m, 2);
    vc_val part[2];
    part[0] = a; part[1] = b;
    a = vc_make(k, pair, part, 2);
    b = vc_with(vc_with(a, 0, part[1]), 1, part[0]);
    return vc_part(vc_select(condition, a, b), 0);
}

typedef struct Writer {
    const Tree *t;
    vc_kernel *k;
    vc_val value[MAX_NODES], own; /* own: index of the element of this invocation */
    vc_ref memory[MAX_NODES], in[INS], out[ALL_OUTS], shared, table;
    vc_val param[PARAMS];
    uint64_t spoil;               /* 0: valid kernel; otherwise the random state of the misuse */
    int spoil_at;
} Writer;

static vc_val write_value(Writer *w, int id);
static vc_val use(Writer *w, int id) {
    return id == NOTHING || !w->t->node[id].weight ? id == NOTHING ? w->own : w->value[id] : write_value(w, id);
}

static vc_val first(Writer *w, const Node *n) { vc_val v = use(w, n->a); return n->anchored ? vc_const(w->k, v) : v; }

static vc_val write_place(Writer *w, unsigned which) { /* of axis which / 8 */
    unsigned axis = which / 8;
    switch (which % 8) {
    case 0: return vc_global_id(w->k, axis);
    case 1: return vc_local_id(w->k, axis);
    case 2: return vc_group_id(w->k, axis);
    case 3: return vc_local_index(w->k);
    case 4: return vc_local_size(w->k, axis);
    case 5: return vc_groups(w->k, axis);
    case 6: return vc_threads(w->k, axis);
    default: return axis ? vc_shape(w->in[1], axis - 1) : vc_length(w->in[1]);
    }
}

static vc_val write_immediate(vc_type kind, uint64_t bits) {
    if (is_float(kind) && isnan(real_of(kind, bits))) return vc_imm(kind, bits);
    switch (kind) {
    case VC_BOOL: return vc_bool(bits != 0);
    case VC_I8: return vc_i8((int8_t)widen(kind, bits));
    case VC_I16: return vc_i16((int16_t)widen(kind, bits));
    case VC_I32: return vc_i32((int32_t)widen(kind, bits));
    case VC_I64: return vc_i64(widen(kind, bits));
    case VC_U8: return vc_u8((uint8_t)bits);
    case VC_U16: return vc_u16((uint16_t)bits);
    case VC_U32: return vc_u32((uint32_t)bits);
    case VC_U64: return vc_u64(bits);
    case VC_F16: return vc_f16((float)real_of(kind, bits));
    case VC_F32: return vc_f32((float)real_of(kind, bits));
    default: return vc_f64(real_of(kind, bits));
    }
}

static vc_val write_more(Writer *w, const Node *n) {
    vc_val a = first(w, n), b = n->b == NOTHING ? a : use(w, n->b), c = n->c == NOTHING ? a : use(w, n->c);
    switch (n->index) {
    case X_CAST_SAT: return vc_cast_sat(n->type, a);
    case X_BIT_INSERT: return vc_bitfield_insert(a, b, c, use(w, n->d));
    case X_LDEXP: return vc_ldexp(a, b);
    case X_MANTISSA: return vc_frexp_mantissa(a);
    case X_EXPONENT: return vc_frexp_exponent(a);
    case X_DOT: return vc_dot(a, b);
    case X_NORM: return vc_norm(a);
    case X_DISTANCE: return vc_distance(a, b);
    case X_NORMALIZE: return vc_normalize(a);
    case X_CROSS: return vc_cross(a, b);
    case X_FACEFORWARD: return vc_faceforward(a, b, c);
    case X_MIRROR: return vc_reflect_vector(a, b);
    default: return vc_refract(a, b, c);
    }
}

/* An assertion in unreachable code, and one that holds. */
static void write_output(Writer *w, const Node *n) {
    static const char *const formats[3][2] = { { "%d %%\n", "%+5i\n" }, { "%u\n", "%08x\n" }, { "%g\n", "%+.3f\n" } };
    unsigned kind = kind_of(w->t->node[n->a].type);
    vc_val v = use(w, n->a);
    if (n->step) { vc_assert(w->k, vc_lt(w->own, vc_u32(ELEMENTS)), "an invocation too many"); return; }
    VC_IF(w->k, vc_eq(vc_threads(w->k, 0), vc_u32(7))) {
        vc_printf_args(w->k, formats[is_float(kind) ? 2 : !is_signed(kind)][n->index & 1], &v, 1);
    }
}

static vc_val write_composite(Writer *w, const Node *n) {
    vc_type type = w->t->node[n->a].type, kind = kind_of(type), matrix = VC_MAT(kind, 2, 2);
    vc_val v = first(w, n), u = n->b == NOTHING ? v : use(w, n->b), z, y = u, column[2], part[2];
    bool second = n->b != NOTHING && composite_rows[n->index].b == composite_rows[n->index].a;
    if (rows_of(type) == 2 && n->index != M_OUTER) {
        z = vc_complex(vc_component(v, 0), vc_component(v, 1));
        if (second) y = vc_complex(vc_component(u, 0), vc_component(u, 1));
        switch (n->index) {
        case C_ADD: z = vc_add(z, y); break;
        case C_SUB: z = vc_sub(z, y); break;
        case C_CONJ: z = vc_conj(z); break;
        case C_NEG: z = vc_neg(z); break;
        case C_DIV: z = vc_div(z, y); break;
        case C_POW: z = vc_pow(z, y); break;
        case C_EXP: z = vc_exp(z); break;
        case C_LOG: z = vc_log(z); break;
        case C_SQRT: z = vc_sqrt(z); break;
        case C_POLAR: z = vc_polar(vc_re(z), vc_im(z)); break;
        case C_ABS: return vc_abs(z);
        case C_ARG: return vc_arg(z);
        case C_EQ: return vc_eq(z, y);
        default: z = vc_mul(z, y); break; /* C_MUL, and C_MUL_REAL */
        }
        return vc_vec2(vc_re(z), vc_im(z));
    }
    if (n->index == M_OUTER) z = vc_outer(v, u);
    else {
        column[0] = vc_swizzle(v, "xy"); column[1] = vc_swizzle(v, "zw");
        z = vc_make(w->k, matrix, column, 2);
    }
    if (second && n->index != M_OUTER) {
        column[0] = vc_swizzle(u, "xy"); column[1] = vc_swizzle(u, "zw");
        y = vc_make(w->k, matrix, column, 2);
    }
    if (n->index == M_COLUMN) return vc_part(z, 1);
    if (n->index == M_MUL_VECTOR) return vc_mul(z, y);
    if (n->index == M_DETERMINANT) return vc_determinant(z);
    if (n->index == M_INVERSE) z = vc_inverse(z);
    z = n->index == M_MUL ? vc_mul(z, y) : n->index == M_ADD ? vc_add(z, y) : n->index == M_TRANSPOSE ? vc_transpose(z)
        : z;
    part[0] = vc_part(z, 0); part[1] = vc_part(z, 1);
    return vc_vec4(vc_component(part[0], 0), vc_component(part[0], 1), vc_component(part[1], 0),
                   vc_component(part[1], 1));
}

static void write_accumulation(vc_ref ref, vc_val at, vc_val v, vc_combine op) {
    switch (op) {
    case VC_ADD: vc_atomic_add(ref, at, v, NULL); break;
    case VC_MIN: vc_atomic_min(ref, at, v, NULL); break;
    case VC_MAX: vc_atomic_max(ref, at, v, NULL); break;
    case VC_AND: vc_atomic_and(ref, at, v, NULL); break;
    case VC_OR: vc_atomic_or(ref, at, v, NULL); break;
    default: vc_atomic_xor(ref, at, v, NULL); break;
    }
}

static void write_sum(Writer *w, const Node *n) {
    vc_ref ref = w->out[SUMS];
    vc_val at = use(w, n->b), from = vc_u32((uint32_t)n->index * (ELEMENTS / 8));
    if (w->t->wrapped) at = vc_add(at, from); else ref = vc_offset(ref, from);
    write_accumulation(n->step ? vc_ordered(ref, VC_RELEASE, VC_SCOPE_WORKGROUP) : ref, at, use(w, n->a),
                       sums[n->index]);
}

static vc_val write_cell(Writer *w, const Node *n) {
    vc_ref cell = n->step ? vc_ordered(w->out[CELLS], VC_ACQ_REL, VC_SCOPE_DEVICE) : w->out[CELLS];
    vc_val v = use(w, n->a), old = v, i = w->own;
    switch (n->index) {
    case A_ADD: vc_atomic_add(cell, i, v, &old); break;
    case A_SUB: vc_atomic_sub(cell, i, v, &old); break;
    case A_MIN: vc_atomic_min(cell, i, v, &old); break;
    case A_MAX: vc_atomic_max(cell, i, v, &old); break;
    case A_EXCHANGE: vc_atomic_exchange(cell, i, v, &old); break;
    case A_COMPARE: vc_atomic_compare_exchange(cell, i, v, use(w, n->b), &old); break;
    case A_LOAD: vc_atomic_load(n->step ? vc_ordered(cell, VC_ACQUIRE, VC_SCOPE_DEFAULT) : cell, i, &old); break;
    case A_STORE:
        vc_atomic_store(n->step ? vc_ordered(cell, VC_RELEASE, VC_SCOPE_DEFAULT) : cell, i, v);
        return vc_const(w->k, v);
    case A_AND: vc_atomic_and(cell, i, v, &old); break;
    case A_OR: vc_atomic_or(cell, i, v, &old); break;
    default: vc_atomic_xor(cell, i, v, &old); break;
    }
    return old;
}

static vc_val combine(vc_combine op, vc_val a, vc_val b) {
    switch (op) {
    case VC_ADD: return vc_add(a, b);
    case VC_MUL: return vc_mul(a, b);
    case VC_MIN: return vc_min(a, b);
    case VC_MAX: return vc_max(a, b);
    case VC_AND: return vc_and(a, b);
    case VC_OR: return vc_or(a, b);
    default: return vc_xor(a, b);
    }
}

static vc_val write_group(Writer *w, const Node *n) {
    vc_kernel *k = w->k;
    vc_val v = first(w, n), out = v;
    switch (n->index) {
    case G_REDUCE: vc_group_reduce(k, n->combine, v, &out); break;
    case G_INCLUSIVE: vc_group_inclusive(k, n->combine, v, &out); break;
    case G_EXCLUSIVE: vc_group_exclusive(k, n->combine, v, &out); break;
    case G_BROADCAST: vc_group_broadcast(k, v, vc_u32((uint32_t)n->step), &out); break;
    default: /* once per subgroup; by all invocations if the number does not matter */
        v = vc_subgroup_reduce(n->combine, v);
        if (n->combine == VC_ADD || n->combine == VC_XOR)
            v = vc_select(vc_subgroup_elect(k), v, vc_const(k, vc_imm(n->type, 0)));
        vc_group_reduce(k, n->combine, v, &out);
        break;
    }
    return out;
}

/* Whether the subgroup has that lane: the last subgroup of a workgroup may be partial. */
static vc_val is_here(vc_kernel *k, vc_val lane) {
    vc_val ballot = vc_subgroup_ballot(vc_const(k, vc_bool(true)));
    vc_val word = vc_extract(ballot, vc_and(vc_shr(lane, vc_u32(5)), vc_u32(3)));
    return vc_and(vc_lt(lane, vc_subgroup_size(k)), vc_ne(vc_and(vc_shr(word, lane), vc_u32(1)), vc_u32(0)));
}

static vc_val write_lanes(Writer *w, const Node *n) { /* always returns its operand */
    vc_kernel *k = w->k;
    vc_val v = first(w, n), lane = vc_subgroup_local_id(k), size = vc_subgroup_size(k), x = vc_u32((uint32_t)n->step);
    vc_val right = v, wrong, before, count;
    vc_val none = vc_splat(vc_const(k, vc_imm(kind_of(n->type), 0)), rows_of(n->type));
    bool vector = rows_of(n->type) > 1;
    switch (n->index) {
    case L_SHUFFLE: return vc_subgroup_shuffle(v, lane);
    case L_XOR:
        x = vc_and(x, vc_sub(size, vc_u32(1)));
        right = vc_subgroup_shuffle_xor(vc_subgroup_shuffle_xor(v, x), x);
        return vc_select(is_here(k, vc_xor(lane, x)), right, v);
    case L_CLUSTERED: return vc_subgroup_clustered(n->combine, v, 1);
    case L_UP_DOWN:
        right = vc_subgroup_shuffle_down(vc_subgroup_shuffle_up(v, x), x);
        return vc_select(is_here(k, vc_add(lane, x)), right, v);
    case L_BALLOT:
        count = vc_extract(vc_subgroup_ballot(v), vc_shr(lane, vc_u32(5)));
        return vc_ne(vc_and(vc_shr(count, lane), vc_u32(1)), vc_u32(0));
    case L_SCAN:
        /* for NaN either operand is allowed */
        right = is_float(kind_of(n->type)) ? vc_select(vc_isnan(v), none, v) : v;
        right = vc_eq(vc_subgroup_inclusive(n->combine, right),
                      combine(n->combine, vc_subgroup_exclusive(n->combine, right), right));
        return vc_select(vector ? vc_all(right) : right, v, none);
    case L_FIRST: return vc_select(vc_subgroup_all_equal(vc_subgroup_broadcast_first(v)), v, none);
    case L_BROADCAST: return vc_select(vc_subgroup_all_equal(vc_subgroup_broadcast(v, vc_u32(0))), v, none);
    case L_IDS: return vc_select(vc_lt(vc_subgroup_id(k), vc_subgroup_count(k)), v, none);
    case L_VOTE:
        wrong = vc_or(vc_and(v, vc_not(vc_subgroup_any(v))), vc_and(vc_not(v), vc_subgroup_all(v)));
        return vc_xor(v, wrong);
    default:
        before = vc_subgroup_ballot(v);
        count = vc_sub(vc_subgroup_ballot_inclusive(before), vc_subgroup_ballot_exclusive(before));
        right = vc_eq(vc_subgroup_ballot_count(before), vc_subgroup_reduce(VC_ADD, vc_cast(VC_U32, v)));
        return vc_and(vc_eq(count, vc_u32(1)), right);
    }
}

static vc_val write_value(Writer *w, int id) {
    const Node *n = &w->t->node[id];
    unsigned rows = rows_of(n->type);
    char letters[5] = { 0, 0, 0, 0, 0 };
    switch (n->what) {
    case W_OP:
        note_function(n->op->name);
        if (n->op->f1) return n->op->f1(first(w, n));
        if (n->op->f2) return n->op->f2(first(w, n), use(w, n->b));
        return n->op->f3(first(w, n), use(w, n->b), use(w, n->c));
    case W_IMMEDIATE: return write_immediate(n->type, n->bits[0]);
    case W_CONST: return vc_const(w->k, vc_imm(n->type, n->bits[0]));
    case W_CAST: return vc_cast(n->type, first(w, n));
    case W_BITCAST: return vc_bitcast(n->type, first(w, n));
    case W_VECTOR:
        if (rows == 2) return vc_vec2(first(w, n), use(w, n->b));
        if (rows == 3) return vc_vec3(first(w, n), use(w, n->b), use(w, n->c));
        return vc_vec4(first(w, n), use(w, n->b), use(w, n->c), use(w, n->d));
    case W_SPLAT: return vc_splat(first(w, n), rows);
    case W_COMPONENT: return vc_component(first(w, n), (uint32_t)n->index);
    case W_EXTRACT: return vc_extract(first(w, n), use(w, n->b));
    case W_INSERT: return vc_insert(first(w, n), (uint32_t)n->index, use(w, n->b));
    case W_SWIZZLE:
        for (unsigned i = 0; i < rows; i++)
            letters[i] = "xyzw"[((unsigned)n->index >> (2 * i) & 3) % rows_of(w->t->node[n->a].type)];
        return vc_swizzle(first(w, n), letters);
    case W_SELECT:
        if (w->t->wrapped && rows_of(w->t->node[n->a].type) == 1)
            return wrap_select(w->k, n->type, first(w, n), use(w, n->b), use(w, n->c));
        return vc_select(first(w, n), use(w, n->b), use(w, n->c));
    case W_CALL:
        note_function(packings[n->index].name);
        return packed_call(w->k, &packings[n->index], first(w, n), n->b == NOTHING ? w->own : use(w, n->b),
                           n->c == NOTHING ? w->own : use(w, n->c));
    case W_COMPOSITE: return write_composite(w, n);
    case W_MORE: return write_more(w, n);
    case W_ATOMIC_CELL: return write_cell(w, n);
    case W_GROUP: return write_group(w, n);
    case W_LANES: return write_lanes(w, n);
    case W_ANY: return vc_any(first(w, n));
    case W_ALL: return vc_all(first(w, n));
    case W_DOT: return vc_dot(first(w, n), use(w, n->b));
    case W_LOAD: return vc_load(w->in[n->index], use(w, n->a));
    case W_LOAD_OR: return vc_load_or(w->in[n->index], use(w, n->a), use(w, n->b), use(w, n->c));
    case W_TABLE: return vc_load(w->table, use(w, n->a));
    case W_PARAM: return w->param[n->index];
    case W_PLACE: return write_place(w, (unsigned)n->index);
    case W_OWN: return vc_load(w->out[n->index], w->own);
    case W_GET: return vc_get(w->memory[n->a]);
    case W_ARRAY_LOAD: return vc_load(w->memory[n->a], use(w, n->b));
    case W_SHARED_LOAD: return vc_load(w->shared, use(w, n->a));
    default: return w->own;
    }
}

static void spoil(Writer *w);
static void write_block(Writer *w, int block);

static void write_flow(Writer *w, int id) {
    const Node *n = &w->t->node[id];
    vc_kernel *k = w->k;
    if (n->what == W_IF) {
        VC_IF(k, use(w, n->a)) { write_block(w, n->body); }
        if (n->other != NOTHING) VC_ELSE(k) { write_block(w, n->other); }
    } else if (n->what == W_FOR) {
        VC_FOR_STEP(k, i, use(w, n->a), use(w, n->b), vc_i32((int32_t)n->step)) {
            w->value[w->t->first[n->body]] = i; /* the counter of the loop */
            write_block(w, n->body);
        }
    } else if (n->what == W_LOOP) {
        vc_ref rounds = vc_var(k, "rounds", VC_U32);
        VC_LOOP(k) {
            vc_break_if(k, vc_ge(vc_get(rounds), vc_u32(5)));
            vc_set(rounds, vc_add(vc_get(rounds), vc_u32(1)));
            write_block(w, n->body);
        }
    } else {
        VC_SWITCH(k, use(w, n->a)) {
            for (int i = 0; i < n->index; i++) VC_CASE(k, n->step + i) {
                write_block(w, w->t->case_block[n->other + i]);
            }
            if (n->body != NOTHING) VC_DEFAULT(k) { write_block(w, n->body); }
        }
    }
}

static void write_select(Writer *w, int id) {
    const Node *n = &w->t->node[id];
    vc_val condition, out;
    if (!w->t->lazy || rows_of(w->t->node[n->a].type) != 1) { w->value[id] = write_value(w, id); return; }
    condition = vc_const(w->k, use(w, n->a));
    if (n->type != VC_BOOL) vc_select_lazy(w->k, &out, condition, use(w, n->b), use(w, n->c));
    else { /* condition && b || !condition && c */
        vc_val chosen;
        vc_and_then(w->k, &chosen, condition, use(w, n->b));
        vc_or_else(w->k, &out, chosen, vc_and(vc_not(condition), use(w, n->c)));
    }
    w->value[id] = vc_const(w->k, out);
}

static void write_node(Writer *w, int id) {
    const Node *n = &w->t->node[id];
    if (id == w->spoil_at) spoil(w);
    switch (n->what) {
    case W_COUNTER: break;
    case W_STORE: vc_store(w->out[n->index], w->own, use(w, n->a)); break;
    case W_VAR: w->memory[id] = w->t->wrapped ? wrap_var(w->k, n->type, false) : vc_var(w->k, "v", n->type); break;
    case W_SET: vc_set(w->memory[n->a], use(w, n->b)); break;
    case W_ARRAY:
        w->memory[id] = w->t->wrapped ? wrap_var(w->k, n->type, true) : vc_array(w->k, "array", n->type, ARRAY);
        break;
    case W_ARRAY_STORE: vc_store(w->memory[n->a], use(w, n->b), use(w, n->c)); break;
    case W_SHARED_STORE: vc_store(w->shared, vc_local_index(w->k), use(w, n->a)); break;
    case W_ATOMIC_SUM: write_sum(w, n); break;
    case W_ATOMIC_SHARED: write_accumulation(w->shared, use(w, n->b), use(w, n->a), n->combine); break;
    case W_BARRIER: vc_barrier(w->k); break;
    case W_SCOPED:
        vc_barrier_scoped(w->k, n->step ? VC_SCOPE_WORKGROUP : VC_SCOPE_SUBGROUP, VC_SCOPE_DEFAULT, (uint32_t)n->index);
        break;
    case W_FENCE:
        vc_fence(w->k, n->step == 1 ? VC_SCOPE_WORKGROUP : n->step ? VC_SCOPE_DEVICE : VC_SCOPE_DEFAULT,
                 (uint32_t)n->index);
        break;
    case W_SAY: write_output(w, n); break;
    case W_IF: case W_FOR: case W_LOOP: case W_SWITCH: write_flow(w, id); break;
    case W_BREAK: vc_break_if(w->k, use(w, n->a)); break;
    case W_CONTINUE: vc_continue_if(w->k, use(w, n->a)); break;
    case W_RETURN: vc_return_if(w->k, use(w, n->a)); break;
    case W_SELECT: if (!n->weight) write_select(w, id); break;
    default: if (!n->weight) w->value[id] = write_value(w, id); break;
    }
}

static void write_block(Writer *w, int block) {
    for (int id = w->t->first[block]; id != NOTHING; id = w->t->node[id].next) write_node(w, id);
}

static void write_tree(Writer *w) {
    const Tree *t = w->t;
    vc_kernel *k = w->k;
    uint8_t data[ARRAY * 4 * 8];
    for (int i = 0; i < INS; i++) {
        bool wrap = t->wrapped && i != 1;
        w->in[i] = vc_buffer(k, i == 1 ? NULL : "in", wrap ? vc_array_type(k, t->in[i], ELEMENTS) : t->in[i], VC_READ);
        if (wrap) w->in[i] = wrap_array(k, w->in[i]);
    }
    for (int i = 0; i < ALL_OUTS; i++) {
        if (!t->used[i]) continue;
        w->out[i] = vc_buffer(k, i == 1 ? "float" : "out", t->wrapped ? vc_array_type(k, t->out[i], ELEMENTS)
                              : t->out[i], VC_READ_WRITE);
        if (t->wrapped) w->out[i] = wrap_array(k, w->out[i]);
    }
    for (int i = 0; i < PARAMS; i++) {
        w->param[i] = vc_param(k, "a b;", t->wrapped ? vc_array_type(k, t->param[i], 1) : t->param[i]);
        if (t->wrapped) w->param[i] = vc_part(w->param[i], 0);
    }
    unsigned rows = rows_of(t->table_type);
    for (size_t i = 0; i < ARRAY * rows; i++) put_bits(kind_of(t->table_type), data, i, t->table[i / rows][i % rows]);
    w->table = vc_table(k, "table", t->wrapped ? vc_array_type(k, t->table_type, ARRAY) : t->table_type, data,
                        t->wrapped ? 1 : ARRAY);
    if (t->wrapped) w->table = wrap_array(k, w->table);
    if (t->each) {
        if (t->axes == 1) VC_EACH(k, i) { w->own = i; write_block(w, 0); }
        if (t->axes == 2) VC_EACH2(k, i, j) { w->own = vc_add(i, j); write_block(w, 0); }
        if (t->axes == 3) VC_EACH3(k, i, j, l) { w->own = vc_add(i, vc_add(j, l)); write_block(w, 0); }
        return;
    }
    w->shared = vc_shared(k, "shared", t->wrapped ? vc_array_type(k, t->shared, t->local) : t->shared,
                          t->wrapped ? 1 : t->local);
    if (t->wrapped) w->shared = wrap_array(k, w->shared);
    w->own = vc_global_id(k, 0);
    write_block(w, 0);
}

/* ---- misuse ---- */

static vc_val junk(Writer *w) {
    uint64_t r = random_next(&w->spoil);
    vc_val v = { 0, 0 };
    switch (r % 8) {
    case 0: return v;
    case 1: v.owner = (uintptr_t)(r >> 8 & 1023); v.bits = r >> 20; return v;
    case 2: v.owner = (uintptr_t)w->k; v.bits = r >> 40; return v;
    case 3: return vc_f32(1.5f);
    case 4: return vc_imm((vc_type)(r >> 8 & 511), r >> 20);
    case 5: return w->own;
    default: return w->value[(r >> 8) % (uint64_t)w->t->nodes];
    }
}

static vc_ref junk_ref(Writer *w) {
    uint64_t r = random_next(&w->spoil);
    vc_ref none;
    memset(&none, 0, sizeof none);
    switch (r % 6) {
    case 0: return none;
    case 1: return w->in[0];
    case 2: return vc_offset(w->out[0], vc_i64((int64_t)(r * 77)));
    case 3: none.kernel = w->k; none.memory = (uint32_t)(r >> 8 & 4095); none.type = VC_F32; return none;
    case 4: return w->table;
    default: return w->memory[(r >> 8) % (uint64_t)w->t->nodes];
    }
}

static void spoil_declaration(Writer *w, unsigned r) {
    static const char *const names[] = {
        "", "int main(){}\"*/", "a\nb\xff", "gl_Position",
        "a_name_that_is_longer_than_any_name_should_be_and_goes_on_for_a_while_and_a_while_more"
    };
    vc_type type = (vc_type)(random_next(&w->spoil) % 600);
    const char *name = names[r % 5];
    switch (r / 5 % 7) {
    case 0: (void)vc_buffer(w->k, name, type, r % 9); break;
    case 1: (void)vc_param(w->k, name, type); break;
    case 2: (void)vc_array(w->k, name, type, r % 3 == 0 ? 0xffffffffu : r % 100); break;
    case 3: (void)vc_shared(w->k, name, type, r % 3 == 0 ? 0x40000000u : r % 100); break;
    case 4: (void)vc_table(w->k, name, type, r % 2 ? NULL : (const void *)w->t->table, r % 3 == 0 ? 0 : 4); break;
    case 5: (void)vc_var(w->k, name, type); break;
    default: for (int i = 0; i < 70; i++) (void)vc_buffer(w->k, "many", VC_F32, VC_READ); break;
    }
}

static void spoil_atomic(Writer *w, unsigned r, vc_ref ref, vc_val a, vc_val b, vc_val c) {
    ref = r % 3 ? ref : vc_ordered(ref, (vc_order)(r / 3 % 5), (vc_scope)(r / 15 % 6));
    switch (r / 7 % 4) {
    case 0: write_accumulation(ref, a, b, (vc_combine)(VC_ADD + r / 5 % 7)); break;
    case 1: vc_atomic_compare_exchange(ref, a, b, c, &w->own); break;
    case 2: vc_atomic_load(ref, a, &w->own); vc_atomic_store(ref, a, b); break;
    default: vc_atomic_exchange(ref, a, b, NULL); vc_fence(w->k, (vc_scope)(r % 6), r / 6 % 5); break;
    }
}

static void spoil_together(Writer *w, unsigned r, vc_val a, vc_val b) {
    vc_combine op = (vc_combine)(r % 10);
    switch (r / 10 % 5) {
    case 0: vc_group_reduce(w->k, op, a, r & 1 ? NULL : &b); break;
    case 1: vc_group_broadcast(w->k, a, b, &w->own); break;
    case 2: (void)vc_subgroup_reduce(op, a); (void)vc_subgroup_inclusive(op, b); break;
    case 3: (void)vc_subgroup_clustered(op, a, r / 50 % 40); (void)vc_subgroup_ballot(b); break;
    default: (void)vc_subgroup_shuffle(a, b); (void)vc_subgroup_broadcast(b, a); break;
    }
}

static void spoil(Writer *w) {
    vc_kernel *k = w->k;
    unsigned r = (unsigned)(random_next(&w->spoil) >> 40);
    const Op *op = &ops[r % O_COUNT];
    vc_val a = junk(w), b = junk(w), c = junk(w);
    vc_ref ref = junk_ref(w);
    switch (r / 64 % 18) {
    case 0: (void)(op->f1 ? op->f1(a) : op->f2 ? op->f2(a, b) : op->f3(a, b, c)); break;
    case 1: vc_store(ref, a, b); break;
    case 2: (void)vc_load(ref, a); break;
    case 3: vc_set(ref, a); vc_set(w->out[1], vc_get(ref)); break;
    case 4: vc_break_if(k, a); vc_continue_if(k, b); vc_return_if(k, c); break;
    case 5: (void)vc_block_end(k); break;
    case 6: (void)vc_if_begin(k, a); break;
    case 7: (void)vc_else_begin(k); break;
    case 8: (void)vc_case_begin(k, (int64_t)r); (void)vc_default_begin(k); break;
    case 9: (void)vc_for_begin(k, a, b, c); break;
    case 10:
        (void)vc_swizzle(a, r % 2 ? "xyzwx" : "rgq");
        (void)vc_component(a, r % 9);
        (void)vc_insert(a, r % 7, b);
        break;
    case 11: (void)vc_cast((vc_type)(r % 700), a); (void)vc_bitcast((vc_type)(r % 300), b); break;
    case 12: vc_barrier(k); (void)vc_shape(ref, r % 6); (void)vc_length(ref); break;
    case 13: (void)vc_global_id(k, r % 5); (void)vc_each_begin(k, r % 5, r % 3); break;
    case 14: spoil_declaration(w, r); break;
    case 15: spoil_atomic(w, r, ref, a, b, c); break;
    case 16: spoil_together(w, r, a, b); break;
    default:
        (void)vc_select(a, b, c);
        (void)vc_load_or(ref, a, b, c);
        (void)vc_vec3(a, b, c);
        (void)vc_splat(a, r % 9);
        (void)vc_dot(a, b);
        break;
    }
}

/* ---- the interpreter ---- */

typedef struct Value {
    uint64_t b[4];
    double off[4]; /* tolerance for floats */
    bool loose, near;
} Value;
static bool vague(const Value *v) { return v->loose || v->near; }
static void take(Value *r, unsigned i, const Value *from, unsigned j) {
    r->b[i] = from->b[j];
    r->off[i] = from->off[j];
    r->near |= from->off[j] > 0;
}

/* One component of a function that may be inexact: the range of results that is allowed on every target. */
static void near_to(Value *r, unsigned i, unsigned kind, const Wanted *w, bool defined) {
    long double off = w->slack + (w->slack > 0 ? unit_of(kind, w->real) : 0), size = fabsl(w->real);
    long double least = ldexpl(1, lowest_of(kind)), most = ldexpl(2 - ldexpl(1, -mantissa_of(kind)),
                                                                  1 - lowest_of(kind));
    r->b[i] = bits_of(kind, (double)w->real);
    if (!defined) { r->loose = true; return; }
    if (isnan(w->real) || isinf(w->real)) return;
    r->loose |= size + off >= most || (size - off < least && (size > 0 || off > 0));
    r->off[i] = (double)off;
    r->near |= off > 0;
}

static void inexact(Value *r, unsigned i, OpName op, unsigned kind, const double *x) {
    Wanted w = { 0, 0, 0 }, other = { 0, 0, 0 };
    bool defined = true;
    for (int target = 0; target < 2; target++) {
        is_opencl = target != 0;
        defined = want_float(op, kind, x, 0, target ? &other : &w) && defined;
    }
    if (other.slack > w.slack) w.slack = other.slack;
    if (defined && want_float(op, kind, x, 1, &other))
        defined = other.real == w.real || (isnan(other.real) && isnan(w.real));
    near_to(r, i, kind, &w, defined);
}
typedef struct Invocation {
    Value value[MAX_NODES], own[ALL_OUTS];
    uint32_t id, local;
    bool gone;
} Invocation;
typedef struct Host {
    const Tree *t;
    Invocation *all;           /* all invocations of one workgroup */
    Value shared[64], sums[ELEMENTS];
    Value cells[64][MAX_NODES][ARRAY]; /* variables and arrays by invocation and node */
    bool lost;                 /* an inexact value decided a branch: the result is unknown */
} Host;

static bool asked(OpName op, double a, double b) {
    switch (op) {
    case O_isnan: return isnan(a);
    case O_isinf: return isinf(a);
    case O_eq: return a == b;
    case O_ne: return a != b;
    case O_lt: return a < b;
    case O_le: return a <= b;
    case O_gt: return a > b;
    default: return a >= b;
    }
}

/* Whether x * y may be NaN or 0: llvmpipe replaces it by 0 if it knows that one factor is 0. */
static bool overlooked(double x, double y) {
    return (x == 0 && !(fabs(y) < (double)INFINITY)) || (y == 0 && !(fabs(x) < (double)INFINITY));
}

static Value operation(const Op *op, vc_type type, vc_type result, const Value *const v[3], const vc_type *types) {
    Value r;
    unsigned kind = kind_of(type);
    memset(&r, 0, sizeof r);
    for (unsigned i = 0; i < rows_of(type); i++) {
        uint64_t x[3] = { 0, 0, 0 };
        double f[3] = { 0, 0, 0 };
        for (int j = 0; j < op->arity; j++) {
            x[j] = v[j]->b[rows_of(types[j]) == 1 ? 0 : i];
            r.loose |= vague(v[j]);
            if (is_float(kind)) { f[j] = real_of(kind, x[j]); r.loose |= is_subnormal(kind, f[j]); }
        }
        if (!is_float(kind)) r.b[i] = narrow(kind_of(result), want_int(op->id, kind, x[0], x[1], x[2]));
        else if (op->result == B) r.b[i] = asked(op->id, f[0], f[1]);
        else if (!exact_on_floats(op->id)) inexact(&r, i, op->id, kind, f);
        else {
            double once = step_by_step(op->id, kind, f, 0), twice = step_by_step(op->id, kind, f, 1);
            r.b[i] = bits_of(kind, once);
            r.loose |= is_subnormal(kind, once) || (once != twice && !(isnan(once) && isnan(twice)));
            r.loose |= (op->id == O_mul || op->id == O_fma) && overlooked(f[0], f[1]);
        }
    }
    return r;
}

static Value converted(const Value *v, vc_type from, vc_type to, bool bits) {
    Value r;
    unsigned a = kind_of(from), b = kind_of(to);
    memset(&r, 0, sizeof r);
    r.loose = vague(v);
    for (unsigned i = 0; i < rows_of(to); i++) {
        uint64_t x = v->b[rows_of(from) == 1 ? 0 : i];
        double f = is_float(a) ? real_of(a, x) : 1;
        r.b[i] = bits ? x : cast_bits(a, b, x);
        r.loose |= is_subnormal(a == VC_F16 || a == VC_F32 ? a : (unsigned)VC_F64, f) || (bits && (isnan(f) || f == 0));
        if (is_float(b)) r.loose |= is_subnormal(b, real_of(b, r.b[i]));
        if (bits && is_float(b) && isnan(real_of(b, r.b[i]))) r.loose = true;
    }
    return r;
}

static Value from_memory(vc_type type, const uint8_t *data, size_t element) {
    Value r;
    memset(&r, 0, sizeof r);
    for (unsigned i = 0; i < rows_of(type); i++) r.b[i] = get_bits(kind_of(type), data, element * rows_of(type) + i);
    return r;
}

static Value structure(Host *h, Invocation *at, const Node *n) { /* vectors: constructors, components, swizzles */
    const Value *v = at->value;
    int part[4];
    vc_type from = n->a == NOTHING ? n->type : h->t->node[n->a].type;
    unsigned rows = rows_of(n->type), i, any = 0, all = 1;
    Value r;
    memset(&r, 0, sizeof r);
    part[0] = n->a; part[1] = n->b; part[2] = n->c; part[3] = n->d;
    for (i = 0; i < 4; i++) if (part[i] != NOTHING) r.loose |= v[part[i]].loose;
    for (i = 0; i < rows; i++) {
        int pick = n->b;
        switch (n->what) {
        case W_VECTOR: take(&r, i, &v[part[i]], 0); break;
        case W_SPLAT: take(&r, i, &v[n->a], 0); break;
        case W_INSERT: if (i == (unsigned)n->index) take(&r, i, &v[n->b], 0); else take(&r, i, &v[n->a], i); break;
        case W_SWIZZLE: take(&r, i, &v[n->a], ((unsigned)n->index >> (2 * i) & 3) % rows_of(from)); break;
        case W_COMPONENT: take(&r, i, &v[n->a], (unsigned)n->index); break;
        case W_EXTRACT: take(&r, i, &v[n->a], v[n->b].b[0] < rows_of(from) ? (unsigned)v[n->b].b[0] : 0); break;
        case W_SELECT:
            if (!v[n->a].b[rows_of(from) == 1 ? 0 : i]) pick = n->c;
            take(&r, i, &v[pick], rows_of(h->t->node[pick].type) == 1 ? 0 : i);
            break;
        default: break;
        }
    }
    for (i = 0; i < rows_of(from); i++) { any |= v[n->a].b[i] != 0; all &= v[n->a].b[i] != 0; }
    if (n->what == W_ANY || n->what == W_ALL) r.b[0] = n->what == W_ANY ? any : all;
    for (i = 0; n->what == W_DOT && i < rows_of(from); i++)
        r.b[0] = narrow(kind_of(n->type), r.b[0] + v[n->a].b[i] * v[n->b].b[i]);
    return r;
}

static void normed(Value *r, unsigned i, Packed id, uint64_t a) {
    unsigned bits = id == P_unpack_snorm4x8 || id == P_unpack_unorm4x8 ? 8 : 16;
    bool s = id == P_unpack_snorm4x8 || id == P_unpack_snorm2x16;
    int32_t x = (int32_t)(a >> bits * i & ((1u << bits) - 1));
    Wanted w = { 0, 0, 0 };
    if (s && x >> (bits - 1)) x -= 1 << bits;
    w.real = (long double)x / ((1 << (s ? bits - 1 : bits)) - 1);
    if (w.real < -1) w.real = -1;
    w.slack = w.real == 0 || fabsl(w.real) == 1 ? 0 : 1.3L * unit_of(VC_F32, w.real);
    near_to(r, i, VC_F32, &w, true);
}

static Value called(const Node *n, const Value *a, const Value *b, const Value *c) {
    static const uint64_t none[4] = { 0, 0, 0, 0 };
    const struct Packing *p = &packings[n->index];
    unsigned kind = kind_of(p->out), bits;
    Value r;
    memset(&r, 0, sizeof r);
    r.loose = vague(a) || (b && vague(b)) || (c && vague(c)) || p->id == P_normal;
    /* inexact if NaN payloads or rounding are visible, or if values may be flushed */
    for (unsigned i = 0; i < rows_of(p->a) && is_float(kind_of(p->a)); i++) {
        double x = real_of(kind_of(p->a), a->b[i]);
        r.loose |= is_subnormal(kind_of(p->a), x) || ((p->id == P_pack_half2 || p->id == P_unpack_2x32)
                                                      && (isnan(x) || is_subnormal(VC_F16, x)));
        r.loose |= p->id == P_unpack_2x32 && x == 0;
    }
    for (unsigned i = 0; i < rows_of(p->out); i++) {
        if (p->id == P_unpack_half2) r.b[i] = bits_of(VC_F32, half_value((uint16_t)(a->b[0] >> 16 * i)));
        else if (p->id == P_round_f16) r.b[i] = bits_of(VC_F32, half_value(half_bits(real_of(VC_F32, a->b[i]))));
        else if (p->id == P_uniform) {
            bits = (unsigned)mantissa_of(kind) < kind_width(kind_of(p->a)) ? (unsigned)mantissa_of(kind)
                : kind_width(kind_of(p->a));
            r.b[i] = bits_of(kind, ldexp((double)(a->b[i] >> (kind_width(kind_of(p->a)) - bits)), -(int)bits));
        } else if (p->id >= P_unpack_snorm4x8 && p->id <= P_unpack_unorm2x16) normed(&r, i, p->id, a->b[0]);
        else r.b[i] = narrow(kind, want_word(p, a->b, b ? b->b : none, c ? c->b : none, i));
        if (p->id == P_unpack_half2 || p->id == P_round_f16) r.loose |= is_subnormal(VC_F16, real_of(VC_F32, r.b[i]));
        if (is_float(kind)) r.loose |= is_subnormal(kind, real_of(kind, r.b[i]));
        if (p->id == P_pack_2x32 && is_float(kind)) r.loose |= isnan(real_of(kind, r.b[i]));
    }
    return r;
}

/* a * b + c with one rounding; inexact if two roundings differ */
static double fused(unsigned kind, double a, double b, double c, bool *loose) {
    double x[3], once, twice;
    x[0] = a; x[1] = b; x[2] = c;
    once = step_by_step(O_fma, kind, x, 0);
    twice = step_by_step(O_fma, kind, x, 1);
    *loose |= is_subnormal(kind, once) || is_subnormal(kind, twice) || is_subnormal(kind, rounded(kind, a * b));
    *loose |= once != twice && !(isnan(once) && isnan(twice));
    return once;
}

/* Functions of complex numbers whose squares do not overflow or underflow. The tolerance is relative to the absolute
   value. */
static void composed_near(Value *r, int which, unsigned kind, const double *x, const double *y) {
    long double a = x[0], b = x[1], c = y[0], d = y[1], size, off, unit, turn, squares = c * c + d * d;
    bool tame = which == C_POLAR || which == C_EXP, defined = true;
    Wanted w[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
    for (int i = 0; i < (which == C_DIV || which == M_DETERMINANT ? 4 : 2); i++) {
        long double of = fabsl((long double)(i < 2 ? x[i] : which == C_DIV ? y[i - 2] : x[i]));
        defined = defined && of < (tame ? 3.1L : 1e6L) && (of == 0 || of > 1e-6L); /* false for NaN */
    }
    if (which == C_DIV) {
        defined = defined && squares > 0;
        w[0].real = (a * c + b * d) / squares;
        w[1].real = (b * c - a * d) / squares;
    }
    if (which == C_ABS) w[0].real = sqrtl(a * a + b * b);
    if (which == C_ARG) w[0].real = atan2l(b, a);
    if (which == C_POLAR) { w[0].real = a * cosl(b); w[1].real = a * sinl(b); }
    if (which == C_EXP) { w[0].real = expl(a) * cosl(b); w[1].real = expl(a) * sinl(b); }
    if (which == C_LOG) {
        defined = defined && a * a + b * b > 0;
        w[0].real = logl(a * a + b * b) / 2;
        w[1].real = atan2l(b, a);
    }
    if (which == M_DETERMINANT) w[0].real = a * (long double)x[3] - b * (long double)x[2];
    size = sqrtl(w[0].real * w[0].real + w[1].real * w[1].real);
    unit = unit_of(kind, size);
    turn = kind == VC_F64 ? 2 * unit : size * ldexpl(1, -10);
    off = which == C_ARG ? (kind == VC_F32 ? 4096 : 5) * unit : which == C_LOG
        ? (kind == VC_F32 ? 4096 * unit + ldexpl(1, -19) : 8 * unit + ldexpl(1, -51))
        : which == C_EXP ? turn + size * fabsl(a) * (kind == VC_F64 ? 0 : ldexpl(4, -mantissa_of(kind))) + 8 * unit
            : which == C_POLAR ? turn + 2 * unit
        : which == M_DETERMINANT ? 2 * unit_of(kind, fabsl(a * (long double)x[3]) + fabsl(b * (long double)x[2]))
            : 8 * unit;
    off += 2 * ldexpl(1, lowest_of(kind));
    for (unsigned i = 0; i < composite_rows[which].out; i++) {
        bool before = r->loose;
        w[i].slack = off;
        near_to(r, i, kind, &w[i], defined);
        if (defined && fabsl(w[i].real) <= off) r->loose = before; /* values near 0 may be flushed: within the bounds */
    }
}

static Value composed(const Node *n, vc_type type, const Value *a, const Value *b) {
    unsigned kind = kind_of(type), rows = rows_of(type);
    double x[4] = { 0, 0, 0, 0 }, y[4] = { 0, 0, 0, 0 }, z[4] = { 0, 0, 0, 0 }, p;
    Value r;
    memset(&r, 0, sizeof r);
    r.loose = vague(a) || (b && vague(b)) || n->index == C_SQRT || n->index == C_POW || n->index == M_INVERSE;
    for (unsigned i = 0; i < rows; i++) {
        x[i] = real_of(kind, a->b[i]);
        if (b && i < composite_rows[n->index].b) y[i] = real_of(kind, b->b[i]);
        r.loose |= is_subnormal(kind, x[i]) || is_subnormal(kind, y[i]);
        for (unsigned j = 0; j <= i && b; j++) r.loose |= overlooked(x[i], y[j]) || overlooked(x[j], y[i]);
    }
    switch (n->index) {
    case C_EQ: r.b[0] = x[0] == y[0] && x[1] == y[1]; return r;
    /* only validity is tested here; the tests of composite values check results */
    case C_SQRT: case C_POW: case M_INVERSE: return r;
    case C_DIV: case C_ABS: case C_ARG: case C_POLAR: case C_EXP: case C_LOG: case M_DETERMINANT:
        composed_near(&r, n->index, kind, x, y);
        return r;
    case C_NEG: z[0] = -x[0]; z[1] = -x[1]; break;
    case C_ADD: case M_ADD: for (unsigned i = 0; i < rows; i++) z[i] = rounded(kind, x[i] + y[i]); break;
    case C_SUB: for (unsigned i = 0; i < rows; i++) z[i] = rounded(kind, x[i] - y[i]); break;
    case C_CONJ: z[0] = x[0]; z[1] = -x[1]; break;
    case C_MUL_REAL: z[0] = rounded(kind, x[0] * y[0]); z[1] = rounded(kind, x[1] * y[0]); break;
    case C_MUL:
        p = rounded(kind, x[1] * y[1]);
        r.loose |= is_subnormal(kind, p) || is_subnormal(kind, rounded(kind, x[1] * y[0]));
        z[0] = fused(kind, x[0], y[0], -p, &r.loose);
        z[1] = fused(kind, x[0], y[1], rounded(kind, x[1] * y[0]), &r.loose);
        break;
    case M_COLUMN: z[0] = x[2]; z[1] = x[3]; break;
    case M_TRANSPOSE: z[0] = x[0]; z[1] = x[2]; z[2] = x[1]; z[3] = x[3]; break;
    case M_OUTER: for (unsigned i = 0; i < 4; i++) z[i] = rounded(kind, x[i & 1] * y[i >> 1]); break;
    default: /* M_MUL, M_MUL_VECTOR */
        for (unsigned i = 0; i < rows_of(n->type); i++) {
            p = rounded(kind, x[i & 1] * y[i & 2]);
            r.loose |= is_subnormal(kind, p);
            z[i] = fused(kind, x[2 + (i & 1)], y[(i & 2) + 1], p, &r.loose);
        }
        break;
    }
    for (unsigned i = 0; i < rows_of(n->type); i++) {
        r.b[i] = bits_of(kind, z[i]);
        r.loose |= is_subnormal(kind, z[i]);
    }
    return r;
}

/* For scalars of one kind with operations that are independent of the order. */
static Value together(vc_combine op, unsigned kind, const Value *a, const Value *b) {
    Value r;
    bool below = is_signed(kind) ? widen(kind, a->b[0]) < widen(kind, b->b[0]) : a->b[0] < b->b[0];
    memset(&r, 0, sizeof r);
    r.loose = vague(a) || vague(b);
    if (is_float(kind)) {
        double x = real_of(kind, a->b[0]), y = real_of(kind, b->b[0]);
        r.loose |= is_subnormal(kind, x) || is_subnormal(kind, y);
        r.b[0] = bits_of(kind, op == VC_MIN ? fmin(x, y) : fmax(x, y));
        return r;
    }
    switch (op) {
    case VC_ADD: r.b[0] = a->b[0] + b->b[0]; break;
    case VC_MUL: r.b[0] = a->b[0] * b->b[0]; break;
    case VC_MIN: r.b[0] = below ? a->b[0] : b->b[0]; break;
    case VC_MAX: r.b[0] = below ? b->b[0] : a->b[0]; break;
    case VC_AND: r.b[0] = a->b[0] & b->b[0]; break;
    case VC_OR: r.b[0] = a->b[0] | b->b[0]; break;
    default: r.b[0] = a->b[0] ^ b->b[0]; break;
    }
    r.b[0] = narrow(kind, r.b[0]);
    return r;
}

static uint64_t neutral(vc_combine op, unsigned kind) {
    uint64_t top = UINT64_C(1) << (kind_width(kind) - 1);
    if (kind == VC_BOOL) return op == VC_AND;
    switch (op) {
    case VC_MUL: return 1;
    case VC_MIN:
        return is_float(kind) ? bits_of(kind, (double)INFINITY) : is_signed(kind)
            ? top - 1 : narrow(kind, ~UINT64_C(0));
    case VC_MAX: return is_float(kind) ? bits_of(kind, -(double)INFINITY) : is_signed(kind) ? top : 0;
    case VC_AND: return narrow(kind, ~UINT64_C(0));
    default: return 0;
    }
}

/* Nodes that the whole workgroup executes together. */
static void run_group(Host *h, int id) {
    const Node *n = &h->t->node[id];
    unsigned kind = kind_of(n->type);
    Value sum;
    memset(&sum, 0, sizeof sum);
    sum.b[0] = neutral(n->combine, kind);
    for (uint32_t i = 0; i < h->t->local && n->index != G_BROADCAST; i++) {
        const Value *v = &h->all[i].value[n->a];
        Value before = sum, *to = &h->all[i].value[id];
        sum = together(n->combine, kind, &sum, v);
        if (is_float(kind)) sum.loose |= isnan(real_of(kind, v->b[0]));
        *to = n->index == G_EXCLUSIVE ? before : sum;
    }
    if (n->index == G_BROADCAST) sum = h->all[n->step].value[n->a];
    if (n->index != G_INCLUSIVE && n->index != G_EXCLUSIVE)
        for (uint32_t i = 0; i < h->t->local; i++) h->all[i].value[id] = sum;
}

static Value cell(const Node *n, Value *at, const Value *a, const Value *b) { /* returns the old value */
    unsigned kind = kind_of(n->type);
    double x = 0, y = 0, z = 0;
    Value was = *at;
    bool bits = n->index == A_COMPARE;
    if (is_float(kind)) {
        x = real_of(kind, at->b[0]);
        y = real_of(kind, a->b[0]);
        if (is_subnormal(kind, y) || (b && is_subnormal(kind, real_of(kind, b->b[0])))) was.loose = true;
        if (bits && (isnan(x) || isnan(y) || x == 0 || y == 0)) was.loose = true;
        z = n->index == A_ADD ? rounded(kind, x + y) : n->index == A_SUB ? rounded(kind, x - y) : n->index == A_MIN
            ? fmin(x, y) : fmax(x, y);
    }
    switch (n->index) {
    case A_LOAD: return *at;
    case A_EXCHANGE: *at = *a; return was;
    case A_STORE: *at = *a; return *a;
    case A_COMPARE: if (at->b[0] == a->b[0]) at->b[0] = b->b[0]; break;
    case A_ADD: case A_SUB:
        at->b[0] = is_float(kind) ? bits_of(kind, z) : narrow(kind, n->index == A_ADD ? at->b[0] + a->b[0] : at->b[0]
                                                              - a->b[0]);
        break;
    case A_AND: at->b[0] &= a->b[0]; break;
    case A_OR: at->b[0] |= a->b[0]; break;
    case A_XOR: at->b[0] ^= a->b[0]; break;
    default: *at = together(n->index == A_MIN ? VC_MIN : VC_MAX, kind, at, a); break;
    }
    at->loose |= vague(&was) || vague(a) || (b && vague(b)) || (is_float(kind) && is_subnormal(kind, z));
    at->near = false;
    memset(at->off, 0, sizeof at->off);
    return was;
}

static uint64_t inserted(unsigned kind, uint64_t a, uint64_t b, uint64_t at, uint64_t count) {
    unsigned width = kind_width(kind);
    uint64_t mask;
    at &= width - 1;
    if (count > width - at) count = width - at;
    mask = (count < 64 ? (UINT64_C(1) << count) - 1 : ~UINT64_C(0)) << at;
    return (a & ~mask) | (b << at & mask);
}

/* one component of operations with up to four operands */
static void more_of(const Node *n, unsigned kind, unsigned from, const uint64_t *bits, double x, Value *r, unsigned i) {
    int64_t by = is_signed(from) ? widen(from, bits[1]) : bits[1] > 5000 ? 5000 : (int64_t)bits[1];
    Wanted w = { 0, 0, 0 };
    int exponent = 0;
    switch (n->index) {
    case X_CAST_SAT:
        if (is_float(kind) || kind == VC_BOOL || is_float(kind_of(n->type)) || n->type % 16 == VC_BOOL)
            r->b[i] = cast_bits(kind, kind_of(n->type), bits[0]);
        else r->b[i] = saturated(kind, kind_of(n->type), bits[0]);
        return;
    case X_BIT_INSERT: r->b[i] = inserted(kind, bits[0], bits[1], bits[2], bits[3]); return;
    case X_LDEXP: w.real = ldexpl((long double)x, (int)(by > 5000 ? 5000 : by < -5000 ? -5000 : by)); break;
    default:
        w.real = isnan(x) || isinf(x) ? (long double)x : (long double)frexp(x, &exponent);
        if (n->index == X_EXPONENT) { r->b[i] = (uint32_t)exponent; return; }
        break;
    }
    r->b[i] = bits_of(kind, (double)w.real);
    r->loose |= w.real != 0 && fabsl(w.real) < ldexpl(1, lowest_of(kind));
}

static Value more(const Tree *t, const Node *n, const Value *value) {
    const int part[4] = { n->a, n->b, n->c, n->d };
    unsigned kind = kind_of(t->node[n->a].type), rows = rows_of(t->node[n->a].type);
    unsigned from = n->b == NOTHING ? kind : kind_of(t->node[n->b].type);
    double x[4][4] = { { 0 } };
    uint64_t bits[4][4] = { { 0 } };
    Wanted w = { 0, 0, 0 };
    Value r;
    memset(&r, 0, sizeof r);
    for (int j = 0; j < 4; j++) {
        if (part[j] == NOTHING) continue;
        unsigned of = kind_of(t->node[part[j]].type);
        r.loose |= vague(&value[part[j]]);
        for (unsigned i = 0; i < rows; i++) {
            bits[i][j] = value[part[j]].b[rows_of(t->node[part[j]].type) == 1 ? 0 : i];
            if (!is_float(of)) continue;
            x[j][i] = real_of(of, bits[i][j]);
            r.loose |= is_subnormal(of, x[j][i]);
        }
    }
    if (n->index < X_DOT) for (unsigned i = 0; i < rows; i++) more_of(n, kind, from, bits[i], x[0][i], &r, i);
    else if (n->index == X_DOT) {
        bool defined = want_sum(kind, rows, x[0], x[1], &w);
        near_to(&r, 0, kind, &w, defined);
        for (unsigned i = 0; i < rows; i++) r.loose |= overlooked(x[0][i], x[1][i]);
    } else for (unsigned i = 0; i < rows_of(n->type); i++) {
        bool defined = want_geometry((Geometry)(n->index - X_NORM), kind, rows, x, i, &w);
        near_to(&r, i, kind, &w, defined);
    }
    return r;
}

static Value place(const Host *h, const Invocation *at, int which) { /* of axis which / 8 */
    Value r;
    uint32_t local = h->t->local, groups = (ELEMENTS + local - 1) / local;
    const uint32_t p[8] = { at->id, at->local, at->id / local, at->local, local, groups, ELEMENTS, ELEMENTS };
    memset(&r, 0, sizeof r);
    r.b[0] = which < 8 ? p[which] : which % 8 == 3 ? at->local : which % 8 > 3 ? 1u : 0u;
    if (which == 15) r.b[0] = ELEMENTS; /* the shape of input 1, which is not wrapped */
    return r;
}

static Value evaluate(Host *h, Invocation *at, int id) {
    const Tree *t = h->t;
    const Node *n = &t->node[id];
    const Value *a = n->a == NOTHING ? NULL : &at->value[n->a];
    const Value *b = n->b == NOTHING ? NULL : &at->value[n->b];
    const Value *c = n->c == NOTHING ? NULL : &at->value[n->c];
    Value r;
    memset(&r, 0, sizeof r);
    switch (n->what) {
    case W_OP: {
        const Value *list[3];
        vc_type types[3];
        list[0] = a; list[1] = b; list[2] = c;
        types[0] = t->node[n->a].type; types[1] = b ? t->node[n->b].type : 0; types[2] = c ? t->node[n->c].type : 0;
        return operation(n->op, types[0], n->type, list, types);
    }
    case W_IMMEDIATE: case W_CONST: r.b[0] = n->bits[0]; return r;
    case W_CAST: return converted(a, t->node[n->a].type, n->type, false);
    case W_BITCAST: return converted(a, t->node[n->a].type, n->type, true);
    case W_CALL: return called(n, a, b, c);
    case W_COMPOSITE: return composed(n, t->node[n->a].type, a, b);
    case W_MORE: return more(t, n, at->value);
    case W_ATOMIC_CELL: return cell(n, &at->own[CELLS], a, b);
    case W_LANES: return *a;
    case W_LOAD: r = from_memory(n->type, input_data[n->type][n->index], a->b[0]); r.loose = vague(a); return r;
    case W_LOAD_OR:
        r = b->b[0] ? from_memory(n->type, input_data[n->type][n->index], a->b[0]) : *c;
        r.loose |= a->loose || b->loose;
        return r;
    case W_TABLE: memcpy(r.b, t->table[a->b[0]], sizeof r.b); r.loose = a->loose; return r;
    case W_PARAM: memcpy(r.b, t->param_bits[n->index], sizeof r.b); return r;
    case W_PLACE: return place(h, at, n->index);
    case W_OWN: return at->own[n->index];
    case W_GET: return h->cells[at->local][n->a][0];
    case W_ARRAY_LOAD: r = h->cells[at->local][n->a][b->b[0]]; r.loose |= b->loose; return r;
    case W_SHARED_LOAD: r = h->shared[a->b[0]]; r.loose |= a->loose; return r;
    default: return structure(h, at, n);
    }
}

typedef enum Way { ON, BREAK, CONTINUE } Way;
static Way run_block(Host *h, Invocation *at, int block);

static bool decide(Host *h, const Invocation *at, int id) {
    if (vague(&at->value[id])) h->lost = true;
    return at->value[id].b[0] != 0;
}

static bool counts_on(unsigned kind, uint64_t a, uint64_t b, int64_t step) {
    bool below = is_signed(kind) ? widen(kind, a) < widen(kind, b) : a < b;
    return step > 0 ? below : step < 0 && !below && a != b;
}

static Way run_for(Host *h, Invocation *at, const Node *n) {
    unsigned kind = kind_of(h->t->node[n->a].type);
    uint64_t i = at->value[n->a].b[0], limit = at->value[n->b].b[0];
    if (at->value[n->a].loose || at->value[n->b].loose) h->lost = true;
    while (counts_on(kind, i, limit, n->step) && !at->gone) {
        Value *counter = &at->value[h->t->first[n->body]];
        memset(counter, 0, sizeof *counter);
        counter->b[0] = i;
        if (run_block(h, at, n->body) == BREAK) break;
        uint64_t next = narrow(kind, i + (uint64_t)n->step);
        if (counts_on(kind, next, i, n->step)) break; /* beyond the last number of its type */
        i = next;
    }
    return ON;
}

static Way run_flow(Host *h, Invocation *at, const Node *n) {
    if (n->what == W_FOR) return run_for(h, at, n);
    if (n->what == W_IF)
        return decide(h, at, n->a) ? run_block(h, at, n->body) : n->other != NOTHING ? run_block(h, at, n->other) : ON;
    if (n->what == W_LOOP) {
        for (int i = 0; i < 5 && !at->gone; i++) if (run_block(h, at, n->body) == BREAK) break;
        return ON;
    }
    unsigned kind = kind_of(h->t->node[n->a].type);
    int64_t x = widen(kind, at->value[n->a].b[0]);
    if (at->value[n->a].loose) h->lost = true;
    for (int i = 0; i < n->index; i++) if (x == n->step + i) return run_block(h, at, h->t->case_block[n->other + i]);
    return n->body == NOTHING ? ON : run_block(h, at, n->body);
}

static void accumulate(Host *h, const Invocation *at, const Node *n, Value *to, vc_combine op, vc_type type) {
    if (at->value[n->b].loose) h->lost = true;
    *to = together(op, kind_of(type), to, &at->value[n->a]);
}

static Way run_node(Host *h, Invocation *at, int id) {
    const Node *n = &h->t->node[id];
    Value (*cells)[ARRAY] = h->cells[at->local];
    switch (n->what) {
    case W_COUNTER: case W_BARRIER: case W_SCOPED: case W_FENCE: case W_SAY: case W_ARRAY: break;
    case W_STORE: at->own[n->index] = at->value[n->a]; break;
    case W_VAR: memset(cells[id], 0, sizeof cells[id]); break;
    case W_SET: cells[n->a][0] = at->value[n->b]; break;
    case W_ARRAY_STORE:
        if (at->value[n->b].loose) h->lost = true;
        cells[n->a][at->value[n->b].b[0]] = at->value[n->c];
        break;
    case W_SHARED_STORE: h->shared[at->local] = at->value[n->a]; break;
    case W_ATOMIC_SUM:
        accumulate(h, at, n, &h->sums[n->index * (ELEMENTS / 8) + (int)at->value[n->b].b[0]], sums[n->index],
                   h->t->out[SUMS]);
        break;
    case W_ATOMIC_SHARED: accumulate(h, at, n, &h->shared[at->value[n->b].b[0]], n->combine, h->t->shared); break;
    case W_IF: case W_FOR: case W_LOOP: case W_SWITCH: return run_flow(h, at, n);
    case W_BREAK: return decide(h, at, n->a) ? BREAK : ON;
    case W_CONTINUE: return decide(h, at, n->a) ? CONTINUE : ON;
    case W_RETURN: if (decide(h, at, n->a)) at->gone = true; break;
    default: at->value[id] = evaluate(h, at, id); break;
    }
    return ON;
}

static Way run_block(Host *h, Invocation *at, int block) {
    for (int id = h->t->first[block]; id != NOTHING && !at->gone; id = h->t->node[id].next) {
        Way way = run_node(h, at, id);
        if (way != ON) return way;
    }
    return ON;
}

/* Executes uniform control flow node by node for the whole workgroup, so barriers need no special handling. Only
   loops with constant bounds are uniform. */
static void run_uniform(Host *h, int block) {
    uint32_t local = h->t->local;
    for (int id = h->t->first[block]; id != NOTHING; id = h->t->node[id].next) {
        const Node *n = &h->t->node[id];
        if (n->what == W_GROUP) { run_group(h, id); continue; }
        if (n->what != W_FOR || !n->index) {
            for (uint32_t i = 0; i < local; i++) (void)run_node(h, &h->all[i], id);
            continue;
        }
        unsigned kind = kind_of(h->t->node[n->a].type);
        uint64_t x = h->all[0].value[n->a].b[0], limit = h->all[0].value[n->b].b[0];
        while (counts_on(kind, x, limit, n->step)) {
            for (uint32_t i = 0; i < local; i++) {
                Value *counter = &h->all[i].value[h->t->first[n->body]];
                memset(counter, 0, sizeof *counter);
                counter->b[0] = x;
            }
            run_uniform(h, n->body);
            uint64_t next = narrow(kind, x + (uint64_t)n->step);
            if (counts_on(kind, next, x, n->step)) break;
            x = next;
        }
    }
}

static bool interpret(Host *h, Value (*result)[ELEMENTS]) { /* returns false if the result is unknown */
    const Tree *t = h->t;
    uint32_t group = t->each ? (uint32_t)ELEMENTS : t->local;
    h->lost = false;
    memset(h->sums, 0, sizeof h->sums);
    for (uint32_t first = 0; first < ELEMENTS; first += group) {
        memset(h->all, 0, group * sizeof *h->all);
        for (uint32_t i = 0; i < group; i++) {
            h->all[i].id = first + i;
            h->all[i].local = (first + i) % t->local;
            if (t->each) (void)run_block(h, &h->all[i], 0);
        }
        if (!t->each) run_uniform(h, 0);
        for (uint32_t i = 0; i < group; i++)
            for (int j = 0; j < ALL_OUTS; j++) result[j][first + i] = h->all[i].own[j];
    }
    memcpy(result[SUMS], h->sums, sizeof h->sums);
    return !h->lost;
}

/* ---- running and comparing ---- */

enum { OPENCL = 2, C_EVERY = 10 }; /* texts of C take longest to compile: only one kernel in ten */

typedef struct Run {
    vc_kernel *k;
    Tree tree;
    Writer writer;
    Host host;
    vd_context *ctx[3];        /* by address, by binding, OpenCL */
    bool nvrtc;
    bool hash, print, verbose, check, coverage, all;
    long valid, refused, glsl, runs, unknown, failed, skipped;
} Run;

/* Returns a buffer, which is created once. Roles from INS on are outputs. If the kernel has the memory in an array, the
   buffer has bytes, which match every composite type. */
static vd_buffer buffer_of(Run *r, int form, vc_type type, int role) {
    static vd_buffer made[2][3][64][INS + ALL_OUTS];
    bool bytes = r->tree.wrapped && role != 1; /* see write_tree */
    vd_buffer *b = &made[bytes][form][type][role];
    if (b->id) return *b;
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    if (!bytes) desc.type = (vd_type)type;
    desc.shape[0] = ELEMENTS * (bytes ? vd_type_size(type) : 1u);
    if (role < INS) desc.data = input_data[type][role];
    *b = vd_buffer_create(r->ctx[form], &desc);
    return *b;
}

static bool run_on_device(Run *r, int form, uint8_t (*out)[ELEMENTS * 32]) {
    const Tree *t = &r->tree;
    vd_context *ctx = r->ctx[form];
    vd_arg args[INS + ALL_OUTS + PARAMS];
    uint8_t values[PARAMS][32];
    vd_dispatch_desc d;
    int count = INS;
    vd_kernel made = vd_kernel_build(ctx, r->k);
    if (!made.id) return false;
    vd_list *list = vd_immediate(ctx, 0, 0);
    memset(&d, 0, sizeof d);
    for (int i = 0; i < INS; i++) args[i] = vd_b(buffer_of(r, form, t->in[i], i));
    for (int i = 0; i < ALL_OUTS; i++) {
        if (!t->used[i]) continue;
        vd_buffer to = buffer_of(r, form, t->out[i], INS + i);
        args[count++] = vd_b(to);
        (void)vd_fill(list, to, 0, VD_WHOLE, NULL, 0);
    }
    for (int i = 0; i < PARAMS; i++) {
        for (unsigned j = 0; j < rows_of(t->param[i]); j++)
            put_bits(kind_of(t->param[i]), values[i], j, t->param_bits[i][j]);
        args[count++] = vd_value(t->wrapped ? VD_STRUCT(vd_type_size(t->param[i])) : t->param[i], values[i]);
    }
    d.kernel = made;
    d.threads[0] = ELEMENTS;
    d.args = args;
    d.arg_count = count;
    bool right = vd_dispatch(list, &d) == VD_OK;
    for (int i = 0; i < ALL_OUTS && right; i++)
        if (t->used[i])
            right = vd_buffer_read(ctx, buffer_of(r, form, t->out[i], INS + i), 0, out[i], VD_WHOLE) == VD_OK;
    vd_kernel_destroy(ctx, made);
    return right;
}

static const char *const form_names[3] = { "address", "binding", "opencl" };

static bool same(unsigned kind, uint64_t a, uint64_t b) {
    if (!is_float(kind)) return a == b;
    double x = real_of(kind, a), y = real_of(kind, b);
    return isnan(x) ? isnan(y) : x == y;
}

static bool compare(Run *r, uint64_t seed, int form, Value (*want)[ELEMENTS], uint8_t (*out)[ELEMENTS * 32]) {
    int mismatches = 0;
    for (int i = 0; i < ALL_OUTS; i++)
        for (size_t e = 0; e < ELEMENTS && r->tree.used[i]; e++) {
            vc_type type = r->tree.out[i];
            if (want[i][e].loose) continue;
            for (unsigned j = 0; j < rows_of(type); j++) {
                uint64_t got = get_bits(kind_of(type), out[i], e * rows_of(type) + j);
                if (same(kind_of(type), want[i][e].b[j], got)) continue;
                if (want[i][e].off[j] > 0 && fabs(real_of(kind_of(type), got) - real_of(kind_of(type), want[i][e].b[j]))
                    <= want[i][e].off[j]) continue;
                if (mismatches++ < 2)
                    printf("  seed %llu, %s: out %d[%zu].%u of %s is %llx, wanted %llx\n", (unsigned long long)seed,
                           form_names[form], i, e, j, vc_type_name(type), (unsigned long long)got,
                           (unsigned long long)want[i][e].b[j]);
            }
        }
    return mismatches == 0;
}

static bool fail(Run *r, uint64_t seed, const char *what, const char *text) {
    r->failed++;
    printf("  seed %llu: %s%s%s\n", (unsigned long long)seed, what, text && *text ? ": " : "", text ? text : "");
    return false;
}

static void begin(Run *r, uint64_t seed, vc_buffers buffers) { /* buffers: VC_BUFFERS_DEFAULT: as the tree says */
    vc_kernel_desc desc;
    bool spoilt = seed % 8 == 5;
    make_tree(&r->tree, seed);
    if (buffers) r->tree.buffers = buffers;
    memset(&desc, 0, sizeof desc);
    desc.name = seed % 16 == 13 ? "not a name!" : "random";
    desc.local_size[0] = r->tree.local;
    desc.buffers = r->tree.buffers;
    desc.fast = spoilt && seed % 3 == 0;
    desc.machine.missing_features = VC_FEATURE_RECONVERGENCE; /* unknown to the validators of Debian 12 */
    if (r->tree.buffers == VC_BUFFERS_BINDING) desc.machine.missing_features |= VC_FEATURE_DOT_4X8;
    if (r->k) vc_restart(r->k, &desc); else r->k = vc_begin(&desc);
    memset(&r->writer, 0, sizeof r->writer);
    r->writer.t = &r->tree;
    r->writer.k = r->k;
    r->writer.spoil_at = NOTHING;
    if (spoilt) {
        r->writer.spoil = seed;
        r->writer.spoil_at = (int)(random_next(&r->writer.spoil) >> 20) % r->tree.nodes;
        if (r->writer.spoil_at < 0) r->writer.spoil_at = 0;
    }
    write_tree(&r->writer);
}

/* Kernels that are not run must at least be valid; an error must have a message and leave nothing else. */
/* Returns where a C text reads an array in an operand that &&, || or ?: may skip; NULL: nowhere. */
static const char *skipped_load(const char *text) {
    for (const char *at = text; *at; at++) {
        bool skips = !strncmp(at, " && ", 4) || !strncmp(at, " || ", 4) || !strncmp(at, " ? ", 3);
        int depth = 0;
        for (const char *c = at; skips && *c && *c != ';' && *c != '\n' && depth >= 0 && !(depth == 0 && *c == ',');
             c++) {
            if (*c == '[' || !strncmp(c, "vload3", 6)) return at;
            depth += (*c == '(') - (*c == ')' || *c == ']');
        }
    }
    return NULL;
}

static bool check_code(Run *r, uint64_t seed) {
    size_t words = 0;
    const char *error = vc_error(r->k), *text, *bad;
    const uint32_t *code = vc_spirv(r->k, &words);
    if (error) {
        if (r->verbose) printf("seed %llu: %s\n", (unsigned long long)seed, error);
        if (!r->writer.spoil) return fail(r, seed, "refused", error);
        if (!*error || code || vc_source(r->k, VC_TARGET_GLSL) || vc_hash(r->k))
            return fail(r, seed, "code beside an error", error);
        r->refused++;
        return false;
    }
    if (!code || !words) return fail(r, seed, "no code", vc_error(r->k));
    if ((bad = spirv_wrong(code, words)) != NULL) return fail(r, seed, "invalid SPIR-V", bad);
    r->valid++;
    if (seed % 4 == 0) {
        text = vc_source(r->k, VC_TARGET_GLSL);
        if (!text) return fail(r, seed, "no GLSL", vc_error(r->k));
        if ((bad = glsl_wrong(text)) != NULL) return fail(r, seed, "GLSL", bad);
        r->glsl++;
    }
    for (int c = 0; c < 2 && seed % 4 == 1; c++) {
        text = vc_source(r->k, c ? VC_TARGET_CUDA : VC_TARGET_OPENCL);
        if (!text) return fail(r, seed, "no text of C", vc_error(r->k));
        if ((bad = skipped_load(text)) != NULL) return fail(r, seed, "an operand that is not evaluated", bad);
    }
    if (r->nvrtc && (r->all || seed % C_EVERY == 0)) {
        text = vc_source(r->k, VC_TARGET_CUDA);
        if (!text) return fail(r, seed, "no CUDA C", vc_error(r->k));
        if ((bad = nvrtc_wrong(text)) != NULL) return fail(r, seed, "CUDA C", bad);
    }
    return true;
}

static void run_form(Run *r, uint64_t seed, int form, bool known, Value (*want)[ELEMENTS]) {
    static uint8_t out[ALL_OUTS][ELEMENTS * 32];
    if (!r->ctx[form]) return;
    if (vc_reflect_for(r->k, form == OPENCL ? VC_TARGET_OPENCL : VC_TARGET_SPIRV)->features
        & ~vd_device(r->ctx[form], 0)->features) {
        r->skipped++;
        return;
    }
    if (!known) return;
    if (!run_on_device(r, form, out)) { (void)fail(r, seed, form_names[form], vd_error_text()); return; }
    r->runs++;
    if (!compare(r, seed, form, want, out)) r->failed++;
}

static void check(Run *r, uint64_t seed) {
    static Value want[ALL_OUTS][ELEMENTS];
    bool known;
    begin(r, seed, VC_BUFFERS_DEFAULT);
    if (r->print) printf("%s\n", vc_error(r->k) ? vc_error(r->k) : vc_dump(r->k));
    if (r->coverage) { count_operations(vc_dump(r->k)); return; }
    if (r->hash) { printf("%llu %016llx\n", (unsigned long long)seed, (unsigned long long)vc_hash(r->k)); return; }
    if (!check_code(r, seed) || r->writer.spoil || r->check) return;
    r->host.t = &r->tree;
    known = interpret(&r->host, want);
    if (!known) r->unknown++;
    run_form(r, seed, r->tree.buffers == VC_BUFFERS_BINDING, known, want);
    if (r->all || seed % C_EVERY == 0) run_form(r, seed, OPENCL, known, want);
    if (!r->all || (r->tree.bound && r->tree.buffers == VC_BUFFERS_BINDING)) return;
    begin(r, seed, r->tree.buffers == VC_BUFFERS_BINDING ? VC_BUFFERS_ADDRESS : VC_BUFFERS_BINDING);
    run_form(r, seed, r->tree.buffers == VC_BUFFERS_BINDING, known, want);
}

static void open_contexts(Run *r) {
    const char *without = nvrtc_open();
    for (int i = 0; i < 3; i++) {
        vd_context_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.backend = i == OPENCL ? VD_BACKEND_OPENCL : VD_BACKEND_VULKAN;
        if (i == 1) desc.disable = VD_FEATURE_ADDRESS;
        if (vd_context_create(&desc, &r->ctx[i]) == VD_OK) continue;
        printf("# reason: kernels not run, %s: %s\n", form_names[i], vd_error_text());
        r->ctx[i] = NULL;
        r->skipped++;
    }
    r->nvrtc = !without;
    r->skipped += without != NULL;
    if (without) printf("# reason: CUDA C not compiled: %s\n", without);
}

int main(int count, char **args) {
    const char *n = getenv("FUZZ_COUNT"), *s = getenv("FUZZ_SEED"), *p = getenv("FUZZ_PRINT");
    Run *r = (Run *)calloc(1, sizeof *r);
    long kernels = n ? atol(n) : 500;
    uint64_t seed = s ? strtoull(s, NULL, 0) : 1;
    r->hash = p && !strcmp(p, "hash");
    for (int i = 1; i < count; i++) {
        if (!strcmp(args[i], "--hash")) r->hash = true;
        else if (!strcmp(args[i], "--print")) r->print = true;
        else if (!strcmp(args[i], "--check")) r->check = true;
        else if (!strcmp(args[i], "--coverage")) counting = r->coverage = true;
        else if (!strcmp(args[i], "--all")) r->all = true;
        else if (!strcmp(args[i], "-v")) r->verbose = true;
        else if (!strcmp(args[i], "--count") && i + 1 < count) kernels = atol(args[++i]);
        else if (!strcmp(args[i], "--seed") && i + 1 < count) seed = strtoull(args[++i], NULL, 0);
        else {
            fprintf(stderr,
                    "usage: kernels [--count N] [--seed S] [--hash] [--print] [--check] [--coverage] [--all] [-v]\n");
            return 2;
        }
    }
    r->host.all = (Invocation *)calloc(ELEMENTS, sizeof *r->host.all);
    make_inputs();
    if (r->coverage && !read_names("vkdispatch_codegen.h")) { fprintf(stderr, "coverage: no header here\n"); return 2; }
    if (!r->hash && !r->check && !r->coverage) open_contexts(r);
    setvbuf(stdout, NULL, _IOLBF, 0); /* if a driver crashes, no output is lost */
    for (long i = 0; i < kernels; i++) check(r, seed + (uint64_t)i);
    vc_free(r->k);
    if (r->coverage) {
        int all = operations.count + public_calls.count;
        r->failed = tell_coverage(r->verbose);
        printf("%ld passed, %ld failed, 0 skipped\n", all - r->failed, r->failed);
    } else if (!r->hash) {
        for (int i = 0; i < 3; i++) vd_context_destroy(r->ctx[i]);
        printf("fuzz: %ld kernels from seed %llu: %ld valid, %ld refused, glsl %ld, run %ld, result not defined %ld\n",
               kernels, (unsigned long long)seed, r->valid, r->refused, r->glsl, r->runs, r->unknown);
        printf("%ld passed, %ld failed, %ld skipped\n",
               kernels - r->failed - (r->skipped > kernels ? kernels : r->skipped), r->failed, r->skipped);
    }
    int failed = r->failed > 0;
    free(r->host.all);
    free(r);
    return failed;
}
