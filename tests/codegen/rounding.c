/* Conversions of floats to a narrower type and back: every f16, midpoints of neighbours and numbers close to them, and
   random numbers, through every operation that only moves values. Some drivers (NVIDIA's) remove the pair of casts. To
   test this on drivers that do not, "folded" is the GLSL of the kernel with the narrow type replaced by the wide one;
   it must have the same results.
     rounding [-v] [PART]   PART: only kernels whose name contains it; -v prints each name */
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#include "../kernels.h"
#define RUN_OPENCL
#include "run.h"

enum { COUNT = 1 << 19, LOCAL = 64, LONGEST = 1 << 15 };

typedef enum Way { PLAIN, VECTOR, PARTS, SELECT, LEAST, MINUS, BITS, LOOP, LIST, SHARED, WHOLE, INTEGER, STORED, PACKED,
                   PACKED_FAST, BUFFER, WAYS }
Way;
static const char *const way_names[WAYS] = { "plain", "vector", "parts", "select", "least", "minus", "bits", "loop",
                                             "list", "shared", "whole", "integer", "stored", "packed", "packed fast",
                                             "buffer" };

typedef struct Case { Way way; vc_type from, to, back; } Case;

static union { float f32[COUNT]; double f64[COUNT]; } input[2], result; /* f32, f64 */
static double wanted[3][COUNT]; /* f32 to f16, f64 to f16, f64 to f32 */

/* ---- numbers ---- */

static double number(unsigned from, unsigned to, unsigned i, uint64_t *state) {
    uint64_t bits = random_next(state);
    double a, b;
    if (i < 1u << 16) return half_value((uint16_t)i);
    if (i >= 5u << 16) { /* random numbers, half of them in the range of the narrow type */
        a = real_of(from, from == VC_F32 ? bits & 0xffffffffu : bits);
        return i % 2 || isnan(a) ? a : ldexp((double)(int64_t)bits, (int)(random_next(state) % 60) - 90
                                             - (to == VC_F32 && i % 4 ? 120 : 0));
    }
    a = half_value((uint16_t)(i % 0x7c00));
    b = i % 0x7c00 == 0x7bff ? 65536 : half_value((uint16_t)(i % 0x7c00 + 1)); /* midpoints are exact in f32 */
    a = (a + b) / 2;
    if (to == VC_F32) a = (double)(float)a * (1 + ldexp(1, -24)); /* the midpoint of two f32 numbers */
    b = (i >> 16) % 2 ? 1e300 : 0;
    if (i >> 16 > 2) a = from == VC_F32 ? (double)nextafterf((float)a, (float)b) : nextafter(a, b);
    return i % 3 ? a : -a;
}

static void make_numbers(void) {
    uint64_t state = 5;
    for (unsigned i = 0; i < COUNT; i++) {
        unsigned kind = i * 40503u % COUNT; /* mixes the kinds, so that all occur among the first numbers */
        input[0].f32[i] = (float)number(VC_F32, VC_F16, kind, &state);
        input[1].f64[i] = number(VC_F64, i % 5 ? VC_F16 : VC_F32, kind, &state);
        wanted[0][i] = half_value(half_bits((double)input[0].f32[i]));
        wanted[1][i] = half_value(half_bits(input[1].f64[i]));
        wanted[2][i] = (double)(float)input[1].f64[i];
    }
}

/* ---- kernels ---- */

