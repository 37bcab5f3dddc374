#!/usr/bin/env python3
"""Makes small faults in the source by operators, and counts the faults that the tests find.

Usage: mutants.py [--seed N] [--each N] [--sample N] [--word TEXT] [--minutes N] [--jobs N]
                  [--results FILE]
       mutants.py --check     only makes all mutants, and tests what it made

A mutant is one token or statement of a function, a macro or a table that an operator changes. Of each function
the seed chooses --each mutants (1), and of all of these --sample (all). --word: only of paths that contain it.
They run in an order of the seed's; after --minutes no more start, and those that ran are a sample of all.
Each mutant is built in a copy of the working tree; then the tests of its folder run, the fastest first, until
one fails. A test that takes five times as long as without a mutant has found it, too. A mutant that compiles to
the same objects is no mutant. A mutant that passes all tests has survived: a test is missing, or the mutant
makes no difference; then name it in equivalent.txt, without its line but with the reason.
Exit status: 0 all were found, 1 some survived.
"""
import argparse
import collections
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# How a path begins, and the tests that find its mutants, the fastest first; the first match counts.
TESTS = [
    (r'core/include/recsort/recsort\.hpp', [r'^cpp\.(cpp|members)17$']),
    (r'core/(base/(pool|platform)|include/recsort/team)', [r'^threads\.(pool|tasks|unload)$', r'^unit\.']),
    (r'core/device', [r'^cuda\.(resident|pairs|shards)$']),
    (r'core/schema', [r'^unit\.', r'^schema\.']),
    (r'core/', [r'^(unit\.|schema\.hostile)', r'^conformance$']),
    (r'plugins/(cpu/|runs/|builtin)', [r'^unit\.', r'^conformance$', r'^faults\.(defects|memory)$']),
    (r'plugins/gpu/.*pairs', [r'^cuda\.pairs$']),
    (r'plugins/gpu/.*shard', [r'^cuda\.shards$']),
    (r'plugins/gpu/', [r'^cuda\.(in_runs|verify|devices)$', r'^cuda\.(resident|pairs|shards)$']),
    (r'plugins/cuda/(head/(shortlist|segment_heads)|call/segment_heads)', [r'^cuh\.(sorts|calls)$']),
    (r'plugins/cuda/head/', [r'^emulation\.device_head$', r'^cuda\.resident$']),
    (r'plugins/cuda/segments/', [r'^emulation\.segments$', r'^cuda\.resident$']),
    (r'plugins/cuda/pairs/', [r'^emulation\.device_pairs$', r'^cuda\.pairs$']),
    (r'plugins/cuda/(records/|record_|key_words)', [r'^emulation\.records$', r'^cuda\.(resident|verify)$']),
    (r'plugins/cuda/runs\.', [r'^emulation\.(rank|corank\w*)$', r'^emulation\.(merges|merge)$']),
    (r'plugins/cuda/(merge/|sort/sample/(agent/|dispatch/)?merge_)',
     [r'^emulation\.(merges|device_plan)$', r'^emulation\.merge$', r'^cuda\.(in_runs|shards)$']),
    (r'plugins/cuda/sort/published', [r'^emulation\.(corank|rank|merge)\w*$', r'^emulation\.']),
    (r'plugins/cuda/(sort|.*\.cuh|plan|device\.h)', [r'^emulation\.device_plan$', r'^emulation\.sample$']),
    (r'plugins/cuda/', [r'^cuda\.(in_runs|verify|devices|failures)$', r'^cuda\.']),
    (r'tools/(mpi|recsort-mpi)', [r'^mpi\.']),
    (r'tools/recschema', [r'^tools\.recschema$', r'^cli\.']),
    (r'tools/sprites', [r'^tools\.sprites']),
    (r'tools/recsort/', [r'^cli\.']),
    (r'tools/(support|recgen|reccat)', [r'^tools\.', r'^cli\.']),
]
# Programs that measure, what other systems and processors compile, and what CUDA alone compiles.
LEFT_OUT = re.compile(r'/bench/|\w*bench/|windows|neon|tools/(python|results)|cuda/bits\.cuh')

TOKEN = re.compile(r'''(?P<skip>\s+|//[^\n]*|/\*.*?\*/)|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  |(?P<number>\.?\d(?:[\w.]|(?<=[eEpP])[+-])*)|(?P<name>[A-Za-z_]\w*)
  |(?P<mark><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||::|[-+*/%&|^]=|\#\#|.)''', re.S | re.X)
