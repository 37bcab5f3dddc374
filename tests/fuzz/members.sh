#!/bin/sh
# Usage: members.sh COMPILER SOURCE-FOLDER
# A member that is added to a struct of a job, a schema or options must not go unnoticed: fuzz_job.c
# does not compile until it draws one. It draws every type of a field.
set -eu
[ $# = 2 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
compiler=$1 source=$2 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/recsort"

compiles() {
  "$compiler" -std=c11 -fsyntax-only -I "$work/recsort" -I "$work" -I "$source/tests" \
    "$source/tests/fuzz/fuzz_job.c" > "$work/messages" 2>&1
}

cp "$source"/core/include/recsort/*.h "$work/recsort/"
compiles || { cat "$work/messages"; echo 'it does not compile as it is'; exit 1; }
for struct in recsort_job recsort_column recsort_array recsort_needs recsort_options \
  recsort_allocator recsort_executor recsort_schema_desc recsort_field_desc recsort_key_desc \
  recsort_computed_desc recsort_enumerator; do
  cp "$source"/core/include/recsort/*.h "$work/recsort/"
  sed -i "s/^} $struct;/  unsigned char added;\n&/" "$work/recsort/job.h" "$work/recsort/recsort.h"
  grep -q ' added;' "$work/recsort/job.h" "$work/recsort/recsort.h" || { echo "$struct: where is it?"; failed=1; }
  if compiles; then
    echo "$struct: a member that nothing draws is not noticed"
    failed=1
  elif ! grep -q "missing.*initializer.*added\|missing field 'added'" "$work/messages"; then
    cat "$work/messages"
    failed=1
  fi
done
types=$(sed -n '/^typedef enum recsort_type {/,/^} recsort_type;/s/^  \(RECSORT_[A-Z0-9_]*\).*/\1/p' \
  "$source/core/include/recsort/recsort.h")
[ "$types" ] || { echo 'where are the types?'; failed=1; }
for type in $types; do
  grep -q "\b$type\b" "$source/tests/fuzz/drawn_schema.h" || { echo "$type: it is not drawn"; failed=1; }
done
exit $failed
