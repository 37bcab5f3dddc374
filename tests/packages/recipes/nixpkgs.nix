# Builds a recipe with stand-ins for what Nix's packages give it. Its libraries and its tools are those of this machine.
{ recipe, path }:
let
  there = { cmake = null; ninja = null; pkg-config = null; python3 = null; libyaml = null; cjson = null; xxhash = null; elfutils = null; };
  lib = {
    cmakeBool = name: value: "-D${name}:BOOL=${if value then "ON" else "OFF"}";
    licenses.mit = "MIT";
    platforms.linux = [ builtins.currentSystem ];
  };
  fetchurl = { url, sha256 }: builtins.fetchurl { inherit url sha256; };
  mkDerivation = function:
    let attributes = function attributes; in
    assert builtins.elem builtins.currentSystem attributes.meta.platforms;
    derivation {
      name = "${attributes.pname}-${attributes.version}";
      system = builtins.currentSystem;
      builder = "/bin/sh";
      inherit (attributes) src cmakeFlags;
      PATH = path;
      args = [ "-euc" ''
        tar -xzf $src
        cmake -S * -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=$out -DCMAKE_INSTALL_LIBDIR=lib $cmakeFlags
        cmake --build build --target install
      '' ];
    };
  make = import recipe;
in
make (builtins.intersectAttrs (builtins.functionArgs make) (there // { inherit lib fetchurl; stdenv = { inherit mkDerivation; }; }))
