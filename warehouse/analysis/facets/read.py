"""Tables of prompts × conditions of each model, with the settings that are facets.

A condition of a table is one run's condition, by one judge, in one form of the prompts,
as far as these are facets. What is no facet keeps rows apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.facets.question import OverFacets, facet_names
from warehouse.analysis.groups import grouped
from warehouse.analysis.judge.units import judge_names, means_of
from warehouse.analysis.selection.benchmarks import read_facts
from warehouse.analysis.selection.clusterings import cluster_map
from warehouse.analysis.selection.conditions import Condition, settings_of_conditions
from warehouse.analysis.selection.scored_conditions import read_entries
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.selection.targets import (
    Target,
    find_conditions_of,
    find_targets,
)
from warehouse.analysis.templates.answer import choose_judges
from warehouse.errors import MisuseError
from warehouse.records.run_fields import LABEL_FIELDS
from warehouse.records.setting_labels import last_name, short_values
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text
from warehouse.tables.words import some_of

#: Facets that are told of each prompt, and their columns.
FORMS = ("template", "fewshot_draw", "perturbation")
JUDGE = "judge"
#: The metric of rows over judges of several metrics.
EACH_JUDGE = "each judge's score"
#: What a condition says that does not have a setting.
UNSET = "unset"
#: Names as the sources wrote them, which people may have joined.
_NO_SETTINGS = frozenset({"model_recorded", "benchmark_recorded"})


@dataclass(frozen=True)
class Column:
    """Scores of the prompts in one condition."""

    levels: Mapping[str, str]  #: level of each facet.
    apart: tuple[tuple[str, str], ...]  #: settings that keep rows apart.
    prompts: NDArray[np.int64]  #: ids, shape (n,).
    values: NDArray[np.float64]  #: means over draws, shape (n,).
    n_draws: NDArray[np.float64]  #: draws of each, shape (n,).
    within: NDArray[np.float64]  #: variance of the draws of each, NaN where unknown.
    target: Target  #: whose scores they are.


@dataclass(frozen=True)
class FacetTable:
    """A model's scores over the settings that are facets."""

    target: Target  #: of its first condition: benchmark, metric, clusters.
    label: str  #: settings that tell the row from others of its model.
    prompts: NDArray[np.int64]  #: ids, ascending, shape (n,).
    cells: NDArray[np.float64]  #: prompts × conditions, NaN where there is none.
    n_draws: NDArray[np.float64]  #: draws of each cell.
    within: NDArray[np.float64]  #: variance of the draws in each cell.
    levels: Mapping[str, tuple[str, ...]]  #: of each facet, by condition.
    run_ids: tuple[int, ...]  #: ids of the runs.
    n_unscored: int  #: samples without a score, which are left out.
    n_samples: int  #: samples in all.

    @property
    def clusters(self) -> NDArray[np.int64] | None:
        """Cluster of each prompt."""
        return self.target.clusters.labels(self.prompts)


@dataclass(frozen=True)
class FacetTables:
    """Tables of all models that were asked about."""

    tables: tuple[FacetTable, ...]
    left_out: tuple[str, ...]  #: what has no scores.
    #: settings that keep rows of one model apart, with the number of their values.
    apart: Mapping[str, int] = field(default_factory=dict)


def read_tables(
    store: Store, target: str, selection: Selection, asked: OverFacets
) -> FacetTables:
    """The tables of every model that ``target`` means.

    Raises:
        MisuseError: an unknown name, a setting that no run tells, or nothing scored.
    """
    names = (*facet_names(asked.over), *facet_names(asked.fixed))
    left_out: tuple[str, ...] = ()
    if JUDGE in names:
        judged = _by_judges(store, target, selection, getattr(asked, "judges", ()))
    else:
        found = find_targets(store, target, selection)
        judged, left_out = [({}, one) for one in found.scored], found.left_out
    columns = list(_columns(store, judged, names))
    by_row = grouped(columns, _row_of)
    tables = [_table(own, names) for own in by_row.values()]
    return FacetTables(tuple(tables), tuple(left_out), _kept_apart(columns))


def _row_of(column: Column) -> tuple[Hashable, ...]:
    target = column.target
    metric: Hashable = (target.metric.label, target.metric.scale)
    if JUDGE in column.levels:
        metric = ""
    condition = target.condition
    return (condition.model, condition.benchmark_split, metric, column.apart)


def _kept_apart(columns: Sequence[Column]) -> dict[str, int]:
    """Settings in which rows of one model differ."""
    values: dict[str, set[str]] = {}
    for column in columns:
        for name, value in column.apart:
            values.setdefault(name, set()).add(value)
    return {name: len(told) for name, told in values.items() if len(told) > 1}


