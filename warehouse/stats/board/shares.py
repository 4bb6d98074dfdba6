"""Figures that cannot be a share of n items (B1, §25.1): GRIM for benchmarks.

Source: Brown and Heathers (2017), The GRIM test; the step n is learned from the column.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.board.cells import Figure
from warehouse.stats.board.finding import CHECK, NOTE, WRONG, Finding
from warehouse.stats.board.table import Board, FigureColumn
from warehouse.stats.board.words import counted, short
from warehouse.stats.core.inputs import FloatArray

#: Names of columns that hold the number of items of a row: B2 speaks of these.
SIZE_NAMES = frozenset(
    ("n", "n_total", "test_cases", "total_tests", "n_samples", "num_samples")
    + ("effective",)
)
#: Steps that are tried, and figures strictly within the scale that are needed.
_LEAST_N, _MOST_N, _FEWEST = 5, 1_000, 6
#: Mean width up to which a step says something, and up to which it says much.
_MOST_WIDTH, _NARROW = 0.7, 0.35
#: Evidence in nats that is needed, of narrow widths and of others, and for a miss.
_EVIDENCE, _MORE_EVIDENCE, _OF_MISS = 12.0, 40.0, 3.0
#: Nats by which a step with misses has to be ahead of a multiple without.
_OF_CHANCE = 6.0
#: Width up to which a figure that does not fit says something.
_TELLING = 0.75
_MOST_RUNS, _FEWEST_ITEMS = 10, 0.8


@dataclass(frozen=True)
class Step:
    """That the figures of a column are shares of n."""

    n: int
    n_fit: int  #: figures that are shares of it.
    n_misses: int
    evidence: float  #: nats, after the cost of the choice of n; 0 where n is stated.
    is_stated: bool = False  #: True if n is known and not learned.


def share_findings(board: Board) -> Iterator[Finding]:
    """B1 of each column of scores."""
    names = {column.name.casefold().strip() for column in board.figures}
    if names & SIZE_NAMES:
        return
    for column in board.figures:
        stated = board.sizes.get(column.name)
        if column.is_count or column.is_error or column.scale is None:
            continue
        if column.is_integer and stated is None:
            continue
        if 2 * column.exact.sum() > column.there.sum():
            continue  # a short figure is as exact as the others of its writer
        step = _stated(column, board, stated) or learn_step(column, board.is_entry)
        if step is not None:
            yield from _misfits(column, board, step)


def _stated(column: FigureColumn, board: Board, n: int | None) -> Step | None:
    if n is None:
        return None
    fits = sum(
        fits_share(figure, n, column.scale or 1)
        for figure, is_entry in zip(column.figures, board.is_entry, strict=True)
        if figure is not None and is_entry
    )
    return Step(n, fits, 0, 0.0, is_stated=True)


def fits_share(figure: Figure, n: int, scale: int) -> bool:
    """Whether some count of ``n``, on the scale, rounds to what was printed."""
    low = (figure.value - figure.tolerance) * n / scale
    high = (figure.value + figure.tolerance) * n / scale
    return math.ceil(low) <= math.floor(high)


def are_mostly_shares(column: FigureColumn, n: int, share: float) -> bool:
    """Whether more than so large a share of the figures of a column are shares of ``n``."""
    figures = [figure for figure in column.figures if figure is not None]
    n_fit = sum(fits_share(figure, n, column.scale or 1) for figure in figures)
    return n_fit > share * len(figures)


def width(figure: Figure, n: int, scale: int) -> float:
    """Chance that any figure of these decimals is a share of ``n``."""
    return min(1.0, float(2 * figure.tolerance * n / scale))


def learn_step(
    column: FigureColumn, is_entry: NDArray[np.bool_] | None = None
) -> Step | None:
    """The step of a column: the smallest n of which all but few figures are shares.

    Args:
        is_entry: rows that count; None: all.

    Returns:
        None where the figures are too few, too coarse, or no shares.
    """
    scale = column.scale
    if scale is None:
        return None
    used = _used(column, scale, is_entry)
    values, tolerances = column.values[used], column.tolerances[used]
    m = len(values)
    if m < _FEWEST:
        return None
    allowed = max(1, math.floor(0.05 * m))
    sizes = np.arange(_LEAST_N, _MOST_N + 1)[:, None] / scale
    fits = np.ceil((values - tolerances) * sizes) <= np.floor(
        (values + tolerances) * sizes
    )
    widths = np.minimum(1.0, 2 * tolerances * sizes)
    misses = m - fits.sum(axis=1)
    mean_widths = widths.mean(axis=1)
    gains = np.where(fits, -np.log(widths), 0.0).sum(axis=1)
    for place in np.flatnonzero(misses <= allowed):
        if mean_widths[place] > _MOST_WIDTH:
            return None
        n = int(place) + _LEAST_N
        evidence = float(gains[place]) - math.log(n) - _OF_MISS * misses[place]
        needed = _EVIDENCE
        if mean_widths[place] > _NARROW:
            needed = _MORE_EVIDENCE
        if evidence >= needed:
            n_misses = int(misses[place])
            step = Step(n, m - n_misses, n_misses, float(evidence))
            return _or_multiple(step, misses, gains, mean_widths)
    return None


def _used(
    column: FigureColumn, scale: int, is_entry: NDArray[np.bool_] | None
) -> NDArray[np.bool_]:
    """Figures that say something of a step: rounded ones, strictly within the scale."""
    with np.errstate(invalid="ignore"):
        used = column.there & ~column.exact & (column.values > 0)
        used &= column.values < scale
    if is_entry is not None:
        used &= is_entry
    return np.asarray(used)


def _or_multiple(
    step: Step, misses: NDArray[np.int_], gains: FloatArray, mean_widths: FloatArray
) -> Step:
    """A multiple of a step that more figures are shares of, where it has more evidence:
    of few figures all but one may be shares of half of the items by chance."""
    m = step.n_fit + step.n_misses
    best = step
    for runs in range(2, _MOST_RUNS + 1):
        place = step.n * runs - _LEAST_N
        if place >= len(misses) or mean_widths[place] > _MOST_WIDTH:
            break
        evidence = float(gains[place]) - math.log(step.n) - _OF_MISS * misses[place]
        if misses[place] < best.n_misses and evidence > best.evidence - _OF_CHANCE:
            n_misses = int(misses[place])
            best = Step(step.n * runs, m - n_misses, n_misses, evidence)
    return best


def _misfits(column: FigureColumn, board: Board, step: Step) -> Iterator[Finding]:
    scale = column.scale or 1
    for row, figure in enumerate(column.figures):
        if figure is None or figure.is_exact or not board.is_entry[row]:
            continue
        if not 0 < figure.value < scale or width(figure, step.n, scale) > _TELLING:
            continue
        if not fits_share(figure, step.n, scale):
            yield _misfit(column, row, figure, step)


def _misfit(column: FigureColumn, row: int, figure: Figure, step: Step) -> Finding:
    scale = column.scale or 1
    text = f"{column.name} {{printed}} cannot be a share of {step.n}: "
    text += _neighbours(figure, step.n, scale)
    below = math.ceil(figure.value * step.n / scale)
    cut = Fraction(scale * below, step.n)
    gap = _distance(figure, step.n, scale) / float(figure.tolerance or 1)
    if cut < figure.value + 2 * figure.half:
        text = f"{column.name} {{printed}} is {short(float(cut))} cut, not rounded"
        return Finding(NOTE, "B1", (row,), column.name, text, gap)
    learned = "n is stated"
    if not step.is_stated:
        learned = f"n learned from the {counted(step.n_fit, 'entry')} that fit"
    runs = _runs(figure, step.n, scale)
    if runs:
        count = round(figure.value * step.n * runs / scale)
        text += f"; {count} of {step.n * runs} fits: a mean of {runs} runs?"
        grade = CHECK
    else:
        grade = WRONG if step.is_stated else CHECK
        fewer = _fewer_items(figure, step.n, scale)
        if fewer:
            count = round(figure.value * fewer / scale)
            text += f"; {count} of {fewer} fits: items missing?"
    return Finding(grade, "B1", (row,), column.name, f"{text} ({learned})", gap)


def _neighbours(figure: Figure, n: int, scale: int) -> str:
    below = math.floor(figure.value * n / scale)
    shown = []
    for count in (below, below + 1):
        value = float(Fraction(scale * count, n))
        shown.append(f"{count}/{n} = {value:.{max(0, figure.decimals) + 1}f}")
    return ", ".join(shown)


def _distance(figure: Figure, n: int, scale: int) -> float:
    """How far the nearest share is."""
    nearest = Fraction(round(figure.value * n / scale) * scale, n)
    return float(abs(nearest - figure.value))


def _runs(figure: Figure, n: int, scale: int) -> int:
    """Runs whose mean it may be; 0 where there are none that say something."""
    for runs in range(2, _MOST_RUNS + 1):
        if width(figure, n * runs, scale) > _TELLING:
            return 0
        if fits_share(figure, n * runs, scale):
            return runs
    return 0


def _fewer_items(figure: Figure, n: int, scale: int) -> int:
    """The largest part of the items of which it is a share; 0 where there is none."""
    for fewer in range(n - 1, math.ceil(_FEWEST_ITEMS * n) - 1, -1):
        if fits_share(figure, fewer, scale) and width(figure, fewer, scale) <= _TELLING:
            return fewer
    return 0
