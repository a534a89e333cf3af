# `make` lists the targets. The headers need no build step: this file builds and runs examples, tests and benchmarks.
#   make CC=clang …      the same with another compiler            make V=1 …      shows the whole command lines

CC      = gcc
CXX    := $(if $(findstring clang,$(CC)),clang++,g++)
JOBS   := $(shell nproc 2>/dev/null || echo 2)
PREFIX  = /usr/local
DESTDIR =

FUZZ_COUNT = 300
FUZZ_SEED  = 1
export CC CXX FUZZ_COUNT FUZZ_SEED

HEADERS  := $(wildcard vkdispatch*.h)
WARNINGS  = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror
# Line numbers, but no variables: gcc spends a quarter of its time on them if it optimises, else a seventh. To look at a
# unit test with a debugger: make UNIT='-O0 -g' test-unit.
CFLAGS    = -O1 -g1
UNIT      = -O0 -g1
BENCH     = -O2 -DNDEBUG
# Without optimisation: most of the time of the sanitized programs is spent in drivers, and gcc optimises sanitized code
# for minutes.
SANITIZE  = -O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# Tests of races run for a given time, whatever the speed.
RACES     = -O0 -g1 -fsanitize=thread -fno-omit-frame-pointer
C         = -std=c99 -Wstrict-prototypes
CPP       = -x c++ -std=c++11
LDLIBS    = -ldl -lpthread -lm

# `make test` runs samples of long lists of cases (tests/README.md). TURN=17 runs other ones, TURN=all all cases.
TURN   = 0
# $(call sample,4): 4, or 1 if all cases run. $(call take,3,LIST): one word in three, in successive turns one after another.
sample = $(if $(filter all,$(TURN)),1,$1)
take   = $(if $(filter all,$(TURN)),$2,$(shell i=$(TURN); for word in $2; do [ $$((i % $1)) != 0 ] || echo $$word; i=$$((i + 1)); done))
# A number, 0 for TURN=all: scripts calculate with it.
export TEST_TURN = $(if $(filter all,$(TURN)),0,$(TURN))
# Calls that conformance/callbacks makes from each callback.
export CALLS_SAMPLE = $(call sample,4)

