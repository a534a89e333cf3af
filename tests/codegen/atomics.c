/* Atomics: every operation on every type, on buffers and on shared memory. Thousands of invocations access a few
   elements; the result must be possible for some order of the operations. Runs with buffers by address, as bindings,
   from GLSL, and without native atomic addition of floats.
     atomics [-v] [PART]     PART: only cases whose name contains it; -v prints each name */
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#include "../kernels.h"
#define RUN_OPENCL
#define RUN_NVRTC
#define RUN_DISABLE VD_FEATURE_ATOMIC_F32_ADD
#include "run.h"

enum { THREADS = 4096, LOCAL = 64, SLOTS = 3, GROUPS = THREADS / LOCAL };

typedef void (*Atomic)(vc_ref ref, vc_val index, vc_val value, vc_val *old);
typedef enum Name { ADD, SUB, MIN, MAX, AND, OR, XOR, EXCHANGE, NAMES } Name;
static const struct { const char *name; Atomic call; bool floats; } atomics[NAMES] = {
    { "add", vc_atomic_add, true }, { "sub", vc_atomic_sub, true }, { "min", vc_atomic_min, true },
    { "max", vc_atomic_max, true }, { "and", vc_atomic_and, false }, { "or", vc_atomic_or, false },
    { "xor", vc_atomic_xor, false }, { "exchange", vc_atomic_exchange, true }
};
static const vc_type types[6] = { VC_I32, VC_U32, VC_I64, VC_U64, VC_F32, VC_F64 };

typedef struct Case { Name name; vc_type type; bool shared, olds; } Case;

/* Checks the elements of one workgroup, or of all. Element `slot` is accessed by the invocations with id % SLOTS ==
   slot. */
static vc_val slot_of(vc_val i) { return vc_rem(i, vc_u32(SLOTS)); }

static void build(void *user, vc_kernel *k) {
    const Case *c = (const Case *)user;
    vc_ref in = vc_buffer(k, "in", c->type, VC_READ), out = vc_buffer(k, "out", c->type, VC_READ_WRITE);
    vc_ref before = vc_buffer(k, "before", c->type, VC_READ_WRITE);
    vc_val i = vc_global_id(k, 0), lane = vc_local_id(k, 0), old;
    vc_val mine = vc_add(vc_mul(vc_group_id(k, 0), vc_u32(SLOTS)), lane);
    vc_ref at = c->shared ? vc_shared(k, "tile", c->type, SLOTS) : out;
    vc_val value = vc_load(in, i);
    if (c->shared) {
        VC_IF(k, vc_lt(lane, vc_u32(SLOTS))) { vc_store(at, lane, vc_load(out, mine)); }
        vc_barrier(k);
    }
    atomics[c->name].call(at, slot_of(c->shared ? lane : i), value, c->olds ? &old : NULL);
    if (c->olds) vc_store(before, i, old);
    if (!c->shared) return;
    vc_barrier(k);
    VC_IF(k, vc_lt(lane, vc_u32(SLOTS))) { vc_store(out, mine, vc_load(at, lane)); }
}

static uint64_t in_bits[THREADS], old_bits[THREADS];
static uint8_t in_data[THREADS * 8], out_data[GROUPS * SLOTS * 8], first_data[GROUPS * SLOTS * 8],
    before_data[THREADS * 8];

static uint64_t value_of(vc_type type, Name name, uint64_t *state) {
    uint64_t r = random_next(state);
    if (type == VC_F32 || type == VC_F64) {
        double size = (double)(r >> 11) * 0x1p-53 * 200 - 100;
        if ((name == MIN || name == MAX) && r % 97 == 0) return bits_of(type, (double)NAN);
        return bits_of(type, size);
    }
    return narrow(type, name == AND ? r | random_next(state) | random_next(state) : name == OR ? r & random_next(state)
                  & random_next(state) : r);
}

static uint64_t applied(const Case *c, uint64_t a, uint64_t b) {
    bool below = is_signed(c->type) ? widen(c->type, b) < widen(c->type, a) : b < a;
    if (is_float(c->type)) { /* floats have only MIN and MAX */
        double x = real_of(c->type, a), y = real_of(c->type, b);
        return bits_of(c->type, c->name == MIN ? fmin(x, y) : fmax(x, y));
    }
    switch (c->name) {
    case ADD: return narrow(c->type, a + b);
    case SUB: return narrow(c->type, a - b);
    case MIN: return below ? b : a;
    case MAX: return below || a == b ? a : b;
    case AND: return a & b;
    case OR: return a | b;
    default: return a ^ b;
    }
}

