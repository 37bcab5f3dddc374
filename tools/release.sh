#!/bin/sh
# Usage: tools/release.sh [--only-make] [--without-cuda] FOLDER [WHEEL...]
# Makes all files of a release in FOLDER, from what is committed:
#   the source; recsort.c with its headers; the documents as pages; recipes for other package managers
#   debian/, rpm/   packages
#   python/         the Python package: its source distribution, and wheels. WHEEL is a target of tools/python/wheels.sh;
#                   by default its four
#   *.spdx.json, SHA256SUMS
# Where nvcc is, the plugin for GPUs is made too, for all GPUs, which takes minutes. --without-cuda leaves it out.
# Then each kind of user tries the files in a clean root (tests/users). --only-make leaves that out.
# The same commit gives the same bytes: `diff -r` of two such folders finds nothing. The tag is yours to set.
set -eu
umask 022
try=yes cuda=
while :; do
  case ${1-} in
    --only-make) try= ;;
    --without-cuda) cuda=-DCMAKE_CUDA_COMPILER=NOTFOUND ;;
    '' | -*) sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
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

git archive --format=tar "--prefix=$name/" HEAD | tee "$scratch/source.tar" | gzip -9n > "$folder/$name.tar.gz"
python3 tools/recipes/fill.py "$folder/$name.tar.gz" "$scratch/$name-recipes"
pack "$scratch" "$name-recipes" "$folder/$name-recipes.tar.gz"
tar -C "$scratch" -xf "$scratch/source.tar"
source=$scratch/$name build=$scratch/build
# Unquoted: a word or none.
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DRECSORT_TESTS=OFF $cuda > "$scratch/log"
cmake --build "$build" > "$scratch/log" || { tail -n 30 "$scratch/log"; exit 1; }
cmake --build "$build" --target amalgamation docs > "$scratch/log" || { tail -n 30 "$scratch/log"; exit 1; }

mkdir "$scratch/$name-amalgamation"
cp "$build"/amalgamation/recsort.[ch]* "$source/LICENSE" "$scratch/$name-amalgamation"
rm -f "$scratch/$name-amalgamation"/*.d
pack "$scratch" "$name-amalgamation" "$folder/$name-amalgamation.tar.gz"
cp -r "$build/docs/html" "$scratch/$name-docs"
pack "$scratch" "$name-docs" "$folder/$name-docs.tar.gz"

mkdir "$folder/debian"
cpack --config "$build/CPackConfig.cmake" -B "$scratch/deb" > "$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
cp "$scratch"/deb/*.deb "$folder/debian"
if command -v rpmbuild > "$scratch/log"; then
  cpack -G RPM --config "$build/CPackConfig.cmake" -B "$scratch/rpm" > "$scratch/log" 2>&1 ||
    { cat "$scratch/log"; exit 1; }
  mkdir "$folder/rpm"
  cp "$scratch"/rpm/*.rpm "$folder/rpm"
fi

plugin=$build/plugins/cuda/librecsort_cuda.so
[ $# -gt 0 ] || set -- manylinux-x86_64 manylinux-aarch64 musllinux-x86_64 musllinux-aarch64
if [ -e "$plugin" ]; then set -- "$@" "cuda=$plugin"; fi
"$source/tools/python/wheels.sh" "$folder/python" "$@"
python3 "$source/tools/sbom.py" "$version" "$folder" > "$scratch/$name.spdx.json"
mv "$scratch/$name.spdx.json" "$folder"
(cd "$folder" && find . -type f | sort | xargs sha256sum > "$scratch/sums" && mv "$scratch/sums" SHA256SUMS)

[ -z "$try" ] || "$source/tests/users/try.sh" "$folder"
(cd "$folder" && find . -type f | sort)
