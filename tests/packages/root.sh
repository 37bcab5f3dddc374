#!/bin/sh
# Usage: root.sh ROOT
# Run by test_packages.sh in a clean ROOT: installs the packages $DEBS/*.deb with apt, uses them, and
# removes them. Programs are compiled by $CC of this machine with the headers and libraries of ROOT, and run there.
root=$1
scratch=$root/scratch
mkdir "$scratch"
outside=$(dirname "$0")/outside
in_root() { chroot "$root" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin "$@"; }
apt_in_root() { in_root DEBIAN_FRONTEND=noninteractive apt-get -y -qq "$@" > "$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }; }
traces() { in_root find / -xdev -name '*recsort*' ! -path '/debs*' ! -path '/scratch*' ! -path '/var/log/*'; }

mkdir "$root/debs"
cp "$DEBS"/*.deb "$root/debs"
install_packages() { # NAME...; with nothing but what they depend on
  files=
  for name in "$@"; do files="$files $(cd "$root" && ls "debs/${name}_"*.deb | sed 's,^,/,')"; done
  # Unquoted: several words.
  apt_in_root install --no-install-recommends $files
}

# the commands
install_packages librecsort1 recsort
if [ -e "$root"/debs/recsort-cuda_* ]; then install_packages recsort-cuda; fi
schema=/usr/share/recsort/schemas/entity.yaml
in_root sh -euc "
  recgen -s $schema -n 100000 -o in
  recsort -s $schema -o out in
  recsort -s $schema --check out
  reccat -s $schema --head 3 out
  if recsort -s $schema --check in 2> /dev/null; then exit 1; fi
  recsort --list-plugins > plugins
  recschema --version"
grep '^cpu ' "$root/plugins"
if [ -e "$root"/debs/recsort-cuda_* ]; then grep '^cuda .*/usr/lib/.*/recsort/librecsort_cuda.so' "$root/plugins"; fi

[ ! -e "$root/usr/bin/python3" ] && [ ! -e "$root/usr/bin/sprites" ] # the commands need neither Python nor the game
install_packages recsort-extras
in_root sh -euc 'recbench --version; sprites --version'

# the Python module, compiled when it was installed
install_packages python3-recsort
in_root python3 - << 'END'
import importlib.metadata
import numpy as np, recsort
from recsort import _library
stars = np.array([(5.5, 1), (2.1, 2), (5.5, 3)], [('mag', 'f4'), ('id', 'i4')])
recsort.sort(stars, keys=['-mag'])
assert stars['id'].tolist() == [1, 3, 2], stars
recsort.FileSort(stars.dtype).close()  # the other library is there too
assert importlib.metadata.version('recsort') == _library.version().decode()
END
[ -n "$(find "$root/usr/lib/python3/dist-packages/recsort" -name '*.pyc')" ]
# recsort.ray is there, and says what it needs: the package does not depend on Ray.
if in_root python3 -m recsort.ray 2> "$scratch/log"; then exit 1; fi
grep '^ModuleNotFoundError: recsort.ray needs Ray' "$scratch/log"

install_packages librecsort-dev

# the manuals, looked up by this machine's man
manuals() { man -M "$root/usr/share/man" -w "$@" > "$scratch/log" || { echo "no manual: $*"; exit 1; }; }
manuals recsort
manuals recsort-schema
manuals 3 recsort
manuals 3 recsort_sort

# the library, by pkg-config and by find_package
apt_in_root install --no-install-recommends libc6-dev
export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_PATH=
PKG_CONFIG_LIBDIR=$(dirname "$(find "$root/usr/lib" -name recsort.pc)")
export PKG_CONFIG_LIBDIR
runs() { # PROGRAM
  cp "$1" "$root/program"
  [ "$(in_root /program)" = abcde ] || { echo "$1 does not print abcde"; exit 1; }
  echo "$(basename "$1"): right"
}
# Unquoted: several words.
$CC --sysroot="$root" -o "$scratch/by_pkg_config" "$outside/outside.c" $(pkg-config --cflags --libs recsort)
runs "$scratch/by_pkg_config"
cmake -S "$outside" -B "$scratch/outside" -DCMAKE_SYSROOT="$root" \
  -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY \
  -DCMAKE_LIBRARY_ARCHITECTURE="$(dpkg-architecture -qDEB_HOST_MULTIARCH)" > "$scratch/log"
cmake --build "$scratch/outside" --target outside_shared outside_static > "$scratch/log" || { cat "$scratch/log"; exit 1; }
runs "$scratch/outside/outside_shared"
runs "$scratch/outside/outside_static"

in_root dpkg --verify
in_root apt-get -qq check

# what was installed is gone in the end
[ -n "$(traces)" ]
apt_in_root purge recsort '*recsort*'
apt_in_root autoremove --purge
left=$(traces)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
echo 'packages: right'
