/* Complex numbers, matrices, structs and arrays: every operation and every kind of memory access. Runs with buffers by
   address, as bindings, from GLSL and through OpenCL, and compiles CUDA C. Compares results with long double
   arithmetic; compares memory byte by byte with the structs of the C compiler.
     composite [-a] [-v] [PART]     PART: only cases whose name contains it; -v prints each name
   Operations run by address and one in four also as binding, from GLSL and through OpenCL; with -a or PART all run in
   all forms.

   Tolerances are per operation, in units in the last place of the absolute value of the result: of a complex number,
   or of a row of a matrix. */
#include "tests/insides.h"
#include "../kernels.h"
#define RUN_OPENCL
#define RUN_NVRTC
#include "run.h"
#include <complex.h>
#include <stddef.h>

enum { THREADS = 1024, LOCAL = 64 };
typedef long double complex Wide;

/* ---- complex numbers ---- */

typedef enum Operation { ADD, SUB, MUL, DIV, POW, EQ, NE, NEG, ABS, ARG, EXP, LOG, SQRT, CONJ, POLAR, PARTS, SELECT,
                         CAST, OPERATIONS } Operation;
static const char *const names[OPERATIONS] = { "add", "sub", "mul", "div", "pow", "eq", "ne", "neg", "abs", "arg",
                                               "exp", "log", "sqrt", "conj", "polar", "parts", "select", "cast" };
typedef enum Side { BOTH, LEFT, RIGHT } Side; /* which operand is real */
typedef struct Case { Operation op; Side side; vc_type kind; } Case;


static vc_type result_type(const Case *c) {
    if (c->op == EQ || c->op == NE) return VC_BOOL;
    if (c->op == ABS || c->op == ARG) return c->kind;
    return c->op == CAST ? VC_COMPLEX(c->kind == VC_F64 ? VC_F32 : VC_F64) : VC_COMPLEX(c->kind);
}

static vc_val apply(const Case *c, vc_val a, vc_val b) {
    switch (c->op) {
    case ADD: return vc_add(a, b);
    case SUB: return vc_sub(a, b);
    case MUL: return vc_mul(a, b);
    case DIV: return vc_div(a, b);
    case POW: return vc_pow(a, b);
    case EQ: return vc_eq(a, b);
    case NE: return vc_ne(a, b);
    case NEG: return vc_neg(a);
    case ABS: return vc_abs(a);
    case ARG: return vc_arg(a);
    case EXP: return vc_exp(a);
    case LOG: return vc_log(a);
    case SQRT: return vc_sqrt(a);
    case CONJ: return vc_conj(a);
    case POLAR: return vc_polar(vc_re(a), vc_im(a));
    case PARTS: return vc_complex(vc_part(a, 1), vc_re(vc_with(a, 0, vc_im(b))));
    case SELECT: return vc_select(vc_lt(vc_re(a), vc_im(b)), a, b);
    default: return vc_cast(VC_COMPLEX(c->kind == VC_F64 ? VC_F32 : VC_F64), a);
    }
}

static void build_complex(void *user, vc_kernel *k) {
    const Case *c = (const Case *)user;
    vc_ref a = vc_buffer(k, "a", VC_COMPLEX(c->kind), VC_READ), b = vc_buffer(k, "b", VC_COMPLEX(c->kind), VC_READ);
    vc_ref out = vc_buffer(k, "out", result_type(c), VC_WRITE);
    VC_EACH(k, i) {
        vc_val x = vc_load(a, i), y = vc_load(b, i);
        if (c->side == LEFT) x = vc_re(x);
        if (c->side == RIGHT) y = vc_re(y);
        vc_store(out, i, apply(c, x, y));
    }
}

static Wide wide(long double re, long double im) { return re + im * (Wide)_Complex_I; }

