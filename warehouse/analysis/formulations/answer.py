"""Two formulations of one benchmark over the same models: do they agree (statistics.md
§19a)?"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.comparison.pairing import pair_up
from warehouse.analysis.formulations.question import Formulations
from warehouse.analysis.formulations.view import (
    NO_PROMPT,
    AgreementRow,
    CrossingRow,
    FormulationModel,
    FormulationsReport,
)
from warehouse.analysis.groups import grouped
from warehouse.analysis.pairs.answer import comparable
from warehouse.analysis.results import finite_or_none, part_fields
from warehouse.analysis.selection.benchmarks import Metric, direction_unknown
from warehouse.analysis.selection.clusterings import (
    ClusterMap,
    cluster_map,
    clusters_under_links,
)
from warehouse.analysis.selection.prompt_links import read_links
from warehouse.analysis.selection.score_matrix import (
    ScoreTable,
    score_table,
    tested_pairs,
)
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
)
from warehouse.analysis.selection.select import select_entries
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import (
    PairedDifference,
    find_crossings,
    formulation_agreement,
    formulation_noise,
)
from warehouse.stats.core.inputs import rejects
from warehouse.stats.multiple.adjust import holm
from warehouse.stats.suites.formulations import FEW_UNITS, FEWEST, FEWEST_FOR_OTHERS
from warehouse.stats.suites.score_table import ranks_of
from warehouse.store.connection import Store
from warehouse.tables.words import some_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Side:
    """One formulation."""

    label: str  #: name of the benchmark, with the conditions on its runs.
    entries: tuple[ScoredCondition, ...]  #: of the models, in the order of both sides.
    clusters: ClusterMap  #: of both benchmarks, links followed.
    table: ScoreTable | None  #: scores of those with samples; None where none has any.

    @property
    def metric(self) -> Metric:
        return self.entries[0].metric

    @property
    def sign(self) -> float:
        """−1 where lower is better."""
        if self.metric.higher_is_better is False:
            return -1.0
        return 1.0

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Which models have samples."""
        return np.array([entry.usable is not None for entry in self.entries])

    @property
    def means(self) -> Floats:
        """The figure of each model; as published where it has no samples."""
        figures = np.array(
            [
                entry.published.value if entry.published else np.nan
                for entry in self.entries
            ]
        )
        figures[np.isinf(figures)] = np.nan
        if self.table is not None:
            figures[self.scored] = np.nanmean(self.table.values, axis=0)
        return figures

    def p_values(self) -> Floats:
        """Two-sided p of each pair of models, in a square; NaN without samples."""
        square = np.full((len(self.entries),) * 2, np.nan)
        where = np.flatnonzero(self.scored)
        if self.table is not None and len(where) > 1:
            pairs = tested_pairs(
                self.table, level=0.95, n_resamples=0, seed=0, higher_is_better=True
            )
            square[np.ix_(where, where)] = pairs.square("p_value")
        return square


@answers(Formulations)
def formulations(store: Store, question: Formulations) -> FormulationsReport:
    """Models are matched by name, checkpoint, seed and agent."""
    selections = (
        (question.first, question.first_where, question.metric),
        (
            question.second,
            question.second_where,
            question.second_metric or question.metric,
        ),
    )
    read = [
        select_entries(
            store,
            selection_of(
                question, benchmark=name, metric=metric, where=(*question.where, *where)
            ),
        )
        for name, where, metric in selections
    ]
    notes: list[str] = []
    first, second = (_by_model(scores, notes) for scores in read)
    models = [who for who in first if who in second]
    same = [
        who
        for who in models
        if first[who].condition.key == second[who].condition.key
        and first[who].metric.id == second[who].metric.id
    ]
    if same:
        raise MisuseError(
            f"both sides mean the same runs of {some_of(same)}: name two benchmarks, "
            f"or say which conditions of {question.first} are held against which, such "
            "as --first-where fewshot=0 --second-where fewshot=5"
        )
    if not models:
        has = [
            f"{side} has {some_of([*own]) or 'none'}"
            for side, own in ((selections[0][0], first), (selections[1][0], second))
        ]
        raise MisuseError(
            f"no model has both: {'; '.join(dict.fromkeys([*has, *notes]))}"
        )
    alone = [who for who in (*first, *second) if who not in models]
    if alone:
        notes += [f"{len(alone)} models have one formulation only: {some_of(alone)}"]
    links = read_links(store)
    benchmarks = [scores.benchmark for scores in read]
    ids = sorted(set(chain.from_iterable(one.ids for one in benchmarks)))
    defaults = sorted(set(chain.from_iterable(one.clusterings for one in benchmarks)))
    clusters = clusters_under_links(
        cluster_map(store, ids, defaults, question.cluster), links
    )
    sides = []
    for (_, where, _), scores, own in zip(
        selections, read, (first, second), strict=True
    ):
        found = (own[who] for who in models)
        entries = tuple(
            replace(e, scores=e.usable.under(links)) if e.usable is not None else e
            for e in found
        )
        scored = [entry for entry in entries if entry.usable is not None]
        label = (
            f"{scores.benchmark.name} ({', '.join(where)})"
            if where
            else scores.benchmark.name
        )
        sides.append(
            _Side(
                label,
                entries,
                clusters,
                score_table(scored, clusters) if scored else None,
            )
        )
    return _report(
        question, models, sides[0], sides[1], [*notes, *filter(None, [clusters.note])]
    )


