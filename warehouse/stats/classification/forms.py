"""Metrics of a table of targets and answers: values, and the influence of one prompt
(statistics.md §23).

A table C has a row for each class with a target and a column for each answer, the last
for none; its entries are shares of prompts. r are the sums of its rows, c of its
columns, t its diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray

ACCURACY, PRECISION, RECALL, F = "accuracy", "precision", "recall", "f"
BALANCED, MACRO_PRECISION = "balanced_accuracy", "macro_precision"
MACRO_F, WEIGHTED_F, KAPPA, MCC = "macro_f", "weighted_f", "kappa", "mcc"
#: Metrics of one class, and of all of them.
OF_CLASS: tuple[str, ...] = (PRECISION, RECALL, F)
OF_ALL: tuple[str, ...] = (
    ACCURACY,
    BALANCED,
    MACRO_PRECISION,
    MACRO_F,
    WEIGHTED_F,
    KAPPA,
    MCC,
)
#: Plain means over the classes.
MACRO = (BALANCED, MACRO_PRECISION, MACRO_F)
#: From −1 to 1; all others from 0.
SIGNED = (KAPPA, MCC)
#: Those that weigh precision against recall by β.
WITH_BETA = (F, MACRO_F, WEIGHTED_F)


@dataclass(frozen=True)
class Form:
    """A metric, with the class that it is of."""

    metric: str  #: one of `OF_CLASS` or `OF_ALL`.
    k: int | None = None  #: number of its class; None where it is of all.
    beta: float = 1.0  #: how many times as much recall counts as precision.

    def __post_init__(self) -> None:
        known = OF_CLASS
        if self.k is None:
            known = OF_ALL
        if self.metric not in known:
            raise StatisticsError(
                f"`metric` must be one of {', '.join(known)}, found {self.metric!r}"
            )
        if not 0 < self.beta < np.inf:
            raise StatisticsError(f"`beta` must be above 0, found {self.beta}")


def values(form: Form, tables: FloatArray) -> FloatArray:
    """The metric of each table; NaN where it is 0/0.

    Args:
        tables: shares of prompts, shape (..., C, C+1).

    Returns:
        of shape (...,).
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        if form.k is not None:
            return np.asarray(_by_class(form, tables)[..., form.k])
        if form.metric == ACCURACY:
            return np.asarray(_right(tables).sum(axis=-1))
        if form.metric in SIGNED:
            return _signed(form.metric, tables)
        own = np.nan_to_num(_by_class(form, tables))
        if form.metric == WEIGHTED_F:
            return np.asarray((tables.sum(axis=-1) * own).sum(axis=-1))
        return np.asarray(own.mean(axis=-1))


def influence(form: Form, table: FloatArray) -> FloatArray:
    """How much one prompt with a target and an answer adds, up to a constant, shape (C,
    C+1).

    Args:
        table: shares of prompts, shape (C, C+1), of which the metric is defined.
    """
    if form.k is not None:
        return _class_influence(form, table, form.k)
    right = np.eye(*table.shape)
    if form.metric == ACCURACY:
        return right
    if form.metric == KAPPA:
        return _kappa_influence(table, right)
    if form.metric == MCC:
        return _mcc_influence(table, right)
    numbers = range(len(table))
    parts = np.array([_class_influence(form, table, k) for k in numbers])
    if form.metric == WEIGHTED_F:
        rows = table.sum(axis=1)
        by_target = np.nan_to_num(_by_class(form, table))
        weighted = np.tensordot(rows, parts, axes=1)
        return np.asarray(weighted + by_target[:, None])
    return np.asarray(parts.mean(axis=0))


def _right(tables: FloatArray) -> FloatArray:
    return np.asarray(np.diagonal(tables[..., :-1], axis1=-2, axis2=-1))


def _by_class(form: Form, tables: FloatArray) -> FloatArray:
    """Precision, recall or F of each class, shape (..., C)."""
    right = _right(tables)
    rows = tables.sum(axis=-1)
    columns = tables[..., :-1].sum(axis=-2)
    square = form.beta**2
    if form.metric in (PRECISION, MACRO_PRECISION):
        over: FloatArray = columns
    elif form.metric in (RECALL, BALANCED):
        over = rows
    else:
        right = np.asarray((1 + square) * right)
        over = square * rows + columns
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(right / over)


def _signed(metric: str, tables: FloatArray) -> FloatArray:
    observed = _right(tables).sum(axis=-1)
    rows = tables.sum(axis=-1)
    columns = tables.sum(axis=-2)
    expected = (rows * columns[..., :-1]).sum(axis=-1)
    if metric == KAPPA:
        spread = 1 - expected
    else:
        answers, targets = _spreads(rows, columns)
        spread = np.sqrt(answers * targets)
    spread = np.where(spread > 1e-12, spread, np.nan)
    return np.asarray((observed - expected) / spread)


def _spreads(rows: FloatArray, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """1 − Σc² and 1 − Σr²; 0 where they are 0 but for rounding."""
    answers = 1 - (columns**2).sum(axis=-1)
    targets = 1 - (rows**2).sum(axis=-1)
    return np.maximum(answers, 0), np.maximum(targets, 0)


def _class_influence(form: Form, table: FloatArray, k: int) -> FloatArray:
    value = float(_by_class(form, table)[k])
    if np.isnan(value):  # a class that is never answered adds nothing to a mean
        return np.zeros_like(table)
    is_target, is_answer, is_both = (np.zeros_like(table) for _ in range(3))
    is_target[k] = 1
    is_answer[:, k] = 1
    is_both[k, k] = 1
    row, column = table[k].sum(), table[:, k].sum()
    if form.metric in (PRECISION, MACRO_PRECISION):
        return np.asarray((is_both - value * is_answer) / column)
    if form.metric in (RECALL, BALANCED):
        return np.asarray((is_both - value * is_target) / row)
    square = form.beta**2
    change = (1 + square) * is_both - value * (square * is_target + is_answer)
    return np.asarray(change / (square * row + column))


def _kappa_influence(table: FloatArray, right: FloatArray) -> FloatArray:
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    observed = _right(table).sum()
    by_chance = 1 - (rows * columns[:-1]).sum()
    margins = columns[:-1, None] + np.append(rows, 0)
    change = right / by_chance - (1 - observed) * margins / by_chance**2
    return np.asarray(change)


def _mcc_influence(table: FloatArray, right: FloatArray) -> FloatArray:
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    answers, targets = _spreads(rows, columns)
    value = float(_signed(MCC, table))
    margins = columns[:-1, None] + np.append(rows, 0)
    slopes = columns[None, :] / answers + rows[:, None] / targets
    change = (right - margins) / np.sqrt(answers * targets) + value * slopes
    return np.asarray(change)
