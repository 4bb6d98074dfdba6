"""Two formulations of one benchmark over the same models: do they agree (statistics.md §19a)?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.comparison.all_pairs import comparable, known
from warehouse.analysis.comparison.formulation_report import (
    NO_PROMPT,
    AgreementRow,
    CrossingRow,
    FormulationModel,
    FormulationsReport,
)
from warehouse.analysis.comparison.pairing import NotComparable, Pair, pair_up
from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.clusterings import ClusterMap, cluster_map, clusters_under_links
from warehouse.analysis.selection.conditions import label_conditions
from warehouse.analysis.selection.reference import in_words
from warehouse.analysis.selection.score_matrix import ScoreTable, score_table, tested_pairs
from warehouse.analysis.selection.scored_conditions import BenchmarkScores, ScoredCondition, select_entries
from warehouse.analysis.selection.scores import Links, read_links
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.comparison import Formulations
from warehouse.questions.question import answers
from warehouse.records.run_fields import LABEL_FIELDS
from warehouse.stats import Agreement, PairedDifference, find_crossings, formulation_agreement, formulation_noise
from warehouse.stats.core.rejects import rejects
from warehouse.stats.multiple.adjust import holm
from warehouse.stats.suites.formulations import FEW_UNITS
from warehouse.stats.suites.score_table import ranks_of
from warehouse.store.connection import Store

Floats = NDArray[np.float64]
#: Names that a message lists.
_NAMED = 3


@dataclass(frozen=True)
class _Side:
    """One formulation: the models' entries, in one order, and their scores.

    Attributes:
        label: name of the benchmark, with what its runs share and those of the other do not.
        table: scores of those with samples; None without two of them.
    """

    label: str
    entries: tuple[ScoredCondition, ...]
    clusters: ClusterMap
    table: ScoreTable | None

    @property
    def metric(self) -> Metric:
        return self.entries[0].metric

    @property
    def sign(self) -> float:
        """−1 where lower is better."""
        return -1.0 if self.metric.higher_is_better is False else 1.0

    @property
    def means(self) -> Floats:
        """The figure of each model."""
        published = [entry.published.value if entry.published else np.nan for entry in self.entries]
        figures = np.array(published, dtype=np.float64)
        figures[self.scored] = [] if self.table is None else np.nanmean(self.table.values, axis=0)
        return figures

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Which of them have samples that are looked at."""
        return np.array([self.table is not None and entry.usable is not None for entry in self.entries])

    def p_values(self) -> Floats:
        """Two-sided p of each pair of models, in the order of ``numpy.triu_indices``; NaN without samples."""
        m, where = len(self.entries), np.flatnonzero(self.scored)
        square = np.full((m, m), np.nan)
        if self.table is not None and len(where) > 1:
            pairs = tested_pairs(self.table, level=0.95, n_resamples=0, seed=0, higher_is_better=True)
            square[np.ix_(where, where)] = pairs.square("p_value")
        return np.asarray(square[np.triu_indices(m, 1)])


@answers(Formulations)
def formulations(store: Store, question: Formulations) -> FormulationsReport:
    """Models are matched by name, checkpoint, seed and agent."""
    asked = (
        (question.first, question.first_where, question.metric),
        (question.second, question.second_where, question.second_metric or question.metric),
    )
    read = [
        select_entries(store, selection_of(question, benchmark=name, metric=metric, where=(*question.where, *where)))
        for name, where, metric in asked
    ]
    links = read_links(store)
    notes: list[str] = []
    found = [_by_model(scores, notes) for scores in read]
    _refuse_same(question, read, found)
    models = [who for who in found[0] if who in found[1]]
    if not models:
        lists = "; ".join(
            f"{scores.benchmark.name} has {_some([*own])}" for scores, own in zip(read, found, strict=True)
        )
        raise MisuseError("; ".join([f"no model has both: {lists}", *notes]))
    alone = [who for who in (*found[0], *found[1]) if who not in models]
    notes += [f"{len(alone)} models have one formulation only: {_some(alone)}"] if alone else []
    clusters = _joint_clusters(store, read, links, question.cluster)
    labels = _labels(store, [[own[who] for who in models] for own in found])
    first, second = (
        _side(label, [own[who] for who in models], clusters, links) for label, own in zip(labels, found, strict=True)
    )
    return _report(question, models, first, second, [*notes, clusters.note] if clusters.note else notes)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _by_model(scores: BenchmarkScores, notes: list[str]) -> dict[str, ScoredCondition]:
    """The entry of each model, of the largest group of entries that can stand side by side.

    Args:
        notes: is told what was left out.
    """
    usable = {group: _with_figure(members, scores) for group, members in scores.groups().items()}
    largest, *others = sorted(usable.values(), key=len, reverse=True)
    left = len(scores.entries) - len(largest)
    name = scores.benchmark.name
    if left:
        why = "of another split, task version, metric or judge, on a part of the benchmark, or without a figure"
        notes.append(f"{name}: {left} conditions {why} are left out")
    by_model: dict[str, list[ScoredCondition]] = {}
    for entry in largest:
        by_model.setdefault(entry.condition.who, []).append(entry)
    several = [who for who, own in by_model.items() if len(own) > 1]
    if several:
        notes.append(
            f"{name}: several conditions of {_some(several)} are left out; --first-where and --second-where"
            f" {_choices([entry for who in several for entry in by_model[who]])}choose one, --latest the newest"
        )
    return {who: own[0] for who, own in sorted(by_model.items()) if len(own) == 1}


