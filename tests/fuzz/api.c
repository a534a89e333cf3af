/* Arbitrary sequences of builder calls. Bytes choose calls and operands, valid and invalid: values of closed blocks, of
   another kernel, from before vc_restart, or never set; wrong types; unbalanced blocks; out of memory. Nothing may
   crash, leak or hang. A kernel without an error must be valid; an error must have a message.
   As a program: FUZZ_COUNT sessions starting at seed FUZZ_SEED; `api FILE...` replays files; FUZZ_PRINT=hash prints
   the seed and a hash of each session. With -DFUZZ_LIBFUZZER it is a target of libFuzzer (`make fuzz-api`). */
#ifdef FUZZ_LIBFUZZER
#include "vkdispatch_codegen.h" /* with the implementation, compiled for coverage */
#else
#include "tests/insides.h"
#endif
#include "../kernels.h"

enum { VALUES = 48, REFS = 16, BLOCKS = 40, MOST_CALLS = 4000 };

/* ---- bytes ---- */

typedef struct Feed { const uint8_t *at, *end; } Feed;

static unsigned next_byte(Feed *f) { return f->at < f->end ? *f->at++ : 0; }
static unsigned roll(Feed *f, unsigned sides) { return next_byte(f) % sides; }

static uint64_t next_number(Feed *f) {
    static const uint64_t odd[] = { 0, 1, 2, 3, 5, 7, 8, 31, 32, 63, 64, 127, 128, 255, 256, 65535, 0x7fffffff,
                                    0x80000000, 0xffffffff, 0x100000000, UINT64_C(0x7fffffffffffffff),
                                    UINT64_C(0x8000000000000000), UINT64_MAX, UINT64_MAX - 1 };
    uint64_t x = next_byte(f);
    if (x < 200) return odd[x % (sizeof odd / sizeof odd[0])];
    for (int i = 0; i < 7; i++) x = x << 8 | next_byte(f);
    return x;
}

/* ---- an allocator that counts, and that can fail ---- */

typedef struct Account { long live, left; } Account; /* left: successful requests before all fail; -1: never fail */

static bool refuses(Account *a) { return a->left == 0 || (a->left > 0 && a->left-- == 0); }
static void *take(void *user, size_t size) {
    Account *a = (Account *)user;
    void *p = refuses(a) ? NULL : malloc(size);
    a->live += p != NULL;
    return p;
}
static void *retake(void *user, void *block, size_t size) {
    return refuses((Account *)user) ? NULL : realloc(block, size);
}
static void drop(void *user, void *block) { ((Account *)user)->live--; free(block); }

/* ---- playing a session ---- */

typedef struct Slot { vc_val v; int kernel, depth; bool closed; } Slot;
typedef struct Place { vc_ref r; vc_type type; int kernel, depth; bool closed, buffer, var; } Place;
typedef struct Block { int what; bool exits; } Block; /* what: one of B_ */
enum { B_NONE, B_IF, B_LOOP, B_FOR, B_SWITCH, B_CASE };

typedef struct Player {
    Feed feed;
    Account memory;
    vc_kernel *k[2];
    int now;              /* index of the current kernel */
    bool wild;            /* operands are picked without regard to validity */
    Slot value[VALUES];
    Place place[REFS];
    struct { vc_image_ref r; vc_image_desc desc; } picture[4];
    int values, places;   /* number recorded so far; only the most recent ones are kept */
    Block block[2][BLOCKS];
    int depth[2];
    const char *wrong;
    uint64_t hash;
    uint64_t sound;       /* number of kernels without an error */
} Player;

static unsigned kind_mask(vc_type t) {
    return kind_of(t) == VC_BOOL ? B : is_float(kind_of(t)) ? F : is_signed(kind_of(t)) ? I : U;
}

static void keep(Player *p, vc_val v) {
    Slot *s = &p->value[p->values++ % VALUES];
    s->v = v;
    s->kernel = p->now;
    s->depth = p->depth[p->now];
    s->closed = vc_typeof(v) == VC_NONE;
}

static void keep_ref(Player *p, vc_ref r, bool buffer, bool var) {
    Place *s = &p->place[p->places++ % REFS];
    s->r = r;
    s->type = r.type;
    s->kernel = p->now;
    s->depth = p->depth[p->now];
    s->closed = r.kernel == NULL;
    s->buffer = buffer;
    s->var = var;
}

/* Values of closed blocks remain available as invalid operands. */
static void close_slots(Player *p, int from_depth) {
    for (int i = 0; i < VALUES; i++)
        if (p->value[i].kernel == p->now && p->value[i].depth >= from_depth) p->value[i].closed = true;
    for (int i = 0; i < REFS; i++)
        if (p->place[i].kernel == p->now && p->place[i].depth >= from_depth) p->place[i].closed = true;
}

static bool careless(Player *p) { return p->wild && roll(&p->feed, 16) == 0; }

/* Returns a value whose kind is in `mask` with `rows` rows (0: any), or an immediate if there is none. */
static vc_val pick(Player *p, unsigned mask, unsigned rows) {
    static const uint8_t kinds[] = { VC_BOOL, VC_I8, VC_I16, VC_I32, VC_I64, VC_U8, VC_U16, VC_U32, VC_U64, VC_F16,
                                     VC_F32, VC_F64 };
    unsigned start = roll(&p->feed, VALUES), first;
    if (careless(p)) return p->value[start].v;
    for (unsigned i = 0; i < VALUES; i++) {
        const Slot *s = &p->value[(start + i) % VALUES];
        vc_type t = s->closed || s->kernel != p->now ? (vc_type)VC_NONE : vc_typeof(s->v);
        if (t && t < 64 && kind_mask(t) & mask && (!rows || rows_of(t) == rows)) return s->v;
    }
    first = roll(&p->feed, sizeof kinds);
    while (!(kind_mask(kinds[first % sizeof kinds]) & mask)) first++;
    vc_val v = vc_imm(kinds[first % sizeof kinds], next_number(&p->feed));
    v = vc_const(p->k[p->now], v);
    return rows > 1 ? vc_splat(v, rows) : v;
}

