/* Loads three copies of a plugin (the arguments) at the same time, runs each, unloads them, and repeats this once.
   dlclose must really unload them. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int failed(const char *what, const char *path)
{
    const char *why = dlerror();
    printf("%s %s: %s\n", what, path, why ? why : "");
    return 1;
}

static int load_all(int count, char **paths)
{
    void *plugins[3];
    int result = 0, i;
    for (i = 0; i < count; i++) {
        if (!(plugins[i] = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL))) return failed("dlopen", paths[i]);
    }
    for (i = 0; i < count && !result; i++) {
        int (*run)(void);
        void *found = dlsym(plugins[i], "plugin_run");
        memcpy((void *)&run, &found, sizeof run);
        result = run ? run() : failed("dlsym", paths[i]);
    }
    for (i = 0; i < count; i++) {
        if (dlclose(plugins[i])) return failed("dlclose", paths[i]);
        if (dlopen(paths[i], RTLD_NOW | RTLD_NOLOAD)) return failed("still loaded after dlclose:", paths[i]);
    }
    return result;
}

int main(int argc, char **argv)
{
    int first = argc == 4 ? load_all(3, argv + 1) : 1;
    return first ? first : load_all(3, argv + 1);
}
