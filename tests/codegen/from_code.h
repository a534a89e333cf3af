/* A kernel from code and its reflection, for the programs that test the code itself. */
/* Makes a kernel from code and its reflection, without the glue of vkdispatch_codegen.h. size 0: zero-terminated
   text. */
static inline vd_kernel kernel_from_code(vd_context *ctx, const vc_info *info, vd_code kind, const void *code,
                                         size_t size) {
    static vd_arg_info args[VD_MAX_ARGS];
    static vd_implicit_info hidden[64];
    vd_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    for (int i = 0; i < info->arg_count; i++) {
        const vc_arg_info *a = &info->args[i];
        args[i].name = a->name; args[i].kind = (vd_arg_kind)a->kind; args[i].type = a->type; args[i].access = a->access;
        args[i].location = a->location;
        args[i].size = a->size;
        args[i].align = a->align;
        args[i].may_alias = a->may_alias;
    }
    for (int i = 0; i < info->implicit_count; i++) {
        const vc_implicit_info *h = &info->implicit[i];
        hidden[i].kind = (vd_implicit)h->kind;
        hidden[i].arg = h->arg;
        hidden[i].axis = h->axis;
        hidden[i].offset = h->offset;
    }
    desc.name = info->name; desc.code_kind = kind; desc.code = code; desc.code_size = size;
    if (kind != VD_CODE_SPIRV) desc.entry = info->entry;
    desc.args = args;
    desc.arg_count = info->arg_count;
    desc.implicit = hidden;
    desc.implicit_count = info->implicit_count;
    desc.argument_bytes = info->argument_bytes; desc.shared_bytes = info->shared_bytes; desc.features = info->features;
    memcpy(desc.local_size, info->local_size, sizeof desc.local_size);
    return vd_kernel_create(ctx, &desc);
}
