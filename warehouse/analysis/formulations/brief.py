"""Two formulations as people read them first: whether they rank models alike, and which
models stand elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from warehouse.analysis.formulations.row import (
    AgreementRow,
    CrossingRow,
    FormulationModel,
)
from warehouse.tables.units import Unit
from warehouse.tables.view import Part, Table
from warehouse.tables.words import counted, level_column, p_value

#: Characters of a name that heads a column.
_NAME = 16
#: Rows of a table.
_MOST = 12
#: Width of an interval of a correlation from which on it says little.
_WIDE = 0.3
#: Figures without errors have so many decimals.
_DIGITS = 3
_FIRST_TWO = 2


class BothFormulations(Protocol):
    """What is told of two formulations."""

    @property
    def first(self) -> str:
        """The first."""

    @property
    def second(self) -> str:
        """The second."""

    @property
    def rows(self) -> tuple[AgreementRow, ...]:
        """Correlations over models."""

    @property
    def models(self) -> tuple[FormulationModel, ...]:
        """Models, by rank in the first."""

    @property
    def crossings(self) -> tuple[CrossingRow, ...]:
        """Pairs whose order differs."""

    @property
    def n_pairs(self) -> int:
        """Pairs of models that there are."""

    @property
    def n_shown(self) -> int:
        """Crossings that are no noise."""

    @property
    def is_share(self) -> bool:
        """Scores lie between 0 and 1."""


def brief_parts(report: BothFormulations) -> list[Part]:
    """What people are shown: sentences, the models that move most, and the pairs that
    change places by more than chance."""
    unit = _unit(report)
    first, second = _titles(report)
    parts: list[Part] = [_alike(report), *_leaders(report), *_correlated(report), ""]
    moved = sorted(report.models, key=lambda row: -abs(row.rank_change))
    shown = moved[:_MOST]
    if len(report.models) <= _MOST:
        shown = list(report.models)
    cells = [_model_cells(row, unit, first, second, report) for row in shown]
    hidden = ("difference", level_column(report.rows[0].level))
    parts.append(Table.of(cells, hide_empty=hidden))
    if len(shown) < len(report.models):
        parts.append(
            f"the {len(shown)} of {len(report.models)} models that move most; all: "
            "--models"
        )
    pairs = [row for row in report.crossings if row.is_shown]
    if pairs:
        parts += ["", "Pairs that change places by more than chance:"]
        parts.append(
            Table.of([_pair(row, unit, first, second) for row in pairs[:_MOST]])
        )
        if len(pairs) > _MOST:
            parts.append(f"and {len(pairs) - _MOST} more: --crossings")
    return parts


def _unit(report: BothFormulations) -> Unit:
    errors = [row.standard_error for row in report.models]
    if report.is_share or any(errors):
        return Unit.of(errors, in_percent=report.is_share)
    return Unit(_DIGITS)


def _titles(report: BothFormulations) -> tuple[str, str]:
    """What the columns of the two are called."""
    names = (report.first, report.second)
    if max(map(len, names)) > _NAME or names[0] == names[1]:
        return "first", "second"
    return names


def _alike(report: BothFormulations) -> str:
    """In how many pairs of models the two agree, and whether the others are more than
    noise."""
    n_models = report.rows[0].n_models
    head = f"{report.first} and {report.second}"
    if not report.n_pairs:
        return f"{head} have {counted(n_models, 'model')} in common: nothing to rank."
    n = len(report.crossings)
    pairs = counted(report.n_pairs, "pair")
    if not n:
        return f"{head} put no pair of their {n_models} models in opposite orders."
    said = f"{head} put {n} of {pairs} of their {n_models} models in opposite orders"
    if all(row.p_holm is None for row in report.crossings):
        return f"{said}; whether that is noise cannot be told."
    if not report.n_shown:
        return f"{said}, none by more than noise can make."
    return f"{said}, {report.n_shown} of them by more than noise can make."


def _leaders(report: BothFormulations) -> list[str]:
    """Which models have the best figure in each."""
    first = [row.model for row in report.models if row.rank_first == 1]
    second = [row.model for row in report.models if row.rank_second == 1]
    if not report.n_pairs or not first or not second:
        return []
    if first == second:
        return [f"{_some(first)} {_has(first)} the best figure in both."]
    return [
        f"Best figure: {_some(first)} in {report.first}, {_some(second)} in "
        f"{report.second}."
    ]


def _some(names: Sequence[str]) -> str:
    if len(names) > _FIRST_TWO:
        return f"{names[0]} and {len(names) - 1} others"
    return " and ".join(names)


def _has(names: Sequence[str]) -> str:
    if len(names) == 1:
        return "has"
    return "have"


def _correlated(report: BothFormulations) -> list[str]:
    """How far figures go together, with the interval that allows for both noises."""
    pearson = report.rows[0]
    if pearson.estimate is None:
        if report.n_pairs:
            return [f"How far figures go together cannot be told: {pearson.reason}."]
        return []
    ends = _ends(pearson)
    if ends is None:
        return [
            f"Figures correlate by {pearson.estimate:.2f} over models (1: perfectly)."
        ]
    low, high = ends
    said = (
        f"Figures correlate by {pearson.estimate:.2f} over models (1: perfectly); for "
        f"all models and prompts like these between {low:.2f} and {high:.2f}"
    )
    if high - low <= _WIDE:
        return [f"{said}."]
    return [f"{said}: it takes more {_lacking(pearson)} to say how well they agree."]


def _ends(row: AgreementRow) -> tuple[float, float] | None:
    if row.both_low is None or row.both_high is None:
        return None
    return row.both_low, row.both_high


def _lacking(row: AgreementRow) -> str:
    """What there is too little of: prompts, where their noise makes most of the width."""
    ends = _ends(row)
    if row.prompts_low is None or row.prompts_high is None or ends is None:
        return "models"
    if row.prompts_high - row.prompts_low > (ends[1] - ends[0]) / 2:
        return "prompts"
    return "models"


def _model_cells(
    row: FormulationModel,
    unit: Unit,
    first: str,
    second: str,
    report: BothFormulations,
) -> dict[str, Any]:
    place = f"{row.rank_first}"
    if row.rank_change:
        place = f"{row.rank_first} > {row.rank_second}"
    return {
        "model": row.model,
        first: unit.figure(row.mean_first),
        second: unit.figure(row.mean_second),
        "difference": unit.difference(row.difference),
        level_column(report.rows[0].level): unit.ends(
            row.ci_low, row.ci_high, row.difference
        ),
        "place": place,
    }


def _pair(row: CrossingRow, unit: Unit, first: str, second: str) -> dict[str, Any]:
    return {
        f"better in {first}": row.model_a,
        f"better in {second}": row.model_b,
        f"by ({first})": unit.difference(abs(row.difference_first)),
        f"by ({second})": unit.difference(abs(row.difference_second)),
        "p": p_value(row.p_holm),
    }