def _choices(entries: Sequence[ScoredCondition]) -> str:
    """A setting in which conditions of one model differ, with two of its values, in brackets."""
    values: dict[tuple[str, str], set[str]] = {}
    for entry in entries:
        for name in LABEL_FIELDS:
            values.setdefault((name, entry.condition.who), set()).add(_written(entry.condition.setting(name)))
    for (name, _), own in values.items():
        if len(own) > 1:
            return f"(such as {' and '.join(f'{name}={value}' for value in sorted(own)[:2])}) "
    return ""


def _written(value: Any) -> str:
    return "" if value is None else str(value)


def _with_figure(members: Sequence[ScoredCondition], scores: BenchmarkScores) -> list[ScoredCondition]:
    """Those with prompts that can be compared; and those that have a published figure alone."""
    published = [
        entry for entry in members if entry.usable is None and entry.published is not None and entry.stopped is None
    ]
    return [*comparable(members, scores), *published]


def _refuse_same(
    question: Formulations, read: Sequence[BenchmarkScores], found: Sequence[Mapping[str, ScoredCondition]]
) -> None:
    conditions = [{(entry.condition.key, entry.metric.id): who for who, entry in own.items()} for own in found]
    same = sorted(conditions[0][key] for key in conditions[0].keys() & conditions[1].keys())
    every = [entry for scores in read for entry in scores.entries]
    if read[0].benchmark.name == read[1].benchmark.name and not (found[0] or found[1]):
        same = [_some(sorted({entry.condition.who for entry in every}))]
    if same:
        raise MisuseError(
            f"both sides mean the same runs of {_some(same)}: name two benchmarks, or say by --first-where and"
            f" --second-where {_choices(every)}which conditions of {question.first} are held against which"
        )


def _joint_clusters(store: Store, read: Sequence[BenchmarkScores], links: Links, cluster: str | None) -> ClusterMap:
    """Of both benchmarks, so that a cluster of linked prompts is one."""
    ids = sorted({own for scores in read for own in scores.benchmark.ids})
    defaults = sorted({own for scores in read for own in scores.benchmark.clusterings})
    return clusters_under_links(cluster_map(store, ids, defaults, cluster), links)


def _labels(store: Store, sides: Sequence[Sequence[ScoredCondition]]) -> list[str]:
    """Names of the two: the benchmarks, with the settings of one model that tell them apart."""
    names = [in_words(side[0].condition.benchmark_split) for side in sides]
    if names[0] != names[1]:
        return names
    told = label_conditions(store, [side[0].condition for side in sides])
    labels = [f"{name} ({label})" if label else name for name, label in zip(names, told, strict=True)]
    metrics = [side[0].metric.label for side in sides]
    return labels if labels[0] != labels[1] else [f"{n} by {m}" for n, m in zip(labels, metrics, strict=True)]


def _side(label: str, entries: Sequence[ScoredCondition], clusters: ClusterMap, links: Links) -> _Side:
    linked = tuple(
        entry if entry.usable is None else replace(entry, scores=entry.usable.under(links)) for entry in entries
    )
    scored = [entry for entry in linked if entry.usable is not None]
    return _Side(label, linked, clusters, score_table(scored, clusters) if scored else None)


def _report(
    question: Formulations, models: Sequence[str], first: _Side, second: _Side, notes: Sequence[str]
) -> FormulationsReport:
    x, y = first.means, second.means
    p_first, p_second = first.p_values(), second.p_values()
    agreed, remarks = _agreement(question, first, second)
    ranks = [ranks_of(side.sign * means) for side, means in ((first, x), (second, y))]
    differences, why = _differences(question, first, second)
    n_linked = max((0 if one is None else one[1] for one in differences), default=0)
    rows = [
        FormulationModel(
            model=who,
            mean_first=float(x[place]),
            mean_second=float(y[place]),
            rank_first=int(ranks[0][place]),
            rank_second=int(ranks[1][place]),
            rank_change=int(ranks[1][place] - ranks[0][place]),
            n_prompts=0 if one is None else one[1],
            reason=why[place],
            runs_first=first.entries[place].condition.run_ids,
            runs_second=second.entries[place].condition.run_ids,
            **_difference_columns(None if one is None else one[0]),
        )
        for place, (who, one) in enumerate(zip(models, differences, strict=True))
    ]
    flags, reason = remarks
    return FormulationsReport(
        first=first.label,
        second=second.label,
        metric_first=first.metric.label,
        metric_second=second.metric.label,
        rows=tuple(AgreementRow(question.level, len(models), n_linked, flags, reason, one) for one in agreed),
        models=tuple(sorted(_adjusted(rows), key=lambda row: (row.rank_first, row.model))),
        crossings=_crossings(models, first, second, (x, y), (p_first, p_second), question.level),
        n_pairs=len(models) * (len(models) - 1) // 2,
        notes=(*notes, *_unlinked(question, first, second, n_linked)),
    )


