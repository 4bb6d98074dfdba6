"""How well a list of suspected wrong keys agrees with an audit by people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Clusters,
    FloatArray,
    as_clusters,
    as_floats,
    check_length,
)
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.intervals.closed_form import interval_clopper_pearson

BoolArray = NDArray[np.bool_]

#: Lengths of the list for which its precision is given.
PRECISION_AT = (10, 20, 50, 100)
#: Thresholds of the posterior at which the expected false discovery rate is held
#: against the audit.
THRESHOLDS = (0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True)
class ListCalibration:
    """Expected and observed share of right keys in the list down to a threshold."""

    threshold: float  #: the smallest posterior that is listed.
    n_listed: int  #: items listed.
    n_wrong: int  #: those that the audit found wrong.
    #: mean of 1 − posterior; None for an empty list, like the next three.
    expected_fdr: float | None
    observed_fdr: float | None  #: share that the audit found right.
    observed_low: float | None  #: lower end of its Clopper–Pearson interval.
    observed_high: float | None  #: upper end.


@dataclass(frozen=True)
class RankingScore:
    """How well a score ranks the wrong keys of some items before the right ones."""

    stratum: Label  #: label of the stratum that the items are of; None for all.
    n_items: int  #: items with a score and a verdict.
    n_wrong: int  #: those with a wrong key.
    base_rate: float  #: n_wrong over n_items, the average precision of a random order.
    #: P(a wrong key scores above a right one), ties one half; None if all keys are
    #: alike.
    auc: float | None
    #: mean of the precision at each wrong key, tied items taken together; None without
    #: a wrong key.
    average_precision: float | None


@dataclass(frozen=True)
class WithinStrata:
    """The ranking with comparisons inside strata only, so that none of it is due to
    their rates."""

    #: share of pairs (wrong, right) of one stratum in the right order, ties one half;
    #: None without such a pair.
    auc: float | None
    #: mean over strata with a wrong key, weighted by their wrong keys.
    average_precision: float | None
    random_precision: float | None  #: the same mean of the strata's base rates.
    n_strata: int  #: strata with both wrong and right keys.
    largest: Label  #: the stratum with the most wrong keys; None without any.
    #: the ranking of all other items; None for a single stratum.
    without_largest: RankingScore | None
    strata: tuple[RankingScore, ...]  #: each stratum's ranking.


@dataclass(frozen=True)
class AuditScore(NamedFigures):
    """Suspected wrong keys against an audit."""

    overall: RankingScore  #: the ranking of all items.
    #: share of wrong keys among the first k, tied items in random order (the expected
    #: value), for each k; None where there are fewer items.
    precision_at: dict[int, float | None]
    #: expected and observed false discovery rate at each threshold; empty if the score
    #: is no probability.
    calibration: tuple[ListCalibration, ...]
    within: WithinStrata | None  #: the ranking inside strata; None without strata.
    n_undecided: int  #: items without a verdict, left out.
    n_unscored: int  #: items with a verdict but without a score, left out.

    def __str__(self) -> str:
        of = self.overall
        phrase = f"{of.n_wrong} of {of.n_items} keys are wrong"
        if of.auc is None or of.average_precision is None:
            return f"{phrase}: no ranking to score"
        return (
            f"{phrase}: AUC {of.auc:.3f}, average precision {of.average_precision:.3f}"
        )


def score_audit(
    score: ArrayLike,
    wrong: ArrayLike,
    strata: ArrayLike | None = None,
    *,
    precision_at: Sequence[int] = PRECISION_AT,
    thresholds: Sequence[float] = THRESHOLDS,
) -> AuditScore:
    """Score a list of suspects against the verdicts of an audit.

    Args:
        score: posterior probability of a wrong key, or any figure that grows with
            suspicion, shape (J,); NaN where the item was refused.
        wrong: the audit's verdict, 1 wrong, 0 right, NaN not decided, shape (J,).
        strata: subject or source of each item, shape (J,).
        precision_at: lengths k of the list, each at least 1.
        thresholds: of the posterior; empty where ``score`` is no probability.

    Raises:
        StatisticsError: arguments not aligned or out of range, or no item with both
            figures.

    Examples:
        >>> score = score_audit([0.9, 0.4, 0.2, 0.05], [1, 0, 1, 0], precision_at=[2], thresholds=[0.1])
        >>> print(score, score.precision_at)
        2 of 4 keys are wrong: AUC 0.750, average precision 0.833 {2: 0.5}
        >>> round(score.calibration[0].expected_fdr, 3), round(score.calibration[0].observed_fdr, 3)
        (0.5, 0.333)
    """
    scores = as_floats(score, "score").ravel()
    verdicts = as_floats(wrong, "wrong").ravel()
    check_length(len(verdicts), len(scores), "wrong")
    decided, scored = ~np.isnan(verdicts), ~np.isnan(scores)
    _check(scores, verdicts[decided], precision_at, thresholds)
    both = decided & scored
    if not both.any():
        raise StatisticsError("no item has both a score and a verdict")
    s, y = scores[both], verdicts[both] == 1
    within = None
    if strata is not None:
        within = _within(s, y, strata_of(strata, both))
    return AuditScore(
        overall=_ranking(s, y, None),
        precision_at={int(k): _precision(s, y, int(k)) for k in precision_at},
        calibration=tuple(_calibration(s, y, float(t)) for t in thresholds),
        within=within,
        n_undecided=int((~decided).sum()),
        n_unscored=int((decided & ~scored).sum()),
    )


def _check(
    scores: FloatArray,
    verdicts: FloatArray,
    precision_at: Sequence[int],
    thresholds: Sequence[float],
) -> None:
    if np.isinf(scores).any():
        raise StatisticsError("`score` must be finite, NaN where an item was refused")
    if not ((verdicts == 0) | (verdicts == 1)).all():
        raise StatisticsError(
            "`wrong` must be 1 (the key is wrong), 0 (it is right) or NaN (not decided)"
        )
    if any(k < 1 or k != int(k) for k in precision_at):
        raise StatisticsError(
            "`precision_at` must hold whole numbers of at least 1, found "
            f"{list(precision_at)}"
        )
    if not all(0 < t <= 1 for t in thresholds):
        raise StatisticsError(
            f"`thresholds` must lie in (0, 1], found {list(thresholds)}"
        )
    if thresholds and not (
        np.nanmin(scores, initial=0) >= 0 and np.nanmax(scores, initial=1) <= 1
    ):
        raise StatisticsError(
            "`score` must hold probabilities, or `thresholds` be empty"
        )


def _ranking(s: FloatArray, y: BoolArray, stratum: Label) -> RankingScore:
    n, n_wrong = len(s), int(y.sum())
    auc = average_precision = None
    if 0 < n_wrong < n:
        auc = _pairs_won(s, y) / (n_wrong * (n - n_wrong))
    if n_wrong:
        average_precision = _average_precision(s, y)
    return RankingScore(
        stratum=stratum,
        n_items=n,
        n_wrong=n_wrong,
        base_rate=n_wrong / n,
        auc=auc,
        average_precision=average_precision,
    )


def _pairs_won(s: FloatArray, y: BoolArray) -> float:
    """Pairs (wrong, right) whose wrong one scores higher, ties one half (Mann–Whitney
    U)."""
    n_wrong = int(y.sum())
    return float(scipy.stats.rankdata(s)[y].sum()) - n_wrong * (n_wrong + 1) / 2


def _average_precision(s: FloatArray, y: BoolArray) -> float:
    """Σ precision · gain in recall over the distinct scores, the highest first."""
    _values, codes = np.unique(-s, return_inverse=True)
    listed = np.bincount(codes.ravel())
    hits = np.bincount(codes.ravel(), weights=y)
    return float((np.cumsum(hits) / np.cumsum(listed)) @ hits / hits.sum())


def _precision(s: FloatArray, y: BoolArray, k: int) -> float | None:
    """Expected share of wrong keys among the first k, where tied items are in random
    order."""
    if k > len(s):
        return None
    last = np.partition(s, -k)[-k]
    above, tied = s > last, s == last
    return float((y[above].sum() + (k - above.sum()) * y[tied].mean()) / k)


def _calibration(s: FloatArray, y: BoolArray, threshold: float) -> ListCalibration:
    listed = s >= threshold
    n, n_wrong = int(listed.sum()), int(y[listed].sum())
    if not n:
        return ListCalibration(threshold, 0, 0, None, None, None, None)
    expected, observed = float((1 - s[listed]).mean()), (n - n_wrong) / n
    ends = interval_clopper_pearson(n - n_wrong, n)
    return ListCalibration(
        threshold, n, n_wrong, expected, observed, ends.low, ends.high
    )


def _within(s: FloatArray, y: BoolArray, strata: Strata) -> WithinStrata:
    codes, names = strata.groups.codes, strata.names
    each = tuple(
        _ranking(s[codes == g], y[codes == g], name) for g, name in enumerate(names)
    )
    # sums over strata, a stratum by its pairs or by its wrong keys
    auc = average_precision = random_precision = 0.0
    n_strata = n_pairs = 0
    for of in each:
        if of.auc is not None:
            own_pairs = of.n_wrong * (of.n_items - of.n_wrong)
            auc += of.auc * own_pairs
            n_pairs += own_pairs
            n_strata += 1
        if of.average_precision is not None:
            average_precision += of.average_precision * of.n_wrong
            random_precision += of.base_rate * of.n_wrong
    n_wrong = int(y.sum())
    found = WithinStrata(
        auc=None,
        average_precision=None,
        random_precision=None,
        n_strata=n_strata,
        largest=None,
        without_largest=None,
        strata=each,
    )
    if n_pairs:
        found = replace(found, auc=auc / n_pairs)
    if not n_wrong:
        return found
    largest = int(np.argmax([of.n_wrong for of in each]))
    others = codes != largest
    without_largest = None
    if others.any():
        without_largest = _ranking(s[others], y[others], None)
    return replace(
        found,
        average_precision=average_precision / n_wrong,
        random_precision=random_precision / n_wrong,
        largest=names[largest],
        without_largest=without_largest,
    )


Label = int | str | None


@dataclass(frozen=True)
class Strata:
    """The strata of some items."""

    groups: Clusters  #: stratum of each of these items as a number.
    names: tuple[Label, ...]  #: label of each stratum; None where none were given.


def strata_of(strata: ArrayLike | None, kept: NDArray[np.bool_]) -> Strata:
    """The strata of the items that are kept; without labels they are all of one.

    Args:
        strata: label of each item, shape (J,), integers or strings.
        kept: which items are kept, shape (J,), at least one.

    Raises:
        StatisticsError: another number of labels, or a kept item without one.
    """
    n = int(kept.sum())
    if strata is None:
        return Strata(as_clusters(np.zeros(n, dtype=np.int64), n), (None,))
    # As objects: numpy would make a missing label among texts the text "nan".
    if isinstance(strata, list | tuple):
        labels = np.asarray(strata, dtype=object)
    else:
        labels = np.asarray(strata)
    check_length(len(labels), len(kept), "strata")
    groups = as_clusters(labels[kept], n)
    _codes, first = np.unique(groups.codes, return_index=True)
    return Strata(groups, tuple(_plain(label) for label in labels[kept][first]))


def _plain(label: object) -> Label:
    value: Label = label.item() if isinstance(label, np.generic) else label  # type: ignore[assignment]
    return value
