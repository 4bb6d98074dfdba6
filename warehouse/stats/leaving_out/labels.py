"""The fewest labels of people that would have to be the other way for a corrected mean
to lie on the other side of a bar (statistics.md §26.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    FloatArray,
    as_floats,
    as_scores,
    check_length,
    is_zero_one,
)
from warehouse.stats.core.results import NamedFigures

#: Figures up to this distance from the bar are on it.
_ON_IT = 1e-12


@dataclass(frozen=True)
class HandfulOfLabels(NamedFigures):
    """Labels that would have to be the other way."""

    estimate: float  #: θ̂ as it stands.
    #: fewest labels; 0 where the mean is at the bar; None where no number does.
    count: int | None
    with_yes: int  #: of these: of units that the judge scores 1.
    with_no: int  #: of units that it scores 0.


def handful_of_labels(
    h: ArrayLike, g: ArrayLike, bar: float, *, weight: float | None = None
) -> HandfulOfLabels:
    """How few labels put the mean of `prediction_powered_mean` on the other side.

    Labels towards the bar are turned, of those where the judge says 1 and those where it
    says 0 as many as do it, all splits tried; λ and θ̂ are computed anew for each.

    Args:
        h: label of each unit, 0 or 1, NaN where there is none, shape (N,).
        g: the judge's score of every unit, 0 or 1, shape (N,).
        bar: finite.
        weight: λ, where it is not that of these labels: pooled, or 0 where the labels
            stand alone.

    Raises:
        StatisticsError: labels or scores that are not 0 or 1, or no label.

    Examples:
        >>> h = [1, 1, 1, 0, 0, 1] + [float("nan")] * 2
        >>> handful_of_labels(h, [1, 1, 0, 0, 0, 1, 1, 0], 0.5).count
        2
    """
    labels, judge = as_floats(h, "h"), as_scores(g, "g")
    check_length(len(judge), len(labels), "g")
    is_labelled = ~np.isnan(labels)
    own, of_judge = labels[is_labelled], judge[is_labelled]
    if not len(own):
        raise StatisticsError("`h` has no label: all are NaN")
    if not (is_zero_one(own) and is_zero_one(judge)):
        raise StatisticsError("labels and scores of the judge have to be 0 or 1")
    counts = _Counts(
        yes=int(of_judge.sum()),
        no=int((1 - of_judge).sum()),
        right_yes=int((own * of_judge).sum()),
        right_no=int((own * (1 - of_judge)).sum()),
        mean_judge=float(judge.mean()),
        weight=weight,
    )
    return counts.fewest(bar)


@dataclass(frozen=True)
class _Counts:
    """Labelled units by what the judge and people say."""

    yes: int  #: units that the judge scores 1.
    no: int  #: units that it scores 0.
    right_yes: int  #: of the first, those with the label 1.
    right_no: int  #: of the second.
    mean_judge: float  #: of the judge over all units.
    weight: float | None  #: λ, where it does not change.

    def mean(self, right_yes: FloatArray, right_no: FloatArray) -> FloatArray:
        """θ̂ with other numbers of labels 1."""
        n = self.yes + self.no
        labels = (right_yes + right_no) / n
        judge = self.yes / n
        slope = self._slope(right_yes, right_no)
        mean: FloatArray = labels - slope * (judge - self.mean_judge)
        return mean

    def _slope(self, right_yes: FloatArray, right_no: FloatArray) -> FloatArray:
        """λ: of two values of the judge the difference of the labels' means."""
        if self.weight is not None:
            return np.full(len(right_yes), self.weight)
        if not self.yes or not self.no:
            return np.zeros(len(right_yes))
        return np.clip(right_yes / self.yes - right_no / self.no, 0, 1)

    def fewest(self, bar: float) -> HandfulOfLabels:
        """The first number of labels of which some split is enough."""
        own = np.array([float(self.right_yes)]), np.array([float(self.right_no)])
        estimate = float(self.mean(*own)[0])
        if math.isclose(estimate, bar, rel_tol=0, abs_tol=_ON_IT):
            return HandfulOfLabels(estimate, 0, 0, 0)
        step = -1 if estimate > bar else 1
        most_yes, most_no = self.right_yes, self.right_no
        if step > 0:
            most_yes, most_no = self.yes - most_yes, self.no - most_no
        for count in range(1, most_yes + most_no + 1):
            turned = np.arange(max(0, count - most_no), min(count, most_yes) + 1)
            means = self._turned(turned, count - turned, step)
            beyond = step * (means - bar)
            best = int(beyond.argmax())
            if beyond[best] > _ON_IT:
                with_yes = int(turned[best])
                return HandfulOfLabels(estimate, count, with_yes, count - with_yes)
        return HandfulOfLabels(estimate, None, 0, 0)

    def _turned(
        self, yes: NDArray[np.intp], no: NDArray[np.intp], step: int
    ) -> FloatArray:
        """θ̂ where labels of units that the judge scores 1, and 0, are turned."""
        right_yes = self.right_yes + step * yes.astype(np.float64)
        right_no = self.right_no + step * no.astype(np.float64)
        return self.mean(right_yes, right_no)
