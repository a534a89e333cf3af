/* The decoder of SPIR-V modules alone, without a context: structure, ids, operands, memory. */
#include "tests/unit/unit.h"

/* User pointer of an allocator that counts live blocks and the bytes of all requests. */
typedef struct decode_memory { unit_memory blocks; size_t bytes; } decode_memory;

static void *decode_allocate(void *user, size_t size) {
    decode_memory *m = (decode_memory *)user;
    m->bytes += size;
    return unit_allocate(&m->blocks, size);
}

static void decode_release(void *user, void *block) { unit_release(&((decode_memory *)user)->blocks, block); }

static decode_memory decode_used;
static const vd_allocator decode_allocator = { decode_allocate, NULL, decode_release, &decode_used };

/* Decodes `count` words. On failure, checks that nothing stays allocated. */
static vd_result decode(vd__spirv *m, const uint32_t *words, size_t count) {
    memset(&decode_used, 0, sizeof decode_used);
    vd_result r = vd__spirv_decode(m, &decode_allocator, words, count * 4);
    if (r) assert_int_equal(decode_used.blocks.live, 0);
    return r;
}

static vd_result decode_module(unit_module *code) {
    vd__spirv m;
    code->words[3] = code->bound;
    vd_result r = decode(&m, code->words, code->count);
    if (!r) vd__spirv_free(&m);
    assert_int_equal(decode_used.blocks.live, 0);
    return r;
}

static void decode_accepts(unit_module *code) {
    if (decode_module(code)) fail_msg("%s", vd_error_text());
}

static void decode_refuses(unit_module *code, const char *text) {
    assert_int_not_equal(decode_module(code), VD_OK);
    CHECK_TEXT(text);
}

/* ---- modules with a body of the test's ---- */

enum {
    D_VOID = 1, D_MAIN_T, D_U32, D_U64, D_F32, D_BOOL, D_POINTER, D_ZERO, D_ONE, D_LONG, D_TRUE, D_MAIN, D_FREE = 20,
    D_BOUND = 60
};

static void decode_begin(unit_module *m) {
    memset(m, 0, sizeof *m);
    m->words[0] = VD__SPIRV_MAGIC;
    m->words[1] = 0x00010300;
    m->bound = D_BOUND;
    m->count = VD__SPIRV_HEAD;
    unit_op(m, 17, 1u, 1u);
    unit_op(m, 14, 2u, 0u, 1u);
    unit_text(m, 15, "main", 2u, 5u, (uint32_t)D_MAIN);
    unit_op(m, 16, 5u, (uint32_t)D_MAIN, 17u, 1u, 1u, 1u);
    unit_op(m, 19, 1u, (uint32_t)D_VOID);
    unit_op(m, 33, 2u, (uint32_t)D_MAIN_T, (uint32_t)D_VOID);
    unit_op(m, 21, 3u, (uint32_t)D_U32, 32u, 0u);
    unit_op(m, 21, 3u, (uint32_t)D_U64, 64u, 0u);
    unit_op(m, 22, 2u, (uint32_t)D_F32, 32u);
    unit_op(m, 20, 1u, (uint32_t)D_BOOL);
    unit_op(m, 32, 3u, (uint32_t)D_POINTER, 7u, (uint32_t)D_U32);
    unit_op(m, 43, 3u, (uint32_t)D_U32, (uint32_t)D_ZERO, 0u);
    unit_op(m, 43, 3u, (uint32_t)D_U32, (uint32_t)D_ONE, 1u);
    unit_op(m, 43, 4u, (uint32_t)D_U64, (uint32_t)D_LONG, 2u, 1u);
    unit_op(m, 41, 2u, (uint32_t)D_BOOL, (uint32_t)D_TRUE);
}

static void decode_main(unit_module *m) {
    unit_op(m, 54, 4u, (uint32_t)D_VOID, (uint32_t)D_MAIN, 0u, (uint32_t)D_MAIN_T);
    unit_op(m, 248, 1u, (uint32_t)D_FREE);
}

