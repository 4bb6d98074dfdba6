"""Published figures as a table of models by benchmarks, with gaps (statistics.md §24).

Rows and columns stand in the order of their names, so that no order of the input
changes a figure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.items.published_figures import Figures

BoolArray = NDArray[np.bool_]

#: Figures are cut to this range before their logit is taken.
LOWEST, HIGHEST = 0.01, 0.99
#: Questions behind a figure of which nothing is known: a convention.
USUAL_QUESTIONS = 300.0


@dataclass(frozen=True, eq=False)
class Table:
    """Figures of M models on J benchmarks; what is absent is 0 and not in ``has``."""

    values: FloatArray  #: y in [0, 1], shape (M, J).
    logits: FloatArray  #: of y cut to [.01, .99].
    known: FloatArray  #: κ, the known variance of each logit.
    has: BoolArray  #: whether there is a figure.
    questions: FloatArray  #: n behind the figures of each benchmark, shape (J,).

    @property
    def n_figures(self) -> int:
        """Figures that exist."""
        return int(np.count_nonzero(self.has))

    @property
    def shape(self) -> tuple[int, int]:
        """Models and benchmarks."""
        return self.has.shape[0], self.has.shape[1]

    def hiding(self, hidden: BoolArray) -> Table:
        """The same without some figures."""
        has = self.has & ~hidden
        values, logits = np.where(has, self.values, 0), np.where(has, self.logits, 0)
        known = np.where(has, self.known, 0)
        return replace(self, values=values, logits=logits, known=known, has=has)

    def columns(self, kept: BoolArray) -> Table:
        """Some of the benchmarks, with all models."""
        return Table(
            self.values[:, kept],
            self.logits[:, kept],
            self.known[:, kept],
            self.has[:, kept],
            self.questions[kept],
        )


def as_table(figures: Figures) -> Table:
    """The table of figures, of which `Figures` has at most one of each cell.

    Where the standard error e of a figure is known, κ = e²/(y(1 − y))²; else
    1/(300 y(1 − y)). The n of a benchmark is the median of y(1 − y)/e² of its figures
    of known error; 300 without one.
    """
    shape = len(figures.models), len(figures.benchmarks)
    cells = figures.model, figures.benchmark
    cut = np.clip(figures.values, LOWEST, HIGHEST)
    spread = cut * (1 - cut)
    is_known = figures.variance > 0
    variance = np.where(is_known, figures.variance, spread / USUAL_QUESTIONS)
    parts = []
    for part in (figures.values, special.logit(cut), variance / spread**2):
        whole = np.zeros(shape)
        whole[cells] = part
        parts.append(whole)
    has = np.zeros(shape, dtype=np.bool_)
    has[cells] = True
    questions = np.full(shape[1], USUAL_QUESTIONS)
    for j in np.unique(figures.benchmark[is_known]):
        own = is_known & (figures.benchmark == j)
        questions[j] = np.median(spread[own] / variance[own])
    return Table(parts[0], parts[1], parts[2], has, questions)


def known_variance(figures: FloatArray, questions: FloatArray | float) -> FloatArray:
    """κ, variance of the logit of a figure of so many questions, the figure cut to
    [.01, .99]."""
    cut = np.clip(figures, LOWEST, HIGHEST)
    known: FloatArray = 1 / (questions * cut * (1 - cut))
    return known
