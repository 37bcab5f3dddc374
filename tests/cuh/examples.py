#!/usr/bin/env python3
"""Writes the programs of docs/cuh.md and the examples in the comments of recsort.cuh as source files, for
run_examples.cpp: page_1.cpp and so on, header.cpp, and examples.inc with what each of them prints.

Usage: examples.py SOURCE-FOLDER OUTPUT-FOLDER PROGRAMS     PROGRAMS: how many are on the page
"""
import re
import sys
from pathlib import Path

root, output, programs = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
page = (root / 'docs/cuh.md').read_text()
header = (root / 'plugins/cuda/recsort.cuh').read_text()
FUNCTION = r'template <[^>]*>\s(?:cudaError_t|call::key_of<[^>]*>) (\w+)\('
table = []  # of functions and what they print


def from_page():
    found = re.findall(r'```cpp\n(.*?)```\n\n.*?```text\n(.*?)```', page, re.S)
    assert len(found) == programs == page.count('```cpp'), f'{len(found)} programs with their output'
    for number, (program, printed) in enumerate(found, 1):
        assert program.count('int main()') == 1 and program.endswith('\n}\n')  # that of main, which need not return
        program = program.replace('int main()', f'int page_{number}();\nint page_{number}()')
        (output / f'page_{number}.cpp').write_text(program.removesuffix('}\n') + '  return 0;\n}\n')
        table.append((f'page_{number}', printed))


def from_header():
    text = '#include "cuh/examples.h"\n'
    comments = re.findall(r'^/\*((?:(?!\*/).)*)\*/\n' + FUNCTION, header, re.S | re.M)
    for comment, function in comments:
        found = re.findall(r'^ \* Example[^\n]*:\n((?: \*   [^\n]*\n)+)', comment, re.M)
        assert found, f'{function} has no example'
        for lines in found:
            code = re.sub(r'^ \*   ', '    ', lines, flags=re.M)
            arrays = re.findall(r'(\w+): ([\d ]*\d)', code.split('//')[1])
            code, calls = re.subn(r'^    recsort::', '    return recsort::', code, flags=re.M)
            assert calls == 1 and arrays, code
            name = f'header_{len(table) + 1 - programs}'
            shown = ''.join(f'  show("{array}", each.{array}, {len(numbers.split())});\n' for array, numbers in arrays)
            text += (f'\nnamespace\n{{\nstruct example_of_{name} : arrays {{\n  cudaError_t call(void *workspace, size_t &bytes)\n'
                     f'  {{\n{code}  }}\n}};\n}} // namespace\n\nint {name}()\n{{\n  example_of_{name} each;\n  call_twice(each);\n'
                     f'{shown}  return 0;\n}}\n')
            table.append((name, ''.join(f'{array}: {numbers}\n' for array, numbers in arrays)))
    functions = set(re.findall('^' + FUNCTION, header, re.M))
    assert functions == {'desc'} | {function for _, function in comments}, functions
    (output / 'header.cpp').write_text(text)


output.mkdir(parents=True, exist_ok=True)
from_page()
from_header()
strings = ((name, printed.replace('\n', '\\n')) for name, printed in table)
(output / 'examples.inc').write_text(''.join(f'EXAMPLE({name}, "{printed}")\n' for name, printed in strings))
