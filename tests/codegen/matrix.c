/* Every operation on every type it supports, every conversion, every kind of memory access and every control-flow
   statement. Each is one kernel, whose SPIR-V is validated and whose GLSL is compiled, with buffers by address and as
   bindings. It runs with buffers by address; one kernel in FORM_SAMPLE also runs with buffers as bindings, and another
   one from its GLSL, unless -a or PART is given. Results are compared with an oracle on the host.

     matrix [-a] [-c] [-t] [-u] [-v] [-p N/M] [PART]
       PART        only kernels whose name contains it
       -a          all kernels in all forms, see below
       -c          CUDA C and OpenCL C only
       -p N/M      part N of M (from 0) of the kernels, to run several processes in parallel
       -t          print the table of accuracy and exit
       -u          print the largest error of each function
       -v          print each name

   CUDA C is compiled by NVRTC, and by a C++ compiler to run it on the host; it also runs on a CUDA device if there is
   one. OpenCL C runs on PoCL. Many kernels share a program. This takes as long as all other forms together, so only one
   kernel in SAMPLE is used, unless -a or PART is given.

   Tolerances. Integers, conversions and + - * of floats are exact. Subnormal operands and results may be flushed to
   zero everywhere, any NaN equals any NaN, and the sign of a zero does not matter except for atan2. The tolerances
   of all other operations are in the table `bounds`. */
#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#include "../accuracy.h"
#include "../kernels.h"
#include "../packings.h"
#include "host_cuda.h"
#include "from_code.h"
#include "nvrtc.h"
#include "opencl.h"

/* components of a buffer: a multiple of 2, 3 and 4 */
enum { COMPONENTS = 3072, RANDOM_FROM = 2304, LOCAL = 64, ROLES = 3 };

typedef struct Case Case;

struct Case {
    char name[96];
    vc_type in[ROLES], out; /* VC_NONE: no such buffer */
    vc_type param;          /* one more argument, passed by value */
    uint32_t threads;       /* 0: one per element */
    void (*build)(const Case *c, vc_kernel *k);
    /* returns false if there is no such variant, or any result is allowed */
    bool (*want)(const Case *c, size_t element, unsigned component, int variant, Wanted *w);
    const struct Op *op;
    unsigned number;        /* for use by `build` */
    const char *letters;
};

/* ---- inputs: for each kind and role, all pairs of special values, then random numbers ---- */

static const double float_specials[] = {
    0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, 0.75, 1.5, -2.5, 3.5, 10, -7, 100, 1e-3, (double)INFINITY, -(double)INFINITY,
        (double)NAN,
    11.5, 89.25, 127.5, 255.5, 4096, -32769, 2147483648.0, -2147483648.0, 1e10, 1e19, -1e19
};
enum { FLOAT_SPECIALS = sizeof float_specials / sizeof float_specials[0], SPECIALS = FLOAT_SPECIALS + 6 };

static uint8_t inputs[13][ROLES][COMPONENTS * 8] __attribute__((aligned(32)));

static uint64_t special_of(unsigned kind, unsigned i) {
    static const int64_t ints[] = { 0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, 127, 128, 255, -1, -2, -3, -7,
                                    -16, -100, -128 };
    if (kind == VC_BOOL) return i & 1;
    if (is_float(kind)) {
        if (i < FLOAT_SPECIALS) return bits_of(kind, float_specials[i]);
        double least = ldexp(1, lowest_of(kind));
        double most = ldexp(2 - ldexp(1, 1 - mantissa_of(kind)), 1 - lowest_of(kind));
        const double edge[6] = { least, -least, least / 8, -least / 2, most, -most };
        return bits_of(kind, edge[i - FLOAT_SPECIALS]);
    }
    if (i < sizeof ints / sizeof ints[0]) return narrow(kind, (uint64_t)ints[i]);
    uint64_t top = UINT64_C(1) << (kind_width(kind) - 1);
    const uint64_t edge[5] = { top, top - 1, top + 1, top >> 1, ~(top >> 1) };
    return narrow(kind, i % 2 ? edge[i / 2 % 5] : edge[i / 2 % 5] ^ UINT64_C(0x5a5a5a5a5a5a5a5a));
}

static uint64_t random_of(unsigned kind, uint64_t *state) {
    uint64_t r = random_next(state);
    if (kind == VC_BOOL) return r & 1;
    if (!is_float(kind)) return narrow(kind, r % 3 == 0 ? r >> 40 & 0xff : r >> 3);
    double size = (double)(r >> 11) * ldexp(1, -53) * 2 - 1;
    int spread = kind == VC_F16 ? 4 : 8;
    return bits_of(kind, r % 4 == 0 ? size : ldexp(size, (int)(random_next(state) % (unsigned)(2 * spread)) - spread));
}

static void make_inputs(void) {
    uint64_t state = 1;
    for (unsigned kind = VC_BOOL; kind <= VC_F64; kind++)
        for (unsigned role = 0; role < ROLES; role++)
            for (unsigned i = 0; i < COMPONENTS; i++) {
                unsigned pick = role == 0 ? i % SPECIALS : role == 1 ? i / SPECIALS % SPECIALS
                    : (i * 7 + i / SPECIALS * 3) % SPECIALS;
                put_bits(kind, inputs[kind][role], i, i < RANDOM_FROM ? special_of(kind, pick)
                         : random_of(kind, &state));
            }
}

static uint64_t input(const Case *c, unsigned role, size_t element, unsigned component) {
    unsigned kind = kind_of(c->in[role]), rows = rows_of(c->in[role]);
    return get_bits(kind, inputs[kind][role], element * rows + component);
}

/* ---- expected results of operations ---- */

/* ---- the accuracy table of the manual: printed by -t, and compared with the header ---- */

static void put_bound(char *text, size_t size, const double *n, Shape shape) {
    static const char *const units[] = { "", "", " (1 + |y| + |y log2 x|)", " (1 + |r| + r^2)", " of cosh" };
    size_t used = 0;
    int power;
    text[0] = 0;
    if (n[0] > 0) used += (size_t)snprintf(text, size, "%g", n[0]);
    if (n[1] > 0) used += (size_t)snprintf(text + used, size - used, "%s%g |x|", used ? " + " : "", n[1]);
    if (n[2] <= 0) return;
    if (n[2] < 1)
        (void)frexp(n[2], &power), snprintf(text + used, size - used, "%s2^%d%s", used ? " + " : "", power - 1,
                                            units[shape]);
    else snprintf(text + used, size - used, "%s%g%s", used ? " + " : "", n[2], units[shape]);
}

static void put_row(char *text, size_t size, const Bound *b) {
    char f16[64], f32[64], f64[64];
    put_bound(f16, sizeof f16, b->f16, b->shape);
    put_bound(f32, sizeof f32, b->f32, b->shape);
    put_bound(f64, sizeof f64, b->f64, b->shape);
    snprintf(text, size, "       %-10s  %-30s  %-30s  %-4s  ", ops[b->op].name, f16, f32, f64);
    if (b->opencl > 0) snprintf(text + strlen(text), size - strlen(text), "%g", b->opencl);
    else snprintf(text + strlen(text), size - strlen(text), "as f32");
}

static bool manual_is_right(void) {
    static char header[2000], row[200];
    char *manual = NULL;
    size_t size = 0, capacity = 0;
    FILE *file = fopen("vkdispatch_codegen.h", "rb");
    while (file && fgets(header, sizeof header, file)) {
        size_t length = strlen(header);
        if (size + length >= capacity) manual = (char *)realloc(manual, capacity = 2 * (size + length) + 100000);
        memcpy(manual + size, header, length + 1);
        size += length;
        if (!strncmp(header, "#ifndef", 7)) break; /* the end of the manual */
    }
    if (file) fclose(file);
    bool right = manual != NULL;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        put_row(row, sizeof row, &bounds[i]);
        if (manual && strstr(manual, row)) continue;
        if (right) printf("  the manual's table of accuracy is not the one that is tested; matrix -t prints it\n");
        right = false;
    }
    free(manual);
    return right;
}

static void print_table(void) {
    char row[200];
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        put_row(row, sizeof row, &bounds[i]);
        puts(row);
    }
}

/* Largest errors of SPIR-V and GLSL in units in the last place of normal results; `-u` prints them. */
static double worst[O_COUNT][3];
static void note_error(const Case *c, double got, const Wanted *w) {
    unsigned kind = kind_of(c->out);
    if (is_opencl || !c->op || !is_float(kind) || isnan(w->real) || isinf(w->real) || isinf(got) || fabsl(w->real)
        < ldexpl(1, lowest_of(kind))) return;
    double error = (double)(fabsl((long double)got - w->real) / unit_of(kind, w->real));
    double *most = &worst[c->op->id][kind - VC_F16];
    if (error > *most) *most = error;
}
static void print_errors(void) {
    printf("largest errors in ulp: f16, f32, f64\n");
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        const double *w = worst[bounds[i].op];
        printf("  %-10s %8.3f %8.3f %8.3f\n", ops[bounds[i].op].name, w[0], w[1], w[2]);
    }
}

static bool want_op(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned kind = kind_of(c->in[0]);
    uint64_t x[3] = { 0, 0, 0 };
    double v[3] = { 0, 0, 0 };
    for (unsigned i = 0; i < (unsigned)c->op->arity; i++) {
        x[i] = input(c, i, element, rows_of(c->in[i]) == 1 ? 0 : component);
        if (is_float(kind)) v[i] = real_of(kind, x[i]);
    }
    if (is_float(kind)) return want_float(c->op->id, kind, v, variant, w);
    w->bits = narrow(c->op->result == B ? VC_BOOL : kind, want_int(c->op->id, kind, x[0], x[1], x[2]));
    return variant == 0;
}

/* ---- builders ---- */

typedef struct Io { vc_ref in[ROLES], out; vc_val param; } Io;

static Io declare(const Case *c, vc_kernel *k) {
    static const char *const names[ROLES] = { "a", "b", "c" };
    Io io;
    memset(&io, 0, sizeof io);
    for (int i = 0; i < ROLES; i++)
        if (c->in[i]) io.in[i] = vc_buffer(k, names[i], c->in[i], VC_READ);
    io.out = vc_buffer(k, "out", c->out, VC_WRITE);
    if (c->param) io.param = vc_param(k, "p", c->param);
    return io;
}

