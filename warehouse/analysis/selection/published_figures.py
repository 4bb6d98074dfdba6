"""Figures of runs that sources publish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PublishedFigure:
    """A published figure of a condition."""

    value: float  #: the figure; mean over the repeats that have one.
    #: as published, at least 0; of repeats that which their spread gives; None if there
    #: is none.
    standard_error: float | None
    n: int  #: prompts as published, 0 if unknown.
    #: figures of the training seeds, or of the repeats, that it is the mean of; empty
    #: for a single one.
    seeds: tuple[float, ...] = ()


def mean_figure(figures: Sequence[PublishedFigure]) -> PublishedFigure:
    if len(figures) == 1:
        return figures[0]
    values = np.array([figure.value for figure in figures])
    error = None
    if np.isfinite(values).all():
        error = float(values.std(ddof=1) / np.sqrt(len(values)))
    return PublishedFigure(
        float(values.mean()),
        error or None,
        max(figure.n for figure in figures),
        tuple(values.tolist()),
    )
