"""How far the verdicts of a suite depend on its scenarios, prompts, few-shot seeds and
models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from warehouse.analysis.reliability.question import Reliability as Asked
from warehouse.analysis.reliability.results import (
    AgreementRow,
    DatasetRow,
    ModelRow,
    PoolRow,
    RankRow,
    ReliabilityRow,
    SeedDesignRow,
    SwitchRow,
)
from warehouse.analysis.reliability.suite_data import SuiteData, read_suite
from warehouse.analysis.reliability.view import ReliabilityReport
from warehouse.analysis.results import shared_fields
from warehouse.analysis.selection.selection import selection_of
from warehouse.questions.question import answers
from warehouse.stats.suites.dior import Reliability, Switch, sizes_of
from warehouse.stats.suites.dior import reliability as one_reliability
from warehouse.stats.suites.instances import GRANULARITIES
from warehouse.stats.suites.rank_agreement import (
    Aggregates,
    aggregates,
    pool_stability,
    subscenario_agreement,
)
from warehouse.stats.suites.score_table import SuiteScores, best_first, ranks_of
from warehouse.stats.suites.seed_designs import seed_designs
from warehouse.store.connection import Store


@answers(Asked)
def reliability(store: Store, question: Asked) -> ReliabilityReport:
    """The verdicts of a suite with other prompts, scenarios and seeds, and by aggregate
    and pool."""
    level, seed, n_resamples = question.level, question.seed, question.n_resamples
    data = read_suite(
        store,
        question.suite,
        selection_of(question),
        scenarios=question.scenarios,
        standalone=question.standalone,
    )
    scores = data.scores
    reliabilities = []
    for granularity in GRANULARITIES:
        for size in _sizes(scores, granularity, question.sizes):
            reliabilities.append(
                one_reliability(
                    scores,
                    granularity,
                    size,
                    ties=question.ties,
                    n_resamples=n_resamples,
                    seed=seed,
                    level=level,
                )
            )
    by_prompts = [result for result in reliabilities if result.granularity == "prompts"]
    figures = aggregates(scores)
    agreement = subscenario_agreement(scores)
    designs = []
    if any(part.seeds is not None for part in scores.subscenarios):
        designs = seed_designs(scores, n_resamples=n_resamples, seed=seed)
    switches = []
    for result in by_prompts:
        switches += [_switch_row(result, switch) for switch in result.switches]
    return ReliabilityReport(
        suite=data.name,
        metric=data.metric,
        n_models=len(scores.models),
        n_scenarios=len(scores.scenarios),
        n_subscenarios=len(scores.subscenarios),
        n_prompts=scores.n_prompts,
        scenarios_by=data.scenarios_by,
        level=level,
        seed=seed,
        rows=tuple(ReliabilityRow(**_figures(result)) for result in reliabilities),
        ranks=_rank_rows(scores, figures, by_prompts),
        datasets=tuple(_dataset_rows(scores, question)) if question.datasets else (),
        models=_model_rows(scores, figures, by_prompts[-1]),
        pool=_pool_rows(scores, figures),
        switches=tuple(switches),
        agreement=_agreement_rows(scores, agreement.tau),
        tau_within=agreement.within,
        tau_across=agreement.across,
        seed_designs=tuple(
            SeedDesignRow(**shared_fields(design, SeedDesignRow)) for design in designs
        ),
        notes=(*data.notes, *_notes(data, figures)),
    )


def _sizes(
    scores: SuiteScores, granularity: str, sizes: Sequence[int] | None
) -> list[int | None]:
    smaller = sizes_of(scores, granularity)
    if sizes is not None and granularity == "prompts":
        smaller = sorted({size for size in sizes if size < scores.sizes.max()})
    return [*smaller, None]


def _figures(reliability_of: Reliability) -> dict[str, Any]:
    """The columns of `ReliabilityRow`."""
    bounds: dict[str, float | None] = {}
    for name in ("ranking", "weighted", "quality", "best"):
        dior = getattr(reliability_of, name)
        bounds |= {name: dior.value, f"{name}_low": dior.low, f"{name}_high": dior.high}
    alike = (
        "granularity size n_prompts best_error same_order rank_resolution n_resamples"
        " n_undefined ties reason"
    ).split()
    errors = tuple(_none_if_nan(error) for error in reliability_of.best_errors)
    return (
        {name: getattr(reliability_of, name) for name in alike}
        | bounds
        | {"best_errors": errors}
    )


def _dataset_rows(scores: SuiteScores, question: Asked) -> Iterator[DatasetRow]:
    """Every subscenario as a benchmark of its own, with other prompts."""
    for part in scores.subscenarios:
        having = np.flatnonzero(~np.isnan(part.means))
        alone = SuiteScores(scores.models, (part,)).part(having)
        first = np.flatnonzero(ranks_of(alone.means[0]) == 1)
        leader = None
        if len(first) == 1:
            leader = alone.models[int(first[0])]
        for size in _sizes(alone, "prompts", question.sizes):
            figures = one_reliability(
                alone,
                "prompts",
                size,
                ties=question.ties,
                n_resamples=question.n_resamples,
                seed=question.seed,
                level=question.level,
            )
            yield DatasetRow(
                **_figures(figures),
                scenario=part.scenario,
                subscenario=part.name,
                n_models=len(having),
                leader=leader,
            )


def _rank_rows(
    scores: SuiteScores, aggregated: Aggregates, by_prompts: Sequence[Reliability]
) -> tuple[RankRow, ...]:
    order = best_first(aggregated.figures[0], aggregated.figures[1], scores.models)
    rows = []
    for m in order.tolist():
        for result in by_prompts:
            if result.rank_by_model is None:
                continue
            mean, low, high = result.rank_by_model[:3, m]
            row = RankRow(
                model=scores.models[m],
                rank=_whole(aggregated.ranks[0, m]),
                size=result.size,
                n_prompts=result.n_prompts,
                mean_rank=_none_if_nan(mean),
                rank_low=_whole(low),
                rank_high=_whole(high),
            )
            rows.append(row)
    return tuple(rows)


def _switch_row(result: Reliability, switch: Switch) -> SwitchRow:
    figures = (switch.probability, switch.low, switch.high, switch.first, switch.most)
    return SwitchRow(
        switch.window, result.size, result.n_prompts, *map(_none_if_nan, figures)
    )


def _model_rows(
    scores: SuiteScores, aggregated: Aggregates, whole: Reliability
) -> tuple[ModelRow, ...]:
    order = best_first(aggregated.figures[0], aggregated.figures[1], scores.models)
    in_suite = int((scores.has_score.sum(axis=1) > 1).sum())
    rows = []
    for m in order.tolist():
        figures = [_none_if_nan(x) for x in aggregated.figures[:, m]]
        ranks = [_whole(x) for x in aggregated.ranks[:, m]]
        given_ranks = [rank for rank in ranks if rank is not None]
        quality = whole.quality_by_model
        resolution = whole.rank_resolution_by_model
        own_quality = None
        if quality is not None:
            own_quality = _none_if_nan(quality[m])
        rank_resolution = None
        if resolution is not None:
            rank_resolution = _whole(resolution[m])
        rows.append(
            ModelRow(
                model=scores.models[m],
                n_scenarios=int(aggregated.n_scenarios[m]),
                n_scenarios_suite=in_suite,
                rank=ranks[0],
                mean_win_rate=figures[0],
                mean=figures[1],
                rank_mean=ranks[1],
                mean_z=figures[2],
                rank_z=ranks[2],
                bradley_terry=figures[3],
                rank_bradley_terry=ranks[3],
                subscenario_win_rate=figures[4],
                rank_subscenarios=ranks[4],
                rank_low=min(given_ranks, default=None),
                rank_high=max(given_ranks, default=None),
                quality=own_quality,
                rank_resolution=rank_resolution,
            )
        )
    return tuple(rows)


def _pool_rows(scores: SuiteScores, aggregated: Aggregates) -> tuple[PoolRow, ...]:
    if len(scores.models) < 3:
        return ()
    stable = pool_stability(scores)
    order = best_first(aggregated.figures[0], aggregated.figures[1], scores.models)
    return tuple(
        PoolRow(
            model=scores.models[m],
            rank=_whole(aggregated.ranks[0, m]),
            n_moved=int(stable.n_moved[m]),
            largest=int(stable.largest[m]),
            n_reversed=int(stable.n_reversed[m]),
            leader_changes=bool(stable.leader_changes[m]),
        )
        for m in order.tolist()
    )


def _agreement_rows(
    scores: SuiteScores, tau: np.ndarray[Any, np.dtype[np.float64]]
) -> tuple[AgreementRow, ...]:
    parts = scores.subscenarios
    return tuple(
        AgreementRow(
            a.scenario,
            a.name,
            b.scenario,
            b.name,
            _none_if_nan(tau[i, j]),
            a.scenario == b.scenario,
        )
        for (i, a), (j, b) in combinations(enumerate(parts), 2)
    )


def _notes(data: SuiteData, aggregated: Aggregates) -> list[str]:
    notes = []
    if len(data.scores.models) < 3:
        notes.append("two models: a ranking is one pair, and no model can leave")
    if np.nanmax(aggregated.ranks[0]) == 1:
        notes.append(
            "all models have the same mean win rate: there is no ranking to be reliable"
        )
    return notes


def _whole(rank: float) -> int | None:
    if math.isnan(rank):
        return None
    return int(rank)


def _none_if_nan(value: float) -> float | None:
    if math.isnan(value):
        return None
    return float(value)