/* Returns a value of this type, or a scalar instead of a vector. */
static vc_val pick_type(Player *p, vc_type type) {
    unsigned start = roll(&p->feed, VALUES);
    if (careless(p)) return p->value[start].v;
    for (unsigned i = 0; i < VALUES; i++) {
        const Slot *s = &p->value[(start + i) % VALUES];
        vc_type t = s->closed || s->kernel != p->now ? (vc_type)VC_NONE : vc_typeof(s->v);
        if (t == type || (t && t == kind_of(type))) return s->v;
    }
    return vc_imm(kind_of(type), next_number(&p->feed));
}

/* Returns a value of exactly this type. */
static vc_val pick_exact(Player *p, vc_type type) {
    unsigned start = roll(&p->feed, VALUES);
    if (careless(p)) return p->value[start].v;
    for (unsigned i = 0; i < VALUES; i++) {
        const Slot *s = &p->value[(start + i) % VALUES];
        if (!s->closed && s->kernel == p->now && vc_typeof(s->v) == type) return s->v;
    }
    return vc_splat(vc_const(p->k[p->now], vc_imm(kind_of(type), next_number(&p->feed))), rows_of(type));
}

static vc_val pick_condition(Player *p) { return pick(p, B, 1); }

/* Returns memory that can be used here; NULL: none. */
static Place *pick_place(Player *p, bool var) {
    unsigned start = roll(&p->feed, REFS);
    if (careless(p)) return &p->place[start];
    for (unsigned i = 0; i < REFS; i++) {
        Place *s = &p->place[(start + i) % REFS];
        if (!s->closed && s->kernel == p->now && s->var == var && s->r.kernel && (s->type < 64 || p->wild)) return s;
    }
    return NULL;
}

static vc_val pick_index(Player *p) {
    unsigned how = roll(&p->feed, 4);
    vc_val v = pick(p, I | U, 1);
    if (careless(p)) return v;
    if (how == 0) return vc_u32(roll(&p->feed, 4));
    return kind_width(kind_of(vc_typeof(v))) < 32 ? vc_cast(VC_U32, v) : v;
}

static vc_type pick_kind(Player *p) {
    static const uint8_t kinds[] = { VC_BOOL, VC_I8, VC_I16, VC_I32, VC_I32, VC_I64, VC_U8, VC_U16, VC_U32, VC_U32,
                                     VC_U64, VC_F16, VC_F32, VC_F32, VC_F64 };
    return kinds[roll(&p->feed, sizeof kinds)];
}

static vc_type pick_some_type(Player *p) {
    vc_type kind = pick_kind(p);
    unsigned rows = roll(&p->feed, 6);
    if (careless(p)) return (vc_type)next_number(&p->feed);
    return VC_VEC(kind, rows > 0 && rows < 4 ? rows + 1 : 1);
}

static const char *pick_name(Player *p) {
    static const char *const names[] = {
        NULL, "", "x", "y", "main", "int", "float", "buffer", "uniform", "void main() {", "gl_GlobalInvocationID",
        "__double", "a b", "a__b", "_", "9lives", "\xc3\xbc", "*/", "/*", "//", "\\", "\"", "?" "?/", "\n", "#define x",
        "kernel", "__global", "double", "vec4", "struct", "new", "template", "this", "return", "half", "uchar",
        "get_global_id", "blockIdx", "threadIdx", "v0", "i0", "x_",
        "my_x", "values", "sin", "fma",
        "bool", "true", "NULL", "size_t", "defined", "sample", "image2D",
        "a name that is so long that no one would ever write it down, not even in a language that has no limit of its "
        "own for the length of names; and longer"
    };
    return names[roll(&p->feed, sizeof names / sizeof names[0])];
}

/* ---- calls ---- */

static void play_operation(Player *p) {
    const Op *op = &ops[roll(&p->feed, O_COUNT)];
    vc_val a = pick(p, (unsigned)op->kinds, 0), b, c;
    vc_type t = vc_typeof(a);
    if (op->arity == 1) { keep(p, op->f1(a)); return; }
    b = pick_type(p, t);
    if (op->arity == 2) { keep(p, roll(&p->feed, 2) ? op->f2(a, b) : op->f2(b, a)); return; }
    c = pick_type(p, t);
    keep(p, op->f3(a, b, c));
}

/* Functions with operands of given types, or of any types if careless. */
static const struct { vc_val (*one)(vc_val); vc_val (*two)(vc_val, vc_val); vc_val (*three)(vc_val, vc_val, vc_val);
                      vc_type a, b, c; } functions[] = {
    { vc_pack_half2, NULL, NULL, VC_F32X2, 0, 0 }, { vc_unpack_half2, NULL, NULL, VC_U32, 0, 0 },
    { vc_round_f16, NULL, NULL, VC_F32X3, 0, 0 }, { vc_pack_snorm4x8, NULL, NULL, VC_F32X4, 0, 0 },
    { vc_unpack_unorm2x16, NULL, NULL, VC_U32, 0, 0 }, { vc_pack_4x8, NULL, NULL, VC_I32X4, 0, 0 },
    { vc_unpack_4xi8, NULL, NULL, VC_U32, 0, 0 }, { vc_unpack_2x32, NULL, NULL, VC_F64, 0, 0 },
    { vc_hash_bits, NULL, NULL, VC_U64, 0, 0 }, { vc_normal, NULL, NULL, VC_U32X4, 0, 0 },
    { vc_frexp_mantissa, NULL, NULL, VC_F32X2, 0, 0 }, { vc_frexp_exponent, NULL, NULL, VC_F16, 0, 0 },
    { vc_norm, NULL, NULL, VC_F32X3, 0, 0 }, { vc_normalize, NULL, NULL, VC_F32X2, 0, 0 },
    { NULL, vc_ldexp, NULL, VC_F32, VC_I64, 0 }, { NULL, vc_distance, NULL, VC_F64X2, VC_F64X2, 0 },
    { NULL, vc_cross, NULL, VC_F32X3, VC_F32X3, 0 }, { NULL, vc_reflect_vector, NULL, VC_F32X3, VC_F32, 0 },
    { NULL, vc_dot_4xi8, NULL, VC_U32, VC_U32, 0 }, { NULL, vc_ravel, NULL, VC_U32X3, VC_U32X3, 0 },
    { NULL, vc_unravel, NULL, VC_U32, VC_U32X4, 0 }, { NULL, vc_philox, NULL, VC_U32X4, VC_U32X2, 0 },
    { NULL, NULL, vc_faceforward, VC_F32X2, VC_F32X2, VC_F32X2 }, { NULL, NULL, vc_refract, VC_F32X3, VC_F32X3,
                                                                    VC_F32 },
                                                                    { NULL, NULL, vc_dot_4xi8_sat, VC_U32, VC_U32,
                                                                      VC_I32 }
};

