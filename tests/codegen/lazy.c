/* vc_and_then, vc_or_else and vc_select_lazy: their results, and how often the operands are evaluated. Also
   vc_break_outer_if, vc_set_component, vc_vec, vc_add_with_carry, vc_sub_with_borrow and vc_as. Runs with
   buffers by address, as bindings, from GLSL, through OpenCL and in CUDA C on the host. Every evaluation adds 1 to its
   own element of `calls`, and reads memory that is valid only if the condition holds.
     lazy [-v] [PART]     PART: only cases whose name contains it; -v prints each name */
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#include "../kernels.h"
#define RUN_OPENCL
#define RUN_NVRTC
#include "run.h"
#include "host_cuda.h"

enum { ELEMENTS = 100, THREADS = 256, LOCAL = 64, ROUNDS = 3 };
typedef enum Which { AND, OR, CHAIN, LEFT, RIGHT, SIDES, IMMEDIATES, VECTOR, STRUCT, IN_LOOP,
               NESTED, COMPONENTS, PARTS, WORDS, BYTES, CASES } Which;
static const char *const names[CASES] = { "and_then", "or_else", "chain", "select a", "select b", "select both",
                                          "select immediates", "select vectors", "select structs", "in a loop",
                                          "nested loops", "components", "parts", "words", "bytes" };

/* ---- kernels ---- */

typedef struct Bench { vc_kernel *k; vc_ref x, y, calls; vc_val i, n; } Bench;

static vc_val counted(const Bench *b, vc_ref from, vc_val at) {
    vc_store(b->calls, b->i, vc_add(vc_load(b->calls, b->i), vc_u32(1)));
    return vc_load(from, at);
}

static vc_val pair_of(const Bench *b, vc_type type, vc_val first) {
    vc_val part[2] = { { 0, 0 }, { 0, 0 } };
    part[0] = first;
    part[1] = vc_vec2(first, vc_const(b->k, vc_i32(7)));
    return vc_make(b->k, type, part, 2);
}

static vc_val twice(const Bench *b) { /* an operand that is a function and records statements */
    vc_val r;
    vc_and_then(b->k, &r, vc_gt(counted(b, b->x, b->i), vc_i32(0)), vc_lt(counted(b, b->x, b->i), vc_i32(50)));
    return r;
}

/* Leaves one, two and three loops. */
static vc_val nested(const Bench *b) {
    vc_kernel *k = b->k;
    vc_ref sum = vc_var(k, "sum", VC_U32);
    VC_FOR(k, x, vc_u32(0), vc_u32(6)) {
        vc_set(sum, vc_add(vc_get(sum), vc_u32(1000)));
        VC_FOR(k, y, vc_u32(0), vc_u32(6)) {
            VC_LOOP(k) {
                vc_break_outer_if(k, 2, vc_eq(vc_rem(vc_get(sum), vc_u32(1000)), b->i));
                VC_IF(k, vc_gt(x, vc_u32(0))) { vc_break_outer_if(k, 1, vc_eq(vc_mul(x, y), vc_u32(6))); }
                vc_set(sum, vc_add(vc_get(sum), vc_u32(1)));
                vc_break_outer_if(k, 0, vc_eq(vc_rem(vc_get(sum), vc_u32(3)), vc_u32(0)));
            }
        }
    }
    return vc_cast(VC_I32, vc_get(sum));
}

static uint32_t nested_wanted(uint32_t i) {
    uint32_t sum = 0;
    for (uint32_t x = 0; x < 6; x++) {
        bool leave = false;
        sum += 1000;
        for (uint32_t y = 0; y < 6 && !leave; y++)
            for (;;) {
                if (sum % 1000 == i) return sum;
                leave = x > 0 && x * y == 6;
                if (leave) break;
                if (++sum % 3 == 0) break;
            }
    }
    return sum;
}

