#!/usr/bin/env python3
"""Writes recsort as files to copy: recsort.h, recsort.c and recsort.hpp for the CPU, and recsort.cuh for CUDA.

Usage: amalgamate.py SOURCE-FOLDER VERSION OUTPUT-FOLDER [SOURCE...]

Each SOURCE is a .c file of the library, relative to SOURCE-FOLDER, for every system and with every
option: sources in WHEN below are compiled if a condition holds. The files are copied with their
comments. What has to change so that they are one translation unit, changes here and not there:
headers come once and before what includes them, functions that only the library calls become
static, and a name that two .c files use at file scope gets the name of its file.
"""
import re
import sys
from pathlib import Path

INCLUDE_FOLDERS = ('core/include', 'core', 'plugins')
PUBLIC = ('recsort/recsort.h', 'recsort/tools.h', 'recsort/partition.h')
# The first that matches says when a source is compiled; the last of these sources come last, as
# the headers of a system define macros with names such as `near`.
WHEN = (
    (r'^core/schema/(?!together|words)', 'defined(RECSORT_YAML)'),
    (r'/platform/posix/(libraries|quota)\.c$', '!defined(_WIN32) && defined(RECSORT_PLUGINS)'),
    (r'/platform/windows/libraries\.c$', 'defined(_WIN32) && defined(RECSORT_PLUGINS)'),
    (r'/platform/posix/files\.c$',
     '!defined(_WIN32) && (defined(RECSORT_PLUGINS) || defined(RECSORT_YAML))'),
    (r'/platform/windows/(files|wide)\.c$',
     'defined(_WIN32) && (defined(RECSORT_PLUGINS) || defined(RECSORT_YAML))'),
    (r'/platform/posix/', '!defined(_WIN32)'),
    (r'/platform/windows/', 'defined(_WIN32)'),
)

TOKEN = re.compile(r'''(?P<comment>/\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:[^\n\\/]|\\.|/(?!\*)|/\*.*?\*/)*)
  | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<space>\s+)
  | (?P<mark>->|\#\#|.)''', re.VERBOSE | re.DOTALL | re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)')


def tokens(text):
    return [(match.lastgroup, match.group()) for match in TOKEN.finditer(text)]


def untokens(found):
    return ''.join(text for _, text in found)


class Source:
    """A file without its include guard and its #include lines outside of conditions."""

    def __init__(self, root, path):
        self.path = path
        self.headers, self.system = [], []
        found = tokens((root / path).read_text())
        if path.endswith(('.h', '.cuh')):
            found = self.without_guard(found)
        self.tokens = self.without_includes(found)

    def without_guard(self, found):
        at = [i for i, (kind, _) in enumerate(found) if kind == 'directive']
        start, end = at[0], at[-1]
        if not found[start][1].startswith('#ifndef') or not found[end][1].startswith('#endif'):
            raise SystemExit(f'{self.path}: it has no include guard')
        return [t for i, t in enumerate(found) if i not in (start, at[1], end)]

    def without_includes(self, found):
        kept, depth = [], 0
        for kind, text in found:
            include = INCLUDE.match(text) if kind == 'directive' else None
            if include and include[1]:
                self.headers.append(include[1])
            elif include and depth == 0:
                self.system.append(include[2])
            elif kind == 'directive' and re.match(r'#\s*define _\w+_SOURCE', text):
                pass  # at the top, for all files
            else:
                kept.append((kind, text))
                if kind == 'directive' and not text.startswith('#if 0'):
                    depth += bool(re.match(r'#\s*if', text)) - bool(re.match(r'#\s*endif', text))
        return kept


# ---- Declarations at file scope ----

def chunks(found):
    """The declarations and definitions at file scope, each as (start, end) in the tokens."""
    depth, start, body = 0, None, False
    for i, (kind, text) in enumerate(found):
        if kind in ('comment', 'space', 'directive'):
            if kind == 'directive' and depth == 0:
                start = None
            continue
        if start is None:
            if text == '}':  # of extern "C"
                continue
            start = i
        if text == '{' and depth == 0:
            head = [t for k, t in found[start:i] if k not in ('comment', 'space')]
            if head == ['extern', '"C"']:
                start = None
                continue
            body = head[-1] == ')' and '=' not in head
        depth += (text in '({[') - (text in ')}]')
        if depth == 0 and (text == ';' or (text == '}' and body)):
            yield start, i + 1
            start, body = None, False


