# find_package(recsort) gives recsort::recsort, the shared library; recsort::static;
# recsort::file, for more records than memory holds (POSIX); recsort::plugin, the
# headers for a plugin, which links nothing; and where they are installed, recsort::cuda, the plugin for
# GPUs, which is loaded at run time, and recsort::mpi, which needs the MPI library that it was built with.
include(${CMAKE_CURRENT_LIST_DIR}/recsort-targets.cmake)
# The static library needs libyaml, which may be where the linker does not search by itself.
find_library(RECSORT_YAML_LIBRARY yaml)
mark_as_advanced(RECSORT_YAML_LIBRARY)
if(RECSORT_YAML_LIBRARY)
  get_filename_component(recsort_yaml_folder ${RECSORT_YAML_LIBRARY} DIRECTORY)
  set_property(TARGET recsort::static APPEND PROPERTY INTERFACE_LINK_DIRECTORIES ${recsort_yaml_folder})
endif()
include(${CMAKE_CURRENT_LIST_DIR}/recsort-cuda.cmake OPTIONAL)
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/recsort-mpi.cmake)
  include(CMakeFindDependencyMacro)
  find_package(MPI QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    include(${CMAKE_CURRENT_LIST_DIR}/recsort-mpi.cmake)
  endif()
endif()
