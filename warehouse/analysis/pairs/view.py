"""All pairs with every figure of theirs, and how they were tested."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

from warehouse.analysis.pairs.group import PairGroup
from warehouse.stats import AllPairs as PairStatistics
from warehouse.tables.view import Table, TableNote, View
from warehouse.tables.words import (
    decimals,
    direction,
    intervals,
    meanings,
    numbers,
    p_values,
)

#: Columns that a narrow terminal does without, the first of them first.
MINOR = (
    "correlation",
    "p",
    "p BH",
    "prompts",
    "clusters",
    "se",
    "p step-down",
    "split",
    "p Holm",
)


def pairs_view(
    benchmark: str,
    metric: str,
    higher_is_better: bool | None,
    groups: Sequence[PairGroup],
    notes: Sequence[str],
) -> View:
    """The rows of each group with its conditions' labels, and how they were tested."""
    parts = [group.columns for group in groups]
    digits = decimals(
        chain.from_iterable(part.column("standard_error") for part in parts)
    )
    together = _simultaneous(groups[0].pairs.level)
    cells = [_cells(group, digits, together) for group in groups]
    columns = {}
    for name in cells[0]:
        columns[name] = [*chain.from_iterable(part[name] for part in cells)]
    table = Table.of_columns(
        columns,
        hide_empty=("split", "clusters", "flags", "why not", together),
        minor=MINOR,
    )
    seen = dict.fromkeys(chain.from_iterable(part.column("flags") for part in parts))
    flags = [TableNote(line, "flags") for line in meanings(chain.from_iterable(seen))]
    head = (pairs_head(benchmark, metric, higher_is_better), *counted(groups))
    return View((*head, table, *tests(groups), *flags), tuple(notes))


def pairs_head(benchmark: str, metric: str, higher_is_better: bool | None) -> str:
    """A heading that says what the pairs are compared by."""
    return f"{benchmark} by {metric} ({direction(higher_is_better)})"


def counted(groups: Sequence[PairGroup]) -> list[str]:
    """How many pairs of each group differ, in a sentence."""
    return [f"{group.pairs}." for group in groups]


def max_t_words(pairs: PairStatistics) -> str:
    """The method of simultaneous intervals, with its draws, by whose number the ends
    differ a little."""
    if pairs.exact:
        draws = f"all {pairs.n_resamples} signs"
    else:
        draws = f"{pairs.n_resamples} draws, seed {pairs.seed}"
    return f"max-|T|, {draws}"


def tests(groups: Sequence[PairGroup]) -> list[str]:
    """How each group was tested, in a sentence."""
    sentences = []
    for group in groups:
        pairs = group.pairs
        if pairs.over_seeds:
            sentences.append(
                "errors over training seeds and prompts; simultaneous intervals by "
                "Bonferroni"
            )
            continue
        width = f"each at least {pairs.critical_value:.3g} errors to either side"
        if math.isinf(pairs.critical_value):
            width = (
                "none, too few "
                f"{'prompts' if pairs.n_clusters is None else 'clusters'} to tell a "
                "difference"
            )
        together = f"; simultaneous intervals by {max_t_words(pairs)}: {width}"
        errors = "paired, clustered (CR2)"
        if pairs.n_clusters is None:
            errors = "paired"
        by_holm = ""
        if pairs.places_by_holm:
            by_holm = "; p step-down and places by Holm, as the units are few"
        sentences.append(
            "errors "
            f"{errors}{'' if math.isnan(pairs.critical_value) else together}{by_holm}"
        )
    return sentences


def _simultaneous(level: float) -> str:
    """The column of intervals, which stays away where there were no draws."""
    return f"{100 * level:g}% simultaneous"


def _cells(group: PairGroup, digits: int, together: str) -> dict[str, Sequence[Any]]:
    columns, labels = group.columns, group.labels
    differences = columns.column("difference")
    return {
        "split": columns.column("split"),
        "a": columns.of_side("a", labels),
        "b": columns.of_side("b", labels),
        "a - b": numbers(differences, digits, sign=True),
        "se": numbers(columns.column("standard_error"), digits),
        together: intervals(
            columns.column("ci_low"), columns.column("ci_high"), digits, at=differences
        ),
        "p": p_values(columns.column("p_value")),
        "p Holm": p_values(columns.column("p_holm")),
        "p BH": p_values(columns.column("p_bh")),
        "p step-down": p_values(columns.column("p_step_down")),
        "better": columns.better_in_words(),
        "prompts": columns.column("n_prompts"),
        "clusters": columns.column("n_clusters"),
        "correlation": numbers(columns.column("correlation"), 2),
        "flags": columns.column("flags"),
        "why not": columns.column("reason"),
    }
