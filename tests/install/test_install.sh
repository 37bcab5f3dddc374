#!/bin/sh
# Usage: test_install.sh BUILD-FOLDER
# Installs a build and builds programs against it with find_package and with pkg-config; CC, CXX,
# CFLAGS, CXXFLAGS and LDFLAGS as usual. All programs must print the records in order.
set -eu
build=$1
unset RECSORT_PLUGIN_PATH
source=$(cd "$(dirname "$0")/outside" && pwd)
scratch=$(mktemp -d)
# The list of what you have installed from this build stays as it is.
list=$build/installed.txt
[ ! -e "$list" ] || cp "$list" "$scratch/list"
restore() { if [ -e "$scratch/list" ]; then cp "$scratch/list" "$list"; else rm -f "$list"; fi; }
trap 'restore; rm -rf "$scratch"' EXIT

expect() {
  got=$("$@") || { echo "$1: failed"; exit 1; }
  if [ "$got" != abcde ]; then
    echo "$1: printed '$got', not 'abcde'"
    exit 1
  fi
  echo "$(basename "$1"): right"
}

cmake --install "$build" --prefix "$scratch/first" > "$scratch/log"
mv "$scratch/first" "$scratch/root" # an installed tree can be moved

cmake -S "$source" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/root" > "$scratch/log"
cmake --build "$scratch/build" > "$scratch/log" || { cat "$scratch/log"; exit 1; }
expect "$scratch/build/outside_shared"
expect "$scratch/build/outside_static"
expect "$scratch/build/outside_cxx"
expect "$scratch/build/outside_sorter"

