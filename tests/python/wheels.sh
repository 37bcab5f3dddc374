#!/bin/sh
# Usage: wheels.sh SOURCE-FOLDER BUILD-FOLDER BYTES
# Makes what is published of the Python package, and installs it in clean environments: the source distribution where
# pkg-config finds no library, a wheel, and the repository as it is. The libraries of the wheels for other C libraries and
# processors sort as BYTES does, a program of tests/amalgamation.
set -eu
source=$1 build=$2 bytes=$3
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_CACHE_DIR="$build/../pip"
rm -rf "$build"
mkdir -p "$build"
cd "$build"
"$source/tools/python/wheels.sh" dist
ls dist/*.tar.gz dist/*-py3-none-manylinux_2_2[0-9]_x86_64*.whl dist/*-py3-none-musllinux_1_2_x86_64.whl \
  dist/*-py3-none-manylinux_2_2[0-9]_aarch64*.whl dist/*-py3-none-musllinux_1_2_aarch64.whl
[ "$(ls dist | wc -l)" = 5 ]

installs() { # WHAT; from an empty folder, by options of pip
  rm -rf clean empty
  mkdir empty
  python3 -m venv clean
  clean/bin/pip install -q "$@"
  (cd empty && ../clean/bin/python -c 'if True:
    import numpy as np, recsort
    stars = np.array([(5.5, 1), (2.1, 2), (5.5, 3)], [("mag", "f4"), ("id", "i4")])
    recsort.sort(stars, keys=["-mag"])
    assert stars["id"].tolist() == [1, 3, 2], stars
    recsort.Schema.from_yaml("record: r\nfields: [{name: x, type: int8}]\nkeys: [x]\n")
    recsort.FileSort(stars.dtype).close()')
  echo "$*: right"
}
installs dist/*manylinux*_x86_64*.whl
PKG_CONFIG=/bin/false installs dist/*.tar.gz
ls clean/lib/python3*/site-packages/recsort-*.dist-info/licenses/libyaml
installs "$source"

sorts() { # WHEEL CC [EMULATOR...]
  wheel=$1 compiler=$2
  shift 2
  rm -rf unpacked
  python3 -m zipfile -e "$wheel" unpacked
  $compiler -o program "-I$source/core/include" "$source/tests/amalgamation/bytes.c" unpacked/recsort/librecsort.so \
    "-Wl,-rpath,$build/unpacked/recsort"
  printf '#!/bin/sh\nexec %s "%s/program" "$@"\n' "$*" "$build" > emulated
  chmod +x emulated
  "$source/tests/amalgamation/same.sh" "$source/schemas" "$bytes" "$build/emulated"
  echo "$wheel: right"
}
sorts dist/*-musllinux_1_2_x86_64.whl musl-gcc
sorts dist/*manylinux*_aarch64*.whl aarch64-linux-gnu-gcc qemu-aarch64-static -L /usr/aarch64-linux-gnu
