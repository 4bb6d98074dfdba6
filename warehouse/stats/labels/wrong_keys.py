"""Items whose recorded key is probably wrong, by the answers of several models
(statistics.md §14).

For each item: the posterior probability that its key is wrong and the rival that the
models prefer. It finds what models agree on; where they are split it is blind: a clean
list proves no clean key.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.labels.audit import Label, Strata, strata_of
from warehouse.stats.labels.vote_model import (
    Fit,
    FitSettings,
    fit_votes,
    spread_at_bound,
)
from warehouse.stats.labels.votes import IntArray, Votes, votes_of_models

#: π0: the share of wrong keys that is expected, and the floor of each stratum's rate.
BASE_RATE = 0.02
#: T: models err together, so their votes count half.
TEMPERATURE = 0.5
#: Default end of the list: few real items pass 0.5.
THRESHOLD = 0.1
_SHARE_OF_BEST, MOST_MODELS, FEWEST_MODELS = 0.6, 20, 3
_FEW_MODELS = 5
_TIE = 12  # digits: options whose probabilities differ by rounding are tied
# So many wrong answers in common, and no answer that differs, are no coincidence.
_COMMON_ERRORS = 10


@dataclass(frozen=True)
class StratumRate:
    """The rate of wrong keys that one stratum's items share."""

    stratum: Label  #: its label; None where no strata were given.
    n_items: int  #: its items that are not refused.
    rate: float  #: π, at least the base rate.
    expected_wrong: float  #: sum of the posterior probabilities of its items.


@dataclass(frozen=True)
class WrongKeys(NamedFigures):
    """How probable it is that the recorded key of each of J items is wrong."""

    posterior: FloatArray  #: P(the key is wrong | the votes), shape (J,); NaN where the item is refused.
    #: the most probable other option, shape (J,); −1 where that is one without votes,
    #: and where the item is refused. Of equals the first.
    rival: IntArray
    rival_posterior: FloatArray  #: probability that the rival is the true key, shape (J,); NaN if refused.
    votes_key: FloatArray  #: votes for the recorded key, shape (J,); a model has one, split over its draws.
    votes_rival: FloatArray  #: votes for the rival, shape (J,).
    votes_unparsed: FloatArray  #: votes that name no option, shape (J,).
    n_answered: FloatArray  #: models that answered the item, shape (J,).
    stratum_rate: FloatArray  #: π of the item's stratum, shape (J,); NaN if refused.
    #: why the item is refused, empty if it is not, shape (J,) of strings.
    reasons: NDArray[np.str_]
    n_refused: int  #: items refused.
    strata: tuple[StratumRate, ...]  #: the rate of each stratum.
    models: IntArray  #: the models whose votes were counted, as numbers of the columns, shape (M,).
    ability: FloatArray  #: θ of each of them, in logits, shape (M,).
    spread: float  #: s, standard deviation of the items' effects in logits.
    #: A; the smaller, the more do wrong models share one distractor.
    concentration: float
    base_rate: float  #: π0.
    temperature: float  #: T.
    n_rounds: int  #: rounds of the EM algorithm.
    #: ``few_models`` (fewer than 5), ``not_converged``, ``spread_at_bound`` (the votes
    #: do not tell how items differ).
    flags: tuple[str, ...]

    def __str__(self) -> str:
        judged = len(self.posterior) - self.n_refused
        return (
            f"{float(np.nansum(self.posterior)):.3g} wrong keys expected among "
            f"{judged} items, by {len(self.models)} models (refused: {self.n_refused})"
        )


def select_models(votes: Votes) -> IntArray:
    """The models worth hearing: at least 0.6 of the best score, at most 20, at least
    the three best.

    Scores are shares of votes for the recorded keys. Ties at the end: the first.

    Raises:
        StatisticsError: fewer than three models answered an item that can be judged.
    """
    scores = votes.accuracy()
    ranked = np.argsort(-np.where(np.isnan(scores), -1.0, scores), kind="stable")
    ranked = ranked[: int((~np.isnan(scores)).sum())]
    if len(ranked) < FEWEST_MODELS:
        raise StatisticsError(
            f"suspected wrong keys need the answers of {FEWEST_MODELS} models, found "
            f"{len(ranked)}"
        )
    enough = int((scores[ranked] >= _SHARE_OF_BEST * scores[ranked[0]]).sum())
    return np.sort(ranked[: min(max(enough, FEWEST_MODELS), MOST_MODELS)]).astype(
        np.int64
    )


def same_answers(votes: Votes) -> list[tuple[int, int, float]]:
    """Pairs of models with the same votes throughout, ten or more wrong ones among
    them: one model twice.

    Returns:
        numbers of both, and how many of their votes are wrong.
    """
    wrong = votes.answered_by.sum(axis=0) - votes.shares[votes.start].sum(axis=0)
    return [
        (int(a), int(b), float(wrong[a]))
        for a, b in combinations(np.flatnonzero(wrong >= _COMMON_ERRORS), 2)
        if wrong[a] == wrong[b]
        and (votes.answered_by[:, a] == votes.answered_by[:, b]).all()
        and (votes.shares[:, a] == votes.shares[:, b]).all()
    ]


