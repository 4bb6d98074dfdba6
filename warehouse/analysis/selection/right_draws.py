"""Right draws of each prompt, counted or stored as rates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.scores import PromptScores
from warehouse.stats.core.draws import PromptDraws

# A rate is a whole number of right draws if it is that near to one: where the metric is declared
# 0/1, sources may round it; where it is not, only floating-point rounding is allowed for.
_ROUNDED, _EXACT = 0.05, 1e-6


def right_draws(scores: PromptScores, metric: Metric) -> tuple[NDArray[np.float64], str]:
    """Right draws of each prompt, shape (n,), and why there are none (then they are zeros)."""
    counts = scores.values * scores.n_draws
    whole = np.round(counts)
    room = _ROUNDED if metric.kind == "binary" else _EXACT
    if metric.link != "identity":
        return np.zeros_like(counts), "the metric is no share of right draws"
    wrong = (np.abs(counts - whole) > room) | (whole < 0) | (whole > scores.n_draws)
    if wrong.any():
        place = int(np.argmax(wrong))
        return np.zeros_like(counts), (
            f"draws must be right or wrong: {int(wrong.sum())} of {scores.n} prompts have another"
            f" mean (such as {scores.values[place]:.4g} of {scores.n_draws[place]:g} draws)"
        )
    if not draws_declared(scores, metric):
        within = np.where(scores.n_draws > 1, scores.within, np.nan)
        if not PromptDraws(scores.values, within, scores.n_draws).are_zero_one():
            return np.zeros_like(counts), "draws must be right or wrong: some lie in between"
    return whole, ""


def draws_declared(scores: PromptScores, metric: Metric) -> bool:
    """Whether draws are known to be 0 or 1: by the metric, or each was seen."""
    return metric.kind == "binary" or bool(scores.zero_one.all())
