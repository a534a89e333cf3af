/* Recordings that are submitted more than once, by the operations of the backend: a list is submitted once. */
#define _POSIX_C_SOURCE 200809L
#include "tests/insides.h"
#include "common.h"

enum { CELLS = 4, THREADS = 100, MANY_VALUES = 56 };

/* ---- a reusable recording ---- */

typedef struct replay {
    const vd__backend *backend;
    vd__queue *queue;
    vd__recording recording;
} replay;

static void replay_create(replay *p, vd_context *ctx) {
    memset(p, 0, sizeof *p);
    p->backend = ctx->driver.backend;
    p->queue = &ctx->queues[0];
    OK(p->backend->commands_create(p->queue->device, &p->recording.commands));
}

/* Returns a list whose commands are recorded into the recording. */
static vd_list *replay_begin(replay *p) {
    vd_list *list = list_begin(p->queue->ctx);
    OK(p->backend->commands_begin(p->queue->device, &p->recording.commands, true));
    list->recording = &p->recording;
    return list;
}

static void replay_end(replay *p, vd_list *list) {
    if (list->layout_count) vd__list_restore_layouts(list);
    if (list->host_stages)
        p->backend->record_barrier(p->queue->device, &p->recording.commands, list->host_stages, VD__STAGE_HOST,
                                    NULL, 0);
    OK(p->backend->commands_end(p->queue->device, &p->recording.commands));
    list->recording = NULL;
    vd_list_discard(list);
}

static void replay_submit_changed(replay *p, const vd__argument_change *changes, uint32_t change_count) {
    vd__queue *q = p->queue;
    vd__mutex_lock(q->lock);
    bool idle = vd__queue_reached(q, q->submitted);
    vd__submission s = { &p->recording.commands, q->submitted + 1, true, NULL, 0, changes, change_count, NULL, false,
                         idle };
    vd_result r = p->backend->queue_submit(q->device, q->index, &s);
    if (!r) vd__atomic_store64(&q->submitted, s.value);
    if (!r) vd__atomic_store64(&q->sent, s.value);
    vd__mutex_unlock(q->lock);
    OK(r);
}

static void replay_submit(replay *p) { replay_submit_changed(p, NULL, 0); }

static void replay_destroy(replay *p) {
    OK(vd_wait_idle(p->queue->ctx));
    p->backend->commands_destroy(p->queue->device, &p->recording.commands);
}

/* ---- transfers ---- */

/* Each time it is played, the recording moves all cells by one: the number of cells that are not zero is the number of
   times it was played. */
static void record_shift(replay *p, vd_buffer cells, vd_buffer pattern) {
    vd_list *list = replay_begin(p);
    uint32_t word = 7;
    for (uint32_t i = CELLS - 1; i > 0; i--) OK(vd_copy(list, cells, 4 * i, cells, 4 * (i - 1), 4));
    OK(vd_fill(list, pattern, 0, VD_WHOLE, &word, 4));
    replay_end(p, list);
}

static void check_shift(vd_context *ctx, vd_buffer cells, uint32_t plays) {
    uint32_t got[CELLS];
    OK(vd_buffer_read(ctx, cells, 0, got, sizeof got));
    for (uint32_t i = 0; i < CELLS; i++) assert_int_equal(got[i], i <= plays ? 5 : 0);
}

