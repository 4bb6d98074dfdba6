"""The variance of runs split between prompts and draws, and the error where training
seeds are random too."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.results import Result, part_fields, shared_fields
from warehouse.analysis.selection.scores import draws_declared, right_draws
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.selection.targets import Target, Targets, find_targets
from warehouse.analysis.variance.brief import brief_view
from warehouse.analysis.variance.heading import left_out_notes
from warehouse.analysis.variance.pass_view import PassReport, PassRow
from warehouse.analysis.variance.question import PassRates, SeedVariance, Variance
from warehouse.analysis.variance.row import (
    VarianceRow,
    explain_rows,
    make_row,
    split_view,
)
from warehouse.analysis.variance.seed_view import SeedReport, SeedRow
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.records.run_fields import CHECKPOINT_FIELDS, LABEL_FIELDS
from warehouse.stats import (
    CrossedVariance,
    PassRate,
    SingleDrawRange,
    VarianceComponents,
    crossed_variance,
    pass_at_k,
    pass_hat_k,
    single_draw_range,
)
from warehouse.stats import variance_components as split
from warehouse.stats.core.draws import PromptDraws
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text
from warehouse.tables.view import View

_RATES = "the draws are stored as rates"
_OF_A_SLICE = "of a slice runs of one draw are not told apart"


@dataclass(frozen=True)
class VarianceReport(Result):
    """The split of each condition's variance."""

    target: str  #: as given.
    rows: tuple[VarianceRow, ...]
    left_out: tuple[str, ...]  #: what has no scores, with the reason.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.
    of_fields: tuple[str, ...] = ()  #: what is to be said of the field of slices.

    @property
    def one_line(self) -> str:
        if len(self.rows) == 1:
            row = self.rows[0]
            return f"{row.model} on {row.benchmark}: {row.advice or row.reason}"
        return f"{self.target}: variance of {len(self.rows)} conditions"

    @property
    def notes(self) -> tuple[str, ...]:
        """The first of what was left out."""
        return (*left_out_notes(self.left_out), *self.of_fields)

    def view(self, *, verbose: bool = False) -> View:
        """Where each error comes from, and what would halve it.

        Args:
            verbose: every figure of the split, and what columns mean.
        """
        if verbose:
            return split_view(self.rows, self.notes, verbose=True)
        notes = (*explain_rows(self.rows, verbose=False), *self.notes)
        return brief_view(self.rows, notes, in_percent=self.is_share)


@answers(Variance)
def variance(store: Store, question: Variance) -> VarianceReport:
    """One row for each condition."""
    targets = find_targets(store, question.target, selection_of(question))
    if question.by is not None:
        return _by_field(store, targets, question, question.by)
    plain = [item for item in targets.scored if item.is_plain_mean]
    if question.single_draws:
        ranges = _ranges(store, plain)
    else:
        ranges = {}
    return variance_of(targets, question.target, ranges)


def _by_field(
    store: Store, targets: Targets, question: Variance, field: str
) -> VarianceReport:
    """The split of each condition on each slice."""
    from warehouse.analysis.variance.slices import sliced_targets

    sliced = sliced_targets(store, targets, field)
    rows = [
        replace(
            make_row(part.target, _components(part.target), _OF_A_SLICE),
            field=sliced.field,
            slice=part.slice,
            **sliced.label.columns,
        )
        for part in sliced.parts
    ]
    is_share = all(item.metric.bounds == (0.0, 1.0) for item in targets.scored)
    return VarianceReport(
        question.target, tuple(rows), targets.left_out, is_share, tuple(sliced.lines)
    )


def variance_of(
    targets: Targets,
    target: str,
    ranges: Mapping[tuple[str, int], SingleDrawRange | str],
) -> VarianceReport:
    """`variance` of scores that were read; asks the store nothing.

    Args:
        targets: the conditions.
        target: what they were asked for by.
        ranges: how far runs of one draw lie apart, by condition key and id of the
            metric.
    """
    rows = [
        make_row(
            item, _components(item), ranges.get((item.condition.key, item.metric.id))
        )
        for item in targets.scored
    ]
    is_share = all(item.metric.bounds == (0.0, 1.0) for item in targets.scored)
    return VarianceReport(target, tuple(rows), targets.left_out, is_share)


def _components(target: Target) -> VarianceComponents | None:
    """None where the figure is no plain mean of the scores."""
    scores = target.scores
    if not target.is_plain_mean:
        return None
    clusters = target.clusters.labels(scores.prompts)
    return split(scores.values, scores.within, scores.n_draws, clusters)