static void build_op(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) {
        vc_val a = vc_load(io.in[0], i), b = { 0, 0 }, d = { 0, 0 }, r;
        if (c->op->arity > 1) b = vc_load(io.in[1], i);
        if (c->op->arity > 2) d = vc_load(io.in[2], i);
        r = c->op->f1 ? c->op->f1(a) : c->op->f2 ? c->op->f2(a, b) : c->op->f3(a, b, d);
        vc_store(io.out, i, r);
    }
}

/* number: offset and count from operands, or one of several constants */
static const struct { uint32_t offset, count; } fields[] = {
    { 0, 0 }, { 0, 5 }, { 3, 4 }, { 7, 1 }, { 5, 60 }, { 0, 64 }, { 31, 1 }, { 15, 1 }
};
enum { FIELDS = sizeof fields / sizeof fields[0] };
static void build_field(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) {
        vc_val a = vc_load(io.in[0], i), b = vc_load(io.in[1], i), at = vc_load(io.in[2], i);
        vc_val count = vc_shr(at, vc_u32(1));
        if (c->number < FIELDS) {
            at = vc_u32(fields[c->number].offset);
            count = vc_u32(fields[c->number].count);
        }
        vc_store(io.out, i, c->letters ? vc_bitfield_extract(a, at, count) : vc_bitfield_insert(a, b, at, count));
    }
}
static bool want_field(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned kind = kind_of(c->in[0]), width = kind_width(kind);
    uint64_t a = input(c, 0, element, component), b = input(c, 1, element, component);
    uint64_t at = input(c, 2, element, rows_of(c->in[2]) == 1 ? 0 : component), mask;
    uint64_t count = at >> 1;
    if (c->number < FIELDS) { at = fields[c->number].offset; count = fields[c->number].count; }
    at &= width - 1;
    if (count > width - at) count = width - at;
    mask = (count < 64 ? (UINT64_C(1) << count) - 1 : ~UINT64_C(0)) << at;
    if (c->letters) w->bits = narrow(kind, want_int(O_bitfield_extract, kind, a, at, count));
    else w->bits = narrow(kind, (a & ~mask) | (b << at & mask));
    return variant == 0;
}

static void build_cast(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) { vc_store(io.out, i, vc_cast(c->out, vc_load(io.in[0], i))); }
}
static bool want_cast(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned from = kind_of(c->in[0]), to = kind_of(c->out);
    uint64_t a = input(c, 0, element, rows_of(c->in[0]) == 1 ? 0 : component);
    if (variant > 1 || (variant == 1 && !is_float(from))) return false;
    if (variant == 1) a = bits_of(from, flushed(from, real_of(from, a)));
    w->bits = cast_bits(from, to, a);
    w->slack = 0;
    if (is_float(to)) w->real = (long double)real_of(to, w->bits);
    return true;
}

static void build_bitcast(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) { vc_store(io.out, i, vc_bitcast(c->out, vc_load(io.in[0], i))); }
}
/* Float results with arbitrary bits may be flushed if subnormal, and NaN payloads may change. */
static bool want_bits(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned from = kind_of(c->in[0]), to = kind_of(c->out);
    uint64_t a = input(c, 0, element, component);
    if (is_float(from) && (isnan(real_of(from, a)) || is_subnormal(from, real_of(from, a)))) return false;
    w->bits = a;
    w->slack = 0;
    if (is_float(to)) w->real = (long double)real_of(to, a);
    return variant == 0;
}

/* ---- vectors: constructors, components, swizzles ---- */

/* number: 0 from components, 1 splat, 2 insert, 3 components in reverse order */
static void build_vector(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    unsigned rows = rows_of(c->out);
    VC_EACH(k, i) {
        vc_val v = vc_load(io.in[0], i), x[4], r;
        for (unsigned j = 0; j < rows; j++) x[j] = vc_component(v, c->number == 3 ? rows - 1 - j : j);
        if (c->number == 1) r = vc_splat(x[0], rows);
        else if (c->number == 2) r = vc_insert(v, rows - 1, x[0]);
        else r = rows == 2 ? vc_vec2(x[0], x[1]) : rows == 3 ? vc_vec3(x[0], x[1], x[2])
            : vc_vec4(x[0], x[1], x[2], x[3]);
        vc_store(io.out, i, r);
    }
}
/* component of the first input, unchanged */
static bool want_component(const Case *c, size_t element, unsigned component, Wanted *w) {
    unsigned kind = kind_of(c->out);
    uint64_t a = input(c, 0, element, component);
    w->bits = a;
    w->slack = 0;
    if (is_float(kind)) w->real = (long double)real_of(kind, a);
    return true;
}
static bool want_vector(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned rows = rows_of(c->out);
    unsigned from[4] = { component, 0, component == rows - 1 ? 0 : component, rows - 1 - component };
    return variant == 0 && want_component(c, element, from[c->number], w);
}

static void build_swizzle(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) { vc_store(io.out, i, vc_swizzle(vc_load(io.in[0], i), c->letters)); }
}
static bool want_swizzle(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    return variant == 0 && want_component(c, element, (unsigned)(strchr("xyzw", c->letters[component]) - "xyzw"), w);
}

static void build_extract(const Case *c, vc_kernel *k) { /* out of bounds: element 0 */
    Io io = declare(c, k);
    VC_EACH(k, i) {
        vc_store(io.out, i, vc_extract(vc_load(io.in[0], i),
                                       vc_rem(vc_cast(c->number, i), vc_cast(c->number, vc_u32(5)))));
    }
}
static bool want_extract(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned at = (unsigned)(element & (kind_width(c->number) == 8 ? 255 : 65535)) % 5, rows = rows_of(c->in[0]);
    if (kind_width(c->number) == 8 && is_signed(c->number)) {
        int r = (int8_t)element % 5;
        at = r < 0 ? 99 : (unsigned)r;
    }
    return variant == 0 && component == 0 && want_component(c, element, at < rows ? at : 0, w);
}

static void build_select(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) { vc_store(io.out, i, vc_select(vc_load(io.in[2], i), vc_load(io.in[0], i), vc_load(io.in[1], i))); }
}
static bool want_select(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned kind = kind_of(c->out);
    uint64_t on = input(c, 2, element, rows_of(c->in[2]) == 1 ? 0 : component);
    uint64_t x = input(c, on ? 0 : 1, element, component);
    w->bits = x;
    w->slack = 0;
    if (is_float(kind)) w->real = (long double)real_of(kind, x);
    return variant == 0;
}

static void build_any_all(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) { vc_val v = vc_load(io.in[0], i); vc_store(io.out, i, c->number ? vc_all(v) : vc_any(v)); }
}
static bool want_any_all(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned on = 0, rows = rows_of(c->in[0]);
    for (unsigned j = 0; j < rows; j++) on += input(c, 0, element, j) != 0;
    w->bits = c->number ? on == rows : on != 0;
    return variant == 0 && component == 0;
}

static void build_dot(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) { vc_store(io.out, i, vc_dot(vc_load(io.in[0], i), vc_load(io.in[1], i))); }
}
static bool want_dot(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned kind = kind_of(c->out), rows = rows_of(c->in[0]);
    double x[4], y[4];
    uint64_t bits = 0;
    if (variant || component) return false;
    for (unsigned j = 0; j < rows; j++) {
        uint64_t a = input(c, 0, element, j), b = input(c, 1, element, j);
        bits += a * b;
        if (is_float(kind)) { x[j] = real_of(kind, a); y[j] = real_of(kind, b); }
    }
    w->bits = narrow(kind, bits);
    return !is_float(kind) || want_sum(kind, rows, x, y, w);
}

/* ---- memory ---- */

static size_t elements_of(vc_type t) { return COMPONENTS / rows_of(t); }
static bool unchanged(const Case *c, size_t element, unsigned component, Wanted *w) {
    return want_component(c, element, component, w);
}

static void build_offsets(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) {
        vc_ref from = vc_offset(vc_offset(vc_offset(io.in[0], vc_i32(-2)), vc_rem(i, vc_u32(3))), vc_u64(3));
        vc_store(vc_offset(io.out, vc_u32(2)), i, vc_load(from, vc_cast(VC_I64, i)));
    }
}
static bool want_offsets(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    if (element < 2 || element >= c->threads + 2 || variant) return false;
    return unchanged(c, element - 2 + 1 + (element - 2) % 3, component, w);
}

static void build_shared(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    vc_ref tile = vc_shared(k, "tile", c->out, LOCAL);
    vc_val at = vc_local_id(k, 0), i = vc_global_id(k, 0);
    vc_store(tile, at, vc_load(io.in[0], i));
    vc_barrier(k);
    vc_store(io.out, i, vc_load(tile, vc_sub(vc_u32(LOCAL - 1), at)));
}
static bool want_shared(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    return variant == 0 && unchanged(c, element / LOCAL * LOCAL + (LOCAL - 1 - element % LOCAL), component, w);
}

static void build_array(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) {
        vc_ref array = vc_array(k, "array", c->out, 4);
        for (uint32_t j = 0; j < 4; j++) vc_store(array, vc_u32(j), vc_load(vc_offset(io.in[0], vc_u32(j)), i));
        vc_store(io.out, i, vc_load(vc_offset(array, vc_u32(1)), vc_and(vc_add(i, i), vc_u32(2))));
    }
}
static bool want_array(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    if (element >= c->threads || variant) return false;
    return unchanged(c, element + 1 + (element * 2 & 2), component, w);
}

static void build_table(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    unsigned rows = rows_of(c->out), kind = kind_of(c->out);
    uint8_t data[7 * 4 * 8];
    for (size_t j = 0; j < 7 * rows; j++) put_bits(kind, data, j, get_bits(kind, inputs[kind][0], j));
    vc_ref table = vc_table(k, "table", c->out, data, 7);
    VC_EACH(k, i) { vc_store(io.out, i, vc_load(table, vc_rem(i, vc_u32(7)))); }
}
static bool want_table(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    return variant == 0 && unchanged(c, element % 7, component, w);
}

static void build_var(const Case *c, vc_kernel *k) { /* a variable is zero each time control reaches it */
    Io io = declare(c, k);
    VC_EACH(k, i) {
        vc_ref last = vc_var(k, NULL, c->out);
        VC_FOR(k, j, vc_u32(0), vc_u32(3)) {
            vc_ref v = vc_var(k, "v", c->out);
            VC_IF(k, vc_eq(vc_rem(vc_add(i, j), vc_u32(3)), vc_u32(1))) { vc_set(v, vc_load(io.in[0], i)); }
            vc_set(last, vc_get(v));
        }
        vc_store(io.out, i, vc_get(last));
    }
}
static bool want_var(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    if (variant || !unchanged(c, element, component, w)) return false;
    if ((element + 2) % 3 != 1) { w->bits = 0; w->real = 0; }
    return true;
}

