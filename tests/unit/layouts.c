/* Layouts of images: which transitions a list records, and that they always begin with the layout that the image
   has. */
#include "tests/unit/unit.h"

enum { LAYOUT_IMAGES = 3, LAYOUT_SUBRESOURCES = 24 };

/* The layouts that the transitions recorded so far lead to. */
static struct {
    const vd__memory *memories[LAYOUT_IMAGES];
    vd__layout now[LAYOUT_IMAGES][LAYOUT_SUBRESOURCES];
    uint32_t transitions, barriers;
} layouts_seen;

static vd__layout *layouts_of(const vd__memory *m) {
    for (int i = 0; i < LAYOUT_IMAGES; i++) {
        if (!layouts_seen.memories[i]) layouts_seen.memories[i] = m;
        if (layouts_seen.memories[i] == m) return layouts_seen.now[i];
    }
    fail();
    return NULL;
}

/* Checks that each transition begins with the present layout. New images are undefined. */
static void layouts_spy(vd__device *dev, vd__commands *c, uint32_t from, uint32_t to, const vd__transition *transitions,
                        uint32_t count) {
    assert_true(from && to);
    layouts_seen.barriers++;
    layouts_seen.transitions += count;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t at = transitions[i].begin; at < transitions[i].end; at++) {
            vd__layout *now = &layouts_of(transitions[i].memory)[at];
            assert_int_equal(*now, transitions[i].from);
            *now = transitions[i].to;
        }
    vd__tape_record_barrier(dev, c, from, to, transitions, count);
}

/* Checks that the parts of a transfer are in the layouts that the command states. */
static void layouts_spy_image(vd__device *dev, vd__commands *c, const vd__image_command *transfer) {
    const vd__image_part *parts[2] = { &transfer->to, &transfer->from };
    for (int i = 0; i < 2; i++) {
        if (!parts[i]->memory) continue;
        uint32_t first = parts[i]->level * vd__memory_shape(parts[i]->memory)->layers + parts[i]->layer;
        for (uint32_t layer = 0; layer < parts[i]->layers; layer++)
            assert_int_equal(layouts_of(parts[i]->memory)[first + layer], parts[i]->layout);
        assert_int_equal(parts[i]->layout, i ? VD__LAYOUT_SOURCE : VD__LAYOUT_TARGET);
    }
    vd__tape_record_image(dev, c, transfer);
}

static vd_context *layouts_context(void) {
    static vd__backend spy;
    vd_context *ctx = unit_context(NULL);
    memset(&layouts_seen, 0, sizeof layouts_seen);
    spy = vd__backend_dummy;
    spy.record_barrier = layouts_spy;
    spy.record_image = layouts_spy_image;
    ctx->driver.backend = &spy;
    return ctx;
}

static vd_image layouts_image(vd_context *ctx, uint32_t usage, uint32_t levels, uint32_t layers) {
    vd_image_desc d;
    memset(&d, 0, sizeof d);
    d.format = VD_FORMAT_R32_F;
    d.dim = VD_DIM_2D_ARRAY;
    d.extent[0] = d.extent[1] = 32;
    d.levels = levels;
    d.layers = layers;
    d.usage = usage;
    vd_image image = vd_image_create(ctx, &d);
    assert_true(image.id != 0);
    return image;
}

static void all_are_in(int image, uint32_t count, vd__layout layout) {
    for (uint32_t i = 0; i < count; i++) assert_int_equal(layouts_seen.now[image][i], layout);
}

/* A new image is cleared, and is at rest after the submission. */
static void images_rest_between_submissions(void **state) {
    vd_context *ctx = layouts_context();
    (void)state;
    vd_image sampled = layouts_image(ctx, VD_IMAGE_SAMPLED, 2, 3);
    vd_image stored = layouts_image(ctx, VD_IMAGE_SAMPLED | VD_IMAGE_STORAGE, 2, 3);
    all_are_in(0, 6, VD__LAYOUT_TARGET);
    assert_int_equal(vd_flush(ctx), VD_OK);
    all_are_in(0, 6, VD__LAYOUT_SAMPLED);
    all_are_in(1, 6, VD__LAYOUT_GENERAL);
    uint32_t before = layouts_seen.barriers;
    assert_int_equal(vd_flush(ctx), VD_OK);
    assert_int_equal(layouts_seen.barriers, before);
    vd_image_destroy(ctx, sampled);
    vd_image_destroy(ctx, stored);
    vd_context_destroy(ctx);
}

