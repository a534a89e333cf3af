/* Timestamps that wrap around, the number of scopes that are kept, the file that VKDISPATCH_PROFILE names. */
#include "tests/unit/unit.h"

static vd_context *profile_context(uint32_t bits, double tick_ns) {
    vd_device_info device;
    memset(&device, 0, sizeof device);
    device.features = VD_FEATURE_TIMESTAMP;
    device.timestamp_bits = bits;
    device.timestamp_ns = tick_ns;
    return unit_context(&device);
}

static void ticks_are_extended(void **state) {
    const uint64_t wrap = (uint64_t)1 << 36;
    (void)state;
    assert_true(vd__tick_extend(5, 64, 1000) == 5);
    assert_true(vd__tick_extend(UINT64_MAX, 64, 1000) == UINT64_MAX);
    for (uint64_t i = 1; i < 9; i++) {
        assert_true(vd__tick_extend(5, 36, i * wrap + 5) == i * wrap + 5);
        assert_true(vd__tick_extend(5, 36, i * wrap - 100) == i * wrap + 5);
        assert_true(vd__tick_extend(wrap - 5, 36, i * wrap + 100) == i * wrap - 5);
        assert_true(vd__tick_extend(wrap / 2 - 1, 36, i * wrap) == i * wrap + wrap / 2 - 1);
        assert_true(vd__tick_extend(wrap / 2 + 1, 36, i * wrap) == i * wrap - wrap / 2 + 1);
    }
}

/* Times of a device whose counter has 36 bits and starts anywhere. Between two recordings, and between two timestamps
   of one, it may wrap around. The clocks of host and device differ by up to a second after idle time. */
static void recordings_continue_the_clock(void **state) {
    const uint64_t mask = ((uint64_t)1 << 36) - 1;
    uint64_t seed = 3;
    (void)state;
    for (double period = 0.25; period < 100; period *= 3) {
        vd_context *ctx = profile_context(36, period);
        vd__context_device *dev = &ctx->devices[0];
        uint64_t first = (uint64_t)unit_random(&seed) << 6, host = 123456789;
        double passed = 0;
        for (int i = 0; i < 200; i++) {
            uint64_t ticks[3], at = first + (uint64_t)(passed / period);
            const uint64_t steps[3] = { 0, unit_random(&seed) % 1000, i % 7 ? 100000 : mask / 8 * 5 };
            for (int j = 0; j < 3; j++) {
                at += steps[j];
                ticks[j] = at & mask;
            }
            uint64_t late = unit_random(&seed) % 1000000000;
            if ((double)late > 1e9 * period / 4) late = 0; /* a quarter of the range is 4 s at 0.25 ns */
            vd__ticks_convert(dev, host + (uint64_t)passed + (i ? late : 0), 3, ticks);
            assert_true(i == 0 || ticks[0] >= host);
            double error = (double)(int64_t)(ticks[0] - host) - passed;
            assert_true(error < 1000 + 1e-6 * passed && error > -1000 - 1e-6 * passed);
            assert_true(ticks[1] - ticks[0] <= (uint64_t)((double)steps[1] * period) + 1);
            assert_true(ticks[2] - ticks[1] + 1 >= (uint64_t)((double)steps[2] * period));
            assert_true(ticks[2] - ticks[1] <= (uint64_t)((double)steps[2] * period) + 1);
            passed += (double)(unit_random(&seed) % 1000) * (i % 3 ? 1e6 : 1e9); /* up to 1000 s */
        }
        vd_context_destroy(ctx);
    }
}

/* The counter of the dummy device is about to wrap around when the scope begins. */
static void a_scope_contains_a_wrap(void **state) {
    (void)state;
    vd_context *ctx = profile_context(36, 1);
    vd_list *now = vd_immediate(ctx, 0, 0);
    vd_scope_info s[3];
    uint64_t mask = ((uint64_t)1 << 36) - 1, milliseconds = 1000000;
    vd__dummy_of(&ctx->devices[0].device)->first_tick = mask - ((vd__time_ns() + 2 * milliseconds) & mask);
    uint64_t before = vd__time_ns();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(vd_scope_begin(now, "wrap"), VD_OK);
        assert_int_equal(vd_flush(ctx), VD_OK);
        vd__sleep(3 * milliseconds);
        assert_int_equal(vd_scope_end(now), VD_OK);
        assert_int_equal(vd_flush(ctx), VD_OK);
    }
    uint64_t after = vd__time_ns();
    assert_int_equal(vd_profile_read(ctx, s, 3), 3);
    for (int i = 0; i < 3; i++) {
        assert_true(s[i].end_ns - s[i].begin_ns >= 3 * milliseconds - 1000);
        assert_true(s[i].begin_ns + 1000 >= before && s[i].end_ns <= after + 1000);
        assert_true(i == 0 || s[i].begin_ns >= s[i - 1].end_ns);
    }
    vd_context_destroy(ctx);
}

