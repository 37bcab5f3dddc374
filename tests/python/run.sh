#!/bin/sh
# Usage: run.sh SOURCE-FOLDER BUILD-FOLDER STAND-IN PLUGIN CC BYTES
# Builds the source distribution of the Python package, of this its wheel, and the second wheel, installs them where no compiler is in reach, and tests the
# package with the newest NumPy, and with NumPy 1.26 on Python 3.9 or, where there is none, on python3. The second wheel gets a plugin that works with
# the stand-in for the CUDA runtime; both wheels together are tested with arrays on a device. If
# RECSORT_PYTHON_EXAMPLES is set, each test takes so many random arrays, others each time, and the
# type hints are checked; without it, a few, always the same. BYTES is the program of
# tests/amalgamation, by whose output the wheel's library sorts as others do.
set -eu
source=$1 build=$2 standin=$3 plugin=$4 cc=$5 bytes=$6 tests=$1/tests/python
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
export RECSORT_SCHEMAS="$source/schemas" RECSORT_HEADER="$source/core/include/recsort/recsort.h"
export PIP_CACHE_DIR="$build/../pip"
rm -rf "$build"
mkdir -p "$build"
cd "$build"
# The oldest Python and NumPy: 3.9 if this machine has it, also by pyenv, which has no such command; and 1.26, but for Pythons
# that are later than its wheels.
for old in python3.9 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.9.*/bin/python3.9 python3; do
  if "$old" -m venv --help > old.log 2>&1; then break; fi
done
oldest=$("$old" -c 'import sys; print({13: "2.1.", 14: "2.3."}.get(sys.version_info[1], "1.26."))')
echo "the oldest: $("$old" --version), NumPy $oldest"

python3 -m venv builder
python3 -m venv --without-pip clean
"$old" -m venv --without-pip old
into() { # VENV WORD...; as pip install
  venv=$1
  shift
  PATH=/nowhere builder/bin/python -m pip --python "$venv/bin/python" install -q --no-compile --only-binary :all: "$@"
}
install() { into clean "$@"; }
check() { # VENV PYTHONPATH NUMPY WORD...; as pytest
  venv=$1 path=$2 numpy=$3
  shift 3
  RECSORT_NUMPY=$numpy PYTHONPATH="$path:$tests" "$venv/bin/python" -m pytest -q -p no:cacheprovider "$@"
}

PYTHON=builder/bin/python "$source/tools/python/wheels.sh" wheels native "cuda=$plugin" &
install numpy hypothesis pytest pyarrow pandas polars duckdb ml_dtypes
into old "numpy==$oldest*" hypothesis pytest pandas
wait $!
install --no-deps wheels/recsort-*-py3-none-manylinux_*.whl
into old wheels/recsort-*-py3-none-manylinux_*.whl # with its dependencies, which must be there

library=$(echo "$build"/clean/lib/python3*/site-packages/recsort/librecsort.so)
$cc -o bytes "-I$source/core/include" "$source/tests/amalgamation/bytes.c" "$library" "-Wl,-rpath,${library%/*}"
"$source/tests/amalgamation/same.sh" "$source/schemas" "$bytes" "$build/bytes"

install --no-deps --target both wheels/*.whl
device() { RECSORT_STANDIN=$standin STANDIN_PLAN='0 0 0 268435456 3' check clean "$build/both" '' "$tests/test_device.py"; }

check old '' "$oldest" "$tests/test_arrays.py" "$tests/test_files.py" "$tests/test_schema.py" "$tests/test_partition.py" > oldest.log 2>&1 &
old_tests=$!
device > device.log 2>&1 &
device_tests=$!
check clean '' '' "$tests" "--ignore=$tests/test_device.py" "--ignore=$tests/test_ray.py"
wait $old_tests || failed=$?
wait $device_tests || failed=$?
cat oldest.log device.log
[ -z "${failed-}" ]

if [ -n "${RECSORT_PYTHON_EXAMPLES-}" ]; then
  install mypy
  clean/bin/python -m mypy --strict --config-file "$source/pyproject.toml" -p recsort
fi
