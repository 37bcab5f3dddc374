#!/usr/bin/env python3
"""Builds a recipe of conda by rattler-build, without a network, and runs its tests.

Usage: conda.py RECIPE-FOLDER OUTPUT-FOLDER

A channel that this makes has an empty package of each name that the recipe needs: what it is named for is on this machine.
"""
import sys
from pathlib import Path

from rattler_build import EnvironmentIsolation, Stage0Recipe, ToolConfiguration, VariantConfig

# As many as the recipe names: compiler("c") is gcc, stdlib("c") is sysroot.
NAMES = {'gcc_linux-64': '12', 'gxx_linux-64': '12', 'sysroot_linux-64': '2.17', 'cmake': '3.25', 'ninja': '1', 'pkg-config': '1',
         'python': '3.12', 'yaml': '1', 'cjson': '1', 'xxhash': '1', 'elfutils': '1'}

recipe, output = Path(sys.argv[1]), Path(sys.argv[2]).resolve()
for name, version in NAMES.items():
    Stage0Recipe.from_yaml(f'{{package: {{name: {name}, version: "{version}"}}, build: {{noarch: generic, number: 0}}}}').run_build(
        output_dir=output, channels=[], tool_config=ToolConfiguration(test_strategy='skip'))

variants = VariantConfig({'c_stdlib': ['sysroot'], 'c_compiler': ['gcc'], 'cxx_compiler': ['gxx']})
[built] = Stage0Recipe.from_file(recipe / 'recipe.yaml').run_build(
    variants, ToolConfiguration(test_strategy='native', keep_build=True), output, [output.as_uri()], package_format='tar-bz2',
    env_isolation=EnvironmentIsolation.NONE)
print(*built.log, sep='\n')
print(built.packages[0])