static int by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* An exchange permutes values: the inputs and the outputs are the same multiset. */
static bool same_values(uint64_t *in, uint64_t *out, size_t count) {
    qsort(in, count, sizeof *in, by_size);
    qsort(out, count, sizeof *out, by_size);
    return memcmp(in, out, count * sizeof *in) == 0;
}

/* Checks invocations `begin` to `end`; every SLOTS-th one accesses `slot`. */
static bool slot_right(const Case *c, size_t begin, size_t end, size_t slot, uint64_t first, uint64_t got) {
    uint64_t want = first;
    long double sum = is_float(c->type) ? (long double)real_of(c->type, first) : 0, size = fabsl(sum);
    size_t count = 0, i;
    static uint64_t went[THREADS + 1], came[THREADS + 1];
    went[count] = first;
    came[count++] = got;
    for (i = begin; i < end; i++) {
        if ((i - begin) % SLOTS != slot) continue;
        went[count] = in_bits[i];
        came[count++] = old_bits[i];
        if (c->name != EXCHANGE) want = applied(c, want, in_bits[i]);
        if (!is_float(c->type)) continue;
        sum += (c->name == SUB ? -1 : 1) * (long double)real_of(c->type, in_bits[i]);
        size += fabsl((long double)real_of(c->type, in_bits[i]));
    }
    if (c->name == EXCHANGE) {
        if (c->olds) return same_values(went, came, count);
        for (i = 1; i < count; i++) if (got == went[i]) return true;
        return false;
    }
    /* each of `count` sums has an error of half a unit of its value (Higham, Accuracy and Stability, 4.2) */
    if (is_float(c->type) && c->name <= SUB)
        return fabsl((long double)real_of(c->type, got) - sum) <= size * (long double)count
            * ldexpl(1, -mantissa_of(c->type));
    return got == want;
}

/* The old values must have been possible: for sums, the sum without the last term; for minimums, at least the final
   value. */
static bool olds_right(const Case *c, uint64_t first, uint64_t got, size_t begin, size_t end, size_t slot) {
    bool found = false;
    for (size_t i = begin; i < end; i++) {
        if ((i - begin) % SLOTS != slot) continue;
        found = found || old_bits[i] == first;
        if (c->name == MIN || c->name == MAX) {
            uint64_t both = applied(c, old_bits[i], got);
            if (both != got) return false;
        }
    }
    return found; /* one invocation came first */
}

static bool right(const Case *c) {
    size_t groups = c->shared ? GROUPS : 1, each = THREADS / groups;
    for (size_t i = 0; i < THREADS; i++) old_bits[i] = get_bits(c->type, before_data, i);
    for (size_t g = 0; g < groups; g++)
        for (size_t slot = 0; slot < SLOTS; slot++) {
            uint64_t first = get_bits(c->type, first_data, g * SLOTS + slot);
            uint64_t got = get_bits(c->type, out_data, g * SLOTS + slot);
            if (slot_right(c, g * each, (g + 1) * each, slot, first, got)
                && (!c->olds || c->name == EXCHANGE || olds_right(c, first, got, g * each, (g + 1) * each,
                                                                  slot))) continue;
            printf("  group %zu slot %zu: from %llx, got %llx\n", g, slot, (unsigned long long)first,
                   (unsigned long long)got);
            return false;
        }
    return true;
}

static void check(const Case *c) {
    char name[80];
    uint64_t state = 7;
    snprintf(name, sizeof name, "%s %s %s%s", atomics[c->name].name, vc_type_name(c->type),
             c->shared ? "shared" : "buffer", c->olds ? " old" : "");
    for (size_t i = 0; i < THREADS; i++) put_bits(c->type, in_data, i, in_bits[i] = value_of(c->type, c->name, &state));
    for (size_t i = 0; i < GROUPS * SLOTS; i++)
        put_bits(c->type, first_data, i, bits_of_number(c->type, (int)i % 5 + 1));
    for (int f = 0; f < FORMS; f++) {
        Run run = run_begin(name, f, THREADS, LOCAL, build, (void *)(uintptr_t)c);
        run_buffer(&run, c->type, THREADS, in_data, NULL);
        run_buffer(&run, c->type, GROUPS * SLOTS, first_data, out_data);
        run_buffer(&run, c->type, THREADS, in_data, before_data);
        if (run_end(&run)) run_judge(&run, right(c));
    }
}

/* ---- counters and locks ---- */