static void build_param(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) { vc_store(io.out, i, vc_select(vc_lt(i, vc_u32(100)), io.param, vc_load(io.in[0], i))); }
}
/* the parameter has the value of the first element */
static bool want_param(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    return variant == 0 && unchanged(c, element < 100 ? 0 : element, component, w);
}

static void build_load_or(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) {
        vc_val even = vc_eq(vc_and(i, vc_u32(1)), vc_u32(0));
        vc_store(io.out, i, vc_load_or(io.in[0], vc_select(even, i, vc_u32(0x3fffffff)), even, io.param));
    }
}
static bool want_load_or(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    return variant == 0 && unchanged(c, element & 1 ? 0 : element, component, w);
}

/* ---- control flow and invocation ids: the oracle is a function of the index and two inputs ---- */

static uint32_t u32_in(const Case *c, unsigned role, size_t element) { return (uint32_t)input(c, role, element, 0); }
static bool expect_bits(Wanted *w, int variant, uint64_t x) { w->bits = x; return variant == 0; }

/* VC_FOR over a[i] … b[i] with a constant step of any type, or step c[i]. Stores the number of iterations (40 at
   most) and the sum of the counter. */
static const int64_t for_steps[] = { 1, 2, 3, 7, 100, 0, -1, -2, -5, -100 };
enum { STEP_OF_INPUT = sizeof for_steps / sizeof for_steps[0] };
static void build_for(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) {
        vc_val step = c->number == STEP_OF_INPUT ? vc_load(io.in[2], i) : vc_i32((int32_t)for_steps[c->number]);
        vc_ref sum = vc_var(k, "sum", VC_U32), rounds = vc_var(k, "rounds", VC_U32);
        VC_FOR_STEP(k, j, vc_load(io.in[0], i), vc_load(io.in[1], i), step) {
            vc_break_if(k, vc_ge(vc_get(rounds), vc_u32(40)));
            vc_set(rounds, vc_add(vc_get(rounds), vc_u32(1)));
            vc_continue_if(k, vc_eq(vc_and(vc_get(rounds), vc_u32(7)), vc_u32(5)));
            vc_set(sum, vc_add(vc_mul(vc_get(sum), vc_u32(31)), vc_cast(VC_U32, j)));
        }
        vc_store(io.out, i, vc_add(vc_mul(vc_get(sum), vc_u32(64)), vc_get(rounds)));
    }
}
static bool want_for(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned kind = kind_of(c->in[0]);
    uint64_t a = input(c, 0, element, component), b = input(c, 1, element, component);
    uint64_t step = c->number == STEP_OF_INPUT ? input(c, 2, element, component) : (uint64_t)for_steps[c->number];
    bool down = (c->number != STEP_OF_INPUT || is_signed(c->in[2]))
        && (c->number == STEP_OF_INPUT ? widen(c->in[2], step) : (int64_t)step) < 0;
    uint32_t sum = 0, rounds = 0;
    for (;;) {
        bool below = is_signed(kind) ? widen(kind, a) < widen(kind, b) : a < b;
        if (!(step && !down ? below : step && !below && a != b) || rounds >= 40) break;
        rounds++;
        if ((rounds & 7) != 5) sum = sum * 31 + (uint32_t)(uint64_t)widen(kind, a);
        uint64_t next = narrow(kind, a + step); /* no next value beyond the range of the type */
        bool forward = is_signed(kind) ? widen(kind, next) > widen(kind, a) : next > a;
        if (forward != !down) break;
        a = next;
    }
    return expect_bits(w, variant, (uint32_t)(sum * 64 + rounds));
}

/* Random chains of add-with-carry and similar operations on words. Targets that compute 64 bits at once must agree
   with the word-by-word result. Each step makes one or two values from earlier ones, mostly from the latest. */
enum { CHAINS = 40, CHAIN_STEPS = 24, CHAIN_VALUES = 3 + 2 * CHAIN_STEPS };
typedef struct ChainStep { unsigned what, a, b; } ChainStep;
static ChainStep chain_step(uint32_t *seed, unsigned values) {
    unsigned r[4];
    for (int i = 0; i < 4; i++) { *seed = *seed * 1664525u + 1013904223u; r[i] = *seed >> 16; }
    unsigned near = values < 6 ? values : 6;
    ChainStep s = { r[0] % 9, values - 1 - r[1] % near, r[3] % 3 ? values - 1 - r[2] % near : r[2] % values };
    return s;
}
static void build_chain(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) {
        vc_val v[CHAIN_VALUES], sum = vc_const(k, vc_u32(0));
        uint32_t seed = c->number;
        unsigned n = 0;
        while (n < 3) { v[n] = vc_load(io.in[n], i); n++; }
        for (unsigned j = 0; j < CHAIN_STEPS; j++) {
            ChainStep s = chain_step(&seed, n);
            vc_val a = v[s.a], b = v[s.b];
            if (s.what < 3) { v[n++] = vc_add(a, b); v[n++] = vc_add_carry(a, b); }
            else if (s.what == 3) { v[n++] = vc_sub(a, b); v[n++] = vc_sub_borrow(a, b); }
            else if (s.what == 4) { v[n++] = vc_mul_hi(a, b); v[n++] = vc_mul(a, b); }
            else v[n++] = s.what == 5 ? vc_add(a, b) : s.what == 6 ? vc_or(a, b) : s.what == 7 ? vc_xor(b, a)
                : vc_and(a, vc_u32(1));
        }
        for (unsigned j = 0; j < n; j++) sum = vc_add(vc_mul(sum, vc_u32(31)), v[j]);
        vc_store(io.out, i, sum);
    }
}
static bool want_chain(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    uint32_t v[CHAIN_VALUES], sum = 0, seed = c->number;
    unsigned n = 0;
    while (n < 3) { v[n] = (uint32_t)input(c, n, element, component); n++; }
    for (unsigned j = 0; j < CHAIN_STEPS; j++) {
        ChainStep s = chain_step(&seed, n);
        uint64_t a = v[s.a], b = v[s.b];
        if (s.what < 3) { v[n++] = (uint32_t)(a + b); v[n++] = (uint32_t)((a + b) >> 32); }
        else if (s.what == 3) { v[n++] = (uint32_t)(a - b); v[n++] = a < b; }
        else if (s.what == 4) { v[n++] = (uint32_t)(a * b >> 32); v[n++] = (uint32_t)(a * b); }
        else v[n++] = (uint32_t)(s.what == 5 ? a + b : s.what == 6 ? a | b : s.what == 7 ? a ^ b : a & 1);
    }
    for (unsigned j = 0; j < n; j++) sum = sum * 31 + v[j];
    return expect_bits(w, variant, sum);
}

static void build_if(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) {
        vc_val a = vc_load(io.in[0], i), b = vc_load(io.in[1], i);
        vc_ref v = vc_var(k, "v", VC_U32);
        VC_IF(k, vc_lt(a, b)) {
            vc_set(v, vc_sub(b, a));
            VC_IF(k, vc_gt(vc_get(v), vc_u32(5))) { vc_set(v, vc_mul(vc_get(v), vc_u32(3))); }
            VC_ELSE(k) {
                VC_IF(k, vc_bool(true)) { vc_set(v, vc_add(vc_get(v), vc_u32(100))); }
                VC_ELSE(k) { vc_set(v, vc_u32(1)); }
            }
        }
        VC_ELSE(k) {
            VC_IF(k, vc_eq(a, b)) { vc_set(v, vc_u32(7)); }
        }
        vc_store(io.out, i, vc_get(v));
    }
}
static bool want_if(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    uint32_t a = u32_in(c, 0, element), b = u32_in(c, 1, element), v = b - a;
    (void)component;
    return expect_bits(w, variant, a < b ? (v > 5 ? v * 3 : v + 100) : a == b ? 7 : 0);
}

/* Collatz steps with a limit; a nested loop with two exits and a continue */
static void build_loop(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) {
        vc_ref n = vc_var(k, "n", VC_U32), count = vc_var(k, "count", VC_U32);
        vc_set(n, vc_and(vc_load(io.in[0], i), vc_u32(0xffff)));
        VC_LOOP(k) {
            vc_break_if(k, vc_le(vc_get(n), vc_u32(1)));
            vc_set(count, vc_add(vc_get(count), vc_u32(1)));
            VC_IF(k, vc_eq(vc_and(vc_get(n), vc_u32(1)), vc_u32(0))) {
                vc_set(n, vc_shr(vc_get(n), vc_u32(1)));
                vc_continue_if(k, vc_bool(true));
                vc_set(n, vc_u32(12345));
            }
            VC_IF(k, vc_gt(vc_get(count), vc_u32(60))) { vc_break_if(k, vc_bool(true)); }
            vc_set(n, vc_add(vc_mul(vc_get(n), vc_u32(3)), vc_u32(1)));
        }
        vc_store(io.out, i, vc_add(vc_mul(vc_get(count), vc_u32(1000)), vc_get(n)));
    }
}
static bool want_loop(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    uint32_t n = u32_in(c, 0, element) & 0xffff, count = 0;
    (void)component;
    for (;;) {
        if (n <= 1) break;
        count++;
        if ((n & 1) == 0) { n >>= 1; continue; }
        if (count > 60) break;
        n = n * 3 + 1;
    }
    return expect_bits(w, variant, (uint32_t)(count * 1000 + n));
}

static void build_nest(const Case *c, vc_kernel *k) { /* exits of the inner loop do not affect the outer one */
    Io io = declare(c, k);
    VC_EACH(k, i) {
        vc_ref sum = vc_var(k, "sum", VC_U32);
        vc_val a = vc_and(vc_load(io.in[0], i), vc_u32(15));
        VC_FOR(k, x, vc_u32(0), a) {
            VC_FOR(k, y, x, vc_u32(20)) {
                vc_break_if(k, vc_gt(vc_add(x, y), vc_u32(17)));
                VC_SWITCH(k, vc_and(y, vc_u32(3))) {
                    VC_CASE(k, 1) {
                        vc_continue_if(k, vc_eq(x, vc_u32(2)));
                        vc_set(sum, vc_add(vc_get(sum), vc_u32(1)));
                    }
                    VC_CASE(k, 2) {
                        VC_LOOP(k) { vc_set(sum, vc_add(vc_get(sum), vc_u32(100))); vc_break_if(k, vc_bool(true)); }
                    }
                }
                vc_set(sum, vc_add(vc_get(sum), y));
            }
            vc_set(sum, vc_xor(vc_get(sum), vc_shl(x, vc_u32(8))));
        }
        vc_return_if(k, vc_eq(a, vc_u32(3)));
        vc_store(io.out, i, vc_get(sum));
    }
}
static bool want_nest(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    uint32_t a = u32_in(c, 0, element) & 15, sum = 0;
    (void)component;
    for (uint32_t x = 0; x < a; x++) {
        for (uint32_t y = x; y < 20; y++) {
            if (x + y > 17) break;
            if ((y & 3) == 1) { if (x == 2) continue; sum++; }
            if ((y & 3) == 2) sum += 100;
            sum += y;
        }
        sum ^= x << 8;
    }
    return a != 3 && expect_bits(w, variant, sum);
}

