"""Whether a lead that is shown rests on a few of the units of a field, which its error
does not know: the one flag of statistics.md §26.5.

Two things have to hold: at most three of eight units or more turn the sign, and the
difference varies over the units by the test of §21 d. The test finds, the handful names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.stats.core.inputs import FloatArray, as_clusters, as_scores, unit_sums
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.leaving_out.passing import passing_clusters
from warehouse.stats.leaving_out.signs import Handful, handful_of_totals
from warehouse.stats.multiple.adjust import holm
from warehouse.stats.slices.varies import variation_test

#: Units that a field has at least, of which at most so many are few, and p of the test
#: whether the difference varies over them.
FEWEST_UNITS, FEW, P_VARIES = 8, 3, 0.01


@dataclass(frozen=True)
class RestsOnFew(NamedFigures):
    """How the units of one field carry a lead."""

    n_units: int  #: units of the field.
    #: fewest units without which the other leads; None where no number does.
    count: int | None
    left_out: NDArray[np.intp]  #: numbers of these units, in the order of their names.
    #: of the test whether the difference varies over the units, adjusted for the number
    #: of fields (Holm); None where it was not needed, or cannot be made.
    p_varies: float | None
    #: two-sided, of the difference with the units as clusters (CR2); None where it was
    #: not needed.
    p_by_units: float | None
    fires: bool  #: the lead rests on few.


def rests_on_few(
    differences: ArrayLike,
    fields: Sequence[ArrayLike],
    clusters: ArrayLike | None = None,
    *,
    n_resamples: int = 9999,
    seed: int = 0,
) -> list[RestsOnFew]:
    """Whether a lead rests on few units, of each of some fields.

    Args:
        differences: a − b of each prompt, finite, shape (n,).
        fields: of each the unit of each prompt, integers or strings, shape (n,).
        clusters: those of the error, shape (n,); None: prompts are independent.
        n_resamples: sign vectors of the test.
        seed: of the signs.

    Raises:
        StatisticsError: arguments that are misaligned, or not finite.
    """
    values = as_scores(differences, "differences")
    codes = [as_clusters(field, len(values)).codes for field in fields]
    found = [_of_units(values, own) for own in codes]
    if not any(map(_are_few, found)):  # the test takes long, and is not needed
        return [_result(one, None, None) for one in found]
    p_values = []
    for own in codes:
        test = variation_test(values, own, clusters, n_resamples=n_resamples, seed=seed)
        p_values.append(test.p_value)
    adjusted = holm(np.array(p_values, dtype=np.float64))
    rests = []
    for one, own, p_varies in zip(found, codes, adjusted.tolist(), strict=True):
        p_by_units = None
        if _are_few(one):
            p_by_units = passing_clusters(values, own).p_value
        rests.append(_result(one, p_varies, p_by_units))
    return rests


def _of_units(values: FloatArray, codes: NDArray[np.intp]) -> Handful:
    return handful_of_totals(unit_sums(values, as_clusters(codes, len(values))))


def _are_few(found: Handful) -> bool:
    """Few units of many turn the sign."""
    if found.n_units < FEWEST_UNITS or not found.count:
        return False
    return found.count <= FEW


def _result(
    found: Handful, p_varies: float | None, p_by_units: float | None
) -> RestsOnFew:
    if p_varies is not None and math.isnan(p_varies):
        p_varies = None
    varies = p_varies is not None and p_varies <= P_VARIES
    return RestsOnFew(
        n_units=found.n_units,
        count=found.count,
        left_out=found.left_out,
        p_varies=p_varies,
        p_by_units=p_by_units,
        fires=varies and _are_few(found),
    )
