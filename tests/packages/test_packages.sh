#!/bin/sh
# Usage: test_packages.sh BUILD-FOLDER CC
# Makes the packages twice, which gives the same files, has lintian look at them, and uses them in a
# root that has nothing but Debian's base system: root.sh.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for time in first second; do
  cpack --config "$build/CPackConfig.cmake" -B "$scratch/$time" > "$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
  (cd "$scratch/$time" && sha256sum ./*.deb) > "$scratch/$time.sums"
done
cmp "$scratch/first.sums" "$scratch/second.sums"
for package in librecsort1 librecsort-dev recsort recsort-extras python3-recsort; do
  ls "$scratch/first/${package}_"*.deb
done
if grep -q '^RECSORT_MPI:.*=ON\|^MPI_C_LIB_NAMES:.*=.' "$build/CMakeCache.txt"; then
  dpkg-deb -c "$scratch/first/recsort-mpi_"*.deb | grep ' ./usr/bin/recsort-mpi$'
  for file in include/recsort/mpi.h share/recsort/fortran/recsort.f90 share/man/man3/recsort_mpi_sort.3.gz; do
    dpkg-deb -c "$scratch/first/librecsort-mpi-dev_"*.deb | grep " ./usr/$file$"
  done
fi

# RPM packages have the same files, but for Debian's documents, and own no folder but those that are called recsort.
if command -v rpmbuild > "$scratch/log"; then
  cpack -G RPM --config "$build/CPackConfig.cmake" -B "$scratch/rpm" > "$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
  for deb in "$scratch"/first/*.deb; do
    package=$(dpkg-deb -f "$deb" Package)
    dpkg-deb -c "$deb" | grep -v '^d' | awk '{ print $6 }' | sed 's/^[.]//; s/[.]gz$//' | grep -v '^/usr/share/\(doc\|lintian\)/' |
      sort > "$scratch/deb-files"
    rpm -qpl --queryformat '' "$scratch/rpm/$package-"[0-9]*.rpm | grep -v '/recsort$\|/recsort/[a-z]*$\|/recsort-[^/]*-info$' |
      sort > "$scratch/rpm-files" || true
    grep -v '/recsort$\|/recsort/[a-z]*$\|/recsort-[^/]*-info$' "$scratch/deb-files" | diff - "$scratch/rpm-files" ||
      { echo "$package: other files"; exit 1; }
  done
  rpm -qpR "$scratch"/rpm/recsort-[0-9]*.rpm | grep '^librecsort1 = '
fi

lintian --display-info --fail-on error,warning,info --allow-root "$scratch"/first/*.deb

cp -r "$here/root.sh" "$here/../install/outside" "$scratch"
chmod -R a+rX "$scratch" # root.sh may be run by another user
export CC="$2" DEBS="$scratch/first"
"$here/clean_root.sh" "sh -eu '$scratch/root.sh'"
