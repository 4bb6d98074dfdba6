"""Entries that are listed twice, and names that contradict a text beside them (B6,
§25.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from warehouse.stats.board.finding import CHECK, NOTE, WRONG, Finding
from warehouse.stats.board.table import Board
from warehouse.stats.board.words import counted, listed

#: Words of columns that tell nothing of which entry a row is.
_NO_IDENTITY = re.compile(r"command|hash|commit", re.IGNORECASE)
#: Words of columns that name another model than the entry.
_OF_ANOTHER = re.compile(
    r"base|parent|teacher|draft|tokeni[sz]er|judge|reference|student|source",
    re.IGNORECASE,
)
#: Words of columns of numbers that are settings.
_SETTING = re.compile(
    r"(?<![a-z0-9])(?:version|date|year|size|params?|seed|steps?|epochs?|window|length|"
    r"experiments?|id|uuid|rank|shots?|fewshot|k|temperature|budget|level|effort)"
    r"(?![a-z0-9])",
    re.IGNORECASE,
)
#: Share of the rows beyond which a name that stands several times is no name.
_MOST_TWICE, _FEW_ROWS = 0.1, 4
#: ``70B``, ``1.5b``: parameters in a name.
_SIZE = re.compile(r"(?<![A-Za-z\d.])(\d{1,4}(?:\.\d{1,3})?)\s?[bB](?![A-Za-z0-9])")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_FEWEST_SIZES, _APART = 8, 1.25


def twice_findings(board: Board) -> Iterator[Finding]:
    """B6: names that stand several times."""
    rows_of: dict[str, list[int]] = {}
    for row, name in enumerate(board.entries):
        if name.strip():
            rows_of.setdefault(name.strip(), []).append(row)
    twice = {name: rows for name, rows in rows_of.items() if len(rows) > 1}
    found = []
    n_apart = 0
    for rows in twice.values():
        if _told_apart(board, rows):
            n_apart += 1
            continue
        found.append(_twice(board, rows))
    n_rows = sum(len(rows) for rows in twice.values())
    if n_apart or n_rows > max(_FEW_ROWS, _MOST_TWICE * len(board.entries)):
        return  # the name alone is not what an entry is called by
    yield from found


def _told_apart(board: Board, rows: list[int]) -> bool:
    names = [name for name in board.texts if not _NO_IDENTITY.search(name)]
    names += [one.name for one in board.figures if _SETTING.search(one.name)]
    for name, texts in zip(board.columns, board.cells, strict=True):
        if name in names and len({texts[row] for row in rows}) == len(rows):
            return True
    return False


def _twice(board: Board, rows: list[int]) -> Finding:
    differ = []
    for column in board.figures:
        values = column.values[rows]
        values = values[np.isfinite(values)]
        if len(np.unique(values)) > 1:
            differ.append(column.name)
    if differ:
        text = f"listed {len(rows)} times, with other figures in {listed(differ)}"
        score = float(len(differ))
        return Finding(CHECK, "B6", tuple(rows[:1]), "", text, score)
    text = f"listed {len(rows)} times, with the same figures"
    return Finding(NOTE, "B6", tuple(rows[:1]), "", text, float(len(rows)))


def size_findings(board: Board) -> Iterator[Finding]:
    """B6: a size in the name, and another in a text beside it, such as a link."""
    for column, texts in board.texts.items():
        n_filled = sum(bool(text) for text in texts)
        n_slashes = sum("/" in text for text in texts)
        if not n_filled or 2 * n_slashes < n_filled or _OF_ANOTHER.search(column):
            continue
        n_both, apart = 0, []
        for row, (name, text) in enumerate(zip(board.entries, texts, strict=True)):
            own, other = _sizes_in(name), _sizes_in(text)
            if not own or len(other) != 1:
                continue
            n_both += 1
            if not _agree(own, other[0]) and not _holds_number(text, own):
                apart.append((row, own[0], other[0]))
        if n_both < _FEWEST_SIZES or len(apart) > max(2, 0.1 * n_both):
            continue
        for row, size, other_size in apart:
            text = (
                f"named {size:g}B, its {column} says {other_size:g}B; they agree in "
                f"{n_both - len(apart)} of {counted(n_both, 'row')}"
            )
            ratio = max(size, other_size) / min(size, other_size)
            yield Finding(WRONG, "B6", (row,), column, text, ratio)


def _sizes_in(text: str) -> list[float]:
    plain = _UUID.sub(" ", text[:2000])
    found = [float(size) for size in _SIZE.findall(plain)]
    return [size for size in dict.fromkeys(found) if size > 0]


def _agree(sizes: list[float], other: float) -> bool:
    return any(max(one, other) <= _APART * min(one, other) for one in sizes)


def _holds_number(text: str, sizes: list[float]) -> bool:
    return any(
        re.search(rf"(?<![\d.]){re.escape(f'{size:g}')}(?![\d.]*\d)", text)
        for size in sizes
    )