static const int64_t switch_values[] = { 0, 1, 5, 127, 100, 64 };
/* number: with or without a default; cases at both ends of the range of the type */
static void build_switch(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    unsigned kind = kind_of(c->in[0]);
    VC_EACH(k, i) {
        vc_ref v = vc_var(k, "v", VC_U32);
        VC_SWITCH(k, vc_load(io.in[0], i)) {
            for (int j = 0; j < 6; j++) VC_CASE(k, switch_values[j]) { vc_set(v, vc_u32((uint32_t)j + 10)); }
            if (is_signed(kind)) VC_CASE(k, widen(kind, UINT64_C(1) << (kind_width(kind) - 1))) {
                vc_set(v, vc_u32(99));
            }
            if (c->number) VC_DEFAULT(k) { vc_set(v, vc_u32(1)); }
        }
        vc_store(io.out, i, vc_get(v));
    }
}
static bool want_switch(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned kind = kind_of(c->in[0]);
    int64_t x = widen(kind, input(c, 0, element, component));
    for (uint32_t j = 0; j < 6; j++) if (x == switch_values[j]) return expect_bits(w, variant, j + 10);
    if (is_signed(kind) && x == widen(kind, UINT64_C(1) << (kind_width(kind) - 1))) return expect_bits(w, variant, 99);
    return expect_bits(w, variant, c->number ? 1 : 0);
}

static void build_places(const Case *c, vc_kernel *k) { /* number: which id */
    Io io = declare(c, k);
    vc_val i = vc_global_id(k, 0), r;
    switch (c->number) {
    case 0: r = vc_local_id(k, 0); break;
    case 1: r = vc_group_id(k, 0); break;
    case 2: r = vc_local_index(k); break;
    case 3: r = vc_local_size(k, 0); break;
    case 4: r = vc_groups(k, 0); break;
    case 5: r = vc_threads(k, 0); break;
    case 6: r = vc_length(io.in[0]); break;
    case 7: r = vc_shape(io.in[0], 0); break;
    case 8: r = vc_shape(io.in[0], 1); break;
    case 9: r = vc_add(vc_shape(io.in[0], 2), vc_mul(vc_groups(k, 1), vc_u32(10))); break;
    default: r = vc_add(vc_add(vc_global_id(k, 1), vc_group_id(k, 2)), vc_local_id(k, 1)); break;
    }
    VC_IF(k, vc_lt(i, vc_length(io.out))) { vc_store(io.out, i, r); }
}
static bool want_places(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    size_t all = elements_of(c->in[0]);
    const uint64_t right[] = { element % LOCAL, element / LOCAL, element % LOCAL, LOCAL, all / LOCAL, all, all, all / 8,
                               8, 11, 0 };
    (void)component;
    return expect_bits(w, variant, right[c->number]);
}

static void build_each(const Case *c, vc_kernel *k) { /* 1000 threads: the rest of the last workgroup is inactive */
    Io io = declare(c, k);
    VC_EACH3(k, x, y, z) { vc_store(io.out, x, vc_add(vc_add(x, vc_threads(k, 0)), vc_add(y, z))); }
}
static bool want_each(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    (void)component;
    return expect_bits(w, variant, element < c->threads ? element + c->threads : 0xcdcdcdcd);
}

/* a sum over the workgroup: barriers inside a loop with a uniform number of iterations */
static void build_uniform(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    vc_ref tile = vc_shared(k, "tile", VC_U32, LOCAL);
    vc_val at = vc_local_id(k, 0), i = vc_global_id(k, 0);
    vc_store(tile, at, vc_load(io.in[0], i));
    VC_FOR(k, j, vc_u32(0), vc_u32(6)) {
        vc_val width = vc_shr(vc_u32(LOCAL / 2), j);
        vc_barrier(k);
        VC_IF(k, vc_lt(at, width)) { vc_store(tile, at, vc_add(vc_load(tile, at), vc_load(tile, vc_add(at, width)))); }
    }
    vc_barrier(k);
    vc_store(io.out, i, vc_load(tile, vc_u32(0)));
}
static bool want_uniform(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    uint32_t sum = 0;
    (void)component;
    for (size_t j = element / LOCAL * LOCAL, end = j + LOCAL; j < end; j++) sum += u32_in(c, 0, j);
    return expect_bits(w, variant, sum);
}

/* ---- running ---- */

typedef struct Form { const char *name; vc_buffers buffers; bool glsl; vd_context *ctx; } Form;
enum { FORMS = 3, SAMPLE = 8, FORM_SAMPLE = 4 };
/* Features to disable: each is available natively in one form (if the device has it), and replaced by other
   operations in the other. */
#define WITHOUT ((uint64_t)VC_FEATURE_DOT_4X8 | VC_FEATURE_F64_ROUND | VC_FEATURE_UNPACK_HALF)
static Form forms[FORMS + 3] = {
    { "address", VC_BUFFERS_ADDRESS, false, NULL }, { "binding", VC_BUFFERS_BINDING, false, NULL },
    { "glsl", VC_BUFFERS_BINDING, true, NULL }, { "opencl", VC_BUFFERS_BINDING, false, NULL },
    { "cuda on the host", VC_BUFFERS_ADDRESS, false, NULL },
    { "cuda", VC_BUFFERS_ADDRESS, false, NULL }
};
/* the current form runs on llvmpipe, which replaces 0 * x by 0 for a constant 0, for any x */
static bool folds_zero;
static const char *filter;
static long share, shares = 1, asked; /* only kernels whose number modulo `shares` is `share` are run */
static bool verbose;
static long kernels, only_built, spirv_right, glsl_right, cuda_right, opencl_right, all_right, runs, wrong;
static long passed, failed, skipped;
static bool good_spirv, good_glsl; /* of the current kernel, in both forms */
static int sample = SAMPLE;
static bool native; /* the current kernel by address uses features that the other forms replace */
static uint64_t skipped_features;
static vc_kernel *kernel;

static vd_buffer buffer_of(const Form *f, vc_type type, unsigned role) { /* role ROLES is the output; created once */
    static vd_buffer made[FORMS + 3][64][ROLES + 1];
    vd_buffer *b = &made[f - forms][type][role];
    if (b->id) return *b;
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.type = type;
    desc.shape[0] = elements_of(type) / 8;
    desc.shape[1] = 8;
    if (role < ROLES) desc.data = inputs[kind_of(type)][role];
    *b = vd_buffer_create(f->ctx, &desc);
    return *b;
}

static bool right(const Case *c, size_t element, unsigned component, uint64_t got, Wanted *first) {
    unsigned kind = kind_of(c->out);
    /* bit 0: fma rounds twice; bits 1 to 3: which operands are flushed to zero */
    for (int variant = 0; variant < 16; variant++) {
        Wanted w = { 0, 0, 0 };
        if (!c->want(c, element, component, variant, &w)) { if (variant == 0) return true; continue; }
        if (variant == 0) *first = w;
        if (!is_float(kind)) { if (got == w.bits) return true; continue; }
        double g = real_of(kind, got);
        bool signed_zero = c->op && c->op->id == O_atan2;
        if (signed_zero && g == 0 && !signbit(g) != !signbit(w.real)) continue;
        if (isnan(w.real) ? isnan(g) : isinf(w.real) ? (long double)g == w.real : fabsl((long double)g - w.real)
            <= w.slack) {
            note_error(c, g, &w);
            return true;
        }
        if (isnan(w.real)) continue;
        if (g == real_of(kind, bits_of(kind, (double)w.real))) return true;
        /* the largest number and infinity count as neighbours; subnormal results may be flushed */
        if (w.slack > 0 && isinf(g) && fabsl(w.real) + w.slack >= (long double)ldexp(2 - ldexp(1, -mantissa_of(kind)),
                                                                                     1 - lowest_of(kind))) return true;
        if (g == 0 && fabsl(w.real) - w.slack < ldexpl(1, lowest_of(kind))) return true;
    }
    return false;
}

static void print_wrong(const Case *c, const Form *f, size_t element, unsigned component, uint64_t got,
                        const Wanted *w) {
    printf("  %s %s [%zu].%u:", c->name, f->name, element, component);
    for (unsigned r = 0; r < ROLES; r++) {
        if (!c->in[r] || element >= elements_of(c->in[r])) continue;
        uint64_t x = input(c, r, element, rows_of(c->in[r]) == 1 ? 0 : component % rows_of(c->in[r]));
        printf(" %c = %s %llx", "abc"[r], vc_type_name(c->in[r]), (unsigned long long)x);
        if (is_float(kind_of(c->in[r]))) printf(" (%.17g)", real_of(kind_of(c->in[r]), x));
    }
    if (is_float(kind_of(c->out)))
        printf(", got %.17g, wanted %.17Lg within %.3Lg\n", real_of(kind_of(c->out), got), w->real, w->slack);
    else printf(", got %llx, wanted %llx\n", (unsigned long long)got, (unsigned long long)w->bits);
}

static size_t threads_of(const Case *c) { /* one thread per element that all buffers have */
    size_t a = elements_of(c->in[0]), out = elements_of(c->out);
    return a < out ? a : out;
}

static bool compare(const Case *c, const Form *f, const uint8_t *out) {
    unsigned kind = kind_of(c->out), rows = rows_of(c->out), components = 0;
    is_opencl = f >= &forms[FORMS];
    folds_zero = !is_opencl && f->ctx && strstr(vd_device(f->ctx, 0)->name, "llvmpipe");
    for (size_t e = 0; e < threads_of(c); e++)
        for (unsigned j = 0; j < rows; j++) {
            uint64_t got = get_bits(kind, out, e * rows + j);
            Wanted w = { 0, 0, 0 };
            if (right(c, e, j, got, &w)) continue;
            if (components++ < 3) print_wrong(c, f, e, j, got, &w);
        }
    if (components > 3) printf("  %s %s: %u components are wrong\n", c->name, f->name, components);
    return components == 0;
}