def _ranges(
    store: Store, targets: Sequence[Target]
) -> Mapping[tuple[str, int], SingleDrawRange | str]:
    """Δ(k=1) by condition and metric, or why there is none; one query for each metric."""
    ranges: dict[tuple[str, int], SingleDrawRange | str] = {}
    for metric_id in sorted({target.metric.id for target in targets}):
        own = [target for target in targets if target.metric.id == metric_id]
        several = [target for target in own if target.scores.n_draws.min() > 1]
        scores = {}
        if several:
            scores = _single_draws(store, several, metric_id)
        for target in own:
            key = target.condition.key
            ranges[key, metric_id] = _range(target, scores.get(key, []))
    return ranges


def _single_draws(
    store: Store, targets: Sequence[Target], metric_id: int
) -> dict[str, list[tuple[float, int]]]:
    """Scores of the single-draw runs with their numbers of prompts, by condition.

    Where every draw has all prompts, the draws as stored are these runs, of which the
    means may be kept; else the draws of each prompt are numbered, which takes an engine
    long.
    """
    whole: dict[str, list[tuple[float, int]]] = {}
    by_run: dict[int, list[tuple[float, int]]] = {}
    for name in ("draw_scores", "scores_of_whole_draws"):
        for row in _by_draw(store, name, targets, metric_id, without=set(by_run)):
            by_run.setdefault(row["run_id"], []).append(
                (row["score"], row["n_prompts"])
            )
    rest = []
    for target in targets:
        draws = list(
            chain.from_iterable(
                by_run.get(run, ()) for run in sorted(target.condition.run_ids)
            )
        )
        if all(n_prompts == target.scores.n for _, n_prompts in draws):
            whole[target.condition.key] = draws
        else:
            rest.append(target)
    for row in _by_draw(store, "scores_by_draw", rest, metric_id):
        whole.setdefault(row["condition_key"], []).append(
            (row["score"], row["n_prompts"])
        )
    return whole


def _by_draw(
    store: Store,
    name: str,
    targets: Sequence[Target],
    metric_id: int,
    without: Collection[int] = (),
) -> list[dict[str, Any]]:
    """Rows of a query of the scores of some conditions by draw, but for those of some
    runs."""
    run_ids = []
    for target in targets:
        for run in target.condition.run_ids:
            if run not in without:
                run_ids.append(run)
    if not run_ids:
        return []
    most = max(int(target.scores.n_draws.min()) for target in targets)
    query = query_text("analysis", name).format(most=most)
    return store.rows(query, {"metric_ids": [metric_id], "run_ids": run_ids})


def _range(
    target: Target, single: Sequence[tuple[float, int]]
) -> SingleDrawRange | str:
    scores = target.scores
    fewest = int(scores.n_draws.min())
    if fewest == 1:
        return "a prompt has only one draw"
    complete = [score for score, n_prompts in single[:fewest] if n_prompts == scores.n]
    if len(complete) < fewest:
        return _RATES
    draws = PromptDraws(
        scores.values,
        np.where(scores.n_draws > 1, scores.within, math.nan),
        scores.n_draws,
    )
    return single_draw_range(complete, draws)


# What tells replicates apart, or merely names the checkpoint; all else has to agree.
_OF_A_SEED = ("training_seed", *CHECKPOINT_FIELDS)


@answers(SeedVariance)
def seed_variance(store: Store, question: SeedVariance) -> SeedReport:
    """One row for each set of seeds."""
    return seeds_of(
        find_targets(store, question.target, selection_of(question)), question.target
    )


def seeds_of(targets: Targets, target: str) -> SeedReport:
    """`seed_variance` of scores that were read; asks the store nothing.

    Args:
        targets: the conditions.
        target: what they were asked for by.

    Raises:
        MisuseError: no model with scores of two seeds.
    """
    sets: dict[tuple[Any, ...], list[Target]] = {}
    for item in targets.scored:
        # an unknown seed may be any of the others
        if item.condition.setting("training_seed"):
            sets.setdefault(_set_of(item), []).append(item)
    several = [members for members in sets.values() if len(_labels(members)) > 1]
    if not several:
        raise MisuseError(
            f"{target} has no model with prompt scores of two training seeds at one "
            "position; see: warehouse list runs --json (training_seed, position)"
        )
    several.sort(key=lambda members: members[0].condition.setting("position") or 0.0)
    return SeedReport(target, tuple(map(_row, several)), targets.left_out)


def _set_of(target: Target) -> tuple[Any, ...]:
    condition = target.condition
    fixed = tuple(
        condition.setting(name) for name in LABEL_FIELDS if name not in _OF_A_SEED
    )
    checkpoint = (condition.setting("position_unit"), condition.setting("position"))
    return (
        condition.model,
        condition.benchmark_split,
        target.metric.id,
        checkpoint,
        fixed,
    )


