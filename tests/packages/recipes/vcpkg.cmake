# Usage: cmake -D PORT=FOLDER -D FOLDER=FOLDER -P vcpkg.cmake
# Runs a port with stand-ins for the functions of vcpkg that it calls; they refuse arguments that they do not know. It builds
# once, and installs in FOLDER/packages.
set(CURRENT_PACKAGES_DIR ${FOLDER}/packages)

macro(take one many) # the arguments of a function
  cmake_parse_arguments(arg "" "${one}" "${many}" ${ARGN})
  foreach(name ${one} ${many})
    if(NOT arg_${name})
      message(FATAL_ERROR "No ${name}")
    endif()
  endforeach()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "What is ${arg_UNPARSED_ARGUMENTS}?")
  endif()
endmacro()

function(must_have file)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "${file} is not there")
  endif()
endfunction()

function(command)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_download_distfile result)
  take("FILENAME;SHA512" "URLS" ${ARGN})
  file(DOWNLOAD ${arg_URLS} ${FOLDER}/downloads/${arg_FILENAME} EXPECTED_HASH SHA512=${arg_SHA512})
  set(${result} ${FOLDER}/downloads/${arg_FILENAME} PARENT_SCOPE)
endfunction()

function(vcpkg_extract_source_archive result)
  take("ARCHIVE" "" ${ARGN})
  file(ARCHIVE_EXTRACT INPUT ${arg_ARCHIVE} DESTINATION ${FOLDER}/source)
  file(GLOB folder ${FOLDER}/source/*) # there is one
  set(${result} ${folder} PARENT_SCOPE)
endfunction()

function(vcpkg_find_acquire_program name)
  find_program(program pkg-config REQUIRED)
  set(${name} ${program} PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
  take("SOURCE_PATH" "OPTIONS" ${ARGN})
  command(${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${FOLDER}/built -G Ninja -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  take("" "" ${ARGN})
  command(${CMAKE_COMMAND} --build ${FOLDER}/built --target install)
endfunction()

function(vcpkg_cmake_config_fixup)
  take("CONFIG_PATH" "" ${ARGN})
  must_have(${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/recsort-config.cmake)
endfunction()

function(vcpkg_fixup_pkgconfig)
  take("" "" ${ARGN})
  must_have(${CURRENT_PACKAGES_DIR}/lib/pkgconfig/recsort.pc)
endfunction()

function(vcpkg_install_copyright)
  take("" "FILE_LIST" ${ARGN})
  must_have(${arg_FILE_LIST})
endfunction()

include(${PORT}/portfile.cmake)