static void play_function(Player *p) {
    unsigned which = roll(&p->feed, sizeof functions / sizeof functions[0] + 4);
    vc_val a, b, c;
    vc_type type;
    if (which < sizeof functions / sizeof functions[0]) {
        a = careless(p) ? pick(p, B | I | U | F, 0) : pick_type(p, functions[which].a);
        if (functions[which].one) { keep(p, functions[which].one(a)); return; }
        b = careless(p) ? a : pick_type(p, functions[which].b);
        if (functions[which].two) { keep(p, functions[which].two(a, b)); return; }
        c = careless(p) ? a : pick_type(p, functions[which].c);
        keep(p, functions[which].three(a, b, c));
        return;
    }
    type = careless(p) ? pick_some_type(p) : (vc_type)VC_U32;
    a = pick(p, I | U, 0);
    switch (which - sizeof functions / sizeof functions[0]) {
    case 0: b = pick_type(p, VC_U32X2); keep(p, vc_pack_2x32(careless(p) ? type : (vc_type)VC_F64, b)); break;
    case 1: b = pick_type(p, type); keep(p, vc_uniform(careless(p) ? type : (vc_type)VC_F32, b)); break;
    case 2: keep(p, vc_cast_sat(careless(p) ? type : VC_VEC(pick_kind(p), rows_of(vc_typeof(a))), a)); break;
    default:
        b = pick_type(p, vc_typeof(a));
        c = pick_type(p, VC_U16);
        keep(p, vc_bitfield_insert(a, b, careless(p) ? b : c, c));
        break;
    }
}

static void play_construction(Player *p) {
    vc_val v[4];
    vc_type t;
    unsigned which = roll(&p->feed, 12), n;
    static const char *const swizzles[] = { "x", "yx", "xyz", "wzyx", "xxxx", "", "xq", "xyzwx", NULL };
    vc_kernel *k = p->k[p->now];
    v[0] = pick(p, B | I | U | F, which < 4 ? 1 : 0);
    t = vc_typeof(v[0]);
    for (int i = 1; i < 4; i++) v[i] = which < 4 ? pick_type(p, kind_of(t)) : v[0];
    switch (which) {
    case 0: keep(p, vc_vec2(v[0], v[1])); break;
    case 1: keep(p, vc_vec3(v[0], v[1], v[2])); break;
    case 2: keep(p, vc_vec4(v[0], v[1], v[2], v[3])); break;
    case 3: n = roll(&p->feed, p->wild ? 6 : 4); keep(p, vc_splat(v[0], p->wild ? n : n + 1)); break;
    case 4: n = roll(&p->feed, p->wild ? 5 : rows_of(t)); keep(p, vc_component(v[0], n)); break;
    case 5: v[1] = pick(p, I | U, 1); keep(p, vc_extract(v[0], v[1])); break;
    case 6:
        n = roll(&p->feed, p->wild ? 5 : rows_of(t));
        v[1] = pick_type(p, kind_of(t));
        keep(p, vc_insert(v[0], n, v[1]));
        break;
    case 7: n = roll(&p->feed, p->wild ? 9 : rows_of(t)); keep(p, vc_swizzle(v[0], swizzles[n])); break;
    case 8: n = pick_kind(p); keep(p, vc_cast(VC_VEC(n, rows_of(t)), v[0])); break;
    case 9:
        n = pick_kind(p);
        if (!p->wild && (n == VC_BOOL || kind_of(t) == VC_BOOL || kind_width(n) != kind_width(kind_of(t))))
            n = kind_of(t);
        if (kind_of(t) != VC_BOOL || p->wild) keep(p, vc_bitcast(VC_VEC(n, rows_of(t)), v[0]));
        break;
    case 10: v[1] = pick_condition(p); v[2] = pick_type(p, t); keep(p, vc_select(v[1], v[0], v[2])); break;
    default: n = pick_kind(p); keep(p, vc_const(k, vc_imm(n, next_number(&p->feed)))); break;
    }
}

static void play_immediate(Player *p) {
    /* one read per statement: the order of evaluation of arguments is unspecified */
    unsigned kind = pick_kind(p), given = careless(p) ? 77 : kind;
    vc_val v = vc_imm(given, next_number(&p->feed));
    if (roll(&p->feed, 4) == 0) v = vc_sqrt(v);
    if (roll(&p->feed, 4) == 0) v = vc_add(v, vc_imm(kind, next_number(&p->feed)));
    keep(p, v);
}

static void play_declaration(Player *p) {
    static const uint64_t data[8] = { 1, 2, 3, UINT64_MAX, 5, 0x3f800000, 7, 8 };
    vc_kernel *k = p->k[p->now];
    unsigned which = roll(&p->feed, 8), count = 1 + roll(&p->feed, 4);
    const char *name = pick_name(p);
    vc_type type = pick_some_type(p);
    if (careless(p)) count = (unsigned)next_number(&p->feed);
    switch (which) {
    case 0: case 1:
        keep_ref(p, vc_buffer(k, name, type, careless(p) ? count : (unsigned)VC_READ_WRITE), true, false);
        break;
    case 2: keep(p, vc_param(k, name, type)); break;
    case 3: case 4: keep_ref(p, vc_var(k, name, type), false, true); break;
    case 5: keep_ref(p, vc_array(k, name, type, count), false, false); break;
    case 6: keep_ref(p, vc_shared(k, name, type, count), false, false); break;
    default:
        keep_ref(p, vc_table(k, name, type, careless(p) ? NULL : data, count > 2 ? 2 : count), false, false);
        break;
    }
}