TEST(transfers_are_played_again) {
    static const uint32_t start[CELLS] = { 5, 0, 0, 0 };
    vd_buffer cells = buffer_u32(f->ctx, "cells", CELLS, start), pattern = buffer_u32(f->ctx, "pattern", 100, NULL);
    replay p;
    replay_create(&p, f->ctx);
    OK(vd_wait_idle(f->ctx));
    record_shift(&p, cells, pattern);
    check_shift(f->ctx, cells, 0); /* recording executes nothing */
    replay_submit(&p);
    replay_submit(&p); /* while the first submission is in flight */
    OK(vd_wait_idle(f->ctx));
    check_shift(f->ctx, cells, 2);
    assert_int_equal(read_u32(f->ctx, pattern, 99), 7);
    OK(vd_fill(vd_immediate(f->ctx, 0, 0), pattern, 0, VD_WHOLE, NULL, 0));
    OK(vd_wait_idle(f->ctx));
    replay_submit(&p); /* after it has completed */
    OK(vd_wait_idle(f->ctx));
    check_shift(f->ctx, cells, 3);
    assert_int_equal(read_u32(f->ctx, pattern, 99), 7);
    OK(vd_buffer_write(f->ctx, cells, 0, start, sizeof start));
    OK(vd_wait_idle(f->ctx));
    record_shift(&p, cells, pattern); /* recorded once more */
    replay_submit(&p);
    OK(vd_wait_idle(f->ctx));
    check_shift(f->ctx, cells, 1);
    replay_destroy(&p);
    vd_buffer_destroy(f->ctx, cells);
    vd_buffer_destroy(f->ctx, pattern);
}

/* ---- images ---- */

/* As record_shift: the cells are copied through two images and return one cell further on. */
static void record_texels(replay *p, const vd_image images[2], vd_buffer cells) {
    vd_list *list = replay_begin(p);
    vd_image_transfer t;
    vd_image_box from, to;
    memset(&t, 0, sizeof t);
    memset(&from, 0, sizeof from);
    memset(&to, 0, sizeof to);
    from.image = images[0];
    to.image = images[1];
    t.box.image = images[0];
    t.buffer = cells;
    OK(vd_copy_to_image(list, &t));
    OK(vd_copy_image(list, &to, &from));
    t.box.image = images[1];
    t.box.extent[0] = CELLS - 1;
    t.offset = 4;
    OK(vd_copy_from_image(list, &t));
    replay_end(p, list);
}

static vd_image texels_create(vd_context *ctx, uint32_t usage) {
    vd_image_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "texels";
    desc.format = VD_FORMAT_R32_U;
    desc.extent[0] = CELLS;
    desc.usage = usage;
    vd_image image = vd_image_create(ctx, &desc);
    assert_true(image.id != 0);
    return image;
}

/* Images are in their layouts at rest before and after each submission. */
TEST(images_are_played_again) {
    static const uint32_t start[CELLS] = { 5, 0, 0, 0 };
    if (f->backend != VD_BACKEND_VULKAN && f->backend != VD_BACKEND_DUMMY) skip_because("the backend has no images");
    vd_image images[2] = { texels_create(f->ctx, VD_IMAGE_SAMPLED), texels_create(f->ctx, VD_IMAGE_STORAGE) };
    vd_buffer cells = buffer_u32(f->ctx, "cells", CELLS, start);
    replay p;
    replay_create(&p, f->ctx);
    OK(vd_wait_idle(f->ctx));
    record_texels(&p, images, cells);
    check_shift(f->ctx, cells, 0);
    replay_submit(&p);
    replay_submit(&p);
    OK(vd_wait_idle(f->ctx));
    check_shift(f->ctx, cells, 2);
    replay_submit(&p);
    replay_destroy(&p);
    check_shift(f->ctx, cells, 3);
    vd_buffer_destroy(f->ctx, cells);
    for (int i = 0; i < 2; i++) vd_image_destroy(f->ctx, images[i]);
}

/* ---- kernels ---- */

/* x[i] = x[i] * the first value + the last one; the values are vectors of 16 bytes, too many for push constants. */
static vd_kernel kernel_many_values(vd_context *ctx) {
    vc_kernel *k = kernel_begin(ctx, "many_values", 64, 1, 1);
    vc_ref x = vc_buffer(k, "x", VC_U32, VC_READ_WRITE);
    vc_val values[MANY_VALUES];
    for (int i = 0; i < MANY_VALUES; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        values[i] = vc_param(k, name, VC_U32X4);
    }
    vc_val mul = vc_component(values[0], 0), add = vc_component(values[MANY_VALUES - 1], 3);
    VC_EACH(k, i) { vc_store(x, i, vc_add(vc_mul(vc_load(x, i), mul), add)); }
    return kernel_end(ctx, k);
}

