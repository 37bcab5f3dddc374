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
extra=$(sed -n 's/^ray = \["\(.*\)"\]$/\1/p' "$source/pyproject.toml")
[ -n "$extra" ]
clean/bin/python -m pip install -q --no-compile --only-binary :all: numpy pytest "$extra"

# As Debian's package has it: the module in one folder, the library in another one.
ln -s "$library" lib/librecsort.so.1
export LD_LIBRARY_PATH="$build/lib" PYTHONPATH="$source/tools/python/src" RECSORT_SCHEMAS="$source/schemas"
# Many processes import the same modules: the first one compiles them. Nothing is written beside the source.
export PYTHONPYCACHEPREFIX="$build/compiled"
# Ray sends no statistics, listens on the loopback interface only (the second variable), and keeps its token in this folder.
export RAY_USAGE_STATS_ENABLED=0 RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 HOME="$build/home"
# Ray takes for dead what is silent for some seconds, which a busy machine's processes are too. A process that has ended is
# noticed all the same. Only the wait for a server that starts is shorter: the test starts it again.
seconds=600 milliseconds=600000 start=150
export RAY_gcs_server_request_timeout_seconds=$seconds RAY_gcs_rpc_server_connect_timeout_s=$start \
  RAY_gcs_rpc_server_reconnect_timeout_s=$seconds RAY_gcs_server_port_wait_time_s=$start RAY_py_gcs_connect_timeout_s=$start \
  RAY_raylet_start_wait_time_s=$seconds RAY_worker_register_timeout_seconds=$seconds \
  RAY_raylet_client_connect_timeout_milliseconds=$milliseconds RAY_agent_register_timeout_ms=$milliseconds \
  RAY_health_check_timeout_ms=$milliseconds RAY_grpc_keepalive_timeout_ms=$milliseconds \
  RAY_grpc_client_keepalive_timeout_ms=$milliseconds RAY_subscriber_timeout_ms=$milliseconds \
  RAY_fetch_fail_timeout_milliseconds=$milliseconds
clean/bin/python -m pytest -q -p no:cacheprovider --disable-warnings --basetemp="$build/temporary" \
  -o tmp_path_retention_policy=none "$source/tests/python/test_ray.py"