static void play_memory(Player *p) {
    unsigned which = roll(&p->feed, 8);
    Place *s = pick_place(p, which >= 6);
    vc_val index, value, condition;
    if (!s) return;
    index = which < 5 ? pick_index(p) : vc_u32(0);
    value = pick_type(p, s->type);
    switch (which) {
    case 0: case 1: keep(p, vc_load(s->r, index)); break;
    case 2: condition = pick_condition(p); keep(p, vc_load_or(s->r, index, condition, value)); break;
    case 3: vc_store(s->r, index, value); break;
    case 4: { bool buffer = s->buffer; keep_ref(p, vc_offset(s->r, index), buffer, false); break; }
    case 5:
        if (s->buffer || p->wild)
            keep(p, roll(&p->feed, 2) ? vc_length(s->r) : vc_shape(s->r, roll(&p->feed, p->wild ? 5 : 4)));
        break;
    case 6: keep(p, vc_get(s->r)); break;
    default: vc_set(s->r, value); break;
    }
}

/* ---- complex numbers, matrices, arrays and structs ---- */

static vc_type pick_composite(Player *p, unsigned depth) {
    vc_kernel *k = p->k[p->now];
    unsigned how = roll(&p->feed, depth ? 7 : 3), kind, rows, count;
    const char *name;
    vc_member m[4];
    vc_type t;
    if (careless(p)) return (vc_type)next_number(&p->feed);
    if (how == 0) return VC_COMPLEX(VC_F16 + roll(&p->feed, 3));
    if (how == 1) {
        kind = VC_F32 + roll(&p->feed, 2);
        rows = 2 + roll(&p->feed, 3);
        count = 2 + roll(&p->feed, 3);
        return VC_MAT(kind, rows, count);
    }
    if (how == 2) return pick_some_type(p);
    count = 1 + roll(&p->feed, 4);
    if (how == 3) {
        t = pick_composite(p, depth - 1);
        return vc_array_type(k, t, careless(p) ? (uint32_t)next_number(&p->feed) : count);
    }
    for (unsigned i = 0; i < count; i++) {
        m[i].name = pick_name(p);
        m[i].type = pick_composite(p, depth - 1);
    }
    name = pick_name(p);
    if (careless(p)) count = 0;
    return vc_struct(k, name, careless(p) ? NULL : m, count);
}

/* Extracts a component of a value, recursively down to a number or vector; sometimes puts values together again. */
static vc_val take_apart(Player *p, vc_val v) {
    vc_kernel *k = p->k[p->now];
    for (int i = 0; i < 8 && vc_typeof(v) >= 64; i++) {
        uint32_t parts = vc__direct_part_count(k, vc_typeof(v)), n = roll(&p->feed, p->wild ? 5 : parts);
        vc_val part = vc_part(v, n);
        if (roll(&p->feed, 2)) v = vc_with(v, n, part);
        if (roll(&p->feed, 2)) v = vc_select(pick_condition(p), v, vc_with(v, n, part));
        v = vc_part(v, n);
    }
    return v;
}

/* The same for memory. */
static vc_ref step_inside(Player *p, vc_ref r) {
    vc_kernel *k = p->k[p->now];
    for (int i = 0; i < 8 && r.type >= 64; i++) {
        uint32_t parts = vc__direct_part_count(k, r.type), n = roll(&p->feed, p->wild ? 5 : parts);
        const vc__user_type *own = vc__user_type_of(k, r.type);
        if (!own || own->element == VC_NONE) r = vc_field(r, n);
        else r = vc_at(r, roll(&p->feed, 2) ? vc_u32(n) : vc_const(k, vc_u32(n)));
    }
    return r;
}

static void play_numbers(Player *p) {
    vc_val a = pick(p, F, 1), b = pick_type(p, vc_typeof(a)), z = vc_complex(a, vc_const(p->k[p->now], b));
    vc_val w = vc_mul(z, vc_conj(z));
    switch (roll(&p->feed, 8)) {
    case 0: z = vc_div(z, w); break;
    case 1: z = vc_add(vc_sub(z, w), a); break;
    case 2: z = vc_sqrt(z); break;
    case 3: z = vc_pow(z, w); break;
    case 4: z = vc_select(vc_eq(z, w), vc_exp(z), vc_log(w)); break;
    case 5: z = vc_polar(vc_abs(z), vc_arg(w)); break;
    case 6: z = p->wild ? vc_inverse(z) : vc_neg(z); break;
    default: if (p->wild) z = vc_fma(z, w, vc_const(p->k[p->now], b)); break;
    }
    keep(p, vc_re(z));
    keep(p, vc_im(z));
}

static void play_composite(Player *p) {
    vc_kernel *k = p->k[p->now];
    unsigned how = roll(&p->feed, 6);
    vc_type type;
    vc_ref r, at;
    vc_val v;
    if (how == 5) { play_numbers(p); return; }
    type = pick_composite(p, 3);
    if (how == 4) { keep(p, take_apart(p, vc_param(k, pick_name(p), type))); return; }
    r = how == 0 ? vc_buffer(k, "c", type, VC_READ_WRITE) : how == 1 ? vc_var(k, "c", type) : how == 2
        ? vc_array(k, "c", type, 4) : vc_shared(k, "c", type, 4);
    if (how != 1) r = vc_at(r, pick_index(p));
    v = vc_get(r);
    if (roll(&p->feed, 2)) vc_set(r, v);
    at = step_inside(p, r);
    vc_set(at, pick_type(p, at.type));
    keep(p, take_apart(p, v));
}

