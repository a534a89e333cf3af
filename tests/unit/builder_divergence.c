/* Divergence analysis of variables: barriers and subgroup operations are refused in control flow that depends on a
   divergent variable, and accepted in uniform control flow. */
#include "tests/unit/unit.h"

typedef struct divergence_rig { vc_kernel *k; vc_ref out, stop, count; vc_val id, n; } divergence_rig;

static divergence_rig divergence_begin(uint64_t lacks) {
    vc_kernel_desc desc;
    divergence_rig r;
    memset(&desc, 0, sizeof desc);
    desc.name = "k";
    desc.machine.missing_features = lacks;
    r.k = vc_begin(&desc);
    r.out = vc_buffer(r.k, "out", VC_U32, VC_READ_WRITE);
    r.n = vc_param(r.k, "n", VC_U32);
    r.id = vc_local_id(r.k, 0);
    r.stop = vc_var(r.k, "stop", VC_BOOL);
    r.count = vc_var(r.k, "count", VC_U32);
    return r;
}

static void divergence_fails(divergence_rig r, const char *text) {
    const char *error = vc_error(r.k);
    if (!error) fail_msg("not refused: %s", text);
    assert_string_equal(error, text);
    assert_null(vc_spirv(r.k, NULL));
    vc_free(r.k);
}

static void divergence_builds(divergence_rig r) {
    if (vc_error(r.k)) fail_msg("%s", vc_error(r.k));
    assert_non_null(vc_spirv(r.k, NULL));
    assert_non_null(vc_source(r.k, VC_TARGET_CUDA));
    vc_free(r.k);
}

static void divergence_next(divergence_rig r) { vc_set(r.count, vc_add(vc_get(r.count), vc_u32(1))); }

#define DIVERGES "called in control flow that diverges within a work-group, but all invocations must reach it; the condition depends on variable "
#define BARRIER_DIVERGES "vc_barrier in kernel 'k': " DIVERGES
#define LOOPS "vc_break_if in kernel 'k': statement 2: the condition differs between the invocations of a work-group, but the loop contains a " \
              "barrier or work-group function that all of them must reach; the condition depends on "

