"""Errors of strengths with votes that hang together twice: by voter and by prompt
(statistics.md §15).

Two-way (Cameron, Gelbach and Miller 2011), each one-way part a one-step jackknife:
cluster g is left out by its leave-one-out residuals f = (I − Z J Zᵀ)⁻¹e, which need
only its own rows Z (Woodbury), so that J Σ(Zᵀf)(Zᵀf)ᵀ J is the sum over clusters of the
squared changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.core.results import flags_of
from warehouse.stats.core.sample import components
from warehouse.stats.preferences.ballots import Ballots, IntArray, numbered
from warehouse.stats.preferences.fit import ROWS, Fit, Rows

FEW_DEGREES = 10
#: A pivot, as a share, that is 0 but for rounding; numbers of a stack of matrices.
_SINGULAR, _CELLS = 1e-10, 1 << 21
#: Rows up to which clusters of like size are taken together.
_SMALL = 48
#: Rows for each coefficient from which on the coefficients are solved for.
_WIDE = 0.7


@dataclass(frozen=True, eq=False)
class Errors:
    """Variances of coefficients: of a contrast the largest of the parts that there are."""

    sum: FloatArray | None  #: voters + prompts − cells; None where only one way counts.
    #: V of voters; None where it does not count; ``prompts`` of prompts.
    voters: FloatArray | None
    prompts: FloatArray | None
    degrees_of_freedom: float | None  #: common to all.
    effective: tuple[float, float]  #: voters and prompts, each as 1/Σ share².
    #: n_voters, n_prompts: clusters.
    n_voters: int
    n_prompts: int
    reason: str  #: why there are none.
    flags: tuple[str, ...]  #: ``few_clusters``, ``jackknife_singular``.
    #: groups of models that only one voter or one prompt holds to the rest, 1 for its
    #: members, shape (s, M): no error says how far such a group may lie from the rest.
    loose: FloatArray

    @property
    def parts(self) -> dict[str, FloatArray]:
        """Those that there are."""
        return {
            name: v
            for name in ("sum", "voters", "prompts")
            if (v := getattr(self, name)) is not None
        }

    def variance(self, contrasts: FloatArray) -> tuple[FloatArray, list[str]]:
        """Of contrasts, shape (m, d): the variance of each (NaN without), and the part
        that is the largest."""
        if self.reason or not len(contrasts):
            return np.full(len(contrasts), np.nan), [""] * len(contrasts)
        names = list(self.parts)
        each = np.empty((len(names), len(contrasts)))
        for own, v in zip(each, self.parts.values(), strict=True):
            own[:] = np.einsum("md,md->m", contrasts @ v, contrasts)
        of_models = contrasts[:, : self.loose.shape[1]]
        moved = np.abs(of_models @ self.loose.T) > 0.5 - 1e-9
        largest = np.where(moved.any(axis=1), np.nan, each.max(axis=0))
        return largest, [names[at] for at in each.argmax(axis=0)]

    def of_pairs(self, m: int) -> FloatArray:
        """Variances of all differences of the first m, shape (m, m)."""
        each = [_differences(v[:m, :m]) for v in self.parts.values()]
        if self.reason or not each:
            return np.full((m, m), np.nan)
        apart = (self.loose[:, :m, None] != self.loose[:, None, :m]).any(axis=0)
        return np.where(apart, np.nan, np.max(each, axis=0))


def _differences(v: FloatArray) -> FloatArray:
    own = np.diag(v)
    return own[:, None] + own[None] - 2 * v


def preference_errors(*fits: Fit, method: str = "two_way") -> Errors:
    """Variances of coefficients (``two_way``, ``cr1``, ``voters`` or ``prompts``); none
    of a fit with a penalty.

    Args:
        fits: one, or several whose voters and prompts may be the same: coefficients are
            the strengths of one after the other, then what else each has.
        method: of the errors.
    """
    votes = [fit.votes for fit in fits]
    voters = numbered(np.concatenate([b.voters for b in votes]))
    prompts = numbered(np.concatenate([b.prompts for b in votes]))
    weights = np.concatenate([b.weights for b in votes])
    none = Errors(
        sum=None,
        voters=None,
        prompts=None,
        degrees_of_freedom=None,
        effective=(_effective(voters, weights), _effective(prompts, weights)),
        n_voters=int(voters.max()) + 1,
        n_prompts=int(prompts.max()) + 1,
        reason="",
        flags=(),
        loose=np.zeros((0, 0)),
    )
    if any(fit.ridge for fit in fits):
        return replace(none, reason="penalised strengths have no standard errors")
    ways = {"voters": voters, "prompts": prompts}
    ways, reason = _ways_that_count(ways, votes, method)
    if reason:
        return replace(none, reason=reason)
    return _with_variances(none, fits, ways, jackknife=method != "cr1")


def _ways_that_count(
    ways: dict[str, IntArray], votes: Sequence[Ballots], method: str
) -> tuple[dict[str, IntArray], str]:
    """Clusters of each way that a method goes by, or why there is none."""
    identified = {
        "voters": any(b.identified[0] for b in votes),
        "prompts": any(b.identified[1] for b in votes),
    }
    if method in ways:
        if not identified[method]:
            return {}, f"no vote names its {method[:-1]}"
        ways = {method: ways[method]}
    elif not identified["prompts"]:
        # of voters alone; where none is known either, of independent votes
        ways = {"voters": ways["voters"]}
    for way, codes in ways.items():
        if codes.max() == codes.min():
            return {}, (
                f"all votes are of one {way[:-1]}: nothing says how others would differ"
            )
    return ways, ""


def _with_variances(
    none: Errors, fits: Sequence[Fit], ways: dict[str, IntArray], *, jackknife: bool
) -> Errors:
    """The errors by each of the ways, and by both."""
    inverse = _along_diagonal(fits, "inverse")
    information = _along_diagonal(fits, "information")
    parts: dict[str, FloatArray] = {}
    loose: list[FloatArray] = []
    for way, codes in ways.items():
        parts[way], singular = _one_way(
            fits, codes, inverse, information, jackknife=jackknife
        )
        if singular:
            groups = _loose(fits, codes)
            if not groups:
                return replace(
                    none, reason=f"a covariate varies within one {way[:-1]} only"
                )
            loose += groups
    total = None
    if len(parts) == 2:
        cells = ways["voters"] * none.n_prompts + ways["prompts"]
        of_cells, _ = _one_way(fits, cells, inverse, information, jackknife=False)
        total = parts["voters"] + parts["prompts"] - of_cells
    effective = dict(zip(("voters", "prompts"), none.effective, strict=True))
    degrees = max(1.0, min(effective[way] for way in ways) - 1)
    n_models = sum(fit.votes.n_models for fit in fits)
    return replace(
        none,
        sum=total,
        voters=parts.get("voters"),
        prompts=parts.get("prompts"),
        degrees_of_freedom=degrees,
        flags=flags_of(few_clusters=degrees < FEW_DEGREES, jackknife_singular=loose),
        loose=np.array(loose).reshape(len(loose), n_models),
    )


def _along_diagonal(fits: Sequence[Fit], name: str) -> FloatArray:
    """A matrix of each fit as a block of a large one: strengths first, then the other
    coefficients."""
    models = sum(fit.votes.n_models for fit in fits)
    others = sum(len(fit.names) for fit in fits)
    whole = np.zeros((models + others, models + others))
    model, other = 0, models
    for fit in fits:
        next_model = model + fit.votes.n_models
        next_other = other + len(fit.names)
        own = np.r_[model:next_model, other:next_other]
        whole[np.ix_(own, own)] = getattr(fit, name)
        model, other = next_model, next_other
    return whole


def _loose(fits: Sequence[Fit], codes: IntArray) -> list[FloatArray]:
    """Groups of models that hold to others by the votes of one cluster alone."""
    sizes = np.cumsum([0, *(fit.votes.n_models for fit in fits)])
    m = int(sizes[-1])
    of_fits = list(zip(fits, sizes, strict=False))
    a = np.concatenate([fit.votes.first + at for fit, at in of_fits])
    b = np.concatenate([fit.votes.second + at for fit, at in of_fits])
    together = components(a, b, m)
    met = np.unique(np.stack([np.minimum(a, b), np.maximum(a, b), codes]), axis=1)
    pair = numbered(met[0] * m + met[1])
    firm = np.bincount(pair)[pair] > 1
    core = components(met[0, firm], met[1, firm], m)
    # what one cluster alone adds to the rest
    left = met[:, ~firm & (core[met[0]] != core[met[1]])]
    found = []
    for cluster in np.unique(left[2]):
        others = left[:, left[2] != cluster]
        one = np.r_[met[0, firm], others[0]]
        other = np.r_[met[1, firm], others[1]]
        group = components(one, other, m)
        for label in np.unique(group):
            members = group == label
            whole = together == together[members][0]
            if whole.sum() > members.sum():
                found.append(members.astype(np.float64))
    return found


def _effective(codes: IntArray, weights: FloatArray) -> float:
    """1/Σ f², f the share of a cluster in the votes."""
    shares = np.bincount(codes, weights) / weights.sum()
    return float(1 / (shares**2).sum())


def _one_way(
    fits: Sequence[Fit],
    codes: IntArray,
    inverse: FloatArray,
    information: FloatArray,
    *,
    jackknife: bool,
) -> tuple[FloatArray, bool]:
    """V of one kind of cluster, and whether the jackknife was asked for and is not
    defined."""
    import scipy.linalg  # noqa: F401  # before its threads are counted

    rows, cluster = _cluster_rows(fits, codes)
    n = int(cluster[-1]) + 1
    left = None
    if jackknife:
        # many small systems: threads would only wait for each other
        with one_blas_thread():
            left = leave_one_out(rows, cluster, inverse, information)
    if left is not None:
        share = (n - 1) / n
        meat = _meat(rows, cluster, left)
    else:
        share = n / (n - 1)
        meat = _meat(rows, cluster, rows.left)
    v: FloatArray = share * (inverse @ meat @ inverse)
    return v, jackknife and left is None


def _cluster_rows(fits: Sequence[Fit], codes: IntArray) -> tuple[Rows, IntArray]:
    """The rows of all fits, those of a cluster together, and the cluster of each; votes
    alike in a cluster are one."""
    m = sum(fit.votes.n_models for fit in fits)
    more = sum(len(fit.names) for fit in fits)
    found: list[Rows] = []
    clusters: list[IntArray] = []
    start, models, column = 0, 0, 0
    for fit in fits:
        votes = fit.votes
        own = codes[start : start + votes.n]
        rows, cluster = _rows_of(fit, own)
        extra = np.zeros((len(rows.a), more))
        extra[:, column : column + len(fit.names)] = rows.extra
        found.append(
            Rows(rows.a + models, rows.b + models, rows.scale, extra, rows.left, m)
        )
        clusters.append(cluster)
        start += votes.n
        models += votes.n_models
        column += len(fit.names)
    if len(found) == 1:
        return found[0], np.cumsum(np.diff(clusters[0], prepend=clusters[0][0]) > 0)
    cluster = numbered(np.concatenate(clusters))
    joined: dict[str, Any] = {}
    for name in ROWS:
        joined[name] = np.concatenate([getattr(part, name) for part in found])
    order = np.argsort(cluster, kind="stable")
    return Rows(**joined, n_models=m).part(order), cluster[order]


def _rows_of(fit: Fit, codes: IntArray) -> tuple[Rows, IntArray]:
    """Rows of one fit by cluster and kind of vote, and the cluster of each."""
    n_kinds = len(fit.design.a)
    keys, at = np.unique(codes * n_kinds + fit.design.kind, return_inverse=True)
    kinds = (keys % n_kinds).astype(np.intp)
    rows = fit.rows(kinds, fit.votes.totals(at, len(keys)))
    rows_of_key = len(rows.a) // len(keys)
    return rows, np.repeat(keys // n_kinds, rows_of_key)


def _meat(rows: Rows, cluster: IntArray, left: FloatArray) -> FloatArray:
    """Σ s sᵀ over clusters, s = Σ z·left."""
    from scipy.sparse import csr_matrix

    m, k = rows.n_models, rows.extra.shape[1]
    along = rows.scale * left
    of_extra = (rows.extra * left[:, None]).T.ravel()
    values = np.concatenate([along, -along, of_extra])
    extra_columns = np.repeat(m + np.arange(k), len(left))
    columns = np.concatenate([rows.a, rows.b, extra_columns])
    clusters = np.tile(cluster, 2 + k)
    shape = (int(cluster[-1]) + 1, rows.size)
    sums = csr_matrix((values, (clusters, columns)), shape)
    return np.asarray((sums.T @ sums).toarray(), dtype=np.float64)


def leave_one_out(
    rows: Rows, cluster: IntArray, inverse: FloatArray, information: FloatArray
) -> FloatArray | None:
    """Residuals of each cluster by the coefficients of the others, one Newton step
    away.

    Args:
        rows: those of a cluster together.
        cluster: of each row, ascending.
        inverse: J of all; ``information``: what it is the inverse of.

    Returns:
        None where the others do not say all coefficients: a model met the rest in one
        cluster only.
    """
    starts = np.flatnonzero(np.diff(cluster, prepend=-1))
    sizes = np.diff(np.append(starts, len(cluster)))
    left = np.empty(len(cluster))
    try:
        for at in _stacks(starts, sizes):
            if at.shape[1] > max(_SMALL, _WIDE * rows.size):
                solved = _without(rows.part(at[0]), information)
            else:
                solved = _solve(_complement(rows, at, inverse), rows.left[at])
            if solved is None:
                return None
            left[at] = solved
    except np.linalg.LinAlgError:
        return None
    return left


def _without(rows: Rows, information: FloatArray) -> FloatArray | None:
    """Residuals of a cluster with about as many rows as there are coefficients: those
    are solved for without it."""
    from scipy.linalg import cho_factor, cho_solve

    rest = information - rows.information()
    factor = cho_factor(rest, lower=True, check_finite=False)
    pivots = np.diag(factor[0]) ** 2
    if (pivots / np.diag(information)).min() < _SINGULAR:
        return None
    moved = cho_solve(factor, rows.score(), check_finite=False)
    return rows.left + rows.times(moved)


def _stacks(starts: IntArray, sizes: IntArray) -> Iterator[IntArray]:
    """Numbers of rows, clusters × rows of each: those of like size together, as many as
    fit."""
    for size in np.unique(sizes):
        own = starts[sizes == size]
        block = 1
        if size <= _SMALL:
            block = max(1, _CELLS // int(size) ** 2)
        for begin in range(0, len(own), block):
            yield own[begin : begin + block, None] + np.arange(size)


def _complement(rows: Rows, at: IntArray, inverse: FloatArray) -> FloatArray:
    """I − Z J Zᵀ of each cluster of a stack, shape (G, q, q)."""
    m = rows.n_models
    a, b, scale, extra = rows.a[at], rows.b[at], rows.scale[at], rows.extra[at]
    models, mixed, own = inverse[:m, :m], inverse[:m, m:], inverse[m:, m:]
    if len(at) == 1:
        half = models[a[0]] - models[b[0]]
        shared = (half[:, a[0]] - half[:, b[0]])[None]
    else:
        a_, b_, a2, b2 = a[:, :, None], b[:, :, None], a[:, None], b[:, None]
        shared = models[a_, a2] - models[a_, b2] - models[b_, a2] + models[b_, b2]
    shared = shared * scale[:, :, None] * scale[:, None]
    if extra.shape[2]:
        transposed = extra.swapaxes(1, 2)
        cross = ((mixed[a] - mixed[b]) * scale[:, :, None]) @ transposed
        shared = shared + cross + cross.swapaxes(1, 2) + extra @ own @ transposed
    return np.asarray(np.eye(at.shape[1]) - shared)


def _solve(matrices: FloatArray, left: FloatArray) -> FloatArray | None:
    """Solutions of a stack; None where one has no inverse."""
    if matrices.shape[1] == 1:
        first = matrices[:, 0, 0]
        if first.min() < _SINGULAR:
            return None
        return left / first[:, None]
    if len(matrices) == 1:
        from scipy.linalg import cho_factor, cho_solve

        factor = cho_factor(matrices[0], lower=True, check_finite=False)
        solved: FloatArray = cho_solve(factor, left[0], check_finite=False)[None]
        if (np.diag(factor[0]) ** 2).min() < _SINGULAR:
            return None
        return solved
    pivots = np.diagonal(np.linalg.cholesky(matrices), axis1=1, axis2=2) ** 2
    if pivots.min() < _SINGULAR:
        return None
    return np.asarray(np.linalg.solve(matrices, left[:, :, None])[:, :, 0])
