"""Who scored; which prompts were drawn to be labelled; and answers that a judge has
scored, with people's labels of some, and whether these are a random part."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import (
    BenchmarkFacts,
    Metric,
    read_benchmark,
)
from warehouse.analysis.selection.clusterings import ClusterMap, cluster_map
from warehouse.analysis.selection.conditions import Condition, group_runs
from warehouse.analysis.selection.reference import (
    choose_conditions,
    find_conditions,
    pick_one,
)
from warehouse.analysis.selection.reference_text import parse_where
from warehouse.analysis.selection.scored_conditions import ScoredCondition, read_entries
from warehouse.analysis.selection.selection import Selection
from warehouse.errors import MisuseError
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.judges.plan import strata_by
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

_BY_KIND = """
select metric.id from metric join scorer on scorer.id = metric.scorer_id
where scorer.kind = :kind and metric.id in (:ids)
"""


def word_of(metric: Metric) -> str:
    """The name of its judge: its model, else the scorer, else the metric."""
    return metric.judge_model or metric.scorer or metric.label


def means_of(facts: BenchmarkFacts, label: str | None = None) -> list[Metric]:
    """Metrics of a label (None: all) whose mean is the figure and that a current run
    has: a store goes on describing what a source that was removed had."""
    there = {row["metric_id"] for row in facts.run_metrics}
    means = (
        metric
        for metric in facts.metrics
        if metric.id in there and metric.link == "identity"
    )
    return [metric for metric in means if label in (None, metric.label, metric.name)]


def metrics_by(name: str, metrics: Sequence[Metric], benchmark: str) -> list[Metric]:
    """Metrics whose judge's model is called so, else whose word, scorer or own label
    is.

    Raises:
        MisuseError: there is none; names what there is.
    """
    for called in (
        attrgetter("judge_model"),
        word_of,
        attrgetter("scorer"),
        attrgetter("label"),
    ):
        if chosen := [metric for metric in metrics if called(metric) == name]:
            return chosen
    there = ", ".join(sorted(set(map(word_of, metrics)))) or "none"
    raise MisuseError(f"nobody called {name!r} scores {benchmark}; there are: {there}")


def scored_by(store: Store, metrics: Sequence[Metric], kind: str) -> set[int]:
    """Ids of those whose scorer is of a kind: model, human, match, execution."""
    ids = [metric.id for metric in metrics]
    if ids:
        return {row["id"] for row in store.rows(_BY_KIND, {"kind": kind, "ids": ids})}
    return set()


def judge_names(metrics: Sequence[Metric]) -> list[str]:
    """The shortest words that tell judges apart: their model, scorer or metric."""
    for of in ("judge_model", "scorer", "label"):
        names = [str(getattr(metric, of)) for metric in metrics]
        if all(names) and len(set(names)) == len(names):
            return names
    return [
        f"{m.label} by {m.judge_model or m.scorer or 'none'} ({m.id})" for m in metrics
    ]


@dataclass(frozen=True)
class RunDraw:
    """The draw from one run, as its newest wave says."""

    wave: int  #: its number, from 1.
    prompts: tuple[int, ...]  #: ids of those drawn so far, ascending.
    #: of each, by the lowest score of the judge in it (`score_cuts`); empty texts for a
    #: simple draw.
    strata: tuple[str, ...]
    probabilities: tuple[float, ...]  #: the chance of each to be among them.
    #: of the judge that it was drawn beside.
    metric_id: int | None = field(default=None, compare=False)

    @property
    def n_prompts(self) -> int:
        """How many prompts there were to draw from."""
        return round(sum(1 / probability for probability in self.probabilities))

    @property
    def is_stratified(self) -> bool:
        """True if it was by strata."""
        return any(self.strata)

    @property
    def cuts(self) -> FloatArray:
        """The lowest score of each stratum, ascending."""
        return np.array(sorted({float(cut) for cut in self.strata}))

    def chances(self, prompts: NDArray[np.int64]) -> FloatArray:
        """The chance of each prompt that was drawn, NaN of the others."""
        found = np.full(len(prompts), np.nan)
        _, at, drawn = np.intersect1d(
            prompts, self.prompts, assume_unique=True, return_indices=True
        )
        found[at] = np.array(self.probabilities)[drawn]
        return found

    def codes(
        self, prompts: NDArray[np.int64], scores: FloatArray
    ) -> NDArray[np.intp] | None:
        """Stratum of each prompt that was drawn from, by its score; None where that is
        no longer what was drawn by."""
        found = strata_by(self.cuts, scores)
        drawn = np.searchsorted(prompts, self.prompts)
        if not np.isin(self.prompts, prompts).all() or found.min() < 0:
            return None
        sizes = np.bincount(found, minlength=len(self.cuts))
        expected = np.bincount(
            found[drawn], 1 / np.array(self.probabilities), len(sizes)
        )
        is_same = np.array_equal(
            self.cuts[found[drawn]], [float(cut) for cut in self.strata]
        )
        if is_same and np.allclose(sizes, expected, atol=0.5):
            return found
        return None


def shared_scores(scores: Sequence[FloatArray]) -> FloatArray:
    """The scores that strata go by: the mean over models, of which equal ones are equal
    to the last digit."""
    means = np.mean(scores, axis=0)
    return np.array([float(f"{score:.12g}") for score in means])


def read_draws(store: Store, benchmark_ids: Sequence[int]) -> dict[int, RunDraw]:
    """The newest wave of each run of which anything was drawn."""
    newest: dict[int, list[dict[str, Any]]] = {}
    for row in store.rows(
        query_text("analysis/judge", "label_draws"), {"benchmark_ids": [*benchmark_ids]}
    ):
        own = newest.setdefault(row["run_id"], [])
        if own and own[0]["wave"] != row["wave"]:
            own.clear()  # waves come in their order
        own.append(row)
    draws = {}
    for run, rows in newest.items():
        draws[run] = RunDraw(
            rows[0]["wave"],
            tuple(row["prompt_id"] for row in rows),
            tuple(row["stratum"] for row in rows),
            tuple(row["probability"] for row in rows),
            rows[0]["metric_id"],
        )
    return draws


#: What is to be done on a benchmark of votes.
_OF_VOTES = (
    " --by scorer (judge and people side by side), warehouse judge {} (how far they "
    "agree); only answers of runs can be drawn to be labelled, so votes are corrected "
    "as scores of runs: docs/judges.md says how"
)


@dataclass(frozen=True, eq=False)
class JudgedUnits:
    """The answers of one condition."""

    entry: ScoredCondition  #: the judge's scores.
    human: Metric | None  #: the metric of the labels; None where no answer has one.
    prompts: NDArray[np.int64]  #: ids of the prompts, ascending, shape (N,).
    judge: FloatArray  #: g, shape (N,).
    labels: FloatArray  #: h, NaN where there is none, shape (N,).
    clusters: NDArray[np.int64] | None  #: of the prompts, or None.
    #: of the prompts, where they were drawn by strata that the judge's scores still
    #: give; else None.
    strata: NDArray[np.intp] | None
    not_random: str  #: why the labels are no random part; empty where they are.
    n_missing: int  #: answers that were drawn and have no label.
    n_outside: int  #: labels that were not drawn, and are not among ``labels`` where others were.
    draw: RunDraw | None  #: how they were drawn; None where nobody drew.
    run_ids: tuple[int, ...]  #: of the answers, and of their labels.
    n_of_several: int = 0  #: answers of which a label is the mean of several.

    @property
    def condition(self) -> Condition:
        """Whose answers."""
        return self.entry.condition

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which have a label, shape (N,)."""
        return np.isfinite(self.labels)

    @property
    def design(self) -> dict[str, Any]:
        """How the labels were drawn, as `prediction_powered_mean` takes it."""
        draw = None
        if self.strata is None:
            draw = self.draw
        is_simple = draw is None or len(set(draw.probabilities)) == 1
        if is_simple or not draw:
            probabilities = None
        else:
            probabilities = draw.chances(self.prompts)
        return {
            "strata": self.strata,
            "probabilities": probabilities,
        }

    @property
    def within(self) -> FloatArray:
        """Variance of the judge's score over its draws, NaN where it is not known,
        shape (N,)."""
        scores = self.entry.usable
        assert scores is not None
        return scores.within[np.searchsorted(scores.prompts, self.prompts)]

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Smallest and largest label, as the metric of the labels has them, else the
        judge's where they fit."""
        given_labels = self.labels[self.labelled]
        for metric in (self.human, self.entry.metric):
            if metric is None or metric.low is None or metric.high is None:
                ends = None
            else:
                ends = (metric.low, metric.high)
            if ends and (
                not len(given_labels)
                or ends[0] <= given_labels.min()
                and given_labels.max() <= ends[1]
            ):
                return ends
        return None

    def at(self, prompts: NDArray[np.int64]) -> JudgedUnits:
        """The same on some of the prompts."""
        at = np.searchsorted(self.prompts, prompts)
        taken: dict[str, Any] = {
            name: None if (value := getattr(self, name)) is None else value[at]
            for name in ("judge", "labels", "clusters", "strata")
        }
        return replace(self, prompts=prompts, **taken)


