/* Counts which public calls of the builder and which rows of its operation table occur in random kernels. Both lists
   are read from the header, so additions there that are missing here are reported. Include after the builder and
   before all code that calls it. */
#ifndef TESTS_FUZZ_COVERAGE_H
#define TESTS_FUZZ_COVERAGE_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls that random kernels do not use, and why. */
static const char *const images_apart = "images have their own tests", *const asks = "asks; every kernel is asked",
    *const holds = "holds the kernel",
                  *const inside = "has no line in a dump: a leaf, or made by lowering",
                      *const written = "is written where it is used", *const lazy = "is tested in codegen/lazy";
static const struct Apart { const char *name, *const *why; } apart[] = {
    { "vc_image", &images_apart }, { "vc_sample", &images_apart }, { "vc_sample_lod", &images_apart },
    { "vc_sample_grad", &images_apart }, { "vc_sample_offset", &images_apart }, { "vc_gather", &images_apart },
    { "vc_fetch", &images_apart }, { "vc_image_load", &images_apart }, { "vc_image_store", &images_apart },
    { "vc_image_size", &images_apart }, { "vc_image_levels", &images_apart }, { "vc_image_at", &images_apart },
    { "image", &images_apart }, { "image_at", &images_apart },
    { "gradient", &images_apart }, { "sample", &images_apart }, { "gather", &images_apart }, { "fetch", &images_apart },
    { "image_load", &images_apart }, { "image_size", &images_apart }, { "image_levels", &images_apart },
    { "image_store", &images_apart }, { "vc_error", &asks }, { "vc_invocations", &asks },
    { "vc_spirv", &asks }, { "vc_source", &asks },
    { "vc_dump", &asks }, { "vc_reflect", &asks }, { "vc_reflect_for", &asks }, { "vc_hash", &asks },
    { "vc_type_size", &asks }, { "vc_type_name", &asks }, { "vc_size_of", &asks }, { "vc_offset_of", &asks },
    { "vc_typeof", &asks }, { "vc_begin", &holds }, { "vc_begin_with", &holds }, { "vc_restart", &holds },
    { "vc_free", &holds }, { "none", &inside }, { "parts", &inside }, { "path", &inside }, { "pointer", &inside },
    { "mask", &inside }, { "word_sum", &inside }, { "const", &written }, { "tuple", &written }, { "implicit", &written },
    { "vc_vec_of", &lazy }, { "vc_set_component", &lazy }, { "vc_as", &lazy }, { "vc_add_with_carry", &lazy },
    { "vc_sub_with_borrow", &lazy }, { "vc_break_outer_if", &lazy }, { "vc_source_line", &holds }
};

enum { MOST_NAMES = 400, LONGEST_NAME = 40 };
typedef struct Names { char name[MOST_NAMES][LONGEST_NAME]; long times[MOST_NAMES]; int count; } Names;
static Names public_calls, operations;
static bool counting;

static void add_name(Names *list, const char *from, size_t length) {
    if (list->count == MOST_NAMES || length >= LONGEST_NAME) {
        fprintf(stderr, "coverage: more names than there is room for\n");
        exit(2);
    }
    memcpy(list->name[list->count], from, length);
    list->name[list->count++][length] = 0;
}

static void count_name(Names *list, const char *name, size_t length) {
    for (int i = 0; i < list->count; i++)
        if (strncmp(list->name[i], name, length) == 0 && !list->name[i][length]) { list->times[i]++; return; }
}

static void note(const char *call) { if (counting) count_name(&public_calls, call, strlen(call)); }
static void note_function(const char *name) { /* for names from a table, without vc_ */
    char call[LONGEST_NAME];
    snprintf(call, sizeof call, "vc_%s", name);
    note(call);
}

/* Reads the lists from the header: VC_API lines of its public part, and rows of the operation table. */
static bool read_names(const char *path) {
    static char line[4000];
    FILE *file = fopen(path, "rb");
    bool table = false, code = false;
    while (file && fgets(line, sizeof line, file)) {
        const char *from = strstr(line, "vc_"), *quote;
        code = code || !strncmp(line, "#ifdef VKDISPATCH_CODEGEN_IMPLEMENTATION", 40);
        table = (table || !strncmp(line, "#define VC__OPS(X)", 18)) && strncmp(line, "    X(END,", 10) != 0;
        for (; !code && !strncmp(line, "VC_API ", 7) && from; from = strstr(from, "vc_")) {
            size_t length = 0;
            while (isalnum((unsigned char)from[length]) || from[length] == '_') length++;
            if (from[length] == '(') { add_name(&public_calls, from, length); break; }
            from += length;
        }
        quote = strchr(line, '"');
        if (!strncmp(line, "    X(", 6) && (table || !strncmp(line, "    X(END,", 10)) && quote)
            add_name(&operations, quote + 1, strcspn(quote + 1, "\""));
    }
    if (file) fclose(file);
    return public_calls.count > 100 && operations.count > 100;
}

