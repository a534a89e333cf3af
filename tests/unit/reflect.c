/* The SPIR-V reader: what it finds in good modules, and that no bad one gets through it or brings it down. */
#include "unit.h"
#include "data/modules.h"

static vd_context *ctx;

static int setup(void **state) {
    (void)state;
    ctx = unit_context(NULL);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    vd_context_destroy(ctx);
    return 0;
}

static vd_kernel create(const void *code, size_t size) {
    vd_kernel_desc d;
    memset(&d, 0, sizeof d);
    d.name = "k";
    d.code = code;
    d.code_size = size;
    return vd_kernel_create(ctx, &d);
}

static void check_arg(const vd_kernel_info *info, int i, const char *name, vd_arg_kind kind, vd_type type, uint32_t access, uint32_t place, uint32_t size) {
    const vd_arg_info *a = &info->args[i];
    assert_true(i < info->arg_count);
    assert_string_equal(a->name, name);
    assert_int_equal(a->kind, kind);
    assert_string_equal(vd_type_name(a->type), vd_type_name(type));
    assert_int_equal(a->access, access);
    assert_int_equal(a->place, place);
    assert_int_equal(a->size, size);
}

static vd_kernel_info query(vd_kernel k) {
    vd_kernel_info info;
    if (!k.id) print_error("%s\n", vd_error_text());
    assert_int_equal(vd_kernel_query(ctx, k, &info), VD_OK);
    return info;
}

static void bindings_and_values(void **state) {
    (void)state;
    vd_kernel_info info = query(create(module_saxpy, sizeof module_saxpy));
    assert_int_equal(info.arg_count, 4);
    check_arg(&info, 0, "x", VD_ARG_BINDING, VD_F32, VD_READ, 0, 0);
    check_arg(&info, 1, "y", VD_ARG_BINDING, VD_F32, VD_READ_WRITE, 1, 0);
    check_arg(&info, 2, "a", VD_ARG_VALUE, VD_F32, 0, 0, 4);
    check_arg(&info, 3, "n", VD_ARG_VALUE, VD_U32, 0, 4, 4);
    assert_int_equal(info.local_size[0], 64);
    assert_int_equal(info.value_bytes, 8);
    assert_int_equal(info.shared_bytes, 0);
}

static void addresses(void **state) {
    (void)state;
    vd_kernel_info info = query(create(module_addr, sizeof module_addr));
    assert_int_equal(info.arg_count, 4);
    check_arg(&info, 0, "x", VD_ARG_ADDRESS, VD_F32, VD_READ, 0, 8);
    check_arg(&info, 1, "y", VD_ARG_ADDRESS, VD_F32, VD_READ_WRITE, 8, 8);
    check_arg(&info, 2, "a", VD_ARG_VALUE, VD_F32, 0, 16, 4);
    assert_int_equal(info.shared_bytes, 1024);
    assert_int_equal(info.features, VD_FEATURE_ADDRESS);
}

static void structs_arrays_and_vectors(void **state) {
    (void)state;
    vd_kernel_info info = query(create(module_shared, sizeof module_shared));
    check_arg(&info, 0, "head", VD_ARG_BINDING, VD_BYTES, VD_READ, 0, 0);
    check_arg(&info, 1, "out_", VD_ARG_BINDING, VD_I32X4, VD_WRITE, 2, 0);
    check_arg(&info, 2, "a", VD_ARG_VALUE, VD_F32X4, 0, 0, 16);
    check_arg(&info, 3, "b", VD_ARG_VALUE, VD_F64X2, 0, 16, 16);
    check_arg(&info, 4, "c", VD_ARG_VALUE, VD_I64, 0, 32, 8);
    check_arg(&info, 5, "t", VD_ARG_VALUE, VD_BYTES, 0, 40, 12);
    assert_int_equal(info.value_bytes, 52);
    assert_int_equal(info.local_size[0], 8);
    assert_int_equal(info.local_size[1], 4);
    assert_int_equal(info.local_size[2], 2);
    assert_int_equal(info.shared_bytes, 1200 + 16 + 2 * 32); /* as std430 lays them out */
    assert_true((info.features & (VD_FEATURE_F64 | VD_FEATURE_I64 | VD_FEATURE_I16)) == (VD_FEATURE_F64 | VD_FEATURE_I64 | VD_FEATURE_I16));
}

