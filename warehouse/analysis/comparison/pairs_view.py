"""All pairs of a benchmark as people are shown them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from warehouse.analysis.comparison.all_pairs_row import PairRow
from warehouse.analysis.comparison.pair_group import PairGroup
from warehouse.analysis.comparison.words import better_in_words
from warehouse.tables.view import Below, Table, View
from warehouse.tables.words import decimals, direction, interval, meanings, number, p_value

#: Columns that a narrow terminal does without, the first of them first.
SPARE = ("correlation", "p", "p BH", "prompts", "clusters", "se", "p step-down", "split", "p Holm")


def pairs_view(
    benchmark: str,
    metric: str,
    higher_is_better: bool | None,
    rows: Sequence[PairRow],
    groups: Sequence[PairGroup],
    notes: Sequence[str],
) -> View:
    """The rows of each group with its conditions' labels, and how they were tested."""
    labels = {
        runs: label
        for group, members in zip(groups, _members(rows, groups), strict=True)
        for runs, label in zip(members, group.labels, strict=True)
    }
    places = decimals(row.standard_error for row in rows)
    needless = ("split", "clusters", "flags", "why not", _simultaneous(rows[0].level))
    table = Table.of([_cells(row, places, labels) for row in rows], needless=needless, spare=SPARE)
    flags = [Below(line, "flags") for line in meanings(flag for row in rows for flag in row.flags)]
    head = (pairs_head(benchmark, metric, higher_is_better), *counted(groups))
    return View((*head, table, *tests(groups), *flags), tuple(notes))


def pairs_head(benchmark: str, metric: str, higher_is_better: bool | None) -> str:
    """What the pairs are compared by."""
    return f"{benchmark} by {metric} ({direction(higher_is_better)})"


def counted(groups: Sequence[PairGroup]) -> list[str]:
    """How many pairs of each group differ, in a sentence."""
    return [f"{group.pairs}." for group in groups]


def tests(groups: Sequence[PairGroup]) -> list[str]:
    """How each group was tested, in a sentence."""
    sentences = []
    for group in groups:
        pairs = group.pairs
        width = f"{pairs.critical_value:.3g} errors each side or more"
        if math.isinf(pairs.critical_value):
            width = f"none, too few {'prompts' if pairs.n_clusters is None else 'clusters'} to tell a difference"
        draws = f"all {pairs.n_resamples} signs" if pairs.exact else f"{pairs.n_resamples} draws, seed {pairs.seed}"
        together = f"; simultaneous intervals by max-|T|, {draws}: {width}"
        errors = "paired" if pairs.n_clusters is None else "paired, clustered (CR2)"
        sentences.append(f"errors {errors}{'' if math.isnan(pairs.critical_value) else together}")
    return sentences


def _simultaneous(level: float) -> str:
    """The column of intervals, which stays away where there were no draws."""
    return f"{100 * level:g}% simultaneous"


def _members(rows: Sequence[PairRow], groups: Sequence[PairGroup]) -> list[list[tuple[int, ...]]]:
    """Run ids of the conditions of each group, in order."""
    members, left = [], list(rows)
    for group in groups:
        size = len(group.models)
        own, left = left[: size * (size - 1) // 2], left[size * (size - 1) // 2 :]
        members.append([own[0].runs_a, *(row.runs_b for row in own[: size - 1])])
    return members


def _cells(row: PairRow, places: int, labels: dict[tuple[int, ...], str]) -> dict[str, Any]:
    return {
        "split": row.split,
        "a": labels[row.runs_a],
        "b": labels[row.runs_b],
        "a - b": number(row.difference, places, sign=True),
        "se": number(row.standard_error, places),
        _simultaneous(row.level): interval(row.ci_low, row.ci_high, places, at=row.difference),
        "p": p_value(row.p_value),
        "p Holm": p_value(row.p_holm),
        "p BH": p_value(row.p_bh),
        "p step-down": p_value(row.p_step_down),
        "better": better_in_words(row),
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "correlation": number(row.correlation, 2),
        "flags": row.flags,
        "why not": row.reason,
    }
