"""Scores of a stratified sample of a benchmark's prompts, and what every estimate from it rests on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import ROUNDING, FloatArray, as_floats, check_length


@dataclass(frozen=True, eq=False)
class Sample:
    """N prompts in strata, some of them scored.

    Attributes:
        scores: NaN outside the sample and where there is no score, shape (N,).
        stratum: of each prompt, 0 to H − 1, shape (N,).
        selected: whether it is in the sample, shape (N,).
    """

    scores: FloatArray
    stratum: NDArray[np.intp]
    selected: NDArray[np.bool_]

    @property
    def n(self) -> int:
        """N."""
        return len(self.scores)

    @property
    def n_strata(self) -> int:
        """H."""
        return len(self.sizes)

    @property
    def n_selected(self) -> int:
        """m."""
        return int(self.selected.sum())

    @property
    def n_missing(self) -> int:
        """Prompts of the sample without a score."""
        return self.n_selected - len(self.y)

    @cached_property
    def y(self) -> FloatArray:
        """The scores that there are."""
        return self.scores[np.isfinite(self.scores)]

    @cached_property
    def sizes(self) -> FloatArray:
        """N_h, shape (H,)."""
        return np.bincount(self.stratum).astype(np.float64)

    @cached_property
    def scored_in(self) -> FloatArray:
        """n_h, the scored prompts of each stratum, shape (H,)."""
        return self._sums(np.isfinite(self.scores).astype(np.float64))

    @cached_property
    def means(self) -> FloatArray:
        """ȳ_h, shape (H,)."""
        return self._sums(np.nan_to_num(self.scores)) / self.scored_in

    @property
    def estimate(self) -> float:
        """θ̂ = Σ W_h ȳ_h."""
        return float(self.sizes @ self.means / self.n)

    @property
    def degrees_of_freedom(self) -> float:
        """ν = Σ (n_h − 1)."""
        return float((self.scored_in - 1).sum())

    @property
    def variance(self) -> float:
        """v = Σ W_h² (1 − n_h/N_h) s_h²/n_h; every stratum has at least two scores."""
        centred = np.nan_to_num(self.scores - self.means[self.stratum])
        centred[np.abs(centred) <= ROUNDING * np.abs(self.y).max()] = 0.0  # equal but for rounding
        squares = self._sums(centred**2) / (self.scored_in - 1)
        left = 1 - self.scored_in / self.sizes
        return float(((self.sizes / self.n) ** 2 * left * squares / self.scored_in).sum())

    def joined(self) -> Sample:
        """From h = H down, a stratum with fewer than two scores joins its lower neighbour, the first the second."""
        counts, name = self.scored_in.tolist(), list(range(self.n_strata))
        for h in range(self.n_strata - 1, 0, -1):
            if counts[h] < 2:
                counts[h - 1] += counts[h]
                name = [h - 1 if one == h else one for one in name]
        left = sorted(set(name))
        if len(left) > 1 and counts[0] < 2:
            name = [left[1] if one == 0 else one for one in name]
        if len(set(name)) == self.n_strata:
            return self
        codes = np.unique(name, return_inverse=True)[1]
        return replace(self, stratum=codes[self.stratum].astype(np.intp))

    def filled(self, value: float) -> Sample:
        """With every missing score of the sample at one value."""
        missing = self.selected & ~np.isfinite(self.scores)
        return replace(self, scores=np.where(missing, value, self.scores))

    def _sums(self, values: FloatArray) -> FloatArray:
        return np.bincount(self.stratum, weights=values, minlength=len(self.sizes)).astype(np.float64)


def as_sample(scores: ArrayLike, stratum: ArrayLike, selected: ArrayLike) -> Sample:
    """Checked arrays of N prompts.

    Raises:
        StatisticsError: shapes that do not fit, infinite scores, scores outside the sample, strata that are
            not numbered from 0 without gaps, none scored.
    """
    y = as_floats(scores, "scores")
    if y.ndim != 1 or not len(y):
        raise StatisticsError("`scores` must be one-dimensional, with NaN for prompts that were not asked")
    of, chosen = np.asarray(stratum), np.asarray(selected)
    check_length(len(of), len(y), "stratum")
    check_length(len(chosen), len(y), "selected")
    if of.dtype.kind not in "iu" or len(np.unique(of)) != of.max() + 1 or of.min() != 0:
        raise StatisticsError("`stratum` must number the strata from 0 without gaps")
    if chosen.dtype != bool:
        raise StatisticsError(f"`selected` must be true or false, found {chosen.dtype}")
    if np.isinf(y).any():
        raise StatisticsError(f"`scores` holds {int(np.isinf(y).sum())} infinite value(s); a missing score is NaN")
    outside = int((np.isfinite(y) & ~chosen).sum())
    if outside:
        raise StatisticsError(f"{outside} scores are of prompts outside the sample; leave them out and count them")
    if not np.isfinite(y).any():
        raise StatisticsError("no prompt of the sample has a score")
    return Sample(y, of.astype(np.intp), chosen)
