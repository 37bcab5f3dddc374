# The target `amalgamation`: recsort as files that anyone can copy: recsort.c, recsort.h and
# recsort.hpp for the CPU, recsort.cuh for CUDA. It compiles nothing. It takes the sources for all systems and options, not only those of this build.
find_package(Python3 3.8 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  message(STATUS "No Python 3: building without the target amalgamation")
  return()
endif()
set(AMALGAMATION ${PROJECT_BINARY_DIR}/amalgamation)
file(GLOB amalgamated CONFIGURE_DEPENDS core/*.c core/*/*.c core/base/platform/*/*.c)
get_target_property(cpu recsort_cpu SOURCES)
get_target_property(runs recsort_runs INTERFACE_SOURCES)
add_custom_command(OUTPUT ${AMALGAMATION}/recsort.c BYPRODUCTS ${AMALGAMATION}/recsort.h ${AMALGAMATION}/recsort.hpp ${AMALGAMATION}/recsort.cuh
  DEPFILE ${AMALGAMATION}/recsort.c.d
  DEPENDS tools/amalgamate.py ${amalgamated} ${cpu} ${runs}
  COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/tools/amalgamate.py
    ${PROJECT_SOURCE_DIR} ${RECSORT_VERSION} ${AMALGAMATION} ${amalgamated} ${cpu} ${runs}
  COMMENT "Writing amalgamation/recsort.c, recsort.h, recsort.hpp and recsort.cuh" VERBATIM)
add_custom_target(amalgamation ALL DEPENDS ${AMALGAMATION}/recsort.c)
