"""What people are shown of scores over settings of their kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from warehouse.analysis.facets.row import DesignRow, FacetFigure, TotalErrorRow
from warehouse.analysis.variance.heading import heading, shared_columns
from warehouse.tables.units import Unit
from warehouse.tables.view import Part, Table, TableNote, View, legend
from warehouse.tables.words import level_column, reasons, scientific

#: Characters of a line.
WIDTH = 80
_HIDE_EMPTY = ("settings", "other setting", "flags")


class WithFacets(Protocol):
    """A row that tells its settings."""

    @property
    def facets(self) -> tuple[FacetFigure, ...]:
        """Settings that vary."""


#: Values of a setting that a line names, beside the lowest and the highest.
_FEW = 3


def brief_view(rows: Sequence[TotalErrorRow], is_share: bool) -> View:
    """Each score with both errors; of a single one what its error is made of."""
    unit = Unit.of((row.standard_error for row in rows), in_percent=is_share)
    parts: list[Part] = [
        *(TableNote(line, width=WIDTH) for line in _sentences(rows, unit)),
        "",
    ]
    parts += [*heading(rows, shared_columns(rows)), ""]
    if len(rows) == 1 and rows[0].ci_low is not None:
        parts += _of_one(rows[0], unit)
    else:
        parts += [Table.of([_cells(row, unit) for row in rows], hide_empty=_HIDE_EMPTY)]
    parts += ["", *not_in_error(rows)]
    notes = reasons((row, row.reason) for row in rows if row.reason)
    return View(tuple(parts), tuple(notes))


def whole_view(rows: Sequence[TotalErrorRow], is_share: bool) -> View:
    """The same with every part of the error, and what columns mean."""
    brief = brief_view(rows, is_share)
    figures = []
    for row in rows:
        for name, value in row.variance_parts.items():
            share = row.shares.get(name)
            figures.append(
                {
                    "model": row.model,
                    "part": name,
                    "variance": scientific(value),
                    "share": "" if share is None else f"{100 * share:.0f} %",
                    "V": scientific(row.v.get(name)),
                    "R": scientific(row.r.get(name)),
                    "df": row.df.get(name),
                }
            )
    table = Table.of(figures, hide_empty=("V", "R", "df"))
    meanings = legend(
        {
            "variance": "of the mean, that this part makes; raw: below 0 is chance",
            "V": "squared error by other values of the setting, all its interactions in",
            "R": "what prompts and draws alone make of it",
        }
    )
    return View((*brief.parts, "", table, "", *meanings), brief.notes)


def _sentences(rows: Sequence[TotalErrorRow], unit: Unit) -> list[str]:
    """The answer: by how much more a score may be off."""
    known = [row for row in rows if row.ci_low is not None]
    if not known:
        return ["No interval can be given that counts other settings: see the note."]
    if len(rows) == 1:
        return [_sentence(known[0], unit)]
    wider = [row for row in known if _ratio(row) >= 1.1]
    verb = "is" if len(wider) == 1 else "are"
    told = f"{len(wider)} of {len(known)} intervals {verb}"
    names = " and ".join(
        f"{one.name}s" for one in known[0].facets if one.role == "random"
    )
    if not wider:
        return [
            f"Counting other {names} too makes none of {len(known)} intervals a tenth "
            "wider."
        ]
    most = max(wider, key=_ratio)
    return [
        f"Counting other {names} too, {told} a tenth wider or more, most "
        f"{most.model}: {_ratio(most):.1f} times."
    ]


def _sentence(row: TotalErrorRow, unit: Unit) -> str:
    by_prompts = _half(row.prompts_low, row.prompts_high)
    by_both = _half(row.ci_low, row.ci_high)
    told = (
        f"{row.model} {unit.figure(row.estimate)} ± {unit.points(by_prompts)} on prompts "
        f"like these; ± {unit.points(by_both)} counting other {random_names(row)}"
    )
    if row.other_low is None:
        return f"{told}."
    ends = unit.ends(row.other_low, row.other_high, row.estimate)
    return f"{told}; one other on these prompts would land in {ends}."


def random_names(row: WithFacets) -> str:
    """``templates (12) and judges (3)``."""
    told = [
        f"{one.name}s ({len(one.levels)})" for one in row.facets if one.role == "random"
    ]
    if len(told) < 2:
        return "".join(told)
    return f"{', '.join(told[:-1])} and {told[-1]}"


def _half(low: float | None, high: float | None) -> float | None:
    if low is None or high is None:
        return None
    return (high - low) / 2


def _ratio(row: TotalErrorRow) -> float:
    """Width of the interval over settings by that of the prompts."""
    both = _half(row.ci_low, row.ci_high)
    prompts = _half(row.prompts_low, row.prompts_high)
    if not both or not prompts:
        return 1.0
    return both / prompts


def _cells(row: TotalErrorRow, unit: Unit) -> dict[str, Any]:
    return {
        "model": row.model,
        "settings": row.condition,
        "score": unit.figure(row.estimate),
        "prompts like these": unit.ends(
            row.prompts_low, row.prompts_high, row.estimate
        ),
        "and settings": unit.ends(row.ci_low, row.ci_high, row.estimate),
        "other setting": unit.ends(row.other_low, row.other_high, row.estimate),
        "flags": row.flags,
    }


def _of_one(row: TotalErrorRow, unit: Unit) -> list[Part]:
    """The three intervals, what the error is made of, and what to add."""
    intervals = [
        {
            "counted as random": f"prompts ({_these(row)})",
            level_column(row.level): unit.ends(
                row.prompts_low, row.prompts_high, row.estimate
            ),
            "±": unit.points(_half(row.prompts_low, row.prompts_high)),
        },
        {
            "counted as random": f"prompts and {random_names(row)}",
            level_column(row.level): unit.ends(row.ci_low, row.ci_high, row.estimate),
            "±": unit.points(_half(row.ci_low, row.ci_high)),
        },
    ]
    if row.other_low is not None:
        intervals.append(
            {
                "counted as random": "one other, these prompts",
                level_column(row.level): unit.ends(
                    row.other_low, row.other_high, row.estimate
                ),
                "±": "",
            }
        )
    blocks: list[Part] = [Table.of(intervals)]
    made_of = [
        {
            "part of the error": name,
            "share": f"{100 * share:.0f} %",
            "values": _values(row, name, unit),
        }
        for name, share in row.shares.items()
        if share > 0
    ]
    if made_of:
        blocks += ["", Table.of(made_of, hide_empty=("values",))]
    if row.designs:
        blocks += ["", Table.of([_design_cells(one, unit) for one in row.designs])]
        blocks.append(
            "±: half of the interval over settings; range: what so few values leave "
            "open"
        )
    blocks += _wanted(row, unit)
    return blocks


def _these(row: TotalErrorRow) -> str:
    told = [
        f"these {len(one.levels)} {one.name}s"
        for one in row.facets
        if one.role == "random"
    ]
    return ", ".join(told)


def _values(row: TotalErrorRow, name: str, unit: Unit) -> str:
    """How many values a setting has, from which figure to which."""
    if name == "prompts":
        return str(row.n_prompts)
    for one in row.facets:
        if one.name == name and one.means:
            low = unit.figure(min(one.means), sign=False)
            high = unit.figure(max(one.means), sign=False)
            return f"{len(one.means)}: {low} to {high}"
    return ""


def _design_cells(design: DesignRow, unit: Unit) -> dict[str, Any]:
    spread = ""
    if design.adds != "now":
        spread = f"{unit.points(design.low)} to {unit.points(design.high)}"
    return {
        "what to add": design.adds,
        "±": unit.points(design.half_width),
        "range": spread,
        "answers": design.n_answers,
    }


def _wanted(row: TotalErrorRow, unit: Unit) -> list[Part]:
    if row.cheapest is not None:
        return [
            f"fewest answers for ± {unit.points(row.cheapest.half_width)}: "
            f"{row.cheapest.adds}, {row.cheapest.n_answers} answers"
        ]
    if row.floor is None:
        return []
    return [
        f"No number of prompts gets below ± {unit.points(row.floor)} with these "
        f"{random_names(row)}."
    ]


def not_in_error(rows: Sequence[WithFacets]) -> list[str]:
    """Settings that the error does not hold, once each."""
    told: dict[str, None] = {}
    for row in rows:
        for one in row.facets:
            if one.role == "too_few":
                told[f"{one.name} ({_listed(one)})"] = None
    fixed: dict[str, None] = {}
    for row in rows:
        for one in row.facets:
            if one.role == "fixed":
                fixed[f"{one.name} ({_listed(one)})"] = None
    lines = []
    if told:
        lines.append(f"not in the error, for want of values: {', '.join(told)}")
    if fixed:
        lines.append(f"averaged over: {', '.join(fixed)}")
    return lines


def _listed(facet: FacetFigure) -> str:
    if len(facet.levels) > _FEW:
        return str(len(facet.levels))
    return f"{len(facet.levels)}: {', '.join(facet.levels)}"