/* A variable diverges when the stored value differs or the store itself is in divergent control flow. */
static void stores(void **state) {
    divergence_rig r = divergence_begin(0);
    vc_ref list, pair;
    vc_val low;
    vc_member members[2] = { { "mine", VC_U32 }, { "ours", VC_U32 } };
    (void)state;
    vc_set(r.count, r.id);
    VC_IF(r.k, vc_gt(vc_get(r.count), vc_u32(3))) { vc_barrier(r.k); }
    divergence_fails(r, BARRIER_DIVERGES "'count'");
    r = divergence_begin(0);
    VC_IF(r.k, vc_lt(r.id, r.n)) { vc_set(r.stop, vc_bool(true)); }
    VC_IF(r.k, vc_get(r.stop)) { vc_barrier(r.k); }
    divergence_fails(r, BARRIER_DIVERGES "'stop'");
    r = divergence_begin(0);
    VC_IF(r.k, vc_lt(r.id, r.n)) { divergence_next(r); } VC_ELSE(r.k) { vc_set(r.stop, vc_bool(true)); }
    VC_IF(r.k, vc_get(r.stop)) { vc_barrier(r.k); }
    divergence_fails(r, BARRIER_DIVERGES "'stop'");
    r = divergence_begin(0);
    VC_SWITCH(r.k, r.id) { VC_CASE(r.k, 2) { VC_IF(r.k, vc_lt(r.n, vc_u32(2))) { divergence_next(r); } } }
    VC_FOR(r.k, j, vc_u32(0), vc_get(r.count)) { vc_store(r.out, j, r.n); vc_barrier(r.k); }
    divergence_fails(r, BARRIER_DIVERGES "'count'");
    r = divergence_begin(0);
    list = vc_array(r.k, "list", VC_U32, 4);
    vc_store(list, vc_rem(r.id, vc_u32(4)), r.n);
    VC_IF(r.k, vc_gt(vc_load(list, vc_u32(0)), vc_u32(3))) { vc_barrier(r.k); }
    divergence_fails(r, "vc_barrier in kernel 'k': called in control flow that diverges within a work-group, but all invocations must reach it; the condition "
                        "depends on array 'list'");
    r = divergence_begin(0); /* not all invocations store the second value */
    vc_set(r.count, r.id);
    VC_IF(r.k, vc_lt(r.n, vc_u32(9))) { vc_set(r.count, r.n); }
    VC_IF(r.k, vc_gt(vc_get(r.count), vc_u32(3))) { vc_barrier(r.k); }
    divergence_fails(r, BARRIER_DIVERGES "'count'");
    r = divergence_begin(0);
    pair = vc_var(r.k, "pair", vc_struct(r.k, "pair", members, 2));
    vc_set(vc_field(pair, 0), r.id);
    vc_set(vc_field(pair, 1), r.n);
    VC_IF(r.k, vc_gt(vc_get(vc_field(pair, 1)), vc_u32(3))) { vc_barrier(r.k); }
    VC_IF(r.k, vc_gt(vc_get(vc_field(pair, 0)), vc_u32(3))) { vc_barrier(r.k); }
    divergence_fails(r, "vc_barrier in kernel 'k': called in control flow that diverges within a work-group, but all invocations must reach it; the condition "
                        "depends on variable 'pair_mine'");
    r = divergence_begin(0);
    vc_and_then(r.k, &low, vc_lt(r.id, r.n), vc_lt(r.n, vc_u32(9)));
    vc_set(r.stop, low);
    VC_IF(r.k, vc_get(r.stop)) { vc_barrier(r.k); }
    divergence_fails(r, BARRIER_DIVERGES "'stop'");
    r = divergence_begin(0);
    vc_set(r.count, r.id);
    VC_LOOP(r.k) { vc_break_if(r.k, vc_ge(vc_get(r.count), r.n)); vc_barrier(r.k); divergence_next(r); }
    divergence_fails(r, BARRIER_DIVERGES "'count'");
}

/* A store in a loop reaches the next iteration, through any number of variables and from nested loops. */
static void back_edges(void **state) {
    divergence_rig r = divergence_begin(0);
    vc_ref chain[40];
    (void)state;
    VC_LOOP(r.k) {
        vc_break_if(r.k, vc_get(r.stop));
        vc_barrier(r.k);
        vc_set(r.stop, vc_eq(r.id, vc_u32(3)));
    }
    divergence_fails(r, LOOPS "variable 'stop'");
    r = divergence_begin(0);
    VC_LOOP(r.k) {
        VC_IF(r.k, vc_get(r.stop)) { vc_barrier(r.k); }
        VC_FOR(r.k, j, vc_u32(0), r.n) { vc_set(r.stop, vc_eq(vc_get(r.count), j)); }
        vc_break_if(r.k, vc_eq(r.n, vc_u32(3)));
        VC_IF(r.k, vc_eq(r.id, r.n)) { divergence_next(r); } VC_ELSE(r.k) { vc_store(r.out, r.id, r.n); }
    }
    divergence_fails(r, "vc_barrier in kernel 'k': statement 3: " DIVERGES "'stop'");
    r = divergence_begin(0);
    VC_LOOP(r.k) { /* start, limit and step of an inner loop come from the previous iteration */
        VC_FOR_STEP(r.k, j, vc_u32(0), r.n, vc_add(vc_get(r.count), vc_u32(1))) {
            vc_store(r.out, j, r.n);
            vc_barrier(r.k);
        }
        vc_break_if(r.k, vc_eq(r.n, vc_u32(3)));
        vc_set(r.count, r.id);
    }
    divergence_fails(r, "vc_barrier in kernel 'k': statement 4: " DIVERGES "'count'");
    for (int length = 2; length <= 40; length += 19) {
        for (int differs = 0; differs < 2; differs++) {
            r = divergence_begin(0);
            for (int i = 0; i < length; i++) chain[i] = vc_var(r.k, "link", VC_U32);
            VC_LOOP(r.k) {
                vc_break_if(r.k, vc_gt(vc_get(chain[0]), vc_u32(3)));
                vc_barrier(r.k);
                for (int i = 1; i < length; i++) vc_set(chain[i - 1], vc_get(chain[i]));
                vc_set(chain[length - 1], differs ? r.id : vc_add(r.n, vc_get(r.count)));
            }
            if (differs) divergence_fails(r, LOOPS "variable 'link'"); else divergence_builds(r);
        }
    }
}