PREPROCESSOR = re.compile(r'^[ \t]*#[ \t]*(\w*)((?:\\\n|/\*.*?\*/|[^\n])*)', re.M | re.S)
SWAPS = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '+': '-', '-': '+', '*': '/',
         '/': '*', '%': '/', '<<': '>>', '>>': '<<', '&': '|', '|': '&', '^': '&', '&&': '||', '||': '&&',
         '+=': '-=', '-=': '+=', '|=': '&=', '&=': '|=', '^=': '|='}
KINDS = {**dict.fromkeys(('<', '<=', '>', '>=', '==', '!='), 'relation'), '&&': 'logic', '||': 'logic'}
ASSIGNMENTS = ('=', '+=', '-=', '*=', '/=', '%=', '|=', '&=', '^=', '<<=', '>>=')
NO_FUNCTION = ('__attribute__', '__launch_bounds__', 'alignas', 'noexcept', 'decltype', 'defined')
WORDS = ('return', 'if', 'for', 'while', 'do', 'switch', 'case', 'default', 'goto', 'else', 'sizeof', 'typedef',
         'static', 'const', 'using', 'static_assert', '_Static_assert', 'new', 'delete', 'throw')

Token = collections.namedtuple('Token', 'kind text begin end')
Mutant = collections.namedtuple('Mutant', 'path function number operator begin end new')


def tokens_of(text, begin=0):
    return [Token(found.lastgroup, found.group(), begin + found.start(), begin + found.end())
            for found in TOKEN.finditer(text) if found.lastgroup != 'skip']


def closing(tokens, at):
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i].text in ('(', '[', '{')) - (tokens[i].text in (')', ']', '}'))
        if depth == 0:
            return i
    return len(tokens) - 1


def name_of(head):
    """The kind and the name of the function, macro or table that these tokens begin."""
    words = [token.text for token in head]
    if '=' in words and 'operator' not in words:
        names = [token.text for token in head[:words.index('=')] if token.kind == 'name']
        return 'table', names[-1] if names else ''
    for i, token in enumerate(head):
        if token.kind == 'name' and token.text not in NO_FUNCTION and i + 1 < len(head) and words[i + 1] == '(':
            return 'function', words[i + 2] if token.text.startswith('DEVICE_KERNEL') else token.text
    if 'enum' in words:
        return 'table', words[-1] if words[-1] != 'enum' else 'enum'
    return 'scope', ''


def without_assertions(tokens):
    """No mutant is in an assertion: a build without assertions would not notice it."""
    kept, i = [], 0
    while i < len(tokens):
        if tokens[i].text in ('RS_ASSERT', 'DEVICE_ASSERT'):
            i = closing(tokens, i + 1) + 2  # behind the semicolon
        else:
            kept.append(tokens[i])
            i += 1
    return kept


def regions_of(text):
    """(kind, name, tokens) of each function, each macro and each table."""
    plain = text
    for found in PREPROCESSOR.finditer(text):
        plain = plain[:found.start()] + re.sub(r'[^\n]', ' ', found.group()) + plain[found.end():]
        macro = re.match(r'[ \t]*(\w+)(\([^)]*\))?', found.group(2))
        if found.group(1) == 'define' and macro:
            at = found.start(2) + macro.end()
            body = re.sub(r'\\\n', '  ', text[at:found.end()])
            yield 'macro' if macro.group(2) else 'table', macro.group(1), tokens_of(body, at)
    tokens, head, i = without_assertions(tokens_of(plain)), [], 0
    while i < len(tokens):
        token = tokens[i]
        if token.text in (';', '}'):
            head = []
        elif token.text == '{':
            kind, name = name_of(head)
            head = []
            if kind != 'scope':
                end = closing(tokens, i)
                yield kind, name, tokens[i:end + 1]
                i = end
        elif token.text == '(':
            end = closing(tokens, i)
            head += tokens[i:end + 1]
            i = end
        else:
            head.append(token)
        i += 1


def next_number(token):
    """The text of another number, or None."""
    found = re.fullmatch(r'(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)', token.text)
    if not found:
        return None
    value = int(found.group(1), 0) if not re.fullmatch('0[0-7]+', found.group(1)) else int(found.group(1), 8)
    return f'{0 if value == 1 else value + 1}{found.group(2)}'


