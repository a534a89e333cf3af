/* Room `command tape`: what a player receives is what was recorded. */
#include "tests/unit/unit.h"

enum { TAPE_ROUNDS = 100 };

typedef struct tape_fixture {
    unit_memory memory;
    vd__host host;
    vd__driver driver;
    vd__device dev;
    vd__commands c;
    vd__memory memories[2];
    uint32_t played;           /* commands */
} tape_fixture;

static void tape_start(tape_fixture *f) {
    memset(f, 0, sizeof *f);
    f->host.allocator.allocate = unit_allocate;
    f->host.allocator.reallocate = unit_reallocate;
    f->host.allocator.release = unit_release;
    f->host.allocator.user = &f->memory;
    f->driver.host = &f->host;
    f->dev.driver = &f->driver;
    assert_int_equal(vd__tape_commands_create(&f->dev, &f->c), VD_OK);
    assert_int_equal(vd__tape_commands_begin(&f->dev, &f->c, false), VD_OK);
}

static void tape_end(tape_fixture *f) {
    vd__tape_commands_destroy(&f->dev, &f->c);
    assert_int_equal(f->memory.live, 0);
}

/* Records a launch, a copy and a fill that depend on i. Returns the result of the launch. */
static vd_result tape_record(tape_fixture *f, uint32_t i) {
    vd__kernel_code code = { { 7, 0, 0, 0 } };
    vd__binding bindings[2] = { { &f->memories[0], 16 * i, 32, 0 }, { &f->memories[1], 0, 64, 1 } };
    uint64_t arguments[4] = { i, 2 * (uint64_t)i, 3, 4 };
    vd__copy_range ranges[3] = { { i, 1, 2 }, { 3, i, 5 }, { 6, 7, i } };
    vd__launch launch;
    memset(&launch, 0, sizeof launch);
    launch.code = &code;
    launch.groups[0] = 1 + i;
    launch.groups[1] = 2;
    launch.groups[2] = 3;
    launch.arguments = arguments;
    launch.argument_bytes = 4 * (i % 8);
    launch.bindings = bindings;
    launch.binding_count = i % 3;
    vd_result r = vd__tape_record_launch(&f->dev, &f->c, &launch);
    vd__tape_record_copy(&f->dev, &f->c, &f->memories[0], &f->memories[1], ranges, 1 + i % 3);
    vd__tape_record_fill(&f->dev, &f->c, &f->memories[1], 4 * i, 8, i);
    return r;
}

static vd_result tape_check_launch(void *user, const vd__tape_launch *launch) {
    tape_fixture *f = (tape_fixture *)user;
    uint32_t i = f->played++ / 3, bytes = 4 * (i % 8);
    uint64_t arguments[4] = { i, 2 * (uint64_t)i, 3, 4 };
    const uint8_t *block = (const uint8_t *)vd__tape_arguments(launch);
    assert_int_equal(launch->kernel, 7);
    assert_int_equal(launch->groups[0], 1 + i);
    assert_int_equal(launch->groups[2], 3);
    assert_int_equal(launch->binding_count, i % 3);
    if (i % 3) assert_true(vd__tape_bindings(launch)[0].offset == 16 * i);
    if (i % 3 == 2) assert_true(vd__tape_bindings(launch)[1].memory == &f->memories[1]);
    assert_memory_equal(block, arguments, bytes);
    for (; bytes % 16; bytes++) assert_int_equal(block[bytes], 0);
    return VD_OK;
}

static vd_result tape_check_copy(void *user, const vd__tape_copy *copy) {
    tape_fixture *f = (tape_fixture *)user;
    uint32_t i = f->played++ / 3;
    const vd__copy_range *ranges = vd__tape_ranges(copy);
    assert_true(copy->to == &f->memories[0] && copy->from == &f->memories[1]);
    assert_int_equal(copy->count, 1 + i % 3);
    assert_true(ranges[0].from == i && ranges[0].to == 1 && ranges[0].size == 2);
    if (i % 3 == 2) assert_true(ranges[2].from == 6 && ranges[2].to == 7 && ranges[2].size == i);
    return VD_OK;
}

static vd_result tape_check_fill(void *user, const vd__tape_fill *fill) {
    tape_fixture *f = (tape_fixture *)user;
    uint32_t i = f->played++ / 3;
    assert_true(fill->to == &f->memories[1] && fill->offset == 4 * i && fill->size == 8 && fill->word == i);
    assert_true((&fill->command == vd__tape_command_at(&f->c.tape, f->c.tape.last)) == (i == TAPE_ROUNDS - 1));
    return VD_OK;
}

static const vd__tape_player tape_checker = { tape_check_launch, tape_check_copy, tape_check_fill, NULL, NULL, NULL,
                                              NULL };