/* Invocations that leave a loop in different iterations leave with different values; those still in the loop agree. */
static void rounds(void **state) {
    divergence_rig r = divergence_begin(0);
    (void)state;
    VC_LOOP(r.k) { divergence_next(r); vc_break_if(r.k, vc_lt(r.id, vc_get(r.count))); }
    VC_IF(r.k, vc_gt(vc_get(r.count), vc_u32(3))) { vc_barrier(r.k); }
    divergence_fails(r, BARRIER_DIVERGES "'count'");
    r = divergence_begin(0);
    VC_LOOP(r.k) { divergence_next(r); VC_IF(r.k, vc_lt(r.id, vc_get(r.count))) { vc_break_if(r.k, vc_bool(true)); } }
    VC_IF(r.k, vc_gt(vc_get(r.count), vc_u32(3))) { vc_barrier(r.k); }
    divergence_fails(r, BARRIER_DIVERGES "'count'");
    r = divergence_begin(0);
    VC_FOR(r.k, j, vc_u32(0), r.id) { divergence_next(r); vc_store(r.out, j, r.n); }
    VC_IF(r.k, vc_gt(vc_get(r.count), vc_u32(3))) { vc_barrier(r.k); }
    divergence_fails(r, BARRIER_DIVERGES "'count'");
    r = divergence_begin(0);
    VC_FOR(r.k, j, vc_u32(0), r.n) { vc_continue_if(r.k, vc_lt(r.id, j)); divergence_next(r); }
    VC_IF(r.k, vc_gt(vc_get(r.count), vc_u32(3))) { vc_barrier(r.k); }
    divergence_fails(r, BARRIER_DIVERGES "'count'");
    r = divergence_begin(0); /* the preceding loop, and the iterations of this one, are executed by all */
    VC_FOR(r.k, j, vc_u32(0), r.n) {
        divergence_next(r);
        VC_IF(r.k, vc_lt(vc_get(r.count), j)) { vc_barrier(r.k); }
        vc_continue_if(r.k, vc_lt(r.id, j));
        vc_store(r.out, j, r.n);
    }
    VC_IF(r.k, vc_gt(vc_get(r.count), vc_u32(3))) { vc_barrier(r.k); }
    divergence_builds(r);
    r = divergence_begin(0); /* only those still in the loop return */
    VC_FOR(r.k, j, vc_u32(0), r.n) { vc_return_if(r.k, vc_eq(j, vc_u32(2))); vc_break_if(r.k, vc_lt(r.id, j)); }
    vc_barrier(r.k);
    divergence_fails(r, "vc_barrier in kernel 'k': called after a vc_return_if that may have ended some invocations of a work-group");
    /* the next iteration of the outer loop runs without the invocations that returned */
    r = divergence_begin(0);
    VC_FOR(r.k, i, vc_u32(0), r.n) {
        vc_barrier(r.k);
        VC_FOR(r.k, j, i, r.n) { vc_return_if(r.k, vc_eq(j, vc_u32(2))); vc_break_if(r.k, vc_lt(r.id, j)); }
    }
    divergence_fails(r, "vc_return_if in kernel 'k': the condition differs between the invocations of a work-group, but the loop contains a barrier or "
                        "work-group function that all of them must reach");
    r = divergence_begin(VC_FEATURE_RECONVERGENCE);
    VC_FOR(r.k, i, vc_u32(0), r.n) {
        vc_store(r.out, i, vc_subgroup_reduce(VC_ADD, r.id));
        VC_FOR(r.k, j, i, r.n) { vc_return_if(r.k, vc_eq(j, vc_u32(2))); vc_break_if(r.k, vc_lt(r.id, j)); }
    }
    divergence_fails(r, "vc_return_if in kernel 'k': the condition differs between the invocations of a subgroup, and the loop contains a subgroup "
                        "operation; this requires maximal reconvergence, which the device does not support (VC_FEATURE_RECONVERGENCE)");
    r = divergence_begin(VC_FEATURE_RECONVERGENCE);
    VC_LOOP(r.k) {
        vc_break_if(r.k, vc_get(r.stop));
        vc_store(r.out, r.id, vc_subgroup_reduce(VC_ADD, r.id));
        vc_set(r.stop, vc_eq(r.id, vc_u32(3)));
    }
    divergence_fails(r, "vc_break_if in kernel 'k': statement 2: the condition differs between the invocations of a subgroup, and the loop contains a subgroup "
                        "operation; this requires maximal reconvergence, which the device does not support (VC_FEATURE_RECONVERGENCE); the condition depends "
                        "on variable 'stop'");
    r = divergence_begin(VC_FEATURE_RECONVERGENCE);
    VC_LOOP(r.k) {
        VC_IF(r.k, vc_get(r.stop)) { vc_store(r.out, r.id, vc_subgroup_reduce(VC_ADD, r.id)); }
        vc_break_if(r.k, vc_lt(r.n, vc_u32(2)));
        vc_set(r.stop, vc_eq(r.id, vc_u32(3)));
    }
    divergence_fails(r, "vc_subgroup_reduce in kernel 'k': statement 2: called in control flow that diverges within a subgroup; this requires maximal "
                        "reconvergence, which the device does not support (VC_FEATURE_RECONVERGENCE); the condition depends on variable 'stop'");
}

