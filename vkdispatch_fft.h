/* vkdispatch_fft.h: Fourier transforms, convolutions, reductions, scans and sorts of vkdispatch buffers.

   Version 0.1.0. MIT licence; the full text is at the end of this file. Needs vkdispatch.h, the runtime, and
   vkdispatch_codegen.h, the kernel builder.

   Quick start
       #define VKDISPATCH_IMPLEMENTATION
       #define VKDISPATCH_CODEGEN_IMPLEMENTATION
       #define VKDISPATCH_FFT_IMPLEMENTATION
       #include "vkdispatch_fft.h"

       int main(void) {
           float x[2 * 8] = { 1 };
           vd_context *ctx = NULL;
           if (vd_context_create(NULL, &ctx)) return 1;
           vd_buffer_desc desc = {0};
           desc.type = VD_F32X2; desc.shape[0] = 8; desc.data = x;
           vd_buffer b = vd_buffer_create(ctx, &desc);
           vd_result r = vd_fft_forward(ctx, b);
           if (!r) r = vd_buffer_read(ctx, b, 0, x, VD_WHOLE);
           vd_context_destroy(ctx);
           return r != VD_OK || x[0] != 1 || x[14] != 1; // every bin of a unit impulse is 1 + 0i
       }

   What it does not do
       * It does not distribute one operation over several devices. A plan can be recorded into lists of every device of
         its context, but is optimised for the first one.
       * It does not compute in f16: f16 is a type in memory, the arithmetic is f32 or f64.
       * It does not use another FFT library by default. VkFFT can be selected as the engine of complex and real
         transforms.

   Contents
       Setting up     Rooms, Configuration, Environment variables, Linking, Tutorial, Plans
       Transforms     Complex transforms, Real transforms, Cosine and sine transforms, Lengths, Measuring, Hooks,
                      Transforms inside of kernels
       Convolutions   Convolutions
       Arrays         Fragments, Reductions, Scans, Sorting and counting
       Extending      Libraries on top
       Other          Limits, References, Errors, Memory, Threads, Versions

   Rooms
       config       limits of the planner
       common       the base of plans (vd_plan_*): memory, buffers, kernels, fragments, checks
       tuner        vd_plan_tune: choices made by timing kernels
       factor       lengths as products of radices
       plan         the kernels of a transform, and the shape of each
       butterflies  transforms of a few values held in registers
       twiddles     tables of twiddle factors
       exchange     exchange of values between the threads of a work-group
       stage        one stage of a transform: all butterflies of one radix
       hooks        the caller's load and store callbacks
       kernels      the kernel of a pass
       real         transforms of real numbers: half spectra, cosines, sines
       reduce       reductions over any axes
       look-back    what scans and sorts in one pass have in common
       scan         prefix sums, compaction
       sort         sorting keys, alone or with values
       histogram    counts of the elements of each bin
       top          the largest or smallest elements of rows
       vkfft        VkFFT as the engine of a transform
       cache        the plans of a context
       execute      running a plan
       shift        rotation of spectra, so that frequency 0 is in the middle
       chirp        the tables of Bluestein's algorithm over several passes
       convolve     convolutions by transforms
       measure      timing kernels to choose the fastest shape
       public       the other functions declared above
       end

   Configuration
       Define before including the header. Every macro is off by default.
       * VKDISPATCH_FFT_IMPLEMENTATION  Compile the implementation. Define in one translation unit.
       * VKDISPATCH_VKFFT               Add VkFFT 1.2 as an engine of transforms on Vulkan. The translation unit is then
                                        C++, needs vkFFT.h, vulkan/vulkan.h and glslang's C interface (Debian:
                                        libvkfft-dev, libvulkan-dev, glslang-dev). See Linking.

   Environment variables
       variable                 values                       effect
       --------                 ------                       ------
       VKDISPATCH_FFT           estimate, measure, patient   replaces desc.rigor of every plan (see Measuring)
       VKDISPATCH_FFT_FACTORS   shapes of kernels            for experiments: kernels have these shapes (see Measuring)
       VKDISPATCH_FFT_SHAPES    gpu, gpu-batch               for tests: on a device with vd_facts.groups_as_loops, plans
                                                             as for a large GPU; gpu-batch: on all devices, transforms
                                                             of few elements have the shapes of large batches

       If one of these values is invalid, making a plan that uses it fails with VD_ERROR_INVALID.

   Linking
       Link with the libraries that vkdispatch.h needs and, except with MSVC, with -lm. With VKDISPATCH_VKFFT also link
       with the C++ library, glslang, glslang-default-resource-limits, and the libraries that these need (for Debian 12,
       `tools/libraries PROGRAM.d` prints all of them; the compiler writes PROGRAM.d with -MD).
       With VKDISPATCH_STATIC (see vkdispatch.h), the functions of this header have internal linkage, too: define
       VKDISPATCH_IMPLEMENTATION, VKDISPATCH_CODEGEN_IMPLEMENTATION and VKDISPATCH_FFT_IMPLEMENTATION in every
       translation unit that includes it.

   Tutorial
       1. vd_fft_create makes a plan for a shape, axes, a kind and a normalisation. If the desc has only a shape, the
          plan is a complex f32 transform along the last axis.
       2. vd_fft_run records the plan into a list, forward or inverse, in place or from one buffer to another.
       3. vd_fft_destroy releases the plan.
       4. vd_fft_forward, vd_reduce_sum and the other functions without a plan do all of this in one call, with a plan
          that the context caches.

   Plans
       Every group of functions has the same form: a desc, vd_NAME_create, vd_NAME_run, vd_NAME_destroy. Compactions are
       an exception: vd_compact_create makes a plan for vd_scan_run and vd_scan_destroy.

       Compilation. A transform in place and one out of place have different kernels, and so have the two directions.
       vd_fft_run compiles the kernels of each of these four cases when it first needs them. The kernels of other plans
       are compiled when the plan is made or first used.

       Device memory. Plans allocate tables, intermediate buffers and partial results when they are made; running a
       plan allocates none. Once its kernels are compiled, vd_fft_run allocates host memory only if the list has to
       grow. The engine VkFFT is an exception.

       Destruction. A plan may be destroyed before or after its context, and while recorded or submitted commands still
       use it: its memory and kernels are released after those commands have finished. A graph with runs of the plan
       cannot be submitted afterwards. For plans of the engine VkFFT, see vd_fft_engine.

       Functions without a plan. They make a plan from the shapes of the buffers, from which trailing dimensions of 1
       are removed, and record it into vd_immediate(ctx, 0, 0). The context caches the 64 most recently used plans; all
       these functions share this cache. vd_plan_cache_query returns its counters, and vd_plan_cache_clear destroys its
       plans.

       Source text. vd_fft_source and vd_convolve_source return the kernels of a plan as GLSL, CUDA C or OpenCL C, on
       every backend.

   Complex transforms
       Along each transformed axis:

       forward    X[k] = sum over n of x[n] exp(-2 pi i n k / N)
       inverse    x[n] = sum over k of X[k] exp(+2 pi i n k / N), divided by N

       With several axes, the inverse is divided by the product of their lengths. With VD_FFT_NORM_ORTHO both directions
       are divided by the square root of that product, with VD_FFT_NORM_NONE neither is divided.

       A complex number consists of two f32 or two f64, the real part first; in memory it may also consist of two f16.
       Arrays are in C order, with the last dimension contiguous, unless the desc has strides. A transform is computed
       for each index of the dimensions that are not transformed (the batch).

       Zero padding and cropping. desc.in_start and in_count select the indices of each transformed dimension that exist
       in the input; the others are read as 0. out_start and out_count select those that are stored. The arrays contain
       only these indices. Transforms along an axis are not computed at indices of other axes where the input is 0 or
       no result is stored.

   Real transforms
       VD_FFT_REAL transforms n real numbers to the bins 0 to n / 2 of their spectrum (n / 2 + 1 complex numbers),
       along the last transformed axis. The other bins are the conjugates of these. The other axes are transformed as
       complex ones.

       Inverse. The last axis is transformed after the other axes. Its transform ignores the imaginary parts of bin 0
       and, if n is even, of bin n / 2, even if they are NaN. With several axes, these bins are results of the other
       transforms, which use all imaginary parts of the input: a NaN or an infinity, even in the imaginary part of
       element (0, 0), may spread to other results. In the spectrum of reals, some elements have the imaginary part 0,
       such as element (0, 0): set these parts to 0.

       In place. Each row of n reals must begin at the same byte as its n / 2 + 1 bins, so it is padded to
       2 (n / 2 + 1) reals: set desc.padded. For f32, vd_fft_padded_buffer_create allocates such rows. Out of place,
       both directions preserve their input.

   Cosine and sine transforms
       The definitions are those of FFTW, unnormalised and with a factor of 2. "sum of" is the sum over j = 0 ... n - 1.
       N is the gain: a transform followed by its inverse, both unnormalised, multiplies the data by N.

       kind   Y[k]                                                                                  inverse   N
       ----   ----                                                                                  -------   -
       DCT1   x[0] + (-1)^k x[n - 1] + 2 sum over j = 1 ... n - 2 of x[j] cos(pi j k / (n - 1))     DCT1      2 (n - 1)
       DCT2   2 sum of x[j] cos(pi (j + 1/2) k / n)                                                 DCT3      2 n
       DCT3   x[0] + 2 sum over j = 1 ... n - 1 of x[j] cos(pi j (k + 1/2) / n)                     DCT2      2 n
       DCT4   2 sum of x[j] cos(pi (j + 1/2) (k + 1/2) / n)                                         DCT4      2 n
       DST1   2 sum of x[j] sin(pi (j + 1) (k + 1) / (n + 1))                                       DST1      2 (n + 1)
       DST2   2 sum of x[j] sin(pi (j + 1/2) (k + 1) / n)                                           DST3      2 n
       DST3   (-1)^k x[n - 1]
              + 2 sum over j = 0 ... n - 2 of x[j] sin(pi (j + 1) (k + 1/2) / n)                    DST2      2 n
       DST4   2 sum of x[j] sin(pi (j + 1/2) (k + 1/2) / n)                                         DST4      2 n

       VD_FFT_INVERSE computes the kind in the column "inverse", divided by the product of N over the transformed axes.
       With VD_FFT_NORM_ORTHO both directions are divided by the square root of that product, with VD_FFT_NORM_NONE
       neither is divided.

   Lengths
       length                                                            algorithm
       ------                                                            ---------
       prime factors up to 31, fits into a work-group                    mixed radix, one kernel
       prime factors up to 31, longer                                    four-step, a kernel for each of 2 or 3 factors
       prime factors up to 127                                           the same with direct stages, see below
       a larger prime factor, and about 2 n elements fit into a
           work-group                                                    Bluestein's algorithm, one kernel
       all others                                                        Bluestein's algorithm, 3 or 5 kernels

       Every length is supported, up to the memory of the device and the limits listed below (see Limits). A length (or
       a factor of a length) fits into a work-group if its elements fit into the shared memory and registers of the
       work-group. On a GPU, along axes other than the contiguous one, a work-group computes at least 8 neighbouring
       transforms; if 8 do not fit, the axis is split, if possible. This does not apply to Bluestein's algorithm in one
       kernel. On a CPU, some lengths with a prime factor such as 29 or 31, for example 93 = 3 x 31, take two kernels,
       because the cost model estimates this to be faster.

       Few elements. On a GPU, plans of up to 2^14 elements for each multiprocessor (f64: 2^13; 2 million elements on an
       H200) cannot hide latencies. For these plans, the estimated latency decides how many kernels an axis takes,
       whether axes are transformed together, whether direct stages or Bluestein's algorithm is used, and whether reals
       of even length are transformed in pairs or as complex numbers. For example, one row of 16384 elements takes two
       kernels, but 1000 rows take one.

       Direct stages. For a prime factor p from 37 to 127, the elements pass through shared memory, and each thread
       computes pairs of results k and p - k by the definition of the transform:
           X[k] = x[0] + C - i S, X[p - k] = x[0] + C + i S
           C = sum of (x[j] + x[p - j]) cos(2 pi j k / p), S = sum of (x[j] - x[p - j]) sin(2 pi j k / p),
           for j = 1 ... (p - 1) / 2
       The cosines and sines are in a table. Eight terms are added to each other before they are added to the sum. This
       keeps the rounding error of the stage as low as that of a transform of about 31 elements. Bluestein's algorithm
       has an error 1.8 to 2.1 times (f64: 2.2 to 3.1 times) as large. Therefore Bluestein's algorithm replaces direct
       stages only if they are estimated to take more than 1.5 times as long. On GPUs, with many elements, this is so
       for primes from 67 on (f64: from 53 on) and some products. vd_fft_explain names the algorithm.

       Accuracy. For random numbers, the mean relative error of a bin of a complex transform is at most 1.2 times that
       of pocketfft (SciPy), in f32 and f64. For cosine and sine transforms, the mean error divided by the mean
       magnitude of the results is at most 1.2 times as large, except for DCT4 and DST4 of odd length in f64 (1.23
       times). Exceptions are lengths with a prime factor from 37 to 127 that are computed by Bluestein's algorithm here
       (see above) and by the definition in pocketfft: up to 2 times. The comparison covers powers of two, primes, and
       the lengths listed in tools/bench/accuracy.c and tests/fft/accuracy.c.

       Memory. If an axis takes several kernels, the data between them are in an intermediate buffer of the plan.
       Bluestein's algorithm over several kernels computes convolutions of a length m of at most about 2.3 n on a GPU
       and less than 4 n on a CPU, where the cost model may choose a power of two. The length is lower for the forward
       transform of an odd number of reals, and with in_count or out_count. The buffer then holds m complex numbers for
       each transform. In addition, the plan has tables of n + m complex numbers, which the device computes when the
       plan is made. A plan has at most three intermediate buffers, which its axes and both directions share.
       vd_fft_memory and vd_convolve_memory return the device memory that a plan owns.

       On a GPU, several complex axes without prime factors above 31 are transformed together, except in plans of few
       elements where separate kernels are faster. If their elements fit into a work-group together, this takes one
       kernel. Otherwise it takes two and an intermediate buffer, for images of at least 512 rows and up to about 2^25
       elements, and for cubes of up to about 2^24. In all other cases each axis takes one or more kernels. These
       include CPUs, plans with in_start, in_count, out_start or out_count, and the inverse of VD_FFT_REAL.

       Short rows. A GPU accesses memory in sectors of 32 bytes. Threads that load or store together may use less than
       half of the bytes of the sectors that they touch, for example if each thread transforms a row alone. The kernel
       then copies the rows of a work-group through shared memory, with consecutive threads at consecutive elements, if
       that at least doubles the use and the rows fit. It does not do so in convolutions, if an axis is split over
       several kernels, for rows that are not contiguous, or if hooks do not use the input or store nothing.
       vd_fft_explain prints the predicted use of sectors where it is below 100 %; for copied rows, the use that direct
       accesses would have.

       Real, cosine and sine transforms of length n use a complex transform of this length:

       kind          n       complex transform
       ----          -       -----------------
       DCT1          any     n - 1
       DST1          any     n + 1
       all others    even    n / 2
       all others    odd     n; the input (for the inverse of VD_FFT_REAL, and for DCT3 and DST3: the result) has the
                             imaginary part 0 or, with desc.pack_rows and if the length fits into a work-group,
                             another row

       If such a complex transform takes several kernels, one more kernel may combine each bin with its mirror image.
       DCT1 and DST1 always need it. For even lengths, so do the forward VD_FFT_REAL, DCT2 and DST2, and the inverse
       DCT3 and DST3.

   Measuring
       The shape of a kernel consists of its radices in order, the threads of one transform, the transforms of one
       work-group, and the slices in which values are exchanged through shared memory. With VD_FFT_ESTIMATE, a cost
       model chooses the shape, except that common sizes of f32 have the fastest shapes measured on an NVIDIA H200
       (used on every GPU) or on PoCL and llvmpipe (used on CPUs). With VD_FFT_MEASURE or VD_FFT_PATIENT, the call that
       makes the plan also compiles, checks and times the shapes of lowest cost. For Bluestein's algorithm in one
       kernel, it tries several lengths of the convolutions, and for convolutions of images and cubes, several
       divisions of the first axis (see Convolutions). Other work on the device during this call distorts the times.

       Method. A kernel is timed without hooks and out of place, on random numbers. If the arrays have more than 256
       MiB (4 MiB with vd_facts.groups_as_loops), they are reduced to about that size: fewer indices along the
       dimensions before the first transformed one, or a smaller batch of a convolution. The time of a shape is the
       median of 5 rounds of a few milliseconds, interleaved with those of the other shapes and measured by the host's
       clock; a shape that takes more than twice as long as the estimated one is not timed again. A shape is discarded
       if it does not compile, or if the first and the last MiB of its results differ from those of the estimated shape
       by a relative L2 norm above 3e-6 (f64: 1e-13; f16 in memory: 3e-3). It replaces the estimated shape only if it
       is at least 1 % faster.

       Memory. Measuring uses two buffers, and for convolutions a third one for the spectrum, which are released before
       the call returns. Each has at most 1 GiB or an eighth of the device's memory, whichever is less; the spectrum of
       an f64 convolution may have twice that. If Bluestein's algorithm takes several kernels, each shape of a kernel
       has its own tables, which have the same limit together. A kernel keeps its estimated shape if these buffers
       cannot be allocated, if the reduced arrays need more memory, and on the dummy backend.

       Results are kept in the context and, across runs of the program, in vd_context_desc.cache_directory. They are
       identified by the device, the driver and the kind of kernel, with the number of transforms rounded to a power of
       two. vd_fft_explain lists the times.

       VKDISPATCH_FFT_FACTORS sets the shapes of kernels. It holds one shape or several, separated by commas, in the
       form that vd_fft_explain prints after "shape": radices/threads/transforms/slices.

           r16x16x16/256/1/1

       field         meaning
       -----         -------
       prefix        optional. r: use the shape only for rows; c: only for columns; b: only for Bluestein's algorithm in
                     one kernel
       radices       in order, those of the first axis before those of the next. Primes from 37 to 127, possible with
                     a single axis, are direct stages. They cannot be the first or the last stage: add a radix of 1,
                     whose stage only loads or stores. + instead of x before a radix: its stage receives its values
                     in registers instead of shared memory. Possible at the first radix of an axis and, on llvmpipe,
                     within an axis
       threads       of one transform
       transforms    of one work-group
       slices        0: exchanges pass real and imaginary parts together; 1, 2 or 4: one after the other, each in this
                     many slices

       p4 in place of a shape: where possible, convolutions of images and cubes transform their first axis in 4 parts (1
       to 32).

       A shape applies to every kernel whose transforms have as many elements as the product of the radices. With
       prefix b, it applies to every kernel that computes Bluestein's algorithm alone and for which convolutions of as
       many elements suffice; the convolutions then have this length. If a shape is invalid for one of its kernels,
       making the plan fails with VD_ERROR_INVALID, and the error states the reason.

   Hooks
       A load hook changes each element that a plan reads before it is transformed; a store hook changes each result
       before it is stored. Hooks are C functions that record a part of the kernel with the builder, so a window, a
       mask, a conversion or a magnitude costs no extra pass over memory. For shape { batch, n }, where dimension 1 is
       transformed:

           static void window(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
               vc_val w = vc_load(((struct mine *)user)->window, at->coordinate[1]);
               (void)k;
               v->re = vc_mul(v->re, w);
               v->im = vc_mul(v->im, w);
           }

       * Arguments. desc.hook_declare is called once for each kernel that contains hooks, and while the plan is made,
         to check the hooks. It declares buffers and parameters, and stores their refs and values in the struct that
         hook_user points to. vd_fft_run binds them by name; vd_fft_arguments lists them.
       * If a load hook does not use the element, nothing is read, and vd_fft_io.in may be {0}.
       * If a store hook sets re and im to (vc_val){0}, nothing is stored, and vd_fft_io.out may be {0}; this does not
         mean in place.
       * A load hook may run more than once for an element, in several invocations. It must have no effects except
         vc_printf. A store hook runs once for each element.
       * If the elements are real, im is 0 on entry and ignored on return. For VD_FFT_REAL, vd_fft_point is the position
         in the array that is read or written: the array of reals or the array of bins.
       * Hooks run in divergent control flow: they must not use barriers, work-group collectives or vc_return_if. Use
         vc_select or VC_IF.

   Transforms inside of kernels
       vd_fft_group_create makes a complex transform of a length without prime factors above 31 that fits into a
       work-group. vd_fft_group_begin and vd_fft_group_transform record it into a kernel of the caller, which computes
       the inputs in registers and uses the results there: a spectrogram, a filter between transform and inverse, or a
       search for peaks takes one kernel. See the declarations for an example.

   Convolutions
       vd_convolve_create makes a plan from the shapes of signal and filter, the kind and the mode.
       vd_convolve_set_filter transforms the filter once. vd_convolve_run convolves signals with it. With the signal x
       and the filter f:

       kind           result y[n]
       ----           ----
       CONVOLUTION    sum over m of x[n - m] f[m]
       CORRELATION    sum over m of x[n + m] conj(f[m])

       Along each dimension, for a signal of N elements and a filter of F elements (division rounds down):

       mode        results     first n of a convolution   of a correlation   x outside of the signal   requires
       ----        -------     ------------------------   ----------------   -----------------------   --------
       CIRCULAR    N           0                          0                  periodic                  F <= N
       CENTRED     N           (F - 1) / 2                -(F / 2)           periodic                  F <= N
       FULL        N + F - 1   0                          1 - F              0                         -
       SAME        N           (F - 1) / 2                -(F / 2)           0                         -
       VALID       N - F + 1   F - 1                      0                  not used                  F <= N

       Groups. A run convolves `batch` groups of signals with the same filters or, with filter_per_group, each group
       with its own filters. A group has `channels` signals and `filters` results. Result i is the sum over all
       channels c of signal c convolved with filter [i][c]. In memory:

       signals    [batch][channels][shape]
       filters    [filters][channels][filter_shape]; with filter_per_group [batch][filters][channels][filter_shape]
       results    [batch][filters][shape of a result]

       Map. With desc.map, code of the caller replaces the product. It is recorded into the kernel between the transform
       and the inverse transform. Its arguments, buffers and values, are passed by vd_convolve_run_io. The results are
       the inverse transform of the values that it sets, divided by the number of elements of the transform:

           static void low_pass(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
               vc_val gain = vc_load(((struct mine *)user)->gains, at->coordinate[1]);
               (void)k;
               v->re = vc_mul(v->re, gain);
               v->im = vc_mul(v->im, gain);
           }

       A map requires one channel, one filter, the kind CONVOLUTION, the mode CIRCULAR or FULL (which pads with zeros to
       the period of filter_shape), and no spectrum_hook. The rules of hooks apply (see Hooks). Real signals are
       transformed as complex ones, and the real parts of the results are stored.

       Period. The product of two spectra is the spectrum of a circular convolution, whose period is the length of the
       transforms. In the periodic modes (CIRCULAR, CENTRED) the period is N. In the others it is the smallest length
       without prime factors above 7 that is at least N + F - 1 (FULL), N + F / 2 (SAME) or N (VALID), so that no result
       depends on the periodic continuation. Nussbaumer's algorithm (see below) has another period along the last
       dimension: twice a length without prime factors above 7, and at least N + F - 1 in FULL and in the periodic
       modes.

       Dispatches of vd_convolve_run. vd_convolve_explain prints one line for each:

       signals                                                          dispatches
       -------                                                          ----------
       one dimension that fits into a work-group                        1
       one dimension that does not                                      2 for each kernel of its length (see Lengths)
       images and cubes of up to 16384 elements that fit into a
           work-group, on a GPU, in a periodic mode                     1
       other images and cubes, if part of the first axis is
           transformed together with the last one (see below)           3
       other images whose dimensions fit into a work-group              3
       other cubes whose dimensions fit into a work-group               5

       A dimension fits into a work-group if its period has no prime factors above 127 and its elements fit. The
       dispatch in the middle transforms the first axis, multiplies by the spectrum of the filter and computes the
       inverse transform of the first axis. If a dimension of an image or cube does not fit, it takes two dispatches for
       each kernel of its length. On a GPU, part of the first axis is transformed together with the last one if the cost
       model estimates this to be faster; only the rest of the first axis has to fit then. Zeros around the signal are
       not read. The inverse transforms compute only elements on which the output depends.

       With several channels or filters, the product takes one more dispatch if no dispatch can transform the first axis
       or a part of it.

       For real convolutions, the first row that applies determines the transforms. N is the length of the last
       dimension:

       case                                                      transforms along the last dimension
       ----                                                      -----------------------------------
       pack_rows, batch above 1, no filter_per_group, no map     complex, two groups as real and imaginary part
       spectrum_hook or map                                      complex, imaginary part 0
       FULL, SAME or VALID, or N has a prime factor above 31     complex, of half the period (Nussbaumer)
       several dimensions in more than one dispatch, N above 2   real, half spectra
       all others                                                complex, imaginary part 0

   Fragments
       A fragment is a callback that records a part of a kernel: map, combine, keep or bin of the plans below. Its
       function `build` receives a vd_fragment_io and must set io->out:

           static void weighted(vc_kernel *k, vd_fragment_io *io, void *user) {
               vc_val w = vc_load(((struct mine *)user)->weights, io->index);
               (void)k;
               io->out = vc_mul(io->in[0], w);
           }

       field                  in[0]           in[1]                       index         out
       -----                  -----           -----                       -----         ---
       map of a reduction     element         VD_REDUCE_DOT: element of   in C order    type of the elements; for
                                              the second input            of the shape  VD_REDUCE_ANY, _ALL also bool
       map of a scan          element         -                           -             type of the elements
       map of top-k           element         -                           in the row    type of the elements
       combine                first operand   second operand              -             type of the operands
       keep of a compaction   element         -                           -             bool
       bin of a histogram     element         -                           -             a number

       * If the elements have less than 32 bits, combine receives f16 operands as f32 and integers as 32-bit integers,
         and must return that type. A map may return either width, but with VD_REDUCE_ANY and VD_REDUCE_ALL only the
         type of the elements or bool. The operation of a reduction or scan is computed in 32 bits; only its results are
         converted to the type of the elements.
       * If out is an immediate of another type, it is converted to the accepted type: the wider one if a map may return
         two widths, and bool with VD_REDUCE_ANY and VD_REDUCE_ALL. The bin of a histogram is not converted.
       * `build` is called several times while the plan is made, and the recorded code may run more than once for an
         element. It must have no effects except those of vc_printf and vc_assert.
       * Arguments. Of the plans of this library, only the map of a reduction can have arguments. Its `declare` is
         called before `build`; it declares buffers and parameters, and stores their refs and values in the struct that
         `user` points to. vd_reduce_run_io binds them by name; vd_reduce_arguments lists them.
       * Fragments run in divergent control flow: they must not use barriers, work-group collectives or vc_return_if.
         Use vc_select or VC_IF.

   Reductions
       vd_reduce_create makes a plan from a shape, the axes to reduce, an operation, and optionally a map that is
       applied to each element. vd_reduce_run records one dispatch; if several work-groups share a result, the last of
       them to finish combines their partial results. vd_reduce_op lists the operations with their types. desc.combine
       replaces the operation by a fragment. With desc.segments, each segment of a one-dimensional array is reduced; a
       buffer holds the index at which each segment begins, as in CSR matrices. vd_reduce_run_io passes all buffers and
       arguments.

       Reproducibility. Runs of a plan on one device return the same bits if their inputs have the same alignment
       (address modulo 16 bytes). Other plans or devices may combine elements in another order.

       Speed. On a GPU, inputs whose address is a multiple of 16 bytes are loaded as vectors if the shape allows it, but
       not with segments, and VD_BOOL only in short rows. Many short rows pass through shared memory there;
       BENCHMARKS.md compares the times with those of a copy.

       Accuracy. Let eps be 2^-23 for f32 and for f16, which is computed in f32, and 2^-52 for f64. Sums, dot products
       and squared norms of n >= 2 floats have an error of at most 4 eps log2(n) times the sum of the magnitudes of the
       terms, and means of 4 eps log2(n) times the mean magnitude, before the result is rounded to its type. Variances
       are computed from the differences between the elements and the first one: for f32 elements around 10^6 with a
       standard deviation of 1, the relative error is at most 1e-5.

   Scans
       vd_scan_create makes a plan for prefix sums (scans) along one axis. vd_compact_create makes a plan that copies
       the elements that a fragment selects, in order. vd_scan_run runs both.

       method                   kernels                                        sums of floats
       ------                   -------                                        --------------
       VD_SCAN_ONE_PASS         one, with decoupled look-back: a work-group    may differ in the last bits between runs
                                waits for work-groups that began before it
       VD_SCAN_THREE_KERNELS    three; elements are read twice                 the same bits in every run
       VD_SCAN_DEFAULT          one pass if vd_facts.forward_progress, else three kernels

       For rows that fit into one work-group, and along axes other than the last one, no work-group has to wait, and
       both methods use the same kernels.

   Sorting and counting
       Sorting. vd_sort_create makes a plan for keys of any scalar number type, alone or with values. The sort is
       stable, ascending or descending. It is a radix sort from the least significant digit on, with digits of 4 or 8
       bits. Each digit takes a kernel that counts, a scan of the counts (see Scans) and a kernel that moves the keys.
       In one pass, which vd_sort_desc.method selects on GPUs, one kernel counts all digits, and then each digit takes
       one kernel. Floats are ordered by their bits; the ascending order is: NaN with the sign bit, numbers with -0
       before 0, NaN without the sign bit.

       Histograms. vd_histogram_create makes a plan that counts how many elements fall into each bin.

       Top-k. vd_top_k_create makes a plan for the k largest or smallest elements of each row and their indices, in one
       dispatch. The results are sorted, the largest (or smallest) first; elements with the same bits are in order of
       their index. -0 is smaller than 0. NaN comes last in both orders.

   Libraries on top
       The plans of this header are written with public functions, vd_plan_*. Another library can use them to offer
       plans of the same form; examples/multigrid.c is such a library. A library defines a desc, an io, a plan, and a
       constant that describes the kind of plan. This one copies `in` to `out` and applies a fragment to each element:

           typedef struct scale_desc { const char *name; uint64_t count; vd_fragment map; } scale_desc;
           typedef struct scale_io { vd_buffer in, out; const vd_named_arg *args; int arg_count; } scale_io;
           typedef struct scale {
               vd_plan base;
               uint64_t count;
               vd_plan_fragment map;
               vd_plan_kernel kernel;
           } scale;
           enum { IN, OUT, ROLES };

           static vd_result scale_make(void *plan, const void *desc) {
               scale *p = plan;
               const scale_desc *d = desc;
               if (!d->count) return vd_error_set(VD_ERROR_INVALID, "count is 0");
               p->count = d->count;
               p->map = (vd_plan_fragment){ .name = "map", .code = d->map, .in = { VC_F32 }, .out = VC_F32,
                                            .has_arguments = true };
               vd_result r = vd_plan_fragment_check(&p->base, &p->map);
               if (r) return r;
               vc_kernel *k = vc_begin(&(vc_kernel_desc){ .name = p->base.name, .machine = vd_machine(p->base.ctx) });
               vc_ref in = vd_plan_kernel_buffer(&p->kernel, k, IN, "in", VC_F32, VC_READ);
               vc_ref out = vd_plan_kernel_buffer(&p->kernel, k, OUT, "out", VC_F32, VC_WRITE);
               vd_plan_kernel_fragment(&p->kernel, k, &p->map);
               vc_val none = { 0 };
               VC_EACH(k, i) {
                   vc_val x = vc_load(in, i);
                   vc_store(out, i, d->map.build ? vd_plan_fragment_build(&p->map, k, x, none, none) : x);
               }
               return vd_plan_kernel_build(&p->base, &p->kernel, k);
           }

           static const vd_plan_kind scale_kind = { .name = "scale", .size = sizeof(scale),
                                                    .desc_size = sizeof(scale_desc), .make = scale_make };

           static vd_result scale_record(void *plan, vd_list *list, const void *user_io) {
               scale *p = plan;
               const scale_io *u = user_io;
               vd_plan_role roles[ROLES] = {
                   { .name = "in", .buffer = u->in, .type = VD_F32, .count = p->count },
                   { .name = "out", .buffer = u->out, .type = VD_F32, .count = p->count, .writes = true }
               };
               vd_plan_io io = { .roles = roles, .role_count = ROLES, .args = u->args, .arg_count = u->arg_count };
               vd_result r = vd_plan_check(&p->base, &io);
               return r ? r : vd_plan_dispatch(list, &p->kernel, &io, &(vd_dispatch_desc){ .threads = { p->count } });
           }

           scale *scale_create(vd_context *ctx, const scale_desc *desc) {
               return vd_plan_create(ctx, &scale_kind, "scale_create", desc);
           }
           void scale_destroy(scale *p) { vd_plan_destroy(p); }
           vd_result scale_run(scale *p, vd_list *list, const scale_io *io) {
               return vd_plan_run(p, "scale_run", scale_record, list, io);
           }

       task                               function                            checks
       ----                               --------                            ------
       create and destroy a plan          vd_plan_create, vd_plan_destroy     ctx and desc are not NULL
       create its buffers and kernels     vd_plan_buffer,
                                          vd_plan_kernel_build                number of arguments of a kernel
       use fragments of the caller        vd_plan_fragment_check, _build      result, control flow, arguments
       declare arguments of its kernels   vd_plan_kernel_buffer, _fragment    -
       run it                             vd_plan_run                         plan and io are not NULL; the list belongs
                                                                              to the plan's context, which exists
       check buffers and arguments        vd_plan_check                       handles, sizes, types, overlap; each
                                                                              argument is passed exactly once
       record a dispatch                  vd_plan_dispatch                    as vd_dispatch
       offer functions without a plan     vd_plan_run_cached                  as vd_plan_create and vd_plan_run
       choose by measuring                vd_plan_tune                        the tuner; results of the choices

       Tuning. The best tile size or number of elements per thread depends on the device. vd_plan_tune, which a
       library calls while it makes a plan, times kernels and finds the fastest choice; VD_FFT_MEASURE uses it too. The
       library describes the choice with a vd_plan_tuner. `propose` lists the choices, the default first, and may add
       variants of the fastest one; `build` makes the kernels of a choice; `record` records a run of them; `prepare`
       fills the input buffers and states where the results are; a choice with other results than the default is
       discarded. The fields of the tuner are the key of the timings, together with its name, the name of the kind of
       plan, the device and its driver: plans with the same key measure once, and vd_context_desc.cache_directory keeps
       the timings between runs of a program. Arguments of fragments are known only in a run: to measure kernels with
       such fragments, `record` sets vd_plan_io.values itself.

       Ownership. A plan owns its struct, which vd_plan_create allocates and zeroes, its buffers and its kernels.
       kind->release frees all other objects of the plan, such as other plans. If the context is destroyed first, the
       buffers and kernels of the plan are destroyed with it, plan->ctx becomes NULL, and vd_plan_run fails with
       VD_ERROR_INVALID.

       Errors. Functions of the library set the reason with vd_error_set and return its code. vd_plan_create and
       vd_plan_run add their argument `call` and the name of the plan: "scale_run 'scale': argument 'gain' is missing".
       Until they return, they delay callbacks as vd_callback_scope_begin does.

       Other useful functions are in vkdispatch.h: vd_context_attach stores other data in a context, vd_cache_load and
       vd_cache_store keep other data between runs of a program, vd_list_watch reports whether a list was submitted,
       and vd_time_ns reads a clock. vc_begin accepts the allocator that vd_context_allocator returns.

   Limits
       elements from the first to the last one of an array of a transform                     2^36
       the same without VD_FEATURE_I64                                                        2^32 - 1
       the same in convolutions, with the engine VkFFT, and of a vd_fft_padded_buffer         2^32 - 1
       elements of all filters of a convolution, or of their spectra                          2^32 - 1
       elements of a transformed axis                                                         2^32 - 1
       elements of vd_fft_shift; above 2^32 - 1 only with VD_FEATURE_I64                      2^38
       elements of an axis of a cosine or sine transform                                      2^31 (DST1: 2^31 - 1)
       transforms along one axis                                                              2^31
       complex numbers of an intermediate buffer (see Lengths)                                2^36
       the same without VD_FEATURE_I64                                                        2^32 - 1
       complex numbers of the tables of a plan: at least 3 n - 1 with Bluestein's algorithm
       over several kernels (see Lengths)                                                     2^32 - 1
       elements of a transform inside of a kernel, on a GPU                                   16384 (f64: 8192)
       elements of a transform inside of a kernel, on a CPU                                   65536
       elements of a reduction; above 2^31 only with VD_FEATURE_I64, and without segments     2^40
       elements of a scan; above 2^31 only with VD_FEATURE_I64                                2^40
       scans along an axis that is not the last one, and the elements of each                 2^32 - 1
       keys of a sort; above 2^31 only with VD_FEATURE_I64                                    2^33
       elements of a compaction, histogram or top-k; above 2^31 only with VD_FEATURE_I64      2^40
       work-groups of a top-k: at least one for each row                                      2^31 - 1
       results of a reduction                                                                 2^31
       segments of a reduction                                                                2^31 - 1
       elements of a result of VD_REDUCE_ARGMIN or _ARGMAX with indices of type VD_U32        2^32 - 2
       elements of a row of top-k with indices of type VD_U32                                 2^31
       channels or filters of a convolution, if vd_facts.max_loop_iterations is not 0         half of this fact
       dimensions of a convolution                                                            3
       dimensions of a transform, reduction, scan or top-k                                    4
       arguments of the hooks or of the fragments of a plan                                   16
       arguments of vd_convolve_desc.map                                                      13
       bytes of the name of an argument                                                       63
       bins of a histogram                                                                    2^31
       k of top-k                                                                             1024

       A call that makes a plan beyond these limits fails with VD_ERROR_UNSUPPORTED. A device can have lower limits:
       max_buffer_bytes, the invocations and shared memory of a work-group and, for scans with VD_SCAN_THREE_KERNELS
       and for top-k, vd_facts.max_loop_iterations. If this fact is not 0 (llvmpipe terminates longer loops), scans and
       sorts with VD_SCAN_ONE_PASS, and scans along an axis that is not the last one, may take several dispatches.

   References
       These publications describe the algorithms:

       mixed radix           Van Loan, Computational Frameworks for the FFT, 1992 (Stockham autosort order)
       several kernels       Bailey, FFTs in external or hierarchical memory, 1990 (the four-step algorithm)
       Bluestein's           Bluestein, A linear filtering approach to the computation of discrete Fourier transform,
       algorithm             1970
       real transforms       Sorensen, Jones, Heideman, Burrus, Real-valued fast Fourier transform algorithms, 1987
       cosine and sine       Makhoul, A fast cosine transform in one and two dimensions, 1980
       transforms            Chan, Ho, Direct methods for computing discrete sinusoidal transforms, 1990
       real convolutions     Nussbaumer, Fast Fourier Transform and Convolution Algorithms, 1982
       variances             Chan, Golub, LeVeque, Updating formulae and a pairwise algorithm for computing sample
                             variances, 1979
       scans                 Hillis, Steele, Data parallel algorithms, 1986 (in a work-group)
                             Merrill, Garland, Single-pass parallel prefix scan with decoupled look-back, 2016
       sorts                 Satish, Harris, Garland, Designing efficient sorting algorithms for manycore GPUs, 2009
                             Ashkiani, Davidson, Meyer, Owens, GPU multisplit, 2016
                             Adinets, Merrill, Onesweep: a faster least significant digit radix sort for GPUs, 2022
       top-k                 Alabi, Blanchard, Gordon, Steinbach, Fast k-selection algorithms for graphics
                             processing units, 2012
                             Batcher, Sorting networks and their applications, 1968 (bitonic sort of the results)

   Errors
       Functions that make a plan return NULL on failure; vd_error_result() is the code. Functions that record return a
       vd_result. vd_error_text() describes the failure in one sentence.

       VD_ERROR_INVALID             an argument or desc is wrong
       VD_ERROR_UNSUPPORTED         a length, size or type that the device or this header does not support
       VD_ERROR_COMPILE             a hook records invalid code (for fragments: VD_ERROR_INVALID)
       VD_ERROR_OUT_OF_MEMORY, VD_ERROR_OUT_OF_DEVICE_MEMORY and the other errors of vkdispatch.h are possible too.

       vd_fft_run compiles all kernels that it needs before it records the first one: if a compilation fails, the list
       is unchanged.

   Memory
       Host memory, including that of kernels while they are recorded, comes from the context's allocator. The caller
       destroys each plan that it made; the context destroys its cached plans. After its context was destroyed, running
       a plan fails with VD_ERROR_INVALID. vd_fft_explain and the other queries still work, but vd_fft_memory and
       vd_convolve_memory return 0, and vd_fft_source and vd_convolve_source fail. Destroying the plan releases its
       host memory, for which the allocator must still be valid.

   Threads
       operation                                    externally synchronised by
       ---------                                    --------------------------
       record a plan (run, set the filter)          the plan and the list
       explain, query, destroy a plan               the plan
       vd_fft_group_begin, _slot, _spectrum_slot,
           _transform                               the group and the kernel
       vd_fft_group_query, _destroy                 the group
       make plans and groups                        nothing: several threads may make plans of one context
       functions without a plan                     nothing; calls that use the same cached plan run one at a time

   Versions
       New versions add fields only at the end of descs and infos, and 0 remains the default of every field of a desc.
       Initialise descs with = {0} in C or = {} in C++. The major versions of the three headers must be equal. */
#ifndef VKDISPATCH_FFT_H
#define VKDISPATCH_FFT_H
#define VKDISPATCH_FFT_VERSION 100 /* major * 10000 + minor * 100 + patch */

#include "vkdispatch.h"
#include "vkdispatch_codegen.h"
#if VKDISPATCH_VERSION / 10000 != VKDISPATCH_FFT_VERSION / 10000 \
    || VKDISPATCH_CODEGEN_VERSION / 10000 != VKDISPATCH_FFT_VERSION / 10000
#error "vkdispatch.h, vkdispatch_codegen.h and vkdispatch_fft.h have different major versions"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- transforms: enums ---- */

typedef struct vd_fft vd_fft; /* a plan */

/* Direction of a run. */
typedef enum vd_fft_direction { VD_FFT_FORWARD = 0, VD_FFT_INVERSE } vd_fft_direction;

/* Normalisation. N is the product, over the transformed axes, of their lengths or, for cosine and sine transforms, of
   the column N of the manual's table. */
typedef enum vd_fft_norm {
    VD_FFT_NORM_DEFAULT = 0, /* divide the inverse by N */
    VD_FFT_NORM_NONE,        /* divide neither direction */
    VD_FFT_NORM_ORTHO        /* divide both directions by sqrt(N) */
} vd_fft_norm;

/* Library whose kernels compute the transforms. */
typedef enum vd_fft_engine {
    VD_FFT_ENGINE_DEFAULT = 0, /* the kernels of this header */
    VD_FFT_ENGINE_VKFFT      /* VkFFT, if VKDISPATCH_VKFFT is defined. Requires the backend vulkan and f32. Supports
                                VD_FFT_COMPLEX, and VD_FFT_REAL if the last dimension is transformed and has at least 2
                                elements; of four dimensions, VD_FFT_REAL must not transform the first. Does not support
                                strides (except between the rows of reals, such as those of `padded`), starts, counts,
                                VD_FFT_NORM_ORTHO and hooks. The inverse of VD_FFT_REAL does not ignore the imaginary
                                parts of the bins 0 and n / 2 at every length: they must be 0. Each combination of
                                input, output and direction is compiled separately; a plan supports at most 8 of them.
                                Where VkFFT does not support a length, running the plan returns VD_ERROR_UNSUPPORTED.
                                vd_fft_destroy waits until the context is idle: lists that contain runs must be
                                submitted before */
} vd_fft_engine;

/* Kind of transform; the manual defines each. */
typedef enum vd_fft_kind {
    VD_FFT_KIND_DEFAULT = 0, /* VD_FFT_COMPLEX */
    VD_FFT_COMPLEX,
    VD_FFT_REAL,             /* forward: reals to half a spectrum; inverse: half a spectrum to reals */
    VD_FFT_DCT1,
    VD_FFT_DCT2,
    VD_FFT_DCT3,
    VD_FFT_DCT4,
    VD_FFT_DST1,
    VD_FFT_DST2,
    VD_FFT_DST3,
    VD_FFT_DST4
} vd_fft_kind;

/* How the shapes of kernels are chosen; see Measuring in the manual. */
typedef enum vd_fft_rigor {
    VD_FFT_RIGOR_DEFAULT = 0, /* VD_FFT_ESTIMATE */
    VD_FFT_ESTIMATE,          /* by a cost model and tables; nothing is timed */
    VD_FFT_MEASURE,           /* by timing up to 16 shapes of each kernel */
    VD_FFT_PATIENT            /* by timing up to 40 shapes of each kernel */
} vd_fft_rigor;

/* ---- transforms: hooks ---- */

/* The element that a hook is called for. */
typedef struct vd_fft_point {
    vc_val index;            /* u32: index of the element in C order of the shape, modulo 2^32, independent of strides
                                and counts. Load hooks are called only for elements within in_start and in_count */
    vc_val coordinate[4];    /* u32: index along each dimension; 0 for dimensions that the shape does not have */
    vd_fft_direction direction; /* direction of the run */
} vd_fft_point;

/* Value of an element: scalars of type vd_fft_desc.type. */
typedef struct vd_fft_value { vc_val re, im; } vd_fft_value;

/* Records code that computes a new *value. user: vd_fft_desc.hook_user. */
typedef void (*vd_fft_hook)(vc_kernel *k, const vd_fft_point *at, vd_fft_value *value, void *user);

/* ---- transforms: plans ---- */

/* in_stride, in_type, in_start and in_count describe vd_fft_io.in; the same fields with out_ describe vd_fft_io.out.
   Exception: for VD_FFT_REAL, in both directions, those with in_ describe the reals, and those with out_ the half
   spectrum. */
typedef struct vd_fft_desc {
    const char *name;        /* for messages; copied; default: "fft" */
    uint64_t shape[4];       /* elements along each dimension; for VD_FFT_REAL those of the array of reals. Trailing
                                zeros: fewer dimensions. Required */
    uint32_t axes;           /* bit i: dimension i is transformed; the others are batches. Default: the last
                                dimension */
    vd_fft_norm norm;        /* default: the inverse is divided by N */

    /* Distance from one index of a dimension to the next, in elements; set for all dimensions or for none. Default: C
       order without gaps, with as many elements along each dimension as exist in memory (in_count). Out of place,
       elements of the input may share memory: shape { frames, 256 } with in_stride { 64, 1 } reads overlapping frames
       of a signal. */
    uint64_t in_stride[4], out_stride[4];

    vd_type type;            /* type of the arithmetic and the tables: VD_F32 or VD_F64; default: VD_F32 */
    vd_type in_type, out_type; /* types of real and imaginary parts in memory: VD_F16, VD_F32 or VD_F64; default:
                                  type */

    /* The indices of each transformed dimension that exist in memory: start … start + count - 1, of which `start` is
       the first in memory. Elements at other indices are read as 0 and are not written. Default: from 0; to the end. */
    uint64_t in_start[4], out_start[4];
    uint64_t in_count[4], out_count[4];

    vd_fft_engine engine;    /* default: the kernels of this header */
    vd_fft_hook load, store; /* called in both directions; default: none */

    /* Declares the arguments of the hooks: at most 16, with different names of 1 to 63 bytes. Requires load or store.
       Default: no arguments. */
    void (*hook_declare)(vc_kernel *k, void *user);

    void *hook_user;         /* passed to the functions above when a kernel is recorded, by vd_fft_create, vd_fft_run
                                and vd_fft_source; must live as long as the plan */
    vd_fft_kind kind;        /* default: VD_FFT_COMPLEX */
    bool padded;             /* VD_FFT_REAL along the last dimension: each row of reals is padded to the size of its
                                bins in memory (n / 2 + 1, or those that out_start and out_count select), as transforms
                                in place require; in_stride must be zeros. Default: rows without padding */
    vd_fft_rigor rigor;      /* ignored by other engines; default: VD_FFT_ESTIMATE */
    bool pack_rows;          /* real kinds of odd length: transform two rows of the batch as the real and imaginary part
                                of one complex row, which halves the arithmetic. The two rows are then not independent:
                                the rounding errors of each are proportional to the larger of the two, a NaN or an
                                infinity in one spreads to the other, and equal rows may have results with different
                                bits. No effect on even lengths, on VD_FFT_DCT1 and _DST1, and on axes that take several
                                kernels. Default: each row is computed from its own elements only */
} vd_fft_desc;

/* An argument of a hook or fragment, by name: { "window", vd_b(buffer) }. */
typedef struct vd_named_arg { const char *name; vd_arg value; } vd_named_arg;

/* Buffers of a run: `in` is read and `out` is written, in both directions. For the inverse of VD_FFT_REAL, `in` holds
   the bins and `out` the reals.
   - Their vd_buffer_desc.type is ignored.
   - Each must contain all elements that the desc describes.
   - Each must begin at a multiple of the size of a complex number of in_type or out_type, also for the reals of
     VD_FFT_REAL; for cosine and sine transforms, at a multiple of the size of one real.
   - They must be the same memory or not overlap. */
typedef struct vd_fft_io {
    vd_fft_direction direction; /* default: VD_FFT_FORWARD */
    vd_buffer in;            /* {0} only if the load hook does not use the elements */
    vd_buffer out;           /* {0} or the same memory as in: transform in place. This requires equal counts, strides
                                and types, or for VD_FFT_REAL, rows of reals that begin at the same bytes as their bins
                                (desc.padded) */
    const vd_named_arg *args; /* all arguments of the hooks, in any order, each exactly once */
    int arg_count;           /* number of args */
} vd_fft_io;

/* Makes a plan and its tables. Returns NULL on failure. The tables of real, cosine and sine transforms have as many
   elements as the axes and are computed on the host, which takes seconds for 2^27 elements. */
VD_API vd_fft *vd_fft_create(vd_context *ctx, const vd_fft_desc *desc);

/* Destroys a plan (see Plans). NULL is allowed. */
VD_API void vd_fft_destroy(vd_fft *plan);

/* Records a transform into a list of the plan's context. Compiles kernels if this is the first run in this direction,
   or the first in place. */
VD_API vd_result vd_fft_run(vd_fft *plan, vd_list *list, const vd_fft_io *io);

/* Returns a text with one line for each kernel of a plan, and the measured times. For real, cosine and sine transforms,
   the kernels of the inverse follow after a line "inverse:"; the lines of complex transforms apply to both
   directions. Valid until the plan is destroyed; "" if plan is NULL. */
VD_API const char *vd_fft_explain(vd_fft *plan);

/* A kernel of a plan. */
typedef struct vd_fft_step {
    vd_fft_direction direction; /* of the run; convolutions have only VD_FFT_FORWARD. Default: VD_FFT_FORWARD */
    uint32_t number;         /* from 0 on for each direction, in the order of vd_fft_explain */
    bool in_place;           /* of a run in place, which convolutions do not have. Default: of a run out of place */
} vd_fft_step;

/* Returns the source text of a kernel. target: VC_TARGET_GLSL, VC_TARGET_CUDA or VC_TARGET_OPENCL, on any backend. The
   kernel is recorded again, so hooks are called; nothing is compiled. Valid until the next call with this plan, or
   until the plan is destroyed. Returns NULL on failure: the step or target does not exist, the plan cannot run in
   place, the target was omitted by VKDISPATCH_NO_… or cannot express the kernel, the context was destroyed, or the
   engine is VkFFT. */
VD_API const char *vd_fft_source(vd_fft *plan, const vd_fft_step *step, vc_target target);

/* Returns the device memory that a plan owns, tables and intermediate buffers, in bytes; 0 if plan is NULL or its
   context was destroyed. Memory that VkFFT allocates is not included. */
VD_API uint64_t vd_fft_memory(const vd_fft *plan);

/* Returns the arguments that hook_declare declared, with name, kind, type and access; *count receives their number,
   unless count is NULL. The array belongs to the plan. Returns NULL if plan is NULL. */
VD_API const vd_arg_info *vd_fft_arguments(const vd_fft *plan, int *count);

/* ---- transforms without a plan (see Plans) ---- */

/* Transform the last axis of a buffer of type VD_F32C or VD_F32X2, in place. Trailing dimensions of 1 do not count,
   here and in the functions below. */
VD_API vd_result vd_fft_forward(vd_context *ctx, vd_buffer buffer);
VD_API vd_result vd_fft_inverse(vd_context *ctx, vd_buffer buffer);

/* Transform the last two or three axes; missing dimensions of the buffer count as 1. */
VD_API vd_result vd_fft_2d(vd_context *ctx, vd_buffer buffer, vd_fft_direction direction);
VD_API vd_result vd_fft_3d(vd_context *ctx, vd_buffer buffer, vd_fft_direction direction);

/* Real transforms along the last axis, out of place. reals: type VD_F32; its shape is that of the transform. bins:
   n / 2 + 1 complex numbers of f32 for each row of n reals; its type is ignored. */
VD_API vd_result vd_fft_real_forward(vd_context *ctx, vd_buffer reals, vd_buffer bins);
VD_API vd_result vd_fft_real_inverse(vd_context *ctx, vd_buffer bins, vd_buffer reals);

/* Rotates an array so that index 0 moves to index n / 2 (rounded down) along the dimensions in the bit mask `axes` (0:
   all dimensions; a buffer has four, of which the last ones may have length 1). VD_FFT_INVERSE moves it back. Elements
   have 4, 8 or 16 bytes; in and out must not overlap. */
VD_API vd_result vd_fft_shift(vd_context *ctx, vd_buffer in, vd_buffer out, uint32_t axes, vd_fft_direction direction);

/* ---- helpers for transforms ---- */

/* Writes the frequencies of the n bins of a complex transform to out, in the order of the bins: 0, 1, …, -2, -1,
   divided by n * spacing. spacing: distance between samples; the unit of the frequencies is its reciprocal. out: n
   numbers; NULL: does nothing. */
VD_API void vd_fft_freq(uint64_t n, double spacing, double *out);

/* Returns the smallest length of at least n without prime factors above 7, which are the fastest; 0 if it exceeds 64
   bits. For VD_FFT_DCT1, n - 1 should be such a length, and for VD_FFT_DST1, n + 1. */
VD_API uint64_t vd_fft_good_size(uint64_t n);

/* Memory for real transforms in place with desc.padded: two buffers that are views of the same bytes. */
typedef struct vd_fft_padded_buffer {
    vd_buffer reals;         /* VD_F32; last dimension 2 (n / 2 + 1): n reals and padding */
    vd_buffer bins;          /* VD_F32C; last dimension n / 2 + 1 */
    uint64_t shape[4];       /* shape of the reals without padding; trailing zeros: fewer dimensions */
} vd_fft_padded_buffer;

/* Creates both buffers for reals of this shape, whose trailing zeros mean fewer dimensions. */
VD_API vd_result vd_fft_padded_buffer_create(vd_context *ctx, const uint64_t shape[4], vd_fft_padded_buffer *out);

/* Destroys both buffers. */
VD_API void vd_fft_padded_buffer_destroy(vd_context *ctx, vd_fft_padded_buffer *rows);

/* Copy all reals from or to an array on the host, which has no padding. Read and write bins with vd_buffer_read and
   vd_buffer_write. */
VD_API vd_result vd_fft_padded_buffer_write(vd_context *ctx, const vd_fft_padded_buffer *rows, const float *data);
VD_API vd_result vd_fft_padded_buffer_read(vd_context *ctx, const vd_fft_padded_buffer *rows, float *data);

/* ---- transforms inside of a kernel of the caller ---- */

/* A complex transform that the invocations of a work-group compute together, in registers and shared memory. The caller
   records it into a kernel, between code that computes its inputs and code that uses its results:

       vd_fft_group_desc desc = {0};
       desc.n = 1024;
       vd_fft_group *fft = vd_fft_group_create(ctx, &desc);
       vd_fft_group_info info;
       vd_fft_group_query(fft, &info);
       vc_kernel_desc kernel_desc = {0};
       kernel_desc.machine = vd_machine(ctx);
       kernel_desc.local_size[0] = info.invocations;
       vc_kernel *k = vc_begin(&kernel_desc);
       vc_ref samples = vc_buffer(k, "samples", VC_F32, VC_READ), bins = vc_buffer(k, "bins", VC_F32X2, VC_WRITE);
       vd_fft_group_begin(fft, k);
       vc_val first = vc_mul(vc_group_id(k, 0), vc_u32(1024)); // a row for each work-group
       vd_fft_value x[VD_FFT_GROUP_VALUES];
       for (uint32_t i = 0; i < info.values; i++) {
           vd_fft_slot s = vd_fft_group_slot(fft, i);
           x[i].re = vc_load(samples, vc_add(first, s.index));
           x[i].im = vc_f32(0);
       }
       vd_fft_group_transform(fft, VD_FFT_FORWARD, x);
       for (uint32_t i = 0; i < info.values; i++) {
           vd_fft_slot s = vd_fft_group_spectrum_slot(fft, i);
           VC_IF(k, s.exists) { vc_store(bins, vc_add(first, s.index), vc_vec2(x[i].re, x[i].im)); }
       }

   The arguments of this kernel are samples, bins and info.table. An invocation holds elements of the signal and, after
   the forward transform, elements of the spectrum, whose indices differ from those of its signal elements. The inverse
   transform expects the spectrum as the forward transform leaves it, and leaves the signal as the forward transform
   expects it, so that values can be changed between them in registers. Neither direction is divided. */
typedef struct vd_fft_group vd_fft_group;

enum { VD_FFT_GROUP_VALUES = 64 }; /* maximum of vd_fft_group_info.values */

typedef struct vd_fft_group_desc {
    const char *name;        /* of the kernel argument for the table, and of the group in messages; copied; default:
                                "fft_table" */
    uint32_t n;              /* length, without prime factors above 31; it must fit into a work-group. Required */
    uint32_t transforms;     /* maximum number of transforms of a work-group; default: 1 */
    vd_type type;            /* VD_F32 or VD_F64; default: VD_F32 */
} vd_fft_group_desc;

typedef struct vd_fft_group_info {
    uint32_t n;
    uint32_t transforms;     /* number of transforms of a work-group, at most that of the desc */
    uint32_t invocations;    /* required product of vc_kernel_desc.local_size */
    uint32_t values;         /* number of values of an invocation, see vd_fft_slot; at most VD_FFT_GROUP_VALUES */
    vd_buffer table;         /* to pass to the kernel; lives until the group is destroyed */
} vd_fft_group_info;

/* Which element of which transform a value is: index of the transform in the work-group, and of the element (u32).
   exists: whether the invocation has this value (bool). If not, index and transform are still within their ranges, but
   another value, possibly of the same invocation, is this element. Compute such values like the others, but do not
   store them. */
typedef struct vd_fft_slot { vc_val transform, index, exists; } vd_fft_slot;

/* Chooses how a work-group of the context's first device computes the transform, and makes a table of twiddle factors.
   Returns NULL on failure. The rules of plans apply to its destruction (see Plans in the manual). */
VD_API vd_fft_group *vd_fft_group_create(vd_context *ctx, const vd_fft_group_desc *desc);
VD_API void vd_fft_group_destroy(vd_fft_group *group);
VD_API vd_result vd_fft_group_query(const vd_fft_group *group, vd_fft_group_info *out);

/* Declares shared memory in the kernel, and the next argument of the kernel: a buffer for the table. Until the next
   vd_fft_group_begin, slots and transforms of this group are recorded into k. */
VD_API vd_result vd_fft_group_begin(vd_fft_group *group, vc_kernel *k);

/* Return which element values[i] is, of the signal or of the spectrum. exists is false if i is too large. On failure,
   return {0}. */
VD_API vd_fft_slot vd_fft_group_slot(vd_fft_group *group, uint32_t i);
VD_API vd_fft_slot vd_fft_group_spectrum_slot(vd_fft_group *group, uint32_t i);

/* Replaces values[0 … info.values - 1] by their transform. Entries for which no invocation has a value are not read or
   written; these may differ between the signal and the spectrum. In a loop, each iteration computes a transform. The
   code contains barriers: all invocations of the work-group must execute it. */
VD_API vd_result vd_fft_group_transform(vd_fft_group *group, vd_fft_direction direction, vd_fft_value *values);

/* ---- convolutions ---- */

typedef struct vd_convolve vd_convolve; /* a plan */

typedef enum vd_convolve_kind {
    VD_CONVOLVE_KIND_DEFAULT = 0, /* VD_CONVOLVE_CONVOLUTION */
    VD_CONVOLVE_CONVOLUTION,      /* y[n] = sum over m of x[n - m] f[m], with the filter f */
    VD_CONVOLVE_CORRELATION       /* y[n] = sum over m of x[n + m] conj(f[m]) */
} vd_convolve_kind;

/* Which results are computed, and how the signal x is continued outside of its elements; the manual has a table. */
typedef enum vd_convolve_mode {
    VD_CONVOLVE_MODE_DEFAULT = 0, /* VD_CONVOLVE_CIRCULAR */
    VD_CONVOLVE_CIRCULAR,          /* periodic; as many results as the signal has elements, from n = 0 on */
    VD_CONVOLVE_CENTRED,           /* periodic; shifted so that the middle of the filter is at the first element of the
                                      signal for the first result */
    VD_CONVOLVE_FULL,              /* continued by zeros; all results that depend on an element of the signal */
    VD_CONVOLVE_SAME,              /* continued by zeros; the results of VD_CONVOLVE_CENTRED */
    VD_CONVOLVE_VALID              /* only results that depend on no element outside of the signal */
} vd_convolve_mode;

typedef struct vd_convolve_desc {
    const char *name;        /* for messages; copied; default: "convolve" */
    uint64_t shape[3];       /* elements of one signal along each dimension; all dimensions are convolved. Trailing
                                zeros: fewer dimensions. Required */
    uint64_t filter_shape[3]; /* elements of one filter; as many dimensions as shape; default: shape */
    vd_convolve_kind kind;   /* default: VD_CONVOLVE_CONVOLUTION */
    vd_convolve_mode mode;   /* default: VD_CONVOLVE_CIRCULAR */
    uint32_t batch;          /* groups of signals; default: 1 */
    uint32_t channels;       /* signals of a group; each is convolved with its own filter, and the results are summed;
                                default: 1 */
    uint32_t filters;        /* results of a group, each with its own `channels` filters; default: 1 */
    vd_type type;            /* type of elements and arithmetic: VD_F32 or VD_F64; default: VD_F32 */
    bool real;               /* signals, filters and results are real; default: complex */
    vd_fft_hook spectrum_hook; /* changes the spectrum of the filter. It is called as a store hook, without arguments,
                                  and must set both parts. at->coordinate[0] is the number of the filter, i * channels +
                                  c, plus filters * channels for each earlier group with filter_per_group; the other
                                  coordinates are the indices along the axes of the transform, whose lengths
                                  vd_convolve_explain prints. Default: none */
    void *hook_user;         /* passed to spectrum_hook, map and map_declare; must live as long as the plan */
    vd_fft_rigor rigor;      /* for the kernels of vd_convolve_run; ignored with map; default: VD_FFT_ESTIMATE */
    bool pack_rows;          /* real convolutions with a batch: transform two groups as the real and imaginary part of
                                one complex signal. This halves the arithmetic of the cases that the manual's table
                                lists as "complex, imaginary part 0". The two groups are then not independent: the
                                rounding errors of each are proportional to the larger of the two, a NaN or an infinity
                                in one spreads to the other, and equal groups may have results with different bits. No
                                effect with filter_per_group or map. Default: each group is computed from its own
                                elements only */
    bool filter_per_group;   /* each group is convolved with its own filters: the filters are an array of
                                [batch][filters][channels][filter_shape]. Default: all groups share the filters */

    /* Replaces the product with the spectrum of a filter: changes the spectrum of the signal between the transform and
       the inverse transform. It is called as a load hook, and must set both parts. at->coordinate[0] is the number of
       the signal; the other coordinates are the indices along the axes of the transform, whose lengths
       vd_convolve_explain prints. The plan has no filter; see Convolutions in the manual. Default: none */
    vd_fft_hook map;

    /* Declares the arguments of map: at most 13, with different names of 1 to 63 bytes, not "in", "out" or "roots".
       Requires map. Default: no arguments. */
    void (*map_declare)(vc_kernel *k, void *user);
} vd_convolve_desc;

/* Buffers of a run, as those of vd_convolve_run, and arguments. */
typedef struct vd_convolve_io {
    vd_buffer in, out;
    const vd_named_arg *args; /* all arguments of desc.map, in any order, each exactly once */
    int arg_count;           /* number of args */
} vd_convolve_io;

/* Makes a plan. Returns NULL on failure. */
VD_API vd_convolve *vd_convolve_create(vd_context *ctx, const vd_convolve_desc *desc);

/* Destroys a plan (see Plans). NULL is allowed. */
VD_API void vd_convolve_destroy(vd_convolve *plan);

/* Writes the shape of one result; 0 for dimensions that it does not have, and zeros if plan is NULL. */
VD_API void vd_convolve_shape(const vd_convolve *plan, uint64_t shape[3]);

/* Records the transform of the filters, an array of [filters][channels][filter_shape] (see filter_per_group). Runs that
   execute later use its spectrum, which the plan stores; runs that execute before the first such transform use filters
   of zeros. If the list is discarded, the previous filters remain set. Each device of a context has its own filters:
   record their transform into a list of each device that runs the plan. The first call for a device must not record
   into a graph: VD_ERROR_UNSUPPORTED. */
VD_API vd_result vd_convolve_set_filter(vd_convolve *plan, vd_list *list, vd_buffer filter);

/* Records the convolution of in, an array of [batch][channels][shape], to out, [batch][filters][shape of a result]. The
   types of the buffers are ignored; the buffers must not overlap. Fails if no filter was set on the device of the list,
   or if all lists that set one were discarded. */
VD_API vd_result vd_convolve_run(vd_convolve *plan, vd_list *list, vd_buffer in, vd_buffer out);

/* Records a convolution with arguments of desc.map. */
VD_API vd_result vd_convolve_run_io(vd_convolve *plan, vd_list *list, const vd_convolve_io *io);

/* Returns the arguments that desc.map_declare declared, as vd_fft_arguments does. */
VD_API const vd_arg_info *vd_convolve_arguments(const vd_convolve *plan, int *count);

/* Returns a text with one line for each kernel of a plan. Valid until the plan is destroyed; "" if plan is NULL. */
VD_API const char *vd_convolve_explain(vd_convolve *plan);

/* Returns the source text of a kernel of vd_convolve_run, as vd_fft_source does. */
VD_API const char *vd_convolve_source(vd_convolve *plan, const vd_fft_step *step, vc_target target);

/* Returns the device memory that a plan owns, including the spectrum of the filters, in bytes; 0 if plan is NULL or its
   context was destroyed. */
VD_API uint64_t vd_convolve_memory(const vd_convolve *plan);

/* Convolves f32 images, the last two dimensions of `image`, with one two-dimensional filter, without a plan (see
   Plans). out has the shape of image. mode: VD_CONVOLVE_CENTRED or VD_CONVOLVE_SAME. */
VD_API vd_result vd_convolve_2d(vd_context *ctx, vd_buffer image, vd_buffer filter, vd_buffer out,
                                vd_convolve_mode mode);

/* ---- fragments ---- */

/* Inputs and result of a fragment. The manual's table lists the fields that are set for each fragment; the others are
   {0}. */
typedef struct vd_fragment_io {
    vc_val in[2];            /* elements or operands */
    vc_val index;            /* u32: index of the element, modulo 2^32 */
    vc_val out;              /* the result, which the fragment must set; {0} on entry */
} vd_fragment_io;

/* Records code that computes io->out. user: vd_fragment.user. */
typedef void (*vd_fragment_build)(vc_kernel *k, vd_fragment_io *io, void *user);

/* Code of the caller in the kernels of a plan; see Fragments in the manual. */
typedef struct vd_fragment {
    vd_fragment_build build; /* default: no fragment */

    /* Declares the arguments of build: at most 16, with different names of 1 to 63 bytes. Allowed only for the map of a
       reduction. Default: no arguments. */
    void (*declare)(vc_kernel *k, void *user);

    void *user;              /* passed to the functions above, which are called only while the plan is made */
} vd_fragment;

/* ---- reductions ---- */

typedef struct vd_reduce vd_reduce; /* a plan */

/* Operations, with the types of elements that they accept. Results have the type of the elements, unless stated
   otherwise; "result float" is f16 for f16, f64 for 64-bit types, and f32 for all others. Integer overflow wraps. f16
   is computed in f32. */
typedef enum vd_reduce_op {
    VD_REDUCE_DEFAULT = 0, /* VD_REDUCE_SUM */
    VD_REDUCE_SUM,         /* numbers */
    VD_REDUCE_PRODUCT,     /* numbers */
    VD_REDUCE_MIN,         /* numbers; ignores NaN; infinity if all elements are NaN */
    VD_REDUCE_MAX,         /* numbers; ignores NaN; -infinity if all elements are NaN */
    VD_REDUCE_AND,         /* integers, VD_BOOL */
    VD_REDUCE_OR,          /* integers, VD_BOOL */
    VD_REDUCE_XOR,         /* integers, VD_BOOL */
    VD_REDUCE_ANY,         /* numbers, VD_BOOL; result VD_BOOL: whether any element is not 0 */
    VD_REDUCE_ALL,         /* numbers, VD_BOOL; result VD_BOOL: whether no element is 0 */
    VD_REDUCE_ARGMIN,      /* numbers; result vd_reduce_desc.index_type: index of the smallest element, in C order of
                              the elements of one result; of equal elements the lowest index. Ignores NaN; all bits 1 if
                              all elements are NaN */
    VD_REDUCE_ARGMAX,      /* the same for the largest element */
    VD_REDUCE_DOT,         /* numbers, two inputs: sum of products. A map replaces the product */
    VD_REDUCE_NORM,        /* numbers; result float: square root of the sum of squares, which may overflow */
    VD_REDUCE_MEAN,        /* numbers; result float */
    VD_REDUCE_VARIANCE     /* numbers; result float: mean of the squared differences from the mean, in one pass without
                              cancellation */
} vd_reduce_op;

typedef struct vd_reduce_desc {
    const char *name;        /* for messages; copied; default: "reduce" */
    vd_reduce_op op;         /* default: VD_REDUCE_SUM; must be 0 with combine */
    vd_type type;            /* type of the elements: a scalar number or VD_BOOL; default: VD_F32 */
    uint64_t shape[4];       /* elements along each dimension, in C order; trailing zeros: fewer dimensions. Required */
    uint32_t axes;           /* bit i: dimension i is reduced; default: all. Results are in C order of the other
                                dimensions */
    vd_fragment map;         /* replaces each element before it is reduced; default: none */
    vd_fragment combine;     /* replaces op: an associative and commutative operation of two elements; default: none */
    vc_val identity;         /* with combine, required: immediate of `type` that combine leaves unchanged, such as
                                vc_f32(1) for a product or vc_f32(INFINITY) for a minimum */
    bool extra_out;          /* write vd_reduce_io.extra_out: VD_REDUCE_ARGMIN, _ARGMAX, _VARIANCE; default: no */
    vd_type index_type;      /* VD_REDUCE_ARGMIN, _ARGMAX: type of the indices, VD_U32 or VD_U64 (VD_FEATURE_I64).
                                Default: VD_U32 or, if each result has more than 2^32 - 2 elements, VD_U64 */
    uint32_t correction;     /* VD_REDUCE_VARIANCE of n elements: delta degrees of freedom. The divisor is
                                n - correction; 0: population variance, 1: sample variance. Must be less than n;
                                default: 0 */
    uint64_t segments;       /* number of segments of a one-dimensional array, each with its own result; less than 2^31.
                                The result of an empty segment is `identity` or, by op: SUM, OR, XOR, DOT and NORM 0;
                                PRODUCT 1; MIN infinity or the largest integer; MAX -infinity or the smallest integer;
                                AND all bits 1; ANY false; AND of VD_BOOL and ALL true; ARGMIN and ARGMAX all bits 1.
                                The mean of an empty segment and the variance of at most `correction` elements are
                                undefined. Default: no segments */
} vd_reduce_desc;

/* Buffers that the plan does not use must be {0}. Inputs may overlap; outputs must not overlap any other buffer. */
typedef struct vd_reduce_io {
    vd_buffer in;            /* the elements */
    vd_buffer in_b;          /* VD_REDUCE_DOT: the elements of the second input */
    vd_buffer out;           /* one result for each index of the dimensions that are not reduced, or for each segment */
    vd_buffer offsets;       /* with segments: segments + 1 VD_U32; segment i has the elements offsets[i] … offsets[i +
                                1] - 1. It is empty if offsets[i + 1] is less than offsets[i]; offsets beyond the last
                                element mean the end of the array */
    vd_buffer extra_out;     /* with desc.extra_out, one for each result: the smallest or largest elements
                                (VD_REDUCE_ARGMIN, _ARGMAX), or the means (_VARIANCE) */
    const vd_named_arg *args; /* all arguments that map.declare declares, in any order, each exactly once */
    int arg_count;           /* number of args */
} vd_reduce_io;

/* Makes a plan; calls the fragments. Returns NULL on failure. */
VD_API vd_reduce *vd_reduce_create(vd_context *ctx, const vd_reduce_desc *desc);

/* Destroys a plan (see Plans). NULL is allowed. */
VD_API void vd_reduce_destroy(vd_reduce *plan);

/* Records a reduction that needs no other buffers and no arguments. */
VD_API vd_result vd_reduce_run(vd_reduce *plan, vd_list *list, vd_buffer in, vd_buffer out);

/* Records a reduction. */
VD_API vd_result vd_reduce_run_io(vd_reduce *plan, vd_list *list, const vd_reduce_io *io);

/* Returns the arguments that map.declare declared, as vd_fft_arguments does. */
VD_API const vd_arg_info *vd_reduce_arguments(const vd_reduce *plan, int *count);

/* Reduce all elements of a buffer of scalars to the first element of `out`, without a plan (see Plans). Types are those
   of vd_reduce_op. vd_reduce_variance computes the population variance and writes the mean to `mean`. The `out` of
   vd_reduce_argmin and vd_reduce_argmax is a buffer of VD_U32, for up to 2^32 - 2 elements, or of VD_U64. */
VD_API vd_result vd_reduce_sum(vd_context *ctx, vd_buffer in, vd_buffer out);
VD_API vd_result vd_reduce_min(vd_context *ctx, vd_buffer in, vd_buffer out);
VD_API vd_result vd_reduce_max(vd_context *ctx, vd_buffer in, vd_buffer out);
VD_API vd_result vd_reduce_any(vd_context *ctx, vd_buffer in, vd_buffer out);
VD_API vd_result vd_reduce_all(vd_context *ctx, vd_buffer in, vd_buffer out);
VD_API vd_result vd_reduce_argmin(vd_context *ctx, vd_buffer in, vd_buffer out);
VD_API vd_result vd_reduce_argmax(vd_context *ctx, vd_buffer in, vd_buffer out);
VD_API vd_result vd_reduce_norm(vd_context *ctx, vd_buffer in, vd_buffer out);
VD_API vd_result vd_reduce_mean(vd_context *ctx, vd_buffer in, vd_buffer out);
VD_API vd_result vd_reduce_variance(vd_context *ctx, vd_buffer in, vd_buffer out, vd_buffer mean);
VD_API vd_result vd_reduce_dot(vd_context *ctx, vd_buffer in, vd_buffer in_b, vd_buffer out);

/* ---- scans: prefix sums and compaction ---- */

typedef struct vd_scan vd_scan; /* a plan */

/* How work-groups obtain the sum of the elements that precede theirs; see Scans in the manual. */
typedef enum vd_scan_method {
    VD_SCAN_DEFAULT = 0,     /* scans: VD_SCAN_ONE_PASS if vd_facts.forward_progress, else VD_SCAN_THREE_KERNELS. Sorts:
                                see vd_sort_desc.method */
    VD_SCAN_ONE_PASS,        /* work-groups wait for work-groups that began earlier. After a limited number of polls,
                                they sum the elements of those themselves, so that this also works without
                                vd_facts.forward_progress */
    VD_SCAN_THREE_KERNELS    /* work-groups do not wait; elements are read twice */
} vd_scan_method;

typedef struct vd_scan_desc {
    const char *name;        /* for messages; copied; default: "scan" */
    vd_reduce_op op;         /* VD_REDUCE_SUM to VD_REDUCE_XOR; default: VD_REDUCE_SUM; must be 0 with combine */
    vd_type type;            /* type of elements and results: a scalar number; default: VD_F32 */
    uint64_t shape[4];       /* elements along each dimension, in C order; trailing zeros: fewer dimensions. Required */
    uint32_t axes;           /* bit i: scan along dimension i; exactly one bit. Default: the last dimension, which is
                                the fastest */
    bool exclusive;          /* a result combines the elements before its own index; default: its own element too */
    bool segmented;          /* vd_scan_io.segment_heads marks where a new segment begins; default: no segments */
    vd_fragment map;         /* replaces each element before it is scanned; default: none */
    vd_fragment combine;     /* replaces op: an associative operation; in[0] precedes in[1]; default: none */
    vc_val identity;         /* with combine, required: immediate of `type` that combine leaves unchanged */
    vd_scan_method method;   /* default: VD_SCAN_DEFAULT */
} vd_scan_desc;

typedef struct vd_compact_desc {
    const char *name;        /* for messages; copied; default: "compact" */
    vd_type type;            /* type of the elements: a scalar number; default: VD_F32 */
    uint64_t count;          /* number of elements. Required */
    vd_fragment keep;        /* returns a bool: whether an element is kept. Required */
    vd_scan_method method;   /* default: VD_SCAN_DEFAULT */
} vd_compact_desc;

/* Buffers that the plan does not use must be {0}. */
typedef struct vd_scan_io {
    vd_buffer in;            /* the elements */
    vd_buffer out;           /* as many elements as in. Scans: may be the same memory as in. Compaction: must not
                                overlap in; its first elements become those that are kept, in order, and the rest is not
                                written */
    vd_buffer segment_heads; /* segmented scans: one VD_U32 for each element, not 0 if a segment begins at this element
                                */
    vd_buffer count;         /* compaction: the number of elements kept, one VD_U32; if desc.count exceeds 2^31, one
                                VD_U64 */
} vd_scan_io;

/* Make a plan; call the fragments. Return NULL on failure. Plans of both kinds are run by vd_scan_run and destroyed by
   vd_scan_destroy. */
VD_API vd_scan *vd_scan_create(vd_context *ctx, const vd_scan_desc *desc);
VD_API vd_scan *vd_compact_create(vd_context *ctx, const vd_compact_desc *desc);

/* Destroys a plan (see Plans). NULL is allowed. */
VD_API void vd_scan_destroy(vd_scan *plan);

/* Records a scan or compaction. */
VD_API vd_result vd_scan_run(vd_scan *plan, vd_list *list, const vd_scan_io *io);

/* Prefix sums of all elements of a buffer of scalars, without a plan (see Plans). */
VD_API vd_result vd_scan_inclusive(vd_context *ctx, vd_buffer in, vd_buffer out);
VD_API vd_result vd_scan_exclusive(vd_context *ctx, vd_buffer in, vd_buffer out);

/* ---- sorting ---- */

typedef struct vd_sort vd_sort; /* a plan */

typedef struct vd_sort_desc {
    const char *name;        /* for messages; copied; default: "sort" */
    vd_type type;            /* type of the keys: a scalar number; default: VD_F32 */
    vd_type values;          /* type of the values that are moved with the keys, of 4 or 8 bytes; default: no values */
    uint64_t count;          /* number of keys. Required */
    bool descending;         /* default: ascending. Equal keys keep their order either way */
    vd_scan_method method;   /* VD_SCAN_ONE_PASS: one kernel for each digit, if the device is a GPU whose subgroups have
                                one size, and for fewer than 2^30 keys of at least 2 bytes; otherwise a count, a scan by
                                this method and a scatter. Default: one kernel if the device also has
                                vd_facts.forward_progress and there are at most vd_facts.concurrent_groups
                                work-groups */
} vd_sort_desc;

typedef struct vd_sort_io {
    vd_buffer keys, values;  /* `count` elements each; values must be {0} without desc.values */
    vd_buffer out, out_values; /* {0} or the same memory as keys and values: sort in place; other overlap is an error */
} vd_sort_io;

/* Makes a plan, with device memory for another copy of keys and values. Returns NULL on failure. */
VD_API vd_sort *vd_sort_create(vd_context *ctx, const vd_sort_desc *desc);

/* Destroys a plan (see Plans). NULL is allowed. */
VD_API void vd_sort_destroy(vd_sort *plan);

/* Records a sort. */
VD_API vd_result vd_sort_run(vd_sort *plan, vd_list *list, const vd_sort_io *io);

/* Sorts all elements of a buffer of scalars, in place and ascending, without a plan (see Plans). */
VD_API vd_result vd_sort_all(vd_context *ctx, vd_buffer keys);

/* Sorts as vd_sort_all and moves the values with their keys. A value has 4 or 8 bytes. */
VD_API vd_result vd_sort_pairs(vd_context *ctx, vd_buffer keys, vd_buffer values);

/* ---- histograms ---- */

typedef struct vd_histogram vd_histogram; /* a plan */

typedef struct vd_histogram_desc {
    const char *name;        /* for messages; copied; default: "histogram" */
    vd_type type;            /* type of the elements: a scalar number; default: VD_F32 */
    uint64_t count;          /* number of elements. Required */
    uint32_t bins;           /* number of bins, at most 2^31. Required */
    vd_fragment bin;         /* returns the bin of an element, a number, which is rounded down. Elements whose bin is
                                not in 0 to bins - 1 are not counted. Default: the bin is the element itself */
} vd_histogram_desc;

/* Makes a plan; calls the fragment. Returns NULL on failure. */
VD_API vd_histogram *vd_histogram_create(vd_context *ctx, const vd_histogram_desc *desc);

/* Destroys a plan (see Plans). NULL is allowed. */
VD_API void vd_histogram_destroy(vd_histogram *plan);

/* Records a histogram. out: one VD_U32 for each bin or, if desc.count exceeds 2^31, one VD_U64; overwritten; must not
   overlap in. */
VD_API vd_result vd_histogram_run(vd_histogram *plan, vd_list *list, vd_buffer in, vd_buffer out);

/* ---- top-k ---- */

typedef struct vd_top_k vd_top_k; /* a plan */

typedef struct vd_top_k_desc {
    const char *name;        /* for messages; copied; default: "top_k" */
    vd_type type;            /* type of the elements: a scalar number; default: VD_F32 */
    uint64_t shape[4];       /* elements along each dimension, in C order; rows are along the last one; trailing zeros:
                                fewer dimensions. Required */
    uint32_t k;              /* number of results for each row: 1 to 1024, at most the length of a row. Required */
    bool smallest;           /* default: the largest elements */
    vd_type index_type;      /* type of the indices, VD_U32 or VD_U64 (VD_FEATURE_I64). Default: VD_U32 or, if a row has
                                more than 2^31 elements, VD_U64 */
    vd_fragment map;         /* replaces each element before it is compared and returned; default: none */
} vd_top_k_desc;

/* The buffers must not overlap. */
typedef struct vd_top_k_io {
    vd_buffer in;            /* the elements */
    vd_buffer values;        /* k for each row, the largest or smallest first. NaN loses its sign and payload */
    vd_buffer indices;       /* for each value its index in the row, of desc.index_type */
} vd_top_k_io;

/* Makes a plan; calls the fragment. Returns NULL on failure. */
VD_API vd_top_k *vd_top_k_create(vd_context *ctx, const vd_top_k_desc *desc);

/* Destroys a plan (see Plans). NULL is allowed. */
VD_API void vd_top_k_destroy(vd_top_k *plan);

/* Records a top-k selection. */
VD_API vd_result vd_top_k_run(vd_top_k *plan, vd_list *list, const vd_top_k_io *io);

/* Top-k of the rows of a buffer, without a plan (see Plans). k is the number of elements of `values` divided by the
   number of rows. indices: VD_U32, for rows of up to 2^31 elements, or VD_U64. */
VD_API vd_result vd_top_k_largest(vd_context *ctx, vd_buffer in, vd_buffer values, vd_buffer indices);
VD_API vd_result vd_top_k_smallest(vd_context *ctx, vd_buffer in, vd_buffer values, vd_buffer indices);

/* ---- plans of other libraries (see "Libraries on top") ---- */

enum {
    VD_PLAN_MAX_ARGUMENTS = 16,  /* maximum arguments of all fragments of a plan */
    VD_PLAN_MAX_KERNEL_ARGS = 32 /* maximum buffers and arguments of fragments of a kernel */
};

/* A kind of plan: a constant of the library. */
typedef struct vd_plan_kind {
    const char *name;        /* default name of a plan, for messages. Required */
    size_t size;             /* bytes of a plan: a struct that begins with a vd_plan. Required */
    size_t desc_size;        /* bytes of its desc: a struct that begins with const char *name. Required by
                                vd_plan_run_cached */

    /* Initialises a plan, whose base is set and whose other fields are zero. desc is valid only during the call. If
       this fails, the plan is destroyed. Required. */
    vd_result (*make)(void *plan, const void *desc);

    /* Called when a plan is destroyed, before its buffers and kernels are: releases all other objects of the plan.
       plan->ctx is NULL if the context was destroyed before. Default: none. */
    void (*release)(void *plan);

    /* Called when the context is destroyed before the plan, while the context's objects still exist: releases objects
       that must not outlive them, such as those of another API. Default: none. */
    void (*detach)(void *plan);
} vd_plan_kind;

/* The base of a plan. Libraries may read its fields, but must not change them. */
typedef struct vd_plan {
    vd_context *ctx;         /* NULL after the context was destroyed */
    const vd_plan_kind *kind;
    vd_allocator allocator;  /* for host memory of the plan; valid until the plan is destroyed */
    char name[64];           /* first 63 bytes of the desc's name */
    vd_arg_info arguments[VD_PLAN_MAX_ARGUMENTS]; /* arguments of the fragments: name, kind, type, access */
    int argument_count;      /* number of arguments */
    bool count_registers;    /* private: vd_kernel_desc.count_registers of kernels of plans of this library */
    char argument_names[VD_PLAN_MAX_ARGUMENTS][64];
    struct vd_plan *next, *previous;  /* private */
    struct vd__plan_object *objects;  /* private */
} vd_plan;

/* A buffer of a run and how the plan uses it. A plan numbers its roles from 0 to at most 127: first the buffers that
   the caller passes, then those that the plan owns, for which only `buffer` has to be set. */
typedef struct vd_plan_role {
    const char *name;        /* name of the field of the io, for messages */
    vd_buffer buffer;
    vd_type type;            /* expected type of the elements; buffers of type VD_BYTES are always accepted. VD_BYTES:
                                accept any type */
    uint64_t count;          /* number of elements, or of bytes for VD_BYTES, that the buffer must have at least */
    bool writes;             /* the plan writes it, so it must not overlap other roles. Default: it is only read */
    bool vectors;            /* kernels can load it as vectors: include its address in vd_plan_io.alignment. Default:
                                no */
    const char *unused;      /* not NULL: the plan does not use this role, and buffer must be {0}. The text is the
                                reason, for messages: "desc.segments is 0". Default: the role is used */
    const struct vd_plan_role *in_place; /* earlier role of the table that may be the same memory; kernels then declare
                                            both with VC_MAY_ALIAS. Default: none */
} vd_plan_role;

/* Buffers and arguments of a run. */
typedef struct vd_plan_io {
    const vd_plan_role *roles; /* table of all roles; buffers may be changed between dispatches */
    uint32_t role_count;     /* number of roles, from the first one on, that vd_plan_check checks */
    const vd_named_arg *args; /* arguments of the fragments that the caller passes, in any order, each exactly once */
    int arg_count;           /* number of args */

    /* Set by vd_plan_check: */
    uint64_t alignment;      /* bitwise OR of the addresses of the roles with `vectors` and of their offsets in native
                                buffers (vd_buffer_info): a multiple of 16 if all of these are */
    vd_arg values[VD_PLAN_MAX_ARGUMENTS]; /* values of plan->arguments */
} vd_plan_io;

/* A kernel of a plan, with the roles and arguments that it declares. Must be zero before the kernel is recorded. */
typedef struct vd_plan_kernel {
    vd_kernel kernel;
    uint32_t count;          /* private */
    uint8_t args[VD_PLAN_MAX_KERNEL_ARGS]; /* private */
} vd_plan_kernel;

/* A fragment of the caller, with the types of its inputs and result. */
typedef struct vd_plan_fragment {
    const char *name;        /* name of the field of the desc, for messages; at most 50 bytes */
    vd_fragment code;        /* the field of the desc. build is NULL if the caller passed no fragment */
    vc_type in[2];           /* types of vd_fragment_io.in. Default: {0}, no inputs */
    vc_type out;             /* type of vd_fragment_io.out. Default: any scalar number */
    vc_type other_out;       /* a second accepted type, to which immediates are converted. Default: out */
    bool has_index;          /* vd_fragment_io.index is set. Default: it is {0} */
    bool has_arguments;      /* the fragment may declare arguments. Default: this is an error */
    int first_argument, argument_count; /* private */
} vd_plan_fragment;

/* Makes a plan: allocates it, links it to the context, and calls kind->make. A library's public function returns the
   result. call: name of that function, for messages. desc: a struct that begins with const char *name, which may be
   NULL. kind must remain valid until the plan is destroyed. Returns NULL on failure. */
VD_API void *vd_plan_create(vd_context *ctx, const vd_plan_kind *kind, const char *call, const void *desc);

/* Destroys a plan, its buffers and its kernels. NULL is allowed. */
VD_API void vd_plan_destroy(void *plan);

/* Calls `run` after checking that plan, run, list and io are not NULL and that the list belongs to the plan's context.
   A library's public function returns the result. call: name of that function, for messages. */
VD_API vd_result vd_plan_run(void *plan, const char *call,
                             vd_result (*run)(void *plan, vd_list *list, const void *io), vd_list *list,
                             const void *io);

/* Calls `run` with the plan of this kind and desc in the context's cache and with vd_immediate(ctx, 0, 0). Makes the
   plan if the cache does not contain it. Descs are compared byte by byte, and pointers by address: clear a desc with
   memset before setting its fields. The caller adds its name to errors: vd_error_amend(result, "call", "", NULL). */
VD_API vd_result vd_plan_run_cached(vd_context *ctx, const vd_plan_kind *kind,
                                    vd_result (*run)(void *plan, vd_list *list, const void *io), const void *desc,
                                    const void *io);

/* Counters of the plan cache of a context, which vd_plan_run_cached and all functions without a plan use. */
typedef struct vd_plan_cache_info {
    uint32_t plans;          /* plans in the cache now */
    uint32_t capacity;       /* maximum number of plans */
    uint64_t hits, misses;   /* runs since the context was created that found a plan, and that had to make one */
    uint64_t evictions;      /* plans that were destroyed to make room for others */
} vd_plan_cache_info;

/* Fills in *out. Runs of other threads may change the cache at any time. */
VD_API vd_result vd_plan_cache_query(vd_context *ctx, vd_plan_cache_info *out);

/* Destroys all plans of the cache (see Plans, Destruction). A plan that another thread runs at this moment is destroyed
   after that run was recorded. Later runs make their plans again; counters are kept. */
VD_API vd_result vd_plan_cache_clear(vd_context *ctx);

/* Creates a buffer of `count` elements (bytes for VD_BYTES), which the plan owns. data: initial contents; NULL: zeros.
   Returns id 0 on failure. */
VD_API vd_buffer vd_plan_buffer(vd_plan *plan, const char *name, vd_type type, uint64_t count, const void *data);

/* Checks a fragment of the caller by recording it in kernels that are discarded, and adds its arguments to those of the
   plan. Must be called once for each fragment, before kernels with it are recorded. If code.build is NULL, only checks
   that code.declare is NULL, too. */
VD_API vd_result vd_plan_fragment_check(vd_plan *plan, vd_plan_fragment *fragment);

/* Records a fragment, whose code.build must not be NULL, and returns its result. Arguments for inputs that the fragment
   does not have are ignored. */
VD_API vc_val vd_plan_fragment_build(const vd_plan_fragment *fragment, vc_kernel *k, vc_val first, vc_val second,
                                     vc_val index);

/* Declare the buffer of a role, as vc_buffer does, or the arguments of a fragment, in a kernel that the library
   records. Must be called before the library declares its own parameters. A role may be declared several times, with
   different types. */
VD_API vc_ref vd_plan_kernel_buffer(vd_plan_kernel *kernel, vc_kernel *k, uint32_t role, const char *name, vc_type type,
                                    uint32_t access);
VD_API void vd_plan_kernel_fragment(vd_plan_kernel *kernel, vc_kernel *k, const vd_plan_fragment *fragment);

/* Compiles k to a kernel that the plan owns, and frees k, also on failure. If it fails, *kernel is set to zero. */
VD_API vd_result vd_plan_kernel_build(vd_plan *plan, vd_plan_kernel *kernel, vc_kernel *k);

/* Checks the buffers and arguments of a run; sets io->alignment and io->values. */
VD_API vd_result vd_plan_check(const vd_plan *plan, vd_plan_io *io);

/* Records a dispatch of a kernel with its buffers, the arguments of its fragments and then the library's own
   parameters, desc->args. desc is that of vd_dispatch; desc->kernel is ignored. */
VD_API vd_result vd_plan_dispatch(vd_list *list, const vd_plan_kernel *kernel, const vd_plan_io *io,
                                  const vd_dispatch_desc *desc);

/* ---- choices made by measuring ---- */

enum { VD_PLAN_MAX_CHOICES = 40 }; /* maximum choices that vd_plan_tune compares */

/* Where runs store their results, for comparing them with those of the first choice. */
typedef struct vd_plan_results {
    vd_buffer buffer;
    vd_type type;            /* VD_F16, VD_F32, VD_F64: compared as numbers; all others: as bytes */
    uint64_t count;          /* number of elements, from the start of the buffer; at most the first and the last MiB are
                                compared */
    double tolerance;        /* of numbers: maximum L2 norm of the difference, divided by that of the results */
} vd_plan_results;

/* A choice of a plan, such as a tile size, and how to measure it. vd_plan_tune passes `user` to the functions. */
typedef struct vd_plan_tuner {
    const char *name;        /* of the choice, for messages and keys; the first 31 bytes are used. Required */
    const uint64_t *fields;  /* all that the times depend on except the device and its driver: a version of the kernels,
                                sizes, types */
    uint32_t field_count;
    uint32_t choice_size;    /* bytes of a choice, a struct without pointers. Required */
    uint32_t trial_size;     /* bytes of a trial: the library's struct for the kernels of one choice. Default: 0 */
    void *user;

    /* Appends choices to `choices`, which has `count` of them and space for VD_PLAN_MAX_CHOICES, and returns their new
       number. Called with best NULL and count 0: the first choice is the default. Called once more after these were
       timed, with the fastest as best: may append variants of it. Required. */
    uint32_t (*propose)(void *user, void *choices, uint32_t count, const void *best);

    /* Whether the plan and its device support a choice. Called for the fastest choice that was read from a cache file.
       Required. */
    bool (*accepts)(void *user, const void *choice);

    /* Makes the kernels of a choice; *trial is zero. Buffers and kernels that it makes with vd_plan_buffer and
       vd_plan_kernel_build belong to the trial and are destroyed when the plan is tuned. Choices for which this fails
       are skipped; if it fails for the first, vd_plan_tune fails. Required. */
    vd_result (*build)(void *user, const void *choice, void *trial);

    /* Records one run of a trial. Required. */
    vd_result (*record)(void *user, const void *trial, vd_list *list);

    /* Called before the first run of each trial: sets the contents of the buffers that a run reads or changes, and
       *results, which is zero. Choices with other results than the first are skipped. If the results of the first are
       all 0, or contain an infinity or a NaN, vd_plan_tune fails. Default: results are not compared. */
    vd_result (*prepare)(void *user, vd_plan_results *results);
} vd_plan_tuner;

/* The times of choices, fastest first. The default comes first unless another one is at least 1 % faster. */
typedef struct vd_plan_timings {
    uint32_t count;          /* number of choices that were timed; 0: the device does not execute kernels (dummy
                                backend), or `propose` returned 0 */
    uint32_t default_index;  /* of the default, in the order of `ms` */
    uint32_t from_cache;     /* 1: they were measured earlier */
    float ms[VD_PLAN_MAX_CHOICES]; /* milliseconds of a run */
} vd_plan_timings;

/* Finds the fastest choice. Looks for timings with the same fields, for this device and driver, in the context and in
   vd_context_desc.cache_directory; otherwise measures, which takes some milliseconds for each choice, and stores them
   in both. Waits for the device; must not be called while recording a run. choices: an array of VD_PLAN_MAX_CHOICES
   choices, which receives those of *timings; choices[0] is the one to use. If nothing was timed, this is the default,
   or not set if `propose` returned 0. Fails if the default cannot be measured. */
VD_API vd_result vd_plan_tune(vd_plan *plan, const vd_plan_tuner *tuner, void *choices, vd_plan_timings *timings);

#ifdef __cplusplus
}
#endif
#endif /* VKDISPATCH_FFT_H */

#ifdef VKDISPATCH_FFT_IMPLEMENTATION
#ifndef VKDISPATCH_FFT_IMPLEMENTED
#define VKDISPATCH_FFT_IMPLEMENTED

// >>config
/* Limits of plans, optional features, compiler settings.

   Terms of the implementation, their types, and the names of variables that most functions use:
     p      plan        vd_fft, vd_reduce, vd_scan, ...
            pass        vd__fft_pass: a dispatch of a transform. The passes of one direction are a route (r)
            step        vd__pass_step: what the kernel of a pass does, in order (load, transform, store, ...)
     s      shape       vd__fft_shape: how a work-group computes the transforms of a pass: radices, threads, transforms
            role        which buffer a pass reads or writes: in, out, or an intermediate one (TEMP)
     g      stage       vd__fft_stage_info: the butterflies of one radix, all of which read, compute and write
            problem     vd__fft_problem: transforms along an axis, or a factor of one, that are to be planned as passes
     w      writer      vd__NAME_writer: the state while a kernel is recorded
     k      kernel      vc_kernel
     t      trial       vd__trial: a kernel that is recorded to check code of the caller, and discarded. In the rooms
                        tuner and measure: the kernels of a choice, while they are timed
     r      real        vd__real: the rule by which a pass of a real transform loads and stores elements
   A row is a transform (or reduction, scan) whose elements are contiguous, a column one along another axis.
   Exceptions: among the threads of a reduction, a row consists of those with the same place in each result; s is a
   state in the room reduce and an addressing in the room kernels, p a product in convolutions. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef VKDISPATCH_VKFFT
#define VD__HAS_VKFFT 1
#else
#define VD__HAS_VKFFT 0
#endif

/* Cold code, which runs once per plan or kernel: optimise for size and disable the slowest compiler passes. Frame
   pointers make the unwind tables (.eh_frame) a third smaller. gcc still defines __OPTIMIZE_SIZE__ after
   VD__FFT_SMALL_END, so no code may test that macro. */
#if !defined(__OPTIMIZE__)
#define VD__FFT_SMALL
#define VD__FFT_SMALL_END
#elif defined(__clang__) && __clang_major__ >= 8
#define VD__FFT_SMALL _Pragma("clang attribute push (__attribute__((minsize)), apply_to = function)")
#define VD__FFT_SMALL_END _Pragma("clang attribute pop")
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__INTEL_COMPILER)
#define VD__FFT_EXPANDED_PRAGMA(text) _Pragma(#text)
#define VD__FFT_PRAGMA(text) VD__FFT_EXPANDED_PRAGMA(text)
#if __GNUC__ >= 12
#define VD__FFT_SMALL_LEVEL "Oz"
#else
#define VD__FFT_SMALL_LEVEL "Os"
#endif
#define VD__FFT_SMALL _Pragma("GCC push_options") \
    VD__FFT_PRAGMA(GCC optimize (VD__FFT_SMALL_LEVEL, "no-tree-vrp", "no-tree-pre", "no-tree-fre", "no-tree-pta", \
                                 "no-tree-loop-im", "no-move-loop-invariants", "no-gcse", "no-schedule-insns2", \
                                 "no-expensive-optimizations", "no-omit-frame-pointer", "no-tree-sra", \
                                 "no-inline-small-functions", "no-caller-saves"))
#define VD__FFT_SMALL_END _Pragma("GCC pop_options")
#else
#define VD__FFT_SMALL
#define VD__FFT_SMALL_END
#endif

#if defined(__GNUC__)
#define VD__FFT_NOINLINE __attribute__((noinline)) /* keeps the code small at many call sites */
#else
#define VD__FFT_NOINLINE
#endif

enum {
    VD__FFT_AXES = 4,          /* maximum axes that one kernel transforms */
    VD__FFT_STAGES = 8,        /* maximum stages of a transform in one kernel */
    VD__FFT_STEPS = 16,        /* maximum steps of a kernel, with the end of the list */
    VD__FFT_RADIX = 32,        /* largest radix of a butterfly; also the maximum of values per thread in estimated
                                  shapes */
    VD__FFT_DIRECT = 127,      /* largest radix of a direct stage, which is a prime above VD__FFT_RADIX */
    VD__FFT_MAX_VALUES = 64,   /* maximum complex values per thread */
    VD__FFT_MAX_POINTS = 16384, /* maximum complex values in the registers of a work-group on a GPU; f64: half of it */
    VD__FFT_PASSES = 24,       /* maximum kernels of one direction of a plan */
    VD__FFT_CHIRP_FACTORS = 2, /* maximum factors of a length that Bluestein's algorithm splits off */
    VD__FFT_TABLES = 64,       /* maximum tables of a plan that passes can share */
    VD__FFT_CANDIDATES = 96,   /* maximum shapes of a kernel that a wide search keeps */
    VD__FFT_CACHED_PLANS = 64  /* maximum plans that a context caches for functions without a plan */
};

/* Arrays that span more elements need indices of 64 bits. Tests define a lower limit. */
#ifndef VD__FFT_NARROW
#define VD__FFT_NARROW UINT32_MAX
#endif

#define VD__FFT_MAX_SPAN ((uint64_t)1 << 36) /* maximum elements that an array spans */
#define VD__FFT_MAX_TRANSFORMS ((uint64_t)1 << 31) /* maximum transforms in a block of a pass */

// >>common
/* The base of plans and the functions vd_plan_*, except vd_plan_run_cached: host memory, buffers, kernels, fragments,
   checks of a run. Also functions that the plans of this header share: checks of descs, decomposition of indices into
   digits. */

/* Returns zeroed memory, or NULL if the allocator fails. */
static void *vd__fft_allocate(const vd_allocator *a, size_t size) {
    void *block = a->allocate(a->user, size);
    if (block) memset(block, 0, size);
    return block;
}

static void vd__fft_free(const vd_allocator *a, void *block) { if (block) a->release(a->user, block); }

static vd_result vd__fft_no_memory(void) { return vd_error_set(VD_ERROR_OUT_OF_MEMORY, NULL); }

/* Ends the scope of a public function without a plan, and adds its call to an error. Internal functions set only the
   reason of an error; the public functions add the call and the name of the plan. */
VD__FFT_NOINLINE static vd_result vd__call_result(vd_callback_scope *scope, vd_result result) {
    if (result) vd_error_amend(result, scope->call, "", NULL);
    vd_callback_scope_end(scope);
    return result;
}

/* Operations whose second operand is a constant of type u32: n modulo 2^32. */
#define VD__WITH_CONSTANT(op) \
    VD__FFT_NOINLINE static vc_val vd__##op##_u32(vc_val a, uint64_t n) { return vc_##op(a, vc_u32((uint32_t)n)); }
VD__WITH_CONSTANT(add) VD__WITH_CONSTANT(mul) VD__WITH_CONSTANT(sub) VD__WITH_CONSTANT(lt)
VD__WITH_CONSTANT(min) VD__WITH_CONSTANT(eq) VD__WITH_CONSTANT(ne) VD__WITH_CONSTANT(rem)
VD__WITH_CONSTANT(div) VD__WITH_CONSTANT(shr) VD__WITH_CONSTANT(shl) VD__WITH_CONSTANT(and)
#undef VD__WITH_CONSTANT

/* The vc_ref is passed by pointer, because it has 56 bytes: calls are shorter. */
VD__FFT_NOINLINE static vc_val vd__load(const vc_ref *r, vc_val at) { return vc_load(*r, at); }
VD__FFT_NOINLINE static void vd__store(const vc_ref *r, vc_val at, vc_val v) { vc_store(*r, at, v); }
VD__FFT_NOINLINE static vc_val vd__get(const vc_ref *r) { return vc_get(*r); }
VD__FFT_NOINLINE static void vd__set(const vc_ref *r, vc_val v) { vc_set(*r, v); }
VD__FFT_NOINLINE static void vd__shared_barrier(vc_kernel *k) {
    vc_barrier_scoped(k, VC_SCOPE_WORKGROUP, VC_SCOPE_WORKGROUP, VC_STORAGE_SHARED);
}
VD__FFT_NOINLINE static vc_val vd__load_or(const vc_ref *r, vc_val at, vc_val inside, vc_val otherwise) {
    return vc_load_or(*r, at, inside, otherwise);
}

/* Moves an array by a constant number of elements. Constant offsets of references have 31 bits. */
VD__FFT_NOINLINE static vc_ref vd__array_from(vc_ref r, uint64_t first) {
    if (first <= INT32_MAX) return vc_offset(r, vc_u64(first));
    return vc_offset(r, vc_const(r.kernel, vc_imm(first > UINT32_MAX ? VC_U64 : VC_U32, first)));
}

VD__FFT_NOINLINE static vc_val vd__load_from(const vc_ref *r, uint64_t first, vc_val at) {
    return vc_load(vd__array_from(*r, first), at);
}
VD__FFT_NOINLINE static void vd__store_from(const vc_ref *r, uint64_t first, vc_val at, vc_val v) {
    vc_store(vd__array_from(*r, first), at, v);
}

/* ---- the base of plans ---- */

/* A buffer or a kernel that a plan owns. */
struct vd__plan_object { struct vd__plan_object *next; vd_buffer buffer; vd_kernel kernel; };

/* The address is the key under which a context stores the list of its plans, newest first. */
static const char vd__plan_list_key = 't';

static vd_result vd__plan_link(vd_context *ctx, void **data, void *user) {
    vd_plan *p = (vd_plan *)user;
    p->ctx = ctx;
    p->next = (vd_plan *)*data;
    if (p->next) p->next->previous = p;
    *data = p;
    return VD_OK;
}

static vd_result vd__plan_unlink(vd_context *ctx, void **data, void *user) {
    vd_plan *p = (vd_plan *)user;
    (void)ctx;
    if (p->next) p->next->previous = p->previous;
    if (p->previous) p->previous->next = p->next;
    else *data = p->next;
    return VD_OK;
}

/* Registers vd__plan_list_key before the key of the plan cache. vd_context_destroy releases keys in reverse order of
   registration, so the cache destroys its plans before they are detached from their context. */
static vd_result vd__plan_list_register(vd_context *ctx, void **data, void *user) {
    (void)ctx, (void)data, (void)user;
    return VD_OK;
}

/* Called when the context is destroyed, together with all its buffers and kernels. */
static void vd__plan_list_detach(vd_context *ctx, void *data) {
    vd_plan *p = (vd_plan *)data, *next;
    for (; p; p = next) {
        next = p->next;
        if (p->kind->detach) p->kind->detach(p);
        p->allocator = vd_context_allocator(ctx); /* valid also after the context was destroyed */
        p->ctx = NULL;
    }
}

/* Drops the objects that were added after `keep`. A destroyed context has already destroyed its buffers and kernels. */
static void vd__plan_drop_objects(vd_plan *p, struct vd__plan_object *keep) {
    while (p->objects != keep) {
        struct vd__plan_object *o = p->objects;
        if (p->ctx && o->buffer.id) vd_buffer_destroy(p->ctx, o->buffer);
        if (p->ctx && o->kernel.id) vd_kernel_destroy(p->ctx, o->kernel);
        p->objects = o->next;
        vd__fft_free(&p->allocator, o);
    }
}

/* The caller stores its new buffer or kernel in the entry. Returns NULL if out of memory. */
static struct vd__plan_object *vd__plan_add_object(vd_plan *p) {
    struct vd__plan_object *o = (struct vd__plan_object *)vd__fft_allocate(&p->allocator, sizeof *o);
    if (!o) {
        vd__fft_no_memory();
        return NULL;
    }
    o->next = p->objects;
    p->objects = o;
    return o;
}

/* The first field of every desc is its name. */
static const char *vd__plan_name(const vd_plan_kind *kind, const void *desc) {
    const char *name = *(const char *const *)desc;
    return name ? name : kind->name;
}

/* vd_plan_create without checks; errors do not contain the call. */
static void *vd__plan_new(vd_context *ctx, const vd_plan_kind *kind, const void *desc) {
    vd_allocator allocator = vd_context_allocator(ctx);
    vd_plan *p = (vd_plan *)vd__fft_allocate(&allocator, kind->size);
    if (!p) {
        vd__fft_no_memory();
        return NULL;
    }
    p->kind = kind;
    p->allocator = allocator;
    snprintf(p->name, sizeof p->name, "%s", vd__plan_name(kind, desc));
    if (vd_context_attach(ctx, &vd__plan_list_key, vd__plan_link, p, vd__plan_list_detach) || kind->make(p, desc)) {
        vd_plan_destroy(p);
        return NULL;
    }
    return p;
}

VD_API void *vd_plan_create(vd_context *ctx, const vd_plan_kind *kind, const char *call, const void *desc) {
    vd_callback_scope scope;
    void *p = NULL;
    vd_callback_scope_begin(ctx, call, &scope);
    if (ctx && kind && kind->make && desc) p = vd__plan_new(ctx, kind, desc);
    else vd_error_set(VD_ERROR_INVALID, "%s is NULL", !ctx ? "ctx" : !kind ? "kind" : !desc ? "desc" : "kind->make");
    if (!p) vd_error_amend(vd_error_result(), call, kind && desc ? vd__plan_name(kind, desc) : "", NULL);
    vd_callback_scope_end(&scope);
    return p;
}

VD_API void vd_plan_destroy(void *plan) {
    vd_plan *p = (vd_plan *)plan;
    if (!p) return;
    if (p->kind->release) p->kind->release(p);
    vd__plan_drop_objects(p, NULL);
    if (p->ctx) vd_context_attach(p->ctx, &vd__plan_list_key, vd__plan_unlink, p, vd__plan_list_detach);
    vd_allocator allocator = p->allocator;
    vd__fft_free(&allocator, p);
}

static vd_result vd__plan_check_list(vd_context *ctx, vd_list *list) {
    if (!ctx)
        return vd_error_set(VD_ERROR_INVALID, "the plan's context was destroyed; the plan cannot be run any more");
    if (list && vd_list_context(list) == ctx) return VD_OK;
    return vd_error_set(VD_ERROR_INVALID, list ? "the list belongs to another context" : "the list is NULL");
}

VD_API vd_result vd_plan_run(void *plan, const char *call,
                             vd_result (*run)(void *plan, vd_list *list, const void *io), vd_list *list,
                             const void *io) {
    vd_plan *p = (vd_plan *)plan;
    vd_callback_scope scope;
    vd_callback_scope_begin(p ? p->ctx : NULL, call, &scope);
    vd_result result = p && io && run ? vd__plan_check_list(p->ctx, list)
                     : vd_error_set(VD_ERROR_INVALID, "%s is NULL", !p ? "plan" : !io ? "io" : "run");
    if (!result) result = run(p, list, io);
    if (result) vd_error_amend(result, call, p ? p->name : "", NULL);
    vd_callback_scope_end(&scope);
    return result;
}

VD__FFT_SMALL

VD_API vd_buffer vd_plan_buffer(vd_plan *plan, const char *name, vd_type type, uint64_t count, const void *data) {
    struct vd__plan_object *o = vd__plan_add_object(plan);
    uint32_t size = vd_type_size(type);
    vd_buffer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    desc.type = type;
    desc.shape[0] = count;
    desc.data = data;
    vd_buffer buffer = { 0 };
    if (!o) return buffer;
    o->buffer = buffer = vd_buffer_create(plan->ctx, &desc);
    if (!buffer.id)
        vd_error_amend(vd_error_result(), NULL, NULL, "cannot create buffer '%s' of %llu bytes", name,
                       (unsigned long long)(count * (size ? size : 1)));
    return buffer;
}

static vc_kernel *vd__plan_begin(const vd_plan *plan, const char *name, uint32_t threads) {
    vd_allocator a = vd_context_allocator(plan->ctx);
    vc_kernel_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    desc.local_size[0] = threads;
    desc.machine = vd_machine(plan->ctx);
    desc.machine.debug = false; /* checks multiply the time to compile these kernels */
    desc.count_registers = plan->count_registers;
    desc.allocator.allocate = a.allocate;
    desc.allocator.reallocate = a.reallocate;
    desc.allocator.release = a.release;
    desc.allocator.user = a.user;
    return vc_begin(&desc);
}

/* Entries of vd_plan_kernel.args: the number of a role, or VD__PLAN_ARGUMENT + the index of an argument. */
enum { VD__PLAN_ARGUMENT = 128 };

/* Counts entries beyond the limit too, which vd_plan_kernel_build reports. */
static void vd__plan_kernel_add(vd_plan_kernel *kernel, uint32_t arg) {
    if (kernel->count < VD_PLAN_MAX_KERNEL_ARGS) kernel->args[kernel->count] = (uint8_t)arg;
    kernel->count++;
}

static void vd__plan_kernel_add_arguments(vd_plan_kernel *kernel, int first, int count) {
    for (int i = 0; i < count; i++) vd__plan_kernel_add(kernel, (uint32_t)(VD__PLAN_ARGUMENT + first + i));
}

VD_API vc_ref vd_plan_kernel_buffer(vd_plan_kernel *kernel, vc_kernel *k, uint32_t role, const char *name, vc_type type,
                                    uint32_t access) {
    vd__plan_kernel_add(kernel, role);
    return vc_buffer(k, name, type, access | VC_ANY_TYPE); /* vd_plan_check checks the type of the role */
}

VD_API void vd_plan_kernel_fragment(vd_plan_kernel *kernel, vc_kernel *k, const vd_plan_fragment *fragment) {
    if (!fragment->code.declare) return;
    fragment->code.declare(k, fragment->code.user);
    vd__plan_kernel_add_arguments(kernel, fragment->first_argument, fragment->argument_count);
}

VD_API vd_result vd_plan_kernel_build(vd_plan *plan, vd_plan_kernel *kernel, vc_kernel *k) {
    struct vd__plan_object *o = vd__plan_add_object(plan);
    vd_result result = VD_OK;
    if (!o || !k) result = vd__fft_no_memory();
    else if (kernel->count > VD_PLAN_MAX_KERNEL_ARGS)
        result = vd_error_set(VD_ERROR_UNSUPPORTED, "a kernel has %u declarations of buffers and of arguments of "
                              "fragments, but the limit is %d", kernel->count, (int)VD_PLAN_MAX_KERNEL_ARGS);
    else {
        o->kernel = kernel->kernel = vd_kernel_build(plan->ctx, k);
        if (!o->kernel.id) result = vd_error_result();
    }
    vc_free(k);
    if (result) memset(kernel, 0, sizeof *kernel);
    return result;
}

static vd_plan_fragment vd__fragment_of(const char *name, vd_fragment code, vc_type first, vc_type second, vc_type out,
                                        vc_type other_out) {
    vd_plan_fragment f;
    memset(&f, 0, sizeof f);
    f.name = name;
    f.code = code;
    f.in[0] = first;
    f.in[1] = second;
    f.out = out;
    f.other_out = other_out;
    return f;
}

/* Whether a value belongs to a kernel. Otherwise it is an immediate, unset, or the result of a failed call. */
static bool vd__is_kernel_value(vc_val v) { return v.owner >= 4096; }

/* Converts results that are immediates to values of the kernel: the builder cannot attribute operations on immediates
   only to a kernel. */
VD_API vc_val vd_plan_fragment_build(const vd_plan_fragment *f, vc_kernel *k, vc_val first, vc_val second,
                                     vc_val index) {
    vc_type type = f->other_out ? f->other_out : f->out;
    vd_fragment_io io;
    memset(&io, 0, sizeof io);
    if (f->in[0]) io.in[0] = first;
    if (f->in[1]) io.in[1] = second;
    if (f->has_index) io.index = index;
    f->code.build(k, &io, f->code.user);
    if (!io.out.owner || vd__is_kernel_value(io.out)) return io.out;
    vc_val out = vc_const(k, io.out);
    return type ? vc_cast(type, out) : out;
}

/* ---- trials: recording callbacks of the user to find errors before the plan's kernels are recorded ---- */

/* State of a trial: callbacks of the user (a fragment, or the hooks of a transform) are recorded in kernels that never
   run, so that errors name the callback instead of a kernel that the user did not write. */
typedef struct vd__trial {
    vd_plan *plan;
    const void *code;        /* the vd_plan_fragment, or the vd_fft with the hooks */
    const char *declares;    /* name of the callback that declares arguments */
    int first_argument;      /* index in vd_plan.arguments of the first argument that it declares */
    int plan_arguments;      /* number of arguments that the plan of a convolution itself declares; they come first */
    int max_arguments;       /* maximum number of the other arguments */
    const char *const *reserved; /* names that the other arguments must not have, then NULL; NULL: none */
    vd_result invalid;       /* error code of invalid callbacks */
    const char *name[3];     /* names of the callbacks; the last ones may be NULL */
    void (*declare)(struct vd__trial *t);
    /* records callback i for one element; hooks also check their results */
    vd_result (*record)(struct vd__trial *t, int i);
    vd_fft_direction direction; /* direction for which hooks are called */
    vc_kernel *k;
    vc_ref buffer[6];        /* elements and results */
    int trial_buffers;       /* number of buffers that the trial declares, before the arguments of the user */
    vc_val out;              /* result of a fragment */
} vd__trial;

/* vd_kernel_build determines the error code: invalid code, out of memory, or a feature that the device does not have.
   */
static vd_result vd__trial_error(const vd__trial *t, const char *what) {
    if (!t->k) return vd__fft_no_memory();
    vd_kernel_build(t->plan->ctx, t->k);
    vd_result result = vd_error_result();
    return vd_error_set(result == VD_ERROR_INVALID ? t->invalid : result, "%s: %s", what, vc_error(t->k));
}

/* t->k is NULL if out of memory. */
static void vd__trial_begin(vd__trial *t) {
    t->k = vd__plan_begin(t->plan, t->plan->name, 0);
    t->trial_buffers = 0;
    if (t->k) t->declare(t);
}

static void vd__trial_buffer(vd__trial *t, vc_type type, uint32_t access) {
    t->buffer[t->trial_buffers++] = vc_buffer(t->k, "numbers", type, access);
}

/* Returns NULL if the kernel has an error. */
static const vc_info *vd__trial_reflect(const vd__trial *t) {
    return vc_reflect_for(t->k, vd_target(t->plan->ctx));
}

/* Whether an argument is the implicit output buffer of vc_printf and vc_assert, which vd_dispatch passes. */
static bool vd__trial_is_implicit(const vc_info *info, int arg) {
    for (int i = 0; i < info->implicit_count; i++)
        if (info->implicit[i].kind == VC_IMPLICIT_OUTPUT && info->implicit[i].arg == (uint32_t)arg) return true;
    return false;
}

/* ---- arguments that callbacks declare ---- */

static vd_result vd__arguments_add(const vd__trial *t, const vc_arg_info *arg) {
    vd_plan *p = t->plan;
    if (p->argument_count == t->plan_arguments + t->max_arguments)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "argument '%.40s' of %s exceeds the limit of %d arguments",
                            arg->name ? arg->name : "", t->declares, t->max_arguments);
    if (!arg->name || !*arg->name)
        return vd_error_set(VD_ERROR_INVALID, "argument %d of %s has no name; runs pass arguments by name",
                            p->argument_count - t->first_argument - t->plan_arguments, t->declares);
    if (strlen(arg->name) >= sizeof p->argument_names[0])
        return vd_error_set(VD_ERROR_UNSUPPORTED, "the name of argument '%.20s...' of %s has %llu bytes, but the limit "
                            "is %d", arg->name, t->declares, (unsigned long long)strlen(arg->name),
                            (int)sizeof p->argument_names[0] - 1);
    if (p->argument_count >= t->first_argument + t->plan_arguments)
        for (const char *const *name = t->reserved; name && *name; name++)
            if (strcmp(*name, arg->name) == 0)
                return vd_error_set(VD_ERROR_INVALID, "%s declares argument '%s', but this name is reserved for an "
                                    "argument of the plan", t->declares, arg->name);
    for (int i = 0; i < p->argument_count; i++)
        if (strcmp(p->argument_names[i], arg->name) == 0)
            return vd_error_set(VD_ERROR_INVALID, "%s declares argument '%s', but the plan already has an argument of "
                                "this name", t->declares, arg->name);
    vd_arg_info *info = &p->arguments[p->argument_count];
    char *name = p->argument_names[p->argument_count++];
    snprintf(name, sizeof p->argument_names[0], "%s", arg->name);
    info->name = name;
    info->kind = (vd_arg_kind)arg->kind;
    info->type = arg->type;
    info->access = arg->access;
    info->size = arg->size;
    info->align = arg->align;
    return VD_OK;
}

static vd_result vd__arguments_find(vd__trial *t) {
    t->first_argument = t->plan->argument_count;
    vd__trial_begin(t);
    const vc_info *info = t->k ? vd__trial_reflect(t) : NULL;
    vd_result result = info ? VD_OK : vd__trial_error(t, t->declares);
    for (int i = t->trial_buffers; !result && i < info->arg_count; i++)
        if (!vd__trial_is_implicit(info, i)) result = vd__arguments_add(t, &info->args[i]);
    vc_free(t->k);
    return result;
}

static vd_result vd__arguments_note_access(const vd__trial *t, const vc_info *info) {
    int known = t->first_argument;
    for (int i = t->trial_buffers; i < info->arg_count; i++) {
        if (vd__trial_is_implicit(info, i)) continue;
        if (known >= t->plan->argument_count)
            return vd_error_set(t->invalid, "argument '%s' is declared while an element is recorded; declare it in %s",
                                info->args[i].name ? info->args[i].name : "", t->declares);
        t->plan->arguments[known++].access |= info->args[i].access;
    }
    return VD_OK;
}

/* A run must pass all arguments of the plan and no others; `to` receives their values in the plan's order. */
static vd_result vd__arguments_bind(const vd_plan *p, const vd_named_arg *args, int count, vd_arg *to) {
    bool given[VD_PLAN_MAX_ARGUMENTS] = { false };
    int j;
    if (count < 0) return vd_error_set(VD_ERROR_INVALID, "arg_count is %d, but must not be negative", count);
    if (count && !args) return vd_error_set(VD_ERROR_INVALID, "arg_count is %d, but args is NULL", count);
    for (int i = 0; i < count; i++) {
        const char *name = args[i].name ? args[i].name : "";
        for (j = 0; j < p->argument_count && strcmp(name, p->argument_names[j]) != 0; j++) {}
        if (j == p->argument_count)
            return vd_error_set(VD_ERROR_INVALID, "the plan has no argument '%s'", name);
        if (given[j]) return vd_error_set(VD_ERROR_INVALID, "argument '%s' is passed twice", name);
        given[j] = true;
        to[j] = args[i].value;
    }
    for (j = 0; j < p->argument_count; j++)
        if (!given[j]) return vd_error_set(VD_ERROR_INVALID, "argument '%s' is missing", p->argument_names[j]);
    return VD_OK;
}

/* Body of the public function `call`, which returns the arguments of a plan; plan may be NULL. */
static const vd_arg_info *vd__plan_arguments(const char *call, const void *plan, int *count) {
    const vd_plan *p = (const vd_plan *)plan;
    if (!p) {
        vd_callback_scope scope;
        vd_callback_scope_begin(NULL, call, &scope);
        vd__call_result(&scope, vd_error_set(VD_ERROR_INVALID, "plan is NULL"));
    }
    if (count) *count = p ? p->argument_count : 0;
    return p ? p->arguments : NULL;
}

/* Records each callback in divergent control flow. The barrier after it detects vc_return_if, after which a barrier is
   an error. */
static vd_result vd__trial_divergent(vd__trial *t) {
    char what[96];           /* a name of at most 50 bytes and a remark */
    vd_result result = VD_OK;
    vd__trial_begin(t);
    if (!t->k) return vd__fft_no_memory();
    for (int i = 0; i < 3 && t->name[i] && !result; i++) {
        VC_IF(t->k, vd__eq_u32(vc_local_index(t->k), 0)) { t->record(t, i); }
        snprintf(what, sizeof what, "%s runs in divergent control flow", t->name[i]);
        if (vc_error(t->k)) result = vd__trial_error(t, what);
        vc_barrier(t->k);
        if (!result && vc_error(t->k))
            result = vd_error_set(t->invalid, "%s contains vc_return_if; use vc_select or VC_IF instead", t->name[i]);
    }
    vc_free(t->k);
    return result;
}

/* ---- trials of fragments ---- */

static void vd__fragment_declare(vd__trial *t) {
    const vd_plan_fragment *f = (const vd_plan_fragment *)t->code;
    for (int i = 0; i < 2; i++)
        if (f->in[i]) vd__trial_buffer(t, f->in[i], VC_READ);
    if (f->code.declare) f->code.declare(t->k, f->code.user);
}

static vd_result vd__fragment_try(vd__trial *t, int i) {
    const vd_plan_fragment *f = (const vd_plan_fragment *)t->code;
    vc_val in[2] = { { 0, 0 }, { 0, 0 } };
    (void)i;
    for (int j = 0, own = 0; j < 2; j++) if (f->in[j]) in[j] = vd__load(&t->buffer[own++], vc_u32(0));
    t->out = vd_plan_fragment_build(f, t->k, in[0], in[1], vc_local_index(t->k));
    return VD_OK;
}

static vd_result vd__fragment_check(const vd__trial *t) {
    const vd_plan_fragment *f = (const vd_plan_fragment *)t->code;
    if (!t->out.owner) return vd_error_set(VD_ERROR_INVALID, "%s: io->out is not set", f->name);
    vc_type type = t->out.owner == (uintptr_t)t->k ? vc_typeof(t->out) : (vc_type)VC_NONE;
    if (!type) return vd_error_set(VD_ERROR_INVALID, "%s: io->out is a value of another kernel", f->name);
    if (f->out ? type != f->out && type != f->other_out : type < VC_I8 || type > VC_F64)
        return vd_error_set(VD_ERROR_INVALID, "%s: io->out is %s, but %s is expected", f->name, vc_type_name(type),
                            f->out ? vc_type_name(f->out) : "a number");
    vc_set(vc_var(t->k, "result", type), t->out); /* uses the result, so that it is not removed as dead code */
    const vc_info *info = vd__trial_reflect(t);
    if (info && f->has_arguments) return vd__arguments_note_access(t, info);
    for (int i = t->trial_buffers; info && i < info->arg_count; i++)
        if (!vd__trial_is_implicit(info, i))
            return vd_error_set(VD_ERROR_INVALID, "%s declares argument '%s', but this plan passes no arguments to it",
                                f->name, info->args[i].name);
    return vc_error(t->k) ? vd__trial_error(t, f->name) : VD_OK;
}

static vd_result vd__fragment_try_result(vd__trial *t) {
    static const char *const hints[] = { " (in is not set)", " (in[1] is not set)", "" }; /* by number of inputs */
    char what[96];           /* a name of at most 50 bytes and a hint */
    vd_result result = VD_OK;
    vd__trial_begin(t);
    if (!t->k) return vd__fft_no_memory();
    bool recorded = !vc_error(t->k);
    if (recorded) vd__fragment_try(t, 0);
    snprintf(what, sizeof what, "%s%s", t->name[0], recorded ? hints[t->trial_buffers] : "");
    result = vc_error(t->k) ? vd__trial_error(t, what) : vd__fragment_check(t);
    vc_free(t->k);
    return result;
}

VD_API vd_result vd_plan_fragment_check(vd_plan *plan, vd_plan_fragment *f) {
    char declares[64];
    vd__trial t;
    vd_result result = VD_OK;
    if (f->code.declare && !f->code.build)
        return vd_error_set(VD_ERROR_INVALID, "%s.declare is set, but %s.build is not", f->name, f->name);
    if (f->code.declare && !f->has_arguments)
        return vd_error_set(VD_ERROR_INVALID, "%s.declare is set, but this plan passes no arguments to %s", f->name,
                            f->name);
    if (!f->code.build) return VD_OK;
    snprintf(declares, sizeof declares, "%s.declare", f->name);
    memset(&t, 0, sizeof t);
    t.plan = plan;
    t.code = f;
    t.declares = declares;
    t.first_argument = plan->argument_count;
    t.max_arguments = VD_PLAN_MAX_ARGUMENTS;
    t.invalid = VD_ERROR_INVALID;
    t.name[0] = f->name;
    t.declare = vd__fragment_declare;
    t.record = vd__fragment_try;
    if (f->code.declare) result = vd__arguments_find(&t);
    f->first_argument = t.first_argument;
    f->argument_count = plan->argument_count - t.first_argument;
    if (!result) result = vd__fragment_try_result(&t);
    return result ? result : vd__trial_divergent(&t);
}

static vd_result vd__fft_query(vd_context *ctx, vd_buffer buffer, const char *role, vd_buffer_info *info) {
    vd_result result = vd_buffer_query(ctx, buffer, info);
    return result ? vd_error_amend(result, NULL, NULL, "%s", role) : VD_OK;
}

/* Trailing dimensions of length 1 are not counted, but at least `minimum` dimensions. */
static uint32_t vd__fft_buffer_dimensions(const vd_buffer_info *info, uint32_t minimum) {
    uint32_t dimensions = 4;
    while (dimensions > minimum && info->shape[dimensions - 1] == 1) dimensions--;
    return dimensions;
}

static vd_result vd__fft_query_f32(vd_context *ctx, vd_buffer buffer, const char *role, vd_buffer_info *info) {
    vd_result result = vd__fft_query(ctx, buffer, role, info);
    if (result || info->type == VD_F32) return result;
    return vd_error_set(VD_ERROR_INVALID, "buffer '%s' (%s) has type %s, but f32 is expected", info->name, role,
                        vd_type_name(info->type));
}

/* The type of the buffer becomes the element type of a plan, so VD_BYTES is an error. */
static vd_result vd__fft_query_scalars(vd_context *ctx, vd_buffer buffer, const char *role, vd_buffer_info *info) {
    vd_result result = vd__fft_query(ctx, buffer, role, info);
    if (result || info->type != VD_BYTES) return result;
    return vd_error_set(VD_ERROR_INVALID, "buffer '%s' (%s) has type bytes, but a scalar type is expected",
                        info->name, role);
}

static vd_result vd__fft_check_buffer(vd_context *ctx, vd_buffer buffer, const char *role, uint64_t bytes) {
    vd_buffer_info info;
    if (!buffer.id) return vd_error_set(VD_ERROR_INVALID, "%s: the buffer handle is 0", role);
    vd_result result = vd__fft_query(ctx, buffer, role, &info);
    if (result || info.size >= bytes) return result;
    return vd_error_set(VD_ERROR_INVALID, "buffer '%s' (%s) has %llu bytes, but the plan needs %llu", info.name,
                        role, (unsigned long long)info.size, (unsigned long long)bytes);
}

static uint64_t vd__ceil_div(uint64_t n, uint64_t divisor) { return (n + divisor - 1) / divisor; }

/* Facts of the device that affect only the performance of a plan. With groups_as_loops, VKDISPATCH_FFT_SHAPES=gpu or
   gpu-batch replaces them by those of a large GPU. Code whose correctness depends on a fact must use vd_device(ctx,
   0)->facts. */
static vd_facts vd__plan_facts(const vd_device_info *d) {
    const char *shapes = getenv("VKDISPATCH_FFT_SHAPES");
    vd_facts facts = d->facts;
    if (!facts.groups_as_loops || !shapes || strncmp(shapes, "gpu", 3) != 0) return facts;
    facts.groups_as_loops = facts.lane_access = false;
    facts.concurrent_groups = 528;
    return facts;
}

/* Maximum iterations of an invocation's loops over elements: half of the device's limit, because other loops count too.
   */
static uint64_t vd__plan_max_iterations(const vd_device_info *d) {
    uint32_t limit = d->facts.max_loop_iterations;
    return limit ? vd__ceil_div(limit, 2) : (uint64_t)1 << 32;
}

/* Maximum tiles in one dispatch if a tile waits for the earlier ones of the dispatch, with up to `iterations` loop
   iterations for each of them. */
static uint32_t vd__plan_tiles_in_flight(const vd_device_info *d, uint32_t iterations) {
    uint64_t limit = vd__plan_max_iterations(d) / iterations;
    return !d->facts.max_loop_iterations ? UINT32_MAX : limit ? (uint32_t)limit : 1;
}

static vd_result vd__plan_check_shapes(void) {
    const char *shapes = getenv("VKDISPATCH_FFT_SHAPES");
    if (!shapes || !*shapes || strcmp(shapes, "gpu") == 0 || strcmp(shapes, "gpu-batch") == 0) return VD_OK;
    return vd_error_set(VD_ERROR_INVALID, "VKDISPATCH_FFT_SHAPES is '%.40s', but must be gpu or gpu-batch", shapes);
}

/* Maximum size of a one-dimensional work-group. */
static uint32_t vd__plan_max_threads(const vd_device_info *d) {
    return d->limits.max_local_invocations < d->limits.max_local_size[0] ? d->limits.max_local_invocations
                                                                         : d->limits.max_local_size[0];
}

/* VD__CHECK_ENUM(desc->kind, "kind", VD_FFT_DST4): the last argument is the last enumerator. */
#define VD__CHECK_ENUM(value, name, last) vd__plan_check_enum((int)(value), name, (int)(last), #last)

static vd_result vd__plan_check_enum(int value, const char *name, int limit, const char *last) {
    if (value >= 0 && value <= limit) return VD_OK;
    return vd_error_set(VD_ERROR_INVALID, "%s is %d, but must be 0 to %d (%s)", name, value, limit, last);
}

static vd_result vd__plan_check_numbers(vd_type type, uint64_t count, uint64_t limit) {
    if (type < VD_I8 || type > VD_F64)
        return vd_error_set(VD_ERROR_INVALID, "type is %s, but must be a scalar number", vd_type_name(type));
    if (!count) return vd_error_set(VD_ERROR_INVALID, "count is 0");
    if (count <= limit) return VD_OK;
    return vd_error_set(VD_ERROR_UNSUPPORTED, "count is %llu, but the limit is %llu", (unsigned long long)count,
                        (unsigned long long)limit);
}

static vd_result vd__plan_check_identity(const vd_fragment *combine, vc_val identity, vd_type type) {
    if (!identity.owner && !combine->build) return VD_OK;
    if (!identity.owner)
        return vd_error_set(VD_ERROR_INVALID, "combine is set, but identity is not; set it to an immediate x such that "
                            "combine(x, y) is y for all y");
    if (!combine->build) return vd_error_set(VD_ERROR_INVALID, "identity is set, but combine is not");
    if (vd__is_kernel_value(identity))
        return vd_error_set(VD_ERROR_INVALID, "identity is a value of a kernel, but must be an immediate");
    if (vc_typeof(identity) == type) return VD_OK;
    return vd_error_set(VD_ERROR_INVALID, "identity has type %s, but the elements have type %s",
                        vc_type_name(vc_typeof(identity)), vd_type_name(type));
}

static uint32_t vd__f16_to_f32_bits(uint32_t half) {
    uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 31) return sign | 0x7f800000u | fraction << 13;
    if (!exponent && !fraction) return sign;
    exponent += exponent ? 112 : 113;
    for (; !(half & 0x7c00u) && !(fraction & 1024); exponent--) fraction *= 2; /* subnormal */
    return sign | exponent << 23 | (fraction & 1023) << 13;
}

/* f16 is converted to f32 by its bits, because vc_cast converts immediates of infinity, NaN and subnormal numbers only
   in a kernel. */
static vc_val vd__plan_identity(vc_val identity, vc_type type) {
    if (vc_typeof(identity) == type) return identity;
    if (vc_typeof(identity) != VC_F16 || type != VC_F32) return vc_cast(type, identity);
    return vc_imm(type, vd__f16_to_f32_bits((uint32_t)identity.bits));
}

/* Text of a shape: "8 x 37", or "37, 1" with the separator ", ". */
typedef struct vd__shape_text { char text[96]; } vd__shape_text;
static vd__shape_text vd__shape_text_of(const uint64_t *n, uint32_t count, const char *separator) {
    vd__shape_text out;
    uint32_t i, length = 0;
    for (out.text[0] = 0, i = 0; i < count && i < 4; i++)
        length += (uint32_t)snprintf(out.text + length, sizeof out.text - length, "%s%llu", i ? separator : "",
                                     (unsigned long long)n[i]);
    return out;
}

static vd_result vd__fft_check_axes(const uint64_t *shape, uint32_t axes, uint32_t dimensions) {
    uint32_t bit = dimensions;
    if (!(axes >> dimensions)) return VD_OK;
    while (!(axes >> bit & 1)) bit++;
    return vd_error_set(VD_ERROR_INVALID, "axes is 0x%x (bit %u), but the shape %s has only %u dimension%s", axes, bit,
                        vd__shape_text_of(shape, dimensions, " x ").text, dimensions, dimensions == 1 ? "" : "s");
}

/* limit: maximum number of elements. axes: bit mask of dimensions. */
static vd_result vd__fft_check_shape(const uint64_t *shape, uint32_t axes, uint64_t limit, uint32_t *dimensions,
                                     uint64_t *elements) {
    uint32_t count = 0;
    vd_result result = vd__plan_check_shapes();
    if (result) return result;
    while (count < 4 && shape[count]) count++;
    if (!count) return vd_error_set(VD_ERROR_INVALID, "dimension 0 of the shape is 0, but must be at least 1");
    for (uint32_t i = count; i < 4; i++)
        if (shape[i])
            return vd_error_set(VD_ERROR_INVALID, "dimension %u of the shape is 0, but dimension %u is not", count, i);
    result = vd__fft_check_axes(shape, axes, count);
    if (result) return result;
    *dimensions = count;
    *elements = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (shape[i] > limit / *elements)
            return vd_error_set(VD_ERROR_UNSUPPORTED, "the shape is %s, but the limit is %llu elements",
                                vd__shape_text_of(shape, count, " x ").text, (unsigned long long)limit);
        *elements *= shape[i];
    }
    return VD_OK;
}

VD__FFT_SMALL_END

/* Queries two buffers and where they begin: their addresses or, without addresses, their offsets in a native buffer.
   Returns false if a query fails, or if the offsets refer to different native buffers and cannot be compared. */
static bool vd__fft_compare_begin(vd_context *ctx, vd_buffer a, vd_buffer b, vd_buffer_info *a_info,
                                  vd_buffer_info *b_info, uint64_t *a_begin, uint64_t *b_begin) {
    if (vd_buffer_query(ctx, a, a_info) || vd_buffer_query(ctx, b, b_info)) return false;
    *a_begin = a_info->address ? a_info->address : a_info->native_offset;
    *b_begin = b_info->address ? b_info->address : b_info->native_offset;
    return (a_info->address && b_info->address) || a_info->storage == b_info->storage
           || (a_info->native && a_info->native == b_info->native);
}

static bool vd__fft_same_begin(vd_context *ctx, vd_buffer a, vd_buffer b) {
    vd_buffer_info a_info, b_info;
    uint64_t a_begin, b_begin;
    return a.id == b.id
           || (vd__fft_compare_begin(ctx, a, b, &a_info, &b_info, &a_begin, &b_begin) && a_begin == b_begin);
}

static bool vd__fft_overlap(vd_context *ctx, vd_buffer a, vd_buffer b) {
    vd_buffer_info a_info, b_info;
    uint64_t a_begin, b_begin;
    if (a.id == b.id) return true;
    return vd__fft_compare_begin(ctx, a, b, &a_info, &b_info, &a_begin, &b_begin)
           && (a_begin < b_begin ? b_begin - a_begin < a_info.size : a_begin - b_begin < b_info.size);
}

static vd_result vd__plan_check_overlap(vd_context *ctx, vd_buffer a, const char *a_name, vd_buffer b,
                                        const char *b_name, bool in_place_allowed) {
    if (!vd__fft_overlap(ctx, a, b) || (in_place_allowed && vd__fft_same_begin(ctx, a, b))) return VD_OK;
    return vd_error_set(VD_ERROR_INVALID, "%s and %s overlap%s", a_name, b_name,
                        in_place_allowed ? "; they must be disjoint or begin at the same byte" : "");
}

/* ---- the buffers of a plan ---- */

static vd_plan_role vd__role_of(const char *name, vd_buffer buffer, vd_type type, uint64_t count, bool writes) {
    vd_plan_role r;
    memset(&r, 0, sizeof r);
    r.name = name;
    r.buffer = buffer;
    r.type = type;
    r.count = count;
    r.writes = writes;
    return r;
}

/* alignment: bitwise OR of the addresses of all roles with `vectors`. */
static vd_result vd__role_check(vd_context *ctx, const vd_plan_role *r, uint64_t *alignment) {
    vd_buffer_info info;
    uint64_t size = vd_type_size(r->type);
    if (r->unused && r->buffer.id)
        return vd_error_set(VD_ERROR_INVALID, "%s must be {0}, because %s", r->name, r->unused);
    if (r->unused) return VD_OK;
    vd_result result = vd__fft_check_buffer(ctx, r->buffer, r->name, r->count * (size ? size : 1));
    if (!result) result = vd_buffer_query(ctx, r->buffer, &info);
    if (result) return result;
    if (r->vectors) *alignment |= info.address | info.native_offset;
    if (info.type == r->type || info.type == VD_BYTES || r->type == VD_BYTES) return VD_OK;
    return vd_error_set(VD_ERROR_INVALID, "buffer '%s' (%s) has type %s, but %s is expected", info.name, r->name,
                        vd_type_name(info.type), vd_type_name(r->type));
}

static vd_plan_io vd__plan_io_of(vd_plan_role *roles, uint32_t count) {
    vd_plan_io io;
    memset(&io, 0, sizeof io);
    io.roles = roles;
    io.role_count = count;
    return io;
}

VD_API vd_result vd_plan_check(const vd_plan *plan, vd_plan_io *io) {
    const vd_plan_role *r = io->roles;
    vd_result result = VD_OK;
    io->alignment = 0;
    for (uint32_t i = 0; i < io->role_count && !result; i++) result = vd__role_check(plan->ctx, &r[i], &io->alignment);
    for (uint32_t j = 0; j < io->role_count; j++)
        for (uint32_t i = 0; i < j && !result; i++)
            if (!r[i].unused && !r[j].unused && (r[i].writes || r[j].writes))
                result = vd__plan_check_overlap(plan->ctx, r[i].buffer, r[i].name, r[j].buffer, r[j].name,
                                                r[j].in_place == &r[i]);
    return result ? result : vd__arguments_bind(plan, io->args, io->arg_count, io->values);
}

VD_API vd_result vd_plan_dispatch(vd_list *list, const vd_plan_kernel *kernel, const vd_plan_io *io,
                                  const vd_dispatch_desc *desc) {
    vd_dispatch_desc d = *desc;
    vd_arg args[VD_MAX_ARGS];
    uint32_t count = kernel->count;
    if (d.arg_count < 0 || (uint32_t)d.arg_count > VD_MAX_ARGS - count)
        return vd_error_set(VD_ERROR_INVALID, "arg_count is %d, but must be 0 to %u", d.arg_count, VD_MAX_ARGS - count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t arg = kernel->args[i];
        args[i] = arg < VD__PLAN_ARGUMENT ? vd_b(io->roles[arg].buffer) : io->values[arg - VD__PLAN_ARGUMENT];
    }
    for (int i = 0; i < d.arg_count; i++) args[count++] = desc->args[i];
    d.kernel = kernel->kernel;
    d.args = args;
    d.arg_count = (int)count;
    return vd_dispatch(list, &d);
}

/* in_flight: maximum work-groups of a dispatch; the atomic counter from which work-groups obtain the index of their
   tile counts across dispatches. value: the kernel's own parameter; NULL: it has none. */
static vd_result vd__plan_dispatch_tiles(vd_list *list, const vd_plan_kernel *kernel, const vd_plan_io *io,
                                         const vd_arg *value, uint64_t tiles, uint32_t in_flight) {
    vd_dispatch_desc desc;
    vd_result result = VD_OK;
    memset(&desc, 0, sizeof desc);
    desc.args = value;
    desc.arg_count = value != NULL;
    for (; tiles && !result; tiles -= desc.groups[0]) {
        desc.groups[0] = tiles < in_flight ? tiles : in_flight;
        result = vd_plan_dispatch(list, kernel, io, &desc);
    }
    return result;
}

/* Mixed-radix digits of an index, the last one changing fastest, with the number of values and the memory stride of
   each. product: number of indices. */
enum { VD__DIGITS = 6 };
typedef struct vd__digits { uint32_t count; uint64_t size[VD__DIGITS], stride[VD__DIGITS], product; } vd__digits;

static void vd__digits_add(vd__digits *d, uint64_t size, uint64_t stride) {
    if (size == 1) return;
    if (d->count && d->stride[d->count - 1] == stride * size) { /* merge with the previous digit */
        d->size[d->count - 1] *= size;
        d->stride[d->count - 1] = stride;
    } else {
        d->size[d->count] = size;
        d->stride[d->count++] = stride;
    }
    d->product *= size;
}

/* Returns the memory offset of an index in `type`: VC_U32 or VC_U64; the index may have either type. Divides in 32 bits
   if all indices fit, which is faster. */
static vc_val vd__digits_offset_in(const vd__digits *d, vc_val index, vc_type type) {
    vc_type narrow = d->product <= UINT32_MAX ? (vc_type)VC_U32 : type;
    vc_val offset = vc_imm(type, 0);
    uint32_t i = d->count;
    index = vc_cast(narrow, index);
    while (i-- > 0) {
        vc_val digit = i ? vc_rem(index, vc_imm(narrow, d->size[i])) : index;
        index = i ? vc_div(index, vc_imm(narrow, d->size[i])) : index;
        offset = vc_add(offset, vc_mul(vc_cast(type, digit), vc_imm(type, d->stride[i])));
    }
    return offset;
}

static vc_val vd__digits_offset(const vd__digits *d, vc_val index) { return vd__digits_offset_in(d, index, VC_U32); }

/* Index of a thread among all threads of a dispatch, in `type`: VC_U32 or VC_U64. */
static vc_val vd__plan_thread(vc_kernel *k, vc_type type, uint32_t threads) {
    vc_val group = vc_cast(type, vc_group_id(k, 0)), thread = vc_cast(type, vc_local_index(k));
    return vc_add(vc_mul(group, vc_imm(type, threads)), thread);
}

static vc_val vd__offset_at(vc_val offset, vc_val index, uint64_t stride) {
    vc_type type = vc_typeof(offset);
    return vc_add(offset, vc_mul(vc_cast(type, index), vc_imm(type, stride)));
}

/* vd__digits_offset on the host. */
static uint64_t vd__digits_offset_of(const vd__digits *d, uint64_t index) {
    uint64_t offset = 0;
    for (uint32_t i = d->count; i-- > 0; index /= d->size[i])
        offset += (i ? index % d->size[i] : index) * d->stride[i];
    return offset;
}

/* Sets the default of an index type and checks it. limit: maximum elements with 32-bit indices. */
static vd_result vd__plan_check_index_type(vd_context *ctx, vd_type *type, uint64_t elements, uint64_t limit) {
    if (!*type) *type = elements > limit ? VD_U64 : VD_U32;
    if (*type != VD_U32 && *type != VD_U64)
        return vd_error_set(VD_ERROR_INVALID, "index_type is %s, but must be VD_U32 or VD_U64", vd_type_name(*type));
    if (*type == VD_U32 && elements > limit)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "indices of %llu elements are u32, but the limit for u32 is %llu; "
                            "use indices of type VD_U64", (unsigned long long)elements, (unsigned long long)limit);
    if (*type == VD_U64 && !(vd_device(ctx, 0)->features & VD_FEATURE_I64))
        return vd_error_set(VD_ERROR_UNSUPPORTED, "indices are u64, but the device does not support 64-bit integers "
                            "(VD_FEATURE_I64)");
    return VD_OK;
}

// >>tuner
/* vd_plan_tune: times the choices of a plan, and keeps the timings in the context and in its cache directory. */
VD__FFT_SMALL

enum {
    VD__TUNER_VERSION = 1,   /* part of the key of timings */
    VD__TUNER_ROUNDS = 5,    /* timed rounds of each choice, interleaved with those of the others */
    VD__TUNER_SAMPLE_BYTES = 1 << 20 /* bytes of the results that are compared, at each end */
};

/* A choice that is compiled and timed. */
typedef struct vd__tuner_trial {
    struct vd__plan_object *objects; /* its buffers and kernels */
    uint8_t *data;           /* the library's struct */
    bool active;             /* it is timed in the current rounds */
    double ns[VD__TUNER_ROUNDS], median; /* nanoseconds of one run, for each round; median 0: not timed */
} vd__tuner_trial;

/* State of vd_plan_tune. */
typedef struct vd__tuning {
    vd_plan *plan;
    const vd_plan_tuner *tuner;
    uint8_t *choices;        /* the caller's array */
    uint8_t *key, *kept;     /* kept: vd_plan_timings, then the choices, fastest first */
    size_t key_size, kept_size;
    uint8_t *expected, *actual; /* samples of the results of the first trial, and of another one */
    vd_plan_results results;
    uint64_t sample_bytes;   /* at each end */
    uint32_t count;
    vd__tuner_trial trial[VD_PLAN_MAX_CHOICES];
    vd_result error_result;  /* the thread's error before the call, which failing trials change */
    char error_text[1024];
} vd__tuning;

static uint8_t *vd__tuning_choice(const vd__tuning *s, uint32_t i) {
    return s->choices + (size_t)i * s->tuner->choice_size;
}

static vd_result vd__tuner_check(const vd_plan *plan, const vd_plan_tuner *t, const void *choices,
                                 const void *timings) {
    const char *null = !plan ? "plan" : !t ? "tuner" : !choices ? "choices" : !timings ? "timings" : NULL;
    if (null) return vd_error_set(VD_ERROR_INVALID, "vd_plan_tune: %s is NULL", null);
    null = !t->propose ? "propose" : !t->accepts ? "accepts" : !t->build ? "build" : !t->record ? "record"
         : t->field_count && !t->fields ? "fields" : NULL;
    if (!t->name) null = "name";
    if (null)
        return vd_error_set(VD_ERROR_INVALID, "vd_plan_tune '%s': tuner.%s is NULL", t->name ? t->name : "", null);
    if (!t->choice_size) return vd_error_set(VD_ERROR_INVALID, "vd_plan_tune '%s': tuner.choice_size is 0", t->name);
    return plan->ctx ? VD_OK : vd_error_set(VD_ERROR_INVALID, "vd_plan_tune '%s': the plan's context was destroyed",
                                            t->name);
}

/* ---- kept timings ---- */

/* The key of timings. The fields of the tuner follow in memory. */
typedef struct vd__tuner_key {
    char kind[32], name[32], device[256], driver[256];
    uint64_t words[10];
} vd__tuner_key;

/* The memory of the key must be zero before: keys are compared and hashed by their bytes. */
static void vd__tuner_key_make(vd__tuning *s) {
    const vd_plan_tuner *t = s->tuner;
    const vd_device_info *d = vd_device(s->plan->ctx, 0);
    const uint64_t words[10] = { VD__TUNER_VERSION, VKDISPATCH_FFT_VERSION, sizeof(vd_plan_timings), t->choice_size,
                                 (uint64_t)d->backend, d->vendor_id, d->device_id, d->driver_version, d->features,
                                 t->field_count };
    vd__tuner_key *key = (vd__tuner_key *)(void *)s->key;
    snprintf(key->kind, sizeof key->kind, "%s", s->plan->kind->name);
    snprintf(key->name, sizeof key->name, "%s", t->name);
    snprintf(key->device, sizeof key->device, "%s", d->name);
    snprintf(key->driver, sizeof key->driver, "%s", d->driver);
    memcpy(key->words, words, sizeof words);
    if (t->field_count) memcpy(key + 1, t->fields, t->field_count * sizeof *t->fields);
}

/* An entry of the list of timings of a context. Its key and the timings follow in memory. */
typedef struct vd__tuned {
    struct vd__tuned *next;
    size_t key_size, kept_size;
} vd__tuned;

/* The address is the key under which a context stores its list of timings. */
static const char vd__tuned_key = 'm';

static void vd__tuned_release(vd_context *ctx, void *data) {
    vd_allocator allocator = vd_context_allocator(ctx);
    vd__tuned *entry = (vd__tuned *)data, *next;
    for (; entry; entry = next) {
        next = entry->next;
        vd__fft_free(&allocator, entry);
    }
}

static vd__tuned *vd__tuned_find(void *list, const vd__tuning *s) {
    vd__tuned *entry = (vd__tuned *)list;
    while (entry && (entry->key_size != s->key_size || entry->kept_size != s->kept_size
                     || memcmp(entry + 1, s->key, s->key_size) != 0))
        entry = entry->next;
    return entry;
}

/* Returns VD_TIMEOUT if the list of the context does not contain these timings. */
static vd_result vd__tuned_get(vd_context *ctx, void **data, void *user) {
    vd__tuning *s = (vd__tuning *)user;
    vd__tuned *entry = vd__tuned_find(*data, s);
    (void)ctx;
    if (!entry) return VD_TIMEOUT;
    memcpy(s->kept, (const uint8_t *)(entry + 1) + s->key_size, s->kept_size);
    return VD_OK;
}

static vd_result vd__tuned_put(vd_context *ctx, void **data, void *user) {
    vd__tuning *s = (vd__tuning *)user;
    vd_allocator allocator = vd_context_allocator(ctx);
    vd__tuned *entry = vd__tuned_find(*data, s);
    if (!entry) {
        entry = (vd__tuned *)vd__fft_allocate(&allocator, sizeof *entry + s->key_size + s->kept_size);
        if (!entry) return VD_ERROR_OUT_OF_MEMORY;
        entry->next = (vd__tuned *)*data;
        entry->key_size = s->key_size;
        entry->kept_size = s->kept_size;
        memcpy(entry + 1, s->key, s->key_size);
        *data = entry;
    }
    memcpy((uint8_t *)(entry + 1) + s->key_size, s->kept, s->kept_size);
    return VD_OK;
}

static vd_result vd__tuned_access(vd__tuning *s, vd_result (*visit)(vd_context *ctx, void **data, void *user)) {
    return vd_context_attach(s->plan->ctx, &vd__tuned_key, visit, s, vd__tuned_release);
}

/* Finds timings in the context or in its cache directory. Those in the directory are checked, because the file may be
   damaged. */
static bool vd__tuned_load(vd__tuning *s) {
    vd_plan_timings *times = (vd_plan_timings *)(void *)s->kept;
    if (vd__tuned_access(s, vd__tuned_get)) {
        if (vd_cache_load(s->plan->ctx, s->plan->kind->name, s->key, s->key_size, s->kept, s->kept_size)
            != s->kept_size)
            return false;
        if (!times->count || times->count > VD_PLAN_MAX_CHOICES || times->default_index >= times->count
            || !s->tuner->accepts(s->tuner->user, times + 1))
            return false;
        vd__tuned_access(s, vd__tuned_put);
    }
    times->from_cache = 1;
    return true;
}

/* ---- trials ---- */

static void vd__tuner_trial_drop(const vd__tuning *s, vd__tuner_trial *t) {
    struct vd__plan_object *objects = s->plan->objects;
    s->plan->objects = t->objects;
    vd__plan_drop_objects(s->plan, NULL);
    s->plan->objects = objects;
    t->objects = NULL;
    t->active = false;
}

/* Returns the total time of `times` runs in nanoseconds, measured by the host's clock, or 0 on failure. */
static double vd__tuner_trial_run(const vd__tuning *s, const vd__tuner_trial *t, uint32_t times) {
    vd_context *ctx = s->plan->ctx;
    vd_list_desc desc;
    vd_event event;
    vd_result result = VD_OK;
    memset(&desc, 0, sizeof desc);
    vd_list *list = vd_list_begin(ctx, &desc);
    if (!list) return 0;
    for (; times && !result; times--) result = s->tuner->record(s->tuner->user, t->data, list);
    if (result) {
        vd_list_discard(list);
        return 0;
    }
    vd_list_end(list);
    uint64_t start = vd_time_ns();
    if (vd_submit(list, NULL, &event) || vd_wait(ctx, event, VD_FOREVER)) return 0;
    start = vd_time_ns() - start;
    return start ? (double)start : 1;
}

/* type: f64, f32 or f16. */
static double vd__tuner_number(vd_type type, const uint8_t *data, uint64_t i) {
    double x;
    float f;
    uint16_t h;
    if (type == VD_F64) {
        memcpy(&x, data + 8 * i, 8);
        return x;
    }
    if (type == VD_F32) {
        memcpy(&f, data + 4 * i, 4);
        return (double)f;
    }
    memcpy(&h, data + 2 * i, 2);
    uint32_t bits = vd__f16_to_f32_bits(h);
    memcpy(&f, &bits, 4);
    return (double)f;
}

/* Results that are all zero count as wrong, and so do numbers with an infinity or a NaN. */
static bool vd__tuner_samples_agree(const vd__tuning *s) {
    vd_type type = s->results.type;
    bool numbers = type == VD_F16 || type == VD_F32 || type == VD_F64;
    uint64_t count = 2 * s->sample_bytes / (numbers ? vd_type_size(type) : 1), i = 0;
    double error = 0, norm = 0;
    if (!numbers) {
        while (i < count && !s->expected[i]) i++;
        return i < count && memcmp(s->expected, s->actual, (size_t)count) == 0;
    }
    for (; i < count; i++) {
        double x = vd__tuner_number(type, s->expected, i), y = vd__tuner_number(type, s->actual, i) - x;
        error += y * y;
        norm += x * x;
    }
    return norm > 0 && error <= s->results.tolerance * s->results.tolerance * norm;
}

/* Runs a trial once, and compares its results with those of the first trial. */
static vd_result vd__tuner_trial_verify(vd__tuning *s, const vd__tuner_trial *t) {
    vd_plan_results *r = &s->results;
    vd_context *ctx = s->plan->ctx;
    if (!s->tuner->prepare) return VD_OK;
    memset(r, 0, sizeof *r);
    vd_result result = s->tuner->prepare(s->tuner->user, r);
    if (result) return result;
    uint32_t size = vd_type_size(r->type);
    uint64_t bytes = r->count * (size ? size : 1);
    s->sample_bytes = bytes < VD__TUNER_SAMPLE_BYTES ? bytes : (uint64_t)VD__TUNER_SAMPLE_BYTES;
    if (vd__tuner_trial_run(s, t, 1) <= 0) return vd_error_result();
    result = vd_buffer_read(ctx, r->buffer, 0, s->actual, s->sample_bytes);
    if (!result)
        result = vd_buffer_read(ctx, r->buffer, bytes - s->sample_bytes, s->actual + s->sample_bytes, s->sample_bytes);
    if (result) return result;
    if (t == s->trial) memcpy(s->expected, s->actual, (size_t)(2 * s->sample_bytes));
    if (vd__tuner_samples_agree(s)) return VD_OK;
    return vd_error_set(VD_ERROR_INVALID, t == s->trial ? "the results of the first choice are all zero, or are "
                                                           "not numbers"
                                                        : "the results are not those of the first choice");
}

/* Compiles and verifies the trials from number `first` on; those that fail are dropped. Returns the error of trial 0,
   without which the others are not tried. */
static vd_result vd__tuner_build(vd__tuning *s, uint32_t first) {
    for (uint32_t i = first; i < s->count; i++) {
        vd__tuner_trial *t = &s->trial[i];
        struct vd__plan_object *objects = s->plan->objects;
        s->plan->objects = NULL;
        vd_result result = s->tuner->build(s->tuner->user, vd__tuning_choice(s, i), t->data);
        t->objects = s->plan->objects;
        s->plan->objects = objects;
        if (!result) result = vd__tuner_trial_verify(s, t);
        t->active = !result;
        if (result) vd__tuner_trial_drop(s, t);
        if (result && !i) return result;
    }
    return VD_OK;
}

/* ---- timing ---- */

static double vd__tuner_median(const double *values) {
    double sorted[VD__TUNER_ROUNDS];
    uint32_t j;
    for (uint32_t i = 0; i < VD__TUNER_ROUNDS; i++) {
        for (j = i; j && sorted[j - 1] > values[i]; j--) sorted[j] = sorted[j - 1];
        sorted[j] = values[i];
    }
    return sorted[VD__TUNER_ROUNDS / 2];
}

/* Times the active trials in interleaved rounds. In each round, every trial runs as often as trial 0 can run in 2 ms,
   but at least once and at most 200 times. A trial that takes more than twice as long as trial 0 is not timed in later
   rounds. Returns the index of the fastest trial. */
static uint32_t vd__tuner_time(vd__tuning *s) {
    double once_ns = vd__tuner_trial_run(s, &s->trial[0], 2) / 2;
    uint32_t times = once_ns > 2e6 || once_ns <= 0 ? 1 : once_ns < 1e4 ? 200 : (uint32_t)(2e6 / once_ns) + 1;
    uint32_t round, i, winner = 0;
    for (round = 0; round < VD__TUNER_ROUNDS; round++) {
        for (i = 0; i < s->count; i++) {
            vd__tuner_trial *t = &s->trial[i];
            if (!t->active) continue;
            t->ns[round] = vd__tuner_trial_run(s, t, times) / times;
            t->median = t->ns[round];
            t->active = !i || (t->median > 0 && t->median < 2 * s->trial[0].ns[round]);
        }
    }
    for (i = 0; i < s->count; i++) {
        if (!s->trial[i].active) continue;
        s->trial[i].median = vd__tuner_median(s->trial[i].ns);
        if (s->trial[i].median < s->trial[winner].median) winner = i;
    }
    return winner;
}

static uint32_t vd__tuner_count_faster(const vd__tuning *s, uint32_t count, const vd__tuner_trial *t) {
    uint32_t faster = 0;
    for (uint32_t i = 0; i < count; i++) faster += s->trial[i].median > 0 && s->trial[i].median < t->median;
    return faster;
}

/* Times the trials from number `first` on, together with trial 0 and the fastest three of the earlier ones. The times
   of the other earlier trials are multiplied by the ratio of the new to the old time of trial 0. Returns the index of
   the fastest trial. */
static uint32_t vd__tuner_time_variants(vd__tuning *s, uint32_t first, uint32_t winner) {
    double earlier_ns = s->trial[0].median;
    bool again[VD_PLAN_MAX_CHOICES];
    if (s->count == first) return winner;
    for (uint32_t i = 0; i < first; i++)
        again[i] = i == 0 || (s->trial[i].median > 0 && vd__tuner_count_faster(s, first, &s->trial[i]) < 3);
    for (uint32_t i = 0; i < first; i++) s->trial[i].active = again[i];
    vd__tuner_build(s, first);
    winner = vd__tuner_time(s);
    for (uint32_t i = 0; i < first; i++) if (!again[i]) s->trial[i].median *= s->trial[0].median / earlier_ns;
    return winner;
}

/* Sets s->kept: the timed trials, fastest first, but trial 0 (the default) first unless another is at least 1 % faster.
   */
static void vd__tuner_sort(vd__tuning *s, uint32_t winner) {
    vd_plan_timings *out = (vd_plan_timings *)(void *)s->kept;
    uint8_t *choices = (uint8_t *)(out + 1);
    bool listed[VD_PLAN_MAX_CHOICES] = { false };
    uint32_t i, size = s->tuner->choice_size;
    uint32_t next = s->trial[winner].median > 0.99 * s->trial[0].median ? 0 : winner; /* s->count: all are listed */
    memset(s->kept, 0, s->kept_size);
    while (next < s->count) {
        if (!next) out->default_index = out->count;
        listed[next] = true;
        memcpy(choices + (size_t)out->count * size, vd__tuning_choice(s, next), size);
        out->ms[out->count++] = (float)(s->trial[next].median * 1e-6);
        for (next = s->count, i = 0; i < s->count; i++)
            if (!listed[i] && s->trial[i].median > 0
                && (next == s->count || s->trial[i].median < s->trial[next].median))
                next = i;
    }
}

/* best: the fastest choice so far; NULL in the first call. */
static vd_result vd__tuner_propose(vd__tuning *s, const void *best) {
    uint32_t count = s->tuner->propose(s->tuner->user, s->choices, s->count, best);
    if (count < s->count || count > VD_PLAN_MAX_CHOICES)
        return vd_error_set(VD_ERROR_INVALID, "propose returned %u, but must return %u to %d", count, s->count,
                            (int)VD_PLAN_MAX_CHOICES);
    s->count = count;
    return VD_OK;
}

static vd_result vd__tuner_measure(vd__tuning *s) {
    vd_result result = vd__tuner_propose(s, NULL);
    uint32_t first = s->count;
    if (!result) result = vd__tuner_build(s, 0);
    if (result || !first) return result;
    uint32_t winner = vd__tuner_time(s);
    if (s->trial[0].median <= 0) return vd_error_result();
    /* a copy, because `propose` may write to the array */
    memcpy(s->kept, vd__tuning_choice(s, winner), s->tuner->choice_size);
    result = vd__tuner_propose(s, s->kept);
    if (result) return result;
    winner = vd__tuner_time_variants(s, first, winner);
    vd__tuner_sort(s, winner);
    vd__tuned_access(s, vd__tuned_put);
    vd_cache_store(s->plan->ctx, s->plan->kind->name, s->key, s->key_size, s->kept, s->kept_size);
    return VD_OK;
}

static vd_result vd__tuner_run(vd__tuning *s) {
    const vd_allocator *a = &s->plan->allocator;
    size_t size = (s->tuner->trial_size + (size_t)15) / 16 * 16, sample = 2 * (size_t)VD__TUNER_SAMPLE_BYTES;
    uint8_t *block = (uint8_t *)vd__fft_allocate(a, VD_PLAN_MAX_CHOICES * size + (s->tuner->prepare ? 2 * sample : 1));
    if (!block) return vd__fft_no_memory();
    for (uint32_t i = 0; i < VD_PLAN_MAX_CHOICES; i++) s->trial[i].data = block + i * size;
    s->expected = block + VD_PLAN_MAX_CHOICES * size;
    s->actual = s->expected + sample;
    vd_result result = vd__tuner_measure(s);
    for (uint32_t i = 0; i < s->count; i++) vd__tuner_trial_drop(s, &s->trial[i]);
    vd__fft_free(a, block);
    return result;
}

/* Restores the thread's error after failed trials. Its parts are then joined. */
static void vd__tuner_restore_error(const vd__tuning *s) {
    if (vd_error_result() != s->error_result || strcmp(vd_error_text(), s->error_text) != 0)
        vd_error_set(s->error_result, "%s", s->error_text);
    vd_error_text(); /* also restores the text, to which the caller may hold a pointer */
}

VD_API vd_result vd_plan_tune(vd_plan *plan, const vd_plan_tuner *tuner, void *choices, vd_plan_timings *timings) {
    vd_result result = vd__tuner_check(plan, tuner, choices, timings);
    if (result) return result;
    size_t key_size = sizeof(vd__tuner_key) + tuner->field_count * sizeof *tuner->fields;
    size_t choices_size = VD_PLAN_MAX_CHOICES * (size_t)tuner->choice_size;
    size_t kept_size = sizeof *timings + choices_size;
    vd__tuning *s = (vd__tuning *)vd__fft_allocate(&plan->allocator, sizeof *s + key_size + kept_size);
    if (!s) return vd__fft_no_memory();
    s->plan = plan;
    s->tuner = tuner;
    s->choices = (uint8_t *)choices;
    s->key_size = key_size;
    s->kept_size = kept_size;
    s->key = (uint8_t *)(s + 1);
    s->kept = s->key + key_size;
    s->error_result = vd_error_result();
    snprintf(s->error_text, sizeof s->error_text, "%s", vd_error_text());
    vd__tuner_key_make(s);
    memset(timings, 0, sizeof *timings);
    if (!vd_device(plan->ctx, 0)->facts.executes) result = vd__tuner_propose(s, NULL);
    else if (!vd__tuned_load(s)) result = vd__tuner_run(s);
    memcpy(timings, s->kept, sizeof *timings);
    if (timings->count) memcpy(choices, s->kept + sizeof *timings, choices_size);
    if (result) vd_error_amend(result, NULL, NULL, "cannot tune '%s'", tuner->name);
    else vd__tuner_restore_error(s);
    vd__fft_free(&plan->allocator, s);
    return result;
}

VD__FFT_SMALL_END

// >>factor
/* Factorisation of lengths into radices, and the arithmetic cost of a radix. */

VD__FFT_SMALL

/* The largest factor a <= sqrt(r) of a radix r = a * b; 1 if r is prime. */
static uint32_t vd__fft_balanced_factor(uint32_t r) {
    uint32_t a, best = 1;
    for (a = 2; a * a <= r; a++) if (r % a == 0) best = a;
    return best;
}

/* Whether all prime factors of n are at most `limit`. */
static bool vd__fft_is_smooth(uint64_t n, uint64_t limit) {
    for (uint64_t p = 2; p <= limit && n > 1; p++) while (n % p == 0) n /= p;
    return n == 1;
}

/* Whether a stage of this radix is direct: see vd__fft_receive_direct. */
static bool vd__fft_is_direct(uint32_t radix) { return radix > VD__FFT_RADIX; }

/* The largest prime factor of n that can be the radix of a direct stage, or 0. */
static uint32_t vd__fft_direct_factor(uint32_t n) {
    for (uint32_t p = VD__FFT_DIRECT; p > VD__FFT_RADIX; p -= 2)
        if (n % p == 0 && vd__fft_balanced_factor(p) == 1) return p;
    return 0;
}

/* The smallest m >= n without prime factors above `limit`, which is 3, 5 or 7; 0 if m exceeds 64 bits. */
static uint64_t vd__fft_next_smooth(uint64_t n, uint64_t limit) {
    uint64_t best = 0, x;
    for (uint64_t seven = 1;; seven *= 7) {
        for (uint64_t five = seven;; five *= 5) {
            for (uint64_t three = five;; three *= 3) {
                for (x = three; x < n && x <= UINT64_MAX / 2;) x *= 2;
                if (x >= n && (!best || x < best)) best = x;
                if (three >= n || three > UINT64_MAX / 3) break;
            }
            if (limit < 5 || five >= n || five > UINT64_MAX / 5) break;
        }
        if (limit < 7 || seven >= n || seven > UINT64_MAX / 7) return best;
    }
}

/* Estimated number of real operations of a butterfly of radix r. A fused multiplication and addition counts as one. */
static double vd__fft_count_operations(uint32_t r) {
    uint32_t a = vd__fft_balanced_factor(r), b = r / a;
    if (r == 2) return 4;
    if (a == 1) return (double)(r - 1) * (r - 1) + 4.0 * (r - 1);
    return a * vd__fft_count_operations(b) + b * vd__fft_count_operations(a) + (r % 2 ? 4.0 : 2.5) * (a - 1) * (b - 1);
}

// >>plan
/* Planning: chooses the passes of a transform and the shape of the kernel of each. The result is data, which
   vd_fft_explain prints; no kernel is compiled. A pass is one dispatch over the whole array; it consists of stages,
   each of which computes all butterflies of one radix. */

/* Padding of shared memory: `width` unused words after every 2^shift words, to avoid bank conflicts. */
typedef struct vd__fft_pad { uint8_t shift, width; } vd__fft_pad;

/* How one work-group computes its transforms, along one axis or several. Thread t of a transform computes the
   butterflies t, t + threads, … of every stage. */
typedef struct vd__fft_shape {
    uint32_t n;              /* elements of a transform, the product of size[] */
    uint32_t axes, size[VD__FFT_AXES]; /* the index along the first axis changes fastest in the index of an element */
    uint32_t stages, radix[VD__FFT_STAGES], axis[VD__FFT_STAGES]; /* radix and axis of each stage, in order */
    /* bit i: stage i receives the results of stage i - 1 in registers, without shared memory. If the stages are along
       different axes, each thread already holds the values that it needs; if they are along the same axis, neighbours
       in a subgroup exchange them by shuffles (vd__fft_uses_shuffle) */
    uint32_t register_exchange;
    uint32_t threads;        /* threads of one transform */
    uint32_t ffts_per_group; /* transforms of one work-group */
    /* while loading, while storing: consecutive threads belong to consecutive transforms instead of to one transform */
    bool columns_in, columns_out;
    bool unaligned_columns;  /* not all runs of columns begin at a multiple of 32 bytes */
    bool split_components;   /* exchanges pass real and imaginary parts through shared memory one after the other */
    uint32_t slices;         /* an exchange of one component passes through shared memory in this many parts */
    bool complex_elements;   /* real and imaginary part are one element of shared memory */
    /* exchanges alternate between two halves of shared memory, which saves one of the two barriers of an exchange */
    bool double_buffered;
    vd__fft_pad pad[VD__FFT_STAGES]; /* padding of the exchange after each stage */
    /* after the last stage, results are combined with their mirror images X[n - k] through shared memory (room real) */
    bool real_fold;
    bool convolves;          /* the kernel computes a transform, a pointwise product and the inverse transform */
    /* stages process the last axis first, and those of the inverse transform, in reverse order, process it last: the
       kernel loads and stores whole rows */
    bool last_axis_first;
} vd__fft_shape;

/* Index arithmetic of a stage in Stockham autosort order. For j < radix, butterfly b reads the elements
   first(b, read_stride) + j * read_stride and writes the elements first(b, write_stride) + j * write_stride, where
   first(b, c) = b / c * c * radix + b % c. */
typedef struct vd__fft_stage_info {
    uint32_t axis, radix;
    uint32_t axis_stride;    /* distance between neighbours along its axis, in elements */
    uint32_t length;         /* product of the radices of earlier stages along this axis */
    uint32_t read_stride, write_stride;
    uint32_t butterflies;    /* butterflies per thread; if the stage is direct, pairs of results */
    /* butterfly u of a thread is first(thread / lanes, exchange_stride) + (thread % lanes + u * lanes) *
       exchange_stride, computed with exchange_radix: the radix of the stage with which values are exchanged in
       registers. This is the previous stage or, with last_axis_first or if lanes send values to it, the next one */
    bool register_exchange;
    uint32_t exchange_stride, exchange_radix;
    uint32_t lanes;          /* threads that exchange the values of a butterfly by shuffles; 1: no shuffles */
    uint32_t table;          /* offset of its table (vd__fft_tables); set by vd__fft_stages */
} vd__fft_stage_info;

/* Addresses of the elements that a pass loads, or stores, in elements. The elements of transform q of block o are at
   block(o) + transform(q) + the sum of index * stride over the axes, plus first, minus skip. skip: distance of the
   first valid index of the range of a pass from index 0, where that is not in memory. first: in the numbering for
   hooks, distance that the starts of ranges of other dimensions cause. */
typedef struct vd__fft_addressing {
    vd__digits block, transform;
    uint64_t stride[VD__FFT_AXES], skip, first;
} vd__fft_addressing;

/* Valid indices along one axis: index i of transform q is valid if start <= i * scale + q / width < start + count.
   count 0: all indices are valid. */
typedef struct vd__fft_range { uint64_t count, scale, width, start; } vd__fft_range;

/* A table of a plan. Passes whose tables have equal parameters (key) share one. offset: in complex numbers. */
typedef struct vd__fft_table { uint64_t key[5]; uint32_t offset; } vd__fft_table;

/* Rows of a work-group in shared memory, on their way from or to memory. */
typedef struct vd__fft_tile {
    uint32_t length;         /* elements of a row; 0: rows do not pass through shared memory */
    uint32_t pitch;          /* distance between rows in shared memory, odd to avoid bank conflicts */
    uint32_t rows;           /* number of rows */
    uint32_t elements;       /* size in shared memory; the last threads may copy elements after the last row */
    bool scalar;             /* elements are reals, not complex */
} vd__fft_tile;

/* Tables of a pass: offsets into the buffer of all tables of the plan, in complex numbers. */
typedef struct vd__fft_tables {
    /* twiddle factors of each stage, for the first transform of the kernel and, if it convolves, for the second */
    uint32_t stage[2][VD__FFT_STAGES];
    uint32_t chirp, spectrum;          /* Bluestein's algorithm: the chirp, and the spectrum of its conjugate */
    uint32_t chirp_fine, chirp_coarse; /* roots of unity from which the device computes the chirp */
    uint32_t fine, coarse;             /* roots of unity of the length of an axis that is split over several passes */
} vd__fft_tables;

/* X-macros of the fields that identify a pass, FIELD(type, name). They declare members of structs, and
   vd__fft_measure_key_make uses the same fields as the key of measured times. */
#define VD__FIELD_MEMBER(type, name) type name;

#define VD__FFT_PRODUCT_FIELDS(FIELD) \
    FIELD(uint32_t, channels) /* the kernel loops over channels and filters; 0: no product */ \
    FIELD(uint32_t, filters)

/* Product of a convolution: the kernel multiplies by the spectra of the filters and computes the inverse transform. It
   sums over channels; it computes the results of several filters one after the other. */
typedef struct vd__fft_product {
    VD__FFT_PRODUCT_FIELDS(VD__FIELD_MEMBER)
    /* the spectrum is evicted from the cache between two images, and is most of the memory that is read: consecutive
       work-groups process the same part of all images */
    bool uncached;
    vd__fft_addressing spectrum; /* addresses in the spectrum of the first channel and filter */
} vd__fft_product;

/* Maximum arguments of a map; see plan_arguments. */
enum { VD__CONVOLVE_MAX_ARGUMENTS = VD_PLAN_MAX_ARGUMENTS - 3 };

/* Additional data for planning a convolution. An image is one signal, of 1 to 3 dimensions. The index along dimension 0
   of the plan is the number of the image; batch * channels images are read. */
typedef struct vd__fft_convolution {
    uint64_t batch;
    uint32_t channels, filters;
    bool filter_per_group;   /* see vd_convolve_desc; also with map, for the addresses of elements */
    vd_fft_hook map;         /* replaces the product; NULL: none */
    int plan_arguments;      /* number of arguments of a run before those of map: none, or in, out and maybe roots */
    /* parts of the first axis, transformed together with the last axis; 1: not divided; 0: choose the fastest by
       estimate */
    uint32_t parts;
    bool after_product;      /* the passes being planned are after the product */
    bool in_parts;           /* the route being planned divides the first axis into parts */
} vd__fft_convolution;

/* Roles of the buffers of a pass.
   - IN and OUT are the user's buffers. For VD_FFT_REAL, in both directions, IN holds the reals and OUT the spectrum; in
     real convolutions both hold reals.
   - MIDDLE holds the data between the passes of two axes if OUT cannot, because its type is not that of the arithmetic,
     because it does not have all indices, because the store hook stores nothing, or because it must be preserved.
   - TEMP holds the data between two passes of one axis.
   - FOLD holds the data between the last pass of an axis and a separate pass that combines bins with their mirror
     images (room real), and the data after the product of a convolution with several channels or filters.
   - TABLE holds tables, SPECTRUM the spectrum of a convolution's filter. */
typedef enum vd__fft_role {
    VD__FFT_IN, VD__FFT_OUT, VD__FFT_TEMP, VD__FFT_MIDDLE, VD__FFT_FOLD, VD__FFT_ROLES,
    VD__FFT_TABLE = VD__FFT_ROLES, VD__FFT_SPECTRUM, VD__FFT_ALL_ROLES
} vd__fft_role;

#define VD__REAL_FIELDS(FIELD) \
    FIELD(vd_fft_kind, kind) \
    FIELD(bool, inverse) /* the complex transform is an inverse transform, and its results are reals */ \
    /* the complex transform has half the length of the axis or, for kind I, of its extension to 2 h elements; otherwise
       it has the length of the axis, and the imaginary part of the input is zero or a second row */ \
    FIELD(bool, half_length) \
    FIELD(bool, two_rows) /* a complex transform computes two rows: vd_fft_desc.pack_rows */ \
    FIELD(uint64_t, n) /* length of the axis */ \
    FIELD(uint64_t, h) /* length of the complex transform */

/* How a pass loads and stores the elements of a real transform; all zeros: the transform is complex. */
typedef struct vd__real {
    VD__REAL_FIELDS(VD__FIELD_MEMBER)
    uint32_t split_table, phase_table; /* offsets of tables, see vd__real_tables */
} vd__real;

#define VD__FFT_END_FIELDS(FIELD) \
    FIELD(bool, scalar) /* memory is accessed one real at a time */ \
    /* for an axis that is split over passes and whose elements are reals, its number of transforms in this pass; 0: no
       such axis. The first pass loads element i of transform j from index i * part + j of the axis; the last pass
       stores result i of transform j there. Example: 12 = 4 x 3 has three transforms of 4 in the first pass, so that
       part is 3 and transform 1 loads the indices 1, 4, 7 and 10; then four of 3, so that part is 4 and transform 1
       stores at 1, 5 and 9. */ \
    FIELD(uint32_t, part) \
    /* by the rule of a real kind: number of indices of the axis that are in memory (others are 0, or not stored), and
       the first of them; count 0: all */ \
    FIELD(uint64_t, count) \
    FIELD(uint64_t, start)

/* The elements that a pass loads: end[0], or stores: end[1]. */
typedef struct vd__fft_end {
    vd__fft_role role;
    vd__fft_addressing array;
    vd__fft_addressing index; /* the same elements numbered in C order; for hooks */
    /* indices that are in memory (others are 0, or not stored); entry 0 is for the last axis of the shape, entry 1 for
       the axis before it, … */
    vd__fft_range range[VD__FFT_AXES];
    VD__FFT_END_FIELDS(VD__FIELD_MEMBER)
} vd__fft_end;

#define VD__FFT_PASS_FIELDS(FIELD) \
    FIELD(bool, inverse) /* the transform has the direction opposite to that of the run */ \
    FIELD(uint64_t, twiddle_length) /* length N of an axis split over passes with twiddle factors; 0: no such axis */ \
    FIELD(uint64_t, twiddle_rows) /* number of rows of the twiddle factors exp(-2 pi i row * k / N) */ \
    /* number of parts of an axis, for VD__STEP_PARTS. 0: all parts have elements */ \
    FIELD(uint32_t, copies) \
    /* length of a transform by Bluestein's algorithm, with convolutions of length shape.n; 0: the transform has length
       shape.n */ \
    FIELD(uint32_t, bluestein_length) \
    /* number of its first inputs that can differ from 0, and of its first results that are needed; shape.n is at least
       their sum minus 1, so that the convolution does not wrap around */ \
    FIELD(uint32_t, bluestein_in) \
    FIELD(uint32_t, bluestein_out)

/* Bluestein's algorithm over several passes, for a transform of length n of which only the first `in` inputs can differ
   from 0 and the first `out` results are needed: its convolutions have length m. The axis is split into columns of
   factor[0] elements and rows, and these again by the other factors. The spectrum has the order of TEMP: bin k is at
   vd__fft_chirp_bin(k). */
typedef struct vd__fft_chirp { uint64_t n, in, out, m; uint32_t factor[VD__FFT_CHIRP_FACTORS]; } vd__fft_chirp;

/* What the kernel of a pass does, in order. Steps before VD__STEP_TRANSFORM apply to the inputs of the transform, and
   steps after it, or after VD__STEP_INVERSE, to the results. */
typedef enum vd__pass_step {
    VD__STEP_END,            /* of the list */
    VD__STEP_LOAD,           /* load complex numbers */
    VD__STEP_LOAD_BY_RULE,   /* compute complex numbers from the elements of a real transform */
    VD__STEP_CHIRP,          /* multiply by the chirp of Bluestein's algorithm */
    VD__STEP_TWIDDLES,       /* multiply by the twiddle factors between two passes of an axis */
    /* for an axis in parts, of which only the first has elements: store a copy of the results for each part or, for
       inputs, sum the copies of all parts; each copy is multiplied by the twiddle factors of its part */
    VD__STEP_PARTS,
    VD__STEP_TRANSFORM,      /* the stages of the shape */
    VD__STEP_MAP,            /* vd__fft_convolution.map, instead of VD__STEP_SPECTRUM */
    VD__STEP_SPECTRUM,       /* multiply by the spectrum of a filter: between two transforms, or in C order */
    VD__STEP_CHIRP_SPECTRUM, /* multiply by the spectrum of the chirp, in the tables */
    VD__STEP_INVERSE,        /* the inverse transform, with the stages in reverse order */
    VD__STEP_CHANNELS,       /* for each channel: the steps up to VD__STEP_SUM */
    VD__STEP_SUM,            /* sum over the channels */
    VD__STEP_FILTERS,        /* for each filter: all following steps */
    VD__STEP_STORE,          /* store complex numbers */
    VD__STEP_STORE_BY_RULE,  /* store the elements of a real transform */
    VD__STEP_STORE_FOLDED,   /* combine results with their mirror images in shared memory and store the elements */
    VD__STEP_FOLD            /* the only step: combine elements in memory with their mirror images and store them */
} vd__pass_step;

/* A pass of a transform: one dispatch, from one buffer to another. */
typedef struct vd__fft_pass {
    uint8_t step[VD__FFT_STEPS]; /* vd__pass_step, terminated by VD__STEP_END */
    vd__fft_shape shape;
    vd__fft_end end[2];
    uint32_t dimension[VD__FFT_AXES]; /* dimension of the array for each axis of the shape */
    vd__fft_product product;
    VD__FFT_PASS_FIELDS(VD__FIELD_MEMBER)
    uint64_t twiddle_width;  /* number of consecutive transforms with the same row of twiddle factors */
    vd__fft_tables tables;
    vd__fft_chirp chirp;     /* n 0: the pass is not part of this algorithm */
    vd__real real;
    vd_plan_kernel kernels[2][2]; /* [direction][input and output are the same buffer] */
} vd__fft_pass;

/* The passes of one direction, in order. */
typedef struct vd__fft_route { vd__fft_pass pass[VD__FFT_PASSES]; uint32_t count; } vd__fft_route;

/* Layout of an array: for each dimension the number of indices in memory, the first of them, and the stride; span is
   the distance from the first element to the end. Strides and span are in elements. */
typedef struct vd__fft_layout { uint64_t count[4], stride[4], span, start[4]; } vd__fft_layout;

/* Properties of the device that plans depend on. */
typedef struct vd__fft_device {
    uint32_t threads;          /* maximum invocations of a work-group */
    uint32_t shared;           /* maximum shared memory of a work-group, in words of the arithmetic's type */
    bool groups_as_loops;      /* see vd_facts */
    bool wide;                 /* the arithmetic is f64: a value takes two registers */
    bool complex_as_words;     /* complex f32 are accessed in memory as one u64: see vd__fft_unpack_word */
    uint32_t shuffle_lanes;    /* subgroup size if kernels may exchange values by shuffles; 0: they may not */
    uint64_t private_words;    /* maximum private memory of a work-group, in words; 0: unknown */
    uint32_t multiprocessors;
    double operations[VD__FFT_RADIX + 1]; /* vd__fft_count_operations of each radix */
    bool few;                  /* the plan has so few elements that vd__fft_latency estimates its times */
} vd__fft_device;

/* Hooks of a plan and their arguments. */
typedef struct vd__fft_hooks {
    vd_fft_hook load, store;
    void (*declare)(vc_kernel *k, void *user);
    void *user;
    /* for each direction: the load hook does not use the element; the store hook stores nothing */
    bool ignores_input[2], stores_nothing[2];
} vd__fft_hooks;

/* The fields of a shape that are chosen freely for a pass. */
typedef struct vd__fft_choice {
    uint32_t radix[VD__FFT_STAGES]; /* terminated by 0 */
    uint32_t register_exchange, threads, ffts_per_group;
    uint32_t slices;         /* 0: both components at once */
} vd__fft_choice;

/* Timings of a pass, fastest first. */
typedef struct vd__fft_timing {
    vd_plan_timings times;   /* count 0: not timed */
    vd__fft_choice choice[VD_PLAN_MAX_CHOICES];
} vd__fft_timing;

struct vd_fft {
    vd_plan base;
    vd__fft_device device;
    vd_fft_kind kind;
    uint64_t shape[4];       /* for VD_FFT_REAL the shape of the half spectrum */
    uint64_t elements;       /* of the desc's shape; for VD_FFT_REAL the number of reals */
    uint32_t dimensions, axes;
    uint32_t real_axis;      /* for VD_FFT_REAL: the axis that is halved */
    uint64_t real_length;
    bool scalar[VD__FFT_ROLES]; /* the buffer of this role holds reals */
    bool paired;             /* for VD_FFT_REAL: passes access the reals in pairs */
    bool full_length;        /* for VD_FFT_REAL: vd__real.half_length is false for even lengths, too */
    bool pack_rows;          /* from the desc */
    bool in_overlaps;        /* elements of `in` may share memory: see vd__fft_set_span */
    double scale[2];         /* factor of the results, for each direction */
    vd__fft_layout layout[VD__FFT_ROLES];
    vd__fft_layout dense;    /* layout of a contiguous array in C order */
    vd__fft_hooks hooks;
    vd__fft_convolution convolution; /* batch 0: no convolution */
    double estimate;         /* estimated time of a convolution in several kernels: see vd__fft_estimate */
    vd_buffer spectrum;      /* spectrum of the filter of a convolution */
    vd__fft_route route[2];  /* for each direction; if the second is empty, the first serves both */
    vc_type real;            /* scalar type of the arithmetic */
    vc_type stored[VD__FFT_ROLES]; /* scalar type in memory, for each role */
    double *table;           /* tables on the host, while the plan is made */
    vd__fft_table table_keys[VD__FFT_TABLES]; /* keys of the first VD__FFT_TABLES tables */
    uint32_t table_key_count;
    uint32_t table_count;    /* size of the tables that the host computes, in complex numbers */
    uint32_t generated_end;  /* size with the tables that the device computes, which follow; 0: there are none */
    uint64_t table_capacity; /* allocated size, in complex numbers */
    uint64_t required_table_size; /* in complex numbers, if it exceeds the limit of a buffer; otherwise 0 */
    vd_buffer tables, temporary[VD__FFT_ROLES]; /* the tables on the device; intermediate buffers, for each role */
    struct vd__fft_memo *memo; /* while the plan is made */
    vd__fft_timing *timing;  /* one for each pass of both routes; NULL: not measured */
    uint64_t overridden;     /* bit mask of passes whose shape is set by VKDISPATCH_FFT_FACTORS */
    char text[16384];        /* result of vd_fft_explain */
    char *source;            /* result of vd_fft_source; NULL: none */
    struct vd__vkfft *vkfft; /* state of the engine VkFFT; NULL: the engine is this header */
};

static vc_type vd__fft_type_of_indices(uint64_t count) {
    return count > VD__FFT_NARROW ? (vc_type)VC_U64 : (vc_type)VC_U32;
}

static uint64_t vd__fft_max_span(const vd_fft *p) {
    return vd_device(p->base.ctx, 0)->features & VD_FEATURE_I64 ? VD__FFT_MAX_SPAN : (uint64_t)UINT32_MAX;
}

/* Position of a step in the list of a pass, or of VD__STEP_END if the pass does not have it. */
static uint32_t vd__fft_find_step(const vd__fft_pass *pass, vd__pass_step step) {
    uint32_t i = 0;
    while (pass->step[i] && pass->step[i] != step) i++;
    return i;
}

static bool vd__fft_has(const vd__fft_pass *pass, vd__pass_step step) {
    return pass->step[vd__fft_find_step(pass, step)] != VD__STEP_END;
}

/* Whether a pass has this step before its transform. */
static bool vd__fft_loads_with(const vd__fft_pass *pass, vd__pass_step step) {
    return vd__fft_find_step(pass, step) < vd__fft_find_step(pass, VD__STEP_TRANSFORM);
}

/* Whether a pass has this step after its last transform. */
static bool vd__fft_stores_with(const vd__fft_pass *pass, vd__pass_step step) {
    uint32_t i = vd__fft_find_step(pass, VD__STEP_END);
    while (i-- > 0 && pass->step[i] != VD__STEP_TRANSFORM && pass->step[i] != VD__STEP_INVERSE)
        if (pass->step[i] == step) return true;
    return false;
}

/* Whether the elements that a pass loads (out: stores) are those of a real transform. */
static bool vd__fft_is_by_rule(const vd__fft_pass *pass, bool out) {
    if (!out) return vd__fft_has(pass, VD__STEP_LOAD_BY_RULE);
    uint32_t count = vd__fft_find_step(pass, VD__STEP_END);
    return count && pass->step[count - 1] >= VD__STEP_STORE_BY_RULE;
}

/* Appends steps to the list of a pass; VD__STEP_END appends nothing. */
static void vd__fft_add_steps(vd__fft_pass *pass, vd__pass_step a, vd__pass_step b, vd__pass_step c) {
    const vd__pass_step steps[3] = { a, b, c };
    for (int i = 0; i < 3; i++) pass->step[vd__fft_find_step(pass, VD__STEP_END)] = (uint8_t)steps[i];
}

/* Butterflies of a stage in one transform. A direct stage counts pairs of results instead: k and radix - k, and 0
   alone. */
static uint32_t vd__fft_count_butterflies(const vd__fft_shape *s, uint32_t radix) {
    return s->n / radix * (vd__fft_is_direct(radix) ? (radix + 1) / 2 : 1);
}

static uint32_t vd__fft_butterflies_per_thread(const vd__fft_shape *s, uint32_t radix) {
    return (vd__fft_count_butterflies(s, radix) + s->threads - 1) / s->threads;
}

/* Values of a butterfly, or of a pair of results of a direct stage. */
static uint32_t vd__fft_values_of(uint32_t radix) { return vd__fft_is_direct(radix) ? 2 : radix; }

/* Whether all pairs of results that a thread computes in a direct stage have the same inputs. */
static bool vd__fft_shares_inputs(const vd__fft_shape *s, uint32_t radix) { return s->threads % (s->n / radix) == 0; }

/* Radix of a stage. direction_index: 0 for the first transform of a kernel, 1 for the second, whose stages are in
   reverse order. */
static uint32_t vd__fft_radix(const vd__fft_shape *s, uint32_t direction_index, uint32_t stage) {
    return s->radix[direction_index ? s->stages - 1 - stage : stage];
}

/* Whether stages i - 1 and i, which must be of the same axis, exchange values by shuffles. For radices r and s and n
   elements, groups of c = threads * r * s / n consecutive lanes exchange r * s values. */
static bool vd__fft_uses_shuffle(const vd__fft_shape *s, uint32_t i) {
    return i && s->register_exchange >> i & 1 && s->axis[i] == s->axis[i - 1];
}

static uint32_t vd__fft_count_shuffles(const vd__fft_shape *s) {
    uint32_t i, count = 0;
    for (i = 1; i < s->stages; i++) count += vd__fft_uses_shuffle(s, i);
    return count;
}

/* Assigns butterflies to threads so that each group of lanes holds all values that it exchanges by shuffles before or
   after stage i. Returns false if there is neither exchange. */
static bool vd__fft_assign_lanes(const vd__fft_shape *s, uint32_t direction_index, uint32_t i, vd__fft_stage_info *g) {
    uint32_t stage = direction_index ? s->stages - 1 - i : i;
    bool sends = vd__fft_uses_shuffle(s, direction_index ? stage : stage + 1);
    if (!sends && !vd__fft_uses_shuffle(s, direction_index ? stage + 1 : stage)) return false;
    g->register_exchange = true;
    g->exchange_radix = vd__fft_radix(s, direction_index, sends ? i + 1 : i - 1);
    g->exchange_stride = sends ? g->read_stride / g->exchange_radix : g->write_stride / g->exchange_radix;
    g->lanes = s->threads * g->radix * g->exchange_radix / s->n;
    return true;
}

/* direction_index 1: stages are counted in reverse order. */
static vd__fft_stage_info vd__fft_stage_info_of(const vd__fft_shape *s, uint32_t direction_index, uint32_t i) {
    vd__fft_stage_info g;
    uint32_t k;
    memset(&g, 0, sizeof g);
    uint32_t stage = direction_index ? s->stages - 1 - i : i;
    g.axis = s->axis[stage];
    g.radix = s->radix[stage];
    for (g.axis_stride = 1, k = 0; k < g.axis; k++) g.axis_stride *= s->size[k];
    for (g.length = 1, k = 0; k < i; k++)
        if (s->axis[direction_index ? s->stages - 1 - k : k] == g.axis)
            g.length *= vd__fft_radix(s, direction_index, k);
    g.read_stride = g.axis_stride * (s->size[g.axis] / g.radix);
    g.write_stride = g.axis_stride * g.length;
    g.butterflies = vd__fft_butterflies_per_thread(s, g.radix);
    g.lanes = 1;
    if (vd__fft_assign_lanes(s, direction_index, i, &g)) return g;
    /* the first stage of the second transform uses the values that the last stage of the first holds in registers */
    g.register_exchange = s->register_exchange >> stage & 1 && !s->last_axis_first && (!direction_index || !i);
    /* butterflies are assigned to threads as the next stage requires, which receives their results in registers */
    if (s->last_axis_first && stage + 1 < s->stages && s->register_exchange >> (stage + 1) & 1) {
        g.register_exchange = true;
        g.exchange_radix = s->radix[stage + 1];
        for (g.exchange_stride = s->size[s->axis[stage + 1]] / g.exchange_radix, k = 0; k < s->axis[stage + 1]; k++)
            g.exchange_stride *= s->size[k];
    } else if (g.register_exchange) {
        vd__fft_stage_info before = vd__fft_stage_info_of(s, 0, stage - 1);
        g.exchange_stride = before.write_stride;
        g.exchange_radix = before.radix;
    }
    return g;
}

/* Whether stages i - 1 and i of the same axis can exchange values by shuffles in subgroups of `lanes` lanes. */
static bool vd__fft_can_shuffle(const vd__fft_shape *s, uint32_t i, uint32_t lanes) {
    uint32_t r = s->radix[i - 1], q = s->radix[i], all = s->threads * r * q, c = all / s->n;
    if (!lanes || s->axes > 1 || s->last_axis_first || s->columns_in || s->columns_out || s->threads % lanes)
        return false;
    return all % s->n == 0 && c > 1 && (c & (c - 1)) == 0 && lanes % c == 0 && r % c == 0 && q % c == 0;
}

/* Whether stage i can receive the results of stage i - 1 in registers: by shuffles, or because each thread holds the
   results that it needs. With last_axis_first, threads are assigned other butterflies of stage i - 1 to make this so.
   */
static bool vd__fft_can_exchange_registers(const vd__fft_shape *s, uint32_t i, uint32_t lanes) {
    if (!i || s->register_exchange >> (i - 1) & 1) return false;
    if (s->axis[i] == s->axis[i - 1]) return vd__fft_can_shuffle(s, i, lanes);
    vd__fft_stage_info a = vd__fft_stage_info_of(s, 0, i - 1);
    vd__fft_stage_info b = vd__fft_stage_info_of(s, 0, i);
    if (s->last_axis_first)
        return s->stages > 2 && b.length == 1 && s->threads * a.radix * b.radix == s->n
               && a.write_stride == s->threads * b.radix && s->threads % b.read_stride == 0;
    if (s->axis[i] != s->axes - 1) return false;
    /* the last exchange must change the assignment of threads to transforms, for which it needs shared memory */
    if (i + 1 == s->stages && s->columns_in != s->columns_out) return false;
    return b.length == 1 && a.butterflies == b.radix && s->threads * a.radix * b.radix == s->n
           && s->threads % a.write_stride == 0;
}

/* Returns false if one of the stages in the bit mask cannot receive its values in registers. */
static bool vd__fft_set_register_exchange(const vd__fft_device *d, uint32_t stages, vd__fft_shape *s) {
    s->register_exchange = 0;
    for (uint32_t i = 1; i < s->stages; i++) {
        if (!(stages >> i & 1)) continue;
        if (!vd__fft_can_exchange_registers(s, i, d->shuffle_lanes)) return false;
        s->register_exchange |= 1u << i;
    }
    return s->register_exchange == stages;
}

/* Complex values that a thread holds in registers. A direct stage holds two sums for each result. */
static uint32_t vd__fft_values_per_thread(const vd__fft_shape *s) {
    uint32_t held = 0;
    for (uint32_t i = 0; i < s->stages; i++) {
        uint32_t r = s->radix[i];
        uint32_t each = vd__fft_butterflies_per_thread(s, r) * vd__fft_values_of(r) * (vd__fft_is_direct(r) ? 2 : 1);
        if (each > held) held = each;
    }
    return held;
}

static bool vd__fft_all_columns(const vd__fft_shape *s) { return s->columns_in && s->columns_out; }
static uint32_t vd__fft_padded(vd__fft_pad pad, uint32_t at) { return at + (at >> pad.shift) * pad.width; }

/* Stride between the transforms of a work-group in shared memory, in words; odd to avoid bank conflicts. Not used for
   columns, which are interleaved. */
static uint32_t vd__fft_shared_stride(const vd__fft_shape *s, vd__fft_pad pad) {
    return vd__fft_padded(pad, s->n / s->slices) | (pad.width ? 1u : 0u);
}

/* Words of shared memory of an exchange with this padding. */
static uint32_t vd__fft_words_padded(const vd__fft_shape *s, vd__fft_pad pad) {
    return vd__fft_all_columns(s) ? vd__fft_padded(pad, s->n / s->slices * s->ffts_per_group)
                                  : vd__fft_shared_stride(s, pad) * s->ffts_per_group;
}

static const vd__fft_pad vd__fft_no_pad = { 0, 0 };

static bool vd__fft_is_one_thread(const vd__fft_shape *s) { return s->threads == 1 && s->stages == 1; }

/* Words of shared memory of a work-group for one component (real or imaginary part): the maximum over its exchanges. */
static uint32_t vd__fft_component_words(const vd__fft_shape *s) {
    uint32_t words = s->real_fold && !vd__fft_is_one_thread(s) ? vd__fft_words_padded(s, vd__fft_no_pad) : 0;
    for (uint32_t i = 0; i + 1 < s->stages; i++)
        if (vd__fft_words_padded(s, s->pad[i]) > words) words = vd__fft_words_padded(s, s->pad[i]);
    return words;
}

/* Shared memory of a work-group, in words of the arithmetic's type. */
static uint64_t vd__fft_shared_words(const vd__fft_shape *s) {
    return vd__fft_count_shuffles(s) + 1 == s->stages && (!s->real_fold || vd__fft_is_one_thread(s))
               ? 0
               : (uint64_t)vd__fft_component_words(s) * (s->split_components ? 1u : 2u) * (s->double_buffered ? 2 : 1);
}

/* Number of operations of one thread in a stage of this radix, without twiddle factors. A direct stage of radix p has
   (p - 1) / 2 terms. Each loads x[j] and x[p - j], computes their sum and difference, and for each pair of results
   loads a root and multiplies by it. On GPUs, loading a word of shared memory counts as 4 operations and a root as 6;
   if components are exchanged one after the other, the stage takes 1.5 times as long. Fitted to 76 timings of 55
   lengths on an NVIDIA H200: estimates of vd__fft_estimate are 0.71 to 1.35 times as long, 14 % off (root mean square).
   On CPUs loads count like arithmetic: PoCL computes rows of 37 to 2368 elements in 0.35 to 0.73 times the time of
   Bluestein's algorithm. llvmpipe, which loads lane by lane, would need 25 operations for a load; rows of 41, 61 and
   127 take 2.5, 2.6 and 4.5 times the time of Bluestein's algorithm there, but have half its rounding error. */
static double vd__fft_stage_operations(const vd__fft_device *d, const vd__fft_shape *s, uint32_t radix) {
    uint32_t each = vd__fft_butterflies_per_thread(s, radix), inputs = vd__fft_shares_inputs(s, radix) ? 1 : each;
    if (!vd__fft_is_direct(radix)) return each * d->operations[radix];
    double load = d->groups_as_loops ? 1 : 4, root = d->groups_as_loops ? 1 : 6;
    double split = s->split_components && !d->groups_as_loops ? 1.5 : 1;
    return (radix - 1) / 2 * split * ((4 * load + 4) * inputs + (root + 4) * each);
}

/* Estimated number of instructions of one transform: butterflies and twiddle factors of all threads, including idle
   ones, exchanges, and barriers, which are the most expensive on CPUs. With groups_as_loops the cost grows with the
   values that a thread holds, because compilation does: a length of 1000 as 10 x 10 x 10 compiles in 120 ms, as 25 x 8
   x 5 in 460 ms, and both run equally fast. The other constants were fitted to measurements. */
static double vd__fft_cost(const vd__fft_device *d, const vd__fft_shape *s) {
    uint32_t i, held = vd__fft_values_per_thread(s) * (d->wide ? 2 : 1);
    double cost = 0, gpu_pressure = held <= 32 ? 1.08 : 2;
    double pressure = held <= 16 ? 1 : d->groups_as_loops && s->axes == 1 ? held / 10.0 : gpu_pressure;
    for (i = 0; i < s->stages; i++) {
        vd__fft_stage_info g = vd__fft_stage_info_of(s, 0, i);
        double twiddles = g.length > 1 ? 6.5 * (g.radix - 1) : 0;
        if (vd__fft_is_direct(g.radix)) /* the inputs are multiplied by twiddle factors before the exchange */
            cost += s->threads * vd__fft_stage_operations(d, s, g.radix) + s->n / g.radix * twiddles;
        else cost += (double)s->threads * g.butterflies * (d->operations[g.radix] + twiddles);
        if (i && !(s->register_exchange >> i & 1))
            cost += s->n * (s->split_components ? 11.0 : 9.0)
                    + (double)s->threads
                          * (d->groups_as_loops ? 600 : s->split_components ? 60 : 30);
    }
    if (s->last_axis_first) return cost * pressure;
    /* stores of short contiguous runs */
    if (s->n < 256 && s->stages > 1 && s->n / s->radix[s->stages - 1] < 16) cost *= 1.2;
    /* loads of short contiguous runs */
    if (s->axes > 1 && !s->columns_in && s->radix[0] > 8 && s->size[0] / s->radix[0] < 8) cost *= 1.2;
    return cost * pressure;
}

/* Estimated private memory of a work-group in words, for compilers such as that of PoCL, which allocate separate memory
   for the values that are live across each barrier. Measured stack use of PoCL's threads for each exchange, divided by
   the size of the complex values: 1.0 to 1.2 for both components at once (estimated: 1.25), 2.2 to 2.3 for split
   components (estimated: 2.5). */
static uint64_t vd__fft_count_private_words(const vd__fft_shape *s) {
    uint64_t exchanges = (uint64_t)(s->stages - 1) * (s->convolves ? 2 : 1) + s->real_fold;
    return (uint64_t)s->n * s->ffts_per_group * 2 * exchanges * (s->split_components ? 10 : 5) / 4;
}

static bool vd__fft_fits(const vd__fft_device *d, const vd__fft_shape *s) {
    uint64_t max_points = d->wide ? VD__FFT_MAX_POINTS / 2 : VD__FFT_MAX_POINTS;
    if (!d->groups_as_loops && (uint64_t)s->n * s->ffts_per_group > max_points) return false;
    if (d->private_words && vd__fft_count_private_words(s) > d->private_words) return false;
    return s->ffts_per_group * s->threads <= d->threads && vd__fft_shared_words(s) <= d->shared;
}

/* Whether each thread receives equally many values of each slice in every stage: the slices divide the elements of each
   butterfly or, if all elements of a butterfly are in one slice, the butterflies of each thread. All radices are
   checked, because the second transform of a kernel has them in reverse order. */
static bool vd__fft_can_slice(const vd__fft_shape *s, uint32_t slices) {
    for (uint32_t i = 0; i < s->stages; i++) {
        vd__fft_stage_info g = vd__fft_stage_info_of(s, 0, i);
        if (g.radix % slices) return false;
        uint32_t part = s->n / g.radix / slices;
        if (slices > 1 && g.read_stride * g.radix < s->n && (part % s->threads || part % g.read_stride)) return false;
    }
    return true;
}

/* Whether one transform fits into shared memory, with up to 4 slices. */
static bool vd__fft_can_exchange(const vd__fft_device *d, const vd__fft_shape *shape) {
    vd__fft_shape s = *shape;
    if (s.n <= d->shared) return true;
    memset(s.pad, 0, sizeof s.pad);
    for (s.ffts_per_group = 1, s.split_components = true, s.slices = 2; s.slices <= 4; s.slices *= 2)
        if (vd__fft_can_slice(&s, s.slices) && vd__fft_fits(d, &s)) return true;
    return false;
}

/* ---- estimated time of a kernel on a GPU ---- */

/* Kinds of kernels, which have different weights: rows; and columns, which are loaded or stored with consecutive
   threads on consecutive transforms. */
enum { VD__FFT_ROWS, VD__FFT_COLUMNS, VD__FFT_KERNEL_KINDS };

/* Terms of the logarithm of the time of a kernel, compared with a copy of the same data, and their weights for rows and
   columns. Fitted to about 10,000 timings of random shapes with tools/bench/shapes (NVIDIA H200, 512 MiB). For lengths
   that were left out of the fit, the shape with the lowest estimate took 1.05 times the time of the fastest one that
   was timed, in the geometric mean, and at most 1.13 times (columns 1.15 times) for 90 % of them. */
#define VD__FFT_TIME_TERMS(X) \
    X(LINES, 0.0996, 0.0715)           /* memory lines that are loaded and stored, see vd__fft_touched */ \
    X(SECTORS, 0, 0.5532)              /* the same for sectors that columns are stored to */ \
    X(OPERATIONS, 0.0046, 0.0033)      /* per element, with those of idle threads */ \
    X(EXCHANGES, 0.1163, 0.0137)       /* exchanges through shared memory */ \
    X(BARRIERS, 0.1921, 0.0756)        /* threads that wait in exchanges, per element */ \
    X(GROUPS, 0.3255, 0.0428)          /* 1 / resident work-groups of a multiprocessor */ \
    X(WARPS, 0.1426, 0.1210)           /* log of 32 / resident warps, if these are fewer */ \
    X(BYTES, 0, 1.3306)                /* log of 20 KiB / bytes of resident groups, if fewer */ \
    X(GROUP_SIZE, 0.1094, 0.1470)      /* log of warps of a work-group / 8, if more */ \
    X(SHARED, 0.0409, 0.0464)          /* log of shared memory of a work-group / 16 KiB, if more */ \
    X(FALLING_RADICES, 0.0803, 0.0074) /* two stages: log of first / last radix, if it is larger */ \
    X(RISING_RADICES, 0.0490, 0.0014)  /* two stages: log of last / first radix, if it is larger */ \
    X(LAST_RADIX, 0.0159, 0.0316)      /* more stages: log of first / last radix, if it is larger */

enum {
#define VD__TERM_NAME(name, ...) VD__FFT_TERM_##name,
    VD__FFT_TIME_TERMS(VD__TERM_NAME)
#undef VD__TERM_NAME
    VD__FFT_TERMS
};

static uint32_t vd__fft_kernel_kind(const vd__fft_shape *s) {
    return s->columns_in || s->columns_out ? VD__FFT_COLUMNS : VD__FFT_ROWS;
}

/* Whether vd__fft_shape_time applies: to kernels for a GPU that do not convolve and, with many elements, transform
   along one axis, but not to rows of up to VD__FFT_RADIX elements. */
static bool vd__fft_is_estimated(const vd__fft_device *d, const vd__fft_shape *s) {
    bool columns = vd__fft_kernel_kind(s) == VD__FFT_COLUMNS;
    return !d->groups_as_loops && (s->axes == 1 || d->few) && !s->convolves
           && s->n > (columns ? 1u : (uint32_t)VD__FFT_RADIX);
}

/* Number of work-groups of `warps` warps that share a multiprocessor with the limits of an H200: 65536 registers, 227
   KiB of shared memory, of which each work-group uses 1 KiB more than it declares, 64 warps and 32 work-groups. */
static double vd__fft_resident_groups(const vd__fft_device *d, const vd__fft_shape *s, double warps) {
    double registers = 16 + 2.2 * vd__fft_values_per_thread(s) * (d->wide ? 2 : 1);
    double bytes = 1024 + (double)vd__fft_shared_words(s) * (d->wide ? 8 : 4), groups = 32;
    if (registers > 255) registers = 255;
    if (65536 / (32 * warps * registers) < groups) groups = 65536 / (32 * warps * registers);
    if (232448 / bytes < groups) groups = 232448 / bytes;
    if (64 / warps < groups) groups = 64 / warps;
    return groups < 1 ? 1 : groups;
}

/* Factor by which the pieces of memory of `bytes` bytes that a warp touches exceed those that its elements fill, in the
   loads of the first stage or the stores of the last one. */
static double vd__fft_touched(const vd__fft_device *d, const vd__fft_shape *s, bool stores, uint32_t bytes) {
    bool columns = stores ? s->columns_out : s->columns_in;
    uint32_t sector = d->wide ? 2 : 4, piece = bytes / 32 * sector; /* elements of 32 bytes, and of a piece */
    uint32_t distance = columns ? sector : s->n / s->radix[stores ? s->stages - 1 : 0];
    uint32_t run = columns ? s->ffts_per_group : s->threads < distance ? s->threads : distance; /* consecutive ones */
    bool aligned = run % sector == 0 && distance % sector == 0
                   && (columns ? !s->unaligned_columns : s->n % sector == 0);
    return (double)(aligned ? (run + piece - 1) / piece * piece : run + piece - 1) / run;
}

/* Operations of the butterflies of a thread. */
static double vd__fft_operations_per_thread(const vd__fft_device *d, const vd__fft_shape *s) {
    double sum = 0;
    for (uint32_t i = 0; i < s->stages; i++) sum += vd__fft_stage_operations(d, s, s->radix[i]);
    return sum;
}

/* Operations per element, including those of idle threads. */
static double vd__fft_operations_per_element(const vd__fft_device *d, const vd__fft_shape *s) {
    return vd__fft_operations_per_thread(d, s) * s->threads / s->n;
}

/* Number of exchanges, including those in registers. */
static double vd__fft_count_exchanges(const vd__fft_shape *s) {
    return s->stages - 1.0 + s->real_fold;
}

/* Logarithm of x, or 0 if it is negative. */
static double vd__fft_log_above(double x) { return x > 1 ? log(x) : 0; }

/* Lanes of the warps of a work-group for each of its threads. */
static double vd__fft_lanes_per_thread(uint32_t threads) { return 32.0 * ((threads + 31) / 32) / threads; }

static void vd__fft_time_terms(const vd__fft_device *d, const vd__fft_shape *s, double *term) {
    uint32_t threads = s->threads * s->ffts_per_group, first = s->radix[0], last = s->radix[s->stages - 1];
    double warps = (threads + 31) / 32, elements = (double)s->n * s->ffts_per_group;
    double exchanges = vd__fft_count_exchanges(s);
    double groups = vd__fft_resident_groups(d, s, warps), falling = vd__fft_log_above((double)first / last);
    term[VD__FFT_TERM_LINES] = log(vd__fft_touched(d, s, false, 128) * vd__fft_touched(d, s, true, 128));
    term[VD__FFT_TERM_SECTORS] = s->columns_out ? log(vd__fft_touched(d, s, true, 32)) : 0;
    term[VD__FFT_TERM_OPERATIONS] = vd__fft_lanes_per_thread(threads) * vd__fft_operations_per_element(d, s);
    term[VD__FFT_TERM_EXCHANGES] = exchanges;
    term[VD__FFT_TERM_BARRIERS] = exchanges * 32 * warps / elements;
    term[VD__FFT_TERM_GROUPS] = 1 / groups;
    term[VD__FFT_TERM_WARPS] = vd__fft_log_above(32 / (groups * warps));
    term[VD__FFT_TERM_BYTES] = vd__fft_log_above(20480 / (groups * elements * (d->wide ? 16 : 8)));
    term[VD__FFT_TERM_GROUP_SIZE] = vd__fft_log_above(warps / 8);
    term[VD__FFT_TERM_SHARED] = vd__fft_log_above((double)vd__fft_shared_words(s) * (d->wide ? 8 : 4) / 16384);
    term[VD__FFT_TERM_FALLING_RADICES] = s->stages == 2 ? falling : 0;
    term[VD__FFT_TERM_RISING_RADICES] = s->stages == 2 ? vd__fft_log_above((double)last / first) : 0;
    term[VD__FFT_TERM_LAST_RADIX] = s->stages > 2 ? falling : 0;
}

static const double vd__fft_time_weight[VD__FFT_TERMS][VD__FFT_KERNEL_KINDS] = {
#define VD__TERM_WEIGHTS(name, ...) { __VA_ARGS__ },
    VD__FFT_TIME_TERMS(VD__TERM_WEIGHTS)
#undef VD__TERM_WEIGHTS
};

/* Estimated time of a kernel in relative units; it only ranks shapes of one pass. */
static double vd__fft_kernel_time(const vd__fft_device *d, const vd__fft_shape *s) {
    double term[VD__FFT_TERMS], sum = 0;
    uint32_t kind = vd__fft_kernel_kind(s);
    vd__fft_time_terms(d, s, term);
    for (uint32_t i = 0; i < VD__FFT_TERMS; i++) sum += vd__fft_time_weight[i][kind] * term[i];
    return exp(sum);
}

/* Number of exchanges with barriers. */
static double vd__fft_count_barriers(const vd__fft_shape *s) {
    double count = vd__fft_count_exchanges(s);
    for (uint32_t i = 1; i < s->stages; i++) if (s->register_exchange >> i & 1) count -= 1;
    return count;
}

/* Terms of the time in microseconds of a kernel with few elements, in which latencies cannot be hidden, and their
   weights. Fitted to 4,700 timings of random shapes with tools/bench/shapes (NVIDIA H200, up to 2^21 elements).
   For kernels that were left out of the fit, the shape with the lowest estimate took 1.04 times the time of the fastest
   one that was timed, in the geometric mean, and at most 1.13 times for 90 % of them. The busiest multiprocessor
   executes `rounds` work-groups one after the other. */
#define VD__FFT_LATENCY_TERMS(X) \
    X(KERNEL, 2.3248)                  /* 1 */ \
    X(COLUMN_KERNEL, 0.2004)           /* 1 for columns */ \
    X(BARRIERS, 0.0967)                /* barriers of a work-group, times rounds */ \
    X(OPERATIONS, 0.00108)             /* operations of a thread, times rounds */ \
    X(WARP_BARRIERS, 0.0117)           /* barriers, times the warps of the busiest multiprocessor */ \
    X(WARP_OPERATIONS, 0.00021)        /* operations of a thread, times these warps */ \
    X(MEGABYTES, 0.0709)               /* in memory lines that are loaded and stored */ \
    X(SHARED, 0.2869)                  /* shared memory of a work-group, in units of 10,000 bytes */

enum {
#define VD__TERM_NAME(name, ...) VD__FFT_LATENCY_##name,
    VD__FFT_LATENCY_TERMS(VD__TERM_NAME)
#undef VD__TERM_NAME
    VD__FFT_LATENCIES
};

static void vd__fft_latency_terms(const vd__fft_device *d, const vd__fft_shape *s, double groups, double *term) {
    double warps = (s->threads * s->ffts_per_group + 31) / 32, busiest = ceil(groups / d->multiprocessors);
    double rounds = ceil(busiest / floor(vd__fft_resident_groups(d, s, warps))), times = s->convolves ? 2 : 1;
    double barriers = times * vd__fft_count_barriers(s) * (s->split_components ? 2 * s->slices : 1);
    double operations = times * vd__fft_operations_per_thread(d, s), bytes = d->wide ? 16 : 8;
    term[VD__FFT_LATENCY_KERNEL] = 1;
    term[VD__FFT_LATENCY_COLUMN_KERNEL] = vd__fft_kernel_kind(s) == VD__FFT_COLUMNS;
    term[VD__FFT_LATENCY_BARRIERS] = rounds * barriers;
    term[VD__FFT_LATENCY_OPERATIONS] = rounds * operations;
    term[VD__FFT_LATENCY_WARP_BARRIERS] = busiest * warps * barriers;
    term[VD__FFT_LATENCY_WARP_OPERATIONS] = busiest * warps * operations;
    term[VD__FFT_LATENCY_MEGABYTES] = groups * s->n * s->ffts_per_group * bytes / 1e6
                                      * (vd__fft_touched(d, s, false, 128) + vd__fft_touched(d, s, true, 128));
    term[VD__FFT_LATENCY_SHARED] = (double)vd__fft_shared_words(s) * bytes / 2e4;
}

static const double vd__fft_latency_weight[VD__FFT_LATENCIES] = {
#define VD__TERM_WEIGHT(name, weight) weight,
    VD__FFT_LATENCY_TERMS(VD__TERM_WEIGHT)
#undef VD__TERM_WEIGHT
};

/* Estimated time in microseconds of a kernel of `groups` work-groups of a plan with few elements. */
static double vd__fft_latency(const vd__fft_device *d, const vd__fft_shape *s, double groups) {
    double term[VD__FFT_LATENCIES], sum = 0;
    vd__fft_latency_terms(d, s, groups, term);
    for (uint32_t i = 0; i < VD__FFT_LATENCIES; i++) sum += vd__fft_latency_weight[i] * term[i];
    return sum;
}

static uint64_t vd__fft_groups_of(const vd__fft_shape *s, uint64_t count, uint64_t blocks) {
    return vd__ceil_div(count, s->ffts_per_group) * blocks;
}

/* Estimated time of a kernel for `blocks` times `count` transforms, by which shapes of one pass are ranked. */
static double vd__fft_shape_time(const vd__fft_device *d, const vd__fft_shape *s, uint64_t count, uint64_t blocks) {
    return d->few ? vd__fft_latency(d, s, (double)vd__fft_groups_of(s, count, blocks)) : vd__fft_kernel_time(d, s);
}

/* Lower bound of vd__fft_latency for any number of transforms per work-group and any slices. */
static double vd__fft_lowest_latency(const vd__fft_device *d, const vd__fft_shape *s, double transforms) {
    const double *weight = vd__fft_latency_weight;
    double operations = vd__fft_operations_per_thread(d, s), barriers = vd__fft_count_barriers(s);
    double warps = transforms * s->threads / 32 / d->multiprocessors;
    double megabytes = transforms * s->n * (d->wide ? 32 : 16) / 1e6;
    if (warps < 1) warps = 1;
    return weight[VD__FFT_LATENCY_KERNEL] + weight[VD__FFT_LATENCY_MEGABYTES] * megabytes
           + operations * (weight[VD__FFT_LATENCY_OPERATIONS] + weight[VD__FFT_LATENCY_WARP_OPERATIONS] * warps)
           + barriers * (weight[VD__FFT_LATENCY_BARRIERS] + weight[VD__FFT_LATENCY_WARP_BARRIERS] * warps);
}

/* Lower bound of vd__fft_shape_time for any number of transforms per work-group and any slices. */
static double vd__fft_lowest_time(const vd__fft_device *d, const vd__fft_shape *s, uint64_t count, uint64_t blocks) {
    uint32_t kind = vd__fft_kernel_kind(s);
    if (d->few) return vd__fft_lowest_latency(d, s, (double)count * (double)blocks);
    return exp(vd__fft_time_weight[VD__FFT_TERM_OPERATIONS][kind] * vd__fft_operations_per_element(d, s)
               + vd__fft_time_weight[VD__FFT_TERM_EXCHANGES][kind] * vd__fft_count_exchanges(s));
}

/* ---- search ---- */

typedef struct vd__fft_candidate { vd__fft_shape shape; double cost; } vd__fft_candidate;

/* The cheapest shapes seen so far, in ascending order of cost. */
typedef struct vd__fft_candidates {
    vd__fft_candidate at[VD__FFT_CANDIDATES];
    uint32_t count;          /* number of candidates */
    uint32_t stages;         /* maximum stages of a shape */
} vd__fft_candidates;

typedef struct vd__fft_search {
    const vd__fft_device *device;
    vd__fft_shape current, best;
    double cost;             /* cost of `best`; 0: no shape found so far */
    /* not NULL: a wide search, which also tries radices in any order and more numbers of threads, and collects
       candidates; NULL: find only the best shape */
    vd__fft_candidates *candidates;
    bool any_threads;        /* also try a thread for each butterfly of every stage: some are idle in other stages */
    /* transforms of each of so many blocks. Shapes are compared by vd__fft_shape_time, with transforms per work-group
       and slices; count 0: by vd__fft_cost, without these */
    uint64_t count, blocks;
    uint32_t min_columns;    /* minimum columns of a work-group, if there are enough */
    uint32_t stages;         /* maximum stages of a shape if count is set */
} vd__fft_search;

/* Ignores the transforms per work-group, slices and padding, which are chosen later. */
static bool vd__fft_is_duplicate(const vd__fft_shape *a, const vd__fft_shape *b) {
    return a->n == b->n && a->stages == b->stages && a->threads == b->threads
           && a->register_exchange == b->register_exchange
           && memcmp(a->radix, b->radix, a->stages * sizeof a->radix[0]) == 0
           && memcmp(a->axis, b->axis, a->stages * sizeof a->axis[0]) == 0;
}

/* Inserts a candidate in order of cost. Does nothing if it is a duplicate, or if the list is full and all entries cost
   less. */
static void vd__fft_add_candidate(vd__fft_candidates *c, const vd__fft_shape *s, double cost) {
    uint32_t i;
    for (i = 0; i < c->count; i++) if (vd__fft_is_duplicate(&c->at[i].shape, s)) return;
    if (c->count == VD__FFT_CANDIDATES && cost >= c->at[c->count - 1].cost) return;
    if (c->count < VD__FFT_CANDIDATES) c->count++;
    for (i = c->count - 1; i && c->at[i - 1].cost > cost; i--) c->at[i] = c->at[i - 1];
    c->at[i].shape = *s;
    c->at[i].cost = cost;
}

/* Factor on the estimated cost of candidates that were seldom fast in measurements: those with very different radices
   and, on GPUs, with many values per thread. */
static double vd__fft_penalty(const vd__fft_device *d, const vd__fft_shape *s) {
    uint32_t smallest = VD__FFT_RADIX, largest = 1, values = vd__fft_values_per_thread(s);
    for (uint32_t i = 0; i < s->stages; i++) {
        if (s->radix[i] < smallest) smallest = s->radix[i];
        if (s->radix[i] > largest) largest = s->radix[i];
    }
    double radices = largest > 8 * smallest ? 1.4 : largest > 4 * smallest ? 1.2 : largest > 2 * smallest ? 1.06 : 1;
    return radices * (d->groups_as_loops || values <= 16 ? 1 : 1 + (values - 16) / 80.0);
}

/* Replaces `best` by the current shape if its estimated time is lower, for exchanges of both components at once, of
   one, and of 2 or 4 slices of one. Rows of more than 4000 elements were only timed with one component or less. */
static void vd__fft_try_slices(vd__fft_search *s, double *lowest, vd__fft_shape *best) {
    vd__fft_shape *c = &s->current;
    bool columns = vd__fft_kernel_kind(c) == VD__FFT_COLUMNS;
    uint32_t max_slices = c->stages == 1 && !c->real_fold ? 0 : c->real_fold ? 1 : columns ? 4 : 2;
    for (uint32_t slices = c->n > 4000 && !columns; slices <= max_slices; slices += slices ? slices : 1) {
        c->split_components = slices != 0;
        c->slices = slices ? slices : 1;
        if (!vd__fft_fits(s->device, c) || (slices > 1 && !vd__fft_can_slice(c, slices))) continue;
        double time = vd__fft_shape_time(s->device, c, s->count, s->blocks);
        if (*lowest > 0 && time >= *lowest) continue;
        *lowest = time;
        *best = *c;
    }
    c->split_components = false;
    c->slices = 1;
}

/* Evaluates the current shape with several numbers of transforms per work-group: from about 32 threads on or, for
   columns, from min_columns on. If there are few transforms, work-groups have fewer columns, so that more of them run
   at the same time. */
static void vd__fft_try_groups(vd__fft_search *s) {
    vd__fft_shape *c = &s->current, best = *c;
    bool columns = vd__fft_kernel_kind(c) == VD__FFT_COLUMNS;
    uint32_t usual = (64 + c->threads - 1) / c->threads;
    uint32_t least = columns ? s->min_columns : s->device->few ? 1 : usual / 2;
    uint32_t widest = s->count < 16384 ? c->n <= 256 ? 32 : 16 : c->threads > 2 ? 64 : 256; /* columns */
    uint32_t most = columns ? widest : 4 * usual;
    double lowest = s->candidates ? 0 : s->cost;
    if (lowest > 0 && vd__fft_lowest_time(s->device, c, s->count, s->blocks) >= lowest) return;
    if (!least) least = 1;
    while (columns && least > 1 && least / 2 >= s->count) least /= 2;
    for (uint32_t ffts = least; ffts <= most && (ffts == least || ffts / 2 < s->count); ffts *= 2) {
        c->ffts_per_group = columns || ffts < s->count ? ffts : (uint32_t)s->count;
        vd__fft_try_slices(s, &lowest, &best);
    }
    c->ffts_per_group = 1;
    if (s->candidates) {
        if (lowest > 0) vd__fft_add_candidate(s->candidates, &best, lowest);
        return;
    }
    if (lowest > 0 && (s->cost <= 0 || lowest < s->cost)) s->best = best;
    s->cost = lowest;
}

/* Evaluates the current shape of a search: adds it to the candidates, or replaces the best shape if it costs less. */
static void vd__fft_try_shape(vd__fft_search *s) {
    if (s->count) { vd__fft_try_groups(s); return; }
    double cost = vd__fft_cost(s->device, &s->current);
    if (s->candidates) {
        cost *= vd__fft_penalty(s->device, &s->current);
        if (vd__fft_can_exchange(s->device, &s->current)) vd__fft_add_candidate(s->candidates, &s->current, cost);
        return;
    }
    if ((s->cost > 0 && cost >= s->cost) || !vd__fft_can_exchange(s->device, &s->current)) return;
    s->cost = cost;
    s->best = s->current;
}

/* Tries the current radices with this number of threads: without exchanges in registers, then with all that are
   possible. Does nothing if the device does not allow the number, or if a thread would hold too many values. */
static void vd__fft_try_thread_count(vd__fft_search *s, uint32_t threads) {
    s->current.register_exchange = 0;
    s->current.threads = threads;
    if (!threads || threads > s->device->threads || vd__fft_values_per_thread(&s->current) > VD__FFT_RADIX) return;
    vd__fft_try_shape(s);
    /* never two stages in a row: vd__fft_can_exchange_registers checks that the stage before is not one */
    for (uint32_t i = 1; i < s->current.stages; i++)
        if (vd__fft_can_exchange_registers(&s->current, i, s->device->shuffle_lanes))
            s->current.register_exchange |= 1u << i;
    if (s->current.register_exchange) vd__fft_try_shape(s);
    s->current.register_exchange = 0;
}

/* Tries numbers of threads for which each thread computes 1 to `limit` butterflies of the largest radix. A wide search
   also tries 1, 2 and 4 butterflies of every radix, a search with any_threads or count only 1. For direct stages, tries
   1, 2, 4 and 8 pairs of results with the same inputs. */
static void vd__fft_try_radices(vd__fft_search *s) {
    uint32_t largest = 0, limit = s->current.axes > 1 ? 4 : 2;
    bool any_threads = s->candidates || s->any_threads || s->count;
    for (uint32_t i = 0; i < s->current.stages; i++) if (s->current.radix[i] > largest) largest = s->current.radix[i];
    for (uint32_t per_thread = 1; per_thread <= limit; per_thread++)
        vd__fft_try_thread_count(s, s->current.n / largest / per_thread);
    for (uint32_t i = 0; any_threads && i < s->current.stages; i++)
        for (uint32_t per_thread = 1; per_thread <= (s->candidates ? 4u : 1u); per_thread *= 2)
            if (s->current.n % (s->current.radix[i] * per_thread) == 0)
                vd__fft_try_thread_count(s, s->current.n / s->current.radix[i] / per_thread);
    for (uint32_t i = 0; i < s->current.stages; i++) {
        uint32_t r = s->current.radix[i];
        for (uint32_t per_thread = 1; vd__fft_is_direct(r) && per_thread <= 8; per_thread *= 2)
            vd__fft_try_thread_count(s, s->current.n / r * (((r + 1) / 2 + per_thread - 1) / per_thread));
    }
}

/* Axis of the shape that is transformed as the i-th. */
static uint32_t vd__fft_axis_at(const vd__fft_shape *s, uint32_t i) { return s->last_axis_first ? s->axes - 1 - i : i; }

static void vd__fft_enumerate(vd__fft_search *s, uint32_t axis, uint32_t left, uint32_t limit);

/* Continues an enumeration with a direct stage, which receives its inputs and sends its results through shared memory:
   a stage of radix 1, which computes nothing, precedes it if it is the first one, and follows it if it is the last. */
static void vd__fft_enumerate_direct(vd__fft_search *s, uint32_t left, uint32_t radix, uint32_t limit) {
    vd__fft_shape *c = &s->current;
    uint32_t before = c->stages, most = VD__FFT_STAGES;
    if (s->candidates || s->count) most = s->candidates ? s->candidates->stages : s->stages;
    if (before + 3 > VD__FFT_STAGES) return;
    if (!before) c->radix[c->stages++] = 1;
    c->radix[c->stages++] = radix;
    if (left == radix) c->radix[c->stages++] = 1;
    if (c->stages <= most) vd__fft_enumerate(s, 0, left / radix, limit);
    c->stages = before;
}

/* Enumerates the factorisations into radices, axis by axis. In a search that is not wide, the radices of an axis do not
   increase, except those of shapes with an estimated time. Shapes of several axes have at most 2 * axes + 1 stages,
   because the exchanges of more stages cost more than a second kernel. left: length still to be factored; limit:
   largest radix allowed. */
static void vd__fft_enumerate(vd__fft_search *s, uint32_t axis, uint32_t left, uint32_t limit) {
    if (left == 1 && axis + 1 < s->current.axes) {
        vd__fft_enumerate(s, axis + 1, s->current.size[vd__fft_axis_at(&s->current, axis + 1)], VD__FFT_RADIX);
        return;
    }
    if (left == 1 && s->current.stages) vd__fft_try_radices(s);
    if (left == 1 || s->current.stages == VD__FFT_STAGES
        || (s->current.axes > 1 && s->current.stages > 2 * s->current.axes))
        return;
    if (s->candidates ? s->current.stages == s->candidates->stages : s->count && s->current.stages == s->stages)
        return;
    for (uint32_t r = limit < left ? limit : left; r >= 2; r--) {
        if (left % r) continue;
        s->current.axis[s->current.stages] = vd__fft_axis_at(&s->current, axis);
        s->current.radix[s->current.stages++] = r;
        vd__fft_enumerate(s, axis, left / r, s->candidates || s->count ? (uint32_t)VD__FFT_RADIX : r);
        s->current.stages--;
    }
    uint32_t direct = s->current.axes == 1 ? vd__fft_direct_factor(left) : 0;
    if (direct) vd__fft_enumerate_direct(s, left, direct, limit);
}

/* An exchange passes as much through shared memory at once as fits: both components (unless `split`), one component, or
   a slice of one. */
static bool vd__fft_choose_slices(const vd__fft_device *d, vd__fft_shape *s, bool split, uint32_t max_slices) {
    s->slices = 1;
    s->split_components = split;
    if (vd__fft_fits(d, s)) return true;
    if (s->real_fold) max_slices = 1; /* a value and its mirror image may be in different slices */
    for (s->split_components = true; s->slices <= max_slices; s->slices *= 2)
        if (vd__fft_can_slice(s, s->slices) && vd__fft_fits(d, s)) return true;
    s->slices = 1;
    return false;
}

/* Neighbouring columns share cache lines: starts with 16 columns, which are 128 bytes of complex f32 (short columns:
   32; with groups_as_loops: 8), and halves the number until they fit, but not below `min_columns`. */
static bool vd__fft_choose_columns(const vd__fft_device *d, vd__fft_shape *s, uint64_t count, uint32_t min_columns) {
    uint32_t widest = d->groups_as_loops ? 8 : s->n <= 256 ? 32 : 16;
    while (widest > 1 && widest / 2 >= count) widest /= 2;
    for (s->ffts_per_group = widest;
         s->ffts_per_group && (s->ffts_per_group >= min_columns || s->ffts_per_group == widest); s->ffts_per_group /= 2)
        if (vd__fft_choose_slices(d, s, false, d->groups_as_loops ? 1 : 4)) return true;
    return false;
}

/* Words of shared memory of f32 above which kernels of rows exchange components one after the other (17 KiB), so that
   several work-groups fit onto a multiprocessor. */
enum { VD__FFT_SPLIT_WORDS = 4352 };

/* With groups_as_loops, a work-group has at least 16 threads. Otherwise several rows have at most 128 threads, as few
   idle lanes as possible and, of these numbers, if possible at least 64 threads. */
static void vd__fft_set_rows(const vd__fft_device *d, vd__fft_shape *s) {
    uint32_t best = d->groups_as_loops ? (15 + s->threads) / s->threads : 1;
    for (uint32_t rows = 2; !d->groups_as_loops && rows * s->threads <= 128; rows++) {
        double lanes = vd__fft_lanes_per_thread(rows * s->threads), least = vd__fft_lanes_per_thread(best * s->threads);
        s->ffts_per_group = rows;
        if (vd__fft_shared_words(s) > VD__FFT_SPLIT_WORDS) break;
        if (lanes < least || (lanes == least && best * s->threads < 64)) best = rows;
    }
    s->ffts_per_group = best;
}

/* As many rows as vd__fft_set_rows, or fewer. */
static bool vd__fft_choose_rows(const vd__fft_device *d, vd__fft_shape *s, uint64_t count) {
    vd__fft_set_rows(d, s);
    if (s->ffts_per_group > count) s->ffts_per_group = (uint32_t)count;
    for (; s->ffts_per_group; s->ffts_per_group--)
        if (vd__fft_choose_slices(d, s, !d->groups_as_loops && vd__fft_shared_words(s) > VD__FFT_SPLIT_WORDS, 1))
            return true;
    s->ffts_per_group = 1;
    if (vd__fft_choose_slices(d, s, true, 2)) return true;
    memset(s->pad, 0, sizeof s->pad); /* without padding, more may fit */
    return vd__fft_choose_slices(d, s, true, 4);
}

/* Tables of the fastest measured shapes for rows, columns and several axes, of sizes for which another shape has the
   lowest estimated cost (NVIDIA H200, 1 GiB). */
enum { VD__FFT_MEASURED_RADICES = 6 };  /* maximum number of radices */
typedef struct vd__fft_shape_entry {
    uint16_t size[3];
    uint8_t radix[VD__FFT_MEASURED_RADICES]; /* radices of the first axis, then of the next */
    uint16_t threads, ffts_per_group;
    uint8_t slices;          /* 0: both components at once */
    uint8_t register_exchange;
} vd__fft_shape_entry;
static const vd__fft_shape_entry vd__fft_rows[] = {
    { { 64 }, { 8, 8 }, 8, 4, 0, 0 }, { { 96 }, { 12, 8 }, 12, 8, 0, 0 }, { { 100 }, { 10, 10 }, 10, 2, 1, 0 },
    { { 120 }, { 8, 15 }, 15, 8, 0, 0 }, { { 128 }, { 4, 4, 8 }, 16, 2, 0, 0 }, { { 243 }, { 3, 9, 9 }, 27, 1, 0, 0 },
    { { 256 }, { 8, 4, 8 }, 32, 2, 1, 0 }, { { 360 }, { 5, 8, 9 }, 45, 2, 0, 0 }, { { 500 }, { 20, 25 }, 25, 1, 0, 0 },
    { { 512 }, { 8, 8, 8 }, 64, 1, 0, 0 }, { { 625 }, { 25, 25 }, 25, 1, 1, 0 }, { { 729 }, { 9, 9, 9 }, 81, 1, 0, 0 },
    { { 1000 }, { 10, 10, 10 }, 100, 2, 1, 0 }, { { 1080 }, { 10, 18, 6 }, 60, 1, 0, 0 },
    { { 1536 }, { 8, 24, 8 }, 64, 1, 0, 0 }, { { 1920 }, { 15, 16, 8 }, 128, 1, 0, 0 },
    { { 2187 }, { 27, 3, 27 }, 81, 1, 0, 0 }, { { 3125 }, { 5, 25, 25 }, 125, 1, 1, 0 },
    { { 4000 }, { 20, 10, 20 }, 200, 1, 1, 0 }, { { 4095 }, { 21, 15, 13 }, 315, 1, 1, 0 },
    { { 16384 }, { 32, 16, 32 }, 512, 1, 2, 0 }, { { 8, 8 }, { 8, 8 }, 8, 16, 1, 0 },
    { { 16, 16 }, { 4, 4, 16 }, 16, 8, 1, 0 }, { { 32, 32 }, { 4, 8, 4, 8 }, 32, 1, 1, 4 },
    { { 64, 64 }, { 8, 8, 8, 8 }, 256, 1, 1, 0 }, { { 128, 128 }, { 8, 16, 16, 8 }, 512, 1, 2, 0 },
    { { 512, 2 }, { 16, 4, 8, 2 }, 64, 1, 0, 8 }, { { 128, 16 }, { 8, 16, 16 }, 128, 1, 1, 0 },
    { { 256, 32 }, { 16, 16, 32 }, 256, 1, 2, 0 }, { { 2048, 2 }, { 16, 16, 8, 2 }, 256, 1, 1, 8 },
    { { 4096, 4 }, { 32, 16, 8, 4 }, 512, 1, 2, 8 }
};
static const vd__fft_shape_entry vd__fft_columns[] = {
    { { 64 }, { 16, 4 }, 4, 32, 1, 0 }, { { 128 }, { 16, 8 }, 8, 32, 1, 0 }, { { 256 }, { 16, 16 }, 16, 32, 2, 0 },
    { { 512 }, { 32, 16 }, 16, 16, 2, 0 }, { { 1024 }, { 32, 32 }, 32, 16, 2, 0 },
    { { 2048 }, { 16, 16, 8 }, 64, 8, 2, 0 }, { { 128, 8 }, { 16, 8, 8 }, 64, 8, 1, 0 },
    { { 256, 8 }, { 16, 16, 8 }, 64, 8, 2, 0 }
};

/* Rows of real transforms, whose results are combined with their mirror images (real_fold). */
static const vd__fft_shape_entry vd__fft_rows_folded[] = {
    { { 128 }, { 8, 16 }, 16, 4, 0, 0 }, { { 256 }, { 8, 4, 8 }, 32, 2, 0, 0 }, { { 512 }, { 8, 8, 8 }, 32, 1, 0, 0 },
    { { 1024 }, { 8, 16, 8 }, 64, 1, 0, 0 }, { { 2048 }, { 16, 8, 16 }, 128, 1, 0, 0 }
};

/* Rows and columns of kernels that convolve: Bluestein's algorithm and convolutions. */
static const vd__fft_shape_entry vd__fft_rows_convolved[] = {
    { { 256 }, { 16, 16 }, 16, 2, 0, 0 }, { { 512 }, { 8, 4, 16 }, 32, 4, 2, 0 }, { { 1024 }, { 32, 32 }, 32, 4, 0, 0 },
    { { 2048 }, { 16, 8, 16 }, 128, 1, 0, 0 }, { { 4096 }, { 16, 16, 16 }, 256, 1, 0, 0 },
    { { 8192 }, { 16, 16, 32 }, 256, 1, 2, 0 }
};
static const vd__fft_shape_entry vd__fft_columns_convolved[] = {
    { { 64 }, { 16, 4 }, 4, 32, 0, 0 }, { { 128 }, { 16, 8 }, 8, 16, 0, 0 }, { { 512 }, { 32, 16 }, 16, 16, 1, 0 },
    { { 128, 8 }, { 16, 8, 8 }, 32, 8, 2, 0 }
};

/* Images that one kernel convolves. */
static const vd__fft_shape_entry vd__fft_images[] = {
    { { 8, 8 }, { 8, 8 }, 8, 16, 0, 0 }, { { 16, 16 }, { 16, 16 }, 16, 8, 1, 0 },
    { { 32, 32 }, { 32, 32 }, 32, 2, 1, 0 }, { { 64, 64 }, { 8, 8, 4, 16 }, 128, 1, 1, 4 },
    { { 128, 128 }, { 16, 8, 8, 16 }, 512, 1, 2, 0 }
};

static bool vd__fft_is_measured(const vd__fft_shape_entry *k, const vd__fft_shape *s) {
    for (uint32_t i = 0; i < 3; i++) if (k->size[i] != (i < s->axes ? s->size[i] : 0)) return false;
    return s->axes <= 3;
}

static void vd__fft_use_measured(const vd__fft_shape_entry *k, vd__fft_shape *s) {
    uint32_t axis = 0, product = 1;
    for (s->stages = 0; s->stages < VD__FFT_MEASURED_RADICES && k->radix[s->stages]; s->stages++) {
        if (product == s->size[vd__fft_axis_at(s, axis)]) {
            axis++;
            product = 1;
        }
        s->axis[s->stages] = vd__fft_axis_at(s, axis);
        s->radix[s->stages] = k->radix[s->stages];
        product *= k->radix[s->stages];
    }
    s->threads = k->threads;
    s->register_exchange = k->register_exchange;
    s->split_components = k->slices != 0;
    s->slices = s->split_components && !s->real_fold ? k->slices : 1;
}

/* Rows on a CPU (PoCL with AVX-512, 16 MiB). PoCL compiles each kernel three times, in superlinear time. With
   double-buffered exchanges, small radices are as fast as large ones: 4096 as 16 x 16 x 16 compiles in 370 ms and runs
   in 16.6 ms; as 4 x 4 x 4 x 4 x 4 x 4 it compiles in 139 ms and runs in 14.4 ms. */
static const vd__fft_shape_entry vd__fft_cpu_rows[] = {
    { { 64 }, { 8, 8 }, 8, 4, 0, 0 }, { { 128 }, { 8, 16 }, 8, 4, 0, 0 }, { { 256 }, { 8, 8, 4 }, 32, 1, 0, 0 },
    { { 512 }, { 4, 4, 4, 8 }, 128, 1, 0, 0 }, { { 1024 }, { 4, 4, 4, 4, 4 }, 256, 1, 0, 0 },
    { { 2048 }, { 4, 4, 4, 4, 4, 2 }, 512, 1, 0, 0 }, { { 4096 }, { 4, 4, 4, 4, 4, 4 }, 1024, 1, 0, 0 }
};

/* Rows on a CPU with real_fold, where exchanges are not double-buffered and values are live across barriers. */
static const vd__fft_shape_entry vd__fft_cpu_rows_folded[] = {
    { { 256 }, { 16, 16 }, 16, 1, 0, 0 }, { { 2048 }, { 16, 8, 16 }, 128, 1, 0, 0 },
    { { 4096 }, { 16, 16, 16 }, 256, 1, 0, 0 }
};

/* Rows and columns on llvmpipe (16 MiB), where a complex f32 is accessed as one word. Threads are assigned to columns
   as to rows (vd__fft_assigns_columns). llvmpipe compiles each memory access to a loop over lanes, in about a
   millisecond. Therefore threads hold few values, and lanes exchange values by shuffles, which are written as + here.
   Rows of 4096 as 16 x 16 x 16 compile in 270 ms and run in 35 ms, as 8 + 8 x 8 + 8 in 130 ms and 23 ms. Columns of
   1024 as 16 x 16 x 4, with neighbouring columns on neighbouring threads, took 490 ms and 65 ms, as 8 + 4 x 8 + 4 140
   ms and 45 ms. Rows of 160 as 20 + 4 x 2 run as fast as with 16 x 10, but compile in 182 ms instead of 123 ms. */
static const vd__fft_shape_entry vd__fft_lane_rows[] = {
    { { 64 }, { 8, 8 }, 8, 4, 0, 2 }, { { 128 }, { 16, 8 }, 8, 4, 0, 2 }, { { 160 }, { 16, 10 }, 16, 2, 0, 0 },
    { { 256 }, { 8, 8, 4 }, 32, 4, 0, 4 }, { { 512 }, { 8, 8, 8 }, 64, 4, 0, 4 },
    { { 1024 }, { 8, 4, 8, 4 }, 128, 2, 0, 10 }, { { 2048 }, { 8, 8, 8, 4 }, 256, 1, 0, 10 },
    { { 4096 }, { 8, 8, 8, 8 }, 512, 1, 0, 10 }
};

static const vd__fft_shape_entry *vd__fft_find_measured(const vd__fft_shape_entry *k, size_t count,
                                                        const vd__fft_shape *s) {
    for (; count && !vd__fft_is_measured(k, s); count--) k++;
    return count ? k : NULL;
}
#define VD__FFT_FIND_MEASURED(table, shape) vd__fft_find_measured(table, sizeof(table) / sizeof *(table), shape)

static const vd__fft_shape_entry *vd__fft_find_cpu(const vd__fft_shape *s) {
    const vd__fft_shape_entry *k = s->real_fold ? VD__FFT_FIND_MEASURED(vd__fft_cpu_rows_folded, s) : NULL;
    return k ? k : VD__FFT_FIND_MEASURED(vd__fft_cpu_rows, s);
}

/* Returns false if there is no measured shape (there are none for f64 and for plans with few elements), if its
   work-groups have more than `count` columns, or if the device does not support it. Has at most `count` rows per
   work-group, and no padding if the shape does not fit with it. */
static bool vd__fft_choose_measured_shape(const vd__fft_device *d, vd__fft_shape *s, uint64_t count) {
    bool columns = s->columns_in || s->columns_out;
    const vd__fft_shape_entry *k = NULL;
    if (s->last_axis_first) k = VD__FFT_FIND_MEASURED(vd__fft_images, s);
    else if (d->groups_as_loops)
        k = columns ? NULL : d->complex_as_words ? VD__FFT_FIND_MEASURED(vd__fft_lane_rows, s) : vd__fft_find_cpu(s);
    else if (s->convolves)
        k = columns ? VD__FFT_FIND_MEASURED(vd__fft_columns_convolved, s)
                    : VD__FFT_FIND_MEASURED(vd__fft_rows_convolved, s);
    else if (s->real_fold && !columns) k = VD__FFT_FIND_MEASURED(vd__fft_rows_folded, s);
    if (!k && !d->groups_as_loops && !s->last_axis_first)
        k = columns ? VD__FFT_FIND_MEASURED(vd__fft_columns, s) : VD__FFT_FIND_MEASURED(vd__fft_rows, s);
    if (!k || d->wide || d->few || (columns && k->ffts_per_group > count)) return false;
    vd__fft_use_measured(k, s);
    if (d->complex_as_words && !vd__fft_set_register_exchange(d, k->register_exchange, s)) return false;
    s->ffts_per_group = k->ffts_per_group < count ? k->ffts_per_group : (uint32_t)count;
    if (vd__fft_fits(d, s)) return true;
    memset(s->pad, 0, sizeof s->pad);
    return vd__fft_fits(d, s);
}

/* ---- padding, so that neighbouring threads access different banks of shared memory ---- */

/* On CPUs, shared memory has no banks; columns are interleaved, so neighbouring threads access neighbouring words. */
static void vd__fft_set_default_pads(const vd__fft_device *d, vd__fft_shape *s) {
    static const vd__fft_pad pad = { 5, 1 };
    bool needed = !d->groups_as_loops && !vd__fft_all_columns(s);
    for (uint32_t i = 0; i < VD__FFT_STAGES; i++) s->pad[i] = needed ? pad : vd__fft_no_pad;
}

/* first(b, c) of vd__fft_stage_info, on the host. */
static uint32_t vd__fft_first_of(uint32_t b, uint32_t c, uint32_t radix) { return b / c * c * radix + b % c; }

/* Whether the padded distances of the elements of a butterfly from its first element are the same for all butterflies,
   and so are constants of the kernel. */
static bool vd__fft_is_uniform(const vd__fft_shape *s, vd__fft_pad pad, uint32_t c, uint32_t radix) {
    uint32_t f = vd__fft_all_columns(s) ? s->ffts_per_group : 1, run = 1u << pad.shift;
    return !pad.width || c * f % run == 0 || run % (c * radix * f) == 0;
}

/* Word of shared memory that thread l of a work-group accesses for element j of its first butterfly; UINT32_MAX: it has
   none. */
static uint32_t vd__fft_shared_word(const vd__fft_shape *s, const vd__fft_stage_info *g, uint32_t c, vd__fft_pad pad,
                                    bool columns, uint32_t l, uint32_t j) {
    uint32_t t = columns ? l / s->ffts_per_group : l % s->threads, q = columns ? l % s->ffts_per_group : l / s->threads,
             b = t;
    if (g->register_exchange)
        b = vd__fft_first_of(t / g->lanes, g->exchange_stride, g->exchange_radix) + t % g->lanes * g->exchange_stride;
    if (l >= s->threads * s->ffts_per_group || b >= s->n / g->radix) return UINT32_MAX;
    uint32_t at = (vd__fft_first_of(b, c, g->radix) + j * c) % (s->n / s->slices);
    return vd__fft_all_columns(s) ? vd__fft_padded(pad, at * s->ffts_per_group + q)
                                  : vd__fft_padded(pad, at) + q * vd__fft_shared_stride(s, pad);
}

/* Cycles of a sample of accesses to shared memory by two groups of 32 threads, with 32 banks of one word. */
static uint32_t vd__fft_bank_cycles(const vd__fft_shape *s, const vd__fft_stage_info *g, uint32_t c, vd__fft_pad pad,
                                    bool columns) {
    uint32_t access, l, sum = 0;
    for (access = 0; access < 6; access++) {
        uint8_t bank[32];
        uint32_t conflicts = 0, j = access % 3 == 2 ? g->radix - 1 : access % 3;
        memset(bank, 0, sizeof bank);
        for (l = 0; l < 32; l++) {
            uint32_t word = vd__fft_shared_word(s, g, c, pad, columns, l + access / 3 * 32, j);
            if (word != UINT32_MAX && ++bank[word % 32] > conflicts) conflicts = bank[word % 32];
        }
        sum += conflicts;
    }
    return sum;
}

/* Cost of the exchange between stages i and i + 1 in one transform of the kernel: cycles of the accesses, and 8 for
   address arithmetic where distances are no constants (vd__fft_is_uniform), or for each element that a thread loads in
   a direct stage. */
static uint32_t vd__fft_pad_cost_of(const vd__fft_shape *s, uint32_t direction_index, uint32_t i, vd__fft_pad pad) {
    uint32_t stage = direction_index ? s->stages - 2 - i : i;
    vd__fft_stage_info a = vd__fft_stage_info_of(s, direction_index, stage),
                       b = vd__fft_stage_info_of(s, direction_index, stage + 1);
    bool last = stage + 2 == s->stages;
    uint32_t cost = vd__fft_bank_cycles(s, &a, a.write_stride, pad, s->columns_in)
                    + vd__fft_bank_cycles(s, &b, b.read_stride, pad, last ? s->columns_out : s->columns_in);
    return cost + (vd__fft_is_uniform(s, pad, a.write_stride, a.radix) ? 0 : 8)
           + (vd__fft_is_uniform(s, pad, b.read_stride, b.radix) ? 0 : vd__fft_is_direct(b.radix) ? 8 * b.radix : 8);
}

/* vd__fft_pad_cost_of, summed over the transforms of the kernel. */
static uint32_t vd__fft_pad_cost(const vd__fft_shape *s, uint32_t i, vd__fft_pad pad) {
    return vd__fft_pad_cost_of(s, 0, i, pad) + (s->convolves ? vd__fft_pad_cost_of(s, 1, i, pad) : 0);
}

/* The padding of each exchange through shared memory is the one with the lowest cost that fits. The current padding,
   which must fit, is kept unless another one costs less. */
static void vd__fft_choose_pads(const vd__fft_device *d, vd__fft_shape *s) {
    static const vd__fft_pad choices[] = { { 0, 0 }, { 5, 1 }, { 4, 1 },  { 3, 1 }, { 6, 4 },  { 6, 8 }, { 5, 2 },
                                           { 4, 2 }, { 7, 8 }, { 7, 16 }, { 8, 8 }, { 8, 16 }, { 9, 16 } };
    for (uint32_t i = 0; i + 1 < s->stages; i++) {
        uint32_t lowest = vd__fft_pad_cost(s, i, s->pad[i]);
        if (s->register_exchange >> (i + 1) & 1) continue;
        for (size_t k = 0; k < sizeof choices / sizeof *choices; k++) {
            uint32_t cost = vd__fft_pad_cost(s, i, choices[k]);
            if (cost >= lowest
                || (uint64_t)vd__fft_words_padded(s, choices[k]) * (s->split_components ? 1u : 2u) > d->shared)
                continue;
            lowest = cost;
            s->pad[i] = choices[k];
        }
    }
}

/* Sets complex_elements and double_buffered. A CPU accesses both components of a complex number in the time of one, but
   combining mirror images uses one component at a time. CPU compilers store values that are live across a barrier in
   memory, for each thread; with double buffering, no values are. Returns `fits`. */
static bool vd__fft_finish_shape(const vd__fft_device *d, vd__fft_shape *s, bool fits) {
    s->complex_elements = d->groups_as_loops && !s->split_components && !s->real_fold;
    s->double_buffered = false;
    s->double_buffered = s->complex_elements && !d->complex_as_words && (s->stages > 2 || s->convolves)
                         && vd__fft_shared_words(s) * 2 <= d->shared;
    return fits;
}

/* Constants of vd__fft_estimate: picoseconds for an instruction of vd__fft_cost, and for a byte of memory. */
#define VD__FFT_PS_PER_INSTRUCTION 0.0383
#define VD__FFT_PS_PER_BYTE 0.24

/* Estimated time in which a pass reads and writes n complex numbers. */
static double vd__fft_pass_memory_ps(const vd__fft_device *d, uint32_t n) {
    return (d->wide ? 32.0 : 16.0) * n * VD__FFT_PS_PER_BYTE;
}

/* Chooses the shape with the lowest estimated time for `blocks` times `count` transforms, with as few stages as
   possible or, if these are at most two (for each axis), with one more. Returns false if none fits into a work-group.
   */
static bool vd__fft_choose_estimated(vd__fft_search *search, uint64_t count, uint64_t blocks, uint32_t min_columns,
                                     vd__fft_shape *s) {
    uint64_t least = min_columns < count ? min_columns : count; /* columns */
    uint32_t size = s->size[vd__fft_axis_at(s, 0)];
    if (vd__fft_kernel_kind(s) == VD__FFT_COLUMNS && s->n * least > VD__FFT_MAX_POINTS) return false;
    search->count = count;
    search->blocks = blocks;
    search->min_columns = min_columns;
    uint32_t most = s->axes > 1 ? 2 * s->axes + 1 : s->n > 4000 || vd__fft_direct_factor(s->n) ? 4 : 3; /* stages */
    for (search->stages = s->n > VD__FFT_RADIX ? 2 : 1; search->cost <= 0 && search->stages <= most; search->stages++)
        vd__fft_enumerate(search, 0, size, VD__FFT_RADIX);
    if (search->stages <= most && search->stages <= 1 + 2 * s->axes) vd__fft_enumerate(search, 0, size, VD__FFT_RADIX);
    bool found = search->cost > 0;
    if (found) *s = search->best;
    if (found && s->stages == 1) s->columns_out = s->columns_in; /* no exchange */
    search->count = 0;
    search->cost = 0;
    return found;
}

/* Chooses the shape for the sizes in `s`: the measured one, that of the lowest estimated time (vd__fft_shape_time) or,
   where times are not estimated, that of the lowest cost. A single size must have no prime factors above
   VD__FFT_DIRECT, several sizes none above 31. By cost, a shape in which threads are idle in some stages is chosen only
   if no other fits, and if its instructions take less time than the memory accesses of two passes. count: number of
   transforms of each of `blocks` blocks; min_columns: minimum number of columns per work-group. Returns false if no
   shape fits into a work-group, or if two passes are estimated to be faster. */
static bool vd__fft_choose_shape(const vd__fft_device *d, uint64_t count, uint64_t blocks, uint32_t min_columns,
                                 vd__fft_shape *s) {
    vd__fft_search search;
    bool columns = s->columns_in || s->columns_out;
    uint32_t i;
    for (s->n = 1, i = 0; i < s->axes; i++) s->n *= s->size[i];
    s->ffts_per_group = s->slices = 1;
    vd__fft_set_default_pads(d, s);
    memset(&search, 0, sizeof search);
    search.device = d;
    search.current = *s;
    if (vd__fft_choose_measured_shape(d, s, count)) return vd__fft_finish_shape(d, s, true);
    *s = search.current;
    if (vd__fft_is_estimated(d, s) && vd__fft_choose_estimated(&search, count, blocks, min_columns, s))
        return vd__fft_finish_shape(d, s, true);
    if (s->n == 1) { /* only loads and stores */
        s->stages = s->radix[0] = s->threads = 1;
    } else {
        vd__fft_enumerate(&search, 0, s->size[vd__fft_axis_at(s, 0)], VD__FFT_RADIX);
        if (search.cost <= 0 && s->axes == 1) { /* such as 203 = 29 x 7 */
            search.any_threads = true;
            vd__fft_enumerate(&search, 0, s->size[0], VD__FFT_RADIX);
            if (search.cost * VD__FFT_PS_PER_INSTRUCTION > 2 * vd__fft_pass_memory_ps(d, s->n)) return false;
        }
        if (search.cost <= 0) return false;
        *s = search.best;
    }
    if (s->stages == 1) s->columns_out = s->columns_in; /* no exchange */
    return vd__fft_finish_shape(
        d, s, columns ? vd__fft_choose_columns(d, s, count, min_columns) : vd__fft_choose_rows(d, s, count));
}

/* Sorts the dimensions by descending stride. */
static void vd__fft_sort_dimensions(const vd_fft *p, const vd__fft_layout *l, uint32_t *order) {
    uint32_t j;
    for (uint32_t i = 0; i < p->dimensions; i++) {
        uint32_t d = i;
        for (j = i; j > 0 && l->stride[order[j - 1]] < l->stride[d]; j--) order[j] = order[j - 1];
        order[j] = d;
    }
}

/* The input of a problem, or its output. */
typedef struct vd__problem_end {
    vd__fft_role role;
    vd__fft_layout layout;   /* of the buffer */
    bool paired;             /* the strides are in pairs of reals */
    uint64_t count, start;   /* number of indices of the axis that are in memory, and the first: of complex numbers */
    uint64_t rule_count, rule_start; /* the same for the elements of a real kind: vd__fft_end.count, .start */
} vd__problem_end;

/* Transforms to plan: along an axis, or along one factor n of the length of an axis that is split over passes, from one
   buffer to another. In the second case there are `outer` transforms along the axis, which are n elements apart. */
typedef struct vd__fft_problem {
    uint32_t axis;
    /* bit masks of other dimensions that the pass transforms too; with two passes, that the first and the second do */
    uint32_t extra_dims[2];
    uint64_t n, outer;
    uint64_t length;         /* length of the complex transforms of the whole axis */
    bool inverse;            /* of the passes: vd__fft_pass.inverse */
    vd__problem_end end[2];  /* input, output */
    vd__real rule;           /* of the elements of both; kind 0: complex numbers */
    uint32_t order[4];       /* dimensions by descending stride of the input */
    vd__fft_route *route;    /* to which the passes are appended */
    bool chirp;              /* Bluestein's algorithm: the inputs and the results are multiplied by the chirp */
    uint32_t min_columns;    /* minimum columns of a work-group in the first pass; the second of two has half as many */
} vd__fft_problem;

typedef struct vd__digit { uint64_t size, step; } vd__digit; /* number of values, and stride in elements */

/* Number of indices of another dimension that have to be computed while `axis` is transformed. Axes are transformed
   from the last to the first, so later dimensions have the output's number of indices and earlier ones the input's. In
   a convolution, the order is reversed after the product, and the first axis is transformed first if it has parts. */
static uint64_t vd__fft_extent(const vd_fft *p, uint32_t axis, uint32_t dimension) {
    if (!(p->axes >> dimension & 1)) return p->shape[dimension];
    if (p->convolution.batch && dimension > axis && !p->convolution.in_parts) return p->shape[dimension];
    if (p->convolution.batch)
        return p->layout[p->convolution.after_product ? VD__FFT_OUT : VD__FFT_IN].count[dimension];
    return p->layout[dimension > axis ? VD__FFT_OUT : VD__FFT_IN].count[dimension];
}

/* Addresses of the loads or stores of a pass. The digits of a block index are the dimensions before the axis in
   `order`, then `block`. The digits of a transform index are `first_digit`, `last_digit`, then the dimensions after the
   axis in `order`. Dimensions in `extra_dims` become axes of the transform before the axis itself, smallest stride
   first. stride: distance between the elements of a transform along the axis. */
static vd__fft_addressing vd__fft_addressing_of(const vd_fft *p, const vd__fft_problem *problem, uint32_t extra_dims,
                                                const vd__fft_layout *l, uint64_t stride, vd__digit block,
                                                vd__digit first_digit, vd__digit last_digit) {
    const uint32_t *order = problem->order;
    vd__fft_addressing s;
    uint32_t i, axes = 0;
    bool inside = false;
    memset(&s, 0, sizeof s);
    for (i = p->dimensions; i-- > 0;) if (extra_dims >> order[i] & 1) s.stride[axes++] = l->stride[order[i]];
    s.stride[axes] = stride;
    s.block.product = s.transform.product = 1;
    for (i = 0; i < p->dimensions; i++) {
        if (order[i] == problem->axis) {
            inside = true;
            vd__digits_add(&s.block, block.size, block.step);
            vd__digits_add(&s.transform, first_digit.size, first_digit.step);
            vd__digits_add(&s.transform, last_digit.size, last_digit.step);
        } else if (extra_dims >> order[i] & 1) {
            inside = true;
        } else {
            vd__digits_add(inside ? &s.transform : &s.block, vd__fft_extent(p, problem->axis, order[i]),
                           l->stride[order[i]]);
        }
    }
    return s;
}

/* Whether the stride between neighbouring transforms is smaller than the stride between the elements of one transform.
   */
static bool vd__fft_is_columns(const vd__fft_addressing *s) {
    return s->transform.count && s->transform.stride[s->transform.count - 1] < s->stride[0];
}

/* Whether neighbouring threads are assigned to neighbouring transforms. Not with shuffles, for which all lanes of a
   subgroup must belong to one transform; the only such driver, llvmpipe, has no coalesced accesses to gain. */
static bool vd__fft_assigns_columns(const vd__fft_device *d, const vd__fft_addressing *s) {
    return !d->shuffle_lanes && vd__fft_is_columns(s);
}

/* If each block has only one transform, makes the blocks the transforms of a single block. */
static void vd__fft_merge_blocks(vd__fft_addressing *s) {
    if (s->transform.product > 1) return;
    s->transform = s->block;
    memset(&s->block, 0, sizeof s->block);
    s->block.product = 1;
}

/* Returns NULL if the route is full. */
static vd__fft_pass *vd__fft_add_pass(const vd__fft_problem *problem, vd__fft_role from, vd__fft_role to) {
    vd__fft_route *r = problem->route;
    if (r->count == VD__FFT_PASSES) return NULL;
    vd__fft_pass *pass = &r->pass[r->count++];
    memset(pass, 0, sizeof *pass);
    pass->end[0].role = from;
    pass->end[1].role = to;
    pass->inverse = problem->inverse;
    return pass;
}

static vd__digit vd__digit_of(uint64_t size, uint64_t step) {
    vd__digit d;
    d.size = size;
    d.step = step;
    return d;
}

/* The range has count 0 (all indices) if `count` is at least `all`. */
static vd__fft_range vd__fft_range_of(uint64_t start, uint64_t count, uint64_t all, uint64_t scale, uint64_t width) {
    vd__fft_range c;
    c.start = start;
    c.count = count < all ? count : 0;
    c.scale = scale;
    c.width = width;
    return c;
}

/* Number of complex transforms in a block. */
static uint64_t vd__fft_transform_count(const vd__fft_pass *pass) {
    return pass->real.two_rows ? (pass->end[0].array.transform.product + 1) / 2 : pass->end[0].array.transform.product;
}

static uint64_t vd__fft_group_count(const vd__fft_pass *pass) {
    const vd__fft_shape *s = &pass->shape;
    const vd__fft_addressing *in = &pass->end[0].array;
    if (vd__fft_has(pass, VD__STEP_FOLD))
        return vd__ceil_div(in->transform.product * (pass->real.h / 2 + 1), s->threads);
    return vd__fft_groups_of(s, vd__fft_transform_count(pass), in->block.product);
}

/* The last searches for a shape, because planning repeats them: `from` is the shape before a search. */
typedef struct vd__fft_search_result {
    vd__fft_shape from, to;
    uint64_t count, blocks;
    uint32_t min_columns;
    bool found;
} vd__fft_search_result;
enum { VD__FFT_MEMO = 96 };
typedef struct vd__fft_memo { uint32_t count; vd__fft_search_result at[VD__FFT_MEMO]; } vd__fft_memo;

/* vd__fft_choose_shape, which is not repeated for the same arguments. */
static bool vd__fft_recall_shape(const vd_fft *p, uint64_t count, uint64_t blocks, uint32_t min_columns,
                                 vd__fft_shape *s) {
    vd__fft_memo *memo = p->memo;
    if (!memo) return vd__fft_choose_shape(&p->device, count, blocks, min_columns, s);
    vd__fft_search_result *r = memo->at;
    for (uint32_t i = 0; i < memo->count && i < VD__FFT_MEMO; i++, r++) {
        if (r->count != count || r->blocks != blocks || r->min_columns != min_columns
            || memcmp(&r->from, s, sizeof *s) != 0)
            continue;
        *s = r->to;
        return r->found;
    }
    r = &memo->at[memo->count++ % VD__FFT_MEMO];
    memcpy(&r->from, s, sizeof *s);
    r->count = count;
    r->blocks = blocks;
    r->min_columns = min_columns;
    r->found = vd__fft_choose_shape(&p->device, count, blocks, min_columns, s);
    r->to = *s;
    return r->found;
}

/* pass_index: 0 or 1, the pass of a problem. length: elements along its axis; the dimensions extra_dims[pass_index]
   follow. Returns false if no shape fits, or if there are too many transforms. */
static bool vd__fft_plan_shape(const vd_fft *p, vd__fft_pass *pass, const vd__fft_problem *problem, uint32_t pass_index,
                               uint64_t length) {
    vd__fft_shape *s = &pass->shape;
    const uint32_t *order = problem->order;
    if (length > 65536 || vd__fft_transform_count(pass) > VD__FFT_MAX_TRANSFORMS) return false;
    memset(s, 0, sizeof *s);
    for (uint32_t i = p->dimensions; i-- > 0;) {
        if (!(problem->extra_dims[pass_index] >> order[i] & 1)) continue;
        pass->dimension[s->axes] = order[i];
        s->size[s->axes++] = (uint32_t)p->shape[order[i]];
    }
    if (!pass->copies) {
        pass->dimension[s->axes] = problem->axis;
        s->size[s->axes++] = (uint32_t)length;
    }
    const vd__fft_addressing *in = &pass->end[0].array, *out = &pass->end[1].array;
    uint32_t last = s->axes - 1, sector = p->device.wide ? 2 : 4; /* elements of 32 bytes */
    s->columns_in = vd__fft_assigns_columns(&p->device, in);
    s->columns_out = vd__fft_assigns_columns(&p->device, out);
    s->unaligned_columns = (s->columns_in && in->stride[last] % sector)
                           || (s->columns_out && out->stride[last] % sector);
    s->real_fold = vd__fft_has(pass, VD__STEP_STORE_FOLDED);
    s->convolves = vd__fft_has(pass, VD__STEP_INVERSE);
    s->last_axis_first = pass->product.channels && s->axes > 1 && !p->convolution.in_parts; /* whole images */
    return vd__fft_recall_shape(p, vd__fft_transform_count(pass), in->block.product,
                                problem->min_columns >> pass_index, s);
}

/* ---- the elements of an axis ---- */

static bool vd__real_is_sine(vd_fft_kind kind) { return kind >= VD_FFT_DST1; }

/* Families of real transforms: VD_FFT_REAL, and cosine and sine transforms by their kind, I to IV. */
enum { VD__REAL_DFT, VD__REAL_I, VD__REAL_II, VD__REAL_III, VD__REAL_IV };

static uint32_t vd__real_family(vd_fft_kind kind) {
    return kind < VD_FFT_DCT1 ? (uint32_t)VD__REAL_DFT
                              : VD__REAL_I + ((uint32_t)kind - (uint32_t)VD_FFT_DCT1) % 4;
}

/* C-order layout of the plan's shape, with `length` instead of its length along one axis. */
static vd__fft_layout vd__fft_dense_layout(const vd_fft *p, uint32_t axis, uint64_t length) {
    vd__fft_layout l;
    uint32_t i;
    memset(&l, 0, sizeof l);
    for (l.span = 1, i = p->dimensions; i-- > 0; l.span *= i == axis ? length : p->shape[i]) l.stride[i] = l.span;
    return l;
}

/* C-order layout of the array to which the points of the load hook (out: the store hook) refer: the reals if
   VD_FFT_REAL loads (out: stores) reals, otherwise the plan's shape. */
static vd__fft_layout vd__real_hook_layout(const vd_fft *p, const vd__real *r, bool out) {
    return r->kind == VD_FFT_REAL && r->inverse == out ? vd__fft_dense_layout(p, p->real_axis, p->real_length)
                                                       : p->dense;
}

/* Whether results are combined with their mirror images before they are stored. A transform of full length needs this
   only to separate two rows. */
static bool vd__real_needs_fold(const vd__real *r) {
    return !r->inverse && (r->half_length ? vd__real_family(r->kind) != VD__REAL_IV : r->two_rows);
}

/* Addresses of the elements that a pass loads from, or stores to, an array of layout `l`. If the axis is split over
   passes, it has parts * outer transforms: transform (i, j) with i < parts and j < outer begins at index i * outer + j
   of the axis, and its elements are parts * outer indices apart. by_rule: the rule of a real kind computes the indices
   along the axis; the result has only the stride of the axis. */
static vd__fft_addressing vd__fft_split_addressing(const vd_fft *p, const vd__fft_problem *problem, uint32_t extra_dims,
                                                   const vd__fft_layout *l, bool by_rule, uint64_t parts,
                                                   uint64_t outer) {
    uint64_t step = by_rule ? 0 : l->stride[problem->axis];
    return vd__fft_addressing_of(p, problem, extra_dims, l,
                                 by_rule ? l->stride[problem->axis] : parts * outer * step, vd__digit_of(1, 0),
                                 vd__digit_of(parts, outer * step), vd__digit_of(outer, step));
}

/* Distance in an array with all indices to the first element that a buffer has, along all dimensions but one. */
static uint64_t vd__fft_first_of_others(const vd_fft *p, uint32_t axis, vd__fft_role role,
                                        const vd__fft_layout *array) {
    uint64_t first = 0;
    for (uint32_t i = 0; i < p->dimensions; i++)
        if (i != axis) first += p->layout[role].start[i] * array->stride[i];
    return first;
}

/* Appends the steps with which the first pass of an axis loads its elements (out 0), or the last pass stores its
   results (out 1), and sets their addresses. dims: bit mask of the other dimensions that the pass transforms. parts *
   outer: number of its transforms along the axis (see vd__fft_split_addressing). */
static void vd__fft_set_end(const vd_fft *p, vd__fft_pass *pass, uint32_t out, const vd__fft_problem *problem,
                            uint32_t dims, uint64_t parts, uint64_t outer) {
    const vd__problem_end *of = &problem->end[out];
    const vd__real *r = &problem->rule;
    vd__fft_end *end = &pass->end[out];
    vd__fft_layout array = vd__real_hook_layout(p, r, out != 0);
    bool reals = r->kind && !(out && end->role == VD__FFT_FOLD); /* results that are folded later are complex */
    bool by_rule = reals && (!of->paired || (out ? p->hooks.store : p->hooks.load));
    vd__pass_step chirp = problem->chirp ? VD__STEP_CHIRP : VD__STEP_END;
    vd__pass_step load = by_rule ? VD__STEP_LOAD_BY_RULE : VD__STEP_LOAD,
                  store = !by_rule                 ? VD__STEP_STORE
                          : vd__real_needs_fold(r) ? VD__STEP_STORE_FOLDED
                                                   : VD__STEP_STORE_BY_RULE;
    vd__fft_add_steps(pass, out ? chirp : load, out ? store : chirp, VD__STEP_END);
    if (r->kind) pass->real = *r;
    end->scalar = reals && p->scalar[end->role] && !of->paired;
    end->part = r->kind && parts * outer > 1 ? (uint32_t)(parts * outer) : 0;
    end->count = of->rule_count;
    end->start = of->rule_start;
    end->array = vd__fft_split_addressing(p, problem, dims, &of->layout, by_rule, parts, outer);
    end->index = vd__fft_split_addressing(p, problem, dims, &array, by_rule, parts, outer);
    end->array.skip = by_rule ? 0 : of->start * of->layout.stride[problem->axis];
    end->index.first = vd__fft_first_of_others(p, problem->axis, of->role, &array);
}

/* See vd__fft_range. */
static void vd__fft_set_range(vd__fft_pass *pass, uint32_t out, const vd__fft_problem *problem, uint64_t all,
                              uint64_t scale, uint64_t width) {
    const vd__problem_end *of = &problem->end[out];
    pass->end[out].range[0] = vd__fft_range_of(of->start, of->count, all, scale, width);
}

/* Whether elements along an axis are loaded or stored by the rule of a real kind. */
static bool vd__fft_has_rule(const vd_fft *p, uint32_t axis) {
    return p->kind > VD_FFT_COMPLEX && (p->kind != VD_FFT_REAL || axis == p->real_axis);
}

/* Whether the passes of a direction turn bins in OUT into reals in IN. */
static bool vd__fft_is_to_reals(const vd_fft *p, uint32_t direction) {
    return p->kind == VD_FFT_REAL && direction == VD_FFT_INVERSE && !p->convolution.batch;
}

/* Kinds II and III are the inverses of each other. */
static vd_fft_kind vd__real_inverse_of(vd_fft_kind kind) {
    static const vd_fft_kind inverse[] = { VD_FFT_KIND_DEFAULT, VD_FFT_COMPLEX, VD_FFT_REAL,
                                           VD_FFT_DCT1, VD_FFT_DCT3, VD_FFT_DCT2, VD_FFT_DCT4,
                                           VD_FFT_DST1, VD_FFT_DST3, VD_FFT_DST2, VD_FFT_DST4 };
    return inverse[kind];
}

/* Whether the reals of an array can be accessed in pairs along an axis: the axis is contiguous and all other strides
   are even. Not in convolutions, whose arrays may begin at any element. */
static bool vd__real_can_pair(const vd_fft *p, const vd__fft_layout *l, uint32_t axis) {
    if (p->convolution.batch) return false;
    for (uint32_t i = 0; i < p->dimensions; i++)
        if (i != axis && p->shape[i] > 1 && l->stride[i] % 2) return false;
    return l->stride[axis] == 1;
}

/* Sets the rule by which a problem loads and stores the elements of this kind, and what follows from it. to_reals: for
   VD_FFT_REAL, the inverse, from bins to reals. */
static void vd__real_set_rule(const vd_fft *p, vd__fft_problem *problem, vd_fft_kind kind, bool to_reals) {
    vd__real *r = &problem->rule;
    uint32_t family = vd__real_family(kind);
    uint64_t n = problem->n;
    r->kind = kind;
    r->inverse = family == VD__REAL_DFT ? to_reals : family == VD__REAL_III;
    r->n = n;
    r->half_length = family == VD__REAL_I || (n % 2 == 0 && !(family == VD__REAL_DFT && p->full_length));
    r->h = family == VD__REAL_I ? (vd__real_is_sine(kind) ? n + 1 : n - 1) : (r->half_length ? n / 2 : n);
    problem->n = problem->length = r->h;
    for (uint32_t out = 0; out < 2; out++) {
        vd__problem_end *end = &problem->end[out];
        bool bins = family == VD__REAL_DFT && to_reals != (out != 0);
        end->rule_count = end->count < (bins ? n / 2 + 1 : n) ? end->count : 0;
        end->rule_start = end->start;
        end->paired = family == VD__REAL_DFT && !bins && r->half_length && (end->rule_count | end->start) % 2 == 0
                      && vd__real_can_pair(p, &end->layout, problem->axis);
        for (uint32_t i = 0; end->paired && i < p->dimensions; i++)
            if (i != problem->axis) end->layout.stride[i] /= 2;
        /* the pass checks this range itself; in all other cases, the rule checks it for each element */
        bool by_pass = end->paired && !(out ? p->hooks.store : p->hooks.load) && end->rule_count;
        end->count = by_pass ? end->rule_count / 2 : r->h;
        end->start = by_pass ? end->rule_start / 2 : 0;
    }
    vd__fft_sort_dimensions(p, &problem->end[0].layout, problem->order);
}

/* The problem of transforming a whole axis from one buffer to another. In a convolution, the inverse direction is that
   of the passes after the product. */
static vd__fft_problem vd__fft_problem_of(vd_fft *p, uint32_t direction, uint32_t axis, vd__fft_role from,
                                          vd__fft_role to) {
    bool convolves = p->convolution.batch != 0, inverse = direction == VD_FFT_INVERSE;
    vd__fft_problem problem;
    memset(&problem, 0, sizeof problem);
    problem.axis = axis;
    problem.n = problem.length = p->kind == VD_FFT_REAL && axis == p->real_axis ? p->real_length : p->shape[axis];
    problem.outer = problem.min_columns = 1;
    for (uint32_t out = 0; out < 2; out++) {
        vd__problem_end *end = &problem.end[out];
        const vd__fft_layout *l = &p->layout[(out != 0) != vd__fft_is_to_reals(p, direction) ? VD__FFT_OUT
                                                                                               : VD__FFT_IN];
        end->role = out ? to : from;
        end->layout = p->layout[end->role];
        end->count = convolves && inverse != (out != 0) ? problem.n : l->count[axis];
        end->start = l->start[axis];
    }
    problem.route = &p->route[convolves ? 0 : direction];
    problem.inverse = convolves && inverse;
    vd__fft_sort_dimensions(p, &problem.end[0].layout, problem.order);
    if (!vd__fft_has_rule(p, axis)) return problem;
    vd__real_set_rule(p, &problem, inverse ? vd__real_inverse_of(p->kind) : p->kind, inverse);
    if (!convolves) problem.inverse = problem.rule.inverse != inverse;
    p->paired |= problem.end[0].paired || problem.end[1].paired;
    return problem;
}

/* Number of results of a problem, from the first one on, that are stored. At full length, those of VD_FFT_REAL include
   the bins above n / 2, which are not stored, because they are the conjugates of others. */
static uint64_t vd__fft_needed_results(const vd__fft_problem *problem) {
    const vd__real *r = &problem->rule;
    const vd__problem_end *out = &problem->end[1];
    if (r->kind != VD_FFT_REAL || r->half_length || r->inverse) return out->start + out->count;
    return out->rule_count ? out->rule_start + out->rule_count : r->n / 2 + 1;
}

/* Number of inputs of a problem, from the first one on, that can differ from 0. */
static uint64_t vd__fft_needed_inputs(const vd__fft_problem *problem) {
    return problem->end[0].start + problem->end[0].count;
}

/* Even lengths are not packed even at full length, as vd_fft_desc.pack_rows documents. */
static bool vd__real_packs_rows(const vd_fft *p, const vd__real *r) {
    return r->kind && !r->half_length && r->n % 2 && p->pack_rows;
}

/* vd__fft_needed_results for one pass, which may fold its results. */
static uint64_t vd__fft_bluestein_results(const vd_fft *p, const vd__fft_problem *problem) {
    vd__real r = problem->rule;
    r.two_rows = vd__real_packs_rows(p, &r);
    return r.kind && vd__real_needs_fold(&r) ? problem->n : vd__fft_needed_results(problem);
}

/* The lowest length of the convolutions of Bluestein's algorithm in one pass. */
static uint32_t vd__fft_lowest_bluestein(const vd__fft_pass *pass) {
    uint32_t m = pass->bluestein_in + pass->bluestein_out - 1;
    return m > pass->bluestein_length ? m : pass->bluestein_length;
}

/* Plans a problem as one pass with transforms of `length`. If `chirp` is not 0, it is the length of a transform by
   Bluestein's algorithm, and `length` that of its convolutions. Returns false if no shape fits, or if the route is
   full. */
static bool vd__fft_plan_one_pass(const vd_fft *p, const vd__fft_problem *problem, uint64_t length, uint32_t chirp) {
    vd__fft_problem t = *problem;
    vd__fft_pass *pass = vd__fft_add_pass(problem, problem->end[0].role, problem->end[1].role);
    if (!pass) return false;
    t.chirp = chirp != 0;
    t.rule.two_rows = vd__real_packs_rows(p, &t.rule);
    vd__fft_set_end(p, pass, 0, &t, problem->extra_dims[0], 1, 1);
    vd__fft_add_steps(pass, VD__STEP_TRANSFORM, chirp ? VD__STEP_CHIRP_SPECTRUM : VD__STEP_END,
                      chirp ? VD__STEP_INVERSE : VD__STEP_END);
    vd__fft_set_end(p, pass, 1, &t, problem->extra_dims[0], 1, 1);
    for (uint32_t out = 0; out < 2; out++) {
        vd__fft_merge_blocks(&pass->end[out].array);
        vd__fft_merge_blocks(&pass->end[out].index);
        vd__fft_set_range(pass, out, problem, chirp ? length : problem->n, 1, 1);
    }
    pass->bluestein_length = chirp;
    if (chirp) {
        pass->product.spectrum.stride[0] = 1;
        pass->bluestein_in = (uint32_t)vd__fft_needed_inputs(problem);
        pass->bluestein_out = (uint32_t)vd__fft_bluestein_results(p, problem);
    }
    if (vd__fft_plan_shape(p, pass, problem, 0, length)) return true;
    problem->route->count--;
    return false;
}

/* Number of indices of all dimensions after the axis in `order`, without dimensions that the first pass transforms too.
   */
static uint64_t vd__fft_inner_count(const vd_fft *p, const vd__fft_problem *problem) {
    uint64_t product = 1;
    uint32_t i = p->dimensions, d;
    while ((d = problem->order[--i]) != problem->axis)
        if (!(problem->extra_dims[0] >> d & 1)) product *= vd__fft_extent(p, problem->axis, d);
    return product;
}

/* Layout of TEMP for the passes of an axis, which also FOLD has. */
static vd__fft_layout vd__fft_temp_layout(const vd_fft *p, const vd__fft_problem *problem) {
    return vd__fft_dense_layout(p, problem->axis, problem->length);
}

static void vd__fft_grow_layout(vd_fft *p, vd__fft_role role, uint64_t span) {
    if (p->layout[role].span < span) p->layout[role].span = span;
}

/* What remains of a problem after a pass over columns of `first` elements: rows in TEMP. */
static vd__fft_problem vd__fft_rows_of(const vd_fft *p, const vd__fft_problem *problem, uint64_t first) {
    vd__fft_problem rows = *problem;
    rows.n = rows.end[0].count = problem->n / first;
    rows.end[0].start = 0;
    rows.outer = problem->outer * first;
    rows.end[0].role = VD__FFT_TEMP;
    rows.end[0].layout = vd__fft_temp_layout(p, problem);
    vd__fft_sort_dimensions(p, &rows.end[0].layout, rows.order);
    return rows;
}

/* Appends the first pass of a problem of n = first * second elements that is split over passes: it transforms columns
   of `first` elements, multiplies the results by twiddle factors and stores them in TEMP. If the problem is a part of a
   split axis (outer > 1), its elements are in TEMP too. Returns NULL if no shape fits, or if the route is full. */
static vd__fft_pass *vd__fft_plan_columns(const vd_fft *p, const vd__fft_problem *problem, uint64_t first) {
    vd__fft_layout temp = vd__fft_temp_layout(p, problem);
    uint64_t second = problem->n / first, s = temp.stride[problem->axis];
    vd__fft_pass *a = vd__fft_add_pass(problem, problem->end[0].role, VD__FFT_TEMP);
    if (!a) return NULL;
    a->end[1].array = vd__fft_addressing_of(p, problem, problem->extra_dims[0], &temp, second * s,
                                            vd__digit_of(problem->outer, problem->n * s), vd__digit_of(second, s),
                                            vd__digit_of(1, 0));
    a->end[0].array = a->end[1].array;
    if (problem->outer == 1) vd__fft_set_end(p, a, 0, problem, problem->extra_dims[0], second, 1);
    else vd__fft_add_steps(a, VD__STEP_LOAD, VD__STEP_END, VD__STEP_END);
    vd__fft_add_steps(a, VD__STEP_TRANSFORM, VD__STEP_TWIDDLES, VD__STEP_STORE);
    a->twiddle_length = problem->n;
    a->twiddle_rows = second;
    a->twiddle_width = vd__fft_inner_count(p, problem);
    vd__fft_set_range(a, 0, problem, problem->n, second, a->twiddle_width);
    if (vd__fft_plan_shape(p, a, problem, 0, first)) return a;
    problem->route->count--;
    return NULL;
}

static double vd__fft_estimate(const vd_fft *p, const vd__fft_pass *pass);

/* Removes the passes of a route from number `count` on, and returns their estimated time. */
static double vd__fft_remove_passes(const vd_fft *p, vd__fft_route *r, uint32_t count) {
    double sum = 0;
    for (uint32_t i = count; i < r->count; i++) sum += vd__fft_estimate(p, &r->pass[i]);
    r->count = count;
    return sum;
}

/* How a problem is split over passes: the length that is split (for Bluestein's algorithm, of its convolutions; 0: no
   choice so far), its first factor, and the estimated time. */
typedef struct vd__fft_split_choice { double time; uint64_t length, first; } vd__fft_split_choice;

/* Removes the passes of a route from number `count` on. If their estimated time is lower than that of the choice,
   replaces it by the length and the first factor with which they were planned. */
static void vd__fft_compare_splits(const vd_fft *p, vd__fft_route *r, uint32_t count, uint64_t length, uint64_t first,
                                   vd__fft_split_choice *best) {
    double time = vd__fft_remove_passes(p, r, count);
    if (best->length && time >= best->time) return;
    best->time = time;
    best->length = length;
    best->first = first;
}

static bool vd__fft_plan_long(const vd_fft *p, const vd__fft_problem *problem);

/* Plans a problem of n = first * second elements as two passes (four-step algorithm, Bailey 1990). The first transforms
   columns of `first` elements, multiplies the results by twiddle factors and stores them in TEMP; the second transforms
   rows of `second` elements and stores them transposed. If the rows do not fit and `three` is set, they are split
   again. */
static bool vd__fft_plan_split(const vd_fft *p, const vd__fft_problem *problem, uint64_t first, bool three) {
    vd__fft_route *r = problem->route;
    uint32_t count = r->count;
    const vd__fft_pass *a = vd__fft_plan_columns(p, problem, first);
    vd__fft_pass *b = a ? vd__fft_add_pass(problem, VD__FFT_TEMP, problem->end[1].role) : NULL;
    if (b) {
        vd__fft_problem rows = vd__fft_rows_of(p, problem, first);
        uint64_t s = rows.end[0].layout.stride[problem->axis];
        b->end[0].array = vd__fft_addressing_of(p, problem, problem->extra_dims[1], &rows.end[0].layout, s,
                                                vd__digit_of(1, 0), vd__digit_of(first, rows.n * s),
                                                vd__digit_of(problem->outer, problem->n * s));
        vd__fft_add_steps(b, VD__STEP_LOAD, VD__STEP_TRANSFORM, VD__STEP_END);
        vd__fft_set_end(p, b, 1, problem, problem->extra_dims[1], first, problem->outer);
        vd__fft_set_range(b, 1, problem, problem->length, rows.outer, a->twiddle_width);
        if (vd__fft_plan_shape(p, b, problem, 1, rows.n)) return true;
        r->count--;
        if (three && vd__fft_plan_long(p, &rows)) return true;
    }
    r->count = count;
    return false;
}

/* Splits a problem into two passes or, if those do not fit into work-groups, into three. Chooses factors that are close
   to each other; with few elements, those of the lowest estimated time. */
static bool vd__fft_plan_long(const vd_fft *p, const vd__fft_problem *problem) {
    bool few = p->device.few;
    uint32_t before = problem->route->count;
    for (uint32_t kernels = 2; kernels <= (problem->outer == 1 ? 3u : 2u); kernels++) {
        uint64_t root = (uint64_t)pow((double)problem->n, 1.0 / kernels) + 1;
        vd__fft_split_choice best = { 0, 0, 0 };
        for (uint64_t first = few ? 4 * root : root; first >= 2 && first >= root / (best.length ? 4 : 32); first--) {
            if (problem->n % first || !vd__fft_plan_split(p, problem, first, kernels == 3)) continue;
            if (!few) return true;
            vd__fft_compare_splits(p, problem->route, before, problem->n, first, &best);
        }
        if (best.length) return vd__fft_plan_split(p, problem, best.first, kernels == 3);
    }
    return false;
}

/* Plans a pass that folds bins in memory, with 64 threads per work-group and one pair of bins for each thread. Returns
   false if there are too many transforms, or if the route is full. */
static bool vd__real_plan_fold_pass(const vd_fft *p, const vd__fft_problem *t) {
    vd__fft_pass *pass = vd__fft_add_pass(t, VD__FFT_FOLD, t->end[1].role);
    vd__fft_layout index = vd__real_hook_layout(p, &t->rule, true), fold = vd__fft_temp_layout(p, t);
    if (!pass) return false;
    vd__fft_end *in = &pass->end[0], *out = &pass->end[1];
    vd__fft_addressing *arrays[3] = { &in->array, &out->array, &out->index };
    const vd__fft_layout *layouts[3] = { &fold, &t->end[1].layout, &index };
    uint32_t axis = t->axis;
    vd__fft_add_steps(pass, VD__STEP_FOLD, VD__STEP_END, VD__STEP_END);
    pass->inverse = false;
    pass->real = t->rule;
    pass->shape.axes = 1;
    pass->shape.n = pass->shape.size[0] = (uint32_t)t->rule.h;
    pass->shape.threads = 64;
    pass->shape.stages = pass->shape.radix[0] = pass->shape.ffts_per_group = pass->shape.slices = 1;
    pass->dimension[0] = axis;
    for (uint32_t k = 0; k < 3; k++) {
        arrays[k]->block.product = arrays[k]->transform.product = 1;
        arrays[k]->stride[0] = layouts[k]->stride[axis];
        for (uint32_t i = 0; i < p->dimensions; i++)
            if (t->order[i] != axis)
                vd__digits_add(&arrays[k]->transform, vd__fft_extent(p, axis, t->order[i]),
                               layouts[k]->stride[t->order[i]]);
    }
    out->scalar = p->scalar[out->role];
    out->count = t->end[1].rule_count;
    out->start = t->end[1].rule_start;
    out->index.first = vd__fft_first_of_others(p, axis, out->role, &index);
    return in->array.transform.product <= VD__FFT_MAX_TRANSFORMS;
}

/* Appends the inverse of the pass `forward`, which vd__fft_plan_columns planned: it multiplies its inputs by the
   conjugates of the twiddle factors and computes the inverse transforms. The results replace the inputs of the forward
   pass, in TEMP, or are stored as those of the problem if `stores`. Returns NULL if no shape fits, or if the route is
   full. */
static vd__fft_pass *vd__fft_plan_inverse_columns(const vd_fft *p, const vd__fft_pass *forward,
                                                  const vd__fft_problem *problem, bool stores) {
    vd__fft_pass *pass = vd__fft_add_pass(problem, VD__FFT_TEMP, stores ? problem->end[1].role : VD__FFT_TEMP);
    if (!pass) return NULL;
    pass->inverse = !forward->inverse;
    vd__fft_add_steps(pass, VD__STEP_LOAD, VD__STEP_TWIDDLES, VD__STEP_TRANSFORM);
    pass->twiddle_length = forward->twiddle_length;
    pass->twiddle_rows = forward->twiddle_rows;
    pass->twiddle_width = forward->twiddle_width;
    pass->dimension[0] = forward->dimension[0];
    pass->end[0].array = pass->end[1].array = forward->end[1].array;
    pass->shape = forward->shape;
    if (!stores) vd__fft_add_steps(pass, VD__STEP_STORE, VD__STEP_END, VD__STEP_END);
    if (!stores) return pass;
    vd__fft_set_end(p, pass, 1, problem, 0, forward->twiddle_rows, 1);
    vd__fft_set_range(pass, 1, problem, forward->twiddle_length, forward->twiddle_rows, forward->twiddle_width);
    if (vd__fft_plan_shape(p, pass, problem, 0, forward->shape.n)) return pass;
    problem->route->count--;
    return NULL;
}

/* product: the step between the two transforms. */
static void vd__fft_add_product(vd__fft_pass *pass, vd__pass_step product) {
    bool loops = pass->product.channels > 1;
    vd__fft_add_steps(pass, loops ? VD__STEP_CHANNELS : VD__STEP_END, VD__STEP_LOAD, VD__STEP_TRANSFORM);
    vd__fft_add_steps(pass, pass->product.filters > 1 ? VD__STEP_FILTERS : VD__STEP_END, product,
                      loops ? VD__STEP_SUM : VD__STEP_END);
    vd__fft_add_steps(pass, VD__STEP_INVERSE, VD__STEP_STORE, VD__STEP_END);
}

/* Plans the convolution of rows in TEMP with the chirp: as one pass or, if the rows are too long, as passes over
   columns around the convolution of shorter rows. factors: remaining number of times that rows may be split. Appends
   the lengths of the columns to c->factor. */
static bool vd__fft_plan_chirp_rows(const vd_fft *p, const vd__fft_problem *rows, vd__fft_chirp *c, uint32_t factors) {
    uint64_t s = rows->end[0].layout.stride[rows->axis], root = (uint64_t)sqrt((double)rows->n) + 1;
    vd__digit none = vd__digit_of(1, 0);
    vd__fft_layout once; /* the spectrum, which is the same for all indices of other dimensions */
    vd__fft_pass *pass = vd__fft_add_pass(rows, VD__FFT_TEMP, VD__FFT_TEMP);
    if (!pass) return false;
    memset(&once, 0, sizeof once);
    pass->end[0].array = pass->end[1].array = vd__fft_addressing_of(p, rows, 0, &rows->end[0].layout, s, none,
                                                                    vd__digit_of(rows->outer, rows->n * s), none);
    pass->product.spectrum = vd__fft_addressing_of(p, rows, 0, &once, 1, none, vd__digit_of(rows->outer, rows->n),
                                                   none);
    pass->product.channels = pass->product.filters = 1;
    vd__fft_add_product(pass, VD__STEP_CHIRP_SPECTRUM);
    if (vd__fft_plan_shape(p, pass, rows, 0, rows->n)) return true;
    uint32_t before = --rows->route->count;
    for (uint64_t first = root; factors && first >= 2 && first >= root / 32; first--) {
        if (rows->n % first) continue;
        const vd__fft_pass *columns = vd__fft_plan_columns(p, rows, first);
        vd__fft_problem shorter = vd__fft_rows_of(p, rows, first);
        c->factor[VD__FFT_CHIRP_FACTORS - factors] = (uint32_t)first;
        if (columns && vd__fft_plan_chirp_rows(p, &shorter, c, factors - 1)
            && vd__fft_plan_inverse_columns(p, columns, rows, false))
            return true;
        rows->route->count = before;
    }
    return false;
}

/* Plans a problem by Bluestein's algorithm with convolutions of length m, as passes over columns of `first` elements
   around the convolution of rows of m / first elements. The first pass multiplies by the chirp while loading, the last
   one while storing. */
static bool vd__fft_plan_chirp_split(const vd_fft *p, const vd__fft_problem *problem, uint64_t m, uint64_t first,
                                     uint32_t factors) {
    vd__fft_problem columns = *problem;
    vd__fft_chirp c;
    vd__fft_route *r = problem->route;
    uint32_t before = r->count;
    memset(&c, 0, sizeof c);
    c.n = problem->n;
    c.in = vd__fft_needed_inputs(problem);
    c.out = vd__fft_needed_results(problem);
    c.m = columns.n = columns.length = m;
    c.factor[0] = (uint32_t)first;
    columns.chirp = true;
    const vd__fft_pass *a = vd__fft_plan_columns(p, &columns, first);
    vd__fft_problem rows = vd__fft_rows_of(p, &columns, first);
    if (a && vd__fft_plan_chirp_rows(p, &rows, &c, factors) && vd__fft_plan_inverse_columns(p, a, &columns, true)) {
        for (uint32_t i = before; i < r->count; i++) r->pass[i].chirp = c;
        return true;
    }
    r->count = before;
    return false;
}

/* Lengths of the convolutions of Bluestein's algorithm that may be the fastest. */
typedef struct vd__fft_lengths { uint64_t at[7]; uint32_t count; } vd__fft_lengths;

/* The `count` lowest lengths from `lowest` on without prime factors above `limit`, and the next power of two. */
static vd__fft_lengths vd__fft_smooth_lengths(uint64_t lowest, uint32_t count, uint64_t limit) {
    vd__fft_lengths l;
    uint64_t power = 1, m = lowest;
    while (power < lowest) power *= 2;
    for (l.count = 0; l.count < count; m++) l.at[l.count++] = m = vd__fft_next_smooth(m, limit);
    if (power >= m) l.at[l.count++] = power;
    return l;
}

/* Tries all first factors around the square root of m (with two factors: the cube root), and updates the choice of the
   lowest estimated time. */
static void vd__fft_try_chirp_length(const vd_fft *p, const vd__fft_problem *problem, uint64_t m, uint32_t factors,
                                     vd__fft_split_choice *best) {
    uint64_t root = (uint64_t)pow((double)m, factors > 1 ? 1 / 3.0 : 0.5) + 1;
    uint32_t before = problem->route->count;
    if (m > UINT32_MAX || vd__fft_dense_layout(p, problem->axis, m).span > vd__fft_max_span(p)) return;
    for (uint64_t first = 2 * root; first >= 2 && first >= root / 8; first--) {
        if (m % first || (factors < 2 && m / first > 65536)) continue;
        if (vd__fft_plan_chirp_split(p, problem, m, first, factors - 1))
            vd__fft_compare_splits(p, problem->route, before, m, first, best);
    }
}

/* The lowest length of the convolutions of Bluestein's algorithm over several passes: inputs and results must not wrap
   around. It is at least n + 1, so that padding follows both. */
static uint64_t vd__fft_lowest_chirp_length(const vd__fft_problem *problem) {
    uint64_t m = vd__fft_needed_inputs(problem) + vd__fft_needed_results(problem) - 1;
    return m > problem->n ? m : problem->n + 1;
}

/* Plans a problem by Bluestein's algorithm (1970) over three or five passes. The length of the convolutions is that of
   the lowest estimated time. */
static bool vd__fft_plan_chirp(vd_fft *p, const vd__fft_problem *user_problem) {
    vd__fft_problem problem = *user_problem;
    uint64_t lowest = vd__fft_lowest_chirp_length(&problem);
    vd__fft_lengths m = vd__fft_smooth_lengths(lowest, p->device.few ? 2 : 6, 7);
    if (p->device.few && m.at[m.count - 1] > lowest + lowest / 8) m.count--; /* would need more memory */
    for (uint32_t factors = 1; factors <= VD__FFT_CHIRP_FACTORS; factors++) {
        for (problem.min_columns = p->device.groups_as_loops ? 1 : 8; problem.min_columns; problem.min_columns /= 8) {
            vd__fft_split_choice best = { 0, 0, 0 };
            for (uint32_t i = 0; i < m.count; i++) vd__fft_try_chirp_length(p, &problem, m.at[i], factors, &best);
            if (!best.length || !vd__fft_plan_chirp_split(p, &problem, best.length, best.first, factors - 1)) continue;
            vd__fft_grow_layout(p, VD__FFT_TEMP, vd__fft_dense_layout(p, problem.axis, best.length).span);
            return true;
        }
    }
    return false;
}

/* ---- the ways to plan an axis ---- */

/* Plans a whole axis as several passes and, if its results are folded, another pass that folds them. chirp: by
   Bluestein's algorithm. */
static bool vd__fft_plan_passes(vd_fft *p, const vd__fft_problem *problem, bool chirp) {
    vd__fft_layout temp = vd__fft_temp_layout(p, problem);
    bool fold = problem->rule.kind && vd__real_needs_fold(&problem->rule);
    vd__fft_problem stored = *problem;
    uint32_t before = problem->route->count;
    if (temp.span > vd__fft_max_span(p)) return false;
    if (fold) {
        stored.end[1].role = VD__FFT_FOLD;
        stored.end[1].layout = temp;
        vd__fft_grow_layout(p, VD__FFT_FOLD, temp.span);
    }
    vd__fft_grow_layout(p, VD__FFT_TEMP, temp.span);
    if ((chirp ? vd__fft_plan_chirp(p, &stored) : vd__fft_plan_long(p, &stored))
        && (!fold || vd__real_plan_fold_pass(p, problem)))
        return true;
    problem->route->count = before;
    return false;
}

static bool vd__fft_solve_one_pass(vd_fft *p, const vd__fft_problem *problem) {
    return vd__fft_plan_one_pass(p, problem, problem->n, 0);
}

static bool vd__fft_solve_passes(vd_fft *p, const vd__fft_problem *problem) {
    return vd__fft_plan_passes(p, problem, false);
}

static bool vd__fft_solve_chirp(vd_fft *p, const vd__fft_problem *problem) {
    return vd__fft_plan_passes(p, problem, true);
}

/* Plans a problem by Bluestein's algorithm in one pass. The length of the convolutions is that of the lowest estimated
   time. On CPUs, for which times are not estimated, it is the lowest one without prime factors above 5. */
static bool vd__fft_solve_bluestein(vd_fft *p, const vd__fft_problem *problem) {
    uint64_t lowest = vd__fft_needed_inputs(problem) + vd__fft_bluestein_results(p, problem) - 1;
    vd__fft_split_choice best = { 0, 0, 0 };
    uint32_t n = (uint32_t)problem->n, before = problem->route->count;
    if (problem->n > 32768) return false;
    if (lowest < n) lowest = n;
    vd__fft_lengths m = vd__fft_smooth_lengths(lowest, p->device.groups_as_loops || p->device.few ? 1 : 6,
                                               p->device.groups_as_loops ? 5 : 7);
    for (uint32_t i = 0; i < (p->device.groups_as_loops ? 1 : m.count); i++)
        if (vd__fft_plan_one_pass(p, problem, m.at[i], n))
            vd__fft_compare_splits(p, problem->route, before, m.at[i], 0, &best);
    return best.length && vd__fft_plan_one_pass(p, problem, best.length, n);
}

typedef bool vd__fft_planner(vd_fft *p, const vd__fft_problem *problem);

/* Estimated time of the passes that a planner appends, which are removed again; 0: it fails. */
static double vd__fft_estimate_planner(vd_fft *p, const vd__fft_problem *problem, vd__fft_planner *plan) {
    vd__fft_layout layout[VD__FFT_ROLES];
    uint32_t before = problem->route->count;
    memcpy(layout, p->layout, sizeof layout);
    double time = plan(p, problem) ? vd__fft_remove_passes(p, problem->route, before) : 0;
    memcpy(p->layout, layout, sizeof layout);
    return time;
}

/* Plans a whole axis by the first solver that succeeds, without Bluestein's algorithm unless `bluestein`, and returns
   whether one does. On a GPU, work-groups should have at least eight columns, because shorter contiguous runs cost more
   than a second pass. Fewer columns are tried if neither one pass nor several passes with eight columns fit. With few
   elements, uses the solver whose passes have the lowest estimated time, with any number of columns. */
static bool vd__fft_plan_problem_by(vd_fft *p, const vd__fft_problem *user_problem, bool bluestein) {
    static const struct {
        vd__fft_planner *solve;
        bool bluestein;
        uint32_t min_columns; /* with groups_as_loops always 1 */
    } solvers[] = { { vd__fft_solve_one_pass, false, 8 }, { vd__fft_solve_passes, false, 8 },
                    { vd__fft_solve_one_pass, false, 1 }, { vd__fft_solve_passes, false, 1 },
                    { vd__fft_solve_bluestein, true, 1 }, { vd__fft_solve_chirp, true, 1 } };
    vd__fft_problem problem = *user_problem;
    vd__fft_planner *best = NULL;
    double lowest = 0;
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
        problem.min_columns = p->device.groups_as_loops ? 1 : solvers[i].min_columns;
        if (solvers[i].bluestein != bluestein || (p->device.few && problem.min_columns > 1)) continue;
        if (!p->device.few && solvers[i].solve(p, &problem)) return true;
        double time = p->device.few ? vd__fft_estimate_planner(p, &problem, solvers[i].solve) : 0;
        if (time <= 0 || (best && time >= lowest)) continue;
        lowest = time;
        best = solvers[i].solve;
    }
    return best && best(p, &problem);
}

static bool vd__fft_plan_directly(vd_fft *p, const vd__fft_problem *problem) {
    return vd__fft_plan_problem_by(p, problem, false);
}

static bool vd__fft_plan_by_bluestein(vd_fft *p, const vd__fft_problem *problem) {
    return vd__fft_plan_problem_by(p, problem, true);
}

/* How much longer direct stages may take, by estimate, than Bluestein's algorithm, whose rounding error is 1.8 to 3.1
   times as large. */
#define VD__FFT_DIRECT_ALLOWANCE 1.5

/* Plans a whole axis. Bluestein's algorithm computes lengths with a prime factor above VD__FFT_DIRECT, and lengths of
   which no plan without it fits. For other lengths with a prime factor above 31, it is used if direct stages are
   estimated to take more than VD__FFT_DIRECT_ALLOWANCE times as long. */
static bool vd__fft_plan_problem(vd_fft *p, const vd__fft_problem *problem) {
    bool smooth = vd__fft_is_smooth(problem->n, VD__FFT_DIRECT);
    if (smooth && !vd__fft_is_smooth(problem->n, 31)) {
        double direct = vd__fft_estimate_planner(p, problem, vd__fft_plan_directly);
        double bluestein = vd__fft_estimate_planner(p, problem, vd__fft_plan_by_bluestein);
        smooth = bluestein <= 0 || direct <= VD__FFT_DIRECT_ALLOWANCE * bluestein;
    }
    return (smooth && vd__fft_plan_directly(p, problem)) || vd__fft_plan_by_bluestein(p, problem);
}

/* Whether input and output have all indices of the transform in memory. */
static bool vd__fft_has_all_indices(const vd_fft *p) {
    uint64_t in[4];
    memcpy(in, p->shape, sizeof in);
    if (p->kind == VD_FFT_REAL) in[p->real_axis] = p->real_length;
    return memcmp(p->layout[VD__FFT_IN].count, in, sizeof in) == 0
           && memcmp(p->layout[VD__FFT_OUT].count, p->shape, sizeof p->shape) == 0;
}

/* Whether vd_fft_io.out may be {0} in a direction, because the store hook stores nothing. */
static bool vd__fft_stores_nothing(const vd_fft *p) { return p->hooks.stores_nothing[0] || p->hooks.stores_nothing[1]; }

/* Role of the data between the passes of two axes. */
static vd__fft_role vd__fft_role_between(const vd_fft *p) {
    return p->stored[VD__FFT_OUT] == p->real && vd__fft_has_all_indices(p) && !vd__fft_stores_nothing(p)
               ? VD__FFT_OUT
               : VD__FFT_MIDDLE;
}

/* The problem of a whole axis whose input is the output of the passes planned so far. last: no further axis follows. */
static vd__fft_problem vd__fft_axis_problem(vd_fft *p, uint32_t direction, uint32_t axis, bool last) {
    bool to_reals = vd__fft_is_to_reals(p, direction);
    vd__fft_role between = to_reals ? VD__FFT_MIDDLE : vd__fft_role_between(p);
    vd__fft_role from = to_reals ? VD__FFT_OUT : VD__FFT_IN, to = to_reals ? VD__FFT_IN : VD__FFT_OUT;
    return vd__fft_problem_of(p, direction, axis, p->route[direction].count ? between : from, last ? to : between);
}

/* Sets the error that explains why a problem cannot be planned. */
static vd_result vd__fft_plan_or_refuse(vd_fft *p, const vd__fft_problem *problem) {
    uint64_t span = vd__fft_dense_layout(p, problem->axis, problem->n).span, limit = vd__fft_max_span(p);
    uint64_t transforms = span / problem->n, chirp = vd__fft_lowest_chirp_length(problem);
    vd_fft_kind kind = problem->rule.kind;
    if (transforms > VD__FFT_MAX_TRANSFORMS)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "dimension %u has %llu transforms, but the limit is %llu",
                            problem->axis, (unsigned long long)transforms, (unsigned long long)VD__FFT_MAX_TRANSFORMS);
    if (vd__fft_plan_problem(p, problem)) return VD_OK;
    if (span <= limit) span = vd__fft_dense_layout(p, problem->axis, chirp).span;
    if (span > limit)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "the intermediate buffer of dimension %u needs %llu elements, but "
                            "the limit is %llu", problem->axis, (unsigned long long)span, (unsigned long long)limit);
    if (chirp > UINT32_MAX)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "length %llu of dimension %u needs convolutions of length %llu, but "
                            "the limit is %u; see vd_fft_good_size", (unsigned long long)problem->n, problem->axis,
                            (unsigned long long)chirp, UINT32_MAX);
    return vd_error_set(VD_ERROR_UNSUPPORTED, "length %llu of dimension %u is not supported with %u bytes of "
                        "shared memory; see vd_fft_good_size%s",
                        (unsigned long long)(kind ? problem->rule.n : problem->n), problem->axis,
                        p->device.shared * vc_type_size(p->real),
                        kind == VD_FFT_DCT1 ? " for n - 1" : kind == VD_FFT_DST1 ? " for n + 1" : "");
}

/* Index of the lowest, of the highest set bit. */
static uint32_t vd__fft_lowest_bit(uint32_t bits) {
    uint32_t i = 0;
    while (!(bits >> i & 1)) i++;
    return i;
}
static uint32_t vd__fft_highest_bit(uint32_t bits) {
    uint32_t i = 0;
    while (bits >> i > 1) i++;
    return i;
}

/* Writes the axes of a bit mask to `axis`, in ascending order of strides; returns their number. */
static uint32_t vd__fft_axes_by_stride(const vd_fft *p, uint32_t axes, uint32_t axis[4]) {
    uint32_t order[4], count = 0;
    vd__fft_sort_dimensions(p, &p->layout[p->route[0].count ? vd__fft_role_between(p) : VD__FFT_IN], order);
    for (uint32_t i = p->dimensions; i-- > 0;) if (axes >> order[i] & 1) axis[count++] = order[i];
    return count;
}

/* Not with groups_as_loops: the caches of a CPU hold the data between two passes, and exchanges are more expensive than
   on a GPU. */
static bool vd__fft_can_group(const vd_fft *p, uint32_t axes) {
    bool smooth = true;
    for (uint32_t i = 0; i < p->dimensions; i++)
        if (axes >> i & 1) smooth = smooth && vd__fft_is_smooth(p->shape[i], 31);
    return smooth && !p->device.groups_as_loops && vd__fft_has_all_indices(p);
}

/* Plans the axes in the bit mask `group` as one pass of at most `limit` elements per transform. */
static bool vd__fft_plan_group(vd_fft *p, uint32_t group, bool last, uint64_t limit) {
    uint32_t axis[4], count = vd__fft_axes_by_stride(p, group, axis);
    vd__fft_problem problem = vd__fft_axis_problem(p, 0, axis[count - 1], last);
    uint64_t product = 1;
    if (!vd__fft_can_group(p, group)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (p->shape[axis[i]] > limit / product) return false;
        product *= p->shape[axis[i]];
    }
    problem.extra_dims[0] = group & ~(1u << problem.axis);
    problem.min_columns = p->device.few ? 1 : 8;
    return vd__fft_plan_one_pass(p, &problem, problem.n, 0);
}

/* Plans two or three axes as two passes. The first pass transforms the axis with the smallest stride and one factor of
   the axis with the largest stride; the second transforms the other factor of that axis and the third axis. A cube then
   takes two passes instead of three, and the columns of a large image are so short that a work-group of the second pass
   has at least 8 of them, if possible 16. Chooses the smallest first factor with which the second pass fits, because
   the second pass is more often limited by memory latency; with few elements, the factor of the lowest estimated time.
   */
static bool vd__fft_plan_two_passes(vd_fft *p, uint32_t axes, bool last) {
    uint32_t axis[4], count = vd__fft_axes_by_stride(p, axes, axis);
    vd__fft_problem problem = vd__fft_axis_problem(p, 0, axis[count - 1], last);
    if (count < 2 || count > 3 || (count == 2 && problem.n < 512) || !vd__fft_can_group(p, axes)) return false;
    uint64_t row_length = p->shape[axis[0]], third_length = count == 3 ? p->shape[axis[1]] : 1;
    uint64_t max_first = (count == 3 ? VD__FFT_MAX_POINTS / 2 : VD__FFT_MAX_POINTS) / row_length;
    problem.extra_dims[0] = 1u << axis[0];
    problem.extra_dims[1] = count == 3 ? 1u << axis[1] : 0;
    bool few = p->device.few;
    uint32_t before = problem.route->count, widest = few ? 2 : 32, least = few ? 2 : 16; /* columns */
    vd__fft_split_choice best = { 0, 0, 0 };
    for (problem.min_columns = widest; problem.min_columns >= least; problem.min_columns /= 2) {
        for (uint64_t first = 2; first <= max_first && first < problem.n; first++) {
            if (problem.n % first || problem.n / first > VD__FFT_MAX_POINTS / (problem.min_columns / 2) / third_length
                || !vd__fft_plan_split(p, &problem, first, false))
                continue;
            if (!few) return true;
            vd__fft_compare_splits(p, problem.route, before, problem.n, first, &best);
        }
    }
    problem.min_columns = widest;
    return best.length && vd__fft_plan_split(p, &problem, best.first, false);
}

/* Plans several complex axes in `left` together and returns them in *done: as many as fit into one pass, otherwise two
   or three in two passes. Returns false if none fit. If one pass transforms all axes, a transform may have `limit`
   elements; otherwise half of VD__FFT_MAX_POINTS, so that several work-groups fit onto a multiprocessor, or `limit` if
   that is less. */
static bool vd__fft_plan_axes_together(vd_fft *p, uint32_t left, uint32_t limit, uint32_t *done) {
    uint32_t axis[4], some = limit < VD__FFT_MAX_POINTS / 2 ? limit : VD__FFT_MAX_POINTS / 2;
    uint32_t all = p->route[0].count ? some : limit;
    for (*done = left; *done & (*done - 1); *done &= *done - 1)
        if (vd__fft_plan_group(p, *done, *done == left, *done == left ? all : some)) return true;
    if (*done == left || !limit) return false;
    *done = left;
    if (vd__fft_plan_two_passes(p, left, true)) return true;
    vd__fft_axes_by_stride(p, left, axis);
    *done = 1u << axis[0] | 1u << axis[1];
    return *done != left && vd__fft_plan_two_passes(p, *done, false);
}

/* Plans all axes of a direction, the last first, but the real axis last if reals are stored. A complex axis of one
   element needs no pass, unless all axes have only one: then a pass copies the data. `limit`: see
   vd__fft_plan_axes_together; 0: each axis is transformed separately. */
static vd_result vd__fft_plan_axes_within(vd_fft *p, uint32_t direction, uint32_t limit) {
    bool to_reals = vd__fft_is_to_reals(p, direction);
    vd_result result = VD_OK;
    uint32_t left = 0, done;
    for (uint32_t i = 0; i < p->dimensions; i++)
        if (p->axes >> i & 1 && (p->shape[i] > 1 || vd__fft_has_rule(p, i))) left |= 1u << i;
    if (!left) left = p->axes & ~(p->axes - 1);
    for (; left && !result; left &= ~done) {
        uint32_t axis = to_reals ? vd__fft_lowest_bit(left) : vd__fft_highest_bit(left);
        if (!direction && !vd__fft_has_rule(p, axis) && vd__fft_plan_axes_together(p, left, limit, &done)) continue;
        vd__fft_problem problem = vd__fft_axis_problem(p, direction, axis, left == 1u << axis);
        result = vd__fft_plan_or_refuse(p, &problem);
        done = 1u << axis;
    }
    return result;
}

/* With few elements, chooses the limit of the lowest estimated time, and transforms reals of even length at full length
   if that is estimated to save 5 % of the time: long transforms of half the length need another kernel, which folds the
   bins. */
static vd_result vd__fft_plan_axes(vd_fft *p, uint32_t direction) {
    static const uint32_t limits[] = { VD__FFT_MAX_POINTS, 4096, 1024, 0 };
    bool together = !direction && p->axes & (p->axes - 1);
    bool even = p->kind == VD_FFT_REAL && p->real_length % 2 == 0, paired = p->paired;
    vd__fft_layout layout[VD__FFT_ROLES];
    uint32_t best = 0;
    double lowest = 0;
    memcpy(layout, p->layout, sizeof layout);
    for (uint32_t i = 0; i < 8 && p->device.few; i++) { /* from 4 on, with the full length */
        if ((i % 4 && !together) || (i >= 4 && !even)) continue;
        p->full_length = i >= 4;
        bool planned = !vd__fft_plan_axes_within(p, direction, limits[i % 4]);
        double time = vd__fft_remove_passes(p, &p->route[direction], 0);
        memcpy(p->layout, layout, sizeof layout);
        p->paired = paired;
        if (!planned || (lowest > 0 && time >= (i < 4 || best >= 4 ? lowest : 0.95 * lowest))) continue;
        lowest = time;
        best = i;
    }
    p->full_length = best >= 4;
    return vd__fft_plan_axes_within(p, direction, limits[best % 4]);
}

/* Addresses of the loads or stores of the pass with the product of a convolution, along dimension 1 or each of its
   parts, and along the dimensions in `extra_dims`. Images are image_step elements apart. With several channels, the
   results for each filter are separate blocks, filter_step elements apart. A part is every parts-th index of a
   spectrum, but a contiguous range of other arrays. pointwise: every element is a transform. */
static vd__fft_addressing vd__fft_product_addresses(const vd_fft *p, const vd__fft_layout *l, uint32_t extra_dims,
                                                    uint64_t image_step, uint64_t filter_step, bool spectrum,
                                                    bool pointwise) {
    const vd__fft_convolution *c = &p->convolution;
    uint64_t parts = c->in_parts ? c->parts : 1;
    vd__fft_addressing s;
    uint32_t axes = 0;
    memset(&s, 0, sizeof s);
    for (uint32_t i = p->dimensions; i-- > 2;) if (extra_dims >> i & 1) s.stride[axes++] = l->stride[i];
    s.stride[axes] = pointwise ? 0 : spectrum ? parts * l->stride[1] : l->stride[1];
    s.block.product = s.transform.product = 1;
    vd__digits_add(&s.block, c->batch, image_step);
    if (c->channels > 1) vd__digits_add(&s.block, c->filters, filter_step);
    vd__digits_add(&s.block, parts, spectrum ? l->stride[1] : p->shape[1] / parts * l->stride[1]);
    for (uint32_t i = pointwise ? 1 : 2; i < p->dimensions; i++)
        if (!(extra_dims >> i & 1)) vd__digits_add(&s.transform, p->shape[i], l->stride[i]);
    vd__fft_merge_blocks(&s);
    return s;
}

static void vd__fft_count_moved(const vd__fft_pass *pass, double *read, double *written) {
    const vd__fft_shape *s = &pass->shape;
    *read = *written = (double)pass->end[0].array.block.product * (double)pass->end[0].array.transform.product * s->n;
    for (uint32_t i = 0; i < s->axes; i++) {
        const vd__fft_range *in = &pass->end[0].range[i], *out = &pass->end[1].range[i];
        double size = s->size[s->axes - 1 - i];
        if (in->count) *read *= (double)in->count / (size * (double)(in->scale < in->count ? in->scale : in->count));
        if (out->count)
            *written *= (double)out->count / (size * (double)(out->scale < out->count ? out->scale : out->count));
    }
    if (pass->product.channels) {
        *read *= pass->product.channels;
        *written *= pass->product.filters;
    }
    if (pass->copies) *(vd__fft_loads_with(pass, VD__STEP_PARTS) ? read : written) *= pass->copies;
}

/* Estimated bytes of the filters' spectra that a pass of a convolution reads from memory instead of the cache if groups
   are processed one after the other. With s bytes of spectra and data for each group: none for s up to 12 MiB, all from
   48 MiB on, interpolated logarithmically in between. With filter_per_group: all. */
static double vd__fft_missed_bytes(const vd_fft *p, const vd__fft_pass *pass) {
    double images = (double)p->convolution.batch,
           spectrum = (double)p->dense.stride[0] * p->convolution.channels * p->convolution.filters * 2;
    double read, written;
    if (!vd__fft_has(pass, VD__STEP_SPECTRUM)) return 0;
    vd__fft_count_moved(pass, &read, &written);
    spectrum *= vc_type_size(p->real);
    double between = (read + written) * 2 * vc_type_size(p->real) / images + spectrum;
    if (p->convolution.filter_per_group) return images * spectrum;
    return between <= 12582912.0
               ? 0
               : images * spectrum * (between >= 50331648.0 ? 1 : log(between / 12582912.0) / log(4.0));
}

static vd__fft_problem vd__fft_first_axis_problem(vd_fft *p, uint32_t extra_dims) {
    vd__fft_problem problem;
    memset(&problem, 0, sizeof problem);
    problem.axis = problem.min_columns = 1;
    problem.extra_dims[0] = extra_dims;
    problem.route = &p->route[0];
    for (uint32_t i = 0; i < 4; i++) problem.order[i] = i;
    return problem;
}

/* One end of the pass with the product of a convolution. */
static void vd__fft_set_product_end(const vd_fft *p, vd__fft_pass *pass, uint32_t out, uint32_t extra_dims,
                                    bool pointwise) {
    const vd__fft_convolution *c = &p->convolution;
    vd__fft_end *end = &pass->end[out];
    const vd__fft_layout *l = &p->layout[end->role];
    const uint64_t *count = p->layout[out ? VD__FFT_OUT : VD__FFT_IN].count;
    uint64_t images = out ? c->filters : c->channels, step = l->stride[0], index_step = p->dense.stride[0];
    uint64_t n = pointwise ? 1 : p->shape[1] / (c->in_parts ? c->parts : 1);
    end->array = vd__fft_product_addresses(p, l, extra_dims, images * step, out ? step : 0, false, pointwise);
    end->index = vd__fft_product_addresses(p, &p->dense, extra_dims, images * index_step, out ? index_step : 0, false,
                                           pointwise);
    end->range[0] = vd__fft_range_of(0, count[1], n, 1, 1);
    if (extra_dims && c->in_parts) end->range[1] = vd__fft_range_of(0, count[2], p->shape[2], 1, 1);
}

/* Plans the forward transform, the product and the inverse transform of dimension 1 and of the dimensions in
   `extra_dims` as one pass. pointwise: only the product. */
static bool vd__fft_plan_product(vd_fft *p, vd__fft_role from, vd__fft_role to, uint32_t extra_dims, bool pointwise) {
    const vd__fft_convolution *c = &p->convolution;
    vd__fft_problem problem = vd__fft_first_axis_problem(p, extra_dims);
    vd__fft_pass *pass = vd__fft_add_pass(&problem, from, to);
    uint64_t step = p->dense.stride[0], n = pointwise ? 1 : p->shape[1] / (c->in_parts ? c->parts : 1);
    double read, written;
    if (!pass) return false;
    for (uint32_t out = 0; out < 2; out++) vd__fft_set_product_end(p, pass, out, extra_dims, pointwise);
    pass->product.spectrum = vd__fft_product_addresses(
        p, &p->dense, extra_dims, c->filter_per_group ? (uint64_t)c->filters * c->channels * step : 0,
        c->channels * step, true, pointwise);
    pass->product.channels = c->channels;
    pass->product.filters = c->channels > 1 ? 1 : c->filters;
    vd__fft_add_product(pass, c->map ? VD__STEP_MAP : VD__STEP_SPECTRUM);
    for (problem.min_columns = p->device.groups_as_loops ? 1 : 8; problem.min_columns; problem.min_columns /= 8) {
        if (!vd__fft_plan_shape(p, pass, &problem, 0, n)) continue;
        vd__fft_count_moved(pass, &read, &written);
        pass->product.uncached = !p->device.groups_as_loops && c->batch > 1 && !c->filter_per_group
                               && vd__fft_missed_bytes(p, pass) > (read + written) * 2 * vc_type_size(p->real);
        return true;
    }
    p->route[0].count--;
    return false;
}

/* Small images: one pass over all axes. */
static bool vd__fft_plan_image(vd_fft *p) {
    uint64_t n = 1;
    if (p->device.groups_as_loops || p->dimensions == 2 || !vd__fft_has_all_indices(p)) return false;
    for (uint32_t i = 1; i < p->dimensions; i++) {
        if (p->shape[i] > VD__FFT_MAX_POINTS / n || !vd__fft_is_smooth(p->shape[i], 31)) return false;
        n *= p->shape[i];
    }
    return vd__fft_plan_product(p, VD__FFT_IN, VD__FFT_OUT, p->axes & ~2u, false);
}

static bool vd__fft_plan_convolution_axis(vd_fft *p, uint32_t axis, vd__fft_role from, vd__fft_role to) {
    const vd__fft_convolution *c = &p->convolution;
    p->shape[0] = c->batch * (c->after_product ? c->filters : c->channels);
    vd__fft_problem problem = vd__fft_problem_of(p, c->after_product ? VD_FFT_INVERSE : VD_FFT_FORWARD, axis, from, to);
    return vd__fft_plan_problem(p, &problem);
}

/* Plans the first axis with the product: as one pass or, if that does not fit, as forward passes, the last of which
   multiplies while storing, and inverse passes. With several channels or filters, the product is another pass. */
static bool vd__fft_plan_first_axis(vd_fft *p, vd__fft_role from, vd__fft_role between, vd__fft_role after,
                                    vd__fft_role to) {
    const vd__fft_convolution *c = &p->convolution;
    if (vd__fft_plan_product(p, from, to, 0, false)) return true;
    if (!vd__fft_plan_convolution_axis(p, 1, from, between)) return false;
    vd__fft_pass *pass = &p->route[0].pass[p->route[0].count - 1];
    if (c->channels == 1 && c->filters == 1) {
        pass->step[vd__fft_find_step(pass, VD__STEP_STORE)] = c->map ? VD__STEP_MAP : VD__STEP_SPECTRUM;
        vd__fft_add_steps(pass, VD__STEP_STORE, VD__STEP_END, VD__STEP_END);
    }
    else if (!vd__fft_plan_product(p, between, after, 0, true)) return false;
    p->convolution.after_product = true;
    return vd__fft_plan_convolution_axis(p, 1, after, to);
}

/* Plans a convolution without parts: forward along all axes except the first, then the first axis with the product,
   then inverse along the others in reverse order. between, after: roles of the intermediate arrays before and after the
   product. */
static bool vd__fft_plan_without_parts(vd_fft *p, vd__fft_role between, vd__fft_role after) {
    vd__fft_role to = p->dimensions == 2 ? VD__FFT_OUT : after;
    bool ok = true;
    for (uint32_t i = p->dimensions; i-- > 2 && ok;)
        ok = vd__fft_plan_convolution_axis(p, i, p->route[0].count ? between : VD__FFT_IN, between);
    vd__fft_role from = p->route[0].count ? between : VD__FFT_IN;
    ok = ok && vd__fft_plan_first_axis(p, from, between, after, to);
    p->convolution.after_product = true;
    for (uint32_t i = 2; i < p->dimensions && ok; i++)
        ok = vd__fft_plan_convolution_axis(p, i, after, i + 1 == p->dimensions ? VD__FFT_OUT : after);
    return ok;
}

/* Plans the pass along the last axis and over the parts of the first axis. Before the product it is the first pass of
   vd__fft_plan_split; after the product it is its inverse, with twiddle factors that multiply the inputs. If the
   signal, or the result, has no more rows than a part, each row is transformed alone: before the product it contributes
   to all parts, after the product it is the sum over all parts (pass->copies). */
static bool vd__fft_plan_rows_and_parts(vd_fft *p, vd__fft_role from, vd__fft_role to) {
    const vd__fft_convolution *c = &p->convolution;
    const vd__fft_layout *array = &p->layout[c->after_product ? VD__FFT_OUT : VD__FFT_IN];
    uint64_t n = p->shape[1], second = n / c->parts, rows = array->count[1] < second ? array->count[1] : second;
    uint32_t last_dim = p->dimensions - 1;
    vd__digit none = vd__digit_of(1, 0);
    vd__fft_problem problem = vd__fft_first_axis_problem(p, 1u << last_dim);
    vd__fft_pass *pass = vd__fft_add_pass(&problem, from, to), *forward = &p->route[0].pass[0];
    if (!pass) return false;
    p->shape[0] = c->batch * (c->after_product ? c->filters : c->channels);
    for (uint32_t i = 0; i < 4; i++) { /* the array and the index of each end */
        vd__fft_end *end = &pass->end[i / 2];
        const vd__fft_layout *l = i % 2 ? &p->dense : &p->layout[end->role];
        *(i % 2 ? &end->index : &end->array) = vd__fft_addressing_of(
            p, &problem, problem.extra_dims[0], l, second * l->stride[1], none, vd__digit_of(rows, l->stride[1]), none);
    }
    pass->inverse = c->after_product;
    pass->twiddle_length = n;
    pass->twiddle_rows = second;
    pass->twiddle_width = vd__fft_inner_count(p, &problem);
    pass->copies = array->count[1] <= second ? c->parts : 0;
    vd__pass_step twiddles = pass->copies ? VD__STEP_PARTS : VD__STEP_TWIDDLES;
    vd__fft_add_steps(pass, VD__STEP_LOAD, c->after_product ? twiddles : VD__STEP_TRANSFORM,
                      c->after_product ? VD__STEP_TRANSFORM : twiddles);
    vd__fft_add_steps(pass, VD__STEP_STORE, VD__STEP_END, VD__STEP_END);
    vd__fft_range *range = pass->end[c->after_product].range;
    range[0] = vd__fft_range_of(0, array->count[1], n, second, pass->twiddle_width);
    range[!pass->copies] = vd__fft_range_of(0, array->count[last_dim], p->shape[last_dim], 1, 1);
    /* the shape of the forward pass, if it fits */
    if (c->after_product && forward->copies == pass->copies
        && vd__fft_transform_count(forward) == vd__fft_transform_count(pass)) {
        pass->shape = forward->shape;
        memcpy(pass->dimension, forward->dimension, sizeof pass->dimension);
        return true;
    }
    if (vd__fft_plan_shape(p, pass, &problem, 0, c->parts)) return true;
    p->route[0].count--;
    return false;
}

/* Plans a convolution as three passes, similar to vd__fft_plan_two_passes. The first transforms the last axis and over
   the parts of the first axis. The second transforms each part and, of three dimensions, the second one, multiplies,
   and computes the inverse transforms. The third is the inverse of the first. The spectrum remains in the order of the
   parts, because the spectrum of the filter has the same order. */
static bool vd__fft_plan_in_parts(vd_fft *p, vd__fft_role between, vd__fft_role after) {
    vd__fft_convolution *c = &p->convolution;
    uint32_t last_dim = p->dimensions - 1, extra_dims = p->dimensions == 4 ? 4 : 0;
    uint64_t max_elements = p->device.wide ? VD__FFT_MAX_POINTS / 2 : VD__FFT_MAX_POINTS;
    bool ok = p->kind != VD_FFT_REAL && p->dimensions > 2 && p->shape[1] % c->parts == 0 && p->shape[1] > c->parts
              && c->parts <= VD__FFT_RADIX;
    ok = ok && vd__fft_is_smooth(p->shape[1], 31) && vd__fft_is_smooth(p->shape[last_dim], 31)
         && p->shape[last_dim] <= max_elements / c->parts;
    if (extra_dims)
        ok = ok && vd__fft_is_smooth(p->shape[2], 31) && p->shape[2] <= max_elements / (p->shape[1] / c->parts);
    c->in_parts = true;
    ok = ok && vd__fft_plan_rows_and_parts(p, VD__FFT_IN, between)
         && vd__fft_plan_product(p, between, after, extra_dims, false);
    c->after_product = true;
    return ok && vd__fft_plan_rows_and_parts(p, after, VD__FFT_OUT);
}

/* Factor on the time of memory accesses whose contiguous runs are shorter than 128 bytes. For runs of 64 bytes it grows
   with the stride, from 8 KiB on. */
static double vd__fft_run_penalty(const vd__fft_pass *pass, uint32_t bytes) {
    const vd__fft_shape *s = &pass->shape;
    uint32_t run = s->ffts_per_group * bytes;
    double stride = (double)pass->end[0].array.stride[0] * bytes / 8192.0;
    if ((!s->columns_in && !s->columns_out) || run >= 128) return 1;
    if (run >= 64) return stride <= 1 ? 1 : 1 + 0.127 * log(stride) / log(2.0);
    return run >= 32 ? 1.82 : run >= 16 ? 2.35 : 4.3;
}

/* vd__fft_latency of a pass. A thread of a pass that folds loads and stores two elements; five such passes took 2.1 to
   2.6 times as long as the terms give. */
static double vd__fft_pass_latency(const vd_fft *p, const vd__fft_pass *pass) {
    vd__fft_shape s = pass->shape;
    bool folds = vd__fft_has(pass, VD__STEP_FOLD);
    if (folds) s.n = 2 * s.threads;
    return (folds ? 2.2 : 1) * vd__fft_latency(&p->device, &s, (double)vd__fft_group_count(pass));
}

/* Estimated time of a pass in picoseconds on an NVIDIA H200. Memory accesses take 0.24 ps per byte, times
   vd__fft_run_penalty for short runs. Arithmetic takes 0.0383 ps per instruction of vd__fft_cost. The longer time hides
   the shorter one except for a fraction of it, which is proportional to t^0.41 for a work-group of t threads. With 1024
   threads this fraction is 0.466 for columns, 0.03 for rows, and 0.195 for rows whose threads hold more than 16 values
   (8 in f64). Fitted to 54 convolutions of 1 GiB, with estimated shapes and with shapes from VKDISPATCH_FFT_FACTORS: 26
   estimates are within 3 % of the measured time, all within 15 %. Only the order of the estimates matters: in these
   measurements, the fastest route always had the lowest estimate. With groups_as_loops the unit is arbitrary. For plans
   with few elements, it is vd__fft_latency. */
static double vd__fft_estimate(const vd_fft *p, const vd__fft_pass *pass) {
    const vd__fft_shape *s = &pass->shape;
    if (p->device.few) return 1e6 * vd__fft_pass_latency(p, pass);
    uint32_t bytes = 2 * vc_type_size(p->real), threads = s->threads * s->ffts_per_group;
    uint32_t registers = 2 * vd__fft_values_per_thread(s) * (p->device.wide ? 2 : 1); /* of 32 bits */
    double read, written, times = 1; /* transforms of each row */
    vd__fft_count_moved(pass, &read, &written);
    double moved = (read + written) * bytes + vd__fft_missed_bytes(p, pass);
    double memory = moved * vd__fft_run_penalty(pass, bytes) * VD__FFT_PS_PER_BYTE;
    /* a pass with Bluestein's algorithm has no other product */
    if (pass->product.channels) times = pass->product.channels + pass->product.filters;
    else if (pass->bluestein_length) times = 2;
    double transforms = times * (double)pass->end[0].array.block.product
                        * (double)pass->end[0].array.transform.product;
    double work = transforms * vd__fft_cost(&p->device, s) * VD__FFT_PS_PER_INSTRUCTION;
    if (!p->device.groups_as_loops) work *= vd__fft_lanes_per_thread(threads);
    double not_hidden = s->columns_in || s->columns_out ? 0.466 : registers <= 32 ? 0.03 : 0.195;
    not_hidden *= pow(threads / 1024.0, 0.41);
    return (memory > work ? memory : work) + not_hidden * (memory > work ? work : memory);
}

/* parts: of the first axis; 1: without parts. Returns the estimated time in picoseconds, or 0 if it does not fit. */
static double vd__fft_plan_with_parts(vd_fft *p, uint32_t parts) {
    vd__fft_convolution *c = &p->convolution;
    bool single = c->channels == 1 && c->filters == 1, ok;
    vd__fft_role between = single ? vd__fft_role_between(p) : VD__FFT_MIDDLE;
    vd__fft_role after = single ? between : VD__FFT_FOLD;
    uint64_t images = p->shape[0];
    uint32_t i;
    double sum = 0;
    p->route[0].count = 0;
    c->parts = parts;
    c->after_product = c->in_parts = false;
    ok = parts > 1 ? vd__fft_plan_in_parts(p, between, after) : vd__fft_plan_without_parts(p, between, after);
    p->shape[0] = images;
    for (i = 0; ok && i < p->route[0].count; i++) sum += vd__fft_estimate(p, &p->route[0].pass[i]);
    p->estimate = sum;
    return sum;
}

/* Plans a convolution as one pass, with the number of parts that the user set (without parts if this is impossible), or
   with the number of the lowest estimated time. With groups_as_loops, only the user's number divides the axis, because
   the caches of a CPU hold the data between two passes. */
static vd_result vd__fft_plan_convolution(vd_fft *p) {
    vd__fft_convolution *c = &p->convolution;
    uint32_t requested = c->parts, parts, best = 1;
    double lowest, cost;
    p->layout[VD__FFT_MIDDLE].span = c->batch * c->channels * p->dense.stride[0];
    p->layout[VD__FFT_FOLD] = p->dense;
    p->layout[VD__FFT_FOLD].span = c->batch * c->filters * p->dense.stride[0];
    if (requested < 2 && vd__fft_plan_image(p)) return VD_OK;
    if (requested > 1 && vd__fft_plan_with_parts(p, requested) > 0) return VD_OK;
    lowest = vd__fft_plan_with_parts(p, 1);
    for (parts = 2; parts <= VD__FFT_RADIX && !requested && !p->device.groups_as_loops; parts++) {
        cost = vd__fft_plan_with_parts(p, parts);
        if (cost <= 0 || (lowest > 0 && cost >= lowest)) continue;
        lowest = cost;
        best = parts;
    }
    if (lowest > 0 && vd__fft_plan_with_parts(p, best) > 0) return VD_OK;
    return vd_error_set(VD_ERROR_UNSUPPORTED, "the transforms of this convolution, of %llu x %llu x %llu elements, "
                        "need intermediate buffers of more than %llu complex numbers, or more than %u bytes of "
                        "shared memory",
                        (unsigned long long)p->shape[1],
                        (unsigned long long)(p->dimensions > 2 ? p->shape[2] : 1),
                        (unsigned long long)(p->dimensions > 3 ? p->shape[3] : 1),
                        (unsigned long long)vd__fft_max_span(p),
                        (unsigned)(p->device.shared * vc_type_size(p->real)));
}

/* ---- memory sectors, and rows in shared memory ---- */

/* Order of the elements of kind II: even indices in ascending order, then odd ones in descending order. */
static uint64_t vd__real_permuted(const vd__real *r, uint64_t t) {
    return 2 * t < r->n ? 2 * t : 2 * r->n - 1 - 2 * t;
}

/* vd__real_index_kind4 on the host. */
static uint64_t vd__real_position_kind4(const vd__real *r, uint64_t m) {
    return m <= r->n / 4 ? 2 * m + r->n / 2 : m <= 3 * r->n / 4 ? 3 * r->n / 2 - 2 * m : 2 * m - 3 * r->n / 2 - 1;
}

/* Writes the positions in a row of the elements from which input i of the complex transform is computed; returns their
   number. The other functions of this group are in the room real; this one states which elements they load. */
static uint32_t vd__real_loaded(const vd__fft_pass *pass, uint64_t i, uint64_t *at) {
    const vd__real *r = &pass->real;
    uint32_t family = vd__real_family(r->kind), count = 0;
    bool sine = vd__real_is_sine(r->kind), half = r->half_length;
    uint64_t n = r->n, h = r->h;
    at[count++] = i;
    if (!vd__fft_is_by_rule(pass, false) || (half && !r->inverse && !pass->end[0].scalar)) return count;
    if (half && family == VD__REAL_IV) {
        at[0] = 2 * i;
        at[count++] = n - 1 - 2 * i;
    } else if (!r->inverse) {
        for (uint32_t part = 0; part < (half ? 2u : 1u); part++) {
            uint64_t t = half ? 2 * i + part : i;
            if (family == VD__REAL_I) t = (t < 2 * h - t ? t : 2 * h - t) - (sine && t && t < 2 * h ? 1 : 0);
            if (family == VD__REAL_II) t = vd__real_permuted(r, t);
            if (family == VD__REAL_IV) t = vd__real_position_kind4(r, (t % 2 ? t + n : t) / 2);
            at[part] = t;
            count = part + 1;
        }
    } else if (family == VD__REAL_III) {
        at[count++] = n - (i ? i : 1);
        if (half) at[count++] = h - i;
        if (half) at[count++] = n - h + i < n ? n - h + i : n - 1;
    } else if (half) {
        at[count++] = h - i;
    } else if (n - i < i) {
        at[0] = n - i;
    }
    return count;
}

/* Writes the positions in a row of the elements that result i of the complex transform determines or, with a fold,
   results i and h - i; returns their number. Each element is written by a separate store. */
static uint32_t vd__real_stored(const vd__fft_pass *pass, uint64_t i, uint64_t at[4]) {
    const vd__real *r = &pass->real;
    uint32_t family = vd__real_family(r->kind), count = 0;
    uint64_t n = r->n, first = family == VD__REAL_I && vd__real_is_sine(r->kind) ? 1 : 0;
    at[count++] = i;
    if (!vd__fft_is_by_rule(pass, true)) return count;
    if (vd__fft_has(pass, VD__STEP_STORE_FOLDED)) {
        at[0] = i < first ? 0 : i - first;
        if (family == VD__REAL_II && i) at[count++] = n - i;
        if (family == VD__REAL_IV) at[0] = vd__real_position_kind4(r, i);
        if (family == VD__REAL_IV && i) at[count++] = vd__real_position_kind4(r, n - i);
        if (r->half_length) at[count++] = r->h - i - first * (r->h > i);
        if (r->half_length && family == VD__REAL_II) at[count++] = n - r->h + i < n ? n - r->h + i : n - 1;
    } else if (family == VD__REAL_IV) {
        if (r->half_length) at[count++] = n - 1 - 2 * i;
        at[0] = r->half_length ? 2 * i : vd__real_position_kind4(r, i);
    } else if (r->half_length ? pass->end[1].scalar : r->inverse && family == VD__REAL_III) {
        bool permuted = family == VD__REAL_III;
        uint64_t t = r->half_length ? 2 * i : i;
        at[0] = permuted ? vd__real_permuted(r, t) : t;
        if (r->half_length) at[count++] = permuted ? vd__real_permuted(r, t + 1) : t + 1;
    }
    return count;
}

/* vd__fft_butterfly_index_clamped on the host, for thread t. */
static uint32_t vd__fft_butterfly_of(const vd__fft_shape *s, const vd__fft_stage_info *g, uint32_t t, uint32_t u) {
    uint32_t b = t + u * s->threads;
    if (g->register_exchange)
        b = vd__fft_first_of(t / g->lanes, g->exchange_stride, g->exchange_radix)
            + (t % g->lanes + u * g->lanes) * g->exchange_stride;
    return b < s->n / g->radix ? b : s->n / g->radix - 1;
}

/* Offset of element j of butterfly b from the first element of its transform. */
static uint64_t vd__fft_offset_of(const vd__fft_shape *s, const vd__fft_addressing *a, const vd__fft_stage_info *g,
                                  uint64_t b, uint32_t j) {
    uint64_t offset = (uint64_t)j * (s->size[g->axis] / g->radix) * a->stride[g->axis];
    for (uint32_t i = 0; i < s->axes; i++) {
        uint64_t size = i == g->axis ? s->size[i] / g->radix : s->size[i];
        offset += (i + 1 < s->axes ? b % size : b) * a->stride[i];
        b /= size;
    }
    return offset;
}

/* Writes the offsets of the elements that lane `lane` of a work-group accesses for element j of its first butterfly;
   returns their number. */
static uint32_t vd__fft_lane_offsets(const vd__fft_pass *pass, bool out, uint32_t group, uint32_t lane, uint32_t j,
                                     uint64_t at[4]) {
    const vd__fft_shape *s = &pass->shape;
    const vd__fft_addressing *a = &pass->end[out].array;
    vd__fft_stage_info g = vd__fft_stage_info_of(s, 0, out ? s->stages - 1 : 0);
    bool columns = out ? s->columns_out : s->columns_in, by_rule = vd__fft_is_by_rule(pass, out);
    uint32_t t = columns ? lane / s->ffts_per_group : lane % s->threads, count = 1;
    uint64_t q = (uint64_t)group * s->ffts_per_group + (columns ? lane % s->ffts_per_group : lane / s->threads);
    uint64_t length = pass->bluestein_length ? pass->bluestein_length : s->n, base;
    if (q >= vd__fft_transform_count(pass)) return 0;
    base = vd__digits_offset_of(&a->transform, q * (pass->real.two_rows ? 2 : 1));
    uint32_t b = vd__fft_butterfly_of(s, &g, t, 0);
    at[0] = vd__fft_offset_of(s, a, &g, b, j);
    if (out && s->real_fold) {
        uint64_t pair = t + (uint64_t)j * s->threads;
        if (pair > s->n / 2) return 0;
        count = vd__real_stored(pass, pair, at);
    } else if (s->axes == 1 && b + (uint64_t)j * g.read_stride >= length) {
        return 0;
    } else if (by_rule) {
        uint64_t i = b + (uint64_t)j * g.read_stride, part = pass->end[out].part;
        if (part) i = i * part + q / (a->transform.product / part);
        count = out ? vd__real_stored(pass, i, at) : vd__real_loaded(pass, i, at);
    }
    for (uint32_t i = 0; i < count; i++) at[i] = base + (by_rule ? at[i] * a->stride[0] : at[i]);
    return count;
}

/* touched: number of sectors of 32 bytes that accesses touch; needed: number that the bytes of their elements would
   fill. */
typedef struct vd__fft_sectors { double touched, needed; } vd__fft_sectors;

/* Adds the sectors of `count` accesses of neighbouring threads. Counts each sector and each element once. at: offsets
   in elements of `bytes` bytes. */
static void vd__fft_count_sectors(const uint64_t *at, uint32_t count, uint32_t bytes, vd__fft_sectors *sum) {
    for (uint32_t i = 0; i < count; i++) {
        bool new_sector = true, new_element = true;
        for (uint32_t k = 0; k < i; k++) {
            if (at[k] * bytes / 32 == at[i] * bytes / 32) new_sector = false;
            if (at[k] == at[i]) new_element = false;
        }
        sum->touched += new_sector;
        sum->needed += new_element ? bytes / 32.0 : 0;
    }
}

/* Model of the memory transactions of a GPU. Memory is accessed in sectors of 32 bytes. An instruction that 32 threads
   (a warp) execute together touches some number of sectors; it needs at least the bytes of its elements divided by 32.
   The efficiency of the loads, or of the stores, of a pass is the sectors that are needed divided by those that are
   touched, summed over a sample: up to 4 warps, and the first, the middle and the last element of the butterflies of
   the first or the last stage. All loads for one input of a transform count as one instruction, because the cache of
   the multiprocessor serves the sectors that they share; stores are sent on one by one.
   Example: rows of 14 complex f32, a thread for each. Neighbouring threads read addresses 112 bytes apart, so 32
   elements of 8 bytes touch 32 sectors, but need 8: the efficiency is 0.25. */
static double vd__fft_sector_efficiency(const vd_fft *p, const vd__fft_pass *pass, bool out) {
    const vd__fft_shape *s = &pass->shape;
    uint32_t bytes = vc_type_size(p->stored[pass->end[out].role]) * (pass->end[out].scalar ? 1u : 2u);
    uint32_t lanes = s->threads * s->ffts_per_group, warps = (lanes + 31) / 32, count[4];
    uint32_t radix = s->radix[out ? s->stages - 1 : 0];
    vd__fft_sectors sum = { 0, 0 };
    if (vd__fft_has(pass, VD__STEP_FOLD)) return 1;
    if (out && s->real_fold) radix = (s->n / 2 + s->threads) / s->threads;
    for (uint32_t sample = 0; sample < 12; sample++) {
        uint64_t at[4][128];
        uint32_t warp = sample / 3, j = sample % 3 == 0 ? 0 : sample % 3 == 1 ? radix / 2 : radix - 1;
        memset(count, 0, sizeof count);
        for (uint32_t l = warp % warps * 32; l < lanes && l < warp % warps * 32 + 32; l++) {
            uint64_t own[4];
            uint32_t found = vd__fft_lane_offsets(pass, out, warp / warps, l, j, own);
            for (uint32_t i = 0; i < found; i++) at[out ? i : 0][count[out ? i : 0]++] = own[i];
        }
        for (uint32_t i = 0; i < 4; i++) vd__fft_count_sectors(at[i], count[i], bytes, &sum);
    }
    return sum.touched > 0 ? sum.needed / sum.touched : 1;
}

/* Elements of a row in the memory that a pass reads (out: writes). */
static uint64_t vd__fft_row_length(const vd__fft_pass *pass, bool out) {
    const vd__real *r = &pass->real;
    const vd__fft_range *range = &pass->end[out].range[0];
    uint64_t count = pass->end[out].count;
    bool bins = r->kind == VD_FFT_REAL && r->inverse != out, two_reals = !bins && !pass->end[out].scalar;
    if (vd__fft_is_by_rule(pass, out)) return (count ? count : bins ? r->n / 2 + 1 : r->n) / (two_reals ? 2 : 1);
    return range->count ? range->count : pass->bluestein_length ? pass->bluestein_length : pass->shape.n;
}

/* Whether the elements of each row are contiguous, and all rows of a work-group can be copied between memory and shared
   memory before they are loaded, or after they were stored. */
static bool vd__fft_can_tile(const vd_fft *p, const vd__fft_pass *pass, bool out) {
    const vd__fft_shape *s = &pass->shape;
    const vd__fft_addressing *a = &pass->end[out].array;
    uint64_t stride = 1;
    if (p->device.groups_as_loops || p->device.complex_as_words || (out ? s->columns_out : s->columns_in)) return false;
    if (vd__fft_has(pass, VD__STEP_SPECTRUM) || vd__fft_has(pass, VD__STEP_MAP) || pass->twiddle_length || pass->chirp.n
        || pass->end[0].part || pass->end[1].part || vd__fft_has(pass, VD__STEP_FOLD))
        return false;
    if (out ? vd__fft_stores_nothing(p) : p->hooks.ignores_input[0] || p->hooks.ignores_input[1]) return false;
    for (uint32_t i = 0; i < s->axes; stride *= s->size[i++]) if (a->stride[i] != stride) return false;
    return true;
}

/* Whether rows that are loaded and rows that are stored pass through the same array of shared memory. */
static bool vd__fft_tiles_share(const vd__fft_tile tile[2]) {
    return tile[0].length && tile[1].length && tile[0].scalar == tile[1].scalar;
}

/* Chooses which rows pass through shared memory, with loads and stores of consecutive elements by consecutive threads:
   those of a pass whose loads (tile[0]) or stores (tile[1]) have an efficiency below 1/2, if that at least doubles it.
   The limit follows from the bandwidths of a data-centre GPU: its caches accept about 2.5 times the bandwidth of the
   memory, and loads and stores share that of the memory, so requests become the bottleneck if less than 0.4 of the
   sectors of one of them are needed. The copy through shared memory costs a tenth of the time of the accesses. */
static void vd__fft_choose_tiles(const vd_fft *p, const vd__fft_pass *pass, vd__fft_tile tile[2]) {
    const vd__fft_shape *s = &pass->shape;
    uint32_t lanes = s->threads * s->ffts_per_group;
    uint64_t words = vd__fft_shared_words(s);
    memset(tile, 0, 2 * sizeof *tile);
    for (uint32_t out = 0; out < 2; out++) {
        vd__fft_tile *t = &tile[out];
        double copied, efficiency;
        if (!vd__fft_can_tile(p, pass, out != 0)) continue;
        t->scalar = pass->end[out].scalar;
        copied = lanes * vc_type_size(p->stored[pass->end[out].role]) * (t->scalar ? 1u : 2u) / 32.0;
        efficiency = vd__fft_sector_efficiency(p, pass, out != 0);
        if (efficiency >= 0.5 || 2 * efficiency > copied) continue;
        t->length = (uint32_t)vd__fft_row_length(pass, out != 0);
        t->pitch = t->length | 1;
        t->rows = s->ffts_per_group * (pass->real.two_rows ? 2 : 1);
    }
    /* in a shared array, a thread that computes a row alone overwrites only that row */
    if (vd__fft_tiles_share(tile))
        tile[0].pitch = tile[1].pitch = tile[0].pitch > tile[1].pitch ? tile[0].pitch : tile[1].pitch;
    for (uint32_t out = 0; out < 2; out++) {
        vd__fft_tile *t = &tile[out];
        uint32_t copies = t->length ? (t->rows * t->length + lanes - 1) / lanes * lanes : 0;
        t->elements = t->length ? ((copies - 1) / t->length + 1) * t->pitch : 0;
        words += (uint64_t)t->elements * (t->scalar ? 1 : 2);
    }
    if (words > p->device.shared) memset(tile, 0, 2 * sizeof *tile);
}

// >>butterflies
/* Butterflies: forward transforms of up to VD__FFT_RADIX complex values in registers. All their factors are immediates.
   */

/* A complex value of a kernel. */
typedef struct vd__fft_c { vc_val re, im; } vd__fft_c;

static vd__fft_c vd__fft_complex(vc_val re, vc_val im) {
    vd__fft_c c;
    c.re = re;
    c.im = im;
    return c;
}
static vd__fft_c vd__fft_swap(vd__fft_c a) { return vd__fft_complex(a.im, a.re); }
/* The immediate x in the type of another value. */
static vc_val vd__fft_immediate(vc_val like, double x) {
    return vc_typeof(like) == VC_F64 ? vc_f64(x) : vc_f32((float)x);
}
static vc_type vd__fft_complex_type(vc_type scalar) { return 16 + scalar; }

/* Arithmetic that omits operations on immediates of zero, which occur in zero-padded transforms. The builder itself
   does not omit them, because x + 0 differs from x for x = -0. */
static bool vd__fft_is_zero(vc_val a) { return !vd__is_kernel_value(a) && a.bits == 0; }
static vc_val vd__fft_sum(vc_val a, vc_val b) { return vd__fft_is_zero(a) ? b : vd__fft_is_zero(b) ? a : vc_add(a, b); }
static vc_val vd__fft_minus(vc_val a, vc_val b) {
    return vd__fft_is_zero(b) ? a : vd__fft_is_zero(a) ? vc_neg(b) : vc_sub(a, b);
}
static vc_val vd__fft_times(vc_val a, vc_val b) {
    return vd__fft_is_zero(a) ? a : vd__fft_is_zero(b) ? b : vc_mul(a, b);
}
static vc_val vd__fft_fma(vc_val a, vc_val b, vc_val c) {
    if (vd__fft_is_zero(a) || vd__fft_is_zero(b)) return c;
    return vd__fft_is_zero(c) ? vc_mul(a, b) : vc_fma(a, b, c);
}
static vc_val vd__fft_negative(vc_val a) { return vd__fft_is_zero(a) ? a : vc_neg(a); }

static vd__fft_c vd__fft_add(vd__fft_c a, vd__fft_c b) {
    vc_val re = vd__fft_sum(a.re, b.re), im = vd__fft_sum(a.im, b.im);
    return vd__fft_complex(re, im);
}
static vd__fft_c vd__fft_sub(vd__fft_c a, vd__fft_c b) {
    vc_val re = vd__fft_minus(a.re, b.re), im = vd__fft_minus(a.im, b.im);
    return vd__fft_complex(re, im);
}
static vd__fft_c vd__fft_mul(vd__fft_c a, vd__fft_c b) {
    if (vd__fft_is_zero(a.re) && vd__fft_is_zero(a.im)) return a;
    vc_val re = vd__fft_fma(a.re, b.re, vd__fft_negative(vd__fft_times(a.im, b.im)));
    vc_val im = vd__fft_fma(a.re, b.im, vd__fft_times(a.im, b.re));
    return vd__fft_complex(re, im);
}

/* a (1 + d) for a small d, with about half the rounding error of a product with 1 + d. */
static vd__fft_c vd__fft_times_near_one(vd__fft_c a, vd__fft_c d) {
    return vd__fft_complex(vc_add(a.re, vc_fma(a.re, d.re, vc_neg(vc_mul(a.im, d.im)))),
                           vc_add(a.im, vc_fma(a.re, d.im, vc_mul(a.im, d.re))));
}

/* cos(2 pi m / n) and sin(2 pi m / n). Reduces the angle to the first octant, so that results of 0, 1 and sqrt(1/2) are
   correctly rounded. */
static void vd__fft_root(uint64_t m, uint64_t n, double *re, double *im) {
    const double pi = 3.14159265358979323846;
    uint64_t m8 = m % n * 8, octant = m8 / n, rest = m8 % n;
    double x = octant & 1 ? (double)(n - rest) : (double)rest, angle = x * (pi / 4) / (double)n;
    double c = cos(angle), s = sin(angle), t;
    if (rest == 0 && octant & 1) c = s = sqrt(0.5);
    if (((octant + 1) >> 1) & 1) { t = c; c = s; s = t; } /* octants 1, 2, 5, 6 */
    *re = octant >= 2 && octant < 6 ? -c : c;
    *im = octant >= 4 ? -s : s;
}

/* a * exp(-2 pi i m / n). */
static vd__fft_c vd__fft_rotate(vd__fft_c a, uint32_t m, uint32_t n) {
    double c, s;
    vd__fft_root(m, n, &c, &s);
    if (m * 4 % n == 0) {
        switch (m * 4 / n % 4) {
        case 0: return a;
        case 1: return vd__fft_complex(a.im, vd__fft_negative(a.re));
        case 2: return vd__fft_complex(vd__fft_negative(a.re), vd__fft_negative(a.im));
        default: return vd__fft_complex(vd__fft_negative(a.im), a.re);
        }
    }
    vc_val cosine = vd__fft_immediate(a.re, c);
    vc_val sine = vd__fft_immediate(a.re, s);
    vc_val re = vd__fft_fma(a.re, cosine, vd__fft_times(a.im, sine));
    vc_val im = vd__fft_fma(a.im, cosine, vd__fft_times(a.re, vd__fft_negative(sine)));
    return vd__fft_complex(re, im);
}

/* Butterfly of an odd prime radix r, in place. Computes the sums and differences of x[j] and x[r - j], then (r - 1)^2 /
   2 products each of sums with cosines and of differences with sines. */
static void vd__fft_prime(vd__fft_c *x, uint32_t r) {
    vd__fft_c sum[VD__FFT_RADIX / 2], difference[VD__FFT_RADIX / 2], first = x[0];
    uint32_t half = (r - 1) / 2;
    double c, s;
    for (uint32_t j = 1; j <= half; j++) {
        sum[j - 1] = vd__fft_add(x[j], x[r - j]);
        difference[j - 1] = vd__fft_sub(x[j], x[r - j]);
        x[0] = vd__fft_add(x[0], sum[j - 1]);
    }
    for (uint32_t k = 1; k <= half; k++) {
        vd__fft_c even = first;
        vd__fft_c odd = first; /* set in the first iteration */
        for (uint32_t j = 1; j <= half; j++) {
            vd__fft_root((uint64_t)j * k, r, &c, &s);
            vc_val cosine = vd__fft_immediate(first.re, c);
            vc_val sine = vd__fft_immediate(first.re, s);
            even.re = vd__fft_fma(sum[j - 1].re, cosine, even.re);
            even.im = vd__fft_fma(sum[j - 1].im, cosine, even.im);
            odd.re = j == 1 ? vd__fft_times(difference[0].re, sine) : vd__fft_fma(difference[j - 1].re, sine, odd.re);
            odd.im = j == 1 ? vd__fft_times(difference[0].im, sine) : vd__fft_fma(difference[j - 1].im, sine, odd.im);
        }
        x[k] = vd__fft_complex(vd__fft_sum(even.re, odd.im), vd__fft_minus(even.im, odd.re));
        x[r - k] = vd__fft_complex(vd__fft_minus(even.re, odd.im), vd__fft_sum(even.im, odd.re));
    }
}

/* Butterfly of any radix, in place, with results in natural order. A composite radix a * b is computed as b butterflies
   of radix a, a multiplication by twiddle factors, and a butterflies of radix b. */
static void vd__fft_butterfly(vd__fft_c *x, uint32_t r) {
    uint32_t a = vd__fft_balanced_factor(r), b = r / a, i, j;
    vd__fft_c grid[VD__FFT_RADIX], line[VD__FFT_RADIX];
    if (r == 1) return;
    if (r == 2) {
        vd__fft_c sum = vd__fft_add(x[0], x[1]);
        x[1] = vd__fft_sub(x[0], x[1]);
        x[0] = sum;
        return;
    }
    if (a == 1) {
        vd__fft_prime(x, r);
        return;
    }
    for (j = 0; j < b; j++) {
        for (i = 0; i < a; i++) line[i] = x[i * b + j];
        vd__fft_butterfly(line, a);
        for (i = 0; i < a; i++) grid[i * b + j] = vd__fft_rotate(line[i], i * j, r);
    }
    for (i = 0; i < a; i++) {
        vd__fft_butterfly(grid + i * b, b);
        for (j = 0; j < b; j++) x[i + a * j] = grid[i * b + j];
    }
}

// >>twiddles
/* Tables of twiddle factors and of Bluestein's algorithm in one pass, computed in double precision on the host. A
   butterfly needs the powers w^1 … w^(radix - 1) of a root of unity w. The table contains w^1, w^2, w^4, w^8, … or,
   with base 4, w^1, w^2, w^3, w^4, w^8, w^12, w^16, …; kernels compute the other powers as products of at most five of
   these (base 4: three), whose error is smaller than by repeated multiplication by w (Van Loan, Computational
   Frameworks for the FFT, 1992, section 1.4). */

/* Base of the powers in the tables of a pass: 4 if the axis is split over passes, whose errors add; otherwise 2, since
   loading fewer values is faster. */
static uint32_t vd__fft_power_base(const vd__fft_pass *pass) {
    return pass->end[0].role == VD__FFT_TEMP || pass->end[1].role == VD__FFT_TEMP ? 4 : 2;
}

/* The largest tabled exponent that is not above j: the leading digit of j, followed by zeros. */
static uint32_t vd__fft_tabled_exponent(uint32_t base, uint32_t j) {
    uint32_t unit = 1;
    while (base * unit <= j) unit *= base;
    return j / unit * unit;
}

/* Maximum complex numbers in all tables, which are one buffer. */
static uint64_t vd__fft_max_table(const vd_fft *p) {
    uint64_t limit = vd_device(p->base.ctx, 0)->limits.max_buffer_bytes / vc_type_size(vd__fft_complex_type(p->real));
    return limit && limit < UINT32_MAX ? limit : UINT32_MAX;
}

/* Appends `count` zeroed entries at an offset that is a multiple of 16, so that neighbouring threads load whole cache
   lines. Returns NULL if out of memory. Also returns NULL, and sets p->required_table_size, if the tables exceed the
   limit. */
static double *vd__fft_grow_table(vd_fft *p, uint64_t count) {
    uint64_t need = ((uint64_t)p->table_count + 15) / 16 * 16 + count,
             capacity = p->table_capacity ? p->table_capacity : 256;
    const vd_allocator *a = &p->base.allocator;
    double *grown = p->table;
    if (need > vd__fft_max_table(p)) {
        p->required_table_size = need;
        return NULL;
    }
    while (capacity < need) capacity *= 2;
    if (!p->table) grown = (double *)a->allocate(a->user, (size_t)capacity * 2 * sizeof(double));
    else if (capacity != p->table_capacity)
        grown = (double *)a->reallocate(a->user, p->table, (size_t)capacity * 2 * sizeof(double));
    if (!grown) return NULL;
    memset(grown + 2 * (size_t)p->table_count, 0, (size_t)(need - p->table_count) * 2 * sizeof(double));
    p->table = grown;
    p->table_capacity = capacity;
    p->table_count = (uint32_t)need;
    return grown + 2 * (size_t)(need - count);
}

/* Finds or appends the table with this key. *at: its entries, which the caller must compute; NULL if the table exists.
   Fails as vd__fft_grow_table does. */
static bool vd__fft_find_table(vd_fft *p, uint64_t count, const uint64_t key[5], uint32_t *offset, double **at) {
    uint32_t i;
    for (i = 0; i < p->table_key_count; i++) {
        if (memcmp(p->table_keys[i].key, key, sizeof p->table_keys[i].key) != 0) continue;
        *offset = p->table_keys[i].offset;
        *at = NULL;
        return true;
    }
    *at = vd__fft_grow_table(p, count);
    if (!*at) return false;
    *offset = p->table_count - (uint32_t)count;
    if (i == VD__FFT_TABLES) return true;
    memcpy(p->table_keys[i].key, key, sizeof p->table_keys[i].key);
    p->table_keys[i].offset = *offset;
    p->table_key_count++;
    return true;
}

/* Writes exp(-2 pi i m / n) to at[0] and at[1]. */
static void vd__fft_write_root(double *at, uint64_t m, uint64_t n) {
    double re, im;
    vd__fft_root(m, n, &re, &im);
    at[0] = re;
    at[1] = -im;
}

/* Makes the table of a stage: powers of exp(-2 pi i m / (length * radix)), those with the lowest exponent for each m <
   length, then those with the next one, … Each transform and axis of a kernel has its own table. If they shared one,
   the compiler would merge equal loads and hold the values in registers from the first transform to the second, which
   takes 0.4 ms more per GiB for convolutions of columns of 1024 on an H200. */
static bool vd__fft_table_stage(vd_fft *p, const vd__fft_pass *pass, uint32_t direction_index,
                                const vd__fft_stage_info *g, uint32_t *offset) {
    uint32_t powers = 0, base = vd__fft_power_base(pass);
    uint64_t key[5] = { (uint64_t)(base == 4 ? 'S' : 's'), g->length, g->radix, direction_index, g->axis };
    double *at;
    for (uint32_t j = 1; j < g->radix; j++) powers += vd__fft_tabled_exponent(base, j) == j;
    if (!vd__fft_find_table(p, (uint64_t)g->length * powers, key, offset, &at)) return false;
    for (uint32_t j = 1; at && j < g->radix; j++)
        for (uint32_t m = 0; m < g->length && vd__fft_tabled_exponent(base, j) == j; m++, at += 2)
            vd__fft_write_root(at, (uint64_t)m * j, (uint64_t)g->length * g->radix);
    return true;
}

/* Makes the tables of a direct stage of radix p: the roots exp(-2 pi i j k / p) for each j from 1 to (p - 1) / 2 and k
   from 0 to (p - 1) / 2. Neighbouring threads load neighbouring roots, without arithmetic modulo p. If other stages
   precede it along the axis, the twiddle factors exp(-2 pi i j m / (length * p)) follow, for each j < p and m < length.
   */
static bool vd__fft_table_direct(vd_fft *p, const vd__fft_stage_info *g, uint32_t *offset) {
    uint32_t half = (g->radix - 1) / 2, twiddles = g->length > 1 ? g->length * g->radix : 0;
    uint64_t key[5] = { 'd', g->length, g->radix, 0, 0 };
    double *at;
    if (!vd__fft_find_table(p, (uint64_t)half * (half + 1) + twiddles, key, offset, &at)) return false;
    for (uint32_t j = 1; at && j <= half; j++)
        for (uint32_t k = 0; k <= half; k++, at += 2) vd__fft_write_root(at, (uint64_t)j * k, g->radix);
    for (uint32_t i = 0; at && i < twiddles; i++, at += 2)
        vd__fft_write_root(at, (uint64_t)(i / g->length) * (i % g->length), twiddles);
    return true;
}

/* Whether a table contains all twiddle factors between the two passes of an axis, by row and index. Otherwise two
   smaller tables contain factors of them. CPUs load one value faster than they load and multiply two. */
static bool vd__fft_has_twiddle_table(const vd_fft *p, const vd__fft_pass *pass) {
    return p->device.groups_as_loops ? pass->twiddle_length <= 1 << 18
                                     : (pass->shape.axes > 1 || pass->copies) && pass->twiddle_length <= 8192;
}

/* Table of the twiddle factors exp(-2 pi i row * k / N) between two passes, where k is the index along the axis in the
   first of them. A transform uses one row of the table. */
static bool vd__fft_table_twiddles(vd_fft *p, vd__fft_pass *pass) {
    uint64_t n = pass->twiddle_length, columns = n / pass->twiddle_rows, key[5] = { 'p', n, pass->twiddle_rows, 0, 0 };
    double *at;
    if (!vd__fft_find_table(p, n, key, &pass->tables.fine, &at)) return false;
    for (uint64_t row = 0; at && row < pass->twiddle_rows; row++)
        for (uint64_t k = 0; k < columns; k++, at += 2) vd__fft_write_root(at, row * k, n);
    return true;
}

/* The lowest number of bits such that 2^(2 bits) is at least n. */
static uint32_t vd__fft_half_bits(uint64_t n) {
    uint32_t bits = 0;
    while ((uint64_t)1 << 2 * bits < n) bits++;
    return bits;
}

/* Makes two tables of roots exp(-2 pi i e / n), where bits is vd__fft_half_bits(n): *fine for e = 0 … 2^bits - 1, as
   root minus 1, and *coarse for the multiples of 2^bits. Each of the n roots is a coarse root times a fine one
   (vd__fft_times_near_one). */
static bool vd__fft_table_axis(vd_fft *p, uint64_t n, uint32_t *fine, uint32_t *coarse) {
    uint64_t key[5] = { 'a', n, 0, 0, 0 };
    uint32_t bits = vd__fft_half_bits(n);
    double *at;
    uint64_t count = (n >> bits) + 1;
    if (!vd__fft_find_table(p, ((uint64_t)1 << bits) + count, key, fine, &at)) return false;
    *coarse = *fine + (1u << bits);
    for (uint64_t i = 0; at && i < (uint64_t)1 << bits; i++, at += 2) {
        vd__fft_write_root(at, i, n);
        at[0] -= 1;
    }
    for (uint64_t i = 0; at && i < count; i++, at += 2) vd__fft_write_root(at, i << bits, n);
    return true;
}

/* Transforms n complex numbers on the host in double precision, out of place, by recursion over the prime factors of n,
   which must not exceed VD__FFT_RADIX. x has a stride of `step` complex numbers; y is contiguous. */
static void vd__fft_host_transform(double *y, const double *x, uint32_t n, uint32_t step) {
    uint32_t r = 2;
    double line[2 * VD__FFT_RADIX], c, s;
    if (n == 1) { y[0] = x[0]; y[1] = x[1]; return; }
    while (n % r) r++;
    uint32_t m = n / r;
    for (uint32_t j = 0; j < r; j++)
        vd__fft_host_transform(y + 2 * (size_t)j * m, x + 2 * (size_t)j * step, m, step * r);
    for (uint32_t k = 0; k < m; k++) {
        for (uint32_t j = 0; j < r; j++) {
            double re = y[2 * ((size_t)j * m + k)], im = y[2 * ((size_t)j * m + k) + 1];
            vd__fft_root((uint64_t)j * k, n, &c, &s);
            line[2 * j] = re * c + im * s;
            line[2 * j + 1] = im * c - re * s;
        }
        for (uint32_t q = 0; q < r; q++) {
            double re = 0, im = 0;
            for (uint32_t j = 0; j < r; j++) {
                vd__fft_root((uint64_t)j * q, r, &c, &s);
                re += line[2 * j] * c + line[2 * j + 1] * s;
                im += line[2 * j + 1] * c - line[2 * j] * s;
            }
            y[2 * ((size_t)q * m + k)] = re;
            y[2 * ((size_t)q * m + k) + 1] = im;
        }
    }
}

/* Makes the tables of Bluestein's algorithm (1970) for length n with convolutions of length m: the chirp exp(-pi i k^2
   / n), and the spectrum of its conjugate, divided by m. The conjugate has the indices from 1 - bluestein_in to
   bluestein_out - 1, modulo m, and is padded with zeros to length m. */
static bool vd__fft_table_chirp(vd_fft *p, vd__fft_pass *pass) {
    uint32_t n = pass->bluestein_length, m = pass->shape.n, chirp_size = (n + 15) / 16 * 16;
    uint64_t key[5] = { 'c', n, m, pass->bluestein_in, pass->bluestein_out };
    double *at, root[2];
    if (!vd__fft_find_table(p, (uint64_t)chirp_size + m, key, &pass->tables.chirp, &at)) return false;
    pass->tables.spectrum = pass->tables.chirp + chirp_size;
    if (!at) return true;
    double *x = (double *)vd__fft_allocate(&p->base.allocator, (size_t)m * 4 * sizeof(double));
    if (!x) return false;
    double *y = x + 2 * (size_t)m;
    for (uint32_t k = 0; k < n; k++) {
        uint64_t square = (uint64_t)k * k % (2 * (uint64_t)n);
        vd__fft_write_root(at + 2 * (size_t)k, square, 2 * (uint64_t)n);
        vd__fft_root(square, 2 * (uint64_t)n, &root[0], &root[1]);
        if (k < pass->bluestein_out) memcpy(&x[2 * (size_t)k], root, sizeof root);
        if (k && k < pass->bluestein_in) memcpy(&x[2 * (size_t)(m - k)], root, sizeof root);
    }
    vd__fft_host_transform(y, x, m, 1);
    for (uint32_t k = 0; k < 2 * m; k++) at[2 * (size_t)chirp_size + k] = y[k] / m;
    vd__fft_free(&p->base.allocator, x);
    return true;
}

static uint32_t vd__fft_pass_count(const vd_fft *p) { return p->route[0].count + p->route[1].count; }

/* Pass i of the plan: those of the first route, followed by those of the second. */
static vd__fft_pass *vd__fft_pass_at(vd_fft *p, uint32_t i) {
    return i < p->route[0].count ? &p->route[0].pass[i] : &p->route[1].pass[i - p->route[0].count];
}

/* The first pass with the same chirp as pass i. */
static vd__fft_pass *vd__fft_first_with_chirp(vd_fft *p, uint32_t i) {
    uint32_t j = 0;
    while (memcmp(&vd__fft_pass_at(p, j)->chirp, &vd__fft_pass_at(p, i)->chirp, sizeof(vd__fft_chirp)) != 0) j++;
    return vd__fft_pass_at(p, j);
}

/* Assigns offsets to the tables that the device computes: chirps and their spectra, after those that the host computes.
   Returns false and sets p->required_table_size if the tables exceed vd__fft_max_table. */
static bool vd__fft_place_chirps(vd_fft *p) {
    uint64_t end = ((uint64_t)p->table_count + 15) / 16 * 16;
    for (uint32_t i = 0; i < vd__fft_pass_count(p); i++) {
        vd__fft_pass *pass = vd__fft_pass_at(p, i), *same = vd__fft_first_with_chirp(p, i);
        if (!pass->chirp.n) continue;
        if (same == pass) {
            pass->tables.chirp = (uint32_t)end;
            end += (pass->chirp.n + 15) / 16 * 16;
            pass->tables.spectrum = (uint32_t)end;
            end += pass->chirp.m;
            p->generated_end = (uint32_t)end;
        } else {
            pass->tables.chirp = same->tables.chirp;
            pass->tables.spectrum = same->tables.spectrum;
        }
        if (end <= vd__fft_max_table(p)) continue;
        p->required_table_size = end;
        return false;
    }
    return true;
}

static bool vd__real_tables(vd_fft *p, vd__fft_pass *pass);

static vd_result vd__fft_make_tables(vd_fft *p) {
    uint32_t i, direction_index, j;
    bool ok = true;
    for (i = 0; i < vd__fft_pass_count(p) && ok; i++) {
        vd__fft_pass *pass = vd__fft_pass_at(p, i);
        for (direction_index = 0; direction_index < (pass->shape.convolves ? 2u : 1u); direction_index++) {
            for (j = 1; j < pass->shape.stages && ok; j++) {
                vd__fft_stage_info g = vd__fft_stage_info_of(&pass->shape, direction_index, j);
                if (vd__fft_is_direct(g.radix))
                    ok = vd__fft_table_direct(p, &g, &pass->tables.stage[direction_index][j]);
                else if (g.length > 1 && g.radix > 1)
                    ok = vd__fft_table_stage(p, pass, direction_index, &g, &pass->tables.stage[direction_index][j]);
            }
        }
        if (ok && pass->twiddle_length)
            ok = vd__fft_has_twiddle_table(p, pass)
                     ? vd__fft_table_twiddles(p, pass)
                     : vd__fft_table_axis(p, pass->twiddle_length, &pass->tables.fine, &pass->tables.coarse);
        if (ok && pass->bluestein_length) ok = vd__fft_table_chirp(p, pass);
        if (ok && pass->real.kind) ok = vd__real_tables(p, pass);
        if (ok && pass->chirp.n)
            ok = vd__fft_table_axis(p, 2 * pass->chirp.n, &pass->tables.chirp_fine, &pass->tables.chirp_coarse);
    }
    if (ok) ok = vd__fft_place_chirps(p);
    if (!ok && p->required_table_size)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "the tables have at least %llu complex numbers, but the limit of a "
                            "buffer is %llu", (unsigned long long)p->required_table_size,
                            (unsigned long long)vd__fft_max_table(p));
    if (!ok) return vd__fft_no_memory();
    return VD_OK;
}

/* The buffer has at least one entry, because all kernels declare it. */
static vd_result vd__fft_upload_tables(vd_fft *p) {
    static const double none[2] = { 0, 0 };
    const double *from = p->table_count ? p->table : none;
    uint32_t count = p->table_count ? p->table_count : 1;
    size_t i;
    float *narrow = NULL;
    if (p->real == VC_F32) {
        narrow = (float *)vd__fft_allocate(&p->base.allocator, (size_t)count * 2 * sizeof(float));
        if (!narrow) return vd__fft_no_memory();
        for (i = 0; i < 2 * (size_t)count; i++) narrow[i] = (float)from[i];
    }
    const void *data = narrow ? (const void *)narrow : from;
    p->tables = vd_plan_buffer(&p->base, "fft tables", (vd_type)vd__fft_complex_type(p->real),
                               p->generated_end ? p->generated_end : count, p->generated_end ? NULL : data);
    vd_result result = p->tables.id ? VD_OK : vd_error_result();
    if (!result && p->generated_end)
        result = vd_buffer_write(p->base.ctx, p->tables, 0, data, (uint64_t)count * vc_type_size(p->real) * 2);
    vd__fft_free(&p->base.allocator, narrow);
    return result;
}

// >>exchange
/* Exchanges of values between the threads of a work-group, through shared memory or by shuffles in a subgroup. */

enum { VD__FFT_RE, VD__FFT_IM, VD__FFT_BOTH }; /* components that an exchange passes at a time */

/* Conversion between a complex f32 and a u64. llvmpipe accesses memory lane by lane, and each component of a vector
   separately: accessing a complex f32 as one u64 halves the time of compilation and execution. */
static vc_val vd__fft_unpack_word(vc_val v) {
    return vc_typeof(v) == VC_U64 ? vc_bitcast(VC_F32X2, vc_unpack_2x32(v)) : v;
}
static vc_val vd__fft_pack_word(vc_val v, bool word) {
    return word ? vc_pack_2x32(VC_U64, vc_bitcast(VC_U32X2, v)) : v;
}
static vd__fft_c vd__fft_from_vector(vc_val v) {
    v = vd__fft_unpack_word(v);
    return vd__fft_complex(vc_component(v, 0), vc_component(v, 1));
}

/* State while a pass is recorded as a kernel. */
typedef struct vd__fft_writer {
    vc_kernel *k;
    const vd_fft *plan;
    const vd__fft_pass *pass;
    const vd__fft_shape *shape;
    vd_fft_hook hook[2];     /* for loads, for stores */
    vc_ref in, out, table, spectrum, shared[2];
    vc_val channel, filter;  /* loop counters of a convolution */
    vc_type real;            /* scalar type of the arithmetic */
    vc_type stored[2];       /* scalar types of input and output in memory */
    bool word_in, word_out;  /* complex elements of the input, of the output are accessed as one u64 */
    bool inverse;            /* swap real and imaginary parts while loading and storing */
    /* direction of the run, for hooks; it may differ from `inverse`, because VD_FFT_DCT3 is an inverse transform */
    vd_fft_direction direction;
    double scale;
    vc_val range_offset;     /* q / width of the current range: see vd__fft_range */
    vc_val twiddle_row;      /* row of the twiddle factors of the inputs */
    vc_ref sum[VD__FFT_MAX_VALUES][2]; /* sums over channels: real and imaginary parts */
    uint64_t copy_offset;    /* distance of the current copy (pass->copies) from the first one, in elements */
    uint32_t inverts;        /* 1: the current transform is the second one of the kernel */
    bool columns;            /* current assignment of threads: consecutive threads belong to consecutive transforms */
    /* index of the thread in its transform, and index of the transform in the work-group, for both values of
       `columns` */
    vc_val thread[2], transform_in_group[2];
    vc_val index;            /* index in C order of the first element of this thread's transform, for hooks */
    vd__fft_pad pad;         /* padding of the current exchange */
    bool half_in_use[2];     /* other threads may still read this half of shared memory */
    bool buffers_ordered;    /* a barrier has ordered the loads before the stores, see vd__fft_barrier */
    uint32_t half;           /* half of shared memory that the current exchange uses; 0 without double buffering */
    vd__fft_tile tile[2];    /* rows in shared memory while loading, while storing */
    vc_ref tile_memory[2];   /* their arrays */
    vd__fft_c x[VD__FFT_MAX_VALUES]; /* values of the thread: element j of butterfly u is x[u * radix + j] */
} vd__fft_writer;

/* Records the following block under `condition` if `needed`, otherwise unconditionally. */
#define VD__FFT_IF(writer, needed, condition) \
    for (int once = (needed) ? vc_if_begin((writer)->k, condition) : 1; once; \
         once = (needed) ? vc_block_end((writer)->k) : 0)

static vd__fft_c vd__fft_load_root(const vd__fft_writer *w, vc_val index, uint32_t offset) {
    return vd__fft_from_vector(vd__load_from(&w->table, offset, index));
}

/* first(b, c) of vd__fft_stage_info. */
static vc_val vd__fft_first(const vd__fft_shape *s, vc_val b, uint32_t c, uint32_t radix) {
    if (c * radix == s->n) return b;
    if (c == 1) return vd__mul_u32(b, radix);
    vc_val rest = vd__rem_u32(b, c);
    return vc_add(vd__mul_u32(vd__div_u32(b, c), c * radix), rest);
}

/* Index of butterfly u of this thread in a stage. Sets *partly if the last threads have no such butterfly. */
static vc_val vd__fft_butterfly_index(const vd__fft_writer *w, const vd__fft_stage_info *g, uint32_t u, bool *partly) {
    vc_val t = w->thread[w->columns];
    *partly = !g->register_exchange && (u + 1) * w->shape->threads > vd__fft_count_butterflies(w->shape, g->radix);
    if (g->lanes > 1) {
        vc_val lane = vd__add_u32(vd__rem_u32(t, g->lanes), u * g->lanes), group = vd__div_u32(t, g->lanes);
        if (w->shape->threads / g->lanes > g->exchange_stride)
            group = vd__fft_first(w->shape, group, g->exchange_stride, g->exchange_radix);
        return vc_add(group, vd__mul_u32(lane, g->exchange_stride));
    }
    if (g->register_exchange)
        return vd__add_u32(vd__fft_first(w->shape, t, g->exchange_stride, g->exchange_radix), u * g->exchange_stride);
    return vd__add_u32(t, u * w->shape->threads);
}

/* Threads without such a butterfly repeat the last butterfly. */
static vc_val vd__fft_butterfly_index_clamped(const vd__fft_writer *w, const vd__fft_stage_info *g, uint32_t u) {
    bool partly;
    vc_val b = vd__fft_butterfly_index(w, g, u, &partly);
    return partly ? vd__min_u32(b, vd__fft_count_butterflies(w->shape, g->radix) - 1) : b;
}

static vc_val vd__fft_div_const(vc_val a, uint64_t b) { return b == 1 ? a : vd__div_u32(a, b); }
static vc_val vd__fft_mod_const(vc_val a, uint64_t b) { return b == 1 ? vc_u32(0) : vd__rem_u32(a, b); }

/* Address in shared memory of element index + j * c of this thread's transform, in words: the sum of the result and of
   *constant, which contains the part for j if the padding makes it a constant. */
static vc_val vd__fft_shared_address(const vd__fft_writer *w, vc_val index, uint32_t j, uint32_t c, uint32_t radix,
                                     uint32_t *constant) {
    const vd__fft_shape *s = w->shape;
    bool columns = vd__fft_all_columns(s), uniform = vd__fft_is_uniform(s, w->pad, c, radix);
    vc_val address = uniform ? index : vd__add_u32(index, j * c);
    *constant = (uniform ? vd__fft_padded(w->pad, j * c * (columns ? s->ffts_per_group : 1)) : 0)
                + (w->half ? vd__fft_component_words(s) : 0);
    if (columns) address = vc_add(vd__mul_u32(address, s->ffts_per_group), w->transform_in_group[1]);
    if (w->pad.width) address = vc_add(address, vd__mul_u32(vd__shr_u32(address, w->pad.shift), w->pad.width));
    return columns || s->ffts_per_group == 1
               ? address
               : vc_add(address, vd__mul_u32(w->transform_in_group[w->columns], vd__fft_shared_stride(s, w->pad)));
}

static void vd__fft_store_shared(const vd__fft_writer *w, vc_val address, uint32_t constant, uint32_t component,
                                 vd__fft_c x) {
    vc_store(vc_offset(w->shared[component & 1], vc_u32(constant)), address,
             component == VD__FFT_BOTH ? vd__fft_pack_word(vc_vec2(x.re, x.im), w->plan->device.complex_as_words)
             : component               ? x.im
                                       : x.re);
}

static void vd__fft_load_shared(const vd__fft_writer *w, vc_val address, uint32_t constant, uint32_t component,
                                vd__fft_c *x) {
    vc_val v = vc_load(vc_offset(w->shared[component & 1], vc_u32(constant)), address);
    if (component == VD__FFT_BOTH) *x = vd__fft_from_vector(v);
    else if (component) x->im = v;
    else x->re = v;
}

static void vd__fft_send_one(vd__fft_writer *w, const vd__fft_stage_info *g, vc_val b, const vd__fft_c *x,
                             uint32_t count, uint32_t component) {
    vc_val index = vd__fft_first(w->shape, b, g->write_stride, g->radix);
    uint32_t constant;
    for (uint32_t j = 0; j < count; j++) {
        vc_val address = vd__fft_shared_address(w, index, j, g->write_stride, g->radix, &constant);
        vd__fft_store_shared(w, address, constant, component, x[j]);
    }
}

/* ---- direct stages ---- */

/* A direct stage transforms p elements, where p is a prime above VD__FFT_RADIX, by the definition:
     X[k], X[p - k] = x[0] + sum of (x[j] + x[p - j]) cos(2 pi j k / p) -+ i sum of (x[j] - x[p - j]) sin(2 pi j k / p)
   with sums over j = 1 ... (p - 1) / 2. The inputs are in shared memory. A thread computes pairs of results, whose sums
   it holds in registers. The stage is recorded in three parts: vd__fft_receive_direct computes the sums during the
   exchange before the stage, vd__fft_stage combines them, and vd__fft_send_direct stores the results for the next
   stage. */

/* Terms of a sum that an iteration adds to each other before it adds them to the sum: the rounding error of a sum grows
   with the number of additions to it. */
enum { VD__FFT_DIRECT_TERMS = 8 };

/* A pair of results of a direct stage. */
typedef struct vd__fft_pair {
    vc_val column;           /* index of x[0] in the transform; the distance between elements is read_stride */
    vc_val k;
    vc_ref sum[2][2];        /* [component][0]: x[0] and the terms with cosines; [1]: the terms with sines */
} vd__fft_pair;

static vd__fft_pair vd__fft_pair_of(const vd__fft_writer *w, const vd__fft_stage_info *g, uint32_t u) {
    vd__fft_pair pair;
    uint32_t columns = w->shape->n / g->radix;
    vc_val b = vd__fft_butterfly_index_clamped(w, g, u);
    memset(&pair, 0, sizeof pair);
    pair.column = vd__fft_mod_const(vd__fft_shares_inputs(w->shape, g->radix) ? w->thread[w->columns] : b, columns);
    pair.k = vd__fft_div_const(b, columns);
    return pair;
}

static vc_val *vd__fft_component(vd__fft_c *x, uint32_t component) { return component ? &x->im : &x->re; }

/* Loads the components first ... last of element `index` + j * read_stride of this thread's transform. */
static vd__fft_c vd__fft_load_element_shared(const vd__fft_writer *w, const vd__fft_stage_info *g, vc_val index,
                                             uint32_t j, uint32_t first, uint32_t last) {
    uint32_t constant;
    vc_val address = vd__fft_shared_address(w, index, j, g->read_stride, g->radix, &constant);
    vd__fft_c x = vd__fft_complex(vc_imm(w->real, 0), vc_imm(w->real, 0));
    if (w->shape->complex_elements) vd__fft_load_shared(w, address, constant, VD__FFT_BOTH, &x);
    else for (uint32_t c = first; c <= last; c++) vd__fft_load_shared(w, address, constant, c, &x);
    return x;
}

/* Adds the terms j = done + 1 ... done + count to the sums of all pairs of this thread. */
static void vd__fft_direct_terms(const vd__fft_writer *w, const vd__fft_stage_info *g, const vd__fft_pair *pair,
                                 uint32_t first, uint32_t last, vc_val done, uint32_t count) {
    uint32_t half = (g->radix + 1) / 2; /* row of the table */
    vd__fft_c sum[2], terms[VD__FFT_RADIX / 4][2]; /* [0]: x[j] + x[p - j]; [1]: x[j] - x[p - j] */
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t u = 0; u < g->butterflies; u++) {
            if (!u || !vd__fft_shares_inputs(w->shape, g->radix)) {
                vc_val up = vc_add(pair[u].column, vd__mul_u32(done, g->read_stride));
                vc_val down = vc_add(pair[u].column,
                                     vd__mul_u32(vc_sub(vc_u32(g->radix - count), done), g->read_stride));
                vd__fft_c a = vd__fft_load_element_shared(w, g, up, i + 1, first, last);
                vd__fft_c b = vd__fft_load_element_shared(w, g, down, count - 1 - i, first, last);
                sum[0] = vd__fft_add(a, b);
                sum[1] = vd__fft_sub(a, b);
            }
            vd__fft_c root = vd__fft_load_root(w, vc_add(vd__mul_u32(done, half), pair[u].k), g->table + i * half);
            for (uint32_t c = first; c <= last; c++)
                for (uint32_t odd = 0; odd < 2; odd++) {
                    vc_val x = *vd__fft_component(&sum[odd], c), *to = vd__fft_component(&terms[u][odd], c);
                    *to = i ? vc_fma(x, odd ? root.im : root.re, *to) : vc_mul(x, odd ? root.im : root.re);
                }
        }
    }
    for (uint32_t u = 0; u < g->butterflies; u++)
        for (uint32_t c = first; c <= last; c++)
            for (uint32_t odd = 0; odd < 2; odd++)
                vd__set(&pair[u].sum[c][odd],
                        vc_add(vd__get(&pair[u].sum[c][odd]), *vd__fft_component(&terms[u][odd], c)));
}

/* Computes the sums of direct stage g, of components first ... last, from the elements in shared memory. */
static void vd__fft_receive_direct(const vd__fft_writer *w, const vd__fft_stage_info *g, vd__fft_c *to, uint32_t first,
                                   uint32_t last) {
    vd__fft_pair pair[VD__FFT_RADIX / 4];
    uint32_t count = (g->radix - 1) / 2, rest = count % VD__FFT_DIRECT_TERMS;
    for (uint32_t u = 0; u < g->butterflies; u++) {
        pair[u] = vd__fft_pair_of(w, g, u);
        vd__fft_c x = vd__fft_load_element_shared(w, g, pair[u].column, 0, first, last);
        for (uint32_t c = first; c <= last; c++)
            for (uint32_t odd = 0; odd < 2; odd++) {
                pair[u].sum[c][odd] = vc_var(w->k, odd ? "odd" : "even", w->real);
                if (!odd) vd__set(&pair[u].sum[c][0], *vd__fft_component(&x, c));
            }
    }
    vc_val done = vc_for_begin(w->k, vc_u32(0), vc_u32(count - rest), vc_i32(VD__FFT_DIRECT_TERMS));
    vd__fft_direct_terms(w, g, pair, first, last, done, VD__FFT_DIRECT_TERMS);
    vc_block_end(w->k);
    if (rest) vd__fft_direct_terms(w, g, pair, first, last, vc_const(w->k, vc_u32(count - rest)), rest);
    for (uint32_t u = 0; u < g->butterflies; u++)
        for (uint32_t c = first; c <= last; c++)
            for (uint32_t odd = 0; odd < 2; odd++)
                *vd__fft_component(&to[2 * u + odd], c) = vd__get(&pair[u].sum[c][odd]);
}

/* Combines the sums of a direct stage to its results: element 2 u is X[k] of pair u, element 2 u + 1 is X[p - k]. The
   table contains -sin. */
static void vd__fft_combine_direct(vd__fft_writer *w, const vd__fft_stage_info *g) {
    for (uint32_t u = 0; u < g->butterflies; u++) {
        vd__fft_c *x = &w->x[2 * u], even = x[0], odd = x[1];
        x[0] = vd__fft_complex(vc_sub(even.re, odd.im), vc_add(even.im, odd.re));
        x[1] = vd__fft_complex(vc_add(even.re, odd.im), vc_sub(even.im, odd.re));
    }
}

/* Index in the transform of result j of butterfly u of this thread, or of result j of pair u of a direct stage. */
static vc_val vd__fft_result_index(const vd__fft_writer *w, const vd__fft_stage_info *g, uint32_t u, uint32_t j) {
    if (!vd__fft_is_direct(g->radix))
        return vd__add_u32(vd__fft_first(w->shape, vd__fft_butterfly_index_clamped(w, g, u), g->write_stride, g->radix),
                           j * g->write_stride);
    vd__fft_pair pair = vd__fft_pair_of(w, g, u);
    vc_val k = j ? vc_select(vd__eq_u32(pair.k, 0), vc_u32(0), vc_sub(vc_u32(g->radix), pair.k)) : pair.k;
    vc_val first = vd__fft_first(w->shape, pair.column, g->write_stride, g->radix);
    return vc_add(first, vd__mul_u32(k, g->write_stride));
}

/* Multiplies the results of stage g by the twiddle factors of `next`, a direct stage. */
static void vd__fft_twiddle_direct(vd__fft_writer *w, const vd__fft_stage_info *g, const vd__fft_stage_info *next) {
    uint32_t half = (next->radix - 1) / 2, values = vd__fft_values_of(g->radix);
    for (uint32_t i = 0; i < g->butterflies * values; i++) {
        vc_val index = vd__fft_result_index(w, g, i / values, i % values);
        vc_val row = vd__fft_div_const(index, next->read_stride), column = vd__rem_u32(index, next->length);
        w->x[i] = vd__fft_mul(w->x[i], vd__fft_load_root(w, vc_add(vd__mul_u32(row, next->length), column),
                                                         next->table + half * (half + 1)));
    }
}

static void vd__fft_send_direct(vd__fft_writer *w, const vd__fft_stage_info *g, uint32_t component) {
    uint32_t constant;
    bool partly;
    for (uint32_t u = 0; u < g->butterflies; u++) {
        vc_val exists = vd__lt_u32(vd__fft_butterfly_index(w, g, u, &partly),
                                   vd__fft_count_butterflies(w->shape, g->radix));
        VC_IF(w->k, partly ? exists : vc_bool(true)) {
            for (uint32_t j = 0; j < 2; j++) {
                vc_val address = vd__fft_shared_address(w, vd__fft_result_index(w, g, u, j), 0, g->write_stride,
                                                        g->radix, &constant);
                vd__fft_store_shared(w, address, constant, component, w->x[2 * u + j]);
            }
        }
    }
}

/* ---- exchanges ---- */

/* Stores the results of a slice in shared memory. A slice contains either some results of every butterfly
   (interleaved), or all results of some butterflies, whose indices then count from the first of them. */
static void vd__fft_send(vd__fft_writer *w, const vd__fft_stage_info *g, uint32_t component, uint32_t slice) {
    uint32_t all = w->shape->n / g->radix, slices = w->shape->slices, threads = w->shape->threads;
    bool interleaved = g->write_stride == all, partly;
    uint32_t part = interleaved ? all : all / slices, first = interleaved ? 0 : slice * part,
             count = interleaved ? g->radix / slices : g->radix;
    if (vd__fft_is_direct(g->radix)) {
        vd__fft_send_direct(w, g, component);
        return;
    }
    for (uint32_t u = 0; u < g->butterflies; u++) {
        /* the indices of butterfly u of all threads are begin … end - 1 */
        uint32_t begin = g->register_exchange ? 0 : u * threads, end = g->register_exchange ? all : (u + 1) * threads;
        vc_val b = vd__fft_butterfly_index(w, g, u, &partly);
        const vd__fft_c *x = &w->x[u * g->radix + (interleaved ? slice * count : 0)];
        if (end <= first || begin >= first + part) continue;
        vc_val own = vd__lt_u32(b, first + part);
        if (begin < first) own = end > first + part ? vc_and(own, vc_le(vc_u32(first), b)) : vc_le(vc_u32(first), b);
        if (first) b = vd__sub_u32(b, first);
        VD__FFT_IF(w, begin < first || end > first + part, own) { vd__fft_send_one(w, g, b, x, count, component); }
    }
}

/* Loads the elements of a slice from shared memory, with slices as in vd__fft_send. */
static void vd__fft_receive(vd__fft_writer *w, const vd__fft_stage_info *g, vd__fft_c *to, uint32_t component,
                            uint32_t slice) {
    uint32_t constant, slices = w->shape->slices, all = w->shape->n / g->radix, first = slice * (all / slices);
    uint32_t threads = w->shape->threads;
    bool interleaved = g->read_stride == all;
    uint32_t count = interleaved ? g->radix / slices : g->radix;
    for (uint32_t u = 0; u < g->butterflies; u++) {
        vc_val b = vd__fft_butterfly_index_clamped(w, g, u);
        if (!interleaved && slices > 1 && (u * threads < first || u * threads >= first + all / slices)) continue;
        vc_val index = vd__fft_first(w->shape, !interleaved && first ? vd__sub_u32(b, first) : b, g->read_stride,
                                     g->radix);
        for (uint32_t j = 0; j < count; j++) {
            vc_val address = vd__fft_shared_address(w, index, j, g->read_stride, g->radix, &constant);
            vd__fft_load_shared(w, address, constant, component,
                                &to[u * g->radix + (interleaved ? slice * count : 0) + j]);
        }
    }
}

/* Waits for the work-group and orders its accesses to shared memory. The first barrier also orders accesses to buffers,
   because transforms in place store results to elements that other threads have loaded. The others do not, so that
   drivers can move loads of tables across them. */
static void vd__fft_barrier(vd__fft_writer *w) {
    if (w->buffers_ordered) vd__shared_barrier(w->k);
    else vc_barrier(w->k);
    w->buffers_ordered = true;
}

/* Passes the results of stage g to the next stage through shared memory. columns: assignment of threads to transforms
   in the next stage. */
static void vd__fft_exchange(vd__fft_writer *w, const vd__fft_stage_info *g, const vd__fft_stage_info *next,
                             bool columns) {
    vd__fft_c next_x[VD__FFT_MAX_VALUES];
    uint32_t slices = w->shape->slices, parts = w->shape->split_components ? 2 : 1;
    bool columns_before = w->columns;
    for (uint32_t step = 0; step < parts * slices; step++) {
        uint32_t part = w->shape->complex_elements ? (uint32_t)VD__FFT_BOTH : step / slices, slice = step % slices;
        bool separate_im = parts == 1 && !w->shape->complex_elements;
        w->columns = columns_before;
        if (w->shape->double_buffered) w->half ^= 1;
        if (w->half_in_use[w->half]) vd__fft_barrier(w);
        vd__fft_send(w, g, part, slice);
        if (separate_im) vd__fft_send(w, g, 1, slice);
        vd__fft_barrier(w);
        w->columns = columns;
        if (vd__fft_is_direct(next->radix)) {
            vd__fft_receive_direct(w, next, next_x, parts == 2 ? part : 0, parts == 2 ? part : 1);
        } else {
            vd__fft_receive(w, next, next_x, part, slice);
            if (separate_im) vd__fft_receive(w, next, next_x, 1, slice);
        }
        w->half_in_use[w->half ^ 1] = false; /* all threads have passed the barrier */
        w->half_in_use[w->half] = true;
    }
    for (uint32_t i = 0; i < next->butterflies * vd__fft_values_of(next->radix); i++) w->x[i] = next_x[i];
}

/* Passes the results of stage g to the next stage in registers: each butterfly of the next stage uses one result of
   each butterfly of this thread. */
static void vd__fft_regroup(vd__fft_writer *w, const vd__fft_stage_info *g) {
    vd__fft_c next_x[VD__FFT_MAX_VALUES];
    for (uint32_t u = 0; u < g->butterflies; u++)
        for (uint32_t j = 0; j < g->radix; j++) next_x[j * g->butterflies + u] = w->x[u * g->radix + j];
    for (uint32_t j = 0; j < g->butterflies * g->radix; j++) w->x[j] = next_x[j];
}

/* Lanes i and i ^ h of a subgroup exchange one of their values: the lower lane sends its b and receives the a of the
   upper lane. upper: whether this is the upper lane. */
static void vd__fft_swap_lanes(vc_val upper, uint32_t h, vc_val *a, vc_val *b) {
    vc_val kept = vc_select(upper, *b, *a), received = vc_subgroup_shuffle_xor(vc_select(upper, *a, *b), vc_u32(h));
    *a = vc_select(upper, received, kept);
    *b = vc_select(upper, kept, received);
}

/* Transposes the matrix of c values of each of c neighbouring lanes: value j of lane i becomes value i of lane j. Lanes
   exchange halves of their values, then quarters, and so on (Eklundh, A fast computer method for matrix transposing,
   1972). */
static void vd__fft_transpose(vd__fft_writer *w, vd__fft_c *x, uint32_t c) {
    for (uint32_t h = c / 2; h; h /= 2) {
        vc_val upper = vd__ne_u32(vd__and_u32(vc_subgroup_local_id(w->k), h), 0);
        for (uint32_t i = 0; i < c; i++) {
            if (i & h) continue;
            vd__fft_swap_lanes(upper, h, &x[i].re, &x[i + h].re);
            vd__fft_swap_lanes(upper, h, &x[i].im, &x[i + h].im);
        }
    }
}

/* Passes the results of a stage to the next stage of the same axis by shuffles between neighbouring lanes. llvmpipe
   compiles a shuffle with constant lanes to one instruction, but a memory access to a loop. */
static void vd__fft_shuffle(vd__fft_writer *w, const vd__fft_stage_info *g, const vd__fft_stage_info *next) {
    vd__fft_c next_x[VD__FFT_MAX_VALUES], tile[VD__FFT_RADIX];
    uint32_t c = g->lanes;
    for (uint32_t u = 0; u < g->butterflies; u++) {
        for (uint32_t v = 0; v < next->butterflies; v++) {
            for (uint32_t j = 0; j < c; j++) tile[j] = w->x[u * g->radix + v * c + j];
            vd__fft_transpose(w, tile, c);
            for (uint32_t j = 0; j < c; j++) next_x[v * next->radix + u * c + j] = tile[j];
        }
    }
    for (uint32_t j = 0; j < g->butterflies * g->radix; j++) w->x[j] = next_x[j];
}

// >>stage
/* Stages of a transform in Stockham autosort order (Van Loan, Computational Frameworks for the FFT, 1992, section 1.7).
   */

/* Powers 1 … radix - 1 of the root with index m, loaded from the table of the stage or computed from loaded ones. */
static void vd__fft_load_powers(const vd__fft_writer *w, const vd__fft_stage_info *g, vc_val m, vd__fft_c *power) {
    uint32_t base = vd__fft_power_base(w->pass), table = g->table;
    for (uint32_t j = 1; j < g->radix; j++) {
        uint32_t part = vd__fft_tabled_exponent(base, j);
        if (part != j) power[j] = vd__fft_mul(power[j - part], power[part]);
        else power[j] = vd__fft_load_root(w, m, table);
        if (part == j) table += g->length;
    }
}

/* exp(-2 pi i e / N) for a split axis of length N. */
static vd__fft_c vd__fft_axis_root(const vd__fft_writer *w, vc_val e) {
    uint32_t bits = vd__fft_half_bits(w->pass->twiddle_length);
    vd__fft_c coarse = vd__fft_load_root(w, vd__shr_u32(e, bits), w->pass->tables.coarse);
    vd__fft_c fine = vd__fft_load_root(w, vd__and_u32(e, (1u << bits) - 1), w->pass->tables.fine);
    return vd__fft_times_near_one(coarse, fine);
}

/* Multiplies the elements of butterfly b by the twiddle factors exp(-2 pi i row * k / N) between two passes of an axis
   of length N, where k is the index of the element along the axis in this pass. */
static void vd__fft_apply_twiddles(vd__fft_writer *w, const vd__fft_stage_info *g, vc_val row, vc_val b, vd__fft_c *x) {
    uint32_t step = g->read_stride / g->axis_stride, j;
    vc_val k = step == 1 ? vc_u32(0) : vd__fft_div_const(b, g->axis_stride);
    vd__fft_c power[VD__FFT_RADIX];
    if (vd__fft_has_twiddle_table(w->plan, w->pass)) {
        k = vc_add(vd__mul_u32(row, step * g->radix), k);
        for (j = step == 1; j < g->radix; j++)
            x[j] = vd__fft_mul(x[j], vd__fft_load_root(w, k, w->pass->tables.fine + j * step));
        return;
    }
    for (j = 0; j < g->radix; j++) { /* those of every fourth element, and products of these with three others */
        uint32_t rest = g->radix > 8 ? j % 4 : 0;
        if (j < 4 && rest) power[j] = vd__fft_axis_root(w, vd__mul_u32(row, step * j));
        if (!rest) power[j] = vd__fft_axis_root(w, vc_mul(row, vd__add_u32(k, step * j)));
        x[j] = vd__fft_mul(x[j], rest ? vd__fft_mul(power[j - rest], power[rest]) : power[j]);
    }
}

static vc_val vd__fft_twiddle_row(const vd__fft_writer *w, vc_val q) {
    const vd__fft_pass *pass = w->pass;
    vc_val row = vd__fft_div_const(q, pass->twiddle_width);
    return pass->end[0].array.transform.product <= pass->twiddle_width * pass->twiddle_rows
               ? row
               : vd__fft_mod_const(row, pass->twiddle_rows);
}

/* The inputs of a direct stage were multiplied by twiddle factors before, and its sums were computed in the exchange.
   */
static void vd__fft_stage(vd__fft_writer *w, const vd__fft_stage_info *g) {
    bool same_twiddles = g->register_exchange ? g->lanes > 1 && g->exchange_stride % g->write_stride == 0
                                              : w->shape->threads % g->write_stride == 0;
    bool twiddle_first = vd__fft_loads_with(w->pass, VD__STEP_TWIDDLES) && g->length == 1
                         && g->axis + 1 == w->shape->axes;
    vd__fft_c power[VD__FFT_RADIX];
    if (vd__fft_is_direct(g->radix)) {
        vd__fft_combine_direct(w, g);
        return;
    }
    for (uint32_t u = 0; u < g->butterflies; u++) {
        vd__fft_c *x = &w->x[u * g->radix];
        if (g->length > 1 && g->radix > 1 && (u == 0 || !same_twiddles)) {
            vc_val m = vd__rem_u32(vd__fft_div_const(vd__fft_butterfly_index_clamped(w, g, u), g->axis_stride),
                                   g->length);
            vd__fft_load_powers(w, g, m, power);
        }
        for (uint32_t j = 1; g->length > 1 && j < g->radix; j++) x[j] = vd__fft_mul(x[j], power[j]);
        if (twiddle_first) vd__fft_apply_twiddles(w, g, w->twiddle_row, vd__fft_butterfly_index_clamped(w, g, u), x);
        vd__fft_butterfly(x, g->radix);
    }
}

static void vd__fft_stages(vd__fft_writer *w, uint32_t direction_index, bool columns_out) {
    const vd__fft_shape *s = w->shape;
    vd__fft_stage_info g = vd__fft_stage_info_of(s, direction_index, 0), next;
    for (uint32_t i = 0; i < s->stages; i++, g = next) {
        g.table = w->pass->tables.stage[direction_index][i];
        vd__fft_stage(w, &g);
        if (i + 1 == s->stages) return;
        next = vd__fft_stage_info_of(s, direction_index, i + 1);
        next.table = w->pass->tables.stage[direction_index][i + 1];
        if (vd__fft_is_direct(next.radix) && next.length > 1) vd__fft_twiddle_direct(w, &g, &next);
        uint32_t exchange = direction_index ? s->stages - 1 - i : i + 1; /* the later stage, in forward order */
        w->pad = s->pad[exchange - 1];
        if (vd__fft_uses_shuffle(s, exchange)) vd__fft_shuffle(w, &g, &next);
        else if (s->last_axis_first ? s->register_exchange >> exchange & 1 : next.register_exchange && next.lanes == 1)
            vd__fft_regroup(w, &g);
        else vd__fft_exchange(w, &g, &next, i + 2 == s->stages ? columns_out : w->columns);
    }
}

// >>hooks
/* Calls of the user's callbacks for elements that are loaded and stored, and the trials of these callbacks. */

/* Offset of the first element of butterfly b. base: offset of the first element of its transform. */
static vc_val vd__fft_butterfly_offset(const vd__fft_writer *w, const vd__fft_addressing *array,
                                       const vd__fft_stage_info *g, vc_val b, vc_val base) {
    const vd__fft_shape *s = w->shape;
    vd__digits d;
    uint32_t i = s->axes;
    memset(&d, 0, sizeof d);
    d.product = 1;
    while (i-- > 0) vd__digits_add(&d, i == g->axis ? s->size[i] / g->radix : s->size[i], array->stride[i]);
    return vc_add(base, vd__digits_offset_in(&d, b, vc_typeof(base)));
}

/* Distance of element j of a butterfly from its first element. */
static uint64_t vd__fft_element_distance(const vd__fft_writer *w, const vd__fft_addressing *array,
                                         const vd__fft_stage_info *g, uint32_t j) {
    return (uint64_t)j * (w->shape->size[g->axis] / g->radix) * array->stride[g->axis];
}

/* Index of element j of butterfly b, in the numbering of w->index. */
static vc_val vd__fft_element_index(const vd__fft_writer *w, const vd__fft_addressing *array,
                                    const vd__fft_stage_info *g, vc_val b, uint32_t j) {
    uint64_t distance = vd__fft_element_distance(w, array, g, j);
    return vc_add(vd__fft_butterfly_offset(w, array, g, b, w->index), vc_imm(vc_typeof(w->index), distance));
}

/* Coordinate along a dimension of `size` indices that are `step` elements apart, in an array of `elements` elements. */
static vc_val vd__fft_coordinate(vc_val index, uint64_t step, uint64_t size, uint64_t elements) {
    vc_type type = vc_typeof(index);
    if (step > 1) index = vc_div(index, vc_imm(type, step));
    if (step * size < elements) index = vc_rem(index, vc_imm(type, size));
    return vc_cast(VC_U32, index);
}

static vd_fft_point vd__fft_point_at(const vd__fft_writer *w, const vd__fft_addressing *array,
                                     const vd__fft_stage_info *g, vc_val b, uint32_t j) {
    const vd_fft *p = w->plan;
    const vd__fft_shape *s = w->shape;
    vd_fft_point point;
    point.direction = w->direction;
    point.index = vc_cast(VC_U32, vd__fft_element_index(w, array, g, b, j));
    for (uint32_t i = 0; i < 4; i++) {
        vc_val x = vc_const(w->k, vc_u32(0));
        if (i < p->dimensions && p->shape[i] > 1)
            x = vd__fft_coordinate(w->index, p->dense.stride[i], p->shape[i], p->elements);
        point.coordinate[i] = x;
    }
    for (uint32_t i = 0; i < s->axes; i++) { /* add the index along each axis */
        uint32_t n = i == g->axis ? s->size[i] / g->radix : s->size[i], d = w->pass->dimension[i];
        vc_val along = i + 1 < s->axes ? vd__fft_mod_const(b, n) : b;
        if (i + 1 < s->axes) b = vd__fft_div_const(b, n);
        if (i == g->axis) along = vd__add_u32(along, j * n);
        point.coordinate[d] = vc_add(point.coordinate[d], vd__mul_u32(along, array->stride[i] / p->dense.stride[d]));
    }
    return point;
}

/* Converts results that are immediates, as vd_plan_fragment_build does. */
static void vd__fft_call_hook(const vd__fft_hooks *h, vd_fft_hook hook, vc_kernel *k, const vd_fft_point *at,
                              vd_fft_value *value) {
    hook(k, at, value, h->user);
    if (value->re.owner && !vd__is_kernel_value(value->re)) value->re = vc_const(k, value->re);
    if (value->im.owner && !vd__is_kernel_value(value->im)) value->im = vc_const(k, value->im);
}

static vd__fft_c vd__fft_apply_hook(const vd__fft_writer *w, vd_fft_hook hook, const vd__fft_addressing *s,
                                    const vd__fft_stage_info *g, vc_val b, uint32_t j, vd__fft_c x) {
    vd_fft_point at = vd__fft_point_at(w, s, g, b, j);
    vd_fft_value value;
    value.re = x.re;
    value.im = x.im;
    vd__fft_call_hook(&w->plan->hooks, hook, w->k, &at, &value);
    return vd__fft_complex(value.re, value.im);
}

/* An input and an output buffer for each hook. */
static void vd__fft_trial_declare(vd__trial *t) {
    const vd_fft *p = (const vd_fft *)t->code;
    for (int i = 0; i < (p->convolution.map ? 6 : 4); i++)
        vd__trial_buffer(t, vd__fft_complex_type(p->real), i % 2 ? VC_WRITE : VC_READ);
    if (p->hooks.declare) p->hooks.declare(t->k, p->hooks.user);
}

/* Both parts must be values of kernel k and of the arithmetic's type or, for store hooks, both {0}. is_real: im is
   ignored. */
static vd_result vd__fft_check_result(const vd_fft *p, const vc_kernel *k, const char *name, const vd_fft_value *v,
                                      bool stores, bool is_real) {
    const vc_val *part[2];
    const char *is[2];
    bool right = true;
    part[0] = &v->re;
    part[1] = is_real ? &v->re : &v->im;
    if (stores && !part[0]->owner && !part[1]->owner) return VD_OK;
    for (int i = 0; i < 2; i++) {
        if (vd__is_kernel_value(*part[i]) && part[i]->owner != (uintptr_t)k)
            return vd_error_set(VD_ERROR_COMPILE, "%s sets %s to a value of another kernel", name, i ? "im" : "re");
        right &= part[i]->owner && vc_typeof(*part[i]) == p->real;
        is[i] = part[i]->owner ? vc_type_name(vc_typeof(*part[i])) : "{0}";
    }
    if (right) return VD_OK;
    if (is_real)
        return vd_error_set(VD_ERROR_COMPILE, "%s sets re to %s, but %s is expected", name, is[0],
                            vc_type_name(p->real));
    return vd_error_set(VD_ERROR_COMPILE, "%s sets re to %s and im to %s, but %s is expected", name, is[0], is[1],
                        vc_type_name(p->real));
}

/* Records the load hook (hook_index 0), the store hook (1) or the map of a convolution (2) for one element, which is
   loaded from one buffer of the trial and stored in the next. The element of the load hook is in shared memory, so that
   an element that is not used leaves no trace: the load of a buffer in a checked kernel (VKDISPATCH_CHECK_KERNELS=1) is
   an access even then. */
static vd_result vd__fft_try_hook(vd__trial *t, int hook_index) {
    const vd_fft *p = (const vd_fft *)t->code;
    vc_kernel *k = t->k;
    const vc_ref *buffer = t->buffer + 2 * hook_index;
    bool stores = hook_index == 1;
    vd_fft_direction direction = t->direction;
    bool is_real = hook_index < 2 && (p->kind > VD_FFT_REAL
                                      || (p->kind == VD_FFT_REAL && stores == (direction == VD_FFT_INVERSE)));
    vd_fft_hook hook = hook_index == 2 ? p->convolution.map : stores ? p->hooks.store : p->hooks.load;
    vd_fft_point at;
    vd_fft_value value;
    vd_result result = VD_OK;
    for (uint32_t i = 0; i < 4; i++) at.coordinate[i] = vc_local_id(k, i % 3);
    at.index = vc_local_index(k);
    at.direction = direction;
    vc_val v = hook_index ? vd__load(&buffer[0], at.index)
                          : vc_load(vc_shared(k, "element", vd__fft_complex_type(p->real), 1), vc_u32(0));
    vc_val zero = vc_const(k, vc_imm(p->real, 0));
    value.re = vc_component(v, 0);
    value.im = is_real ? zero : vc_component(v, 1);
    if (hook) vd__fft_call_hook(&p->hooks, hook, k, &at, &value);
    if (!vc_error(k)) result = vd__fft_check_result(p, k, t->name[hook_index], &value, stores, is_real);
    if (is_real) value.im = value.re.owner ? zero : value.re;
    if (!result && (!stores || value.re.owner || value.im.owner))
        vd__store(&buffer[1], at.index, vc_vec2(value.re, value.im));
    return result;
}

/* For errors that may be in any of the hooks. */
static const char *vd__fft_hook_names(const vd_fft *p) {
    if (p->convolution.map) return "the map";
    return !p->hooks.store ? "the load hook" : !p->hooks.load ? "the store hook" : "the hooks";
}

/* Records each hook once, to report its errors and to find out which arguments and elements it accesses. */
static vd_result vd__fft_try_direction(vd_fft *p, vd__trial *t) {
    vd__fft_hooks *h = &p->hooks;
    vd_result result = VD_OK;
    vd__trial_begin(t);
    for (int i = 0; i < (p->convolution.map ? 3 : 2) && t->k && !result; i++) {
        result = vd__fft_try_hook(t, i);
        if (!result && vc_error(t->k)) result = vd__trial_error(t, t->name[i]);
    }
    const vc_info *info = result || !t->k ? NULL : vd__trial_reflect(t);
    if (!result && !info) result = vd__trial_error(t, vd__fft_hook_names(p));
    if (!result) result = vd__arguments_note_access(t, info);
    /* vd__fft_try_hook passes an element from shared memory to the load hook and stores the result of the store hook in
       the buffer of argument 3: they are in live code only if the hook uses the element, or stores something */
    if (!result) h->ignores_input[t->direction] = !info->shared_bytes;
    if (!result) h->stores_nothing[t->direction] = !info->args[3].access;
    vc_free(t->k);
    return result;
}

/* Hooks may depend on the direction. */
static vd_result vd__fft_try_hooks(vd_fft *p) {
    static const char *const map_reserved[] = { "in", "out", "roots", NULL };
    vd__trial t;
    if (!p->hooks.load && !p->hooks.store && !p->convolution.map) return VD_OK;
    memset(&t, 0, sizeof t);
    t.plan = &p->base;
    t.code = p;
    t.declares = p->convolution.map ? "map_declare" : "hook_declare";
    t.plan_arguments = p->convolution.plan_arguments;
    t.max_arguments = p->convolution.map ? (int)VD__CONVOLVE_MAX_ARGUMENTS : VD_PLAN_MAX_ARGUMENTS - t.plan_arguments;
    if (p->convolution.map) t.reserved = map_reserved;
    t.invalid = VD_ERROR_COMPILE;
    t.name[0] = "the load hook";
    t.name[1] = "the store hook";
    t.name[2] = p->convolution.map ? "the map" : NULL;
    t.declare = vd__fft_trial_declare;
    t.record = vd__fft_try_hook;
    vd_result result = vd__arguments_find(&t);
    for (int i = 0; i < 2 && !result; i++) {
        t.direction = (vd_fft_direction)i;
        result = vd__fft_try_direction(p, &t);
        if (!result) result = vd__trial_divergent(&t);
    }
    return result;
}

// >>kernels
/* Recording the kernel of a pass: load, transform, store. An inverse transform is the forward transform with real and
   imaginary parts swapped while loading and storing. */

/* Number of consecutive work-groups that process transforms of one block: all `tiles` of a block or, with
   product.uncached, those of about 128 transforms. The work-groups for the same transforms of the next block follow,
   which use the same part of the spectrum. */
static uint64_t vd__fft_groups_per_block(const vd__fft_writer *w, uint64_t tiles) {
    uint64_t groups = tiles;
    while (w->pass->product.uncached && groups % 2 == 0 && groups * w->shape->ffts_per_group > 128) groups /= 2;
    return groups;
}

/* Index of the first transform of the work-group in its block. *block: index of the block. */
static vc_val vd__fft_first_transform(const vd__fft_writer *w, vc_val *block) {
    uint64_t count = vd__fft_transform_count(w->pass), blocks = w->pass->end[0].array.block.product;
    uint64_t tiles = vd__ceil_div(count, w->shape->ffts_per_group);
    uint64_t consecutive = vd__fft_groups_per_block(w, tiles);
    vc_val group = vc_group_id(w->k, 0), chunk = vd__fft_div_const(group, consecutive);
    vc_val group_in_block = vd__fft_mod_const(group, consecutive);
    if (consecutive < tiles)
        group_in_block = vc_add(group_in_block,
                                vd__mul_u32(vd__fft_div_const(chunk, blocks), consecutive));
    *block = blocks == 1 ? vc_u32(0) : consecutive < tiles ? vd__fft_mod_const(chunk, blocks) : chunk;
    return vd__mul_u32(blocks == 1 ? group : group_in_block, w->shape->ffts_per_group);
}

/* Index of this thread's transform in its block. *block: index of the block. If the last work-group has fewer
   transforms than the others, *partly is set, *exists is whether the thread has a transform, and threads without one
   repeat the last transform. */
static vc_val vd__fft_transform_of_thread(const vd__fft_writer *w, vc_val *block, vc_val *exists, bool *partly) {
    uint64_t count = vd__fft_transform_count(w->pass);
    vc_val q = vc_add(vd__fft_first_transform(w, block), w->transform_in_group[w->columns]);
    *partly = count % w->shape->ffts_per_group != 0;
    *exists = *partly ? vd__lt_u32(q, count) : vc_bool(true);
    return *partly ? vd__min_u32(q, (uint32_t)count - 1) : q;
}

static vc_type vd__fft_offset_type(const vd__fft_writer *w, bool out) {
    return vd__fft_type_of_indices(w->plan->layout[w->pass->end[out].role].span);
}

static vc_type vd__fft_index_type(const vd__fft_writer *w) { return vd__fft_type_of_indices(w->plan->elements); }

static vc_val vd__fft_base_offset(const vd__fft_addressing *s, vc_val q, vc_val block, vc_type type) {
    vc_val offset = vc_add(vd__digits_offset_in(&s->transform, q, type), vd__digits_offset_in(&s->block, block, type));
    return s->first ? vc_add(offset, vc_imm(type, s->first)) : offset;
}

static vc_type vd__fft_element_type(vc_type part, bool scalar) { return scalar ? part : vd__fft_complex_type(part); }

/* Offset of the first element of a row of transform q (row 1: the second of two packed rows), in memory or, if the rows
   pass through shared memory, there. */
static vc_val vd__fft_row_offset(const vd__fft_writer *w, bool out, vc_val q, vc_val block, uint32_t row) {
    const vd__fft_tile *t = &w->tile[out];
    uint32_t rows = t->rows / w->shape->ffts_per_group;
    vc_val first = w->transform_in_group[w->columns];
    if (!t->length) return vd__fft_base_offset(&w->pass->end[out].array, q, block, vd__fft_offset_type(w, out));
    return vd__mul_u32(rows == 1 ? first : vd__add_u32(vd__mul_u32(first, rows), row), t->pitch);
}

/* Where element `index` of the rows of a work-group is: in memory (at) and in shared memory (slot). exists: whether its
   row exists. */
typedef struct vd__fft_tile_element { vc_val at, slot, exists; } vd__fft_tile_element;

/* The i-th element that this thread copies. first, block: see vd__fft_first_transform. */
static vd__fft_tile_element vd__fft_tile_element_of(const vd__fft_writer *w, bool out, vc_val first, vc_val block,
                                                    uint32_t i) {
    const vd__fft_tile *t = &w->tile[out];
    const vd__fft_addressing *a = &w->pass->end[out].array;
    uint32_t threads = w->shape->threads * w->shape->ffts_per_group, rows = t->rows / w->shape->ffts_per_group;
    uint64_t count = a->transform.product;
    vd__fft_tile_element e;
    vc_val index = vd__add_u32(vc_local_index(w->k), i * threads);
    vc_val row = vd__fft_div_const(index, t->length), column = vd__fft_mod_const(index, t->length);
    vc_type type = vd__fft_offset_type(w, out);
    first = vd__mul_u32(first, rows);
    vc_val q = vc_add(first, row);
    e.slot = t->pitch == t->length ? index : vc_add(vd__mul_u32(row, t->pitch), column);
    e.exists = count % t->rows ? vd__lt_u32(q, count) : vc_bool(true);
    if ((i + 1) * threads > t->rows * t->length) e.exists = vc_and(e.exists, vd__lt_u32(index, t->rows * t->length));
    if (a->transform.count == 1 && a->transform.stride[0] == t->length) /* rows without gaps */
        e.at = vc_add(vc_mul(vc_cast(type, first), vc_imm(type, t->length)), vc_cast(type, index));
    else e.at = vc_add(vd__digits_offset_in(&a->transform, q, type), vc_cast(type, column));
    e.at = vc_add(e.at, vd__digits_offset_in(&a->block, block, type));
    return e;
}

/* Copies the rows of the work-group between `memory`, in the type `stored`, and shared memory. Copies several elements
   at a time, so that their loads are in flight together. */
static void vd__fft_copy_tile(const vd__fft_writer *w, bool out, vc_ref memory, vc_type stored) {
    enum { AT_ONCE = 16 };
    const vd__fft_tile *t = &w->tile[out];
    uint32_t threads = w->shape->threads * w->shape->ffts_per_group;
    uint32_t count = (t->rows * t->length + threads - 1) / threads;
    bool partly = w->pass->end[out].array.transform.product % t->rows != 0;
    vc_type from = vd__fft_element_type(out ? w->real : stored, t->scalar),
            to = vd__fft_element_type(out ? stored : w->real, t->scalar);
    vc_val block, first = vd__fft_first_transform(w, &block), zero = vc_const(w->k, vc_imm(stored, 0));
    for (uint32_t begin = 0; begin < count; begin += AT_ONCE) {
        vd__fft_tile_element e[AT_ONCE];
        vc_val v[AT_ONCE];
        uint32_t end = count - begin < AT_ONCE ? count - begin : (uint32_t)AT_ONCE;
        for (uint32_t i = 0; i < end; i++) {
            bool some = partly || (begin + i + 1) * threads > t->rows * t->length;
            e[i] = vd__fft_tile_element_of(w, out, first, block, begin + i);
            if (out) v[i] = vd__load(&w->tile_memory[out], e[i].slot);
            else if (!some) v[i] = vd__load(&memory, e[i].at);
            else v[i] = vd__load_or(&memory, e[i].at, e[i].exists, t->scalar ? zero : vc_splat(zero, 2));
            if (from != to) v[i] = vc_cast(to, v[i]);
        }
        for (uint32_t i = 0; i < end; i++) {
            bool some = out && (partly || (begin + i + 1) * threads > t->rows * t->length);
            if (!out) vd__store(&w->tile_memory[out], e[i].slot, v[i]);
            else VD__FFT_IF(w, some, e[i].exists) { vd__store(&memory, e[i].at, v[i]); }
        }
    }
}

static void vd__fft_load_tile(vd__fft_writer *w) {
    if (!w->tile[0].length) return;
    vd__fft_copy_tile(w, false, w->in, w->stored[0]);
    vc_barrier(w->k);
    w->in = w->tile_memory[0];
    w->stored[0] = w->real;
}

/* The range that a pass reads or writes contains element j of all butterflies, of none, or of some. */
typedef enum vd__fft_range_check { VD__FFT_INSIDE, VD__FFT_OUTSIDE, VD__FFT_CONDITIONAL } vd__fft_range_check;

/* Checks element j of butterfly b against the ranges of all axes; ranges[0] is that of the last axis. *condition is
   valid only with VD__FFT_CONDITIONAL. */
static vd__fft_range_check vd__fft_check_range(const vd__fft_writer *w, const vd__fft_range *ranges,
                                               const vd__fft_stage_info *g, vc_val b, uint32_t j, vc_val *condition) {
    const vd__fft_shape *s = w->shape;
    vd__fft_range_check range = VD__FFT_INSIDE;
    for (uint32_t i = 0; i < s->axes; i++) {
        const vd__fft_range *c = &ranges[s->axes - 1 - i];
        uint64_t size = i == g->axis ? s->size[i] / g->radix : s->size[i];
        uint64_t first = i == g->axis ? j * size * c->scale : 0;
        vc_val index = b;
        if (i + 1 < s->axes) {
            index = vd__fft_mod_const(b, size);
            b = vd__fft_div_const(b, size);
        }
        uint64_t end = c->start + c->count;
        if (!c->count || (first >= c->start && first + size * c->scale <= end)) continue;
        if (first >= end || first + size * c->scale <= c->start) return VD__FFT_OUTSIDE;
        if (c->scale > 1) index = vc_add(vd__mul_u32(index, c->scale), w->range_offset);
        /* with a start, indices before it wrap around and become large */
        if (c->start) index = vd__add_u32(index, first - c->start);
        vc_val inside = vd__lt_u32(index, c->start ? c->count : c->count - first);
        *condition = range == VD__FFT_CONDITIONAL ? vc_and(*condition, inside) : inside;
        range = VD__FFT_CONDITIONAL;
    }
    return range;
}

/* The chirp of Bluestein's algorithm for element j of butterfly b, in a range of indices along the axis. */
static vd__fft_c vd__fft_chirp_of(const vd__fft_writer *w, const vd__fft_range *range, const vd__fft_stage_info *g,
                                  vc_val b, uint32_t j) {
    if (!w->pass->chirp.n) return vd__fft_load_root(w, b, w->pass->tables.chirp + j * g->read_stride);
    b = vc_add(vd__mul_u32(vd__add_u32(b, j * g->read_stride), range->scale), w->range_offset);
    return vd__fft_load_root(w, vd__min_u32(b, (uint32_t)w->pass->chirp.n - 1), w->pass->tables.chirp);
}

/* Multiplies a result of Bluestein's algorithm over several passes by the chirp. Its last pass, an inverse transform,
   swaps real and imaginary parts if the other passes do not. Called after they were swapped. */
static vd__fft_c vd__fft_times_last_chirp(const vd__fft_writer *w, vd__fft_c x, vd__fft_c chirp) {
    return vd__fft_mul(x, w->inverse ? chirp : vd__fft_complex(chirp.re, vc_neg(chirp.im)));
}

/* Calls the load hook only if `inside`; other elements are 0. */
static vd__fft_c vd__fft_load_hook_inside(const vd__fft_writer *w, const vd__fft_stage_info *g, vc_val b, uint32_t j,
                                          vd__fft_c x, vc_val inside) {
    vc_ref re = vc_var(w->k, "re", w->real), im = vc_var(w->k, "im", w->real);
    VC_IF(w->k, inside) {
        x = vd__fft_apply_hook(w, w->hook[0], &w->pass->end[0].index, g, b, j, x);
        vd__set(&re, x.re);
        vd__set(&im, x.im);
    }
    return vd__fft_complex(vd__get(&re), vd__get(&im));
}

/* Whether the load hook does not use the elements that it is passed. They are zeros then: a checked kernel would report
   loads that are out of range, and the input may be any buffer. */
static bool vd__fft_ignores_input(const vd__fft_writer *w) {
    return w->hook[0] && w->plan->hooks.ignores_input[w->direction];
}

/* The array from element j of a butterfly on. *at: offset of its first element, which may change. */
static vc_ref vd__fft_array_at(const vd__fft_writer *w, vc_ref array, const vd__fft_addressing *a,
                               const vd__fft_stage_info *g, uint32_t j, vc_val *at) {
    uint64_t distance = vd__fft_element_distance(w, a, g, j) + w->copy_offset;
    if (distance < a->skip) {
        *at = vc_sub(*at, vc_imm(vc_typeof(*at), a->skip - distance));
        distance = a->skip;
    }
    return vd__array_from(array, distance - a->skip);
}

/* at: offset of the first element of butterfly b. Elements that are not in the range of the pass are 0. */
static vd__fft_c vd__fft_load_element(const vd__fft_writer *w, const vd__fft_stage_info *g, vc_val at, vc_val b,
                                      uint32_t j) {
    vc_ref from = vd__fft_array_at(w, w->in, &w->pass->end[0].array, g, j, &at);
    vd__fft_c x, zero = vd__fft_complex(vc_imm(w->real, 0), vc_imm(w->real, 0));
    vc_val v, inside = vc_bool(true);
    vd__fft_range_check range = vd__fft_check_range(w, w->pass->end[0].range, g, b, j, &inside);
    if (range == VD__FFT_OUTSIDE) return zero;
    if (vd__fft_ignores_input(w)) v = vc_splat(vc_const(w->k, vc_imm(w->real, 0)), 2);
    else if (range == VD__FFT_INSIDE) v = vd__load(&from, at);
    else v = vd__load_or(&from, at, inside,
                         w->word_in ? vc_u64(0) : vc_splat(vc_const(w->k, vc_imm(w->stored[0], 0)), 2));
    v = vd__fft_unpack_word(v);
    if (vc_typeof(v) != vd__fft_complex_type(w->real)) v = vc_cast(vd__fft_complex_type(w->real), v);
    x = vd__fft_from_vector(v);
    const vd__fft_range *indices = &w->pass->end[0].range[0];
    /* limits the index to the end of the range, so that it is within the chirp table */
    if (range == VD__FFT_CONDITIONAL && w->shape->axes == 1 && indices->scale == 1
        && indices->start + indices->count < (uint64_t)(j + 1) * g->read_stride)
        b = vd__min_u32(b, (uint32_t)(indices->start + indices->count) - j * g->read_stride - 1);
    /* then b is an index of the range in all threads, so that all may call the hook */
    bool clamped = w->shape->axes == 1 && indices->scale == 1 && !indices->start;
    /* hooks of convolutions accept all indices of the transform */
    if (w->hook[0] && range == VD__FFT_CONDITIONAL && !clamped && (w->pass->chirp.n || !w->plan->convolution.batch)) {
        x = vd__fft_load_hook_inside(w, g, b, j, x, inside);
    } else if (w->hook[0]) {
        x = vd__fft_apply_hook(w, w->hook[0], &w->pass->end[0].index, g, b, j, x);
        if (range == VD__FFT_CONDITIONAL)
            x = vd__fft_complex(vc_select(inside, x.re, zero.re), vc_select(inside, x.im, zero.im));
    }
    if (w->inverse) x = vd__fft_swap(x);
    return vd__fft_loads_with(w->pass, VD__STEP_CHIRP)
               ? vd__fft_mul(x, vd__fft_chirp_of(w, &w->pass->end[0].range[0], g, b, j))
               : x;
}

/* Sets root[i] to the twiddle factor of copy i of a row (pass->copies) for 1 <= i < copies. That of copy 0 is 1. */
static void vd__fft_copy_twiddles(const vd__fft_writer *w, vc_val row, uint32_t copies, vd__fft_c *root) {
    for (uint32_t i = 1; i < copies; i++) {
        bool tabled = vd__fft_has_twiddle_table(w->plan, w->pass);
        root[i] = tabled ? vd__fft_load_root(w, vd__mul_u32(row, copies), w->pass->tables.fine + i)
                         : vd__fft_axis_root(w, vd__mul_u32(row, i));
    }
}

/* Returns the offset of the first element of transform q of a block at one end of the pass. indexed: w->index is
   needed. */
static vc_val vd__fft_locate(vd__fft_writer *w, uint32_t out, vc_val q, vc_val block, bool indexed) {
    const vd__fft_end *end = &w->pass->end[out];
    const vd_fft *p = w->plan;
    bool loop = (out ? w->pass->product.filters : w->pass->product.channels) > 1; /* over filters, or channels */
    vc_val base = vd__fft_row_offset(w, out != 0, q, block, 0), i = out ? w->filter : w->channel;
    if (indexed) w->index = vd__fft_base_offset(&end->index, q, block, vd__fft_index_type(w));
    if (loop) base = vd__offset_at(base, i, p->layout[end->role].stride[0]);
    if (loop && w->hook[out]) w->index = vd__offset_at(w->index, i, p->dense.stride[0]);
    if (end->range[0].count) w->range_offset = vd__fft_div_const(q, end->range[0].width);
    return base;
}

static void vd__fft_load_all(vd__fft_writer *w) {
    vd__fft_stage_info g = vd__fft_stage_info_of(w->shape, 0, 0);
    uint32_t copies = vd__fft_loads_with(w->pass, VD__STEP_PARTS) ? w->pass->copies : 0;
    vd__fft_c root[VD__FFT_RADIX];
    vc_val block, exists;
    bool partly;
    vc_val q = vd__fft_transform_of_thread(w, &block, &exists, &partly);
    vc_val base = vd__fft_locate(w, 0, q, block, w->hook[0] != NULL);
    if (copies || vd__fft_loads_with(w->pass, VD__STEP_TWIDDLES)) w->twiddle_row = vd__fft_twiddle_row(w, q);
    vd__fft_copy_twiddles(w, w->twiddle_row, copies, root);
    for (uint32_t u = 0; u < g.butterflies; u++) {
        vc_val b = vd__fft_butterfly_index_clamped(w, &g, u),
               at = vd__fft_butterfly_offset(w, &w->pass->end[0].array, &g, b, base);
        for (uint32_t j = 0; j < g.radix; j++) {
            vd__fft_c *x = &w->x[u * g.radix + j];
            *x = vd__fft_load_element(w, &g, at, b, j);
            for (uint32_t i = 1; i < copies; i++) {
                w->copy_offset = i * w->pass->end[0].array.stride[w->shape->axes];
                *x = vd__fft_add(*x, vd__fft_mul(vd__fft_load_element(w, &g, at, b, j), root[i]));
            }
            w->copy_offset = 0;
        }
    }
}

/* Value of the filter's spectrum, which is in C order, for a stored element. */
static vd__fft_c vd__fft_spectrum_factor(const vd__fft_writer *w, const vd__fft_stage_info *g, vc_val b, uint32_t j) {
    const vd__fft_addressing *s = &w->pass->end[1].index;
    vc_val at = vd__fft_element_index(w, s, g, b, j);
    if (w->plan->convolution.batch > 1 && !w->plan->convolution.filter_per_group)
        at = vc_rem(at, vc_imm(vc_typeof(at), w->plan->dense.stride[0]));
    return vd__fft_from_vector(vd__load(&w->spectrum, at));
}

/* The value is multiplied by the chirp, the scale and a spectrum, as the pass requires, before the store hook is
   called. */
static void vd__fft_store_element(const vd__fft_writer *w, const vd__fft_stage_info *g, vc_val at, vc_val b, uint32_t j,
                                  vd__fft_c x) {
    bool chirp = vd__fft_stores_with(w->pass, VD__STEP_CHIRP), several_passes = w->pass->chirp.n != 0;
    if (chirp && !several_passes) x = vd__fft_mul(x, vd__fft_chirp_of(w, &w->pass->end[1].range[0], g, b, j));
    if (w->scale != 1)
        x = vd__fft_complex(vc_mul(x.re, vd__fft_immediate(x.re, w->scale)),
                            vc_mul(x.im, vd__fft_immediate(x.im, w->scale)));
    if (w->inverse) x = vd__fft_swap(x);
    if (chirp && several_passes)
        x = vd__fft_times_last_chirp(w, x, vd__fft_chirp_of(w, &w->pass->end[1].range[0], g, b, j));
    if (vd__fft_stores_with(w->pass, VD__STEP_MAP))
        x = vd__fft_apply_hook(w, w->plan->convolution.map, &w->pass->end[1].index, g, b, j, x);
    if (vd__fft_stores_with(w->pass, VD__STEP_SPECTRUM)) x = vd__fft_mul(x, vd__fft_spectrum_factor(w, g, b, j));
    if (w->hook[1]) x = vd__fft_apply_hook(w, w->hook[1], &w->pass->end[1].index, g, b, j, x);
    if (!x.re.owner && !x.im.owner) return; /* the store hook stores nothing */
    vc_val v = vc_vec2(x.re, x.im);
    if (w->stored[1] != w->real) v = vc_cast(vd__fft_complex_type(w->stored[1]), v);
    vc_ref to = vd__fft_array_at(w, w->out, &w->pass->end[1].array, g, j, &at);
    vd__store(&to, at, vd__fft_pack_word(v, w->word_out));
}

static void vd__fft_store_butterfly(const vd__fft_writer *w, const vd__fft_stage_info *g, vc_val at, vc_val b,
                                    const vd__fft_c *x) {
    for (uint32_t j = 0; j < g->radix; j++) {
        vc_val inside;
        vd__fft_range_check range = vd__fft_check_range(w, w->pass->end[1].range, g, b, j, &inside);
        if (range == VD__FFT_OUTSIDE) continue;
        VD__FFT_IF(w, range == VD__FFT_CONDITIONAL, inside) { vd__fft_store_element(w, g, at, b, j, x[j]); }
    }
}

/* Stores the results of butterfly b and their copies 1 … copies - 1, each multiplied by its twiddle factor. */
static void vd__fft_store_copies(vd__fft_writer *w, const vd__fft_stage_info *g, vc_val at, vc_val b,
                                 const vd__fft_c *x, const vd__fft_c *root) {
    vd__fft_c product[VD__FFT_RADIX];
    vd__fft_store_butterfly(w, g, at, b, x);
    for (uint32_t copy = 1; copy < w->pass->copies && vd__fft_stores_with(w->pass, VD__STEP_PARTS); copy++) {
        w->copy_offset = copy * w->pass->end[1].array.stride[w->shape->axes];
        for (uint32_t j = 0; j < g->radix; j++) product[j] = vd__fft_mul(x[j], root[copy]);
        vd__fft_store_butterfly(w, g, at, b, product);
    }
    w->copy_offset = 0;
}

static void vd__fft_store_all(vd__fft_writer *w, const vd__fft_stage_info *g) {
    uint32_t copies = vd__fft_stores_with(w->pass, VD__STEP_PARTS) ? w->pass->copies : 0;
    vd__fft_c root[VD__FFT_RADIX];
    vc_val block, exists;
    bool group_partly, partly;
    vc_val q = vd__fft_transform_of_thread(w, &block, &exists, &group_partly);
    bool indexed = w->hook[1] || vd__fft_stores_with(w->pass, VD__STEP_MAP)
                   || vd__fft_stores_with(w->pass, VD__STEP_SPECTRUM);
    vc_val base = vd__fft_locate(w, 1, q, block, indexed);
    if (copies) vd__fft_copy_twiddles(w, vd__fft_twiddle_row(w, q), copies, root);
    for (uint32_t u = 0; u < g->butterflies; u++) {
        vc_val b = vd__fft_butterfly_index(w, g, u, &partly),
               at = vd__fft_butterfly_offset(w, &w->pass->end[1].array, g, b, base);
        vc_val active = exists;
        if (partly) active = vc_and(active, vd__lt_u32(b, w->shape->n / g->radix));
        if (vd__fft_stores_with(w->pass, VD__STEP_TWIDDLES))
            vd__fft_apply_twiddles(w, g, vd__fft_twiddle_row(w, q), vd__fft_butterfly_index_clamped(w, g, u),
                                   &w->x[u * g->radix]);
        VD__FFT_IF(w, group_partly || partly, active) {
            vd__fft_store_copies(w, g, at, b, &w->x[u * g->radix], root);
        }
    }
}

/* Whether the spectrum of an image is stored in thread order, that in which the threads hold it after the last stage:
   element j of butterfly u of thread t has index (u * radix + j) * threads + t. This is so for shapes with
   last_axis_first and without idle threads. */
static bool vd__fft_is_thread_order(const vd__fft_pass *pass) {
    const vd__fft_shape *s = &pass->shape;
    if (!s->last_axis_first) return false;
    vd__fft_stage_info g = vd__fft_stage_info_of(s, 0, s->stages - 1);
    return g.butterflies * g.radix * s->threads == s->n;
}

/* Index in thread order of the element with index `element` in the shape. */
static vc_val vd__fft_thread_order_index(const vd__fft_pass *pass, vc_val element) {
    vd__fft_stage_info g = vd__fft_stage_info_of(&pass->shape, 0, pass->shape.stages - 1);
    vc_val step = vc_u32(g.read_stride), j = vd__rem_u32(vc_div(element, step), g.radix);
    vc_val threads = vc_u32(pass->shape.threads);
    vc_val b = vc_add(vc_mul(vd__div_u32(element, g.read_stride * g.radix), step), vc_rem(element, step));
    return vc_add(vc_mul(vc_add(vd__mul_u32(vc_div(b, threads), g.radix), j), threads), vc_rem(b, threads));
}

static vd__fft_stage_info vd__fft_last_stage(const vd__fft_writer *w) {
    return vd__fft_stage_info_of(w->shape, w->inverts, w->shape->stages - 1);
}

/* Without a second transform, storing calls the map. */
static void vd__fft_step_map(vd__fft_writer *w) {
    const vd__fft_addressing *spectrum = &w->pass->product.spectrum;
    vd__fft_stage_info stage = vd__fft_last_stage(w), *g = &stage;
    vc_val block, exists;
    bool partly;
    if (!w->pass->product.channels) return;
    vc_val q = vd__fft_transform_of_thread(w, &block, &exists, &partly);
    w->index = vd__fft_base_offset(spectrum, q, block, vd__fft_index_type(w));
    for (uint32_t u = 0; u < g->butterflies; u++) {
        vc_val b = vd__fft_butterfly_index_clamped(w, g, u);
        for (uint32_t j = 0; j < g->radix; j++) {
            vd__fft_c *x = &w->x[u * g->radix + j];
            *x = vd__fft_apply_hook(w, w->plan->convolution.map, spectrum, g, b, j, *x);
        }
    }
}

/* Multiplies w->x by a spectrum; with several channels or filters, by that of the current one. */
static void vd__fft_multiply_by_spectrum(vd__fft_writer *w, vc_ref spectrum) {
    const vd__fft_product *p = &w->pass->product;
    vd__fft_stage_info stage = vd__fft_last_stage(w), *g = &stage;
    vc_val block, exists;
    bool partly, thread_order = vd__fft_is_thread_order(w->pass);
    vc_val q = vd__fft_transform_of_thread(w, &block, &exists, &partly);
    vc_val base = vd__fft_base_offset(&p->spectrum, q, block, VC_U32);
    if (p->channels > 1) base = vd__offset_at(base, w->channel, w->plan->dense.stride[0]);
    if (p->filters > 1) base = vd__offset_at(base, w->filter, w->plan->dense.stride[0]);
    for (uint32_t u = 0; u < g->butterflies; u++) {
        vc_val b = vd__fft_butterfly_index_clamped(w, g, thread_order ? 0 : u);
        vc_val at = thread_order ? vc_add(base, b) : vd__fft_butterfly_offset(w, &p->spectrum, g, b, base);
        for (uint32_t j = 0; j < g->radix; j++) {
            uint64_t distance = thread_order ? (uint64_t)(u * g->radix + j) * w->shape->threads
                                  : vd__fft_element_distance(w, &p->spectrum, g, j);
            vd__fft_c *x = &w->x[u * g->radix + j];
            *x = vd__fft_mul(*x, vd__fft_from_vector(vd__load_from(&spectrum, distance, at)));
        }
    }
}

/* Without a second transform, storing multiplies. */
static void vd__fft_step_spectrum(vd__fft_writer *w) {
    if (w->pass->product.channels) vd__fft_multiply_by_spectrum(w, w->spectrum);
}

static void vd__fft_step_chirp_spectrum(vd__fft_writer *w) {
    vd__fft_multiply_by_spectrum(w, vd__array_from(w->table, w->pass->tables.spectrum));
}

static void vd__fft_swap_all(vd__fft_writer *w, const vd__fft_stage_info *g) {
    for (uint32_t i = 0; i < g->butterflies * g->radix; i++) w->x[i] = vd__fft_swap(w->x[i]);
}

/* Index of this thread in its work-group. If stages exchange values by shuffles, consecutive indices are consecutive
   lanes of a subgroup, which is not guaranteed for local indices. */
static vc_val vd__fft_thread_index(const vd__fft_writer *w) {
    if (!vd__fft_count_shuffles(w->shape)) return vc_local_index(w->k);
    return vc_add(vd__mul_u32(vc_subgroup_id(w->k), w->plan->device.shuffle_lanes), vc_subgroup_local_id(w->k));
}

/* Both assignments of threads to transforms: [0] consecutive threads belong to one transform, [1] to consecutive
   transforms (columns). */
static void vd__fft_assign_threads(vd__fft_writer *w) {
    const vd__fft_shape *s = w->shape;
    vc_val thread = vd__fft_thread_index(w);
    w->transform_in_group[0] = s->ffts_per_group == 1 ? vc_u32(0) : vd__div_u32(thread, s->threads);
    w->thread[0] = s->ffts_per_group == 1 ? thread : vd__rem_u32(thread, s->threads);
    w->transform_in_group[1] = s->ffts_per_group == 1 ? vc_u32(0) : vd__rem_u32(thread, s->ffts_per_group);
    w->thread[1] = s->ffts_per_group == 1 ? thread : vd__div_u32(thread, s->ffts_per_group);
}

/* Whether an in-place kernel declares one buffer that it loads from and stores to. If it loads another type than it
   stores, it declares two that may alias. */
static bool vd__fft_has_one_buffer(const vd_fft *p, const vd__fft_pass *pass) {
    return vd__fft_element_type(p->stored[pass->end[0].role], pass->end[0].scalar)
           == vd__fft_element_type(p->stored[pass->end[1].role], pass->end[1].scalar);
}

/* Elements that are loaded or stored by the rule of a real kind are not accessed as words. one_buffer: input and output
   are one buffer, so both are accessed as words or neither is. */
static void vd__fft_choose_word_access(vd__fft_writer *w, bool one_buffer) {
    bool allowed = w->plan->device.complex_as_words && !vd__fft_has(w->pass, VD__STEP_FOLD);
    w->word_in = allowed && !vd__fft_is_by_rule(w->pass, false) && !w->pass->end[0].scalar && w->stored[0] == VC_F32;
    w->word_out = allowed && !vd__fft_is_by_rule(w->pass, true) && !w->pass->end[1].scalar && w->stored[1] == VC_F32;
    if (one_buffer && w->word_in != w->word_out) w->word_in = w->word_out = false;
}

static void vd__fft_declare_tiles(vd__fft_writer *w) {
    vd__fft_tile *t = w->tile;
    vd__fft_choose_tiles(w->plan, w->pass, t);
    bool one = vd__fft_tiles_share(t);
    if (one && t[1].elements > t[0].elements) t[0].elements = t[1].elements;
    for (uint32_t i = 0; i < 2; i++) {
        if (!t[i].length) continue;
        w->tile_memory[i] = one && i ? w->tile_memory[0]
                                     : vc_shared(w->k, i ? "rows_out" : "rows",
                                                 vd__fft_element_type(w->real, t[i].scalar), t[i].elements);
    }
}

static void vd__fft_declare_shared(vd__fft_writer *w) {
    const vd__fft_shape *s = w->shape;
    uint32_t words = vd__fft_component_words(s) * (s->double_buffered ? 2 : 1);
    vc_type value = w->plan->device.complex_as_words ? (vc_type)VC_U64 : vd__fft_complex_type(w->real);
    if (vd__fft_shared_words(s)) {
        w->shared[0] = s->complex_elements ? vc_shared(w->k, "values", value, words)
                                           : vc_shared(w->k, "re", w->real, words);
        w->shared[1] = s->split_components || s->complex_elements ? w->shared[0]
                                                                  : vc_shared(w->k, "im", w->real, words);
    }
}

static void vd__fft_declare(vd__fft_writer *w, vd_plan_kernel *b, bool in_place, bool one_buffer) {
    uint32_t alias = in_place ? VC_ANY_TYPE | VC_MAY_ALIAS : VC_ANY_TYPE;
    uint32_t read = w->plan->device.complex_as_words ? VC_READ | VC_ANY_TYPE : VC_READ;
    vc_type in = vd__fft_element_type(w->stored[0], w->pass->end[0].scalar);
    vc_type out = vd__fft_element_type(w->stored[1], w->pass->end[1].scalar);
    vc_type value = w->plan->device.complex_as_words ? (vc_type)VC_U64 : vd__fft_complex_type(w->real);
    one_buffer &= in_place;
    vd__fft_choose_word_access(w, one_buffer);
    if (w->word_in) in = VC_U64;
    if (w->word_out) out = VC_U64;
    w->in = vd_plan_kernel_buffer(b, w->k, w->pass->end[0].role, one_buffer ? "data" : "in", in,
                                  one_buffer ? VC_ANY_TYPE | VC_READ_WRITE : alias | VC_READ);
    w->out = one_buffer ? w->in : vd_plan_kernel_buffer(b, w->k, w->pass->end[1].role, "out", out, alias | VC_WRITE);
    w->table = vd_plan_kernel_buffer(b, w->k, VD__FFT_TABLE, "table", value, read);
    if (vd__fft_has(w->pass, VD__STEP_SPECTRUM))
        w->spectrum = vd_plan_kernel_buffer(b, w->k, VD__FFT_SPECTRUM, "spectrum", value, read);
    if ((w->hook[0] || w->hook[1] || vd__fft_has(w->pass, VD__STEP_MAP)) && w->plan->hooks.declare) {
        w->plan->hooks.declare(w->k, w->plan->hooks.user);
        vd__plan_kernel_add_arguments(b, 0, w->plan->base.argument_count);
    }
    vd__fft_declare_tiles(w);
    vd__fft_declare_shared(w);
}

static void vd__real_load_all(vd__fft_writer *w);
static void vd__real_store_all(vd__fft_writer *w, const vd__fft_stage_info *g);
static void vd__real_fold_in_group(vd__fft_writer *w, const vd__fft_stage_info *g);
static void vd__real_fold_in_memory(vd__fft_writer *w);

/* ---- steps of a pass ---- */

static void vd__fft_step_load(vd__fft_writer *w) {
    vd__fft_load_tile(w);
    vd__fft_load_all(w);
}

static void vd__fft_step_load_by_rule(vd__fft_writer *w) {
    vd__fft_load_tile(w);
    vd__real_load_all(w);
}

static void vd__fft_step_transform(vd__fft_writer *w) {
    vd__fft_stages(w, 0, w->shape->convolves ? w->shape->columns_in : w->shape->columns_out);
}

/* The inverse is a forward transform with real and imaginary parts swapped before and after it. After the last stage of
   the first transform, each thread holds the inputs of the first stage of the inverse, so no exchange is needed between
   them. */
static void vd__fft_step_inverse(vd__fft_writer *w) {
    vd__fft_stage_info first = vd__fft_last_stage(w);
    vd__fft_swap_all(w, &first);
    w->columns = w->shape->columns_in;
    vd__fft_stages(w, 1, w->shape->columns_out);
    w->inverts = 1;
    vd__fft_stage_info last = vd__fft_last_stage(w);
    vd__fft_swap_all(w, &last);
}

/* Begins a loop over the channels or the filters. Other threads may still read shared memory in the previous iteration,
   so the first exchange begins with a barrier. */
static vc_val vd__fft_begin_loop(vd__fft_writer *w, uint32_t count) {
    w->half_in_use[0] = w->half_in_use[1] = w->shape->stages > 1;
    vc_val i = vc_for_begin(w->k, vc_u32(0), vc_u32(count), vc_i32(1));
    w->columns = w->shape->columns_in;
    return i;
}

static void vd__fft_step_channels(vd__fft_writer *w) {
    vd__fft_stage_info g = vd__fft_last_stage(w);
    for (uint32_t i = 0; i < 2 * g.butterflies * g.radix; i++)
        w->sum[i / 2][i % 2] = vc_var(w->k, i % 2 ? "im" : "re", w->real);
    w->channel = vd__fft_begin_loop(w, w->pass->product.channels);
}

static void vd__fft_step_sum(vd__fft_writer *w) {
    vd__fft_stage_info g = vd__fft_last_stage(w);
    uint32_t held = g.butterflies * g.radix;
    for (uint32_t i = 0; i < held; i++) {
        vd__set(&w->sum[i][0], vc_add(vd__get(&w->sum[i][0]), w->x[i].re));
        vd__set(&w->sum[i][1], vc_add(vd__get(&w->sum[i][1]), w->x[i].im));
    }
    vc_block_end(w->k);
    for (uint32_t i = 0; i < held; i++) w->x[i] = vd__fft_complex(vd__get(&w->sum[i][0]), vd__get(&w->sum[i][1]));
}

static void vd__fft_step_filters(vd__fft_writer *w) {
    w->filter = vd__fft_begin_loop(w, w->pass->product.filters);
}

static void vd__fft_step_store(vd__fft_writer *w) {
    vd__fft_stage_info last = vd__fft_last_stage(w);
    vc_ref memory = w->out;
    vc_type stored = w->stored[1];
    bool tile = w->tile[1].length != 0;
    if (tile) {
        w->out = w->tile_memory[1];
        w->stored[1] = w->real;
        if (w->shape->threads > 1) vc_barrier(w->k); /* other threads may still load rows from the same array */
    }
    if (w->shape->real_fold) vd__real_fold_in_group(w, &last);
    else if (vd__fft_is_by_rule(w->pass, true)) vd__real_store_all(w, &last);
    else vd__fft_store_all(w, &last);
    if (tile) {
        vc_barrier(w->k);
        vd__fft_copy_tile(w, true, memory, stored);
    }
    if (w->pass->product.filters > 1) vc_block_end(w->k); /* of the loop */
}

/* Records the kernel of a pass. The steps without a function here apply to each element: those for the inputs are part
   of loading, those for the results of storing. */
static void vd__fft_record_steps(vd__fft_writer *w) {
    static void (*const record[])(vd__fft_writer *w) = {
        NULL, vd__fft_step_load, vd__fft_step_load_by_rule, NULL, NULL, NULL, vd__fft_step_transform, vd__fft_step_map,
        vd__fft_step_spectrum, vd__fft_step_chirp_spectrum, vd__fft_step_inverse, vd__fft_step_channels,
        vd__fft_step_sum, vd__fft_step_filters, vd__fft_step_store, vd__fft_step_store, vd__fft_step_store,
        vd__real_fold_in_memory
    };
    const uint8_t *step = w->pass->step;
    vd__fft_assign_threads(w);
    w->columns = w->shape->columns_in;
    for (; *step; step++) if (record[*step]) record[*step](w);
}

/* If the second route is empty, the first serves both directions. */
static vd__fft_route *vd__fft_route_of(vd_fft *p, uint32_t direction) {
    return &p->route[p->route[1].count ? direction : 0];
}

/* Returns NULL if out of memory. */
static vc_kernel *vd__fft_record(vd_fft *p, uint32_t number, uint32_t direction, bool in_place,
                                 vd_plan_kernel *kernel) {
    vd__fft_route *route = vd__fft_route_of(p, direction);
    vd__fft_pass *pass = &route->pass[number];
    vd__fft_writer *w = (vd__fft_writer *)vd__fft_allocate(&p->base.allocator, sizeof *w);
    char name[96];
    snprintf(name, sizeof name, "%s %u of %u %s", p->base.name, number + 1, route->count,
             direction ? "inverse" : "forward");
    if (!w) return NULL;
    w->k = vd__plan_begin(&p->base, name, pass->shape.threads * pass->shape.ffts_per_group);
    w->plan = p;
    w->pass = pass;
    w->hook[0] = number ? NULL : p->hooks.load;
    w->hook[1] = number + 1 < route->count ? NULL : p->hooks.store;
    w->shape = &pass->shape;
    w->inverse = pass->inverse != (direction == VD_FFT_INVERSE);
    w->real = p->real;
    w->stored[0] = p->stored[pass->end[0].role];
    w->stored[1] = p->stored[pass->end[1].role];
    w->direction = (vd_fft_direction)direction;
    w->scale = number + 1 == route->count ? p->scale[direction] : 1;
    vd__fft_declare(w, kernel, in_place, vd__fft_has_one_buffer(p, pass));
    vd__fft_record_steps(w);
    vc_kernel *k = w->k;
    vd__fft_free(&p->base.allocator, w);
    return k;
}

static vd_result vd__fft_build_kernel(vd_fft *p, uint32_t number, uint32_t direction, bool in_place) {
    vd_plan_kernel *kernel = &vd__fft_route_of(p, direction)->pass[number].kernels[direction][in_place];
    return vd_plan_kernel_build(&p->base, kernel, vd__fft_record(p, number, direction, in_place, kernel));
}

/* p->source becomes NULL if the text is NULL or memory runs out. */
static vd_result vd__fft_keep_source(vd_fft *p, const char *text) {
    size_t size = text ? strlen(text) + 1 : 0;
    vd__fft_free(&p->base.allocator, p->source);
    p->source = text ? (char *)vd__fft_allocate(&p->base.allocator, size) : NULL;
    if (text && !p->source) return vd__fft_no_memory();
    if (text) memcpy(p->source, text, size);
    return VD_OK;
}

/* Whether input and output of a pass are the same buffer in a run that is, or is not, in place. */
static bool vd__fft_is_in_place(const vd__fft_pass *pass, bool run_in_place) {
    vd__fft_role from = pass->end[0].role, to = pass->end[1].role;
    return from == to || (run_in_place && from <= VD__FFT_OUT && to <= VD__FFT_OUT);
}

/* Sets p->source. Does not check whether a plan of transforms can run in place. */
static vd_result vd__fft_make_source(vd_fft *p, const vd_fft_step *step, vc_target target) {
    if (!step) return vd_error_set(VD_ERROR_INVALID, "step is NULL");
    vd_result result = VD__CHECK_ENUM(step->direction, "step.direction", VD_FFT_INVERSE);
    if (result) return result;
    if (!p->base.ctx) return vd_error_set(VD_ERROR_INVALID, "the plan's context was destroyed");
    if (p->vkfft) return vd_error_set(VD_ERROR_UNSUPPORTED, "VkFFT does not return the source text of its kernels");
    if (p->convolution.batch && step->direction)
        return vd_error_set(VD_ERROR_INVALID, "step.direction is VD_FFT_INVERSE, but convolutions have only "
                            "VD_FFT_FORWARD");
    if (p->convolution.batch && step->in_place)
        return vd_error_set(VD_ERROR_INVALID, "step.in_place is true, but convolutions cannot run in place");
    const vd__fft_route *route = vd__fft_route_of(p, step->direction);
    if (step->number >= route->count)
        return vd_error_set(VD_ERROR_INVALID, "step.number is %u, but must be below %u, the number of kernels of this "
                            "direction", step->number, route->count);
    vd_plan_kernel kernel; /* is filled with the roles of its arguments, which are not needed */
    memset(&kernel, 0, sizeof kernel);
    bool same_buffer = vd__fft_is_in_place(&route->pass[step->number], step->in_place);
    vc_kernel *k = vd__fft_record(p, step->number, (uint32_t)step->direction, same_buffer, &kernel);
    if (!k) return vd__fft_no_memory();
    const char *text = vc_source(k, target); /* NULL for SPIR-V, and for languages that the builder omits */
    result = text ? vd__fft_keep_source(p, text) : vd_error_set(VD_ERROR_UNSUPPORTED, "%s", vc_error(k));
    vc_free(k);
    return result;
}

// >>real
/* Real transforms: a complex transform of half the length or, if the length is odd or if that is estimated to be
   faster, of the full length; for kind I, of half the length of its even or odd extension. Each kind has rules that
   compute the complex inputs from the elements that are loaded, and the elements that are stored from the complex
   results. Some rules combine a result X[k] with its mirror image X[h - k]; this is called a fold. In this room, n is
   the length of the axis and h the length of the complex transform. Kinds I to IV are those of the cosine and sine
   transforms, DCT1 and DST1 to DCT4 and DST4. Sources: Sorensen, Jones, Heideman and Burrus, Real-valued fast Fourier
   transform algorithms, 1987; Makhoul, A fast cosine transform in one and two dimensions, 1980; Chan and Ho, Direct
   methods for computing discrete sinusoidal transforms, 1990. */

/* Factor by which a transform followed by its inverse, both unnormalised, multiplies the data. */
static double vd__real_gain(vd_fft_kind kind, uint64_t n) {
    if (kind <= VD_FFT_REAL) return (double)n;
    return 2 * ((double)n + (vd__real_family(kind) != VD__REAL_I ? 0 : vd__real_is_sine(kind) ? 1 : -1));
}

/* -- checks -- */

static void vd__real_padded_strides(const vd_fft *p, const vd_fft_desc *desc, uint64_t *stride) {
    uint64_t elements = 1;
    for (uint32_t i = p->dimensions; i-- > 0;) {
        uint64_t all = i == p->real_axis ? p->real_length / 2 + 1 : p->shape[i];
        stride[i] = elements;
        if (all > desc->out_start[i]) all -= desc->out_start[i]; /* otherwise it is refused later */
        elements *= desc->out_count[i] ? desc->out_count[i] : all;
        if (i == p->real_axis) elements *= 2;
    }
}

/* Kernels compute indices up to twice the length of the complex transform in 32 bits. */
static vd_result vd__real_check_lengths(const vd_fft *p) {
    uint64_t limit = ((uint64_t)1 << 31) - (p->kind == VD_FFT_DST1 ? 1 : 0);
    for (uint32_t i = 0; i < p->dimensions; i++) {
        if (!(p->axes >> i & 1)) continue;
        if (p->kind == VD_FFT_DCT1 && p->shape[i] < 2)
            return vd_error_set(VD_ERROR_INVALID, "dimension %u has 1 element, but VD_FFT_DCT1 needs at least 2", i);
        if (p->shape[i] > limit)
            return vd_error_set(VD_ERROR_UNSUPPORTED, "dimension %u has %llu elements, but the limit of %s is %llu", i,
                                (unsigned long long)p->shape[i],
                                p->kind == VD_FFT_DST1 ? "VD_FFT_DST1" : "cosine and sine transforms",
                                (unsigned long long)limit);
    }
    return VD_OK;
}

/* Sets p->real_axis, p->real_length and p->scalar, and in_stride to the strides of the input. */
static vd_result vd__real_check_desc(vd_fft *p, const vd_fft_desc *desc, uint64_t *in_stride) {
    uint32_t i = p->dimensions;
    if (desc->engine && p->kind > VD_FFT_REAL)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "kind is a cosine or sine transform, but engine VkFFT supports only "
                            "VD_FFT_COMPLEX and VD_FFT_REAL");
    vd_result result = p->kind == VD_FFT_REAL ? VD_OK : vd__real_check_lengths(p);
    if (result) return result;
    while (p->kind == VD_FFT_REAL && !(p->axes >> --i & 1)) { }
    p->real_axis = p->kind == VD_FFT_REAL ? i : 0;
    p->real_length = p->shape[p->real_axis];
    if (desc->padded && p->kind != VD_FFT_REAL)
        return vd_error_set(VD_ERROR_INVALID, "padded is true, but kind is not VD_FFT_REAL");
    if (desc->padded && i + 1 != p->dimensions)
        return vd_error_set(VD_ERROR_INVALID, "padded is true, but axes is 0x%x; padded requires that the last "
                            "dimension is transformed", p->axes);
    for (i = 0; i < 4; i++) {
        in_stride[i] = desc->in_stride[i];
        if (desc->padded && in_stride[i])
            return vd_error_set(VD_ERROR_INVALID, "padded is true, but in_stride[%u] is %llu; padded requires an "
                                "in_stride of zeros", i, (unsigned long long)in_stride[i]);
    }
    if (desc->padded) vd__real_padded_strides(p, desc, in_stride);
    p->scalar[VD__FFT_IN] = true;
    p->scalar[VD__FFT_OUT] = p->scalar[VD__FFT_MIDDLE] = p->kind != VD_FFT_REAL;
    return VD_OK;
}

/* Whether a plan can run in place: every row of reals must begin at the same byte as its half spectrum, and both must
   be contiguous. */
static bool vd__real_fits_in_place(const vd_fft *p) {
    const vd__fft_layout *in = &p->layout[VD__FFT_IN], *out = &p->layout[VD__FFT_OUT];
    for (uint32_t i = 0; i < p->dimensions; i++)
        if (i != p->real_axis && p->shape[i] > 1 && in->stride[i] != 2 * out->stride[i]) return false;
    return !p->in_overlaps && (in->stride[p->real_axis] == 1 || p->real_length == 1)
           && (out->stride[p->real_axis] == 1 || p->shape[p->real_axis] == 1);
}

/* The buffer must begin at a multiple of the size of two reals, because kernels access two reals as one element. */
static vd_result vd__real_check_alignment(const vd_fft *p, vd_buffer reals) {
    uint64_t two_reals = 2 * vc_type_size(p->stored[VD__FFT_IN]); /* in bytes */
    vd_buffer_info info;
    vd_result result = vd_buffer_query(p->base.ctx, reals, &info);
    if (result || (info.address % two_reals == 0 && info.native_offset % two_reals == 0)) return result;
    bool address = info.address % two_reals != 0;
    return vd_error_set(VD_ERROR_INVALID, "buffer '%s' (reals): %s is %llu, but must be a multiple of %llu bytes",
                        info.name, address ? "address" : "native_offset",
                        (unsigned long long)(address ? info.address : info.native_offset),
                        (unsigned long long)two_reals);
}

/* -- tables -- */

/* Table of exp(-2 pi i (k * step + first) / n) for 0 <= k < count. Fails as vd__fft_grow_table does. */
static bool vd__real_root_table(vd_fft *p, uint64_t count, uint64_t step, uint64_t first, uint64_t n,
                                uint32_t *offset) {
    uint64_t key[5] = { 'r', count, step, first, n };
    double *at;
    if (!vd__fft_find_table(p, count, key, offset, &at)) return false;
    for (uint64_t k = 0; at && k < count; k++, at += 2) vd__fft_write_root(at, k * step + first, n);
    return true;
}

/* split_table: for folds of half-length transforms, and for their inverses while loading. phase_table: for kinds II and
   III, and for kind IV of even length. */
static bool vd__real_tables(vd_fft *p, vd__fft_pass *pass) {
    vd__real *r = &pass->real;
    uint32_t family = vd__real_family(r->kind);
    bool ok = true;
    if (!vd__fft_is_by_rule(pass, false) && !vd__fft_is_by_rule(pass, true)) return true;
    if (r->half_length && family != VD__REAL_IV) ok = vd__real_root_table(p, r->h + 1, 1, 0, 2 * r->h, &r->split_table);
    if (ok && (family == VD__REAL_II || family == VD__REAL_III))
        ok = vd__real_root_table(p, r->n + 1, 1, 0, 4 * r->n, &r->phase_table);
    if (ok && family == VD__REAL_IV && r->half_length)
        ok = vd__real_root_table(p, r->h, 8, 1, 16 * r->n, &r->phase_table);
    return ok;
}

/* -- kernels: common -- */

/* Offset of the first element of a row: in memory (base) and, for passes with hooks, in the array to which the points
   of hooks refer (index). */
typedef struct vd__real_row { vc_val base, index; } vd__real_row;

/* The rows that a thread computes: one, or two as real and imaginary parts of a complex transform. even: the number of
   rows is even, so that every thread has a second row; otherwise `second` is whether it has one. parts: see
   vd__fft_end.part; part: index of the thread's transform along the axis. */
typedef struct vd__real_rows {
    uint32_t count, parts;
    bool even;
    vd__real_row row[2];
    vc_val second, part;
} vd__real_rows;

static vd__real_row vd__real_row_of(const vd__fft_writer *w, uint32_t out, vc_val q, vc_val block, bool second) {
    vd__real_row row;
    row.base = vd__fft_row_offset(w, out != 0, q, block, second);
    row.index = w->hook[out] ? vd__fft_base_offset(&w->pass->end[out].index, q, block, vd__fft_index_type(w))
                             : vc_u32(0);
    return row;
}

static vd__real_rows vd__real_rows_of(const vd__fft_writer *w, uint32_t out, vc_val q, vc_val block) {
    vd__real_rows rows;
    uint64_t count = w->pass->end[out].array.transform.product;
    rows.count = w->pass->real.two_rows ? 2 : 1;
    rows.second = vc_bool(true);
    rows.even = count % 2 == 0;
    rows.parts = w->pass->end[out].part;
    rows.part = rows.parts ? vd__fft_div_const(q, count / rows.parts) : vc_u32(0);
    if (rows.count == 1) {
        rows.row[0] = rows.row[1] = vd__real_row_of(w, out, q, block, false);
        return rows;
    }
    q = vd__mul_u32(q, 2);
    rows.row[0] = vd__real_row_of(w, out, q, block, false);
    q = vd__add_u32(q, 1);
    if (!rows.even) rows.second = vd__lt_u32(q, count);
    q = rows.even ? q : vd__min_u32(q, (uint32_t)count - 1);
    rows.row[1] = vd__real_row_of(w, out, q, block, true);
    return rows;
}

static vd__fft_c vd__real_apply_hook(const vd__fft_writer *w, bool out, vd__real_row row, vc_val at, vd__fft_c x) {
    const vd_fft *p = w->plan;
    vd__fft_layout array = vd__real_hook_layout(p, &w->pass->real, out);
    uint32_t axis = w->pass->dimension[0];
    vc_val zero = vc_const(w->k, vc_u32(0));
    vd_fft_point point;
    vd_fft_value value;
    at = vc_add(zero, at); /* converts an immediate to a value of the kernel, as hooks expect */
    point.direction = w->direction;
    point.index = vc_cast(VC_U32, vd__offset_at(row.index, at, array.stride[axis]));
    for (uint32_t i = 0; i < 4; i++) {
        vc_val c = i == axis ? at : zero;
        if (i < p->dimensions && i != axis && p->shape[i] > 1)
            c = vc_add(zero, vd__fft_coordinate(row.index, array.stride[i], p->shape[i], array.span));
        point.coordinate[i] = c;
    }
    value.re = x.re;
    value.im = x.im;
    vd__fft_call_hook(&p->hooks, w->hook[out], w->k, &point, &value);
    return vd__fft_complex(value.re, value.im);
}

/* Index along the complex transform of element i of this thread's transform. */
static vc_val vd__real_index_of_part(const vd__real_rows *rows, vc_val i) {
    return rows->parts ? vc_add(vd__mul_u32(i, rows->parts), rows->part) : i;
}

static vd__fft_c vd__real_conj(vd__fft_c a) { return vd__fft_complex(a.re, vc_neg(a.im)); }
static vd__fft_c vd__real_scaled(vd__fft_c a, double s) {
    return s == 1 ? a
                  : vd__fft_complex(vc_mul(a.re, vd__fft_immediate(a.re, s)), vc_mul(a.im, vd__fft_immediate(a.im, s)));
}
static vc_val vd__real_is_odd(vc_val i) { return vd__ne_u32(vd__and_u32(i, 1), 0); }
static vc_val vd__real_negate_if(vc_val condition, vc_val v) { return vc_select(condition, vc_neg(v), v); }

/* Index mapping of kind IV for odd n. DCT4 sums x[j] cos(pi (2 j + 1) (2 k + 1) / (4 n)). Replacing 2 j + 1 by a = n +
   4 m and 2 k + 1 by c = n + 4 l changes at most the sign of the cosine, and cos(pi a c / (4 n)) = cos(4 pi m l / n +
   pi n / 4 + pi (m + l)). This is the real part of a transform of length n, except for a constant angle and a sign.
   Returns the j that belongs to m. *negative: whether the element is negated. */
static vc_val vd__real_index_kind4(const vd__real *r, vc_val m, vc_val *negative) {
    /* j is a / 2 if a < 2 n, (4 n - a) / 2 if a < 4 n, otherwise (a - 4 n) / 2; a itself may exceed 32 bits */
    uint32_t half = (uint32_t)(r->n / 2), three_halves = (uint32_t)(3 * r->n / 2);
    vc_val low = vc_le(m, vc_u32((uint32_t)(r->n / 4))), middle = vc_le(m, vc_u32((uint32_t)(3 * r->n / 4)));
    vc_val doubled = vd__mul_u32(m, 2), falling = vc_sub(vc_u32(three_halves), doubled);
    vc_val rising = vd__sub_u32(doubled, three_halves + 1);
    *negative = vc_ne(vd__real_is_odd(m), vc_not(low));
    return vc_select(low, vd__add_u32(doubled, half), vc_select(middle, falling, rising));
}

/* vd__real_permuted in a kernel. */
static vc_val vd__real_index_permuted(const vd__real *r, vc_val t) {
    vc_val doubled = vd__mul_u32(t, 2);
    return vc_min(doubled, vc_sub(vc_u32(2 * (uint32_t)r->n - 1), doubled));
}

/* -- kernels: loading -- */

/* Wraps around and becomes large if the index is below start. */
static vc_val vd__real_from_start(vc_val index, uint64_t start) {
    return start ? vd__sub_u32(index, start) : index;
}

/* The element is one real or, if `two`, complex. reals: 2 if it consists of two neighbouring reals, otherwise 1.
   Elements that are not in memory are 0. */
static vc_val vd__real_load_element(const vd__fft_writer *w, vd__real_row row, vc_val index, uint32_t reals,
                                    bool two) {
    uint64_t filled = w->pass->end[0].count / reals;
    index = vd__real_from_start(index, w->pass->end[0].start / reals);
    vc_val at = vd__offset_at(row.base, index, w->pass->end[0].array.stride[0]), v;
    if (vd__fft_ignores_input(w)) {
        v = vc_const(w->k, vc_imm(w->real, 0));
        return two ? vc_splat(v, 2) : v;
    }
    if (filled) {
        vc_val zero = vc_const(w->k, vc_imm(w->stored[0], 0));
        v = vd__load_or(&w->in, at, vd__lt_u32(index, filled), two ? vc_splat(zero, 2) : zero);
    } else {
        v = vd__load(&w->in, at);
    }
    return w->stored[0] == w->real ? v : vc_cast(two ? vd__fft_complex_type(w->real) : w->real, v);
}

/* Returns 0 for elements that are not in memory, without calling the hook. is_real: only the real part is used. */
static vd__fft_c vd__real_apply_load_hook(const vd__fft_writer *w, vd__real_row row, vc_val index, vd__fft_c x,
                                          bool is_real) {
    uint64_t filled = w->pass->end[0].count;
    uint32_t parts = is_real ? 1 : 2;
    vc_ref part[2];
    if (!filled) return vd__real_apply_hook(w, false, row, index, x);
    for (uint32_t i = 0; i < parts; i++) part[i] = vc_var(w->k, i ? "im" : "re", w->real);
    VC_IF(w->k, vd__lt_u32(vd__real_from_start(index, w->pass->end[0].start), filled)) {
        x = vd__real_apply_hook(w, false, row, index, x);
        for (uint32_t i = 0; i < parts; i++) vd__set(&part[i], *vd__fft_component(&x, i));
    }
    return vd__fft_complex(vd__get(&part[0]), vd__get(&part[parts - 1]));
}

static vc_val vd__real_apply_load_hook_real(const vd__fft_writer *w, vd__real_row row, vc_val index, vc_val v) {
    if (!w->hook[0]) return v;
    return vd__real_apply_load_hook(w, row, index, vd__fft_complex(v, vc_const(w->k, vc_imm(w->real, 0))), true).re;
}

static vc_val vd__real_load_real(const vd__fft_writer *w, vd__real_row row, vc_val index) {
    return vd__real_apply_load_hook_real(w, row, index, vd__real_load_element(w, row, index, 1, false));
}

/* Loads the reals 2 i and 2 i + 1 of a row, which memory holds as one complex element. */
static vd__fft_c vd__real_load_two_reals(const vd__fft_writer *w, vd__real_row row, vc_val i) {
    vc_val v = vd__real_load_element(w, row, i, 2, true), even = vd__mul_u32(i, 2);
    vc_val re = vd__real_apply_load_hook_real(w, row, even, vc_component(v, 0));
    vc_val im = vd__real_apply_load_hook_real(w, row, vd__add_u32(even, 1), vc_component(v, 1));
    return vd__fft_complex(re, im);
}

/* Element t of the real sequence whose transform the complex transform computes. */
static vc_val vd__real_load_sequence(const vd__fft_writer *w, vd__real_row row, vc_val t) {
    const vd__real *r = &w->pass->real;
    uint32_t n = (uint32_t)r->n, length = 2 * (uint32_t)r->h;
    bool sine = vd__real_is_sine(r->kind);
    vc_val index, is_zero, v, negative;
    switch (vd__real_family(r->kind)) {
    case VD__REAL_DFT: return vd__real_load_real(w, row, t);
    case VD__REAL_I: /* the even (cosine) or odd (sine) extension to length 2 h */
        index = vc_min(t, vc_sub(vc_u32(length), t));
        if (!sine) return vd__real_load_real(w, row, index);
        is_zero = vc_or(vd__eq_u32(index, 0), vd__eq_u32(index, r->h));
        v = vd__real_load_real(w, row, vc_select(is_zero, vc_u32(0), vd__sub_u32(index, 1)));
        return vc_select(is_zero, vc_const(w->k, vd__fft_immediate(v, 0)),
                         vd__real_negate_if(vc_lt(vc_u32((uint32_t)r->h), t), v));
    case VD__REAL_II:
        index = vd__real_index_permuted(r, t);
        v = vd__real_load_real(w, row, index);
        return sine ? vd__real_negate_if(vd__real_is_odd(index), v) : v;
    default: /* kind IV of odd n: t = 2 m mod n */
        index = vd__real_index_kind4(r, vd__shr_u32(vc_select(vd__real_is_odd(t), vd__add_u32(t, n), t), 1), &negative);
        v = vd__real_load_real(w, row, sine ? vc_sub(vc_u32(n - 1), index) : index);
        return vd__real_negate_if(negative, v);
    }
}

/* Bin k of the half spectrum, 0 <= k <= n / 2. may_be_end: k may be 0 or n / 2, whose imaginary parts are ignored. */
static vd__fft_c vd__real_load_bin(const vd__fft_writer *w, vd__real_row row, vc_val k, bool may_be_end) {
    const vd__real *r = &w->pass->real;
    vd__fft_c x = vd__fft_from_vector(vd__real_load_element(w, row, k, 1, true));
    if (w->hook[0]) x = vd__real_apply_load_hook(w, row, k, x, false);
    vc_val im = x.im;
    if (may_be_end) {
        vc_val inner = vd__ne_u32(k, 0);
        if (r->n % 2 == 0) inner = vc_and(inner, vd__ne_u32(k, r->n / 2));
        im = vc_select(inner, im, vc_const(w->k, vd__fft_immediate(im, 0)));
    }
    return vd__fft_complex(x.re, im);
}

/* Input k of the inverse transform of kind III. Kind II multiplies bin k by a phase, and stores the real part of the
   product as element k (sine: n - 1 - k) and its negated imaginary part as element n - k (sine: k - 1). This function
   reverses these steps. may_be_zero: k may be 0, for which the second element does not exist. */
static vd__fft_c vd__real_load_bin_kind3(const vd__fft_writer *w, vd__real_row row, vc_val k, bool may_be_zero) {
    const vd__real *r = &w->pass->real;
    bool sine = vd__real_is_sine(r->kind);
    uint32_t n = (uint32_t)r->n;
    vc_val upper = vc_sub(vc_u32(n), may_be_zero ? vc_max(k, vc_u32(1)) : k);
    vc_val re = vd__real_load_real(w, row, sine ? vc_sub(vc_u32(n - 1), k) : k);
    vc_val im = vd__real_load_real(w, row, sine ? vc_sub(vc_u32(n - 1), upper) : upper);
    if (may_be_zero) im = vc_select(vd__eq_u32(k, 0), vc_const(w->k, vd__fft_immediate(im, 0)), im);
    return vd__fft_mul(vd__fft_complex(re, vc_neg(im)), vd__real_conj(vd__fft_load_root(w, k, r->phase_table)));
}

static vd__fft_c vd__real_load_bin_half(const vd__fft_writer *w, vd__real_row row, vc_val k, bool may_be_zero) {
    return vd__real_family(w->pass->real.kind) == VD__REAL_III ? vd__real_load_bin_kind3(w, row, k, may_be_zero)
                                                               : vd__real_load_bin(w, row, k, may_be_zero);
}

/* Bin k of an inverse transform of full length, 0 <= k < n. For VD_FFT_REAL, bins above n / 2 are the conjugates of
   stored bins. */
static vd__fft_c vd__real_load_bin_full(const vd__fft_writer *w, vd__real_row row, vc_val k, bool may_be_end) {
    const vd__real *r = &w->pass->real;
    vc_val upper = vc_sub(vc_u32((uint32_t)r->n), k);
    if (vd__real_family(r->kind) == VD__REAL_III) return vd__real_load_bin_kind3(w, row, k, may_be_end);
    vd__fft_c bin = vd__real_load_bin(w, row, vc_min(k, upper), may_be_end);
    return vd__fft_complex(bin.re, vd__real_negate_if(vc_lt(upper, k), bin.im));
}

/* Input i of a transform of full length. The imaginary part of a single row is an immediate of 0, so that butterflies
   omit operations on it. */
static vd__fft_c vd__real_load_input_full(const vd__fft_writer *w, const vd__real_rows *rows, vc_val i,
                                          bool may_be_end) {
    vd__fft_c a;
    if (!w->pass->real.inverse) {
        a.re = vd__real_load_sequence(w, rows->row[0], i);
        a.im = rows->count == 2 ? vd__real_load_sequence(w, rows->row[1], i) : vd__fft_immediate(a.re, 0);
        return a;
    }
    a = vd__real_load_bin_full(w, rows->row[0], i, may_be_end);
    if (rows->count == 1) return a;
    vd__fft_c b = vd__real_load_bin_full(w, rows->row[1], i, may_be_end);
    return vd__fft_complex(vc_sub(a.re, b.im), vc_add(a.im, b.re));
}

/* Input i of the complex transform. may_be_end: i may be 0 or, at full length, n / 2. */
static vd__fft_c vd__real_load_input(const vd__fft_writer *w, const vd__real_rows *rows, vc_val i, bool may_be_end) {
    const vd__real *r = &w->pass->real;
    vd__real_row row = rows->row[0];
    vc_val even = vd__mul_u32(i, 2), re, im;
    if (!r->half_length) return vd__real_load_input_full(w, rows, i, may_be_end);
    if (vd__real_family(r->kind) == VD__REAL_IV) {
        vc_val other = vc_sub(vc_u32((uint32_t)r->n - 1), even);
        bool sine = vd__real_is_sine(r->kind);
        re = vd__real_load_real(w, row, sine ? other : even);
        im = vd__real_load_real(w, row, sine ? even : other);
        return vd__fft_mul(vd__fft_complex(re, im), vd__fft_load_root(w, i, r->phase_table));
    }
    if (!r->inverse) {
        if (!w->pass->end[0].scalar) return vd__real_load_two_reals(w, row, i);
        re = vd__real_load_sequence(w, row, even);
        im = vd__real_load_sequence(w, row, vd__add_u32(even, 1));
        return vd__fft_complex(re, im);
    }
    vd__fft_c lower = vd__real_load_bin_half(w, row, i, may_be_end);
    vd__fft_c upper = vd__real_conj(
        vd__real_load_bin_half(w, row, vc_sub(vc_u32((uint32_t)r->h), i), may_be_end && r->kind == VD_FFT_REAL));
    vd__fft_c sum = vd__fft_add(lower, upper);
    vd__fft_c twiddled = vd__fft_mul(vd__fft_sub(lower, upper), vd__real_conj(vd__fft_load_root(w, i, r->split_table)));
    return vd__fft_complex(vc_sub(sum.re, twiddled.im), vc_add(sum.im, twiddled.re));
}

static vd__fft_c vd__real_times_chirp(const vd__fft_writer *w, vd__fft_c x, vc_val i, bool applies) {
    return applies ? vd__fft_mul(x, vd__fft_load_root(w, i, w->pass->tables.chirp)) : x;
}

/* Lowest index of the elements from which inputs first … last of the complex transform are computed; for kinds III
   (sine) and IV only a lower bound, 0. */
static uint64_t vd__real_lowest_index(const vd__real *r, uint64_t first, uint64_t last) {
    uint32_t family = vd__real_family(r->kind);
    uint64_t low, high;
    if (family == VD__REAL_IV || (family == VD__REAL_III && vd__real_is_sine(r->kind))) return 0;
    if (r->inverse) low = first, high = r->h - last; /* the bin and its mirror image */
    else if (family == VD__REAL_DFT) low = high = r->half_length ? 2 * first : first;
    else if (family == VD__REAL_I) low = 2 * first, high = 2 * r->h - (2 * last + 1);
    else if (r->half_length) low = 4 * first, high = 2 * r->n - 1 - 2 * (2 * last + 1);
    else low = 2 * first, high = 2 * r->n - 1 - 2 * last;
    low = low < high ? low : high;
    return family == VD__REAL_I && vd__real_is_sine(r->kind) && low ? low - 1 : low;
}

/* Whether element j of every butterfly is 0, because it depends only on elements at the end that do not exist in
   memory. */
static bool vd__real_is_unfilled(const vd__fft_writer *w, const vd__fft_stage_info *g, uint32_t j) {
    const vd__real *r = &w->pass->real;
    const vd__fft_end *in = &w->pass->end[0];
    uint64_t parts = in->part ? in->part : 1, first = j * g->read_stride * parts,
             last = (j + 1) * g->read_stride * parts - 1;
    return in->count && vd__real_lowest_index(r, first, last < r->h ? last : r->h - 1) >= in->start + in->count;
}

static void vd__real_load_all(vd__fft_writer *w) {
    const vd__real *r = &w->pass->real;
    vd__fft_stage_info g = vd__fft_stage_info_of(w->shape, 0, 0);
    uint32_t parts = w->pass->end[0].part;
    /* Bluestein's algorithm: inputs from this index on are zero padding; 0: another algorithm */
    uint32_t chirp_length = w->pass->chirp.n ? (uint32_t)w->pass->chirp.n : w->pass->bluestein_length;
    uint64_t step = (uint64_t)g.read_stride * (parts ? parts : 1);
    vc_val block, exists;
    vd__real_rows rows;
    bool partly;
    vc_val q = vd__fft_transform_of_thread(w, &block, &exists, &partly);
    rows = vd__real_rows_of(w, 0, q, block);
    for (uint32_t u = 0; u < g.butterflies; u++) {
        vc_val b = vd__fft_butterfly_index_clamped(w, &g, u), zero = vc_const(w->k, vc_imm(w->real, 0));
        for (uint32_t j = 0; j < g.radix; j++) {
            vd__fft_c *x = &w->x[u * g.radix + j];
            bool padding = chirp_length && (j + 1) * step > chirp_length;
            vc_val index = vd__real_index_of_part(&rows, vd__add_u32(b, j * g.read_stride));
            vc_val i = padding ? vd__min_u32(index, chirp_length - 1) : index;
            *x = vd__fft_complex(zero, zero);
            if (chirp_length && j * step >= chirp_length) continue;
            if (vd__real_is_unfilled(w, &g, j)) {
                *x = vd__fft_complex(vc_imm(w->real, 0), vc_imm(w->real, 0));
                continue;
            }
            bool has_middle = !r->half_length && r->n % 2 == 0 && j * step <= r->n / 2 && r->n / 2 < (j + 1) * step;
            *x = vd__real_load_input(w, &rows, i, (j == 0 && u == 0) || has_middle);
            if (w->inverse) *x = vd__fft_swap(*x);
            *x = vd__real_times_chirp(w, *x, i, chirp_length != 0);
            if (padding)
                *x = vd__fft_complex(vc_select(vd__lt_u32(index, chirp_length), x->re, zero),
                                     vc_select(vd__lt_u32(index, chirp_length), x->im, zero));
        }
    }
}

/* -- kernels: storing -- */

static void vd__real_write_complex(const vd__fft_writer *w, vd__real_row row, vc_val at, vd__fft_c x) {
    if (!x.re.owner && !x.im.owner) return; /* the store hook stores nothing */
    vc_val v = vc_vec2(x.re, x.im);
    if (w->stored[1] != w->real) v = vc_cast(vd__fft_complex_type(w->stored[1]), v);
    vd__store(&w->out, vd__offset_at(row.base, at, w->pass->end[1].array.stride[0]), v);
}

static vc_val vd__real_is_stored(const vd__fft_writer *w, vc_val index) {
    const vd__fft_end *out = &w->pass->end[1];
    index = vd__real_from_start(index, out->start);
    return out->count ? vd__lt_u32(index, out->count) : vc_bool(true);
}

/* Stores x * factor * scale as complex element k of a row, after the store hook. */
static void vd__real_store_complex(const vd__fft_writer *w, vd__real_row row, vc_val k, vd__fft_c x, double factor) {
    VD__FFT_IF(w, w->pass->end[1].count, vd__real_is_stored(w, k)) {
        vd__fft_c y = vd__real_scaled(x, factor * w->scale);
        if (w->hook[1]) y = vd__real_apply_hook(w, true, row, k, y);
        vd__real_write_complex(w, row, vd__real_from_start(k, w->pass->end[1].start), y);
    }
}

/* The result of the store hook for x * factor * scale, real element k of a row. No owner: nothing is stored. */
static vc_val vd__real_apply_store_hook(const vd__fft_writer *w, vd__real_row row, vc_val k, vc_val x, double factor) {
    factor *= w->scale;
    if (factor != 1) x = vc_mul(x, vd__fft_immediate(x, factor));
    if (!w->hook[1]) return x;
    return vd__real_apply_hook(w, true, row, k, vd__fft_complex(x, vc_const(w->k, vc_imm(w->real, 0)))).re;
}

/* Stores x * factor * scale as real element k of a row, after the store hook, if k is in memory. */
static void vd__real_store_real(const vd__fft_writer *w, vd__real_row row, vc_val k, vc_val x, double factor) {
    VD__FFT_IF(w, w->pass->end[1].count, vd__real_is_stored(w, k)) {
        vc_val y = vd__real_apply_store_hook(w, row, k, x, factor);
        if (y.owner && w->stored[1] != w->real) y = vc_cast(w->stored[1], y);
        k = vd__real_from_start(k, w->pass->end[1].start);
        if (y.owner) vd__store(&w->out, vd__offset_at(row.base, k, w->pass->end[1].array.stride[0]), y);
    }
}

/* Stores x * scale as reals 2 i and 2 i + 1 of a row, after applying the store hook. Memory holds them as one complex
   element, and start and count are even. */
static void vd__real_store_two_reals(const vd__fft_writer *w, vd__real_row row, vc_val i, vd__fft_c x) {
    vc_val even = vd__mul_u32(i, 2);
    VD__FFT_IF(w, w->pass->end[1].count, vd__real_is_stored(w, even)) {
        vc_val re = vd__real_apply_store_hook(w, row, even, x.re, 1);
        vc_val im = vd__real_apply_store_hook(w, row, vd__add_u32(even, 1), x.im, 1);
        i = vd__real_from_start(i, w->pass->end[1].start / 2);
        vd__real_write_complex(w, row, i, vd__fft_complex(re, im));
    }
}

/* Kind IV of odd length: multiplies bin l by exp(-i pi n / 4) and stores the real part of the product. x is bin l or,
   with negative_bin, its conjugate, bin -l. */
static void vd__real_store_kind4(const vd__fft_writer *w, vd__real_row row, vc_val l, vd__fft_c x, bool negative_bin,
                                 double factor) {
    const vd__real *r = &w->pass->real;
    double c, s;
    vc_val negative, at = vd__real_index_kind4(r, l, &negative);
    vd__fft_root(r->n % 8, 8, &c, &s);
    vc_val v = vc_fma(x.im, vd__fft_immediate(x.im, negative_bin ? -s : s), vc_mul(x.re, vd__fft_immediate(x.re, c)));
    if (vd__real_is_sine(r->kind)) negative = vc_ne(negative, vd__real_is_odd(at));
    vd__real_store_real(w, row, at, vd__real_negate_if(negative, v), factor);
}

/* Stores the two elements that result i of a half-length transform determines, for inverse transforms and kind IV. */
static void vd__real_store_half_length(const vd__fft_writer *w, vd__real_row row, vc_val i, vd__fft_c x) {
    const vd__real *r = &w->pass->real;
    uint32_t family = vd__real_family(r->kind), n = (uint32_t)r->n;
    vc_val even = vd__mul_u32(i, 2), odd = vd__add_u32(even, 1), at[2];
    bool permuted = family == VD__REAL_III, sine = vd__real_is_sine(r->kind);
    if (family == VD__REAL_IV) {
        x = vd__fft_mul(x, vd__fft_load_root(w, i, r->phase_table));
        vd__real_store_real(w, row, even, x.re, 2);
        vd__real_store_real(w, row, vc_sub(vc_u32(n - 1), even), x.im, sine ? 2 : -2);
        return;
    }
    if (!w->pass->end[1].scalar) {
        vd__real_store_two_reals(w, row, i, x);
        return;
    }
    at[0] = permuted ? vd__real_index_permuted(r, even) : even;
    at[1] = permuted ? vd__real_index_permuted(r, odd) : odd;
    vd__real_store_real(w, row, at[0], sine ? vd__real_negate_if(vd__real_is_odd(at[0]), x.re) : x.re, 1);
    vd__real_store_real(w, row, at[1], sine ? vd__real_negate_if(vd__real_is_odd(at[1]), x.im) : x.im, 1);
}

/* Stores result i of an inverse transform of full length: one real element of each row. */
static void vd__real_store_inverse_full(const vd__fft_writer *w, const vd__real_rows *rows, vc_val i, vd__fft_c x) {
    const vd__real *r = &w->pass->real;
    bool permuted = r->kind != VD_FFT_REAL, sine = vd__real_is_sine(r->kind);
    vc_val at = permuted ? vd__real_index_permuted(r, i) : i;
    vd__real_store_real(w, rows->row[0], at, sine ? vd__real_negate_if(vd__real_is_odd(at), x.re) : x.re, 1);
    if (rows->count != 2) return;
    VD__FFT_IF(w, !rows->even, rows->second) {
        vd__real_store_real(w, rows->row[1], at, sine ? vd__real_negate_if(vd__real_is_odd(at), x.im) : x.im, 1);
    }
}

static void vd__real_store_bin_full(const vd__fft_writer *w, vd__real_row row, vc_val i, vd__fft_c x) {
    const vd__real *r = &w->pass->real;
    uint32_t n = (uint32_t)r->n;
    switch (vd__real_family(r->kind)) {
    case VD__REAL_DFT: vd__real_store_complex(w, row, i, x, 1); break;
    case VD__REAL_II:
        x = vd__fft_mul(x, vd__fft_load_root(w, i, r->phase_table));
        vd__real_store_real(w, row, vd__real_is_sine(r->kind) ? vc_sub(vc_u32(n - 1), i) : i, x.re, 2);
        break;
    default: vd__real_store_kind4(w, row, i, x, false, 2);
    }
}

/* Only without a fold. */
static void vd__real_store_result(const vd__fft_writer *w, const vd__real_rows *rows, vc_val i, vd__fft_c x) {
    const vd__real *r = &w->pass->real;
    x = vd__real_times_chirp(w, x, i, w->pass->bluestein_length != 0);
    if (w->inverse) x = vd__fft_swap(x);
    if (w->pass->chirp.n) x = vd__fft_times_last_chirp(w, x, vd__fft_load_root(w, i, w->pass->tables.chirp));
    if (r->half_length) vd__real_store_half_length(w, rows->row[0], i, x);
    else if (r->inverse) vd__real_store_inverse_full(w, rows, i, x);
    else vd__real_store_bin_full(w, rows->row[0], i, x);
}

/* Number of results of the complex transform that are stored. Of VD_FFT_REAL at full length, only bins 0 to n / 2 are,
   because the others are their conjugates. Of the convolution of Bluestein's algorithm, only the first h results are
   those of the transform. */
static uint64_t vd__real_result_count(const vd__real *r) {
    return r->kind == VD_FFT_REAL && !r->half_length && !r->inverse ? r->n / 2 + 1 : r->h;
}

static void vd__real_store_butterfly(const vd__fft_writer *w, const vd__fft_stage_info *g, const vd__real_rows *rows,
                                     vc_val b, const vd__fft_c *x) {
    uint64_t count = vd__real_result_count(&w->pass->real), parts = rows->parts ? rows->parts : 1;
    uint64_t step = (uint64_t)g->read_stride * parts;
    for (uint32_t j = 0; j < g->radix && j * step < count; j++) {
        vc_val i = vd__real_index_of_part(rows, vd__add_u32(b, j * g->read_stride));
        VD__FFT_IF(w, (j + 1) * step > count, vd__lt_u32(i, count)) {
            vd__real_store_result(w, rows, i, x[j]);
        }
    }
}

static void vd__real_store_all(vd__fft_writer *w, const vd__fft_stage_info *g) {
    vc_val block, exists;
    vd__real_rows rows;
    bool group_partly, partly;
    vc_val q = vd__fft_transform_of_thread(w, &block, &exists, &group_partly);
    rows = vd__real_rows_of(w, 1, q, block);
    for (uint32_t u = 0; u < g->butterflies; u++) {
        vc_val b = vd__fft_butterfly_index(w, g, u, &partly), active = exists;
        if (partly) active = vc_and(active, vd__lt_u32(b, g->read_stride));
        VD__FFT_IF(w, group_partly || partly, active) {
            vd__real_store_butterfly(w, g, &rows, b, &w->x[u * g->radix]);
        }
    }
}

/* -- kernels: folds of bins with their mirror images -- */

/* Stores the elements that bin k of a row determines. p: k or h - k, whichever is lower. may_be_zero: p may be 0. */
static void vd__real_store_bin(const vd__fft_writer *w, vd__real_row row, vc_val k, vd__fft_c x, vc_val p,
                               bool may_be_zero) {
    const vd__real *r = &w->pass->real;
    uint32_t n = (uint32_t)r->n;
    bool sine = vd__real_is_sine(r->kind);
    /* Pair 0 (bins 0 and h): a bin of DST1 determines no element, a bin of kinds II and IV only one instead of two. */
    vc_val inner = vd__ne_u32(p, 0);
    switch (vd__real_family(r->kind)) {
    case VD__REAL_DFT: vd__real_store_complex(w, row, k, x, 0.5); break;
    case VD__REAL_I:
        if (!sine) vd__real_store_real(w, row, k, x.re, 0.5);
        else VD__FFT_IF(w, may_be_zero, inner) { vd__real_store_real(w, row, vd__sub_u32(k, 1), x.im, -0.5); }
        break;
    case VD__REAL_II:
        x = vd__fft_mul(x, vd__fft_load_root(w, k, r->phase_table));
        vd__real_store_real(w, row, sine ? vc_sub(vc_u32(n - 1), k) : k, x.re, 1);
        VD__FFT_IF(w, may_be_zero, inner) {
            vd__real_store_real(w, row, sine ? vd__sub_u32(k, 1) : vc_sub(vc_u32(n), k), x.im, -1);
        }
        break;
    default:
        vd__real_store_kind4(w, row, k, x, false, 1);
        VD__FFT_IF(w, may_be_zero, inner) { vd__real_store_kind4(w, row, vc_sub(vc_u32(n), k), x, true, 1); }
    }
}

/* Folds x and y, the results p and h - p of the complex transform, and stores the bins: two bins of one row, or one bin
   of each of two packed rows. may_be_zero: p may be 0, and y is then result 0, too; may_be_middle: p may be h - p. */
static void vd__real_fold_pair(const vd__fft_writer *w, const vd__real_rows *rows, vc_val p, vd__fft_c x, vd__fft_c y,
                               bool may_be_zero, bool may_be_middle) {
    const vd__real *r = &w->pass->real;
    const vd__fft_end *out = &w->pass->end[1];
    vd__fft_c even = vd__fft_complex(vc_add(x.re, y.re), vc_sub(x.im, y.im));
    vd__fft_c odd = vd__fft_complex(vc_add(x.im, y.im), vc_sub(y.re, x.re));
    vc_val upper = vc_sub(vc_u32((uint32_t)r->h), p);
    if (r->half_length) {
        odd = vd__fft_mul(odd, vd__fft_load_root(w, p, r->split_table));
        vd__real_store_bin(w, rows->row[0], p, vd__fft_add(even, odd), p, may_be_zero);
        /* bins h - p, which are at least h - h / 2, are beyond the stored ones */
        if (r->kind == VD_FFT_REAL && out->count && out->start + out->count <= r->h - r->h / 2) return;
        VD__FFT_IF(w, may_be_middle, vc_ne(p, upper)) {
            vd__real_store_bin(w, rows->row[0], upper, vd__real_conj(vd__fft_sub(even, odd)), p, may_be_zero);
        }
    } else {
        vd__real_store_bin(w, rows->row[0], p, even, p, may_be_zero);
        VD__FFT_IF(w, !rows->even, rows->second) { vd__real_store_bin(w, rows->row[1], p, odd, p, may_be_zero); }
    }
}

static void vd__real_store_shared(vd__fft_writer *w, const vd__fft_stage_info *g, uint32_t component) {
    uint32_t constant;
    for (uint32_t u = 0; u < g->butterflies; u++) {
        bool partly;
        vc_val b = vd__fft_butterfly_index(w, g, u, &partly), active = vd__lt_u32(b, g->read_stride);
        VD__FFT_IF(w, partly, active) {
            for (uint32_t j = 0; j < g->radix; j++) {
                vc_val slot = vd__fft_shared_address(w, b, j, g->read_stride, g->radix, &constant);
                vd__store_from(&w->shared[component], constant, slot,
                               component ? w->x[u * g->radix + j].im : w->x[u * g->radix + j].re);
            }
        }
    }
}

/* The results p and h - p of each pair p that a thread folds. */
typedef struct vd__real_pairs { vd__fft_c lower[VD__FFT_MAX_VALUES], upper[VD__FFT_MAX_VALUES]; } vd__real_pairs;

static vc_val vd__real_pair_index(const vd__fft_writer *w, uint32_t u) {
    return vd__add_u32(w->thread[w->columns], u * w->shape->threads);
}

static void vd__real_load_pairs(const vd__fft_writer *w, vd__real_pairs *to, uint32_t count, uint32_t component) {
    uint32_t constant, h = (uint32_t)w->pass->real.h, pairs = h / 2 + 1;
    for (uint32_t u = 0; u < count; u++) {
        vc_val p = vd__real_pair_index(w, u);
        if ((u + 1) * w->shape->threads > pairs) p = vd__min_u32(p, pairs - 1);
        vc_val upper = vc_sub(vc_u32(h), p);
        if (u == 0) upper = vc_select(vd__eq_u32(p, 0), p, upper);
        vc_val x = vd__load(&w->shared[component], vd__fft_shared_address(w, p, 0, 0, 1, &constant));
        vc_val y = vd__load(&w->shared[component], vd__fft_shared_address(w, upper, 0, 0, 1, &constant));
        if (component) { to->lower[u].im = x; to->upper[u].im = y; } else { to->lower[u].re = x; to->upper[u].re = y; }
    }
}

static void vd__real_store_pairs(vd__fft_writer *w, const vd__real_pairs *pairs, uint32_t count) {
    uint32_t threads = w->shape->threads, h = (uint32_t)w->pass->real.h, pair_count = h / 2 + 1;
    uint64_t end = w->pass->end[1].start + w->pass->end[1].count;
    vc_val block, exists;
    vd__real_rows rows;
    bool group_partly;
    vc_val q = vd__fft_transform_of_thread(w, &block, &exists, &group_partly);
    rows = vd__real_rows_of(w, 1, q, block);
    for (uint32_t u = 0; u < count; u++) {
        bool partly = (u + 1) * threads > pair_count, may_be_middle = h % 2 == 0 && h / 2 / threads == u;
        vc_val p = vd__real_pair_index(w, u), active = exists;
        if (partly) active = vc_and(active, vd__lt_u32(p, pair_count));
        /* skips pairs of which no bin is stored: their lower bins are u * threads or more, the upper ones h - h / 2 */
        if (w->pass->real.kind == VD_FFT_REAL && w->pass->end[1].count && u * threads >= end && end <= h - h / 2)
            continue;
        VD__FFT_IF(w, group_partly || partly, active) {
            vd__real_fold_pair(w, &rows, p, pairs->lower[u], pairs->upper[u], u == 0, may_be_middle);
        }
    }
}

static void vd__real_fold_in_group(vd__fft_writer *w, const vd__fft_stage_info *g) {
    uint32_t parts = w->shape->split_components ? 2 : 1, h = (uint32_t)w->pass->real.h;
    uint32_t count = (h / 2 + w->shape->threads) / w->shape->threads;
    vd__real_pairs pairs;
    w->pad = vd__fft_no_pad; /* no padding needed: consecutive threads access consecutive elements */
    for (uint32_t u = 0; w->pass->bluestein_length && u < g->butterflies; u++) {
        vc_val b = vd__fft_butterfly_index_clamped(w, g, u);
        for (uint32_t j = 0; j < g->radix; j++)
            w->x[u * g->radix + j] = vd__real_times_chirp(w, w->x[u * g->radix + j],
                                                          vd__min_u32(vd__add_u32(b, j * g->read_stride), h - 1),
                                                          true);
    }
    for (uint32_t u = 0; u < count && vd__fft_is_one_thread(w->shape); u++) { /* the thread holds all results */
        pairs.lower[u] = w->x[u];
        pairs.upper[u] = w->x[u ? h - u : 0];
    }
    for (uint32_t part = 0; part < parts && !vd__fft_is_one_thread(w->shape); part++) {
        if (w->half_in_use[0]) vd__fft_barrier(w);
        vd__real_store_shared(w, g, part);
        if (parts == 1) vd__real_store_shared(w, g, 1);
        vd__fft_barrier(w);
        vd__real_load_pairs(w, &pairs, count, part);
        if (parts == 1) vd__real_load_pairs(w, &pairs, count, 1);
        w->half_in_use[0] = true;
    }
    vd__real_store_pairs(w, &pairs, count);
}

static vd__fft_c vd__real_load_stored(const vd__fft_writer *w, vc_val base, vc_val k) {
    return vd__fft_from_vector(vd__load(&w->in, vd__offset_at(base, k, w->pass->end[0].array.stride[0])));
}

/* One pair of bins for each thread. */
static void vd__real_fold_in_memory(vd__fft_writer *w) {
    uint32_t h = (uint32_t)w->pass->real.h, pairs = h / 2 + 1;
    uint64_t count = w->pass->end[0].array.transform.product * pairs;
    vc_type type = vd__fft_type_of_indices(count);
    vc_val i = vd__plan_thread(w->k, type, w->shape->threads);
    VC_IF(w->k, vc_lt(i, vc_imm(type, count))) {
        vc_val p = vc_cast(VC_U32, vc_rem(i, vc_imm(type, pairs)));
        vc_val row = vc_cast(VC_U32, vc_div(i, vc_imm(type, pairs)));
        vc_val base = vd__fft_base_offset(&w->pass->end[0].array, row, vc_u32(0), vd__fft_offset_type(w, false));
        vd__real_rows rows = vd__real_rows_of(w, 1, row, vc_u32(0));
        vc_val upper = vc_select(vd__eq_u32(p, 0), p, vc_sub(vc_u32(h), p));
        vd__fft_c x = vd__real_load_stored(w, base, p), y = vd__real_load_stored(w, base, upper);
        vd__real_fold_pair(w, &rows, p, x, y, true, h % 2 == 0);
    }
}

// >>reduce
/* Reductions over any axes, in one dispatch. A work-group reduces a part of the elements of one result, or of a row of
   neighbouring results. If several work-groups share a result, each stores a partial result and increments a counter,
   the ticket; the work-group that increments it last combines the partial results. Threads accumulate states of one to
   three fields.

   Short rows are staged: a work-group copies consecutive blocks of memory to shared memory with 16-byte loads, even if
   rows do not begin at multiples of 16 bytes, and reduces the rows there. A block contains all elements of one or more
   results. A cell is an entry of the array in shared memory: an element of 32 or 64 bits, or a 32-bit word of several
   smaller elements; rows may begin within a word. Padding after every 32 cells avoids bank conflicts. Threads, blocks
   and padding are chosen by vd__reduce_staging_cost.

   Rounding errors grow with the number of operations between an element and its result. Therefore a thread accumulates
   states in chains. It merges the elements of one step, up to VD__REDUCE_IN_FLIGHT, into one state, and this state into
   level 0. After VD__REDUCE_CHAIN states, level 0 is merged into level 1 and cleared; after VD__REDUCE_CHAIN of these,
   level 1 is merged into level 2, and so on. The elements of one step (but see vd__reduce_variance_of), and the
   states of the threads, are merged by a binary tree. The error of a sum of n >= 2 elements is below 4 eps log2(n)
   times the sum of their magnitudes, where eps is the distance from 1 to the next larger number. Variances are
   computed from differences from the first element of a result, which avoids cancellation if the mean is large
   compared with the standard deviation. */

enum {
    VD__REDUCE_LANES = 32,        /* neighbouring results per work-group */
    VD__REDUCE_FIELDS = 3,        /* maximum fields of a state */
    VD__REDUCE_IN_FLIGHT = 16,    /* elements that a thread loads at a time */
    VD__REDUCE_CHAIN = 32,        /* states per chain, a power of two */
    VD__REDUCE_LEVELS = 5,        /* maximum levels of chains */
    VD__REDUCE_STAGE_LOADS = 16,  /* staging: maximum 16-byte loads of a thread for each input */
    VD__REDUCE_CELL_BYTES = 24576, /* staging: maximum bytes of shared memory for cells, without padding */
    VD__REDUCE_PASSES = 32,       /* staging: maximum results per thread */
    VD__REDUCE_INDEX_BITS = 13    /* of the index in a key */
};

struct vd_reduce {
    vd_plan base;
    vd_reduce_desc desc;
    vd__digits kept, reduced; /* the axes that are not reduced, and those that are */
    bool columns;            /* the innermost axis is not reduced: neighbouring results have neighbouring elements */
    uint32_t threads;        /* threads per work-group */
    uint32_t lanes;          /* neighbouring results that a work-group reduces at a time, by neighbouring threads */
    uint32_t parts;          /* number of work-groups that share a result */
    uint64_t tiles;          /* number of groups of results, each of which is reduced by `parts` work-groups */
    uint32_t vector;         /* elements per vector load; 1: only scalar loads */
    uint32_t blocks;         /* staging: blocks per work-group; 0: no staging */
    uint32_t stage_loads;    /* staging: loads per thread */
    uint32_t cell_elements;  /* staging: elements per cell */
    uint32_t cell_padding;   /* staging: unused cells after every 32 */
    bool shifts_pairs;       /* staging: words that begin within a cell are shifted out of two cells by one u64 shift */
    bool keyed;              /* staging: argmin and argmax of small elements: a state is one integer, a key */
    vd_plan_kernel kernels[2]; /* with scalar loads, with vector loads */
    vd_buffer partials, tickets;
    vd_plan_fragment map, combine;
};

typedef enum vd__reduce_role {
    VD__REDUCE_IN, VD__REDUCE_IN_B, VD__REDUCE_OFFSETS, VD__REDUCE_EXTRA_OUT, VD__REDUCE_OUT, VD__REDUCE_PARTIALS,
    VD__REDUCE_TICKETS, VD__REDUCE_ROLES
} vd__reduce_role;

/* Maximum number of elements, of results, and of elements with 32-bit indices (a test defines a lower one). With
   segments, the maximum of results is also that of elements. */
#define VD__REDUCE_ELEMENTS (1ull << 40)
#define VD__REDUCE_RESULTS (1ull << 31)
#ifndef VD__REDUCE_NARROW
#define VD__REDUCE_NARROW (1ull << 31)
#endif

/* The digits with strides in units of n elements. inner: the last digit, which must have stride 1, counts units, too.
   */
static vd__digits vd__digits_in_units(const vd__digits *d, uint32_t n, bool inner) {
    vd__digits units = *d;
    for (uint32_t i = 0; i < units.count && n > 1; i++) units.stride[i] /= n;
    if (!inner || n == 1) return units;
    units.stride[units.count - 1] = 1;
    units.size[units.count - 1] /= n;
    units.product /= n;
    return units;
}

/* Properties of an operation. */
typedef struct vd__reduce_op_info {
    vc_combine combine_op;   /* operation for vc_group_reduce; VC_COMBINE_NONE: states are merged in shared memory */
    uint32_t fields;         /* number of fields of a state */
    uint32_t accepts;        /* accepted element types: bits of VD__ACCEPTS_ */
    bool in_floats;          /* states and results are f32 or f64, even for integers */
} vd__reduce_op_info;

enum { VD__ACCEPTS_BOOL = 1, VD__ACCEPTS_INTEGER = 2, VD__ACCEPTS_FLOAT = 4, VD__ACCEPTS_NUMBER = 6 };

static const vd__reduce_op_info vd__reduce_op_table[] = {
    { VC_ADD, 1, VD__ACCEPTS_NUMBER, false },                   /* default */
    { VC_ADD, 1, VD__ACCEPTS_NUMBER, false },                   /* sum */
    { VC_MUL, 1, VD__ACCEPTS_NUMBER, false },                   /* product */
    { VC_MIN, 1, VD__ACCEPTS_NUMBER, false },                   /* min */
    { VC_MAX, 1, VD__ACCEPTS_NUMBER, false },                   /* max */
    { VC_AND, 1, VD__ACCEPTS_INTEGER | VD__ACCEPTS_BOOL, false },/* and */
    { VC_OR, 1, VD__ACCEPTS_INTEGER | VD__ACCEPTS_BOOL, false },/* or */
    { VC_XOR, 1, VD__ACCEPTS_INTEGER | VD__ACCEPTS_BOOL, false },/* xor */
    { VC_OR, 1, VD__ACCEPTS_NUMBER | VD__ACCEPTS_BOOL, false }, /* any */
    { VC_AND, 1, VD__ACCEPTS_NUMBER | VD__ACCEPTS_BOOL, false },/* all */
    { VC_COMBINE_NONE, 2, VD__ACCEPTS_NUMBER, false },          /* argmin: value, index */
    { VC_COMBINE_NONE, 2, VD__ACCEPTS_NUMBER, false },          /* argmax: value, index */
    { VC_ADD, 1, VD__ACCEPTS_NUMBER, false },                   /* dot */
    { VC_ADD, 1, VD__ACCEPTS_NUMBER, true },                    /* norm: sum of squares */
    { VC_ADD, 1, VD__ACCEPTS_NUMBER, true },                    /* mean: sum */
    { VC_COMBINE_NONE, 3, VD__ACCEPTS_NUMBER, true },           /* variance: mean, squared distances, count */
};

static const char *vd__reduce_op_name(vd_reduce_op op) {
    static const char *const names[] = {
        "VD_REDUCE_DEFAULT", "VD_REDUCE_SUM", "VD_REDUCE_PRODUCT", "VD_REDUCE_MIN", "VD_REDUCE_MAX", "VD_REDUCE_AND",
        "VD_REDUCE_OR", "VD_REDUCE_XOR", "VD_REDUCE_ANY", "VD_REDUCE_ALL", "VD_REDUCE_ARGMIN", "VD_REDUCE_ARGMAX",
        "VD_REDUCE_DOT", "VD_REDUCE_NORM", "VD_REDUCE_MEAN", "VD_REDUCE_VARIANCE"
    };
    return (uint32_t)op < sizeof names / sizeof *names ? names[op] : "invalid";
}

static const vd__reduce_op_info *vd__reduce_info_of(const vd_reduce_desc *d) {
    static const vd__reduce_op_info custom = { VC_COMBINE_NONE, 1, VD__ACCEPTS_NUMBER, false };
    return d->combine.build ? &custom : &vd__reduce_op_table[d->op];
}

static const vd__reduce_op_info *vd__reduce_plan_info(const vd_reduce *p) {
    static const vd__reduce_op_info keys = { VC_MIN, 1, VD__ACCEPTS_NUMBER, false };
    return p->keyed ? &keys : vd__reduce_info_of(&p->desc);
}

static bool vd__reduce_is_arg(vd_reduce_op op) { return op == VD_REDUCE_ARGMIN || op == VD_REDUCE_ARGMAX; }
/* Results are bools. */
static bool vd__reduce_is_test(vd_reduce_op op) { return op == VD_REDUCE_ANY || op == VD_REDUCE_ALL; }

/* Elements of less than 32 bits are widened to 32 bits before they are combined. */
static vc_type vd__reduce_widened_type(vd_type type) {
    if (type == VD_F16) return VC_F32;
    if (type == VD_I8 || type == VD_I16) return VC_I32;
    if (type == VD_U8 || type == VD_U16 || type == VD_BOOL) return VC_U32;
    return type;
}

/* Type of a state's first field. */
static vc_type vd__reduce_state_type(const vd_reduce_desc *d) {
    vc_type wide = vd__reduce_widened_type(d->type);
    if (vd__reduce_is_test(d->op)) return VC_U32;
    if (!vd__reduce_info_of(d)->in_floats) return wide;
    return wide == VC_I64 || wide == VC_U64 || wide == VC_F64 ? VC_F64 : VC_F32;
}

static vd_type vd__reduce_out_type(const vd_reduce_desc *d) {
    if (vd__reduce_is_test(d->op)) return VD_BOOL;
    if (vd__reduce_is_arg(d->op)) return d->index_type;
    return vd__reduce_info_of(d)->in_floats && d->type != VD_F16 ? vd__reduce_state_type(d) : d->type;
}

static vd_type vd__reduce_extra_type(const vd_reduce_desc *d) {
    return vd__reduce_is_arg(d->op) ? d->type : vd__reduce_out_type(d);
}

static vc_val vd__reduce_combine(vc_combine op, vc_val a, vc_val b) {
    switch (op) {
    case VC_MUL: return vc_mul(a, b);
    case VC_MIN: return vc_min(a, b);
    case VC_MAX: return vc_max(a, b);
    case VC_AND: return vc_and(a, b);
    case VC_OR: return vc_or(a, b);
    case VC_XOR: return vc_xor(a, b);
    default: return vc_add(a, b);
    }
}

static vc_val vd__reduce_identity(vc_combine op, vc_type type) {
    uint32_t bits = type == VC_I64 || type == VC_U64 || type == VC_F64 ? 64 : 32;
    uint64_t top = (uint64_t)1 << (bits - 1), ones = top | (top - 1);
    uint64_t infinity = bits == 64 ? (uint64_t)0x7ff << 52 : 0x7f800000u;
    bool is_float = type == VC_F32 || type == VC_F64, is_signed = type == VC_I32 || type == VC_I64;
    switch (op) {
    case VC_MUL: return vc_imm(type, !is_float ? 1 : bits == 64 ? (uint64_t)0x3ff << 52 : 0x3f800000u);
    case VC_MIN: return vc_imm(type, is_float ? infinity : is_signed ? top - 1 : ones);
    case VC_MAX: return vc_imm(type, is_float ? infinity | top : is_signed ? top : 0);
    case VC_AND: return vc_imm(type, ones);
    default: return vc_imm(type, 0);
    }
}

/* For signed types of 8 or 16 bits: replaces the 32-bit identity of a minimum or maximum, the result of an empty set,
   by that of the element type; conversion would make it -1 or 0. The 32-bit identity is used until then because a map
   may return values outside of the element type. */
static vc_val vd__reduce_narrow_identity(vc_combine op, vd_type type, vc_val v) {
    uint64_t largest = type == VD_I8 ? INT8_MAX : INT16_MAX;
    if ((type != VD_I8 && type != VD_I16) || (op != VC_MIN && op != VC_MAX)) return v;
    return vc_select(vc_eq(v, vd__reduce_identity(op, VC_I32)),
                     vc_imm(VC_I32, op == VC_MIN ? largest : UINT32_MAX - largest), v);
}

/* v[0]: the result; v[1] in VD_REDUCE_ARGMIN and _ARGMAX: its index. Of variances: v[0]: the mean; v[1]: the sum of
   squared differences from it; v[2]: the number of elements. */
typedef struct vd__reduce_state { vc_val v[VD__REDUCE_FIELDS]; } vd__reduce_state;

/* Position of an element in shared memory: its cell and the number of bits of the cell before it. */
typedef struct vd__reduce_position {
    vc_val cell, shift;      /* shift.owner is 0 if the number of bits is always 0 */
    uint32_t more;           /* added to `cell`: a multiple of 32, so that its padding is a constant */
} vd__reduce_position;

/* State while a kernel is recorded. */
typedef struct vd__reduce_writer {
    vc_kernel *k;
    vd_plan_kernel *plan_kernel;
    const vd_reduce *plan;
    const vd_reduce_desc *desc;
    const vd__reduce_op_info *info;
    vc_type type[VD__REDUCE_FIELDS];
    vc_type index_type;      /* of indices of elements: VC_U64 in large arrays, else VC_U32 */
    uint32_t vector, loads;  /* elements per load; loads of a thread at a time */
    vd__digits kept, reduced; /* those of the plan, in units of loads */
    vc_ref in[2][2];         /* [input][0: as scalars, 1: as vectors] */
    vc_val length;           /* elements per result */
    vc_ref out, extra_out, offsets, partials, tickets;
    vc_ref sum[VD__REDUCE_LEVELS][VD__REDUCE_FIELDS]; /* variables: the state of each level of chains */
    vc_ref shared;           /* shared memory: states of threads */
    vc_ref cells[2];         /* shared memory: staged cells of each input */
    vc_val skip;             /* staging: number of staged elements before the first one of the work-group */
    vc_val base;             /* staging: index of the first staged element of a result */
    vd__reduce_position begin; /* staging: its position */
    uint32_t levels;         /* number of levels of chains */
    vc_ref appended;         /* with several levels: number of states appended */
    vc_val first_index;      /* staging with a map: index in the array of the first element of the result */
    vc_val shift;            /* variance: number that is subtracted from the elements and added to the mean */
    vc_val result, clamped;  /* index of this thread's result, and this index limited to the last result */
    vc_val tile, part;       /* indices of the tile and the part of this work-group */
    vc_val row;              /* index of this thread among those that share a result */
    vc_val result_end;       /* this work-group stores only results below this index */
} vd__reduce_writer;

/* ---- states ---- */

/* Whether a state is a value and its index. */
static bool vd__reduce_has_index(const vd__reduce_writer *w) {
    return vd__reduce_is_arg(w->desc->op) && !w->plan->keyed;
}

static vc_combine vd__reduce_combine_op(const vd__reduce_writer *w) {
    return !vd__reduce_has_index(w) ? w->info->combine_op : w->desc->op == VD_REDUCE_ARGMIN ? VC_MIN : VC_MAX;
}

/* The state of an empty set. */
static vd__reduce_state vd__reduce_empty(const vd__reduce_writer *w) {
    vd__reduce_state s;
    vc_combine op = vd__reduce_combine_op(w);
    s.v[0] = w->desc->combine.build ? vd__plan_identity(w->desc->identity, w->type[0])
                                     : vd__reduce_identity(op, w->type[0]);
    s.v[1] = vd__reduce_has_index(w) ? vc_imm(w->type[1], UINT64_MAX) : vc_imm(w->type[0], 0);
    s.v[2] = vc_imm(w->type[2], 0);
    return s;
}

/* Returns the key of element `index` of a result. The lowest key is that of the first smallest element, for
   VD_REDUCE_ARGMAX of the first largest one. The low VD__REDUCE_INDEX_BITS of a key are the index. Those above are the
   value of the element plus a bias, for VD_REDUCE_ARGMAX the bias minus the value. The value of an integer is itself.
   That of f16 is the bit pattern of its magnitude as f32, whose low VD__REDUCE_INDEX_BITS are 0, and negative if the
   sign is set; the bias is the bit pattern of infinity. -0 and 0 have the same value. Keys of NaN are above those of
   both infinities: for one sign, the sum wraps around. */
static vc_val vd__reduce_key_of(const vd__reduce_writer *w, vc_val v, vc_val index) {
    bool least = w->desc->op == VD_REDUCE_ARGMIN;
    uint32_t bias = w->desc->type == VD_I8 || w->desc->type == VD_I16 ? least ? 0x8000 : 0x7fff : least ? 0 : 0xffff;
    vc_val value;
    bias <<= VD__REDUCE_INDEX_BITS;
    if (w->desc->type == VD_F16) {
        vc_val bits = vc_bitcast(VC_I32, v), sign = vd__shr_u32(bits, 31);
        value = vc_sub(vc_xor(bits, vc_and(sign, vc_i32(INT32_MAX))), sign);
        bias = 0x7f800000u;
    } else value = vd__shl_u32(v, VD__REDUCE_INDEX_BITS);
    value = vc_bitcast(VC_U32, value);
    index = vd__add_u32(index, bias);
    return least ? vc_add(index, value) : vc_sub(index, value);
}

/* e: the element of each input. index: of the element in the result. at: index in the array. Indices are VC_U32 or
   VC_U64. */
static vd__reduce_state vd__reduce_state_of(const vd__reduce_writer *w, const vc_val *e, vc_val index, vc_val at) {
    vd__reduce_state s = vd__reduce_empty(w), empty = s;
    vc_type wide = vd__reduce_widened_type(w->desc->type);
    vc_val v = e[0];
    if (w->desc->map.build) v = vd_plan_fragment_build(&w->plan->map, w->k, e[0], e[1], vc_cast(VC_U32, at));
    else if (w->desc->op == VD_REDUCE_DOT) v = vc_mul(vc_cast(wide, e[0]), vc_cast(wide, e[1]));
    if (vd__reduce_is_test(w->desc->op)) v = vc_ne(vc_cast(wide, v), vc_imm(wide, 0));
    s.v[0] = v = w->plan->keyed ? vd__reduce_key_of(w, vc_cast(wide, v), index) : vc_cast(w->type[0], v);
    if (w->desc->op == VD_REDUCE_NORM) s.v[0] = vc_mul(v, v);
    if (w->desc->op == VD_REDUCE_VARIANCE) {
        if (w->shift.owner) s.v[0] = vc_sub(v, w->shift);
        s.v[2] = vc_imm(w->type[2], 1);
    }
    if (!vd__reduce_has_index(w)) return s;
    s.v[1] = vc_cast(w->type[1], index);
    if (w->type[0] != VC_F32 && w->type[0] != VC_F64) return s;
    s.v[0] = vc_select(vc_isnan(v), empty.v[0], v);
    s.v[1] = vc_select(vc_isnan(v), empty.v[1], s.v[1]);
    return s;
}

/* Merges the states of the variances of two sets, which may be empty: equation 2.1 of Chan, Golub and LeVeque, 1979
   (see References), in terms of means instead of sums. */
static vd__reduce_state vd__reduce_merge_variances(const vd__reduce_writer *w, vd__reduce_state a, vd__reduce_state b) {
    vc_type type = w->type[0];
    vc_val count = vc_add(a.v[2], b.v[2]), difference = vc_sub(b.v[0], a.v[0]);
    vc_val weight = vc_div(vc_cast(type, b.v[2]), vc_cast(type, vc_max(count, vc_imm(w->type[2], 1))));
    vd__reduce_state s;
    s.v[0] = vc_fma(difference, weight, a.v[0]);
    s.v[1] = vc_fma(difference, vc_mul(difference, vc_mul(vc_cast(type, a.v[2]), weight)), vc_add(a.v[1], b.v[1]));
    s.v[2] = count;
    return s;
}

/* Sets w->shift to `element`, after the map if there is one, or to 0 if it is NaN or so large that differences may
   overflow. at: index of the element in the array. */
static void vd__reduce_set_shift(vd__reduce_writer *w, vc_val element, vc_val at) {
    static const vc_val no_shift = { 0, 0 };
    vc_type type = w->type[0];
    vc_val e[2] = { { 0, 0 }, { 0, 0 } };
    e[0] = element;
    w->shift = no_shift;
    vc_val first = vd__reduce_state_of(w, e, vc_u32(0), at).v[0];
    w->shift = vc_select(vc_lt(vc_abs(first), vc_imm(type, type == VC_F64 ? (uint64_t)0x7fc << 52 : 0x7e000000u)),
                         first, vc_imm(type, 0));
}

static vd__reduce_state vd__reduce_merge(const vd__reduce_writer *w, vd__reduce_state a, vd__reduce_state b) {
    vd__reduce_state s = a;
    if (w->desc->combine.build)
        s.v[0] = vc_cast(w->type[0], vd_plan_fragment_build(&w->plan->combine, w->k, a.v[0], b.v[0], a.v[0]));
    else if (vd__reduce_has_index(w)) {
        vc_val better = w->desc->op == VD_REDUCE_ARGMIN ? vc_lt(b.v[0], a.v[0]) : vc_gt(b.v[0], a.v[0]);
        better = vc_or(better, vc_and(vc_eq(b.v[0], a.v[0]), vc_lt(b.v[1], a.v[1])));
        s.v[0] = vc_select(better, b.v[0], a.v[0]);
        s.v[1] = vc_select(better, b.v[1], a.v[1]);
    } else if (w->desc->op == VD_REDUCE_VARIANCE) s = vd__reduce_merge_variances(w, a, b);
    else s.v[0] = vd__reduce_combine(w->info->combine_op, a.v[0], b.v[0]);
    return s;
}

/* The mean of single elements, then the sum of the squared differences from it. */
static vd__reduce_state vd__reduce_variance_of(const vd__reduce_writer *w, vd__reduce_state *s, uint32_t count) {
    vc_val sum = s[0].v[0], squares = vc_imm(w->type[0], 0);
    for (uint32_t i = 1; i < count; i++) sum = vc_add(sum, s[i].v[0]);
    vc_val mean = vc_div(sum, vc_cast(w->type[0], vc_u32(count)));
    for (uint32_t i = 0; i < count; i++) {
        vc_val difference = vc_sub(s[i].v[0], mean);
        squares = vc_fma(difference, difference, squares);
    }
    s[0].v[0] = mean;
    s[0].v[1] = squares;
    s[0].v[2] = vc_imm(w->type[2], count);
    return s[0];
}

/* Merges `count` states; s is overwritten. Variances: the states must be those of single elements. */
static vd__reduce_state vd__reduce_merge_tree(const vd__reduce_writer *w, vd__reduce_state *s, uint32_t count) {
    if (w->desc->op == VD_REDUCE_VARIANCE) return vd__reduce_variance_of(w, s, count);
    for (uint32_t n = count, half; n > 1; n = half) {
        half = (n + 1) / 2;
        for (uint32_t i = 0; i + half < n; i++) s[i] = vd__reduce_merge(w, s[i], s[i + half]);
    }
    return s[0];
}

/* ---- accumulating and storing states ---- */

static vd__reduce_state vd__reduce_level(const vd__reduce_writer *w, uint32_t level) {
    vd__reduce_state s;
    memset(&s, 0, sizeof s);
    for (uint32_t i = 0; i < w->info->fields; i++) s.v[i] = vd__get(&w->sum[level][i]);
    return s;
}

static void vd__reduce_set_level(const vd__reduce_writer *w, uint32_t level, vd__reduce_state s) {
    for (uint32_t i = 0; i < w->info->fields; i++) vd__set(&w->sum[level][i], s.v[i]);
}

static void vd__reduce_add_to_level(const vd__reduce_writer *w, uint32_t level, vd__reduce_state s) {
    vd__reduce_set_level(w, level, vd__reduce_merge(w, vd__reduce_level(w, level), s));
}

static void vd__reduce_clear(const vd__reduce_writer *w) {
    for (uint32_t level = 0; level < w->levels; level++) vd__reduce_set_level(w, level, vd__reduce_empty(w));
    if (w->levels > 1) vd__set(&w->appended, vc_u32(0));
}

/* Called after `count` states were appended. If a chain of this level is now complete, merges its state into the next
   level and clears this level. length: appended states in a chain of this level, a power of two. */
static void vd__reduce_carry(const vd__reduce_writer *w, uint32_t level, vc_val count, uint32_t length) {
    if (level + 1 == w->levels) return;
    VC_IF(w->k, vd__eq_u32(vd__and_u32(count, length - 1), 0)) {
        vd__reduce_add_to_level(w, level + 1, vd__reduce_level(w, level));
        vd__reduce_set_level(w, level, vd__reduce_empty(w));
        vd__reduce_carry(w, level + 1, count, length * VD__REDUCE_CHAIN);
    }
}

static void vd__reduce_append(const vd__reduce_writer *w, vd__reduce_state s) {
    vd__reduce_add_to_level(w, 0, s);
    if (w->levels == 1) return;
    vc_val count = vd__add_u32(vd__get(&w->appended), 1);
    vd__set(&w->appended, count);
    vd__reduce_carry(w, 0, count, VD__REDUCE_CHAIN);
}

static vd__reduce_state vd__reduce_total(const vd__reduce_writer *w) {
    vd__reduce_state s = vd__reduce_level(w, 0);
    for (uint32_t level = 1; level < w->levels; level++) s = vd__reduce_merge(w, vd__reduce_level(w, level), s);
    return s;
}

static vc_type vd__reduce_stored_type(const vd__reduce_writer *w) {
    vc_member members[VD__REDUCE_FIELDS];
    if (w->info->fields == 1) return w->type[0];
    for (uint32_t i = 0; i < w->info->fields; i++) {
        members[i].name = NULL;
        members[i].type = w->type[i];
    }
    return vc_struct(w->k, "state", members, w->info->fields);
}

static vd__reduce_state vd__reduce_load(const vd__reduce_writer *w, vc_ref from, vc_val index) {
    vd__reduce_state s;
    uint32_t i;
    memset(&s, 0, sizeof s);
    if (w->info->fields == 1) s.v[0] = vd__load(&from, index);
    else for (i = 0; i < w->info->fields; i++) s.v[i] = vc_get(vc_field(vc_at(from, index), i));
    return s;
}

static void vd__reduce_store(const vd__reduce_writer *w, vc_ref to, vc_val index, vd__reduce_state s) {
    uint32_t i;
    if (w->info->fields == 1) vd__store(&to, index, s.v[0]);
    else for (i = 0; i < w->info->fields; i++) vc_set(vc_field(vc_at(to, index), i), s.v[i]);
}

/* ---- the kernel ---- */

static uint32_t vd__reduce_inputs(const vd_reduce_desc *d) { return d->op == VD_REDUCE_DOT ? 2 : 1; }

/* Converts a u32 to the type of indices, VC_U32 or VC_U64. */
static vc_val vd__index_of(vc_type index_type, vc_val x) { return index_type == VC_U64 ? vc_cast(VC_U64, x) : x; }

/* Index of element j of load `at`. */
static vc_val vd__reduce_index(const vd__reduce_writer *w, vc_val at, uint32_t j) {
    vc_type type = w->index_type;
    return w->vector > 1 ? vc_add(vc_mul(at, vc_imm(type, w->vector)), vc_imm(type, j)) : at;
}

static void vd__reduce_load_vector(const vd__reduce_writer *w, vc_val base, vc_val r, vd__reduce_state *to) {
    vc_val at = vc_add(base, vd__digits_offset_in(&w->reduced, r, w->index_type));
    vc_val e[2] = { { 0, 0 }, { 0, 0 } }, both[2];
    uint32_t inputs = vd__reduce_inputs(w->desc);
    for (uint32_t i = 0; i < inputs; i++) both[i] = vd__load(&w->in[i][w->vector > 1], at);
    for (uint32_t j = 0; j < w->vector; j++) {
        for (uint32_t i = 0; i < inputs; i++) e[i] = w->vector > 1 ? vc_component(both[i], j) : both[i];
        to[j] = vd__reduce_state_of(w, e, vd__reduce_index(w, r, j), vd__reduce_index(w, at, j));
    }
}

/* Adds the elements after the last whole vector: one per thread, in the work-group of part 0. */
static void vd__reduce_remainder(const vd__reduce_writer *w) {
    uint64_t n = w->plan->reduced.product;
    uint32_t count = (uint32_t)(n % w->vector);
    vc_val at = vc_add(vd__index_of(w->index_type, w->row), vc_imm(w->index_type, n - count));
    vc_val e[2] = { { 0, 0 }, { 0, 0 } };
    if (!count) return;
    VC_IF(w->k, vc_and(vd__eq_u32(w->part, 0), vd__lt_u32(w->row, count))) {
        for (uint32_t i = 0; i < vd__reduce_inputs(w->desc); i++) e[i] = vd__load(&w->in[i][0], at);
        vd__reduce_append(w, vd__reduce_state_of(w, e, at, at));
    }
}

/* Threads that share a result: a power of two, as vd__reduce_combine_threads requires. */
static uint32_t vd__reduce_thread_rows(const vd_reduce *p) { return p->threads / p->lanes; }

/* The loads r, r + rows, r + 2 * rows, … */
static void vd__reduce_step(const vd__reduce_writer *w, vc_val base, vc_val r, uint32_t loads) {
    uint32_t rows = vd__reduce_thread_rows(w->plan);
    vd__reduce_state s[VD__REDUCE_IN_FLIGHT];
    for (uint32_t j = 0; j < loads; j++)
        vd__reduce_load_vector(w, base, vc_add(r, vc_imm(w->index_type, j * rows)), &s[j * w->vector]);
    vd__reduce_append(w, vd__reduce_merge_tree(w, s, loads * w->vector));
}

/* Executes w->loads loads at a time while at least so many remain, then half as many, and so on. */
static void vd__reduce_part(const vd__reduce_writer *w, vc_val base) {
    uint32_t rows = vd__reduce_thread_rows(w->plan), loads = w->loads, tile = rows * loads;
    vc_val first = vc_add(vc_mul(vd__index_of(w->index_type, w->part), vc_imm(w->index_type, tile)),
                          vd__index_of(w->index_type, w->row));
    vc_val end = w->desc->segments ? w->length : vc_imm(w->index_type, w->reduced.product);
    vc_ref next = vc_var(w->k, "next", w->index_type);
    vd__set(&next, first);
    VC_LOOP(w->k) {
        vc_val r = vd__get(&next), last = vc_add(r, vc_imm(w->index_type, (loads - 1) * rows));
        vc_break_if(w->k, vc_le(end, last));
        vd__reduce_step(w, base, r, loads);
        vd__set(&next, vc_add(r, vc_imm(w->index_type, (uint64_t)w->plan->parts * tile)));
    }
    while (loads /= 2) {
        vc_val r = vd__get(&next);
        VC_IF(w->k, vc_lt(vc_add(r, vc_imm(w->index_type, (loads - 1) * rows)), end)) {
            vd__reduce_step(w, base, r, loads);
            vd__set(&next, vc_add(r, vc_imm(w->index_type, loads * rows)));
        }
    }
    if (w->vector > 1) vd__reduce_remainder(w);
}

/* ---- short rows: staging ---- */

static uint64_t vd__reduce_elements(const vd_reduce *p) { return p->kept.product * p->reduced.product; }

/* Whether indices of elements need 64 bits. The offsets of segments have 32. */
static bool vd__reduce_is_large(const vd_reduce *p) {
    return !p->desc.segments && vd__reduce_elements(p) > VD__REDUCE_NARROW;
}

/* Number of elements of a block, which are the contiguous elements with one index of the slowest dimension. */
static uint64_t vd__reduce_block_elements(const vd_reduce *p) { return vd__reduce_elements(p) / p->kept.size[0]; }

static uint32_t vd__reduce_block_results(const vd_reduce *p) { return (uint32_t)(p->kept.product / p->kept.size[0]); }

/* Cells in shared memory for each input, including those that loads past the last block fill. */
static uint32_t vd__reduce_cell_count(const vd_reduce *p) {
    uint32_t cells = p->stage_loads * p->threads * (p->vector / p->cell_elements);
    return cells + (cells / 32 + 1) * p->cell_padding + 1; /* vd__reduce_load_staged may read one cell more */
}

static vc_val vd__reduce_cell_index(const vd_reduce *p, vc_val at) {
    return p->cell_padding ? vc_add(at, vd__mul_u32(vd__shr_u32(at, 5), p->cell_padding)) : at;
}

/* Whether the elements of every work-group begin at a multiple of `vector` elements. */
static bool vd__reduce_tiles_aligned(const vd_reduce *p) {
    return p->tiles == 1 || p->blocks * vd__reduce_block_elements(p) % p->vector == 0;
}

/* Whether the elements of a result are contiguous. */
static bool vd__reduce_contiguous(const vd_reduce *p) {
    return p->reduced.count == 1 && p->reduced.stride[0] == 1;
}

/* Loads the elements of a cell, from element `first` on, by scalar loads. Returns the element if a cell has only one,
   otherwise the elements packed into a word, the first in the lowest bits. Beyond the end of the input, repeats the
   last element. */
static vc_val vd__reduce_load_word(const vd__reduce_writer *w, vc_ref in, vc_val first) {
    uint32_t n = w->plan->cell_elements, bits = 32 / n;
    vc_val e[4], word, last = vc_u32((uint32_t)vd__reduce_elements(w->plan) - 1);
    for (uint32_t j = 0; j < n; j++) e[j] = vd__load(&in, vc_min(vd__add_u32(first, j), last));
    if (n == 1) return w->desc->type == VD_BOOL ? vc_cast(VC_U32, e[0]) : e[0];
    if (w->desc->type == VD_F16) return vc_pack_half2(vc_vec2(vc_cast(VC_F32, e[0]), vc_cast(VC_F32, e[1])));
    word = vc_u32(0);
    for (uint32_t j = 0; j < n; j++)
        word = vc_or(word, vd__shl_u32(vd__and_u32(vc_cast(VC_U32, e[j]), (1u << bits) - 1), j * bits));
    return word;
}

/* Stages the elements after the last whole vector of the input: one thread loads them by scalar loads. It is the thread
   that has filled these cells with a repeated vector (see vd__reduce_stage_vectors), so no other store follows. */
static void vd__reduce_stage_tail(const vd__reduce_writer *w, uint32_t input) {
    const vd_reduce *p = w->plan;
    uint32_t n = (uint32_t)vd__reduce_elements(p), left = n % p->vector, each = p->cell_elements;
    uint32_t first = (uint32_t)((p->tiles - 1) * p->blocks * vd__reduce_block_elements(p)) / p->vector;
    uint32_t load = n / p->vector - first;
    vc_val writes = vd__eq_u32(vc_local_index(w->k), load % p->threads);
    if (!left) return;
    VC_IF(w->k, vc_and(writes, vd__eq_u32(w->tile, (uint32_t)p->tiles - 1))) {
        for (uint32_t i = 0; i * each < left; i++)
            vd__store(&w->cells[input], vd__reduce_cell_index(p, vc_u32(load * (p->vector / each) + i)),
                      vd__reduce_load_word(w, w->in[input][0], vc_u32(n - left + i * each)));
    }
}

/* Stages the blocks of the work-group by vector loads. Loads past the end of the input repeat its last vector; no
   result uses them. */
static void vd__reduce_stage_vectors(vd__reduce_writer *w, uint32_t input, vc_val first) {
    const vd_reduce *p = w->plan;
    uint32_t cells = p->vector / p->cell_elements;
    vc_val lane = vc_local_index(w->k), begin = vd__div_u32(first, p->vector), v[VD__REDUCE_STAGE_LOADS];
    vc_val last = vc_u32((uint32_t)(vd__reduce_elements(p) / p->vector) - 1);
    if (!vd__reduce_tiles_aligned(p)) w->skip = vd__rem_u32(first, p->vector);
    for (uint32_t i = 0; i < p->stage_loads; i++)
        v[i] = vd__load(&w->in[input][1], vc_min(vc_add(begin, vd__add_u32(lane, i * p->threads)), last));
    for (uint32_t i = 0; i < p->stage_loads; i++) {
        vc_val at = vd__reduce_cell_index(p, vd__mul_u32(vd__add_u32(lane, i * p->threads), cells));
        for (uint32_t j = 0; j < cells; j++) vd__store(&w->cells[input], vd__add_u32(at, j), vc_component(v[i], j));
    }
    vd__reduce_stage_tail(w, input);
}

/* Stages the blocks of the work-group by scalar loads, for inputs that are not aligned to vectors. The first cell
   begins with the first element of the work-group. */
static void vd__reduce_stage_scalars(const vd__reduce_writer *w, uint32_t input, vc_val first) {
    const vd_reduce *p = w->plan;
    uint32_t count = (uint32_t)vd__ceil_div(p->blocks * vd__reduce_block_elements(p), p->cell_elements * p->threads);
    for (uint32_t i = 0; i < count; i++) {
        vc_val at = vd__add_u32(vc_local_index(w->k), i * p->threads);
        vd__store(&w->cells[input], vd__reduce_cell_index(p, at),
                  vd__reduce_load_word(w, w->in[input][0], vc_add(first, vd__mul_u32(at, p->cell_elements))));
    }
}

static void vd__reduce_stage_blocks(vd__reduce_writer *w) {
    const vd_reduce *p = w->plan;
    vc_val first = vd__mul_u32(w->tile, p->blocks * vd__reduce_block_elements(p));
    for (uint32_t i = 0; i < vd__reduce_inputs(w->desc); i++) {
        if (w->vector > 1) vd__reduce_stage_vectors(w, i, first);
        else vd__reduce_stage_scalars(w, i, first);
    }
    vd__shared_barrier(w->k);
}

/* Element j of a word, widened to 32 bits. */
static vc_val vd__reduce_unpack(vd_type type, vc_val word, uint32_t j) {
    uint32_t bits = 8 * vd_type_size(type), left = 32 - bits - j * bits;
    if (type == VD_F16) return vc_component(vc_unpack_half2(word), j);
    if (type == VD_I8 || type == VD_I16) return vd__shr_u32(vd__shl_u32(vc_bitcast(VC_I32, word), left), 32 - bits);
    word = vd__shr_u32(word, j * bits);
    return left ? vd__and_u32(word, (1u << bits) - 1) : word;
}

/* Whether results may begin within a cell. unaligned: work-groups may begin within a vector. */
static bool vd__reduce_has_shifts(const vd_reduce *p, bool unaligned) {
    uint32_t n = p->cell_elements;
    bool whole = n == 1 || (vd__reduce_contiguous(p) && p->reduced.product % n == 0 && !unaligned);
    for (uint32_t i = 0; i < p->kept.count && n > 1; i++) whole = whole && p->kept.stride[i] % n == 0;
    return !whole;
}

/* inner: element `at` may begin within a cell. */
static vd__reduce_position vd__reduce_position_of(const vd__reduce_writer *w, vc_val at, bool inner) {
    uint32_t n = w->plan->cell_elements;
    vd__reduce_position position = { { 0, 0 }, { 0, 0 }, 0 };
    position.cell = vd__div_u32(at, n);
    if (inner && n > 1) position.shift = vd__mul_u32(vd__rem_u32(at, n), 32 / n);
    return position;
}

static vc_val vd__reduce_load_cell(const vd_reduce *p, vc_ref cells, vd__reduce_position from, uint32_t cell) {
    vc_val at = vd__reduce_cell_index(p, vd__add_u32(from.cell, cell));
    return vd__load(&cells, vd__add_u32(at, from.more + from.more / 32 * p->cell_padding));
}

/* Loads `count` consecutive staged elements, at most as many as a cell contains. */
static void vd__reduce_load_staged(const vd__reduce_writer *w, vc_ref cells, vd__reduce_position from, uint32_t count,
                                   vc_val *to) {
    const vd_reduce *p = w->plan;
    vc_val word = vd__reduce_load_cell(p, cells, from, 0);
    to[0] = w->desc->type == VD_BOOL ? vd__ne_u32(word, 0) : word;
    if (p->cell_elements == 1) return;
    /* results whose length divides that of a cell do not cross cells */
    if (from.shift.owner && count > 1 && p->cell_elements % p->reduced.product) {
        vc_val next = vd__reduce_load_cell(p, cells, from, 1);
        /* without u64 two shifts to the left, because a shift by 32 is undefined */
        word = p->shifts_pairs ? vc_cast(VC_U32, vc_shr(vc_pack_2x32(VC_U64, vc_vec2(word, next)), from.shift))
             : vc_or(vc_shr(word, from.shift), vc_shl(vd__shl_u32(next, 1), vc_sub(vc_u32(31), from.shift)));
    } else if (from.shift.owner) word = vc_shr(word, from.shift);
    for (uint32_t j = 0; j < count; j++) {
        to[j] = vd__reduce_unpack(w->desc->type, word, j);
        if (w->desc->map.build) to[j] = vc_cast(w->desc->type, to[j]);
    }
}

/* Position of the element that is `offset` elements of the array after the first one of the result. */
static vd__reduce_position vd__reduce_position_in_result(const vd__reduce_writer *w, vc_val offset) {
    vd__reduce_position position = vd__reduce_position_of(w, vc_add(w->base, offset), true);
    position.more = w->begin.more;
    return position;
}

/* States of the first `count` elements of read number `read` of a result; each read has `step` elements. */
static void vd__reduce_staged_states(const vd__reduce_writer *w, vc_val read, uint32_t step, uint32_t count,
                                     vd__reduce_state *to) {
    vc_val r = vd__mul_u32(read, step), offset = vd__digits_offset(&w->reduced, r), of[2][4];
    vc_val e[2] = { { 0, 0 }, { 0, 0 } };
    vd__reduce_position from = w->begin;
    if (vd__reduce_contiguous(w->plan)) from.cell = vc_add(from.cell, read);
    else from = vd__reduce_position_in_result(w, offset);
    for (uint32_t i = 0; i < vd__reduce_inputs(w->desc); i++)
        vd__reduce_load_staged(w, w->cells[i], from, count, of[i]);
    if (w->desc->map.build) offset = vc_add(w->first_index, offset);
    for (uint32_t j = 0; j < count; j++) {
        for (uint32_t i = 0; i < vd__reduce_inputs(w->desc); i++) e[i] = of[i][j];
        to[j] = vd__reduce_state_of(w, e, vd__add_u32(r, j), vd__add_u32(offset, j));
    }
}

/* Accumulates consecutive reads, beginning with number `read`, in the state of the thread. reads: their number; step:
   elements of each; last: elements of the last one. */
static void vd__reduce_staged_append(const vd__reduce_writer *w, vc_val read, uint32_t reads, uint32_t step,
                                     uint32_t last) {
    vd__reduce_state s[VD__REDUCE_IN_FLIGHT];
    uint32_t most = VD__REDUCE_IN_FLIGHT / step, elements;
    for (uint32_t at = 0; at < reads;) {
        elements = 0;
        for (uint32_t i = 0; i < most && at < reads; i++, at++) {
            uint32_t count = at + 1 == reads ? last : step;
            vd__reduce_staged_states(w, vd__add_u32(read, at), step, count, &s[elements]);
            elements += count;
        }
        vd__reduce_append(w, vd__reduce_merge_tree(w, s, elements));
    }
}

static uint32_t vd__reduce_read_elements(const vd_reduce *p) { return vd__reduce_contiguous(p) ? p->cell_elements : 1; }

/* Adds the elements of a result: number `done` + lane of those of the work-group. Each thread that shares the result
   adds consecutive elements; if there is a remainder, some threads add one more read. */
static void vd__reduce_staged_result(vd__reduce_writer *w, uint32_t done) {
    const vd_reduce *p = w->plan;
    uint32_t rows = vd__reduce_thread_rows(p), step = vd__reduce_read_elements(p), n = (uint32_t)p->reduced.product;
    uint32_t reads = n / step, each = reads / rows, left = n % step, results = p->blocks * vd__reduce_block_results(p);
    vc_val lane = vd__rem_u32(vc_local_index(w->k), p->lanes), row = w->row, first;
    uint64_t more = done * p->kept.stride[0];
    /* if possible, all passes share the computation of where their results begin */
    bool shares = p->kept.count == 1 && results % p->lanes == 0 && more % (32 * p->cell_elements) == 0;
    w->base = shares ? lane : vd__min_u32(vd__add_u32(lane, done), results - 1);
    w->base = vd__digits_offset(&p->kept, w->base);
    if (w->skip.owner) w->base = vc_add(w->base, w->skip);
    w->begin = vd__reduce_position_of(w, w->base, vd__reduce_has_shifts(p, w->skip.owner != 0));
    if (shares) w->begin.more = (uint32_t)more / p->cell_elements;
    if (w->desc->map.build)
        w->first_index = vd__digits_offset(&w->kept, vd__min_u32(w->result, (uint32_t)p->kept.product - 1));
    if (w->desc->op == VD_REDUCE_VARIANCE) {
        vd__reduce_load_staged(w, w->cells[0], w->begin, 1, &first);
        vd__reduce_set_shift(w, first, w->first_index);
    }
    if (rows == 1) {
        vd__reduce_staged_append(w, vc_u32(0), reads + (left > 0), step, left ? left : step);
        return;
    }
    vd__reduce_staged_append(w, vd__mul_u32(row, each), each, step, step);
    if (reads % rows) VC_IF(w->k, vd__lt_u32(row, reads % rows)) {
        vd__reduce_staged_append(w, vd__add_u32(row, each * rows), 1, step, step);
    }
    if (left) VC_IF(w->k, vd__eq_u32(row, rows - 1)) {
        vd__reduce_staged_append(w, vc_u32(reads), 1, step, left);
    }
}

/* The index of the element with this key and, with desc.extra_out, its value. A key of NaN means that all elements are
   NaN; the state is then the empty one. */
static vd__reduce_state vd__reduce_of_key(const vd__reduce_writer *w, vc_val key) {
    vc_val index = vd__and_u32(key, (1u << VD__REDUCE_INDEX_BITS) - 1), is_nan = vc_bool(false);
    vc_combine op = w->desc->op == VD_REDUCE_ARGMIN ? VC_MIN : VC_MAX;
    vd__reduce_state s;
    memset(&s, 0, sizeof s);
    if (w->desc->type == VD_F16) {
        is_nan = vc_ge(key, vc_u32(0xff000000u + (1u << VD__REDUCE_INDEX_BITS))); /* beyond keys of infinities */
        index = vd__min_u32(index, (uint32_t)w->plan->reduced.product - 1);
    }
    if (w->desc->extra_out) {
        vd__reduce_position at = vd__reduce_position_in_result(w, vd__digits_offset(&w->reduced, index));
        vd__reduce_load_staged(w, w->cells[0], at, 1, &s.v[0]);
    }
    s.v[1] = vc_select(is_nan, vc_imm(w->type[1], UINT64_MAX), vd__index_of(w->type[1], index));
    if (w->desc->extra_out && w->desc->type == VD_F16)
        s.v[0] = vc_select(is_nan, vd__reduce_identity(op, VC_F32), s.v[0]);
    return s;
}

/* ---- combining threads and work-groups ---- */

/* The result is valid at least in threads of row 0. */
static vd__reduce_state vd__reduce_combine_threads(const vd__reduce_writer *w) {
    uint32_t lanes = w->plan->lanes, rows = vd__reduce_thread_rows(w->plan);
    vd__reduce_state s = vd__reduce_total(w);
    vc_val lane = vc_local_index(w->k);
    if (rows == 1) return s;
    if (lanes == 1 && w->info->combine_op) {
        vc_group_reduce(w->k, w->info->combine_op, s.v[0], &s.v[0]);
        return s;
    }
    vc_barrier(w->k);
    vd__reduce_store(w, w->shared, lane, s);
    vc_barrier(w->k);
    for (; rows > 1; rows /= 2) {
        VC_IF(w->k, vd__lt_u32(lane, rows / 2 * lanes)) {
            vd__reduce_state other = vd__reduce_load(w, w->shared, vd__add_u32(lane, rows / 2 * lanes));
            vd__reduce_store(w, w->shared, lane, vd__reduce_merge(w, vd__reduce_load(w, w->shared, lane), other));
        }
        vc_barrier(w->k);
    }
    return vd__reduce_load(w, w->shared, lanes > 1 ? vd__rem_u32(lane, lanes) : vc_u32(0));
}

static uint32_t vd__reduce_result_count(const vd_reduce *p) {
    return (uint32_t)(p->desc.segments ? p->desc.segments : p->kept.product);
}

static vc_val vd__reduce_stores_result(const vd__reduce_writer *w) {
    vc_val active = vd__eq_u32(w->row, 0);
    return w->plan->lanes > 1 ? vc_and(active, vc_lt(w->result, w->result_end)) : active;
}

static void vd__reduce_store_result(const vd__reduce_writer *w, vd__reduce_state s) {
    vc_type type = w->type[0];
    vc_val v = w->desc->segments ? vd__reduce_narrow_identity(vd__reduce_combine_op(w), w->desc->type, s.v[0]) : s.v[0];
    vc_val extra = w->shift.owner ? vc_add(v, w->shift) : v;
    if (vd__reduce_is_arg(w->desc->op)) v = s.v[1];
    if (w->desc->op == VD_REDUCE_NORM) v = vc_sqrt(v);
    if (w->desc->op == VD_REDUCE_MEAN) v = vc_div(v, vc_cast(type, w->length));
    if (w->desc->op == VD_REDUCE_VARIANCE)
        v = vc_div(s.v[1], vc_sub(vc_cast(type, w->length), vc_cast(type, vc_u32(w->desc->correction))));
    VC_IF(w->k, vd__reduce_stores_result(w)) {
        vd__store(&w->out, w->result, vc_cast(vd__reduce_out_type(w->desc), v));
        if (w->desc->extra_out) vd__store(&w->extra_out, w->result, vc_cast(vd__reduce_extra_type(w->desc), extra));
    }
}

/* Increments ticket `which`, and returns whether this work-group is the last of `parts` to do so. The last one resets
   the ticket, and sees the stores to buffers that the other work-groups made before they incremented it. Contains
   barriers: all threads must call it. */
static vc_val vd__plan_is_last_group(vc_kernel *k, vc_ref tickets, vc_val which, uint32_t parts) {
    vc_ref flag = vc_shared(k, "last", VC_U32, 1);
    vc_val old;
    vc_barrier_scoped(k, VC_SCOPE_WORKGROUP, VC_SCOPE_DEVICE, VC_STORAGE_BUFFER);
    VC_IF(k, vd__eq_u32(vc_local_index(k), 0)) {
        vc_atomic_add(vc_ordered(tickets, VC_ACQ_REL, VC_SCOPE_DEVICE), which, vc_u32(1), &old);
        vd__store(&flag, vc_u32(0), vc_cast(VC_U32, vd__eq_u32(old, parts - 1)));
        VC_IF(k, vd__eq_u32(old, parts - 1)) { vd__store(&tickets, which, vc_u32(0)); }
    }
    vc_barrier_scoped(k, VC_SCOPE_WORKGROUP, VC_SCOPE_DEVICE, VC_STORAGE_BUFFER | VC_STORAGE_SHARED);
    return vd__ne_u32(vd__get(&flag), 0);
}

/* Stores a partial result. The last work-group to do so combines all of them, in the same order in every run. */
static void vd__reduce_combine_parts(const vd__reduce_writer *w, vd__reduce_state s) {
    const vd_reduce *p = w->plan;
    uint32_t rows = vd__reduce_thread_rows(p);
    vc_val slot = vd__mul_u32(w->clamped, p->parts);
    VC_IF(w->k, vd__reduce_stores_result(w)) { vd__reduce_store(w, w->partials, vc_add(slot, w->part), s); }
    VC_IF(w->k, vd__plan_is_last_group(w->k, w->tickets, w->tile, p->parts)) {
        vd__reduce_clear(w);
        VC_FOR_STEP(w->k, i, w->row, vc_u32(p->parts), vc_u32(rows)) {
            vd__reduce_append(w, vd__reduce_load(w, w->partials, vc_add(slot, i)));
        }
        vd__reduce_store_result(w, vd__reduce_combine_threads(w));
    }
}

static bool vd__reduce_loads_scalars(const vd_reduce *p, uint32_t vector) {
    return vector == 1 || (p->blocks ? vd__reduce_elements(p) : p->reduced.product) % vector;
}

static void vd__reduce_declare(vd__reduce_writer *w) {
    static const char *const names[2][2] = { { "in", "in_vectors" }, { "in_b", "in_b_vectors" } };
    const vd_reduce *p = w->plan;
    vc_kernel *k = w->k;
    vd_plan_kernel *b = w->plan_kernel;
    vc_type type = w->desc->type, cell = p->cell_elements > 1 || type == VC_BOOL ? (vc_type)VC_U32 : type;
    for (uint32_t i = 0; i < vd__reduce_inputs(w->desc); i++) {
        uint32_t role = VD__REDUCE_IN + i;
        if (vd__reduce_loads_scalars(p, w->vector))
            w->in[i][0] = vd_plan_kernel_buffer(b, k, role, names[i][0], type, VC_READ);
        if (w->vector > 1)
            w->in[i][1] = vd_plan_kernel_buffer(b, k, role, names[i][1],
                                                p->blocks ? VC_VEC(cell, w->vector / p->cell_elements)
                                                          : VC_VEC(type, w->vector),
                                                VC_READ | VC_ANY_TYPE);
    }
    if (w->desc->segments) w->offsets = vd_plan_kernel_buffer(b, k, VD__REDUCE_OFFSETS, "offsets", VC_U32, VC_READ);
    w->out = vd_plan_kernel_buffer(b, k, VD__REDUCE_OUT, "out", vd__reduce_out_type(w->desc), VC_WRITE);
    if (w->desc->extra_out)
        w->extra_out = vd_plan_kernel_buffer(b, k, VD__REDUCE_EXTRA_OUT, "extra_out", vd__reduce_extra_type(w->desc),
                                             VC_WRITE);
    if (p->parts > 1) {
        w->partials = vd_plan_kernel_buffer(b, k, VD__REDUCE_PARTIALS, "partials", vd__reduce_stored_type(w),
                                            VC_READ_WRITE | VC_ANY_TYPE);
        w->tickets = vd_plan_kernel_buffer(b, k, VD__REDUCE_TICKETS, "tickets", VC_U32, VC_READ_WRITE);
    }
    vd_plan_kernel_fragment(b, k, &p->map);
    if (p->blocks) w->cells[0] = vc_shared(w->k, "cells", cell, vd__reduce_cell_count(p));
    if (p->blocks && vd__reduce_inputs(w->desc) > 1)
        w->cells[1] = vc_shared(w->k, "cells_b", cell, vd__reduce_cell_count(p));
    if (vd__reduce_thread_rows(p) > 1 && (p->lanes > 1 || !w->info->combine_op))
        w->shared = vc_shared(w->k, "sums", vd__reduce_stored_type(w), p->threads);
    for (uint32_t level = 0; level < w->levels; level++)
        for (uint32_t i = 0; i < w->info->fields; i++) w->sum[level][i] = vc_var(w->k, "sum", w->type[i]);
    if (w->levels > 1) w->appended = vc_var(w->k, "appended", VC_U32);
}

/* Where the elements of result w->clamped begin: in units of loads, for segments in elements. Sets w->length, in
   elements. Offsets of segments are clamped to the array; decreasing offsets give length 0. */
static vc_val vd__reduce_locate_result(vd__reduce_writer *w) {
    vc_val n = vc_imm(w->index_type, w->plan->reduced.product);
    w->length = n;
    if (!w->desc->segments)
        return vd__digits_offset_in(&w->kept, vd__index_of(w->index_type, w->clamped), w->index_type);
    vc_val first = vc_min(vd__load(&w->offsets, w->clamped), n);
    w->length = vc_sub(vc_clamp(vd__load(&w->offsets, vd__add_u32(w->clamped, 1)), first, n), first);
    return first;
}

/* Sets w->shift to the first element of a result that begins at `base`; for an empty segment, to any element of the
   array. */
static void vd__reduce_shift_to_first(vd__reduce_writer *w, vc_val base) {
    if (w->desc->segments) base = vd__min_u32(base, (uint32_t)w->plan->reduced.product - 1);
    vc_val first = w->vector > 1 ? vc_component(vd__load(&w->in[0][1], base), 0) : vd__load(&w->in[0][0], base);
    vd__reduce_set_shift(w, first, vd__reduce_index(w, base, 0));
}

/* Levels of chains that a thread needs for its loads or, if more, for its share of the partial results. */
static uint32_t vd__reduce_level_count(const vd_reduce *p) {
    uint64_t rows = vd__reduce_thread_rows(p), loads = p->vector > 1 ? VD__REDUCE_IN_FLIGHT : VD__REDUCE_IN_FLIGHT / 2;
    uint64_t chain = p->reduced.product / (rows * loads);
    uint32_t levels = 1;
    if (p->blocks) return 1;
    chain /= p->parts;
    if (chain < p->parts / rows) chain = p->parts / rows;
    for (; chain > 2 * VD__REDUCE_CHAIN && levels < VD__REDUCE_LEVELS; chain /= VD__REDUCE_CHAIN) levels++;
    return levels;
}

/* Records the kernel with staging. Neighbouring threads reduce neighbouring results; if a work-group has more results
   than lanes, each thread reduces several, one after the other. */
static void vd__reduce_record_staged(vd__reduce_writer *w) {
    const vd_reduce *p = w->plan;
    uint32_t results = p->blocks * vd__reduce_block_results(p);
    vc_val lane = vc_local_index(w->k);
    w->tile = vc_group_id(w->k, 0);
    w->row = vd__reduce_thread_rows(p) > 1 ? vd__div_u32(lane, p->lanes) : vc_u32(0);
    w->length = vc_u32((uint32_t)p->reduced.product);
    w->result_end = vc_min(vc_u32(vd__reduce_result_count(p)), vd__mul_u32(vd__add_u32(w->tile, 1), results));
    vd__reduce_stage_blocks(w);
    for (uint32_t done = 0; done < results; done += p->lanes) {
        w->result = vc_add(vd__mul_u32(w->tile, results), vd__add_u32(vd__rem_u32(lane, p->lanes), done));
        vd__reduce_clear(w);
        vd__reduce_staged_result(w, done);
        vd__reduce_state s = vd__reduce_combine_threads(w);
        vd__reduce_store_result(w, p->keyed ? vd__reduce_of_key(w, s.v[0]) : s);
    }
}

static void vd__reduce_record_unstaged(vd__reduce_writer *w) {
    const vd_reduce *p = w->plan;
    vc_val group = vc_group_id(w->k, 0), lane = vc_local_index(w->k);
    w->result_end = vc_u32(vd__reduce_result_count(p));
    w->tile = p->parts > 1 ? vd__div_u32(group, p->parts) : group;
    w->part = p->parts > 1 ? vd__rem_u32(group, p->parts) : vc_u32(0);
    w->row = p->lanes > 1 ? vd__div_u32(lane, p->lanes) : lane;
    w->result = p->lanes > 1 ? vc_add(vd__mul_u32(w->tile, p->lanes), vd__rem_u32(lane, p->lanes)) : w->tile;
    w->clamped = p->lanes > 1 ? vd__min_u32(w->result, vd__reduce_result_count(p) - 1) : w->result;
    vd__reduce_clear(w);
    vc_val base = vd__reduce_locate_result(w);
    if (w->desc->op == VD_REDUCE_VARIANCE) vd__reduce_shift_to_first(w, base);
    vd__reduce_part(w, base);
    vd__reduce_state s = vd__reduce_combine_threads(w);
    if (p->parts > 1) vd__reduce_combine_parts(w, s);
    else vd__reduce_store_result(w, s);
}

/* ---- the plan ---- */

/* Elements per load: up to 16 bytes if all loads are aligned to whole vectors, otherwise 1. */
static uint32_t vd__reduce_vector_size(const vd_reduce *p) {
    uint32_t n = vd_type_size(p->desc.type) == 8 ? 2 : 4;
    const vd__digits *r = &p->reduced;
    if (p->columns || p->desc.segments || !r->count || r->stride[r->count - 1] != 1 || p->desc.type == VD_BOOL)
        return 1;
    if ((r->count > 1 || p->kept.count) && r->size[r->count - 1] % n) return 1;
    for (uint32_t i = 0; i + 1 < r->count; i++) if (r->stride[i] % n) return 1;
    for (uint32_t i = 0; i < p->kept.count; i++) if (p->kept.stride[i] % n) return 1;
    return n;
}

/* Work-groups that share a result: so many that there are `wanted` work-groups in total, as long as each has at least
   `tile` elements, and so many that no loop exceeds the device's iteration limit. One segment may have all elements,
   because the lengths of segments are known only on the device. */
static uint32_t vd__reduce_part_count(const vd_reduce *p, const vd_device_info *d, uint64_t wanted, uint32_t tile,
                                      bool thread_per_result) {
    uint64_t maximum = p->reduced.product / tile;
    uint64_t minimum = vd__ceil_div(p->reduced.product, tile * vd__plan_max_iterations(d));
    bool undivided = thread_per_result || p->desc.segments || p->tiles >= wanted || maximum < 2;
    uint64_t parts = undivided ? 1 : wanted / p->tiles < maximum ? wanted / p->tiles : maximum;
    return (uint32_t)(parts < minimum ? minimum : parts ? parts : 1);
}

/* ---- planning of short rows ---- */

/* Maximum number of different cells of one bank that neighbouring threads read at the same time. Assumes 32 threads and
   banks, or 16 if cells have 64 bits. */
static uint32_t vd__reduce_bank_conflicts(const vd_reduce *p) {
    uint32_t cells[32] = { 0 }, worst = 0, banks = vd_type_size(p->desc.type) == 8 ? 16 : 32, n = p->cell_elements;
    uint64_t inner = vd__reduce_block_results(p), each = p->reduced.product / n / vd__reduce_thread_rows(p) * n;
    uint64_t last = UINT64_MAX;
    for (uint32_t t = 0; t < banks; t++) {
        uint64_t lane = t % p->lanes, row = t / p->lanes;
        uint64_t at = (lane / inner * vd__reduce_block_elements(p) + lane % inner * p->kept.stride[p->kept.count - 1]
                       + row * each) / n;
        if (at != last) cells[(at + at / 32 * p->cell_padding) % banks]++;
        last = at;
    }
    for (uint32_t i = 0; i < banks; i++) if (cells[i] > worst) worst = cells[i];
    return worst;
}

/* Approximate number of instructions that a thread executes for each element after loading it. */
static uint32_t vd__reduce_element_cost(const vd_reduce *p) {
    uint32_t fields = vd__reduce_plan_info(p)->fields, size = vd_type_size(p->desc.type);
    uint32_t cost = p->keyed ? p->desc.type == VD_F16 ? 4 : 2 : fields == 1 ? 1 : fields == 2 ? 7 : 5;
    if (p->desc.map.build || p->desc.combine.build) cost += 4;
    return size == 8 ? 2 * cost : size < 4 ? cost + 1 : cost;
}

/* Approximate number of instructions that a thread executes. A 32-bit load from shared memory counts as 4 * conflicts
   instructions. The constants here and in vd__reduce_staging_cost were fitted to 460 timings of 22 reductions on an
   H200. */
static double vd__reduce_thread_cost(const vd_reduce *p, uint32_t conflicts) {
    uint32_t rows = vd__reduce_thread_rows(p), step = vd__reduce_read_elements(p), inputs = vd__reduce_inputs(&p->desc);
    uint32_t n = (uint32_t)p->reduced.product, whole = n / step, words = vd_type_size(p->desc.type) == 8 ? 2 : 1;
    uint32_t reads = rows == 1 ? whole + (n % step > 0) : whole / rows + (whole % rows > 0) + (n % step > 0);
    uint32_t passes = (uint32_t)vd__ceil_div(p->blocks * vd__reduce_block_results(p), p->lanes);
    bool padded = p->cell_padding > 0, shifted = vd__reduce_has_shifts(p, !vd__reduce_tiles_aligned(p));
    double load = 48 + 5 * padded, read = 1 + 4 * conflicts * words + 5 * padded + 15 * shifted;
    double tree = rows > 1 ? 160 : 0;
    for (uint32_t i = 1; i < rows; i *= 2) tree += 27 * vd__reduce_plan_info(p)->fields;
    return 16 + inputs * p->stage_loads * load
           + passes * (18 + reads * (inputs * read + step * vd__reduce_element_cost(p)) + tree);
}

/* Cost of a staged plan per byte: instructions of all threads, and a part of the latency that the other work-groups of
   a multiprocessor do not hide. A multiprocessor is assumed to have 2048 threads, 32 work-groups, and shared memory for
   4 of the largest ones. */
static double vd__reduce_staging_cost(const vd_reduce *p, const vd_device_info *d, uint32_t conflicts) {
    double thread = vd__reduce_thread_cost(p, conflicts), share = p->threads < 64 ? 64 : p->threads;
    double multiprocessors = vd__plan_facts(d).concurrent_groups / 4.0, bytes = vd_type_size(p->desc.type);
    double shared = vd__reduce_inputs(&p->desc) * p->stage_loads * p->threads * 16.0;
    bytes *= (double)(p->blocks * vd__reduce_block_elements(p));
    if (share < 2048 * shared / (4.0 * d->limits.max_shared_bytes))
        share = 2048 * shared / (4.0 * d->limits.max_shared_bytes);
    if (share < 2048 * multiprocessors / (double)p->tiles) share = 2048 * multiprocessors / (double)p->tiles;
    return (thread * p->threads + (thread + 400) * share / 16) / bytes;
}

static bool vd__reduce_staging_fits(const vd_reduce *p, const vd_device_info *d) {
    uint32_t size = vd_type_size(p->desc.type), inputs = vd__reduce_inputs(&p->desc), most = VD__REDUCE_CELL_BYTES;
    uint32_t state = vd__reduce_plan_info(p)->fields * (size == 8 ? 8 : 4);
    if (most > d->limits.max_shared_bytes / 2) most = d->limits.max_shared_bytes / 2;
    return p->stage_loads <= VD__REDUCE_STAGE_LOADS && inputs * p->stage_loads * p->threads * 16 <= most
           && inputs * vd__reduce_cell_count(p) * (size < 4 ? 4 : size) + p->threads * (state + 4)
              <= d->limits.max_shared_bytes;
}

/* Copies a plan except its base, which contains the links of the context's list of plans: other threads change them. */
static void vd__reduce_copy(vd_reduce *to, const vd_reduce *from) {
    memcpy((char *)to + offsetof(vd_reduce, desc), (const char *)from + offsetof(vd_reduce, desc),
           sizeof *to - offsetof(vd_reduce, desc));
}

/* With the threads, lanes and padding of p, tries the largest number of blocks for each number of results per thread.
   Keeps the plan in *best if it costs less. */
static void vd__reduce_try_blocks(vd_reduce *p, const vd_device_info *d, vd_reduce *best, double *cost) {
    uint32_t conflicts = vd__reduce_bank_conflicts(p);
    for (uint32_t pass = 1; pass <= VD__REDUCE_PASSES; pass++) {
        uint64_t fitting = pass * p->lanes / vd__reduce_block_results(p);
        if (fitting < 2) continue;
        p->blocks = (uint32_t)(fitting < p->kept.size[0] ? fitting : p->kept.size[0]);
        p->tiles = vd__ceil_div(p->kept.size[0], p->blocks);
        uint64_t elements = p->blocks * vd__reduce_block_elements(p);
        if (!vd__reduce_tiles_aligned(p)) elements += p->vector - 1;
        p->stage_loads = (uint32_t)vd__ceil_div(elements, p->vector * p->threads);
        if (!vd__reduce_staging_fits(p, d)) return;
        double trial = vd__reduce_staging_cost(p, d, conflicts);
        if (best->blocks && trial >= *cost) continue;
        vd__reduce_copy(best, p);
        *cost = trial;
    }
}

/* Returns false if there are segments, 64-bit indices, or fewer than VD__REDUCE_LANES results, if the slowest dimension
   is reduced, or if fewer than two blocks fit into the shared memory of a work-group. */
static bool vd__reduce_plan_staged(vd_reduce *p, const vd_device_info *d) {
    static const uint32_t paddings[] = { 0, 1, 3, 5, 7 };
    uint32_t size = vd_type_size(p->desc.type);
    vd_reduce best, trial;
    double cost = 0;
    if (p->desc.segments || vd__reduce_is_large(p) || vd__reduce_result_count(p) < VD__REDUCE_LANES
        || p->kept.size[0] * p->kept.stride[0] != vd__reduce_elements(p)
        || 2 * vd__reduce_block_elements(p) * size > VD__REDUCE_CELL_BYTES)
        return false;
    memset(&best, 0, sizeof best);
    vd__reduce_copy(&best, p);
    best.parts = 1;
    best.vector = 16 / size;
    best.cell_elements = size < 4 ? 4 / size : 1;
    best.keyed = vd__reduce_is_arg(p->desc.op) && size < 4 && !p->desc.map.build
                 && p->reduced.product <= 1u << VD__REDUCE_INDEX_BITS;
    best.shifts_pairs = (d->features & VD_FEATURE_I64) != 0;
    trial = best;
    for (trial.threads = 32; trial.threads <= 256 && trial.threads <= vd__plan_max_threads(d); trial.threads *= 2)
        for (trial.lanes = trial.threads; trial.lanes > 1; trial.lanes /= 2) {
            uint32_t rows = vd__reduce_thread_rows(&trial);
            if (rows > 1 && rows * trial.cell_elements > trial.reduced.product) break;
            for (uint32_t i = 0; i < sizeof paddings / sizeof *paddings; i++) {
                trial.cell_padding = paddings[i];
                vd__reduce_try_blocks(&trial, d, &best, &cost);
            }
        }
    if (best.blocks) vd__reduce_copy(p, &best);
    return best.blocks > 0;
}

/* Plans the kernel. On a GPU, short rows are staged if possible. Otherwise, if the innermost axis is not reduced,
   neighbouring threads reduce neighbouring results, so that loads are coalesced; if it is reduced, one thread reduces a
   result of few elements, and one or more work-groups reduce a result of many. `wanted` is the number of work-groups
   that fill the device. */
static void vd__reduce_plan(vd_reduce *p) {
    const vd_device_info *d = vd_device(p->base.ctx, 0);
    vd_facts facts = vd__plan_facts(d);
    bool loops = facts.groups_as_loops;
    uint32_t limit = vd__plan_max_threads(d);
    uint64_t wanted = facts.concurrent_groups, rounds = vd__plan_max_iterations(d),
             results = vd__reduce_result_count(p);
    if (!loops && vd__reduce_plan_staged(p, d)) return;
    p->columns = p->kept.count && p->kept.stride[p->kept.count - 1] == 1 && p->kept.size[p->kept.count - 1] >= 8;
    /* With groups_as_loops, compilers combine the scalar loads of neighbouring invocations to vector loads themselves;
       llvmpipe splits vector loads: 4 MiB take 22 ms with vector loads and 14 ms with scalar loads. */
    p->vector = loops ? 1 : vd__reduce_vector_size(p);
    bool thread_per_result = !p->columns && results >= VD__REDUCE_LANES
               && p->reduced.product / (p->desc.segments ? results : 1) <= VD__REDUCE_LANES;
    /* if work-groups are loops over invocations, barriers cost more than strided loads */
    thread_per_result |= loops && !p->columns && !p->desc.segments && results >= 1024 && p->reduced.product <= 1024;
    /* not one thread per result if that would need more than four parts */
    if (p->desc.segments && p->reduced.product > 2 * VD__REDUCE_IN_FLIGHT * rounds) thread_per_result = false;
    p->threads = loops ? 128 : p->columns || thread_per_result ? 256 : 512;
    while (p->threads > VD__REDUCE_LANES && p->threads > limit) p->threads /= 2;
    while (!p->columns && !thread_per_result && p->threads > VD__REDUCE_LANES
           && p->threads / 2 * p->vector * (p->desc.segments ? results : 1) >= p->reduced.product
           && p->threads / 2 * (VD__REDUCE_IN_FLIGHT / 2) * rounds >= p->reduced.product)
        p->threads /= 2;
    p->lanes = thread_per_result ? p->threads : p->columns ? VD__REDUCE_LANES : 1;
    /* short columns: fewer threads share a result, so that each has several loads in flight */
    while (!loops && p->columns && p->lanes < p->threads
           && p->reduced.product < p->threads / p->lanes * (VD__REDUCE_IN_FLIGHT / 2)
           && results / (2 * p->lanes) >= wanted)
        p->lanes *= 2;
    p->tiles = vd__ceil_div(results, p->lanes);
    uint32_t loads = p->vector > 1 ? VD__REDUCE_IN_FLIGHT : VD__REDUCE_IN_FLIGHT / 2;
    p->parts = vd__reduce_part_count(p, d, wanted, p->threads / p->lanes * loads, thread_per_result);
}

/* Operands and result have the type of states. */
static vd_plan_fragment vd__combine_fragment(vd_fragment combine, vc_type type) {
    return vd__fragment_of("combine", combine, type, type, type, type);
}

static vd_result vd__reduce_build(vd_reduce *p, bool vectors) {
    vd__reduce_writer w;
    memset(&w, 0, sizeof w);
    w.plan_kernel = &p->kernels[vectors];
    w.k = vd__plan_begin(&p->base, p->base.name, p->threads);
    w.plan = p;
    w.desc = &p->desc;
    w.info = vd__reduce_plan_info(p);
    w.type[0] = p->keyed ? (vc_type)VC_U32 : vd__reduce_state_type(w.desc);
    w.type[1] = vd__reduce_is_arg(w.desc->op) ? w.desc->index_type : w.type[0];
    w.index_type = vd__reduce_is_large(p) ? VC_U64 : VC_U32;
    w.type[2] = w.index_type;
    w.levels = vd__reduce_level_count(p);
    w.vector = vectors ? p->vector : 1;
    w.loads = (p->vector > 1 ? VD__REDUCE_IN_FLIGHT : VD__REDUCE_IN_FLIGHT / 2) / w.vector;
    uint32_t unit = p->blocks ? 1 : w.vector;
    w.kept = vd__digits_in_units(&p->kept, unit, false);
    w.reduced = vd__digits_in_units(&p->reduced, unit, true);
    vd__reduce_declare(&w);
    if (p->blocks) vd__reduce_record_staged(&w);
    else vd__reduce_record_unstaged(&w);
    return vd_plan_kernel_build(&p->base, w.plan_kernel, w.k);
}

static vd_result vd__reduce_check_combine(vd_reduce_op op, const vd_fragment *combine, vc_val identity, vd_type type) {
    if (!combine->build || !op) return vd__plan_check_identity(combine, identity, type);
    return vd_error_set(VD_ERROR_INVALID, "op is %s, but must be 0 because combine is set", vd__reduce_op_name(op));
}

static vd_result vd__reduce_check_type(const vd_reduce *p) {
    const vd_reduce_desc *d = &p->desc;
    vd_result result = VD__CHECK_ENUM(d->op, "op", VD_REDUCE_VARIANCE);
    if (result) return result;
    result = vd__reduce_check_combine(d->op, &d->combine, d->identity, d->type);
    if (result) return result;
    if (d->extra_out && !vd__reduce_is_arg(d->op) && d->op != VD_REDUCE_VARIANCE)
        return vd_error_set(VD_ERROR_INVALID, "extra_out is true, but op is %s; only VD_REDUCE_ARGMIN, _ARGMAX and "
                            "_VARIANCE have a second result", vd__reduce_op_name(d->op));
    uint32_t accepted = vd__reduce_info_of(d)->accepts;
    uint32_t given = d->type == VD_BOOL ? VD__ACCEPTS_BOOL
        : d->type > VD_F64 ? 0 : d->type >= VD_F16 ? VD__ACCEPTS_FLOAT : VD__ACCEPTS_INTEGER;
    if (accepted & given) return VD_OK;
    return vd_error_set(VD_ERROR_INVALID, "type is %s, but must be a scalar %s%s", vd_type_name(d->type),
                        accepted & VD__ACCEPTS_FLOAT ? "number" : "integer",
                        accepted & VD__ACCEPTS_BOOL ? " or bool" : "");
}

static vd_result vd__reduce_check_elements(vd_context *ctx, uint64_t elements) {
    if (elements <= VD__REDUCE_NARROW || vd_device(ctx, 0)->features & VD_FEATURE_I64) return VD_OK;
    return vd_error_set(VD_ERROR_UNSUPPORTED, "there are %llu elements, but without 64-bit integers "
                        "(VD_FEATURE_I64) the limit is %llu", (unsigned long long)elements, VD__REDUCE_NARROW);
}

static vc_type vd__count_type(uint64_t elements) {
    return elements > VD__REDUCE_NARROW ? (vc_type)VC_U64 : (vc_type)VC_U32;
}

static vd_result vd__reduce_check_large(const vd_reduce *p) {
    unsigned long long kept = p->kept.product, reduced = p->reduced.product;
    if (!vd__reduce_is_large(p)) return VD_OK;
    vd_result result = vd__reduce_check_elements(p->base.ctx, kept * reduced);
    if (result) return result;
    if (kept > VD__REDUCE_RESULTS)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "there are %llu results, but the limit is %llu", kept,
                            VD__REDUCE_RESULTS);
    return VD_OK;
}

static vd_result vd__reduce_check_index(vd_reduce *p) {
    if (vd__reduce_is_arg(p->desc.op))
        return vd__plan_check_index_type(p->base.ctx, &p->desc.index_type, p->reduced.product, UINT32_MAX - 1);
    if (!p->desc.index_type) return VD_OK;
    return vd_error_set(VD_ERROR_INVALID, "index_type is %s, but op is %s; only VD_REDUCE_ARGMIN and _ARGMAX use it",
                        vd_type_name(p->desc.index_type), vd__reduce_op_name(p->desc.op));
}

/* Also sets p->kept and p->reduced. */
static vd_result vd__reduce_check_desc(vd_reduce *p) {
    const vd_reduce_desc *d = &p->desc;
    uint32_t dimensions;
    uint64_t stride;
    vd_result result = vd__reduce_check_type(p);
    if (!result)
        result = vd__fft_check_shape(d->shape, d->axes, d->segments ? VD__REDUCE_RESULTS : VD__REDUCE_ELEMENTS,
                                     &dimensions, &stride);
    if (result) return result;
    if (!d->axes) p->desc.axes = (1u << dimensions) - 1;
    p->kept.product = p->reduced.product = 1;
    for (uint32_t i = 0; i < dimensions; i++) {
        stride /= d->shape[i];
        vd__digits_add(d->axes >> i & 1 ? &p->reduced : &p->kept, d->shape[i], stride);
    }
    result = vd__reduce_check_large(p);
    if (!result) result = vd__reduce_check_index(p);
    if (result) return result;
    if (d->segments && dimensions > 1)
        return vd_error_set(VD_ERROR_INVALID, "segments is %llu, but the shape is %u-dimensional; segments require one "
                            "dimension", (unsigned long long)d->segments, dimensions);
    if (d->segments >= (uint64_t)1 << 31)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "segments is %llu, but the limit is 2^31 - 1",
                            (unsigned long long)d->segments);
    if (d->op != VD_REDUCE_VARIANCE && d->correction)
        return vd_error_set(VD_ERROR_INVALID, "correction is %u, but op is %s; only VD_REDUCE_VARIANCE uses it",
                            d->correction, vd__reduce_op_name(d->op));
    if (d->op == VD_REDUCE_VARIANCE && d->correction >= p->reduced.product)
        return vd_error_set(VD_ERROR_INVALID, "correction is %u, but must be less than %llu, the number of elements of "
                            "%s", d->correction, (unsigned long long)p->reduced.product,
                            d->segments ? "the array" : "each result");
    return VD_OK;
}

static vd_result vd__reduce_try_fragments(vd_reduce *p) {
    const vd_reduce_desc *d = &p->desc;
    p->map = vd__fragment_of("map", d->map, d->type, d->op == VD_REDUCE_DOT ? d->type : (vc_type)VC_NONE, d->type,
                             vd__reduce_is_test(d->op) ? (vc_type)VC_BOOL : vd__reduce_widened_type(d->type));
    p->map.has_index = p->map.has_arguments = true;
    p->combine = vd__combine_fragment(d->combine, vd__reduce_state_type(d));
    vd_result result = vd_plan_fragment_check(&p->base, &p->map);
    return result ? result : vd_plan_fragment_check(&p->base, &p->combine);
}

static vd_result vd__reduce_make(void *plan, const void *desc) {
    vd_reduce *p = (vd_reduce *)plan;
    p->desc = *(const vd_reduce_desc *)desc;
    if (!p->desc.type) p->desc.type = VD_F32;
    vd_result result = vd__reduce_check_desc(p);
    if (!result) result = vd__reduce_try_fragments(p);
    if (result) return result;
    const vd__reduce_op_info *info = vd__reduce_info_of(&p->desc);
    bool wide = vd__reduce_is_large(p) || p->desc.index_type == VD_U64;
    uint32_t size = wide ? 8 : vd_type_size(vd__reduce_state_type(&p->desc));
    vd__reduce_plan(p);
    if ((uint64_t)vd__reduce_result_count(p) * p->parts > (uint64_t)1 << 31)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "%llu elements in %llu segments: on this device each segment is "
                            "split into %u parts, but the limit is 2^31 parts in total",
                            (unsigned long long)p->reduced.product, (unsigned long long)p->desc.segments, p->parts);
    if (p->parts > 1) { /* each field of a state has at most `size` bytes */
        p->partials = vd_plan_buffer(&p->base, "reduce partials", VD_BYTES,
                                     (uint64_t)vd__reduce_result_count(p) * p->parts * size * info->fields, NULL);
        p->tickets = vd_plan_buffer(&p->base, "reduce tickets", VD_U32, p->tiles, NULL);
        if (!p->partials.id || !p->tickets.id) return vd_error_result();
    }
    result = vd__reduce_build(p, p->vector > 1);
    /* Fragments may be called only while the plan is made. Without fragments, the kernel with scalar loads is compiled
       when it is first needed. */
    bool fragments = p->desc.map.build || p->desc.combine.build;
    return result || p->vector == 1 || !fragments ? result : vd__reduce_build(p, false);
}

static const vd_plan_kind vd__reduce_kind = {
    "reduce", sizeof(vd_reduce), sizeof(vd_reduce_desc), vd__reduce_make, NULL, NULL
};

static void vd__reduce_roles(const vd_reduce *p, const vd_reduce_io *io, vd_plan_role *r) {
    const vd_reduce_desc *d = &p->desc;
    uint64_t count = p->kept.product * p->reduced.product, results = vd__reduce_result_count(p);
    r[VD__REDUCE_IN] = vd__role_of("in", io->in, d->type, count, false);
    r[VD__REDUCE_IN_B] = vd__role_of("in_b", io->in_b, d->type, count, false);
    r[VD__REDUCE_IN].vectors = r[VD__REDUCE_IN_B].vectors = true;
    r[VD__REDUCE_OFFSETS] = vd__role_of("offsets", io->offsets, VD_U32, d->segments + 1, false);
    r[VD__REDUCE_EXTRA_OUT] = vd__role_of("extra_out", io->extra_out, vd__reduce_extra_type(d), results, true);
    r[VD__REDUCE_OUT] = vd__role_of("out", io->out, vd__reduce_out_type(d), results, true);
    if (d->op != VD_REDUCE_DOT) r[VD__REDUCE_IN_B].unused = "desc.op is not VD_REDUCE_DOT";
    if (!d->segments) r[VD__REDUCE_OFFSETS].unused = "desc.segments is 0";
    if (!d->extra_out) r[VD__REDUCE_EXTRA_OUT].unused = "desc.extra_out is false";
    r[VD__REDUCE_PARTIALS].buffer = p->partials;
    r[VD__REDUCE_TICKETS].buffer = p->tickets;
}

static vd_result vd__reduce_run(void *plan, vd_list *list, const void *user) {
    vd_reduce *p = (vd_reduce *)plan;
    const vd_reduce_io *user_io = (const vd_reduce_io *)user;
    vd_plan_role roles[VD__REDUCE_ROLES];
    vd_plan_io io = vd__plan_io_of(roles, VD__REDUCE_PARTIALS);
    io.args = user_io->args;
    io.arg_count = user_io->arg_count;
    vd__reduce_roles(p, user_io, roles);
    vd_result result = vd_plan_check(&p->base, &io);
    bool vectors = p->vector > 1 && io.alignment % (p->vector * vd_type_size(p->desc.type)) == 0;
    if (!result && !p->kernels[vectors].kernel.id) result = vd__reduce_build(p, vectors);
    return result ? result
                  : vd__plan_dispatch_tiles(list, &p->kernels[vectors], &io, NULL, p->tiles * p->parts, UINT32_MAX);
}

// >>look-back
/* Decoupled look-back (Merrill, Garland, Single-pass parallel prefix scan with decoupled look-back, 2016), for scans
   and sorts in one pass. Each tile publishes its aggregate (the sum of its elements), then its inclusive prefix. A tile
   combines the aggregates of its predecessors, from the nearest on, until it finds an inclusive prefix. Work-groups
   obtain the index of their tile from an atomic counter (the ticket) when they start, so a work-group only waits for
   work-groups that have started.
   If a tile is not published after poll_limit polls, the waiting work-group computes its aggregate itself, because the
   tile's work-group may be unable to run meanwhile. Sorts do so after the last poll. Scans do so before the last poll
   and use the result only if that poll fails, too: in place, the elements of a published tile may be overwritten. */

/* Status of a published tile of a scan, or of the count of a digit in a tile of a sort. 0: not published. */
enum { VD__STATUS_AGGREGATE = 1, VD__STATUS_PREFIX = 2 };

/* Number of polls of an unpublished tile before it is recomputed. On a GPU, a work-group takes about 10 us and a poll
   about 0.5 us. Without forward progress the limit is low, because the tile may remain unpublished as long as this
   work-group polls. */
static uint32_t vd__look_back_poll_limit(const vd_device_info *d) { return d->facts.forward_progress ? 4096 : 200; }

/* Position of a look-back. remaining: number of previous tiles that are not combined yet; polls: of the nearest of
   these. */
typedef struct vd__look_back { vc_ref remaining, polls; } vd__look_back;

/* remaining: variable of the caller. */
static vd__look_back vd__look_back_begin(vc_kernel *k, vc_ref remaining) {
    vd__look_back b;
    b.remaining = remaining;
    b.polls = vc_var(k, "polls", VC_U32);
    return b;
}

static void vd__look_back_count_poll(const vd__look_back *b) { vd__set(&b->polls, vd__add_u32(vd__get(&b->polls), 1)); }

/* Continues with `remaining` previous tiles, or ends if `done`. */
static void vd__look_back_advance(const vd__look_back *b, vc_val done, vc_val remaining) {
    vd__set(&b->remaining, vc_select(done, vc_u32(0), remaining));
    vd__set(&b->polls, vc_u32(0));
}

// >>scan
/* Scans (prefix sums) along an axis, and compaction, which is a scan of keep flags followed by a scatter.

   A work-group scans one tile of a row. On a GPU whose subgroups have one size, each subgroup scans a strip, a
   contiguous part of the tile, if there is a subgroup operation for op and the scan is not segmented. Otherwise the
   sums of the threads are scanned through shared memory. The exclusive prefix of a tile is the sum of all elements
   before it in the row. It is computed by one of two methods:
   - One pass with look-back.
   - Three kernels, for devices on which waiting is not safe or is slower: the first computes the aggregates of the
     tiles, the second scans these, the third scans the tiles.

   Short rows: a work-group copies several consecutive rows to shared memory with coalesced loads, scans them there and
   copies them back. Each thread scans a run, consecutive elements of a row. Runs have an odd number of elements and
   rows are padded to whole runs, so that neighbouring threads access different banks. */

enum {
    VD__SCAN_LOADS = 8,          /* vector loads per thread of a tile */
    VD__SCAN_VECTOR = 4,         /* maximum elements per vector load */
    VD__SCAN_TARGET_RUN = 8,     /* short rows: approximate elements per run */
    VD__SCAN_MAX_STAGED = 10,    /* short rows: maximum elements per thread in shared memory */
    VD__SCAN_MAX_SHORT = 512     /* maximum elements of a short row */
};

typedef enum vd__scan_mode {
    VD__SCAN_SINGLE_TILE,        /* a row is one tile */
    VD__SCAN_LOOK_BACK,          /* one pass with look-back */
    VD__SCAN_REDUCE_TILES,       /* first of three kernels: aggregates of the tiles */
    VD__SCAN_TILE_PREFIXES,      /* second of three kernels: scan of the aggregates */
    VD__SCAN_APPLY_PREFIXES,     /* third of three kernels: scan of the tiles */
    VD__SCAN_COLUMNS,            /* along an axis that is not the last one: several threads share a column */
    VD__SCAN_SHORT_ROWS,         /* several short rows per work-group */
    VD__SCAN_MODES
} vd__scan_mode;

typedef enum vd__scan_role {
    VD__SCAN_IN, VD__SCAN_HEADS, VD__SCAN_OUT, VD__SCAN_COUNT, VD__SCAN_STATES, VD__SCAN_FLAGS, VD__SCAN_ROLES
} vd__scan_role;

struct vd_scan {
    vd_plan base;
    vd_scan_desc desc;
    bool compacts;               /* a compaction */
    vd_plan_fragment lift, combine; /* lift: map or, of a compaction, keep */
    uint64_t count, rows;        /* elements along the axis, number of independent scans */
    uint64_t inner;              /* stride along the axis in elements */
    uint64_t tiles;              /* tiles per row */
    /* Short rows: elements of a run, an odd number; runs of a row, one for each thread. 0: rows are not short. */
    uint32_t run, runs;
    uint32_t rows_per_thread;    /* short rows: more than 1 only if one thread scans a whole row */
    uint64_t slab;               /* columns: elements along the axis that a dispatch scans */
    uint32_t threads;            /* threads per work-group */
    uint32_t vector;             /* elements per vector load */
    bool vector_aligned;         /* every row begins at a multiple of `vector` elements */
    bool one_pass;               /* look-back, as VD_SCAN_ONE_PASS; otherwise three kernels */
    uint32_t poll_limit;         /* polls of an unpublished tile before its aggregate is recomputed */
    uint32_t tiles_in_flight;    /* look-back: maximum tiles per dispatch */
    bool subgroup_look_back;     /* in look-back, each invocation of a subgroup polls another tile */
    uint32_t subgroup_size;      /* tiles are scanned by subgroups of this size; 0: through shared memory */
    bool atomic64;               /* the device has 64-bit atomics */
    vd_plan_kernel kernels[VD__SCAN_MODES][2]; /* [1]: with vector loads and stores */
    /* Look-back: the words that tiles publish. Three kernels: aggregate or exclusive prefix of each tile. Slabs: sum of
       the previous slabs of each column. */
    vd_buffer states;
    /* Look-back: the next ticket, the number of finished work-groups, the number of the last run. Otherwise, in
       segmented scans: the head flag of each entry of `states`. */
    vd_buffer flags;
};

/* State of a range of elements. head: 1 if a segment begins in the range, otherwise 0. value: sum of the range or, if
   head is 1, from the last segment head on. */
typedef struct vd__scan_state { vc_val value, head; } vd__scan_state;

/* State while a kernel is recorded. */
typedef struct vd__scan_writer {
    vc_kernel *k;
    vd_plan_kernel *plan_kernel;
    const vd_scan *plan;
    const vd_scan_desc *desc;
    vd__scan_mode mode;
    vc_combine op;
    vc_type type;                /* type of sums */
    uint32_t threads, vector;    /* those of the plan */
    uint32_t tile_size;          /* elements of a tile */
    bool vectors;                /* the kernel has vector loads and stores */
    vc_ref in[2], out[2], heads[2], count; /* [0]: as scalars, [1]: as vectors */
    vc_ref states, flags, sums[2], totals[2];
    vc_ref elements[VD__SCAN_LOADS * VD__SCAN_VECTOR], element_heads[VD__SCAN_LOADS * VD__SCAN_VECTOR];
    vc_val thread, row;
    vc_val tile_index, row_base; /* index of the tile within the row; index of the first element of the row */
    vc_val vector_prefix[VD__SCAN_LOADS]; /* scans by subgroups: exclusive prefix of each vector within the tile */
    vc_val epoch;                /* look-back: number of the run, truncated to the bits that a tag has for it */
    vc_val slab_begin;           /* columns: index along the axis of the first element of the slab */
    vc_type index_type;          /* of indices of elements: VC_U64 in large arrays, else VC_U32 */
} vd__scan_writer;

static vc_type vd__scan_type(const vd_scan *p) {
    return p->compacts ? vd__count_type(p->count) : vd__reduce_widened_type(p->desc.type);
}

/* ---- states ---- */

static vc_val vd__scan_identity(const vd__scan_writer *w) {
    if (w->plan->compacts) return vc_imm(w->type, 0);
    return w->desc->combine.build ? vd__plan_identity(w->desc->identity, w->type) : vd__reduce_identity(w->op, w->type);
}

static vd__scan_state vd__scan_identity_state(const vd__scan_writer *w) {
    vd__scan_state s;
    s.value = vd__scan_identity(w);
    s.head = vc_u32(0);
    return s;
}

/* Combines two sums, a before b. */
static vc_val vd__scan_combine(const vd__scan_writer *w, vc_val a, vc_val b) {
    if (!w->desc->combine.build) return vd__reduce_combine(w->op, a, b);
    return vc_cast(w->type, vd_plan_fragment_build(&w->plan->combine, w->k, a, b, a));
}

/* Combines the states of two adjacent ranges, a before b. */
static vd__scan_state vd__scan_combine_states(const vd__scan_writer *w, vd__scan_state a, vd__scan_state b) {
    vd__scan_state s = a;
    s.value = vd__scan_combine(w, a.value, b.value);
    if (!w->desc->segmented) return s;
    s.value = vc_select(vd__ne_u32(b.head, 0), b.value, s.value);
    s.head = vc_or(a.head, b.head);
    return s;
}

static vd__scan_state vd__scan_select(vc_val condition, vd__scan_state a, vd__scan_state b) {
    vd__scan_state s;
    s.value = vc_select(condition, a.value, b.value);
    s.head = vc_select(condition, a.head, b.head);
    return s;
}

/* The second array, for head flags, exists only in segmented scans. */
static vd__scan_state vd__scan_load(const vd__scan_writer *w, const vc_ref *from, vc_val at) {
    vd__scan_state s;
    s.value = vd__load(&from[0], at);
    s.head = w->desc->segmented ? vd__load(&from[1], at) : vc_u32(0);
    return s;
}

static void vd__scan_store(const vd__scan_writer *w, const vc_ref *to, vc_val at, vd__scan_state s) {
    vd__store(&to[0], at, s.value);
    if (w->desc->segmented) vd__store(&to[1], at, s.head);
}

static void vd__scan_declare_shared(const vd__scan_writer *w, const char *name, uint32_t count, vc_ref *to) {
    to[0] = vc_shared(w->k, name, w->type, count);
    if (w->desc->segmented) to[1] = vc_shared(w->k, "heads", VC_U32, count);
}

/* Converts an element to the type of sums: applies map, or keep as 0 or 1. */
static vc_val vd__scan_lift(const vd__scan_writer *w, vc_val element) {
    const vd_plan_fragment *lift = &w->plan->lift;
    vc_val v = lift->code.build ? vd_plan_fragment_build(lift, w->k, element, element, element) : element;
    return vc_cast(w->type, w->plan->compacts ? vc_cast(VC_BOOL, v) : v);
}

static vd__scan_state vd__scan_element(const vd__scan_writer *w, uint32_t i) {
    vd__scan_state s;
    s.value = vd__scan_lift(w, vd__get(&w->elements[i]));
    s.head = w->desc->segmented ? vd__get(&w->element_heads[i]) : vc_u32(0);
    return s;
}

static vd__scan_state vd__scan_load_element(const vd__scan_writer *w, vc_val at, vc_val *element) {
    vd__scan_state s;
    *element = vd__load(&w->in[0], at);
    s.value = vd__scan_lift(w, *element);
    s.head = w->desc->segmented ? vc_cast(VC_U32, vd__ne_u32(vd__load(&w->heads[0], at), 0)) : vc_u32(0);
    return s;
}

/* ---- published tiles ---- A tile publishes a state and its status: VD__STATUS_AGGREGATE, or VD__STATUS_PREFIX for the
   inclusive prefix. The value of the state is split into pieces of half an atomic word. The other half of each word
   contains a tag of epoch, head and status, which is the same for all pieces. If the tags that a reader loads are
   equal, the pieces belong together; this does not depend on the order in which stores become visible. Fences are not
   used to order them, because Mesa's llvmpipe up to 22.3 treats a fence in a loop as a barrier. */

/* Number of bits of a piece of a published state. */
static uint32_t vd__scan_piece_bits(const vd_scan *p) { return p->atomic64 ? 32 : 16; }
/* Number of pieces, and so of words, of a published state. */
static uint32_t vd__scan_piece_count(const vd_scan *p) {
    return vd_type_size(vd__scan_type(p)) * 8 / vd__scan_piece_bits(p);
}
/* Type of the words of published states. */
static vc_type vd__scan_word_type(const vd_scan *p) { return p->atomic64 ? (vc_type)VC_U64 : (vc_type)VC_U32; }

/* The low bits of the number of a run, as many as a tag has for it. */
static vc_val vd__scan_epoch_bits(const vd__scan_writer *w, vc_val epoch) {
    return vd__and_u32(epoch, (1u << (vd__scan_piece_bits(w->plan) - 3)) - 1);
}

static void vd__scan_publish(const vd__scan_writer *w, vc_val tile, uint32_t status, vd__scan_state s) {
    uint32_t bits = vd__scan_piece_bits(w->plan), count = vd__scan_piece_count(w->plan);
    vc_type word = vd__scan_word_type(w->plan);
    vc_val tag = vc_or(vc_or(vd__shl_u32(w->epoch, 3), vd__shl_u32(s.head, 2)), vc_u32(status));
    vc_val value = vc_bitcast(vd_type_size(w->type) == 8 ? (vc_type)VC_U64 : (vc_type)VC_U32, s.value);
    vc_val mask = vc_imm(vc_typeof(value), ((uint64_t)1 << bits) - 1);
    for (uint32_t i = 0; i < count; i++) {
        vc_val piece = count == 1 ? value : vc_and(vd__shr_u32(value, i * bits), mask);
        piece = vc_or(vd__shl_u32(vc_cast(word, tag), bits), vc_cast(word, piece));
        vc_atomic_store(w->states, vd__add_u32(vd__mul_u32(tile, count), i), piece);
    }
}

/* Loads the state that a tile published in this run. *status: 0 if there is none, or if only some pieces are visible.
   */
static vd__scan_state vd__scan_poll(const vd__scan_writer *w, vc_val tile, vc_val *status) {
    uint32_t bits = vd__scan_piece_bits(w->plan), count = vd__scan_piece_count(w->plan);
    vc_type type = vd_type_size(w->type) == 8 ? (vc_type)VC_U64 : (vc_type)VC_U32, word = vd__scan_word_type(w->plan);
    vc_val tag = vc_u32(0), value = vc_imm(type, 0), same = vc_bool(true), piece;
    vd__scan_state s;
    for (uint32_t i = 0; i < count; i++) {
        vc_atomic_load(w->states, vd__add_u32(vd__mul_u32(tile, count), i), &piece);
        vc_val other_tag = vc_cast(VC_U32, vd__shr_u32(piece, bits));
        if (i) same = vc_and(same, vc_eq(tag, other_tag));
        else tag = other_tag;
        value = vc_or(value,
                      vd__shl_u32(vc_cast(type, vc_and(piece, vc_imm(word, ((uint64_t)1 << bits) - 1))), i * bits));
    }
    same = vc_and(same, vc_eq(vd__shr_u32(tag, 3), w->epoch));
    s.value = vc_bitcast(w->type, value);
    s.head = vd__and_u32(vd__shr_u32(tag, 2), 1);
    *status = vc_select(same, vd__and_u32(tag, 3), vc_u32(0));
    return s;
}

/* The aggregate of an unpublished tile of this row, computed by one thread. */
static vd__scan_state vd__scan_recompute_tile(const vd__scan_writer *w, vc_val tile_index) {
    vc_val first = vc_mul(vd__index_of(w->index_type, tile_index), vc_imm(w->index_type, w->tile_size)), element;
    vc_ref sum[2];
    sum[0] = vc_var(w->k, "aggregate", w->type);
    sum[1] = vc_var(w->k, "aggregate_head", VC_U32);
    vd__scan_store(w, sum, vc_u32(0), vd__scan_identity_state(w));
    VC_FOR(w->k, i, first, vc_add(first, vc_imm(w->index_type, w->tile_size))) {
        vd__scan_state s = vd__scan_load_element(w, vc_add(w->row_base, i), &element);
        vd__scan_store(w, sum, vc_u32(0), vd__scan_combine_states(w, vd__scan_load(w, sum, vc_u32(0)), s));
    }
    return vd__scan_load(w, sum, vc_u32(0));
}

/* Not on devices that order stores: llvmpipe treats fences as barriers. */
static void vd__scan_fence(const vd__scan_writer *w) {
    if (vd_device(w->plan->base.ctx, 0)->facts.ordered_stores) return;
    vc_fence(w->k, VC_SCOPE_DEVICE, VC_STORAGE_BUFFER);
}

/* Look-back by one thread. Combines the states of the tiles remaining - 1, remaining - 2, … of the row into `to`, up to
   an inclusive prefix, a segment head or the beginning of the row. first: index of the first tile of the row. A
   recomputed tile is polled once more. If it has been published meanwhile, the published state is used, because in a
   scan in place its elements may have been overwritten. */
static void vd__scan_look_back_serial(const vd__scan_writer *w, vc_val first, vc_ref remaining, const vc_ref *to) {
    vd__look_back b = vd__look_back_begin(w->k, remaining);
    vc_ref sum[2];
    sum[0] = vc_var(w->k, "recomputed", w->type);
    sum[1] = vc_var(w->k, "recomputed_head", VC_U32);
    VC_LOOP(w->k) {
        vc_val j = vd__get(&remaining), predecessor = vc_add(first, vd__sub_u32(j, 1)), status;
        vc_break_if(w->k, vd__eq_u32(j, 0));
        vc_val recompute = vc_le(vc_u32(w->plan->poll_limit), vd__get(&b.polls));
        VC_IF(w->k, recompute) {
            vd__scan_store(w, sum, vc_u32(0), vd__scan_recompute_tile(w, vd__sub_u32(j, 1)));
            vd__scan_fence(w); /* the elements are read before the tile is polled again */
        }
        vd__scan_state s = vd__scan_poll(w, predecessor, &status);
        vd__look_back_count_poll(&b);
        VC_IF(w->k, vc_or(recompute, vd__ne_u32(status, 0))) {
            s = vd__scan_select(vd__ne_u32(status, 0), s, vd__scan_load(w, sum, vc_u32(0)));
            vd__scan_store(w, to, vc_u32(0), vd__scan_combine_states(w, s, vd__scan_load(w, to, vc_u32(0))));
            vd__look_back_advance(&b, vc_or(vd__eq_u32(status, VD__STATUS_PREFIX), vd__ne_u32(s.head, 0)),
                                  vd__sub_u32(j, 1));
        }
    }
}

/* Look-back by a subgroup: each active invocation polls another tile. Combines states out of order, so the operation
   must be commutative. Returns early after poll_limit unsuccessful polls; vd__scan_look_back_serial then continues at
   `remaining`. */
static void vd__scan_look_back_subgroup(const vd__scan_writer *w, vc_val first, vc_ref remaining, vc_ref to) {
    /* Number of active invocations, and index among them. */
    vc_val one = vc_const(w->k, vc_u32(1)), size = vc_subgroup_reduce(VC_ADD, one);
    vc_val lane = vc_subgroup_exclusive(VC_ADD, one);
    vd__look_back b = vd__look_back_begin(w->k, remaining);
    VC_LOOP(w->k) {
        vc_val j = vd__get(&remaining), status, exists = vc_lt(lane, j);
        vc_val back = vc_select(exists, vc_sub(vd__sub_u32(j, 1), lane), vc_u32(0));
        vd__scan_state s = vd__scan_poll(w, vc_add(first, back), &status);
        status = vc_select(exists, status, vc_u32(VD__STATUS_PREFIX));
        vc_val value = vc_select(exists, s.value, vd__scan_identity(w));
        vd__look_back_count_poll(&b);
        vc_break_if(w->k, vc_lt(vc_u32(w->plan->poll_limit), vd__get(&b.polls)));
        vc_continue_if(w->k, vc_subgroup_any(vd__eq_u32(status, 0)));
        vc_val nearest = vc_subgroup_reduce(VC_MIN, vc_select(vd__eq_u32(status, VD__STATUS_PREFIX), lane, size));
        value = vc_subgroup_reduce(w->op, vc_select(vc_le(lane, nearest), value, vd__scan_identity(w)));
        vd__set(&to, vd__scan_combine(w, value, vd__get(&to)));
        vd__look_back_advance(&b, vc_lt(nearest, size), vc_sub(j, size));
        vc_break_if(w->k, vc_lt(nearest, size));
    }
}

/* ---- a tile ---- */

/* Index of element i in a shared array with one padding element after every 2^shift elements, which avoids bank
   conflicts for both consecutive and strided access. */
static vc_val vd__plan_padded(vc_val i, uint32_t shift) { return vc_add(i, vd__shr_u32(i, shift)); }
static vc_val vd__scan_padded(vc_val i) { return vd__plan_padded(i, 3); }

/* Exclusive prefix of this thread's state s among `span` neighbouring threads; position: index of this thread among
   them. A scan in log2(span) steps (Hillis, Steele, Data parallel algorithms, 1986) in shared memory, which alternates
   between the halves of w->totals. aggregate: sum of the states of all threads, which must then be `span`; NULL: not
   needed. */
static vd__scan_state vd__scan_shared_exclusive(const vd__scan_writer *w, vd__scan_state s, vc_val position,
                                                uint32_t span, vd__scan_state *aggregate) {
    uint32_t step, half = 0;
    vc_val has_predecessor;
    vd__scan_state before;
    for (step = 1; step < span; step *= 2, half = w->threads - half) {
        vd__scan_store(w, w->totals, vd__add_u32(w->thread, half), s);
        vd__shared_barrier(w->k);
        has_predecessor = vc_le(vc_u32(step), position);
        before = vd__scan_load(
            w, w->totals, vd__add_u32(vc_select(has_predecessor, vd__sub_u32(w->thread, step), vc_u32(0)), half));
        s = vd__scan_select(has_predecessor, vd__scan_combine_states(w, before, s), s);
    }
    vd__scan_store(w, w->totals, vd__add_u32(w->thread, half), s);
    vd__shared_barrier(w->k);
    if (aggregate) *aggregate = vd__scan_load(w, w->totals, vc_u32(half + w->threads - 1));
    has_predecessor = vd__ne_u32(position, 0);
    before = vd__scan_load(w, w->totals,
                           vd__add_u32(vc_select(has_predecessor, vd__sub_u32(w->thread, 1), vc_u32(0)), half));
    return vd__scan_select(has_predecessor, before, vd__scan_identity_state(w));
}

static vd__scan_state vd__scan_group_exclusive(const vd__scan_writer *w, vd__scan_state s, vd__scan_state *aggregate) {
    return vd__scan_shared_exclusive(w, s, w->thread, w->threads, aggregate);
}

/* Index in the row of element j of this thread's vector i. */
static vc_val vd__scan_row_index(const vd__scan_writer *w, uint32_t i, uint32_t j) {
    uint32_t subgroup_size = w->plan->subgroup_size;
    vc_val load = subgroup_size ? vc_add(vd__mul_u32(vc_subgroup_id(w->k), VD__SCAN_LOADS * subgroup_size),
                                         vd__add_u32(vc_subgroup_local_id(w->k), i * subgroup_size))
                                : vc_add(vc_u32(i * w->threads), w->thread);
    vc_val tile = vc_mul(vd__index_of(w->index_type, w->tile_index), vc_imm(w->index_type, w->tile_size));
    return vc_add(vc_add(tile, vd__index_of(w->index_type, vd__mul_u32(load, w->vector))), vc_imm(w->index_type, j));
}

static vc_val vd__scan_tile_is_full(const vd__scan_writer *w) {
    vc_val next_tile = vd__index_of(w->index_type, vd__add_u32(w->tile_index, 1));
    return vc_le(vc_mul(next_tile, vc_imm(w->index_type, w->tile_size)), vc_imm(w->index_type, w->plan->count));
}

/* Sets element `at` of the thread: element at % vector of its vector at / vector. */
static void vd__scan_set_element(const vd__scan_writer *w, uint32_t at, vc_val element, vc_val head) {
    vd__set(&w->elements[at], element);
    if (w->desc->segmented) vd__set(&w->element_heads[at], vc_cast(VC_U32, vd__ne_u32(head, 0)));
}

static void vd__scan_load_tile(const vd__scan_writer *w) {
    vc_val index, element, head = vc_u32(0), full = w->vectors ? vd__scan_tile_is_full(w) : vc_bool(false);
    if (w->vectors) VC_IF(w->k, full) {
        for (uint32_t i = 0; i < VD__SCAN_LOADS; i++) {
            index = vc_div(vc_add(w->row_base, vd__scan_row_index(w, i, 0)), vc_imm(w->index_type, w->vector));
            element = vd__load(&w->in[1], index);
            if (w->desc->segmented) head = vd__load(&w->heads[1], index);
            for (uint32_t j = 0; j < w->vector; j++)
                vd__scan_set_element(w, i * w->vector + j, vc_component(element, j),
                                     w->desc->segmented ? vc_component(head, j) : head);
        }
    }
    VC_IF(w->k, vc_not(full)) {
        for (uint32_t at = 0; at < VD__SCAN_LOADS * w->vector; at++) {
            index = vd__scan_row_index(w, at / w->vector, at % w->vector);
            VC_IF(w->k, vc_lt(index, vc_imm(w->index_type, w->plan->count))) {
                element = vd__load(&w->in[0], vc_add(w->row_base, index));
                if (w->desc->segmented) head = vd__load(&w->heads[0], vc_add(w->row_base, index));
                vd__scan_set_element(w, at, element, head);
            }
        }
    }
}

/* The identity if element `at` of the thread is past the end of the row. */
static vd__scan_state vd__scan_valid_element(const vd__scan_writer *w, uint32_t at) {
    vc_val index = vd__scan_row_index(w, at / w->vector, at % w->vector);
    return vd__scan_select(vc_lt(index, vc_imm(w->index_type, w->plan->count)), vd__scan_element(w, at),
                           vd__scan_identity_state(w));
}

static vd__scan_state vd__scan_vector_aggregate(const vd__scan_writer *w, uint32_t i) {
    vd__scan_state s = vd__scan_valid_element(w, i * w->vector);
    for (uint32_t j = 1; j < w->vector; j++)
        s = vd__scan_combine_states(w, s, vd__scan_valid_element(w, i * w->vector + j));
    return s;
}

/* Scans the tile by subgroups. Each subgroup scans its strip, one vector per invocation at a time. The sums of the
   strips are exchanged through shared memory with one barrier. Sets w->vector_prefix; returns the aggregate of the
   tile. */
static vd__scan_state vd__scan_tile_by_subgroups(vd__scan_writer *w) {
    uint32_t subgroup_size = w->plan->subgroup_size;
    vc_val sum_of_strips = vd__scan_identity(w), strip_prefix = sum_of_strips, total = sum_of_strips;
    vd__scan_state aggregate = vd__scan_identity_state(w);
    for (uint32_t i = 0; i < VD__SCAN_LOADS; i++) {
        vc_val sum = vd__scan_vector_aggregate(w, i).value;
        vc_val before = vc_subgroup_exclusive(w->op, sum);
        w->vector_prefix[i] = vd__scan_combine(w, total, before);
        total = vd__scan_combine(w, total,
                                 vc_subgroup_broadcast(vd__scan_combine(w, before, sum), vc_u32(subgroup_size - 1)));
    }
    VC_IF(w->k, vd__eq_u32(vc_subgroup_local_id(w->k), 0)) { vd__store(&w->totals[0], vc_subgroup_id(w->k), total); }
    vd__shared_barrier(w->k);
    for (uint32_t i = 0; i < w->threads / subgroup_size; i++) {
        strip_prefix = vc_select(vd__eq_u32(vc_subgroup_id(w->k), i), sum_of_strips, strip_prefix);
        sum_of_strips = vd__scan_combine(w, sum_of_strips, vd__load(&w->totals[0], vc_u32(i)));
    }
    for (uint32_t i = 0; i < VD__SCAN_LOADS; i++)
        w->vector_prefix[i] = vd__scan_combine(w, strip_prefix, w->vector_prefix[i]);
    aggregate.value = sum_of_strips;
    return aggregate;
}

/* Computes the exclusive prefix of each vector within the tile, for vd__scan_vector_prefix. Returns the aggregate of
   the tile. */
static vd__scan_state vd__scan_tile(vd__scan_writer *w) {
    vd__scan_state s, part[VD__SCAN_LOADS], aggregate;
    if (w->plan->subgroup_size) return vd__scan_tile_by_subgroups(w);
    for (uint32_t i = 0; i < VD__SCAN_LOADS; i++)
        vd__scan_store(w, w->sums, vd__scan_padded(vc_add(vc_u32(i * w->threads), w->thread)),
                       vd__scan_vector_aggregate(w, i));
    vd__shared_barrier(w->k);
    for (uint32_t i = 0; i < VD__SCAN_LOADS; i++) {
        part[i] = vd__scan_load(w, w->sums, vd__scan_padded(vd__add_u32(vd__mul_u32(w->thread, VD__SCAN_LOADS), i)));
        s = i ? vd__scan_combine_states(w, s, part[i]) : part[i];
    }
    s = vd__scan_group_exclusive(w, s, &aggregate);
    for (uint32_t i = 0; i < VD__SCAN_LOADS; i++) {
        vd__scan_store(w, w->sums, vd__scan_padded(vd__add_u32(vd__mul_u32(w->thread, VD__SCAN_LOADS), i)), s);
        s = vd__scan_combine_states(w, s, part[i]);
    }
    return aggregate;
}

static vd__scan_state vd__scan_vector_prefix(const vd__scan_writer *w, uint32_t i) {
    vd__scan_state s = vd__scan_identity_state(w);
    if (!w->plan->subgroup_size)
        return vd__scan_load(w, w->sums, vd__scan_padded(vc_add(vc_u32(i * w->threads), w->thread)));
    s.value = w->vector_prefix[i];
    return s;
}

/* Compaction: stores each kept element. Its index is the number of kept elements before it. The last tile stores the
   number of all kept elements. */
static void vd__scan_store_kept(const vd__scan_writer *w, vc_val prefix, vc_val aggregate) {
    vc_val to = prefix;
    for (uint32_t at = 0; at < VD__SCAN_LOADS * w->vector; at++) {
        vc_val kept = vd__scan_valid_element(w, at).value;
        if (at % w->vector == 0) to = vc_add(prefix, vd__scan_vector_prefix(w, at / w->vector).value);
        VC_IF(w->k, vc_ne(kept, vc_imm(w->type, 0))) { vd__store(&w->out[0], to, vd__get(&w->elements[at])); }
        to = vc_add(to, kept);
    }
    VC_IF(w->k, vc_and(vd__eq_u32(w->thread, 0), vd__eq_u32(w->tile_index, (uint32_t)w->plan->tiles - 1))) {
        vd__store(&w->count, vc_u32(0), vc_add(prefix, aggregate));
    }
}

static vc_val vd__scan_result(const vd__scan_writer *w, vd__scan_state exclusive, vd__scan_state inclusive,
                              vd__scan_state e) {
    vc_val v = inclusive.value;
    if (w->desc->exclusive)
        v = w->desc->segmented ? vc_select(vd__ne_u32(e.head, 0), vd__scan_identity(w), exclusive.value)
                               : exclusive.value;
    if (w->desc->exclusive) v = vd__reduce_narrow_identity(w->op, w->desc->type, v);
    return vc_cast(w->desc->type, v);
}

static void vd__scan_store_results(const vd__scan_writer *w, const vc_val *result) {
    vc_val full = w->vectors ? vd__scan_tile_is_full(w) : vc_bool(false), index;
    if (w->vectors) VC_IF(w->k, full) {
        for (uint32_t i = 0; i < VD__SCAN_LOADS; i++) {
            const vc_val *r = &result[i * w->vector];
            index = vc_div(vc_add(w->row_base, vd__scan_row_index(w, i, 0)), vc_imm(w->index_type, w->vector));
            vc_val value = w->vector == 4 ? vc_vec4(r[0], r[1], r[2], r[3]) : vc_vec2(r[0], r[1]);
            vd__store(&w->out[1], index, value);
        }
    }
    VC_IF(w->k, vc_not(full)) {
        for (uint32_t at = 0; at < VD__SCAN_LOADS * w->vector; at++) {
            index = vd__scan_row_index(w, at / w->vector, at % w->vector);
            VC_IF(w->k, vc_lt(index, vc_imm(w->index_type, w->plan->count))) {
                vd__store(&w->out[0], vc_add(w->row_base, index), result[at]);
            }
        }
    }
}

static void vd__scan_store_tile(const vd__scan_writer *w, vd__scan_state prefix) {
    vc_val result[VD__SCAN_LOADS * VD__SCAN_VECTOR];
    for (uint32_t i = 0; i < VD__SCAN_LOADS; i++) {
        vd__scan_state s = vd__scan_combine_states(w, prefix, vd__scan_vector_prefix(w, i)), e, inclusive;
        for (uint32_t j = 0; j < w->vector; j++, s = inclusive) {
            e = vd__scan_element(w, i * w->vector + j);
            inclusive = vd__scan_combine_states(w, s, e);
            result[i * w->vector + j] = vd__scan_result(w, s, inclusive, e);
        }
    }
    vd__scan_store_results(w, result);
}

/* ---- the kernels ---- */

/* The index of this work-group's tile is the number of work-groups that started before it. w->epoch is the number of
   this run of the plan, counted from 1, which distinguishes states published in this run from older ones. */
static vc_val vd__scan_ticket(vd__scan_writer *w) {
    vc_ref shared = vc_shared(w->k, "ticket", VC_U32, 2);
    vc_val ticket, epoch;
    VC_IF(w->k, vd__eq_u32(w->thread, 0)) {
        vc_atomic_add(w->flags, vc_u32(0), vc_u32(1), &ticket);
        vc_atomic_load(w->flags, vc_u32(2), &epoch);
        vd__store(&shared, vc_u32(0), ticket);
        vd__store(&shared, vc_u32(1), vd__add_u32(epoch, 1));
    }
    vd__shared_barrier(w->k);
    w->epoch = vd__scan_epoch_bits(w, vd__load(&shared, vc_u32(1)));
    return vd__load(&shared, vc_u32(0));
}

/* Counts this work-group as finished. The last work-group resets the counters for the next run. */
static void vd__scan_reset_if_last(const vd__scan_writer *w) {
    vc_val old, all = vc_u32((uint32_t)(w->plan->rows * w->plan->tiles - 1));
    vc_atomic_add(w->flags, vc_u32(1), vc_u32(1), &old);
    VC_IF(w->k, vc_eq(old, all)) {
        vd__store(&w->flags, vc_u32(0), vc_u32(0));
        vd__store(&w->flags, vc_u32(1), vc_u32(0));
        vd__store(&w->flags, vc_u32(2), w->epoch);
    }
}

/* Exclusive prefix of the tile. One thread publishes the aggregate of the tile, unless the tile is the first of its
   row, and later the inclusive prefix of the tile. */
static vd__scan_state vd__scan_look_back(const vd__scan_writer *w, vc_val tile, vd__scan_state aggregate) {
    bool by_subgroup = w->plan->subgroup_look_back;
    vc_val first_tile = vc_sub(tile, w->tile_index);
    vc_val selected = vd__eq_u32(by_subgroup ? vc_subgroup_id(w->k) : w->thread, 0); /* threads that look back */
    vc_val leader = by_subgroup ? vc_and(selected, vd__eq_u32(vc_subgroup_local_id(w->k), 0)) : selected;
    vc_ref shared_prefix[2], prefix[2], remaining = vc_var(w->k, "remaining", VC_U32);
    vd__scan_state s;
    vd__scan_declare_shared(w, "shared_prefix", 1, shared_prefix);
    prefix[0] = vc_var(w->k, "prefix", w->type);
    prefix[1] = vc_var(w->k, "prefix_head", VC_U32);
    vd__set(&prefix[0], vd__scan_identity(w));
    VC_IF(w->k, vc_and(leader, vd__ne_u32(w->tile_index, 0))) {
        vd__scan_publish(w, tile, VD__STATUS_AGGREGATE, aggregate);
    }
    vd__set(&remaining, w->tile_index);
    if (by_subgroup) VC_IF(w->k, selected) { vd__scan_look_back_subgroup(w, first_tile, remaining, prefix[0]); }
    VC_IF(w->k, leader) {
        vd__scan_look_back_serial(w, first_tile, remaining, prefix); /* the tiles that the subgroup has not visited */
        s.value = vd__get(&prefix[0]);
        s.head = vd__get(&prefix[1]);
        vd__scan_publish(w, tile, VD__STATUS_PREFIX, vd__scan_combine_states(w, s, aggregate));
        /* The prefix must be visible before the results of the tile: in place, the results overwrite elements that
           other work-groups may load to recompute the aggregate. */
        vd__scan_fence(w);
        vd__scan_store(w, shared_prefix, vc_u32(0), s);
        vd__scan_reset_if_last(w);
    }
    vc_barrier_scoped(w->k, VC_SCOPE_WORKGROUP, VC_SCOPE_WORKGROUP, VC_STORAGE_SHARED | VC_STORAGE_BUFFER);
    return vd__scan_load(w, shared_prefix, vc_u32(0));
}

/* Loads the state of a tile between the three kernels (its aggregate, later its exclusive prefix), or the sum of the
   previous slabs of a column. */
static vd__scan_state vd__scan_load_tile_state(const vd__scan_writer *w, vc_val tile) {
    vd__scan_state s;
    s.value = vd__load(&w->states, tile);
    s.head = w->desc->segmented ? vd__load(&w->flags, tile) : vc_u32(0);
    return s;
}

static void vd__scan_store_tile_state(const vd__scan_writer *w, vc_val tile, vd__scan_state s) {
    vd__store(&w->states, tile, s.value);
    if (w->desc->segmented) vd__store(&w->flags, tile, s.head);
}

static void vd__scan_record_tile(vd__scan_writer *w) {
    vc_val tile = w->mode == VD__SCAN_LOOK_BACK ? vd__scan_ticket(w) : vc_group_id(w->k, 0);
    vc_val tiles = vc_u32((uint32_t)w->plan->tiles);
    vd__scan_state aggregate, prefix = vd__scan_identity_state(w);
    for (uint32_t i = 0; i < VD__SCAN_LOADS * w->vector; i++) {
        w->elements[i] = vc_var(w->k, "x", w->desc->type);
        if (w->desc->segmented) w->element_heads[i] = vc_var(w->k, "h", VC_U32);
    }
    if (!w->plan->subgroup_size) vd__scan_declare_shared(w, "sums", w->threads * VD__SCAN_LOADS / 8 * 9, w->sums);
    vd__scan_declare_shared(w, "totals", w->plan->subgroup_size ? w->threads / w->plan->subgroup_size : 2 * w->threads,
                            w->totals);
    w->row = vc_div(tile, tiles);
    w->tile_index = vc_rem(tile, tiles);
    w->row_base = vc_mul(vd__index_of(w->index_type, w->row), vc_imm(w->index_type, w->plan->count));
    vd__scan_load_tile(w);
    aggregate = vd__scan_tile(w);
    if (w->mode == VD__SCAN_REDUCE_TILES) {
        VC_IF(w->k, vd__eq_u32(w->thread, 0)) { vd__scan_store_tile_state(w, tile, aggregate); }
        return;
    }
    if (w->mode == VD__SCAN_LOOK_BACK) prefix = vd__scan_look_back(w, tile, aggregate);
    else vd__shared_barrier(w->k);
    if (w->mode == VD__SCAN_APPLY_PREFIXES) prefix = vd__scan_load_tile_state(w, tile);
    if (w->plan->compacts) vd__scan_store_kept(w, prefix.value, aggregate.value);
    else vd__scan_store_tile(w, prefix);
}

/* Second of three kernels, one work-group per row: replaces the aggregates of the tiles by their exclusive prefixes. */
static void vd__scan_record_tile_prefixes(vd__scan_writer *w) {
    vc_val n = vc_u32((uint32_t)w->plan->tiles), first = vc_mul(vc_group_id(w->k, 0), n);
    vc_ref carried[2];
    vd__scan_declare_shared(w, "totals", 2 * w->threads, w->totals);
    carried[0] = vc_var(w->k, "carry", w->type);
    carried[1] = vc_var(w->k, "carry_head", VC_U32);
    vd__set(&carried[0], vd__scan_identity(w));
    VC_FOR_STEP(w->k, i, vc_u32(0), n, vc_u32(w->threads)) {
        vc_val at = vc_add(i, w->thread), valid = vc_lt(at, n), tile = vc_add(first, vc_select(valid, at, vc_u32(0)));
        vd__scan_state aggregate;
        vd__scan_state s = vd__scan_select(valid, vd__scan_load_tile_state(w, tile), vd__scan_identity_state(w));
        vd__scan_state carry = vd__scan_load(w, carried, vc_u32(0));
        s = vd__scan_group_exclusive(w, s, &aggregate);
        VC_IF(w->k, valid) { vd__scan_store_tile_state(w, tile, vd__scan_combine_states(w, carry, s)); }
        vd__scan_store(w, carried, vc_u32(0), vd__scan_combine_states(w, carry, aggregate));
        vc_barrier(w->k);
    }
}

/* ---- along an axis that is not the last ---- Neighbouring threads scan neighbouring columns, and several threads
   share a column. Each computes the sum of its part of the column, combines the sums of the parts before it through
   shared memory, and computes its results in a second loop. */

/* The part of a column that a thread scans: the elements first <= r < end of the axis, base + r * inner in memory. */
typedef struct vd__scan_column {
    vc_val row;              /* index of the part in the slab */
    vc_val valid;            /* index of the column, limited to the last column */
    vc_val exists;           /* whether the thread has a column; otherwise its part is empty */
    vc_val base, first, end;
} vd__scan_column;

static vd__scan_column vd__scan_column_of(const vd__scan_writer *w, uint32_t rows) {
    const vd_scan *p = w->plan;
    uint32_t part = (uint32_t)vd__ceil_div(p->slab, rows), inner = (uint32_t)p->inner;
    vd__scan_column c;
    vc_val column = vc_add(vd__mul_u32(vc_group_id(w->k, 0), VD__REDUCE_LANES),
                           vd__rem_u32(w->thread, VD__REDUCE_LANES));
    c.valid = vd__min_u32(column, (uint32_t)p->rows - 1);
    c.exists = vc_eq(c.valid, column);
    c.row = vd__div_u32(w->thread, VD__REDUCE_LANES);
    c.base = vd__index_of(w->index_type, vd__div_u32(c.valid, inner));
    c.base = vc_mul(c.base, vc_imm(w->index_type, p->count * p->inner));
    c.base = vc_add(c.base, vd__index_of(w->index_type, vd__rem_u32(c.valid, inner)));
    c.first = vd__mul_u32(c.row, part);
    if (p->slab < p->count) c.first = vc_add(w->slab_begin, c.first);
    c.first = vd__min_u32(c.first, p->count);
    c.end = vd__min_u32(vd__add_u32(c.first, part), p->count);
    c.end = vc_select(c.exists, c.end, c.first);
    return c;
}

/* Sum of the elements of the column before the thread's part: of previous slabs, and of previous parts of this slab,
   whose sums are in w->totals. */
static vd__scan_state vd__scan_column_prefix(vd__scan_writer *w, const vd__scan_column *c, uint32_t rows) {
    vd__scan_state s = vd__scan_identity_state(w);
    if (w->plan->slab < w->plan->count) {
        s = vd__scan_select(vd__eq_u32(w->slab_begin, 0), s, vd__scan_load_tile_state(w, c->valid));
        /* all threads load the state before the thread of the last part overwrites it */
        vc_barrier_scoped(w->k, VC_SCOPE_WORKGROUP, VC_SCOPE_WORKGROUP, VC_STORAGE_BUFFER);
    }
    for (uint32_t i = 0; i + 1 < rows; i++) {
        vc_val index = vc_add(vc_u32(i * VD__REDUCE_LANES), vd__rem_u32(w->thread, VD__REDUCE_LANES));
        s = vd__scan_select(vc_lt(vc_u32(i), c->row), vd__scan_combine_states(w, s, vd__scan_load(w, w->totals, index)),
                            s);
    }
    return s;
}

static void vd__scan_record_columns(vd__scan_writer *w) {
    uint32_t rows = w->threads / VD__REDUCE_LANES, inner = (uint32_t)w->plan->inner;
    vd__scan_column c = vd__scan_column_of(w, rows);
    vc_val element;
    vc_ref sum[2];
    vd__scan_declare_shared(w, "totals", w->threads, w->totals);
    sum[0] = vc_var(w->k, "sum", w->type);
    sum[1] = vc_var(w->k, "sum_head", VC_U32);
    vd__scan_store(w, sum, vc_u32(0), vd__scan_identity_state(w));
    VC_FOR(w->k, r, c.first, c.end) {
        vc_val at = vc_add(c.base, vc_mul(vd__index_of(w->index_type, r), vc_imm(w->index_type, inner)));
        vd__scan_state e = vd__scan_load_element(w, at, &element);
        vd__scan_store(w, sum, vc_u32(0), vd__scan_combine_states(w, vd__scan_load(w, sum, vc_u32(0)), e));
    }
    vd__scan_store(w, w->totals, w->thread, vd__scan_load(w, sum, vc_u32(0)));
    vc_barrier(w->k);
    vd__scan_state prefix = vd__scan_column_prefix(w, &c, rows);
    vd__scan_store(w, sum, vc_u32(0), prefix);
    VC_FOR(w->k, r, c.first, c.end) {
        vc_val at = vc_add(c.base, vc_mul(vd__index_of(w->index_type, r), vc_imm(w->index_type, inner)));
        vd__scan_state e = vd__scan_load_element(w, at, &element), exclusive = vd__scan_load(w, sum, vc_u32(0));
        vd__scan_state inclusive = vd__scan_combine_states(w, exclusive, e);
        vd__store(&w->out[0], at, vd__scan_result(w, exclusive, inclusive, e));
        vd__scan_store(w, sum, vc_u32(0), inclusive);
    }
    if (w->plan->slab == w->plan->count) return;
    VC_IF(w->k, vc_and(vd__eq_u32(c.row, rows - 1), c.exists)) {
        vd__scan_store_tile_state(w, c.valid, vd__scan_load(w, sum, vc_u32(0)));
    }
}

/* ---- short rows ---- */

static uint32_t vd__scan_rows_per_group(const vd_scan *p) { return p->threads / p->runs * p->rows_per_thread; }

static uint32_t vd__scan_row_loads(const vd_scan *p) {
    return (vd__scan_rows_per_group(p) * (uint32_t)p->count + p->threads - 1) / p->threads;
}

/* Elements of the shared array, including those that loads past the last row fill. */
static uint32_t vd__scan_shared_count(const vd_scan *p) {
    return (uint32_t)vd__ceil_div(vd__scan_row_loads(p) * p->threads, p->count) * p->run * p->runs;
}

/* Elements after those of vd__scan_shared_count, for threads without a run. */
static uint32_t vd__scan_spare_count(const vd_scan *p) { return p->threads % p->runs ? p->run * p->runs : 0; }

/* Index in the shared array of element `at` of the work-group's rows. */
static vc_val vd__scan_shared_index(const vd_scan *p, vc_val at) {
    uint32_t count = (uint32_t)p->count, padding = p->run * p->runs - count;
    return padding ? vc_add(at, vd__mul_u32(vd__div_u32(at, count), padding)) : at;
}

/* Copies the rows of the work-group to shared memory. Loads past the end of the input repeat the last element; these
   copies are not stored. */
static void vd__scan_load_rows(const vd__scan_writer *w, vc_val first) {
    const vd_scan *p = w->plan;
    uint32_t loads = vd__scan_row_loads(p);
    vc_val element;
    vd__scan_state s[2 * VD__SCAN_MAX_STAGED];
    for (uint32_t i = 0; i < loads; i++) {
        vc_val at = vc_add(first, vd__index_of(w->index_type, vd__add_u32(w->thread, i * w->threads)));
        s[i] = vd__scan_load_element(w, vc_min(at, vc_imm(w->index_type, p->rows * p->count - 1)), &element);
    }
    for (uint32_t i = 0; i < loads; i++)
        vd__scan_store(w, w->sums, vd__scan_shared_index(p, vd__add_u32(w->thread, i * w->threads)), s[i]);
    vd__shared_barrier(w->k);
}

static void vd__scan_store_rows(const vd__scan_writer *w, vc_val first) {
    const vd_scan *p = w->plan;
    uint32_t elements = vd__scan_rows_per_group(p) * (uint32_t)p->count, loads = vd__scan_row_loads(p);
    vc_val end = vc_min(vc_add(first, vc_imm(w->index_type, elements)), vc_imm(w->index_type, p->rows * p->count));
    vd__shared_barrier(w->k);
    for (uint32_t i = 0; i < loads; i++) {
        vc_val at = vd__add_u32(w->thread, i * w->threads);
        VC_IF(w->k, vc_lt(vc_add(first, vd__index_of(w->index_type, at)), end)) {
            vd__store(&w->out[0], vc_add(first, vd__index_of(w->index_type, at)),
                      vc_cast(w->desc->type, vd__load(&w->sums[0], vd__scan_shared_index(p, at))));
        }
    }
}

/* Scans one run of a row in shared memory, in place. The last run of a row may be shorter. */
static void vd__scan_short_row_run(const vd__scan_writer *w, vc_val row, vc_val run) {
    const vd_scan *p = w->plan;
    uint32_t last = (uint32_t)p->count - (p->runs - 1) * p->run;
    vc_val base = vd__mul_u32(vc_add(vd__mul_u32(row, p->runs), run), p->run);
    vd__scan_state e[VD__SCAN_MAX_STAGED], s, inclusive;
    for (uint32_t i = 0; i < p->run; i++) {
        e[i] = vd__scan_load(w, w->sums, vd__add_u32(base, i));
        if (i >= last) e[i] = vd__scan_select(vd__lt_u32(run, p->runs - 1), e[i], vd__scan_identity_state(w));
        s = i ? vd__scan_combine_states(w, s, e[i]) : e[i];
    }
    s = p->runs > 1 ? vd__scan_shared_exclusive(w, s, run, p->runs, NULL) : vd__scan_identity_state(w);
    VC_IF(w->k, vd__lt_u32(row, vd__scan_rows_per_group(p))) {
        for (uint32_t i = 0; i < p->run; i++, s = inclusive) {
            inclusive = vd__scan_combine_states(w, s, e[i]);
            vd__store(&w->sums[0], vd__add_u32(base, i), vc_cast(w->type, vd__scan_result(w, s, inclusive, e[i])));
        }
    }
}

static void vd__scan_record_short_rows(vd__scan_writer *w) {
    const vd_scan *p = w->plan;
    /* If `threads` is not a multiple of `runs`, the remaining threads read one more row of shared memory, whose results
       they do not store. */
    uint32_t i, rows = vd__scan_rows_per_group(p), spare = vd__scan_spare_count(p);
    vc_val first = vc_mul(vd__index_of(w->index_type, vc_group_id(w->k, 0)), vc_imm(w->index_type, rows * p->count));
    vc_val row = vd__div_u32(w->thread, p->runs);
    vd__scan_declare_shared(w, "sums", vd__scan_shared_count(p) + spare, w->sums);
    if (p->runs > 1) vd__scan_declare_shared(w, "totals", 2 * w->threads, w->totals);
    vd__scan_load_rows(w, first);
    for (i = 0; i < p->rows_per_thread; i++)
        vd__scan_short_row_run(w, vd__add_u32(row, i * w->threads), vd__rem_u32(w->thread, p->runs));
    vd__scan_store_rows(w, first);
}

/* ---- the plan ---- */

static void vd__scan_declare(vd__scan_writer *w) {
    const vd_scan *p = w->plan;
    vc_kernel *k = w->k;
    vd_plan_kernel *b = w->plan_kernel;
    vc_type type = w->desc->type, vector = VC_VEC(type, w->vector), heads = VC_VEC(VC_U32, w->vector);
    uint32_t alias = p->compacts ? 0 : VC_MAY_ALIAS, read_vectors = VC_READ | VC_ANY_TYPE;
    if (w->mode != VD__SCAN_TILE_PREFIXES) {
        w->in[0] = vd_plan_kernel_buffer(b, k, VD__SCAN_IN, "in", type, VC_READ | alias);
        if (w->vectors) w->in[1] = vd_plan_kernel_buffer(b, k, VD__SCAN_IN, "in_vectors", vector, read_vectors | alias);
        if (w->desc->segmented)
            w->heads[0] = vd_plan_kernel_buffer(b, k, VD__SCAN_HEADS, "segment_heads", VC_U32, VC_READ);
        if (w->desc->segmented && w->vectors)
            w->heads[1] = vd_plan_kernel_buffer(b, k, VD__SCAN_HEADS, "segment_heads_vectors", heads, read_vectors);
    }
    if (w->mode != VD__SCAN_TILE_PREFIXES && w->mode != VD__SCAN_REDUCE_TILES) {
        w->out[0] = vd_plan_kernel_buffer(b, k, VD__SCAN_OUT, "out", type, VC_WRITE | alias);
        if (w->vectors && !p->compacts)
            w->out[1] = vd_plan_kernel_buffer(b, k, VD__SCAN_OUT, "out_vectors", vector,
                                              VC_WRITE | VC_ANY_TYPE | alias);
        if (p->compacts) w->count = vd_plan_kernel_buffer(b, k, VD__SCAN_COUNT, "count", w->type, VC_WRITE);
    }
    if (w->mode == VD__SCAN_SINGLE_TILE || w->mode == VD__SCAN_SHORT_ROWS
        || (w->mode == VD__SCAN_COLUMNS && p->slab == p->count))
        return;
    w->states = vd_plan_kernel_buffer(b, k, VD__SCAN_STATES, "states",
                                      w->mode == VD__SCAN_LOOK_BACK ? vd__scan_word_type(p) : w->type, VC_READ_WRITE);
    if (w->mode == VD__SCAN_LOOK_BACK || w->desc->segmented)
        w->flags = vd_plan_kernel_buffer(b, k, VD__SCAN_FLAGS, "flags", VC_U32, VC_READ_WRITE);
    if (w->mode == VD__SCAN_COLUMNS) w->slab_begin = vc_param(w->k, "begin", VC_U32);
}

static vd_result vd__scan_build(vd_scan *p, vd__scan_mode mode, bool vectors) {
    vd__scan_writer w;
    memset(&w, 0, sizeof w);
    w.plan_kernel = &p->kernels[mode][vectors];
    w.k = vd__plan_begin(&p->base, p->base.name, p->threads);
    w.plan = p;
    w.desc = &p->desc;
    w.mode = mode;
    w.op = p->compacts ? VC_ADD : p->desc.combine.build ? VC_COMBINE_NONE : vd__reduce_op_table[p->desc.op].combine_op;
    w.type = vd__scan_type(p);
    w.threads = p->threads;
    w.vector = p->vector;
    w.vectors = vectors;
    w.tile_size = p->threads * VD__SCAN_LOADS * w.vector;
    w.index_type = vd__count_type(p->count * p->rows);
    w.thread = vc_local_index(w.k);
    vd__scan_declare(&w);
    if (mode == VD__SCAN_TILE_PREFIXES) vd__scan_record_tile_prefixes(&w);
    else if (mode == VD__SCAN_COLUMNS) vd__scan_record_columns(&w);
    else if (mode == VD__SCAN_SHORT_ROWS) vd__scan_record_short_rows(&w);
    else vd__scan_record_tile(&w);
    return vd_plan_kernel_build(&p->base, w.plan_kernel, w.k);
}

/* Bytes of shared memory of a work-group that scans short rows. size: of a sum and its flag. */
static uint64_t vd__scan_short_row_bytes(const vd_scan *p, uint32_t size) {
    uint64_t totals = p->runs > 1 ? 2 * p->threads : 0;
    return (vd__scan_shared_count(p) + vd__scan_spare_count(p) + totals) * size;
}

/* If the rows are many and short, plans runs of about VD__SCAN_TARGET_RUN elements, an odd number because of the banks
   of shared memory. Each thread scans one run, or several rows if a row is one run. A work-group has fewer threads than
   256 if the device allows fewer, if VD__SCAN_MAX_STAGED elements for each thread would need more than half of the
   shared memory, or if its arrays would not fit. If a row has more runs than the work-group has threads, or the rows of
   a work-group do not fit, the plan for long rows is kept. size: see vd__scan_short_row_bytes. */
static void vd__scan_plan_rows(vd_scan *p, const vd_device_info *d, uint32_t size) {
    uint32_t count = (uint32_t)p->count, max_threads = vd__plan_max_threads(d), threads = p->threads;
    uint32_t shared = d->limits.max_shared_bytes;
    if (p->compacts || p->inner > 1 || p->rows < VD__REDUCE_LANES || p->count > VD__SCAN_MAX_SHORT) return;
    p->runs = (count + VD__SCAN_TARGET_RUN - 1) / VD__SCAN_TARGET_RUN;
    p->run = (count + p->runs - 1) / p->runs | 1; /* rounded up to odd; fewer runs may suffice then */
    p->runs = (count + p->run - 1) / p->run;
    p->rows_per_thread = p->runs > 1 ? 1 : VD__SCAN_MAX_STAGED / p->run;
    p->threads = 256;
    while (p->threads > VD__REDUCE_LANES
           && (p->threads > max_threads || p->threads * VD__SCAN_MAX_STAGED * size > shared / 2
               || vd__scan_short_row_bytes(p, size) > shared))
        p->threads /= 2;
    if (p->runs <= p->threads && vd__scan_short_row_bytes(p, size) <= shared) p->tiles = 1;
    else {
        p->threads = threads;
        p->runs = p->run = p->rows_per_thread = 0;
    }
}

/* Number of iterations of the loop over tiles in the second of three kernels. */
static uint64_t vd__scan_prefix_iterations(const vd_scan *p) {
    return vd__ceil_div(p->count, (uint64_t)p->threads * p->threads * VD__SCAN_LOADS * p->vector);
}

static void vd__scan_plan(vd_scan *p) {
    const vd_device_info *d = vd_device(p->base.ctx, 0);
    uint32_t size = vd_type_size(vd__scan_type(p)) + (p->desc.segmented ? 4 : 0), max_threads = vd__plan_max_threads(d);
    uint32_t subgroup_size = d->limits.min_subgroup_size;
    p->vector = vd_type_size(p->desc.type) == 8 ? 2 : VD__SCAN_VECTOR;
    p->vector_aligned = p->inner == 1 && (p->rows == 1 || p->count % p->vector == 0);
    bool loops = vd__plan_facts(d).groups_as_loops;
    p->threads = loops ? 32 : 256;
    /* more threads: larger tiles, and fewer iterations for each */
    while (p->threads < 256 && vd__scan_prefix_iterations(p) > vd__plan_max_iterations(d)) p->threads *= 2;
    while (p->threads > VD__REDUCE_LANES
           && (p->threads > max_threads || p->threads * (VD__SCAN_LOADS + 3) * 9 / 8 * size > d->limits.max_shared_bytes
               || p->threads / 2 * VD__SCAN_LOADS * p->vector >= p->count))
        p->threads /= 2;
    p->tiles = vd__ceil_div(p->count, p->threads * VD__SCAN_LOADS * p->vector);
    p->slab = p->threads / VD__REDUCE_LANES * vd__plan_max_iterations(d) / 2; /* two loops process each element */
    if (p->slab > p->count) p->slab = p->count;
    p->one_pass = p->desc.method ? p->desc.method == VD_SCAN_ONE_PASS : d->facts.forward_progress;
    bool is_64bit = vd__scan_type(p) == VD_I64 || vd__scan_type(p) == VD_U64;
    p->subgroup_look_back = !p->desc.combine.build && !p->desc.segmented && !loops
                            && d->features & VD_FEATURE_SUBGROUP
                            && (!is_64bit || d->features & VD_FEATURE_SUBGROUP_TYPES);
    if (p->subgroup_look_back && subgroup_size > 1 && subgroup_size == d->limits.max_subgroup_size
        && p->threads % subgroup_size == 0)
        p->subgroup_size = subgroup_size;
    p->poll_limit = vd__look_back_poll_limit(d);
    /* iterations per tile: polls by the subgroup, polls by one thread, elements of a recomputed tile */
    p->tiles_in_flight = vd__plan_tiles_in_flight(d, 2 * (p->poll_limit + 2) + p->threads * VD__SCAN_LOADS * p->vector);
    p->atomic64 = (d->features & VD_FEATURE_ATOMIC_I64) != 0;
    vd__scan_plan_rows(p, d, size);
}

static vd_result vd__scan_check_desc(vd_scan *p) {
    const vd_scan_desc *d = &p->desc;
    uint32_t dimensions = 0;
    uint64_t elements = 0;
    bool bitwise = d->op == VD_REDUCE_AND || d->op == VD_REDUCE_OR || d->op == VD_REDUCE_XOR;
    if ((uint32_t)d->op > VD_REDUCE_XOR)
        return vd_error_set(VD_ERROR_INVALID, "op is %s (%d), but must be VD_REDUCE_SUM to VD_REDUCE_XOR",
                            vd__reduce_op_name(d->op), (int)d->op);
    vd_result result = VD__CHECK_ENUM(d->method, "method", VD_SCAN_THREE_KERNELS);
    if (result) return result;
    result = vd__reduce_check_combine(d->op, &d->combine, d->identity, d->type);
    if (result) return result;
    if (d->type < VD_I8 || d->type > VD_F64 || (bitwise && d->type >= VD_F16))
        return vd_error_set(VD_ERROR_INVALID, "type is %s, but must be a scalar %s", vd_type_name(d->type),
                            bitwise ? "integer" : "number");
    result = vd__fft_check_shape(d->shape, d->axes, VD__REDUCE_ELEMENTS, &dimensions, &elements);
    if (!result) result = vd__reduce_check_elements(p->base.ctx, elements);
    if (result) return result;
    if (d->axes & (d->axes - 1))
        return vd_error_set(VD_ERROR_INVALID, "axes is 0x%x, but a scan is along one dimension: set one bit, or 0 for "
                            "the last dimension", d->axes);
    uint32_t axis = dimensions - 1;
    for (uint32_t i = 0; i < dimensions; i++)
        if (d->axes >> i & 1) axis = i;
    p->count = d->shape[axis];
    p->rows = elements / p->count;
    p->inner = 1;
    for (uint32_t i = axis + 1; i < dimensions; i++) p->inner *= d->shape[i];
    return VD_OK;
}

/* Mode of kernel number `step` of a run, or VD__SCAN_MODES after the last one. Columns take one step per slab. */
static vd__scan_mode vd__scan_step_mode(const vd_scan *p, uint32_t step) {
    if (p->inner > 1) return step * p->slab < p->count ? VD__SCAN_COLUMNS : VD__SCAN_MODES;
    if (p->runs) return step ? VD__SCAN_MODES : VD__SCAN_SHORT_ROWS;
    if (p->tiles == 1) return step ? VD__SCAN_MODES : VD__SCAN_SINGLE_TILE;
    if (p->one_pass) return step ? VD__SCAN_MODES : VD__SCAN_LOOK_BACK;
    return step > 2 ? VD__SCAN_MODES : (vd__scan_mode)(VD__SCAN_REDUCE_TILES + (int)step);
}

static bool vd__scan_mode_has_vectors(vd__scan_mode mode) {
    return mode != VD__SCAN_TILE_PREFIXES && mode != VD__SCAN_COLUMNS && mode != VD__SCAN_SHORT_ROWS;
}

static vd_result vd__scan_check_fragments(vd_scan *p, const vd_fragment *keep) {
    vd_type type = p->desc.type;
    p->lift = keep ? vd__fragment_of("keep", *keep, type, VC_NONE, VC_BOOL, VC_BOOL)
                   : vd__fragment_of("map", p->desc.map, type, VC_NONE, type, vd__scan_type(p));
    p->combine = vd__combine_fragment(p->desc.combine, vd__scan_type(p));
    vd_result result = vd_plan_fragment_check(&p->base, &p->lift);
    return result ? result : vd_plan_fragment_check(&p->base, &p->combine);
}

/* Compiles the kernels; all slabs of columns use the same one. If there is a kernel with vector loads, the one with
   scalar loads is compiled when it is first needed, except with fragments, which may be called only while the plan is
   made. */
static vd_result vd__scan_build_all(vd_scan *p) {
    bool fragments = p->compacts || p->desc.map.build || p->desc.combine.build;
    vd_result result = VD_OK;
    for (uint32_t step = 0; !result; step++) {
        vd__scan_mode mode = vd__scan_step_mode(p, step);
        if (mode == VD__SCAN_MODES || (step && mode == VD__SCAN_COLUMNS)) break;
        bool vectors = p->vector_aligned && vd__scan_mode_has_vectors(mode);
        if (!vectors || fragments) result = vd__scan_build(p, mode, false);
        if (!result && vectors) result = vd__scan_build(p, mode, true);
    }
    return result;
}

/* keep: the fragment of a compaction; NULL: a scan. */
static vd_result vd__scan_make_with(vd_scan *p, const vd_scan_desc *desc, const vd_fragment *keep) {
    p->desc = *desc;
    p->compacts = keep != NULL;
    if (!p->desc.type) p->desc.type = VD_F32;
    vd_result result = vd__scan_check_desc(p);
    if (!result) result = vd__scan_check_fragments(p, keep);
    if (result) return result;
    vd__scan_plan(p);
    uint64_t tiles = p->inner == 1 ? p->rows * p->tiles : p->rows;
    if ((tiles > UINT32_MAX && !p->runs) || (p->inner > 1 && p->count > UINT32_MAX))
        return vd_error_set(VD_ERROR_UNSUPPORTED, "the scan has %llu rows of %llu elements, but the limit is %u %s",
                            (unsigned long long)p->rows, (unsigned long long)p->count, UINT32_MAX,
                            p->inner > 1 ? "rows, and elements of a row, along an axis that is not the last"
                                         : "work-groups (at least one for each row)");
    uint64_t iterations = vd__scan_prefix_iterations(p), limit = vd__plan_max_iterations(vd_device(p->base.ctx, 0));
    if (p->inner == 1 && p->tiles > 1 && !p->one_pass && iterations > limit)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "rows of %llu elements need %llu loop iterations per invocation, but "
                            "the limit is %llu (half of vd_facts.max_loop_iterations); use VD_SCAN_ONE_PASS",
                            (unsigned long long)p->count, (unsigned long long)iterations, (unsigned long long)limit);
    if (p->inner > 1) p->one_pass = false;
    if (p->inner == 1 ? p->tiles > 1 : p->slab < p->count) {
        uint64_t states = p->one_pass ? tiles * vd__scan_piece_count(p) : tiles;
        p->states = vd_plan_buffer(&p->base, "scan states", p->one_pass ? vd__scan_word_type(p) : vd__scan_type(p),
                                   states, NULL);
        bool has_flags = p->one_pass || p->desc.segmented;
        if (has_flags) p->flags = vd_plan_buffer(&p->base, "scan flags", VD_U32, p->one_pass ? 3 : tiles, NULL);
        if (!p->states.id || (has_flags && !p->flags.id)) return vd_error_result();
    }
    return vd__scan_build_all(p);
}

static vd_result vd__scan_make(void *plan, const void *desc) {
    return vd__scan_make_with((vd_scan *)plan, (const vd_scan_desc *)desc, NULL);
}

static vd_result vd__compact_make(void *plan, const void *user_desc) {
    const vd_compact_desc *desc = (const vd_compact_desc *)user_desc;
    vd_scan_desc scan;
    vd_result result = vd__plan_check_numbers(desc->type ? desc->type : (vd_type)VD_F32, desc->count,
                                              VD__REDUCE_ELEMENTS);
    if (result) return result;
    if (!desc->keep.build) return vd_error_set(VD_ERROR_INVALID, "keep.build is NULL");
    memset(&scan, 0, sizeof scan);
    scan.type = desc->type;
    scan.shape[0] = desc->count;
    scan.method = desc->method;
    return vd__scan_make_with((vd_scan *)plan, &scan, &desc->keep);
}

static const vd_plan_kind vd__scan_kind = {
    "scan", sizeof(vd_scan), sizeof(vd_scan_desc), vd__scan_make, NULL, NULL
};
static const vd_plan_kind vd__compact_kind = {
    "compact", sizeof(vd_scan), sizeof(vd_compact_desc), vd__compact_make, NULL, NULL
};

static void vd__scan_roles(const vd_scan *p, const vd_scan_io *io, vd_plan_role *r) {
    uint64_t elements = p->count * p->rows;
    r[VD__SCAN_IN] = vd__role_of("in", io->in, p->desc.type, elements, false);
    r[VD__SCAN_HEADS] = vd__role_of("segment_heads", io->segment_heads, VD_U32, elements, false);
    r[VD__SCAN_OUT] = vd__role_of("out", io->out, p->desc.type, elements, true);
    r[VD__SCAN_COUNT] = vd__role_of("count", io->count, vd__count_type(p->count), 1, true);
    r[VD__SCAN_IN].vectors = r[VD__SCAN_HEADS].vectors = r[VD__SCAN_OUT].vectors = true;
    if (!p->compacts) r[VD__SCAN_OUT].in_place = &r[VD__SCAN_IN];
    if (!p->desc.segmented) r[VD__SCAN_HEADS].unused = "desc.segmented is false";
    if (!p->compacts) r[VD__SCAN_COUNT].unused = "the plan is not a compaction";
    r[VD__SCAN_STATES].buffer = p->states;
    r[VD__SCAN_FLAGS].buffer = p->flags;
}

static vd_result vd__scan_run_step(vd_scan *p, vd_list *list, const vd_plan_io *io, uint32_t step, bool vectors) {
    vd__scan_mode mode = vd__scan_step_mode(p, step);
    vd_arg begin = vd_u32((uint32_t)(step * p->slab)); /* index of the first element of the slab */
    vectors = vectors && vd__scan_mode_has_vectors(mode);
    vd_result result = p->kernels[mode][vectors].kernel.id ? VD_OK : vd__scan_build(p, mode, vectors);
    uint64_t groups = mode == VD__SCAN_COLUMNS         ? vd__ceil_div(p->rows, VD__REDUCE_LANES)
                      : mode == VD__SCAN_TILE_PREFIXES ? p->rows
                      : mode == VD__SCAN_SHORT_ROWS    ? vd__ceil_div(p->rows, vd__scan_rows_per_group(p))
                                                       : p->rows * p->tiles;
    bool has_slabs = mode == VD__SCAN_COLUMNS && p->slab < p->count;
    return result ? result
                  : vd__plan_dispatch_tiles(list, &p->kernels[mode][vectors], io, has_slabs ? &begin : NULL, groups,
                                            mode == VD__SCAN_LOOK_BACK ? p->tiles_in_flight : UINT32_MAX);
}

// >>sort
/* Stable radix sort from the least significant digit on (Satish, Harris, Garland, Designing efficient sorting
   algorithms for manycore GPUs, 2009). A pass sorts by one digit. Each work-group ranks the keys of a tile by their
   digit, and stores them after all keys with lower digits and after the keys with the same digit in previous tiles.

   The rank of a key within its tile is computed by one of two methods:
   - If all subgroups have the same size, keys have at least 2 bytes and the shared memory suffices, digits have 8 bits,
     and each subgroup ranks a strip, a contiguous part of the tile. Ballots determine the invocations with the same
     digit (Ashkiani, Davidson, Meyer, Owens, GPU multisplit, 2016).
   - Otherwise digits have 4 bits, and each thread counts the digits of its own consecutive keys.

   With vd_facts.groups_as_loops there are no tiles, because barriers and shared memory cost more than uncoalesced
   memory accesses: each invocation counts and moves a run of consecutive keys, one at a time.

   The offset at which the keys of a tile are stored is computed by one of two methods:
   - VD_SCAN_ONE_PASS, for fewer than 2^30 keys that subgroups rank: one kernel computes the histograms of all passes;
     in each pass, each tile determines the counts of each digit in previous tiles by look-back (Adinets, Merrill,
     Onesweep: a faster least significant digit radix sort for GPUs, 2022).
   - Otherwise, in each pass, a first kernel counts the digits in each tile, and a scan of the counts, ordered by
     digit and then by tile, computes the offsets. */

#define VD__SORT_KEY_LIMIT ((uint64_t)1 << 33)

enum {
    VD__SORT_MAX_LOADS = 12,         /* maximum keys per thread */
    VD__SORT_DIGITS_4BIT = 16,
    VD__SORT_DIGITS_8BIT = 256,
    VD__SORT_MAX_THREAD_DIGITS = 4,  /* maximum digits per thread */
    /* With groups_as_loops: keys per run, and threads per work-group. About the fastest for 10^5 and 10^6 pairs on
       llvmpipe with two cores, among runs of 256 to 4096 keys and 4 to 64 threads. */
    VD__SORT_RUN = 1024,
    VD__SORT_RUN_THREADS = 16
};

typedef enum vd__sort_role {
    VD__SORT_KEYS, VD__SORT_OUT, VD__SORT_VALUES, VD__SORT_OUT_VALUES, VD__SORT_COUNTS, VD__SORT_ROLES
} vd__sort_role;

struct vd_sort {
    vd_plan base;
    vd_sort_desc desc;
    uint32_t bits, digits;   /* bits per digit, and 1 << bits */
    uint32_t run;            /* keys of a run; 0: the keys are divided into tiles */
    uint32_t subgroup_size;  /* keys are ranked by subgroups of this size; 0: by single threads */
    uint32_t threads;        /* threads per work-group */
    uint32_t loads, tile;    /* keys per thread, per tile */
    uint64_t tiles;          /* number of tiles or runs */
    bool one_pass;           /* look-back, as VD_SCAN_ONE_PASS; otherwise each pass has a count and a scan */
    uint32_t poll_limit;     /* polls of an unpublished count before it is recomputed */
    uint32_t tiles_in_flight; /* look-back: maximum tiles per dispatch */
    uint32_t groups;         /* work-groups of the kernel that computes histograms; with `run`, of all kernels */
    vd_plan_kernel count, scatter;
    vd_scan *scan;
    vd_buffer counts;        /* count or offset of each digit in each tile; with one_pass: see "look-back" below */
    vd_buffer keys, values;  /* outputs of the first, third, … pass */
};

static vc_type vd__sort_bits_type(vd_type type) {
    uint32_t size = vd_type_size(type);
    return size == 1 ? VC_U8 : size == 2 ? VC_U16 : size == 4 ? VC_U32 : VC_U64;
}

/* State while a kernel is recorded. */
typedef struct vd__sort_writer {
    vc_kernel *k;
    vd_plan_kernel *plan_kernel;
    const vd_sort *plan;
    vc_type memory_type, register_type; /* unsigned types of a key's bits */
    vc_ref keys, values, out, out_values, counts;
    vc_ref counters;         /* shared memory: see vd__sort_counter_count */
    vc_ref base;             /* shared memory, for each digit: index in the output of the tile's first key with this
                                digit, minus the rank of that key */
    vc_val shift, thread;    /* shift: index of the lowest bit of the digit */
    vc_val tile, first;      /* index of the tile (or of the run), of its first key */
    vc_val digit[VD__SORT_MAX_LOADS], rank[VD__SORT_MAX_LOADS]; /* of each key of the thread */
    vc_val start[VD__SORT_MAX_THREAD_DIGITS]; /* for each digit of the thread: rank of the first key with it */
    vc_val total[VD__SORT_MAX_THREAD_DIGITS]; /* with subgroup_size: number of keys of the tile with it */
    vc_type index_type;      /* of indices of keys, and of counts: VC_U64 in large arrays, else VC_U32 */
} vd__sort_writer;

static bool vd__sort_is_large(const vd_sort *p) { return p->desc.count > VD__REDUCE_NARROW; }

/* Maps the `count` bits of a number, zero-extended to `word`, so that their unsigned order is the order of the numbers,
   or with `descending` the opposite. `inverse`: maps them back. */
static vc_val vd__sort_order_bits(vd_type type, uint32_t count, vc_type word, vc_val bits, bool descending,
                                  bool inverse) {
    vc_val sign = vc_imm(word, (uint64_t)1 << (count - 1)), all_ones = vc_imm(word, UINT64_MAX >> (64 - count));
    if (descending && inverse) bits = vc_xor(bits, all_ones);
    if (type <= VD_I64) bits = vc_xor(bits, sign);
    if (type >= VD_F16) {
        vc_val has_sign = vc_ne(vc_and(bits, sign), vc_imm(word, 0));
        bits = vc_xor(bits, inverse ? vc_select(has_sign, sign, all_ones) : vc_select(has_sign, all_ones, sign));
    }
    return descending && !inverse ? vc_xor(bits, all_ones) : bits;
}

static vc_val vd__sort_digit(const vd__sort_writer *w, vc_val key) {
    const vd_sort_desc *d = &w->plan->desc;
    key = vd__sort_order_bits(d->type, vd_type_size(d->type) * 8, w->register_type, key, d->descending, false);
    return vd__and_u32(vc_cast(VC_U32, vc_shr(key, w->shift)), w->plan->digits - 1);
}

static void vd__sort_set_tile(vd__sort_writer *w, vc_val tile) {
    w->tile = tile;
    w->first = vc_mul(vd__index_of(w->index_type, tile), vc_imm(w->index_type, w->plan->tile));
}

/* Number of digits for which a thread is responsible; if more than one, they are consecutive. */
static uint32_t vd__sort_digits_per_thread(const vd_sort *p) {
    return p->digits > p->threads ? p->digits / p->threads : 1;
}
static vc_val vd__sort_thread_digit(const vd__sort_writer *w, uint32_t i) {
    return vd__add_u32(vd__mul_u32(w->thread, vd__sort_digits_per_thread(w->plan)), i);
}
static vc_val vd__sort_has_digits(const vd__sort_writer *w) { return vd__lt_u32(w->thread, w->plan->digits); }

/* scatter: the kernel moves keys; otherwise it counts digits. */
static void vd__sort_declare(vd__sort_writer *w, bool scatter, uint32_t counts_access) {
    const vd_sort *p = w->plan;
    vd_plan_kernel *b = w->plan_kernel;
    vc_type value_type = p->desc.values ? vd__sort_bits_type(p->desc.values) : (vc_type)VC_U32;
    bool values = scatter && p->desc.values;
    uint32_t read = VC_READ | VC_ANY_TYPE, write = VC_WRITE | VC_ANY_TYPE;
    w->keys = vd_plan_kernel_buffer(b, w->k, VD__SORT_KEYS, "keys", w->memory_type, read);
    if (values) w->values = vd_plan_kernel_buffer(b, w->k, VD__SORT_VALUES, "values", value_type, read);
    if (scatter) w->out = vd_plan_kernel_buffer(b, w->k, VD__SORT_OUT, "out", w->memory_type, write);
    if (values) w->out_values = vd_plan_kernel_buffer(b, w->k, VD__SORT_OUT_VALUES, "out_values", value_type, write);
    w->counts = vd_plan_kernel_buffer(b, w->k, VD__SORT_COUNTS, "counts", w->index_type, counts_access);
}

/* Index of the count of a digit in this tile. The counts of a digit in all tiles are contiguous. */
static vc_val vd__sort_count_index(const vd__sort_writer *w, vc_val digit) {
    return vc_add(vd__mul_u32(digit, w->plan->tiles), w->tile);
}

/* Records the kernel that counts the digits of each tile in one pass. */
static void vd__sort_record_count(vd__sort_writer *w) {
    const vd_sort *p = w->plan;
    vc_ref tile_counts = vc_shared(w->k, "tile_counts", VC_U32, p->digits);
    vc_val n = vc_imm(w->index_type, p->desc.count);
    uint32_t digits = vd__sort_digits_per_thread(p);
    vd__sort_declare(w, false, VC_WRITE);
    w->shift = vc_param(w->k, "shift", VC_U32);
    vd__sort_set_tile(w, vc_group_id(w->k, 0));
    VC_IF(w->k, vd__sort_has_digits(w)) {
        for (uint32_t i = 0; i < digits; i++) vd__store(&tile_counts, vd__sort_thread_digit(w, i), vc_u32(0));
    }
    vc_barrier(w->k);
    for (uint32_t i = 0; i < p->loads; i++) {
        vc_val at = vc_add(w->first, vd__index_of(w->index_type, vc_add(vc_u32(i * p->threads), w->thread)));
        VC_IF(w->k, vc_lt(at, n)) {
            vc_atomic_add(tile_counts, vd__sort_digit(w, vc_cast(w->register_type, vd__load(&w->keys, at))), vc_u32(1),
                          NULL);
        }
    }
    vc_barrier(w->k);
    VC_IF(w->k, vd__sort_has_digits(w)) {
        for (uint32_t i = 0; i < digits; i++)
            vd__store(&w->counts, vd__sort_count_index(w, vd__sort_thread_digit(w, i)),
                      vd__index_of(w->index_type, vd__load(&tile_counts, vd__sort_thread_digit(w, i))));
    }
}

/* ---- look-back ---- Layout of `counts`: the histogram of all keys for each pass; a ticket for each pass; a word for
   each tile and digit, for even passes; the same for odd passes. The upper two bits of a word are the status
   (VD__STATUS_…), the others a count: of the keys with the digit in the tile (aggregate), or in all tiles up to it
   (prefix). Each pass clears the words of the next one. */

/* Number of passes: digits of a key. */
static uint32_t vd__sort_pass_count(const vd_sort *p) { return vd_type_size(p->desc.type) * 8 / p->bits; }
/* Index in `counts` of the ticket of pass 0. */
static uint32_t vd__sort_ticket_offset(const vd_sort *p) { return vd__sort_pass_count(p) * p->digits; }
/* Index in `counts` of the words of even or odd passes. */
static uint32_t vd__sort_status_offset(const vd_sort *p, uint32_t odd) {
    return vd__sort_ticket_offset(p) + p->digits + odd * (uint32_t)p->tiles * p->digits;
}
static vc_val vd__sort_pass(const vd__sort_writer *w) { return vd__div_u32(w->shift, w->plan->bits); }

/* Records the kernel that computes the histograms of all passes. */
static void vd__sort_record_histogram(vd__sort_writer *w) {
    const vd_sort *p = w->plan;
    uint32_t passes = vd__sort_pass_count(p), counters = passes * p->digits;
    vc_ref group_counts = vc_shared(w->k, "group_counts", VC_U32, counters);
    vc_val n = vc_u32((uint32_t)p->desc.count);
    vd__sort_declare(w, false, VC_READ_WRITE);
    for (uint32_t i = 0; i < counters; i += p->threads)
        vd__store(&group_counts, vc_add(vc_u32(i), w->thread), vc_u32(0));
    vc_barrier(w->k);
    VC_FOR_STEP(w->k, tile, vc_group_id(w->k, 0), vc_u32((uint32_t)p->tiles), vc_u32(p->groups)) {
        vd__sort_set_tile(w, tile);
        for (uint32_t i = 0; i < p->loads; i++) {
            vc_val at = vc_add(w->first, vc_add(vc_u32(i * p->threads), w->thread));
            VC_IF(w->k, vc_lt(at, n)) {
                vc_val key = vc_cast(w->register_type, vd__load(&w->keys, at));
                for (uint32_t j = 0; j < passes; j++) {
                    w->shift = vc_u32(j * p->bits);
                    vc_atomic_add(group_counts, vc_add(vc_u32(j * p->digits), vd__sort_digit(w, key)), vc_u32(1), NULL);
                }
            }
        }
    }
    vc_barrier(w->k);
    for (uint32_t i = 0; i < counters; i += p->threads) {
        vc_val at = vc_add(vc_u32(i), w->thread), count = vd__load(&group_counts, at);
        VC_IF(w->k, vd__ne_u32(count, 0)) { vc_atomic_add(w->counts, at, count, NULL); }
    }
}

/* The index of this work-group's tile is the number of work-groups that started before it. */
static vc_val vd__sort_ticket(const vd__sort_writer *w) {
    vc_ref shared = vc_shared(w->k, "ticket", VC_U32, 1);
    vc_val ticket;
    VC_IF(w->k, vd__eq_u32(w->thread, 0)) {
        vc_atomic_add(w->counts, vc_add(vc_u32(vd__sort_ticket_offset(w->plan)), vd__sort_pass(w)), vc_u32(1), &ticket);
        vd__store(&shared, vc_u32(0), ticket);
    }
    vd__shared_barrier(w->k);
    return vd__load(&shared, vc_u32(0));
}

/* Index of the word of a tile and digit, for this pass or, with `next`, the next one. */
static vc_val vd__sort_status_index(const vd__sort_writer *w, vc_val tile, vc_val digit, bool next) {
    vc_val odd = vd__ne_u32(vd__and_u32(vd__sort_pass(w), 1), 0);
    vc_val at = vc_select(odd, vc_u32(vd__sort_status_offset(w->plan, !next)),
                          vc_u32(vd__sort_status_offset(w->plan, next)));
    return vc_add(at, vc_add(vd__mul_u32(tile, w->plan->digits), digit));
}

static void vd__sort_publish(const vd__sort_writer *w, vc_val digit, uint32_t status, vc_val number) {
    vc_atomic_store(w->counts, vd__sort_status_index(w, w->tile, digit, false), vc_or(vc_u32(status << 30), number));
}

/* The count of a digit in a previous tile, computed by one thread. */
static vc_val vd__sort_recount_tile(const vd__sort_writer *w, vc_val tile, vc_val digit) {
    vc_val first = vd__mul_u32(tile, w->plan->tile);
    vc_ref sum = vc_var(w->k, "recount", VC_U32);
    VC_FOR(w->k, i, first, vd__add_u32(first, w->plan->tile)) {
        vc_val key = vc_cast(w->register_type, vd__load(&w->keys, i));
        vd__set(&sum, vc_add(vd__get(&sum), vc_cast(VC_U32, vc_eq(vd__sort_digit(w, key), digit))));
    }
    return vd__get(&sum);
}

/* Number of keys with a digit in all previous tiles. Publishes the number up to the end of this tile. total: the number
   in this tile. */
static vc_val vd__sort_look_back(const vd__sort_writer *w, vc_val digit, vc_val total) {
    vc_ref remaining = vc_var(w->k, "remaining", VC_U32), sum = vc_var(w->k, "sum", VC_U32);
    vd__look_back b = vd__look_back_begin(w->k, remaining);
    vc_ref entry = vc_var(w->k, "word", VC_U32);
    vc_val word;
    vd__set(&remaining, w->tile);
    VC_LOOP(w->k) {
        vc_val j = vd__get(&remaining), predecessor = vd__sub_u32(j, 1);
        vc_break_if(w->k, vd__eq_u32(j, 0));
        vc_atomic_load(w->counts, vd__sort_status_index(w, predecessor, digit, false), &word);
        vd__set(&entry, word);
        vd__look_back_count_poll(&b);
        VC_IF(w->k, vc_and(vd__eq_u32(word, 0), vc_lt(vc_u32(w->plan->poll_limit), vd__get(&b.polls)))) {
            vd__set(&entry,
                    vc_or(vc_u32((uint32_t)VD__STATUS_AGGREGATE << 30), vd__sort_recount_tile(w, predecessor, digit)));
        }
        VC_IF(w->k, vd__ne_u32(vd__get(&entry), 0)) {
            vd__set(&sum, vc_add(vd__get(&sum), vd__and_u32(vd__get(&entry), (1u << 30) - 1)));
            vd__look_back_advance(&b, vd__eq_u32(vd__shr_u32(vd__get(&entry), 30), VD__STATUS_PREFIX), predecessor);
        }
    }
    vd__sort_publish(w, digit, VD__STATUS_PREFIX, vc_add(vd__get(&sum), total));
    return vd__get(&sum);
}

/* Sets first[i] to the number of all keys with digits lower than the thread's digit i: the exclusive prefix of the
   histogram of this pass. */
static void vd__sort_digit_starts(const vd__sort_writer *w, vc_val *first) {
    uint32_t digits = vd__sort_digits_per_thread(w->plan);
    vc_val row = vd__mul_u32(vd__sort_pass(w), w->plan->digits), count[VD__SORT_MAX_THREAD_DIGITS], sum = vc_u32(0);
    for (uint32_t i = 0; i < digits; i++) {
        count[i] = vd__load(&w->counts, vc_add(row, vd__sort_thread_digit(w, i)));
        sum = vc_add(sum, count[i]);
    }
    vc_group_exclusive(w->k, VC_ADD, sum, &first[0]);
    for (uint32_t i = 1; i < digits; i++) first[i] = vc_add(first[i - 1], count[i - 1]);
}

/* ---- ranks within the tile ----
   Computes w->rank of the thread's keys, and w->start: the rank of the first key with each of the thread's digits; by
   subgroups also w->total. */

/* Number of counters in shared memory: one per subgroup and digit, or one per digit and thread with padding. */
static uint32_t vd__sort_counter_count(const vd_sort *p) {
    return p->subgroup_size ? p->threads / p->subgroup_size * p->digits : p->threads * (VD__SORT_DIGITS_4BIT + 1);
}

static vc_val vd__sort_padded(vc_val i) { return vd__plan_padded(i, 4); }

/* Ranks keys by single threads: one counter per digit and thread, scanned in order of digit and thread. */
static void vd__sort_rank_by_threads(vd__sort_writer *w) {
    uint32_t threads = w->plan->threads, loads = w->plan->loads;
    vc_val index[VD__SORT_MAX_LOADS], count[VD__SORT_DIGITS_4BIT], sum = vc_u32(0), prefix;
    for (uint32_t i = 0; i < VD__SORT_DIGITS_4BIT; i++)
        vd__store(&w->counters, vd__sort_padded(vc_add(vc_u32(i * threads), w->thread)), vc_u32(0));
    for (uint32_t i = 0; i < loads; i++) {
        index[i] = vd__sort_padded(vc_add(vd__mul_u32(w->digit[i], threads), w->thread));
        w->rank[i] = vd__load(&w->counters, index[i]);
        vd__store(&w->counters, index[i], vd__add_u32(w->rank[i], 1));
    }
    vc_barrier(w->k);
    for (uint32_t i = 0; i < VD__SORT_DIGITS_4BIT; i++) {
        count[i] = vd__load(&w->counters,
                            vd__sort_padded(vd__add_u32(vd__mul_u32(w->thread, VD__SORT_DIGITS_4BIT), i)));
        sum = vc_add(sum, count[i]);
    }
    vc_group_exclusive(w->k, VC_ADD, sum, &prefix);
    for (uint32_t i = 0; i < VD__SORT_DIGITS_4BIT; i++) {
        vd__store(&w->counters, vd__sort_padded(vd__add_u32(vd__mul_u32(w->thread, VD__SORT_DIGITS_4BIT), i)), prefix);
        prefix = vc_add(prefix, count[i]);
    }
    vc_barrier(w->k);
    for (uint32_t i = 0; i < loads; i++) w->rank[i] = vc_add(w->rank[i], vd__load(&w->counters, index[i]));
    w->start[0] = vc_load(
        w->counters, vd__sort_padded(vd__mul_u32(vd__min_u32(w->thread, VD__SORT_DIGITS_4BIT - 1), threads)));
}

/* Ballot of the invocations of the subgroup with the same digit. */
static vc_val vd__sort_peers(const vd__sort_writer *w, vc_val digit) {
    vc_val word[4];
    uint32_t words = (w->plan->subgroup_size + 31) / 32;
    for (uint32_t j = 0; j < 4; j++) word[j] = vc_u32(j < words ? UINT32_MAX : 0);
    for (uint32_t i = 0; i < w->plan->bits; i++) {
        vc_val bit = vd__and_u32(vd__shr_u32(digit, i), 1);
        vc_val ballot = vc_subgroup_ballot(vd__ne_u32(bit, 0));
        vc_val other = vd__sub_u32(bit, 1); /* all ones if the bit is 0 */
        for (uint32_t j = 0; j < words; j++) word[j] = vc_and(word[j], vc_xor(vc_component(ballot, j), other));
    }
    return vc_vec4(word[0], word[1], word[2], word[3]);
}

/* Counts the digits of the subgroup's strip in its counters, which begin at index `counters`, one key per invocation at
   a time. The rank of a key is the counter of its digit plus its index among the keys with the same digit; then the
   first of these invocations updates the counter. */
static void vd__sort_count_strip(vd__sort_writer *w, vc_val counters) {
    for (uint32_t i = 0; i < w->plan->loads; i++) {
        vc_val peers = vd__sort_peers(w, w->digit[i]), below = vc_subgroup_ballot_exclusive(peers);
        vc_val count = vc_subgroup_ballot_count(peers);
        vc_val at = vc_add(counters, w->digit[i]), before = vd__load(&w->counters, at);
        vc_barrier_scoped(w->k, VC_SCOPE_SUBGROUP, VC_SCOPE_SUBGROUP, VC_STORAGE_SHARED);
        w->rank[i] = vc_add(before, below);
        VC_IF(w->k, vd__eq_u32(below, 0)) { vd__store(&w->counters, at, vc_add(before, count)); }
        vc_barrier_scoped(w->k, VC_SCOPE_SUBGROUP, VC_SCOPE_SUBGROUP, VC_STORAGE_SHARED);
    }
}

/* Ranks keys by subgroups: one counter per subgroup and digit, scanned in order of digit and subgroup. */
static void vd__sort_rank_by_subgroups(vd__sort_writer *w) {
    const vd_sort *p = w->plan;
    uint32_t subgroups = p->threads / p->subgroup_size, digits = vd__sort_digits_per_thread(p);
    vc_val counters = vd__mul_u32(vc_subgroup_id(w->k), p->digits), sum = vc_u32(0), prefix;
    for (uint32_t i = 0; i < vd__sort_counter_count(p) / p->threads; i++)
        vd__store(&w->counters, vc_add(vc_u32(i * p->threads), w->thread), vc_u32(0));
    vc_barrier(w->k);
    vd__sort_count_strip(w, counters);
    vc_barrier(w->k);
    for (uint32_t i = 0; i < digits; i++) {
        w->total[i] = vc_u32(0);
        for (uint32_t j = 0; j < subgroups; j++)
            w->total[i] = vc_add(w->total[i],
                                 vd__load(&w->counters, vc_add(vc_u32(j * p->digits), vd__sort_thread_digit(w, i))));
        if (p->one_pass) vd__sort_publish(w, vd__sort_thread_digit(w, i), VD__STATUS_AGGREGATE, w->total[i]);
        sum = vc_add(sum, w->total[i]);
    }
    vc_group_exclusive(w->k, VC_ADD, sum, &prefix);
    for (uint32_t i = 0; i < digits; i++) {
        w->start[i] = prefix;
        for (uint32_t j = 0; j < subgroups; j++) {
            vc_val at = vc_add(vc_u32(j * p->digits), vd__sort_thread_digit(w, i));
            vc_val count = vd__load(&w->counters, at);
            vd__store(&w->counters, at, prefix);
            prefix = vc_add(prefix, count);
        }
    }
    vc_barrier(w->k);
    for (uint32_t i = 0; i < p->loads; i++)
        w->rank[i] = vc_add(w->rank[i], vd__load(&w->counters, vc_add(counters, w->digit[i])));
}

/* Index in the tile of the thread's key i: a thread has consecutive keys or, with subgroup_size, every subgroup_size-th
   key of the subgroup's strip. */
static vc_val vd__sort_tile_index(const vd__sort_writer *w, uint32_t i) {
    const vd_sort *p = w->plan;
    if (!p->subgroup_size) return vd__add_u32(vd__mul_u32(w->thread, p->loads), i);
    return vc_add(vd__mul_u32(vc_subgroup_id(w->k), p->loads * p->subgroup_size),
                  vd__add_u32(vc_subgroup_local_id(w->k), i * p->subgroup_size));
}

/* ---- moving keys ---- */

/* Exchanges keys and values through shared memory, and stores them in order of their ranks, so that neighbouring
   threads store to neighbouring addresses. */
static void vd__sort_exchange(const vd__sort_writer *w, const vc_val *key, const vc_ref *value_vars,
                              vc_type value_type) {
    const vd_sort *p = w->plan;
    vc_ref keys = vc_shared(w->k, "tile_keys", w->register_type, p->tile), values = keys;
    for (uint32_t i = 0; i < p->loads; i++) vd__store(&keys, w->rank[i], key[i]);
    if (p->desc.values) {
        values = vc_shared(w->k, "tile_values", value_type, p->tile);
        for (uint32_t i = 0; i < p->loads; i++) vd__store(&values, w->rank[i], vd__get(&value_vars[i]));
    }
    vc_barrier(w->k);
    for (uint32_t i = 0; i < p->loads; i++) {
        vc_val at = vc_add(vc_u32(i * p->threads), w->thread);
        VC_IF(w->k, vc_lt(vc_add(w->first, vd__index_of(w->index_type, at)), vc_imm(w->index_type, p->desc.count))) {
            vc_val k = vd__load(&keys, at);
            vc_val to = vc_add(vd__load(&w->base, vd__sort_digit(w, k)), vd__index_of(w->index_type, at));
            vd__store(&w->out, to, vc_cast(w->memory_type, k));
            if (p->desc.values) vd__store(&w->out_values, to, vd__load(&values, at));
        }
    }
}

static void vd__sort_find_offsets(const vd__sort_writer *w) {
    const vd_sort *p = w->plan;
    vc_val first[VD__SORT_MAX_THREAD_DIGITS];
    if (p->one_pass) vd__sort_digit_starts(w, first);
    VC_IF(w->k, vd__sort_has_digits(w)) {
        for (uint32_t i = 0; i < vd__sort_digits_per_thread(p); i++) {
            vc_val digit = vd__sort_thread_digit(w, i);
            vc_val to = p->one_pass ? vc_add(first[i], vd__sort_look_back(w, digit, w->total[i]))
                                  : vd__load(&w->counts, vd__sort_count_index(w, digit));
            vd__store(&w->base, digit, vc_sub(to, vd__index_of(w->index_type, w->start[i])));
            if (p->one_pass) vd__store(&w->counts, vd__sort_status_index(w, w->tile, digit, true), vc_u32(0));
        }
    }
}

/* ---- runs, without shared memory and barriers ---- */

/* Records the kernel that counts how often each digit occurs in each run or, with `scatter`, the kernel that moves the
   keys and values. Between the two, a scan replaces each count by an offset: the index in the output of the run's first
   key with that digit. The second kernel increments this offset after each key that it moves. The last runs may be
   empty. */
static void vd__sort_record_run(vd__sort_writer *w, bool scatter) {
    const vd_sort *p = w->plan;
    vc_val n = vc_imm(w->index_type, p->desc.count);
    vd__sort_declare(w, scatter, VC_READ_WRITE);
    w->shift = vc_param(w->k, "shift", VC_U32);
    w->tile = vc_global_id(w->k, 0);
    vc_val first = vc_min(vc_mul(vd__index_of(w->index_type, w->tile), vc_imm(w->index_type, p->run)), n);
    vc_val end = vc_min(vc_add(first, vc_imm(w->index_type, p->run)), n);
    if (!scatter) {
        VC_FOR(w->k, digit, vc_u32(0), vc_u32(p->digits)) {
            vd__store(&w->counts, vd__sort_count_index(w, digit), vc_imm(w->index_type, 0));
        }
    }
    VC_FOR(w->k, i, first, end) {
        vc_val key = vc_cast(w->register_type, vd__load(&w->keys, i));
        vc_val at = vd__sort_count_index(w, vd__sort_digit(w, key));
        vc_val count = vd__load(&w->counts, at);
        vd__store(&w->counts, at, vc_add(count, vc_imm(w->index_type, 1)));
        if (scatter) vd__store(&w->out, count, vc_cast(w->memory_type, key));
        if (scatter && p->desc.values) vd__store(&w->out_values, count, vd__load(&w->values, i));
    }
}

static void vd__sort_record_scatter(vd__sort_writer *w) {
    const vd_sort *p = w->plan;
    vc_type value_type = p->desc.values ? vd__sort_bits_type(p->desc.values) : (vc_type)VC_U32;
    vc_ref value_vars[VD__SORT_MAX_LOADS];
    vc_val n = vc_imm(w->index_type, p->desc.count), key[VD__SORT_MAX_LOADS], at;
    vd__sort_declare(w, true, p->one_pass ? VC_READ_WRITE : VC_READ);
    w->shift = vc_param(w->k, "shift", VC_U32);
    w->counters = vc_shared(w->k, "counters", VC_U32, vd__sort_counter_count(p));
    w->base = vc_shared(w->k, "base", w->index_type, p->digits);
    vd__sort_set_tile(w, p->one_pass ? vd__sort_ticket(w) : vc_group_id(w->k, 0));
    /* Positions past the last key have the highest digit and are the last in the tile, so they have the highest
       ranks. */
    for (uint32_t i = 0; i < p->loads; i++) {
        at = vc_add(w->first, vd__index_of(w->index_type, vd__sort_tile_index(w, i)));
        value_vars[i] = vc_var(w->k, "value", value_type);
        vc_val clamped = vc_min(at, vc_sub(n, vc_imm(w->index_type, 1)));
        key[i] = vc_cast(w->register_type, vd__load(&w->keys, clamped));
        w->digit[i] = vc_select(vc_lt(at, n), vd__sort_digit(w, key[i]), vc_u32(p->digits - 1));
        if (p->desc.values) vd__set(&value_vars[i], vd__load(&w->values, clamped));
    }
    if (p->subgroup_size) vd__sort_rank_by_subgroups(w);
    else vd__sort_rank_by_threads(w);
    vd__sort_find_offsets(w);
    vd__sort_exchange(w, key, value_vars, value_type);
}

static vd_result vd__sort_build(vd_sort *p, bool scatter) {
    vd__sort_writer w;
    memset(&w, 0, sizeof w);
    w.plan_kernel = scatter ? &p->scatter : &p->count;
    w.k = vd__plan_begin(&p->base, p->base.name, p->threads);
    w.plan = p;
    w.memory_type = vd__sort_bits_type(p->desc.type);
    w.register_type = w.memory_type == VC_U64 ? (vc_type)VC_U64 : (vc_type)VC_U32;
    w.index_type = vd__count_type(p->desc.count);
    w.thread = vc_local_index(w.k);
    if (p->run) vd__sort_record_run(&w, scatter);
    else if (scatter) vd__sort_record_scatter(&w);
    else if (p->one_pass) vd__sort_record_histogram(&w);
    else vd__sort_record_count(&w);
    return vd_plan_kernel_build(&p->base, w.plan_kernel, w.k);
}

static vd_result vd__sort_check_desc(const vd_sort *p) {
    const vd_sort_desc *d = &p->desc;
    uint32_t size = vd_type_size(d->values);
    vd_result result = vd__plan_check_numbers(d->type, d->count, VD__SORT_KEY_LIMIT);
    if (!result) result = vd__reduce_check_elements(p->base.ctx, d->count);
    if (result) return result;
    if (d->values && size != 4 && size != 8)
        return vd_error_set(VD_ERROR_INVALID, "values is %s (%u bytes), but must be a type of 4 or 8 bytes",
                            vd_type_name(d->values), size);
    result = VD__CHECK_ENUM(d->method, "method", VD_SCAN_THREE_KERNELS);
    return result ? result : vd__plan_check_shapes();
}

/* Shared memory of the scatter kernel in bytes, including that of a work-group scan and the ticket. */
static uint32_t vd__sort_shared_bytes(const vd_sort *p) {
    uint32_t key = vd_type_size(p->desc.type) == 8 ? 8 : 4;
    uint32_t base = p->digits * (vd__sort_is_large(p) ? 2 : 1);
    return (vd__sort_counter_count(p) + base + 2 * p->threads + 1) * 4
           + p->threads * p->loads * (key + vd_type_size(p->desc.values));
}

/* Plans ranking by subgroups with 8-bit digits. Returns false if the device has no subgroup operations or several
   subgroup sizes, if the shared memory is too small, or if the number of passes would be odd. A thread has at most 12
   keys, for which a kernel uses 64 registers; with 24 keys it uses 127, and was not faster on an H200. */
static bool vd__sort_plan_subgroups(vd_sort *p, const vd_device_info *d) {
    static const uint32_t loads[] = { VD__SORT_MAX_LOADS, 8, 6 };
    uint32_t subgroup_size = d->limits.min_subgroup_size;
    if (!(d->features & VD_FEATURE_SUBGROUP) || subgroup_size < 2 || subgroup_size != d->limits.max_subgroup_size
        || vd_type_size(p->desc.type) == 1)
        return false;
    p->subgroup_size = subgroup_size;
    p->bits = 8;
    p->digits = VD__SORT_DIGITS_8BIT;
    for (p->threads = VD__SORT_DIGITS_8BIT; p->threads >= VD__SORT_DIGITS_8BIT / VD__SORT_MAX_THREAD_DIGITS;
         p->threads /= 2)
        for (uint32_t i = 0; i < sizeof loads / sizeof *loads; i++) {
            p->loads = loads[i];
            if (p->threads <= vd__plan_max_threads(d) && p->threads % subgroup_size == 0
                && vd__sort_shared_bytes(p) <= d->limits.max_shared_bytes)
                return true;
        }
    return false;
}

static void vd__sort_plan(vd_sort *p) {
    const vd_device_info *d = vd_device(p->base.ctx, 0);
    vd_facts facts = vd__plan_facts(d);
    if (facts.groups_as_loops) {
        p->threads = VD__SORT_RUN_THREADS;
        p->bits = vd_type_size(p->desc.type) == 1 ? 4 : 8; /* the number of passes must be even */
        p->digits = 1u << p->bits;
        p->run = VD__SORT_RUN;
        p->groups = (uint32_t)vd__ceil_div(p->desc.count, p->run * p->threads);
        p->tiles = (uint64_t)p->groups * p->threads;
        return;
    }
    if (!vd__sort_plan_subgroups(p, d)) {
        p->subgroup_size = 0;
        p->bits = 4;
        p->digits = VD__SORT_DIGITS_4BIT;
        p->loads = 8;
        p->threads = 256;
        while (p->threads > 32
               && (p->threads > vd__plan_max_threads(d) || vd__sort_shared_bytes(p) > d->limits.max_shared_bytes))
            p->threads /= 2;
    }
    p->tile = p->threads * p->loads;
    p->tiles = vd__ceil_div(p->desc.count, p->tile);
    /* Look-back is faster only if all tiles execute concurrently: on an H200, 1 MiB of keys takes 43 us instead of
       66 us, but 256 MiB takes 3.1 ms instead of 2.1 ms. */
    p->one_pass = p->subgroup_size && p->desc.count < (uint64_t)1 << 30 && !vd__sort_is_large(p)
                && (p->desc.method ? p->desc.method == VD_SCAN_ONE_PASS
                                : p->tiles <= facts.concurrent_groups && d->facts.forward_progress);
    p->poll_limit = vd__look_back_poll_limit(d);
    p->tiles_in_flight = vd__plan_tiles_in_flight(d, (p->poll_limit + 2 + p->tile) * vd__sort_digits_per_thread(p));
    p->groups = p->tiles < facts.concurrent_groups ? (uint32_t)p->tiles : facts.concurrent_groups;
}

static vd_result vd__sort_make_counts(vd_sort *p) {
    vd_scan_desc scan;
    uint64_t words = p->one_pass ? vd__sort_status_offset(p, 1) + p->tiles * p->digits : p->tiles * p->digits;
    if (words > UINT32_MAX)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "sorting %llu keys needs %llu counters on this device, but the limit "
                            "is %u", (unsigned long long)p->desc.count, (unsigned long long)words, UINT32_MAX);
    memset(&scan, 0, sizeof scan);
    scan.name = p->base.name;
    scan.type = vd__count_type(p->desc.count);
    scan.shape[0] = words;
    scan.exclusive = true;
    scan.method = p->desc.method;
    if (!p->one_pass && !(p->scan = (vd_scan *)vd__plan_new(p->base.ctx, &vd__scan_kind, &scan)))
        return vd_error_result();
    p->counts = vd_plan_buffer(&p->base, "sort counts", scan.type, words, NULL);
    return p->counts.id ? VD_OK : vd_error_result();
}

static vd_result vd__sort_make(void *plan, const void *desc) {
    vd_sort *p = (vd_sort *)plan;
    p->desc = *(const vd_sort_desc *)desc;
    if (!p->desc.type) p->desc.type = VD_F32;
    vd_result result = vd__sort_check_desc(p);
    if (result) return result;
    vd__sort_plan(p);
    result = vd__sort_make_counts(p);
    if (result) return result;
    p->keys = vd_plan_buffer(&p->base, "sort keys", p->desc.type, p->desc.count, NULL);
    if (p->desc.values) p->values = vd_plan_buffer(&p->base, "sort values", p->desc.values, p->desc.count, NULL);
    if (!p->keys.id || (p->desc.values && !p->values.id)) return vd_error_result();
    result = vd__sort_build(p, false);
    return result ? result : vd__sort_build(p, true);
}

static void vd__sort_release(void *plan) { vd_scan_destroy(((vd_sort *)plan)->scan); }

static const vd_plan_kind vd__sort_kind = {
    "sort", sizeof(vd_sort), sizeof(vd_sort_desc), vd__sort_make, vd__sort_release, NULL
};

static void vd__sort_roles(const vd_sort *p, const vd_sort_io *io, vd_plan_role *r) {
    r[VD__SORT_KEYS] = vd__role_of("keys", io->keys, p->desc.type, p->desc.count, false);
    r[VD__SORT_OUT] = vd__role_of("out", io->out, p->desc.type, p->desc.count, true);
    r[VD__SORT_VALUES] = vd__role_of("values", io->values, p->desc.values, p->desc.count, false);
    r[VD__SORT_OUT_VALUES] = vd__role_of("out_values", io->out_values, p->desc.values, p->desc.count, true);
    r[VD__SORT_OUT].in_place = &r[VD__SORT_KEYS];
    r[VD__SORT_OUT_VALUES].in_place = &r[VD__SORT_VALUES];
    if (!p->desc.values) r[VD__SORT_VALUES].unused = r[VD__SORT_OUT_VALUES].unused = "desc.values is 0";
    r[VD__SORT_COUNTS].buffer = p->counts;
}

/* Counts digits. With one_pass, clears the histograms and the words of the first pass, and computes the histograms
   of all passes; otherwise counts the digits of one pass and scans the counts. */
static vd_result vd__sort_run_count(vd_sort *p, vd_list *list, const vd_plan_io *io, uint32_t shift) {
    vd_scan_io scan;
    vd_arg arg = vd_u32(shift);
    vd_result result = VD_OK;
    memset(&scan, 0, sizeof scan);
    scan.in = scan.out = p->counts;
    if (p->one_pass) result = vd_fill(list, p->counts, 0, vd__sort_status_offset(p, 1) * (uint64_t)4, NULL, 0);
    if (!result)
        result = vd__plan_dispatch_tiles(list, &p->count, io, p->one_pass ? NULL : &arg,
                                         p->one_pass || p->run ? p->groups : p->tiles, UINT32_MAX);
    return result || p->one_pass ? result : vd_scan_run(p->scan, list, &scan);
}

static vd_result vd__sort_run_scatter(vd_sort *p, vd_list *list, const vd_plan_io *io, uint32_t shift) {
    vd_arg arg = vd_u32(shift);
    return vd__plan_dispatch_tiles(list, &p->scatter, io, &arg, p->run ? p->groups : p->tiles,
                                   p->one_pass ? p->tiles_in_flight : UINT32_MAX);
}

// >>histogram
/* Counts the elements of each bin. If the bins fit into half of the shared memory, each work-group counts in shared
   memory first. */

struct vd_histogram {
    vd_plan base;
    vd_histogram_desc desc;
    uint32_t threads;
    uint64_t groups;
    vd_plan_kernel kernel;
    vd_plan_fragment bin;
};

enum { VD__HISTOGRAM_IN, VD__HISTOGRAM_OUT };

/* Whether 0 <= v < bins. All types but 64-bit integers are compared as u32, because i32 and f32 cannot represent all
   values of desc.bins. */
static vc_val vd__histogram_in_range(vc_kernel *k, const vd_histogram_desc *d, vc_val v) {
    vc_type type = vc_typeof(v);
    vc_val in_range = vc_ge(v, vc_imm(type, 0)), bins = vc_const(k, vc_u32(d->bins));
    if (type == VC_I64 || type == VC_U64) return vc_and(in_range, vc_lt(v, vc_cast(type, bins)));
    if (type == VC_F32) in_range = vc_and(in_range, vc_lt(v, vc_imm(type, 0x4f000000u))); /* 2^31 */
    if (type == VC_F64) in_range = vc_and(in_range, vc_lt(v, vc_imm(type, (uint64_t)0x41e << 52)));
    return vc_and(in_range, vc_lt(vc_cast(VC_U32, v), bins));
}

/* Adds `count` to a bin. wide: bins of `to` are 64-bit integers, the lower word first. The thread whose addition wraps
   the lower word around adds the carry, so that the sum is right when all threads have finished, also on a device
   without 64-bit atomics. */
static void vd__histogram_add(vc_kernel *k, vc_ref to, bool wide, vc_val bin, vc_val count) {
    vc_val old;
    if (!wide) {
        vc_atomic_add(to, bin, count, NULL);
        return;
    }
    bin = vd__mul_u32(bin, 2);
    vc_atomic_add(to, bin, count, &old);
    VC_IF(k, vc_lt(vc_add(old, count), old)) { vc_atomic_add(to, vd__add_u32(bin, 1), vc_u32(1), NULL); }
}

static void vd__histogram_element(vc_kernel *k, const vd_histogram *p, vc_ref to, bool wide, vc_val element) {
    vc_val v = p->bin.code.build ? vd_plan_fragment_build(&p->bin, k, element, element, element) : element;
    vc_type type = vc_typeof(v);
    type = type >= VC_I8 && type <= VC_F64 ? vd__reduce_widened_type(type) : type;
    v = vc_cast(type, v);
    VC_IF(k, vd__histogram_in_range(k, &p->desc, v)) { vd__histogram_add(k, to, wide, vc_cast(VC_U32, v), vc_u32(1)); }
}

/* shared: the work-group counts in shared memory first. */
static void vd__histogram_record(vc_kernel *k, vd_histogram *p, bool shared) {
    const vd_histogram_desc *d = &p->desc;
    vc_ref in = vd_plan_kernel_buffer(&p->kernel, k, VD__HISTOGRAM_IN, "in", d->type, VC_READ);
    vc_type index_type = vd__count_type(d->count);
    bool wide = index_type == VC_U64;
    vc_ref out = vd_plan_kernel_buffer(&p->kernel, k, VD__HISTOGRAM_OUT, "out", VC_U32,
                                       VC_READ_WRITE | (wide ? VC_ANY_TYPE : 0)), target = out;
    vc_val thread = vc_local_index(k), bins = vc_u32(d->bins), threads = vc_u32(p->threads);
    vc_val n = vc_imm(index_type, d->count);
    if (shared) {
        target = vc_shared(k, "bins", VC_U32, d->bins);
        VC_FOR_STEP(k, i, thread, bins, threads) { vd__store(&target, i, vc_u32(0)); }
        vc_barrier(k);
    }
    VC_FOR_STEP(k, i, vc_cast(index_type, vc_global_id(k, 0)), n, vc_imm(index_type, p->groups * p->threads)) {
        vd__histogram_element(k, p, target, wide && !shared, vd__load(&in, i));
    }
    if (!shared) return;
    vc_barrier(k);
    VC_FOR_STEP(k, i, thread, bins, threads) {
        vc_val count = vd__load(&target, i);
        VC_IF(k, vd__ne_u32(count, 0)) { vd__histogram_add(k, out, wide, i, count); }
    }
}

static vd_result vd__histogram_make(void *plan, const void *desc) {
    vd_histogram *p = (vd_histogram *)plan;
    const vd_device_info *device = vd_device(p->base.ctx, 0);
    const vd_histogram_desc *d = &p->desc;
    vd_facts facts = vd__plan_facts(device);
    bool loops = facts.groups_as_loops;
    p->desc = *(const vd_histogram_desc *)desc;
    if (!d->type) p->desc.type = VD_F32;
    vd_result result = vd__plan_check_shapes();
    if (!result) result = vd__plan_check_numbers(d->type, d->count, VD__REDUCE_ELEMENTS);
    if (!result) result = vd__reduce_check_elements(p->base.ctx, d->count);
    if (result) return result;
    if (!d->bins) return vd_error_set(VD_ERROR_INVALID, "bins is 0");
    if (d->bins > (uint32_t)1 << 31)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "bins is %u, but the limit is 2^31", d->bins);
    p->threads = loops ? 32 : vd__plan_max_threads(device) < 256 ? 64 : 256;
    p->groups = vd__ceil_div(d->count, p->threads * 16);
    /* On a GPU, twice the usual number of work-groups, because they have few threads. */
    uint64_t max_groups = loops ? facts.concurrent_groups : 2 * (uint64_t)facts.concurrent_groups;
    if (p->groups > max_groups) p->groups = max_groups;
    uint64_t max_elements = p->threads * vd__plan_max_iterations(device);
    /* a work-group counts with 32 bits */
    if (max_elements > (uint64_t)1 << 31) max_elements = (uint64_t)1 << 31;
    uint64_t min_groups = vd__ceil_div(d->count, max_elements);
    if (p->groups < min_groups) p->groups = min_groups;
    p->bin = vd__fragment_of("bin", d->bin, d->type, VC_NONE, VC_NONE, VC_NONE);
    result = vd_plan_fragment_check(&p->base, &p->bin);
    if (result) return result;
    vc_kernel *k = vd__plan_begin(&p->base, p->base.name, p->threads);
    vd__histogram_record(k, p, (uint64_t)d->bins * 4 <= device->limits.max_shared_bytes / 2);
    return vd_plan_kernel_build(&p->base, &p->kernel, k);
}

static const vd_plan_kind vd__histogram_kind = {
    "histogram", sizeof(vd_histogram), sizeof(vd_histogram_desc), vd__histogram_make, NULL, NULL
};

// >>top
/* The k largest or smallest elements of each row, in one dispatch. The elements to select are called the wanted ones.
   An element is converted to a key: the larger the key, the earlier the element comes in the result. The complemented
   index of the element follows as lower digits, so that no two elements are equal. A work-group determines the prefix,
   the leading digits that distinguish the wanted elements from the others, by radix selection (Alabi, Blanchard,
   Gordon, Steinbach, Fast k-selection algorithms for graphics processing units, 2012): from the most significant digit
   on, it counts the digits of all elements that have the prefix found so far, and appends the digit of the last wanted
   element, until all elements with the prefix are wanted. Then it collects the wanted elements and sorts them. If
   several work-groups share a row, the last one to finish selects from the results of all. */

enum { VD__TOP_MAX_K = 1024, VD__TOP_BITS = 8, VD__TOP_DIGITS = 1 << VD__TOP_BITS };

#define VD__TOP_MAX_PART ((uint64_t)1 << 31) /* maximum elements of a work-group */

struct vd_top_k {
    vd_plan base;
    vd_top_k_desc desc;
    uint64_t rows, n;        /* number of rows, elements per row */
    uint32_t threads;        /* threads per work-group */
    uint32_t capacity;       /* k rounded up to a power of two */
    uint32_t parts, part;    /* work-groups per row, elements of each work-group */
    vd_plan_kernel kernel;
    vd_plan_fragment map;
    vd_buffer part_keys, part_indices, tickets; /* keys and indices of the results of the parts; number of finished
                                                   parts of each row */
};

typedef enum vd__top_role {
    VD__TOP_IN, VD__TOP_VALUES, VD__TOP_INDICES, VD__TOP_PART_KEYS, VD__TOP_PART_INDICES, VD__TOP_TICKETS, VD__TOP_ROLES
} vd__top_role;

/* State while a kernel is recorded. */
typedef struct vd__top_writer {
    vc_kernel *k;
    vd_plan_kernel *plan_kernel;
    const vd_top_k *plan;
    vc_type register_type;   /* type of elements in the kernel */
    vc_type key;             /* type of keys: unsigned integer of the same size */
    vc_type index;           /* type of indices of elements of a row */
    vc_type address;         /* type of indices of elements of the array */
    vc_ref in, values, indices, part_keys, part_indices, tickets;
    /* Shared memory: */
    vc_ref counts;           /* count of each digit */
    vc_ref choice;           /* the chosen digit, number of wanted elements with it, number of all elements with it */
    vc_ref best_keys, best_indices, found; /* keys and indices of the collected elements, and their number */
    vc_val thread, row;
} vd__top_writer;

/* Executes the body for each i < count, distributed over the threads. All threads execute the same number of
   iterations. */
#define VD__TOP_FOR(w, i, count) \
    VC_FOR_STEP((w)->k, first_##i, vc_u32(0), count, vc_u32((w)->plan->threads)) \
        for (vc_val i = vc_add((w)->thread, first_##i); i.owner; i.owner = 0) VC_IF((w)->k, vc_lt(i, count))

/* Elements to select from: `count` elements of the row from `first` on or, if `parts`, the results of the parts of the
   row. In the second case, all counts are 0 in work-groups that are not the last one of their row. This replaces a
   condition around barriers, with which PoCL 3.1 does not execute all threads. */
typedef struct vd__top_source {
    bool parts;
    vc_val first, count, wanted;
    vc_val digits, sort_count; /* number of digits to examine, of elements to sort */
} vd__top_source;

typedef struct vd__top_item {
    vc_val key, index;
} vd__top_item;

static uint32_t vd__top_key_bits(vd_type type) { return type == VD_F16 ? 32 : vd_type_size(type) * 8; }

/* `count` ones from bit `first` on. */
static vc_val vd__top_bit_mask(const vd__top_writer *w, uint32_t first, uint32_t count) {
    return vc_imm(w->key, (count ? UINT64_MAX >> (64 - count) : 0) << first);
}

/* NaN has the smallest key. */
static vc_val vd__top_key(const vd__top_writer *w, vc_val v) {
    const vd_top_k_desc *d = &w->plan->desc;
    uint32_t bits = vd__top_key_bits(d->type);
    vc_val raw = vc_bitcast(w->key, v), key = vc_and(raw, vd__top_bit_mask(w, 0, bits));
    key = vd__sort_order_bits(d->type, bits, w->key, key, d->smallest, false);
    if (d->type < VD_F16) return key;
    vc_val infinity = bits == 64 ? vd__top_bit_mask(w, 52, 11) : vd__top_bit_mask(w, 23, 8);
    return vc_select(vc_gt(vc_and(raw, vd__top_bit_mask(w, 0, bits - 1)), infinity), vc_imm(w->key, 0), key);
}

static vc_val vd__top_value(const vd__top_writer *w, vc_val key) {
    const vd_top_k_desc *d = &w->plan->desc;
    key = vd__sort_order_bits(d->type, vd__top_key_bits(d->type), w->key, key, d->smallest, true);
    return vc_cast(d->type, vc_bitcast(w->register_type, key));
}

/* Index in an array, whose rows have `stride` elements, of element i of a row. */
static vc_val vd__top_address(const vd__top_writer *w, vc_val row, uint64_t stride, vc_val i) {
    return vc_add(vc_mul(vc_cast(w->address, row), vc_imm(w->address, stride)), vc_cast(w->address, i));
}

static vd__top_item vd__top_load_item(const vd__top_writer *w, const vd__top_source *s, vc_val i) {
    const vd_top_k *p = w->plan;
    vd__top_item item;
    vc_val at, v;
    if (s->parts) {
        at = vd__top_address(w, w->row, (uint64_t)p->parts * p->desc.k, i);
        item.key = vd__load(&w->part_keys, at);
        item.index = vd__load(&w->part_indices, at);
        return item;
    }
    item.index = vc_add(s->first, vc_cast(w->index, i));
    v = vd__load(&w->in, vd__top_address(w, w->row, p->n, item.index));
    if (p->desc.map.build) v = vd_plan_fragment_build(&p->map, w->k, v, v, vc_cast(VC_U32, item.index));
    item.key = vd__top_key(w, vc_cast(w->register_type, v));
    return item;
}

/* The prefix found so far: values of the bits of the key and of the complemented index that the masks select. wanted:
   number of wanted elements with this prefix. The index is complemented because, of equal keys, the one with the lower
   index is wanted first. */
typedef struct vd__top_prefix { vc_ref key_mask, key, index_mask, index, wanted; } vd__top_prefix;

/* A prefix without digits, which all elements have. */
static vd__top_prefix vd__top_empty_prefix(const vd__top_writer *w, vc_val wanted) {
    vd__top_prefix prefix;
    prefix.key_mask = vc_var(w->k, "key_mask", w->key);
    prefix.key = vc_var(w->k, "key", w->key);
    prefix.index_mask = vc_var(w->k, "index_mask", w->index);
    prefix.index = vc_var(w->k, "index", w->index);
    prefix.wanted = vc_var(w->k, "wanted", VC_U32);
    vd__set(&prefix.wanted, wanted);
    return prefix;
}

/* Whether an element has the prefix or, with `above`, this prefix or a higher one. */
static vc_val vd__top_matches(const vd__top_prefix *prefix, const vd__top_item *item, bool above) {
    vc_val key = vc_and(item->key, vd__get(&prefix->key_mask));
    vc_val index = vc_and(vc_not(item->index), vd__get(&prefix->index_mask));
    vc_val same = vc_eq(key, vd__get(&prefix->key));
    if (!above) return vc_and(same, vc_eq(index, vd__get(&prefix->index)));
    return vc_or(vc_gt(key, vd__get(&prefix->key)), vc_and(same, vc_ge(index, vd__get(&prefix->index))));
}

/* Each thread adds up the counts of consecutive digits, the first thread those of the highest digits. */
static void vd__top_choose_digit(const vd__top_writer *w, vc_val wanted) {
    uint32_t digits = VD__TOP_DIGITS / w->plan->threads;
    vc_val first = vc_sub(vc_u32(VD__TOP_DIGITS - 1), vd__mul_u32(w->thread, digits)), count[VD__TOP_DIGITS];
    vc_val sum = vc_u32(0), before, end;
    for (uint32_t i = 0; i < digits; i++) {
        count[i] = vd__load(&w->counts, vd__sub_u32(first, i));
        sum = vc_add(sum, count[i]);
    }
    vc_group_exclusive(w->k, VC_ADD, sum, &before);
    for (uint32_t i = 0; i < digits; i++, before = end) {
        end = vc_add(before, count[i]);
        VC_IF(w->k, vc_and(vc_lt(before, wanted), vc_le(wanted, end))) {
            vd__store(&w->choice, vc_u32(0), vd__sub_u32(first, i));
            vd__store(&w->choice, vc_u32(1), vc_sub(wanted, before));
            vd__store(&w->choice, vc_u32(2), count[i]);
        }
    }
    vc_barrier(w->k);
}

/* Number of digits of a key and an index together. */
static uint32_t vd__top_digit_count(const vd_top_k *p) {
    uint32_t index_digits = 1;
    while (index_digits < 8 && (p->n - 1) >> (index_digits * VD__TOP_BITS)) index_digits++;
    return vd__top_key_bits(p->desc.type) / VD__TOP_BITS + index_digits;
}

static void vd__top_find_prefix(const vd__top_writer *w, const vd__top_source *s, const vd__top_prefix *prefix) {
    uint32_t key_digits = vd__top_key_bits(w->plan->desc.type) / VD__TOP_BITS;
    vc_val low = vc_u32(VD__TOP_DIGITS - 1);
    VC_FOR(w->k, digit_index, vc_u32(0), s->digits) {
        vc_val in_key = vd__lt_u32(digit_index, key_digits);
        vc_val last = vc_select(in_key, vc_u32(key_digits - 1), vc_u32(vd__top_digit_count(w->plan) - 1));
        vc_val shift = vd__mul_u32(vc_sub(last, digit_index), VD__TOP_BITS);
        VD__TOP_FOR(w, i, vc_u32(VD__TOP_DIGITS)) { vd__store(&w->counts, i, vc_u32(0)); }
        vc_barrier(w->k);
        VD__TOP_FOR(w, i, s->count) {
            vd__top_item item = vd__top_load_item(w, s, i);
            vc_val at = vc_select(in_key, vc_cast(VC_U32, vc_shr(item.key, shift)),
                                  vc_cast(VC_U32, vc_shr(vc_not(item.index), shift)));
            VC_IF(w->k, vd__top_matches(prefix, &item, false)) {
                vc_atomic_add(w->counts, vc_and(at, low), vc_u32(1), NULL);
            }
        }
        vc_barrier(w->k);
        vd__top_choose_digit(w, vd__get(&prefix->wanted));
        vc_val digit = vd__load(&w->choice, vc_u32(0));
        VC_IF(w->k, in_key) {
            vd__set(&prefix->key_mask, vc_or(vd__get(&prefix->key_mask), vc_shl(vc_cast(w->key, low), shift)));
            vd__set(&prefix->key, vc_or(vd__get(&prefix->key), vc_shl(vc_cast(w->key, digit), shift)));
        }
        VC_ELSE(w->k) {
            vd__set(&prefix->index_mask, vc_or(vd__get(&prefix->index_mask), vc_shl(vc_cast(w->index, low), shift)));
            vd__set(&prefix->index, vc_or(vd__get(&prefix->index), vc_shl(vc_cast(w->index, digit), shift)));
        }
        vd__set(&prefix->wanted, vd__load(&w->choice, vc_u32(1)));
        vc_break_if(w->k, vc_eq(vd__load(&w->choice, vc_u32(1)), vd__load(&w->choice, vc_u32(2))));
    }
}

/* Collects the wanted elements of a source in shared memory, in any order. Unused entries have key 0 and the largest
   index, which no element has. */
static void vd__top_select(const vd__top_writer *w, const vd__top_source *s) {
    vc_val capacity = vc_u32(w->plan->capacity);
    vd__top_prefix prefix = vd__top_empty_prefix(w, s->wanted);
    vd__top_find_prefix(w, s, &prefix);
    VD__TOP_FOR(w, i, capacity) {
        vd__store(&w->best_keys, i, vc_imm(w->key, 0));
        vd__store(&w->best_indices, i, vc_not(vc_imm(w->index, 0)));
    }
    VC_IF(w->k, vd__eq_u32(w->thread, 0)) { vd__store(&w->found, vc_u32(0), vc_u32(0)); }
    vc_barrier(w->k);
    VD__TOP_FOR(w, i, s->count) {
        vd__top_item item = vd__top_load_item(w, s, i);
        vc_val at;
        VC_IF(w->k, vd__top_matches(&prefix, &item, true)) {
            vc_atomic_add(w->found, vc_u32(0), vc_u32(1), &at);
            VC_IF(w->k, vc_lt(at, capacity)) { /* false only if map returns different values in different calls */
                vd__store(&w->best_keys, at, item.key);
                vd__store(&w->best_indices, at, item.index);
            }
        }
    }
    vc_barrier(w->k);
}

/* One compare-exchange of the bitonic sort: compares pair i of elements that are `stride` apart. Blocks of `size`
   elements are sorted in alternating directions. */
static void vd__top_compare(const vd__top_writer *w, vc_val i, vc_val stride, vc_val size) {
    vc_val low = vc_sub(vd__mul_u32(i, 2), vc_and(i, vd__sub_u32(stride, 1))), high = vc_add(low, stride);
    vc_val key[2], index[2], front = vd__eq_u32(vc_and(low, size), 0);
    key[0] = vd__load(&w->best_keys, low);
    key[1] = vd__load(&w->best_keys, high);
    index[0] = vd__load(&w->best_indices, low);
    index[1] = vd__load(&w->best_indices, high);
    vc_val better = vc_or(vc_gt(key[1], key[0]), vc_and(vc_eq(key[1], key[0]), vc_lt(index[1], index[0])));
    VC_IF(w->k, vc_eq(better, front)) {
        vd__store(&w->best_keys, low, key[1]);
        vd__store(&w->best_keys, high, key[0]);
        vd__store(&w->best_indices, low, index[1]);
        vd__store(&w->best_indices, high, index[0]);
    }
}

/* Sorts the collected elements: bitonic sort (Batcher, Sorting networks and their applications, 1968). */
static void vd__top_sort(const vd__top_writer *w, const vd__top_source *s) {
    vc_ref size = vc_var(w->k, "size", VC_U32), stride = vc_var(w->k, "stride", VC_U32);
    vd__set(&size, vc_u32(2));
    VC_LOOP(w->k) {
        vc_break_if(w->k, vc_gt(vd__get(&size), s->sort_count));
        vd__set(&stride, vd__shr_u32(vd__get(&size), 1));
        VC_LOOP(w->k) {
            vc_break_if(w->k, vd__eq_u32(vd__get(&stride), 0));
            VD__TOP_FOR(w, i, vc_u32(w->plan->capacity / 2)) {
                vd__top_compare(w, i, vd__get(&stride), vd__get(&size));
            }
            vc_barrier(w->k);
            vd__set(&stride, vd__shr_u32(vd__get(&stride), 1));
        }
        vd__set(&size, vd__shl_u32(vd__get(&size), 1));
    }
}

/* Sorts the collected elements and stores the wanted ones. */
static void vd__top_store_results(const vd__top_writer *w, const vd__top_source *s) {
    if (w->plan->capacity > 1) vd__top_sort(w, s);
    VD__TOP_FOR(w, i, s->wanted) {
        vc_val to = vd__top_address(w, w->row, w->plan->desc.k, i);
        vd__store(&w->values, to, vd__top_value(w, vd__load(&w->best_keys, i)));
        vd__store(&w->indices, to, vc_cast(w->plan->desc.index_type, vd__load(&w->best_indices, i)));
    }
}

/* Stores the results of this part. The last work-group of a row to finish selects from the results of all parts. Each
   part has k results, except the last one, which may have fewer elements. */
static void vd__top_finish(const vd__top_writer *w, vc_val part, vc_val wanted) {
    const vd_top_k *p = w->plan;
    uint32_t k = p->desc.k, last_size = (uint32_t)(p->n - (uint64_t)(p->parts - 1) * p->part);
    vd__top_source s;
    vc_val zero = vc_const(w->k, vc_u32(0));
    VD__TOP_FOR(w, i, wanted) {
        vc_val to = vd__top_address(w, vc_add(vd__mul_u32(w->row, p->parts), part), k, i);
        vd__store(&w->part_keys, to, vd__load(&w->best_keys, i));
        vd__store(&w->part_indices, to, vd__load(&w->best_indices, i));
    }
    vc_val last = vd__plan_is_last_group(w->k, w->tickets, w->row, p->parts);
    s.parts = true;
    s.first = zero;
    s.count = vc_select(last, vc_u32((p->parts - 1) * k + (last_size < k ? last_size : k)), zero);
    s.wanted = vc_select(last, vc_u32(k), zero);
    s.digits = vc_select(last, vc_u32(vd__top_digit_count(p)), zero);
    s.sort_count = vc_select(last, vc_u32(p->capacity), zero);
    vd__top_select(w, &s);
    vd__top_store_results(w, &s);
}

static void vd__top_declare(vd__top_writer *w) {
    const vd_top_k *p = w->plan;
    vd_plan_kernel *b = w->plan_kernel;
    w->in = vd_plan_kernel_buffer(b, w->k, VD__TOP_IN, "in", p->desc.type, VC_READ);
    w->values = vd_plan_kernel_buffer(b, w->k, VD__TOP_VALUES, "values", p->desc.type, VC_WRITE);
    w->indices = vd_plan_kernel_buffer(b, w->k, VD__TOP_INDICES, "indices", p->desc.index_type, VC_WRITE);
    if (p->parts > 1) {
        w->part_keys = vd_plan_kernel_buffer(b, w->k, VD__TOP_PART_KEYS, "part_keys", w->key, VC_READ_WRITE);
        w->part_indices = vd_plan_kernel_buffer(b, w->k, VD__TOP_PART_INDICES, "part_indices", w->index, VC_READ_WRITE);
        w->tickets = vd_plan_kernel_buffer(b, w->k, VD__TOP_TICKETS, "tickets", VC_U32, VC_READ_WRITE);
    }
    w->best_keys = vc_shared(w->k, "best_keys", w->key, p->capacity);
    w->best_indices = vc_shared(w->k, "best_indices", w->index, p->capacity);
    w->counts = vc_shared(w->k, "counts", VC_U32, VD__TOP_DIGITS);
    w->choice = vc_shared(w->k, "choice", VC_U32, 3);
    w->found = vc_shared(w->k, "found", VC_U32, 1);
}

static vd_result vd__top_build(vd_top_k *p) {
    vd__top_writer w;
    vd__top_source s;
    memset(&w, 0, sizeof w);
    w.plan_kernel = &p->kernel;
    w.k = vd__plan_begin(&p->base, p->base.name, p->threads);
    w.plan = p;
    w.register_type = vd__reduce_widened_type(p->desc.type);
    w.key = vc_type_size(w.register_type) == 8 ? (vc_type)VC_U64 : (vc_type)VC_U32;
    w.index = vd__count_type(p->n);
    w.address = vd__count_type(p->n * p->rows);
    vd__top_declare(&w);
    w.thread = vc_local_index(w.k);
    vc_val group = vc_group_id(w.k, 0);
    w.row = p->parts > 1 ? vd__div_u32(group, p->parts) : group;
    vc_val part = p->parts > 1 ? vd__rem_u32(group, p->parts) : vc_u32(0);
    s.parts = false;
    s.first = vc_mul(vc_cast(w.index, part), vc_imm(w.index, p->part));
    s.count = vc_cast(VC_U32, vc_min(vc_imm(w.index, p->part), vc_sub(vc_imm(w.index, p->n), s.first)));
    s.wanted = vc_min(vc_u32(p->desc.k), s.count);
    s.digits = vc_u32(vd__top_digit_count(p));
    s.sort_count = vc_u32(p->capacity);
    vd__top_select(&w, &s);
    if (p->parts > 1) vd__top_finish(&w, part, s.wanted);
    else vd__top_store_results(&w, &s);
    return vd_plan_kernel_build(&p->base, w.plan_kernel, w.k);
}

/* ---- the plan ---- */

static vd_result vd__top_check_desc(vd_top_k *p) {
    const vd_top_k_desc *d = &p->desc;
    uint32_t dimensions;
    uint64_t elements;
    vd_result result = vd__plan_check_numbers(d->type, 1, 1);
    if (!result) result = vd__fft_check_shape(d->shape, 0, VD__REDUCE_ELEMENTS, &dimensions, &elements);
    if (!result) result = vd__reduce_check_elements(p->base.ctx, elements);
    if (result) return result;
    p->n = d->shape[dimensions - 1];
    p->rows = elements / p->n;
    if (!d->k || d->k > p->n)
        return vd_error_set(VD_ERROR_INVALID, "k is %u, but must be 1 to %llu, the length of a row", d->k,
                            (unsigned long long)p->n);
    if (d->k > VD__TOP_MAX_K)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "k is %u, but the limit is %d", d->k, (int)VD__TOP_MAX_K);
    if (vd_type_size(d->type) == 8 && !(vd_device(p->base.ctx, 0)->features & VD_FEATURE_I64))
        return vd_error_set(VD_ERROR_UNSUPPORTED, "type is %s, but the device does not support 64-bit integers",
                            vd_type_name(d->type));
    return vd__plan_check_index_type(p->base.ctx, &p->desc.index_type, p->n, VD__REDUCE_NARROW);
}

/* Splits each row into about `wanted` parts of equal size. */
static void vd__top_split_rows(vd_top_k *p, uint64_t wanted) {
    if (wanted < vd__ceil_div(p->n, VD__TOP_MAX_PART)) wanted = vd__ceil_div(p->n, VD__TOP_MAX_PART);
    p->part = (uint32_t)vd__ceil_div(p->n, wanted);
    p->parts = (uint32_t)vd__ceil_div(p->n, p->part);
}

/* Number of iterations of an invocation's loops over the elements of its part or, with `parts`, over the results of all
   parts. There is one loop for each digit, and one that collects. */
static uint64_t vd__top_iterations(const vd_top_k *p, bool parts) {
    uint64_t count = !parts ? p->part : p->parts > 1 ? (uint64_t)p->parts * p->desc.k : 0;
    return (vd__top_digit_count(p) + 1) * vd__ceil_div(count, p->threads);
}

/* Splits each row into `wanted` parts or more, until an invocation's loops over a part execute at most half of
   `max_iterations`. The other half is for the loops over the results of all parts. Parts have at least k elements, as
   vd__top_finish requires. */
static void vd__top_split_for_loops(vd_top_k *p, uint64_t wanted, uint64_t max_iterations) {
    vd__top_split_rows(p, wanted);
    while (p->part / 2 >= p->desc.k && vd__top_iterations(p, false) > max_iterations / 2)
        vd__top_split_rows(p, wanted *= 2);
}

/* Increases the number of parts until no invocation exceeds vd__plan_max_iterations. If the loops over the results of
   the parts are then too long, doubles the threads and starts again with one part. Returns VD_ERROR_UNSUPPORTED if no
   number of threads is enough. */
static vd_result vd__top_limit_iterations(vd_top_k *p, const vd_device_info *d, uint32_t max_threads) {
    uint64_t max_iterations = vd__plan_max_iterations(d), iterations;
    for (vd__top_split_for_loops(p, p->parts, max_iterations);; vd__top_split_for_loops(p, 1, max_iterations)) {
        iterations = vd__top_iterations(p, false) + vd__top_iterations(p, true);
        if (iterations <= max_iterations) return VD_OK;
        if (p->threads >= VD__TOP_DIGITS || p->threads * 2 > max_threads) break;
        p->threads *= 2;
    }
    return vd_error_set(VD_ERROR_UNSUPPORTED, "k is %u for rows of %llu elements: this needs %llu loop iterations per "
                        "invocation, but the limit is %llu (half of vd_facts.max_loop_iterations)", p->desc.k,
                        (unsigned long long)p->n, (unsigned long long)iterations, (unsigned long long)max_iterations);
}

/* Plans so many work-groups that they fill the device, as long as each loads at least 32 elements per thread, and 16
   times as many elements as it passes to the last one. */
static vd_result vd__top_plan(vd_top_k *p) {
    const vd_device_info *d = vd_device(p->base.ctx, 0);
    vd_facts facts = vd__plan_facts(d);
    bool loops = facts.groups_as_loops;
    uint32_t max_threads = vd__plan_max_threads(d);
    uint64_t wanted = loops ? facts.concurrent_groups : 2 * (uint64_t)facts.concurrent_groups;
    p->threads = loops ? 64 : VD__TOP_DIGITS;
    while (p->threads > 32 && (p->threads > max_threads || p->threads >= 2 * p->n)) p->threads /= 2;
    for (p->capacity = 1; p->capacity < p->desc.k; p->capacity *= 2) {}
    uint64_t min_elements = (uint64_t)p->threads * 32 > 16 * (uint64_t)p->desc.k ? (uint64_t)p->threads * 32
                                                                          : 16 * (uint64_t)p->desc.k;
    wanted /= p->rows;
    if (wanted > p->n / min_elements) wanted = p->n / min_elements;
    if (wanted < 2) wanted = 1;
    vd__top_split_rows(p, wanted);
    vd_result result = vd__top_limit_iterations(p, d, max_threads);
    if (result || p->rows * p->parts <= INT32_MAX) return result;
    return vd_error_set(VD_ERROR_UNSUPPORTED, "%llu rows need %llu work-groups, but the limit is %d",
                        (unsigned long long)p->rows, (unsigned long long)(p->rows * p->parts), INT32_MAX);
}

static vd_result vd__top_make(void *plan, const void *desc) {
    vd_top_k *p = (vd_top_k *)plan;
    p->desc = *(const vd_top_k_desc *)desc;
    if (!p->desc.type) p->desc.type = VD_F32;
    vd_result result = vd__top_check_desc(p);
    if (result) return result;
    p->map = vd__fragment_of("map", p->desc.map, p->desc.type, VC_NONE, p->desc.type,
                             vd__reduce_widened_type(p->desc.type));
    p->map.has_index = true;
    result = vd_plan_fragment_check(&p->base, &p->map);
    if (!result) result = vd__top_plan(p);
    if (result) return result;
    if (p->parts > 1) {
        uint64_t results = p->rows * p->parts * p->desc.k;
        p->part_keys = vd_plan_buffer(&p->base, "top_k keys", vd__top_key_bits(p->desc.type) == 64 ? VD_U64 : VD_U32,
                                      results, NULL);
        p->part_indices = vd_plan_buffer(&p->base, "top_k indices", vd__count_type(p->n), results, NULL);
        p->tickets = vd_plan_buffer(&p->base, "top_k tickets", VD_U32, p->rows, NULL);
        if (!p->part_keys.id || !p->part_indices.id || !p->tickets.id) return vd_error_result();
    }
    return vd__top_build(p);
}

static const vd_plan_kind vd__top_k_kind = {
    "top_k", sizeof(vd_top_k), sizeof(vd_top_k_desc), vd__top_make, NULL, NULL
};

VD__FFT_SMALL_END

// >>vkfft
/* VkFFT as an engine of complex and real transforms. VkFFT generates GLSL, compiles it with glslang and records its own
   dispatches into a list. It binds buffers when an application (VkFFT's term for a plan) is initialised, so a plan has
   separate applications for each pair of buffers and each direction. */

typedef struct vd__vkfft vd__vkfft;
static vd_result vd__vkfft_make(vd_fft *p);
static void vd__vkfft_destroy(vd_fft *p);
static vd_result vd__vkfft_run(vd_fft *p, vd_list *list, const vd_fft_io *io, vd_buffer out);

#if VD__HAS_VKFFT
#ifndef __cplusplus
#error "vkdispatch: VkFFT 1.2 is C++; with VKDISPATCH_VKFFT, compile VKDISPATCH_FFT_IMPLEMENTATION as C++"
#endif
#include <vulkan/vulkan.h>
#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>
#include <inttypes.h>
#include <locale.h>
#include <memory.h>
#include <stdlib.h>

/* Vulkan functions that VkFFT and this room call. */
#define VD__VKFFT_FUNCTIONS(X) \
    X(vkAllocateCommandBuffers) X(vkAllocateDescriptorSets) X(vkAllocateMemory) X(vkBeginCommandBuffer) \
    X(vkBindBufferMemory) X(vkCmdBindDescriptorSets) X(vkCmdBindPipeline) X(vkCmdCopyBuffer) X(vkCmdDispatch) \
    X(vkCmdPipelineBarrier) X(vkCmdPushConstants) X(vkCreateBuffer) X(vkCreateCommandPool) X(vkCreateComputePipelines) \
    X(vkCreateDescriptorPool) X(vkCreateDescriptorSetLayout) X(vkCreateFence) X(vkCreatePipelineLayout) \
    X(vkCreateShaderModule) X(vkDestroyBuffer) X(vkDestroyCommandPool) X(vkDestroyDescriptorPool) \
    X(vkDestroyDescriptorSetLayout) X(vkDestroyFence) X(vkDestroyPipeline) X(vkDestroyPipelineLayout) \
    X(vkDestroyShaderModule) X(vkEndCommandBuffer) X(vkFreeCommandBuffers) X(vkFreeMemory) \
    X(vkGetBufferMemoryRequirements) X(vkGetPhysicalDeviceMemoryProperties) X(vkGetPhysicalDeviceProperties) \
    X(vkMapMemory) X(vkQueueSubmit) X(vkResetFences) X(vkUnmapMemory) X(vkUpdateDescriptorSets) X(vkWaitForFences)

/* VkFFT, included into a namespace with replacements for functions that it calls. Vulkan functions are those of the
   context's instance, and printf does nothing. VkFFT passes limits to glslang in a struct with the layout of one
   version of glslang; the replacements ignore it and pass glslang's default limits. */
namespace vd__vkfft_space {
#define VD__VKFFT_MEMBER(name) PFN_##name name;
#define VD__VKFFT_DECLARE(name) static thread_local PFN_##name name;
VD__VKFFT_FUNCTIONS(VD__VKFFT_DECLARE)

static inline int (printf)(const char *, ...) { return 0; }

struct glslang_resource_t { int numbers[93]; bool flags[9]; }; /* written by VkFFT 1.2, never read */
struct glslang_input_t {
    ::glslang_source_t language;
    ::glslang_stage_t stage;
    ::glslang_client_t client;
    ::glslang_target_client_version_t client_version;
    ::glslang_target_language_t target_language;
    ::glslang_target_language_version_t target_language_version;
    const char *code;
    int default_version;
    ::glslang_profile_t default_profile;
    int force_default_version_and_profile, forward_compatible;
    ::glslang_messages_t messages;
    const glslang_resource_t *resource;
};

static inline ::glslang_input_t vd__vkfft_input(const glslang_input_t *from) {
    ::glslang_input_t to;
    memset(&to, 0, sizeof to);
    to.language = from->language;
    to.stage = from->stage;
    to.client = from->client;
    to.client_version = from->client_version;
    to.target_language = from->target_language;
    to.target_language_version = from->target_language_version;
    to.code = from->code;
    to.default_version = from->default_version;
    to.default_profile = from->default_profile;
    to.force_default_version_and_profile = from->force_default_version_and_profile;
    to.forward_compatible = from->forward_compatible;
    to.messages = from->messages;
    to.resource = ::glslang_default_resource();
    return to;
}

static inline ::glslang_shader_t *glslang_shader_create(const glslang_input_t *input) {
    ::glslang_input_t converted = vd__vkfft_input(input);
    return ::glslang_shader_create(&converted);
}
static inline int glslang_shader_preprocess(::glslang_shader_t *shader, const glslang_input_t *input) {
    ::glslang_input_t converted = vd__vkfft_input(input);
    return ::glslang_shader_preprocess(shader, &converted);
}
static inline int glslang_shader_parse(::glslang_shader_t *shader, const glslang_input_t *input) {
    ::glslang_input_t converted = vd__vkfft_input(input);
    return ::glslang_shader_parse(shader, &converted);
}

#define VKFFT_BACKEND 0
#include <vkFFT.h>
} /* namespace vd__vkfft_space */

enum { VD__VKFFT_MAX_BLOCKS = 2, VD__VKFFT_MAX_PAIRS = 8 };

/* A VkFFT application, and the objects that its configuration points to. The buffers are also passed in `launch`,
   because VkFFT does not bind all buffers of Bluestein's algorithm at initialisation. */
typedef struct vd__vkfft_app {
    vd__vkfft_space::VkFFTApplication app;
    vd__vkfft_space::VkFFTLaunchParams launch;
    bool initialized;
    bool copies_input;       /* the input is copied to `work` before the application runs */
    VkBuffer in, work, out;
    uint64_t in_bytes, work_bytes, out_bytes;
} vd__vkfft_app;

/* The applications for a pair of buffers and a direction. */
typedef struct vd__vkfft_pair {
    uint64_t in, out;        /* ids of the buffers */
    vd_fft_direction direction;
    vd__vkfft_app apps[VD__VKFFT_MAX_BLOCKS];
} vd__vkfft_pair;

/* The transforms of one application: up to three dimensions, the contiguous one first. axes: bit mask of the
   transformed dimensions. row: for VD_FFT_REAL along dimension 0, the distance between rows, in reals; otherwise 0. */
typedef struct vd__vkfft_block {
    uint64_t size[3], batches, row;
    uint32_t dimensions, axes;
} vd__vkfft_block;

struct vd__vkfft {
    VD__VKFFT_FUNCTIONS(VD__VKFFT_MEMBER)
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkFence fence;
    vd__vkfft_block block[VD__VKFFT_MAX_BLOCKS];
    uint32_t blocks;
    bool normalized;
    vd_buffer spectrum;      /* VD_FFT_REAL, inverse out of place: intermediate array, so that the input is preserved */
    vd__vkfft_pair *pairs[VD__VKFFT_MAX_PAIRS];
};

static void vd__vkfft_set_functions(const vd__vkfft *v) {
#define VD__VKFFT_SET(name) vd__vkfft_space::name = v->name;
    VD__VKFFT_FUNCTIONS(VD__VKFFT_SET)
#undef VD__VKFFT_SET
}

static const char *vd__vkfft_load(vd__vkfft *v, PFN_vkGetInstanceProcAddr get, VkInstance instance) {
    const char *missing = NULL;
#define VD__VKFFT_LOAD(name) if (!(v->name = (PFN_##name)get(instance, #name)) && !missing) missing = #name;
    VD__VKFFT_FUNCTIONS(VD__VKFFT_LOAD)
#undef VD__VKFFT_LOAD
    return missing;
}

static vd_result vd__vkfft_open(const vd_native *native, void *user) {
    vd_fft *p = (vd_fft *)user;
    vd__vkfft *v = p->vkfft;
    VkCommandPoolCreateInfo pool;
    VkFenceCreateInfo fence;
    const char *missing = vd__vkfft_load(v, (PFN_vkGetInstanceProcAddr)native->get_instance_proc_addr,
                                         (VkInstance)native->instance);
    if (missing)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "engine VkFFT requires %s, which the driver does not provide",
                            missing);
    v->physical = (VkPhysicalDevice)native->physical_device;
    v->device = (VkDevice)native->device;
    v->queue = (VkQueue)native->queue;
    memset(&pool, 0, sizeof pool);
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = native->queue_family;
    memset(&fence, 0, sizeof fence);
    fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    if (v->vkCreateCommandPool(v->device, &pool, NULL, &v->pool)
        || v->vkCreateFence(v->device, &fence, NULL, &v->fence))
        return vd_error_amend(vd_error_set(VD_ERROR_OUT_OF_DEVICE_MEMORY, NULL), NULL, NULL, "engine VkFFT");
    return VD_OK;
}

/* Merges adjacent dimensions that are not transformed and omits dimensions of one element. Writes the lengths, the
   contiguous one first, and whether they are transformed; returns their number. */
static uint32_t vd__vkfft_merge(const vd_fft *p, uint64_t *size, bool *transformed) {
    uint32_t count = 0;
    for (uint32_t i = p->dimensions; i-- > 0;) {
        bool axis = (p->axes >> i & 1) != 0;
        uint64_t n = p->kind == VD_FFT_REAL && i == p->real_axis ? p->real_length : p->shape[i];
        if (n == 1) continue;
        if (!axis && count && !transformed[count - 1]) {
            size[count - 1] *= n;
            continue;
        }
        size[count] = n;
        transformed[count++] = axis;
    }
    return count;
}

/* Splits the shape into blocks. VkFFT transforms up to three dimensions and a batch. If there are four dimensions and
   the slowest one is transformed, a second application transforms it. VkFFT itself makes the batch of a one-dimensional
   transform a second dimension. With two dimensions, the batch becomes the third dimension here, because VkFFT 1.2
   computes wrong offsets for the transforms of a batch if it splits a dispatch. */
static void vd__vkfft_plan(vd_fft *p) {
    vd__vkfft *v = p->vkfft;
    uint64_t size[4];
    bool transformed[4];
    uint32_t count = vd__vkfft_merge(p, size, transformed);
    vd__vkfft_block *b = v->block;
    if (p->kind == VD_FFT_REAL) b->row = count > 1 ? p->layout[VD__FFT_IN].stride[p->real_axis - 1] : p->real_length;
    /* If the slowest of two or four dimensions is not transformed, it becomes the batch. */
    uint32_t inner = count && count != 3 && !transformed[count - 1] ? count - 1 : count;
    b->batches = inner < count ? size[count - 1] : 1;
    if (inner == 4) {
        inner = 3;
        b->batches = size[3];
        v->block[1].dimensions = 2;
        v->block[1].size[0] = size[0] * size[1] * size[2];
        v->block[1].size[1] = size[3];
        v->block[1].axes = 2;
        v->block[1].batches = 1;
    }
    for (uint32_t i = 0; i < inner; i++) {
        b->size[b->dimensions++] = size[i];
        if (transformed[i]) b->axes |= 1u << i;
    }
    v->blocks = v->block[1].dimensions ? 2 : b->axes ? 1 : 0;
}

/* max_planes: maximum work-groups in the third dimension of a dispatch. */
static vd_result vd__vkfft_check_batch(const vd_fft *p, uint32_t max_planes) {
    const vd__vkfft_block *b = p->vkfft->block;
    uint64_t planes = b->size[2];
    if (b->batches == 1 || b->dimensions < 3) return VD_OK;
    if ((b->axes & 4) && b->size[1] > planes) planes = b->size[1];
    if (planes <= max_planes / b->batches) return VD_OK;
    return vd_error_set(VD_ERROR_UNSUPPORTED, "engine VkFFT: the batch has %llu x %llu planes, but the limit of the "
                        "product is %u", (unsigned long long)b->batches, (unsigned long long)planes, max_planes);
}

/* Whether the engine can access the arrays of a plan: in C order and complete. Rows of reals may have any distance. */
static bool vd__vkfft_can_access(const vd_fft *p) {
    const vd__fft_layout *in = &p->layout[VD__FFT_IN], *dense = &p->layout[VD__FFT_TEMP];
    if (memcmp(&p->layout[VD__FFT_OUT], dense, sizeof *dense)) return false;
    if (p->kind != VD_FFT_REAL) return !memcmp(in, dense, sizeof *dense);
    uint64_t stride = 1;
    for (uint32_t i = p->dimensions; i-- > 0;) {
        uint64_t n = i == p->real_axis ? p->real_length : p->shape[i];
        if (in->count[i] != n || in->start[i] || in->stride[i] < stride) return false;
        if (i + 2 != p->dimensions && in->stride[i] != stride) return false;
        stride = in->stride[i] * n;
    }
    return true;
}

static vd_result vd__vkfft_check_real(const vd_fft *p) {
    if (p->kind != VD_FFT_REAL) return VD_OK;
    if (p->real_axis + 1 != p->dimensions)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "axes is 0x%x, but engine VkFFT supports VD_FFT_REAL only if the "
                            "last dimension, %u, is transformed", p->axes, p->dimensions - 1);
    if (p->real_length == 1)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "dimension %u has 1 element, but engine VkFFT needs at least 2 for "
                            "VD_FFT_REAL", p->real_axis);
    if (p->layout[VD__FFT_IN].span <= UINT32_MAX) return VD_OK;
    return vd_error_set(VD_ERROR_UNSUPPORTED, "engine VkFFT: the reals span %llu elements, but the limit is %u",
                        (unsigned long long)p->layout[VD__FFT_IN].span, UINT32_MAX);
}

static vd_result vd__vkfft_make(vd_fft *p) {
    const vd_device_info *device = vd_device(p->base.ctx, 0);
    if (device->backend != VD_BACKEND_VULKAN)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "engine VkFFT requires backend vulkan, but the context uses %s",
                            vd_backend_name(device->backend));
    if (p->stored[VD__FFT_IN] != VC_F32 || p->stored[VD__FFT_OUT] != VC_F32 || p->real != VC_F32)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "engine VkFFT supports only f32, but type is %s, in_type is %s and "
                            "out_type is %s", vc_type_name(p->real), vc_type_name(p->stored[VD__FFT_IN]),
                            vc_type_name(p->stored[VD__FFT_OUT]));
    if (p->scale[0] != 1)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "engine VkFFT does not support VD_FFT_NORM_ORTHO");
    vd_result result = vd__vkfft_check_real(p);
    if (result) return result;
    if (!vd__vkfft_can_access(p))
        return vd_error_set(VD_ERROR_UNSUPPORTED, "engine VkFFT does not support strides and counts, except for a "
                            "distance between rows of reals");
    p->vkfft = (vd__vkfft *)vd__fft_allocate(&p->base.allocator, sizeof *p->vkfft);
    if (!p->vkfft) return vd__fft_no_memory();
    snprintf(p->text, sizeof p->text, "VkFFT\n");
    p->vkfft->normalized = p->scale[1] != 1;
    vd__vkfft_plan(p);
    if (p->kind == VD_FFT_REAL && p->vkfft->blocks > 1)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "axes is 0x%x, but engine VkFFT cannot transform dimension 0 of a "
                            "4-dimensional array of VD_FFT_REAL", p->axes);
    result = vd__vkfft_check_batch(p, device->limits.max_groups[2]);
    return result ? result : vd_native_use(p->base.ctx, 0, 0, vd__vkfft_open, p);
}

static void vd__vkfft_free_pair(vd_fft *p, vd__vkfft_pair *pair) {
    if (!pair) return;
    vd__vkfft_set_functions(p->vkfft);
    for (uint32_t i = 0; i < VD__VKFFT_MAX_BLOCKS; i++)
        if (pair->apps[i].initialized) vd__vkfft_space::deleteVkFFT(&pair->apps[i].app);
    vd__fft_free(&p->base.allocator, pair);
}

/* Waits until the context is idle, because commands of VkFFT may be in flight and their completion is not tracked. */
static void vd__vkfft_destroy(vd_fft *p) {
    vd__vkfft *v = p->vkfft;
    if (!v) return;
    if (v->pairs[0]) vd_wait_idle(p->base.ctx);
    for (uint32_t i = 0; i < VD__VKFFT_MAX_PAIRS; i++) vd__vkfft_free_pair(p, v->pairs[i]);
    if (v->fence) v->vkDestroyFence(v->device, v->fence, NULL);
    if (v->pool) v->vkDestroyCommandPool(v->device, v->pool, NULL);
    vd__fft_free(&p->base.allocator, v);
    p->vkfft = NULL;
}

/* Buffers of a run: input, array that is transformed in place, and output, each of which may equal the one before. */
typedef struct vd__vkfft_call { vd_fft *p; vd__vkfft_pair *pair; vd_buffer_info in, work, out; } vd__vkfft_call;

/* VkFFT expects the size from the beginning of the native object. Returns the offset of the buffer in it. */
static uint64_t vd__vkfft_bind(const vd_buffer_info *info, VkBuffer *buffer, uint64_t *bytes) {
    *buffer = (VkBuffer)info->native;
    *bytes = info->native_offset + info->size;
    return info->native_offset;
}

static bool vd__vkfft_same(const vd_buffer_info *a, const vd_buffer_info *b) {
    return a->native == b->native && a->native_offset == b->native_offset;
}

/* row: distance between rows in elements; 0: VkFFT's defaults. */
static void vd__vkfft_strides(const vd__vkfft_block *block, uint64_t row, uint64_t stride[3]) {
    for (uint32_t i = 0; i < 3 && row; i++) {
        stride[i] = row;
        if (i + 1 < block->dimensions) row *= block->size[i + 1];
    }
}

static void vd__vkfft_set_buffers(vd__vkfft_call *call, uint32_t index, vd__vkfft_space::VkFFTConfiguration *config) {
    vd__vkfft_app *app = &call->pair->apps[index];
    const vd__vkfft_block *block = &call->p->vkfft->block[index];
    const vd_buffer_info *in = index ? &call->out : &call->in;
    uint64_t bins = block->row ? block->size[0] / 2 + 1 : 0;
    config->bufferOffset = app->launch.bufferOffset = vd__vkfft_bind(&call->work, &app->work, &app->work_bytes);
    config->bufferSize = &app->work_bytes;
    app->launch.buffer = &app->work;
    config->inputBufferOffset = app->launch.inputBufferOffset = vd__vkfft_bind(in, &app->in, &app->in_bytes);
    config->outputBufferOffset = app->launch.outputBufferOffset = vd__vkfft_bind(&call->out, &app->out,
                                                                                 &app->out_bytes);
    if (!vd__vkfft_same(in, &call->work) && !app->copies_input) {
        config->isInputFormatted = 1;
        config->inputBufferSize = &app->in_bytes;
        app->launch.inputBuffer = &app->in;
        vd__vkfft_strides(block, config->makeInversePlanOnly ? bins : block->row, config->inputBufferStride);
    }
    if (!vd__vkfft_same(&call->work, &call->out)) {
        config->isOutputFormatted = 1;
        config->outputBufferSize = &app->out_bytes;
        app->launch.outputBuffer = &app->out;
        vd__vkfft_strides(block, config->makeInversePlanOnly ? block->row : bins, config->outputBufferStride);
    }
}

/* Also sets the buffers of the application. */
static vd__vkfft_space::VkFFTConfiguration vd__vkfft_configure(vd__vkfft_call *call, uint32_t index) {
    vd__vkfft *v = call->p->vkfft;
    const vd__vkfft_block *block = &v->block[index];
    vd__vkfft_space::VkFFTConfiguration config;
    memset((void *)&config, 0, sizeof config);
    config.FFTdim = block->dimensions;
    for (uint32_t i = 0; i < block->dimensions; i++) {
        config.size[i] = block->size[i];
        config.omitDimension[i] = block->axes >> i & 1 ? 0 : 1;
    }
    config.numberBatches = block->batches;
    config.physicalDevice = &v->physical;
    config.device = &v->device;
    config.queue = &v->queue;
    config.commandPool = &v->pool;
    config.fence = &v->fence;
    config.normalize = v->normalized;
    config.useLUT = 1; /* sines and cosines of a driver may have errors of 2^-11 */
    config.makeForwardPlanOnly = call->pair->direction == VD_FFT_FORWARD;
    config.makeInversePlanOnly = !config.makeForwardPlanOnly;
    config.performR2C = block->row != 0;
    vd__vkfft_set_buffers(call, index, &config);
    return config;
}

/* Compiles the shaders of the applications, and uploads their tables through the queue. */
static vd_result vd__vkfft_compile(const vd_native *native, void *user) {
    vd__vkfft_call *call = (vd__vkfft_call *)user;
    (void)native;
    vd__vkfft_set_functions(call->p->vkfft);
    for (uint32_t i = 0; i < call->p->vkfft->blocks; i++) {
        vd__vkfft_app *app = &call->pair->apps[i];
        vd__vkfft_space::VkFFTResult result = vd__vkfft_space::initializeVkFFT(&app->app, vd__vkfft_configure(call, i));
        /* if rows take several dispatches, the inverse of VkFFT 1.2 does not read them from the input buffer */
        if (!result && app->app.configuration.isInputFormatted && app->app.localFFTPlan_inverse
            && app->app.localFFTPlan_inverse->multiUploadR2C) {
            vd__vkfft_space::deleteVkFFT(&app->app);
            memset((void *)&app->app, 0, sizeof app->app);
            app->copies_input = true;
            result = vd__vkfft_space::initializeVkFFT(&app->app, vd__vkfft_configure(call, i));
        }
        if (result)
            return vd_error_set(VD_ERROR_UNSUPPORTED, "engine VkFFT does not support this transform: initializeVkFFT "
                                "returned VkFFTResult %d", (int)result);
        app->initialized = true;
    }
    return VD_OK;
}

/* Returns VD__VKFFT_MAX_PAIRS if no slot is free. Pairs are never replaced, because lists that are not submitted yet
   may use any of them. */
static uint32_t vd__vkfft_free_slot(const vd_fft *p) {
    uint32_t i = 0;
    while (i < VD__VKFFT_MAX_PAIRS && p->vkfft->pairs[i]) i++;
    return i;
}

/* The buffer that a run transforms in place: the output or, for the inverse of VD_FFT_REAL out of place, a buffer of
   the plan, so that the input is preserved. */
static vd_buffer vd__vkfft_work_buffer(vd_fft *p, const vd_fft_io *io, vd_buffer out) {
    vd__vkfft *v = p->vkfft;
    if (p->kind != VD_FFT_REAL || io->direction == VD_FFT_FORWARD || out.id == io->in.id) return out;
    if (!v->spectrum.id)
        v->spectrum = vd_plan_buffer(&p->base, "fft temporary 1", (vd_type)vd__fft_element_type(p->real, false),
                                     p->layout[VD__FFT_TEMP].span, NULL);
    return v->spectrum;
}

static vd_result vd__vkfft_find_pair(vd_fft *p, const vd_fft_io *io, vd_buffer work, vd_buffer out,
                                     vd__vkfft_pair **found) {
    vd__vkfft *v = p->vkfft;
    vd__vkfft_call call;
    uint32_t i;
    for (i = 0; i < VD__VKFFT_MAX_PAIRS; i++) {
        *found = v->pairs[i];
        if (*found && (*found)->in == io->in.id && (*found)->out == out.id && (*found)->direction == io->direction)
            return VD_OK;
    }
    i = vd__vkfft_free_slot(p);
    if (i == VD__VKFFT_MAX_PAIRS)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "engine VkFFT: the plan already has %d combinations of input, "
                            "output and direction, which is the limit; make another plan", (int)VD__VKFFT_MAX_PAIRS);
    call.p = p;
    call.pair = (vd__vkfft_pair *)vd__fft_allocate(&p->base.allocator, sizeof *call.pair);
    if (!call.pair) return vd__fft_no_memory();
    call.pair->in = io->in.id;
    call.pair->out = out.id;
    call.pair->direction = io->direction;
    vd_result result = vd_buffer_query(p->base.ctx, io->in, &call.in);
    if (!result) result = vd_buffer_query(p->base.ctx, work, &call.work);
    if (!result) result = vd_buffer_query(p->base.ctx, out, &call.out);
    if (!result) result = vd_native_use(p->base.ctx, 0, 0, vd__vkfft_compile, &call);
    if (result) {
        vd__vkfft_free_pair(p, call.pair);
        return result;
    }
    v->pairs[i] = *found = call.pair;
    return VD_OK;
}

static vd_result vd__vkfft_append(void *user, void *commands) {
    vd__vkfft_call *call = (vd__vkfft_call *)user;
    VkCommandBuffer buffer = (VkCommandBuffer)commands;
    vd__vkfft_set_functions(call->p->vkfft);
    for (uint32_t i = 0; i < call->p->vkfft->blocks; i++) {
        vd__vkfft_app *app = &call->pair->apps[i];
        app->launch.commandBuffer = &buffer;
        vd__vkfft_space::VkFFTResult result = vd__vkfft_space::VkFFTAppend(
            &app->app, call->pair->direction == VD_FFT_FORWARD ? -1 : 1, &app->launch);
        if (result)
            return vd_error_set(VD_ERROR_BACKEND, "engine VkFFT could not record the transform: VkFFTAppend returned "
                                "VkFFTResult %d", (int)result);
    }
    return VD_OK;
}

static vd_result vd__vkfft_run(vd_fft *p, vd_list *list, const vd_fft_io *io, vd_buffer out) {
    vd__vkfft_call call;
    vd_record_use uses[3];
    vd_record_desc desc;
    if (!p->vkfft->blocks) return out.id != io->in.id ? vd_copy(list, out, 0, io->in, 0, p->elements * 8) : VD_OK;
    vd_buffer work = vd__vkfft_work_buffer(p, io, out);
    if (!work.id) return vd_error_result();
    vd_result result = vd__vkfft_find_pair(p, io, work, out, &call.pair);
    if (result) return result;
    call.p = p;
    if (call.pair->apps[0].copies_input) {
        result = vd_copy(list, work, 0, io->in, 0, p->layout[VD__FFT_TEMP].span * 8);
        if (result) return result;
    }
    uses[0].buffer = io->in;
    uses[0].access = VD_READ;
    uses[1].buffer = out;
    uses[2].buffer = work;
    uses[1].access = uses[2].access = VD_READ_WRITE;
    memset(&desc, 0, sizeof desc);
    desc.name = p->base.name;
    desc.uses = uses;
    desc.use_count = work.id == out.id ? 2 : 3;
    desc.record = vd__vkfft_append;
    desc.user = &call;
    return vd_record_native(list, &desc);
}

#else
struct vd__vkfft { int unused; };

static vd_result vd__vkfft_make(vd_fft *p) {
    (void)p;
    return vd_error_set(VD_ERROR_UNSUPPORTED, "engine VkFFT is not compiled in; define VKDISPATCH_VKFFT");
}
static void vd__vkfft_destroy(vd_fft *p) { (void)p; }
static vd_result vd__vkfft_run(vd_fft *p, vd_list *list, const vd_fft_io *io, vd_buffer out) {
    (void)p, (void)list, (void)io, (void)out;
    return VD_ERROR_UNSUPPORTED;
}
#endif

// >>cache
/* Plan cache of a context, for functions without a plan. The least recently used plan is evicted. Each of the
   VD__FFT_CACHED_PLANS slots has its own lock, which is held while its plan is created and run. Threads that use plans
   in different slots do not wait for each other. An index maps the hash of a desc to a slot. The index is read before
   the slot is locked, so the slot may have been reused meanwhile: its desc is compared under the lock. */

/* Contents of a slot; the desc of the plan follows in memory. */
typedef struct vd__cached_plan {
    const vd_plan_kind *kind;
    void *plan;
} vd__cached_plan;

/* The index: hash of the desc and time of last use for each slot. The clock counts calls. last_use 0: the slot is
   empty. */
typedef struct vd__plan_cache {
    uint64_t clock, hash[VD__FFT_CACHED_PLANS], last_use[VD__FFT_CACHED_PLANS];
    uint64_t used;           /* bit i: slot i was used before */
    uint64_t plans, misses, evictions; /* see vd_plan_cache_info */
} vd__plan_cache;

typedef struct vd__plan_request {
    const vd_plan_kind *kind;
    vd_result (*run)(void *plan, vd_list *list, const void *io);
    const void *desc, *io;
    uint32_t slot;
    bool missed, added, evicted; /* results: the cache had no such plan; it has one more; another plan was destroyed */
} vd__plan_request;

/* The addresses are the keys under which a context stores the slots and, for the last one, the index. */
static const char vd__plan_cache_keys[VD__FFT_CACHED_PLANS + 1] = { 0 };

static void vd__plan_cache_release_slot(vd_context *ctx, void *data) {
    vd_allocator allocator = vd_context_allocator(ctx);
    vd__cached_plan *e = (vd__cached_plan *)data;
    vd_plan_destroy(e->plan);
    vd__fft_free(&allocator, e);
}

static void vd__plan_cache_release(vd_context *ctx, void *data) {
    vd_allocator allocator = vd_context_allocator(ctx);
    vd__fft_free(&allocator, data);
}

/* Hash of the kind and the desc: FNV-1a with 64-bit words instead of bytes; after each word, the upper half is combined
   with the lower half. */
static uint64_t vd__plan_request_hash(const vd__plan_request *request) {
    uint64_t hash = 0xcbf29ce484222325u ^ (uint64_t)(uintptr_t)request->kind, word = 0;
    for (size_t i = 0; i < request->kind->desc_size; i += sizeof word) {
        size_t left = request->kind->desc_size - i;
        memcpy(&word, (const char *)request->desc + i, left < sizeof word ? left : sizeof word);
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 32;
    }
    return hash;
}

/* Chooses the slot whose desc has the same hash, otherwise the least recently used one. */
static vd_result vd__plan_cache_find_slot(vd_context *ctx, void **data, void *user) {
    vd__plan_request *request = (vd__plan_request *)user;
    vd_allocator allocator = vd_context_allocator(ctx);
    vd__plan_cache *index = (vd__plan_cache *)*data;
    uint64_t hash = vd__plan_request_hash(request);
    uint32_t i = 0, slot = 0;
    if (!index
        && !vd_context_attach(ctx, &vd__plan_list_key, vd__plan_list_register, NULL, vd__plan_list_detach))
        *data = index = (vd__plan_cache *)vd__fft_allocate(&allocator, sizeof *index);
    if (!index) return vd__fft_no_memory();
    while (i < VD__FFT_CACHED_PLANS && !(index->last_use[i] && index->hash[i] == hash)) i++;
    if (i < VD__FFT_CACHED_PLANS) slot = i;
    else for (i = 1; i < VD__FFT_CACHED_PLANS; i++) if (index->last_use[i] < index->last_use[slot]) slot = i;
    index->hash[slot] = hash;
    index->last_use[slot] = ++index->clock;
    index->used |= (uint64_t)1 << slot;
    request->slot = slot;
    return VD_OK;
}

static vd__cached_plan *vd__cached_plan_create(vd_context *ctx, const vd__plan_request *request) {
    vd_allocator allocator = vd_context_allocator(ctx);
    size_t size = request->kind->desc_size;
    vd__cached_plan *e = (vd__cached_plan *)vd__fft_allocate(&allocator, sizeof *e + size);
    if (!e) {
        vd__fft_no_memory();
        return NULL;
    }
    e->kind = request->kind;
    memcpy(e + 1, request->desc, size);
    e->plan = vd__plan_new(ctx, request->kind, request->desc);
    if (e->plan) return e;
    vd__fft_free(&allocator, e);
    return NULL;
}

static vd_result vd__plan_cache_run_slot(vd_context *ctx, void **data, void *user) {
    vd__plan_request *request = (vd__plan_request *)user;
    vd__cached_plan *e = (vd__cached_plan *)*data;
    if (!e || e->kind != request->kind || memcmp(e + 1, request->desc, request->kind->desc_size) != 0) {
        request->missed = true;
        e = vd__cached_plan_create(ctx, request);
        if (!e) return vd_error_result();
        request->added = !*data;
        request->evicted = *data != NULL;
        if (*data) vd__plan_cache_release_slot(ctx, *data);
        *data = e;
    }
    return vd_plan_run(e->plan, "", request->run, vd_immediate(ctx, 0, 0), request->io);
}

static vd_result vd__plan_cache_index(vd_context *ctx, vd_result (*use)(vd_context *ctx, void **data, void *user),
                                      void *user) {
    return vd_context_attach(ctx, &vd__plan_cache_keys[VD__FFT_CACHED_PLANS], use, user, vd__plan_cache_release);
}

static vd_result vd__plan_cache_count(vd_context *ctx, void **data, void *user) {
    const vd__plan_request *request = (const vd__plan_request *)user;
    vd__plan_cache *index = (vd__plan_cache *)*data;
    (void)ctx;
    index->misses += request->missed;
    index->plans += request->added;
    index->evictions += request->evicted;
    return VD_OK;
}

VD_API vd_result vd_plan_run_cached(vd_context *ctx, const vd_plan_kind *kind,
                                    vd_result (*run)(void *plan, vd_list *list, const void *io), const void *desc,
                                    const void *io) {
    vd__plan_request request;
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_plan_run_cached", &scope);
    memset(&request, 0, sizeof request);
    request.kind = kind;
    request.run = run;
    request.desc = desc;
    request.io = io;
    /* NULL if the device is lost, or in a callback that must not wait for other threads */
    vd_result result = vd_immediate(ctx, 0, 0) ? VD_OK : vd_error_result();
    if (!result) result = vd__plan_cache_index(ctx, vd__plan_cache_find_slot, &request);
    if (!result)
        result = vd_context_attach(ctx, &vd__plan_cache_keys[request.slot], vd__plan_cache_run_slot, &request,
                                   vd__plan_cache_release_slot);
    if (request.missed) vd__plan_cache_index(ctx, vd__plan_cache_count, &request);
    return vd__call_result(&scope, result);
}

VD__FFT_SMALL

/* user: vd_plan_cache_info. */
static vd_result vd__plan_cache_info_of(vd_context *ctx, void **data, void *user) {
    const vd__plan_cache *index = (const vd__plan_cache *)*data;
    vd_plan_cache_info *out = (vd_plan_cache_info *)user;
    (void)ctx;
    memset(out, 0, sizeof *out);
    out->capacity = VD__FFT_CACHED_PLANS;
    if (!index) return VD_OK;
    out->plans = (uint32_t)index->plans;
    out->misses = index->misses;
    out->hits = index->clock > index->misses ? index->clock - index->misses : 0;
    out->evictions = index->evictions;
    return VD_OK;
}

VD_API vd_result vd_plan_cache_query(vd_context *ctx, vd_plan_cache_info *out) {
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_plan_cache_query", &scope);
    vd_result result = ctx && out ? vd__plan_cache_index(ctx, vd__plan_cache_info_of, out)
                                  : vd_error_set(VD_ERROR_INVALID, "%s is NULL", ctx ? "out" : "ctx");
    return vd__call_result(&scope, result);
}

/* Forgets all descs. user: bit mask of the slots that were used before. */
static vd_result vd__plan_cache_forget(vd_context *ctx, void **data, void *user) {
    vd__plan_cache *index = (vd__plan_cache *)*data;
    (void)ctx;
    *(uint64_t *)user = index ? index->used : 0;
    if (index) memset(index->last_use, 0, sizeof index->last_use);
    return VD_OK;
}

/* user: number of destroyed plans. */
static vd_result vd__plan_cache_empty_slot(vd_context *ctx, void **data, void *user) {
    if (!*data) return VD_OK;
    vd__plan_cache_release_slot(ctx, *data);
    *data = NULL;
    ++*(uint64_t *)user;
    return VD_OK;
}

static vd_result vd__plan_cache_remove(vd_context *ctx, void **data, void *user) {
    (void)ctx;
    if (*data) ((vd__plan_cache *)*data)->plans -= *(const uint64_t *)user;
    return VD_OK;
}

/* vd_plan_cache_clear; errors do not contain the call. */
static vd_result vd__plan_cache_clear_all(vd_context *ctx) {
    uint64_t used, removed = 0;
    vd_result result = vd__plan_cache_index(ctx, vd__plan_cache_forget, &used);
    for (uint32_t i = 0; i < VD__FFT_CACHED_PLANS && !result; i++)
        if (used >> i & 1)
            result = vd_context_attach(ctx, &vd__plan_cache_keys[i], vd__plan_cache_empty_slot, &removed,
                                       vd__plan_cache_release_slot);
    if (removed) vd__plan_cache_index(ctx, vd__plan_cache_remove, &removed);
    return result;
}

VD_API vd_result vd_plan_cache_clear(vd_context *ctx) {
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_plan_cache_clear", &scope);
    return vd__call_result(&scope, ctx ? vd__plan_cache_clear_all(ctx) : vd_error_set(VD_ERROR_INVALID, "ctx is NULL"));
}

static vd_result vd__fft_make(void *plan, const void *desc);
static void vd__fft_release(void *plan);
static void vd__fft_detach(void *plan);
static vd_result vd__fft_new(vd_context *ctx, const vd_fft_desc *desc, const vd__fft_convolution *convolution,
                             vd_fft **out);
static vd_result vd__fft_new_estimated(vd_context *ctx, const vd_fft_desc *desc, const vd__fft_convolution *convolution,
                                       vd_fft **out);
static vd_result vd__fft_run(void *plan, vd_list *list, const void *io);

static const vd_plan_kind vd__fft_kind = {
    "fft", sizeof(vd_fft), sizeof(vd_fft_desc), vd__fft_make, vd__fft_release, vd__fft_detach
};

/* Transforms the last `axes` dimensions of a buffer in place. Trailing dimensions of length 1 are ignored as long as
   `axes` dimensions remain. */
static vd_result vd__fft_simple(vd_context *ctx, vd_buffer buffer, uint32_t axes, vd_fft_direction direction) {
    vd_fft_desc desc;
    vd_fft_io io;
    vd_buffer_info info;
    vd_result result = vd__fft_query(ctx, buffer, "buffer", &info);
    if (!result) result = VD__CHECK_ENUM(direction, "direction", VD_FFT_INVERSE);
    if (result) return result;
    if (info.type != VD_F32C && info.type != VD_F32X2)
        return vd_error_set(VD_ERROR_INVALID, "buffer '%s' has type %s, but complex f32 or f32x2 is expected",
                            info.name, vd_type_name(info.type));
    memset(&desc, 0, sizeof desc);
    memset(&io, 0, sizeof io);
    uint32_t dimensions = vd__fft_buffer_dimensions(&info, axes);
    memcpy(desc.shape, info.shape, dimensions * sizeof info.shape[0]);
    desc.axes = ((1u << axes) - 1) << (dimensions - axes);
    io.direction = direction;
    io.in = buffer;
    return vd_plan_run_cached(ctx, &vd__fft_kind, vd__fft_run, &desc, &io);
}

static vd_result vd__fft_call(vd_context *ctx, const char *call, vd_buffer buffer, uint32_t axes,
                              vd_fft_direction direction) {
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, call, &scope);
    return vd__call_result(&scope, vd__fft_simple(ctx, buffer, axes, direction));
}

/* The shape is that of `reals` in both directions. */
static vd_result vd__real_simple(vd_context *ctx, vd_buffer reals, vd_buffer bins, vd_fft_direction direction) {
    vd_fft_desc desc;
    vd_fft_io io;
    vd_buffer_info info;
    vd_result result = vd__fft_query_f32(ctx, reals, "reals", &info);
    if (!result && !bins.id) result = vd_error_set(VD_ERROR_INVALID, "bins: the buffer handle is 0");
    if (!result && reals.id == bins.id)
        result = vd_error_set(VD_ERROR_INVALID, "reals and bins are the same buffer '%s'; to transform in place, "
                              "use vd_fft_run with desc.padded", info.name);
    if (result) return result;
    memset(&desc, 0, sizeof desc);
    memset(&io, 0, sizeof io);
    uint32_t dimensions = vd__fft_buffer_dimensions(&info, 1);
    memcpy(desc.shape, info.shape, dimensions * sizeof info.shape[0]);
    desc.kind = VD_FFT_REAL;
    io.direction = direction;
    io.in = direction ? bins : reals;
    io.out = direction ? reals : bins;
    return vd_plan_run_cached(ctx, &vd__fft_kind, vd__fft_run, &desc, &io);
}

VD__FFT_SMALL_END

// >>execute

/* Size of an array in bytes. */
static uint64_t vd__fft_bytes(const vd_fft *p, vd__fft_role role) {
    return p->layout[role].span * vc_type_size(vd__fft_element_type(p->stored[role], p->scalar[role]));
}

static vd_result vd__fft_build_kernels(vd_fft *p, uint32_t direction, const vd_plan_role *roles) {
    vd__fft_route *route = vd__fft_route_of(p, direction);
    vd_result result = VD_OK;
    for (uint32_t i = 0; i < route->count && !result; i++) {
        vd__fft_pass *pass = &route->pass[i];
        bool in_place = roles[pass->end[0].role].buffer.id == roles[pass->end[1].role].buffer.id;
        if (!pass->kernels[direction][in_place].kernel.id)
            result = vd__fft_build_kernel(p, i, direction, in_place);
    }
    return result;
}

/* Sets the buffers that the plan owns. */
static void vd__fft_roles(const vd_fft *p, vd_plan_role *roles) {
    memset(roles, 0, VD__FFT_ALL_ROLES * sizeof *roles);
    for (uint32_t i = 0; i < VD__FFT_ROLES; i++) roles[i].buffer = p->temporary[i];
    roles[VD__FFT_TABLE].buffer = p->tables;
    roles[VD__FFT_SPECTRUM].buffer = p->spectrum;
}

/* If a kernel cannot be compiled, nothing is recorded. */
static vd_result vd__fft_run_all(vd_fft *p, vd_list *list, uint32_t direction, const vd_plan_io *io) {
    vd_result result = vd__fft_build_kernels(p, direction, io->roles);
    vd__fft_route *route = vd__fft_route_of(p, direction);
    for (uint32_t i = 0; i < route->count && !result; i++) {
        vd__fft_pass *pass = &route->pass[i];
        bool in_place = io->roles[pass->end[0].role].buffer.id == io->roles[pass->end[1].role].buffer.id;
        result = vd__plan_dispatch_tiles(list, &pass->kernels[direction][in_place], io, NULL,
                                         vd__fft_group_count(pass), UINT32_MAX);
    }
    return result;
}

// >>shift
/* vd_fft_shift: rotates an array so that frequency 0 moves to the middle, or back. */

VD__FFT_SMALL

typedef struct vd__shift_desc {
    const char *name;
    uint64_t shape[4];
    uint32_t axes;           /* bit mask */
    uint32_t element_bytes;
    vd_fft_direction direction;
} vd__shift_desc;

typedef struct vd__shift {
    vd_plan base;
    uint64_t groups;
    vd_plan_kernel kernel;
} vd__shift;

enum { VD__SHIFT_THREADS = 256 }; /* maximum threads per work-group */
#define VD__SHIFT_ELEMENTS ((uint64_t)1 << 38) /* maximum elements */

/* Stores element i of the rotated array. It moves by `shift` elements along an axis or, past the end, n fewer. */
static void vd__shift_element(const vd__shift_desc *d, const vc_ref *in, const vc_ref *out, vc_val i) {
    vc_type type = vc_typeof(i);
    vc_val source = i, rest = i;
    uint64_t step = 1;
    for (uint32_t axis = 4; axis-- > 0;) {
        uint64_t n = d->shape[axis], shift = !(d->axes >> axis & 1) ? 0 : (d->direction ? n / 2 : n - n / 2) % n;
        vc_val size = vc_imm(type, n);
        if (shift) {
            vc_val inside = vc_lt(vc_rem(rest, size), vc_imm(type, n - shift));
            source = vc_add(source, vc_select(inside, vc_imm(type, shift * step), vc_imm(type, (shift - n) * step)));
        }
        rest = vc_div(rest, size);
        step *= n;
    }
    vd__store(out, i, vd__load(in, source));
}

/* One thread for each element. */
static vd_result vd__shift_make(void *plan, const void *desc) {
    vd__shift *p = (vd__shift *)plan;
    const vd__shift_desc *d = (const vd__shift_desc *)desc;
    vc_type type = d->element_bytes == 4 ? VC_U32 : d->element_bytes == 8 ? VC_U32X2 : VC_U32X4;
    uint64_t elements = d->shape[0] * d->shape[1] * d->shape[2] * d->shape[3];
    uint32_t limit = vd__plan_max_threads(vd_device(p->base.ctx, 0));
    uint32_t threads = limit < VD__SHIFT_THREADS ? limit : (uint32_t)VD__SHIFT_THREADS;
    vc_kernel *k = vd__plan_begin(&p->base, "fft shift", threads);
    vc_ref in = vd_plan_kernel_buffer(&p->kernel, k, 0, "in", type, VC_ANY_TYPE | VC_READ);
    vc_ref out = vd_plan_kernel_buffer(&p->kernel, k, 1, "out", type, VC_ANY_TYPE | VC_WRITE);
    vc_val i = vd__plan_thread(k, vd__fft_type_of_indices(elements), threads);
    p->groups = vd__ceil_div(elements, threads);
    VC_IF(k, vc_lt(i, vc_imm(vc_typeof(i), elements))) { vd__shift_element(d, &in, &out, i); }
    return vd_plan_kernel_build(&p->base, &p->kernel, k);
}

static const vd_plan_kind vd__shift_kind = {
    "fft_shift", sizeof(vd__shift), sizeof(vd__shift_desc), vd__shift_make, NULL, NULL
};

static vd_result vd__shift_run(void *plan, vd_list *list, const void *buffers) {
    const vd__shift *p = (const vd__shift *)plan;
    vd_plan_role roles[2];
    vd_plan_io io = vd__plan_io_of(roles, 2);
    memset(roles, 0, sizeof roles);
    for (int i = 0; i < 2; i++) roles[i].buffer = ((const vd_buffer *)buffers)[i];
    return vd__plan_dispatch_tiles(list, &p->kernel, &io, NULL, p->groups, UINT32_MAX);
}

// >>chirp
/* Tables of Bluestein's algorithm over several passes: the chirp exp(-pi i k^2 / n), and the spectrum of its conjugate,
   continued periodically and padded with zeros to length m, divided by m. They are as long as the axis, so the device
   computes them, once for each plan. */

/* Position of bin k in the spectrum: see vd__fft_chirp. */
static vc_val vd__fft_chirp_bin(const vd__fft_chirp *c, vc_val k) {
    uint64_t block = c->m;
    vc_val at = vc_u32(0);
    for (uint32_t i = 0; i < VD__FFT_CHIRP_FACTORS && c->factor[i]; i++) {
        block /= c->factor[i];
        at = vc_add(at, vd__mul_u32(vd__rem_u32(k, c->factor[i]), block));
        k = vd__div_u32(k, c->factor[i]);
    }
    return vc_add(at, k);
}

/* a + b modulo n, for a, b < n < 2^32. */
static vc_val vd__chirp_add_modulo(vc_val a, vc_val b, vc_val n) {
    vc_val left = vc_sub(n, b);
    return vc_select(vc_lt(a, left), vc_add(a, b), vc_sub(a, left));
}

/* i^2 modulo n, for i < n < 2^32, without 64-bit integers: by doubling and adding. */
static vc_val vd__chirp_square_modulo(vc_kernel *k, vc_val i, uint32_t n) {
    vc_ref square = vc_var(k, "square", VC_U32);
    vd__set(&square, vc_u32(0));
    VC_FOR(k, bit, vc_u32(0), vc_u32(32)) {
        vc_val x = vd__get(&square), set = vd__ne_u32(vd__and_u32(vc_shr(i, vc_sub(vc_u32(31), bit)), 1), 0);
        x = vd__chirp_add_modulo(x, x, vc_u32(n));
        vd__set(&square, vd__chirp_add_modulo(x, vc_select(set, i, vc_u32(0)), vc_u32(n)));
    }
    return vd__get(&square);
}

/* Desc of a plan that computes the tables of a pass of another plan. */
typedef struct vd__chirp_desc { const char *name; const vd_fft *plan; const vd__fft_pass *pass; } vd__chirp_desc;

typedef struct vd__chirp {
    vd_plan base;
    vd__fft_chirp chirp;
    vd__fft_tables tables;
    vc_type real;
    vd_plan_kernel kernel;   /* computes the chirp */
    vd_fft *transform;       /* computes the spectrum */
    vc_ref table;            /* argument of the kernel being recorded */
} vd__chirp;

static void vd__chirp_declare(vc_kernel *k, void *user) {
    vd__chirp *p = (vd__chirp *)user;
    p->table = vc_buffer(k, "table", vd__fft_complex_type(p->real), VC_READ_WRITE);
}

/* Load hook: the conjugate of the chirp at j for the first `out` elements j, at m - j for the last `in` - 1, otherwise
   0. */
static void vd__chirp_load(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    const vd__chirp *p = (const vd__chirp *)user;
    vc_val j = at->index, first = vd__lt_u32(j, p->chirp.out);
    vc_val from_end = vc_sub(vc_u32((uint32_t)p->chirp.m), j);
    vc_val inside = vc_or(first, vd__lt_u32(from_end, p->chirp.in));
    vc_val zero = vc_const(k, vc_imm(p->real, 0));
    vc_val x = vc_load_or(vd__array_from(p->table, p->tables.chirp), vc_select(first, j, from_end), inside,
                          vc_splat(zero, 2));
    v->re = vc_component(x, 0);
    v->im = vc_neg(vc_component(x, 1));
}

/* Store hook. */
static void vd__chirp_store(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    const vd__chirp *p = (const vd__chirp *)user;
    static const vc_val none = { 0, 0 };
    double scale = 1 / (double)p->chirp.m;
    (void)k;
    vc_val re = vc_mul(v->re, vd__fft_immediate(v->re, scale)), im = vc_mul(v->im, vd__fft_immediate(v->im, scale));
    vd__store_from(&p->table, p->tables.spectrum, vd__fft_chirp_bin(&p->chirp, at->index), vc_vec2(re, im));
    v->re = v->im = none;
}

/* The kernel computes the roots exp(-2 pi i e / (2 n)) for e = k^2 modulo 2 n. */
static vd_result vd__chirp_build(vd__chirp *p) {
    vc_kernel *k = vd__plan_begin(&p->base, "chirp", 0);
    uint32_t n = (uint32_t)(2 * p->chirp.n), bits = vd__fft_half_bits(n);
    p->table = vd_plan_kernel_buffer(&p->kernel, k, 0, "table", vd__fft_complex_type(p->real), VC_READ_WRITE);
    VC_EACH(k, i) {
        vc_val e = vd__chirp_square_modulo(k, i, n);
        vc_val a = vd__load_from(&p->table, p->tables.chirp_coarse, vd__shr_u32(e, bits));
        vc_val b = vd__load_from(&p->table, p->tables.chirp_fine, vd__and_u32(e, (1u << bits) - 1));
        vd__fft_c x = vd__fft_times_near_one(vd__fft_from_vector(a), vd__fft_from_vector(b));
        vd__store_from(&p->table, p->tables.chirp, i, vc_vec2(x.re, x.im));
    }
    return vd_plan_kernel_build(&p->base, &p->kernel, k);
}

static vd_result vd__chirp_make(void *plan, const void *user_desc) {
    vd__chirp *p = (vd__chirp *)plan;
    const vd__chirp_desc *d = (const vd__chirp_desc *)user_desc;
    vd_fft_desc desc;
    p->chirp = d->pass->chirp;
    p->tables = d->pass->tables;
    p->real = d->plan->real;
    memset(&desc, 0, sizeof desc);
    desc.name = "chirp";
    desc.shape[0] = p->chirp.m;
    desc.norm = VD_FFT_NORM_NONE;
    desc.type = (vd_type)p->real;
    desc.load = vd__chirp_load;
    desc.store = vd__chirp_store;
    desc.hook_declare = vd__chirp_declare;
    desc.hook_user = p;
    vd_result result = vd__chirp_build(p);
    return result ? result : vd__fft_new(p->base.ctx, &desc, NULL, &p->transform);
}

static void vd__chirp_release(void *plan) { vd_fft_destroy(((vd__chirp *)plan)->transform); }

static const vd_plan_kind vd__chirp_kind = {
    "chirp", sizeof(vd__chirp), sizeof(vd__chirp_desc), vd__chirp_make, vd__chirp_release, NULL
};

static vd_result vd__chirp_run(vd__chirp *p, vd_list *list, vd_buffer table) {
    vd_plan_role role = vd__role_of("table", table, VD_BYTES, 0, true);
    vd_plan_io io = vd__plan_io_of(&role, 0);
    vd_named_arg arg = { "table", vd_b(table) };
    vd_dispatch_desc desc;
    vd_fft_io fft_io;
    memset(&desc, 0, sizeof desc);
    memset(&fft_io, 0, sizeof fft_io);
    desc.threads[0] = p->chirp.n;
    fft_io.args = &arg;
    fft_io.arg_count = 1;
    vd_result result = vd_plan_dispatch(list, &p->kernel, &io, &desc);
    return result ? result : vd__fft_run(p->transform, list, &fft_io);
}

/* On all devices of the context. */
static vd_result vd__chirp_generate(vd_fft *p, const vd__fft_pass *pass) {
    vd__chirp_desc desc = { "chirp", p, pass };
    vd_context *ctx = p->base.ctx;
    vd__chirp *chirp = (vd__chirp *)vd__plan_new(ctx, &vd__chirp_kind, &desc);
    vd_result result = chirp ? VD_OK : vd_error_result();
    for (int i = 0; i < vd_device_count(ctx) && !result; i++) {
        vd_list *list = vd_immediate(ctx, i, 0); /* NULL if the device is lost, or in a callback that must not wait */
        result = list ? vd__chirp_run(chirp, list, p->tables) : vd_error_result();
    }
    vd_plan_destroy(chirp);
    return result;
}

static vd_result vd__chirp_generate_all(vd_fft *p) {
    vd_result result = VD_OK;
    for (uint32_t i = 0; i < vd__fft_pass_count(p) && !result; i++) {
        const vd__fft_pass *pass = vd__fft_pass_at(p, i);
        if (pass->chirp.n && vd__fft_first_with_chirp(p, i) == pass) result = vd__chirp_generate(p, pass);
    }
    return result;
}

// >>convolve
/* Convolutions. One plan transforms the filters; its hooks shift each filter to its position in the period. A second
   plan transforms the signals, multiplies by the spectra and computes the inverse transforms. The offset of the first
   result is part of the position of the filter, so the results begin at index 0. A real convolution with period 2 h in
   its last dimension is computed as a complex one with period h if no result depends on elements that wrap around the
   period. Real polynomials modulo X^(2 h) + 1 (negacyclic convolution) are isomorphic to complex polynomials modulo X^h
   - i with the coefficients x[j] + i x[j + h]. Substituting X = exp(i pi / (2 h)) Y yields polynomials modulo Y^h - 1,
   that is, a cyclic convolution (Nussbaumer, Fast Fourier Transform and Convolution Algorithms, 1982). Elements that
   wrap around have the wrong sign, but do not affect the results. */

/* A list with a vd_convolve_set_filter. When it was last checked, it was neither submitted nor discarded. */
typedef struct vd__convolve_pending {
    struct vd__convolve_pending *next;
    vd_list *list;
    int device;              /* of the list */
    vd_ticket ticket;
} vd__convolve_pending;

/* How real signals are mapped to complex transforms. */
typedef enum vd__convolve_form {
    VD__CONVOLVE_ZERO_IMAG,  /* the imaginary part is zero */
    VD__CONVOLVE_TWO_GROUPS, /* real and imaginary part are two groups of the batch */
    /* real and imaginary part are the halves of the period of the last dimension; element j is multiplied by
       exp(i pi j / (2 h)) */
    VD__CONVOLVE_NEGACYCLIC,
    /* real transforms along the last dimension, complex transforms of the half spectrum along the others */
    VD__CONVOLVE_HALF_SPECTRUM
} vd__convolve_form;

struct vd_convolve {
    vd_plan base;
    vd_convolve_desc desc;
    uint32_t dimensions;
    vd__convolve_form form;  /* of real signals */
    uint64_t period[3], result[3]; /* lengths of the period and of a result, along each dimension */
    uint64_t length[3];      /* lengths of the transforms: the period, of NEGACYCLIC half of it in the last dimension */
    uint64_t lead;           /* with `repeats`: the period begins with the last `lead` elements of the signal */
    /* NEGACYCLIC in a periodic mode: the signal is repeated to fill the period of the last dimension */
    bool repeats;
    uint64_t origin[3];      /* index of the filter element at position 0 of the period */
    double scale;            /* factor of the spectra: 1/N of the inverse transform */
    uint32_t filter_devices; /* bit i: a list of device i with a vd_convolve_set_filter was submitted */
    bool was_discarded;      /* a list with a vd_convolve_set_filter was discarded */
    vd__convolve_pending *pending; /* other lists with a vd_convolve_set_filter; none of filter_devices */
    bool hook_incomplete;    /* spectrum_hook set re or im to {0} */
    vd_fft *run, *filter;    /* the plan of vd_convolve_run, the plan of vd_convolve_set_filter */
    vd_buffer roots;         /* exp(i pi j / (2 h)), j = 0 ... h - 1; only for NEGACYCLIC */
    vc_ref data[2], root;    /* arguments of the kernel being recorded: in and out (or filter and spectrum), roots */
};

static uint32_t vd__fft_environment_parts(void);

static uint64_t vd__convolve_element_count(const uint64_t *shape, uint32_t dimensions) {
    uint64_t n = 1;
    for (uint32_t i = 0; i < dimensions; i++) n *= shape[i];
    return n;
}

/* Index of the element with coordinates `at` in image number `image`, for images of this shape. *inside: whether `at`
   is within the shape. */
static vc_val vd__convolve_index(const vd_convolve *p, const uint64_t *shape, const vc_val *at, vc_val image,
                                 vc_val *inside) {
    vc_val index = image;
    *inside = vc_bool(true);
    for (uint32_t i = 0; i < p->dimensions; i++) {
        index = vc_add(vd__mul_u32(index, shape[i]), at[i]);
        if (shape[i] < p->period[i]) *inside = vc_and(*inside, vd__lt_u32(at[i], shape[i]));
    }
    return index;
}

/* Returns 0 if `inside` is false. */
static vc_val vd__convolve_load(const vd_convolve *p, vc_kernel *k, vc_ref from, vc_val index, vc_val inside) {
    vc_val zero = vc_const(k, vc_imm(p->desc.type, 0));
    return vd__load_or(&from, index, inside, p->desc.real ? zero : vc_splat(zero, 2));
}

static vc_ref vd__convolve_buffer(const vd_convolve *p, vc_kernel *k, const char *name, uint32_t access) {
    return vc_buffer(k, name, p->desc.real ? p->desc.type : vd__fft_complex_type(p->desc.type), VC_ANY_TYPE | access);
}

static void vd__convolve_declare_roots(vd_convolve *p, vc_kernel *k) {
    if (p->form == VD__CONVOLVE_NEGACYCLIC)
        p->root = vc_buffer(k, "roots", vd__fft_complex_type(p->desc.type), VC_ANY_TYPE | VC_READ);
}

static void vd__convolve_declare(vc_kernel *k, void *user) {
    vd_convolve *p = (vd_convolve *)user;
    if (p->desc.real) {
        p->data[0] = vd__convolve_buffer(p, k, "in", VC_READ);
        p->data[1] = vd__convolve_buffer(p, k, "out", VC_WRITE);
        vd__convolve_declare_roots(p, k);
    }
    if (p->desc.map_declare) p->desc.map_declare(k, p->desc.hook_user);
}

/* Calls the user's map, and multiplies by the 1/N of the inverse transform. */
static void vd__convolve_map(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    const vd_convolve *p = (const vd_convolve *)user;
    p->desc.map(k, at, v, p->desc.hook_user);
    if (!v->re.owner || !v->im.owner || vc_typeof(v->re) != (vc_type)p->desc.type
        || vc_typeof(v->im) != (vc_type)p->desc.type)
        return; /* the trial of the map reports this */
    v->re = vc_mul(v->re, vd__fft_immediate(v->re, p->scale));
    v->im = vc_mul(v->im, vd__fft_immediate(v->im, p->scale));
}

/* Multiplies *v by exp(i pi j / (2 h)), or by its conjugate if `inverse`. */
static void vd__convolve_twist(const vd_convolve *p, vc_val j, bool inverse, vd_fft_value *v) {
    vc_val root = vd__load(&p->root, j), im = vc_component(root, 1);
    vd__fft_c y = vd__fft_mul(vd__fft_complex(v->re, v->im),
                              vd__fft_complex(vc_component(root, 0), inverse ? vc_neg(im) : im));
    v->re = y.re;
    v->im = y.im;
}

/* *second: coordinates of the element that is half a period after `at` along the last dimension. */
static void vd__convolve_second_half(const vd_convolve *p, const vc_val *at, vc_val *second) {
    uint32_t last = p->dimensions - 1;
    memcpy(second, at, p->dimensions * sizeof *second);
    second[last] = vd__add_u32(at[last], p->length[last]);
}

/* The image that is the real part of image i of the transforms; *second: the image that is the imaginary part. Groups
   have `per_group` images. *has_second: whether the second group exists. */
static vc_val vd__convolve_pair(const vd_convolve *p, vc_val i, uint32_t per_group, vc_val *second,
                                vc_val *has_second) {
    vc_val group = per_group == 1 ? i : vd__div_u32(i, per_group);
    vc_val rest = per_group == 1 ? vc_u32(0) : vd__rem_u32(i, per_group);
    group = vd__mul_u32(group, 2);
    vc_val first = vc_add(vd__mul_u32(group, per_group), rest);
    *second = vd__add_u32(first, per_group);
    *has_second = p->desc.batch % 2 ? vd__lt_u32(group, p->desc.batch - 1) : vc_bool(true);
    return first;
}

/* The element of a signal at position `at` of the period; 0 outside of the signal, and if `needed` is false. */
static vc_val vd__convolve_signal(const vd_convolve *p, vc_kernel *k, vc_val image, const vc_val *at, vc_val needed) {
    uint32_t last = p->dimensions - 1;
    uint64_t n = p->desc.shape[last];
    vc_val c[3], inside;
    memcpy(c, at, p->dimensions * sizeof *c);
    if (p->repeats) c[last] = vd__rem_u32(vd__add_u32(at[last], n - p->lead), n);
    vc_val index = vd__convolve_index(p, p->desc.shape, c, image, &inside);
    return vd__convolve_load(p, k, p->data[0], index, vc_and(inside, needed));
}

/* Load hook of vd_convolve_run for real signals. */
static void vd__convolve_load_signal(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    const vd_convolve *p = (const vd_convolve *)user;
    const vc_val *c = at->coordinate + 1;
    vc_val second, has_second, image = at->coordinate[0], second_half[3];
    v->im = vc_imm(p->desc.type, 0);
    if (p->form == VD__CONVOLVE_TWO_GROUPS) image = vd__convolve_pair(p, image, p->desc.channels, &second, &has_second);
    v->re = vd__convolve_signal(p, k, image, c, vc_bool(true));
    if (p->form == VD__CONVOLVE_TWO_GROUPS) v->im = vd__convolve_signal(p, k, second, c, has_second);
    if (p->form != VD__CONVOLVE_NEGACYCLIC) return;
    vd__convolve_second_half(p, c, second_half);
    if (p->repeats || p->desc.shape[p->dimensions - 1] > p->length[p->dimensions - 1])
        v->im = vd__convolve_signal(p, k, image, second_half, vc_bool(true));
    vd__convolve_twist(p, c[p->dimensions - 1], false, v);
}

static void vd__convolve_store_element(const vd_convolve *p, vc_kernel *k, vc_val image, const vc_val *at,
                                       bool conditional, vc_val needed, vc_val x) {
    vc_val inside, index = vd__convolve_index(p, p->result, at, image, &inside);
    if (conditional) VC_IF(k, needed) { vd__store(&p->data[1], index, x); }
    else vd__store(&p->data[1], index, x);
}

/* Store hook of vd_convolve_run for real signals. It is called only for elements within out_count, but must check
   elements in the second half of a period itself. */
static void vd__convolve_store_result(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    static const vc_val none = { 0, 0 };
    const vd_convolve *p = (const vd_convolve *)user;
    const vc_val *c = at->coordinate + 1;
    uint32_t last = p->dimensions - 1;
    uint64_t n = p->result[last];
    vc_val second, has_second, image = at->coordinate[0], second_half[3];
    if (p->form == VD__CONVOLVE_TWO_GROUPS) image = vd__convolve_pair(p, image, p->desc.filters, &second, &has_second);
    if (p->form == VD__CONVOLVE_NEGACYCLIC) vd__convolve_twist(p, c[last], true, v);
    vd__convolve_store_element(p, k, image, c, false, image, v->re);
    if (p->form == VD__CONVOLVE_TWO_GROUPS)
        vd__convolve_store_element(p, k, second, c, p->desc.batch % 2 != 0, has_second, v->im);
    if (p->form == VD__CONVOLVE_NEGACYCLIC && n > p->length[last]) {
        vd__convolve_second_half(p, c, second_half);
        vd__convolve_store_element(p, k, image, second_half, n < p->period[last],
                                   vd__lt_u32(second_half[last], n), v->im);
    }
    v->re = v->im = none;
}

/* The pass that reads the spectrum if that is stored in thread order (vd__fft_is_thread_order), otherwise NULL. */
static const vd__fft_pass *vd__convolve_thread_order_pass(const vd_convolve *p) {
    const vd__fft_pass *pass = &p->run->route[0].pass[0];
    return p->run->route[0].count == 1 && vd__fft_is_thread_order(pass) ? pass : NULL;
}

static void vd__convolve_declare_filter(vc_kernel *k, void *user) {
    vd_convolve *p = (vd_convolve *)user;
    p->data[0] = vd__convolve_buffer(p, k, "filter", VC_READ);
    vd__convolve_declare_roots(p, k);
    if (vd__convolve_thread_order_pass(p))
        p->data[1] = vc_buffer(k, "spectrum", vd__fft_complex_type(p->desc.type), VC_ANY_TYPE | VC_WRITE);
}

/* The element of filter number `image` at position `at` of the period. For correlation, the order of elements is
   reversed. For NEGACYCLIC, elements at negative positions wrap around the period and are negated. */
static vc_val vd__convolve_filter_element(const vd_convolve *p, vc_kernel *k, vc_val image, const vc_val *at) {
    bool correlation = p->desc.kind == VD_CONVOLVE_CORRELATION;
    vc_val coordinate[3], inside, below_period = vc_bool(false);
    for (uint32_t i = 0; i < p->dimensions; i++) {
        vc_val n = vc_u32((uint32_t)p->period[i]), shift = vc_u32((uint32_t)p->origin[i]);
        vc_val index = correlation ? vc_sub(vc_add(shift, n), at[i]) : vc_add(at[i], shift);
        below_period = vc_lt(index, n);
        coordinate[i] = vc_select(below_period, index, vc_sub(index, n));
    }
    vc_val x = vd__convolve_load(p, k, p->data[0],
                                 vd__convolve_index(p, p->desc.filter_shape, coordinate, image, &inside), inside);
    return p->form == VD__CONVOLVE_NEGACYCLIC ? vd__real_negate_if(correlation ? below_period : vc_not(below_period), x)
                                              : x;
}

/* Load hook of vd_convolve_set_filter. For correlation, the elements are conjugated. */
static void vd__convolve_load_filter(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    const vd_convolve *p = (const vd_convolve *)user;
    const vc_val *c = at->coordinate + 1;
    vc_val x = vd__convolve_filter_element(p, k, at->coordinate[0], c), second_half[3];
    v->re = p->desc.real ? x : vc_component(x, 0);
    v->im = p->desc.real ? vc_imm(p->desc.type, 0) : vc_component(x, 1);
    if (!p->desc.real && p->desc.kind == VD_CONVOLVE_CORRELATION) v->im = vc_neg(v->im);
    if (p->form != VD__CONVOLVE_NEGACYCLIC) return;
    vd__convolve_second_half(p, c, second_half);
    v->im = vd__convolve_filter_element(p, k, at->coordinate[0], second_half);
    vd__convolve_twist(p, c[p->dimensions - 1], false, v);
}

/* Store hook of vd_convolve_set_filter: calls spectrum_hook, and multiplies by the 1/N of the inverse transform. */
static void vd__convolve_store_spectrum(vc_kernel *k, const vd_fft_point *at, vd_fft_value *v, void *user) {
    vd_convolve *p = (vd_convolve *)user;
    static const vc_val none = { 0, 0 };
    const vd__fft_pass *pass = vd__convolve_thread_order_pass(p);
    vc_val element = vc_u32(0);
    if (p->desc.spectrum_hook) p->desc.spectrum_hook(k, at, v, p->desc.hook_user);
    if (p->desc.spectrum_hook && !vc_error(k)) p->hook_incomplete |= !v->re.owner || !v->im.owner;
    v->re = vc_mul(v->re, vd__fft_immediate(v->re, p->scale));
    v->im = vc_mul(v->im, vd__fft_immediate(v->im, p->scale));
    if (!pass) return;
    for (uint32_t i = pass->shape.axes; i-- > 0;)
        element = vc_add(vd__mul_u32(element, pass->shape.size[i]), at->coordinate[pass->dimension[i]]);
    vc_val first = vd__mul_u32(at->coordinate[0], pass->shape.n);
    vd__store(&p->data[1], vc_add(first, vd__fft_thread_order_index(pass, element)), vc_vec2(v->re, v->im));
    v->re = v->im = none;
}

static vd_result vd__convolve_plan_dimension(vd_convolve *p, uint32_t i) {
    uint64_t n = p->desc.shape[i], m = p->desc.filter_shape[i]; /* elements of the signal, of the filter */
    uint64_t result = n, period = n;
    uint64_t skip = (m - 1) / 2; /* number of leading elements of the result of VD_CONVOLVE_FULL that this mode omits */
    bool correlation = p->desc.kind == VD_CONVOLVE_CORRELATION;
    if (m > n && (p->desc.mode <= VD_CONVOLVE_CENTRED || p->desc.mode == VD_CONVOLVE_VALID))
        return vd_error_set(VD_ERROR_INVALID, "filter_shape[%u] is %llu, but this mode allows at most shape[%u], %llu",
                            i, (unsigned long long)m, i, (unsigned long long)n);
    switch (p->desc.mode) {
    case VD_CONVOLVE_FULL:
        skip = 0;
        result = n + m - 1;
        period = vd_fft_good_size(n + m - 1);
        break;
    case VD_CONVOLVE_VALID:
        skip = m - 1;
        result = n - m + 1;
        period = vd_fft_good_size(n);
        break;
    case VD_CONVOLVE_SAME: period = vd_fft_good_size(n + (m - 1 - skip)); break; /* m - 1 - skip >= skip */
    case VD_CONVOLVE_CENTRED: break;
    default: skip = correlation ? m - 1 : 0; break; /* VD_CONVOLVE_CIRCULAR */
    }
    p->result[i] = result;
    p->period[i] = p->length[i] = period;
    p->origin[i] = correlation ? m - 1 - skip : skip;
    return VD_OK;
}

/* Whether one kernel can convolve the signals: see vd__fft_plan_image. */
static bool vd__convolve_fits_one_kernel(const vd_convolve *p) {
    if (vd__plan_facts(vd_device(p->base.ctx, 0)).groups_as_loops) return false;
    for (uint32_t i = 0; i < p->dimensions; i++) if (!vd__fft_is_smooth(p->length[i], 31)) return false;
    return vd__convolve_element_count(p->length, p->dimensions) <= VD__FFT_MAX_POINTS;
}

/* Chooses the form of a real convolution and the period of its last dimension.
   - With pack_rows and several groups the form is TWO_GROUPS, unless each group has its own filters or there is a map.
   - With a spectrum_hook or a map the form is ZERO_IMAG, because these expect the complete spectrum.
   - In the periodic modes, NEGACYCLIC is used only for lengths with a prime factor above 31, because it requires a
     period of at least signal + filter - 1. Other lengths use ZERO_IMAG, or HALF_SPECTRUM for images and cubes that do
     not fit into one kernel. Measured on an NVIDIA H200 (1 GiB of rows, filters of 31): NEGACYCLIC takes
     1.77 ms for rows of 1000 and 1.97 ms for rows of 4096, ZERO_IMAG 1.65 ms and 1.41 ms.
   - In the other modes the form is NEGACYCLIC. */
static void vd__convolve_choose_form(vd_convolve *p) {
    uint32_t i = p->dimensions - 1;
    uint64_t n = p->desc.shape[i], m = p->desc.filter_shape[i];
    uint64_t min_period = p->desc.mode == VD_CONVOLVE_FULL ? n + m - 1 : p->period[i];
    bool wraps = p->desc.mode <= VD_CONVOLVE_CENTRED;
    bool packs = p->desc.real && p->desc.pack_rows && p->desc.batch > 1 && !p->desc.filter_per_group
                 && !p->desc.map;
    if (packs) p->form = VD__CONVOLVE_TWO_GROUPS;
    if (!p->desc.real || packs || p->desc.spectrum_hook || p->desc.map) return;
    if (wraps) min_period = n + m - 1;
    uint64_t half = vd_fft_good_size((min_period + 1) / 2);
    if (wraps && vd__fft_is_smooth(n, 31)) {
        if (p->dimensions > 1 && n > 2 && !vd__convolve_fits_one_kernel(p)) p->form = VD__CONVOLVE_HALF_SPECTRUM;
        return;
    }
    p->form = VD__CONVOLVE_NEGACYCLIC;
    p->length[i] = half;
    p->period[i] = 2 * half;
    if (!wraps) return;
    p->repeats = true;
    p->lead = p->desc.kind == VD_CONVOLVE_CORRELATION ? p->origin[i] : m - 1 - p->origin[i];
    p->origin[i] = p->desc.kind == VD_CONVOLVE_CORRELATION ? 0 : m - 1;
}

static vd_result vd__convolve_check_images(const vd_convolve *p, const uint64_t *shape, uint32_t images_per_group,
                                           const char *field, const char *image) {
    uint64_t limit = UINT32_MAX / images_per_group / p->desc.batch;
    if (vd__convolve_element_count(shape, p->dimensions) <= limit) return VD_OK;
    return vd_error_set(VD_ERROR_UNSUPPORTED, "batch is %u, %s is %u and each %s has %llu elements, but the limit "
                        "of their product is %u", p->desc.batch, field, images_per_group, image,
                        (unsigned long long)vd__convolve_element_count(shape, p->dimensions), UINT32_MAX);
}

static vd_result vd__convolve_check_filters(const vd_convolve *p) {
    const vd_convolve_desc *d = &p->desc;
    uint64_t filter = vd__convolve_element_count(d->filter_shape, p->dimensions);
    uint64_t spectrum = vd__convolve_element_count(p->length, p->dimensions);
    uint64_t largest = filter > spectrum ? filter : spectrum;
    char groups[32] = "";
    if (d->map || largest <= UINT32_MAX / (d->filter_per_group ? d->batch : 1) / d->channels / d->filters) return VD_OK;
    if (d->filter_per_group) snprintf(groups, sizeof groups, "batch is %u, ", d->batch);
    return vd_error_set(VD_ERROR_UNSUPPORTED, "%schannels is %u, filters is %u and each %s has %llu elements, but the "
                        "limit of their product is %u", groups, d->channels, d->filters,
                        filter > spectrum ? "filter" : "spectrum", (unsigned long long)largest, UINT32_MAX);
}

static vd_result vd__convolve_check_iterations(const vd_convolve *p, uint32_t count, const char *what) {
    uint64_t limit = vd__plan_max_iterations(vd_device(p->base.ctx, 0));
    if (count <= limit) return VD_OK;
    return vd_error_set(VD_ERROR_UNSUPPORTED, "%s is %u, but the limit is %llu (half of vd_facts.max_loop_iterations)",
                        what, count, (unsigned long long)limit);
}

static vd_result vd__convolve_check_map(const vd_convolve_desc *d) {
    if (!d->map && d->map_declare) return vd_error_set(VD_ERROR_INVALID, "map_declare is set, but map is not");
    if (!d->map) return VD_OK;
    if (d->channels > 1 || d->filters > 1)
        return vd_error_set(VD_ERROR_INVALID, "map is set, but %s is %u; map requires 1",
                            d->channels > 1 ? "channels" : "filters", d->channels > 1 ? d->channels : d->filters);
    if (d->spectrum_hook || d->filter_per_group)
        return vd_error_set(VD_ERROR_INVALID, "map and %s are set, but a plan with a map has no filter",
                            d->spectrum_hook ? "spectrum_hook" : "filter_per_group");
    if (d->kind > VD_CONVOLVE_CONVOLUTION)
        return vd_error_set(VD_ERROR_INVALID, "map is set, but kind is not VD_CONVOLVE_CONVOLUTION");
    if (d->mode > VD_CONVOLVE_CIRCULAR && d->mode != VD_CONVOLVE_FULL)
        return vd_error_set(VD_ERROR_INVALID, "map is set, but mode is neither VD_CONVOLVE_CIRCULAR nor "
                            "VD_CONVOLVE_FULL");
    return VD_OK;
}

/* Also sets the defaults of the desc, and chooses the periods and the form. */
static vd_result vd__convolve_check_desc(vd_convolve *p) {
    vd_convolve_desc *d = &p->desc;
    uint64_t shape[4] = { 0, 0, 0, 0 }, elements;
    uint32_t count;
    memcpy(shape, d->shape, sizeof d->shape);
    vd_result result = vd__fft_check_shape(shape, 0, UINT32_MAX, &p->dimensions, &elements);
    if (!result) result = VD__CHECK_ENUM(d->kind, "kind", VD_CONVOLVE_CORRELATION);
    if (!result) result = VD__CHECK_ENUM(d->mode, "mode", VD_CONVOLVE_VALID);
    if (!result) result = vd__convolve_check_map(d);
    if (result) return result;
    if (!d->type) d->type = VD_F32;
    if (d->type != VD_F32 && d->type != VD_F64)
        return vd_error_set(VD_ERROR_INVALID, "type is %s, but must be f32 or f64", vd_type_name(d->type));
    if (!d->batch) d->batch = 1;
    if (!d->channels) d->channels = 1;
    if (!d->filters) d->filters = 1;
    for (uint32_t i = 1; i < 3 && !d->filter_shape[0]; i++)
        if (d->filter_shape[i])
            return vd_error_set(VD_ERROR_INVALID, "filter_shape[0] is 0, but filter_shape[%u] is not", i);
    if (!d->filter_shape[0]) memcpy(d->filter_shape, d->shape, sizeof d->shape);
    memset(shape, 0, sizeof shape);
    memcpy(shape, d->filter_shape, sizeof d->filter_shape);
    result = vd__fft_check_shape(shape, 0, UINT32_MAX, &count, &elements);
    if (result) vd_error_amend(result, NULL, NULL, "filter_shape");
    if (!result && count != p->dimensions)
        result = vd_error_set(VD_ERROR_INVALID, "the filter is %u-dimensional, but the signal is %u-dimensional",
                              count, p->dimensions);
    for (uint32_t i = 0; i < p->dimensions && !result; i++) result = vd__convolve_plan_dimension(p, i);
    if (!result) vd__convolve_choose_form(p);
    if (!result) result = vd__convolve_check_images(p, d->shape, d->channels, "channels", "signal");
    if (!result) result = vd__convolve_check_images(p, p->result, d->filters, "filters", "result");
    if (!result) result = vd__convolve_check_filters(p);
    if (!result) result = vd__convolve_check_iterations(p, d->channels, "channels");
    return result ? result : vd__convolve_check_iterations(p, d->filters, "filters");
}

static void vd__convolve_drop_pending(vd_convolve *p, vd__convolve_pending **link) {
    vd__convolve_pending *s = *link;
    *link = s->next;
    if (p->base.ctx) vd_read_end(p->base.ctx, s->ticket);
    vd__fft_free(&p->base.allocator, s);
}

/* Whether a list of this device with a vd_convolve_set_filter was submitted. */
static bool vd__convolve_has_filter(const vd_convolve *p, int device) { return p->filter_devices >> device & 1; }

/* Removes discarded lists. Once a list of a device was submitted, the device's filter is set, and its other lists are
   removed too. */
static void vd__convolve_update_pending(vd_convolve *p) {
    vd__convolve_pending **link = &p->pending;
    while (*link) {
        vd_list_status status = vd_list_get_status(p->base.ctx, (*link)->ticket);
        if (status == VD_LIST_STATUS_SUBMITTED) p->filter_devices |= 1u << (*link)->device;
        p->was_discarded = p->was_discarded || status == VD_LIST_STATUS_DISCARDED;
        if (status == VD_LIST_STATUS_DISCARDED) vd__convolve_drop_pending(p, link);
        else link = &(*link)->next;
    }
    for (link = &p->pending; *link;) {
        if (vd__convolve_has_filter(p, (*link)->device)) vd__convolve_drop_pending(p, link);
        else link = &(*link)->next;
    }
}

/* The filter may be in a list that is not submitted yet. */
static vd_result vd__convolve_check_filter_set(vd_convolve *p, vd_list *list) {
    const int device = vd_list_device(list);
    const vd__convolve_pending *s;
    if (!vd__convolve_has_filter(p, device)) vd__convolve_update_pending(p);
    for (s = p->pending; s && s->device != device; s = s->next) {}
    if (s || vd__convolve_has_filter(p, device)) return VD_OK;
    if (p->pending || p->filter_devices)
        return vd_error_set(VD_ERROR_INVALID, "no filter is set on device %d: call vd_convolve_set_filter with a list "
                            "of this device", device);
    return vd_error_set(VD_ERROR_INVALID, "%s",
                        p->was_discarded
                            ? "no filter is set: the list of vd_convolve_set_filter was discarded or could not "
                              "be submitted"
                            : "no filter is set: call vd_convolve_set_filter first");
}

static vd_result vd__convolve_add_pending(vd_convolve *p, vd_list *list) {
    const int device = vd_list_device(list);
    vd__convolve_pending *s;
    if (!vd__convolve_has_filter(p, device)) vd__convolve_update_pending(p);
    for (s = p->pending; s && s->list != list; s = s->next) {}
    if (s || vd__convolve_has_filter(p, device)) return VD_OK; /* already tracked, or nothing to track */
    s = (vd__convolve_pending *)vd__fft_allocate(&p->base.allocator, sizeof *s);
    if (!s) return vd__fft_no_memory();
    s->list = list;
    s->device = device;
    s->next = p->pending;
    p->pending = s;
    vd_result result = vd_list_watch(list, &s->ticket);
    if (result) vd__convolve_drop_pending(p, &p->pending);
    else vd__convolve_update_pending(p);
    return result;
}

/* Number of filters of all groups. */
static uint64_t vd__convolve_filter_count(const vd_convolve *p) {
    return (uint64_t)p->desc.filters * p->desc.channels * (p->desc.filter_per_group ? p->desc.batch : 1);
}

/* Fields that the descs of p->run and p->filter share. images: number of images, or of filters. */
static vd_fft_desc vd__convolve_fft_desc(vd_convolve *p, uint64_t images) {
    vd_fft_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = p->base.name;
    desc.shape[0] = images;
    memcpy(desc.shape + 1, p->length, sizeof p->length);
    desc.axes = (2u << p->dimensions) - 2;
    desc.norm = VD_FFT_NORM_NONE;
    desc.type = p->desc.type;
    desc.hook_user = p;
    if (p->form == VD__CONVOLVE_HALF_SPECTRUM) desc.kind = VD_FFT_REAL;
    return desc;
}

/* p->run must exist, because it determines the order of the spectrum. Dimension 0 of the plan is the number of the
   filter: see vd_convolve_desc.spectrum_hook. */
static vd_result vd__convolve_make_filter_plan(vd_convolve *p) {
    vd_fft_desc desc = vd__convolve_fft_desc(p, vd__convolve_filter_count(p));
    desc.load = vd__convolve_load_filter;
    desc.store = vd__convolve_store_spectrum;
    desc.hook_declare = vd__convolve_declare_filter;
    vd_result result = vd__fft_new(p->base.ctx, &desc, NULL, &p->filter);
    if (p->hook_incomplete)
        return vd_error_set(VD_ERROR_COMPILE, "spectrum_hook sets re or im to {0}, but must set both to values");
    if (result == VD_ERROR_COMPILE && p->desc.spectrum_hook) vd_error_amend(result, NULL, NULL, "spectrum_hook");
    return result;
}

static vd_result vd__convolve_make_roots(vd_convolve *p) {
    uint64_t h = p->length[p->dimensions - 1], size = vd_type_size(p->desc.type);
    unsigned char *table;
    double root[2];
    if (p->form != VD__CONVOLVE_NEGACYCLIC) return VD_OK;
    table = (unsigned char *)vd__fft_allocate(&p->base.allocator, (size_t)(2 * h * size));
    if (!table) return vd__fft_no_memory();
    for (uint64_t j = 0; j < h; j++) {
        float root_f32[2];
        vd__fft_root(j, 4 * h, &root[0], &root[1]);
        root_f32[0] = (float)root[0];
        root_f32[1] = (float)root[1];
        memcpy(table + 2 * j * size, size == sizeof(float) ? (const void *)root_f32 : root, (size_t)(2 * size));
    }
    p->roots = vd_plan_buffer(&p->base, "convolve roots", (vd_type)vd__fft_complex_type(p->desc.type), h, table);
    vd__fft_free(&p->base.allocator, table);
    return p->roots.id ? VD_OK : vd_error_result();
}

static vd_result vd__convolve_make_run_plan(vd_convolve *p) {
    vd__fft_convolution convolution;
    memset(&convolution, 0, sizeof convolution);
    convolution.channels = p->desc.channels;
    convolution.filters = p->desc.filters;
    convolution.filter_per_group = p->desc.filter_per_group || p->desc.map;
    if (p->desc.map) convolution.map = vd__convolve_map;
    p->scale = 1 / (double)vd__convolve_element_count(p->length, p->dimensions);
    convolution.batch = p->form == VD__CONVOLVE_TWO_GROUPS ? ((uint64_t)p->desc.batch + 1) / 2 : p->desc.batch;
    convolution.parts = vd__fft_environment_parts();
    uint64_t images_per_group = convolution.channels > convolution.filters ? convolution.channels : convolution.filters;
    vd_fft_desc desc = vd__convolve_fft_desc(p, convolution.batch * images_per_group);
    for (uint32_t i = 0; i < p->dimensions; i++) {
        uint64_t in = i + 1 == p->dimensions && p->repeats ? p->period[i] : p->desc.shape[i];
        desc.in_count[i + 1] = in < p->length[i] ? in : p->length[i];
        desc.out_count[i + 1] = p->result[i] < p->length[i] ? p->result[i] : p->length[i];
    }
    if (p->form != VD__CONVOLVE_HALF_SPECTRUM && p->desc.real) {
        desc.load = vd__convolve_load_signal;
        desc.store = vd__convolve_store_result;
        convolution.plan_arguments = p->form == VD__CONVOLVE_NEGACYCLIC ? 3 : 2;
    }
    if (desc.load || p->desc.map_declare) desc.hook_declare = vd__convolve_declare;
    desc.rigor = p->desc.rigor;
    vd_result result = vd__fft_new(p->base.ctx, &desc, &convolution, &p->run);
    if (result || p->desc.map) return result;
    p->run->spectrum = vd_plan_buffer(&p->base, "convolve spectrum", (vd_type)vd__fft_complex_type(p->desc.type),
                                      p->run->dense.stride[0] * vd__convolve_filter_count(p), NULL);
    return p->run->spectrum.id ? VD_OK : vd_error_result();
}

/* Size in bytes of an array of images. */
static uint64_t vd__convolve_bytes(const vd_convolve *p, const uint64_t *shape, uint64_t images) {
    return vd__convolve_element_count(shape, p->dimensions) * images * vd_type_size(p->desc.type)
           * (p->desc.real ? 1 : 2);
}

static vd_result vd__convolve_set_filter(void *plan, vd_list *list, const void *filter);
static vd_result vd__convolve_run(void *plan, vd_list *list, const void *io);

/* Buffers of a run with a filter that is set first. */
typedef struct vd__convolve_filter_io { vd_convolve_io io; vd_buffer filter; } vd__convolve_filter_io;

static vd_result vd__convolve_set_and_run(void *plan, vd_list *list, const void *io) {
    vd_result result = vd__convolve_set_filter(plan, list, &((const vd__convolve_filter_io *)io)->filter);
    return result ? result : vd__convolve_run(plan, list, io);
}

static vd_result vd__convolve_make(void *plan, const void *desc) {
    vd_convolve *p = (vd_convolve *)plan;
    p->desc = *(const vd_convolve_desc *)desc;
    vd_result result = vd__convolve_check_desc(p);
    if (!result) result = vd__convolve_make_roots(p);
    if (!result) result = vd__convolve_make_run_plan(p);
    if (!result && !p->desc.map) result = vd__convolve_make_filter_plan(p); /* a map has no filter to transform */
    return result;
}

static void vd__convolve_release(void *plan) {
    vd_convolve *p = (vd_convolve *)plan;
    while (p->pending) vd__convolve_drop_pending(p, &p->pending);
    vd_fft_destroy(p->run);
    vd_fft_destroy(p->filter);
}

static const vd_plan_kind vd__convolve_kind = {
    "convolve", sizeof(vd_convolve), sizeof(vd_convolve_desc), vd__convolve_make, vd__convolve_release, NULL
};

// >>measure
/* Tuner for VD_FFT_MEASURE and VD_FFT_PATIENT. For each pass, it compiles the candidate shapes with the lowest
   estimated costs, compares their results with those of the estimated shape, and times them. Then it times variants of
   the fastest shape with other numbers of transforms per work-group and other slices. */

/* Part of the key of measurements. Increase it when kernels or the choice of candidates change. */
enum { VD__FFT_MEASURE_VERSION = 7 };

static vd__fft_choice vd__fft_choice_of(const vd__fft_shape *s) {
    vd__fft_choice c;
    memset(&c, 0, sizeof c);
    memcpy(c.radix, s->radix, s->stages * sizeof s->radix[0]);
    c.register_exchange = s->register_exchange;
    c.threads = s->threads;
    c.ffts_per_group = s->ffts_per_group;
    c.slices = s->split_components ? s->slices : 0;
    return c;
}

/* Returns NULL, or the reason why a radix of a choice is invalid. A direct stage can be neither the first nor the last
   one: if no other stage precedes or follows it, one of radix 1 does (vd__fft_enumerate_direct). */
static const char *vd__fft_check_radix(const vd__fft_shape *s, const vd__fft_choice *c, uint32_t i) {
    uint32_t r = c->radix[i], before = i ? c->radix[i - 1] : 0, next = i + 1 < VD__FFT_STAGES ? c->radix[i + 1] : 0;
    if (r == 1 && !(!before && vd__fft_is_direct(next)) && !(!next && vd__fft_is_direct(before)))
        return "a radix of 1 is allowed only as the first one before a radix above 32, or as the last one after it";
    if (!vd__fft_is_direct(r)) return NULL;
    if (r > VD__FFT_DIRECT || vd__fft_balanced_factor(r) != 1) return "a radix above 32 is not a prime up to 127";
    if (s->axes > 1) return "a radix above 32 is in a kernel of several axes";
    return before && next ? NULL : "a radix above 32 is the first or the last one; add a radix of 1";
}

/* Sets the number of stages and n, the product of the radices of a choice; with Bluestein's algorithm also the length
   of the pass. Returns NULL, or the reason why the radices are invalid. */
static const char *vd__fft_apply_radix_product(const vd__fft_pass *pass, const vd__fft_choice *c, vd__fft_shape *s) {
    s->n = 1;
    for (s->stages = 0; s->stages < VD__FFT_STAGES && c->radix[s->stages]; s->stages++) {
        const char *reason = vd__fft_check_radix(s, c, s->stages);
        if (reason) return reason;
        s->n *= c->radix[s->stages]; /* no overflow: at most 65536 * VD__FFT_DIRECT */
        if (s->n > 65536) return "the product of the radices is more than 65536";
    }
    if (!s->stages) return "there is no radix";
    if (!pass->bluestein_length) return NULL;
    if (s->n < vd__fft_lowest_bluestein(pass))
        return "the product of the radices is too short for the convolutions of Bluestein's algorithm";
    s->size[0] = s->n;
    return NULL;
}

/* Sets n and the stages of a shape from the radices of a choice, axis by axis. Returns NULL, or the reason why the
   radices are invalid for the lengths of the pass. */
static const char *vd__fft_apply_radices(const vd__fft_pass *pass, const vd__fft_choice *c, vd__fft_shape *s) {
    uint32_t axis = 0, left = s->size[vd__fft_axis_at(s, 0)]; /* left: length of the axis / product of its radices */
    const char *reason = vd__fft_apply_radix_product(pass, c, s);
    if (reason) return reason;
    if (pass->bluestein_length) left = s->size[0];
    for (uint32_t i = 0;; i++) {
        while (left == 1 && axis + 1 < s->axes) left = s->size[vd__fft_axis_at(s, ++axis)];
        if (i == s->stages) return left == 1 ? NULL : "the products of the radices are not the lengths of the axes";
        if (left % c->radix[i]) return "a radix does not divide the length of its axis";
        left /= c->radix[i];
        s->axis[i] = vd__fft_axis_at(s, axis);
        s->radix[i] = c->radix[i];
    }
}

static const char *vd__fft_exceeded_limit(const vd__fft_device *d, const vd__fft_shape *s) {
    if (s->ffts_per_group * s->threads > d->threads)
        return "threads times transforms exceed the threads of a work-group";
    if (vd__fft_shared_words(s) > d->shared) return "its exchanges exceed the shared memory";
    return "its values exceed the registers of a work-group";
}

/* Returns NULL, or the reason why the device or the pass does not support the choice. */
static const char *vd__fft_apply_choice(const vd_fft *p, const vd__fft_pass *pass, const vd__fft_choice *c,
                                        vd__fft_shape *out) {
    const vd__fft_device *d = &p->device;
    vd__fft_shape s = pass->shape;
    const char *reason = vd__fft_apply_radices(pass, c, &s);
    if (reason) return reason;
    s.columns_in = vd__fft_assigns_columns(d, &pass->end[0].array);
    s.columns_out = s.stages == 1 ? s.columns_in : vd__fft_assigns_columns(d, &pass->end[1].array);
    if (!c->threads || c->threads > d->threads || !c->ffts_per_group || c->ffts_per_group > d->threads)
        return "threads or transforms exceed the threads of a work-group";
    if (c->slices > (s.real_fold ? 1u : 4u) || c->slices == 3)
        return s.real_fold ? "slices must be 0 or 1 for reals of even length" : "slices must be 0, 1, 2 or 4";
    s.threads = c->threads;
    s.ffts_per_group = c->ffts_per_group;
    s.split_components = c->slices != 0;
    s.slices = s.split_components ? c->slices : 1;
    if (vd__fft_values_per_thread(&s) > VD__FFT_RADIX) return "a thread holds more than 32 values";
    if (!vd__fft_set_register_exchange(d, c->register_exchange, &s))
        return "the stage after a + cannot receive its values in registers";
    if (!vd__fft_can_slice(&s, s.slices)) return "slices do not divide the radices and the butterflies of a thread";
    vd__fft_set_default_pads(d, &s);
    if (!vd__fft_fits(d, &s)) memset(s.pad, 0, sizeof s.pad);
    if (!d->groups_as_loops && vd__fft_fits(d, &s)) vd__fft_choose_pads(d, &s);
    if (!vd__fft_finish_shape(d, &s, vd__fft_fits(d, &s))) return vd__fft_exceeded_limit(d, &s);
    *out = s;
    return NULL;
}

/* ---- VKDISPATCH_FFT_FACTORS ---- */

/* Parses a decimal number; returns false if there is none, or if it is 1000000 or more. */
static bool vd__fft_parse_number(const char **text, uint32_t *out) {
    uint32_t n = 0;
    if (**text < '0' || **text > '9') return false;
    for (; **text >= '0' && **text <= '9' && n < 1000000; (*text)++) n = 10 * n + (uint32_t)(**text - '0');
    *out = n;
    return n < 1000000;
}

/* Parses a separator, unless it is 0, and a number of at least `minimum`; returns false if they are missing. */
static bool vd__fft_parse_part(const char **text, char separator, uint32_t minimum, uint32_t *out) {
    if (separator && *(*text)++ != separator) return false;
    return vd__fft_parse_number(text, out) && *out >= minimum;
}

/* Parses a choice such as "16x16+16/256/1/1", up to a comma or the end of the text. Only slices may be 0. Returns NULL,
   or the part that is missing or invalid. */
static const char *vd__fft_parse_choice(const char **text, vd__fft_choice *out) {
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < VD__FFT_STAGES; i++) {
        if (i && **text != 'x' && **text != '+') break;
        if (i && *(*text)++ == '+') out->register_exchange |= 1u << i;
        if (!vd__fft_parse_part(text, 0, 1, &out->radix[i])) return "a radix";
    }
    if (!vd__fft_parse_part(text, '/', 1, &out->threads)) return "the number of threads";
    if (!vd__fft_parse_part(text, '/', 1, &out->ffts_per_group)) return "the number of transforms";
    if (!vd__fft_parse_part(text, '/', 0, &out->slices)) return "the number of slices";
    return **text == ',' || !**text ? NULL : "the separator after the slices";
}

/* Whether an override applies to a pass. target: 'c' only columns, 'r' only rows, 'b' only Bluestein's algorithm, ' '
   all passes. */
static bool vd__fft_override_applies(const vd__fft_pass *pass, char target, const vd__fft_choice *c) {
    uint64_t n = 1;
    bool columns = vd__fft_is_columns(&pass->end[0].array) || vd__fft_is_columns(&pass->end[1].array);
    for (uint32_t i = 0; i < VD__FFT_STAGES && c->radix[i] && n <= 65536; i++) n *= c->radix[i];
    if (vd__fft_has(pass, VD__STEP_FOLD) || (target == 'c' && !columns) || (target == 'r' && columns)) return false;
    return target == 'b' ? pass->bluestein_length && n >= vd__fft_lowest_bluestein(pass) : n == pass->shape.n;
}

/* Applies an override to all passes that it selects. text, length: the entry, for the error message. */
static vd_result vd__fft_override(vd_fft *p, char target, const vd__fft_choice *c, const char *text, int length) {
    for (uint32_t i = 0; i < vd__fft_pass_count(p); i++) {
        vd__fft_pass *pass = vd__fft_pass_at(p, i);
        if (!vd__fft_override_applies(pass, target, c)) continue;
        const char *reason = vd__fft_apply_choice(p, pass, c, &pass->shape);
        if (reason)
            return vd_error_set(VD_ERROR_INVALID, "VKDISPATCH_FFT_FACTORS contains '%.*s', but a kernel with "
                                "transforms of %u elements cannot have this shape: %s (limits: %u threads, %u bytes of "
                                "shared memory)", length, text, pass->shape.n, reason, p->device.threads,
                                (unsigned)(p->device.shared * vc_type_size(p->real)));
        p->overridden |= (uint64_t)1 << i;
    }
    return VD_OK;
}

/* Parses the number of parts of an entry such as "p4", after the p. */
static bool vd__fft_parse_parts(const char **text, uint32_t *out) {
    return vd__fft_parse_number(text, out) && *out && *out <= VD__FFT_RADIX && (**text == ',' || !**text);
}

static vd_result vd__fft_override_all(vd_fft *p) {
    const char *text = getenv("VKDISPATCH_FFT_FACTORS"), *entry;
    vd_result result = VD_OK;
    vd__fft_choice c;
    bool more = text && *text;
    while (more && !result) {
        char target = *(entry = text) == 'r' || *text == 'c' || *text == 'b' || *text == 'p' ? *text++ : ' ';
        uint32_t parts;
        const char *choice_text = text, *malformed = NULL;
        if (target != 'p') malformed = vd__fft_parse_choice(&text, &c);
        else if (!vd__fft_parse_parts(&text, &parts)) malformed = "the number of parts";
        if (malformed)
            return vd_error_set(VD_ERROR_INVALID, "VKDISPATCH_FFT_FACTORS contains '%.40s', but %s is missing or "
                                "invalid: each entry must be radices/threads/transforms/slices such as "
                                "16x16x16/256/1/1, where only slices may be 0, or a number of parts, p1 to p%d", entry,
                                malformed, (int)VD__FFT_RADIX);
        if (target != 'p') result = vd__fft_override(p, target, &c, choice_text, (int)(text - choice_text));
        more = *text == ',';
        text += more;
    }
    return result;
}

/* The number of parts that VKDISPATCH_FFT_FACTORS sets for convolutions; 0: it sets none. */
static uint32_t vd__fft_environment_parts(void) {
    const char *text = getenv("VKDISPATCH_FFT_FACTORS");
    uint32_t parts = 0;
    while (text && *text != 'p') {
        text = strchr(text, ',');
        if (text) text++;
    }
    return text && (text++, vd__fft_parse_parts(&text, &parts)) ? parts : 0;
}

/* ---- the tuner ---- */

enum {
    VD__FFT_DIGITS_WORDS = 1 + 2 * VD__DIGITS,
    VD__FFT_ADDRESSING_WORDS = VD__FFT_AXES + 2 * VD__FFT_DIGITS_WORDS,
    VD__FFT_MEASURE_WORDS = 64 /* of a key, without addressing; the compiler checks that they suffice */
};

/* All properties of a pass that affect its time. */
typedef struct vd__fft_measure_key {
    uint64_t word[VD__FFT_MEASURE_WORDS + 2 * VD__FFT_ADDRESSING_WORDS];
    uint32_t count;
} vd__fft_measure_key;

static void vd__fft_measure_key_add(vd__fft_measure_key *k, uint64_t word) { k->word[k->count++] = word; }

static uint64_t vd__fft_log2(uint64_t n) {
    uint64_t log = 0;
    while (n >>= 1) log++;
    return log;
}

/* Adds the strides, and the numbers of transforms rounded down to powers of two. */
static void vd__fft_measure_key_digits(vd__fft_measure_key *k, const vd__digits *d) {
    vd__fft_measure_key_add(k, d->count);
    for (uint32_t i = 0; i < d->count; i++) {
        vd__fft_measure_key_add(k, vd__fft_log2(d->size[i]));
        vd__fft_measure_key_add(k, d->stride[i]);
    }
}

static void vd__fft_measure_key_addressing(vd__fft_measure_key *k, const vd__fft_addressing *s) {
    for (uint32_t i = 0; i < VD__FFT_AXES; i++) vd__fft_measure_key_add(k, s->stride[i]);
    vd__fft_measure_key_digits(k, &s->block);
    vd__fft_measure_key_digits(k, &s->transform);
}

/* Sets the key of a pass. direction: 0 forward, 1 inverse. The key does not contain the fields of the shape that are
   chosen by measuring. */
static void vd__fft_measure_key_make(vd__fft_measure_key *k, const vd_fft *p, const vd__fft_pass *pass,
                                     uint32_t direction, vd_fft_rigor rigor) {
    const vd__fft_shape *s = &pass->shape;
    const vd__fft_range *in = pass->end[0].range, *out = pass->end[1].range;
    uint64_t steps[2];
    memcpy(steps, pass->step, sizeof steps);
#define VD__PASS_WORD(type, name) (uint64_t)pass->name,
#define VD__PRODUCT_WORD(type, name) (uint64_t)pass->product.name,
#define VD__REAL_WORD(type, name) (uint64_t)pass->real.name,
#define VD__LOAD_WORD(type, name) (uint64_t)pass->end[0].name,
#define VD__STORE_WORD(type, name) (uint64_t)pass->end[1].name,
    const uint64_t words[VD__FFT_MEASURE_WORDS] = {
        VD__FFT_MEASURE_VERSION, p->device.threads, p->device.shared, p->device.groups_as_loops, p->device.wide,
        (uint64_t)rigor, direction, steps[0], steps[1],
        VD__FFT_PASS_FIELDS(VD__PASS_WORD) VD__FFT_PRODUCT_FIELDS(VD__PRODUCT_WORD) VD__REAL_FIELDS(VD__REAL_WORD)
        VD__FFT_END_FIELDS(VD__LOAD_WORD) VD__FFT_END_FIELDS(VD__STORE_WORD)
        p->real, p->stored[pass->end[0].role], p->stored[pass->end[1].role],
        s->axes, s->size[0], s->size[1], s->size[2], s->size[3], s->real_fold,
        in[0].count, in[0].scale, in[1].count, out[0].count, out[0].scale, out[1].count, in[0].start, out[0].start
    };
#undef VD__PASS_WORD
#undef VD__PRODUCT_WORD
#undef VD__REAL_WORD
#undef VD__LOAD_WORD
#undef VD__STORE_WORD
    k->count = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) vd__fft_measure_key_add(k, words[i]);
    vd__fft_measure_key_addressing(k, &pass->end[0].array);
    vd__fft_measure_key_addressing(k, &pass->end[1].array);
}

/* The kernel of a choice. */
typedef struct vd__fft_trial {
    vd_kernel kernel;
    vd_buffer tables;
    uint64_t groups;         /* work-groups of a dispatch */
} vd__fft_trial;

/* State of the tuner, which measures one pass after another. */
typedef struct vd__fft_tuner {
    vd_plan_tuner base;
    vd__fft_measure_key key;
    vd_fft *plan;            /* plan of the same transforms, with a batch that is small enough to measure */
    vd_fft *scratch;         /* plan of one pass, with which a trial is compiled */
    vd__fft_pass *pass;
    uint32_t direction;
    bool patient;
    vd_buffer in, out, spectrum;
    uint64_t in_bytes, out_bytes;
    uint64_t max_bytes;      /* of a buffer */
    vd__fft_candidates candidates;
    vd__fft_choice *choice;  /* the array of vd_plan_tune */
    uint32_t count;          /* number of choices */
} vd__fft_tuner;

enum {
    VD__FFT_NOISE_BYTES = 65521 * 16 /* period of the input in bytes: a prime number of 16-byte elements, so that rows
                                        differ */
};

/* vd_plan_tuner.accepts */
static bool vd__fft_tuner_accepts(void *user, const void *choice) {
    const vd__fft_tuner *tuner = (const vd__fft_tuner *)user;
    vd__fft_shape shape;
    return !vd__fft_apply_choice(tuner->plan, tuner->pass, (const vd__fft_choice *)choice, &shape);
}

/* Does nothing if the list is full or contains this choice, or if the pass does not support it. */
static void vd__fft_add_choice(vd__fft_tuner *tuner, const vd__fft_choice *c) {
    for (uint32_t i = 0; i < tuner->count; i++) if (memcmp(&tuner->choice[i], c, sizeof *c) == 0) return;
    if (tuner->count < VD_PLAN_MAX_CHOICES && vd__fft_tuner_accepts(tuner, c)) tuner->choice[tuner->count++] = *c;
}

/* Adds candidates for transforms of length n; with Bluestein's algorithm, n is the length of its convolutions. */
static void vd__fft_search_shapes(vd__fft_tuner *tuner, uint32_t n) {
    const vd_fft *p = tuner->plan;
    const vd__fft_pass *pass = tuner->pass;
    vd__fft_search search;
    memset(&search, 0, sizeof search);
    search.device = &p->device;
    search.candidates = &tuner->candidates;
    search.current = pass->shape;
    search.current.stages = search.current.register_exchange = 0;
    search.current.ffts_per_group = search.current.slices = 1;
    search.current.split_components = search.current.complex_elements = false;
    search.current.columns_in = vd__fft_assigns_columns(&p->device, &pass->end[0].array);
    search.current.columns_out = vd__fft_assigns_columns(&p->device, &pass->end[1].array);
    search.current.n = n;
    if (pass->bluestein_length) search.current.size[0] = n;
    vd__fft_set_default_pads(&p->device, &search.current);
    if (vd__fft_is_estimated(&p->device, &search.current)) search.count = vd__fft_transform_count(pass);
    search.blocks = pass->end[0].array.block.product;
    search.min_columns = 4;
    vd__fft_enumerate(&search, 0, search.current.size[vd__fft_axis_at(&search.current, 0)], VD__FFT_RADIX);
}

/* Counts the choices with the same radices as `c` in any order. Compares their number, the product, the sum and the sum
   of the squares. */
static uint32_t vd__fft_count_similar(const vd__fft_tuner *tuner, const vd__fft_choice *c) {
    uint32_t similar = 0;
    for (uint32_t i = 0; i < tuner->count; i++) {
        const uint32_t *a = c->radix, *b = tuner->choice[i].radix;
        uint32_t sum = 0, squares = 0, products[2] = { 1, 1 };
        uint32_t j = 0;
        for (; j < VD__FFT_STAGES && a[j] && b[j]; j++) {
            sum += a[j] - b[j];
            squares += a[j] * a[j] - b[j] * b[j];
            products[0] *= a[j];
            products[1] *= b[j];
        }
        similar += (j == VD__FFT_STAGES || a[j] == b[j]) && !sum && !squares && products[0] == products[1];
    }
    return similar;
}

/* Proposes the estimated shape, then the candidates with the lowest estimated costs, but only a few with the same
   radices. */
static void vd__fft_propose_shapes(vd__fft_tuner *tuner) {
    const vd_fft *p = tuner->plan;
    const vd__fft_pass *pass = tuner->pass;
    uint64_t count = vd__fft_transform_count(pass),
             n = pass->bluestein_length ? vd__fft_lowest_bluestein(pass) : 0, power = 1;
    vd__fft_choice estimated = vd__fft_choice_of(&pass->shape);
    uint32_t i, limit = tuner->patient ? 20 : 8;
    tuner->candidates.count = 0;
    tuner->candidates.stages = pass->shape.stages < 2 ? 3 : pass->shape.stages + 1;
    vd__fft_add_choice(tuner, &estimated);
    while (power < n) power *= 2;
    if (!pass->bluestein_length) vd__fft_search_shapes(tuner, pass->shape.n);
    else
        for (i = 0, n = vd__fft_next_smooth(n, 5); i < 4 && n <= power; i++, n = vd__fft_next_smooth(n + 1, 5))
            vd__fft_search_shapes(tuner, (uint32_t)n);
    if (pass->bluestein_length && n <= power) vd__fft_search_shapes(tuner, (uint32_t)power);
    for (i = 0; i < tuner->candidates.count && tuner->count < limit; i++) {
        vd__fft_shape s = tuner->candidates.at[i].shape;
        vd__fft_choice c = vd__fft_choice_of(&s);
        if (vd__fft_count_similar(tuner, &c) >= (tuner->patient ? 6u : s.n < 1000 ? 2u : 3u)) continue;
        bool complete = vd__fft_is_estimated(&p->device, &s); /* the search has set all fields */
        if (s.stages == 1) s.columns_out = s.columns_in;
        if (!complete && (s.columns_in || s.columns_out ? !vd__fft_choose_columns(&p->device, &s, count, 1)
                                                         : !vd__fft_choose_rows(&p->device, &s, count)))
            continue;
        c = vd__fft_choice_of(&s);
        vd__fft_add_choice(tuner, &c);
    }
}

/* Adds variants of a choice with another number of transforms per work-group or other slices and, with VD_FFT_PATIENT,
   with both. */
static void vd__fft_add_variants(vd__fft_tuner *tuner, const vd__fft_choice *base) {
    static const uint32_t slices[] = { 0, 1, 2, 4 };
    uint32_t widest = tuner->patient ? 4 : 2, limit = tuner->count + (tuner->patient ? 20 : 8);
    vd__fft_choice c = *base;
    for (uint32_t ffts = base->ffts_per_group * widest; ffts && ffts >= base->ffts_per_group / widest; ffts /= 2) {
        for (uint32_t i = 0; i < 4 && tuner->count < limit; i++) {
            if (!tuner->patient && ffts != base->ffts_per_group && slices[i] != base->slices) continue;
            if (tuner->pass->shape.stages == 1 && !tuner->pass->shape.real_fold && slices[i]) continue;
            c.ffts_per_group = ffts;
            c.slices = slices[i];
            vd__fft_add_choice(tuner, &c);
        }
    }
}

/* Fills a buffer of complex numbers with ones, from number `first` on. */
static vd_result vd__fft_fill_ones(const vd_fft *p, vd_buffer buffer, uint64_t first) {
    static const double one_f64[] = { 1, 0 };
    static const float one_f32[] = { 1, 0 };
    uint32_t size = 2 * vc_type_size(p->real);
    return vd_fill(vd_immediate(p->base.ctx, 0, 0), buffer, first * size, VD_WHOLE,
                   p->real == VC_F64 ? (const void *)one_f64 : (const void *)one_f32, size);
}

/* Makes `scratch` a plan that consists of the measured pass only, without hooks and scaling. */
static void vd__fft_isolate_pass(const vd__fft_tuner *tuner, vd_fft *scratch) {
    *scratch = *tuner->plan;
    memset(&scratch->hooks, 0, sizeof scratch->hooks);
    scratch->scale[0] = scratch->scale[1] = 1;
    scratch->route[0].count = 1;
    scratch->route[1].count = 0;
    scratch->route[0].pass[0] = *tuner->pass;
}

/* Creates the tables of a trial. Those that the device computes are filled with ones, since their values do not change
   the time. */
static vd_result vd__fft_make_trial_tables(vd_fft *scratch) {
    vd_result result = vd__fft_make_tables(scratch);
    if (!result) result = vd__fft_upload_tables(scratch);
    if (result || !scratch->generated_end) return result;
    return vd__fft_fill_ones(scratch, scratch->tables, scratch->table_count);
}

/* vd_plan_tuner.build: compiles the kernel of a trial and creates its tables. Returns VD_ERROR_UNSUPPORTED,
   without setting the error, if the device or the pass does not support the choice. */
static vd_result vd__fft_build_trial(void *user, const void *choice, void *trial) {
    const vd__fft_tuner *tuner = (const vd__fft_tuner *)user;
    vd__fft_trial *t = (vd__fft_trial *)trial;
    vd_fft *scratch = tuner->scratch;
    vd__fft_pass *pass = &scratch->route[0].pass[0];
    vd__fft_isolate_pass(tuner, scratch);
    if (vd__fft_apply_choice(tuner->plan, tuner->pass, (const vd__fft_choice *)choice, &pass->shape))
        return VD_ERROR_UNSUPPORTED;
    vd_result result = vd__fft_make_trial_tables(scratch);
    if (!result) result = vd__fft_build_kernel(scratch, 0, tuner->direction, false);
    vd__fft_free(&scratch->base.allocator, scratch->table);
    t->kernel = pass->kernels[tuner->direction][0].kernel;
    t->tables = scratch->tables;
    t->groups = vd__fft_group_count(pass);
    /* vd__fft_isolate_pass has copied the plan, with its list of objects; vd_plan_tune moves the list to the trial */
    tuner->plan->base.objects = scratch->base.objects;
    return result;
}

/* vd_plan_tuner.record */
static vd_result vd__fft_record_trial(void *user, const void *trial, vd_list *list) {
    const vd__fft_tuner *tuner = (const vd__fft_tuner *)user;
    const vd__fft_trial *t = (const vd__fft_trial *)trial;
    vd_dispatch_desc desc;
    vd_arg args[4];
    memset(&desc, 0, sizeof desc);
    args[0] = vd_b(tuner->in);
    args[1] = vd_b(tuner->out);
    args[2] = vd_b(t->tables);
    args[3] = vd_b(tuner->spectrum);
    desc.kernel = t->kernel;
    desc.groups[0] = t->groups;
    desc.args = args;
    desc.arg_count = vd__fft_has(tuner->pass, VD__STEP_SPECTRUM) ? 4 : 3;
    return vd_dispatch(list, &desc);
}

/* vd_plan_tuner.prepare: clears the output. The tolerance is a few rounding errors. */
static vd_result vd__fft_prepare_trial(void *user, vd_plan_results *results) {
    const vd__fft_tuner *tuner = (const vd__fft_tuner *)user;
    const vd_fft *p = tuner->plan;
    vc_type type = p->stored[tuner->pass->end[1].role], from = p->stored[tuner->pass->end[0].role];
    results->buffer = tuner->out;
    results->type = (vd_type)type;
    results->count = vd__fft_bytes(p, tuner->pass->end[1].role) / vc_type_size(type);
    results->tolerance = type == VC_F16 || from == VC_F16 ? 3e-3 : type == VC_F64 && p->real == VC_F64 ? 1e-13 : 3e-6;
    return vd_fill(vd_immediate(p->base.ctx, 0, 0), tuner->out, 0, VD_WHOLE, NULL, 0);
}

/* Fills a buffer with random numbers of magnitude 1/2 … 1 (f16: 1/32 … 1/16) that repeat every VD__FFT_NOISE_BYTES. */
static bool vd__fft_fill_noise(vd__fft_tuner *tuner, vd_buffer buffer, uint64_t bytes, vc_type type) {
    const vd_allocator *a = &tuner->plan->base.allocator;
    vd_list *list = vd_immediate(tuner->plan->base.ctx, 0, 0);
    uint64_t filled = bytes < VD__FFT_NOISE_BYTES ? bytes : (uint64_t)VD__FFT_NOISE_BYTES, state = 88172645463325252u;
    uint8_t *data = (uint8_t *)vd__fft_allocate(a, VD__FFT_NOISE_BYTES);
    uint32_t size = vc_type_size(type);
    if (!data) return false;
    for (uint64_t i = 0; i + size <= filled; i += size) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t x = (state & 0x800FFFFFFFFFFFFFu) | 0x3FE0000000000000u;
        uint32_t w = (uint32_t)(state >> 32 & 0x807FFFFFu) | 0x3F000000u;
        /* f16 is small, so that results of long transforms do not overflow */
        uint16_t h = (uint16_t)((state >> 48 & 0x83FFu) | 0x2800u);
        memcpy(data + i, size == 8 ? (const void *)&x : size == 4 ? (const void *)&w : (const void *)&h, size);
    }
    vd_result result = vd_write(list, buffer, 0, data, filled);
    for (; !result && filled < bytes; filled *= 2)
        result = vd_copy(list, buffer, filled, buffer, 0, bytes - filled < filled ? bytes - filled : filled);
    vd__fft_free(a, data);
    return !result;
}

/* ---- tuning of a plan ---- */

static void vd__fft_tuner_close(vd__fft_tuner *tuner) {
    vd_allocator allocator = tuner->plan->base.allocator;
    vd_fft_destroy(tuner->plan);
    vd__fft_free(&allocator, tuner->scratch);
    vd__fft_free(&allocator, tuner);
}

/* The first call creates buffers that are large enough for every pass, and fills the spectrum. Later calls return
   whether it succeeded, by `out`, which is created last. Fails also if a buffer would exceed max_bytes (the spectrum of
   an f64 convolution: 2 * max_bytes). */
static bool vd__fft_tuner_allocate(vd__fft_tuner *tuner) {
    vd_fft *p = tuner->plan;
    uint64_t spectrum = 0, max_bytes = tuner->max_bytes;
    if (tuner->scratch) return tuner->out.id != 0;
    tuner->scratch = (vd_fft *)vd__fft_allocate(&p->base.allocator, sizeof *tuner->scratch);
    for (uint32_t i = 0; i < vd__fft_pass_count(p); i++) {
        const vd__fft_pass *pass = vd__fft_pass_at(p, i);
        uint64_t in = vd__fft_bytes(p, pass->end[0].role), out = vd__fft_bytes(p, pass->end[1].role);
        if (in > tuner->in_bytes) tuner->in_bytes = in;
        if (out > tuner->out_bytes) tuner->out_bytes = out;
        if (vd__fft_has(pass, VD__STEP_SPECTRUM))
            spectrum = p->dense.stride[0] * p->convolution.filters * p->convolution.channels;
    }
    if (!tuner->scratch || tuner->in_bytes > max_bytes || tuner->out_bytes > max_bytes || spectrum > max_bytes / 8)
        return false;
    tuner->in = vd_plan_buffer(&p->base, "fft noise input", VD_F32X2, (tuner->in_bytes + 7) / 8, NULL);
    if (spectrum)
        tuner->spectrum = vd_plan_buffer(&p->base, "fft noise spectrum", (vd_type)vd__fft_complex_type(p->real),
                                         spectrum, NULL);
    if (!tuner->in.id || (spectrum && !tuner->spectrum.id)) return false;
    if (spectrum
        && !vd__fft_fill_noise(tuner, tuner->spectrum, spectrum * vc_type_size(vd__fft_complex_type(p->real)), p->real))
        return false;
    tuner->out = vd_plan_buffer(&p->base, "fft noise output", VD_F32X2, (tuner->out_bytes + 7) / 8, NULL);
    return tuner->out.id != 0;
}

/* vd_plan_tuner.propose. Proposes nothing if the pass cannot be measured. */
static uint32_t vd__fft_tuner_propose(void *user, void *choices, uint32_t count, const void *best) {
    vd__fft_tuner *tuner = (vd__fft_tuner *)user;
    const vd__fft_pass *pass = tuner->pass;
    tuner->choice = (vd__fft_choice *)choices;
    tuner->count = count;
    if (best) vd__fft_add_variants(tuner, (const vd__fft_choice *)best);
    else if (vd__fft_tuner_allocate(tuner)
             && vd__fft_fill_noise(tuner, tuner->in, vd__fft_bytes(tuner->plan, pass->end[0].role),
                                   tuner->plan->stored[pass->end[0].role])
             /* a spectrum of ones, because shapes order its elements differently (vd__fft_is_thread_order) */
             && !(pass->shape.last_axis_first && vd__fft_fill_ones(tuner->plan, tuner->spectrum, 0)))
        vd__fft_propose_shapes(tuner);
    return tuner->count;
}

/* Reduces the batch of a convolution, or the leading dimensions that are not transformed, so that the arrays have at
   most about `bytes` bytes. */
static void vd__fft_limit_batch(const vd_fft *p, vd_fft_desc *desc, vd__fft_convolution *c, uint64_t bytes) {
    uint64_t size = vd__fft_bytes(p, VD__FFT_IN), out = vd__fft_bytes(p, VD__FFT_OUT), part;
    if (out > size) size = out;
    uint64_t divisor = (size + bytes - 1) / bytes;
    if (c->batch) {
        part = c->batch < divisor ? c->batch : divisor;
        desc->shape[0] /= c->batch;
        c->batch /= part;
        desc->shape[0] *= c->batch;
        return;
    }
    for (uint32_t i = 0; i < p->dimensions && !(p->axes >> i & 1) && divisor > 1; i++) {
        part = desc->shape[i] < divisor ? desc->shape[i] : divisor;
        desc->shape[i] /= part;
        desc->in_count[i] = desc->out_count[i] = 0; /* start is 0: the dimension is not transformed */
        divisor = (divisor + part - 1) / part;
    }
}

/* Whether the passes of two plans have the same lengths, and both access columns or both access rows. */
static bool vd__fft_has_same_passes(vd_fft *a, vd_fft *b) {
    if (a->route[0].count != b->route[0].count || a->route[1].count != b->route[1].count) return false;
    for (uint32_t i = 0; i < vd__fft_pass_count(a); i++) {
        const vd__fft_pass *x = vd__fft_pass_at(a, i), *y = vd__fft_pass_at(b, i);
        if (x->shape.axes != y->shape.axes || memcmp(x->shape.size, y->shape.size, sizeof x->shape.size) != 0
            || x->bluestein_length != y->bluestein_length
            || memcmp(&x->chirp, &y->chirp, sizeof x->chirp) != 0)
            return false;
        if (vd__fft_is_columns(&x->end[0].array) != vd__fft_is_columns(&y->end[0].array)
            || vd__fft_is_columns(&x->end[1].array) != vd__fft_is_columns(&y->end[1].array))
            return false;
    }
    return true;
}

/* VD_FFT_RIGOR_DEFAULT if VKDISPATCH_FFT is unset or invalid. */
static vd_fft_rigor vd__fft_environment_rigor(void) {
    const char *text = getenv("VKDISPATCH_FFT");
    if (text && strcmp(text, "estimate") == 0) return VD_FFT_ESTIMATE;
    if (text && strcmp(text, "measure") == 0) return VD_FFT_MEASURE;
    return text && strcmp(text, "patient") == 0 ? VD_FFT_PATIENT : VD_FFT_RIGOR_DEFAULT;
}

/* The environment overrides the desc. */
static vd_fft_rigor vd__fft_rigor_of(const vd_fft_desc *desc) {
    vd_fft_rigor rigor = vd__fft_environment_rigor();
    return rigor ? rigor : desc->rigor;
}

/* Returns NULL if the plan cannot be measured, or if out of memory. */
static vd__fft_tuner *vd__fft_tuner_open(vd_fft *p, const vd_fft_desc *desc, const vd__fft_convolution *convolution,
                                         bool patient, uint64_t max_bytes) {
    vd__fft_tuner *tuner = (vd__fft_tuner *)vd__fft_allocate(&p->base.allocator, sizeof *tuner);
    vd_fft_desc limited = *desc;
    vd__fft_convolution c;
    memset(&c, 0, sizeof c);
    if (!tuner) return NULL;
    if (convolution) c = *convolution;
    c.parts = p->convolution.parts;
    vd__fft_limit_batch(p, &limited, &c,
                        (uint64_t)(vd_device(p->base.ctx, 0)->facts.groups_as_loops ? 4 : 256) << 20);
    tuner->patient = patient;
    tuner->max_bytes = max_bytes;
    tuner->base.name = "pass";
    tuner->base.fields = tuner->key.word;
    tuner->base.choice_size = sizeof(vd__fft_choice);
    tuner->base.trial_size = sizeof(vd__fft_trial);
    tuner->base.user = tuner;
    tuner->base.propose = vd__fft_tuner_propose;
    tuner->base.accepts = vd__fft_tuner_accepts;
    tuner->base.build = vd__fft_build_trial;
    tuner->base.record = vd__fft_record_trial;
    tuner->base.prepare = vd__fft_prepare_trial;
    if (!vd__fft_new_estimated(p->base.ctx, &limited, convolution ? &c : NULL, &tuner->plan)
        && vd__fft_has_same_passes(p, tuner->plan))
        return tuner;
    vd_fft_destroy(tuner->plan);
    vd__fft_free(&p->base.allocator, tuner);
    return NULL;
}

/* Sets the shapes of all passes to the fastest ones, which are in the cache or are measured. Passes that cannot be
   measured keep their estimated shapes. */
static void vd__fft_measure_all(vd_fft *p, const vd_fft_desc *desc, const vd__fft_convolution *convolution) {
    vd_fft_rigor rigor = vd__fft_rigor_of(desc);
    const vd_device_info *d = vd_device(p->base.ctx, 0);
    uint64_t max_bytes = (uint64_t)1 << 30;
    uint32_t count = vd__fft_pass_count(p);
    uint32_t i;
    if (rigor < VD_FFT_MEASURE || !d->facts.executes || p->convolution.map) return;
    if (max_bytes > d->device_memory / 8) max_bytes = d->device_memory / 8;
    p->timing = (vd__fft_timing *)vd__fft_allocate(&p->base.allocator, count * sizeof *p->timing);
    vd__fft_tuner *tuner = p->timing ? vd__fft_tuner_open(p, desc, convolution, rigor == VD_FFT_PATIENT, max_bytes)
                                     : NULL;
    for (i = 0; tuner && i < count; i++) {
        vd__fft_pass *pass = vd__fft_pass_at(p, i);
        vd__fft_timing *t = &p->timing[i];
        if (p->overridden >> i & 1 || vd__fft_has(pass, VD__STEP_FOLD) || pass->shape.n == 1) continue;
        /* every trial has its own tables */
        uint64_t max_table = max_bytes / VD_PLAN_MAX_CHOICES / vc_type_size(vd__fft_complex_type(p->real));
        if (pass->chirp.n + pass->chirp.m > max_table) continue;
        tuner->pass = vd__fft_pass_at(tuner->plan, i);
        tuner->direction = i >= p->route[0].count;
        vd__fft_measure_key_make(&tuner->key, tuner->plan, tuner->pass, tuner->direction, rigor);
        tuner->base.field_count = tuner->key.count;
        if (vd_plan_tune(&tuner->plan->base, &tuner->base, t->choice, &t->times) || !t->times.count) continue;
        if (vd__fft_apply_choice(p, pass, &t->choice[0], &pass->shape)) t->times.count = 0;
    }
    if (tuner) vd__fft_tuner_close(tuner);
}

// >>public
/* Definitions of the other public functions, which check arguments and call the rooms above, and of the functions that
   make plans of transforms. */

/* The counts are those of the shape by default. prefix: "in" or "out", for messages. */
static vd_result vd__fft_set_counts(const vd_fft *p, vd__fft_role role, const uint64_t *start, const uint64_t *count,
                                    const uint64_t *stride, const char *prefix, vd__fft_layout *l) {
    const char *arrays = p->kind != VD_FFT_REAL || p->convolution.batch ? "" : role == VD__FFT_IN ? " of the reals"
                                                                                           : " of the half spectrum";
    for (uint32_t i = 0; i < 4; i++) {
        if (i >= p->dimensions && (start[i] || count[i] || stride[i]))
            return vd_error_set(VD_ERROR_INVALID, "%s_%s[%u] is %llu, but the shape is %u-dimensional", prefix,
                                start[i] ? "start" : count[i] ? "count" : "stride", i,
                                (unsigned long long)(start[i] ? start[i] : count[i] ? count[i] : stride[i]),
                                p->dimensions);
        bool transformed = p->axes >> i & 1;
        if (start[i] && !transformed)
            return vd_error_set(VD_ERROR_INVALID, "%s_start[%u] is %llu, but must be 0, because dimension %u is not "
                                "transformed", prefix, i, (unsigned long long)start[i], i);
        if (count[i] && count[i] != p->shape[i] && !transformed)
            return vd_error_set(VD_ERROR_INVALID, "%s_count[%u] is %llu, but must be 0 or %llu, because dimension %u "
                                "is not transformed", prefix, i, (unsigned long long)count[i],
                                (unsigned long long)p->shape[i], i);
        if (start[i] && (start[i] >= p->shape[i] || count[i] > p->shape[i] - start[i]))
            return vd_error_set(VD_ERROR_INVALID, "%s_start[%u] is %llu and %s_count[%u] is %llu, but dimension %u%s "
                                "has %llu elements", prefix, i, (unsigned long long)start[i], prefix, i,
                                (unsigned long long)count[i], i, arrays, (unsigned long long)p->shape[i]);
        l->start[i] = start[i];
        l->count[i] = count[i] ? count[i] : p->shape[i] - start[i];
        if (l->count[i] > p->shape[i])
            return vd_error_set(VD_ERROR_INVALID, "%s_count[%u] is %llu, but dimension %u%s has %llu elements", prefix,
                                i, (unsigned long long)l->count[i], i, arrays, (unsigned long long)p->shape[i]);
    }
    return VD_OK;
}

/* By default, the array is in C order without gaps. */
static void vd__fft_set_strides(const vd_fft *p, const uint64_t *stride, vd__fft_layout *l) {
    bool has_strides = stride[0] || stride[1] || stride[2] || stride[3];
    uint64_t dense = 1;
    for (uint32_t i = p->dimensions; i-- > 0; dense *= l->count[i]) l->stride[i] = has_strides ? stride[i] : dense;
}

/* Computes l->span, adding the dimensions in order of increasing stride. The stride of each one with more than one
   element must be at least the span of those before it, so that elements do not overlap. In the input, a smaller stride
   other than 0 is accepted and sets *overlaps, even if no two elements coincide. */
static vd_result vd__fft_set_span(const vd_fft *p, vd__fft_role role, const char *prefix, vd__fft_layout *l,
                                  bool *overlaps) {
    uint64_t limit = vd__fft_max_span(p);
    uint32_t i, order[4];
    vd__fft_sort_dimensions(p, l, order);
    for (l->span = 1, i = p->dimensions; i-- > 0;) {
        uint64_t n = l->count[order[i]], step = l->stride[order[i]];
        if (n == 1) continue;
        if (step < l->span && role == VD__FFT_IN && step) *overlaps = true;
        else if (step < l->span)
            return vd_error_set(VD_ERROR_INVALID, "%s_stride[%u] is %llu, but must be at least %llu%s", prefix,
                                order[i], (unsigned long long)step,
                                (unsigned long long)(role == VD__FFT_IN ? 1 : l->span),
                                role == VD__FFT_IN ? "" : ", the span of the dimensions whose strides are not larger");
        if (step > (limit - l->span) / (n - 1))
            return vd_error_set(VD_ERROR_UNSUPPORTED, "%s_stride[%u] is %llu, so the array spans more than %llu "
                                "elements, the limit", prefix, order[i], (unsigned long long)step,
                                (unsigned long long)limit);
        l->span += (n - 1) * step;
    }
    return VD_OK;
}

static vd_result vd__fft_make_layout(vd_fft *p, vd__fft_role role, const uint64_t *start, const uint64_t *count,
                                     const uint64_t *stride, const char *prefix) {
    vd__fft_layout *l = &p->layout[role];
    vd_result result = vd__fft_set_counts(p, role, start, count, stride, prefix, l);
    if (result) return result;
    vd__fft_set_strides(p, stride, l);
    return vd__fft_set_span(p, role, prefix, l, &p->in_overlaps);
}

static vd_result vd__fft_make_out_layout(vd_fft *p, const vd_fft_desc *desc) {
    return vd__fft_make_layout(p, VD__FFT_OUT, desc->out_start, desc->out_count, desc->out_stride, "out");
}

static vd_result vd__fft_check_types(vd_fft *p, const vd_fft_desc *desc) {
    vd_type type = desc->type ? desc->type : (vd_type)VD_F32;
    vd_type in = desc->in_type ? desc->in_type : type, out = desc->out_type ? desc->out_type : type;
    uint64_t features = vd_device(p->base.ctx, 0)->features;
    const char *invalid = type != VD_F32 && type != VD_F64 ? "type"
                          : in < VD_F16 || in > VD_F64     ? "in_type"
                          : out < VD_F16 || out > VD_F64   ? "out_type"
                                                           : NULL;
    if (invalid)
        return vd_error_set(VD_ERROR_INVALID, "%s is %s, but must be %s", invalid,
                            vd_type_name(invalid[0] == 't' ? type : invalid[0] == 'i' ? in : out),
                            invalid[0] == 't' ? "f32 or f64" : "f16, f32 or f64");
    if ((type == VD_F64 || in == VD_F64 || out == VD_F64) && !(features & VD_FEATURE_F64))
        return vd_error_set(VD_ERROR_UNSUPPORTED, "%s is f64, but the device does not support f64",
                            type == VD_F64 ? "type" : in == VD_F64 ? "in_type" : "out_type");
    if ((in == VD_F16 || out == VD_F16) && !(features & VD_FEATURE_STORAGE_16))
        return vd_error_set(VD_ERROR_UNSUPPORTED, "%s is f16, but the device does not support 16-bit elements in "
                            "buffers",
                            in == VD_F16 ? "in_type" : "out_type");
    p->real = p->stored[VD__FFT_TEMP] = p->stored[VD__FFT_MIDDLE] = p->stored[VD__FFT_FOLD] = (vc_type)type;
    p->stored[VD__FFT_IN] = (vc_type)in;
    p->stored[VD__FFT_OUT] = (vc_type)out;
    return VD_OK;
}

/* For VD_FFT_REAL, the layout of the reals is computed first; then the length of the real axis becomes that of the half
   spectrum. */
static vd_result vd__fft_make_layouts(vd_fft *p, const vd_fft_desc *desc) {
    static const uint64_t none[4] = { 0, 0, 0, 0 };
    uint64_t in_stride[4], bins[4];
    bool reals = p->kind == VD_FFT_REAL && p->convolution.batch; /* input and output are reals */
    vd_result result = VD_OK;
    memcpy(in_stride, desc->in_stride, sizeof in_stride);
    if (p->kind > VD_FFT_COMPLEX || desc->padded) result = vd__real_check_desc(p, desc, in_stride);
    if (!result) result = vd__fft_make_layout(p, VD__FFT_IN, desc->in_start, desc->in_count, in_stride, "in");
    for (uint32_t i = 0; i < 4; i++)
        bins[i] = desc->out_count[i] ? desc->out_count[i]
                                     : (i == p->real_axis ? p->real_length / 2 + 1 : p->shape[i]) - desc->out_start[i];
    if (!result && p->in_overlaps && memcmp(in_stride, desc->in_stride, sizeof in_stride) != 0)
        result = vd_error_set(VD_ERROR_INVALID,
                              "padded is true, but a row of reals needs more memory than its bins: "
                              "in_count selects %s reals and out_count %s bins",
                              vd__shape_text_of(p->layout[VD__FFT_IN].count, p->dimensions, " x ").text,
                              vd__shape_text_of(bins, p->dimensions, " x ").text);
    if (!result && reals) result = vd__fft_make_out_layout(p, desc);
    p->scalar[VD__FFT_OUT] |= reals;
    if (p->kind == VD_FFT_REAL) p->shape[p->real_axis] = p->real_length / 2 + 1;
    if (!result && !reals) result = vd__fft_make_out_layout(p, desc);
    if (!result) result = vd__fft_make_layout(p, VD__FFT_TEMP, none, none, none, "");
    p->dense = p->layout[VD__FFT_MIDDLE] = p->layout[VD__FFT_TEMP];
    return result;
}

static vd_result vd__fft_check_rigor(const vd_fft_desc *desc) {
    const char *text = getenv("VKDISPATCH_FFT");
    vd_result result = VD__CHECK_ENUM(desc->rigor, "rigor", VD_FFT_PATIENT);
    if (result || !text || !*text || vd__fft_environment_rigor()) return result;
    return vd_error_set(VD_ERROR_INVALID, "VKDISPATCH_FFT is '%.40s', but must be estimate, measure or patient", text);
}

/* Kernels compute indices along an axis in 32 bits. */
static vd_result vd__fft_check_lengths(const vd_fft *p) {
    for (uint32_t i = 0; i < p->dimensions; i++)
        if (p->axes >> i & 1 && p->shape[i] > UINT32_MAX)
            return vd_error_set(VD_ERROR_UNSUPPORTED, "dimension %u has %llu elements, but the limit of a transformed "
                                "dimension is %u", i, (unsigned long long)p->shape[i], UINT32_MAX);
    return VD_OK;
}

/* Also sets the fields of the plan that the desc determines. */
static vd_result vd__fft_check_desc(vd_fft *p, const vd_fft_desc *desc) {
    double product = 1;
    vd_result result = vd__fft_check_shape(desc->shape, desc->axes, desc->engine ? UINT32_MAX : vd__fft_max_span(p),
                                           &p->dimensions, &p->elements);
    if (!result) result = VD__CHECK_ENUM(desc->engine, "engine", VD_FFT_ENGINE_VKFFT);
    if (!result) result = VD__CHECK_ENUM(desc->norm, "norm", VD_FFT_NORM_ORTHO);
    if (!result) result = VD__CHECK_ENUM(desc->kind, "kind", VD_FFT_DST4);
    if (result) return result;
    if (desc->hook_declare && !desc->load && !desc->store && !p->convolution.map)
        return vd_error_set(VD_ERROR_INVALID, "hook_declare is set, but load and store are not");
    if (desc->engine && (desc->load || desc->store))
        return vd_error_set(VD_ERROR_UNSUPPORTED, "engine VkFFT does not support hooks");
    result = vd__fft_check_rigor(desc);
    if (result) return result;
    p->kind = desc->kind;
    p->pack_rows = desc->pack_rows;
    memcpy(p->shape, desc->shape, sizeof p->shape);
    p->axes = desc->axes ? desc->axes : 1u << (p->dimensions - 1);
    for (uint32_t i = 0; i < p->dimensions; i++) if (p->axes >> i & 1) product *= vd__real_gain(p->kind, p->shape[i]);
    p->scale[0] = desc->norm == VD_FFT_NORM_ORTHO ? 1 / sqrt(product) : 1;
    p->scale[1] = desc->norm == VD_FFT_NORM_NONE    ? 1
                  : desc->norm == VD_FFT_NORM_ORTHO ? 1 / sqrt(product)
                                                    : 1 / product;
    p->hooks.load = desc->load;
    p->hooks.store = desc->store;
    p->hooks.declare = desc->hook_declare;
    p->hooks.user = desc->hook_user;
    result = vd__fft_check_lengths(p);
    if (!result) result = vd__fft_check_types(p, desc);
    return result ? result : vd__fft_make_layouts(p, desc);
}

/* Whether times are estimated by vd__fft_latency: on a GPU, for transforms of up to 2^14 elements for each
   multiprocessor (f64: 2^13). */
static bool vd__fft_has_few_elements(const vd_fft *p) {
    const char *shapes = getenv("VKDISPATCH_FFT_SHAPES");
    uint64_t left = ((uint64_t)1 << (p->device.wide ? 13 : 14)) * p->device.multiprocessors;
    for (uint32_t i = 0; i < p->dimensions; i++) left /= p->shape[i];
    return left && !p->device.groups_as_loops && !p->convolution.batch && !(shapes && strcmp(shapes, "gpu-batch") == 0);
}

static void vd__fft_query_device(vd_fft *p) {
    const vd_device_info *d = vd_device(p->base.ctx, 0);
    vd_facts facts = vd__plan_facts(d);
    p->device.threads = vd__plan_max_threads(d);
    p->device.shared = d->limits.max_shared_bytes / vc_type_size(p->real);
    p->device.private_words = d->limits.max_private_bytes / vc_type_size(p->real);
    p->device.groups_as_loops = facts.groups_as_loops;
    p->device.wide = p->real == VC_F64;
    for (uint32_t r = 1; r <= VD__FFT_RADIX; r++) p->device.operations[r] = vd__fft_count_operations(r);
    p->device.multiprocessors = (uint32_t)vd__ceil_div(facts.concurrent_groups, 4); /* see vd_facts */
    p->device.complex_as_words = facts.lane_access && d->features & VD_FEATURE_I64 && p->real == VC_F32;
    if (p->device.complex_as_words && d->features & VD_FEATURE_SUBGROUP
        && d->limits.min_subgroup_size == d->limits.max_subgroup_size)
        p->device.shuffle_lanes = d->limits.min_subgroup_size;
}

static vd_result vd__fft_make_buffers(vd_fft *p) {
    static const char *const names[] = { "", "", "fft temporary 1", "fft temporary 2", "fft temporary 3" };
    vd_result result = vd__fft_make_tables(p);
    if (!result) result = vd__fft_upload_tables(p);
    vd__fft_free(&p->base.allocator, p->table);
    p->table = NULL;
    for (uint32_t i = 0; i < vd__fft_pass_count(p) && !result; i++) {
        vd__fft_role to = vd__fft_pass_at(p, i)->end[1].role;
        if (to < VD__FFT_TEMP || p->temporary[to].id) continue;
        p->temporary[to] = vd_plan_buffer(&p->base, names[to], (vd_type)vd__fft_element_type(p->real, p->scalar[to]),
                                          p->layout[to].span, NULL);
        if (!p->temporary[to].id) result = vd_error_result();
    }
    return result ? result : vd__chirp_generate_all(p);
}

/* Desc of a plan with estimated shapes. */
typedef struct vd__fft_request {
    const char *name;
    const vd_fft_desc *desc;
    const vd__fft_convolution *convolution; /* NULL: transforms without a convolution */
} vd__fft_request;

/* Does not create the tables and the intermediate buffers. */
static vd_result vd__fft_make_estimated(void *plan, const void *user_request) {
    vd_fft *p = (vd_fft *)plan;
    const vd__fft_request *request = (const vd__fft_request *)user_request;
    if (request->convolution) p->convolution = *request->convolution;
    vd_result result = vd__fft_check_desc(p, request->desc);
    if (result) return result;
    vd__fft_query_device(p);
    p->device.few = vd__fft_has_few_elements(p);
    result = vd__fft_try_hooks(p);
    if (result) return result;
    if (request->desc->engine) return vd__vkfft_make(p);
    p->memo = (vd__fft_memo *)vd__fft_allocate(&p->base.allocator, sizeof *p->memo);
    if (!p->memo) return vd__fft_no_memory();
    result = request->convolution ? vd__fft_plan_convolution(p) : vd__fft_plan_axes(p, VD_FFT_FORWARD);
    if (!result && !request->convolution && p->kind > VD_FFT_COMPLEX) result = vd__fft_plan_axes(p, VD_FFT_INVERSE);
    vd__fft_free(&p->base.allocator, p->memo);
    p->memo = NULL;
    for (uint32_t i = 0; i < vd__fft_pass_count(p) && !p->device.groups_as_loops; i++)
        vd__fft_choose_pads(&p->device, &vd__fft_pass_at(p, i)->shape);
    return result;
}

static const vd_plan_kind vd__fft_estimated_kind = {
    "fft", sizeof(vd_fft), sizeof(vd__fft_request), vd__fft_make_estimated, vd__fft_release, vd__fft_detach
};

static vd__fft_request vd__fft_request_of(const vd_fft_desc *desc, const vd__fft_convolution *convolution) {
    vd__fft_request request;
    request.name = desc->name;
    request.desc = desc;
    request.convolution = convolution;
    return request;
}

/* The plan has no tables and intermediate buffers. */
static vd_result vd__fft_new_estimated(vd_context *ctx, const vd_fft_desc *desc, const vd__fft_convolution *convolution,
                                       vd_fft **out) {
    vd__fft_request request = vd__fft_request_of(desc, convolution);
    *out = (vd_fft *)vd__plan_new(ctx, &vd__fft_estimated_kind, &request);
    return *out ? VD_OK : vd_error_result();
}

static vd_result vd__fft_tune(vd_fft *p, const vd_fft_desc *desc, const vd__fft_convolution *convolution) {
    vd_result result = vd__fft_override_all(p);
    if (!result) vd__fft_measure_all(p, desc, convolution);
    return result;
}

static vd_result vd__fft_new_tuned(vd_context *ctx, const vd_fft_desc *desc, const vd__fft_convolution *convolution,
                                   vd_fft **out) {
    vd_result result = vd__fft_new_estimated(ctx, desc, convolution, out);
    if (!result) result = vd__fft_tune(*out, desc, convolution);
    if (!result) return VD_OK;
    vd_fft_destroy(*out);
    *out = NULL;
    return result;
}

static vd_result vd__fft_make(void *plan, const void *user_desc) {
    vd_fft *p = (vd_fft *)plan;
    const vd_fft_desc *desc = (const vd_fft_desc *)user_desc;
    vd__fft_request request = vd__fft_request_of(desc, NULL);
    vd_result result = vd__fft_make_estimated(p, &request);
    if (result || desc->engine) return result;
    result = vd__fft_tune(p, desc, NULL);
    return result ? result : vd__fft_make_buffers(p);
}

static void vd__fft_detach(void *plan) { vd__vkfft_destroy((vd_fft *)plan); }

static void vd__fft_release(void *plan) {
    vd_fft *p = (vd_fft *)plan;
    vd__vkfft_destroy(p);
    vd__fft_free(&p->base.allocator, p->source);
    vd__fft_free(&p->base.allocator, p->timing);
}

/* The measured time of the first route in milliseconds, or 0 if one of its passes was not measured. */
static double vd__fft_measured_ms(const vd_fft *p) {
    double sum = 0;
    for (uint32_t i = 0; i < p->route[0].count; i++) {
        if (!p->timing || !p->timing[i].times.count) return 0;
        sum += (double)p->timing[i].times.ms[0];
    }
    return sum;
}

/* Measures a convolution with other numbers of parts whose estimated time is at most 10 % (without parts: 40 %) above
   that of the plan, and replaces the plan by one that is at least 1 % faster. */
static void vd__fft_measure_parts(const vd_fft_desc *desc, const vd__fft_convolution *convolution, vd_fft **plan) {
    vd__fft_convolution c = *convolution;
    double estimate = (*plan)->estimate;
    uint32_t planned_parts = (*plan)->convolution.parts;
    if (c.parts || estimate <= 0 || vd__fft_measured_ms(*plan) <= 0) return;
    for (c.parts = 1; c.parts <= VD__FFT_RADIX; c.parts++) {
        vd_fft *other = NULL;
        if (c.parts == planned_parts || vd__fft_new_estimated((*plan)->base.ctx, desc, &c, &other)) continue;
        if (other->convolution.parts == c.parts && other->estimate < (c.parts == 1 ? 1.4 : 1.1) * estimate) {
            vd_fft_destroy(other);
            if (vd__fft_new_tuned((*plan)->base.ctx, desc, &c, &other)) continue;
            double ms = vd__fft_measured_ms(other);
            if (ms > 0 && ms < 0.99 * vd__fft_measured_ms(*plan)) {
                vd_fft *slower = *plan;
                *plan = other;
                other = slower;
            }
        }
        vd_fft_destroy(other);
    }
}

/* Creates a plan of transforms or, if `convolution` is not NULL, of forward transforms, products with the spectra and
   inverse transforms. */
static vd_result vd__fft_new(vd_context *ctx, const vd_fft_desc *desc, const vd__fft_convolution *convolution,
                             vd_fft **out) {
    vd_fft *p = NULL;
    vd_result result = vd__fft_new_tuned(ctx, desc, convolution, &p);
    if (result) return result;
    if (convolution) vd__fft_measure_parts(desc, convolution, &p);
    if (!desc->engine) result = vd__fft_make_buffers(p);
    if (result) vd_fft_destroy(p);
    else *out = p;
    return result;
}

VD_API vd_fft *vd_fft_create(vd_context *ctx, const vd_fft_desc *desc) {
    return (vd_fft *)vd_plan_create(ctx, &vd__fft_kind, "vd_fft_create", desc);
}

VD_API void vd_fft_destroy(vd_fft *p) { vd_plan_destroy(p); }

VD__FFT_SMALL_END

static vd_result vd__fft_check_in_place(const vd_fft *p) {
    const vd__fft_layout *in = &p->layout[VD__FFT_IN], *out = &p->layout[VD__FFT_OUT];
    if (p->kind == VD_FFT_REAL && !vd__real_fits_in_place(p))
        return vd_error_set(VD_ERROR_INVALID, "running in place requires that each row of reals begins where its "
                            "bins begin (see desc.padded), but the strides are { %s } and { %s }",
                            vd__shape_text_of(in->stride, p->dimensions, ", ").text,
                            vd__shape_text_of(out->stride, p->dimensions, ", ").text);
    if (p->kind != VD_FFT_REAL && memcmp(in, out, offsetof(vd__fft_layout, start)) != 0)
        return vd_error_set(VD_ERROR_INVALID, "running in place requires equal counts and strides, but in has %s "
                            "elements with strides { %s } and out has %s elements with strides { %s }",
                            vd__shape_text_of(in->count, p->dimensions, " x ").text,
                            vd__shape_text_of(in->stride, p->dimensions, ", ").text,
                            vd__shape_text_of(out->count, p->dimensions, " x ").text,
                            vd__shape_text_of(out->stride, p->dimensions, ", ").text);
    if (p->stored[VD__FFT_IN] != p->stored[VD__FFT_OUT])
        return vd_error_set(VD_ERROR_INVALID, "running in place requires equal types, but in_type is %s and "
                            "out_type is %s", vc_type_name(p->stored[VD__FFT_IN]),
                            vc_type_name(p->stored[VD__FFT_OUT]));
    return VD_OK;
}

/* in, out: the roles of input and output. If a buffer is {0} because hooks do not use it, its role has another buffer
   as a placeholder, which is not checked. */
static vd_result vd__fft_check_io(const vd_fft *p, const vd_fft_io *io, vd_plan_role *roles, vd__fft_role in,
                                  vd__fft_role out) {
    bool reads = !p->hooks.ignores_input[io->direction] || io->in.id,
         writes = !p->hooks.stores_nothing[io->direction] || io->out.id;
    vd_buffer from = roles[in].buffer, to = roles[out].buffer;
    bool in_place = reads && writes && from.id && vd__fft_same_begin(p->base.ctx, from, to);
    vd_result result = VD_OK;
    if (p->in_overlaps && out == VD__FFT_IN)
        result = vd_error_set(VD_ERROR_INVALID, "in_stride is { %s }, so the reals overlap and the inverse cannot "
                              "write them",
                              vd__shape_text_of(p->layout[VD__FFT_IN].stride, p->dimensions, ", ").text);
    if (!result && in_place) result = vd__fft_check_in_place(p);
    if (!result && reads) result = vd__fft_check_buffer(p->base.ctx, from, "in", vd__fft_bytes(p, in));
    const char *padded = "out, in place: its rows need padding, see desc.padded";
    if (!result && writes)
        result = vd__fft_check_buffer(p->base.ctx, to, in_place && p->kind == VD_FFT_REAL ? padded : "out",
                                      vd__fft_bytes(p, out));
    if (!result && p->paired) result = vd__real_check_alignment(p, roles[VD__FFT_IN].buffer);
    if (!result && reads && writes) result = vd__plan_check_overlap(p->base.ctx, from, "in", to, "out", true);
    if (in_place) roles[out].buffer = from;
    return result;
}

static vd_result vd__fft_run(void *plan, vd_list *list, const void *user) {
    vd_fft *p = (vd_fft *)plan;
    const vd_fft_io *user_io = (const vd_fft_io *)user;
    vd_plan_role roles[VD__FFT_ALL_ROLES];
    vd_plan_io io = vd__plan_io_of(roles, 0);
    vd_result result = VD__CHECK_ENUM(user_io->direction, "direction", VD_FFT_INVERSE);
    if (result) return result;
    vd__fft_role in = p->kind == VD_FFT_REAL && user_io->direction ? VD__FFT_OUT : VD__FFT_IN;
    vd__fft_role out = in == VD__FFT_IN ? VD__FFT_OUT : VD__FFT_IN;
    vd__fft_roles(p, roles);
    /* If hooks do not use a buffer, which may then be {0}, the kernel argument needs a placeholder. */
    bool reads = user_io->in.id || !p->hooks.ignores_input[user_io->direction];
    bool writes = user_io->out.id || !p->hooks.stores_nothing[user_io->direction];
    roles[in].buffer = reads ? user_io->in : p->tables;
    roles[out].buffer = user_io->out.id ? user_io->out : writes ? user_io->in : p->tables;
    result = vd__fft_check_io(p, user_io, roles, in, out);
    io.args = user_io->args;
    io.arg_count = user_io->arg_count;
    if (!result) result = vd_plan_check(&p->base, &io);
    if (!result && p->vkfft) return vd__vkfft_run(p, list, user_io, roles[out].buffer);
    return result ? result : vd__fft_run_all(p, list, (uint32_t)user_io->direction, &io);
}

VD_API vd_result vd_fft_run(vd_fft *p, vd_list *list, const vd_fft_io *io) {
    return vd_plan_run(p, "vd_fft_run", vd__fft_run, list, io);
}

VD_API vd_result vd_fft_forward(vd_context *ctx, vd_buffer buffer) {
    return vd__fft_call(ctx, "vd_fft_forward", buffer, 1, VD_FFT_FORWARD);
}
VD_API vd_result vd_fft_inverse(vd_context *ctx, vd_buffer buffer) {
    return vd__fft_call(ctx, "vd_fft_inverse", buffer, 1, VD_FFT_INVERSE);
}
VD_API vd_result vd_fft_2d(vd_context *ctx, vd_buffer buffer, vd_fft_direction direction) {
    return vd__fft_call(ctx, "vd_fft_2d", buffer, 2, direction);
}
VD_API vd_result vd_fft_3d(vd_context *ctx, vd_buffer buffer, vd_fft_direction direction) {
    return vd__fft_call(ctx, "vd_fft_3d", buffer, 3, direction);
}

VD_API vd_result vd_fft_real_forward(vd_context *ctx, vd_buffer reals, vd_buffer bins) {
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_fft_real_forward", &scope);
    return vd__call_result(&scope, vd__real_simple(ctx, reals, bins, VD_FFT_FORWARD));
}
VD_API vd_result vd_fft_real_inverse(vd_context *ctx, vd_buffer bins, vd_buffer reals) {
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_fft_real_inverse", &scope);
    return vd__call_result(&scope, vd__real_simple(ctx, reals, bins, VD_FFT_INVERSE));
}

VD__FFT_SMALL

/* Sum of the sizes of the buffers that a plan owns. */
static uint64_t vd__plan_memory(const vd_plan *p) {
    uint64_t bytes = 0;
    vd_buffer_info info;
    for (const struct vd__plan_object *o = p->ctx ? p->objects : NULL; o; o = o->next)
        if (o->buffer.id && !vd_buffer_query(p->ctx, o->buffer, &info)) bytes += info.size;
    return bytes;
}

VD_API uint64_t vd_fft_memory(const vd_fft *p) { return p ? vd__plan_memory(&p->base) : 0; }

/* vd_fft_source or vd_convolve_source. owner: the plan that is named in errors. */
static const char *vd__fft_source(const char *call, const vd_plan *owner, vd_fft *p, const vd_fft_step *step,
                                  vc_target target) {
    vd_callback_scope scope;
    vd_callback_scope_begin(owner ? owner->ctx : NULL, call, &scope);
    if (p) vd__fft_keep_source(p, NULL);
    vd_result result = p ? VD_OK : vd_error_set(VD_ERROR_INVALID, "plan is NULL");
    if (p && p->base.ctx && !p->convolution.batch && step && step->in_place) result = vd__fft_check_in_place(p);
    if (!result) result = vd__fft_make_source(p, step, target);
    if (result) vd_error_amend(result, call, owner ? owner->name : "", NULL);
    vd_callback_scope_end(&scope);
    return result ? NULL : p->source;
}

VD_API const char *vd_fft_source(vd_fft *p, const vd_fft_step *step, vc_target target) {
    return vd__fft_source("vd_fft_source", p ? &p->base : NULL, p, step, target);
}

VD_API const vd_arg_info *vd_fft_arguments(const vd_fft *p, int *count) {
    return vd__plan_arguments("vd_fft_arguments", p, count);
}

/* ---- transforms inside of a kernel of the caller ---- */

enum { VD__FFT_GROUP_ELEMENTS = 65536 }; /* limit of n on a CPU */

/* fft: a plan of one pass, of which only the shape and the tables are used. */
struct vd_fft_group { vd_fft fft; vd__fft_writer writer; };

/* Exchanges by shuffles are excluded: they require certain invocations in each subgroup. */
static vd_result vd__fft_group_shape(vd_fft *p, const vd_fft_group_desc *desc) {
    vd__fft_pass *pass = &p->route[0].pass[0];
    vd__fft_shape *s = &pass->shape;
    vd__fft_query_device(p);
    p->device.shuffle_lanes = 0;
    p->route[0].count = 1;
    s->axes = 1;
    s->size[0] = desc->n;
    s->convolves = true; /* tables of both directions */
    if (!vd__fft_is_smooth(desc->n, 31))
        return vd_error_set(VD_ERROR_UNSUPPORTED, "n is %u, but must have no prime factors above 31", desc->n);
    uint32_t limit = p->device.groups_as_loops ? (uint32_t)VD__FFT_GROUP_ELEMENTS
                     : p->device.wide          ? (uint32_t)VD__FFT_MAX_POINTS / 2
                                               : (uint32_t)VD__FFT_MAX_POINTS;
    if (desc->n > limit)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "n is %u, but the limit is %u", desc->n, limit);
    if (vd__fft_choose_shape(&p->device, desc->transforms ? desc->transforms : 1, 1, 1, s)
        && vd__fft_values_per_thread(s) <= VD_FFT_GROUP_VALUES) {
        if (!p->device.groups_as_loops) vd__fft_choose_pads(&p->device, s);
        return VD_OK;
    }
    return vd_error_set(VD_ERROR_UNSUPPORTED, "n is %u, but a work-group of this device has too few invocations, "
                        "registers or bytes of shared memory (%u) for it", desc->n,
                        p->device.shared * vc_type_size(p->real));
}

static vd_result vd__fft_group_make(void *plan, const void *user_desc) {
    vd_fft *p = &((vd_fft_group *)plan)->fft;
    const vd_fft_group_desc *desc = (const vd_fft_group_desc *)user_desc;
    if (!desc->n) return vd_error_set(VD_ERROR_INVALID, "n is 0");
    if (desc->type && desc->type != VD_F32 && desc->type != VD_F64)
        return vd_error_set(VD_ERROR_INVALID, "type is %s, but must be f32 or f64", vd_type_name(desc->type));
    if (desc->type == VD_F64 && !(vd_device(p->base.ctx, 0)->features & VD_FEATURE_F64))
        return vd_error_set(VD_ERROR_UNSUPPORTED, "type is f64, but the device does not support f64");
    p->real = desc->type ? (vc_type)desc->type : (vc_type)VC_F32;
    vd_result result = vd__fft_group_shape(p, desc);
    return result ? result : vd__fft_make_buffers(p);
}

static const vd_plan_kind vd__fft_group_kind = {
    "fft_table", sizeof(vd_fft_group), sizeof(vd_fft_group_desc), vd__fft_group_make, vd__fft_release, NULL
};

VD_API vd_fft_group *vd_fft_group_create(vd_context *ctx, const vd_fft_group_desc *desc) {
    return (vd_fft_group *)vd_plan_create(ctx, &vd__fft_group_kind, "vd_fft_group_create", desc);
}

VD_API void vd_fft_group_destroy(vd_fft_group *group) { vd_plan_destroy(group); }

/* Adds the call to an error. g may be NULL. */
static vd_result vd__fft_group_error(const vd_fft_group *g, const char *call, vd_result result) {
    if (result) vd_error_amend(result, call, g ? g->fft.base.name : "", NULL);
    return result;
}

VD_API vd_result vd_fft_group_query(const vd_fft_group *g, vd_fft_group_info *out) {
    if (!g || !out)
        return vd__fft_group_error(g, "vd_fft_group_query",
                                   vd_error_set(VD_ERROR_INVALID, "%s is NULL", g ? "out" : "group"));
    const vd__fft_shape *s = &g->fft.route[0].pass[0].shape;
    out->n = s->n;
    out->transforms = s->ffts_per_group;
    out->invocations = s->threads * s->ffts_per_group;
    out->values = vd__fft_values_per_thread(s);
    out->table = g->fft.tables;
    return VD_OK;
}

static vd_result vd__fft_group_start(vd_fft_group *g, vc_kernel *k) {
    vd_fft_group_info info;
    vd__fft_writer *w = &g->writer;
    vd_fft_group_query(g, &info);
    memset(w, 0, sizeof *w);
    if (!k) return vd_error_set(VD_ERROR_INVALID, "k is NULL");
    if (vc_invocations(k) != info.invocations)
        return vd_error_set(VD_ERROR_INVALID, "the kernel has work-groups of %u invocations, but the transform needs "
                            "%u (vd_fft_group_info.invocations)", vc_invocations(k), info.invocations);
    w->k = k;
    w->plan = &g->fft;
    w->pass = &g->fft.route[0].pass[0];
    w->shape = &w->pass->shape;
    w->real = g->fft.real;
    vd__fft_declare_shared(w);
    bool words = w->plan->device.complex_as_words;
    w->table = vc_buffer(k, g->fft.base.name, words ? (vc_type)VC_U64 : vd__fft_complex_type(w->real),
                         words ? VC_READ | VC_ANY_TYPE : VC_READ);
    vd__fft_assign_threads(w);
    return vc_error(k) ? vd_error_set(VD_ERROR_COMPILE, "%s", vc_error(k)) : VD_OK;
}

VD_API vd_result vd_fft_group_begin(vd_fft_group *g, vc_kernel *k) {
    return vd__fft_group_error(g, "vd_fft_group_begin",
                               g ? vd__fft_group_start(g, k) : vd_error_set(VD_ERROR_INVALID, "group is NULL"));
}

/* Whether a kernel was begun; sets the error if not. */
static bool vd__fft_group_is_begun(const vd_fft_group *g, const char *call) {
    if (g && g->writer.k) return true;
    vd__fft_group_error(g, call, vd_error_set(VD_ERROR_INVALID,
                                              g ? "no kernel was begun: vd_fft_group_begin was not called, or failed"
                                                : "group is NULL"));
    return false;
}

/* The element that value i is: before the first stage or, with `last`, after the last one. exists is false if the
   invocation has no value i there, for example because that stage has fewer values. */
static vd_fft_slot vd__fft_group_slot_of(vd_fft_group *g, const char *call, bool last, uint32_t i) {
    vd_fft_slot slot;
    vd__fft_writer *w = &g->writer;
    bool partly;
    memset(&slot, 0, sizeof slot);
    if (!vd__fft_group_is_begun(g, call)) return slot;
    vd__fft_stage_info s = vd__fft_stage_info_of(w->shape, 0, last ? w->shape->stages - 1 : 0);
    uint32_t u = i / s.radix, j = i % s.radix;
    bool none = u >= s.butterflies;
    vc_val b = vd__fft_butterfly_index(w, &s, none ? 0 : u, &partly), count = vc_u32(w->shape->n / s.radix);
    slot.transform = vc_const(w->k, w->transform_in_group[0]);
    slot.exists = vc_const(w->k, none ? vc_bool(false) : partly ? vc_lt(b, count) : vc_bool(true));
    b = vd__fft_butterfly_index_clamped(w, &s, none ? 0 : u);
    slot.index = vc_const(w->k, vd__add_u32(b, j * (w->shape->n / s.radix)));
    return slot;
}

VD_API vd_fft_slot vd_fft_group_slot(vd_fft_group *g, uint32_t i) {
    return vd__fft_group_slot_of(g, "vd_fft_group_slot", false, i);
}

VD_API vd_fft_slot vd_fft_group_spectrum_slot(vd_fft_group *g, uint32_t i) {
    return vd__fft_group_slot_of(g, "vd_fft_group_spectrum_slot", true, i);
}

static vd_result vd__fft_group_take(vd_fft_group *g, const vd__fft_stage_info *s, const vd_fft_value *values) {
    vd__fft_writer *w = &g->writer;
    for (uint32_t i = 0; i < s->butterflies * s->radix; i++) {
        for (int part = 0; part < 2; part++) {
            vc_val v = part ? values[i].im : values[i].re;
            if (!v.owner || vc_typeof(v) != w->real)
                return vd_error_set(VD_ERROR_INVALID, "values[%u].%s is %s, but must be a value of type %s", i,
                                    part ? "im" : "re", v.owner ? vc_type_name(vc_typeof(v)) : "not set",
                                    vc_type_name(w->real));
        }
        /* butterflies omit operations on an immediate of 0 */
        w->x[i] = vd__fft_complex(vc_const(w->k, values[i].re), vd__fft_is_zero(values[i].im)
                                                                    ? values[i].im
                                                                    : vc_const(w->k, values[i].im));
    }
    return VD_OK;
}

static vd_result vd__fft_group_run(vd_fft_group *g, vd_fft_direction direction, vd_fft_value *values) {
    vd__fft_writer *w = &g->writer;
    uint32_t inverse = direction == VD_FFT_INVERSE;
    if (!values) return vd_error_set(VD_ERROR_INVALID, "values is NULL");
    vd_result result = VD__CHECK_ENUM(direction, "direction", VD_FFT_INVERSE);
    if (result) return result;
    vd__fft_stage_info first = vd__fft_stage_info_of(w->shape, inverse, 0),
                       last = vd__fft_stage_info_of(w->shape, inverse, w->shape->stages - 1);
    result = vd__fft_group_take(g, &first, values);
    if (result) return result;
    w->half_in_use[0] = w->half_in_use[1] = w->shape->stages > 1; /* in a loop, by the iteration before */
    w->buffers_ordered = false;
    if (inverse) vd__fft_swap_all(w, &first);
    vd__fft_stages(w, inverse, false);
    if (inverse) vd__fft_swap_all(w, &last);
    for (uint32_t i = 0; i < last.butterflies * last.radix; i++) {
        values[i].re = w->x[i].re;
        values[i].im = w->x[i].im;
    }
    return vc_error(w->k) ? vd_error_set(VD_ERROR_COMPILE, "%s", vc_error(w->k)) : VD_OK;
}

VD_API vd_result vd_fft_group_transform(vd_fft_group *g, vd_fft_direction direction, vd_fft_value *values) {
    static const char call[] = "vd_fft_group_transform";
    if (!vd__fft_group_is_begun(g, call)) return vd_error_result();
    return vd__fft_group_error(g, call, vd__fft_group_run(g, direction, values));
}

/* ---- padded rows of reals, for real transforms in place ---- */

/* vd_fft_padded_buffer_create; errors do not contain the call. */
static vd_result vd__padded_buffer_make(vd_context *ctx, const uint64_t shape[4], vd_fft_padded_buffer *out) {
    vd_buffer_desc desc;
    vd_view_desc view;
    uint32_t dimensions;
    uint64_t elements;
    if (!ctx || !shape || !out)
        return vd_error_set(VD_ERROR_INVALID, "%s is NULL", !ctx ? "ctx" : !shape ? "shape" : "out");
    memset(out, 0, sizeof *out);
    vd_result result = vd__fft_check_shape(shape, 0, UINT32_MAX, &dimensions, &elements);
    if (result) return result;
    uint32_t last = dimensions - 1;
    memset(&desc, 0, sizeof desc);
    memset(&view, 0, sizeof view);
    desc.name = "rows of reals";
    desc.type = VD_F32;
    memcpy(desc.shape, shape, sizeof desc.shape);
    desc.shape[last] = 2 * (shape[last] / 2 + 1);
    out->reals = vd_buffer_create(ctx, &desc);
    if (!out->reals.id) return vd_error_result();
    view.name = "rows of bins";
    view.buffer = out->reals;
    view.type = VD_F32C;
    memcpy(view.shape, desc.shape, sizeof view.shape);
    view.shape[last] /= 2;
    out->bins = vd_buffer_view(ctx, &view);
    memcpy(out->shape, shape, sizeof out->shape);
    if (out->bins.id) return VD_OK;
    result = vd_error_result();
    vd_fft_padded_buffer_destroy(ctx, out);
    return result;
}

VD_API vd_result vd_fft_padded_buffer_create(vd_context *ctx, const uint64_t shape[4], vd_fft_padded_buffer *out) {
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_fft_padded_buffer_create", &scope);
    return vd__call_result(&scope, vd__padded_buffer_make(ctx, shape, out));
}

VD_API void vd_fft_padded_buffer_destroy(vd_context *ctx, vd_fft_padded_buffer *rows) {
    if (!rows) return;
    vd_buffer_destroy(ctx, rows->bins);
    vd_buffer_destroy(ctx, rows->reals);
    memset(rows, 0, sizeof *rows);
}

static vd_result vd__padded_buffer_region(vd_context *ctx, const vd_fft_padded_buffer *rows, const void *data,
                                          vd_region_desc *out) {
    uint32_t i, last = 0;
    if (!ctx || !rows || !data)
        return vd_error_set(VD_ERROR_INVALID, "%s is NULL", !ctx ? "ctx" : !rows ? "rows" : "data");
    memset(out, 0, sizeof *out);
    out->buffer = rows->reals;
    for (i = 0, out->rows = 1; i < 4 && rows->shape[i]; i++) {
        if (i) out->rows *= rows->shape[last];
        last = i;
    }
    out->row_bytes = rows->shape[last] * sizeof(float);
    out->pitch = 2 * (rows->shape[last] / 2 + 1) * sizeof(float);
    return VD_OK;
}

VD_API vd_result vd_fft_padded_buffer_write(vd_context *ctx, const vd_fft_padded_buffer *rows, const float *data) {
    vd_region_desc region;
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_fft_padded_buffer_write", &scope);
    vd_result result = vd__padded_buffer_region(ctx, rows, data, &region);
    if (!result) result = vd_buffer_write_region(ctx, &region, data);
    return vd__call_result(&scope, result);
}

VD_API vd_result vd_fft_padded_buffer_read(vd_context *ctx, const vd_fft_padded_buffer *rows, float *data) {
    vd_region_desc region;
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_fft_padded_buffer_read", &scope);
    vd_result result = vd__padded_buffer_region(ctx, rows, data, &region);
    if (!result) result = vd_buffer_read_region(ctx, &region, data);
    return vd__call_result(&scope, result);
}

/* vd_fft_shift; errors do not contain the call. */
static vd_result vd__shift_simple(vd_context *ctx, vd_buffer in, vd_buffer out, uint32_t axes,
                                  vd_fft_direction direction) {
    vd__shift_desc desc;
    vd_buffer io[2];
    vd_buffer_info info;
    vd_result result = vd__fft_query(ctx, in, "in", &info);
    if (result) return result;
    memset(&desc, 0, sizeof desc);
    desc.element_bytes = vd_type_size(info.type);
    if (desc.element_bytes != 4 && desc.element_bytes != 8 && desc.element_bytes != 16)
        return vd_error_set(VD_ERROR_INVALID, "buffer '%s' (in) has type %s, but elements of 4, 8 or 16 bytes are "
                            "expected", info.name, vd_type_name(info.type));
    result = vd__fft_check_axes(info.shape, axes, 4);
    if (!result) result = VD__CHECK_ENUM(direction, "direction", VD_FFT_INVERSE);
    if (result) return result;
    if (in.id == out.id) return vd_error_set(VD_ERROR_INVALID, "in and out are the same buffer");
    uint64_t limit = vd_device(ctx, 0)->features & VD_FEATURE_I64 ? VD__SHIFT_ELEMENTS : (uint64_t)UINT32_MAX;
    if (info.size / desc.element_bytes > limit)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "buffer '%s' has %llu elements, but the limit is %llu%s", info.name,
                            (unsigned long long)(info.size / desc.element_bytes), (unsigned long long)limit,
                            limit == UINT32_MAX ? " without 64-bit integers (VD_FEATURE_I64)" : "");
    result = vd__fft_check_buffer(ctx, out, "out", info.size);
    if (!result)
        result = vd__plan_check_overlap(ctx, in, "in", out, "out", false);
    if (result) return result;
    memcpy(desc.shape, info.shape, sizeof desc.shape);
    desc.axes = axes ? axes : 15;
    desc.direction = direction;
    io[0] = in;
    io[1] = out;
    return vd_plan_run_cached(ctx, &vd__shift_kind, vd__shift_run, &desc, io);
}

VD_API vd_result vd_fft_shift(vd_context *ctx, vd_buffer in, vd_buffer out, uint32_t axes, vd_fft_direction direction) {
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_fft_shift", &scope);
    return vd__call_result(&scope, vd__shift_simple(ctx, in, out, axes, direction));
}

VD_API void vd_fft_freq(uint64_t n, double spacing, double *out) {
    for (uint64_t i = 0; out && i < n; i++)
        out[i] = (i < (n + 1) / 2 ? (double)i : -(double)(n - i)) / ((double)n * spacing);
}

VD_API uint64_t vd_fft_good_size(uint64_t n) { return vd__fft_next_smooth(n ? n : 1, 7); }

/* Where a text is printed: the end of the text so far, and the bytes from there on. */
typedef struct vd__fft_text { char *at; size_t size; } vd__fft_text;

/* Appends to a text, which is truncated if it is too long. */
static void vd__fft_print(vd__fft_text *text, const char *format, unsigned long long x) {
    int n = text->size > 1 ? snprintf(text->at, text->size, format, x) : 0;
    size_t used = n < 0 ? 0 : (size_t)n < text->size ? (size_t)n : text->size - 1;
    text->at += used;
    text->size -= used;
}

static void vd__real_print(vd__fft_text *text, const vd__real *r) {
    static const char *const classes[] = { "", "I", "II", "III", "IV" }; /* VD__REAL_ */
    char kind[32];
    uint32_t family = vd__real_family(r->kind);
    if (r->kind == VD_FFT_REAL) snprintf(kind, sizeof kind, r->two_rows ? " for packed reals" : " for reals");
    else
        snprintf(kind, sizeof kind, " for %s D%cT-%s", r->two_rows ? "packed" : "a",
                 vd__real_is_sine(r->kind) ? 'S' : 'C', classes[family]);
    vd__fft_print(text, kind, 0);
    vd__fft_print(text, " of %llu", r->n);
}

/* Such as "16x16+16/256/1/1". */
static void vd__fft_print_choice(vd__fft_text *text, const vd__fft_choice *c) {
    for (uint32_t i = 0; i < VD__FFT_STAGES && c->radix[i]; i++)
        vd__fft_print(text, !i ? "%llu" : c->register_exchange >> i & 1 ? "+%llu" : "x%llu", c->radix[i]);
    vd__fft_print(text, "/%llu", c->threads);
    vd__fft_print(text, "/%llu", c->ffts_per_group);
    vd__fft_print(text, "/%llu", c->slices);
}

/* Prints the predicted use of memory sectors by loads and by stores where it is below 100 %. If their rows are copied
   through shared memory, this is the use that direct accesses would have, and the bytes of the copies follow, once for
   an array that both share. Prints nothing if groups_as_loops is set. */
static void vd__fft_print_sectors(vd__fft_text *text, const vd_fft *p, const vd__fft_pass *pass) {
    static const char *const direct[2] = { ", loads use %llu %% of sectors", ", stores use %llu %% of sectors" };
    static const char *const copied[2] = { ", direct loads would use %llu %% of sectors",
                                           ", direct stores would use %llu %% of sectors" };
    vd__fft_tile tile[2];
    if (p->device.groups_as_loops) return;
    vd__fft_choose_tiles(p, pass, tile);
    bool one = vd__fft_tiles_share(tile);
    if (one && tile[1].elements > tile[0].elements) tile[0].elements = tile[1].elements;
    for (uint32_t i = 0; i < 2; i++) {
        double percent = floor(100 * vd__fft_sector_efficiency(p, pass, i != 0) + 0.5);
        /* copied rows have less than 100 %, see vd__fft_choose_tiles */
        if (percent < 100) vd__fft_print(text, tile[i].length ? copied[i] : direct[i], (unsigned long long)percent);
        if (one && i) vd__fft_print(text, ", so rows are copied through the same shared memory", 0);
        else if (tile[i].length)
            vd__fft_print(text, ", so rows are copied through %llu bytes of shared memory",
                          (unsigned long long)tile[i].elements * (tile[i].scalar ? 1 : 2) * vc_type_size(p->real));
    }
}

static void vd__fft_print_transforms(vd__fft_text *text, const vd__fft_pass *pass) {
    const vd__fft_shape *s = &pass->shape;
    bool single = s->n == 1 && vd__fft_has(pass, VD__STEP_SPECTRUM);
    const char *lines = vd__fft_is_columns(&pass->end[0].array) ? "columns of %llu" : "rows of %llu";
    vd__fft_print(text,
                  vd__fft_has(pass, VD__STEP_FOLD) ? "bins combined with their mirror images"
                  : single                         ? "single elements"
                                                   : lines,
                  s->size[0]);
    for (uint32_t j = 1; j < s->axes; j++) vd__fft_print(text, " by %llu", s->size[j]);
    if (pass->real.kind) vd__real_print(text, &pass->real);
    if (pass->bluestein_length)
        vd__fft_print(text, " (Bluestein for length %llu)", pass->bluestein_length);
    if (pass->chirp.n) {
        vd__fft_print(text, " (Bluestein for length %llu", pass->chirp.n);
        vd__fft_print(text, " with convolutions of %llu)", pass->chirp.m);
    }
}

/* Prints the shape of a pass after its length: " = 16 x 16 + 16, ...". The text between the radices of two stages says
   how they exchange values: "x" through shared memory; "by" the same, where the second stage begins the next axis; "+"
   in registers, also where an axis begins. */
static void vd__fft_print_shape(vd__fft_text *text, const vd_fft *p, const vd__fft_shape *s) {
    for (uint32_t j = 0; j < s->stages; j++) {
        const char *format = j == 0                          ? " = %llu"
                             : s->register_exchange >> j & 1 ? " + %llu"
                             : s->axis[j] != s->axis[j - 1]  ? " by %llu"
                                                             : " x %llu";
        vd__fft_print(text, format, s->radix[j]);
    }
    if (s->last_axis_first) vd__fft_print(text, ", last axis first", 0);
    vd__fft_print(text, s->threads == 1 ? ", %llu thread per transform" : ", %llu threads per transform", s->threads);
    vd__fft_print(text, s->ffts_per_group == 1 ? ", %llu transform per work-group" : ", %llu transforms per work-group",
                  s->ffts_per_group);
    if (s->slices > 1) vd__fft_print(text, ", exchange in %llu slices", s->slices);
    if (s->split_components) vd__fft_print(text, ", re and im exchanged separately", 0);
    vd__fft_print(text, ", %llu bytes of shared memory", vd__fft_shared_words(s) * vc_type_size(p->real));
}

/* Prints the steps of a pass, except loading, the first transform, storing, and those of Bluestein's algorithm in one
   pass. */
static void vd__fft_print_steps(vd__fft_text *text, const vd__fft_pass *pass) {
    static const struct { vd__pass_step step; const char *text[2]; } texts[] = { /* for inputs, for results */
        { VD__STEP_SPECTRUM, { "", ", multiplied by the spectrum" } },
        { VD__STEP_MAP, { "", ", map of the spectrum" } },
        { VD__STEP_CHIRP, { ", inputs times the chirp", ", results times the chirp" } },
        { VD__STEP_CHIRP_SPECTRUM, { "", ", multiplied by the spectrum of the chirp" } },
        { VD__STEP_INVERSE, { "", ", inverse transform" } },
        { VD__STEP_PARTS, { ", sum of %llu parts", ", stored as %llu parts" } },
        { VD__STEP_TWIDDLES, { ", inputs times twiddle factors of order %llu",
                              ", results times twiddle factors of order %llu" } }
    };
    size_t count = pass->bluestein_length ? 2 : sizeof texts / sizeof *texts;
    for (uint32_t i = 0; pass->step[i]; i++) {
        bool results = i > vd__fft_find_step(pass, VD__STEP_TRANSFORM), parts = pass->step[i] == VD__STEP_PARTS;
        for (size_t k = 0; k < count; k++)
            if (texts[k].step == (vd__pass_step)pass->step[i] || (parts && texts[k].step == VD__STEP_TWIDDLES))
                vd__fft_print(text, texts[k].text[results],
                              texts[k].step == VD__STEP_PARTS ? pass->copies : pass->twiddle_length);
    }
}

static void vd__fft_print_pass(vd__fft_text *text, const vd_fft *p, const vd__fft_pass *pass) {
    vd__fft_choice choice = vd__fft_choice_of(&pass->shape);
    vd__fft_print_transforms(text, pass);
    if (!vd__fft_has(pass, VD__STEP_FOLD)) {
        vd__fft_print_shape(text, p, &pass->shape);
        vd__fft_print_sectors(text, p, pass);
        vd__fft_print_steps(text, pass);
        vd__fft_print(text, ", shape ", 0);
        vd__fft_print_choice(text, &choice);
    }
    vd__fft_print(text, "\n", 0);
}

/* Prints the times of the fastest six choices and of the estimated one. */
static void vd__fft_print_timing(vd__fft_text *text, const vd__fft_timing *t) {
    vd__fft_print(text, t->times.from_cache ? "  measured earlier, %llu shapes:" : "  measured now, %llu shapes:",
                  t->times.count);
    char ms[32];
    for (uint32_t i = 0; i < t->times.count; i++) {
        if (i >= 6 && i != t->times.default_index) continue;
        vd__fft_print(text, i ? ", " : " ", 0);
        vd__fft_print_choice(text, &t->choice[i]);
        snprintf(ms, sizeof ms, " %.4g ms%s", (double)t->times.ms[i],
                 i == t->times.default_index ? " (estimated)" : "");
        vd__fft_print(text, ms, 0);
    }
    vd__fft_print(text, "\n", 0);
}

VD_API const char *vd_fft_explain(vd_fft *p) {
    if (!p) return "";
    vd__fft_text text = { p->text, sizeof p->text };
    if (p->route[0].count) p->text[0] = 0; /* without passes, the text is that of the engine VkFFT, or empty */
    for (uint32_t i = 0; i < vd__fft_pass_count(p); i++) {
        if (i == p->route[0].count) vd__fft_print(&text, "inverse:\n", 0);
        vd__fft_print_pass(&text, p, vd__fft_pass_at(p, i));
        if (p->timing && p->timing[i].times.count) vd__fft_print_timing(&text, &p->timing[i]);
    }
    return p->text;
}

/* ---- convolutions ---- */

VD_API vd_convolve *vd_convolve_create(vd_context *ctx, const vd_convolve_desc *desc) {
    return (vd_convolve *)vd_plan_create(ctx, &vd__convolve_kind, "vd_convolve_create", desc);
}

VD_API void vd_convolve_destroy(vd_convolve *p) { vd_plan_destroy(p); }

VD_API void vd_convolve_shape(const vd_convolve *p, uint64_t shape[3]) {
    static const uint64_t none[3] = { 0, 0, 0 };
    if (shape) memcpy(shape, p ? p->result : none, sizeof none);
}

VD__FFT_SMALL_END

static void vd__convolve_add_argument(vd_named_arg *args, int *count, const char *name, vd_buffer buffer) {
    args[*count].name = name;
    args[(*count)++].value = vd_b(buffer);
}

static vd_result vd__convolve_set_filter(void *plan, vd_list *list, const void *filter_buffer) {
    vd_convolve *p = (vd_convolve *)plan;
    vd_buffer filter = *(const vd_buffer *)filter_buffer;
    vd_named_arg args[3];
    vd_fft_io io;
    if (p->desc.map) return vd_error_set(VD_ERROR_INVALID, "the plan has a map instead of filters (desc.map)");
    vd_result result = vd__fft_check_buffer(
        p->base.ctx, filter, "filter", vd__convolve_bytes(p, p->desc.filter_shape, vd__convolve_filter_count(p)));
    if (result) return result;
    memset(&io, 0, sizeof io);
    io.args = args;
    vd__convolve_add_argument(args, &io.arg_count, "filter", filter);
    if (p->roots.id) vd__convolve_add_argument(args, &io.arg_count, "roots", p->roots);
    if (vd__convolve_thread_order_pass(p))
        vd__convolve_add_argument(args, &io.arg_count, "spectrum", p->run->spectrum);
    else io.out = p->run->spectrum;
    result = vd_fft_run(p->filter, list, &io);
    return result ? result : vd__convolve_add_pending(p, list);
}

VD_API vd_result vd_convolve_set_filter(vd_convolve *p, vd_list *list, vd_buffer filter) {
    return vd_plan_run(p, "vd_convolve_set_filter", vd__convolve_set_filter, list, &filter);
}

/* user: vd_convolve_io. */
static vd_result vd__convolve_run(void *plan, vd_list *list, const void *user) {
    vd_convolve *p = (vd_convolve *)plan;
    const vd_convolve_io *user_io = (const vd_convolve_io *)user;
    vd_buffer in = user_io->in, out = user_io->out;
    uint64_t in_bytes = vd__convolve_bytes(p, p->desc.shape, (uint64_t)p->desc.batch * p->desc.channels);
    uint64_t out_bytes = vd__convolve_bytes(p, p->result, (uint64_t)p->desc.batch * p->desc.filters);
    vd_named_arg args[VD_PLAN_MAX_ARGUMENTS]; /* the plan's own arguments, then the user's */
    vd_plan_role roles[VD__FFT_ALL_ROLES];
    vd_plan_io io = vd__plan_io_of(roles, 2);
    vd_result result = p->desc.map ? VD_OK : vd__convolve_check_filter_set(p, list);
    if (result) return result;
    if (user_io->arg_count < 0 || user_io->arg_count > VD__CONVOLVE_MAX_ARGUMENTS)
        return vd_error_set(VD_ERROR_INVALID, "arg_count is %d, but must be 0 to %d", user_io->arg_count,
                            (int)VD__CONVOLVE_MAX_ARGUMENTS);
    if (user_io->arg_count && !user_io->args)
        return vd_error_set(VD_ERROR_INVALID, "arg_count is %d, but args is NULL", user_io->arg_count);
    io.args = args;
    if (p->run->hooks.load) {
        vd__convolve_add_argument(args, &io.arg_count, "in", in);
        vd__convolve_add_argument(args, &io.arg_count, "out", out);
        if (p->roots.id) vd__convolve_add_argument(args, &io.arg_count, "roots", p->roots);
    }
    for (int i = 0; i < user_io->arg_count; i++) args[io.arg_count++] = user_io->args[i];
    vd__fft_roles(p->run, roles);
    roles[VD__FFT_IN] = vd__role_of("in", in, VD_BYTES, in_bytes, false);
    roles[VD__FFT_OUT] = vd__role_of("out", out, VD_BYTES, out_bytes, true);
    result = vd_plan_check(&p->run->base, &io);
    /* the hooks, of which a plan sets both or neither, access in and out as arguments; the kernels' own arguments then
       need a placeholder */
    if (p->run->hooks.load) roles[VD__FFT_IN].buffer = p->run->tables;
    if (p->run->hooks.store) roles[VD__FFT_OUT].buffer = p->run->tables;
    return result ? result : vd__fft_run_all(p->run, list, VD_FFT_FORWARD, &io);
}

VD_API vd_result vd_convolve_run_io(vd_convolve *p, vd_list *list, const vd_convolve_io *io) {
    return vd_plan_run(p, "vd_convolve_run_io", vd__convolve_run, list, io);
}

VD_API vd_result vd_convolve_run(vd_convolve *p, vd_list *list, vd_buffer in, vd_buffer out) {
    vd_convolve_io io;
    memset(&io, 0, sizeof io);
    io.in = in;
    io.out = out;
    return vd_plan_run(p, "vd_convolve_run", vd__convolve_run, list, &io);
}

VD_API const vd_arg_info *vd_convolve_arguments(const vd_convolve *p, int *count) {
    int own = p ? p->run->convolution.plan_arguments : 0; /* they come first */
    const vd_arg_info *all = vd__plan_arguments("vd_convolve_arguments", p ? p->run : NULL, count);
    if (all && count) *count -= own;
    return all ? all + own : NULL;
}

VD_API const char *vd_convolve_source(vd_convolve *p, const vd_fft_step *step, vc_target target) {
    return vd__fft_source("vd_convolve_source", p ? &p->base : NULL, p ? p->run : NULL, step, target);
}

VD_API const char *vd_convolve_explain(vd_convolve *p) { return p ? vd_fft_explain(p->run) : ""; }

VD_API uint64_t vd_convolve_memory(const vd_convolve *p) {
    return p ? vd__plan_memory(&p->base) + vd_fft_memory(p->run) + vd_fft_memory(p->filter) : 0;
}

/* vd_convolve_2d; errors do not contain the call. */
static vd_result vd__convolve_simple(vd_context *ctx, vd_buffer image, vd_buffer filter, vd_buffer out,
                                     vd_convolve_mode mode) {
    vd_convolve_desc desc;
    vd_buffer_info info[3];
    memset(&desc, 0, sizeof desc);
    vd_result result = vd__fft_query_f32(ctx, image, "image", &info[0]);
    if (!result) result = vd__fft_query_f32(ctx, filter, "filter", &info[1]);
    if (!result) result = vd__fft_query_f32(ctx, out, "out", &info[2]);
    if (result) return result;
    if (mode != VD_CONVOLVE_CENTRED && mode != VD_CONVOLVE_SAME)
        return vd_error_set(VD_ERROR_INVALID, "mode is %d, but must be VD_CONVOLVE_CENTRED or VD_CONVOLVE_SAME",
                            (int)mode);
    uint32_t image_dimensions = vd__fft_buffer_dimensions(&info[0], 2);
    uint32_t filter_dimensions = vd__fft_buffer_dimensions(&info[1], 2);
    if (filter_dimensions > 2)
        return vd_error_set(VD_ERROR_INVALID, "buffer '%s' (filter) is %u-dimensional, but must be 2-dimensional",
                            info[1].name, filter_dimensions);
    memcpy(desc.shape, &info[0].shape[image_dimensions - 2], 2 * sizeof(uint64_t));
    memcpy(desc.filter_shape, info[1].shape, 2 * sizeof(uint64_t));
    uint64_t batch = (image_dimensions > 2 ? info[0].shape[0] : 1) * (image_dimensions > 3 ? info[0].shape[1] : 1);
    if (batch > UINT32_MAX)
        return vd_error_set(VD_ERROR_UNSUPPORTED, "buffer '%s' (image) has %llu images, but the limit is %u",
                            info[0].name, (unsigned long long)batch, UINT32_MAX);
    result = vd__fft_check_buffer(ctx, out, "out", info[0].size); /* before the search for shapes, which can be long */
    if (result) return result;
    desc.batch = (uint32_t)batch;
    desc.mode = mode;
    desc.real = true;
    desc.name = "convolve_2d";
    vd__convolve_filter_io io;
    memset(&io, 0, sizeof io);
    io.io.in = image;
    io.io.out = out;
    io.filter = filter;
    return vd_plan_run_cached(ctx, &vd__convolve_kind, vd__convolve_set_and_run, &desc, &io);
}

VD_API vd_result vd_convolve_2d(vd_context *ctx, vd_buffer image, vd_buffer filter, vd_buffer out,
                                vd_convolve_mode mode) {
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_convolve_2d", &scope);
    return vd__call_result(&scope, vd__convolve_simple(ctx, image, filter, out, mode));
}

/* ---- reductions ---- */

VD_API vd_reduce *vd_reduce_create(vd_context *ctx, const vd_reduce_desc *desc) {
    return (vd_reduce *)vd_plan_create(ctx, &vd__reduce_kind, "vd_reduce_create", desc);
}

VD_API void vd_reduce_destroy(vd_reduce *p) { vd_plan_destroy(p); }

VD_API const vd_arg_info *vd_reduce_arguments(const vd_reduce *p, int *count) {
    return vd__plan_arguments("vd_reduce_arguments", p, count);
}

VD_API vd_result vd_reduce_run_io(vd_reduce *p, vd_list *list, const vd_reduce_io *io) {
    return vd_plan_run(p, "vd_reduce_run_io", vd__reduce_run, list, io);
}

VD_API vd_result vd_reduce_run(vd_reduce *p, vd_list *list, vd_buffer in, vd_buffer out) {
    vd_reduce_io io;
    memset(&io, 0, sizeof io);
    io.in = in;
    io.out = out;
    return vd_plan_run(p, "vd_reduce_run", vd__reduce_run, list, &io);
}

/* Sets *type to the type of a buffer for indices or, if it is not VD_U32 or VD_U64, to the default. */
static vd_result vd__fft_query_indices(vd_context *ctx, vd_buffer b, const char *name, vd_type *type) {
    vd_buffer_info info;
    vd_result result = vd__fft_query(ctx, b, name, &info);
    if (!result && (info.type == VD_U32 || info.type == VD_U64)) *type = info.type;
    return result;
}

/* Reduces all elements of a buffer. in_b is used only for VD_REDUCE_DOT, extra_out only for VD_REDUCE_VARIANCE. */
static vd_result vd__reduce_whole(vd_context *ctx, vd_reduce_op op, vd_buffer in, vd_buffer in_b, vd_buffer out,
                                  vd_buffer extra_out) {
    vd_reduce_desc desc;
    vd_reduce_io io;
    vd_buffer_info info;
    vd_result result = vd__fft_query_scalars(ctx, in, "in", &info);
    if (result) return result;
    memset(&desc, 0, sizeof desc);
    memset(&io, 0, sizeof io);
    desc.op = op;
    desc.type = info.type;
    desc.shape[0] = info.shape[0] * info.shape[1] * info.shape[2] * info.shape[3];
    desc.extra_out = op == VD_REDUCE_VARIANCE;
    if (vd__reduce_is_arg(op)) result = vd__fft_query_indices(ctx, out, "out", &desc.index_type);
    if (result) return result;
    io.in = in;
    if (op == VD_REDUCE_DOT) io.in_b = in_b;
    io.out = out;
    if (desc.extra_out) io.extra_out = extra_out;
    return vd_plan_run_cached(ctx, &vd__reduce_kind, vd__reduce_run, &desc, &io);
}

VD__FFT_NOINLINE static vd_result vd__reduce_call(vd_context *ctx, const char *call, vd_reduce_op op, vd_buffer in,
                                                  vd_buffer in_b, vd_buffer out, vd_buffer extra_out) {
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, call, &scope);
    return vd__call_result(&scope, vd__reduce_whole(ctx, op, in, in_b, out, extra_out));
}

VD_API vd_result vd_reduce_sum(vd_context *ctx, vd_buffer in, vd_buffer out) {
    return vd__reduce_call(ctx, "vd_reduce_sum", VD_REDUCE_SUM, in, in, out, out);
}
VD_API vd_result vd_reduce_min(vd_context *ctx, vd_buffer in, vd_buffer out) {
    return vd__reduce_call(ctx, "vd_reduce_min", VD_REDUCE_MIN, in, in, out, out);
}
VD_API vd_result vd_reduce_max(vd_context *ctx, vd_buffer in, vd_buffer out) {
    return vd__reduce_call(ctx, "vd_reduce_max", VD_REDUCE_MAX, in, in, out, out);
}
VD_API vd_result vd_reduce_any(vd_context *ctx, vd_buffer in, vd_buffer out) {
    return vd__reduce_call(ctx, "vd_reduce_any", VD_REDUCE_ANY, in, in, out, out);
}
VD_API vd_result vd_reduce_all(vd_context *ctx, vd_buffer in, vd_buffer out) {
    return vd__reduce_call(ctx, "vd_reduce_all", VD_REDUCE_ALL, in, in, out, out);
}
VD_API vd_result vd_reduce_argmin(vd_context *ctx, vd_buffer in, vd_buffer out) {
    return vd__reduce_call(ctx, "vd_reduce_argmin", VD_REDUCE_ARGMIN, in, in, out, out);
}
VD_API vd_result vd_reduce_argmax(vd_context *ctx, vd_buffer in, vd_buffer out) {
    return vd__reduce_call(ctx, "vd_reduce_argmax", VD_REDUCE_ARGMAX, in, in, out, out);
}
VD_API vd_result vd_reduce_norm(vd_context *ctx, vd_buffer in, vd_buffer out) {
    return vd__reduce_call(ctx, "vd_reduce_norm", VD_REDUCE_NORM, in, in, out, out);
}
VD_API vd_result vd_reduce_mean(vd_context *ctx, vd_buffer in, vd_buffer out) {
    return vd__reduce_call(ctx, "vd_reduce_mean", VD_REDUCE_MEAN, in, in, out, out);
}
VD_API vd_result vd_reduce_variance(vd_context *ctx, vd_buffer in, vd_buffer out, vd_buffer mean) {
    return vd__reduce_call(ctx, "vd_reduce_variance", VD_REDUCE_VARIANCE, in, in, out, mean);
}
VD_API vd_result vd_reduce_dot(vd_context *ctx, vd_buffer in, vd_buffer in_b, vd_buffer out) {
    return vd__reduce_call(ctx, "vd_reduce_dot", VD_REDUCE_DOT, in, in_b, out, out);
}

/* ---- scans ---- */

VD_API vd_scan *vd_scan_create(vd_context *ctx, const vd_scan_desc *desc) {
    return (vd_scan *)vd_plan_create(ctx, &vd__scan_kind, "vd_scan_create", desc);
}

VD_API vd_scan *vd_compact_create(vd_context *ctx, const vd_compact_desc *desc) {
    return (vd_scan *)vd_plan_create(ctx, &vd__compact_kind, "vd_compact_create", desc);
}

VD_API void vd_scan_destroy(vd_scan *p) { vd_plan_destroy(p); }

static vd_result vd__scan_run(void *plan, vd_list *list, const void *user_io) {
    vd_scan *p = (vd_scan *)plan;
    vd_plan_role roles[VD__SCAN_ROLES];
    vd_plan_io io = vd__plan_io_of(roles, VD__SCAN_STATES);
    vd__scan_roles(p, (const vd_scan_io *)user_io, roles);
    vd_result result = vd_plan_check(&p->base, &io);
    for (uint32_t step = 0; vd__scan_step_mode(p, step) != VD__SCAN_MODES && !result; step++)
        result = vd__scan_run_step(p, list, &io, step, p->vector_aligned && io.alignment % 16 == 0);
    return result;
}

VD_API vd_result vd_scan_run(vd_scan *p, vd_list *list, const vd_scan_io *io) {
    return vd_plan_run(p, "vd_scan_run", vd__scan_run, list, io);
}

static vd_result vd__scan_whole(vd_context *ctx, vd_buffer in, vd_buffer out, bool exclusive) {
    vd_scan_desc desc;
    vd_scan_io io;
    vd_buffer_info info;
    vd_result result = vd__fft_query_scalars(ctx, in, "in", &info);
    if (result) return result;
    memset(&desc, 0, sizeof desc);
    memset(&io, 0, sizeof io);
    desc.type = info.type;
    desc.shape[0] = info.shape[0] * info.shape[1] * info.shape[2] * info.shape[3];
    desc.exclusive = exclusive;
    io.in = in;
    io.out = out;
    return vd_plan_run_cached(ctx, &vd__scan_kind, vd__scan_run, &desc, &io);
}

VD_API vd_result vd_scan_inclusive(vd_context *ctx, vd_buffer in, vd_buffer out) {
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_scan_inclusive", &scope);
    return vd__call_result(&scope, vd__scan_whole(ctx, in, out, false));
}
VD_API vd_result vd_scan_exclusive(vd_context *ctx, vd_buffer in, vd_buffer out) {
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_scan_exclusive", &scope);
    return vd__call_result(&scope, vd__scan_whole(ctx, in, out, true));
}

/* ---- sorting and counting ---- */

VD_API vd_sort *vd_sort_create(vd_context *ctx, const vd_sort_desc *desc) {
    return (vd_sort *)vd_plan_create(ctx, &vd__sort_kind, "vd_sort_create", desc);
}

VD_API void vd_sort_destroy(vd_sort *p) { vd_plan_destroy(p); }

static vd_result vd__sort_run(void *plan, vd_list *list, const void *user_io) {
    vd_sort *p = (vd_sort *)plan;
    vd_sort_io io = *(const vd_sort_io *)user_io;
    vd_plan_role roles[VD__SORT_ROLES];
    vd_plan_io pass = vd__plan_io_of(roles, VD__SORT_COUNTS);
    if (!io.out.id) io.out = io.keys;
    if (!io.out_values.id) io.out_values = io.values;
    vd__sort_roles(p, &io, roles);
    vd_result result = vd_plan_check(&p->base, &pass);
    uint32_t bits = vd_type_size(p->desc.type) * 8;
    /* the number of passes is even: they write to the buffers of the plan and to the outputs in turn, and end with the
       outputs */
    for (uint32_t shift = 0; shift < bits && !result; shift += p->bits) {
        bool from_plan = shift / p->bits % 2 != 0;
        roles[VD__SORT_KEYS].buffer = from_plan ? p->keys : shift ? io.out : io.keys;
        roles[VD__SORT_VALUES].buffer = from_plan ? p->values : shift ? io.out_values : io.values;
        roles[VD__SORT_OUT].buffer = from_plan ? io.out : p->keys;
        roles[VD__SORT_OUT_VALUES].buffer = from_plan ? io.out_values : p->values;
        if (!shift || !p->one_pass) result = vd__sort_run_count(p, list, &pass, shift);
        if (!result) result = vd__sort_run_scatter(p, list, &pass, shift);
    }
    return result;
}

VD_API vd_result vd_sort_run(vd_sort *p, vd_list *list, const vd_sort_io *io) {
    return vd_plan_run(p, "vd_sort_run", vd__sort_run, list, io);
}

/* vd_sort_all or, if `values` is not NULL, vd_sort_pairs; errors do not contain the call. */
static vd_result vd__sort_simple(vd_context *ctx, vd_buffer keys, const vd_buffer *values) {
    vd_sort_desc desc;
    vd_sort_io io;
    vd_buffer_info info;
    vd_result result = vd__fft_query_scalars(ctx, keys, "keys", &info);
    if (result) return result;
    memset(&desc, 0, sizeof desc);
    memset(&io, 0, sizeof io);
    desc.type = info.type;
    desc.count = info.shape[0] * info.shape[1] * info.shape[2] * info.shape[3];
    io.keys = keys;
    if (values) {
        result = vd__fft_query_scalars(ctx, *values, "values", &info);
        if (result) return result;
        desc.values = info.type;
        io.values = *values;
    }
    return vd_plan_run_cached(ctx, &vd__sort_kind, vd__sort_run, &desc, &io);
}

VD_API vd_result vd_sort_all(vd_context *ctx, vd_buffer keys) {
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_sort_all", &scope);
    return vd__call_result(&scope, vd__sort_simple(ctx, keys, NULL));
}

VD_API vd_result vd_sort_pairs(vd_context *ctx, vd_buffer keys, vd_buffer values) {
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_sort_pairs", &scope);
    return vd__call_result(&scope, vd__sort_simple(ctx, keys, &values));
}

VD_API vd_histogram *vd_histogram_create(vd_context *ctx, const vd_histogram_desc *desc) {
    return (vd_histogram *)vd_plan_create(ctx, &vd__histogram_kind, "vd_histogram_create", desc);
}

VD_API void vd_histogram_destroy(vd_histogram *p) { vd_plan_destroy(p); }

static vd_result vd__histogram_run(void *plan, vd_list *list, const void *buffers) {
    vd_histogram *p = (vd_histogram *)plan;
    const vd_buffer *b = (const vd_buffer *)buffers;
    vd_plan_role roles[2];
    vd_plan_io io = vd__plan_io_of(roles, 2);
    roles[VD__HISTOGRAM_IN] = vd__role_of("in", b[0], p->desc.type, p->desc.count, false);
    roles[VD__HISTOGRAM_OUT] = vd__role_of("out", b[1], vd__count_type(p->desc.count), p->desc.bins, true);
    vd_result result = vd_plan_check(&p->base, &io);
    uint64_t bytes = (uint64_t)p->desc.bins * vd_type_size(vd__count_type(p->desc.count));
    if (!result) result = vd_fill(list, b[1], 0, bytes, NULL, 0);
    return result ? result : vd__plan_dispatch_tiles(list, &p->kernel, &io, NULL, p->groups, UINT32_MAX);
}

VD_API vd_result vd_histogram_run(vd_histogram *p, vd_list *list, vd_buffer in, vd_buffer out) {
    vd_buffer buffers[2];
    buffers[0] = in;
    buffers[1] = out;
    return vd_plan_run(p, "vd_histogram_run", vd__histogram_run, list, buffers);
}

VD_API vd_top_k *vd_top_k_create(vd_context *ctx, const vd_top_k_desc *desc) {
    return (vd_top_k *)vd_plan_create(ctx, &vd__top_k_kind, "vd_top_k_create", desc);
}

VD_API void vd_top_k_destroy(vd_top_k *p) { vd_plan_destroy(p); }

static vd_result vd__top_k_run(void *plan, vd_list *list, const void *user) {
    vd_top_k *p = (vd_top_k *)plan;
    const vd_top_k_io *user_io = (const vd_top_k_io *)user;
    vd_plan_role r[VD__TOP_ROLES];
    vd_plan_io io = vd__plan_io_of(r, VD__TOP_PART_KEYS);
    r[VD__TOP_IN] = vd__role_of("in", user_io->in, p->desc.type, p->rows * p->n, false);
    r[VD__TOP_VALUES] = vd__role_of("values", user_io->values, p->desc.type, p->rows * p->desc.k, true);
    r[VD__TOP_INDICES] = vd__role_of("indices", user_io->indices, p->desc.index_type, p->rows * p->desc.k, true);
    r[VD__TOP_PART_KEYS].buffer = p->part_keys;
    r[VD__TOP_PART_INDICES].buffer = p->part_indices;
    r[VD__TOP_TICKETS].buffer = p->tickets;
    vd_result result = vd_plan_check(&p->base, &io);
    return result ? result : vd__plan_dispatch_tiles(list, &p->kernel, &io, NULL, p->rows * p->parts, UINT32_MAX);
}

VD_API vd_result vd_top_k_run(vd_top_k *p, vd_list *list, const vd_top_k_io *io) {
    return vd_plan_run(p, "vd_top_k_run", vd__top_k_run, list, io);
}

/* k is determined by the size of `values`. */
static vd_result vd__top_simple(vd_context *ctx, vd_buffer in, vd_buffer values, vd_buffer indices, bool smallest) {
    vd_top_k_desc desc;
    vd_top_k_io io;
    vd_buffer_info in_info, values_info;
    uint64_t rows = 1, results = 1;
    vd_result result = vd__fft_query_scalars(ctx, in, "in", &in_info);
    memset(&desc, 0, sizeof desc);
    if (!result) result = vd__fft_query_scalars(ctx, values, "values", &values_info);
    if (!result) result = vd__fft_query_indices(ctx, indices, "indices", &desc.index_type);
    if (result) return result;
    uint32_t last = vd__fft_buffer_dimensions(&in_info, 1) - 1;
    memcpy(desc.shape, in_info.shape, (last + 1) * sizeof in_info.shape[0]);
    for (uint32_t i = 0; i < last; i++) rows *= in_info.shape[i];
    for (uint32_t i = 0; i < 4; i++) results *= values_info.shape[i];
    if (results % rows || results / rows > in_info.shape[last])
        return vd_error_set(VD_ERROR_INVALID, "buffer '%s' (values) has %llu elements, but must have the same number "
                            "for each of %llu rows, at most %llu (the length of a row)", values_info.name,
                            (unsigned long long)results, (unsigned long long)rows,
                            (unsigned long long)in_info.shape[last]);
    desc.type = in_info.type;
    desc.k = results / rows < UINT32_MAX ? (uint32_t)(results / rows) : UINT32_MAX;
    desc.smallest = smallest;
    io.in = in;
    io.values = values;
    io.indices = indices;
    return vd_plan_run_cached(ctx, &vd__top_k_kind, vd__top_k_run, &desc, &io);
}

VD_API vd_result vd_top_k_largest(vd_context *ctx, vd_buffer in, vd_buffer values, vd_buffer indices) {
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_top_k_largest", &scope);
    return vd__call_result(&scope, vd__top_simple(ctx, in, values, indices, false));
}
VD_API vd_result vd_top_k_smallest(vd_context *ctx, vd_buffer in, vd_buffer values, vd_buffer indices) {
    vd_callback_scope scope;
    vd_callback_scope_begin(ctx, "vd_top_k_smallest", &scope);
    return vd__call_result(&scope, vd__top_simple(ctx, in, values, indices, true));
}

#endif /* VKDISPATCH_FFT_IMPLEMENTED */
#endif /* VKDISPATCH_FFT_IMPLEMENTATION */

// >>end
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
