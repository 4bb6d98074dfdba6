"""A judge held against people as people read it first: how far they agree, whom the
judge favours, and what people would say on average."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.analysis.judge.rows import JudgeRow
from warehouse.stats import GradersAgreement
from warehouse.tables.units import Unit
from warehouse.tables.view import Part, Table
from warehouse.tables.words import (
    interval,
    level_column,
    listed,
    number,
    some_of,
    visible,
)

#: Rows of a table that is shown whole; of a longer one how many.
_SHORT, _MOST = 20, 15
#: Models that a sentence names.
_NAMED = 3


def brief_parts(
    judge: str,
    human: str,
    rows: Sequence[JudgeRow],
    graders: GradersAgreement | None,
    names: Sequence[str],
    *,
    top: int | None,
) -> list[Part]:
    """What people are shown below the sentence of agreement.

    Args:
        judge: who judges.
        human: whose labels it is held against.
        rows: all models together, then each.
        graders: of three or more; None of two.
        names: who they are.
        top: rows of a table; None: of many those that matter most; 0: all.
    """
    parts: list[Part] = [visible(line) for line in _favoured(judge, human, rows[1:])]
    if graders is not None:
        parts += _of_graders(graders, names)
    parts += ["", _agreement(rows, top)]
    if has_corrected(rows):
        said = f"What {human} would say of all answers, on average:"
        parts += ["", visible(said)]
        parts.append(_corrected(rows[1:], top))
    return parts


def has_corrected(rows: Sequence[JudgeRow]) -> bool:
    """Whether labels correct the mean of any model."""
    return any(
        row.label_estimate is not None and row.estimate is not None for row in rows
    )


def _favoured(judge: str, human: str, rows: Sequence[JudgeRow]) -> list[str]:
    """Which models the judge scores above people, and which below, by the test of all
    at once; nothing where there is no test."""
    if not any(row.bias_p_simultaneous is not None for row in rows):
        return []
    shown = [row for row in rows if row.is_favoured and row.bias is not None]
    above = [row.model for row in shown if (row.bias or 0) > 0]
    below = [row.model for row in shown if (row.bias or 0) < 0]
    said = []
    if above:
        said.append(f"{some_of(above, _NAMED)} higher")
    if below:
        said.append(f"{some_of(below, _NAMED)} lower")
    if not said:
        return [
            f"{judge} is not shown to score any model higher or lower than {human}."
        ]
    return [f"{judge} scores {', '.join(said)} than {human}."]


def _of_graders(graders: GradersAgreement, names: Sequence[str]) -> list[str]:
    """How far three graders or more agree."""
    for figure in reversed(graders.figures):  # where grades are numbers, by these
        if figure.estimate is not None:
            kind = figure.measure.removeprefix("alpha_")
            ends = ""
            if figure.low is not None:
                ends = f" {interval(figure.low, figure.high, 2)}"
            return [
                f"All {graders.n_graders} graders ({listed(list(names))}): "
                f"Krippendorff's alpha ({kind}) {figure.estimate:.2f}{ends}."
            ]
    return []


def _agreement(rows: Sequence[JudgeRow], top: int | None) -> Table:
    """All models together, then each: first those that the judge is shown to favour."""
    unit = Unit.of([row.agreement_error for row in rows], in_percent=True)
    whole, *each = rows
    ordered = [whole, *sorted(each, key=_place)]
    cells = [_agreement_cells(row, unit) for row in ordered]
    return Table.of(
        _shown(cells, top), hide_empty=("settings", "bias"), minor=("settings", "κ")
    )


def _place(row: JudgeRow) -> tuple[float, float]:
    """Models whose bias is surest, then largest, stand first."""
    p = row.bias_p_simultaneous
    if p is None:
        p = 1.0
    return p, -abs(row.bias or 0.0)


def _agreement_cells(row: JudgeRow, unit: Unit) -> dict[str, Any]:
    return {
        "model": row.model or "all",
        "settings": row.condition,
        "labels": row.n_labels,
        "agree": unit.figure(row.agreement),
        level_column(row.level): unit.ends(row.agreement_low, row.agreement_high),
        "κ": number(row.kappa, 2),
        "bias": number(row.bias, 2, sign=True),
    }


def _corrected(rows: Sequence[JudgeRow], top: int | None) -> Table:
    """Means by the judge, by labels and by both."""
    cells = [_corrected_cells(row) for row in rows if row.label_estimate is not None]
    return Table.of(
        _shown(cells, top), hide_empty=("settings",), minor=("settings", "labels")
    )


def _corrected_cells(row: JudgeRow) -> dict[str, Any]:
    return {
        "model": row.model,
        "settings": row.condition,
        "judge": number(row.judge_estimate, 3),
        "people": number(row.label_estimate, 3),
        "corrected": number(row.estimate, 3),
        level_column(row.level): interval(row.low, row.high, 3),
        "labels": row.n_labels,
    }


def _shown(cells: list[dict[str, Any]], top: int | None) -> list[dict[str, Any]]:
    """The rows that are shown, with a line in place of the others."""
    n_shown = len(cells)
    if top is None and len(cells) > _SHORT:
        n_shown = _MOST
    elif top:
        n_shown = top
    left = len(cells) - n_shown
    if left < 1:
        return cells
    gap = dict.fromkeys(cells[0], "") | {"model": f"… {left} more (--all)"}
    return [*cells[:n_shown], gap]
