/* Swapchains of Wayland: presents to windows of weston and compares its output. The extent of such a window is that of
   the last present. conformance/windows has the tests that do not depend on the window system. */
#define _GNU_SOURCE
#include "tests/conformance/common.h"
#include "tests/conformance/presents.h"
#include "tests/wayland.h"

#ifdef HAS_WAYLAND

enum { WIDTH = 64, HEIGHT = 48, TEST_SECONDS = 120 };

/* A context that presents to Wayland. A test that hangs ends the program by SIGALRM. */
static vd_context *needs_window(fixture *f) {
    vd_context_desc desc = fixture_desc(f);
    if (f->backend != VD_BACKEND_VULKAN) skip_because("the backend does not present");
    const char *missing = wl_open();
    if (missing) skip_because(missing);
    alarm(TEST_SECONDS);
    desc.window_system = VD_WINDOW_WAYLAND;
    return context_with(f, &desc);
}

static wl_window window_new(void) {
    wl_window w;
    if (!wl_window_open(&w)) fail_msg("weston does not configure the window");
    return w;
}

/* Skips the test if the driver cannot present to Wayland. */
static vd_swapchain chain_of(vd_context *ctx, const wl_window *w, vd_vsync vsync) {
    vd_swapchain_desc d = chain_desc(wl.display, (uintptr_t)w->surface);
    d.vsync = vsync;
    vd_swapchain s = vd_swapchain_create(ctx, &d);
    if (!s.id && vd_error_result() == VD_ERROR_UNSUPPORTED) {
        print_message("# %s\n", vd_error_text());
        skip_because("the device cannot present to Wayland");
    }
    if (!s.id) fail_msg("vd_swapchain_create: %s", vd_error_text());
    return s;
}

static void handle_events(void) {
    if (!wl_events(0)) fail_msg("the connection to weston is lost");
}

/* Waits until weston shows the window, which has this extent, in the middle of its output: the present of a picture of
   `of` texels. If weston has no screenshots, only the window is known to be alive. */
static void shows(const int extent[2], const vd_present_desc *d, const int of[2], uint32_t seed) {
    static uint32_t pixels[WL_WIDTH * WL_HEIGHT];
    const int left = (WL_WIDTH - extent[0]) / 2, top = (WL_HEIGHT - extent[1]) / 2;
    int wrong = 1, first = 0;
    uint32_t wanted = 0;
    if (!wl.shooter) {
        print_message("# weston has no weston_screenshooter: pixels are not compared\n");
        assert_true(wl_sync());
        return;
    }
    for (int64_t end = wl_now_ms() + WL_WAIT_MS; wrong && wl_now_ms() < end;) {
        if (!wl_screenshot(pixels)) fail_msg("no screenshot");
        wrong = 0;
        for (int i = WL_WIDTH * WL_HEIGHT - 1; i >= 0; i--) {
            int x = i % WL_WIDTH - left, y = i / WL_WIDTH - top;
            bool inside = x >= 0 && y >= 0 && x < extent[0] && y < extent[1];
            uint32_t e = inside ? expected(d, of[0], of[1], seed, x, y) : 0;
            if ((pixels[i] & 0xFFFFFF) == e) continue;
            wrong++;
            first = i;
            wanted = e;
        }
    }
    if (wrong)
        fail_msg("%d pixels are wrong, the first at %d, %d: %06x instead of %06x", wrong, first % WL_WIDTH - left,
                 first / WL_WIDTH - top, pixels[first] & 0xFFFFFF, wanted);
}

static void check_extent(vd_context *ctx, vd_swapchain s, int width, int height, uint64_t presented) {
    vd_swapchain_info info;
    OK(vd_swapchain_query(ctx, s, &info));
    assert_int_equal(info.extent[0], width);
    assert_int_equal(info.extent[1], height);
    assert_int_equal(info.presented, presented);
}

TEST_EXECUTED(presented_images_are_shown) {
    static const vd_format formats[] = { VD_FORMAT_RGBA8_UNORM, VD_FORMAT_BGRA8_UNORM };
    static const int places[][2] = { { 0, 0 }, { 5, 7 }, { -9, -3 }, { WIDTH, HEIGHT } }, extent[] = { WIDTH, HEIGHT };
    vd_context *ctx = needs_window(f);
    wl_window w = window_new();
    vd_swapchain s = chain_of(ctx, &w, VD_VSYNC_ON);
    uint64_t presented = 0;
    for (uint32_t k = 0; k < COUNT(formats); k++) {
        vd_image image = picture(ctx, formats[k], WIDTH, HEIGHT, k);
        for (size_t i = 0; i < COUNT(places); i++) {
            vd_present_desc d = present_desc(image, places[i][0], places[i][1]);
            OK(vd_present(ctx, s, &d));
            shows(extent, &d, extent, k);
            check_extent(ctx, s, WIDTH, HEIGHT, ++presented);
        }
        vd_image_destroy(ctx, image);
    }
    vd_swapchain_destroy(ctx, s);
    wl_window_close(&w);
    alarm(0);
}