static vd_result tape_play(tape_fixture *f, const vd__tape_player *player, const vd__argument_change *changes,
                           uint32_t change_count) {
    vd__submission s = { &f->c, 1, false, NULL, 0, changes, change_count, NULL, false, false };
    return vd__tape_play(NULL, &s, player, f);
}

static void commands_are_played_in_order(void **state) {
    tape_fixture f;
    (void)state;
    tape_start(&f);
    for (int round = 0; round < 2; round++) { /* the second one reuses the memory of the first */
        long calls = f.memory.calls;
        for (uint32_t i = 0; i < TAPE_ROUNDS; i++) assert_int_equal(tape_record(&f, i), VD_OK);
        if (round) assert_int_equal(f.memory.calls, calls);
        assert_int_equal(vd__tape_commands_end(&f.dev, &f.c), VD_OK);
        for (int play = 0; play < 2; play++) {
            f.played = 0;
            assert_int_equal(tape_play(&f, &tape_checker, NULL, 0), VD_OK);
            assert_int_equal(f.played, 3 * TAPE_ROUNDS);
        }
        assert_int_equal(vd__tape_commands_begin(&f.dev, &f.c, false), VD_OK);
    }
    tape_end(&f);
}

/* Adds up the words of the argument blocks in `played`. */
static vd_result tape_sum_launch(void *user, const vd__tape_launch *launch) {
    const uint32_t *words = (const uint32_t *)vd__tape_arguments(launch);
    for (int i = 0; i < 4; i++) ((tape_fixture *)user)->played += words[i];
    return VD_OK;
}

static void changes_of_arguments_last(void **state) {
    static const uint32_t data[2] = { 5000, 6000 };
    vd__tape_player player = tape_checker;
    vd__kernel_code code = { { 7, 0, 0, 0 } };
    vd__binding binding = { NULL, 0, 32, 0 };
    uint64_t arguments[2] = { 1 | (uint64_t)20 << 32, 300 | (uint64_t)4000 << 32 };
    uint32_t blocks[3];
    vd__launch launch;
    tape_fixture f;
    (void)state;
    tape_start(&f);
    player.launch = tape_sum_launch;
    memset(&launch, 0, sizeof launch);
    launch.code = &code;
    launch.arguments = arguments;
    launch.argument_bytes = sizeof arguments;
    launch.bindings = &binding;
    for (uint32_t i = 0; i < 3; i++) {
        launch.binding_count = i % 2;
        launch.block = &blocks[i];
        assert_int_equal(vd__tape_record_launch(&f.dev, &f.c, &launch), VD_OK);
    }
    vd__argument_change changes[2] = { { blocks[1], 8, 8, data }, { blocks[2], 4, 4, data } };
    assert_int_equal(tape_play(&f, &player, NULL, 0), VD_OK);
    assert_int_equal(f.played, 3 * 4321);
    for (uint32_t i = 0; i < 2; i++) {
        f.played = 0;
        assert_int_equal(tape_play(&f, &player, changes, i ? 0 : 2), VD_OK);
        assert_int_equal(f.played, 4321 + 11021 + 9301);
    }
    tape_end(&f);
}

static vd_result tape_refuse_copy(void *user, const vd__tape_copy *copy) {
    (void)user, (void)copy;
    return vd__fail(VD_ERROR_BACKEND, "the copy failed");
}

static void an_error_ends_playing(void **state) {
    vd__tape_player player = tape_checker;
    tape_fixture f;
    (void)state;
    tape_start(&f);
    player.copy = tape_refuse_copy;
    assert_int_equal(tape_record(&f, 0), VD_OK);
    assert_int_equal(tape_play(&f, &player, NULL, 0), VD_ERROR_BACKEND);
    assert_int_equal(f.played, 1);
    tape_end(&f);
}

static void a_tape_without_memory_fails(void **state) {
    tape_fixture f;
    (void)state;
    tape_start(&f);
    f.memory.fail_at = 3; /* 16, 32 and no more words */
    vd_result r = VD_OK;
    for (uint32_t i = 0; i < 4; i++) r = tape_record(&f, i);
    assert_int_equal(r, VD_ERROR_OUT_OF_MEMORY);
    assert_int_equal(vd__tape_commands_end(&f.dev, &f.c), VD_ERROR_OUT_OF_MEMORY);
    f.memory.fail_at = 0;
    assert_int_equal(vd__tape_commands_begin(&f.dev, &f.c, false), VD_OK);
    assert_int_equal(tape_record(&f, 0), VD_OK);
    assert_int_equal(vd__tape_commands_end(&f.dev, &f.c), VD_OK);
    tape_end(&f);
}

static const struct CMUnitTest command_tape_tests[] = {
    cmocka_unit_test(commands_are_played_in_order), cmocka_unit_test(an_error_ends_playing),
    cmocka_unit_test(a_tape_without_memory_fails), cmocka_unit_test(changes_of_arguments_last),
};
