# The target `package` makes Debian packages. CPack puts the files of each component in a folder;
# Debian's own tools make packages of these, described by debian/control.
find_program(DPKG_GENCONTROL dpkg-gencontrol)
set(refused "")
if(NOT DPKG_GENCONTROL OR NOT TARGET recsort_manual)
  set(refused "this needs the Debian packages dpkg-dev and python3")
elseif(NOT CMAKE_INSTALL_PREFIX MATCHES "^/usr/?$")
  set(refused "packages install in /usr: configure with -DCMAKE_INSTALL_PREFIX=/usr")
elseif(NOT RECSORT_TOOLS OR RECSORT_SANITIZE OR RECSORT_COVERAGE OR NOT CMAKE_BUILD_TYPE STREQUAL Release)
  set(refused "packages are made of a Release with the commands, without sanitizers or coverage")
endif()
if(refused)
  add_custom_target(package COMMAND ${CMAKE_COMMAND} -E echo "package: ${refused}" COMMAND ${CMAKE_COMMAND} -E false)
  return()
endif()

# python3-recsort: these files and librecsort.so.1 of the other package.
set(python_folder lib/python3/dist-packages)
install(DIRECTORY tools/python/src/recsort DESTINATION ${python_folder} COMPONENT python3-recsort EXCLUDE_FROM_ALL
  PATTERN __pycache__ EXCLUDE)
file(WRITE ${PROJECT_BINARY_DIR}/METADATA
  "Metadata-Version: 2.1\nName: recsort\nVersion: ${RECSORT_VERSION}\nRequires-Dist: numpy\n")
install(FILES ${PROJECT_BINARY_DIR}/METADATA
  DESTINATION ${python_folder}/recsort-${RECSORT_VERSION}.dist-info COMPONENT python3-recsort EXCLUDE_FROM_ALL)

# To Debian, 1.0.0~rc comes before 1.0.0.
string(REPLACE - ~ CPACK_PACKAGE_VERSION ${RECSORT_VERSION})
set(CPACK_GENERATOR External)
set(CPACK_EXTERNAL_ENABLE_STAGING ON)
set(CPACK_EXTERNAL_PACKAGE_SCRIPT ${PROJECT_SOURCE_DIR}/cmake/debian/package.cmake)
set(CPACK_COMPONENTS_ALL librecsort1 librecsort-dev recsort recsort-extras python3-recsort)
if(TARGET recsort_cuda)
  list(APPEND CPACK_COMPONENTS_ALL recsort-cuda)
endif()
if(TARGET recsort-mpi)
  list(APPEND CPACK_COMPONENTS_ALL librecsort-mpi1 librecsort-mpi-dev recsort-mpi)
endif()
set(CPACK_SET_DESTDIR ON)

# `cpack -G RPM` makes RPM packages of the same components, where there is rpmbuild. It finds what programs need by itself.
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE MIT)
set(CPACK_RPM_PACKAGE_AUTOREQ ON)
set(CPACK_RPM_PACKAGE_RELOCATABLE OFF)
# With SOURCE_DATE_EPOCH the same files give the same packages.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1
%define _buildhost localhost")
# Folders that belong to other packages.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION)
foreach(folder ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_LIBDIR}/cmake /usr/lib/python3/dist-packages /usr/libexec
    /usr/share/man/man1 /usr/share/man/man3 /usr/share/man/man5 /usr/share/bash-completion/completions
    /usr/share/zsh/site-functions /usr/share/fish/vendor_completions.d)
  while(NOT folder STREQUAL /usr)
    list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION ${folder})
    get_filename_component(folder ${folder} DIRECTORY)
  endwhile()
endforeach()
list(REMOVE_DUPLICATES CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION)
set(CPACK_PACKAGE_NAME recsort)
set(CPACK_PACKAGE_VENDOR "the recsort authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(same "= ${CPACK_PACKAGE_VERSION}")
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(CPACK_RPM_${upper}_PACKAGE_NAME ${component})
  if(NOT component STREQUAL librecsort1)
    set(CPACK_RPM_${upper}_PACKAGE_REQUIRES "librecsort1 ${same}")
  endif()
endforeach()
string(APPEND CPACK_RPM_RECSORT-EXTRAS_PACKAGE_REQUIRES ", recsort ${same}, python3")
string(APPEND CPACK_RPM_LIBRECSORT-MPI-DEV_PACKAGE_REQUIRES ", librecsort-mpi1 ${same}, librecsort-dev ${same}")
set(CPACK_RPM_PYTHON3-RECSORT_PACKAGE_ARCHITECTURE noarch)
string(APPEND CPACK_RPM_PYTHON3-RECSORT_PACKAGE_REQUIRES ", python3-numpy >= 1.24")
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
