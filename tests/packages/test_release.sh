#!/bin/sh
# Usage: test_release.sh SOURCE-FOLDER
# Makes a release of the last commit, without the plugin for GPUs and with one wheel. The users of tests/users try it. A second
# release has the same bytes. If a file of it is changed, the packager notices that.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if ! git -C "$1" rev-parse HEAD > "$scratch/log" 2>&1; then
  echo 'skipped: the source is in no repository of git'
  exit 77
fi
git clone -q "$1" "$scratch/source"
"$scratch/source/tools/release.sh" --without-cuda "$scratch/first" native
"$scratch/source/tools/release.sh" --only-make --without-cuda "$scratch/second" native > "$scratch/log"
diff "$scratch/first/SHA256SUMS" "$scratch/second/SHA256SUMS"
diff -r "$scratch/first" "$scratch/second"
docs=$(ls "$scratch/second"/recsort-*-docs.tar.gz) # sh looks for no pattern behind >>
echo >> "$docs"
if "$scratch/source/tests/users/try.sh" "$scratch/second" packager > "$scratch/log" 2>&1; then
  echo 'a changed file is not noticed'
  exit 1
fi
grep 'docs.tar.gz: FAILED' "$scratch/log"
