"""Benchmarks as people read them first: which of them tell recipes apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from warehouse.analysis.recipes.row import RecipesRow
from warehouse.tables.units import Unit
from warehouse.tables.view import Table, View
from warehouse.tables.words import counted, interval, listed

#: What verdicts are in plain words, the most telling first.
_WORDS = {
    "decides": "yes",
    "better than chance": "better than chance",
    "may decide": "noise allows it",
    "cannot decide": "no",
    "cannot tell": "unknown",
}
#: Benchmarks that a sentence names.
_MOST_NAMED = 6
_HIDE_EMPTY = (
    *("split", "metric", "setting", "between recipes", "noise of a run"),
    *("at most in order", "in order", "flags"),
)
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("flags", "split", "metric", "setting")
#: Columns that the heading says where all rows have one.
_SHARED = ("split", "metric", "setting")


def brief_view(
    rows: Sequence[RecipesRow],
    notes: Sequence[str],
    *,
    in_percent: bool,
    two_scales: bool,
) -> View:
    """What people are shown of benchmarks that may tell recipes apart.

    Args:
        rows: one for each benchmark and metric.
        notes: what is missing, and why.
        in_percent: scores are shares.
        two_scales: figures at a large scale say which orders were right.
    """
    spreads = [row.noise_sd or row.recipe_sd for row in rows]
    unit = Unit.of(spreads, in_percent=in_percent)
    cells = [_cells(row, unit) for row in rows]
    for name in _SHARED:
        if len({getattr(row, name) for row in rows}) == 1:
            for own in cells:
                del own[name]
    table = Table.of(cells, hide_empty=_HIDE_EMPTY, minor=_MINOR)
    question = "Which benchmarks can tell recipes apart here?"
    if in_percent:
        question += " (standard deviations in points)"
    below = []
    if not two_scales:
        below.append(
            "at most in order: the share of pairs of recipes that noise lets come out "
            "right; how many do, figures at a large scale show (--large)"
        )
    return View((question, *_sentences(rows), "", table, *below), tuple(notes))


def _sentences(rows: Sequence[RecipesRow]) -> Iterator[str]:
    """The benchmarks of each verdict."""
    said = []
    for verdict, words in _WORDS.items():
        names = list(
            dict.fromkeys(row.benchmark for row in rows if row.verdict == verdict)
        )
        if names:
            which = counted(len(names), "benchmark")
            if len(names) <= _MOST_NAMED:
                which = listed(names)
            said.append(f"{words}: {which}")
    text = "; ".join(said)
    yield f"{text[:1].upper()}{text[1:]}."


def _cells(row: RecipesRow, unit: Unit) -> dict[str, Any]:
    recipes = row.n_recipes if row.n_both is None else row.n_both
    at_most = None
    if row.ceiling is not None and row.accuracy is None:
        at_most = f"{100 * row.ceiling:.0f} %"
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "setting": row.setting,
        "tells apart": _WORDS[row.verdict],
        "recipes": recipes,
        "between recipes": unit.points(row.recipe_sd),
        "noise of a run": unit.points(row.noise_sd),
        "at most in order": at_most,
        "in order": _in_order(row),
        "flags": row.flags,
    }


def _in_order(row: RecipesRow) -> str | None:
    """How many pairs of recipes both scales order alike, with its interval."""
    if row.accuracy is None:
        return None
    ends = None
    if row.accuracy_low is not None and row.accuracy_high is not None:
        ends = interval(100 * row.accuracy_low, 100 * row.accuracy_high, 0)
    return f"{100 * row.accuracy:.0f} % {ends or ''}".strip()