static Wide oracle(const Case *c, Wide a, Wide b) {
    switch (c->op) {
    case ADD: return a + b;
    case SUB: return a - b;
    case MUL: return a * b;
    case DIV: return a / b;
    case POW: return a == 0 ? (creall(b) > 0 ? 0 : 1) : cpowl(a, b); /* for 0, vc_pow of the real exponent */
    case EQ: return a == b ? 1 : 0;
    case NE: return a != b ? 1 : 0;
    case NEG: return -a;
    case ABS: return cabsl(a);
    case ARG: return cargl(a);
    case EXP: return cexpl(a);
    case LOG: return clogl(a);
    case SQRT: return csqrtl(a);
    case CONJ: return conjl(a);
    case POLAR: return creall(a) * cexpl(wide(0, cimagl(a)));
    case PARTS: return wide(cimagl(a), cimagl(b));
    case SELECT: return creall(a) < cimagl(b) ? a : b;
    default: return a;
    }
}

/* Tolerances of the functions given the precision that devices and Vulkan guarantee: sine and cosine are accurate to
   2^-11 for f32 and 2^-7 for f16. */
static long double slack(const Case *c, vc_type kind, Wide a, Wide b, Wide want) {
    long double size = cabsl(want), unit = unit_of(kind, size), turn = kind == VC_F64
        ? 2 * unit : size * (kind == VC_F32 ? 0x1p-10L : 0x1p-6L);
    long double reach = c->op == POW && a != 0 ? cabsl(b) * cabsl(clogl(a)) : 0, least = ldexpl(1, lowest_of(kind));
    switch (c->op) {
    case ADD: case SUB: return 0.5L * unit + least;
    case MUL: return 2 * unit + least;
    case DIV: return (c->kind == VC_F16 ? 1.5L : 6) * unit + least;
    case ABS: return (c->kind == VC_F16 ? 1.5L : 4) * unit + least;
    case ARG: return (kind == VC_F32 ? 4096 : 5) * unit + least;
    case SQRT: return (c->kind == VC_F16 ? 1.5L : 8) * unit + least;
    case LOG: return (kind == VC_F32 ? 4096 : 8) * unit + (kind == VC_F32 ? 0x1p-19L : kind == VC_F16
                                                           ? 0x1p-6L : 0x1p-51L);
    case EXP: return turn + size * fabsl(creall(a)) * (kind == VC_F64 ? 0 : ldexpl(4, -mantissa_of(kind))) + 8 * unit
        + least;
    case POLAR: return turn + 2 * unit + least;
    case POW: return 2 * turn + size * (reach + 4) * (kind == VC_F64 ? 0x1p-49L : kind == VC_F32 ? 0x1p-10L : 0x1p-5L)
        + least;
    case CAST: return 0.75L * unit + least; /* half a unit for each part */
    default: return least;
    }
}

/* Whether |z| is near 1, so that log |z| = log(1 + u) with a small u. */
static bool near_circle(Wide z) { return cabsl(z) > 0.75L && cabsl(z) < 1.6L; }

/* log |z| near the unit circle, accurate to the last bits of a double: |z|^2 - 1 = 2 d + d^2 + y^2 from exact
   products, with compensated summation. */
static long double log_of_size(Wide z) {
    long double x = fmaxl(fabsl(creall(z)), fabsl(cimagl(z))), y = fminl(fabsl(creall(z)), fabsl(cimagl(z))), d = x - 1,
        v[5], sum = 0;
    v[0] = d * d;
    v[1] = fmal(d, d, -v[0]);
    v[2] = y * y;
    v[3] = fmal(y, y, -v[2]);
    v[4] = 2 * d;
    for (int pass = 0; pass < 3; pass++)
        for (int i = 1; i < 5; i++) {
            long double t = v[i] + v[i - 1], part = t - v[i];
            v[i - 1] = (v[i] - (t - part)) + (v[i - 1] - part);
            v[i] = t;
        }
    for (int i = 0; i < 5; i++) sum += v[i];
    return log1pl(sum) / 2;
}

