/* Windows of Windows for tests. Screenshots are taken from the screen, so that they show what a driver presented. */
#ifndef WIN32_H
#define WIN32_H

#ifdef _WIN32
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#include <stdint.h>

/* Dispatches the messages of this thread's windows. */
static void w_events(void) {
    for (MSG message; PeekMessageW(&message, NULL, 0, 0, PM_REMOVE);) DispatchMessageW(&message);
}

static HINSTANCE w_instance(void) { return GetModuleHandleW(NULL); }

/* Registers the class of the windows. Returns NULL, or why no window can be shown. */
static const char *w_open(void) {
    static ATOM registered;
    WNDCLASSW c = { 0, DefWindowProcW, 0, 0, NULL, NULL, NULL, NULL, NULL, L"vkdispatch" };
    c.hInstance = w_instance();
    if (!registered) registered = RegisterClassW(&c);
    if (!registered) return "RegisterClass failed";
    return GetSystemMetrics(SM_CXSCREEN) > 0 && GetSystemMetrics(SM_CYSCREEN) > 0 ? NULL : "there is no screen";
}

static HWND w_window(int width, int height) {
    HWND w = CreateWindowExW(WS_EX_TOPMOST | WS_EX_NOACTIVATE, L"vkdispatch", L"", WS_POPUP, 0, 0, width, height, NULL,
                             NULL, w_instance(), NULL);
    w_events();
    return w;
}

/* Shows or minimises a window that has a swapchain. Without SetWindowPos, Wine draws the empty picture of GDI over that
   of the driver. */
static void w_show(HWND w, int shown) {
    ShowWindow(w, shown ? SW_SHOWNOACTIVATE : SW_MINIMIZE);
    SetWindowPos(w, HWND_TOPMOST, 0, 0, 0, 0, SWP_NOMOVE | SWP_NOSIZE | SWP_NOACTIVATE);
    w_events();
}

static void w_place(HWND w, int x, int y, int width, int height) {
    SetWindowPos(w, HWND_TOPMOST, x, y, width, height, SWP_NOACTIVATE);
    w_events();
}

static void w_destroy(HWND w) {
    DestroyWindow(w);
    w_events();
}

/* Reads the pixels of a window as 0x00RRGGBB, row by row. Returns whether this succeeded. */
static int w_screenshot(HWND w, int width, int height, uint32_t *out) {
    BITMAPINFO info = { { sizeof info.bmiHeader, 0, 0, 1, 32, BI_RGB, 0, 0, 0, 0, 0 }, { { 0, 0, 0, 0 } } };
    POINT corner = { 0, 0 };
    HDC screen = GetDC(NULL), memory = CreateCompatibleDC(screen);
    HBITMAP bitmap = CreateCompatibleBitmap(screen, width, height);
    info.bmiHeader.biWidth = width;
    info.bmiHeader.biHeight = -height; /* the first row is the upper one */
    w_events();
    int done = ClientToScreen(w, &corner) && bitmap;
    if (done) {
        HGDIOBJ before = SelectObject(memory, bitmap);
        done = BitBlt(memory, 0, 0, width, height, screen, corner.x, corner.y, SRCCOPY);
        SelectObject(memory, before);
        done = done && GetDIBits(memory, bitmap, 0, (UINT)height, out, &info, DIB_RGB_COLORS) == height;
    }
    for (int i = 0; i < width * height && done; i++) out[i] &= 0xFFFFFF;
    DeleteObject(bitmap);
    DeleteDC(memory);
    ReleaseDC(NULL, screen);
    return done;
}
#endif

#endif
