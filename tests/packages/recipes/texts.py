#!/usr/bin/env python3
"""The recipes for package managers say what CMake says: the libraries, the oldest CMake and Python, the options, the licence.

Usage: texts.py SOURCE-FOLDER
"""
import ast
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import yaml
except ImportError:
    print('skipped: needs the Python module yaml')
    sys.exit(77)

# What pkg-config calls a library: what Debian and each recipe call it
NAMES = {
    'yaml-0.1': {'debian': 'libyaml-dev', 'conda': 'yaml', '': 'libyaml'},
    'libcjson': {'debian': 'libcjson-dev', '': 'cjson'},
    'libxxhash': {'debian': 'libxxhash-dev', '': 'xxhash'},
    'libdw': {'debian': 'libdw-dev', '': 'elfutils'},
}
ONLY_SPRITES = {'libpng', 'sdl2'}  # the game does without
LIBRARY_ALONE = {'conan', 'vcpkg'}  # by default
ADDRESS = 'https://example.invalid/recsort-1.2.3.tar.gz'

root = Path(sys.argv[1])
faults = []


def expect(what, got, wanted):
    if got != wanted:
        faults.append(f'{what}: {got!r}, not {wanted!r}')


def calls(text, name):
    """Of Python: the constant arguments of each call of a function or method."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and name in (getattr(node.func, 'id', ''), getattr(node.func, 'attr', '')):
            yield ([value.value for value in node.args if isinstance(value, ast.Constant)],
                   {word.arg: getattr(word.value, 'value', None) for word in node.keywords})


def spack_libraries(text):
    return {words[0] for words, more in calls(text, 'depends_on') if more.get('type') != 'build'} - {'mpi', 'cuda'}


def conan_libraries(text):
    return {words[0].partition('/')[0] for words, _ in calls(text, 'requires')}


def vcpkg_libraries(text):
    return {name for name in json.loads(text)['dependencies'] if isinstance(name, str)}


def conda_libraries(text):
    return set(yaml.safe_load(text)['requirements']['host'])


def nix_libraries(text):
    return set(re.search(r' buildInputs = \[(.*?)\]', text, re.S)[1].split())


def homebrew_libraries(text):
    return set(re.findall(r'^  depends_on "([^"]*)"$', text, re.M))


def modules(name):
    return set(re.findall(r'pkg_check_modules\(\w+ (?:REQUIRED )?IMPORTED_TARGET (?:GLOBAL )?([^)\s]+)\)', (root / name).read_text()))


cmake = (root / 'CMakeLists.txt').read_text()
library, tools = modules('CMakeLists.txt'), modules('tools/CMakeLists.txt') - ONLY_SPRITES
expect('the libraries that CMake names', library | tools, set(NAMES))
installed = re.search(r"^build='(.*)'$", (root / 'tools/setup.sh').read_text(), re.M)[1].split()
for names in NAMES.values():
    if names['debian'] not in installed:
        faults.append(f'tools/setup.sh build does not install {names["debian"]}')

with tempfile.TemporaryDirectory() as scratch:
    archive, folder = Path(scratch, 'recsort-1.2.3.tar.gz'), Path(scratch, 'recipes')
    archive.write_bytes(b'archive')
    subprocess.run([sys.executable, '-B', root / 'tools/recipes/fill.py', archive, folder, ADDRESS], check=True)
    recipes = {path.parent.name: path.read_text() for path in folder.glob('*/*') if path.name != 'portfile.cmake'}
    portfile = (folder / 'vcpkg/portfile.cmake').read_text()
    texts = {manager: portfile if manager == 'vcpkg' else text for manager, text in recipes.items()}
    sums = {hash.name: hash.hexdigest() for hash in (hashlib.sha256(b'archive'), hashlib.sha512(b'archive'))}
    subprocess.run([sys.executable, '-B', root / 'tools/recipes/fill.py', archive, folder], check=True)
    homepage = re.search(r'^Homepage = "(.*)"$', (root / 'pyproject.toml').read_text(), re.M)[1]
    for manager in recipes:
        if f'{homepage}/recsort-1.2.3.tar.gz' not in ''.join(path.read_text() for path in (folder / manager).iterdir()):
            faults.append(f'{manager}: the archive is not below the homepage of pyproject.toml')

expect('the recipes', set(recipes), {'spack', 'conan', 'vcpkg', 'conda', 'nix', 'homebrew'})
summary = re.search(r'DESCRIPTION "([^"]*)"', cmake)[1]
oldest = re.search(r'cmake_minimum_required\(VERSION ([\d.]+)\)', cmake)[1]
python = re.search(r'find_package\(Python3 ([\d.]+)', (root / 'tools/CMakeLists.txt').read_text())[1]
options = set(re.findall(r'^(?:option|set)\((RECSORT_\w+) ', cmake, re.M))
licence = re.match(r'(\w+) License', (root / 'LICENSE').read_text())[1]

for manager, text in recipes.items():
    needed = library if manager == 'vcpkg' else library | tools
    wanted = {names.get(manager, names['']) for module, names in NAMES.items() if module in needed}
    expect(f'{manager}: libraries', globals()[f'{manager}_libraries'](text), wanted)
    if manager != 'homebrew' and not re.search('''["']1[.]2[.]3["']''', text):  # which takes it from the address
        faults.append(f'{manager}: another version than the archive')
    for what in (summary, homepage, licence if manager != 'nix' else f'licenses.{licence.lower()}'):
        if what not in text:
            faults.append(f'{manager}: says nothing of {what!r}')
    for what in (ADDRESS, sums['sha512' if manager == 'vcpkg' else 'sha256']):
        if what not in texts[manager]:
            faults.append(f'{manager}: says nothing of {what!r}')
    # MPI, CUDA and the tests are never what happens to be on the machine.
    named = set(re.findall(r'RECSORT_\w+', texts[manager]))
    needed = {'RECSORT_TESTS', 'RECSORT_MPI', 'RECSORT_CUDA'} | ({'RECSORT_TOOLS'} if manager in LIBRARY_ALONE else set())
    if not needed <= named <= options:
        faults.append(f'{manager}: options {sorted(named)}, of {sorted(options)}')
    expect(f'{manager}: left to fill', re.findall(r'@[A-Z0-9]+@', text + texts[manager]), [])

for manager, words in (('spack', f'"cmake@{oldest}:"'), ('conan', f"'cmake/[>={oldest}]'"), ('conda', f'- cmake >={oldest}\n'),
                       ('spack', f'"python@{python}:"'), ('conda', f'- python >={python}\n')):
    if words not in recipes[manager]:
        faults.append(f'{manager}: does not say {words!r}')

print(*faults, f'{len(recipes)} recipes, {len(faults)} faults', sep='\n')
sys.exit(1 if faults else 0)