static vc_val components(const Bench *b) {
    vc_ref v = vc_var(b->k, "v", VC_I32X3);
    vc_set_component(v, 1, vc_cast(VC_I32, b->i));
    vc_set_component(v, 2, vc_i32(5));
    return vc_dot(vc_get(v), vc_vec(b->k, vc_i32(1), vc_i32(10), vc_i32(100)));
}

static vc_val parts(const Bench *b) {
    vc_val i = vc_cast(VC_I32, b->i), v = vc_vec(b->k, vc_vec(b->k, vc_i32(2), i), vc_i32(3), i);
    return vc_dot(v, vc_vec(b->k, vc_vec(b->k, vc_i32(1), vc_i32(10)), vc_vec(b->k, vc_i32(100), vc_i32(1000))));
}

/* The upper word of (2^32 i + 7 i - 1) + (2^32 + 2^32 - i) - (2^32 - 1), by words. */
static vc_val words(const Bench *b) {
    vc_val one = vc_const(b->k, vc_u32(1)), zero = vc_const(b->k, vc_u32(0)), carry, low, high, seven = vc_u32(7);
    low = vc_sub_with_borrow(vc_mul(b->i, seven), one, zero, &carry);
    high = vc_sub_with_borrow(b->i, zero, carry, NULL);
    low = vc_add_with_carry(low, vc_sub(zero, b->i), zero, &carry);
    high = vc_add_with_carry(high, one, carry, NULL);
    low = vc_sub_with_borrow(low, vc_u32(UINT32_MAX), zero, &carry);
    high = vc_sub_with_borrow(high, zero, carry, &carry);
    return vc_cast(VC_I32, vc_xor(vc_add(high, vc_mul(low, seven)), carry));
}

static uint32_t words_wanted(uint32_t i) {
    uint64_t a = ((uint64_t)i << 32) + (uint64_t)7 * i - 1, b = ((uint64_t)1 << 32) + (uint32_t)-i;
    uint64_t sum = a + b, difference = sum - UINT32_MAX;
    return ((uint32_t)(difference >> 32) + 7 * (uint32_t)difference) ^ (sum < UINT32_MAX);
}

/* Byte i of x, and the bits of a float that is stored where `calls` holds a u32, which is set to 0 again. */
static vc_val bytes(const Bench *b) {
    vc_ref bytes = vc_as(b->x, VC_U8), floats = vc_as(b->calls, VC_F32);
    vc_store(b->calls, b->i, vc_u32(3));
    vc_store(floats, b->i, vc_add(vc_cast(VC_F32, b->i), vc_f32(1)));
    vc_val bits = vc_load(b->calls, b->i);
    vc_store(b->calls, b->i, vc_u32(0));
    bits = vc_add(bits, vc_bitcast(VC_U32, vc_load(floats, b->i)));
    bits = vc_add(bits, vc_mul(vc_length(bytes), vc_u32(3)));
    return vc_bitcast(VC_I32, vc_add(bits, vc_cast(VC_U32, vc_load(bytes, b->i))));
}

