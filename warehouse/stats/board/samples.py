"""A published figure against the samples that it is said to be the mean of (B9,
§25.6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.board.cells import parse_figure
from warehouse.stats.board.finding import CHECK, WRONG, Finding
from warehouse.stats.board.words import counted, short

#: Items by which a mean may be off and only be asked about.
_FEW_ITEMS = 1.5


@dataclass(frozen=True)
class SampleMean:
    """What the samples behind a figure have in all."""

    total: float  #: sum of the scores, each in [0, 1].
    n_scored: int  #: samples with a score.
    n: int  #: samples.
    #: the sum with draws without a score as wrong; None: no sample has some such.
    total_as_wrong: float | None = None

    @property
    def means(self) -> tuple[float, float]:
        """Mean of those with a score, and with all others as wrong."""
        as_wrong = self.total
        if self.total_as_wrong is not None:
            as_wrong = self.total_as_wrong
        return self.total / self.n_scored, as_wrong / self.n


def sample_finding(
    printed: str,
    scores: ArrayLike,
    *,
    scale: int = 1,
    row: int = 0,
    column: str = "",
) -> Finding | None:
    """What samples say against a figure; None where their mean is what was printed.

    Args:
        printed: the figure, as it was printed.
        scores: of the samples, in [0, 1], NaN where one has none, shape (n,).
        scale: of the figure, 1 or 100.
        row: number of its entry.
        column: name of its column.
    """
    values = np.asarray(scores, dtype=np.float64)
    is_scored = np.isfinite(values)
    samples = SampleMean(
        float(values[is_scored].sum()), int(is_scored.sum()), len(values)
    )
    return mean_finding(printed, samples, scale=scale, row=row, column=column)


def mean_finding(
    printed: str,
    samples: SampleMean,
    *,
    scale: int = 1,
    row: int = 0,
    column: str = "",
) -> Finding | None:
    """The same of samples that were added up already.

    Args:
        printed: the figure, as it was printed.
        samples: what those behind it have in all.
        scale: of the figure, 1 or 100.
        row: number of its entry.
        column: name of its column.
    """
    figure = parse_figure(printed)
    if figure is None or not samples.n_scored:
        return None
    value, slack = float(figure.value), float(figure.tolerance) + 1e-12
    gaps = [abs(value - size * mean) for size in {1, scale} for mean in samples.means]
    if min(gaps) <= slack:
        return None
    nearest = min(samples.means, key=lambda mean: abs(value - scale * mean))
    n_off = abs(value / scale - nearest) * samples.n
    grade = CHECK
    if n_off > _FEW_ITEMS:
        grade = WRONG
    text = (
        f"{column} {{printed}}, but {_told(samples, scale)}; off by {n_off:.1f} items"
    )
    return Finding(grade, "B9", (row,), column, text, n_off, printed, scale * nearest)


def _told(samples: SampleMean, scale: int) -> str:
    """The mean of the samples in words, also with those without a score as wrong."""
    of_scored, of_all = samples.means
    n_unscored = samples.n - samples.n_scored
    text = f"its {counted(samples.n, 'sample')} have mean {short(scale * of_scored)}"
    as_wrong = short(scale * of_all)
    if n_unscored:
        text += f" ({n_unscored} without a score; as wrong: {as_wrong})"
    elif of_all < of_scored:
        text += f" (draws without a score as wrong: {as_wrong})"
    return text