static bool dispatch(const Case *c, const Form *f, vd_kernel made, uint8_t *out) {
    static const uint32_t pattern = 0xcdcdcdcdu;
    vd_arg args[ROLES + 2];
    int count = 0;
    vd_buffer to = buffer_of(f, c->out, ROLES);
    vd_dispatch_desc d;
    memset(&d, 0, sizeof d);
    for (unsigned r = 0; r < ROLES; r++) if (c->in[r]) args[count++] = vd_b(buffer_of(f, c->in[r], r));
    args[count++] = vd_b(to);
    if (c->param) args[count++] = vd_value(c->param, inputs[kind_of(c->param)][0]);
    d.kernel = made;
    d.threads[0] = c->threads ? c->threads : threads_of(c);
    d.args = args;
    d.arg_count = count;
    vd_list *list = vd_immediate(f->ctx, 0, 0);
    if (vd_fill(list, to, 0, VD_WHOLE, &pattern, 4) != VD_OK || vd_dispatch(list, &d) != VD_OK) return false;
    return vd_buffer_read(f->ctx, to, 0, out, VD_WHOLE) == VD_OK;
}

static void build_for_form(const Case *c, const Form *f) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = c->name;
    desc.local_size[0] = LOCAL;
    desc.buffers = f->buffers;
    if (f->ctx) desc.machine.missing_features = machine_with_all_types(f->ctx).missing_features & WITHOUT;
    if (kernel) vc_restart(kernel, &desc); else kernel = vc_begin(&desc);
    c->build(c, kernel);
}

/* Returns NULL if everything is right, "" if the error was already printed, otherwise the error. */
static const char *run_made(const Case *c, const Form *f, vd_kernel made) {
    static uint8_t out[COMPONENTS * 8];
    if (!made.id || !dispatch(c, f, made, out)) { vd_kernel_destroy(f->ctx, made); return vd_error_text(); }
    vd_kernel_destroy(f->ctx, made);
    runs++;
    return compare(c, f, out) ? NULL : "";
}

/* Runs CUDA C on a CUDA device. */
static const char *check_cuda_device(const Case *c, const Form *f) {
    build_for_form(c, f);
    const vc_info *info = vc_reflect_for(kernel, VC_TARGET_CUDA);
    if (!info) return vc_error(kernel);
    uint64_t lacks = info->features & ~vd_device(f->ctx, 0)->features;
    if (lacks) { skipped_features |= lacks; skipped++; passed--; return NULL; }
    return run_made(c, f, vd_kernel_build(f->ctx, kernel));
}

/* Whether the current kernel is run in this form. */
static bool is_run(const Form *f) {
    return f == forms || sample == 1 || native || is_in_turn((uint64_t)(kernels + (f - forms)), FORM_SAMPLE);
}

/* The same through Vulkan, with the validators. */
static const char *check_form(const Case *c, const Form *f) {
    build_for_form(c, f);
    if (vc_error(kernel)) return vc_error(kernel);
    size_t words = 0;
    const uint32_t *code = vc_spirv(kernel, &words);
    const char *text = vc_source(kernel, VC_TARGET_GLSL), *bad;
    if (!code || !text) return "no code";
    if (!is_sampled(kernels)) return NULL;
    if (f == forms) native = false;
    if ((bad = spirv_wrong(code, words)) != NULL) { good_spirv = false; return bad; }
    if ((bad = glsl_wrong(text)) != NULL) { good_glsl = false; return bad; }
    if (!f->ctx) return NULL;
    const vc_info *info = vc_reflect(kernel);
    uint64_t lacks = info->features & ~vd_device(f->ctx, 0)->features;
    if (lacks) { skipped_features |= lacks; skipped++; passed--; return NULL; }
    if (f == forms) native = (info->features & WITHOUT) != 0;
    if (!is_run(f)) return NULL;
    vd_kernel made;
#if defined(TESTS_HAVE_GLSLANG)
    if (f->glsl) made = kernel_from_code(f->ctx, info, VD_CODE_SPIRV, glsl_words, 4 * glsl_count); else
#endif
    made = vd_kernel_build(f->ctx, kernel);
    return run_made(c, f, made);
}

/* ---- CUDA C and OpenCL C, many kernels per program ---- */

enum { BATCH = 48 };
typedef struct Call { /* the arguments of a kernel call */
    vc_arg_info args[ROLES + 2];
    vc_implicit_info hidden[16];
    int arg_count, hidden_count;
    uint32_t value_bytes;
} Call;
typedef struct Pending { /* one kernel of a batch */
    Case c;
    bool good, cuda_good, opencl_good; /* results of the Vulkan forms, of CUDA C, and of OpenCL C */
    char entry[16];
    char *cuda, *opencl;
    Call cuda_call, opencl_call;
} Pending;
static Pending pending[BATCH];
static int pending_count;
static bool only_c;
static const char *no_nvrtc, *no_opencl, *no_host_cuda;

static char *joined(bool cuda, const Pending *one) { /* the text of all kernels, or of one */
    size_t size = 1;
    for (int i = 0; i < pending_count; i++) size += strlen(cuda ? pending[i].cuda : pending[i].opencl) + 1;
    char *text = (char *)malloc(size), *to = text;
    if (!text) exit(2);
    *to = 0;
    for (int i = 0; i < pending_count; i++)
        if (!one || one == &pending[i]) to += sprintf(to, "%s\n", cuda ? pending[i].cuda : pending[i].opencl);
    return text;
}

/* bad: NULL, the error, or "" if the error was already printed */
static void settle_case(const Case *c, const char *form, const char *bad) {
    if (bad && *bad) printf("  %s %s: %s\n", c->name, form, bad);
    if (bad) failed++, wrong++; else passed++;
}

static void compile_cuda(void) {
    char *text = joined(true, NULL);
    const char *bad = nvrtc_wrong(text);
    free(text);
    for (int i = 0; i < pending_count; i++) {
        Pending *p = &pending[i];
        if (bad) { /* find the kernel that fails */
            text = joined(true, p);
            const char *own = nvrtc_wrong(text);
            free(text);
            settle_case(&p->c, "cuda", own);
            p->cuda_good = !own;
        } else passed++, p->cuda_good = true;
        cuda_right += p->cuda_good;
    }
}

static uint32_t hidden_value(const Case *c, const vc_implicit_info *h, uint32_t threads) {
    vc_type type = h->arg < ROLES && c->in[h->arg] ? c->in[h->arg] : c->out; /* buffers come first, in order */
    switch (h->kind) {
    case VC_IMPLICIT_THREADS: return h->axis ? 1 : threads;
    case VC_IMPLICIT_GROUPS: return h->axis ? 1 : (threads + LOCAL - 1) / LOCAL;
    case VC_IMPLICIT_LENGTH: return (uint32_t)elements_of(type);
    case VC_IMPLICIT_SHAPE: return h->axis == 0 ? (uint32_t)elements_of(type) / 8 : h->axis == 1 ? 8 : 1;
    default: return 0;
    }
}

static void *opencl_buffer_of(vc_type type, unsigned role) { /* created once */
    static void *made[64][ROLES + 1];
    size_t size = elements_of(type) * rows_of(type) * (kind_width(kind_of(type)) / 8);
    if (!made[type][role]) made[type][role] = opencl_buffer(role < ROLES ? inputs[kind_of(type)][role] : NULL, size);
    return made[type][role];
}

static uint32_t groups_of(const Case *c) {
    uint32_t threads = c->threads ? c->threads : (uint32_t)threads_of(c);
    return (threads + LOCAL - 1) / LOCAL;
}

static size_t bytes_of(vc_type type) { return elements_of(type) * rows_of(type) * (kind_width(kind_of(type)) / 8); }

/* Fills the argument block with host addresses of buffers. */
static void fill_block(const Case *c, const Call *call, uint8_t *block, uint8_t *out) {
    uint32_t threads = c->threads ? c->threads : (uint32_t)threads_of(c), value;
    unsigned role = 0;
    for (int i = 0; i < call->arg_count; i++) {
        const vc_arg_info *a = &call->args[i];
        const void *at = NULL;
        if (a->kind == VC_ARG_VALUE) { memcpy(block + a->location, inputs[kind_of(c->param)][0], a->size); continue; }
        while (role < ROLES && !c->in[role]) role++;
        at = role < ROLES ? inputs[kind_of(c->in[role])][role] : out;
        role++;
        if (a->kind == VC_ARG_ADDRESS) memcpy(block + a->location, &at, sizeof at);
    }
    for (int i = 0; i < call->hidden_count; i++) {
        value = hidden_value(c, &call->hidden[i], threads);
        memcpy(block + call->hidden[i].offset, &value, 4);
    }
}

static const char *run_opencl(const Pending *p, void *program) {
    static uint8_t out[COMPONENTS * 8];
    const Case *c = &p->c;
    uint8_t block[256];
    OpenclArg args[ROLES + 2];
    int count = 0;
    void *to = opencl_buffer_of(c->out, ROLES);
    memset(block, 0, sizeof block);
    memset(args, 0, sizeof args);
    memset(out, 0xcd, sizeof out);
    for (unsigned r = 0; r < ROLES; r++) if (c->in[r]) args[count++].buffer = opencl_buffer_of(c->in[r], r);
    args[count++].buffer = to;
    fill_block(c, &p->opencl_call, block, out);
    args[count].value = block;
    args[count].size = p->opencl_call.value_bytes;
    count += p->opencl_call.value_bytes > 0;
    if (!opencl_write(to, out, bytes_of(c->out))) return "the output could not be written";
    const char *bad = opencl_run(program, p->entry, args, count, LOCAL, groups_of(c));
    if (bad) return bad;
    if (!opencl_read(to, out, bytes_of(c->out))) return "the output could not be read";
    runs++;
    return compare(c, &forms[FORMS], out) ? NULL : "";
}

static const char *run_cuda(const Pending *p, void *library) {
    static uint64_t out[COMPONENTS + 4]; /* aligned like a vector */
    uint64_t block[32];
    char name[32];
    void *at;
    HostCudaRun *run;
    uint8_t *to = (uint8_t *)out + (32 - (uintptr_t)out % 32) % 32;
    snprintf(name, sizeof name, "run_%s", p->entry);
    at = dlsym(library, name);
    if (!at) return "its function is not there";
    memcpy(&run, &at, sizeof at);
    memset(block, 0, sizeof block);
    memset(out, 0xcd, sizeof out);
    fill_block(&p->c, &p->cuda_call, (uint8_t *)block, to);
    run(block, LOCAL, groups_of(&p->c));
    runs++;
    return compare(&p->c, &forms[FORMS + 1], to) ? NULL : "";
}