static void decode_end(unit_module *m) {
    unit_op(m, 253, 0u);
    unit_op(m, 56, 0u);
}

/* A module whose body is one instruction of these words. */
#define BODY(op, count, ...) (decode_begin(&m), decode_main(&m), unit_op(&m, op, count, __VA_ARGS__), decode_end(&m))
/* A module with one more global instruction. */
#define GLOBAL(op, count, ...) (decode_begin(&m), unit_op(&m, op, count, __VA_ARGS__), decode_main(&m), decode_end(&m))

/* ---- tests ---- */

static void what_is_decoded(void **state) {
    vd__spirv m;
    unit_module code;
    uint32_t value = 0;
    (void)state;
    unit_saxpy(&code);
    code.words[3] = code.bound;
    if (decode(&m, code.words, code.count)) fail_msg("%s", vd_error_text());
    assert_ptr_equal(m.words, code.words);
    assert_int_equal(m.bound, code.bound);
    assert_int_equal(vd__spirv_opcode(&m, m.functions), VD__OpFunction);
    uint32_t variables = 0, names = 0;
    for (uint32_t at = VD__SPIRV_HEAD; at < m.functions; at += vd__spirv_length(&m, at)) {
        const uint32_t *w = m.words + at;
        if (vd__spirv_opcode(&m, at) == VD__OpName) {
            assert_string_equal(vd__spirv_name(&m, w[1]), (const char *)(w + 2));
            names++;
        }
        if (vd__spirv_opcode(&m, at) != VD__OpVariable || w[3] == VD__StorageClassPushConstant) continue;
        assert_int_equal(m.ids[w[2]].at, at);
        assert_int_equal(vd__spirv_type_of(&m, w[2]), w[1]);
        assert_true(vd__spirv_decoration(&m, w[2], VD__DecorationBinding, &value));
        assert_int_equal(value, variables);
        assert_false(vd__spirv_decoration(&m, w[2], VD__DecorationArrayStride, &value));
        assert_true(m.ids[w[1]].flags & VD__SPIRV_POINTERS);
        variables++;
    }
    assert_int_equal(variables, 2);
    assert_int_equal(names, 2);
    vd__spirv_free(&m);
    assert_int_equal(decode_used.blocks.live, 0);
}

static void types_have_sizes(void **state) {
    enum { VECTOR = D_FREE + 1, ARRAY, STRUCT, COUNT, MATRIX, FLAGS };
    vd__spirv m;
    unit_module code;
    (void)state;
    decode_begin(&code);
    unit_op(&code, 23, 3u, (uint32_t)VECTOR, (uint32_t)D_F32, 3u);
    unit_op(&code, 43, 3u, (uint32_t)D_U32, (uint32_t)COUNT, 5u);
    unit_op(&code, 28, 3u, (uint32_t)ARRAY, (uint32_t)VECTOR, (uint32_t)COUNT);
    unit_op(&code, 30, 4u, (uint32_t)STRUCT, (uint32_t)D_U32, (uint32_t)VECTOR, (uint32_t)D_POINTER);
    unit_op(&code, 24, 3u, (uint32_t)MATRIX, (uint32_t)VECTOR, 2u);
    unit_op(&code, 23, 3u, (uint32_t)FLAGS, (uint32_t)D_BOOL, 2u);
    decode_main(&code);
    decode_end(&code);
    code.words[3] = code.bound;
    if (decode(&m, code.words, code.count)) fail_msg("%s", vd_error_text());
    assert_int_equal(m.ids[VECTOR].type, VD_F32X3);
    assert_int_equal(m.ids[VECTOR].size, 12);
    assert_int_equal(m.ids[VECTOR].align, 16);
    assert_int_equal(m.ids[ARRAY].size, 80);
    assert_int_equal(m.ids[STRUCT].size, 48); /* at 0, 16 and 32 */
    assert_int_equal(m.ids[STRUCT].flags, VD__SPIRV_POINTERS);
    assert_int_equal(m.ids[MATRIX].size, 32);
    assert_int_equal(m.ids[FLAGS].type, VD_BYTES);
    assert_int_equal(m.ids[FLAGS].size, 8);
    assert_int_equal(m.ids[D_U64].type, VD_U64);
    vd__spirv_free(&m);
}

