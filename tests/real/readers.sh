#!/bin/sh
# Usage: readers.sh PYTHON FOLDER RECSORT SCHEMAS
# Runs readers.py with NumPy, laspy and astropy in an environment in FOLDER, which it makes if it is not there.
# Exit status 77 if that cannot be: there is no network.
set -eu
python=$1 folder=$2
if ! [ -e "$folder/complete" ]; then
  rm -rf "$folder"
  "$python" -m venv "$folder"
  "$folder/bin/pip" install -q --disable-pip-version-check numpy laspy astropy || {
    echo "skipped: pip cannot install NumPy, laspy and astropy"
    exit 77
  }
  : > "$folder/complete"
fi
shift 2
exec "$folder/bin/python" -B "$(dirname "$0")/readers.py" "$@"
