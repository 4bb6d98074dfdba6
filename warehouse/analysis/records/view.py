"""What people are shown of the records of a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.analysis.records.row import RecordRow
from warehouse.tables.text import wrap
from warehouse.tables.units import Unit
from warehouse.tables.view import Part, Table, TableNote
from warehouse.tables.words import counted, listed, p_value, visible

#: Characters of a line, also where nobody says how many there is room for.
_WIDTH = 80
#: Decimals of a share's gain, by which points have one.
_DIGITS = 3
#: Records that stand which the sentence names; the last ones.
_NAMED = 3


def records_parts(
    rows: Sequence[RecordRow],
    benchmark: str,
    first: tuple[str, str, float],
    *,
    is_steps: bool,
    is_share: bool,
    verbose: bool,
) -> list[Part]:
    """How many records stand, and how much each was ahead.

    Args:
        rows: the records after the first.
        benchmark: its name.
        first: the first record, its day and its figure.
        is_steps: records are held against the one that they replaced.
        is_share: scores lie between 0 and 1.
        verbose: with all that each was tested by.
    """
    unit = Unit(_DIGITS)
    if is_share:
        unit = Unit(1, in_percent=True)
    name, day, figure = first
    begins = f"first record: {name}, {unit.figure(figure)}, on {day}"
    if is_steps:
        name = rows[-1].replaced
    sentence = _sentence(rows, benchmark, name)
    parts: list[Part] = ["\n".join(wrap(visible(sentence), _WIDTH)), ""]
    if verbose:
        cells = [_all_cells(row, unit) for row in rows]
    else:
        cells = [_cells(row, unit, is_steps=is_steps) for row in rows]
    parts.append(Table.of(cells))
    lines = [visible(begins), *_below(is_steps=is_steps)]
    if verbose:
        lines += _methods(rows[0].level)
    for line in lines:
        parts.append(TableNote(line, width=_WIDTH))
    return parts


def no_record(benchmark: str, name: str, day: str) -> Part:
    """That nothing was above the best row of the first day."""
    sentence = f"No record on {benchmark} after its first day, {day}: {name} leads."
    return "\n".join(wrap(visible(sentence), _WIDTH))


def _sentence(rows: Sequence[RecordRow], benchmark: str, against: str) -> str:
    """How many stand and which; whether the last one does.

    Args:
        rows: the records after the first.
        benchmark: its name.
        against: what the last record is held against, where none stands.
    """
    standing = [row for row in rows if row.is_shown]
    said = f"Of {counted(len(rows), 'record')} on {benchmark} ({rows[0].n_prompts})"
    last = rows[-1]
    if not standing:
        return (
            f"{said} none stands. {_named(last)} is not shown to be better than "
            f"{against}."
        )
    verb = "stands" if len(standing) == 1 else "stand"
    names = [_named(row) for row in standing[-_NAMED:]]
    if len(standing) > _NAMED:
        names.insert(0, f"{len(standing) - _NAMED} earlier ones")
    said = f"{said} {len(standing)} {verb}: {listed(names)}."
    if last.is_shown:
        return said
    return f"{said} {_named(last)} is not shown to be better."


def _named(row: RecordRow) -> str:
    """A model with what tells its row from the others'."""
    if row.condition:
        return f"{row.model} ({row.condition})"
    return row.model


def _cells(row: RecordRow, unit: Unit, *, is_steps: bool) -> dict[str, Any]:
    cells: dict[str, Any] = {"date": row.day, "record": _named(row)}
    if is_steps:
        cells["lead"] = unit.difference(row.step_gain)
        cells["step p"] = p_value(row.step_p)
        cells["p Holm"] = p_value(row.step_p_holm)
    else:
        cells["lead"] = unit.difference(row.gain)
        cells["p × entries"] = p_value(row.p_times_entries)
        cells["needed"] = p_value(row.needed)
        cells["step p"] = p_value(row.step_p)
    cells["stands"] = "yes" if row.is_shown else "no"
    return cells


def _all_cells(row: RecordRow, unit: Unit) -> dict[str, Any]:
    """Everything that a record was tested by."""
    cells = _cells(row, unit, is_steps=False)
    return cells | {
        "p Holm": p_value(row.step_p_holm),
        "score": unit.figure(row.estimate),
        "held against": row.standing,
        "p": p_value(row.p_value),
        "entries": row.n_entries,
        "test": row.test,
        "questions": row.n_prompts,
        "clusters": row.n_clusters,
    }


def _methods(level: float) -> list[str]:
    """How it was made."""
    alpha = 1 - level
    return [
        f"needed: {alpha:.2g}/(e(e + 1)) for the e-th record to stand, so that any record "
        "without a true lead stands with a chance of about that in all; a verdict never "
        "changes when entries of later days are added",
        "p: McNemar's exact test of right and wrong without clusters, else t (CR2 with "
        "clusters), on the questions that both have",
        "not seen here: contamination, and harnesses that changed",
    ]


def _below(*, is_steps: bool) -> list[str]:
    """What the columns are."""
    if is_steps:
        return [
            "lead, step p: over the record before it, whether that stands or "
            "not, and its p; Holm's is over all steps; progress by many small steps is "
            "not seen so",
        ]
    return [
        "lead: over the last record that stands, at first the first record; "
        "p × entries: its p times the entries since; it stands at needed or below",
        "step p: of the lead over the record before it, not corrected (--steps)",
    ]
