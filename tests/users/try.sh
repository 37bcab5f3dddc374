#!/bin/sh
# Usage: try.sh RELEASE [USER...]
# Runs USER.sh for each USER, by default for all of them. Each script does what such a user does first with the files of a
# release (tools/release.sh), as root in a clean root: Debian's base system and the folder /release. The shell that reads a
# script has VERSION, the release's, and `get PACKAGE...`, which installs Debian packages. To add a user, add a script.
set -eu
release=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[ $# -gt 0 ] || set -- $(cd "$here" && ls ./*.sh | sed -n 's,^\./,,; s/[.]sh$//; /^try$/!p')

cp -r "$release" "$scratch/release"
case " $* " in
  *' python '* | *' packager '*) # what it needs of other projects
    python3 -m pip download -q --disable-pip-version-check -d "$scratch/release/others" numpy pandas polars pyarrow duckdb scikit-build-core ;;
esac
cat > "$scratch/enter" << 'END_OF_ENTER'
set -eu
mkdir "$3/home/user"
cp -r "$2" "$3/release"
cp "$1" "$3/home/user.sh"
version=$(basename "$2"/*.spdx.json .spdx.json)
exec chroot "$3" env -i "VERSION=${version#recsort-}" HOME=/home/user LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=/usr/bin:/bin:/usr/sbin:/sbin \
  sh -euc 'cd /home/user
    get() { apt-get -y -qq install --no-install-recommends "$@" > /home/log 2>&1 || { cat /home/log; exit 1; }; }
    . /home/user.sh'
END_OF_ENTER
for user in "$@"; do
  [ -e "$here/$user.sh" ] || { echo "try.sh: there is no $user.sh" >&2; exit 2; }
  cp "$here/$user.sh" "$scratch"
  chmod -R a+rX "$scratch"
  "$here/../packages/clean_root.sh" "sh '$scratch/enter' '$scratch/$user.sh' '$scratch/release'" || { echo "$user: failed"; exit 1; }
  echo "$user: right"
done
