#!/bin/sh
# Usage: tests/foreign/fetch.sh TRIPLET FOLDER
# Unpacks the Debian libraries that a build for another processor needs into FOLDER. It uses apt
# with separate lists, so that the architectures of this machine stay the same.
set -eu
triplet=$1
case $triplet in
  aarch64-linux-gnu) architecture=arm64 ;;
  s390x-linux-gnu) architecture=s390x ;;
  *) echo "fetch.sh: $triplet is not known" >&2; exit 2 ;;
esac
mkdir -p "$2"
folder=$(cd "$2" && pwd)
[ ! -e "$folder/complete" ] || exit 0
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
: > "$folder/apt/status"
cat > "$folder/apt/conf" << END
Dir::State "$folder/apt";
Dir::State::status "$folder/apt/status";
Dir::Cache "$folder/apt";
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "";
END
export APT_CONFIG="$folder/apt/conf"
apt-get update -qq
cd "$folder/apt/archives"
# libc-bin has the locale C.UTF-8, whose files are in the processor's byte order.
apt-get download -qq libyaml-dev libyaml-0-2 libcmocka-dev libcmocka0 libcjson-dev libcjson1 \
  libxxhash-dev libxxhash0 libc-bin
for package in *.deb; do dpkg -x "$package" "$folder"; done
rm -rf "$folder/apt"
: > "$folder/complete"
