#!/bin/sh
# Usage: run_ray.sh SOURCE-FOLDER BUILD-FOLDER LIBRARY
# Tests recsort.ray, as it is in the source, with LIBRARY and the newest Ray that the package's extra "ray" takes. Ray is
# large, so no other test installs it.
set -eu
source=$1 build=$2 library=$3
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_CACHE_DIR="$build/../pip"
rm -rf "$build"
mkdir -p "$build/lib" "$build/home"
cd "$build"

python3 -m venv clean
# The requirements of the extra, from the one line in pyproject.toml that has them.
extra=$(sed -n 's/^ray = \["\(.*\)"\]$/\1/p' "$source/tools/python/pyproject.toml")
[ -n "$extra" ]
clean/bin/python -m pip install -q --no-compile --only-binary :all: numpy pytest "$extra"

# As Debian's package has it: the module in one folder, the library in another one.
ln -s "$library" lib/librecsort.so.0
export LD_LIBRARY_PATH="$build/lib" PYTHONPATH="$source/tools/python/src" RECSORT_SCHEMAS="$source/schemas"
# Many processes import the same modules: the first one compiles them. Nothing is written beside the source.
export PYTHONPYCACHEPREFIX="$build/compiled"
# Ray sends no statistics, listens on the loopback interface only (the second variable), and keeps its token in this folder.
export RAY_USAGE_STATS_ENABLED=0 RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 HOME="$build/home"
clean/bin/python -m pytest -q -p no:cacheprovider --disable-warnings --basetemp="$build/temporary" \
  -o tmp_path_retention_policy=none "$source/tests/python/test_ray.py"
