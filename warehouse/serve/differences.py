"""Two texts side by side: which words of each the other has not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

#: Characters of a text that are shown beside another: of its beginning, and of its end,
#: which says more.
BEGINNING, END = 700, 1_300
#: Parts of a text that are told apart; with more of them marks would say nothing.
MOST_PARTS = 60

_WORD = re.compile(r"\s+|\w+|[^\w\s]")

#: A part of a text, and whether the other text has it too.
Part = tuple[str, bool]


def shortened(text: str) -> str:
    """A text without its middle, where it is long."""
    left_out = len(text) - BEGINNING - END
    if left_out <= 0:
        return text
    return f"{text[:BEGINNING]}\n[… {left_out} characters …]\n{text[-END:]}"


def compared_parts(a: str, b: str) -> tuple[list[Part], list[Part]]:
    """The parts of two texts, each shortened.

    Texts that are equal, and those of which nothing or too little is in common, are one
    part each.
    """
    texts = shortened(a), shortened(b)
    first, second = (_WORD.findall(text) for text in texts)
    found = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    same = [code for code in found if code[0] == "equal"]
    if len(found) > MOST_PARTS or not same or (a != b and len(found) == 1):
        return [(texts[0], True)], [(texts[1], True)]
    return (
        _parts(first, [(code[0] == "equal", code[1], code[2]) for code in found]),
        _parts(second, [(code[0] == "equal", code[3], code[4]) for code in found]),
    )


def _parts(words: Sequence[str], pieces: Sequence[tuple[bool, int, int]]) -> list[Part]:
    return [
        ("".join(words[start:end]), is_same)
        for is_same, start, end in pieces
        if end > start
    ]
