"""A comparison as people read it first: both models by name, the difference with its
interval, and a verdict. Tests, their p-values and further columns are in `words`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from typing import Any

from warehouse.analysis.comparison.row import ComparisonRow
from warehouse.analysis.comparison.words import (
    OVERALL,
    better_in_words,
    meaning_of_equal,
    meaning_of_overall,
    tests_in_words,
    with_the_rest,
)
from warehouse.analysis.results import PairedRow
from warehouse.stats.core.draws import PROMPTS_FIXED
from warehouse.tables.units import Unit
from warehouse.tables.view import Table, TableNote
from warehouse.tables.words import (
    WrittenInterval,
    cost_in_words,
    counted,
    level_column,
    meanings,
    small,
    small_interval,
)

#: Characters of a name that a column is headed with, at most.
_LONGEST = 20
#: Flag of a difference that rests on fewer than six questions.
TOO_FEW = "too_few_units"
#: What stands in place of a name where the tests tell no one.
OPEN = "open"
_HIDE_EMPTY = (
    "split",
    "95% interval",
    "equal",
    "cost a",
    "cost b",
    "a / b",
    "cost interval",
    "clusters",
    "flags",
)
_COUNTS = ("unscored a", "unscored b")
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = (
    "split",
    "metric",
    "clusters",
    "flags",
    "unscored a",
    "unscored b",
    "questions",
)


@dataclass(frozen=True)
class Names:
    """What two models are called in sentences and tables."""

    a: str
    b: str

    @classmethod
    def of(cls, row: PairedRow) -> Names:
        """The last parts of their names, where these are short and two; else letters."""
        last = [model.rpartition("/")[2] for model in (row.model_a, row.model_b)]
        are_short = all(0 < len(name) <= _LONGEST for name in last)
        if are_short and last[0] != last[1]:
            return cls(*last)
        return LETTERS

    @property
    def are_letters(self) -> bool:
        """True if somebody has to say which model is which."""
        return (self.a, self.b) == ("a", "b")

    def verdict(self, row: ComparisonRow) -> str:
        """Who is better, or why nobody is said to be."""
        said = better_in_words(row)
        return {"a": self.a, "b": self.b, "neither": OPEN}.get(said, said)


#: What models are called where there is no room for their names.
IN_ORDER = Names("first", "second")
#: Names of models where nobody calls them otherwise.
LETTERS = Names("a", "b")


def units_of(rows: Sequence[ComparisonRow], *, in_percent: bool) -> list[Unit]:
    """The unit of the figures of each row: one for all, where all are shares.

    Args:
        in_percent: all metrics are between 0 and 1.
    """
    figures = chain.from_iterable((row.mean_a, row.mean_b) for row in rows)
    if in_percent and all(0 <= figure <= 1 for figure in figures):
        errors = [row.standard_error for row in rows]
        return [Unit.of(errors, in_percent=True)] * len(rows)
    return [Unit.of([row.standard_error]) for row in rows]


def heading(rows: Sequence[ComparisonRow], models: Sequence[str], names: Names) -> str:
    """Who is compared, and on what."""
    own = [row for row in rows if row.benchmark != OVERALL]
    parts = [" against ".join(model.partition(" = ")[2] for model in models)]
    called = [model.partition(" = ")[2] for model in models]
    if names.are_letters and called != [names.a, names.b]:
        parts = [", ".join(models)]
    if len(own) > 1:
        parts.append(counted(len(own), "benchmark"))
    metrics = {row.metric for row in own}
    if len(metrics) == 1:
        parts += metrics
    sizes = {row.n_prompts for row in own}
    if len(sizes) == 1:
        parts.append(counted(sizes.pop(), "common question"))
    return " · ".join(parts)


def brief_table(
    rows: Sequence[ComparisonRow], names: Names, units: Sequence[Unit]
) -> Table:
    """The rows, without what the heading says; a page that is too narrow for the names
    has the order in which that says them."""
    narrow = None
    if not names.are_letters and names != IN_ORDER:
        narrow = brief_table(rows, IN_ORDER, units)
    cells = list(_cells(rows, names, units))
    hidden = _hidden(rows)
    for named in cells:
        for name in hidden:
            del named[name]
    return Table.of(
        cells, hide_empty=_HIDE_EMPTY, counts=_COUNTS, minor=_MINOR, narrow=narrow
    )


def _hidden(rows: Sequence[ComparisonRow]) -> set[str]:
    """Columns that say what the heading says."""
    own = [row for row in rows if row.benchmark != OVERALL] or rows
    hidden = set()
    if len({row.metric for row in own}) == 1:
        hidden.add("metric")
    if len({row.split for row in own}) == 1:
        hidden.add("split")
    if len({row.n_prompts for row in own}) == 1:
        hidden.add("questions")
    return hidden


def _cells(
    rows: Sequence[ComparisonRow], names: Names, units: Sequence[Unit]
) -> Iterator[dict[str, Any]]:
    equal = {True: "yes", False: "not shown", None: ""}
    for row, unit in zip(rows, units, strict=True):
        difference = row.difference if isfinite(row.difference) else None
        yield {
            "benchmark": row.benchmark,
            "split": row.split,
            "metric": row.metric,
            names.a: unit.figure(row.mean_a),
            names.b: unit.figure(row.mean_b),
            "difference": unit.difference(difference),
            level_column(row.level): _interval(row, unit),
            "verdict": names.verdict(row),
            "equal": equal[row.equivalent],
            "cost a": cost_in_words(row.cost_a, row.cost_metric),
            "cost b": cost_in_words(row.cost_b, row.cost_metric),
            "a / b": small(row.cost_ratio),
            "cost interval": small_interval(
                row.ratio_low, row.ratio_high, row.cost_ratio
            ),
            "questions": row.n_prompts,
            "clusters": row.n_clusters,
            "unscored a": row.unscored_a,
            "unscored b": row.unscored_b,
            "flags": row.flags,
        }


def _interval(row: ComparisonRow, unit: Unit) -> WrittenInterval | None:
    """The interval of the difference; none that rests on too few questions on which the
    models differ, which the flag says."""
    if TOO_FEW in row.flags:
        return None
    return unit.ends(row.ci_low, row.ci_high, row.difference)


def brief_lines(
    rows: Sequence[ComparisonRow],
    overall: ComparisonRow | None,
    n_tests: int,
    names: Names,
) -> list[TableNote]:
    """What verdicts and errors hold for, and what flags mean."""
    lines = []
    named = [row for row in rows if row.p_holm is not None]
    if named:
        size = f"{100 * (1 - named[0].level):.2g} %"
        tested = tests_in_words(n_tests, len(named))
        lines.append(f"verdicts hold for {tested} together (Holm, {size})")
    if any(row.estimand == PROMPTS_FIXED for row in rows):
        lines.append(
            "prompts fixed: errors are those of asking these very prompts again"
        )
    both = f"{names.a} - {names.b}"
    lines += [line.replace("a - b", both) for line in with_the_rest(rows)]
    lines += [*meaning_of_equal(rows), *meaning_of_overall(overall, rows)]
    flags = list(chain.from_iterable(row.flags for row in rows))
    if TOO_FEW in flags:  # which says why a cell is empty
        lines += meanings([TOO_FEW])
        flags = [flag for flag in flags if flag != TOO_FEW]
    return [
        *(TableNote(line) for line in lines),
        *(TableNote(line, "flags") for line in meanings(flags)),
    ]
