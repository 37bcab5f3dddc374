#!/bin/sh
# Usage: clang_cl.sh CLANG MINGW-GCC SOURCE-FOLDER AMALGAMATION WINE...
# Compiles recsort.c by clang-cl, with MinGW's headers and libraries in place of Microsoft's, and
# runs a program that has it.
set -eu
clang=$1 gcc=$2 source=$3 files=$4
shift 4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# For a compiler that is not gcc MinGW's headers define attributes away. clang's headers need them.
cat > "$folder/_mingw.h" << 'end'
#include_next <_mingw.h>
#undef __attribute__
#undef __MINGW_ATTRIB_NORETURN
#define __MINGW_ATTRIB_NORETURN __attribute__((noreturn))
#undef __MINGW_ATTRIB_DEPRECATED
#define __MINGW_ATTRIB_DEPRECATED
end
for file in "$files/recsort.c" "$source/tests/amalgamation/sorted.c"; do
  # Without /GS-, it calls functions of Microsoft's library.
  "$clang" --driver-mode=cl --target=x86_64-pc-windows-msvc /c /O2 /GS- /W4 /WX /imsvc "$folder" \
    /imsvc /usr/x86_64-w64-mingw32/include "-I$files" "$file" "/Fo$folder/$(basename "$file").obj"
done
"$gcc" -o "$folder/sorted.exe" "$folder"/*.obj -Wl,--defsym,__chkstk=___chkstk_ms,--defsym,_fltused=0
"$@" "$folder/sorted.exe" | grep -q '^sorted'
