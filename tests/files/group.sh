#!/bin/sh
# Sorts 1 GiB in a control group of 64 MiB: without an option, with the largest --memory that may fit, and from a pipe.
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

sorted() { # OPTION..., and standard input
  limited recsort -s "$schema" "$@" --stats -o out 2>stats || { cat stats; exit 1; }
  grep '^runs' stats
  cksum <out | cmp - expected
  if [ -n "$group" ]; then echo "peak: $(cat "$group/$peak" 2>/dev/null) bytes"; fi
}

sorted in
sorted -S 55M in # (64 MiB - 8 MiB) / 1.01
# What comes by a pipe is held until it is too much. Records of 100 bytes leave little of the memory unused.
schema=$folder/wide.yaml
printf '%s\n' 'record: R' 'fields: [{name: key, type: uint32}, {name: rest, type: bytes, count: 96}]' 'keys: [key]' >wide.yaml
recgen -s "$schema" -n 4000000 -o in
recsort -s "$schema" in | cksum >expected
mkfifo pipe
cat in >pipe &
sorted -S 55M <pipe