/* Inputs: any magnitude for + - * / and similar operations, small numbers for functions that grow fast. */
static long double part_of(const Case *c, unsigned role, unsigned i, unsigned part, uint64_t *state) {
    static const double plain[] = { 0, 1, -1, 0.5, -2, 3, 1e-3, -7, 100, 0.75 };
    uint64_t r = random_next(state);
    long double size = (long double)(r >> 11) * 0x1p-52L - 1;
    int range = c->kind == VC_F16 ? 7 : c->kind == VC_F32 ? 120 : 1000;
    bool tame = c->op == EXP || c->op == POW || c->op == POLAR || c->op == ARG || c->op == LOG;
    if (c->op == SQRT && part && i >= 90 && i < 100) return -0.0L; /* the lower side of the branch cut */
    if (c->op == POW && role && i >= 100 && i < 200) /* a real exponent that amplifies errors of log |a| */
        return part ? 0 : ldexpl(size, c->kind == VC_F16 ? 10 : c->kind == VC_F32 ? 18 : 28);
    /* on the unit circle except for rounding, and close to 1 and i */
    if ((c->op == LOG || c->op == POW) && i >= 100 && i < 200) {
        long double angle = 0.0157L * (long double)i, little = ldexpl(1, -(int)(i % 40));
        return i < 160 ? (part ? sinl(angle) : cosl(angle)) : part == (i & 1) ? 1 + ldexpl(1, -(int)(i % 50)) : little;
    }
    if (c->op == LOG && i >= 200 && i < 240) return ldexpl(size, i & 1 ? range : -range);
    if (i < 100) return plain[(i / (role ? 10 : 1) + part * 3) % 10] * (tame ? 0.3L : 1);
    if (tame) return size * (c->op == EXP && c->kind == VC_F16 ? 2 : 3);
    if (c->op == ADD || c->op == SUB || c->op == EQ || c->op == NE || c->op == PARTS)
        return floorl(size * 8) * (i & 1 ? 1 : 0.25L);
    if (c->op == MUL) range /= 2;
    if (c->op == CAST && c->kind == VC_F64) range = 100;
    return ldexpl(size, i < 500 ? (int)(i % 5) : (int)(i * 7919u % (unsigned)(2 * range)) - range
                  + (int)(part * (i % 3)));
}

static uint8_t in_a[THREADS * 64], in_b[THREADS * 64], got_out[THREADS * 64];

static long double number(vc_type kind, const void *at, size_t i) {
    return (long double)real_of(kind, get_bits(kind, at, i));
}

static bool beyond(vc_type kind, Wide z) { return cabsl(z) >= ldexpl(1, 1 - lowest_of(kind)) * 0.999L; }

