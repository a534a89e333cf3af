/* The unit tests in one program, so that the implementations are compiled once. A new file of tests needs two lines
 * here: its #include and its entry in `files`.
 *   all [FILE | FILE/TEST]...     runs these tests, or all
 * left_out.c is a program of its own, because it configures the builder without GLSL and CUDA C. */
#include "tests/unit/unit.h"

#include "blob.c"
#include "builder_composite.c"
#include "builder_divergence.c"
#include "builder_dump.c"
#include "builder_errors.c"
#include "builder_fold.c"
#include "builder_functions.c"
#include "builder_images.c"
#include "builder_memory.c"
#include "builder_order.c"
#include "builder_scalarize.c"
#include "builder_print.c"
#include "builder_robust.c"
#include "builder_rules.c"
#include "builder_sync.c"
#include "builder_texts.c"
#include "cache.c"
#include "command_tape.c"
#ifdef _WIN32
static const struct CMUnitTest cuda_tests[] = { POSIX(all_tests_with_the_fake_driver) };
#else
#include "cuda.c"
#endif
#include "dds.c"
#include "debug.c"
#include "dispatch.c"
#include "errors.c"
#include "extremes.c"
#include "facts.c"
#include "graphs.c"
#include "hazards.c"
#include "layouts.c"
#include "memory.c"
#include "output.c"
#include "platform.c"
#include "pool.c"
#include "privileged.c"
#include "profile.c"
#include "reflect.c"
#include "sizes.c"
#include "spirv_decode.c"
#include "spirv_modules.c"
#include "spirv_numbers.c"
#ifdef _WIN32
static const struct CMUnitTest suspended_tests[] = { POSIX(all_tests_of_suspended_submissions) };
#else
#include "suspended.c"
#endif
#include "transfers.c"
#include "validate.c"
#include "vulkan_barrier.c"
#include "windows.c"

static const unit_file files[] = {
    UNIT_FILE(blob), UNIT_FILE(builder_composite), UNIT_FILE(builder_divergence), UNIT_FILE(builder_dump),
    UNIT_FILE(builder_errors), UNIT_FILE(builder_fold), UNIT_FILE(builder_functions), UNIT_FILE(builder_images),
    UNIT_FILE(builder_memory), UNIT_FILE(builder_order), UNIT_FILE(builder_scalarize), UNIT_FILE(builder_print),
    UNIT_FILE(builder_robust), UNIT_FILE(builder_rules), UNIT_FILE(builder_sync), UNIT_FILE(builder_texts),
    UNIT_FILE(cache), UNIT_FILE(command_tape), UNIT_FILE(cuda), UNIT_FILE(dds), UNIT_FILE(debug),
    UNIT_FILE(dispatch),
    UNIT_FILE(errors), UNIT_FILE(extremes), UNIT_FILE(facts), UNIT_FILE(graphs), UNIT_FILE(hazards),
    UNIT_FILE(layouts), UNIT_FILE(memory), UNIT_FILE(output), UNIT_FILE(platform), UNIT_FILE(pool),
    UNIT_FILE(privileged), UNIT_FILE(profile), UNIT_FILE(reflect), UNIT_FILE(sizes),
    UNIT_FILE(spirv_decode), UNIT_FILE(spirv_modules),
    UNIT_FILE(spirv_numbers), UNIT_FILE(suspended), UNIT_FILE(transfers), UNIT_FILE(validate),
    UNIT_FILE(vulkan_barrier), UNIT_FILE(windows),
};

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--look") == 0) _exit(privileged_look(argv[2])); /* the child of privileged.c */
    return unit_run(files, sizeof files / sizeof files[0], argc, argv);
}
