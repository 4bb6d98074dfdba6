"""Strengths of models by Bradley and Terry, or by Davidson where ties have a
probability (statistics.md §15).

Votes of one kind (the same two models, the same covariates) are fitted as one. What is
exponential in both models is a row of a matrix: a vote of kind t has the information Σ
z zᵀ over the rows z of t, and the score Σ z e. What the errors need is made of the same
rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.preferences.ballots import (
    POSITION,
    Ballots,
    Design,
    IntArray,
    design_of,
)

#: Arrays of `Rows`.
ROWS = ("a", "b", "scale", "extra", "left")
#: Points of Elo for one of strength.
ELO = 400 / math.log(10)
_STEPS, _CLOSE, _FARTHEST = 50, 1e-8, 3.0
_COLLINEAR, _SEPARABLE = 1e-10, 1e-7
#: Directions that an error names.
_NAMED = 4


class NotConnectedError(StatisticsError):
    """Votes without a finite maximum: nobody of one group ever lost to another, or they
    never met.

    Attributes:
        groups: numbers of the models of each, the largest first.
    """

    def __init__(self, groups: list[list[int]]) -> None:
        super().__init__(
            f"the votes fall into {len(groups)} groups between which strengths are not "
            "defined"
        )
        self.groups = groups


class SeparableError(StatisticsError):
    """Votes that a direction explains without an exception, so that no finite
    coefficients fit best."""

    def __init__(
        self, direction: FloatArray, names: tuple[str, ...], n_models: int
    ) -> None:
        moved = np.flatnonzero(np.abs(direction) > 1e-6)
        largest_first = np.argsort(-np.abs(direction[moved]), kind="stable")
        self.direction: dict[int | str, float] = {}
        for at in moved[largest_first][:_NAMED].tolist():
            coefficient: int | str = at
            if at >= n_models:
                coefficient = names[at - n_models]
            self.direction[coefficient] = float(direction[at])
        super().__init__("the votes are separable: coefficients would grow without end")


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows z = scale·(e_a − e_b, 0) + (0, extra), each with what is left of the votes,
    e: score Σ z e."""

    a: IntArray
    b: IntArray
    scale: FloatArray
    extra: FloatArray
    left: FloatArray
    n_models: int

    @property
    def size(self) -> int:
        """Parameters."""
        return self.n_models + int(self.extra.shape[1])

    def part(self, chosen: IntArray) -> Rows:
        """Some of the rows."""
        own: dict[str, Any] = {name: getattr(self, name)[chosen] for name in ROWS}
        return Rows(**own, n_models=self.n_models)

    def information(self) -> FloatArray:
        """Σ z zᵀ, shape (d, d)."""
        m = self.n_models
        pairs = np.bincount(self.a * m + self.b, self.scale**2, m * m).reshape(m, m)
        pairs = pairs + pairs.T
        whole = np.zeros((self.size, self.size))
        whole[:m, :m] = np.diag(pairs.sum(axis=1)) - pairs
        for at, column in enumerate(self.extra.T, start=m):
            mixed = self._spread(self.scale * column)
            whole[:m, at] = mixed
            whole[at, :m] = mixed
        whole[m:, m:] = self.extra.T @ self.extra
        return whole

    def score(self) -> FloatArray:
        """Σ z e, shape (d,)."""
        return np.concatenate(
            [self._spread(self.scale * self.left), self.extra.T @ self.left]
        )

    def times(self, vector: FloatArray) -> FloatArray:
        """z·v of each row."""
        m = self.n_models
        product: FloatArray = (
            self.scale * (vector[self.a] - vector[self.b]) + self.extra @ vector[m:]
        )
        return product

    def _spread(self, values: FloatArray) -> FloatArray:
        m = self.n_models
        return np.asarray(
            np.bincount(self.a, values, m) - np.bincount(self.b, values, m),
            dtype=np.float64,
        )


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients that fit votes best."""

    votes: Ballots  #: what was fitted.
    design: Design  #: its kinds.
    ties: str  #: ``half`` or ``davidson``.
    theta: FloatArray  #: strengths of the models, summing to 0, then covariates, then ln ν of Davidson, shape (d,).
    inverse: FloatArray  #: of the information, the models centred, shape (d, d).
    #: with a constant added for all models, so that it has an inverse.
    information: FloatArray
    ridge: float  #: penalty of the strengths; with one there are no errors.

    @property
    def strengths(self) -> FloatArray:
        """Of the models, shape (M,)."""
        return self.theta[: self.votes.n_models]

    @property
    def names(self) -> tuple[str, ...]:
        """Of what follows the strengths."""
        return _names(self.votes, self.ties)

    def rows(self, kinds: IntArray, totals: FloatArray) -> Rows:
        """Rows of votes of some kinds, with their totals."""
        return _rows(self.design, self.ties, self.theta, kinds, totals)

    def win_probability(self, contrast: float | FloatArray) -> FloatArray:
        """That the first wins, a tie as half a win, where covariates are 0."""
        half = np.asarray(contrast) / 2
        if self.ties == "half":
            return np.asarray(special.expit(2 * half), dtype=np.float64)
        tie = np.exp(self.theta[-1])
        won, lost = np.exp(half), np.exp(-half)
        return np.asarray((won + tie / 2) / (won + tie + lost), dtype=np.float64)


def fit_preferences(votes: Ballots, *, ties: str = "half", ridge: float = 0.0) -> Fit:
    """Fit strengths by Newton's method.

    Args:
        votes: what was voted.
        ties: ``half`` or ``davidson``.
        ridge: penalty τ: −½τΣβ², for votes that hold together nowhere; strengths are
            then biased towards 0.

    Raises:
        NotConnectedError: without a penalty, where some group never lost to the others.
        SeparableError: a direction of covariates explains all votes.
        StatisticsError: collinear covariates, or ties that Davidson cannot have.
    """
    design = design_of(votes)
    totals = votes.totals(design.kind, len(design.a))
    if not ridge:
        groups = connected(votes)
        if len(groups) > 1:
            raise NotConnectedError(groups)
    if ties == "davidson":
        _check_ties(votes)
    if votes.names and not ridge:
        _check_collinear(design, totals, votes.names)
    theta, is_close = newton(design, totals, ties, ridge)
    rows = _rows(design, ties, theta, np.arange(len(design.a)), totals)
    information = _whole(rows, ridge)
    if not is_close or not (ridge or _is_finite(rows, information, design, ties)):
        names = _names(votes, ties)
        if names and not ridge:
            direction = separating(design, totals)
            if direction is not None:
                raise SeparableError(direction, names, design.n_models)
        raise StatisticsError(
            f"the fit did not converge in {_STEPS} steps of Newton: no coefficients "
            "are shown"
        )
    inverse = centred_inverse(information, votes.n_models)
    return Fit(votes, design, ties, theta, inverse, information, ridge)


def _names(votes: Ballots, ties: str) -> tuple[str, ...]:
    """Names of the coefficients behind the strengths."""
    if ties == "davidson":
        return (*votes.names, "ln(ties)")
    return votes.names


def _check_ties(votes: Ballots) -> None:
    """Refuse votes from which Davidson's model can learn nothing of ties."""
    n_ties = int((votes.signs == 0).sum())
    found = ""
    if not n_ties:
        found = "no vote is a tie: ask without davidson"
    elif n_ties == votes.n:
        found = "all votes are ties"
    if found:
        raise StatisticsError(f"Davidson's model needs ties and other votes; {found}")


