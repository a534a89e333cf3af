/* Swapchains: choices among what windows offer, including lists that no driver here reports, and clipping. */
#include "tests/unit/unit.h"

#define SRGB VK_COLOR_SPACE_SRGB_NONLINEAR_KHR
#define HDR10 VK_COLOR_SPACE_HDR10_ST2084_EXT

/* Chooses from the first `count` elements of a list like that of a display with HDR. */
static vd_format choose_format(uint32_t count, vd_format preferred, bool hdr10, VkColorSpaceKHR *space) {
    static const VkSurfaceFormatKHR list[] = {
        { VK_FORMAT_B8G8R8A8_SRGB, SRGB }, { VK_FORMAT_B8G8R8A8_UNORM, SRGB },
        { VK_FORMAT_R16G16B16A16_SFLOAT, VK_COLOR_SPACE_EXTENDED_SRGB_LINEAR_EXT },
        { VK_FORMAT_A2R10G10B10_UNORM_PACK32, HDR10 }, { VK_FORMAT_A2B10G10R10_UNORM_PACK32, SRGB },
        { VK_FORMAT_A2B10G10R10_UNORM_PACK32, HDR10 }
    };
    vd_swapchain_desc desc;
    VkSurfaceFormatKHR out;
    memset(&desc, 0, sizeof desc);
    memset(&out, 0, sizeof out);
    desc.format = preferred;
    desc.hdr10 = hdr10;
    vd_format format = vd__vk_surface_format(list, count, &desc, &out);
    if (format) assert_int_equal(out.format, vd__vk_formats[format]);
    *space = out.colorSpace;
    return format;
}

static void formats_of_windows(void **state) {
    static const struct {
        uint32_t count;
        vd_format preferred;
        bool hdr10;
        vd_format format;
        VkColorSpaceKHR space;
    } cases[] = {
        { 6, VD_FORMAT_NONE, false, VD_FORMAT_BGRA8_UNORM, SRGB },
        { 6, VD_FORMAT_BGRA8_SRGB, false, VD_FORMAT_BGRA8_SRGB, SRGB },
        { 6, VD_FORMAT_RGBA8_UNORM, false, VD_FORMAT_BGRA8_UNORM, SRGB },
        { 6, VD_FORMAT_RGB10A2_UNORM, false, VD_FORMAT_RGB10A2_UNORM, SRGB },
        { 6, VD_FORMAT_NONE, true, VD_FORMAT_RGB10A2_UNORM, HDR10 },
        { 6, VD_FORMAT_BGRA8_UNORM, true, VD_FORMAT_RGB10A2_UNORM, HDR10 },
        { 5, VD_FORMAT_NONE, true, VD_FORMAT_BGRA8_UNORM, SRGB }, /* HDR10 only in a format that images cannot have */
        { 2, VD_FORMAT_NONE, true, VD_FORMAT_BGRA8_UNORM, SRGB },
        { 1, VD_FORMAT_BGRA8_UNORM, false, VD_FORMAT_BGRA8_SRGB, SRGB },
    };
    VkColorSpaceKHR space;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(choose_format(cases[i].count, cases[i].preferred, cases[i].hdr10, &space), cases[i].format);
        assert_int_equal(space, cases[i].space);
    }
    assert_int_equal(choose_format(0, VD_FORMAT_NONE, false, &space), VD_FORMAT_NONE);
}

static void windows_without_preference(void **state) {
    const VkSurfaceFormatKHR any = { VK_FORMAT_UNDEFINED, SRGB };
    vd_swapchain_desc desc;
    VkSurfaceFormatKHR out;
    (void)state;
    memset(&desc, 0, sizeof desc);
    assert_int_equal(vd__vk_surface_format(&any, 1, &desc, &out), VD_FORMAT_BGRA8_UNORM);
    assert_int_equal(out.format, VK_FORMAT_B8G8R8A8_UNORM);
    desc.format = VD_FORMAT_RGBA16_F;
    assert_int_equal(vd__vk_surface_format(&any, 1, &desc, &out), VD_FORMAT_RGBA16_F);
}

static void modes_of_windows(void **state) {
    static const VkPresentModeKHR list[] = { VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR,
        VK_PRESENT_MODE_FIFO_RELAXED_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR };
    static const struct { uint32_t count; vd_vsync wanted, chosen; VkPresentModeKHR mode; } cases[] = {
        { 4, VD_VSYNC_ON, VD_VSYNC_ON, VK_PRESENT_MODE_FIFO_KHR },
        { 4, VD_VSYNC_ADAPTIVE, VD_VSYNC_ADAPTIVE, VK_PRESENT_MODE_FIFO_RELAXED_KHR },
        { 4, VD_VSYNC_MAILBOX, VD_VSYNC_MAILBOX, VK_PRESENT_MODE_MAILBOX_KHR },
        { 4, VD_VSYNC_OFF, VD_VSYNC_OFF, VK_PRESENT_MODE_IMMEDIATE_KHR },
        { 3, VD_VSYNC_OFF, VD_VSYNC_MAILBOX, VK_PRESENT_MODE_MAILBOX_KHR },
        { 2, VD_VSYNC_ADAPTIVE, VD_VSYNC_ON, VK_PRESENT_MODE_FIFO_KHR },
        { 1, VD_VSYNC_OFF, VD_VSYNC_ON, VK_PRESENT_MODE_FIFO_KHR },
        { 1, VD_VSYNC_MAILBOX, VD_VSYNC_ON, VK_PRESENT_MODE_FIFO_KHR },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vd_vsync vsync = cases[i].wanted;
        assert_int_equal(vd__vk_surface_mode(list, cases[i].count, &vsync), cases[i].mode);
        assert_int_equal(vsync, cases[i].chosen);
    }
}