def code(found):
    """Tokens without comments and blanks, and without attributes."""
    kept = [t for t in found if t[0] not in ('comment', 'space', 'directive')]
    out, i = [], 0
    while i < len(kept):
        if kept[i][1] in ('__attribute__', '_Alignas') or re.match(r'RS_PRINTS$', kept[i][1]):
            depth, i = 1, i + 2
            while depth:
                depth += (kept[i][1] == '(') - (kept[i][1] == ')')
                i += 1
            continue
        out.append(kept[i])
        i += 1
    return out


def declared(found):
    """The names that one declaration or definition puts into file scope."""
    words = [text for _, text in code(found)]
    kinds = [kind for kind, _ in code(found)]
    names = set()
    for i, word in enumerate(words[:-2]):
        if word in ('struct', 'union', 'enum') and kinds[i + 1] == 'name' and words[i + 2] == '{':
            names.add(words[i + 1])
        if word == 'enum' and '{' in words[i + 1:i + 3]:
            at = words.index('{', i)
            expected, depth = True, 0
            while words[at] != '}' or depth > 1:
                depth += (words[at] in '({[') - (words[at] in ')}]')
                if expected and kinds[at] == 'name':
                    names.add(words[at])
                    expected = False
                expected = expected or (words[at] == ',' and depth == 1)
                at += 1
    if words[0] == '_Static_assert':
        return set()
    if words[0] == 'typedef':
        pointer = next((i for i in range(len(words) - 2) if words[i:i + 2] == ['(', '*']), None)
        names.add(words[pointer + 2] if pointer else words[words.index('[') - 1 if '[' in words and '{' not in words else -2])
        return names
    depth = 0
    for i, word in enumerate(words):  # the declarator: the name before the first of ( [ = ;
        if depth == 0 and word in '([=;,' and i and kinds[i - 1] == 'name':
            names.add(words[i - 1])
            break
        depth += (word == '{') - (word == '}')
    return names - {'struct', 'union', 'enum'}


def macros(found):
    return {m[1] for kind, text in found if kind == 'directive'
            for m in [re.match(r'#\s*define\s+(\w+)', text)] if m}


def scope(found):
    return macros(found).union(*(declared(found[a:b]) for a, b in chunks(found)), set())


def renamed(found, names, prefix):
    """Puts a prefix before names, but not those of members."""
    out, last, depth = [], '', []
    for i, (kind, text) in enumerate(found):
        if kind == 'directive' and not INCLUDE.match(text):
            text = re.sub(r'(?<![\w.>])[A-Za-z_]\w*',
                          lambda m: prefix + m[0] if m[0] in names else m[0], text)
        elif kind == 'name' and text in names and last not in ('.', '->'):
            behind = next((t for k, t in found[i + 1:] if k not in ('comment', 'space')), '')
            in_struct = depth and depth[-1]
            if not (in_struct and (behind in (';', '[', ',', ':') or (last, behind) == ('*', ')'))):
                text = prefix + text
        if text == '{':
            before = [t for k, t in out if k not in ('comment', 'space')][-3:]
            depth.append('struct' in before[-2:] or 'union' in before[-2:])
        elif text == '}' and depth:
            depth.pop()
        if kind not in ('comment', 'space'):
            last = text
        out.append((kind, text))
    return out


# ---- The three files ----

def internal(source, objects):
    """Marks the functions and objects that a header of the library declares."""
    out, at = [], 0
    for start, end in chunks(source.tokens):
        chunk = source.tokens[start:end]
        words = [text for _, text in code(chunk)]
        out += source.tokens[at:start]
        if words[0] == 'extern':
            objects.update(declared(chunk[1:]))
            chunk = [('name', 'RS_INTERNAL')] + chunk[1:]
        elif (words[-2:] == [')', ';'] and '{' not in words and 'static' not in words and
              words[0] not in ('typedef', '_Static_assert')):
            chunk = [('name', 'RS_INTERNAL '), *chunk]
        out += chunk
        at = end
    source.tokens = out + source.tokens[at:]


