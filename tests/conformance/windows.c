/* Swapchains: presents to windows of X11 (of an Xvfb server) or, compiled for Windows, of Windows, and compares
   screenshots. Results of drivers that do not occur here, such as windows without an extent, come from a loader that
   replaces them. */
#define _POSIX_C_SOURCE 200809L
#include "tests/conformance/common.h"
#include "tests/conformance/presents.h"
#include "tests/xserver.h"
#include "tests/win32.h"
#include <vulkan/vulkan_core.h>
#include <vulkan/vulkan_metal.h>
#ifndef _WIN32
typedef void *HANDLE, *HINSTANCE, *HWND, *HMONITOR;
typedef uint32_t DWORD;
typedef const wchar_t *LPCWSTR;
typedef struct SECURITY_ATTRIBUTES SECURITY_ATTRIBUTES;
#endif
#include <vulkan/vulkan_win32.h>
#include <time.h>
#ifdef __has_include
#if __has_include(<xcb/xcb.h>) && defined(HAS_X11)
#include <xcb/xcb.h>
#define HAS_XCB
#endif
#endif

#define REFUSED(ctx, desc, wanted, words) do { \
        vd_swapchain refused_ = vd_swapchain_create(ctx, desc); \
        assert_true(refused_.id == 0); \
        check_failure("vd_swapchain_create", vd_error_result(), wanted, words); \
    } while (0)

TEST(contexts_that_cannot_present_say_so) {
    int nothing = 0;
    vd_swapchain_desc d = chain_desc(&nothing, 1);
    vd_swapchain none = { 0 };
    vd_swapchain_info info;
    vd_present_desc present;
    memset(&present, 0, sizeof present);
    REFUSED(f->ctx, &d, VD_ERROR_UNSUPPORTED, f->backend == VD_BACKEND_VULKAN
            ? "vd_swapchain_create 'view': vd_context_desc.window_system was not set"
            : "vd_swapchain_create 'view': the backend of this context is |, but windows require vulkan");
    REFUSED(f->ctx, NULL, VD_ERROR_INVALID, "desc is NULL");
    FAILS(vd_present(f->ctx, none, &present), VD_ERROR_INVALID, "vd_present: the swapchain handle is 0");
    FAILS(vd_present(f->ctx, none, NULL), VD_ERROR_INVALID, "desc is NULL");
    FAILS(vd_swapchain_query(f->ctx, none, &info), VD_ERROR_INVALID, "vd_swapchain_query: the swapchain handle is 0");
    FAILS(vd_swapchain_query(f->ctx, none, NULL), VD_ERROR_INVALID, "out is NULL");
    vd_swapchain_destroy(f->ctx, none);
    none.id = 77;
    vd_swapchain_destroy(f->ctx, none);
    FAILS(vd_error_result(), VD_ERROR_INVALID, "vd_swapchain_destroy: the swapchain handle is invalid");
}

TEST(descs_that_are_refused) {
    int nothing = 0;
    vd_context_desc context = fixture_desc(f);
    vd_context *none = NULL;
    vd_swapchain_desc good = chain_desc(&nothing, 1), d = good;
    context.window_system = (vd_window_system)6;
    FAILS(vd_context_create(&context, &none), VD_ERROR_INVALID, "desc.window_system is 6, but must be 0 to 5");
    vd_format_info format;
    OK(vd_format_query(f->ctx, 0, VD_FORMAT_R32_F, &format));
    if (!format.usage) skip_because("the device has no images");
    context.window_system = VD_WINDOW_METAL; /* which the loader here does not have: the context works */
    vd_context *ctx = context_with(f, &context);
    REFUSED(ctx, &good, VD_ERROR_UNSUPPORTED, f->backend == VD_BACKEND_VULKAN
            ? "vd_swapchain_create 'view': vd_context_desc.window_system needs the Vulkan extensions VK_KHR_surface and "
              "VK_EXT_metal_surface, but at least one of them is missing" : ", but windows require vulkan");
    if (f->backend != VD_BACKEND_VULKAN) return;
#define WRONG(field, value, words) \
    d = good; \
    d.field = value; \
    REFUSED(ctx, &d, VD_ERROR_INVALID, words)
    WRONG(vsync, (vd_vsync)4, "desc.vsync is 4, but must be 0 to 3");
    WRONG(frames, 9, "desc.frames is 9, but must be 0 to 8");
    WRONG(frames, -1, "desc.frames is -1");
    WRONG(format, VD_FORMATS_END, "desc.format is");
    WRONG(window, 0, "desc.window is 0");
    context.window_system = VD_WINDOW_XLIB;
    ctx = context_with(f, &context);
    WRONG(display, NULL, "desc.display is 0");
}

