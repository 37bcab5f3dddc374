#!/usr/bin/env python3
"""Of a small source the operators make the mutants below; of the whole tree, as many as they should."""
import sys

import mutants

SOURCE = '''\
#include <stdint.h>
#define TWICE(x) ((x) * 2)
enum { MOST = 4 };
static const int sizes[] = {1, 10}; /* 3 < 4 */
template <class Pair> __global__ void __launch_bounds__(256) find(const args<Pair> in)
{
  const char *text = "a < 5";
  if (in.count > 0 && !in.empty) found(in);
  in.sum += text[1];
  return;
}
struct point {
  int x() const { return x_ == 0x0f ? y : *z; }
};
'''
EXPECTED = [
    ('TWICE', 'arithmetic', '*', '/'), ('TWICE', 'constant', '2', '3'), ('enum', 'constant', '4', '5'),
    ('sizes', 'constant', '1', '0'), ('sizes', 'constant', '10', '11'),
    ('find', 'relation', '>', '>='), ('find', 'constant', '0', '1'), ('find', 'logic', '&&', '||'),
    ('find', 'logic', '!', ''), ('find', 'statement', 'found(in);', ';'), ('find', 'statement', 'in.sum += text[1];', ';'),
    ('find', 'arithmetic', '+=', '-='), ('find', 'constant', '1', '0'),
    ('x', 'return', 'x_ == 0x0f ? y : *z', '0'), ('x', 'relation', '==', '!='), ('x', 'constant', '0x0f', '16'),
]


def main():
    made = [(name, operator, SOURCE[begin:end], new) for kind, name, tokens in mutants.regions_of(SOURCE)
            for operator, begin, end, new in mutants.changes_of(kind, tokens, SOURCE)]
    problems = [f'not made: {each}' for each in EXPECTED if each not in made]
    problems += [f'made: {each}' for each in made if each not in EXPECTED]
    print(*problems, f'{len(made)} mutants of a small source, {len(problems)} problems', sep='\n')
    return 1 if problems or len(made) != len(EXPECTED) else mutants.check()


if __name__ == '__main__':
    sys.exit(main())