/* A variable that only receives uniform values in uniform control flow stays uniform. */
static void uniform(void **state) {
    divergence_rig r = divergence_begin(VC_FEATURE_RECONVERGENCE);
    vc_val any, i;
    vc_ref inner, shared = vc_shared(r.k, "shared", VC_U32, 128);
    (void)state;
    vc_set(r.count, vc_add(r.n, vc_group_id(r.k, 0)));
    VC_LOOP(r.k) { /* a tree reduction in shared memory */
        i = vc_get(r.count);
        vc_break_if(r.k, vc_le(i, vc_u32(1)));
        VC_IF(r.k, vc_lt(r.id, i)) {
            inner = vc_var(r.k, "inner", VC_U32); /* uniform among the invocations that reach it */
            vc_set(inner, r.n);
            VC_LOOP(r.k) {
                vc_break_if(r.k, vc_gt(vc_get(inner), vc_u32(9)));
                vc_set(inner, vc_add(vc_get(inner), vc_u32(1)));
            }
            vc_store(shared, r.id, vc_load(shared, vc_add(r.id, i)));
        }
        vc_barrier(r.k);
        vc_group_reduce(r.k, VC_OR, vc_lt(r.id, i), &any);
        vc_set(r.stop, any);
        vc_break_if(r.k, vc_and(vc_get(r.stop), vc_lt(vc_load(shared, vc_u32(0)), vc_u32(4))));
        vc_set(r.count, vc_shr(i, vc_u32(1)));
    }
    divergence_builds(r);
    r = divergence_begin(0); /* bitonic sort: the partner differs, the distance does not */
    shared = vc_shared(r.k, "shared", VC_U32, 128);
    vc_store(shared, r.id, vc_load(r.out, r.id));
    vc_set(r.count, vc_u32(2));
    VC_LOOP(r.k) {
        vc_ref apart = vc_var(r.k, "apart", VC_U32);
        vc_break_if(r.k, vc_gt(vc_get(r.count), vc_u32(128)));
        vc_set(apart, vc_shr(vc_get(r.count), vc_u32(1)));
        VC_LOOP(r.k) {
            vc_ref held = vc_var(r.k, "held", VC_U32);
            vc_val other;
            vc_break_if(r.k, vc_eq(vc_get(apart), vc_u32(0)));
            vc_barrier(r.k);
            other = vc_xor(r.id, vc_get(apart));
            vc_set(held, vc_load(shared, r.id));
            VC_IF(r.k, vc_ne(vc_lt(vc_load(shared, other), vc_get(held)), vc_lt(other, r.id))) {
                vc_set(held, vc_load(shared, other));
            }
            vc_barrier(r.k);
            vc_store(shared, r.id, vc_get(held));
            vc_set(apart, vc_shr(vc_get(apart), vc_u32(1)));
        }
        vc_set(r.count, vc_shl(vc_get(r.count), vc_u32(1)));
    }
    divergence_builds(r);
    r = divergence_begin(0); /* a variable is used again */
    VC_LOOP(r.k) { divergence_next(r); vc_break_if(r.k, vc_lt(r.id, vc_get(r.count))); }
    vc_set(r.count, r.n);
    VC_LOOP(r.k) { vc_break_if(r.k, vc_ge(vc_get(r.count), vc_u32(9))); vc_barrier(r.k); divergence_next(r); }
    divergence_builds(r);
    r = divergence_begin(0); /* a store after a loop does not affect the loop */
    VC_LOOP(r.k) { vc_break_if(r.k, vc_ge(vc_get(r.count), r.n)); vc_barrier(r.k); divergence_next(r); }
    vc_set(r.count, r.id);
    divergence_builds(r);
}