/* ---- a loader with surfaces of Windows and Metal, which records the handles and creates none ---- */

static struct {
    PFN_vkGetInstanceProcAddr loader;
    PFN_vkEnumerateInstanceExtensionProperties extensions;
    PFN_vkCreateInstance create_instance;
    VkWin32SurfaceCreateInfoKHR win32;
    VkMetalSurfaceCreateInfoEXT metal;
} fake;

static const char *const fake_extensions[] = { "VK_KHR_win32_surface", "VK_EXT_metal_surface" };

static bool is_fake(const char *extension) {
    return !strcmp(extension, fake_extensions[0]) || !strcmp(extension, fake_extensions[1]);
}

/* The library passes the count that it was given. */
static VKAPI_ATTR VkResult VKAPI_CALL fake_list(const char *layer, uint32_t *count, VkExtensionProperties *out) {
    const uint32_t more = layer ? 0 : COUNT(fake_extensions);
    uint32_t real = out ? *count - more : 0;
    VkResult result = fake.extensions(layer, &real, out);
    for (uint32_t i = 0; i < more && out; i++)
        snprintf(out[real + i].extensionName, sizeof out->extensionName, "%s", fake_extensions[i]);
    *count = real + more;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_instance(const VkInstanceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkInstance *out) {
    const char *names[16];
    VkInstanceCreateInfo real = *info;
    real.enabledExtensionCount = 0;
    real.ppEnabledExtensionNames = names;
    for (uint32_t i = 0; i < info->enabledExtensionCount && i < COUNT(names); i++)
        if (!is_fake(info->ppEnabledExtensionNames[i]))
            names[real.enabledExtensionCount++] = info->ppEnabledExtensionNames[i];
    return fake.create_instance(&real, allocator, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_win32(VkInstance instance, const VkWin32SurfaceCreateInfoKHR *info,
                                                 const VkAllocationCallbacks *allocator, VkSurfaceKHR *out) {
    (void)instance, (void)allocator, (void)out;
    fake.win32 = *info;
    return VK_ERROR_INCOMPATIBLE_DRIVER;
}

static VKAPI_ATTR VkResult VKAPI_CALL fake_metal(VkInstance instance, const VkMetalSurfaceCreateInfoEXT *info,
                                                 const VkAllocationCallbacks *allocator, VkSurfaceKHR *out) {
    (void)instance, (void)allocator, (void)out;
    fake.metal = *info;
    return VK_ERROR_INCOMPATIBLE_DRIVER;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL fake_loader(VkInstance instance, const char *name) {
    PFN_vkVoidFunction found = fake.loader(instance, name);
    if (!strcmp(name, "vkCreateWin32SurfaceKHR")) return (PFN_vkVoidFunction)fake_win32;
    if (!strcmp(name, "vkCreateMetalSurfaceEXT")) return (PFN_vkVoidFunction)fake_metal;
    if (!strcmp(name, "vkCreateInstance")) {
        fake.create_instance = (PFN_vkCreateInstance)found;
        return (PFN_vkVoidFunction)fake_instance;
    }
    if (strcmp(name, "vkEnumerateInstanceExtensionProperties")) return found;
    fake.extensions = (PFN_vkEnumerateInstanceExtensionProperties)found;
    return (PFN_vkVoidFunction)fake_list;
}

static vd_result take_loader(const vd_native *native, void *user) {
    *(PFN_vkGetInstanceProcAddr *)user = (PFN_vkGetInstanceProcAddr)native->get_instance_proc_addr;
    return VD_OK;
}

TEST(handles_of_windows_and_metal) {
    vd_context_desc desc = fixture_desc(f);
    int display, window;
    vd_swapchain_desc d = chain_desc(&display, (uintptr_t)&window);
    if (f->backend != VD_BACKEND_VULKAN) skip_because("the backend does not present");
    OK(vd_native_use(f->ctx, 0, 0, take_loader, &fake.loader));
    desc.get_instance_proc_addr = (void (*)(void))fake_loader;
    desc.window_system = VD_WINDOW_WIN32;
    REFUSED(context_with(f, &desc), &d, VD_ERROR_UNSUPPORTED, "vd_swapchain_create 'view': |desc.window is not a window: "
            "vkCreateWin32SurfaceKHR failed: VK_ERROR_INCOMPATIBLE_DRIVER");
    assert_int_equal(fake.win32.sType, VK_STRUCTURE_TYPE_WIN32_SURFACE_CREATE_INFO_KHR);
    assert_true(!fake.win32.pNext && !fake.win32.flags);
    assert_true((void *)fake.win32.hinstance == &display && (void *)fake.win32.hwnd == &window);
    desc.window_system = VD_WINDOW_METAL;
    REFUSED(context_with(f, &desc), &d, VD_ERROR_UNSUPPORTED, "vkCreateMetalSurfaceEXT failed");
    assert_int_equal(fake.metal.sType, VK_STRUCTURE_TYPE_METAL_SURFACE_CREATE_INFO_EXT);
    assert_true(!fake.metal.pNext && !fake.metal.flags && (const void *)fake.metal.pLayer == &window);
}

/* ---- the window system ---- */

typedef struct window_functions {
    vd_window_system system;
    const char *(*open)(void);                  /* returns NULL, or why there are no windows */
    const void *(*display)(void);
    uint64_t (*create)(int width, int height);  /* in the upper left corner of the screen */
    void (*show)(uint64_t w, int shown);        /* or minimises; after a swapchain was created */
    void (*place)(uint64_t w, int x, int y, int width, int height);
    void (*destroy)(uint64_t w);
    int (*screenshot)(uint64_t w, int width, int height, uint32_t *out); /* 0x00RRGGBB */
    bool keeps_destroyed;                       /* presents to destroyed windows may succeed */
} window_functions;

#if defined(_WIN32)
#define HAS_WINDOWS
static HWND hwnd_of(uint64_t w) { return (HWND)(uintptr_t)w; }
static const void *win32_display(void) { return w_instance(); }
static uint64_t win32_create(int width, int height) { return (uintptr_t)w_window(width, height); }
static void win32_show(uint64_t w, int shown) { w_show(hwnd_of(w), shown); }
static void win32_place(uint64_t w, int x, int y, int width, int height) { w_place(hwnd_of(w), x, y, width, height); }
static void win32_destroy(uint64_t w) { w_destroy(hwnd_of(w)); }
static int win32_screenshot(uint64_t w, int width, int height, uint32_t *out) {
    return w_screenshot(hwnd_of(w), width, height, out);
}
static const window_functions windows = { VD_WINDOW_WIN32, w_open, win32_display, win32_create, win32_show, win32_place,
                                          win32_destroy, win32_screenshot, true }; /* Wine */
#elif defined(HAS_X11)
#define HAS_WINDOWS
static const void *x11_display(void) { return x_display; }
static uint64_t x11_create(int width, int height) { return x_window(width, height); }
static void x11_show(uint64_t w, int shown) {
    if (shown) XMapRaised(x_display, w);
    else XUnmapWindow(x_display, w);
    XSync(x_display, False);
}
static void x11_place(uint64_t w, int x, int y, int width, int height) {
    XMoveResizeWindow(x_display, w, x, y, (unsigned)width, (unsigned)height);
    XSync(x_display, False);
}
static void x11_destroy(uint64_t w) {
    XDestroyWindow(x_display, w);
    XSync(x_display, False);
}
static const window_functions windows = { VD_WINDOW_XLIB, x_open, x11_display, x11_create, x11_show, x11_place,
                                          x11_destroy, x_screenshot, false };
#endif

#ifdef HAS_WINDOWS

/* ---- a loader that replaces results of the driver ---- */

static struct {
    int no_extent;                 /* windows are minimised */
    VkResult acquire, present;     /* of the next `count` calls, instead of calling the driver */
    int acquires, presents;
    PFN_vkGetInstanceProcAddr loader;
    PFN_vkGetDeviceProcAddr device_loader;
    PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR capabilities;
    PFN_vkAcquireNextImageKHR acquire_image;
    PFN_vkQueuePresentKHR queue_present;
    PFN_vkDestroySwapchainKHR destroy;
    PFN_vkCreateSwapchainKHR create;
    int chains, most_chains;       /* that exist */
} hook;

static VKAPI_ATTR VkResult VKAPI_CALL hook_capabilities(VkPhysicalDevice device, VkSurfaceKHR surface,
                                                        VkSurfaceCapabilitiesKHR *out) {
    VkResult result = hook.capabilities(device, surface, out);
    if (hook.no_extent) out->currentExtent.width = out->currentExtent.height = 0;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_acquire(VkDevice device, VkSwapchainKHR chain, uint64_t timeout,
                                                   VkSemaphore semaphore, VkFence fence, uint32_t *index) {
    if (hook.acquires > 0 && hook.acquires--) return hook.acquire;
    return hook.acquire_image(device, chain, timeout, semaphore, fence, index);
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_present(VkQueue queue, const VkPresentInfoKHR *info) {
    VkResult result = hook.queue_present(queue, info); /* always, because it waits for the semaphore */
    return hook.presents > 0 && hook.presents-- ? hook.present : result;
}

static VKAPI_ATTR VkResult VKAPI_CALL hook_create(VkDevice device, const VkSwapchainCreateInfoKHR *info,
                                                  const VkAllocationCallbacks *allocator, VkSwapchainKHR *out) {
    hook.chains++;
    if (hook.chains > hook.most_chains) hook.most_chains = hook.chains;
    return hook.create(device, info, allocator, out);
}

static VKAPI_ATTR void VKAPI_CALL hook_destroy(VkDevice device, VkSwapchainKHR chain,
                                               const VkAllocationCallbacks *allocator) {
    hook.chains--;
    hook.destroy(device, chain, allocator);
}

#define HOOK(table_name, function, member, type) \
    if (!strcmp(name, table_name) && found) { hook.member = (type)found; return (PFN_vkVoidFunction)function; }

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL hook_device_loader(VkDevice device, const char *name) {
    PFN_vkVoidFunction found = hook.device_loader(device, name);
    HOOK("vkAcquireNextImageKHR", hook_acquire, acquire_image, PFN_vkAcquireNextImageKHR)
    HOOK("vkQueuePresentKHR", hook_present, queue_present, PFN_vkQueuePresentKHR)
    HOOK("vkCreateSwapchainKHR", hook_create, create, PFN_vkCreateSwapchainKHR)
    HOOK("vkDestroySwapchainKHR", hook_destroy, destroy, PFN_vkDestroySwapchainKHR)
    return found;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL hook_loader(VkInstance instance, const char *name) {
    PFN_vkVoidFunction found = hook.loader(instance, name);
    HOOK("vkGetDeviceProcAddr", hook_device_loader, device_loader, PFN_vkGetDeviceProcAddr)
    HOOK("vkGetPhysicalDeviceSurfaceCapabilitiesKHR", hook_capabilities, capabilities,
         PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR)
    return found;
}

/* ---- helpers ---- */

enum { WIDTH = 64, HEIGHT = 48, MOST = 512 };

/* A context that can present, and whose results can be replaced. */
static vd_context *needs_window(fixture *f) {
    vd_context_desc desc = fixture_desc(f);
    if (f->backend != VD_BACKEND_VULKAN) skip_because("the backend does not present");
    const char *missing = windows.open();
    if (missing) skip_because(missing);
    hook.no_extent = hook.acquires = hook.presents = hook.most_chains = 0;
    OK(vd_native_use(f->ctx, 0, 0, take_loader, &hook.loader));
    desc.get_instance_proc_addr = (void (*)(void))hook_loader;
    desc.window_system = windows.system;
    vd_context *ctx = context_with(f, &desc);
    uint64_t w = windows.create(8, 8);
    vd_swapchain_desc d = chain_desc(windows.display(), w);
    vd_swapchain s = vd_swapchain_create(ctx, &d);
    if (!s.id && vd_error_result() == VD_ERROR_UNSUPPORTED) {
        print_message("# %s\n", vd_error_text());
        skip_because("the device cannot present to Xvfb");
    }
    vd_swapchain_destroy(ctx, s);
    windows.destroy(w);
    return ctx;
}

static vd_swapchain chain_of(vd_context *ctx, uint64_t w) {
    vd_swapchain_desc d = chain_desc(windows.display(), w);
    vd_swapchain s = chain_with(ctx, &d);
    windows.show(w, 1);
    return s;
}

/* Waits until the window shows the present of a picture of this size: drivers present on threads of their own. */
static void shows(uint64_t w, int window_width, int window_height, const vd_present_desc *d, int width, int height,
                  uint32_t seed) {
    static uint32_t pixels[MOST * MOST];
    int wrong = 0, x = 0, y = 0;
    uint32_t wanted = 0;
    struct timespec pause = { 0, 2000000 };
    for (int tries = 0; tries < 2000; tries++) {
        if (!windows.screenshot(w, window_width, window_height, pixels)) fail_msg("no screenshot of the window");
        wrong = 0;
        for (int i = 0; i < window_width * window_height; i++) {
            uint32_t e = expected(d, width, height, seed, i % window_width, i / window_width);
            if (pixels[i] == e || wrong++) continue;
            x = i % window_width;
            y = i / window_width;
            wanted = e;
        }
        if (!wrong) return;
        nanosleep(&pause, NULL);
    }
    fail_msg("%d of %d pixels are wrong, the first at %d, %d: %06x instead of %06x", wrong,
             window_width * window_height, x, y, pixels[y * window_width + x], wanted);
}

/* ---- tests ---- */

TEST_EXECUTED(presented_images_are_shown) {
    static const vd_format formats[] = { VD_FORMAT_RGBA8_UNORM, VD_FORMAT_BGRA8_UNORM };
    static const int places[][6] = { /* x, y, offset and extent of the box */
        { 0, 0, 0, 0, 0, 0 }, { 5, 7, 0, 0, 0, 0 }, { -9, -3, 0, 0, 0, 0 }, { 20, -11, 4, 6, 30, 40 },
        { 3, 2, 10, 5, 1, 1 }, { -WIDTH, 0, 0, 0, 0, 0 }, { WIDTH, HEIGHT, 0, 0, 0, 0 },
        { -1000000000, 2147483647, 0, 0, 0, 0 } };
    vd_context *ctx = needs_window(f);
    uint64_t w = windows.create(WIDTH, HEIGHT);
    vd_swapchain s = chain_of(ctx, w);
    vd_swapchain_info info;
    for (uint32_t k = 0; k < COUNT(formats); k++) {
        vd_image image = picture(ctx, formats[k], WIDTH, HEIGHT, k);
        for (size_t i = 0; i < COUNT(places); i++) {
            vd_present_desc d = present_desc(image, places[i][0], places[i][1]);
            for (int axis = 0; axis < 2; axis++) {
                d.box.offset[axis] = (uint32_t)places[i][2 + axis];
                d.box.extent[axis] = (uint32_t)places[i][4 + axis];
            }
            OK(vd_present(ctx, s, &d));
            shows(w, WIDTH, HEIGHT, &d, WIDTH, HEIGHT, k);
        }
        vd_image_destroy(ctx, image);
    }
    OK(vd_swapchain_query(ctx, s, &info));
    assert_string_equal(info.name, "view");
    assert_int_equal(info.extent[0], WIDTH);
    assert_int_equal(info.extent[1], HEIGHT);
    assert_int_equal(info.format, VD_FORMAT_BGRA8_UNORM);
    assert_false(info.hdr10);
    assert_true(info.images >= 2);
    assert_int_equal(info.presented, COUNT(formats) * COUNT(places));
    vd_swapchain_desc again = chain_desc(windows.display(), w);
    again.name = "second";
    REFUSED(ctx, &again, VD_ERROR_INVALID, "vd_swapchain_create 'second': window |has a swapchain, 'view'");
    vd_swapchain_destroy(ctx, s);
    s = chain_of(ctx, w);
    vd_swapchain_destroy(ctx, s);
    FAILS(vd_swapchain_query(ctx, s, &info), VD_ERROR_INVALID, "the swapchain was destroyed");
    windows.destroy(w);
}

/* Every frame is computed by a kernel after the one before was presented. */
TEST_EXECUTED(computed_frames_are_ordered) {
    vd_context *ctx = needs_window(f);
    vd_kernel paint = kernel_paint(ctx);
    vd_image image = picture(ctx, VD_FORMAT_RGBA8_UNORM, WIDTH, HEIGHT, 0);
    for (int frames = 1; frames <= VD_MAX_FRAMES; frames += 7)
        for (int vsync = VD_VSYNC_ON; vsync <= VD_VSYNC_OFF; vsync++) {
            uint64_t w = windows.create(WIDTH, HEIGHT);
            vd_swapchain_desc desc = chain_desc(windows.display(), w);
            desc.frames = frames;
            desc.vsync = (vd_vsync)vsync;
            vd_swapchain s = chain_with(ctx, &desc);
            windows.show(w, 1);
            vd_present_desc d = present_desc(image, 0, 0);
            for (int i = 0; i <= 20; i++) {
                OK(vd_run2(ctx, paint, WIDTH, HEIGHT, vd_i(image), vd_f32(i == 20 ? 1 : 0.04f * (float)i)));
                OK(vd_present(ctx, s, &d));
            }
            d.x = WIDTH; /* all pixels have the colour of the background */
            shows(w, WIDTH, HEIGHT, &d, WIDTH, HEIGHT, 0);
            vd_swapchain_destroy(ctx, s);
            windows.destroy(w);
        }
    vd_image_destroy(ctx, image);
    vd_kernel_destroy(ctx, paint);
}

static long resident_pages(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages;
}

/* WINDOW_RESIZES=10000 in the environment: as many resizes. */
TEST_EXECUTED(resized_windows) {
    vd_context *ctx = needs_window(f);
    const char *count = getenv("WINDOW_RESIZES");
    int resizes = count ? atoi(count) : 200;
    uint64_t w = windows.create(WIDTH, HEIGHT);
    vd_swapchain s = chain_of(ctx, w);
    vd_image image = picture(ctx, VD_FORMAT_BGRA8_UNORM, 200, 150, 3);
    vd_present_desc d = present_desc(image, 2, 1);
    vd_swapchain_info info;
    long pages = 0, blocks = 0;
    for (int i = 0; i < resizes; i++) {
        int width = 10 + i * 37 % 230, height = 10 + i * 53 % 190;
        windows.place(w, 0, 0, width, height);
        OK(vd_present(ctx, s, &d));
        if (i % 50 < 8) {
            OK(vd_swapchain_query(ctx, s, &info));
            assert_int_equal(info.extent[0], width);
            assert_int_equal(info.extent[1], height);
            assert_int_equal(info.presented, i + 1);
            shows(w, width, height, &d, 200, 150, 3);
        }
        if (i == resizes / 4) {
            pages = resident_pages();
            blocks = f->memory.live;
        }
    }
    OK(vd_wait_idle(ctx));
    if (f->memory.live > blocks + 20) fail_msg("%ld blocks of memory, then %ld", blocks, f->memory.live);
    if (resizes >= 5000 && resident_pages() > pages + 2000) fail_msg("%ld pages, then %ld", pages, resident_pages());
    assert_true(hook.most_chains <= 2); /* this one, and that of needs_window */
    vd_swapchain_destroy(ctx, s);
    assert_int_equal(hook.chains, 0);
    vd_image_destroy(ctx, image);
    windows.destroy(w);
}

TEST_EXECUTED(minimised_and_hidden_windows) {
    vd_context *ctx = needs_window(f);
    uint64_t w = windows.create(WIDTH, HEIGHT);
    vd_image image = picture(ctx, VD_FORMAT_BGRA8_UNORM, WIDTH, HEIGHT, 1);
    vd_present_desc d = present_desc(image, 0, 0);
    vd_swapchain_info info;
    hook.no_extent = 1;
    vd_swapchain s = chain_of(ctx, w);
    for (int i = 0; i < 3; i++) assert_int_equal(vd_present(ctx, s, &d), VD_TIMEOUT);
    OK(vd_swapchain_query(ctx, s, &info));
    assert_int_equal(info.extent[0] + info.extent[1], 0);
    assert_int_equal(info.presented, 0);
    hook.no_extent = 0;
    OK(vd_present(ctx, s, &d));
    shows(w, WIDTH, HEIGHT, &d, WIDTH, HEIGHT, 1);
    windows.show(w, 0);
    for (int i = 0; i < 3; i++) {
        vd_result r = vd_present(ctx, s, &d);
        if (r != VD_TIMEOUT) OK(r);
    }
    windows.show(w, 1);
    d.x = 3;
    OK(vd_present(ctx, s, &d));
    shows(w, WIDTH, HEIGHT, &d, WIDTH, HEIGHT, 1);
    hook.acquires = 1; /* resized to nothing */
    hook.acquire = VK_ERROR_OUT_OF_DATE_KHR;
    hook.no_extent = 1;
    assert_int_equal(vd_present(ctx, s, &d), VD_TIMEOUT);
    hook.no_extent = 0;
    OK(vd_present(ctx, s, &d));
    hook.acquires = 1; /* no image became free */
    hook.acquire = VK_TIMEOUT;
    assert_int_equal(vd_present(ctx, s, &d), VD_TIMEOUT);
    OK(vd_present(ctx, s, &d));
    hook.acquires = 3; /* resized again and again */
    hook.acquire = VK_ERROR_OUT_OF_DATE_KHR;
    OK(vd_present(ctx, s, &d));
    hook.presents = 2;
    hook.present = VK_ERROR_OUT_OF_DATE_KHR;
    OK(vd_present(ctx, s, &d));
    hook.acquires = 1000; /* always */
    assert_int_equal(vd_present(ctx, s, &d), VD_TIMEOUT);
    hook.acquires = 0;
    hook.presents = 1;
    hook.present = VK_SUBOPTIMAL_KHR;
    OK(vd_present(ctx, s, &d));
    OK(vd_present(ctx, s, &d));
    hook.acquires = 1;
    hook.acquire = VK_ERROR_OUT_OF_HOST_MEMORY;
    FAILS(vd_present(ctx, s, &d), VD_ERROR_OUT_OF_MEMORY, "vd_present 'view'|vkAcquireNextImageKHR failed");
    OK(vd_present(ctx, s, &d));
    OK(vd_wait_idle(ctx));
    shows(w, WIDTH, HEIGHT, &d, WIDTH, HEIGHT, 1);
    vd_swapchain_destroy(ctx, s);
    vd_image_destroy(ctx, image);
    windows.destroy(w);
}

/* The window is destroyed before its swapchain, between presents. */
TEST_EXECUTED(windows_that_vanish) {
    vd_context *ctx = needs_window(f);
    vd_image image = picture(ctx, VD_FORMAT_RGBA8_UNORM, WIDTH, HEIGHT, 2);
    vd_present_desc d = present_desc(image, 0, 0);
    for (int presents = 0; presents < 4; presents++) {
        uint64_t w = windows.create(WIDTH, HEIGHT);
        vd_swapchain s = chain_of(ctx, w);
        vd_result r = VD_OK;
        for (int i = 0; i < presents; i++) OK(vd_present(ctx, s, &d));
        windows.destroy(w);
        for (int i = 0; i < 20 && r != VD_ERROR_WINDOW_LOST; i++) r = vd_present(ctx, s, &d);
        if (r || !windows.keeps_destroyed) {
            FAILS(r, VD_ERROR_WINDOW_LOST, "vd_present 'view'");
            FAILS(vd_present(ctx, s, &d), VD_ERROR_WINDOW_LOST, "vd_present 'view'");
        }
        OK(vd_wait_idle(ctx));
        vd_swapchain_destroy(ctx, s);
    }
    uint64_t gone = windows.create(WIDTH, HEIGHT), w = windows.create(WIDTH, HEIGHT);
    windows.destroy(gone);
    vd_swapchain_desc desc = chain_desc(windows.display(), gone);
    assert_true(vd_swapchain_create(ctx, &desc).id == 0);
    if (vd_error_result() != VD_ERROR_WINDOW_LOST)
        FAILS(vd_error_result(), VD_ERROR_UNSUPPORTED, "vd_swapchain_create 'view'|desc.window is not a window");
    vd_swapchain s = chain_of(ctx, w); /* others still work */
    OK(vd_present(ctx, s, &d));
    shows(w, WIDTH, HEIGHT, &d, WIDTH, HEIGHT, 2);
    vd_image_destroy(ctx, image);
    vd_swapchain_destroy(ctx, s);
    windows.destroy(w);
}

TEST_EXECUTED(presents_that_are_refused) {
    vd_context *ctx = needs_window(f);
    uint64_t w = windows.create(WIDTH, HEIGHT);
    vd_swapchain s = chain_of(ctx, w), stale = s;
    vd_image image = picture(ctx, VD_FORMAT_RGBA8_UNORM, WIDTH, HEIGHT, 0);
    vd_present_desc d = present_desc(image, 0, 0);
    vd_image_desc integers, layers;
    memset(&integers, 0, sizeof integers);
    integers.name = "integers";
    integers.format = VD_FORMAT_R32_U;
    integers.extent[0] = integers.extent[1] = 4;
    layers = integers;
    layers.name = "layers";
    layers.format = VD_FORMAT_RGBA8_UNORM;
    layers.dim = VD_DIM_2D_ARRAY;
    layers.layers = 3;
    d.box.image = vd_image_create(ctx, &integers);
    FAILS(vd_present(ctx, s, &d), VD_ERROR_INVALID, "vd_present 'view'|image 'integers' has u32 components, but image 'view' has f32");
    vd_image_destroy(ctx, d.box.image);
    FAILS(vd_present(ctx, s, &d), VD_ERROR_INVALID, "the image was destroyed");
    d.box.image = vd_image_create(ctx, &layers);
    d.box.layers = 2;
    FAILS(vd_present(ctx, s, &d), VD_ERROR_INVALID, "box.layers is 2|only one layer and plane");
    d.box.layers = 0;
    d.box.layer = 2;
    OK(vd_present(ctx, s, &d));
    vd_image_destroy(ctx, d.box.image);
    d = present_desc(image, 0, 0);
    d.box.offset[0] = WIDTH;
    FAILS(vd_present(ctx, s, &d), VD_ERROR_INVALID, "box.offset[0] 64 + extent 0 is outside");
    d = present_desc(image, 0, 0);
    d.box.image.id = s.id;
    FAILS(vd_present(ctx, s, &d), VD_ERROR_INVALID, "expected an image, got a swapchain");
    d = present_desc(image, 0, 0);
    s.id = image.id;
    FAILS(vd_present(ctx, s, &d), VD_ERROR_INVALID, "expected a swapchain, got an image");
    vd_image_destroy(ctx, image);
    vd_swapchain_destroy(ctx, stale);
    FAILS(vd_present(ctx, stale, &d), VD_ERROR_INVALID, "the swapchain was destroyed");
    windows.destroy(w);
}

/* ---- threads: each presents to a window of its own, in one context ---- */

enum { THREADS = 3 };
typedef struct worker { vd_context *ctx; vd_swapchain chain; vd_image image; vd_result result; char text[256]; } worker;

static void *work(void *argument) {
    worker *w = (worker *)argument;
    vd_present_desc d = present_desc(w->image, 0, 0);
    for (int i = 0; i < 60 && !w->result; i++) w->result = vd_present(w->ctx, w->chain, &d);
    snprintf(w->text, sizeof w->text, "%s", vd_error_text());
    return NULL;
}

TEST_EXECUTED(threads_present_to_their_windows) {
    vd_context *ctx = needs_window(f);
    worker workers[THREADS];
    pthread_t threads[THREADS];
    uint64_t w[THREADS];
    memset(workers, 0, sizeof workers);
    for (uint32_t i = 0; i < THREADS; i++) {
        w[i] = windows.create(WIDTH, HEIGHT);
        windows.place(w[i], (int)i * 2 * WIDTH, 0, WIDTH, HEIGHT);
        workers[i].ctx = ctx;
        workers[i].chain = chain_of(ctx, w[i]);
        workers[i].image = picture(ctx, VD_FORMAT_RGBA8_UNORM, WIDTH, HEIGHT, i);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < THREADS; i++) {
        vd_present_desc d = present_desc(workers[i].image, 0, 0);
        if (workers[i].result) fail_msg("%s", workers[i].text);
        shows(w[i], WIDTH, HEIGHT, &d, WIDTH, HEIGHT, i);
        vd_swapchain_destroy(ctx, workers[i].chain);
        vd_image_destroy(ctx, workers[i].image);
        windows.destroy(w[i]);
    }
}

/* The context destroys what the program did not. */
TEST_EXECUTED(contexts_destroy_their_swapchains) {
    vd_context_desc desc = fixture_desc(f);
    vd_context *ctx = NULL;
    needs_window(f);
    desc.window_system = windows.system;
    uint64_t w = windows.create(WIDTH, HEIGHT);
    OK(vd_context_create(&desc, &ctx));
    vd_swapchain s = chain_of(ctx, w);
    vd_present_desc d = present_desc(picture(ctx, VD_FORMAT_RGBA8_UNORM, WIDTH, HEIGHT, 4), 0, 0);
    OK(vd_present(ctx, s, &d));
    vd_context_destroy(ctx);
    OK(vd_context_create(&desc, &ctx));
    s = chain_of(ctx, w); /* the window is free again */
    vd_swapchain_desc again = chain_desc(windows.display(), w);
    vd_swapchain second = vd_swapchain_create(ctx, &again); /* allowed with some drivers */
    vd_swapchain_destroy(ctx, second);
    vd_context_destroy(ctx);
    windows.destroy(w);
}

#ifdef HAS_XCB
TEST_EXECUTED(xcb_windows) {
    vd_context_desc context = fixture_desc(f);
    needs_window(f);
    context.window_system = VD_WINDOW_XCB;
    vd_context *ctx = context_with(f, &context);
    xcb_connection_t *connection = xcb_connect(NULL, NULL);
    xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(connection)).data;
    xcb_window_t w = xcb_generate_id(connection);
    uint32_t override = 1;
    xcb_create_window(connection, XCB_COPY_FROM_PARENT, w, screen->root, 0, 0, WIDTH, HEIGHT, 0,
                      XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual, XCB_CW_OVERRIDE_REDIRECT, &override);
    xcb_map_window(connection, w);
    free(xcb_get_input_focus_reply(connection, xcb_get_input_focus(connection), NULL)); /* waits for the server */
    vd_swapchain_desc desc = chain_desc(connection, w);
    vd_swapchain s = chain_with(ctx, &desc);
    vd_image image = picture(ctx, VD_FORMAT_RGBA8_UNORM, WIDTH, HEIGHT, 5);
    vd_present_desc d = present_desc(image, 0, 0);
    OK(vd_present(ctx, s, &d));
    shows(w, WIDTH, HEIGHT, &d, WIDTH, HEIGHT, 5);
    vd_swapchain_destroy(ctx, s);
    vd_image_destroy(ctx, image);
    xcb_destroy_window(connection, w);
    xcb_disconnect(connection);
}
#endif
#else
TEST_EXECUTED(presented_images_are_shown) {
    (void)f;
    skip_because("the headers of Xlib are not installed");
}
#endif

static const struct CMUnitTest cases[] = {
    CASE(contexts_that_cannot_present_say_so), CASE(descs_that_are_refused), CASE(handles_of_windows_and_metal),
    CASE(presented_images_are_shown),
#ifdef HAS_WINDOWS
    CASE(computed_frames_are_ordered), CASE(resized_windows), CASE(minimised_and_hidden_windows),
    CASE(windows_that_vanish), CASE(presents_that_are_refused), CASE(threads_present_to_their_windows),
    CASE(contexts_destroy_their_swapchains),
#endif
#ifdef HAS_XCB
    CASE(xcb_windows),
#endif
};

MAIN("windows", cases)