def statement_at(tokens, i):
    """The index of the semicolon of the call or assignment that begins at i, or None."""
    first = tokens[i]
    if first.text in ('break', 'continue'):
        return i + 1
    if first.text in WORDS or (first.kind != 'name' and first.text not in ('*', '(')):
        return None
    end = i
    while end < len(tokens) and tokens[end].text not in (';', '{', '}'):
        end = closing(tokens, end) + 1 if tokens[end].text in ('(', '[') else end + 1
    if end == len(tokens) or tokens[end].text != ';':
        return None
    at = i
    while at < end and tokens[at].text not in ASSIGNMENTS:
        if at + 1 < end and tokens[at].kind == 'name' and tokens[at + 1].kind == 'name':
            return None  # a declaration
        if tokens[at].text == '*' and at > i:
            return None
        at = closing(tokens, at) + 1 if tokens[at].text in ('(', '[') else at + 1
    return end if at < end or tokens[end - 1].text == ')' else None


def changes_of(kind, tokens, text):
    """(operator, begin, end, new text) of each change of a region."""
    depth = 0
    for i, token in enumerate(tokens):
        spaced = text[token.begin - 1].isspace() and text[token.end:token.end + 1].isspace()
        depth += (token.text == '(') - (token.text == ')')
        if token.kind == 'number':
            new = next_number(token)
            if new:
                yield 'constant', token.begin, token.end, new
        elif token.text in ('true', 'false'):
            yield 'constant', token.begin, token.end, 'false' if token.text == 'true' else 'true'
        if kind == 'table':
            continue
        if token.text in SWAPS and spaced:
            yield KINDS.get(token.text, 'arithmetic'), token.begin, token.end, SWAPS[token.text]
        elif token.text == '!':
            yield 'logic', token.begin, token.end, ''
        if kind != 'function' or depth or i == 0:
            continue
        if tokens[i - 1].text in (';', '{', '}', ')', 'else') and (
                tokens[i - 1].text != ')' or '\n' in text[tokens[i - 1].end:token.begin] or token.kind == 'name'):
            end = statement_at(tokens, i)
            if end:
                yield 'statement', token.begin, tokens[end].end, ';'
        if token.text == 'return':
            end = next(k for k in range(i, len(tokens)) if tokens[k].text == ';')
            value = [each.text for each in tokens[i + 1:end]]
            if value and value[0] not in ('true', 'false') and value != ['{', '}'] and not (
                    len(value) == 1 and value[0].isdigit()):
                yield 'return', tokens[i + 1].begin, tokens[end - 1].end, '{}' if value[0] == '{' else '0'


def mutants_of(path):
    """All mutants of a file."""
    text, counts = (ROOT / path).read_text(), collections.Counter()
    for kind, name, tokens in regions_of(text):
        for change in changes_of(kind, tokens, text):
            yield Mutant(path, name, counts[name], *change)
            counts[name] += 1


def sources():
    listed = sorted(path.relative_to(ROOT).as_posix() for folder in ('core', 'plugins', 'tools')
                    for path in (ROOT / folder).rglob('*.*'))
    return [path for path in listed if re.search(r'\.(c|h|cu|cuh|hpp)$', path) and not LEFT_OUT.search(path)]


def tests_of(path):
    return next((tests for start, tests in TESTS if re.match(start, path)), None)


def rank(seed, mutant):
    return hashlib.sha256(f'{seed} {label(mutant)}'.encode()).hexdigest()


def label(mutant):
    return f'{mutant.path}:{mutant.function} {mutant.number}'


def choose(seed, each, count, word):
    chosen = []
    for path in sources():
        by_function = collections.defaultdict(list)
        for mutant in mutants_of(path) if word in path else ():
            by_function[mutant.function].append(mutant)
        for all_of_it in by_function.values():
            chosen += sorted(all_of_it, key=lambda mutant: rank(seed, mutant))[:each]
    return sorted(chosen, key=lambda mutant: rank(seed, mutant))[:count]


def apply(mutant, text):
    return text[:mutant.begin] + mutant.new + text[mutant.end:]


