"""Linear models of a figure of prompts on a feature of theirs, with cluster-robust
errors (CR2) and tests.

β̂ = (X'X)⁻¹X'y. V = M(Σ_c X_c'A_c e_c e_c'A_c X_c)M with M = (X'X)⁻¹ and A_c = (I − X_c
M X_c')^(−½) (Bell and McCaffrey 2002): unbiased where scores are independent and of one
variance. Degrees of freedom are Satterthwaite's under that model; several coefficients
together take the approximation to Hotelling's T² of Pustejovsky and Tipton (2018),
which is the t test for one. Without clusters each prompt is one of its own (HC2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import (
    Clusters,
    FloatArray,
    as_floats,
    as_level,
    as_scores,
    check_length,
    clusters_if_any,
    one_unit_each,
)
from warehouse.stats.core.quantiles import SMALLEST_P, t_p_value, t_quantile
from warehouse.stats.core.results import NamedFigures, flags_of

#: Satterthwaite's degrees of freedom below which the interval may cover too little
#: (Tipton and Pustejovsky 2015).
FEW_DF = 4.0
#: A group of fewer prompts than so many times the squared skewness of the figure is
#: found different too often.
SKEWED = 40.0
#: A cluster of more than this share of the leverage in a direction decides alone what
#: is found in it.
_ALONE = 1 - 1e-9
#: Spread below this share of the mean is rounding.
_NO_SPREAD = 1e-24
#: Condition of a matrix beyond which some direction of it is rounding.
_COLLINEAR = 1e12

ONE_CLUSTER = "one prompt or cluster has all that tells this apart"
CONSTANT = "the same for all prompts"
NO_VARIATION = "the figure is the same for all prompts"
FEW = "too few prompts"


@dataclass(frozen=True)
class Slope(NamedFigures):
    """The change of a figure for one unit more of a feature, or of a group against the
    rest."""

    estimate: float | None  #: per unit; None where it cannot be had.
    standard_error: float | None  #: CR2, HC2 without clusters.
    ci_low: float | None  #: lower end of the interval.
    ci_high: float | None  #: upper end.
    df: float | None  #: Satterthwaite's degrees of freedom.
    p_value: float | None  #: two-sided, of no slope.
    #: ``few_clusters`` where df is below 4; ``skewed`` where the figure is so skewed
    #: that a group of so few prompts is found different too often (simulated near a
    #: ceiling: 9 % and not 5 %).
    flags: tuple[str, ...]
    reason: str  #: why there is no slope, or no error.


@dataclass(frozen=True)
class JointTest(NamedFigures):
    """Whether any of several columns of a model has a slope."""

    statistic: float | None  #: F; None where it cannot be had.
    #: degrees of freedom of the denominator; those of the numerator are the columns.
    df_error: float | None
    p_value: float | None  #: of none at all.
    flags: tuple[str, ...]  #: ``skewed``, as of `Slope`.
    reason: str  #: why there is none.


def slope(
    y: ArrayLike,
    x: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    level: float = 0.95,
) -> Slope:
    """Least-squares slope of ``y`` on ``x``, with an intercept.

    Args:
        y: figure of each prompt, finite, shape (n,).
        x: feature of each, finite; 0 and 1 for a group against the rest, shape (n,).
        clusters: cluster of each prompt, shape (n,).

    Raises:
        StatisticsError: values that are not finite, lengths that differ.
    """
    as_level(level)
    values, feature = as_scores(y, "y"), as_scores(x, "x")
    check_length(len(feature), len(values), "x")
    groups = clusters_if_any(clusters, len(values))
    found, reason = _fitted(values, feature[:, None], groups)
    if found is None:
        return Slope(None, None, None, None, None, None, (), reason)
    beta, se, df = float(found.beta[0]), math.sqrt(found.v[0, 0]), found.eta
    half = t_quantile(level, df) * se
    flags = flags_of(few_clusters=df < FEW_DF) + _skewed(values, feature[:, None])
    p = t_p_value(beta / se, df)
    return Slope(beta, se, beta - half, beta + half, df, p, flags, "")


def joint_test(
    y: ArrayLike, columns: ArrayLike, clusters: ArrayLike | None = None
) -> JointTest:
    """Whether ``y`` goes with any of several columns.

    Args:
        y: figure of each prompt, finite, shape (n,).
        columns: such as 0 and 1 for each group of prompts but one, finite, shape (n,
            q).
        clusters: cluster of each prompt, shape (n,).

    Raises:
        StatisticsError: values that are not finite, lengths that differ.
    """
    values, x = as_scores(y, "y"), as_floats(columns, "columns")
    if x.ndim != 2 or not np.isfinite(x).all():
        raise StatisticsError(
            f"`columns` must be prompts x columns, all finite, found shape {x.shape}"
        )
    check_length(len(x), len(values), "columns")
    q = x.shape[1]
    if not q:
        return JointTest(None, None, None, (), CONSTANT)
    found, reason = _fitted(values, x, clusters_if_any(clusters, len(values)))
    if found is None:
        return JointTest(None, None, None, (), reason)
    rest = found.eta - q + 1
    if rest <= 0:
        return JointTest(None, None, None, (), "too few clusters for so many groups")
    wald = float(found.beta @ np.linalg.solve(found.v, found.beta))
    f = rest / (found.eta * q) * wald
    p = max(float(special.fdtrc(q, rest, f)), SMALLEST_P)
    return JointTest(f, rest, p, _skewed(values, x), "")


def _skewed(y: FloatArray, columns: FloatArray) -> tuple[str, ...]:
    """The flag of groups that are small for so skewed a figure; none for columns that
    are no groups."""
    if not np.isin(columns, (0, 1)).all():
        return ()
    ones = columns.sum(axis=0)
    if columns.shape[1] > 1:
        rest = len(y) - columns.any(axis=1).sum()
    else:
        rest = len(y) - ones[0]
    # without a rest the columns overlap
    smallest = min(float(ones.min()), float(rest) or math.inf)
    centred = y - y.mean()
    skewness = float((centred**3).mean()) / float((centred**2).mean()) ** 1.5
    if smallest < SKEWED * skewness**2:
        return ("skewed",)
    return ()


@dataclass(frozen=True)
class _Fit:
    """Coefficients without the intercept, their CR2 variance, and η of Hotelling's
    approximation."""

    beta: FloatArray
    v: FloatArray
    eta: float


def _fitted(
    y: FloatArray, features: FloatArray, clusters: Clusters | None
) -> tuple[_Fit | None, str]:
    """The model with an intercept; None with the reason."""
    n, q = features.shape
    if n <= q + 1 or (clusters is not None and clusters.n < 2):
        return None, FEW
    centre = features.mean(axis=0)
    scale = features.std(axis=0)
    if (scale**2 <= _NO_SPREAD * centre**2).any():
        return None, CONSTANT
    if y.var() <= _NO_SPREAD * y.mean() ** 2:
        return None, NO_VARIATION
    x = np.column_stack([np.ones(n), (features - centre) / scale])
    if np.linalg.cond(x.T @ x) > _COLLINEAR:
        return None, "two of the groups say the same"
    bread = np.linalg.inv(x.T @ x)
    beta = bread @ (x.T @ y)
    adjusted = _adjusted(x, bread, clusters)
    if adjusted is None:
        return None, ONE_CLUSTER
    codes = (clusters or one_unit_each(n)).codes
    residuals = y - x @ beta
    sums = _sums(adjusted * residuals[:, None], codes)
    v = sums.T @ sums
    # no residual is left, or none in one direction
    if not (np.diag(v) > 0).all() or np.linalg.cond(v) > _COLLINEAR:
        return None, "the feature leaves nothing unexplained"
    eta = _eta(x, bread, adjusted, codes)
    return _Fit(beta[1:] / scale, v / np.outer(scale, scale), eta), ""


def _adjusted(
    x: FloatArray, bread: FloatArray, clusters: Clusters | None
) -> FloatArray | None:
    """A_c X_c M without the intercept's column, row by row, shape (n, q); None where a
    cluster has all leverage."""
    if clusters is None:
        leverage = np.einsum("ij,jk,ik->i", x, bread, x)
        if (leverage > _ALONE).any():
            return None
        along = (x @ bread)[:, 1:]
        return np.asarray(along / np.sqrt(1 - leverage)[:, None], np.float64)
    root = np.linalg.cholesky(bread)
    half = x @ root  # half half' is the hat matrix
    found = x @ bread
    order = np.argsort(clusters.codes, kind="stable")
    for rows in np.split(order, np.cumsum(clusters.sizes.astype(np.intp))[:-1]):
        values, vectors = np.linalg.eigh(half[rows].T @ half[rows])
        if values[-1] > _ALONE:
            return None
        # (I − hh')^(−½) h = h (I − h'h)^(−½)
        inverse = (vectors / np.sqrt(1 - np.maximum(values, 0))) @ vectors.T
        found[rows] = half[rows] @ inverse @ root.T
    return found[:, 1:]


def _sums(values: FloatArray, codes: NDArray[np.intp]) -> FloatArray:
    """Sum of the rows of each cluster, shape (G, columns)."""
    return np.column_stack([np.bincount(codes, weights=column) for column in values.T])


def _eta(
    x: FloatArray, bread: FloatArray, adjusted: FloatArray, codes: NDArray[np.intp]
) -> float:
    """q(q+1) over the summed variances of the parts of Ω^(−½)VΩ^(−½), Ω = E V, prompts
    independent of one variance.

    With g_c = A_c X_c M Ω^(−½) the rows p_c = (I − H)'g_c have p_c'p_d = δ_cd g_c'g_c −
    g_c'X_c M X_d'g_d; all sums over pairs of clusters are taken apart, so that it costs
    one pass.
    """
    q, p = adjusted.shape[1], x.shape[1]
    values, vectors = np.linalg.eigh(bread[1:, 1:])
    g = adjusted @ (vectors / np.sqrt(values)) @ vectors.T
    n_clusters = int(codes.max()) + 1
    gram = _sums_of_products(g, g, codes)
    b = _sums_of_products(g, x, codes)
    u = b @ bread
    own = u @ b.transpose(0, 2, 1)
    trace = np.trace(gram, axis1=1, axis2=2)
    own_trace = np.trace(own, axis1=1, axis2=2)
    of_gram = np.einsum("cst,cts->", gram, gram)
    of_own = np.einsum("cst,cts->", gram, own)
    same_rows = (trace**2).sum() - 2 * (trace * own_trace).sum()
    same_rows += of_gram - 2 * of_own
    flat_u, flat_b = u.reshape(n_clusters, q * p), b.reshape(n_clusters, q * p)
    uu = (flat_u.T @ flat_u).reshape(q, p, q, p)
    bb = (flat_b.T @ flat_b).reshape(q, p, q, p)
    crossed = np.einsum("sbtf,sbtf->", uu, bb) + np.einsum("sbtf,tbsf->", uu, bb)
    return float(q * (q + 1) / (same_rows + crossed))


def _sums_of_products(
    a: FloatArray, b: FloatArray, codes: NDArray[np.intp]
) -> FloatArray:
    """Σ a bᵀ over the rows of each cluster, shape (G, columns of a, columns of b)."""
    products = a[:, :, None] * b[:, None, :]
    sums = _sums(products.reshape(len(a), -1), codes)
    return sums.reshape(-1, a.shape[1], b.shape[1])
