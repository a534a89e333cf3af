/* vkdispatch.h: run compute kernels through Vulkan, CUDA or OpenCL from one C header.

   Version 0.1.0. MIT licence; the full text is at the end of this file.

   Quick start
       #define VKDISPATCH_IMPLEMENTATION
       #include "vkdispatch.h"

       int main(void) {
           float x[4] = { 1, 2, 3, 4 };
           vd_context *ctx = NULL;
           if (vd_context_create(NULL, &ctx)) return 1;
           vd_buffer_desc desc = {0};
           desc.type = VD_F32; desc.shape[0] = 4; desc.data = x;
           vd_buffer b = vd_buffer_create(ctx, &desc);
           vd_fill(vd_immediate(ctx, 0, 0), b, 0, 8, NULL, 0); // zeros the first 8 bytes
           vd_result r = vd_buffer_read(ctx, b, 0, x, VD_WHOLE);
           vd_context_destroy(ctx);
           return r != VD_OK || x[0] != 0 || x[3] != 4;
       }

   What it does not do
       It does not draw, open windows, exit or start threads, and prints only in debug mode. It has no graphs (lists
       that can be submitted more than once) and cannot bind images yet. Contexts are independent of each other; the
       only other visible state is each thread's error text.

   Rooms
       config          resolves the configuration macros
       platform        compiler and operating system: atomics, time, libraries, files, threads, environment
       log             error text and log messages
       memory          allocator, growable array, sub-allocator
       pool            handles
       objects         the structs that handles refer to
       backend         the interface of a backend, and the table of its operations
       command tape    commands recorded by backends without command buffers
       cache           compiled code in files
       spirv           SPIR-V grammar and decoder
       dummy           the backend without a device
       vulkan api      functions of the Vulkan loader and of devices
       vulkan device   instance, devices, queues
       vulkan memory   memory blocks and buffers
       vulkan kernel   pipelines
       vulkan list     command buffers, barriers, submission
       cuda api        functions of the CUDA driver and of NVRTC
       cuda device     driver, primary context, streams
       cuda memory     device memory, pinned host memory
       cuda kernel     CUDA C, PTX and cubins, compiled and loaded
       cuda list       execution of recorded commands in a stream, timeline
       opencl api      functions and constants of OpenCL
       opencl device   platforms, devices, contexts, queues
       opencl memory   buffer objects, shared virtual memory
       opencl kernel   programs and their cached binaries
       opencl list     execution of recorded commands in a queue, events
       select          choice of backend and device
       reflect         arguments, local size and shared memory of SPIR-V modules
       validate        argument checks
       blob            files of kernels compiled ahead of time
       hazards         which commands must wait for which
       heap            device memory: blocks shared by many buffers
       batch           command lists, staging memory, submission, readback
       output          output of printf and assert in kernels
       public          the functions declared in the public part
       dlpack          buffers to DLPack tensors and back
       end

   Configuration
       Define these macros before the #include that compiles the implementation.
       * VKDISPATCH_IMPLEMENTATION compiles the implementation. Define it in exactly one translation unit. Default: off.
       * VKDISPATCH_STATIC gives every function internal linkage. Define it together with VKDISPATCH_IMPLEMENTATION in
         every translation unit that includes the header. Default: off.
       * VKDISPATCH_NO_VULKAN leaves out the Vulkan backend; the Vulkan headers are then not needed. Default: off.
       * VKDISPATCH_CUDA adds the CUDA backend, which needs no CUDA header. Default: off.
       * VKDISPATCH_OPENCL adds the OpenCL backend, which needs no OpenCL header. Default: off.
       * VKDISPATCH_VOLK is for applications that use volk: the implementation includes volk.h instead of the Vulkan
         headers, and uses volk's vkGetInstanceProcAddr. It calls volkInitialize if the application has not. Default:
         off.

   Linking
       Link with -lpthread and, on older systems, -ldl; on Windows with advapi32, which mingw-w64 links by itself.
       Driver libraries are opened at run time:
         needed for            Linux, BSD      Windows            macOS               if it is missing
         ----------            ----------      -------            -----               ----------------
         the Vulkan backend    libvulkan.so.1  vulkan-1.dll       libvulkan.1.dylib,  the backend is skipped
                                                                  libMoltenVK.dylib
         the CUDA backend      libcuda.so.1    nvcuda.dll         none                the backend is skipped
         CUDA C on that        libnvrtc.so.*   nvrtc64_*_0.dll    none                vd_kernel_create returns
         backend                                                                      VD_ERROR_UNSUPPORTED
         the OpenCL backend    libOpenCL.so.1  OpenCL.dll         OpenCL.framework    the backend is skipped
       Compiling the Vulkan backend needs vulkan/vulkan_core.h (Debian: libvulkan-dev). Without VKDISPATCH_VOLK, the
       implementation neither defines nor references a global symbol of Vulkan: the program may link libvulkan, load
       Vulkan itself, or include the Vulkan headers before or after this one.
       A program that uses volk compiles volk once, with VOLK_IMPLEMENTATION or volk.c. Programs with another loader set
       vd_context_desc.get_instance_proc_addr.

   Platforms
         system                compiler               tested
         ------                --------               ------
         Linux, x86-64         gcc, clang             completely
         Linux, aarch64        gcc                    compiled; unit tests run in an emulator
         Windows, x86-64       gcc of mingw-w64       compiled; unit tests run under Wine
         Windows               MSVC                   no: written, but never compiled
         macOS                 clang                  no: written, but never compiled
       32-bit Windows is not supported. MSVC links advapi32.lib.
       On Windows
       * paths are UTF-8, and libraries without a folder in their names are searched in the folder of the program and in
         System32, not in PATH;
       * a program that was started as administrator counts as privileged (see "Environment variables");
       * mingw-w64 with msvcrt needs -std=c99 or -D__USE_MINGW_ANSI_STDIO=1.

   Environment variables
         variable                values                      effect
         --------                ------                      ------
         VKDISPATCH_BACKEND      vulkan, cuda, opencl,       backend, unless vd_context_desc.backend is set
                                 dummy
         VKDISPATCH_DEVICE       index, or part of a name    device, unless vd_context_desc selects one: its index in
                                                             the backend, from 0 (desc.device is 1 + index)
         VKDISPATCH_DISABLE      for example f64,mapped      features to treat as missing, by their vd_feature_name;
                                                             features that depend on them are missing too
         VKDISPATCH_BUFFERS      address (default), binding  address: if the device supports it, Vulkan kernels receive
                                                             buffers as 64-bit addresses, and OpenCL uses shared virtual
                                                             memory. binding: neither. No effect on CUDA
         VKDISPATCH_DEBUG        1, 0 (default)              1: debug mode, like vd_context_desc.debug; see "Errors"
         VKDISPATCH_COPIES       kernel, driver              how Vulkan copies between buffers with addresses. kernel: a
                                                             kernel copies wherever alignment permits. driver: the
                                                             driver copies. Default: whichever is faster
         VKDISPATCH_LIBCUDA      file name                   library to open instead of the CUDA driver
         VKDISPATCH_NVRTC        file name                   library to open instead of the installed NVRTC
         CUDA_PATH, CUDA_HOME    folder                      where to find NVRTC if the loader does not; except on
                                                             Windows, /usr/local/cuda is tried last
       vd_context_create fails if it uses one of VKDISPATCH_BACKEND, _DEVICE, _DISABLE, _BUFFERS, _COPIES and _DEBUG and
       the value is invalid. Programs with elevated privileges (set-user-ID, set-group-ID, file capabilities; on
       Windows, started as administrator) ignore VKDISPATCH_DEBUG, VKDISPATCH_LIBCUDA, VKDISPATCH_NVRTC, CUDA_PATH and
       CUDA_HOME.

   Tutorial
       1. Open a device. vd_context_create(NULL, &ctx) opens the best device of the first backend that works, in the
          order vulkan, cuda, opencl. The best device is the first of: discrete GPU, integrated GPU, virtual GPU, CPU;
          more memory decides between equals. vd_context_desc selects a backend, and a device by index or name.
       2. Create buffers. vd_buffer_create allocates typed device memory of up to four dimensions. Offsets and sizes are
          in bytes, shapes in elements. vd_buffer_view makes part of a buffer usable as a buffer.
       3. Create kernels. vd_kernel_create accepts SPIR-V from any compiler and reads the arguments from the module. The
          CUDA backend accepts CUDA C, PTX and cubins instead, the OpenCL backend OpenCL C. vkdispatch_codegen.h builds
          kernels from C calls (vd_kernel_build), and tools/vcc compiles those ahead of time (vd_kernel_load).
       4. Dispatch. vd_run(ctx, kernel, 1000, vd_b(x), vd_f32(2)) runs 1000 threads; the arguments are a buffer and a
          value. It records into the immediate list of queue 0, see "Command lists".
       5. Read results. vd_buffer_read waits for the work that writes the buffer, then copies. vd_read_begin copies
          without waiting, and vd_read_ready polls for the data.
       6. Destroy the context. vd_context_destroy waits for all work and destroys every object of the context.

   Terms
       argument block      by-value arguments of a kernel, addresses of its buffers, and implicit arguments; passed as
                           push constants, in a uniform buffer if they are too large for that, or as kernel parameters
       batch               commands recorded into an immediate list since it was last submitted
       command list        commands for one queue, in recording order. Short: list
       device index        index of a device in its context, from 0. Fields of descs hold 1 + index, so that 0 is their
                           default
       event               point on a queue's timeline that can be waited for
       implicit argument   value that the library passes to a kernel by itself, for example the number of threads
       ticket              handle of a readback in flight, or of a watched list
       view                typed, shaped part of a buffer, usable wherever a buffer is

   Command lists
       Immediate lists. Each queue has one list that is always open (vd_immediate). Its commands are collected and
       submitted as one batch when
       * 512 commands or 4 MiB of staged data have been recorded;
       * a call needs the result, for example vd_buffer_read, vd_read_ready, vd_buffer_map, or vd_wait for its event;
       * a list from vd_list_begin is submitted to the same queue, or a batch of another queue depends on this one;
       * vd_flush, vd_wait_idle, vd_submit of the immediate list, or vd_context_destroy is called.
       Lists from vd_list_begin are recorded once and submitted once, with vd_submit.

   Ordering
       One queue. Commands execute as if each began after the previous one had ended. The library tracks which byte
       ranges each command reads and writes, and inserts a barrier only between commands that conflict. A dispatch
       accesses the whole buffer or view that is its argument, so commands on views that do not overlap are independent.
       Between two barriers, accesses to at most 8192 buffers are tracked (a buffer and its views count as one); a full
       barrier precedes a command that would exceed this limit.
       Several queues of a device (vd_context_desc.queues) run concurrently. Commands that access the same data still
       execute in one order: that in which commands of immediate lists are recorded and other lists are submitted
       (vd_submit). To order commands that share no data, pass events in vd_submit_desc.waits.
       Several devices (vd_context_desc.devices). A buffer has a copy on each device; only vd_buffer_send transfers
       data between the copies. A list belongs to one device. vd_submit blocks the calling thread until the events of
       other devices that it waits for are complete.
       Not tracked: memory that a kernel reaches without an argument, for example through an address stored in a buffer,
       and accesses of the host through a mapped pointer.

   Errors
       Return values. Functions that create an object return its handle, with id 0 or NULL on failure; vd_error_result
       then returns the error code. The other functions return a vd_result, whose declaration explains each code.
       Text. vd_error_text describes the last failure on this thread in one sentence: call, object, argument, value and
       limit. A failed call has no effect on later, unrelated calls.
       Lists. The first error of a list from vd_list_begin is kept. Every later call with that list returns it,
       including vd_list_end and vd_submit, which discards the list. Immediate lists do not keep errors.
       Failed submissions. If the driver refuses a submission, vd_submit returns VD_OK and the event still completes.
       The failure is logged, and every wait for that event returns it. If there is no such wait, the next vd_flush or
       vd_wait_idle returns it, once.
       Debug mode (vd_context_desc.debug, or VKDISPATCH_DEBUG=1) makes mistakes visible that a program does not check:
       * Every failed call is logged, under the name of the function that the user called. A failed
         vd_context_create goes to desc.log. Without desc.log, messages go to stderr: also the output of vc_printf
         without desc.print, and failed assertions.
       * If a command of an immediate list fails and its thread calls neither vd_error_text nor vd_error_result, the
         thread's next vd_flush, vd_wait, vd_wait_idle, vd_buffer_read, vd_buffer_read_region or vd_read_ready does its
         work and then returns the failure: "an earlier call failed: ...".
       * Warnings are logged for a kernel that neither writes a buffer nor prints; for threads along an axis that a
         kernel of the builder does not use (vd_kernel_desc.axes); and if a dispatch of an immediate list, a submitted
         list, vd_buffer_read or vd_buffer_read_region reads a buffer that another list writes which has not been
         submitted.
       * The Vulkan validation layer is enabled if it is installed, OpenCL reports errors of its context, and
         vd_context_destroy logs the objects that were not destroyed.
       In all modes, the message about a kernel handle of 0 contains the last failure to create a kernel.
       Lost devices. VD_ERROR_DEVICE_LOST is permanent for the context: destroy it and create another. The text names
       the device that was lost first.
       Not checked: loads and stores of a kernel past the end of a buffer are undefined, as in C; guard them with
       vc_length. A list pointer must not be used after vd_submit or vd_list_discard, because it may belong to a later
       list.

   Memory
       Host memory comes from vd_context_desc.allocator; with Vulkan, so does the memory that the driver needs for
       recorded commands. In the steady state, dispatches and transfers make no host allocation: recordings are reused
       once their submissions are complete.
       Device memory is allocated in blocks of 64 MiB, or of an eighth of vd_device_info.device_memory if that is less.
       Many buffers share a block. A buffer larger than half a block has an allocation of its own, and so has an
       exportable buffer. Empty blocks are freed, except one for each memory type.
       Staging memory. Transfers that the host cannot make directly pass through staging memory, which is allocated in
       blocks of 4 MiB for each queue and direction; a vd_read_begin of more gets one block of its size. An immediate
       list that has 32 MiB in use gets no more blocks: a transfer of at most 4 MiB blocks the calling thread until an
       earlier block is no longer in use. Blocks are kept until vd_context_destroy, except unused ones above 64 MiB.
       If device memory is exhausted and destroyed objects are still in use, vd_buffer_create submits the batches of the
       device, waits for its queues, frees these objects and tries once more.

   Lifetimes
       object                    created by                destroyed by             what happens to work in flight
       ------                    ----------                ------------             ------------------------------
       context                   vd_context_create         vd_context_destroy       batches are submitted, open lists
                                                                                    are discarded, and the call waits
                                                                                    for all submitted work
       buffer                    vd_buffer_create,         vd_buffer_destroy, its   it completes; the handle is invalid
                                 vd_dlpack_import          context                  at once, the memory is freed after
                                                                                    its last use
       view                      vd_buffer_view            vd_buffer_destroy of     as for buffers
                                                           the view or of its
                                                           root buffer
       kernel                    vd_kernel_create,         vd_kernel_destroy, its   as for buffers
                                 vd_kernel_load            context
       list                      vd_list_begin             vd_submit,               after vd_submit it executes;
                                                           vd_list_discard, its     otherwise never
                                                           context
       immediate list            vd_context_create         its context              it is submitted and waited for
       ticket                    vd_read_begin,            vd_read_end, its         it completes; the data pointer is
                                 vd_list_watch             context                  invalid at once
       event                     vd_submit                 nothing: it is a value   not affected
       exported handle           vd_buffer_export          the caller               memory imported from it stays valid
       DLPack tensor             vd_dlpack_export          its deleter              the tensor keeps memory and device,
                                                                                    also after vd_context_destroy
       vd_fft and other plans    vd_fft_create, ...        the caller, also after   see vkdispatch_fft.h
                                                           its context
       A call with a destroyed handle, or with a handle of another context, fails with VD_ERROR_INVALID. The pointer of
       a destroyed context is not checked and must not be used.
       A destroyed object is freed, and the `release` callback of imported memory is called, by the first later call
       that finds its last use complete, whatever the order of destruction. Calls that wait, that create or destroy
       objects, or that submit or discard a list from vd_list_begin look for such objects. A list from vd_list_begin
       keeps the buffers, views and kernels that its commands use until it is submitted or discarded, and no others.

   Threads
       Any function may be called from any thread. Some operations need external synchronisation:
         operation                                                         externally synchronised by
         ---------                                                         --------------------------
         recording into a list from vd_list_begin; its vd_list_end,        that list
         vd_list_watch, vd_list_discard and vd_submit
         vd_context_destroy                                                the context: no other thread is in a call of
                                                                           it, or makes one later
         use of a mapped pointer, or of the data of a ticket               the object: no thread destroys it meanwhile
         opening the first OpenCL context in several copies of this        the process: drivers are opened under a lock,
         implementation (VKDISPATCH_STATIC, plugins)                       and each copy has its own
         everything else, including immediate lists and the other destroy  nothing: may be called concurrently
         functions

   Callbacks
         callback                             called                              may call
         --------                             ------                              --------
         vd_context_desc.print and .log,      at the end of a call, on its        all functions but vd_context_destroy
         vd_buffer_desc.release               thread, holding no lock             of this context
         `use` of vd_native_use,              during the call; a lock may be      nothing with this context or its lists
         vd_record_desc.record                held                                (returns VD_ERROR_INVALID)
         `use` of vd_context_attach           during the call                     all functions but vd_context_destroy
                                                                                  of this context and vd_context_attach
                                                                                  with the same key
         `release` of vd_context_attach       in vd_context_destroy, before       all functions but vd_context_destroy
                                              the context closes                  of this context
         functions of vd_allocator            during any call, from any thread    nothing of this library
         fragments and hooks of               during the call                     all functions but vd_context_destroy
         vkdispatch_fft.h                                                         and those with the plan in use
       print, log and release may run on several threads at once. They do not nest: a callback caused by a callback runs
       after that one has returned. They do not change the thread's error text. In the last print, log and release
       callbacks, which vd_context_destroy makes, calls that use the context return VD_ERROR_INVALID.
       A log message of a context is dropped if that context's log callback caused it, directly or indirectly. Messages
       that wait for print or log may total max(16 * vd_context_desc.print_bytes, 1 MiB); messages beyond that are
       dropped, and a warning in the log counts them.

   printf and assert in kernels
       Kernels with vc_printf or vc_assert append records to a buffer of their queue. The buffer is copied to the host
       after each submission that contains such a kernel.
       * Output. A call that waits for this work (vd_wait, a read, vd_wait_idle, vd_context_destroy) formats the records
         and calls vd_context_desc.print for each, in the order in which they were appended. vd_flush and vd_submit do
         so for work that is already complete.
       * Overflow. Records that do not fit into vd_context_desc.print_bytes are dropped. Their number is logged as a
         warning.
       * Assertions. The first failed assertion of a submission is logged as an error. The next vd_flush or vd_wait_idle
         returns VD_ERROR_ASSERTION, once; vd_wait, reads and dispatches return VD_OK. To detect failed assertions,
         check the result of vd_wait_idle.

   Cache files
       vd_context_desc.cache_directory holds compiled code, which the driver executes, and measurements. These files
       must be as trustworthy as the program: their checksum detects damage, not forgery.
       * A file is used only if it is a regular file, not a symbolic link, owned by the effective user or root, and not
         writable by group or others. Other files are ignored, with a warning in the log.
       * Files are written with mode 0600 under a temporary name and then renamed. Opening a file never blocks.
       * On Windows, owner and access control list of a file must admit only this user, administrators and the system.
         Files are created with such a list. Use a folder in %LOCALAPPDATA%.
       * The mode of the folder is not checked. Users who may write there can remove or replace files, but their files
         are not used.
       * CUDA and OpenCL: one file for each kernel, written when it has been compiled.
       * Vulkan: one file for each device and driver version, with the data of vkGetPipelineCacheData. It is read when
         a device is opened, and written by vd_context_destroy and after every 64 new kernels. A write keeps the
         pipelines that other contexts have added to the file. If the driver returns no pipelines (llvmpipe of Mesa
         22.3), no file is written. Drivers may have caches of their own, which this library does not control.
       A file that is damaged, or belongs to another device or driver, is ignored, with a warning in the log; so are
       failures to write. vd_stats counts files that were used, missing or ignored, and written.

   SPIR-V modules
       Versions 1.0 to 1.6 (1.6 requires Vulkan 1.3), compute entry points. If a module uses something else,
       vd_kernel_create fails with a message that names it.
       entry point      desc.entry selects one of several. The arguments are then the variables that this entry point
                        uses; otherwise, all variables of the module.
       local size       LocalSize, LocalSizeId, or a constant decorated WorkgroupSize; literal constants only.
       buffers          Storage buffers (class StorageBuffer, or Uniform with BufferBlock) in descriptor set 0, bindings
                        0 to 63, one variable per binding. A block that is one run-time array of scalars or vectors
                        without padding has their type. Every other block is VD_BYTES and accepts buffers of any type.
                        length() of a run-time array counts the whole elements in the buffer or view.
       push constants   One block. Scalars, vectors, and column-major matrices without padding are values of their type.
                        Other matrices, structs and arrays are VD_BYTES: pass them in the module's layout, with
                        vd_value(VD_STRUCT(size), pointer). A pointer of class PhysicalStorageBuffer is a buffer.
       access           All accesses of the entry point, also through functions and variables, except those that
                        NonWritable and NonReadable exclude. An address that is computed from integers, or loaded from a
                        buffer, counts as an access to every argument.
       capabilities     Shader, Matrix, and those of the device's features.
       not supported    Images, samplers, uniform blocks; specialisation constants with a SpecId; array lengths that are
                        constant expressions; arrays of descriptors; decoration groups.
       checked          Instructions and their operands against the SPIR-V grammar; definitions and uses of ids; sizes
                        of types; the nesting of functions and blocks. A damaged module never crashes vkdispatch. Its
                        id bound may be 2^18 plus 16 for each word, so that memory is bounded by the module's size.
       not checked      Everything else that a driver relies on. Run spirv-val on modules of unknown origin.

   CUDA
       Parameters. The parameters of a kernel are the argument block, as one struct or one by one.
       vd_arg_info.location gives the offset of each, in C layout; a buffer is an 8-byte pointer. Declare kernels
       extern "C" to keep their names.
       Sizes. local_size is the thread block. shared_bytes is all shared memory of a block: what the code declares with
       a size, plus extern __shared__ memory; at most limits.max_shared_bytes.
       Context. The library uses the device's primary context, which it may share with other CUDA code, and makes it
       current only during a call. An error that corrupts it, for example an invalid address, loses the device for the
       whole process.
       Stream capture. While vd_context_desc.cuda_stream is being captured (cuStreamBeginCapture), work submitted to
       queue 0 becomes part of the caller's graph and counts as complete.
       * Call vd_flush before the capture begins, so that no older work is captured, and vd_flush or vd_submit before it
         ends.
       * These commands can be captured: kernels that do not print, copies, and fills whose value repeats every 1, 2 or
         4 bytes and whose offset and size are multiples of 4.
       * Everything that uses staging memory fails with VD_ERROR_UNSUPPORTED: writes, reads, other fills, buffers
         created with contents or zeros, and kernels that print. So does a submission that has to wait for another
         queue.
       * Buffers and kernels of the graph must outlive it. The caller orders launches of the graph with other work:
         through the stream, or with vd_wait_idle before the launch and a wait for the graph after it.

   OpenCL
       The parameters of a kernel are the buffers in the order of their bindings, then the argument block: as one
       struct, or its values one by one, implicit arguments included, in the order of vd_arg_info.location and
       vd_implicit_info.offset.

   Other APIs
       to use here                                            see
       -----------                                            ---
       CUDA device pointer, host memory, cl_mem               vd_buffer_desc.address, .import
       Vulkan memory as a handle of the operating system      vd_buffer_desc.external
       DLPack tensor                                          vd_dlpack_import
       CUDA stream; OpenCL context, device and queue          vd_context_desc.cuda_stream, .cl_context, .cl_queue
       Vulkan loader                                          vd_context_desc.get_instance_proc_addr

       to use elsewhere                                       see
       ----------------                                       ---
       device address, VkBuffer, cl_mem                       vd_buffer_query
       Vulkan memory as a handle of the operating system      vd_buffer_desc.exportable, vd_buffer_export
       DLPack tensor                                          vd_dlpack_export
       VkDevice, VkQueue, CUstream, cl_command_queue and      vd_native_use
       others
       VkCommandBuffer that another library records into      vd_record_native

       Synchronisation with the other API is the caller's responsibility. Call vd_wait_idle before the other API uses
       the memory, and wait for the other API before this library uses it. For a stream or queue that was passed in,
       vd_flush is enough: it executes in order.

   Versions
       VKDISPATCH_VERSION is major * 10000 + minor * 100 + patch. vd_context_create passes the version that the caller
       was compiled with, and fails if the major version differs. Descs grow at their end; zero stays the default of
       every field. */
#ifndef VKDISPATCH_H
#define VKDISPATCH_H
#define VKDISPATCH_VERSION 100 /* major * 10000 + minor * 100 + patch */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef VKDISPATCH_STATIC
#ifdef __GNUC__
#define VD_API static __attribute__((unused))
#else
#define VD_API static
#endif
#else
#define VD_API extern
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- handles ----
   A handle with id 0 refers to no object. An id consists of slot, generation, object type and context, so that a stale
   handle is detected. */

typedef struct vd_context vd_context;                /* devices, queues and all objects made for them */
typedef struct vd_list vd_list;                      /* command list */
typedef struct vd_buffer { uint64_t id; } vd_buffer; /* buffer or view */
typedef struct vd_kernel { uint64_t id; } vd_kernel;
typedef struct vd_ticket { uint64_t id; } vd_ticket; /* readback in flight, or watched list */
struct DLManagedTensor;                              /* declared in dlpack.h */
struct DLManagedTensorVersioned;                     /* declared in dlpack.h, from DLPack 1.0 on */

/* A point on the timeline of one queue. It is a value: copy it freely, nothing destroys it. {0} is an event that has
   already completed. */
typedef struct vd_event { uint64_t context, value; uint32_t device, queue; } vd_event;

/* ---- enums ---- */

typedef enum vd_result {
    VD_OK = 0,
    VD_TIMEOUT,                    /* not complete within the timeout. Not an error: vd_error_text is unchanged */
    VD_ERROR_INVALID,              /* wrong use: an argument, a handle or the order of calls */
    VD_ERROR_NO_DEVICE,            /* no backend works, or the requested device does not exist */
    VD_ERROR_UNSUPPORTED,          /* valid, but not on this device; the text names the feature or limit */
    VD_ERROR_COMPILE,              /* the code of a kernel is invalid, or the driver's compiler rejects it */
    VD_ERROR_OUT_OF_MEMORY,        /* host memory */
    VD_ERROR_OUT_OF_DEVICE_MEMORY,
    VD_ERROR_DEVICE_LOST,          /* permanent for the context */
    VD_ERROR_IO,                   /* reserved for failures of files; not returned yet */
    VD_ERROR_BACKEND,              /* another failure of a driver call */
    VD_ERROR_ASSERTION             /* a vc_assert in a kernel failed */
} vd_result;

typedef enum vd_backend {
    VD_BACKEND_DEFAULT = 0, /* chosen by the library */
    VD_BACKEND_VULKAN,
    VD_BACKEND_DUMMY,       /* no device: checks arguments and makes transfers, but runs no kernel */
    VD_BACKEND_CUDA,
    VD_BACKEND_OPENCL
} vd_backend;

typedef enum vd_device_type {
    VD_DEVICE_OTHER = 0,
    VD_DEVICE_DISCRETE,     /* GPU with memory of its own */
    VD_DEVICE_INTEGRATED,   /* GPU that shares the host's memory */
    VD_DEVICE_VIRTUAL,      /* GPU of a virtual machine */
    VD_DEVICE_CPU
} vd_device_type;

/* State of a list, see vd_list_get_status. */
typedef enum vd_list_status {
    VD_LIST_STATUS_UNKNOWN = 0, /* no such ticket, or the context cannot be used: its device is lost, or it is being
                                   destroyed */
    VD_LIST_STATUS_OPEN,        /* neither submitted nor discarded */
    VD_LIST_STATUS_SUBMITTED,   /* submitted; commands of an immediate list count as submitted at once */
    VD_LIST_STATUS_DISCARDED    /* discarded, or vd_submit failed */
} vd_list_status;

typedef enum vd_log_level {
    VD_LOG_ERROR = 1,       /* work failed: lost device, refused submission, failed assertion, validation error; debug
                               mode: failed call */
    VD_LOG_WARNING,         /* something was left out: ignored cache file, dropped output, validation warning */
    VD_LOG_INFO             /* choice of backend and device, compiler logs, output of vc_printf without a callback */
} vd_log_level;

/* Element types. A type is a number: kind + 16 * (rows - 1) + 64 * (columns - 1), plus 256 if complex. VD_BYTES is
   untyped and matches every type. VD_BOOL has 4 bytes. Structs and arrays are distinguished by their size only. */
typedef uint32_t vd_type;
#define VD_VEC(scalar, components) ((vd_type)((scalar) + 16u * ((components) - 1u)))
#define VD_MAT(scalar, rows, columns) ((vd_type)((scalar) + 16u * ((rows) - 1u) + 64u * ((columns) - 1u)))
#define VD_COMPLEX(scalar) ((vd_type)((scalar) + 256u))
#define VD_STRUCT(bytes) ((vd_type)(0x80000000u + (bytes))) /* VD_STRUCT(sizeof(particle)); at most 2^31 - 2 bytes */
enum {
    VD_BYTES = 0, VD_BOOL, VD_I8, VD_I16, VD_I32, VD_I64, VD_U8, VD_U16, VD_U32, VD_U64, VD_F16, VD_F32, VD_F64,
    VD_I32X2 = 16 + VD_I32, VD_I32X3 = 32 + VD_I32, VD_I32X4 = 48 + VD_I32,
    VD_U32X2 = 16 + VD_U32, VD_U32X3 = 32 + VD_U32, VD_U32X4 = 48 + VD_U32,
    VD_F32X2 = 16 + VD_F32, VD_F32X3 = 32 + VD_F32, VD_F32X4 = 48 + VD_F32,
    VD_F64X2 = 16 + VD_F64, VD_F64X3 = 32 + VD_F64, VD_F64X4 = 48 + VD_F64,
    VD_F16C = 256 + VD_F16, VD_F32C = 256 + VD_F32, VD_F64C = 256 + VD_F64, /* complex */
    VD_F32X2X2 = 80 + VD_F32, VD_F32X3X3 = 160 + VD_F32, VD_F32X4X4 = 240 + VD_F32,
    VD_F64X2X2 = 80 + VD_F64, VD_F64X3X3 = 160 + VD_F64, VD_F64X4X4 = 240 + VD_F64
};

/* Features of a device that a kernel may need. */
enum {
    VD_FEATURE_F16 = 1 << 0,                 /* f16 arithmetic */
    VD_FEATURE_F64 = 1 << 1,                 /* f64 arithmetic */
    VD_FEATURE_I8 = 1 << 2,                  /* i8 and u8 arithmetic */
    VD_FEATURE_I16 = 1 << 3,                 /* i16 and u16 arithmetic */
    VD_FEATURE_I64 = 1 << 4,                 /* i64 and u64 arithmetic */
    VD_FEATURE_STORAGE_8 = 1 << 5,           /* 8-bit elements in buffers */
    VD_FEATURE_STORAGE_16 = 1 << 6,          /* 16-bit elements in buffers */
    VD_FEATURE_ADDRESS = 1 << 7,             /* buffers by 64-bit address */
    VD_FEATURE_SUBGROUP = 1 << 8,            /* subgroup arithmetic, vote, ballot and shuffles in compute kernels */
    VD_FEATURE_ATOMIC_I64 = 1 << 9,          /* 64-bit integer atomics on buffers and shared memory */
    VD_FEATURE_ATOMIC_F32_ADD = 1 << 10,     /* f32 atomic add on buffers and shared memory, as one instruction */
    VD_FEATURE_FMA = 1 << 11,                /* fma of f32 rounds once */
    VD_FEATURE_TIMESTAMP = 1 << 12,          /* the queue can write timestamps */
    VD_FEATURE_IMAGE = 1 << 13,              /* images in kernels */
    VD_FEATURE_SUBGROUP_TYPES = 1 << 14,     /* subgroup operations on 8-, 16- and 64-bit types */
    VD_FEATURE_SUBGROUP_CLUSTERED = 1 << 15, /* subgroup arithmetic within clusters */
    VD_FEATURE_RECONVERGENCE = 1 << 16,      /* maximal reconvergence after divergent control flow
                                                (VK_KHR_shader_maximal_reconvergence) */
    VD_FEATURE_IMAGE_FORMATS = 1 << 17,      /* every VD_FORMAT_ for storage images */
    VD_FEATURE_IMAGE_READ = 1 << 18,         /* loads from storage images without a declared format */
    VD_FEATURE_IMAGE_WRITE = 1 << 19,        /* stores to storage images without a declared format */
    VD_FEATURE_DOT_4X8 = 1 << 20,            /* dot product of four packed 8-bit integers, as one instruction
                                                (VK_KHR_shader_integer_dot_product) */
    VD_FEATURE_F64_ROUND = 1 << 21,          /* the driver's trunc and round of f64 are exact. Without it, the builder
                                                lowers both to floor */
    VD_FEATURE_SHUFFLE_64 = 1 << 22,         /* the driver compiles every 64-bit subgroup shuffle. Without it, the
                                                builder keeps lane indices in range */
    VD_FEATURE_UNPACK_HALF = 1 << 23,        /* the driver compiles the conversion of a packed f16 to f32. Without it,
                                                the builder uses integer arithmetic */

    /* Features of the runtime; no kernel needs them. */
    VD_FEATURE_MAPPED = 1 << 24,             /* VD_MEMORY_DEVICE is host-visible: transfers need no staging memory */
    VD_FEATURE_CACHED = 1 << 25,             /* there is host-visible memory that the host reads at full speed */
    VD_FEATURE_COHERENT = 1 << 26,           /* that memory is coherent: buffers may stay mapped while the device uses
                                                them (vd_buffer_info.persistent) */
    VD_FEATURE_QUEUES = 1 << 27,             /* several hardware queues. Without it, the queues of
                                                vd_context_desc.queues share one */
    VD_FEATURE_SHARING = 1 << 28             /* external memory: import (vd_import, vd_external) or export
                                                (exportable) */
};

/* Language of a kernel's code, and the backend that accepts it. The dummy backend accepts all of them. */
typedef enum vd_code {
    VD_CODE_DEFAULT = 0,    /* SPIR-V if the code begins with its magic number, else the backend's first language */
    VD_CODE_SPIRV,          /* vulkan */
    VD_CODE_CUDA,           /* cuda: CUDA C, compiled by NVRTC */
    VD_CODE_PTX,            /* cuda */
    VD_CODE_CUBIN,          /* cuda */
    VD_CODE_OPENCL          /* opencl: OpenCL C */
} vd_code;

/* How a kernel receives an argument. */
typedef enum vd_arg_kind {
    VD_ARG_NONE = 0,
    VD_ARG_BINDING,         /* buffer, by binding number */
    VD_ARG_ADDRESS,         /* buffer, by its address in the argument block */
    VD_ARG_VALUE,           /* value in the argument block */
    VD_ARG_IMAGE            /* image; cannot be bound yet */
} vd_arg_kind;

/* Dimensionality of an image. */
typedef enum vd_dim {
    VD_DIM_DEFAULT = 0, VD_DIM_1D, VD_DIM_2D, VD_DIM_3D, VD_DIM_CUBE, VD_DIM_1D_ARRAY, VD_DIM_2D_ARRAY,
    VD_DIM_BUFFER           /* texel buffer */
} vd_dim;

/* Format of a storage image, numbered as in SPIR-V. In kernels _F, _UNORM and _SNORM are f32, _I is i32, _U is u32. */
typedef enum vd_format {
    VD_FORMAT_NONE = 0,
    VD_FORMAT_RGBA32_F, VD_FORMAT_RGBA16_F, VD_FORMAT_R32_F, VD_FORMAT_RGBA8_UNORM, VD_FORMAT_RGBA8_SNORM,
    VD_FORMAT_RG32_F, VD_FORMAT_RG16_F, VD_FORMAT_R11G11B10_F, VD_FORMAT_R16_F, VD_FORMAT_RGBA16_UNORM,
    VD_FORMAT_RGB10A2_UNORM, VD_FORMAT_RG16_UNORM, VD_FORMAT_RG8_UNORM, VD_FORMAT_R16_UNORM, VD_FORMAT_R8_UNORM,
    VD_FORMAT_RGBA16_SNORM, VD_FORMAT_RG16_SNORM, VD_FORMAT_RG8_SNORM, VD_FORMAT_R16_SNORM, VD_FORMAT_R8_SNORM,
    VD_FORMAT_RGBA32_I, VD_FORMAT_RGBA16_I, VD_FORMAT_RGBA8_I, VD_FORMAT_R32_I, VD_FORMAT_RG32_I, VD_FORMAT_RG16_I,
    VD_FORMAT_RG8_I, VD_FORMAT_R16_I, VD_FORMAT_R8_I, VD_FORMAT_RGBA32_U, VD_FORMAT_RGBA16_U, VD_FORMAT_RGBA8_U,
    VD_FORMAT_R32_U, VD_FORMAT_RGB10A2_U, VD_FORMAT_RG32_U, VD_FORMAT_RG16_U, VD_FORMAT_RG8_U, VD_FORMAT_R16_U,
    VD_FORMAT_R8_U
} vd_format;

enum { VD_READ = 1, VD_WRITE = 2, VD_READ_WRITE = 3 }; /* access to a buffer */

/* Implicit arguments: u32 values that the library puts into the argument block by itself. `arg` and `axis` are members
   of vd_implicit_info. */
typedef enum vd_implicit {
    VD_IMPLICIT_NONE = 0,
    VD_IMPLICIT_THREADS,  /* threads of the dispatch along `axis`, as requested */
    VD_IMPLICIT_GROUPS,   /* work-groups of the whole dispatch along `axis`, before it is split */
    VD_IMPLICIT_GROUP_BASE, /* first work-group along `axis` of this part of a split dispatch */
    VD_IMPLICIT_LENGTH,   /* elements of buffer `arg`, at most 2^32 - 1 */
    VD_IMPLICIT_SHAPE,    /* extent of buffer `arg` along `axis` */
    VD_IMPLICIT_OUTPUT    /* number of the kernel's first format. `arg` is the last argument, a buffer of u32 for the
                             output of printf and assert, which vd_dispatch passes by itself */
} vd_implicit;

#define VD_WHOLE UINT64_MAX   /* size: to the end of the buffer */
#define VD_FOREVER UINT64_MAX /* timeout: wait without limit */
#define VD_MAX_ARGUMENT_BYTES 1024 /* maximum size of an argument block in bytes, implicit arguments included */
#define VD_MAX_ARGS 64        /* maximum number of arguments of a kernel */
#define VD_MAX_QUEUES 4       /* maximum number of queues of a device */
#define VD_MAX_DEVICES 16     /* maximum number of devices of a context */
#define VD_QUEUE_ANY (-1)     /* the queue with the least work; for vd_immediate, vd_list_begin and vd_native_use */

/* ---- descs ----
   The caller fills these structs in. Zero is the default of every field. A desc is read only during the call, and
   strings are copied. In C++, begin with `= {}`: `= {0}` is C only if the first member is an enum. */

/* Host memory allocator: allocate, reallocate and release, or none of them (default: malloc, realloc and free). The
   functions may be called from any thread, several at once, and must call nothing of this library. allocate and
   reallocate return NULL if there is no memory. The allocator must work until vd_context_destroy returns, and until
   every DLPack tensor of the context was deleted. */
typedef struct vd_allocator {
    void *(*allocate)(void *user, size_t size);
    void *(*reallocate)(void *user, void *block, size_t size); /* block is never NULL */
    void (*release)(void *user, void *block);
    void *user;                     /* passed to the functions */
} vd_allocator;

/* Limits of a device. */
typedef struct vd_limits {
    uint32_t max_groups[3];         /* work-groups of one dispatch along each axis in hardware; see vd_dispatch for
                                       larger ones */
    uint32_t max_local_size[3];     /* invocations of a work-group along each axis */
    uint32_t max_local_invocations; /* invocations of a work-group */
    uint32_t max_shared_bytes;      /* shared memory of a work-group in bytes */
    uint32_t max_push_bytes;        /* push constants or kernel parameters in bytes. Vulkan passes a larger argument
                                       block in a uniform buffer if it consists of 32-bit integers, as the builder's
                                       do */
    uint32_t max_bindings;          /* storage buffers of a kernel that are passed as bindings */
    uint32_t binding_alignment;     /* bytes; required alignment of a view that is passed as a binding */
    uint32_t subgroup_size;         /* usual size in invocations */
    uint32_t min_subgroup_size, max_subgroup_size; /* range of sizes */
    uint64_t max_binding_bytes;     /* bytes of a buffer that is passed as a binding */
    uint64_t max_buffer_bytes;      /* bytes of a buffer */
    uint64_t max_private_bytes;     /* private memory of all invocations of a work-group together, in bytes, with the
                                       values that they keep across barriers. 0: no known limit */
} vd_limits;

/* How a device executes kernels. Choose between algorithms by these facts, not by the backend or the type of the
   device. The backend sets them: from the API if it reports them, otherwise from what is known about the driver.
   VD_BACKEND_DUMMY copies them, except `executes`, from vd_context_desc.dummy; default: those of a desktop GPU. */
typedef struct vd_facts {
    vd_code code;                   /* what vd_kernel_build compiles kernels to. Dummy, 0: VD_CODE_SPIRV */
    bool executes;                  /* kernels run. false on VD_BACKEND_DUMMY only */
    bool forward_progress;          /* a work-group may wait in a loop for another one that has started: the other one
                                       keeps running, and the loop hardly slows it down. Set for discrete and integrated
                                       GPUs, except those of Apple, Arm, Imagination and Qualcomm */
    bool ordered_stores;            /* other work-groups observe the stores of an invocation in program order, even
                                       without fences. Set for CPUs of the x86 family */
    bool groups_as_loops;           /* one core of the host executes a work-group. Between two barriers it loops over
                                       the invocations, several of them in one vector register. Barriers are expensive,
                                       small work-groups suffice, and shared and private memory are cached memory. Set
                                       for CPUs */
    bool lane_access;               /* loads and stores are executed one invocation and one component after the other.
                                       A u64 costs half as much as an f32x2, and a subgroup shuffle by a constant costs
                                       less than shared memory. Set for CPUs on Vulkan */
    uint32_t concurrent_groups;     /* number of work-groups that fills the device: 4 for each multiprocessor or core.
                                       528, that of a large GPU, if the API does not report their number; dummy: if it
                                       is 0 */
    uint32_t max_loop_iterations;   /* the driver terminates a loop after this number of iterations, counted over all
                                       loops of an invocation. 0: no limit. Set for llvmpipe */
} vd_facts;

/* What a device is; filled in by the library, except as a description of the device for VD_BACKEND_DUMMY. */
typedef struct vd_device_info {
    vd_backend backend;
    int index;                      /* in its backend, from 0 */
    char name[256];
    char driver[256];               /* name and version of the driver; may be empty */
    uint32_t vendor_id, device_id;  /* PCI; 0: not known */
    uint32_t api_version[3];        /* major, minor, patch of the backend's API */
    uint32_t driver_version;        /* in the driver's encoding; 0: not known */
    vd_device_type type;
    uint8_t uuid[16];               /* zeros: not known */
    uint64_t device_memory;         /* bytes of the largest device-local heap */
    uint64_t host_memory;           /* bytes of the largest heap in host memory. 0: not known, or all memory is
                                       shared */
    uint64_t device_budget;         /* bytes of device_memory that this process can still allocate, as estimated by the
                                       driver. 0: not known */
    bool shared_memory;             /* host and device share one memory */
    uint64_t features;              /* VD_FEATURE_ bits */
    double timestamp_ns;            /* nanoseconds of a timestamp tick. 0: no timestamps */
    vd_limits limits;
    vd_facts facts;
} vd_device_info;

typedef struct vd_context_desc {
    vd_backend backend;             /* default: VKDISPATCH_BACKEND, else the first backend that works */
    int device;                     /* 1 + index of the device in its backend. 0: by device_name, else
                                       VKDISPATCH_DEVICE, else the best device */
    const char *device_name;        /* part of the device's name; upper and lower case are equal */
    bool debug;                     /* debug mode, see "Errors". Default: VKDISPATCH_DEBUG */
    uint64_t disable;               /* VD_FEATURE_ bits to treat as missing, in addition to VKDISPATCH_DISABLE */
    void (*log)(void *user, vd_log_level level, const char *message); /* see "Callbacks". Default: no log,
                                       in debug mode stderr */
    void *log_user;                 /* passed to log */
    vd_allocator allocator;         /* default: malloc, realloc and free */
    const vd_device_info *dummy;    /* VD_BACKEND_DUMMY: the device to imitate; limits that are 0 get usual values.
                                       Default: a desktop GPU */
    const char *cache_directory;    /* existing folder for compiled kernels and measurements. Programs may share it; see
                                       "Cache files". Default: nothing is kept */
    void *cuda_stream;              /* VD_BACKEND_CUDA: CUstream of the device's primary context, to be used as queue 0.
                                       The caller keeps ownership; it must outlive the context and may be captured. The
                                       caller's work in it is ordered with submitted work (vd_flush) */
    int queues;                     /* queues of each device, 1 to VD_MAX_QUEUES. Default: 1 */
    const int *devices;             /* several devices instead of device and device_name: 1 + index of each in its
                                       backend. An index may occur twice */
    int device_count;               /* length of devices, at most VD_MAX_DEVICES. Default: one device */
    void *cl_context, *cl_device;   /* VD_BACKEND_OPENCL: cl_context of the caller and one of its cl_device_id, instead
                                       of device. The library retains the context until vd_context_destroy */
    void *cl_queue;                 /* with cl_context: an in-order cl_command_queue of it, to be used as queue 0 and
                                       also retained. The caller's work in it is ordered with submitted work
                                       (vd_flush) */
    /* Receives the output of vc_printf: one call for each record, with the kernel's name, the global id of the
       invocation and the formatted text. See "Callbacks". Default: log, as VD_LOG_INFO, one message for each record. */
    void (*print)(void *user, const char *kernel, const uint32_t id[3], const char *text);
    void *print_user;               /* passed to print */
    uint64_t print_bytes;           /* bytes for the records of one submission, for each queue; at most 1 GiB. Default:
                                       1 MiB */
    void (*get_instance_proc_addr)(void); /* VD_BACKEND_VULKAN: PFN_vkGetInstanceProcAddr of the caller's loader, valid
                                             until vd_context_destroy. Default: volk's with VKDISPATCH_VOLK, else
                                             the loader of the system */
} vd_context_desc;

/* Usage of a buffer's memory. Kernels and transfers can access every buffer. Several usages may share one type of
   memory, for example on integrated GPUs. If kernels cannot access host-visible memory, the buffer gets device memory
   instead: check vd_buffer_info.mapped.
       value                host access             use
       VD_MEMORY_DEVICE     usually none            data of kernels
       VD_MEMORY_UPLOAD     sequential writes       host to device, written once
       VD_MEMORY_READBACK   reads at full speed     device to host
       VD_MEMORY_SHARED     reads and writes        small data that both sides change */
typedef enum vd_memory {
    VD_MEMORY_DEVICE = 0,
    VD_MEMORY_UPLOAD,
    VD_MEMORY_READBACK,
    VD_MEMORY_SHARED
} vd_memory;

/* Meaning of vd_buffer_desc.address. */
typedef enum vd_import {
    VD_IMPORT_ADDRESS = 0,          /* device address; cuda, dummy */
    VD_IMPORT_HOST,                 /* host pointer that the device uses in place: vulkan with
                                       VK_EXT_external_memory_host, opencl if memory is shared, dummy. The
                                       device's writes are visible there after vd_buffer_map if vd_buffer_info.mapped is
                                       set (not on opencl: use vd_buffer_read), and when `release` is called */
    VD_IMPORT_CL_MEM                /* cl_mem buffer of the context's cl_context; opencl. The library holds a
                                       reference */
} vd_import;

/* Device memory as a handle of the operating system, for another API or process on the same device. See
   vd_buffer_export. */
typedef struct vd_external {
    int64_t handle;                 /* file descriptor, or NT handle on Windows. The caller owns it and closes it
                                       (close, CloseHandle): an import uses a duplicate */
    uint64_t size;                  /* bytes of the whole allocation */
    uint64_t offset;                /* bytes; start of the buffer in the allocation */
    uint8_t uuid[16];               /* of the device, must be equal on both sides */
    uint32_t memory_type;           /* index of the Vulkan memory type; only Vulkan needs it */
} vd_external;

typedef struct vd_buffer_desc {
    const char *name;               /* for messages. Default: none */
    vd_type type;                   /* of an element. Default: VD_BYTES */
    uint64_t shape[4];              /* elements along each axis, the last axis contiguous; trailing zeros mean 1. Bytes
                                       if type is VD_BYTES. shape[0] is required */
    const void *data;               /* initial contents of the whole buffer, copied during the call. Default: zeros */
    vd_memory memory;               /* default: VD_MEMORY_DEVICE */
    uint64_t address;               /* memory of the caller to use instead of an allocation, see `import`. Addresses and
                                       pointers must be multiples of 16. The contents are kept, so data must be NULL */
    void (*release)(void *user, uint64_t address); /* called once, when the memory at address is no longer in use; not
                                                      called if vd_buffer_create fails. See "Callbacks" */
    void *release_user;             /* passed to release */
    uint32_t devices;               /* bit i: the buffer has a copy on device i of the context. Imported and exportable
                                       buffers have exactly one. Default: all devices */
    vd_import import;               /* what address is. Default: a device address */
    uint64_t address_offset;        /* bytes from address to the start of the buffer */
    const vd_external *external;    /* instead of address: memory exported by Vulkan on the same device, used in place;
                                       cuda, and vulkan with VK_KHR_external_memory_fd (on Windows _win32) */
    bool exportable;                /* the memory can be exported: by vd_buffer_export on vulkan with
                                       VK_KHR_external_memory_fd (on Windows _win32); as a cl_mem
                                       (vd_buffer_info.native) on opencl */
} vd_buffer_desc;

typedef struct vd_view_desc {
    const char *name;               /* for messages. Default: the buffer's */
    vd_buffer buffer;               /* buffer or view */
    uint64_t offset;                /* bytes from the start of `buffer`. To be a kernel argument, a view must start at a
                                       multiple of vd_arg_info.align, and for bindings of limits.binding_alignment */
    vd_type type;                   /* of an element. Default: VD_BYTES */
    uint64_t shape[4];              /* elements along each axis, trailing zeros mean 1. All zero: to the end of
                                       `buffer` */
} vd_view_desc;

/* Rows of equal length in a buffer and in host memory. */
typedef struct vd_region_desc {
    vd_buffer buffer;
    uint64_t offset;                /* bytes; start of the first row in the buffer */
    uint64_t row_bytes;             /* bytes of a row. 0 or VD_WHOLE, with one row: to the end of the buffer */
    uint64_t rows;                  /* default: 1 */
    uint64_t pitch;                 /* bytes from row to row in the buffer. Default: row_bytes */
    uint64_t host_pitch;            /* bytes from row to row in host memory. Default: row_bytes */
    int device;                     /* 1 + device index. Default: writes go to every device of the buffer, reads come
                                       from the first; in a list, the list's device */
} vd_region_desc;

/* Rows of equal length in two buffers. */
typedef struct vd_copy_desc {
    vd_buffer to, from;
    uint64_t to_offset, from_offset; /* bytes; start of the first row */
    uint64_t row_bytes;             /* bytes of a row. 0 or VD_WHOLE, with one row: to the end of from */
    uint64_t rows;                  /* default: 1 */
    uint64_t to_pitch, from_pitch;  /* bytes from row to row. Default: row_bytes */
} vd_copy_desc;

/* One argument of a kernel. */
typedef struct vd_arg_info {
    const char *name;               /* for messages. Default: "" */
    vd_arg_kind kind;               /* required */
    vd_type type;                   /* of the value, or of one element of the buffer. Default: VD_BYTES, any type */
    uint32_t access;                /* buffers: VD_READ, VD_WRITE or both. Default: unused, but ordered like VD_READ */
    uint32_t location;              /* binding number in set 0; else offset in the argument block in bytes */
    uint32_t size;                  /* bytes in the argument block: 8 for addresses, the size of the type for values. 0
                                       for bindings */
    uint32_t align;                 /* required alignment of a buffer's start in bytes, a power of two. Default: the
                                       size of a scalar of its type, 4 if it has none */
    bool may_alias;                 /* the buffer may overlap other arguments although one of them is written */
    bool sampled;                   /* images: with a sampler (except VD_DIM_BUFFER). Default: storage image */
    vd_dim dim;                     /* images */
    vd_format format;               /* storage images */
} vd_arg_info;

/* One implicit argument of a kernel. */
typedef struct vd_implicit_info {
    vd_implicit kind;               /* required */
    uint32_t arg;                   /* index of the argument that it describes */
    uint32_t axis;                  /* 0 to 2; VD_IMPLICIT_SHAPE: 0 to 3 */
    uint32_t offset;                /* offset in the argument block in bytes, a multiple of 4 */
} vd_implicit_info;

typedef struct vd_kernel_desc {
    const char *name;               /* for messages. Default: "" */
    vd_code code_kind;              /* default: see VD_CODE_DEFAULT */
    const void *code;               /* required. SPIR-V: 32-bit words in either byte order */
    size_t code_size;               /* bytes. 0: text that ends with a zero */
    const char *entry;              /* entry point. Default: the only one */
    const vd_arg_info *args;        /* arguments in the order of vd_dispatch_desc.args. Default: read from a SPIR-V
                                       module. Other code needs args, argument_bytes and local_size */
    int arg_count;                  /* length of args, at most VD_MAX_ARGS */
    const vd_implicit_info *implicit; /* implicit arguments. Default: none */
    int implicit_count;             /* length of implicit */
    uint32_t argument_bytes;        /* size of the argument block in bytes, implicit arguments included; a multiple of
                                       4, at most VD_MAX_ARGUMENT_BYTES. Only used with args */
    uint32_t local_size[3];         /* invocations of a work-group along each axis; trailing zeros mean 1. Default: read
                                       from a SPIR-V module */
    uint32_t shared_bytes;          /* shared memory of a work-group in bytes. Default: read from a SPIR-V module, else
                                       0 */
    uint64_t features;              /* VD_FEATURE_ bits that the kernel needs, in addition to the capabilities that a
                                       SPIR-V module declares */
    const char *const *formats;     /* formats of vc_printf and vc_assert, as in vc_info; required with
                                       VD_IMPLICIT_OUTPUT */
    int format_count;               /* length of formats, at most 1024 */
    uint32_t axes;                  /* bit i: invocations that differ in their id along axis i do different work. Debug
                                       mode warns of dispatches with threads along other axes. Default: not known */
    uint32_t threads[3];            /* launch size of dispatches whose threads[0] and groups are 0, for example
                                       vd_run(ctx, kernel, 0, ...); trailing zeros mean 1. Default: none, they fail */
    int threads_arg;                /* instead: 1 + index of a buffer argument, whose length in elements is the launch
                                       size */
} vd_kernel_desc;

typedef enum vd_list_kind { VD_LIST_ONCE = 0 } vd_list_kind; /* recorded once, submitted once */

typedef struct vd_list_desc {
    vd_list_kind kind;              /* default: VD_LIST_ONCE */
    int device;                     /* 1 + device index. Default: device 0 */
    int queue;                      /* index of a queue of the device, or VD_QUEUE_ANY. Default: 0 */
    const char *name;               /* for messages. Default: none */
} vd_list_desc;

/* One argument of a dispatch. Use vd_b, vd_f32, vd_value and so on. */
typedef struct vd_arg {
    vd_arg_kind kind;               /* VD_ARG_BINDING for any buffer, VD_ARG_VALUE for any value */
    vd_type type;                   /* of a value. VD_BYTES matches any type */
    uint64_t bits;                  /* id of a buffer; or the value, if `from` is NULL and it has at most 8 bytes */
    const void *from;               /* value in host memory, read during the call */
} vd_arg;

typedef struct vd_dispatch_desc {
    vd_kernel kernel;
    uint64_t threads[3];            /* threads along each axis, each below 2^32; trailing zeros mean 1. threads[0] is 0
                                       without groups: vd_kernel_desc.threads. Rounded up to
                                       whole work-groups: kernels guard against the excess, as VC_EACH does */
    uint64_t groups[3];             /* instead of threads: work-groups along each axis */
    const vd_arg *args;             /* in the order of vd_kernel_arg_query */
    int arg_count;                  /* must be vd_kernel_info.arg_count */
} vd_dispatch_desc;

typedef struct vd_record_use {
    vd_buffer buffer;               /* the whole buffer or view counts as accessed */
    uint32_t access;                /* VD_READ, VD_WRITE or both */
} vd_record_use;

typedef struct vd_record_desc {
    const char *name;               /* for messages. Default: "" */
    const vd_record_use *uses;      /* buffers that the commands access */
    int use_count;                  /* length of uses, at most VD_MAX_ARGS */
    vd_result (*record)(void *user, void *commands); /* records the commands. vulkan: `commands` is a VkCommandBuffer in
                                                        the recording state. Called during vd_record_native, see
                                                        "Callbacks" */
    void *user;                     /* passed to record */
} vd_record_desc;

typedef struct vd_read_desc {
    vd_buffer buffer;
    uint64_t offset, size;          /* bytes. Size 0 or VD_WHOLE: to the end of the buffer */
    int device;                     /* 1 + device index, which must be that of the list. Default: the list's device */
} vd_read_desc;

typedef struct vd_submit_desc {
    const vd_event *waits;          /* events that must complete before the list starts */
    int wait_count;                 /* length of waits */
} vd_submit_desc;

/* ---- info: the library fills these structs in ---- */

typedef struct vd_buffer_info {
    char name[64];                  /* first 63 bytes of the name; "" if unnamed */
    vd_type type;
    uint64_t shape[4];              /* 1 for unused axes */
    uint64_t size;                  /* bytes */
    uint64_t address;               /* device address; 0 if the device has none */
    vd_memory memory;
    bool mapped;                    /* vd_buffer_map works */
    bool persistent;                /* the buffer may stay mapped while work uses it */
    uint32_t devices;               /* bit i: device i has a copy. address, mapped, persistent and native describe the
                                       first */
    bool imported;                  /* the memory is the caller's */
    uint64_t native;                /* vulkan: VkBuffer. opencl: cl_mem. 0: the memory is used by address */
    uint64_t native_offset;         /* bytes; start of the buffer or view in `native`, or in its root buffer if native
                                       is 0 */
    uint32_t storage;               /* number that a buffer shares with its views only */
} vd_buffer_info;

typedef struct vd_kernel_info {
    char name[64];                  /* first 63 bytes of the name; "" if unnamed */
    int arg_count;                  /* arguments that a dispatch must pass; vd_kernel_arg_query describes each */
    uint32_t local_size[3];         /* invocations of a work-group along each axis */
    uint32_t shared_bytes;          /* shared memory of a work-group in bytes */
    uint32_t argument_bytes;        /* size of the argument block in bytes */
    uint64_t features;              /* VD_FEATURE_ bits that the kernel needs */
} vd_kernel_info;

typedef struct vd_kernel_arg_info {
    char name[64];                  /* first 63 bytes of the name */
    vd_arg_info arg;                /* the other properties; arg.name is NULL */
} vd_kernel_arg_info;

/* Driver objects of a queue, for libraries that call the driver directly. The context owns them. NULL or 0 if the
   backend has no such object. */
typedef struct vd_native {
    vd_backend backend;
    void *instance;                 /* vulkan: VkInstance */
    void *physical_device;          /* vulkan: VkPhysicalDevice */
    void *device;                   /* vulkan: VkDevice; opencl: cl_device_id */
    void *context;                  /* cuda: CUcontext; opencl: cl_context */
    void *queue;                    /* vulkan: VkQueue; cuda: CUstream; opencl: cl_command_queue */
    uint32_t queue_family;          /* vulkan: index of the queue family */
    void (*get_instance_proc_addr)(void); /* vulkan: PFN_vkGetInstanceProcAddr */
} vd_native;

/* Counters since the context was created, and current numbers of objects. */
typedef struct vd_stats {
    uint64_t dispatches, copies, fills, submissions;
    uint64_t barriers;              /* between commands */
    uint64_t device_blocks, device_bytes; /* driver allocations held now and their bytes, staging memory included */
    uint64_t buffers, kernels;      /* objects that exist now */
    uint64_t host_allocations;      /* successful calls of allocate and reallocate */
    uint64_t cache_hits, cache_misses; /* cache files that were used; that were missing or ignored */
    uint64_t cache_writes;          /* cache files that were written */
} vd_stats;

/* ---- functions ----
   Every function that takes a context or a list fails with VD_ERROR_INVALID if it, a handle, or a pointer that is
   required is NULL or invalid, and with VD_ERROR_DEVICE_LOST after the device was lost. The comments below list the
   other failures. `device` is a device index, `queue` the index of a queue of that device. */

/* ---- errors and names ---- */

/* Describes the last failure on this thread in one sentence; "" before the first. Valid until the thread's next
   failure. */
VD_API const char *vd_error_text(void);

/* The result code of that failure; VD_OK before the first. */
VD_API vd_result vd_error_result(void);

/* For libraries on top of this one; both functions return result. A failure has three parts, which vd_error_text joins:
   "call 'object': reason". An inner function sets the reason; the function that the user called adds its own name and
   its object. All texts are copied.
   vd_error_set sets the reason, in printf format, and clears the call and the object. If format is NULL, the reason
   says that memory is exhausted (for VD_ERROR_OUT_OF_MEMORY and VD_ERROR_OUT_OF_DEVICE_MEMORY).
   vd_error_amend changes the last failure: it replaces the result, the call and the object, and puts the formatted text
   and ": " before the reason. NULL keeps a part, "" removes it. */
VD_API vd_result vd_error_set(vd_result result, const char *format, ...);
VD_API vd_result vd_error_amend(vd_result result, const char *call, const char *object, const char *format, ...);

VD_API const char *vd_result_name(vd_result result);    /* "VD_ERROR_INVALID" */
VD_API uint32_t vd_type_size(vd_type type);             /* bytes; VD_BOOL: 4; VD_BYTES and invalid types: 0 */
VD_API const char *vd_type_name(vd_type type);          /* "f32x4" */
VD_API const char *vd_feature_name(uint64_t bit);       /* "f64"; "unknown" unless bit is one feature */
VD_API const char *vd_backend_name(vd_backend backend); /* "opencl", compiled in or not; default: "" */
VD_API vd_backend vd_backend_from_name(const char *name); /* in upper or lower case; VD_BACKEND_DEFAULT: unknown name */

/* ---- contexts and devices ---- */

/* Lists the devices of a backend; for VD_BACKEND_DEFAULT, of every backend compiled in except dummy. Fills in at most
   `capacity` elements of `out`, none if out is NULL. Returns the number of devices, 0 if no backend works.
   Some driver faults are found only by running a kernel, which vd_context_create does (VD_FEATURE_F64_ROUND,
   _SHUFFLE_64, _UNPACK_HALF, and VD_FEATURE_STORAGE_16 with them): vd_device returns the corrected features. */
VD_API int vd_devices(vd_backend backend, vd_device_info *out, int capacity);

/* vd_context_create(desc, out): opens one or more devices. desc may be NULL. If a device does not open, the next best
   is tried, and then the next backend, unless the desc or the environment selects one.
   On failure *out is NULL. Fails with VD_ERROR_INVALID if desc or an environment variable is invalid, or the backend is
   not compiled in; VD_ERROR_NO_DEVICE if no backend works, or if there is no such device; otherwise with the error of
   the first backend.
   A macro with variable arguments, so that desc can be a compound literal. */
#define vd_context_create(...) vd_context_create_version(__VA_ARGS__, VKDISPATCH_VERSION)
VD_API vd_result vd_context_create_version(const vd_context_desc *desc, vd_context **out, uint32_t version);

/* Discards open lists, submits batches, waits for all work, makes the remaining callbacks and destroys every object of
   the context. NULL is ignored. Called from a callback of the same context, it does nothing but log an error. */
VD_API void vd_context_destroy(vd_context *ctx);

/* Returns a device of the context, valid as long as the context; NULL if index is out of range. */
VD_API const vd_device_info *vd_device(const vd_context *ctx, int index);

VD_API int vd_device_count(const vd_context *ctx); /* devices of the context; 0 for NULL */

/* Counters of the context, and how many objects it has. */
VD_API vd_result vd_context_stats(vd_context *ctx, vd_stats *out);

/* ---- contexts, for libraries on top ---- */

/* Returns the context's allocator, zeros for NULL. It is valid as long as the context. Called from `release` of
   vd_context_attach, it returns the caller's own allocator, which can free the same memory later. */
VD_API vd_allocator vd_context_allocator(const vd_context *ctx);

/* Keeps a library's data with a context. Calls `use` with the address of a pointer that is NULL at first and is kept
   for this key; returns the result of `use`. One thread at a time for each key. `key` is an address in the library.
   vd_context_destroy first calls the last `release` of each key whose pointer is not NULL, in reverse order of the
   first use of the keys.
   Fails with VD_ERROR_OUT_OF_MEMORY before `use` is called. */
VD_API vd_result vd_context_attach(vd_context *ctx, const void *key,
                                   vd_result (*use)(vd_context *ctx, void **data, void *user), void *user,
                                   void (*release)(vd_context *ctx, void *data));

/* Delays callbacks until a library's public function is finished. Between vd_callback_scope_begin and
   vd_callback_scope_end no print, log or release of ctx runs on this thread. vd_callback_scope_end makes the calls that
   are due, so the library must not use anything afterwards that they could destroy. In a scope, vd_context_destroy of
   ctx fails. `scope` is on the caller's stack. Scopes nest. ctx may be NULL. `call` is a name for messages.
   In debug mode, failures in a scope are not logged when they occur. vd_callback_scope_end of the outermost scope logs
   the thread's last failure if its call (vd_error_amend) is that of the scope. */
typedef struct vd_callback_scope {  /* private */
    vd_context *ctx;
    const char *call;               /* the public function, for messages */
    const char *what;               /* "callback", or the kind of user function that the library is calling */
    bool exclusive;                 /* a lock is held or a recording is incomplete: no call may use the context */
    struct vd_callback_scope *outer; /* the thread's enclosing scope or NULL */
} vd_callback_scope;
VD_API void vd_callback_scope_begin(vd_context *ctx, const char *call, vd_callback_scope *scope);
VD_API void vd_callback_scope_end(vd_callback_scope *scope);

/* Stores bytes in a file of vd_context_desc.cache_directory. `category` becomes part of the file's name; the key holds
   everything that the bytes depend on. Does nothing without a cache directory, if `category` contains a slash, a
   backslash or a colon, or if the file cannot be written (logged). */
VD_API void vd_cache_store(vd_context *ctx, const char *category, const void *key, size_t key_size, const void *data,
                           size_t size);

/* Loads what vd_cache_store stored for this category and key. Returns the number of bytes; 0 if there is no such
   file, if it is damaged, or if it has more than `capacity` bytes. */
VD_API size_t vd_cache_load(vd_context *ctx, const char *category, const void *key, size_t key_size, void *data,
                            size_t capacity);

VD_API uint64_t vd_time_ns(void); /* nanoseconds of a monotonic clock */

/* Calls `use` with the driver objects of a queue, and returns its result. Meanwhile the library submits nothing to any
   queue of that device, so `use` may submit work of its own. `use` must not call functions that take the context or its
   lists. */
VD_API vd_result vd_native_use(vd_context *ctx, int device, int queue,
                               vd_result (*use)(const vd_native *native, void *user), void *user);

/* ---- buffers ----
   Offsets and sizes are in bytes, at any alignment within the buffer. Size VD_WHOLE: to the end of the buffer. Size 0:
   the arguments are checked, and nothing else is done. */

/* Creates a buffer with desc->data, or zeros, as contents. Does not wait for the contents to arrive.
   Fails with VD_ERROR_INVALID if the desc is invalid; VD_ERROR_UNSUPPORTED if the buffer exceeds
   limits.max_buffer_bytes or the device lacks external memory; VD_ERROR_OUT_OF_MEMORY;
   VD_ERROR_OUT_OF_DEVICE_MEMORY. */
VD_API vd_buffer vd_buffer_create(vd_context *ctx, const vd_buffer_desc *desc);

/* Creates a view: a typed and shaped part of a buffer, usable wherever a buffer is. It owns no memory. Its handle
   becomes invalid when the buffer is destroyed, without vd_buffer_destroy of the view.
   Fails with VD_ERROR_INVALID if the view does not fit into the buffer; VD_ERROR_OUT_OF_MEMORY. */
VD_API vd_buffer vd_buffer_view(vd_context *ctx, const vd_view_desc *desc);

/* Destroys a buffer with its views, or a view. Work that uses it completes. {0} is ignored; an invalid handle only sets
   the error text. */
VD_API void vd_buffer_destroy(vd_context *ctx, vd_buffer buffer);

/* Fills in *out for a buffer or view. */
VD_API vd_result vd_buffer_query(vd_context *ctx, vd_buffer buffer, vd_buffer_info *out);

/* Writes to the buffer on every device that has a copy, after the work recorded so far. data is copied before the call
   returns. Uses the immediate list of queue 0. */
VD_API vd_result vd_buffer_write(vd_context *ctx, vd_buffer buffer, uint64_t offset, const void *data, uint64_t size);

/* Waits for the work recorded so far that writes the buffer, and reads from the buffer's first device. */
VD_API vd_result vd_buffer_read(vd_context *ctx, vd_buffer buffer, uint64_t offset, void *data, uint64_t size);

/* Copies from a buffer on one device to a buffer on another, through host memory, and waits for the source. If both
   devices are the same, this is vd_copy in the immediate list of queue 0. */
VD_API vd_result vd_buffer_send(vd_context *ctx, vd_buffer to, int to_device, uint64_t to_offset, vd_buffer from,
                                int from_device, uint64_t from_offset, uint64_t size);

/* vd_buffer_write and vd_buffer_read of rows. Bytes between rows are left unchanged on both sides. */
VD_API vd_result vd_buffer_write_region(vd_context *ctx, const vd_region_desc *desc, const void *data);
VD_API vd_result vd_buffer_read_region(vd_context *ctx, const vd_region_desc *desc, void *data);

/* Maps a buffer or view on a device and stores the address of its first byte in *out. Waits for the work recorded so
   far that conflicts with `access` (VD_READ, VD_WRITE or both). The pointer is valid until the buffer is destroyed.
   Unless vd_buffer_info.persistent, record no work with the buffer before vd_buffer_unmap.
   Fails with VD_ERROR_UNSUPPORTED if the memory is not host-visible (vd_buffer_info.mapped). */
VD_API vd_result vd_buffer_map(vd_context *ctx, vd_buffer buffer, int device, uint32_t access, void **out);

/* Ends one vd_buffer_map. */
VD_API vd_result vd_buffer_unmap(vd_context *ctx, vd_buffer buffer, int device);

/* Exports the memory of a buffer with desc.exportable as a handle of the operating system. Each call returns a new one,
   which the caller closes. Waits for the work recorded so far that uses the buffer.
   Fails with VD_ERROR_INVALID without desc.exportable; VD_ERROR_UNSUPPORTED on backends other than vulkan. */
VD_API vd_result vd_buffer_export(vd_context *ctx, vd_buffer buffer, vd_external *out);

/* Makes a DLPack tensor that shares the buffer's memory. dlpack.h declares the structs. The memory stays valid until
   the tensor's deleter is called, by any thread, also after vd_buffer_destroy and vd_context_destroy. Waits for the
   work recorded so far that uses the buffer; ordering later work is the caller's responsibility.
   device_type is a DLDeviceType. 0: the backend's, or kDLCPU if backend or buffer have none.
       device type   data, byte_offset        exported by                 imported by
       kDLCPU        host address, 0          vd_buffer_info.persistent   every backend, see vd_dlpack_import
       kDLCUDA       device address, 0        cuda                        cuda; kDLCUDAHost and kDLCUDAManaged too
       kDLOpenCL     cl_mem, offset in it     opencl, desc.exportable     opencl, of the same cl_context
       kDLVulkan     VkBuffer, offset in it   vulkan                      nothing
   Types: scalars and complex numbers have the DLPack type (lanes 1), bool is u32. Vectors add an axis of components,
   matrices two (columns, rows), structs an axis of bytes.
   Fails with VD_ERROR_UNSUPPORTED if the buffer has no memory of that device type. */
VD_API vd_result vd_dlpack_export(vd_context *ctx, vd_buffer buffer, int device_type, struct DLManagedTensor **out);
VD_API vd_result vd_dlpack_export_versioned(vd_context *ctx, vd_buffer buffer, int device_type,
                                            struct DLManagedTensorVersioned **out);

/* Makes a buffer of a DLPack tensor. Host memory is used in place if the device can do so (vd_buffer_info.imported),
   and is copied otherwise; read-only tensors (vd_dlpack_import_versioned) are always copied. The deleter is called
   once: after the copy, or when neither the buffer nor any work uses the memory.
   Requires that the tensor is contiguous, has at most four axes, and that all writes to it are complete. Lanes (2 to 4)
   become a vector; kDLBool becomes u8.
   On failure the id is 0 and the tensor still belongs to the caller. Fails with VD_ERROR_INVALID if the tensor is
   invalid or on a device that the context does not have; VD_ERROR_UNSUPPORTED if its strides, type, version or device
   type are not supported, or if it is read-only and not in host memory. */
VD_API vd_buffer vd_dlpack_import(vd_context *ctx, struct DLManagedTensor *tensor, const char *name);
VD_API vd_buffer vd_dlpack_import_versioned(vd_context *ctx, struct DLManagedTensorVersioned *tensor, const char *name);

/* ---- kernels ---- */

/* Compiles a kernel for every device of the context. desc and code are read only during the call.
   Fails with VD_ERROR_INVALID if the desc is invalid or contradicts the module; VD_ERROR_UNSUPPORTED if a device lacks
   a feature, a limit is exceeded, or the backend does not accept the code; VD_ERROR_COMPILE if the code is invalid or
   does not compile; VD_ERROR_OUT_OF_MEMORY. */
VD_API vd_kernel vd_kernel_create(vd_context *ctx, const vd_kernel_desc *desc);

/* Creates a kernel from a file that `tools/vcc --blob` wrote, in the first form that all devices support. The file's
   bytes may be at any address and are read only during the call. name selects a kernel. NULL: the only one.
   Fails like vd_kernel_create, and with VD_ERROR_INVALID if the file is damaged or has no such kernel. */
VD_API vd_kernel vd_kernel_load(vd_context *ctx, const void *blob, size_t size, const char *name);

/* Destroys a kernel. Work that uses it completes. {0} is ignored; an invalid handle only sets the error text. */
VD_API void vd_kernel_destroy(vd_context *ctx, vd_kernel kernel);

/* Fills in *out for a kernel. */
VD_API vd_result vd_kernel_query(vd_context *ctx, vd_kernel kernel, vd_kernel_info *out);

/* Fills in *out for argument `index` of a kernel, from 0. Fails with VD_ERROR_INVALID if there is no such argument. */
VD_API vd_result vd_kernel_arg_query(vd_context *ctx, vd_kernel kernel, int index, vd_kernel_arg_info *out);

/* ---- command lists ----
   The list NULL fails with VD_ERROR_INVALID, so the results of vd_immediate and vd_list_begin need no check. */

/* Returns the immediate list of a queue; it is valid as long as the context, on any thread. NULL if there is no such
   device or queue. */
VD_API vd_list *vd_immediate(vd_context *ctx, int device, int queue);

/* Opens a list, to be ended with vd_submit or vd_list_discard. desc may be NULL: queue 0 of device 0. Returns NULL on
   failure. */
VD_API vd_list *vd_list_begin(vd_context *ctx, const vd_list_desc *desc);

VD_API vd_context *vd_list_context(vd_list *list); /* the context of a list; NULL for NULL */

/* Ends recording. Returns the list's first error. The list can then be submitted or discarded. Optional before
   vd_submit. */
VD_API vd_result vd_list_end(vd_list *list);

/* Discards a list instead of submitting it. NULL is ignored. */
VD_API void vd_list_discard(vd_list *list);

/* Watches a list: for libraries on top whose state depends on commands in lists of the caller. Stores a ticket in *out,
   to be ended with vd_read_end. vd_read_ready of it waits for the commands recorded so far and returns no data. */
VD_API vd_result vd_list_watch(vd_list *list, vd_ticket *out);

/* Returns the state of a watched list, without waiting. */
VD_API vd_list_status vd_list_get_status(vd_context *ctx, vd_ticket ticket);

/* Submits a list to its queue, after the events of desc->waits. desc and out may be NULL. Stores an event in *out that
   completes when the list and all work submitted earlier to its queue is complete.
   A list from vd_list_begin is invalid afterwards, also on failure. For an immediate list, the batch is submitted:
   vd_submit(vd_immediate(ctx, 0, 0), NULL, &event).
   Returns the list's first error, in which case nothing is executed. If the driver refuses the submission, see
   "Errors". */
VD_API vd_result vd_submit(vd_list *list, const vd_submit_desc *desc, vd_event *out);

/* Records a kernel. Dispatches with more work-groups than limits.max_groups are split if the kernel has
   VD_IMPLICIT_GROUP_BASE along that axis, into at most 2^20 parts.
   Fails with VD_ERROR_INVALID if number or types of the arguments do not match the kernel, if threads and groups are
   both given or both zero, or if arguments overlap, one of them is written, and neither has may_alias;
   VD_ERROR_UNSUPPORTED if a limit of the device is exceeded. */
VD_API vd_result vd_dispatch(vd_list *list, const vd_dispatch_desc *desc);

/* Records a copy between two buffers or ranges of one buffer, which must not overlap. VD_WHOLE: to the end of `from`.
   0: nothing to do (unlike row_bytes in descs, where 0 means VD_WHOLE). */
VD_API vd_result vd_copy(vd_list *list, vd_buffer to, uint64_t to_offset, vd_buffer from, uint64_t from_offset,
                         uint64_t size);

/* Records a copy of rows. Rows of one buffer must not overlap; if the pitches differ, neither may the ranges from the
   first row to the last. */
VD_API vd_result vd_copy_region(vd_list *list, const vd_copy_desc *desc);

/* Records a fill with a repeated value of 1 to 64 bytes. size must be a multiple of value_size. value NULL and
   value_size 0: zeros. */
VD_API vd_result vd_fill(vd_list *list, vd_buffer buffer, uint64_t offset, uint64_t size, const void *value,
                         size_t value_size);

/* Records a write from host memory. data is copied before the call returns. */
VD_API vd_result vd_write(vd_list *list, vd_buffer buffer, uint64_t offset, const void *data, uint64_t size);
VD_API vd_result vd_write_region(vd_list *list, const vd_region_desc *desc, const void *data);

/* Records commands of another library: calls desc->record, after a barrier if one is needed. The commands may dispatch
   and transfer, and may change all bindings of the command buffer.
   Returns the result of desc->record. Fails with VD_ERROR_UNSUPPORTED on cuda and opencl. The dummy backend passes NULL
   as command buffer. */
VD_API vd_result vd_record_native(vd_list *list, const vd_record_desc *desc);

/* Records a readback and stores its ticket in *out, to be ended with vd_read_end. Does not wait. Fails with
   VD_ERROR_INVALID if there is nothing to read. */
VD_API vd_result vd_read_begin(vd_list *list, const vd_read_desc *desc, vd_ticket *out);

/* Waits at most timeout_ns for a readback (0: polls, VD_FOREVER: no limit) and stores the address of its data in *data,
   which is valid until vd_read_end. Submits the batch if the readback was recorded into an immediate list.
   Returns VD_TIMEOUT if it is not complete. Fails with VD_ERROR_INVALID if its list has not been submitted or was
   discarded, and with the error of its submission if that failed. */
VD_API vd_result vd_read_ready(vd_context *ctx, vd_ticket ticket, uint64_t timeout_ns, const void **data);

/* Ends a readback or a watch. {0} is ignored; an invalid ticket only sets the error text. */
VD_API void vd_read_end(vd_context *ctx, vd_ticket ticket);

/* ---- waiting ---- */

/* Submits the batches of all immediate lists. Returns a failure of earlier work that no wait has returned, see
   "Errors". */
VD_API vd_result vd_flush(vd_context *ctx);

/* Waits at most timeout_ns for an event (0: polls, VD_FOREVER: no limit). Returns VD_TIMEOUT if it is not complete, and
   the error of its submission if that failed. */
VD_API vd_result vd_wait(vd_context *ctx, vd_event event, uint64_t timeout_ns);

/* Submits the batches of all immediate lists and waits for all work. Returns like vd_flush. */
VD_API vd_result vd_wait_idle(vd_context *ctx);

/* ---- arguments of a dispatch ---- */

/* A value of any type, read from host memory when the dispatch is recorded. NULL makes the dispatch fail. */
static inline vd_arg vd_value(vd_type type, const void *from) {
    vd_arg a = { VD_ARG_NONE, 0, 0, NULL };
    if (from) a.kind = VD_ARG_VALUE;
    a.type = type;
    a.from = from;
    return a;
}

/* A value of at most 8 bytes, in the low bits. */
static inline vd_arg vd_bits(vd_type type, uint64_t bits) {
    vd_arg a = { VD_ARG_VALUE, 0, 0, NULL };
    a.type = type;
    a.bits = bits;
    return a;
}

/* A buffer or view. */
static inline vd_arg vd_b(vd_buffer b) { vd_arg a = { VD_ARG_BINDING, 0, 0, NULL }; a.bits = b.id; return a; }

/* Scalars. vd_f16_bits receives the bits of an f16. */
static inline vd_arg vd_bool(bool x) { return vd_bits(VD_BOOL, x ? 1 : 0); }
static inline vd_arg vd_i8(int8_t x) { union { int8_t i; uint8_t u; } c; c.i = x; return vd_bits(VD_I8, c.u); }
static inline vd_arg vd_i16(int16_t x) { union { int16_t i; uint16_t u; } c; c.i = x; return vd_bits(VD_I16, c.u); }
static inline vd_arg vd_i32(int32_t x) { union { int32_t i; uint32_t u; } c; c.i = x; return vd_bits(VD_I32, c.u); }
static inline vd_arg vd_i64(int64_t x) { union { int64_t i; uint64_t u; } c; c.i = x; return vd_bits(VD_I64, c.u); }
static inline vd_arg vd_u8(uint8_t x) { return vd_bits(VD_U8, x); }
static inline vd_arg vd_u16(uint16_t x) { return vd_bits(VD_U16, x); }
static inline vd_arg vd_u32(uint32_t x) { return vd_bits(VD_U32, x); }
static inline vd_arg vd_u64(uint64_t x) { return vd_bits(VD_U64, x); }
static inline vd_arg vd_f16_bits(uint16_t x) { return vd_bits(VD_F16, x); }
static inline vd_arg vd_f32(float x) { union { float f; uint32_t u; } c; c.f = x; return vd_bits(VD_F32, c.u); }
static inline vd_arg vd_f64(double x) { union { double f; uint64_t u; } c; c.f = x; return vd_bits(VD_F64, c.u); }

/* ---- conveniences ---- */

/* Records one dispatch of x * y * z threads into the immediate list of queue 0 of device 0, like vd_dispatch. */
VD_API vd_result vd_run_args(vd_context *ctx, vd_kernel kernel, uint64_t x, uint64_t y, uint64_t z, const vd_arg *args,
                             int arg_count);

/* vd_run(ctx, kernel, threads, vd_b(x), vd_f32(2)) is vd_run_args with the arguments listed. vd_run2 and vd_run3 take
   two and three extents. With x = 0, the kernel's own launch size is used (vd_kernel_desc.threads). In C, for a kernel
   without arguments: vd_run_args(ctx, kernel, x, 1, 1, NULL, 0). */
#ifdef __cplusplus
}
inline vd_result vd_run3(vd_context *ctx, vd_kernel kernel, uint64_t x, uint64_t y, uint64_t z) {
    return vd_run_args(ctx, kernel, x, y, z, NULL, 0);
}
template <class... Args>
inline vd_result vd_run3(vd_context *ctx, vd_kernel kernel, uint64_t x, uint64_t y, uint64_t z, Args... args) {
    const vd_arg list[] = { args... };
    return vd_run_args(ctx, kernel, x, y, z, list, static_cast<int>(sizeof...(args)));
}
template <class... Args>
inline vd_result vd_run2(vd_context *ctx, vd_kernel kernel, uint64_t x, uint64_t y, Args... args) {
    return vd_run3(ctx, kernel, x, y, 1, args...);
}
template <class... Args>
inline vd_result vd_run(vd_context *ctx, vd_kernel kernel, uint64_t x, Args... args) {
    return vd_run3(ctx, kernel, x, 1, 1, args...);
}
#else
#define vd_run(ctx, kernel, x, ...) vd_run3(ctx, kernel, x, 1, 1, __VA_ARGS__)
#define vd_run2(ctx, kernel, x, y, ...) vd_run3(ctx, kernel, x, y, 1, __VA_ARGS__)
#define vd_run3(ctx, kernel, x, y, z, ...) \
    vd_run_args(ctx, kernel, x, y, z, (const vd_arg[]){ __VA_ARGS__ }, \
                (int)(sizeof((const vd_arg[]){ __VA_ARGS__ }) / sizeof(vd_arg)))
#endif
#endif /* VKDISPATCH_H */

#ifdef VKDISPATCH_IMPLEMENTATION
#ifndef VKDISPATCH_IMPLEMENTED
#define VKDISPATCH_IMPLEMENTED

// >>config
/* Resolves the user's macros into VD__HAS_X. Later code tests only these. */

#ifdef VKDISPATCH_NO_VULKAN
#define VD__HAS_VULKAN 0
#else
#define VD__HAS_VULKAN 1
#endif

#ifdef VKDISPATCH_CUDA
#define VD__HAS_CUDA 1
#else
#define VD__HAS_CUDA 0
#endif

#ifdef VKDISPATCH_OPENCL
#define VD__HAS_OPENCL 1
#else
#define VD__HAS_OPENCL 0
#endif

#ifdef VKDISPATCH_VOLK
#define VD__HAS_VOLK 1
#else
#define VD__HAS_VOLK 0
#endif

// >>platform
/* Compiler and operating system: attributes, atomics, bits; time, dynamic loading, shared handles, files, threads,
   environment. All code that depends on the compiler or the system is in this room. Systems: POSIX (Linux, macOS,
   BSD) and 64-bit Windows. Compilers: gcc, clang and MSVC; the tests do not compile macOS and MSVC. */

/* Compilers with the builtins of gcc. Tests set 0 to compile the code for MSVC with mingw-w64. */
#ifndef VD__HAS_GNU_BUILTINS
#if defined(__GNUC__) || defined(__clang__)
#define VD__HAS_GNU_BUILTINS 1
#elif defined(_MSC_VER)
#define VD__HAS_GNU_BUILTINS 0
#else
#error "vkdispatch.h needs gcc, clang or MSVC"
#endif
#endif

#if defined(_WIN32)
#if !defined(_WIN64)
#error "vkdispatch.h needs 64-bit Windows"
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#include <sddl.h>
#if !VD__HAS_GNU_BUILTINS
#include <intrin.h>
#endif
#else
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__MINGW32__) && !defined(_UCRT) && !(__USE_MINGW_ANSI_STDIO + 0)
#error "vkdispatch.h needs the printf of C99: compile with -std=c99 or with -D__USE_MINGW_ANSI_STDIO=1"
#endif

/* ---- attributes ---- */

/* VD__HOT inlines all callees: recording a dispatch becomes one function without calls. VD__NOINLINE keeps a slow path
   out of it. VD__COLD is for slow paths that run rarely. */
#if defined(__GNUC__) || defined(__clang__)
#define VD__THREAD_LOCAL __thread
#define VD__UNUSED __attribute__((unused))
#define VD__LIKELY(x) __builtin_expect(!!(x), 1)
#define VD__UNLIKELY(x) __builtin_expect(!!(x), 0)
#define VD__HOT __attribute__((flatten))
#define VD__NOINLINE __attribute__((noinline))
#define VD__COLD __attribute__((noinline, cold))
#if defined(__MINGW_PRINTF_FORMAT)
#define VD__PRINTF(text, first) __attribute__((format(__MINGW_PRINTF_FORMAT, text, first), unused))
#else
#define VD__PRINTF(text, first) __attribute__((format(printf, text, first), unused))
#endif
#else
#define VD__THREAD_LOCAL __declspec(thread)
#define VD__UNUSED
#define VD__LIKELY(x) (x)
#define VD__UNLIKELY(x) (x)
#define VD__HOT
#define VD__NOINLINE __declspec(noinline)
#define VD__COLD __declspec(noinline)
#define VD__PRINTF(text, first)
#endif
#define VD__COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Cold code, which runs once per object or waits for a driver anyway: optimise for size and disable the slowest
   compiler passes.
   After VD__SMALL_END gcc still defines __OPTIMIZE_SIZE__, so no code may test that macro. */
#if !defined(__OPTIMIZE__) || defined(__INTEL_COMPILER)
#define VD__SMALL
#define VD__SMALL_END
#elif defined(__clang__)
#define VD__SMALL _Pragma("clang attribute push (__attribute__((minsize)), apply_to = function)")
#define VD__SMALL_END _Pragma("clang attribute pop")
#else
#define VD__PRAGMA(text) _Pragma(#text)
#define VD__SMALL _Pragma("GCC push_options") \
    VD__PRAGMA(GCC optimize ("Os", "no-tree-vrp", "no-tree-pre", "no-tree-fre", "no-tree-pta", \
                             "no-tree-dominator-opts", "no-gcse", "no-schedule-insns2", "no-expensive-optimizations"))
#define VD__SMALL_END _Pragma("GCC pop_options")
#endif

/* ---- atomics and bits ----
   Unless the name states another order, loads have acquire semantics, stores release semantics, and read-modify-write
   operations both; vd__atomic_add64 is relaxed. Read-modify-write operations return the old value. */

#if VD__HAS_GNU_BUILTINS
static inline uint32_t vd__atomic_load32(const uint32_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline uint64_t vd__atomic_load64(const uint64_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline void *vd__atomic_load_pointer(void *const *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline void vd__atomic_store32(uint32_t *p, uint32_t value) { __atomic_store_n(p, value, __ATOMIC_RELEASE); }
static inline void vd__atomic_store64(uint64_t *p, uint64_t value) { __atomic_store_n(p, value, __ATOMIC_RELEASE); }
static inline void vd__atomic_store_pointer(void **p, void *value) { __atomic_store_n(p, value, __ATOMIC_RELEASE); }
static inline void vd__atomic_add64(uint64_t *p, uint64_t value) { __atomic_fetch_add(p, value, __ATOMIC_RELAXED); }

static inline uint32_t vd__atomic_add32(uint32_t *p, uint32_t value) {
    return __atomic_fetch_add(p, value, __ATOMIC_ACQ_REL);
}
static inline uint32_t vd__atomic_or32(uint32_t *p, uint32_t bits) {
    return __atomic_fetch_or(p, bits, __ATOMIC_ACQ_REL);
}
static inline uint32_t vd__atomic_and32(uint32_t *p, uint32_t bits) {
    return __atomic_fetch_and(p, bits, __ATOMIC_ACQ_REL);
}
static inline uint32_t vd__atomic_exchange32(uint32_t *p, uint32_t value) {
    return __atomic_exchange_n(p, value, __ATOMIC_ACQ_REL);
}
static inline uint64_t vd__atomic_exchange64(uint64_t *p, uint64_t value) {
    return __atomic_exchange_n(p, value, __ATOMIC_ACQ_REL);
}
/* Weak compare-and-exchange: stores `value` in *p and returns true if *p equals *old. Otherwise, or spuriously, sets
   *old to *p and returns false. */
static inline bool vd__atomic_compare_exchange32(uint32_t *p, uint32_t *old, uint32_t value) {
    return __atomic_compare_exchange_n(p, old, value, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
static inline bool vd__atomic_compare_exchange64(uint64_t *p, uint64_t *old, uint64_t value) {
    return __atomic_compare_exchange_n(p, old, value, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Sequentially consistent. */
static inline uint32_t vd__atomic_load32_seq(const uint32_t *p) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }
static inline uint64_t vd__atomic_load64_seq(const uint64_t *p) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }
static inline void vd__atomic_store64_seq(uint64_t *p, uint64_t value) { __atomic_store_n(p, value, __ATOMIC_SEQ_CST); }
static inline uint32_t vd__atomic_add32_seq(uint32_t *p, uint32_t value) {
    return __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST);
}

/* Indices of the highest and of the lowest set bit. x > 0. */
static inline uint32_t vd__log2(uint32_t x) { return 31u ^ (uint32_t)__builtin_clz(x); }
static inline uint32_t vd__lowest_bit(uint32_t x) { return (uint32_t)__builtin_ctz(x); }
static inline uint32_t vd__swap_bytes(uint32_t x) { return __builtin_bswap32(x); }
#else
/* Interlocked functions are full barriers. On x86, plain loads acquire and plain stores release, so only the compiler
   must not reorder them. A sequentially consistent store is an exchange. */
#if defined(_M_X64) || defined(__x86_64__)
#define VD__FENCE() _ReadWriteBarrier()
#else
#define VD__FENCE() MemoryBarrier()
#endif
#define VD__LOAD(type, p) type value = *(type const volatile *)(p); VD__FENCE(); return value
static inline uint32_t vd__atomic_load32(const uint32_t *p) { VD__LOAD(uint32_t, p); }
static inline uint64_t vd__atomic_load64(const uint64_t *p) { VD__LOAD(uint64_t, p); }
static inline void *vd__atomic_load_pointer(void *const *p) { VD__LOAD(void *, p); }
static inline void vd__atomic_store32(uint32_t *p, uint32_t value) { VD__FENCE(); *(volatile uint32_t *)p = value; }
static inline void vd__atomic_store64(uint64_t *p, uint64_t value) { VD__FENCE(); *(volatile uint64_t *)p = value; }
static inline void vd__atomic_store_pointer(void **p, void *value) { VD__FENCE(); *(void *volatile *)p = value; }
static inline void vd__atomic_add64(uint64_t *p, uint64_t value) {
    _InterlockedExchangeAdd64((volatile __int64 *)p, (__int64)value);
}
static inline uint32_t vd__atomic_add32(uint32_t *p, uint32_t value) {
    return (uint32_t)_InterlockedExchangeAdd((volatile long *)p, (long)value);
}
static inline uint32_t vd__atomic_or32(uint32_t *p, uint32_t bits) {
    return (uint32_t)_InterlockedOr((volatile long *)p, (long)bits);
}
static inline uint32_t vd__atomic_and32(uint32_t *p, uint32_t bits) {
    return (uint32_t)_InterlockedAnd((volatile long *)p, (long)bits);
}
static inline uint32_t vd__atomic_exchange32(uint32_t *p, uint32_t value) {
    return (uint32_t)_InterlockedExchange((volatile long *)p, (long)value);
}
static inline uint64_t vd__atomic_exchange64(uint64_t *p, uint64_t value) {
    return (uint64_t)_InterlockedExchange64((volatile __int64 *)p, (__int64)value);
}
static inline bool vd__atomic_compare_exchange32(uint32_t *p, uint32_t *old, uint32_t value) {
    uint32_t was = *old;
    *old = (uint32_t)_InterlockedCompareExchange((volatile long *)p, (long)value, (long)was);
    return *old == was;
}
static inline bool vd__atomic_compare_exchange64(uint64_t *p, uint64_t *old, uint64_t value) {
    uint64_t was = *old;
    *old = (uint64_t)_InterlockedCompareExchange64((volatile __int64 *)p, (__int64)value, (__int64)was);
    return *old == was;
}
static inline uint32_t vd__atomic_load32_seq(const uint32_t *p) { VD__FENCE(); return vd__atomic_load32(p); }
static inline uint64_t vd__atomic_load64_seq(const uint64_t *p) { VD__FENCE(); return vd__atomic_load64(p); }
static inline void vd__atomic_store64_seq(uint64_t *p, uint64_t value) { vd__atomic_exchange64(p, value); }
static inline uint32_t vd__atomic_add32_seq(uint32_t *p, uint32_t value) { return vd__atomic_add32(p, value); }

static inline uint32_t vd__log2(uint32_t x) { unsigned long i = 0; _BitScanReverse(&i, x); return (uint32_t)i; }
static inline uint32_t vd__lowest_bit(uint32_t x) { unsigned long i = 0; _BitScanForward(&i, x); return (uint32_t)i; }
static inline uint32_t vd__swap_bytes(uint32_t x) { return _byteswap_ulong(x); }
#endif

/* Atomic maximum: sets *p to value if value is larger. */
static void vd__atomic_max64(uint64_t *p, uint64_t value) {
    uint64_t old = vd__atomic_load64(p);
    while (old < value && !vd__atomic_compare_exchange64(p, &old, value)) {}
}

/* true: all processors observe the stores of one processor in program order. */
#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86)
#define VD__HAS_ORDERED_STORES true
#else
#define VD__HAS_ORDERED_STORES false
#endif

static inline void vd__pause(void) {
#if !VD__HAS_GNU_BUILTINS
    YieldProcessor();
#elif defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ---- names of driver libraries ---- */

/* Lists end with NULL; the first library that can be opened is used. VD__NVRTC_OF_MAJOR is a printf format for the name
   of NVRTC; its operand is the major version of CUDA. nvrtc_folders are relative to CUDA_PATH, CUDA_HOME and
   cuda_home. */
#if defined(_WIN32)
#define VD__NVRTC_OF_MAJOR "nvrtc64_%d0_0.dll"
#elif defined(__APPLE__)
#define VD__NVRTC_OF_MAJOR "libnvrtc.%d.dylib"
#else
#define VD__NVRTC_OF_MAJOR "libnvrtc.so.%d"
#endif

typedef struct vd__library_names {
    const char *vulkan[6], *cuda[2], *opencl[2], *nvrtc[5], *nvrtc_folders[3], *cuda_home;
} vd__library_names;

static VD__UNUSED const vd__library_names vd__libraries = {
#if defined(_WIN32)
    { "vulkan-1.dll", NULL },
    { "nvcuda.dll", NULL },
    { "OpenCL.dll", NULL },
    { "nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll", NULL },
    { "bin\\x64", "bin", NULL },
    NULL
#elif defined(__APPLE__)
    { "libvulkan.1.dylib", "/usr/local/lib/libvulkan.1.dylib", "/opt/homebrew/lib/libvulkan.1.dylib",
      "libMoltenVK.dylib", "/opt/homebrew/lib/libMoltenVK.dylib", NULL },
    { "libcuda.dylib", NULL },
    { "/System/Library/Frameworks/OpenCL.framework/OpenCL", NULL },
    { "libnvrtc.dylib", NULL },
    { "lib", NULL },
    "/usr/local/cuda"
#else
    { "libvulkan.so.1", NULL },
    { "libcuda.so.1", NULL },
    { "libOpenCL.so.1", NULL },
    { "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so", NULL },
    { "lib64", NULL },
    "/usr/local/cuda"
#endif
};

/* ---- the operating system ---- */

enum {
    VD__PATH_CHARS = 1024      /* characters of a path, with the terminating zero. On Windows paths are UTF-8 */
};

/* Between a folder and a name. */
#if defined(_WIN32)
#define VD__PATH_SEPARATOR "\\"
#else
#define VD__PATH_SEPARATOR "/"
#endif

typedef intptr_t vd__file;     /* file descriptor, or HANDLE */
#define VD__NO_FILE ((vd__file)-1)

/* A thread. The struct must keep its address until vd__thread_join has returned. */
typedef struct vd__thread {
    void (*run)(void *user);
    void *user;
#if defined(_WIN32)
    HANDLE handle;
#else
    pthread_t handle;
#endif
} vd__thread;

/* A mutex with a condition variable, for waits that are too long for a spinlock: enter, wait in a loop until a
   predicate is true, leave. vd__monitor_wake_all wakes all waiting threads. Threads may also wake spuriously. */
typedef struct vd__monitor {
#if defined(_WIN32)
    SRWLOCK lock;
    CONDITION_VARIABLE changed;
#else
    pthread_mutex_t lock;
    pthread_cond_t changed;
#endif
} vd__monitor;

#if defined(_WIN32)

static uint64_t vd__time_ns(void) {
    LARGE_INTEGER now, rate;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&rate);
    uint64_t ticks = (uint64_t)now.QuadPart, per_second = (uint64_t)rate.QuadPart;
    return ticks / per_second * 1000000000u + ticks % per_second * 1000000000u / per_second;
}

static inline void vd__yield(void) { SwitchToThread(); }

/* Uses a high-resolution timer (Windows 10 1803 and later). The resolution of Sleep is up to 16 ms. */
static void vd__sleep(uint64_t ns) {
    LARGE_INTEGER due;
    const DWORD high_resolution = 2; /* CREATE_WAITABLE_TIMER_HIGH_RESOLUTION */
    HANDLE timer = CreateWaitableTimerExW(NULL, NULL, high_resolution, TIMER_ALL_ACCESS);
    due.QuadPart = -(LONGLONG)(ns / 100 + 1);
    if (timer && SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE)) WaitForSingleObject(timer, INFINITE);
    else Sleep((DWORD)(ns / 1000000 + 1));
    if (timer) CloseHandle(timer);
}

/* Returns the default stack size of new threads in bytes: that of the program file, which linkers set to 1 MiB. */
static VD__UNUSED uint64_t vd__thread_stack_bytes(void) { return 1u << 20; }

static VD__UNUSED uint32_t vd__processor_count(void) { return GetActiveProcessorCount(ALL_PROCESSOR_GROUPS); }

/* Converts UTF-8 to UTF-16. Returns false if the text is invalid or too long. */
static bool vd__utf16_from_utf8(const char *text, wchar_t out[VD__PATH_CHARS]) {
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, out, VD__PATH_CHARS) > 0;
}

/* Returns whether the program was started as administrator (integrity level high). A less privileged program may then
   have set its environment variables. */
static VD__UNUSED bool vd__is_privileged(void) {
    uint64_t label[16];
    DWORD size;
    HANDLE token;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) return true;
    bool known = GetTokenInformation(token, TokenIntegrityLevel, label, sizeof label, &size) != 0;
    CloseHandle(token);
    PSID sid = known ? ((TOKEN_MANDATORY_LABEL *)(void *)label)->Label.Sid : NULL;
    return !sid || *GetSidSubAuthority(sid, *GetSidSubAuthorityCount(sid) - 1u) >= SECURITY_MANDATORY_HIGH_RID;
}

/* Reads a variable as UTF-8 into `out`. Returns NULL if it is not set, empty, or too long. */
static VD__UNUSED const char *vd__environment_read(const char *name, char out[VD__PATH_CHARS]) {
    wchar_t wide_name[VD__PATH_CHARS], value[VD__PATH_CHARS];
    if (!vd__utf16_from_utf8(name, wide_name)) return NULL;
    DWORD length = GetEnvironmentVariableW(wide_name, value, VD__PATH_CHARS);
    if (!length || length >= VD__PATH_CHARS) return NULL;
    return WideCharToMultiByte(CP_UTF8, 0, value, -1, out, VD__PATH_CHARS, NULL, NULL) > 0 ? out : NULL;
}

/* Names without a folder are searched in the folder of the program, in System32 and in folders of AddDllDirectory, but
   neither in the current folder nor in PATH. For names with a folder, that folder is searched for the library's
   dependencies. */
static VD__UNUSED void *vd__library_open(const char *name) {
    wchar_t wide[VD__PATH_CHARS], path[VD__PATH_CHARS];
    bool folder = strpbrk(name, "/\\:") != NULL;
    if (!vd__utf16_from_utf8(name, wide)) return NULL;
    if (!folder) return (void *)LoadLibraryExW(wide, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
    DWORD length = GetFullPathNameW(wide, VD__PATH_CHARS, path, NULL);
    if (!length || length >= VD__PATH_CHARS) return NULL;
    return (void *)LoadLibraryExW(path, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR);
}

static VD__UNUSED void *vd__library_find(void *library, const char *name) {
    FARPROC found = GetProcAddress((HMODULE)library, name);
    void *out;
    memcpy(&out, &found, sizeof out);
    return out;
}

static VD__UNUSED void vd__library_close(void *library) { FreeLibrary((HMODULE)library); }

#define VD__HAS_WIN32_HANDLES 1

static VD__UNUSED int64_t vd__handle_copy(int64_t handle) {
    HANDLE self = GetCurrentProcess(), out = NULL;
    if (handle <= 0 ||
        !DuplicateHandle(self, (HANDLE)(intptr_t)handle, self, &out, 0, FALSE, DUPLICATE_SAME_ACCESS)) return -1;
    return (int64_t)(intptr_t)out;
}

static VD__UNUSED void vd__handle_close(int64_t handle) { CloseHandle((HANDLE)(intptr_t)handle); }

/* Returns whether a security identifier is this user, the administrators, the system, or "the owner". */
static bool vd__sid_is_trusted(PSID sid) {
    uint64_t user[16];
    DWORD size;
    HANDLE token;
    if (IsWellKnownSid(sid, WinBuiltinAdministratorsSid) || IsWellKnownSid(sid, WinLocalSystemSid) ||
        IsWellKnownSid(sid, WinCreatorOwnerRightsSid)) return true;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) return false;
    bool same = GetTokenInformation(token, TokenUser, user, sizeof user, &size) &&
                EqualSid(((TOKEN_USER *)(void *)user)->User.Sid, sid);
    CloseHandle(token);
    return same;
}

/* Returns whether the access control list lets only trusted users change the file. Entries of unknown kinds count as
   access for others. */
static bool vd__acl_is_trusted(PACL acl) {
    const DWORD change = FILE_WRITE_DATA | FILE_APPEND_DATA | WRITE_DAC | WRITE_OWNER | GENERIC_WRITE | GENERIC_ALL;
    for (DWORD i = 0; i < acl->AceCount; i++) {
        void *entry;
        if (!GetAce(acl, i, &entry)) return false;
        ACCESS_ALLOWED_ACE *ace = (ACCESS_ALLOWED_ACE *)entry;
        if (ace->Header.AceType == ACCESS_DENIED_ACE_TYPE || ace->Header.AceFlags & INHERIT_ONLY_ACE) continue;
        if (ace->Header.AceType != ACCESS_ALLOWED_ACE_TYPE) return false;
        if (ace->Mask & change && !vd__sid_is_trusted((PSID)&ace->SidStart)) return false;
    }
    return true;
}

static bool vd__handle_is_trusted(HANDLE file) {
    BY_HANDLE_FILE_INFORMATION info;
    uint64_t descriptor[512];
    DWORD size;
    PSID owner = NULL;
    PACL acl = NULL;
    BOOL present = FALSE, defaulted;
    if (GetFileType(file) != FILE_TYPE_DISK || !GetFileInformationByHandle(file, &info) ||
        info.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)) return false;
    return GetKernelObjectSecurity(file, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION, descriptor,
                                   sizeof descriptor, &size) &&
           GetSecurityDescriptorOwner(descriptor, &owner, &defaulted) && owner && vd__sid_is_trusted(owner) &&
           GetSecurityDescriptorDacl(descriptor, &present, &acl, &defaulted) && present && acl &&
           vd__acl_is_trusted(acl);
}

/* Opens a file for reading if it is a regular file, not a link, and its owner and access control list let only this
   user, administrators and the system change it. Sets *size on success. Returns VD__NO_FILE on failure; *trusted is
   then false if the file violates one of these conditions. */
static vd__file vd__file_open_trusted(const char *path, uint64_t *size, bool *trusted) {
    wchar_t wide[VD__PATH_CHARS];
    LARGE_INTEGER bytes;
    *trusted = true;
    if (!vd__utf16_from_utf8(path, wide)) return VD__NO_FILE;
    HANDLE file = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                              FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (file == INVALID_HANDLE_VALUE) return VD__NO_FILE;
    *trusted = vd__handle_is_trusted(file);
    *size = *trusted && GetFileSizeEx(file, &bytes) ? (uint64_t)bytes.QuadPart : 0;
    if (*trusted) return (vd__file)file;
    CloseHandle(file);
    return VD__NO_FILE;
}

/* Creates a new file for writing, to which the access control list admits only its owner, administrators and the
   system. Returns VD__NO_FILE on failure or if the file exists. */
static vd__file vd__file_create(const char *path) {
    static const wchar_t access[] = L"D:P(A;;FA;;;OW)(A;;FA;;;BA)(A;;FA;;;SY)";
    SECURITY_ATTRIBUTES security = { sizeof security, NULL, FALSE };
    wchar_t wide[VD__PATH_CHARS];
    if (!vd__utf16_from_utf8(path, wide) || !ConvertStringSecurityDescriptorToSecurityDescriptorW(
            access, SDDL_REVISION_1, &security.lpSecurityDescriptor, NULL)) return VD__NO_FILE;
    HANDLE file = CreateFileW(wide, GENERIC_WRITE, 0, &security, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
    DWORD error = GetLastError();
    LocalFree(security.lpSecurityDescriptor);
    SetLastError(error);
    return (vd__file)file;
}

/* Both transfer all bytes or return false. A file has less than 4 GiB. */
static bool vd__file_read(vd__file file, void *to, size_t size) {
    DWORD n;
    return ReadFile((HANDLE)file, to, (DWORD)size, &n, NULL) && n == size;
}

static bool vd__file_write(vd__file file, const void *from, size_t size) {
    DWORD n;
    return WriteFile((HANDLE)file, from, (DWORD)size, &n, NULL) && n == size;
}

static bool vd__file_close(vd__file file) { return CloseHandle((HANDLE)file) != 0; }

/* Atomic on NTFS. Fails while another process has `to` open. */
static bool vd__file_replace(const char *from, const char *to) {
    wchar_t wide_from[VD__PATH_CHARS], wide_to[VD__PATH_CHARS];
    return vd__utf16_from_utf8(from, wide_from) && vd__utf16_from_utf8(to, wide_to) &&
           MoveFileExW(wide_from, wide_to, MOVEFILE_REPLACE_EXISTING);
}

static void vd__file_delete(const char *path) {
    wchar_t wide[VD__PATH_CHARS];
    if (vd__utf16_from_utf8(path, wide)) DeleteFileW(wide);
}

/* Describes why the last call of a file function failed. */
static void vd__file_error(char *out, size_t size) { snprintf(out, size, "Windows error %lu", GetLastError()); }

static DWORD WINAPI vd__thread_main(void *thread) {
    ((vd__thread *)thread)->run(((vd__thread *)thread)->user);
    return 0;
}

static VD__UNUSED bool vd__thread_start(vd__thread *thread, void (*run)(void *user), void *user) {
    thread->run = run;
    thread->user = user;
    thread->handle = CreateThread(NULL, 0, vd__thread_main, thread, 0, NULL);
    return thread->handle != NULL;
}

static VD__UNUSED void vd__thread_join(vd__thread *thread) {
    WaitForSingleObject(thread->handle, INFINITE);
    CloseHandle(thread->handle);
}

static VD__UNUSED void vd__monitor_init(vd__monitor *m) {
    InitializeSRWLock(&m->lock);
    InitializeConditionVariable(&m->changed);
}
static VD__UNUSED void vd__monitor_destroy(vd__monitor *m) { (void)m; }
static VD__UNUSED void vd__monitor_enter(vd__monitor *m) { AcquireSRWLockExclusive(&m->lock); }
static VD__UNUSED void vd__monitor_leave(vd__monitor *m) { ReleaseSRWLockExclusive(&m->lock); }
static VD__UNUSED void vd__monitor_wait(vd__monitor *m) {
    SleepConditionVariableSRW(&m->changed, &m->lock, INFINITE, 0);
}
static VD__UNUSED void vd__monitor_wake_all(vd__monitor *m) { WakeAllConditionVariable(&m->changed); }

#else /* POSIX */

/* Under -std=c99 the C library does not declare these; in C++ it always does. */
#if !defined(CLOCK_MONOTONIC) && !defined(__cplusplus)
#define CLOCK_MONOTONIC 1
extern int clock_gettime(int clock, struct timespec *out);
extern int nanosleep(const struct timespec *duration, struct timespec *remaining);
#endif

static uint64_t vd__time_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void vd__yield(void) { sched_yield(); }

static void vd__sleep(uint64_t ns) {
    struct timespec duration;
    duration.tv_sec = (time_t)(ns / 1000000000u);
    duration.tv_nsec = (long)(ns % 1000000000u);
    nanosleep(&duration, NULL);
}

/* Returns the default stack size of new threads in bytes. */
static VD__UNUSED uint64_t vd__thread_stack_bytes(void) {
    pthread_attr_t attributes;
    size_t bytes = 0;
    if (pthread_attr_init(&attributes)) return 0;
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
    return bytes;
}

static VD__UNUSED uint32_t vd__processor_count(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

/* Returns whether the program runs with more privileges than the user who started it: set-user-id, set-group-id or
   file capabilities. */
static VD__UNUSED bool vd__is_privileged(void) {
#if defined(__linux__)
    return getauxval(AT_SECURE) != 0;
#else
    return getuid() != geteuid() || getgid() != getegid();
#endif
}

/* Reads a variable. Returns NULL if it is not set, empty, or too long. */
static VD__UNUSED const char *vd__environment_read(const char *name, char out[VD__PATH_CHARS]) {
    const char *value = getenv(name);
    if (!value || !*value || strlen(value) >= VD__PATH_CHARS) return NULL;
    return strcpy(out, value);
}

/* Dynamic loading. Open and find return NULL if the library or the symbol does not exist. */
static VD__UNUSED void *vd__library_open(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
static VD__UNUSED void *vd__library_find(void *library, const char *name) { return dlsym(library, name); }
static VD__UNUSED void vd__library_close(void *library) { dlclose(library); }

/* Handles of shared memory (vd_external). On POSIX an import passes the ownership of a file descriptor to the driver;
   on Windows it does not. Copying returns -1 if the handle is not open. */
#define VD__HAS_WIN32_HANDLES 0
static VD__UNUSED int64_t vd__handle_copy(int64_t handle) { return handle == (int)handle ? dup((int)handle) : -1; }
static VD__UNUSED void vd__handle_close(int64_t handle) { close((int)handle); }

#if defined(O_CLOEXEC)
#define VD__OPEN_FLAGS (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
#else
#define VD__OPEN_FLAGS (__O_CLOEXEC | __O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
#endif

/* Opens a file for reading if only the effective user or root can write to it: a regular file, not a symbolic link,
   owned by one of them, not writable by group or others. Never blocks. Sets *size on success. Returns VD__NO_FILE on
   failure; *trusted is then false if the file violates one of these conditions. */
static vd__file vd__file_open_trusted(const char *path, uint64_t *size, bool *trusted) {
    struct stat status;
    int fd = open(path, O_RDONLY | VD__OPEN_FLAGS);
    *trusted = fd >= 0 || errno != ELOOP;
    if (fd < 0) return VD__NO_FILE;
    *trusted = !fstat(fd, &status) && S_ISREG(status.st_mode) &&
               (status.st_uid == geteuid() || status.st_uid == 0) && !(status.st_mode & 022);
    *size = *trusted ? (uint64_t)status.st_size : 0;
    if (*trusted) return fd;
    close(fd);
    return VD__NO_FILE;
}

/* Creates a new file for writing with mode 0600. Returns VD__NO_FILE on failure or if the file exists. */
static vd__file vd__file_create(const char *path) {
    return open(path, O_WRONLY | O_CREAT | O_EXCL | VD__OPEN_FLAGS, 0600);
}

/* Both transfer all bytes or return false. */
static bool vd__file_read(vd__file file, void *to, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t n = read((int)file, (char *)to + done, size - done);
        if (n > 0) done += (size_t)n;
        else if (n == 0 || errno != EINTR) return false;
    }
    return true;
}

static bool vd__file_write(vd__file file, const void *from, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t n = write((int)file, (const char *)from + done, size - done);
        if (n > 0) done += (size_t)n;
        else if (n == 0 || errno != EINTR) return false;
    }
    return true;
}

static bool vd__file_close(vd__file file) { return close((int)file) == 0; }

/* Atomic: `to` is always either the complete old file or the complete new one. */
static bool vd__file_replace(const char *from, const char *to) { return rename(from, to) == 0; }
static void vd__file_delete(const char *path) { unlink(path); }

/* Describes why the last call of a file function failed. */
static void vd__file_error(char *out, size_t size) { snprintf(out, size, "%s", strerror(errno)); }

static void *vd__thread_main(void *thread) {
    ((vd__thread *)thread)->run(((vd__thread *)thread)->user);
    return NULL;
}

static VD__UNUSED bool vd__thread_start(vd__thread *thread, void (*run)(void *user), void *user) {
    thread->run = run;
    thread->user = user;
    return !pthread_create(&thread->handle, NULL, vd__thread_main, thread);
}

static VD__UNUSED void vd__thread_join(vd__thread *thread) { pthread_join(thread->handle, NULL); }

static VD__UNUSED void vd__monitor_init(vd__monitor *m) {
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
}
static VD__UNUSED void vd__monitor_destroy(vd__monitor *m) {
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
}
static VD__UNUSED void vd__monitor_enter(vd__monitor *m) { pthread_mutex_lock(&m->lock); }
static VD__UNUSED void vd__monitor_leave(vd__monitor *m) { pthread_mutex_unlock(&m->lock); }
static VD__UNUSED void vd__monitor_wait(vd__monitor *m) { pthread_cond_wait(&m->changed, &m->lock); }
static VD__UNUSED void vd__monitor_wake_all(vd__monitor *m) { pthread_cond_broadcast(&m->changed); }

#endif

/* ---- on every system ---- */

static const char *vd__environment(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Reads an environment variable that names a library or a folder. Returns NULL in a privileged program, because the
   variable would let the user choose the code that runs. */
static VD__UNUSED const char *vd__environment_path(const char *name, char out[VD__PATH_CHARS]) {
    return vd__is_privileged() ? NULL : vd__environment_read(name, out);
}

/* Opens the first library of a list that exists, or returns NULL. */
static VD__UNUSED void *vd__library_open_first(const char *const *names) {
    void *library = NULL;
    for (; *names && !library; names++) library = vd__library_open(*names);
    return library;
}

/* The log of debug mode without vd_context_desc.log. */
static void vd__log_to_stderr(void *user, vd_log_level level, const char *message) {
    static const char *const names[] = { "", "error", "warning", "info" };
    (void)user;
    fprintf(stderr, "vkdispatch %s: %s\n", names[level], message);
}

static void *vd__default_allocate(void *user, size_t size) { (void)user; return malloc(size); }
static void *vd__default_reallocate(void *user, void *block, size_t size) { (void)user; return realloc(block, size); }
static void vd__default_release(void *user, void *block) { (void)user; free(block); }

/* Spinlock for critical sections well below a microsecond that are mostly uncontended. Every dispatch locks one.
   Locking costs one atomic exchange, half the time of a mutex of the C library.
   Contended: spin, then yield, then sleep, so that a preempted owner can run. */
typedef struct vd__mutex { uint32_t held; } vd__mutex; /* 0: unlocked */
#define VD__MUTEX_INIT { 0 }

static VD__COLD void vd__mutex_wait(vd__mutex *lock) {
    for (uint32_t tries = 0; vd__atomic_load32(&lock->held) || vd__atomic_exchange32(&lock->held, 1); tries++) {
        if (tries < 100) vd__pause();
        else if (tries < 200) vd__yield();
        else vd__sleep(50000);
    }
}

static inline void vd__mutex_lock(vd__mutex *lock) {
    if (VD__UNLIKELY(vd__atomic_exchange32(&lock->held, 1))) vd__mutex_wait(lock);
}

static inline void vd__mutex_unlock(vd__mutex *lock) { vd__atomic_store32(&lock->held, 0); }
static inline void vd__mutex_init(vd__mutex *lock) { lock->held = 0; }
static inline void vd__mutex_destroy(vd__mutex *lock) { (void)lock; }

// >>log
/* The last error of the thread, and messages for the context's log callback. */

#define VD__NONE UINT32_MAX /* an index or logarithm that does not exist */
#define VD__U(x) ((unsigned long long)(x)) /* for %llu */

typedef struct vd__host vd__host;

/* An error in parts, all of them copies. vd_error_text joins them: "call 'object': reason". Unknown parts are empty. */
typedef struct vd__error {
    vd_result code;
    bool unlogged;             /* debug mode has not logged it yet */
    bool immediate;            /* of a command in an immediate list */
    char call[48], object[96], reason[864];
} vd__error;

static VD__THREAD_LOCAL vd__error vd__last_error;
static VD__THREAD_LOCAL uint32_t vd__failures, vd__checked_failures; /* see vd__unchecked */
static VD__THREAD_LOCAL char vd__error_joined[1024]; /* the joined parts, returned by vd_error_text */

/* Marks a truncated text with "..." at a UTF-8 character boundary. `length` is the return value of snprintf. */
static void vd__error_truncate(char *out, size_t size, int length) {
    size_t end = size - 4;
    if (length < (int)size) return;
    while (end && ((unsigned char)out[end] & 0xc0) == 0x80) end--;
    memcpy(out + end, "...", 4);
}

static void vd__error_set_part(char *out, size_t size, const char *text) {
    vd__error_truncate(out, size, snprintf(out, size, "%s", text));
}

/* Sets call and object of the error. NULL leaves a part unchanged. */
static void vd__error_set_names(const char *call, const char *object) {
    if (call) vd__error_set_part(vd__last_error.call, sizeof vd__last_error.call, call);
    if (object) vd__error_set_part(vd__last_error.object, sizeof vd__last_error.object, object);
}

/* Joins the parts of the error into vd__error_joined and returns it. */
static VD__COLD const char *vd__error_join(void) {
    const vd__error *e = &vd__last_error;
    const char *quote = e->object[0] ? "'" : "", *space = e->call[0] && e->object[0] ? " " : "";
    snprintf(vd__error_joined, sizeof vd__error_joined, "%.*s%s%s%.*s%s%s%.*s", (int)sizeof e->call, e->call, space,
             quote, (int)sizeof e->object, e->object, quote, e->call[0] || e->object[0] ? ": " : "",
             (int)sizeof e->reason, e->reason);
    return vd__error_joined;
}

/* Sets all parts of the error and returns result. NULL for call or object clears that part. */
static vd_result vd__vfail(vd_result result, const char *call, const char *object, const char *format, va_list args)
    VD__PRINTF(4, 0);
static vd_result vd__vfail(vd_result result, const char *call, const char *object, const char *format, va_list args) {
    vd__error_set_names(call ? call : "", object ? object : "");
    vd__error_truncate(vd__last_error.reason, sizeof vd__last_error.reason,
                       vsnprintf(vd__last_error.reason, sizeof vd__last_error.reason, format, args));
    vd__last_error.code = result;
    vd__last_error.unlogged = true;
    vd__last_error.immediate = false;
    return result;
}

/* Sets the error of the thread and returns result, so that a failing check is one statement. Sets the reason only:
   an outer function adds the call. */
static VD__COLD vd_result vd__fail(vd_result result, const char *format, ...) VD__PRINTF(2, 3);
static vd_result vd__fail(vd_result result, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vd__vfail(result, NULL, NULL, format, args);
    va_end(args);
    return result;
}

/* Like vd__fail, but also sets the call and the object. The object may be NULL. */
static VD__COLD vd_result vd__fail_call(vd_result result, const char *call, const char *object, const char *format,
                                        ...) VD__PRINTF(4, 5);
static vd_result vd__fail_call(vd_result result, const char *call, const char *object, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vd__vfail(result, call, object, format, args);
    va_end(args);
    return result;
}

/* Inserts "text: " before the reason. */
static void vd__error_prefix(const char *text) {
    char joined[sizeof vd__last_error.reason + 256];
    snprintf(joined, sizeof joined, "%.250s%s%s", text, vd__last_error.reason[0] ? ": " : "", vd__last_error.reason);
    vd__error_set_part(vd__last_error.reason, sizeof vd__last_error.reason, joined);
}

/* Amends the current error: replaces result, call and object, and inserts "prefix: " before the reason. NULL keeps a
   part, "" clears call or object. Returns result. */
static VD__COLD vd_result vd__error_amend(vd_result result, const char *call, const char *object, const char *prefix) {
    if (prefix) vd__error_prefix(prefix);
    vd__error_set_names(call, object);
    vd__last_error.code = result;
    vd__last_error.unlogged = true;
    return result;
}

/* Sets the call of the error unless an inner function has set it. VD_TIMEOUT is not an error: keeps the last one. */
static VD__COLD vd_result vd__error_default_call(vd_result result, const char *call) {
    if (result != VD_TIMEOUT && !vd__last_error.call[0]) vd__error_set_names(call, NULL);
    return result;
}

/* Inserts "out of … memory" before the reason if the result is an out-of-memory error. */
static VD__COLD vd_result vd__error_add_out_of_memory(vd_result result) {
    if (result == VD_ERROR_OUT_OF_MEMORY) vd__error_prefix("out of host memory");
    if (result == VD_ERROR_OUT_OF_DEVICE_MEMORY) vd__error_prefix("out of device memory");
    return result;
}

/* Reports a failed host allocation. bytes: its size, or 0 if unknown. */
static VD__COLD vd_result vd__fail_memory(const char *call, const char *object, uint64_t bytes) {
    char text[64] = "";
    if (bytes) snprintf(text, sizeof text, "an allocation of %llu bytes failed", VD__U(bytes));
    vd__fail_call(VD_ERROR_OUT_OF_MEMORY, call, object, "%s", text);
    return vd__error_add_out_of_memory(VD_ERROR_OUT_OF_MEMORY);
}

/* Reports a failed driver function, named by the formatted text. error: the name of the error, or NULL to print its
   number `value`. */
static VD__UNUSED vd_result vd__fail_driver(vd_result result, const char *error, int value, const char *format,
                                            va_list args) VD__PRINTF(4, 0);
static vd_result vd__fail_driver(vd_result result, const char *error, int value, const char *format, va_list args) {
    char function[256];
    vsnprintf(function, sizeof function, format, args);
    if (error) vd__fail(result, "%s failed: %s", function, error);
    else vd__fail(result, "%s failed: error %d", function, value);
    return vd__error_add_out_of_memory(result);
}

/* Returns the source line number in the first line of a compiler's log, or 0 if it has none. Recognises "name:3:7:
   error: …", "name(3): error: …" and "error: name:3:7: …". */
static VD__COLD unsigned long vd__log_line_number(const char *line) {
    for (const char *c = line; *c && *c != '\n'; c++) {
        char *end;
        if ((*c != ':' && *c != '(') || c[1] < '0' || c[1] > '9') continue;
        unsigned long number = strtoul(c + 1, &end, 10);
        if (*end == ':' || *end == ')' || *end == ',') return number;
    }
    return 0;
}

/* Sets "<compiler> failed to compile the code: <first error of the log>; source line 3 is '<that line>'". `source` may
   be NULL. */
static VD__COLD VD__UNUSED vd_result vd__fail_compile(const char *compiler, const char *source, const char *log) {
    const char *error = strstr(log, "error"), *error_line = log;
    if (!error) error = log;
    for (const char *c = log; c < error; c++)
        if (*c == '\n') error_line = c + 1;
    unsigned long number = vd__log_line_number(error_line);
    for (unsigned long i = 1; i < number && source; i++) {
        source = strchr(source, '\n');
        if (source) source++;
    }
    while (source && (*source == ' ' || *source == '\t')) source++;
    int length = (int)strcspn(error, "\n");
    if (!number || !source)
        return vd__fail(VD_ERROR_COMPILE, "%s failed to compile the code: %.800s", compiler,
                        *log ? log : "the compiler's log is empty");
    return vd__fail(VD_ERROR_COMPILE, "%s failed to compile the code: %.*s; source line %lu is '%.*s'", compiler,
                    length < 400 ? length : 400, error, number,
                    (int)(strcspn(source, "\n") < 200 ? strcspn(source, "\n") : 200), source);
}

/* Queues a message for the context's log callback. Does nothing if there is no callback. */
static void vd__logf(const vd__host *host, vd_log_level level, const char *format, ...) VD__PRINTF(3, 4);

// >>memory
/* Host memory: the allocator and a growable array. Device memory: the sub-allocator that divides a block into
   ranges. */

/* All host memory is allocated here. Returns NULL on failure without setting an error. */
static void *vd__alloc(const vd_allocator *allocator, size_t size) {
    return allocator->allocate(allocator->user, size ? size : 1);
}
static void *vd__realloc(const vd_allocator *allocator, void *block, size_t size) {
    return allocator->reallocate(allocator->user, block, size);
}
static void vd__free(const vd_allocator *allocator, void *block) {
    if (block) allocator->release(allocator->user, block);
}

static void *vd__alloc_zeroed(const vd_allocator *allocator, size_t size) {
    void *block = vd__alloc(allocator, size);
    if (block) memset(block, 0, size);
    return block;
}

/* Copies a string. NULL is copied as "". */
static char *vd__copy_text(const vd_allocator *allocator, const char *text) {
    size_t size = strlen(text ? text : "") + 1;
    char *copy = (char *)vd__alloc(allocator, size);
    if (copy) memcpy(copy, text ? text : "", size);
    return copy;
}

/* Wraps the user's allocator and counts successful allocations and reallocations. */
typedef struct vd__counting_allocator {
    vd_allocator inner;
    uint64_t count;
} vd__counting_allocator;

static void *vd__counting_allocate(void *user, size_t size) {
    vd__counting_allocator *c = (vd__counting_allocator *)user;
    void *block = c->inner.allocate(c->inner.user, size);
    if (block) vd__atomic_add64(&c->count, 1);
    return block;
}

static void *vd__counting_reallocate(void *user, void *old, size_t size) {
    vd__counting_allocator *c = (vd__counting_allocator *)user;
    void *block = old ? c->inner.reallocate(c->inner.user, old, size) : c->inner.allocate(c->inner.user, size);
    if (block) vd__atomic_add64(&c->count, 1);
    return block;
}

static void vd__counting_release(void *user, void *block) {
    vd__counting_allocator *c = (vd__counting_allocator *)user;
    c->inner.release(c->inner.user, block);
}

/* Returns the counting allocator. It calls `from`, or the C library if `from` is NULL or empty. `c` must outlive it. */
static vd_allocator vd__counting_allocator_init(vd__counting_allocator *c, const vd_allocator *from) {
    vd_allocator counting = { vd__counting_allocate, vd__counting_reallocate, vd__counting_release, NULL };
    vd_allocator standard = { vd__default_allocate, vd__default_reallocate, vd__default_release, NULL };
    c->inner = from && from->allocate ? *from : standard;
    c->count = 0;
    counting.user = c;
    return counting;
}

/* Grows an array so that `need` items fit. Returns false if memory runs out; the array is then unchanged. */
static bool vd__array_reserve(const vd_allocator *allocator, void **items, uint32_t *capacity, uint32_t need,
                              size_t item_size) {
    if (need <= *capacity) return true;
    uint32_t wanted = *capacity ? *capacity * 2 : 16;
    while (wanted < need) wanted = wanted > UINT32_MAX / 2 ? need : wanted * 2;
    void *moved = vd__realloc(allocator, *items, wanted * item_size);
    if (!moved) return false;
    *items = moved;
    *capacity = wanted;
    return true;
}

/* Sub-allocator: two-level segregated fit (Masmano et al., TLSF, 2004). Constant time, good fit. Its nodes are stored
   apart from the memory because the host may not be able to access device memory.
   The unit of allocation is 256 bytes, the largest minStorageBufferOffsetAlignment and nonCoherentAtomSize that Vulkan
   allows. A larger VkMemoryRequirements.alignment is passed as `align`. */
enum { VD__TLSF_UNIT = 256, VD__TLSF_SECOND_LEVELS = 16, VD__TLSF_FIRST_LEVELS = 29 };

typedef struct vd__tlsf_node {
    uint32_t offset, size;        /* units */
    uint32_t previous_physical, next_physical; /* physical neighbours: the adjacent ranges in memory; 0: none */
    uint32_t previous_free, next_free; /* in the free list; next_free also links unused nodes */
    bool allocated;               /* false: in a free list */
} vd__tlsf_node;

typedef struct vd__tlsf {
    const vd_allocator *allocator;
    vd__tlsf_node *nodes;         /* index 0 means no node */
    uint32_t node_count, node_capacity;
    uint32_t unused_nodes;        /* list of nodes to reuse */
    uint32_t size, allocated_size; /* units */
    uint32_t first_bitmap;        /* bit f: first level f has a non-empty free list */
    uint32_t second_bitmaps[VD__TLSF_FIRST_LEVELS]; /* bit s of element f: free_lists[f][s] is not empty */
    uint32_t free_lists[VD__TLSF_FIRST_LEVELS][VD__TLSF_SECOND_LEVELS]; /* first node of each; 0: empty */
} vd__tlsf;

VD__SMALL

/* Maps a size to its free list. Each size below 16 has its own list; above, the first level is a power of two, which
   the second level divides into 16 lists. */
static void vd__tlsf_map(uint32_t size, uint32_t *first, uint32_t *second) {
    uint32_t top = size < VD__TLSF_SECOND_LEVELS ? 3 : vd__log2(size);
    *first = top - 3;
    *second = top == 3 ? size : (size >> (top - 4)) & (VD__TLSF_SECOND_LEVELS - 1);
}

/* Inserts a node into the free list of its size. */
static void vd__tlsf_link(vd__tlsf *s, uint32_t n) {
    uint32_t first, second;
    vd__tlsf_map(s->nodes[n].size, &first, &second);
    uint32_t head = s->free_lists[first][second];
    s->nodes[n].allocated = false;
    s->nodes[n].previous_free = 0;
    s->nodes[n].next_free = head;
    if (head) s->nodes[head].previous_free = n;
    s->free_lists[first][second] = n;
    s->second_bitmaps[first] |= 1u << second;
    s->first_bitmap |= 1u << first;
}

/* Removes a node from its free list and marks it as allocated. */
static void vd__tlsf_unlink(vd__tlsf *s, uint32_t n) {
    uint32_t first, second;
    vd__tlsf_node *node = &s->nodes[n];
    vd__tlsf_map(node->size, &first, &second);
    if (node->next_free) s->nodes[node->next_free].previous_free = node->previous_free;
    if (node->previous_free) s->nodes[node->previous_free].next_free = node->next_free;
    else s->free_lists[first][second] = node->next_free;
    if (!s->free_lists[first][second]) s->second_bitmaps[first] &= ~(1u << second);
    if (!s->second_bitmaps[first]) s->first_bitmap &= ~(1u << first);
    node->allocated = true;
}

/* Returns a node for a range. The caller has called vd__tlsf_reserve. */
static uint32_t vd__tlsf_node_new(vd__tlsf *s, uint32_t at, uint32_t size) {
    uint32_t n = s->unused_nodes;
    if (n) s->unused_nodes = s->nodes[n].next_free;
    else n = s->node_count++;
    memset(&s->nodes[n], 0, sizeof(vd__tlsf_node));
    s->nodes[n].offset = at;
    s->nodes[n].size = size;
    return n;
}

/* Ensures that `more` nodes can be created. Returns false if memory runs out. */
static bool vd__tlsf_reserve(vd__tlsf *s, uint32_t more) {
    void *nodes = s->nodes;
    bool ok = vd__array_reserve(s->allocator, &nodes, &s->node_capacity, s->node_count + more, sizeof(vd__tlsf_node));
    s->nodes = (vd__tlsf_node *)nodes;
    return ok;
}

/* `size`: units to divide. Returns false if memory runs out. */
static bool vd__tlsf_init(vd__tlsf *s, const vd_allocator *allocator, uint32_t size) {
    memset(s, 0, sizeof *s);
    s->allocator = allocator;
    s->size = size;
    if (!vd__tlsf_reserve(s, 2)) return false;
    s->node_count = 1;
    vd__tlsf_link(s, vd__tlsf_node_new(s, 0, size));
    return true;
}

static void vd__tlsf_destroy(vd__tlsf *s) {
    vd__free(s->allocator, s->nodes);
    s->nodes = NULL;
}

/* Returns a free range of at least `size` units, or 0 if there is none. Rounds the size up to the next list, so that
   every range in that list is large enough and no list is searched. */
static uint32_t vd__tlsf_find(const vd__tlsf *s, uint32_t size) {
    uint32_t first, second;
    if (size >= VD__TLSF_SECOND_LEVELS) {
        uint32_t round = (1u << (vd__log2(size) - 4)) - 1;
        if (size > UINT32_MAX - round) return 0;
        size += round;
    }
    vd__tlsf_map(size, &first, &second);
    uint32_t bitmap = s->second_bitmaps[first] & (UINT32_MAX << second);
    if (!bitmap) {
        uint32_t larger = first + 1 < VD__TLSF_FIRST_LEVELS ? s->first_bitmap & (UINT32_MAX << (first + 1)) : 0;
        if (!larger) return 0;
        first = vd__lowest_bit(larger);
        bitmap = s->second_bitmaps[first];
    }
    return s->free_lists[first][vd__lowest_bit(bitmap)];
}

/* Splits node n after `size` units and returns the node of the remainder, which is in no free list. */
static uint32_t vd__tlsf_split(vd__tlsf *s, uint32_t n, uint32_t size) {
    uint32_t remainder = vd__tlsf_node_new(s, s->nodes[n].offset + size, s->nodes[n].size - size);
    vd__tlsf_node *node = &s->nodes[n], *tail = &s->nodes[remainder];
    node->size = size;
    tail->previous_physical = n;
    tail->next_physical = node->next_physical;
    if (tail->next_physical) s->nodes[tail->next_physical].previous_physical = remainder;
    node->next_physical = remainder;
    return remainder;
}

/* Allocates `size` > 0 units aligned to `align` units. Returns the node, or 0 if no free range fits or memory for
   nodes runs out. */
static uint32_t vd__tlsf_allocate(vd__tlsf *s, uint32_t size, uint32_t align) {
    uint32_t n = size <= UINT32_MAX - align ? vd__tlsf_find(s, size + align - 1) : 0;
    if (!n || !vd__tlsf_reserve(s, 2)) return 0;
    vd__tlsf_unlink(s, n);
    uint32_t padding = (align - s->nodes[n].offset % align) % align;
    if (padding) {
        uint32_t aligned = vd__tlsf_split(s, n, padding);
        vd__tlsf_link(s, n);
        n = aligned;
        s->nodes[n].allocated = true;
    }
    if (s->nodes[n].size > size) vd__tlsf_link(s, vd__tlsf_split(s, n, size));
    s->allocated_size += size;
    return n;
}

/* Merges node b, the next physical neighbour of a, into a. */
static void vd__tlsf_merge(vd__tlsf *s, uint32_t a, uint32_t b) {
    s->nodes[a].size += s->nodes[b].size;
    s->nodes[a].next_physical = s->nodes[b].next_physical;
    if (s->nodes[a].next_physical) s->nodes[s->nodes[a].next_physical].previous_physical = a;
    s->nodes[b].next_free = s->unused_nodes;
    s->unused_nodes = b;
}

/* Frees an allocated range and merges it with free physical neighbours. */
static void vd__tlsf_release(vd__tlsf *s, uint32_t n) {
    uint32_t before = s->nodes[n].previous_physical, after = s->nodes[n].next_physical;
    s->allocated_size -= s->nodes[n].size;
    if (after && !s->nodes[after].allocated) {
        vd__tlsf_unlink(s, after);
        vd__tlsf_merge(s, n, after);
    }
    if (before && !s->nodes[before].allocated) {
        vd__tlsf_unlink(s, before);
        vd__tlsf_merge(s, before, n);
        n = before;
    }
    vd__tlsf_link(s, n);
}

VD__SMALL_END

// >>pool
/* Handles and the objects they refer to. A handle has 64 bits: slot (24), generation (20), object type (4), context
   number (16).
   Objects are stored in chunks that never move, so a look-up takes no lock. A slot is retired when its generations
   are exhausted, and living contexts have different numbers: a stale or foreign handle never refers to another
   object. */

typedef enum vd__object_type {
    VD__OBJECT_BUFFER, VD__OBJECT_KERNEL, VD__OBJECT_TICKET, VD__OBJECT_TYPES
} vd__object_type;

/* First member of every pooled object. An object exists while its handle is valid, while it is pinned, and until its
   last use on a queue is complete. A public call pins the objects that it uses, and a list from vd_list_begin pins
   those of its commands. An open batch pins nothing: its commands are recorded under the queue's lock, which the
   functions that destroy objects lock too. */
typedef struct vd__slot {
    /* The handle while the object is live. Otherwise the last handle without its context number, which is never a
       valid handle. Written last, read first. */
    uint64_t id;
    struct vd__slot *next;   /* in the list of unused slots or of garbage */
    uint32_t use_hint;       /* probable index in vd_list.uses of the list that used the object last */
    /* Number of calls, lists, views and tensors that use the object. May be above 0 for a moment on a slot without an
       object, see vd__slot_pin. */
    uint32_t pins;
    bool destroyed_while_pinned; /* becomes garbage with the last unpin; under the context's lock */
} vd__slot;

/* Bytes of a cache line; slots of the first chunk; entries of the chunk tables. Chunk k has 2^k slots and the first is
   chunk 6: slot i is item i + 64 - 2^k of chunk k = log2(i + 64). A handle can address 2^24 slots. */
enum { VD__CACHE_LINE = 64, VD__FIRST_CHUNK_SLOTS = 64, VD__CHUNKS = 25 };

typedef struct vd__pool {
    void *bases[VD__CHUNKS]; /* address of each chunk's first item minus 2^k items; NULL: chunk not allocated */
    const vd_allocator *allocator;
    void *blocks[VD__CHUNKS]; /* the allocation of each chunk, to be freed */
    size_t item_size;        /* bytes, a multiple of a cache line */
    uint64_t tag;            /* object type and context number, at their position in a handle */
    vd__slot *unused;        /* list of slots to reuse */
    uint32_t used, live;     /* slots ever used; live handles */
    uint32_t type;           /* vd__object_type */
} vd__pool;

/* Bits of a handle: slot 0–23, generation 24–43, object type 44–47, context number 48–63. */
#define VD__ID_SLOT_MASK 0xFFFFFFu
#define VD__ID_TYPE(id) ((uint32_t)((id) >> 44) & 15u)
#define VD__ID_CONTEXT(id) ((uint32_t)((id) >> 48))
#define VD__ID_DEAD_MASK (((uint64_t)1 << 48) - 1)
#define VD__GENERATION_ONE ((uint64_t)1 << 24)
#define VD__GENERATION_MASK ((uint64_t)0xFFFFF << 24)

/* Returns the slot with this index, or NULL if its chunk does not exist. `index` is below 2^24, so the logarithm is
   at most 24. */
static inline vd__slot *vd__pool_slot_at(const vd__pool *pool, uint32_t index) {
    uint32_t item = index + VD__FIRST_CHUNK_SLOTS;
    uintptr_t base = (uintptr_t)vd__atomic_load_pointer(&pool->bases[vd__log2(item)]);
    return base ? (vd__slot *)(base + item * pool->item_size) : NULL;
}

/* Returns the object of a live handle, or NULL. Takes no lock: chunks never move and the id is read with acquire. */
static inline vd__slot *vd__pool_find(const vd__pool *pool, uint64_t id) {
    vd__slot *slot = vd__pool_slot_at(pool, (uint32_t)id & VD__ID_SLOT_MASK);
    return VD__LIKELY(slot && vd__atomic_load64(&slot->id) == id && VD__ID_CONTEXT(id)) ? slot : NULL;
}

static inline bool vd__slot_is_live(const vd__slot *slot) {
    return VD__ID_CONTEXT(vd__atomic_load64_seq(&slot->id)) != 0;
}

/* Pins a slot that has just been found by this id. Returns false if the object was destroyed meanwhile; the pin then
   does not protect it. In both cases the caller ends the pin with vd__slot_unpin.
   This function writes `pins`, then reads `id`; vd__object_destroy writes `id`, then reads `pins`. All four accesses
   are sequentially consistent, so at least one of the two functions reads what the other has written. */
static inline bool vd__slot_pin(vd__slot *slot, uint64_t id) {
    vd__atomic_add32_seq(&slot->pins, 1);
    return vd__atomic_load64_seq(&slot->id) == id;
}

/* Returns why vd__pool_find found no object, for error messages. */
static const char *vd__pool_reason(const vd__pool *pool, uint64_t id) {
#define VD__MISMATCHES(expected) { \
    "handle is invalid: expected " expected ", got a buffer", \
    "handle is invalid: expected " expected ", got a kernel", \
    "handle is invalid: expected " expected ", got a ticket" }
    static const char *const mismatches[VD__OBJECT_TYPES][VD__OBJECT_TYPES] = { /* expected, actual */
        VD__MISMATCHES("a buffer"), VD__MISMATCHES("a kernel"), VD__MISMATCHES("a ticket")
    };
#undef VD__MISMATCHES
    if (!id) return "handle is 0; it was never created, or creating it failed";
    if (VD__ID_CONTEXT(id) != VD__ID_CONTEXT(pool->tag) || VD__ID_TYPE(id) >= VD__OBJECT_TYPES)
        return "handle is invalid or belongs to another context";
    if (VD__ID_TYPE(id) != pool->type) return mismatches[pool->type][VD__ID_TYPE(id)];
    return vd__pool_slot_at(pool, (uint32_t)id & VD__ID_SLOT_MASK)
               ? "was destroyed" : "handle is invalid or belongs to another context";
}

static void vd__pool_init(vd__pool *pool, const vd_allocator *allocator, vd__object_type type, uint32_t context,
                          size_t item_size) {
    memset(pool, 0, sizeof *pool);
    pool->allocator = allocator;
    pool->item_size = (item_size + VD__CACHE_LINE - 1) / VD__CACHE_LINE * VD__CACHE_LINE;
    pool->type = (uint32_t)type;
    pool->tag = ((uint64_t)type << 44) | ((uint64_t)context << 48);
}

/* Returns an object without a handle, zeroed after its vd__slot. Returns NULL if memory runs out or 2^24 objects
   exist. The caller holds the context's lock. */
static vd__slot *vd__pool_acquire(vd__pool *pool) {
    vd__slot *slot = pool->unused;
    if (slot) pool->unused = slot->next;
    else {
        if (pool->used > VD__ID_SLOT_MASK) return NULL;
        uint32_t k = vd__log2(pool->used + VD__FIRST_CHUNK_SLOTS);
        if (!pool->bases[k]) {
            size_t bytes = ((size_t)1 << k) * pool->item_size;
            pool->blocks[k] = vd__alloc_zeroed(pool->allocator, bytes + VD__CACHE_LINE);
            if (!pool->blocks[k]) return NULL;
            uintptr_t first = ((uintptr_t)pool->blocks[k] + VD__CACHE_LINE - 1) / VD__CACHE_LINE * VD__CACHE_LINE;
            vd__atomic_store_pointer(&pool->bases[k], (void *)(first - bytes));
        }
        slot = vd__pool_slot_at(pool, pool->used);
        vd__atomic_store64(&slot->id, (pool->tag & VD__ID_DEAD_MASK) | pool->used++);
    }
    memset(slot + 1, 0, pool->item_size - sizeof *slot);
    slot->next = NULL;
    return slot;
}

/* Assigns a handle to a complete object and returns it. From now on vd__pool_find finds the object. */
static uint64_t vd__pool_publish(vd__pool *pool, vd__slot *slot) {
    uint64_t generation = (slot->id + VD__GENERATION_ONE) & VD__GENERATION_MASK;
    uint64_t id = pool->tag | generation | (slot->id & VD__ID_SLOT_MASK);
    pool->live++;
    vd__atomic_store64(&slot->id, id);
    return id;
}

/* Invalidates the handle. The object exists until vd__pool_release. */
static void vd__pool_invalidate(vd__pool *pool, vd__slot *slot) {
    vd__atomic_store64_seq(&slot->id, slot->id & VD__ID_DEAD_MASK);
    pool->live--;
}

/* Makes the slot available for reuse, or retires it if its generations are exhausted. */
static void vd__pool_release(vd__pool *pool, vd__slot *slot) {
    if ((slot->id & VD__GENERATION_MASK) == VD__GENERATION_MASK) return;
    slot->next = pool->unused;
    pool->unused = slot;
}

static void vd__pool_free(vd__pool *pool) {
    for (int i = 0; i < VD__CHUNKS; i++) vd__free(pool->allocator, pool->blocks[i]);
}

enum { VD__CONTEXT_NUMBERS = 1 << 16 };

/* Numbers of the living contexts, one bit each. One of the library's few process-wide variables; lock-free. */
static uint32_t vd__context_numbers[VD__CONTEXT_NUMBERS / 32];
static uint32_t vd__context_serial;

/* Returns a number that no living context has, or 0 if there is none. Numbers are reused as late as possible. The
   start of the count differs between copies of the library in one process, so that they rarely use the same number. */
static uint32_t vd__context_number_acquire(void) {
    uint32_t start = (uint32_t)((uint64_t)(uintptr_t)vd__context_numbers * 0x9E3779B97F4A7C15u >> 48);
    for (uint32_t tries = 0; tries < VD__CONTEXT_NUMBERS; tries++) {
        uint32_t number = (start + vd__atomic_add32(&vd__context_serial, 1)) % VD__CONTEXT_NUMBERS;
        uint32_t bit = 1u << (number % 32);
        if (number && !(vd__atomic_or32(&vd__context_numbers[number / 32], bit) & bit))
            return number;
    }
    return 0;
}

static void vd__context_number_release(uint32_t number) {
    vd__atomic_and32(&vd__context_numbers[number / 32], ~(1u << (number % 32)));
}

// >>objects
/* The objects that handles refer to. Fields named `native` belong to the backend. */

typedef struct vd__backend vd__backend;
typedef struct vd__device vd__device;

enum { VD__STAGE_COMPUTE = 1, VD__STAGE_TRANSFER = 2, VD__STAGE_HOST = 4 }; /* bits: pipeline stages of barriers */

enum { VD__MEMORY_USAGES = VD_MEMORY_SHARED + 1 }; /* number of values of vd_memory */

/* Whether and how memory was imported, or can be exported. */
typedef enum vd__sharing {
    VD__SHARE_NONE,
    VD__SHARE_ADDRESS, VD__SHARE_HOST, VD__SHARE_OBJECT, /* imported; in the order of vd_import */
    VD__SHARE_HANDLE,  /* imported; desc.external */
    VD__SHARE_EXPORT   /* exportable (desc.exportable) */
} vd__sharing;

/* Source of an import. */
typedef struct vd__import_source {
    uint64_t handle;   /* device address, host pointer or object, by vd__sharing; 0 for VD__SHARE_HANDLE */
    const vd_external *external; /* for VD__SHARE_HANDLE, otherwise NULL */
} vd__import_source;

/* One driver allocation. */
typedef struct vd__block {
    uint64_t native[2];
    uint8_t *mapped;   /* host address, or NULL */
    uint64_t size;
    uint32_t type;     /* memory type of the backend */
    bool host_cached;  /* host reads of `mapped` are cached */
    bool coherent;     /* if false, block_sync is called before host reads and after host writes */
    uint8_t sharing;   /* vd__sharing */
} vd__block;

/* Memory requirements of a driver buffer. `kernel_access` and `sharing` are inputs of memory_create, the others are its
   outputs. */
typedef struct vd__memory_requirements {
    uint64_t size, align; /* bytes */
    uint32_t types;    /* bit mask of memory types */
    bool kernel_access; /* kernels access the memory; if false, only copies do */
    uint8_t sharing;   /* vd__sharing, supported by the device */
} vd__memory_requirements;

/* Format and dimensions of an image. A subresource is one layer of one level; its index is level * layers + layer. */
typedef struct vd__image_shape {
    vd_format format;
    vd_dim dim;
    uint32_t extent[3];        /* texels of level 0; 1 along axes that the image does not have */
    uint32_t levels, layers;
    bool depth;                /* the format has a depth component */
} vd__image_shape;

/* Memory layout of a subresource. Every access of a command requires one. */
typedef enum vd__layout {
    VD__LAYOUT_UNDEFINED,      /* the contents may be discarded; only as the layout before a transition */
    VD__LAYOUT_GENERAL,        /* any access */
    VD__LAYOUT_SAMPLED,        /* reads by kernels, through sampled images */
    VD__LAYOUT_SOURCE, VD__LAYOUT_TARGET, /* transfers */
    VD__LAYOUTS
} vd__layout;

/* A driver buffer or image: the storage of a resource on one device, or staging memory. */
typedef struct vd__memory {
    uint64_t native[2];        /* of an image, native[1] is the address of its vd__image_shape */
    uint64_t address;  /* device address, or 0 if the backend has none */
    uint64_t size;     /* bytes requested */
    uint8_t *mapped;   /* host address of its first byte, or NULL */
    vd__block *block;
    uint64_t offset;   /* in the block, bytes */
    uint32_t serial;   /* unique in the context; key of hazard tracking. 0: there is no memory */
} vd__memory;

/* A change of the layout of an image's subresources [begin, end), as part of a barrier. */
typedef struct vd__transition {
    const vd__memory *memory;
    uint32_t begin, end;
    vd__layout from, to;
} vd__transition;

/* Type of a descriptor. */
typedef enum vd__descriptor {
    VD__DESCRIPTOR_NONE,
    VD__DESCRIPTOR_BUFFER,     /* storage buffer */
    VD__DESCRIPTOR_ARGUMENTS,  /* the argument block in a uniform buffer */
    VD__DESCRIPTOR_STORAGE_IMAGE,
    VD__DESCRIPTOR_COMBINED,   /* sampled image with its sampler */
    VD__DESCRIPTORS
} vd__descriptor;

static VD__UNUSED vd__descriptor vd__descriptor_of(const vd_arg_info *a) {
    if (a->kind == VD_ARG_BINDING) return VD__DESCRIPTOR_BUFFER;
    if (a->kind != VD_ARG_IMAGE) return VD__DESCRIPTOR_NONE;
    return a->sampled ? VD__DESCRIPTOR_COMBINED : VD__DESCRIPTOR_STORAGE_IMAGE;
}

typedef struct vd__kernel_code {
    uint64_t native[4];
} vd__kernel_code;

/* A binding of a dispatch. Bindings are sorted by number. The native handles of an image's memory are its views: for
   sampling, and as a storage image. */
typedef struct vd__binding {
    const vd__memory *memory;
    uint64_t offset, size;     /* of an image: the native handle of the sampler or 0, and the vd__layout */
    uint32_t number;
} vd__binding;

typedef struct vd__launch {
    const vd__kernel_code *code;
    uint32_t groups[3];
    const uint64_t *arguments; /* the complete argument block, with implicit arguments and buffer addresses */
    uint32_t argument_bytes;   /* multiple of 4 */
    uint64_t arguments_changed; /* 0: same kernel and argument block as in the list's previous launch */
    const vd__binding *bindings;
    uint32_t binding_count;
    uint32_t *block;           /* not NULL: submissions can change the argument block; receives its number, see
                                  vd__argument_change */
} vd__launch;

/* Commands recorded by a backend without command buffers (room `command tape`). */
typedef struct vd__tape {
    uint64_t *words;
    uint32_t count, capacity;  /* words */
    uint32_t last;             /* index of the first word of the last command */
    bool failed;               /* a copy or fill was not recorded because host memory ran out */
} vd__tape;

/* A recording of the backend. Zeroed before commands_create. */
typedef struct vd__commands {
    void *native;              /* of a backend with command buffers */
    vd__tape tape;             /* of a backend without */
} vd__commands;

typedef struct vd__copy_range { uint64_t from, to, size; } vd__copy_range;

/* A timeline value of another queue of the device that a submission waits for. */
typedef struct vd__wait { uint64_t value; uint32_t queue; } vd__wait;

/* New bytes of an argument block in a recording. offset and size are multiples of 4. */
typedef struct vd__argument_change {
    uint32_t block;            /* from vd__launch.block */
    uint32_t offset, size;     /* bytes in the block */
    const void *data;          /* copied */
} vd__argument_change;

/* One submission of a recording. */
typedef struct vd__submission {
    const vd__commands *commands; /* NULL: the submission only advances the timeline */
    uint64_t value;            /* the timeline value that it reaches */
    bool barrier_first;        /* begins with a barrier after all earlier submissions to its queue */
    const vd__wait *waits;
    uint32_t wait_count;
    const vd__argument_change *changes; /* for this submission and later ones */
    uint32_t change_count;
} vd__submission;

enum { VD__COPIES_KERNEL = 1, VD__COPIES_DRIVER };

/* A pending call of vd_context_desc.log or vd_context_desc.print. */
typedef struct vd__message {
    struct vd__message *next;
    size_t size;               /* bytes of the allocation */
    vd_log_level level;
    const char *kernel;        /* argument of print, valid as long as the context; NULL: call log */
    uint32_t id[3];            /* argument of print: the invocation */
    char text[1];              /* variable length */
} vd__message;

/* Pending calls of the user's callbacks. Only vd__callbacks_deliver makes them, when a public call has finished its
   work: it then holds no lock, and this thread uses no object that a callback might destroy. */
typedef struct vd__message_queue {
    vd__mutex lock;            /* of the messages; innermost lock */
    vd__message *first, *last;
    uint64_t bytes, limit;     /* total size of the messages; a message that would exceed the limit is dropped */
    uint32_t dropped;          /* dropped messages that have not been logged yet */
    uint32_t pending;          /* 1: messages or released memory are pending; read without the lock */
} vd__message_queue;

/* Cache files, counted as in vd_stats. */
typedef struct vd__cache_counters { uint64_t hits, misses, writes; } vd__cache_counters;

/* The part of a context that its backend uses: allocator, log, and settings from the desc. */
struct vd__host {
    vd_allocator allocator;    /* counts allocations (vd__counting_allocator) */
    void (*log)(void *user, vd_log_level level, const char *message);
    void *log_user;
    vd__message_queue *messages; /* of the context; NULL in vd_devices, which calls no callback */
    bool debug;
    const vd_device_info *dummy; /* desc.dummy, only valid while the context is created */
    char *cache_directory;     /* a copy; NULL: the compile cache is disabled */
    vd__cache_counters *cache_counters; /* of the context */
    void *cuda_stream;         /* the user's, or NULL */
    void *cl_context, *cl_device, *cl_queue; /* the user's, or NULL */
    void (*get_instance_proc_addr)(void); /* the user's, or NULL */
    int copies;                /* VD__COPIES_X from VKDISPATCH_COPIES, or 0 */
};

typedef struct vd__driver {
    const vd__backend *backend;
    const vd__host *host;
    void *native;
} vd__driver;

/* The part of a device that its backend uses. */
struct vd__device {
    vd__driver *driver;
    vd_device_info info;
    uint32_t queue_count; /* 1 … VD_MAX_QUEUES, set before device_open */
    /* The following are set by device_open. */
    uint32_t sharing_mask; /* bit i: vd__sharing i is supported */
    bool can_capture;     /* a queue is the user's stream, see queue_capturing */
    bool copies_to_host;  /* record_copy can copy to any host memory: native[0] is 0, native[1] is its address */
    uint32_t max_spirv_minor; /* newest version 1.x of SPIR-V that the driver accepts; 0: any, or no SPIR-V */
    bool always_by_address; /* kernels access buffers by address even if VD_FEATURE_ADDRESS is disabled */
    void *native;
};

/* ---- not used by backends ---- */

/* A block and its sub-allocator, or a block that is dedicated to one resource. */
typedef struct vd__heap_block {
    vd__block block;           /* first member: vd__memory.block is cast to vd__heap_block */
    vd__tlsf suballocator;     /* not initialised if `dedicated` */
    bool dedicated;            /* dedicated to one resource */
    bool imported;             /* the user's memory: `dedicated` is true and the block is not in vd__heap.blocks */
    uint64_t address;          /* argument of release */
    void (*release)(void *user, uint64_t address); /* the user's callback, or NULL */
    void *release_user;
    struct vd__heap_block *next;
} vd__heap_block;

/* The device memory of one device. */
typedef struct vd__heap {
    vd__heap_block *blocks[32]; /* by memory type */
    uint64_t block_bytes;       /* default size of a block */
    uint64_t block_count, bytes; /* number and size of the driver allocations in `blocks` */
} vd__heap;

/* A device of a context, its memory and the lock of its queues. One lock serves all queues of a device because
   ordering a command can involve all of them. */
typedef struct vd__context_device {
    vd__device device;
    struct vd_context *ctx;
    uint32_t index;            /* in the context */
    vd__mutex lock;
    vd__heap heap;             /* under the context's lock */
    uint64_t disable;          /* disabled features, VD_FEATURE_ bits. vd__storage_map implements those of memory */
    struct vd__queue *queues;  /* device.queue_count elements, a part of vd_context.queues */
} vd__context_device;

/* A driver buffer or image with its range in a block and its last uses on the queues of its device. */
typedef struct vd__storage {
    vd__memory memory;         /* a cache line */
    vd__context_device *context_device;
    uint64_t last_use[VD_MAX_QUEUES]; /* timeline value of the last use by each queue */
    uint64_t last_write;       /* timeline value of the last write, on queue `last_writer` */
    uint32_t last_writer;
    uint32_t node;             /* in the block's sub-allocator; 0: the block is dedicated */
    uint32_t map_count;        /* calls of vd_buffer_map without vd_buffer_unmap */
    uint32_t unsubmitted;      /* debug mode: number of an open list that writes it, or 0 */
} vd__storage;

/* A buffer, an image (see VD__ID_TYPE of the slot's id), or a view of one. A dispatch reads two cache lines: the
   first of the resource, and that of its memory, which is the next one in a context with one device.
   A view uses the storage of its root. It pins the root and is destroyed with it. */
typedef struct vd__resource {
    vd__slot slot;
    vd_type type;
    bool view;
    bool needs_checks;         /* needs checks at dispatch: a view, not on every device, or with an address_offset */
    uint8_t usage;             /* vd_memory */
    uint64_t size;             /* bytes */
    vd__storage *storage;      /* array by device; serial 0: not on that device */
    uint64_t offset;           /* in the storage, bytes */
    vd__storage own_storage;   /* the array `storage` if the context has one device; not used by views */
    char *name;
    uint64_t shape[4];
    struct vd__resource *root; /* of a view */
    struct vd__resource *views; /* of a root: list of its live views, under the context's lock */
    struct vd__resource *next_view, *previous_view; /* in that list */
    uint32_t devices;          /* bit mask */
} vd__resource;

typedef vd__resource vd__buffer;

/* Rows of a buffer, all in bytes. `pitch` is the stride in the buffer and `host_pitch` that in host memory. */
typedef struct vd__region { uint64_t offset, row, rows, pitch, host_pitch; } vd__region;

/* A byte range of a buffer in its storage. */
typedef struct vd__span {
    vd__storage *storage;
    uint64_t offset, size;
    uint32_t use;              /* as in vd__access */
} vd__span;

/* The data of a kernel argument that a dispatch reads. 16 bytes, so that a cache line holds four. */
typedef struct vd__param {
    uint8_t kind;              /* vd_arg_kind */
    bool written;
    uint8_t binding_index;     /* index of the binding when sorted by binding number */
    uint8_t align;             /* log2 of a buffer's alignment in bytes */
    vd_type type;
    uint32_t location;         /* as in vd_arg_info */
    uint16_t size;
    uint8_t buffer_index;      /* index among the buffer arguments */
} vd__param;

typedef struct vd__kernel {
    vd__slot slot;
    vd__kernel_code *codes;    /* array by device */
    uint64_t *last_uses;       /* timeline value of the last use, by queue of the context; exact only in garbage */
    void *arena;               /* the allocation that contains the targets of this struct's pointers */
    const char *name;
    vd_arg_info *args;
    vd_implicit_info *implicit;
    vd__param *params;
    int arg_count, implicit_count;
    int dispatch_implicit_count; /* number of implicit arguments that do not depend on buffers; they come first */
    uint32_t buffer_count, binding_count, argument_bytes, local_size[3], shared_bytes;
    uint32_t local_shift[3];   /* log2 of local_size if that is a power of two, otherwise VD__NONE */
    bool splittable[3];        /* axes with VD_IMPLICIT_GROUP_BASE: a dispatch can be split along them */
    bool linear;               /* the local size is a power of two x 1 x 1 */
    uint32_t first_format;     /* number of its first format; args[arg_count] is the output buffer. 0: does not print */
    bool has_padding;          /* the argument block has padding bytes */
    uint8_t axes;              /* vd_kernel_desc.axes */
    int threads_arg;           /* vd_kernel_desc.threads_arg */
    uint64_t threads[3];       /* vd_kernel_desc.threads; zeros: none */
    uint64_t features;
} vd__kernel;

/* A block of mapped staging memory, filled from its start. It is reused when the last submission that uses it has
   completed. */
typedef struct vd__staging {
    vd__storage storage;
    uint64_t filled;           /* bytes allocated */
    uint64_t value;            /* timeline value of the last submission that uses it */
    vd_list *owner;            /* the list that fills it, or NULL */
    uint32_t pins;             /* ranges in use by host copies and tickets; raised under the queue's lock */
    struct vd__staging *next;
} vd__staging;

/* A range of staging memory. */
typedef struct vd__staging_range { vd__staging *staging; uint64_t offset; } vd__staging_range;

typedef struct vd__ticket {
    vd__slot slot;
    vd__staging_range staging;
    uint64_t size;             /* bytes */
    uint64_t value;            /* timeline value of the submission; 0: not submitted yet */
    struct vd__queue *queue;
    vd_list *list;             /* the unsubmitted list that contains the read, or NULL */
    bool discarded;
    struct vd__ticket *next;   /* in that list */
} vd__ticket;

/* A format of printf or assert in a kernel, parsed from "types:text" in the desc. */
enum {
    VD__MAX_FORMATS = 1024,    /* maximum of formats of a kernel */
    VD__MAX_FORMAT_TYPES = 32, /* maximum of operands of a format */
    VD__OUTPUT_HEADER_WORDS = 8 /* words of the header of an output buffer */
};
typedef struct vd__format {
    const char *text;          /* after "types:" */
    bool assertion;
    uint16_t type_count, words; /* number of operands, and their size in 32-bit words */
    uint16_t types[VD__MAX_FORMAT_TYPES];
} vd__format;

/* The formats of a kernel. They exist as long as the context, because output may be read after the kernel was
   destroyed. Kernels with equal name and formats share them. */
typedef struct vd__formats {
    struct vd__formats *next;
    const char *kernel;
    const char *const *source; /* copies of desc.formats */
    vd__format *formats;
    uint32_t first, count;     /* number of the first format in the context; the others follow */
} vd__formats;

/* Readback memory for the output of the kernels of one submission. */
typedef struct vd__output {
    vd__storage storage;
    struct vd__queue *queue;
    uint64_t value;            /* timeline value of the submission */
    struct vd__output *next;
} vd__output;

/* A recording that is reused when its submission has completed. */
typedef struct vd__recording {
    vd__commands commands;
    uint64_t value;            /* timeline value of its submission */
    struct vd__recording *next;
} vd__recording;

typedef struct vd__recording_ring {
    vd__recording *oldest, *newest; /* submitted, in order */
    vd__recording *spare;      /* completed, to be reused; last in, first out */
} vd__recording_ring;

enum { VD__MAX_RANGES = 3 }; /* maximum of ranges tracked per memory */

typedef struct vd__range { uint64_t begin, end; } vd__range;

/* The accesses to one memory since the last barrier. */
typedef struct vd__tracked_memory {
    uint32_t serial;           /* of the memory */
    uint16_t count, written;   /* number of ranges; bit i: range i was written */
    vd__range ranges[VD__MAX_RANGES];
} vd__tracked_memory;

/* Hash table of the memories accessed since the last barrier: open addressing by serial. The keys are separate from
   `tracked`, so that those of a thousand memories fit in the L1 cache and `tracked` is written sequentially. A
   barrier starts a new epoch, which empties every slot without writing to it. */
typedef struct vd__hazards {
    const vd_allocator *allocator;
    uint64_t *keys;            /* epoch | serial; a slot with an older epoch is empty */
    uint32_t *indices;         /* index in `tracked`, by slot */
    vd__tracked_memory *tracked;
    uint64_t epoch;            /* in the upper 32 bits, as in a key */
    uint32_t mask;             /* number of slots - 1 */
    uint32_t count;            /* elements of `tracked` */
    uint32_t limit;            /* maximum of count; 0: accesses unknown, everything conflicts until the next barrier */
    uint32_t stages;           /* VD__STAGE_ bits of the accesses */
} vd__hazards;

/* One access of a command. */
typedef struct vd__access {
    vd__storage *storage;
    uint64_t begin, end;       /* range in the storage: bytes, or subresources of an image */
    bool written;
    uint8_t layout;            /* vd__layout that the command requires; not used for buffers */
    uint32_t use;              /* index in vd_list.uses; open batches have none */
} vd__access;

/* A buffer, view or kernel that the commands of an unsubmitted list use. The list pins it. */
typedef struct vd__list_use { vd__slot *object; bool written; } vd__list_use;

typedef enum vd__list_state { VD__LIST_FREE, VD__LIST_OPEN, VD__LIST_ENDED } vd__list_state;

struct vd_list {
    struct vd_context *ctx;
    struct vd__queue *queue;
    vd__device *device;
    bool immediate;            /* the open batch of a queue */
    uint32_t number;           /* of a user's list, not 0; see vd__storage.unsubmitted */
    uint32_t state;            /* vd__list_state */
    vd_result error;           /* the first error */
    vd__error *first_failure;  /* its parts; NULL if memory for the copy ran out */
    vd__recording *recording;  /* NULL until the first command */
    uint32_t commands;
    uint64_t staged_bytes;     /* bytes of staging memory used by its commands */
    uint32_t host_stages;      /* stages that write memory which the host may read: the recording ends with a barrier */
    bool barrier_first;        /* see vd__submission */
    bool has_barrier;          /* contains a barrier */
    vd__hazards hazards;       /* accesses after the last barrier, or all of them without one */
    vd__hazards entry_hazards; /* accesses before the first barrier */
    struct vd__dispatch_state *dispatch; /* the last dispatch, reused by the next one */
    vd__list_use *uses;        /* each object once; none in an open batch */
    uint32_t *use_table;       /* hash table with 2 * use_capacity slots: 1 + index in uses; 0: empty */
    uint32_t use_count, use_capacity; /* the capacity is a power of two */
    vd__staging *staging[VD__MEMORY_USAGES]; /* being filled */
    vd__ticket *tickets;       /* added under the context's lock, removed under the queue's; vd_read_end holds both */
    vd__output *output;        /* receives the output of its kernels; NULL: none of them prints */
    vd_stats stats;
    struct vd_list *next;      /* in the context's lists */
};

/* A submission that failed. */
typedef struct vd__failure {
    uint64_t value;            /* its timeline value; UINT64_MAX: an assertion failed */
    vd_result result;
    bool reported;             /* to the user, by a call that returned the result */
    char text[256];
} vd__failure;

enum { VD__MAX_FAILURES = 16 }; /* failures kept per queue */

typedef struct vd__queue {
    struct vd_context *ctx;
    vd__context_device *context_device;
    vd__device *device;
    vd__mutex *lock;           /* the context device's lock; guards all members unless stated otherwise */
    uint32_t index;            /* on its device */
    uint64_t submitted;        /* timeline value of the last submission */
    uint64_t completed;        /* largest timeline value known to be reached; not guarded by the lock */
    uint64_t waits[VD_MAX_QUEUES];  /* values of the device's other queues that the next submission waits for */
    uint64_t waited[VD_MAX_QUEUES]; /* largest values that earlier submissions waited for */
    vd_list open_batch;        /* the open batch; its timeline value will be submitted + 1 */
    vd__recording_ring rings[2]; /* of the open batch and of other lists, so that each reuses recordings of its size */
    vd__staging *staging[VD__MEMORY_USAGES];
    uint64_t staging_bytes[VD__MEMORY_USAGES];
    vd__failure failures[VD__MAX_FAILURES]; /* ring buffer */
    uint32_t failure_count;    /* total; read without the lock */
    vd_buffer output;          /* output buffer of kernels; id 0: none yet. Set under the context's lock */
    bool output_stale;         /* `output` may contain old records; cleared before the next kernel prints */
    vd__output *spare_outputs; /* to be reused; under the context's lock */
    vd__slot *garbage, *last_garbage; /* destroyed objects by the timeline value they wait for; context's lock */
} vd__queue;

/* Data that a library built on top attaches to the context (vd_context_attach). */
typedef struct vd__attachment {
    const void *key;
    void *data;
    void (*release)(vd_context *ctx, void *data);
    vd__mutex lock;            /* of data; outermost lock */
    struct vd__attachment *next;
} vd__attachment;

/* State of a context. VD__LOST: device lost; VD__CLOSING: in vd_context_destroy; VD__DEBUG: debug mode; all are
   permanent. VD__IN_EXCLUSIVE_CALLBACK is added once for each callback of vd_native_use and vd_record_native that is
   running. */
enum { VD__LOST = 1, VD__CLOSING = 2, VD__DEBUG = 4, VD__IN_EXCLUSIVE_CALLBACK = 8 };

/* Debug mode: the first failed command of an immediate list that no call has reported again. It counts as checked if
   its thread has called vd_error_text or vd_error_result since: then vd__checked_failures of the thread, a copy of
   vd__failures, has reached `number`. */
typedef struct vd__unchecked {
    const vd__error *thread;   /* its vd__last_error */
    uint32_t number;           /* vd__failures of that thread */
    vd_result result;
    char text[1024];
} vd__unchecked;

struct vd_context {
    vd__host host;
    vd__counting_allocator counting_allocator;
    vd__cache_counters cache_counters;
    vd__driver driver;
    vd__context_device *devices;
    vd__queue *queues;         /* of all devices, those of device 0 first */
    uint32_t device_count, queue_count;
    uint32_t number;           /* of the context in handles and events, not 0 */
    uint32_t state;            /* see VD__LOST */
    uint32_t lost_device;      /* 1 + index of the device that was lost first, set before VD__LOST; 0: none */
    vd__message_queue messages;
    vd__mutex lock;            /* of the members that follow; locked after a queue's lock */
    vd__pool buffers, kernels, tickets;
    uint32_t serial;
    uint32_t list_number;      /* of the last list that was opened */
    vd_list *lists;
    vd__attachment *attachments; /* newest first, kept until the context is destroyed */
    bool releasing_attachments; /* the attachments are being released */
    vd__formats *formats;      /* newest first, kept until the context is destroyed */
    uint32_t format_count, output_buffers;
    vd__output *outputs;       /* submitted, in order; compared with NULL without the lock */
    void (*print)(void *user, const char *kernel, const uint32_t id[3], const char *text);
    void *print_user;
    uint64_t print_bytes;      /* size of an output buffer */
    vd__slot *garbage;         /* destroyed objects whose last use vd__reap has not looked up yet */
    uint32_t garbage_count;    /* including those of the queues; read without the lock */
    vd__unchecked *unchecked;  /* NULL: none */
    char *kernel_failure;      /* text of the last failure to create a kernel, or NULL */
    vd__heap_block *pending_releases; /* imported memory that is no longer in use; its release callbacks are pending */
    uint32_t reference_count;  /* reference count: the user, and DLPack tensors made from buffers */
};

/* A user callback that this thread is in. `exclusive`: the library holds a lock or a recording is incomplete, so the
   callback must not make calls that use the context. */
typedef vd_callback_scope vd__callback_frame;

static VD__THREAD_LOCAL vd__callback_frame *vd__callback_frames; /* innermost first */
/* vd__callback_frame.what of vd_context_desc.log and of vd_callback_scope_begin, compared by address */
static const char vd__callback_log[] = "log", vd__callback_scope[] = "callback";

/* ---- pins ---- */

static VD__COLD void vd__slot_unpin_dead(vd_context *ctx, vd__slot *slot);

/* Releases the pin of an object. If the object was destroyed, the last release frees it. No lock may be held. */
static inline void vd__slot_unpin(vd_context *ctx, vd__slot *slot) {
    if (vd__atomic_add32_seq(&slot->pins, UINT32_MAX) == 1 && VD__UNLIKELY(!vd__slot_is_live(slot)))
        vd__slot_unpin_dead(ctx, slot);
}

static uint32_t vd__list_use_hash(const vd__slot *object) {
    return (uint32_t)((uint64_t)(uintptr_t)object * 0x9E3779B97F4A7C15u >> 32);
}

/* Returns the slot of the list's hash table for an object: it holds 1 + the index of its use, or it is empty. Linear
   probing; the table is at most half full. */
static uint32_t *vd__list_use_slot(const vd_list *l, const vd__slot *object) {
    uint32_t mask = 2 * l->use_capacity - 1;
    uint32_t slot = vd__list_use_hash(object) & mask;
    while (l->use_table[slot] && l->uses[l->use_table[slot] - 1].object != object) slot = (slot + 1) & mask;
    return &l->use_table[slot];
}

/* Returns the index in the list's uses of an object that the list has pinned. */
static uint32_t vd__list_use_of(const vd_list *l, const vd__slot *object) {
    return l->immediate ? 0 : *vd__list_use_slot(l, object) - 1;
}

/* Doubles the capacity of a list's uses. Returns false if memory runs out. */
static bool vd__list_uses_grow(vd_list *l) {
    const vd_allocator *allocator = &l->ctx->host.allocator;
    uint32_t capacity = l->use_capacity ? 2 * l->use_capacity : 16;
    uint32_t *table = (uint32_t *)vd__alloc_zeroed(allocator, 2 * capacity * sizeof *table);
    vd__list_use *uses = table ? (vd__list_use *)vd__realloc(allocator, l->uses, capacity * sizeof *uses) : NULL;
    if (!uses) {
        vd__free(allocator, table);
        return false;
    }
    vd__free(allocator, l->use_table);
    l->uses = uses;
    l->use_table = table;
    l->use_capacity = capacity;
    for (uint32_t i = 0; i < l->use_count; i++) *vd__list_use_slot(l, uses[i].object) = i + 1;
    return true;
}

/* Slow path of vd__list_pin: the object is new in the list, or another list used it last. */
static VD__NOINLINE vd_result vd__list_pin_slow(vd_list *l, vd__slot *object, uint64_t id, uint32_t *use) {
    if (l->use_count == l->use_capacity && !vd__list_uses_grow(l)) return vd__fail_memory(NULL, NULL, 0);
    uint32_t *slot = vd__list_use_slot(l, object);
    if (!*slot) {
        if (!vd__slot_pin(object, id)) {
            vd__slot_unpin(l->ctx, object);
            return vd__fail(VD_ERROR_INVALID, "another thread destroyed an object during the call");
        }
        l->uses[l->use_count].object = object;
        l->uses[l->use_count].written = false;
        *slot = ++l->use_count;
    }
    *use = *slot - 1;
    vd__atomic_store32(&object->use_hint, *use);
    return VD_OK;
}

/* Pins an object that has just been found by this id until the list is submitted or discarded, and sets *use to its
   index in the list's uses. Each object is pinned once per list. Does nothing in an open batch. */
static inline vd_result vd__list_pin(vd_list *l, vd__slot *object, uint64_t id, uint32_t *use) {
    uint32_t hint = vd__atomic_load32(&object->use_hint);
    *use = hint;
    if (l->immediate || VD__LIKELY(hint < l->use_count && l->uses[hint].object == object)) return VD_OK;
    return vd__list_pin_slow(l, object, id, use);
}

// >>backend
/* Interface of a backend.

   A backend allocates, compiles, records, submits and waits. The generic code does everything else: handles, argument
   checks, hazards, staging, lists, error messages. It passes only checked arguments. A backend sets an error only if
   its driver fails (vd__fail with the driver's message).
   `driver` is the opened library with its instance, `device` an opened device. Their `native` pointers belong to the
   backend, which frees them in the close operation. A create operation that fails releases everything it has created. A
   destroy operation is called once per created object, after the last work that uses the object has completed.

   Operations                               externally synchronised by
   commands_*, record_*                     the commands
   queue_submit                             the device (all its queues)
   block_* except block_sync, memory_*      the device
   device_idle                              the device: no other operation of it runs meanwhile
   all others, including queue_value and    nothing: may be called concurrently
   queue_wait

   A context can open the same device index twice. The two devices share only the driver.

   driver_open       Loads the library and creates an instance. VD_ERROR_NO_DEVICE: not available, try the next backend.
   driver_devices    Describes up to `capacity` devices, usable or not. Returns the number of all devices.
   driver_close
   device_open       Opens device `index`, fills dev->info (features reduced by vd__features_without, facts from
                     vd__facts_init on) and creates dev->queue_count queues, each with a timeline that starts at 0. If
                     the driver has fewer queues, or VD_FEATURE_QUEUES is disabled, several of our queues share one of
                     the driver. The generic code implements disabling VD_FEATURE_MAPPED, _CACHED, _COHERENT and
                     _SHARING.
   device_idle       Waits until the driver has completed all submitted work. Called after a failed wait, when the
                     timelines do not show whether objects can be destroyed.
   device_close
   block_create      Makes a driver allocation of block->size bytes of memory type block->type and maps it if possible.
   block_import      Makes a block of block->size bytes from the user's memory: need->sharing is the kind, `from` the
                     source. Sets *offset, initially 0, to the position of the memory in the block. May enlarge
                     block->size to the driver's granularity. Retains the source if necessary.
   block_export      Exports a block of kind VD__SHARE_EXPORT; sets out->handle, which the caller owns, and
                     out->memory_type. VD_ERROR_UNSUPPORTED names the alternative of this backend, if there is one.
   block_destroy     Also for imported blocks; does not free the user's memory.
   block_sync        For blocks that are not coherent. to_host: called before the host reads the bytes. Otherwise called
                     after the host has written them.
   memory_types      Returns the best memory type of `mask` for `usage` as a mask with one bit, or 0 if none is
                     suitable. Several usages may share a type. After a failed allocation it is called again without
                     that bit.
                     VD_MEMORY_DEVICE: fastest for kernels; mapped only if that costs nothing. The others are mapped.
                     VD_MEMORY_READBACK: host-cached if the device has such memory. VD_MEMORY_SHARED: host-cached,
                     coherent, device-local, in this order of preference.
   memory_create     Creates a driver buffer of m->size bytes without memory and fills in its requirements. If
                     need->kernel_access is set, it returns only types that kernels can access.
   memory_bind       Binds the buffer to m->block at m->offset and sets m->address.
   memory_destroy
   kernel_create     Compiles a kernel. code_kind is one of the backend's `codes`; code_size, args, local_size and
                     argument_bytes are set; source text is zero-terminated. VD_ERROR_COMPILE with the driver's log on
                     failure.
   kernel_destroy
   commands_create   Creates an empty recording.
   commands_destroy
   commands_begin    Resets the recording for new commands; keeps its driver memory for reuse. A `reusable` recording
                     can be submitted any number of times, also while earlier submissions of it are in flight. Its
                     kernels and memories must exist until the last of them has completed. Other recordings are
                     submitted at most once. The caller synchronises calls for one recording.
   commands_end      Completes the recording.
   record_barrier    Makes writes of the stages `from` visible to accesses of the stages `to` (VD__STAGE_ bits), and
                     changes the layouts of `count` ranges of images in between.
   record_launch     Binds the kernel and its arguments, and dispatches. Does not allocate once the recording has been
                     used. Returns an error if the driver runs out of a resource. launch->block is only set in reusable
                     recordings; VD_ERROR_UNSUPPORTED: the argument block of this kernel cannot be changed.
   record_copy       Copies `count` ranges. The target is a memory or, with dev->copies_to_host, host memory.
   record_fill       Fills [offset, offset + size) with a 32-bit word. offset and size are multiples of 4.
   record_native     Calls `record` with the driver's command buffer, whose state is undefined afterwards.
                     VD_ERROR_UNSUPPORTED: the driver has no such object.
   queue_native      Fills in the driver's handles of a queue and of its owners.
   queue_submit      Submits a recording, or nothing. The submission starts when the queues of `waits` have reached
                     their values; the work that reaches them was submitted earlier. It may overlap earlier submissions
                     to its queue unless barrier_first is set: then it starts after them, and their writes are visible
                     to it. When it and all earlier submissions have completed, the timeline reaches `value`. Without a
                     recording it only advances the timeline, so that the value of a failed submission is reached too.
                     `changes` do not affect earlier submissions of the recording to this queue, even if these are in
                     flight. If the submission fails, the changes may have been made or not.
   queue_value       Returns the current timeline value, or UINT64_MAX if the device is lost.
   queue_capturing   Returns whether submissions are captured into a graph of the user instead of executed. Only called
                     with dev->can_capture. A captured submission counts as completed. It must not use staging memory,
                     and it fails if it would wait for another queue.
   queue_wait        Waits until the timeline reaches value. Returns VD_OK, VD_TIMEOUT or VD_ERROR_DEVICE_LOST. May
                     block immediately: the caller has already spun.

   Columns of the table: result, name and parameters of the operation; then, for vulkan, cuda, opencl and dummy, the
   prefix of the function that implements it. `default`: the function is vd__default_NAME, below. `tape`: the backend
   has no command buffers, and the function is vd__tape_NAME of room `command tape`. */
#define VD__BACKEND_OPERATIONS(X) \
    X(vd_result, driver_open, (vd__driver *driver), vk, cu, cl, dummy) \
    X(int, driver_devices, (vd__driver *driver, vd_device_info *out, int capacity), vk, cu, cl, dummy) \
    X(void, driver_close, (vd__driver *driver), vk, cu, cl, dummy) \
    X(vd_result, device_open, (vd__driver *driver, int index, uint64_t disable, vd__device *dev), vk, cu, cl, dummy) \
    X(void, device_idle, (vd__device *dev), vk, cu, cl, default) \
    X(void, device_close, (vd__device *dev), vk, cu, cl, dummy) \
    X(vd_result, block_create, (vd__device *dev, vd__block *block), vk, cu, cl, dummy) \
    X(vd_result, block_import, (vd__device *dev, vd__block *block, const vd__memory_requirements *need, \
                                const vd__import_source *from, uint64_t *offset), vk, cu, cl, dummy) \
    X(vd_result, block_export, (vd__device *dev, const vd__block *block, vd_external *out), vk, default, cl, default) \
    X(void, block_destroy, (vd__device *dev, vd__block *block), vk, cu, cl, dummy) \
    X(vd_result, block_sync, (vd__device *dev, vd__block *block, uint64_t offset, uint64_t size, bool to_host), \
      vk, default, default, default) \
    X(uint32_t, memory_types, (vd__device *dev, vd_memory usage, uint32_t mask), vk, cu, cl, dummy) \
    X(vd_result, memory_create, (vd__device *dev, vd__memory *m, vd__memory_requirements *need), vk, cu, cl, dummy) \
    X(vd_result, memory_bind, (vd__device *dev, vd__memory *m), vk, cu, cl, dummy) \
    X(void, memory_destroy, (vd__device *dev, vd__memory *m), vk, default, cl, default) \
    X(vd_result, kernel_create, (vd__device *dev, const vd_kernel_desc *desc, vd__kernel_code *code), \
      vk, cu, cl, dummy) \
    X(void, kernel_destroy, (vd__device *dev, vd__kernel_code *code), vk, cu, cl, dummy) \
    X(vd_result, commands_create, (vd__device *dev, vd__commands *c), vk, tape, tape, tape) \
    X(void, commands_destroy, (vd__device *dev, vd__commands *c), vk, tape, tape, tape) \
    X(vd_result, commands_begin, (vd__device *dev, vd__commands *c, bool reusable), vk, tape, tape, tape) \
    X(vd_result, commands_end, (vd__device *dev, vd__commands *c), vk, tape, tape, tape) \
    X(void, record_barrier, (vd__device *dev, vd__commands *c, uint32_t from, uint32_t to, \
                             const vd__transition *transitions, uint32_t count), vk, tape, tape, tape) \
    X(vd_result, record_launch, (vd__device *dev, vd__commands *c, const vd__launch *launch), vk, tape, tape, tape) \
    X(void, record_copy, (vd__device *dev, vd__commands *c, const vd__memory *to, const vd__memory *from, \
                          const vd__copy_range *ranges, uint32_t count), vk, tape, tape, tape) \
    X(void, record_fill, (vd__device *dev, vd__commands *c, const vd__memory *to, uint64_t offset, uint64_t size, \
                          uint32_t word), vk, tape, tape, tape) \
    X(vd_result, record_native, (vd__device *dev, vd__commands *c, \
                                  vd_result (*record)(void *user, void *commands), void *user), \
      vk, default, default, dummy) \
    X(void, queue_native, (vd__device *dev, uint32_t queue, vd_native *out), vk, cu, cl, default) \
    X(vd_result, queue_submit, (vd__device *dev, uint32_t queue, const vd__submission *s), vk, cu, cl, dummy) \
    X(uint64_t, queue_value, (vd__device *dev, uint32_t queue), vk, cu, cl, dummy) \
    X(bool, queue_capturing, (vd__device *dev, uint32_t queue), default, cu, default, default) \
    X(vd_result, queue_wait, (vd__device *dev, uint32_t queue, uint64_t value, uint64_t timeout_ns), vk, cu, cl, dummy)

/* `print_bytes` as in vd_context_desc. The messages are limited to 16 times that size, at least 1 MiB. */
static void vd__message_queue_init(vd__message_queue *messages, uint64_t print_bytes) {
    const uint64_t minimum = (uint64_t)1 << 20;
    memset(messages, 0, sizeof *messages);
    vd__mutex_init(&messages->lock);
    messages->limit = 16 * print_bytes > minimum ? 16 * print_bytes : minimum;
}

/* Queues a call of `print` if `kernel` is not NULL, otherwise of `log`. The message is dropped and counted if it
   would exceed the limit or if memory runs out. */
static void vd__message_push(const vd__host *host, vd_log_level level, const char *kernel, const uint32_t *id,
                            const char *text) {
    vd__message_queue *messages = host->messages;
    size_t length = strlen(text) + 1, size = sizeof(vd__message) + length;
    vd__message *m = (vd__message *)vd__alloc(&host->allocator, size);
    if (m) {
        m->next = NULL;
        m->size = size;
        m->level = level;
        m->kernel = kernel;
        if (id) memcpy(m->id, id, sizeof m->id);
        memcpy(m->text, text, length);
    }
    vd__mutex_lock(&messages->lock);
    bool added = m && size <= messages->limit - messages->bytes;
    if (added) {
        if (messages->last) messages->last->next = m;
        else messages->first = m;
        messages->last = m;
        messages->bytes += size;
        vd__atomic_store32(&messages->pending, 1);
    } else messages->dropped++;
    vd__mutex_unlock(&messages->lock);
    if (!added) vd__free(&host->allocator, m);
}

/* Drops the message if this thread is in the log callback of the same context, also indirectly through another
   context's callback: each message might cause the next one. */
static void vd__logf(const vd__host *host, vd_log_level level, const char *format, ...) {
    char text[1024];
    va_list args;
    if (!host->log) return;
    for (const vd__callback_frame *v = vd__callback_frames; v; v = v->outer)
        if (v->what == vd__callback_log && &v->ctx->host == host) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    vd__message_push(host, level, NULL, NULL, text);
}

/* Names of the VD_FEATURE_ bits, by bit number; NULL: unused bit. */
static const char *const vd__feature_names[] = {
    "f16", "f64", "i8", "i16", "i64", "storage_8", "storage_16", "address", "subgroup", "atomic_i64", "atomic_f32_add",
    "fma", "timestamp", "image", "subgroup_types", "subgroup_clustered", "reconvergence", "image_formats", "image_read",
    "image_write", "dot_4x8", "f64_round", "shuffle_64", "unpack_half", "mapped", "cached", "coherent", "queues",
    "sharing"
};

/* Returns `features` without `disable` and without the features that depend on a missing one. */
static uint64_t vd__features_without(uint64_t features, uint64_t disable) {
    static const struct { uint64_t feature, dependents; } table[] = {
        { VD_FEATURE_F64, VD_FEATURE_F64_ROUND },
        { VD_FEATURE_I64, VD_FEATURE_ADDRESS | VD_FEATURE_ATOMIC_I64 },
        { VD_FEATURE_SUBGROUP, VD_FEATURE_SUBGROUP_TYPES | VD_FEATURE_SUBGROUP_CLUSTERED |
                               VD_FEATURE_RECONVERGENCE | VD_FEATURE_SHUFFLE_64 },
        { VD_FEATURE_IMAGE, VD_FEATURE_IMAGE_FORMATS | VD_FEATURE_IMAGE_READ | VD_FEATURE_IMAGE_WRITE }
    };
    features &= ~disable;
    for (size_t i = 0; i < VD__COUNT(table); i++)
        if (!(features & table[i].feature)) features &= ~table[i].dependents;
    return features;
}

enum { VD__GROUPS_PER_UNIT = 4, VD__LARGE_GPU_UNITS = 132 }; /* see vd_facts.concurrent_groups */

/* Returns whether a started work-group keeps running while another one waits for it. It is known to do so on discrete
   and integrated GPUs, except those of the vendors listed here. */
static VD__UNUSED bool vd__gpu_has_forward_progress(const vd_device_info *info) {
    static const uint32_t without[] = {
        0x106b /* Apple */, 0x1010 /* Imagination */, 0x13b5 /* Arm */, 0x5143 /* Qualcomm */
    };
    for (size_t i = 0; i < VD__COUNT(without); i++)
        if (info->vendor_id == without[i]) return false;
    return info->type == VD_DEVICE_DISCRETE || info->type == VD_DEVICE_INTEGRATED;
}

/* Sets the facts that follow from the type and the vendor of the device. `units`: number of its multiprocessors or
   cores; 0: not known. */
static VD__UNUSED void vd__facts_init(vd_device_info *info, vd_code code, uint32_t units) {
    bool cpu = info->type == VD_DEVICE_CPU;
    vd_facts *f = &info->facts;
    if (!units) units = cpu ? vd__processor_count() : (uint32_t)VD__LARGE_GPU_UNITS;
    f->code = code;
    f->executes = true;
    f->forward_progress = vd__gpu_has_forward_progress(info);
    f->ordered_stores = cpu && VD__HAS_ORDERED_STORES;
    f->groups_as_loops = cpu;
    f->concurrent_groups = VD__GROUPS_PER_UNIT * units;
}

#define VD__BACKEND_MEMBER(result, name, args, vk, cu, cl, dummy) result (*name) args;
struct vd__backend {
    vd_backend id;
    const char *name;
    vd_code codes[6];          /* code kinds that kernel_create accepts, the default first; unused elements are 0 */
    VD__BACKEND_OPERATIONS(VD__BACKEND_MEMBER)
};

#define VD__BACKEND_VULKAN(result, name, args, vk, cu, cl, dummy) static result vd__##vk##_##name args;
#define VD__BACKEND_VULKAN_ENTRY(result, name, args, vk, cu, cl, dummy) vd__##vk##_##name,
#define VD__BACKEND_CUDA(result, name, args, vk, cu, cl, dummy) static result vd__##cu##_##name args;
#define VD__BACKEND_CUDA_ENTRY(result, name, args, vk, cu, cl, dummy) vd__##cu##_##name,
#define VD__BACKEND_OPENCL(result, name, args, vk, cu, cl, dummy) static result vd__##cl##_##name args;
#define VD__BACKEND_OPENCL_ENTRY(result, name, args, vk, cu, cl, dummy) vd__##cl##_##name,
#define VD__BACKEND_DUMMY(result, name, args, vk, cu, cl, dummy) static result vd__##dummy##_##name args;
#define VD__BACKEND_DUMMY_ENTRY(result, name, args, vk, cu, cl, dummy) vd__##dummy##_##name,

#if VD__HAS_VULKAN
VD__BACKEND_OPERATIONS(VD__BACKEND_VULKAN)
#endif
#if VD__HAS_CUDA
VD__BACKEND_OPERATIONS(VD__BACKEND_CUDA)
#endif
#if VD__HAS_OPENCL
VD__BACKEND_OPERATIONS(VD__BACKEND_OPENCL)
#endif
VD__BACKEND_OPERATIONS(VD__BACKEND_DUMMY)

/* ---- default implementations of operations ---- */

static void vd__default_device_idle(vd__device *dev) { (void)dev; }

static vd_result vd__default_block_export(vd__device *dev, const vd__block *block, vd_external *out) {
    (void)block, (void)out;
    return vd__fail(VD_ERROR_UNSUPPORTED, "device '%s' cannot export memory by handle", dev->info.name);
}

static vd_result vd__default_block_sync(vd__device *dev, vd__block *block, uint64_t offset, uint64_t size,
                                        bool to_host) {
    (void)dev, (void)block, (void)offset, (void)size, (void)to_host;
    return VD_OK;
}

static void vd__default_memory_destroy(vd__device *dev, vd__memory *m) { (void)dev, (void)m; }

static VD__UNUSED vd_result vd__default_record_native(vd__device *dev, vd__commands *c,
                                                     vd_result (*record)(void *user, void *commands), void *user) {
    (void)c, (void)record, (void)user;
    return vd__fail(VD_ERROR_UNSUPPORTED, "backend %s has no command buffer to record into",
                    dev->driver->backend->name);
}

static void vd__default_queue_native(vd__device *dev, uint32_t queue, vd_native *out) {
    (void)dev, (void)queue, (void)out;
}

static bool vd__default_queue_capturing(vd__device *dev, uint32_t queue) {
    (void)dev, (void)queue;
    return false;
}

/* Locked while a driver is opened. Drivers and their loaders initialise process-wide state, and not all of them lock
   it. No callback is called meanwhile. */
static VD__UNUSED vd__mutex vd__open_lock = VD__MUTEX_INIT;

// >>command tape
/* Recorded commands of the backends without command buffers: cuda, opencl and dummy. The functions vd__tape_NAME are
   their operations commands_NAME and record_NAME; queue_submit plays the tape with the backend's vd__tape_player.
   A tape is an array of 64-bit words. A command begins with a vd__tape_command. It refers to kernels and memories,
   which must exist as long as the tape is played. Everything else, including the argument block, is copied. Barriers
   are not recorded, because these backends execute commands in order. A tape can be played more than once. */

typedef enum vd__tape_kind { VD__TAPE_LAUNCH, VD__TAPE_COPY, VD__TAPE_FILL } vd__tape_kind;

typedef struct vd__tape_command {
    uint32_t kind;             /* vd__tape_kind */
    uint32_t words;            /* size of the whole command */
} vd__tape_command;

/* The bindings follow, then the argument block, which is padded with zeros to a multiple of 16 bytes. */
typedef struct vd__tape_launch {
    vd__tape_command command;
    uint64_t kernel;           /* vd__kernel_code.native[0] */
    uint32_t groups[3], binding_count;
} vd__tape_launch;

typedef struct vd__tape_copy { /* the ranges follow */
    vd__tape_command command;
    const vd__memory *to, *from;
    uint64_t count;            /* number of ranges */
} vd__tape_copy;

typedef struct vd__tape_fill {
    vd__tape_command command;
    const vd__memory *to;
    uint64_t offset, size;     /* bytes */
    uint64_t word;             /* 32 bits */
} vd__tape_fill;

/* Functions that execute commands. `user` is the argument of vd__tape_play. */
typedef struct vd__tape_player {
    vd_result (*launch)(void *user, const vd__tape_launch *launch);
    vd_result (*copy)(void *user, const vd__tape_copy *copy);
    vd_result (*fill)(void *user, const vd__tape_fill *fill);
} vd__tape_player;

static const vd__tape_command *vd__tape_command_at(const vd__tape *tape, uint32_t word) {
    return (const vd__tape_command *)(const void *)(tape->words + word);
}

static const vd__binding *vd__tape_bindings(const vd__tape_launch *launch) {
    return (const vd__binding *)(const void *)(launch + 1);
}

static VD__UNUSED const void *vd__tape_arguments(const vd__tape_launch *launch) {
    return vd__tape_bindings(launch) + launch->binding_count;
}

static const vd__copy_range *vd__tape_ranges(const vd__tape_copy *copy) {
    return (const vd__copy_range *)(const void *)(copy + 1);
}

static vd_result vd__tape_commands_create(vd__device *dev, vd__commands *c) {
    (void)dev, (void)c;
    return VD_OK;
}

static void vd__tape_commands_destroy(vd__device *dev, vd__commands *c) {
    vd__free(&dev->driver->host->allocator, c->tape.words);
}

static vd_result vd__tape_commands_begin(vd__device *dev, vd__commands *c, bool reusable) {
    (void)dev, (void)reusable; /* every tape can be played again */
    c->tape.count = c->tape.last = 0;
    c->tape.failed = false;
    return VD_OK;
}

static vd_result vd__tape_commands_end(vd__device *dev, vd__commands *c) {
    (void)dev;
    return c->tape.failed ? vd__fail_memory(NULL, NULL, 0) : VD_OK;
}

static VD__NOINLINE bool vd__tape_grow(vd__device *dev, vd__tape *tape, uint32_t words) {
    void *moved = tape->words;
    bool grown = vd__array_reserve(&dev->driver->host->allocator, &moved, &tape->capacity, tape->count + words,
                                   sizeof *tape->words);
    tape->words = (uint64_t *)moved;
    return grown;
}

/* Appends a command of this size in bytes and fills in its vd__tape_command. Returns NULL if memory runs out. */
static inline void *vd__tape_append(vd__device *dev, vd__commands *c, vd__tape_kind kind, size_t size) {
    vd__tape *tape = &c->tape;
    uint32_t words = (uint32_t)((size + 7) / 8);
    if (VD__UNLIKELY(tape->capacity - tape->count < words) && !vd__tape_grow(dev, tape, words)) return NULL;
    vd__tape_command *command = (vd__tape_command *)(void *)(tape->words + tape->count);
    command->kind = (uint32_t)kind;
    command->words = words;
    tape->last = tape->count;
    tape->count += words;
    return command;
}

static void vd__tape_record_barrier(vd__device *dev, vd__commands *c, uint32_t from, uint32_t to,
                                    const vd__transition *transitions, uint32_t count) {
    (void)dev, (void)c, (void)from, (void)to, (void)transitions, (void)count;
}

static vd_result vd__tape_record_launch(vd__device *dev, vd__commands *c, const vd__launch *launch) {
    size_t bindings = launch->binding_count * sizeof *launch->bindings, padded = (launch->argument_bytes + 15u) & ~15u;
    vd__tape_launch *to = (vd__tape_launch *)vd__tape_append(dev, c, VD__TAPE_LAUNCH, sizeof *to + bindings + padded);
    if (VD__UNLIKELY(!to)) return vd__fail_memory(NULL, NULL, 0);
    to->kernel = launch->code->native[0];
    memcpy(to->groups, launch->groups, sizeof to->groups);
    to->binding_count = launch->binding_count;
    uint8_t *at = (uint8_t *)(to + 1), *end = at + bindings + padded;
    if (bindings) memcpy(at, launch->bindings, bindings);
    if (launch->block) *launch->block = (uint32_t)((const uint64_t *)(const void *)(at + bindings) - c->tape.words);
    if (!padded) return VD_OK;
    memset(end - 16, 0, 16);
    memcpy(at + bindings, launch->arguments, launch->argument_bytes);
    return VD_OK;
}

static void vd__tape_record_copy(vd__device *dev, vd__commands *c, const vd__memory *to, const vd__memory *from,
                                 const vd__copy_range *ranges, uint32_t count) {
    size_t bytes = count * sizeof *ranges;
    vd__tape_copy *copy = (vd__tape_copy *)vd__tape_append(dev, c, VD__TAPE_COPY, sizeof *copy + bytes);
    c->tape.failed |= !copy;
    if (!copy) return;
    copy->to = to;
    copy->from = from;
    copy->count = count;
    memcpy(copy + 1, ranges, bytes);
}

static void vd__tape_record_fill(vd__device *dev, vd__commands *c, const vd__memory *to, uint64_t offset,
                                 uint64_t size, uint32_t word) {
    vd__tape_fill *fill = (vd__tape_fill *)vd__tape_append(dev, c, VD__TAPE_FILL, sizeof *fill);
    c->tape.failed |= !fill;
    if (!fill) return;
    fill->to = to;
    fill->offset = offset;
    fill->size = size;
    fill->word = word;
}

/* Makes the changes of a submission, then executes its commands in order. Stops at the first error and returns it. The
   number of an argument block is the index of its first word. */
static inline vd_result vd__tape_play(const vd__submission *s, const vd__tape_player *player, void *user) {
    vd_result r = VD_OK;
    if (!s->commands) return VD_OK;
    const vd__tape *tape = &s->commands->tape;
    for (uint32_t i = 0; i < s->change_count; i++)
        memcpy((uint8_t *)(tape->words + s->changes[i].block) + s->changes[i].offset, s->changes[i].data,
               s->changes[i].size);
    for (uint32_t at = 0; at < tape->count && !r;) {
        const vd__tape_command *command = vd__tape_command_at(tape, at);
        if (command->kind == VD__TAPE_LAUNCH) r = player->launch(user, (const vd__tape_launch *)(const void *)command);
        else if (command->kind == VD__TAPE_COPY) r = player->copy(user, (const vd__tape_copy *)(const void *)command);
        else r = player->fill(user, (const vd__tape_fill *)(const void *)command);
        at += command->words;
    }
    return r;
}

// >>cache
/* A cache in files: compiled code, and data of libraries built on top (vd_cache_store). A file contains its key and a
   checksum; a file that does not match is ignored.
   The checksum detects damage, not forgery: a file is read only if no user but this one and root can have written it
   (vd__file_open_trusted). Cache errors do not make a call fail: code that is not in the cache is compiled. */

VD__SMALL

typedef struct vd__cache_key { uint64_t words[2]; } vd__cache_key;

typedef struct vd__cache_header {
    char magic[8];
    vd__cache_key key, sum;
    uint64_t size;             /* bytes of data after the header */
} vd__cache_header;

enum {
    VD__CACHE_PATH_CHARS = VD__PATH_CHARS,
    VD__CACHE_MAX_BYTES = 1 << 28 /* maximum of bytes of data in a file */
};

#define VD__CACHE_MAGIC "vdcache1"
#define VD__CACHE_KEY_INIT { { 0xCBF29CE484222325u, 0x9E3779B97F4A7C15u } }

/* Adds bytes to a 128-bit hash of two parts: FNV-1a (Fowler, Noll, Vo) and a multiplicative hash with rotation. */
static void vd__cache_key_add(vd__cache_key *key, const void *bytes, size_t size) {
    const uint8_t *data = (const uint8_t *)bytes;
    uint64_t a = key->words[0], b = key->words[1];
    for (size_t i = 0; i < size; i++) {
        a = (a ^ data[i]) * 0x100000001B3u;
        b = ((b << 23 | b >> 41) + data[i]) * 0xD6E8FEB86659FD93u;
    }
    key->words[0] = a;
    key->words[1] = b ^ size;
}

/* Adds a string with its terminating zero, so that two strings differ from their concatenation. NULL counts as "". */
static VD__UNUSED void vd__cache_key_add_text(vd__cache_key *key, const char *text) {
    vd__cache_key_add(key, text ? text : "", strlen(text ? text : "") + 1);
}

/* Writes the path "directory/vkdispatch-category-key". Returns false if the cache is disabled, if `category` contains a
   separator of paths (":" separates a file's streams on Windows), or if the path is too long. */
static bool vd__cache_path(const vd__host *host, const char *category, const vd__cache_key *key,
                           char out[VD__CACHE_PATH_CHARS]) {
    if (!host->cache_directory || strpbrk(category, "/\\:")) return false;
    int length = snprintf(out, VD__CACHE_PATH_CHARS, "%s" VD__PATH_SEPARATOR "vkdispatch-%s-%016llx%016llx",
                          host->cache_directory, category, VD__U(key->words[0]), VD__U(key->words[1]));
    return length > 0 && length < VD__CACHE_PATH_CHARS - 32; /* vd__cache_store appends to it */
}

/* Returns the data of an open file, to be freed, or NULL if the file does not match or memory runs out. */
static void *vd__cache_read(const vd__host *host, vd__file file, uint64_t file_size, const vd__cache_key *key,
                            size_t *size) {
    vd__cache_header head;
    vd__cache_key sum = VD__CACHE_KEY_INIT;
    if (!vd__file_read(file, &head, sizeof head) || memcmp(head.magic, VD__CACHE_MAGIC, sizeof head.magic)) return NULL;
    if (memcmp(&head.key, key, sizeof *key) || !head.size || head.size > VD__CACHE_MAX_BYTES ||
        file_size != sizeof head + head.size) return NULL;
    *size = (size_t)head.size;
    void *data = vd__alloc(&host->allocator, *size);
    if (!data) return NULL;
    if (vd__file_read(file, data, *size)) {
        vd__cache_key_add(&sum, data, *size);
        if (!memcmp(&sum, &head.sum, sizeof sum)) return data;
    }
    vd__free(&host->allocator, data);
    return NULL;
}

/* Returns the data of the file at `path`, to be freed, or NULL if there is no usable file. */
static void *vd__cache_load_path(const vd__host *host, const char *path, const vd__cache_key *key, size_t *size) {
    uint64_t file_size = 0;
    bool trusted = true;
    vd__file file = vd__file_open_trusted(path, &file_size, &trusted);
    if (!trusted)
        vd__logf(host, VD_LOG_WARNING, "cache file '%s' is ignored: it must be a regular file, owned by this user or "
                 "root and not writable by others", path);
    if (file == VD__NO_FILE) return NULL;
    void *data = vd__cache_read(host, file, file_size, key, size);
    vd__file_close(file);
    if (!data)
        vd__logf(host, VD_LOG_WARNING, "cache file '%s' is ignored: it is damaged or belongs to another key", path);
    return data;
}

/* Returns the data stored under this key, to be freed, or NULL if there is no usable file. */
static void *vd__cache_load(const vd__host *host, const char *category, const vd__cache_key *key, size_t *size) {
    char path[VD__CACHE_PATH_CHARS];
    if (!vd__cache_path(host, category, key, path)) return NULL;
    void *data = vd__cache_load_path(host, path, key, size);
    vd__cache_counters *counters = host->cache_counters;
    if (counters) vd__atomic_add64(data ? &counters->hits : &counters->misses, 1);
    return data;
}

static bool vd__cache_write(vd__file file, const vd__cache_key *key, const void *data, size_t size) {
    vd__cache_header head;
    vd__cache_key sum = VD__CACHE_KEY_INIT;
    memset(&head, 0, sizeof head);
    memcpy(head.magic, VD__CACHE_MAGIC, sizeof head.magic);
    vd__cache_key_add(&sum, data, size);
    head.key = *key;
    head.sum = sum;
    head.size = size;
    return vd__file_write(file, &head, sizeof head) && vd__file_write(file, data, size);
}

/* Stores data under this key. Writes a temporary file and renames it, so that other programs never read an incomplete
   file. */
static void vd__cache_store(const vd__host *host, const char *category, const vd__cache_key *key, const void *data,
                            size_t size) {
    char path[VD__CACHE_PATH_CHARS], temporary[VD__CACHE_PATH_CHARS], error[128];
    if (!size || size > VD__CACHE_MAX_BYTES || !vd__cache_path(host, category, key, path)) return;
    snprintf(temporary, sizeof temporary, "%.*s.%llx", VD__CACHE_PATH_CHARS - 32, path,
             VD__U(vd__time_ns() ^ (uint64_t)(uintptr_t)&path * 0x9E3779B97F4A7C15u));
    vd__file file = vd__file_create(temporary);
    bool ok = file != VD__NO_FILE && vd__cache_write(file, key, data, size);
    if (file != VD__NO_FILE && !vd__file_close(file)) ok = false;
    if (ok) ok = vd__file_replace(temporary, path);
    if (ok && host->cache_counters) vd__atomic_add64(&host->cache_counters->writes, 1);
    if (ok) return;
    vd__file_error(error, sizeof error);
    vd__logf(host, VD_LOG_INFO, "cache file '%s' could not be written: %s", path, error);
    if (file != VD__NO_FILE) vd__file_delete(temporary);
}

VD__SMALL_END

// >>spirv
/* The SPIR-V grammar, and the decoder of modules. The decoder needs no context. It checks
     - that every instruction is known, ends inside the module, and has the operands that the grammar allows,
     - that ids are below the bound, are defined once, and are defined at all if they are used,
     - that types are defined before they are used,
     - that functions and blocks nest correctly.
   Its time is linear in the size of the module, and so is its memory, because the bound of the ids is limited. */

/* Grammar of an instruction. A letter for each operand:
     t  id of the result type         m  mask of a memory access, and its operands
     r  id of the result              p  pairs: a literal of the type of the first operand, and an id
     i  id                            c  literal of the result type
     n  literal of one word           o  opcode, and its operands after the result
     s  string
   The last letter applies to all remaining words. */
typedef struct vd__spirv_op {
    uint16_t opcode;
    uint8_t min_words, max_words; /* 255: no maximum */
    char position;                /* g: before all functions, b: inside a block, t: last instruction of a block, a:
                                     anywhere, s: see vd__spirv_check_position */
    char operands[8], name[34];   /* arrays: pointers would need relocations */
} vd__spirv_op;

/* SPIR-V grammar 1.6 revision 1: written by tools/spirv */
enum {
    VD__OpName = 5, VD__OpMemberName = 6, VD__OpExtInst = 12, VD__OpEntryPoint = 15, VD__OpExecutionMode = 16,
    VD__OpCapability = 17, VD__OpTypeVoid = 19, VD__OpTypeBool = 20, VD__OpTypeInt = 21, VD__OpTypeFloat = 22,
    VD__OpTypeVector = 23, VD__OpTypeMatrix = 24, VD__OpTypeArray = 28, VD__OpTypeRuntimeArray = 29,
    VD__OpTypeStruct = 30, VD__OpTypePointer = 32, VD__OpTypeFunction = 33, VD__OpTypeForwardPointer = 39,
    VD__OpConstantTrue = 41, VD__OpConstant = 43, VD__OpConstantComposite = 44, VD__OpSpecConstant = 50,
    VD__OpSpecConstantComposite = 51, VD__OpSpecConstantOp = 52, VD__OpFunction = 54, VD__OpFunctionParameter = 55,
    VD__OpFunctionEnd = 56, VD__OpFunctionCall = 57, VD__OpVariable = 59, VD__OpLoad = 61, VD__OpStore = 62,
    VD__OpCopyMemory = 63, VD__OpAccessChain = 65, VD__OpInBoundsAccessChain = 66, VD__OpDecorate = 71,
    VD__OpMemberDecorate = 72, VD__OpDecorationGroup = 73, VD__OpGroupDecorate = 74, VD__OpGroupMemberDecorate = 75,
    VD__OpConvertUToPtr = 120, VD__OpBitcast = 124, VD__OpAtomicLoad = 227, VD__OpAtomicStore = 228,
    VD__OpAtomicExchange = 229, VD__OpAtomicXor = 242, VD__OpLabel = 248, VD__OpReturnValue = 254,
    VD__OpExecutionModeId = 331, VD__OpAtomicFAddEXT = 6035
};
enum {
    VD__BuiltInWorkgroupSize = 25
};
enum {
    VD__CapabilityMatrix = 0, VD__CapabilityShader = 1, VD__CapabilityAddresses = 4, VD__CapabilityLinkage = 5,
    VD__CapabilityKernel = 6, VD__CapabilityFloat16 = 9, VD__CapabilityFloat64 = 10, VD__CapabilityInt64 = 11,
    VD__CapabilityInt64Atomics = 12, VD__CapabilityImageBasic = 13, VD__CapabilityInt16 = 22,
    VD__CapabilityUniformBufferArrayDynamicIndexing = 28, VD__CapabilityStorageBufferArrayDynamicIndexing = 30,
    VD__CapabilityInt8 = 39, VD__CapabilitySampled1D = 43, VD__CapabilityImage1D = 44, VD__CapabilitySampledBuffer = 46,
    VD__CapabilityImageBuffer = 47, VD__CapabilityStorageImageExtendedFormats = 49, VD__CapabilityImageQuery = 50,
    VD__CapabilityStorageImageReadWithoutFormat = 55, VD__CapabilityStorageImageWriteWithoutFormat = 56,
    VD__CapabilityGroupNonUniform = 61, VD__CapabilityGroupNonUniformVote = 62,
    VD__CapabilityGroupNonUniformArithmetic = 63, VD__CapabilityGroupNonUniformBallot = 64,
    VD__CapabilityGroupNonUniformShuffle = 65, VD__CapabilityGroupNonUniformShuffleRelative = 66,
    VD__CapabilityGroupNonUniformClustered = 67, VD__CapabilityGroupNonUniformQuad = 68,
    VD__CapabilitySubgroupBallotKHR = 4423, VD__CapabilitySubgroupVoteKHR = 4431,
    VD__CapabilityStorageBuffer16BitAccess = 4433, VD__CapabilityUniformAndStorageBuffer16BitAccess = 4434,
    VD__CapabilityStoragePushConstant16 = 4435, VD__CapabilityVariablePointersStorageBuffer = 4441,
    VD__CapabilityVariablePointers = 4442, VD__CapabilityStorageBuffer8BitAccess = 4448,
    VD__CapabilityUniformAndStorageBuffer8BitAccess = 4449, VD__CapabilityStoragePushConstant8 = 4450,
    VD__CapabilityDenormPreserve = 4464, VD__CapabilityDenormFlushToZero = 4465,
    VD__CapabilitySignedZeroInfNanPreserve = 4466, VD__CapabilityRoundingModeRTE = 4467,
    VD__CapabilityRoundingModeRTZ = 4468, VD__CapabilityShaderClockKHR = 5055, VD__CapabilityVulkanMemoryModel = 5345,
    VD__CapabilityVulkanMemoryModelDeviceScope = 5346, VD__CapabilityPhysicalStorageBufferAddresses = 5347,
    VD__CapabilityDotProductInputAll = 6016, VD__CapabilityDotProductInput4x8Bit = 6017,
    VD__CapabilityDotProductInput4x8BitPacked = 6018, VD__CapabilityDotProduct = 6019,
    VD__CapabilityAtomicFloat32AddEXT = 6033, VD__CapabilityAtomicFloat64AddEXT = 6034
};
enum {
    VD__DecorationSpecId = 1, VD__DecorationBufferBlock = 3, VD__DecorationRowMajor = 4, VD__DecorationArrayStride = 6,
    VD__DecorationMatrixStride = 7, VD__DecorationBuiltIn = 11, VD__DecorationNonWritable = 24,
    VD__DecorationNonReadable = 25, VD__DecorationBinding = 33, VD__DecorationDescriptorSet = 34,
    VD__DecorationOffset = 35
};
enum {
    VD__ExecutionModeLocalSize = 17, VD__ExecutionModeLocalSizeId = 38, VD__ExecutionModeMaximallyReconvergesKHR = 6023
};
enum {
    VD__ExecutionModelGLCompute = 5
};
enum {
    VD__MemoryAccessAligned = 2, VD__MemoryAccessMakePointerAvailable = 8, VD__MemoryAccessMakePointerVisible = 16
};
enum {
    VD__StorageClassUniformConstant = 0, VD__StorageClassUniform = 2, VD__StorageClassWorkgroup = 4,
    VD__StorageClassPushConstant = 9, VD__StorageClassStorageBuffer = 12, VD__StorageClassPhysicalStorageBuffer = 5349
};
static const vd__spirv_op vd__spirv_ops[] = {
    { 0, 1, 1, 'a', "", "OpNop" }, { 1, 3, 3, 'a', "tr", "OpUndef" }, { 2, 2, 255, 'g', "s", "OpSourceContinued" },
    { 3, 3, 255, 'g', "nnis", "OpSource" }, { 4, 2, 255, 'g', "s", "OpSourceExtension" },
    { 5, 3, 255, 'g', "is", "OpName" }, { 6, 4, 255, 'g', "ins", "OpMemberName" }, { 7, 3, 255, 'g', "rs", "OpString" },
    { 8, 4, 4, 'a', "in", "OpLine" }, { 10, 2, 255, 'g', "s", "OpExtension" },
    { 11, 3, 255, 'g', "rs", "OpExtInstImport" }, { 12, 5, 255, 'a', "trini", "OpExtInst" },
    { 14, 3, 3, 'g', "n", "OpMemoryModel" }, { 15, 4, 255, 'g', "nisi", "OpEntryPoint" },
    { 16, 3, 255, 'g', "in", "OpExecutionMode" }, { 17, 2, 2, 'g', "n", "OpCapability" },
    { 19, 2, 2, 'g', "r", "OpTypeVoid" }, { 20, 2, 2, 'g', "r", "OpTypeBool" }, { 21, 4, 4, 'g', "rn", "OpTypeInt" },
    { 22, 3, 3, 'g', "rn", "OpTypeFloat" }, { 23, 4, 4, 'g', "rin", "OpTypeVector" },
    { 24, 4, 4, 'g', "rin", "OpTypeMatrix" }, { 25, 9, 10, 'g', "rin", "OpTypeImage" },
    { 26, 2, 2, 'g', "r", "OpTypeSampler" }, { 27, 3, 3, 'g', "ri", "OpTypeSampledImage" },
    { 28, 4, 4, 'g', "ri", "OpTypeArray" }, { 29, 3, 3, 'g', "ri", "OpTypeRuntimeArray" },
    { 30, 2, 255, 'g', "ri", "OpTypeStruct" }, { 32, 4, 4, 'g', "rni", "OpTypePointer" },
    { 33, 3, 255, 'g', "ri", "OpTypeFunction" }, { 39, 3, 3, 'g', "in", "OpTypeForwardPointer" },
    { 41, 3, 3, 'g', "tr", "OpConstantTrue" }, { 42, 3, 3, 'g', "tr", "OpConstantFalse" },
    { 43, 4, 5, 'g', "trc", "OpConstant" }, { 44, 3, 255, 'g', "tri", "OpConstantComposite" },
    { 46, 3, 3, 'g', "tr", "OpConstantNull" }, { 48, 3, 3, 'g', "tr", "OpSpecConstantTrue" },
    { 49, 3, 3, 'g', "tr", "OpSpecConstantFalse" }, { 50, 4, 5, 'g', "trc", "OpSpecConstant" },
    { 51, 3, 255, 'g', "tri", "OpSpecConstantComposite" }, { 52, 4, 255, 'g', "tro", "OpSpecConstantOp" },
    { 54, 5, 5, 's', "trni", "OpFunction" }, { 55, 3, 3, 's', "tr", "OpFunctionParameter" },
    { 56, 1, 1, 's', "", "OpFunctionEnd" }, { 57, 4, 255, 'b', "tri", "OpFunctionCall" },
    { 59, 4, 5, 's', "trni", "OpVariable" }, { 60, 6, 6, 'b', "tri", "OpImageTexelPointer" },
    { 61, 4, 255, 'b', "trim", "OpLoad" }, { 62, 3, 255, 'b', "iim", "OpStore" },
    { 63, 3, 255, 'b', "iim", "OpCopyMemory" }, { 65, 4, 255, 'b', "tri", "OpAccessChain" },
    { 66, 4, 255, 'b', "tri", "OpInBoundsAccessChain" }, { 67, 5, 255, 'b', "tri", "OpPtrAccessChain" },
    { 68, 5, 5, 'b', "trin", "OpArrayLength" }, { 71, 3, 255, 'g', "in", "OpDecorate" },
    { 72, 4, 255, 'g', "in", "OpMemberDecorate" }, { 73, 2, 2, 'g', "r", "OpDecorationGroup" },
    { 74, 2, 255, 'g', "i", "OpGroupDecorate" }, { 75, 2, 255, 'g', "in", "OpGroupMemberDecorate" },
    { 77, 5, 5, 'b', "tri", "OpVectorExtractDynamic" }, { 78, 6, 6, 'b', "tri", "OpVectorInsertDynamic" },
    { 79, 5, 255, 'b', "triin", "OpVectorShuffle" }, { 80, 3, 255, 'b', "tri", "OpCompositeConstruct" },
    { 81, 4, 255, 'b', "trin", "OpCompositeExtract" }, { 82, 5, 255, 'b', "triin", "OpCompositeInsert" },
    { 83, 4, 4, 'b', "tri", "OpCopyObject" }, { 84, 4, 4, 'b', "tri", "OpTranspose" },
    { 86, 5, 5, 'b', "tri", "OpSampledImage" }, { 87, 5, 255, 'b', "triini", "OpImageSampleImplicitLod" },
    { 88, 6, 255, 'b', "triini", "OpImageSampleExplicitLod" },
    { 89, 6, 255, 'b', "triiini", "OpImageSampleDrefImplicitLod" },
    { 90, 7, 255, 'b', "triiini", "OpImageSampleDrefExplicitLod" },
    { 91, 5, 255, 'b', "triini", "OpImageSampleProjImplicitLod" },
    { 92, 6, 255, 'b', "triini", "OpImageSampleProjExplicitLod" },
    { 93, 6, 255, 'b', "triiini", "OpImageSampleProjDrefImplicitLod" },
    { 94, 7, 255, 'b', "triiini", "OpImageSampleProjDrefExplicitLod" }, { 95, 5, 255, 'b', "triini", "OpImageFetch" },
    { 96, 6, 255, 'b', "triiini", "OpImageGather" }, { 97, 6, 255, 'b', "triiini", "OpImageDrefGather" },
    { 98, 5, 255, 'b', "triini", "OpImageRead" }, { 99, 4, 255, 'b', "iiini", "OpImageWrite" },
    { 100, 4, 4, 'b', "tri", "OpImage" }, { 103, 5, 5, 'b', "tri", "OpImageQuerySizeLod" },
    { 104, 4, 4, 'b', "tri", "OpImageQuerySize" }, { 105, 5, 5, 'b', "tri", "OpImageQueryLod" },
    { 106, 4, 4, 'b', "tri", "OpImageQueryLevels" }, { 107, 4, 4, 'b', "tri", "OpImageQuerySamples" },
    { 109, 4, 4, 'b', "tri", "OpConvertFToU" }, { 110, 4, 4, 'b', "tri", "OpConvertFToS" },
    { 111, 4, 4, 'b', "tri", "OpConvertSToF" }, { 112, 4, 4, 'b', "tri", "OpConvertUToF" },
    { 113, 4, 4, 'b', "tri", "OpUConvert" }, { 114, 4, 4, 'b', "tri", "OpSConvert" },
    { 115, 4, 4, 'b', "tri", "OpFConvert" }, { 116, 4, 4, 'b', "tri", "OpQuantizeToF16" },
    { 117, 4, 4, 'b', "tri", "OpConvertPtrToU" }, { 120, 4, 4, 'b', "tri", "OpConvertUToPtr" },
    { 124, 4, 4, 'b', "tri", "OpBitcast" }, { 126, 4, 4, 'b', "tri", "OpSNegate" },
    { 127, 4, 4, 'b', "tri", "OpFNegate" }, { 128, 5, 5, 'b', "tri", "OpIAdd" }, { 129, 5, 5, 'b', "tri", "OpFAdd" },
    { 130, 5, 5, 'b', "tri", "OpISub" }, { 131, 5, 5, 'b', "tri", "OpFSub" }, { 132, 5, 5, 'b', "tri", "OpIMul" },
    { 133, 5, 5, 'b', "tri", "OpFMul" }, { 134, 5, 5, 'b', "tri", "OpUDiv" }, { 135, 5, 5, 'b', "tri", "OpSDiv" },
    { 136, 5, 5, 'b', "tri", "OpFDiv" }, { 137, 5, 5, 'b', "tri", "OpUMod" }, { 138, 5, 5, 'b', "tri", "OpSRem" },
    { 139, 5, 5, 'b', "tri", "OpSMod" }, { 140, 5, 5, 'b', "tri", "OpFRem" }, { 141, 5, 5, 'b', "tri", "OpFMod" },
    { 142, 5, 5, 'b', "tri", "OpVectorTimesScalar" }, { 143, 5, 5, 'b', "tri", "OpMatrixTimesScalar" },
    { 144, 5, 5, 'b', "tri", "OpVectorTimesMatrix" }, { 145, 5, 5, 'b', "tri", "OpMatrixTimesVector" },
    { 146, 5, 5, 'b', "tri", "OpMatrixTimesMatrix" }, { 147, 5, 5, 'b', "tri", "OpOuterProduct" },
    { 148, 5, 5, 'b', "tri", "OpDot" }, { 149, 5, 5, 'b', "tri", "OpIAddCarry" },
    { 150, 5, 5, 'b', "tri", "OpISubBorrow" }, { 151, 5, 5, 'b', "tri", "OpUMulExtended" },
    { 152, 5, 5, 'b', "tri", "OpSMulExtended" }, { 154, 4, 4, 'b', "tri", "OpAny" }, { 155, 4, 4, 'b', "tri", "OpAll" },
    { 156, 4, 4, 'b', "tri", "OpIsNan" }, { 157, 4, 4, 'b', "tri", "OpIsInf" },
    { 164, 5, 5, 'b', "tri", "OpLogicalEqual" }, { 165, 5, 5, 'b', "tri", "OpLogicalNotEqual" },
    { 166, 5, 5, 'b', "tri", "OpLogicalOr" }, { 167, 5, 5, 'b', "tri", "OpLogicalAnd" },
    { 168, 4, 4, 'b', "tri", "OpLogicalNot" }, { 169, 6, 6, 'b', "tri", "OpSelect" },
    { 170, 5, 5, 'b', "tri", "OpIEqual" }, { 171, 5, 5, 'b', "tri", "OpINotEqual" },
    { 172, 5, 5, 'b', "tri", "OpUGreaterThan" }, { 173, 5, 5, 'b', "tri", "OpSGreaterThan" },
    { 174, 5, 5, 'b', "tri", "OpUGreaterThanEqual" }, { 175, 5, 5, 'b', "tri", "OpSGreaterThanEqual" },
    { 176, 5, 5, 'b', "tri", "OpULessThan" }, { 177, 5, 5, 'b', "tri", "OpSLessThan" },
    { 178, 5, 5, 'b', "tri", "OpULessThanEqual" }, { 179, 5, 5, 'b', "tri", "OpSLessThanEqual" },
    { 180, 5, 5, 'b', "tri", "OpFOrdEqual" }, { 181, 5, 5, 'b', "tri", "OpFUnordEqual" },
    { 182, 5, 5, 'b', "tri", "OpFOrdNotEqual" }, { 183, 5, 5, 'b', "tri", "OpFUnordNotEqual" },
    { 184, 5, 5, 'b', "tri", "OpFOrdLessThan" }, { 185, 5, 5, 'b', "tri", "OpFUnordLessThan" },
    { 186, 5, 5, 'b', "tri", "OpFOrdGreaterThan" }, { 187, 5, 5, 'b', "tri", "OpFUnordGreaterThan" },
    { 188, 5, 5, 'b', "tri", "OpFOrdLessThanEqual" }, { 189, 5, 5, 'b', "tri", "OpFUnordLessThanEqual" },
    { 190, 5, 5, 'b', "tri", "OpFOrdGreaterThanEqual" }, { 191, 5, 5, 'b', "tri", "OpFUnordGreaterThanEqual" },
    { 194, 5, 5, 'b', "tri", "OpShiftRightLogical" }, { 195, 5, 5, 'b', "tri", "OpShiftRightArithmetic" },
    { 196, 5, 5, 'b', "tri", "OpShiftLeftLogical" }, { 197, 5, 5, 'b', "tri", "OpBitwiseOr" },
    { 198, 5, 5, 'b', "tri", "OpBitwiseXor" }, { 199, 5, 5, 'b', "tri", "OpBitwiseAnd" },
    { 200, 4, 4, 'b', "tri", "OpNot" }, { 201, 7, 7, 'b', "tri", "OpBitFieldInsert" },
    { 202, 6, 6, 'b', "tri", "OpBitFieldSExtract" }, { 203, 6, 6, 'b', "tri", "OpBitFieldUExtract" },
    { 204, 4, 4, 'b', "tri", "OpBitReverse" }, { 205, 4, 4, 'b', "tri", "OpBitCount" },
    { 207, 4, 4, 'b', "tri", "OpDPdx" }, { 208, 4, 4, 'b', "tri", "OpDPdy" }, { 209, 4, 4, 'b', "tri", "OpFwidth" },
    { 224, 4, 4, 'b', "i", "OpControlBarrier" }, { 225, 3, 3, 'b', "i", "OpMemoryBarrier" },
    { 227, 6, 6, 'b', "tri", "OpAtomicLoad" }, { 228, 5, 5, 'b', "i", "OpAtomicStore" },
    { 229, 7, 7, 'b', "tri", "OpAtomicExchange" }, { 230, 9, 9, 'b', "tri", "OpAtomicCompareExchange" },
    { 232, 6, 6, 'b', "tri", "OpAtomicIIncrement" }, { 233, 6, 6, 'b', "tri", "OpAtomicIDecrement" },
    { 234, 7, 7, 'b', "tri", "OpAtomicIAdd" }, { 235, 7, 7, 'b', "tri", "OpAtomicISub" },
    { 236, 7, 7, 'b', "tri", "OpAtomicSMin" }, { 237, 7, 7, 'b', "tri", "OpAtomicUMin" },
    { 238, 7, 7, 'b', "tri", "OpAtomicSMax" }, { 239, 7, 7, 'b', "tri", "OpAtomicUMax" },
    { 240, 7, 7, 'b', "tri", "OpAtomicAnd" }, { 241, 7, 7, 'b', "tri", "OpAtomicOr" },
    { 242, 7, 7, 'b', "tri", "OpAtomicXor" }, { 245, 3, 255, 'b', "tri", "OpPhi" },
    { 246, 4, 255, 'b', "iin", "OpLoopMerge" }, { 247, 3, 3, 'b', "in", "OpSelectionMerge" },
    { 248, 2, 2, 's', "r", "OpLabel" }, { 249, 2, 2, 't', "i", "OpBranch" },
    { 250, 4, 255, 't', "iiin", "OpBranchConditional" }, { 251, 3, 255, 't', "iip", "OpSwitch" },
    { 252, 1, 1, 't', "", "OpKill" }, { 253, 1, 1, 't', "", "OpReturn" }, { 254, 2, 2, 't', "i", "OpReturnValue" },
    { 255, 1, 1, 't', "", "OpUnreachable" }, { 317, 1, 1, 'a', "", "OpNoLine" },
    { 330, 2, 255, 'g', "s", "OpModuleProcessed" }, { 331, 3, 255, 'g', "ini", "OpExecutionModeId" },
    { 332, 3, 255, 'g', "ini", "OpDecorateId" }, { 333, 4, 4, 'b', "tri", "OpGroupNonUniformElect" },
    { 334, 5, 5, 'b', "tri", "OpGroupNonUniformAll" }, { 335, 5, 5, 'b', "tri", "OpGroupNonUniformAny" },
    { 336, 5, 5, 'b', "tri", "OpGroupNonUniformAllEqual" }, { 337, 6, 6, 'b', "tri", "OpGroupNonUniformBroadcast" },
    { 338, 5, 5, 'b', "tri", "OpGroupNonUniformBroadcastFirst" }, { 339, 5, 5, 'b', "tri", "OpGroupNonUniformBallot" },
    { 340, 5, 5, 'b', "tri", "OpGroupNonUniformInverseBallot" },
    { 341, 6, 6, 'b', "tri", "OpGroupNonUniformBallotBitExtract" },
    { 342, 6, 6, 'b', "trini", "OpGroupNonUniformBallotBitCount" },
    { 343, 5, 5, 'b', "tri", "OpGroupNonUniformBallotFindLSB" },
    { 344, 5, 5, 'b', "tri", "OpGroupNonUniformBallotFindMSB" }, { 345, 6, 6, 'b', "tri", "OpGroupNonUniformShuffle" },
    { 346, 6, 6, 'b', "tri", "OpGroupNonUniformShuffleXor" }, { 347, 6, 6, 'b', "tri", "OpGroupNonUniformShuffleUp" },
    { 348, 6, 6, 'b', "tri", "OpGroupNonUniformShuffleDown" }, { 349, 6, 7, 'b', "trini", "OpGroupNonUniformIAdd" },
    { 350, 6, 7, 'b', "trini", "OpGroupNonUniformFAdd" }, { 351, 6, 7, 'b', "trini", "OpGroupNonUniformIMul" },
    { 352, 6, 7, 'b', "trini", "OpGroupNonUniformFMul" }, { 353, 6, 7, 'b', "trini", "OpGroupNonUniformSMin" },
    { 354, 6, 7, 'b', "trini", "OpGroupNonUniformUMin" }, { 355, 6, 7, 'b', "trini", "OpGroupNonUniformFMin" },
    { 356, 6, 7, 'b', "trini", "OpGroupNonUniformSMax" }, { 357, 6, 7, 'b', "trini", "OpGroupNonUniformUMax" },
    { 358, 6, 7, 'b', "trini", "OpGroupNonUniformFMax" }, { 359, 6, 7, 'b', "trini", "OpGroupNonUniformBitwiseAnd" },
    { 360, 6, 7, 'b', "trini", "OpGroupNonUniformBitwiseOr" },
    { 361, 6, 7, 'b', "trini", "OpGroupNonUniformBitwiseXor" },
    { 362, 6, 7, 'b', "trini", "OpGroupNonUniformLogicalAnd" },
    { 363, 6, 7, 'b', "trini", "OpGroupNonUniformLogicalOr" },
    { 364, 6, 7, 'b', "trini", "OpGroupNonUniformLogicalXor" }, { 400, 4, 4, 'b', "tri", "OpCopyLogical" },
    { 401, 5, 5, 'b', "tri", "OpPtrEqual" }, { 402, 5, 5, 'b', "tri", "OpPtrNotEqual" },
    { 4416, 1, 1, 't', "", "OpTerminateInvocation" }, { 4421, 4, 4, 'b', "tri", "OpSubgroupBallotKHR" },
    { 4422, 4, 4, 'b', "tri", "OpSubgroupFirstInvocationKHR" }, { 4428, 4, 4, 'b', "tri", "OpSubgroupAllKHR" },
    { 4429, 4, 4, 'b', "tri", "OpSubgroupAnyKHR" }, { 4430, 4, 4, 'b', "tri", "OpSubgroupAllEqualKHR" },
    { 4432, 5, 5, 'b', "tri", "OpSubgroupReadInvocationKHR" }, { 4450, 5, 6, 'b', "triin", "OpSDot" },
    { 4451, 5, 6, 'b', "triin", "OpUDot" }, { 4452, 5, 6, 'b', "triin", "OpSUDot" },
    { 4453, 6, 7, 'b', "triiin", "OpSDotAccSat" }, { 4454, 6, 7, 'b', "triiin", "OpUDotAccSat" },
    { 4455, 6, 7, 'b', "triiin", "OpSUDotAccSat" }, { 5632, 3, 255, 'g', "ins", "OpDecorateString" },
    { 5633, 4, 255, 'g', "inns", "OpMemberDecorateString" }, { 6035, 7, 7, 'b', "tri", "OpAtomicFAddEXT" }
};
/* end of the SPIR-V grammar */

enum {
    VD__SPIRV_MAGIC = 0x07230203,
    VD__SPIRV_SWAPPED = 0x03022307,
    VD__SPIRV_HEAD = 5,           /* words before the first instruction */
    VD__SPIRV_LOW_OPCODES = 512,  /* opcodes below this are looked up in vd__spirv.index; the few others are searched */
    VD__SPIRV_FREE_IDS = 1 << 18, /* id bound that is allowed for every module, whatever its size */
    VD__SPIRV_MAX_IDS = 1 << 22   /* limit of the SPIR-V specification */
};

/* Flags of an id. */
enum {
    VD__SPIRV_POINTERS = 1,       /* a pointer type, or a type that contains pointers */
    VD__SPIRV_DECLARED = 2,       /* a pointer type that OpTypeForwardPointer declares */
    VD__SPIRV_PENDING = 4         /* used, but not defined yet */
};

typedef struct vd__spirv_id {
    uint32_t at;                  /* word of its definition; 0: none */
    uint32_t annotations;         /* end of its annotations in vd__spirv.annotations; they begin at the end of id - 1 */
    vd_type type;                 /* of scalar and vector types */
    uint32_t size;                /* bytes of a type in shared memory, by std430; saturates */
    uint8_t align, flags;
} vd__spirv_id;

/* A decoded module. Every id operand is the index of a defined id, or 0, which is never defined. */
typedef struct vd__spirv {
    const vd_allocator *allocator;
    const uint32_t *words;
    uint32_t *owned;              /* a copy of the words, if the caller's could not be used; else NULL */
    uint32_t count, bound;        /* number of words; ids are below `bound` */
    uint32_t functions;           /* word of the first OpFunction, or count: global instructions are before it */
    vd__spirv_id *ids;
    uint32_t *annotations;        /* words of OpName, OpMemberName, OpDecorate, OpMemberDecorate, sorted by target */
    uint16_t index[VD__SPIRV_LOW_OPCODES]; /* by opcode: 1 + index in vd__spirv_ops; 0: none */
} vd__spirv;

static uint32_t vd__spirv_opcode(const vd__spirv *m, uint32_t at) { return m->words[at] & 0xffffu; }
static uint32_t vd__spirv_length(const vd__spirv *m, uint32_t at) { return m->words[at] >> 16; }

/* Returns the opcode that defines an id, or 0 if none does. */
static uint32_t vd__spirv_defined_by(const vd__spirv *m, uint32_t id) {
    return id < m->bound && m->ids[id].at ? vd__spirv_opcode(m, m->ids[id].at) : 0;
}

/* Returns the instruction that defines an id. */
static const uint32_t *vd__spirv_definition(const vd__spirv *m, uint32_t id) { return m->words + m->ids[id].at; }

static bool vd__spirv_is_type(const vd__spirv *m, uint32_t id) {
    uint32_t op = vd__spirv_defined_by(m, id);
    return op >= VD__OpTypeVoid && op <= VD__OpTypeFunction;
}

/* Returns the grammar of an opcode, or NULL if it is not accepted. */
static const vd__spirv_op *vd__spirv_find_op(const vd__spirv *m, uint32_t opcode) {
    if (opcode < VD__SPIRV_LOW_OPCODES) return m->index[opcode] ? &vd__spirv_ops[m->index[opcode] - 1] : NULL;
    for (size_t i = VD__COUNT(vd__spirv_ops); i-- > 0 && vd__spirv_ops[i].opcode >= opcode;)
        if (vd__spirv_ops[i].opcode == opcode) return &vd__spirv_ops[i];
    return NULL;
}

/* Returns the id of a value's type, or 0 if the id is not a value. */
static uint32_t vd__spirv_type_of(const vd__spirv *m, uint32_t id) {
    const vd__spirv_op *op = vd__spirv_find_op(m, vd__spirv_defined_by(m, id));
    return op && op->operands[0] == 't' ? vd__spirv_definition(m, id)[1] : 0;
}

/* Returns the number of words of a literal of this type, or 0 if the type is not numeric. */
static uint32_t vd__spirv_literal_words(const vd__spirv *m, uint32_t type) {
    uint32_t op = vd__spirv_defined_by(m, type);
    return op == VD__OpTypeInt || op == VD__OpTypeFloat ? (m->ids[type].size + 3) / 4 : 0;
}

/* ---- operands ---- */

/* Iterator over the id operands of an instruction, without its result and the result's type. */
typedef struct vd__spirv_operands {
    const vd__spirv *m;
    const uint32_t *words;        /* of the instruction */
    const char *letters;          /* the grammar's letters, from the next operand on */
    uint32_t next, length;        /* word of the next operand; words of the instruction */
    uint32_t literals, ids;       /* words left of a mask or a pair */
    uint32_t id;                  /* the operand that vd__spirv_next_id found */
    const char *error;            /* NULL: none */
} vd__spirv_operands;

static void vd__spirv_operands_begin(const vd__spirv *m, uint32_t at, vd__spirv_operands *o) {
    const vd__spirv_op *op = vd__spirv_find_op(m, vd__spirv_opcode(m, at));
    uint32_t results = op->operands[0] == 't' ? 2 : op->operands[0] == 'r';
    o->m = m;
    o->words = m->words + at;
    o->letters = op->operands + results;
    o->next = 1 + results;
    o->length = vd__spirv_length(m, at);
    o->literals = o->ids = o->id = 0;
    o->error = NULL;
}

/* Skips a string, whose first word is the one before `next`. */
static void vd__spirv_skip_string(vd__spirv_operands *o, bool last) {
    const char *text = (const char *)(o->words + o->next - 1), *end;
    end = (const char *)memchr(text, 0, (size_t)(o->length - o->next + 1) * 4);
    if (!end) o->error = "a string is not terminated within its instruction";
    else o->next += (uint32_t)(end - text) / 4;
    if (end && last && o->next < o->length) o->error = "words follow the last operand";
}

/* Reads an operand that has more than one word, or that determines the operands after it. */
static void vd__spirv_read_operand(vd__spirv_operands *o, char letter, uint32_t word) {
    const vd__spirv_op *nested;
    switch (letter) {
    case 's': vd__spirv_skip_string(o, !*o->letters); break;
    case 'm':
        o->literals = word / VD__MemoryAccessAligned & 1u;
        o->ids = (word / VD__MemoryAccessMakePointerAvailable & 1u) + (word / VD__MemoryAccessMakePointerVisible & 1u);
        break;
    case 'p':
        o->literals = vd__spirv_literal_words(o->m, vd__spirv_type_of(o->m, o->words[1])) - 1;
        o->ids = 1;
        if (o->literals > 1) o->error = "the selector is not an integer that was defined before";
        break;
    case 'o':
        nested = vd__spirv_find_op(o->m, word);
        if (nested && nested->operands[0] == 't') o->letters = nested->operands + 2;
        else o->error = "the operation is not supported";
        break;
    case 0: o->error = "words follow the last operand"; break;
    default: break;
    }
}

/* Sets `id` to the next id operand. Returns false after the last one, or with `error` set if the operands are
   invalid. */
static bool vd__spirv_next_id(vd__spirv_operands *o) {
    while (o->next < o->length && !o->error) {
        uint32_t word = o->words[o->next++];
        char letter = o->literals ? 'n' : o->ids ? 'i' : *o->letters;
        if (o->literals) o->literals--;
        else if (o->ids) o->ids--;
        else if (letter && (o->letters[1] || letter == 's')) o->letters++;
        if (letter == 'i') {
            o->id = word;
            return true;
        }
        if (letter != 'n') vd__spirv_read_operand(o, letter, word);
    }
    if (!o->error && (o->literals || o->ids)) o->error = "the last operand is incomplete";
    return false;
}

VD__SMALL

/* ---- decoding ---- */

typedef struct vd__spirv_decoder {
    vd__spirv *m;
    uint32_t pending;             /* ids that are used, but not defined yet */
    uint32_t annotations_at, annotations_end; /* words between which all annotations are */
    uint32_t annotation_count;
    bool function, body, block;   /* inside a function; its first block has begun; inside a block */
} vd__spirv_decoder;

static VD__COLD vd_result vd__spirv_invalid(uint32_t at, const char *format, ...) VD__PRINTF(2, 3);
static vd_result vd__spirv_invalid(uint32_t at, const char *format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return vd__fail(VD_ERROR_COMPILE, "the SPIR-V is invalid at word %u: %s", (unsigned)at, text);
}

static VD__COLD vd_result vd__spirv_invalid_id(const vd__spirv *m, uint32_t at, uint32_t id) {
    return vd__spirv_invalid(at, "id %u is not in the range 1 to %u", (unsigned)id, (unsigned)(m->bound - 1));
}

static VD__COLD vd_result vd__spirv_not_a_type(uint32_t at, uint32_t id) {
    return vd__spirv_invalid(at, "id %u is not a type that was defined before", (unsigned)id);
}

static uint32_t vd__spirv_saturate(uint64_t x) { return x > UINT32_MAX ? UINT32_MAX : (uint32_t)x; }
/* Rounds up. An alignment of 0 belongs to a type without size. */
static uint64_t vd__spirv_aligned(uint64_t x, uint32_t align) { return align ? (x + align - 1) / align * align : x; }

/* Reads an integer constant; specialization constants have their default. Saturates at 32 bits. Returns false if the
   id is something else. */
static bool vd__spirv_constant(const vd__spirv *m, uint32_t id, uint32_t *out) {
    uint32_t op = vd__spirv_defined_by(m, id);
    const uint32_t *w = vd__spirv_definition(m, id);
    if (op != VD__OpConstant && op != VD__OpSpecConstant) return false;
    *out = w[0] >> 16 > 4 && w[4] ? UINT32_MAX : w[3];
    return vd__spirv_defined_by(m, w[1]) == VD__OpTypeInt;
}

static vd_result vd__spirv_array_length(const vd__spirv *m, uint32_t at, uint32_t *out) {
    uint32_t length = m->words[at + 3], op = vd__spirv_defined_by(m, length);
    if (op < VD__OpConstantTrue || op > VD__OpSpecConstantOp)
        return vd__spirv_invalid(at, "the length of an array (id %u) is not a constant", (unsigned)length);
    if (!vd__spirv_constant(m, length, out))
        return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V has an array whose length (id %u) is a constant expression, "
                        "which is not supported; fold it first (spirv-opt --fold-spec-const-op-composite)",
                        (unsigned)length);
    return *out ? VD_OK : vd__spirv_invalid(at, "the length of an array is 0");
}

static vd_result vd__spirv_scalar(uint32_t at, const uint32_t *w, vd__spirv_id *type) {
    static const vd_type ints[2][4] = { { VD_U8, VD_U16, VD_U32, VD_U64 }, { VD_I8, VD_I16, VD_I32, VD_I64 } };
    bool is_float = (w[0] & 0xffffu) == VD__OpTypeFloat;
    uint32_t bits = w[2];
    if (is_float && bits != 16 && bits != 32 && bits != 64)
        return vd__spirv_invalid(at, "a float type has %u bits, but it must have 16, 32 or 64", (unsigned)bits);
    if (!is_float && ((bits != 8 && bits != 16 && bits != 32 && bits != 64) || w[3] > 1))
        return vd__spirv_invalid(at, "an integer type has %u bits and signedness %u, but it must have 8, 16, 32 or 64 "
                                 "bits and signedness 0 or 1", (unsigned)bits, (unsigned)w[3]);
    uint32_t log2_bytes = vd__log2(bits) - 3;
    type->type = is_float ? VD_F16 + log2_bytes - 1 : ints[w[3]][log2_bytes];
    type->size = bits / 8;
    type->align = (uint8_t)(bits / 8);
    return VD_OK;
}

/* Vectors, matrices and arrays. */
static vd_result vd__spirv_repeated(const vd__spirv *m, uint32_t at, const uint32_t *w, vd__spirv_id *type) {
    uint32_t op = w[0] & 0xffffu, part_op = vd__spirv_defined_by(m, w[2]), count = w[3];
    const vd__spirv_id *part = &m->ids[w[2]];
    uint8_t align = part->align;
    bool few = count >= 2 && count <= 4;
    if (op == VD__OpTypeVector) {
        if (!few || part_op < VD__OpTypeBool || part_op > VD__OpTypeFloat)
            return vd__spirv_invalid(at, "a vector type has %u components of type %u, but it must have 2 to 4 scalars",
                                     (unsigned)count, (unsigned)w[2]);
        align = (uint8_t)(align * (count == 2 ? 2 : 4));
        if (part->type) type->type = part->type + 16 * (count - 1);
    }
    if (op == VD__OpTypeMatrix && (!few || part_op != VD__OpTypeVector))
        return vd__spirv_invalid(at, "a matrix type has %u columns of type %u, but it must have 2 to 4 vectors",
                                 (unsigned)count, (unsigned)w[2]);
    vd_result r = op == VD__OpTypeArray ? vd__spirv_array_length(m, at, &count) : VD_OK;
    type->size = r ? 0 : vd__spirv_saturate(vd__spirv_aligned(part->size, part->align) * count);
    type->align = align;
    return r;
}

static void vd__spirv_struct(const vd__spirv *m, const uint32_t *w, vd__spirv_id *type) {
    uint64_t size = 0;
    type->align = 1;
    for (uint32_t i = 2; i < w[0] >> 16; i++) {
        const vd__spirv_id *part = &m->ids[w[i]];
        if (part->align > type->align) type->align = part->align;
        size = vd__spirv_saturate(vd__spirv_aligned(size, part->align) + part->size);
    }
    type->size = vd__spirv_saturate(vd__spirv_aligned(size, type->align));
}

/* Sets size, alignment and flags of a type. Its parts are defined before it, so each type is visited once. */
static vd_result vd__spirv_type(const vd__spirv *m, uint32_t at) {
    const uint32_t *w = m->words + at;
    vd__spirv_id *type = &m->ids[w[1]];
    vd_result r = VD_OK;
    switch (w[0] & 0xffffu) {
    case VD__OpTypeInt: case VD__OpTypeFloat: return vd__spirv_scalar(at, w, type);
    case VD__OpTypeVector: case VD__OpTypeMatrix: case VD__OpTypeArray: r = vd__spirv_repeated(m, at, w, type); break;
    case VD__OpTypeStruct: vd__spirv_struct(m, w, type); break;
    case VD__OpTypeRuntimeArray: break;
    case VD__OpTypeBool: type->size = type->align = 4; return VD_OK;
    case VD__OpTypePointer:
        type->size = type->align = 8;
        type->flags |= VD__SPIRV_POINTERS;
        return VD_OK;
    default: return VD_OK;
    }
    uint32_t end = (w[0] & 0xffffu) == VD__OpTypeStruct ? w[0] >> 16 : 3;
    for (uint32_t i = 2; i < end; i++)
        if (m->ids[w[i]].flags & (VD__SPIRV_POINTERS | VD__SPIRV_DECLARED)) type->flags |= VD__SPIRV_POINTERS;
    return r;
}

/* Defines the result of an instruction. */
static vd_result vd__spirv_define(vd__spirv_decoder *d, uint32_t at, const vd__spirv_op *op) {
    const uint32_t *w = d->m->words + at;
    bool typed = op->operands[0] == 't';
    uint32_t id = w[typed ? 2 : 1];
    if (typed && !vd__spirv_is_type(d->m, w[1])) return vd__spirv_not_a_type(at, w[1]);
    if (!id || id >= d->m->bound) return vd__spirv_invalid_id(d->m, at, id);
    vd__spirv_id *defined = &d->m->ids[id];
    if (defined->at) return vd__spirv_invalid(at, "id %u is defined twice", (unsigned)id);
    if (defined->flags & VD__SPIRV_DECLARED && op->opcode != VD__OpTypePointer)
        return vd__spirv_invalid(at, "id %u was declared as a pointer type, but %s defines it", (unsigned)id, op->name);
    if (defined->flags & VD__SPIRV_PENDING) d->pending--;
    defined->at = at;
    return VD_OK;
}

/* Checks the operands of an instruction. The types that a type consists of must be defined before it. */
static vd_result vd__spirv_check_operands(vd__spirv_decoder *d, uint32_t at, const vd__spirv_op *op) {
    vd__spirv *m = d->m;
    bool type = op->opcode >= VD__OpTypeVoid && op->opcode <= VD__OpTypeFunction;
    vd__spirv_operands o;
    vd__spirv_operands_begin(m, at, &o);
    while (vd__spirv_next_id(&o)) {
        if (!o.id && op->opcode == VD__OpExtInst) continue; /* in debug information of glslang 12 */
        if (!o.id || o.id >= m->bound) return vd__spirv_invalid_id(m, at, o.id);
        vd__spirv_id *used = &m->ids[o.id];
        bool array_length = op->opcode == VD__OpTypeArray && o.next == 4;
        if (type && !array_length && !(used->flags & VD__SPIRV_DECLARED) && !vd__spirv_is_type(m, o.id))
            return vd__spirv_not_a_type(at, o.id);
        if (used->at || used->flags & VD__SPIRV_PENDING) continue;
        used->flags |= VD__SPIRV_PENDING;
        d->pending++;
    }
    return o.error ? vd__spirv_invalid(at, "%s: %s", op->name, o.error) : VD_OK;
}

/* Checks the position of an instruction: global instructions before all functions, others inside a block. */
static vd_result vd__spirv_check_position(vd__spirv_decoder *d, uint32_t at, const vd__spirv_op *op) {
    vd__spirv *m = d->m;
    bool global = op->position == 'g' || (op->opcode == VD__OpVariable && !d->function);
    bool inside = op->position == 'b' || op->position == 't' || (op->opcode == VD__OpVariable && d->function);
    if (global && m->functions) return vd__spirv_invalid(at, "%s must be before all functions", op->name);
    if (inside && !d->block) return vd__spirv_invalid(at, "%s is outside a block", op->name);
    if (op->position == 't') d->block = false;
    switch (op->opcode) {
    case VD__OpFunction:
        if (d->function) return vd__spirv_invalid(at, "a function begins inside another function");
        if (!m->functions) m->functions = at;
        d->function = true;
        d->body = false;
        break;
    case VD__OpFunctionParameter:
        if (!d->function || d->body)
            return vd__spirv_invalid(at, "OpFunctionParameter is not at the start of a function");
        break;
    case VD__OpFunctionEnd:
        if (!d->function || d->block || !d->body)
            return vd__spirv_invalid(at, "OpFunctionEnd is %s", !d->function ? "outside a function"
                                     : d->block ? "inside a block" : "in a function without a body");
        d->function = false;
        break;
    case VD__OpLabel:
        if (!d->function || d->block)
            return vd__spirv_invalid(at, "a block begins %s", d->function ? "inside another block"
                                                                          : "outside a function");
        d->block = d->body = true;
        break;
    default: break;
    }
    return VD_OK;
}

static bool vd__spirv_annotates(uint32_t op) {
    return op == VD__OpName || op == VD__OpMemberName || op == VD__OpDecorate || op == VD__OpMemberDecorate;
}

/* Counts an annotation. Checks that a decoration has its operand, if the reflection reads it. */
static vd_result vd__spirv_annotate(vd__spirv_decoder *d, uint32_t at, uint32_t op) {
    const uint32_t *w = d->m->words + at;
    uint32_t operands = op == VD__OpDecorate ? 3 : op == VD__OpMemberDecorate ? 4 : 0;
    if (!d->annotation_count++) d->annotations_at = at;
    d->annotations_end = at + (w[0] >> 16);
    d->m->ids[w[1]].annotations++;
    if (!operands || w[0] >> 16 > operands) return VD_OK;
    switch (w[operands - 1]) {
    case VD__DecorationSpecId: case VD__DecorationArrayStride: case VD__DecorationMatrixStride:
    case VD__DecorationBuiltIn: case VD__DecorationBinding: case VD__DecorationDescriptorSet: case VD__DecorationOffset:
        return vd__spirv_invalid(at, "decoration %u has no operand", (unsigned)w[operands - 1]);
    default: return VD_OK;
    }
}

/* Records types, annotations and forward declarations. Checks variables and constants against their types. */
static vd_result vd__spirv_record(vd__spirv_decoder *d, uint32_t at, uint32_t op) {
    const uint32_t *w = d->m->words + at, *type;
    vd__spirv_id *declared;
    if (op >= VD__OpTypeVoid && op <= VD__OpTypeFunction) return vd__spirv_type(d->m, at);
    if (vd__spirv_annotates(op)) return vd__spirv_annotate(d, at, op);
    switch (op) {
    case VD__OpTypeForwardPointer:
        declared = &d->m->ids[w[1]];
        if (declared->at && vd__spirv_defined_by(d->m, w[1]) != VD__OpTypePointer)
            return vd__spirv_invalid(at, "id %u is declared as a pointer type, but is not one", (unsigned)w[1]);
        declared->flags |= VD__SPIRV_DECLARED;
        declared->size = declared->align = 8;
        return VD_OK;
    case VD__OpVariable:
        type = vd__spirv_definition(d->m, w[1]);
        if ((type[0] & 0xffffu) == VD__OpTypePointer && type[2] == w[3]) return VD_OK;
        return vd__spirv_invalid(at, "the type %u of a variable is not a pointer to its storage class", (unsigned)w[1]);
    case VD__OpConstant: case VD__OpSpecConstant:
        if (vd__spirv_literal_words(d->m, w[1]) + 3 == w[0] >> 16) return VD_OK;
        return vd__spirv_invalid(at, "a constant of type %u has %u words, but its type has %u", (unsigned)w[1],
                                 (unsigned)(w[0] >> 16) - 3, (unsigned)vd__spirv_literal_words(d->m, w[1]));
    default: return VD_OK;
    }
}

/* Checks an instruction against the grammar, and records what it defines or declares. */
static vd_result vd__spirv_instruction(vd__spirv_decoder *d, uint32_t at) {
    uint32_t opcode = vd__spirv_opcode(d->m, at), length = vd__spirv_length(d->m, at), left = d->m->count - at;
    const vd__spirv_op *op = vd__spirv_find_op(d->m, opcode);
    if (!op)
        return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V has instruction %u at word %u, which is not supported",
                        (unsigned)opcode, (unsigned)at);
    if (!length || length > left)
        return vd__spirv_invalid(at, "%s has %u words, but %u are left", op->name, (unsigned)length, (unsigned)left);
    if (length < op->min_words)
        return vd__spirv_invalid(at, "%s has %u words, but it needs at least %u", op->name, (unsigned)length,
                                 (unsigned)op->min_words);
    if (length > op->max_words && op->max_words < 255)
        return vd__spirv_invalid(at, "%s has %u words, but it may have at most %u", op->name, (unsigned)length,
                                 (unsigned)op->max_words);
    vd_result r = vd__spirv_check_operands(d, at, op);
    if (!r) r = vd__spirv_check_position(d, at, op);
    if (!r && (op->operands[0] == 't' || op->operands[0] == 'r')) r = vd__spirv_define(d, at, op);
    return r ? r : vd__spirv_record(d, at, opcode);
}

/* Sorts the annotations by their target (counting sort). */
static vd_result vd__spirv_sort_annotations(const vd__spirv_decoder *d) {
    vd__spirv *m = d->m;
    uint32_t sum = 0;
    m->annotations = (uint32_t *)vd__alloc(m->allocator, d->annotation_count * sizeof *m->annotations);
    if (!m->annotations) return vd__fail_memory(NULL, NULL, 0);
    for (uint32_t id = 0; id < m->bound; id++) {
        uint32_t count = m->ids[id].annotations;
        m->ids[id].annotations = sum;
        sum += count;
    }
    for (uint32_t at = d->annotations_at; at < d->annotations_end; at += vd__spirv_length(m, at))
        if (vd__spirv_annotates(vd__spirv_opcode(m, at))) m->annotations[m->ids[m->words[at + 1]].annotations++] = at;
    return VD_OK;
}

/* Copies the words, unless they already are a copy. Returns NULL if memory runs out. */
static uint32_t *vd__spirv_own(vd__spirv *m) {
    size_t bytes = (size_t)m->count * 4;
    if (m->owned) return m->owned;
    m->owned = (uint32_t *)vd__alloc(m->allocator, bytes);
    if (!m->owned) return NULL;
    memcpy(m->owned, m->words, bytes);
    m->words = m->owned;
    return m->owned;
}

/* Sets the words, in the byte order of this machine: the caller's if they are aligned and in this order, else a
   copy. */
static vd_result vd__spirv_open(vd__spirv *m, const void *code, size_t size) {
    uint32_t first;
    if (!code) return vd__fail(VD_ERROR_INVALID, "desc.code is NULL");
    if (size % 4 || size < VD__SPIRV_HEAD * 4 || size > UINT32_MAX)
        return vd__fail(VD_ERROR_COMPILE, "the SPIR-V has %llu bytes, but the size of a module is a multiple of 4 and "
                        "at least %d", VD__U(size), VD__SPIRV_HEAD * 4);
    memcpy(&first, code, 4);
    if (first != VD__SPIRV_MAGIC && first != VD__SPIRV_SWAPPED)
        return vd__fail(VD_ERROR_COMPILE, "the code is not SPIR-V: it begins with 0x%08x, but the magic number is "
                        "0x%08x", (unsigned)first, (unsigned)VD__SPIRV_MAGIC);
    m->words = (const uint32_t *)code;
    m->count = (uint32_t)(size / 4);
    if (first == VD__SPIRV_MAGIC && (uintptr_t)code % 4 == 0) return VD_OK;
    if (!vd__spirv_own(m)) return vd__fail_memory(NULL, NULL, 0);
    for (uint32_t i = 0; first == VD__SPIRV_SWAPPED && i < m->count; i++)
        m->owned[i] = vd__swap_bytes(m->owned[i]);
    return VD_OK;
}

/* Checks the head: version and bound of the ids. */
static vd_result vd__spirv_check_head(const vd__spirv *m) {
    uint32_t version = m->words[1], minor = (version >> 8) & 0xffu;
    uint64_t limit = (uint64_t)m->count * 16 + VD__SPIRV_FREE_IDS;
    if (limit > VD__SPIRV_MAX_IDS) limit = VD__SPIRV_MAX_IDS;
    if (version != (0x10000u | minor << 8) || minor > 6)
        return vd__fail(VD_ERROR_COMPILE, "the SPIR-V has version 0x%08x, but only 1.0 to 1.6 are supported",
                        (unsigned)version);
    if (m->bound && m->bound <= limit) return VD_OK;
    return vd__fail(VD_ERROR_COMPILE, "the SPIR-V has an id bound of %u, but a module of %u words must have 1 to %u%s",
                    (unsigned)m->bound, (unsigned)m->count, (unsigned)limit,
                    m->bound ? " (spirv-opt --compact-ids renumbers ids)" : "");
}

/* Decodes all instructions. On failure the caller frees `m`. */
static vd_result vd__spirv_decode_words(vd__spirv *m) {
    vd__spirv_decoder d;
    vd_result r = vd__spirv_check_head(m);
    if (r) return r;
    memset(&d, 0, sizeof d);
    d.m = m;
    for (uint32_t i = 0; i < VD__COUNT(vd__spirv_ops); i++)
        if (vd__spirv_ops[i].opcode < VD__SPIRV_LOW_OPCODES) m->index[vd__spirv_ops[i].opcode] = (uint16_t)(i + 1);
    m->ids = (vd__spirv_id *)vd__alloc_zeroed(m->allocator, m->bound * sizeof *m->ids);
    if (!m->ids) return vd__fail_memory(NULL, NULL, 0);
    for (uint32_t at = VD__SPIRV_HEAD; at < m->count && !r; at += vd__spirv_length(m, at))
        r = vd__spirv_instruction(&d, at);
    if (r) return r;
    if (d.function) return vd__spirv_invalid(m->count, "the last function has no OpFunctionEnd");
    for (uint32_t id = 0; d.pending && id < m->bound; id++)
        if (m->ids[id].flags & VD__SPIRV_PENDING && !m->ids[id].at)
            return vd__fail(VD_ERROR_COMPILE, "the SPIR-V is invalid: id %u is used, but not defined", (unsigned)id);
    if (!m->functions) m->functions = m->count;
    return vd__spirv_sort_annotations(&d);
}

static void vd__spirv_free(vd__spirv *m) {
    vd__free(m->allocator, m->annotations);
    vd__free(m->allocator, m->ids);
    vd__free(m->allocator, m->owned);
}

/* Decodes a module. The code must stay in place. On success the caller calls vd__spirv_free. */
static vd_result vd__spirv_decode(vd__spirv *m, const vd_allocator *allocator, const void *code, size_t size) {
    memset(m, 0, sizeof *m);
    m->allocator = allocator;
    vd_result r = vd__spirv_open(m, code, size);
    if (!r) {
        m->bound = m->words[3];
        r = vd__spirv_decode_words(m);
    }
    if (r) vd__spirv_free(m);
    return r;
}

/* ---- annotations ---- */

/* Returns the first annotation of an id by the instruction `op` with this member and decoration, or NULL. An operand
   that `op` does not have is ignored. */
static const uint32_t *vd__spirv_annotation(const vd__spirv *m, uint32_t id, uint32_t op, uint32_t member,
                                            uint32_t decoration) {
    for (uint32_t i = m->ids[id - 1].annotations; i < m->ids[id].annotations; i++) {
        const uint32_t *w = m->words + m->annotations[i];
        if ((w[0] & 0xffffu) != op) continue;
        if ((op == VD__OpMemberName || op == VD__OpMemberDecorate) && w[2] != member) continue;
        if (op == VD__OpDecorate && w[2] != decoration) continue;
        if (op == VD__OpMemberDecorate && w[3] != decoration) continue;
        return w;
    }
    return NULL;
}

/* Returns whether an id has a decoration. If so, sets *out to its operand; otherwise *out is unchanged. */
static bool vd__spirv_decoration(const vd__spirv *m, uint32_t id, uint32_t decoration, uint32_t *out) {
    const uint32_t *w = vd__spirv_annotation(m, id, VD__OpDecorate, 0, decoration);
    if (w && out) *out = w[3];
    return w != NULL;
}

static bool vd__spirv_member_decoration(const vd__spirv *m, uint32_t type, uint32_t member, uint32_t decoration,
                                        uint32_t *out) {
    const uint32_t *w = vd__spirv_annotation(m, type, VD__OpMemberDecorate, member, decoration);
    if (w && out) *out = w[4];
    return w != NULL;
}

/* Returns the name of an id, or NULL if it has none. */
static const char *vd__spirv_name(const vd__spirv *m, uint32_t id) {
    const uint32_t *w = vd__spirv_annotation(m, id, VD__OpName, 0, 0);
    return w && *(const char *)(w + 2) ? (const char *)(w + 2) : NULL;
}

static const char *vd__spirv_member_name(const vd__spirv *m, uint32_t type, uint32_t member) {
    const uint32_t *w = vd__spirv_annotation(m, type, VD__OpMemberName, member, 0);
    return w && *(const char *)(w + 3) ? (const char *)(w + 3) : NULL;
}

// >>dummy
/* The backend without a device. Its limits come from vd_context_desc.dummy. It executes transfers, but not kernels. */

static const vd__backend vd__backend_dummy = { VD_BACKEND_DUMMY, "dummy", { VD_CODE_SPIRV, VD_CODE_CUDA, VD_CODE_PTX,
    VD_CODE_CUBIN, VD_CODE_OPENCL, VD_CODE_DEFAULT }, VD__BACKEND_OPERATIONS(VD__BACKEND_DUMMY_ENTRY) };

enum { VD__DUMMY_DEVICE, VD__DUMMY_UPLOAD, VD__DUMMY_READBACK }; /* memory types */

typedef struct vd__dummy_device {
    uint64_t used_bytes[3];    /* by memory type */
    uint64_t timelines[VD_MAX_QUEUES]; /* submissions complete before queue_submit returns */
} vd__dummy_device;

static vd__dummy_device *vd__dummy_of(vd__device *dev) { return (vd__dummy_device *)dev->native; }
static uint8_t *vd__dummy_bytes(const vd__memory *m) { return (uint8_t *)(uintptr_t)m->native[0]; }
static const vd_allocator *vd__dummy_allocator(vd__device *dev) { return &dev->driver->host->allocator; }

/* Sets defaults for the facts that must not be 0. */
static void vd__dummy_facts(vd_facts *f) {
    f->executes = false;
    if (!f->code) f->code = VD_CODE_SPIRV;
    if (!f->concurrent_groups) f->concurrent_groups = VD__GROUPS_PER_UNIT * VD__LARGE_GPU_UNITS;
}

/* Describes the device: the caller's description, with typical values of a desktop GPU for fields that are zero. */
static void vd__dummy_info(const vd_device_info *desc, vd_device_info *out) {
    static const vd_limits typical = {
        { 65535, 65535, 65535 }, { 1024, 1024, 64 }, 1024, 48 << 10, 128, 16, 16, 32, 32, 32, 1ull << 31, 1ull << 31, 0
    };
    memset(out, 0, sizeof *out);
    if (desc) *out = *desc;
    else {
        out->features = ((1u << 14) - 1) | VD_FEATURE_F64_ROUND | VD_FEATURE_SHUFFLE_64 | VD_FEATURE_UNPACK_HALF
                        | VD_FEATURE_CACHED | VD_FEATURE_COHERENT | VD_FEATURE_QUEUES | VD_FEATURE_SHARING;
        out->timestamp_ns = 1;
        out->type = VD_DEVICE_DISCRETE;
        out->facts.forward_progress = true;
    }
    vd__dummy_facts(&out->facts);
    out->backend = VD_BACKEND_DUMMY;
    out->index = 0;
    if (!out->name[0]) memcpy(out->name, "dummy", sizeof "dummy");
    if (!out->device_memory) out->device_memory = 4ull << 30;
    if (!desc) out->host_memory = 16ull << 30;
    if (!out->api_version[0]) out->api_version[0] = 1;
    vd_limits *l = &out->limits;
#define VD__DUMMY_TYPICAL(field) if (!l->field) l->field = typical.field
    for (int i = 0; i < 3; i++) {
        VD__DUMMY_TYPICAL(max_groups[i]);
        VD__DUMMY_TYPICAL(max_local_size[i]);
    }
    VD__DUMMY_TYPICAL(max_local_invocations);
    VD__DUMMY_TYPICAL(max_shared_bytes);
    VD__DUMMY_TYPICAL(max_push_bytes);
    VD__DUMMY_TYPICAL(max_bindings);
    VD__DUMMY_TYPICAL(binding_alignment);
    VD__DUMMY_TYPICAL(subgroup_size);
    VD__DUMMY_TYPICAL(min_subgroup_size);
    VD__DUMMY_TYPICAL(max_subgroup_size);
    VD__DUMMY_TYPICAL(max_binding_bytes);
    VD__DUMMY_TYPICAL(max_buffer_bytes);
#undef VD__DUMMY_TYPICAL
}

static vd_result vd__dummy_driver_open(vd__driver *driver) {
    (void)driver;
    return VD_OK;
}

static int vd__dummy_driver_devices(vd__driver *driver, vd_device_info *out, int capacity) {
    if (capacity > 0) vd__dummy_info(driver->host->dummy, out);
    return 1;
}

static void vd__dummy_driver_close(vd__driver *driver) { (void)driver; }

static vd_result vd__dummy_device_open(vd__driver *driver, int index, uint64_t disable, vd__device *dev) {
    if (index != 0) return vd__fail(VD_ERROR_NO_DEVICE, "the device index is %d, but there is 1 device", index);
    dev->driver = driver;
    dev->native = vd__alloc_zeroed(&driver->host->allocator, sizeof(vd__dummy_device));
    if (!dev->native) return vd__fail_memory(NULL, NULL, 0);
    vd__dummy_info(driver->host->dummy, &dev->info);
    dev->sharing_mask = 1u << VD__SHARE_ADDRESS | 1u << VD__SHARE_HOST;
    /* without `disable`, the features are exactly those of the description, also if one depends on a missing one */
    if (disable) dev->info.features = vd__features_without(dev->info.features, disable);
    if (!(dev->info.features & VD_FEATURE_TIMESTAMP)) dev->info.timestamp_ns = 0;
    return VD_OK;
}

static void vd__dummy_device_close(vd__device *dev) {
    vd__free(vd__dummy_allocator(dev), dev->native);
    dev->native = NULL;
}

static uint64_t vd__dummy_capacity(const vd__device *dev, uint32_t type) {
    return type == VD__DUMMY_DEVICE || !dev->info.host_memory ? dev->info.device_memory : dev->info.host_memory;
}

static vd_result vd__dummy_block_create(vd__device *dev, vd__block *block) {
    uint64_t *used_bytes = &vd__dummy_of(dev)->used_bytes[block->type], capacity = vd__dummy_capacity(dev, block->type);
    if (block->size > capacity - *used_bytes)
        return vd__error_add_out_of_memory(vd__fail(VD_ERROR_OUT_OF_DEVICE_MEMORY,
                                                   "a block needs %llu bytes, but %llu of %llu bytes are in use",
                                                   VD__U(block->size), VD__U(*used_bytes), VD__U(capacity)));
    void *bytes = vd__alloc(vd__dummy_allocator(dev), (size_t)block->size);
    if (!bytes) return vd__fail_memory(NULL, NULL, block->size);
    *used_bytes += block->size;
    block->native[0] = (uintptr_t)bytes;
    block->mapped = block->type != VD__DUMMY_DEVICE || dev->info.shared_memory ? (uint8_t *)bytes : NULL;
    block->host_cached = block->type != VD__DUMMY_UPLOAD;
    block->coherent = true;
    return VD_OK;
}

static vd_result vd__dummy_block_import(vd__device *dev, vd__block *block, const vd__memory_requirements *need,
                                        const vd__import_source *from, uint64_t *offset) {
    (void)dev, (void)offset;
    block->native[0] = from->handle;
    block->mapped = need->sharing == VD__SHARE_HOST ? (uint8_t *)(uintptr_t)from->handle : NULL;
    block->host_cached = block->coherent = true;
    return VD_OK;
}

static void vd__dummy_block_destroy(vd__device *dev, vd__block *block) {
    if (block->sharing) return;
    vd__dummy_of(dev)->used_bytes[block->type] -= block->size;
    vd__free(vd__dummy_allocator(dev), (void *)(uintptr_t)block->native[0]);
}

static uint32_t vd__dummy_memory_types(vd__device *dev, vd_memory usage, uint32_t mask) {
    (void)dev;
    return mask
           & (1u << (usage == VD_MEMORY_DEVICE   ? VD__DUMMY_DEVICE
                     : usage == VD_MEMORY_UPLOAD ? VD__DUMMY_UPLOAD
                                                 : VD__DUMMY_READBACK));
}

static vd_result vd__dummy_memory_create(vd__device *dev, vd__memory *m, vd__memory_requirements *need) {
    need->size = m->size;
    need->align = dev->info.limits.binding_alignment;
    need->types = 7;
    return VD_OK;
}

static vd_result vd__dummy_memory_bind(vd__device *dev, vd__memory *m) {
    m->native[0] = m->block->native[0] + m->offset;
    m->address = dev->info.features & VD_FEATURE_ADDRESS ? m->native[0] : 0;
    return VD_OK;
}

static vd_result vd__dummy_kernel_create(vd__device *dev, const vd_kernel_desc *desc, vd__kernel_code *code) {
    (void)dev, (void)desc, (void)code;
    return VD_OK;
}

static void vd__dummy_kernel_destroy(vd__device *dev, vd__kernel_code *code) { (void)dev, (void)code; }

/* There is no command buffer: calls `record` with NULL. */
static vd_result vd__dummy_record_native(vd__device *dev, vd__commands *c,
                                         vd_result (*record)(void *user, void *commands), void *user) {
    (void)dev, (void)c;
    return record(user, NULL);
}

static vd_result vd__dummy_play_launch(void *user, const vd__tape_launch *launch) {
    (void)user, (void)launch;
    return VD_OK;
}

static vd_result vd__dummy_play_copy(void *user, const vd__tape_copy *copy) {
    const vd__copy_range *ranges = vd__tape_ranges(copy);
    (void)user;
    for (uint64_t i = 0; i < copy->count; i++)
        memcpy(vd__dummy_bytes(copy->to) + ranges[i].to, vd__dummy_bytes(copy->from) + ranges[i].from,
               (size_t)ranges[i].size);
    return VD_OK;
}

static vd_result vd__dummy_play_fill(void *user, const vd__tape_fill *fill) {
    uint8_t *at = vd__dummy_bytes(fill->to) + fill->offset, *end = at + fill->size;
    uint32_t word = (uint32_t)fill->word;
    (void)user;
    for (; at < end; at += 4) memcpy(at, &word, 4);
    return VD_OK;
}

static const vd__tape_player vd__dummy_player = { vd__dummy_play_launch, vd__dummy_play_copy, vd__dummy_play_fill };

static vd_result vd__dummy_queue_submit(vd__device *dev, uint32_t queue, const vd__submission *s) {
    vd_result r = vd__tape_play(s, &vd__dummy_player, NULL);
    vd__atomic_store64(&vd__dummy_of(dev)->timelines[queue], s->value);
    return r;
}

static uint64_t vd__dummy_queue_value(vd__device *dev, uint32_t queue) {
    return vd__atomic_load64(&vd__dummy_of(dev)->timelines[queue]);
}

static vd_result vd__dummy_queue_wait(vd__device *dev, uint32_t queue, uint64_t value, uint64_t timeout_ns) {
    (void)timeout_ns;
    return vd__dummy_queue_value(dev, queue) >= value ? VD_OK : VD_TIMEOUT;
}

VD__SMALL_END

// >>vulkan api
/* Tables of the Vulkan functions that the library uses: one per instance and one per device. The code never
   references a Vulkan prototype. The object file therefore needs no Vulkan symbol, and the application may include
   the Vulkan headers before or after this file, with or without prototypes. */

#if VD__HAS_VULKAN
#if VD__HAS_VOLK
#include <volk.h>
#else
#include <vulkan/vulkan_core.h>
#endif

/* Handles of exported and imported memory: file descriptors, or NT handles of Windows. */
#if VD__HAS_WIN32_HANDLES
#include <vulkan/vulkan_win32.h>
#define VD__VK_HANDLE_EXTENSION "VK_KHR_external_memory_win32"
#define VD__VK_HANDLE_TYPE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT
#define VD__VK_HANDLE_FUNCTIONS(X) X(vkGetMemoryWin32HandleKHR)
#else
#define VD__VK_HANDLE_EXTENSION "VK_KHR_external_memory_fd"
#define VD__VK_HANDLE_TYPE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define VD__VK_HANDLE_FUNCTIONS(X) X(vkGetMemoryFdKHR)
#endif

VD__SMALL

#define VD__VK_LOADER_FUNCTIONS(X) \
    X(vkEnumerateInstanceVersion) \
    X(vkEnumerateInstanceExtensionProperties) \
    X(vkEnumerateInstanceLayerProperties) \
    X(vkCreateInstance)

#define VD__VK_INSTANCE_FUNCTIONS(X) \
    X(vkDestroyInstance) \
    X(vkEnumeratePhysicalDevices) \
    X(vkEnumerateDeviceExtensionProperties) \
    X(vkGetPhysicalDeviceProperties) \
    X(vkGetPhysicalDeviceProperties2) \
    X(vkGetPhysicalDeviceFeatures2) \
    X(vkGetPhysicalDeviceMemoryProperties2) \
    X(vkGetPhysicalDeviceExternalBufferProperties) \
    X(vkGetPhysicalDeviceQueueFamilyProperties) \
    X(vkCreateDevice) \
    X(vkGetDeviceProcAddr)

#define VD__VK_DEVICE_FUNCTIONS(X) \
    X(vkDestroyDevice) \
    X(vkDeviceWaitIdle) \
    X(vkGetDeviceQueue) \
    X(vkQueueSubmit) \
    X(vkCreateSemaphore) \
    X(vkDestroySemaphore) \
    X(vkGetSemaphoreCounterValue) \
    X(vkWaitSemaphores) \
    X(vkAllocateMemory) \
    X(vkFreeMemory) \
    X(vkMapMemory) \
    X(vkFlushMappedMemoryRanges) \
    X(vkInvalidateMappedMemoryRanges) \
    X(vkCreateBuffer) \
    X(vkDestroyBuffer) \
    X(vkGetBufferMemoryRequirements) \
    X(vkBindBufferMemory) \
    X(vkGetBufferDeviceAddress) \
    X(vkCreateShaderModule) \
    X(vkDestroyShaderModule) \
    X(vkCreatePipelineCache) \
    X(vkDestroyPipelineCache) \
    X(vkGetPipelineCacheData) \
    X(vkMergePipelineCaches) \
    X(vkCreatePipelineLayout) \
    X(vkDestroyPipelineLayout) \
    X(vkCreateComputePipelines) \
    X(vkDestroyPipeline) \
    X(vkCreateDescriptorSetLayout) \
    X(vkDestroyDescriptorSetLayout) \
    X(vkCreateDescriptorPool) \
    X(vkDestroyDescriptorPool) \
    X(vkAllocateDescriptorSets) \
    X(vkUpdateDescriptorSets) \
    X(vkCreateCommandPool) \
    X(vkDestroyCommandPool) \
    X(vkResetCommandPool) \
    X(vkAllocateCommandBuffers) \
    X(vkBeginCommandBuffer) \
    X(vkEndCommandBuffer) \
    X(vkCmdBindPipeline) \
    X(vkCmdBindDescriptorSets) \
    X(vkCmdPushConstants) \
    X(vkCmdDispatch) \
    X(vkCmdPipelineBarrier) \
    X(vkCmdCopyBuffer) \
    X(vkCmdFillBuffer) \
    X(vkCmdUpdateBuffer)

/* Functions of extensions. NULL if the extension is not enabled. */
#define VD__VK_EXTENSION_FUNCTIONS(X) \
    VD__VK_HANDLE_FUNCTIONS(X) \
    X(vkGetMemoryHostPointerPropertiesEXT)

/* Names of VkResult codes, and the vd_result that each one maps to. */
#define VD__VK_RESULTS(X) \
    X(VK_TIMEOUT, VD_TIMEOUT) \
    X(VK_ERROR_OUT_OF_HOST_MEMORY, VD_ERROR_OUT_OF_MEMORY) \
    X(VK_ERROR_OUT_OF_DEVICE_MEMORY, VD_ERROR_OUT_OF_DEVICE_MEMORY) \
    X(VK_ERROR_OUT_OF_POOL_MEMORY, VD_ERROR_OUT_OF_DEVICE_MEMORY) \
    X(VK_ERROR_FRAGMENTATION, VD_ERROR_OUT_OF_DEVICE_MEMORY) \
    X(VK_ERROR_FRAGMENTED_POOL, VD_ERROR_OUT_OF_DEVICE_MEMORY) \
    X(VK_ERROR_TOO_MANY_OBJECTS, VD_ERROR_OUT_OF_DEVICE_MEMORY) \
    X(VK_ERROR_DEVICE_LOST, VD_ERROR_DEVICE_LOST) \
    X(VK_ERROR_MEMORY_MAP_FAILED, VD_ERROR_OUT_OF_MEMORY) \
    X(VK_ERROR_INITIALIZATION_FAILED, VD_ERROR_BACKEND) \
    X(VK_ERROR_LAYER_NOT_PRESENT, VD_ERROR_BACKEND) \
    X(VK_ERROR_EXTENSION_NOT_PRESENT, VD_ERROR_BACKEND) \
    X(VK_ERROR_FEATURE_NOT_PRESENT, VD_ERROR_BACKEND) \
    X(VK_ERROR_INCOMPATIBLE_DRIVER, VD_ERROR_NO_DEVICE) \
    X(VK_ERROR_INVALID_SHADER_NV, VD_ERROR_COMPILE) \
    X(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, VD_ERROR_BACKEND) \
    X(VK_ERROR_INVALID_EXTERNAL_HANDLE, VD_ERROR_INVALID) \
    X(VK_ERROR_UNKNOWN, VD_ERROR_BACKEND)

#define VD__VK_MEMBER(name) PFN_##name name;

typedef struct vd__vk_driver {
    PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr;
    VD__VK_LOADER_FUNCTIONS(VD__VK_MEMBER)
    VD__VK_INSTANCE_FUNCTIONS(VD__VK_MEMBER)
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    uint32_t version;          /* API version in use: 1.2 or 1.3 */
    uint32_t layer_version;    /* specVersion of the enabled validation layer, else 0 */
    VkPhysicalDevice *devices;
    uint32_t device_count;
} vd__vk_driver;

enum { VD__VK_BINDINGS = 65 }; /* those of arguments, and one for the argument block */

/* A descriptor set layout. Kernels with the same bindings share one, so that a recording can reuse the descriptor
   sets of an earlier one. */
typedef struct vd__vk_layout {
    VkDescriptorSetLayout handle;
    uint8_t types[VD__VK_BINDINGS]; /* vd__descriptor of each binding of set 0 */
} vd__vk_layout;

typedef struct vd__vk_device {
    VD__VK_DEVICE_FUNCTIONS(VD__VK_MEMBER)
    VD__VK_EXTENSION_FUNCTIONS(VD__VK_MEMBER)
    VkDevice handle;
    VkQueue queues[VD_MAX_QUEUES]; /* elements repeat if the device was created with fewer queues */
    VkSemaphore timelines[VD_MAX_QUEUES];
    VkPipelineCache cache;
    uint32_t new_pipelines;    /* created since the cache file was last written; atomic */
    uint8_t cache_uuid[VK_UUID_SIZE]; /* pipelineCacheUUID */
    uint32_t family;
    uint32_t uniform_alignment;
    uint64_t host_import_alignment; /* of host memory that is imported, in bytes */
    uint64_t flush_alignment;  /* in bytes; flushed and invalidated ranges are multiples of it */
    uint64_t copy_kernel_min_bytes; /* copies of at least this size use copy_kernel; UINT64_MAX: none do */
    bool copy_kernel_any_memory; /* if false, copy_kernel copies only within device memory */
    uint32_t copy_kernel_state; /* vd__vk_copy_state; set once, under copy_kernel_lock */
    vd__kernel_code copy_kernel; /* copies between buffers; created at its first use */
    bool address;              /* VD_FEATURE_ADDRESS is enabled */
    bool shared_memory;        /* vd_device_info.shared_memory */
    /* Per timeline, time of the first of consecutive failed reads. 0: the last read succeeded; UINT64_MAX: the
       device was declared lost. */
    uint64_t timeline_failed_since[VD_MAX_QUEUES];
    VkPhysicalDeviceMemoryProperties memory;
    vd__mutex lock;            /* guards layouts */
    vd__mutex copy_kernel_lock; /* guards the creation of copy_kernel; locked before `lock` */
    vd__vk_layout *layouts;
    uint32_t layout_count, layout_capacity;
} vd__vk_device;

#if VD__HAS_WIN32_HANDLES
static bool vd__vk_can_get_handles(const vd__vk_device *vk) { return vk->vkGetMemoryWin32HandleKHR != NULL; }
#else
static bool vd__vk_can_get_handles(const vd__vk_device *vk) { return vk->vkGetMemoryFdKHR != NULL; }
#endif

/* Resets the output of a failed Vulkan call, which is undefined, so that the clean-up does not destroy it. */
#define VD__VK_NULL_IF(result, handle) if (result) (handle) = VK_NULL_HANDLE

/* Declares a Vulkan struct, zeroes it and sets sType. */
#define VD__VK_STRUCT(type, name, structure_type) \
    type name; \
    memset(&name, 0, sizeof name); \
    name.sType = structure_type

/* Vulkan handles are pointers or 64-bit integers, depending on the platform. */
#define VD__VK_PACK(handle) ((uint64_t)(handle))
#define VD__VK_UNPACK(type, bits) ((type)(bits))

static vd__vk_driver *vd__vk_driver_of(const vd__driver *driver) { return (vd__vk_driver *)driver->native; }
static vd__vk_device *vd__vk_device_of(const vd__device *dev) { return (vd__vk_device *)dev->native; }
static const vd_allocator *vd__vk_allocator(const vd__device *dev) { return &dev->driver->host->allocator; }

/* Grows an array to at least `need` items. Returns the array, which may have moved; NULL with the error set if out
   of memory. */
static void *vd__vk_reserve(vd__device *dev, void *array, uint32_t *capacity, uint32_t need, size_t item_size) {
    if (vd__array_reserve(vd__vk_allocator(dev), &array, capacity, need, item_size)) return array;
    vd__fail_memory(NULL, NULL, 0);
    return NULL;
}

/* Returns the name of a code in VD__VK_RESULTS, else NULL. */
static const char *vd__vk_result_name(VkResult result) {
#define VD__VK_RESULT_NAME(vk, vd) case vk: return #vk;
    switch (result) { VD__VK_RESULTS(VD__VK_RESULT_NAME) default: return NULL; }
#undef VD__VK_RESULT_NAME
}

static vd_result vd__vk_result_code(VkResult result) {
#define VD__VK_RESULT_CODE(vk, vd) case vk: return vd;
    switch (result) { VD__VK_RESULTS(VD__VK_RESULT_CODE) default: return VD_ERROR_BACKEND; }
#undef VD__VK_RESULT_CODE
}

/* Sets the error "<call> failed: VK_ERROR_…", where `format` and its arguments make the call. Returns the matching
   code. */
static VD__PRINTF(2, 3) vd_result vd__vk_fail(VkResult result, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vd_result code = vd__fail_driver(vd__vk_result_code(result), vd__vk_result_name(result), (int)result, format, args);
    va_end(args);
    return code;
}

#if VD__HAS_VOLK
/* Returns vkGetInstanceProcAddr of volk, or NULL. Initialises volk unless the application has done so. */
static PFN_vkGetInstanceProcAddr vd__vk_loader(void) {
    vd__mutex_lock(&vd__open_lock);
    if (!vkGetInstanceProcAddr) volkInitialize();
    vd__mutex_unlock(&vd__open_lock);
    return vkGetInstanceProcAddr;
}
#else
/* Opens the Vulkan loader and returns its vkGetInstanceProcAddr, or NULL. Never closes the library: some drivers crash
   when they are unloaded. */
static PFN_vkGetInstanceProcAddr vd__vk_loader(void) {
    PFN_vkGetInstanceProcAddr loader = NULL;
    void *library = vd__library_open_first(vd__libraries.vulkan),
         *found = library ? vd__library_find(library, "vkGetInstanceProcAddr") : NULL;
    memcpy(&loader, &found, sizeof found);
    return loader;
}
#endif

/* The vd__vk_load_ functions fill a table and return the name of the first required function that is missing, or
   NULL. */
static const char *vd__vk_load_loader(vd__vk_driver *vk) {
    const char *missing = NULL;
#define VD__VK_LOAD(name) \
    if (!(vk->name = (PFN_##name)vk->vkGetInstanceProcAddr(NULL, #name)) && !missing) missing = #name;
    VD__VK_LOADER_FUNCTIONS(VD__VK_LOAD)
#undef VD__VK_LOAD
    return missing;
}

static const char *vd__vk_load_instance(vd__vk_driver *vk) {
    const char *missing = NULL;
#define VD__VK_LOAD(name) \
    if (!(vk->name = (PFN_##name)vk->vkGetInstanceProcAddr(vk->instance, #name)) && !missing) missing = #name;
    VD__VK_INSTANCE_FUNCTIONS(VD__VK_LOAD)
#undef VD__VK_LOAD
    return missing;
}

static const char *vd__vk_load_device(const vd__vk_driver *driver, vd__vk_device *vk) {
    const char *missing = NULL;
#define VD__VK_LOAD(name) \
    if (!(vk->name = (PFN_##name)driver->vkGetDeviceProcAddr(vk->handle, #name)) && !missing) missing = #name;
    VD__VK_EXTENSION_FUNCTIONS(VD__VK_LOAD)
    missing = NULL; /* extensions are optional */
    VD__VK_DEVICE_FUNCTIONS(VD__VK_LOAD)
#undef VD__VK_LOAD
    return missing;
}

VD__SMALL_END
#endif /* VD__HAS_VULKAN */

// >>vulkan device
/* Creates the instance, queries devices, and opens devices with the supported features enabled. */

#if VD__HAS_VULKAN

VD__SMALL

#define VD__VK_VALIDATION "VK_LAYER_KHRONOS_validation"

/* Device extensions that are used if available: name, and the Vulkan version that includes it (UINT32_MAX: none).
   The first row represents Vulkan 1.2. */
#define VD__VK_EXTENSIONS(X) \
    X(CORE_1_2, "", VK_API_VERSION_1_2) \
    X(PORTABILITY, "VK_KHR_portability_subset", UINT32_MAX) \
    X(BUDGET, "VK_EXT_memory_budget", UINT32_MAX) \
    X(EXTERNAL_HANDLE, VD__VK_HANDLE_EXTENSION, UINT32_MAX) \
    X(EXTERNAL_HOST, "VK_EXT_external_memory_host", UINT32_MAX) \
    X(ATOMIC_FLOAT, "VK_EXT_shader_atomic_float", UINT32_MAX) \
    X(RECONVERGENCE, "VK_KHR_shader_maximal_reconvergence", UINT32_MAX) \
    X(SUBGROUP_SIZE, "VK_EXT_subgroup_size_control", VK_API_VERSION_1_3) \
    X(DOT_PRODUCT, "VK_KHR_shader_integer_dot_product", VK_API_VERSION_1_3) \
    X(MAINTENANCE_4, "VK_KHR_maintenance4", VK_API_VERSION_1_3)

/* VkPhysicalDeviceShaderMaximalReconvergenceFeaturesKHR, for Vulkan headers that do not define it. */
typedef struct vd__vk_reconvergence_features {
    VkStructureType sType;
    void *pNext;
    VkBool32 shaderMaximalReconvergence;
} vd__vk_reconvergence_features;

/* Structs that extend VkPhysicalDeviceFeatures2 and VkPhysicalDeviceProperties2: our member, type, structure type,
   and the extension that defines it. */
#define VD__VK_FEATURE_STRUCTS(X)                                                                                      \
    X(v11, VkPhysicalDeviceVulkan11Features, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, CORE_1_2)          \
    X(v12, VkPhysicalDeviceVulkan12Features, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, CORE_1_2)          \
    X(atomic_float, VkPhysicalDeviceShaderAtomicFloatFeaturesEXT,                                                      \
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT, ATOMIC_FLOAT)                                \
    X(reconvergence, vd__vk_reconvergence_features, (VkStructureType)1000434000, RECONVERGENCE)                        \
    X(subgroup_size, VkPhysicalDeviceSubgroupSizeControlFeatures,                                                      \
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES, SUBGROUP_SIZE)                                 \
    X(dot_product, VkPhysicalDeviceShaderIntegerDotProductFeatures,                                                    \
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES, DOT_PRODUCT)                              \
    X(maintenance4, VkPhysicalDeviceMaintenance4Features, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES,    \
      MAINTENANCE_4)

#define VD__VK_PROPERTY_STRUCTS(X)                                                                                     \
    X(v11, VkPhysicalDeviceVulkan11Properties, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES, CORE_1_2)      \
    X(v12, VkPhysicalDeviceVulkan12Properties, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES, CORE_1_2)      \
    X(subgroup_size, VkPhysicalDeviceSubgroupSizeControlProperties,                                                    \
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES, SUBGROUP_SIZE)                               \
    X(maintenance4, VkPhysicalDeviceMaintenance4Properties,                                                            \
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES, MAINTENANCE_4)                                       \
    X(host, VkPhysicalDeviceExternalMemoryHostPropertiesEXT,                                                           \
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT, EXTERNAL_HOST)

/* Vulkan features that our features require: our feature bits, struct, member. If the device does not support a
   member, all bits of its row are unavailable. A supported member is enabled if one of its bits is requested. */
#define VD__VK_FEATURES(X) \
    X(VD_FEATURE_F64 | VD_FEATURE_F64_ROUND, core.features, shaderFloat64) \
    X(VD_FEATURE_I16, core.features, shaderInt16) \
    X(VD_FEATURE_I64 | VD_FEATURE_ADDRESS | VD_FEATURE_ATOMIC_I64, core.features, shaderInt64) \
    X(VD_FEATURE_IMAGE_FORMATS, core.features, shaderStorageImageExtendedFormats) \
    X(VD_FEATURE_IMAGE_READ, core.features, shaderStorageImageReadWithoutFormat) \
    X(VD_FEATURE_IMAGE_WRITE, core.features, shaderStorageImageWriteWithoutFormat) \
    X(VD_FEATURE_F16, v12, shaderFloat16) \
    X(VD_FEATURE_I8, v12, shaderInt8) \
    X(VD_FEATURE_STORAGE_8, v12, storageBuffer8BitAccess) \
    X(VD_FEATURE_STORAGE_16, v11, storageBuffer16BitAccess) \
    X(VD_FEATURE_ADDRESS, v12, bufferDeviceAddress) \
    X(VD_FEATURE_ATOMIC_I64, v12, shaderBufferInt64Atomics) \
    X(VD_FEATURE_ATOMIC_I64, v12, shaderSharedInt64Atomics) \
    X(VD_FEATURE_SUBGROUP_TYPES, v12, shaderSubgroupExtendedTypes) \
    X(VD_FEATURE_RECONVERGENCE, reconvergence, shaderMaximalReconvergence) \
    X(VD_FEATURE_DOT_4X8, dot_product, shaderIntegerDotProduct) \
    X(VD_FEATURE_ATOMIC_F32_ADD, atomic_float, shaderBufferFloat32AtomicAdd) \
    X(VD_FEATURE_ATOMIC_F32_ADD, atomic_float, shaderSharedFloat32AtomicAdd)

/* Vulkan features that are enabled if supported: always if the bits are 0, otherwise if one of the bits is
   requested. */
#define VD__VK_EXTRA_FEATURES(X) \
    X(0, v12, timelineSemaphore) \
    X(0, v12, scalarBlockLayout) \
    X(0, v12, uniformBufferStandardLayout) \
    X(0, v12, vulkanMemoryModel) \
    X(0, v12, vulkanMemoryModelDeviceScope) \
    X(0, v11, variablePointersStorageBuffer) \
    X(0, v11, variablePointers) \
    X(0, subgroup_size, subgroupSizeControl) \
    X(0, subgroup_size, computeFullSubgroups) \
    X(0, maintenance4, maintenance4) \
    X(VD_FEATURE_SUBGROUP, v12, subgroupBroadcastDynamicId) \
    X(VD_FEATURE_STORAGE_8, v12, uniformAndStorageBuffer8BitAccess) \
    X(VD_FEATURE_STORAGE_8, v12, storagePushConstant8) \
    X(VD_FEATURE_STORAGE_16, v11, uniformAndStorageBuffer16BitAccess) \
    X(VD_FEATURE_STORAGE_16, v11, storagePushConstant16) \
    X(VD_FEATURE_ATOMIC_F32_ADD, atomic_float, shaderBufferFloat32Atomics) \
    X(VD_FEATURE_ATOMIC_F32_ADD, atomic_float, shaderSharedFloat32Atomics)

enum {
#define VD__VK_EXTENSION_INDEX(id, name, core) VD__VK_INDEX_##id,
    VD__VK_EXTENSIONS(VD__VK_EXTENSION_INDEX)
    VD__VK_EXTENSION_COUNT
};

#define VD__VK_HAS(facts, id) (((facts)->extensions >> VD__VK_INDEX_##id & 1u) != 0)
#define VD__VK_STRUCT_MEMBER(member, type, structure_type, extension) type member;

typedef struct vd__vk_features {
    VkPhysicalDeviceFeatures2 core;
    VD__VK_FEATURE_STRUCTS(VD__VK_STRUCT_MEMBER)
} vd__vk_features;

/* Properties and features of a physical device, queried before it is opened. Structs that the device does not
   support remain zero. */
typedef struct vd__vk_facts {
    VkPhysicalDevice handle;
    uint32_t version;             /* Vulkan version of the device, limited to the API version in use */
    uint32_t extensions;          /* bit i: extension i is available, by name or as part of `version` */
    const char *names[VD__VK_EXTENSION_COUNT]; /* extensions to enable by name */
    uint32_t name_count;
    uint32_t family;              /* queue family to use; UINT32_MAX: the device has no compute queue */
    uint32_t family_queues;       /* number of queues in the family */
    bool family_has_graphics;
    uint32_t timestamp_bits;
    vd__vk_features features;
    VkPhysicalDeviceProperties2 core;
    VD__VK_PROPERTY_STRUCTS(VD__VK_STRUCT_MEMBER)
    VkPhysicalDeviceMemoryProperties2 memory;
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget;
} vd__vk_facts;

/* ---- instance ---- */

/* Returns whether a list of extensions contains this name. */
static bool vd__vk_is_listed(const VkExtensionProperties *list, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(list[i].extensionName, name) == 0) return true;
    }
    return false;
}

/* Lists the extensions of the instance (layer NULL) or of a layer. Returns NULL if there are none. The caller frees
   the list. */
static VkExtensionProperties *vd__vk_instance_extensions(const vd__driver *driver, const char *layer, uint32_t *count) {
    const vd__vk_driver *vk = vd__vk_driver_of(driver);
    *count = 0;
    if (vk->vkEnumerateInstanceExtensionProperties(layer, count, NULL) < 0) *count = 0;
    if (*count == 0) return NULL;
    VkExtensionProperties *list = (VkExtensionProperties *)vd__alloc(&driver->host->allocator, *count * sizeof *list);
    if (!list || vk->vkEnumerateInstanceExtensionProperties(layer, count, list) < 0) *count = 0;
    return list;
}

/* Forwards a message of the validation layer to the log. */
static VKAPI_ATTR VkBool32 VKAPI_CALL vd__vk_debug_callback(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                     VkDebugUtilsMessageTypeFlagsEXT types,
                                                     const VkDebugUtilsMessengerCallbackDataEXT *data, void *user) {
    (void)types;
    vd_log_level level = severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT ? VD_LOG_ERROR : VD_LOG_WARNING;
    vd__logf((const vd__host *)user, level, "Vulkan: %s", data->pMessage);
    return VK_FALSE;
}

/* Layer, extensions and structs that debug mode adds to the instance. */
typedef struct vd__vk_debug {
    const char *layer;
    const char *names[2];
    uint32_t name_count;
    VkDebugUtilsMessengerCreateInfoEXT messenger;
    VkValidationFeaturesEXT validation;
    VkValidationFeatureEnableEXT synchronization;
} vd__vk_debug;

/* Returns the specVersion of the validation layer; 0 if it is not installed. */
static uint32_t vd__vk_layer_version(const vd__driver *driver) {
    const vd__vk_driver *vk = vd__vk_driver_of(driver);
    uint32_t count = 0, version = 0;
    if (vk->vkEnumerateInstanceLayerProperties(&count, NULL) < 0) count = 0;
    VkLayerProperties *list = count ? (VkLayerProperties *)vd__alloc(&driver->host->allocator, count * sizeof *list)
                                    : NULL;
    if (!list || vk->vkEnumerateInstanceLayerProperties(&count, list) < 0) count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i].layerName, VD__VK_VALIDATION) == 0) version = list[i].specVersion;
    vd__free(&driver->host->allocator, list);
    return version;
}

/* Fills in `debug` if debug mode is requested and the validation layer is installed, otherwise zeroes it. Logs a
   warning if only the layer is missing. */
static void vd__vk_debug_prepare(const vd__driver *driver, vd__vk_debug *debug) {
    memset(debug, 0, sizeof *debug);
    if (!driver->host->debug) return;
    vd__vk_driver_of(driver)->layer_version = vd__vk_layer_version(driver);
    uint32_t count;
    VkExtensionProperties *list = vd__vk_instance_extensions(driver, VD__VK_VALIDATION, &count);
    if (!vd__vk_is_listed(list, count, VK_EXT_DEBUG_UTILS_EXTENSION_NAME)) {
        vd__logf(driver->host, VD_LOG_WARNING, "Vulkan: the layer %s is not installed, so validation is off",
                 VD__VK_VALIDATION);
    } else {
        debug->layer = VD__VK_VALIDATION;
        debug->names[debug->name_count++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
        debug->messenger.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
        debug->messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT
                                           | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
        debug->messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT
                                       | VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
        debug->messenger.pfnUserCallback = vd__vk_debug_callback;
        debug->messenger.pUserData = (void *)(uintptr_t)driver->host;
    }
    if (debug->layer && vd__vk_is_listed(list, count, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME)) {
        debug->names[debug->name_count++] = VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME;
        debug->synchronization = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
        debug->validation.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
        debug->validation.enabledValidationFeatureCount = 1;
        debug->validation.pEnabledValidationFeatures = &debug->synchronization;
        debug->messenger.pNext = &debug->validation;
    }
    vd__free(&driver->host->allocator, list);
}

/* Creates the instance, loads its functions and, in debug mode, creates the messenger. */
static vd_result vd__vk_instance_create(vd__driver *driver) {
    vd__vk_driver *vk = vd__vk_driver_of(driver);
    vd__vk_debug debug;
    vd__vk_debug_prepare(driver, &debug);
    const char *names[3];
    uint32_t name_count = 0;
    for (; name_count < debug.name_count; name_count++) names[name_count] = debug.names[name_count];
    uint32_t count;
    VkExtensionProperties *list = vd__vk_instance_extensions(driver, NULL, &count);
    bool portability = vd__vk_is_listed(list, count, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    if (portability) names[name_count++] = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
    vd__free(&driver->host->allocator, list);
    VD__VK_STRUCT(VkApplicationInfo, application, VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.pEngineName = "vkdispatch";
    application.engineVersion = VKDISPATCH_VERSION;
    application.apiVersion = vk->version;
    VD__VK_STRUCT(VkInstanceCreateInfo, info, VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    info.pNext = debug.layer ? &debug.messenger : NULL;
    info.flags = portability ? (VkInstanceCreateFlags)VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR : 0;
    info.pApplicationInfo = &application;
    info.enabledLayerCount = debug.layer ? 1 : 0;
    info.ppEnabledLayerNames = &debug.layer;
    info.enabledExtensionCount = name_count;
    info.ppEnabledExtensionNames = names;
    VkResult result = vk->vkCreateInstance(&info, NULL, &vk->instance);
    VD__VK_NULL_IF(result, vk->instance);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
        return vd__fail(VD_ERROR_NO_DEVICE, "the Vulkan loader found no driver; install one (Debian: "
                        "mesa-vulkan-drivers)");
    if (result) return vd__vk_fail(result, "vkCreateInstance");
    const char *missing = vd__vk_load_instance(vk);
    if (missing)
        return vd__fail(VD_ERROR_NO_DEVICE, "the Vulkan loader has no function %s, which Vulkan 1.2 requires", missing);
    if (!debug.layer) return VD_OK;
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)vk->vkGetInstanceProcAddr(vk->instance, "vkCreateDebugUtilsMessengerEXT");
    debug.messenger.pNext = NULL; /* validation features belong to VkInstanceCreateInfo only */
    if (create && create(vk->instance, &debug.messenger, NULL, &vk->messenger)) vk->messenger = VK_NULL_HANDLE;
    return VD_OK;
}

/* Sets the API version: 1.2 or 1.3. Fails if the loader only supports an older one. */
static vd_result vd__vk_version_choose(vd__vk_driver *vk) {
    uint32_t version = 0;
    VkResult result = vk->vkEnumerateInstanceVersion(&version);
    if (result) return vd__vk_fail(result, "vkEnumerateInstanceVersion");
    if (version < VK_API_VERSION_1_2) {
        return vd__fail(VD_ERROR_NO_DEVICE, "the Vulkan loader supports only Vulkan %u.%u, but 1.2 is required",
                        VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
    }
    vk->version = version < VK_API_VERSION_1_3 ? VK_API_VERSION_1_2 : VK_API_VERSION_1_3;
    return VD_OK;
}

/* Fills in the physical devices. Fails if there are none. */
static vd_result vd__vk_list_devices(vd__driver *driver) {
    vd__vk_driver *vk = vd__vk_driver_of(driver);
    uint32_t count = 0;
    VkResult result = vk->vkEnumeratePhysicalDevices(vk->instance, &count, NULL);
    if (result) return vd__vk_fail(result, "vkEnumeratePhysicalDevices");
    if (count == 0) return vd__fail(VD_ERROR_NO_DEVICE, "the installed Vulkan drivers found no device");
    vk->devices = (VkPhysicalDevice *)vd__alloc(&driver->host->allocator, count * sizeof *vk->devices);
    if (!vk->devices) return vd__fail_memory(NULL, NULL, 0);
    result = vk->vkEnumeratePhysicalDevices(vk->instance, &count, vk->devices);
    if (result < 0) return vd__vk_fail(result, "vkEnumeratePhysicalDevices");
    vk->device_count = count;
    return VD_OK;
}

/* Creates the instance and lists the devices. On failure the caller closes the driver. */
static vd_result vd__vk_driver_start(vd__driver *driver) {
    vd__vk_driver *vk = vd__vk_driver_of(driver);
    const char *missing = vd__vk_load_loader(vk);
    if (missing)
        return vd__fail(VD_ERROR_NO_DEVICE, "the Vulkan loader has no function %s, which Vulkan 1.2 requires", missing);
    vd_result result = vd__vk_version_choose(vk);
    if (!result) result = vd__vk_instance_create(driver);
    if (!result) result = vd__vk_list_devices(driver);
    return result;
}

static vd_result vd__vk_driver_open(vd__driver *driver) {
    PFN_vkGetInstanceProcAddr loader = (PFN_vkGetInstanceProcAddr)driver->host->get_instance_proc_addr;
    if (!loader) loader = vd__vk_loader();
    if (!loader)
        return vd__fail(VD_ERROR_NO_DEVICE, "%s could not be opened; install the Vulkan loader (Debian: libvulkan1)",
                        vd__libraries.vulkan[0]);
    driver->native = vd__alloc_zeroed(&driver->host->allocator, sizeof(vd__vk_driver));
    if (!driver->native) return vd__fail_memory(NULL, NULL, 0);
    vd__vk_driver_of(driver)->vkGetInstanceProcAddr = loader;
    vd_result result = vd__vk_driver_start(driver);
    if (result) vd__vk_driver_close(driver);
    return result;
}

static void vd__vk_driver_close(vd__driver *driver) {
    vd__vk_driver *vk = vd__vk_driver_of(driver);
    if (vk->messenger) {
        PFN_vkDestroyDebugUtilsMessengerEXT destroy = (PFN_vkDestroyDebugUtilsMessengerEXT)vk->vkGetInstanceProcAddr(
            vk->instance, "vkDestroyDebugUtilsMessengerEXT");
        if (destroy) destroy(vk->instance, vk->messenger, NULL);
    }
    if (vk->instance && vk->vkDestroyInstance) vk->vkDestroyInstance(vk->instance, NULL);
    vd__free(&driver->host->allocator, vk->devices);
    vd__free(&driver->host->allocator, vk);
    driver->native = NULL;
}

/* ---- device information ---- */

/* Returns whether an extension can be used with the enabled validation layer. Layers before 1.3.276 report errors for
   the struct of VK_KHR_shader_maximal_reconvergence. */
static bool vd__vk_layer_accepts(const vd__vk_driver *vk, uint32_t extension) {
    return extension != VD__VK_INDEX_RECONVERGENCE || !vk->layer_version
           || vk->layer_version >= VK_MAKE_VERSION(1, 3, 276);
}

/* Fills in the extensions that the device supports and the names to enable. Extensions that are part of `version` need
   no name. */
static void vd__vk_query_extensions(const vd__driver *driver, vd__vk_facts *facts) {
    static const struct { const char *name; uint32_t core; } table[] = {
#define VD__VK_EXTENSION_ROW(id, name, core) { name, core },
        VD__VK_EXTENSIONS(VD__VK_EXTENSION_ROW)
    };
    const vd__vk_driver *vk = vd__vk_driver_of(driver);
    uint32_t count = 0;
    VkExtensionProperties *list = NULL;
    if (vk->vkEnumerateDeviceExtensionProperties(facts->handle, NULL, &count, NULL) < 0) count = 0;
    if (count) list = (VkExtensionProperties *)vd__alloc(&driver->host->allocator, count * sizeof *list);
    if (!list || vk->vkEnumerateDeviceExtensionProperties(facts->handle, NULL, &count, list) < 0) count = 0;
    for (uint32_t i = 0; i < VD__VK_EXTENSION_COUNT; i++) {
        bool core = facts->version >= table[i].core;
        if (!core && !vd__vk_is_listed(list, count, table[i].name)) continue;
        if (!vd__vk_layer_accepts(vk, i)) continue;
        facts->extensions |= 1u << i;
        if (!core) facts->names[facts->name_count++] = table[i].name;
    }
    vd__free(&driver->host->allocator, list);
}

/* Appends a struct to the pNext chain at `next` if the device supports its extension. */
#define VD__VK_CHAIN(member, type, structure_type, extension)                                                          \
    if (VD__VK_HAS(facts, extension)) {                                                                                \
        target->member.sType = structure_type;                                                                         \
        *next = &target->member;                                                                                       \
        next = &target->member.pNext;                                                                                  \
    }

static void vd__vk_chain_features(const vd__vk_facts *facts, vd__vk_features *target) {
    void **next = &target->core.pNext;
    target->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    VD__VK_FEATURE_STRUCTS(VD__VK_CHAIN)
}

static void vd__vk_chain_properties(vd__vk_facts *facts) {
    vd__vk_facts *target = facts;
    void **next = &target->core.pNext;
    target->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    VD__VK_PROPERTY_STRUCTS(VD__VK_CHAIN)
    next = &target->memory.pNext;
    target->memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
    VD__VK_CHAIN(budget, VkPhysicalDeviceMemoryBudgetPropertiesEXT,
                 VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT, BUDGET)
}

/* Chooses a compute family without graphics, else the first compute family. On queues without graphics submits are
   cheaper, and NVIDIA devices provide twice as much shared memory to kernels. */
static void vd__vk_choose_family(const vd__vk_driver *vk, vd__vk_facts *facts) {
    VkQueueFamilyProperties families[32];
    uint32_t count = 32;
    bool chosen_has_graphics = true;
    facts->family = UINT32_MAX;
    vk->vkGetPhysicalDeviceQueueFamilyProperties(facts->handle, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        bool has_graphics = (families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
        if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) || families[i].queueCount == 0) continue;
        if (facts->family != UINT32_MAX && (has_graphics || !chosen_has_graphics)) continue;
        facts->family = i;
        facts->family_queues = families[i].queueCount;
        facts->timestamp_bits = families[i].timestampValidBits;
        chosen_has_graphics = facts->family_has_graphics = has_graphics;
    }
}

/* Queries a physical device. Begins with the version and the extensions, which determine the structs to chain. */
static void vd__vk_facts_get(const vd__driver *driver, int index, vd__vk_facts *facts) {
    const vd__vk_driver *vk = vd__vk_driver_of(driver);
    memset(facts, 0, sizeof *facts);
    facts->handle = vk->devices[index];
    vk->vkGetPhysicalDeviceProperties(facts->handle, &facts->core.properties);
    uint32_t version = facts->core.properties.apiVersion;
    facts->version = version < vk->version ? version : vk->version;
    vd__vk_query_extensions(driver, facts);
    vd__vk_chain_features(facts, &facts->features);
    vd__vk_chain_properties(facts);
    vd__vk_choose_family(vk, facts);
    vk->vkGetPhysicalDeviceProperties2(facts->handle, &facts->core);
    vk->vkGetPhysicalDeviceFeatures2(facts->handle, &facts->features.core);
    vk->vkGetPhysicalDeviceMemoryProperties2(facts->handle, &facts->memory);
}

static void vd__vk_fill_names(const vd__vk_facts *facts, vd_device_info *info) {
    static const vd_device_type types[] = { VD_DEVICE_OTHER, VD_DEVICE_INTEGRATED, VD_DEVICE_DISCRETE,
                                            VD_DEVICE_VIRTUAL, VD_DEVICE_CPU };
    const VkPhysicalDeviceProperties *p = &facts->core.properties;
    info->backend = VD_BACKEND_VULKAN;
    snprintf(info->name, sizeof info->name, "%s", p->deviceName);
    snprintf(info->driver, sizeof info->driver, "%.120s %.120s", facts->v12.driverName, facts->v12.driverInfo);
    info->vendor_id = p->vendorID;
    info->device_id = p->deviceID;
    info->api_version[0] = VK_API_VERSION_MAJOR(p->apiVersion);
    info->api_version[1] = VK_API_VERSION_MINOR(p->apiVersion);
    info->api_version[2] = VK_API_VERSION_PATCH(p->apiVersion);
    info->driver_version = p->driverVersion;
    info->type = (size_t)p->deviceType < sizeof types / sizeof *types ? types[p->deviceType] : VD_DEVICE_OTHER;
    memcpy(info->uuid, facts->v11.deviceUUID, sizeof info->uuid);
}

/* Fills in the sizes of the largest device-local and host heaps, and the free part of the budget of the former. */
static void vd__vk_fill_memory(const vd__vk_facts *facts, vd_device_info *info) {
    const VkPhysicalDeviceMemoryProperties *m = &facts->memory.memoryProperties;
    for (uint32_t i = 0; i < m->memoryHeapCount; i++) {
        uint64_t size = m->memoryHeaps[i].size, budget = facts->budget.heapBudget[i], used = facts->budget.heapUsage[i];
        if (!(m->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)) {
            if (size > info->host_memory) info->host_memory = size;
        } else if (size > info->device_memory) {
            info->device_memory = size;
            info->device_budget = budget > used ? budget - used : 0;
        }
    }
    info->shared_memory = info->type == VD_DEVICE_INTEGRATED || info->type == VD_DEVICE_CPU || info->host_memory == 0;
}

static uint64_t vd__vk_min(uint64_t a, uint64_t b) { return a < b ? a : b; }

static void vd__vk_fill_limits(const vd__vk_facts *facts, vd_device_info *info) {
    const VkPhysicalDeviceLimits *from = &facts->core.properties.limits;
    vd_limits *to = &info->limits;
    for (int i = 0; i < 3; i++) {
        to->max_groups[i] = from->maxComputeWorkGroupCount[i];
        to->max_local_size[i] = from->maxComputeWorkGroupSize[i];
    }
    to->max_local_invocations = from->maxComputeWorkGroupInvocations;
    to->max_shared_bytes = from->maxComputeSharedMemorySize;
    to->max_push_bytes = from->maxPushConstantsSize;
    to->max_bindings = (uint32_t)vd__vk_min(from->maxPerStageDescriptorStorageBuffers,
                                            from->maxDescriptorSetStorageBuffers);
    to->max_bindings = (uint32_t)vd__vk_min(to->max_bindings, from->maxPerStageResources);
    to->binding_alignment = (uint32_t)from->minStorageBufferOffsetAlignment;
    to->subgroup_size = facts->v11.subgroupSize;
    to->min_subgroup_size = facts->subgroup_size.minSubgroupSize ? facts->subgroup_size.minSubgroupSize
                                                                 : to->subgroup_size;
    to->max_subgroup_size = facts->subgroup_size.maxSubgroupSize ? facts->subgroup_size.maxSubgroupSize
                                                                 : to->subgroup_size;
    to->max_binding_bytes = from->maxStorageBufferRange;
    to->max_buffer_bytes = vd__vk_min(info->device_memory, facts->v11.maxMemoryAllocationSize);
    if (facts->maintenance4.maxBufferSize)
        to->max_buffer_bytes = vd__vk_min(to->max_buffer_bytes, facts->maintenance4.maxBufferSize);
}

/* Returns whether the f32 fma of this driver is known to round only once. llvmpipe rounds the product before the
   addition. */
static bool vd__vk_fma_rounds_once(VkDriverId id) {
    return id == VK_DRIVER_ID_NVIDIA_PROPRIETARY || id == VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA
           || id == VK_DRIVER_ID_INTEL_PROPRIETARY_WINDOWS;
}

/* Returns whether compute shaders support all subgroup operations that VD_FEATURE_SUBGROUP includes. */
static bool vd__vk_has_subgroups(const vd__vk_facts *facts) {
    const VkSubgroupFeatureFlags needed = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT
                                          | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT
                                          | VK_SUBGROUP_FEATURE_SHUFFLE_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT;
    return (facts->v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT)
           && (facts->v11.subgroupSupportedOperations & needed) == needed;
}

/* Returns whether the heap of a memory type holds at least half of the device memory. If so, a mapped type is
   preferred for device memory: it is as fast as an unmapped one and saves the staging copy. A small host-visible
   heap (256 MiB without resizable BAR) is left to other uses. */
static bool vd__vk_heap_is_large(const VkPhysicalDeviceMemoryProperties *memory, const vd_device_info *info,
                                 uint32_t type) {
    return memory->memoryHeaps[memory->memoryTypes[type].heapIndex].size >= info->device_memory / 2;
}

/* Returns a score of a memory type for `usage`, higher is better; 0: unsuitable. Types with other property flags
   (protected, lazily allocated, …) are unsuitable: they need features or usages that we do not enable. */
static int vd__vk_type_score(const VkPhysicalDeviceMemoryProperties *memory, const vd_device_info *info,
                             vd_memory usage, uint32_t type) {
    const VkMemoryPropertyFlags known_flags =
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
        VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    VkMemoryPropertyFlags flags = memory->memoryTypes[type].propertyFlags;
    bool local = (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
    bool mapped = (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
    bool coherent = (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
    bool cached = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
    bool preferred = local == info->shared_memory; /* staging: host memory, unless host and device share memory */
    if (flags & ~known_flags) return 0;
    if (usage == VD_MEMORY_DEVICE && !local) return 0;
    if (usage == VD_MEMORY_DEVICE && !mapped) return 2;
    if (usage == VD_MEMORY_DEVICE) return vd__vk_heap_is_large(memory, info, type) && coherent ? 3 + cached : 1;
    if (!mapped) return 0;
    if (usage == VD_MEMORY_SHARED) return 1 + 4 * cached + 2 * coherent + local;
    if (usage == VD_MEMORY_UPLOAD) return 1 + 4 * coherent + 2 * preferred + !cached;
    return 1 + 4 * cached + 2 * coherent + preferred;
}

/* Returns the best memory type of `mask` for `usage`, as a mask with one bit; 0 if none is suitable. */
static uint32_t vd__vk_memory_best(const VkPhysicalDeviceMemoryProperties *memory, const vd_device_info *info,
                                   vd_memory usage, uint32_t mask) {
    uint32_t best = 0;
    int best_score = 0;
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
        int score = mask >> i & 1u ? vd__vk_type_score(memory, info, usage, i) : 0;
        if (score <= best_score) continue;
        best = 1u << i;
        best_score = score;
    }
    return best;
}

/* Returns VD_FEATURE_MAPPED if the best type for device memory can be mapped, and VD_FEATURE_CACHED and
   VD_FEATURE_COHERENT if the best type for readback has these properties. */
static uint64_t vd__vk_memory_features(const vd__vk_facts *facts, const vd_device_info *info) {
    const VkPhysicalDeviceMemoryProperties *memory = &facts->memory.memoryProperties;
    uint32_t device_bit = vd__vk_memory_best(memory, info, VD_MEMORY_DEVICE, UINT32_MAX);
    uint32_t readback_bit = vd__vk_memory_best(memory, info, VD_MEMORY_READBACK, UINT32_MAX);
    VkMemoryPropertyFlags device_flags = device_bit ? memory->memoryTypes[vd__lowest_bit(device_bit)].propertyFlags : 0;
    VkMemoryPropertyFlags readback_flags =
        readback_bit ? memory->memoryTypes[vd__lowest_bit(readback_bit)].propertyFlags : 0;
    uint64_t features = device_flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT ? VD_FEATURE_MAPPED : 0;
    if (readback_flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) features |= VD_FEATURE_CACHED;
    if (readback_flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) features |= VD_FEATURE_COHERENT;
    return features;
}

/* Fills in the features that the device supports, without `disable`. */
static void vd__vk_fill_features(const vd__vk_facts *facts, uint64_t disable, vd_device_info *info) {
    uint64_t features = VD_FEATURE_IMAGE | VD_FEATURE_UNPACK_HALF;
#define VD__VK_SET_BITS(bits, part, member) features |= (uint64_t)(bits);
#define VD__VK_CLEAR_BITS(bits, part, member) if (!facts->features.part.member) features &= ~(uint64_t)(bits);
    VD__VK_FEATURES(VD__VK_SET_BITS)
    VD__VK_FEATURES(VD__VK_CLEAR_BITS)
#undef VD__VK_SET_BITS
#undef VD__VK_CLEAR_BITS
    if (vd__vk_has_subgroups(facts)) features |= VD_FEATURE_SUBGROUP | VD_FEATURE_SHUFFLE_64;
    if (facts->v11.subgroupSupportedOperations & VK_SUBGROUP_FEATURE_CLUSTERED_BIT)
        features |= VD_FEATURE_SUBGROUP_CLUSTERED;
    if (vd__vk_fma_rounds_once(facts->v12.driverID)) features |= VD_FEATURE_FMA;
    if (facts->timestamp_bits) features |= VD_FEATURE_TIMESTAMP;
    if (facts->family_queues > 1) features |= VD_FEATURE_QUEUES;
    if (VD__VK_HAS(facts, EXTERNAL_HANDLE) || VD__VK_HAS(facts, EXTERNAL_HOST)) features |= VD_FEATURE_SHARING;
    info->features = vd__features_without(features | vd__vk_memory_features(facts, info), disable);
    features = info->features;
    info->timestamp_ns = features & VD_FEATURE_TIMESTAMP ? (double)facts->core.properties.limits.timestampPeriod : 0;
}

/* Fills in how the device executes kernels. llvmpipe (Mesa 22.3) terminates loops after 65535 iterations. */
static void vd__vk_fill_facts(const vd__vk_facts *facts, vd_device_info *info) {
    vd__facts_init(info, VD_CODE_SPIRV, 0);
    info->facts.lane_access = info->type == VD_DEVICE_CPU;
    if (facts->v12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE) info->facts.max_loop_iterations = 65535;
}

static void vd__vk_fill_info(const vd__vk_facts *facts, int index, uint64_t disable, vd_device_info *info) {
    memset(info, 0, sizeof *info);
    info->index = index;
    vd__vk_fill_names(facts, info);
    vd__vk_fill_memory(facts, info);
    vd__vk_fill_limits(facts, info);
    vd__vk_fill_features(facts, disable, info);
    vd__vk_fill_facts(facts, info);
}

static int vd__vk_driver_devices(vd__driver *driver, vd_device_info *out, int capacity) {
    int count = (int)vd__vk_driver_of(driver)->device_count;
    vd__vk_facts facts;
    for (int i = 0; i < count && i < capacity; i++) {
        vd__vk_facts_get(driver, i, &facts);
        vd__vk_fill_info(&facts, i, 0, &out[i]);
    }
    return count;
}

/* ---- probe for a driver fault that no query reports ----
   A CPU driver computes a subgroup in vector registers. If these are narrower than the 64-bit values of a subgroup (8
   lanes without AVX-512, 4 lanes without AVX), LLVM 15 splits the vectors. llvmpipe of Mesa 22.3 then has three faults:
   - trunc and round of f64 use f32 arithmetic: |x| >= 2^24 is returned unchanged, and 1.5 is rounded to 1. floor and
     ceil are exact.
   - The compiler crashes on a shuffle of 64-bit values from a lane outside the subgroup. The lowest lanes of a
     shuffle-up read from such lanes.
   - Without AVX there is no F16C, and the driver reports no f16 arithmetic. The compiler then crashes on widening an
     f16 from memory or from a u32.
   The crashes end the process, so they cannot be probed. The first fault can, and has the same cause: if it is found,
   the other two are assumed. GPUs with f64 have subgroups of more than VD__VK_PROBE_LANES lanes and are not probed, so
   opening them costs nothing more. */

enum { VD__VK_PROBE_LANES = 8 }; /* largest subgroup that is probed */

static vd_result vd__vk_rounding_probe(vd__device *dev, bool *exact); /* in the room `vulkan list` */

/* Returns whether the device may have the faults: small subgroups and f64. */
static bool vd__vk_needs_probe(const vd__vk_facts *facts) {
    return facts->features.core.features.shaderFloat64 && facts->v11.subgroupSize <= VD__VK_PROBE_LANES;
}

/* Runs the probe if the device needs it, and removes the faulty features from dev->info.features. */
static vd_result vd__vk_probe(vd__device *dev, const vd__vk_facts *facts) {
    bool exact = false;
    uint64_t faulty = VD_FEATURE_F64_ROUND | VD_FEATURE_SHUFFLE_64;
    if (!vd__vk_needs_probe(facts)) return VD_OK;
    vd_result result = vd__vk_rounding_probe(dev, &exact);
    if (result || exact) return result;
    if (!facts->features.v12.shaderFloat16) faulty |= VD_FEATURE_STORAGE_16 | VD_FEATURE_UNPACK_HALF;
    dev->info.features = vd__features_without(dev->info.features, faulty);
    return VD_OK;
}

/* ---- opening ---- */

/* Checks that a device meets the requirements of the backend. */
static vd_result vd__vk_device_usable(const vd__vk_facts *facts, int index) {
    const VkPhysicalDeviceProperties *p = &facts->core.properties;
    const char *missing = !facts->features.v12.timelineSemaphore ? "timeline semaphores"
                          : facts->family == UINT32_MAX          ? "compute queues"
                                                                 : NULL;
    if (!VD__VK_HAS(facts, CORE_1_2)) {
        return vd__fail(VD_ERROR_NO_DEVICE, "device %d '%s' supports Vulkan %u.%u, but 1.2 is required", index,
                        p->deviceName, VK_API_VERSION_MAJOR(p->apiVersion), VK_API_VERSION_MINOR(p->apiVersion));
    }
    if (missing)
        return vd__fail(VD_ERROR_NO_DEVICE, "device %d '%s' does not support %s", index, p->deviceName, missing);
    return VD_OK;
}

/* Creates the logical device with the Vulkan features that the bits `wanted` need. */
static VkResult vd__vk_device_create(const vd__vk_driver *driver, const vd__vk_facts *facts, uint64_t wanted,
                                     uint32_t queue_count, VkDevice *out) {
    vd__vk_features enable;
    memset(&enable, 0, sizeof enable);
    vd__vk_chain_features(facts, &enable);
#define VD__VK_ENABLE(bits, part, member) \
    if (facts->features.part.member && ((bits) == 0 || (wanted & (uint64_t)(bits)))) enable.part.member = VK_TRUE;
    VD__VK_FEATURES(VD__VK_ENABLE)
    VD__VK_EXTRA_FEATURES(VD__VK_ENABLE)
#undef VD__VK_ENABLE
    float priorities[VD_MAX_QUEUES];
    for (uint32_t i = 0; i < VD_MAX_QUEUES; i++) priorities[i] = 1;
    VD__VK_STRUCT(VkDeviceQueueCreateInfo, queue, VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queue.queueFamilyIndex = facts->family;
    queue.queueCount = queue_count;
    queue.pQueuePriorities = priorities;
    VD__VK_STRUCT(VkDeviceCreateInfo, info, VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    info.pNext = &enable.core;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = facts->name_count;
    info.ppEnabledExtensionNames = facts->names;
    return driver->vkCreateDevice(facts->handle, &info, NULL, out);
}

/* Returns the usage flags of all buffers. */
static VkBufferUsageFlags vd__vk_usage(const vd__vk_device *vk) {
    VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT
                               | VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT
                               | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
    return vk->address ? usage | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : usage;
}

/* Returns the kinds of vd__sharing that the driver supports for our buffers, as a bit mask. Memory that must be
   dedicated to one resource does not count. */
static uint32_t vd__vk_query_sharing(const vd__vk_driver *driver, const vd__vk_facts *facts, const vd__vk_device *vk) {
    static const VkExternalMemoryHandleTypeFlagBits types[] = { VD__VK_HANDLE_TYPE,
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT };
    const bool available[] = { VD__VK_HAS(facts, EXTERNAL_HANDLE) && vd__vk_can_get_handles(vk),
                               VD__VK_HAS(facts, EXTERNAL_HOST) && vk->vkGetMemoryHostPointerPropertiesEXT };
    uint32_t mask = 0;
    for (int i = 0; i < 2; i++) {
        VD__VK_STRUCT(VkPhysicalDeviceExternalBufferInfo, info, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO);
        VD__VK_STRUCT(VkExternalBufferProperties, properties, VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES);
        info.usage = vd__vk_usage(vk);
        info.handleType = types[i];
        if (!available[i]) continue;
        driver->vkGetPhysicalDeviceExternalBufferProperties(facts->handle, &info, &properties);
        VkExternalMemoryFeatureFlags features = properties.externalMemoryProperties.externalMemoryFeatures;
        if (features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) continue;
        if (features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) mask |= 1u << (i ? VD__SHARE_HOST : VD__SHARE_HANDLE);
        if (!i && (features & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT)) mask |= 1u << VD__SHARE_EXPORT;
    }
    return mask;
}

/* Gets the queues and creates a timeline semaphore for each. If the device was created with fewer queues
   (`driver_queues`), several of ours share one. */
static vd_result vd__vk_queues_create(vd__device *dev, uint32_t driver_queues) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    VD__VK_STRUCT(VkSemaphoreTypeCreateInfo, type, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VD__VK_STRUCT(VkSemaphoreCreateInfo, info, VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
    info.pNext = &type;
    for (uint32_t i = 0; i < dev->queue_count; i++) {
        vk->vkGetDeviceQueue(vk->handle, vk->family, i % driver_queues, &vk->queues[i]);
        VkResult result = vk->vkCreateSemaphore(vk->handle, &info, NULL, &vk->timelines[i]);
        VD__VK_NULL_IF(result, vk->timelines[i]);
        if (result) return vd__vk_fail(result, "vkCreateSemaphore of a timeline");
    }
    return VD_OK;
}

/* Chooses which copies use the copy kernel. On compute-only queues of discrete devices vkCmdCopyBuffer reaches
   only a fraction of the memory bandwidth (a fifth on NVIDIA devices); a kernel reaches all of it. */
static void vd__vk_choose_copies(vd__device *dev, const vd__vk_facts *facts) {
    enum { MIN_BYTES = 4 << 20 }; /* smaller copies use vkCmdCopyBuffer */
    vd__vk_device *vk = vd__vk_device_of(dev);
    bool always = dev->driver->host->copies == VD__COPIES_KERNEL,
         never = dev->driver->host->copies == VD__COPIES_DRIVER;
    bool faster = dev->info.type == VD_DEVICE_DISCRETE && !facts->family_has_graphics;
    vk->copy_kernel_min_bytes = vk->address && !never && (always || faster) ? always ? 16 : MIN_BYTES : UINT64_MAX;
    vk->copy_kernel_any_memory = always;
}

/* ---- pipeline cache ----
   The cache file of a device and driver begins with a vd__vk_cache_header, which is also the key of the file. The data
   of vkGetPipelineCacheData follow. */

enum {
    VD__VK_STORE_INTERVAL = 64,    /* new pipelines after which the file is written */
    VD__VK_EMPTY_CACHE_BYTES = 32  /* VkPipelineCacheHeaderVersionOne */
};

typedef struct vd__vk_cache_header {
    uint32_t vendor_id, device_id, driver_version, pointer_bytes;
    uint8_t uuid[VK_UUID_SIZE];
} vd__vk_cache_header;

static vd__vk_cache_header vd__vk_cache_header_of(const vd__device *dev) {
    vd__vk_cache_header head;
    head.vendor_id = dev->info.vendor_id;
    head.device_id = dev->info.device_id;
    head.driver_version = dev->info.driver_version;
    head.pointer_bytes = sizeof(void *);
    memcpy(head.uuid, vd__vk_device_of(dev)->cache_uuid, sizeof head.uuid);
    return head;
}

static vd__cache_key vd__vk_cache_key(const vd__vk_cache_header *head) {
    vd__cache_key key = VD__CACHE_KEY_INIT;
    vd__cache_key_add(&key, head, sizeof *head);
    return key;
}

/* Creates a pipeline cache with the pipelines of the cache file, or an empty one if there is no usable file or the
   driver rejects its data. *bytes: size of the driver's data in the file, 0 if they are not used. */
static VkResult vd__vk_cache_create(const vd__device *dev, VkPipelineCache *out, size_t *bytes) {
    const vd__vk_device *vk = vd__vk_device_of(dev);
    vd__vk_cache_header head = vd__vk_cache_header_of(dev);
    vd__cache_key key = vd__vk_cache_key(&head);
    size_t size = 0;
    uint8_t *file = (uint8_t *)vd__cache_load(dev->driver->host, "vulkan", &key, &size);
    bool usable = file && size > sizeof head && !memcmp(file, &head, sizeof head);
    VkResult result = VK_ERROR_UNKNOWN;
    VD__VK_STRUCT(VkPipelineCacheCreateInfo, info, VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
    if (usable) {
        info.initialDataSize = size - sizeof head;
        info.pInitialData = file + sizeof head;
        result = vk->vkCreatePipelineCache(vk->handle, &info, NULL, out);
    }
    *bytes = result ? 0 : info.initialDataSize;
    if (result) {
        info.initialDataSize = 0;
        info.pInitialData = NULL;
        result = vk->vkCreatePipelineCache(vk->handle, &info, NULL, out);
    }
    VD__VK_NULL_IF(result, *out);
    vd__free(vd__vk_allocator(dev), file);
    return result;
}

/* Stores the data of a pipeline cache in the cache file if there are pipelines and their size is not `known`. Caches
   only grow: data of equal size hold the same pipelines. */
static void vd__vk_cache_write(const vd__device *dev, VkPipelineCache cache, size_t known) {
    const vd__vk_device *vk = vd__vk_device_of(dev);
    vd__vk_cache_header head = vd__vk_cache_header_of(dev);
    vd__cache_key key = vd__vk_cache_key(&head);
    size_t size = 0;
    if (vk->vkGetPipelineCacheData(vk->handle, cache, &size, NULL)) return;
    if (size <= VD__VK_EMPTY_CACHE_BYTES || size == known) return;
    uint8_t *file = (uint8_t *)vd__alloc(vd__vk_allocator(dev), sizeof head + size);
    if (file && !vk->vkGetPipelineCacheData(vk->handle, cache, &size, file + sizeof head)) {
        memcpy(file, &head, sizeof head);
        vd__cache_store(dev->driver->host, "vulkan", &key, file, sizeof head + size);
    }
    vd__free(vd__vk_allocator(dev), file);
}

/* Writes new pipelines to the cache file. The file may have changed since the device was opened, so they are added to
   its current contents: in a temporary cache, because the destination of vkMergePipelineCaches is externally
   synchronised, and other threads may be creating pipelines in vk->cache. Errors are ignored. */
static VD__COLD void vd__vk_cache_store(vd__device *dev) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    VkPipelineCache merged = VK_NULL_HANDLE;
    size_t known = 0;
    uint32_t added = vd__atomic_exchange32(&vk->new_pipelines, 0);
    if (!added || !dev->driver->host->cache_directory || vd__vk_cache_create(dev, &merged, &known)) return;
    if (!vk->vkMergePipelineCaches(vk->handle, merged, 1, &vk->cache)) vd__vk_cache_write(dev, merged, known);
    vk->vkDestroyPipelineCache(vk->handle, merged, NULL);
}

/* Creates the logical device, its queues and its pipeline cache. Reads dev->info and dev->queue_count. On failure
   the caller closes the device. */
static vd_result vd__vk_device_start(vd__device *dev, const vd__vk_facts *facts) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    uint32_t available = dev->info.features & VD_FEATURE_QUEUES ? facts->family_queues : 1;
    uint32_t created = available < dev->queue_count ? available : dev->queue_count;
    /* the probe needs f64 even if the user disabled it */
    uint64_t enabled = dev->info.features | (vd__vk_needs_probe(facts) ? VD_FEATURE_F64 : 0);
    VkResult result = vd__vk_device_create(vd__vk_driver_of(dev->driver), facts, enabled, created, &vk->handle);
    VD__VK_NULL_IF(result, vk->handle);
    if (result) return vd__vk_fail(result, "vkCreateDevice on '%s'", dev->info.name);
    const char *missing = vd__vk_load_device(vd__vk_driver_of(dev->driver), vk);
    if (missing)
        return vd__fail(VD_ERROR_NO_DEVICE, "the driver of device '%s' has no function %s", dev->info.name, missing);
    vk->family = facts->family;
    vk->uniform_alignment = (uint32_t)facts->core.properties.limits.minUniformBufferOffsetAlignment;
    vk->flush_alignment = facts->core.properties.limits.nonCoherentAtomSize;
    vk->address = (dev->info.features & VD_FEATURE_ADDRESS) != 0;
    vk->shared_memory = dev->info.shared_memory;
    vk->memory = facts->memory.memoryProperties;
    vk->host_import_alignment = facts->host.minImportedHostPointerAlignment;
    dev->sharing_mask = vd__vk_query_sharing(vd__vk_driver_of(dev->driver), facts, vk);
    if (dev->info.api_version[0] == 1 && dev->info.api_version[1] < 3) dev->max_spirv_minor = 5;
    vd__vk_choose_copies(dev, facts);
    memcpy(vk->cache_uuid, facts->core.properties.pipelineCacheUUID, sizeof vk->cache_uuid);
    size_t cached_bytes;
    result = vd__vk_cache_create(dev, &vk->cache, &cached_bytes);
    return result ? vd__vk_fail(result, "vkCreatePipelineCache") : vd__vk_queues_create(dev, created);
}

static vd_result vd__vk_device_open(vd__driver *driver, int index, uint64_t disable, vd__device *dev) {
    vd__vk_facts facts;
    int count = (int)vd__vk_driver_of(driver)->device_count;
    if (index < 0 || index >= count)
        return vd__fail(VD_ERROR_NO_DEVICE, "the device index is %d, but there are %d devices", index, count);
    vd__vk_facts_get(driver, index, &facts);
    vd_result result = vd__vk_device_usable(&facts, index);
    if (result) return result;
    vd__vk_fill_info(&facts, index, disable, &dev->info);
    dev->driver = driver;
    dev->native = vd__alloc_zeroed(&driver->host->allocator, sizeof(vd__vk_device));
    if (!dev->native) return vd__fail_memory(NULL, NULL, 0);
    vd__mutex_init(&vd__vk_device_of(dev)->lock);
    vd__mutex_init(&vd__vk_device_of(dev)->copy_kernel_lock);
    result = vd__vk_device_start(dev, &facts);
    if (!result) result = vd__vk_probe(dev, &facts);
    if (result) vd__vk_device_close(dev);
    return result;
}

static void vd__vk_device_idle(vd__device *dev) {
    vd__vk_device_of(dev)->vkDeviceWaitIdle(vd__vk_device_of(dev)->handle);
}

static void vd__vk_device_close(vd__device *dev) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    if (vk->handle && vk->vkDestroyDevice) {
        /* a driver thread may still use a semaphore after it has reached its last value */
        if (vk->vkDeviceWaitIdle) vd__vk_device_idle(dev);
        if (vk->copy_kernel.native[0]) vd__vk_kernel_destroy(dev, &vk->copy_kernel);
        if (vk->cache) vd__vk_cache_store(dev);
        for (uint32_t i = 0; i < vk->layout_count; i++)
            vk->vkDestroyDescriptorSetLayout(vk->handle, vk->layouts[i].handle, NULL);
        if (vk->cache) vk->vkDestroyPipelineCache(vk->handle, vk->cache, NULL);
        for (uint32_t i = 0; i < VD_MAX_QUEUES; i++)
            if (vk->timelines[i]) vk->vkDestroySemaphore(vk->handle, vk->timelines[i], NULL);
        vk->vkDestroyDevice(vk->handle, NULL);
    }
    vd__mutex_destroy(&vk->lock);
    vd__mutex_destroy(&vk->copy_kernel_lock);
    vd__free(vd__vk_allocator(dev), vk->layouts);
    vd__free(vd__vk_allocator(dev), vk);
    dev->native = NULL;
}
#endif /* VD__HAS_VULKAN */

// >>vulkan memory
/* Memory blocks (VkDeviceMemory) and the buffers in them (VkBuffer). */

#if VD__HAS_VULKAN
/* ---- blocks ---- */

/* Sets the block's host properties, and maps it if its memory type is host-visible. */
static vd_result vd__vk_block_map(vd__vk_device *vk, vd__block *block) {
    void *mapped = NULL;
    VkMemoryPropertyFlags flags = vk->memory.memoryTypes[block->type].propertyFlags;
    block->mapped = NULL;
    block->host_cached = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
    block->coherent = (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
    if (!(flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)) return VD_OK;
    VkResult result = vk->vkMapMemory(vk->handle, VD__VK_UNPACK(VkDeviceMemory, block->native[0]), 0, VK_WHOLE_SIZE, 0,
                                      &mapped);
    if (result)
        return vd__vk_fail(result, "vkMapMemory of %llu bytes of memory type %u", (unsigned long long)block->size,
                           block->type);
    block->mapped = (uint8_t *)mapped;
    return VD_OK;
}

static VkExternalMemoryHandleTypeFlagBits vd__vk_handle_type(uint32_t sharing) {
    return sharing == VD__SHARE_HOST ? VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT
                                     : VD__VK_HANDLE_TYPE;
}

/* Allocates block->size bytes of memory type block->type. `next` is a pNext chain with an export or import struct,
   or NULL. */
static vd_result vd__vk_block_allocate(vd__vk_device *vk, vd__block *block, const void *next) {
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VD__VK_STRUCT(VkMemoryAllocateFlagsInfo, flags, VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
    flags.pNext = next;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VD__VK_STRUCT(VkMemoryAllocateInfo, info, VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    info.pNext = vk->address ? &flags : next;
    info.allocationSize = block->size;
    info.memoryTypeIndex = block->type;
    VkResult result = vk->vkAllocateMemory(vk->handle, &info, NULL, &memory);
    if (result)
        return vd__vk_fail(result, "vkAllocateMemory of %llu bytes of memory type %u", (unsigned long long)block->size,
                           block->type);
    block->native[0] = VD__VK_PACK(memory);
    block->native[1] = 0;
    return VD_OK;
}

/* Creates a handle for the block's memory, for export. */
#if VD__HAS_WIN32_HANDLES
static vd_result vd__vk_block_handle(const vd__vk_device *vk, const vd__block *block, int64_t *out) {
    VD__VK_STRUCT(VkMemoryGetWin32HandleInfoKHR, info, VK_STRUCTURE_TYPE_MEMORY_GET_WIN32_HANDLE_INFO_KHR);
    HANDLE handle = NULL;
    info.memory = VD__VK_UNPACK(VkDeviceMemory, block->native[0]);
    info.handleType = VD__VK_HANDLE_TYPE;
    VkResult result = vk->vkGetMemoryWin32HandleKHR(vk->handle, &info, &handle);
    if (result) return vd__vk_fail(result, "vkGetMemoryWin32HandleKHR of %llu bytes", VD__U(block->size));
    *out = (int64_t)(intptr_t)handle;
    return VD_OK;
}
#else
static vd_result vd__vk_block_handle(const vd__vk_device *vk, const vd__block *block, int64_t *out) {
    VD__VK_STRUCT(VkMemoryGetFdInfoKHR, info, VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR);
    int fd = -1;
    info.memory = VD__VK_UNPACK(VkDeviceMemory, block->native[0]);
    info.handleType = VD__VK_HANDLE_TYPE;
    VkResult result = vk->vkGetMemoryFdKHR(vk->handle, &info, &fd);
    if (result) return vd__vk_fail(result, "vkGetMemoryFdKHR of %llu bytes", VD__U(block->size));
    *out = fd;
    return VD_OK;
}
#endif

/* Vulkan returns one NT handle for each allocation: an exportable block keeps it in native[1], and
   vd__vk_block_export returns duplicates. File descriptors are not limited in number. */
static vd_result vd__vk_block_create(vd__device *dev, vd__block *block) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    int64_t handle;
    VD__VK_STRUCT(VkExportMemoryAllocateInfo, export_info, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
    export_info.handleTypes = VD__VK_HANDLE_TYPE;
    vd_result r = vd__vk_block_allocate(vk, block, block->sharing ? &export_info : NULL);
    if (r) return r;
    r = vd__vk_block_map(vk, block);
    if (!r && block->sharing && VD__HAS_WIN32_HANDLES) {
        r = vd__vk_block_handle(vk, block, &handle);
        if (!r) block->native[1] = (uint64_t)handle;
    }
    if (r) vd__vk_block_destroy(dev, block);
    return r;
}

/* Imports the host memory at `address`. Vulkan requires multiples of minImportedHostPointerAlignment, so the block
   begins at the last multiple that is not above the address; *offset is the distance. */
static vd_result vd__vk_block_import_host(vd__vk_device *vk, vd__block *block, const vd__memory_requirements *need,
                                          uint64_t address, uint64_t *offset) {
    uint64_t align = vk->host_import_alignment ? vk->host_import_alignment : 4096, base = address / align * align;
    VD__VK_STRUCT(VkMemoryHostPointerPropertiesEXT, properties, VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT);
    VD__VK_STRUCT(VkImportMemoryHostPointerInfoEXT, import_info, VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
    *offset = address - base;
    import_info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    import_info.pHostPointer = (void *)(uintptr_t)base;
    if (*offset % need->align || (*offset && align > 4096))
        return vd__fail(VD_ERROR_UNSUPPORTED, "the host address 0x%llx is not a multiple of %llu", VD__U(address),
                        VD__U(align > 4096 ? align : need->align));
    VkResult result = vk->vkGetMemoryHostPointerPropertiesEXT(vk->handle, import_info.handleType,
                                                              import_info.pHostPointer, &properties);
    if (result) return vd__vk_fail(result, "vkGetMemoryHostPointerPropertiesEXT of 0x%llx", VD__U(base));
    uint32_t types = properties.memoryTypeBits & need->types;
    for (block->type = 0; block->type < vk->memory.memoryTypeCount; block->type++) {
        VkMemoryPropertyFlags flags = vk->memory.memoryTypes[block->type].propertyFlags;
        if (!(types >> block->type & 1u) || !(flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)) continue;
        block->size = (*offset + need->size + align - 1) / align * align;
        block->mapped = (uint8_t *)(uintptr_t)base;
        block->coherent = true;
        block->host_cached = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
        return vd__vk_block_allocate(vk, block, &import_info);
    }
    return vd__fail(VD_ERROR_UNSUPPORTED, "no coherent memory type can import host memory at 0x%llx", VD__U(address));
}

/* Imports a duplicate of the handle. A successful import transfers the ownership of a file descriptor to the driver,
   but not that of an NT handle. */
static vd_result vd__vk_block_import_handle(vd__device *dev, vd__block *block, const vd__memory_requirements *need,
                                            const vd_external *external, uint64_t *offset) {
    vd__vk_device *vk = vd__vk_device_of(dev);
#if VD__HAS_WIN32_HANDLES
    VD__VK_STRUCT(VkImportMemoryWin32HandleInfoKHR, import_info,
                  VK_STRUCTURE_TYPE_IMPORT_MEMORY_WIN32_HANDLE_INFO_KHR);
#else
    VD__VK_STRUCT(VkImportMemoryFdInfoKHR, import_info, VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR);
#endif
    import_info.handleType = VD__VK_HANDLE_TYPE;
    if (external->memory_type >= vk->memory.memoryTypeCount || !(need->types >> external->memory_type & 1u))
        return vd__fail(VD_ERROR_INVALID, "desc.external->memory_type is %u, which buffers of '%s' cannot use",
                        external->memory_type, dev->info.name);
    if (external->offset % need->align || need->size > external->size - external->offset)
        return vd__fail(VD_ERROR_INVALID, "%llu bytes at offset %llu of the external memory (%llu bytes) do not fit: "
                        "the buffer needs %llu bytes at a multiple of %llu", VD__U(block->size),
                        VD__U(external->offset), VD__U(external->size), VD__U(need->size), VD__U(need->align));
    int64_t handle = vd__handle_copy(external->handle);
    if (handle < 0)
        return vd__fail(VD_ERROR_INVALID, "desc.external->handle is %lld, which is not an open handle",
                        (long long)external->handle);
#if VD__HAS_WIN32_HANDLES
    import_info.handle = (HANDLE)(intptr_t)handle;
#else
    import_info.fd = (int)handle;
#endif
    *offset = external->offset;
    block->size = external->size;
    block->type = external->memory_type;
    vd_result r = vd__vk_block_allocate(vk, block, &import_info);
    if (r || VD__HAS_WIN32_HANDLES) vd__handle_close(handle);
    if (r) return r;
    r = vd__vk_block_map(vk, block);
    if (r) vd__vk_block_destroy(dev, block);
    return r;
}

static vd_result vd__vk_block_import(vd__device *dev, vd__block *block, const vd__memory_requirements *need,
                                     const vd__import_source *from, uint64_t *offset) {
    if (need->sharing == VD__SHARE_HANDLE) return vd__vk_block_import_handle(dev, block, need, from->external, offset);
    return vd__vk_block_import_host(vd__vk_device_of(dev), block, need, from->handle, offset);
}

static vd_result vd__vk_block_export(vd__device *dev, const vd__block *block, vd_external *out) {
    out->memory_type = block->type;
    if (!VD__HAS_WIN32_HANDLES) return vd__vk_block_handle(vd__vk_device_of(dev), block, &out->handle);
    out->handle = vd__handle_copy((int64_t)block->native[1]);
    return out->handle < 0 ? vd__fail(VD_ERROR_BACKEND, "duplicating a handle failed") : VD_OK;
}

static void vd__vk_block_destroy(vd__device *dev, vd__block *block) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    if (VD__HAS_WIN32_HANDLES && block->native[1]) vd__handle_close((int64_t)block->native[1]);
    vk->vkFreeMemory(vk->handle, VD__VK_UNPACK(VkDeviceMemory, block->native[0]), NULL);
    block->native[0] = block->native[1] = 0;
    block->mapped = NULL;
}

/* Ranges are rounded to multiples of nonCoherentAtomSize, as the calls require. */
static vd_result vd__vk_block_sync(vd__device *dev, vd__block *block, uint64_t offset, uint64_t size, bool to_host) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    uint64_t begin = offset / vk->flush_alignment * vk->flush_alignment,
             end = (offset + size + vk->flush_alignment - 1) / vk->flush_alignment * vk->flush_alignment;
    VD__VK_STRUCT(VkMappedMemoryRange, range, VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE);
    range.memory = VD__VK_UNPACK(VkDeviceMemory, block->native[0]);
    range.offset = begin;
    range.size = end < block->size ? end - begin : VK_WHOLE_SIZE;
    VkResult result = to_host ? vk->vkInvalidateMappedMemoryRanges(vk->handle, 1, &range)
                              : vk->vkFlushMappedMemoryRanges(vk->handle, 1, &range);
    if (!result) return VD_OK;
    return vd__vk_fail(result, "%s of %llu bytes",
                       to_host ? "vkInvalidateMappedMemoryRanges" : "vkFlushMappedMemoryRanges",
                       (unsigned long long)size);
}

/* ---- memory types ---- */

static uint32_t vd__vk_memory_types(vd__device *dev, vd_memory usage, uint32_t mask) {
    return vd__vk_memory_best(&vd__vk_device_of(dev)->memory, &dev->info, usage, mask);
}

/* ---- buffers ---- */

/* Creates the VkBuffer; vd__vk_memory_bind binds memory to it. */
static vd_result vd__vk_memory_create(vd__device *dev, vd__memory *m, vd__memory_requirements *need) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    VkBuffer buffer = VK_NULL_HANDLE;
    VkMemoryRequirements requirements;
    VD__VK_STRUCT(VkBufferCreateInfo, info, VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    info.size = m->size;
    info.usage = vd__vk_usage(vk);
    VD__VK_STRUCT(VkExternalMemoryBufferCreateInfo, external_info,
                  VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
    external_info.handleTypes = vd__vk_handle_type(need->sharing);
    if (need->sharing) info.pNext = &external_info;
    VkResult result = vk->vkCreateBuffer(vk->handle, &info, NULL, &buffer);
    if (result) return vd__vk_fail(result, "vkCreateBuffer of %llu bytes", (unsigned long long)m->size);
    vk->vkGetBufferMemoryRequirements(vk->handle, buffer, &requirements);
    m->native[0] = VD__VK_PACK(buffer);
    need->size = requirements.size;
    need->align = requirements.alignment;
    need->types = requirements.memoryTypeBits;
    return VD_OK;
}

static vd_result vd__vk_memory_bind(vd__device *dev, vd__memory *m) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    VkBuffer buffer = VD__VK_UNPACK(VkBuffer, m->native[0]);
    VkResult result = vk->vkBindBufferMemory(vk->handle, buffer, VD__VK_UNPACK(VkDeviceMemory, m->block->native[0]),
                                             m->offset);
    if (result) return vd__vk_fail(result, "vkBindBufferMemory of %llu bytes", (unsigned long long)m->size);
    VD__VK_STRUCT(VkBufferDeviceAddressInfo, info, VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
    info.buffer = buffer;
    m->address = vk->address ? vk->vkGetBufferDeviceAddress(vk->handle, &info) : 0;
    return VD_OK;
}

static void vd__vk_memory_destroy(vd__device *dev, vd__memory *m) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    vk->vkDestroyBuffer(vk->handle, VD__VK_UNPACK(VkBuffer, m->native[0]), NULL);
    m->native[0] = 0;
}
#endif /* VD__HAS_VULKAN */

// >>vulkan kernel
/* Pipelines and their layouts. An argument block is passed in a uniform buffer instead of push constants if it is too
   large for these, or if submissions of a recording can change it. */

#if VD__HAS_VULKAN
typedef struct vd__vk_kernel {
    VkPipeline pipeline;
    VkPipelineLayout layout;
    VkDescriptorSetLayout set_layout; /* VK_NULL_HANDLE: no bindings */
    uint32_t set_index;        /* index of set_layout in the device's layouts */
    uint32_t binding_count;    /* number of bindings, without the argument block */
    uint32_t first_binding;
    bool has_images;           /* false: all bindings are storage buffers */
    uint8_t types[64];         /* vd__descriptor of each binding, in order */
    uint32_t uniform;          /* 1 + binding of the argument block; 0: push constants or no arguments */
    uint32_t push_bytes;
    vd_kernel_desc *desc;      /* with push constants: a copy for vd__vk_kernel_in_memory */
    struct vd__vk_kernel *in_memory; /* the same kernel with a uniform buffer; NULL until a launch needs it; guarded by
                                        the lock of the device */
} vd__vk_kernel;

static vd__vk_kernel *vd__vk_kernel_of(const vd__kernel_code *code) {
    return (vd__vk_kernel *)(uintptr_t)code->native[0];
}

/* ---- argument blocks in a uniform buffer ----
   If all members of the argument block are 32-bit integers, it has the same layout in push constants and in a
   uniform block. The conversion therefore only changes the storage class of the variable and of its pointer types
   and adds two decorations. */

enum { VD__VK_UNIFORM_EXTRA = 8 }; /* words that vd__vk_to_uniform adds: two OpDecorate */

/* Returns the push constant variable if all members of its block are 32-bit integers, otherwise 0. */
static uint32_t vd__vk_push_variable(const vd__spirv *m) {
    uint32_t at = VD__SPIRV_HEAD;
    while (at < m->functions
           && (vd__spirv_opcode(m, at) != VD__OpVariable || m->words[at + 3] != VD__StorageClassPushConstant))
        at += vd__spirv_length(m, at);
    if (at == m->functions) return 0;
    const uint32_t *block = vd__spirv_definition(m, vd__spirv_definition(m, m->words[at + 1])[3]);
    if ((block[0] & 0xffffu) != VD__OpTypeStruct) return 0;
    for (uint32_t i = 2; i < block[0] >> 16; i++)
        if (vd__spirv_defined_by(m, block[i]) != VD__OpTypeInt || m->ids[block[i]].size != 4) return 0;
    return m->words[at + 2];
}

/* Writes an OpDecorate to out and returns the position after it. */
static uint32_t *vd__vk_decorate(uint32_t *out, uint32_t id, uint32_t decoration, uint32_t value) {
    out[0] = 4u << 16 | VD__OpDecorate;
    out[1] = id;
    out[2] = decoration;
    out[3] = value;
    return out + 4;
}

/* Writes to `out` the module with its argument block in a uniform buffer at `binding` of set 0, and returns its
   length in words. `out` must hold VD__VK_UNIFORM_EXTRA words more than the module. Both decorations of the variable
   are inserted before the first decoration of the module. */
static size_t vd__vk_to_uniform(const vd__spirv *m, uint32_t variable, uint32_t binding, uint32_t *out) {
    uint32_t *to = out + VD__SPIRV_HEAD;
    bool decorated = false;
    memcpy(out, m->words, VD__SPIRV_HEAD * sizeof *out);
    for (uint32_t at = VD__SPIRV_HEAD; at < m->functions; at += vd__spirv_length(m, at)) {
        uint32_t op = vd__spirv_opcode(m, at), length = vd__spirv_length(m, at);
        uint32_t class_word = op == VD__OpTypePointer || op == VD__OpTypeForwardPointer ? 2 : op == VD__OpVariable ? 3
            : 0;
        if (!decorated && (op == VD__OpDecorate || op == VD__OpMemberDecorate)) {
            to = vd__vk_decorate(to, variable, VD__DecorationDescriptorSet, 0);
            to = vd__vk_decorate(to, variable, VD__DecorationBinding, binding);
            decorated = true;
        }
        memcpy(to, m->words + at, length * sizeof *to);
        if (class_word && to[class_word] == VD__StorageClassPushConstant) to[class_word] = VD__StorageClassUniform;
        to += length;
    }
    memcpy(to, m->words + m->functions, (m->count - m->functions) * sizeof *to);
    return (size_t)(to - out) + m->count - m->functions;
}

/* ---- layouts ---- */

static const VkDescriptorType vd__vk_descriptor_types[VD__DESCRIPTORS] = { /* by vd__descriptor */
    VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
    VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
};

static VkResult vd__vk_set_layout_create(vd__vk_device *vk, const vd__vk_layout *layout, VkDescriptorSetLayout *out) {
    VkDescriptorSetLayoutBinding bindings[VD__VK_BINDINGS];
    VD__VK_STRUCT(VkDescriptorSetLayoutCreateInfo, info, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    memset(bindings, 0, sizeof bindings);
    for (uint32_t i = 0; i < VD__VK_BINDINGS; i++) {
        if (!layout->types[i]) continue;
        VkDescriptorSetLayoutBinding *b = &bindings[info.bindingCount++];
        b->binding = i;
        b->descriptorType = vd__vk_descriptor_types[layout->types[i]];
        b->descriptorCount = 1;
        b->stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    info.pBindings = bindings;
    return vk->vkCreateDescriptorSetLayout(vk->handle, &info, NULL, out);
}

/* Creates a descriptor set layout and appends it to the device's layouts. The caller holds vk->lock. */
static vd_result vd__vk_layout_add(vd__device *dev, const vd__vk_layout *wanted) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    vd__vk_layout *layouts = (vd__vk_layout *)vd__vk_reserve(dev, vk->layouts, &vk->layout_capacity,
                                                             vk->layout_count + 1, sizeof *layouts);
    if (!layouts) return VD_ERROR_OUT_OF_MEMORY;
    vk->layouts = layouts;
    vd__vk_layout *layout = &vk->layouts[vk->layout_count];
    *layout = *wanted;
    VkResult result = vd__vk_set_layout_create(vk, layout, &layout->handle);
    if (result) return vd__vk_fail(result, "vkCreateDescriptorSetLayout");
    vk->layout_count++;
    return VD_OK;
}

/* Sets the kernel's descriptor set layout; kernels with the same bindings share one. */
static vd_result vd__vk_layout_get(vd__device *dev, const vd__vk_layout *wanted, vd__vk_kernel *kernel) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    vd_result result = VD_OK;
    uint32_t i = 0;
    vd__mutex_lock(&vk->lock);
    while (i < vk->layout_count && memcmp(vk->layouts[i].types, wanted->types, sizeof wanted->types)) i++;
    if (i == vk->layout_count) result = vd__vk_layout_add(dev, wanted);
    if (!result) {
        kernel->set_layout = vk->layouts[i].handle;
        kernel->set_index = i;
    }
    vd__mutex_unlock(&vk->lock);
    return result;
}

/* Collects the bindings of desc, in order. in_memory: the argument block is passed in a uniform buffer, which is bound
   after the last argument. */
static void vd__vk_kernel_bindings(const vd_kernel_desc *desc, bool in_memory, vd__vk_layout *layout,
                                   vd__vk_kernel *kernel) {
    uint32_t end = 0;
    memset(layout, 0, sizeof *layout);
    for (int i = 0; i < desc->arg_count; i++) {
        vd__descriptor type = vd__descriptor_of(&desc->args[i]);
        if (type) layout->types[desc->args[i].location] = (uint8_t)type;
    }
    for (uint32_t i = 0; i < VD__COUNT(kernel->types); i++) {
        if (!layout->types[i]) continue;
        if (!kernel->binding_count) kernel->first_binding = i;
        if (layout->types[i] != VD__DESCRIPTOR_BUFFER) kernel->has_images = true;
        kernel->types[kernel->binding_count++] = layout->types[i];
        end = i + 1;
    }
    if (!in_memory) {
        kernel->push_bytes = desc->argument_bytes;
        return;
    }
    layout->types[end] = VD__DESCRIPTOR_ARGUMENTS;
    kernel->uniform = end + 1;
}

/* Creates the layouts of a kernel. */
static vd_result vd__vk_kernel_layout(vd__device *dev, const vd_kernel_desc *desc, bool in_memory,
                                      vd__vk_kernel *kernel) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    vd__vk_layout layout;
    vd__vk_kernel_bindings(desc, in_memory, &layout, kernel);
    vd_result result = kernel->binding_count || kernel->uniform ? vd__vk_layout_get(dev, &layout, kernel) : VD_OK;
    if (result) return result;
    VkPushConstantRange range = { VK_SHADER_STAGE_COMPUTE_BIT, 0, 0 };
    range.size = kernel->push_bytes;
    VD__VK_STRUCT(VkPipelineLayoutCreateInfo, info, VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    info.setLayoutCount = kernel->set_layout ? 1 : 0;
    info.pSetLayouts = &kernel->set_layout;
    info.pushConstantRangeCount = range.size ? 1 : 0;
    info.pPushConstantRanges = &range;
    VkResult made = vk->vkCreatePipelineLayout(vk->handle, &info, NULL, &kernel->layout);
    VD__VK_NULL_IF(made, kernel->layout);
    return made ? vd__vk_fail(made, "vkCreatePipelineLayout of kernel '%s'", desc->name) : VD_OK;
}

/* ---- pipelines ---- */

/* Creates the pipeline of a kernel from a module of `size` bytes. The kernel's layouts exist. */
static vd_result vd__vk_pipeline_create(vd__device *dev, const vd_kernel_desc *desc, const void *words, size_t size,
                                        vd__vk_kernel *kernel) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    VkShaderModule shader = VK_NULL_HANDLE;
    VD__VK_STRUCT(VkShaderModuleCreateInfo, code, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    code.codeSize = size;
    code.pCode = (const uint32_t *)words;
    VkResult result = vk->vkCreateShaderModule(vk->handle, &code, NULL, &shader);
    if (result) return vd__vk_fail(result, "vkCreateShaderModule of kernel '%s'", desc->name);
    VD__VK_STRUCT(VkComputePipelineCreateInfo, info, VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = shader;
    info.stage.pName = desc->entry ? desc->entry : "main";
    info.layout = kernel->layout;
    result = vk->vkCreateComputePipelines(vk->handle, vk->cache, 1, &info, NULL, &kernel->pipeline);
    vk->vkDestroyShaderModule(vk->handle, shader, NULL);
    VD__VK_NULL_IF(result, kernel->pipeline);
    if (!result) {
        if (vd__atomic_add32(&vk->new_pipelines, 1) + 1 == VD__VK_STORE_INTERVAL) vd__vk_cache_store(dev);
        return VD_OK;
    }
    vd_result failed = vd__vk_fail(result, "vkCreateComputePipelines of kernel '%s'", desc->name);
    return failed == VD_ERROR_BACKEND ? VD_ERROR_COMPILE : failed;
}

/* Creates the pipeline of a kernel whose argument block is passed in a uniform buffer. */
static vd_result vd__vk_pipeline_create_uniform(vd__device *dev, const vd_kernel_desc *desc, vd__vk_kernel *kernel) {
    const vd_allocator *allocator = vd__vk_allocator(dev);
    vd__spirv m;
    vd_result result = vd__spirv_decode(&m, allocator, desc->code, desc->code_size);
    if (result) return result;
    uint32_t variable = vd__vk_push_variable(&m);
    uint32_t *words = (uint32_t *)vd__alloc(allocator, desc->code_size + VD__VK_UNIFORM_EXTRA * 4);
    if (!variable && desc->argument_bytes <= dev->info.limits.max_push_bytes)
        result = vd__fail(VD_ERROR_UNSUPPORTED, "arguments of kernel '%s' cannot be changed in a recording: its "
                          "argument block does not consist of 32-bit integers", desc->name);
    else if (!variable)
        result = vd__fail(VD_ERROR_UNSUPPORTED, "the kernel has %u bytes of push constants, but the device's limit is "
                          "%u (max_push_bytes); only an argument block of 32-bit integers can be passed in a uniform "
                          "buffer instead", desc->argument_bytes, dev->info.limits.max_push_bytes);
    else if (!words) result = vd__fail_memory(NULL, NULL, 0);
    else {
        size_t count = vd__vk_to_uniform(&m, variable, kernel->uniform - 1, words);
        result = vd__vk_pipeline_create(dev, desc, words, count * 4, kernel);
    }
    vd__free(allocator, words);
    vd__spirv_free(&m);
    return result;
}

/* Copies what vd__vk_kernel_new needs of a desc: all but the names of arguments. */
static vd_kernel_desc *vd__vk_desc_copy(const vd_allocator *allocator, const vd_kernel_desc *desc) {
    size_t args = (size_t)desc->arg_count * sizeof *desc->args, name = strlen(desc->name) + 1;
    size_t entry = desc->entry ? strlen(desc->entry) + 1 : 0;
    vd_kernel_desc *copy = (vd_kernel_desc *)vd__alloc_zeroed(allocator, sizeof *copy + args + desc->code_size + name
                                                                             + entry);
    if (!copy) return NULL;
    char *at = (char *)(copy + 1);
    if (args) memcpy(at, desc->args, args);
    memcpy(at + args, desc->code, desc->code_size);
    memcpy(at + args + desc->code_size, desc->name, name);
    if (entry) memcpy(at + args + desc->code_size + name, desc->entry, entry);
    copy->args = (const vd_arg_info *)(void *)at;
    copy->arg_count = desc->arg_count;
    copy->argument_bytes = desc->argument_bytes;
    copy->code = at + args;
    copy->code_size = desc->code_size;
    copy->name = at + args + desc->code_size;
    if (entry) copy->entry = copy->name + name;
    return copy;
}

static void vd__vk_kernel_free(vd__device *dev, vd__vk_kernel *kernel) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    if (!kernel) return;
    vd__vk_kernel_free(dev, kernel->in_memory);
    vk->vkDestroyPipeline(vk->handle, kernel->pipeline, NULL);
    vk->vkDestroyPipelineLayout(vk->handle, kernel->layout, NULL);
    vd__free(vd__vk_allocator(dev), kernel->desc);
    vd__free(vd__vk_allocator(dev), kernel);
}

/* in_memory: the argument block is passed in a uniform buffer. */
static vd_result vd__vk_kernel_new(vd__device *dev, const vd_kernel_desc *desc, bool in_memory, vd__vk_kernel **out) {
    vd__vk_kernel *kernel = (vd__vk_kernel *)vd__alloc_zeroed(vd__vk_allocator(dev), sizeof *kernel);
    if (!kernel) return vd__fail_memory(NULL, NULL, 0);
    vd_result result = vd__vk_kernel_layout(dev, desc, in_memory, kernel);
    if (!result)
        result = in_memory ? vd__vk_pipeline_create_uniform(dev, desc, kernel)
                           : vd__vk_pipeline_create(dev, desc, desc->code, desc->code_size, kernel);
    if (result) vd__vk_kernel_free(dev, kernel);
    else *out = kernel;
    return result;
}

static vd_result vd__vk_kernel_create(vd__device *dev, const vd_kernel_desc *desc, vd__kernel_code *code) {
    vd__vk_kernel *kernel = NULL;
    vd_result result = vd__vk_kernel_new(dev, desc, desc->argument_bytes > dev->info.limits.max_push_bytes, &kernel);
    if (result) return result;
    code->native[0] = (uintptr_t)kernel;
    if (!kernel->push_bytes) return VD_OK;
    kernel->desc = vd__vk_desc_copy(vd__vk_allocator(dev), desc);
    if (kernel->desc) return VD_OK;
    vd__vk_kernel_destroy(dev, code);
    return vd__fail_memory(NULL, NULL, 0);
}

static void vd__vk_kernel_destroy(vd__device *dev, vd__kernel_code *code) {
    vd__vk_kernel_free(dev, vd__vk_kernel_of(code));
    code->native[0] = 0;
}

/* Replaces *kernel by the same kernel with its argument block in a uniform buffer, created at first use. No lock is
   held while it is compiled: if two threads compile it, the second one discards its own. */
static VD__NOINLINE vd_result vd__vk_kernel_in_memory(vd__device *dev, vd__vk_kernel **kernel) {
    vd__mutex *lock = &vd__vk_device_of(dev)->lock;
    vd__vk_kernel *from = *kernel, *created = NULL;
    if (!from->push_bytes) return VD_OK;
    vd__mutex_lock(lock);
    *kernel = from->in_memory;
    vd__mutex_unlock(lock);
    if (*kernel) return VD_OK;
    vd_result result = vd__vk_kernel_new(dev, from->desc, true, &created);
    if (result) return result;
    vd__mutex_lock(lock);
    *kernel = from->in_memory ? from->in_memory : created;
    from->in_memory = *kernel;
    vd__mutex_unlock(lock);
    if (*kernel != created) vd__vk_kernel_free(dev, created);
    return VD_OK;
}

/* ---- built-in kernels ----
   `copy` copies 16 bytes per invocation: to[i] = from[i] for i < count. Its argument block holds the addresses `to` and
   `from` and the count.
   `round` has eight f64 x[i] at binding 0. It replaces x[i] by trunc(x[i]) and stores round(x[i]) at x[i + 8].
   tools/built-in writes the following words. */

/* built-in kernels */
static const uint32_t vd__vk_copy_words[] = {
    0x7230203, 0x10300, 0x0, 0x3e, 0x0, 0x20011, 0x1, 0x20011, 0xb,
    0x20011, 0x14e3, 0x9000a, 0x5f565053, 0x5f52484b, 0x73796870, 0x6c616369, 0x6f74735f, 0x65676172,
    0x6675625f, 0x726566, 0x6000b, 0xc, 0x4c534c47, 0x6474732e, 0x3035342e, 0x0, 0x3000e,
    0x14e4, 0x1, 0x6000f, 0x5, 0xd, 0x6e69616d, 0x0, 0x30, 0x60010,
    0xd, 0x11, 0x100, 0x1, 0x1, 0x40005, 0xd, 0x79706f63, 0x0,
    0x30005, 0x1, 0x6f74, 0x40005, 0x19, 0x756c6176, 0x7365, 0x40005, 0x2,
    0x6d6f7266, 0x0, 0x40005, 0x3, 0x6e756f63, 0x74, 0x50005, 0x30, 0x626f6c67,
    0x695f6c61, 0x64, 0x40047, 0x13, 0x6, 0x10, 0x30047, 0x14, 0x2,
    0x50048, 0x14, 0x0, 0x23, 0x0, 0x40048, 0x14, 0x0, 0x19,
    0x30047, 0x18, 0x2, 0x50048, 0x18, 0x0, 0x23, 0x0, 0x50048,
    0x18, 0x1, 0x23, 0x4, 0x50048, 0x18, 0x2, 0x23, 0x8,
    0x50048, 0x18, 0x3, 0x23, 0xc, 0x50048, 0x18, 0x4, 0x23,
    0x10, 0x30047, 0x23, 0x2, 0x50048, 0x23, 0x0, 0x23, 0x0,
    0x40048, 0x23, 0x0, 0x18, 0x40047, 0x30, 0xb, 0x1c, 0x20013,
    0xe, 0x30021, 0xf, 0xe, 0x40015, 0x11, 0x20, 0x0, 0x40017,
    0x12, 0x11, 0x4, 0x3001d, 0x13, 0x12, 0x3001e, 0x14, 0x13,
    0x40020, 0x15, 0x14e5, 0x14, 0x40017, 0x16, 0x11, 0x2, 0x40015,
    0x17, 0x40, 0x0, 0x7001e, 0x18, 0x11, 0x11, 0x11, 0x11,
    0x11, 0x40020, 0x1a, 0x9, 0x18, 0x4003b, 0x1a, 0x19, 0x9,
    0x40020, 0x1b, 0x9, 0x11, 0x4002b, 0x11, 0x1c, 0x0, 0x4002b,
    0x11, 0x1f, 0x1, 0x3001e, 0x23, 0x13, 0x40020, 0x24, 0x14e5,
    0x23, 0x4002b, 0x11, 0x25, 0x2, 0x4002b, 0x11, 0x28, 0x3,
    0x4002b, 0x11, 0x2c, 0x4, 0x40017, 0x2e, 0x11, 0x3, 0x40020,
    0x2f, 0x1, 0x2e, 0x4003b, 0x2f, 0x30, 0x1, 0x20014, 0x32,
    0x40020, 0x38, 0x14e5, 0x12, 0x50036, 0xe, 0xd, 0x0, 0xf,
    0x200f8, 0x10, 0x50041, 0x1b, 0x1d, 0x19, 0x1c, 0x4003d, 0x11,
    0x1e, 0x1d, 0x50041, 0x1b, 0x20, 0x19, 0x1f, 0x4003d, 0x11,
    0x21, 0x20, 0x50050, 0x16, 0x22, 0x1e, 0x21, 0x4007c, 0x17,
    0x1, 0x22, 0x50041, 0x1b, 0x26, 0x19, 0x25, 0x4003d, 0x11,
    0x27, 0x26, 0x50041, 0x1b, 0x29, 0x19, 0x28, 0x4003d, 0x11,
    0x2a, 0x29, 0x50050, 0x16, 0x2b, 0x27, 0x2a, 0x4007c, 0x17,
    0x2, 0x2b, 0x50041, 0x1b, 0x2d, 0x19, 0x2c, 0x4003d, 0x11,
    0x3, 0x2d, 0x4003d, 0x2e, 0x31, 0x30, 0x50051, 0x11, 0x4,
    0x31, 0x0, 0x500b0, 0x32, 0x5, 0x4, 0x3, 0x300f7, 0x34,
    0x0, 0x400fa, 0x5, 0x33, 0x34, 0x200f8, 0x33, 0x40071, 0x17,
    0x35, 0x4, 0x500c4, 0x17, 0x36, 0x35, 0x2c, 0x50080, 0x17,
    0x37, 0x2, 0x36, 0x40078, 0x24, 0x7, 0x37, 0x60041, 0x38,
    0x39, 0x7, 0x1c, 0x1c, 0x6003d, 0x12, 0x8, 0x39, 0x2,
    0x10, 0x40071, 0x17, 0x3a, 0x4, 0x500c4, 0x17, 0x3b, 0x3a,
    0x2c, 0x50080, 0x17, 0x3c, 0x1, 0x3b, 0x40078, 0x15, 0x9,
    0x3c, 0x60041, 0x38, 0x3d, 0x9, 0x1c, 0x1c, 0x5003e, 0x3d,
    0x8, 0x2, 0x10, 0x200f9, 0x34, 0x200f8, 0x34, 0x100fd, 0x10038
};
static const uint32_t vd__vk_round_words[] = {
    0x7230203, 0x10300, 0x0, 0x1b, 0x0, 0x20011, 0x1, 0x20011, 0xa,
    0x6000b, 0xa, 0x4c534c47, 0x6474732e, 0x3035342e, 0x0, 0x3000e, 0x0, 0x1,
    0x6000f, 0x5, 0xb, 0x6e69616d, 0x0, 0x15, 0x60010, 0xb, 0x11,
    0x8, 0x1, 0x1, 0x40005, 0xb, 0x6e756f72, 0x64, 0x30005, 0x2,
    0x78, 0x50005, 0x15, 0x61636f6c, 0x6e695f6c, 0x786564, 0x40047, 0x11, 0x6,
    0x8, 0x30047, 0x12, 0x2, 0x50048, 0x12, 0x0, 0x23, 0x0,
    0x40047, 0x2, 0x22, 0x0, 0x40047, 0x2, 0x21, 0x0, 0x30047,
    0x2, 0x13, 0x40047, 0x15, 0xb, 0x1d, 0x20013, 0xc, 0x30021,
    0xd, 0xc, 0x40015, 0xf, 0x20, 0x0, 0x4002b, 0xf, 0x1,
    0x8, 0x30016, 0x10, 0x40, 0x3001d, 0x11, 0x10, 0x3001e, 0x12,
    0x11, 0x40020, 0x13, 0xc, 0x12, 0x4003b, 0x13, 0x2, 0xc,
    0x40020, 0x14, 0x1, 0xf, 0x4003b, 0x14, 0x15, 0x1, 0x40020,
    0x16, 0xc, 0x10, 0x4002b, 0xf, 0x18, 0x0, 0x50036, 0xc,
    0xb, 0x0, 0xd, 0x200f8, 0xe, 0x4003d, 0xf, 0x3, 0x15,
    0x60041, 0x16, 0x17, 0x2, 0x18, 0x3, 0x4003d, 0x10, 0x4,
    0x17, 0x6000c, 0x10, 0x5, 0xa, 0x3, 0x4, 0x60041, 0x16,
    0x19, 0x2, 0x18, 0x3, 0x3003e, 0x19, 0x5, 0x50080, 0xf,
    0x7, 0x3, 0x1, 0x6000c, 0x10, 0x8, 0xa, 0x2, 0x4,
    0x60041, 0x16, 0x1a, 0x2, 0x18, 0x7, 0x3003e, 0x1a, 0x8,
    0x100fd, 0x10038
};
/* end of the built-in kernels */

enum { VD__VK_COPY_GROUP_BYTES = 256 * 16 }; /* copied by one work-group of the copy kernel */

typedef enum vd__vk_copy_state { VD__VK_COPY_UNTRIED, VD__VK_COPY_READY, VD__VK_COPY_FAILED } vd__vk_copy_state;

/* Creates the copy kernel at its first use. Returns false if that failed; the driver then does all copies. */
static VD__NOINLINE bool vd__vk_copy_kernel_get(vd__device *dev) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    vd__mutex_lock(&vk->copy_kernel_lock);
    if (vk->copy_kernel_state == VD__VK_COPY_UNTRIED) {
        vd_kernel_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.name = "copy";
        desc.code = vd__vk_copy_words;
        desc.code_size = sizeof vd__vk_copy_words;
        desc.argument_bytes = 20;
        bool made = dev->info.limits.max_push_bytes >= desc.argument_bytes
                    && !vd__vk_kernel_create(dev, &desc, &vk->copy_kernel);
        if (!made)
            vd__logf(dev->driver->host, VD_LOG_WARNING, "Vulkan: the copy kernel could not be created; copies use "
                     "vkCmdCopyBuffer instead: %s", vd__error_join());
        vd__atomic_store32(&vk->copy_kernel_state, made ? VD__VK_COPY_READY : VD__VK_COPY_FAILED);
    }
    vd__mutex_unlock(&vk->copy_kernel_lock);
    return vk->copy_kernel_state == VD__VK_COPY_READY;
}

VD__SMALL_END

#endif /* VD__HAS_VULKAN */

// >>vulkan list
/* Command buffers, descriptor sets, submission and timeline semaphores. */

#if VD__HAS_VULKAN
/* The memory range that a descriptor refers to. The serial distinguishes a buffer from a destroyed one with the same
   handle. */
typedef struct vd__vk_descriptor_key {
    uint64_t offset, size;
    uint32_t serial;
} vd__vk_descriptor_key;

/* The descriptor sets of one layout. A recording uses them in order. They keep the descriptors of earlier recordings
   and are never reset, because a set that already has the right descriptors needs no write. */
typedef struct vd__vk_set_cache {
    VkDescriptorSet *sets;
    vd__vk_descriptor_key *keys; /* `stride` keys per set */
    uint32_t stride, used, count;
    uint32_t set_capacity, key_capacity;
} vd__vk_set_cache;

/* A buffer from which a recording allocates the argument blocks that are too large for push constants. */
typedef struct vd__vk_chunk {
    vd__block block;
    vd__memory memory;
} vd__vk_chunk;

enum { VD__VK_CHUNK_BYTES = 64 * 1024, VD__VK_RECENT_SETS = 4 };
enum {
    VD__VK_SLAB_BYTES = 64 * 1024,
    VD__VK_SLABS_KEPT = 64,
    VD__VK_ALLOCATION_MAX = 4096,
    VD__VK_ALLOCATION_ALIGN = 16
};

typedef struct vd__vk_slab { struct vd__vk_slab *next; } vd__vk_slab; /* header; the memory of the slab follows */

typedef struct vd__vk_allocation {  /* header of an allocation */
    uint64_t block;            /* the allocator's pointer; 0: the allocation is part of a slab */
    uint64_t size;
} vd__vk_allocation;

/* Allocates the host memory of a command pool. Drivers allocate during recording, some of them several times per
   command. Allocations are cut from slabs one after the other and are all free again when the command pool is reset.
   This is faster than the heap and keeps the memory in the order of its use. */
typedef struct vd__vk_arena {
    const vd_allocator *allocator;
    vd__vk_slab *slabs, *current; /* all slabs; the one that allocations are cut from, NULL before the first */
    uint8_t *cursor, *end;     /* the free rest of `current` */
    uint64_t live_allocations; /* allocations in slabs that are not freed */
    bool use_slabs;            /* false before the first recording, and after a reset that left allocations in slabs:
                                  every allocation then comes directly from the allocator */
    bool failed;               /* an allocation has failed since the last reset; the driver may not report it */
} vd__vk_arena;

/* A command buffer that changes argument blocks at the beginning of a submission. It is used again when that has
   completed. */
typedef struct vd__vk_prologue {
    VkCommandBuffer buffer;
    uint64_t value;            /* timeline value of the submission */
    uint32_t queue;
} vd__vk_prologue;

typedef struct vd__vk_commands {
    VkCommandPool pool;
    VkCommandBuffer buffer;
    VkCommandBuffer barrier_buffer; /* submitted before `buffer` if vd__submission.barrier_first is set */
    bool reusable;             /* see commands_begin */
    bool barrier_recorded;     /* into barrier_buffer */
    VkCommandPool prologue_pool; /* of the prologues; VK_NULL_HANDLE before the first one */
    vd__vk_prologue *prologues;
    uint32_t prologue_count, prologue_capacity;
    VkAllocationCallbacks callbacks; /* host memory of `pool`, from `arena` */
    vd__vk_arena arena;

    /* currently bound */
    const vd__vk_kernel *kernel;
    vd__vk_set_cache *set_cache; /* of the kernel's layout */
    VkDescriptorSet set;
    const vd__vk_descriptor_key *set_keys; /* NULL: no set is bound */
    uint32_t set_offset;       /* dynamic offset that `set` is bound with */
    uint32_t argument_offset;  /* of the last argument block in its chunk */
    bool arguments_bound;      /* the arguments of the last launch are still valid */

    /* kept for later recordings */
    vd__vk_set_cache *set_caches; /* indexed by vd__vk_kernel.set_index */
    uint32_t set_cache_count, set_cache_capacity;
    VkDescriptorPool *pools;
    uint32_t pool_count, pool_capacity;
    vd__vk_chunk **chunks;
    uint32_t chunk_count, chunk_capacity;
    uint32_t chunk, chunk_used; /* chunk in use, and its used bytes */
} vd__vk_commands;

static vd__vk_commands *vd__vk_commands_of(const vd__commands *c) { return (vd__vk_commands *)c->native; }

/* ---- host memory of command pools ---- */

static uint8_t *vd__vk_aligned(uint8_t *p, size_t align) { return p + (align - (uintptr_t)p % align) % align; }

/* Allocates directly from the allocator: for large or over-aligned allocations, and while slabs are not used. */
static void *vd__vk_allocate_directly(vd__vk_arena *a, size_t size, size_t align) {
    if (align < VD__VK_ALLOCATION_ALIGN) align = VD__VK_ALLOCATION_ALIGN;
    uint8_t *block = (size | align) < SIZE_MAX / 4
                         ? (uint8_t *)vd__alloc(a->allocator, sizeof(vd__vk_allocation) + align + size)
                         : NULL;
    a->failed |= !block;
    if (!block) return NULL;
    vd__vk_allocation *header = (vd__vk_allocation *)(void *)vd__vk_aligned(block + sizeof *header, align) - 1;
    header->block = (uintptr_t)block;
    header->size = size;
    return header + 1;
}

/* Advances to the next slab and allocates it if there is none. Returns false if that failed. */
static VD__NOINLINE bool vd__vk_arena_next(vd__vk_arena *a) {
    vd__vk_slab **next = a->current ? &a->current->next : &a->slabs;
    if (!*next) {
        *next = (vd__vk_slab *)vd__alloc(a->allocator, VD__VK_SLAB_BYTES);
        a->failed |= !*next;
        if (!*next) return false;
        (*next)->next = NULL;
    }
    a->current = *next;
    a->cursor = vd__vk_aligned((uint8_t *)(a->current + 1), VD__VK_ALLOCATION_ALIGN);
    a->end = (uint8_t *)a->current + VD__VK_SLAB_BYTES;
    return true;
}

/* The next three functions are VkAllocationCallbacks. */
static VKAPI_ATTR void *VKAPI_CALL vd__vk_arena_allocate(void *user, size_t size, size_t align,
                                                     VkSystemAllocationScope scope) {
    vd__vk_arena *a = (vd__vk_arena *)user;
    size_t bytes = (sizeof(vd__vk_allocation) + size + VD__VK_ALLOCATION_ALIGN - 1)
                   & ~(size_t)(VD__VK_ALLOCATION_ALIGN - 1);
    (void)scope;
    if (VD__UNLIKELY(!a->use_slabs || size > VD__VK_ALLOCATION_MAX || align > VD__VK_ALLOCATION_ALIGN))
        return vd__vk_allocate_directly(a, size, align);
    if (VD__UNLIKELY((size_t)(a->end - a->cursor) < bytes) && !vd__vk_arena_next(a)) return NULL;
    vd__vk_allocation *header = (vd__vk_allocation *)(void *)a->cursor;
    header->block = 0;
    header->size = size;
    a->cursor += bytes;
    a->live_allocations++;
    return header + 1;
}

static VKAPI_ATTR void VKAPI_CALL vd__vk_arena_free(void *user, void *memory) {
    vd__vk_arena *a = (vd__vk_arena *)user;
    if (!memory) return;
    vd__vk_allocation *header = (vd__vk_allocation *)memory - 1;
    if (header->block) {
        vd__free(a->allocator, (void *)(uintptr_t)header->block);
        return;
    }
    a->live_allocations--;
    /* the newest allocation: reuse its memory */
    if (vd__vk_aligned((uint8_t *)memory + header->size, VD__VK_ALLOCATION_ALIGN) == a->cursor)
        a->cursor = (uint8_t *)header;
}

static VKAPI_ATTR void *VKAPI_CALL vd__vk_arena_reallocate(void *user, void *memory, size_t size, size_t align,
                                                       VkSystemAllocationScope scope) {
    size_t old_size = memory ? (size_t)((vd__vk_allocation *)memory - 1)->size : 0;
    void *moved = size ? vd__vk_arena_allocate(user, size, align, scope) : NULL;
    if (moved && old_size) memcpy(moved, memory, old_size < size ? old_size : size);
    if (moved || !size) vd__vk_arena_free(user, memory);
    return moved;
}

/* Frees the slabs of the list that begins at *from, and empties the list. */
static void vd__vk_slabs_free(const vd__vk_arena *a, vd__vk_slab **from) {
    while (*from) {
        vd__vk_slab *slab = *from;
        *from = slab->next;
        vd__free(a->allocator, slab);
    }
}

/* Called after a reset of the command pool. Keeps up to VD__VK_SLABS_KEPT slabs. */
static void vd__vk_arena_reset(vd__vk_arena *a) {
    a->failed = false;
    a->use_slabs = a->live_allocations == 0;
    if (!a->use_slabs) return;
    vd__vk_slab **rest = &a->slabs;
    for (uint32_t i = 0; *rest && i < VD__VK_SLABS_KEPT; i++) rest = &(*rest)->next;
    vd__vk_slabs_free(a, rest);
    a->current = NULL;
    a->cursor = a->end = NULL;
}

VD__SMALL

/* ---- recordings ---- */

static vd_result vd__vk_commands_allocate(vd__vk_device *vk, VkCommandPool pool, VkCommandBuffer *out) {
    VD__VK_STRUCT(VkCommandBufferAllocateInfo, info, VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    info.commandPool = pool;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    VkResult result = vk->vkAllocateCommandBuffers(vk->handle, &info, out);
    if (!result) return VD_OK;
    *out = NULL;
    return vd__vk_fail(result, "vkAllocateCommandBuffers");
}

static vd_result vd__vk_commands_start(vd__vk_device *vk, vd__vk_commands *vc) {
    VD__VK_STRUCT(VkCommandPoolCreateInfo, pool, VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool.queueFamilyIndex = vk->family;
    vc->callbacks.pUserData = &vc->arena;
    vc->callbacks.pfnAllocation = vd__vk_arena_allocate;
    vc->callbacks.pfnReallocation = vd__vk_arena_reallocate;
    vc->callbacks.pfnFree = vd__vk_arena_free;
    VkResult result = vk->vkCreateCommandPool(vk->handle, &pool, &vc->callbacks, &vc->pool);
    VD__VK_NULL_IF(result, vc->pool);
    if (result) return vd__vk_fail(result, "vkCreateCommandPool");
    vd_result r = vd__vk_commands_allocate(vk, vc->pool, &vc->buffer);
    /* Allocated now, while the arena does not use slabs: the memory of a command buffer must outlive resets. */
    return r ? r : vd__vk_commands_allocate(vk, vc->pool, &vc->barrier_buffer);
}

static vd_result vd__vk_commands_create(vd__device *dev, vd__commands *c) {
    vd__vk_commands *vc = (vd__vk_commands *)vd__alloc_zeroed(vd__vk_allocator(dev), sizeof *vc);
    if (!vc) return vd__fail_memory(NULL, NULL, 0);
    c->native = vc;
    vc->arena.allocator = vd__vk_allocator(dev);
    vd_result result = vd__vk_commands_start(vd__vk_device_of(dev), vc);
    if (result) vd__vk_commands_destroy(dev, c);
    return result;
}

static void vd__vk_chunk_destroy(vd__device *dev, vd__vk_chunk *chunk) {
    if (chunk->memory.native[0]) vd__vk_memory_destroy(dev, &chunk->memory);
    if (chunk->block.native[0]) vd__vk_block_destroy(dev, &chunk->block);
    vd__free(vd__vk_allocator(dev), chunk);
}

static void vd__vk_commands_destroy(vd__device *dev, vd__commands *c) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    vd__vk_commands *vc = vd__vk_commands_of(c);
    const vd_allocator *allocator = vd__vk_allocator(dev);
    for (uint32_t i = 0; i < vc->set_cache_count; i++) {
        vd__free(allocator, vc->set_caches[i].sets);
        vd__free(allocator, vc->set_caches[i].keys);
    }
    for (uint32_t i = 0; i < vc->pool_count; i++) vk->vkDestroyDescriptorPool(vk->handle, vc->pools[i], NULL);
    for (uint32_t i = 0; i < vc->chunk_count; i++) vd__vk_chunk_destroy(dev, vc->chunks[i]);
    vk->vkDestroyCommandPool(vk->handle, vc->pool, &vc->callbacks);
    vk->vkDestroyCommandPool(vk->handle, vc->prologue_pool, NULL);
    vd__vk_slabs_free(&vc->arena, &vc->arena.slabs);
    vd__free(allocator, vc->prologues);
    vd__free(allocator, vc->set_caches);
    vd__free(allocator, vc->pools);
    vd__free(allocator, vc->chunks);
    vd__free(allocator, vc);
    c->native = NULL;
}

/* Marks kernel, arguments and descriptor sets as unbound. Called when a recording begins, and after commands that bind
   others. */
static void vd__vk_commands_unbind(vd__vk_commands *vc) {
    vc->kernel = NULL;
    vc->set_keys = NULL;
    vc->arguments_bound = false;
}

static vd_result vd__vk_buffer_begin(vd__vk_device *vk, const vd__vk_commands *vc, VkCommandBuffer buffer) {
    VD__VK_STRUCT(VkCommandBufferBeginInfo, info, VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    info.flags = vc->reusable ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT
                              : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    VkResult result = vk->vkBeginCommandBuffer(buffer, &info);
    return result ? vd__vk_fail(result, "vkBeginCommandBuffer") : VD_OK;
}

static vd_result vd__vk_buffer_end(vd__vk_device *vk, const vd__vk_commands *vc, VkCommandBuffer buffer) {
    VkResult result = vk->vkEndCommandBuffer(buffer);
    if (vc->arena.failed) return vd__fail_memory(NULL, NULL, 0);
    return result ? vd__vk_fail(result, "vkEndCommandBuffer") : VD_OK;
}

static vd_result vd__vk_commands_begin(vd__device *dev, vd__commands *c, bool reusable) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    vd__vk_commands *vc = vd__vk_commands_of(c);
    vd__vk_commands_unbind(vc);
    vc->reusable = reusable;
    vc->barrier_recorded = false;
    vc->chunk = vc->chunk_used = 0;
    for (uint32_t i = 0; i < vc->set_cache_count; i++) vc->set_caches[i].used = 0;
    VkResult result = vk->vkResetCommandPool(vk->handle, vc->pool, 0);
    if (result) return vd__vk_fail(result, "vkResetCommandPool");
    vd__vk_arena_reset(&vc->arena);
    return vd__vk_buffer_begin(vk, vc, vc->buffer);
}

static vd_result vd__vk_commands_end(vd__device *dev, vd__commands *c) {
    vd__vk_commands *vc = vd__vk_commands_of(c);
    return vd__vk_buffer_end(vd__vk_device_of(dev), vc, vc->buffer);
}

/* ---- descriptor sets ---- */

static const VkImageLayout vd__vk_layouts[VD__LAYOUTS] = { /* by vd__layout */
    VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
    VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
};

static vd_result vd__vk_set_caches_grow(vd__device *dev, vd__vk_commands *vc, uint32_t count) {
    vd__vk_set_cache *caches = (vd__vk_set_cache *)vd__vk_reserve(dev, vc->set_caches, &vc->set_cache_capacity, count,
                                                                  sizeof *caches);
    if (!caches) return VD_ERROR_OUT_OF_MEMORY;
    vc->set_caches = caches;
    memset(vc->set_caches + vc->set_cache_count, 0, (count - vc->set_cache_count) * sizeof *vc->set_caches);
    vc->set_cache_count = count;
    return VD_OK;
}

/* Counts the descriptors of `count` sets by type. Returns the number of types. */
static uint32_t vd__vk_pool_sizes(const vd__vk_kernel *kernel, uint32_t count,
                                  VkDescriptorPoolSize sizes[VD__DESCRIPTORS]) {
    uint32_t descriptors[VD__DESCRIPTORS] = { 0 }, used = 0;
    for (uint32_t i = 0; i < kernel->binding_count; i++) descriptors[kernel->types[i]]++;
    descriptors[VD__DESCRIPTOR_ARGUMENTS] = kernel->uniform ? 1 : 0;
    for (uint32_t type = 0; type < VD__DESCRIPTORS; type++) {
        if (!descriptors[type]) continue;
        sizes[used].type = vd__vk_descriptor_types[type];
        sizes[used++].descriptorCount = count * descriptors[type];
    }
    return used;
}

/* Creates a descriptor pool for `count` sets of the kernel's layout and allocates the sets. */
static vd_result vd__vk_pool_create(vd__device *dev, vd__vk_commands *vc, const vd__vk_kernel *kernel, uint32_t count,
                                    VkDescriptorSet *out) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    VkDescriptorPool *pools = (VkDescriptorPool *)vd__vk_reserve(dev, vc->pools, &vc->pool_capacity, vc->pool_count + 1,
                                                                 sizeof *pools);
    if (!pools) return VD_ERROR_OUT_OF_MEMORY;
    vc->pools = pools;
    VkDescriptorPoolSize sizes[VD__DESCRIPTORS];
    VD__VK_STRUCT(VkDescriptorPoolCreateInfo, info, VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    info.maxSets = count;
    info.poolSizeCount = vd__vk_pool_sizes(kernel, count, sizes);
    info.pPoolSizes = sizes;
    VkResult result = vk->vkCreateDescriptorPool(vk->handle, &info, NULL, &vc->pools[vc->pool_count]);
    if (result) return vd__vk_fail(result, "vkCreateDescriptorPool of %u sets", count);
    vc->pool_count++;
    VD__VK_STRUCT(VkDescriptorSetAllocateInfo, set_info, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    set_info.descriptorPool = vc->pools[vc->pool_count - 1];
    set_info.descriptorSetCount = 1;
    set_info.pSetLayouts = &kernel->set_layout;
    for (uint32_t i = 0; i < count && !result; i++)
        result = vk->vkAllocateDescriptorSets(vk->handle, &set_info, &out[i]);
    return result ? vd__vk_fail(result, "vkAllocateDescriptorSets") : VD_OK;
}

/* Adds sets to a cache: 8 at first, then as many as there are, at most 1024 at once. */
static vd_result vd__vk_sets_grow(vd__device *dev, vd__vk_commands *vc, const vd__vk_kernel *kernel,
                                  vd__vk_set_cache *cache) {
    uint32_t added = cache->count == 0 ? 8 : cache->count < 1024 ? cache->count : 1024, total = cache->count + added;
    cache->stride = kernel->binding_count + (kernel->uniform ? 1 : 0);
    vc->set_keys = NULL; /* points into the keys, which may be reallocated */
    VkDescriptorSet *sets = (VkDescriptorSet *)vd__vk_reserve(dev, cache->sets, &cache->set_capacity, total,
                                                              sizeof *sets);
    if (!sets) return VD_ERROR_OUT_OF_MEMORY;
    cache->sets = sets;
    vd__vk_descriptor_key *keys = (vd__vk_descriptor_key *)vd__vk_reserve(dev, cache->keys, &cache->key_capacity,
                                                                          total * cache->stride, sizeof *keys);
    if (!keys) return VD_ERROR_OUT_OF_MEMORY;
    cache->keys = keys;
    memset(cache->keys + cache->count * cache->stride, 0, added * cache->stride * sizeof *cache->keys);
    vd_result result = vd__vk_pool_create(dev, vc, kernel, added, cache->sets + cache->count);
    if (!result) cache->count = total;
    return result;
}

VD__SMALL_END

/* Returns whether a set with these keys has the launch's bindings and, if not NULL, the chunk as uniform buffer. */
static inline bool vd__vk_keys_match(const vd__vk_descriptor_key *keys, const vd__launch *launch,
                                     const vd__vk_chunk *chunk) {
    const vd__binding *b = launch->bindings, *end = b + launch->binding_count;
    for (; b < end; b++, keys++) {
        if (((keys->serial ^ b->memory->serial) | (keys->offset ^ b->offset) | (keys->size ^ b->size)) != 0)
            return false;
    }
    return !chunk || keys->serial == chunk->memory.serial;
}

/* Sets the descriptors of a kernel that has images: one write for each. */
static void vd__vk_set_write_each(const vd__vk_kernel *kernel, const vd__launch *launch,
                                  const VkDescriptorBufferInfo *buffers, VkDescriptorImageInfo *images,
                                  VkWriteDescriptorSet *writes) {
    for (uint32_t i = 0; i < launch->binding_count; i++) {
        const vd__binding *b = &launch->bindings[i];
        writes[i].dstBinding = b->number;
        writes[i].descriptorCount = 1;
        writes[i].descriptorType = vd__vk_descriptor_types[kernel->types[i]];
        writes[i].pBufferInfo = &buffers[i];
        writes[i].pImageInfo = &images[i];
        if (kernel->types[i] == VD__DESCRIPTOR_BUFFER) continue;
        bool storage = kernel->types[i] == VD__DESCRIPTOR_STORAGE_IMAGE;
        images[i].sampler = VD__VK_UNPACK(VkSampler, b->offset);
        images[i].imageView = VD__VK_UNPACK(VkImageView, b->memory->native[storage]);
        images[i].imageLayout = vd__vk_layouts[b->size];
    }
}

/* Writes the launch's bindings to a set and its keys. */
static void vd__vk_set_write(vd__vk_device *vk, const vd__vk_kernel *kernel, const vd__launch *launch,
                             const vd__vk_chunk *chunk, VkDescriptorSet set, vd__vk_descriptor_key *keys) {
    VkDescriptorBufferInfo buffers[VD_MAX_ARGS + 1];
    VkDescriptorImageInfo images[VD_MAX_ARGS];
    VkWriteDescriptorSet writes[VD_MAX_ARGS + 1];
    uint32_t count = launch->binding_count, write_count = kernel->has_images ? count : count ? 1 : 0;
    for (uint32_t i = 0; i < count; i++) {
        const vd__binding *b = &launch->bindings[i];
        buffers[i].buffer = VD__VK_UNPACK(VkBuffer, b->memory->native[0]);
        buffers[i].offset = b->offset;
        buffers[i].range = b->size;
        keys[i].serial = b->memory->serial;
        keys[i].offset = b->offset;
        keys[i].size = b->size;
    }
    memset(writes, 0, (write_count + 1) * sizeof *writes);
    if (kernel->has_images) vd__vk_set_write_each(kernel, launch, buffers, images, writes);
    else if (count) {
        /* One write continues over the following bindings. It skips binding numbers that the layout does not have. */
        writes[0].dstBinding = kernel->first_binding;
        writes[0].descriptorCount = count;
        writes[0].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        writes[0].pBufferInfo = buffers;
    }
    if (chunk) {
        buffers[count].buffer = VD__VK_UNPACK(VkBuffer, chunk->memory.native[0]);
        buffers[count].offset = 0;
        buffers[count].range = VD_MAX_ARGUMENT_BYTES;
        keys[count].serial = chunk->memory.serial;
        writes[write_count].dstBinding = kernel->uniform - 1;
        writes[write_count].descriptorCount = 1;
        writes[write_count].descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
        writes[write_count++].pBufferInfo = buffers + count;
    }
    for (uint32_t i = 0; i < write_count; i++) {
        writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        writes[i].dstSet = set;
    }
    vk->vkUpdateDescriptorSets(vk->handle, write_count, writes, 0, NULL);
}

/* Searches the last VD__VK_RECENT_SETS sets of this recording for the launch's bindings. If there is no such set,
   writes the bindings to the next one. Sets *found to the index of the set. */
static VD__NOINLINE vd_result vd__vk_set_search(vd__device *dev, vd__vk_commands *vc, const vd__launch *launch,
                                             const vd__vk_chunk *chunk, uint32_t *found) {
    vd__vk_set_cache *cache = vc->set_cache;
    uint32_t oldest = cache->used > VD__VK_RECENT_SETS ? cache->used - VD__VK_RECENT_SETS : 0;
    for (*found = cache->used; *found > oldest;) {
        --*found;
        if (vd__vk_keys_match(cache->keys + *found * cache->stride, launch, chunk)) return VD_OK;
    }
    vd_result result = cache->used == cache->count ? vd__vk_sets_grow(dev, vc, vc->kernel, cache) : VD_OK;
    if (result) return result;
    *found = cache->used++;
    vd__vk_set_write(vd__vk_device_of(dev), vc->kernel, launch, chunk, cache->sets[*found],
                     cache->keys + *found * cache->stride);
    return VD_OK;
}

/* Binds a descriptor set with the launch's bindings: the one that is bound now; the next one, if it has these
   bindings from an earlier recording; one of the last few of this recording; or the next one, after writing the
   bindings to it. */
static inline vd_result vd__vk_bind(vd__device *dev, vd__vk_commands *vc, const vd__launch *launch) {
    const vd__vk_kernel *kernel = vc->kernel;
    const vd__vk_chunk *chunk = kernel->uniform ? vc->chunks[vc->chunk] : NULL;
    if (!vc->set_keys || !vd__vk_keys_match(vc->set_keys, launch, chunk)) {
        vd__vk_set_cache *cache = vc->set_cache;
        uint32_t i = cache->used;
        vd_result result = VD_OK;
        if (VD__LIKELY(i < cache->count && vd__vk_keys_match(cache->keys + i * cache->stride, launch, chunk)))
            cache->used++;
        else result = vd__vk_set_search(dev, vc, launch, chunk, &i);
        if (VD__UNLIKELY(result)) return result;
        vc->set = cache->sets[i];
        vc->set_keys = cache->keys + i * cache->stride;
    } else if (!chunk || vc->set_offset == vc->argument_offset) return VD_OK;
    vc->set_offset = vc->argument_offset;
    /* NULL if there is no dynamic offset: drivers that queue commands copy the array if the pointer is not NULL. */
    const uint32_t *offsets = chunk ? &vc->argument_offset : NULL;
    vd__vk_device_of(dev)->vkCmdBindDescriptorSets(vc->buffer, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->layout, 0, 1,
                                                   &vc->set, chunk ? 1 : 0, offsets);
    return VD_OK;
}

/* Binds the pipeline of another kernel. */
static VD__NOINLINE vd_result vd__vk_bind_kernel(vd__device *dev, vd__vk_commands *vc, const vd__vk_kernel *kernel) {
    const vd__vk_kernel *last = vc->kernel;
    /* with an incompatible layout, bound sets become invalid */
    if (!last || last->set_index != kernel->set_index || last->push_bytes != kernel->push_bytes) vc->set_keys = NULL;
    if (kernel->set_layout) {
        if (kernel->set_index >= vc->set_cache_count && vd__vk_set_caches_grow(dev, vc, kernel->set_index + 1))
            return VD_ERROR_OUT_OF_MEMORY;
        vc->set_cache = &vc->set_caches[kernel->set_index];
    }
    vc->kernel = kernel;
    vd__vk_device_of(dev)->vkCmdBindPipeline(vc->buffer, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
    return VD_OK;
}

/* ---- argument blocks in uniform buffers ---- */

static vd_result vd__vk_chunk_start(vd__device *dev, vd__vk_chunk *chunk) {
    vd__memory_requirements need = { 0, 0, 0, true, VD__SHARE_NONE };
    chunk->memory.size = VD__VK_CHUNK_BYTES;
    vd_result result = vd__vk_memory_create(dev, &chunk->memory, &need);
    if (result) return result;
    uint32_t mask = vd__vk_memory_types(dev, VD_MEMORY_UPLOAD, need.types);
    chunk->block.size = need.size;
    while (chunk->block.type < 31 && !(mask >> chunk->block.type & 1u)) chunk->block.type++;
    chunk->memory.block = &chunk->block;
    result = vd__vk_block_create(dev, &chunk->block);
    return result ? result : vd__vk_memory_bind(dev, &chunk->memory);
}

static vd_result vd__vk_chunk_add(vd__device *dev, vd__vk_commands *vc) {
    vd__vk_chunk **chunks = (vd__vk_chunk **)vd__vk_reserve(dev, vc->chunks, &vc->chunk_capacity, vc->chunk_count + 1,
                                                            sizeof *chunks);
    if (!chunks) return VD_ERROR_OUT_OF_MEMORY;
    vc->chunks = chunks;
    vd__vk_chunk *chunk = (vd__vk_chunk *)vd__alloc_zeroed(vd__vk_allocator(dev), sizeof *chunk);
    if (!chunk) return vd__fail_memory(NULL, NULL, 0);
    chunk->memory.serial = vc->chunk_count + 1;
    vd_result result = vd__vk_chunk_start(dev, chunk);
    if (result) vd__vk_chunk_destroy(dev, chunk);
    else vc->chunks[vc->chunk_count++] = chunk;
    return result;
}

/* Allocates space for an argument block. The descriptor covers VD_MAX_ARGUMENT_BYTES from the offset for every kernel,
   so that many bytes must be left in the chunk. */
static vd_result vd__vk_arguments_allocate(vd__device *dev, vd__vk_commands *vc, uint32_t bytes) {
    uint32_t align = vd__vk_device_of(dev)->uniform_alignment;
    uint32_t offset = (vc->chunk_used + align - 1) / align * align;
    if (vc->chunk_count == 0 || offset + VD_MAX_ARGUMENT_BYTES > VD__VK_CHUNK_BYTES) {
        uint32_t next = vc->chunk_count == 0 ? 0 : vc->chunk + 1;
        vd_result result = next == vc->chunk_count ? vd__vk_chunk_add(dev, vc) : VD_OK;
        if (result) return result;
        vc->chunk = next;
        offset = 0;
    }
    vc->argument_offset = offset;
    vc->chunk_used = offset + bytes;
    return VD_OK;
}

/* Copies the argument block of a launch to a chunk. */
static VD__NOINLINE vd_result vd__vk_arguments_write(vd__device *dev, vd__vk_commands *vc, const vd__launch *launch) {
    vd_result result = vd__vk_arguments_allocate(dev, vc, launch->argument_bytes);
    if (!result)
        memcpy(vc->chunks[vc->chunk]->block.mapped + vc->argument_offset, launch->arguments, launch->argument_bytes);
    return result;
}

/* ---- commands ---- */

static const vd__image_shape *vd__vk_shape(const vd__memory *m) {
    return (const vd__image_shape *)(uintptr_t)m->native[1];
}

/* Fills in the barrier for the subresources of a transition from `begin` on: whole levels, or a part of one level.
   Returns the index of the first subresource that it does not contain. */
static uint32_t vd__vk_image_barrier(const vd__transition *t, uint32_t begin, const VkMemoryBarrier *memory,
                                     VkImageMemoryBarrier *out) {
    const vd__image_shape *shape = vd__vk_shape(t->memory);
    uint32_t layers = shape->layers, first = begin % layers, levels = first ? 0 : (t->end - begin) / layers;
    uint32_t part = layers - first < t->end - begin ? layers - first : t->end - begin;
    memset(out, 0, sizeof *out);
    out->sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
    out->srcAccessMask = memory->srcAccessMask;
    out->dstAccessMask = memory->dstAccessMask;
    out->oldLayout = vd__vk_layouts[t->from];
    out->newLayout = vd__vk_layouts[t->to];
    out->srcQueueFamilyIndex = out->dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    out->image = VD__VK_UNPACK(VkImage, t->memory->native[0]);
    out->subresourceRange.aspectMask = shape->depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
    out->subresourceRange.baseMipLevel = begin / layers;
    out->subresourceRange.levelCount = levels ? levels : 1;
    out->subresourceRange.baseArrayLayer = first;
    out->subresourceRange.layerCount = levels ? layers : part;
    return begin + (levels ? levels * layers : part);
}

/* Records a memory barrier between pipeline stages (VD__STAGE_ bits), with layout transitions of images. */
static void vd__vk_barrier(vd__device *dev, VkCommandBuffer buffer, uint32_t from, uint32_t to,
                           const vd__transition *transitions, uint32_t count) {
    const vd__vk_device *vk = vd__vk_device_of(dev);
    VkImageMemoryBarrier images[16];
    uint32_t image_count = 0;
    VD__VK_STRUCT(VkMemoryBarrier, barrier, VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    VkPipelineStageFlags before = 0, after = 0;
    if (vk->copy_kernel_min_bytes != UINT64_MAX) { /* copies may be dispatches */
        if (from & VD__STAGE_TRANSFER) from |= VD__STAGE_COMPUTE;
        if (to & VD__STAGE_TRANSFER) to |= VD__STAGE_COMPUTE;
    }
#define VD__VK_STAGE(bit, stage, writes, accesses) \
    if (from & bit) { before |= stage; barrier.srcAccessMask |= writes; } \
    if (to & bit) { after |= stage; barrier.dstAccessMask |= accesses; }
    VD__VK_STAGE(VD__STAGE_COMPUTE, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
        VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_UNIFORM_READ_BIT)
    VD__VK_STAGE(VD__STAGE_TRANSFER, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                 VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT)
    VD__VK_STAGE(VD__STAGE_HOST, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_WRITE_BIT, VK_ACCESS_HOST_READ_BIT)
#undef VD__VK_STAGE
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t begin = transitions[i].begin; begin < transitions[i].end;) {
            if (image_count == VD__COUNT(images)) {
                vk->vkCmdPipelineBarrier(buffer, before, after, 0, 0, NULL, 0, NULL, image_count, images);
                image_count = 0;
            }
            begin = vd__vk_image_barrier(&transitions[i], begin, &barrier, &images[image_count++]);
        }
    vk->vkCmdPipelineBarrier(buffer, before, after, 0, 1, &barrier, 0, NULL, image_count, images);
}

static void vd__vk_record_barrier(vd__device *dev, vd__commands *c, uint32_t from, uint32_t to,
                                  const vd__transition *transitions, uint32_t count) {
    vd__vk_barrier(dev, vd__vk_commands_of(c)->buffer, from, to, transitions, count);
}

/* Records the barrier for vd__submission.barrier_first into barrier_buffer, unless an earlier submission of the
   recording has done so. */
static VD__NOINLINE vd_result vd__vk_barrier_buffer_record(vd__device *dev, vd__vk_commands *vc) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    if (vc->barrier_recorded) return VD_OK;
    vd_result result = vd__vk_buffer_begin(vk, vc, vc->barrier_buffer);
    if (result) return result;
    vd__vk_barrier(dev, vc->barrier_buffer, VD__STAGE_COMPUTE | VD__STAGE_TRANSFER,
                   VD__STAGE_COMPUTE | VD__STAGE_TRANSFER, NULL, 0);
    result = vd__vk_buffer_end(vk, vc, vc->barrier_buffer);
    vc->barrier_recorded = !result;
    return result;
}

static vd_result vd__vk_record_launch(vd__device *dev, vd__commands *c, const vd__launch *launch) {
    const vd__vk_device *vk = vd__vk_device_of(dev);
    vd__vk_commands *vc = vd__vk_commands_of(c);
    vd__vk_kernel *kernel = vd__vk_kernel_of(launch->code);
    vd_result result = VD__LIKELY(!launch->block) ? VD_OK : vd__vk_kernel_in_memory(dev, &kernel);
    if (VD__UNLIKELY(kernel != vc->kernel) && !result) result = vd__vk_bind_kernel(dev, vc, kernel);
    if (VD__UNLIKELY(result)) return result;
    if (launch->arguments_changed || !vc->arguments_bound || launch->block) {
        if (kernel->uniform) result = vd__vk_arguments_write(dev, vc, launch);
        else if (kernel->push_bytes)
            vk->vkCmdPushConstants(vc->buffer, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, kernel->push_bytes,
                                   launch->arguments);
        vc->arguments_bound = !result && !launch->block; /* no other launch shares a block that can be changed */
    }
    if (launch->block) *launch->block = vc->chunk * VD__VK_CHUNK_BYTES + vc->argument_offset;
    if (kernel->set_layout && !result) result = vd__vk_bind(dev, vc, launch);
    if (VD__UNLIKELY(result)) return result;
    vk->vkCmdDispatch(vc->buffer, launch->groups[0], launch->groups[1], launch->groups[2]);
    return VD_OK;
}

/* Records a copy by the copy kernel. Addresses and size are multiples of 16. A copy may need several dispatches. */
static void vd__vk_record_kernel_copy(vd__device *dev, vd__vk_commands *vc, uint64_t to, uint64_t from,
                                      uint64_t bytes) {
    const vd__vk_device *vk = vd__vk_device_of(dev);
    const vd__vk_kernel *kernel = vd__vk_kernel_of(&vk->copy_kernel);
    uint32_t limit = dev->info.limits.max_groups[0], max_groups = limit < 1u << 20 ? limit : 1u << 20;
    uint64_t max_bytes = (uint64_t)max_groups * VD__VK_COPY_GROUP_BYTES;
    vk->vkCmdBindPipeline(vc->buffer, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
    for (uint64_t done = 0, step; done < bytes; done += step) {
        uint64_t arguments[3];
        step = bytes - done < max_bytes ? bytes - done : max_bytes;
        arguments[0] = to + done;
        arguments[1] = from + done;
        arguments[2] = 0;
        uint32_t count = (uint32_t)(step / 16);
        memcpy(&arguments[2], &count, 4);
        vk->vkCmdPushConstants(vc->buffer, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, kernel->push_bytes,
                               arguments);
        vk->vkCmdDispatch(vc->buffer, (uint32_t)((step + VD__VK_COPY_GROUP_BYTES - 1) / VD__VK_COPY_GROUP_BYTES), 1, 1);
    }
    vd__vk_commands_unbind(vc);
}

static bool vd__vk_is_local(const vd__vk_device *vk, const vd__memory *m) {
    return (vk->memory.memoryTypes[m->block->type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
}

/* Records a copy of a range by the copy kernel, except for up to 15 bytes at each end. If the two addresses differ
   modulo 16, or the range is too short, nothing is recorded. Stores the ranges that the driver has to copy in `rest`
   and returns their number. */
static uint32_t vd__vk_kernel_copy_range(vd__device *dev, vd__vk_commands *vc, const vd__memory *to,
                                         const vd__memory *from, const vd__copy_range *r, vd__copy_range rest[2]) {
    uint64_t target = to->address + r->to, source = from->address + r->from, head = (16 - target % 16) % 16;
    uint64_t body = r->size > head ? r->size - head : 0;
    uint32_t rest_count = 0;
    body -= body % 16;
    if ((target ^ source) % 16 || !body) {
        rest[0] = *r;
        return 1;
    }
    vd__vk_record_kernel_copy(dev, vc, target + head, source + head, body);
    if (head) {
        rest[rest_count] = *r;
        rest[rest_count++].size = head;
    }
    if (head + body < r->size) {
        rest[rest_count].to = r->to + head + body;
        rest[rest_count].from = r->from + head + body;
        rest[rest_count++].size = r->size - head - body;
    }
    return rest_count;
}

/* Records copies by the driver, up to 32 ranges in one command. */
static void vd__vk_record_copies(vd__device *dev, vd__commands *c, const vd__memory *to, const vd__memory *from,
                                 const vd__copy_range *ranges, uint32_t count) {
    VkBuffer source = VD__VK_UNPACK(VkBuffer, from->native[0]), target = VD__VK_UNPACK(VkBuffer, to->native[0]);
    VkBufferCopy copies[32];
    while (count) {
        uint32_t batch = count < 32 ? count : 32;
        for (uint32_t i = 0; i < batch; i++) {
            copies[i].srcOffset = ranges[i].from;
            copies[i].dstOffset = ranges[i].to;
            copies[i].size = ranges[i].size;
        }
        vd__vk_device_of(dev)->vkCmdCopyBuffer(vd__vk_commands_of(c)->buffer, source, target, batch, copies);
        ranges += batch;
        count -= batch;
    }
}

/* Copies each range by the copy kernel or by the driver, see vd__vk_choose_copies. */
static void vd__vk_record_copy(vd__device *dev, vd__commands *c, const vd__memory *to, const vd__memory *from,
                               const vd__copy_range *ranges, uint32_t count) {
    const vd__vk_device *vk = vd__vk_device_of(dev);
    vd__vk_commands *vc = vd__vk_commands_of(c);
    bool use_kernel = vk->copy_kernel_min_bytes != UINT64_MAX
                      && (vk->copy_kernel_any_memory || (vd__vk_is_local(vk, to) && vd__vk_is_local(vk, from)));
    uint32_t pending = 0;
    for (uint32_t i = 0; use_kernel && i < count; i++) {
        vd__copy_range rest[2];
        if (ranges[i].size < vk->copy_kernel_min_bytes || !vd__vk_copy_kernel_get(dev)) continue;
        if (i > pending) vd__vk_record_copies(dev, c, to, from, ranges + pending, i - pending);
        uint32_t rest_count = vd__vk_kernel_copy_range(dev, vc, to, from, &ranges[i], rest);
        if (rest_count) vd__vk_record_copies(dev, c, to, from, rest, rest_count);
        pending = i + 1;
    }
    if (count > pending) vd__vk_record_copies(dev, c, to, from, ranges + pending, count - pending);
}

static void vd__vk_record_fill(vd__device *dev, vd__commands *c, const vd__memory *to, uint64_t offset, uint64_t size,
                               uint32_t word) {
    vd__vk_device_of(dev)->vkCmdFillBuffer(vd__vk_commands_of(c)->buffer, VD__VK_UNPACK(VkBuffer, to->native[0]),
                                           offset, size, word);
}

static vd_result vd__vk_record_native(vd__device *dev, vd__commands *c,
                                      vd_result (*record)(void *user, void *commands), void *user) {
    vd__vk_commands *vc = vd__vk_commands_of(c);
    (void)dev;
    vd__vk_commands_unbind(vc);
    return record(user, vc->buffer);
}

/* ---- the queue ---- */

static void vd__vk_queue_native(vd__device *dev, uint32_t queue, vd_native *out) {
    const vd__vk_driver *driver = vd__vk_driver_of(dev->driver);
    const vd__vk_device *vk = vd__vk_device_of(dev);
    out->instance = driver->instance;
    out->physical_device = driver->devices[dev->info.index];
    out->device = vk->handle;
    out->queue = vk->queues[queue];
    out->queue_family = vk->family;
    out->get_instance_proc_addr = (void (*)(void))driver->vkGetInstanceProcAddr;
}

/* Returns a prologue whose submission has completed, or a new one. */
static vd_result vd__vk_prologue_get(vd__device *dev, vd__vk_commands *vc, vd__vk_prologue **out) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    for (uint32_t i = 0; i < vc->prologue_count; i++) {
        *out = &vc->prologues[i];
        if (vd__vk_queue_value(dev, (*out)->queue) >= (*out)->value) return VD_OK;
    }
    VD__VK_STRUCT(VkCommandPoolCreateInfo, pool, VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = vk->family;
    if (!vc->prologue_pool) {
        VkResult result = vk->vkCreateCommandPool(vk->handle, &pool, NULL, &vc->prologue_pool);
        VD__VK_NULL_IF(result, vc->prologue_pool);
        if (result) return vd__vk_fail(result, "vkCreateCommandPool");
    }
    vd__vk_prologue *prologues = (vd__vk_prologue *)vd__vk_reserve(dev, vc->prologues, &vc->prologue_capacity,
                                                                   vc->prologue_count + 1, sizeof *prologues);
    if (!prologues) return VD_ERROR_OUT_OF_MEMORY;
    vc->prologues = prologues;
    *out = &prologues[vc->prologue_count];
    memset(*out, 0, sizeof **out);
    vd_result r = vd__vk_commands_allocate(vk, vc->prologue_pool, &(*out)->buffer);
    if (!r) vc->prologue_count++;
    return r;
}

/* Records the changes of a submission into a prologue, after a barrier: submissions in flight read the argument
   blocks. */
static VD__NOINLINE vd_result vd__vk_changes_record(vd__device *dev, uint32_t queue, const vd__submission *s,
                                                    VkCommandBuffer *out) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    vd__vk_commands *vc = vd__vk_commands_of(s->commands);
    vd__vk_prologue *p = NULL;
    vd_result r = vd__vk_prologue_get(dev, vc, &p);
    if (!r) r = vd__vk_buffer_begin(vk, vc, p->buffer);
    if (r) return r;
    p->queue = queue;
    p->value = s->value;
    vd__vk_barrier(dev, p->buffer, VD__STAGE_COMPUTE | VD__STAGE_TRANSFER, VD__STAGE_COMPUTE | VD__STAGE_TRANSFER,
                   NULL, 0);
    for (uint32_t i = 0; i < s->change_count; i++) {
        const vd__argument_change *c = &s->changes[i];
        VkBuffer chunk = VD__VK_UNPACK(VkBuffer, vc->chunks[c->block / VD__VK_CHUNK_BYTES]->memory.native[0]);
        vk->vkCmdUpdateBuffer(p->buffer, chunk, c->block % VD__VK_CHUNK_BYTES + c->offset, c->size, c->data);
    }
    vd__vk_barrier(dev, p->buffer, VD__STAGE_TRANSFER, VD__STAGE_COMPUTE, NULL, 0);
    *out = p->buffer;
    return vd__vk_buffer_end(vk, vc, p->buffer);
}

static vd_result vd__vk_queue_submit(vd__device *dev, uint32_t queue, const vd__submission *s) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    uint64_t wait_values[VD_MAX_QUEUES];
    VkCommandBuffer buffers[2] = { NULL, NULL };
    uint32_t buffer_count = 0;
    if (s->change_count) {
        vd_result r = vd__vk_changes_record(dev, queue, s, &buffers[buffer_count++]);
        if (r) return r;
    } else if (s->commands && s->barrier_first) {
        vd_result r = vd__vk_barrier_buffer_record(dev, vd__vk_commands_of(s->commands));
        if (r) return r;
        buffers[buffer_count++] = vd__vk_commands_of(s->commands)->barrier_buffer;
    }
    if (s->commands) buffers[buffer_count++] = vd__vk_commands_of(s->commands)->buffer;
    VkSemaphore wait_semaphores[VD_MAX_QUEUES];
    VkPipelineStageFlags wait_stages[VD_MAX_QUEUES];
    for (uint32_t i = 0; i < s->wait_count; i++) {
        wait_values[i] = s->waits[i].value;
        wait_semaphores[i] = vk->timelines[s->waits[i].queue];
        wait_stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    }
    VD__VK_STRUCT(VkTimelineSemaphoreSubmitInfo, timeline, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    timeline.waitSemaphoreValueCount = s->wait_count;
    timeline.pWaitSemaphoreValues = wait_values;
    timeline.signalSemaphoreValueCount = 1;
    timeline.pSignalSemaphoreValues = &s->value;
    VD__VK_STRUCT(VkSubmitInfo, info, VK_STRUCTURE_TYPE_SUBMIT_INFO);
    info.pNext = &timeline;
    info.waitSemaphoreCount = s->wait_count;
    info.pWaitSemaphores = wait_semaphores;
    info.pWaitDstStageMask = wait_stages;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &vk->timelines[queue];
    info.commandBufferCount = buffer_count;
    info.pCommandBuffers = buffers;
    VkResult result = vk->vkQueueSubmit(vk->queues[queue], 1, &info, VK_NULL_HANDLE);
    return result ? vd__vk_fail(result, "vkQueueSubmit") : VD_OK;
}

/* Called when the timeline cannot be read. A driver that is short of memory may recover: returns 0 to try again. After
   one second without a success, returns UINT64_MAX: the device counts as lost, so that waits end. */
static VD__COLD uint64_t vd__vk_timeline_unreadable(vd__device *dev, uint32_t queue, VkResult result) {
    const uint64_t limit_ns = 1000000000u;
    uint64_t *since = &vd__vk_device_of(dev)->timeline_failed_since[queue], first = vd__atomic_load64(since),
             now = vd__time_ns();
    if (result == VK_ERROR_DEVICE_LOST || first == UINT64_MAX) return UINT64_MAX;
    if (!first) vd__atomic_store64(since, now);
    if (!first || now - first < limit_ns) return 0;
    vd__vk_fail(result, "vkGetSemaphoreCounterValue");
    bool logged = vd__atomic_exchange64(since, UINT64_MAX) == UINT64_MAX;
    if (!logged) vd__logf(dev->driver->host, VD_LOG_ERROR, "%s", vd__error_join());
    return UINT64_MAX;
}

static uint64_t vd__vk_queue_value(vd__device *dev, uint32_t queue) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    uint64_t value = 0;
    VkResult result = vk->vkGetSemaphoreCounterValue(vk->handle, vk->timelines[queue], &value);
    if (VD__UNLIKELY(result)) return vd__vk_timeline_unreadable(dev, queue, result);
    if (VD__UNLIKELY(vd__atomic_load64(&vk->timeline_failed_since[queue])))
        vd__atomic_store64(&vk->timeline_failed_since[queue], 0);
    return value;
}

static vd_result vd__vk_queue_wait(vd__device *dev, uint32_t queue, uint64_t value, uint64_t timeout_ns) {
    const vd__vk_device *vk = vd__vk_device_of(dev);
    VD__VK_STRUCT(VkSemaphoreWaitInfo, info, VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
    info.semaphoreCount = 1;
    info.pSemaphores = &vk->timelines[queue];
    info.pValues = &value;
    VkResult result = vk->vkWaitSemaphores(vk->handle, &info, timeout_ns);
    if (result == VK_TIMEOUT) return VD_TIMEOUT;
    return result ? vd__vk_fail(result, "vkWaitSemaphores") : VD_OK;
}

VD__SMALL

/* ---- the probe ---- */

/* Submits the recording to queue 0 without signalling its timeline, which must start at 0 for the context. */
static vd_result vd__vk_probe_submit(vd__device *dev, const vd__commands *c) {
    vd__vk_device *vk = vd__vk_device_of(dev);
    VD__VK_STRUCT(VkSubmitInfo, info, VK_STRUCTURE_TYPE_SUBMIT_INFO);
    info.commandBufferCount = 1;
    info.pCommandBuffers = &vd__vk_commands_of(c)->buffer;
    VkResult result = vk->vkQueueSubmit(vk->queues[0], 1, &info, VK_NULL_HANDLE);
    return result ? vd__vk_fail(result, "vkQueueSubmit") : VD_OK;
}

/* Waits until the device is idle, so that the objects of the probe may be destroyed. Retries for up to one second,
   since a driver may be short of memory for a while. */
static vd_result vd__vk_probe_wait(vd__device *dev) {
    const uint64_t limit_ns = 1000000000u, start = vd__time_ns();
    const vd__vk_device *vk = vd__vk_device_of(dev);
    VkResult result = vk->vkDeviceWaitIdle(vk->handle);
    while (result && result != VK_ERROR_DEVICE_LOST && vd__time_ns() - start < limit_ns) {
        vd__sleep(1000000);
        result = vk->vkDeviceWaitIdle(vk->handle);
    }
    return result ? vd__vk_fail(result, "vkDeviceWaitIdle") : VD_OK;
}

/* Records one work-group of a kernel with one buffer at binding 0. */
static vd_result vd__vk_probe_record(vd__device *dev, vd__commands *c, const vd__kernel_code *code,
                                     const vd__memory *memory) {
    vd__binding binding = { memory, 0, memory->size, 0 };
    vd__launch launch;
    memset(&launch, 0, sizeof launch);
    launch.code = code;
    launch.groups[0] = launch.groups[1] = launch.groups[2] = 1;
    launch.arguments_changed = 1;
    launch.bindings = &binding;
    launch.binding_count = 1;
    vd_result result = vd__vk_commands_begin(dev, c, false);
    if (result) return result;
    vd__vk_record_barrier(dev, c, VD__STAGE_HOST, VD__STAGE_COMPUTE, NULL, 0);
    result = vd__vk_record_launch(dev, c, &launch);
    if (result) return result;
    vd__vk_record_barrier(dev, c, VD__STAGE_COMPUTE, VD__STAGE_HOST, NULL, 0);
    return vd__vk_commands_end(dev, c);
}

/* Runs the kernel on the memory of the chunk. Sets *waited to the result of waiting for it; leaves it unchanged if
   there was nothing to wait for. */
static vd_result vd__vk_probe_run(vd__device *dev, const vd__kernel_code *code, vd__vk_chunk *chunk,
                                  vd_result *waited) {
    vd__commands c;
    memset(&c, 0, sizeof c);
    vd_result result = vd__vk_commands_create(dev, &c);
    if (result) return result;
    if (!chunk->block.coherent) result = vd__vk_block_sync(dev, &chunk->block, 0, VD__VK_CHUNK_BYTES, false);
    if (!result) result = vd__vk_probe_record(dev, &c, code, &chunk->memory);
    if (!result) result = vd__vk_probe_submit(dev, &c);
    if (!result) result = *waited = vd__vk_probe_wait(dev);
    if (!result && !chunk->block.coherent) result = vd__vk_block_sync(dev, &chunk->block, 0, VD__VK_CHUNK_BYTES, true);
    vd__vk_commands_destroy(dev, &c);
    return result;
}

/* Creates the built-in kernel `round`. */
static vd_result vd__vk_probe_kernel(vd__device *dev, vd__kernel_code *code) {
    vd_arg_info arg;
    vd_kernel_desc desc;
    memset(&arg, 0, sizeof arg);
    memset(&desc, 0, sizeof desc);
    arg.name = "x";
    arg.kind = VD_ARG_BINDING;
    desc.name = "round";
    desc.code = vd__vk_round_words;
    desc.code_size = sizeof vd__vk_round_words;
    desc.args = &arg;
    desc.arg_count = 1;
    return vd__vk_kernel_create(dev, &desc, code);
}

/* Sets *exact if trunc and round of f64 are exact on this device. If the probe cannot run, *exact stays false, which
   is always correct. Fails only if waiting for the probe fails: the device cannot be used then. */
static vd_result vd__vk_rounding_probe(vd__device *dev, bool *exact) {
    static const double x[VD__VK_PROBE_LANES] = {
        0.5, 1.5, 2.5, -3.5, 16777216.5, -2147483649.5, 2251799813685247.5, -7.75 };
    static const double expected[2][VD__VK_PROBE_LANES] = {
        { 0, 1, 2, -3, 16777216, -2147483649.0, 2251799813685247.0, -7 },
        { 0, 2, 2, -4, 16777216, -2147483650.0, 2251799813685248.0, -8 } };
    vd__kernel_code code;
    vd__vk_chunk *chunk = (vd__vk_chunk *)vd__alloc_zeroed(vd__vk_allocator(dev), sizeof *chunk);
    memset(&code, 0, sizeof code);
    if (!chunk) return VD_OK;
    vd_result waited = VD_OK, result = vd__vk_chunk_start(dev, chunk);
    if (!result) result = vd__vk_probe_kernel(dev, &code);
    if (!result) memcpy(chunk->block.mapped, x, sizeof x);
    if (!result) result = vd__vk_probe_run(dev, &code, chunk, &waited);
    if (!result) *exact = !memcmp(chunk->block.mapped, expected, sizeof expected);
    if (code.native[0]) vd__vk_kernel_destroy(dev, &code);
    vd__vk_chunk_destroy(dev, chunk);
    return waited;
}

VD__SMALL_END
#endif /* VD__HAS_VULKAN */

// >>cuda api
/* The functions of the CUDA driver API and of NVRTC that this library uses, one list per library. The types are
   declared here, so that no CUDA header is needed. */

#if VD__HAS_CUDA

VD__SMALL

/* Handles are pointers, device addresses are 64-bit integers. Both libraries return 0 on success. */
typedef unsigned long long vd__cu_address;

/* CUDA_MEMCPY2D of cuda.h. */
typedef struct vd__cu_copy_side {
    size_t x, y;
    int memory;                /* CU_MEMORYTYPE_UNIFIED: `address` is used, `host` is not */
    void *host;
    vd__cu_address address;
    void *array;
    size_t pitch;
} vd__cu_copy_side;

typedef struct vd__cu_copy_2d {
    vd__cu_copy_side from, to;
    size_t width, height;      /* bytes, rows */
} vd__cu_copy_2d;

/* CUDA_EXTERNAL_MEMORY_HANDLE_DESC. */
typedef struct vd__cu_external_memory {
    int type;                  /* CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD or _OPAQUE_WIN32 */
    union { int fd; void *pointers[2]; } handle; /* win32: HANDLE, name */
    unsigned long long size;
    unsigned flags, reserved[16];
} vd__cu_external_memory;

/* CUDA_EXTERNAL_MEMORY_BUFFER_DESC. */
typedef struct vd__cu_external_buffer {
    unsigned long long offset, size;
    unsigned flags, reserved[16];
} vd__cu_external_buffer;

/* Result, function, exported name, parameters. cuda.h maps the plain names to those with _v2. */
#define VD__CU_FUNCTIONS(X) \
    X(int, cuInit, cuInit, (unsigned flags)) \
    X(int, cuDriverGetVersion, cuDriverGetVersion, (int *version)) \
    X(int, cuGetErrorName, cuGetErrorName, (int error, const char **name)) \
    X(int, cuDeviceGetCount, cuDeviceGetCount, (int *count)) \
    X(int, cuDeviceGet, cuDeviceGet, (int *device, int ordinal)) \
    X(int, cuDeviceGetName, cuDeviceGetName, (char *name, int size, int device)) \
    X(int, cuDeviceGetUuid, cuDeviceGetUuid_v2, (void *uuid, int device)) \
    X(int, cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t *bytes, int device)) \
    X(int, cuDeviceGetAttribute, cuDeviceGetAttribute, (int *value, int attribute, int device)) \
    X(int, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (void **context, int device)) \
    X(int, cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (int device)) \
    X(int, cuCtxPushCurrent, cuCtxPushCurrent_v2, (void *context)) \
    X(int, cuCtxPopCurrent, cuCtxPopCurrent_v2, (void **context)) \
    X(int, cuMemGetInfo, cuMemGetInfo_v2, (size_t *available, size_t *total)) \
    X(int, cuMemAlloc, cuMemAlloc_v2, (vd__cu_address *address, size_t size)) \
    X(int, cuMemFree, cuMemFree_v2, (vd__cu_address address)) \
    X(int, cuMemHostAlloc, cuMemHostAlloc, (void **memory, size_t size, unsigned flags)) \
    X(int, cuMemFreeHost, cuMemFreeHost, (void *memory)) \
    X(int, cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2, (vd__cu_address *address, void *memory, \
        unsigned flags)) \
    X(int, cuMemcpyAsync, cuMemcpyAsync, (vd__cu_address to, vd__cu_address from, size_t size, void *stream)) \
    X(int, cuMemcpy2DAsync, cuMemcpy2DAsync_v2, (const vd__cu_copy_2d *rows, void *stream)) \
    X(int, cuMemsetD32Async, cuMemsetD32Async, (vd__cu_address to, unsigned word, size_t count, void *stream)) \
    X(int, cuStreamCreate, cuStreamCreate, (void **stream, unsigned flags)) \
    X(int, cuStreamDestroy, cuStreamDestroy_v2, (void *stream)) \
    X(int, cuStreamQuery, cuStreamQuery, (void *stream)) \
    X(int, cuStreamWaitEvent, cuStreamWaitEvent, (void *stream, void *event, unsigned flags)) \
    X(int, cuEventCreate, cuEventCreate, (void **event, unsigned flags)) \
    X(int, cuEventDestroy, cuEventDestroy_v2, (void *event)) \
    X(int, cuEventRecord, cuEventRecord, (void *event, void *stream)) \
    X(int, cuModuleLoadDataEx, cuModuleLoadDataEx, (void **module, const void *image, unsigned count, int *options, \
        void **values)) \
    X(int, cuModuleUnload, cuModuleUnload, (void *module)) \
    X(int, cuModuleGetFunction, cuModuleGetFunction, (void **function, void *module, const char *name)) \
    X(int, cuFuncGetAttribute, cuFuncGetAttribute, (int *value, int attribute, void *function)) \
    X(int, cuFuncSetAttribute, cuFuncSetAttribute, (void *function, int attribute, int value)) \
    X(int, cuLaunchKernel, cuLaunchKernel, (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned lx, \
        unsigned ly, unsigned lz, unsigned shared, void *stream, void **parameters, void **extra))

/* Functions that older drivers do not have. Their pointers are NULL then. */
#define VD__CU_NEWER_FUNCTIONS(X) \
    X(int, cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, (int *mode)) \
    X(int, cuStreamIsCapturing, cuStreamIsCapturing, (void *stream, int *status)) \
    X(int, cuStreamWriteValue64, cuStreamWriteValue64_v2, (void *stream, vd__cu_address address, \
        unsigned long long value, unsigned flags)) \
    X(int, cuModuleGetFunctionCount, cuModuleGetFunctionCount, (unsigned *count, void *module)) \
    X(int, cuModuleEnumerateFunctions, cuModuleEnumerateFunctions, (void **functions, unsigned count, void *module)) \
    X(int, cuFuncLoad, cuFuncLoad, (void *function)) \
    X(int, cuImportExternalMemory, cuImportExternalMemory, (void **memory, const vd__cu_external_memory *desc)) \
    X(int, cuExternalMemoryGetMappedBuffer, cuExternalMemoryGetMappedBuffer, (vd__cu_address *address, void *memory, \
        const vd__cu_external_buffer *range)) \
    X(int, cuDestroyExternalMemory, cuDestroyExternalMemory, (void *memory)) \
    X(int, cuFuncGetParamInfo, cuFuncGetParamInfo, (void *function, size_t index, size_t *offset, size_t *size))

#define VD__NVRTC_FUNCTIONS(X) \
    X(int, nvrtcVersion, nvrtcVersion, (int *major, int *minor)) \
    X(const char *, nvrtcGetErrorString, nvrtcGetErrorString, (int result)) \
    X(int, nvrtcGetNumSupportedArchs, nvrtcGetNumSupportedArchs, (int *count)) \
    X(int, nvrtcGetSupportedArchs, nvrtcGetSupportedArchs, (int *archs)) \
    X(int, nvrtcCreateProgram, nvrtcCreateProgram, (void **program, const char *source, const char *name, \
        int headers, const char *const *texts, const char *const *names)) \
    X(int, nvrtcDestroyProgram, nvrtcDestroyProgram, (void **program)) \
    X(int, nvrtcCompileProgram, nvrtcCompileProgram, (void *program, int count, const char *const *options)) \
    X(int, nvrtcGetProgramLogSize, nvrtcGetProgramLogSize, (void *program, size_t *size)) \
    X(int, nvrtcGetProgramLog, nvrtcGetProgramLog, (void *program, char *log)) \
    X(int, nvrtcGetCUBINSize, nvrtcGetCUBINSize, (void *program, size_t *size)) \
    X(int, nvrtcGetCUBIN, nvrtcGetCUBIN, (void *program, char *code)) \
    X(int, nvrtcGetPTXSize, nvrtcGetPTXSize, (void *program, size_t *size)) \
    X(int, nvrtcGetPTX, nvrtcGetPTX, (void *program, char *code))

/* CUresult values with their names in cuda.h and our error code. Errors after which the context cannot be used any
   more are VD_ERROR_DEVICE_LOST. */
#define VD__CU_RESULTS(X) \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2, VD_ERROR_OUT_OF_DEVICE_MEMORY) \
    X(CUDA_ERROR_NO_DEVICE, 100, VD_ERROR_NO_DEVICE) \
    X(CUDA_ERROR_INVALID_DEVICE, 101, VD_ERROR_NO_DEVICE) \
    X(CUDA_ERROR_INVALID_IMAGE, 200, VD_ERROR_COMPILE) \
    X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209, VD_ERROR_COMPILE) \
    X(CUDA_ERROR_ECC_UNCORRECTABLE, 214, VD_ERROR_DEVICE_LOST) \
    X(CUDA_ERROR_INVALID_PTX, 218, VD_ERROR_COMPILE) \
    X(CUDA_ERROR_NVLINK_UNCORRECTABLE, 220, VD_ERROR_DEVICE_LOST) \
    X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221, VD_ERROR_UNSUPPORTED) \
    X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222, VD_ERROR_COMPILE) \
    X(CUDA_ERROR_CONTAINED, 226, VD_ERROR_DEVICE_LOST) \
    X(CUDA_ERROR_INVALID_SOURCE, 300, VD_ERROR_COMPILE) \
    X(CUDA_ERROR_NOT_FOUND, 500, VD_ERROR_COMPILE) \
    X(CUDA_ERROR_NOT_READY, 600, VD_TIMEOUT) \
    X(CUDA_ERROR_ILLEGAL_ADDRESS, 700, VD_ERROR_DEVICE_LOST) \
    X(CUDA_ERROR_LAUNCH_TIMEOUT, 702, VD_ERROR_DEVICE_LOST) \
    X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709, VD_ERROR_DEVICE_LOST) \
    X(CUDA_ERROR_ASSERT, 710, VD_ERROR_DEVICE_LOST) \
    X(CUDA_ERROR_HARDWARE_STACK_ERROR, 714, VD_ERROR_DEVICE_LOST) \
    X(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715, VD_ERROR_DEVICE_LOST) \
    X(CUDA_ERROR_MISALIGNED_ADDRESS, 716, VD_ERROR_DEVICE_LOST) \
    X(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717, VD_ERROR_DEVICE_LOST) \
    X(CUDA_ERROR_INVALID_PC, 718, VD_ERROR_DEVICE_LOST) \
    X(CUDA_ERROR_LAUNCH_FAILED, 719, VD_ERROR_DEVICE_LOST) \
    X(CUDA_ERROR_SYSTEM_NOT_READY, 802, VD_ERROR_NO_DEVICE) \
    X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803, VD_ERROR_NO_DEVICE) \
    X(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804, VD_ERROR_NO_DEVICE)

/* Other constants of cuda.h and nvrtc.h. */
#define VD__CU_NUMBERS(X) \
    X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1) \
    X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 2) \
    X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 5) \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8) \
    X(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10) \
    X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16) \
    X(CU_DEVICE_ATTRIBUTE_INTEGRATED, 18) \
    X(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 41) \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75) \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76) \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97) \
    X(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 122) \
    X(CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID, 139) \
    X(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0) \
    X(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1) \
    X(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8) \
    X(CU_JIT_ERROR_LOG_BUFFER, 5) \
    X(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6) \
    X(CU_STREAM_NON_BLOCKING, 1) \
    X(CU_STREAM_CAPTURE_MODE_RELAXED, 2) \
    X(CU_STREAM_CAPTURE_STATUS_INVALIDATED, 2) \
    X(CU_EVENT_DISABLE_TIMING, 2) \
    X(CU_MEMORYTYPE_UNIFIED, 4) \
    X(CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, 1) \
    X(CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32, 2) \
    X(CU_MEMHOSTALLOC_PORTABLE, 1) \
    X(CU_MEMHOSTALLOC_DEVICEMAP, 2) \
    X(CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT, 1) \
    X(CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT, 2) \
    X(NVRTC_ERROR_COMPILATION, 6)

enum {
#define VD__CU_NUMBER(name, number) VD__##name = number,
#define VD__CU_RESULT_NUMBER(name, number, code) VD__##name = number,
    VD__CU_NUMBERS(VD__CU_NUMBER)
    VD__CU_RESULTS(VD__CU_RESULT_NUMBER)
#undef VD__CU_NUMBER
#undef VD__CU_RESULT_NUMBER
    VD__CU_HOST_BLOCK = VD__CU_MEMHOSTALLOC_PORTABLE | VD__CU_MEMHOSTALLOC_DEVICEMAP
};

#define VD__CU_MEMBER(result, name, exported, args) result (*name) args;

typedef struct vd__cu_driver {
    VD__CU_FUNCTIONS(VD__CU_MEMBER)
    VD__CU_NEWER_FUNCTIONS(VD__CU_MEMBER)
    void *library;
    int version;               /* CUDA version of the driver: 1000 * major + 10 * minor */
    int device_count;
    vd__mutex lock;            /* protects `nvrtc` */
    struct vd__nvrtc *nvrtc;   /* loaded when CUDA C is first compiled; NULL before */
} vd__cu_driver;

typedef struct vd__nvrtc {
    VD__NVRTC_FUNCTIONS(VD__CU_MEMBER)
    void *library;
} vd__nvrtc;

/* A stream and its timeline. */
typedef struct vd__cu_queue {
    void *stream;
    bool borrowed;             /* the stream belongs to the caller or to queue 0 */
    void *event;               /* recorded for other queues to wait for; NULL: there is only one queue */
    uint64_t *timeline;        /* pinned host memory: the device writes it, any thread reads it */
    vd__cu_address timeline_address;
    uint64_t sent;             /* last value whose write was enqueued in the stream */
    uint64_t submitted;        /* last value submitted; values above `sent` were captured into a graph */
    uint32_t polls;            /* reads of the timeline while it was below `sent` */
} vd__cu_queue;

typedef struct vd__cu_device {
    const vd__cu_driver *api;
    void *context;             /* the device's primary context, shared with other users in the process */
    vd__cu_queue queues[VD_MAX_QUEUES];
    uint32_t lost;
    int handle;
    int architecture;          /* compute capability: 10 * major + minor */
    bool can_write_values;     /* cuStreamWriteValue64 is supported; else cuMemsetD32Async writes the lower 32 bits */
} vd__cu_device;

static vd__cu_driver *vd__cu_driver_of(const vd__driver *driver) { return (vd__cu_driver *)driver->native; }
static vd__cu_device *vd__cu_device_of(const vd__device *dev) { return (vd__cu_device *)dev->native; }
static const vd_allocator *vd__cu_allocator(const vd__device *dev) { return &dev->driver->host->allocator; }

static vd_result vd__cu_result_code(int result) {
    static const struct { int result; vd_result code; } table[] = {
#define VD__CU_RESULT_ROW(name, number, code) { number, code },
        VD__CU_RESULTS(VD__CU_RESULT_ROW)
#undef VD__CU_RESULT_ROW
    };
    for (size_t i = 0; i < VD__COUNT(table); i++)
        if (table[i].result == result) return table[i].code;
    return VD_ERROR_BACKEND;
}

/* Sets the error text to "<call> failed: CUDA_ERROR_…" and returns the error code. */
static VD__COLD vd_result vd__cu_fail(const vd__cu_driver *cu, int result, const char *format, ...) VD__PRINTF(3, 4);
static vd_result vd__cu_fail(const vd__cu_driver *cu, int result, const char *format, ...) {
    const char *name = NULL;
    va_list args;
    if (cu->cuGetErrorName(result, &name)) name = NULL;
    va_start(args, format);
    vd_result code = vd__fail_driver(vd__cu_result_code(result), name, result, format, args);
    va_end(args);
    return code;
}

/* The stream capture mode that the thread had before vd__cu_enter; vd__cu_leave restores it. */
static VD__THREAD_LOCAL int vd__cu_capture_mode;

/* Makes the context current until vd__cu_leave, which restores the caller's. All calls that need a current context are
   made between the two. Meanwhile the stream capture mode is relaxed: while the caller captures a stream, calls such as
   cuMemAlloc are allowed, and only work that is sent to the captured stream becomes part of the graph. */
static vd_result vd__cu_enter(const vd__cu_device *d) {
    int result = d->api->cuCtxPushCurrent(d->context);
    if (result) return vd__cu_fail(d->api, result, "cuCtxPushCurrent");
    vd__cu_capture_mode = VD__CU_STREAM_CAPTURE_MODE_RELAXED;
    if (d->api->cuThreadExchangeStreamCaptureMode) d->api->cuThreadExchangeStreamCaptureMode(&vd__cu_capture_mode);
    return VD_OK;
}

static void vd__cu_leave(const vd__cu_device *d) {
    void *context;
    if (d->api->cuThreadExchangeStreamCaptureMode) d->api->cuThreadExchangeStreamCaptureMode(&vd__cu_capture_mode);
    d->api->cuCtxPopCurrent(&context);
}

#define VD__CU_LOAD(result, name, exported, args) \
    found = vd__library_find(library, #exported); \
    memcpy((void *)&to->name, &found, sizeof found); \
    if (!found && !missing) missing = #exported;

/* Both functions fill a table. They return the name of the first missing function that is required, or NULL. */
static const char *vd__cu_load(vd__cu_driver *to, void *library) {
    const char *missing = NULL;
    void *found;
    VD__CU_NEWER_FUNCTIONS(VD__CU_LOAD)
    missing = NULL;
    VD__CU_FUNCTIONS(VD__CU_LOAD)
    return missing;
}

static const char *vd__nvrtc_load(vd__nvrtc *to, void *library) {
    const char *missing = NULL;
    void *found;
    VD__NVRTC_FUNCTIONS(VD__CU_LOAD)
    return missing;
}
#undef VD__CU_LOAD
#endif /* VD__HAS_CUDA */

// >>cuda device
/* Opening the driver, device information, the primary context and its streams. */

#if VD__HAS_CUDA
/* ---- the driver ---- */

static vd_result vd__cu_driver_start(vd__driver *driver) {
    vd__cu_driver *cu = vd__cu_driver_of(driver);
    const char *missing = vd__cu_load(cu, cu->library);
    if (missing) return vd__fail(VD_ERROR_NO_DEVICE, "libcuda has no function %s; CUDA 11.4 is required", missing);
    vd__mutex_lock(&vd__open_lock);
    int result = cu->cuInit(0);
    vd__mutex_unlock(&vd__open_lock);
    if (result) {
        vd__cu_fail(cu, result, "cuInit");
        return VD_ERROR_NO_DEVICE;
    }
    result = cu->cuDriverGetVersion(&cu->version);
    if (result) return vd__cu_fail(cu, result, "cuDriverGetVersion");
    result = cu->cuDeviceGetCount(&cu->device_count);
    if (result) return vd__cu_fail(cu, result, "cuDeviceGetCount");
    return cu->device_count > 0 ? VD_OK : vd__fail(VD_ERROR_NO_DEVICE, "the CUDA driver found no device");
}

static vd_result vd__cu_driver_open(vd__driver *driver) {
    char path[VD__PATH_CHARS];
    const char *named = vd__environment_path("VKDISPATCH_LIBCUDA", path);
    void *library = named ? vd__library_open(named) : vd__library_open_first(vd__libraries.cuda);
    if (!library)
        return vd__fail(VD_ERROR_NO_DEVICE, "%s could not be opened%s", named ? named : vd__libraries.cuda[0],
                        named ? " (from VKDISPATCH_LIBCUDA)" : "; is an NVIDIA driver installed?");
    driver->native = vd__alloc_zeroed(&driver->host->allocator, sizeof(vd__cu_driver));
    if (!driver->native) {
        vd__library_close(library);
        return vd__fail_memory(NULL, NULL, 0);
    }
    vd__cu_driver_of(driver)->library = library;
    vd__mutex_init(&vd__cu_driver_of(driver)->lock);
    vd_result result = vd__cu_driver_start(driver);
    if (result) vd__cu_driver_close(driver);
    return result;
}

static void vd__cu_driver_close(vd__driver *driver) {
    vd__cu_driver *cu = vd__cu_driver_of(driver);
    if (cu->nvrtc) vd__library_close(cu->nvrtc->library);
    vd__free(&driver->host->allocator, cu->nvrtc);
    vd__library_close(cu->library);
    vd__mutex_destroy(&cu->lock);
    vd__free(&driver->host->allocator, cu);
    driver->native = NULL;
}

/* ---- device information ---- */

/* Returns an attribute of a device, or 0 if the driver does not support it. */
static uint32_t vd__cu_attribute(const vd__cu_driver *cu, int attribute, int device) {
    int value = 0;
    return cu->cuDeviceGetAttribute(&value, attribute, device) == 0 && value > 0 ? (uint32_t)value : 0;
}

static void vd__cu_info_limits(const vd__cu_driver *cu, int device, vd_device_info *info) {
    vd_limits *to = &info->limits;
    uint32_t opt_in_bytes = vd__cu_attribute(cu, VD__CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
    for (int i = 0; i < 3; i++) {
        to->max_groups[i] = vd__cu_attribute(cu, VD__CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i, device);
        to->max_local_size[i] = vd__cu_attribute(cu, VD__CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i, device);
    }
    to->max_local_invocations = vd__cu_attribute(cu, VD__CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device);
    to->max_shared_bytes = opt_in_bytes ? opt_in_bytes
        : vd__cu_attribute(cu, VD__CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, device);
    to->max_push_bytes = VD_MAX_ARGUMENT_BYTES;
    to->max_bindings = VD_MAX_ARGS; /* no bindings: kernels get addresses, aligned for their types */
    to->binding_alignment = 1;
    to->subgroup_size = to->min_subgroup_size = to->max_subgroup_size =
        vd__cu_attribute(cu, VD__CU_DEVICE_ATTRIBUTE_WARP_SIZE, device);
    to->max_binding_bytes = to->max_buffer_bytes = info->device_memory;
}

static vd_result vd__cu_info_get(const vd__cu_driver *cu, int index, uint64_t disable, vd_device_info *info) {
    int device = 0;
    size_t bytes = 0;
    memset(info, 0, sizeof *info);
    int result = cu->cuDeviceGet(&device, index);
    if (!result) result = cu->cuDeviceGetName(info->name, (int)sizeof info->name - 1, device);
    if (!result) result = cu->cuDeviceTotalMem(&bytes, device);
    if (!result) result = cu->cuDeviceGetUuid(info->uuid, device);
    info->backend = VD_BACKEND_CUDA;
    info->index = index;
    snprintf(info->driver, sizeof info->driver, "CUDA %d.%d, compute capability %u.%u", cu->version / 1000,
             cu->version % 1000 / 10, vd__cu_attribute(cu, VD__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
             vd__cu_attribute(cu, VD__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    info->vendor_id = 0x10de;
    /* the lower half is the vendor id */
    info->device_id = vd__cu_attribute(cu, VD__CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID, device) >> 16;
    info->api_version[0] = (uint32_t)cu->version / 1000;
    info->api_version[1] = (uint32_t)cu->version % 1000 / 10;
    info->driver_version = (uint32_t)cu->version;
    info->shared_memory = vd__cu_attribute(cu, VD__CU_DEVICE_ATTRIBUTE_INTEGRATED, device) != 0;
    info->type = info->shared_memory ? VD_DEVICE_INTEGRATED : VD_DEVICE_DISCRETE;
    info->device_memory = bytes;
    info->features = vd__features_without(
        VD_FEATURE_F16 | VD_FEATURE_F64 | VD_FEATURE_I8 | VD_FEATURE_I16 | VD_FEATURE_I64 | VD_FEATURE_STORAGE_8
            | VD_FEATURE_STORAGE_16 | VD_FEATURE_ADDRESS | VD_FEATURE_SUBGROUP | VD_FEATURE_RECONVERGENCE
            | VD_FEATURE_ATOMIC_I64 | VD_FEATURE_ATOMIC_F32_ADD | VD_FEATURE_F64_ROUND | VD_FEATURE_SHUFFLE_64
            | VD_FEATURE_UNPACK_HALF | VD_FEATURE_FMA | VD_FEATURE_CACHED | VD_FEATURE_COHERENT | VD_FEATURE_QUEUES
            | VD_FEATURE_SHARING,
        disable);
    vd__cu_info_limits(cu, device, info);
    vd__facts_init(info, VD_CODE_CUDA, vd__cu_attribute(cu, VD__CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    return result ? vd__cu_fail(cu, result, "querying device %d", index) : VD_OK;
}

static int vd__cu_driver_devices(vd__driver *driver, vd_device_info *out, int capacity) {
    const vd__cu_driver *cu = vd__cu_driver_of(driver);
    for (int i = 0; i < cu->device_count && i < capacity; i++) vd__cu_info_get(cu, i, 0, &out[i]);
    return cu->device_count;
}

/* ---- opening ---- */

/* Creates the objects of a queue: a stream, unless `stream` is given; an event, unless it is the only queue; and a
   timeline in pinned memory, which the host reads without a call. */
static vd_result vd__cu_queue_create(const vd__cu_device *d, vd__cu_queue *q, void *stream, bool only_queue) {
    const vd__cu_driver *cu = d->api;
    void *memory = NULL;
    q->stream = stream;
    q->borrowed = stream != NULL;
    int result = stream ? 0 : cu->cuStreamCreate(&q->stream, VD__CU_STREAM_NON_BLOCKING);
    if (result) q->stream = NULL; /* outputs of failed calls are undefined */
    if (result) return vd__cu_fail(cu, result, "cuStreamCreate");
    if (!only_queue) result = cu->cuEventCreate(&q->event, VD__CU_EVENT_DISABLE_TIMING);
    if (result) q->event = NULL;
    if (result) return vd__cu_fail(cu, result, "cuEventCreate");
    result = cu->cuMemHostAlloc(&memory, sizeof *q->timeline, VD__CU_HOST_BLOCK);
    if (result) return vd__cu_fail(cu, result, "cuMemHostAlloc of a timeline");
    q->timeline = (uint64_t *)memory;
    vd__atomic_store64(q->timeline, 0);
    result = cu->cuMemHostGetDevicePointer(&q->timeline_address, memory, 0);
    return result ? vd__cu_fail(cu, result, "cuMemHostGetDevicePointer of a timeline") : VD_OK;
}

static vd_result vd__cu_device_start(vd__device *dev) {
    vd__cu_device *d = vd__cu_device_of(dev);
    const vd__cu_driver *cu = d->api;
    size_t available = 0, total = 0;
    void *context = NULL;
    int result = cu->cuDeviceGet(&d->handle, dev->info.index);
    if (!result) result = cu->cuDevicePrimaryCtxRetain(&context, d->handle);
    if (result) return vd__cu_fail(cu, result, "cuDevicePrimaryCtxRetain of '%s'", dev->info.name);
    d->context = context;
    d->architecture = (int)(10 * vd__cu_attribute(cu, VD__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d->handle) +
        vd__cu_attribute(cu, VD__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d->handle));
    d->can_write_values = cu->cuStreamWriteValue64
                       && vd__cu_attribute(cu, VD__CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, d->handle);
    vd_result entered = vd__cu_enter(d);
    if (entered) return entered;
    if (cu->cuMemGetInfo(&available, &total) == 0) dev->info.device_budget = available;
    vd_result r = VD_OK;
    void *stream = dev->driver->host->cuda_stream;
    for (uint32_t i = 0; i < dev->queue_count && !r; i++) {
        r = vd__cu_queue_create(d, &d->queues[i], stream, dev->queue_count == 1);
        /* without VD_FEATURE_QUEUES all queues share a stream */
        stream = dev->info.features & VD_FEATURE_QUEUES ? NULL : d->queues[0].stream;
    }
    vd__cu_leave(d);
    return r;
}

static vd_result vd__cu_device_open(vd__driver *driver, int index, uint64_t disable, vd__device *dev) {
    const vd__cu_driver *cu = vd__cu_driver_of(driver);
    if (index < 0 || index >= cu->device_count)
        return vd__fail(VD_ERROR_NO_DEVICE, "the device index is %d, but there are %d devices", index,
                        cu->device_count);
    vd_result r = vd__cu_info_get(cu, index, disable, &dev->info);
    if (r) return r;
    dev->driver = driver;
    dev->native = vd__alloc_zeroed(&driver->host->allocator, sizeof(vd__cu_device));
    if (!dev->native) return vd__fail_memory(NULL, NULL, 0);
    vd__cu_device_of(dev)->api = cu;
    dev->always_by_address = true;
    dev->can_capture = driver->host->cuda_stream && cu->cuStreamIsCapturing;
    dev->sharing_mask = 1u << VD__SHARE_ADDRESS;
    if (cu->cuImportExternalMemory && cu->cuExternalMemoryGetMappedBuffer && cu->cuDestroyExternalMemory)
        dev->sharing_mask |= 1u << VD__SHARE_HANDLE;
    r = vd__cu_device_start(dev);
    if (r) vd__cu_device_close(dev);
    return r;
}

/* Does nothing: cuMemFree, cuModuleUnload and cuStreamDestroy wait for work that uses the object. */
static void vd__cu_device_idle(vd__device *dev) { (void)dev; }

static void vd__cu_device_close(vd__device *dev) {
    vd__cu_device *d = vd__cu_device_of(dev);
    const vd__cu_driver *cu = d->api;
    if (d->context && !vd__cu_enter(d)) {
        for (uint32_t i = 0; i < VD_MAX_QUEUES; i++) {
            vd__cu_queue *q = &d->queues[i];
            if (q->stream && !q->borrowed) cu->cuStreamDestroy(q->stream);
            if (q->event) cu->cuEventDestroy(q->event);
            if (q->timeline) cu->cuMemFreeHost(q->timeline);
        }
        vd__cu_leave(d);
    }
    if (d->context) cu->cuDevicePrimaryCtxRelease(d->handle);
    vd__free(vd__cu_allocator(dev), d);
    dev->native = NULL;
}
#endif /* VD__HAS_CUDA */

// >>cuda memory
/* Memory blocks, in device memory or in pinned host memory for staging, and buffers, which are ranges of blocks. */

#if VD__HAS_CUDA
enum { VD__CU_TYPE_DEVICE, VD__CU_TYPE_HOST }; /* memory types */

/* ---- blocks ---- */

static vd_result vd__cu_block_create(vd__device *dev, vd__block *block) {
    vd__cu_device *d = vd__cu_device_of(dev);
    vd__cu_address address = 0;
    void *memory = NULL;
    bool host = block->type == VD__CU_TYPE_HOST;
    vd_result entered = vd__cu_enter(d);
    if (entered) return entered;
    int result = host ? d->api->cuMemHostAlloc(&memory, (size_t)block->size, VD__CU_HOST_BLOCK)
                      : d->api->cuMemAlloc(&address, (size_t)block->size);
    vd__cu_leave(d);
    if (result)
        return vd__cu_fail(d->api, result, "%s of %llu bytes", host ? "cuMemHostAlloc" : "cuMemAlloc",
                           VD__U(block->size));
    /* with unified addressing, a host address is also a device address */
    block->native[0] = host ? (uint64_t)(uintptr_t)memory : address;
    block->mapped = (uint8_t *)memory;
    block->host_cached = host;
    block->coherent = true;
    return VD_OK;
}

/* Imports a duplicate of the handle. A successful import transfers the ownership of a file descriptor to the driver,
   but not that of an NT handle. native[1] is the CUexternalMemory. */
static vd_result vd__cu_block_import_handle(vd__cu_device *d, vd__block *block, const vd_external *from) {
    const vd__cu_driver *cu = d->api;
    vd__cu_external_memory desc;
    vd__cu_external_buffer range;
    vd__cu_address address = 0;
    void *memory = NULL;
    memset(&desc, 0, sizeof desc);
    memset(&range, 0, sizeof range);
    desc.type = VD__HAS_WIN32_HANDLES ? VD__CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32
                                      : VD__CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    int64_t handle = vd__handle_copy(from->handle);
    if (handle < 0)
        return vd__fail(VD_ERROR_INVALID, "desc.external->handle is %lld, which is not an open handle",
                        (long long)from->handle);
    if (VD__HAS_WIN32_HANDLES) desc.handle.pointers[0] = (void *)(intptr_t)handle;
    else desc.handle.fd = (int)handle;
    desc.size = from->size;
    range.offset = from->offset;
    range.size = block->size;
    int result = cu->cuImportExternalMemory(&memory, &desc);
    if (result || VD__HAS_WIN32_HANDLES) vd__handle_close(handle);
    if (result) return vd__cu_fail(cu, result, "cuImportExternalMemory of %llu bytes", VD__U(from->size));
    result = cu->cuExternalMemoryGetMappedBuffer(&address, memory, &range);
    if (result) {
        cu->cuDestroyExternalMemory(memory);
        return vd__cu_fail(cu, result, "cuExternalMemoryGetMappedBuffer of %llu bytes at %llu", VD__U(block->size),
                           VD__U(from->offset));
    }
    block->native[0] = address;
    block->native[1] = (uintptr_t)memory;
    return VD_OK;
}

static vd_result vd__cu_block_import(vd__device *dev, vd__block *block, const vd__memory_requirements *need,
                                     const vd__import_source *from, uint64_t *offset) {
    vd__cu_device *d = vd__cu_device_of(dev);
    (void)offset;
    block->type = VD__CU_TYPE_DEVICE;
    block->native[0] = from->handle;
    block->coherent = true;
    if (need->sharing != VD__SHARE_HANDLE) return VD_OK;
    vd_result r = vd__cu_enter(d);
    if (r) return r;
    r = vd__cu_block_import_handle(d, block, from->external);
    vd__cu_leave(d);
    return r;
}

static void vd__cu_block_destroy(vd__device *dev, vd__block *block) {
    vd__cu_device *d = vd__cu_device_of(dev);
    if (block->sharing == VD__SHARE_ADDRESS) return;
    if (vd__cu_enter(d)) return; /* the context is lost, and its memory with it */
    if (block->type == VD__CU_TYPE_HOST) d->api->cuMemFreeHost(block->mapped);
    else d->api->cuMemFree(block->native[0]);
    if (block->sharing == VD__SHARE_HANDLE) d->api->cuDestroyExternalMemory((void *)(uintptr_t)block->native[1]);
    vd__cu_leave(d);
    block->native[0] = 0;
    block->mapped = NULL;
}

/* ---- memory types ---- */

static uint32_t vd__cu_memory_types(vd__device *dev, vd_memory usage, uint32_t mask) {
    (void)dev;
    return mask & (1u << (usage == VD_MEMORY_DEVICE ? VD__CU_TYPE_DEVICE : VD__CU_TYPE_HOST));
}

/* ---- buffers: ranges of a block ---- */

static vd_result vd__cu_memory_create(vd__device *dev, vd__memory *m, vd__memory_requirements *need) {
    (void)dev;
    need->size = m->size;
    need->align = VD__TLSF_UNIT;
    need->types = 1u << VD__CU_TYPE_DEVICE | 1u << VD__CU_TYPE_HOST;
    return VD_OK;
}

static vd_result vd__cu_memory_bind(vd__device *dev, vd__memory *m) {
    (void)dev;
    m->address = m->block->native[0] + m->offset;
    return VD_OK;
}
#endif /* VD__HAS_CUDA */

// >>cuda kernel
/* Loads kernels from CUDA C, PTX or machine code. NVRTC compiles CUDA C, and the cache keeps the result. */

#if VD__HAS_CUDA
typedef struct vd__cu_kernel {
    void *module, *function;
    uint32_t local_size[3];
    uint32_t dynamic_bytes;    /* dynamic shared memory, in addition to the static shared memory of the code */
    uint32_t parameter_bytes;  /* bytes of the argument block that the function reads */
} vd__cu_kernel;

static vd__cu_kernel *vd__cu_kernel_of(const vd__kernel_code *code) {
    return (vd__cu_kernel *)(uintptr_t)code->native[0];
}

/* ---- NVRTC ---- */

/* Opens NVRTC. `prefix` is a folder with a separator, or "" for the folders that the system searches. The major version
   of the driver is tried first, because a driver may reject code from a newer NVRTC. */
static void *vd__nvrtc_library_in(const char *prefix, int major) {
    char path[VD__PATH_CHARS];
    snprintf(path, sizeof path, "%s" VD__NVRTC_OF_MAJOR, prefix, major);
    void *library = vd__library_open(path);
    for (const char *const *name = vd__libraries.nvrtc; *name && !library; name++) {
        int length = snprintf(path, sizeof path, "%s%s", prefix, *name);
        if (length > 0 && (size_t)length < sizeof path) library = vd__library_open(path);
    }
    return library;
}

/* Opens NVRTC: VKDISPATCH_NVRTC if set; else from the loader's path; else from CUDA_PATH, CUDA_HOME and cuda_home. */
static void *vd__nvrtc_library(const vd__cu_driver *cu) {
    static const char *const variables[] = { "CUDA_PATH", "CUDA_HOME" };
    char text[VD__PATH_CHARS], prefix[VD__PATH_CHARS + 16];
    const char *named = vd__environment_path("VKDISPATCH_NVRTC", text);
    int major = cu->version / 1000;
    if (named) return vd__library_open(named);
    void *library = vd__nvrtc_library_in("", major);
    for (size_t i = 0; i <= VD__COUNT(variables); i++) {
        const char *home = i == VD__COUNT(variables) ? vd__libraries.cuda_home
                                                     : vd__environment_path(variables[i], text);
        for (const char *const *folder = vd__libraries.nvrtc_folders; *folder && home && !library; folder++) {
            snprintf(prefix, sizeof prefix, "%s" VD__PATH_SEPARATOR "%s" VD__PATH_SEPARATOR, home, *folder);
            library = vd__nvrtc_library_in(prefix, major);
        }
    }
    return library;
}

/* Returns NVRTC in *out and loads it on first use. */
static vd_result vd__nvrtc_open(vd__device *dev, const vd__nvrtc **out) {
    vd__cu_driver *cu = vd__cu_driver_of(dev->driver);
    vd_result r = VD_OK;
    vd__mutex_lock(&cu->lock);
    if (!cu->nvrtc) {
        void *library = vd__nvrtc_library(cu);
        vd__nvrtc *rtc = library ? (vd__nvrtc *)vd__alloc_zeroed(vd__cu_allocator(dev), sizeof *rtc) : NULL;
        const char *missing = rtc ? vd__nvrtc_load(rtc, library) : NULL;
        if (!library)
            r = vd__fail(VD_ERROR_UNSUPPORTED, "CUDA C needs NVRTC, but libnvrtc could not be opened; install it, or "
                         "set VKDISPATCH_NVRTC to its file name");
        else if (!rtc) r = vd__fail_memory(NULL, NULL, 0);
        else if (missing)
            r = vd__fail(VD_ERROR_UNSUPPORTED, "libnvrtc has no function %s; CUDA 11.2 is required", missing);
        else rtc->library = library;
        if (!r) cu->nvrtc = rtc;
        else vd__free(vd__cu_allocator(dev), rtc);
        if (r && library) vd__library_close(library);
    }
    *out = cu->nvrtc;
    vd__mutex_unlock(&cu->lock);
    return r;
}

static vd_result vd__nvrtc_fail(const vd__nvrtc *rtc, int result, const char *call) {
    return vd__fail(VD_ERROR_BACKEND, "%s failed: %s", call, rtc->nvrtcGetErrorString(result));
}

enum { VD__NVRTC_ARCHITECTURES = 64, VD__NVRTC_OPTIONS = 16 };

/* Chooses the architecture to compile for: that of the device, or else the newest older one that this NVRTC
   supports. Code for an older one is compiled to PTX, which the driver translates. */
static vd_result vd__nvrtc_architecture(const vd__nvrtc *rtc, int wanted, int *out) {
    int supported[VD__NVRTC_ARCHITECTURES];
    int count = 0, major = 0, minor = 0, result = rtc->nvrtcGetNumSupportedArchs(&count);
    *out = 0;
    if (!result && count <= VD__NVRTC_ARCHITECTURES) result = rtc->nvrtcGetSupportedArchs(supported);
    if (result || count > VD__NVRTC_ARCHITECTURES) return vd__nvrtc_fail(rtc, result, "nvrtcGetSupportedArchs");
    for (int i = 0; i < count; i++)
        if (supported[i] <= wanted && supported[i] > *out) *out = supported[i];
    if (*out) return VD_OK;
    rtc->nvrtcVersion(&major, &minor);
    return vd__fail(VD_ERROR_UNSUPPORTED, "NVRTC %d.%d does not support the device's compute capability %d.%d, nor an "
                    "older one", major, minor, wanted / 10, wanted % 10);
}

/* Reports a failed compilation: logs the compiler's log, and sets the error text to its first error. */
static vd_result vd__nvrtc_compile_failed(vd__device *dev, const vd__nvrtc *rtc, void *program, const char *source) {
    size_t size = 0;
    bool has_log = !rtc->nvrtcGetProgramLogSize(program, &size);
    char *log = has_log ? (char *)vd__alloc_zeroed(vd__cu_allocator(dev), size + 1) : NULL;
    if (log) rtc->nvrtcGetProgramLog(program, log);
    vd__logf(dev->driver->host, VD_LOG_INFO, "NVRTC: %.900s", log ? log : "");
    vd_result r = vd__fail_compile("NVRTC", source, log ? log : "");
    vd__free(vd__cu_allocator(dev), log);
    return r;
}

/* Copies the compiled code to *image, which the caller frees. */
static vd_result vd__nvrtc_image(vd__device *dev, const vd__nvrtc *rtc, void *program, bool ptx, void **image,
                                 size_t *size) {
    int result = ptx ? rtc->nvrtcGetPTXSize(program, size) : rtc->nvrtcGetCUBINSize(program, size);
    if (result) return vd__nvrtc_fail(rtc, result, ptx ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize");
    *image = vd__alloc(vd__cu_allocator(dev), *size);
    if (!*image) return vd__fail_memory(NULL, NULL, *size);
    result = ptx ? rtc->nvrtcGetPTX(program, (char *)*image) : rtc->nvrtcGetCUBIN(program, (char *)*image);
    if (!result) return VD_OK;
    vd__free(vd__cu_allocator(dev), *image);
    return vd__nvrtc_fail(rtc, result, ptx ? "nvrtcGetPTX" : "nvrtcGetCUBIN");
}

/* Compiles CUDA C to a cubin or to PTX in *image, which the caller frees. */
static vd_result vd__nvrtc_compile(vd__device *dev, const char *source, void **image, size_t *size) {
    const vd__nvrtc *rtc;
    void *program = NULL;
    char architecture[64];
    const char *options[1];
    int wanted = vd__cu_device_of(dev)->architecture, target;
    vd_result r = vd__nvrtc_open(dev, &rtc);
    if (!r) r = vd__nvrtc_architecture(rtc, wanted, &target);
    if (r) return r;
    snprintf(architecture, sizeof architecture, "--gpu-architecture=%s_%d", target == wanted ? "sm" : "compute",
             target);
    options[0] = architecture;
    int result = rtc->nvrtcCreateProgram(&program, source, "text", 0, NULL, NULL);
    if (result) return vd__nvrtc_fail(rtc, result, "nvrtcCreateProgram");
    result = rtc->nvrtcCompileProgram(program, 1, options);
    if (result == VD__NVRTC_ERROR_COMPILATION) r = vd__nvrtc_compile_failed(dev, rtc, program, source);
    else if (result) r = vd__nvrtc_fail(rtc, result, "nvrtcCompileProgram");
    else r = vd__nvrtc_image(dev, rtc, program, target != wanted, image, size);
    rtc->nvrtcDestroyProgram(&program);
    return r;
}

/* ---- modules ---- */

/* Returns whether all sections of machine code are within its bytes; cuModuleLoadDataEx does not take a size and
   trusts the headers. Accepts ELF64 (System V ABI) and fat binaries, whose header holds the length. */
static bool vd__cu_binary_complete(const uint8_t *code, uint64_t size) {
    static const uint8_t elf[5] = { 0x7f, 'E', 'L', 'F', 2 }, fat[4] = { 0x50, 0xed, 0x55, 0xba };
    uint64_t table = 0, length = 0;
    uint16_t entry_size = 0, count = 0, header_size = 0;
    if (size >= 16 && !memcmp(code, fat, sizeof fat)) {
        memcpy(&header_size, code + 6, 2);
        memcpy(&length, code + 8, 8);
        return header_size >= 16 && header_size <= size && length <= size - header_size;
    }
    if (size < 64 || memcmp(code, elf, sizeof elf)) return false;
    memcpy(&table, code + 40, 8);
    memcpy(&entry_size, code + 58, 2);
    memcpy(&count, code + 60, 2);
    if (entry_size != 64 || table > size || (uint64_t)entry_size * count > size - table) return false;
    for (uint16_t i = 0; i < count; i++) {
        uint32_t type;
        uint64_t offset;
        memcpy(&type, code + table + 64u * i + 4, 4);
        memcpy(&offset, code + table + 64u * i + 24, 8);
        memcpy(&length, code + table + 64u * i + 32, 8);
        /* SHT_NOBITS (8): no bytes in the file */
        if (type && type != 8 && (offset > size || length > size - offset)) return false;
    }
    return true;
}

static vd_result vd__cu_module_load(vd__device *dev, const void *image, vd__cu_kernel *kernel) {
    const vd__cu_driver *cu = vd__cu_device_of(dev)->api;
    char log[2048] = "";
    int options[2] = { VD__CU_JIT_ERROR_LOG_BUFFER, VD__CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[2];
    values[0] = log;
    values[1] = (void *)(uintptr_t)(sizeof log - 1);
    int result = cu->cuModuleLoadDataEx(&kernel->module, image, 2, options, values);
    if (!result) return VD_OK;
    kernel->module = NULL;
    if (log[0] && vd__cu_result_code(result) == VD_ERROR_COMPILE) return vd__fail_compile("the CUDA driver", NULL, log);
    return vd__cu_fail(cu, result, "cuModuleLoadDataEx");
}

/* Loads the module of CUDA C from the cache, or compiles it. Cached code that the driver rejects is compiled again. */
static vd_result vd__cu_source_load(vd__device *dev, const vd_kernel_desc *desc, vd__cu_kernel *kernel) {
    const vd__cu_device *d = vd__cu_device_of(dev);
    const vd__host *host = dev->driver->host;
    const char *source = (const char *)desc->code;
    vd__cache_key key = VD__CACHE_KEY_INIT;
    size_t size = 0;
    vd__cache_key_add_text(&key, source);
    vd__cache_key_add(&key, &d->architecture, sizeof d->architecture);
    vd__cache_key_add(&key, &d->api->version, sizeof d->api->version);
    void *image = vd__cache_load(host, "cuda", &key, &size);
    vd_result r = image ? vd__cu_module_load(dev, image, kernel) : VD_ERROR_COMPILE;
    bool loaded = image && !r;
    vd__free(&host->allocator, image);
    if (loaded) return VD_OK;
    r = vd__nvrtc_compile(dev, source, &image, &size);
    if (r) return r;
    r = vd__cu_module_load(dev, image, kernel);
    if (!r) vd__cache_store(host, "cuda", &key, image, size);
    vd__free(&host->allocator, image);
    return r;
}

/* ---- functions ---- */

/* Finds the kernel that desc->entry names, or the only kernel of the module. */
static vd_result vd__cu_function_find(vd__device *dev, const vd_kernel_desc *desc, vd__cu_kernel *kernel) {
    const vd__cu_driver *cu = vd__cu_device_of(dev)->api;
    unsigned count = 0;
    if (desc->entry) {
        int result = cu->cuModuleGetFunction(&kernel->function, kernel->module, desc->entry);
        if (result == VD__CUDA_ERROR_NOT_FOUND)
            return vd__fail(VD_ERROR_COMPILE, "the code has no kernel '%s'; declare it extern \"C\" to keep its name",
                            desc->entry);
        return result ? vd__cu_fail(cu, result, "cuModuleGetFunction '%s'", desc->entry) : VD_OK;
    }
    if (!cu->cuModuleGetFunctionCount || !cu->cuModuleEnumerateFunctions || !cu->cuFuncLoad)
        return vd__fail(VD_ERROR_INVALID, "this driver cannot list the kernels of a module; select one with "
                        "desc.entry");
    int result = cu->cuModuleGetFunctionCount(&count, kernel->module);
    if (!result && count == 1) result = cu->cuModuleEnumerateFunctions(&kernel->function, 1, kernel->module);
    /* the driver may load modules lazily: load the kernel now */
    if (!result && count == 1) result = cu->cuFuncLoad(kernel->function);
    if (result) return vd__cu_fail(cu, result, "listing the kernels of a module");
    if (count == 1) return VD_OK;
    return count ? vd__fail(VD_ERROR_INVALID, "the code has %u kernels; select one with desc.entry", count)
        : vd__fail(VD_ERROR_COMPILE, "the code has no kernel");
}

/* Checks the function's parameters against the argument block. Whether they are one struct or individual parameters,
   they end where the block ends, except for padding. */
static vd_result vd__cu_parameters(vd__device *dev, const vd_kernel_desc *desc, vd__cu_kernel *kernel) {
    const vd__cu_driver *cu = vd__cu_device_of(dev)->api;
    size_t offset = 0, size = 0, end = 0;
    kernel->parameter_bytes = desc->argument_bytes;
    for (int i = 0; i < desc->arg_count; i++)
        if (desc->args[i].kind == VD_ARG_BINDING)
            return vd__fail(VD_ERROR_UNSUPPORTED, "argument %d '%s' has kind VD_ARG_BINDING, but this backend needs "
                            "VD_ARG_ADDRESS", i, desc->args[i].name ? desc->args[i].name : "");
    if (!cu->cuFuncGetParamInfo) return VD_OK;
    for (size_t i = 0; cu->cuFuncGetParamInfo(kernel->function, i, &offset, &size) == 0; i++) end = offset + size;
    if (end > (desc->argument_bytes + 15u) / 16 * 16 || desc->argument_bytes > (end + 3) / 4 * 4)
        return vd__fail(VD_ERROR_INVALID, "the kernel has %u bytes of parameters, but the argument block has %u",
                        (unsigned)end, (unsigned)desc->argument_bytes);
    kernel->parameter_bytes = (uint32_t)end;
    return VD_OK;
}

/* Checks the local size against the limit of the compiled code, and requests the shared memory that it does not
   declare. */
static vd_result vd__cu_function_check(vd__device *dev, const vd_kernel_desc *desc, vd__cu_kernel *kernel) {
    const vd__cu_driver *cu = vd__cu_device_of(dev)->api;
    uint32_t threads = desc->local_size[0] * desc->local_size[1] * desc->local_size[2];
    int max_threads = 0, static_bytes = 0;
    int result = cu->cuFuncGetAttribute(&max_threads, VD__CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel->function);
    if (!result)
        result = cu->cuFuncGetAttribute(&static_bytes, VD__CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel->function);
    if (result) return vd__cu_fail(cu, result, "cuFuncGetAttribute");
    if (threads > (uint32_t)max_threads)
        return vd__fail(VD_ERROR_UNSUPPORTED, "the work-group has %u invocations, but the registers of the kernel "
                        "limit it to %d; use __launch_bounds__ to reduce them", threads, max_threads);
    if (desc->shared_bytes <= (uint32_t)static_bytes) return VD_OK;
    kernel->dynamic_bytes = desc->shared_bytes - (uint32_t)static_bytes;
    result = cu->cuFuncSetAttribute(kernel->function, VD__CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    (int)kernel->dynamic_bytes);
    return result ? vd__cu_fail(cu, result, "cuFuncSetAttribute of %u bytes of shared memory", kernel->dynamic_bytes)
                  : VD_OK;
}

/* Loads the code and fills in `kernel`. The context is current. */
static vd_result vd__cu_kernel_start(vd__device *dev, const vd_kernel_desc *desc, vd__cu_kernel *kernel) {
    vd_result r;
    memcpy(kernel->local_size, desc->local_size, sizeof kernel->local_size);
    if (desc->code_kind == VD_CODE_CUDA) r = vd__cu_source_load(dev, desc, kernel);
    else if (desc->code_kind == VD_CODE_CUBIN && !vd__cu_binary_complete((const uint8_t *)desc->code, desc->code_size))
        r = vd__fail(VD_ERROR_COMPILE, "the code (%llu bytes) is not a complete cubin", VD__U(desc->code_size));
    else r = vd__cu_module_load(dev, desc->code, kernel);
    if (!r) r = vd__cu_function_find(dev, desc, kernel);
    if (!r) r = vd__cu_parameters(dev, desc, kernel);
    return r ? r : vd__cu_function_check(dev, desc, kernel);
}

static vd_result vd__cu_kernel_create(vd__device *dev, const vd_kernel_desc *desc, vd__kernel_code *code) {
    const vd__cu_device *d = vd__cu_device_of(dev);
    vd__cu_kernel *kernel = (vd__cu_kernel *)vd__alloc_zeroed(vd__cu_allocator(dev), sizeof *kernel);
    if (!kernel) return vd__fail_memory(NULL, NULL, 0);
    code->native[0] = (uintptr_t)kernel;
    vd_result r = vd__cu_enter(d);
    if (!r) {
        r = vd__cu_kernel_start(dev, desc, kernel);
        vd__cu_leave(d);
    }
    if (r) vd__cu_kernel_destroy(dev, code);
    return r;
}

static void vd__cu_kernel_destroy(vd__device *dev, vd__kernel_code *code) {
    const vd__cu_device *d = vd__cu_device_of(dev);
    vd__cu_kernel *kernel = vd__cu_kernel_of(code);
    if (kernel->module && !vd__cu_enter(d)) {
        d->api->cuModuleUnload(kernel->module);
        vd__cu_leave(d);
    }
    vd__free(vd__cu_allocator(dev), kernel);
    code->native[0] = 0;
}

VD__SMALL_END

#endif /* VD__HAS_CUDA */

// >>cuda list
/* Plays tapes into a stream. The timeline of a queue is a number in host memory, which its stream updates after each
   submission. */

#if VD__HAS_CUDA
/* ---- playing a tape ---- */

typedef struct vd__cu_playback { const vd__cu_driver *cu; void *stream; } vd__cu_playback;

static vd_result vd__cu_play_launch(void *user, const vd__tape_launch *launch) {
    const vd__cu_playback *to = (const vd__cu_playback *)user;
    const vd__cu_kernel *kernel = (const vd__cu_kernel *)(uintptr_t)launch->kernel;
    size_t size = kernel->parameter_bytes; /* may include the padding of the argument block */
    void *extra[5];
    extra[0] = (void *)(uintptr_t)VD__CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT;
    extra[1] = (void *)(uintptr_t)vd__tape_arguments(launch);
    extra[2] = (void *)(uintptr_t)VD__CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT;
    extra[3] = &size;
    extra[4] = NULL;
    int result = to->cu->cuLaunchKernel(kernel->function, launch->groups[0], launch->groups[1], launch->groups[2],
                                        kernel->local_size[0], kernel->local_size[1], kernel->local_size[2],
                                        kernel->dynamic_bytes, to->stream, NULL, size ? extra : NULL);
    return VD__LIKELY(!result) ? VD_OK : vd__cu_fail(to->cu, result, "cuLaunchKernel");
}

/* Returns whether the ranges are rows of equal size at constant pitches, which cuMemcpy2DAsync copies in one call. */
static bool vd__cu_are_rows(const vd__copy_range *r, uint64_t count) {
    if (count < 2) return false;
    uint64_t to = r[1].to - r[0].to, from = r[1].from - r[0].from; /* descending offsets give values over INT32_MAX */
    if (to < r[0].size || from < r[0].size || to > INT32_MAX || from > INT32_MAX) return false;
    for (uint64_t i = 1; i < count; i++)
        if (r[i].size != r[0].size || r[i].to - r[i - 1].to != to || r[i].from - r[i - 1].from != from) return false;
    return true;
}

static int vd__cu_play_rows(const vd__cu_playback *to, const vd__tape_copy *copy, const vd__copy_range *r) {
    vd__cu_copy_2d rows;
    memset(&rows, 0, sizeof rows);
    rows.to.memory = rows.from.memory = VD__CU_MEMORYTYPE_UNIFIED;
    rows.to.address = copy->to->address + r[0].to;
    rows.from.address = copy->from->address + r[0].from;
    rows.width = (size_t)r[0].size;
    rows.height = (size_t)copy->count;
    rows.to.pitch = (size_t)(r[1].to - r[0].to);
    rows.from.pitch = (size_t)(r[1].from - r[0].from);
    return to->cu->cuMemcpy2DAsync(&rows, to->stream);
}

static vd_result vd__cu_play_copy(void *user, const vd__tape_copy *copy) {
    const vd__cu_playback *to = (const vd__cu_playback *)user;
    const vd__copy_range *r = vd__tape_ranges(copy);
    bool rows = vd__cu_are_rows(r, copy->count);
    int result = rows ? vd__cu_play_rows(to, copy, r) : 0;
    for (uint64_t i = 0; !rows && !result && i < copy->count; i++)
        result = to->cu->cuMemcpyAsync(copy->to->address + r[i].to, copy->from->address + r[i].from,
                                       (size_t)r[i].size, to->stream);
    return result ? vd__cu_fail(to->cu, result, rows ? "cuMemcpy2DAsync" : "cuMemcpyAsync") : VD_OK;
}

static vd_result vd__cu_play_fill(void *user, const vd__tape_fill *fill) {
    const vd__cu_playback *to = (const vd__cu_playback *)user;
    int result = to->cu->cuMemsetD32Async(fill->to->address + fill->offset, (unsigned)fill->word,
                                          (size_t)(fill->size / 4), to->stream);
    return result ? vd__cu_fail(to->cu, result, "cuMemsetD32Async") : VD_OK;
}

static const vd__tape_player vd__cu_player = { vd__cu_play_launch, vd__cu_play_copy, vd__cu_play_fill };

/* ---- the queue ---- */

static void vd__cu_queue_native(vd__device *dev, uint32_t queue, vd_native *out) {
    const vd__cu_device *d = vd__cu_device_of(dev);
    out->context = d->context;
    out->queue = d->queues[queue].stream;
}

/* Enqueues a write of `value` to the timeline. Without can_write_values, only the lower 32 bits are written. */
static vd_result vd__cu_signal(const vd__cu_device *d, vd__cu_queue *q, uint64_t value) {
    vd__atomic_store64(&q->sent, value);
    vd__atomic_store64(&q->submitted, value);
    int result = d->can_write_values ? d->api->cuStreamWriteValue64(q->stream, q->timeline_address, value, 0)
                                  : d->api->cuMemsetD32Async(q->timeline_address, (unsigned)value, 1, q->stream);
    if (!result) return VD_OK;
    return vd__cu_fail(d->api, result, "%s of a timeline",
                       d->can_write_values ? "cuStreamWriteValue64" : "cuMemsetD32Async");
}

/* Returns the current timeline value. Captured submissions count as completed when all earlier submissions to the
   stream are. */
static uint64_t vd__cu_value(const vd__cu_device *d, const vd__cu_queue *q) {
    /* this order of the loads ensures that the result is never too large */
    uint64_t submitted = vd__atomic_load64(&q->submitted), value = vd__atomic_load64(q->timeline);
    uint64_t sent = vd__atomic_load64(&q->sent);
    if (!d->can_write_values) value = sent - (uint32_t)((uint32_t)sent - (uint32_t)value);
    return value >= sent && submitted > value ? submitted : value;
}

/* Returns the CUstreamCaptureStatus of the stream; 0: it is not being captured, or the driver has no such query. */
static int vd__cu_capture_status(const vd__cu_device *d, const vd__cu_queue *q) {
    int status = 0;
    if (!q->borrowed || !d->api->cuStreamIsCapturing || d->api->cuStreamIsCapturing(q->stream, &status)) return 0;
    return status;
}

static bool vd__cu_queue_capturing(vd__device *dev, uint32_t queue) {
    const vd__cu_device *d = vd__cu_device_of(dev);
    if (vd__cu_enter(d)) return false;
    int status = vd__cu_capture_status(d, &d->queues[queue]);
    vd__cu_leave(d);
    return status != 0;
}

/* Makes the stream wait for values of other queues. The work that reaches them has been sent to the other stream, so an
   event recorded there now covers it. If only one of the streams is being captured, the event would add the other to
   the capture, so the wait is refused. */
static vd_result vd__cu_await(vd__cu_device *d, uint32_t queue, const vd__wait *waits, uint32_t wait_count) {
    for (uint32_t i = 0; i < wait_count; i++) {
        vd__cu_queue *other = &d->queues[waits[i].queue];
        if (vd__cu_value(d, other) >= waits[i].value || other->stream == d->queues[queue].stream) continue;
        if (vd__cu_capture_status(d, &d->queues[queue]) || vd__cu_capture_status(d, other))
            return vd__fail(VD_ERROR_UNSUPPORTED, "queue %u would have to wait for unfinished work of queue %u, but a "
                            "stream capture cannot contain this wait; call vd_wait_idle before the capture begins",
                            queue, waits[i].queue);
        int result = d->api->cuEventRecord(other->event, other->stream);
        if (!result) result = d->api->cuStreamWaitEvent(d->queues[queue].stream, other->event, 0);
        if (result) return vd__cu_fail(d->api, result, "waiting for queue %u", waits[i].queue);
    }
    return VD_OK;
}

static vd_result vd__cu_queue_submit(vd__device *dev, uint32_t queue, const vd__submission *s) {
    vd__cu_device *d = vd__cu_device_of(dev);
    vd__cu_queue *q = &d->queues[queue];
    vd_result r = vd__cu_enter(d);
    if (r) return r;
    int status = vd__cu_capture_status(d, q);
    r = vd__cu_await(d, queue, s->waits, s->wait_count);
    if (!r && s->commands && status == VD__CU_STREAM_CAPTURE_STATUS_INVALIDATED)
        r = vd__fail(VD_ERROR_INVALID, "the capture of the stream of queue %u was invalidated; cuStreamEndCapture "
                     "returns the reason", queue);
    vd__cu_playback to = { d->api, q->stream };
    if (!r) r = vd__tape_play(s, &vd__cu_player, &to);
    if (!r && status) vd__atomic_store64(&q->submitted, s->value);
    else if (!r) r = vd__cu_signal(d, q, s->value);
    vd__cu_leave(d);
    if (r == VD_ERROR_DEVICE_LOST) vd__atomic_store32(&d->lost, 1);
    return r;
}

/* Detects a fault of the device, which only queries of the stream report. */
static void vd__cu_queue_check(vd__device *dev, uint32_t queue) {
    vd__cu_device *d = vd__cu_device_of(dev);
    if (vd__cu_enter(d)) {
        vd__atomic_store32(&d->lost, 1);
        return;
    }
    /* a query would invalidate a capture */
    int result = vd__cu_capture_status(d, &d->queues[queue]) ? 0 : d->api->cuStreamQuery(d->queues[queue].stream);
    vd__cu_leave(d);
    if (!result || result == VD__CUDA_ERROR_NOT_READY) return;
    vd__cu_fail(d->api, result, "cuStreamQuery");
    if (!vd__atomic_load32(&d->lost)) vd__logf(dev->driver->host, VD_LOG_ERROR, "%s", vd__error_join());
    vd__atomic_store32(&d->lost, 1);
}

enum {
    VD__CU_POLLS = 4096,       /* reads of the timeline between two queries of the stream */
    VD__CU_YIELD_NS = 2000000
};

static uint64_t vd__cu_queue_value(vd__device *dev, uint32_t queue) {
    vd__cu_device *d = vd__cu_device_of(dev);
    vd__cu_queue *q = &d->queues[queue];
    uint64_t value = vd__cu_value(d, q);
    if (value < vd__atomic_load64(&q->sent)) {
        vd__atomic_add32(&q->polls, 1);
        if (vd__atomic_load32(&q->polls) % VD__CU_POLLS == 0) vd__cu_queue_check(dev, queue);
    }
    return VD__UNLIKELY(vd__atomic_load32(&d->lost)) ? UINT64_MAX : value;
}

/* The driver has no wait with a timeout, so this polls: first it yields between reads, then it sleeps for 1/32 of the
   time it has waited. A sleep takes about 60 us longer than requested, so longer waits can afford longer sleeps. */
static vd_result vd__cu_queue_wait(vd__device *dev, uint32_t queue, uint64_t value, uint64_t timeout_ns) {
    uint64_t start = vd__time_ns(), spent = 0;
    for (;;) {
        uint64_t now = vd__cu_queue_value(dev, queue);
        if (now == UINT64_MAX) return vd__fail(VD_ERROR_DEVICE_LOST, "device '%s' was lost", dev->info.name);
        if (now >= value) return VD_OK;
        if (spent >= timeout_ns) return VD_TIMEOUT;
        if (spent < VD__CU_YIELD_NS) vd__yield();
        else {
            uint64_t nap = spent / 32 < 1000000 ? spent / 32 : 1000000;
            vd__cu_queue_check(dev, queue);
            vd__sleep(nap < timeout_ns - spent ? nap : timeout_ns - spent);
        }
        spent = vd__time_ns() - start;
    }
}
#endif /* VD__HAS_CUDA */

// >>opencl api
/* The functions and constants of OpenCL that this library uses. They are declared here, because libOpenCL is loaded
   at run time and no header is needed. */

#if VD__HAS_OPENCL

VD__SMALL

/* The struct tags are those of CL/cl.h, so that a program may include both. */
typedef struct _cl_platform_id *vd__cl_platform_id;
typedef struct _cl_device_id *vd__cl_device_id;
typedef struct _cl_context *vd__cl_context;
typedef struct _cl_command_queue *vd__cl_command_queue;
typedef struct _cl_mem *vd__cl_mem;
typedef struct _cl_program *vd__cl_program;
typedef struct _cl_kernel *vd__cl_kernel_id;
typedef struct _cl_event *vd__cl_event;
typedef struct vd__cl_region { size_t origin, size; } vd__cl_region;

/* Result, name, parameters. Functions of OpenCL 1.2. */
#define VD__CL_FUNCTIONS(X) \
    X(int32_t, clGetPlatformIDs, (uint32_t, vd__cl_platform_id *, uint32_t *)) \
    X(int32_t, clGetPlatformInfo, (vd__cl_platform_id, uint32_t, size_t, void *, size_t *)) \
    X(int32_t, clGetDeviceIDs, (vd__cl_platform_id, uint64_t, uint32_t, vd__cl_device_id *, uint32_t *)) \
    X(int32_t, clGetDeviceInfo, (vd__cl_device_id, uint32_t, size_t, void *, size_t *)) \
    X(vd__cl_context, clCreateContext, (const intptr_t *, uint32_t, const vd__cl_device_id *, void (*)(const char *, \
        const void *, size_t, void *), void *, int32_t *)) \
    X(int32_t, clReleaseContext, (vd__cl_context)) \
    X(int32_t, clRetainContext, (vd__cl_context)) \
    X(int32_t, clGetContextInfo, (vd__cl_context, uint32_t, size_t, void *, size_t *)) \
    X(vd__cl_command_queue, clCreateCommandQueue, (vd__cl_context, vd__cl_device_id, uint64_t, int32_t *)) \
    X(int32_t, clReleaseCommandQueue, (vd__cl_command_queue)) \
    X(int32_t, clRetainCommandQueue, (vd__cl_command_queue)) \
    X(int32_t, clGetCommandQueueInfo, (vd__cl_command_queue, uint32_t, size_t, void *, size_t *)) \
    X(vd__cl_mem, clCreateBuffer, (vd__cl_context, uint64_t, size_t, void *, int32_t *)) \
    X(vd__cl_mem, clCreateSubBuffer, (vd__cl_mem, uint64_t, uint32_t, const void *, int32_t *)) \
    X(int32_t, clReleaseMemObject, (vd__cl_mem)) \
    X(int32_t, clRetainMemObject, (vd__cl_mem)) \
    X(int32_t, clGetMemObjectInfo, (vd__cl_mem, uint32_t, size_t, void *, size_t *)) \
    X(vd__cl_program, clCreateProgramWithSource, (vd__cl_context, uint32_t, const char **, const size_t *, int32_t *)) \
    X(vd__cl_program, clCreateProgramWithBinary, (vd__cl_context, uint32_t, const vd__cl_device_id *, const size_t *, \
        const unsigned char **, int32_t *, int32_t *)) \
    X(int32_t, clBuildProgram, (vd__cl_program, uint32_t, const vd__cl_device_id *, const char *, \
        void (*)(vd__cl_program, void *), void *)) \
    X(int32_t, clGetProgramInfo, (vd__cl_program, uint32_t, size_t, void *, size_t *)) \
    X(int32_t, clGetProgramBuildInfo, (vd__cl_program, vd__cl_device_id, uint32_t, size_t, void *, size_t *)) \
    X(int32_t, clReleaseProgram, (vd__cl_program)) \
    X(vd__cl_kernel_id, clCreateKernel, (vd__cl_program, const char *, int32_t *)) \
    X(int32_t, clCreateKernelsInProgram, (vd__cl_program, uint32_t, vd__cl_kernel_id *, uint32_t *)) \
    X(int32_t, clReleaseKernel, (vd__cl_kernel_id)) \
    X(int32_t, clGetKernelInfo, (vd__cl_kernel_id, uint32_t, size_t, void *, size_t *)) \
    X(int32_t, clGetKernelWorkGroupInfo, (vd__cl_kernel_id, vd__cl_device_id, uint32_t, size_t, void *, size_t *)) \
    X(int32_t, clSetKernelArg, (vd__cl_kernel_id, uint32_t, size_t, const void *)) \
    X(int32_t, clEnqueueNDRangeKernel, (vd__cl_command_queue, vd__cl_kernel_id, uint32_t, const size_t *, \
        const size_t *, const size_t *, uint32_t, const vd__cl_event *, vd__cl_event *)) \
    X(int32_t, clEnqueueReadBuffer, (vd__cl_command_queue, vd__cl_mem, uint32_t, size_t, size_t, void *, uint32_t, \
        const vd__cl_event *, vd__cl_event *)) \
    X(int32_t, clEnqueueWriteBuffer, (vd__cl_command_queue, vd__cl_mem, uint32_t, size_t, size_t, const void *, \
        uint32_t, const vd__cl_event *, vd__cl_event *)) \
    X(int32_t, clEnqueueCopyBuffer, (vd__cl_command_queue, vd__cl_mem, vd__cl_mem, size_t, size_t, size_t, uint32_t, \
        const vd__cl_event *, vd__cl_event *)) \
    X(int32_t, clEnqueueFillBuffer, (vd__cl_command_queue, vd__cl_mem, const void *, size_t, size_t, size_t, \
        uint32_t, const vd__cl_event *, vd__cl_event *)) \
    X(void *, clEnqueueMapBuffer, (vd__cl_command_queue, vd__cl_mem, uint32_t, uint64_t, size_t, size_t, uint32_t, \
        const vd__cl_event *, vd__cl_event *, int32_t *)) \
    X(int32_t, clEnqueueUnmapMemObject, (vd__cl_command_queue, vd__cl_mem, void *, uint32_t, const vd__cl_event *, \
        vd__cl_event *)) \
    X(int32_t, clEnqueueMigrateMemObjects, (vd__cl_command_queue, uint32_t, const vd__cl_mem *, uint64_t, uint32_t, \
        const vd__cl_event *, vd__cl_event *)) \
    X(int32_t, clEnqueueMarkerWithWaitList, (vd__cl_command_queue, uint32_t, const vd__cl_event *, vd__cl_event *)) \
    X(int32_t, clEnqueueBarrierWithWaitList, (vd__cl_command_queue, uint32_t, const vd__cl_event *, vd__cl_event *)) \
    X(int32_t, clFlush, (vd__cl_command_queue)) \
    X(int32_t, clFinish, (vd__cl_command_queue)) \
    X(int32_t, clWaitForEvents, (uint32_t, const vd__cl_event *)) \
    X(int32_t, clGetEventInfo, (vd__cl_event, uint32_t, size_t, void *, size_t *)) \
    X(int32_t, clRetainEvent, (vd__cl_event)) \
    X(int32_t, clReleaseEvent, (vd__cl_event))

/* Functions of OpenCL 2.0; their pointers are NULL if the library does not have them. */
#define VD__CL_FUNCTIONS_2_0(X) \
    X(void *, clSVMAlloc, (vd__cl_context, uint64_t, size_t, uint32_t)) \
    X(void, clSVMFree, (vd__cl_context, void *)) \
    X(int32_t, clSetKernelArgSVMPointer, (vd__cl_kernel_id, uint32_t, const void *)) \
    X(int32_t, clEnqueueSVMMemcpy, (vd__cl_command_queue, uint32_t, void *, const void *, size_t, uint32_t, \
        const vd__cl_event *, vd__cl_event *)) \
    X(int32_t, clEnqueueSVMMemFill, (vd__cl_command_queue, void *, const void *, size_t, size_t, uint32_t, \
        const vd__cl_event *, vd__cl_event *))

/* Constants of CL/cl.h, there with the prefix CL_. */
#define VD__CL_NUMBERS(X) \
    X(PLATFORM_VERSION, 0x0901) X(PLATFORM_NAME, 0x0902) X(DEVICE_TYPE, 0x1000) X(DEVICE_VENDOR_ID, 0x1001) \
    X(DEVICE_MAX_COMPUTE_UNITS, 0x1002) X(DEVICE_MAX_WORK_GROUP_SIZE, 0x1004) X(DEVICE_MAX_WORK_ITEM_SIZES, 0x1005) \
    X(DEVICE_MAX_MEM_ALLOC_SIZE, 0x1010) \
    X(DEVICE_MAX_PARAMETER_SIZE, 0x1017) X(DEVICE_MEM_BASE_ADDR_ALIGN, 0x1019) X(DEVICE_SINGLE_FP_CONFIG, 0x101B) \
    X(DEVICE_GLOBAL_MEM_SIZE, 0x101F) X(DEVICE_LOCAL_MEM_SIZE, 0x1023) X(DEVICE_AVAILABLE, 0x1027) \
    X(DEVICE_COMPILER_AVAILABLE, 0x1028) X(DEVICE_NAME, 0x102B) X(DRIVER_VERSION, 0x102D) X(DEVICE_PROFILE, 0x102E) \
    X(DEVICE_VERSION, 0x102F) X(DEVICE_EXTENSIONS, 0x1030) X(DEVICE_DOUBLE_FP_CONFIG, 0x1032) \
    X(DEVICE_HOST_UNIFIED_MEMORY, 0x1035) X(DEVICE_SVM_CAPABILITIES, 0x1053) X(DEVICE_MAX_NUM_SUB_GROUPS, 0x105C) \
    X(DEVICE_UUID_KHR, 0x106A) X(DEVICE_TYPE_CPU, 2) X(DEVICE_TYPE_GPU, 4) X(DEVICE_SVM_FINE_GRAIN_BUFFER, 2) \
    X(DEVICE_LOCAL_MEM_TYPE, 0x1022) X(GLOBAL, 2) X(FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, 128) X(FP_FMA, 32) \
    X(CONTEXT_PLATFORM, 0x1084) X(CONTEXT_DEVICES, 0x1081) X(QUEUE_CONTEXT, 0x1090) X(QUEUE_DEVICE, 0x1091) \
    X(QUEUE_PROPERTIES, 0x1093) X(QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 1) X(MEM_OBJECT_BUFFER, 0x10F0) \
    X(MEM_TYPE, 0x1100) X(MEM_SIZE, 0x1102) X(MEM_CONTEXT, 0x1106) X(MEM_ASSOCIATED_MEMOBJECT, 0x1107) \
    X(MEM_OFFSET, 0x1108) X(MEM_USE_HOST_PTR, 8) X(MEM_READ_WRITE, 1) X(MEM_ALLOC_HOST_PTR, 16) \
    X(MEM_SVM_FINE_GRAIN_BUFFER, 1024) X(MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 2) X(MAP_READ, 1) X(MAP_WRITE, 2) \
    X(BUFFER_CREATE_TYPE_REGION, 0x1220) X(PROGRAM_BINARY_SIZES, 0x1165) X(PROGRAM_BINARIES, 0x1166) \
    X(PROGRAM_BUILD_LOG, 0x1183) X(KERNEL_NUM_ARGS, 0x1191) X(KERNEL_WORK_GROUP_SIZE, 0x11B0) \
    X(KERNEL_COMPILE_WORK_GROUP_SIZE, 0x11B1) X(KERNEL_LOCAL_MEM_SIZE, 0x11B2) \
    X(EVENT_COMMAND_EXECUTION_STATUS, 0x11D3) X(COMPLETE, 0)

/* OpenCL error codes, there with the prefix CL_, and the vd_result that each one becomes. */
#define VD__CL_ERRORS(X) \
    X(DEVICE_NOT_FOUND, -1, VD_ERROR_NO_DEVICE) \
    X(DEVICE_NOT_AVAILABLE, -2, VD_ERROR_DEVICE_LOST) \
    X(COMPILER_NOT_AVAILABLE, -3, VD_ERROR_UNSUPPORTED) \
    X(MEM_OBJECT_ALLOCATION_FAILURE, -4, VD_ERROR_OUT_OF_DEVICE_MEMORY) \
    X(OUT_OF_RESOURCES, -5, VD_ERROR_OUT_OF_DEVICE_MEMORY) \
    X(OUT_OF_HOST_MEMORY, -6, VD_ERROR_OUT_OF_MEMORY) \
    X(BUILD_PROGRAM_FAILURE, -11, VD_ERROR_COMPILE) \
    X(MAP_FAILURE, -12, VD_ERROR_OUT_OF_MEMORY) \
    X(MISALIGNED_SUB_BUFFER_OFFSET, -13, VD_ERROR_BACKEND) \
    X(EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, -14, VD_ERROR_DEVICE_LOST) \
    X(INVALID_VALUE, -30, VD_ERROR_BACKEND) \
    X(INVALID_DEVICE, -33, VD_ERROR_BACKEND) \
    X(INVALID_CONTEXT, -34, VD_ERROR_BACKEND) \
    X(INVALID_COMMAND_QUEUE, -36, VD_ERROR_BACKEND) \
    X(INVALID_MEM_OBJECT, -38, VD_ERROR_BACKEND) \
    X(INVALID_BINARY, -42, VD_ERROR_COMPILE) \
    X(INVALID_BUILD_OPTIONS, -43, VD_ERROR_COMPILE) \
    X(INVALID_PROGRAM, -44, VD_ERROR_COMPILE) \
    X(INVALID_PROGRAM_EXECUTABLE, -45, VD_ERROR_COMPILE) \
    X(INVALID_KERNEL_NAME, -46, VD_ERROR_COMPILE) \
    X(INVALID_KERNEL_DEFINITION, -47, VD_ERROR_COMPILE) \
    X(INVALID_ARG_INDEX, -49, VD_ERROR_BACKEND) \
    X(INVALID_ARG_VALUE, -50, VD_ERROR_BACKEND) \
    X(INVALID_ARG_SIZE, -51, VD_ERROR_BACKEND) \
    X(INVALID_KERNEL_ARGS, -52, VD_ERROR_BACKEND) \
    X(INVALID_WORK_GROUP_SIZE, -54, VD_ERROR_UNSUPPORTED) \
    X(INVALID_EVENT, -58, VD_ERROR_BACKEND) \
    X(INVALID_OPERATION, -59, VD_ERROR_BACKEND) \
    X(INVALID_BUFFER_SIZE, -61, VD_ERROR_OUT_OF_DEVICE_MEMORY)

#define VD__CL_NUMBER(name, value) VD__CL_##name = value,
#define VD__CL_ERROR(name, value, result) VD__CL_##name = value,
enum { VD__CL_NUMBERS(VD__CL_NUMBER) VD__CL_ERRORS(VD__CL_ERROR) VD__CL_SUCCESS = 0 };
#undef VD__CL_NUMBER
#undef VD__CL_ERROR

#define VD__CL_MEMBER(result, name, args) result (*name) args;

typedef struct vd__cl_device_entry { vd__cl_platform_id platform; vd__cl_device_id device; } vd__cl_device_entry;

typedef struct vd__cl_driver {
    VD__CL_FUNCTIONS(VD__CL_MEMBER)
    VD__CL_FUNCTIONS_2_0(VD__CL_MEMBER)
    vd__cl_device_entry *devices; /* the devices of all platforms */
    uint32_t device_count;
} vd__cl_driver;

enum { VD__CL_SUBMISSIONS = 32 }; /* initial capacity of vd__cl_queue.submissions */

/* A submission, represented by the event of its last command. */
typedef struct vd__cl_submission { vd__cl_event event; uint64_t value; } vd__cl_submission;

typedef struct vd__cl_queue {
    vd__cl_command_queue handle;
    vd__mutex lock;            /* protects all following members */
    vd__cl_submission *submissions; /* ring of the submissions that are not known to be complete */
    uint32_t first, count, capacity; /* of `submissions`; the capacity is a power of two */
    uint64_t reached;          /* timeline value */
} vd__cl_queue;

typedef struct vd__cl_device {
    const vd__cl_driver *cl;
    vd__cl_device_id id;
    vd__cl_context context;
    vd__cl_queue queues[VD_MAX_QUEUES];
    vd__cl_command_queue map_queue; /* for mapping and migrating memory, so that this does not wait for other work */
    bool svm;                  /* memory is fine-grained shared virtual memory, used by address; else buffer objects */
    uint32_t align;            /* of sub-buffers, in bytes */
    uint32_t lost;
    char options[96];          /* of the compiler */
} vd__cl_device;

static vd__cl_driver *vd__cl_driver_of(const vd__driver *driver) { return (vd__cl_driver *)driver->native; }
static vd__cl_device *vd__cl_device_of(const vd__device *dev) { return (vd__cl_device *)dev->native; }
static const vd_allocator *vd__cl_allocator(const vd__device *dev) { return &dev->driver->host->allocator; }
static vd__cl_mem vd__cl_unpack(uint64_t bits) { return (vd__cl_mem)(uintptr_t)bits; }

/* Sets the error text to "<call> failed: CL_…" and returns the error code. */
static VD__COLD VD__PRINTF(2, 3) vd_result vd__cl_fail(int32_t error, const char *format, ...) {
    static const struct { int32_t error; vd_result result; const char *name; } rows[] = {
#define VD__CL_ROW(name, value, result) { value, result, "CL_" #name },
        VD__CL_ERRORS(VD__CL_ROW)
#undef VD__CL_ROW
    };
    size_t i = 0;
    va_list args;
    while (i < VD__COUNT(rows) && rows[i].error != error) i++;
    bool known = i < VD__COUNT(rows);
    va_start(args, format);
    vd_result code = vd__fail_driver(known ? rows[i].result : VD_ERROR_BACKEND, known ? rows[i].name : NULL, (int)error,
                                     format, args);
    va_end(args);
    return code;
}

/* Fills the function table. Returns the name of the first missing function of OpenCL 1.2, or NULL. */
static const char *vd__cl_load(vd__cl_driver *cl, void *library) {
    const char *missing = NULL;
    void *found;
#define VD__CL_LOAD(result, name, args) \
    found = vd__library_find(library, #name); \
    memcpy(&cl->name, &found, sizeof found); \
    if (!found && !missing) missing = #name;
    VD__CL_FUNCTIONS_2_0(VD__CL_LOAD)
    missing = NULL;
    VD__CL_FUNCTIONS(VD__CL_LOAD)
#undef VD__CL_LOAD
    return missing;
}
#endif /* VD__HAS_OPENCL */

// >>opencl device
/* Platforms, device information, contexts and queues. */

#if VD__HAS_OPENCL
/* ---- the driver ---- */

/* Appends the devices of a platform to the driver's. Returns false if out of host memory. */
static bool vd__cl_devices_add(vd__driver *driver, vd__cl_platform_id platform) {
    vd__cl_driver *cl = vd__cl_driver_of(driver);
    vd__cl_device_id ids[32];
    uint32_t count = 0;
    if (cl->clGetDeviceIDs(platform, UINT32_MAX, VD__COUNT(ids), ids, &count)) return true;
    if (count > VD__COUNT(ids)) count = VD__COUNT(ids);
    void *entries = vd__realloc(&driver->host->allocator, cl->devices,
                                (cl->device_count + count + 1) * sizeof *cl->devices);
    if (!entries) return false;
    cl->devices = (vd__cl_device_entry *)entries;
    for (uint32_t i = 0; i < count; i++) {
        cl->devices[cl->device_count].platform = platform;
        cl->devices[cl->device_count++].device = ids[i];
    }
    return true;
}

enum { VD__CL_PLATFORMS = 16 };

/* Loads libOpenCL and fills the function table. The first queries for platforms and devices initialise the drivers.
   Some drivers do that without a lock of their own, so all of this happens under vd__open_lock. */
static vd_result vd__cl_library_start(vd__cl_driver *cl, vd__cl_platform_id *platforms, uint32_t *count) {
    const char *missing = NULL;
    *count = 0;
    vd__mutex_lock(&vd__open_lock);
    void *library = vd__library_open_first(vd__libraries.opencl); /* never unloaded: drivers do not support that */
    if (library) missing = vd__cl_load(cl, library);
    if (library && !missing && cl->clGetPlatformIDs(VD__CL_PLATFORMS, platforms, count)) *count = 0;
    if (*count > VD__CL_PLATFORMS) *count = VD__CL_PLATFORMS;
    for (uint32_t i = 0; i < *count; i++) {
        uint32_t devices = 0;
        cl->clGetDeviceIDs(platforms[i], UINT32_MAX, 0, NULL, &devices);
    }
    vd__mutex_unlock(&vd__open_lock);
    if (!library)
        return vd__fail(VD_ERROR_NO_DEVICE, "%s could not be opened; is an OpenCL loader installed?",
                        vd__libraries.opencl[0]);
    return missing ? vd__fail(VD_ERROR_NO_DEVICE, "%s has no function %s", vd__libraries.opencl[0], missing) : VD_OK;
}

static vd_result vd__cl_driver_start(vd__driver *driver) {
    vd__cl_driver *cl = vd__cl_driver_of(driver);
    vd__cl_platform_id platforms[VD__CL_PLATFORMS];
    uint32_t count;
    vd_result r = vd__cl_library_start(cl, platforms, &count);
    if (r) return r;
    for (uint32_t i = 0; i < count; i++)
        if (!vd__cl_devices_add(driver, platforms[i])) return vd__fail_memory(NULL, NULL, 0);
    if (!cl->device_count)
        return vd__fail(VD_ERROR_NO_DEVICE, "%s found no %s", vd__libraries.opencl[0], count ? "device" : "platform");
    return VD_OK;
}

static vd_result vd__cl_driver_open(vd__driver *driver) {
    driver->native = vd__alloc_zeroed(&driver->host->allocator, sizeof(vd__cl_driver));
    if (!driver->native) return vd__fail_memory(NULL, NULL, 0);
    vd_result result = vd__cl_driver_start(driver);
    if (result) vd__cl_driver_close(driver);
    return result;
}

static void vd__cl_driver_close(vd__driver *driver) {
    vd__free(&driver->host->allocator, vd__cl_driver_of(driver)->devices);
    vd__free(&driver->host->allocator, driver->native);
    driver->native = NULL;
}

/* ---- device information ---- */

/* Returns a property of a device that is a number of at most 8 bytes, or 0 if the query fails. */
static uint64_t vd__cl_number(const vd__cl_driver *cl, vd__cl_device_id device, uint32_t query) {
    union { uint64_t wide; uint32_t narrow; } value;
    size_t size = 0;
    value.wide = 0;
    if (cl->clGetDeviceInfo(device, query, sizeof value, &value, &size)) return 0;
    return size == sizeof value.narrow ? value.narrow : value.wide;
}

/* Writes a property of a device that is a text to `out`, without leading blanks and truncated to `capacity`. Writes
   "" if the query fails. */
static void vd__cl_text(const vd__cl_driver *cl, vd__cl_device_id device, uint32_t query, char *out, size_t capacity) {
    char text[1024];
    size_t size = 0;
    const char *from = text;
    out[0] = 0;
    if (cl->clGetDeviceInfo(device, query, 0, NULL, &size) || size > sizeof text
        || cl->clGetDeviceInfo(device, query, sizeof text, text, NULL))
        return;
    text[size ? size - 1 : 0] = 0;
    while (*from == ' ') from++;
    snprintf(out, capacity, "%s", from);
}

/* The names of the extensions, each between two blanks. */
typedef struct vd__cl_extensions { char text[8192]; } vd__cl_extensions;

static void vd__cl_extensions_get(const vd__cl_driver *cl, vd__cl_device_id device, vd__cl_extensions *out) {
    size_t size = 0;
    memset(out, 0, sizeof *out);
    if (cl->clGetDeviceInfo(device, VD__CL_DEVICE_EXTENSIONS, 0, NULL, &size) || size > sizeof out->text - 3) size = 0;
    if (size && cl->clGetDeviceInfo(device, VD__CL_DEVICE_EXTENSIONS, size, out->text + 1, NULL)) size = 0;
    out->text[0] = ' ';
    size_t length = size ? strlen(out->text) : 1;
    out->text[length] = ' ';
    out->text[length + 1] = 0;
}

static bool vd__cl_has(const vd__cl_extensions *extensions, const char *name) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, " %s ", name);
    return strstr(extensions->text, wanted) != NULL;
}

static void vd__cl_info_names(const vd__cl_driver *cl, const vd__cl_device_entry *entry,
                              const vd__cl_extensions *extensions, vd_device_info *info) {
    char version[128], platform[128] = "";
    vd__cl_text(cl, entry->device, VD__CL_DEVICE_NAME, info->name, sizeof info->name);
    vd__cl_text(cl, entry->device, VD__CL_DEVICE_VERSION, version, sizeof version);
    cl->clGetPlatformInfo(entry->platform, VD__CL_PLATFORM_NAME, sizeof platform - 1, platform, NULL);
    snprintf(info->driver, sizeof info->driver, "%s ", platform);
    vd__cl_text(cl, entry->device, VD__CL_DRIVER_VERSION, info->driver + strlen(info->driver),
                sizeof info->driver - strlen(info->driver));
    char *number = version + strcspn(version, "0123456789"); /* "OpenCL <major>.<minor> <text of the vendor>" */
    info->api_version[0] = (uint32_t)strtoul(number, &number, 10);
    if (*number == '.') info->api_version[1] = (uint32_t)strtoul(number + 1, NULL, 10);
    info->backend = VD_BACKEND_OPENCL;
    info->vendor_id = (uint32_t)vd__cl_number(cl, entry->device, VD__CL_DEVICE_VENDOR_ID);
    uint64_t type = vd__cl_number(cl, entry->device, VD__CL_DEVICE_TYPE);
    info->shared_memory = vd__cl_number(cl, entry->device, VD__CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
    if (type & VD__CL_DEVICE_TYPE_CPU) info->type = VD_DEVICE_CPU;
    else if (type & VD__CL_DEVICE_TYPE_GPU)
        info->type = info->shared_memory ? VD_DEVICE_INTEGRATED : VD_DEVICE_DISCRETE;
    if (vd__cl_has(extensions, "cl_khr_device_uuid"))
        cl->clGetDeviceInfo(entry->device, VD__CL_DEVICE_UUID_KHR, sizeof info->uuid, info->uuid, NULL);
}

/* Returns whether the device has arithmetic, ballot and shuffle operations on subgroups. */
static bool vd__cl_has_subgroups(const vd__cl_driver *cl, vd__cl_device_id device,
                                 const vd__cl_extensions *extensions) {
    static const char *const needed[] = { "cl_khr_subgroups", "cl_khr_subgroup_ballot",
                                          "cl_khr_subgroup_non_uniform_arithmetic", "cl_khr_subgroup_shuffle" };
    for (size_t i = 0; i < VD__COUNT(needed); i++)
        if (!vd__cl_has(extensions, needed[i])) return false;
    return vd__cl_number(cl, device, VD__CL_DEVICE_MAX_NUM_SUB_GROUPS) != 0;
}

/* Returns whether to use fine-grained shared virtual memory. It is used if host and device share their memory
   anyway: it needs no copies and no buffer objects, and views may begin at any offset. */
static bool vd__cl_uses_svm(const vd__cl_driver *cl, vd__cl_device_id id, const vd_device_info *info) {
    if (!info->shared_memory || info->api_version[0] < 2 || !cl->clSVMAlloc || !cl->clSVMFree
        || !cl->clSetKernelArgSVMPointer)
        return false;
    if (!cl->clEnqueueSVMMemcpy || !cl->clEnqueueSVMMemFill) return false;
    return (vd__cl_number(cl, id, VD__CL_DEVICE_SVM_CAPABILITIES) & VD__CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0;
}

static void vd__cl_info_features(const vd__cl_driver *cl, vd__cl_device_id device, const vd__cl_extensions *extensions,
                                 uint64_t disable, vd_device_info *info) {
    char profile[64];
    uint64_t features = VD_FEATURE_F16 | VD_FEATURE_I8 | VD_FEATURE_I16 | VD_FEATURE_STORAGE_8 | VD_FEATURE_STORAGE_16
                        | VD_FEATURE_TIMESTAMP | VD_FEATURE_UNPACK_HALF | VD_FEATURE_CACHED | VD_FEATURE_COHERENT
                        | VD_FEATURE_QUEUES | VD_FEATURE_SHARING;
    vd__cl_text(cl, device, VD__CL_DEVICE_PROFILE, profile, sizeof profile);
    if (!strcmp(profile, "FULL_PROFILE") || vd__cl_has(extensions, "cles_khr_int64")) features |= VD_FEATURE_I64;
    if (vd__cl_number(cl, device, VD__CL_DEVICE_DOUBLE_FP_CONFIG)) features |= VD_FEATURE_F64 | VD_FEATURE_F64_ROUND;
    if (vd__cl_number(cl, device, VD__CL_DEVICE_SINGLE_FP_CONFIG) & VD__CL_FP_FMA) features |= VD_FEATURE_FMA;
    if (vd__cl_has(extensions, "cl_khr_int64_base_atomics") && vd__cl_has(extensions, "cl_khr_int64_extended_atomics"))
        features |= VD_FEATURE_ATOMIC_I64;
    if (vd__cl_has_subgroups(cl, device, extensions)) features |= VD_FEATURE_SUBGROUP;
    if (!(disable & VD_FEATURE_ADDRESS) && vd__cl_uses_svm(cl, device, info)) features |= VD_FEATURE_MAPPED;
    info->features = vd__features_without(features, disable);
    info->timestamp_ns = info->features & VD_FEATURE_TIMESTAMP ? 1 : 0; /* profiling counts nanoseconds */
}

/* Limits of the number of work-groups of a launch. OpenCL limits only the total number of work-items. NVIDIA's
   driver has the limits of the hardware grid, too. */
static void vd__cl_info_groups(vd_device_info *info) {
    bool nvidia = info->vendor_id == 0x10DE;
    for (int i = 0; i < 3; i++) info->limits.max_groups[i] = !nvidia ? UINT32_MAX : i ? 65535 : INT32_MAX;
}

static void vd__cl_info_limits(const vd__cl_driver *cl, vd__cl_device_id device, vd_device_info *info) {
    vd_limits *to = &info->limits;
    size_t sizes[8] = { 1, 1, 1 };
    uint64_t parameter_bytes = vd__cl_number(cl, device, VD__CL_DEVICE_MAX_PARAMETER_SIZE);
    cl->clGetDeviceInfo(device, VD__CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL);
    vd__cl_info_groups(info);
    for (int i = 0; i < 3; i++) to->max_local_size[i] = (uint32_t)sizes[i];
    to->max_local_invocations = (uint32_t)vd__cl_number(cl, device, VD__CL_DEVICE_MAX_WORK_GROUP_SIZE);
    to->max_shared_bytes = (uint32_t)vd__cl_number(cl, device, VD__CL_DEVICE_LOCAL_MEM_SIZE);
    /* If local memory is ordinary memory, each work-group runs on a CPU thread (PoCL), which keeps private memory on
       its stack. A quarter of the stack is left for what the compiler adds. */
    if (vd__cl_number(cl, device, VD__CL_DEVICE_LOCAL_MEM_TYPE) == VD__CL_GLOBAL)
        to->max_private_bytes = vd__thread_stack_bytes() / 4 * 3;
    to->max_push_bytes = parameter_bytes < VD_MAX_ARGUMENT_BYTES ? (uint32_t)parameter_bytes : VD_MAX_ARGUMENT_BYTES;
    to->max_bindings = parameter_bytes / sizeof(void *) < VD_MAX_ARGS ? (uint32_t)(parameter_bytes / sizeof(void *))
                                                                      : VD_MAX_ARGS;
    to->binding_alignment = (uint32_t)vd__cl_number(cl, device, VD__CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
    if (!to->binding_alignment) to->binding_alignment = 1;
    to->subgroup_size = to->min_subgroup_size = to->max_subgroup_size = 1;
    to->max_binding_bytes = to->max_buffer_bytes = vd__cl_number(cl, device, VD__CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info->device_memory = vd__cl_number(cl, device, VD__CL_DEVICE_GLOBAL_MEM_SIZE);
}

static void vd__cl_info_get(const vd__cl_driver *cl, int index, uint64_t disable, vd_device_info *info) {
    const vd__cl_device_entry *entry = &cl->devices[index];
    vd__cl_extensions extensions;
    vd__cl_extensions_get(cl, entry->device, &extensions);
    memset(info, 0, sizeof *info);
    info->index = index;
    vd__cl_info_names(cl, entry, &extensions, info);
    vd__cl_info_features(cl, entry->device, &extensions, disable, info);
    vd__cl_info_limits(cl, entry->device, info);
    vd__facts_init(info, VD_CODE_OPENCL, (uint32_t)vd__cl_number(cl, entry->device, VD__CL_DEVICE_MAX_COMPUTE_UNITS));
}

static int vd__cl_driver_devices(vd__driver *driver, vd_device_info *out, int capacity) {
    const vd__cl_driver *cl = vd__cl_driver_of(driver);
    for (int i = 0; i < (int)cl->device_count && i < capacity; i++) vd__cl_info_get(cl, i, 0, &out[i]);
    return (int)cl->device_count;
}

/* ---- opening ---- */

static vd_result vd__cl_device_usable(const vd__cl_driver *cl, vd__cl_device_id id, const vd_device_info *info) {
    const char *problem = !vd__cl_number(cl, id, VD__CL_DEVICE_AVAILABLE) ? "is not available"
        : !vd__cl_number(cl, id, VD__CL_DEVICE_COMPILER_AVAILABLE) ? "has no compiler" : NULL;
    if (problem) return vd__fail(VD_ERROR_NO_DEVICE, "device %d '%s' %s", info->index, info->name, problem);
    if (info->api_version[0] > 1 || info->api_version[1] >= 2) return VD_OK;
    return vd__fail(VD_ERROR_NO_DEVICE, "device %d '%s' supports OpenCL %u.%u, but 1.2 is required", info->index,
                    info->name, info->api_version[0], info->api_version[1]);
}

/* Callback of clCreateContext: logs messages of the driver. */
static void vd__cl_notify(const char *text, const void *more, size_t size, void *user) {
    (void)more, (void)size;
    vd__logf((const vd__host *)user, VD_LOG_WARNING, "OpenCL: %s", text);
}

/* Sets the compiler options: the newest language version that is supported, up to 3.0. No option makes operations
   less precise. */
static void vd__cl_options(vd__cl_device *vcl, const vd_device_info *info) {
    bool exact_divide = vd__cl_number(vcl->cl, vcl->id, VD__CL_DEVICE_SINGLE_FP_CONFIG)
                        & VD__CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    const char *language = info->api_version[0] >= 3 ? "CL3.0"
        : info->features & VD_FEATURE_SUBGROUP ? "CL2.0" : "CL1.2";
    snprintf(vcl->options, sizeof vcl->options, "-cl-std=%s%s", language,
             exact_divide ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
}

static bool vd__cl_context_has(const vd__cl_driver *cl, vd__cl_context context, vd__cl_device_id device) {
    vd__cl_device_id list[64];
    size_t size = 0;
    if (cl->clGetContextInfo(context, VD__CL_CONTEXT_DEVICES, sizeof list, list, &size)) return false;
    for (size_t i = 0; i < size / sizeof *list; i++)
        if (list[i] == device) return true;
    return false;
}

/* Checks that the caller's queue belongs to the context and the device, and executes commands in order. */
static vd_result vd__cl_queue_check(const vd__cl_driver *cl, vd__cl_command_queue queue, vd__cl_context context,
                                    vd__cl_device_id device) {
    vd__cl_context of_context = NULL;
    vd__cl_device_id of_device = NULL;
    uint64_t properties = 0;
    int32_t error = cl->clGetCommandQueueInfo(queue, VD__CL_QUEUE_CONTEXT, sizeof of_context, &of_context, NULL);
    if (!error) error = cl->clGetCommandQueueInfo(queue, VD__CL_QUEUE_DEVICE, sizeof of_device, &of_device, NULL);
    if (!error) error = cl->clGetCommandQueueInfo(queue, VD__CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (error) return vd__cl_fail(error, "clGetCommandQueueInfo of desc.cl_queue");
    if (of_context == context && of_device == device && !(properties & VD__CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
        return VD_OK;
    return vd__fail(VD_ERROR_INVALID, "desc.cl_queue %s",
                    of_context != context ? "belongs to another context than desc.cl_context"
                    : of_device != device ? "belongs to another device than desc.cl_device"
                                          : "executes commands out of order");
}

/* Creates a context, or adds a reference to the caller's. With the caller's context, *queue is set to the caller's
   queue or to NULL. */
static vd_result vd__cl_context_get(vd__device *dev, const vd__cl_device_entry *entry, vd__cl_command_queue *queue) {
    const vd__host *host = dev->driver->host;
    vd__cl_device *vcl = vd__cl_device_of(dev);
    intptr_t properties[3] = { VD__CL_CONTEXT_PLATFORM, 0, 0 };
    int32_t error = 0;
    if (host->cl_context) {
        vd__cl_context context = (vd__cl_context)host->cl_context;
        if (!vd__cl_context_has(vcl->cl, context, entry->device))
            return vd__fail(VD_ERROR_INVALID, "desc.cl_context does not contain desc.cl_device '%s'", dev->info.name);
        *queue = (vd__cl_command_queue)host->cl_queue;
        vd_result r = *queue ? vd__cl_queue_check(vcl->cl, *queue, context, entry->device) : VD_OK;
        if (r) return r;
        error = vcl->cl->clRetainContext(context);
        if (error) return vd__cl_fail(error, "clRetainContext of desc.cl_context");
        vcl->context = context;
        return VD_OK;
    }
    properties[1] = (intptr_t)entry->platform;
    vcl->context = vcl->cl->clCreateContext(properties, 1, &entry->device, host->debug ? vd__cl_notify : NULL,
        host->debug ? (void *)(uintptr_t)host : NULL, &error);
    if (error) vcl->context = NULL; /* outputs of failed calls are undefined */
    return error ? vd__cl_fail(error, "clCreateContext on '%s'", dev->info.name) : VD_OK;
}

static vd_result vd__cl_device_start(vd__device *dev, const vd__cl_device_entry *entry) {
    vd__cl_device *vcl = vd__cl_device_of(dev);
    vd__cl_command_queue existing = NULL;
    int32_t error = 0;
    vd_result r = vd__cl_context_get(dev, entry, &existing);
    if (r) return r;
    for (uint32_t i = 0; i < dev->queue_count && !error; i++) {
        vd__cl_queue *q = &vcl->queues[i];
        /* without VD_FEATURE_QUEUES all queues share a command queue */
        if (i && !(dev->info.features & VD_FEATURE_QUEUES)) existing = vcl->queues[0].handle;
        else if (i) existing = NULL;
        q->handle = existing ? existing : vcl->cl->clCreateCommandQueue(vcl->context, entry->device, 0, &error);
        if (existing) error = vcl->cl->clRetainCommandQueue(existing);
        if (error) q->handle = NULL;
        q->submissions = (vd__cl_submission *)vd__alloc(vd__cl_allocator(dev),
                                                        VD__CL_SUBMISSIONS * sizeof *q->submissions);
        if (!q->submissions) return vd__fail_memory(NULL, NULL, 0);
        q->capacity = VD__CL_SUBMISSIONS;
    }
    if (!error) vcl->map_queue = vcl->cl->clCreateCommandQueue(vcl->context, entry->device, 0, &error);
    if (error) vcl->map_queue = NULL;
    return error ? vd__cl_fail(error, "clCreateCommandQueue on '%s'", dev->info.name) : VD_OK;
}

static vd_result vd__cl_device_open(vd__driver *driver, int index, uint64_t disable, vd__device *dev) {
    const vd__cl_driver *cl = vd__cl_driver_of(driver);
    if (index < 0 || index >= (int)cl->device_count)
        return vd__fail(VD_ERROR_NO_DEVICE, "the device index is %d, but there are %u devices", index,
                        cl->device_count);
    if (driver->host->cl_device)
        for (index = 0; index < (int)cl->device_count && cl->devices[index].device != driver->host->cl_device;) index++;
    if (index == (int)cl->device_count)
        return vd__fail(VD_ERROR_NO_DEVICE, "desc.cl_device is not one of the %u devices of %s", cl->device_count,
                        vd__libraries.opencl[0]);
    const vd__cl_device_entry *entry = &cl->devices[index];
    vd__cl_info_get(cl, index, disable, &dev->info);
    vd_result result = vd__cl_device_usable(cl, entry->device, &dev->info);
    if (result) return result;
    vd__cl_device *vcl = (vd__cl_device *)vd__alloc_zeroed(&driver->host->allocator, sizeof *vcl);
    if (!vcl) return vd__fail_memory(NULL, NULL, 0);
    dev->driver = driver;
    dev->native = vcl;
    vcl->cl = cl;
    vcl->id = entry->device;
    vcl->align = dev->info.limits.binding_alignment;
    vcl->svm = !(disable & VD_FEATURE_ADDRESS) && vd__cl_uses_svm(cl, vcl->id, &dev->info);
    dev->sharing_mask = 1u << VD__SHARE_OBJECT | 1u << VD__SHARE_EXPORT;
    if (dev->info.shared_memory) dev->sharing_mask |= 1u << VD__SHARE_HOST;
    /* other devices copy faster to memory that the driver has allocated */
    dev->copies_to_host = dev->info.type == VD_DEVICE_CPU;
    vd__cl_options(vcl, &dev->info);
    for (int i = 0; i < VD_MAX_QUEUES; i++) vd__mutex_init(&vcl->queues[i].lock);
    result = vd__cl_device_start(dev, entry);
    if (result) vd__cl_device_close(dev);
    return result;
}

static void vd__cl_device_idle(vd__device *dev) {
    const vd__cl_device *vcl = vd__cl_device_of(dev);
    for (uint32_t i = 0; i < dev->queue_count; i++) vcl->cl->clFinish(vcl->queues[i].handle);
}

static void vd__cl_device_close(vd__device *dev) {
    vd__cl_device *vcl = vd__cl_device_of(dev);
    for (uint32_t i = 0; i < VD_MAX_QUEUES; i++) {
        vd__cl_queue *queue = &vcl->queues[i];
        if (queue->handle) vcl->cl->clFinish(queue->handle);
        for (uint32_t m = 0; m < queue->count; m++)
            vcl->cl->clReleaseEvent(queue->submissions[(queue->first + m) & (queue->capacity - 1)].event);
        if (queue->handle) vcl->cl->clReleaseCommandQueue(queue->handle);
        vd__mutex_destroy(&queue->lock);
        vd__free(vd__cl_allocator(dev), queue->submissions);
    }
    if (vcl->map_queue) vcl->cl->clFinish(vcl->map_queue);
    if (vcl->map_queue) vcl->cl->clReleaseCommandQueue(vcl->map_queue);
    if (vcl->context) vcl->cl->clReleaseContext(vcl->context);
    vd__free(vd__cl_allocator(dev), vcl);
    dev->native = NULL;
}
#endif /* VD__HAS_OPENCL */

// >>opencl memory
/* Memory blocks and buffers.

   The device must not use a buffer object while the host maps it. Therefore staging blocks are always mapped, and
   copies use them by their host address only. Device blocks are plain buffer objects; the buffers in them are
   sub-buffers. With shared virtual memory there is a single memory type, which host and device use by address. */

#if VD__HAS_OPENCL
enum { VD__CL_DEVICE_BLOCK, VD__CL_STAGING_BLOCK, VD__CL_SHARED_BLOCK }; /* memory types */

/* ---- blocks ---- */

/* Makes the driver allocate the memory of a buffer now. It would otherwise do so at the first use, when a lack of
   memory cannot be reported any more. */
static int32_t vd__cl_block_commit(const vd__cl_device *vcl, vd__cl_mem buffer) {
    vd__cl_event event = NULL;
    int32_t error = vcl->cl->clEnqueueMigrateMemObjects(vcl->map_queue, 1, &buffer,
                                                        VD__CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, NULL, &event);
    if (error) return error;
    error = vcl->cl->clWaitForEvents(1, &event);
    vcl->cl->clReleaseEvent(event);
    return error == VD__CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST ? VD__CL_MEM_OBJECT_ALLOCATION_FAILURE : error;
}

static vd_result vd__cl_block_create(vd__device *dev, vd__block *block) {
    const vd__cl_device *vcl = vd__cl_device_of(dev);
    int32_t error = 0;
    bool staging = block->type == VD__CL_STAGING_BLOCK;
    block->mapped = NULL;
    block->host_cached = block->coherent = true;
    if (block->type == VD__CL_SHARED_BLOCK) {
        block->mapped = (uint8_t *)vcl->cl->clSVMAlloc(
            vcl->context, VD__CL_MEM_READ_WRITE | VD__CL_MEM_SVM_FINE_GRAIN_BUFFER, (size_t)block->size, 0);
        if (block->mapped) return VD_OK;
        return vd__error_add_out_of_memory(vd__fail(VD_ERROR_OUT_OF_DEVICE_MEMORY, "clSVMAlloc of %llu bytes failed",
                                           VD__U(block->size)));
    }
    vd__cl_mem buffer = vcl->cl->clCreateBuffer(
        vcl->context, staging ? VD__CL_MEM_READ_WRITE | VD__CL_MEM_ALLOC_HOST_PTR : VD__CL_MEM_READ_WRITE,
        (size_t)block->size, NULL, &error);
    if (error) return vd__cl_fail(error, "clCreateBuffer of %llu bytes", VD__U(block->size));
    if (!staging) error = vd__cl_block_commit(vcl, buffer);
    else {
        block->mapped = (uint8_t *)vcl->cl->clEnqueueMapBuffer(vcl->map_queue, buffer, 1,
                                                               VD__CL_MAP_READ | VD__CL_MAP_WRITE, 0,
                                                               (size_t)block->size, 0, NULL, NULL, &error);
    }
    block->native[0] = (uintptr_t)buffer;
    if (!error) return VD_OK;
    vcl->cl->clReleaseMemObject(buffer);
    block->mapped = NULL;
    return vd__cl_fail(error, "%s of %llu bytes", staging ? "clEnqueueMapBuffer" : "clEnqueueMigrateMemObjects",
                       VD__U(block->size));
}

/* Queries a property of a buffer object that is a number or a pointer. */
static int32_t vd__cl_memory_info(const vd__cl_driver *cl, vd__cl_mem object, uint32_t query, uint64_t *out) {
    union { uint64_t wide; size_t size; uint32_t narrow; void *pointer; } value;
    size_t size = 0;
    value.wide = 0;
    int32_t error = cl->clGetMemObjectInfo(object, query, sizeof value, &value, &size);
    *out = size == sizeof value.narrow ? value.narrow : value.wide;
    return error;
}

/* Imports a buffer object of the caller. native[0] is the buffer that sub-buffers are created from. native[1] is the
   caller's object: the same buffer, or a sub-buffer of it that begins at *offset. */
static vd_result vd__cl_block_import_object(const vd__cl_device *vcl, vd__block *block, vd__cl_mem object,
                                            uint64_t *offset) {
    static const uint32_t queries[] = { VD__CL_MEM_TYPE, VD__CL_MEM_CONTEXT, VD__CL_MEM_SIZE,
                                        VD__CL_MEM_ASSOCIATED_MEMOBJECT, VD__CL_MEM_OFFSET };
    enum { OBJECT_TYPE, OBJECT_CONTEXT, OBJECT_SIZE, OBJECT_PARENT, OBJECT_OFFSET };
    uint64_t property[VD__COUNT(queries)];
    int32_t error = 0;
    for (size_t i = 0; i < VD__COUNT(queries) && !error; i++)
        error = vd__cl_memory_info(vcl->cl, object, queries[i], &property[i]);
    if (error) return vd__cl_fail(error, "clGetMemObjectInfo of desc.address");
    if (property[OBJECT_TYPE] != VD__CL_MEM_OBJECT_BUFFER)
        return vd__fail(VD_ERROR_INVALID, "the cl_mem in desc.address is not a buffer");
    if (property[OBJECT_CONTEXT] != (uintptr_t)vcl->context)
        return vd__fail(VD_ERROR_INVALID, "the cl_mem in desc.address belongs to another context");
    if (property[OBJECT_SIZE] < block->size)
        return vd__fail(VD_ERROR_INVALID, "the cl_mem in desc.address has %llu bytes, but desc.address_offset and "
                        "desc.shape need %llu", VD__U(property[OBJECT_SIZE]), VD__U(block->size));
    error = vcl->cl->clRetainMemObject(object);
    if (error) return vd__cl_fail(error, "clRetainMemObject of desc.address");
    block->native[0] = property[OBJECT_PARENT] ? property[OBJECT_PARENT] : (uintptr_t)object;
    block->native[1] = (uintptr_t)object;
    *offset = property[OBJECT_OFFSET];
    return VD_OK;
}

/* Imports a buffer object or host memory. Host memory is imported only if host and device share memory; drivers then
   use it in place. */
static vd_result vd__cl_block_import(vd__device *dev, vd__block *block, const vd__memory_requirements *need,
                                     const vd__import_source *from, uint64_t *offset) {
    const vd__cl_device *vcl = vd__cl_device_of(dev);
    int32_t error = 0;
    block->type = VD__CL_DEVICE_BLOCK;
    block->host_cached = block->coherent = true;
    if (need->sharing == VD__SHARE_OBJECT)
        return vd__cl_block_import_object(vcl, block, vd__cl_unpack(from->handle), offset);
    vd__cl_mem object = vcl->cl->clCreateBuffer(vcl->context, VD__CL_MEM_READ_WRITE | VD__CL_MEM_USE_HOST_PTR,
                                                (size_t)block->size, (void *)(uintptr_t)from->handle, &error);
    block->native[0] = block->native[1] = error ? 0 : (uintptr_t)object;
    return error ? vd__cl_fail(error, "clCreateBuffer of %llu bytes of host memory", VD__U(block->size)) : VD_OK;
}

static vd_result vd__cl_block_export(vd__device *dev, const vd__block *block, vd_external *out) {
    (void)block, (void)out;
    return vd__fail(VD_ERROR_UNSUPPORTED, "device '%s' cannot export memory by handle; vd_buffer_query "
                    "returns a cl_mem", dev->info.name);
}

/* Makes the device's writes to imported host memory visible to the host. */
static void vd__cl_block_write_back(const vd__cl_device *vcl, const vd__block *block) {
    int32_t error = 0;
    vd__cl_mem object = vd__cl_unpack(block->native[1]);
    void *mapped = vcl->cl->clEnqueueMapBuffer(vcl->map_queue, object, 1, VD__CL_MAP_READ, 0, (size_t)block->size, 0,
                                               NULL, NULL, &error);
    if (!error) vcl->cl->clEnqueueUnmapMemObject(vcl->map_queue, object, mapped, 0, NULL, NULL);
    vcl->cl->clFinish(vcl->map_queue);
}

static void vd__cl_block_destroy(vd__device *dev, vd__block *block) {
    const vd__cl_device *vcl = vd__cl_device_of(dev);
    if (block->sharing == VD__SHARE_HOST) vd__cl_block_write_back(vcl, block);
    if (block->sharing == VD__SHARE_HOST || block->sharing == VD__SHARE_OBJECT)
        vcl->cl->clReleaseMemObject(vd__cl_unpack(block->native[1]));
    else if (block->type == VD__CL_SHARED_BLOCK) vcl->cl->clSVMFree(vcl->context, block->mapped);
    else {
        if (block->mapped)
            vcl->cl->clEnqueueUnmapMemObject(vcl->map_queue, vd__cl_unpack(block->native[0]), block->mapped, 0, NULL,
                                             NULL);
        if (block->mapped) vcl->cl->clFinish(vcl->map_queue);
        vcl->cl->clReleaseMemObject(vd__cl_unpack(block->native[0]));
    }
    block->native[0] = 0;
    block->mapped = NULL;
}

/* ---- memory types ---- */

/* Memory for use by host and device at the same time (VD_MEMORY_SHARED) exists only with shared virtual memory. */
static uint32_t vd__cl_memory_types(vd__device *dev, vd_memory usage, uint32_t mask) {
    if (vd__cl_device_of(dev)->svm && (mask & (1u << VD__CL_SHARED_BLOCK))) return 1u << VD__CL_SHARED_BLOCK;
    if (usage == VD_MEMORY_SHARED) return 0;
    return mask & (1u << (usage == VD_MEMORY_DEVICE ? VD__CL_DEVICE_BLOCK : VD__CL_STAGING_BLOCK));
}

/* ---- buffers ---- */

static vd_result vd__cl_memory_create(vd__device *dev, vd__memory *m, vd__memory_requirements *need) {
    need->size = m->size;
    need->align = vd__cl_device_of(dev)->align;
    need->types = 1u << VD__CL_DEVICE_BLOCK | (need->sharing ? 0u : 1u << VD__CL_SHARED_BLOCK);
    if (!need->kernel_access) need->types |= 1u << VD__CL_STAGING_BLOCK;
    return VD_OK;
}

/* Creates a sub-buffer of a block. If *error is not 0, the result is undefined. */
static vd__cl_mem vd__cl_sub_buffer_create(const vd__cl_device *vcl, const vd__block *block, uint64_t offset,
                                           uint64_t size, int32_t *error) {
    vd__cl_region region;
    region.origin = (size_t)offset;
    region.size = (size_t)size;
    return vcl->cl->clCreateSubBuffer(vd__cl_unpack(block->native[0]), VD__CL_MEM_READ_WRITE,
                                      VD__CL_BUFFER_CREATE_TYPE_REGION, &region, error);
}

/* native[0] is the buffer object, or 0 if the memory is used by its host address, native[1]. */
static vd_result vd__cl_memory_bind(vd__device *dev, vd__memory *m) {
    int32_t error = 0;
    m->native[0] = 0;
    m->native[1] = (uintptr_t)m->block->mapped + m->offset;
    if (m->block->type != VD__CL_DEVICE_BLOCK) return VD_OK;
    if (m->block->native[1]) { /* imported: the block and the memory hold a reference each */
        error = vd__cl_device_of(dev)->cl->clRetainMemObject(vd__cl_unpack(m->block->native[1]));
        m->native[0] = error ? 0 : m->block->native[1];
        return error ? vd__cl_fail(error, "clRetainMemObject") : VD_OK;
    }
    m->native[0] = (uintptr_t)vd__cl_sub_buffer_create(vd__cl_device_of(dev), m->block, m->offset, m->size, &error);
    if (error) m->native[0] = 0;
    return error ? vd__cl_fail(error, "clCreateSubBuffer of %llu bytes at %llu", VD__U(m->size), VD__U(m->offset))
                 : VD_OK;
}

static void vd__cl_memory_destroy(vd__device *dev, vd__memory *m) {
    if (m->native[0]) vd__cl_device_of(dev)->cl->clReleaseMemObject(vd__cl_unpack(m->native[0]));
    m->native[0] = 0;
}
#endif /* VD__HAS_OPENCL */

// >>opencl kernel
/* Builds programs from source or from cached binaries, and finds their kernels. */

#if VD__HAS_OPENCL
/* A range of the argument block that is one parameter of a kernel. */
typedef struct vd__cl_value { uint32_t offset, size; } vd__cl_value;

typedef struct vd__cl_kernel {
    vd__cl_program program;
    vd__cl_kernel_id handle;
    vd__mutex lock;            /* held while arguments are set and until the launch, which reads them */
    size_t local_size[3];
    uint32_t binding_count, argument_bytes;
    bool arguments_set;
    uint64_t *bound_keys;      /* by binding: key of the argument that is set on the kernel; 0: none */
    uint8_t *bound_arguments;  /* argument block that is set on the kernel, if arguments_set */
    uint32_t value_count;
    vd__cl_value *values;      /* parameters after the buffers, by offset: values one by one, or the whole block */
} vd__cl_kernel;

static vd__cl_kernel *vd__cl_kernel_of(const vd__kernel_code *code) {
    return (vd__cl_kernel *)(uintptr_t)code->native[0];
}

/* ---- programs ---- */

/* Adds everything that the program's binary depends on to a cache key. */
static void vd__cl_program_key(const vd__device *dev, const vd_kernel_desc *desc, vd__cache_key *key) {
    static const uint32_t queries[] = { VD__CL_DEVICE_NAME, VD__CL_DEVICE_VERSION, VD__CL_DRIVER_VERSION };
    const vd__cl_device *vcl = vd__cl_device_of(dev);
    const vd__cl_device_entry *entry = &vd__cl_driver_of(dev->driver)->devices[dev->info.index];
    char text[1024] = "";
    vcl->cl->clGetPlatformInfo(entry->platform, VD__CL_PLATFORM_VERSION, sizeof text - 1, text, NULL);
    vd__cache_key_add_text(key, text);
    for (size_t i = 0; i < VD__COUNT(queries); i++) {
        vd__cl_text(vcl->cl, entry->device, queries[i], text, sizeof text);
        vd__cache_key_add_text(key, text);
    }
    vd__cache_key_add_text(key, vcl->options);
    vd__cache_key_add(key, desc->code, desc->code_size);
}

/* Reports a failed build: logs the build log, and sets the error text to its first error. Returns the error code. */
static vd_result vd__cl_build_failed(const vd__device *dev, const vd_kernel_desc *desc, vd__cl_program program,
                                     int32_t error) {
    const vd__cl_device *vcl = vd__cl_device_of(dev);
    size_t size = 0;
    vcl->cl->clGetProgramBuildInfo(program, vcl->id, VD__CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = size > 1 ? (char *)vd__alloc_zeroed(vd__cl_allocator(dev), size + 1) : NULL;
    if (log) vcl->cl->clGetProgramBuildInfo(program, vcl->id, VD__CL_PROGRAM_BUILD_LOG, size, log, NULL);
    if (log && error != VD__CL_OUT_OF_HOST_MEMORY) {
        vd__logf(dev->driver->host, VD_LOG_INFO, "OpenCL, log of kernel '%s': %s", desc->name, log);
        vd__fail_compile("OpenCL", (const char *)desc->code, log);
        error = 0;
    }
    vd__free(vd__cl_allocator(dev), log);
    return error ? vd__cl_fail(error, "clBuildProgram") : VD_ERROR_COMPILE;
}

/* PoCL includes a header of 18,000 lines with the built-in functions in each program, which takes clang 90 ms to parse.
   A program that calls only functions of this table is built without that header, by defining its include guard, and
   with the declarations that it needs. Names with an empty declaration are part of the language. */
static const char *const vd__cl_declarations[][2] = {
    { "barrier", "void __attribute__((overloadable, convergent)) barrier(cl_mem_fence_flags);\n" },
    { "fma", "float __attribute__((overloadable, const)) fma(float, float, float);\n"
             "float2 __attribute__((overloadable, const)) fma(float2, float2, float2);\n"
             "float4 __attribute__((overloadable, const)) fma(float4, float4, float4);\n"
             "#ifdef cl_khr_fp64\n"
             "double __attribute__((overloadable, const)) fma(double, double, double);\n"
             "double2 __attribute__((overloadable, const)) fma(double2, double2, double2);\n"
             "#endif\n" },
    { "get_global_id", "size_t __attribute__((overloadable, const)) get_global_id(uint);\n" },
    { "get_global_size", "size_t __attribute__((overloadable, const)) get_global_size(uint);\n" },
    { "get_group_id", "size_t __attribute__((overloadable, const)) get_group_id(uint);\n" },
    { "get_local_id", "size_t __attribute__((overloadable, const)) get_local_id(uint);\n" },
    { "get_local_size", "size_t __attribute__((overloadable, const)) get_local_size(uint);\n" },
    { "get_num_groups", "size_t __attribute__((overloadable, const)) get_num_groups(uint);\n" },
    { "__attribute__", "" }, { "reqd_work_group_size", "" },
    { "if", "" }, { "for", "" }, { "while", "" }, { "switch", "" }, { "return", "" }
};
enum { VD__CL_DECLARATIONS = sizeof vd__cl_declarations / sizeof vd__cl_declarations[0] };

static bool vd__cl_is_name_char(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Returns which functions of the table a program calls: bit i for row i; 0 if it calls any other function. Every name
   before a parenthesis counts as a call, except the kernel's name. */
static uint32_t vd__cl_declared_calls(const vd_kernel_desc *desc) {
    const char *text = (const char *)desc->code;
    size_t entry_length = desc->entry ? strlen(desc->entry) : 0, row, i, begin;
    uint32_t calls = 0;
    for (i = 0; i < desc->code_size; i++) {
        for (begin = i; i < desc->code_size && vd__cl_is_name_char(text[i]);) i++;
        if (i == begin || i == desc->code_size || text[i] != '(') continue;
        if (i - begin == entry_length && memcmp(text + begin, desc->entry, entry_length) == 0) continue;
        for (row = 0; row < VD__CL_DECLARATIONS; row++)
            if (strlen(vd__cl_declarations[row][0]) == i - begin
                && memcmp(text + begin, vd__cl_declarations[row][0], i - begin) == 0)
                break;
        if (row == VD__CL_DECLARATIONS) return 0;
        calls |= 1u << row;
    }
    return calls;
}

/* Builds a program with only the declarations that it needs, if the driver is PoCL. Returns NULL without an error
   text if that is not possible. */
static vd__cl_program vd__cl_program_with_declarations(const vd__device *dev, const vd_kernel_desc *desc) {
    const vd__cl_device *vcl = vd__cl_device_of(dev);
    const char *texts[VD__CL_DECLARATIONS + 1];
    size_t lengths[VD__CL_DECLARATIONS + 1];
    char options[sizeof vcl->options + 16];
    int32_t error = 0;
    uint32_t calls = strncmp(dev->info.driver, "Portable Computing Language", 27) == 0 ? vd__cl_declared_calls(desc)
                                                                                       : 0;
    uint32_t count = 0;
    if (!calls) return NULL;
    for (uint32_t i = 0; i < VD__CL_DECLARATIONS; i++)
        if (calls >> i & 1) texts[count++] = vd__cl_declarations[i][1];
    for (uint32_t i = 0; i < count; i++) lengths[i] = strlen(texts[i]);
    texts[count] = (const char *)desc->code;
    lengths[count++] = desc->code_size;
    snprintf(options, sizeof options, "%s -D_OPENCL_H_", vcl->options);
    vd__cl_program program = vcl->cl->clCreateProgramWithSource(vcl->context, count, texts, lengths, &error);
    if (error) return NULL;
    if (!vcl->cl->clBuildProgram(program, 1, &vcl->id, options, NULL, NULL)) return program;
    vcl->cl->clReleaseProgram(program);
    return NULL;
}

/* Returns NULL and sets *result and the error text if the program does not compile. */
static vd__cl_program vd__cl_program_from_source(const vd__device *dev, const vd_kernel_desc *desc, vd_result *result) {
    const vd__cl_device *vcl = vd__cl_device_of(dev);
    const char *source = (const char *)desc->code;
    int32_t error = 0;
    vd__cl_program program = vd__cl_program_with_declarations(dev, desc);
    if (program) return program;
    program = vcl->cl->clCreateProgramWithSource(vcl->context, 1, &source, &desc->code_size, &error);
    if (error) {
        *result = vd__cl_fail(error, "clCreateProgramWithSource");
        return NULL;
    }
    error = vcl->cl->clBuildProgram(program, 1, &vcl->id, vcl->options, NULL, NULL);
    if (!error) return program;
    *result = vd__cl_build_failed(dev, desc, program, error);
    vcl->cl->clReleaseProgram(program);
    return NULL;
}

/* Returns NULL if there is no usable binary. */
static vd__cl_program vd__cl_program_from_cache(const vd__device *dev, const vd__cache_key *key) {
    const vd__cl_device *vcl = vd__cl_device_of(dev);
    const vd__host *host = dev->driver->host;
    size_t size = 0;
    int32_t error = 0;
    void *binary = vd__cache_load(host, "opencl", key, &size);
    const unsigned char *bytes = (const unsigned char *)binary;
    if (!binary) return NULL;
    vd__cl_program program = vcl->cl->clCreateProgramWithBinary(vcl->context, 1, &vcl->id, &size, &bytes, NULL, &error);
    vd__free(&host->allocator, binary);
    if (error) return NULL;
    if (!vcl->cl->clBuildProgram(program, 1, &vcl->id, vcl->options, NULL, NULL)) return program;
    vcl->cl->clReleaseProgram(program);
    return NULL;
}

/* Stores the program's binary in the cache. Errors are ignored. */
static void vd__cl_program_store(const vd__device *dev, const vd__cache_key *key, vd__cl_program program) {
    const vd__cl_device *vcl = vd__cl_device_of(dev);
    const vd__host *host = dev->driver->host;
    size_t size = 0;
    if (vcl->cl->clGetProgramInfo(program, VD__CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) || !size) return;
    unsigned char *binary = (unsigned char *)vd__alloc(&host->allocator, size);
    if (binary && !vcl->cl->clGetProgramInfo(program, VD__CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL))
        vd__cache_store(host, "opencl", key, binary, size);
    vd__free(&host->allocator, binary);
}

static vd_result vd__cl_program_create(const vd__device *dev, const vd_kernel_desc *desc, vd__cl_program *out) {
    bool cached = dev->driver->host->cache_directory != NULL;
    vd__cache_key key = VD__CACHE_KEY_INIT;
    vd_result result = VD_OK;
    if (cached) vd__cl_program_key(dev, desc, &key);
    *out = cached ? vd__cl_program_from_cache(dev, &key) : NULL;
    if (*out) return VD_OK;
    *out = vd__cl_program_from_source(dev, desc, &result);
    if (*out && cached) vd__cl_program_store(dev, &key, *out);
    return result;
}

/* ---- kernels ---- */

/* Finds the kernel that desc->entry names, or the only kernel of the program. */
static vd_result vd__cl_kernel_find(const vd__cl_device *vcl, const vd_kernel_desc *desc, vd__cl_kernel *kernel) {
    uint32_t count = 0;
    int32_t error = 0;
    if (desc->entry) {
        kernel->handle = vcl->cl->clCreateKernel(kernel->program, desc->entry, &error);
        if (error) kernel->handle = NULL;
        if (error == VD__CL_INVALID_KERNEL_NAME)
            return vd__fail(VD_ERROR_COMPILE, "the program has no kernel '%s'", desc->entry);
        return error ? vd__cl_fail(error, "clCreateKernel '%s'", desc->entry) : VD_OK;
    }
    error = vcl->cl->clCreateKernelsInProgram(kernel->program, 0, NULL, &count);
    if (!error && count != 1)
        return vd__fail(VD_ERROR_COMPILE, "the program has %u kernels; select one with desc.entry", count);
    if (!error) error = vcl->cl->clCreateKernelsInProgram(kernel->program, 1, &kernel->handle, NULL);
    if (error) kernel->handle = NULL;
    return error ? vd__cl_fail(error, "clCreateKernelsInProgram") : VD_OK;
}

/* Inserts a value into the parameters of a kernel, which are ordered by offset. */
static void vd__cl_value_add(vd__cl_kernel *kernel, uint32_t offset, uint32_t size) {
    uint32_t i = kernel->value_count++;
    for (; i && kernel->values[i - 1].offset > offset; i--) kernel->values[i] = kernel->values[i - 1];
    kernel->values[i].offset = offset;
    kernel->values[i].size = size;
}

/* Sets the parameters after the buffers to parts of an argument block. */
static int32_t vd__cl_values_set(const vd__cl_device *vcl, const vd__cl_kernel *kernel, const void *arguments) {
    int32_t error = 0;
    for (uint32_t i = 0; i < kernel->value_count && !error; i++)
        error = vcl->cl->clSetKernelArg(kernel->handle, kernel->binding_count + i, kernel->values[i].size,
                                        (const uint8_t *)arguments + kernel->values[i].offset);
    return error;
}

/* Finds out whether the parameters of a kernel are those of `desc`: the buffers, then the argument block as one struct,
   or its values one by one in the order of their offsets, which the driver accepts if their sizes match. */
static bool vd__cl_parameters_match(const vd__cl_device *vcl, const vd_kernel_desc *desc, vd__cl_kernel *kernel,
                                    uint32_t count) {
    uint64_t zeros[VD_MAX_ARGUMENT_BYTES / 8] = { 0 };
    if (count == kernel->binding_count + (kernel->argument_bytes ? 1 : 0)) {
        if (kernel->argument_bytes) vd__cl_value_add(kernel, 0, kernel->argument_bytes);
        return true;
    }
    for (int i = 0; i < desc->arg_count; i++)
        if (desc->args[i].kind == VD_ARG_VALUE) vd__cl_value_add(kernel, desc->args[i].location, desc->args[i].size);
    for (int i = 0; i < desc->implicit_count; i++) vd__cl_value_add(kernel, desc->implicit[i].offset, 4);
    return count == kernel->binding_count + kernel->value_count && !vd__cl_values_set(vcl, kernel, zeros);
}

/* Checks the parameters and the local size against `desc`. */
static vd_result vd__cl_kernel_check(const vd__cl_device *vcl, const vd_kernel_desc *desc, vd__cl_kernel *kernel) {
    uint32_t count = 0, wanted = kernel->binding_count + (kernel->argument_bytes ? 1 : 0);
    const uint32_t *size = desc->local_size;
    size_t required_size[3] = { 0, 0, 0 }, max_invocations = 0;
    int32_t error = vcl->cl->clGetKernelInfo(kernel->handle, VD__CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
    if (!error)
        error = vcl->cl->clGetKernelWorkGroupInfo(kernel->handle, vcl->id, VD__CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                                  sizeof required_size, required_size, NULL);
    if (!error)
        error = vcl->cl->clGetKernelWorkGroupInfo(kernel->handle, vcl->id, VD__CL_KERNEL_WORK_GROUP_SIZE,
                                                  sizeof max_invocations, &max_invocations, NULL);
    if (error) return vd__cl_fail(error, "querying the parameters of the kernel");
    if (!vd__cl_parameters_match(vcl, desc, kernel, count)) {
        const char *block = " and the argument block, as one struct or as its values in the order of their offsets";
        return vd__fail(VD_ERROR_INVALID, "the kernel has %u parameters, but the desc has %u: %u buffers%s", count,
                        wanted, kernel->binding_count, kernel->argument_bytes ? block : "");
    }
    if (required_size[0]
        && (required_size[0] != size[0] || required_size[1] != size[1] || required_size[2] != size[2])) {
        return vd__fail(VD_ERROR_INVALID, "desc.local_size is %u x %u x %u, but the local size of the program is %u x "
                        "%u x %u", size[0], size[1], size[2], (unsigned)required_size[0], (unsigned)required_size[1],
                        (unsigned)required_size[2]);
    }
    /* the compiler has checked this size, and NVIDIA reports a maximum of 256 regardless of it */
    if (required_size[0]) return VD_OK;
    if (!max_invocations || (uint64_t)size[0] * size[1] * size[2] <= max_invocations) return VD_OK;
    return vd__fail(VD_ERROR_UNSUPPORTED, "the local size is %u x %u x %u, but the resources that this kernel uses "
                    "limit it to %u invocations", size[0], size[1], size[2], (unsigned)max_invocations);
}

static vd_result vd__cl_kernel_start(vd__device *dev, const vd_kernel_desc *desc, vd__cl_kernel *kernel) {
    const vd__cl_device *vcl = vd__cl_device_of(dev);
    uint64_t parameter_bytes = kernel->binding_count * sizeof(void *) + kernel->argument_bytes;
    uint64_t max_bytes = vd__cl_number(vcl->cl, vcl->id, VD__CL_DEVICE_MAX_PARAMETER_SIZE);
    for (int i = 0; i < 3; i++) kernel->local_size[i] = desc->local_size[i];
    if (parameter_bytes > max_bytes) {
        return vd__fail(VD_ERROR_UNSUPPORTED, "%u buffers and an argument block of %u bytes need %llu bytes of "
                        "parameters, but the device's limit is %llu", kernel->binding_count, kernel->argument_bytes,
                        VD__U(parameter_bytes), VD__U(max_bytes));
    }
    vd_result result = vd__cl_program_create(dev, desc, &kernel->program);
    if (!result) result = vd__cl_kernel_find(vcl, desc, kernel);
    return result ? result : vd__cl_kernel_check(vcl, desc, kernel);
}

static vd_result vd__cl_kernel_create(vd__device *dev, const vd_kernel_desc *desc, vd__kernel_code *code) {
    uint32_t bindings = 0;
    for (int i = 0; i < desc->arg_count; i++) bindings += desc->args[i].kind == VD_ARG_BINDING;
    size_t key_bytes = bindings * sizeof(uint64_t);
    size_t value_bytes = ((size_t)desc->arg_count + (size_t)desc->implicit_count + 1) * sizeof(vd__cl_value);
    vd__cl_kernel *kernel = (vd__cl_kernel *)vd__alloc_zeroed(
        vd__cl_allocator(dev), sizeof *kernel + key_bytes + value_bytes + desc->argument_bytes);
    if (!kernel) return vd__fail_memory(NULL, NULL, 0);
    kernel->binding_count = bindings;
    kernel->argument_bytes = desc->argument_bytes;
    kernel->bound_keys = (uint64_t *)(void *)(kernel + 1);
    kernel->values = (vd__cl_value *)(void *)(kernel->bound_keys + bindings);
    kernel->bound_arguments = (uint8_t *)(kernel + 1) + key_bytes + value_bytes;
    vd__mutex_init(&kernel->lock);
    code->native[0] = (uintptr_t)kernel;
    vd_result result = vd__cl_kernel_start(dev, desc, kernel);
    if (result) vd__cl_kernel_destroy(dev, code);
    return result;
}

static void vd__cl_kernel_destroy(vd__device *dev, vd__kernel_code *code) {
    const vd__cl_driver *cl = vd__cl_device_of(dev)->cl;
    vd__cl_kernel *kernel = vd__cl_kernel_of(code);
    if (kernel->handle) cl->clReleaseKernel(kernel->handle);
    if (kernel->program) cl->clReleaseProgram(kernel->program);
    vd__mutex_destroy(&kernel->lock);
    vd__free(vd__cl_allocator(dev), kernel);
    code->native[0] = 0;
}

VD__SMALL_END

#endif /* VD__HAS_OPENCL */

// >>opencl list
/* Plays tapes into an in-order command queue. A submission reaches its timeline value when the event of its last
   command is complete. */

#if VD__HAS_OPENCL
/* ---- playing a tape ---- */

typedef struct vd__cl_playback {
    const vd__cl_device *vcl;
    vd__cl_command_queue queue;
    const vd__tape_command *last; /* the last command of the tape, which sets `event` */
    vd__cl_event event;
} vd__cl_playback;

/* The sub-buffers that one launch binds. They are released after it, and the driver keeps them until it has ended. */
typedef struct vd__cl_views { vd__cl_mem objects[VD_MAX_ARGS]; uint32_t count; } vd__cl_views;

/* Sets a buffer argument, unless the kernel has it from its last launch, which is detected by a key. The key of an
   address is the address; that of a whole buffer object is the memory's serial with bit 63 set, which no address has.
   Sub-buffers have no key (0) and are set each time. */
static vd_result vd__cl_set_binding(const vd__cl_device *vcl, vd__cl_kernel *kernel, uint32_t index,
                                    const vd__binding *binding, vd__cl_views *views) {
    const vd__memory *m = binding->memory;
    uint64_t key = !m->native[0] ? m->native[1] + binding->offset
                   : !binding->offset ? m->serial | (uint64_t)1 << 63 : 0;
    vd__cl_mem object = vd__cl_unpack(m->native[0]);
    int32_t error = 0;
    if (key && key == kernel->bound_keys[index]) return VD_OK;
    kernel->bound_keys[index] = 0;
    if (!key) {
        object = vd__cl_sub_buffer_create(vcl, m->block, m->offset + binding->offset, binding->size, &error);
        if (error) return vd__cl_fail(error, "clCreateSubBuffer of %llu bytes", VD__U(binding->size));
        views->objects[views->count++] = object;
    }
    if (!m->native[0])
        error = vcl->cl->clSetKernelArgSVMPointer(kernel->handle, index, (const void *)(uintptr_t)key);
    else error = vcl->cl->clSetKernelArg(kernel->handle, index, sizeof object, &object);
    if (error) return vd__cl_fail(error, "clSetKernelArg");
    kernel->bound_keys[index] = key;
    return VD_OK;
}

/* Sets the arguments that differ from those of the kernel's last launch. */
static vd_result vd__cl_set_arguments(const vd__cl_device *vcl, vd__cl_kernel *kernel, const vd__tape_launch *launch,
                                      vd__cl_views *views) {
    const void *arguments = vd__tape_arguments(launch);
    uint32_t bytes = kernel->argument_bytes;
    vd_result r = VD_OK;
    for (uint32_t i = 0; i < launch->binding_count && !r; i++)
        r = vd__cl_set_binding(vcl, kernel, i, &vd__tape_bindings(launch)[i], views);
    if (r || !bytes || (kernel->arguments_set && !memcmp(kernel->bound_arguments, arguments, bytes))) return r;
    int32_t error = vd__cl_values_set(vcl, kernel, arguments);
    memcpy(kernel->bound_arguments, arguments, bytes);
    kernel->arguments_set = !error;
    return error ? vd__cl_fail(error, "clSetKernelArg") : VD_OK;
}

static vd_result vd__cl_play_launch(void *user, const vd__tape_launch *launch) {
    vd__cl_playback *to = (vd__cl_playback *)user;
    const vd__cl_driver *cl = to->vcl->cl;
    vd__cl_kernel *kernel = (vd__cl_kernel *)(uintptr_t)launch->kernel;
    vd__cl_views views;
    size_t global[3];
    uint32_t axes = 3;
    int32_t error = 0;
    views.count = 0;
    for (int i = 0; i < 3; i++) global[i] = launch->groups[i] * kernel->local_size[i];
    while (axes > 1 && global[axes - 1] == 1) axes--;
    vd__mutex_lock(&kernel->lock);
    vd_result r = vd__cl_set_arguments(to->vcl, kernel, launch, &views);
    if (!r)
        error = cl->clEnqueueNDRangeKernel(to->queue, kernel->handle, axes, NULL, global, kernel->local_size, 0, NULL,
                                           &launch->command == to->last ? &to->event : NULL);
    vd__mutex_unlock(&kernel->lock);
    for (uint32_t i = 0; i < views.count; i++) cl->clReleaseMemObject(views.objects[i]);
    return VD__LIKELY(!error) ? r : vd__cl_fail(error, "clEnqueueNDRangeKernel");
}

/* Copies between buffer objects and host addresses, or addresses of shared memory. */
static vd_result vd__cl_play_range(vd__cl_playback *to, const vd__tape_copy *copy, const vd__copy_range *r,
                                   vd__cl_event *event) {
    const vd__cl_driver *cl = to->vcl->cl;
    vd__cl_mem target = vd__cl_unpack(copy->to->native[0]), source = vd__cl_unpack(copy->from->native[0]);
    void *write = (void *)(uintptr_t)(copy->to->native[1] + r->to),
         *read = (void *)(uintptr_t)(copy->from->native[1] + r->from);
    size_t size = (size_t)r->size, to_offset = (size_t)r->to, from_offset = (size_t)r->from;
    const char *call;
    int32_t error;
    if (target && source) {
        call = "clEnqueueCopyBuffer";
        error = cl->clEnqueueCopyBuffer(to->queue, source, target, from_offset, to_offset, size, 0, NULL, event);
    } else if (target) {
        call = "clEnqueueWriteBuffer";
        error = cl->clEnqueueWriteBuffer(to->queue, target, 0, to_offset, size, read, 0, NULL, event);
    } else if (source) {
        call = "clEnqueueReadBuffer";
        error = cl->clEnqueueReadBuffer(to->queue, source, 0, from_offset, size, write, 0, NULL, event);
    } else {
        call = "clEnqueueSVMMemcpy";
        error = cl->clEnqueueSVMMemcpy(to->queue, 0, write, read, size, 0, NULL, event);
    }
    return VD__LIKELY(!error) ? VD_OK : vd__cl_fail(error, "%s of %llu bytes", call, VD__U(r->size));
}

static vd_result vd__cl_play_copy(void *user, const vd__tape_copy *copy) {
    vd__cl_playback *to = (vd__cl_playback *)user;
    vd_result r = VD_OK;
    for (uint64_t i = 0; i < copy->count && !r; i++) {
        bool last = &copy->command == to->last && i + 1 == copy->count;
        r = vd__cl_play_range(to, copy, &vd__tape_ranges(copy)[i], last ? &to->event : NULL);
    }
    return r;
}

static vd_result vd__cl_play_fill(void *user, const vd__tape_fill *fill) {
    vd__cl_playback *to = (vd__cl_playback *)user;
    const vd__cl_driver *cl = to->vcl->cl;
    vd__cl_mem object = vd__cl_unpack(fill->to->native[0]);
    void *address = (void *)(uintptr_t)(fill->to->native[1] + fill->offset);
    vd__cl_event *event = &fill->command == to->last ? &to->event : NULL;
    uint32_t word = (uint32_t)fill->word;
    size_t offset = (size_t)fill->offset, size = (size_t)fill->size;
    int32_t error = object ? cl->clEnqueueFillBuffer(to->queue, object, &word, 4, offset, size, 0, NULL, event)
                           : cl->clEnqueueSVMMemFill(to->queue, address, &word, 4, size, 0, NULL, event);
    if (VD__LIKELY(!error)) return VD_OK;
    return vd__cl_fail(error, "%s of %llu bytes", object ? "clEnqueueFillBuffer" : "clEnqueueSVMMemFill",
                       VD__U(fill->size));
}

static const vd__tape_player vd__cl_player = { vd__cl_play_launch, vd__cl_play_copy, vd__cl_play_fill };

/* ---- the queue ---- */

static int32_t vd__cl_event_status(const vd__cl_device *vcl, vd__cl_event event) {
    int32_t status = 0,
            error = vcl->cl->clGetEventInfo(event, VD__CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return error ? error : status;
}

/* Sets *out to the event of the first submission that reaches `value`, with a reference for the caller, or to NULL if
   the value is reached or an error is returned. */
static int32_t vd__cl_event_of(const vd__cl_device *vcl, vd__cl_queue *q, uint64_t value, vd__cl_event *out) {
    vd__cl_event event = NULL;
    vd__mutex_lock(&q->lock);
    for (uint32_t i = 0; i < q->count && !event && q->reached < value; i++) {
        const vd__cl_submission *submission = &q->submissions[(q->first + i) & (q->capacity - 1)];
        if (submission->value >= value) event = submission->event;
    }
    int32_t error = event ? vcl->cl->clRetainEvent(event) : 0;
    vd__mutex_unlock(&q->lock);
    *out = error ? NULL : event;
    return error;
}

/* Makes room for one more submission in the ring. Returns false if memory runs out. */
static bool vd__cl_submissions_reserve(vd__device *dev, vd__cl_queue *q) {
    uint32_t capacity = 2 * q->capacity;
    vd__mutex_lock(&q->lock);
    bool full = q->count == q->capacity;
    vd__mutex_unlock(&q->lock);
    if (!full) return true;
    vd__cl_submission *grown = (vd__cl_submission *)vd__alloc(vd__cl_allocator(dev), capacity * sizeof *grown),
                      *old = q->submissions;
    if (!grown) return false;
    vd__mutex_lock(&q->lock);
    for (uint32_t i = 0; i < q->count; i++) grown[i] = q->submissions[(q->first + i) & (q->capacity - 1)];
    q->submissions = grown;
    q->capacity = capacity;
    q->first = 0;
    vd__mutex_unlock(&q->lock);
    vd__free(vd__cl_allocator(dev), old);
    return true;
}

/* Changes the value that the last submission reaches to `value`. Used for a submission without commands if memory for
   another entry of the ring runs out: the ring is full then, so there is a last submission. */
static vd_result vd__cl_raise_last_value(vd__cl_queue *q, uint64_t value) {
    vd__mutex_lock(&q->lock);
    if (q->count) q->submissions[(q->first + q->count - 1) & (q->capacity - 1)].value = value;
    else q->reached = value; /* it has completed in the meantime */
    vd__mutex_unlock(&q->lock);
    return VD_OK;
}

/* Enqueues a barrier that waits until other queues have reached their values. */
static int32_t vd__cl_await(vd__cl_device *vcl, vd__cl_queue *q, const vd__wait *waits, uint32_t wait_count) {
    vd__cl_event events[VD_MAX_QUEUES];
    uint32_t count = 0;
    int32_t error = 0;
    for (uint32_t i = 0; i < wait_count && count < VD_MAX_QUEUES && !error; i++) {
        error = vd__cl_event_of(vcl, &vcl->queues[waits[i].queue], waits[i].value, &events[count]);
        if (events[count]) count++;
    }
    if (count && !error) error = vcl->cl->clEnqueueBarrierWithWaitList(q->handle, count, events, NULL);
    for (uint32_t i = 0; i < count; i++) vcl->cl->clReleaseEvent(events[i]);
    return error;
}

static void vd__cl_queue_native(vd__device *dev, uint32_t queue, vd_native *out) {
    const vd__cl_device *vcl = vd__cl_device_of(dev);
    out->device = vcl->id;
    out->context = vcl->context;
    out->queue = vcl->queues[queue].handle;
}

/* Called after a failed submission. Part of it may be running, and no event signals the end of that part, so this waits
   for the whole queue. */
static VD__NOINLINE vd_result vd__cl_queue_abandon(const vd__cl_device *vcl, const vd__cl_queue *q, vd__cl_event event,
                                                   vd_result result, int32_t error) {
    vcl->cl->clFinish(q->handle);
    if (event) vcl->cl->clReleaseEvent(event);
    return result ? result : vd__cl_fail(error, event ? "clFlush" : "clEnqueueMarkerWithWaitList");
}

static vd_result vd__cl_queue_submit(vd__device *dev, uint32_t queue, const vd__submission *s) {
    vd__cl_device *vcl = vd__cl_device_of(dev);
    vd__cl_queue *q = &vcl->queues[queue];
    const vd__tape *tape = s->commands ? &s->commands->tape : NULL;
    vd__cl_playback to = { vcl, q->handle, tape && tape->count ? vd__tape_command_at(tape, tape->last) : NULL, NULL };
    if (!vd__cl_submissions_reserve(dev, q))
        return tape ? vd__fail_memory(NULL, NULL, 0) : vd__cl_raise_last_value(q, s->value);
    int32_t error = vd__cl_await(vcl, q, s->waits, s->wait_count);
    if (error) return vd__cl_fail(error, "waiting for another queue");
    vd_result result = vd__tape_play(s, &vd__cl_player, &to);
    vd__cl_event event = result ? NULL : to.event; /* a command that failed may have written anything to it */
    if (!result && !event) error = vcl->cl->clEnqueueMarkerWithWaitList(q->handle, 0, NULL, &event);
    if (error) event = NULL;
    if (!result && !error) error = vcl->cl->clFlush(q->handle);
    if (VD__UNLIKELY(result || error)) return vd__cl_queue_abandon(vcl, q, event, result, error);
    vd__mutex_lock(&q->lock);
    vd__cl_submission *submission = &q->submissions[(q->first + q->count++) & (q->capacity - 1)];
    submission->event = event;
    submission->value = s->value;
    vd__mutex_unlock(&q->lock);
    return VD_OK;
}

/* If a command ended with an error, later commands may have read wrong data: the device counts as lost. */
static uint64_t vd__cl_queue_value(vd__device *dev, uint32_t queue) {
    vd__cl_device *vcl = vd__cl_device_of(dev);
    vd__cl_queue *q = &vcl->queues[queue];
    vd__mutex_lock(&q->lock);
    while (q->count) {
        const vd__cl_submission *submission = &q->submissions[q->first];
        int32_t status = vd__cl_event_status(vcl, submission->event);
        if (status > VD__CL_COMPLETE) break;
        if (status < 0) vd__atomic_store32(&vcl->lost, 1);
        vcl->cl->clReleaseEvent(submission->event);
        q->reached = submission->value;
        q->first = (q->first + 1) & (q->capacity - 1);
        q->count--;
    }
    uint64_t value = q->reached;
    vd__mutex_unlock(&q->lock);
    return vd__atomic_load32(&vcl->lost) ? UINT64_MAX : value;
}

/* OpenCL has no wait with a timeout, so this polls the event: first every 20 us, later every millisecond. */
static int32_t vd__cl_event_wait(const vd__cl_device *vcl, vd__cl_event event, uint64_t timeout_ns) {
    uint64_t start = vd__time_ns(), nap = 20000;
    if (timeout_ns == VD_FOREVER) return vcl->cl->clWaitForEvents(1, &event);
    for (;;) {
        int32_t status = vd__cl_event_status(vcl, event);
        uint64_t spent = vd__time_ns() - start;
        if (status <= VD__CL_COMPLETE || spent >= timeout_ns) return status;
        vd__sleep(nap < timeout_ns - spent ? nap : timeout_ns - spent);
        nap = nap < 800000 ? nap + nap / 4 : 1000000;
    }
}

static vd_result vd__cl_queue_wait(vd__device *dev, uint32_t queue, uint64_t value, uint64_t timeout_ns) {
    vd__cl_device *vcl = vd__cl_device_of(dev);
    vd__cl_event event;
    if (vd__cl_event_of(vcl, &vcl->queues[queue], value, &event)) return VD_TIMEOUT; /* the caller tries again */
    int32_t status = event ? vd__cl_event_wait(vcl, event, timeout_ns) : 0;
    if (event) vcl->cl->clReleaseEvent(event);
    if (status > VD__CL_COMPLETE) return VD_TIMEOUT;
    if (status == VD__CL_COMPLETE && !vd__atomic_load32(&vcl->lost)) return VD_OK;
    vd__atomic_store32(&vcl->lost, 1);
    return vd__fail(VD_ERROR_DEVICE_LOST, "a command of device '%s' failed with error %d", dev->info.name, (int)status);
}
#endif /* VD__HAS_OPENCL */

// >>select
/* Selects the backend and opens the devices of a context. */

VD__SMALL

#if VD__HAS_VULKAN
static const vd__backend vd__backend_vulkan = { VD_BACKEND_VULKAN, "vulkan", { VD_CODE_SPIRV },
    VD__BACKEND_OPERATIONS(VD__BACKEND_VULKAN_ENTRY) };
#endif

#if VD__HAS_CUDA
static const vd__backend vd__backend_cuda = { VD_BACKEND_CUDA, "cuda", { VD_CODE_CUDA, VD_CODE_PTX, VD_CODE_CUBIN },
    VD__BACKEND_OPERATIONS(VD__BACKEND_CUDA_ENTRY) };
#endif

#if VD__HAS_OPENCL
static const vd__backend vd__backend_opencl = { VD_BACKEND_OPENCL, "opencl", { VD_CODE_OPENCL },
    VD__BACKEND_OPERATIONS(VD__BACKEND_OPENCL_ENTRY) };
#endif

/* in order of preference */
static const vd__backend *const vd__backends[] = {
#if VD__HAS_VULKAN
    &vd__backend_vulkan,
#endif
#if VD__HAS_CUDA
    &vd__backend_cuda,
#endif
#if VD__HAS_OPENCL
    &vd__backend_opencl,
#endif
    &vd__backend_dummy
};

/* Compares at most `count` bytes of two strings, ignoring the case of ASCII letters. */
static bool vd__text_equal_nocase(const char *a, const char *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int x = (unsigned char)a[i], y = (unsigned char)b[i];
        if (x >= 'A' && x <= 'Z') x += 'a' - 'A';
        if (y >= 'A' && y <= 'Z') y += 'a' - 'A';
        if (x != y) return false;
        if (!x) return true;
    }
    return true;
}

/* Returns whether `text` contains `part`, ignoring case. */
static bool vd__text_contains(const char *text, const char *part) {
    size_t length = strlen(part);
    for (; *text; text++)
        if (vd__text_equal_nocase(text, part, length)) return true;
    return false;
}

/* Names of all backends by vd_backend, also of those that are not compiled in. */
static const char *const vd__backend_all_names[] = { "", "vulkan", "dummy", "cuda", "opencl" };

enum { VD__BACKEND_TEXT = 128 };

/* Sets *debug if VKDISPATCH_DEBUG is 1. Programs with elevated privileges ignore it, because validation layers are
   libraries. */
static vd_result vd__select_debug(bool *debug) {
    char path[VD__PATH_CHARS];
    const char *text = vd__environment_path("VKDISPATCH_DEBUG", path);
    bool on = text && !strcmp(text, "1");
    *debug = *debug || on;
    if (!text || on || !strcmp(text, "0")) return VD_OK;
    return vd__fail(VD_ERROR_INVALID, "VKDISPATCH_DEBUG is '%.40s', but must be 0 or 1", text);
}

/* Writes the names of the compiled-in backends to `out`, for messages. */
static const char *vd__backend_names(char out[VD__BACKEND_TEXT]) {
    const char *last = "";
    size_t used = 0;
    for (size_t i = 0; i < VD__COUNT(vd__backends); i++)
        used += (size_t)snprintf(out + used, VD__BACKEND_TEXT - used, "%s%s", i ? ", " : "", vd__backends[i]->name);
    for (size_t i = 1, missing = 0; i < VD__COUNT(vd__backend_all_names); i++) {
        size_t j = 0;
        while (j < VD__COUNT(vd__backends) && strcmp(vd__backends[j]->name, vd__backend_all_names[i])) j++;
        if (j < VD__COUNT(vd__backends)) continue;
        used += (size_t)snprintf(out + used, VD__BACKEND_TEXT - used, "%s%s", missing++ ? ", "
                                 : " (not compiled in: ", vd__backend_all_names[i]);
        last = ")";
    }
    snprintf(out + used, VD__BACKEND_TEXT - used, "%s", last);
    return out;
}

/* Sets *out to the backend that the desc or VKDISPATCH_BACKEND requests, or to NULL if neither does. */
static vd_result vd__select_backend(const vd_context_desc *desc, const vd__backend **out) {
    const char *name = vd__environment("VKDISPATCH_BACKEND");
    char names[VD__BACKEND_TEXT];
    *out = NULL;
    if (desc->backend == VD_BACKEND_DEFAULT && !name) return VD_OK;
    for (size_t i = 0; i < VD__COUNT(vd__backends); i++) {
        bool matches = desc->backend != VD_BACKEND_DEFAULT
                          ? vd__backends[i]->id == desc->backend
                          : vd__text_equal_nocase(name, vd__backends[i]->name, SIZE_MAX);
        if (!matches) continue;
        *out = vd__backends[i];
        return VD_OK;
    }
    if (desc->backend != VD_BACKEND_DEFAULT)
        return vd__fail(VD_ERROR_INVALID, "desc.backend is %d, which is not compiled in; the choices are: %s",
                        (int)desc->backend, vd__backend_names(names));
    return vd__fail(VD_ERROR_INVALID, "VKDISPATCH_BACKEND is '%s'; the choices are: %s", name,
                    vd__backend_names(names));
}

/* Parses VKDISPATCH_DISABLE, a comma-separated list of feature names, and adds the features to *out. */
static vd_result vd__parse_disable(const char *list, uint64_t *out) {
    while (*list) {
        size_t length = strcspn(list, ","), i = 0;
        while (i < VD__COUNT(vd__feature_names) && (!vd__feature_names[i] || strlen(vd__feature_names[i]) != length ||
               !vd__text_equal_nocase(list, vd__feature_names[i], length))) i++;
        if (length && i == VD__COUNT(vd__feature_names))
            return vd__fail(VD_ERROR_INVALID, "VKDISPATCH_DISABLE contains '%.*s', which is not a feature; use names "
                            "of vd_feature_name, separated by commas (for example f64,mapped)",
                            (int)(length < 64 ? length : 64), list);
        if (length) *out |= (uint64_t)1 << i;
        list += length + (list[length] == ',');
    }
    return VD_OK;
}

/* Sets *choice to 1 or 2 if the environment variable equals `first` or `second`, and to 0 if it is not set. */
static vd_result vd__environment_choice(const char *variable, const char *first, const char *second, int *choice) {
    const char *text = vd__environment(variable);
    *choice = !text ? 0 : vd__text_equal_nocase(text, first, SIZE_MAX) ? 1 : 2;
    if (*choice < 2 || vd__text_equal_nocase(text, second, SIZE_MAX)) return VD_OK;
    return vd__fail(VD_ERROR_INVALID, "%s is '%s'; the choices are: %s, %s", variable, text, first, second);
}

/* Reads the options that apply to every backend: disabled features, and how buffers are passed and copied. Called
   before any backend is opened: an invalid variable is an error, not a reason to try the next backend. */
static vd_result vd__select_options(vd__host *host, const vd_context_desc *desc, uint64_t *disable) {
    const char *list = vd__environment("VKDISPATCH_DISABLE");
    int buffers = 0;
    *disable = desc->disable;
    vd_result r = list ? vd__parse_disable(list, disable) : VD_OK;
    if (!r) r = vd__environment_choice("VKDISPATCH_BUFFERS", "binding", "address", &buffers);
    if (!r) r = vd__environment_choice("VKDISPATCH_COPIES", "kernel", "driver", &host->copies);
    if (buffers == 1) *disable |= VD_FEATURE_ADDRESS;
    return r;
}

/* The device that the caller requests. */
typedef struct vd__device_request {
    int index;                   /* -1: not selected by index. INT32_MAX: an index that no device has */
    const char *name;            /* part of the device's name. NULL: not selected by name */
    const char *number;          /* text of the index in VKDISPATCH_DEVICE. NULL: the desc selects the index */
    const char *source;          /* for messages: desc field or environment variable */
} vd__device_request;

/* Returns the request of a desc, or that of VKDISPATCH_DEVICE if the desc has none. */
static vd__device_request vd__device_request_of(const vd_context_desc *desc) {
    vd__device_request request = { -1, NULL, NULL, "desc.device_name" };
    const char *text = vd__environment("VKDISPATCH_DEVICE");
    if (desc->cl_device) return request; /* the backend finds the device itself */
    if (desc->device) request.index = desc->device > 0 ? desc->device - 1 : INT32_MAX;
    else if (desc->device_name) request.name = desc->device_name;
    else if (text) {
        char *end = NULL;
        long number = strtol(text, &end, 10);
        request.source = "VKDISPATCH_DEVICE";
        if (*end || number < 0) request.name = text;
        else {
            request.index = number < INT32_MAX ? (int)number : INT32_MAX;
            request.number = text;
        }
    }
    return request;
}

/* Returns a score of a device, higher is better; 0: the request excludes it. Order: discrete, integrated, virtual, CPU,
   other. Of two devices of one type, the one with more memory has the higher score. */
static double vd__device_score(const vd_device_info *info, const vd__device_request *request) {
    static const double by_type[] = { 1, 5, 4, 3, 2 };
    if (request->index >= 0 && info->index != request->index) return 0;
    if (request->name && !vd__text_contains(info->name, request->name)) return 0;
    return ((size_t)info->type < VD__COUNT(by_type) ? by_type[info->type] : 1) + (double)info->device_memory / 1e20;
}

/* Reports that no device matches the request. Lists the devices of the driver. */
static vd_result vd__fail_no_device(const vd__driver *driver, const vd_context_desc *desc, const vd_device_info *infos,
                                    int count, const vd__device_request *request) {
    char names[512] = "none";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%d '%s'", i ? ", " : "", infos[i].index,
                                 infos[i].name);
    if (request->name)
        return vd__fail(VD_ERROR_NO_DEVICE, "%s is '%s', but the name of no %s device contains it; the devices are: %s",
                        request->source, request->name, driver->backend->name, names);
    if (request->number)
        return vd__fail(VD_ERROR_NO_DEVICE, "%s is %s, but the %s devices are: %s", request->source, request->number,
                        driver->backend->name, names);
    if (request->index >= 0)
        return vd__fail(VD_ERROR_NO_DEVICE, "desc.device is %d (1 + index), but the %s devices are: %s", desc->device,
                        driver->backend->name, names);
    return vd__fail(VD_ERROR_NO_DEVICE, "no device was found");
}

/* Opens device `index` of the driver without the features in `disable`. */
static vd_result vd__open_context_device(vd__context_device *dev, const vd_context_desc *desc, int index,
                                         uint64_t disable) {
    memset(&dev->device, 0, sizeof dev->device);
    dev->device.queue_count = desc->queues ? (uint32_t)desc->queues : 1;
    vd_result r = dev->ctx->driver.backend->device_open(&dev->ctx->driver, index, disable, &dev->device);
    if (disable & VD_FEATURE_SHARING) dev->device.sharing_mask = 0;
    dev->disable = disable;
    return r;
}

/* Opens the devices in desc.devices. If one fails, closes those that are open. `count`: number of devices of the
   driver. */
static vd_result vd__open_device_list(vd_context *ctx, const vd_context_desc *desc, uint64_t disable, int count) {
    vd_result r = VD_OK;
    uint32_t opened = 0;
    for (; opened < ctx->device_count && !r; opened++) {
        int number = desc->devices[opened];
        if (number < 1 || number > count)
            r = vd__fail(VD_ERROR_NO_DEVICE, "desc.devices[%u] is %d (1 + index), but %s has %d devices",
                         (unsigned)opened, number, ctx->driver.backend->name, count);
        else r = vd__open_context_device(&ctx->devices[opened], desc, number - 1, disable);
        if (r) break;
    }
    while (r && opened) ctx->driver.backend->device_close(&ctx->devices[--opened].device);
    return r;
}

/* Opens the device with the highest score. If opening fails, tries the next one. */
static vd_result vd__open_device(vd_context *ctx, const vd_context_desc *desc, uint64_t disable, vd_device_info *infos,
                                 int count) {
    vd__device_request request = vd__device_request_of(desc);
    vd_result r = VD_ERROR_NO_DEVICE;
    bool matched = false;
    for (;;) {
        int best = -1;
        double best_score = 0;
        for (int i = 0; i < count; i++) {
            double score = infos[i].index < 0 ? 0 : vd__device_score(&infos[i], &request);
            if (score <= best_score) continue;
            best = i;
            best_score = score;
        }
        if (best < 0) break;
        matched = true;
        r = vd__open_context_device(&ctx->devices[0], desc, infos[best].index, disable);
        if (!r) return VD_OK;
        vd__logf(&ctx->host, VD_LOG_INFO, "%s device '%s' could not be opened: %s", ctx->driver.backend->name,
                 infos[best].name, vd__error_join());
        infos[best].index = -1;
    }
    return matched ? r : vd__fail_no_device(&ctx->driver, desc, infos, count, &request);
}

/* Opens a backend and the requested devices. Leaves nothing open on failure. */
static vd_result vd__try_backend(vd_context *ctx, const vd__backend *backend, const vd_context_desc *desc,
                                 uint64_t disable) {
    memset(&ctx->driver, 0, sizeof ctx->driver);
    ctx->driver.backend = backend;
    ctx->driver.host = &ctx->host;
    vd_result r = backend->driver_open(&ctx->driver);
    if (r) return r;
    int count = backend->driver_devices(&ctx->driver, NULL, 0);
    vd_device_info *infos = (vd_device_info *)vd__alloc_zeroed(&ctx->host.allocator,
                                                               (size_t)(count > 0 ? count : 1) * sizeof *infos);
    if (!infos) r = vd__fail_memory(NULL, NULL, 0);
    else {
        int found = backend->driver_devices(&ctx->driver, infos, count);
        if (found > count) found = count;
        r = desc->device_count ? vd__open_device_list(ctx, desc, disable, found)
                               : vd__open_device(ctx, desc, disable, infos, found);
    }
    vd__free(&ctx->host.allocator, infos);
    if (r) backend->driver_close(&ctx->driver);
    return r;
}

/* Opens driver and devices of the requested backend, or of the first backend that works. The dummy backend is used only
   if it is requested. */
static vd_result vd__select(vd_context *ctx, const vd_context_desc *desc) {
    const vd__backend *requested;
    uint64_t disable;
    char reasons[768] = "";
    size_t used = 0;
    vd_result r = vd__select_backend(desc, &requested), first = VD_OK;
    if (!r) r = vd__select_options(&ctx->host, desc, &disable);
    if (r) return r;
    for (size_t i = 0; i < VD__COUNT(vd__backends); i++) {
        const vd__backend *backend = vd__backends[i];
        if (requested ? backend != requested : backend->id == VD_BACKEND_DUMMY) continue;
        r = vd__try_backend(ctx, backend, desc, disable);
        if (!r) {
            vd__logf(&ctx->host, VD_LOG_INFO, "using backend %s, device %d '%s'", backend->name,
                     ctx->devices->device.info.index, ctx->devices->device.info.name);
            return VD_OK;
        }
        vd__logf(&ctx->host, VD_LOG_INFO, "backend %s is not available: %s", backend->name, vd__error_join());
        if (!first) first = r;
        if (used < sizeof reasons)
            used += (size_t)snprintf(reasons + used, sizeof reasons - used, "%s%s: %.340s", used ? "; " : "",
                                     backend->name, vd__error_join());
    }
    if (!first)
        return vd__fail(VD_ERROR_NO_DEVICE, "only the dummy backend is compiled in; select it with desc.backend or "
                        "VKDISPATCH_BACKEND=dummy");
    return vd__fail(first, "%s", reasons);
}

// >>reflect
/* Reads the interface of a decoded SPIR-V module: entry point, arguments and their access, local size, shared
   memory. */

/* The interface of a module. Names belong to the module. */
typedef struct vd__reflection {
    const char *entry;
    vd_arg_info args[VD_MAX_ARGS];
    char names[VD_MAX_ARGS][8];  /* of arguments without a name in the module */
    uint32_t arg_count, argument_bytes, local_size[3], shared_bytes;
} vd__reflection;

typedef struct vd__reader {
    vd__spirv *m;
    vd__reflection *out;
    uint32_t entry_count;        /* entry points of the module, of any execution model */
    uint32_t main;               /* id of the entry point's function */
    uint32_t push;               /* id of the push-constant block; 0: none */
    uint32_t push_arg;           /* index of the argument that is its first member; the others follow */
    uint32_t size_by_id;         /* word of the execution mode LocalSizeId; 0: none */
    /* By id, a bit mask of arguments. Bit i of a pointer to a buffer: it may point to the buffer of argument i. Of a
       pointer to other memory: pointers stored there may. Of a function: pointers that it returns may. */
    uint64_t *targets;
    uint32_t *used;              /* by id: 0 if the entry point does not use it, else 1 + the next id of a list */
    uint8_t *seen;               /* by id: 1 if its targets were read */
} vd__reader;

/* Chooses the entry point: by name, or the only one. */
static vd_result vd__reflect_entry(vd__reader *s, const char *wanted) {
    const vd__spirv *m = s->m;
    uint32_t found = 0;
    for (uint32_t at = VD__SPIRV_HEAD; at < m->functions; at += vd__spirv_length(m, at)) {
        const uint32_t *w = m->words + at;
        if (vd__spirv_opcode(m, at) != VD__OpEntryPoint) continue;
        s->entry_count++;
        if (w[1] != VD__ExecutionModelGLCompute || (wanted && strcmp(wanted, (const char *)(w + 3)))) continue;
        if (found++) continue;
        s->main = w[2];
        s->out->entry = (const char *)(w + 3);
    }
    if (!found && wanted) return vd__fail(VD_ERROR_COMPILE, "the SPIR-V has no compute entry point '%s'", wanted);
    if (!found) return vd__fail(VD_ERROR_COMPILE, "the SPIR-V has no compute entry point");
    if (found > 1 && !wanted)
        return vd__fail(VD_ERROR_INVALID, "the SPIR-V has %u compute entry points; select one with desc.entry",
                        (unsigned)found);
    if (vd__spirv_defined_by(m, s->main) == VD__OpFunction) return VD_OK;
    return vd__fail(VD_ERROR_COMPILE, "the SPIR-V is invalid: the id %u of the entry point is not a function",
                    (unsigned)s->main);
}

/* Reads an execution mode of the entry point that sets the local size. */
static vd_result vd__reflect_size_mode(vd__reader *s, uint32_t at) {
    const uint32_t *w = s->m->words + at;
    bool by_id = (w[0] & 0xffffu) == VD__OpExecutionModeId;
    if (w[0] >> 16 != 6)
        return vd__spirv_invalid(at, "the execution mode for the local size has %u words, but it needs 6",
                                 (unsigned)(w[0] >> 16));
    for (int i = 0; i < 3; i++) {
        if (!by_id) s->out->local_size[i] = w[3 + i];
        else if (!vd__spirv_constant(s->m, w[3 + i], &s->out->local_size[i]))
            return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V has a local size whose component %d (id %u) is not a "
                            "literal constant", i, (unsigned)w[3 + i]);
    }
    if (by_id) s->size_by_id = at;
    return VD_OK;
}

/* Reads the local size. A constant decorated WorkgroupSize overrides the execution mode. */
static vd_result vd__reflect_local_size(vd__reader *s) {
    const vd__spirv *m = s->m;
    vd_result r = VD_OK;
    bool found = false;
    uint32_t built_in = 0;
    for (uint32_t at = VD__SPIRV_HEAD; at < m->functions && !r; at += vd__spirv_length(m, at)) {
        const uint32_t *w = m->words + at;
        uint32_t op = vd__spirv_opcode(m, at);
        if ((op != VD__OpExecutionMode || w[2] != VD__ExecutionModeLocalSize)
            && (op != VD__OpExecutionModeId || w[2] != VD__ExecutionModeLocalSizeId))
            continue;
        if (w[1] != s->main) continue;
        r = vd__reflect_size_mode(s, at);
        found = true;
    }
    for (uint32_t at = VD__SPIRV_HEAD; at < m->functions && !r; at += vd__spirv_length(m, at)) {
        const uint32_t *w = m->words + at;
        uint32_t op = vd__spirv_opcode(m, at);
        if ((op != VD__OpConstantComposite && op != VD__OpSpecConstantComposite)
            || !vd__spirv_decoration(m, w[2], VD__DecorationBuiltIn, &built_in)
            || built_in != VD__BuiltInWorkgroupSize)
            continue;
        for (uint32_t i = 0; i < 3; i++)
            if (w[0] >> 16 != 6 || !vd__spirv_constant(m, w[3 + i], &s->out->local_size[i]))
                return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V has a WorkgroupSize (id %u) that does not consist of "
                                "three literal constants", (unsigned)w[2]);
        found = true;
    }
    if (r || found) return r;
    return vd__fail(VD_ERROR_COMPILE, "the SPIR-V has no local size (LocalSize, LocalSizeId or WorkgroupSize)");
}

/* Replaces the execution mode LocalSizeId, which requires maintenance4, by LocalSize, which has as many words. */
static vd_result vd__reflect_literal_size(vd__reader *s) {
    uint32_t *words = vd__spirv_own(s->m);
    if (!words) return vd__fail_memory(NULL, NULL, 0);
    words += s->size_by_id;
    words[0] = (words[0] & 0xffff0000u) | VD__OpExecutionMode;
    words[2] = VD__ExecutionModeLocalSize;
    memcpy(words + 3, s->out->local_size, sizeof s->out->local_size);
    return VD_OK;
}

/* ---- arguments ---- */

/* Returns the size in bytes of a matrix that is a member of a struct: MatrixStride times its columns, or its rows if it
   is RowMajor; 0 without a MatrixStride. Sets `type` if the matrix is stored in columns without padding, like a
   vd_type. */
static uint32_t vd__reflect_matrix_size(const vd__spirv *m, uint32_t structure, uint32_t member, uint32_t id,
                                        vd_type *type) {
    const uint32_t *w = vd__spirv_definition(m, id);
    vd_type column = m->ids[w[2]].type;
    uint32_t columns = w[3], rows = vd__spirv_definition(m, w[2])[3], stride = 0;
    bool by_rows = vd__spirv_member_decoration(m, structure, member, VD__DecorationRowMajor, NULL);
    if (!vd__spirv_member_decoration(m, structure, member, VD__DecorationMatrixStride, &stride)) return 0;
    if (!by_rows && column && stride == rows * vd_type_size(column & 15u)) *type = column + 64 * (columns - 1);
    return vd__spirv_saturate((uint64_t)stride * (by_rows ? rows : columns));
}

/* Returns the size in bytes of a member of a struct, or 0 if it has no explicit layout that is supported. Sets the
   type: VD_BYTES if no vd_type describes it. */
static uint32_t vd__reflect_member_size(const vd__spirv *m, uint32_t structure, uint32_t member, int depth,
                                        vd_type *type) {
    uint32_t id = vd__spirv_definition(m, structure)[2 + member], count = 0, offset = 0, stride = 0;
    const uint32_t *w = vd__spirv_definition(m, id);
    *type = m->ids[id].type;
    switch (w[0] & 0xffffu) {
    case VD__OpTypeInt: case VD__OpTypeFloat: case VD__OpTypePointer: return m->ids[id].size;
    case VD__OpTypeVector: return *type ? m->ids[id].size : 0;
    case VD__OpTypeMatrix: return vd__reflect_matrix_size(m, structure, member, id, type);
    case VD__OpTypeArray:
        vd__spirv_decoration(m, id, VD__DecorationArrayStride, &stride);
        return vd__spirv_constant(m, w[3], &count) ? vd__spirv_saturate((uint64_t)count * stride) : 0;
    case VD__OpTypeStruct: break;
    default: return 0;
    }
    if (depth > 4 || w[0] >> 16 < 3 || w[0] >> 16 > VD_MAX_ARGS) return 0;
    uint32_t last = (w[0] >> 16) - 3, size = vd__reflect_member_size(m, id, last, depth + 1, type);
    *type = VD_BYTES;
    if (!size || !vd__spirv_member_decoration(m, id, last, VD__DecorationOffset, &offset)) return 0;
    return vd__spirv_saturate((uint64_t)offset + size);
}

static vd_arg_info *vd__reflect_add(vd__reader *s, vd_arg_kind kind, const char *name) {
    vd__reflection *out = s->out;
    if (out->arg_count == VD_MAX_ARGS) {
        vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V has more arguments than the limit of %d", VD_MAX_ARGS);
        return NULL;
    }
    vd_arg_info *a = &out->args[out->arg_count++];
    memset(a, 0, sizeof *a);
    a->kind = kind;
    a->name = name;
    return a;
}

/* Reads a storage block: the access that its decorations allow, and, if its only member is a run-time array, the type
   of the elements. */
static void vd__reflect_block(const vd__spirv *m, uint32_t type, vd_arg_info *a) {
    const uint32_t *w = vd__spirv_definition(m, type);
    uint32_t members = (w[0] & 0xffffu) == VD__OpTypeStruct ? (w[0] >> 16) - 2 : 0, stride = 0;
    uint64_t all = members - 1 < 64 ? UINT64_MAX >> (64 - members) : 0, unread = 0, unwritten = 0;
    for (uint32_t i = m->ids[type - 1].annotations; all && i < m->ids[type].annotations; i++) {
        const uint32_t *decorate = m->words + m->annotations[i];
        if ((decorate[0] & 0xffffu) != VD__OpMemberDecorate || decorate[2] >= members) continue;
        if (decorate[3] == VD__DecorationNonReadable) unread |= (uint64_t)1 << decorate[2];
        if (decorate[3] == VD__DecorationNonWritable) unwritten |= (uint64_t)1 << decorate[2];
    }
    if (all && unread == all) a->access &= ~(uint32_t)VD_READ;
    if (all && unwritten == all) a->access &= ~(uint32_t)VD_WRITE;
    if (members != 1 || vd__spirv_defined_by(m, w[2]) != VD__OpTypeRuntimeArray) return;
    const vd__spirv_id *element = &m->ids[vd__spirv_definition(m, w[2])[2]];
    vd__spirv_decoration(m, w[2], VD__DecorationArrayStride, &stride);
    if (element->type && stride == element->size) a->type = element->type;
}

/* Reads a variable with a descriptor. Only storage buffers are supported. */
static vd_result vd__reflect_resource(vd__reader *s, uint32_t id, uint32_t type, uint32_t storage) {
    const vd__spirv *m = s->m;
    const char *name = vd__spirv_name(m, id), *shown_name = name ? name : "";
    uint32_t op = vd__spirv_defined_by(m, type), set = 0, binding = 0;
    if (storage == VD__StorageClassUniformConstant)
        return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V has an image or sampler '%s', which is not supported; use "
                        "storage buffers", shown_name);
    if (op == VD__OpTypeArray || op == VD__OpTypeRuntimeArray)
        return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V has an array of descriptors '%s', which is not supported",
                        shown_name);
    if (op != VD__OpTypeStruct)
        return vd__spirv_invalid(m->ids[id].at, "the type %u of a buffer is not a struct", (unsigned)type);
    if (storage == VD__StorageClassUniform && !vd__spirv_decoration(m, type, VD__DecorationBufferBlock, NULL))
        return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V has a uniform block '%s', which is not supported; pass "
                        "values as push constants", shown_name);
    if (!vd__spirv_decoration(m, id, VD__DecorationBinding, &binding))
        return vd__spirv_invalid(m->ids[id].at, "buffer '%s' has no binding", shown_name);
    if (vd__spirv_decoration(m, id, VD__DecorationDescriptorSet, &set) && set)
        return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V has buffer '%s' in descriptor set %u, but only set 0 is "
                        "supported", shown_name, (unsigned)set);
    if (!name) name = vd__spirv_member_name(m, type, 0);
    if (!name) name = vd__spirv_name(m, type);
    for (uint32_t i = 0; i < s->out->arg_count; i++)
        if (s->out->args[i].kind == VD_ARG_BINDING && s->out->args[i].location == binding)
            return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V has two buffers with binding %u, which is not supported",
                            (unsigned)binding);
    vd_arg_info *a = vd__reflect_add(s, VD_ARG_BINDING, name);
    if (!a) return VD_ERROR_UNSUPPORTED;
    a->location = binding;
    if (!vd__spirv_decoration(m, id, VD__DecorationNonReadable, NULL)) a->access |= VD_READ;
    if (!vd__spirv_decoration(m, id, VD__DecorationNonWritable, NULL)) a->access |= VD_WRITE;
    s->targets[id] = (uint64_t)1 << (a - s->out->args);
    vd__reflect_block(m, type, a);
    return VD_OK;
}

/* Reads a member of the push-constant block: a value, or a buffer if it is a pointer to storage. */
static vd_result vd__reflect_push_member(vd__reader *s, uint32_t at, uint32_t type, uint32_t i) {
    const vd__spirv *m = s->m;
    const uint32_t *member = vd__spirv_definition(m, vd__spirv_definition(m, type)[2 + i]);
    uint32_t offset = 0, op = member[0] & 0xffffu;
    vd_type value = VD_BYTES;
    vd_arg_info *a = vd__reflect_add(s, op == VD__OpTypePointer ? VD_ARG_ADDRESS : VD_ARG_VALUE,
                                     vd__spirv_member_name(m, type, i));
    if (!a) return VD_ERROR_UNSUPPORTED;
    uint32_t size = vd__reflect_member_size(m, type, i, 0, &value);
    bool has_offset = vd__spirv_member_decoration(m, type, i, VD__DecorationOffset, &offset);
    if (!has_offset || !size)
        return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V has push-constant member %u '%s' without %s", (unsigned)i,
                        a->name ? a->name : "", !has_offset ? "an Offset" : op == VD__OpTypeMatrix ? "a MatrixStride"
                        : "a supported explicit layout");
    if (offset > VD_MAX_ARGUMENT_BYTES || size > VD_MAX_ARGUMENT_BYTES - offset)
        return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V has a push-constant member of %u bytes at offset %u, but the "
                        "limit is %d bytes", (unsigned)size, (unsigned)offset, VD_MAX_ARGUMENT_BYTES);
    a->location = offset;
    a->size = size;
    if (offset + size > s->out->argument_bytes) s->out->argument_bytes = (offset + size + 3) & ~3u;
    if (op != VD__OpTypePointer) {
        a->type = value;
        return VD_OK;
    }
    if (member[2] != VD__StorageClassPhysicalStorageBuffer)
        return vd__spirv_invalid(at, "a push constant is a pointer of another storage class than "
                                 "PhysicalStorageBuffer");
    a->access = VD_READ_WRITE;
    vd__reflect_block(m, member[3], a);
    return VD_OK;
}

static vd_result vd__reflect_push(vd__reader *s, uint32_t at, uint32_t type) {
    vd_result r = VD_OK;
    if (vd__spirv_defined_by(s->m, type) != VD__OpTypeStruct)
        return vd__spirv_invalid(at, "the type %u of a push-constant block is not a struct", (unsigned)type);
    if (s->push)
        return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V has two push-constant blocks, but only one is supported");
    s->push = s->m->words[at + 2];
    s->push_arg = s->out->arg_count;
    for (uint32_t i = 0; i < (vd__spirv_definition(s->m, type)[0] >> 16) - 2 && !r; i++)
        r = vd__reflect_push_member(s, at, type, i);
    return r;
}

/* Reads the global variables: shared memory and, if `args` is set, arguments. If the module has several entry points,
   only the variables that the chosen one uses. */
static vd_result vd__reflect_variables(vd__reader *s, bool args) {
    const vd__spirv *m = s->m;
    vd_result r = VD_OK;
    for (uint32_t at = VD__SPIRV_HEAD; at < m->functions && !r; at += vd__spirv_length(m, at)) {
        const uint32_t *w = m->words + at;
        if (vd__spirv_opcode(m, at) != VD__OpVariable || (s->entry_count > 1 && !s->used[w[2]])) continue;
        uint32_t type = vd__spirv_definition(m, w[1])[3], align = m->ids[type].align;
        switch (w[3]) {
        case VD__StorageClassWorkgroup: /* by the rule for maxComputeSharedMemorySize in the Vulkan specification */
            s->out->shared_bytes = vd__spirv_saturate(vd__spirv_aligned(s->out->shared_bytes, align)
                                                      + vd__spirv_aligned(m->ids[type].size, align));
            break;
        case VD__StorageClassPushConstant:
            if (args) r = vd__reflect_push(s, at, type);
            break;
        case VD__StorageClassStorageBuffer: case VD__StorageClassUniform: case VD__StorageClassUniformConstant:
            if (args) r = vd__reflect_resource(s, w[2], type, w[3]);
            break;
        default: break;
        }
    }
    return r;
}

/* Sorts the arguments: bindings by number, then values by offset. Names those that have no name. */
static void vd__reflect_order(vd__reflection *out) {
    for (uint32_t i = 1; i < out->arg_count; i++) {
        vd_arg_info a = out->args[i];
        uint32_t at = i;
        for (; at; at--) {
            const vd_arg_info *before = &out->args[at - 1];
            bool bound = a.kind == VD_ARG_BINDING, before_bound = before->kind == VD_ARG_BINDING;
            if (bound == before_bound ? before->location <= a.location : before_bound) break;
            out->args[at] = *before;
        }
        out->args[at] = a;
    }
    for (uint32_t i = 0; i < out->arg_count; i++) {
        if (out->args[i].name) continue;
        snprintf(out->names[i], sizeof out->names[i], "arg%u", (unsigned)(i % VD_MAX_ARGS));
        out->args[i].name = out->names[i];
    }
}

/* ---- access of the buffers ----
   A data-flow analysis that ignores the order of instructions: it follows pointers from the arguments through the
   functions that the entry point can call, and through the initialisers of global variables, until nothing changes. A
   physical pointer that is made from an integer or loaded from a buffer may point to every argument. */

typedef struct vd__flow {
    vd__reader *s;
    uint64_t all;              /* the arguments that are buffers */
    uint64_t read, written;
    uint32_t function;         /* id of the function that contains the instruction; 0: none */
    bool changed;              /* targets that were read before */
} vd__flow;

static uint64_t vd__flow_targets(const vd__flow *f, uint32_t id) {
    f->s->seen[id] = 1;
    return f->s->targets[id];
}

/* Returns the storage class of the memory that an id points to, or UINT32_MAX if it is not a pointer. */
static uint32_t vd__flow_class(const vd__flow *f, uint32_t id) {
    uint32_t type = vd__spirv_type_of(f->s->m, id);
    return type && vd__spirv_defined_by(f->s->m, type) == VD__OpTypePointer ? vd__spirv_definition(f->s->m, type)[2]
                                                                            : UINT32_MAX;
}

static bool vd__flow_is_pointer(const vd__flow *f, uint32_t id) { return vd__flow_class(f, id) != UINT32_MAX; }

static bool vd__flow_in_buffer(const vd__flow *f, uint32_t id) {
    uint32_t storage = vd__flow_class(f, id);
    return storage == VD__StorageClassStorageBuffer || storage == VD__StorageClassUniform
           || storage == VD__StorageClassPhysicalStorageBuffer;
}

static void vd__flow_add(vd__flow *f, uint32_t id, uint64_t targets) {
    if (!(targets & ~f->s->targets[id])) return;
    f->s->targets[id] |= targets;
    if (f->s->seen[id]) f->changed = true;
}

/* `to` is the same pointer as `from`, or points into the same memory, so it has the same targets. If that memory is not
   a buffer, a pointer that is stored through `to` can be loaded through `from`, so the targets of `to` are added to
   it. */
static void vd__flow_alias(vd__flow *f, uint32_t to, uint32_t from) {
    vd__flow_add(f, to, vd__flow_targets(f, from));
    if (from != f->s->push && vd__flow_is_pointer(f, from) && !vd__flow_in_buffer(f, from))
        vd__flow_add(f, from, vd__flow_targets(f, to));
}

/* Stores a value with these targets through a pointer. */
static void vd__flow_store(vd__flow *f, uint32_t pointer, uint64_t targets) {
    if (!vd__flow_in_buffer(f, pointer)) vd__flow_add(f, pointer, targets);
}

/* Returns the targets of pointers that are loaded through an id. */
static uint64_t vd__flow_loaded(const vd__flow *f, uint32_t id) {
    return vd__flow_in_buffer(f, id) ? f->all : vd__flow_targets(f, id);
}

/* Records an access through a pointer, if it may point to buffers. */
static void vd__flow_access(vd__flow *f, uint32_t id, uint32_t access) {
    if (!vd__flow_in_buffer(f, id)) return;
    if (access & VD_READ) f->read |= vd__flow_targets(f, id);
    if (access & VD_WRITE) f->written |= vd__flow_targets(f, id);
}

/* OpAccessChain into the push constants: a value that is loaded through its result is the address of that member's
   buffer. */
static void vd__flow_push_member(vd__flow *f, const uint32_t *w) {
    uint32_t member = 0;
    bool known = w[0] >> 16 > 4 && vd__spirv_constant(f->s->m, w[4], &member);
    const vd__reflection *out = f->s->out;
    uint64_t i = (uint64_t)f->s->push_arg + member;
    if (!known || i >= out->arg_count) vd__flow_add(f, w[2], f->all);
    else if (out->args[i].kind == VD_ARG_ADDRESS) vd__flow_add(f, w[2], (uint64_t)1 << i);
    else if (out->args[i].type == VD_BYTES) vd__flow_add(f, w[2], f->all); /* may contain addresses */
}

/* OpFunctionCall: the parameters get the targets of the arguments, the result those of the function. */
static void vd__flow_call(vd__flow *f, const uint32_t *w) {
    const vd__spirv *m = f->s->m;
    uint32_t at = m->ids[w[3]].at + vd__spirv_length(m, m->ids[w[3]].at);
    if (vd__spirv_defined_by(m, w[3]) != VD__OpFunction) return;
    for (uint32_t i = 4; i < w[0] >> 16 && vd__spirv_opcode(m, at) == VD__OpFunctionParameter; i++) {
        vd__flow_alias(f, m->words[at + 2], w[i]);
        at += vd__spirv_length(m, at);
    }
    vd__flow_add(f, w[2], vd__flow_targets(f, w[3]));
}

/* Any other instruction: a result that contains pointers may be a copy of each operand. */
static void vd__flow_operands(vd__flow *f, uint32_t at) {
    const uint32_t *w = f->s->m->words + at;
    const vd__spirv_op *op = vd__spirv_find_op(f->s->m, w[0] & 0xffffu);
    vd__spirv_operands o;
    if (op->operands[0] != 't' || !(f->s->m->ids[w[1]].flags & VD__SPIRV_POINTERS)) return;
    vd__spirv_operands_begin(f->s->m, at, &o);
    while (vd__spirv_next_id(&o)) vd__flow_alias(f, w[2], o.id);
}

/* Returns how an instruction accesses the memory that its first id operand points to. */
static uint32_t vd__flow_opcode_access(uint32_t op) {
    if (op == VD__OpLoad || op == VD__OpAtomicLoad) return VD_READ;
    if (op == VD__OpStore || op == VD__OpAtomicStore || op == VD__OpCopyMemory) return VD_WRITE;
    if (op >= VD__OpAtomicExchange && op <= VD__OpAtomicXor) return VD_READ_WRITE;
    return op == VD__OpAtomicFAddEXT ? VD_READ_WRITE : 0;
}

/* Applies one instruction to the targets and to the accesses. */
static void vd__flow_step(vd__flow *f, uint32_t at) {
    const vd__reader *s = f->s;
    const uint32_t *w = s->m->words + at;
    uint32_t op = w[0] & 0xffffu, access = vd__flow_opcode_access(op);
    if (access) vd__flow_access(f, op == VD__OpStore || op == VD__OpAtomicStore || op == VD__OpCopyMemory ? w[1] : w[3],
                                access);
    switch (op) {
    case VD__OpLoad:
        if (s->m->ids[w[1]].flags & VD__SPIRV_POINTERS) vd__flow_add(f, w[2], vd__flow_loaded(f, w[3]));
        break;
    case VD__OpStore: vd__flow_store(f, w[1], vd__flow_targets(f, w[2])); break;
    case VD__OpCopyMemory:
        vd__flow_access(f, w[2], VD_READ);
        vd__flow_store(f, w[1], vd__flow_loaded(f, w[2]));
        break;
    case VD__OpAccessChain: case VD__OpInBoundsAccessChain:
        if (w[3] == s->push) vd__flow_push_member(f, w);
        else vd__flow_alias(f, w[2], w[3]);
        break;
    case VD__OpConvertUToPtr: case VD__OpBitcast:
        if (vd__flow_is_pointer(f, w[2]))
            vd__flow_add(f, w[2], vd__flow_is_pointer(f, w[3]) ? vd__flow_targets(f, w[3]) : f->all);
        break;
    case VD__OpExtInst: /* modf and frexp of GLSL.std.450 write through a pointer */
        for (uint32_t i = 5; i < w[0] >> 16; i++) vd__flow_access(f, w[i], VD_READ_WRITE);
        break;
    case VD__OpFunctionCall: vd__flow_call(f, w); break;
    case VD__OpReturnValue: vd__flow_add(f, f->function, vd__flow_targets(f, w[1])); break;
    default: vd__flow_operands(f, at); break;
    }
}

/* Visits the instructions of the functions and global variables in use, repeatedly until nothing changes. Returns false
   if the targets still change after 64 iterations. */
static bool vd__flow_run(vd__flow *f) {
    const vd__spirv *m = f->s->m;
    f->changed = true;
    for (int round = 0; f->changed && round < 64; round++) {
        f->changed = false;
        f->function = 0;
        for (uint32_t at = VD__SPIRV_HEAD; at < m->count; at += vd__spirv_length(m, at)) {
            uint32_t op = vd__spirv_opcode(m, at);
            if (op == VD__OpFunction) f->function = m->words[at + 2];
            if (!f->function && op != VD__OpVariable) continue;
            if (f->s->used[f->function ? f->function : m->words[at + 2]]) vd__flow_step(f, at);
        }
    }
    return !f->changed;
}

/* Marks the operands of an instruction as used, and puts functions and variables on the list *next to be visited. */
static void vd__reflect_mark(vd__reader *s, uint32_t at, uint32_t *next) {
    vd__spirv_operands o;
    vd__spirv_operands_begin(s->m, at, &o);
    while (vd__spirv_next_id(&o)) {
        if (s->used[o.id]) continue;
        uint32_t op = vd__spirv_defined_by(s->m, o.id);
        s->used[o.id] = 1;
        if (op != VD__OpFunction && op != VD__OpVariable) continue;
        s->used[o.id] = 1 + *next;
        *next = o.id;
    }
}

/* Marks what the entry point uses: the functions that it can call, and the variables that these functions and the
   initialisers of used variables refer to. */
static void vd__reflect_use(vd__reader *s) {
    const vd__spirv *m = s->m;
    uint32_t next = s->main;
    s->used[next] = 1;
    while (next) {
        uint32_t at = m->ids[next].at;
        bool function = vd__spirv_opcode(m, at) == VD__OpFunction;
        next = s->used[next] - 1;
        vd__reflect_mark(s, at, &next);
        while (function && vd__spirv_opcode(m, at) != VD__OpFunctionEnd) {
            at += vd__spirv_length(m, at);
            vd__reflect_mark(s, at, &next);
        }
    }
}

/* Limits the access of each buffer to the reads and writes that the analysis has found. */
static void vd__reflect_access(vd__reader *s) {
    vd__reflection *out = s->out;
    vd__flow f;
    memset(&f, 0, sizeof f);
    f.s = s;
    for (uint32_t i = 0; i < out->arg_count; i++)
        if (out->args[i].kind != VD_ARG_VALUE) f.all |= (uint64_t)1 << i;
    if (s->push) s->targets[s->push] = f.all;
    if (!vd__flow_run(&f)) f.read = f.written = f.all;
    for (uint32_t i = 0; i < out->arg_count; i++) {
        if (out->args[i].kind == VD_ARG_VALUE) continue;
        out->args[i].access &= (f.read >> i & 1u ? (uint32_t)VD_READ : 0u)
                               | (f.written >> i & 1u ? (uint32_t)VD_WRITE : 0u);
        if (!out->args[i].access) out->args[i].access = VD_READ;
    }
}

/* Reads the interface of a module; the arguments only if the desc lists none. May replace m->words by a copy. */
static vd_result vd__reflect(vd__spirv *m, const vd_kernel_desc *desc, vd__reflection *out) {
    bool args = !desc->args && !desc->arg_count && !desc->implicit_count && !desc->argument_bytes;
    vd__reader s;
    memset(out, 0, sizeof *out);
    memset(&s, 0, sizeof s);
    s.m = m;
    s.out = out;
    s.targets = (uint64_t *)vd__alloc_zeroed(m->allocator, m->bound * (sizeof *s.targets + sizeof *s.used + 1));
    if (!s.targets) return vd__fail_memory(NULL, NULL, 0);
    s.used = (uint32_t *)(void *)(s.targets + m->bound);
    s.seen = (uint8_t *)(s.used + m->bound);
    vd_result r = vd__reflect_entry(&s, desc->entry);
    if (!r) r = vd__reflect_local_size(&s);
    if (!r && (args || s.entry_count > 1)) vd__reflect_use(&s);
    if (!r) r = vd__reflect_variables(&s, args);
    if (!r && args) vd__reflect_access(&s);
    if (!r) vd__reflect_order(out);
    if (!r && s.size_by_id) r = vd__reflect_literal_size(&s);
    vd__free(m->allocator, s.targets);
    return r;
}

VD__SMALL_END

// >>validate
/* Checks descs and arguments, and looks up handles. Messages name the call, the object, the argument, its value and
   the limit. */

#define VD__TYPE_NAMES(t) \
    { t,        t "x2",   t "x3",   t "x4",   t "x1x2", t "x2x2", t "x3x2", t "x4x2", \
      t "x1x3", t "x2x3", t "x3x3", t "x4x3", t "x1x4", t "x2x4", t "x3x4", t "x4x4" }
#define VD__TYPE_KINDS(X) \
    X("bool"), X("i8"), X("i16"), X("i32"), X("i64"), X("u8"), X("u16"), X("u32"), X("u64"), \
    X("f16"), X("f32"), X("f64")
#define VD__TYPE_COMPLEX(t) VD__TYPE_NAMES("complex " t)
/* by complex, scalar kind - 1, and rows and columns: bits 4 … 7 of the type */
static const char *const vd__type_names[2][12][16] = {
    { VD__TYPE_KINDS(VD__TYPE_NAMES) },
    { VD__TYPE_KINDS(VD__TYPE_COMPLEX) }
};

/* Returns the size in bytes of one scalar of a type, or 0 for VD_BYTES and structs. */
static uint32_t vd__scalar_size(vd_type type) {
    static const uint8_t sizes[16] = { 0, 4, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 0, 0, 0 };
    return type >= VD_STRUCT(0) ? 0 : sizes[type & 15u];
}

static bool vd__type_is_valid(vd_type type) { return type == VD_BYTES || vd_type_size(type); }

/* Finds a buffer. The caller holds a lock that keeps it alive (see vd__slot). `which` is "", "source " or "target ".
   Returns NULL and sets the error if the handle is invalid. */
static vd__buffer *vd__buffer_find(vd_context *ctx, vd_buffer handle, const char *call, const char *which) {
    vd__buffer *b = (vd__buffer *)(void *)vd__pool_find(&ctx->buffers, handle.id);
    if (!b)
        vd__fail_call(VD_ERROR_INVALID, call, NULL, "the %sbuffer %s", which,
                      vd__pool_reason(&ctx->buffers, handle.id));
    return b;
}

/* Finds a buffer for a command and pins it in the list. The caller holds the list's lock. */
static vd__buffer *vd__list_buffer(vd_list *l, vd_buffer handle, const char *call, const char *which) {
    vd__buffer *b = vd__buffer_find(l->ctx, handle, call, which);
    uint32_t use;
    return b && !vd__list_pin(l, &b->slot, handle.id, &use) ? b : NULL;
}

/* Finds an object and pins it. Returns NULL if the handle is invalid. */
static vd__slot *vd__pool_pin(vd_context *ctx, const vd__pool *pool, uint64_t id) {
    vd__slot *slot = vd__pool_find(pool, id);
    if (!slot || vd__slot_pin(slot, id)) return slot;
    vd__slot_unpin(ctx, slot);
    return NULL;
}

/* Finds and pins a buffer: it stays allocated until vd__slot_unpin. Returns NULL and sets the error if the handle is
   invalid. */
static vd__buffer *vd__buffer_pin(vd_context *ctx, vd_buffer handle, const char *call, const char *which) {
    vd__buffer *b = (vd__buffer *)(void *)vd__pool_pin(ctx, &ctx->buffers, handle.id);
    if (!b)
        vd__fail_call(VD_ERROR_INVALID, call, NULL, "the %sbuffer %s", which,
                      vd__pool_reason(&ctx->buffers, handle.id));
    return b;
}

static void vd__buffer_unpin(vd_context *ctx, vd__buffer *b) {
    if (b) vd__slot_unpin(ctx, &b->slot);
}

/* Reports an invalid kernel handle. If it is 0, names the last failure to create a kernel. */
static VD__COLD void vd__kernel_fail_handle(vd_context *ctx, vd_kernel handle, const char *call) {
    vd__mutex_lock(&ctx->lock);
    const char *failure = handle.id ? NULL : ctx->kernel_failure;
    vd__fail_call(VD_ERROR_INVALID, call, NULL, "the kernel %s%s%s%s", vd__pool_reason(&ctx->kernels, handle.id),
                  failure ? " (last failure: " : "", failure ? failure : "", failure ? ")" : "");
    vd__mutex_unlock(&ctx->lock);
}

static vd__kernel *vd__kernel_find(vd_context *ctx, vd_kernel handle, const char *call) {
    vd__kernel *k = (vd__kernel *)(void *)vd__pool_find(&ctx->kernels, handle.id);
    if (!k) vd__kernel_fail_handle(ctx, handle, call);
    return k;
}

static vd__ticket *vd__ticket_find(vd_context *ctx, vd_ticket handle, const char *call) {
    vd__ticket *t = (vd__ticket *)(void *)vd__pool_find(&ctx->tickets, handle.id);
    if (!t) vd__fail_call(VD_ERROR_INVALID, call, NULL, "the ticket %s", vd__pool_reason(&ctx->tickets, handle.id));
    return t;
}

/* Enters a user callback: pushes a frame onto the thread's list. `exclusive`: a lock is held or a command is partly
   recorded, so the callback must not make calls that use the context. */
static VD__COLD void vd__callback_begin(vd__callback_frame *v, vd_context *ctx, const char *call, const char *what,
                                        bool exclusive) {
    v->ctx = ctx;
    v->call = call;
    v->what = what;
    v->exclusive = exclusive;
    v->outer = vd__callback_frames;
    vd__callback_frames = v;
    if (exclusive) vd__atomic_add32(&ctx->state, VD__IN_EXCLUSIVE_CALLBACK);
}

static VD__COLD void vd__callback_end(const vd__callback_frame *v) {
    vd__callback_frames = v->outer;
    if (v->exclusive) vd__atomic_add32(&v->ctx->state, 0u - VD__IN_EXCLUSIVE_CALLBACK);
}

/* Fails if this thread is in an exclusive callback of the context (any_callback: in any callback of the context), or if
   the context is being destroyed. */
static VD__COLD vd_result vd__callback_check(const vd_context *ctx, const char *call, bool any_callback) {
    const vd__callback_frame *v = vd__callback_frames;
    while (v && (v->ctx != ctx || !(v->exclusive || any_callback))) v = v->outer;
    if (v)
        return vd__fail_call(VD_ERROR_INVALID, call, NULL, "must not be called from `%s` of %s", v->what, v->call);
    return vd__atomic_load32(&ctx->state) & VD__CLOSING ? vd__fail_call(VD_ERROR_INVALID, call, NULL,
                                                                 "the context is being destroyed") : VD_OK;
}

/* Returns whether this thread is in a callback of the context. */
static bool vd__callback_is_running(const vd_context *ctx) {
    const vd__callback_frame *v = vd__callback_frames;
    while (v && v->ctx != ctx) v = v->outer;
    return v != NULL;
}

/* Completes the error of a user callback. If the callback failed without setting an error, sets one; if it set an
   error with the same result, keeps that. If it succeeded and set no error, restores `before`, the result code of
   the error that was set before the callback. */
static VD__COLD vd_result vd__callback_result(const char *call, const char *object, const char *what, vd_result r,
                                           vd_result before) {
    if (!r && !vd__last_error.code) vd__last_error.code = before;
    if (!r || vd__last_error.code == r) return r;
    return vd__fail_call(r, call, object, "`%s` returned %s", what, vd_result_name(r));
}

static inline bool vd__context_lost(const vd_context *ctx) { return (vd__atomic_load32(&ctx->state) & VD__LOST) != 0; }

/* Fails if the context is NULL, its device is lost, or this thread may not use it now. */
static vd_result vd__context_check(const vd_context *ctx, const char *call) {
    if (!ctx) return vd__fail_call(VD_ERROR_INVALID, call, NULL, "the context is NULL");
    if (VD__LIKELY(!vd__atomic_load32(&ctx->state))) return VD_OK;
    if (vd__context_lost(ctx))
        return vd__fail_call(VD_ERROR_DEVICE_LOST, call, NULL, "device %u '%s' was lost earlier",
                             (unsigned)ctx->lost_device - 1,
                             ctx->devices[ctx->lost_device - 1].device.info.name);
    return vd__callback_check(ctx, call, false);
}

/* Checks that [offset, offset + *size) is inside the buffer. Replaces VD_WHOLE by the bytes up to the end. */
static vd_result vd__range_check(const vd__buffer *b, const char *call, const char *what, uint64_t offset,
                                 uint64_t *size) {
    if (offset > b->size)
        return vd__fail_call(VD_ERROR_INVALID, call, NULL, "%soffset %llu is past the end of buffer '%s' (%llu bytes)",
                             what, VD__U(offset), b->name, VD__U(b->size));
    if (*size == VD_WHOLE) *size = b->size - offset;
    if (*size > b->size - offset)
        return vd__fail_call(VD_ERROR_INVALID, call, NULL, "%soffset %llu + size %llu is past the end of buffer '%s' "
                             "(%llu bytes)", what, VD__U(offset), VD__U(*size), b->name, VD__U(b->size));
    return VD_OK;
}

/* Returns the storage of a buffer on a device. Returns NULL and sets the error if the buffer is not on that device. */
static vd__storage *vd__buffer_storage_on(const vd__buffer *b, const vd__context_device *dev, const char *call) {
    vd__storage *s = b->storage + dev->index;
    if (s->memory.serial) return s;
    vd__fail_call(VD_ERROR_INVALID, call, NULL, "buffer '%s' has no memory on device %u (its device mask is 0x%x)",
                  b->name, (unsigned)dev->index, (unsigned)b->devices);
    return NULL;
}

/* Checks a range of a buffer on the list's device, resolves VD_WHOLE, and pins the buffer in the list. The caller has
   pinned it already, or holds the list's lock. `what` precedes "offset" in messages. */
static vd_result vd__span_check(vd_list *l, const vd__buffer *b, const char *call, const char *what, uint64_t offset,
                                uint64_t size, vd__span *out) {
    vd__slot *slot = (vd__slot *)(uintptr_t)&b->slot;
    vd_result r = vd__list_pin(l, slot, vd__atomic_load64(&slot->id), &out->use);
    if (!r) r = vd__range_check(b, call, what, offset, &size);
    if (r) return r;
    out->storage = vd__buffer_storage_on(b, l->queue->context_device, call);
    if (!out->storage) return VD_ERROR_INVALID;
    out->offset = b->offset + offset;
    out->size = size;
    return VD_OK;
}

/* Like vd__span_check, for a handle. `which` precedes "buffer" in messages. */
static vd_result vd__span_find(vd_list *l, vd_buffer handle, const char *call, const char *which, const char *what,
                               uint64_t offset, uint64_t size, vd__span *out) {
    const vd__buffer *b = vd__list_buffer(l, handle, call, which);
    return b ? vd__span_check(l, b, call, what, offset, size, out) : vd__last_error.code;
}

/* Returns the distance from the first byte of a region to the end of its last row. */
static uint64_t vd__region_extent(const vd__region *g) { return g->rows ? (g->rows - 1) * g->pitch + g->row : 0; }

/* Returns the number of bytes in all rows, without the gaps between them. */
static uint64_t vd__region_bytes(const vd__region *g) { return g->rows * g->row; }

/* Returns a contiguous region: one row. */
static vd__region vd__region_contiguous(uint64_t offset, uint64_t size) {
    vd__region g = { 0, 0, 1, 0, 0 };
    g.offset = offset;
    g.row = g.pitch = g.host_pitch = size;
    return g;
}

/* Checks a pitch in bytes. 0 becomes the row size. */
static vd_result vd__pitch_check(const char *call, const char *what, uint64_t *pitch, uint64_t row) {
    if (!*pitch) *pitch = row;
    if (*pitch >= row) return VD_OK;
    return vd__fail_call(VD_ERROR_INVALID, call, NULL, "%spitch %llu is less than the %llu bytes of a row", what,
                         VD__U(*pitch), VD__U(row));
}

/* Checks the rows of a buffer and resolves defaults. Merges rows without gaps into one row. In messages, `what`
   precedes the buffer's "offset" and "pitch", and `host_what` the "pitch" in host memory. */
static vd_result vd__region_check(const vd__buffer *b, const char *call, const char *what, const char *host_what,
                                  vd__region *g) {
    if (!g->rows) g->rows = 1;
    if (g->rows > 1 && (!g->row || g->row == VD_WHOLE))
        return vd__fail_call(VD_ERROR_INVALID, call, NULL, "rows is %llu, but row_bytes is not set", VD__U(g->rows));
    if (!g->row) g->row = VD_WHOLE;
    if (g->rows == 1) g->pitch = g->host_pitch = 0;
    vd_result r = vd__range_check(b, call, what, g->offset, &g->row);
    if (!r) r = vd__pitch_check(call, what, &g->pitch, g->row);
    if (!r) r = vd__pitch_check(call, host_what, &g->host_pitch, g->row);
    if (r) return r;
    uint64_t available = b->size - g->offset - g->row;
    if (g->rows > 1 && (g->pitch > available || g->rows - 1 > available / g->pitch))
        return vd__fail_call(VD_ERROR_INVALID, call, NULL, "%soffset %llu + %llu rows of %llu bytes with pitch %llu is "
                             "past the end of buffer '%s' (%llu bytes)", what, VD__U(g->offset), VD__U(g->rows),
                             VD__U(g->row), VD__U(g->pitch), b->name, VD__U(b->size));
    if (g->rows > 1 && g->host_pitch > ((uint64_t)PTRDIFF_MAX - g->row) / (g->rows - 1))
        return vd__fail_call(VD_ERROR_INVALID, call, NULL, "%spitch %llu x %llu rows exceeds the address space",
                             host_what, VD__U(g->host_pitch), VD__U(g->rows));
    if (g->pitch == g->row && g->host_pitch == g->row) *g = vd__region_contiguous(g->offset, vd__region_bytes(g));
    return VD_OK;
}

VD__SMALL

enum { VD__EXTENT_TEXT = 96 }; /* four numbers of 20 digits with separators */

/* Writes an extent to `out` up to its last nonzero axis, for example "2 x 3". */
static VD__COLD const char *vd__extent_print(char out[VD__EXTENT_TEXT], const uint64_t *extent, int rank) {
    size_t used = 0;
    while (rank > 1 && !extent[rank - 1]) rank--;
    for (int i = 0; i < rank; i++)
        used += (size_t)snprintf(out + used, VD__EXTENT_TEXT - used, "%s%llu", i ? " x " : "", VD__U(extent[i]));
    return out;
}

/* Resolves a shape (trailing zeros become 1) and computes its size in bytes. */
static vd_result vd__shape_check(const char *call, const char *name, vd_type type, const uint64_t desc_shape[4],
                                 uint64_t shape[4], uint64_t *size) {
    char text[VD__EXTENT_TEXT];
    uint64_t total = type == VD_BYTES ? 1 : vd_type_size(type);
    int rank = 4;
    if (!total)
        return vd__fail_call(VD_ERROR_INVALID, call, name, "desc.type is %u, not a valid vd_type", (unsigned)type);
    while (rank && !desc_shape[rank - 1]) rank--;
    if (!rank) return vd__fail_call(VD_ERROR_INVALID, call, name, "desc.shape is 0 along all axes");
    for (int i = 0; i < 4; i++) {
        shape[i] = i < rank ? desc_shape[i] : 1;
        if (!shape[i])
            return vd__fail_call(VD_ERROR_INVALID, call, name, "desc.shape[%d] is 0, but desc.shape[%d] is not", i,
                                 rank - 1);
        if (shape[i] > (UINT64_MAX >> 1) / total)
            return vd__fail_call(VD_ERROR_INVALID, call, name, "type %s with shape %s has more than 2^63 - 1 bytes",
                                 vd_type_name(type), vd__extent_print(text, desc_shape, 4));
        total *= shape[i];
    }
    *size = total;
    return VD_OK;
}

/* Fails if the device does not support a kind of memory sharing. */
static vd_result vd__sharing_possible(const vd__device *dev, const char *name, vd__sharing sharing) {
    static const char *const what[] = {
        "", "importing a device address", "importing host memory", "importing a cl_mem",
        "importing memory by handle", "exportable memory"
    };
    if (dev->sharing_mask >> sharing & 1u) return VD_OK;
    return vd__fail_call(VD_ERROR_UNSUPPORTED, "vd_buffer_create", name, "device '%s' of backend %s does not support "
                         "%s%s", dev->info.name, dev->driver->backend->name, what[sharing],
                         dev->info.features & VD_FEATURE_SHARING ? "" : " (feature sharing)");
}

/* Checks that external memory belongs to this device and is large enough. */
static vd_result vd__external_check(const vd__device *dev, const char *name, const vd_external *e, uint64_t size) {
    char mine[33], theirs[33];
    if (e->handle < 0)
        return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_create", name,
                             "desc.external->handle is %lld, but it must not be negative", (long long)e->handle);
    if (e->offset > e->size || size > e->size - e->offset)
        return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_create", name,
                             "%llu bytes at offset %llu are past the end of the external memory (%llu bytes)",
                             VD__U(size), VD__U(e->offset), VD__U(e->size));
    if (!memcmp(e->uuid, dev->info.uuid, sizeof e->uuid)) return VD_OK;
    for (int i = 0; i < 16; i++) {
        snprintf(mine + 2 * i, 3, "%02x", dev->info.uuid[i]);
        snprintf(theirs + 2 * i, 3, "%02x", e->uuid[i]);
    }
    return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_create", name, "desc.external belongs to another device (UUID "
                         "%s) than '%s' (UUID %s)", theirs, dev->info.name, mine);
}

static vd__sharing vd__import_sharing(const vd_buffer_desc *desc) {
    return desc->external ? VD__SHARE_HANDLE : (vd__sharing)(VD__SHARE_ADDRESS + (int)desc->import);
}

/* Checks the fields of the desc that import or export memory. */
static vd_result vd__sharing_check(const vd_context *ctx, const vd_buffer_desc *desc, const char *name, uint64_t size) {
    uint32_t mask = desc->devices ? desc->devices : (1u << ctx->device_count) - 1;
    const vd__device *dev = &ctx->devices[vd__lowest_bit(mask)].device;
    bool imports = desc->address || desc->external;
    if ((unsigned)desc->import > VD_IMPORT_CL_MEM)
        return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_create", name, "desc.import is %d, not a valid "
                             "vd_import (0 to %d)", (int)desc->import, VD_IMPORT_CL_MEM);
    if (!imports && (desc->import || desc->address_offset))
        return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_create", name, "%s is set, but desc.address is 0",
                             desc->import ? "desc.import" : "desc.address_offset");
    if (!imports && desc->release)
        return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_create", name,
                             "desc.release is set, but neither desc.address nor desc.external is");
    if (!imports && !desc->exportable) return VD_OK;
    if (mask & (mask - 1))
        return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_create", name, "desc.%s is set, which needs exactly one "
                             "device, but the device mask is 0x%x; set desc.devices",
                             desc->address ? "address" : desc->external ? "external" : "exportable", (unsigned)mask);
    if (!imports) return vd__sharing_possible(dev, name, VD__SHARE_EXPORT);
    if (desc->exportable || (desc->address && desc->external))
        return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_create", name, "%s",
                             desc->exportable ? "memory from desc.address or desc.external cannot be exportable"
                                              : "desc.address and desc.external are both set");
    if (desc->external && desc->import)
        return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_create", name,
                             "desc.import is %d, but it applies only to desc.address, and desc.external is set",
                             (int)desc->import);
    if (desc->data)
        return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_create", name,
                             "desc.%s and desc.data are both set, but imported memory keeps its contents",
                             desc->address ? "address" : "external");
    vd__sharing sharing = vd__import_sharing(desc);
    vd_result r = vd__sharing_possible(dev, name, sharing);
    if (r) return r;
    if (sharing <= VD__SHARE_HOST && desc->address % 16)
        return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_create", name, "desc.address 0x%llx is not a multiple of 16",
                             VD__U(desc->address));
    if (desc->address_offset > (UINT64_MAX >> 1) - size
        || (sharing <= VD__SHARE_HOST && desc->address > UINT64_MAX - desc->address_offset - size))
        return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_create", name,
                             "desc.address 0x%llx + desc.address_offset %llu + size %llu exceeds the address space",
                             VD__U(desc->address), VD__U(desc->address_offset), VD__U(size));
    return desc->external ? vd__external_check(dev, name, desc->external, desc->address_offset + size) : VD_OK;
}

/* Checks a buffer desc and resolves its shape and its size in bytes. */
static vd_result vd__buffer_check(const vd_context *ctx, const vd_buffer_desc *desc, uint64_t shape[4],
                                  uint64_t *size) {
    const char *name = desc->name ? desc->name : "";
    uint32_t all = (1u << ctx->device_count) - 1;
    if ((unsigned)desc->memory > VD_MEMORY_SHARED)
        return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_create", name, "desc.memory is %d, not a valid "
                             "vd_memory (0 to %d)", (int)desc->memory, VD_MEMORY_SHARED);
    if (desc->devices & ~all)
        return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_create", name,
                             "desc.devices is 0x%x, but the context has %u devices (mask 0x%x)",
                             (unsigned)desc->devices, (unsigned)ctx->device_count, (unsigned)all);
    vd_result r = vd__shape_check("vd_buffer_create", name, desc->type, desc->shape, shape, size);
    if (!r) r = vd__sharing_check(ctx, desc, name, *size);
    for (uint32_t i = 0; i < ctx->device_count && !r; i++) {
        const vd_device_info *info = &ctx->devices[i].device.info;
        if (desc->devices && !(desc->devices >> i & 1u)) continue;
        if (*size > info->limits.max_buffer_bytes)
            r = vd__fail_call(VD_ERROR_UNSUPPORTED, "vd_buffer_create", name,
                              "the buffer has %llu bytes, but the limit of '%s' is %llu (max_buffer_bytes)",
                              VD__U(*size), info->name, VD__U(info->limits.max_buffer_bytes));
        else if (*size > info->device_memory)
            r = vd__error_add_out_of_memory(vd__fail_call(VD_ERROR_OUT_OF_DEVICE_MEMORY, "vd_buffer_create", name,
                                                         "the buffer has %llu bytes, but '%s' has %llu (device_memory)",
                                                         VD__U(*size), info->name, VD__U(info->device_memory)));
    }
    return r;
}

/* Checks a view desc and resolves its shape and size. A shape of zeros means the rest of the buffer. */
static vd_result vd__view_check(const vd__buffer *b, const vd_view_desc *desc, uint64_t shape[4], uint64_t *size) {
    const char *name = desc->name ? desc->name : b->name;
    uint64_t element = desc->type == VD_BYTES ? 1 : vd_type_size(desc->type), rest[4] = { 0, 0, 0, 0 };
    const uint64_t *desc_shape = desc->shape;
    if (desc->offset >= b->size)
        return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_view", name, "desc.offset %llu is not inside buffer '%s' "
                             "(%llu bytes)", VD__U(desc->offset), b->name, VD__U(b->size));
    uint64_t available = b->size - desc->offset;
    if (!(desc_shape[0] | desc_shape[1] | desc_shape[2] | desc_shape[3]) && element) {
        if (available % element)
            return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_view", name, "the %llu bytes from desc.offset %llu to "
                                 "the end of buffer '%s' are not a whole number of %s elements", VD__U(available),
                                 VD__U(desc->offset), b->name, vd_type_name(desc->type));
        rest[0] = available / element;
        desc_shape = rest;
    }
    vd_result r = vd__shape_check("vd_buffer_view", name, desc->type, desc_shape, shape, size);
    if (r || *size <= available) return r;
    return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_view", name, "desc.offset %llu + size %llu is past the end of "
                         "buffer '%s' (%llu bytes)", VD__U(desc->offset), VD__U(*size), b->name, VD__U(b->size));
}

/* ---- checks of SPIR-V modules against devices ---- */

#define VD__REFUSED UINT32_MAX
#define VD__CAPABILITY(name, feature) { VD__Capability##name, feature, #name }
/* The feature that each capability requires; 0: none; VD__REFUSED: not supported, listed for its name in messages. */
static const struct { uint32_t number, feature; const char *name; } vd__capabilities[] = {
    VD__CAPABILITY(Matrix, 0), VD__CAPABILITY(Shader, 0), VD__CAPABILITY(Float16, VD_FEATURE_F16),
    VD__CAPABILITY(Float64, VD_FEATURE_F64), VD__CAPABILITY(Int64, VD_FEATURE_I64),
    VD__CAPABILITY(Int64Atomics, VD_FEATURE_ATOMIC_I64), VD__CAPABILITY(ImageBasic, VD_FEATURE_IMAGE),
    VD__CAPABILITY(Int16, VD_FEATURE_I16), VD__CAPABILITY(Int8, VD_FEATURE_I8),
    VD__CAPABILITY(Sampled1D, VD_FEATURE_IMAGE), VD__CAPABILITY(Image1D, VD_FEATURE_IMAGE),
    VD__CAPABILITY(SampledBuffer, VD_FEATURE_IMAGE), VD__CAPABILITY(ImageBuffer, VD_FEATURE_IMAGE),
    VD__CAPABILITY(StorageImageExtendedFormats, VD_FEATURE_IMAGE_FORMATS), VD__CAPABILITY(ImageQuery, VD_FEATURE_IMAGE),
    VD__CAPABILITY(StorageImageReadWithoutFormat, VD_FEATURE_IMAGE_READ),
    VD__CAPABILITY(StorageImageWriteWithoutFormat, VD_FEATURE_IMAGE_WRITE),
    VD__CAPABILITY(GroupNonUniform, VD_FEATURE_SUBGROUP), VD__CAPABILITY(GroupNonUniformVote, VD_FEATURE_SUBGROUP),
    VD__CAPABILITY(GroupNonUniformArithmetic, VD_FEATURE_SUBGROUP),
    VD__CAPABILITY(GroupNonUniformBallot, VD_FEATURE_SUBGROUP),
    VD__CAPABILITY(GroupNonUniformShuffle, VD_FEATURE_SUBGROUP),
    VD__CAPABILITY(GroupNonUniformShuffleRelative, VD_FEATURE_SUBGROUP),
    VD__CAPABILITY(GroupNonUniformClustered, VD_FEATURE_SUBGROUP_CLUSTERED),
    VD__CAPABILITY(SubgroupBallotKHR, VD_FEATURE_SUBGROUP), VD__CAPABILITY(SubgroupVoteKHR, VD_FEATURE_SUBGROUP),
    VD__CAPABILITY(StorageBuffer16BitAccess, VD_FEATURE_STORAGE_16),
    VD__CAPABILITY(StorageBuffer8BitAccess, VD_FEATURE_STORAGE_8),
    VD__CAPABILITY(PhysicalStorageBufferAddresses, VD_FEATURE_ADDRESS),
    VD__CAPABILITY(DotProductInputAll, VD_FEATURE_DOT_4X8), VD__CAPABILITY(DotProductInput4x8Bit, VD_FEATURE_DOT_4X8),
    VD__CAPABILITY(DotProductInput4x8BitPacked, VD_FEATURE_DOT_4X8), VD__CAPABILITY(DotProduct, VD_FEATURE_DOT_4X8),
    VD__CAPABILITY(AtomicFloat32AddEXT, VD_FEATURE_ATOMIC_F32_ADD), VD__CAPABILITY(Addresses, VD__REFUSED),
    VD__CAPABILITY(Linkage, VD__REFUSED), VD__CAPABILITY(Kernel, VD__REFUSED),
    VD__CAPABILITY(UniformBufferArrayDynamicIndexing, VD__REFUSED),
    VD__CAPABILITY(StorageBufferArrayDynamicIndexing, VD__REFUSED), VD__CAPABILITY(GroupNonUniformQuad, VD__REFUSED),
    VD__CAPABILITY(UniformAndStorageBuffer16BitAccess, VD__REFUSED), VD__CAPABILITY(StoragePushConstant16, VD__REFUSED),
    VD__CAPABILITY(VariablePointersStorageBuffer, VD__REFUSED), VD__CAPABILITY(VariablePointers, VD__REFUSED),
    VD__CAPABILITY(UniformAndStorageBuffer8BitAccess, VD__REFUSED), VD__CAPABILITY(StoragePushConstant8, VD__REFUSED),
    VD__CAPABILITY(DenormPreserve, VD__REFUSED), VD__CAPABILITY(DenormFlushToZero, VD__REFUSED),
    VD__CAPABILITY(SignedZeroInfNanPreserve, VD__REFUSED), VD__CAPABILITY(RoundingModeRTE, VD__REFUSED),
    VD__CAPABILITY(RoundingModeRTZ, VD__REFUSED), VD__CAPABILITY(ShaderClockKHR, VD__REFUSED),
    VD__CAPABILITY(VulkanMemoryModel, VD__REFUSED), VD__CAPABILITY(VulkanMemoryModelDeviceScope, VD__REFUSED),
    VD__CAPABILITY(AtomicFloat64AddEXT, VD__REFUSED)
};

/* Adds the feature that a capability or an execution mode requires to *features. Fails if the first device lacks it;
   the other devices are checked with the desc. `what` precedes the name in the message. */
static vd_result vd__module_require(const vd_context *ctx, const char *what, const char *name, uint32_t feature,
                                 uint64_t *features) {
    const vd_device_info *info = &ctx->devices->device.info;
    if (feature == VD__REFUSED)
        return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V declares %s %s, which vkdispatch does not support", what,
                        name);
    *features |= feature;
    if ((feature & info->features) == feature) return VD_OK;
    return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V declares %s %s, which '%s' does not support; missing feature: %s",
                    what, name, info->name, vd_feature_name(feature));
}

static vd_result vd__module_check_capability(const vd_context *ctx, uint32_t number, uint64_t *features) {
    for (size_t i = 0; i < VD__COUNT(vd__capabilities); i++)
        if (vd__capabilities[i].number == number)
            return vd__module_require(ctx, "capability", vd__capabilities[i].name, vd__capabilities[i].feature,
                                      features);
    return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V declares capability %u, which vkdispatch does not support",
                    (unsigned)number);
}

static vd_result vd__module_check_version(const vd_context *ctx, const vd__spirv *m) {
    uint32_t minor = (m->words[1] >> 8) & 0xffu;
    for (uint32_t i = 0; i < ctx->device_count; i++) {
        const vd_device_info *info = &ctx->devices[i].device.info;
        uint32_t limit = ctx->devices[i].device.max_spirv_minor;
        if (limit && minor > limit)
            return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V has version 1.%u, but '%s' has Vulkan 1.%u, which "
                            "supports up to 1.%u", (unsigned)minor, info->name, (unsigned)info->api_version[1],
                            (unsigned)limit);
    }
    return VD_OK;
}

/* Checks what a module declares: version, capabilities, execution modes, specialization constants. Sets *features to
   the features that it needs. */
static vd_result vd__module_check(const vd_context *ctx, const vd__spirv *m, uint64_t *features) {
    vd_result r = vd__module_check_version(ctx, m);
    *features = 0;
    for (uint32_t at = VD__SPIRV_HEAD; at < m->functions && !r; at += vd__spirv_length(m, at)) {
        const uint32_t *w = m->words + at;
        const char *name;
        switch (vd__spirv_opcode(m, at)) {
        case VD__OpCapability: r = vd__module_check_capability(ctx, w[1], features); break;
        case VD__OpExecutionMode:
            if (w[2] == VD__ExecutionModeMaximallyReconvergesKHR)
                r = vd__module_require(ctx, "execution mode", "MaximallyReconvergesKHR", VD_FEATURE_RECONVERGENCE,
                                       features);
            break;
        case VD__OpDecorate:
            if (w[2] != VD__DecorationSpecId) break;
            name = vd__spirv_name(m, w[1]);
            return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V has specialization constant '%s' (SpecId %u), which is "
                            "not supported; freeze it first (spirv-opt --set-spec-const-default-value=\"%u:VALUE\" "
                            "--freeze-spec-const --fold-spec-const-op-composite)", name ? name : "", (unsigned)w[3],
                            (unsigned)w[3]);
        case VD__OpDecorationGroup: case VD__OpGroupDecorate: case VD__OpGroupMemberDecorate:
            return vd__fail(VD_ERROR_UNSUPPORTED, "the SPIR-V has a decoration group, which is deprecated; use "
                            "OpDecorate and OpMemberDecorate");
        default: break;
        }
    }
    return r;
}

static const char *const vd__code_names[] = { "", "SPIR-V", "CUDA C", "PTX", "cubin", "OpenCL C" };

/* Returns whether the code begins with the SPIR-V magic number, in either byte order. */
static bool vd__code_is_spirv(const vd_kernel_desc *desc) {
    uint32_t first = 0;
    if (desc->code && desc->code_size >= sizeof first) memcpy(&first, desc->code, sizeof first);
    return first == VD__SPIRV_MAGIC || first == VD__SPIRV_SWAPPED;
}

/* Resolves code_kind and checks that the backend accepts it. */
static vd_result vd__code_check(const vd_context *ctx, vd_kernel_desc *desc) {
    const vd__backend *backend = ctx->driver.backend;
    char list[64] = "";
    size_t used = 0;
    if (desc->code_kind == VD_CODE_DEFAULT)
        desc->code_kind = vd__code_is_spirv(desc) ? VD_CODE_SPIRV : backend->codes[0];
    if ((size_t)desc->code_kind >= VD__COUNT(vd__code_names))
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name,
                             "desc.code_kind is %d, not a valid vd_code (0 to %d)", (int)desc->code_kind,
                             VD_CODE_OPENCL);
    for (size_t i = 0; i < VD__COUNT(backend->codes) && backend->codes[i]; i++) {
        if (backend->codes[i] == desc->code_kind) return VD_OK;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                 vd__code_names[backend->codes[i]]);
    }
    return vd__fail_call(VD_ERROR_UNSUPPORTED, "vd_kernel_create", desc->name,
                         "desc.code_kind is %s (%d), but backend %s accepts %s", vd__code_names[desc->code_kind],
                         (int)desc->code_kind, backend->name, list);
}

/* Checks code other than SPIR-V: source text and binaries. Sets code_size of a text. If a text has no terminating zero,
   makes a copy that has one and stores it in *owned; the caller frees it. */
static vd_result vd__text_check(const vd_context *ctx, vd_kernel_desc *desc, char **owned) {
    const char *text = (const char *)desc->code;
    bool binary = desc->code_kind == VD_CODE_CUBIN;
    if (!text) return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name, "desc.code is NULL");
    if (!desc->code_size && !binary) desc->code_size = strlen(text);
    else if (!binary) {
        const char *end = (const char *)memchr(text, 0, desc->code_size);
        if (end) desc->code_size = (size_t)(end - text);
        else {
            *owned = (char *)vd__alloc(&ctx->host.allocator, desc->code_size + 1);
            if (!*owned) return vd__fail_memory("vd_kernel_create", desc->name, 0);
            memcpy(*owned, text, desc->code_size);
            (*owned)[desc->code_size] = 0;
            desc->code = *owned;
        }
    }
    if (desc->code_size) return VD_OK;
    return vd__fail_call(VD_ERROR_COMPILE, "vd_kernel_create", desc->name, "the %s code is empty",
                         vd__code_names[desc->code_kind]);
}

/* Fails if the device lacks one of the features in `bits`. The message names the first one. */
static vd_result vd__features_check(const vd__device *dev, const char *name, uint64_t bits) {
    uint64_t missing = bits & ~dev->info.features;
    if (dev->always_by_address) missing &= ~(uint64_t)VD_FEATURE_ADDRESS;
    if (!missing) return VD_OK;
    return vd__fail_call(VD_ERROR_UNSUPPORTED, "vd_kernel_create", name,
                         "the kernel needs feature %s, which '%s' does not have%s",
                         vd_feature_name(missing & (~missing + 1)), dev->info.name,
                         missing & (missing - 1) ? " (and more features that it does not have)" : "");
}

/* Checks local size and shared memory of a kernel desc against the limits of a device. */
static vd_result vd__local_size_check(const vd__device *dev, const vd_kernel_desc *desc) {
    const vd_limits *limits = &dev->info.limits;
    uint64_t product = 1;
    for (int i = 0; i < 3; i++) {
        if (!desc->local_size[i])
            return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name, "local_size[%d] is 0", i);
        if (desc->local_size[i] > limits->max_local_size[i])
            return vd__fail_call(VD_ERROR_UNSUPPORTED, "vd_kernel_create", desc->name,
                                 "local_size[%d] is %u, but the device's limit is %u (max_local_size)", i,
                                 desc->local_size[i], limits->max_local_size[i]);
        product *= desc->local_size[i];
    }
    if (product > limits->max_local_invocations)
        return vd__fail_call(VD_ERROR_UNSUPPORTED, "vd_kernel_create", desc->name,
                             "local size %u x %u x %u has %llu invocations, but the device's limit is %u "
                             "(max_local_invocations)",
                             desc->local_size[0], desc->local_size[1], desc->local_size[2], VD__U(product),
                             limits->max_local_invocations);
    if (desc->shared_bytes > limits->max_shared_bytes)
        return vd__fail_call(VD_ERROR_UNSUPPORTED, "vd_kernel_create", desc->name,
                             "the kernel needs %u bytes of shared memory, but the device's limit is %u "
                             "(max_shared_bytes)",
                             desc->shared_bytes, limits->max_shared_bytes);
    return VD_OK;
}

/* Checks argument i of a kernel desc. */
static vd_result vd__arg_info_check(const vd__device *dev, const vd_kernel_desc *desc, int i) {
    const vd_arg_info *a = &desc->args[i];
    const char *name = a->name ? a->name : "";
    if (!vd__type_is_valid(a->type))
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name,
                             "argument %d '%s' has type %u, not a valid vd_type", i, name, (unsigned)a->type);
    if (a->kind == VD_ARG_IMAGE)
        return vd__fail_call(VD_ERROR_UNSUPPORTED, "vd_kernel_create", desc->name,
                             "argument %d '%s' is an image, which is not supported; use buffers and values", i, name);
    if (a->kind != VD_ARG_BINDING && a->kind != VD_ARG_VALUE && a->kind != VD_ARG_ADDRESS)
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name,
                             "argument %d '%s' has kind %d, not a valid vd_arg_kind (%d to %d)", i, name, (int)a->kind,
                             VD_ARG_BINDING, VD_ARG_VALUE);
    if (a->kind != VD_ARG_VALUE && a->access > VD_READ_WRITE) /* 0: the kernel does not access the buffer */
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name,
                             "argument %d '%s' has access %u, but must be VD_READ, VD_WRITE or both", i, name,
                             (unsigned)a->access);
    if (a->align & (a->align - 1))
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name,
                             "argument %d '%s' has alignment %u, which is not a power of two", i, name,
                             (unsigned)a->align);
    if (a->kind == VD_ARG_BINDING && a->location > 63)
        return vd__fail_call(VD_ERROR_UNSUPPORTED, "vd_kernel_create", desc->name,
                             "argument %d '%s' has binding %u, but the limit is 63", i, name,
                             (unsigned)a->location);
    if (a->kind == VD_ARG_BINDING) {
        for (int j = 0; j < i; j++)
            if (desc->args[j].kind == VD_ARG_BINDING && desc->args[j].location == a->location)
                return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name, "arguments %d and %d both have "
                                     "binding %u", j, i, (unsigned)a->location);
        return VD_OK;
    }
    uint32_t size = a->kind == VD_ARG_ADDRESS ? 8 : a->type ? vd_type_size(a->type) : a->size;
    if (!size || a->size != size)
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name,
                             "argument %d '%s' has %u bytes in the argument block, but %s has %u", i, name,
                             (unsigned)a->size, a->kind == VD_ARG_ADDRESS ? "an address" : vd_type_name(a->type), size);
    if (a->location > desc->argument_bytes || size > desc->argument_bytes - a->location)
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name,
                             "argument %d '%s' ends at byte %llu, but the argument block has %u bytes", i, name,
                             VD__U(a->location) + size, (unsigned)desc->argument_bytes);
    return a->kind == VD_ARG_ADDRESS ? vd__features_check(dev, desc->name, VD_FEATURE_ADDRESS) : VD_OK;
}

/* Checks implicit argument i of a kernel desc. */
static vd_result vd__implicit_info_check(const vd_kernel_desc *desc, int i) {
    const vd_implicit_info *h = &desc->implicit[i];
    bool of_arg = h->kind == VD_IMPLICIT_LENGTH || h->kind == VD_IMPLICIT_SHAPE;
    bool ok = h->kind > VD_IMPLICIT_NONE && h->kind <= VD_IMPLICIT_OUTPUT;
    bool output = h->kind == VD_IMPLICIT_OUTPUT;
    if (output && ((int64_t)h->arg + 1 != desc->arg_count || desc->args[h->arg].kind == VD_ARG_VALUE
                   || desc->args[h->arg].type != VD_U32))
        ok = false;
    if (of_arg && ((int)h->arg >= desc->arg_count || (int)h->arg < 0 || desc->args[h->arg].kind == VD_ARG_VALUE))
        ok = false;
    if (h->kind != VD_IMPLICIT_LENGTH && h->axis >= (h->kind == VD_IMPLICIT_SHAPE ? 4u : 3u)) ok = false;
    if (h->offset % 4 || desc->argument_bytes < 4 || h->offset > desc->argument_bytes - 4) ok = false;
    if (ok) return VD_OK;
    return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name, "implicit argument %d (kind %d, arg %u, "
                         "axis %u, offset %u) does not match the arguments or an argument block of %u bytes", i,
                         (int)h->kind, (unsigned)h->arg, (unsigned)h->axis, (unsigned)h->offset,
                         (unsigned)desc->argument_bytes);
}

/* ---- formats: "f32 u32x2:text", or "assert:text" ---- */

/* Parses a type at *cursor and advances *cursor past it. Returns VD_BYTES if there is none. */
static VD__COLD vd_type vd__format_type(const char **cursor) {
    bool is_complex = strncmp(*cursor, "complex_", 8) == 0;
    const char *start = *cursor + (is_complex ? 8 : 0);
    size_t length = strcspn(start, " :");
    for (vd_type kind = VD_BOOL; kind <= VD_F64; kind++)
        for (uint32_t rows = 1; rows <= (is_complex ? 1u : 4u); rows++) {
            const char *name = vd_type_name(VD_VEC(kind, rows));
            if (strlen(name) != length || memcmp(name, start, length)) continue;
            *cursor = start + length;
            return is_complex ? VD_COMPLEX(kind) : VD_VEC(kind, rows);
        }
    return VD_BYTES;
}

static bool vd__is_float(vd_type type) { return (type & 15u) >= VD_F16 && (type & 15u) <= VD_F64; }
static uint32_t vd__format_components(vd_type type) { return type & 256u ? 2 : ((type >> 4) & 3u) + 1; }

/* Parses the conversion that follows a '%' and advances *cursor past it. Writes the conversion for snprintf to `spec`,
   with "ll" for integers. Returns the conversion letter, or 0 if it is invalid. */
static VD__COLD char vd__format_spec(const char **cursor, char spec[24]) {
    const char *start = *cursor, *end = start;
    size_t flags = strspn(start, "-+ #0"), width = strspn(start + flags, "0123456789"), precision = 0;
    end += flags + width;
    if (*end == '.') precision = strspn(end + 1, "0123456789") + 1;
    end += precision;
    if (flags > 5 || width > 3 || precision > 4 || !*end || !strchr("diuxXocfFeEgGaA", *end)) return 0;
    bool wide = strchr("diuxXo", *end) != NULL;
    snprintf(spec, 24, "%%%.*s%s%c", (int)(end - start), start, wide ? "ll" : "", *end);
    *cursor = end + 1;
    return *end;
}

/* Parses a format of a kernel desc. Returns false if it is invalid: the types must match the conversions. */
static VD__COLD bool vd__format_read(const char *cursor, vd__format *out) {
    char spec[24];
    uint32_t conversions = 0;
    memset(out, 0, sizeof *out);
    out->assertion = strncmp(cursor, "assert:", 7) == 0;
    if (out->assertion) cursor += 6;
    while (*cursor != ':') {
        vd_type type = out->type_count < VD__MAX_FORMAT_TYPES ? vd__format_type(&cursor) : (vd_type)VD_BYTES;
        if (type == VD_BYTES || (*cursor != ':' && *cursor != ' ')) return false;
        cursor += *cursor == ' ';
        out->types[out->type_count++] = (uint16_t)type;
        out->words = (uint16_t)(out->words + vd__format_components(type) * (vd__scalar_size(type) == 8 ? 2 : 1));
    }
    out->text = ++cursor;
    while (!out->assertion && (cursor = strchr(cursor, '%')) != NULL) {
        if (*++cursor == '%') { cursor++; continue; }
        char letter = vd__format_spec(&cursor, spec);
        if (!letter || conversions >= out->type_count) return false;
        if (vd__is_float(out->types[conversions]) != (strchr("fFeEgGaA", letter) != NULL)) return false;
        conversions++;
    }
    return conversions == out->type_count;
}

/* Checks the formats of a kernel. Only a kernel with VD_IMPLICIT_OUTPUT has any. */
static VD__COLD vd_result vd__formats_check(const vd_kernel_desc *desc) {
    vd__format format;
    int outputs = 0;
    for (int i = 0; i < desc->implicit_count; i++) outputs += desc->implicit[i].kind == VD_IMPLICIT_OUTPUT;
    if (!outputs) return VD_OK;
    if (outputs > 1)
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name,
                             "the kernel has %d implicit arguments of kind VD_IMPLICIT_OUTPUT, but the limit is 1",
                             outputs);
    if (desc->format_count < 1 || desc->format_count > VD__MAX_FORMATS || !desc->formats)
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name,
                             "desc.format_count is %d%s, but a kernel that prints needs 1 to %d formats",
                             desc->format_count, desc->formats ? "" : " and desc.formats is NULL", VD__MAX_FORMATS);
    for (int i = 0; i < desc->format_count; i++)
        if (!desc->formats[i] || !vd__format_read(desc->formats[i], &format))
            return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name,
                                 "format %d '%.100s' is invalid: expected \"types:text\", for example \"f32:%%f\"", i,
                                 desc->formats[i] ? desc->formats[i] : "");
    return VD_OK;
}

/* Checks a fully resolved kernel desc against one device. */
static vd_result vd__kernel_check(const vd__device *dev, const vd_kernel_desc *desc) {
    uint32_t bindings = 0;
    if (desc->arg_count < 0 || desc->arg_count > VD_MAX_ARGS)
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name,
                             "desc.arg_count is %d, but must be 0 to %d", desc->arg_count, VD_MAX_ARGS);
    if (desc->arg_count && !desc->args)
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name,
                             "desc.args is NULL, but desc.arg_count is %d", desc->arg_count);
    if (desc->implicit_count < 0 || (desc->implicit_count && !desc->implicit))
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name, "desc.implicit_count is %d, but %s",
                             desc->implicit_count, desc->implicit ? "it must not be negative"
                                                                  : "desc.implicit is NULL");
    if (desc->argument_bytes > VD_MAX_ARGUMENT_BYTES || desc->argument_bytes % 4)
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name,
                             "desc.argument_bytes is %u, but must be a multiple of 4 and at most %d",
                             (unsigned)desc->argument_bytes, VD_MAX_ARGUMENT_BYTES);
    for (int i = 0; i < desc->arg_count; i++) {
        vd_result r = vd__arg_info_check(dev, desc, i);
        if (r) return r;
        bindings += desc->args[i].kind == VD_ARG_BINDING;
    }
    for (int i = 0; i < desc->implicit_count; i++) {
        vd_result r = vd__implicit_info_check(desc, i);
        if (r) return r;
    }
    int by = desc->threads_arg;
    if (by < 0 || by > desc->arg_count || (by && desc->args[by - 1].kind == VD_ARG_VALUE))
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name, "desc.threads_arg is %d, which is not "
                             "1 + the index of a buffer argument", by);
    if (bindings > dev->info.limits.max_bindings)
        return vd__fail_call(VD_ERROR_UNSUPPORTED, "vd_kernel_create", desc->name,
                             "the kernel has %u buffers by binding, but the device's limit is %u (max_bindings)",
                             bindings, dev->info.limits.max_bindings);
    vd_result r = vd__formats_check(desc);
    if (!r) r = vd__features_check(dev, desc->name, desc->features);
    return r ? r : vd__local_size_check(dev, desc);
}

/* Checks a fully resolved kernel desc against every device of the context. */
static vd_result vd__kernel_check_all(const vd_context *ctx, const vd_kernel_desc *desc) {
    vd_result r = VD_OK;
    for (uint32_t i = 0; i < ctx->device_count && !r; i++) r = vd__kernel_check(&ctx->devices[i].device, desc);
    return r;
}

VD__SMALL_END

/* A dispatch whose arguments are resolved. A list keeps its last one, so that a dispatch of the same kernel and extent
   resolves only the arguments. */
typedef struct vd__dispatch_state {
    const vd__context_device *context_device;
    vd_list *list;
    uint64_t last_kernel;              /* id of the last dispatch's kernel; 0: the next dispatch resolves everything */
    uint64_t last_threads[3];          /* threads of the last dispatch, which had no groups */
    vd__kernel *kernel;
    bool split;                        /* too many groups for one launch */
    uint32_t threads[3];
    vd__launch launch;                 /* its groups are those of the whole dispatch until it is split */
    vd__buffer *buffers[VD_MAX_ARGS];  /* by argument index; NULL for values */
    vd__access accesses[VD_MAX_ARGS];  /* by index among the buffer arguments */
    vd__binding bindings[VD_MAX_ARGS];
    uint64_t arguments[VD_MAX_ARGUMENT_BYTES / 8];
} vd__dispatch_state;

/* Resolves threads or groups of a desc to 32 bits (trailing zeros become 1). `what` is "threads" or "groups". */
static inline vd_result vd__extent_check(const vd__kernel *k, const uint64_t desc_extent[3], const char *what,
                                         uint32_t out[3]) {
    int rank = 3;
    /* all are 1 … 2^32 - 1 */
    if (VD__LIKELY(((desc_extent[0] - 1) | (desc_extent[1] - 1) | (desc_extent[2] - 1)) < UINT32_MAX)) {
        for (int i = 0; i < 3; i++) out[i] = (uint32_t)desc_extent[i];
        return VD_OK;
    }
    while (rank && !desc_extent[rank - 1]) rank--;
    if (!rank) return vd__fail_call(VD_ERROR_INVALID, "vd_dispatch", k->name, "neither threads nor groups are set");
    for (int i = 0; i < 3; i++) {
        uint64_t extent = i < rank ? desc_extent[i] : 1;
        if (!extent)
            return vd__fail_call(VD_ERROR_INVALID, "vd_dispatch", k->name, "%s[%d] is 0, but %s[%d] is not", what, i,
                                 what, rank - 1);
        if (extent > UINT32_MAX)
            return vd__fail_call(VD_ERROR_INVALID, "vd_dispatch", k->name, "%s[%d] is %llu, but the limit is 2^32 - 1",
                                 what, i, VD__U(extent));
        out[i] = (uint32_t)extent;
    }
    return VD_OK;
}

/* Checks whether a dispatch with more groups than the device allows can be split into several launches. The kernel
   must read the group base, an implicit argument, of every axis that is split. */
static VD__COLD vd_result vd__split_check(const vd__dispatch_state *d, const vd_limits *limits) {
    const vd__kernel *k = d->kernel;
    uint64_t pieces = 1;
    for (int i = 0; i < 3; i++) {
        if (d->launch.groups[i] <= limits->max_groups[i]) continue;
        if (!k->splittable[i])
            return vd__fail_call(VD_ERROR_UNSUPPORTED, "vd_dispatch", k->name, "the dispatch has %llu work-groups "
                                 "along axis %d, but the device's limit is %u (max_groups), and the kernel has no "
                                 "group base along this axis",
                                 VD__U(d->launch.groups[i]), i, (unsigned)limits->max_groups[i]);
        pieces *= (uint64_t)(d->launch.groups[i] - 1) / limits->max_groups[i] + 1;
    }
    if (pieces > 1u << 20)
        return vd__fail_call(VD_ERROR_UNSUPPORTED, "vd_dispatch", k->name,
                             "the dispatch would be split into %llu launches, but the limit is %u", VD__U(pieces),
                             1u << 20);
    return VD_OK;
}

/* Resolves a dispatch whose desc has neither threads nor groups, by the launch size of the kernel. */
static VD__COLD vd_result vd__dispatch_extent_stored(vd__dispatch_state *d, const vd_dispatch_desc *desc) {
    const vd__kernel *k = d->kernel;
    uint64_t threads[3] = { k->threads[0], k->threads[1], k->threads[2] };
    if (k->threads_arg) {
        const vd_arg *arg = &desc->args[k->threads_arg - 1];
        const vd__buffer *b = arg->kind == VD_ARG_VALUE ? NULL
            : (const vd__buffer *)(const void *)vd__pool_find(&d->list->ctx->buffers, arg->bits);
        uint32_t element = b ? vd_type_size(k->args[k->threads_arg - 1].type ? k->args[k->threads_arg - 1].type
                                            : b->type) : 1;
        threads[0] = b ? b->size / (element ? element : 1) : 1; /* if it is no buffer, resolving the arguments fails */
    }
    vd_result r = vd__extent_check(k, threads, "the kernel's threads", d->threads);
    for (int i = 0; i < 3 && !r; i++) d->launch.groups[i] = (d->threads[i] - 1) / k->local_size[i] + 1;
    return r;
}

/* Resolves a dispatch whose desc has groups instead of threads. */
static VD__COLD vd_result vd__dispatch_extent_groups(vd__dispatch_state *d, const vd_dispatch_desc *desc) {
    const vd__kernel *k = d->kernel;
    char text[VD__EXTENT_TEXT];
    bool stored = k->threads_arg || k->threads[0];
    if (stored && !(desc->groups[0] | desc->groups[1] | desc->groups[2]) && desc->threads[1] <= 1
        && desc->threads[2] <= 1) return vd__dispatch_extent_stored(d, desc);
    if (desc->threads[1] || desc->threads[2])
        return vd__fail_call(VD_ERROR_INVALID, "vd_dispatch", k->name, "threads is %s, but threads[0] must not be 0",
                             vd__extent_print(text, desc->threads, 3));
    vd_result r = vd__extent_check(k, desc->groups, "groups", d->launch.groups);
    for (int i = 0; i < 3 && !r; i++) {
        uint64_t threads = (uint64_t)d->launch.groups[i] * k->local_size[i];
        d->threads[i] = (uint32_t)threads;
        if (threads > UINT32_MAX)
            r = vd__fail_call(VD_ERROR_INVALID, "vd_dispatch", k->name,
                              "groups[%d] is %llu; with local size %u this is more than 2^32 - 1 threads", i,
                              VD__U(d->launch.groups[i]), (unsigned)k->local_size[i]);
    }
    return r;
}

static VD__COLD vd_result vd__dispatch_fail_extent(const vd__kernel *k, const vd_dispatch_desc *desc) {
    char threads[VD__EXTENT_TEXT], groups[VD__EXTENT_TEXT];
    return vd__fail_call(VD_ERROR_INVALID, "vd_dispatch", k->name, "both threads (%s) and groups (%s) are set",
                         vd__extent_print(threads, desc->threads, 3), vd__extent_print(groups, desc->groups, 3));
}

/* Computes threads and groups of the whole dispatch. */
static inline vd_result vd__dispatch_extent(vd__dispatch_state *d, const vd_dispatch_desc *desc) {
    const vd__kernel *k = d->kernel;
    const vd_limits *limits = &d->context_device->device.info.limits;
    const uint64_t *t = desc->threads, *g = desc->groups;
    if (VD__UNLIKELY((g[0] | g[1] | g[2]) != 0) && (t[0] | t[1] | t[2])) return vd__dispatch_fail_extent(k, desc);
    /* fast path: one-dimensional dispatches */
    if (VD__LIKELY(k->linear && t[0] - 1 < UINT32_MAX && t[1] <= 1 && t[2] <= t[1])) {
        d->threads[0] = (uint32_t)t[0];
        d->launch.groups[0] = (((uint32_t)t[0] - 1) >> k->local_shift[0]) + 1;
        d->threads[1] = d->threads[2] = d->launch.groups[1] = d->launch.groups[2] = 1;
        d->split = d->launch.groups[0] > limits->max_groups[0];
        return VD__LIKELY(!d->split) ? VD_OK : vd__split_check(d, limits);
    }
    vd_result r = VD__LIKELY(desc->threads[0] != 0) ? vd__extent_check(k, desc->threads, "threads", d->threads)
                                                    : vd__dispatch_extent_groups(d, desc);
    if (VD__UNLIKELY(r)) return r;
    for (int i = 0; i < 3 && desc->threads[0]; i++) {
        uint32_t last = d->threads[i] - 1;
        bool shift = VD__LIKELY(k->local_shift[i] != VD__NONE);
        d->launch.groups[i] = (shift ? last >> k->local_shift[i] : last / k->local_size[i]) + 1;
    }
    d->split = d->launch.groups[0] > limits->max_groups[0] || d->launch.groups[1] > limits->max_groups[1]
               || d->launch.groups[2] > limits->max_groups[2];
    return VD__LIKELY(!d->split) ? VD_OK : vd__split_check(d, limits);
}

/* Writes a type to `out`, for example "f32x4" or "struct of 48 bytes". */
static VD__COLD const char *vd__type_print(char out[40], vd_type type) {
    if (type >> 31) snprintf(out, 40, "struct of %u bytes", (unsigned)vd_type_size(type));
    else snprintf(out, 40, "%s", vd_type_name(type));
    return out;
}

/* Reports an argument whose kind is neither buffer nor value. */
static VD__COLD vd_result vd__dispatch_fail_kind(const vd__kernel *k, int i, const vd_arg *arg) {
    char problem[64] = "not set";
    if (arg->kind != VD_ARG_NONE)
        snprintf(problem, sizeof problem, "of kind %d, not a valid vd_arg_kind (%d to %d)", (int)arg->kind,
                 VD_ARG_BINDING, VD_ARG_VALUE);
    else if (arg->type) snprintf(problem, sizeof problem, "a value whose address is NULL");
    return vd__fail_call(VD_ERROR_INVALID, "vd_dispatch", k->name, "argument %d '%s' is %s", i, k->args[i].name,
                         problem);
}

/* Reports an argument of another type than the kernel expects. `actual` precedes the name of `type`. */
static VD__COLD vd_result vd__dispatch_fail_type(const vd__kernel *k, int i, const char *actual, vd_type type) {
    const vd_arg_info *info = &k->args[i];
    bool buffer = info->kind != VD_ARG_VALUE;
    char given_type[40], wanted_type[40];
    return vd__fail_call(VD_ERROR_INVALID, "vd_dispatch", k->name, "argument %d '%s' is %s%s, but the kernel expects "
                         "%s%s", i, info->name, actual, type ? vd__type_print(given_type, type) : "",
                         buffer ? "a buffer of " : "a value of ", vd__type_print(wanted_type, info->type));
}

/* Fails if buffer argument i overlaps an earlier one, one of them is written, and neither may alias. */
static VD__COLD vd_result vd__dispatch_check_overlap(const vd__dispatch_state *d, const vd__access *access, int i) {
    const vd_arg_info *info = &d->kernel->args[i];
    for (int j = 0, buffer_index = 0; j < i; j++) {
        const vd_arg_info *other = &d->kernel->args[j];
        if (other->kind == VD_ARG_VALUE) continue;
        const vd__access *earlier = &d->accesses[buffer_index++];
        if (earlier->storage != access->storage) continue;
        if (earlier->begin >= access->end || access->begin >= earlier->end) continue;
        if (!((other->access | info->access) & VD_WRITE) || other->may_alias || info->may_alias) continue;
        return vd__fail_call(VD_ERROR_INVALID, "vd_dispatch", d->kernel->name, "arguments %d '%s' and %d '%s' overlap "
                             "(both use buffer '%s'), and the kernel writes at least one of them", j, other->name, i,
                             info->name, d->buffers[j]->name);
    }
    return VD_OK;
}

/* Reports an argument that is not a valid buffer. */
static VD__COLD vd_result vd__dispatch_fail_buffer(const vd__dispatch_state *d, vd_context *ctx, const vd_arg *arg,
                                                   int i) {
    const vd__kernel *k = d->kernel;
    if (arg->kind == VD_ARG_VALUE) return vd__dispatch_fail_type(k, i, "a value of ", arg->type);
    if (arg->kind != VD_ARG_BINDING && arg->kind != VD_ARG_ADDRESS) return vd__dispatch_fail_kind(k, i, arg);
    return vd__fail_call(VD_ERROR_INVALID, "vd_dispatch", k->name, "argument %d '%s': the buffer %s", i,
                         k->args[i].name, vd__pool_reason(&ctx->buffers, arg->bits));
}

/* Slow path of vd__dispatch_buffer: checks the type, the device, and the alignment of a view. A buffer or parameter
   without a type matches every type. */
static VD__NOINLINE vd_result vd__dispatch_check_buffer(const vd__dispatch_state *d, const vd__param *p, int i) {
    const vd__buffer *b = d->buffers[i];
    const vd__kernel *k = d->kernel;
    bool binding = p->kind == VD_ARG_BINDING;
    uint64_t align = (uint64_t)1 << p->align, limit = d->context_device->device.info.limits.binding_alignment;
    if (p->type != b->type && p->type && b->type) return vd__dispatch_fail_type(k, i, "a buffer of ", b->type);
    if (!b->storage[d->context_device->index].memory.serial)
        return vd__fail_call(VD_ERROR_INVALID, "vd_dispatch", k->name, "argument %d '%s': buffer '%s' has no memory on "
                             "device %u (its device mask is 0x%x)", i, k->args[i].name, b->name,
                             (unsigned)d->context_device->index, (unsigned)b->devices);
    if (b->offset % align)
        return vd__fail_call(VD_ERROR_INVALID, "vd_dispatch", k->name, "argument %d '%s': view '%s' begins at byte "
                             "%llu of its buffer, but the kernel expects a multiple of %llu", i, k->args[i].name,
                             b->name, VD__U(b->offset), VD__U(align));
    if (binding && b->offset % limit)
        return vd__fail_call(VD_ERROR_UNSUPPORTED, "vd_dispatch", k->name, "argument %d '%s': view '%s' begins at byte "
                             "%llu of its buffer, but a binding needs a multiple of %llu (binding_alignment)", i,
                             k->args[i].name, b->name, VD__U(b->offset), VD__U(limit));
    return VD_OK;
}

/* Reports a buffer that exceeds max_binding_bytes. */
static VD__COLD vd_result vd__dispatch_fail_size(const vd__dispatch_state *d, int i) {
    const vd__buffer *b = d->buffers[i];
    return vd__fail_call(VD_ERROR_UNSUPPORTED, "vd_dispatch", d->kernel->name, "argument %d '%s': buffer '%s' has %llu "
                         "bytes, but the device's limit for a binding is %llu (max_binding_bytes)", i,
                         d->kernel->args[i].name, b->name, VD__U(b->size),
                         VD__U(d->context_device->device.info.limits.max_binding_bytes));
}

/* Stores a value of four or eight bytes into the argument block. Returns nonzero if this changes the block. */
static inline uint64_t vd__dispatch_store(uint8_t *to, uint64_t bits, bool wide) {
    uint32_t word = (uint32_t)bits, old_word;
    uint64_t old;
    if (wide) {
        memcpy(&old, to, 8);
        memcpy(to, &bits, 8);
        return old ^ bits;
    }
    memcpy(&old_word, to, 4);
    memcpy(to, &word, 4);
    return old_word ^ word;
}

/* Resolves a buffer argument: sets its access, and stores its address in the argument block or adds it to the bindings.
   `seen` has a bit for each memory of the earlier arguments, chosen by the low 6 bits of its serial. Overlap is only
   checked if the bit is set already. */
static inline vd_result vd__dispatch_buffer(vd__dispatch_state *d, vd_context *ctx, const vd__param *p,
                                            const vd_arg *arg, int i, uint64_t *seen) {
    vd__buffer *b = (vd__buffer *)(void *)vd__pool_find(&ctx->buffers, arg->bits);
    if (VD__UNLIKELY(!b || arg->kind - VD_ARG_BINDING > VD_ARG_ADDRESS - VD_ARG_BINDING))
        return vd__dispatch_fail_buffer(d, ctx, arg, i);
    vd__access *access = &d->accesses[p->buffer_index];
    vd_result pinned = vd__list_pin(d->list, &b->slot, arg->bits, &access->use);
    if (VD__UNLIKELY(pinned)) return vd__error_amend(pinned, "vd_dispatch", d->kernel->name, NULL);
    d->buffers[i] = b;
    if (VD__UNLIKELY(b->needs_checks || p->type != b->type)) {
        vd_result r = vd__dispatch_check_buffer(d, p, i);
        if (r) return r;
    }
    vd__storage *storage = b->storage + d->context_device->index;
    access->storage = storage;
    access->begin = b->offset;
    access->end = b->offset + b->size;
    access->written = p->written;
    if (p->kind == VD_ARG_ADDRESS) {
        d->launch.arguments_changed |= vd__dispatch_store((uint8_t *)d->arguments + p->location,
                                                          storage->memory.address + b->offset, true);
    } else {
        vd__binding *binding = &d->bindings[p->binding_index];
        binding->memory = &storage->memory;
        binding->offset = b->offset;
        binding->size = b->size; /* exact, because OpArrayLength depends on it */
        binding->number = p->location;
        if (VD__UNLIKELY(binding->size > d->context_device->device.info.limits.max_binding_bytes))
            return vd__dispatch_fail_size(d, i);
    }
    uint64_t bit = (uint64_t)1 << (storage->memory.serial & 63u);
    bool maybe_seen = (*seen & bit) != 0;
    *seen |= bit;
    return VD__LIKELY(!maybe_seen) ? VD_OK : vd__dispatch_check_overlap(d, access, i);
}

/* Slow path of vd__dispatch_value: sizes other than 4 and 8 bytes, untyped values, values in host memory, and
   errors. */
static VD__COLD vd_result vd__dispatch_value_slow(vd__dispatch_state *d, const vd_arg *arg, int i) {
    const vd__kernel *k = d->kernel;
    const vd_arg_info *info = &k->args[i];
    if (arg->kind == VD_ARG_BINDING || arg->kind == VD_ARG_ADDRESS) return vd__dispatch_fail_type(k, i, "a buffer", 0);
    if (arg->kind != VD_ARG_VALUE) return vd__dispatch_fail_kind(k, i, arg);
    if (arg->type != info->type && arg->type && (info->type || vd_type_size(arg->type) != info->size))
        return vd__dispatch_fail_type(k, i, "a value of ", arg->type);
    if (!arg->from && info->size > 8)
        return vd__fail_call(VD_ERROR_INVALID, "vd_dispatch", k->name, "argument %d '%s' has %u bytes; pass values of "
                             "more than 8 bytes with vd_value", i, info->name, (unsigned)info->size);
    memcpy((uint8_t *)d->arguments + info->location, arg->from ? arg->from : &arg->bits, info->size);
    d->launch.arguments_changed = 1;
    return VD_OK;
}

/* Stores a value argument in the argument block. */
static inline vd_result vd__dispatch_value(vd__dispatch_state *d, const vd__param *p, const vd_arg *arg, int i) {
    uint8_t *to = (uint8_t *)d->arguments + p->location;
    if (VD__UNLIKELY(arg->kind != VD_ARG_VALUE || arg->type != p->type || arg->from))
        return vd__dispatch_value_slow(d, arg, i);
    if (VD__LIKELY(p->size == 4)) d->launch.arguments_changed |= vd__dispatch_store(to, arg->bits, false);
    else if (p->size == 8) d->launch.arguments_changed |= vd__dispatch_store(to, arg->bits, true);
    else return vd__dispatch_value_slow(d, arg, i);
    return VD_OK;
}

/* Stores the implicit arguments from index `first` on; those that depend on buffers are last. The group base is stored
   as 0 here, because it differs for each launch. */
static inline void vd__dispatch_implicit(vd__dispatch_state *d, int first) {
    for (int i = first; i < d->kernel->implicit_count; i++) {
        const vd_implicit_info *implicit = &d->kernel->implicit[i];
        uint64_t value = 0;
        if (implicit->kind == VD_IMPLICIT_THREADS) value = d->threads[implicit->axis];
        else if (implicit->kind == VD_IMPLICIT_OUTPUT) value = d->kernel->first_format;
        else if (implicit->kind == VD_IMPLICIT_GROUPS) value = d->launch.groups[implicit->axis];
        else if (implicit->kind == VD_IMPLICIT_SHAPE) value = d->buffers[implicit->arg]->shape[implicit->axis];
        else if (implicit->kind == VD_IMPLICIT_LENGTH) {
            const vd__buffer *b = d->buffers[implicit->arg];
            vd_type type = d->kernel->args[implicit->arg].type;
            uint32_t element = vd_type_size(type ? type : b->type);
            value = b->size / (element ? element : 1);
        }
        d->launch.arguments_changed |= vd__dispatch_store((uint8_t *)d->arguments + implicit->offset,
                                                          value > UINT32_MAX ? UINT32_MAX : value, false);
    }
}

/* Resolves kernel and extent of a dispatch. Clears last_kernel; the caller sets it when the arguments are resolved. */
static inline vd_result vd__dispatch_prepare(vd__dispatch_state *d, vd_context *ctx, const vd_dispatch_desc *desc) {
    d->last_kernel = 0;
    vd__kernel *k = vd__kernel_find(ctx, desc->kernel, "vd_dispatch");
    uint32_t use;
    vd_result pinned = k ? vd__list_pin(d->list, &k->slot, desc->kernel.id, &use) : VD_ERROR_INVALID;
    if (pinned) return vd__error_default_call(pinned, "vd_dispatch");
    d->kernel = k;
    if (desc->arg_count != k->arg_count || (k->arg_count && !desc->args))
        return vd__fail_call(VD_ERROR_INVALID, "vd_dispatch", k->name, "%d arguments were passed%s, but the kernel "
                             "expects %d", desc->arg_count, desc->arg_count && !desc->args ? " (args is NULL)" : "",
                             k->arg_count);
    vd_result r = vd__dispatch_extent(d, desc);
    if (r) return r;
    if (k->has_padding) memset(d->arguments, 0, k->argument_bytes);
    memset(d->buffers, 0, (size_t)k->arg_count * sizeof *d->buffers);
    d->launch.code = &k->codes[d->context_device->index];
    d->launch.arguments = d->arguments;
    d->launch.argument_bytes = k->argument_bytes;
    d->launch.bindings = d->bindings;
    d->launch.binding_count = k->binding_count;
    memcpy(d->last_threads, desc->threads, sizeof d->last_threads);
    return VD_OK;
}

/* Returns whether a dispatch differs from the last one at most in its arguments. */
static inline bool vd__dispatch_repeats(const vd__dispatch_state *d, const vd_dispatch_desc *desc) {
    const uint64_t *t = desc->threads, *g = desc->groups;
    uint64_t difference = (t[0] ^ d->last_threads[0]) | (t[1] ^ d->last_threads[1]) | (t[2] ^ d->last_threads[2])
                          | g[0] | g[1] | g[2] | (d->last_kernel ^ desc->kernel.id);
    return !difference && d->last_kernel && vd__atomic_load64(&d->kernel->slot.id) == d->last_kernel &&
           desc->arg_count == d->kernel->arg_count &&
           (desc->args || !desc->arg_count);
}

/* Resolves all arguments of a dispatch. */
static inline vd_result vd__dispatch_args(vd__dispatch_state *d, vd_context *ctx, const vd_arg *args) {
    const vd__param *params = d->kernel->params;
    int count = d->kernel->arg_count;
    uint64_t seen = 0;
    d->launch.arguments_changed = 0;
    for (int i = 0; i < count; i++) {
        const vd__param *p = &params[i];
        vd_result r = p->kind == VD_ARG_VALUE ? vd__dispatch_value(d, p, &args[i], i)
                                              : vd__dispatch_buffer(d, ctx, p, &args[i], i, &seen);
        if (VD__UNLIKELY(r)) return r;
    }
    return VD_OK;
}

static vd_result vd__output_acquire(vd_list *l);

/* Resolves the argument that the library passes by itself: the output buffer of a kernel that prints. */
static VD__COLD vd_result vd__dispatch_output(vd__dispatch_state *d, vd_context *ctx) {
    const vd__kernel *k = d->kernel;
    vd_result r = vd__output_acquire(d->list);
    vd_arg arg = vd_b(d->list->queue->output);
    uint64_t seen = UINT64_MAX;
    return r ? r : vd__dispatch_buffer(d, ctx, &k->params[k->arg_count], &arg, k->arg_count, &seen);
}

/* Resolves a dispatch completely: another kernel or extent than before, or a kernel that prints. */
static VD__NOINLINE vd_result vd__dispatch_resolve_new(vd__dispatch_state *d, vd_context *ctx,
                                                       const vd_dispatch_desc *desc) {
    vd_result r = vd__dispatch_prepare(d, ctx, desc);
    if (!r) r = vd__dispatch_args(d, ctx, desc->args);
    bool prints = !r && d->kernel->first_format;
    if (prints) r = vd__dispatch_output(d, ctx);
    if (r) return r;
    vd__dispatch_implicit(d, 0);
    d->launch.arguments_changed = 1;
    if (!d->split && desc->threads[0] && !prints) d->last_kernel = desc->kernel.id;
    return VD_OK;
}

/* Resolves a dispatch: kernel, extent, arguments and argument block. */
static inline vd_result vd__dispatch_resolve(vd__dispatch_state *d, vd_context *ctx, const vd_dispatch_desc *desc) {
    if (VD__UNLIKELY(!vd__dispatch_repeats(d, desc))) return vd__dispatch_resolve_new(d, ctx, desc);
    vd_result r = vd__dispatch_args(d, ctx, desc->args);
    if (VD__UNLIKELY(r)) return r;
    if (d->kernel->dispatch_implicit_count < d->kernel->implicit_count)
        vd__dispatch_implicit(d, d->kernel->dispatch_implicit_count);
    return VD_OK;
}

// >>blob
/* Loads files of precompiled kernels, which `tools/vcc --blob` writes. Integers are little-endian u32 unless marked
   u64. A string is its length, its bytes, a zero, and zeros up to a multiple of 4. The whole file is checked before any
   of it is used.
     head     "VDKB", version 1, file size in bytes (u64), checksum (u64, FNV-1a of everything after it), number of
              kernels
     kernel   name (string), number of forms, best one first
     form     vd_code, features (u64), local_size[3], shared_bytes, argument_bytes, entry (string; empty: the only
              one), number of arguments, arguments, number of implicit arguments, implicit arguments; if one of them
              is VD_IMPLICIT_OUTPUT: number of formats, formats (strings); bytes of code, code and zeros up to a
              multiple of 4
     argument name (string; empty: none), kind, type, access, location, size, align, 1 if it may alias;
              images also: 1 if sampled, dim, format
     implicit kind, argument, axis, offset */

VD__SMALL

enum { VD__BLOB_HEAD = 24, VD__BLOB_VERSION = 1, VD__BLOB_IMPLICIT = VD_MAX_ARGUMENT_BYTES / 4 };

/* Sequential reader of a file. `bad`: a read was past the end or found an invalid value; all later reads fail. */
typedef struct vd__blob { const uint8_t *data; size_t left; bool bad; } vd__blob;

/* A form of a kernel as a desc, with the memory for its arrays. */
typedef struct vd__blob_form {
    vd_kernel_desc desc;
    vd_arg_info args[VD_MAX_ARGS];
    vd_implicit_info implicit[VD__BLOB_IMPLICIT];
    const char *formats[VD__MAX_FORMATS];
} vd__blob_form;

/* Returns the next `size` bytes and skips the padding to a multiple of 4. Returns NULL past the end. */
static const uint8_t *vd__blob_bytes(vd__blob *b, size_t size) {
    const uint8_t *bytes = b->data;
    size_t padded = (size + 3) & ~(size_t)3;
    if (b->bad || size > b->left || padded > b->left) { b->bad = true; return NULL; }
    b->data += padded;
    b->left -= padded;
    return bytes;
}

static uint32_t vd__blob_u32(vd__blob *b) {
    const uint8_t *p = vd__blob_bytes(b, 4);
    return p ? p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24 : 0;
}

static uint64_t vd__blob_u64(vd__blob *b) {
    uint64_t low = vd__blob_u32(b);
    return low | (uint64_t)vd__blob_u32(b) << 32;
}

/* Reads a number from 0 to `limit`; a larger one sets `bad`. */
static uint32_t vd__blob_u32_max(vd__blob *b, uint32_t limit) {
    uint32_t x = vd__blob_u32(b);
    if (x <= limit) return x;
    b->bad = true;
    return 0;
}

/* Reads a string. Returns a pointer into the file, or "" if it is invalid. */
static const char *vd__blob_string(vd__blob *b) {
    uint32_t length = vd__blob_u32(b);
    const uint8_t *p = length < UINT32_MAX ? vd__blob_bytes(b, (size_t)length + 1) : NULL;
    if (p && !p[length] && !memchr(p, 0, length)) return (const char *)p;
    b->bad = true;
    return "";
}

static void vd__blob_arg(vd__blob *b, vd_arg_info *a) {
    a->name = vd__blob_string(b);
    a->kind = (vd_arg_kind)vd__blob_u32_max(b, VD_ARG_IMAGE);
    a->type = vd__blob_u32(b);
    a->access = vd__blob_u32_max(b, VD_READ_WRITE);
    a->location = vd__blob_u32(b);
    a->size = vd__blob_u32(b);
    a->align = vd__blob_u32(b);
    a->may_alias = vd__blob_u32_max(b, 1) == 1;
    a->sampled = false;
    a->dim = VD_DIM_DEFAULT;
    a->format = VD_FORMAT_NONE;
    if (a->kind != VD_ARG_IMAGE) return;
    a->sampled = vd__blob_u32_max(b, 1) == 1;
    a->dim = (vd_dim)vd__blob_u32_max(b, VD_DIM_BUFFER);
    a->format = (vd_format)vd__blob_u32_max(b, VD_FORMAT_R8_U);
}

static void vd__blob_implicit(vd__blob *b, vd_implicit_info *h) {
    h->kind = (vd_implicit)vd__blob_u32_max(b, VD_IMPLICIT_OUTPUT);
    h->arg = vd__blob_u32(b);
    h->axis = vd__blob_u32(b);
    h->offset = vd__blob_u32(b);
}

/* Reads a form. The desc points into `f` and into the file. */
static void vd__blob_form_read(vd__blob *b, const char *name, vd__blob_form *f) {
    vd_kernel_desc *d = &f->desc;
    memset(d, 0, sizeof *d);
    d->name = name;
    d->code_kind = (vd_code)vd__blob_u32_max(b, 255);
    d->features = vd__blob_u64(b);
    for (int i = 0; i < 3; i++) d->local_size[i] = vd__blob_u32(b);
    d->shared_bytes = vd__blob_u32(b);
    d->argument_bytes = vd__blob_u32(b);
    d->entry = vd__blob_string(b);
    if (!d->entry[0]) d->entry = NULL;
    d->arg_count = (int)vd__blob_u32_max(b, VD_MAX_ARGS);
    for (int i = 0; i < d->arg_count && !b->bad; i++) vd__blob_arg(b, &f->args[i]);
    d->implicit_count = (int)vd__blob_u32_max(b, VD__BLOB_IMPLICIT);
    for (int i = 0; i < d->implicit_count && !b->bad; i++) vd__blob_implicit(b, &f->implicit[i]);
    bool prints = false;
    for (int i = 0; i < d->implicit_count && !b->bad; i++) prints = prints || f->implicit[i].kind == VD_IMPLICIT_OUTPUT;
    d->format_count = prints ? (int)vd__blob_u32_max(b, VD__MAX_FORMATS) : 0;
    for (int i = 0; i < d->format_count && !b->bad; i++) f->formats[i] = vd__blob_string(b);
    d->args = f->args;
    d->implicit = f->implicit;
    d->formats = f->formats;
    d->code_size = vd__blob_u32(b);
    d->code = vd__blob_bytes(b, d->code_size);
}

/* Returns 0 if the backend does not accept this kind of code, 1 if it does, 2 if all devices also have the features
   that the form needs. */
static int vd__blob_form_match(const vd_context *ctx, const vd_kernel_desc *d) {
    const vd_code *codes = ctx->driver.backend->codes;
    uint64_t required = d->features, features = ~(uint64_t)0;
    for (int i = 0; i < d->arg_count; i++)
        if (d->args[i].kind == VD_ARG_ADDRESS) required |= VD_FEATURE_ADDRESS;
    for (uint32_t i = 0; i < ctx->device_count; i++) features &= ctx->devices[i].device.info.features;
    for (size_t i = 0; i < VD__COUNT(ctx->driver.backend->codes) && codes[i]; i++)
        if (codes[i] == d->code_kind) return required & ~features ? 1 : 2;
    return 0;
}

/* The kernel that vd__blob_scan searches for, and its best form. */
typedef struct vd__blob_search {
    const vd_context *ctx;
    const char *name;     /* NULL: the only kernel */
    uint32_t found;       /* number of kernels with that name */
    const char *kernel;   /* the name in the file */
    vd__blob form;        /* position of the first of the best forms */
    int match;            /* largest result of vd__blob_form_match; -1: no form found */
} vd__blob_search;

/* Reads the whole file after the head. Returns false if it is damaged. `f` is scratch memory. */
static bool vd__blob_scan(vd__blob *b, vd__blob_search *s, vd__blob_form *f) {
    uint32_t kernels = vd__blob_u32(b);
    for (uint32_t i = 0; i < kernels && !b->bad; i++) {
        const char *name = vd__blob_string(b);
        bool matches = !s->name || strcmp(name, s->name) == 0;
        if (matches) { s->found++; s->kernel = name; }
        uint32_t forms = vd__blob_u32(b);
        if (!forms) b->bad = true;
        for (uint32_t j = 0; j < forms && !b->bad; j++) {
            vd__blob position = *b;
            vd__blob_form_read(b, name, f);
            if (!matches || b->bad || vd__blob_form_match(s->ctx, &f->desc) <= s->match) continue;
            s->form = position;
            s->match = vd__blob_form_match(s->ctx, &f->desc);
        }
    }
    return kernels && !b->bad && !b->left;
}

/* Reads the head, and checks magic, version, size and checksum. */
static vd_result vd__blob_open(vd__blob *b, const char *name) {
    size_t size = b->left;
    const uint8_t *magic = vd__blob_bytes(b, 4);
    uint32_t version = vd__blob_u32(b);
    uint64_t stated_size = vd__blob_u64(b), stated_sum = vd__blob_u64(b), actual_sum = 0xcbf29ce484222325u;
    if (b->bad || memcmp(magic, "VDKB", 4))
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_load", name, "blob (%llu bytes) is not a file of kernels: "
                             "expected magic \"VDKB\" and at least %d bytes", VD__U(size), VD__BLOB_HEAD);
    if (version != VD__BLOB_VERSION)
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_load", name, "the blob has version %u, but only version %d "
                             "is supported", (unsigned)version, VD__BLOB_VERSION);
    if (stated_size != size)
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_load", name, "the blob has %llu bytes, but its header has "
                             "size %llu", VD__U(size), VD__U(stated_size));
    for (size_t i = 0; i < b->left; i++) actual_sum = (actual_sum ^ b->data[i]) * 0x100000001b3u;
    if (actual_sum == stated_sum) return VD_OK;
    return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_load", name, "the blob is damaged: its checksum is %016llx, but "
                         "its header has %016llx", VD__U(actual_sum), VD__U(stated_sum));
}

/* Finds the kernel and reads its best form into `f`. */
static vd_result vd__blob_find(const vd_context *ctx, vd__blob b, const char *name, vd__blob_form *f) {
    const char *shown_name = name ? name : "";
    vd__blob_search s;
    vd_result r = vd__blob_open(&b, shown_name);
    if (r) return r;
    memset(&s, 0, sizeof s);
    s.ctx = ctx;
    s.name = name;
    s.match = -1;
    if (!vd__blob_scan(&b, &s, f))
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_load", shown_name,
                             "the blob is invalid: its tables are inconsistent %llu bytes before its end",
                             VD__U(b.left));
    if (!s.found)
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_load", shown_name, "the blob has no kernel of this name");
    if (s.found > 1)
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_load", shown_name, "the blob has %u kernels%s",
                             (unsigned)s.found, name ? " of this name" : "; select one with name");
    vd__blob_form_read(&s.form, s.kernel, f);
    return VD_OK;
}

VD__SMALL_END

// >>hazards
/* Hazard tracking. A list records which byte ranges of which memory were read and written since its last barrier.
   The library records a barrier only before a command that conflicts with these accesses. */

#define VD__EPOCH ((uint64_t)1 << 32)
/* Maximum number of memories in a table (stated in the manual). When a table is full, a barrier is recorded, which
   empties it; without a limit, short-lived buffers that never conflict would accumulate. */
enum { VD__HAZARDS = 8192 };

/* Returns the hash slot that holds this memory's serial, or the empty slot where it would be inserted. Linear
   probing from the hash `from`. */
static inline uint32_t vd__hazards_slot(const vd__hazards *h, uint32_t serial, uint32_t from) {
    uint64_t key = h->epoch | serial;
    uint32_t slot = from & h->mask;
    while (h->keys[slot] != key && h->keys[slot] >= h->epoch) slot = (slot + 1) & h->mask;
    return slot;
}

/* Returns the accesses recorded in a slot, or NULL if the slot is empty. */
static inline vd__tracked_memory *vd__hazards_tracked(const vd__hazards *h, uint32_t slot) {
    return h->keys[slot] >= h->epoch ? &h->tracked[h->indices[slot]] : NULL;
}

/* Grows the table so that `count` entries fit at a load factor of 1/2. Returns false if memory runs out. */
static VD__NOINLINE bool vd__hazards_grow(vd__hazards *h, uint32_t count) {
    uint32_t capacity = h->keys ? h->mask + 1 : 16;
    while (capacity < count * 2) capacity *= 2;
    uint64_t *keys = (uint64_t *)vd__alloc_zeroed(h->allocator, capacity * sizeof *keys);
    uint32_t *indices = (uint32_t *)vd__alloc(h->allocator, capacity * sizeof *indices);
    vd__tracked_memory *tracked = (vd__tracked_memory *)vd__realloc(h->allocator, h->tracked,
                                                                    capacity / 2 * sizeof *tracked);
    if (tracked) h->tracked = tracked;
    if (!keys || !indices || !tracked) {
        vd__free(h->allocator, keys);
        vd__free(h->allocator, indices);
        return false;
    }
    vd__free(h->allocator, h->keys);
    vd__free(h->allocator, h->indices);
    h->keys = keys;
    h->indices = indices;
    h->mask = capacity - 1;
    h->limit = capacity / 2; /* keeps at least one slot empty, so probing terminates */
    h->epoch = VD__EPOCH;
    for (uint32_t i = 0; i < h->count; i++) {
        uint32_t slot = vd__hazards_slot(h, h->tracked[i].serial, h->tracked[i].serial);
        h->keys[slot] = h->epoch | h->tracked[i].serial;
        h->indices[slot] = i;
    }
    return true;
}

static bool vd__hazards_init(vd__hazards *h, const vd_allocator *allocator) {
    memset(h, 0, sizeof *h);
    h->allocator = allocator;
    return vd__hazards_grow(h, VD_MAX_ARGS);
}

static void vd__hazards_free(vd__hazards *h) {
    vd__free(h->allocator, h->keys);
    vd__free(h->allocator, h->indices);
    vd__free(h->allocator, h->tracked);
}

/* Called after a barrier: removes all recorded accesses. */
static inline void vd__hazards_clear(vd__hazards *h) {
    h->count = 0;
    h->stages = 0;
    h->limit = (h->mask + 1) / 2;
    h->epoch += VD__EPOCH;
    if (VD__LIKELY(h->epoch != 0)) return;
    memset(h->keys, 0, (h->mask + 1) * sizeof *h->keys); /* after 2^32 epochs an old key would match a current one */
    h->epoch = VD__EPOCH;
}

/* Returns whether an access to [begin, end) conflicts with a recorded one: they overlap and at least one writes. */
static inline bool vd__tracked_conflicts(const vd__tracked_memory *t, uint64_t begin, uint64_t end, bool write) {
    for (uint32_t i = 0; i < t->count; i++)
        if (t->ranges[i].begin < end && begin < t->ranges[i].end && (write || (t->written >> i & 1u))) return true;
    return false;
}

/* Adds a range. Extends an existing range of the same kind (read or written) if the two overlap or are adjacent. If all
   ranges are in use, extends the one that grows least: this can lead to barriers that are not needed, but never to a
   missing one. */
static VD__NOINLINE void vd__tracked_add_range(vd__tracked_memory *t, uint64_t begin, uint64_t end, bool write) {
    uint32_t best = 0;
    uint64_t best_growth = UINT64_MAX;
    for (uint32_t i = 0; i < t->count; i++) {
        const vd__range *r = &t->ranges[i];
        uint64_t low = begin < r->begin ? begin : r->begin, high = end > r->end ? end : r->end;
        uint64_t growth = (high - low) - (r->end - r->begin);
        bool touches = begin <= r->end && r->begin <= end;
        bool same_kind = ((uint32_t)t->written >> i & 1u) == (uint32_t)write;
        if (touches && same_kind) growth = 0;
        else growth += 1;
        if (growth >= best_growth) continue;
        best = i;
        best_growth = growth;
    }
    if (best_growth && t->count < VD__MAX_RANGES) {
        best = t->count++;
        t->ranges[best].begin = begin;
        t->ranges[best].end = end;
    }
    if (begin < t->ranges[best].begin) t->ranges[best].begin = begin;
    if (end > t->ranges[best].end) t->ranges[best].end = end;
    t->written = (uint16_t)(t->written | (uint32_t)write << best);
}

/* Inserts the first access to a memory into its empty slot. Requires count < limit. */
static inline void vd__hazards_add(vd__hazards *h, uint32_t slot, uint32_t serial, const vd__access *a) {
    uint32_t i = h->count++;
    vd__tracked_memory *t = &h->tracked[i];
    h->keys[slot] = h->epoch | serial;
    h->indices[slot] = i;
    t->serial = serial;
    t->count = 1;
    t->written = a->written;
    t->ranges[0].begin = a->begin;
    t->ranges[0].end = a->end;
}

/* Slow path of vd__hazards_access: the first slot is occupied, by this memory or by a collision. */
static VD__NOINLINE bool vd__hazards_access_slow(vd__hazards *h, uint32_t serial, const vd__access *a, uint32_t older) {
    uint32_t slot = vd__hazards_slot(h, serial, serial);
    vd__tracked_memory *t = vd__hazards_tracked(h, slot);
    if (!t) vd__hazards_add(h, slot, serial, a);
    else if (h->indices[slot] < older && vd__tracked_conflicts(t, a->begin, a->end, a->written)) return false;
    else vd__tracked_add_range(t, a->begin, a->end, a->written);
    return true;
}

/* Records an access of a command. Returns false if it conflicts with an access of an earlier command; the caller then
   needs a barrier. Entries with an index below `older` belong to earlier commands, the others to this command. */
static inline bool vd__hazards_access(vd__hazards *h, uint32_t serial, const vd__access *a, uint32_t older) {
    uint32_t slot = serial & h->mask;
    if (VD__UNLIKELY(h->keys[slot] >= h->epoch)) return vd__hazards_access_slow(h, serial, a, older);
    vd__hazards_add(h, slot, serial, a);
    return true;
}

/* Returns whether a list whose first accesses are `after` needs a barrier because of the earlier accesses `before`. */
static bool vd__hazards_conflict(const vd__hazards *before, const vd__hazards *after) {
    if (!before->limit || !after->limit) return before->stages != 0;
    for (uint32_t i = 0; i < after->count; i++) {
        const vd__tracked_memory *a = &after->tracked[i];
        const vd__tracked_memory *b = vd__hazards_tracked(before, vd__hazards_slot(before, a->serial, a->serial));
        for (uint32_t r = 0; b && r < a->count; r++)
            if (vd__tracked_conflicts(b, a->ranges[r].begin, a->ranges[r].end, a->written >> r & 1u)) return true;
    }
    return false;
}

/* Adds the accesses of a list after its last barrier. If they are unknown or do not fit, sets limit to 0: every access
   then conflicts until the next barrier. */
static void vd__hazards_merge(vd__hazards *h, const vd__hazards *more) {
    h->stages |= more->stages;
    uint32_t count = h->count + more->count;
    if (h->limit && (!more->limit || (count > h->limit && (count > VD__HAZARDS || !vd__hazards_grow(h, count)))))
        h->limit = 0;
    for (uint32_t i = 0; i < more->count && h->limit; i++) {
        const vd__tracked_memory *t = &more->tracked[i];
        for (uint32_t r = 0; r < t->count; r++) {
            vd__access a = { NULL, t->ranges[r].begin, t->ranges[r].end, (t->written >> r & 1u) != 0, 0, 0 };
            vd__hazards_access(h, t->serial, &a, 0);
        }
    }
}

// >>heap
/* Allocates device memory. Small buffers share blocks; a large buffer has a block of its own ("dedicated"). */

VD__SMALL

/* Frees a block and removes it from the list of its type. */
static void vd__heap_remove(vd__context_device *dev, vd__heap_block *b) {
    vd__heap_block **link = &dev->heap.blocks[b->block.type];
    while (*link != b) link = &(*link)->next;
    *link = b->next;
    dev->heap.block_count--;
    dev->heap.bytes -= b->block.size;
    dev->ctx->driver.backend->block_destroy(&dev->device, &b->block);
    if (!b->dedicated) vd__tlsf_destroy(&b->suballocator);
    vd__free(&dev->ctx->host.allocator, b);
}

/* Allocates a block from the driver. A block that is not dedicated gets a sub-allocator. */
static vd_result vd__heap_add(vd__context_device *dev, uint32_t type, uint64_t size,
                              const vd__memory_requirements *need, bool dedicated, vd__heap_block **out) {
    vd__heap_block *b = (vd__heap_block *)vd__alloc_zeroed(&dev->ctx->host.allocator, sizeof *b);
    if (!b
        || (!dedicated
            && !vd__tlsf_init(&b->suballocator, &dev->ctx->host.allocator, (uint32_t)(size / VD__TLSF_UNIT)))) {
        vd__free(&dev->ctx->host.allocator, b);
        return vd__fail_memory(NULL, NULL, 0);
    }
    b->dedicated = dedicated;
    b->block.size = size;
    b->block.type = type;
    b->block.sharing = need->sharing;
    vd_result r = dev->ctx->driver.backend->block_create(&dev->device, &b->block);
    if (r) {
        if (!dedicated) vd__tlsf_destroy(&b->suballocator);
        vd__free(&dev->ctx->host.allocator, b);
        return r;
    }
    b->next = dev->heap.blocks[type];
    dev->heap.blocks[type] = b;
    dev->heap.block_count++;
    dev->heap.bytes += size;
    *out = b;
    return VD_OK;
}

/* Sub-allocates from a block. Returns false if the block is dedicated or has no free range that fits. */
static bool vd__heap_suballocate(vd__heap_block *b, const vd__memory_requirements *need, vd__storage *out) {
    if (b->dedicated) return false;
    uint32_t align = need->align > VD__TLSF_UNIT ? (uint32_t)((need->align + VD__TLSF_UNIT - 1) / VD__TLSF_UNIT) : 1;
    out->node = vd__tlsf_allocate(&b->suballocator, (uint32_t)((need->size + VD__TLSF_UNIT - 1) / VD__TLSF_UNIT),
                                  align);
    if (!out->node) return false;
    out->memory.block = &b->block;
    out->memory.offset = (uint64_t)b->suballocator.nodes[out->node].offset * VD__TLSF_UNIT;
    return true;
}

/* Allocates memory of one type: from an existing block, then from a new block. If the driver has no memory for a new
   block of the usual size, tries smaller ones, and finally a dedicated block. */
static vd_result vd__heap_allocate_type(vd__context_device *dev, uint32_t type, const vd__memory_requirements *need,
                                        bool dedicated, vd__storage *out) {
    uint64_t rounded = (need->size + VD__TLSF_UNIT - 1) / VD__TLSF_UNIT * VD__TLSF_UNIT, size = dev->heap.block_bytes;
    vd__heap_block *b = NULL;
    if (!dedicated && rounded <= size / 2) {
        for (b = dev->heap.blocks[type]; b; b = b->next)
            if (vd__heap_suballocate(b, need, out)) return VD_OK;
        for (; size / 2 >= rounded && size >= (1u << 16); size /= 2) {
            vd_result r = vd__heap_add(dev, type, size, need, false, &b);
            if (!r) return vd__heap_suballocate(b, need, out) ? VD_OK : vd__fail_memory(NULL, NULL, 0);
            if (r != VD_ERROR_OUT_OF_DEVICE_MEMORY) return r;
        }
    }
    vd_result r = vd__heap_add(dev, type, rounded, need, true, &b);
    if (r) return r;
    out->node = 0;
    out->memory.block = &b->block;
    out->memory.offset = 0;
    return VD_OK;
}

/* Allocates the memory that `need` describes. If kernels use it, `usage` is only a preference: if the device has no
   such memory type, uses device memory. The caller holds the context's lock. */
static vd_result vd__heap_allocate(vd__context_device *dev, vd_memory usage, const vd__memory_requirements *need,
                                   bool dedicated, vd__storage *out) {
    uint32_t mask = need->types;
    bool tried = false;
    for (;;) {
        uint32_t bit = mask ? dev->ctx->driver.backend->memory_types(&dev->device, usage, mask) : 0;
        if (!bit && !tried && need->kernel_access)
            bit = dev->ctx->driver.backend->memory_types(&dev->device, VD_MEMORY_DEVICE, mask);
        if (!bit) break;
        vd_result r = vd__heap_allocate_type(dev, vd__lowest_bit(bit), need, dedicated, out);
        if (r != VD_ERROR_OUT_OF_DEVICE_MEMORY) return r;
        tried = true;
        mask &= ~bit;
    }
    return tried ? VD_ERROR_OUT_OF_DEVICE_MEMORY : vd__error_add_out_of_memory(vd__fail(VD_ERROR_OUT_OF_DEVICE_MEMORY,
            "the device has no suitable memory type"));
}

/* Frees the memory of a storage. A block that becomes empty is freed, except one per type, which is kept for the next
   buffer. Imported memory is added to pending_releases. */
static void vd__heap_release(vd__context_device *dev, vd__storage *s) {
    vd__heap_block *b = (vd__heap_block *)(void *)s->memory.block;
    if (b->imported) {
        dev->ctx->driver.backend->block_destroy(&dev->device, &b->block);
        b->next = dev->ctx->pending_releases;
        dev->ctx->pending_releases = b;
        vd__atomic_store32(&dev->ctx->messages.pending, 1);
        return;
    }
    if (!b->dedicated) {
        vd__tlsf_release(&b->suballocator, s->node);
        if (b->suballocator.allocated_size) return;
        vd__heap_block *other = dev->heap.blocks[b->block.type];
        while (other && (other == b || other->dedicated || other->suballocator.allocated_size)) other = other->next;
        if (!other) return;
    }
    vd__heap_remove(dev, b);
}

/* Sets the host address of a storage and applies the disabled memory features. Imported memory counts as
   VD_MEMORY_SHARED. */
static void vd__storage_map(vd__context_device *dev, vd_memory usage, vd__storage *s) {
    vd__block *block = s->memory.block;
    bool unmapped = usage == VD_MEMORY_DEVICE && (dev->disable & VD_FEATURE_MAPPED);
    s->memory.mapped = block->mapped && !unmapped ? block->mapped + s->memory.offset : NULL;
    if (dev->disable & VD_FEATURE_CACHED) block->host_cached = false;
    if (dev->disable & VD_FEATURE_COHERENT) block->coherent = false;
}

/* Creates a driver buffer and allocates its memory; staging and exportable memory is dedicated. The caller holds the
   context's lock. */
static vd_result vd__storage_create(vd__context_device *dev, vd_memory usage, uint64_t size, bool staging,
                                    bool exportable, vd__storage *out) {
    const vd__backend *backend = dev->ctx->driver.backend;
    vd__memory_requirements need = { 0, 0, 0, !staging, (uint8_t)(exportable ? VD__SHARE_EXPORT : VD__SHARE_NONE) };
    memset(out, 0, sizeof *out);
    out->context_device = dev;
    out->memory.size = (size + 3) & ~(uint64_t)3; /* fills write whole words */
    vd_result r = backend->memory_create(&dev->device, &out->memory, &need);
    if (r) return r;
    r = vd__heap_allocate(dev, usage, &need, staging || exportable, out);
    if (!r) {
        vd__storage_map(dev, usage, out);
        out->memory.serial = ++dev->ctx->serial;
        r = backend->memory_bind(&dev->device, &out->memory);
        if (!r) return VD_OK;
        vd__heap_release(dev, out);
    }
    backend->memory_destroy(&dev->device, &out->memory);
    return r;
}

/* Creates a driver buffer on an imported block. */
static vd_result vd__storage_import_into(vd__context_device *dev, const vd_buffer_desc *desc, vd__heap_block *b,
                                         vd__storage *out) {
    const vd__backend *backend = dev->ctx->driver.backend;
    vd__memory_requirements need = { 0, 0, 0, true, b->block.sharing };
    vd__import_source from = { 0, NULL };
    from.handle = desc->address;
    from.external = desc->external;
    vd_result r = backend->memory_create(&dev->device, &out->memory, &need);
    if (r) return r;
    r = backend->block_import(&dev->device, &b->block, &need, &from, &out->memory.offset);
    if (!r) {
        vd__storage_map(dev, VD_MEMORY_SHARED, out);
        r = backend->memory_bind(&dev->device, &out->memory);
        if (!r) return VD_OK;
        backend->block_destroy(&dev->device, &b->block);
    }
    backend->memory_destroy(&dev->device, &out->memory);
    return r;
}

/* Creates a driver buffer on memory that the user passes in the desc. The caller holds the context's lock. */
static vd_result vd__storage_import(vd__context_device *dev, const vd_buffer_desc *desc, uint64_t size,
                                    vd__storage *out) {
    memset(out, 0, sizeof *out);
    out->context_device = dev;
    vd__heap_block *b = (vd__heap_block *)vd__alloc_zeroed(&dev->ctx->host.allocator, sizeof *b);
    if (!b) return vd__fail_memory(NULL, NULL, 0);
    b->dedicated = b->imported = true;
    b->address = desc->address;
    b->block.sharing = (uint8_t)vd__import_sharing(desc);
    b->block.size = out->memory.size = desc->address_offset + size;
    /* kernels read and write whole words, so the last word must be inside */
    bool whole_words = b->block.sharing == VD__SHARE_HOST || b->block.sharing == VD__SHARE_HANDLE;
    if (whole_words) out->memory.size = (out->memory.size + 3) & ~(uint64_t)3;
    out->memory.block = &b->block;
    out->memory.serial = ++dev->ctx->serial;
    vd_result r = vd__storage_import_into(dev, desc, b, out);
    if (r) vd__free(&dev->ctx->host.allocator, b);
    else {
        b->release = desc->release;
        b->release_user = desc->release_user;
    }
    return r;
}

static void vd__storage_destroy(vd__storage *s) {
    vd__context_device *dev = s->context_device;
    dev->ctx->driver.backend->memory_destroy(&dev->device, &s->memory);
    vd__heap_release(dev, s);
}

static void vd__heap_free(vd__context_device *dev) {
    for (uint32_t type = 0; type < 32; type++)
        while (dev->heap.blocks[type]) vd__heap_remove(dev, dev->heap.blocks[type]);
}

/* Flushes (to_host false) or invalidates (to_host true) a range around host access. Does nothing if the memory is
   coherent. */
static vd_result vd__storage_sync(vd__storage *s, uint64_t offset, uint64_t size, bool to_host) {
    if (s->memory.block->coherent) return VD_OK;
    return s->context_device->ctx->driver.backend->block_sync(&s->context_device->device, s->memory.block,
                                                              s->memory.offset + offset, size, to_host);
}

VD__SMALL_END

// >>batch
/* Lists, staging memory, submission, readback, deferred destruction. The open batch of a queue is its immediate list; a
   user's list comes from vd_list_begin. */

/* in bytes */
#define VD__FLUSH_BYTES ((uint64_t)4 << 20)     /* an open batch that has staged this much is submitted */
#define VD__STAGING_BYTES ((uint64_t)4 << 20)   /* size of a staging block; a larger transfer gets a larger block */
#define VD__STAGING_LIMIT ((uint64_t)32 << 20)  /* above this much of one usage, open batches wait for a free block */
#define VD__STAGING_KEEP ((uint64_t)64 << 20)   /* an unused block that is larger is freed */
#define VD__STAGING_ALIGN ((uint64_t)64)
#define VD__DIRECT_BYTES ((uint64_t)64 << 10)   /* maximum of a host write to mapped memory that is not host-cached */
#define VD__FILL_BYTES ((uint64_t)64 << 10)     /* staged repetitions of a fill pattern */
#define VD__DIRECT_READ_BYTES ((uint64_t)16 << 10) /* larger reads may be copied by the device */

enum {
    VD__FLUSH_COMMANDS = 512,      /* an open batch with this many commands is submitted */
    VD__READ_AHEAD = 4,            /* pieces of one read in flight */
    VD__SPIN_NS = 30000,           /* a wait spins for this time before it blocks: a short dispatch completes sooner
                                      than a blocked thread would wake up */
    VD__STAGES_ALL = VD__STAGE_COMPUTE | VD__STAGE_TRANSFER
};

/* ---- the timeline ---- */

/* Reports that the device of a queue was lost, or, if another device of the context was lost before, that one. */
static vd_result vd__fail_device_lost(vd__queue *q) {
    vd_context *ctx = q->ctx;
    uint32_t lost = 0, index = q->context_device->index;
    bool first = false;
    while (!lost && !first) first = vd__atomic_compare_exchange32(&ctx->lost_device, &lost, 1 + index);
    if (first) {
        vd__atomic_or32(&ctx->state, VD__LOST);
        vd__logf(&ctx->host, VD_LOG_ERROR, "device %u '%s' was lost", (unsigned)index, q->device->info.name);
    } else index = lost - 1;
    return vd__fail(VD_ERROR_DEVICE_LOST, "device %u '%s' was lost", (unsigned)index,
                    ctx->devices[index].device.info.name);
}

/* Returns whether the timeline has reached `value`. If the device is lost, sets the error and returns false. */
static bool vd__queue_reached(vd__queue *q, uint64_t value) {
    if (value <= vd__atomic_load64(&q->completed)) return true;
    uint64_t now = q->ctx->driver.backend->queue_value(q->device, q->index);
    if (now == UINT64_MAX) {
        vd__fail_device_lost(q);
        return false;
    }
    vd__atomic_max64(&q->completed, now);
    return value <= now;
}

/* Returns the failure of the submission with this timeline value, if it is among the last VD__MAX_FAILURES. */
static vd_result vd__queue_failure_of(vd__queue *q, uint64_t value) {
    vd_result r = VD_OK;
    if (VD__LIKELY(!vd__atomic_load32(&q->failure_count))) return VD_OK;
    vd__mutex_lock(q->lock);
    for (int i = 0; i < VD__MAX_FAILURES; i++) {
        vd__failure *f = &q->failures[i];
        if (!f->result || f->value != value) continue;
        f->reported = true;
        r = vd__fail(f->result, "%s", f->text);
    }
    vd__mutex_unlock(q->lock);
    return r;
}

/* Returns a failure of the queue that no wait for its event has returned. Each failure is returned once. */
static vd_result vd__queue_take_failure(vd__queue *q) {
    vd_result r = VD_OK;
    if (VD__LIKELY(!vd__atomic_load32(&q->failure_count))) return VD_OK;
    vd__mutex_lock(q->lock);
    for (int i = 0; i < VD__MAX_FAILURES && !r; i++) {
        vd__failure *f = &q->failures[i];
        if (!f->result || f->reported) continue;
        f->reported = true;
        r = vd__fail(f->result, "%s", f->text);
    }
    vd__mutex_unlock(q->lock);
    return r;
}

static void vd__output_poll(vd_context *ctx);

/* Waits for a timeline value: spins, then blocks. If the host's cores execute the work, blocks at once: spinning would
   occupy one of them, and yielding may lose whole time slices on a busy machine. Returns VD_TIMEOUT without setting an
   error. No lock may be held. */
static vd_result vd__queue_wait(vd__queue *q, uint64_t value, uint64_t timeout_ns) {
    vd_context *ctx = q->ctx;
    uint64_t start = 0, spent = 0, spin = q->device->info.facts.groups_as_loops ? 0 : VD__SPIN_NS;
    while (!vd__queue_reached(q, value)) {
        if (vd__context_lost(ctx)) return vd__fail_device_lost(q);
        if (timeout_ns) {
            vd__pause();
            if (!start) start = vd__time_ns();
            spent = vd__time_ns() - start;
        }
        if (spent >= timeout_ns) return VD_TIMEOUT;
        if (spent < spin) continue;
        vd_result r = ctx->driver.backend->queue_wait(q->device, q->index, value,
                                                      timeout_ns == VD_FOREVER ? VD_FOREVER : timeout_ns - spent);
        if (r == VD_ERROR_DEVICE_LOST) return vd__fail_device_lost(q);
        if (r != VD_OK && r != VD_TIMEOUT) return r;
    }
    if (VD__UNLIKELY(vd__atomic_load_pointer((void *const *)(void *)&ctx->outputs) != NULL)) vd__output_poll(ctx);
    return vd__queue_failure_of(q, value);
}

/* ---- deferred destruction ---- */

static void vd__buffer_storage_free(vd_context *ctx, vd__buffer *b) {
    for (uint32_t i = 0; i < ctx->device_count && b->storage; i++)
        if (b->storage[i].memory.serial) vd__storage_destroy(&b->storage[i]);
    if (b->storage != &b->own_storage) vd__free(&ctx->host.allocator, b->storage);
    b->storage = NULL;
}

static void vd__kernel_codes_free(vd_context *ctx, vd__kernel *k, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) ctx->driver.backend->kernel_destroy(&ctx->devices[i].device, &k->codes[i]);
    vd__free(&ctx->host.allocator, k->arena);
}

/* Adds a destroyed object to the garbage. A ticket is released at once, because the device does not use it. The caller
   of this function and of those up to vd__reap_locked holds the context's lock. */
static void vd__garbage_add(vd_context *ctx, vd__slot *slot) {
    if (VD__ID_TYPE(slot->id) == VD__OBJECT_TICKET) {
        vd__staging *staging = ((vd__ticket *)(void *)slot)->staging.staging;
        if (staging) vd__atomic_add32(&staging->pins, UINT32_MAX);
        vd__pool_release(&ctx->tickets, slot);
        return;
    }
    slot->next = ctx->garbage;
    ctx->garbage = slot;
    vd__atomic_add32(&ctx->garbage_count, 1);
}

/* Adds an object that was destroyed while pinned to the garbage if its last pin has been released. Returns whether it
   did. */
static bool vd__garbage_add_if_unpinned(vd_context *ctx, vd__slot *slot) {
    bool unpinned = slot->destroyed_while_pinned && !vd__atomic_load32(&slot->pins);
    if (!unpinned) return false;
    slot->destroyed_while_pinned = false;
    vd__garbage_add(ctx, slot);
    return true;
}

static void vd__garbage_free_buffer(vd_context *ctx, vd__buffer *b) {
    if (b->view) {
        vd__atomic_add32(&b->root->slot.pins, UINT32_MAX);
        vd__garbage_add_if_unpinned(ctx, &b->root->slot);
    } else vd__buffer_storage_free(ctx, b);
    vd__free(&ctx->host.allocator, b->name);
    vd__pool_release(&ctx->buffers, &b->slot);
}

static void vd__garbage_free(vd_context *ctx, vd__slot *slot) {
    if (VD__ID_TYPE(slot->id) == VD__OBJECT_BUFFER) vd__garbage_free_buffer(ctx, (vd__buffer *)(void *)slot);
    else {
        vd__kernel_codes_free(ctx, (vd__kernel *)(void *)slot, ctx->device_count);
        vd__pool_release(&ctx->kernels, slot);
    }
    vd__atomic_add32(&ctx->garbage_count, UINT32_MAX);
}

/* Returns the timeline value of the last use of a destroyed object by a queue. A view has no memory of its own. */
static uint64_t vd__garbage_last_use(const vd__slot *slot, const vd__queue *q) {
    if (VD__ID_TYPE(slot->id) == VD__OBJECT_KERNEL)
        return ((const vd__kernel *)(const void *)slot)->last_uses[q - q->ctx->queues];
    const vd__buffer *b = (const vd__buffer *)(const void *)slot;
    const vd__storage *s = b->view ? NULL : &b->storage[q->context_device->index];
    return s && s->memory.serial ? s->last_use[q->index] : 0;
}

/* Inserts a destroyed object into the garbage of a queue, ordered by timeline value. Its value is almost always the
   largest. */
static void vd__queue_add_garbage(vd__queue *q, vd__slot *slot) {
    uint64_t value = vd__garbage_last_use(slot, q);
    vd__slot **link = &q->garbage;
    if (q->garbage && vd__garbage_last_use(q->last_garbage, q) <= value) link = &q->last_garbage->next;
    while (*link && vd__garbage_last_use(*link, q) <= value) link = &(*link)->next;
    slot->next = *link;
    *link = slot;
    if (!slot->next) q->last_garbage = slot;
}

/* Frees a destroyed object, or adds it to the garbage of the first queue that has not completed its last use. */
static void vd__garbage_free_or_wait(vd_context *ctx, vd__slot *slot) {
    for (uint32_t i = 0; i < ctx->queue_count; i++) {
        vd__queue *q = &ctx->queues[i];
        if (vd__garbage_last_use(slot, q) <= vd__atomic_load64(&q->completed)) continue;
        vd__queue_add_garbage(q, slot);
        return;
    }
    vd__garbage_free(ctx, slot);
}

/* Frees the destroyed objects whose last use is complete. Freeing a view can make its buffer garbage. */
static void vd__reap_locked(vd_context *ctx) {
    for (uint32_t i = 0; i < ctx->queue_count; i++) {
        vd__queue *q = &ctx->queues[i];
        uint64_t completed = vd__atomic_load64(&q->completed);
        while (q->garbage && vd__garbage_last_use(q->garbage, q) <= completed) {
            vd__slot *slot = q->garbage;
            q->garbage = slot->next;
            vd__garbage_free_or_wait(ctx, slot);
        }
    }
    while (ctx->garbage) {
        vd__slot *slot = ctx->garbage;
        ctx->garbage = slot->next;
        vd__garbage_free_or_wait(ctx, slot);
    }
}

/* Polls the queues and frees garbage. No lock may be held. */
static void vd__reap(vd_context *ctx) {
    if (!vd__atomic_load32(&ctx->garbage_count)) return;
    for (uint32_t i = 0; i < ctx->queue_count; i++)
        vd__queue_reached(&ctx->queues[i], vd__atomic_load64(&ctx->queues[i].submitted));
    vd__mutex_lock(&ctx->lock);
    vd__reap_locked(ctx);
    vd__mutex_unlock(&ctx->lock);
}

static void vd__slot_unpin_dead(vd_context *ctx, vd__slot *slot) {
    vd__mutex_lock(&ctx->lock);
    bool added = vd__garbage_add_if_unpinned(ctx, slot);
    vd__mutex_unlock(&ctx->lock);
    if (added) vd__reap(ctx);
}

/* Adds a destroyed object to the garbage, now or with its last unpin. The caller holds the context's lock. */
static void vd__object_retire(vd_context *ctx, vd__slot *slot) {
    slot->destroyed_while_pinned = vd__atomic_load32_seq(&slot->pins) != 0;
    if (!slot->destroyed_while_pinned) vd__garbage_add(ctx, slot);
}

static void vd__view_unlink(vd__buffer *b) {
    if (b->next_view) b->next_view->previous_view = b->previous_view;
    if (b->previous_view) b->previous_view->next_view = b->next_view;
    else b->root->views = b->next_view;
}

/* Destroys an object: its handle, and those of a buffer's views, become invalid. */
static void vd__object_destroy(vd_context *ctx, vd__pool *pool, vd__slot *slot) {
    vd__buffer *b = VD__ID_TYPE(slot->id) == VD__OBJECT_BUFFER ? (vd__buffer *)(void *)slot : NULL;
    vd__mutex_lock(&ctx->lock);
    vd__pool_invalidate(pool, slot);
    if (b && b->view) vd__view_unlink(b);
    for (vd__buffer *v = b ? b->views : NULL, *next; v; v = next) {
        next = v->next_view;
        vd__pool_invalidate(pool, &v->slot);
        vd__object_retire(ctx, &v->slot);
    }
    vd__object_retire(ctx, slot);
    vd__mutex_unlock(&ctx->lock);
}

/* Locks all devices, in order of their index. */
static void vd__lock_all(vd_context *ctx) {
    for (uint32_t i = 0; i < ctx->device_count; i++) vd__mutex_lock(&ctx->devices[i].lock);
}

static void vd__unlock_all(vd_context *ctx) {
    for (uint32_t i = 0; i < ctx->device_count; i++) vd__mutex_unlock(&ctx->devices[i].lock);
}

/* ---- recordings ---- */

static vd__recording_ring *vd__list_ring(const vd_list *l) { return &l->queue->rings[l->immediate ? 0 : 1]; }

static void vd__recording_recycle(vd__recording_ring *ring, vd__recording *r) {
    r->next = ring->spare;
    ring->spare = r;
}

/* Sets *out to an empty recording, which is begun: a completed one to be reused, or a new one. The caller of this
   function and of those up to the section "lists" holds the queue's lock. */
static vd_result vd__recording_acquire(vd__queue *q, vd__recording_ring *ring, vd__recording **out) {
    const vd__backend *backend = q->ctx->driver.backend;
    vd__device *device = q->device;
    while (ring->oldest && vd__queue_reached(q, ring->oldest->value)) {
        vd__recording *done = ring->oldest;
        ring->oldest = done->next;
        vd__recording_recycle(ring, done);
    }
    vd__recording *r = ring->spare;
    if (r) ring->spare = r->next;
    else {
        r = (vd__recording *)vd__alloc_zeroed(&q->ctx->host.allocator, sizeof *r);
        if (!r) return vd__fail_memory(NULL, NULL, 0);
        vd_result result = backend->commands_create(device, &r->commands);
        if (result) {
            vd__free(&q->ctx->host.allocator, r);
            return result;
        }
    }
    vd_result result = backend->commands_begin(device, &r->commands, false);
    if (result) vd__recording_recycle(ring, r);
    else *out = r;
    return result;
}

static void vd__recording_submitted(vd__recording_ring *ring, vd__recording *r) {
    if (ring->oldest) ring->newest->next = r;
    else ring->oldest = r;
    ring->newest = r;
    r->next = NULL;
}

/* ---- staging ---- */

static void vd__staging_destroy(vd__queue *q, vd_memory usage, vd__staging *s) {
    vd__staging **link = &q->staging[usage];
    while (*link != s) link = &(*link)->next;
    *link = s->next;
    q->staging_bytes[usage] -= s->storage.memory.size;
    vd__mutex_lock(&q->ctx->lock);
    vd__storage_destroy(&s->storage);
    vd__mutex_unlock(&q->ctx->lock);
    vd__free(&q->ctx->host.allocator, s);
}

/* Creates a staging block of `size` bytes. The caller holds the queue's lock. */
static vd_result vd__staging_create(vd__queue *q, vd_memory usage, uint64_t size, vd__staging **out) {
    vd_context *ctx = q->ctx;
    vd__staging *s = (vd__staging *)vd__alloc_zeroed(&ctx->host.allocator, sizeof *s);
    if (!s) return vd__fail_memory(NULL, NULL, 0);
    vd__mutex_lock(&ctx->lock);
    vd_result r = vd__storage_create(q->context_device, usage, size, true, false, &s->storage);
    if (!r && !s->storage.memory.mapped) {
        vd__storage_destroy(&s->storage);
        r = vd__fail(VD_ERROR_BACKEND, "the host cannot access staging memory");
    }
    vd__mutex_unlock(&ctx->lock);
    if (r) {
        vd__free(&ctx->host.allocator, s);
        return r;
    }
    s->next = q->staging[usage];
    q->staging[usage] = s;
    q->staging_bytes[usage] += s->storage.memory.size;
    *out = s;
    return VD_OK;
}

static bool vd__staging_fits(const vd__staging *s, uint64_t size) {
    return s->filled <= s->storage.memory.size && size <= s->storage.memory.size - s->filled;
}

/* Finds an unused staging block of at least `size` bytes, or creates one. Returns VD_TIMEOUT if an open batch has
   reached VD__STAGING_LIMIT; *wait is then the timeline value at which a block becomes unused. */
static vd_result vd__staging_find(vd_list *l, vd_memory usage, uint64_t size, vd__staging **out, uint64_t *wait) {
    vd__queue *q = l->queue;
    uint64_t soonest = UINT64_MAX;
    for (vd__staging *s = q->staging[usage], *next; s; s = next) {
        next = s->next;
        if (s->owner || vd__atomic_load32(&s->pins)) continue;
        if (!vd__queue_reached(q, s->value)) {
            if (s->value < soonest) soonest = s->value;
            continue;
        }
        s->filled = 0;
        if (vd__staging_fits(s, size)) {
            *out = s;
            return VD_OK;
        }
        if (s->storage.memory.size > VD__STAGING_KEEP) vd__staging_destroy(q, usage, s);
    }
    *wait = soonest;
    if (l->immediate && size <= VD__STAGING_BYTES && soonest != UINT64_MAX
        && q->staging_bytes[usage] + VD__STAGING_BYTES > VD__STAGING_LIMIT)
        return VD_TIMEOUT;
    return vd__staging_create(q, usage, size > VD__STAGING_BYTES ? size : VD__STAGING_BYTES, out);
}

/* Allocates and pins a range of the list's staging block. Replaces the block if it is full. */
static vd_result vd__staging_allocate(vd_list *l, vd_memory usage, uint64_t size, vd__staging_range *out,
                                      uint64_t *wait) {
    vd__staging *s = l->staging[usage];
    if (s && l->immediate && !vd__atomic_load32(&s->pins) && s->filled && vd__queue_reached(l->queue, s->value))
        s->filled = 0;
    if (!s || !vd__staging_fits(s, size)) {
        /* a user's list owns its blocks until it is submitted, because only then their timeline value is known */
        if (s && l->immediate) s->owner = NULL;
        l->staging[usage] = NULL;
        vd_result r = vd__staging_find(l, usage, size, &s, wait);
        if (r) return r;
        s->owner = l;
        l->staging[usage] = s;
    }
    out->staging = s;
    out->offset = s->filled;
    s->filled += (size + VD__STAGING_ALIGN - 1) / VD__STAGING_ALIGN * VD__STAGING_ALIGN;
    vd__atomic_add32(&s->pins, 1);
    return VD_OK;
}

static uint8_t *vd__staging_range_bytes(const vd__staging_range *range) {
    return range->staging->storage.memory.mapped + range->offset;
}

/* ---- submission ---- */

/* Stores the failure of a submission, and advances the timeline so that waits for its value end. */
static void vd__queue_add_failure(vd__queue *q, uint64_t value, vd_result result) {
    vd_context *ctx = q->ctx;
    vd__failure *f = &q->failures[q->failure_count % VD__MAX_FAILURES];
    f->value = value;
    f->result = result;
    f->reported = false;
    if (result == VD_ERROR_DEVICE_LOST)
        snprintf(f->text, sizeof f->text, "submission %llu failed: device %u '%.60s' was lost: %.120s", VD__U(value),
                 (unsigned)q->context_device->index, q->device->info.name, vd__error_join());
    else snprintf(f->text, sizeof f->text, "submission %llu failed: %.160s", VD__U(value), vd__error_join());
    vd__atomic_store32(&q->failure_count, q->failure_count + 1);
    q->open_batch.hazards.stages = VD__STAGES_ALL; /* its barriers were not executed */
    q->open_batch.hazards.limit = 0;
    vd__logf(&ctx->host, VD_LOG_ERROR, "%s", f->text);
    vd__submission empty = { NULL, value, false, NULL, 0, NULL, 0 };
    if (result == VD_ERROR_DEVICE_LOST || ctx->driver.backend->queue_submit(q->device, q->index, &empty))
        vd__fail_device_lost(q);
}

static void vd__output_submitted(vd_list *l, uint64_t value);
static vd_result vd__output_record(vd_list *l);
static vd_result vd__output_submit(vd_list *l);

/* Assigns the timeline value of a list's submission to its staging blocks and tickets. 0: the list is not submitted. */
static void vd__list_assign_value(vd_list *l, uint64_t value) {
    if (VD__UNLIKELY(l->output != NULL)) vd__output_submitted(l, value);
    for (int usage = 0; usage < VD__MEMORY_USAGES && !l->immediate; usage++) {
        for (vd__staging *s = l->queue->staging[usage]; s; s = s->next) {
            if (s->owner != l) continue;
            s->owner = NULL;
            s->value = value;
        }
        l->staging[usage] = NULL;
    }
    while (l->tickets) {
        vd__ticket *t = l->tickets;
        l->tickets = t->next;
        t->list = NULL;
        t->value = value;
    }
}

/* Stores the timeline values of other queues that the next submission must wait for in `out`, without those that are
   reached or that an earlier submission waited for. Returns their number. */
static uint32_t vd__queue_waits(vd__queue *q, vd__wait out[VD_MAX_QUEUES]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < q->device->queue_count && q->device->queue_count > 1; i++) {
        uint64_t value = q->waits[i];
        q->waits[i] = 0;
        if (i == q->index || value <= q->waited[i]
            || value <= vd__atomic_load64(&q->context_device->queues[i].completed))
            continue;
        q->waited[i] = value;
        out[count].queue = i;
        out[count++].value = value;
    }
    return count;
}

static bool vd__queue_captures(const vd__queue *q) {
    return VD__UNLIKELY(q->device->can_capture) && q->ctx->driver.backend->queue_capturing(q->device, q->index);
}

/* Fails if the queue's stream is being captured and the list uses staging memory or prints: when the user's graph is
   launched, that memory has another use. */
static vd_result vd__capture_check(const vd_list *l) {
    if (VD__LIKELY(!l->staged_bytes && !l->output) || !vd__queue_captures(l->queue)) return VD_OK;
    return vd__fail(VD_ERROR_UNSUPPORTED, "the stream of queue %u is being captured, and a graph cannot contain %s",
                    l->queue->index, l->output ? "kernels that print"
                    : "transfers through staging memory (writes, reads, fills without whole words)");
}

/* Submits the list's recording. q->submitted becomes its timeline value. */
static void vd__list_submit_recording(vd_list *l) {
    vd__queue *q = l->queue;
    const vd__backend *backend = q->ctx->driver.backend;
    vd__device *device = q->device;
    vd__recording *recording = l->recording;
    vd__commands *c = &recording->commands;
    uint64_t value = q->submitted + 1;
    if (l->host_stages) backend->record_barrier(device, c, l->host_stages, VD__STAGE_HOST, NULL, 0);
    vd_result r = backend->commands_end(device, c);
    vd__wait waits[VD_MAX_QUEUES];
    vd__submission s = { c, value, l->barrier_first, waits, vd__queue_waits(q, waits), NULL, 0 };
    if (!r) r = vd__capture_check(l);
    if (!r) r = backend->queue_submit(device, q->index, &s);
    recording->value = value;
    vd__atomic_store64(&q->submitted, value);
    if (r) vd__queue_add_failure(q, value, r);
    if (VD__UNLIKELY(r && vd__atomic_load64(&q->output.id))) q->output_stale = true;
    l->stats.submissions++;
    vd__recording_submitted(vd__list_ring(l), recording);
    l->recording = NULL;
    l->commands = 0;
    l->staged_bytes = 0;
    l->host_stages = 0;
    vd__list_assign_value(l, value);
}

static VD__NOINLINE void vd__queue_flush(vd__queue *q) {
    if (!q->open_batch.recording) return;
    if (VD__UNLIKELY(q->open_batch.output != NULL)) vd__output_record(&q->open_batch);
    vd__list_submit_recording(&q->open_batch);
}

/* ---- lists ---- */

/* Locks the queue of an open batch, which several threads may use. A user's list is externally synchronised. */
static inline void vd__list_lock(vd_list *l) {
    if (l->immediate) vd__mutex_lock(l->queue->lock);
}

static inline void vd__list_unlock(vd_list *l) {
    if (!l->immediate) return;
    bool full = l->commands >= VD__FLUSH_COMMANDS || l->staged_bytes >= VD__FLUSH_BYTES;
    if (VD__UNLIKELY(full)) vd__queue_flush(l->queue);
    vd__mutex_unlock(l->queue->lock);
    if (VD__UNLIKELY(full)) vd__output_poll(l->ctx);
}

static VD__COLD void vd__callbacks_deliver(vd_context *ctx);
static VD__COLD vd_result vd__call_failed(vd_context *ctx, vd_result r);

/* Makes pending calls of the user's callbacks. */
static inline void vd__api_end(vd_context *ctx) {
    if (VD__UNLIKELY(vd__atomic_load32(&ctx->messages.pending))) vd__callbacks_deliver(ctx);
}

/* Called at the end of an API call, after its last use of the context, holding no lock. Debug mode logs failures.
   `ctx` may be NULL if the call failed. Returns r. */
static inline vd_result vd__call_end(vd_context *ctx, vd_result r) {
    if (VD__UNLIKELY(r)) vd__call_failed(ctx, r);
    else vd__api_end(ctx);
    return r;
}

/* vd__call_end of a call that the list refused. The list may be NULL. */
static VD__COLD vd_result vd__list_refused(const vd_list *l, vd_result r) {
    return vd__call_failed(l ? l->ctx : NULL, r);
}

/* Sets the first error of a list as the thread's error again. */
static VD__COLD vd_result vd__list_repeat_error(const vd_list *l) {
    if (!l->first_failure) return vd__fail(l->error, "an earlier command of the list failed");
    vd__last_error = *l->first_failure;
    vd__last_error.unlogged = false;
    return l->error;
}

static VD__COLD vd_result vd__dispatch_check(const vd_list *l, const vd_dispatch_desc *desc);

/* Fails unless commands can be recorded into the list. `dispatch` is NULL for other commands than a dispatch. */
static inline vd_result vd__list_check_command(const vd_list *l, const char *call, const vd_dispatch_desc *dispatch) {
    if (VD__UNLIKELY(!l)) return vd__fail_call(VD_ERROR_INVALID, call, NULL, "the list is NULL");
    if (VD__UNLIKELY(vd__atomic_load32(&l->ctx->state))) {
        vd_result r = dispatch ? vd__dispatch_check(l, dispatch) : vd__context_check(l->ctx, call);
        if (r) return r;
    }
    if (VD__LIKELY(l->state == VD__LIST_OPEN && !l->error)) return VD_OK;
    if (l->state == VD__LIST_OPEN) return vd__list_repeat_error(l);
    return vd__fail_call(VD_ERROR_INVALID, call, NULL, "the list was already %s", l->state == VD__LIST_ENDED ? "ended"
                         : "submitted or discarded");
}

static inline vd_result vd__list_check(const vd_list *l, const char *call) {
    return vd__list_check_command(l, call, NULL);
}

/* Ends an API call that failed to record: adds the call to the error, and keeps the error in a user's list if it is the
   first. */
static VD__COLD vd_result vd__list_fail_call(vd_list *l, const char *call, vd_result r) {
    vd__error_default_call(r, call);
    vd__last_error.immediate = l->immediate;
    if (!l->immediate && !l->error) {
        l->error = r;
        l->first_failure = (vd__error *)vd__alloc(&l->ctx->host.allocator, sizeof *l->first_failure);
        if (l->first_failure) *l->first_failure = vd__last_error;
    }
    return vd__call_failed(l->ctx, r);
}

/* Called at the end of a public function that records. */
static inline vd_result vd__list_end_call(vd_list *l, const char *call, vd_result r) {
    if (VD__UNLIKELY(r)) return vd__list_fail_call(l, call, r);
    vd__api_end(l->ctx);
    return r;
}

static VD__NOINLINE vd_result vd__list_begin_recording(vd_list *l) {
    vd__queue *q = l->queue;
    if (!l->immediate) vd__mutex_lock(q->lock);
    vd_result r = vd__recording_acquire(q, vd__list_ring(l), &l->recording);
    if (!l->immediate) vd__mutex_unlock(q->lock);
    return r;
}

/* Records a barrier after all recorded accesses. Its second scope includes all stages, not only that of the next
   command, because it also orders later commands. In a user's list, its first scope includes all stages too, because it
   also orders the list after earlier submissions: vd__list_submit compares only the accesses before the first barrier
   of a list with those of the queue. */
static VD__NOINLINE void vd__list_barrier(vd_list *l) {
    vd__hazards *h = &l->hazards;
    l->ctx->driver.backend->record_barrier(l->device, &l->recording->commands,
                                           l->immediate ? h->stages : (uint32_t)VD__STAGES_ALL, VD__STAGES_ALL, NULL,
                                           0);
    l->stats.barriers++;
    if (!l->immediate && !l->has_barrier) {
        vd__hazards first = *h;
        *h = l->entry_hazards;
        l->entry_hazards = first;
        l->has_barrier = true;
    }
    vd__hazards_clear(h);
}

/* Makes a queue's next submission wait for a value of another queue of its device. Submits the other queue's open batch
   if the value belongs to it. */
static void vd__queue_add_wait(vd__queue *q, uint32_t other, uint64_t value) {
    vd__queue *o = &q->context_device->queues[other];
    if (value > o->submitted) vd__queue_flush(o);
    if (value > q->waits[other]) q->waits[other] = value;
}

/* Makes a queue's next submission wait for conflicting uses of a storage on the other queues of its device. */
static VD__NOINLINE void vd__queue_add_waits(vd__queue *q, const vd__storage *s, bool written) {
    for (uint32_t i = 0; i < q->device->queue_count; i++) {
        uint64_t value = written ? s->last_use[i] : i == s->last_writer ? s->last_write : 0;
        if (i != q->index && value) vd__queue_add_wait(q, i, value);
    }
}

/* Records that a queue's next submission uses a storage. */
static inline void vd__storage_used(vd__storage *s, vd__queue *q, bool written) {
    if (VD__UNLIKELY(q->device->queue_count > 1)) vd__queue_add_waits(q, s, written);
    s->last_use[q->index] = q->submitted + 1;
    if (!written) return;
    s->last_write = q->submitted + 1;
    s->last_writer = q->index;
}

/* Ensures that the hazard table has room for the accesses of a command; records a barrier if it has reached its
   maximum. */
static VD__NOINLINE vd_result vd__list_reserve_hazards(vd_list *l, uint32_t count) {
    bool full = !l->hazards.limit || l->hazards.count + count > VD__HAZARDS;
    if (full) vd__list_barrier(l);
    return full || vd__hazards_grow(&l->hazards, l->hazards.count + count) ? VD_OK : vd__fail_memory(NULL, NULL, 0);
}

/* Called before every command: begins a recording if necessary, records a barrier if the accesses conflict with earlier
   ones, and records the accesses. The caller holds the list's lock. */
static inline vd_result vd__list_command(vd_list *l, const vd__access *accesses, uint32_t count, uint32_t stage) {
    vd__hazards *h = &l->hazards;
    vd_result r = VD__LIKELY(l->recording != NULL) ? VD_OK : vd__list_begin_recording(l);
    if (VD__UNLIKELY(h->count + count > h->limit) && !r) r = vd__list_reserve_hazards(l, count);
    if (VD__UNLIKELY(r)) return r;
    l->commands++;
    for (uint32_t i = 0, older = h->count; i < count; i++) {
        while (VD__UNLIKELY(!vd__hazards_access(h, accesses[i].storage->memory.serial, &accesses[i], older))) {
            h->count = older; /* accesses added so far come after the barrier */
            vd__list_barrier(l);
            i = older = 0;
        }
        vd__storage *s = accesses[i].storage;
        bool written = accesses[i].written;
        if (written && s->memory.mapped) l->host_stages |= stage;
        if (l->immediate) vd__storage_used(s, l->queue, written);
        else if (written) l->uses[accesses[i].use].written = true;
    }
    h->stages |= stage;
    return VD_OK;
}

/* Allocates and pins staging memory for a command that the caller records next. In an open batch, waits for earlier
   submissions if VD__STAGING_LIMIT is reached. No lock may be held. */
static vd_result vd__staging_reserve(vd_list *l, vd_memory usage, uint64_t size, vd__staging_range *out) {
    vd__queue *q = l->queue;
    if (l->immediate && vd__queue_captures(q))
        return vd__fail(VD_ERROR_UNSUPPORTED, "the stream of queue %u is being captured, and a graph cannot contain a "
                        "transfer of %llu bytes through staging memory; do it before the capture, or use mapped memory",
                        q->index, VD__U(size));
    for (;;) {
        uint64_t wait = 0;
        vd__mutex_lock(q->lock);
        vd_result r = vd__staging_allocate(l, usage, size, out, &wait);
        if (r == VD_TIMEOUT && wait > q->submitted) vd__queue_flush(q);
        vd__mutex_unlock(q->lock);
        if (r != VD_TIMEOUT) return r;
        r = vd__queue_wait(q, wait, VD_FOREVER);
        if (r == VD_ERROR_DEVICE_LOST) return r; /* other failures are reported by waits for their events */
    }
}

static void vd__staging_range_unpin(const vd__staging_range *range) {
    vd__atomic_add32(&range->staging->pins, UINT32_MAX);
}

/* Marks a staging range as used by the list's last command. */
static void vd__staging_range_used(vd_list *l, const vd__staging_range *range, uint64_t size) {
    if (l->immediate) range->staging->value = l->queue->submitted + 1;
    l->staged_bytes += size;
}

/* ---- transfers ---- */

static vd__access vd__access_of(const vd__span *span, uint32_t access) {
    vd__access a = { NULL, 0, 0, false, 0, 0 };
    a.storage = span->storage;
    a.use = span->use;
    a.begin = span->offset;
    a.end = span->offset + span->size;
    a.written = (access & VD_WRITE) != 0;
    return a;
}

/* A part of a transfer that is staged as a whole, at most VD__STAGING_BYTES. */
typedef struct vd__piece {
    vd__staging_range range;
    uint64_t value;            /* timeline value of the submission; reads only */
    vd__region region;         /* in the buffer */
    uint64_t at;               /* offset in host memory */
} vd__piece;

/* Sets *p to the piece of a region after its first `done` bytes: whole rows, or a part of a long row. */
static void vd__piece_next(const vd__region *g, uint64_t done, vd__piece *p) {
    uint64_t row = done / g->row, within = done % g->row, rows = VD__STAGING_BYTES / g->row;
    p->region = *g;
    p->region.offset = g->offset + row * g->pitch + within;
    p->region.rows = rows < g->rows - row ? rows : g->rows - row;
    p->at = row * g->host_pitch + within;
    if (!within && rows) return;
    p->region.rows = 1;
    p->region.row = g->row - within < VD__STAGING_BYTES ? g->row - within : VD__STAGING_BYTES;
}

/* Records copies of rows between two memories. */
static void vd__record_rows(vd_list *l, const vd__memory *to, vd__region to_rows, const vd__memory *from,
                            vd__region from_rows) {
    vd__copy_range ranges[64];
    uint64_t rows = to_rows.rows, row = to_rows.row;
    if (to_rows.pitch == row && from_rows.pitch == row) {
        row *= rows;
        rows = 1;
    }
    for (uint64_t done = 0; done < rows;) {
        uint32_t count = 0;
        for (; done < rows && count < VD__COUNT(ranges); count++, done++) {
            ranges[count].from = from_rows.offset + done * from_rows.pitch;
            ranges[count].to = to_rows.offset + done * to_rows.pitch;
            ranges[count].size = row;
        }
        l->ctx->driver.backend->record_copy(l->device, &l->recording->commands, to, from, ranges, count);
    }
}

/* Records the copy of a piece between its staging range and the buffer. */
static vd_result vd__record_piece(vd_list *l, const char *call, const vd__buffer *b, const vd__piece *p,
                                  bool to_buffer) {
    vd__span span;
    vd__region rows = p->region, staged = p->region;
    vd_result r = vd__span_check(l, b, call, "", rows.offset, vd__region_extent(&rows), &span);
    if (r) return r;
    vd__access a = vd__access_of(&span, to_buffer ? VD_WRITE : VD_READ);
    r = vd__list_command(l, &a, 1, VD__STAGE_TRANSFER);
    if (r) return r;
    rows.offset = span.offset;
    staged.offset = p->range.offset;
    staged.pitch = staged.row;
    if (to_buffer) vd__record_rows(l, &span.storage->memory, rows, &p->range.staging->storage.memory, staged);
    else vd__record_rows(l, &p->range.staging->storage.memory, staged, &span.storage->memory, rows);
    if (!to_buffer) l->host_stages |= VD__STAGE_TRANSFER;
    vd__staging_range_used(l, &p->range, vd__region_bytes(&rows));
    l->stats.copies++;
    return VD_OK;
}

/* Copies rows on the host. */
static void vd__rows_copy(uint8_t *to, uint64_t to_pitch, const uint8_t *from, uint64_t from_pitch,
                          const vd__region *g) {
    for (uint64_t i = 0; i < g->rows; i++) memcpy(to + i * to_pitch, from + i * from_pitch, (size_t)g->row);
}

/* Writes through staging memory, in pieces. The device copies earlier pieces while the host fills the next. */
static vd_result vd__write_staged(vd_list *l, const char *call, const vd__buffer *b, const vd__region *g,
                                  const uint8_t *data) {
    vd_result r = VD_OK;
    for (uint64_t done = 0, bytes = 0; done < vd__region_bytes(g) && !r; done += bytes) {
        vd__piece p;
        vd__piece_next(g, done, &p);
        bytes = vd__region_bytes(&p.region);
        r = vd__staging_reserve(l, VD_MEMORY_UPLOAD, bytes, &p.range);
        if (r) return r;
        vd__rows_copy(vd__staging_range_bytes(&p.range), p.region.row, data + p.at, g->host_pitch, &p.region);
        r = vd__storage_sync(&p.range.staging->storage, p.range.offset, bytes, false);
        vd__list_lock(l);
        if (!r) r = vd__record_piece(l, call, b, &p, true);
        vd__list_unlock(l);
        vd__staging_range_unpin(&p.range);
    }
    return r;
}

/* Returns whether all work that uses a storage is complete, including that of open batches. */
static bool vd__storage_reached(const vd__storage *s) {
    for (uint32_t i = 0; i < s->context_device->device.queue_count; i++)
        if (!vd__queue_reached(&s->context_device->queues[i], s->last_use[i])) return false;
    return true;
}

/* Returns whether the host writes to a storage directly: it is mapped, no pending work uses it, and the write is not
   too large for uncached memory. */
static bool vd__writes_directly(vd_list *l, const vd__storage *s, uint64_t size) {
    return l->immediate && s->memory.mapped && (s->memory.block->host_cached || size <= VD__DIRECT_BYTES) &&
           vd__storage_reached(s);
}

/* Writes host memory to a region of a buffer. The caller of this function and of those below has pinned the buffer. */
static vd_result vd__write(vd_list *l, const char *call, const vd__buffer *b, vd__region g, const void *data) {
    vd__span span = { NULL, 0, 0, 0 };
    vd_result r = vd__region_check(b, call, "", "host ", &g);
    if (!r && g.row && !data) r = vd__fail_call(VD_ERROR_INVALID, call, NULL, "data is NULL");
    if (!r) r = vd__span_check(l, b, call, "", g.offset, vd__region_extent(&g), &span);
    if (r || !g.row) return r;
    vd__list_lock(l);
    bool direct = vd__writes_directly(l, span.storage, span.size);
    vd__list_unlock(l);
    if (!direct) return vd__write_staged(l, call, b, &g, (const uint8_t *)data);
    vd__rows_copy(span.storage->memory.mapped + span.offset, g.pitch, (const uint8_t *)data, g.host_pitch, &g);
    return vd__storage_sync(span.storage, span.offset, span.size, false);
}

/* Like vd__write, for a contiguous range. With size 0, only checks buffer and offset. */
static vd_result vd__write_bytes(vd_list *l, const char *call, const vd__buffer *b, uint64_t offset, const void *data,
                                 uint64_t size) {
    vd__span span;
    return size ? vd__write(l, call, b, vd__region_contiguous(offset, size), data)
                : vd__span_check(l, b, call, "", offset, 0, &span);
}

/* Calls the user's function that records commands of the driver. They may use all stages. */
static vd_result vd__record_native(vd_list *l, const vd_record_desc *desc) {
    vd__access accesses[VD_MAX_ARGS];
    const char *name = desc->name ? desc->name : "";
    char which[32];
    if (!desc->record) return vd__fail_call(VD_ERROR_INVALID, "vd_record_native", name, "desc.record is NULL");
    if (desc->use_count < 0 || desc->use_count > VD_MAX_ARGS || (desc->use_count && !desc->uses))
        return vd__fail_call(VD_ERROR_INVALID, "vd_record_native", name,
                             "desc.use_count is %d%s, but must be 0 to %d", desc->use_count, desc->uses ? ""
                             : " and desc.uses is NULL", VD_MAX_ARGS);
    for (int i = 0; i < desc->use_count; i++) {
        vd__span span;
        snprintf(which, sizeof which, "desc.uses[%d] ", i);
        vd_result r = vd__span_find(l, desc->uses[i].buffer, "vd_record_native", which, which, 0, VD_WHOLE, &span);
        if (r) return vd__error_amend(r, NULL, name, NULL);
        if (!desc->uses[i].access || desc->uses[i].access > VD_READ_WRITE)
            return vd__fail_call(VD_ERROR_INVALID, "vd_record_native", name,
                                 "desc.uses[%d].access is %u, but must be VD_READ, VD_WRITE or both", i,
                                 (unsigned)desc->uses[i].access);
        accesses[i] = vd__access_of(&span, desc->uses[i].access);
    }
    vd_result r = vd__list_command(l, accesses, (uint32_t)desc->use_count, VD__STAGES_ALL);
    if (r) return r;
    vd__callback_frame frame;
    vd_result before = vd__last_error.code;
    vd__last_error.code = VD_OK;
    vd__callback_begin(&frame, l->ctx, "vd_record_native", "record", true);
    r = l->ctx->driver.backend->record_native(l->device, &l->recording->commands, desc->record, desc->user);
    vd__callback_end(&frame);
    return vd__callback_result("vd_record_native", name, "record", r, before);
}

/* Returns the smallest period of a pattern: 1, 2 or 4 bytes; 0 if it has none of these. */
static uint32_t vd__pattern_period(const uint8_t *value, size_t size) {
    for (uint32_t period = 1; period <= 4; period *= 2) {
        size_t i = 0;
        while (size % period == 0 && i < size && value[i] == value[i % period]) i++;
        if (i == size) return period;
    }
    return 0;
}

static void vd__pattern_repeat(uint8_t *to, size_t count, const uint8_t *value, size_t size) {
    for (size_t at = 0; at < count; at += size) memcpy(to + at, value, size < count - at ? size : count - at);
}

/* Records a fill with a pattern of at most 4 bytes: record_fill for whole words, and copies from `edges`, 8 staged
   bytes of the pattern, for up to three bytes before and after them. */
static vd_result vd__record_words(vd_list *l, const vd__span *span, const vd__staging_range *edges,
                                  const uint8_t pattern[8]) {
    vd_context *ctx = l->ctx;
    const vd__memory *memory = &span->storage->memory;
    uint64_t offset = span->offset, end = offset + span->size, first = (offset + 3) & ~(uint64_t)3,
             last = end & ~(uint64_t)3;
    uint32_t word, count = 0;
    vd__copy_range ranges[2];
    if (first >= last) first = last = end < first ? end : first; /* no whole word: the edges are adjacent */
    vd__access a = vd__access_of(span, VD_WRITE);
    vd_result r = vd__list_command(l, &a, 1, VD__STAGE_TRANSFER);
    if (r) return r;
    if (last > first) {
        memcpy(&word, pattern + (first - offset), 4);
        ctx->driver.backend->record_fill(l->device, &l->recording->commands, memory, first, last - first, word);
    }
    if (first > offset) {
        ranges[count].from = edges->offset;
        ranges[count].to = offset;
        ranges[count++].size = first - offset;
    }
    if (end > last) {
        ranges[count].from = edges->offset + (last - offset) % 4;
        ranges[count].to = last;
        ranges[count++].size = end - last;
    }
    if (count) {
        ctx->driver.backend->record_copy(l->device, &l->recording->commands, memory, &edges->staging->storage.memory,
                                         ranges, count);
        vd__staging_range_used(l, edges, 8);
    }
    l->stats.fills++;
    return VD_OK;
}

/* Records a fill as copies of `run` staged bytes, which hold the repeated pattern. */
static vd_result vd__record_runs(vd_list *l, const vd__span *span, const vd__staging_range *range, uint64_t run) {
    uint64_t offset = span->offset, size = span->size;
    vd_context *ctx = l->ctx;
    vd__copy_range ranges[64];
    vd__access a = vd__access_of(span, VD_WRITE);
    vd_result r = vd__list_command(l, &a, 1, VD__STAGE_TRANSFER);
    if (r) return r;
    while (size) {
        uint32_t count = 0;
        for (; size && count < VD__COUNT(ranges); count++) {
            ranges[count].from = range->offset;
            ranges[count].to = offset;
            ranges[count].size = size < run ? size : run;
            offset += ranges[count].size;
            size -= ranges[count].size;
        }
        ctx->driver.backend->record_copy(l->device, &l->recording->commands, &span->storage->memory,
                                         &range->staging->storage.memory, ranges, count);
    }
    vd__staging_range_used(l, range, run);
    l->stats.fills++;
    return VD_OK;
}

/* Fills with a pattern of at most 4 bytes. Uses staging memory only for incomplete words. */
static vd_result vd__fill_words(vd_list *l, const vd__span *span, const uint8_t pattern[8]) {
    bool staged = span->offset % 4 || span->size % 4;
    vd__staging_range edges = { NULL, 0 };
    vd_result r = staged ? vd__staging_reserve(l, VD_MEMORY_UPLOAD, 8, &edges) : VD_OK;
    if (r) return r;
    if (staged) {
        memcpy(vd__staging_range_bytes(&edges), pattern, 8);
        r = vd__storage_sync(&edges.staging->storage, edges.offset, 8, false);
    }
    vd__list_lock(l);
    if (!r) r = vd__record_words(l, span, &edges, pattern);
    vd__list_unlock(l);
    if (staged) vd__staging_range_unpin(&edges);
    return r;
}

/* Fills with a pattern of any period: stages up to VD__FILL_BYTES of it, and copies them repeatedly. */
static vd_result vd__fill_runs(vd_list *l, const vd__span *span, const uint8_t *value, size_t value_size) {
    uint64_t run = VD__FILL_BYTES / value_size * value_size;
    vd__staging_range range;
    if (run > span->size) run = span->size;
    vd_result r = vd__staging_reserve(l, VD_MEMORY_UPLOAD, run, &range);
    if (r) return r;
    vd__pattern_repeat(vd__staging_range_bytes(&range), (size_t)run, value, value_size);
    r = vd__storage_sync(&range.staging->storage, range.offset, run, false);
    vd__list_lock(l);
    if (!r) r = vd__record_runs(l, span, &range, run);
    vd__list_unlock(l);
    vd__staging_range_unpin(&range);
    return r;
}

/* Checks the arguments of vd_fill and records the fill. */
static vd_result vd__fill(vd_list *l, const vd__buffer *b, uint64_t offset, uint64_t size, const void *value,
                          size_t value_size) {
    static const uint8_t zero[1] = { 0 };
    const uint8_t *pattern = value ? (const uint8_t *)value : zero;
    if (!value && value_size)
        return vd__fail_call(VD_ERROR_INVALID, "vd_fill", NULL, "value is NULL, but value_size is %llu; pass 0 to fill "
                             "with zeros", VD__U(value_size));
    uint8_t words[8];
    vd__span span = { NULL, 0, 0, 0 };
    if (!value) value_size = 1;
    if (value_size < 1 || value_size > 64)
        return vd__fail_call(VD_ERROR_INVALID, "vd_fill", NULL, "value_size is %llu, but must be 1 to 64",
                             VD__U(value_size));
    vd_result r = vd__span_check(l, b, "vd_fill", "", offset, size, &span);
    if (!r && span.size % value_size)
        r = vd__fail_call(VD_ERROR_INVALID, "vd_fill", NULL, "size %llu in buffer '%s' is not a multiple of value_size "
                          "%llu", VD__U(span.size), b->name, VD__U(value_size));
    if (r || !span.size) return r;
    uint32_t period = vd__pattern_period(pattern, value_size);
    if (!period) return vd__fill_runs(l, &span, pattern, value_size);
    vd__pattern_repeat(words, sizeof words, pattern, period);
    return vd__fill_words(l, &span, words);
}

/* Returns whether two regions of one memory overlap. If their pitches differ, each counts as one range from its first
   to its last byte. */
static bool vd__regions_overlap(const vd__region *a, const vd__region *b) {
    uint64_t low = a->offset < b->offset ? a->offset : b->offset,
             distance = (a->offset > b->offset ? a->offset : b->offset) - low;
    const vd__region *first = a->offset < b->offset ? a : b;
    if (distance >= vd__region_extent(first)) return false;
    if (a->pitch != b->pitch || a->rows == 1) return true;
    uint64_t rest = distance % a->pitch;
    return rest < a->row || (a->pitch - rest < a->row && distance / a->pitch + 1 < a->rows);
}

static vd_result vd__copy_overlap(const char *call, const vd__buffer *b, const vd__region *to, const vd__region *from) {
    return vd__fail_call(VD_ERROR_INVALID, call, NULL, "source and target overlap: %llu bytes at offsets %llu and %llu "
                         "of buffer '%s'", VD__U(vd__region_bytes(to)), VD__U(from->offset), VD__U(to->offset),
                         b->name);
}

/* Records a copy between two regions. Ignores the buffers in `desc`. The caller holds the list's lock. */
static vd_result vd__copy_rows(vd_list *l, const char *call, const vd__buffer *to, const vd__buffer *from,
                               const vd_copy_desc *desc) {
    vd__region a = { desc->to_offset, 0, desc->rows, desc->to_pitch, desc->from_pitch };
    vd__region b = { desc->from_offset, desc->row_bytes, desc->rows, desc->from_pitch, desc->to_pitch };
    vd_result r = vd__region_check(from, call, "source ", "target ", &b);
    if (r || !b.row) return r;
    a.row = b.row;
    a.rows = b.rows;
    r = vd__region_check(to, call, "target ", "source ", &a);
    if (r) return r;
    a.offset += to->offset;
    b.offset += from->offset;
    vd__storage *source = vd__buffer_storage_on(from, l->queue->context_device, call),
                *target = source ? vd__buffer_storage_on(to, l->queue->context_device, call) : NULL;
    if (!target) return VD_ERROR_INVALID;
    if (target == source && vd__regions_overlap(&a, &b)) return vd__copy_overlap(call, to, &a, &b);
    vd__span spans[2] = { { source, b.offset, vd__region_extent(&b), vd__list_use_of(l, &from->slot) },
                          { target, a.offset, vd__region_extent(&a), vd__list_use_of(l, &to->slot) } };
    vd__access accesses[2];
    accesses[0] = vd__access_of(&spans[0], VD_READ);
    accesses[1] = vd__access_of(&spans[1], VD_WRITE);
    r = vd__list_command(l, accesses, 2, VD__STAGE_TRANSFER);
    if (r) return r;
    vd__record_rows(l, &target->memory, a, &source->memory, b);
    l->stats.copies++;
    return VD_OK;
}

static vd_result vd__copy(vd_list *l, const char *call, const vd_copy_desc *desc) {
    const vd__buffer *to = vd__list_buffer(l, desc->to, call, "target ");
    const vd__buffer *from = to ? vd__list_buffer(l, desc->from, call, "source ") : NULL;
    return from ? vd__copy_rows(l, call, to, from, desc) : vd__last_error.code;
}

/* ---- reading ---- */

/* Reads mapped, host-cached memory on the host, after waiting for the timeline value of its last write. */
static vd_result vd__read_direct(vd__queue *q, const vd__span *span, uint64_t written, const vd__region *g,
                                 uint8_t *data) {
    vd_result r = vd__queue_wait(q, written, VD_FOREVER);
    if (!r) r = vd__storage_sync(span->storage, span->offset, span->size, true);
    if (!r) vd__rows_copy(data, g->host_pitch, span->storage->memory.mapped + span->offset, g->pitch, g);
    return r;
}

/* Records and submits the copy of one piece to staging memory. */
static vd_result vd__read_submit(vd_list *l, const char *call, const vd__buffer *b, vd__piece *p) {
    vd_result r = vd__staging_reserve(l, VD_MEMORY_READBACK, vd__region_bytes(&p->region), &p->range);
    if (r) return r;
    vd__list_lock(l);
    r = vd__record_piece(l, call, b, p, false);
    if (!r) {
        vd__queue_flush(l->queue);
        p->value = l->queue->submitted;
    }
    vd__list_unlock(l);
    if (r) vd__staging_range_unpin(&p->range);
    return r;
}

static vd_result vd__read_receive(vd_list *l, vd__piece *p, const vd__region *g, uint8_t *data) {
    vd_result r = vd__queue_wait(l->queue, p->value, VD_FOREVER);
    if (!r) r = vd__storage_sync(&p->range.staging->storage, p->range.offset, vd__region_bytes(&p->region), true);
    if (!r) vd__rows_copy(data + p->at, g->host_pitch, vd__staging_range_bytes(&p->range), p->region.row, &p->region);
    vd__staging_range_unpin(&p->range);
    return r;
}

/* Reads through staging memory, in pieces. The device copies up to VD__READ_AHEAD pieces ahead of the host. */
static vd_result vd__read_staged(vd_list *l, const char *call, const vd__buffer *b, const vd__region *g,
                                 uint8_t *data) {
    vd__piece pieces[VD__READ_AHEAD];
    uint64_t sent = 0, size = vd__region_bytes(g);
    uint32_t first = 0, in_flight = 0;
    vd_result r = VD_OK;
    while ((!r && sent < size) || in_flight) {
        while (!r && sent < size && in_flight < VD__READ_AHEAD) {
            vd__piece *next = &pieces[(first + in_flight) % VD__READ_AHEAD];
            vd__piece_next(g, sent, next);
            r = vd__read_submit(l, call, b, next);
            if (r) break;
            sent += vd__region_bytes(&next->region);
            in_flight++;
        }
        if (!in_flight) break;
        vd_result received = vd__read_receive(l, &pieces[first], g, data);
        if (!r) r = received;
        first = (first + 1) % VD__READ_AHEAD;
        in_flight--;
    }
    return r;
}

/* Reads by a copy of the device into the caller's memory, and waits for it. */
static vd_result vd__read_by_device(vd_list *l, const vd__span *span, const vd__region *g, uint8_t *data) {
    vd__memory host;
    vd__region rows = *g, host_rows = *g;
    uint64_t value = 0;
    memset(&host, 0, sizeof host);
    host.native[1] = (uintptr_t)data;
    host_rows.offset = 0;
    host_rows.pitch = g->host_pitch;
    vd__list_lock(l);
    vd__access a = vd__access_of(span, VD_READ);
    vd_result r = vd__list_command(l, &a, 1, VD__STAGE_TRANSFER);
    if (!r) {
        rows.offset = span->offset;
        vd__record_rows(l, &host, host_rows, &span->storage->memory, rows);
        l->stats.copies++;
        value = l->queue->submitted + 1;
        vd__queue_flush(l->queue);
    }
    vd__list_unlock(l);
    return r ? r : vd__queue_wait(l->queue, value, VD_FOREVER);
}

/* Returns whether vd__read_by_device is the fastest method. It needs no staging memory. If the memory is mapped, it is
   faster than a copy by the host only for large reads of unfinished results: the device is the CPU, and its threads are
   then still running. */
static bool vd__prefers_read_by_device(vd_list *l, const vd__span *span, const vd__region *g, bool direct) {
    if (!l->device->copies_to_host || !l->immediate) return false;
    if (!direct) return true;
    return vd__region_bytes(g) > VD__DIRECT_READ_BYTES
           && !vd__queue_reached(&l->queue->context_device->queues[span->storage->last_writer],
                                 span->storage->last_write);
}

/* Reads a region of a buffer into host memory: directly if the memory is mapped and host-cached, by a copy of the
   device if that is faster, otherwise through staging memory. */
static vd_result vd__read(vd_list *l, const char *call, const vd__buffer *b, vd__region g, void *data) {
    vd__span span = { NULL, 0, 0, 0 };
    vd_result r = vd__region_check(b, call, "", "host ", &g);
    if (!r && g.row && !data) r = vd__fail_call(VD_ERROR_INVALID, call, NULL, "data is NULL");
    if (!r) r = vd__span_check(l, b, call, "", g.offset, vd__region_extent(&g), &span);
    if (r || !g.row) return r;
    vd__list_lock(l);
    bool direct = span.storage->memory.mapped && span.storage->memory.block->host_cached,
         by_device = vd__prefers_read_by_device(l, &span, &g, direct);
    if (by_device) direct = false;
    vd__queue *writer = &l->queue->context_device->queues[span.storage->last_writer];
    uint64_t written = span.storage->last_write;
    if (direct && written > writer->submitted) vd__queue_flush(writer);
    vd__list_unlock(l);
    if (direct) return vd__read_direct(writer, &span, written, &g, (uint8_t *)data);
    if (by_device) return vd__read_by_device(l, &span, &g, (uint8_t *)data);
    return vd__read_staged(l, call, b, &g, (uint8_t *)data);
}

static vd_result vd__read_bytes(vd_list *l, const char *call, const vd__buffer *b, uint64_t offset, void *data,
                                uint64_t size) {
    vd__span span;
    return size ? vd__read(l, call, b, vd__region_contiguous(offset, size), data)
                : vd__span_check(l, b, call, "", offset, 0, &span);
}

/* ---- mapping ---- */

/* Waits for the work that conflicts with a host access. Submits open batches that contain such work. */
static vd_result vd__storage_finish(vd__storage *s, uint32_t access) {
    vd__context_device *m = s->context_device;
    uint64_t values[VD_MAX_QUEUES];
    vd_result r = VD_OK;
    vd__mutex_lock(&m->lock);
    for (uint32_t i = 0; i < m->device.queue_count; i++) {
        values[i] = access & VD_WRITE ? s->last_use[i] : i == s->last_writer ? s->last_write : 0;
        if (values[i] > m->queues[i].submitted) vd__queue_flush(&m->queues[i]);
    }
    vd__mutex_unlock(&m->lock);
    for (uint32_t i = 0; i < m->device.queue_count && !r; i++) r = vd__queue_wait(&m->queues[i], values[i], VD_FOREVER);
    return r;
}

static vd_result vd__map(vd__storage *s, uint32_t access) {
    vd_result r = vd__storage_finish(s, access);
    if (!r) r = vd__storage_sync(s, 0, s->memory.size, true);
    if (!r) vd__atomic_add32(&s->map_count, 1);
    return r;
}

static vd_result vd__unmap(const vd__buffer *b, vd__storage *s) {
    uint32_t maps = vd__atomic_load32(&s->map_count);
    do {
        if (!maps)
            return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_unmap", NULL, "buffer '%s' is not mapped", b->name);
    } while (!vd__atomic_compare_exchange32(&s->map_count, &maps, maps - 1));
    return vd__storage_sync(s, 0, s->memory.size, false);
}

/* ---- tickets ---- */

VD__SMALL

/* Creates a ticket for the commands recorded so far. The caller holds the list's lock. */
static vd_result vd__ticket_open(vd_list *l, const vd__staging_range *range, uint64_t size, vd_ticket *out) {
    vd_context *ctx = l->ctx;
    vd__mutex_lock(&ctx->lock);
    vd__ticket *t = (vd__ticket *)(void *)vd__pool_acquire(&ctx->tickets);
    if (t) {
        t->staging = *range;
        t->size = size;
        t->queue = l->queue;
        t->value = l->immediate ? l->queue->submitted + (l->recording != NULL) : 0;
        if (!l->immediate) {
            t->list = l;
            t->next = l->tickets;
            l->tickets = t;
        }
        out->id = vd__pool_publish(&ctx->tickets, &t->slot);
    }
    vd__mutex_unlock(&ctx->lock);
    return t ? VD_OK : vd__fail_memory(NULL, NULL, 0);
}

/* Checks the range and allocates staging memory for it. */
static vd_result vd__read_reserve(vd_list *l, const vd__buffer *b, const vd_read_desc *desc, vd__piece *p) {
    p->region = vd__region_contiguous(desc->offset, desc->size);
    vd_result r = vd__region_check(b, "vd_read_begin", "", "host ", &p->region);
    if (!r && !p->region.row)
        r = vd__fail_call(VD_ERROR_INVALID, "vd_read_begin", NULL, "offset %llu is the end of buffer '%s', so there is "
                          "nothing to read", VD__U(desc->offset), b->name);
    return r ? r : vd__staging_reserve(l, VD_MEMORY_READBACK, p->region.row, &p->range);
}

/* Records a read, or only opens a ticket if there is no buffer. */
static vd_result vd__read_begin(vd_list *l, const vd__buffer *b, const vd_read_desc *desc, vd_ticket *out) {
    vd__piece p;
    memset(&p, 0, sizeof p);
    vd_result r = b ? vd__read_reserve(l, b, desc, &p) : VD_OK;
    if (r) return r;
    vd__list_lock(l);
    if (b) r = vd__record_piece(l, "vd_read_begin", b, &p, false);
    if (!r) r = vd__ticket_open(l, &p.range, p.region.row, out);
    vd__list_unlock(l);
    if (r && b) vd__staging_range_unpin(&p.range);
    return r;
}

/* Waits for a ticket, which the caller has pinned. */
static vd_result vd__read_ready(vd__ticket *t, uint64_t timeout_ns, const void **data) {
    vd__queue *q = t->queue;
    vd_result r = VD_OK;
    vd__mutex_lock(q->lock);
    if (t->list)
        r = vd__fail_call(VD_ERROR_INVALID, "vd_read_ready", NULL, "the list of the ticket was not submitted yet");
    if (t->discarded)
        r = vd__fail_call(VD_ERROR_INVALID, "vd_read_ready", NULL, "the list of the ticket was discarded");
    uint64_t value = r ? 0 : t->value;
    if (value > q->submitted) vd__queue_flush(q);
    vd__mutex_unlock(q->lock);
    if (!r) r = vd__queue_wait(q, value, timeout_ns);
    if (r || !t->staging.staging) return r;
    r = vd__storage_sync(&t->staging.staging->storage, t->staging.offset, t->size, true);
    if (!r) *data = vd__staging_range_bytes(&t->staging);
    return r;
}

/* Destroys a ticket. The caller holds the locks of all devices. */
static void vd__ticket_close(vd_context *ctx, vd__ticket *t) {
    vd__mutex_lock(&ctx->lock);
    if (t->list) {
        vd__ticket **link = &t->list->tickets;
        while (*link != t) link = &(*link)->next;
        *link = t->next;
    }
    vd__mutex_unlock(&ctx->lock);
    vd__object_destroy(ctx, &ctx->tickets, &t->slot);
}

VD__SMALL_END

/* ---- dispatch ---- */

/* Stores the group base of a launch in the argument block. */
static void vd__dispatch_base(vd__dispatch_state *d, const uint64_t base[3]) {
    for (int i = 0; i < d->kernel->implicit_count; i++) {
        const vd_implicit_info *h = &d->kernel->implicit[i];
        uint32_t word = (uint32_t)base[h->axis % 3];
        if (h->kind == VD_IMPLICIT_GROUP_BASE) memcpy((uint8_t *)d->arguments + h->offset, &word, 4);
    }
}

/* Splits a dispatch with more work-groups than one launch can have. The group base of each launch is its first
   work-group. */
static VD__NOINLINE vd_result vd__record_split(vd_list *l, vd__dispatch_state *d) {
    const uint32_t *limit = l->device->info.limits.max_groups;
    uint32_t whole[3];
    uint64_t base[3];
    memcpy(whole, d->launch.groups, sizeof whole);
    for (base[2] = 0; base[2] < whole[2]; base[2] += limit[2])
        for (base[1] = 0; base[1] < whole[1]; base[1] += limit[1])
            for (base[0] = 0; base[0] < whole[0]; base[0] += limit[0]) {
                for (int i = 0; i < 3; i++)
                    d->launch.groups[i] = (uint32_t)(whole[i] - base[i] < limit[i] ? whole[i] - base[i] : limit[i]);
                vd__dispatch_base(d, base);
                vd_result r = l->ctx->driver.backend->record_launch(l->device, &l->recording->commands, &d->launch);
                if (r) return r;
            }
    return VD_OK;
}

/* Called if the backend has not received the argument block: the next dispatch must pass it again. */
static VD__COLD vd_result vd__dispatch_failed(vd__dispatch_state *d, vd_result r) {
    d->last_kernel = 0;
    return r;
}

static vd_result vd__dispatch(vd_list *l, const vd_dispatch_desc *desc) {
    vd__dispatch_state *d = l->dispatch;
    vd_result r = vd__dispatch_resolve(d, l->ctx, desc);
    if (VD__UNLIKELY(r)) return vd__dispatch_failed(d, r);
    r = vd__list_command(l, d->accesses, d->kernel->buffer_count, VD__STAGE_COMPUTE);
    if (VD__UNLIKELY(r)) return vd__dispatch_failed(d, vd__error_amend(r, "vd_dispatch", d->kernel->name, NULL));
    if (VD__LIKELY(!d->split))
        r = l->ctx->driver.backend->record_launch(l->device, &l->recording->commands, &d->launch);
    else r = vd__record_split(l, d);
    if (VD__UNLIKELY(r)) return vd__dispatch_failed(d, vd__error_amend(r, "vd_dispatch", d->kernel->name, NULL));
    l->stats.dispatches++;
    return VD_OK;
}

/* ---- user lists ---- */

/* Sets the queue for which a list records. */
static void vd__list_set_queue(vd_list *l, vd__queue *q) {
    l->queue = q;
    l->device = q->device;
    l->dispatch->context_device = q->context_device;
    l->dispatch->list = l;
    l->dispatch->last_kernel = 0;
}

static bool vd__list_init(vd_list *l, vd_context *ctx, bool immediate) {
    const vd_allocator *allocator = &ctx->host.allocator;
    l->ctx = ctx;
    l->immediate = immediate;
    l->dispatch = (vd__dispatch_state *)vd__alloc_zeroed(allocator, sizeof *l->dispatch);
    if (!l->dispatch) return false;
    if (!vd__hazards_init(&l->hazards, allocator)) return false;
    return immediate || (vd__hazards_init(&l->entry_hazards, allocator) && vd__list_uses_grow(l));
}

static void vd__list_free(vd_list *l) {
    const vd_allocator *allocator = &l->ctx->host.allocator;
    if (l->hazards.allocator) vd__hazards_free(&l->hazards);
    if (l->entry_hazards.allocator) vd__hazards_free(&l->entry_hazards);
    vd__free(allocator, l->dispatch);
    vd__free(allocator, l->uses);
    vd__free(allocator, l->use_table);
    vd__free(allocator, l->first_failure);
}

/* Opens an unused list, or a new one. Returns NULL if memory runs out. The caller holds the context's lock. */
static vd_list *vd__list_acquire(vd_context *ctx, vd__queue *q) {
    vd_list *l = ctx->lists;
    while (l && vd__atomic_load32(&l->state) != VD__LIST_FREE) l = l->next;
    if (!l) {
        l = (vd_list *)vd__alloc_zeroed(&ctx->host.allocator, sizeof *l);
        if (l && !vd__list_init(l, ctx, false)) {
            vd__list_free(l);
            vd__free(&ctx->host.allocator, l);
            l = NULL;
        }
        if (!l) return NULL;
        l->next = ctx->lists;
        ctx->lists = l;
    }
    vd__list_set_queue(l, q);
    l->state = VD__LIST_OPEN;
    l->number = ++ctx->list_number ? ctx->list_number : ++ctx->list_number;
    return l;
}

static void vd__stats_add(vd_stats *total, const vd_stats *more) {
    total->dispatches += more->dispatches;
    total->copies += more->copies;
    total->fills += more->fills;
    total->barriers += more->barriers;
    total->submissions += more->submissions;
}

/* Releases the pins of a list. The caller holds the queue's lock, and calls vd__reap when it has released it. */
static void vd__list_unpin(vd_list *l) {
    uint32_t mask = 2 * l->use_capacity - 1;
    for (uint32_t i = 0; i < l->use_count; i++) {
        vd__slot *object = l->uses[i].object;
        /* empties the table: linear probing places each entry in the run of full slots that begins at its hash slot */
        uint32_t slot = vd__list_use_hash(object) & mask;
        for (; l->use_table[slot]; slot = (slot + 1) & mask) l->use_table[slot] = 0;
        if (vd__atomic_add32_seq(&object->pins, UINT32_MAX) != 1 || vd__slot_is_live(object)) continue;
        vd__mutex_lock(&l->ctx->lock);
        vd__garbage_add_if_unpinned(l->ctx, object);
        vd__mutex_unlock(&l->ctx->lock);
    }
    l->use_count = 0;
}

/* Returns the storage of a use of a list on its device, or NULL if the use is that of a kernel. */
static vd__storage *vd__list_use_storage(const vd_list *l, const vd__list_use *use) {
    if (VD__ID_TYPE(vd__atomic_load64(&use->object->id)) != VD__OBJECT_BUFFER) return NULL;
    return ((vd__buffer *)(void *)use->object)->storage + l->queue->context_device->index;
}

/* Debug mode: the list is not open any more. */
static VD__COLD void vd__debug_list_ended(const vd_list *l) {
    for (uint32_t i = 0; i < l->use_count; i++) {
        vd__storage *s = vd__list_use_storage(l, &l->uses[i]);
        if (s && vd__atomic_load32(&s->unsubmitted) == l->number) vd__atomic_store32(&s->unsubmitted, 0);
    }
}

/* Makes a list unused, for the next vd_list_begin. The caller holds the queue's lock. */
static void vd__list_recycle(vd_list *l) {
    vd_context *ctx = l->ctx;
    vd__stats_add(&l->queue->open_batch.stats, &l->stats);
    memset(&l->stats, 0, sizeof l->stats);
    if (l->output) vd__output_submitted(l, 0);
    if (l->tickets) vd__list_assign_value(l, l->queue->submitted); /* tickets of vd_list_watch; the list has no
                                                                      commands */
    vd__hazards_clear(&l->hazards);
    vd__hazards_clear(&l->entry_hazards);
    if (ctx->host.debug) vd__debug_list_ended(l);
    vd__list_unpin(l);
    l->has_barrier = false;
    l->commands = 0;
    l->staged_bytes = 0;
    l->host_stages = 0;
    l->error = VD_OK;
    vd__free(&ctx->host.allocator, l->first_failure);
    l->first_failure = NULL;
    vd__mutex_lock(&ctx->lock);
    l->state = VD__LIST_FREE;
    vd__mutex_unlock(&ctx->lock);
}

/* Discards a list. The caller holds the queue's lock. */
static void vd__list_discard(vd_list *l) {
    vd__queue *q = l->queue;
    for (vd__ticket *t = l->tickets; t; t = t->next) t->discarded = true;
    vd__list_assign_value(l, 0);
    if (l->recording) {
        vd__error before = vd__last_error; /* commands_end may fail for a recording that is discarded */
        q->ctx->driver.backend->commands_end(q->device, &l->recording->commands);
        vd__last_error = before;
        vd__recording_recycle(vd__list_ring(l), l->recording);
        l->recording = NULL;
    }
    memset(&l->stats, 0, sizeof l->stats);
    vd__list_recycle(l);
}

/* Records that the next submission uses the objects of a list. */
static void vd__list_mark_uses(vd_list *l) {
    vd__queue *q = l->queue;
    for (uint32_t i = 0; i < l->use_count; i++) {
        vd__slot *object = l->uses[i].object;
        if (VD__ID_TYPE(object->id) == VD__OBJECT_KERNEL)
            ((vd__kernel *)(void *)object)->last_uses[q - q->ctx->queues] = q->submitted + 1;
        else {
            vd__buffer *b = (vd__buffer *)(void *)object;
            vd__storage_used(&b->storage[q->context_device->index], q, l->uses[i].written);
        }
    }
}

/* Submits a list after the open batch. The list was recorded independently of the work before it. If its first accesses
   conflict with that work, a barrier is added: at the end of the batch, or at the start of the list if the batch is
   empty. `waits`: timeline values of other queues of the device. */
static vd_result vd__list_submit(vd_list *l, const uint64_t waits[VD_MAX_QUEUES]) {
    vd__queue *q = l->queue;
    if (l->output) {
        vd_result r = vd__output_submit(l);
        if (r) return r;
    }
    bool conflicts = vd__hazards_conflict(&q->open_batch.hazards, l->has_barrier ? &l->entry_hazards : &l->hazards);
    if (conflicts && q->open_batch.recording) {
        vd__list_barrier(&q->open_batch);
        conflicts = false;
    }
    vd__queue_flush(q);
    if (l->output && q->output_stale)
        return vd__fail_call(VD_ERROR_BACKEND, "vd_submit", NULL, "the output buffer of kernels that print could not "
                             "be cleared");
    l->barrier_first = conflicts;
    if (conflicts) {
        l->stats.barriers++;
        vd__hazards_clear(&q->open_batch.hazards);
    }
    vd__list_mark_uses(l);
    for (uint32_t i = 0; i < VD_MAX_QUEUES; i++)
        if (waits[i]) vd__queue_add_wait(q, i, waits[i]);
    if (l->has_barrier) vd__hazards_clear(&q->open_batch.hazards);
    vd__hazards_merge(&q->open_batch.hazards, &l->hazards);
    vd__list_submit_recording(l);
    return VD_OK;
}

// >>output
/* Output of printf and assert in kernels. A kernel appends records to the output buffer of its queue (format: room
   `derived` of vkdispatch_codegen.h). After the last command of a list with such kernels the library copies the
   buffer to the host and clears it.
   For hazard tracking, appending counts as reading: kernels that print need no barrier between each other, but the copy
   needs one after them. vd__output_poll turns completed copies into messages; the print callback is called at the end
   of the public function that called it. */

VD__SMALL

/* Puts host memory for output back into the free list of its queue. */
static VD__COLD void vd__output_recycle(vd_context *ctx, vd__output *o) {
    vd__mutex_lock(&ctx->lock);
    o->next = o->queue->spare_outputs;
    o->queue->spare_outputs = o;
    vd__mutex_unlock(&ctx->lock);
}

/* Allocates host memory for output. */
static VD__COLD vd_result vd__output_create(vd__queue *q, vd__output **out) {
    vd_context *ctx = q->ctx;
    vd__output *o = (vd__output *)vd__alloc_zeroed(&ctx->host.allocator, sizeof *o);
    if (!o) return vd__fail_memory(NULL, NULL, 0);
    vd__mutex_lock(&ctx->lock);
    vd_result r = vd__storage_create(q->context_device, VD_MEMORY_READBACK, ctx->print_bytes, true, false,
                                     &o->storage);
    if (!r && !o->storage.memory.mapped) {
        vd__storage_destroy(&o->storage);
        r = vd__fail(VD_ERROR_BACKEND, "the host cannot access staging memory");
    }
    vd__mutex_unlock(&ctx->lock);
    o->queue = q;
    if (r) vd__free(&ctx->host.allocator, o);
    else *out = o;
    return r;
}

/* Sets *out to the output buffer of the list's queue. */
static vd_result vd__output_span(vd_list *l, vd__span *out) {
    const vd__buffer *b = (const vd__buffer *)(void *)vd__pool_find(&l->ctx->buffers, l->queue->output.id);
    return vd__span_check(l, b, NULL, "", 0, VD_WHOLE, out);
}

/* Records clearing the head of the output buffer of the list's queue. */
static VD__COLD vd_result vd__output_clear(vd_list *l) {
    vd__span span;
    vd_result r = vd__output_span(l, &span);
    if (r) return r;
    vd__access a = vd__access_of(&span, VD_READ_WRITE);
    a.end = 4 * VD__OUTPUT_HEADER_WORDS;
    r = vd__list_command(l, &a, 1, VD__STAGE_TRANSFER);
    if (!r) l->ctx->driver.backend->record_fill(l->device, &l->recording->commands, &span.storage->memory, 0, a.end, 0);
    return r;
}

/* Clears records that an earlier failure left in the output buffer. Called in the open batch, before work that
   prints. The caller holds the queue's lock. */
static VD__COLD vd_result vd__output_clear_stale(vd__queue *q) {
    if (!q->output_stale) return VD_OK;
    vd_result r = vd__output_clear(&q->open_batch);
    q->output_stale = r != VD_OK;
    return r;
}

/* Ensures that the list has host memory for its output. The head is zero ("no output") until the copy has been
   executed. */
static VD__COLD vd_result vd__output_acquire(vd_list *l) {
    vd_context *ctx = l->ctx;
    vd__queue *q = l->queue;
    vd_result r = VD_OK;
    if (l->output) return VD_OK;
    if (l->immediate) r = vd__output_clear_stale(q);
    if (r) return r;
    vd__mutex_lock(&ctx->lock);
    vd__output *o = q->spare_outputs;
    if (o) q->spare_outputs = o->next;
    vd__mutex_unlock(&ctx->lock);
    if (!o) r = vd__output_create(q, &o);
    if (r) return r;
    memset(o->storage.memory.mapped, 0, 4 * VD__OUTPUT_HEADER_WORDS);
    r = vd__storage_sync(&o->storage, 0, 4 * VD__OUTPUT_HEADER_WORDS, false);
    if (r) vd__output_recycle(ctx, o);
    else l->output = o;
    return r;
}

/* Records the last commands of a list: copy and clear the output buffer. The caller holds the queue's lock. */
static VD__COLD vd_result vd__output_record(vd_list *l) {
    vd__span span = { NULL, 0, 0, 0 };
    vd__copy_range all = { 0, 0, l->ctx->print_bytes };
    vd_result r = vd__output_span(l, &span);
    vd__access a = vd__access_of(&span, VD_READ_WRITE);
    if (!r) r = vd__list_command(l, &a, 1, VD__STAGE_TRANSFER);
    if (!r)
        l->ctx->driver.backend->record_copy(l->device, &l->recording->commands, &l->output->storage.memory,
                                            &span.storage->memory, &all, 1);
    l->host_stages |= VD__STAGE_TRANSFER;
    if (!r) r = vd__output_clear(l);
    if (r) l->queue->output_stale = true;
    if (r)
        vd__logf(&l->ctx->host, VD_LOG_ERROR, "the output buffer of kernels that print could not be read or cleared: "
                 "%s", vd__error_join());
    return r;
}

/* Called before submitting a user's list that prints. Submits the open batch first, which may leave records in the
   buffer if it fails. */
static VD__COLD vd_result vd__output_submit(vd_list *l) {
    if (l->queue->open_batch.output) vd__queue_flush(l->queue);
    vd_result r = vd__output_clear_stale(l->queue);
    return r ? r : vd__output_record(l);
}

/* Called after submission. `value`: timeline value of the list, or 0 if it was not submitted. */
static VD__COLD void vd__output_submitted(vd_list *l, uint64_t value) {
    vd__output *o = l->output, **end = &l->ctx->outputs;
    l->output = NULL;
    if (!value) { vd__output_recycle(l->ctx, o); return; }
    o->value = value;
    o->next = NULL;
    vd__mutex_lock(&l->ctx->lock);
    while (*end) end = &(*end)->next;
    vd__atomic_store_pointer((void **)(void *)end, o);
    vd__mutex_unlock(&l->ctx->lock);
}

/* ---- from records to text ---- */

/* A growing text. The terminating zero is not counted in `length`. */
typedef struct vd__line { const vd_allocator *allocator; char *data; uint32_t length, capacity; } vd__line;

/* Appends text. Does nothing if memory runs out. */
static VD__COLD void vd__line_put(vd__line *line, const char *text, size_t length) {
    void *grown = line->data;
    if (length > UINT32_MAX / 2 - line->length) return;
    if (!vd__array_reserve(line->allocator, &grown, &line->capacity, line->length + (uint32_t)length + 1, 1)) return;
    line->data = (char *)grown;
    memcpy(line->data + line->length, text, length);
    line->length += (uint32_t)length;
    line->data[line->length] = 0;
}

/* Appends one scalar as text. Returns its number of words in the record. */
static VD__COLD uint32_t vd__line_scalar(vd__line *line, const char *spec, char letter, vd_type kind,
                                         const uint32_t *words) {
    char text[1400]; /* 309 digits, a point, 999 decimals */
    uint32_t size = vd__scalar_size(kind), count = size == 8 ? 2 : 1;
    uint64_t bits = count == 2 ? words[0] | (uint64_t)words[1] << 32 : words[0], ones = UINT64_MAX >> (64 - 8 * size);
    int length;
    if (vd__is_float(kind)) {
        union { uint64_t u; double d; } wide;
        union { uint32_t u; float f; } narrow;
        wide.u = bits;
        narrow.u = words[0];
        length = snprintf(text, sizeof text, spec, count == 2 ? wide.d : (double)narrow.f);
    } else if (letter == 'c') length = snprintf(text, sizeof text, spec, (int)(bits & 255));
    else if (letter == 'd' || letter == 'i')
        length = snprintf(text, sizeof text, spec, count == 2 ? (long long)bits : (long long)(int32_t)words[0]);
    else length = snprintf(text, sizeof text, spec, (unsigned long long)(bits & ones));
    if (letter == 'c') length = (int)strlen(text); /* a zero character prints nothing */
    if (length > 0) vd__line_put(line, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
    return count;
}

/* Appends the text of a record: its format with the operands. */
static VD__COLD void vd__line_format(vd__line *line, const vd__format *f, const uint32_t *words) {
    const char *cursor = f->text;
    char spec[24];
    for (uint32_t operand = 0; *cursor;) {
        size_t plain = strcspn(cursor, "%");
        vd__line_put(line, cursor, plain);
        cursor += plain;
        if (!*cursor) return;
        if (*++cursor == '%') { vd__line_put(line, cursor++, 1); continue; }
        char letter = vd__format_spec(&cursor, spec);
        vd_type type = f->types[operand++];
        uint32_t components = vd__format_components(type);
        if (components > 1) vd__line_put(line, "(", 1);
        for (uint32_t i = 0; i < components; i++) {
            if (i) vd__line_put(line, ", ", 2);
            words += vd__line_scalar(line, spec, letter, type & 15u, words);
        }
        if (components > 1) vd__line_put(line, ")", 1);
    }
}

/* Finds a format by its number. Returns NULL if there is none. */
static VD__COLD const vd__format *vd__format_find(vd_context *ctx, uint32_t number, const char **kernel) {
    vd__mutex_lock(&ctx->lock);
    const vd__formats *f = ctx->formats;
    vd__mutex_unlock(&ctx->lock);
    while (f && f->first > number) f = f->next;
    *kernel = f ? f->kernel : "";
    return f && number - f->first < f->count ? &f->formats[number - f->first] : NULL;
}

/* Queues the text of a printf record for the print callback, or for the log if there is no callback. */
static VD__COLD void vd__output_message(vd_context *ctx, vd__line *line, const char *kernel, const vd__format *f,
                                        const uint32_t *record) {
    uint32_t id[3] = { record[1], record[2], record[3] };
    line->length = 0;
    vd__line_put(line, "", 0);
    vd__line_format(line, f, record + 4);
    if (!line->data) return;
    if (ctx->print) {
        vd__message_push(&ctx->host, VD_LOG_INFO, kernel, id, line->data);
        return;
    }
    while (line->length && line->data[line->length - 1] == '\n') line->data[--line->length] = 0;
    vd__logf(&ctx->host, VD_LOG_INFO, "kernel '%s' (%u, %u, %u): %s", kernel, (unsigned)id[0], (unsigned)id[1],
             (unsigned)id[2], line->data);
}

/* Logs a failed assertion and stores it, so that the next vd_flush or vd_wait_idle returns VD_ERROR_ASSERTION. If an
   earlier one has not been returned yet, keeps that one. `record` is NULL if it did not fit into the output buffer. */
static VD__COLD void vd__output_assertion(vd__queue *q, const char *kernel, const vd__format *f, const uint32_t *record,
                                          uint32_t count) {
    char text[256], where[64] = "", more[32] = "";
    if (record)
        snprintf(where, sizeof where, " in invocation (%u, %u, %u)", (unsigned)record[1], (unsigned)record[2],
                 (unsigned)record[3]);
    else snprintf(where, sizeof where, " in an unknown invocation (its record did not fit)");
    if (count > 1) snprintf(more, sizeof more, " and %u more", (unsigned)count - 1);
    snprintf(text, sizeof text, "kernel '%.40s': assertion '%.60s' failed%s%s", kernel, f ? f->text : "", where, more);
    vd__logf(&q->ctx->host, VD_LOG_ERROR, "%s", text);
    vd__mutex_lock(q->lock);
    bool all_reported = true;
    for (int i = 0; i < VD__MAX_FAILURES; i++)
        all_reported = all_reported && (q->failures[i].result != VD_ERROR_ASSERTION || q->failures[i].reported);
    if (all_reported) {
        vd__failure *failure = &q->failures[q->failure_count % VD__MAX_FAILURES];
        failure->value = UINT64_MAX; /* not the value of any event: the work itself succeeded */
        failure->result = VD_ERROR_ASSERTION;
        failure->reported = false;
        memcpy(failure->text, text, sizeof text);
        vd__atomic_store32(&q->failure_count, q->failure_count + 1);
    }
    vd__mutex_unlock(q->lock);
}

/* Logs the number of records that did not fit, and the kernels with the lowest and the highest format among them. */
static VD__COLD void vd__output_report_lost(vd_context *ctx, const uint32_t *head) {
    const char *last, *first;
    vd__format_find(ctx, head[2], &last);
    vd__format_find(ctx, ~head[3], &first);
    bool same_kernel = first == last;
    vd__logf(&ctx->host, VD_LOG_WARNING,
             "%u record%s of kernel%s '%s'%s%s%s did not fit into the %llu bytes of vd_context_desc.print_bytes",
             (unsigned)head[1], head[1] == 1 ? "" : "s", same_kernel ? "" : "s", first, same_kernel ? "" : " to '",
             same_kernel ? "" : last, same_kernel ? "" : "'", VD__U(ctx->print_bytes));
}

/* Reads all records of a completed copy, up to the first damaged one. */
static VD__COLD void vd__output_print(vd_context *ctx, vd__output *o) {
    vd__line line = { &ctx->host.allocator, NULL, 0, 0 };
    const uint32_t *words = (const uint32_t *)(const void *)o->storage.memory.mapped, *failed = NULL;
    const vd__format *assertion = NULL, *f;
    const char *kernel, *failed_kernel = "";
    uint64_t end = ctx->print_bytes / 4;
    if (vd__storage_sync(&o->storage, 0, ctx->print_bytes, true)) return;
    if (words[0] < end - VD__OUTPUT_HEADER_WORDS) end = VD__OUTPUT_HEADER_WORDS + words[0];
    for (uint64_t index = VD__OUTPUT_HEADER_WORDS; index + 4 <= end; index += 4u + f->words) {
        f = vd__format_find(ctx, words[index], &kernel);
        if (!f || index + 4 + f->words > end) break;
        if (!f->assertion) vd__output_message(ctx, &line, kernel, f, words + index);
        else if (!failed) {
            failed = words + index;
            assertion = f;
            failed_kernel = kernel;
        }
    }
    if (words[1]) vd__output_report_lost(ctx, words);
    if (words[4] && !failed) assertion = vd__format_find(ctx, words[5], &failed_kernel);
    if (words[4]) vd__output_assertion(o->queue, failed_kernel, assertion, failed, words[4]);
    vd__free(&ctx->host.allocator, line.data);
}

/* Removes and returns the oldest output whose submission is complete, or NULL. */
static vd__output *vd__output_pop_completed(vd_context *ctx) {
    vd__mutex_lock(&ctx->lock);
    vd__output **link = &ctx->outputs;
    while (*link && (*link)->value > vd__atomic_load64(&(*link)->queue->completed)) link = &(*link)->next;
    vd__output *o = *link;
    if (o) vd__atomic_store_pointer((void **)(void *)link, o->next);
    vd__mutex_unlock(&ctx->lock);
    return o;
}

/* Turns the output of completed submissions into messages. No lock may be held. */
static VD__COLD void vd__output_poll(vd_context *ctx) {
    if (!vd__atomic_load_pointer((void *const *)(void *)&ctx->outputs)) return;
    for (uint32_t i = 0; i < ctx->queue_count; i++)
        vd__queue_reached(&ctx->queues[i], vd__atomic_load64(&ctx->queues[i].submitted));
    for (vd__output *o = vd__output_pop_completed(ctx); o; o = vd__output_pop_completed(ctx)) {
        if (!vd__context_lost(ctx)) vd__output_print(ctx, o);
        vd__output_recycle(ctx, o);
    }
}

/* ---- user callbacks ---- */

/* Calls the release callbacks of imported memory that is no longer in use. */
static void vd__released_deliver(vd_context *ctx) {
    vd__mutex_lock(&ctx->lock);
    vd__heap_block *b = ctx->pending_releases;
    ctx->pending_releases = NULL;
    vd__mutex_unlock(&ctx->lock);
    while (b) {
        vd__heap_block *next = b->next;
        vd__callback_frame frame;
        vd__callback_begin(&frame, ctx, "a buffer", "release", false);
        if (b->release) b->release(b->release_user, b->address);
        vd__callback_end(&frame);
        vd__free(&ctx->host.allocator, b);
        b = next;
    }
}

/* Passes a message to the print or log callback. */
static void vd__message_deliver(vd_context *ctx, const vd__message *m) {
    vd__callback_frame frame;
    vd__callback_begin(&frame, ctx, "the context", m->kernel ? "print" : vd__callback_log, false);
    if (m->kernel) ctx->print(ctx->print_user, m->kernel, m->id, m->text);
    else ctx->host.log(ctx->host.log_user, m->level, m->text);
    vd__callback_end(&frame);
}

/* Removes and returns the first message, or NULL. */
static vd__message *vd__message_pop(vd__message_queue *messages) {
    vd__mutex_lock(&messages->lock);
    vd__message *m = messages->first;
    if (m) messages->first = m->next;
    if (m) messages->bytes -= m->size;
    if (!messages->first) messages->last = NULL;
    vd__mutex_unlock(&messages->lock);
    return m;
}

/* Logs the number of messages that were dropped since the last report. */
static void vd__report_dropped_messages(vd_context *ctx) {
    vd__message_queue *messages = &ctx->messages;
    vd__mutex_lock(&messages->lock);
    uint32_t count = messages->dropped;
    messages->dropped = 0;
    vd__mutex_unlock(&messages->lock);
    if (count)
        vd__logf(&ctx->host, VD_LOG_WARNING,
                 "%u message%s dropped: more than %llu bytes waited for the log and print callbacks, or host memory "
                 "ran out",
                 (unsigned)count, count == 1 ? " was" : "s were", VD__U(messages->limit));
}

/* Makes all pending calls of callbacks, one after another. Calls that a callback causes are queued and made after it
   has returned. Keeps the error of the thread. */
static void vd__callbacks_deliver(vd_context *ctx) {
    if (vd__callback_is_running(ctx)) return;
    vd__error saved = vd__last_error;
    while (vd__atomic_exchange32(&ctx->messages.pending, 0)) {
        vd__released_deliver(ctx);
        for (vd__message *m = vd__message_pop(&ctx->messages); m; m = vd__message_pop(&ctx->messages)) {
            vd__message_deliver(ctx, m);
            vd__free(&ctx->host.allocator, m);
        }
        vd__report_dropped_messages(ctx);
    }
    vd__last_error = saved;
    vd__error_join(); /* the caller may still hold a pointer from vd_error_text */
}

/* ---- failed calls ---- */

static const char vd__run_call[] = "vd_run"; /* the call of vd_run_args, compared by address */

/* Returns whether the thread is in a public function of a library on top, which reports its own failures. */
static bool vd__in_library_call(const vd_context *ctx) {
    const vd__callback_frame *v = vd__callback_frames;
    while (v && (v->ctx != ctx || v->what != vd__callback_scope)) v = v->outer;
    return v != NULL;
}

/* Keeps the text of a failure to create a kernel, for messages about a kernel handle of 0. */
static VD__COLD void vd__kernel_failure_keep(vd_context *ctx) {
    static const char *const calls[] = { "vd_kernel_create", "vd_kernel_load", "vd_kernel_build" };
    size_t i = 0;
    while (i < VD__COUNT(calls) && strcmp(calls[i], vd__last_error.call)) i++;
    if (i == VD__COUNT(calls)) return;
    char *text = vd__copy_text(&ctx->host.allocator, vd__error_join());
    vd__mutex_lock(&ctx->lock);
    char *older = ctx->kernel_failure;
    if (text) ctx->kernel_failure = text;
    vd__mutex_unlock(&ctx->lock);
    if (text) vd__free(&ctx->host.allocator, older);
}

static bool vd__unchecked_is_checked(const vd__unchecked *u) {
    return u->thread == &vd__last_error && vd__checked_failures >= u->number;
}

/* Keeps the failure of a command in an immediate list, unless an unchecked one is kept already. */
static VD__COLD void vd__unchecked_keep(vd_context *ctx) {
    vd__failures++;
    vd__mutex_lock(&ctx->lock);
    bool keep = !ctx->unchecked || vd__unchecked_is_checked(ctx->unchecked);
    if (!ctx->unchecked) ctx->unchecked = (vd__unchecked *)vd__alloc(&ctx->host.allocator, sizeof *ctx->unchecked);
    if (ctx->unchecked && keep) {
        ctx->unchecked->thread = &vd__last_error;
        ctx->unchecked->number = vd__failures;
        ctx->unchecked->result = vd__last_error.code;
        snprintf(ctx->unchecked->text, sizeof ctx->unchecked->text, "%s", vd__error_join());
    }
    vd__mutex_unlock(&ctx->lock);
}

/* Reports the unchecked failure of this thread again, once. Debug mode only. */
static VD__COLD vd_result vd__unchecked_report(vd_context *ctx, const char *call) {
    vd_result r = VD_OK;
    vd__mutex_lock(&ctx->lock);
    vd__unchecked *u = ctx->unchecked;
    if (u && u->thread == &vd__last_error) {
        if (!vd__unchecked_is_checked(u))
            r = vd__fail_call(u->result, call, NULL, "an earlier call failed: %s", u->text);
        vd__free(&ctx->host.allocator, u);
        ctx->unchecked = NULL;
    }
    vd__mutex_unlock(&ctx->lock);
    return r;
}

/* Called at the end of a call that waits or submits: in debug mode, a failure that the caller did not check replaces
   VD_OK. */
static inline vd_result vd__unchecked_result(vd_context *ctx, const char *call, vd_result r) {
    return VD__UNLIKELY(ctx->host.debug) && !r ? vd__unchecked_report(ctx, call) : r;
}

/* Logs the error of the thread if it has not been logged. */
static VD__COLD void vd__failure_log(vd_context *ctx) {
    bool debug = ctx && ctx->host.debug;
    vd__error saved = vd__last_error;
    if (!saved.unlogged) return;
    if (ctx) vd__kernel_failure_keep(ctx);
    if (!ctx) vd__select_debug(&debug);
    vd__last_error = saved;
    if (!ctx && debug) vd__log_to_stderr(NULL, VD_LOG_ERROR, vd__error_join());
    if (ctx && debug) vd__logf(&ctx->host, VD_LOG_ERROR, "%s", vd__error_join());
    vd__last_error = saved;
    vd__last_error.unlogged = false;
    if (ctx && debug && saved.immediate) vd__unchecked_keep(ctx);
}

/* Logs the failure of a public function in debug mode, and makes pending callbacks. */
static vd_result vd__call_failed(vd_context *ctx, vd_result r) {
    if (r != VD_TIMEOUT && !vd__in_library_call(ctx)) vd__failure_log(ctx);
    if (ctx) vd__api_end(ctx);
    return r;
}

/* ---- warnings of debug mode ---- */

/* Warns if a buffer is read that an open list writes: its commands are not executed before it is submitted. */
static VD__COLD void vd__debug_read(vd_context *ctx, const char *call, const char *object, const vd__buffer *b,
                                    uint32_t device) {
    bool named = object[0] != 0;
    if (vd__atomic_load32(&b->storage[device].unsubmitted))
        vd__logf(&ctx->host, VD_LOG_WARNING, "%s%s%s%s: buffer '%s' is read, but a list that writes it has not been "
                 "submitted; call vd_submit first", call, named ? " '" : "", object, named ? "'" : "", b->name);
}

/* Notes that a list of the user writes a buffer. */
static VD__COLD void vd__debug_written(const vd_list *l, uint64_t id) {
    if (l->immediate) return;
    vd__buffer *b = (vd__buffer *)(void *)vd__pool_pin(l->ctx, &l->ctx->buffers, id);
    if (b) vd__atomic_store32(&b->storage[l->queue->context_device->index].unsubmitted, l->number);
    vd__buffer_unpin(l->ctx, b);
}

/* Warns of buffers that a list only reads and another open list writes. */
static VD__COLD void vd__debug_submit(const vd_list *l) {
    for (uint32_t i = 0; i < l->use_count; i++) {
        const vd__storage *s = vd__list_use_storage(l, &l->uses[i]);
        if (s && !l->uses[i].written && vd__atomic_load32(&s->unsubmitted) != l->number)
            vd__debug_read(l->ctx, "vd_submit", "", (const vd__buffer *)(const void *)l->uses[i].object,
                           l->queue->context_device->index);
    }
}

/* Warns of threads along axes that the kernel does not use. */
static VD__COLD void vd__debug_axes(vd_context *ctx, const vd__kernel *k, const vd_dispatch_desc *desc,
                                    const char *call) {
    bool threads = desc->threads[0] != 0;
    for (int i = 0; i < 3 && k->axes; i++) {
        uint64_t extent = threads ? desc->threads[i] : desc->groups[i];
        if (extent > 1 && !(k->axes >> i & 1u))
            vd__logf(&ctx->host, VD_LOG_WARNING, "%s '%s': %s[%d] is %llu, but the kernel uses no id along axis %d, so "
                     "the same work is repeated", call, k->name, threads ? "threads" : "groups", i, VD__U(extent), i);
    }
}

/* Slow path of vd__list_check_command for a dispatch. Logs the warnings of debug mode; the dispatch itself checks its
   arguments. */
static vd_result vd__dispatch_check(const vd_list *l, const vd_dispatch_desc *desc) {
    vd_context *ctx = l->ctx;
    const vd__callback_frame *frame = vd__callback_frames;
    bool run = frame && frame->call == vd__run_call;
    const char *call = run ? vd__run_call : "vd_dispatch";
    vd_result r = vd__context_check(ctx, "vd_dispatch");
    if (r || !ctx->host.debug) return r;
    vd__kernel *k = (vd__kernel *)(void *)vd__pool_pin(ctx, &ctx->kernels, desc->kernel.id);
    if (!k) return VD_OK;
    if (run || !vd__in_library_call(ctx)) vd__debug_axes(ctx, k, desc, call);
    for (int i = 0; i < k->arg_count && i < desc->arg_count && desc->args; i++) {
        vd__buffer *b = k->args[i].kind == VD_ARG_VALUE || desc->args[i].kind == VD_ARG_VALUE ? NULL
            : (vd__buffer *)(void *)vd__pool_pin(ctx, &ctx->buffers, desc->args[i].bits);
        if (!b) continue;
        if (!l->immediate && k->params[i].written) vd__debug_written(l, desc->args[i].bits);
        if (l->immediate && k->args[i].access != VD_WRITE)
            vd__debug_read(ctx, call, k->name, b, l->queue->context_device->index);
        vd__buffer_unpin(ctx, b);
    }
    vd__slot_unpin(ctx, &k->slot);
    return VD_OK;
}

/* Warns of a kernel without effect. */
static VD__COLD void vd__debug_kernel(const vd_context *ctx, const vd__kernel *k) {
    bool works = k->first_format != 0;
    for (int i = 0; i < k->arg_count; i++) works = works || (k->args[i].access & VD_WRITE);
    if (!works)
        vd__logf(&ctx->host, VD_LOG_WARNING, "kernel '%s' has no effect: it neither writes a buffer nor prints",
                 k->name);
}

/* ---- output buffers and formats ---- */

/* Creates the output buffers of all queues that have none. */
static VD__COLD vd_result vd__output_create_buffers(vd_context *ctx) {
    vd_result r = VD_OK;
    for (uint32_t i = 0; i < ctx->queue_count && !r; i++) {
        vd__queue *q = &ctx->queues[i];
        vd_buffer_desc desc;
        vd__mutex_lock(&ctx->lock);
        bool exists = q->output.id != 0;
        vd__mutex_unlock(&ctx->lock);
        if (exists) continue;
        memset(&desc, 0, sizeof desc);
        desc.name = "output of kernels";
        desc.type = VD_U32;
        desc.shape[0] = ctx->print_bytes / 4;
        desc.devices = 1u << q->context_device->index;
        vd__callback_frame frame;
        vd__callback_begin(&frame, ctx, "vd_kernel_create", vd__callback_scope, false);
        vd_buffer created = vd_buffer_create(ctx, &desc);
        vd__callback_end(&frame);
        r = created.id ? VD_OK : vd__error_amend(vd__last_error.code, NULL, NULL, desc.name);
        vd__mutex_lock(&ctx->lock);
        bool lost_race = q->output.id != 0; /* another thread created one in the meantime */
        if (!lost_race && !r) {
            vd__atomic_store64(&q->output.id, created.id);
            ctx->output_buffers++;
        }
        vd__mutex_unlock(&ctx->lock);
        if (lost_race && !r) vd__object_destroy(ctx, &ctx->buffers, vd__pool_find(&ctx->buffers, created.id));
    }
    return r;
}

/* Delivers pending output and frees all output memory. Called before vd__context_discard_objects. */
static VD__COLD void vd__output_free(vd_context *ctx) {
    vd__output_poll(ctx);
    for (uint32_t i = 0; i < ctx->queue_count; i++) {
        vd__queue *q = &ctx->queues[i];
        if (q->open_batch.output) vd__output_submitted(&q->open_batch, 0);
        if (q->output.id) vd__object_destroy(ctx, &ctx->buffers, vd__pool_find(&ctx->buffers, q->output.id));
        while (q->spare_outputs) {
            vd__output *o = q->spare_outputs;
            q->spare_outputs = o->next;
            vd__mutex_lock(&ctx->lock);
            vd__storage_destroy(&o->storage);
            vd__mutex_unlock(&ctx->lock);
            vd__free(&ctx->host.allocator, o);
        }
    }
}

/* Returns whether a desc has the same name and formats as `f`. */
static bool vd__formats_equal(const vd__formats *f, const vd_kernel_desc *desc) {
    if (f->count != (uint32_t)desc->format_count || strcmp(f->kernel, desc->name)) return false;
    for (uint32_t i = 0; i < f->count; i++)
        if (strcmp(f->source[i], desc->formats[i])) return false;
    return true;
}

/* Copies name and formats of a desc in one allocation. Returns NULL if memory runs out. */
static VD__COLD vd__formats *vd__formats_copy(vd_context *ctx, const vd_kernel_desc *desc) {
    size_t count = (size_t)desc->format_count, text = strlen(desc->name) + 1;
    for (size_t i = 0; i < count; i++) text += strlen(desc->formats[i]) + 1;
    vd__formats *f = (vd__formats *)vd__alloc_zeroed(&ctx->host.allocator,
                                                     sizeof *f + count * (sizeof(vd__format) + sizeof(char *)) + text);
    if (!f) return NULL;
    f->formats = (vd__format *)(void *)(f + 1);
    const char **source = (const char **)(void *)(f->formats + count);
    char *string = (char *)(void *)(source + count);
    f->source = source;
    f->kernel = strcpy(string, desc->name);
    f->count = (uint32_t)count;
    string += strlen(string) + 1;
    for (size_t i = 0; i < count; i++) {
        source[i] = strcpy(string, desc->formats[i]);
        vd__format_read(string, &f->formats[i]);
        string += strlen(string) + 1;
    }
    return f;
}

/* Registers the formats of a kernel. Sets *out to the number of the first one, or to 0 if the kernel does not print.
   Kernels with equal names and formats share them. */
static VD__COLD vd_result vd__formats_add(vd_context *ctx, const vd_kernel_desc *desc, uint32_t *out) {
    bool prints = false;
    *out = 0;
    for (int i = 0; i < desc->implicit_count; i++) prints = prints || desc->implicit[i].kind == VD_IMPLICIT_OUTPUT;
    if (!prints) return VD_OK;
    vd_result r = vd__output_create_buffers(ctx);
    if (r) return r;
    vd__mutex_lock(&ctx->lock);
    vd__formats *f = ctx->formats;
    while (f && !vd__formats_equal(f, desc)) f = f->next;
    if (!f && (f = vd__formats_copy(ctx, desc)) != NULL) {
        f->first = 1 + ctx->format_count;
        f->next = ctx->formats;
        ctx->format_count += f->count;
        ctx->formats = f;
    }
    vd__mutex_unlock(&ctx->lock);
    if (f) *out = f->first;
    return f ? VD_OK : vd__fail_memory(NULL, NULL, 0);
}

static void vd__formats_free(vd_context *ctx) {
    while (ctx->formats) {
        vd__formats *f = ctx->formats;
        ctx->formats = f->next;
        vd__free(&ctx->host.allocator, f);
    }
}

// >>public
/* The public functions: check arguments, look up handles, call the implementation. */

/* ---- errors ---- */

/* The user has asked for the last failure. Libraries do so too, in order to amend it. */
static void vd__failures_checked(void) {
    if (!vd__callback_frames) vd__checked_failures = vd__failures;
}

VD_API const char *vd_error_text(void) {
    vd__failures_checked();
    return vd__error_join();
}

VD_API vd_result vd_error_result(void) {
    vd__failures_checked();
    return vd__last_error.code;
}

VD_API vd_result vd_error_set(vd_result result, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vd__vfail(result, NULL, NULL, format ? format : "", args);
    va_end(args);
    return format ? result : vd__error_add_out_of_memory(result);
}

VD_API vd_result vd_error_amend(vd_result result, const char *call, const char *object, const char *format, ...) {
    char prefix[256];
    va_list args;
    va_start(args, format);
    if (format) vsnprintf(prefix, sizeof prefix, format, args);
    va_end(args);
    return vd__error_amend(result, call, object, format ? prefix : NULL);
}

VD_API const char *vd_result_name(vd_result result) {
    static const char *const names[] = {
        "VD_OK", "VD_TIMEOUT", "VD_ERROR_INVALID", "VD_ERROR_NO_DEVICE", "VD_ERROR_UNSUPPORTED", "VD_ERROR_COMPILE",
        "VD_ERROR_OUT_OF_MEMORY", "VD_ERROR_OUT_OF_DEVICE_MEMORY", "VD_ERROR_DEVICE_LOST", "VD_ERROR_IO",
        "VD_ERROR_BACKEND", "VD_ERROR_ASSERTION"
    };
    return (size_t)result < VD__COUNT(names) ? names[result] : "no vd_result";
}

VD_API uint32_t vd_type_size(vd_type type) {
    if (type >> 31) return type == 0xffffffffu ? 0 : type & 0x7fffffffu;
    if (type >= 512) return 0;
    uint32_t rows = ((type >> 4) & 3u) + 1, columns = ((type >> 6) & 3u) + 1, complex_parts = (type >> 8) + 1;
    bool scalar = rows * columns == 1, matrix = columns > 1;
    if ((matrix && rows == 1) || (complex_parts > 1 && !scalar)) return 0;
    if ((matrix || complex_parts > 1) && !vd__is_float(type & 15u)) return 0;
    return vd__scalar_size(type) * rows * columns * complex_parts;
}

VD_API const char *vd_type_name(vd_type type) {
    if (type == VD_BYTES) return "bytes";
    if (type >> 31) return "struct";
    return vd_type_size(type) ? vd__type_names[type >> 8][(type & 15u) - 1][(type >> 4) & 15u] : "no type";
}

VD_API const char *vd_feature_name(uint64_t bit) {
    for (size_t i = 0; i < VD__COUNT(vd__feature_names); i++)
        if (bit == (uint64_t)1 << i && vd__feature_names[i]) return vd__feature_names[i];
    return "unknown";
}

/* ---- contexts and devices ---- */

VD_API const char *vd_backend_name(vd_backend backend) {
    return (size_t)backend < VD__COUNT(vd__backend_all_names) ? vd__backend_all_names[backend] : "";
}

VD_API vd_backend vd_backend_from_name(const char *name) {
    for (size_t i = 1; name && i < VD__COUNT(vd__backend_all_names); i++)
        if (vd__text_equal_nocase(name, vd__backend_all_names[i], SIZE_MAX)) return (vd_backend)i;
    return VD_BACKEND_DEFAULT;
}

/* Lists the devices of a backend. Returns their number, or 0 if the backend does not work. */
static int vd__backend_devices(const vd__backend *backend, const vd__host *host, vd_device_info *out, int capacity) {
    vd__driver driver;
    memset(&driver, 0, sizeof driver);
    driver.backend = backend;
    driver.host = host;
    if (backend->driver_open(&driver)) return 0;
    int count = backend->driver_devices(&driver, out, capacity);
    backend->driver_close(&driver);
    return count;
}

VD_API int vd_devices(vd_backend backend, vd_device_info *out, int capacity) {
    vd__counting_allocator counter;
    vd__host host;
    int count = 0;
    memset(&host, 0, sizeof host);
    host.allocator = vd__counting_allocator_init(&counter, NULL);
    if (!out || capacity < 0) capacity = 0;
    for (size_t i = 0; i < VD__COUNT(vd__backends); i++) {
        vd_backend id = vd__backends[i]->id;
        if (backend == VD_BACKEND_DEFAULT ? id == VD_BACKEND_DUMMY : id != backend) continue;
        int available = capacity > count ? capacity - count : 0;
        count += vd__backend_devices(vd__backends[i], &host, available ? out + count : NULL, available);
    }
    return count;
}

/* Allocates the devices and queues of the context, which vd__select opens later. Returns false if memory runs out. */
static bool vd__context_init_queues(vd_context *ctx, const vd_context_desc *desc) {
    const vd_allocator *allocator = &ctx->host.allocator;
    uint32_t device_count = desc->device_count ? (uint32_t)desc->device_count : 1;
    uint32_t queues = desc->queues ? (uint32_t)desc->queues : 1;
    ctx->devices = (vd__context_device *)vd__alloc_zeroed(allocator, device_count * sizeof *ctx->devices);
    ctx->queues = (vd__queue *)vd__alloc_zeroed(allocator, device_count * queues * sizeof *ctx->queues);
    if (!ctx->devices || !ctx->queues) return false;
    ctx->device_count = device_count;
    for (uint32_t i = 0; i < device_count; i++) {
        vd__mutex_init(&ctx->devices[i].lock);
        ctx->devices[i].ctx = ctx;
        ctx->devices[i].index = i;
        ctx->devices[i].queues = &ctx->queues[i * queues];
    }
    for (; ctx->queue_count < device_count * queues; ctx->queue_count++) {
        vd__queue *q = &ctx->queues[ctx->queue_count];
        q->ctx = ctx;
        q->context_device = &ctx->devices[ctx->queue_count / queues];
        q->device = &q->context_device->device;
        q->lock = &q->context_device->lock;
        q->index = ctx->queue_count % queues;
        if (!vd__list_init(&q->open_batch, ctx, true)) {
            vd__list_free(&q->open_batch);
            return false;
        }
        vd__list_set_queue(&q->open_batch, q);
        q->open_batch.state = VD__LIST_OPEN;
    }
    return true;
}

/* Initialises the members that do not depend on the device. Returns false if memory runs out. */
static bool vd__context_init(vd_context *ctx, const vd_context_desc *desc) {
    ctx->host.allocator = vd__counting_allocator_init(&ctx->counting_allocator, &desc->allocator);
    ctx->host.log = desc->log;
    ctx->host.log_user = desc->log_user;
    ctx->host.messages = &ctx->messages;
    ctx->host.cache_counters = &ctx->cache_counters;
    ctx->host.debug = desc->debug;
    if (desc->debug) ctx->state = VD__DEBUG;
    if (desc->debug && !desc->log) ctx->host.log = vd__log_to_stderr;
    ctx->host.dummy = desc->dummy;
    ctx->host.cuda_stream = desc->cuda_stream;
    ctx->host.cl_context = desc->cl_context;
    ctx->host.cl_device = desc->cl_device;
    ctx->host.cl_queue = desc->cl_queue;
    ctx->host.get_instance_proc_addr = desc->get_instance_proc_addr;
    ctx->print = desc->print;
    ctx->print_user = desc->print_user;
    ctx->print_bytes = desc->print_bytes ? (desc->print_bytes + 3) & ~(uint64_t)3 : 1u << 20;
    if (ctx->print_bytes < 256) ctx->print_bytes = 256;
    vd__message_queue_init(&ctx->messages, ctx->print_bytes);
    vd__mutex_init(&ctx->lock);
    vd__pool_init(&ctx->buffers, &ctx->host.allocator, VD__OBJECT_BUFFER, ctx->number, sizeof(vd__buffer));
    vd__pool_init(&ctx->kernels, &ctx->host.allocator, VD__OBJECT_KERNEL, ctx->number, sizeof(vd__kernel));
    vd__pool_init(&ctx->tickets, &ctx->host.allocator, VD__OBJECT_TICKET, ctx->number, sizeof(vd__ticket));
    if (!vd__context_init_queues(ctx, desc)) return false;
    bool cache = desc->cache_directory && desc->cache_directory[0];
    if (cache) ctx->host.cache_directory = vd__copy_text(&ctx->host.allocator, desc->cache_directory);
    return !cache || ctx->host.cache_directory;
}

/* Returns the default size of a memory block: 64 MiB, or an eighth of the device memory if that is less. */
static uint64_t vd__block_bytes(const vd_device_info *info) {
    uint64_t eighth = info->device_memory / 8 / VD__TLSF_UNIT * VD__TLSF_UNIT, maximum = 64u << 20;
    return eighth && eighth < maximum ? eighth : maximum;
}

static vd_result vd__context_open(vd_context *ctx, const vd_context_desc *desc) {
    if (!vd__context_init(ctx, desc)) return vd__fail_memory(NULL, NULL, 0);
    vd_result r = vd__select(ctx, desc);
    ctx->host.dummy = NULL; /* owned by the caller and valid only during this call */
    if (r) return r;
    for (uint32_t i = 0; i < ctx->device_count; i++)
        ctx->devices[i].heap.block_bytes = vd__block_bytes(&ctx->devices[i].device.info);
    return VD_OK;
}

/* Frees the host memory of a context whose device is closed or was never opened. */
static void vd__context_free_memory(vd_context *ctx) {
    vd_allocator inner = ctx->counting_allocator.inner;
    vd__api_end(ctx);
    vd__context_number_release(ctx->number);
    vd__free(&ctx->host.allocator, ctx->host.cache_directory);
    vd__free(&ctx->host.allocator, ctx->unchecked);
    vd__free(&ctx->host.allocator, ctx->kernel_failure);
    vd__formats_free(ctx);
    for (uint32_t i = 0; i < ctx->queue_count; i++) vd__list_free(&ctx->queues[i].open_batch);
    for (uint32_t i = 0; i < ctx->device_count; i++) vd__mutex_destroy(&ctx->devices[i].lock);
    vd__free(&ctx->host.allocator, ctx->queues);
    vd__free(&ctx->host.allocator, ctx->devices);
    vd__pool_free(&ctx->buffers);
    vd__pool_free(&ctx->kernels);
    vd__pool_free(&ctx->tickets);
    vd__mutex_destroy(&ctx->messages.lock);
    vd__mutex_destroy(&ctx->lock);
    inner.release(inner.user, ctx);
}

/* Checks the fields of a desc that pass objects of OpenCL. */
static vd_result vd__context_check_opencl(const vd_context_desc *desc) {
    if ((desc->cl_context != NULL) != (desc->cl_device != NULL) || (desc->cl_queue && !desc->cl_context))
        return vd__fail(VD_ERROR_INVALID, "desc.cl_context and desc.cl_device must both be set (desc.cl_queue is "
                        "optional), but desc.%s is NULL", desc->cl_context ? "cl_device" : "cl_context");
    if (desc->cl_context && (desc->device || desc->device_name || desc->device_count))
        return vd__fail(VD_ERROR_INVALID, "desc.cl_device and desc.%s are both set", desc->device_count ? "devices"
                        : desc->device ? "device" : "device_name");
    if (desc->cl_context && desc->backend != VD_BACKEND_OPENCL)
        return vd__fail(VD_ERROR_INVALID, "desc.cl_context requires VD_BACKEND_OPENCL, but desc.backend is %d",
                        (int)desc->backend);
    return VD_OK;
}

/* Checks the desc, and creates and opens a context. */
static vd_result vd__context_create(const vd_context_desc *desc, vd_context **out, uint32_t version) {
    vd_context_desc full;
    vd__counting_allocator counter;
    if (!out) return vd__fail(VD_ERROR_INVALID, "out is NULL");
    *out = NULL;
    /* descs of another major version would be converted here */
    if (version / 10000 != VKDISPATCH_VERSION / 10000 || !version)
        return vd__fail(VD_ERROR_INVALID, "the caller was compiled with version %u of vkdispatch.h, but the "
                        "implementation has version %u", (unsigned)version, (unsigned)VKDISPATCH_VERSION);
    memset(&full, 0, sizeof full);
    if (desc) full = *desc;
    vd_result r = vd__select_debug(&full.debug);
    if (r) return r;
    const vd_allocator *a = &full.allocator;
    if ((a->allocate || a->reallocate || a->release) && !(a->allocate && a->reallocate && a->release))
        return vd__fail(VD_ERROR_INVALID, "desc.allocator.%s is NULL; set allocate, reallocate and release, or none",
                        !a->allocate ? "allocate" : !a->reallocate ? "reallocate" : "release");
    if (full.print_bytes > 1u << 30)
        return vd__fail(VD_ERROR_INVALID, "desc.print_bytes is %llu, but the limit is 2^30", VD__U(full.print_bytes));
    if (full.queues < 0 || full.queues > VD_MAX_QUEUES)
        return vd__fail(VD_ERROR_INVALID, "desc.queues is %d, but must be 0 to %d", full.queues, VD_MAX_QUEUES);
    if (full.device_count < 0 || full.device_count > VD_MAX_DEVICES || (full.device_count && !full.devices))
        return vd__fail(VD_ERROR_INVALID, "desc.device_count is %d%s, but must be 0 to %d", full.device_count,
                        full.devices ? "" : " and desc.devices is NULL", VD_MAX_DEVICES);
    if (full.devices && !full.device_count)
        return vd__fail(VD_ERROR_INVALID, "desc.devices is set, but desc.device_count is 0");
    if (full.device_count && (full.device || full.device_name))
        return vd__fail(VD_ERROR_INVALID, "desc.device_count is %d, but desc.device or desc.device_name is set too",
                        full.device_count);
    if (full.device_count > 1 && full.cuda_stream)
        return vd__fail(VD_ERROR_INVALID, "desc.cuda_stream belongs to one device, but desc.device_count is %d",
                        full.device_count);
    if (full.cuda_stream && full.backend != VD_BACKEND_CUDA)
        return vd__fail(VD_ERROR_INVALID, "desc.cuda_stream requires VD_BACKEND_CUDA, but desc.backend is %d",
                        (int)full.backend);
    r = vd__context_check_opencl(&full);
    if (r) return r;
    vd__counting_allocator_init(&counter, a);
    vd_context *ctx = (vd_context *)counter.inner.allocate(counter.inner.user, sizeof *ctx);
    if (!ctx) return vd__fail_memory(NULL, NULL, 0);
    memset(ctx, 0, sizeof *ctx);
    ctx->number = vd__context_number_acquire();
    if (!ctx->number) {
        counter.inner.release(counter.inner.user, ctx);
        return vd__fail(VD_ERROR_UNSUPPORTED, "%d contexts exist, which is the maximum", VD__CONTEXT_NUMBERS - 1);
    }
    ctx->reference_count = 1;
    r = vd__context_open(ctx, &full);
    if (r) vd__context_free_memory(ctx);
    else *out = ctx;
    if (!r) vd__api_end(ctx);
    return r;
}

VD_API vd_result vd_context_create_version(const vd_context_desc *desc, vd_context **out, uint32_t version) {
    vd__error saved = vd__last_error;
    vd_result r = vd__context_create(desc, out, version);
    if (r) {
        bool debug = desc && desc->debug;
        vd__error_amend(r, "vd_context_create", "", NULL);
        saved = vd__last_error;
        vd__select_debug(&debug);
        vd__last_error = saved;
        if (debug && desc && desc->log) desc->log(desc->log_user, VD_LOG_ERROR, vd__error_join());
        else if (debug) vd__log_to_stderr(NULL, VD_LOG_ERROR, vd__error_join());
        vd__last_error = saved;
        vd__error_join(); /* the callback may have changed the joined text */
        return r;
    }
    vd__last_error = saved; /* a device or backend that failed to open may have set an error */
    return VD_OK;
}

/* Destroys the buffers and kernels that the user did not destroy. In debug mode, logs their names. */
static void vd__context_discard_objects(vd_context *ctx) {
    vd__pool *const pools[] = { &ctx->buffers, &ctx->kernels };
    for (size_t p = 0; p < VD__COUNT(pools); p++)
        for (uint32_t i = 0; i < pools[p]->used; i++) {
            vd__slot *slot = vd__pool_slot_at(pools[p], i);
            if (!vd__slot_is_live(slot)) continue;
            if (ctx->host.debug)
                vd__logf(&ctx->host, VD_LOG_INFO, "%s '%s' was not destroyed before vd_context_destroy", p ? "kernel"
                         : "buffer", p ? ((vd__kernel *)(void *)slot)->name : ((vd__buffer *)(void *)slot)->name);
            vd__object_destroy(ctx, pools[p], slot);
        }
}

static void vd__recordings_free(vd__queue *q, vd__recording *r) {
    while (r) {
        vd__recording *next = r->next;
        q->ctx->driver.backend->commands_destroy(q->device, &r->commands);
        vd__free(&q->ctx->host.allocator, r);
        r = next;
    }
}

/* Frees staging memory and recordings of an idle queue. */
static void vd__queue_close(vd__queue *q) {
    for (int usage = 0; usage < VD__MEMORY_USAGES; usage++)
        while (q->staging[usage]) vd__staging_destroy(q, (vd_memory)usage, q->staging[usage]);
    for (int i = 0; i < 2; i++) {
        vd__recordings_free(q, q->rings[i].oldest);
        vd__recordings_free(q, q->rings[i].spare);
    }
}

VD_API vd_allocator vd_context_allocator(const vd_context *ctx) {
    vd_allocator none = { NULL, NULL, NULL, NULL };
    return !ctx ? none : ctx->releasing_attachments ? ctx->counting_allocator.inner : ctx->host.allocator;
}

/* Returns the attachment of a key; creates it if there is none. Returns NULL if memory runs out. */
static vd__attachment *vd__attachment_of(vd_context *ctx, const void *key) {
    vd__mutex_lock(&ctx->lock);
    vd__attachment *a = ctx->attachments;
    while (a && a->key != key) a = a->next;
    if (!a && (a = (vd__attachment *)vd__alloc_zeroed(&ctx->host.allocator, sizeof *a)) != NULL) {
        a->key = key;
        vd__mutex_init(&a->lock);
        a->next = ctx->attachments;
        ctx->attachments = a;
    }
    vd__mutex_unlock(&ctx->lock);
    return a;
}

VD_API vd_result vd_context_attach(vd_context *ctx, const void *key,
                                   vd_result (*use)(vd_context *ctx, void **data, void *user), void *user,
                                   void (*release)(vd_context *ctx, void *data)) {
    if (!ctx || !key || !use)
        return vd__call_failed(ctx, vd__fail_call(VD_ERROR_INVALID, "vd_context_attach", NULL, "%s is NULL",
                                                  !ctx ? "the context" : !key ? "the key" : "use"));
    vd__attachment *a = vd__attachment_of(ctx, key);
    if (!a) return vd__call_failed(ctx, vd__fail_memory("vd_context_attach", NULL, 0));
    vd__callback_frame frame;
    /* defers callbacks to vd__api_end, after the lock is released */
    vd__callback_begin(&frame, ctx, "vd_context_attach", "use", false);
    vd__mutex_lock(&a->lock);
    a->release = release;
    vd_result result = use(ctx, &a->data, user);
    vd__mutex_unlock(&a->lock);
    vd__callback_end(&frame);
    return vd__call_end(ctx, result);
}

VD_API void vd_callback_scope_begin(vd_context *ctx, const char *call, vd_callback_scope *scope) {
    if (!scope) return;
    if (!vd__in_library_call(ctx)) vd__last_error.unlogged = false; /* of an earlier call */
    vd__callback_begin(scope, ctx, call, vd__callback_scope, false);
}

VD_API void vd_callback_scope_end(vd_callback_scope *scope) {
    if (!scope) return;
    vd__callback_end(scope);
    bool failed = vd__last_error.unlogged && scope->call && !strcmp(vd__last_error.call, scope->call);
    if (failed && !vd__in_library_call(scope->ctx)) vd__failure_log(scope->ctx);
    if (scope->ctx) vd__api_end(scope->ctx);
}

static vd__cache_key vd__cache_key_of(const void *key, size_t size) {
    vd__cache_key out = VD__CACHE_KEY_INIT;
    vd__cache_key_add(&out, key, size);
    return out;
}

VD_API void vd_cache_store(vd_context *ctx, const char *category, const void *key, size_t key_size, const void *data,
                           size_t size) {
    if (!ctx || !category || !key || !data) return;
    vd__cache_key k = vd__cache_key_of(key, key_size);
    vd__cache_store(&ctx->host, category, &k, data, size);
    vd__api_end(ctx);
}

VD_API size_t vd_cache_load(vd_context *ctx, const char *category, const void *key, size_t key_size, void *data,
                            size_t capacity) {
    size_t size = 0;
    if (!ctx || !category || !key || !data) return 0;
    vd__cache_key k = vd__cache_key_of(key, key_size);
    void *cached = vd__cache_load(&ctx->host, category, &k, &size);
    bool fits = cached && size <= capacity;
    if (fits) memcpy(data, cached, size);
    vd__free(&ctx->host.allocator, cached);
    vd__api_end(ctx);
    return fits ? size : 0;
}

VD_API uint64_t vd_time_ns(void) { return vd__time_ns(); }

/* Releases all attachments. Their release callbacks may still use the context. */
static void vd__attachments_release(vd_context *ctx) {
    vd__callback_frame frame;
    vd__callback_begin(&frame, ctx, "vd_context_attach", "release", false);
    ctx->releasing_attachments = true;
    while (ctx->attachments) {
        vd__attachment *a = ctx->attachments;
        ctx->attachments = a->next;
        if (a->data && a->release) a->release(ctx, a->data);
        vd__mutex_destroy(&a->lock);
        vd__free(&ctx->host.allocator, a);
    }
    vd__callback_end(&frame);
}

/* Frees a context without references. All its objects have been destroyed. */
static void vd__context_free(vd_context *ctx) {
    vd__reap_locked(ctx);
    vd__api_end(ctx);
    for (uint32_t i = 0; i < ctx->queue_count; i++) vd__queue_close(&ctx->queues[i]);
    while (ctx->lists) {
        vd_list *l = ctx->lists;
        ctx->lists = l->next;
        vd__list_free(l);
        vd__free(&ctx->host.allocator, l);
    }
    for (uint32_t i = 0; i < ctx->device_count; i++) {
        vd__heap_free(&ctx->devices[i]);
        ctx->driver.backend->device_close(&ctx->devices[i].device);
    }
    ctx->driver.backend->driver_close(&ctx->driver);
    vd__context_free_memory(ctx);
}

/* Releases a reference to the context, and frees the context if it was the last one. */
static void vd__context_unref(vd_context *ctx) {
    if (vd__atomic_add32(&ctx->reference_count, UINT32_MAX) == 1) vd__context_free(ctx);
}

VD_API void vd_context_destroy(vd_context *ctx) {
    if (!ctx) return;
    if (vd__callback_check(ctx, "vd_context_destroy", true)) {
        vd__logf(&ctx->host, VD_LOG_ERROR, "%s", vd__error_join());
        return;
    }
    vd__attachments_release(ctx);
    vd__atomic_or32(&ctx->state, VD__CLOSING); /* from now on, calls that use the context fail */
    vd__lock_all(ctx);
    for (vd_list *l = ctx->lists; l; l = l->next)
        if (l->state != VD__LIST_FREE) vd__list_discard(l);
    for (uint32_t i = 0; i < ctx->queue_count; i++) vd__queue_flush(&ctx->queues[i]);
    vd__unlock_all(ctx);
    for (uint32_t i = 0; i < ctx->queue_count; i++) {
        vd__queue *q = &ctx->queues[i];
        if (vd__queue_wait(q, q->submitted, VD_FOREVER)) ctx->driver.backend->device_idle(q->device);
        vd__atomic_store64(&q->completed, UINT64_MAX); /* complete, or the device is lost */
    }
    vd__output_free(ctx);
    vd__context_discard_objects(ctx);
    vd__reap(ctx);
    vd__api_end(ctx); /* deletes imported tensors; if this context has exported them, that releases references to it */
    vd__context_unref(ctx);
}

VD_API const vd_device_info *vd_device(const vd_context *ctx, int index) {
    if (ctx && index >= 0 && (uint32_t)index < ctx->device_count) return &ctx->devices[index].device.info;
    if (!ctx) vd__fail_call(VD_ERROR_INVALID, "vd_device", NULL, "the context is NULL");
    else
        vd__fail_call(VD_ERROR_INVALID, "vd_device", NULL, "the device index is %d, but the context has %u devices",
                      index, (unsigned)ctx->device_count);
    vd__call_failed((vd_context *)(uintptr_t)ctx, VD_ERROR_INVALID);
    return NULL;
}

VD_API int vd_device_count(const vd_context *ctx) { return ctx ? (int)ctx->device_count : 0; }

VD_API vd_result vd_context_stats(vd_context *ctx, vd_stats *out) {
    if (!ctx || !out)
        return vd__call_failed(ctx, vd__fail_call(VD_ERROR_INVALID, "vd_context_stats", NULL, "%s is NULL",
                                                  ctx ? "out" : "the context"));
    memset(out, 0, sizeof *out);
    if (vd__callback_check(ctx, "vd_context_stats", false)) return vd__call_failed(ctx, VD_ERROR_INVALID);
    vd__lock_all(ctx);
    for (uint32_t i = 0; i < ctx->queue_count; i++) vd__stats_add(out, &ctx->queues[i].open_batch.stats);
    vd__mutex_lock(&ctx->lock);
    for (uint32_t i = 0; i < ctx->device_count; i++) {
        out->device_blocks += ctx->devices[i].heap.block_count;
        out->device_bytes += ctx->devices[i].heap.bytes;
    }
    out->buffers = ctx->buffers.live - ctx->output_buffers;
    out->kernels = ctx->kernels.live;
    vd__mutex_unlock(&ctx->lock);
    vd__unlock_all(ctx);
    out->host_allocations = vd__atomic_load64(&ctx->counting_allocator.count);
    out->cache_hits = vd__atomic_load64(&ctx->cache_counters.hits);
    out->cache_misses = vd__atomic_load64(&ctx->cache_counters.misses);
    out->cache_writes = vd__atomic_load64(&ctx->cache_counters.writes);
    return VD_OK;
}

/* ---- buffers ---- */

/* Submits all open batches of a device and waits for its queues. */
static void vd__context_device_finish(vd__context_device *dev) {
    for (uint32_t i = 0; i < dev->device.queue_count; i++) {
        vd__queue *q = &dev->queues[i];
        vd__mutex_lock(q->lock);
        vd__queue_flush(q);
        uint64_t submitted = q->submitted;
        vd__mutex_unlock(q->lock);
        vd__queue_wait(q, submitted, VD_FOREVER);
    }
}

/* Allocates memory for a buffer on a device. If device memory is exhausted and there is garbage, waits for all work of
   the device, which frees the garbage, and tries again. */
static vd_result vd__buffer_allocate_on(vd__context_device *dev, vd__storage *s, const vd_buffer_desc *desc,
                                        uint64_t size) {
    vd_context *ctx = dev->ctx;
    vd_result r = VD_OK;
    for (int attempt = 0; attempt < 2; attempt++) {
        vd__reap(ctx);
        vd__mutex_lock(&ctx->lock);
        if (desc->address || desc->external) r = vd__storage_import(dev, desc, size, s);
        else r = vd__storage_create(dev, desc->memory, size, false, desc->exportable, s);
        bool has_garbage = ctx->garbage_count != 0;
        vd__mutex_unlock(&ctx->lock);
        if (!r) return VD_OK;
        s->memory.serial = 0;
        if (r != VD_ERROR_OUT_OF_DEVICE_MEMORY || !has_garbage || attempt) break;
        vd__context_device_finish(dev);
    }
    return r;
}

/* Allocates a buffer on each of its devices, or on none if one of them fails. */
static vd_result vd__buffer_allocate(vd_context *ctx, vd__buffer *b, const vd_buffer_desc *desc, uint64_t size) {
    vd_result r = VD_OK;
    b->storage = &b->own_storage;
    if (ctx->device_count > 1)
        b->storage = (vd__storage *)vd__alloc_zeroed(&ctx->host.allocator, ctx->device_count * sizeof *b->storage);
    if (!b->storage) return vd__fail_memory(NULL, NULL, 0);
    for (uint32_t i = 0; i < ctx->device_count && !r; i++)
        if (b->devices >> i & 1u) r = vd__buffer_allocate_on(&ctx->devices[i], &b->storage[i], desc, size);
    if (!r) return VD_OK;
    vd__mutex_lock(&ctx->lock);
    vd__buffer_storage_free(ctx, b);
    vd__mutex_unlock(&ctx->lock);
    return r;
}

/* Sets the initial contents: `data`, or zeros if it is NULL. Zeros include the padding of the last word. */
static vd_result vd__buffer_initialise(vd_list *l, const vd__buffer *b, const void *data) {
    vd__storage *s = b->storage + l->queue->context_device->index;
    vd__span span = { NULL, 0, 0, 0 };
    span.storage = s;
    span.size = s->memory.size;
    if (data) return vd__write(l, "vd_buffer_create", b, vd__region_contiguous(0, b->size), data);
    if (s->memory.mapped && s->memory.block->host_cached) {
        memset(s->memory.mapped, 0, (size_t)s->memory.size);
        return vd__storage_sync(s, 0, s->memory.size, false);
    }
    if (vd__queue_captures(l->queue))
        return vd__fail_call(VD_ERROR_UNSUPPORTED, "vd_buffer_create", b->name, "the stream of queue %u is being "
                             "captured, and a graph cannot contain the fill that sets a new buffer to 0",
                             l->queue->index);
    vd__list_lock(l);
    vd_result r = vd__record_words(l, &span, NULL, (const uint8_t *)"\0\0\0\0\0\0\0");
    vd__list_unlock(l);
    return r;
}

/* Returns the list for transfers of a device. */
static vd_list *vd__transfer_list(vd_context *ctx, uint32_t device) {
    return &ctx->devices[device].queues[0].open_batch;
}

/* Allocates a buffer object with its name and memory. Returns NULL and sets the error on failure. */
static vd__buffer *vd__buffer_begin(vd_context *ctx, const vd_buffer_desc *desc, uint64_t size) {
    vd__mutex_lock(&ctx->lock);
    vd__buffer *b = (vd__buffer *)(void *)vd__pool_acquire(&ctx->buffers);
    vd__mutex_unlock(&ctx->lock);
    if (b) b->name = vd__copy_text(&ctx->host.allocator, desc->name);
    vd_result r = b && b->name ? VD_OK : vd__fail_memory(NULL, NULL, 0);
    if (!r) {
        b->devices = desc->devices ? desc->devices : (1u << ctx->device_count) - 1;
        b->needs_checks = b->devices != (1u << ctx->device_count) - 1 || desc->address_offset;
        b->type = desc->type;
        b->usage = (uint8_t)desc->memory;
        b->size = size;
        b->offset = desc->address_offset;
        r = vd__buffer_allocate(ctx, b, desc, size);
    }
    if (!r) return b;
    char prefix[64];
    snprintf(prefix, sizeof prefix, "cannot %s %llu bytes", desc->address || desc->external ? "import" : "allocate",
             VD__U(size));
    vd__error_amend(r, "vd_buffer_create", desc->name, prefix);
    if (!b) return NULL;
    vd__free(&ctx->host.allocator, b->name);
    vd__mutex_lock(&ctx->lock);
    vd__pool_release(&ctx->buffers, &b->slot);
    vd__mutex_unlock(&ctx->lock);
    return NULL;
}

/* Creates a buffer with its contents. */
static vd_result vd__buffer_make(vd_context *ctx, const vd_buffer_desc *desc, vd_buffer *out) {
    uint64_t shape[4], size = 0;
    vd_result r = vd__buffer_check(ctx, desc, shape, &size);
    if (r) return r;
    vd__buffer *b = vd__buffer_begin(ctx, desc, size);
    if (!b) return vd__last_error.code;
    memcpy(b->shape, shape, sizeof shape);
    for (uint32_t i = 0; i < ctx->device_count && !r && !desc->address && !desc->external; i++)
        if (b->devices >> i & 1u) r = vd__buffer_initialise(vd__transfer_list(ctx, i), b, desc->data);
    if (r) vd__error_amend(r, "vd_buffer_create", desc->name, NULL);
    vd__mutex_lock(&ctx->lock);
    if (!r) out->id = vd__pool_publish(&ctx->buffers, &b->slot);
    else vd__object_retire(ctx, &b->slot); /* commands that fill it may be in flight */
    vd__mutex_unlock(&ctx->lock);
    return r;
}

VD_API vd_buffer vd_buffer_create(vd_context *ctx, const vd_buffer_desc *desc) {
    vd_buffer out = { 0 };
    vd_result r = vd__context_check(ctx, "vd_buffer_create");
    if (!r && !desc) r = vd__fail_call(VD_ERROR_INVALID, "vd_buffer_create", NULL, "desc is NULL");
    if (!r) r = vd__buffer_make(ctx, desc, &out);
    vd__call_end(ctx, r);
    return out;
}

/* Publishes a view, which pins its root buffer. Returns false if `base` was destroyed in the meantime. The caller holds
   the context's lock. */
static bool vd__view_open(vd_context *ctx, vd__buffer *b, const vd__buffer *base) {
    vd__buffer *root = base->view ? base->root : (vd__buffer *)(uintptr_t)base;
    if (!vd__slot_is_live(&base->slot)) return false;
    vd__atomic_add32(&root->slot.pins, 1);
    b->root = root;
    b->next_view = root->views;
    if (root->views) root->views->previous_view = b;
    root->views = b;
    vd__pool_publish(&ctx->buffers, &b->slot);
    return true;
}

/* Creates a view of `base`, which the caller has pinned. */
static vd_result vd__view_make(vd_context *ctx, const vd__buffer *base, const vd_view_desc *desc, vd_buffer *out) {
    uint64_t shape[4], size = 0;
    const char *name = desc->name ? desc->name : base->name;
    vd_result r = vd__view_check(base, desc, shape, &size);
    if (r) return r;
    char *copy = vd__copy_text(&ctx->host.allocator, name);
    vd__mutex_lock(&ctx->lock);
    vd__buffer *b = copy ? (vd__buffer *)(void *)vd__pool_acquire(&ctx->buffers) : NULL;
    bool opened = false;
    if (b) {
        b->name = copy;
        b->type = desc->type;
        b->size = size;
        b->view = b->needs_checks = true;
        b->devices = base->devices;
        b->usage = base->usage;
        b->storage = base->storage;
        b->offset = base->offset + desc->offset;
        memcpy(b->shape, shape, sizeof shape);
        opened = vd__view_open(ctx, b, base);
        if (opened) out->id = b->slot.id;
        else vd__pool_release(&ctx->buffers, &b->slot);
    }
    vd__mutex_unlock(&ctx->lock);
    if (opened) return VD_OK;
    vd__free(&ctx->host.allocator, copy);
    if (b) return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_view", name, "the buffer was destroyed");
    return vd__fail_memory("vd_buffer_view", name, 0);
}

VD_API vd_buffer vd_buffer_view(vd_context *ctx, const vd_view_desc *desc) {
    vd_buffer out = { 0 };
    vd_result r = vd__context_check(ctx, "vd_buffer_view");
    if (!r && !desc) r = vd__fail_call(VD_ERROR_INVALID, "vd_buffer_view", NULL, "desc is NULL");
    vd__buffer *base = r ? NULL : vd__buffer_pin(ctx, desc->buffer, "vd_buffer_view", "");
    if (!r) r = base ? vd__view_make(ctx, base, desc, &out) : VD_ERROR_INVALID;
    if (base) {
        vd__buffer_unpin(ctx, base);
        vd__reap(ctx);
    }
    vd__call_end(ctx, r);
    return out;
}

/* Returns whether a call that destroys an object must not be made. A lost device does not prevent it. */
static bool vd__destroy_refused(vd_context *ctx, const char *call) {
    vd_result r = ctx ? vd__callback_check(ctx, call, false)
                      : vd__fail_call(VD_ERROR_INVALID, call, NULL, "the context is NULL");
    if (r) vd__call_failed(ctx, r);
    return r != VD_OK;
}

VD_API void vd_buffer_destroy(vd_context *ctx, vd_buffer buffer) {
    if (!buffer.id) return;
    if (vd__destroy_refused(ctx, "vd_buffer_destroy")) return;
    vd__lock_all(ctx);
    vd__buffer *b = vd__buffer_find(ctx, buffer, "vd_buffer_destroy", "");
    if (b) vd__object_destroy(ctx, &ctx->buffers, &b->slot);
    vd__unlock_all(ctx);
    vd__reap(ctx);
    vd__call_end(ctx, b ? VD_OK : VD_ERROR_INVALID);
}

VD_API vd_result vd_buffer_query(vd_context *ctx, vd_buffer buffer, vd_buffer_info *out) {
    if (!ctx || !out)
        return vd__call_failed(ctx, vd__fail_call(VD_ERROR_INVALID, "vd_buffer_query", NULL, "%s is NULL",
                                                  ctx ? "out" : "the context"));
    vd__buffer *b = vd__buffer_pin(ctx, buffer, "vd_buffer_query", "");
    if (!b) return vd__call_failed(ctx, VD_ERROR_INVALID);
    snprintf(out->name, sizeof out->name, "%s", b->name);
    out->type = b->type;
    memcpy(out->shape, b->shape, sizeof out->shape);
    out->size = b->size;
    const vd__memory *m = &b->storage[vd__lowest_bit(b->devices)].memory;
    out->address = m->address ? m->address + b->offset : 0;
    out->memory = (vd_memory)b->usage;
    out->mapped = m->mapped != NULL;
    out->persistent = out->mapped && m->block->coherent;
    out->devices = b->devices;
    const vd__heap_block *block = (const vd__heap_block *)(const void *)m->block;
    bool objects = ctx->driver.backend->id == VD_BACKEND_VULKAN || ctx->driver.backend->id == VD_BACKEND_OPENCL;
    out->imported = block->imported;
    out->native = objects ? m->native[0] : 0;
    out->native_offset = b->offset;
    out->storage = m->serial;
    vd__buffer_unpin(ctx, b);
    vd__api_end(ctx);
    return VD_OK;
}

/* Called at the end of a public function that pinned a buffer. `b` is NULL if the buffer was not found, which is an
   error. */
static vd_result vd__buffer_call_end(vd_context *ctx, vd__buffer *b, const char *call, vd_result r) {
    if (r) vd__error_default_call(r, call);
    vd__buffer_unpin(ctx, b);
    return vd__call_end(ctx, b ? r : VD_ERROR_INVALID);
}

VD_API vd_result vd_buffer_write(vd_context *ctx, vd_buffer buffer, uint64_t offset, const void *data, uint64_t size) {
    vd_result r = vd__context_check(ctx, "vd_buffer_write");
    if (r) return vd__call_failed(ctx, r);
    vd__buffer *b = vd__buffer_pin(ctx, buffer, "vd_buffer_write", "target ");
    for (uint32_t devices = b ? b->devices : 0; devices && !r; devices &= devices - 1)
        r = vd__write_bytes(vd__transfer_list(ctx, vd__lowest_bit(devices)), "vd_buffer_write", b, offset, data, size);
    if (r || !b) vd__last_error.immediate = true;
    return vd__buffer_call_end(ctx, b, "vd_buffer_write", r);
}

VD_API vd_result vd_buffer_read(vd_context *ctx, vd_buffer buffer, uint64_t offset, void *data, uint64_t size) {
    vd_result r = vd__context_check(ctx, "vd_buffer_read");
    if (r) return vd__call_failed(ctx, r);
    vd__buffer *b = vd__buffer_pin(ctx, buffer, "vd_buffer_read", "source ");
    if (b)
        r = vd__read_bytes(vd__transfer_list(ctx, vd__lowest_bit(b->devices)), "vd_buffer_read", b, offset, data, size);
    if (b && VD__UNLIKELY(ctx->host.debug)) vd__debug_read(ctx, "vd_buffer_read", "", b, vd__lowest_bit(b->devices));
    if (b) r = vd__unchecked_result(ctx, "vd_buffer_read", r);
    return vd__buffer_call_end(ctx, b, "vd_buffer_read", r);
}

static vd_result vd__device_check(const vd_context *ctx, const char *call, int device) {
    if (device >= 0 && (uint32_t)device < ctx->device_count) return VD_OK;
    return vd__fail_call(VD_ERROR_INVALID, call, NULL, "the device index is %d, but the context has %u devices", device,
                         (unsigned)ctx->device_count);
}

/* Checks the `device` of a desc: 0 or 1 + the index of a device of the context. */
static vd_result vd__desc_device_check(const vd_context *ctx, const char *call, int device) {
    if (device >= 0 && (uint32_t)device <= ctx->device_count) return VD_OK;
    return vd__fail_call(VD_ERROR_INVALID, call, NULL, "desc.device is %d (1 + device index), but the context has %u "
                         "devices", device, (unsigned)ctx->device_count);
}

/* Like vd__desc_device_check, for a command in a list: the device must be that of the list. */
static vd_result vd__list_device_check(const vd_list *list, const char *call, int device) {
    uint32_t index = list->queue->context_device->index;
    vd_result r = vd__desc_device_check(list->ctx, call, device);
    if (r || !device || (uint32_t)device == index + 1) return r;
    return vd__fail_call(VD_ERROR_INVALID, call, NULL, "desc.device is %d (1 + device index), but the list belongs to "
                         "device %u", device, (unsigned)index);
}

/* Checks that a region desc is not NULL and that its device exists. */
static vd_result vd__region_desc_check(const vd_context *ctx, const char *call, const vd_region_desc *desc) {
    if (!desc) return vd__fail_call(VD_ERROR_INVALID, call, NULL, "desc is NULL");
    return vd__desc_device_check(ctx, call, desc->device);
}

static vd__region vd__region_from(const vd_region_desc *desc) {
    vd__region g = { desc->offset, desc->row_bytes, desc->rows, desc->pitch, desc->host_pitch };
    return g;
}

VD_API vd_result vd_buffer_write_region(vd_context *ctx, const vd_region_desc *desc, const void *data) {
    vd_result r = vd__context_check(ctx, "vd_buffer_write_region");
    if (!r) r = vd__region_desc_check(ctx, "vd_buffer_write_region", desc);
    if (r) return vd__call_failed(ctx, r);
    vd__buffer *b = vd__buffer_pin(ctx, desc->buffer, "vd_buffer_write_region", "target ");
    uint32_t devices = !b ? 0 : desc->device ? 1u << (desc->device - 1) : b->devices;
    for (; devices && !r; devices &= devices - 1)
        r = vd__write(vd__transfer_list(ctx, vd__lowest_bit(devices)), "vd_buffer_write_region", b,
                      vd__region_from(desc), data);
    if (r || !b) vd__last_error.immediate = true;
    return vd__buffer_call_end(ctx, b, "vd_buffer_write_region", r);
}

VD_API vd_result vd_buffer_read_region(vd_context *ctx, const vd_region_desc *desc, void *data) {
    vd_result r = vd__context_check(ctx, "vd_buffer_read_region");
    if (!r) r = vd__region_desc_check(ctx, "vd_buffer_read_region", desc);
    if (r) return vd__call_failed(ctx, r);
    vd__buffer *b = vd__buffer_pin(ctx, desc->buffer, "vd_buffer_read_region", "source ");
    uint32_t device = !b ? 0 : desc->device ? (uint32_t)desc->device - 1 : vd__lowest_bit(b->devices);
    if (b) r = vd__read(vd__transfer_list(ctx, device), "vd_buffer_read_region", b, vd__region_from(desc), data);
    if (b && VD__UNLIKELY(ctx->host.debug)) vd__debug_read(ctx, "vd_buffer_read_region", "", b, device);
    if (b) r = vd__unchecked_result(ctx, "vd_buffer_read_region", r);
    return vd__buffer_call_end(ctx, b, "vd_buffer_read_region", r);
}

/* Copies between buffers on the same device. */
static vd_result vd__buffer_send_local(vd_list *l, const vd__buffer *from, uint64_t from_offset, const vd__buffer *to,
                                      uint64_t to_offset, uint64_t size) {
    vd_copy_desc desc = { { 0 }, { 0 }, to_offset, from_offset, size, 1, 0, 0 };
    vd__list_lock(l);
    vd_result r = vd__copy_rows(l, "vd_buffer_send", to, from, &desc);
    vd__list_unlock(l);
    return r;
}

/* Copies between devices in pieces: to staging memory of the source device, then to the target device. */
static vd_result vd__buffer_send(vd_list *source, const vd__buffer *from, uint64_t from_offset, vd_list *target,
                                 const vd__buffer *to, uint64_t to_offset, uint64_t size) {
    vd_result r = VD_OK;
    vd__region whole = vd__region_contiguous(from_offset, size);
    for (uint64_t done = 0, bytes = 0; done < size && !r; done += bytes) {
        vd__piece p;
        vd__piece_next(&whole, done, &p);
        bytes = p.region.row;
        r = vd__read_submit(source, "vd_buffer_send", from, &p);
        if (r) break;
        r = vd__queue_wait(source->queue, p.value, VD_FOREVER);
        if (!r) r = vd__storage_sync(&p.range.staging->storage, p.range.offset, bytes, true);
        if (!r)
            r = vd__write(target, "vd_buffer_send", to, vd__region_contiguous(to_offset + done, bytes),
                          vd__staging_range_bytes(&p.range));
        vd__staging_range_unpin(&p.range);
    }
    return r;
}

VD_API vd_result vd_buffer_send(vd_context *ctx, vd_buffer to, int to_device, uint64_t to_offset, vd_buffer from,
                                int from_device, uint64_t from_offset, uint64_t size) {
    vd__span target_span, source_span;
    vd_result r = vd__context_check(ctx, "vd_buffer_send");
    if (!r) r = vd__device_check(ctx, "vd_buffer_send", to_device);
    if (!r) r = vd__device_check(ctx, "vd_buffer_send", from_device);
    if (r) return vd__call_failed(ctx, r);
    vd_list *target = vd__transfer_list(ctx, (uint32_t)to_device);
    vd_list *source = vd__transfer_list(ctx, (uint32_t)from_device);
    vd__buffer *source_buffer = vd__buffer_pin(ctx, from, "vd_buffer_send", "source ");
    vd__buffer *target_buffer = source_buffer ? vd__buffer_pin(ctx, to, "vd_buffer_send", "target ") : NULL;
    if (target_buffer)
        r = vd__span_check(source, source_buffer, "vd_buffer_send", "source ", from_offset, size, &source_span);
    if (target_buffer && !r)
        r = vd__span_check(target, target_buffer, "vd_buffer_send", "target ", to_offset, source_span.size,
                           &target_span);
    if (target_buffer && !r && source_span.size) {
        if (source == target)
            r = vd__buffer_send_local(source, source_buffer, from_offset, target_buffer, to_offset, source_span.size);
        else
            r = vd__buffer_send(source, source_buffer, from_offset, target, target_buffer, to_offset, source_span.size);
        if (r) vd__error_amend(r, "vd_buffer_send", NULL, NULL);
    }
    vd__buffer_unpin(ctx, source_buffer);
    return vd__buffer_call_end(ctx, target_buffer, "vd_buffer_send", r);
}

VD_API vd_result vd_buffer_map(vd_context *ctx, vd_buffer buffer, int device, uint32_t access, void **out) {
    if (out) *out = NULL;
    vd_result r = vd__context_check(ctx, "vd_buffer_map");
    if (!r && !out) r = vd__fail_call(VD_ERROR_INVALID, "vd_buffer_map", NULL, "out is NULL");
    if (!r && (!access || access > VD_READ_WRITE))
        r = vd__fail_call(VD_ERROR_INVALID, "vd_buffer_map", NULL, "access is %u, but must be VD_READ, VD_WRITE or "
                          "both", access);
    if (!r) r = vd__device_check(ctx, "vd_buffer_map", device);
    if (r) return vd__call_failed(ctx, r);
    vd__buffer *b = vd__buffer_pin(ctx, buffer, "vd_buffer_map", "");
    vd__storage *s = b ? vd__buffer_storage_on(b, &ctx->devices[device], "vd_buffer_map") : NULL;
    if (!s) r = VD_ERROR_INVALID;
    else if (!s->memory.mapped)
        r = vd__fail_call(VD_ERROR_UNSUPPORTED, "vd_buffer_map", NULL, "buffer '%s' is in memory of '%s' that the host "
                          "cannot access%s; create it with desc.memory VD_MEMORY_SHARED", b->name,
                          s->context_device->device.info.name,
                          s->context_device->device.info.features & VD_FEATURE_MAPPED ? "" : " (feature mapped)");
    else r = vd__map(s, access);
    if (!r) *out = s->memory.mapped + b->offset;
    return vd__buffer_call_end(ctx, b, "vd_buffer_map", r);
}

VD_API vd_result vd_buffer_unmap(vd_context *ctx, vd_buffer buffer, int device) {
    vd_result r = vd__context_check(ctx, "vd_buffer_unmap");
    if (!r) r = vd__device_check(ctx, "vd_buffer_unmap", device);
    if (r) return vd__call_failed(ctx, r);
    vd__buffer *b = vd__buffer_pin(ctx, buffer, "vd_buffer_unmap", "");
    vd__storage *s = b ? vd__buffer_storage_on(b, &ctx->devices[device], "vd_buffer_unmap") : NULL;
    return vd__buffer_call_end(ctx, b, "vd_buffer_unmap", s ? vd__unmap(b, s) : VD_ERROR_INVALID);
}

static vd_result vd__buffer_export(const vd__buffer *b, vd_external *out) {
    vd__storage *s = &b->storage[vd__lowest_bit(b->devices)];
    const vd__block *block = s->memory.block;
    if (block->sharing != VD__SHARE_EXPORT)
        return vd__fail_call(VD_ERROR_INVALID, "vd_buffer_export", NULL,
                             "buffer '%s' was not created with desc.exportable", b->name);
    vd_result r = vd__storage_finish(s, VD_READ_WRITE);
    if (!r) r = s->context_device->ctx->driver.backend->block_export(&s->context_device->device, block, out);
    if (r) return r;
    out->size = block->size;
    out->offset = s->memory.offset + b->offset;
    memcpy(out->uuid, s->context_device->device.info.uuid, sizeof out->uuid);
    return VD_OK;
}

VD_API vd_result vd_buffer_export(vd_context *ctx, vd_buffer buffer, vd_external *out) {
    vd_result r = vd__context_check(ctx, "vd_buffer_export");
    if (!r && !out) r = vd__fail_call(VD_ERROR_INVALID, "vd_buffer_export", NULL, "out is NULL");
    if (r) return vd__call_failed(ctx, r);
    memset(out, 0, sizeof *out);
    out->handle = -1;
    vd__buffer *b = vd__buffer_pin(ctx, buffer, "vd_buffer_export", "");
    return vd__buffer_call_end(ctx, b, "vd_buffer_export", b ? vd__buffer_export(b, out) : VD_ERROR_INVALID);
}

/* ---- kernels ---- */

/* Copies everything that the desc points to into the kernel, in one allocation. */
static vd_result vd__kernel_copy_desc(vd_context *ctx, vd__kernel *k, const vd_kernel_desc *desc) {
    size_t args = (size_t)desc->arg_count * sizeof(vd_arg_info);
    size_t implicit = (size_t)desc->implicit_count * sizeof(vd_implicit_info);
    size_t params = (size_t)desc->arg_count * sizeof(vd__param), codes = ctx->device_count * sizeof(vd__kernel_code);
    size_t uses = ctx->queue_count * sizeof(uint64_t), text = strlen(desc->name) + 1;
    for (int i = 0; i < desc->arg_count; i++) text += strlen(desc->args[i].name ? desc->args[i].name : "") + 1;
    uint8_t *memory = (uint8_t *)vd__alloc(&ctx->host.allocator, codes + uses + args + implicit + params + text);
    if (!memory) return vd__fail_memory("vd_kernel_create", desc->name, 0);
    k->arena = memory;
    k->codes = (vd__kernel_code *)(void *)memory;
    k->last_uses = (uint64_t *)(void *)(memory + codes);
    memset(memory, 0, codes + uses);
    memory += codes + uses;
    k->args = (vd_arg_info *)(void *)memory;
    k->implicit = (vd_implicit_info *)(void *)(memory + args);
    k->params = (vd__param *)(void *)(memory + args + implicit);
    char *names = (char *)memory + args + implicit + params;
    if (args) memcpy(k->args, desc->args, args);
    /* implicit arguments that depend on buffers come last */
    for (int pass = 0, slot = 0; pass < 2; pass++)
        for (int i = 0; i < desc->implicit_count; i++) {
            bool of_buffer = desc->implicit[i].kind == VD_IMPLICIT_LENGTH
                             || desc->implicit[i].kind == VD_IMPLICIT_SHAPE;
            if (of_buffer == (pass != 0)) k->implicit[slot++] = desc->implicit[i];
            k->dispatch_implicit_count += !of_buffer && !pass;
        }
    for (int i = -1; i < desc->arg_count; i++) {
        const char *source = i < 0 ? desc->name : desc->args[i].name ? desc->args[i].name : "";
        size_t size = strlen(source) + 1;
        memcpy(names, source, size);
        if (i < 0) k->name = names;
        else k->args[i].name = names;
        names += size;
    }
    return VD_OK;
}

/* Sets the fields of a kernel that are derived from its desc. */
static void vd__kernel_fill(vd__kernel *k, const vd_kernel_desc *desc) {
    k->arg_count = desc->arg_count;
    k->implicit_count = desc->implicit_count;
    k->argument_bytes = desc->argument_bytes;
    k->shared_bytes = desc->shared_bytes;
    k->features = desc->features;
    k->axes = (uint8_t)(desc->axes & 7u);
    k->threads_arg = desc->threads_arg;
    for (int i = 0; i < 3; i++) k->threads[i] = desc->threads[i];
    memcpy(k->local_size, desc->local_size, sizeof k->local_size);
    uint32_t member_bytes = 4 * (uint32_t)k->implicit_count; /* of the argument block, without padding */
    for (int i = 0; i < k->arg_count; i++) {
        const vd_arg_info *a = &k->args[i];
        vd__param *p = &k->params[i];
        p->kind = (uint8_t)a->kind;
        p->written = (a->access & VD_WRITE) != 0;
        p->buffer_index = (uint8_t)k->buffer_count;
        k->buffer_count += a->kind != VD_ARG_VALUE;
        p->type = a->type;
        p->location = a->location;
        p->size = (uint16_t)a->size;
        uint32_t scalar = vd__scalar_size(a->type), align = a->align ? a->align : scalar ? scalar : 4;
        p->align = (uint8_t)vd__log2(align);
        k->args[i].align = align;
        p->binding_index = 0;
        for (int j = 0; j < k->arg_count; j++)
            p->binding_index = (uint8_t)(p->binding_index
                                         + (k->args[j].kind == VD_ARG_BINDING && k->args[j].location < a->location));
        if (a->kind == VD_ARG_BINDING) k->binding_count++;
        else member_bytes += a->size;
    }
    for (int i = 0; i < k->implicit_count; i++)
        if (k->implicit[i].kind == VD_IMPLICIT_GROUP_BASE) k->splittable[k->implicit[i].axis] = true;
    for (int i = 0; i < 3; i++)
        k->local_shift[i] = k->local_size[i] & (k->local_size[i] - 1) ? VD__NONE : vd__log2(k->local_size[i]);
    k->has_padding = member_bytes != k->argument_bytes;
    /* the output buffer is not an argument of vd_dispatch; appending to it counts as reading, see room `output` */
    if (k->first_format) k->params[--k->arg_count].written = false;
    k->linear = k->local_shift[0] != VD__NONE && k->local_size[1] == 1 && k->local_size[2] == 1;
}

/* Creates a kernel from a fully resolved desc. */
static vd_result vd__kernel_add(vd_context *ctx, const vd_kernel_desc *desc, vd_kernel *out) {
    uint32_t first_format;
    vd_result r = vd__formats_add(ctx, desc, &first_format);
    if (r) return vd__error_amend(r, "vd_kernel_create", desc->name, NULL);
    vd__mutex_lock(&ctx->lock);
    vd__kernel *k = (vd__kernel *)(void *)vd__pool_acquire(&ctx->kernels);
    vd__mutex_unlock(&ctx->lock);
    r = k ? vd__kernel_copy_desc(ctx, k, desc) : vd__fail_memory("vd_kernel_create", desc->name, 0);
    if (!r) {
        k->first_format = first_format;
        vd__kernel_fill(k, desc);
        uint32_t created = 0;
        while (created < ctx->device_count && !r) {
            r = ctx->driver.backend->kernel_create(&ctx->devices[created].device, desc, &k->codes[created]);
            if (!r) created++;
        }
        if (r) {
            vd__error_amend(r, "vd_kernel_create", desc->name, NULL);
            vd__kernel_codes_free(ctx, k, created);
        }
    }
    if (!r && ctx->host.debug) vd__debug_kernel(ctx, k);
    vd__mutex_lock(&ctx->lock);
    if (!r) out->id = vd__pool_publish(&ctx->kernels, &k->slot);
    else if (k) vd__pool_release(&ctx->kernels, &k->slot);
    vd__mutex_unlock(&ctx->lock);
    return r;
}

/* Completes the desc with the results of reflection. */
static vd_result vd__kernel_resolve(const vd_context *ctx, vd_kernel_desc *desc, const vd__reflection *reflection) {
    desc->entry = reflection->entry;
    if (!desc->args && !desc->arg_count && !desc->implicit_count && !desc->argument_bytes) {
        desc->args = reflection->args;
        desc->arg_count = (int)reflection->arg_count;
        desc->argument_bytes = reflection->argument_bytes;
    }
    if (!desc->local_size[0] && !desc->local_size[1] && !desc->local_size[2])
        memcpy(desc->local_size, reflection->local_size, sizeof desc->local_size);
    if (memcmp(desc->local_size, reflection->local_size, sizeof desc->local_size))
        return vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", desc->name,
                             "desc.local_size is %u x %u x %u, but the local size of the module is %u x %u x %u",
                             desc->local_size[0], desc->local_size[1], desc->local_size[2], reflection->local_size[0],
                             reflection->local_size[1], reflection->local_size[2]);
    if (!desc->shared_bytes) desc->shared_bytes = reflection->shared_bytes;
    return vd__kernel_check_all(ctx, desc);
}

/* Creates a kernel from SPIR-V. */
static vd_result vd__kernel_from_module(vd_context *ctx, vd_kernel_desc *desc, vd_kernel *out) {
    vd__spirv module;
    vd__reflection reflection;
    uint64_t features = 0;
    vd_result r = vd__spirv_decode(&module, &ctx->host.allocator, desc->code, desc->code_size);
    if (!r) {
        r = vd__module_check(ctx, &module, &features);
        if (!r) r = vd__reflect(&module, desc, &reflection);
        if (!r) {
            desc->code = module.words;
            desc->features |= features;
            r = vd__kernel_resolve(ctx, desc, &reflection);
            if (!r) r = vd__kernel_add(ctx, desc, out);
        }
        vd__spirv_free(&module);
    }
    return r ? vd__error_amend(r, "vd_kernel_create", desc->name, NULL) : VD_OK;
}

/* Creates a kernel from source text or a binary. */
static vd_result vd__kernel_from_text(vd_context *ctx, vd_kernel_desc *desc, vd_kernel *out) {
    char *owned = NULL;
    vd_result r = vd__text_check(ctx, desc, &owned);
    if (!r) r = vd__kernel_check_all(ctx, desc);
    if (!r) r = vd__kernel_add(ctx, desc, out);
    vd__free(&ctx->host.allocator, owned);
    return r;
}

static vd_result vd__kernel_create(vd_context *ctx, const vd_kernel_desc *desc, vd_kernel *out) {
    vd_kernel_desc full = *desc;
    if (!full.name) full.name = "";
    for (int i = 1; i < 3; i++)
        if (full.local_size[0] && !full.local_size[i] && !full.local_size[2]) full.local_size[i] = 1;
    vd__reap(ctx);
    vd_result r = vd__code_check(ctx, &full);
    if (r) return r;
    return full.code_kind == VD_CODE_SPIRV ? vd__kernel_from_module(ctx, &full, out)
                                           : vd__kernel_from_text(ctx, &full, out);
}

VD_API vd_kernel vd_kernel_create(vd_context *ctx, const vd_kernel_desc *desc) {
    vd_kernel out = { 0 };
    vd_result r = vd__context_check(ctx, "vd_kernel_create");
    if (!r && !desc) r = vd__fail_call(VD_ERROR_INVALID, "vd_kernel_create", NULL, "desc is NULL");
    if (!r) r = vd__kernel_create(ctx, desc, &out);
    vd__call_end(ctx, r);
    return out;
}

static vd_result vd__kernel_load(vd_context *ctx, vd__blob b, const char *name, vd_kernel *out) {
    vd__blob_form *f = (vd__blob_form *)vd__alloc(&ctx->host.allocator, sizeof *f);
    if (!f) return vd__fail_memory("vd_kernel_load", name, 0);
    vd_result r = vd__blob_find(ctx, b, name, f);
    if (!r) r = vd__kernel_create(ctx, &f->desc, out);
    vd__free(&ctx->host.allocator, f);
    return r ? vd__error_amend(r, "vd_kernel_load", NULL, NULL) : VD_OK;
}

VD_API vd_kernel vd_kernel_load(vd_context *ctx, const void *blob, size_t size, const char *name) {
    vd_kernel out = { 0 };
    vd__blob b = { NULL, 0, false };
    b.data = (const uint8_t *)blob;
    b.left = size;
    vd_result r = vd__context_check(ctx, "vd_kernel_load");
    if (!r && !blob) r = vd__fail_call(VD_ERROR_INVALID, "vd_kernel_load", name, "blob is NULL");
    if (!r) r = vd__kernel_load(ctx, b, name, &out);
    vd__call_end(ctx, r);
    return out;
}

VD_API void vd_kernel_destroy(vd_context *ctx, vd_kernel kernel) {
    if (!kernel.id) return;
    if (vd__destroy_refused(ctx, "vd_kernel_destroy")) return;
    vd__lock_all(ctx);
    vd__kernel *k = vd__kernel_find(ctx, kernel, "vd_kernel_destroy");
    for (uint32_t i = 0; k && i < ctx->queue_count; i++)
        k->last_uses[i] = ctx->queues[i].submitted + (ctx->queues[i].open_batch.recording ? 1 : 0);
    if (k) vd__object_destroy(ctx, &ctx->kernels, &k->slot);
    vd__unlock_all(ctx);
    vd__reap(ctx);
    vd__call_end(ctx, k ? VD_OK : VD_ERROR_INVALID);
}

/* Finds and pins a kernel. Returns NULL and sets the error if there is none. */
static vd__kernel *vd__kernel_pin(vd_context *ctx, vd_kernel handle, const char *call) {
    vd__kernel *k = (vd__kernel *)(void *)vd__pool_pin(ctx, &ctx->kernels, handle.id);
    if (!k) vd__kernel_fail_handle(ctx, handle, call);
    return k;
}

VD_API vd_result vd_kernel_query(vd_context *ctx, vd_kernel kernel, vd_kernel_info *out) {
    if (!ctx || !out)
        return vd__call_failed(ctx, vd__fail_call(VD_ERROR_INVALID, "vd_kernel_query", NULL, "%s is NULL",
                                                  ctx ? "out" : "the context"));
    vd__kernel *k = vd__kernel_pin(ctx, kernel, "vd_kernel_query");
    if (!k) return vd__call_failed(ctx, VD_ERROR_INVALID);
    snprintf(out->name, sizeof out->name, "%s", k->name);
    out->arg_count = k->arg_count;
    memcpy(out->local_size, k->local_size, sizeof out->local_size);
    out->shared_bytes = k->shared_bytes;
    out->argument_bytes = k->argument_bytes;
    out->features = k->features;
    vd__slot_unpin(ctx, &k->slot);
    vd__api_end(ctx);
    return VD_OK;
}

VD_API vd_result vd_kernel_arg_query(vd_context *ctx, vd_kernel kernel, int index, vd_kernel_arg_info *out) {
    const char *call = "vd_kernel_arg_query";
    if (!ctx || !out)
        return vd__call_failed(ctx, vd__fail_call(VD_ERROR_INVALID, call, NULL, "%s is NULL",
                                                  ctx ? "out" : "the context"));
    vd__kernel *k = vd__kernel_pin(ctx, kernel, call);
    if (!k) return vd__call_failed(ctx, VD_ERROR_INVALID);
    vd_result r = VD_OK;
    if (index >= 0 && index < k->arg_count) {
        out->arg = k->args[index];
        snprintf(out->name, sizeof out->name, "%s", out->arg.name);
        out->arg.name = NULL;
    } else
        r = vd__fail_call(VD_ERROR_INVALID, call, k->name, "the argument index is %d, but the kernel has %d arguments",
                          index, k->arg_count);
    vd__slot_unpin(ctx, &k->slot);
    return vd__call_end(ctx, r);
}

VD__SMALL_END

/* ---- lists ---- */

/* Returns the queue of a device with the fewest pending submissions, the open batch included. */
static vd__queue *vd__queue_least_busy(vd__context_device *dev) {
    vd__queue *best = &dev->queues[0];
    uint64_t fewest = UINT64_MAX;
    for (uint32_t i = 0; i < dev->device.queue_count; i++) {
        vd__queue *q = &dev->queues[i];
        vd__mutex_lock(q->lock);
        uint64_t pending = vd__queue_reached(q, q->submitted) ? 0 : q->submitted - vd__atomic_load64(&q->completed);
        pending += q->open_batch.recording ? 1 : 0;
        vd__mutex_unlock(q->lock);
        if (pending < fewest) best = q;
        if (pending < fewest) fewest = pending;
    }
    return best;
}

/* Finds a queue by the indices of device and queue. Returns NULL and sets the error if it does not exist. */
static vd__queue *vd__queue_find(vd_context *ctx, const char *call, int device, int queue) {
    if (vd__context_check(ctx, call) || vd__device_check(ctx, call, device)) return NULL;
    vd__context_device *dev = &ctx->devices[device];
    if (queue == VD_QUEUE_ANY) return vd__queue_least_busy(dev);
    if (queue >= 0 && (uint32_t)queue < dev->device.queue_count) return &dev->queues[queue];
    vd__fail_call(VD_ERROR_INVALID, call, NULL, "device %d has no queue %d; it has %u queues", device, queue,
                  (unsigned)dev->device.queue_count);
    return NULL;
}

VD_API vd_list *vd_immediate(vd_context *ctx, int device, int queue) {
    vd__queue *q = vd__queue_find(ctx, "vd_immediate", device, queue);
    if (VD__LIKELY(q != NULL)) return &q->open_batch;
    vd__call_failed(ctx, VD_ERROR_INVALID);
    return NULL;
}

VD__SMALL

VD_API vd_result vd_native_use(vd_context *ctx, int device, int queue,
                               vd_result (*use)(const vd_native *native, void *user), void *user) {
    vd_native native;
    vd__queue *q = vd__queue_find(ctx, "vd_native_use", device, queue);
    vd_result r = q ? VD_OK : VD_ERROR_INVALID;
    if (q && !use) r = vd__fail_call(VD_ERROR_INVALID, "vd_native_use", NULL, "use is NULL");
    if (r) return vd__call_failed(ctx, r);
    memset(&native, 0, sizeof native);
    native.backend = ctx->driver.backend->id;
    vd__callback_frame frame;
    vd_result before = vd__last_error.code;
    vd__mutex_lock(q->lock);
    ctx->driver.backend->queue_native(q->device, q->index, &native);
    vd__last_error.code = VD_OK;
    vd__callback_begin(&frame, ctx, "vd_native_use", "use", true);
    r = use(&native, user);
    vd__callback_end(&frame);
    vd__mutex_unlock(q->lock);
    return vd__call_end(ctx, vd__callback_result("vd_native_use", NULL, "use", r, before));
}

VD_API vd_list *vd_list_begin(vd_context *ctx, const vd_list_desc *desc) {
    vd_list *l = NULL;
    int device = desc ? desc->device : 0;
    vd_result r = vd__context_check(ctx, "vd_list_begin");
    if (!r) r = vd__desc_device_check(ctx, "vd_list_begin", device);
    vd__queue *q = r ? NULL : vd__queue_find(ctx, "vd_list_begin", device ? device - 1 : 0, desc ? desc->queue : 0);
    if (!r && !q) r = VD_ERROR_INVALID;
    if (!r && desc && desc->kind != VD_LIST_ONCE)
        r = vd__fail_call(VD_ERROR_INVALID, "vd_list_begin", desc->name, "desc.kind is %d, but must be VD_LIST_ONCE",
                          (int)desc->kind);
    if (!r) {
        vd__mutex_lock(&ctx->lock);
        l = vd__list_acquire(ctx, q);
        vd__mutex_unlock(&ctx->lock);
        if (!l) r = vd__fail_memory("vd_list_begin", NULL, 0);
    }
    if (r) vd__call_failed(ctx, r);
    return l;
}

VD_API vd_context *vd_list_context(vd_list *l) { return l ? l->ctx : NULL; }

VD_API vd_result vd_list_end(vd_list *list) {
    vd_result r = vd__list_check(list, "vd_list_end");
    if (list && list->state == VD__LIST_OPEN && list->immediate)
        r = vd__fail_call(VD_ERROR_INVALID, "vd_list_end", NULL, "an immediate list cannot be ended; vd_submit "
                          "submits its batch");
    else if (list && list->state == VD__LIST_OPEN) vd__atomic_store32(&list->state, VD__LIST_ENDED);
    return r ? vd__list_refused(list, r) : VD_OK;
}

VD_API void vd_list_discard(vd_list *list) {
    if (!list) return;
    if (list->immediate || list->state == VD__LIST_FREE) {
        vd__fail_call(VD_ERROR_INVALID, "vd_list_discard", NULL, "%s",
                      list->immediate ? "an immediate list cannot be discarded"
                                      : "the list was already submitted or discarded");
        vd__list_refused(list, VD_ERROR_INVALID);
        return;
    }
    if (vd__destroy_refused(list->ctx, "vd_list_discard")) return;
    vd_context *ctx = list->ctx;
    vd__queue *q = list->queue;
    vd__mutex_lock(q->lock);
    vd__list_discard(list);
    vd__mutex_unlock(q->lock);
    vd__reap(ctx);
    vd__api_end(ctx);
}

VD_API vd_result vd_list_watch(vd_list *list, vd_ticket *out) {
    vd_result r = vd__list_check(list, "vd_list_watch");
    if (out) out->id = 0;
    if (!out && !r) r = vd__fail_call(VD_ERROR_INVALID, "vd_list_watch", NULL, "out is NULL");
    if (!r) r = vd__read_begin(list, NULL, NULL, out);
    return r ? vd__list_refused(list, vd__error_default_call(r, "vd_list_watch")) : VD_OK;
}

VD_API vd_list_status vd_list_get_status(vd_context *ctx, vd_ticket ticket) {
    vd_result r = vd__context_check(ctx, "vd_list_get_status");
    if (r) {
        vd__call_failed(ctx, r);
        return VD_LIST_STATUS_UNKNOWN;
    }
    vd__lock_all(ctx);
    vd__ticket *t = vd__ticket_find(ctx, ticket, "vd_list_get_status");
    vd_list_status status = !t           ? VD_LIST_STATUS_UNKNOWN
                          : t->discarded ? VD_LIST_STATUS_DISCARDED
                          : t->list      ? VD_LIST_STATUS_OPEN
                                         : VD_LIST_STATUS_SUBMITTED;
    vd__unlock_all(ctx);
    vd__call_end(ctx, t ? VD_OK : VD_ERROR_INVALID);
    return status;
}

VD__SMALL_END

/* Checks an event and sets *out to its queue, or to NULL if the event is zero and thus complete. If the event
   belongs to the open batch of its queue, submits that batch. */
static vd_result vd__event_queue(vd_context *ctx, const char *call, vd_event event, vd__queue **out) {
    *out = NULL;
    if (!event.value && !event.context) return VD_OK;
    if (event.context != ctx->number)
        return vd__fail_call(VD_ERROR_INVALID, call, NULL, "the event belongs to another context");
    if (event.device >= ctx->device_count || event.queue >= ctx->devices[event.device].device.queue_count)
        return vd__fail_call(VD_ERROR_INVALID, call, NULL, "the event belongs to device %u, queue %u, but the context "
                             "has %u devices with %u queues", event.device, event.queue, (unsigned)ctx->device_count,
                             (unsigned)ctx->devices->device.queue_count);
    vd__queue *q = &ctx->devices[event.device].queues[event.queue];
    vd__mutex_lock(q->lock);
    uint64_t last = q->submitted + (q->open_batch.recording ? 1 : 0);
    if (event.value > q->submitted && event.value <= last) vd__queue_flush(q);
    vd__mutex_unlock(q->lock);
    if (event.value > last)
        return vd__fail_call(VD_ERROR_INVALID, call, NULL, "the event has value %llu, but the last submission of its "
                             "queue has %llu", VD__U(event.value), VD__U(last));
    *out = q;
    return VD_OK;
}

static void vd__event_set(const vd__queue *q, vd_event *out) {
    if (!out) return;
    out->context = q->ctx->number;
    out->value = q->submitted;
    out->device = q->context_device->index;
    out->queue = q->index;
}

/* Collects the timeline values that a submission must wait for, by queue of its device. Events of the same queue need
   no wait, because work on a queue executes in order. Events of other devices are waited for here, by the calling
   thread. No lock may be held. */
static vd_result vd__waits_resolve(vd_list *l, const vd_submit_desc *desc, uint64_t waits[VD_MAX_QUEUES]) {
    vd_context *ctx = l->ctx;
    memset(waits, 0, VD_MAX_QUEUES * sizeof *waits);
    if (!desc || !desc->wait_count) return VD_OK;
    if (desc->wait_count < 0 || !desc->waits)
        return vd__fail_call(VD_ERROR_INVALID, "vd_submit", NULL, "desc.wait_count is %d, but %s", desc->wait_count,
                             desc->waits ? "it must not be negative" : "desc.waits is NULL");
    for (int i = 0; i < desc->wait_count; i++) {
        vd__queue *q;
        uint64_t value = desc->waits[i].value;
        vd_result r = vd__event_queue(ctx, "vd_submit", desc->waits[i], &q);
        if (!r && q && q->context_device != l->queue->context_device) r = vd__queue_wait(q, value, VD_FOREVER);
        if (r) return r;
        if (q && q != l->queue && q->context_device == l->queue->context_device && value > waits[q->index])
            waits[q->index] = value;
    }
    return VD_OK;
}

/* Submits the open batch of a queue, to start after the events of `waits`. */
static vd_result vd__submit_open(vd__queue *q, const uint64_t waits[VD_MAX_QUEUES]) {
    bool any = false;
    for (uint32_t i = 0; i < VD_MAX_QUEUES; i++) {
        if (waits[i]) vd__queue_add_wait(q, i, waits[i]);
        any = any || waits[i];
    }
    /* an empty batch is submitted too, so that its event follows the waits */
    vd_result r = any && !q->open_batch.recording ? vd__list_begin_recording(&q->open_batch) : VD_OK;
    if (!r) vd__queue_flush(q);
    return r;
}

static vd_result vd__submit(vd_list *l, const uint64_t waits[VD_MAX_QUEUES], vd_event *out) {
    vd_result r = !l->immediate && l->recording ? vd__list_submit(l, waits) : vd__submit_open(l->queue, waits);
    if (!r) vd__event_set(l->queue, out);
    return r;
}

VD_API vd_result vd_submit(vd_list *list, const vd_submit_desc *desc, vd_event *out) {
    uint64_t waits[VD_MAX_QUEUES];
    vd_result r = VD_OK;
    if (out) memset(out, 0, sizeof *out);
    if (!list) r = vd__fail_call(VD_ERROR_INVALID, "vd_submit", NULL, "the list is NULL");
    else if (list->state == VD__LIST_FREE)
        r = vd__fail_call(VD_ERROR_INVALID, "vd_submit", NULL, "the list was already submitted or discarded");
    else r = vd__callback_check(list->ctx, "vd_submit", false);
    if (r) return vd__list_refused(list, r);
    vd__queue *q = list->queue;
    bool immediate = list->immediate;
    r = vd__context_check(list->ctx, "vd_submit");
    if (!r && list->error) r = vd__list_repeat_error(list);
    if (!r) r = vd__waits_resolve(list, desc, waits);
    if (!r && VD__UNLIKELY(list->ctx->host.debug)) vd__debug_submit(list);
    vd__mutex_lock(q->lock);
    if (!r) r = vd__submit(list, waits, out);
    if (r) vd__error_default_call(r, "vd_submit");
    if (!immediate) {
        if (r) vd__list_discard(list);
        else vd__list_recycle(list);
    }
    vd__mutex_unlock(q->lock);
    if (!immediate) vd__reap(q->ctx);
    vd__output_poll(q->ctx);
    return vd__call_end(q->ctx, r);
}

VD__HOT VD_API vd_result vd_dispatch(vd_list *list, const vd_dispatch_desc *desc) {
    vd_result r = vd__list_check_command(list, "vd_dispatch", desc);
    if (VD__UNLIKELY(r)) return vd__list_refused(list, r);
    vd__list_lock(list);
    r = VD__LIKELY(desc != NULL) ? vd__dispatch(list, desc) : vd__fail_call(VD_ERROR_INVALID, "vd_dispatch", NULL,
            "desc is NULL");
    vd__list_unlock(list);
    return vd__list_end_call(list, "vd_dispatch", r);
}

/* Slow path of vd_run_args: the context is NULL, lost, being destroyed or in debug mode. A scope makes the failure that
   of vd_run. */
static VD__COLD vd_result vd__run_checked(vd_context *ctx, const vd_dispatch_desc *desc) {
    vd_callback_scope scope;
    vd_result r = vd__context_check(ctx, vd__run_call);
    if (r) return vd__call_failed(ctx, r);
    vd_callback_scope_begin(ctx, vd__run_call, &scope);
    r = vd_dispatch(&ctx->queues->open_batch, desc);
    if (r) vd__error_amend(r, vd__run_call, NULL, NULL);
    vd_callback_scope_end(&scope);
    return r;
}

VD_API vd_result vd_run_args(vd_context *ctx, vd_kernel kernel, uint64_t x, uint64_t y, uint64_t z, const vd_arg *args,
                             int arg_count) {
    vd_dispatch_desc desc;
    desc.kernel = kernel;
    desc.threads[0] = x;
    desc.threads[1] = y;
    desc.threads[2] = z;
    desc.groups[0] = desc.groups[1] = desc.groups[2] = 0;
    desc.args = args;
    desc.arg_count = arg_count;
    if (VD__UNLIKELY(!ctx || vd__atomic_load32(&ctx->state))) return vd__run_checked(ctx, &desc);
    vd_result r = vd_dispatch(&ctx->queues->open_batch, &desc);
    return r ? vd__error_amend(r, vd__run_call, NULL, NULL) : VD_OK;
}

VD_API vd_result vd_copy(vd_list *list, vd_buffer to, uint64_t to_offset, vd_buffer from, uint64_t from_offset,
                         uint64_t size) {
    vd__span span;
    vd_copy_desc desc = { to, from, to_offset, from_offset, size, 1, 0, 0 };
    vd_result r = vd__list_check(list, "vd_copy");
    if (r) return vd__list_refused(list, r);
    vd__list_lock(list);
    if (size) r = vd__copy(list, "vd_copy", &desc);
    else {
        r = vd__span_find(list, to, "vd_copy", "target ", "target ", to_offset, 0, &span);
        if (!r) r = vd__span_find(list, from, "vd_copy", "source ", "source ", from_offset, 0, &span);
    }
    vd__list_unlock(list);
    if (VD__UNLIKELY(list->ctx->host.debug) && !r) vd__debug_written(list, to.id);
    return vd__list_end_call(list, "vd_copy", r);
}

VD_API vd_result vd_copy_region(vd_list *list, const vd_copy_desc *desc) {
    vd_result r = vd__list_check(list, "vd_copy_region");
    if (r) return vd__list_refused(list, r);
    vd__list_lock(list);
    r = desc ? vd__copy(list, "vd_copy_region", desc) : vd__fail_call(VD_ERROR_INVALID, "vd_copy_region", NULL,
                                                                      "desc is NULL");
    vd__list_unlock(list);
    if (VD__UNLIKELY(list->ctx->host.debug) && !r) vd__debug_written(list, desc->to.id);
    return vd__list_end_call(list, "vd_copy_region", r);
}

VD_API vd_result vd_fill(vd_list *list, vd_buffer buffer, uint64_t offset, uint64_t size, const void *value,
                         size_t value_size) {
    vd_result r = vd__list_check(list, "vd_fill");
    if (r) return vd__list_refused(list, r);
    vd__buffer *b = vd__buffer_pin(list->ctx, buffer, "vd_fill", "target ");
    r = b ? vd__fill(list, b, offset, size, value, value_size) : VD_ERROR_INVALID;
    vd__buffer_unpin(list->ctx, b);
    if (VD__UNLIKELY(list->ctx->host.debug) && !r) vd__debug_written(list, buffer.id);
    return vd__list_end_call(list, "vd_fill", r);
}

VD_API vd_result vd_record_native(vd_list *list, const vd_record_desc *desc) {
    vd_result r = vd__list_check(list, "vd_record_native");
    if (r) return vd__list_refused(list, r);
    vd__list_lock(list);
    r = desc ? vd__record_native(list, desc)
             : vd__fail_call(VD_ERROR_INVALID, "vd_record_native", NULL, "desc is NULL");
    vd__list_unlock(list);
    return vd__list_end_call(list, "vd_record_native", r);
}

VD_API vd_result vd_write(vd_list *list, vd_buffer buffer, uint64_t offset, const void *data, uint64_t size) {
    vd_result r = vd__list_check(list, "vd_write");
    if (r) return vd__list_refused(list, r);
    vd__buffer *b = vd__buffer_pin(list->ctx, buffer, "vd_write", "target ");
    r = b ? vd__write_bytes(list, "vd_write", b, offset, data, size) : VD_ERROR_INVALID;
    vd__buffer_unpin(list->ctx, b);
    if (VD__UNLIKELY(list->ctx->host.debug) && !r) vd__debug_written(list, buffer.id);
    return vd__list_end_call(list, "vd_write", r);
}

VD_API vd_result vd_write_region(vd_list *list, const vd_region_desc *desc, const void *data) {
    vd_result r = vd__list_check(list, "vd_write_region");
    if (r) return vd__list_refused(list, r);
    r = vd__region_desc_check(list->ctx, "vd_write_region", desc);
    if (!r) r = vd__list_device_check(list, "vd_write_region", desc->device);
    vd__buffer *b = r ? NULL : vd__buffer_pin(list->ctx, desc->buffer, "vd_write_region", "target ");
    if (!r) r = b ? vd__write(list, "vd_write_region", b, vd__region_from(desc), data) : VD_ERROR_INVALID;
    vd__buffer_unpin(list->ctx, b);
    if (VD__UNLIKELY(list->ctx->host.debug) && !r) vd__debug_written(list, desc->buffer.id);
    return vd__list_end_call(list, "vd_write_region", r);
}

VD_API vd_result vd_read_begin(vd_list *list, const vd_read_desc *desc, vd_ticket *out) {
    if (out) out->id = 0;
    vd_result r = vd__list_check(list, "vd_read_begin");
    if (r) return vd__list_refused(list, r);
    if (!desc || !out)
        r = vd__fail_call(VD_ERROR_INVALID, "vd_read_begin", NULL, "%s is NULL", desc ? "out" : "desc");
    else r = vd__list_device_check(list, "vd_read_begin", desc->device);
    vd__buffer *b = r ? NULL : vd__buffer_pin(list->ctx, desc->buffer, "vd_read_begin", "source ");
    if (!r) r = b ? vd__read_begin(list, b, desc, out) : VD_ERROR_INVALID;
    vd__buffer_unpin(list->ctx, b);
    return vd__list_end_call(list, "vd_read_begin", r);
}

VD_API vd_result vd_read_ready(vd_context *ctx, vd_ticket ticket, uint64_t timeout_ns, const void **data) {
    if (data) *data = NULL;
    vd_result r = vd__context_check(ctx, "vd_read_ready");
    if (!r && !data)
        r = vd__fail_call(VD_ERROR_INVALID, "vd_read_ready", NULL, "data is NULL");
    vd__ticket *t = r ? NULL : (vd__ticket *)(void *)vd__pool_pin(ctx, &ctx->tickets, ticket.id);
    if (!r && !t)
        r = vd__fail_call(VD_ERROR_INVALID, "vd_read_ready", NULL, "the ticket %s",
                          vd__pool_reason(&ctx->tickets, ticket.id));
    if (r) return vd__call_failed(ctx, r);
    r = vd__read_ready(t, timeout_ns, data);
    if (r) vd__error_default_call(r, "vd_read_ready");
    vd__slot_unpin(ctx, &t->slot);
    return vd__call_end(ctx, vd__unchecked_result(ctx, "vd_read_ready", r));
}

VD_API void vd_read_end(vd_context *ctx, vd_ticket ticket) {
    if (!ticket.id) return;
    if (vd__destroy_refused(ctx, "vd_read_end")) return;
    vd__lock_all(ctx);
    vd__ticket *t = vd__ticket_find(ctx, ticket, "vd_read_end");
    if (t) vd__ticket_close(ctx, t);
    vd__unlock_all(ctx);
    vd__call_end(ctx, t ? VD_OK : VD_ERROR_INVALID);
}

/* ---- waiting ---- */

VD_API vd_result vd_wait(vd_context *ctx, vd_event event, uint64_t timeout_ns) {
    vd__queue *q;
    vd_result r = vd__context_check(ctx, "vd_wait");
    if (r) return vd__call_failed(ctx, r);
    r = vd__event_queue(ctx, "vd_wait", event, &q);
    if (!r && q) r = vd__queue_wait(q, event.value, timeout_ns);
    if (r) vd__error_default_call(r, "vd_wait");
    vd__reap(ctx);
    return vd__call_end(ctx, vd__unchecked_result(ctx, "vd_wait", r));
}

VD__SMALL

/* Returns a failure of any queue that no call has returned yet. */
static vd_result vd__context_take_failure(vd_context *ctx) {
    vd_result r = VD_OK;
    for (uint32_t i = 0; i < ctx->queue_count && !r; i++) r = vd__queue_take_failure(&ctx->queues[i]);
    return r;
}

static void vd__queues_flush(vd_context *ctx) {
    vd__lock_all(ctx);
    for (uint32_t i = 0; i < ctx->queue_count; i++) vd__queue_flush(&ctx->queues[i]);
    vd__unlock_all(ctx);
}

VD_API vd_result vd_flush(vd_context *ctx) {
    vd_result r = vd__context_check(ctx, "vd_flush");
    if (r) return vd__call_failed(ctx, r);
    vd__queues_flush(ctx);
    vd__output_poll(ctx);
    r = vd__context_take_failure(ctx);
    if (r) vd__error_default_call(r, "vd_flush");
    return vd__call_end(ctx, vd__unchecked_result(ctx, "vd_flush", r));
}

VD_API vd_result vd_wait_idle(vd_context *ctx) {
    vd_result r = vd__context_check(ctx, "vd_wait_idle");
    if (r) return vd__call_failed(ctx, r);
    vd__queues_flush(ctx);
    for (uint32_t i = 0; i < ctx->queue_count; i++) {
        vd_result waited = vd__queue_wait(&ctx->queues[i], vd__atomic_load64(&ctx->queues[i].submitted), VD_FOREVER);
        if (!r) r = waited;
    }
    vd__reap(ctx);
    vd_result unreported = vd__context_take_failure(ctx);
    if (!r) r = unreported;
    if (r) vd__error_default_call(r, "vd_wait_idle");
    return vd__call_end(ctx, vd__unchecked_result(ctx, "vd_wait_idle", r));
}

// >>dlpack
/* Exports buffers as DLPack tensors and imports tensors as buffers. Declares the structs itself, so dlpack.h is not
   needed. */

typedef struct vd__dl_device { int32_t type, id; } vd__dl_device;
typedef struct vd__dl_type { uint8_t code, bits; uint16_t lanes; } vd__dl_type;

typedef struct vd__dl_tensor {
    void *data;
    vd__dl_device device;
    int32_t ndim;
    vd__dl_type type;
    int64_t *shape, *strides;  /* in elements; strides NULL: contiguous in row-major order */
    uint64_t byte_offset;
} vd__dl_tensor;

typedef struct vd__dl_managed {
    vd__dl_tensor tensor;
    void *manager;
    void (*deleter)(struct DLManagedTensor *self);
} vd__dl_managed;

typedef struct vd__dl_versioned {
    uint32_t major, minor;
    void *manager;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    vd__dl_tensor tensor;
} vd__dl_versioned;

/* Constants of dlpack.h, where their prefix is kDL. */
enum {
    VD__DL_CPU = 1, VD__DL_CUDA = 2, VD__DL_CUDA_HOST = 3, VD__DL_OPENCL = 4, VD__DL_VULKAN = 7,
    VD__DL_CUDA_MANAGED = 13,
    VD__DL_INT = 0, VD__DL_UINT = 1, VD__DL_FLOAT = 2, VD__DL_COMPLEX = 5, VD__DL_BOOL = 6,
    VD__DL_MAJOR = 1, VD__DL_READ_ONLY = 1,
    VD__DL_AXES = 6            /* four of the shape and two of a matrix */
};

/* An exported tensor in both struct versions, and the memory they point to. The manager field of both points here. */
typedef struct vd__dl_export {
    vd__dl_managed managed;
    vd__dl_versioned versioned;
    int64_t shape[VD__DL_AXES], strides[VD__DL_AXES];
    vd_context *ctx;
    vd__buffer *buffer;        /* pinned until the tensor is deleted */
} vd__dl_export;

/* ---- types ---- */

/* Describes type and shape of a buffer. Vectors, matrices (by column) and structs (as bytes) add axes after those of
   the buffer. */
static void vd__dl_describe(const vd__buffer *b, vd__dl_export *e) {
    static const uint8_t codes[16] = { /* by scalar kind */
        VD__DL_UINT, VD__DL_UINT, VD__DL_INT, VD__DL_INT, VD__DL_INT, VD__DL_INT, VD__DL_UINT, VD__DL_UINT, VD__DL_UINT,
        VD__DL_UINT, VD__DL_FLOAT, VD__DL_FLOAT, VD__DL_FLOAT, 0, 0, 0
    };
    bool packed = b->type == VD_BYTES || b->type >> 31;
    bool is_complex = !packed && (b->type & 256u);
    uint32_t inner[2] = { packed ? 1 : (b->type >> 6 & 3u) + 1,
                          b->type >> 31 ? vd_type_size(b->type) : packed ? 1 : (b->type >> 4 & 3u) + 1 };
    vd__dl_tensor *t = &e->managed.tensor;
    int axes = 4;
    int64_t stride = 1;
    while (axes > 1 && b->shape[axes - 1] == 1) axes--;
    for (int i = 0; i < axes; i++) e->shape[i] = (int64_t)b->shape[i];
    for (int i = 0; i < 2; i++)
        if (inner[i] > 1) e->shape[axes++] = inner[i];
    for (int i = axes; i-- > 0; stride *= e->shape[i]) e->strides[i] = stride;
    t->ndim = axes;
    t->shape = e->shape;
    t->strides = e->strides;
    t->type.code = is_complex ? (uint8_t)VD__DL_COMPLEX : codes[packed ? 0 : b->type & 15u];
    t->type.bits = (uint8_t)(packed ? 8 : vd__scalar_size(b->type) * (is_complex ? 16 : 8));
    t->type.lanes = 1;
}

/* Returns the type of a tensor's elements, or VD_BYTES if no vd_type corresponds to it. Booleans of one byte become u8,
   because VD_BOOL has four bytes. */
static vd_type vd__dl_type_of(vd__dl_type t) {
    static const struct { uint8_t code, bits; vd_type type; } table[] = {
        { VD__DL_INT, 8, VD_I8 },        { VD__DL_INT, 16, VD_I16 },      { VD__DL_INT, 32, VD_I32 },
        { VD__DL_INT, 64, VD_I64 },      { VD__DL_UINT, 8, VD_U8 },       { VD__DL_UINT, 16, VD_U16 },
        { VD__DL_UINT, 32, VD_U32 },     { VD__DL_UINT, 64, VD_U64 },     { VD__DL_BOOL, 8, VD_U8 },
        { VD__DL_FLOAT, 16, VD_F16 },    { VD__DL_FLOAT, 32, VD_F32 },    { VD__DL_FLOAT, 64, VD_F64 },
        { VD__DL_COMPLEX, 32, VD_F16C }, { VD__DL_COMPLEX, 64, VD_F32C }, { VD__DL_COMPLEX, 128, VD_F64C }
    };
    vd_type type = VD_BYTES;
    for (size_t i = 0; i < VD__COUNT(table) && t.lanes >= 1 && t.lanes <= 4; i++)
        if (table[i].code == t.code && table[i].bits == t.bits) type = table[i].type + 16u * (t.lanes - 1u);
    return vd_type_size(type) ? type : (vd_type)VD_BYTES; /* there are no vectors of complex numbers */
}

/* ---- export ---- */

/* Frees a tensor, its pin of the buffer and its reference to the context. */
static void vd__dl_export_free(vd__dl_export *e) {
    vd_context *ctx = e->ctx;
    vd__buffer *b = e->buffer;
    vd__free(&ctx->host.allocator, e);
    vd__buffer_unpin(ctx, b);
    vd__api_end(ctx);
    vd__context_unref(ctx);
}

static void vd__dl_delete(struct DLManagedTensor *self) {
    vd__dl_export_free((vd__dl_export *)((vd__dl_managed *)(void *)self)->manager);
}
static void vd__dl_delete_versioned(struct DLManagedTensorVersioned *self) {
    vd__dl_export_free((vd__dl_export *)((vd__dl_versioned *)(void *)self)->manager);
}

/* Sets device, data and byte_offset of a tensor. `type` is the requested device type, or 0 for that of the backend. */
static vd_result vd__dl_set_data(const char *call, const vd_context *ctx, const vd__buffer *b, int type,
                                 vd__dl_tensor *t) {
    const vd__storage *s = &b->storage[vd__lowest_bit(b->devices)];
    const vd__memory *m = &s->memory;
    vd_backend backend = ctx->driver.backend->id;
    bool object = m->native[0] && (backend == VD_BACKEND_VULKAN || backend == VD_BACKEND_OPENCL);
    static const char *const names[] = { "", "kDLCPU", "kDLCUDA", "", "kDLOpenCL", "", "", "kDLVulkan" };
    int native_type = backend == VD_BACKEND_CUDA ? VD__DL_CUDA : !object ? VD__DL_CPU
                      : backend == VD_BACKEND_VULKAN ? VD__DL_VULKAN : VD__DL_OPENCL;
    t->device.type = type ? type : native_type;
    if (t->device.type == VD__DL_CPU && m->mapped && m->block->coherent) {
        t->data = m->mapped + b->offset;
        return VD_OK;
    }
    if (t->device.type == VD__DL_CPU)
        return vd__fail_call(VD_ERROR_UNSUPPORTED, call, NULL, "buffer '%s' is in memory that the host cannot access "
                             "at any time (kDLCPU); create it with desc.memory VD_MEMORY_SHARED", b->name);
    if (t->device.type != native_type)
        return vd__fail_call(VD_ERROR_UNSUPPORTED, call, NULL, "buffer '%s' of backend %s cannot be a tensor of device "
                             "type %d, only of %d (%s)%s", b->name, ctx->driver.backend->name, type, native_type,
                             names[native_type],
                             backend == VD_BACKEND_OPENCL && !object
                                 ? "; its memory is not in a buffer object (create it with desc.exportable)"
                                 : "");
    t->device.id = s->context_device->device.info.index;
    t->byte_offset = object ? b->offset : 0;
    t->data = (void *)(uintptr_t)(object ? m->native[0] : m->address + b->offset);
    return VD_OK;
}

/* Creates a tensor that shares a buffer's memory, after waiting for the work that uses the buffer. On success the
   tensor takes over the caller's pin. */
static vd_result vd__dl_export_create(const char *call, vd_context *ctx, vd__buffer *b, int device_type,
                                      vd__dl_export **out) {
    vd__dl_export *e = (vd__dl_export *)vd__alloc_zeroed(&ctx->host.allocator, sizeof *e);
    if (!e) return vd__fail_memory(call, b->name, 0);
    e->ctx = ctx;
    e->buffer = b;
    e->managed.manager = e->versioned.manager = e;
    e->managed.deleter = vd__dl_delete;
    e->versioned.deleter = vd__dl_delete_versioned;
    e->versioned.major = VD__DL_MAJOR;
    vd__dl_describe(b, e);
    vd_result r = vd__dl_set_data(call, ctx, b, device_type, &e->managed.tensor);
    if (!r) r = vd__storage_finish(&b->storage[vd__lowest_bit(b->devices)], VD_READ_WRITE);
    e->versioned.tensor = e->managed.tensor;
    if (r) vd__free(&ctx->host.allocator, e);
    else {
        vd__atomic_add32(&ctx->reference_count, 1);
        *out = e;
    }
    return r;
}

static vd_result vd__dl_export_make(const char *call, vd_context *ctx, vd_buffer buffer, int device_type,
                                    vd__dl_export **out) {
    vd_result r = vd__context_check(ctx, call);
    if (!r && !out) r = vd__fail_call(VD_ERROR_INVALID, call, NULL, "out is NULL");
    vd__buffer *b = r ? NULL : vd__buffer_pin(ctx, buffer, call, "");
    if (!r) r = b ? vd__dl_export_create(call, ctx, b, device_type, out) : VD_ERROR_INVALID;
    if (r) vd__buffer_unpin(ctx, b);
    return vd__call_end(ctx, r);
}

VD_API vd_result vd_dlpack_export(vd_context *ctx, vd_buffer buffer, int device_type, struct DLManagedTensor **out) {
    vd__dl_export *e = NULL;
    vd_result r = vd__dl_export_make("vd_dlpack_export", ctx, buffer, device_type, out ? &e : NULL);
    if (out) *out = e ? (struct DLManagedTensor *)(void *)&e->managed : NULL;
    return r;
}

VD_API vd_result vd_dlpack_export_versioned(vd_context *ctx, vd_buffer buffer, int device_type,
                                            struct DLManagedTensorVersioned **out) {
    vd__dl_export *e = NULL;
    vd_result r = vd__dl_export_make("vd_dlpack_export_versioned", ctx, buffer, device_type, out ? &e : NULL);
    if (out) *out = e ? (struct DLManagedTensorVersioned *)(void *)&e->versioned : NULL;
    return r;
}

/* ---- import ---- */

/* A tensor to import, of either struct version. */
typedef struct vd__dl_import {
    const char *call;
    vd__dl_tensor *tensor;
    bool writable;
    void (*release)(void *user, uint64_t address);
    void *user;
} vd__dl_import;

/* Release callbacks of imported memory: they delete the tensor. */
static void vd__dl_release(void *user, uint64_t address) {
    vd__dl_managed *m = (vd__dl_managed *)user;
    (void)address;
    if (m->deleter) m->deleter((struct DLManagedTensor *)user);
}

static void vd__dl_release_versioned(void *user, uint64_t address) {
    vd__dl_versioned *m = (vd__dl_versioned *)user;
    (void)address;
    if (m->deleter) m->deleter((struct DLManagedTensorVersioned *)user);
}

/* Checks that a tensor has at most four axes and is contiguous. The stride of an axis with one element is ignored. */
static vd_result vd__dl_shape_check(const char *call, const vd__dl_tensor *t, int64_t element_bytes, const char *name) {
    int64_t stride = 1;
    if (t->ndim < 0 || t->ndim > 4)
        return vd__fail_call(VD_ERROR_INVALID, call, name, "ndim is %d, but must be 0 to 4", (int)t->ndim);
    if (t->ndim && !t->shape)
        return vd__fail_call(VD_ERROR_INVALID, call, name, "ndim is %d, but shape is NULL", (int)t->ndim);
    for (int i = t->ndim; i-- > 0;) {
        if (t->shape[i] <= 0)
            return vd__fail_call(VD_ERROR_INVALID, call, name, "shape[%d] is %lld, but must be positive", i,
                                 (long long)t->shape[i]);
        if (t->strides && t->shape[i] > 1 && t->strides[i] != stride)
            return vd__fail_call(VD_ERROR_UNSUPPORTED, call, name, "strides[%d] is %lld, but a contiguous tensor has "
                                 "%lld; copy the tensor to a contiguous one first", i, (long long)t->strides[i],
                                 (long long)stride);
        if (t->shape[i] > INT64_MAX / stride / element_bytes)
            return vd__fail_call(VD_ERROR_INVALID, call, name, "the tensor has more than 2^63 - 1 bytes");
        stride *= t->shape[i];
    }
    return VD_OK;
}

/* Checks everything that does not depend on the device. Sets type and shape of the desc and *address, the first
   byte. */
static vd_result vd__dl_tensor_check(const char *call, const vd__dl_tensor *t, vd_buffer_desc *desc,
                                     uint64_t *address) {
    const char *name = desc->name ? desc->name : "";
    if (!t->data) return vd__fail_call(VD_ERROR_INVALID, call, name, "the tensor's data is NULL");
    desc->type = vd__dl_type_of(t->type);
    if (!desc->type)
        return vd__fail_call(VD_ERROR_UNSUPPORTED, call, name, "dtype code %u with %u bits x %u lanes has no vd_type",
                             (unsigned)t->type.code, (unsigned)t->type.bits, (unsigned)t->type.lanes);
    vd_result r = vd__dl_shape_check(call, t, (int64_t)vd_type_size(desc->type), name);
    if (r) return r;
    desc->shape[0] = 1;
    for (int i = 0; i < t->ndim; i++) desc->shape[i] = (uint64_t)t->shape[i];
    if (t->byte_offset > UINT64_MAX - (uintptr_t)t->data)
        return vd__fail_call(VD_ERROR_INVALID, call, name, "data + byte_offset %llu exceeds the address space",
                             VD__U(t->byte_offset));
    *address = (uintptr_t)t->data + t->byte_offset;
    return VD_OK;
}

/* Finds the device of the tensor in the context and sets the desc's import fields. Host memory is imported if
   possible, and copied otherwise. */
static vd_result vd__dl_device_check(const vd_context *ctx, const vd__dl_import *in, uint64_t address,
                                     vd_buffer_desc *desc) {
    const vd__dl_tensor *t = in->tensor;
    const char *call = in->call;
    vd_backend backend = ctx->driver.backend->id;
    const char *name = desc->name ? desc->name : "";
    uint32_t i = 0;
    bool on_host = t->device.type == VD__DL_CPU || (t->device.type == VD__DL_CUDA_HOST && backend != VD_BACKEND_CUDA);
    if (!on_host && !in->writable)
        return vd__fail_call(VD_ERROR_UNSUPPORTED, call, name, "the tensor is read-only, which is only supported in "
                             "host memory, but its device type is %d", (int)t->device.type);
    if (backend == VD_BACKEND_CUDA
        && (t->device.type == VD__DL_CUDA || t->device.type == VD__DL_CUDA_HOST
            || t->device.type == VD__DL_CUDA_MANAGED)) {
        while (t->device.type == VD__DL_CUDA && i < ctx->device_count
               && ctx->devices[i].device.info.index != t->device.id)
            i++;
        if (i == ctx->device_count)
            return vd__fail_call(VD_ERROR_INVALID, call, name, "the tensor is on CUDA device %d, which is not a device "
                                 "of the context", (int)t->device.id);
        desc->devices = 1u << i;
        desc->address = address & ~(uint64_t)15;
        desc->address_offset = address & 15;
        return VD_OK;
    }
    if (backend == VD_BACKEND_OPENCL && t->device.type == VD__DL_OPENCL) {
        desc->devices = 1;
        desc->import = VD_IMPORT_CL_MEM;
        desc->address = (uintptr_t)t->data;
        desc->address_offset = t->byte_offset;
        return VD_OK;
    }
    if (!on_host)
        return vd__fail_call(VD_ERROR_UNSUPPORTED, call, name, "backend %s does not support tensors of device type %d",
                             ctx->driver.backend->name, (int)t->device.type);
    if (in->writable && ctx->device_count == 1 && address % 16 == 0
        && (ctx->devices->device.sharing_mask >> VD__SHARE_HOST & 1u)) {
        desc->import = VD_IMPORT_HOST;
        desc->address = address;
    } else desc->data = (const void *)(uintptr_t)address;
    return VD_OK;
}

/* Creates a buffer from a tensor. If importing host memory fails, copies it. */
static vd_buffer vd__dl_import_make(vd_context *ctx, const vd__dl_import *in, const char *name) {
    vd_buffer out = { 0 };
    vd_buffer_desc desc;
    uint64_t address = 0;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    vd_result r = vd__dl_tensor_check(in->call, in->tensor, &desc, &address);
    if (!r) r = vd__dl_device_check(ctx, in, address, &desc);
    if (r) {
        vd__call_failed(ctx, r);
        return out;
    }
    if (desc.address) {
        desc.release = in->release;
        desc.release_user = in->user;
    }
    r = vd__buffer_make(ctx, &desc, &out);
    if (r && desc.import == VD_IMPORT_HOST) { /* the driver cannot import this address or this memory */
        desc.import = VD_IMPORT_ADDRESS;
        desc.address = 0;
        desc.release = NULL;
        desc.data = (const void *)(uintptr_t)address;
        r = vd__buffer_make(ctx, &desc, &out);
    }
    if (r) vd__error_amend(r, in->call, NULL, NULL);
    vd__call_end(ctx, r);
    if (!r && desc.data) in->release(in->user, 0);
    return out;
}

VD_API vd_buffer vd_dlpack_import(vd_context *ctx, struct DLManagedTensor *tensor, const char *name) {
    vd_buffer none = { 0 };
    vd__dl_managed *m = (vd__dl_managed *)(void *)tensor;
    vd__dl_import in = { "vd_dlpack_import", NULL, true, vd__dl_release, NULL };
    vd_result r = vd__context_check(ctx, in.call);
    if (!r && !m) r = vd__fail_call(VD_ERROR_INVALID, in.call, NULL, "the tensor is NULL");
    if (r) {
        vd__call_failed(ctx, r);
        return none;
    }
    in.tensor = &m->tensor;
    in.user = m;
    return vd__dl_import_make(ctx, &in, name);
}

VD_API vd_buffer vd_dlpack_import_versioned(vd_context *ctx, struct DLManagedTensorVersioned *tensor,
                                            const char *name) {
    vd_buffer none = { 0 };
    vd__dl_versioned *m = (vd__dl_versioned *)(void *)tensor;
    vd__dl_import in = { "vd_dlpack_import_versioned", NULL, true, vd__dl_release_versioned, NULL };
    vd_result r = vd__context_check(ctx, in.call);
    if (!r && !m) r = vd__fail_call(VD_ERROR_INVALID, in.call, NULL, "the tensor is NULL");
    if (!r && m->major != VD__DL_MAJOR)
        r = vd__fail_call(VD_ERROR_UNSUPPORTED, in.call, name,
                          "the tensor has DLPack version %u.%u, but only %d.x is supported", m->major, m->minor,
                          VD__DL_MAJOR);
    if (r) {
        vd__call_failed(ctx, r);
        return none;
    }
    in.tensor = &m->tensor;
    in.user = m;
    in.writable = !(m->flags & VD__DL_READ_ONLY);
    return vd__dl_import_make(ctx, &in, name);
}

VD__SMALL_END

// >>end
#endif /* VKDISPATCH_IMPLEMENTED */
#endif /* VKDISPATCH_IMPLEMENTATION */

/* The room `glue` of vkdispatch_codegen.h needs both implementations. If that header came first, include it again for
   this room. */
#if defined(VKDISPATCH_IMPLEMENTED) && defined(VKDISPATCH_CODEGEN_IMPLEMENTED) && !defined(VKDISPATCH_GLUE_IMPLEMENTED)
#include "vkdispatch_codegen.h"
#endif
/*
MIT License

Copyright (c) 2026 The vkdispatch authors

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
*/
