/* Functions of POSIX that tests use and mingw-w64 does not have, and the privileges of the program. */
#ifndef TESTS_SYSTEM_H
#define TESTS_SYSTEM_H

#ifdef _WIN32
#include <stdlib.h>

static inline int setenv(const char *name, const char *value, int overwrite) {
    (void)overwrite;
    return _putenv_s(name, value);
}
static inline int unsetenv(const char *name) { return _putenv_s(name, ""); }

/* Does nothing: who runs the program ends it after a time. */
static inline unsigned alarm(unsigned seconds) { return (void)seconds, 0u; }

__declspec(dllimport) int __stdcall IsUserAnAdmin(void);
static inline int is_privileged(void) { return IsUserAnAdmin(); } /* users of Wine are administrators */
#else
static inline int is_privileged(void) { return 0; }
#endif

#endif