def _by_model(scores: BenchmarkScores, notes: list[str]) -> dict[str, ScoredCondition]:
    """The entry of each model, of the largest group of entries that can stand side by
    side.

    Args:
        notes: is told what was left out.
    """
    groups = []
    for members in scores.groups().values():
        groups.append(
            [
                *comparable(members, scores),
                *(
                    e
                    for e in members
                    if e.scores is None and e.published and not e.stopped
                ),
            ]
        )
    largest = max(groups, key=len)
    left = len(scores.entries) - len(largest)
    name = scores.benchmark.name
    if left:
        why = (
            "of another split, task version, metric or judge, without a figure, or on "
            "a part of the benchmark"
        )
        notes.append(
            f"{name}: {left} conditions {why} (--subset takes these) are left out"
        )
    by_model = grouped(largest, lambda entry: entry.condition.who)
    several = [who for who, own in by_model.items() if len(own) > 1]
    if several:
        how = (
            "--first-where and --second-where choose one (warehouse list runs shows them), "
            "--latest the newest"
        )
        notes.append(
            f"{name}: several conditions of {some_of(several)} are left out; {how}"
        )
    models = sorted(by_model.items())
    return {who: own[0] for who, own in models if len(own) == 1}


def _report(
    question: Formulations,
    models: Sequence[str],
    first: _Side,
    second: _Side,
    notes: list[str],
) -> FormulationsReport:
    x, y = first.means, second.means
    ranks = np.array([ranks_of(first.sign * x), ranks_of(second.sign * y)], dtype=int)
    paired = [
        _paired(question, a, b, first.clusters)
        for a, b in zip(first.entries, second.entries, strict=True)
    ]
    tests = [
        None if difference is None else difference.p_value for difference, *_ in paired
    ]
    p_holm = holm(np.array([np.nan if p is None else p for p in tests]))
    rows = [
        FormulationModel(
            model=who,
            mean_first=float(x[m]),
            mean_second=float(y[m]),
            rank_first=int(ranks[0, m]),
            rank_second=int(ranks[1, m]),
            rank_change=int(ranks[1, m] - ranks[0, m]),
            **part_fields(
                paired[m][0],
                "difference",
                "standard_error",
                "ci_low",
                "ci_high",
                "p_value",
            ),
            p_holm=finite_or_none(p_holm[m]),
            n_prompts=paired[m][1],
            reason=paired[m][2],
            runs_first=first.entries[m].condition.run_ids,
            runs_second=second.entries[m].condition.run_ids,
        )
        for m, who in enumerate(models)
    ]
    n_linked = max(row.n_prompts for row in rows)
    benchmarks = [
        side.entries[0].condition.benchmark_split[0] for side in (first, second)
    ]
    if not n_linked and first.table and second.table and benchmarks[0] != benchmarks[1]:
        notes.append(
            "no prompt stands in both, so that models have no paired difference and "
            f"prompts count as others: warehouse fix link {shlex.join(benchmarks)} --by id "
            "joins those of one id"
        )
    sides = zip((first, second), benchmarks, strict=True)
    unknown = [
        (side.metric.label, name)
        for side, name in sides
        if side.metric.higher_is_better is None
    ]
    notes += [
        f"ranked as if higher were better: {direction_unknown(*named)}"
        for named in dict.fromkeys(unknown)
    ]
    return FormulationsReport(
        first=first.label,
        second=second.label,
        metric_first=first.metric.label,
        metric_second=second.metric.label,
        rows=tuple(_agreement(question, first, second, n_linked)),
        models=tuple(sorted(rows, key=lambda row: (row.rank_first, row.model))),
        crossings=tuple(_crossings(models, first, second, question.level)),
        n_pairs=len(models) * (len(models) - 1) // 2,
        notes=tuple(notes),
        is_share=all(side.metric.bounds == (0.0, 1.0) for side in (first, second)),
    )


