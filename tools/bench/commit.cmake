# Writes commit.h, with the commit of this build, if it has changed.
#   cmake -DSOURCE=... -DHEADER=... -P commit.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git describe --always --dirty
  WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define BENCH_COMMIT \"@commit@\"\n" @ONLY)