static vc_val lazy(const Bench *b, Which which) {
    vc_kernel *k = b->k;
    vc_val inside = vc_lt(b->i, b->n), rest = vc_sub(b->i, b->n), r, s, n = vc_i32(-1);
    vc_ref sum;
    vc_member members[2] = { { "a", VC_I32 }, { "b", VC_I32X2 } };
    vc_type type;
    switch (which) {
    case AND: vc_and_then(k, &r, inside, vc_gt(counted(b, b->x, b->i), vc_i32(0))); return vc_cast(VC_I32, r);
    case OR: vc_or_else(k, &r, vc_not(inside), vc_gt(counted(b, b->x, b->i), vc_i32(0))); return vc_cast(VC_I32, r);
    case CHAIN: vc_and_then(k, &r, inside, twice(b)); return vc_cast(VC_I32, r);
    case LEFT: vc_select_lazy(k, &r, inside, counted(b, b->x, b->i), n); return r;
    case RIGHT: vc_select_lazy(k, &r, vc_not(inside), n, counted(b, b->x, b->i)); return r;
    case SIDES: vc_select_lazy(k, &r, inside, counted(b, b->x, b->i), counted(b, b->y, rest)); return r;
    case IMMEDIATES: vc_select_lazy(k, &r, inside, vc_i32(4), vc_i32(5)); return r;
    case VECTOR:
        vc_select_lazy(k, &r, inside, vc_vec2(counted(b, b->x, b->i), n), vc_splat(counted(b, b->y, rest), 2));
        return vc_add(vc_component(r, 0), vc_component(r, 1));
    case STRUCT:
        type = vc_struct(k, "pair", members, 2);
        vc_select_lazy(k, &r, inside, pair_of(b, type, counted(b, b->x, b->i)),
                       pair_of(b, type, counted(b, b->y, rest)));
        return vc_add(vc_part(r, 0), vc_component(vc_part(r, 1), 1));
    case NESTED: return nested(b);
    case COMPONENTS: return components(b);
    case PARTS: return parts(b);
    case WORDS: return words(b);
    case BYTES: return bytes(b);
    default:
        sum = vc_var(k, "sum", VC_I32);
        VC_FOR(k, j, vc_u32(0), vc_u32(ROUNDS)) {
            vc_and_then(k, &s, vc_eq(vc_rem(b->i, vc_u32(ROUNDS)), j), inside);
            vc_select_lazy(k, &r, s, counted(b, b->x, b->i), n);
            vc_set(sum, vc_add(vc_get(sum), r));
        }
        return vc_get(sum);
    }
}

static void build(void *user, vc_kernel *k) {
    Bench b;
    vc_ref out;
    b.k = k;
    b.x = vc_buffer(k, "x", VC_I32, VC_READ);
    b.y = vc_buffer(k, "y", VC_I32, VC_READ);
    b.calls = vc_buffer(k, "calls", VC_U32, VC_READ_WRITE);
    out = vc_buffer(k, "out", VC_I32, VC_WRITE);
    b.i = vc_global_id(k, 0);
    b.n = vc_length(b.x);
    vc_store(out, b.i, lazy(&b, (Which)(uintptr_t)user));
}

/* ---- expected results ---- */

static int32_t in_x[ELEMENTS], in_y[THREADS - ELEMENTS], out_data[THREADS];
static uint32_t out_calls[THREADS];

static int32_t bytes_wanted(int i) {
    float sum = (float)i + 1;
    uint32_t bits, length = sizeof in_x * 3;
    memcpy(&bits, &sum, 4);
    return (int32_t)(bits + length + ((const uint8_t *)in_x)[i]);
}

static int32_t wanted(Which which, int i, uint32_t *calls) {
    bool inside = i < ELEMENTS;
    int32_t x = inside ? in_x[i] : 0, y = inside ? 0 : in_y[i - ELEMENTS];
    *calls = which == IMMEDIATES ? 0u : which == CHAIN ? inside ? x > 0 ? 2u : 1u : 0u : which == SIDES
        || which == VECTOR || which == STRUCT ? 1u : which >= NESTED ? 0u : inside;
    switch (which) {
    case AND: return inside && x > 0;
    case OR: return !inside || x > 0;
    case CHAIN: return inside && x > 0 && x < 50;
    case LEFT: case RIGHT: return inside ? x : -1;
    case SIDES: return inside ? x : y;
    case IMMEDIATES: return inside ? 4 : 5;
    case VECTOR: return inside ? x - 1 : 2 * y;
    case STRUCT: return (inside ? x : y) + 7;
    case NESTED: return (int32_t)nested_wanted((uint32_t)i);
    case COMPONENTS: return 10 * i + 500;
    case PARTS: return 2 + 10 * i + 300 + 1000 * i;
    case WORDS: return (int32_t)words_wanted((uint32_t)i);
    case BYTES: return bytes_wanted(i);
    default: return inside ? x - ROUNDS + 1 : -ROUNDS;
    }
}

