#!/bin/sh
# Usage: tests/fuzz/pack.sh TARGET FOLDER
# Packs the files in FOLDER as the kept inputs of a target, corpus/TARGET.tar.gz. The same files give
# the same archive. To add an input by hand:
#   mkdir inputs && tar -xzf tests/fuzz/corpus/TARGET.tar.gz -C inputs
#   cp NEW-INPUT inputs/ && tests/fuzz/pack.sh TARGET inputs
set -eu
[ $# = 2 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
archive=$(cd "$(dirname "$0")/corpus" && pwd)/$1.tar.gz
cd "$2"
export LC_ALL=C # sorts the names
tar --format=ustar --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -cf - -- * |
  gzip -9n >"$archive"