def _by_judges(
    store: Store, target: str, selection: Selection, judges: Sequence[str]
) -> list[tuple[dict[str, str], Target]]:
    """The conditions by each judge that scored them.

    Args:
        judges: their names; empty: all models that judge.

    Raises:
        MisuseError: several benchmarks, or fewer than two judges on one scale.
    """
    benchmark, conditions = find_conditions_of(store, target, selection)
    means = means_of(read_facts(store, benchmark.ids), selection.metric)
    chosen = choose_judges(store, means, judges, benchmark.name)
    names = dict(zip([one.id for one in chosen], judge_names(chosen), strict=True))
    clusters = cluster_map(
        store, benchmark.ids, benchmark.clusterings, selection.cluster
    )
    found = []
    for entry in read_entries(store, conditions, chosen):
        scores = entry.usable
        if scores is None or scores.uneven_weights is not None:
            continue
        own = Target(entry.condition, entry.label, entry.metric, scores, clusters)
        found.append(({JUDGE: names[entry.metric.id]}, own))
    return found


def _columns(
    store: Store,
    judged: Sequence[tuple[dict[str, str], Target]],
    names: Sequence[str],
) -> Iterable[Column]:
    """Each condition by judge and form of the prompts, with its levels."""
    targets = [target for _, target in judged]
    by_model = grouped(
        targets, lambda one: (one.condition.model, one.condition.benchmark_split)
    )
    told: dict[str, tuple[dict[str, str], tuple[tuple[str, str], ...]]] = {}
    settings = settings_of_conditions(store, [one.condition for one in targets])
    in_forms = _forms_of(store, targets, [name for name in names if name in FORMS])
    missing = set(names) - {JUDGE} - _forms_found(in_forms)
    judges_of: dict[str, str] = {}
    for judges, target in judged:
        key = target.condition.key
        judges_of[key] = judges_of.get(key, "") + judges.get(JUDGE, "") + ","
    for own in by_model.values():
        conditions = list({one.condition.key: one.condition for one in own}.values())
        told |= _levels(conditions, settings, sorted(missing), judges_of)
    _check_told(told.values(), missing)
    for judges, target in judged:
        levels, apart = told[target.condition.key]
        rows = in_forms.get((target.condition.key, target.metric.id))
        if rows is None:
            yield _plain(target, judges | levels, apart)
        else:
            yield from _in_forms(target, judges | levels, apart, rows)


def _plain(
    target: Target, levels: Mapping[str, str], apart: tuple[tuple[str, str], ...]
) -> Column:
    scores = target.scores
    return Column(
        levels,
        apart,
        scores.prompts,
        scores.values,
        scores.n_draws,
        scores.within,
        target,
    )


def _check_told(
    told: Iterable[tuple[dict[str, str], tuple[tuple[str, str], ...]]],
    names: Iterable[str],
) -> None:
    """Refuse a setting that no run tells."""
    values: dict[str, set[str]] = {name: set() for name in names}
    differing: dict[str, None] = {}
    for levels, apart in told:
        differing |= dict.fromkeys(name for name, _ in apart)
        for name in values:
            values[name].add(levels.get(name, UNSET))
    for name, of_all in values.items():
        if of_all <= {UNSET}:
            there = "runs of a model differ in no setting"
            if differing:
                there = f"runs of a model differ in: {some_of(sorted(differing))}"
            raise MisuseError(f"no run tells {name}; {there}")


def _levels(
    conditions: Sequence[Condition],
    settings: Mapping[str, Mapping[str, str]],
    names: Sequence[str],
    judges_of: Mapping[str, str],
) -> dict[str, tuple[dict[str, str], tuple[tuple[str, str], ...]]]:
    """Of each condition of a model, by key: its level of each facet, and the other
    settings in which conditions differ.

    What is the same wherever all facets are is a part of them: a template and its hash.
    """
    own = {one.key: _all_settings(one, settings[one.key]) for one in conditions}
    paths = sorted(set(chain.from_iterable(own.values())))
    differing = [
        path
        for path in paths
        if len({told.get(path, UNSET) for told in own.values()}) > 1
    ]
    of_facets = {name: _path_of(name, paths, own) for name in names}
    found = {}
    levels: dict[str, dict[str, str]] = {}
    for key, told in own.items():
        levels[key] = {
            name: told.get(path, UNSET) if path else UNSET
            for name, path in of_facets.items()
        }
    at = {key: (*levels[key].values(), judges_of[key]) for key in own}
    free = []
    for path in differing:
        if path not in of_facets.values() and not _is_part(path, own, at):
            free.append(path)
    rows: dict[Hashable, list[str]] = {}
    for key, told in own.items():
        apart = tuple((last_name(path), told.get(path, UNSET)) for path in free)
        found[key] = (levels[key], apart)
        rows.setdefault((at[key], apart), []).append(key)
    for alike in rows.values():
        for key in alike if len(alike) > 1 else ():
            # they differ in what no setting tells: never pooled without a word
            of_key, apart = found[key]
            found[key] = (of_key, (*apart, ("condition", key[:8])))
    return found


def _all_settings(condition: Condition, settings: Mapping[str, str]) -> dict[str, str]:
    """Fields of the run and its settings, as text."""
    told = dict(settings)
    for name in LABEL_FIELDS:
        value = condition.setting(name)
        if name not in _NO_SETTINGS and value not in (None, ""):
            told[name] = str(value)
    return told


