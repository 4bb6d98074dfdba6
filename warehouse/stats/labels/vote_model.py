"""The model of votes: how likely they are under each key, and the rates of wrong keys
by stratum (statistics.md §14).

With true key h and an item effect b ~ N(0, 1), model m picks h with probability σ(θ_m +
s b). Votes for the others are Dirichlet-multinomial with concentration A for each: a
small A says that wrong models share one attractive distractor. Models err together, so
the logarithm is multiplied by a temperature T below 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warehouse.stats.core import special
from warehouse.stats.core.inputs import Clusters, FloatArray
from warehouse.stats.labels.votes import Votes


@dataclass(frozen=True)
class VoteModel:
    """Parameters of the model of votes."""

    ability: FloatArray  #: θ_m, logit of the chance that model m picks the true key where b = 0, shape (M,).
    spread: float  #: s, standard deviation of the items' effect in logits, above 0.
    #: A of the Dirichlet distribution over wrong options, above 0.
    concentration: float


@dataclass(frozen=True)
class Nodes:
    """Quadrature for b ~ N(0, 1): nodes and the logarithms of their weights."""

    b: FloatArray
    log_weights: FloatArray


@dataclass(frozen=True)
class VotePosterior:
    """What the votes say of each item's true key and of its effect b."""

    rows: FloatArray  #: probability that one option of the row is the true key, shape (N,).
    effects: FloatArray  #: posterior mean of b where it is, times that probability, shape (N,).
    nodes: FloatArray  #: probability of each node of b, shape (I, Q).


def dense_nodes(step: float, end: float) -> Nodes:
    """The trapezoidal rule from −end to end.

    Its error falls like exp(−2π²/(s · step)): the integrand is analytic as far as π/s
    from the axis.
    """
    b = np.linspace(-end, end, 2 * round(end / step) + 1)
    return Nodes(b, -(b**2) / 2 - special.logsumexp(-(b**2) / 2))


def default_nodes() -> Nodes:
    """The rule of the fit, 51 nodes: exact to 1e-5 for 20 models while s is below 4.5;
    21 Gauss–Hermite miss by .06."""
    return dense_nodes(0.25, 6.25)


class WrongVotes:
    """The Dirichlet-multinomial part, ln Γ(BA) − ln Γ(BA+n_w) + Σ_{o≠h} ln Γ(A+n_o) −
    ln Γ(A), B = C−1.

    Different counts are few, so each value of ln Γ is computed once.
    """

    def __init__(self, votes: Votes) -> None:
        counts = votes.counts
        wrong = votes.totals(counts * votes.copies)[votes.owner] - counts
        self._votes = votes
        # the distinct values up to rounding, and which of them each one is
        self._counts, self._count_codes = np.unique(
            counts.round(9), return_inverse=True
        )
        others = votes.n_options[votes.owner] - 1
        pairs, self._wrong_codes = np.unique(
            others + 1j * wrong.round(9), return_inverse=True
        )
        self._others, self._wrong = pairs.real, pairs.imag

    def log_likelihood(self, concentration: float) -> FloatArray:
        """For each row, if one of its options is the true key, shape (N,)."""
        a, ln_gamma = concentration, special.gammaln
        drawn = (ln_gamma(a + self._counts) - ln_gamma(a))[self._count_codes]
        total = self._others * a
        all_drawn = (ln_gamma(total) - ln_gamma(total + self._wrong))[self._wrong_codes]
        totals = self._votes.totals(drawn * self._votes.copies)[self._votes.owner]
        return np.asarray(all_drawn + totals - drawn, dtype=np.float64)


def posterior_of_keys(
    votes: Votes,
    model: VoteModel,
    log_prior: FloatArray,
    wrong: FloatArray,
    nodes: Nodes,
    temperature: float,
) -> VotePosterior:
    """P(h | votes) and the items' effects.

    Args:
        votes: of M models.
        model: its parameters.
        log_prior: ln of the prior probability that one option of the row is the true
            key, shape (N,).
        wrong: ``WrongVotes.log_likelihood`` at the model's concentration, shape (N,).
        nodes: of the integral over b.
        temperature: T.
    """
    shift = model.spread * nodes.b
    missed = votes.answered_by @ -np.logaddexp(
        0.0, model.ability[:, None] + shift
    )  # all of them wrong
    fixed = (
        temperature * (votes.shares @ model.ability + wrong)
        + log_prior
        + np.log(votes.copies)
    )
    joint = (temperature * missed + nodes.log_weights)[votes.owner]
    joint += np.multiply.outer(temperature * votes.counts, shift)
    joint += fixed[:, None]
    joint -= np.maximum.reduceat(joint.max(axis=1), votes.start)[votes.owner, None]
    np.exp(joint, out=joint)
    nodewise = votes.totals(joint)
    total = nodewise.sum(axis=1)
    scale = 1 / (total[votes.owner] * votes.copies)
    return VotePosterior(
        joint.sum(axis=1) * scale, (joint @ nodes.b) * scale, nodewise / total[:, None]
    )


def log_prior_of_keys(votes: Votes, rates: FloatArray) -> FloatArray:
    """ln of the prior of each row: 1 − π for the recorded key, π/(C−1) for each other
    option.

    Args:
        votes: of M models.
        rates: π of each item that is not refused, in (0, 1), shape (I,).
    """
    prior = (rates / (votes.n_options - 1))[votes.owner]
    prior[votes.start] = 1 - rates
    return np.log(prior)


