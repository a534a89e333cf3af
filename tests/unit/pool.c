/* Handles: valid while the object lives; afterwards, or with another context or object type, refused with a reason. */
#include "tests/unit/unit.h"

static void stale_handles(void **state) {
    (void)state;
    vd_context *ctx = unit_context(NULL);
    float x = 1;
    vd_buffer a = unit_buffer(ctx, "a", VD_F32, 1, &x), b;
    vd_buffer_destroy(ctx, a);
    assert_int_equal(vd_wait_idle(ctx), VD_OK);
    b = unit_buffer(ctx, "b", VD_F32, 1, &x); /* reuses the slot */
    assert_int_equal((uint32_t)a.id & VD__ID_SLOT_MASK, (uint32_t)b.id & VD__ID_SLOT_MASK);
    assert_int_not_equal(a.id, b.id);
    assert_int_equal(vd_buffer_read(ctx, a, 0, &x, 4), VD_ERROR_INVALID);
    CHECK_TEXT("vd_buffer_read: the source buffer was destroyed");
    assert_int_equal(vd_buffer_read(ctx, b, 0, &x, 4), VD_OK);
    vd_buffer_destroy(ctx, a);
    CHECK_TEXT("vd_buffer_destroy: the buffer was destroyed");
    assert_int_equal(unit_stats(ctx).buffers, 1);
    vd_context_destroy(ctx);
}

static void foreign_handles(void **state) {
    (void)state;
    vd_context *one = unit_context(NULL), *two = unit_context(NULL);
    unit_module module;
    float x = 1;
    unit_saxpy(&module);
    vd_buffer b = unit_buffer(one, "b", VD_F32, 1, &x);
    vd_kernel k = unit_kernel(one, &module, "k");
    assert_int_equal(vd_buffer_write(two, b, 0, &x, 4), VD_ERROR_INVALID);
    CHECK_TEXT("handle is invalid or belongs to another context");
    vd_kernel_info info;
    assert_int_equal(vd_kernel_query(two, k, &info), VD_ERROR_INVALID);
    CHECK_TEXT("handle is invalid or belongs to another context");
    vd_buffer mixed = { k.id };
    assert_int_equal(vd_buffer_write(one, mixed, 0, &x, 4), VD_ERROR_INVALID);
    CHECK_TEXT("the target buffer handle is invalid: expected a buffer, got a kernel");
    vd_buffer none = { 0 };
    vd_list *now = vd_immediate(one, 0, 0);
    assert_int_equal(vd_copy(now, none, 0, b, 0, 4), VD_ERROR_INVALID);
    CHECK_TEXT("vd_copy: the target buffer handle is 0");
    assert_int_equal(vd_copy(now, b, 0, mixed, 0, 4), VD_ERROR_INVALID);
    CHECK_TEXT("vd_copy: the source buffer handle is invalid: expected a buffer, got a kernel");
    assert_int_equal(vd_buffer_write(one, none, 0, &x, 4), VD_ERROR_INVALID);
    CHECK_TEXT("handle is 0");
    for (uint64_t i = 0; i < 64; i++) { /* every other id is refused */
        vd_buffer odd = { b.id ^ ((uint64_t)1 << i) };
        assert_int_equal(vd_buffer_write(one, odd, 0, &x, 4), VD_ERROR_INVALID);
    }
    vd_buffer last = { UINT64_MAX };
    assert_int_equal(vd_buffer_write(one, last, 0, &x, 4), VD_ERROR_INVALID);
    vd_context_destroy(one);
    vd_context_destroy(two);
}

static void many_handles(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    static vd_buffer b[COUNT];
    static bool alive[COUNT];
    vd_context *ctx = unit_context(NULL);
    uint64_t random = 1;
    for (int step = 0; step < 20000; step++) {
        uint32_t i = unit_random(&random) % COUNT;
        vd_buffer_info info;
        if (b[i].id) assert_int_equal(vd_buffer_query(ctx, b[i], &info), alive[i] ? VD_OK : VD_ERROR_INVALID);
        if (alive[i]) {
            assert_int_equal(info.size, 4 + i * 4);
            vd_buffer_destroy(ctx, b[i]);
        } else b[i] = unit_buffer(ctx, "b", VD_F32, 1 + i, NULL);
        alive[i] = !alive[i];
        assert_true(b[i].id != 0);
    }
    vd_context_destroy(ctx);
}

/* A handle stays invalid no matter how often its slot is reused. */
static void exhausted_generations(void **state) {
    (void)state;
    vd_allocator allocator = { vd__default_allocate, vd__default_reallocate, vd__default_release, NULL };
    vd__pool pool;
    vd__pool_init(&pool, &allocator, VD__OBJECT_TICKET, 7, sizeof(vd__ticket));
    vd__slot *slot = vd__pool_acquire(&pool), *first = slot;
    uint64_t stale = vd__pool_publish(&pool, slot), id = stale, reuses = 0;
    while (slot == first) {
        vd__pool_invalidate(&pool, slot);
        vd__pool_release(&pool, slot);
        slot = vd__pool_acquire(&pool);
        id = vd__pool_publish(&pool, slot);
        assert_int_not_equal(id, stale);
        assert_null(vd__pool_find(&pool, stale));
        assert_ptr_equal(vd__pool_find(&pool, id), slot);
        reuses++;
    }
    assert_int_equal(reuses, 0xFFFFF);
    assert_int_equal(pool.used, 2);
    vd__pool_free(&pool);
}

static void distinct_context_numbers(void **state) {
    (void)state;
    static vd_context *ctx[2000];
    static bool taken[VD__CONTEXT_NUMBERS];
    for (size_t i = 0; i < VD__COUNT(ctx); i++) {
        ctx[i] = unit_context(NULL);
        assert_in_range(ctx[i]->number, 1, VD__CONTEXT_NUMBERS - 1);
        assert_false(taken[ctx[i]->number]);
        taken[ctx[i]->number] = true;
    }
    for (size_t i = 0; i < VD__COUNT(ctx); i++) vd_context_destroy(ctx[i]);
}

/* Every context number except 0 can be in use at once; one more context is refused, and a freed number is reused. */
static void all_context_numbers(void **state) {
    (void)state;
    static bool taken[VD__CONTEXT_NUMBERS];
    for (uint32_t i = 1; i < VD__CONTEXT_NUMBERS; i++) {
        uint32_t number = vd__context_number_acquire();
        assert_false(!number || taken[number]);
        taken[number] = true;
    }
    vd_context *ctx = NULL;
    vd_context_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.backend = VD_BACKEND_DUMMY;
    assert_int_equal(vd_context_create(&desc, &ctx), VD_ERROR_UNSUPPORTED);
    CHECK_TEXT("vd_context_create: 65535 contexts exist, which is the maximum");
    vd__context_number_release(4711);
    ctx = unit_context(NULL);
    assert_int_equal(ctx->number, 4711);
    vd_context_destroy(ctx);
    for (uint32_t i = 1; i < VD__CONTEXT_NUMBERS; i++)
        if (i != 4711) vd__context_number_release(i);
}

static const struct CMUnitTest pool_tests[] = {
    cmocka_unit_test(stale_handles), cmocka_unit_test(foreign_handles), cmocka_unit_test(many_handles),
    cmocka_unit_test(exhausted_generations), cmocka_unit_test(distinct_context_numbers),
    cmocka_unit_test(all_context_numbers),
};
