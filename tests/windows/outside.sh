#!/bin/sh
# Usage: outside.sh BUILD-FOLDER CC SOURCE-FOLDER WINE...
# Installs a build for Windows. C programs outside the project, linked with its import library, load the DLL from their folder, as
# on a user's machine, sort, and find a plugin beside it, built with only the installed headers.
set -eu
build=$1 cc=$2 source=$3
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/root" --component librecsort-dev > "$scratch/log" || { cat "$scratch/log"; exit 1; }
dll=$(find "$scratch/root/bin" -name '*.dll')
mkdir -p "$scratch/app/recsort"
cp "$dll" "$scratch/app"

# Only libraries that each Windows has: neither libyaml nor what is the compiler's.
needed=$("${cc%gcc}objdump" -p "$dll" | sed -n 's/.*DLL Name: //p' | sort | tr '\n' ' ')
[ "$needed" = 'KERNEL32.dll msvcrt.dll ' ] || { echo "the DLL needs $needed"; exit 1; }

for program in outside plugins; do
  "$cc" -std=c11 -Wall -Wextra -Werror -o "$scratch/app/$program.exe" "$source/$program.c" "-I$scratch/root/include" \
    "$(find "$scratch/root" -name librecsort.dll.a)"
done
"$cc" -std=c11 -shared -static-libgcc -o "$scratch/app/recsort/librecsort_example.dll" "$source/example_plugin.c" "-I$scratch/root/include"

cd "$scratch/app"
got=$("$@" outside.exe | tr -d '\r')
[ "$got" = abcde ] || { echo "outside.exe printed '$got', not 'abcde'"; exit 1; }
"$@" plugins.exe | tr -d '\r' > "$scratch/list"
grep '^example (.*[/\\]app[/\\]recsort[/\\]librecsort_example\.dll)$' "$scratch/list" || { cat "$scratch/list"; exit 1; }
mv librecsort.dll away.dll
if "$@" outside.exe > "$scratch/log" 2>&1; then echo 'outside.exe runs without the DLL'; exit 1; fi