static bool right(Which which) {
    for (int i = 0; i < THREADS; i++) {
        uint32_t calls;
        int32_t want = wanted(which, i, &calls);
        if (out_data[i] == want && out_calls[i] == calls) continue;
        printf("  element %d is %d after %u calls; want %d after %u\n", i, (int)out_data[i], (unsigned)out_calls[i],
               (int)want, (unsigned)calls);
        return false;
    }
    return true;
}

/* ---- CUDA C on the host ---- */

static void put(char *block, const vc_info *info, int arg, void *at) {
    memcpy(block + info->args[arg].location, &at, sizeof at);
}

static void check_on_host(Which which) {
    vc_kernel_desc desc;
    char block[256], name[80], *text;
    const vc_info *info;
    memset(&desc, 0, sizeof desc);
    memset(block, 0, sizeof block);
    memset(out_calls, 0, sizeof out_calls);
    desc.local_size[0] = LOCAL;
    desc.name = "lazy";
    vc_kernel *k = vc_begin(&desc);
    build((void *)(uintptr_t)which, k);
    info = vc_reflect_for(k, VC_TARGET_CUDA);
    if (!info) { printf("  %s in CUDA C: %s\n", names[which], vc_error(k)); run_failed++; vc_free(k); return; }
    put(block, info, 0, in_x);
    put(block, info, 1, in_y);
    put(block, info, 2, out_calls);
    put(block, info, 3, out_data);
    for (int i = 0; i < info->implicit_count; i++) {
        uint32_t bytes_of_x = sizeof in_x, size = info->implicit[i].axis ? info->implicit[i].axis : 4;
        uint32_t value = info->implicit[i].kind == VC_IMPLICIT_LENGTH ? bytes_of_x / size : info->implicit[i].kind
            == VC_IMPLICIT_THREADS ? THREADS : 0;
        memcpy(block + info->implicit[i].offset, &value, 4);
    }
    text = (char *)malloc(strlen(vc_source(k, VC_TARGET_CUDA)) + sizeof host_cuda_runner + 200);
    strcpy(text, vc_source(k, VC_TARGET_CUDA));
    snprintf(text + strlen(text), sizeof host_cuda_runner + 200, host_cuda_runner, info->entry, info->entry,
             info->entry);
    snprintf(name, sizeof name, "run_%s", info->entry);
    void *library = host_cuda_build(text), *symbol = library ? dlsym(library, name) : NULL;
    HostCudaRun *run = NULL;
    memcpy(&run, &symbol, sizeof run);
    if (run) run(block, LOCAL, THREADS / LOCAL);
    if (run && right(which)) run_passed++;
    else { printf("  %s in CUDA C on the host: %s\n", names[which], run ? "wrong" : "does not compile"); run_failed++; }
    if (library) dlclose(library);
    free(text);
    vc_free(k);
}

int main(int count, char **args) {
    static const uint32_t zero[THREADS];
    run_open(count, args);
    bool host = system("${CXX:-g++} --version >/dev/null 2>&1") == 0;
    if (!host) printf("# reason: CUDA C not run on the host: no C++ compiler\n");
    for (int i = 0; i < ELEMENTS; i++) in_x[i] = i * 37 % 101 - 30;
    for (int i = 0; i < THREADS - ELEMENTS; i++) in_y[i] = i * 11 % 53 + 200;
    for (int which = 0; which < CASES; which++) {
        for (int f = 0; f < FORMS; f++) {
            Run run = run_begin(names[which], f, THREADS, LOCAL, build, (void *)(uintptr_t)which);
            run_buffer(&run, VC_I32, ELEMENTS, in_x, NULL);
            run_buffer(&run, VC_I32, THREADS - ELEMENTS, in_y, NULL);
            run_buffer(&run, VC_U32, THREADS, zero, out_calls);
            run_buffer(&run, VC_I32, THREADS, NULL, out_data);
            if (run_end(&run)) run_judge(&run, right((Which)which));
        }
        if (host && (!run_filter || strstr(names[which], run_filter))) check_on_host((Which)which);
    }
    return run_close();
}
