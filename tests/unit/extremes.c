/* Indices and counts at the limits of an int: an error, no crash and, under the sanitizer, no overflow. */
#include "tests/unit/unit.h"

static const int extremes[] = { INT32_MIN, INT32_MIN + 1, -2, -1, 1000, INT32_MAX - 1, INT32_MAX };

static void of_a_context(void **state) {
    (void)state;
    for (size_t i = 0; i < VD__COUNT(extremes); i++) {
        vd_context_desc desc;
        vd_context *ctx = NULL;
        int list[2] = { 1, extremes[i] };
        for (int field = 0; field < 4; field++) {
            memset(&desc, 0, sizeof desc);
            desc.backend = VD_BACKEND_DUMMY;
            if (field == 0) desc.device = extremes[i];
            if (field == 1) desc.queues = extremes[i];
            if (field == 2) desc.device_count = extremes[i];
            if (field >= 2) desc.devices = list;
            if (field == 3) desc.device_count = 2;
            assert_int_not_equal(vd_context_create(&desc, &ctx), VD_OK);
            assert_null(ctx);
            if (field == 3) {
                char text[64];
                snprintf(text, sizeof text, "desc.devices[1] is %d ", extremes[i]);
                CHECK_TEXT(text);
            }
        }
        assert_true(vd_devices(VD_BACKEND_DUMMY, NULL, extremes[i]) >= 0);
    }
}

static void of_calls(void **state) {
    static const uint32_t words[64];
    (void)state;
    vd_context *ctx = unit_context(NULL);
    vd_buffer b = unit_buffer(ctx, "b", VD_U32, 64, words);
    uint32_t out[64];
    void *mapped;
    for (size_t i = 0; i < VD__COUNT(extremes); i++) {
        int x = extremes[i];
        vd_region_desc region;
        vd_read_desc read;
        vd_list_desc list;
        vd_submit_desc submit;
        vd_record_desc record;
        vd_ticket ticket;
        struct DLManagedTensor *tensor = NULL;
        memset(&region, 0, sizeof region);
        memset(&read, 0, sizeof read);
        memset(&list, 0, sizeof list);
        memset(&submit, 0, sizeof submit);
        memset(&record, 0, sizeof record);
        assert_null(vd_device(ctx, x));
        assert_null(vd_immediate(ctx, x, 0));
        if (x != VD_QUEUE_ANY) assert_null(vd_immediate(ctx, 0, x));
        assert_int_not_equal(vd_buffer_map(ctx, b, x, VD_READ, &mapped), VD_OK);
        assert_int_not_equal(vd_buffer_unmap(ctx, b, x), VD_OK);
        assert_int_not_equal(vd_buffer_send(ctx, b, x, 0, b, 0, 0, 4), VD_OK);
        assert_int_not_equal(vd_buffer_send(ctx, b, 0, 0, b, x, 0, 4), VD_OK);
        region.buffer = b;
        region.row_bytes = region.rows = 4;
        region.device = x;
        assert_int_not_equal(vd_buffer_write_region(ctx, &region, words), VD_OK);
        assert_int_not_equal(vd_buffer_read_region(ctx, &region, out), VD_OK);
        assert_int_not_equal(vd_write_region(vd_immediate(ctx, 0, 0), &region, words), VD_OK);
        read.buffer = b;
        read.device = x;
        assert_int_not_equal(vd_read_begin(vd_immediate(ctx, 0, 0), &read, &ticket), VD_OK);
        list.device = x;
        assert_null(vd_list_begin(ctx, &list));
        list.device = 0;
        list.queue = x;
        if (x != VD_QUEUE_ANY) assert_null(vd_list_begin(ctx, &list));
        submit.wait_count = x;
        assert_int_not_equal(vd_submit(vd_immediate(ctx, 0, 0), &submit, NULL), VD_OK);
        record.use_count = x;
        assert_int_not_equal(vd_record_native(vd_immediate(ctx, 0, 0), &record), VD_OK);
        assert_int_not_equal(vd_native_use(ctx, x, 0, NULL, NULL), VD_OK);
        assert_int_not_equal(vd_native_use(ctx, 0, x, NULL, NULL), VD_OK);
        assert_int_not_equal(vd_dlpack_export(ctx, b, x, &tensor), VD_OK);
    }
    vd_context_destroy(ctx);
}

/* A count with an invalid pointer is refused before anything is read. */
static void of_kernels(void **state) {
    (void)state;
    vd_context *ctx = unit_context(NULL);
    static const uint32_t words[8] = { 0x07230203 };
    vd_arg arg = vd_u32(1);
    vd_kernel none = { 0 };
    for (size_t i = 0; i < VD__COUNT(extremes); i++) {
        vd_arg_info args[1];
        vd_implicit_info hidden[1];
        memset(args, 0, sizeof args);
        memset(hidden, 0, sizeof hidden);
        for (int field = 0; field < 3; field++) {
            vd_kernel_desc desc;
            memset(&desc, 0, sizeof desc);
            desc.name = "k";
            desc.code = words;
            desc.code_size = sizeof words;
            desc.args = args;
            desc.implicit = hidden;
            if (field == 0) desc.arg_count = extremes[i];
            if (field == 1) desc.implicit_count = extremes[i];
            if (field == 2) desc.format_count = extremes[i];
            assert_int_equal(vd_kernel_create(ctx, &desc).id, 0);
        }
        assert_int_not_equal(vd_run_args(ctx, none, 1, 1, 1, &arg, extremes[i]), VD_OK);
    }
    vd_context_destroy(ctx);
}

static const struct CMUnitTest extremes_tests[] = {
    cmocka_unit_test(of_a_context), cmocka_unit_test(of_calls), cmocka_unit_test(of_kernels),
};
