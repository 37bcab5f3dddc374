#!/usr/bin/env python3
"""Proves, for all arguments, what proved.c has of the library: codes of 64 bits, plan arithmetic, and the co-rank.

clang compiles proved.c to its intermediate code. What is proved is that code: it is executed with z3's terms, a loop as often
as it can repeat. So no formula here repeats one of the library: if the library changes, the proof is of the changed code.

Usage: proofs.py CLANG SOURCE-FOLDER MOST: runs have up to MOST elements
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

DEBIANS = Path('/usr/bin/python3')  # for which setup.sh installs z3; another one may be first in the path

try:
    import z3
except ImportError:
    if Path(sys.executable).resolve() != DEBIANS.resolve() and DEBIANS.exists():
        os.execv(DEBIANS, [str(DEBIANS), '-B', *sys.argv])
    print('There is no z3 (Debian: python3-z3, PyPI: z3-solver): nothing is proved.')
    sys.exit(77)

BINARY = {'add': lambda a, b: a + b, 'sub': lambda a, b: a - b, 'mul': lambda a, b: a * b, 'and': lambda a, b: a & b,
          'or': lambda a, b: a | b, 'xor': lambda a, b: a ^ b, 'shl': lambda a, b: a << b, 'lshr': z3.LShR,
          'ashr': lambda a, b: a >> b, 'udiv': z3.UDiv, 'urem': z3.URem}
COMPARE = {'eq': lambda a, b: a == b, 'ne': lambda a, b: a != b, 'ugt': z3.UGT, 'uge': z3.UGE, 'ult': z3.ULT,
           'ule': z3.ULE, 'sgt': lambda a, b: a > b, 'sge': lambda a, b: a >= b, 'slt': lambda a, b: a < b,
           'sle': lambda a, b: a <= b}


def leading_zeros(x):
    count = z3.BitVecVal(x.size(), x.size())
    for bit in range(x.size()):
        count = z3.If(z3.Extract(bit, bit, x) == 1, z3.BitVecVal(x.size() - 1 - bit, x.size()), count)
    return count


CALLS = {'usub.sat': lambda a, b: z3.If(z3.ULT(a, b), a ^ a, a - b),
         'uadd.sat': lambda a, b: z3.If(z3.ULT(a + b, a), ~(a ^ a), a + b),
         'umin': lambda a, b: z3.If(z3.ULT(a, b), a, b), 'umax': lambda a, b: z3.If(z3.UGT(a, b), a, b),
         'ctlz': lambda a, _: leading_zeros(a)}


class Function:
    """A function of the intermediate code."""

    def __init__(self, text):
        self.arguments = re.findall(r'%(\S+?)[,)]', text.split('\n')[0].rsplit('{', 1)[0] + ')')
        self.blocks, label = {}, 'entry'
        for line in text.split('\n')[1:]:
            line = line.split(' ;')[0].strip()
            if match := re.fullmatch(r'([\w.$-]+):', line):
                label = match[1]
            elif line and line != '}':
                self.blocks.setdefault(label, []).append(line)

    def __call__(self, *arguments):
        """The result of a function without loops, as one term."""
        self.results, self.tape = [], None
        self.run('entry', None, dict(zip(self.arguments, arguments)), z3.BoolVal(True))
        value = self.results[-1][1]
        for condition, other in reversed(self.results[:-1]):
            value = z3.If(condition, other, value)
        return value

    def paths(self, *arguments):
        """Each way through a function: what its comparisons found, and the result. All but these is known: so are loops."""
        self.tape = []
        while True:
            self.results, self.found = [], []
            self.run('entry', None, dict(zip(self.arguments, arguments)), z3.BoolVal(True))
            yield self.found, z3.simplify(self.results[0][1]).as_long()
            while self.tape and not self.tape[-1]:
                self.tape.pop()
            if not self.tape:
                return
            self.tape[-1] = False

    def decide(self, condition):
        """What a comparison finds; if that is not known, what this way says, or the first of two ways."""
        condition = z3.simplify(condition)
        if z3.is_true(condition) or z3.is_false(condition):
            return z3.BitVecVal(z3.is_true(condition), 1)
        if len(self.found) == len(self.tape):
            self.tape.append(True)
        holds = self.tape[len(self.found)]
        self.found.append(condition if holds else z3.Not(condition))
        return z3.BitVecVal(holds, 1)

    def run(self, label, last, names, condition):
        names = dict(names)

        def value(text, bits):
            if text.startswith('%'):
                return names[text[1:]]
            number = {'true': 1, 'false': 0, 'poison': 0, 'undef': 0}
            return z3.BitVecVal(number[text] if text in number else int(text), bits)

        for line in self.blocks[label]:
            if match := re.match(r'%(\S+) = phi i(\d+) (.*)', line):
                choice = [a for a, b in re.findall(r'\[ (\S+), %(\S+) \]', match[3]) if b == last]
                names['=' + match[1]] = value(choice[0], int(match[2]))
        for name in [name for name in names if name.startswith('=')]:
            names[name[1:]] = names.pop(name)
        for line in self.blocks[label]:
            if ' = phi ' in line:
                continue
            if match := re.match(r'ret i(\d+) (\S+)', line):
                self.results.append((condition, value(match[2], int(match[1]))))
                return
            if match := re.match(r'br label %(\S+?)(,|$)', line):
                return self.run(match[1], label, names, condition)
            if match := re.match(r'br i1 (\S+), label %(\S+), label %([^\s,]+)', line):
                holds = value(match[1], 1) == 1
                if self.tape is not None:
                    return self.run(match[2 if z3.is_true(z3.simplify(holds)) else 3], label, names, condition)
                self.run(match[2], label, names, z3.And(condition, holds))
                return self.run(match[3], label, names, z3.And(condition, z3.Not(holds)))
            if match := re.match(r'switch i(\d+) (\S+), label %(\S+) \[', line):
                of, otherwise = value(match[2], int(match[1])), condition
                for number, to in re.findall(r'i\d+ (-?\d+), label %(\S+)', '\n'.join(self.blocks[label])):
                    self.run(to, label, names, z3.And(condition, of == int(number)))
                    otherwise = z3.And(otherwise, of != int(number))
                return self.run(match[3], label, names, otherwise)
            match = re.match(r'%(\S+) = (\w+) (.*)', line)
            names[match[1]] = self.value_of(match[2], match[3], value)

    def value_of(self, operation, rest, value):
        rest = re.sub(r'^((nuw|nsw|exact|inbounds|tail) )+', '', rest)
        if operation in BINARY:
            bits, a, b = re.match(r'i(\d+) (\S+), (\S+)', rest).groups()
            return BINARY[operation](value(a, int(bits)), value(b, int(bits)))
        if operation == 'icmp':
            how, bits, a, b = re.match(r'(\w+) i(\d+) (\S+), (\S+)', rest).groups()
            holds = COMPARE[how](value(a, int(bits)), value(b, int(bits)))
            return self.decide(holds) if self.tape is not None else z3.If(holds, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))
        if operation == 'select':
            which, bits, a, b = re.match(r'i1 (\S+), i(\d+) (\S+), i\d+ (\S+)', rest).groups()
            return z3.If(value(which, 1) == 1, value(a, int(bits)), value(b, int(bits)))
        if operation in ('zext', 'sext', 'trunc'):
            bits, a, to = re.match(r'i(\d+) (\S+) to i(\d+)', rest).groups()
            of, bits, to = value(a, int(bits)), int(bits), int(to)
            return {'zext': lambda: z3.ZeroExt(to - bits, of), 'sext': lambda: z3.SignExt(to - bits, of),
                    'trunc': lambda: z3.Extract(to - 1, 0, of)}[operation]()
        if operation == 'getelementptr':
            array, index = re.match(r'i64, \S+ %(\S+), i64 (\S+)', rest).groups()
            return value('%' + array, 64), z3.simplify(value(index, 64)).as_long()
        if operation == 'load':
            array, index = value('%' + re.match(r'i64, \S+ %([^\s,]+)', rest)[1], 64)
            return array[index]  # which fails if it is not within the array
        name, arguments = re.match(r'.*@llvm\.([a-z.]+)\.i\d+\((.*?)\)', rest).groups()
        return CALLS[name](*[value(a, int(bits)) for bits, a in re.findall(r'i(\d+) (?:noundef )?(\S+?)(?:,|$)', arguments)])


failures = proofs = 0


def prove(name, given, claim):
    """Proves that the claim follows from what is given, which is possible."""
    global failures, proofs
    solver = z3.SolverFor('QF_BV' if 'float' not in name else 'QF_FPBV')
    solver.set('timeout', 300000)
    solver.add(*given)
    if solver.check() != z3.sat:
        print(f'{name}: nothing is given')
        failures += 1
        return
    solver.add(z3.Not(claim))
    found = solver.check()
    proofs += 1
    if found != z3.unsat:
        print(f'{name}: {"wrong for " + str(solver.model()) if found == z3.sat else "not decided"}')
        failures += 1


def word(name):
    return z3.BitVec(name, 64)


def number(value, bits=64):
    return z3.BitVecVal(value, bits)


def power(exponent):
    return number(1) << exponent


def prove_codes():
    UNSIGNED, SIGNED, REAL, DESCENDING, FIRST, TOTAL = 1, 2, 5, 2, 4, 8
    a, b, sign = word('a'), word('b'), number(1 << 63)
    for kind, less in ((UNSIGNED, z3.ULT(a, b)), (SIGNED, a < b)):
        for flags in (0, DESCENDING):
            code = [functions['code'](x, number(kind, 32), number(flags, 32)) for x in (a, b)]
            back = functions['value'](code[0], number(kind, 32), number(flags, 32))
            prove(f'integers of kind {kind}, flags {flags}', [], z3.And(
                less == (z3.UGT if flags else z3.ULT)(*code), back == a))
    x, y = z3.fpBVToFP(a, z3.Float64()), z3.fpBVToFP(b, z3.Float64())
    for order in (0, DESCENDING):
        for nan in (0, FIRST):
            flags = number(order | nan, 32)
            code = [functions['code'](raw, number(REAL, 32), flags) for raw in (a, b)]
            back = functions['value'](code[0], number(REAL, 32), flags)
            ends = number(0 if nan else 2**64 - 1)
            name = f'floats, flags {order | nan}'
            prove(name + ': order', [z3.Not(z3.fpIsNaN(x)), z3.Not(z3.fpIsNaN(y))], z3.And(
                z3.fpLT(x, y) == (z3.UGT if order else z3.ULT)(*code), z3.fpEQ(x, y) == (code[0] == code[1])))
            prove(name + ': NaN', [], z3.fpIsNaN(x) == (code[0] == ends))
            prove(name + ': infinity', [z3.fpIsInf(x), z3.Not(z3.fpIsNaN(y)), z3.Not(z3.fpIsNegative(x))],
                  (z3.ULE if order else z3.UGE)(*code))
            prove(name + ': back', [], back == z3.If(z3.fpIsNaN(x), number(0x7ff8 << 48), z3.If(z3.fpIsZero(x), number(0), a)))
        flags = number(order | TOTAL, 32)
        code = [functions['code'](raw, number(REAL, 32), flags) for raw in (a, b)]
        less = z3.If((a & sign) != (b & sign), (a & sign) != 0, z3.If((a & sign) != 0, z3.UGT(a, b), z3.ULT(a, b)))
        prove(f'floats in total order, flags {order | TOTAL}', [], z3.And(
            less == (z3.UGT if order else z3.ULT)(*code), functions['value'](code[0], number(REAL, 32), flags) == a))


def prove_plans():
    """Counts up to 2^63, and every limit that a device can have."""
    count, most = word('count'), number(1 << 63)
    bits = functions['index_bits'](count)
    prove('bits of an index', [z3.ULE(count, most), count != 0], z3.And(
        bits != 0, z3.ULE(bits, 63), z3.ULT(count - 1, power(bits)), z3.Or(bits == 1, z3.UGE(count - 1, power(bits - 1)))))
    below = functions['power_below'](count)
    prove('a power of two', [count != 0], z3.And(z3.ULE(below, count), z3.ULT(count - below, below), below & (below - 1) == 0))
    shared, each = word('shared'), word('each')
    tile = functions['tile'](shared, each)
    prove('a tile', [z3.ULT(shared, 1 << 32), each != 0, z3.ULE(each, 4096)], z3.And(
        tile != 0, tile & (tile - 1) == 0, z3.ULE(tile, 1 << 16),
        z3.Or(tile == 1, z3.And(z3.ULE(2 * each * tile, shared), z3.ULE(2 * each * tile, 48 << 10)))))
    block = functions['block'](count)
    prove('threads of a block', [z3.ULE(count, 1024)], z3.And(block != 0, block & (block - 1) == 0, z3.ULE(block, 1024)))
    at, block = word('at'), word('block')
    for width in range(63):
        begin, middle, end = (functions[name](at, number(1 << width), count) for name in ('begin', 'middle', 'end'))
        prove(f'a pair of runs of 2^{width}', [z3.ULT(at, count), z3.ULE(count, most)], z3.And(
            z3.ULE(begin, at), z3.ULT(at, end), z3.ULE(end, count), z3.ULE(begin, middle), z3.ULE(middle, end),
            z3.ULE(middle - begin, 1 << width), z3.ULE(end - middle, 1 << width), begin & (2 << width) - 1 == 0))
        for outputs in sorted({0, width // 2, width, width + 1}):
            given = [z3.ULE(count, most), z3.ULE(block, (1 << 63) - 1 >> outputs), z3.ULT(block << outputs, count)]
            arguments = block, number(1 << outputs), number(1 << width), count
            begin, end, pair = (functions[name](*arguments) for name in ('output_begin', 'output_end', 'output_pair'))
            prove(f'outputs 2^{outputs} of pairs of 2^{width}', given, z3.And(
                begin == block << outputs, z3.ULT(begin, end), z3.ULE(end, count), z3.ULE(end - begin, 1 << outputs),
                z3.ULE(pair, begin), z3.ULE(end - pair, 2 << width), z3.Or(end == count, end == begin + (1 << outputs))))
    a, b = word('a'), word('b')
    total = functions['sum'](a, b)
    wide = z3.ZeroExt(1, a) + z3.ZeroExt(1, b)
    prove('a sum', [], z3.ZeroExt(1, total) == z3.If(z3.ULT(wide, number(2**64 - 1, 65)), wide, number(2**64 - 1, 65)))
    for unit in (1, 8, 64, 256):
        rounded = functions['round_up'](a, number(unit))
        prove(f'a multiple of {unit}', [z3.ULE(a, most)], z3.And(
            z3.UGE(rounded, a), z3.ULT(rounded - a, unit), rounded & (unit - 1) == 0))


def ascending(words):
    return [z3.ULE(x, y) for x, y in zip(words, words[1:])]


def prove_ranks(most):
    """Runs of up to `most` words: the co-rank is right and reads nothing else, and no other number is right."""
    for a in ([word(f'a{i}') for i in range(count)] for count in range(most + 1)):
        x = word('x')
        for found, count in functions['first'].paths(x, a, number(len(a))):
            prove(f'the rank in {len(a)}', ascending(a) + found, z3.And(*[(z3.ULT(y, x)) == (i < count) for i, y in enumerate(a)]))
        for b in ([word(f'b{i}') for i in range(count)] for count in range(most + 1)):
            for rank in range(len(a) + len(b) + 1):
                choices = range(max(0, rank - len(b)), min(rank, len(a)) + 1)
                right = {i: z3.And(z3.ULE(a[i - 1], b[rank - i]) if i > 0 and rank - i < len(b) else True,
                                   z3.ULT(b[rank - i - 1], a[i]) if i < rank and i < len(a) else True) for i in choices}
                for found, cut in functions['cut'].paths(number(rank), a, number(len(a)), b, number(len(b))):
                    prove(f'the co-rank {rank} of {len(a)} and {len(b)}', ascending(a) + ascending(b) + found,
                          z3.And(*[right[i] == (i == cut) for i in choices]) if cut in choices else z3.BoolVal(False))


def main():
    clang, root = sys.argv[1], Path(sys.argv[2])
    if not shutil.which(clang):
        print('There is no clang: nothing is proved.')
        return 77
    command = [clang, '-O1', '-DNDEBUG', '-std=c11', '-S', '-emit-llvm', '-fno-vectorize', '-fno-slp-vectorize', '-fno-unroll-loops',
               '-fno-discard-value-names', *[f'-I{root / folder}' for folder in ('core', 'core/include', 'plugins', 'tests')],
               root / 'tests/exhaustive/proved.c', '-o', '-']
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for match in re.finditer(r'^define .*?@(\w+)\(.*?^}$', text, re.M | re.S):
        functions[match[1]] = Function(re.sub(r' (local_unnamed_addr )?#\d+ \{', ' {', match[0]))
    prove_codes()
    prove_plans()
    prove_ranks(int(sys.argv[3]))
    print(f'{proofs} proofs, {failures} failures')
    return failures > 0


functions = {}
sys.exit(main())
