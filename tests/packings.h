/* Packing, dot products of bytes, indices of arrays, random numbers and hashes: a table of calls and their expected
   results. */
#ifndef TESTS_PACKINGS_H
#define TESTS_PACKINGS_H

#include "kernels.h"

/* vc_cast_sat between integer kinds */
static inline uint64_t saturated(unsigned from, unsigned to, uint64_t a) {
    unsigned bits = kind_width(to);
    uint64_t most = (is_signed(to) ? ~UINT64_C(0) >> 1 : ~UINT64_C(0)) >> (64 - bits);
    int64_t x = widen(from, a), least = is_signed(to) ? -(int64_t)most - 1 : 0;
    if (is_signed(from) && x < 0) return narrow(to, (uint64_t)(x < least ? least : x));
    return narrow(to, a > most ? most : a);
}

typedef enum Packed {
    P_pack_half2, P_unpack_half2, P_round_f16, P_pack_snorm4x8, P_pack_unorm4x8, P_pack_snorm2x16, P_pack_unorm2x16,
        P_unpack_snorm4x8, P_unpack_unorm4x8,
    /* one operand */
    P_unpack_snorm2x16, P_unpack_unorm2x16, P_pack_4x8, P_unpack_4xi8, P_unpack_4xu8, P_unpack_2x32, P_hash_bits,
        P_normal,
    P_philox, P_ravel, P_unravel, P_dot_4xi8, P_dot_4xu8, P_dot_4xi8_4xu8, /* two operands */
    P_dot_4xi8_sat, P_dot_4xu8_sat, P_dot_4xi8_4xu8_sat, /* three operands */
    P_pack_2x32, P_uniform, P_unravel_constant
} Packed;
#define PACK(name, a, b, d, out) { P_##name, #name, a, b, d, out, vc_##name, NULL, NULL }
#define PACK2(name, a, b, d, out) { P_##name, #name, a, b, d, out, NULL, vc_##name, NULL }
#define PACK3(name, a, b, d, out) { P_##name, #name, a, b, d, out, NULL, NULL, vc_##name }
static const struct Packing {
    Packed id;
    const char *name;
    vc_type a, b, d, out;
    vc_val (*f1)(vc_val);
    vc_val (*f2)(vc_val, vc_val);
    vc_val (*f3)(vc_val, vc_val, vc_val);
} packings[] = {
    PACK(pack_half2, VC_F32X2, 0, 0, VC_U32), PACK(unpack_half2, VC_U32, 0, 0, VC_F32X2),
        PACK(round_f16, VC_F32, 0, 0, VC_F32),
    PACK(round_f16, VC_F32X2, 0, 0, VC_F32X2), PACK(round_f16, VC_F32X3, 0, 0, VC_F32X3),
        PACK(round_f16, VC_F32X4, 0, 0, VC_F32X4),
    PACK(pack_snorm4x8, VC_F32X4, 0, 0, VC_U32), PACK(pack_unorm4x8, VC_F32X4, 0, 0, VC_U32),
        PACK(pack_snorm2x16, VC_F32X2, 0, 0, VC_U32),
    PACK(pack_unorm2x16, VC_F32X2, 0, 0, VC_U32), PACK(unpack_snorm4x8, VC_U32, 0, 0, VC_F32X4),
        PACK(unpack_unorm4x8, VC_U32, 0, 0, VC_F32X4),
    PACK(unpack_snorm2x16, VC_U32, 0, 0, VC_F32X2), PACK(unpack_unorm2x16, VC_U32, 0, 0, VC_F32X2),
        PACK(pack_4x8, VC_U32X4, 0, 0, VC_U32),
    PACK(pack_4x8, VC_I32X4, 0, 0, VC_U32), PACK(unpack_4xi8, VC_U32, 0, 0, VC_I32X4),
        PACK(unpack_4xu8, VC_U32, 0, 0, VC_U32X4),
    PACK(unpack_2x32, VC_U64, 0, 0, VC_U32X2), PACK(unpack_2x32, VC_I64, 0, 0, VC_U32X2),
        PACK(unpack_2x32, VC_F64, 0, 0, VC_U32X2),
    { P_pack_2x32, "pack_2x32", VC_U32X2, 0, 0, VC_U64, NULL, NULL, NULL },
    { P_pack_2x32, "pack_2x32", VC_U32X2, 0, 0, VC_I64, NULL, NULL, NULL },
    { P_pack_2x32, "pack_2x32", VC_U32X2, 0, 0, VC_F64, NULL, NULL, NULL },
    PACK2(dot_4xi8, VC_U32, VC_U32, 0, VC_I32), PACK2(dot_4xu8, VC_U32, VC_U32, 0, VC_U32),
        PACK2(dot_4xi8_4xu8, VC_U32, VC_U32, 0, VC_I32),
    PACK3(dot_4xi8_sat, VC_U32, VC_U32, VC_I32, VC_I32), PACK3(dot_4xu8_sat, VC_U32, VC_U32, VC_U32, VC_U32),
    PACK3(dot_4xi8_4xu8_sat, VC_U32, VC_U32, VC_I32, VC_I32),
    PACK2(ravel, VC_U32, VC_U32, 0, VC_U32), PACK2(ravel, VC_U32X2, VC_U32X2, 0, VC_U32),
        PACK2(ravel, VC_U32X3, VC_U32X3, 0, VC_U32),
    PACK2(ravel, VC_U32X4, VC_U32X4, 0, VC_U32), PACK2(unravel, VC_U32, VC_U32, 0, VC_U32),
        PACK2(unravel, VC_U32, VC_U32X2, 0, VC_U32X2),
    PACK2(unravel, VC_U32, VC_U32X3, 0, VC_U32X3), PACK2(unravel, VC_U32, VC_U32X4, 0, VC_U32X4),
    { P_unravel_constant, "unravel by a constant", VC_U32, 0, 0, VC_U32X4, NULL, NULL, NULL },
    PACK2(philox, VC_U32X4, VC_U32X2, 0, VC_U32X4), PACK(hash_bits, VC_U32, 0, 0, VC_U32),
        PACK(hash_bits, VC_U32X3, 0, 0, VC_U32X3),
    PACK(hash_bits, VC_U64, 0, 0, VC_U64), PACK(normal, VC_U32X2, 0, 0, VC_F32X2),
        PACK(normal, VC_U32X4, 0, 0, VC_F32X4),
    PACK(normal, VC_VEC(VC_U64, 2), 0, 0, VC_F64X2), { P_uniform, "uniform f16", VC_U32, 0, 0, VC_F16, NULL, NULL,
                                                       NULL },
    { P_uniform, "uniform f32", VC_U32, 0, 0, VC_F32, NULL, NULL, NULL },
    { P_uniform, "uniform f32", VC_U32X3, 0, 0, VC_F32X3, NULL, NULL, NULL },
    { P_uniform, "uniform f64", VC_U32, 0, 0, VC_F64, NULL, NULL, NULL },
    { P_uniform, "uniform f16", VC_U64, 0, 0, VC_F16, NULL, NULL, NULL },
    { P_uniform, "uniform f32", VC_U64, 0, 0, VC_F32, NULL, NULL, NULL },
    { P_uniform, "uniform f64", VC_U64, 0, 0, VC_F64, NULL, NULL, NULL }
};
static const uint32_t fixed_shape[4] = { 9, 7, 5, 16 };