def mark_objects(source, objects):
    out, at = [], 0
    for start, end in chunks(source.tokens):
        chunk = source.tokens[start:end]
        if chunk[0][1] == 'const' and declared(chunk) & objects:
            out += source.tokens[at:start] + [('name', 'RS_INTERNAL ')]
            at = start
    source.tokens = out + source.tokens[at:]


class Library:
    def __init__(self, root, sources):
        self.root = root
        self.sources = [Source(root, path) for path in sources]
        self.read = {}
        self.order = []  # headers, each behind what it includes
        for source in self.sources:
            self.read_headers(source)

    def find(self, name, includer):
        for folder in (*INCLUDE_FOLDERS, str(Path(includer).parent)):
            if (self.root / folder / name).is_file():
                return str(Path(folder) / name)
        raise SystemExit(f'{includer}: no header {name}')

    def read_headers(self, source):
        for name in source.headers:
            if name in CUDA_OR_EMULATOR:
                continue  # at the top of recsort.cuh
            path = self.find(name, source.path)
            if path not in self.read:
                self.read[path] = None
                header = self.read[path] = Source(self.root, path)
                self.read_headers(header)
                self.order.append(header)


def tidy(text):
    return re.sub(r'\n{3,}', '\n\n', text).strip('\n') + '\n'


def condition(path):
    return next((when for pattern, when in WHEN if re.search(pattern, path)), None)


def is_public(path):
    return any(path == f'core/include/{name}' for name in (*PUBLIC, 'recsort/job.h'))


def banner(name):
    return '/* ' + f'==== {name} '.ljust(94, '=') + ' */\n'


def title(root, version, name, about):
    licence = ''.join(f' * {line}'.rstrip() + '\n' for line in (root / 'LICENSE').read_text().splitlines())
    return f'/* {name} - recsort {version}: {about}\n *\n{licence} */\n'


def public_header(root, version):
    """recsort.h with the headers beside it, and the names that RECSORT_PREFIX changes."""
    parts = []
    headers = [Source(root, f'core/include/{name}') for name in PUBLIC]
    job = Source(root, 'core/include/recsort/job.h')
    for header in headers:
        text = untokens(header.tokens)
        parts += [banner(Path(header.path).name), text]
    parts[0:0] = [banner('job.h'), untokens(job.tokens)]
    functions = sorted(set(re.findall(r'^RECSORT_API [^;(]*?\b(recsort_\w+)\(', '\n'.join(parts), re.M)))
    names = ''.join(f'#define {name} RECSORT_NAME(RECSORT_PREFIX, {name})\n' for name in functions)
    system = sorted({name for header in (job, *headers) for name in header.system})
    return tidy(
        title(root, version, 'recsort.h', 'the calls of recsort.c') +
        '#ifndef RECSORT_RECSORT_H\n#define RECSORT_RECSORT_H\n\n' +
        ''.join(f'#include <{name}>\n' for name in system) + PREFIX + names + '#endif\n\n' + API +
        '\n\n'.join(parts) + '\n#endif\n')


PREFIX = '''
/* -DRECSORT_PREFIX=mygame_ puts mygame_ before the name of each function, so that several copies
 * can be in one program. All that includes this header is compiled with the same prefix. */
#ifdef RECSORT_PREFIX
#define RECSORT_JOINED(prefix, name) prefix##name
#define RECSORT_NAME(prefix, name) RECSORT_JOINED(prefix, name)
'''

CPP_PREFIX = '''#ifdef RECSORT_PREFIX /* other functions in another copy */
inline namespace RECSORT_NAME(RECSORT_PREFIX, copy)
{
#endif
'''

API = '''/* What stands before each function. By default a shared object that contains recsort.c exports
 * none. */
#ifndef RECSORT_API
#if defined(__GNUC__) && !defined(_WIN32)
#define RECSORT_API __attribute__((visibility("hidden")))
#else
#define RECSORT_API
#endif
#endif

'''