/* A difference of products can cancel in one component, but not in the absolute value. */
static bool right_complex(const Case *c, unsigned i) {
    vc_type type = result_type(c), kind = type == VC_BOOL ? (vc_type)VC_U32 : type & 15u;
    Wide a = wide(number(c->kind, in_a, 2 * i), number(c->kind, in_a, 2 * i + 1));
    Wide b = wide(number(c->kind, in_b, 2 * i), number(c->kind, in_b, 2 * i + 1));
    Wide want, got;
    if (c->side == LEFT) a = creall(a);
    if (c->side == RIGHT) b = creall(b);
    if (c->op == DIV && b == 0) return true; /* infinite or NaN: any result is allowed */
    if (a == 0 && (c->op == LOG || (c->op == POW && creall(b) < 0))) return true;
    if (c->op == SQRT && cimagl(a) == 0) { /* the sign of the zero belongs to the result, also for a = 0 */
        long double root = number(kind, got_out, 2 * i + 1);
        if (!signbit(root) != !signbit(cimagl(a))) {
            printf("  sqrt of %Lg %+Lg i: imaginary part %+Lg\n", creall(a), cimagl(a), root);
            return false;
        }
    }
    if ((c->op == DIV || c->op == SQRT) && kind != VC_F16 && (cabsl(a) < ldexpl(1, lowest_of(kind))
                                                              || cabsl(b) < ldexpl(1, lowest_of(kind)))) return true;
    want = oracle(c, a, b);
    if (type == VC_BOOL) return get_bits(VC_U32, got_out, i) == (want != 0);
    if (type < 16) got = number(kind, got_out, i);
    else got = wide(number(kind, got_out, 2 * i), number(kind, got_out, 2 * i + 1));
    if (beyond(kind, want)) return true;
    if (c->op == LOG && near_circle(a)) { /* the real part alone must be accurate */
        long double off = fabsl(creall(got) - log_of_size(a)), unit = unit_of(kind, fabsl(log_of_size(a)));
        if (off > (kind == VC_F16 ? 1.5L : 8) * unit + ldexpl(1, lowest_of(kind))) {
            printf("  log of %.20Lg %+.20Lg i: real part %Lg, wanted %Lg, off by %.3Lg\n", creall(a), cimagl(a),
                   creall(got), log_of_size(a), off / unit);
            return false;
        }
    }
    if (c->op == POW && near_circle(a) && !isinf(creall(b))) { /* the absolute value alone must be accurate */
        long double grown = creall(b) * log_of_size(a), turned = cimagl(b) * cargl(a), radius = expl(grown - turned);
        long double bound = (kind == VC_F64 ? 0x1p-49L : 0x1p-9L) * (1 + fabsl(grown) + fabsl(turned));
        if (fabsl(cabsl(got) - radius) > radius * bound + ldexpl(1, lowest_of(kind))) {
            printf("  |(%.20Lg %+.20Lg i)^(%Lg %+Lg i)|: %.12Lg, wanted %.12Lg\n", creall(a), cimagl(a), creall(b),
                   cimagl(b), cabsl(got), radius);
            return false;
        }
    }
    if (cabsl(got - want) <= slack(c, kind, a, b, want)) return true;
    printf("  a = %Lg %+Lg i, b = %Lg %+Lg i: got %Lg %+Lg i, wanted %Lg %+Lg i, off by %.3Lg of %.3Lg\n", creall(a),
           cimagl(a), creall(b), cimagl(b), creall(got), cimagl(got), creall(want), cimagl(want),
           cabsl(got - want) / unit_of(kind, cabsl(want)), slack(c, kind, a, b, want) / unit_of(kind, cabsl(want)));
    return false;
}

static bool all_forms; /* -a, or a filter */

/* Whether the case with this number runs in a form. */
static bool in_turn(int form, unsigned number) {
    return all_forms || forms[form].buffers == VC_BUFFERS_ADDRESS || number % FORMS == (unsigned)form;
}

static void check_complex(Operation op, Side side, vc_type kind) {
    static unsigned number;
    Case c = { op, side, kind };
    char name[64];
    snprintf(name, sizeof name, "%s %s%s", names[op], vc_type_name(VC_COMPLEX(kind)),
             side == LEFT ? " real left" : side == RIGHT ? " real right" : "");
    number++;
    for (int f = 0; f < FORMS; f++) {
        if (!in_turn(f, number)) continue;
        uint64_t state = 3;
        unsigned wrong = 0;
        Run run = run_begin(name, f, THREADS, LOCAL, build_complex, &c);
        for (unsigned i = 0; i < 2 * THREADS; i++) {
            put_bits(kind, in_a, i, bits_of(kind, (double)part_of(&c, 0, i / 2, i & 1, &state)));
            put_bits(kind, in_b, i, bits_of(kind, (double)part_of(&c, 1, i / 2, i & 1, &state)));
        }
        run_buffer(&run, VC_COMPLEX(kind), THREADS, in_a, NULL);
        run_buffer(&run, VC_COMPLEX(kind), THREADS, in_b, NULL);
        run_buffer(&run, result_type(&c), THREADS, NULL, got_out);
        if (!run_end(&run)) continue;
        for (unsigned i = 0; i < THREADS && wrong < 3; i++) wrong += !right_complex(&c, i);
        run_judge(&run, !wrong);
    }
}