static void other_byte_order_and_odd_address(void **state) {
    (void)state;
    static uint8_t bytes[sizeof module_saxpy + 1];
    static uint32_t swapped[VD__COUNT(module_saxpy)];
    for (size_t i = 0; i < VD__COUNT(module_saxpy); i++) swapped[i] = __builtin_bswap32(module_saxpy[i]);
    assert_string_equal(query(create(swapped, sizeof swapped)).args[1].name, "y");
    memcpy(bytes + 1, module_saxpy, sizeof module_saxpy);
    assert_string_equal(query(create(bytes + 1, sizeof module_saxpy)).args[1].name, "y");
}

static void our_own_assembler(void **state) {
    (void)state;
    unit_module m;
    unit_saxpy(&m);
    vd_kernel_info info = query(create(m.words, m.count * 4));
    check_arg(&info, 0, "x", VD_ARG_BINDING, VD_F32, VD_READ, 0, 0);
    check_arg(&info, 1, "y", VD_ARG_BINDING, VD_F32, VD_READ_WRITE, 1, 0);
}

/* One word or instruction of the good module is changed; the text says what is wrong. */
static void refused(unit_module *m, const char *text) {
    m->words[3] = m->bound;
    assert_int_equal(create(m->words, m->count * 4).id, 0);
    CHECK_TEXT(text);
}

static uint32_t find_op(const unit_module *m, uint32_t op) {
    for (uint32_t at = 5; at < m->count; at += m->words[at] >> 16)
        if ((m->words[at] & 0xFFFFu) == op) return at;
    fail();
    return 0;
}

#define BAD(change, text) do { unit_saxpy(&m); change; refused(&m, text); } while (0)

static void bad_modules(void **state) {
    (void)state;
    unit_module m;
    BAD(m.words[0] = 5, "it begins with 0x00000005");
    BAD(m.words[1] = 0x00010700, "has version 0x00010700");
    BAD(m.bound = 0, "id bound of 0");
    BAD(m.bound = 1u << 23, "id bound of 8388608");
    BAD(m.bound = 5, "is not below the bound 5");
}

static void bad_instructions(void **state) {
    (void)state;
    unit_module m;
    BAD(m.words[5] = 17, "instruction 17 has 0 words");
    BAD(m.words[5] = (9999u << 16) | 17, "instruction 17 has 9999 words");
    BAD(m.words[5] = (1u << 16) | 17, "instruction 17 has 1 words, it needs 2");
    BAD(m.words[6] = 4441, "capability VariablePointersStorageBuffer");
    BAD(m.words[6] = 4000, "capability 4000");
    BAD(m.words[find_op(&m, 253)] = (1u << 16) | 9, "instruction 9");
    BAD(m.words[find_op(&m, 22) + 1] = m.words[find_op(&m, 21) + 1], "is defined a second time");
    BAD(m.words[find_op(&m, 21) + 1] = 0, "id 0 is not below");
    BAD(m.words[find_op(&m, 21) + 2] = 33, "an integer of 33 bits");
    BAD(m.words[find_op(&m, 29) + 2] = 9, "id 9 is no type that was defined before");
    BAD(m.words[find_op(&m, 15) + 1] = 4, "no compute entry point");
    BAD(m.words[find_op(&m, 15) + 2] = 3, "the entry point's id 3 is no function");
    BAD(memset(&m.words[find_op(&m, 15) + 3], 'x', 8), "a text does not end");
    BAD(m.words[find_op(&m, 16) + 2] = 18, "gives no local size");
    BAD(m.words[find_op(&m, 16) + 3] = 0, "local_size[0] is 0");
    BAD(m.words[find_op(&m, 59) + 3] = 12, "no pointer to its storage class");
    BAD(m.count -= 1, "the last function does not end");
    BAD(m.words[find_op(&m, 253)] = (1u << 16) | 56, "a function ends inside a block");
    BAD(m.words[find_op(&m, 248)] = (2u << 16) | 249, "stands outside a block");
}

