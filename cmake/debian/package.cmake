# Run by CPack: makes a package of the files of each component. The library is where the linker looks, so
# the commands need no path to it.
foreach(package IN LISTS CPACK_COMPONENTS_ALL)
  file(GLOB_RECURSE programs ${CPACK_TEMPORARY_DIRECTORY}/${package}/usr/bin/* ${CPACK_TEMPORARY_DIRECTORY}/${package}/usr/libexec/*)
  foreach(program IN LISTS programs)
    file(RPATH_REMOVE FILE ${program})
  endforeach()
endforeach()
execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/package.sh
  ${CPACK_PACKAGE_VERSION} ${CPACK_TEMPORARY_DIRECTORY} ${CPACK_PACKAGE_DIRECTORY} ${CPACK_COMPONENTS_ALL})