/* Every frame is computed by a kernel after the one before was presented. */
TEST_EXECUTED(computed_frames_are_ordered) {
    static const int extent[] = { WIDTH, HEIGHT };
    vd_context *ctx = needs_window(f);
    vd_kernel paint = kernel_paint(ctx);
    vd_image image = picture(ctx, VD_FORMAT_RGBA8_UNORM, WIDTH, HEIGHT, 0);
    for (int vsync = VD_VSYNC_ON; vsync <= VD_VSYNC_OFF; vsync++) {
        wl_window w = window_new();
        vd_swapchain s = chain_of(ctx, &w, (vd_vsync)vsync);
        vd_present_desc d = present_desc(image, 0, 0);
        for (int i = 0; i <= 20; i++) {
            OK(vd_run2(ctx, paint, WIDTH, HEIGHT, vd_i(image), vd_f32(i == 20 ? 1 : 0.04f * (float)i)));
            OK(vd_present(ctx, s, &d));
            handle_events();
        }
        d.x = WIDTH; /* all pixels have the colour of the background */
        shows(extent, &d, extent, 0);
        check_extent(ctx, s, WIDTH, HEIGHT, 21);
        vd_swapchain_destroy(ctx, s);
        wl_window_close(&w);
    }
    vd_image_destroy(ctx, image);
    vd_kernel_destroy(ctx, paint);
    alarm(0);
}

/* The extent of the window is that of each present, or of the box. */
TEST_EXECUTED(resized_windows) {
    static const int of[] = { 200, 150 };
    vd_context *ctx = needs_window(f);
    wl_window w = window_new();
    vd_swapchain s = chain_of(ctx, &w, VD_VSYNC_MAILBOX);
    vd_image image = picture(ctx, VD_FORMAT_BGRA8_UNORM, of[0], of[1], 3);
    uint64_t presented = 0;
    long blocks = 0;
    for (int i = 0; i < 60; i++) {
        const int extent[] = { 10 + i * 37 % 230, 10 + i * 53 % 190 };
        vd_present_desc d = present_desc(image, 2, 1);
        d.extent[0] = (uint32_t)extent[0];
        d.extent[1] = (uint32_t)extent[1];
        OK(vd_present(ctx, s, &d));
        check_extent(ctx, s, extent[0], extent[1], ++presented);
        if (i % 10 == 0) shows(extent, &d, of, 3);
        handle_events();
        if (i == 20) blocks = f->memory.live;
    }
    if (f->memory.live > blocks + 20) fail_msg("%ld blocks of memory, then %ld", blocks, f->memory.live);
    vd_present_desc d = present_desc(image, 0, 0);
    OK(vd_present(ctx, s, &d));
    check_extent(ctx, s, of[0], of[1], ++presented);
    shows(of, &d, of, 3);
    vd_swapchain_destroy(ctx, s);
    vd_image_destroy(ctx, image);
    wl_window_close(&w);
    alarm(0);
}

/* The compositor ends before the swapchain is destroyed. */
TEST_EXECUTED(compositors_that_vanish) {
    static const int extent[] = { WIDTH, HEIGHT };
    for (int presents = 0; presents < 3; presents++) {
        vd_context *ctx = needs_window(f);
        vd_image image = picture(ctx, VD_FORMAT_RGBA8_UNORM, WIDTH, HEIGHT, 2);
        vd_present_desc d = present_desc(image, 0, 0);
        wl_window w = window_new();
        vd_swapchain s = chain_of(ctx, &w, presents == 2 ? VD_VSYNC_MAILBOX : VD_VSYNC_ON);
        vd_result r = VD_OK;
        for (int i = 0; i < presents; i++) OK(vd_present(ctx, s, &d));
        if (presents) shows(extent, &d, extent, 2);
        wl_kill();
        for (int i = 0; i < 50 && r != VD_ERROR_WINDOW_LOST; i++) r = vd_present(ctx, s, &d);
        FAILS(r, VD_ERROR_WINDOW_LOST, "vd_present 'view'");
        FAILS(vd_present(ctx, s, &d), VD_ERROR_WINDOW_LOST, "vd_present 'view'");
        OK(vd_wait_idle(ctx));
        vd_swapchain_destroy(ctx, s);
        vd_image_destroy(ctx, image);
        wl_window_close(&w);
        wl_close();
    }
    alarm(0);
}

/* The compositor stops for a while: presents without vsync fail with VD_TIMEOUT, or succeed, but do not hang. */
TEST_EXECUTED(compositors_that_stop) {
    static const int extent[] = { WIDTH, HEIGHT };
    vd_context *ctx = needs_window(f);
    vd_image image = picture(ctx, VD_FORMAT_RGBA8_UNORM, WIDTH, HEIGHT, 4);
    vd_present_desc d = present_desc(image, 0, 0);
    wl_window w = window_new();
    vd_swapchain s = chain_of(ctx, &w, VD_VSYNC_MAILBOX);
    vd_result r = VD_OK;
    OK(vd_present(ctx, s, &d));
    kill(wl.server, SIGSTOP);
    for (int i = 0; i < 10 && !r; i++) r = vd_present(ctx, s, &d);
    kill(wl.server, SIGCONT);
    if (r != VD_TIMEOUT) OK(r);
    OK(vd_present(ctx, s, &d));
    shows(extent, &d, extent, 4);
    vd_swapchain_destroy(ctx, s);
    vd_image_destroy(ctx, image);
    wl_window_close(&w);
    alarm(0);
}

#else
TEST_EXECUTED(presented_images_are_shown) {
    (void)f;
    skip_because("the header of libwayland-client is not installed");
}
#endif

static const struct CMUnitTest cases[] = {
    CASE(presented_images_are_shown),
#ifdef HAS_WAYLAND
    CASE(computed_frames_are_ordered), CASE(resized_windows), CASE(compositors_that_vanish),
    CASE(compositors_that_stop),
#endif
};

MAIN("wayland", cases)
