/* Windows for tests: starts weston without a display, which draws into memory, connects to it, and reads its output
   back. The compositor ends with the process. Each wait ends after WL_WAIT_MS. The parts of xdg-shell and of weston's
   screenshooter that are used are declared here, because their headers are generated. */
#ifndef WAYLAND_H
#define WAYLAND_H

#ifdef __has_include
#if __has_include(<wayland-client.h>) && defined(__linux__)
#define HAS_WAYLAND
#endif
#endif

#ifdef HAS_WAYLAND
#include <wayland-client.h>
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WL_WIDTH = 320, WL_HEIGHT = 240, WL_WAIT_MS = 20000 }; /* pixels of the output */

/* ---- protocols, version 1: requests and events up to the last that is used ---- */

static const struct wl_interface *wl_any[4]; /* types of arguments: not checked */
static const struct wl_message xdg_base_requests[] = { { "destroy", "", wl_any }, { "create_positioner", "n", wl_any },
    { "get_xdg_surface", "no", wl_any }, { "pong", "u", wl_any } };
static const struct wl_message xdg_base_events[] = { { "ping", "u", wl_any } };
static const struct wl_interface xdg_base_interface = { "xdg_wm_base", 1, 4, xdg_base_requests, 1, xdg_base_events };
static const struct wl_message xdg_surface_requests[] = { { "destroy", "", wl_any }, { "get_toplevel", "n", wl_any },
    { "get_popup", "n?oo", wl_any }, { "set_window_geometry", "iiii", wl_any }, { "ack_configure", "u", wl_any } };
static const struct wl_message xdg_surface_events[] = { { "configure", "u", wl_any } };
static const struct wl_interface xdg_surface_interface = { "xdg_surface", 1, 5, xdg_surface_requests, 1,
                                                           xdg_surface_events };
static const struct wl_message xdg_toplevel_requests[] = { { "destroy", "", wl_any }, { "set_parent", "?o", wl_any },
    { "set_title", "s", wl_any }, { "set_app_id", "s", wl_any }, { "show_window_menu", "ouii", wl_any },
    { "move", "ou", wl_any }, { "resize", "ouu", wl_any }, { "set_max_size", "ii", wl_any },
    { "set_min_size", "ii", wl_any }, { "set_maximized", "", wl_any }, { "unset_maximized", "", wl_any },
    { "set_fullscreen", "?o", wl_any } };
static const struct wl_message xdg_toplevel_events[] = { { "configure", "iia", wl_any }, { "close", "", wl_any } };
static const struct wl_interface xdg_toplevel_interface = { "xdg_toplevel", 1, 12, xdg_toplevel_requests, 2,
                                                            xdg_toplevel_events };
static const struct wl_message shooter_requests[] = { { "shoot", "oo", wl_any } };
static const struct wl_message shooter_events[] = { { "done", "", wl_any } };
static const struct wl_interface shooter_interface = { "weston_screenshooter", 1, 1, shooter_requests, 1,
                                                       shooter_events };

/* ---- the compositor ---- */

typedef void (*wl_callback_function)(void);

static struct {
    pid_t server;
    char folder[64];         /* XDG_RUNTIME_DIR */
    struct wl_display *display;
    struct wl_compositor *compositor;
    struct wl_shm *shm;
    struct wl_output *output;
    struct wl_proxy *base, *shooter; /* shooter: NULL if weston has none */
    bool done;               /* set by the event that is waited for */
} wl;

/* A window: a surface with the role of a toplevel. */
typedef struct wl_window {
    struct wl_surface *surface;
    struct wl_proxy *xdg, *toplevel;
} wl_window;

static void wl_pause(void) {
    struct timespec time = { 0, 5000000 };
    nanosleep(&time, NULL);
}

static int64_t wl_now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Handles events, waiting for them for at most `ms`. Returns false if the connection is lost. */
static bool wl_events(int ms) {
    struct pollfd in = { -1, POLLIN, 0 };
    while (wl_display_prepare_read(wl.display))
        if (wl_display_dispatch_pending(wl.display) < 0) return false;
    wl_display_flush(wl.display);
    in.fd = wl_display_get_fd(wl.display);
    if (poll(&in, 1, ms) > 0) {
        if (wl_display_read_events(wl.display) < 0) return false;
    } else wl_display_cancel_read(wl.display);
    return wl_display_dispatch_pending(wl.display) >= 0;
}

/* Handles events until one has set wl.done. Returns whether it did. */
static bool wl_wait(void) {
    for (int64_t end = wl_now_ms() + WL_WAIT_MS; !wl.done && wl_now_ms() < end;)
        if (!wl_events(100)) return false;
    return wl.done;
}

