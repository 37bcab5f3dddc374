from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Recsort(CMakePackage):
    """Stable sorting of fixed-size records by a schema's keys"""

    homepage = "@HOMEPAGE@"
    url = "@URL@"

    license("MIT")

    version("@VERSION@", sha256="@SHA256@")

    variant("tools", default=True, description="Build the commands")
    variant("mpi", default=False, description="Build the library and the command for many machines")
    variant("cuda", default=False, description="Build the plugin for NVIDIA GPUs")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+tools")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type="build")
    depends_on("libyaml")
    with when("+tools"):
        depends_on("cjson")
        depends_on("xxhash")
        depends_on("elfutils")
    depends_on("mpi", when="+mpi")
    depends_on("cuda", when="+cuda")

    def cmake_args(self):
        return [
            self.define("RECSORT_TESTS", False),
            self.define_from_variant("RECSORT_TOOLS", "tools"),
            self.define_from_variant("RECSORT_MPI", "mpi"),
            self.define_from_variant("RECSORT_CUDA", "cuda"),
        ]
