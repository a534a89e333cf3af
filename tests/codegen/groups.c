/* Work-group collectives, and barriers with scopes: every operation on every type, with workgroups of 1 to 256
   invocations. The scratch memory is used several times in a row, so a missing barrier would change results.
     groups [-v] [PART]     PART: only cases whose name contains it; -v prints each name */
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#include "../kernels.h"
#define RUN_OPENCL
#define RUN_NVRTC
#define RUN_DISABLE VD_FEATURE_SUBGROUP
#include "run.h"
#include "combine.h"

enum { MOST = 512, GROUPS = 2 };

typedef struct Case {
    vc_combine op;
    vc_type type;
    uint32_t local; /* invocations of a work-group */
    uint32_t rows;  /* local size along axis 1; 0: the work-group has one axis */
} Case;
static const char *const combines[] = { "", "add", "mul", "min", "max", "and", "or", "xor" };

static void build(void *user, vc_kernel *k) {
    const Case *c = (const Case *)user;
    vc_ref in = vc_buffer(k, "in", c->type, VC_READ), all = vc_buffer(k, "all", c->type, VC_WRITE);
    vc_ref to = vc_buffer(k, "to", c->type, VC_WRITE);
    vc_ref below = vc_buffer(k, "below", c->type, VC_WRITE), from = vc_buffer(k, "from", c->type, VC_WRITE);
    vc_val group = vc_mul(vc_group_id(k, 0), vc_u32(c->local));
    vc_val i = c->rows ? vc_add(group, vc_local_index(k)) : vc_global_id(k, 0), v = vc_load(in, i), r, first;
    vc_group_reduce(k, c->op, v, &r);
    vc_store(all, i, r);
    vc_group_inclusive(k, c->op, v, &r);
    vc_store(to, i, r);
    vc_group_exclusive(k, c->op, v, &r);
    vc_store(below, i, r);
    VC_FOR(k, j, vc_u32(0), vc_u32(2)) {
        vc_group_broadcast(k, v, vc_sub(vc_u32(c->local - 1), vc_min(j, vc_u32(c->local - 1))), &first);
        vc_group_reduce(k, c->op, first, &r);
        vc_store(from, i, first);
    }
}

/* Inputs whose sums and products are exact in any order. */
static uint64_t input_of(const Case *c, size_t i) {
    uint64_t state = i, r = random_next(&state);
    if (c->type == VC_BOOL) return c->op == VC_XOR ? r & 1 : c->op == VC_OR ? i % 37 == 20 : i % 37 != 20;
    if (!is_float(c->type)) return narrow(c->type, c->op == VC_MUL ? r | 1 : r);
    if (c->op == VC_MUL) return bits_of(c->type, i % 8 == 3 ? 2.0 : i % 8 == 5 ? -0.5 : r & 1 ? 1 : -1);
    return bits_of(c->type, (double)(r % 8) - 4);
}

static bool same(vc_type type, uint64_t got, uint64_t want) {
    return got == want || (is_float(type) && real_of(type, got) == real_of(type, want));
}

static uint8_t in_data[MOST * 8], out_data[4][MOST * 8];

static bool right(const Case *c) {
    for (size_t g = 0; g < GROUPS; g++) {
        uint64_t all = neutral(c->op, c->type), below = all, to, last = 0;
        for (size_t i = g * c->local; i < (g + 1) * c->local; i++) all = combined(c->op, c->type, all, input_of(c, i));
        for (size_t i = g * c->local; i < (g + 1) * c->local; i++) {
            uint64_t got[4];
            to = combined(c->op, c->type, below, input_of(c, i));
            last = input_of(c, (g + 1) * c->local - (c->local > 1 ? 2 : 1));
            for (int o = 0; o < 4; o++) got[o] = get_bits(c->type, out_data[o], i);
            if (!same(c->type, got[0], all) || !same(c->type, got[1], to) || !same(c->type, got[2], below)
                || !same(c->type, got[3], last)) {
                printf("  [%zu]: got %llx %llx %llx %llx, wanted %llx %llx %llx %llx\n", i, (unsigned long long)got[0],
                       (unsigned long long)got[1], (unsigned long long)got[2], (unsigned long long)got[3],
                       (unsigned long long)all, (unsigned long long)to, (unsigned long long)below,
                       (unsigned long long)last);
                return false;
            }
            below = to;
        }
    }
    return true;
}

