"""Scores over several forms of the prompts as people read them first: how far the form
alone moves a model, and whether it changes the order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from warehouse.analysis.templates.row import TemplateRow
from warehouse.analysis.variance.heading import benchmark_cells, heading, shared_columns
from warehouse.tables.units import Unit
from warehouse.tables.view import Part, Table, View
from warehouse.tables.words import counted, level_column, reasons

#: What the forms are called.
_FORMS = {
    "template": "template",
    "fewshot": "few-shot draw",
    "perturbation": "perturbation",
    "judge": "judge",
}
#: Columns that are left out where they say nothing.
_HIDE_EMPTY = (
    *("settings", "benchmark", "split", "metric", "needed"),
    *(f"error from {form}s" for form in _FORMS.values()),
)
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("split", "metric", "settings")
_TWO = 2


class ScoredForms(Protocol):
    """What is told of conditions over their forms."""

    @property
    def rows(self) -> tuple[TemplateRow, ...]:
        """One for each condition."""

    @property
    def factor(self) -> str:
        """What varies."""

    @property
    def is_share(self) -> bool:
        """Scores lie between 0 and 1."""

    @property
    def flip_share(self) -> float | None:
        """Pairs that one form turns round."""

    @property
    def n_top(self) -> int | None:
        """Conditions that are first by some form."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out."""


def brief_view(report: ScoredForms, flips: Sequence[str]) -> View:
    """What people are shown of a score over the forms of its prompts.

    Args:
        flips: pairs of models that two judges put in different orders, in sentences.
    """
    rows = report.rows
    shared = shared_columns(rows)
    form = _FORMS[report.factor]
    unit = Unit.of((row.standard_error for row in rows), in_percent=report.is_share)
    cells = [_cells(row, unit, shared, form) for row in rows]
    if len({row.split for row in rows}) == 1:
        for own in cells:
            del own["split"]
    parts: list[Part] = [_moved(rows, unit, form), *_order(report, form)]
    parts += [*heading(rows, shared), ""]
    parts += [Table.of(cells, hide_empty=_HIDE_EMPTY, minor=_MINOR), "", *flips]
    parts.append(
        f"score: mean over the {form}s; lowest, highest: by one of them, of which chance "
        f"makes a part; error from {form}s: the share of its variance that they make"
    )
    unknown = reasons((row, row.reason) for row in rows if row.reason)
    return View(tuple(parts), (*unknown, *report.notes))


def _moved(rows: Sequence[TemplateRow], unit: Unit, form: str) -> str:
    """The model whose score the form moves most, and by which forms."""
    spans = [(_span(row), row) for row in rows if _span(row) is not None]
    if not spans:
        return f"How far the {form} moves scores is not known."
    widest, row = max(spans, key=lambda span: span[0] or 0.0)
    if not widest:
        return f"No {form} moves any score: each model has one mean by all of them."
    low = f"{unit.figure(row.worst)} by {row.worst_template}"
    high = f"{unit.figure(row.best)} by {row.best_template}"
    if len(rows) == 1:
        who = f"{row.model} has between {low} and {high}"
    else:
        who = f"most {row.model}, from {low} to {high}"
    points = ""
    if unit.in_percent:
        points = " points"
    return (
        f"The {form} moves a score by up to {unit.points(widest)}{points}: {who}"
        f"{_beyond(row, form)}."
    )


def _span(row: TemplateRow) -> float | None:
    if row.best is None or row.worst is None:
        return None
    return row.best - row.worst


def _beyond(row: TemplateRow, form: str) -> str:
    """Whether the forms differ by more than prompts make them, by the estimate."""
    if row.variance_templates is None or row.variance_templates > 0:
        return ""
    return f"; that much chance alone makes, and no {form} is seen to be easier"


def _order(report: ScoredForms, form: str) -> list[str]:
    """How often one form alone would put two models the other way round."""
    if report.flip_share is None or report.n_top is None:
        return []
    n = len(report.rows)
    if not report.flip_share:
        return [f"No {form} alone puts two of the {n} rows the other way round."]
    first = f"{report.n_top} of them are first by some {form}"
    if report.n_top == n:
        first = f"each is first by some {form}"
    elif report.n_top == 1:
        first = f"one is first by every {form}"
    which = f"any two of the {n} rows stand"
    if n == _TWO:
        which = "the two stand"
    return [
        f"By one {form} alone {which} the other way round in "
        f"{100 * report.flip_share:.0f} % of cases; {first}."
    ]


def _cells(
    row: TemplateRow, unit: Unit, shared: Sequence[str], form: str
) -> dict[str, Any]:
    return {
        "model": row.model,
        "settings": row.condition,
        **benchmark_cells(row, shared),
        "score": unit.with_error(row.estimate, row.standard_error),
        level_column(row.level): unit.ends(row.ci_low, row.ci_high, row.estimate),
        "lowest": _named(row.worst, row.worst_template, unit),
        "highest": _named(row.best, row.best_template, unit),
        f"error from {form}s": _share_of_forms(row),
        "needed": _needed(row, form),
    }


def _named(value: float | None, name: str, unit: Unit) -> str:
    if value is None:
        return ""
    return f"{unit.figure(value, sign=False)} {name}"


def _share_of_forms(row: TemplateRow) -> str:
    """The share of the error's variance that the choice of the forms makes; empty where
    the error has no such part."""
    given = (row.part_prompts, row.part_templates, row.part_residual)
    known = [max(part, 0.0) for part in given if part is not None]
    whole = sum(known)
    if row.random != "both" or len(known) < len(given) or not whole:
        return ""
    return f"{100 * known[1] / whole:.0f} %"


def _needed(row: TemplateRow, form: str) -> str:
    if row.templates_needed is None:
        return ""
    return counted(row.templates_needed, form)