/* Each invocation increments through a compare-exchange loop: no increment is lost, and all old values differ. */
static void build_spin(void *user, vc_kernel *k) {
    vc_type type = *(vc_type *)user;
    vc_ref counter = vc_buffer(k, "counter", type, VC_READ_WRITE), ticket = vc_buffer(k, "ticket", type, VC_WRITE);
    vc_ref seen = vc_var(k, "seen", type);
    vc_val old;
    vc_atomic_load(counter, vc_u32(0), &old);
    vc_set(seen, old);
    VC_LOOP(k) {
        vc_val expected = vc_get(seen), desired = vc_add(expected, vc_cast(type, vc_u32(1)));
        vc_atomic_compare_exchange(counter, vc_u32(0), expected, desired, &old);
        vc_break_if(k, vc_eq(old, expected));
        vc_set(seen, old);
    }
    vc_store(ticket, vc_global_id(k, 0), vc_get(seen));
}

/* Each invocation writes a word, then sets a flag. If the flag of another invocation is set, its word must be
   visible. */
static void build_flags(void *user, vc_kernel *k) {
    vc_ref word = vc_buffer(k, "word", VC_U32, VC_READ_WRITE), flag = vc_buffer(k, "flag", VC_U32, VC_READ_WRITE);
    vc_ref bad = vc_buffer(k, "bad", VC_U32, VC_READ_WRITE);
    vc_val i = vc_global_id(k, 0), up, other = vc_rem(vc_add(vc_mul(i, vc_u32(37)), vc_u32(11)), vc_u32(THREADS));
    (void)user;
    vc_store(word, i, vc_add(i, vc_u32(1000)));
    vc_atomic_store(vc_ordered(flag, VC_RELEASE, VC_SCOPE_DEFAULT), i, vc_u32(1));
    vc_atomic_load(vc_ordered(flag, VC_ACQUIRE, VC_SCOPE_DEFAULT), other, &up);
    VC_IF(k, vc_and(vc_eq(up, vc_u32(1)), vc_ne(vc_load(word, other), vc_add(other, vc_u32(1000))))) {
        vc_atomic_add(bad, vc_u32(0), vc_u32(1), NULL);
    }
    vc_fence(k, VC_SCOPE_DEVICE, VC_STORAGE_BUFFER);
    vc_fence(k, VC_SCOPE_WORKGROUP, 0);
    vc_atomic_add(bad, vc_u32(1), vc_u32(1), NULL);
}

/* Sum, minimum and maximum of floats in one array, in both orders of declaration: operations that compute and
   operations that only move bits share the memory. */
static void build_mixed(void *user, vc_kernel *k) {
    vc_type type = *(vc_type *)user;
    vc_ref in = vc_buffer(k, "in", type, VC_READ), out = vc_buffer(k, "out", type, VC_READ_WRITE);
    vc_ref tile = vc_shared(k, "tile", type, 3);
    vc_val lane = vc_local_id(k, 0), value = vc_load(in, vc_global_id(k, 0)), old;
    VC_IF(k, vc_lt(lane, vc_u32(3))) { vc_store(tile, lane, vc_cast(type, vc_u32(0))); }
    vc_barrier(k);
    vc_atomic_add(tile, vc_u32(0), value, NULL);
    vc_atomic_min(tile, vc_u32(1), value, NULL);
    vc_atomic_max(tile, vc_u32(2), value, NULL);
    vc_barrier(k);
    VC_IF(k, vc_eq(lane, vc_u32(0))) {
        vc_atomic_add(out, vc_u32(0), vc_load(tile, vc_u32(0)), NULL);
        vc_atomic_min(out, vc_u32(1), vc_load(tile, vc_u32(1)), &old);
        vc_atomic_max(vc_offset(out, vc_u32(1)), vc_u32(1), vc_load(vc_offset(tile, vc_u32(2)), vc_u32(0)), NULL);
    }
}

/* Each invocation compares its own element with a computed float or its bits, and adds one if they are equal. */
static void build_compared(void *user, vc_kernel *k) {
    vc_type type = *(vc_type *)user, real = kind_width(type) == 32 ? VC_F32 : VC_F64;
    vc_ref cell = vc_buffer(k, "cell", type, VC_READ_WRITE), out = vc_buffer(k, "out", type, VC_WRITE);
    vc_val i = vc_global_id(k, 0), half = vc_imm(real, bits_of(real, 0.5)), expected = vc_mul(vc_cast(real, i), half);
    vc_val desired = vc_add(expected, half), old;
    if (type != real) { expected = vc_bitcast(type, expected); desired = vc_bitcast(type, desired); }
    vc_atomic_compare_exchange(cell, i, expected, desired, &old);
    vc_store(out, i, old);
}

