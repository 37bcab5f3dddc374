#!/bin/sh
# Usage: tools/setup.sh build|gate|test
# Installs the Debian packages that are missing of those that building recsort needs, its gate
# (tools/test.sh), or all of its tests (tools/test.sh all). Does nothing if none is missing.
set -eu

# Named because gcc and g++ only recommend the C library's headers.
build='gcc g++ libc6-dev cmake ninja-build pkg-config libyaml-dev libcjson-dev libxxhash-dev libdw-dev python3 dpkg-dev'
gate="$build clang libclang-rt-dev libcmocka-dev python3-venv python3-yaml python3-jsonschema acl binutils
  e2fsprogs strace libpng-dev"
test="$gate clang-tidy libomp-dev gcovr qemu-user-static
  gcc-aarch64-linux-gnu libc6-dev-arm64-cross g++-s390x-linux-gnu libc6-dev-s390x-cross
  libopenmpi-dev openmpi-bin libmpich-dev mpich gfortran
  musl-tools gcc-mingw-w64-x86-64-win32 wine64 lintian rpm mmdebstrap uidmap doxygen ruby nix-bin python3-z3"

case ${1-} in
  build) packages=$build ;;
  gate) packages=$gate ;;
  test) packages=$test ;;
  *) sed -n '2,4s/^# //p' "$0" >&2; exit 2 ;;
esac

if ! command -v apt-get > /dev/null; then
  echo "This is no Debian system; if something is missing, it is one of:" $packages
  exit 0
fi

missing=
for package in $packages; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo > /dev/null; then
    echo "Missing, and only root or sudo can install them:$missing" >&2
    exit 1
  fi
  as_root='sudo'
fi
echo "Installing:$missing"
$as_root apt-get update -qq
# Unquoted: each is several words.
$as_root env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends $missing
