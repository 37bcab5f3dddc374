"""What is installed, and that ctypes and the compiler see the same structs."""

import ctypes
import doctest
import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import recsort
from recsort import _library

HEADER = Path(os.environ['RECSORT_HEADER'])


def test_the_version_is_the_headers():
    parts = dict(re.findall(r'define RECSORT_VERSION_(\w+) "?([\w-]*)', HEADER.read_text()))
    numbers = '.'.join(parts[part] for part in ('MAJOR', 'MINOR', 'PATCH'))
    assert recsort.__version__ == numbers + parts['SUFFIX']


def test_every_type_of_the_header_is_known():
    types = re.search(r'typedef enum recsort_type \{(.*?)\}', Path(HEADER).read_text(), re.DOTALL)
    names = re.findall(r'RECSORT_(\w+)', re.sub(r'/\*.*?\*/', '', types[1], flags=re.DOTALL))
    assert [name.lower() for name in names] == list(_library.TYPES)


def test_structs_and_constants_are_those_of_the_header(tmp_path):
    lines = ['#include <stddef.h>']
    headers = [HEADER.with_name('tools.h'), HEADER.with_name('partition.h')]
    headers += [HEADER.parents[3] / 'files/include/recsort/file.h']
    lines += [f'#include "{header}"' for header in headers]
    checks = [(f'RECSORT_{name.upper()} ==', number) for name, number in _library.TYPE.items()]
    checks += [
        ('RECSORT_INVALID_ARGUMENT ==', _library.INVALID_ARGUMENT),
        ('RECSORT_OUT_OF_MEMORY ==', _library.OUT_OF_MEMORY),
        ('RECSORT_IO_ERROR ==', _library.IO_ERROR),
        ('RECSORT_INVALID_RECORD ==', _library.INVALID_RECORD),
        ('RECSORT_CORRUPT_RESULT ==', _library.CORRUPT_RESULT),
        ('RECSORT_SEGMENTS ==', _library.SEGMENTS),
        ('RECSORT_RUNS ==', _library.RUNS),
        ('RECSORT_MARK_EXTRA ==', _library.MARK_EXTRA),
        ('RECSORT_LITTLE_ENDIAN ==', _library.LITTLE),
        ('RECSORT_BIG_ENDIAN ==', _library.BIG),
        ('RECSORT_LAYOUT_EXPLICIT ==', _library.EXPLICIT),
        ('RECSORT_DESCENDING ==', 1),
    ]
    checks += [(f'RECSORT_NAN_{name.upper()} ==', number) for name, number in _library.NAN.items()]
    for name, struct in _library.STRUCTS.items():
        checks.append((f'sizeof(recsort_{name}) ==', ctypes.sizeof(struct)))
        for member, *_ in struct._fields_:
            place = getattr(struct, member)
            checks.append((f'offsetof(recsort_{name}, {member}) ==', place.offset))
            checks.append((f'sizeof(((recsort_{name} *)0)->{member}) ==', place.size))
    lines += [f'_Static_assert({what} {value}, "{what}");' for what, value in checks]
    (tmp_path / 'structs.c').write_text('\n'.join(lines))
    command = ['cc', '-std=c11', '-fsyntax-only', '-I', HEADER.parents[1], tmp_path / 'structs.c']
    assert len(checks) > 150 and subprocess.run(command).returncode == 0


def test_the_libraries_are_in_the_package_and_contain_libyaml():
    folder = Path(recsort.__file__).parent
    assert (folder / 'py.typed').exists()
    for name, others in (('librecsort.so', []), ('librecsort_file.so', ['librecsort.so'])):
        command = ['readelf', '--dynamic', folder / name]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        needed = re.findall(r'\(NEEDED\).*\[(.*)\]', text)
        assert 'libc.so.6' in needed and 'yaml' not in text
        assert [name for name in needed if 'recsort' in name] == others
        assert not others or re.search(r'PATH\).*\[\$ORIGIN\]', text)


def test_arrays_on_a_device_need_the_second_wheel():
    with pytest.raises(recsort.RecsortError, match='^no plugin here sorts on a device$'):
        recsort.DeviceSorter('f4')


def test_the_extra_for_ray_is_named_where_ray_is_missing():
    assert 'ray' in importlib.metadata.metadata('recsort').get_all('Provides-Extra')
    command = [sys.executable, '-m', 'recsort.ray', '--help']
    result = subprocess.run(command, capture_output=True, text=True)
    last = 'ModuleNotFoundError: recsort.ray needs Ray: pip install "ray[data]>=2.40"'
    assert result.returncode == 1 and result.stderr.splitlines()[-1] == last


def test_the_description_has_no_links_into_the_repository():
    """A package registry shows the description, where such a link leads nowhere."""
    description = importlib.metadata.metadata('recsort').get_payload()
    assert description.startswith('# recsort')
    links = re.findall(r'\]\(\s*([^)]*)\)|^\s*\[[^]]*\]:\s*(\S+)|(?:href|src)="([^"]*)"', description, re.M)
    assert [link for link in links if not ''.join(link).startswith('https://')] == []


def test_plugins_are_not_looked_for_where_the_wheel_was_built():
    library = Path(_library.__file__).with_name('librecsort.so').read_bytes()
    assert re.findall(rb'(/[ -~]*)/recsort\0', library) == [b'/usr/local/lib']


@pytest.mark.parametrize('page', ['README.md', 'docs/python.md'])
def test_the_documents_have_a_working_example(page):
    text = (HEADER.parents[3] / page).read_text()
    names = {}
    exec(re.search(r'```python\n(.*?)```', text, re.S)[1], names)
    assert names['stars']['id'].tolist() == [1, 3, 2]


def test_the_docstrings_have_working_examples():
    result = doctest.testmod(recsort)
    assert result.attempted > 2 and result.failed == 0