static void check_compared(vc_type type) {
    static uint8_t cell[THREADS * 8], after[THREADS * 8], old[THREADS * 8];
    unsigned real = kind_width(type) == 32 ? VC_F32 : VC_F64;
    char name[40];
    snprintf(name, sizeof name, "compared %s", vc_type_name(type));
    for (int i = 0; i < THREADS; i++) put_bits(type, cell, (size_t)i, bits_of(real, i % 2 ? -1 : i * 0.5));
    for (int f = 0; f < FORMS; f++) {
        Run run = run_begin(name, f, THREADS, LOCAL, build_compared, &type);
        bool good = true;
        run_buffer(&run, type, THREADS, cell, after);
        run_buffer(&run, type, THREADS, cell, old);
        if (!run_end(&run)) continue;
        for (int i = 0; i < THREADS; i++)
            good = good && get_bits(type, after, (size_t)i) == bits_of(real, i % 2 ? -1 : i * 0.5 + 0.5)
                        && get_bits(type, old, (size_t)i) == get_bits(type, cell, (size_t)i);
        run_judge(&run, good);
    }
}

static void check_spin(vc_type type) {
    static uint8_t zero[THREADS * 8], counter[8], ticket[THREADS * 8];
    static bool taken[THREADS];
    char name[40];
    snprintf(name, sizeof name, "spin %s", vc_type_name(type));
    for (int f = 0; f < FORMS; f++) {
        Run run = run_begin(name, f, THREADS, LOCAL, build_spin, &type);
        bool good = true;
        run_buffer(&run, type, 1, zero, counter);
        run_buffer(&run, type, THREADS, zero, ticket);
        if (!run_end(&run)) continue;
        memset(taken, 0, sizeof taken);
        for (size_t i = 0; i < THREADS; i++) {
            uint64_t bits = get_bits(type, ticket, i);
            double at = is_float(type) ? real_of(type, bits) : (double)bits;
            good = good && at >= 0 && at < THREADS && !taken[(size_t)at];
            if (good) taken[(size_t)at] = true;
        }
        run_judge(&run, good && get_bits(type, counter, 0) == bits_of_number(type, THREADS));
    }
}

static void check_flags(void) {
    static uint32_t zero[THREADS], bad[2];
    for (int f = 0; f < FORMS; f++) {
        Run run = run_begin("flags", f, THREADS, LOCAL, build_flags, NULL);
        run_buffer(&run, VC_U32, THREADS, zero, NULL);
        run_buffer(&run, VC_U32, THREADS, zero, NULL);
        run_buffer(&run, VC_U32, 2, zero, bad);
        if (run_end(&run)) run_judge(&run, bad[0] == 0 && bad[1] == THREADS);
    }
}

static void check_mixed(vc_type type) {
    static uint8_t zero[24], out[24];
    char name[40];
    snprintf(name, sizeof name, "mixed %s", vc_type_name(type));
    for (int f = 0; f < FORMS; f++) {
        Run run = run_begin(name, f, THREADS, LOCAL, build_mixed, &type);
        double least = 0, most = 0, sum = 0;
        for (int i = 0; i < THREADS; i++) {
            double v = (i * 7919 % 4001 - 2000) / 4.0; /* multiples of 1/4: sums are exact */
            put_bits(type, in_data, (size_t)i, bits_of(type, v));
            least = fmin(least, v);
            most = fmax(most, v);
            sum += v;
        }
        run_buffer(&run, type, THREADS, in_data, NULL);
        run_buffer(&run, type, 3, zero, out);
        if (!run_end(&run)) continue;
        run_judge(&run, real_of(type, get_bits(type, out, 0)) == sum && real_of(type, get_bits(type, out, 1)) == least
                        && real_of(type, get_bits(type, out, 2)) == most);
    }
}

int main(int count, char **args) {
    run_open(count, args);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (int n = 0; n < NAMES; n++)
            for (int variant = 0; variant < 4 && (atomics[n].floats || !is_float(types[t])); variant++) {
                Case c = { (Name)n, types[t], variant & 1, variant > 1 };
                check(&c);
            }
        check_spin(types[t]);
        check_compared(types[t]);
    }
    check_flags();
    check_mixed(VC_F32);
    check_mixed(VC_F64);
    return run_close();
}