static void check_numbers(vc_type kind) {
    for (int op = 0; op < OPERATIONS; op++)
        for (int side = BOTH; side <= (op <= NE ? RIGHT : BOTH); side++)
            check_complex((Operation)op, (Side)side, kind);

}

/* ---- matrices ---- */

typedef enum Linear {
    M_ADD, M_SUB, M_NEG, M_SCALE_LEFT, M_SCALE, M_DIV, M_MUL, M_TIMES, M_VECTOR, M_TRANSPOSE, M_OUTER, M_DET, M_INVERSE,
        M_PARTS, M_EQ, M_NE, M_SELECT, LINEARS
} Linear;
static const char *const linear_names[LINEARS] = {
    "add", "sub", "neg", "scale left", "scale", "div", "mul", "times vector", "vector times", "transpose", "outer",
    "determinant", "inverse", "parts", "eq",
    "ne", "select"
};
typedef struct Shape { Linear op; vc_type kind; uint32_t rows, columns, other; } Shape;

static vc_type mat(vc_type kind, uint32_t rows, uint32_t columns) { return VC_MAT(kind, rows, columns); }

/* Types of both operands and of the result. */
static void types_of(const Shape *s, vc_type t[3]) {
    uint32_t r = s->rows, c = s->columns;
    t[0] = t[1] = t[2] = mat(s->kind, r, c);
    switch (s->op) {
    case M_SCALE_LEFT: t[0] = s->kind; break;
    case M_SCALE: case M_DIV: t[1] = s->kind; break;
    case M_MUL: t[1] = mat(s->kind, c, s->other); t[2] = mat(s->kind, r, s->other); break;
    case M_TIMES: t[1] = VC_VEC(s->kind, c); t[2] = VC_VEC(s->kind, r); break;
    case M_VECTOR: t[0] = VC_VEC(s->kind, r); t[2] = VC_VEC(s->kind, c); break;
    case M_TRANSPOSE: t[2] = mat(s->kind, c, r); break;
    case M_OUTER: t[0] = VC_VEC(s->kind, r); t[1] = VC_VEC(s->kind, c); break;
    case M_DET: t[2] = s->kind; break;
    case M_EQ: case M_NE: t[2] = VC_BOOL; break;
    default: break;
    }
}

static vc_val linear(const Shape *s, vc_kernel *k, vc_val a, vc_val b) {
    vc_val part[4];
    switch (s->op) {
    case M_ADD: return vc_add(a, b);
    case M_SUB: return vc_sub(a, b);
    case M_NEG: return vc_neg(a);
    case M_SCALE_LEFT: case M_SCALE: case M_MUL: case M_TIMES: case M_VECTOR: return vc_mul(a, b);
    case M_DIV: return vc_div(a, b);
    case M_TRANSPOSE: return vc_transpose(a);
    case M_OUTER: return vc_outer(a, b);
    case M_DET: return vc_determinant(a);
    case M_INVERSE: return vc_inverse(a);
    case M_EQ: return vc_eq(a, b);
    case M_NE: return vc_ne(a, b);
    case M_SELECT: return vc_select(vc_lt(vc_component(vc_part(a, 0), 0), vc_component(vc_part(b, 0), 1)), a, b);
    default:
        for (uint32_t i = 0; i < s->columns; i++) part[i] = vc_part(i & 1 ? a : b, s->columns - 1 - i);
        return vc_with(vc_make(k, mat(s->kind, s->rows, s->columns), part, s->columns), 0, vc_part(a, 1));
    }
}