static bool takes_turns(const Pending *p) { return strstr(p->cuda, "__syncthreads") != NULL; }

/* Skipped if there is no C++ compiler. */
static void check_cuda_on_host(void) {
    size_t size = 1;
    for (int i = 0; i < pending_count; i++)
        size += strlen(pending[i].cuda) + sizeof host_cuda_runner + 3 * sizeof pending[i].entry;
    char *text = (char *)malloc(size), *to = text;
    if (!text) exit(2);
    *to = 0;
    for (int i = 0; i < pending_count; i++) {
        const Pending *p = &pending[i];
        if (takes_turns(p)) continue;
        to += sprintf(to, "%s", p->cuda);
        to += sprintf(to, host_cuda_runner, p->entry, p->entry, p->entry);
    }
    void *library = host_cuda_build(text);
    free(text);
    for (int i = 0; i < pending_count; i++) {
        if (takes_turns(&pending[i])) continue;
        if (!no_host_cuda)
            settle_case(&pending[i].c, "cuda on the host", library ? run_cuda(&pending[i], library)
                        : "does not compile");
        else skipped++;
    }
    if (library) dlclose(library);
}

static void check_opencl(void) {
    const char *log;
    char *text = joined(false, NULL);
    void *program = opencl_build(text, "CL1.2", &log);
    free(text);
    for (int i = 0; i < pending_count; i++) {
        Pending *p = &pending[i];
        void *own = program;
        if (!program) {
            text = joined(false, p);
            own = opencl_build(text, "CL1.2", &log);
            free(text);
        }
        p->opencl_good = own != NULL;
        opencl_right += p->opencl_good;
        settle_case(&p->c, "opencl", own ? run_opencl(p, own) : log);
        if (own != program) opencl_drop(own);
    }
    opencl_drop(program);
}

static void flush_batch(void) {
    if (pending_count && !no_nvrtc) compile_cuda();
    if (pending_count) check_cuda_on_host();
    if (pending_count && !no_opencl) check_opencl();
    for (int i = 0; i < pending_count; i++) {
        all_right += pending[i].good && pending[i].cuda_good && pending[i].opencl_good;
        free(pending[i].cuda);
        free(pending[i].opencl);
    }
    pending_count = 0;
    fflush(stdout);
}

static char *copied(const char *text) {
    char *copy = (char *)malloc(strlen(text) + 1);
    if (!copy) exit(2);
    return strcpy(copy, text);
}

static void keep_call(Call *to, const vc_info *info) {
    to->arg_count = info->arg_count;
    to->hidden_count = info->implicit_count;
    to->value_bytes = info->argument_bytes;
    memcpy(to->args, info->args, (size_t)info->arg_count * sizeof info->args[0]);
    memcpy(to->hidden, info->implicit, (size_t)info->implicit_count * sizeof info->implicit[0]);
}

/* Builds both texts of the kernel, as `entry`. Returns NULL, or the error. */
static const char *build_texts(const Case *c, const char *entry, const char **cuda, const char **text) {
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = entry;
    desc.local_size[0] = LOCAL;
    if (kernel) vc_restart(kernel, &desc); else kernel = vc_begin(&desc);
    c->build(c, kernel);
    *cuda = vc_source(kernel, VC_TARGET_CUDA);
    *text = vc_source(kernel, VC_TARGET_OPENCL);
    return *cuda && *text ? NULL : vc_error(kernel) ? vc_error(kernel) : "no text";
}

/* Returns NULL, or why its texts are not available. */
static const char *add_to_batch(const Case *c) {
    Pending *p = &pending[pending_count];
    const char *cuda, *text;
    memset(p, 0, sizeof *p);
    snprintf(p->entry, sizeof p->entry, "k%ld", kernels);
    const char *bad = build_texts(c, p->entry, &cuda, &text);
    const vc_info *info = bad ? NULL : vc_reflect_for(kernel, VC_TARGET_CUDA);
    if (!info) return bad ? bad : vc_error(kernel);
    if (strcmp(info->entry, p->entry) != 0) return "the function has another name";
    keep_call(&p->cuda_call, info);
    keep_call(&p->opencl_call, vc_reflect_for(kernel, VC_TARGET_OPENCL));
    p->c = *c;
    p->good = good_spirv && good_glsl;
    p->cuda = copied(cuda);
    p->opencl = copied(text);
    if (++pending_count == BATCH) flush_batch();
    return NULL;
}

static void check(const Case *c) {
    if (filter && !strstr(c->name, filter)) return;
    if (asked++ % shares != share) return;
    if (verbose) printf("%s\n", c->name);
    const bool sampled = is_sampled(kernels);
    good_spirv = good_glsl = true;
    for (int i = 0; i < FORMS && !only_c; i++) {
        const char *bad = check_form(c, &forms[i]);
        if (bad || sampled) settle_case(c, forms[i].name, bad);
    }
    spirv_right += good_spirv && !only_c && sampled;
    glsl_right += good_glsl && !only_c && sampled;
    only_built += !sampled;
    if (texts_only() || !sampled) {
        const char *cuda, *text, *bad = build_texts(c, c->name, &cuda, &text);
        if (bad || sampled) settle_case(c, "cuda and opencl", bad);
    } else if (is_in_turn((uint64_t)kernels, (uint64_t)sample)) {
        skipped += (no_nvrtc != NULL) + (no_opencl != NULL);
        const char *bad = add_to_batch(c);
        if (bad) settle_case(c, "cuda and opencl", bad);
        if (forms[FORMS + 2].ctx) settle_case(c, "cuda", check_cuda_device(c, &forms[FORMS + 2]));
    }
    kernels++;
    fflush(stdout);
}

/* ---- the table of kernels ---- */

static Case plain(const char *what, vc_type a, vc_type b, vc_type d, vc_type out) {
    Case c;
    memset(&c, 0, sizeof c);
    c.in[0] = a; c.in[1] = b; c.in[2] = d; c.out = out;
    snprintf(c.name, sizeof c.name, "%s %s", what, vc_type_name(a));
    return c;
}
static Case made(const char *what, vc_type a, vc_type b, vc_type d, vc_type out,
                 void (*build)(const Case *, vc_kernel *), bool (*want)(const Case *, size_t, unsigned, int,
                                                                        Wanted *)) {
    Case c = plain(what, a, b, d, out);
    c.build = build;
    c.want = want;
    return c;
}
static int class_of(unsigned kind) { return kind == VC_BOOL ? B : is_float(kind) ? F : is_signed(kind) ? I : U; }

static void build_over_itself(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) { vc_store(io.out, i, vc_div(vc_load(io.in[0], i), vc_load(io.in[0], i))); }
}
static bool want_over_itself(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned kind = kind_of(c->in[0]);
    double v[3] = { 0, 0, 0 };
    v[0] = v[1] = real_of(kind, input(c, 0, element, component));
    return want_float(O_div, kind, v, variant, w);
}

static vc_val zero_among_ones(vc_type t, vc_kernel *k) { /* a constant; in a vector only the second component is zero */
    vc_val zero = vc_cast(kind_of(t), vc_const(k, vc_f32(0))), one = vc_cast(kind_of(t), vc_const(k, vc_f32(1)));
    return rows_of(t) > 1 ? vc_insert(vc_splat(one, rows_of(t)), 1, zero) : zero;
}
static void build_by_zero(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) {
        vc_store(io.out, i, vc_fma(zero_among_ones(c->in[0], k), vc_load(io.in[0], i), vc_load(io.in[1], i)));
    }
}
static bool want_by_zero(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned kind = kind_of(c->in[0]);
    double v[3];
    v[0] = rows_of(c->in[0]) > 1 && component != 1;
    v[1] = real_of(kind, input(c, 0, element, component));
    v[2] = real_of(kind, input(c, 1, element, component));
    if (folds_zero && v[0] == 0 && !(fabs(v[1]) < (double)INFINITY)) return false;
    return want_float(O_fma, kind, v, variant, w);
}

static void build_zero_over(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) { vc_store(io.out, i, vc_div(zero_among_ones(c->in[0], k), vc_load(io.in[0], i))); }
}
static bool want_zero_over(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned kind = kind_of(c->in[0]);
    double v[3] = { 0, 0, 0 };
    v[0] = rows_of(c->in[0]) > 1 && component != 1;
    v[1] = real_of(kind, input(c, 0, element, component));
    return want_float(O_div, kind, v, variant, w);
}

static void check_operations(unsigned kind, unsigned rows) {
    vc_type t = VC_VEC(kind, rows);
    if (is_float(kind)) { Case c = made("over itself", t, 0, 0, t, build_over_itself, want_over_itself); check(&c); }
    if (is_float(kind)) { Case c = made("fma by zero", t, t, 0, t, build_by_zero, want_by_zero); check(&c); }
    if (is_float(kind)) { Case c = made("zero over", t, 0, 0, t, build_zero_over, want_zero_over); check(&c); }
    for (size_t i = 0; i < O_COUNT; i++) {
        const Op *op = &ops[i];
        if (!(op->kinds & class_of(kind))) continue;
        Case c = made(op->name, t, op->arity > 1 ? t : 0, op->arity > 2 ? t : 0, result_of(op, t), build_op, want_op);
        c.op = op;
        check(&c);
        if (rows == 3 && op->arity > 1) { /* a scalar operand of a vector operation is repeated */
            c.in[1] = kind;
            snprintf(c.name, sizeof c.name, "%s %s scalar", op->name, vc_type_name(t));
            check(&c);
        }
        /* shift counts of other types */
        if ((op->id == O_shl || op->id == O_shr || op->id == O_rotl || op->id == O_rotr) && rows < 3)
            for (unsigned by = VC_I8; by <= VC_U64; by++) {
                if (by == kind) continue;
                c.in[1] = VC_VEC(by, rows);
                snprintf(c.name, sizeof c.name, "%s %s by %s", op->name, vc_type_name(t), vc_type_name(by));
                check(&c);
            }
    }
}

/* ---- parts of floats, and geometry ---- */