def describe(mutant, text, line=True):
    place = f' (line {text.count(chr(10), 0, mutant.begin) + 1})' if line else ''
    old = ' '.join(text[mutant.begin:mutant.end].split())
    return f'{label(mutant)}{place}: {mutant.operator}: {old} -> {mutant.new or "nothing"}'


def equivalents():
    """The mutants of equivalent.txt, as `describe` has them without their lines."""
    listed = (ROOT / 'tests/mutants/equivalent.txt').read_text().splitlines()
    return {line.partition(' # ')[0] for line in listed}


class Builder:
    """A copy of the working tree and its build."""

    def __init__(self, folder, jobs):
        self.tree, self.build, self.jobs = folder / 'tree', folder / 'build', jobs
        self.seconds, self.targets, self.objects = {}, {}, {}
        shutil.rmtree(self.tree, ignore_errors=True)
        for name in self.output('git', '-C', ROOT, 'ls-files', '-z').split('\0')[:-1]:
            if (ROOT / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, self.tree / name)
        launchers = [f'-DCMAKE_{language}_COMPILER_LAUNCHER=ccache' for language in ('C', 'CXX')
                     if shutil.which('ccache')]
        self.output('cmake', '-G', 'Ninja', '-S', self.tree, '-B', self.build, '-DCMAKE_BUILD_TYPE=Release',
                    '-DCMAKE_C_FLAGS_RELEASE=-O1', '-DCMAKE_CXX_FLAGS_RELEASE=-O1', '-DRECSORT_TESTS=ON',
                    '-DCMAKE_CUDA_COMPILER=NOTFOUND', *launchers)

    @staticmethod
    def output(*command, **options):
        return subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True, **options).stdout

    def targets_of(self, tests):
        """What the build links and these tests use, by its file or by its folder, and plugins, which programs load."""
        if tests not in self.targets:
            listed = ''.join(path.read_text() for path in self.build.rglob('CTestTestfile.cmake'))
            found = re.findall(r'^add_test\([\["=]*(\S+?)[\]"=]* (.*)\)$', listed, re.M)
            commands = [command for name, command in found if re.search(tests, name)]
            if not commands:
                sys.exit(f'mutants: no test is called {tests}')
            listed = self.output('ninja', '-C', self.build, '-t', 'targets', 'all')
            made = set(re.findall(r'^(.*): \w+_LINKER__', listed, re.M))
            used = {os.path.relpath(path, self.build) for path in re.findall(rf'"({self.build}/[^"]*)"', ' '.join(commands))}
            self.targets[tests] = sorted(name for name in made if name in used or os.path.dirname(name) in used
                                         or re.fullmatch(r'tests/plugins/.*\.so', name)
                                         or ('cuda' in tests and re.fullmatch(r'tests/cuda/plugin/.*\.so', name)))
        return self.targets[tests]

    def builds(self, tests):
        return subprocess.run(['ninja', '-C', self.build, f'-j{self.jobs}', *self.targets_of(tests)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).returncode == 0

    def passes(self, tests, limit):
        run = subprocess.run(['ctest', f'-j{self.jobs}', '--stop-on-failure', '--timeout', str(int(limit)), '-R', tests],
                             cwd=self.build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return 'Timeout' if 'Timeout' in run.stdout else run.returncode == 0

    def changed_objects(self):
        """Whether a new object file differs from the one without a mutant."""
        changed = False
        for path in self.build.rglob('*.o'):
            stamp = path.stat().st_mtime_ns
            last, original = self.objects.get(path, (0, None))
            if stamp != last:
                digest = hashlib.sha256(path.read_bytes()).digest()
                changed |= original not in (None, digest)
                self.objects[path] = stamp, original or digest
        return changed

    def prepare(self, tests):
        """Builds and runs tests without a mutant."""
        for each in tests:
            if each not in self.seconds:
                if not self.builds(each):
                    sys.exit(f'mutants: without any, {each} does not build')
                begin = time.monotonic()
                if self.passes(each, 900) is not True:
                    sys.exit(f'mutants: without any, {each} fails')
                self.seconds[each] = time.monotonic() - begin
        self.changed_objects()

    def outcome(self, path, text):
        """What becomes of a file with a mutant."""
        tests = tests_of(path)
        self.prepare(tests)
        file = self.tree / path
        before = file.read_text()
        file.write_text(text)
        try:
            changed = False
            for each in tests:
                if not self.builds(each):
                    return 'did not compile'
                changed |= self.changed_objects()
                if changed:
                    passed = self.passes(each, max(30, 5 * self.seconds[each]))
                    if passed is not True:
                        return 'caught by time' if passed == 'Timeout' else 'caught'
            return 'survived' if changed else 'same object'
        finally:
            file.write_text(before)


def check():
    """Each mutant is a change in a function, and each source with functions has some."""
    problems, count, functions, operators, unknown = [], 0, 0, collections.Counter(), equivalents()
    for path in sources():
        text, mutants = (ROOT / path).read_text(), list(mutants_of(path))
        regions = list(regions_of(text))
        if not tests_of(path):
            problems.append(f'{path}: no row of TESTS')
        if any(kind == 'function' for kind, _, _ in regions) and not mutants:
            problems.append(f'{path}: no mutant')
        spans = {name: [] for _, name, _ in regions}
        for _, name, tokens in regions:
            if tokens:
                spans[name].append((tokens[0].begin, tokens[-1].end))
        for mutant in mutants:
            operators[mutant.operator] += 1
            unknown.discard(describe(mutant, text, line=False))
            if apply(mutant, text) == text or not any(
                    begin <= mutant.begin < mutant.end <= end for begin, end in spans[mutant.function]):
                problems.append(f'{describe(mutant, text)}: is no change of its function')
        if len({label(mutant) for mutant in mutants}) != len(mutants):
            problems.append(f'{path}: two mutants have one name')
        count, functions = count + len(mutants), functions + len({mutant.function for mutant in mutants})
    problems += [f'equivalent.txt: no such mutant now: {each}' for each in sorted(unknown)]
    problems += [f'no mutant by {name}' for name in ('relation', 'logic', 'arithmetic', 'constant', 'statement', 'return')
                 if operators[name] < 100]
    print(*problems, f'{count} mutants of {functions} functions, {len(problems)} problems', sep='\n')
    return 1 if problems else 0


def report(arguments, done, count):
    """The lines of a result file, when of `count` chosen mutants these are done."""
    commit = Builder.output('git', '-C', ROOT, 'rev-parse', '--short', 'HEAD').strip()
    yield f'commit {commit}, {time.strftime("%Y-%m-%d")}, {platform.machine()}, {os.cpu_count()} processors'
    yield f'seed {arguments.seed}, {arguments.each} of each function, {len(done)} mutants of {count}'
    folders = collections.defaultdict(collections.Counter)
    for mutant, outcome, _ in done:
        folders['/'.join(mutant.path.split('/')[:2])][outcome] += 1
    for folder, outcomes in sorted(folders.items()):
        yield f'{folder}: ' + ', '.join(f'{outcomes[name]} {name}' for name in sorted(outcomes))
    total = sum(folders.values(), collections.Counter())
    yield 'all: ' + ', '.join(f'{total[name]} {name}' for name in sorted(total))
    yield from (f'survived: {text}' for _, outcome, text in done if outcome == 'survived')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--check', action='store_true')
    for name in ('seed', 'each'):
        parser.add_argument(f'--{name}', type=int, default=1)
    parser.add_argument('--sample', type=int)
    parser.add_argument('--word', default='')
    parser.add_argument('--minutes', type=float, default=float('inf'))
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--results', type=Path)
    arguments = parser.parse_args()
    if arguments.check:
        sys.exit(check())
    equivalent = equivalents()
    chosen = choose(arguments.seed, arguments.each, arguments.sample, arguments.word)
    done, begin = [], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        builder = Builder(Path(folder), arguments.jobs)
        for mutant in chosen:
            if time.monotonic() - begin > 60 * arguments.minutes:
                break
            text = (ROOT / mutant.path).read_text()
            outcome = ('equivalent' if describe(mutant, text, line=False) in equivalent
                       else builder.outcome(mutant.path, apply(mutant, text)))
            done.append((mutant, outcome, describe(mutant, text)))
            print(f'{outcome:15} {done[-1][2]}', flush=True)
            if arguments.results:  # after each, as a run takes hours
                arguments.results.write_text('\n'.join(report(arguments, done, len(chosen))) + '\n')
    print(*report(arguments, done, len(chosen)), sep='\n')
    sys.exit(any(outcome == 'survived' for _, outcome, _ in done))


if __name__ == '__main__':
    main()