static void build_linear(void *user, vc_kernel *k) {
    const Shape *s = (const Shape *)user;
    vc_type t[3];
    types_of(s, t);
    vc_ref a = vc_buffer(k, "a", t[0], VC_READ), b = vc_buffer(k, "b", t[1], VC_READ);
    vc_ref out = vc_buffer(k, "out", t[2], VC_WRITE);
    VC_EACH(k, i) { vc_store(out, i, linear(s, k, vc_load(a, i), vc_load(b, i))); }
}

/* components of a matrix, in column-major order */
static uint32_t size_of(vc_type t) { return rows_of(t) * (1u + ((t >> 6) & 3u)); }

/* Determinant of m without some rows and columns, and the sum of the absolute values of its products. */
static long double minor_of(const long double *m, uint32_t n, uint32_t rows, uint32_t columns, long double *size) {
    uint32_t c = 0, r, sign = 0;
    long double sum = 0, all = 0, part, inner;
    if (!columns) { *size = 1; return 1; }
    while (!(columns >> c & 1)) c++;
    for (r = 0; r < n; r++) {
        if (!(rows >> r & 1)) continue;
        part = m[c * n + r] * minor_of(m, n, rows & ~(1u << r), columns & ~(1u << c), &inner);
        sum += sign++ & 1 ? -part : part;
        all += fabsl(m[c * n + r]) * inner;
    }
    *size = all;
    return sum;
}

/* Component (row, column) of the result, and its tolerance. */
static long double want_linear(const Shape *s, const long double *a, const long double *b, uint32_t row,
                               uint32_t column, long double *off) {
    uint32_t r = s->rows, c = s->columns, at = column * r + row, n, i;
    long double sum = 0, size = 0, det, unit = ldexpl(1, -mantissa_of(s->kind)), all, inner;
    *off = 0;
    switch (s->op) {
    case M_ADD: sum = a[at] + b[at]; break;
    case M_SUB: sum = a[at] - b[at]; break;
    case M_NEG: return -a[at];
    case M_SCALE_LEFT: sum = a[0] * b[at]; break;
    case M_SCALE: sum = a[at] * b[0]; break;
    case M_DIV: sum = a[at] / b[0]; *off = 5 * unit * fabsl(sum); break;
    case M_MUL: case M_TIMES:
        for (i = 0; i < c; i++) {
            sum += a[i * r + row] * b[column * c + i];
            size += fabsl(a[i * r + row] * b[column * c + i]);
        }
        *off = size * unit * 2 * c;
        break;
    case M_VECTOR: /* a column of m: its rows are the components of the resulting vector */
        for (i = 0; i < r; i++) { sum += a[i] * b[row * r + i]; size += fabsl(a[i] * b[row * r + i]); }
        *off = size * unit * 2 * r;
        break;
    case M_TRANSPOSE: return a[row * r + column];
    case M_OUTER: sum = a[row] * b[column]; break;
    case M_DET:
        sum = minor_of(a, r, (1u << r) - 1, (1u << r) - 1, &size);
        *off = size * unit * 4 * r;
        break;
    case M_INVERSE:
        n = (1u << r) - 1;
        det = minor_of(a, r, n, n, &all);
        sum = minor_of(a, r, n & ~(1u << column), n & ~(1u << row), &inner) / det * ((row + column) & 1 ? -1 : 1);
        *off = (inner * 4 * r + fabsl(sum) * (all * 4 * r + 8)) * unit / fabsl(det);
        return sum;
    case M_SELECT: return a[0] < b[1] ? a[at] : b[at];
    case M_PARTS: return column == 0 ? a[r + row] : (column & 1 ? a : b)[(c - 1 - column) * r + row];
    default: for (i = 0; i < r * c; i++) size += a[i] != b[i]; return (s->op == M_EQ) == (size == 0) ? 1 : 0;
    }
    *off += fabsl(sum) * unit + ldexpl(1, lowest_of(s->kind));
    return sum;
}

