#!/bin/sh
# Installs missing Debian packages that building, testing or comparing needs.
#
#   tools/deps.sh [-n] [build|test|plots ...]     default: build test; -n only lists what is missing
#
# With apt, a package counts as installed if dpkg says so. Without apt, each line is checked directly (does the header
# compile, does the command exist), and the exit status is 1 if something is missing.
set -eu

# group  package  proof: h header, e header that does not compile by itself, c command, d a Vulkan driver, o a library,
#                        i an OpenCL driver
packages='
build  libc6-dev                 h:stdio.h
build  libvulkan-dev             h:vulkan/vulkan.h
build  mesa-vulkan-drivers       d:
build  libstb-dev                h:stb/stb_image.h
build  glslang-dev               h:glslang/Include/glslang_c_interface.h
build  pkg-config                c:pkg-config
test   gcc                       c:gcc
test   g++                       c:g++
test   clang                     c:clang
test   libclang-rt-dev           s:
test   libcmocka-dev             h:cmocka.h
test   libvulkan-volk-dev        h:volk.h
test   libfftw3-dev              h:fftw3.h
test   libdlpack-dev             h:dlpack/dlpack.h
test   vulkan-validationlayers   l:
test   vulkan-tools              c:vulkaninfo
test   glslang-tools             c:glslangValidator
test   libvkfft-dev              e:vkFFT.h
test   spirv-tools               c:spirv-val
test   spirv-headers             h:spirv/unified1/spirv.h
test   opencl-headers            h:CL/cl.h
test   ocl-icd-libopencl1        o:libOpenCL.so.1
test   pocl-opencl-icd           i:
test   cmake                     c:cmake
test   gcc-mingw-w64-x86-64-win32 c:x86_64-w64-mingw32-gcc
test   g++-mingw-w64-x86-64-win32 c:x86_64-w64-mingw32-g++
test   wine                      c:wine
test   wine64                    c:wine
test   xvfb                      c:xvfb-run
test   xauth                     c:xauth
test   libx11-dev                h:X11/Xlib.h
test   weston                    c:weston
test   libwayland-dev            h:wayland-client.h
test   libglfw3-dev              h:GLFW/glfw3.h
test   gcc-aarch64-linux-gnu     c:aarch64-linux-gnu-gcc
test   g++-aarch64-linux-gnu     c:aarch64-linux-gnu-g++
test   libc6-dev-arm64-cross     c:aarch64-linux-gnu-gcc
test   qemu-user                 c:qemu-aarch64
plots  python3-matplotlib        p:matplotlib
'
CC=${CC:-cc}

have_command() { command -v "$1" >/dev/null 2>&1; }

header_compiles() {
    printf '%s\n' '#include <stddef.h>' '#include <stdint.h>' '#include <stdarg.h>' '#include <setjmp.h>' "#include <$1>" |
        "$CC" ${CPPFLAGS-} -fsyntax-only -x c - >/dev/null 2>&1
}

proven() {
    case $1 in
    e:*) find /usr/include /usr/local/include -name "${1#e:}" 2>/dev/null | grep -q . ;;
    h:*) header_compiles "${1#h:}" ;;
    c:*) have_command "${1#c:}" ;;
    d:*) find /usr/share/vulkan /usr/local/share/vulkan /usr/local/nvidia/share/vulkan /etc/vulkan -name '*icd*.json' 2>/dev/null | grep -q . ;;
    l:*) find /usr/share/vulkan /usr/local/share/vulkan /etc/vulkan -name 'VkLayer_khronos_validation.json' 2>/dev/null | grep -q . ;;
    o:*) ldconfig -p 2>/dev/null | grep -q "${1#o:}" ;;
    i:*) find /etc/OpenCL/vendors -name '*.icd' 2>/dev/null | grep -q . ;;
    p:*) python3 -c "import ${1#p:}" >/dev/null 2>&1 ;;
    s:*) echo 'int main(void){return 0;}' | clang -fsanitize=address -x c - -o /dev/null >/dev/null 2>&1 ;;
    esac
}

dry=no
if [ "${1-}" = -n ]; then dry=yes; shift; fi
[ $# -gt 0 ] || set -- build test
wanted=$(echo "$packages" | awk -v groups=" $* " 'NF && index(groups, " " $1 " ") { print $2, $3 }')

if have_command apt-get && have_command dpkg-query; then
    names=$(echo "$wanted" | cut -d' ' -f1)
    have_command "$CC" || case $CC in clang*) names="clang $names" ;; *) names="gcc $names" ;; esac
    # shellcheck disable=SC2086
    missing=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $names 2>/dev/null |
        awk -v names="$names" '$2 == "installed" { have[$1] = 1 }
            END { n = split(names, name, /[ \n]+/); for (i = 1; i <= n; i++) if (!(name[i] in have)) printf "%s%s", sep, name[i], sep = " " }' sep=)
else
    missing=$(echo "$wanted" | while read -r name proof; do proven "$proof" || echo "$name"; done)
fi
missing=$(echo $missing)
[ -n "$missing" ] || exit 0

if [ $dry = yes ] || ! have_command apt-get; then
    echo "deps: missing here (names of the Debian packages): $missing"
    exit 1
fi

as_root=
if [ "$(id -u)" != 0 ]; then
    have_command sudo || { echo "deps: needs root or sudo to install: $missing"; exit 1; }
    as_root=sudo
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 "$@" >>"$log" 2>&1; }
install() { apt install -y --no-install-recommends $missing; }

echo "deps: installing with apt-get: $missing"
# Refresh package lists only if installing fails: a fresh image has none, and old ones name versions that no longer
# exist.
if ! install && ! { : >"$log"; apt update && install; }; then
    cat "$log"
    echo "deps: apt-get could not install: $missing"
    exit 1
fi
