"""What strengths say: differences, intervals that hold together, ranks that may be
(statistics.md §15)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray, as_level, as_seed
from warehouse.stats.core.quantiles import t_p_value, t_quantile
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.paired.sign_flip import sign_flip_test
from warehouse.stats.preferences.ballots import Ballots, IntArray, numbered
from warehouse.stats.preferences.errors import Errors, preference_errors
from warehouse.stats.preferences.fit import fit_preferences

N_DRAWS = 9999
#: Degrees of freedom, and models, from which on one χ² stands for the errors of all
#: pairs.
MANY_DEGREES, MANY_MODELS = 60, 41
#: Numbers that are drawn at a time; a variance that is none.
_CELLS, _TINY = 1 << 21, 1e-300
NO_SPREAD = "the votes leave nothing that varies"
LOOSE = "one voter, or one prompt, alone holds it to the others"


@dataclass(frozen=True)
class Contrast(NamedFigures):
    """A sum of coefficients with its error."""

    estimate: float  #: in log-odds, as all else.
    standard_error: float | None  #: None with a reason.
    #: low, high: of the t interval.
    low: float | None
    high: float | None
    degrees_of_freedom: float | None  #: of it.
    p_value: float | None  #: of no difference, two-sided.
    largest: str  #: the part of the variance that was the largest: ``sum``, ``voters`` or ``prompts``.
    reason: str  #: why there is no error.


def contrasts(
    theta: FloatArray, errors: Errors, weights: FloatArray, *, level: float = 0.95
) -> list[Contrast]:
    """Each row of ``weights`` times the coefficients, with its interval.

    Args:
        theta: coefficients, shape (d,).
        errors: theirs.
        weights: shape (m, d); those of strengths sum to 0, or stand for the mean of all
            models.
        level: of the intervals.
    """
    variances, largest = errors.variance(weights)
    found = []
    for estimate, variance, part in zip(
        weights @ theta, variances, largest, strict=True
    ):
        error, df = float(np.sqrt(variance)), errors.degrees_of_freedom
        reason = errors.reason or (
            LOOSE if np.isnan(error) else "" if error > 1e-12 else NO_SPREAD
        )
        if reason or df is None:
            found.append(
                Contrast(float(estimate), None, None, None, None, None, "", reason)
            )
            continue
        half = t_quantile(as_level(level), df) * error
        p = t_p_value(float(estimate) / error, df)
        ends = float(estimate) - half, float(estimate) + half
        found.append(Contrast(float(estimate), error, *ends, df, p, part, ""))
    return found


@dataclass(frozen=True, eq=False)
class Band:
    """Intervals of all differences that hold together, about as often as the level
    says."""

    #: half of an interval over its standard error; None without errors.
    critical_value: float | None
    #: whether the interval of a pair leaves 0 out, shape (M, M).
    apart: NDArray[np.bool_]
    #: rank_low, rank_high: the best and the worst rank that each model may have.
    rank_low: IntArray
    rank_high: IntArray


def simultaneous(
    strengths: FloatArray,
    errors: Errors,
    *,
    level: float = 0.95,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> Band:
    """The band of all pairs: the largest of |Z_a − Z_b| over its estimated error, both
    of them drawn.

    With ν degrees of freedom the errors of few voters or prompts vary, and those of two
    pairs not alike: S², the square of each over the true one, is of a Wishart
    distribution. With one χ² for all pairs these are too sure all at once or not at
    all: .91 to .94 of 95 % with 5 to 20 models and 10 voters or 12 prompts, with this
    .94 to .98. The factor is no larger than Bonferroni's. Of more than 40 models one χ²
    is enough, as the largest of three variances counts (60 models: .95 to 1).

    Args:
        strengths: of the models, shape (M,).
        errors: theirs.
        level: of the band.
        n_draws: of the normal.
        seed: of the draws.
    """
    m = len(strengths)
    variances = errors.of_pairs(m)
    usable = variances > 1e-24
    critical = None
    if usable.any() and errors.degrees_of_freedom is not None:
        sigma = next(iter(errors.parts.values()))[
            :m, :m
        ]  # the sum of both ways, or the only one
        degrees = errors.degrees_of_freedom
        inverse_errors = np.where(
            usable, 1 / np.sqrt(np.where(usable, variances, 1)), 0
        )
        largest = _drawn(
            _root(sigma),
            inverse_errors,
            degrees,
            n_draws,
            np.random.default_rng(as_seed(seed)),
        )
        drawn_value = np.sort(largest)[
            min(n_draws, int(np.ceil(as_level(level) * (n_draws + 1) - 1e-9))) - 1
        ]
        # never below a single interval's: the draws know the sum of both ways, of which
        # a part may be the larger
        n_pairs = np.count_nonzero(usable) / 2
        of_all = t_quantile(1 - (1 - level) / n_pairs, degrees)
        critical = max(min(float(drawn_value), of_all), t_quantile(level, degrees))
    ahead = strengths[:, None] - strengths[None]
    half = np.where(
        usable, (critical or 0) * np.sqrt(np.where(usable, variances, 1)), np.inf
    )
    better = ahead - half > 0
    return Band(
        critical, better | better.T, 1 + better.sum(axis=0), m - better.sum(axis=1)
    )


def _root(sigma: FloatArray) -> FloatArray:
    """R of R Rᵀ = Σ without what is negative by rounding, shape (M, r)."""
    values, vectors = np.linalg.eigh(sigma)
    there = values > 1e-12 * max(float(values.max()), 1e-300)
    root: FloatArray = vectors[:, there] * np.sqrt(values[there])
    return root


def _drawn(
    root: FloatArray,
    inverse_errors: FloatArray,
    degrees: float,
    n_draws: int,
    rng: np.random.Generator,
) -> FloatArray:
    """max_ab |Z_a − Z_b| / √(v_ab S²_ab) of each draw, shape (n_draws,).

    S²_ab = cᵀ W c / (ν cᵀ Σ c), W of a Wishart distribution, ν degrees of freedom and
    scale Σ = R Rᵀ: the sum of (R g_k)(R g_k)ᵀ over ν normal vectors g_k, the last of
    which counts by its fraction.

    Args:
        root: R, shape (M, r).
        inverse_errors: 1/√v_ab, 0 for pairs that are not compared, shape (M, M).
        degrees: ν, at least 1.
    """
    is_common = degrees >= MANY_DEGREES or len(root) >= MANY_MODELS
    if is_common:
        n_vectors = 1
    else:
        n_vectors = int(np.ceil(degrees))
    counted = np.ones(n_vectors)
    counted[-1] = degrees - n_vectors + 1
    step = max(1, _CELLS // (n_vectors * len(root)))
    found = []
    for start in range(0, n_draws, step):
        size = min(step, n_draws - start)
        moved = root @ rng.standard_normal((root.shape[1], size))
        if is_common:
            common = np.sqrt(rng.chisquare(degrees, size) / degrees)
            found.append(_largest(moved / common, inverse_errors))
            continue
        vectors = root @ rng.standard_normal((n_vectors, root.shape[1], size))
        vectors *= np.sqrt(counted / degrees)[:, None, None]
        found.append(_largest_over(moved, vectors, root, inverse_errors))
    return np.concatenate(found)


def _largest(moved: FloatArray, inverse_errors: FloatArray) -> FloatArray:
    """Of each draw the largest difference over its error; moved has shape (M, B)."""
    best = np.zeros(moved.shape[1])
    for a in range(len(moved) - 1):
        gaps = np.abs(moved[a] - moved[a + 1 :]) * inverse_errors[a, a + 1 :, None]
        best = np.maximum(best, gaps.max(axis=0))
    return best


def _largest_over(
    moved: FloatArray, vectors: FloatArray, root: FloatArray, inverse_errors: FloatArray
) -> FloatArray:
    """The same over errors that are drawn as well: √v_ab S_ab, S² of the vectors, shape
    (ν, M, B)."""
    best = np.zeros(moved.shape[1])
    for a in range(len(moved) - 1):
        variances = np.maximum(((root[a] - root[a + 1 :]) ** 2).sum(axis=1), _TINY)
        squares = ((vectors[:, a, None] - vectors[:, a + 1 :]) ** 2).sum(
            axis=0
        ) / variances[:, None]
        gaps = np.abs(moved[a] - moved[a + 1 :]) * inverse_errors[a, a + 1 :, None]
        best = np.maximum(
            best, (gaps / np.sqrt(np.maximum(squares, _TINY))).max(axis=0)
        )
    return best


@dataclass(frozen=True, eq=False)
class TwoJudges:
    """Strengths by two judges of the same pairs, those of the first less those of the
    second."""

    contrasts: tuple[Contrast, ...]  #: one for each model.
    tau: float  #: Kendall's τ-b of the two; ``spearman`` of their ranks.
    spearman: float


def two_judges(
    votes: Ballots,
    by_second: NDArray[np.bool_],
    *,
    ties: str = "half",
    errors: str = "two_way",
    level: float = 0.95,
) -> TwoJudges:
    """Fit two judges on the pairs (prompt and models) that both saw; who or what they
    have in common is one cluster.

    Args:
        votes: of both.
        by_second: which are of the second.
        ties: of the fits; ``errors``, not resampled; ``level`` of the intervals.
    """
    from scipy.stats import kendalltau, spearmanr

    keys = votes.prompts * votes.n_models**2 + votes.pairs
    both = np.intersect1d(keys[by_second], keys[~by_second])
    if not len(both):
        raise StatisticsError("the two judged no prompt and pair of models in common")
    fits = [
        fit_preferences(votes.subset(own & np.isin(keys, both)), ties=ties)
        for own in (~by_second, by_second)
    ]
    m, variances = votes.n_models, preference_errors(*fits, method=errors)
    theta = np.concatenate(
        [*(fit.strengths for fit in fits), *(fit.theta[m:] for fit in fits)]
    )
    weights = np.eye(m, len(theta)) - np.eye(m, len(theta), m)
    a, b = (fit.strengths for fit in fits)
    return TwoJudges(
        tuple(contrasts(theta, variances, weights, level=level)),
        float(kendalltau(a, b).statistic),
        float(spearmanr(a, b).statistic),
    )


@dataclass(frozen=True)
class Position(NamedFigures):
    """What being shown first is worth."""

    gamma: Contrast | None  #: log-odds of being shown first; None with a ``reason``.
    first_wins: float | None  #: chance of the first of two equal models, less a half.
    n_ordered: int  #: votes of which the order is known.
    #: χ² of the order against the pair, if each order were as likely: large where γ is
    #: confounded; a prompt counts once in each order. ``order_df`` and ``order_p``;
    #: None where no pair was shown twice.
    order_chi2: float | None
    order_df: int
    order_p: float | None
    n_twice: int  #: verdicts that the same judge gave on the same prompt and pair in both orders.
    n_changed: int  #: of these, how many changed with the order.
    n_first: int  #: changed verdicts that were for the first both times; ``n_second`` for the second.
    n_second: int
    #: of as many for the first as for the second (sign flip by prompt).
    flip_p: float | None
    reason: str  #: why there is no γ.

    @property
    def is_ordered(self) -> bool:
        """Whether orders were not random (p below .01)."""
        return self.order_p is not None and self.order_p < 0.01


def position_bias(
    votes: Ballots,
    *,
    ties: str = "half",
    errors: str = "two_way",
    level: float = 0.95,
    one_judge: bool = False,
) -> Position:
    """γ with its interval, orders against pairs, and verdicts that change with the
    order.

    Args:
        votes: without a covariate for position.
        ties: as the strengths were fitted.
        errors: of γ, not resampled.
        level: of its interval.
        one_judge: whether votes without a voter are of one judge, who may have judged
            twice.
    """
    gamma, reason = None, ""
    try:
        if votes.order_known.any():
            gamma = _position_effect(votes, ties, errors, level)
        else:
            fit_preferences(votes, ties=ties)  # what makes a fit impossible comes first
            reason = "no vote says who was shown first"
    except StatisticsError as error:
        reason = str(error)
    chi2, df = _order_against_pair(votes)
    verdicts = _in_both_orders(votes, one_judge)
    # of the first that was shown, each time
    changed = verdicts[:, 0] != -verdicts[:, 1]
    one, other, prompts = verdicts[changed].T
    both_first, both_second = (one > 0) & (other > 0), (one < 0) & (other < 0)
    sides = both_first.astype(np.float64) - both_second
    flip_p = first_wins = order_chi2 = order_p = None
    if sides.any():
        flip_p = sign_flip_test(sides, prompts.astype(np.intp)).p_value
    if gamma is not None:
        first_wins = float(special.expit(gamma.estimate)) - 0.5
    if df:
        order_chi2, order_p = chi2, float(special.chdtrc(df, chi2))
    return Position(
        gamma=gamma,
        first_wins=first_wins,
        n_ordered=int(votes.order_known.sum()),
        order_chi2=order_chi2,
        order_df=df,
        order_p=order_p,
        n_twice=len(verdicts),
        n_changed=len(one),
        n_first=int(both_first.sum()),
        n_second=int(both_second.sum()),
        flip_p=flip_p,
        reason=reason,
    )


def _position_effect(votes: Ballots, ties: str, errors: str, level: float) -> Contrast:
    """γ, what being shown first adds to a strength."""
    fit = fit_preferences(votes.with_position(), ties=ties)
    weights = np.zeros((1, len(fit.theta)))
    weights[0, votes.n_models + len(votes.names)] = 1
    of_fit = preference_errors(fit, method=errors)
    (gamma,) = contrasts(fit.theta, of_fit, weights, level=level)
    return gamma


def _order_against_pair(votes: Ballots) -> tuple[float, int]:
    """χ² of one order less the other, a prompt in an order counted once; and pairs that
    were shown twice or more."""
    order_known, shown = votes.order_known, _joined(votes.pairs, votes.prompts)
    order = (votes.first < votes.second).astype(np.intp)
    shown, index = np.unique((2 * shown + order)[order_known], return_index=True)
    at, side = numbered(votes.pairs[order_known][index]), shown % 2
    second, total = np.bincount(at, side), np.bincount(at)
    many = total > 1
    return float(((2 * second - total)[many] ** 2 / total[many]).sum()), int(many.sum())


def _in_both_orders(votes: Ballots, one_judge: bool) -> FloatArray:
    """Verdicts by the same judge on the same prompt and pair: for who was shown first,
    each way; and the prompt."""
    voters: IntArray = (
        np.zeros(votes.n, dtype=np.intp)
        if one_judge and not votes.identified[0]
        else votes.voters
    )
    order = (votes.first > votes.second).astype(np.intp)
    key = _joined(_joined(voters, votes.prompts), votes.pairs)
    index = np.flatnonzero(votes.order_known)
    index = index[np.lexsort((order[index], key[index]))]
    group = key[index] * 2 + order[index]
    turn = np.arange(len(index)) - np.searchsorted(
        group, group
    )  # which of the votes on the same in the same order
    slot = key[index] * (len(index) + 1) + turn
    sides = [slot[order[index] == side] for side in (0, 1)]
    _, a, b = np.intersect1d(
        sides[0], sides[1], assume_unique=True, return_indices=True
    )
    first, second = (index[order[index] == side] for side in (0, 1))
    signs = votes.signs
    return np.column_stack([signs[first[a]], signs[second[b]], votes.prompts[first[a]]])


def _joined(codes: IntArray, others: IntArray) -> IntArray:
    """A code for each two."""
    return numbered(numbered(codes) * (int(others.max(initial=0)) + 1) + others)