static vc_val moved(const Case *c, vc_kernel *k, vc_val x, vc_ref kept_in) {
    vc_type bits = c->to == VC_F16 ? VC_U16 : VC_U32;
    vc_val n = vc_cast(c->to, x), pair;
    vc_ref kept;
    switch (c->way) {
    case VECTOR:
        return vc_component(vc_cast(VC_VEC(c->back, 3), vc_cast(VC_VEC(c->to, 3), vc_vec3(vc_neg(x), x, x))), 1);
    case PARTS:
        pair = vc_vec2(vc_cast(c->to, vc_neg(x)), n);
        return vc_cast(c->back, vc_component(pair, 1));
    case SELECT:
        pair = vc_vec2(n, vc_cast(c->to, vc_neg(x)));
        return vc_component(vc_cast(VC_VEC(c->back, 2), vc_select(vc_lt(vc_threads(k, 0), vc_u32(5)), vc_neg(pair),
                                                                  pair)), 0);
    case LEAST: return vc_cast(c->back, vc_max(n, n));
    case MINUS: return vc_neg(vc_cast(c->back, vc_neg(n)));
    case BITS: return vc_cast(c->back, vc_bitcast(c->to, vc_bitcast(bits, n)));
    case LOOP: {
        vc_ref sum = vc_var(k, "sum", c->back);
        kept = vc_var(k, "kept", c->to);
        VC_FOR(k, i, vc_u32(0), vc_u32(2)) {
            vc_set(sum, vc_cast(c->back, vc_get(kept)));
            vc_set(kept, vc_cast(c->to, x));
        }
        return vc_get(sum);
    }
    case LIST:
        kept = vc_array(k, "kept", c->to, 2);
        vc_store(kept, vc_u32(0), n);
        vc_store(kept, vc_u32(1), vc_cast(c->to, vc_neg(x)));
        return vc_cast(c->back, vc_load(kept, vc_and(vc_threads(k, 0), vc_u32(0))));
    case WHOLE: return vc_cast(c->back, vc_floor(n)); /* drivers have these functions in f32 only */
    case INTEGER: return vc_cast(c->back, vc_cast(VC_I32, n));
    case BUFFER: /* written by the invocation itself before */
        vc_store(kept_in, vc_global_id(k, 0), n);
        return vc_cast(c->back, vc_load(kept_in, vc_global_id(k, 0)));
    case SHARED:
        kept = vc_shared(k, "kept", c->to, LOCAL);
        vc_store(kept, vc_local_index(k), n);
        return vc_cast(c->back, vc_load(kept, vc_local_index(k)));
    case STORED: return n;
    case PACKED: case PACKED_FAST: return vc_round_f16(x);
    default: return vc_cast(c->back, n);
    }
}

static void build(void *user, vc_kernel *k) {
    const Case *c = (const Case *)user;
    vc_ref in = vc_buffer(k, "x", c->from, VC_READ);
    vc_ref out = vc_buffer(k, "out", c->way == STORED ? c->to : c->back, VC_WRITE);
    vc_ref kept = out;
    if (c->way == BUFFER) kept = vc_buffer(k, "kept", c->to, VC_READ_WRITE);
    VC_EACH(k, i) { vc_store(out, i, moved(c, k, vc_load(in, i), kept)); }
}

/* ---- expected results ---- */

static double got_at(const Case *c, uint32_t i) {
    vc_type type = c->way == STORED ? c->to : c->back;
    return real_of(type, get_bits(type, &result, i));
}

static bool is_right(const Case *c, uint32_t i) {
    const double *all = wanted[c->from == VC_F32 ? 0 : c->to == VC_F16 ? 1 : 2];
    double x = c->from == VC_F32 ? (double)input[0].f32[i] : input[1].f64[i], want = all[i], got = got_at(c, i);
    if (c->way == WHOLE) want = floor(want);
    if (c->way == INTEGER)
        want = isnan(want) ? 0 : fabs(want) < 2147483648.0 ? trunc(want) : want > 0 ? 2147483647 : -2147483648.0;
    if (c->way == INTEGER && c->back == VC_F32) want = (double)(float)want;
    if (isnan(want)) return isnan(got);
    /* subnormals may be flushed */
    return got == want || (got == 0 && (is_subnormal(c->to, all[i]) || is_subnormal(c->from, x)));
}

static void judge(const Run *r, const Case *c) {
    uint32_t i = 0;
    while (i < r->threads && is_right(c, i)) i++;
    if (i < r->threads)
        printf("  %s %s: %a became %a\n", r->name, r->form->name, c->from == VC_F32 ? (double)input[0].f32[i]
               : input[1].f64[i], got_at(c, i));
    run_judge(r, i == r->threads);
}

/* ---- as if the driver removed pairs of casts ---- */

static const char *replaced(const char *text, const char *what, const char *with) {
    static char out[2][LONGEST];
    static int turn;
    char *to = out[turn ^= 1];
    size_t used = 0, size = strlen(what);
    while (*text && used + 16 < LONGEST) {
        if (strncmp(text, what, size)) { to[used++] = *text++; continue; }
        used += (size_t)snprintf(to + used, LONGEST - used, "%s", with);
        text += size;
    }
    to[used] = 0;
    return to;
}

