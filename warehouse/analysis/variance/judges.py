"""The scores that several judges gave to the same answers: who judges as a factor, and pairs of models that the choice
of a judge turns round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.judges.scorers import judge_names, means_of, metrics_by, scored_by
from warehouse.analysis.results import Row, finite_or_none
from warehouse.analysis.selection.benchmarks import Metric, read_facts
from warehouse.analysis.selection.clusterings import ClusterMap, cluster_map
from warehouse.analysis.selection.score_matrix import score_table, tested_pairs
from warehouse.analysis.selection.scored_conditions import ScoredCondition, read_entries
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.selection.targets import Target, find_conditions_of
from warehouse.errors import MisuseError
from warehouse.stats import find_crossings
from warehouse.stats.core.inputs import rejects
from warehouse.store.connection import Store

#: Pairs of conditions and judges that are looked at for flips; a store of more gets the shares alone.
MOST_PAIRS = 200_000


@dataclass(frozen=True)
class JudgeFlip(Row):
    """Two models whose order differs between two judges."""

    judge_a: str  #: one judge.
    judge_b: str  #: the other.
    model_a: str  #: the model that is better by ``judge_a``.
    model_b: str  #: the one that is better by ``judge_b``.
    difference_a: float  #: ``model_a`` minus ``model_b`` by ``judge_a``.
    difference_b: float  #: by ``judge_b``.
    #: the larger p of the two, adjusted for all pairs of models (Holm) and of judges (Bonferroni).
    p_holm: float | None
    is_shown: bool  #: whether both differences are significant by it: the judges do disagree.


@dataclass(frozen=True)
class JudgedForms:
    """Conditions that several judges scored."""

    judges: tuple[str, ...]  #: their names.
    entries: tuple[dict[str, ScoredCondition], ...]  #: of each condition one by each judge that scored it, by judge.
    clusters: ClusterMap  #: of the prompts, for the errors.
    left_out: tuple[str, ...]  #: conditions that a single judge scored.

    def tables(self) -> list[tuple[Target, tuple[str, ...], NDArray[np.float64]]]:
        """Of each condition its judges, and prompts × judges, NaN where there is no score."""
        found = []
        for by_judge in self.entries:
            names = tuple(name for name in self.judges if name in by_judge)
            own = [scores for name in names if (scores := by_judge[name].usable) is not None]
            prompts = np.unique(np.concatenate([item.prompts for item in own]))
            table = np.full((len(prompts), len(own)), np.nan)
            for column, item in enumerate(own):
                table[np.searchsorted(prompts, item.prompts), column] = item.values
            first, several = by_judge[names[0]], len({by_judge[name].metric.label for name in names}) > 1
            metric = replace(first.metric, name="each judge's score", filter="") if several else first.metric
            found.append((Target(first.condition, first.label, metric, own[0], self.clusters), names, table))
        return found


def read_judged(store: Store, target: str, selection: Selection, judges: Sequence[str]) -> JudgedForms:
    """The conditions that ``target`` means, by each judge.

    Raises:
        MisuseError: an unknown name, several benchmarks, fewer than two judges, or judges of several scales.
    """
    benchmark, conditions = find_conditions_of(store, target, selection)
    chosen = choose_judges(store, means_of(read_facts(store, benchmark.ids), selection.metric), judges, benchmark.name)
    names = dict(zip((metric.id for metric in chosen), judge_names(chosen), strict=True))
    by_condition: dict[str, dict[str, ScoredCondition]] = {}
    for entry in read_entries(store, conditions, chosen):
        if entry.usable is not None and entry.usable.uneven_weights is None:
            by_condition.setdefault(entry.condition.key, {})[names[entry.metric.id]] = entry
    several = [own for own in by_condition.values() if len(own) > 1]
    single = [next(iter(own.values())) for own in by_condition.values() if len(own) == 1]
    left_out = tuple(f"{entry.condition.model}: one judge alone" for entry in single)
    clusters = cluster_map(store, benchmark.ids, benchmark.clusterings, selection.cluster)
    return JudgedForms(tuple(names.values()), tuple(several), clusters, left_out)


def choose_judges(store: Store, means: Sequence[Metric], judges: Sequence[str], benchmark: str) -> list[Metric]:
    """The metrics of the judges named, or of all models that judge by one metric.

    Raises:
        MisuseError: an unknown name, fewer than two, several metrics, or several scales.
    """
    if judges:
        chosen = [metric for name in dict.fromkeys(judges) for metric in metrics_by(name, means, benchmark)]
    else:
        models = [metric for metric in means if metric.id in scored_by(store, means, "model")]
        labels = [name for name in sorted({m.label for m in models}) if sum(m.label == name for m in models) > 1]
        if len(labels) > 1:
            raise MisuseError(f"{benchmark} has several metrics with several judges, choose one: --metric {labels[0]}")
        chosen = [metric for metric in models if metric.label in labels]
    if len(chosen) < 2:
        why = "one judge alone has no spread" if judges else f"{benchmark} has no metric that several models judge"
        raise MisuseError(f"{why}; name the judges whose scores are to stand side by side: --judge NAME, repeated")
    if len({(metric.unit, metric.bounds, metric.higher_is_better) for metric in chosen}) > 1:
        raise MisuseError(
            f"the judges of {benchmark} do not score on one scale: {', '.join(judge_names(chosen))}; choose some with"
            " --judge, or state the bounds: warehouse benchmarks metrics"
        )
    return chosen


def judge_flips(forms: JudgedForms, level: float) -> list[JudgeFlip]:
    """Pairs of conditions whose order differs between two judges, those that are shown first."""
    whole = [own for own in forms.entries if len(own) == len(forms.judges)]
    if len(whole) < 2 or whole[0][forms.judges[0]].metric.higher_is_better is None:
        return []
    couples = list(combinations(forms.judges, 2))
    upper = np.triu_indices(len(whole), 1)
    if len(upper[0]) * len(couples) > MOST_PAIRS:
        return []
    sign = 1.0 if whole[0][forms.judges[0]].metric.higher_is_better else -1.0
    names = [f"{own[forms.judges[0]].condition.model}" for own in whole]
    means, p_values = {}, {}
    for judge in forms.judges:
        table = score_table([own[judge] for own in whole], forms.clusters)
        pairs = tested_pairs(table, level=level, n_resamples=0, seed=0, higher_is_better=True)
        means[judge], p_values[judge] = np.nanmean(table.values, axis=0), pairs.square("p_value")[upper]
    rows = []
    for first, other in couples:
        x, y = means[first], means[other]
        found = find_crossings(sign * x, sign * y, p_values[first], p_values[other])
        for i, j, p in zip(found.first, found.second, found.p_holm, strict=True):
            a, b = (i, j) if sign * (x[i] - x[j]) > 0 else (j, i)
            adjusted = min(1.0, float(p) * len(couples)) if np.isfinite(p) else p
            differences = float(x[a] - x[b]), float(y[a] - y[b])
            shown = bool(rejects(float(adjusted), 1 - level))
            rows.append(JudgeFlip(first, other, names[a], names[b], *differences, finite_or_none(adjusted), shown))
    return sorted(rows, key=lambda row: (2.0 if row.p_holm is None else row.p_holm, row.judge_a, row.model_a))