HEAD = '''
#if defined(_MSC_VER) && !defined(__clang__)
#error "recsort.c needs gcc or clang; clang-cl will do. Microsoft's compiler can use recsort's DLL"
#endif
#ifdef __FAST_MATH__
#error "recsort.c compares NaNs: compile it without -ffast-math"
#endif
#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

/* With -O2 gcc's inner loops take twice as long. */
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

/* Computed keys are the same on every machine: a product and a sum are not one operation. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__FP_FAST_FMA) && !defined(__STRICT_ANSI__)
#pragma GCC optimize("fp-contract=off")
#endif

/* MinGW's gcc does not align the stack for AVX. Its assembler can make loads and stores that work at
 * any address: compile with -Wa,-muse-unaligned-vector-move and -DRECSORT_UNALIGNED_AVX. */
#if defined(_WIN32) && !defined(__clang__) && !defined(RECSORT_UNALIGNED_AVX)
#define RS_NO_AVX
#endif

/* Depending on options and the processor, some functions are not called. */
#pragma GCC diagnostic ignored "-Wunused-function"

#define RS_VERSION "@VERSION@"
#ifdef RECSORT_YAML
#define RS_READS_YAML
#endif
#ifdef RECSORT_PLUGINS
#define RS_LOADS_PLUGINS
#ifdef RECSORT_PLUGIN_FOLDER
#define RS_PLUGIN_FOLDER RECSORT_PLUGIN_FOLDER
#else
#define RS_PLUGIN_FOLDER "" /* none */
#endif
#endif
#ifndef RS_INTERNAL /* recsort's own tests call these functions */
#define RS_INTERNAL static
#endif
'''


def implementation(root, version, library):
    headers = [header for header in library.order if not is_public(header.path)]
    objects, system = set(), set()
    for header in headers:
        if not header.path.startswith('core/include/'):
            internal(header, objects)
        system.update(header.system)
    of_headers = set().union(*(scope(header.tokens) for header in headers))
    scopes = [scope(source.tokens) for source in library.sources]
    parts = [banner(header.path) + untokens(header.tokens) for header in headers]
    for source, own in zip(library.sources, scopes):
        others = set(of_headers).union(*(s for s in scopes if s is not own))
        clashes = {name for name in own & others if not name.startswith(('rs_', 'recsort_'))}
        path = Path(source.path)
        found = renamed(source.tokens, clashes, f'{path.parent.name}_{path.stem}_')
        source.tokens = found
        mark_objects(source, objects)
        undone = ''.join(f'#undef {name}\n' for name in sorted(macros(found)))
        when = condition(source.path)
        text = untokens(source.tokens).strip('\n') + '\n' + undone
        if when:
            lines = ''.join(f'#include <{name}>\n' for name in source.system)
            text = f'#if {when}\n{lines}\n{text}#endif\n'
        else:
            system.update(source.system)
        parts.append(banner(source.path) + text)
    return tidy(
        title(root, version, 'recsort.c', 'stable sorting of arrays of records') +
        HEAD.replace('@VERSION@', version) + '\n#include "recsort.h"\n\n' +
        ''.join(f'#include <{name}>\n' for name in sorted(system)) + '\n' + '\n'.join(parts) +
        '\n')


def write_dependencies(root, output, name, read):
    (output / f'{name}.d').write_text(
        f'{output / name}: ' + ' '.join(str(root / path) for path in read) + '\n')


def cpp_header(root, version):
    text = (root / 'core/include/recsort/recsort.hpp').read_text()
    opening, closing = 'namespace recsort\n{\n', '} // namespace recsort\n'
    if text.count(opening) != 1 or text.count(closing) != 1:
        raise SystemExit('recsort.hpp: it is not in one namespace recsort')
    text = text.replace('#include "recsort/tools.h"', '#include "recsort.h"')
    text = text.replace(opening, opening + CPP_PREFIX).replace(
        closing, '#ifdef RECSORT_PREFIX\n}\n#endif\n' + closing)
    return title(root, version, 'recsort.hpp', 'recsort.h for C++17') + text


# ---- recsort.cuh ----