pc=$(find "$scratch/root" -name recsort.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
[ "$(pkg-config --print-requires-private recsort)" = yaml-0.1 ] # for a static link
flags=$(pkg-config --cflags --libs recsort)
library=$(pkg-config --variable=libdir recsort)
# Unquoted: each holds several words.
$CC ${CFLAGS:-} -o "$scratch/pc_c" "$source/outside.c" $flags -Wl,-rpath,"$library"
$CXX ${CXXFLAGS:-} -o "$scratch/pc_cxx" "$source/outside.cpp" $flags -Wl,-rpath,"$library"
$CXX ${CXXFLAGS:-} -std=c++17 -o "$scratch/pc_sorter" "$source/sorter.cpp" $flags -Wl,-rpath,"$library"
expect "$scratch/pc_c"
expect "$scratch/pc_cxx"
expect "$scratch/pc_sorter"

printf '#include <recsort/file.h>\nint main(void) { recsort_file_close(0); return !recsort_file_open; }\n' > "$scratch/file.c"
$CC ${CFLAGS:-} -o "$scratch/file" "$scratch/file.c" $(pkg-config --cflags --libs recsort_file) -Wl,-rpath,"$library"
"$scratch/file"

for tool in recsort recgen reccat recschema recbench sprites; do
  "$scratch/root/bin/$tool" --version
  # Each option of --help is completed by each shell.
  share=$scratch/root/share
  bash -n "$share/bash-completion/completions/$tool"
  "$scratch/root/bin/$tool" --help | grep '^  ' | grep -o -e '--[a-z0-9][a-z0-9-]*' | sort -u > "$scratch/options"
  [ "$(wc -l < "$scratch/options")" -ge 4 ]
  while read -r option; do
    for script in "bash-completion/completions/$tool" "zsh/site-functions/_$tool" "fish/vendor_completions.d/$tool.fish"; do
      grep -q -e "[ '*]${option}[^a-z0-9-]" -e "-l ${option#--}\( \|$\)" "$share/$script" || { echo "$script lacks $option"; exit 1; }
    done
  done < "$scratch/options"
  test -s "$scratch/root/share/man/man1/$tool.1"
done
test -s "$scratch/root/share/man/man3/recsort_sort.3"
if [ -e "$scratch/root/bin/recsort-mpi" ]; then # there is MPI
  "$scratch/root/bin/recsort-mpi" --version
  test -s "$scratch/root/share/man/man1/recsort-mpi.1"
  mpicc -o "$scratch/ranks" "$source/ranks.c" $(pkg-config --cflags --libs recsort-mpi) -Wl,-rpath,"$library"
  "$scratch/ranks"
  "$scratch/build/outside_mpi" # by find_package
  test -s "$scratch/root/share/man/man3/recsort_mpi_sort.3"
  test -s "$scratch/root/share/recsort/fortran/recsort.f90"
fi
test -s "$scratch/root/share/man/man5/recsort-schema.5"
test -s "$scratch/root/share/recsort/schemas/entity.yaml"
cp "$scratch"/root/share/recsort/amalgamation/recsort.[ch]* "$scratch"
$CC -c -o "$scratch/recsort.o" "$scratch/recsort.c"
printf '#include "recsort.hpp"\nint main() { return RECSORT_VERSION_MAJOR - 1; }\n' > "$scratch/copied.cpp"
$CXX -std=c++17 -o "$scratch/copied" "$scratch/copied.cpp" "$scratch/recsort.o" -pthread
"$scratch/copied"
grep -q sort_pairs "$scratch/recsort.cuh"
mkdir "$scratch/plain"
"$scratch/root/bin/recgen" -s "$scratch/root/share/recsort/schemas/entity.yaml" -n 1000 |
  "$scratch/root/bin/recsort" -s "$scratch/root/share/recsort/schemas/entity.yaml" |
  "$scratch/root/bin/recsort" -s "$scratch/root/share/recsort/schemas/entity.yaml" --check

# Schemas by name, in whatever folder.
(cd "$scratch/plain" && "$scratch/root/bin/recgen" -s entity -n 10 | "$scratch/root/bin/recsort" -s entity |
  "$scratch/root/bin/reccat" -s entity --json) > "$scratch/by_name"
[ "$(wc -l < "$scratch/by_name")" = 10 ]
if "$scratch/root/bin/recsort" -s none < /dev/null > "$scratch/log" 2>&1; then exit 1; fi
[ "$(cat "$scratch/log")" = 'recsort: none: no such file, and no schema of that name is installed' ]

# The part of sprites that a game copies needs only the library.
cp "$source"/../../../tools/sprites/depth_sort.[ch] "$scratch"
$CC ${CFLAGS:-} -std=c11 -Wall -Wextra -Werror -c -o "$scratch/depth_sort.o" "$scratch/depth_sort.c" \
  $(pkg-config --cflags recsort)
echo 'depth_sort: right'

# A plugin, built with only the installed headers: with find_package and with pkg-config.
mkdir "$scratch/plugins"
$CC ${CFLAGS:-} -std=c11 -fvisibility=hidden -shared -fPIC -o "$scratch/plugins/librecsort_example.so" \
  "$source/example_plugin.c" $(pkg-config --cflags recsort)
schema=$scratch/root/share/recsort/schemas/entity.yaml
"$scratch/root/bin/recgen" -s "$schema" -n 20000 -o "$scratch/in"
"$scratch/root/bin/recsort" -s "$schema" --plugin cpu -o "$scratch/sorted" "$scratch/in"
for folder in build plugins; do
  RECSORT_PLUGIN_PATH=$scratch/$folder
  export RECSORT_PLUGIN_PATH
  "$scratch/root/bin/recsort" -s "$schema" --plugin example "$scratch/in" | cmp - "$scratch/sorted"
  # recbench sorts whole records with it, and checks the result
  "$scratch/root/bin/recbench" --suite entity --count 20000 --repeat 1 --plugin example > "$scratch/log"
  grep -q example "$scratch/log"
done
unset RECSORT_PLUGIN_PATH
echo 'example: right'

# The plugin is found beside the shared library, wherever the tree is moved, but not by a static
# one.
plugins=$(dirname "$(find "$scratch/root" -name librecsort.so)")/recsort
listed() {
  "$@" > "$scratch/list"
  if ! sed -n 's/^example .*(\(.*\)).*/\1/p' "$scratch/list" | cmp - "$scratch/expected"; then
    echo "$1: not what was expected:"
    cat "$scratch/list"
    exit 1
  fi
}
mkdir -p "$plugins"
cp "$scratch/build/librecsort_example.so" "$plugins"
echo "$plugins/librecsort_example.so" > "$scratch/expected"
listed "$scratch/root/bin/recsort" --list-plugins
listed "$scratch/build/plugins_shared"
mv "$scratch/root" "$scratch/moved"
echo "$scratch/moved/${plugins#"$scratch/root/"}/librecsort_example.so" > "$scratch/expected"
listed "$scratch/moved/bin/recsort" --list-plugins
: > "$scratch/expected"
mkdir "$scratch/build/recsort"
cp "$scratch/build/librecsort_example.so" "$scratch/build/recsort"
listed "$scratch/build/plugins_static"
echo 'plugins: right'

# `uninstall` removes what was installed, and neither what has changed since nor what others put there.
cmake --install "$build" --prefix "$scratch/gone" > "$scratch/log"
uninstall() { cmake --build "$build" --target uninstall > "$scratch/log" 2>&1; }
echo '# mine' >> "$scratch/gone/share/recsort/schemas/entity.yaml"
touch "$scratch/gone/bin/other"
if uninstall; then echo 'uninstall: a changed file is no error'; exit 1; fi
grep -q 'share/recsort/schemas/entity.yaml$' "$scratch/log"
(cd "$scratch/gone" && find . ! -type d | sort) > "$scratch/left"
printf '%s\n' ./bin/other ./share/recsort/schemas/entity.yaml | cmp - "$scratch/left"
rm "$scratch/gone/share/recsort/schemas/entity.yaml"
uninstall
if uninstall; then echo 'uninstall: nothing installed is no error'; exit 1; fi
[ ! -e "$scratch/gone/include/recsort" ] && [ -e "$scratch/gone/bin" ]
echo 'uninstall: right'
