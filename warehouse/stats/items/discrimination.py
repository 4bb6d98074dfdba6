"""Difficulty and discrimination of items: raw, corrected, and as a fitted model implies
(statistics.md §5, §13)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import ROUNDING, FloatArray, as_floats, rejects
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.items.responses import Responses, cell_blocks
from warehouse.stats.multiple.adjust import benjamini_hochberg

if TYPE_CHECKING:
    from warehouse.stats.items.irt import IrtFit

#: Below so many models a raw correlation is mostly noise.
MODELS_FOR_RAW = 30
_BLOCK = 1 << 18
#: Prior standard deviations of slope and intercept of a free discrimination, which keep
#: perfect separation finite.
_SD_SLOPE, _SD_INTERCEPT = 2.0, 3.0
_STEPS = 25
_NO_SPREAD = 1e-12
#: Mean, scale and 95 % quantile of the Tracy–Widom law, which the largest squared
#: singular value of noise follows (Johnstone 2001).
_TRACY_WIDOM = 0.9793


@dataclass(frozen=True, eq=False)
class Discrimination(NamedFigures):
    """How items go with the rest of the benchmark, over models."""

    difficulty: FloatArray  #: mean score over the models that answered, shape (J,).
    n_models: NDArray[np.intp]  #: models that answered, shape (J,).
    #: Pearson correlation of the item with the overall score, itself included; NaN
    #: where the item or the overall score is constant.
    raw: FloatArray
    corrected: FloatArray  #: the same with the sum of the other items: r_c; NaN where that is constant.
    #: the same with rest scores in which items against the others count in reverse
    #: (`orientation`).
    oriented: FloatArray
    #: one-sided p of ``oriented`` < 0: Student's t with models − 2 degrees of freedom;
    #: 1 where ``corrected`` is not below 0.
    p_negative: FloatArray
    q_negative: FloatArray  #: the same after Benjamini and Hochberg over items.
    is_negative: NDArray[np.bool_]  #: q_negative at most ``alpha``.
    is_constant: NDArray[np.bool_]  #: every model has the same score.
    alpha: float  #: expected share of false ones among the negative items.
    #: ``noise`` (fewer than 30 models: raw figures are mostly noise).
    flags: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{len(self.raw)} items: {int(self.is_negative.sum())} negative, "
            f"{int(self.is_constant.sum())} constant, median r_c "
            f"{_median(self.corrected):.3g}"
        )


def discrimination(scores: ArrayLike, *, alpha: float = 0.05) -> Discrimination:
    """Difficulty, discrimination and significantly negative items.

    With missing cells the overall score of a model is its mean over the items it
    answered, and the rest score the mean over the others of them: the same correlations
    where nothing is missing.

    Args:
        scores: models x items, finite, NaN where missing, shape (M, J), M and J at
            least 2.
        alpha: false discovery rate of the negative items.

    Raises:
        StatisticsError: another shape, infinite scores, alpha outside (0, 1).

    Examples:
        >>> items = discrimination([[1, 1, 0], [0, 1, 0], [1, 1, 1], [0, 0, 0]])
        >>> print(items)
        3 items: 0 negative, 0 constant, median r_c 0.522
    """
    y = as_table(scores)
    if not 0 < alpha < 1:
        raise StatisticsError(f"`alpha` must lie between 0 and 1, found {alpha}")
    present = ~np.isnan(y)
    n_models = present.sum(axis=0)
    raw, corrected, constant = correlations(y)
    totals = np.where(present, y, 0).sum(axis=0)
    means = totals / np.where(n_models > 0, n_models, np.nan)
    signs = orientation(y - means)
    oriented = corrected
    if not (signs > 0).all():
        # Mirrored at its mean, an item leaves the level of models that were not asked
        # it where it was.
        mirrored = means + signs * (y - means)
        oriented = signs * correlations(mirrored)[1]
    p = np.where(corrected >= 0, 1.0, _p_negative(oriented, n_models))
    q = benjamini_hochberg(p)
    return Discrimination(
        difficulty=means,
        n_models=n_models.astype(np.intp),
        raw=raw,
        corrected=corrected,
        oriented=oriented,
        p_negative=p,
        q_negative=q,
        is_negative=rejects(q, alpha),
        is_constant=constant,
        alpha=alpha,
        flags=flags_of(noise=y.shape[0] < MODELS_FOR_RAW),
    )


def correlations(y: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Raw and corrected correlation of each item (NaN where not defined), and which
    items are constant."""
    present = ~np.isnan(y)
    scored = np.where(present, y, 0.0)
    counts = present.sum(axis=1).astype(np.float64)
    totals = scored.sum(axis=1)
    n_items = y.shape[1]
    raw = np.full(n_items, np.nan)
    corrected = np.full(n_items, np.nan)
    constant = np.zeros(n_items, bool)
    width = max(1, _BLOCK // len(y))
    with np.errstate(divide="ignore", invalid="ignore"):
        overall = totals / counts
        for start in range(0, n_items, width):
            block = slice(start, start + width)
            values = scored[:, block]
            mask = present[:, block]
            of_all = np.broadcast_to(overall[:, None], values.shape)
            rest = (totals[:, None] - values) / (counts[:, None] - 1)
            raw[block] = _correlation(values, of_all, mask)
            corrected[block] = _correlation(values, rest, mask & np.isfinite(rest))
            low = np.where(mask, values, np.inf).min(axis=0)
            high = np.where(mask, values, -np.inf).max(axis=0)
            size = np.maximum(np.abs(high), np.abs(low))
            constant[block] = high - low <= ROUNDING * size
    return raw, corrected, constant


def orientation(centred: FloatArray) -> FloatArray:
    """Which items go with the others, 1, and which against them, −1, the majority taken
    to be 1, shape (J,).

    The signs of the first right singular vector of the standardised matrix. All 1 where
    its singular value is one that noise alone may have (Tracy and Widom's 95 % point):
    then signs would be those of the noise. Where half the items or more are reversed,
    the others are −1: which side is right is not identified.
    """
    z = np.nan_to_num(centred)
    spread = np.sqrt((z * z).mean(axis=0))
    varies = spread > ROUNDING * max(1.0, float(spread.max(initial=0.0)))
    z = z[:, varies] / spread[varies]
    signs = np.ones(centred.shape[1])
    m, n = len(centred) - 2, z.shape[1]
    if m < 1 or n < 2:
        return signs
    loadings, largest = _first_singular(z)
    edge = math.sqrt(m) + math.sqrt(n)
    spread_of_largest = edge * (1 / math.sqrt(m) + 1 / math.sqrt(n)) ** (1 / 3)
    if largest * (m + 1) / len(z) < edge**2 + _TRACY_WIDOM * spread_of_largest:
        return signs
    own = np.where(loadings < 0, -1.0, 1.0)
    if own.sum() >= 0:
        signs[varies] = own
    else:
        signs[varies] = -own
    return signs


def _first_singular(z: FloatArray) -> tuple[FloatArray, float]:
    """The first right singular vector, up to its length, and its squared singular
    value."""
    wide = z.shape[0] < z.shape[1]
    with one_blas_thread():
        if wide:
            products = z @ z.T
        else:
            products = z.T @ z
        values, vectors = np.linalg.eigh(products)
    first = vectors[:, -1]
    if wide:
        first = z.T @ first
    return first, float(values[-1])


#: What no list of items against the rest can tell.
UNIDENTIFIED = "Were half of them or more reversed, the others would be flagged"
#: Share of reversed items that is found, by simulation
#: (docs/reference/methods_items.md): models, least
#: and most.
_POWER = (
    (140, "about .8 to .95 at 140 models"),
    (60, "about .4 to .75 at 60 models"),
    (29, "about .1 to .4 at 29 models"),
    (0, "below .1 at 10 models and about .1 to .4 at 29"),
)


def power_of_flags(n_models: int) -> str:
    """What share of reversed items so many models flag, in words."""
    return f"power {next(power for least, power in _POWER if n_models >= least)}"


def mean_correlations(scores: ArrayLike) -> FloatArray:
    """Mean Pearson correlation over models of each item with each other one, shape
    (n,).

    With z_i the centred scores of item i at unit length it is (z_i·Σ_j z_j − 1)/(m −
    1): one pass. Items that a model did not answer, or that all answered alike, are NaN
    and not among the m others.

    Args:
        scores: items x models, NaN where missing.
    """
    y = as_table(scores)
    centred = y - y.mean(axis=1, keepdims=True)
    lengths = np.sqrt(np.square(centred).sum(axis=1))
    used = lengths > math.sqrt(_NO_SPREAD) * np.abs(y).sum(axis=1)
    found = np.full(len(y), math.nan)
    z = centred[used] / lengths[used, None]
    if len(z) > 1:
        found[used] = (z @ z.sum(axis=0) - 1) / (len(z) - 1)
    return found


def implied_discrimination(fit: IrtFit, responses: Responses) -> FloatArray:
    """Corrected discrimination that a fitted model implies for these models, shape
    (J,).

    Cov_m(P_j, ΣP − P_j)/sqrt(P̄_j(1−P̄_j)(Var_m(ΣP − P_j) + mean_m Σ_{i≠j} P_i(1−P_i)))
    at the EAP abilities, ddof 0, as if every model had answered every item once. Far
    less noisy than the raw figure, and never below 0 as a is not.

    Raises:
        StatisticsError: answers of another fit.
    """
    fit.check_same(responses)
    total, spread = np.zeros(len(fit.models)), np.zeros(len(fit.models))
    for p in _chances(fit):
        total += p.sum(axis=1)
        spread += (p * (1 - p)).sum(axis=1)
    discriminations = []
    for p in _chances(fit):
        rest = total[:, None] - p
        mean = p.mean(axis=0)
        covariance = ((p - mean) * (rest - rest.mean(axis=0))).mean(axis=0)
        noise = (spread[:, None] - p * (1 - p)).mean(axis=0)
        variances = mean * (1 - mean) * (rest.var(axis=0) + noise)
        discriminations.append(covariance / np.sqrt(variances))
    return np.concatenate(discriminations)


@dataclass(frozen=True, eq=False)
class FreeDiscrimination(NamedFigures):
    """How items go with the ability that a model fits, where it may be negative.

    The a of a fitted model is above 0: an item that able models fail, as one with a
    wrong key, only gets a small one. Abilities come from the items with large ones, so
    that items against them show here even where they are many and the sum of scores
    hides them.
    """

    #: of ln odds of a right answer on the fitted abilities, logits per standard
    #: deviation of the models, shape (J,); NaN where all answers are alike.
    slope: FloatArray
    p_negative: FloatArray  #: one-sided p of a correlation with the abilities below 0, by Student's t.
    q_negative: FloatArray  #: the same after Benjamini and Hochberg over items.
    is_negative: NDArray[np.bool_]  #: q_negative at most ``alpha``.

    def __str__(self) -> str:
        return (
            f"{int(self.is_negative.sum())} of {len(self.slope)} items go against the "
            "fitted ability"
        )


def free_discrimination(
    fit: IrtFit, responses: Responses, *, alpha: float = 0.05
) -> FreeDiscrimination:
    """Logistic regression of each item on the abilities (EAP) of a fit, without a bound
    at 0.

    Penalised by N(0, 2²) on the slope and N(0, 3²) on the intercept; the test is of the
    correlation of the share right with the abilities, over the models that answered.

    Raises:
        StatisticsError: answers of another fit.
    """
    fit.check_same(responses)
    theta = (fit.theta - fit.theta.mean()) / (fit.theta.std() or 1.0)
    slope, r, n = np.full((3, len(fit.a)), np.nan)
    for items, y, k in cell_blocks(responses):
        draws = np.broadcast_to(np.asarray(k, dtype=np.float64), y.shape)
        answered = draws > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            share = y / np.where(answered, draws, 1)
            abilities = np.broadcast_to(theta[:, None], y.shape)
            r[items] = _correlation(share, abilities, answered)
        n[items] = answered.sum(axis=0)
        slopes = _slopes(theta, y, draws)
        slope[items] = np.where(np.isnan(r[items]), np.nan, slopes)
    p = _p_negative(r, n.astype(np.intp))
    q = benjamini_hochberg(p)
    return FreeDiscrimination(slope, p, q, rejects(q, alpha))


def _slopes(theta: FloatArray, y: FloatArray, k: FloatArray) -> FloatArray:
    """Penalised logistic slopes of each column by Newton's method."""
    a, d = np.zeros(y.shape[1]), np.zeros(y.shape[1])
    x = theta[:, None]
    for _ in range(_STEPS):
        p = special.expit(x * a + d)
        w = k * p * (1 - p)
        e = y - k * p
        g_d = e.sum(axis=0) - d / _SD_INTERCEPT**2
        g_a = (x * e).sum(axis=0) - a / _SD_SLOPE**2
        h_dd = w.sum(axis=0) + 1 / _SD_INTERCEPT**2
        h_da = (x * w).sum(axis=0)
        h_aa = (x * x * w).sum(axis=0) + 1 / _SD_SLOPE**2
        determinant = h_dd * h_aa - h_da**2
        step_a = (h_dd * g_a - h_da * g_d) / determinant
        step_d = (h_aa * g_d - h_da * g_a) / determinant
        longest = np.maximum(abs(step_a), abs(step_d))
        shorter = np.minimum(1.0, 2.0 / np.maximum(longest, 1e-300))
        a = a + shorter * step_a
        d = d + shorter * step_d
    return a


def smallest_against(n_models: int, n_items: int, alpha: float = 0.05) -> float:
    """The r_c that one item alone must be at or below, among so many, to count as going
    against the rest.

    r = t/sqrt(t² + M − 2) with t the α/J quantile of Student's t with M − 2 degrees of
    freedom.

    Returns:
        in (−1, 0); NaN with fewer than 3 models.
    """
    if n_models < 3:
        return math.nan
    t = float(special.stdtrit(n_models - 2, alpha / n_items))
    return t / math.sqrt(t * t + n_models - 2)


def _chances(fit: IrtFit) -> Iterator[FloatArray]:
    """P at the EAP abilities, in blocks of items, shapes (M, B)."""
    width = max(1, _BLOCK // len(fit.theta))
    for start in range(0, len(fit.a), width):
        block = slice(start, start + width)
        yield special.expit(np.multiply.outer(fit.theta, fit.a[block]) + fit.d[block])


def as_table(scores: ArrayLike, name: str = "scores") -> FloatArray:
    """Scores as models x items, NaN where missing (StatisticsError: another shape,
    infinite scores)."""
    y = as_floats(scores, name)
    if y.ndim != 2 or min(y.shape) < 2:
        raise StatisticsError(
            f"`{name}` must be models x items, at least 2 x 2, found shape {y.shape}"
        )
    if np.isinf(y).any():
        row, column = np.argwhere(np.isinf(y))[0]
        raise StatisticsError(
            f"`{name}` holds infinite values (first: model {row}, item {column})"
        )
    return y


def _correlation(x: FloatArray, z: FloatArray, mask: NDArray[np.bool_]) -> FloatArray:
    """Pearson's r of each column over the rows of its mask, 0 where it is rounding; NaN
    where a side does not vary."""
    n = mask.sum(axis=0)
    mean_x = np.where(mask, x, 0).sum(axis=0) / n
    mean_z = np.where(mask, z, 0).sum(axis=0) / n
    dx = np.where(mask, x - mean_x, 0.0)
    dz = np.where(mask, z - mean_z, 0.0)
    xx = (dx * dx).sum(axis=0)
    zz = (dz * dz).sum(axis=0)
    xz = (dx * dz).sum(axis=0)
    varies = (xx > _NO_SPREAD * n * mean_x**2) & (zz > _NO_SPREAD * n * mean_z**2)
    size = np.sqrt(xx * zz)
    r = np.where(np.abs(xz) > ROUNDING * size, np.clip(xz / size, -1, 1), 0.0)
    return np.where(varies, r, np.nan)


def _p_negative(r: FloatArray, n: NDArray[np.int_]) -> FloatArray:
    df = np.where(n > 2, n - 2.0, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = r * np.sqrt(df / (1 - r**2))
    return np.asarray(special.stdtr(df, t), dtype=np.float64)


def _median(values: FloatArray) -> float:
    defined = values[~np.isnan(values)]
    if len(defined):
        return float(np.median(defined))
    return math.nan
