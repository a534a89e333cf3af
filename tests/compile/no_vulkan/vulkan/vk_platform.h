#error "a Vulkan header was included where none may be"