def connected(votes: Ballots) -> list[list[int]]:
    """Groups of models within which each lost, at some remove, to each other; the
    largest first (Ford 1957)."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    signs, m = votes.signs, votes.n_models
    over, under = signs >= 0, signs <= 0
    winners = np.concatenate([votes.first[over], votes.second[under]])
    losers = np.concatenate([votes.second[over], votes.first[under]])
    edges = csr_matrix((np.ones(len(winners)), (winners, losers)), (m, m))
    _, group = connected_components(edges, directed=True, connection="strong")
    members = [np.flatnonzero(group == label).tolist() for label in np.unique(group)]
    return sorted(members, key=lambda models: (-len(models), models))


def newton(
    design: Design, totals: FloatArray, ties: str, ridge: float = 0.0
) -> tuple[FloatArray, bool]:
    """Coefficients, and whether they have converged."""
    m = design.n_models
    theta = np.zeros(m + design.extra.shape[1] + (ties == "davidson"))
    kinds = np.flatnonzero(totals[:, 0] > 0)
    for _ in range(_STEPS + 1):
        rows = _rows(design, ties, theta, kinds, totals[kinds])
        slope = rows.score()
        slope[:m] -= ridge * theta[:m]
        if np.abs(slope).max() < _CLOSE:
            theta[:m] -= theta[:m].mean()
            return theta, True
        try:
            change = np.linalg.solve(_whole(rows, ridge), slope)
        except np.linalg.LinAlgError:
            break
        theta = theta + change * min(1.0, _FARTHEST / np.abs(change).max())
    return theta, False


def _rows(
    design: Design, ties: str, theta: FloatArray, kinds: IntArray, totals: FloatArray
) -> Rows:
    """The rows of votes of these kinds; Davidson has two of each."""
    a, b = design.a[kinds], design.b[kinds]
    extra = design.extra[kinds]
    m = design.n_models
    weight, ahead, tied = totals.T
    eta = theta[a] - theta[b] + extra @ theta[m : m + extra.shape[1]]
    if ties == "half":
        p = special.expit(eta)
        scale = np.sqrt(np.maximum(weight * p * (1 - p), 1e-300))
        residual = (weight + ahead) / 2 - weight * p
        return Rows(a, b, scale, scale[:, None] * extra, residual / scale, m)
    won, tie, lost = _davidson_chances(eta, theta[-1])
    slope = (ahead - weight * (won - lost)) / 2
    tie_slope = tied - weight * tie
    variance = np.maximum(won + lost - (won - lost) ** 2, 1e-300)
    first = np.sqrt(weight * variance) / 2
    both = -weight * (won - lost) * tie / 2 / first
    second = np.sqrt(np.maximum(weight * tie * (1 - tie) - both**2, 1e-300))
    left = slope / first
    tie_left = (tie_slope - both * left) / second
    top = np.column_stack([first[:, None] * extra, both])
    low = np.column_stack([np.zeros_like(extra), second])
    return Rows(
        _both(a, a),
        _both(b, b),
        _both(first, np.zeros(len(eta))),
        _both(top, low),
        _both(left, tie_left),
        m,
    )


def _davidson_chances(eta: FloatArray, log_ties: float) -> FloatArray:
    """Of a win, a tie and a loss (Davidson 1970), shape (3, n)."""
    log = np.stack([eta / 2, np.full(len(eta), log_ties), -eta / 2])
    if not len(eta):
        return log
    return np.asarray(np.exp(log - special.logsumexp(log, axis=0)))


def _both(top: NDArray[Any], low: NDArray[Any]) -> NDArray[Any]:
    """The two rows of a vote one after the other."""
    return np.stack([top, low], axis=1).reshape(2 * len(top), *top.shape[1:])


def _whole(rows: Rows, ridge: float = 0.0) -> FloatArray:
    """The information with a constant for all models, which the votes do not know."""
    information, m = rows.information(), rows.n_models
    information[:m, :m] += np.trace(information[:m, :m]) / m**2 + 1e-12
    information[np.arange(m), np.arange(m)] += ridge
    return information


def centred_inverse(information: FloatArray, n_models: int) -> FloatArray:
    """The inverse with strengths that sum to 0."""
    inverse = np.asarray(np.linalg.inv(information), dtype=np.float64)
    inverse[:n_models] -= inverse[:n_models].mean(axis=0)
    inverse[:, :n_models] -= inverse[:, :n_models].mean(axis=1, keepdims=True)
    return np.asarray((inverse + inverse.T) / 2, dtype=np.float64)


def _is_finite(rows: Rows, information: FloatArray, design: Design, ties: str) -> bool:
    """Whether a finite maximum is proved to exist near (Bach 2010, proposition 2).

    √(gᵀH⁻¹g) ≤ √μ/2R, μ the smallest eigenvalue of H and R the longest row; where
    coefficients run away along a direction that explains all votes, both sides shrink
    alike, and it never holds.
    """
    score = rows.score()
    longest = np.sqrt(2 + (design.extra**2).sum(axis=1).max(initial=0))
    if ties == "davidson":
        longest += 1
    least = np.linalg.eigvalsh(information)[0]
    decrement = max(float(score @ np.linalg.solve(information, score)), 0.0)
    return bool(least > 0 and np.sqrt(decrement) <= np.sqrt(least) / (2 * longest))


def _check_collinear(
    design: Design, totals: FloatArray, names: tuple[str, ...]
) -> None:
    """Refuse covariates that are a sum of others, or of who meets whom."""
    kinds = np.arange(len(design.a))
    even = _rows(design, "half", np.zeros(design.n_models + len(names)), kinds, totals)
    values, vectors = np.linalg.eigh(_whole(even))
    still = values < _COLLINEAR * values[-1]
    if still[0]:
        name = _said_twice(vectors[design.n_models :, still], names)
        if name == POSITION:
            raise StatisticsError(
                "which of two models was shown first follows from the models"
            )
        raise StatisticsError(
            f"covariate {name} says nothing that models and other covariates do not "
            "say: leave it out"
        )


def _said_twice(still: FloatArray, names: tuple[str, ...]) -> str:
    """The covariate with most part in the directions along which nothing changes; of
    equals the last that the caller gave, for rounding must not decide which of a
    covariate and its double is named."""
    part = (still**2).sum(axis=1)
    largest = np.flatnonzero(part >= part.max() * (1 - 1e-6))
    equals = [names[at] for at in largest.tolist()]
    given = [name for name in equals if name != POSITION]
    return (given or equals)[-1]


def separating(design: Design, totals: FloatArray) -> FloatArray | None:
    """A direction that no vote contradicts and some follow, ties at 0; None where there
    is none (a linear program)."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix, hstack, identity, vstack

    kinds = np.flatnonzero(totals[:, 0] > 0)
    weight, ahead, tied = totals[kinds].T
    not_all_one_way = (tied > 0) | (np.abs(ahead) < weight * (1 - 1e-12))
    sign = np.where(not_all_one_way, 0.0, np.sign(ahead))
    n, m, k = len(kinds), design.n_models, design.extra.shape[1]
    at = np.arange(n)
    first = csr_matrix((np.ones(n), (at, design.a[kinds])), (n, m))
    second = csr_matrix((np.ones(n), (at, design.b[kinds])), (n, m))
    z = hstack([first - second, csr_matrix(design.extra[kinds])]).tocsr()
    decided, open_ = np.flatnonzero(sign), np.flatnonzero(sign == 0)
    t = len(decided)
    signs = csr_matrix((sign[decided], (np.arange(t), np.arange(t))), (t, t))
    undecided = hstack([z[open_], csr_matrix((len(open_), t))])
    first_is_0 = csr_matrix(([1.0], ([0], [0])), (1, m + k + t))
    equal = vstack([undecided, first_is_0])
    at_most: dict[str, Any] = {}
    if t:
        upper = hstack([-(signs @ z[decided]), identity(t)])  # t ≤ s zθ
        at_most = {"A_ub": upper.tocsr(), "b_ub": np.zeros(t)}
    found = linprog(
        np.concatenate([np.zeros(m + k), -np.ones(t)]),
        **at_most,
        A_eq=equal.tocsr(),
        b_eq=np.zeros(len(open_) + 1),
        bounds=[(None, None)] * (m + k) + [(0, 1)] * t,
        method="highs",
    )
    if not found.success or -found.fun <= _SEPARABLE:
        return None
    direction: FloatArray = found.x[: m + k]
    return direction
