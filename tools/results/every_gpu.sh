#!/bin/sh
# Usage: tools/results/every_gpu.sh [OUTPUT]
# Builds recsort with kernels for every GPU, as on a machine without one, and writes how long that
# took, the size of the plugin, and the GPUs it has code for. Needs cuobjdump, from the CUDA Toolkit
# or PyPI's package nvidia-cuda-cuobjdump.
set -eu
command -v cuobjdump > /dev/null || { echo "every_gpu.sh: cuobjdump is not in PATH" >&2; exit 2; }
cd "$(dirname "$0")/../.."
output=${1:-tools/results/every-gpu.txt}
build=build/every-gpu
commit=$(git describe --always --dirty)
rm -rf $build
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DRECSORT_TESTS=OFF \
  -DCMAKE_CUDA_ARCHITECTURES_NATIVE='' > /dev/null
start=$(date +%s)
cmake --build $build --parallel "$(nproc)" > /dev/null
seconds=$(($(date +%s) - start))
plugin=$build/plugins/cuda/librecsort_cuda.so
{
  echo "The whole build with kernels for every GPU, commit $commit, $(date -u +%FT%TZ)"
  grep -m 1 'model name' /proc/cpuinfo | sed 's/.*: //'
  nvcc --version | grep release
  echo
  echo "processors                 $(nproc)"
  echo "seconds                    $seconds"
  echo "bytes of the plugin        $(stat -c %s $plugin)"
  cuobjdump --list-elf $plugin | sed -n 's/.*\.\(sm_[0-9a-z]*\)\.cubin.*/\1/p' | sort -V | uniq -c |
    awk '{ printf "files of kernels, %-8s  %d\n", $2, $1 }'
  cuobjdump --list-ptx $plugin | sed -n 's/.*\.\(sm_[0-9a-z]*\)\.ptx.*/\1/p' | sort -V | uniq -c |
    awk '{ printf "the same as PTX, %-8s   %d\n", $2, $1 }'
} > "$output"
cat "$output"