static void wl_on_sync(void *data, struct wl_callback *callback, uint32_t serial) {
    (void)data, (void)callback, (void)serial;
    wl.done = true;
}

/* Waits until the compositor has executed all requests. */
static bool wl_sync(void) {
    static const struct wl_callback_listener listener = { wl_on_sync };
    struct wl_callback *callback = wl_display_sync(wl.display);
    wl.done = false;
    wl_callback_add_listener(callback, &listener, NULL);
    bool done = wl_wait();
    wl_callback_destroy(callback);
    return done;
}

static void wl_on_ping(void *data, struct wl_proxy *base, uint32_t serial) {
    (void)data;
    wl_proxy_marshal(base, 3, serial); /* pong */
}

static void wl_on_configure(void *data, struct wl_proxy *xdg, uint32_t serial) {
    (void)data;
    wl_proxy_marshal(xdg, 4, serial); /* ack_configure */
    wl.done = true;
}

static void wl_on_resize(void *data, struct wl_proxy *toplevel, int32_t width, int32_t height,
                         struct wl_array *states) {
    (void)data, (void)toplevel, (void)width, (void)height, (void)states; /* the tests choose the sizes */
}

static void wl_on_event(void *data, struct wl_proxy *proxy) {
    (void)data, (void)proxy;
    wl.done = true;
}

static wl_callback_function wl_ping_listener[] = { (wl_callback_function)wl_on_ping };
static wl_callback_function wl_configure_listener[] = { (wl_callback_function)wl_on_configure };
static wl_callback_function wl_toplevel_listener[] = { (wl_callback_function)wl_on_resize,
                                                       (wl_callback_function)wl_on_event };
static wl_callback_function wl_done_listener[] = { (wl_callback_function)wl_on_event };

static void wl_on_global(void *data, struct wl_registry *registry, uint32_t name, const char *interface,
                         uint32_t version) {
    (void)data;
#define WL_BIND(field, type, description, wanted) \
    if (!strcmp(interface, (description)->name) && !wl.field) \
        wl.field = (type *)wl_registry_bind(registry, name, description, version < (wanted) ? version : (wanted));
    WL_BIND(compositor, struct wl_compositor, &wl_compositor_interface, 4)
    WL_BIND(shm, struct wl_shm, &wl_shm_interface, 1)
    WL_BIND(output, struct wl_output, &wl_output_interface, 1)
    WL_BIND(base, struct wl_proxy, &xdg_base_interface, 1)
    WL_BIND(shooter, struct wl_proxy, &shooter_interface, 1)
#undef WL_BIND
}

static void wl_on_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
    (void)data, (void)registry, (void)name;
}

static void wl_remove_folder(void) {
    DIR *folder = wl.folder[0] ? opendir(wl.folder) : NULL;
    for (struct dirent *e; folder && (e = readdir(folder)) != NULL;) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", wl.folder, e->d_name);
        unlink(path);
    }
    if (folder) closedir(folder);
    if (wl.folder[0]) rmdir(wl.folder);
}

static void wl_kill(void) {
    if (wl.server > 0) {
        kill(wl.server, SIGKILL);
        waitpid(wl.server, NULL, 0);
    }
    wl.server = 0;
}

/* Ends the connection and the compositor, so that wl_open can start another one. */
static void wl_close(void) {
    struct wl_proxy *objects[] = { wl.base, wl.shooter, (struct wl_proxy *)wl.compositor, (struct wl_proxy *)wl.shm,
                                   (struct wl_proxy *)wl.output };
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (objects[i]) wl_proxy_destroy(objects[i]);
    if (wl.display) wl_display_disconnect(wl.display);
    wl_kill();
    wl_remove_folder();
    memset(&wl, 0, sizeof wl);
}

static bool wl_write_config(void) {
    char path[100];
    snprintf(path, sizeof path, "%s/weston.ini", wl.folder);
    FILE *f = fopen(path, "w");
    if (!f) return false;
    fputs("[shell]\npanel-position=none\nlocking=false\nanimation=none\nstartup-animation=none\n", f);
    return !fclose(f);
}

