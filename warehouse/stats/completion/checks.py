"""What is no table to complete, and what is to be said of its columns (statistics.md
§24 D)."""

from __future__ import annotations

import numpy as np

from warehouse.errors import StatisticsError
from warehouse.stats.completion.folds import support
from warehouse.stats.completion.predictions import STRONG_ONLY, WEAK_ONLY
from warehouse.stats.completion.table import BoolArray, Table
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.items.published_figures import (
    Figures,
    IntArray,
    check_connected,
    with_enough,
)

#: Least of a table, and of each model and benchmark.
FEWEST_FIGURES, FEWEST_MODELS, FEWEST_BENCHMARKS, FEWEST_EACH = 80, 8, 4, 4
#: Runs that link a cell with the rest, at most asked for, and the share of held-out
#: figures that may have fewer.
MOST_SUPPORT, LEAST_SUPPORTED = 20, 0.05
#: Chance that a model that ran a benchmark is above one that did not, from which on its
#: models are strong; below 1 less that, weak.
STRONG = 0.8

LeftOut = tuple[tuple[str, int], ...]


def enough_figures(figures: Figures) -> Figures:
    """The figures without models and benchmarks of fewer than four, until none is left.

    Raises:
        StatisticsError: too few are left, or they fall into components.
    """
    kept = with_enough(figures, FEWEST_EACH, FEWEST_EACH)
    n, count, width = len(kept.values), len(kept.models), len(kept.benchmarks)
    is_small = count < FEWEST_MODELS or width < FEWEST_BENCHMARKS
    if n < FEWEST_FIGURES or is_small or n <= count + 2 * width:
        raise StatisticsError(
            f"too few figures ({n}): a benchmark's mean is all that can be said. Of "
            f"{len(figures.values)} figures, those of {count} models and {width} "
            f"benchmarks with {FEWEST_EACH} each are left; "
            f"needed are {FEWEST_FIGURES} figures, {FEWEST_MODELS} models, "
            f"{FEWEST_BENCHMARKS} benchmarks, and more figures than models and twice "
            "the benchmarks"
        )
    check_connected(kept)
    return kept


def left_out(figures: Figures, kept: Figures) -> tuple[LeftOut, LeftOut]:
    """Models, and benchmarks, that were left out, each with its figures among those
    that stay."""
    models, benchmarks = set(kept.models), set(kept.benchmarks)
    of_models = dict.fromkeys(sorted(set(figures.models) - models), 0)
    of_benchmarks = dict.fromkeys(sorted(set(figures.benchmarks) - benchmarks), 0)
    for i, j in zip(figures.model, figures.benchmark, strict=True):
        model, benchmark = figures.models[i], figures.benchmarks[j]
        if model in of_models and benchmark in benchmarks:
            of_models[model] += 1
        if benchmark in of_benchmarks and model in models:
            of_benchmarks[benchmark] += 1
    return tuple(of_models.items()), tuple(of_benchmarks.items())


def number_of(name: str, names: tuple[str, ...], gone: LeftOut, kind: str) -> int:
    """Which of the names it is (StatisticsError: left out for too few figures, or not
    there)."""
    if name in names:
        return names.index(name)
    if name in dict(gone):
        n = dict(gone)[name]
        word = "figure" if n == 1 else "figures"
        raise StatisticsError(f"{name} has {n} {word}: four are needed")
    shown = ", ".join(names[:5])
    raise StatisticsError(
        f"no figure is of the {kind} {name!r}; the table has {shown}, …"
    )


def supported(table: Table, of_held_out: IntArray) -> tuple[BoolArray, int]:
    """Absent cells that may have a figure, shape (M, J), and the c that they need.

    Args:
        table: of the figures.
        of_held_out: c of the figures held out.
    """
    least = float(np.quantile(of_held_out, LEAST_SUPPORTED))
    needed = int(np.ceil(min(MOST_SUPPORT, least)))
    return ~table.has & (support(table) >= needed), needed


def beyond_all(table: Table, means: FloatArray) -> BoolArray:
    """Cells whose mean is beyond those of all models that ran the benchmark, (M, J)."""
    highest = np.where(table.has, means, -np.inf).max(axis=0)
    lowest = np.where(table.has, means, np.inf).min(axis=0)
    beyond: BoolArray = (means > highest) | (means < lowest)
    return beyond


def one_sided(table: Table) -> tuple[str | None, ...]:
    """`strong_only` or `weak_only` of each benchmark, by the mean logits of the models
    that ran it and of those that did not."""
    levels = table.logits.sum(axis=1) / table.has.sum(axis=1)
    flags: list[str | None] = []
    for ran in table.has.T:
        above = _chance_above(levels[ran], levels[~ran])
        if above > STRONG:
            flags.append(STRONG_ONLY)
        elif above < 1 - STRONG:
            flags.append(WEAK_ONLY)
        else:
            flags.append(None)
    return tuple(flags)


def _chance_above(ran: FloatArray, others: FloatArray) -> float:
    """P(one of the first is above one of the others), half of a tie; .5 without
    others."""
    if not len(others):
        return 0.5
    ordered = np.sort(others)
    below = np.searchsorted(ordered, ran, "left")
    up_to = np.searchsorted(ordered, ran, "right")
    return float((below + up_to).mean()) / (2 * len(others))