static void run_folded(Run *r, const Case *c) {
#if defined(TESTS_HAVE_GLSLANG)
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = r->name;
    desc.local_size[0] = LOCAL;
    desc.buffers = VC_BUFFERS_BINDING;
    desc.machine = machine_with_all_types(r->form->ctx);
    vc_kernel *k = vc_begin(&desc);
    build((void *)(uintptr_t)c, k);
    const char *text = vc_source(k, VC_TARGET_GLSL), *why = text ? NULL : vc_error(k);
    const vc_info *info = vc_reflect(k);
    uint64_t lacks = info ? info->features & ~vd_device(r->form->ctx, 0)->features : 0;
    if (text && c->to == VC_F16) {
        text = replaced(text, "float16_t", "float");
        text = replaced(text, "f16vec", "vec");
    } else if (text) {
        text = replaced(text, "float(", "double(");
        text = replaced(text, "float ", "double ");
        text = replaced(text, " vec", " dvec");
    }
    if (text) why = glsl_wrong(text);
    vd_kernel made = { 0 };
    if (!why && !lacks) made = kernel_from_code(r->form->ctx, info, VD_CODE_SPIRV, glsl_words, glsl_count * 4);
    if (!why && !lacks && (!made.id || !run_dispatch(r, made))) why = vd_error_text();
    run_lacking |= lacks;
    if (why) run_fail(r, why); else if (lacks) run_skipped++; else judge(r, c);
    vd_kernel_destroy(r->form->ctx, made);
    vc_free(k);
#else
    (void)c;
    run_skipped++;
#endif
    for (int i = 0; i < r->count; i++) vd_buffer_destroy(r->form->ctx, r->buffer[i]);
}

static Run begin(const Case *c, int form, const char *name) {
    Run r = run_begin(name, form, c->way == PLAIN || c->way == STORED ? COUNT : COUNT / 8, LOCAL, build,
                      (void *)(uintptr_t)c);
    r.fast = c->way == PACKED_FAST;
    run_buffer(&r, c->from, r.threads, &input[c->from == VC_F64], NULL);
    run_buffer(&r, c->way == STORED ? c->to : c->back, r.threads, NULL, &result);
    if (c->way == BUFFER) run_buffer(&r, c->to, r.threads, NULL, NULL);
    return r;
}

static void check(const Case *c) {
    char name[96];
    snprintf(name, sizeof name, "%s to %s to %s, %s", vc_type_name(c->from), vc_type_name(c->to), vc_type_name(c->back),
             way_names[c->way]);
    for (int f = 0; f < FORMS; f++) {
        /* casts are function calls there and are never folded */
        if (forms[f].backend == VD_BACKEND_OPENCL && c->way != PLAIN && c->way < STORED) continue;
        Run r = begin(c, f, name);
        if (run_end(&r)) judge(&r, c);
        if (!forms[f].glsl || !forms[f].ctx || (run_filter && !strstr(name, run_filter))) continue;
        /* no such GLSL type, or nothing to fold */
        if (c->way == BITS || c->way >= (c->to == VC_F32 ? WHOLE : STORED)) continue;
        Form folded = forms[f];
        folded.name = "folded";
        r = begin(c, f, name);
        r.form = &folded;
        run_folded(&r, c);
    }
}

int main(int count, char **args) {
    static const Case kinds[] = { { PLAIN, VC_F32, VC_F16, VC_F32 }, { PLAIN, VC_F32, VC_F16, VC_F64 },
                                  { PLAIN, VC_F64, VC_F16, VC_F64 }, { PLAIN, VC_F64, VC_F16, VC_F32 },
                                  { PLAIN, VC_F64, VC_F32, VC_F64 } };
    make_numbers();
    run_open(count, args);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int way = 0; way < WAYS; way++) {
            Case c = kinds[i];
            c.way = (Way)way;
            if (i == 0 || c.way == PLAIN || ((c.way < PACKED || c.way == BUFFER) && c.from == c.back)) check(&c);
        }
    return run_close();
}
