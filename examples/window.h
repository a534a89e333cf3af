/* A window with one image for the examples. Each of them computes the image with kernels, and can also write it to a
   PNG file without a window:
       program --picture FILE [--frames N]
   Compile with -DWINDOW and link -lglfw for windows (Debian: libglfw3-dev); otherwise pictures are the only output.
   Windows need Linux with X11, or Windows. Needs stb_image_write.h (Debian: libstb-dev). */
#ifndef EXAMPLES_WINDOW_H
#define EXAMPLES_WINDOW_H

#include "vkdispatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#ifdef WINDOW
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#ifdef _WIN32
#define WINDOW_SYSTEM VD_WINDOW_WIN32
GLFWAPI void *glfwGetWin32Window(GLFWwindow *window); /* GLFW/glfw3native.h includes the headers of the system */
#else
#define WINDOW_SYSTEM VD_WINDOW_XLIB
GLFWAPI void *glfwGetX11Display(void);
GLFWAPI unsigned long glfwGetX11Window(GLFWwindow *window);
#endif
#else
#define WINDOW_SYSTEM VD_WINDOW_NONE
typedef struct GLFWwindow GLFWwindow;
#endif

typedef struct window {
    vd_context *ctx;
    vd_image image;          /* what is shown */
    int width, height;       /* of the image */
    const char *picture;     /* file to write; NULL: there is a window */
    int frames, frame;       /* frames to show, 0: until the window is closed; frames that were shown */
    float x, y, before_x, before_y; /* the mouse in pixels of the image, now and in the frame before */
    bool pressed;            /* its left button */
    float scrolled;          /* turns of its wheel since the last frame */
    GLFWwindow *handle;
    vd_swapchain chain;
} window;

static void window_fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, vd_error_text());
    exit(1);
}

#ifdef WINDOW
static void window_on_scroll(GLFWwindow *handle, double x, double y) {
    window *w = (window *)glfwGetWindowUserPointer(handle);
    w->scrolled += (float)y;
    (void)x;
}

static void window_create(window *w, const char *title) {
    vd_swapchain_desc desc;
    memset(&desc, 0, sizeof desc);
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    w->handle = glfwCreateWindow(w->width, w->height, title, NULL, NULL);
    if (!w->handle) {
        fprintf(stderr, "GLFW cannot open a window; try --picture FILE\n");
        exit(1);
    }
    glfwSetWindowUserPointer(w->handle, w);
    glfwSetScrollCallback(w->handle, window_on_scroll);
#ifdef _WIN32
    desc.window = (uint64_t)(uintptr_t)glfwGetWin32Window(w->handle);
#else
    desc.display = glfwGetX11Display();
    desc.window = glfwGetX11Window(w->handle);
#endif
    desc.name = title;
    w->chain = vd_swapchain_create(w->ctx, &desc);
    if (!w->chain.id) window_fail("no swapchain");
}

/* Shows the image in the middle of the window. */
static bool window_present(window *w) {
    int width = w->width, height = w->height;
    double x, y;
    vd_present_desc desc;
    memset(&desc, 0, sizeof desc);
    glfwPollEvents();
    glfwGetFramebufferSize(w->handle, &width, &height);
    desc.box.image = w->image;
    desc.x = (width - w->width) / 2;
    desc.y = (height - w->height) / 2;
    vd_result r = vd_present(w->ctx, w->chain, &desc);
    if (r && r != VD_TIMEOUT) window_fail("cannot present"); /* VD_TIMEOUT: minimised */
    glfwGetCursorPos(w->handle, &x, &y);
    w->before_x = w->x;
    w->before_y = w->y;
    w->x = (float)x - (float)desc.x;
    w->y = (float)y - (float)desc.y;
    w->pressed = glfwGetMouseButton(w->handle, GLFW_MOUSE_BUTTON_LEFT) == GLFW_PRESS;
    return !glfwWindowShouldClose(w->handle) && glfwGetKey(w->handle, GLFW_KEY_ESCAPE) != GLFW_PRESS;
}
#endif

static void window_options(window *w, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (i + 1 < argc && !strcmp(argv[i], "--picture")) w->picture = argv[++i];
        else if (i + 1 < argc && !strcmp(argv[i], "--frames") && atoi(argv[i + 1]) > 0) w->frames = atoi(argv[++i]);
        else {
            fprintf(stderr, "usage: %s [--picture FILE] [--frames N]\n", argv[0]);
            exit(2);
        }
    }
}

/* Opens a context, an image and, unless a picture is written, a window. Exits if there is no device. `picture` and
   `frames` are used if the program has no windows. */
static void window_open(window *w, const char *title, int width, int height, const char *picture, int frames, int argc,
                        char **argv) {
    vd_context_desc context;
    vd_image_desc image;
    memset(w, 0, sizeof *w);
    memset(&context, 0, sizeof context);
    memset(&image, 0, sizeof image);
    w->width = width;
    w->height = height;
    window_options(w, argc, argv);
#ifdef WINDOW
    if (!w->picture && !glfwInit()) { fprintf(stderr, "there is no display; try --picture FILE\n"); exit(1); }
#else
    if (!w->picture) w->picture = picture;
#endif
    if (w->picture && !w->frames) w->frames = frames;
    context.backend = VD_BACKEND_VULKAN;
    context.window_system = w->picture ? VD_WINDOW_NONE : WINDOW_SYSTEM;
    if (vd_context_create(&context, &w->ctx)) {
        printf("no Vulkan device: %s\n", vd_error_text());
        exit(77);
    }
    image.name = title;
    image.format = VD_FORMAT_RGBA8_UNORM;
    image.extent[0] = (uint32_t)width;
    image.extent[1] = (uint32_t)height;
    w->image = vd_image_create(w->ctx, &image);
    if (!w->image.id) window_fail("no image");
#ifdef WINDOW
    if (!w->picture) window_create(w, title);
#endif
    (void)picture;
}

static void window_write(const window *w) {
    uint8_t *pixels = (uint8_t *)malloc((size_t)w->width * (size_t)w->height * 4);
    vd_image_transfer transfer;
    memset(&transfer, 0, sizeof transfer);
    transfer.box.image = w->image;
    if (!pixels || vd_image_download(w->ctx, &transfer, pixels)) window_fail("cannot read the image");
    if (!stbi_write_png(w->picture, w->width, w->height, 4, pixels, 4 * w->width)) {
        fprintf(stderr, "cannot write %s\n", w->picture);
        exit(1);
    }
    free(pixels);
    printf("%s: frame %d\n", w->picture, w->frame);
}

/* Shows the image, and reads the mouse. Returns false after the last frame. */
static bool window_show(window *w) {
    w->frame++;
#ifdef WINDOW
    if (!w->picture && !window_present(w)) return false;
#endif
    if (!w->frames || w->frame < w->frames) return true;
    if (w->picture) window_write(w);
    return false;
}

static void window_close(window *w) {
    vd_swapchain_destroy(w->ctx, w->chain);
    vd_context_destroy(w->ctx);
#ifdef WINDOW
    if (w->handle) glfwTerminate();
#endif
}

#endif
