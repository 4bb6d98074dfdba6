"""Columns that cannot be what their header says: below chance (B15), or no headline
(B16, §25.8)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np

from warehouse.stats.board.finding import CHECK, Finding
from warehouse.stats.board.table import Board, FigureColumn
from warehouse.stats.board.words import short

#: Benchmarks of one right option: its share of all options, and their questions.
_CHANCE = {
    "mmlu": (0.25, 14_042),
    "arc_challenge": (0.25, 1_172),
    "arc_c": (0.25, 1_172),
    "arc_easy": (0.25, 2_376),
    "arc_e": (0.25, 2_376),
    "hellaswag": (0.25, 10_042),
    "winogrande": (0.5, 1_267),
    "piqa": (0.5, 1_838),
    "openbookqa": (0.25, 500),
    "obqa": (0.25, 500),
    "commonsenseqa": (0.2, 1_221),
    "csqa": (0.2, 1_221),
    "siqa": (1 / 3, 1_954),
    "social_iqa": (1 / 3, 1_954),
    "copa": (0.5, 100),
    "boolq": (0.5, 3_270),
    "race": (0.25, 4_934),
}
_FEWEST, _BELOW, _SIGMAS = 4, 0.6, 3
_MAIN, _TENTH, _MOST, _FEWEST_MAIN = "main_score", 0.1, 0.8, 8
_SISTER, _ZEROS = 0.3, 0.25


def chance_findings(board: Board) -> Iterator[Finding]:
    """B15: a column whose entries are mostly below what guessing gives.

    Scores that were normalised by chance lie there rightly, so that this only asks.
    """
    for column in board.scores:
        name = re.sub(r"[\s-]+", "_", column.name.strip().casefold())
        if name not in _CHANCE or column.scale is None:
            continue
        chance, n = _CHANCE[name]
        values = column.values[column.there & board.is_entry] / column.scale
        limit = chance - _SIGMAS * math.sqrt(chance * (1 - chance) / n)
        if len(values) < _FEWEST or np.mean(values < limit) < _BELOW:
            continue
        text = (
            f"{column.name}: {int((values < limit).sum())} of {len(values)} entries are "
            f"below chance, {short(chance * column.scale, 3)}: another column under this "
            "header, or scores that were normalised?"
        )
        score = float(chance / max(float(np.median(values)), 1e-9))
        yield Finding(CHECK, "B15", (), column.name, text, score)


def headline_findings(board: Board) -> Iterator[Finding]:
    """B16: a main score far below another metric, or 0 beside it."""
    main = next((one for one in board.scores if _last(one.name) == _MAIN), None)
    if main is None:
        return
    for sister in board.scores:
        if sister is main or sister.scale != main.scale:
            continue
        found = _no_headline(main, sister)
        if found is not None:
            yield found
            return


def _last(name: str) -> str:
    """The metric of a name such as ``test|default|main_score``."""
    return name.split("|")[-1].strip().casefold()


def _no_headline(main: FigureColumn, sister: FigureColumn) -> Finding | None:
    both = main.there & sister.there
    if both.sum() < _FEWEST_MAIN:
        return None
    scale = main.scale or 1
    own, other = main.values[both], sister.values[both]
    if float(np.median(other)) <= _SISTER * scale:
        return None
    n_low = int((own < _TENTH * other).sum())
    n_zero = int((own == 0).sum())
    if n_low < _MOST * len(own) and n_zero < _ZEROS * len(own):
        return None
    text = (
        f"{_MAIN} is below a tenth of {_last(sister.name)} in {n_low} of {len(own)} rows: is "
        "this the right headline?"
    )
    return Finding(CHECK, "B16", (), main.name, text, float(n_low))