static void count_operations(const char *dump) { /* counts the names in a dump */
    while (counting && dump && *dump) {
        size_t length = 0;
        while (isalnum((unsigned char)dump[length]) || dump[length] == '_') length++;
        if (length) count_name(&operations, dump, length);
        dump += length ? length : 1;
    }
}

static int told_names(const Names *list, const char *what, bool each) { /* returns the number of errors */
    int wrong = 0, made = 0;
    for (int i = 0; i < list->count; i++) {
        const char *why = NULL;
        for (size_t j = 0; j < sizeof apart / sizeof *apart; j++)
            if (!strcmp(apart[j].name, list->name[i])) why = *apart[j].why;
        made += list->times[i] > 0;
        wrong += !list->times[i] && !why;
        if (!list->times[i] && !why) printf("  never made: %s %s\n", what, list->name[i]);
        else if (each) printf("  %8ld %s%s%s\n", list->times[i], list->name[i], why ? ": " : "", why ? why : "");
    }
    printf("coverage: %d of %d %ss are made\n", made, list->count, what);
    return wrong;
}

/* Returns how many calls are missing although they should occur, plus how many listed exceptions do not exist. */
static int tell_coverage(bool each) {
    int wrong = told_names(&operations, "operation", each) + told_names(&public_calls, "call", each);
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        bool there = false;
        for (int j = 0; j < operations.count; j++) there = there || !strcmp(operations.name[j], apart[i].name);
        for (int j = 0; j < public_calls.count; j++) there = there || !strcmp(public_calls.name[j], apart[i].name);
        if (!there) printf("  stands apart, and is not there: %s\n", apart[i].name);
        wrong += !there;
    }
    return wrong;
}