def _paired(
    question: Formulations, a: ScoredCondition, b: ScoredCondition, clusters: ClusterMap
) -> tuple[PairedDifference | None, int, str]:
    """A model's paired difference, its prompts, and why there is none or no interval."""
    if a.usable is None or b.usable is None:
        return None, 0, "published figures cannot be paired"
    n_common = len(np.intersect1d(a.usable.prompts, b.usable.prompts))
    if not n_common:
        return None, 0, NO_PROMPT
    scale_a, scale_b = (
        (*m.scale[:2], m.higher_is_better, m.low, m.high) for m in (a.metric, b.metric)
    )
    if scale_a[:3] != scale_b[:3] or (
        a.metric.label != b.metric.label and scale_a != scale_b
    ):
        return None, n_common, "no paired difference: metrics of different scales"
    pair = pair_up(a.condition, b.condition, a.metric, a.usable, b.usable, clusters)
    difference = pair.difference(question.level, seed=question.seed)
    reason = ""
    if difference.ci_low is None:
        reason = difference.reason
    return difference, pair.n, reason


def _agreement(
    question: Formulations, first: _Side, second: _Side, n_linked: int
) -> list[AgreementRow]:
    """The correlations, and why an interval is missing."""
    noise = None
    reason = ""
    m = len(first.entries)
    if not (first.scored & second.scored).all():
        reason = "published figures have no prompts: only the interval for other models"
    elif first.table and second.table:
        tables = (first.table, second.table)
        units = (
            -1 - table.prompts if table.clusters is None else table.clusters
            for table in tables
        )
        noise = formulation_noise(
            first.sign * first.table.values, second.sign * second.table.values, *units
        )
        reason = "a single prompt, cluster or model, or all prompts alike: the noise is not known"
        if noise:
            reason = ""
    x = first.sign * first.means
    y = second.sign * second.means
    agreed = formulation_agreement(
        x, y, noise, level=question.level, seed=question.seed
    )
    if m < FEWEST:
        models = "model"
        if m > 1:
            models = "models"
        reason = f"{m} {models}: a correlation needs {FEWEST}"
    elif agreed[0].estimate is None:
        reason = "all models have one figure in one of the two"
    elif m < FEWEST_FOR_OTHERS:
        reason = (
            reason
            or f"{m} models: an interval for other models needs {FEWEST_FOR_OTHERS}"
        )
    flags = ("few_units",) if noise and noise.n_units < FEW_UNITS else ()
    return [
        AgreementRow(
            **vars(row), n_models=m, n_linked=n_linked, flags=flags, reason=reason
        )
        for row in agreed
    ]


def _crossings(
    models: Sequence[str], first: _Side, second: _Side, level: float
) -> list[CrossingRow]:
    x = first.means
    y = second.means
    p = first.p_values()
    q = second.p_values()
    upper = np.triu_indices(len(models), 1)
    found = find_crossings(first.sign * x, second.sign * y, p[upper], q[upper])
    rows = []
    for i, j, adjusted in zip(found.first, found.second, found.p_holm, strict=True):
        a, b = (j, i)
        if first.sign * (x[i] - x[j]) > 0:
            a, b = (i, j)
        rows.append(
            CrossingRow(
                model_a=models[a],
                model_b=models[b],
                difference_first=float(x[a] - x[b]),
                difference_second=float(y[a] - y[b]),
                p_first=finite_or_none(p[a, b]),
                p_second=finite_or_none(q[a, b]),
                p_holm=finite_or_none(adjusted),
                is_shown=bool(rejects(float(adjusted), 1 - level)),
            )
        )
    return sorted(
        rows,
        key=lambda row: (
            2.0 if row.p_holm is None else row.p_holm,
            row.model_a,
            row.model_b,
        ),
    )