/* Every prefix is refused, and nothing past its end is read. */
static void truncated_streams(void **state) {
    unit_module code;
    vd__spirv m;
    (void)state;
    unit_saxpy(&code);
    code.words[3] = code.bound;
    for (size_t size = 0; size < code.count * 4; size++) {
        uint32_t *copy = (uint32_t *)malloc(size + !size);
        memcpy(copy, code.words, size);
        memset(&decode_used, 0, sizeof decode_used);
        vd_result r = vd__spirv_decode(&m, &decode_allocator, copy, size);
        /* a module may end before its functions, or between two of them */
        if (!r && m.functions < m.count)
            fail_msg("%u of %u bytes are accepted", (unsigned)size, (unsigned)code.count * 4);
        if (!r) vd__spirv_free(&m);
        assert_int_equal(decode_used.blocks.live, 0);
        free(copy);
    }
}

/* Each id of a module is replaced by 0, by the bound, and by an id that nothing defines. */
static void ids_are_in_range(void **state) {
    unit_module code, changed;
    vd__spirv m;
    (void)state;
    unit_saxpy(&code);
    code.words[3] = ++code.bound;
    const uint32_t bad[] = { 0, code.bound, UINT32_MAX, code.bound - 1 };
    assert_int_equal(decode(&m, code.words, code.count), VD_OK);
    uint32_t ids = 0;
    for (uint32_t at = VD__SPIRV_HEAD; at < m.count; at += vd__spirv_length(&m, at)) {
        vd__spirv_operands o;
        vd__spirv_operands_begin(&m, at, &o);
        for (; vd__spirv_next_id(&o); ids++) {
            for (size_t i = 0; i < VD__COUNT(bad); i++) {
                vd__spirv other;
                changed = code;
                changed.words[at + o.next - 1] = bad[i];
                memset(&decode_used, 0, sizeof decode_used);
                vd_result r = vd__spirv_decode(&other, &decode_allocator, changed.words, changed.count * 4);
                assert_int_equal(r, VD_ERROR_COMPILE);
                assert_int_equal(decode_used.blocks.live, 0);
            }
            CHECK_TEXT(vd__spirv_opcode(&m, at) >= VD__OpTypeVoid && vd__spirv_opcode(&m, at) <= VD__OpTypeFunction
                       ? "is not a type that was defined before" : "is used, but not defined");
        }
    }
    assert_in_range(ids, 40, 200);
    free(m.ids);
    free(m.annotations);
}

static void ids_are_defined_once(void **state) {
    unit_module m;
    (void)state;
    GLOBAL(20, 1u, (uint32_t)D_U32);
    decode_refuses(&m, "id 3 is defined twice");
    GLOBAL(43, 3u, (uint32_t)D_U32, (uint32_t)D_ONE, 7u);
    decode_refuses(&m, "id 9 is defined twice");
    BODY(248, 1u, (uint32_t)D_FREE);
    decode_refuses(&m, "a block begins inside another block");
    BODY(1, 2u, (uint32_t)D_U32, (uint32_t)D_FREE);
    decode_refuses(&m, "id 20 is defined twice");
}

