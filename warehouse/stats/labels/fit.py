"""Tempered EM for the model of votes and the rates of wrong keys by stratum (statistics.md §14)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warehouse.stats.core import special
from warehouse.stats.core.inputs import Clusters, FloatArray
from warehouse.stats.labels.vote_model import (
    Nodes,
    Posterior,
    VoteModel,
    WrongVotes,
    log_prior_of_keys,
    posterior_of_keys,
)
from warehouse.stats.labels.votes import Votes

_START_SPREAD, _START_CONCENTRATION = 2.0, 0.5
_ACCURACY = (0.02, 0.98)  # a model that is always right starts from a finite ability
_RIDGE = 0.01
_ABILITY_STEP, _SPREAD_STEP = 0.5, 0.3
# The answers of three models hardly tell s: without this floor it falls towards 0, no item is hard,
# and too many keys are suspected (on MMLU-Redux the expected share of right keys is then 0.12 below
# the observed one, in the mean of 24 triples; with floors of 1.5 to 2 it is within 0.03).
SPREADS = (1.75, 6.0)
_CONCENTRATIONS = (0.05, 20.0)
_FACTORS = np.exp([0.0, 0.1, -0.1, 0.3, -0.3])
_STRATUM_WEIGHT = 30  # items that the base rate counts for in a stratum, at least


@dataclass(frozen=True)
class FitSettings:
    """What the fit is told.

    Attributes:
        base_rate: π0, share of wrong keys that is expected, and the floor of each stratum's.
        temperature: T, in (0, 1].
        nodes: of the integral over the items' effects.
        tolerance: the fit ends when no posterior probability moves by as much.
        max_rounds: at most so many rounds.
    """

    base_rate: float
    temperature: float
    nodes: Nodes
    tolerance: float
    max_rounds: int


@dataclass(frozen=True)
class Fit:
    """Parameters, and what they say of each item.

    Attributes:
        model: abilities, spread, concentration.
        rates: π of each stratum, shape (G,).
        posterior: of the items' keys.
        n_rounds: rounds of the EM algorithm.
        converged: whether it ended before the last round that was allowed.
    """

    model: VoteModel
    rates: FloatArray
    posterior: Posterior
    n_rounds: int
    converged: bool


def fit_votes(votes: Votes, strata: Clusters, settings: FitSettings) -> Fit:
    """Estimate abilities, spread, concentration and rates by EM.

    Args:
        votes: of M models, each of which answered an item.
        strata: stratum of each item that is not refused, shape (I,).
        settings: of the fit.
    """
    model, rates = _start(votes), np.full(strata.n, settings.base_rate)
    wrong_votes = WrongVotes(votes)
    before: FloatArray | None = None
    for n_rounds in range(settings.max_rounds + 1):
        prior = log_prior_of_keys(votes, rates[strata.codes])
        wrong = wrong_votes.log_likelihood(model.concentration)
        posterior = posterior_of_keys(votes, model, prior, wrong, settings.nodes, settings.temperature)
        converged = before is not None and bool(np.abs(posterior.rows - before).max() < settings.tolerance)
        if converged or n_rounds == settings.max_rounds:
            break
        before = posterior.rows
        model = VoteModel(
            *_stepped(votes, model, posterior, settings.nodes),
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


def _stepped(votes: Votes, model: VoteModel, posterior: Posterior, nodes: Nodes) -> tuple[FloatArray, float]:
    """One Newton step for each ability, and one for the spread."""
    times = posterior.rows * votes.copies  # rows without votes add nothing below
    expected = special.expit(model.ability[:, None] + model.spread * nodes.b)
    asked = votes.asked.T @ posterior.nodes  # items at each node, shape (M, Q)
    variance = asked * expected * (1 - expected)
    gradient = votes.shares.T @ times - (asked * expected).sum(axis=1)
    step = gradient / (variance.sum(axis=1) + _RIDGE)
    slope = float(posterior.effects @ (votes.counts * votes.copies) - ((asked * expected) @ nodes.b).sum())
    slope /= float((variance @ nodes.b**2).sum()) + _RIDGE
    spread = model.spread + float(np.clip(slope, -_SPREAD_STEP, _SPREAD_STEP))
    return model.ability + np.clip(step, -_ABILITY_STEP, _ABILITY_STEP), float(np.clip(spread, *SPREADS))


def _concentration(votes: Votes, wrong_votes: WrongVotes, posterior: Posterior, concentration: float) -> float:
    """The likeliest of a few values around the last one."""
    weights = posterior.rows * votes.copies
    values = np.clip(concentration * _FACTORS, *_CONCENTRATIONS)
    gains = [float(weights @ wrong_votes.log_likelihood(value)) for value in values]
    return float(values[int(np.argmax(gains))])


def _rates(wrong: FloatArray, strata: Clusters, base_rate: float) -> FloatArray:
    """Shrunken mean posterior of each stratum, not below the base rate."""
    weight = np.maximum(_STRATUM_WEIGHT, strata.sizes)
    return np.maximum(base_rate, (strata.sums(wrong) + weight * base_rate) / (strata.sizes + weight))
