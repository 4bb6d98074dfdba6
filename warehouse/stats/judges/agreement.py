"""How far a judge and people agree on the same units (statistics.md §16)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.stats.core.inputs import (
    ROUNDING,
    Clusters,
    FloatArray,
    as_level,
    as_scores,
    as_weights,
    check_length,
    clusters_if_any,
    codes_of,
    number_of,
    one_unit_each,
)
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.intervals.closed_form import (
    interval_clopper_pearson,
    interval_wilson_bounded,
)
from warehouse.stats.intervals.estimate_mean import estimate_mean
from warehouse.stats.paired.sign_flip import sign_flip_test

#: Fewer units than this: no errors; fewer clusters (units, without any): a flag.
FEWEST_UNITS, FEW_CLUSTERS = 10, 20
#: More values than this are no categories.
MOST_CATEGORIES = 100
#: Cells of tables that are held at a time.
MOST_CELLS = 1 << 21
#: Disagreements below which an interval is no nearer than their exact one.
FEW_DISAGREEMENTS = 10
_OF_DISAGREEMENTS = ("agreement", "kappa", "ac1", "alpha_nominal")
LEVELS = ("nominal", "ordinal", "interval")
MEASURES = (
    "agreement",
    "kappa",
    "kappa_linear",
    "kappa_quadratic",
    "ac1",
    *(f"alpha_{level}" for level in LEVELS),
)


@dataclass(frozen=True)
class AgreementFigure(NamedFigures):
    """One measure of agreement."""

    #: ``agreement`` (the share of units on which both say the same), ``kappa``,
    #: ``kappa_linear``, ``kappa_quadratic`` (Cohen's), ``ac1`` (Gwet's),
    #: ``alpha_nominal``, ``_ordinal``, ``_interval`` (Krippendorff's).
    measure: str
    estimate: float | None  #: None where it is 0/0.
    #: delete-one-cluster jackknife; None where it is 0 or not defined.
    standard_error: float | None
    low: float | None  #: lower end of the interval.
    high: float | None  #: upper end.
    reason: str  #: why something is None; empty otherwise.


@dataclass(frozen=True)
class JudgeAgreement(NamedFigures):
    """A judge against people."""

    n_units: int  #: units that both have judged.
    n_clusters: int | None  #: None without clusters.
    categories: tuple[float, ...]  #: the values that there are, in order.
    #: units by people's category (rows) and the judge's (columns), weighted to sum to
    #: ``n_units``.
    table: tuple[tuple[float, ...], ...]
    figures: tuple[AgreementFigure, ...]  #: each of `MEASURES`.
    judge_above: float  #: share of units that the judge scores above people.
    judge_below: float  #: share that it scores below.
    direction_p: float  #: sign test, by clusters, of as many above as below.
    level: float  #: nominal coverage of the intervals.
    #: ``few_clusters``, ``few_units``, ``one_category``, ``few_disagreements``.
    flags: tuple[str, ...]

    def figure(self, measure: str) -> AgreementFigure:
        """That of a name."""
        return self.figures[MEASURES.index(measure)]

    def __str__(self) -> str:
        parts = [
            f"{figure.measure}={figure.estimate:.4g}"
            for figure in self.figures
            if figure.estimate is not None
        ]
        return f"{', '.join(parts)} (n={self.n_units})"


def judge_agreement(
    h: ArrayLike,
    g: ArrayLike,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    *,
    level: float = 0.95,
) -> JudgeAgreement:
    """Agreement of a judge with people, by several measures that are to be read
    together.

    κ falls where one category is frequent, though the share that agree does not; AC1
    does not fall.

    Args:
        h: people's label of each unit, finite, shape (n,).
        g: the judge's, on the same scale, shape (n,).
        clusters: of each unit (its prompt), integers or strings, shape (n,); None: each
            by itself.
        weights: of each unit, 1/π of its label, shape (n,); None: alike.
        level: nominal coverage of the intervals.

    Raises:
        StatisticsError: arrays that do not fit or are not finite.

    Examples:
        >>> agreement = judge_agreement([1, 1, 1, 0, 0, 1, 0, 1, 1, 1], [1, 1, 0, 0, 0, 1, 1, 1, 1, 1])
        >>> print(agreement.figure("agreement").estimate, round(agreement.figure("kappa").estimate, 4))
        0.8 0.5238
    """
    people, judge = as_scores(h, "h"), as_scores(g, "g")
    check_length(len(judge), len(people), "g")
    n = len(people)
    shares = np.ones(n)
    if weights is not None:
        shares = as_weights(weights, n) * n / np.sum(weights)
    groups = clusters_if_any(clusters, n)
    units = groups or one_unit_each(n)
    values, codes = np.unique(np.concatenate([people, judge]), return_inverse=True)
    whole = _Units(codes[:n], codes[n:], shares, units, values)
    figures = _figures(whole, as_level(level))
    if n >= FEWEST_UNITS:
        # a share has an interval of its own, which holds near 0 and 1
        same = (people == judge).astype(float)
        own = _share_that_agrees(same, groups, weights, figures[0], level)
        figures[0] = _with_few(own, whole, as_level(level))
    above, below = judge > people, judge < people
    ordered = sign_flip_test(above.astype(float) - below, codes_of(groups))
    categories: tuple[float, ...] = ()
    table: tuple[tuple[float, ...], ...] = ()
    if len(values) <= MOST_CATEGORIES:
        categories = tuple(values.tolist())
        table = tuple(map(tuple, whole.table().tolist()))
    few_units = n < FEWEST_UNITS
    few_disagreements = n_disagreements(people, judge) < FEW_DISAGREEMENTS
    return JudgeAgreement(
        n_units=n,
        n_clusters=number_of(groups),
        categories=categories,
        table=table,
        figures=tuple(figures),
        judge_above=float(shares @ above) / n,
        judge_below=float(shares @ below) / n,
        direction_p=ordered.p_value,
        level=level,
        flags=flags_of(
            few_units=few_units,
            few_clusters=units.n < FEW_CLUSTERS,
            one_category=len(values) == 1,
            few_disagreements=few_disagreements and not few_units,
        ),
    )


def _share_that_agrees(
    same: FloatArray,
    groups: Clusters | None,
    weights: ArrayLike | None,
    by_jackknife: AgreementFigure,
    level: float,
) -> AgreementFigure:
    """The share of units on which both say the same, by the interval of a mean."""
    share = estimate_mean(
        same, clusters=codes_of(groups), weights=weights, bounds=(0, 1), level=level
    )
    low, high = share.ci_low, share.ci_high
    if weights is not None:
        n_units = len(same)
        if groups is not None:
            n_units = groups.n
        own = interval_wilson_bounded(
            share.estimate, by_jackknife.standard_error, n_units - 1
        )
        if own is not None:
            low, high = own.low, own.high
    reason = ""
    if low is None:
        reason = share.reason
    return AgreementFigure(
        "agreement", share.estimate, share.standard_error, low, high, reason
    )


@dataclass(frozen=True)
class _Units:
    people: np.ndarray[tuple[int, ...], np.dtype[np.intp]]
    judge: np.ndarray[tuple[int, ...], np.dtype[np.intp]]
    shares: FloatArray
    clusters: Clusters
    values: FloatArray

    def table(self) -> FloatArray:
        """Shape (C, C)."""
        c = len(self.values)
        cells = np.bincount(self.people * c + self.judge, self.shares, c * c)
        return cells.astype(np.float64).reshape(c, c)

    def without_each(self) -> FloatArray:
        """The measures without each cluster, shape (G, measures)."""
        c, whole = len(self.values), self.table()
        order = np.argsort(self.clusters.codes, kind="stable")
        ends = np.concatenate([[0], np.cumsum(self.clusters.sizes)]).astype(int)
        step = max(1, MOST_CELLS // (c * c))
        parts = []
        for start in range(0, self.clusters.n, step):
            last = min(start + step, self.clusters.n)
            some = order[ends[start] : ends[last]]
            table = self.clusters.codes[some] - start
            cell = (table * c + self.people[some]) * c + self.judge[some]
            own = np.bincount(cell, self.shares[some], (last - start) * c * c)
            left = np.maximum(whole - own.reshape(-1, c, c), 0.0)
            parts.append(measures(left, self.values))
        return np.concatenate(parts)


def _figures(units: _Units, level: float) -> list[AgreementFigure]:
    n = len(units.people)
    if len(units.values) > MOST_CATEGORIES:
        share = float(units.shares @ (units.people == units.judge)) / n
        reason = f"more than {MOST_CATEGORIES} different scores: no categories"
        found = [
            AgreementFigure(measure, None, None, None, None, reason)
            for measure in MEASURES
        ]
        found[0] = replace(found[0], estimate=share)
        return found
    estimates = measures(units.table()[None], units.values)[0]
    if n < FEWEST_UNITS or units.clusters.n < 2:
        few = "a single cluster"
        if n < FEWEST_UNITS:
            few = f"fewer than {FEWEST_UNITS} units"
        return [
            figure_of(name, value, None, few, level, 1)
            for name, value in zip(MEASURES, estimates, strict=True)
        ]
    g = units.clusters.n
    left = units.without_each()
    found = []
    for name, value, error in zip(
        MEASURES, estimates, jackknife_errors(left), strict=True
    ):
        figure = figure_of(name, value, error, "", level, g - 1)
        found.append(_with_few(figure, units, level))
    return found


def jackknife_errors(left: FloatArray) -> list[float | None]:
    """Standard error of each measure; None where it is not defined without some
    cluster.

    Args:
        left: measures without each cluster, shape (G, measures).
    """
    g = len(left)
    squares = (g - 1) / g * np.square(left - left.mean(axis=0)).sum(axis=0)
    errors: list[float | None] = []
    for square in squares.tolist():
        if math.isfinite(square):
            errors.append(math.sqrt(square))
        else:
            errors.append(None)
    return errors


def n_disagreements(people: NDArray[Any], judge: NDArray[Any]) -> int:
    """Units on which the two say another thing."""
    return int(np.count_nonzero(people != judge))


def _with_few(figure: AgreementFigure, units: _Units, level: float) -> AgreementFigure:
    """With few disagreements no nearer than the exact interval of their share, mapped
    through the measure.

    Near perfection the jackknife knows the disagreements of the sample alone: with 3 %
    positives of 60 units κ covered .77, and with none there was no interval. Measures
    that count every disagreement alike are 1 − q/q_e, q the share of units that
    disagree and q_e what it is by chance at the observed margins.
    """
    n, d = len(units.people), n_disagreements(units.people, units.judge)
    if d >= FEW_DISAGREEMENTS or figure.measure not in _OF_DISAGREEMENTS:
        return figure
    if figure.estimate is None:
        return figure
    share = interval_clopper_pearson(d, n, level=level)
    low = _by_share(figure.measure, units, share.high)
    high = _by_share(figure.measure, units, share.low)
    if low is None or high is None:
        return figure
    low = max(-1.0, min(low, figure.estimate))
    high = min(1.0, max(high, figure.estimate))
    if figure.low is not None:
        low = min(figure.low, low)
    if figure.high is not None:
        high = max(figure.high, high)
    return replace(figure, low=low, high=high, reason="")


def _by_share(measure: str, units: _Units, q: float) -> float | None:
    """The measure where a share q of the units disagrees, with the margins that there
    are."""
    table = units.table()
    share = table / table.sum()
    rows, columns = share.sum(axis=1), share.sum(axis=0)
    n, c = float(table.sum()), len(rows)
    middle = (rows + columns) / 2
    by_chance = {
        "agreement": 1.0,
        "kappa": 1 - float(rows @ columns),
        "ac1": 1 - float(middle @ (1 - middle)) / max(1, c - 1),
        "alpha_nominal": (1 - float(middle @ middle)) * 2 * n / max(1.0, 2 * n - 1),
    }
    chance = by_chance[measure]
    if chance > ROUNDING:
        return 1 - q / chance
    return None


def figure_of(
    name: str, value: float, error: float | None, why: str, level: float, df: int
) -> AgreementFigure:
    """A measure with its interval; ``why`` says why there is no error, where there is
    none."""
    if not math.isfinite(value):
        return AgreementFigure(
            name, None, None, None, None, "all labels are of one category: 0/0"
        )
    if error is None or error <= ROUNDING or value >= 1 - ROUNDING:
        reason = "no cluster changes it"
        if error is None:
            reason = "without one cluster it is 0/0"
        return AgreementFigure(name, float(value), None, None, None, why or reason)
    # on the scale of ln(1 − κ), where its errors are nearer to alike on both sides and
    # no end passes 1
    room, half = 1 - float(value), t_quantile(level, df) * error
    low = 1 - room * math.exp(half / room)
    high = 1 - room * math.exp(-half / room)
    return AgreementFigure(name, float(value), error, max(low, -1.0), high, "")


def measures(tables: FloatArray, values: FloatArray) -> FloatArray:
    """`MEASURES` of tables of two raters, shape (k, C, C) to (k, measures); NaN where
    0/0.

    Args:
        tables: units by the category of one (rows) and the other.
        values: of the categories, in order, shape (C,).
    """
    c = len(values)
    total = tables.sum(axis=(1, 2), keepdims=True)
    share = tables / total
    rows, columns = share.sum(axis=2), share.sum(axis=1)
    steps = np.abs(np.subtract.outer(np.arange(c), np.arange(c))) / max(1, c - 1)
    results = [np.trace(share, axis1=1, axis2=2)]
    with np.errstate(invalid="ignore", divide="ignore"):
        for weight in (np.eye(c), 1 - steps, 1 - steps**2):
            chance = np.einsum("ki,ij,kj->k", rows, weight, columns)
            found = np.einsum("kij,ij->k", share, weight)
            results.append(
                np.where(1 - chance > 1e-12, (found - chance) / (1 - chance), np.nan)
            )
        q = (rows + columns) / 2
        chance = (q * (1 - q)).sum(axis=1) / max(1, c - 1)
        results.append((results[0] - chance) / (1 - chance))
        both = tables + tables.transpose(0, 2, 1)
        results += [alpha_of(both, values, level) for level in LEVELS]
    return np.stack(results, axis=1)


def alpha_of(coincidences: FloatArray, values: FloatArray, level: str) -> FloatArray:
    """Krippendorff's α of tables of coincidences O, shape (k, C, C) to (k,); NaN where
    0/0."""
    n_c = coincidences.sum(axis=2)
    n = n_c.sum(axis=1)
    if level == "nominal":
        seen = n - np.trace(coincidences, axis1=1, axis2=2)
        expected = n**2 - np.square(n_c).sum(axis=1)
    else:
        if level == "ordinal":
            at = np.cumsum(n_c, axis=1) - n_c / 2
        else:
            at = np.broadcast_to(values, n_c.shape)
        at = at - (n_c * at).sum(axis=1, keepdims=True) / n[:, None]
        squares = (n_c * at**2).sum(axis=1)
        seen = 2 * (squares - np.einsum("kij,ki,kj->k", coincidences, at, at))
        expected = 2 * n * squares
    with np.errstate(invalid="ignore", divide="ignore"):
        alpha: FloatArray = np.where(
            expected > 1e-12 * n**2, 1 - (n - 1) * seen / expected, np.nan
        )
    return alpha