static inline vc_val packed_call(vc_kernel *k, const struct Packing *p, vc_val a, vc_val b, vc_val d) {
    vc_val shape[4];
    if (p->f1) return p->f1(a);
    if (p->f2) return p->f2(a, b);
    if (p->f3) return p->f3(a, b, d);
    if (p->id == P_pack_2x32) return vc_pack_2x32(p->out, a);
    if (p->id == P_uniform) return vc_uniform(kind_of(p->out), a);
    for (int j = 0; j < 4; j++) shape[j] = vc_const(k, vc_u32(fixed_shape[j]));
    return vc_unravel(a, vc_vec4(shape[0], shape[1], shape[2], shape[3]));
}

static inline void philox(const uint32_t *counter, const uint32_t *key, uint32_t *out) {
    uint32_t c[4], k0 = key[0], k1 = key[1];
    memcpy(c, counter, sizeof c);
    for (int round = 0; round < 10; round++, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
        uint64_t p = (uint64_t)0xd2511f53u * c[0], q = (uint64_t)0xcd9e8d57u * c[2];
        uint32_t next[4] = { (uint32_t)(q >> 32) ^ c[1] ^ k0, (uint32_t)q, (uint32_t)(p >> 32) ^ c[3] ^ k1,
                             (uint32_t)p };
        memcpy(c, next, sizeof c);
    }
    memcpy(out, c, sizeof c);
}
/* The test vectors of Random123 by its authors. */
static inline bool philox_is_right(void) {
    static const struct { uint32_t counter[4], key[2], want[4]; } known[3] = {
        { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u } },
        { { 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu }, { 0xffffffffu, 0xffffffffu },
          { 0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu } },
          { { 0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u }, { 0xa4093822u, 0x299f31d0u },
            { 0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u } }
    };
    uint32_t got[4];
    bool right = true;
    for (int i = 0; i < 3; i++) {
        philox(known[i].counter, known[i].key, got);
        right = right && !memcmp(got, known[i].want, sizeof got);
    }
    return right;
}