static bool right_linear(const Shape *s, unsigned i) {
    vc_type t[3];
    long double a[16], b[16], off;
    types_of(s, t);
    for (uint32_t j = 0; j < size_of(t[0]); j++) a[j] = number(s->kind, in_a, i * size_of(t[0]) + j);
    for (uint32_t j = 0; j < size_of(t[1]); j++) b[j] = number(s->kind, in_b, i * size_of(t[1]) + j);
    for (uint32_t j = 0; j < size_of(t[2]); j++) {
        size_t at = i * size_of(t[2]) + j;
        long double want = want_linear(s, a, b, j % rows_of(t[2]), j / rows_of(t[2]), &off);
        long double got = t[2] == VC_BOOL ? (long double)get_bits(VC_U32, got_out, at) : number(s->kind, got_out, at);
        if (fabsl(got - want) <= off || (off > 0 && !(fabsl(want) < ldexpl(1, 1 - lowest_of(s->kind))))) continue;
        printf("  [%u].%u: got %.17Lg, wanted %.17Lg within %.3Lg\n", i, j, got, want, off);
        return false;
    }
    return true;
}

static void check_linear(Linear op, vc_type kind, uint32_t rows, uint32_t columns, uint32_t other) {
    static unsigned number;
    Shape s = { op, kind, rows, columns, other };
    vc_type t[3];
    char name[64];
    types_of(&s, t);
    snprintf(name, sizeof name, "%s %s by %s", linear_names[op], vc_type_name(t[0]), vc_type_name(t[1]));
    number++;
    for (int f = 0; f < FORMS; f++) {
        if (!in_turn(f, number)) continue;
        uint64_t state = 5;
        unsigned wrong = 0, threads = THREADS / 4;
        Run run = run_begin(name, f, threads, LOCAL, build_linear, &s);
        for (unsigned i = 0; i < threads * 16; i++) {
            double x = (double)(random_next(&state) >> 11) * 0x1p-52 - 1;
            double y = (double)(random_next(&state) >> 11) * 0x1p-52 - 1;
            /* a dominant diagonal keeps the matrix far from singular */
            if (op == M_INVERSE && i % size_of(t[0]) % (rows + 1) == 0) x += x < 0 ? -3 : 3;
            put_bits(kind, in_a, i, bits_of(kind, op == M_EQ || op == M_NE ? floor(x * 1.2) : x));
            put_bits(kind, in_b, i, bits_of(kind, op == M_EQ || op == M_NE ? (i / size_of(t[0])) % 2 ? floor(x * 1.2)
                                            : floor(y * 1.2) : y));
        }
        run_buffer(&run, t[0], threads, in_a, NULL);
        run_buffer(&run, t[1], threads, in_b, NULL);
        run_buffer(&run, t[2], threads, NULL, got_out);
        if (!run_end(&run)) continue;
        for (unsigned i = 0; i < threads && wrong < 3; i++) wrong += !right_linear(&s, i);
        run_judge(&run, !wrong);
    }
}

static void check_matrices(vc_type kind) {
    for (uint32_t r = 2; r <= 4; r++)
        for (uint32_t c = 2; c <= 4; c++)
            for (int op = 0; op < LINEARS; op++) {
                if ((op == M_DET || op == M_INVERSE) && r != c) continue;
                for (uint32_t other = 2; other <= (op == M_MUL ? 4u : 2u); other++)
                    check_linear((Linear)op, kind, r, c, other);
            }
}

#include "composite_memory.h"

int main(int count, char **args) {
    all_forms = count > 1 && !strcmp(args[1], "-a");
    run_open(count - all_forms, args + all_forms);
    all_forms |= run_filter != NULL;
    for (vc_type kind = VC_F16; kind <= VC_F64; kind++) check_numbers(kind);
    check_matrices(VC_F32);
    check_matrices(VC_F64);
    check_memory();
    return run_close();
}