CUDA_HEADER = 'plugins/cuda/recsort.cuh'
CUDA_OR_EMULATOR = ('cuda_runtime.h', 'emulator.h')
CUDA_HEAD = """
#if defined(__CUDACC__)
#include <cuda_runtime.h>
#elif defined(RECSORT_EMULATED) /* recsort's own tests run the kernels on the host */
#include "cuda_runtime_api.h"
#include "emulator.h"
#else
#error "recsort.cuh needs nvcc"
#endif

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
"""
CUDA_FOOT = """
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

"""


def without_doors(found):
    """Leaves out what is for C: the functions that other files define, their comments, and extern "C"."""
    out, at, after = [], 0, 0
    for start, end in chunks(found):
        words = [text for _, text in code(found[start:end])]
        is_door = (words[-1] == ';' and '{' not in words and 'template' not in words and
                   words[0] not in ('typedef', 'static', 'using', 'constexpr', 'struct', 'enum', 'static_assert') and
                   (words[-2] == ')' or (words[0] == 'device_sort' and len(words) == 3)))
        if not is_door:
            after = end
            continue
        first = max((i for i in range(after, start) if found[i][0] == 'directive'), default=after - 1) + 1
        while start > first and (found[start - 1][0] == 'space' or
                                 (found[start - 1][0] == 'comment' and
                                  (start < 2 or found[start][0] == 'space' and found[start][1].count('\n') < 2))):
            start -= 1
        out += found[at:start] + [('space', '\n\n')]
        at = after = end
    text = untokens(out + found[at:])
    text = re.sub(r'#ifdef __cplusplus\nextern "C" \{\n#endif\n', '', text)
    return re.sub(r'#ifdef __cplusplus\n\}\n#endif\n', '', text)


def qualified(text):
    """Names the namespace of the kernels, of which no name gets to a program that says `using namespace recsort`."""
    return re.sub(r'(?<![\w:])(call|pairs)::', r'recsort_kernels::\1::', text)


def cuda_header(root, version):
    """recsort.cuh with the kernels before it, and what was read. Their namespace is not in `recsort`: there a
    program may have recsort.hpp, whose `key` is a template, so that compilers would take a.key < b.key for one."""
    library = Library(root, [])
    header = Source(root, CUDA_HEADER)
    library.read_headers(header)
    system = sorted({name for source in (*library.order, header) for name in source.system} - {'cuda_runtime.h'})
    kernels = '\n'.join(banner(source.path) + without_doors(source.tokens) for source in library.order)
    kernels = re.sub(r'^#include .*\n', '', kernels, flags=re.M)
    names = sorted(set().union(*(macros(source.tokens) for source in (*library.order, header))))
    text = untokens(header.tokens)
    about, rest = text.split('*/', 1)
    return tidy(
        title(root, version, 'recsort.cuh', 'stable sorts on a GPU, in one header') +
        '\n' + about.replace('recsort.cuh - s', 'S', 1) + '*/\n'
        '#ifndef RECSORT_CUH\n#define RECSORT_CUH\n' + CUDA_HEAD + '\n' +
        ''.join(f'#include <{name}>\n' for name in system) +
        '\nnamespace recsort_kernels\n{\n\n' + kernels + '\n\n} // namespace recsort_kernels\n\n' +
        banner('recsort.cuh') + qualified(rest) + '\n\n' +
        ''.join(f'#undef {name}\n' for name in names) + CUDA_FOOT + '#endif\n'), [CUDA_HEADER, *library.read]


def main():
    root, version, output = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    sources = [str(Path(path).resolve().relative_to(root.resolve())) for path in sys.argv[4:]]
    sources.sort(key=lambda path: (bool(condition(path) and '/platform/' in path), path))
    output.mkdir(parents=True, exist_ok=True)
    (output / 'recsort.h').write_text(public_header(root, version))
    library = Library(root, sources)
    (output / 'recsort.c').write_text(implementation(root, version, library))
    cuda, read = cuda_header(root, version)
    (output / 'recsort.cuh').write_text(cuda)
    write_dependencies(root, output, 'recsort.c', [*sources, *library.read, *read])
    (output / 'recsort.hpp').write_text(cpp_header(root, version))


if __name__ == '__main__':
    main()
