class Recsort < Formula
  desc "Stable sorting of fixed-size records by a schema's keys"
  homepage "@HOMEPAGE@"
  url "@URL@"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "python@3.13" => :build
  depends_on "cjson"
  depends_on "elfutils"
  depends_on "libyaml"
  depends_on :linux
  depends_on "xxhash"

  def install
    args = %w[-DRECSORT_TESTS=OFF -DRECSORT_MPI=OFF -DRECSORT_CUDA=OFF]
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", *args, *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    schema = pkgshare/"schemas/entity.yaml"
    system bin/"recgen", "-s", schema, "--count", "1000", "-o", "entities.bin"
    system bin/"recsort", "-s", schema, "entities.bin", "-o", "sorted.bin"
    system bin/"recsort", "-s", schema, "--check", "sorted.bin"
  end
end
