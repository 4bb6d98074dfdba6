"""Which models are preferred: strengths by votes, what the votes decide, and whether it
helps to be shown first."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.prefer.question import Prefer
from warehouse.analysis.prefer.rows import Judge, JudgeAgreement, PreferenceRow
from warehouse.analysis.prefer.view import PreferenceReport
from warehouse.analysis.prefer.votes import Votes, read_votes, scorers_of_votes
from warehouse.analysis.results import part_fields
from warehouse.analysis.selection.benchmarks import find_benchmark
from warehouse.errors import MisuseError, StatisticsError, did_you_mean
from warehouse.questions.question import answers
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.multiple.adjust import holm
from warehouse.stats.preferences.ballots import BOTH_BAD, Ballots, ballots
from warehouse.stats.preferences.contrasts import (
    LOOSE,
    NO_SPREAD,
    Band,
    contrasts,
    position_bias,
    simultaneous,
    two_judges,
)
from warehouse.stats.preferences.errors import Errors, preference_errors
from warehouse.stats.preferences.fit import (
    ELO,
    Fit,
    NotConnectedError,
    SeparableError,
    connected,
    fit_preferences,
)
from warehouse.store.connection import Store
from warehouse.tables.words import some_of

#: Groups that an error names.
_GROUPS = 4
_OF_CONTRAST = (
    "estimate",
    "standard_error",
    "low",
    "high",
    "p_value",
    "degrees_of_freedom",
)


@answers(Prefer)
def prefer(store: Store, question: Prefer) -> PreferenceReport:
    """A fit for each scorer that is meant."""
    scorers = scorers_of_votes(store, find_benchmark(store, question.benchmark).ids)
    if len(scorers) > 1 and not (question.by or question.scorer):
        raise MisuseError(
            f"votes on {question.benchmark} are of {', '.join(map(str, scorers))}, "
            "which are never pooled; name one with --scorer, or take each by itself: "
            "--by scorer"
        )
    votes = read_votes(
        store,
        question.benchmark,
        question.scorer,
        by_scorer=bool(question.by),
        covariates=question.covariate,
    )
    found = [_judged(votes, number, question) for number in range(len(votes.scorers))]
    notes = [
        f"{votes.n_shared} votes stand in another source too, and count twice: "
        f"{some_of(votes.shared_by)}"
    ]
    if question.by:
        agreement = tuple(_agreement(votes, question))
    else:
        agreement = ()
    return PreferenceReport(
        benchmark=votes.benchmark,
        rows=tuple(chain.from_iterable(rows for rows, _ in found)),
        judges=tuple(judge for _, judge in found),
        agreement=agreement,
        notes=tuple(notes if votes.n_shared else ()),
        source_ids=votes.source_ids,
        errors=question.errors,
    )


@one_blas_thread()
def _judged(
    votes: Votes, number: int, question: Prefer
) -> tuple[list[PreferenceRow], Judge]:
    """Strengths by one scorer; where each is asked, one that gives none says why."""
    chosen = votes.scorer == number
    try:
        counted, models = counted_votes(votes, chosen, question)
        fit = fitted(counted, models, question, votes.scorers[number].label)
    except (MisuseError, StatisticsError) as error:
        if not question.by:
            raise
        scorer = votes.scorers[number]
        empty = np.zeros((0, 0))
        return [], Judge(scorer.label, scorer.kind, (), int(chosen.sum()), 0, 0, 0, None, None, 0, 0, 0, 0, None, empty,
                         empty > 0, {}, None, None, {}, (), str(error))  # fmt: skip
    errors = preference_errors(fit, method=question.errors)
    band = simultaneous(fit.strengths, errors, level=question.level, seed=question.seed)
    judge = _judge(votes, number, fit, errors, band, models, question)
    return _rows(votes.benchmark, fit, errors, band, judge, models, question), judge


def counted_votes(
    votes: Votes, chosen: NDArray[np.bool_], question: Prefer
) -> tuple[Ballots, tuple[str, ...]]:
    """Votes of one scorer, and the models that they voted on."""

    def counted(kept: NDArray[np.bool_], codes: NDArray[np.intp]) -> Ballots:
        index_of = np.zeros(len(votes.models), dtype=np.intp)
        index_of[codes] = np.arange(len(codes))
        differences = [
            values[kept, 0] - values[kept, 1] for values in votes.covariates.values()
        ]
        covariates = None
        if differences:
            covariates = np.column_stack(differences)
        return ballots(
            index_of[votes.first[kept]],
            index_of[votes.second[kept]],
            votes.outcome[kept],
            n_models=len(codes),
            voters=votes.voter[kept],
            prompts=votes.prompt[kept],
            weights=votes.weight[kept],
            order_known=votes.order_known[kept],
            covariates=covariates,
            names=tuple(votes.covariates),
            uniform_pairs=question.weights == "uniform_pairs",
            drop_both_bad=question.drop_both_bad,
        )

    codes = np.unique(np.concatenate([votes.first[chosen], votes.second[chosen]]))
    if question.component is not None:
        groups = connected(counted(chosen, codes))
        if question.component > len(groups) or len(groups[question.component - 1]) < 2:
            several = sum(len(group) > 1 for group in groups)
            raise MisuseError(
                f"there is no group {question.component} of two models or more; there "
                f"are {several}"
            )
        codes = codes[groups[question.component - 1]]
        chosen = chosen & np.isin(votes.first, codes) & np.isin(votes.second, codes)
    return counted(chosen, codes), tuple(votes.models[code] for code in codes)


def fitted(
    counted: Ballots, models: Sequence[str], question: Prefer, scorer: str
) -> Fit:
    """The fit, or why there is none, by the names of the models."""
    try:
        return fit_preferences(counted, ties=question.ties, ridge=question.ridge)
    except NotConnectedError as error:
        groups = []
        for group in error.groups:
            groups.append(some_of([models[at] for at in group]))
        more = ""
        if len(groups) > _GROUPS:
            more = f"; and {len(groups) - _GROUPS} more"
        listed = "; ".join(
            f"{at}) {group}" for at, group in enumerate(groups[:_GROUPS], 1)
        )
        alone = ""
        if question.by:
            alone = f"--scorer {shlex.quote(scorer)} "
        raise MisuseError(
            f"{error} (within one each model lost to each other, if only at some "
            f"remove): {listed}{more}; take one with {alone}--component 1, collect "
            "votes between them, or give up intervals with --ridge 0.1"
        ) from None
    except SeparableError as error:
        parts = ", ".join(
            f"{name if isinstance(name, str) else models[name]} {by:+.3g}"
            for name, by in error.direction.items()
        )
        raise StatisticsError(
            f"{error}, along {parts}; leave a covariate out, or collect more votes"
        ) from None


def _judge(
    votes: Votes,
    number: int,
    fit: Fit,
    errors: Errors,
    band: Band,
    models: Sequence[str],
    question: Prefer,
) -> Judge:
    counted, scorer = fit.votes, votes.scorers[number]
    order = np.argsort(-fit.strengths, kind="stable")
    unit = np.eye(len(fit.theta))[len(models) :]
    others = dict(
        zip(
            fit.names,
            contrasts(fit.theta, errors, unit, level=question.level),
            strict=True,
        )
    )
    has_band = band.critical_value is not None
    confounded: list[str] = []
    no_band = (
        "" if has_band else LOOSE if "jackknife_singular" in errors.flags else NO_SPREAD
    )
    position = None
    if not question.ridge:
        position = position_bias(
            counted,
            ties=question.ties,
            errors=question.errors,
            level=question.level,
            one_judge=scorer.kind == "model",
        )
        if position.gamma is None and position.is_ordered:
            confounded = ["order_confounded"]
    return Judge(
        scorer=scorer.label,
        kind=scorer.kind,
        models=tuple(models[at] for at in order),
        n_votes=counted.n,
        n_ties=int((counted.signs == 0).sum()),
        n_both_bad=int((counted.outcome == BOTH_BAD).sum()),
        n_pairs=len(np.unique(counted.pairs)),
        n_apart=int(band.apart.sum()) // 2 if has_band else None,
        n_first=int((band.rank_low == 1).sum()) if has_band else None,
        n_prompts=errors.n_prompts if counted.identified[1] else 0,
        n_voters=errors.n_voters if counted.identified[0] else 0,
        effective_voters=errors.effective[0],
        effective_prompts=errors.effective[1],
        degrees_of_freedom=errors.degrees_of_freedom,
        chances=fit.win_probability(
            fit.strengths[order][:, None] - fit.strengths[order][None]
        ),
        apart=band.apart[np.ix_(order, order)],
        covariates={name: others[name] for name in counted.names},
        tie_parameter=others.get("ln(ties)"),
        position=position,
        left_out=dict(votes.left_out) | counted.left_out,
        flags=(
            *counted.flags,
            *errors.flags,
            *confounded,
            *(["penalised"] if question.ridge else []),
        ),
        reason=errors.reason or no_band,
    )


def _rows(
    benchmark: str,
    fit: Fit,
    errors: Errors,
    band: Band,
    judge: Judge,
    models: Sequence[str],
    question: Prefer,
) -> list[PreferenceRow]:
    """The models that are asked for, the strongest first."""
    counted, m = fit.votes, len(models)
    reference = question.models[1] if question.models else question.reference
    for name in (*question.models, *([reference] if reference else [])):
        if name not in models:
            raise MisuseError(
                f"{name} has no votes by {judge.scorer}; "
                f"{did_you_mean(name, models, 'see the table of all')}"
            )
    weights = np.eye(m, len(fit.theta))
    if reference is None:
        weights[:, :m] -= 1 / m
    else:
        weights[:, :m] -= np.eye(m)[models.index(reference)]
    found = contrasts(fit.theta, errors, weights, level=question.level)
    plain = _plain(counted, question) if counted.names else None
    won = np.where(
        counted.signs > 0,
        counted.first,
        np.where(counted.signs < 0, counted.second, -1),
    )
    rows = []
    for rank, at in enumerate(np.argsort(-fit.strengths, kind="stable").tolist(), 1):
        if question.models and models[at] not in question.models:
            continue
        contrast, is_own = found[at], (counted.first == at) | (counted.second == at)
        is_reference = models[at] == reference
        ends = [
            None if end is None else float(fit.win_probability(end))
            for end in (contrast.low, contrast.high)
        ]
        has_band = band.critical_value is not None
        rows.append(
            PreferenceRow(
                benchmark=benchmark,
                scorer=judge.scorer,
                model=models[at],
                rank=rank,
                level=question.level,
                win_probability=float(fit.win_probability(contrast.estimate)),
                win_low=ends[0],
                win_high=ends[1],
                rank_low=int(band.rank_low[at]) if has_band else None,
                rank_high=int(band.rank_high[at]) if has_band else None,
                elo=1000 + ELO * float(fit.strengths[at]),
                reference=reference or "",
                without_covariates=None
                if plain is None
                else float(weights[at, :m] @ plain),
                rank_without=None
                if plain is None
                else 1 + int((plain > plain[at]).sum()),
                n_votes=int(is_own.sum()),
                n_wins=int((won == at).sum()),
                n_ties=int((is_own & (won < 0)).sum()),
                n_prompts=len(np.unique(counted.prompts[is_own]))
                if counted.identified[1]
                else 0,
                ties=question.ties,
                weights=question.weights,
                flags=judge.flags,
                reason="" if is_reference else contrast.reason,
                **part_fields(contrast, *_OF_CONTRAST),
            )
        )
    return rows


def _plain(counted: Ballots, question: Prefer) -> NDArray[np.float64]:
    """Strengths without covariates."""
    bare = replace(counted, covariates=counted.covariates[:, :0], names=())
    return fit_preferences(bare, ties=question.ties, ridge=question.ridge).strengths


def _agreement(votes: Votes, question: Prefer) -> Iterator[JudgeAgreement]:
    """Each two scorers on the pairs that both saw."""
    key = votes.pair_keys
    for first, second in combinations(range(len(votes.scorers)), 2):
        names = votes.scorers[first].label, votes.scorers[second].label
        own = [
            (votes.scorer == number) & (votes.prompt >= 0) for number in (first, second)
        ]
        of_first, of_second = own
        shared = np.intersect1d(key[of_first], key[of_second])
        kept = np.isin(key, shared) & (of_first | of_second)
        kept &= (votes.outcome != BOTH_BAD) | (not question.drop_both_bad)
        try:
            counted, models = counted_votes(votes, kept, question)
            two = two_judges(
                counted,
                votes.scorer[kept] == second,
                ties=question.ties,
                errors=question.errors,
                level=question.level,
            )
        except (MisuseError, StatisticsError) as error:
            yield JudgeAgreement(*names, None, None, int(kept.sum()), {}, 0, str(error))
            continue
        p_values = [
            1.0 if found.p_value is None else found.p_value for found in two.contrasts
        ]
        differ = int((holm(np.array(p_values)) < 1 - question.level).sum())
        differences = dict(zip(models, two.contrasts, strict=True))
        yield JudgeAgreement(
            *names, two.tau, two.spearman, counted.n, differences, differ, ""
        )
