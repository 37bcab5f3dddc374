#!/bin/sh
# Usage: tools/fetch-cub.sh [FOLDER]
# Gets the headers of the newest CUB that Python's package index has, by pip, and puts them into
# FOLDER, build/cub by default. recbench-gpu measures it beside the CUB of the toolkit when the build is
# configured with -DRECSORT_BENCH_CUB=FOLDER.
set -eu

case ${1-} in -*) sed -n '2,5s/^# //p' "$0" >&2; exit 2 ;; esac
folder=${1:-$(cd "$(dirname "$0")/.." && pwd)/build/cub}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM

python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$work" nvidia-cuda-cccl
python3 -m zipfile -e "$work"/*.whl "$work"
headers=$(dirname "$(dirname "$(find "$work" -path '*/cub/version.cuh')")")
rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
mv "$headers" "$folder"
sed -n 's/^#define CUB_VERSION \([0-9]*\).*/CUB_VERSION \1/p' "$folder/cub/version.cuh"
