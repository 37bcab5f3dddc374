from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get
from conan.tools.gnu import PkgConfigDeps

required_conan_version = '>=2.0'


class Recsort(ConanFile):
    name = 'recsort'
    version = '@VERSION@'
    description = "Stable sorting of fixed-size records by a schema's keys"
    license = 'MIT'
    homepage = '@HOMEPAGE@'
    url = homepage
    topics = 'sorting', 'records'
    package_type = 'shared-library'  # with a static one beside it
    settings = 'os', 'arch', 'compiler', 'build_type'
    options = {'tools': [True, False]}
    default_options = {'tools': False}

    def validate(self):
        if self.settings.os != 'Linux':
            raise ConanInvalidConfiguration('recsort is tested on Linux')

    def layout(self):
        cmake_layout(self, src_folder='source')

    def requirements(self):
        self.requires('libyaml/[>=0.2.5 <1]')
        if self.options.tools:
            self.requires('cjson/[>=1.7.14 <2]')
            self.requires('xxhash/[>=0.8.1 <1]')
            self.requires('elfutils/[>=0.186 <1]')

    def build_requirements(self):
        self.tool_requires('cmake/[>=3.25]')
        self.tool_requires('pkgconf/[>=1.8 <3]')

    def source(self):
        get(self, '@URL@', sha256='@SHA256@', strip_root=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update(RECSORT_TESTS=False, RECSORT_TOOLS=bool(self.options.tools),
                                         RECSORT_MPI=False, RECSORT_CUDA=False)
        toolchain.generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, 'LICENSE', self.source_folder, f'{self.package_folder}/licenses')
        CMake(self).install()

    def package_info(self):
        # find_package takes recsort's own file, whose targets are those of every installation.
        self.cpp_info.set_property('cmake_find_mode', 'none')
        self.cpp_info.builddirs = ['lib/cmake/recsort']
        self.cpp_info.libs = ['recsort']
        self.cpp_info.system_libs = ['dl', 'pthread']