def wrong_keys(
    votes: Votes,
    strata: ArrayLike | None = None,
    *,
    models: ArrayLike | None = None,
    base_rate: float = BASE_RATE,
    temperature: float = TEMPERATURE,
    tolerance: float = 1e-4,
    max_rounds: int = 500,
) -> WrongKeys:
    """The posterior probability of a wrong key for each item.

    Args:
        votes: of all models for the options of J items, one run of each model.
        strata: subject or source of each item, integers or strings, shape (J,); None:
            one rate.
        models: numbers of the models to hear; None: ``select_models``.
        base_rate: π0, in (0, 0.5): the share of wrong keys that is expected; no stratum
            has less.
        temperature: T, in (0, 1]: 1 takes models to err independently.
        tolerance: the fit ends when no probability moves by as much in a round.
        max_rounds: most rounds.

    Raises:
        StatisticsError: fewer than three models, two of them with the same answers
            throughout, or arguments out of range.

    Examples:
        >>> from warehouse.stats.labels.votes import votes_for_options
        >>> answers = [[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 0]] * 10 + [[1, 1, 1]]
        >>> estimate = wrong_keys(votes_for_options(answers, [0, 1, 2, 3] * 10 + [0], 4))
        >>> print(estimate, "|", estimate.rival[-1], round(estimate.posterior[-1], 2))
        0.498 wrong keys expected among 41 items, by 3 models (refused: 0) | 1 0.49
    """
    if not (
        0 < base_rate < 0.5
        and 0 < temperature <= 1
        and tolerance > 0
        and max_rounds >= 1
    ):
        raise StatisticsError(
            "`base_rate` must lie in (0, 0.5), `temperature` in (0, 1], `tolerance` "
            f"above 0 and `max_rounds` at least 1, found {base_rate}, {temperature}, "
            f"{tolerance}, {max_rounds}"
        )
    chosen = (
        select_models(votes) if models is None else np.asarray(models, dtype=np.int64)
    )
    if len(chosen) < FEWEST_MODELS:
        raise StatisticsError(
            f"suspected wrong keys need the answers of {FEWEST_MODELS} models, found "
            f"{len(chosen)}"
        )
    heard = votes_of_models(votes, chosen)
    for a, b, n_wrong in same_answers(heard):
        raise StatisticsError(
            f"models {chosen[a]} and {chosen[b]} gave the same answers throughout, "
            f"{n_wrong:g} wrong ones among them; a model has one vote: leave one out"
        )
    silent = chosen[heard.answered_by.sum(axis=0) == 0]
    if len(silent):
        raise StatisticsError(
            f"model {silent[0]} answered no item that can be judged: leave it out"
        )
    groups = strata_of(strata, heard.reasons == "")
    with one_blas_thread():
        fit = fit_votes(
            heard,
            groups.groups,
            FitSettings(base_rate, temperature, tolerance, max_rounds),
        )
    return _result(heard, fit, groups, chosen, base_rate, temperature)


def _rivals(votes: Votes, probabilities: FloatArray) -> IntArray:
    """Row of the most probable option that is not the key, of each item; of equals the
    first."""
    others = probabilities.round(_TIE)
    others[votes.start] = -np.inf
    best = np.flatnonzero(
        others == np.maximum.reduceat(others, votes.start)[votes.owner]
    )
    _owners, first = np.unique(votes.owner[best], return_index=True)
    return np.asarray(best[first], dtype=np.int64)


def _result(
    votes: Votes,
    fit: Fit,
    strata: Strata,
    models: IntArray,
    base_rate: float,
    temperature: float,
) -> WrongKeys:
    counts, each = votes.counts, fit.posterior.rows
    wrong = 1 - fit.posterior.rows[votes.start]
    rivals = _rivals(votes, each)
    answered = votes.answered_by.sum(axis=1)
    parsed = votes.totals(counts * votes.copies)

    def of_all(values: FloatArray, missing: float = np.nan) -> FloatArray:
        spread_out = np.full(votes.n_items, missing)
        spread_out[votes.items] = values
        return spread_out

    return WrongKeys(
        posterior=of_all(wrong),
        rival=of_all(votes.option[rivals].astype(np.float64), -1).astype(np.int64),
        rival_posterior=of_all(each[rivals]),
        votes_key=of_all(counts[votes.start]),
        votes_rival=of_all(counts[rivals]),
        votes_unparsed=of_all(np.maximum(0.0, answered - parsed).round(_TIE)),
        n_answered=of_all(answered),
        stratum_rate=of_all(fit.rates[strata.groups.codes]),
        reasons=votes.reasons,
        n_refused=votes.n_items - len(votes.items),
        strata=_rates(fit, strata, wrong),
        models=models,
        ability=fit.model.ability,
        spread=fit.model.spread,
        concentration=fit.model.concentration,
        base_rate=base_rate,
        temperature=temperature,
        n_rounds=fit.n_rounds,
        flags=flags_of(
            few_models=len(models) < _FEW_MODELS,
            not_converged=not fit.converged,
            spread_at_bound=spread_at_bound(fit.model.spread),
        ),
    )


def _rates(fit: Fit, strata: Strata, wrong: FloatArray) -> tuple[StratumRate, ...]:
    expected = strata.groups.sums(wrong)
    return tuple(
        StratumRate(name, int(size), float(rate), float(total))
        for name, size, rate, total in zip(
            strata.names, strata.groups.sizes, fit.rates, expected, strict=True
        )
    )