static vd_result dispatch_many_values(vd_list *list, vd_kernel kernel, vd_buffer x, uint32_t mul, uint32_t add) {
    uint32_t values[2][4] = { { mul, 0, 0, 0 }, { 0, 0, 0, add } };
    vd_arg args[1 + MANY_VALUES];
    args[0] = vd_b(x);
    for (uint32_t i = 0; i < MANY_VALUES; i++) args[1 + i] = vd_value(VD_U32X4, values[i > 0]);
    return dispatch(list, kernel, THREADS, args, 1 + MANY_VALUES);
}

typedef struct work { vd_kernel affine, many, move; vd_buffer x, view, y; } work;

/* x = 3 * (2 * x + 1) + 5, 4 * it + 9 through a view, y = x + 11 of the view. */
static void record_work(replay *p, const work *w) {
    vd_list *list = replay_begin(p);
    OK(affine(list, w->affine, w->view, THREADS, 2, 1));
    OK(dispatch_many_values(list, w->many, w->view, 3, 5));
    OK(dispatch_many_values(list, w->many, w->view, 4, 9));
    OK(move(list, w->move, w->view, w->y, THREADS, 11));
    replay_end(p, list);
}

static void check_work(vd_context *ctx, const work *w, uint32_t first, uint32_t plays) {
    for (uint32_t i = 0; i < THREADS; i += THREADS - 1) {
        uint32_t x = i;
        for (uint32_t n = 0; n < plays; n++) x = 4 * (3 * (2 * x + 1) + 5) + 9;
        assert_int_equal(read_u32(ctx, w->x, first + i), x);
        assert_int_equal(read_u32(ctx, w->y, i), x + 11);
    }
    assert_int_equal(read_u32(ctx, w->x, first - 1), first - 1);
}

static void play_work(vd_context *ctx) {
    uint32_t first = vd_device(ctx, 0)->limits.binding_alignment / 4, data[4096];
    work w = { kernel_affine(ctx), kernel_many_values(ctx), kernel_move(ctx), { 0 }, { 0 }, { 0 } };
    vd_view_desc view;
    replay p;
    if (!first) first = 64;
    assert_true(first + THREADS <= COUNT(data));
    for (uint32_t i = 0; i < first + THREADS; i++) data[i] = i < first ? i : i - first;
    w.x = buffer_u32(ctx, "x", first + THREADS, data);
    w.y = buffer_u32(ctx, "y", THREADS, NULL);
    memset(&view, 0, sizeof view);
    view.buffer = w.x;
    view.offset = 4 * (uint64_t)first;
    view.type = VD_U32;
    w.view = vd_buffer_view(ctx, &view);
    assert_true(w.view.id != 0);
    replay_create(&p, ctx);
    OK(vd_wait_idle(ctx));
    record_work(&p, &w);
    for (int i = 0; i < 3; i++) replay_submit(&p);
    OK(vd_wait_idle(ctx));
    check_work(ctx, &w, first, 3);
    replay_submit(&p);
    OK(vd_wait_idle(ctx));
    check_work(ctx, &w, first, 4);
    replay_destroy(&p);
    vd_buffer_destroy(ctx, w.x);
    vd_buffer_destroy(ctx, w.y);
    vd_kernel_destroy(ctx, w.affine);
    vd_kernel_destroy(ctx, w.many);
    vd_kernel_destroy(ctx, w.move);
}

TEST_EXECUTED(kernels_are_played_again) {
    play_work(f->ctx);
    play_work(context_without(f, VD_FEATURE_ADDRESS));
}

