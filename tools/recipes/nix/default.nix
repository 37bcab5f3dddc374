{
  lib,
  stdenv,
  fetchurl,
  cmake,
  ninja,
  pkg-config,
  python3,
  libyaml,
  cjson,
  xxhash,
  elfutils,
}:

stdenv.mkDerivation (finalAttrs: {
  pname = "recsort";
  version = "@VERSION@";

  src = fetchurl {
    url = "@URL@";
    sha256 = "@SHA256@";
  };

  nativeBuildInputs = [
    cmake
    ninja
    pkg-config
    python3
  ];
  buildInputs = [
    libyaml
    cjson
    xxhash
    elfutils
  ];

  cmakeFlags = [
    (lib.cmakeBool "RECSORT_TESTS" false)
    (lib.cmakeBool "RECSORT_MPI" false)
    (lib.cmakeBool "RECSORT_CUDA" false)
  ];

  meta = {
    description = "Stable sorting of fixed-size records by a schema's keys";
    homepage = "@HOMEPAGE@";
    license = lib.licenses.mit;
    mainProgram = "recsort";
    platforms = lib.platforms.linux;
  };
})