/* ---- random programs: all interpreted invocations of an accepted program pass the same barriers ---- */

enum { NODES = 200, VARIABLES = 24, DEEPEST = 3, INVOCATIONS = 6, LONGEST = 4000, PROGRAMS = 100000 };
typedef enum What { SET, DECLARE, IF, LOOP, FOR, SWITCH, BREAK, CONTINUE, RETURN, BARRIER } What;
typedef enum Source { NUMBER, PARAMETER, IDENTITY, VARIABLE, COUNTER } Source;
typedef struct Term { Source source; unsigned variable, plus; } Term;
/* -1: no node; SET: variable = a; conditions: a < b */
typedef struct Node { What what; unsigned variable; Term a, b; int body, other, next; } Node;
typedef struct Program {
    Node node[NODES];
    int count;
    uint64_t state;
    vc_kernel *k;
    vc_val n, id, counter[NODES]; /* loop counters of FOR, by node */
    vc_ref ref[VARIABLES];
    unsigned made, visible[VARIABLES], visible_count, deepest_for[DEEPEST + 1], fors;
    unsigned value[VARIABLES], turn[NODES], own;
    int trace[LONGEST], length;
} Program;

static unsigned roll(Program *p, unsigned sides) {
    p->state = p->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(p->state >> 33) % sides;
}

static Term random_term(Program *p) {
    static const unsigned char sources[] = {
        NUMBER, NUMBER, PARAMETER, VARIABLE, VARIABLE, VARIABLE, VARIABLE, VARIABLE, COUNTER, IDENTITY
    };
    Term t;
    t.source = (Source)sources[roll(p, sizeof sources)];
    if (t.source == COUNTER && !p->fors) t.source = NUMBER;
    t.variable = t.source == COUNTER ? p->deepest_for[roll(p, p->fors)] : p->visible[roll(p, p->visible_count)];
    t.plus = roll(p, 4);
    return t;
}

