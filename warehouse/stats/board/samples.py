"""A published figure against the samples that it is said to be the mean of (B9,
§25.6)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.board.cells import parse_figure
from warehouse.stats.board.finding import CHECK, WRONG, Finding
from warehouse.stats.board.words import counted, short
from warehouse.stats.core.inputs import FloatArray

#: Items by which a mean may be off and only be asked about.
_FEW_ITEMS = 1.5


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
    figure = parse_figure(printed)
    values = np.asarray(scores, dtype=np.float64)
    is_scored = np.isfinite(values)
    n, n_scored = len(values), int(is_scored.sum())
    if figure is None or not n_scored:
        return None
    total = float(values[is_scored].sum())
    means = {total / n_scored, total / n}
    value, slack = float(figure.value), float(figure.tolerance) + 1e-12
    gaps = [abs(value - size * mean) for size in {1, scale} for mean in means]
    if min(gaps) <= slack:
        return None
    nearest = min(means, key=lambda mean: abs(value - scale * mean))
    n_off = abs(value / scale - nearest) * n
    grade = CHECK
    if n_off > _FEW_ITEMS:
        grade = WRONG
    text = f"{column} {{printed}}, but {_told(values, scale)}; off by {n_off:.1f} items"
    return Finding(grade, "B9", (row,), column, text, n_off, printed, scale * nearest)


def _told(values: FloatArray, scale: int) -> str:
    """The mean of the samples in words, also with those without a score as wrong."""
    n, scored = len(values), values[np.isfinite(values)]
    mean = scale * float(scored.mean())
    text = f"its {counted(n, 'sample')} have mean {short(mean)}"
    if n > len(scored):
        as_wrong = short(scale * float(scored.sum()) / n)
        text += f" ({n - len(scored)} without a score; as wrong: {as_wrong})"
    return text
