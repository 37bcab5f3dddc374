#!/bin/sh
# Usage: tools/quickstart.sh
# From a fresh Debian machine to sorted records: installs what is missing, builds in build/, makes
# a million entities, sorts them by distance and shows the first ten.
set -eu
cd "$(dirname "$0")/.."
tools/setup.sh build

# Without a GPU here, the plugin would be compiled for every GPU, which takes minutes.
nvidia-smi -L > /dev/null 2>&1 || without_gpu=-DCMAKE_CUDA_COMPILER=NOTFOUND
[ -e build/CMakeCache.txt ] || cmake -S . -B build -G Ninja -DRECSORT_TESTS=OFF ${without_gpu:-}
cmake --build build

schema=schemas/entity.yaml
bin=build/tools
show() {
  echo
  echo "\$ $*"
  "$@"
}
show $bin/recgen --schema $schema --count 1000000 --output build/entities.bin
show $bin/recsort --schema $schema --stats build/entities.bin --output build/sorted.bin
show $bin/recsort --schema $schema --check build/sorted.bin
show $bin/reccat --schema $schema --head 10 build/sorted.bin