def read_units(
    store: Store,
    selection: Selection,
    judge: str | None,
    human: str | None,
    *,
    labels: bool = True,
) -> tuple[list[JudgedUnits], tuple[str, str]]:
    """The answers of each condition on a benchmark, and the names of judge and people.

    Labels are those of any run of the same model, checkpoint and agent: a sheet comes
    back as a run of its own. Several people's are averaged.

    Args:
        selection: names a benchmark; the metric is the judge's.
        judge: who; None where only one model judges there.
        human: whose labels; None where only one scorer is human.
        labels: False where none are needed.

    Raises:
        MisuseError: unknown names, several where none is named, no answer with a score.
    """
    name = selection.benchmark or ""
    benchmark, facts = read_benchmark(store, name, _OF_VOTES.format(shlex.quote(name)))
    judged = _only(
        store,
        means_of(facts, selection.metric),
        judge,
        "model",
        "--judge",
        benchmark.name,
    )
    others = [metric for metric in means_of(facts) if metric not in judged]
    people = (
        _only(store, others, human, "human", "--human", benchmark.name)
        if labels
        else []
    )
    chosen = {
        condition.key
        for condition in choose_conditions(
            facts.runs, name, selection.where, selection.latest
        )
    }
    conditions = group_runs(facts.runs)
    entries, labelled = (
        [
            entry
            for entry in read_entries(store, conditions, metrics)
            if entry.usable is not None
        ]
        if metrics
        else []
        for metrics in (judged, people)
    )
    draws = read_draws(store, benchmark.ids)
    clusters = cluster_map(
        store, benchmark.ids, benchmark.clusterings, selection.cluster
    )
    drawn_metrics = {draw.metric_id for draw in draws.values() if draw.is_stratified}
    drawn_by = [metric for metric in facts.metrics if metric.id in drawn_metrics]
    scores = read_entries(store, conditions, drawn_by) if drawn_by else []
    strata = {
        draw: _strata(scores, draws, draw)
        for draw in set(draws.values())
        if draw.is_stratified
    }
    found = [
        _units(entry, entries, labelled, draws, strata, clusters)
        for entry in entries
        if entry.condition.key in chosen
    ]
    if not found:
        raise MisuseError(
            f"{judge or 'the judge'} has scored no answer on {benchmark.name}"
        )
    return found, (
        judge or word_of(judged[0]),
        human or (word_of(people[0]) if people else ""),
    )