static vc_val written(const Program *p, const Term *t) {
    vc_val plus = vc_u32(t->plus);
    switch (t->source) {
    case NUMBER: return vc_const(p->k, plus);
    case PARAMETER: return p->n;
    case IDENTITY: return p->id;
    case VARIABLE: return vc_add(vc_get(p->ref[t->variable]), plus);
    default: return vc_add(p->counter[t->variable], plus);
    }
}

static int write_block(Program *p, int depth, bool loop);

static vc_val condition_of(const Program *p, const Node *n) { return vc_lt(written(p, &n->a), written(p, &n->b)); }

/* Generates one statement, for the builder and for the interpreter. */
static int write_statement(Program *p, int depth, bool loop) {
    static const unsigned char kinds[] = {
        SET, SET, SET, SET, SET, DECLARE, IF, IF, LOOP, FOR, SWITCH, BREAK, CONTINUE, RETURN, BARRIER, BARRIER
    };
    int at = p->count++;
    Node *n = &p->node[at];
    vc_kernel *k = p->k;
    n->what = (What)kinds[roll(p, sizeof kinds)];
    if ((n->what >= IF && n->what <= SWITCH && (depth == DEEPEST || p->count > NODES / 2))
        || (n->what == DECLARE && p->made == VARIABLES) || ((n->what == BREAK || n->what == CONTINUE) && !loop)
        || (n->what == RETURN && roll(p, 4)))
        n->what = SET;
    n->a = random_term(p);
    n->b = random_term(p);
    if ((n->what == LOOP || n->what == BREAK) && !roll(p, 3)) n->b.source = IDENTITY;
    n->variable = p->visible[roll(p, p->visible_count)];
    n->body = n->other = n->next = -1;
    switch (n->what) {
    case SET: vc_set(p->ref[n->variable], written(p, &n->a)); break;
    case DECLARE:
        n->variable = p->visible[p->visible_count++] = p->made++;
        p->ref[n->variable] = vc_var(k, "inner", VC_U32);
        break;
    case IF:
        VC_IF(k, condition_of(p, n)) { n->body = write_block(p, depth + 1, loop); }
        if (roll(p, 2)) VC_ELSE(k) { n->other = write_block(p, depth + 1, loop); }
        break;
    case SWITCH:
        VC_SWITCH(k, written(p, &n->a)) {
            VC_CASE(k, 2) { n->body = write_block(p, depth + 1, loop); }
            VC_DEFAULT(k) { n->other = write_block(p, depth + 1, loop); }
        }
        break;
    case LOOP: VC_LOOP(k) { n->body = write_block(p, depth + 1, true); vc_break_if(k, condition_of(p, n)); } break;
    case FOR:
        VC_FOR(k, i, vc_u32(0), vc_rem(written(p, &n->a), vc_u32(4))) {
            p->counter[at] = i;
            p->deepest_for[p->fors++] = (unsigned)at;
            n->body = write_block(p, depth + 1, true);
            p->fors--;
        }
        break;
    case BREAK: vc_break_if(k, condition_of(p, n)); break;
    case CONTINUE: vc_continue_if(k, condition_of(p, n)); break;
    case RETURN: vc_return_if(k, condition_of(p, n)); break;
    default: vc_barrier(k); break;
    }
    return at;
}

static int write_block(Program *p, int depth, bool loop) {
    unsigned visible = p->visible_count, statements = 1 + roll(p, depth ? 4 : 7);
    int first = -1, last = -1;
    for (unsigned i = 0; i < statements && p->count < NODES - 8; i++) {
        int at = write_statement(p, depth, loop);
        if (last < 0) first = at; else p->node[last].next = at;
        last = at;
    }
    p->visible_count = visible;
    return first;
}

typedef enum Flow { ON, BROKEN, CONTINUED, GONE } Flow; /* GONE: returned, or stopped because it ran too long */

static unsigned value_of(const Program *p, const Term *t) {
    return t->source == NUMBER ? t->plus : t->source == PARAMETER ? 2u : t->source == IDENTITY ? p->own
         : (t->source == VARIABLE ? p->value[t->variable] : p->turn[t->variable]) + t->plus;
}