def _agreement(
    question: Formulations, first: _Side, second: _Side
) -> tuple[tuple[Agreement, ...], tuple[tuple[str, ...], str]]:
    """The correlations, with flags and why an interval is missing."""
    noise, reason = None, ""
    if first.table is None or second.table is None or not (first.scored & second.scored).all():
        reason = "published figures have no prompts: only the interval for other models"
    else:
        sides = [(side.sign * side.table.values, _units(side.table)) for side in (first, second) if side.table]
        noise = formulation_noise(sides[0][0], sides[1][0], sides[0][1], sides[1][1])
        reason = "" if noise else "a single prompt, cluster or model: its noise is not known"
    x, y = first.sign * first.means, second.sign * second.means
    agreed = formulation_agreement(x, y, noise, level=question.level, seed=question.seed)
    if len(x) < 3:
        reason = f"{len(x)} model{'s' * (len(x) > 1)}: a correlation needs 3"
    elif agreed[0].estimate is None:
        reason = "all models have one figure in one of the two"
    elif len(x) < 5 and not reason:
        reason = f"{len(x)} models: an interval for other models needs 5"
    return agreed, (("few_units",) if noise and noise.n_units < FEW_UNITS else (), reason)


def _units(table: ScoreTable) -> NDArray[np.int64]:
    """What is independent: the cluster of each prompt, else the prompt (below 0)."""
    return -1 - table.prompts if table.clusters is None else table.clusters


def _differences(
    question: Formulations, first: _Side, second: _Side
) -> tuple[list[tuple[PairedDifference, int] | None], list[str]]:
    """Each model's paired difference with its number of prompts, and why there is none."""
    found: list[tuple[PairedDifference, int] | None] = []
    reasons = []
    for a, b in zip(first.entries, second.entries, strict=True):
        reason = ""
        pair: Pair | None = None
        if a.metric.scale[:2] != b.metric.scale[:2]:
            reason = "metrics of different scales"
        elif a.usable is None or b.usable is None:
            reason = "published figures cannot be paired"
        else:
            try:
                pair = pair_up(a.condition, b.condition, a.metric, a.usable, b.usable, first.clusters)
            except NotComparable:
                reason = NO_PROMPT
        difference = None if pair is None else pair.difference(question.level, seed=question.seed)
        found.append(None if pair is None or difference is None else (difference, pair.n))
        reasons.append(reason or (difference.reason if difference and difference.ci_low is None else ""))
    return found, reasons


def _difference_columns(paired: PairedDifference | None) -> dict[str, float | None]:
    names = ("difference", "standard_error", "ci_low", "ci_high", "p_value")
    return {name: getattr(paired, name, None) for name in names} | {"p_holm": None}


def _adjusted(rows: Sequence[FormulationModel]) -> list[FormulationModel]:
    adjusted = holm([np.nan if row.p_value is None else row.p_value for row in rows]).tolist()
    return [replace(row, p_holm=known(p)) for row, p in zip(rows, adjusted, strict=True)]


def _crossings(
    models: Sequence[str],
    first: _Side,
    second: _Side,
    means: tuple[Floats, Floats],
    p_values: tuple[Floats, Floats],
    level: float,
) -> tuple[CrossingRow, ...]:
    found = find_crossings(first.sign * means[0], second.sign * means[1], *p_values)
    place = np.zeros((len(models), len(models)), dtype=np.intp)
    place[np.triu_indices(len(models), 1)] = np.arange(found.n_pairs)
    rows = []
    for i, j, sign, p in zip(found.first, found.second, np.sign(found.in_first), found.p_holm, strict=True):
        a, b = (i, j) if sign > 0 else (j, i)
        rows.append(
            CrossingRow(
                model_a=models[a],
                model_b=models[b],
                difference_first=float(means[0][a] - means[0][b]),
                difference_second=float(means[1][a] - means[1][b]),
                p_first=known(p_values[0][place[i, j]]),
                p_second=known(p_values[1][place[i, j]]),
                p_holm=known(p),
                is_shown=bool(rejects(float(p), 1 - level)),
            )
        )

    def order(row: CrossingRow) -> tuple[float, str, str]:
        return (2.0 if row.p_holm is None else row.p_holm, row.model_a, row.model_b)

    return tuple(sorted(rows, key=order))


def _unlinked(question: Formulations, first: _Side, second: _Side, n_linked: int) -> list[str]:
    """That no prompt stands in both, and what mends it."""
    if n_linked or first.table is None or second.table is None or question.first == question.second:
        return []
    return [
        "no prompt stands in both, so that models have no paired difference and prompts count as others:"
        f" warehouse link {question.first} {question.second} --by id joins those of one id"
    ]