static inline uint64_t hashed(unsigned kind, uint64_t x) {
    if (kind == VC_U64) return random_next(&x);
    uint32_t s = (uint32_t)x * 747796405u + 2891336453u, word = ((s >> ((s >> 28) + 4)) ^ s) * 277803737u;
    return (word >> 22) ^ word;
}

static inline int64_t dotted(Packed id, uint32_t a, uint32_t b) {
    int64_t sum = 0;
    for (int j = 0; j < 4; j++) {
        uint8_t x = (uint8_t)(a >> 8 * j), y = (uint8_t)(b >> 8 * j);
        bool xs = id != P_dot_4xu8 && id != P_dot_4xu8_sat, ys = id == P_dot_4xi8 || id == P_dot_4xi8_sat;
        sum += (xs ? (int8_t)x : x) * (ys ? (int8_t)y : y);
    }
    return sum;
}

static inline uint64_t packed_word(Packed id, const uint64_t *a) { /* operations that pack into a u32 */
    bool half = id == P_pack_half2 || id == P_pack_snorm2x16 || id == P_pack_unorm2x16;
    bool s = id == P_pack_snorm4x8 || id == P_pack_snorm2x16;
    unsigned bits = half ? 16 : 8;
    uint64_t r = 0, part;
    for (unsigned j = 0; j < 32 / bits; j++) {
        float v = (float)real_of(VC_F32, a[j]);
        float cut = !(v > (s ? -1.0f : 0.0f)) ? (s ? -1.0f : 0.0f) : v < 1 ? v : 1.0f;
        if (id == P_pack_half2) part = half_bits((double)v);
        else if (id == P_pack_4x8) part = a[j];
        else part = (uint64_t)(int64_t)nearbyint((double)(cut * (float)((1u << (s ? bits - 1 : bits)) - 1)));
        r |= (part & ((1u << bits) - 1)) << bits * j;
    }
    return r;
}

static inline uint32_t place_of(uint32_t i, const uint32_t *shape, unsigned axes, unsigned axis) {
    for (unsigned j = axes - 1; j > axis; j--) i = shape[j] ? i / shape[j] : UINT32_MAX;
    return axis && shape[axis] ? i % shape[axis] : i;
}

/* One component of an exact operation: a, b and d are the components of the operands, 0 beyond the last. */
static inline uint64_t want_word(const struct Packing *p, const uint64_t *a, const uint64_t *b, const uint64_t *d,
                                 unsigned component) {
    Packed id = p->id;
    uint32_t x[4], y[4], out[4];
    int64_t sum;
    for (unsigned j = 0; j < 4; j++) {
        x[j] = (uint32_t)a[j];
        y[j] = (uint32_t)b[j];
    }
    switch (id) {
    case P_unpack_4xi8: return (uint64_t)(int64_t)(int8_t)(a[0] >> 8 * component);
    case P_unpack_4xu8: return a[0] >> 8 * component & 255;
    case P_unpack_2x32: return a[0] >> 32 * component;
    case P_pack_2x32: return x[0] | (uint64_t)x[1] << 32;
    case P_hash_bits: return hashed(kind_of(p->out), a[component]);
    case P_philox: philox(x, y, out); return out[component];
    case P_ravel:
        for (unsigned j = 1; j < rows_of(p->a); j++) x[0] = x[0] * y[j] + x[j];
        return x[0];
    case P_unravel: return place_of(x[0], y, rows_of(p->out), component);
    case P_unravel_constant: return place_of(x[0], fixed_shape, 4, component);
    case P_dot_4xi8: case P_dot_4xu8: case P_dot_4xi8_4xu8: return (uint64_t)dotted(id, x[0], y[0]);
    case P_dot_4xi8_sat: case P_dot_4xi8_4xu8_sat:
        sum = dotted(id, x[0], y[0]) + widen(VC_I32, d[0]);
        return (uint64_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
    case P_dot_4xu8_sat:
        sum = dotted(id, x[0], y[0]) + (int64_t)d[0];
        return (uint64_t)(sum > UINT32_MAX ? UINT32_MAX : sum);
    default: return packed_word(id, a);
    }
}

#endif /* TESTS_PACKINGS_H */
