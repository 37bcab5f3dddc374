#!/bin/sh
# The library's only global state is its pool of threads: apart from that, only the C runtime's data
# are writable.
#
# Usage: no_state.sh LIBRARY
set -eu
found=$(nm -f sysv "$1" | awk -F'|' '
  { gsub(/ /, "", $1); gsub(/ /, "", $7) }
  $7 ~ /^\.(data|bss|tdata|tbss|lbss|ldata)(\.|$)/ && $7 !~ /^\.data\.rel\.ro/ &&
  $1 !~ /^(__cpu_model|__cpu_features2?|__TMC_END__|__dso_handle|completed\.[0-9]+|__bss_start|_edata|_end|pool)$/ { print $1, $7 }')
[ -z "$found" ] || { printf 'can be written to:\n%s\n' "$found"; exit 1; }
nm -f sysv "$1" | grep -q recsort_sort || { echo "no symbols in $1"; exit 1; }