static void build_parts(const Case *c, vc_kernel *k) { /* number: 0 mantissa, 1 exponent, 2 ldexp */
    Io io = declare(c, k);
    VC_EACH(k, i) {
        vc_val a = vc_load(io.in[0], i);
        vc_store(io.out, i, c->number == 0 ? vc_frexp_mantissa(a) : c->number == 1 ? vc_frexp_exponent(a)
                 : vc_ldexp(a, vc_load(io.in[1], i)));
    }
}
static bool want_parts(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned kind = kind_of(c->in[0]);
    double x = real_of(kind, input(c, 0, element, component));
    int e = 0;
    if (variant > 1) return false;
    if (variant || (kind != VC_F16 && c->number < 2)) x = flushed(kind, x);
    w->slack = 0;
    if (c->number == 2) {
        uint64_t n = input(c, 1, element, component);
        int64_t by = is_signed(kind_of(c->in[1])) ? widen(kind_of(c->in[1]), n) : n > 5000 ? 5000 : (int64_t)n;
        w->real = ldexpl((long double)x, (int)(by > 5000 ? 5000 : by < -5000 ? -5000 : by));
        if (fabsl(w->real) < ldexpl(1, lowest_of(kind))) w->slack = unit_of(kind, w->real);
        return true;
    }
    w->real = isnan(x) || isinf(x) ? (long double)x : (long double)frexp(x, &e);
    w->bits = (uint32_t)e;
    return true;
}

static const char *const geometry_names[G_COUNT] = { "norm", "distance", "normalize", "cross", "faceforward", "mirror",
                                                     "refract" };
static void build_geometry(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) {
        vc_val a = vc_load(io.in[0], i), b = c->in[1] ? vc_load(io.in[1], i) : a;
        vc_val d = c->in[2] ? vc_load(io.in[2], i) : a, r = a;
        switch (c->number) {
        case G_norm: r = vc_norm(a); break;
        case G_distance: r = vc_distance(a, b); break;
        case G_normalize: r = vc_normalize(a); break;
        case G_cross: r = vc_cross(a, b); break;
        case G_faceforward: r = vc_faceforward(a, b, d); break;
        case G_mirror: r = vc_reflect_vector(a, b); break;
        default: r = vc_refract(a, b, d); break;
        }
        vc_store(io.out, i, r);
    }
}
static bool want_of_vectors(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned kind = kind_of(c->in[0]), rows = rows_of(c->in[0]);
    double x[ROLES][4] = { { 0 } };
    if (variant || (component && c->number <= G_distance)) return false;
    for (unsigned r = 0; r < ROLES; r++)
        for (unsigned j = 0; j < rows && c->in[r]; j++)
            x[r][j] = real_of(kind, input(c, r, element, rows_of(c->in[r]) == 1 ? 0 : j));
    return want_geometry((Geometry)c->number, kind, rows, x, component, w);
}

static void check_parts(unsigned kind, unsigned rows) {
    static const vc_type by[] = { VC_I32, VC_I8, VC_U32, VC_I64, VC_U64 };
    vc_type t = VC_VEC(kind, rows);
    char name[64];
    Case c = made("frexp_mantissa", t, 0, 0, t, build_parts, want_parts);
    check(&c);
    c = made("frexp_exponent", t, 0, 0, VC_VEC(VC_I32, rows), build_parts, want_parts);
    c.number = 1;
    check(&c);
    for (size_t i = 0; i < (rows == 1 ? sizeof by / sizeof by[0] : 1); i++) {
        snprintf(name, sizeof name, "ldexp by %s of", vc_type_name(by[i]));
        c = made(name, t, VC_VEC(by[i], rows), 0, t, build_parts, want_parts);
        c.number = 2;
        check(&c);
    }
    for (unsigned i = 0; i < G_COUNT; i++) {
        if (i == G_cross && rows != 3) continue;
        c = made(geometry_names[i], t, i == G_norm || i == G_normalize ? 0 : t,
                 i == G_refract ? kind : i == G_faceforward ? t : 0, i <= G_distance ? kind : t, build_geometry,
                 want_of_vectors);
        c.number = i;
        check(&c);
    }
}

/* ---- saturating casts, packing, dot products, indices, random numbers ---- */

static void build_cast_sat(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    VC_EACH(k, i) { vc_store(io.out, i, vc_cast_sat(c->out, vc_load(io.in[0], i))); }
}
static bool want_cast_sat(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    unsigned from = kind_of(c->in[0]), to = kind_of(c->out);
    if (is_float(from) || is_float(to) || from == VC_BOOL || to == VC_BOOL)
        return want_cast(c, element, component, variant, w);
    w->bits = saturated(from, to, input(c, 0, element, component));
    return variant == 0;
}

static void build_packing(const Case *c, vc_kernel *k) {
    Io io = declare(c, k);
    const struct Packing *p = &packings[c->number];
    VC_EACH(k, i) {
        vc_val a = vc_load(io.in[0], i), b = p->b ? vc_load(io.in[1], i) : a, d = p->d ? vc_load(io.in[2], i) : a;
        vc_store(io.out, i, packed_call(k, p, a, b, d));
    }
}

static uint64_t want_word_of(const Case *c, size_t element, unsigned component) {
    uint64_t x[3][4];
    memset(x, 0, sizeof x);
    for (unsigned role = 0; role < 3 && c->in[role]; role++)
        for (unsigned j = 0; j < rows_of(c->in[role]); j++) x[role][j] = input(c, role, element, j);
    return want_word(&packings[c->number], x[0], x[1], x[2], component);
}

/* Box-Muller transform in long double. Tolerance: devices may have errors of 2^-21 in log near 1 and of 2^-11 in sin
   and cos. */
static void want_normal(const Case *c, size_t element, unsigned component, Wanted *w) {
    bool wide = kind_of(c->out) == VC_F64;
    unsigned digits = wide ? 53 : 24, width = wide ? 64 : 32;
    long double one = 1 - ldexpl((long double)(input(c, 0, element, component & ~1u) >> (width - digits)),
                                 -(int)digits), radius, off;
    long double two = ldexpl((long double)(input(c, 0, element, component | 1u) >> (width - digits)), -(int)digits)
        - 0.5L;
    long double angle = two * (wide ? 6.283185307179586476925L : (long double)6.28318500518798828125L);
    radius = sqrtl(-2 * logl(one));
    off = wide ? 0x1p-50L : 0x1p-20L;
    w->real = radius * (component & 1 ? sinl(angle) : cosl(angle));
    w->slack = radius * (wide ? 0x1p-49L : 0x1p-11L + 0x1p-20L) + (radius > sqrtl(off) ? off / radius + radius * off
                                                                   : wide ? 0 : 2 * sqrtl(off));
}

static bool want_packing(const Case *c, size_t element, unsigned component, int variant, Wanted *w) {
    Packed id = packings[c->number].id;
    unsigned kind = kind_of(c->out), width = kind_width(kind_of(c->in[0])), bits;
    uint64_t a = input(c, 0, element, rows_of(c->in[0]) > component ? component : 0);
    double x;
    w->slack = 0;
    switch (id) {
    case P_unpack_half2:
        x = half_value((uint16_t)(a >> 16 * component));
        w->real = variant ? (long double)flushed(VC_F16, x) : (long double)x;
        return variant < 2;
    case P_round_f16:
        x = real_of(VC_F32, a);
        w->real = (long double)half_value(half_bits(x));
        if (variant) w->real = (long double)flushed(VC_F16, (double)w->real);
        return variant < 2;
    case P_unpack_snorm4x8: case P_unpack_snorm2x16: case P_unpack_unorm4x8: case P_unpack_unorm2x16:
        bits = id == P_unpack_snorm4x8 || id == P_unpack_unorm4x8 ? 8 : 16;
        a = a >> bits * component & ((1u << bits) - 1);
        if (id == P_unpack_unorm4x8 || id == P_unpack_unorm2x16) x = (double)a / ((1 << bits) - 1);
        else x = fmax(-1, (double)(int32_t)((uint32_t)a << (32 - bits)) / ldexp(1, 32 - (int)bits)
                      / ((1 << (bits - 1)) - 1));
        w->real = (long double)x;
        w->slack = fabs(x) == 1 || x == 0 ? 0 : 1.3L * unit_of(VC_F32, w->real);
        return variant == 0;
    case P_uniform:
        bits = (unsigned)mantissa_of(kind) < width ? (unsigned)mantissa_of(kind) : width;
        w->real = ldexpl((long double)(a >> (width - bits)), -(int)bits);
        return variant == 0;
    case P_normal: want_normal(c, element, component, w); return variant == 0;
    case P_pack_half2:
        for (unsigned j = 0; j < 2; j++) if (isnan(real_of(VC_F32, input(c, 0, element, j)))) return false;
        break;
    case P_pack_2x32: case P_unpack_2x32: /* float bit patterns, except NaN and subnormals, which may be flushed */
        x = real_of(VC_F64, id == P_pack_2x32 ? want_word_of(c, element, 0) : input(c, 0, element, 0));
        w->real = (long double)x;
        if ((kind == VC_F64 || c->in[0] == VC_F64) && (isnan(x) || is_subnormal(VC_F64, x))) return false;
        break;
    default: break;
    }
    w->bits = narrow(kind, want_word_of(c, element, component));
    return variant == 0;
}

static void check_packing(void) {
    for (unsigned i = 0; i < sizeof packings / sizeof packings[0]; i++) {
        const struct Packing *p = &packings[i];
        Case c = made(p->name, p->a, p->b, p->d, p->out, build_packing, want_packing);
        c.number = i;
        check(&c);
    }
    if (philox_is_right()) passed++;
    else { failed++; printf("  philox: not the known answers\n"); }
}

static void check_fields(unsigned kind, unsigned rows) {
    vc_type t = VC_VEC(kind, rows);
    char name[64];
    for (unsigned i = 0; i <= FIELDS; i++)
        for (unsigned by = VC_I8; by <= VC_U64; by++) {
            if (i < FIELDS && (by != VC_U32 || rows > 1)) continue;
            if (i == FIELDS && rows > 1 && by != VC_U16) continue;
            if (i == FIELDS) snprintf(name, sizeof name, "bit_insert by %s", vc_type_name(by));
            else snprintf(name, sizeof name, "bit_insert %u %u", fields[i].offset, fields[i].count);
            if (is_signed(by)) continue;
            Case c = made(name, t, t, rows == 3 ? by : VC_VEC(by, rows), t, build_field, want_field);
            c.number = i;
            check(&c);
            if (i == FIELDS) continue;
            memcpy(strstr(c.name, "insert"), "extrac", 6);
            c.letters = "extract";
            check(&c);
        }
}