/* Counts calls by name. Calls through a table are counted there. */
#define vc_struct(...) (note("vc_struct"), vc_struct(__VA_ARGS__))
#define vc_array_type(...) (note("vc_array_type"), vc_array_type(__VA_ARGS__))
#define vc_buffer(...) (note("vc_buffer"), vc_buffer(__VA_ARGS__))
#define vc_param(...) (note("vc_param"), vc_param(__VA_ARGS__))
#define vc_var(...) (note("vc_var"), vc_var(__VA_ARGS__))
#define vc_array(...) (note("vc_array"), vc_array(__VA_ARGS__))
#define vc_shared(...) (note("vc_shared"), vc_shared(__VA_ARGS__))
#define vc_table(...) (note("vc_table"), vc_table(__VA_ARGS__))
#define vc_offset(...) (note("vc_offset"), vc_offset(__VA_ARGS__))
#define vc_load(...) (note("vc_load"), vc_load(__VA_ARGS__))
#define vc_load_or(...) (note("vc_load_or"), vc_load_or(__VA_ARGS__))
#define vc_store(...) (note("vc_store"), vc_store(__VA_ARGS__))
#define vc_get(...) (note("vc_get"), vc_get(__VA_ARGS__))
#define vc_set(...) (note("vc_set"), vc_set(__VA_ARGS__))
#define vc_at(...) (note("vc_at"), vc_at(__VA_ARGS__))
#define vc_field(...) (note("vc_field"), vc_field(__VA_ARGS__))
#define vc_atomic_add(...) (note("vc_atomic_add"), vc_atomic_add(__VA_ARGS__))
#define vc_atomic_sub(...) (note("vc_atomic_sub"), vc_atomic_sub(__VA_ARGS__))
#define vc_atomic_min(...) (note("vc_atomic_min"), vc_atomic_min(__VA_ARGS__))
#define vc_atomic_max(...) (note("vc_atomic_max"), vc_atomic_max(__VA_ARGS__))
#define vc_atomic_and(...) (note("vc_atomic_and"), vc_atomic_and(__VA_ARGS__))
#define vc_atomic_or(...) (note("vc_atomic_or"), vc_atomic_or(__VA_ARGS__))
#define vc_atomic_xor(...) (note("vc_atomic_xor"), vc_atomic_xor(__VA_ARGS__))
#define vc_atomic_exchange(...) (note("vc_atomic_exchange"), vc_atomic_exchange(__VA_ARGS__))
#define vc_atomic_compare_exchange(...) (note("vc_atomic_compare_exchange"), vc_atomic_compare_exchange(__VA_ARGS__))
#define vc_atomic_load(...) (note("vc_atomic_load"), vc_atomic_load(__VA_ARGS__))
#define vc_atomic_store(...) (note("vc_atomic_store"), vc_atomic_store(__VA_ARGS__))
#define vc_ordered(...) (note("vc_ordered"), vc_ordered(__VA_ARGS__))
#define vc_fence(...) (note("vc_fence"), vc_fence(__VA_ARGS__))
#define vc_bool(...) (note("vc_bool"), vc_bool(__VA_ARGS__))
#define vc_i8(...) (note("vc_i8"), vc_i8(__VA_ARGS__))
#define vc_i16(...) (note("vc_i16"), vc_i16(__VA_ARGS__))
#define vc_i32(...) (note("vc_i32"), vc_i32(__VA_ARGS__))
#define vc_i64(...) (note("vc_i64"), vc_i64(__VA_ARGS__))
#define vc_u8(...) (note("vc_u8"), vc_u8(__VA_ARGS__))
#define vc_u16(...) (note("vc_u16"), vc_u16(__VA_ARGS__))
#define vc_u32(...) (note("vc_u32"), vc_u32(__VA_ARGS__))
#define vc_u64(...) (note("vc_u64"), vc_u64(__VA_ARGS__))
#define vc_f16(...) (note("vc_f16"), vc_f16(__VA_ARGS__))
#define vc_f32(...) (note("vc_f32"), vc_f32(__VA_ARGS__))
#define vc_f64(...) (note("vc_f64"), vc_f64(__VA_ARGS__))
#define vc_imm(...) (note("vc_imm"), vc_imm(__VA_ARGS__))
#define vc_const(...) (note("vc_const"), vc_const(__VA_ARGS__))
#define vc_vec2(...) (note("vc_vec2"), vc_vec2(__VA_ARGS__))
#define vc_vec3(...) (note("vc_vec3"), vc_vec3(__VA_ARGS__))
#define vc_vec4(...) (note("vc_vec4"), vc_vec4(__VA_ARGS__))
#define vc_splat(...) (note("vc_splat"), vc_splat(__VA_ARGS__))
#define vc_component(...) (note("vc_component"), vc_component(__VA_ARGS__))
#define vc_extract(...) (note("vc_extract"), vc_extract(__VA_ARGS__))
#define vc_insert(...) (note("vc_insert"), vc_insert(__VA_ARGS__))
#define vc_swizzle(...) (note("vc_swizzle"), vc_swizzle(__VA_ARGS__))
#define vc_cast(...) (note("vc_cast"), vc_cast(__VA_ARGS__))
#define vc_bitcast(...) (note("vc_bitcast"), vc_bitcast(__VA_ARGS__))
#define vc_make(...) (note("vc_make"), vc_make(__VA_ARGS__))
#define vc_part(...) (note("vc_part"), vc_part(__VA_ARGS__))
#define vc_with(...) (note("vc_with"), vc_with(__VA_ARGS__))
#define vc_complex(...) (note("vc_complex"), vc_complex(__VA_ARGS__))
#define vc_polar(...) (note("vc_polar"), vc_polar(__VA_ARGS__))
#define vc_re(...) (note("vc_re"), vc_re(__VA_ARGS__))
#define vc_im(...) (note("vc_im"), vc_im(__VA_ARGS__))
#define vc_conj(...) (note("vc_conj"), vc_conj(__VA_ARGS__))
#define vc_arg(...) (note("vc_arg"), vc_arg(__VA_ARGS__))
#define vc_transpose(...) (note("vc_transpose"), vc_transpose(__VA_ARGS__))
#define vc_determinant(...) (note("vc_determinant"), vc_determinant(__VA_ARGS__))
#define vc_inverse(...) (note("vc_inverse"), vc_inverse(__VA_ARGS__))
#define vc_outer(...) (note("vc_outer"), vc_outer(__VA_ARGS__))
#define vc_dot(...) (note("vc_dot"), vc_dot(__VA_ARGS__))
#define vc_ldexp(...) (note("vc_ldexp"), vc_ldexp(__VA_ARGS__))
#define vc_frexp_mantissa(...) (note("vc_frexp_mantissa"), vc_frexp_mantissa(__VA_ARGS__))
#define vc_frexp_exponent(...) (note("vc_frexp_exponent"), vc_frexp_exponent(__VA_ARGS__))
#define vc_norm(...) (note("vc_norm"), vc_norm(__VA_ARGS__))
#define vc_distance(...) (note("vc_distance"), vc_distance(__VA_ARGS__))
#define vc_normalize(...) (note("vc_normalize"), vc_normalize(__VA_ARGS__))
#define vc_cross(...) (note("vc_cross"), vc_cross(__VA_ARGS__))
#define vc_faceforward(...) (note("vc_faceforward"), vc_faceforward(__VA_ARGS__))
#define vc_reflect_vector(...) (note("vc_reflect_vector"), vc_reflect_vector(__VA_ARGS__))
#define vc_refract(...) (note("vc_refract"), vc_refract(__VA_ARGS__))
#define vc_select(...) (note("vc_select"), vc_select(__VA_ARGS__))
#define vc_any(...) (note("vc_any"), vc_any(__VA_ARGS__))
#define vc_all(...) (note("vc_all"), vc_all(__VA_ARGS__))
#define vc_bitfield_insert(...) (note("vc_bitfield_insert"), vc_bitfield_insert(__VA_ARGS__))
#define vc_cast_sat(...) (note("vc_cast_sat"), vc_cast_sat(__VA_ARGS__))
#define vc_pack_2x32(...) (note("vc_pack_2x32"), vc_pack_2x32(__VA_ARGS__))
#define vc_uniform(...) (note("vc_uniform"), vc_uniform(__VA_ARGS__))
#define vc_global_id(...) (note("vc_global_id"), vc_global_id(__VA_ARGS__))
#define vc_local_id(...) (note("vc_local_id"), vc_local_id(__VA_ARGS__))
#define vc_group_id(...) (note("vc_group_id"), vc_group_id(__VA_ARGS__))
#define vc_local_index(...) (note("vc_local_index"), vc_local_index(__VA_ARGS__))
#define vc_local_size(...) (note("vc_local_size"), vc_local_size(__VA_ARGS__))
#define vc_groups(...) (note("vc_groups"), vc_groups(__VA_ARGS__))
#define vc_threads(...) (note("vc_threads"), vc_threads(__VA_ARGS__))
#define vc_length(...) (note("vc_length"), vc_length(__VA_ARGS__))
#define vc_shape(...) (note("vc_shape"), vc_shape(__VA_ARGS__))
#define vc_subgroup_size(...) (note("vc_subgroup_size"), vc_subgroup_size(__VA_ARGS__))
#define vc_subgroup_id(...) (note("vc_subgroup_id"), vc_subgroup_id(__VA_ARGS__))
#define vc_subgroup_count(...) (note("vc_subgroup_count"), vc_subgroup_count(__VA_ARGS__))
#define vc_subgroup_local_id(...) (note("vc_subgroup_local_id"), vc_subgroup_local_id(__VA_ARGS__))
#define vc_subgroup_elect(...) (note("vc_subgroup_elect"), vc_subgroup_elect(__VA_ARGS__))
#define vc_subgroup_any(...) (note("vc_subgroup_any"), vc_subgroup_any(__VA_ARGS__))
#define vc_subgroup_all(...) (note("vc_subgroup_all"), vc_subgroup_all(__VA_ARGS__))
#define vc_subgroup_all_equal(...) (note("vc_subgroup_all_equal"), vc_subgroup_all_equal(__VA_ARGS__))
#define vc_subgroup_ballot(...) (note("vc_subgroup_ballot"), vc_subgroup_ballot(__VA_ARGS__))
#define vc_subgroup_ballot_count(...) (note("vc_subgroup_ballot_count"), vc_subgroup_ballot_count(__VA_ARGS__))
#define vc_subgroup_ballot_inclusive(...) \
    (note("vc_subgroup_ballot_inclusive"), vc_subgroup_ballot_inclusive(__VA_ARGS__))
