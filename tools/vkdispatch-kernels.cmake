# vkdispatch_kernels(NAME SOURCE [TARGETS LIST] [OPTIONS OPTION...])
#
# Compiles the kernels of a C or C++ file ahead of time with vcc, to NAME.h and NAME.blob. Link the interface library
# NAME_kernels: it puts NAME.h on the include path; its property blob is the path of NAME.blob.
#   TARGETS   languages, separated by commas (default: spirv,cuda,opencl)
#   OPTIONS   options of vcc, for instance -I and -D; `vcc --help` lists them
# vcc is a POSIX shell script. It builds a program and runs it, so it needs a compiler for the machine that compiles:
# VKDISPATCH_HOST_CC for C and VKDISPATCH_HOST_CXX for C++. Default: the project's compiler for this language; if there
# is none, or the project is cross-compiled, the first of cc, gcc and clang (c++, g++ and clang++) on the path.

find_program(VKDISPATCH_VCC vcc HINTS ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_CURRENT_LIST_DIR}/../../../bin
    ${CMAKE_CURRENT_LIST_DIR}/../../../../bin NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH
    DOC "compiles kernels ahead of time")
mark_as_advanced(VKDISPATCH_VCC)

# The compiler of the file `source` for the machine that compiles
function(vkdispatch_host_compiler source out)
    if(source MATCHES "[.](cpp|cc|cxx)$")
        set(language CXX)
        set(names c++ g++ clang++)
    else()
        set(language C)
        set(names cc gcc clang)
    endif()
    set(variable VKDISPATCH_HOST_${language})
    if(language STREQUAL C)
        set(variable VKDISPATCH_HOST_CC)
    endif()
    if(NOT ${variable} AND NOT CMAKE_CROSSCOMPILING AND CMAKE_${language}_COMPILER)
        set(${out} ${CMAKE_${language}_COMPILER} PARENT_SCOPE)
        return()
    endif()
    find_program(${variable} NAMES ${names} NO_CMAKE_FIND_ROOT_PATH
        DOC "compiler for the machine that compiles, used by vkdispatch_kernels")
    if(NOT ${variable})
        message(FATAL_ERROR "vkdispatch_kernels: no ${language} compiler for this machine was found; set ${variable}")
    endif()
    set(${out} ${${variable}} PARENT_SCOPE)
endfunction()

function(vkdispatch_kernels name source)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" TARGETS OPTIONS)
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "vkdispatch_kernels ${name}: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT VKDISPATCH_VCC)
        message(FATAL_ERROR "vkdispatch_kernels ${name}: vcc was not found; set VKDISPATCH_VCC")
    endif()
    if(NOT arg_TARGETS)
        set(arg_TARGETS spirv,cuda,opencl)
    endif()
    get_filename_component(source ${source} ABSOLUTE)
    vkdispatch_host_compiler(${source} compiler)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/vkdispatch-kernels)
    set(files ${folder}/${name}.h ${folder}/${name}.blob)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${files}
        COMMAND ${VKDISPATCH_VCC} ${source} --header ${folder}/${name}.h --blob ${folder}/${name}.blob
            --target ${arg_TARGETS} --cc ${compiler} ${arg_OPTIONS}
        DEPENDS ${source} ${VKDISPATCH_VCC} VERBATIM)
    add_custom_target(${name}_files DEPENDS ${files})
    add_library(${name}_kernels INTERFACE)
    add_dependencies(${name}_kernels ${name}_files)
    target_include_directories(${name}_kernels INTERFACE ${folder})
    set_target_properties(${name}_kernels PROPERTIES blob ${folder}/${name}.blob)
endfunction()