/* Windows with an extent, without one (Wayland), and minimised ones. */
static void extents_of_windows(void **state) {
    static const struct { uint32_t now[2], wanted[2]; bool area; uint32_t out[2]; } cases[] = {
        { { 640, 480 }, { 0, 0 }, true, { 640, 480 } },
        { { 640, 480 }, { 100, 100 }, true, { 640, 480 } },
        { { 0, 0 }, { 100, 100 }, false, { 0, 0 } },
        { { 160, 0 }, { 100, 100 }, false, { 0, 0 } },
        { { UINT32_MAX, UINT32_MAX }, { 0, 0 }, false, { 0, 0 } },
        { { UINT32_MAX, UINT32_MAX }, { 100, 200 }, true, { 100, 200 } },
        { { UINT32_MAX, UINT32_MAX }, { 1, 5000 }, true, { 4, 4096 } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        VkSurfaceCapabilitiesKHR c;
        uint32_t out[3] = { 7, 7, 7 };
        memset(&c, 0, sizeof c);
        c.currentExtent.width = cases[i].now[0];
        c.currentExtent.height = cases[i].now[1];
        c.minImageExtent.width = c.minImageExtent.height = 4;
        c.maxImageExtent.width = c.maxImageExtent.height = 4096;
        assert_int_equal(vd__vk_surface_extent(&c, cases[i].wanted, out), cases[i].area);
        assert_int_equal(out[0], cases[i].out[0]);
        assert_int_equal(out[1], cases[i].out[1]);
    }
}

/* Compares the clipped range with a loop over the pixels of the window. */
static void clipping(void **state) {
    static const int32_t places[] = { INT32_MIN, -20, -9, -5, -1, 0, 1, 3, 7, 9, 10, 11, INT32_MAX };
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (uint32_t extent = 1; extent < 30; extent++) {
            const uint32_t pixels = 10;
            vd__image_command c;
            uint32_t first = 0, count = 0;
            memset(&c, 0, sizeof c);
            c.from.offset[1] = 100;
            c.from.extent[1] = extent;
            bool covered = vd__present_clip(&c, 1, places[i], pixels);
            for (uint32_t x = 0; x < pixels; x++) {
                int64_t from = (int64_t)x - places[i];
                if (from < 0 || from >= extent) continue;
                if (!count++) first = x;
            }
            assert_int_equal(covered, count == pixels);
            assert_int_equal(c.from.extent[1], count);
            assert_int_equal(c.to.extent[1], count);
            if (!count) continue;
            assert_int_equal(c.to.offset[1], first);
            assert_int_equal(c.from.offset[1], 100 + (int64_t)first - places[i]);
        }
}

/* ---- one swapchain for each window ---- */

static struct { vd_context *ctx; int creations; bool fails; } opening;

static vd_swapchain swapchain_of(const char *name, uint64_t window) {
    vd_swapchain_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    desc.window = window;
    return vd_swapchain_create(opening.ctx, &desc);
}

/* While the first window is opened, creates another swapchain for it, as another thread could, and one for window 2. */
static vd_result create_others(vd__device *dev, vd__surface *s) {
    (void)dev, (void)s;
    if (opening.creations++) return opening.fails ? vd__fail(VD_ERROR_BACKEND, "no surface") : VD_OK;
    assert_int_equal(swapchain_of("second", 1).id, 0);
    CHECK_TEXT("vd_swapchain_create 'second': window 1 has a swapchain, 'first'; destroy that first");
    assert_int_not_equal(swapchain_of("other", 2).id, 0);
    return VD_OK;
}

static void windows_are_reserved_while_they_are_opened(void **state) {
    static vd__backend backend;
    (void)state;
    memset(&opening, 0, sizeof opening);
    vd_context *ctx = opening.ctx = unit_context(NULL);
    backend = vd__backend_dummy;
    backend.surface_create = create_others;
    ctx->driver.backend = &backend;
    ctx->host.window_system = VD_WINDOW_WIN32;
    vd_swapchain first = swapchain_of("first", 1);
    assert_int_not_equal(first.id, 0);
    vd_swapchain_destroy(ctx, first);
    opening.fails = true;
    assert_int_equal(swapchain_of("third", 1).id, 0);
    opening.fails = false;
    assert_int_not_equal(swapchain_of("third", 1).id, 0);
    ctx->driver.backend = &vd__backend_dummy;
    vd_context_destroy(ctx);
}

static const struct CMUnitTest windows_tests[] = {
    cmocka_unit_test(formats_of_windows), cmocka_unit_test(windows_without_preference),
    cmocka_unit_test(modes_of_windows), cmocka_unit_test(extents_of_windows), cmocka_unit_test(clipping),
    cmocka_unit_test(windows_are_reserved_while_they_are_opened),
};
