# find_package(recsort) gives recsort::recsort, the shared library, recsort::static, and
# recsort::plugin: the headers, for a plugin, which links nothing.
include(${CMAKE_CURRENT_LIST_DIR}/recsort-targets.cmake)
