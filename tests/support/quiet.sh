#!/bin/sh
# The library and the plugins that come with it call nothing that prints, ends the process or
# handles signals.
#
# Usage: quiet.sh ASSERTIONS FILE...    (1: a build with assertions, which may fail)
set -eu
assertions=$1
shift
[ "$assertions" = 1 ] && allowed=__assert_fail || allowed=none
[ $# -gt 0 ] || { echo "no files"; exit 1; }
for file in "$@"; do
  { nm -D --undefined-only "$file" 2>/dev/null || true; nm -u "$file" 2>/dev/null || true; } |
    awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u
done >"${TMPDIR:-/tmp}/quiet.$$"
trap 'rm -f "${TMPDIR:-/tmp}/quiet.$$"' EXIT
grep -qx memcpy "${TMPDIR:-/tmp}/quiet.$$" || { echo "nothing found to look at"; exit 1; }
found=$(grep -Ex '(_*v?[fd]?printf(_chk)?|f?put(s|c|char)|fwrite|perror|psignal|p?writev?|std(out|err)|v?(warn|err)x?|error|syslog|_?exit|_Exit|quick_exit|pthread_exit|abort|__assert_fail|raise|p?kill|sigaction|signal|sigset|bsd_signal)' \
  "${TMPDIR:-/tmp}/quiet.$$" | grep -vx "$allowed" || true)
[ -z "$found" ] || { printf 'called:\n%s\n' "$found"; exit 1; }
