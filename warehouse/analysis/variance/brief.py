"""The split of the variance as people read it first: where an error comes from, and what
would halve it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.analysis.variance.heading import benchmark_cells, heading, shared_columns
from warehouse.analysis.variance.row import DRAWS_IN_ORDER, VarianceRow, percent
from warehouse.tables.units import Unit
from warehouse.tables.view import Table, View
from warehouse.tables.words import count_range

_HIDE_EMPTY = (
    "slice",
    "settings",
    "benchmark",
    "split",
    "metric",
    "from questions",
    "from answers",
    "with twice the answers",
    "flags",
)
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("flags", "split", "metric")
#: So many times as many questions halve an error.
_HALVING = 4
#: Benchmark and metric, of which figures have one unit.
_ALL_SHARED = 2
#: Flags that a reader has to know of.
_TOLD = (DRAWS_IN_ORDER, "draws_differ", "unscored")


def brief_view(
    rows: Sequence[VarianceRow], notes: Sequence[str], *, in_percent: bool
) -> View:
    """What people are shown of the split of each row.

    Args:
        rows: one for each condition.
        notes: what was left out.
        in_percent: all scores are shares.
    """
    errors = [row.standard_error for row in rows]
    unit = Unit.of(errors, in_percent=in_percent)
    shared = shared_columns(rows)
    named = heading(rows, shared) or sorted({row.model for row in rows})[:1]
    head = " · ".join([*named, *_size(rows)])
    units = [unit] * len(rows)
    if len(shared) < _ALL_SHARED:
        units = [Unit.of([row.standard_error], in_percent=in_percent) for row in rows]
    cells = []
    for row, own_unit in zip(rows, units, strict=True):
        cells.append(_cells(row, own_unit, shared))
    if len({row.split for row in rows}) == 1:
        for own in cells:
            del own["split"]
    table = Table.of(cells, hide_empty=_HIDE_EMPTY, minor=_MINOR)
    return View((head, *_sentences(rows), "", table), tuple(notes))


def _size(rows: Sequence[VarianceRow]) -> list[str]:
    """How many questions there are, with how many answers to each, where all rows have
    the same."""
    sizes = {(row.n_prompts, row.fewest_draws, row.most_draws) for row in rows}
    if len(sizes) != 1:
        return []
    n_prompts, fewest, most = sizes.pop()
    answers = "answer" if most == 1 else "answers"
    return [f"{n_prompts} questions × {count_range(fewest, most)} {answers}"]


def _sentences(rows: Sequence[VarianceRow]) -> list[str]:
    """What would make errors smaller."""
    shares = [row.share_within for row in rows if row.share_within is not None]
    if not shares:
        if all(row.most_draws == 1 for row in rows):
            return [
                "One answer to each question: what another answer would change is not "
                "known. More questions make errors smaller, four times as many halve "
                "them."
            ]
        reasons = dict.fromkeys(row.reason for row in rows if row.reason)
        return [f"{reason[:1].upper()}{reason[1:]}." for reason in reasons]
    least, most = percent(min(shares)), percent(max(shares))
    span = most if least == most else f"{least} to {most}"
    return [
        f"More answers to a question save at most {span} of the variance; twice the "
        f"{_units(rows)} save half of it{_enough(rows)}."
    ]


def _enough(rows: Sequence[VarianceRow]) -> str:
    """Beyond how many answers to a question little is left to gain, of a single row."""
    if len(rows) != 1 or rows[0].suggested_draws is None:
        return ""
    if rows[0].suggested_draws <= rows[0].most_draws:
        return "; there are answers enough"
    return f"; beyond {rows[0].suggested_draws} answers little is left to gain"


def _units(rows: Sequence[VarianceRow]) -> str:
    if any(row.n_clusters is not None for row in rows):
        return "clusters"
    return "questions"


def _cells(row: VarianceRow, unit: Unit, shared: Sequence[str]) -> dict[str, Any]:
    return {
        "model": row.model,
        "settings": row.condition,
        **benchmark_cells(row, shared),
        "slice": row.slice,
        "score": unit.with_error(row.estimate, row.standard_error),
        "from questions": _share(row.share_between),
        "from answers": _share(row.share_within),
        "with twice the answers": _error(row, unit),
        "to halve the error": _halving(row),
        "flags": [flag for flag in row.flags if flag in _TOLD],
    }


def _share(share: float | None) -> str:
    """The share of an error's variance that something makes."""
    if share is None:
        return ""
    return percent(share)


def _error(row: VarianceRow, unit: Unit) -> str:
    """The score with the error that twice the answers would give it."""
    written = unit.with_error(row.estimate, row.se_double_draws)
    if written is None or row.se_double_draws is None:
        return ""
    return written.text


def _halving(row: VarianceRow) -> str:
    """How many questions, or clusters of them, have half the error."""
    if row.standard_error is None:
        return ""
    if row.n_clusters is not None:
        return f"{_HALVING * row.n_clusters:,} clusters"
    return f"{_HALVING * row.n_prompts:,} questions"
