"""The variance of runs split between prompts and draws, and what more draws would save."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warehouse.analysis.results import Result
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.selection.targets import Target, Targets, find_targets
from warehouse.analysis.variance.row import VarianceRow, make_row
from warehouse.analysis.variance.view import split_view
from warehouse.questions.question import answers
from warehouse.questions.variance import Variance
from warehouse.stats import SingleDrawRange, VarianceComponents, single_draw_range
from warehouse.stats import variance_components as split
from warehouse.stats.core.draws import PromptDraws
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text
from warehouse.tables.view import View

_RATES = "the draws are stored as rates"


@dataclass(frozen=True)
class VarianceReport(Result):
    """The split of each condition's variance.

    Attributes:
        target: as given.
        left_out: what has no scores, with the reason.
    """

    target: str
    rows: tuple[VarianceRow, ...]
    left_out: tuple[str, ...]

    @property
    def one_line(self) -> str:
        """The result in one line."""
        if len(self.rows) == 1:
            row = self.rows[0]
            return f"{row.model} on {row.benchmark}: {row.advice or row.reason}"
        return f"{self.target}: variance of {len(self.rows)} conditions"

    def view(self, *, verbose: bool = False) -> View:
        """The command's table, what its columns mean, and what to do."""
        return split_view(self.rows, self.left_out, verbose=verbose)


@answers(Variance)
def variance(store: Store, question: Variance) -> VarianceReport:
    """One row for each condition."""
    targets = find_targets(store, question.target, selection_of(question))
    plain = [item for item in targets.scored if item.is_plain_mean]
    return variance_of(targets, question.target, _ranges(store, plain) if question.single_draws else {})


def variance_of(
    targets: Targets, target: str, ranges: Mapping[tuple[str, int], SingleDrawRange | str]
) -> VarianceReport:
    """`variance` of scores that were read; asks the store nothing.

    Args:
        targets: the conditions.
        target: what they were asked for by.
        ranges: how far runs of one draw lie apart, by condition key and id of the metric.
    """
    rows = [
        make_row(item, _components(item), ranges.get((item.condition.key, item.metric.id))) for item in targets.scored
    ]
    return VarianceReport(target, tuple(rows), targets.left_out)


def _components(target: Target) -> VarianceComponents | None:
    """None where the figure is no plain mean of the scores."""
    scores = target.scores
    if not target.is_plain_mean:
        return None
    clusters = target.clusters.labels(scores.prompts)
    return split(scores.values, scores.within, scores.n_draws, clusters)


def _ranges(store: Store, targets: Sequence[Target]) -> Mapping[tuple[str, int], SingleDrawRange | str]:
    """Δ(k=1) by condition and metric, or why there is none; one query for each metric."""
    ranges: dict[tuple[str, int], SingleDrawRange | str] = {}
    for metric_id in sorted({target.metric.id for target in targets}):
        own = [target for target in targets if target.metric.id == metric_id]
        several = [target for target in own if target.scores.n_draws.min() > 1]
        scores = _single_draws(store, several, metric_id) if several else {}
        for target in own:
            key = target.condition.key
            ranges[key, metric_id] = _range(target, scores.get(key, []))
    return ranges


def _single_draws(store: Store, targets: Sequence[Target], metric_id: int) -> dict[str, list[tuple[float, int]]]:
    """Scores of the single-draw runs with their numbers of prompts, by condition.

    Where every draw has all prompts, the draws as stored are these runs; else the draws of each
    prompt are numbered, which takes an engine long.
    """
    whole: dict[str, list[tuple[float, int]]] = {}
    by_run: dict[int, list[tuple[float, int]]] = {}
    for row in _by_draw(store, "scores_of_whole_draws", targets, metric_id):
        by_run.setdefault(row["run_id"], []).append((row["score"], row["n_prompts"]))
    rest = []
    for target in targets:
        draws = [draw for run in sorted(target.condition.run_ids) for draw in by_run.get(run, ())]
        if all(n_prompts == target.scores.n for _, n_prompts in draws):
            whole[target.condition.key] = draws
        else:
            rest.append(target)
    for row in _by_draw(store, "scores_by_draw", rest, metric_id) if rest else ():
        whole.setdefault(row["condition_key"], []).append((row["score"], row["n_prompts"]))
    return whole


def _by_draw(store: Store, name: str, targets: Sequence[Target], metric_id: int) -> list[dict[str, Any]]:
    """Rows of a query of the scores of some conditions by draw."""
    run_ids = [run for target in targets for run in target.condition.run_ids]
    most = max(int(target.scores.n_draws.min()) for target in targets)
    query = query_text("analysis", name).format(most=most)
    return store.rows(query, {"metric_ids": [metric_id], "run_ids": run_ids})


def _range(target: Target, single: Sequence[tuple[float, int]]) -> SingleDrawRange | str:
    scores = target.scores
    fewest = int(scores.n_draws.min())
    if fewest == 1:
        return "a prompt has only one draw"
    complete = [score for score, n_prompts in single[:fewest] if n_prompts == scores.n]
    if len(complete) < fewest:
        return _RATES
    draws = PromptDraws(scores.values, np.where(scores.n_draws > 1, scores.within, math.nan), scores.n_draws)
    return single_draw_range(complete, draws)