#: Seeds that a message names.
_SEEDS = 5


def pick_units(
    store: Store,
    units: Sequence[JudgedUnits],
    names: Sequence[str],
    where: Sequence[str],
    *,
    latest: bool,
) -> tuple[JudgedUnits, ...]:
    """The units of two models.

    Raises:
        MisuseError: an unknown or ambiguous reference, a model without scores of the
            judge, or the same twice.
    """
    ids = sorted({int(unit.condition.setting("benchmark_id")) for unit in units})
    by_key = {unit.condition.key: unit for unit in units}
    chosen = []
    for name in names:
        fitting = find_conditions(
            store, name, benchmark_ids=ids, where=parse_where(where)
        )
        judged = [condition for condition in fitting if condition.key in by_key]
        if not judged:
            raise MisuseError(
                f"the judge has scored no answer of {name} on "
                f"{units[0].condition.benchmark_split[0]}"
            )
        several = {
            str(condition.setting("training_seed") or "") for condition in judged
        }
        if len(several) > 1 and not latest:
            seeds = sorted(several)
            where = judged[0].benchmark_split[0]
            told = ", ".join(seeds[:_SEEDS])
            raise MisuseError(
                f"{name} has {len(seeds)} training seeds on {where} ({told}): labels "
                "of people correct the answers of one; take one with --where "
                f"training_seed={seeds[0]}, and the answer is of that seed"
            )
        chosen.append(by_key[pick_one(store, judged, name, latest=latest).key])
    if len({unit.condition.key for unit in chosen}) < len(chosen):
        raise MisuseError(f"{' and '.join(names)} are one model; name two")
    return tuple(chosen)


def _only(
    store: Store,
    metrics: Sequence[Metric],
    name: str | None,
    kind: str,
    option: str,
    benchmark: str,
) -> list[Metric]:
    """The metrics of one scorer, named or the only one of its kind."""
    if name is not None:
        chosen = metrics_by(name, metrics, benchmark)
    else:
        ids = scored_by(store, metrics, kind)
        chosen = [metric for metric in metrics if metric.id in ids]
    words = sorted({f"{word_of(metric)} ({metric.label})" for metric in chosen})
    if not chosen:
        hint = ""
        if kind == "human":
            hint = "; labels of people: warehouse judge next draws them"
        raise MisuseError(
            f"{benchmark} has no scores by a {kind}; name the scorer: {option} NAME"
            + hint
        )
    if (
        len({metric.label for metric in chosen}) > 1
        or len({word_of(metric) for metric in chosen}) > 1
    ):
        raise MisuseError(
            f"{benchmark} has several, name one with {option}: {', '.join(words)}"
        )
    return chosen


