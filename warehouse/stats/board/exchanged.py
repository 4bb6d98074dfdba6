"""Unlikely figures of several cells at once: two exchanged, a block of columns, two sizes
of one model (B12, §25.7)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from warehouse.stats.board.finding import CHECK, Finding
from warehouse.stats.board.residuals import Residuals, scores_of
from warehouse.stats.board.table import Board, FigureColumn
from warehouse.stats.board.unlikely import ScoredBoard
from warehouse.stats.board.words import listed, short

_NORMAL = 1.4826
_FEWEST_OF_SWAP, _SWAPPED, _LEAST_SPREAD = 8, 3.5, 0.15
#: Added to that for each doubling of the pairs that are tried.
_OF_PAIRS = 0.5
_BACK, _LEAST_GAP, _ONE_SIDE = 1.5, 0.05, 0.85
#: Tasks of one metric beyond which some pair looks exchanged by chance.
_MOST_TASKS = 5
_CORRELATED, _FEWEST_OF_BLOCK, _BLOCK_ROWS, _BLOCK_COLUMNS = 0.4, 3, 25, 8
_BLOCK_Z, _BLOCK_GAP = 6.0, 0.10
_LARGER, _FEWEST_SHARED, _BEHIND = 2.0, 5, 0.15
_SIZE = re.compile(r"(?<![\d.x])(\d{1,4}(?:\.\d{1,3})?)\s?b(?![a-z0-9])")


def swap_findings(board: Board) -> Iterator[Finding]:
    """Rows in which the figures of two tasks of one metric seem to be exchanged."""
    by_metric: dict[str, list[FigureColumn]] = {}
    for column in board.scores:
        words = re.split(r"[\s./:]+", column.name.strip().casefold(), maxsplit=1)
        if len(words) == 2 and "|" not in column.name:
            by_metric.setdefault(words[1], []).append(column)
    strongest: dict[int, Finding] = {}
    for columns in by_metric.values():
        if not 2 <= len(columns) <= _MOST_TASKS:
            continue
        pairs = list(combinations(columns, 2))
        limit = _SWAPPED + _OF_PAIRS * math.log2(len(pairs))
        for one, other in pairs:
            if one.scale != other.scale:
                continue
            for finding in _exchanged(board, one, other, limit):
                row = finding.entries[0]
                if row not in strongest or finding.score > strongest[row].score:
                    strongest[row] = finding
    yield from strongest.values()


def _exchanged(
    board: Board, one: FigureColumn, other: FigureColumn, limit: float
) -> Iterator[Finding]:
    both = np.flatnonzero(one.there & other.there & board.is_entry)
    if len(both) < _FEWEST_OF_SWAP:
        return
    shares = np.stack([one.values[both], other.values[both]], axis=1) / (one.scale or 1)
    if shares.min() < 0 or shares.max() > 1:
        return
    gaps = shares[:, 0] - shares[:, 1]
    if max(np.mean(gaps > 0), np.mean(gaps < 0)) < _ONE_SIDE:
        return
    odds = scores_of(shares).odds
    apart = odds[:, 0] - odds[:, 1]
    middle = float(np.median(apart))
    unit = max(_NORMAL * float(np.median(np.abs(apart - middle))), _LEAST_SPREAD)
    off = np.abs(apart - middle) / unit
    back = np.abs(-apart - middle) / unit
    swapped = (off >= limit) & (back <= _BACK) & (np.abs(gaps) >= _LEAST_GAP)
    for place in np.flatnonzero(swapped):
        row = int(both[place])
        text = (
            f"{one.name} {{printed}} and {other.name} "
            f"{short(float(other.values[row]))}: exchanged? "
            f"{one.name} is on the other side in nearly all other rows"
        )
        score = float(off[place]) / limit
        yield Finding(*(CHECK, "B12", (row,), one.name, text, score), is_suspicion=True)


def block_findings(scored: ScoredBoard, medians: Residuals) -> Iterator[Finding]:
    """Entries that are off in a block of columns at once, all in one direction."""
    n_rows, n_columns = scored.scores.shares.shape
    if n_rows < _BLOCK_ROWS or n_columns < _BLOCK_COLUMNS:
        return
    z = np.clip(np.nan_to_num(medians.z), -4, 4)
    spread = z.std(axis=0)
    if not spread.all():
        return
    correlated = np.asarray(np.corrcoef(z, rowvar=False) > _CORRELATED)
    blocks = {tuple(np.flatnonzero(row).tolist()) for row in correlated}
    strongest: dict[int, Finding] = {}
    for block in sorted(blocks):
        if _FEWEST_OF_BLOCK <= len(block) <= n_columns / 2:
            for finding in _off_in_block(scored, medians, list(block)):
                row = finding.entries[0]
                if row not in strongest or finding.score > strongest[row].score:
                    strongest[row] = finding
    yield from strongest.values()


def _off_in_block(
    scored: ScoredBoard, medians: Residuals, block: list[int]
) -> Iterator[Finding]:
    z = medians.z[:, block]
    gaps = np.abs(scored.scores.shares - medians.predicted)[:, block]
    whole = np.isfinite(z).all(axis=1)
    if whole.sum() < _BLOCK_ROWS:
        return
    means = z.mean(axis=1)
    unit = _NORMAL * float(np.median(np.abs(means[whole] - np.median(means[whole]))))
    if not unit:
        return
    with np.errstate(invalid="ignore"):
        one_sign = (np.sign(z) == np.sign(z[:, :1])).all(axis=1)
        off = np.abs(means) / unit
        found = whole & one_sign & (off > _BLOCK_Z) & (gaps.mean(axis=1) >= _BLOCK_GAP)
    names = [scored.columns[column].name for column in block]
    for row in np.flatnonzero(found):
        side = "above" if means[row] > 0 else "below"
        text = f"{listed(names)}: all {side} what its other figures let expect"
        yield Finding(
            *(CHECK, "B12", (int(scored.rows[row]),), names[0], text),
            float(off[row]) / _BLOCK_Z,
            is_suspicion=True,
        )


def sibling_findings(scored: ScoredBoard) -> Iterator[Finding]:
    """The larger of two sizes of a model, ahead everywhere but far behind in one."""
    families: dict[str, list[tuple[float, int]]] = {}
    for place, row in enumerate(scored.rows):
        name = scored.board.entries[row].casefold()
        sizes = _SIZE.findall(name)
        if len(sizes) == 1 and float(sizes[0]) > 0:
            family = _SIZE.sub("#", name)
            families.setdefault(family, []).append((float(sizes[0]), place))
    for members in families.values():
        found: dict[tuple[int, str], list[Finding]] = {}
        for one, other in combinations(sorted(members), 2):
            if other[0] >= _LARGER * one[0]:
                for finding in _behind(scored, small=one[1], large=other[1]):
                    found.setdefault((one[1], finding.column), []).append(finding)
        for alike in found.values():
            if len(alike) == 1:  # of several the small one is the odd one
                yield alike[0]


def _behind(scored: ScoredBoard, *, small: int, large: int) -> Iterator[Finding]:
    lead = scored.scores.shares[large] - scored.scores.shares[small]
    shared = np.flatnonzero(np.isfinite(lead))
    behind = shared[lead[shared] < 0]
    if len(shared) <= _FEWEST_SHARED or len(behind) != 1:
        return
    column = int(behind[0])
    if lead[column] > -_BEHIND:
        return
    row = int(scored.rows[large])
    name = scored.columns[column].name
    text = (
        f"{name} {{printed}} is far below {scored.board.entries[scored.rows[small]]}, "
        "which is behind in all others"
    )
    score = float(-lead[column]) / _BEHIND
    yield Finding(*(CHECK, "B12", (row,), name, text, score), is_suspicion=True)
