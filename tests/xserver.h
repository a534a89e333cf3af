/* Windows for tests and benchmarks: starts Xvfb, which draws into memory, and reads the pixels back. The server ends
   with the process. */
#ifndef XSERVER_H
#define XSERVER_H

#ifdef __has_include
#if __has_include(<X11/Xlib.h>) && __has_include(<X11/Xutil.h>)
#define HAS_X11
#endif
#endif

#ifdef HAS_X11
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

static Display *x_display;
static pid_t x_server;
static int x_errors; /* of requests, which Xlib would otherwise end the process for */

static int x_on_error(Display *display, XErrorEvent *event) {
    (void)display, (void)event;
    x_errors++;
    return 0;
}

static void x_close(void) {
    if (x_display) XCloseDisplay(x_display);
    x_display = NULL;
    if (x_server > 0) {
        kill(x_server, SIGTERM);
        waitpid(x_server, NULL, 0);
    }
    x_server = 0;
}

/* In the child process: replaces it by Xvfb, which writes the number of its display to `out`. */
static void x_exec(int out) {
    char number[16];
    snprintf(number, sizeof number, "%d", out);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    if (!freopen("/dev/null", "w", stderr)) _exit(127);
    execlp("Xvfb", "Xvfb", "-displayfd", number, "-screen", "0", "1600x1200x24", "-nolisten", "tcp", (char *)NULL);
    _exit(127);
}

/* Opens a display on a server of its own, once for all tests of the process. Returns NULL, or why there is none. */
static const char *x_open(void) {
    static char name[32];
    int ends[2];
    size_t length = 1;
    if (x_display) return NULL;
    if (pipe(ends)) return "pipe() failed";
    x_server = fork();
    if (!x_server) x_exec(ends[1]);
    close(ends[1]);
    name[0] = ':';
    for (char c; length < sizeof name - 1 && read(ends[0], &c, 1) == 1 && c != '\n';) name[length++] = c;
    name[length] = 0;
    close(ends[0]);
    if (x_server < 0 || length == 1) {
        x_close();
        return "Xvfb is not installed";
    }
    XInitThreads();
    XSetErrorHandler(x_on_error);
    x_display = XOpenDisplay(name);
    atexit(x_close);
    setenv("DISPLAY", name, 1);
    return x_display ? NULL : "Xvfb does not answer";
}

static Window x_window(int width, int height) {
    XSetWindowAttributes attributes;
    attributes.override_redirect = True;
    attributes.background_pixel = 0x123456;
    Window w = XCreateWindow(x_display, DefaultRootWindow(x_display), 0, 0, (unsigned)width, (unsigned)height, 0,
                             CopyFromParent, InputOutput, CopyFromParent, CWOverrideRedirect | CWBackPixel,
                             &attributes);
    XMapRaised(x_display, w);
    XSync(x_display, False);
    return w;
}

/* Reads the pixels of a window as 0x00RRGGBB, row by row. Returns whether the window has at least this size. */
static int x_screenshot(Window w, int width, int height, uint32_t *out) {
    XImage *image = XGetImage(x_display, w, 0, 0, (unsigned)width, (unsigned)height, AllPlanes, ZPixmap);
    if (!image) return 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            out[y * width + x] = (uint32_t)(XGetPixel(image, x, y) & 0xFFFFFF);
    XDestroyImage(image);
    return 1;
}
#endif

#endif