def _run_draw(entry: ScoredCondition, draws: dict[int, RunDraw]) -> RunDraw | None:
    return next((draws[run] for run in entry.condition.run_ids if run in draws), None)


def _units(
    entry: ScoredCondition,
    entries: Sequence[ScoredCondition],
    labels: Sequence[ScoredCondition],
    draws: dict[int, RunDraw],
    strata: dict[RunDraw, tuple[NDArray[np.int64], NDArray[np.intp]] | None],
    clusters: ClusterMap,
) -> JudgedUnits:
    scores = entry.usable
    draw = _run_draw(entry, draws)
    assert scores is not None
    prompts = scores.prompts if draw is None else _drawn_from(entries, draws, draw)
    at = np.searchsorted(scores.prompts, prompts)
    own, found = labels_of(entry.condition, labels, prompts)
    reason = ""
    missing = 0
    outside = 0
    codes = None
    if draw is not None and (of := strata.get(draw)) and np.isin(prompts, of[0]).all():
        codes = of[1][np.searchsorted(of[0], prompts)]
    if draw is not None:
        drawn = np.isin(prompts, draw.prompts)
        missing = int((drawn & np.isnan(found)).sum())
        outside = int((~drawn & ~np.isnan(found)).sum())
        found = np.where(drawn, found, np.nan)
        if len(prompts) > draw.n_prompts:
            reason = (
                f"its labels were drawn from {draw.n_prompts:,} prompts, and this "
                f"judge has scored {len(prompts):,}: they stand for none of the others"
            )
    elif np.isfinite(found).any() and not np.isfinite(found).all():
        reason = (
            "its labels were not drawn by known chance (those that happened to be "
            "there): warehouse judge next draws some, and these count"
        )
    human = own[0].metric if own else None
    run_ids = tuple(
        chain.from_iterable(entry.condition.run_ids for entry in (entry, *own))
    )
    design = (clusters.labels(prompts), codes, reason, missing, outside, draw, run_ids)
    several = _n_labels(own, prompts)[np.isfinite(found)] > 1
    return JudgedUnits(
        entry,
        human,
        prompts,
        scores.values[at],
        found,
        *design,
        n_of_several=int(several.sum()),
    )


def _n_labels(
    own: Sequence[ScoredCondition], prompts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How many labels each prompt has, over runs of labels and their draws."""
    count = np.zeros(len(prompts))
    for entry in own:
        scores = entry.usable
        assert scores is not None
        _, at, from_ = np.intersect1d(
            prompts, scores.prompts, assume_unique=True, return_indices=True
        )
        count[at] += scores.n_draws[from_]
    return count


def labels_of(
    asked: Condition, labels: Sequence[ScoredCondition], prompts: NDArray[np.int64]
) -> tuple[list[ScoredCondition], FloatArray]:
    """The scores of a grader that are of a condition's answers: of the same model,
    checkpoint and agent, else of the same model; and the mean of each prompt's, NaN
    without."""
    of_split = [
        label
        for label in labels
        if label.condition.setting("split") == asked.setting("split")
    ]
    own = [label for label in of_split if label.condition.who == asked.who]
    own = own or [label for label in of_split if label.condition.model == asked.model]
    return own, _labels(own, prompts)


def _labels(own: Sequence[ScoredCondition], prompts: NDArray[np.int64]) -> FloatArray:
    """Mean label of each prompt over runs of labels, NaN without."""
    total = np.zeros(len(prompts))
    count = np.zeros(len(prompts))
    for entry in own:
        scores = entry.usable
        assert scores is not None
        here, at, from_ = np.intersect1d(
            prompts, scores.prompts, assume_unique=True, return_indices=True
        )
        total[at] += scores.values[from_]
        count[at] += 1
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _strata(
    entries: Sequence[ScoredCondition], draws: dict[int, RunDraw], draw: RunDraw
) -> tuple[NDArray[np.int64], NDArray[np.intp]] | None:
    """The prompts of a draw with their strata; None where these are not known any more."""
    own = [
        own_entry.usable
        for own_entry in entries
        if own_entry.usable and _run_draw(own_entry, draws) == draw
    ]
    if not own:
        return None
    prompts = _drawn_from(entries, draws, draw)
    values = [scores.values[np.searchsorted(scores.prompts, prompts)] for scores in own]
    codes = None
    if len(prompts):
        codes = draw.codes(prompts, shared_scores(values))
    if codes is None:
        return None
    return (prompts, codes)


def _drawn_from(
    entries: Sequence[ScoredCondition], draws: dict[int, RunDraw], draw: RunDraw
) -> NDArray[np.int64]:
    """The prompts that the draw was from: those with a score of each model that it was
    of."""
    return reduce(
        np.intersect1d,
        [
            own_entry.usable.prompts
            for own_entry in entries
            if own_entry.usable and _run_draw(own_entry, draws) == draw
        ],
    )
