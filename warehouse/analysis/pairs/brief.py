"""All pairs as people read them first: a table of differences by name, or a list where
there are many models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from warehouse.analysis.comparison.words import NO_VERDICT
from warehouse.analysis.pairs.group import PairGroup
from warehouse.tables.units import Unit
from warehouse.tables.view import Table, TableNote, View
from warehouse.tables.words import WrittenNumber, counted, meanings

#: Models from which on, and up to which, differences stand in a table of models by
#: models.
_FEWEST_MODELS, _MOST_MODELS = 4, 12
#: Characters of a name that a column is headed with, at most; of longer ones by number.
_LONGEST = 16
#: Rows up to which a list is shown whole.
_SHORT = 20
#: What the tests say of a pair that they do not tell apart, and of one that shares no
#: prompt.
TIE, APART = "tie", "not compared"


def brief_view(
    head: str,
    groups: Sequence[PairGroup],
    notes: Sequence[str],
    *,
    in_percent: bool,
    top: int | None,
) -> View:
    """What people are shown of all pairs.

    Args:
        head: what is compared, and by what.
        groups: conditions that can be compared, the largest group first.
        notes: what was left out.
        in_percent: the figures are shares.
        top: rows of a list; None: of many the first; 0: all.
    """
    parts: list[Any] = [head]
    for group in groups:
        unit = _unit(group, in_percent=in_percent)
        if len(groups) > 1:
            parts += ["", _group_words(group)]
        parts += [_counted(group), "", _table(group, unit, top)]
    parts += _below(groups, in_percent=in_percent)
    return View(tuple(parts), tuple(notes))


def _unit(group: PairGroup, *, in_percent: bool) -> Unit:
    """The unit of the differences."""
    errors = group.pairs.standard_error.tolist()
    known = [error for error in errors if math.isfinite(error)]
    return Unit.of(known, in_percent=in_percent)


def _group_words(group: PairGroup) -> str:
    """What tells a group from the others."""
    return " · ".join(filter(None, (group.metric, group.split, group.task_version)))


def _counted(group: PairGroup) -> str:
    """How many of the pairs differ."""
    n_differ = int(group.pairs.differ.sum())
    n_pairs = len(group.pairs)
    size = f"{1 - group.pairs.level:.2g}"
    which = counted(n_pairs, "pair")
    return f"{n_differ} of {which} differ (all tests together at {size})."


def _table(group: PairGroup, unit: Unit, top: int | None) -> Table:
    """Models by models; a list where there are few or many, and on a narrow page."""
    listed = _list(group, unit, top)
    if not _is_square(group):
        return listed
    return replace(_square(group, unit), narrow=listed)


def _is_square(group: PairGroup) -> bool:
    """True if a group's differences stand in a table of models by models."""
    has_all_pairs = len(group.columns) == len(group.pairs)
    return has_all_pairs and _FEWEST_MODELS <= len(group.models) <= _MOST_MODELS


def _square(group: PairGroup, unit: Unit) -> Table:
    """A row and a column for each model, better ones first; row minus column."""
    labels = group.labels
    are_long = max(map(len, labels)) > _LONGEST
    heads = list(labels)
    if are_long:
        heads = [str(number) for number in range(1, len(labels) + 1)]
    said = _said(group, unit)
    rows = []
    for number, label in enumerate(labels):
        cells: list[Any] = [label, *[""] * number, WrittenNumber("·")]
        if are_long:
            cells.insert(0, number + 1)
        cells += [said[number, other] for other in range(number + 1, len(labels))]
        rows.append(tuple(cells))
    first = ("", "model") if are_long else ("model",)
    return Table((*first, *heads), tuple(rows))


def _said(group: PairGroup, unit: Unit) -> dict[tuple[int, int], WrittenNumber]:
    """What the tests say of each pair, by the numbers of both models: the difference,
    where they tell them apart."""
    pairs = group.pairs
    words = group.columns.better_in_words()
    ends = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    found = {}
    for both, difference, word in zip(
        ends, pairs.difference.tolist(), words, strict=True
    ):
        if word == "neither":
            written = WrittenNumber(TIE)
        elif math.isnan(difference):
            written = WrittenNumber(APART)
        elif word == NO_VERDICT:
            written = WrittenNumber(word)
        else:
            written = unit.difference(difference) or WrittenNumber(APART)
        found[both] = written
    return found


def _list(group: PairGroup, unit: Unit, top: int | None) -> Table:
    """A row for each pair, as the group has them."""
    columns, labels = group.columns, group.labels
    together = f"{100 * group.pairs.level:g}% simultaneous"
    count = len(columns)
    most = count if top == 0 else top or _SHORT
    n_shown = count if count <= most + 1 else most
    figures = zip(
        columns.of_side("a", labels)[:n_shown],
        columns.of_side("b", labels)[:n_shown],
        columns.column("difference")[:n_shown],
        columns.column("ci_low")[:n_shown],
        columns.column("ci_high")[:n_shown],
        columns.better_in_words()[:n_shown],
        columns.column("reason")[:n_shown],
        columns.column("flags")[:n_shown],
        strict=True,
    )
    rows: list[dict[str, Any]] = []
    for a, b, difference, low, high, better, reason, flags in figures:
        rows.append(
            {
                "model": a,
                "against": b,
                "difference": unit.difference(difference),
                together: unit.ends(low, high, difference),
                "verdict": _verdict(better, a, b),
                "why not": reason,
                "flags": flags,
            }
        )
    if n_shown < count:
        gap = dict.fromkeys(rows[0], "")
        rows.append(gap | {"model": f"… {count - n_shown} more (--all)"})
    return Table.of(
        rows,
        hide_empty=(together, "why not", "flags"),
        minor=("flags", together),
    )


def _verdict(better: str, a: str, b: str) -> str:
    """Who is better, by name."""
    return {"a": a, "b": b, "neither": TIE}.get(better, better)


def _below(groups: Sequence[PairGroup], *, in_percent: bool) -> list[TableNote]:
    """What a table of models by models holds, and what flags mean."""
    lines = []
    unit = ", in points" if in_percent else ""
    for group in groups:
        if _is_square(group):
            last = _square(group, Unit(1)).columns[-1]
            words = f"row minus column{unit}; {TIE}: not shown to differ"
            lines.append(TableNote(words, last))
            break
    seen = chain.from_iterable(group.columns.column("flags") for group in groups)
    explained = meanings(chain.from_iterable(seen))
    return lines + [TableNote(line, "flags") for line in explained]
