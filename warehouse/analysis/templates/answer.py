"""Conditions whose prompts were asked in several forms, or scored by several judges:
what the forms add to the error, and pairs of models that the choice of a judge turns
round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.groups import grouped
from warehouse.analysis.judge.units import judge_names, means_of, metrics_by, scored_by
from warehouse.analysis.results import finite_or_none, part_fields
from warehouse.analysis.selection.benchmarks import Metric, read_facts
from warehouse.analysis.selection.clusterings import ClusterMap, cluster_map
from warehouse.analysis.selection.score_matrix import score_table, tested_pairs
from warehouse.analysis.selection.scored_conditions import ScoredCondition, read_entries
from warehouse.analysis.selection.selection import Selection, selection_of
from warehouse.analysis.selection.targets import (
    Target,
    find_conditions_of,
    find_targets,
)
from warehouse.analysis.templates.published import published_templates
from warehouse.analysis.templates.question import FACTORS, Templates
from warehouse.analysis.templates.view import JudgeFlip
from warehouse.analysis.templates.view import TemplateRow as TemplateRow
from warehouse.analysis.templates.view import TemplatesReport as TemplatesReport
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import (
    TemplateVariance,
    find_crossings,
    template_ranking,
    template_variance,
    templates_needed,
)
from warehouse.stats.core.inputs import rejects
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Pairs of conditions and judges that are looked at for flips; a store of more gets the
#: shares alone.
MOST_PAIRS = 200_000


@dataclass(frozen=True)
class JudgedForms:
    """Conditions that several judges scored."""

    judges: tuple[str, ...]  #: their names.
    #: of each condition one by each judge that scored it, by judge.
    entries: tuple[dict[str, ScoredCondition], ...]
    clusters: ClusterMap  #: of the prompts, for the errors.
    left_out: tuple[str, ...]  #: conditions that a single judge scored.

    def tables(
        self,
    ) -> list[tuple[Target, tuple[str, ...], NDArray[np.int64], NDArray[np.float64]]]:
        """The table of each condition: its judges, its prompts, and prompts × judges,
        NaN where there is no score."""
        found = []
        for by_judge in self.entries:
            names = tuple(name for name in self.judges if name in by_judge)
            own = [
                scores
                for name in names
                if (scores := by_judge[name].usable) is not None
            ]
            prompts = np.unique(np.concatenate([item.prompts for item in own]))
            table = np.full((len(prompts), len(own)), np.nan)
            for column, item in enumerate(own):
                table[np.searchsorted(prompts, item.prompts), column] = item.values
            first = by_judge[names[0]]
            several = len({by_judge[name].metric.label for name in names}) > 1
            if several:
                metric = replace(first.metric, name="each judge's score", filter="")
            else:
                metric = first.metric
            found.append(
                (
                    Target(first.condition, first.label, metric, own[0], self.clusters),
                    names,
                    prompts,
                    table,
                )
            )
        return found


def read_judged(
    store: Store, target: str, selection: Selection, judges: Sequence[str]
) -> JudgedForms:
    """The conditions that ``target`` means, by each judge.

    Raises:
        MisuseError: an unknown name, several benchmarks, fewer than two judges, or
            judges of several scales.
    """
    benchmark, conditions = find_conditions_of(store, target, selection)
    chosen = choose_judges(
        store,
        means_of(read_facts(store, benchmark.ids), selection.metric),
        judges,
        benchmark.name,
    )
    names = dict(
        zip((metric.id for metric in chosen), judge_names(chosen), strict=True)
    )
    by_condition: dict[str, dict[str, ScoredCondition]] = {}
    for entry in read_entries(store, conditions, chosen):
        if entry.usable is not None and entry.usable.uneven_weights is None:
            by_condition.setdefault(entry.condition.key, {})[names[entry.metric.id]] = (
                entry
            )
    several = [own for own in by_condition.values() if len(own) > 1]
    single = [
        next(iter(own.values())) for own in by_condition.values() if len(own) == 1
    ]
    left_out = tuple(f"{entry.condition.model}: one judge alone" for entry in single)
    clusters = cluster_map(
        store, benchmark.ids, benchmark.clusterings, selection.cluster
    )
    return JudgedForms(tuple(names.values()), tuple(several), clusters, left_out)


def choose_judges(
    store: Store, means: Sequence[Metric], judges: Sequence[str], benchmark: str
) -> list[Metric]:
    """The metrics of the judges named, or of all models that judge by one metric.

    Raises:
        MisuseError: an unknown name, fewer than two, several metrics, or several
            scales.
    """
    if judges:
        chosen = list(
            chain.from_iterable(
                metrics_by(name, means, benchmark) for name in dict.fromkeys(judges)
            )
        )
    else:
        models = [
            metric for metric in means if metric.id in scored_by(store, means, "model")
        ]
        labels = []
        for name in sorted({m.label for m in models}):
            if sum(m.label == name for m in models) > 1:
                labels.append(name)
        if len(labels) > 1:
            raise MisuseError(
                f"{benchmark} has several metrics with several judges, choose one: "
                f"--metric {labels[0]}"
            )
        chosen = [metric for metric in models if metric.label in labels]
    if len(chosen) < 2:
        why = "one judge alone has no spread"
        if not judges:
            why = f"{benchmark} has no metric that several models judge"
        raise MisuseError(
            f"{why}; name the judges whose scores are to stand side by side: --judge "
            "NAME, repeated"
        )
    if (
        len(
            {(metric.unit, metric.bounds, metric.higher_is_better) for metric in chosen}
        )
        > 1
    ):
        raise MisuseError(
            f"the judges of {benchmark} do not score on one scale: "
            f"{', '.join(judge_names(chosen))}; choose some with --judge, or state the "
            "bounds: warehouse fix metric"
        )
    return chosen


def judge_flips(forms: JudgedForms, level: float) -> list[JudgeFlip]:
    """Pairs of conditions whose order differs between two judges, those that are shown
    first."""
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
        pairs = tested_pairs(
            table, level=level, n_resamples=0, seed=0, higher_is_better=True
        )
        means[judge], p_values[judge] = (
            np.nanmean(table.values, axis=0),
            pairs.square("p_value")[upper],
        )
    rows = []
    for first, other in couples:
        x, y = means[first], means[other]
        found = find_crossings(sign * x, sign * y, p_values[first], p_values[other])
        for i, j, p in zip(found.first, found.second, found.p_holm, strict=True):
            a, b = i, j
            if not sign * (x[i] - x[j]) > 0:
                a, b = j, i
            adjusted = min(1.0, float(p) * len(couples)) if np.isfinite(p) else p
            difference_x = float(x[a] - x[b])
            differences = difference_x, float(y[a] - y[b])
            shown = bool(rejects(float(adjusted), 1 - level))
            rows.append(
                JudgeFlip(
                    first,
                    other,
                    names[a],
                    names[b],
                    *differences,
                    finite_or_none(adjusted),
                    shown,
                )
            )
    return sorted(
        rows,
        key=lambda row: (
            2.0 if row.p_holm is None else row.p_holm,
            row.judge_a,
            row.model_a,
        ),
    )


_COLUMNS = dict(
    zip(FACTORS, ("template", "fewshot_draw", "perturbation"), strict=False)
)
#: What a form is called that has no name: prompts as they stand.
PLAIN = "(plain)"


@dataclass(frozen=True)
class _Forms:
    """The scores of a condition: prompts × forms, NaN where there is none."""

    target: Target
    names: tuple[str, ...]
    prompts: NDArray[np.int64]
    table: NDArray[np.float64]

    @property
    def whole(self) -> NDArray[np.bool_]:
        """Which prompts have a score under each form."""
        return np.asarray(np.isfinite(self.table).all(axis=1), np.bool_)


@answers(Templates)
def templates(store: Store, question: Templates) -> TemplatesReport:
    """One row for each condition with two templates, or judges, or more."""
    read = _read_judges if question.factor == "judge" else _read_forms
    try:
        forms, left_out, flips = read(store, question)
    except MisuseError:
        published = published_templates(store, question)
        if published is None:
            raise
        return published
    several = [item for item in forms if len(item.names) > 1]
    if not several:
        published = published_templates(store, question)
        if published is not None:
            return published
        raise MisuseError(
            f"{question.target} has no condition whose prompts have scores under two "
            f"values of {question.factor}; the others are: "
            f"{', '.join(name for name in FACTORS if name != question.factor)} "
            "(--factor)"
        )
    single = [
        f"{item.target.condition.model}: one {question.factor} alone"
        for item in forms
        if len(item.names) == 1
    ]
    shared = []
    for name in several[0].names:
        if all(name in item.names for item in several):
            shared.append(name)
    flip_share, n_top = _ranking(several, shared)
    return TemplatesReport(
        target=question.target,
        factor=question.factor,
        rows=tuple(_row(item, question) for item in several),
        templates=tuple(shared),
        flip_share=flip_share,
        n_top=n_top,
        left_out=(*left_out, *single),
        flips=flips,
        is_share=all(item.target.metric.bounds == (0.0, 1.0) for item in several),
    )


_Read = tuple[list[_Forms], tuple[str, ...], tuple[JudgeFlip, ...]]


def _read_forms(store: Store, question: Templates) -> _Read:
    targets = find_targets(store, question.target, selection_of(question))
    plain = [item for item in targets.scored if item.is_plain_mean]
    return (
        [_forms(item, rows, question.factor) for item, rows in _read(store, plain)],
        targets.left_out,
        (),
    )


def _read_judges(store: Store, question: Templates) -> _Read:
    judged = read_judged(
        store, question.target, selection_of(question), question.judges
    )
    return (
        [_Forms(*table) for table in judged.tables()],
        judged.left_out,
        tuple(judge_flips(judged, question.level)),
    )


def _read(
    store: Store, targets: Sequence[Target]
) -> Iterable[tuple[Target, list[dict[str, Any]]]]:
    """The scores of each condition by prompt and variant; one query for each metric."""
    for metric_id in sorted({target.metric.id for target in targets}):
        own = [target for target in targets if target.metric.id == metric_id]
        runs = list(chain.from_iterable(target.condition.run_ids for target in own))
        rows = store.rows(
            query_text("analysis/templates", "scores_by_variant"),
            {"metric_ids": [metric_id], "run_ids": runs},
        )
        by_condition = grouped(rows, itemgetter("condition_key"))
        yield from (
            (target, by_condition.get(target.condition.key, [])) for target in own
        )


def _forms(target: Target, rows: Sequence[Mapping[str, Any]], factor: str) -> _Forms:
    """A condition's table.

    Raises:
        MisuseError: another factor varies as well.
    """
    column = _COLUMNS[factor]
    for other, name in _COLUMNS.items():
        if (
            name != column
            and len({row[name] for row in rows}) > 1
            and len({row[column] for row in rows}) > 1
        ):
            raise MisuseError(
                f"{target.condition.model} on {target.condition.benchmark_split[0]} "
                f"varies by {other} as well as by {factor}: one factor at a time"
            )
    names = sorted({str(row[column]) for row in rows})
    distinct = sorted({row["prompt"] for row in rows})
    prompts = {prompt: index for index, prompt in enumerate(distinct)}
    table = np.full((len(prompts), len(names)), np.nan)
    for row in rows:
        table[prompts[row["prompt"]], names.index(str(row[column]))] = row["value"]
    return _Forms(
        target,
        tuple(name or PLAIN for name in names),
        np.array(list(prompts), np.int64),
        table,
    )


def _ranking(
    forms: Sequence[_Forms], shared: Sequence[str]
) -> tuple[float | None, int | None]:
    """The agreement of the shared forms on the order of the conditions."""
    directions = {item.target.metric.higher_is_better for item in forms}
    alike = (
        len(
            {
                (item.target.condition.benchmark_split, item.target.metric.id)
                for item in forms
            }
        )
        == 1
    )
    if len(forms) < 2 or len(shared) < 2 or not alike or directions & {None}:
        return None, None
    means = []
    for item in forms:
        means.append(
            [np.nanmean(item.table[:, item.names.index(name)]) for name in shared]
        )
    if directions == {True}:
        direction = 1
    else:
        direction = -1
    ranking = template_ranking(np.asarray(means) * direction)
    return ranking.flip_share, ranking.n_top


def _row(forms: _Forms, question: Templates) -> TemplateRow:
    target, whole = forms.target, forms.whole
    low = target.metric.low
    high = target.metric.high
    result: TemplateVariance | None = None
    if whole.any():
        if low is None or high is None:
            bounds = None
        else:
            bounds = (low, high)
        result = template_variance(
            forms.table[whole],
            random=question.random,
            level=question.level,
            bounds=bounds,
            conservative=question.conservative,
            clusters=target.clusters.labels(forms.prompts[whole]),
        )
    needed = None
    if result and question.se is not None:
        needed = templates_needed(result, question.se)
    names = (
        *("estimate", "standard_error", "ci_low", "ci_high", "df", "best", "worst"),
        *("variance_prompts", "variance_templates", "variance_residual"),
        *("part_prompts", "part_templates", "part_residual", "n_clusters"),
    )
    return TemplateRow(
        **target.head,
        level=question.level,
        random=question.random,
        n_prompts=int(whole.sum()),
        n_templates=len(forms.names),
        n_left_out=int((~whole).sum()),
        best_template=forms.names[result.best_template] if result else "",
        worst_template=forms.names[result.worst_template] if result else "",
        templates_needed=needed,
        flags=result.flags if result else (),
        reason=result.reason if result else "no prompt has a score under each of them",
        run_ids=target.condition.run_ids,
        **part_fields(result, *names),
    )
