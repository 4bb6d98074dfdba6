"""Figures that are unlikely beside the others of their row: suspicions (B12, §25.7)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from warehouse.stats.board.finding import CHECK, Finding
from warehouse.stats.board.residuals import (
    Residuals,
    Scores,
    by_columns,
    by_median,
    scores_of,
)
from warehouse.stats.board.table import Board, FigureColumn
from warehouse.stats.board.words import counted, short

_FEWEST_ROWS, _FEWEST_COLUMNS = 15, 4
#: Cells that are looked at, at most: beyond, a table is no board that people read.
_MOST_ROWS, _MOST_COLUMNS, _MOST_CELLS = 5_000, 400, 400_000
_LEFT_OUT = re.compile(
    r"(?<![a-z])(?:mean|average|avg|overall|global|total|aggregat\w*|f1|precision|recall|cost|price)(?![a-z])",
    re.IGNORECASE,
)
_LEAST_GAP, _LEAST_Z, _TIMES_USUAL, _OF_ONE_TASK = 0.10, 6.0, 2.5, 25.0
_MOST_OF_COLUMN = 0.08


@dataclass(frozen=True, eq=False)
class ScoredBoard:
    """The scores of a board that are looked at for unlikely ones."""

    board: Board
    rows: np.ndarray  #: numbers of the entries.
    columns: tuple[FigureColumn, ...]
    scores: Scores  #: of these rows and columns.

    def scale(self, column: int) -> int:
        """Of a column, 1 or 100."""
        return self.columns[column].scale or 1


def scored_board(board: Board, made: Collection[str] = ()) -> ScoredBoard | None:
    """The scores of entries that can be compared; None where they are too few.

    Args:
        made: names of columns that are made of others.
    """
    rows = np.flatnonzero(board.is_entry)
    columns = [
        one
        for one in board.scores
        if one.name not in made
        and not _LEFT_OUT.search(one.name)
        and _varies(one, rows)
    ]
    if len(rows) < _FEWEST_ROWS or len(columns) < _FEWEST_COLUMNS:
        return None
    if len(rows) > _MOST_ROWS or len(columns) > _MOST_COLUMNS:
        return None
    if len(rows) * len(columns) > _MOST_CELLS:
        return None
    shares = np.stack([one.values[rows] / (one.scale or 1) for one in columns], axis=1)
    shares = np.where((shares >= 0) & (shares <= 1), shares, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of rows without a score
        return ScoredBoard(board, rows, tuple(columns), scores_of(shares))


def _varies(column: FigureColumn, rows: np.ndarray) -> bool:
    """Whether half of the figures are not one and the same."""
    values = column.values[rows]
    values = values[np.isfinite(values)]
    if len(values) < _FEWEST_ROWS:
        return False
    return bool(2 * (values == np.median(values)).sum() < len(values))


def unlikely_findings(scored: ScoredBoard, medians: Residuals) -> Iterator[Finding]:
    """Cells far from what the other columns, or the row as a whole, let expect.

    Args:
        medians: residuals by the median of the row.
    """
    columns = scored.columns
    of_one_task = sum("|" in one.name for one in columns) * 2 > len(columns)
    stems = [_stem(one.name) for one in columns]
    found = [by_columns(scored.scores, stems)]
    if not of_one_task:
        found.append(medians)
    ratio = np.zeros(scored.scores.shares.shape)
    expected = np.full(ratio.shape, np.nan)
    for residuals in found:
        gaps = np.abs(scored.scores.shares - residuals.predicted)
        z = np.where(gaps >= _LEAST_GAP, np.abs(residuals.z), 0.0)
        z = np.nan_to_num(z)
        limit = _limit(z, scored, of_one_task=of_one_task)
        now = z / limit
        expected = np.where(now > ratio, residuals.predicted, expected)
        ratio = np.maximum(ratio, now)
    yield from _cells(scored, ratio, expected)


def _limit(z: np.ndarray, scored: ScoredBoard, *, of_one_task: bool) -> float:
    if of_one_task:
        return _OF_ONE_TASK
    usual = float(np.quantile(z[np.isfinite(scored.scores.shares)], 0.99))
    return max(_LEAST_Z, _TIMES_USUAL * usual)


def _cells(
    scored: ScoredBoard, ratio: np.ndarray, expected: np.ndarray
) -> Iterator[Finding]:
    for column in range(ratio.shape[1]):
        rows = np.flatnonzero(ratio[:, column] > 1)
        n_there = int(np.isfinite(scored.scores.shares[:, column]).sum())
        name = scored.columns[column].name
        if len(rows) > max(2, _MOST_OF_COLUMN * n_there):
            text = (
                f"{name}: {counted(len(rows), 'entry')} far from what their other "
                "figures let expect: two versions or definitions in one column?"
            )
            score = float(ratio[rows, column].max())
            yield Finding(CHECK, "B12", (), name, text, score, is_suspicion=True)
            continue
        for row in rows:
            value = scored.scale(column) * float(expected[row, column])
            text = (
                f"{name} {{printed}}, where the other figures of its row let expect "
                f"about {short(value, 3)}"
            )
            yield Finding(
                *(CHECK, "B12", (int(scored.rows[row]),), name, text),
                *(float(ratio[row, column]), "", value),
                is_suspicion=True,
            )


def _stem(name: str) -> str:
    return re.sub(r"[\d+]+", "", name.casefold())


def median_residuals(scored: ScoredBoard) -> Residuals:
    """Residuals by the median of the row, of entries that have any score."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return by_median(scored.scores)
