"""A column that is the mean of others: of a block of neighbours, or of any with weights
(B2, §25.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.board.rule import FEWEST_ROWS, Rule, keeps_within
from warehouse.stats.board.table import FigureColumn
from warehouse.stats.board.words import listed
from warehouse.stats.core.inputs import FloatArray

_BLOCK, _FIT = 4, 5
#: Columns of the longest block, and of a table whose weights are fitted.
_MOST_PARTS = 30
#: Rows by which blocks are told apart that cannot be it, and their share that keep it.
_TRIED_ROWS, _TRIED_KEPT = 24, 0.5
#: Tolerances that the parts of a row spread over at least, in half of the rows.
_SPREAD = 5
#: Nats that a block has to have against being a coincidence.
_EVIDENCE = 15.0
_ROUNDS, _LEAST_WEIGHT, _OF_ONE, _EQUAL = 6, 0.02, 0.02, 1.06


def mean_rules(column: FigureColumn, scores: Sequence[FigureColumn]) -> Iterator[Rule]:
    """Means of other columns of the same scale that a column is."""
    others = [one for one in scores if one is not column and one.scale == column.scale]
    if len(others) < 2:
        return
    blocks = [*_blocks(column, others)]
    yield from blocks
    if len(others) < _MOST_PARTS and all(rule.n_exceptions for rule in blocks):
        yield from _fitted(column, others)


def _blocks(column: FigureColumn, others: list[FigureColumn]) -> Iterator[Rule]:
    values = np.stack([one.values for one in others], axis=1)
    tolerances = np.stack([one.tolerances for one in others], axis=1)
    for first, last in _likely_blocks(column, values, tolerances):
        part = slice(first, last)
        expected = values[:, part].mean(axis=1)
        slack = tolerances[:, part].mean(axis=1)
        keeps = keeps_within(column, expected, slack)
        parts = tuple(others[part])
        rule = Rule(
            *(column, parts, _mean_of(parts), _BLOCK, expected, keeps),
            is_equal_mean=True,
        )
        if not rule.holds or not _is_spread(rule, values[:, part], slack):
            continue
        if _evidence(rule, values[:, part], slack, len(others)) >= _EVIDENCE:
            yield rule


def _evidence(rule: Rule, parts: FloatArray, slack: FloatArray, n_others: int) -> float:
    """Nats against a coincidence: how narrow a target the mean is between the parts of
    a row, in all rows that keep the rule, after the choice among all blocks."""
    spread = parts.max(axis=1) - parts.min(axis=1)
    with np.errstate(all="ignore"):
        hit = np.minimum(1.0, 4 * (rule.column.tolerances + slack) / spread)
    kept = rule.there & rule.keeps & (hit > 0)
    n_blocks = n_others * (n_others - 1) / 2
    return float(-np.log(hit[kept]).sum() - np.log(n_blocks))


def _mean_of(parts: Sequence[FigureColumn]) -> str:
    names = [part.name for part in parts]
    if len(names) > 3:
        return f"the mean of {len(names)} columns, {names[0]} to {names[-1]},"
    return f"the mean of {listed(names)}"


def _likely_blocks(
    column: FigureColumn, values: FloatArray, tolerances: FloatArray
) -> Iterator[tuple[int, int]]:
    """Blocks whose means are near the column in half of some rows, or which too few of
    these have to tell."""
    n_there = np.isfinite(values).sum(axis=1)
    rows = np.flatnonzero(column.there)
    rows = rows[np.argsort(-n_there[rows], kind="stable")]
    if len(rows) < FEWEST_ROWS:
        return
    rows = rows[: max(_TRIED_ROWS, FEWEST_ROWS)]
    nothing = np.zeros((len(rows), 1))
    sums = np.hstack([nothing, np.cumsum(np.nan_to_num(values[rows]), axis=1)])
    slacks = np.hstack([nothing, np.cumsum(np.nan_to_num(tolerances[rows]), axis=1)])
    gaps = np.hstack([nothing, np.cumsum(~np.isfinite(values[rows]), axis=1)])
    n_columns = values.shape[1]
    own, allowed = column.values[rows], column.tolerances[rows]
    for size in range(2, min(n_columns, _MOST_PARTS) + 1):
        means = (sums[:, size:] - sums[:, :-size]) / size
        slack = (slacks[:, size:] - slacks[:, :-size]) / size
        whole = (gaps[:, size:] - gaps[:, :-size]) == 0
        near = np.abs(own[:, None] - means) <= allowed[:, None] + slack + 1e-9
        n_near = (near & whole).sum(axis=0)
        n_whole = whole.sum(axis=0)
        likely = (n_near >= _TRIED_KEPT * n_whole) | (n_whole < FEWEST_ROWS)
        for first in np.flatnonzero(likely):
            yield int(first), int(first) + size


def _is_spread(rule: Rule, parts: FloatArray, slack: FloatArray) -> bool:
    """Whether the parts of a row are so far apart that their mean is no chance."""
    spread = parts.max(axis=1) - parts.min(axis=1)
    with np.errstate(invalid="ignore"):
        wide = spread > _SPREAD * (rule.column.tolerances + slack)
    return bool(2 * wide[rule.there].sum() > rule.n_rows)


def _fitted(column: FigureColumn, others: list[FigureColumn]) -> Iterator[Rule]:
    """A mean with weights, found by least squares without negative weights, rows with
    large residuals left out."""
    values = np.stack([one.values for one in others], axis=1)
    whole = column.there & np.isfinite(values).all(axis=1)
    if whole.sum() < FEWEST_ROWS:
        return
    weights = _trimmed_weights(values[whole], column, whole)
    chosen = np.flatnonzero(weights > _LEAST_WEIGHT)
    if len(chosen) < 2 or abs(weights[chosen].sum() - 1) >= _OF_ONE:
        return
    if whole.sum() < 2 * len(chosen) + 4:
        return
    parts = tuple(others[place] for place in chosen)
    kept = weights[chosen] / weights[chosen].sum()
    is_equal = bool(kept.max() / kept.min() < _EQUAL)
    if is_equal:
        kept = np.full(len(chosen), 1 / len(chosen))
    expected = values[:, chosen] @ kept
    slack = np.stack([part.tolerances for part in parts], axis=1) @ kept
    keeps = keeps_within(column, expected, slack)
    formula = _mean_of(parts)
    if not is_equal:
        terms = [
            f"{weight:.3f} {part.name}"
            for weight, part in zip(kept, parts, strict=True)
        ]
        formula = f"the weighted mean {' + '.join(terms)}"
    rule = Rule(
        *(column, parts, formula, _FIT, expected, keeps),
        is_equal_mean=is_equal,
        is_fitted=not is_equal,
    )
    if rule.holds and _is_spread(rule, values[:, chosen], slack):
        yield rule


def _trimmed_weights(
    values: FloatArray, column: FigureColumn, whole: NDArray[np.bool_]
) -> FloatArray:
    from scipy.optimize import nnls

    target, tolerances = column.values[whole], column.tolerances[whole]
    kept = np.ones(len(target), dtype=bool)
    weights = np.zeros(values.shape[1])
    for _ in range(_ROUNDS):
        try:
            weights = nnls(values[kept], target[kept])[0]
        except RuntimeError:  # no convergence: no rule
            return np.zeros(values.shape[1])
        residuals = np.abs(target - values @ weights)
        limit = max(
            5 * float(np.median(residuals[kept])), 2 * float(np.median(tolerances))
        )
        now = residuals <= limit
        if now.sum() < FEWEST_ROWS or (now == kept).all():
            break
        kept = now
    return np.asarray(weights)