def _labels(members: Sequence[Target]) -> list[str]:
    return sorted(
        {str(target.condition.setting("training_seed")) for target in members}
    )


def _row(members: Sequence[Target]) -> SeedRow:
    seeds = _labels(members)
    common = reduce(np.intersect1d, [target.scores.prompts for target in members])
    seen = np.unique(np.concatenate([target.scores.prompts for target in members]))
    reason = _why_not(members, seeds, common)
    if reason:
        crossed = None
    else:
        crossed = _crossed(members, common)
    first = members[0].condition
    unit = first.setting("position_unit")
    position = first.setting("position")
    names = (
        *(
            "se_seeds_fixed",
            "se_prompts_fixed",
            "se_both_sampled",
            "se_both_fixed",
            "seed_sd",
            "part_prompts",
        ),
        *("part_seeds", "part_interaction", "n_clusters"),
    )
    place = ""
    if position is not None:
        place = f"{unit or 'position'}={position:g}"
    return SeedRow(
        model=first.model,
        recipe=first.setting("recipe") or "",
        position=place,
        benchmark=first.benchmark_split[0],
        split=first.benchmark_split[1],
        metric=members[0].metric.label,
        n_seeds=len(seeds),
        n_prompts=len(common),
        n_left_out=len(seen) - len(common),
        seeds=tuple(seeds),
        reason=reason,
        run_ids=tuple(chain.from_iterable(item.condition.run_ids for item in members)),
        **part_fields(crossed, *names, estimate="mean"),
    )


def _why_not(
    members: Sequence[Target], seeds: Sequence[str], common: NDArray[np.int64]
) -> str:
    if len(members) > len(seeds):
        return (
            "a seed has several checkpoints here; narrow them with --where revision=..."
        )
    if not all(target.is_plain_mean for target in members):
        return "a ratio or linked metric is no plain mean of its prompts"
    if len(common) < 2:
        return f"only {len(common)} prompts have a score of every seed"
    labels = members[0].clusters.labels(common)
    if labels is not None and np.ptp(labels) == 0:
        return "all prompts are in one cluster"
    return ""


def _crossed(members: Sequence[Target], common: NDArray[np.int64]) -> CrossedVariance:
    rows = [np.searchsorted(target.scores.prompts, common) for target in members]

    def table(name: str) -> NDArray[np.float64]:
        return np.stack(
            [
                getattr(item.scores, name)[row]
                for item, row in zip(members, rows, strict=True)
            ]
        )

    within = table("within")
    draws = table("n_draws")
    replicated = bool(np.isfinite(within).all() and (draws > 1).all())
    own_within = None
    n_draws = None
    if replicated:
        own_within = within
        n_draws = draws
    return crossed_variance(
        table("values"),
        within=own_within,
        n_draws=n_draws,
        clusters=members[0].clusters.labels(common),
    )


@answers(PassRates)
def pass_rates(store: Store, question: PassRates) -> PassReport:
    """One row for each condition and k."""
    if not question.at and not question.hat:
        raise MisuseError(
            "no k given; `at` takes those of pass@k, `hat` those of pass^k"
        )
    targets = find_targets(store, question.target, selection_of(question))
    rows = list(chain.from_iterable(_rows(item, question) for item in targets.scored))
    return PassReport(question.target, tuple(rows), targets.left_out)


#: Fields of a rate without which one stays whose draws are not right or wrong.
_NO_RATE: dict[str, Any] = dict.fromkeys(
    (
        "estimate",
        "standard_error",
        "ci_low",
        "ci_high",
        "bound_low",
        "bound_high",
        "n_clusters",
    )
)


def _rows(target: Target, question: PassRates) -> list[PassRow]:
    correct, reason = right_draws(target.scores, target.metric)
    clusters = target.clusters.labels(target.scores.prompts)
    flags: tuple[str, ...] = ()
    if not reason and not draws_declared(target.scores, target.metric):
        flags = ("rates_as_counts",)
    rows = []
    rates = [(pass_at_k, k) for k in question.at] + [
        (pass_hat_k, k) for k in question.hat
    ]
    for function, k in rates:
        row = function(
            correct,
            target.scores.n_draws,
            k,
            clusters=clusters,
            estimand=question.estimand,
            level=question.level,
        )
        if reason:
            row = replace(row, method="none", reason=reason, flags=(), **_NO_RATE)
        rows.append(_make_row(target, row, flags))
    return rows


def _make_row(target: Target, rate: PassRate, flags: tuple[str, ...]) -> PassRow:
    own = {
        "n_draws": int(target.scores.n_draws.sum()),
        "flags": rate.flags + flags,
        "runs": len(target.condition.runs),
        "run_ids": target.condition.run_ids,
    }
    return PassRow(**shared_fields(rate, PassRow, **target.head, **own))
