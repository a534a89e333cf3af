/* Part of composite.c: values of every composite type in every kind of memory, and structs shared with the C
   compiler. */

enum { ITEMS = 256, WAYS = 9 };

/* ---- types: the same calls return the same type numbers in every kernel ---- */

typedef enum Made {
    COMPLEX_F16, COMPLEX_F32, COMPLEX_F64, MAT_2X3, MAT_3X2, MAT_4X4, MAT_F64_3X4, ARRAY_F32, ARRAY_VECTORS,
        ARRAY_COMPLEX, SMALL, MIXED, NESTED, MADE
} Made;

static void make_types(vc_kernel *k, vc_type out[MADE]) {
    vc_type list, small, mixed;
    out[COMPLEX_F16] = VC_F16C;
    out[COMPLEX_F32] = VC_F32C;
    out[COMPLEX_F64] = VC_F64C;
    out[MAT_2X3] = VC_MAT(VC_F32, 2, 3);
    out[MAT_3X2] = VC_MAT(VC_F32, 3, 2);
    out[MAT_4X4] = VC_F32X4X4;
    out[MAT_F64_3X4] = VC_MAT(VC_F64, 3, 4);
    out[ARRAY_F32] = vc_array_type(k, VC_F32, 5);
    out[ARRAY_VECTORS] = vc_array_type(k, VC_F32X4, 3);
    out[ARRAY_COMPLEX] = vc_array_type(k, VC_F64C, 2);
    const vc_member small_members[] = { { "tag", VC_U8 }, { "x", VC_F64 }, { "end", VC_U8 } };
    out[SMALL] = small = vc_struct(k, "small", small_members, 3);
    list = vc_array_type(k, VC_I16, 3);
    const vc_member mixed_members[] = { { "on", VC_BOOL }, { "half", VC_F16 }, { "list", list }, { "big", VC_U64 },
                                        { "v", VC_F32X3 }, { "b", VC_VEC(VC_U8, 3) }, { "z", VC_F32C },
                                        { "flags", VC_VEC(VC_BOOL, 2) } };
    out[MIXED] = mixed = vc_struct(k, "mixed", mixed_members, 8);
    list = vc_array_type(k, vc_array_type(k, small, 2), 3);
    const vc_member nested_members[] = { { "first", VC_U8 }, { "list", list }, { "m", VC_F32X3X3 }, { "mixed", mixed },
                                         { NULL, VC_F32X2 } };
    out[NESTED] = vc_struct(k, "nested", nested_members, 5);
}

/* ---- contents: small integers in every scalar, without padding ---- */

typedef void Visit(vc_type scalar, uint32_t offset, void *user);

static void visit(vc_kernel *k, vc_type type, uint32_t offset, Visit *each, void *user) {
    uint32_t i, parts;
    if (type < 64) {
        for (i = 0; i < rows_of(type); i++) each(type & 15u, offset + i * kind_width(type & 15u) / 8, user);
        return;
    }
    for (parts = 0; parts < vc__direct_part_count(k, type); parts++)
        visit(k, vc__direct_part(k, type, parts).type, offset + vc_offset_of(k, type, parts), each, user);
}

typedef struct Filler { uint8_t *to; uint32_t item, scalar; } Filler;
static int number_of(vc_type kind, uint32_t item, uint32_t scalar) {
    return (int)((item * 7 + scalar * 13 + 1) % (kind == VC_BOOL ? 2 : 101));
}
static void fill_scalar(vc_type kind, uint32_t offset, void *user) {
    Filler *f = (Filler *)user;
    put_bits(kind, f->to + offset, 0, bits_of_number(kind, number_of(kind, f->item, f->scalar++)));
}

typedef struct Judge { const uint8_t *got; uint32_t item, scalar, wrong; bool zero; } Judge;
static void judge_scalar(vc_type kind, uint32_t offset, void *user) {
    Judge *j = (Judge *)user;
    uint64_t want = bits_of_number(kind, j->zero ? 0 : number_of(kind, j->item, j->scalar));
    uint64_t got = get_bits(kind, j->got + offset, 0);
    j->scalar++;
    if (got == want || j->wrong++) return;
    printf("  byte %u, %s: got %llx, wanted %llx\n", offset, vc_type_name(kind), (unsigned long long)got,
           (unsigned long long)want);
}

