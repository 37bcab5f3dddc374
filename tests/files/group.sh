#!/bin/sh
# Sorts 1 GiB in a control group of 64 MiB: without an option, and with the largest --memory that may fit.
#
# Usage: group.sh TOOLS SCHEMAS    Where no group can be made, `ulimit -d` limits the memory.
set -eu
PATH="$1:$PATH"
schema=$2/entity.yaml
folder=$(mktemp -d "${TMPDIR:-/var/tmp}/recsort-group.XXXXXX")
group=
# shellcheck disable=SC2329 # it is called by trap
end() {
  [ -z "$group" ] || rmdir "$group" || true
  rm -rf "$folder"
}
trap end EXIT
trap 'exit 1' HUP INT TERM
cd "$folder"

recgen -s "$schema" -n 53687091 -o in
recsort -s "$schema" in | cksum >expected

# Version 1 or 2 of control groups. Their files: the limit, the peak, the processes.
for place in /sys/fs/cgroup/memory /sys/fs/cgroup; do
  group=$place/recsort-test-$$
  case $place in
    */memory) limit=memory.limit_in_bytes peak=memory.max_usage_in_bytes ;;
    *) limit=memory.max peak=memory.peak ;;
  esac
  mkdir "$group" 2>/dev/null || { group=; continue; }
  if echo 67108864 2>/dev/null >"$group/$limit"; then break; fi
  rmdir "$group"
  group=
done

limited() {
  if [ -n "$group" ]; then
    sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
  else
    # shellcheck disable=SC3045 # dash has it
    (ulimit -d 131072 && exec "$@")
  fi
}

# (64 MiB - 8 MiB) / 1.01
for memory in "" "-S 55M"; do
  # shellcheck disable=SC2086 # none, or two words
  limited recsort -s "$schema" $memory --stats in -o out 2>stats || { cat stats; exit 1; }
  grep '^runs' stats
  cksum <out | cmp - expected
  if [ -n "$group" ]; then echo "peak: $(cat "$group/$peak" 2>/dev/null) bytes"; fi
done