static void check(const Case *c, bool everywhere) {
    char name[80];
    size_t threads = (size_t)c->local * GROUPS;
    snprintf(name, sizeof name, "%s %s local %u rows %u", combines[c->op], vc_type_name(c->type), c->local, c->rows);
    for (size_t i = 0; i < threads; i++) put_bits(c->type, in_data, i, input_of(c, i));
    for (int f = 0; f < FORMS; f++) {
        uint32_t rows = c->rows ? c->rows : 1;
        Run run = run_begin(name, f, (uint32_t)threads / rows, c->local / rows, build, (void *)(uintptr_t)c);
        run.rows = rows;
        if (!everywhere && strcmp(run.form->name, "address")
            && (c->local % 8 == 4 || strcmp(run.form->name, "without"))) continue;
        run_buffer(&run, c->type, (uint32_t)threads, in_data, NULL);
        for (int o = 0; o < 4; o++) run_buffer(&run, c->type, (uint32_t)threads, NULL, out_data[o]);
        if (run_end(&run)) run_judge(&run, right(c));
    }
}

/* ---- barriers with scopes: each invocation writes, waits, and reads what another one has written, in its subgroup
   and in its workgroup ---- */

static void build_scopes(void *user, vc_kernel *k) {
    vc_ref mine = vc_buffer(k, "mine", VC_U32, VC_READ_WRITE), tile = vc_shared(k, "tile", VC_U32, 64);
    vc_ref bad = vc_buffer(k, "bad", VC_U32, VC_READ_WRITE);
    vc_val i = vc_global_id(k, 0), lane = vc_local_index(k), first = vc_sub(i, lane), other = vc_xor(lane, vc_u32(63));
    vc_val next;
    (void)user;
    vc_store(mine, i, i);
    vc_barrier_scoped(k, VC_SCOPE_DEFAULT, VC_SCOPE_DEVICE, VC_STORAGE_BUFFER);
    VC_IF(k, vc_ne(vc_load(mine, vc_add(first, other)), vc_add(first, other))) {
        vc_atomic_add(bad, vc_u32(0), vc_u32(1), NULL);
    }
    vc_store(tile, lane, i);
    vc_barrier_scoped(k, VC_SCOPE_WORKGROUP, VC_SCOPE_WORKGROUP, VC_STORAGE_SHARED);
    VC_IF(k, vc_ne(vc_load(tile, other), vc_add(first, other))) { vc_atomic_add(bad, vc_u32(1), vc_u32(1), NULL); }
    vc_barrier(k);
    next = vc_subgroup_broadcast_first(lane);
    vc_store(tile, lane, vc_u32(7));
    vc_barrier_scoped(k, VC_SCOPE_SUBGROUP, VC_SCOPE_DEFAULT, 0);
    VC_IF(k, vc_ne(vc_load(tile, next), vc_u32(7))) { vc_atomic_add(bad, vc_u32(2), vc_u32(1), NULL); }
    vc_atomic_add(bad, vc_u32(3), vc_u32(1), NULL);
}

static void check_scopes(void) {
    static uint32_t zero[4096], bad[4];
    for (int f = 0; f < FORMS; f++) {
        Run run = run_begin("scopes", f, 4096, 64, build_scopes, NULL);
        run_buffer(&run, VC_U32, 4096, zero, NULL);
        run_buffer(&run, VC_U32, 4, zero, bad);
        if (run_end(&run)) run_judge(&run, bad[0] == 0 && bad[1] == 0 && bad[2] == 0 && bad[3] == 4096);
    }
}

int main(int count, char **args) {
    static const uint32_t locals[] = { 1, 2, 3, 7, 8, 20, 32, 33, 64, 100, 250, 256 };
    run_open(count, args);
    for (vc_type type = VC_BOOL; type <= VC_F64; type++)
        for (uint32_t op = VC_ADD; op <= VC_XOR; op++) {
            Case c = { (vc_combine)op, type, 20, 0 };
            if (op >= VC_AND ? is_float(type) : type == VC_BOOL) continue;
            check(&c, op == VC_MIN || type == VC_BOOL);
        }
    for (size_t l = 0; l < sizeof locals / sizeof *locals; l++) {
        Case c = { VC_ADD, VC_U32, locals[l], 0 }, d = { VC_MAX, VC_F32, locals[l], 0 };
        check(&c, l % 4 == 3);
        if (l % 2) check(&d, false);
    }
    /* 105 = 5 x 21 and 128 = 8 x 16: rows that do not fill subgroups, and rows that may. */
    for (uint32_t i = 0; i < 8; i++) {
        Case c = { i & 1 ? VC_ADD : VC_MIN, i & 2 ? VC_I64 : VC_F32, i & 4 ? 128 : 105, i & 4 ? 16 : 21 };
        check(&c, true);
    }
    check_scopes();
    return run_close();
}
