#!/bin/sh
# Usage: readers.sh PYTHON FOLDER RECSORT SCHEMAS
# Runs readers.py with the packages that it reads with, in an environment in FOLDER, which it makes if it is not there.
# Exit status 77 if that cannot be: there is no network.
set -eu
python=$1 folder=$2
packages='numpy laspy astropy plyfile pyshp dbfread segyio'
if [ "$(cat "$folder/complete" 2> /dev/null)" != "$packages" ]; then
  rm -rf "$folder"
  "$python" -m venv "$folder"
  "$folder/bin/pip" install -q --disable-pip-version-check $packages || {
    echo "skipped: pip cannot install $packages"
    exit 77
  }
  echo "$packages" > "$folder/complete"
fi
shift 2
exec "$folder/bin/python" -B "$(dirname "$0")/readers.py" "$@"