static void check_vectors(unsigned kind, unsigned rows) {
    static const char *const letters[] = { "x", "yx", "xxyy", "yxy", "zyx", "wzyx", "zw", "xyzw" };
    static const char *const ways[] = { "vector", "splat", "insert", "component" };
    vc_type t = VC_VEC(kind, rows);
    for (unsigned i = 0; i < 4; i++) {
        Case c = made(ways[i], t, 0, 0, t, build_vector, want_vector);
        c.number = i;
        check(&c);
    }
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++) {
        unsigned most = strchr(letters[i], 'w') ? 4 : strchr(letters[i], 'z') ? 3 : 2;
        if (rows < most) continue;
        char name[32];
        snprintf(name, sizeof name, "swizzle %s", letters[i]);
        Case c = made(name, t, 0, 0, VC_VEC(kind, (unsigned)strlen(letters[i])), build_swizzle, want_swizzle);
        c.letters = letters[i];
        check(&c);
    }
    static const unsigned index_kinds[] = { VC_U32, VC_I8, VC_U16, VC_I64 };
    for (unsigned i = 0; i < (kind == VC_F32 ? 4u : 1u); i++) {
        Case c = made("extract", t, 0, 0, kind, build_extract, want_extract);
        c.number = index_kinds[i];
        snprintf(c.name, sizeof c.name, "extract %s by %s", vc_type_name(t), vc_type_name(c.number));
        check(&c);
    }
    if (kind != VC_BOOL) { Case c = made("dot", t, t, 0, kind, build_dot, want_dot); check(&c); }
    for (unsigned i = 0; kind == VC_BOOL && i < 2; i++) {
        Case c = made(i ? "all" : "any", t, 0, 0, VC_BOOL, build_any_all, want_any_all);
        c.number = i;
        check(&c);
    }
    Case c = made("select by vector", t, t, VC_VEC(VC_BOOL, rows), t, build_select, want_select);
    check(&c);
}

static void check_conversions(unsigned kind) {
    for (unsigned to = VC_BOOL; to <= VC_F64; to++)
        for (unsigned rows = 1; rows <= 4; rows += rows == 1 ? 2 : 1) {
            char name[32];
            snprintf(name, sizeof name, "cast %s", vc_type_name(VC_VEC(to, rows)));
            Case c = made(name, VC_VEC(kind, rows), 0, 0, VC_VEC(to, rows), build_cast, want_cast);
            check(&c);
            if (rows == 3) {
                c.in[0] = kind;
                snprintf(c.name, sizeof c.name, "%s %s", name, vc_type_name(kind));
                check(&c);
            }
            snprintf(name, sizeof name, "cast_sat %s", vc_type_name(VC_VEC(to, rows)));
            c = made(name, VC_VEC(kind, rows), 0, 0, VC_VEC(to, rows), build_cast_sat, want_cast_sat);
            if (rows == 1 || rows == 3) check(&c);
            if (kind == VC_BOOL || to == VC_BOOL || kind_width(kind) != kind_width(to)) continue;
            snprintf(name, sizeof name, "bitcast %s", vc_type_name(VC_VEC(to, rows)));
            c = made(name, VC_VEC(kind, rows), 0, 0, VC_VEC(to, rows), build_bitcast, want_bits);
            check(&c);
        }
}

static void check_memory(unsigned kind, unsigned rows) {
    vc_type t = VC_VEC(kind, rows);
    Case c = made("offsets", t, 0, 0, t, build_offsets, want_offsets);
    c.threads = (uint32_t)elements_of(t) - 4;
    check(&c);
    c = made("shared", t, 0, 0, t, build_shared, want_shared); check(&c);
    c = made("array", t, 0, 0, t, build_array, want_array); c.threads = (uint32_t)elements_of(t) - 4; check(&c);
    c = made("table", t, 0, 0, t, build_table, want_table); check(&c);
    c = made("var", t, 0, 0, t, build_var, want_var); check(&c);
    c = made("param", t, 0, 0, t, build_param, want_param); c.param = t; check(&c);
    c = made("load_or", t, 0, 0, t, build_load_or, want_load_or); c.param = t; check(&c);
    c = made("select", t, t, VC_BOOL, t, build_select, want_select); check(&c);
}

static void check_flow(void) {
    Case c = made("if", VC_U32, VC_U32, 0, VC_U32, build_if, want_if); check(&c);
    c = made("loop", VC_U32, 0, 0, VC_U32, build_loop, want_loop); check(&c);
    c = made("nest", VC_U32, 0, 0, VC_U32, build_nest, want_nest); check(&c);
    c = made("each", VC_U32, 0, 0, VC_U32, build_each, want_each); c.threads = 1000; check(&c);
    c = made("uniform barriers", VC_U32, 0, 0, VC_U32, build_uniform, want_uniform); check(&c);
    for (unsigned i = 0; i <= 10; i++) {
        static const char *const place[] = {
            "local_id", "group_id", "local_index", "local_size", "groups", "threads", "length", "shape 0", "shape 1",
            "shape 2", "axes"
        };
        for (unsigned rows = 1; rows <= (i >= 6 && i <= 8 ? 4u : 1u); rows++) {
            c = made(place[i], VC_VEC(VC_U32, rows), 0, 0, VC_U32, build_places, want_places);
            c.number = i;
            check(&c);
        }
    }
    for (unsigned i = 0; i < CHAINS; i++) {
        c = made("carry chain", VC_U32, VC_U32, VC_U32, VC_U32, build_chain, want_chain);
        c.number = 7919 * i + 1;
        check(&c);
    }
    for (unsigned kind = VC_I8; kind <= VC_U64; kind++) {
        for (unsigned i = 0; i < sizeof for_steps / sizeof for_steps[0]; i++) {
            char name[32];
            if (for_steps[i] < 0 && !is_signed(kind)) continue;
            snprintf(name, sizeof name, "for step %d", (int)for_steps[i]);
            c = made(name, kind, kind, 0, VC_U32, build_for, want_for);
            c.number = i;
            check(&c);
        }
        for (unsigned i = 0; i < 2; i++) {
            unsigned other = is_signed(kind) ? kind + (VC_U8 - VC_I8) : kind - (VC_U8 - VC_I8);
            const char *name = i == is_signed(kind) ? "for step of its type" : "for step of the other sign";
            c = made(name, kind, kind, i == is_signed(kind) ? kind : other, VC_U32, build_for, want_for);
            c.number = STEP_OF_INPUT;
            check(&c);
        }
        for (unsigned i = 0; i < 2; i++) {
            c = made(i ? "switch default" : "switch", kind, 0, 0, VC_U32, build_switch, want_switch);
            c.number = i;
            check(&c);
        }
    }
}

static void open_contexts(void) {
    const char *texts = texts_only();
    no_nvrtc = texts ? texts : nvrtc_open();
    no_opencl = texts ? texts : opencl_open();
    no_host_cuda = texts ? texts : system("${CXX:-g++} --version >/dev/null 2>&1") ? "no C++ compiler" : NULL;
    if (no_nvrtc) printf("# reason: CUDA C not compiled: %s\n", no_nvrtc);
    if (no_host_cuda) printf("# reason: CUDA C not run on the host: %s\n", no_host_cuda);
    if (no_opencl) printf("# reason: OpenCL C not compiled: %s\n", no_opencl);
    for (int i = 0; i < FORMS && !only_c; i++) {
        vd_context_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.backend = VD_BACKEND_VULKAN;
        if (forms[i].buffers == VC_BUFFERS_BINDING) desc.disable = VD_FEATURE_ADDRESS | WITHOUT;
        if (vd_context_create(&desc, &forms[i].ctx) == VD_OK) continue;
        printf("# reason: %s form not run: %s\n", forms[i].name, vd_error_text());
        forms[i].ctx = NULL;
    }
    vd_context_desc cuda;
    memset(&cuda, 0, sizeof cuda);
    cuda.backend = VD_BACKEND_CUDA;
    if (vd_context_create(&cuda, &forms[FORMS + 2].ctx))
        printf("# reason: CUDA C not run on a device: %s\n", vd_error_text());
#if !defined(TESTS_HAVE_SPIRV_TOOLS)
    printf("# reason: SPIR-V not validated: no spirv-tools/libspirv.h\n");
#endif
#if !defined(TESTS_HAVE_GLSLANG)
    printf("# reason: GLSL not compiled: no glslang_c_interface.h\n");
    vd_context_destroy(forms[2].ctx);
    forms[2].ctx = NULL;
#endif
}

int main(int count, char **args) {
    bool errors = false;
    for (int i = 1; i < count; i++) {
        if (!strcmp(args[i], "-v")) verbose = true;
        else if (!strcmp(args[i], "-c")) only_c = true;
        else if (!strcmp(args[i], "-u")) errors = true;
        else if (!strcmp(args[i], "-t")) { print_table(); return 0; }
        else if (!strcmp(args[i], "-a")) sample = 1;
        else if (!strcmp(args[i], "-p") && i + 1 < count && sscanf(args[++i], "%ld/%ld", &share, &shares) == 2
                 && share >= 0 && share < shares) continue;
        else filter = args[i], sample = 1;
    }
    if (!filter && !share && manual_is_right()) passed++;
    else if (!filter && !share) failed++;
    make_inputs();
    open_contexts();
    check_flow();
    check_packing();
    for (unsigned kind = VC_BOOL; kind <= VC_F64; kind++) {
        for (unsigned rows = 1; rows <= 4; rows++) {
            check_operations(kind, rows);
            if (class_of(kind) & (I | U)) check_fields(kind, rows);
            if (is_float(kind)) check_parts(kind, rows);
            if (rows > 1) check_vectors(kind, rows);
            check_memory(kind, rows);
        }
        check_conversions(kind);
    }
    flush_batch();
    for (uint64_t bit = 1; bit <= skipped_features; bit <<= 1)
        if (skipped_features & bit) printf("# reason: not run for lack of %s\n", vd_feature_name(bit));
    vc_free(kernel);
    for (int i = 0; i < FORMS + 3; i++) vd_context_destroy(forms[i].ctx);
    if (!no_opencl) opencl_close();
    if (sample > 1) printf("# CUDA C and OpenCL C of one kernel in %d; matrix -a takes all\n", sample);
    if (errors) print_errors();
    if (only_built) printf("# %ld of %ld kernels were only built\n", only_built, kernels);
    printf("matrix: %ld kernels, spirv %ld, glsl %ld, cuda %ld, opencl %ld, all %ld, run %ld, wrong %ld\n", kernels,
           spirv_right, glsl_right, cuda_right, opencl_right, all_right, runs, wrong);
    printf("%ld passed, %ld failed, %ld skipped\n", passed, failed, skipped);
    return failed > 0;
}
