#!/bin/sh
# Usage: tests/foreign/wine.sh ROOT LIBRARY PROGRAM [ARGUMENT...]
# Runs a Windows program by Wine. ROOT is the folder that fetch.sh made; Wine's own files go there
# too. LIBRARY is the folder of recsort's DLL.
set -eu
root=$1 library=$2
shift 2
export WINEPREFIX="$root/wine" WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml='
export LC_ALL=C.UTF-8 WINEPATH="Z:$root/usr/bin;Z:/usr/x86_64-w64-mingw32/lib;Z:$library"
# Programs that start at once must not all make Wine's files.
if [ ! -e "$root/wine.made" ]; then
  (
    flock 9
    [ -e "$root/wine.made" ] || /usr/lib/wine/wine64 wineboot --init 2> /dev/null
    : > "$root/wine.made"
  ) 9> "$root/wine.lock"
fi
exec /usr/lib/wine/wine64 "$@"