static void old_scopes_are_dropped(void **state) {
    (void)state;
    vd_context *ctx = profile_context(64, 1);
    uint32_t total = VD__MAX_SCOPE_TIMES + 1000;
    vd_scope_info s[2];
    for (uint32_t i = 0; i < total; i++) {
        assert_int_equal(vd_scope_begin(vd_immediate(ctx, 0, 0), "s"), VD_OK);
        assert_int_equal(vd_scope_end(vd_immediate(ctx, 0, 0)), VD_OK);
    }
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    assert_int_equal(vd_profile_read(ctx, s, 2), 2);
    assert_true(s[0].number == VD__MAX_SCOPE_TIMES / 2 + 1 && s[1].number == s[0].number + 1);
    assert_true(ctx->profile.root.child->count == total && !ctx->profile.root.child->next);
    assert_true(ctx->profile.time_count == total - VD__MAX_SCOPE_TIMES / 2 - 2);
    vd_context_destroy(ctx);
}

/* Every allocation of a scope fails once; the context stays usable. */
static void scopes_without_memory(void **state) {
    (void)state;
    for (long fail_at = 1; fail_at < 40; fail_at++) {
        unit_memory memory = { 0, 0, 0, true };
        vd_context_desc desc;
        vd_context *ctx = NULL;
        memset(&desc, 0, sizeof desc);
        desc.backend = VD_BACKEND_DUMMY;
        desc.allocator.allocate = unit_allocate;
        desc.allocator.reallocate = unit_reallocate;
        desc.allocator.release = unit_release;
        desc.allocator.user = &memory;
        assert_int_equal(vd_context_create(&desc, &ctx), VD_OK);
        vd_list *now = vd_immediate(ctx, 0, 0);
        vd_scope_info s;
        char table[400];
        memory.calls = 0;
        memory.fail_at = fail_at;
        vd_result begun = vd_scope_begin(now, "a"), ended = begun ? VD_OK : vd_scope_end(now);
        assert_true(!begun || begun == VD_ERROR_OUT_OF_MEMORY);
        assert_true(!ended || ended == VD_ERROR_OUT_OF_MEMORY);
        assert_int_equal(vd_wait_idle(ctx), VD_OK);
        vd_profile_read(ctx, &s, 1);
        vd_profile_print(ctx, table, sizeof table);
        memory.fail_at = 0;
        assert_int_equal(now->scope_count, 0);
        assert_int_equal(vd_scope_begin(now, "b"), VD_OK);
        assert_int_equal(vd_scope_end(now), VD_OK);
        assert_int_equal(vd_wait_idle(ctx), VD_OK);
        do assert_int_equal(vd_profile_read(ctx, &s, 1), 1); while (strcmp(s.name, "b") != 0);
        vd_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
    }
}

/* The table goes to stderr, or a file; failures to write it are logged. */
static void a_file_that_cannot_be_written(void **state) {
    (void)state;
    setenv("VKDISPATCH_PROFILE", "/no/such/folder/profile.txt", 1);
    vd_context *ctx = unit_context(NULL);
    unsetenv("VKDISPATCH_PROFILE");
    assert_true(is_privileged() || ctx->profile.automatic);
    vd_context_destroy(ctx);
    setenv("VKDISPATCH_PROFILE", "0", 1);
    ctx = unit_context(NULL);
    unsetenv("VKDISPATCH_PROFILE");
    assert_null(ctx->profile.automatic);
    vd_context_destroy(ctx);
}

/* A long name is cut before a character that does not fit; a byte that is not UTF-8 does not split an escape. */
static void json_names_are_cut(void **state) {
    static const struct { const char *end, *kept; } cases[] = {
        { "\xc3\xa9z", "\"" }, { "\"\x80", "\\\"\"" }, { "b\xc3\xa9", "b\"" }
    };
    vd_context *ctx = unit_context(NULL);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vd_allocator allocator = vd_context_allocator(ctx);
        vd__text t = { &allocator, NULL, 0, 0, false };
        char name[300];
        memset(name, 'a', 252 + (i == 0));
        strcpy(name + 252 + (i == 0), cases[i].end);
        vd__text_add_json(&t, name);
        assert_false(t.failed);
        assert_string_equal(t.data + 1 + 252 + (i == 0), cases[i].kept);
        vd__free(&allocator, t.data);
    }
    vd_context_destroy(ctx);
}

static const struct CMUnitTest profile_tests[] = {
    cmocka_unit_test(ticks_are_extended), cmocka_unit_test(recordings_continue_the_clock),
    cmocka_unit_test(a_scope_contains_a_wrap), cmocka_unit_test(old_scopes_are_dropped),
    cmocka_unit_test(scopes_without_memory), cmocka_unit_test(a_file_that_cannot_be_written),
    cmocka_unit_test(json_names_are_cut),
};