static void forward_references(void **state) {
    enum { P = D_FREE + 1, S, CALL, NEXT, PHI, CALLED, LABEL };
    unit_module m;
    (void)state;
    /* a function, a label and an operand of OpPhi that are defined later */
    decode_begin(&m);
    decode_main(&m);
    unit_op(&m, 57, 3u, (uint32_t)D_VOID, (uint32_t)CALL, (uint32_t)CALLED);
    unit_op(&m, 249, 1u, (uint32_t)LABEL);
    unit_op(&m, 248, 1u, (uint32_t)LABEL);
    unit_op(&m, 245, 6u, (uint32_t)D_U32, (uint32_t)PHI, (uint32_t)D_ONE, (uint32_t)D_FREE, (uint32_t)NEXT,
            (uint32_t)LABEL);
    unit_op(&m, 128, 4u, (uint32_t)D_U32, (uint32_t)NEXT, (uint32_t)PHI, (uint32_t)D_ONE);
    unit_op(&m, 249, 1u, (uint32_t)LABEL);
    unit_op(&m, 56, 0u);
    unit_module without = m;
    unit_op(&m, 54, 4u, (uint32_t)D_VOID, (uint32_t)CALLED, 0u, (uint32_t)D_MAIN_T);
    unit_op(&m, 248, 1u, (uint32_t)LABEL + 1);
    decode_end(&m);
    decode_accepts(&m);
    decode_refuses(&without, "id 26 is used, but not defined");
    /* types must precede their uses, except pointers that are declared */
    GLOBAL(30, 2u, (uint32_t)S, (uint32_t)P);
    decode_refuses(&m, "id 21 is not a type that was defined before");
    GLOBAL(30, 2u, (uint32_t)S, (uint32_t)S);
    decode_refuses(&m, "id 22 is not a type that was defined before");
    decode_begin(&m);
    unit_op(&m, 39, 2u, (uint32_t)P, 5349u);
    unit_op(&m, 30, 3u, (uint32_t)S, (uint32_t)P, (uint32_t)D_U32);
    without = m;
    decode_main(&without);
    decode_end(&without);
    decode_refuses(&without, "id 21 is used, but not defined");
    without = m;
    unit_op(&without, 30, 2u, (uint32_t)P, (uint32_t)D_U32);
    decode_refuses(&without, "id 21 was declared as a pointer type, but OpTypeStruct defines it");
    unit_op(&m, 32, 3u, (uint32_t)P, 5349u, (uint32_t)S);
    decode_main(&m);
    decode_end(&m);
    decode_accepts(&m);
    GLOBAL(39, 2u, (uint32_t)D_U32, 5349u);
    decode_refuses(&m, "id 3 is declared as a pointer type, but is not one");
}

/* Each instruction of the grammar with one word less than the fewest, and one more than the most. */
static void numbers_of_words(void **state) {
    unit_module code;
    char text[96];
    (void)state;
    for (size_t i = 0; i < VD__COUNT(vd__spirv_ops); i++) {
        const vd__spirv_op *op = &vd__spirv_ops[i];
        for (int more = 0; more < 2; more++) {
            uint32_t length = more ? op->max_words + 1u : op->min_words - 1u;
            if (more && op->max_words == 255) continue;
            decode_begin(&code);
            code.words[code.count] = length << 16 | op->opcode;
            code.count += length + !length;
            snprintf(text, sizeof text, "Op%s has %u words, but it ", vd__spirv_op_name(op), (unsigned)length);
            decode_refuses(&code, text);
        }
    }
}