#define vc_subgroup_ballot_exclusive(...) \
    (note("vc_subgroup_ballot_exclusive"), vc_subgroup_ballot_exclusive(__VA_ARGS__))
#define vc_subgroup_broadcast(...) (note("vc_subgroup_broadcast"), vc_subgroup_broadcast(__VA_ARGS__))
#define vc_subgroup_broadcast_first(...) (note("vc_subgroup_broadcast_first"), vc_subgroup_broadcast_first(__VA_ARGS__))
#define vc_subgroup_shuffle(...) (note("vc_subgroup_shuffle"), vc_subgroup_shuffle(__VA_ARGS__))
#define vc_subgroup_shuffle_xor(...) (note("vc_subgroup_shuffle_xor"), vc_subgroup_shuffle_xor(__VA_ARGS__))
#define vc_subgroup_shuffle_up(...) (note("vc_subgroup_shuffle_up"), vc_subgroup_shuffle_up(__VA_ARGS__))
#define vc_subgroup_shuffle_down(...) (note("vc_subgroup_shuffle_down"), vc_subgroup_shuffle_down(__VA_ARGS__))
#define vc_subgroup_reduce(...) (note("vc_subgroup_reduce"), vc_subgroup_reduce(__VA_ARGS__))
#define vc_subgroup_inclusive(...) (note("vc_subgroup_inclusive"), vc_subgroup_inclusive(__VA_ARGS__))
#define vc_subgroup_exclusive(...) (note("vc_subgroup_exclusive"), vc_subgroup_exclusive(__VA_ARGS__))
#define vc_subgroup_clustered(...) (note("vc_subgroup_clustered"), vc_subgroup_clustered(__VA_ARGS__))
#define vc_group_reduce(...) (note("vc_group_reduce"), vc_group_reduce(__VA_ARGS__))
#define vc_group_inclusive(...) (note("vc_group_inclusive"), vc_group_inclusive(__VA_ARGS__))
#define vc_group_exclusive(...) (note("vc_group_exclusive"), vc_group_exclusive(__VA_ARGS__))
#define vc_group_broadcast(...) (note("vc_group_broadcast"), vc_group_broadcast(__VA_ARGS__))
#define vc_barrier_scoped(...) (note("vc_barrier_scoped"), vc_barrier_scoped(__VA_ARGS__))
#define vc_barrier(...) (note("vc_barrier"), vc_barrier(__VA_ARGS__))
#define vc_break_if(...) (note("vc_break_if"), vc_break_if(__VA_ARGS__))
#define vc_continue_if(...) (note("vc_continue_if"), vc_continue_if(__VA_ARGS__))
#define vc_return_if(...) (note("vc_return_if"), vc_return_if(__VA_ARGS__))
#define vc_printf_args(...) (note("vc_printf_args"), vc_printf_args(__VA_ARGS__))
#define vc_assert(...) (note("vc_assert"), vc_assert(__VA_ARGS__))
#define vc_if_begin(...) (note("vc_if_begin"), vc_if_begin(__VA_ARGS__))
#define vc_else_begin(...) (note("vc_else_begin"), vc_else_begin(__VA_ARGS__))
#define vc_for_begin(...) (note("vc_for_begin"), vc_for_begin(__VA_ARGS__))
#define vc_loop_begin(...) (note("vc_loop_begin"), vc_loop_begin(__VA_ARGS__))
#define vc_switch_begin(...) (note("vc_switch_begin"), vc_switch_begin(__VA_ARGS__))
#define vc_case_begin(...) (note("vc_case_begin"), vc_case_begin(__VA_ARGS__))
#define vc_default_begin(...) (note("vc_default_begin"), vc_default_begin(__VA_ARGS__))
#define vc_each_begin(...) (note("vc_each_begin"), vc_each_begin(__VA_ARGS__))
#define vc_short_circuit_begin(...) (note("vc_short_circuit_begin"), vc_short_circuit_begin(__VA_ARGS__))
#define vc_short_circuit_else(...) (note("vc_short_circuit_else"), vc_short_circuit_else(__VA_ARGS__))
#define vc_short_circuit_end(...) (note("vc_short_circuit_end"), vc_short_circuit_end(__VA_ARGS__))
#define vc_block_end(...) (note("vc_block_end"), vc_block_end(__VA_ARGS__))

#endif /* TESTS_FUZZ_COVERAGE_H */