# A folder with include/ and lib/ for machines where nothing can be installed (`make carry` fills it).
CARRY := $(wildcard .carry)
ifdef CARRY
CPPFLAGS += -isystem $(CARRY)/include
LDFLAGS  += -L$(CARRY)/lib -Wl,-rpath,$(CURDIR)/$(CARRY)/lib
# NVIDIA's OpenCL library is often installed without its ICD file.
ifneq ($(shell ldconfig -p 2>/dev/null | grep libnvidia-opencl),)
export OCL_ICD_VENDORS ?= $(CURDIR)/$(CARRY)/vendors/
endif
# The validation layer, for conformance/devices.
ifeq ($(wildcard $(addsuffix /vulkan/explicit_layer.d/VkLayer_khronos_validation.json,/usr/share /usr/local/share /etc)),)
export VK_LAYER_PATH ?= $(CURDIR)/build/layers
layer := $(patsubst $(CARRY)/layers/%.gz,build/layers/%,$(wildcard $(CARRY)/layers/*.gz))
build/layers/%: $(CARRY)/layers/%.gz
	@mkdir -p $(@D)
	gzip -dc $< >$@
endif
endif

# ---- programs: each .c file is one ---------------------------------------------------------------------------------------------------
# build/COMPILER/path/name comes from path/name.c; build/COMPILER/sanitize/… is the same under the sanitizers.

compilers  := $(sort $(notdir $(CC)) gcc g++ clang clang++)
# Only CC optimises: the other compilers show that output does not depend on the compiler.
optimised   = $(if $(filter $1,$(notdir $(CC))),$(CFLAGS),$(UNIT))
present     = $(foreach c,$(compilers),$(if $(shell command -v $c 2>/dev/null),$c))
language    = $(if $(findstring ++,$1),$(CPP),$(C))
driver      = $(if $(filter $1,$(notdir $(CC))),$(CC),$1)
keep_loaded = tests/keep_loaded.c -Wl,--export-dynamic-symbol=dlclose
# Leaks in drivers of C++ must name their callers, for tools/leaks.supp: gcc replaces operator new in all programs, clang
# only in those of C++.
leaks       = $(keep_loaded)$(if $(findstring clang,$1), -fsanitize-link-c++-runtime -lstdc++)
quiet      := $(if $(V),,@)

# This warning takes two thirds of the time in which gcc parses the headers, but none in g++ and clang.
without_slow_warning = $(if $(findstring ++,$1),,-Wno-misleading-indentation)

# $1 compiler, $2 flags, $3 further source or linker flag
define link
@mkdir -p $(@D)
@rm -f $@
$(if $(quiet),@echo '  $1 $(if $(findstring /sanitize/,$@),-fsanitize )$<')
$(quiet)$(call driver,$1) -I. -Ibuild/ahead $(CPPFLAGS) $(call language,$1) $(WARNINGS) $(call without_slow_warning,$1) $2 -MD -MP -MT $@ -MF $@.d -c $< -o $@.o
$(quiet)$(call driver,$1) $2 $3 $@.o $(filter %.a,$^) -o $@ $(LDFLAGS) $$(tools/libraries $@.d $(patsubst %,%.d,$(filter %.a,$^))) $(LDLIBS)
endef

# The implementations for all tests that contain none. $3: the parts of tests/implementation.c, one object for each.
parts = WITHOUT_FFT ONLY_FFT
define archive
@mkdir -p $(@D)
@rm -f $@
$(if $(quiet),@echo '  $1 $(if $(findstring /sanitize/,$@),-fsanitize )$<')
$(quiet)for part in $3; do \
    $(call driver,$1) -I. $(CPPFLAGS) $(call language,$1) $(WARNINGS) $(call without_slow_warning,$1) $2 -D$$part -MD -MP -MT $@ -MF $@.d \
        -c $< -o $@.$$part.o || exit; done
$(quiet)ar rcs $@ $(patsubst %,$@.%.o,$3)
endef
# 64-bit indices for arrays of more than 100 elements.
NARROW = -DVD__FFT_NARROW=100ull -DVD__REDUCE_NARROW=100ull

define rules_for_compiler
build/$1/%: %.c
	$$(call link,$1,$$(call optimised,$1))
build/$1/%.so: %.c
	$$(call link,$1,$$(CFLAGS) -fPIC,-shared)
build/$1/sanitize/%.so: %.c
	$$(call link,$1,$$(SANITIZE) -fPIC,-shared)
build/$1/implementation.a: tests/implementation.c
	$$(call archive,$1,$$(call optimised,$1),$$(parts))
build/$1/sanitize/implementation.a: tests/implementation.c
	$$(call archive,$1,$$(SANITIZE),$$(parts))
build/$1/tests/%: tests/%.c build/$1/implementation.a
	$$(call link,$1,$$(call optimised,$1))
build/$1/sanitize/tests/%: tests/%.c build/$1/sanitize/implementation.a
	$$(call link,$1,$$(SANITIZE),$$(call leaks,$1))
build/$1/narrow.a: tests/implementation.c
	$$(call archive,$1,$$(UNIT) $$(NARROW),ONLY_FFT)
build/$1/tests/fft/large%: tests/fft/large%.c build/$1/narrow.a build/$1/implementation.a
	$$(call link,$1,$$(UNIT) $$(NARROW))
build/$1/no_images/implementation.a: tests/implementation.c
	$$(call archive,$1,$$(UNIT) -DVKDISPATCH_NO_IMAGES,WITHOUT_FFT)
build/$1/no_images/tests/%: tests/%.c build/$1/no_images/implementation.a
	$$(call link,$1,$$(UNIT) -DVKDISPATCH_NO_IMAGES)
build/$1/tests/unit/%: tests/unit/%.c
	$$(call link,$1,$$(UNIT))
build/$1/races/implementation.a: tests/implementation.c
	$$(call archive,$1,$$(RACES),$$(parts))
build/$1/races/tests/%: tests/%.c build/$1/races/implementation.a
	$$(call link,$1,$$(RACES))
build/$1/sanitize/tests/unit/%: tests/unit/%.c
	$$(call link,$1,$$(SANITIZE),$$(call leaks,$1))
build/$1/tools/bench/%: tools/bench/%.c
	$$(call link,$1,$$(BENCH))
build/$1/sanitize/%: %.c
	$$(call link,$1,$$(SANITIZE),$$(call leaks,$1))
endef
$(foreach c,$(compilers),$(eval $(call rules_for_compiler,$c)))

# tests/insides.h describes these flags. Programs with an implementation of their own are compiled without optimisation,
# as unit tests are: compiling takes longer than running, and the archive is optimised.
INSIDES    = -O1 -g1 -fno-inline
programs_of = $(basename $(shell grep -l '$1' $(wildcard tests/*/*.c)))
use_insides := $(call programs_of,^\#include "tests/insides.h")
use_own := $(call programs_of,^\#define VKDISPATCH_.*IMPLEMENTATION\|^\#include "tests/fft/own.h"\|^\#include "tests/conformance/glsl.h")
define flags_of_insides
$(use_insides:%=build/$1/%): private CFLAGS = $(INSIDES)
$(use_insides:%=build/$1/%): private UNIT = $(INSIDES)
$(use_insides:%=build/$1/sanitize/%): private SANITIZE := $(patsubst -O%,-O1,$(SANITIZE)) -fno-inline
$(use_own:%=build/$1/%): private CFLAGS = $(UNIT)
endef
$(foreach c,$(compilers),$(eval $(call flags_of_insides,$c)))

# Calls of dlsym in the library get functions that can fail.
build/%/tests/faults/cuda build/%/tests/faults/opencl: LDFLAGS += -Wl,--wrap=dlsym

# FFTW in long double.
build/%/tests/fft/accuracy: LDLIBS += -lfftw3l

# Counts calls of malloc that bypass the allocator of the context.
build/%/tests/fft/host_memory: LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

# The same programs with VkFFT, which is C++; the programs are C. Without VkFFT they report that.
define cpp_archive
@mkdir -p $(@D)
@rm -f $@
$(if $(quiet),@echo '  $(CXX) $<')
$(quiet)$(CXX) -I. $(CPPFLAGS) -std=c++11 $(WARNINGS) $1 -MD -MP -MT $@ -MF $@.d -c $< -o $@.o
$(quiet)ar rcs $@ $@.o
endef
build/vkfft/%: LDLIBS += -lstdc++
build/vkfft/%: %.c build/vkfft/implementation.a
	$(call link,$(cc),$(BENCH))
build/vkfft/tests/%: tests/%.c build/vkfft/tests/implementation.a
	$(call link,$(cc),$(UNIT))
build/vkfft/implementation.a: tests/implementation_vkfft.cpp
	$(call cpp_archive,$(BENCH))
build/vkfft/tests/implementation.a: tests/implementation_vkfft.cpp
	$(call cpp_archive,$(UNIT))
build/vkfft/opencl.a: tools/bench/vkfft_opencl.cpp tools/bench/vkfft_opencl.h
	$(call cpp_archive,$(BENCH))
build/vkfft/tools/bench/fft: build/vkfft/opencl.a
build/vkfft/tools/bench/fft: LDLIBS += -l:libOpenCL.so.1
build/vkfft/tools/bench/accuracy: LDLIBS += -lfftw3l

# Where the compiler does not matter: clang takes a third of the time of gcc.
quick := $(if $(filter clang,$(present)),clang,$(CC))

# Kernels compiled ahead of time, as a header and as a blob, for the programs that use them.
build/ahead/%.h build/ahead/%.blob: examples/kernels/%.c tools/vcc tools/vcc_driver.c vkdispatch_codegen.h
	@mkdir -p $(@D)
	$(quiet)tools/vcc $< --header build/ahead/$*.h --blob build/ahead/$*.blob --target spirv,cuda,opencl --cc "$(quick)"
build/ahead/%.h build/ahead/%.blob: tests/ahead/%.c tools/vcc tools/vcc_driver.c vkdispatch_codegen.h
	@mkdir -p $(@D)
	$(quiet)tools/vcc $< --header build/ahead/$*.h --blob build/ahead/$*.blob --target spirv,cuda,opencl --cc "$(quick)"
.SECONDARY: build/ahead/heat.h build/ahead/heat.blob build/ahead/assorted.h build/ahead/assorted.blob

define ahead_of_time
build/$1examples/ahead_of_time: build/ahead/heat.h
build/$1tests/conformance/ahead_of_time: build/ahead/heat.h build/ahead/assorted.h
build/$1tests/unit/all: build/ahead/assorted.h
endef
$(foreach c,$(compilers),$(eval $(call ahead_of_time,$c/))$(eval $(call ahead_of_time,$c/sanitize/)))

-include $(shell find build -name '*.d' 2>/dev/null)

cc := $(notdir $(CC))
# Compiles for the sanitizers.
instrument := $(notdir $(quick))

# ---- suites: what is built, what is run ----------------------------------------------------------------------------------------------
# A command with arguments is one quoted word, as tools/run-tests requires. tests/README.md documents the output of test
# programs.

files = $(patsubst %.c,build/$2/%,$(wildcard $1/*.c))

# Kernel texts and hashes must not depend on the compiler of the builder, so these suites run with every available
# compiler.
hash  := \#
absent = $(foreach c,$(filter-out $(present),$(compilers)),"echo ok - $1 under $c $(hash) SKIP $c is not here")

# Fake libraries that replace missing drivers.
fakes = $(patsubst %.c,build/$1/%.so,$(wildcard tests/fake/*.c))

# One program has the unit tests of all files but left_out.c. Each file is a run of its own, so that TEST_JOBS of them run at a time.
# T='hazards pool/stale_handles': only this file and this test.
T =
unit_files           = $(filter-out all,$(patsubst tests/unit/%.c,%,$(wildcard tests/unit/*.c)))
unit_program         = build/$1/tests/unit/$(if $(filter left_out left_out/%,$2),left_out,all)
unit_tests           = $(or $T,$(unit_files))
unit_programs        = $(sort $(foreach t,$2,$(call unit_program,$1,$t))) $(call fakes,$1)
unit_commands        = $(foreach t,$2,"$3$(call unit_program,$1,$t) $t")
programs_unit        = $(call unit_programs,$(cc),$(unit_tests))
commands_unit        = $(call unit_commands,$(cc),$(unit_tests))

# The plans take most of the time.
PLANS_COMPILERS     ?= $(present)
programs_golden      = $(foreach c,$(present),$(filter-out %/plans,$(call files,tests/golden,$c))) \
                       $(PLANS_COMPILERS:%=build/%/tests/golden/plans)
commands_golden      = $(programs_golden) $(call absent,golden)

programs_codegen     = $(call files,tests/codegen,$(cc))
# MATRIX_PARTS=8: split the longest program into parts for TEST_JOBS. MATRIX_OF=0: run only the first part.
# MATRIX_FLAGS=-a: as for `make matrix`.
MATRIX_PARTS         = 1
MATRIX_FLAGS         =
MATRIX_OF            = $(shell seq 0 $$(($(MATRIX_PARTS) - 1)))
CODEGEN_SAMPLE       = 12
run_codegen          = env RUN_SAMPLE=$(call sample,$(CODEGEN_SAMPLE))
matrix_parts         = $(foreach i,$(MATRIX_OF),"$(run_codegen) build/$(cc)/tests/codegen/matrix $(MATRIX_FLAGS) -p $i/$(MATRIX_PARTS)")
commands_codegen     = $(matrix_parts) $(patsubst %,"$(run_codegen) %",$(filter-out %/matrix,$(programs_codegen)))

# plans compiles texts for CUDA with a fake driver.
own_fft              = $(filter-out %/plans,$(call files,tests/fft,$(cc)))
# Transforms with 64-bit indices. `make test-long` runs all of their tests.
large_fft            = $(addprefix build/$(cc)/tests/fft/large_,transforms real hooks)
fake_driver          = VKDISPATCH_BACKEND=cuda VKDISPATCH_LIBCUDA=build/$(cc)/tests/fake/libcuda.so
# Its implementation takes longer to compile than the programs take to run: one turn in four.
vkfft_fft            = $(if $(filter vkfft,$(call take,4,none none none vkfft)),$(addprefix build/vkfft/tests/fft/,transforms real lifetimes))
programs_fft         = $(own_fft) build/$(cc)/tests/fft/plans $(call fakes,$(cc)) $(vkfft_fft)
# These compile most kernels. They start first.
heavy_fft            = $(addprefix build/$(cc)/tests/fft/,convolve hooks look_back real reduce rows transforms)
# Of the cases with a new phrase of a plan, one in six runs, and one in 64 of the others. $1 settings, $2 program: a
# variant runs one in eight of the first and no others (tests/README.md).
run_fft              = "$(if $(filter all,$(TURN)),,env FFT_CASES=phrases FFT_PART=6 FFT_OTHERS=64 )$1"
variant_fft          = "env FFT_CASES=phrases FFT_PART=$(call sample,8) $(subst :, ,$1)"
bound_fft            = $(filter-out %/measure %/tuner %/look_back %/host_memory %/large %/large_scan %/large_sort %/large_top_k $(large_fft),$(own_fft))
FFT_BACKENDS         = opencl
on_backends          = $(filter-out %/host_memory %/large_scan $(large_fft),$(own_fft))
# Words SETTING:PROGRAM, of which a turn runs one in eight.
variants_fft         = $(addprefix VKDISPATCH_BUFFERS=binding:,$(bound_fft) build/$(cc)/tests/fft/look_back:scans) \
                       $(foreach b,$(FFT_BACKENDS),$(addprefix VKDISPATCH_BACKEND=$b:,$(on_backends))) \
                       $(addprefix VKDISPATCH_CHECK_KERNELS=1:build/$(cc)/tests/fft/,hooks graphs sort top_k) \
                       $(foreach s,gpu gpu-batch,$(addprefix VKDISPATCH_FFT_SHAPES=$s:build/$(cc)/tests/fft/,transforms real hooks scan))
commands_fft         = $(foreach p,$(heavy_fft) $(filter-out $(heavy_fft) $(large_fft),$(own_fft)),$(call run_fft,$p)) \
                       $(foreach t,*axes strides,"env FFT_PART=$(call sample,4) build/$(cc)/tests/fft/large_transforms $t") \
                       $(foreach v,$(call take,8,$(variants_fft)),$(call variant_fft,$v)) \
                       "env $(fake_driver) build/$(cc)/tests/fft/plans" \
                       $(foreach p,$(vkfft_fft),$(call run_fft,$p vkfft))

# T='glsl print': only these programs.
selected             = $(if $T,$(filter $(addprefix %/,$T),$1),$1)
own_conformance      = $(call selected,$(call files,tests/conformance,$(cc)))
# Programs that call no function for images and none of vkdispatch_fft.h, with the runtime without images.
uses_images         := vd_\(image\|sampler\|swapchain\|present\|fft\|reduce\|scan\|sort\|copy_image\)
no_images            = $(call take,4,$(call selected,$(patsubst tests/%.c,build/$(instrument)/no_images/tests/%,\
                           $(shell grep -L '$(uses_images)' tests/conformance/*.c))))
programs_conformance = $(own_conformance) $(no_images) $(call fakes,$(cc)) $(layer)
# The fake CUDA driver executes everything except kernels.
fake_cuda            = $(foreach f,build/$(cc)/tests/fake/libcuda.so,VKDISPATCH_BACKEND=cuda VKDISPATCH_LIBCUDA=$f VKDISPATCH_NVRTC=$f)
# copies needs Vulkan with buffer addresses; opencl and pipeline_cache test only one backend.
anyhow               = $(filter-out %/copies %/opencl %/pipeline_cache,$(own_conformance))
# With bindings, Vulkan uses other kernels, and OpenCL uses buffer objects instead of shared virtual memory (PoCL).
# Other backends are not affected.
BINDING_BACKENDS     = vulkan opencl
bindings             = $(foreach b,$(BINDING_BACKENDS),$(patsubst %,"env VKDISPATCH_BACKEND=$b VKDISPATCH_BUFFERS=binding %",$(call take,2,$(anyhow))))
# Programs that test several devices of a backend, if it has different ones.
two_devices          = $(foreach b,vulkan opencl,$(patsubst %,"tools/two-devices % $b",$(filter %/queues %/print %/interop,$(own_conformance))))
commands_conformance = $(own_conformance) $(no_images) $(two_devices) $(bindings) \
                       $(patsubst %,"env $(fake_cuda) %",$(call take,2,$(anyhow))) \
                       $(patsubst %,"env VKDISPATCH_BACKEND=vulkan VKDISPATCH_COPIES=kernel %",\
                           $(filter %/buffers %/regions %/lists %/views %/queues,$(own_conformance)))

own_faults           = $(call files,tests/faults,$(cc))
programs_faults      = $(own_faults) $(call fakes,$(cc))
commands_faults      = $(own_faults:%="env RUN_SAMPLE=$(call sample,9) %")

programs_fuzz        = $(call files,tests/fuzz,$(cc)) $(foreach c,$(present),$(call files,tests/fuzz,$c))
commands_fuzz        = $(call files,tests/fuzz,$(cc)) "build/$(cc)/tests/fuzz/kernels --coverage --count 3000 --seed 1" \
                       $(foreach f,$(wildcard tests/fuzz/*.c),"tools/same-output FUZZ_PRINT=hash $(patsubst %,build/%/$(f:.c=),$(present))")

# 5 is odd: `make test` runs these in odd turns.
sanitized            = $(call take,5,$(foreach s,golden codegen conformance,$(call files,tests/$s,$(instrument)/sanitize))) \
                       build/$(instrument)/sanitize/tests/fuzz/api
faults_sanitize      = $(call files,tests/faults,$(instrument)/sanitize)
# left_out is the same code without parts of it.
unit_sanitize        = $(filter-out left_out left_out/%,$(unit_tests))
# Each part compiles the implementations under the sanitizers.
SANITIZE_PARTS      ?= unit programs
programs_sanitize    = $(foreach p,$(SANITIZE_PARTS),$(programs_sanitize_$p))
commands_sanitize    = $(foreach p,$(SANITIZE_PARTS),$(commands_sanitize_$p))
programs_sanitize_unit = $(call unit_programs,$(instrument)/sanitize,$(unit_sanitize))
commands_sanitize_unit = $(call unit_commands,$(instrument)/sanitize,$(unit_sanitize),$(if $(filter all,$(TURN)),env UNIT_STRIDE=1 )tools/sanitized )
programs_sanitize_programs = $(sanitized) $(faults_sanitize) $(call fakes,$(instrument)/sanitize)
commands_sanitize_programs = $(faults_sanitize:%="env RUN_SAMPLE=$(call sample,11) tools/sanitized %") \
                         $(sanitized:%="$(if $(filter all,$(TURN)),env RUN_SAMPLE=11 )tools/sanitized %")

# opencl.c creates no Vulkan device, so there is nothing to validate. interop also uses other backends with Vulkan.
programs_validate    = $(filter-out %/opencl,$(call files,tests/conformance,$(cc)))
commands_validate    = $(patsubst %,"tools/validated %",$(call take,2,$(filter-out %/copies %/interop,$(programs_validate)))) \
                       $(patsubst %,"env VKDISPATCH_BACKEND= tools/validated %",$(filter %/interop,$(programs_validate))) \
                       "tools/validated env VKDISPATCH_BUFFERS=address build/$(cc)/tests/conformance/copies"

# Uses the dummy backend, because threads of an uninstrumented driver look like data races; our code is the same for
# every backend.
programs_races       = $(patsubst %,build/$(instrument)/races/tests/conformance/%,lifetimes threads)
commands_races       = $(programs_races:%="env TSAN_OPTIONS=suppressions=tools/races.supp LIFETIMES_CYCLES=1000 \
                       LIFETIMES_SECONDS=$${LIFETIMES_SECONDS:-5} % dummy")

# Vulkan kernels as Mesa compiles them for processors without AVX-512 (avx) and without AVX (sse4.1); of codegen one
# kernel in eight, of transforms one case of each form, and of all runs one in four (tests/README.md). A run is a word
# PROCESSOR:PROGRAM.
PROCESSORS           = avx sse4.1
for_processors       = $(programs_codegen) $(filter-out %/opencl,$(call files,tests/conformance,$(cc))) \
                       $(filter-out %/convolve %/tiles %/lifetimes %/refused %/threads,$(bound_fft))
runs_processors      = $(call take,4,$(foreach p,$(PROCESSORS),$(addprefix $p:,$(for_processors))))
program_of           = $(lastword $(subst :, ,$1))
programs_processors  = $(sort $(foreach r,$(runs_processors),$(call program_of,$r))) $(call fakes,$(cc))
commands_processors  = $(foreach r,$(runs_processors),"env VKDISPATCH_BACKEND=vulkan GALLIUM_OVERRIDE_CPU_CAPS=$(firstword $(subst :, ,$r)) \
                       OCL_ICD_VENDORS=/none RUN_NVRTC=0 RUN_SAMPLE=$(call sample,8) FFT_CASES=forms $(call program_of,$r)")

# Sweeps that take hours, each in 8 commands; LONG=80 runs an eightieth of them, in each turn another one. The suite fuzz
# uses other random kernels.
LONG                 = 1
long_of              = $(shell echo $$(($1 / $(LONG) + 1)))
long_turn            = $(if $(filter all,$(TURN)),0,$(shell echo $$(($(TURN) % $(LONG)))))
long_parts           = $(foreach i,0 1 2 3 4 5 6 7,"build/$(cc)/tests/$1 -p $(shell echo $$((8 * $(long_turn) + $i))/$$((8 * $(LONG))))$2")
long_seeds           = $(foreach i,1 2 3 4 5 6 7 8,"build/$(cc)/tests/fuzz/kernels $1 --count $(call long_of,$2) \
                           --seed $(shell echo $$(($i000000 + $(long_turn) * $(call long_of,$2))))")
long_large           = $(if $(filter 1,$(LONG)),$(large_fft),$(call take,3,$(large_fft)))
long_cases           = $(if $(filter 1,$(LONG)),codegen/composite $(addprefix fft/,accuracy convolve measure real reduce scan sort))
# All cases of the variants of which `make test` runs one of each form.
long_variants        = $(if $(filter 1,$(LONG)),$(foreach t,$(bound_fft),"env VKDISPATCH_BUFFERS=binding $t" "env VKDISPATCH_BACKEND=opencl $t -a") \
                       $(foreach s,gpu gpu-batch,$(foreach t,transforms real hooks scan,"env VKDISPATCH_FFT_SHAPES=$s build/$(cc)/tests/fft/$t")))
long_compile         = "tests/compile/run --long" \
                       $(if $(filter 1,$(LONG)),"tests/compile/run --all" "tests/compile/link --all" "tests/compile/vcc --all" \
                       "tests/compile/wine")
programs_long        = $(patsubst %,build/$(cc)/tests/%,fft/transforms fft/real codegen/matrix fuzz/kernels fuzz/api conformance/lifetimes \
                       conformance/random_graphs unit/all \
                       $(long_cases)) $(if $(long_variants),$(bound_fft)) $(long_large)
commands_long        = $(long_compile) $(call long_parts,codegen/matrix -a) $(call long_parts,fft/transforms, *lengths) $(call long_parts,fft/real) \
                       $(long_large:%="env FFT_CASES=phrases GALLIVM_PERF=nopt %") \
                       $(call long_seeds,--all,625) $(call long_seeds,--check,12500) $(long_cases:%="build/$(cc)/tests/% -a") $(long_variants) \
                       "env FUZZ_COUNT=$(call long_of,100000) FUZZ_SEED=1000000 build/$(cc)/tests/fuzz/api" \
                       "env FUZZ_COUNT=$(call long_of,10000) FUZZ_SEED=1000000 build/$(cc)/tests/conformance/random_graphs" \
                       "env MEMORY_STEPS=$(call long_of,10000000) build/$(cc)/tests/unit/all memory/random_ranges_match_a_model" \
                       "env LIFETIMES_SECONDS=$(call long_of,60) LIFETIMES_CYCLES=$(call long_of,100000) build/$(cc)/tests/conformance/lifetimes"

# link shows the symbols of the archives; tests that parse includes these headers.
programs_compile     = $(foreach c,$(present),build/$c/implementation.a) build/ahead/heat.h \
                       build/ahead/assorted.h
commands_compile     = $(patsubst %,"env TEST_SAMPLE=$(call sample,12) tests/compile/%",run platforms parse wine) \
                       $(foreach s,$(call take,4,link cmake vcc windows),"env TEST_SAMPLE=$(call sample,3) tests/compile/$s")

# The programs that take longest to compile come first: at the end, both processors have work.
suites := sanitize races compile unit golden codegen conformance faults fft fuzz validate
further := processors long

# ---- targets -------------------------------------------------------------------------------------------------------------------------

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SECONDEXPANSION:
.PHONY: help demo test check $(suites:%=test-%) $(suites:%=programs-%) $(further:%=test-%) $(further:%=programs-%) \
        test-gpu test-side-by-side test-features programs fuzz-api bench \
        bench-dispatch bench-present bench-transfers bench-cuda bench-opencl bench-build bench-pipeline bench-kernels \
        bench-fft bench-fft-sweep bench-fft-single bench-accuracy \
        bench-reduce bench-original bench-compile bench-plots \
        matrix golden-update carry install clean \
        deps-build deps-test deps-plots

help:            ## this list
	@awk -F ' *## ' '/^[a-z][a-z-]*:.*## / { sub(/:.*/, "", $$1); printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo:            ## installs what is missing, builds three examples, runs them on the best device here
	@tools/demo

# -k: a program that does not compile is reported as failed by the following run, and does not prevent the others from
# running.
build_and_run = echo 'TURN=$(TURN)'; $(MAKE) --no-print-directory -k -j$(JOBS) $(1:%=programs-%) || true; \
                tools/run-tests $(foreach s,$1,$(or $(strip $(commands_$s)),"echo not ok - suite $s has no program"))

# The suite validate runs the programs of conformance on Vulkan with bindings. Of the sanitized parts and of the compilers
# other than CC that compile golden/plans, a turn runs one (tests/README.md).
others = $(filter-out $(cc),$(present))
test: BINDING_BACKENDS = opencl
test: export SANITIZE_PARTS = $(call take,2,unit programs)
test: export PLANS_COMPILERS = $(cc) $(if $(others),$(call take,$(words $(others)),$(others)))
test: deps-test  ## every suite that this machine can run; ends with `N passed, N failed, N skipped`
	@$(call build_and_run,$(suites))

check: deps-build ## style, rooms, licence, versions, macro lists, README and manual programs, examples
	@tools/run-tests "env TEST_SAMPLE=$(call sample,2) tools/check"

test-compile:    ## each header x C99, C11, C++11, C++20 x gcc, clang x order x macro; Windows, aarch64; cmake package
test-unit:       ## runtime logic on the dummy backend, builder and layout rules; T=hazards/epochs: one test; T=hazards: one file
test-golden:     ## kernel text byte for byte, under every compiler here
test-codegen:    ## every operation x type: validated, and run against a double oracle
test-conformance: ## behaviour of the runtime on every backend here, buffers by address and by binding; T=glsl: one program
test-faults:     ## programs in which one driver call fails, once for each call
test-fft:        ## transforms against FFTW, buffers by address and by binding, with plans for CPUs and for GPUs
test-fuzz:       ## FUZZ_COUNT random kernels from FUZZ_SEED on; hashes equal under every compiler here
test-sanitize:   ## unit, golden, codegen, conformance, faults under the address, leak and undefined-behaviour sanitizers
test-races:      ## threads that destroy objects which others use, under the thread sanitizer; LIFETIMES_SECONDS=60 runs longer
test-validate:   ## conformance under the validation layer with synchronisation checks; any message fails it
test-long: export TEST_TIMEOUT = 20000
test-long:       ## every transform length, every kernel of codegen, 100,000 random kernels: hours; LONG=20 runs a twentieth
test-processors: ## codegen, conformance and transforms on Vulkan as Mesa compiles them for processors without AVX-512 and without AVX
# Most of the time of these suites is spent in LLVM: Mesa and PoCL compile kernels without its optimiser in two thirds
# of the time. test-processors and test-long use the optimiser.
test $(suites:%=test-%): export GALLIVM_PERF = nopt
test $(suites:%=test-%): export POCL_EXTRA_BUILD_FLAGS = -cl-opt-disable
ifndef OCL_ICD_VENDORS
test $(suites:%=test-%) test-long: export OCL_ICD_VENDORS = $(shell tools/pocl build/pocl)
endif
$(suites:%=test-%) $(further:%=test-%): test-%: deps-test
	@$(call build_and_run,$*)

$(suites:%=programs-%) $(further:%=programs-%): programs-%: $$(programs_$$*)
	@:

programs: deps-test $(suites:%=programs-%) programs-processors programs-long $$(bench_programs) ## builds every test program and benchmark
	@:

matrix: build/$(cc)/tests/codegen/matrix ## all of tests/codegen/matrix (test-codegen takes one kernel in eight as CUDA C and OpenCL C); a quarter of an hour
	@$< -a

# Memory, queues and replacements of missing types. Without interop, which needs these features, and features, which
# disables each feature itself.
FEATURES = mapped cached coherent queues sharing i64 f64,subgroup i8,i16,f16,storage_8,storage_16
test-features: deps-test ## conformance once more without each of FEATURES, by VKDISPATCH_DISABLE; some ten minutes
	@$(MAKE) --no-print-directory -k -j$(JOBS) programs-conformance || true
	@tools/run-tests $(foreach f,$(FEATURES),$(patsubst %,"env VKDISPATCH_DISABLE=$f %",\
	    $(filter-out %/interop %/features,$(call files,tests/conformance,$(cc)))))

# Drivers create one context at a time for all processes: half of JOBS compute (matrix, the longest, starts first), and
# as many more wait for the driver.
test-gpu:        ## suites and benchmarks for a machine with a GPU where nothing can be installed (see carry)
	@TEST_JOBS=$$(($(JOBS) * 3 / 2)) $(MAKE) --no-print-directory test-side-by-side MATRIX_PARTS=$$((($(JOBS) + 1) / 2)) MATRIX_FLAGS=-a \
	    BINDING_BACKENDS=vulkan two_devices= FFT_BACKENDS="cuda opencl" TURN=all
	@$(MAKE) --no-print-directory bench-dispatch bench-cuda bench-opencl

test-side-by-side:
	@$(call build_and_run,codegen conformance fft unit golden fuzz)

# bench-fft also uses VkFFT. The sweep takes too long for `make bench`; the accuracy is no time.
bench_programs = $(patsubst %/fft,build/vkfft/tools/bench/fft,$(filter-out %/sweep %/accuracy %/shapes,$(call files,tools/bench,$(cc))))
bench: bench-compile ## every benchmark: `bench NAME SIZE ours=… rival=… ratio=… bound=… ok|short`
	@$(MAKE) --no-print-directory -j$(JOBS) $(bench_programs)
	@for program in $(bench_programs); do $$program || exit; done

bench-dispatch: build/$(cc)/tools/bench/dispatch ## recording, dependent dispatches and round trips against hand-written Vulkan
	@$<

bench-transfers: build/$(cc)/tools/bench/transfers ## uploads and downloads of an image and of a large buffer against hand-written Vulkan
	@$<

bench-present: build/$(cc)/tools/bench/present ## frames shown in a window of Xvfb against a hand-written swapchain loop
	@$<

bench-opencl: build/$(cc)/tools/bench/opencl ## chains and round trips against hand-written OpenCL
	@$<

bench-cuda: build/$(cc)/tools/bench/cuda ## launches and round trips against hand-written code for the driver API; skipped without a CUDA device
	@$<

bench-accuracy: build/vkfft/tools/bench/accuracy ## errors of transforms beside pocketfft (PYTHON: with SciPy) and VkFFT
	@$<

bench-build: build/$(cc)/tools/bench/build ## builder to SPIR-V, compared with glslang on the same kernel
	@$<

bench-pipeline: build/$(cc)/tools/bench/pipeline ## pipelines from modules of the builder and of glslang: time to create them, and their registers
	@$<

bench-kernels: build/$(cc)/tools/bench/kernels ## a histogram, a Montgomery product and SHA-256, compared with hand-written GLSL and CUDA C
	@$<

# CUB is device code, and VkFFT on CUDA needs the headers of the toolkit. Without nvcc these libraries are not built,
# and their figures are skipped.
NVCC := $(shell command -v nvcc 2>/dev/null || ls /usr/local/cuda*/bin/nvcc 2>/dev/null | head -n 1)
build/vkfft_cuda.so: tools/bench/vkfft_cuda.cpp
	@mkdir -p $(@D)
	$(quiet)$(NVCC) -O2 -w -shared -Xcompiler -fPIC $< -L$(dir $(NVCC))../lib64/stubs -lcuda -lnvrtc -o $@

bench-fft: build/vkfft/tools/bench/fft $(if $(NVCC),build/vkfft_cuda.so) ## transforms of a GiB, compared with cuFFT, VkFFT and a copy
	@$<

bench-fft-sweep: build/$(cc)/tools/bench/sweep ## transforms of about 2000 sizes, compared with cuFFT and a copy; PART=1/8: an eighth of them
	@$< $(PART)

bench-fft-single: build/$(cc)/tools/bench/sweep ## single transforms, each of which waits for the previous one, compared with cuFFT; PART=1/8: an eighth of them
	@BENCH_BATCH=1 $< $(PART)

build/cub.so: tools/bench/cub.cu
	@mkdir -p $(@D)
	$(quiet)$(NVCC) -O3 -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=sm_90 -shared -Xcompiler -fPIC $< -o $@

bench-reduce: build/$(cc)/tools/bench/reduce $(if $(NVCC),build/cub.so) ## sums, scans and sorts, compared with CUB and a copy
	@$<

PYTHON = python3
bench-original: build/vkfft/tools/bench/fft $(addprefix build/$(cc)/tools/bench/,dispatch reduce) ## compared with the Python package
	@$(PYTHON) tools/bench/original

bench-plots: deps-plots ## writes BENCHMARKS.md and its pictures from the stored results, or from OUTPUT=FILE, the output of benchmarks on MACHINE='description'
	@tools/bench/plot $(OUTPUT) $(if $(MACHINE),--machine '$(MACHINE)')

bench-compile:   ## time to include each header and to compile its implementation
	@tools/bench/compile

# Coverage-guided fuzzing. Failing inputs are written to build/crash-*; `api FILE` replays them.
FUZZ_SECONDS = 60
fuzz-api: deps-test ## libFuzzer over the builder's calls for FUZZ_SECONDS, with clang's sanitizers
	@mkdir -p build/corpus
	clang -std=c99 -g -O1 -I. $(CPPFLAGS) -DFUZZ_LIBFUZZER -DVKDISPATCH_CODEGEN_IMPLEMENTATION -fsanitize=fuzzer,address,undefined \
	    -fno-sanitize-recover=all -MD -MF build/fuzz-api.d tests/fuzz/api.c -c -o build/fuzz-api.o
	clang -fsanitize=fuzzer,address,undefined build/fuzz-api.o -o build/fuzz-api $(LDFLAGS) $$(tools/libraries build/fuzz-api.d) $(LDLIBS)
	build/fuzz-api -max_total_time=$(FUZZ_SECONDS) -max_len=3000 -len_control=0 -artifact_prefix=build/ build/corpus

golden-update: deps-test ## rewrites the golden files; review with git diff
	@$(MAKE) --no-print-directory -j$(JOBS) $(call files,tests/golden,$(cc))
	@for program in $(call files,tests/golden,$(cc)); do GOLDEN_UPDATE=1 $$program || exit; done

carry: deps-test ## fills .carry with the headers and libraries that test-gpu needs on a machine that can install nothing
	@tools/carry .carry

install:         ## headers, vcc and a file for pkg-config to PREFIX (PREFIX=/usr/local, DESTDIR=)
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/vkdispatch $(DESTDIR)$(PREFIX)/share/pkgconfig
	install -m 644 $(HEADERS) $(DESTDIR)$(PREFIX)/include
	install -m 755 tools/vcc $(DESTDIR)$(PREFIX)/bin
	install -m 644 tools/vcc_driver.c $(DESTDIR)$(PREFIX)/share/vkdispatch
	install -m 644 tools/vkdispatch.pc $(DESTDIR)$(PREFIX)/share/pkgconfig

clean:           ## removes build/
	rm -rf build

deps-build:
	@tools/deps.sh build

deps-test:
	@tools/deps.sh build test

deps-plots:
	@tools/deps.sh plots