/* Reads of one subresource need one transition; those of another level need another one. */
static void transitions_are_not_repeated(void **state) {
    static float row[32 * 32];
    vd_context *ctx = layouts_context();
    (void)state;
    vd_image image = layouts_image(ctx, VD_IMAGE_SAMPLED, 2, 1);
    vd_buffer b = unit_buffer(ctx, "b", VD_F32, 2048, NULL);
    assert_int_equal(vd_flush(ctx), VD_OK);
    vd_list *l = vd_list_begin(ctx, NULL);
    vd_image_transfer t;
    memset(&t, 0, sizeof t);
    t.box.image = image;
    t.buffer = b;
    uint32_t transitions = layouts_seen.transitions;
    assert_int_equal(vd_copy_from_image(l, &t), VD_OK);
    t.offset = 4096;
    uint32_t barriers = layouts_seen.barriers;
    assert_int_equal(vd_copy_from_image(l, &t), VD_OK);
    assert_int_equal(layouts_seen.transitions, transitions + 1);
    assert_int_equal(layouts_seen.barriers, barriers);
    t.box.level = 1;
    t.offset = 0;
    assert_int_equal(vd_copy_from_image(l, &t), VD_OK);
    assert_int_equal(layouts_seen.transitions, transitions + 2);
    assert_int_equal(vd_submit(l, NULL, NULL), VD_OK);
    all_are_in(0, 2, VD__LAYOUT_SAMPLED);
    t.box.level = 0;
    assert_int_equal(vd_image_download(ctx, &t, row), VD_OK);
    vd_image_destroy(ctx, image);
    vd_buffer_destroy(ctx, b);
    vd_context_destroy(ctx);
}

/* A discarded list leaves no trace. */
static void discarded_lists_do_not_count(void **state) {
    vd_context *ctx = layouts_context();
    (void)state;
    vd_image image = layouts_image(ctx, VD_IMAGE_SAMPLED, 1, 1);
    assert_int_equal(vd_flush(ctx), VD_OK);
    vd_list *l = vd_list_begin(ctx, NULL);
    assert_int_equal(vd_clear_image(l, image, NULL), VD_OK);
    vd_list_discard(l);
    layouts_seen.now[0][0] = VD__LAYOUT_SAMPLED; /* the recorded transition is not executed */
    l = vd_list_begin(ctx, NULL);
    assert_int_equal(vd_clear_image(l, image, NULL), VD_OK);
    assert_int_equal(vd_submit(l, NULL, NULL), VD_OK);
    all_are_in(0, 1, VD__LAYOUT_SAMPLED);
    vd_image_destroy(ctx, image);
    vd_context_destroy(ctx);
}

/* Random accesses to two images against one layout for each subresource. */
static void random_accesses(void **state) {
    vd_context *ctx = layouts_context();
    uint64_t dice = 7;
    (void)state;
    vd_image images[2];
    for (uint32_t i = 0; i < 2; i++) images[i] = layouts_image(ctx, i ? 0 : VD_IMAGE_SAMPLED, 6, 4);
    vd_list *l = vd_immediate(ctx, 0, 0);
    vd__storage *storages[2];
    for (int i = 0; i < 2; i++)
        storages[i] = ((vd__image *)(void *)vd__pool_find(&ctx->images, images[i].id))->resource.storage;
    for (int round = 0; round < 20000; round++) {
        uint32_t roll[4];
        for (int i = 0; i < 4; i++) {
            dice = dice * 6364136223846793005u + 1442695040888963407u;
            roll[i] = (uint32_t)(dice >> 40);
        }
        vd__storage *s = storages[roll[0] % 2];
        vd__layout rest = vd__image_rest(vd__memory_shape(&s->memory));
        uint32_t begin = roll[1] % LAYOUT_SUBRESOURCES, end = begin + 1 + roll[2] % (LAYOUT_SUBRESOURCES - begin);
        static const vd__layout wanted[] = { VD__LAYOUT_GENERAL, VD__LAYOUT_SOURCE, VD__LAYOUT_TARGET };
        vd__access a = { s, begin, end, false, 0, false, false, 0 };
        a.layout = (uint8_t)(roll[3] % 3 ? wanted[roll[3] % 3] : rest);
        assert_int_equal(vd__list_images(l, &a, 1, VD__STAGE_TRANSFER), VD_OK);
        for (uint32_t at = begin; at < end; at++) assert_int_equal(layouts_of(&s->memory)[at], a.layout);
        if (round % 50 == 0) assert_int_equal(vd_flush(ctx), VD_OK);
    }
    assert_int_equal(vd_flush(ctx), VD_OK);
    all_are_in(0, LAYOUT_SUBRESOURCES, VD__LAYOUT_SAMPLED);
    all_are_in(1, LAYOUT_SUBRESOURCES, VD__LAYOUT_GENERAL);
    vd_context_destroy(ctx);
}

static const struct CMUnitTest layouts_tests[] = {
    cmocka_unit_test(images_rest_between_submissions), cmocka_unit_test(transitions_are_not_repeated),
    cmocka_unit_test(discarded_lists_do_not_count), cmocka_unit_test(random_accesses),
};
