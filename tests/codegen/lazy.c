/* vc_and_then, vc_or_else and vc_select_lazy: their results, and how often the operands are evaluated. Runs with
   buffers by address, as bindings, from GLSL, through OpenCL and in CUDA C on the host. Every evaluation adds 1 to its
   own element of `calls`, and reads memory that is valid only if the condition holds.
     lazy [-v] [PART]     PART: only cases whose name contains it; -v prints each name */
#define VKDISPATCH_OPENCL
#define VKDISPATCH_IMPLEMENTATION
#define VKDISPATCH_CODEGEN_IMPLEMENTATION
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#include "../kernels.h"
#define RUN_OPENCL
#define RUN_NVRTC
#include "run.h"
#include "host_cuda.h"

enum { ELEMENTS = 100, THREADS = 256, LOCAL = 64, ROUNDS = 3 };
typedef enum Which { AND, OR, CHAIN, LEFT, RIGHT, SIDES, IMMEDIATES, VECTOR, STRUCT, IN_LOOP, CASES } Which;
static const char *const names[CASES] = { "and_then", "or_else", "chain", "select a", "select b", "select both",
                                          "select immediates", "select vectors", "select structs", "in a loop" };

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

static int32_t wanted(Which which, int i, uint32_t *calls) {
    bool inside = i < ELEMENTS;
    int32_t x = inside ? in_x[i] : 0, y = inside ? 0 : in_y[i - ELEMENTS];
    *calls = which == IMMEDIATES ? 0u : which == CHAIN ? inside ? x > 0 ? 2u : 1u : 0u : which == SIDES
        || which == VECTOR || which == STRUCT ? 1u : inside;
    switch (which) {
    case AND: return inside && x > 0;
    case OR: return !inside || x > 0;
    case CHAIN: return inside && x > 0 && x < 50;
    case LEFT: case RIGHT: return inside ? x : -1;
    case SIDES: return inside ? x : y;
    case IMMEDIATES: return inside ? 4 : 5;
    case VECTOR: return inside ? x - 1 : 2 * y;
    case STRUCT: return (inside ? x : y) + 7;
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
        uint32_t value = info->implicit[i].kind == VC_IMPLICIT_LENGTH ? ELEMENTS : info->implicit[i].kind
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