static void bad_resources(void **state) {
    (void)state;
    unit_module m;
    uint32_t set;
    BAD(m.words[find_op(&m, 59) + 3] = m.words[find_op(&m, 32) + 2] = 0, "an image or sampler 'x'");
    unit_saxpy(&m);
    for (set = 5; !((m.words[set] & 0xFFFFu) == 71 && m.words[set + 2] == 34); set += m.words[set] >> 16) {}
    m.words[set + 3] = 3;
    refused(&m, "buffer 'x' in descriptor set 3");
    unit_saxpy(&m);
    for (set = 5; !((m.words[set] & 0xFFFFu) == 71 && m.words[set + 2] == 3); set += m.words[set] >> 16) {}
    m.words[set + 2] = 2;
    refused(&m, "a uniform block 'x'");
    unit_saxpy(&m);
    for (set = 5; !((m.words[set] & 0xFFFFu) == 71 && m.words[set + 2] == 33); set += m.words[set] >> 16) {}
    m.words[set + 3] = 1;
    refused(&m, "two buffers at binding 1");
}

static void truncations_of(const uint32_t *module, size_t size) {
    uint32_t *copy;
    for (size_t n = 0; n < size; n++) {
        copy = (uint32_t *)malloc(n ? n : 1); /* of that very size, so that a read past it is caught */
        memcpy(copy, module, n);
        vd_kernel k = create(copy, n);
        free(copy);
        if (!k.id) continue;
        print_error("cut to %u of %u bytes it is still accepted\n", (unsigned)n, (unsigned)size);
        fail();
    }
}

static void truncations(void **state) {
    (void)state;
    truncations_of(module_saxpy, sizeof module_saxpy);
    truncations_of(module_addr, sizeof module_addr);
    truncations_of(module_shared, sizeof module_shared);
}

static void random_bytes(void **state) {
    (void)state;
    uint64_t random = 1;
    static uint32_t words[256];
    for (int round = 0; round < 20000; round++) {
        size_t size = 20 + unit_random(&random) % 1000;
        for (size_t i = 0; i < 256; i++) words[i] = unit_random(&random) << 1 ^ unit_random(&random);
        if (round % 2) {
            words[0] = 0x07230203;
            words[1] = 0x00010300;
            words[3] = unit_random(&random) % 1000;
            for (size_t i = 5; i < 256; i++)
                words[i] = unit_random(&random) % 4 ? unit_random(&random) % 80 : (1 + unit_random(&random) % 6) << 16 | unit_random(&random) % 80;
        }
        assert_int_equal(create(words, size).id, 0);
    }
}

/* A changed module is refused, or it is one that can be read: either way nothing breaks. */
static void mutations(void **state) {
    (void)state;
    static const uint32_t *const modules[] = { module_saxpy, module_addr, module_shared };
    static const size_t counts[] = { VD__COUNT(module_saxpy), VD__COUNT(module_addr), VD__COUNT(module_shared) };
    uint64_t random = 7;
    uint32_t accepted = 0;
    for (int round = 0; round < 100000; round++) {
        uint32_t which = unit_random(&random) % 3, changes = 1 + unit_random(&random) % 3;
        size_t count = counts[which];
        uint32_t *copy = (uint32_t *)malloc(count * 4);
        memcpy(copy, modules[which], count * 4);
        for (uint32_t i = 0; i < changes; i++) {
            size_t at = 3 + unit_random(&random) % (count - 3);
            switch (unit_random(&random) % 4) {
            case 0: copy[at] ^= 1u << unit_random(&random) % 32; break;
            case 1: copy[at] = unit_random(&random) % 128; break;
            case 2: copy[at] = copy[3 + unit_random(&random) % (count - 3)]; break;
            default: copy[at] = unit_random(&random) << 1; break;
            }
        }
        vd_kernel k = create(copy, count * 4);
        free(copy);
        if (!k.id) continue;
        accepted++;
        vd_kernel_destroy(ctx, k);
    }
    print_message("%u of 100000 changed modules could still be read\n", accepted);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(bindings_and_values), CASE(addresses), CASE(structs_arrays_and_vectors), CASE(other_byte_order_and_odd_address), CASE(our_own_assembler),
        CASE(bad_modules), CASE(bad_instructions), CASE(bad_resources), CASE(truncations), CASE(random_bytes), CASE(mutations)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
