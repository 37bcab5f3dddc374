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
set(CPACK_COMPONENTS_ALL librecsort1 librecsort-dev recsort python3-recsort)
if(TARGET recsort_cuda)
  list(APPEND CPACK_COMPONENTS_ALL recsort-cuda)
endif()
if(TARGET recsort-mpi)
  list(APPEND CPACK_COMPONENTS_ALL librecsort-mpi1 librecsort-mpi-dev recsort-mpi)
endif()
set(CPACK_SET_DESTDIR ON)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