/* ---- access paths: path w writes to out[w * ITEMS + i] ---- */

/* by_value: pass the parameter by value, otherwise load item 2 */
typedef struct Ways { Made made; const uint8_t *data; bool by_value; } Ways;

static void build_ways(void *user, vc_kernel *k) {
    const Ways *w = (const Ways *)user;
    vc_type types[MADE], type;
    make_types(k, types);
    type = types[w->made];
    vc_ref in = vc_buffer(k, "in", type, VC_READ), out = vc_buffer(k, "out", type, VC_READ_WRITE);
    vc_val p = w->by_value ? vc_param(k, "p", type) : vc_load(in, vc_u32(2)), i = vc_global_id(k, 0);
    vc_val lane = vc_local_id(k, 0), parts[3];
    vc_ref tile = vc_shared(k, "tile", type, LOCAL), table = vc_table(k, "table", type, w->data, 7);
    vc_ref list = vc_array(k, "list", type, 4);
    vc_ref last = vc_var(k, "last", type);
    vc_type three = vc_array_type(k, type, 3);
    vc_store(out, i, vc_load(in, i));
    vc_store(tile, lane, vc_load(in, i));
    vc_barrier(k);
    vc_store(vc_offset(out, vc_u32(ITEMS)), i, vc_load(tile, vc_sub(vc_u32(LOCAL - 1), lane)));
    for (uint32_t j = 0; j < 4; j++)
        vc_store(list, vc_u32(j), vc_load(in, vc_rem(vc_add(i, vc_u32(j)), vc_u32(ITEMS))));
    vc_store(vc_offset(out, vc_i32(2 * ITEMS)), i, vc_load(vc_offset(list, vc_u32(1)),
                                                           vc_and(vc_add(i, i), vc_u32(2))));
    vc_store(vc_offset(out, vc_u32(3 * ITEMS)), i, vc_load(table, vc_rem(i, vc_u32(7))));
    vc_store(vc_offset(out, vc_u64(4 * ITEMS)), vc_cast(VC_I64, i), p);
    VC_FOR(k, j, vc_u32(0), vc_u32(3)) { /* variables are zero each time control reaches them */
        vc_ref v = vc_var(k, "v", type);
        VC_IF(k, vc_eq(vc_rem(vc_add(i, j), vc_u32(3)), vc_u32(1))) { vc_set(v, vc_load(in, i)); }
        vc_set(last, vc_get(v));
    }
    vc_store(vc_offset(out, vc_u32(5 * ITEMS)), i, vc_get(last));
    vc_store(vc_offset(out, vc_u32(6 * ITEMS)), i, vc_load_or(vc_offset(in, i), vc_i32(-1), vc_ne(i, vc_u32(0)), p));
    for (uint32_t j = 0; j < 3; j++) parts[j] = vc_load(in, vc_u32(j + 5));
    vc_store(vc_offset(out, vc_u32(7 * ITEMS)), i, vc_part(vc_make(k, three, parts, 3), 1));
    vc_store(vc_offset(out, vc_u32(8 * ITEMS)), i, vc_select(vc_lt(i, vc_u32(9)), vc_get(vc_at(in, vc_u32(3))),
                                                             vc_load(in, i)));
}

/* Returns the item that a path writes for i; ITEMS: zeros. */
static uint32_t item_of(int way, uint32_t i, uint32_t param) {
    switch (way) {
    case 1: return i / LOCAL * LOCAL + LOCAL - 1 - i % LOCAL;
    case 2: return (i + 1 + (i * 2 & 2)) % ITEMS;
    case 3: return i % 7;
    case 4: return param;
    case 5: return (i + 2) % 3 == 1 ? i : ITEMS;
    case 6: return i ? i - 1 : param;
    case 7: return 6;
    case 8: return i < 9 ? 3 : i;
    default: return i;
    }
}