static void play_place(Player *p) {
    vc_kernel *k = p->k[p->now];
    unsigned which = roll(&p->feed, 7), axis = roll(&p->feed, p->wild ? 4 : 3);
    switch (which) {
    case 0: keep(p, vc_global_id(k, axis)); break;
    case 1: keep(p, vc_local_id(k, axis)); break;
    case 2: keep(p, vc_group_id(k, axis)); break;
    case 3: keep(p, vc_local_index(k)); break;
    case 4: keep(p, vc_local_size(k, axis)); break;
    case 5: keep(p, vc_groups(k, axis)); break;
    default: keep(p, vc_threads(k, axis)); break;
    }
}

/* Functions with special type rules. */
static void play_typed(Player *p) {
    static const struct { vc_val (*call)(vc_val); vc_type takes; } one[] = {
        { vc_pack_half2, VC_F32X2 }, { vc_unpack_half2, VC_U32 }, { vc_pack_snorm4x8, VC_F32X4 },
        { vc_pack_unorm4x8, VC_F32X4 }, { vc_pack_snorm2x16, VC_F32X2 }, { vc_pack_unorm2x16, VC_F32X2 },
        { vc_unpack_snorm4x8, VC_U32 }, { vc_unpack_unorm2x16, VC_U32 }, { vc_pack_4x8, VC_U32X4 },
        { vc_unpack_4xi8, VC_U32 }, { vc_unpack_4xu8, VC_U32 }, { vc_unpack_2x32, VC_U64 },
        { vc_subgroup_any, VC_BOOL }, { vc_subgroup_all, VC_BOOL }, { vc_subgroup_ballot, VC_BOOL },
        { vc_subgroup_ballot_count, VC_U32X4 }, { vc_subgroup_ballot_exclusive, VC_U32X4 },
        { vc_subgroup_broadcast_first, VC_F32 }, { vc_subgroup_all_equal, VC_U32 }, { vc_hash_bits, VC_U32 }
    };
    static const struct { vc_val (*call)(vc_val, vc_val); vc_type takes[2]; } two[] = {
        { vc_dot_4xi8, { VC_U32, VC_U32 } }, { vc_dot_4xi8_4xu8, { VC_U32, VC_U32 } },
        { vc_ravel, { VC_U32X3, VC_U32X3 } }, { vc_philox, { VC_U32X4, VC_U32X2 } },
        { vc_subgroup_shuffle, { VC_F32X2, VC_U32 } }, { vc_subgroup_shuffle_xor, { VC_I32, VC_U32 } }
    };
    unsigned which = roll(&p->feed, 40);
    vc_val a, b;
    if (which < sizeof one / sizeof one[0]) {
        a = pick_exact(p, one[which].takes);
        keep(p, one[which].call(a));
        return;
    }
    which -= (unsigned)(sizeof one / sizeof one[0]);
    if (which < sizeof two / sizeof two[0]) {
        a = pick_exact(p, two[which].takes[0]);
        b = pick_exact(p, two[which].takes[1]);
        keep(p, two[which].call(a, b));
        return;
    }
    a = pick(p, I | U | F, 1);
    which = roll(&p->feed, p->wild ? 9 : 3);
    keep(p, roll(&p->feed, 2) ? vc_subgroup_reduce((vc_combine)(which + 1),
                                                   a) : vc_subgroup_exclusive((vc_combine)(which + 1), a));
}

static void play_atomic(Player *p) {
    static void (*const change[])(vc_ref, vc_val, vc_val, vc_val *) = { vc_atomic_add, vc_atomic_sub, vc_atomic_min,
                                                                        vc_atomic_max, vc_atomic_and, vc_atomic_or,
                                                                        vc_atomic_xor, vc_atomic_exchange };
    unsigned which = roll(&p->feed, 12), how = roll(&p->feed, 16);
    Place *s = pick_place(p, false);
    vc_val index = pick_index(p), value, old = { 0, 0 };
    vc_ref r;
    if (!s || (!p->wild && (!s->buffer || (s->type != VC_U32 && s->type != VC_I32)))) return;
    value = pick_type(p, s->type);
    r = p->wild || how < 8 ? vc_ordered(s->r, (vc_order)(how % 4), (vc_scope)(p->wild ? how % 5 : 3)) : s->r;
    if (which < 8) change[which](r, index, value, how & 1 ? &old : NULL);
    else if (which == 8) vc_atomic_compare_exchange(r, index, value, value, &old);
    else if (which == 9) { if (p->wild) vc_atomic_load(r, index, &old); }
    else if (which == 10) { if (p->wild) vc_atomic_store(r, index, value); }
    else if (p->wild) vc_fence(p->k[p->now], (vc_scope)(how % 5), how % 5);
    if (old.owner) keep(p, old);
}

static void play_picture(Player *p, unsigned slot) {
    static const vc_type types[] = { VC_NONE, VC_F32, VC_I32, VC_U32 };
    vc_image_desc d;
    memset(&d, 0, sizeof d);
    d.dim = (vc_dim)roll(&p->feed, careless(p) ? 10 : 8);
    d.storage = roll(&p->feed, 2) != 0;
    if (d.storage || careless(p)) d.format = (vc_format)roll(&p->feed, careless(p) ? 50 : 40);
    if (!d.format || careless(p)) d.type = types[roll(&p->feed, 4)];
    if (careless(p)) d.access = roll(&p->feed, 9);
    p->picture[slot].r = vc_image(p->k[p->now], pick_name(p), &d);
    if (!d.dim) d.dim = VC_DIM_2D;
    p->picture[slot].desc = d;
}

static vc_val pick_spread(Player *p, vc_type kind, unsigned rows) {
    if (careless(p)) return pick(p, B | I | U | F, 0);
    return vc_splat(vc_const(p->k[p->now], pick_exact(p, kind)), rows);
}

