#!/bin/sh
# Usage: tests/foreign/fetch.sh TRIPLET FOLDER
# Puts the libraries that a build for another processor or system needs into FOLDER: Debian's
# packages, or, where Debian has none, what it compiles from Debian's sources. It uses apt
# with separate lists, so that the architectures and sources of this machine stay the same.
set -eu
triplet=$1
case $triplet in
  aarch64-linux-gnu) architecture=arm64 ;;
  s390x-linux-gnu) architecture=s390x ;;
  x86_64-linux-musl | x86_64-w64-mingw32) architecture=amd64 ;;
  *) echo "fetch.sh: $triplet is not known" >&2; exit 2 ;;
esac
mkdir -p "$2"
folder=$(cd "$2" && pwd)
tests=$(cd "$(dirname "$0")" && pwd)
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

unpack_packages() {
  apt-get update -qq
  # libc-bin has the locale C.UTF-8, whose files are in the processor's byte order.
  apt-get download -qq libyaml-dev libyaml-0-2 libcmocka-dev libcmocka0 libcjson-dev libcjson1 \
    libxxhash-dev libxxhash0 libc-bin
  for package in *.deb; do dpkg -x "$package" "$folder"; done
}

build() { # NAME OPTION...
  name=$1
  shift
  cmake -E tar xf "$name"_*.orig.tar.?z
  cmake -S "$name"-* -B "$name" -G Ninja --toolchain "$tests/toolchain.cmake" \
    -DRECSORT_TRIPLET="$triplet" -DRECSORT_ROOT="$folder" -DCMAKE_INSTALL_PREFIX=/usr \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_SHARED_LINKER_FLAGS=-static-libgcc "$@"
  DESTDIR="$folder" cmake --build "$name" --target install
}

build_sources() {
  mkdir -p "$folder/apt/parts"
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/debian.*; do
    [ ! -e "$list" ] ||
      sed 's/^Types:.*/Types: deb-src/; s/^deb /deb-src /' "$list" > "$folder/apt/parts/${list##*/}"
  done
  cat >> "$APT_CONFIG" << END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$folder/apt/parts";
END
  apt-get update -qq
  apt-get source -qq --download-only libyaml cmocka
  build libyaml -DBUILD_TESTING=OFF -DINSTALL_LIB_DIR="lib/$triplet"
  build cmocka -DCMAKE_INSTALL_LIBDIR="lib/$triplet" -DWITH_EXAMPLES=OFF
  # libyaml's own build makes no such file. Without YAML_DECLARE_STATIC, Windows looks for a DLL.
  cat > "$folder/usr/lib/$triplet/pkgconfig/yaml-0.1.pc" << END
Name: LibYAML
Description: LibYAML
Version: 0
Cflags: -DYAML_DECLARE_STATIC -I/usr/include
Libs: -L/usr/lib/$triplet -lyaml
END
}

link_kernel_headers() { # musl's compiler does not look where they are
  mkdir -p "$folder/kernel"
  ln -sf /usr/include/linux /usr/include/asm-generic "/usr/include/$(gcc -print-multiarch)/asm" "$folder/kernel"
}

cd "$folder/apt/archives"
[ $triplet != x86_64-linux-musl ] || link_kernel_headers
case $triplet in
  x86_64-*) build_sources ;;
  *) unpack_packages ;;
esac
rm -rf "$folder/apt"
: > "$folder/complete"