static void check_ways(Made made) {
    static uint8_t in[ITEMS * 512], out[WAYS * ITEMS * 512], value[512];
    vc_kernel *k = vc_begin(NULL);
    vc_type types[MADE];
    char name[64];
    make_types(k, types);
    uint32_t size = vc_size_of(k, types[made]);
    vd_type type = types[made] < 512 ? types[made] : VD_STRUCT(size);
    snprintf(name, sizeof name, "memory %s", vc__type_text(k, types[made]).text);
    memset(in, 0, sizeof in);
    for (uint32_t i = 0; i <= ITEMS; i++) {
        Filler f = { i < ITEMS ? in + i * size : value, i < ITEMS ? i : ITEMS + 1, 0 };
        visit(k, types[made], 0, fill_scalar, &f);
    }
    for (int f = 0; f < FORMS; f++) {
        /* large argument blocks are passed in memory, but not in GLSL */
        Ways ways = { made, in, size <= 96 || !forms[f].glsl };
        uint32_t wrong = 0, param = ways.by_value ? ITEMS + 1 : 2;
        Run run = run_begin(name, f, ITEMS, LOCAL, build_ways, &ways);
        run_buffer(&run, type, ITEMS, in, NULL);
        run_buffer(&run, type, WAYS * ITEMS, NULL, out);
        if (ways.by_value) run.value_type = type;
        run.value = value;
        if (!run_end(&run)) continue;
        for (int way = 0; way < WAYS; way++)
            for (uint32_t i = 0; i < ITEMS && !wrong; i++) {
                uint32_t item = item_of(way, i, param);
                Judge j = { out + ((uint32_t)way * ITEMS + i) * size, item, 0, 0, item == ITEMS };
                visit(k, types[made], 0, judge_scalar, &j);
                if (j.wrong) printf("  way %d, item %u\n", way, i);
                wrong += j.wrong;
            }
        run_judge(&run, !wrong);
    }
    vc_free(k);
}

/* ---- structs that are declared in C too ---- */

typedef struct Inner { uint8_t tag; int16_t list[3]; float v[3]; double d; } Inner;
typedef struct Outer {
    float position[3];
    uint8_t kind;
    Inner inner[2][3];
    float matrix[2][3]; /* two columns of three rows */
    uint16_t words[5];
    double wide[2][2];
    float pair[2];
    uint32_t id;
} Outer;

static vc_type inner_type(vc_kernel *k) {
    const vc_member m[] = { { "tag", VC_U8 }, { "list", vc_array_type(k, VC_I16, 3) }, { "v", VC_F32X3 },
                            { "d", VC_F64 } };
    return vc_struct(k, "inner", m, 4);
}
static vc_type outer_type(vc_kernel *k) {
    const vc_member m[] = { { "position", VC_F32X3 }, { "kind", VC_U8 },
                            { "inner", vc_array_type(k, vc_array_type(k, inner_type(k), 3), 2) },
                            { "matrix", VC_MAT(VC_F32, 3, 2) }, { "words", vc_array_type(k, VC_U16, 5) },
                            { "wide", VC_F64X2X2 }, { "pair", VC_F32C }, { "id", VC_U32 } };
    return vc_struct(k, "outer", m, 8);
}

static void check_offsets(void) {
    static const size_t inner[] = { offsetof(Inner, tag), offsetof(Inner, list), offsetof(Inner, v),
                                    offsetof(Inner, d) };
    static const size_t outer[] = { offsetof(Outer, position), offsetof(Outer, kind), offsetof(Outer, inner),
                                    offsetof(Outer, matrix), offsetof(Outer, words), offsetof(Outer, wide),
                                    offsetof(Outer, pair), offsetof(Outer, id) };
    vc_kernel *k = vc_begin(NULL);
    vc_type i = inner_type(k), o = outer_type(k);
    bool good = vc_size_of(k, i) == sizeof(Inner) && vc_size_of(k, o) == sizeof(Outer);
    for (uint32_t j = 0; j < 4; j++) good = good && vc_offset_of(k, i, j) == inner[j];
    for (uint32_t j = 0; j < 8; j++) good = good && vc_offset_of(k, o, j) == outer[j];
    if (good) run_passed++; else { printf("  offsets differ from C's\n"); run_failed++; }
    vc_free(k);
}

static vc_ref inside(vc_ref element, vc_val a, vc_val b) { return vc_at(vc_at(vc_field(element, 2), a), b); }