def _path_of(
    name: str, paths: Sequence[str], own: Mapping[str, Mapping[str, str]]
) -> str:
    """The setting that is called so: its whole path, else its last name, the one with
    most values; empty where there is none."""
    if name in paths:
        return name
    found = [path for path in paths if last_name(path) == name]
    if not found and name == "template":
        found = [path for path in paths if path == "template_hash"]
    if not found:
        return ""
    return max(
        found,
        key=lambda path: (len({told.get(path) for told in own.values()}), -len(path)),
    )


def _is_part(
    path: str,
    own: Mapping[str, Mapping[str, str]],
    at: Mapping[str, tuple[str, ...]],
) -> bool:
    """Whether a setting has one value wherever all facets have one."""
    seen: dict[tuple[str, ...], str] = {}
    for key, told in own.items():
        value = told.get(path, UNSET)
        if seen.setdefault(at[key], value) != value:
            return False
    return True


def _forms_of(
    store: Store, targets: Sequence[Target], wanted: Sequence[str]
) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """Scores by form of the prompts, of each condition and metric that has several."""
    if not wanted:
        return {}
    found = {}
    for metric_id in sorted({target.metric.id for target in targets}):
        own = [target for target in targets if target.metric.id == metric_id]
        runs = list(chain.from_iterable(target.condition.run_ids for target in own))
        rows = store.rows(
            query_text("analysis/templates", "scores_by_variant"),
            {"metric_ids": [metric_id], "run_ids": runs},
        )
        for key, members in grouped(rows, itemgetter("condition_key")).items():
            told = {tuple(str(row[name]) for name in wanted) for row in members}
            if len(told) > 1:
                found[key, metric_id] = [
                    row | {"level": tuple((name, str(row[name])) for name in wanted)}
                    for row in members
                ]
    return found


def _forms_found(in_forms: Mapping[Any, Sequence[Mapping[str, Any]]]) -> set[str]:
    """Facets that prompts tell, and runs need not."""
    found: set[str] = set()
    for rows in in_forms.values():
        for name in FORMS:
            if name in dict(rows[0]["level"]):
                found.add(name)
    return found


def _in_forms(
    target: Target,
    levels: Mapping[str, str],
    apart: tuple[tuple[str, str], ...],
    rows: Sequence[Mapping[str, Any]],
) -> Iterable[Column]:
    for form, own in grouped(rows, itemgetter("level")).items():
        by_prompt = grouped(own, itemgetter("prompt"))
        prompts = np.array(sorted(by_prompt), dtype=np.int64)
        values = [
            float(np.mean([row["value"] for row in by_prompt[prompt]]))
            for prompt in prompts.tolist()
        ]
        yield Column(
            {**levels, **dict(form)},
            apart,
            prompts,
            np.array(values),
            np.ones(len(prompts)),
            np.full(len(prompts), np.nan),
            target,
        )


def _table(columns: Sequence[Column], names: Sequence[str]) -> FacetTable:
    """One table; conditions of the same levels are repeats, and their scores pooled."""
    by_level = grouped(
        columns, lambda one: tuple(one.levels.get(name, UNSET) for name in names)
    )
    by_level = dict(sorted(by_level.items()))
    prompts = np.unique(np.concatenate([column.prompts for column in columns]))
    shape = (len(prompts), len(by_level))
    sums, counts = np.zeros(shape), np.zeros(shape)
    within = np.full(shape, np.nan)
    for j, own in enumerate(by_level.values()):
        for column in own:
            rows = np.searchsorted(prompts, column.prompts)
            sums[rows, j] += column.values * column.n_draws
            counts[rows, j] += column.n_draws
            within[rows, j] = column.within
    cells = np.full(shape, np.nan)
    np.divide(sums, counts, out=cells, where=counts > 0)
    first = columns[0].target
    if len({column.target.metric.label for column in columns}) > 1:
        metric = replace(first.metric, name=EACH_JUDGE, filter="")
        first = replace(first, metric=metric)
    told = [f"{name}={value}" for name, value in columns[0].apart]
    scores = {id(column.target.scores): column.target.scores for column in columns}
    runs = {run for column in columns for run in column.target.condition.run_ids}
    levels = {}
    for place, name in enumerate(names):
        of_facet = [level[place] for level in by_level]
        levels[name] = tuple(_short(of_facet))
    return FacetTable(
        target=first,
        label=", ".join(told[:2]),
        prompts=prompts,
        cells=cells,
        n_draws=counts,
        within=within,
        levels=levels,
        run_ids=tuple(sorted(runs)),
        n_unscored=sum(one.n_unscored for one in scores.values()),
        n_samples=sum(one.n_samples for one in scores.values()),
    )


def _short(values: Sequence[str]) -> list[str]:
    """Values short enough for a table, as long as they stay apart."""
    short = short_values(tuple(values))
    if len(set(short)) < len(set(values)):
        return list(values)
    return list(short)