/* Whether an image supports call number `which` of play_image. */
static bool has_call(const vc_image_desc *d, unsigned which) {
    bool cube = d->dim == VC_DIM_CUBE, buffer = d->dim == VC_DIM_BUFFER;
    if (which >= 7) return which < 9 ? d->storage : which == 9 || (!d->storage && !buffer);
    if (d->storage || (buffer && which != 6)) return false;
    if (which == 4) return d->dim == VC_DIM_2D || d->dim == VC_DIM_2D_ARRAY || cube;
    return !cube || which < 4;
}

static void play_image(Player *p) {
    unsigned slot = roll(&p->feed, 4), which = roll(&p->feed, 11), rows = 3, axes = 3;
    vc_image_ref r;
    vc_image_desc d;
    vc_val at, texel, x, y, level;
    bool one;
    if (which == 0 || !p->picture[slot].r.kernel || (p->picture[slot].r.kernel != p->k[p->now] && !p->wild))
        play_picture(p, slot);
    r = p->picture[slot].r;
    d = p->picture[slot].desc;
    one = d.storage || d.dim == VC_DIM_BUFFER;
    if (d.dim <= VC_DIM_BUFFER) { rows = vc__dims[d.dim].coordinates; axes = vc__dims[d.dim].axes; }
    while (!p->wild && !has_call(&d, which)) which = which % 10 + 1; /* every image has a size */
    at = pick_spread(p, VC_F32, rows);
    texel = pick_spread(p, roll(&p->feed, 2) ? VC_I32 : VC_U32, rows);
    level = one && !careless(p) ? vc_u32(0) : pick_spread(p, VC_I32, 1);
    x = pick_spread(p, VC_F32, which == 3 ? axes : 1);
    y = pick_spread(p, VC_F32, axes);
    switch (which) {
    case 1: keep(p, vc_sample(r, at)); break;
    case 2: keep(p, vc_sample_lod(r, at, x)); break;
    case 3: keep(p, vc_sample_grad(r, at, x, y)); break;
    case 4: keep(p, vc_gather(r, at, roll(&p->feed, p->wild ? 6 : 4))); break;
    case 5:
        keep(p, vc_sample_offset(r, at, x, (int32_t)roll(&p->feed, p->wild ? 20 : 8), axes > 1 ? -3 : 0,
                                 p->wild ? 1 : 0));
        break;
    case 6: keep(p, vc_fetch(r, texel, level)); break;
    case 7: keep(p, vc_image_load(r, texel)); break;
    case 8:
        vc_image_store(r, texel,
                       pick_type(p, VC_VEC(vc__formats[(unsigned)d.format % 40].kind
                                           ? vc__formats[(unsigned)d.format % 40].kind : d.type
                                           ? d.type : (vc_type)VC_F32, 4)));
        break;
    case 9: keep(p, vc_image_size(r, level)); break;
    default: keep(p, vc_image_levels(r)); break;
    }
}

static Block *top(Player *p) { return p->depth[p->now] ? &p->block[p->now][p->depth[p->now] - 1] : NULL; }

static void push(Player *p, int what) {
    Block *b = &p->block[p->now][p->depth[p->now]++];
    b->what = what;
    b->exits = false;
}

/* An exit of a loop; without a loop, it is refused. */
static void play_exit(Player *p, unsigned which, vc_val condition) {
    vc_kernel *k = p->k[p->now];
    int d = p->depth[p->now];
    while (d && p->block[p->now][d - 1].what != B_LOOP && p->block[p->now][d - 1].what != B_FOR) d--;
    if (!d && which != 2 && !p->wild) return;
    if (top(p) && top(p)->what == B_SWITCH && !p->wild) return;
    if (which == 0) vc_break_if(k, condition);
    else if (which == 1) vc_continue_if(k, condition);
    else vc_return_if(k, condition);
    if (d && which != 1) p->block[p->now][d - 1].exits = true;
}

static void end_block(Player *p) {
    Block *b = top(p);
    vc_kernel *k = p->k[p->now];
    if (!b) { if (p->wild) vc_block_end(k); return; }
    if (b->what == B_LOOP && !b->exits && !careless(p)) play_exit(p, 0, pick_condition(p));
    vc_block_end(k);
    close_slots(p, p->depth[p->now]);
    p->depth[p->now]--;
    if (b->what == B_IF && roll(&p->feed, 3) == 0) {
        vc_else_begin(k);
        push(p, B_CASE);
    }
}

static void play_block(Player *p) {
    vc_kernel *k = p->k[p->now];
    unsigned which = roll(&p->feed, 10);
    vc_val a, b, c;
    bool in_switch = top(p) && top(p)->what == B_SWITCH;
    if (in_switch && !careless(p)) {
        if (which < 7) {
            int64_t at = (int64_t)(p->values++ % 100);
            if (p->wild && which >= 5) at = -1;
            vc_case_begin(k, at);
            push(p, B_CASE);
        } else end_block(p);
        return;
    }
    if (which >= 7 || p->depth[p->now] >= BLOCKS - 2) { end_block(p); return; }
    switch (which) {
    case 0: case 1: a = pick_condition(p); push(p, B_IF); vc_if_begin(k, a); break;
    case 2:
        a = pick(p, I | U, 1);
        b = pick_type(p, vc_typeof(a));
        c = roll(&p->feed, 2) ? vc_i32(1) : roll(&p->feed, 2) ? vc_imm(VC_I32, next_number(&p->feed))
            : pick_type(p, vc_typeof(a));
        push(p, B_FOR);
        keep(p, vc_for_begin(k, a, b, c));
        break;
    case 3: push(p, B_LOOP); vc_loop_begin(k); break;
    case 4: a = pick(p, I | U, 1); push(p, B_SWITCH); vc_switch_begin(k, a); break;
    case 5:
        if (p->depth[p->now] == 0 || p->wild) {
            push(p, B_CASE);
            keep(p, vc_each_begin(k, 1 + roll(&p->feed, p->wild ? 4 : 3), 0));
        }
        break;
    default:
        if (p->wild) {
            if (roll(&p->feed, 2)) { push(p, B_CASE); vc_default_begin(k); } else { push(p, B_CASE); vc_else_begin(k); }
        }
        break;
    }
}