/* Copies or changes every member from memory to memory, with constant and computed indices. */
static void build_layout(void *user, vc_kernel *k) {
    vc_type type = outer_type(k);
    vc_ref in = vc_buffer(k, "in", type, VC_READ), out = vc_buffer(k, "out", type, VC_READ_WRITE);
    (void)user;
    VC_EACH(k, i) {
        vc_ref from = vc_at(in, i), to = vc_at(out, vc_sub(vc_length(out), vc_add(i, vc_u32(1))));
        vc_val two = vc_rem(i, vc_u32(2)), three = vc_rem(i, vc_u32(3)), id = vc_get(vc_field(from, 7));
        vc_set(to, vc_get(from));
        vc_set(vc_field(to, 0), vc_mul(vc_get(vc_field(from, 0)), vc_f32(2)));
        vc_set(vc_field(to, 1), vc_cast(VC_U8, vc_add(id, vc_u32(3))));
        vc_set(inside(to, two, three), vc_get(inside(from, vc_sub(vc_u32(1), two), vc_u32(1))));
        vc_set(vc_field(inside(to, two, vc_u32(0)), 2), vc_get(vc_field(inside(from, vc_u32(1), three), 2)));
        vc_store(vc_field(inside(to, vc_u32(1), vc_u32(2)), 1), three,
                 vc_load(vc_field(inside(from, two, three), 1), vc_u32(0)));
        vc_set(vc_field(vc_field(to, 3), 1), vc_get(vc_field(vc_field(from, 3), 0)));
        vc_store(vc_field(to, 4), vc_cast(VC_I64, three), vc_load_or(vc_field(from, 4), vc_add(i, vc_u32(1)),
                                                                     vc_lt(i, vc_u32(4)), vc_u16(77)));
        vc_set(vc_field(to, 5), vc_transpose(vc_get(vc_field(from, 5))));
        vc_set(vc_field(vc_field(to, 6), 0), vc_im(vc_get(vc_field(from, 6))));
        vc_atomic_add(vc_field(to, 7), vc_u32(0), vc_u32(5), NULL);
        vc_atomic_max(vc_field(vc_field(to, 6), 1), vc_u32(0), vc_f32(50), NULL);
    }
}

static void move_outer(const Outer *from, Outer *to, uint32_t i) {
    uint32_t two = i % 2, three = i % 3;
    *to = *from;
    for (int j = 0; j < 3; j++) to->position[j] = from->position[j] * 2;
    to->kind = (uint8_t)(from->id + 3);
    to->inner[two][three] = from->inner[1 - two][1];
    for (int j = 0; j < 3; j++) to->inner[two][0].v[j] = from->inner[1][three].v[j];
    to->inner[1][2].list[three] = from->inner[two][three].list[0];
    for (int j = 0; j < 3; j++) to->matrix[1][j] = from->matrix[0][j];
    to->words[three] = i < 4 ? from->words[i + 1] : 77;
    to->wide[0][1] = from->wide[1][0];
    to->wide[1][0] = from->wide[0][1];
    to->pair[0] = from->pair[1];
    to->id += 5;
    if (to->pair[1] < 50) to->pair[1] = 50;
}

static void check_layout(void) {
    static Outer in[ITEMS], want[ITEMS], got[ITEMS];
    vc_kernel *k = vc_begin(NULL);
    vc_type type = outer_type(k);
    memset(in, 0, sizeof in);
    memset(want, 0, sizeof want);
    for (uint32_t i = 0; i < ITEMS; i++) {
        Filler f = { (uint8_t *)&in[i], i, 0 };
        visit(k, type, 0, fill_scalar, &f);
        in[i].id = i * 3;
    }
    for (uint32_t i = 0; i < ITEMS; i++) move_outer(&in[i], &want[ITEMS - 1 - i], i);
    for (int f = 0; f < FORMS; f++) {
        Run run = run_begin("layout", f, ITEMS, LOCAL, build_layout, NULL);
        run_buffer(&run, VD_STRUCT(sizeof(Outer)), ITEMS, in, NULL);
        run_buffer(&run, VD_STRUCT(sizeof(Outer)), ITEMS, NULL, got);
        if (run_end(&run)) run_judge(&run, memcmp(want, got, sizeof got) == 0); /* padding stays zero */
    }
    vc_free(k);
}

static void check_memory(void) {
    check_offsets();
    for (int made = 0; made < MADE; made++) check_ways((Made)made);
    check_layout();
}
