"""How few labels of people would have to be the other way for the corrected mean of a
model to lie on the other side of a bar (statistics.md §26.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from warehouse.analysis.judge.rows import JudgeRow
from warehouse.analysis.judge.units import JudgedUnits
from warehouse.stats.core.inputs import is_zero_one
from warehouse.stats.leaving_out.labels import handful_of_labels
from warehouse.tables.words import counted, number

#: Models of which it is said in a sentence.
_NAMED = 10


def with_bar(
    rows: Sequence[JudgeRow], units: Sequence[JudgedUnits], bar: float
) -> tuple[JudgeRow, ...]:
    """Rows with how few labels put their means on the other side.

    Args:
        rows: all models together, then each.
        units: of each model.
        bar: in the unit of the labels.
    """
    made = [replace(rows[0], bar=bar)]
    for row, own in zip(rows[1:], units, strict=True):
        made.append(_with_bar(row, own, bar))
    return tuple(made)


def _with_bar(row: JudgeRow, units: JudgedUnits, bar: float) -> JudgeRow:
    row = replace(row, bar=bar)
    if row.estimate is None:
        return row
    is_plain = all(part is None for part in units.design.values())
    labels = units.labels[units.labelled]
    if is_plain and is_zero_one(labels) and is_zero_one(units.judge):
        weight = None
        if "labels_only" in row.flags:
            weight = 0.0
        elif "pooled_weight" in row.flags:
            weight = row.weight
        found = handful_of_labels(units.labels, units.judge, bar, weight=weight)
        return replace(row, handful_labels=found.count, handful_exact=True)
    return replace(row, handful_labels=_about(row, units, bar), handful_exact=False)


def _about(row: JudgeRow, units: JudgedUnits, bar: float) -> int | None:
    """To first order: each label moves the mean by the range of the labels over their
    number; None where they have no range."""
    if units.bounds is None or row.estimate is None:
        return None
    low, high = units.bounds
    if not low <= bar <= high:
        return None
    labels = row.n_labels * abs(row.estimate - bar) / (high - low)
    return math.ceil(float(np.nextafter(labels, 0)))


def bar_in_words(rows: Sequence[JudgeRow]) -> list[str]:
    """On which side each model is, and how few labels would put it on the other."""
    said = []
    for row in rows[1:]:
        if row.bar is not None and row.estimate is not None:
            said.append(_sentence(row, row.estimate, row.bar))
    left = len(said) - _NAMED
    if left > 0:
        return [*said[:_NAMED], f"… {left} more models (--json)"]
    return said


def _sentence(row: JudgeRow, estimate: float, bar: float) -> str:
    mean = number(estimate, 3)
    if math.isclose(estimate, bar, rel_tol=0, abs_tol=1e-12):
        return f"{row.model} is at the bar, {bar:g}."
    side, other = "below", "above"
    if estimate > bar:
        side, other = other, side
    is_there = f"{row.model} is {side} {bar:g} with {mean}"
    if row.handful_labels is None:
        return f"{is_there}; no number of labels puts it {other}."
    about = "" if row.handful_exact else "about "
    labels = f"{about}{row.handful_labels} of {counted(row.n_labels, 'label')}"
    return f"{is_there}: with {labels} the other way it would be {other}."
