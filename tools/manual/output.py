"""What a command prints against what its page shows."""

from __future__ import annotations

import re
from textwrap import wrap

NUMBER = re.compile(r'[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?')
BORDERS = str.maketrans('', '', '━┃│┏┓┗┛┡┩├┤┼┴┬┳╇┻─└┘┌┐')
WIDTH = 80
# Estimates differ in their last digits from processor to processor.
RELATIVE = 0.05
# Below it a figure is the rounding of a machine.
ROUNDING = 1e-12
ELAPSED = re.compile(r'(?<![\w.])\d+(?:\.\d+)? s$', re.M)
# Of a machine on which a function was never used.
COMPILING = re.compile(r'^compiling kernels .*\n?', re.M)
SECONDS = re.compile(r'^│ seconds .*$', re.M)


def shown(printed: str, part: str) -> str:
    """
    Return what a page shows of an output: the asked part, without times of this machine.

    :param part: '', `head N` or `tail N`.
    """
    lines = [
        line.rstrip()
        for line in SECONDS.sub('...', ELAPSED.sub('... s', printed)).strip('\n').splitlines()
    ]
    word, _, count = part.partition(' ')
    if word == 'head' and len(lines) > int(count):
        lines = [*lines[: int(count)], '...']
    elif word == 'tail' and len(lines) > int(count):
        lines = ['...', *lines[-int(count) :]]
    return '\n'.join(part for line in lines for part in _wrapped(line)) + '\n'


def _wrapped(line: str) -> list[str]:
    """Return a line in the width of a page; lines of a table are left as they are."""
    if len(line) <= WIDTH or line != line.translate(BORDERS):
        return [line]
    margin = ' ' * (len(line) - len(line.lstrip()) + 2)
    return wrap(line, WIDTH, subsequent_indent=margin, break_long_words=False,
                break_on_hyphens=False)  # fmt: skip


def same(expected: str, printed: str) -> bool:
    """Tell whether a page shows what was printed: words equal, numbers within 5 %."""
    return _match(_words(expected), _words(printed))


def _words(text: str) -> list[str]:
    return text.translate(BORDERS).split()


def _match(expected: list[str], printed: list[str]) -> bool:
    """Match word by word; `...` takes as many words as it needs."""
    pieces: list[list[str]] = [[]]
    for word in expected:
        if word == '...':
            pieces.append([])
        else:
            pieces[-1].append(word)
    place = 0
    for number, piece in enumerate(pieces):
        last = len(printed) - len(piece)
        starts = [place] if number == 0 else list(range(place, last + 1))
        if number == len(pieces) - 1 and number > 0:
            starts = [last] if last >= place else []
        for start in starts:
            if start <= last and all(map(_alike, piece, printed[start:])):
                place = start + len(piece)
                break
        else:
            return False
    return len(pieces) > 1 or place == len(printed)


def _alike(expected: str, printed: str) -> bool:
    if NUMBER.sub('#', expected) != NUMBER.sub('#', printed):
        return False
    pairs = zip(NUMBER.findall(expected), NUMBER.findall(printed))
    return all(_near(a, b) for a, b in pairs)


def _near(a: str, b: str) -> bool:
    if a.lstrip('+-').isdigit() and b.lstrip('+-').isdigit():
        return a == b
    if max(abs(float(a)), abs(float(b))) < ROUNDING:
        return True
    unit = 10.0 ** -len(a.partition('.')[2].partition('e')[0])
    scale = float(f'1e{a.partition("e")[2] or 0}')
    return abs(float(a) - float(b)) <= RELATIVE * abs(float(a)) + unit * scale