static void operands_that_depend_on_others(void **state) {
    enum { V = D_FREE + 1, W, X };
    unit_module m;
    (void)state;
    /* literals by their type */
    GLOBAL(43, 4u, (uint32_t)D_U32, (uint32_t)V, 1u, 0u);
    decode_refuses(&m, "a constant of type 3 has 2 words, but its type needs 1");
    GLOBAL(43, 3u, (uint32_t)D_U64, (uint32_t)V, 1u);
    decode_refuses(&m, "a constant of type 4 has 1 words");
    GLOBAL(43, 3u, (uint32_t)D_BOOL, (uint32_t)V, 1u);
    decode_refuses(&m, "a constant of type 6 has 1 words, but its type needs 0");
    /* cases of OpSwitch */
    for (uint32_t wide = 0; wide < 2; wide++)
        for (uint32_t words = 0; words <= 6; words++) {
            decode_begin(&m);
            decode_main(&m);
            m.words[m.count++] = (3 + words) << 16 | 251;
            m.words[m.count++] = wide ? D_LONG : D_ONE;
            m.words[m.count++] = V;
            for (uint32_t i = 0; i < words; i++) m.words[m.count++] = i % (2 + wide) == 1 + wide ? (uint32_t)V : 77u;
            unit_op(&m, 248, 1u, (uint32_t)V);
            decode_end(&m);
            if (words % (2 + wide) == 0) decode_accepts(&m);
            else decode_refuses(&m, "OpSwitch: the last operand is incomplete");
        }
    BODY(251, 4u, (uint32_t)D_VOID, (uint32_t)D_FREE, 1u, (uint32_t)D_FREE);
    decode_refuses(&m, "OpSwitch: the selector is not an integer");
    /* the mask of a memory access */
    for (uint32_t mask = 0; mask < 32; mask++) {
        uint32_t literals = mask >> 1 & 1, ids = (mask >> 3 & 1) + (mask >> 4 & 1);
        for (uint32_t words = 0; words < 4; words++) {
            decode_begin(&m);
            decode_main(&m);
            unit_op(&m, 59, 3u, (uint32_t)D_POINTER, (uint32_t)V, 7u);
            unit_op(&m, 61, 4u, (uint32_t)D_U32, (uint32_t)W, (uint32_t)V, mask);
            m.words[m.count - 5] += words << 16;
            for (uint32_t i = 0; i < words; i++) m.words[m.count++] = i < literals ? 1000u : (uint32_t)D_ONE;
            decode_end(&m);
            if (words < literals + ids) decode_refuses(&m, "OpLoad: the last operand is incomplete");
            else if (words == literals + ids) decode_accepts(&m);
            else decode_module(&m); /* further words are a second mask */
        }
    }
    /* operations on specialization constants: 128 is OpIAdd, 81 is OpCompositeExtract with a literal, 62 is OpStore */
    GLOBAL(52, 5u, (uint32_t)D_U32, (uint32_t)V, 128u, (uint32_t)D_ONE, (uint32_t)D_ONE);
    decode_accepts(&m);
    GLOBAL(52, 5u, (uint32_t)D_U32, (uint32_t)V, 128u, (uint32_t)D_ONE, 1000u);
    decode_refuses(&m, "id 1000 is not in the range 1 to 59");
    GLOBAL(52, 5u, (uint32_t)D_U32, (uint32_t)V, 81u, (uint32_t)D_ONE, 1000u);
    decode_accepts(&m);
    GLOBAL(52, 5u, (uint32_t)D_U32, (uint32_t)V, 62u, (uint32_t)D_ONE, (uint32_t)D_ONE);
    decode_refuses(&m, "OpSpecConstantOp: the operation is not supported");
    /* strings */
    decode_begin(&m);
    unit_text(&m, 5, "abcdefg", 1u, (uint32_t)D_ONE);
    uint32_t end = m.count;
    decode_main(&m);
    decode_end(&m);
    decode_accepts(&m);
    memcpy(&m.words[end - 1], "efgh", 4);
    decode_refuses(&m, "OpName: a string is not terminated within its instruction");
    decode_begin(&m);
    unit_text(&m, 5, "abc", 1u, (uint32_t)D_ONE);
    m.words[m.count++] = 0;
    m.words[m.count - 4] += 1u << 16;
    decode_refuses(&m, "OpName: words follow the last operand");
}

