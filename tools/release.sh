#!/bin/sh
# Usage: tools/release.sh FOLDER [WHEEL...]
# Makes all files of a release in FOLDER, from what is committed: the source, recsort.c with its headers, packages of
# Debian and RPM, the Python package as a source distribution and wheels (as tools/python/wheels.sh says; all four, or
# those that you name), the documents as pages, an SBOM (SPDX 2.3), and SHA256SUMS. Each is tried in a folder of its own. Where nvcc is, the
# GPU's plugin comes as a package and as a wheel, for all GPUs, which takes minutes more.
# The same commit gives the same bytes: compare two runs by `sha256sum -c`. The tag is yours to set.
set -eu
umask 022
[ $# -ge 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
complain() { echo "release.sh: $*" >&2; exit 1; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ -z "$(ls "$folder")" ] || complain "$folder is not empty"
cd "$(dirname "$0")/.."
[ -z "$(git status --porcelain --untracked-files=no)" ] || complain "there are changes that are not committed"
version=$(awk '/^#define RECSORT_VERSION_(MAJOR|MINOR|PATCH) / { all = all dot $3; dot = "." }
  /^#define RECSORT_VERSION_SUFFIX / { gsub(/"/, "", $3); all = all $3 } END { print all }' core/include/recsort/recsort.h)
name=recsort-$version
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A folder as an archive that only its files change.
pack() { # PARENT NAME ARCHIVE
  tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner "--mtime=@$SOURCE_DATE_EPOCH" -c "$2" | gzip -9n > "$3"
}

# ---- What is made ----

git archive --format=tar "--prefix=$name/" HEAD | tee "$scratch/source.tar" | gzip -9n > "$folder/$name.tar.gz"
tar -C "$scratch" -xf "$scratch/source.tar"
source=$scratch/$name build=$scratch/build
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DRECSORT_TESTS=OFF > "$scratch/log"
cmake --build "$build" > "$scratch/log" || { tail -n 30 "$scratch/log"; exit 1; }
cmake --build "$build" --target amalgamation docs > "$scratch/log" || { tail -n 30 "$scratch/log"; exit 1; }

mkdir "$scratch/$name-amalgamation"
cp "$build"/amalgamation/recsort.[ch]* "$source/LICENSE" "$scratch/$name-amalgamation"
rm -f "$scratch/$name-amalgamation"/*.d
pack "$scratch" "$name-amalgamation" "$folder/$name-amalgamation.tar.gz"
cp -r "$build/docs/html" "$scratch/$name-docs"
pack "$scratch" "$name-docs" "$folder/$name-docs.tar.gz"

cpack --config "$build/CPackConfig.cmake" -B "$scratch/deb" > "$scratch/log" || { cat "$scratch/log"; exit 1; }
cp "$scratch"/deb/*.deb "$folder"
if command -v rpmbuild > "$scratch/log"; then
  cpack -G RPM --config "$build/CPackConfig.cmake" -B "$scratch/rpm" > "$scratch/log" ||
    { cat "$scratch/log"; exit 1; }
  cp "$scratch"/rpm/*.rpm "$folder"
fi

"$source/tools/python/wheels.sh" "$folder" "$@"
plugin=$build/plugins/cuda/librecsort_cuda.so
if [ -e "$plugin" ]; then
  pip wheel -q --no-deps -w "$folder" -C "cmake.define.RECSORT_CUDA_PLUGIN=$plugin" "$source/tools/python/cuda"
fi
python3 "$source/tools/sbom.py" "$version" "$folder" > "$scratch/$name.spdx.json"
mv "$scratch/$name.spdx.json" "$folder"
(cd "$folder" && sha256sum -- * > "$scratch/sums" && mv "$scratch/sums" SHA256SUMS)

# ---- What is tried ----

cd "$scratch"
mkdir try
tar -C try -xf "$folder/$name.tar.gz"
(cd "try/$name" && cmake -S . -B build -DRECSORT_TESTS=OFF -DCMAKE_CUDA_COMPILER=NOTFOUND > ../log && cmake --build build -j "$(nproc)" > ../log)
"try/$name/build/tools/recgen" -s "$source/schemas/entity.yaml" -n 1000 -o in
"try/$name/build/tools/recsort" -s "$source/schemas/entity.yaml" -o sorted in

tar -C try -xf "$folder/$name-amalgamation.tar.gz"
cat > try/program.c << 'END'
#include "recsort.h"
int main(void)
{
  recsort_schema *schema;
  recsort_sorter *sorter;
  int keys[] = {3, 1, 2};
  return recsort_schema_create_number(RECSORT_INT32, RECSORT_ASCENDING, RECSORT_NAN_LAST, NULL, &schema, NULL) ||
         recsort_sorter_create(schema, NULL, &sorter, NULL) || recsort_sort(sorter, keys, 3, NULL) ||
         keys[0] != 1 || keys[1] != 2 || keys[2] != 3;
}
END
cc -std=c11 -O1 "-Itry/$name-amalgamation" try/program.c "try/$name-amalgamation/recsort.c" -lpthread -lm -o try/program
try/program || complain "recsort.c does not sort"

tar -C try -xf "$folder/$name-docs.tar.gz"
[ -s "try/$name-docs/index.html" ] || complain "there are no pages"

for deb in "$folder"/*.deb; do dpkg-deb -x "$deb" try/root; done
LD_LIBRARY_PATH=$(dirname "$(find try/root -name librecsort.so.1 | head -n 1)") try/root/usr/bin/recsort \
  -s "$source/schemas/entity.yaml" in | cmp - sorted || complain "the packages sort otherwise"

python3 -m venv try/python
for wheel in "$folder"/recsort-*linux*"$(uname -m)".whl; do
  case $wheel in *musllinux*) continue ;; esac
  try/python/bin/pip install -q "$wheel"
  try/python/bin/python -c 'import numpy, recsort; a = numpy.array([3, 1, 2]); assert list(recsort.argsort(a)) == [1, 2, 0]'
done
(cd "$folder" && sha256sum --quiet -c SHA256SUMS)
ls "$folder"
