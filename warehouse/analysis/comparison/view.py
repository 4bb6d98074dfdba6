"""Comparisons as people are shown them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from warehouse.analysis.comparison.row import ComparisonRow
from warehouse.analysis.comparison.words import better_in_words
from warehouse.tables.view import Table
from warehouse.tables.words import decimals, interval, level_column, number, p_value, visible

#: Columns that a narrow terminal does without, the first of them first.
SPARE = (
    "method",
    "p Wilcoxon",
    "p McNemar",
    "correlation",
    "p flip",
    "metric",
    "unscored a",
    "unscored b",
    "only a",
    "only b",
    "split",
    "clusters",
    "prompts",
    "se",
    "better",
)
NEEDLESS = (
    "split",
    "p flip",
    "p McNemar",
    "p Wilcoxon",
    "p Holm",
    "equal",
    "p equal",
    "clusters",
    "correlation",
    "method",
    "flags",
)
#: Columns that a table does without where they are 0.
COUNTS = ("only a", "only b", "unscored a", "unscored b")


class Named(Protocol):
    """A row that says which conditions it compares."""

    @property
    def model_a(self) -> str: ...
    @property
    def condition_a(self) -> str: ...
    @property
    def model_b(self) -> str: ...
    @property
    def condition_b(self) -> str: ...


def models_of(row: Named) -> list[str]:
    """Which model is a and which is b."""
    named = (("a", row.model_a, row.condition_a), ("b", row.model_b, row.condition_b))
    return [f"{name} = {visible(model)}{', ' if label else ''}{visible(label)}" for name, model, label in named]


def comparison_table(rows: Sequence[ComparisonRow], *, verbose: bool) -> Table:
    """The rows, without columns that say nothing."""
    return Table.of([_cells(row, verbose) for row in rows], needless=NEEDLESS, counts=COUNTS, spare=SPARE)


def remarks(rows: Sequence[ComparisonRow], *, verbose: bool) -> list[str]:
    """Why rows have no interval; with ``verbose`` whatever there is to say of any."""
    lines: list[str] = []
    for row in rows:
        if row.reason and (row.ci_low is None or verbose):
            lines.append(f"{row.benchmark}: {row.reason}")
        lines += [f"{row.benchmark}: no {reason}" for reason in row.not_applicable] if verbose else []
    return lines


def difference_cells(row: Any) -> dict[str, Any]:
    """The first columns of a paired or unpaired row: both figures, the difference and its interval."""
    places = decimals([row.standard_error])
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "a": number(row.mean_a, places),
        "b": number(row.mean_b, places),
        "a - b": number(row.difference, places, sign=True),
        "se": number(row.standard_error, places),
        level_column(row.level): interval(row.ci_low, row.ci_high, places, at=row.difference),
    }


def _cells(row: ComparisonRow, verbose: bool) -> dict[str, Any]:
    equal = {True: "yes", False: "not shown", None: ""}[row.equivalent]
    return {
        **difference_cells(row),
        "p": p_value(row.p_t),
        "p flip": p_value(row.p_permutation),
        "p McNemar": p_value(row.p_mcnemar),
        "p Wilcoxon": p_value(row.p_wilcoxon),
        "p Holm": p_value(row.p_holm),
        "better": better_in_words(row),
        "equal": equal,
        "p equal": p_value(row.p_equivalence),
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "only a": row.only_a,
        "only b": row.only_b,
        "unscored a": row.unscored_a,
        "unscored b": row.unscored_b,
        "correlation": number(row.correlation, 2),
        "method": row.method if verbose else "",
        "flags": row.flags,
    }
