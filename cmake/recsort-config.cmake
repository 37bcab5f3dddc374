# find_package(recsort) gives recsort::recsort, the shared library, and recsort::static.
include(${CMAKE_CURRENT_LIST_DIR}/recsort-targets.cmake)
