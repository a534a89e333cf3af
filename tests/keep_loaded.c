/* Linked into programs built with sanitizers: libraries opened at run time stay loaded. The leak check comes after the
   Vulkan loader has unloaded its drivers; what a driver leaked would then be reported without names, and no suppression
   could tell it from our own leaks. */
int dlclose(void *library);
int dlclose(void *library)
{
    (void)library;
    return 0;
}
