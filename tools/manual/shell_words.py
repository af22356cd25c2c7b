"""The commands of a block of `sh` as words."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

HEREDOC = re.compile(r'^(?P<line>.*?)<<(?P<end>\w+)\n(?P<body>.*?)^(?P=end)$', re.M | re.S)
QUOTED_CODE = re.compile(r'(python3? -c) "[^"]*"')


def commands_of(text: str) -> Iterator[list[str]]:
    """Yield each command of some lines; pipes, `&&` and `$(...)` end one, no comments."""
    text = QUOTED_CODE.sub(r'\1 code', HEREDOC.sub(r'\g<line>< text', text)).replace('\\\n', ' ')
    for line in text.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars='&|;()<>')
        lexer.whitespace_split = True
        words: list[str] = []
        for word in lexer:
            if set(word) <= set('<>'):
                next(lexer)  # a file
            elif not set(word) <= set('&|;()'):
                words.append(word)
            elif words:
                yield words
                words = []
        if words:
            yield words


def written_files(text: str) -> list[str]:
    """Return the texts that `cat > FILE <<EOF` writes in a block."""
    return [found['body'] for found in HEREDOC.finditer(text)]
