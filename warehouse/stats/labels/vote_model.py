"""How likely the votes for an item's options are, if this or that option is the true key.

With true key h and an item effect b ~ N(0, 1), model m picks h with probability σ(θ_m + s b). Votes
for the others are Dirichlet-multinomial with concentration A for each: a small A says that wrong
models share one attractive distractor. Models err together, so the logarithm is multiplied by a
temperature T below 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.labels.votes import Votes


@dataclass(frozen=True)
class VoteModel:
    """Parameters of the model of votes.

    Attributes:
        ability: θ_m, logit of the chance that model m picks the true key where b = 0, shape (M,).
        spread: s, standard deviation of the items' effect in logits, above 0.
        concentration: A of the Dirichlet distribution over wrong options, above 0.
    """

    ability: FloatArray
    spread: float
    concentration: float


@dataclass(frozen=True)
class Nodes:
    """Quadrature for b ~ N(0, 1): nodes and the logarithms of their weights."""

    b: FloatArray
    log_weights: FloatArray


@dataclass(frozen=True)
class Posterior:
    """What the votes say of each item's true key and of its effect b.

    Attributes:
        rows: probability that one option of the row is the true key, shape (N,).
        effects: posterior mean of b where it is, times that probability, shape (N,).
        nodes: probability of each node of b, shape (I, Q).
    """

    rows: FloatArray
    effects: FloatArray
    nodes: FloatArray


def hermite_nodes(n: int) -> Nodes:
    """``n`` Gauss–Hermite nodes for the standard normal distribution.

    With 21 nodes they lie 0.7 apart in the middle, wider than what 20 models leave open of b.

    Raises:
        StatisticsError: ``n`` not in 2 to 200.
    """
    if not 2 <= n <= 200:
        raise StatisticsError(f"`n_nodes` must lie in 2 to 200, found {n}")
    b, weights = special.roots_hermitenorm(n)
    return _normalised(b, np.log(weights))


def dense_nodes(step: float, end: float) -> Nodes:
    """The trapezoidal rule from −end to end.

    Its error falls like exp(−2π²/(s · step)): the integrand is analytic as far as π/s from the axis.
    """
    b = np.linspace(-end, end, 2 * round(end / step) + 1)
    return _normalised(b, -(b**2) / 2)


def _normalised(b: FloatArray, log_weights: FloatArray) -> Nodes:
    return Nodes(b, log_weights - special.logsumexp(log_weights))


#: The default rule, 51 nodes: exact to 1e-5 for 20 models while s is below 4.5.
DENSE = dense_nodes(0.25, 6.25)


class WrongVotes:
    """The Dirichlet-multinomial part, ln Γ(BA) − ln Γ(BA+n_w) + Σ_{o≠h} ln Γ(A+n_o) − ln Γ(A), B = C−1.

    Different counts are few, so each value of ln Γ is computed once.
    """

    def __init__(self, votes: Votes) -> None:
        counts = votes.counts
        wrong = votes.totals(counts * votes.copies)[votes.owner] - counts
        self._votes = votes
        self._counts, self._count_codes = _distinct(counts)
        others = votes.n_options[votes.owner] - 1
        pairs, self._wrong_codes = np.unique(others + 1j * wrong.round(9), return_inverse=True)
        self._others, self._wrong = pairs.real, pairs.imag

    def log_likelihood(self, concentration: float) -> FloatArray:
        """For each row, if one of its options is the true key, shape (N,)."""
        a, ln_gamma = concentration, special.gammaln
        drawn = (ln_gamma(a + self._counts) - ln_gamma(a))[self._count_codes]
        total = self._others * a
        all_drawn = (ln_gamma(total) - ln_gamma(total + self._wrong))[self._wrong_codes]
        every = self._votes.totals(drawn * self._votes.copies)[self._votes.owner]
        return np.asarray(all_drawn + every - drawn, dtype=np.float64)


def posterior_of_keys(
    votes: Votes, model: VoteModel, log_prior: FloatArray, wrong: FloatArray, nodes: Nodes, temperature: float
) -> Posterior:
    """P(h | votes) and the items' effects.

    Args:
        votes: of M models.
        model: its parameters.
        log_prior: ln of the prior probability that one option of the row is the true key, shape (N,).
        wrong: ``WrongVotes.log_likelihood`` at the model's concentration, shape (N,).
        nodes: of the integral over b.
        temperature: T.
    """
    shift = model.spread * nodes.b
    missed = votes.asked @ -np.logaddexp(0.0, model.ability[:, None] + shift)  # all of them wrong
    fixed = temperature * (votes.shares @ model.ability + wrong) + log_prior + np.log(votes.copies)
    joint = (temperature * missed + nodes.log_weights)[votes.owner]
    joint += np.multiply.outer(temperature * votes.counts, shift)
    joint += fixed[:, None]
    joint -= np.maximum.reduceat(joint.max(axis=1), votes.start)[votes.owner, None]
    np.exp(joint, out=joint)
    nodewise = votes.totals(joint)
    total = nodewise.sum(axis=1)
    scale = 1 / (total[votes.owner] * votes.copies)
    return Posterior(joint.sum(axis=1) * scale, (joint @ nodes.b) * scale, nodewise / total[:, None])


def log_prior_of_keys(votes: Votes, rates: FloatArray) -> FloatArray:
    """ln of the prior of each row: 1 − π for the recorded key, π/(C−1) for each other option.

    Args:
        votes: of M models.
        rates: π of each item that is not refused, in (0, 1), shape (I,).
    """
    prior = (rates / (votes.n_options - 1))[votes.owner]
    prior[votes.start] = 1 - rates
    return np.log(prior)


def _distinct(values: FloatArray) -> tuple[FloatArray, NDArray[np.intp]]:
    """The distinct values up to rounding, and which of them each one is."""
    return np.unique(values.round(9), return_inverse=True)