/* In the child process: replaces it by weston. */
static void wl_exec(void) {
    char width[24], height[24], config[100];
    snprintf(config, sizeof config, "--config=%s/weston.ini", wl.folder);
    snprintf(width, sizeof width, "--width=%d", WL_WIDTH);
    snprintf(height, sizeof height, "--height=%d", WL_HEIGHT);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("XDG_RUNTIME_DIR", wl.folder, 1);
    unsetenv("WAYLAND_DISPLAY");
    if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout)) _exit(127);
    execlp("weston", "weston", config, "--backend=headless-backend.so", "--use-pixman", width, height,
           "--shell=desktop-shell.so", "--debug", "--socket=test", "--idle-time=0", (char *)NULL);
    _exit(127);
}

static const char *wl_connect(void) {
    static const struct wl_registry_listener listener = { wl_on_global, wl_on_global_remove };
    char path[100];
    int status;
    snprintf(path, sizeof path, "%s/test", wl.folder);
    for (int64_t end = wl_now_ms() + WL_WAIT_MS; !wl.display && wl_now_ms() < end; wl_pause()) {
        if (waitpid(wl.server, &status, WNOHANG) == wl.server) {
            wl.server = 0;
            return WIFEXITED(status) && WEXITSTATUS(status) == 127 ? "weston is not installed" : "weston does not start";
        }
        wl.display = wl_display_connect(path);
    }
    if (!wl.display) return "weston does not answer";
    struct wl_registry *registry = wl_display_get_registry(wl.display);
    wl_registry_add_listener(registry, &listener, NULL);
    bool answered = wl_sync();
    wl_registry_destroy(registry);
    if (!answered || !wl.compositor || !wl.base || !wl.shm || !wl.output) return "weston lacks an interface";
    wl_proxy_add_listener(wl.base, wl_ping_listener, NULL);
    if (wl.shooter) wl_proxy_add_listener(wl.shooter, wl_done_listener, NULL);
    return NULL;
}

/* Starts a compositor and connects to it. Returns NULL, or why this fails. */
static const char *wl_open(void) {
    static bool once;
    if (wl.display) return NULL;
    strcpy(wl.folder, "/tmp/wayland-XXXXXX");
    if (!mkdtemp(wl.folder)) return "mkdtemp() failed";
    if (!wl_write_config()) return "weston.ini cannot be written";
    wl.server = fork();
    if (!wl.server) wl_exec();
    if (!once) atexit(wl_close);
    once = true;
    const char *missing = wl.server < 0 ? "fork() failed" : wl_connect();
    if (missing) wl_close();
    return missing;
}

/* ---- windows ---- */

/* Returns false if the compositor does not answer. */
static bool wl_window_open(wl_window *w) {
    w->surface = wl_compositor_create_surface(wl.compositor);
    w->xdg = wl_proxy_marshal_constructor(wl.base, 2, &xdg_surface_interface, NULL, w->surface);
    wl_proxy_add_listener(w->xdg, wl_configure_listener, NULL);
    w->toplevel = wl_proxy_marshal_constructor(w->xdg, 1, &xdg_toplevel_interface, NULL);
    wl_proxy_add_listener(w->toplevel, wl_toplevel_listener, NULL);
    wl_proxy_marshal(w->toplevel, 11, NULL); /* set_fullscreen: in the middle of the output, which is black elsewhere */
    wl_surface_commit(w->surface);
    wl.done = false;
    return wl_wait(); /* for the first configure event */
}

static void wl_window_close(const wl_window *w) {
    wl_proxy_marshal(w->toplevel, 0);
    wl_proxy_destroy(w->toplevel);
    wl_proxy_marshal(w->xdg, 0);
    wl_proxy_destroy(w->xdg);
    wl_surface_destroy(w->surface);
}

/* Reads the output as 0xXXRRGGBB, row by row. Returns whether this is possible. */
static bool wl_screenshot(uint32_t *out) {
    char path[100];
    const int size = WL_WIDTH * WL_HEIGHT * 4;
    if (!wl.shooter) return false;
    snprintf(path, sizeof path, "%s/shot-XXXXXX", wl.folder);
    int file = mkstemp(path);
    if (file < 0 || ftruncate(file, size)) return false;
    unlink(path);
    struct wl_shm_pool *pool = wl_shm_create_pool(wl.shm, file, size);
    struct wl_buffer *buffer = wl_shm_pool_create_buffer(pool, 0, WL_WIDTH, WL_HEIGHT, WL_WIDTH * 4,
                                                         WL_SHM_FORMAT_XRGB8888);
    wl.done = false;
    wl_proxy_marshal(wl.shooter, 0, wl.output, buffer); /* shoot */
    bool done = wl_wait() && pread(file, out, (size_t)size, 0) == size;
    wl_buffer_destroy(buffer);
    wl_shm_pool_destroy(pool);
    close(file);
    return done;
}
#endif

#endif
