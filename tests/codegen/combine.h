/* Operations that groups and subgroups combine values with, on the host. Include after ../kernels.h. */
#ifndef TESTS_CODEGEN_COMBINE_H
#define TESTS_CODEGEN_COMBINE_H

static uint64_t combined(vc_combine op, unsigned kind, uint64_t a, uint64_t b) {
    bool below = is_signed(kind) ? widen(kind, a) < widen(kind, b) : a < b;
    if (is_float(kind)) {
        double x = real_of(kind, a), y = real_of(kind, b);
        return bits_of(kind, op == VC_ADD ? x + y : op == VC_MUL ? x * y : op == VC_MIN ? fmin(x, y) : fmax(x, y));
    }
    switch (op) {
    case VC_ADD: return narrow(kind, a + b);
    case VC_MUL: return narrow(kind, a * b);
    case VC_MIN: return below ? a : b;
    case VC_MAX: return below ? b : a;
    case VC_AND: return a & b;
    case VC_OR: return a | b;
    default: return a ^ b;
    }
}

/* The value that does not change others. */
static uint64_t neutral(vc_combine op, unsigned kind) {
    uint64_t top = UINT64_C(1) << (kind_width(kind) - 1);
    if (kind == VC_BOOL) return op == VC_AND;
    switch (op) {
    case VC_MUL: return bits_of_number(kind, 1);
    case VC_MIN: return is_float(kind) ? bits_of(kind, (double)INFINITY) : is_signed(kind)
        ? top - 1 : narrow(kind, ~UINT64_C(0));
    case VC_MAX: return is_float(kind) ? bits_of(kind, -(double)INFINITY) : is_signed(kind) ? top : 0;
    case VC_AND: return narrow(kind, ~UINT64_C(0));
    default: return 0;
    }
}

#endif