/* ---- changed arguments ---- */

enum { CHANGES = 20 };

/* Byte offset of an argument in the block. */
static uint32_t location(vd_context *ctx, vd_kernel kernel, const char *name) {
    const vd__kernel *k = (const vd__kernel *)(void *)vd__pool_find(&ctx->kernels, kernel.id);
    uint32_t i = 0;
    while (strcmp(k->args[i].name, name)) i++;
    return k->args[i].location;
}

/* Records the launch of the list's last dispatch once more; its argument block can be changed. */
static uint32_t record_changeable(replay *p, vd_list *list) {
    vd__launch launch = list->dispatch->launch;
    uint32_t block = UINT32_MAX;
    launch.block = &block;
    p->backend->record_barrier(p->queue->device, &p->recording.commands, VD__STAGE_COMPUTE, VD__STAGE_COMPUTE, NULL, 0);
    OK(p->backend->record_launch(p->queue->device, &p->recording.commands, &launch));
    return block;
}

/* x = mul * x + add, by five launches. Submissions change the arguments of the second one, and those of the fifth one,
   which are too large for push constants. */
static void play_changed(vd_context *ctx) {
    uint32_t data[THREADS], few, many, values[2], x = 1;
    vd_kernel small = kernel_affine(ctx), large = kernel_many_values(ctx);
    uint32_t mul = location(ctx, small, "mul"), last = location(ctx, large, "v55") + 12;
    replay p;
    for (uint32_t i = 0; i < THREADS; i++) data[i] = 1;
    vd_buffer b = buffer_u32(ctx, "x", THREADS, data);
    replay_create(&p, ctx);
    OK(vd_wait_idle(ctx));
    assert_int_equal(location(ctx, small, "add"), mul + 4);
    vd_list *list = replay_begin(&p);
    OK(affine(list, small, b, THREADS, 3, 1));
    few = record_changeable(&p, list);
    OK(affine(list, small, b, THREADS, 3, 1));
    OK(dispatch_many_values(list, large, b, 5, 7));
    many = record_changeable(&p, list);
    replay_end(&p, list);
    uint32_t few_values[2] = { 3, 1 }, many_value = 7;
    for (uint32_t i = 0; i < CHANGES; i++) { /* most of them while earlier submissions are in flight */
        vd__argument_change changes[2] = { { few, mul, 8, values }, { many, last, 4, &values[1] } };
        values[0] = 2 * i + 3;
        values[1] = 100 + i;
        uint32_t count = i % 4;
        if (count == 3) changes[0] = changes[1];
        if (count == 1 || count == 2) memcpy(few_values, values, sizeof values);
        if (count >= 2) many_value = values[1];
        replay_submit_changed(&p, changes, count == 3 ? 1 : count);
        memset(values, 0xee, sizeof values); /* the data was copied */
        x = 3 * x + 1;
        x = few_values[0] * x + few_values[1];
        x = 3 * x + 1;
        x = 5 * x + 7;
        x = 5 * x + many_value;
        if (i == CHANGES / 2) OK(vd_wait_idle(ctx));
    }
    OK(vd_wait_idle(ctx));
    assert_int_equal(read_u32(ctx, b, 0), x);
    assert_int_equal(read_u32(ctx, b, THREADS - 1), x);
    replay_destroy(&p);
    vd_buffer_destroy(ctx, b);
    vd_kernel_destroy(ctx, small);
    vd_kernel_destroy(ctx, large);
}

TEST_EXECUTED(arguments_are_changed_between_submissions) {
    play_changed(f->ctx);
    play_changed(context_without(f, VD_FEATURE_ADDRESS));
}

static const struct CMUnitTest cases[] = {
    CASE(transfers_are_played_again), CASE(images_are_played_again), CASE(kernels_are_played_again),
    CASE(arguments_are_changed_between_submissions)
};
MAIN("recordings", cases)