/* printf with arguments that may or may not match the format. */
static void play_print(Player *p) {
    static const char *const odd[] = { "", "%", "%s", "%5.3g %d", "%-08x%%", "%*u", "%+i|", "%c%c", "%llu", "%999f",
                                       "%.3", "%#a %e" };
    vc_kernel *k = p->k[p->now];
    vc_val v = pick(p, I | U | F, roll(&p->feed, 3) == 0), w;
    vc_type type = vc_typeof(v), kind = type & 15u;
    if (top(p) && top(p)->what == B_SWITCH && !p->wild) return;
    if (careless(p)) {
        w = pick(p, B | I | U | F, 0);
        vc_printf(k, odd[roll(&p->feed, sizeof odd / sizeof odd[0])], v, w);
        return;
    }
    if (roll(&p->feed, 4) == 0) vc_assert(k, pick_condition(p), "100% sure");
    else if (type) vc_printf(k, kind >= VC_F16 ? "%g\n" : kind <= VC_I64 ? "%5d" : "%x", v);
}

static void play_statement(Player *p) {
    unsigned which = roll(&p->feed, 8);
    if (which == 7) { play_print(p); return; }
    if (which >= 3) { if (p->depth[p->now] == 0 && (p->wild || which == 3)) vc_barrier(p->k[p->now]); return; }
    if (which == 2 && !p->wild && roll(&p->feed, 4)) return;
    play_exit(p, which, pick_condition(p));
}

/* Printing a dump in between must not change the kernel. */
static void play_question(Player *p) {
    vc_kernel *k = p->k[p->now];
    size_t words;
    switch (roll(&p->feed, 16)) {
    case 0: vc_spirv(k, &words); break;
    case 1: vc_source(k, (vc_target)roll(&p->feed, p->wild ? 8 : 5)); break;
    case 2: vc_reflect(k); break;
    case 3: vc_dump(k); break;
    case 4: vc_hash(k); break;
    case 5: if (p->k[1]) p->now = 1 - p->now; break;
    default: vc_error(k); break;
    }
}

static vc_kernel_desc make_desc(Player *p) {
    vc_kernel_desc desc;
    unsigned how = next_byte(&p->feed);
    memset(&desc, 0, sizeof desc);
    desc.name = pick_name(p);
    desc.buffers = (vc_buffers)(how % 3);
    desc.fast = how % 5 == 4;
    if (how & 64) desc.local_size[0] = 1 + how % 7;
    if (how & 32) { desc.local_size[1] = 1 + how % 3; if (!desc.local_size[0]) desc.local_size[0] = 1; }
    if (p->wild && how == 255) for (int i = 0; i < 3; i++) desc.local_size[i] = (uint32_t)next_number(&p->feed);
    if (how % 11 == 10) desc.machine.missing_features = next_number(&p->feed);
    if (how % 13 == 12) desc.machine.max_groups[0] = 0xffffffffu;
    if (how % 17 == 16) desc.machine.max_shared_bytes = 64;
    desc.allocator.allocate = take;
    desc.allocator.reallocate = retake;
    desc.allocator.release = drop;
    desc.allocator.user = &p->memory;
    return desc;
}

static void play_restart(Player *p) {
    vc_kernel_desc desc = make_desc(p);
    vc_restart(p->k[p->now], &desc);
    for (int i = 0; i < VALUES; i++) if (p->value[i].kernel == p->now) p->value[i].closed = true;
    for (int i = 0; i < REFS; i++) if (p->place[i].kernel == p->now) p->place[i].closed = true;
    p->depth[p->now] = 0;
}

static void play_call(Player *p) {
    unsigned which = next_byte(&p->feed);
    if (top(p) && top(p)->what == B_SWITCH && !p->wild && which < 250) { play_block(p); return; }
    if (which < 90) play_operation(p);
    else if (which < 100) play_function(p);
    else if (which < 130) play_construction(p);
    else if (which < 140) play_immediate(p);
    else if (which < 158) play_declaration(p);
    else if (which < 165) play_composite(p);
    else if (which < 197) play_memory(p);
    else if (which < 205) play_image(p);
    else if (which < 209) play_typed(p);
    else if (which < 212) play_atomic(p);
    else if (which < 215) play_place(p);
    else if (which < 238) play_block(p);
    else if (which < 246) play_statement(p);
    else if (which < 254) play_question(p);
    else if (p->wild) play_restart(p);
}

/* ---- properties that must hold at the end ---- */

static char wrong_text[4000];

static void wrong(Player *p, const char *what, const char *text) {
    if (p->wrong) return;
    snprintf(wrong_text, sizeof wrong_text, "%s: %s", what, text ? text : "");
    p->wrong = wrong_text;
}

static void mix(Player *p, const void *from, size_t size) {
    const unsigned char *c = (const unsigned char *)from;
    for (size_t i = 0; i < size; i++) p->hash = (p->hash ^ c[i]) * UINT64_C(0x100000001b3);
}

/* Either a result, or an error with a message. */
static bool has_result_or_error(Player *p, vc_kernel *k, const char *what, bool result) {
    const char *error = vc_error(k);
    if (result && error) wrong(p, what, "returns a result in spite of an error");
    if (!result && !error) wrong(p, what, "returns nothing without an error");
    if (error && (strlen(error) < 10 || !strstr(error, "kernel"))) wrong(p, "an error without a message", error);
    return result;
}

/* A known false error of SPIRV-Tools 2023.1: a valid but unreachable exit of a switch after a loop that is only left
   by return. */
static bool is_unreachable_switch(const char *why) {
    return strstr(why, "Case construct that targets") && strstr(why, "outer loop merge or outer loop continue");
}