static void places_of_instructions(void **state) {
    unit_module m;
    (void)state;
    GLOBAL(128, 4u, (uint32_t)D_U32, (uint32_t)D_FREE + 1, (uint32_t)D_ONE, (uint32_t)D_ONE);
    decode_refuses(&m, "OpIAdd is outside a block");
    BODY(20, 1u, (uint32_t)D_FREE + 1);
    decode_refuses(&m, "OpTypeBool must be before all functions");
    BODY(54, 4u, (uint32_t)D_VOID, (uint32_t)D_FREE + 1, 0u, (uint32_t)D_MAIN_T);
    decode_refuses(&m, "a function begins inside another function");
    BODY(55, 2u, (uint32_t)D_U32, (uint32_t)D_FREE + 1);
    decode_refuses(&m, "OpFunctionParameter is not at the start of a function");
    decode_begin(&m);
    unit_op(&m, 56, 0u);
    decode_refuses(&m, "OpFunctionEnd is outside a function");
    decode_begin(&m);
    unit_op(&m, 54, 4u, (uint32_t)D_VOID, (uint32_t)D_MAIN, 0u, (uint32_t)D_MAIN_T);
    unit_op(&m, 56, 0u);
    decode_refuses(&m, "OpFunctionEnd is in a function without a body");
    decode_begin(&m);
    decode_main(&m);
    decode_end(&m);
    unit_op(&m, 59, 3u, (uint32_t)D_POINTER, (uint32_t)D_FREE + 1, 7u);
    decode_refuses(&m, "OpVariable must be before all functions");
    GLOBAL(59, 3u, (uint32_t)D_POINTER, (uint32_t)D_FREE + 1, 9u);
    decode_refuses(&m, "the type 7 of a variable is not a pointer type with its storage class");
    GLOBAL(71, 2u, (uint32_t)D_ONE, 33u);
    decode_refuses(&m, "decoration 33 has no operand");
}

/* The bound of the ids is limited by the size of the module, and so is the memory. */
static void memory_is_bounded(void **state) {
    unit_module code;
    vd__spirv m;
    (void)state;
    decode_begin(&code);
    code.bound = VD__SPIRV_MAX_IDS;
    code.words[3] = code.bound;
    assert_int_equal(decode(&m, code.words, code.count), VD_ERROR_COMPILE);
    CHECK_TEXT("(spirv-opt --compact-ids renumbers ids)");
    assert_int_equal(decode_used.bytes, 0);
    code.words[3] = VD__SPIRV_FREE_IDS;
    assert_int_equal(decode(&m, code.words, code.count), VD_ERROR_COMPILE); /* the entry point is not defined */
    CHECK_TEXT("id 12 is used, but not defined");
    assert_in_range(decode_used.bytes, 1, VD__SPIRV_FREE_IDS * sizeof(vd__spirv_id) + 4096);
}

/* "Universal limits" of the SPIR-V specification: an id bound of at most 4,194,303, however large the module is. */
static void largest_bound(void **state) {
    static const uint32_t head[VD__SPIRV_HEAD] = { VD__SPIRV_MAGIC, 0x10300, 0, 0, 0 };
    vd__spirv m;
    (void)state;
    memset(&m, 0, sizeof m);
    m.words = head;
    m.count = 1u << 20;
    m.bound = 4194303;
    assert_int_equal(vd__spirv_check_head(&m), VD_OK);
    m.bound = 4194304;
    assert_int_equal(vd__spirv_check_head(&m), VD_ERROR_COMPILE);
    CHECK_TEXT("must have 1 to 4194303");
}

/* Each allocation is refused once. */
static void refused_allocations(void **state) {
    unit_module code;
    vd__spirv m;
    (void)state;
    unit_saxpy(&code);
    code.words[3] = code.bound;
    for (uint32_t i = 0; i < code.count; i++) code.words[i] = __builtin_bswap32(code.words[i]); /* needs a copy, too */
    for (long refused = 1; refused <= 4; refused++) {
        memset(&decode_used, 0, sizeof decode_used);
        decode_used.blocks.fail_at = refused;
        vd_result r = vd__spirv_decode(&m, &decode_allocator, code.words, code.count * 4);
        assert_int_equal(r, refused < 4 ? VD_ERROR_OUT_OF_MEMORY : VD_OK);
        if (!r) vd__spirv_free(&m);
        assert_int_equal(decode_used.blocks.live, 0);
    }
}