_START_SPREAD, _START_CONCENTRATION = 2.0, 0.5
_ACCURACY = (0.02, 0.98)  # a model that is always right starts from a finite ability
_RIDGE = 0.01
_ABILITY_STEP, _SPREAD_STEP = 0.5, 0.3
# The answers of three models hardly tell s: without this floor it falls towards 0, no
# item is hard, and too many keys are suspected (on MMLU-Redux the expected share of
# right keys is then 0.12 below the observed one, in the mean of 24 triples; with floors
# of 1.5 to 2 it is within 0.03).
SPREADS = (1.75, 6.0)
_CONCENTRATIONS = (0.05, 20.0)
_FACTORS = np.exp([0.0, 0.1, -0.1, 0.3, -0.3])
_STRATUM_WEIGHT = 30  # items that the base rate counts for in a stratum, at least


@dataclass(frozen=True)
class FitSettings:
    """Settings of the fit."""

    base_rate: float  #: π0, share of wrong keys that is expected, and the floor of each stratum's.
    temperature: float  #: T, in (0, 1].
    tolerance: float  #: the fit ends when no posterior probability moves by as much.
    max_rounds: int  #: at most so many rounds.


@dataclass(frozen=True)
class Fit:
    """Parameters, and what they say of each item."""

    model: VoteModel  #: abilities, spread, concentration.
    rates: FloatArray  #: π of each stratum, shape (G,).
    posterior: VotePosterior  #: of the items' keys.
    n_rounds: int  #: rounds of the EM algorithm.
    converged: bool  #: whether it ended before the last round that was allowed.


def fit_votes(votes: Votes, strata: Clusters, settings: FitSettings) -> Fit:
    """Estimate abilities, spread, concentration and rates by EM.

    Args:
        votes: of M models, each of which answered an item.
        strata: stratum of each item that is not refused, shape (I,).
        settings: of the fit.
    """
    model, rates, nodes = (
        _start(votes),
        np.full(strata.n, settings.base_rate),
        default_nodes(),
    )
    wrong_votes = WrongVotes(votes)
    before: FloatArray | None = None
    for n_rounds in range(settings.max_rounds + 1):
        prior = log_prior_of_keys(votes, rates[strata.codes])
        wrong = wrong_votes.log_likelihood(model.concentration)
        posterior = posterior_of_keys(
            votes, model, prior, wrong, nodes, settings.temperature
        )
        converged = before is not None and bool(
            np.abs(posterior.rows - before).max() < settings.tolerance
        )
        if converged or n_rounds == settings.max_rounds:
            break
        before = posterior.rows
        model = VoteModel(
            *_stepped(votes, model, posterior, nodes),
            _concentration(votes, wrong_votes, posterior, model.concentration),
        )
        rates = _rates(1 - posterior.rows[votes.start], strata, settings.base_rate)
    return Fit(model, rates, posterior, n_rounds, converged)


def spread_at_bound(spread: float) -> bool:
    """Whether the fit ended at a bound of the spread."""
    return not SPREADS[0] < spread < SPREADS[1]


def _start(votes: Votes) -> VoteModel:
    accuracy = np.clip(votes.accuracy(), *_ACCURACY)
    return VoteModel(special.logit(accuracy), _START_SPREAD, _START_CONCENTRATION)


def _stepped(
    votes: Votes, model: VoteModel, posterior: VotePosterior, nodes: Nodes
) -> tuple[FloatArray, float]:
    """One Newton step for each ability, and one for the spread."""
    times = posterior.rows * votes.copies  # rows without votes add nothing below
    expected = special.expit(model.ability[:, None] + model.spread * nodes.b)
    answered = votes.answered_by.T @ posterior.nodes  # items at each node, shape (M, Q)
    variance = answered * expected * (1 - expected)
    gradient = votes.shares.T @ times - (answered * expected).sum(axis=1)
    step = gradient / (variance.sum(axis=1) + _RIDGE)
    slope = float(
        posterior.effects @ (votes.counts * votes.copies)
        - ((answered * expected) @ nodes.b).sum()
    )
    slope /= float((variance @ nodes.b**2).sum()) + _RIDGE
    spread = model.spread + float(np.clip(slope, -_SPREAD_STEP, _SPREAD_STEP))
    return model.ability + np.clip(step, -_ABILITY_STEP, _ABILITY_STEP), float(
        np.clip(spread, *SPREADS)
    )


def _concentration(
    votes: Votes,
    wrong_votes: WrongVotes,
    posterior: VotePosterior,
    concentration: float,
) -> float:
    """The likeliest of a few values around the last one."""
    weights = posterior.rows * votes.copies
    values = np.clip(concentration * _FACTORS, *_CONCENTRATIONS)
    gains = [float(weights @ wrong_votes.log_likelihood(value)) for value in values]
    return float(values[int(np.argmax(gains))])


def _rates(wrong: FloatArray, strata: Clusters, base_rate: float) -> FloatArray:
    """Shrunken mean posterior of each stratum, not below the base rate."""
    weight = np.maximum(_STRATUM_WEIGHT, strata.sizes)
    return np.maximum(
        base_rate, (strata.sums(wrong) + weight * base_rate) / (strata.sizes + weight)
    )