static Flow run_block(Program *p, int at, int *left);

static Flow run_loop(Program *p, const Node *n, int at, int *left) {
    unsigned rounds = n->what == FOR ? value_of(p, &n->a) % 4 : ~0u;
    for (p->turn[at] = 0; p->turn[at] < rounds; p->turn[at]++) {
        Flow flow = run_block(p, n->body, left);
        if (flow == GONE || flow == BROKEN) return flow == GONE ? GONE : ON;
        if (n->what == LOOP && flow == ON && value_of(p, &n->a) < value_of(p, &n->b)) return ON;
    }
    return ON;
}

static Flow run_block(Program *p, int at, int *left) {
    for (; at >= 0; at = p->node[at].next) {
        const Node *n = &p->node[at];
        bool holds = n->what == SWITCH ? value_of(p, &n->a) == 2 : value_of(p, &n->a) < value_of(p, &n->b);
        Flow flow = ON;
        if (--*left < 0) return GONE;
        switch (n->what) {
        case SET: p->value[n->variable] = value_of(p, &n->a); break;
        case DECLARE: p->value[n->variable] = 0; break;
        case IF: case SWITCH: flow = run_block(p, holds ? n->body : n->other, left); break;
        case LOOP: case FOR: flow = run_loop(p, n, at, left); break;
        case BREAK: if (holds) return BROKEN; break;
        case CONTINUE: if (holds) return CONTINUED; break;
        case RETURN: if (holds) return GONE; break;
        default: p->trace[p->length++] = at; break;
        }
        if (flow != ON) return flow;
    }
    return ON;
}

/* Whether all invocations pass the same barriers; true if the program runs too long to decide. */
static bool passes_together(Program *p, int top) {
    static int first[LONGEST];
    int length = 0;
    for (p->own = 0; p->own < INVOCATIONS; p->own++) {
        int left = LONGEST;
        memset(p->value, 0, sizeof p->value);
        p->length = 0;
        run_block(p, top, &left);
        if (left < 0) return true;
        if (p->own == 0) memcpy(first, p->trace, sizeof first);
        if (p->own == 0) length = p->length;
        if (p->length != length || memcmp(first, p->trace, (size_t)length * sizeof *first)) return false;
    }
    return true;
}

static void random_programs(void **state) {
    static Program p;
    unsigned accepted = 0, with_barriers = 0, refused = 0, count = PROGRAMS / unit_stride();
    vc_kernel *k = vc_begin(NULL);
    (void)state;
    for (unsigned seed = 1; seed <= count; seed++) {
        int top;
        memset(&p, 0, sizeof p);
        p.state = seed * UINT64_C(0x9e3779b97f4a7c15);
        p.k = k;
        vc_restart(k, NULL);
        p.n = vc_param(k, "n", VC_U32);
        p.id = vc_local_id(k, 0);
        for (p.made = 0; p.made < 4; p.made++) p.ref[p.visible[p.made] = p.made] = vc_var(k, "v", VC_U32);
        p.visible_count = 4;
        top = write_block(&p, 0, false);
        if (vc_error(k)) { refused++; continue; }
        accepted++;
        for (int i = 0; i < p.count; i++) if (p.node[i].what == BARRIER) { with_barriers++; break; }
        if (!passes_together(&p, top))
            fail_msg("program %u: invocations pass different barriers\n%s", seed, vc_dump(k));
    }
    print_message("# %u accepted, %u of them with barriers, %u refused\n", accepted, with_barriers, refused);
    assert_true(with_barriers > count / 20 && refused > count / 20);
    vc_free(k);
}

static const struct CMUnitTest builder_divergence_tests[] = {
    cmocka_unit_test(stores), cmocka_unit_test(back_edges), cmocka_unit_test(rounds), cmocka_unit_test(uniform),
    cmocka_unit_test(random_programs),
};