/* The conversion of the argument block to a uniform buffer yields a valid module with two more decorations. */
static void argument_block_in_a_uniform_buffer(void **state) {
#if VD__HAS_VULKAN
    enum { BLOCK = D_FREE + 1, P, V, P_MEMBER, AT };
    unit_module code, converted;
    vd__spirv m;
    uint32_t value = 99;
    (void)state;
    for (uint32_t type = D_U32; type <= D_U64; type++) {
        decode_begin(&code);
        unit_op(&code, 71, 2u, (uint32_t)BLOCK, 2u);
        unit_op(&code, 72, 4u, (uint32_t)BLOCK, 0u, 35u, 0u);
        unit_op(&code, 30, 2u, (uint32_t)BLOCK, type);
        unit_op(&code, 32, 3u, (uint32_t)P, 9u, (uint32_t)BLOCK);
        unit_op(&code, 32, 3u, (uint32_t)P_MEMBER, 9u, type);
        unit_op(&code, 59, 3u, (uint32_t)P, (uint32_t)V, 9u);
        decode_main(&code);
        unit_op(&code, 65, 4u, (uint32_t)P_MEMBER, (uint32_t)AT, (uint32_t)V, (uint32_t)D_ZERO);
        decode_end(&code);
        code.words[3] = code.bound;
        assert_int_equal(decode(&m, code.words, code.count), VD_OK);
        assert_int_equal(vd__vk_push_variable(&m), type == D_U32 ? V : 0);
        if (type == D_U32) converted.count = (uint32_t)vd__vk_to_uniform(&m, V, 5, converted.words);
        vd__spirv_free(&m);
    }
    assert_int_equal(converted.count, code.count + VD__VK_UNIFORM_EXTRA);
    if (decode(&m, converted.words, converted.count)) fail_msg("%s", vd_error_text());
    assert_true(vd__spirv_decoration(&m, V, VD__DecorationBinding, &value));
    assert_int_equal(value, 5);
    assert_true(vd__spirv_decoration(&m, V, VD__DecorationDescriptorSet, &value));
    assert_int_equal(value, 0);
    assert_int_equal(vd__spirv_definition(&m, V)[3], VD__StorageClassUniform);
    assert_int_equal(vd__spirv_definition(&m, P_MEMBER)[2], VD__StorageClassUniform);
    assert_int_equal(vd__vk_push_variable(&m), 0);

    /* and with a loop over work-groups, if a member of the block is the group base: a new function is called last */
    const uint32_t base_at[3] = { VD__NONE, 0, VD__NONE }, no_member[3] = { 4, VD__NONE, VD__NONE };
    uint32_t looped[sizeof converted.words / 4 + VD__VK_LOOP_EXTRA];
    assert_int_equal(vd__vk_loop(&m, V, "main", no_member, 4, looped), 0);
    assert_int_equal(vd__vk_loop(&m, V, "other", base_at, 4, looped), 0);
    size_t count = vd__vk_loop(&m, V, "main", base_at, 4, looped);
    assert_in_range(count, converted.count + 1, converted.count + VD__VK_LOOP_EXTRA);
    vd__spirv_free(&m);
    if (decode(&m, looped, (uint32_t)count)) fail_msg("%s", vd_error_text());
    assert_int_equal(vd__spirv_definition(&m, BLOCK)[0] >> 16, 2 + 1 + 6);
    assert_true(vd__spirv_member_decoration(&m, BLOCK, 6, VD__DecorationOffset, &value));
    assert_int_equal(value, 4 + 4 * (VD__VK_SIZE_ALL + 2));
    assert_int_equal(vd__spirv_definition(&m, vd__spirv_definition(&m, AT)[3])[3], VD__StorageClassPrivate);
    vd__spirv_free(&m);
#else
    (void)state;
#endif
}

static const struct CMUnitTest spirv_decode_tests[] = {
    cmocka_unit_test(what_is_decoded), cmocka_unit_test(types_have_sizes), cmocka_unit_test(truncated_streams),
    cmocka_unit_test(ids_are_in_range), cmocka_unit_test(ids_are_defined_once), cmocka_unit_test(forward_references),
    cmocka_unit_test(numbers_of_words), cmocka_unit_test(operands_that_depend_on_others),
    cmocka_unit_test(places_of_instructions), cmocka_unit_test(memory_is_bounded),
    cmocka_unit_test(largest_bound), cmocka_unit_test(refused_allocations),
    cmocka_unit_test(argument_block_in_a_uniform_buffer),
};
#undef BODY
#undef GLOBAL