/* spirv_wrong without MaximallyReconvergesKHR, an execution mode unknown to SPIRV-Tools 2023.1. */
static const char *module_wrong(const uint32_t *code, size_t words) {
    uint32_t *plain = (uint32_t *)malloc(words * 4);
    size_t count = 5, at = 5, size;
    const char *why;
    if (!plain) return "no memory for the validator";
    memcpy(plain, code, 20);
    for (; at < words && code[at] >> 16; at += size) {
        size = code[at] >> 16;
        if ((code[at] & 0xffff) == 16 && size == 3 && code[at + 2] == 6023) continue;
        memcpy(plain + count, code + at, size * 4);
        count += size;
    }
    why = spirv_wrong(plain, count);
    free(plain);
    return why;
}

/* glslang rejects texts that exceed its table of limits. */
static bool is_small(const vc_info *info) {
    return info && info->local_size[0] <= 1024 && info->local_size[1] <= 1024 && info->local_size[2] <= 64;
}

static void finish(Player *p, vc_kernel *k, bool by_glslang) {
    static const vc_target texts[] = { VC_TARGET_GLSL, VC_TARGET_CUDA, VC_TARGET_OPENCL };
    size_t words = 0;
    const uint32_t *code = vc_spirv(k, &words);
    const char *text;
    if (has_result_or_error(p, k, "vc_spirv", code != NULL)) {
        const char *why = module_wrong(code, words);
        if (why && !is_unreachable_switch(why)) wrong(p, "spirv-val", why);
        mix(p, code, words * 4);
        p->sound++;
    }
    has_result_or_error(p, k, "vc_reflect", vc_reflect(k) != NULL);
    text = vc_dump(k);
    if (has_result_or_error(p, k, "vc_dump", text != NULL)) mix(p, text, strlen(text));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        text = vc_source(k, texts[i]);
        if (!has_result_or_error(p, k, "vc_source", text != NULL)) continue;
        mix(p, text, strlen(text));
        if (i || !by_glslang || !is_small(vc_reflect(k))) continue;
        if (strstr(text, "GL_EXT_maximal_reconvergence")) continue; /* glslang 12 does not support it */
        const char *why = glsl_wrong(text);
        if (why) wrong(p, "glslang", why);
    }
    if (vc_error(k)) mix(p, vc_error(k), strlen(vc_error(k)));
}

/* Plays one session. Returns NULL, or the error. */
static const char *play(Player *p, const uint8_t *data, size_t size, bool by_glslang) {
    unsigned how;
    memset(p, 0, sizeof *p);
    p->feed.at = data;
    p->feed.end = data + size;
    p->hash = UINT64_C(0xcbf29ce484222325);
    how = next_byte(&p->feed);
    p->wild = how % 4 == 3;
    p->memory.left = how / 4 % 16 == 15 ? (long)next_byte(&p->feed) : -1;
    for (int i = 0; i < VALUES; i++) p->value[i].closed = true;
    for (int i = 0; i < REFS; i++) p->place[i].closed = true;
    for (int i = 0; i < (p->wild ? 2 : 1); i++) {
        vc_kernel_desc desc = make_desc(p);
        p->k[i] = vc_begin(&desc);
        if (p->memory.left < 0 && !p->k[i]) wrong(p, "vc_begin", "returns nothing although there is memory");
    }
    for (int i = 0; i < MOST_CALLS && p->feed.at < p->feed.end; i++) play_call(p);
    for (p->now = 0; p->now < 2; p->now++) {
        while (p->depth[p->now]) end_block(p);
        if (p->k[p->now]) finish(p, p->k[p->now], by_glslang);
    }
    for (int i = 0; i < 2; i++) vc_free(p->k[i]);
    if (p->memory.live) wrong(p, "vc_free", "leaves memory behind");
    return p->wrong;
}

static Player player;

#ifdef FUZZ_LIBFUZZER
#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (play(&player, data, size, size % 16 == 0)) {
        fprintf(stderr, "%s\n", player.wrong);
        abort();
    }
    return 0;
}
#else
static size_t make_session(uint64_t seed, uint8_t *data, size_t capacity) {
    uint64_t state = seed * UINT64_C(0x2545f4914f6cdd1d);
    size_t size = 60 + random_next(&state) % (seed % 10 == 9 ? capacity - 60 : 1200);
    for (size_t i = 0; i < size; i++) data[i] = (uint8_t)(random_next(&state) >> 20);
    return size;
}

static bool play_file(const char *path) {
    static uint8_t data[1 << 20];
    FILE *f = fopen(path, "rb");
    size_t size = f ? fread(data, 1, sizeof data, f) : 0;
    if (!f) { printf("cannot read %s\n", path); return false; }
    fclose(f);
    if (!play(&player, data, size, true)) return true;
    printf("%s: %s\n", path, player.wrong);
    return false;
}

int main(int argc, char **argv) {
    static uint8_t data[20000];
    const char *count = getenv("FUZZ_COUNT"), *first = getenv("FUZZ_SEED"), *print = getenv("FUZZ_PRINT");
    long sessions = (count ? atol(count) : 300) * 10, passed = 0, failed = 0;
    uint64_t seed = first ? strtoull(first, NULL, 0) : 1, sound = 0;
    bool hash = print && strcmp(print, "hash") == 0;
    for (int i = 1; i < argc; i++) if (play_file(argv[i])) passed++; else failed++;
    for (long i = 0; i < sessions && argc == 1; i++, seed++) {
        size_t size = make_session(seed, data, sizeof data);
        const char *why = play(&player, data, size, !hash && i % 8 == 0);
        if (hash) printf("%llu %016llx\n", (unsigned long long)seed, (unsigned long long)player.hash);
        else if (why) printf("seed %llu: %s\n", (unsigned long long)seed, why);
        if (why) failed++; else passed++;
        sound += player.sound;
    }
    if (!hash) {
        if (argc == 1)
            printf("api: %ld sessions, %llu kernels without an error\n", sessions, (unsigned long long)sound);
        if (argc == 1 && sound < (uint64_t)sessions / 4) { printf("too few kernels without an error\n"); failed++; }
        printf("%ld passed, %ld failed, 0 skipped\n", passed, failed);
    }
    return failed != 0;
}
#endif
