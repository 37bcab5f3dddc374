# Installation. The installed tree may be moved: tools find the library, and the library its
# plugins, relative to themselves. Only the static library searches for plugins in the prefix.
# Each component is a Debian package, but for `licence`: packages have their own copyright file.
include(CMakePackageConfigHelpers)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME librecsort-dev)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/recsort)

install(TARGETS recsort_shared recsort_static recsort_plugin EXPORT recsort-targets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} # a DLL
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT librecsort1 NAMELINK_COMPONENT librecsort-dev
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY core/include/recsort DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET amalgamation)
  install(FILES ${AMALGAMATION}/recsort.h ${AMALGAMATION}/recsort.c ${AMALGAMATION}/recsort.hpp ${AMALGAMATION}/recsort.cuh
    DESTINATION ${CMAKE_INSTALL_DATADIR}/recsort/amalgamation)
endif()
install(DIRECTORY schemas/ DESTINATION ${CMAKE_INSTALL_DATADIR}/recsort/schemas COMPONENT recsort)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licence)

# The tools find the library beside them, and recbench the program that sorts for it.
file(RELATIVE_PATH to_library ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
foreach(tool recsort recgen reccat recschema sprites)
  if(TARGET ${tool})
    set_target_properties(${tool} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
  endif()
endforeach()

if(TARGET recbench-sorts)
  file(RELATIVE_PATH to_library ${CMAKE_INSTALL_PREFIX}/libexec/recsort ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(recbench-sorts PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
endif()

# librecsort_file, beside the library.
if(TARGET recsort_file)
  install(TARGETS recsort_file EXPORT recsort-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT librecsort1 NAMELINK_COMPONENT librecsort-dev)
  install(FILES files/include/recsort/file.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/recsort)
endif()

# The plugin for GPUs and what needs MPI, where they are built; each may be left out of an installation.
if(TARGET recsort_cuda)
  install(TARGETS recsort_cuda EXPORT recsort-cuda
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/recsort COMPONENT recsort-cuda)
  install(EXPORT recsort-cuda NAMESPACE recsort:: DESTINATION ${config_folder} COMPONENT recsort-cuda)
endif()
if(TARGET recsort_mpi)
  install(TARGETS recsort_mpi EXPORT recsort-mpi
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT librecsort-mpi1 NAMELINK_COMPONENT librecsort-mpi-dev)
  install(FILES tools/mpi/include/recsort/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/recsort COMPONENT librecsort-mpi-dev)
  # The source: each Fortran compiler has modules of its own.
  install(FILES tools/mpi/recsort.f90 DESTINATION ${CMAKE_INSTALL_DATADIR}/recsort/fortran COMPONENT librecsort-mpi-dev)
  install(EXPORT recsort-mpi NAMESPACE recsort:: DESTINATION ${config_folder} COMPONENT librecsort-mpi-dev)
endif()

# find_package(recsort)
install(EXPORT recsort-targets NAMESPACE recsort:: DESTINATION ${config_folder})
write_basic_package_version_file(recsort-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES cmake/recsort-config.cmake ${PROJECT_BINARY_DIR}/recsort-config-version.cmake
  DESTINATION ${config_folder})

# pkg-config
file(RELATIVE_PATH to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
if(CMAKE_DL_LIBS)
  set(dl_flag -l${CMAKE_DL_LIBS})
endif()
set(yaml_requirement "")
if(RECSORT_YAML)
  set(yaml_requirement yaml-0.1)
endif()
configure_file(cmake/recsort.pc.in recsort.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/recsort.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET recsort_file)
  configure_file(cmake/recsort_file.pc.in recsort_file.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/recsort_file.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

if(TARGET recsort_mpi)
  configure_file(cmake/recsort-mpi.pc.in recsort-mpi.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/recsort-mpi.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT librecsort-mpi-dev)
endif()

# The target `uninstall` removes what was installed, but no file that has changed since: so each has
# its checksum in a list.
if(PROJECT_IS_TOP_LEVEL)
  set(list ${PROJECT_BINARY_DIR}/installed.txt)
  install(CODE "
    set(lines \"\")
    foreach(file IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
      file(SHA256 \"\$ENV{DESTDIR}\${file}\" sum)
      string(APPEND lines \"\${sum} \$ENV{DESTDIR}\${file}\\n\")
    endforeach()
    file(WRITE ${list} \"\${lines}\")" COMPONENT list)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -D LIST=${list} -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake)
  include(cmake/packages.cmake)
endif()
