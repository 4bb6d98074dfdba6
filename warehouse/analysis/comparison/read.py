"""The data of a comparison of two models, in two reads; what is made of it asks the
store nothing.

First both models on every benchmark (`TwoModels`): conditions, scores, clusters, plans,
or why they cannot be compared. Last, of the pairs that the tests left over, what they
share (`read_shared`) and say (`read_texts`): a benchmark that joins the prompts of two
others does so only where it is compared itself.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Generic, TypeVar

from warehouse.analysis.comparison.no_prompts import why_none_in_common
from warehouse.analysis.comparison.pairing import (
    NotComparable,
    Pair,
    PossiblePlans,
    pair_up,
    refuse_incomparable,
)
from warehouse.analysis.comparison.published import way_out
from warehouse.analysis.selection.benchmarks import (
    BenchmarkNames,
    Metric,
    choose_metrics,
    find_among,
    metrics_of,
    read_names,
    run_metrics_of,
)
from warehouse.analysis.selection.clusterings import (
    ClusterMap,
    cluster_map,
    clusters_under_links,
)
from warehouse.analysis.selection.conditions import Condition, label_conditions
from warehouse.analysis.selection.hooks import (
    OnlyPrompts,
    possible_plans,
    read_stopped,
)
from warehouse.analysis.selection.metric_names import (
    alias_command,
    may_be_one,
    names_notes,
    of_one,
)
from warehouse.analysis.selection.only_prompts import (
    only_prompts,
    run_conditions,
    scores_of,
)
from warehouse.analysis.selection.other_metrics import advise_metric, scored_metrics
from warehouse.analysis.selection.policies import PolicyInForce, policy_in_force
from warehouse.analysis.selection.policy_evidence import require_readable
from warehouse.analysis.selection.prompt_links import Links, follow_links, read_links
from warehouse.analysis.selection.read_twice import read_twice
from warehouse.analysis.selection.reference import (
    BySplit,
    by_benchmark_split,
    common_benchmarks,
    in_words,
    listed,
    pick_all,
    pick_one,
    read_all_runs,
    with_scores,
)
from warehouse.analysis.selection.reference_text import parse_where
from warehouse.analysis.selection.rows import row_of_condition
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.analysis.selection.scorers import (
    Scorer,
    scorer_in_words,
    taken_in_words,
)
from warehouse.analysis.selection.scores import PromptScores, read_scores
from warehouse.analysis.selection.select import rows_by_split
from warehouse.analysis.selection.selection import Selection
from warehouse.errors import MisuseError, StatisticsError
from warehouse.store.connection import Store
from warehouse.store.shared_reads import SharedReads, in_blocks
from warehouse.store.sql.query_files import query_text
from warehouse.tables.words import some_of

T = TypeVar("T")
R = TypeVar("R")
#: Benchmarks that a refusal names.
_MOST_NAMED = 8


@dataclass(frozen=True)
class OnBenchmark(Generic[T]):
    """Two models on one benchmark and split."""

    a: Condition  #: the condition of the first.
    b: Condition  #: of the second.
    read: T | MisuseError  #: what was read of them, or why they cannot be compared.


@dataclass(frozen=True)
class OnBenchmarks(Generic[T]):
    """Two models on every benchmark that both have, and on which only one of them is."""

    per_benchmark: tuple[OnBenchmark[T], ...]
    missing: tuple[str, ...]

    def compute(
        self,
        function: Callable[[T], R],
        *,
        all_needed: bool = False,
        refusals: type[MisuseError] | tuple[type[MisuseError], ...] = (
            NotComparable,
            StatisticsError,
        ),
    ) -> tuple[list[R], list[str]]:
        """The results of a function on each, and why the others cannot be compared,
        each reason once.

        Args:
            all_needed: one that cannot be compared is an error.
            refusals: errors that say so; any other is one of the question.
        """
        computed: list[R] = []
        refused: dict[str, list[str]] = {}  # benchmarks by reason
        for both in self.per_benchmark:
            try:
                if isinstance(both.read, MisuseError):
                    raise both.read
                computed.append(function(both.read))
            except refusals as error:
                name = in_words(both.a.benchmark_split)
                if all_needed:
                    raise type(error)(f"{name}: {error}") from None
                refused.setdefault(str(error), []).append(name)
        return computed, [
            f"{some_of(names, _MOST_NAMED)}: {reason}"
            for reason, names in refused.items()
        ]


@dataclass(frozen=True, eq=False)
class ScoredTwice:
    """Two conditions with their scores, links followed, by the metric that each is
    judged by."""

    a: Condition
    b: Condition
    metric_a: Metric
    metric_b: Metric
    scores_a: PromptScores
    scores_b: PromptScores
    labels: tuple[str, str]
    rows: tuple[ScoredCondition, ScoredCondition]  #: what each is a row of.
    scorers: str = ""  #: who else scored the same, in words.


def _without_seeds(condition: Condition) -> Condition:
    """As labels see a row over several seeds: without one of them."""
    if not condition.members:
        return condition
    return Condition(
        condition.key, ({**condition.runs[0], "training_seed": ""},), condition.others
    )


@dataclass(frozen=True)
class TwoModels:
    """Reads two models."""

    store: Store  #: an open store; where it shares reads, many benchmarks are read together.
    a: str  #: reference of the first.
    b: str  #: of the second.
    selection: Selection  #: of runs, metric and clustering; its benchmark where no others are named.
    force: bool  #: also where judge, scale or task version differ.
    #: on two benchmarks whose prompts are linked, in place of one.
    across_links: bool = False
    pair_seeds: bool = False  #: seeds of equal labels go together in both.
    #: scores may be infinite, which tests of signs alone can do with.
    infinite_ok: bool = False
    second_metric: str | None = None  #: of the second, where it has another name there.

    @cached_property
    def _names(self) -> BenchmarkNames:
        return read_names(self.store)

    @cached_property
    def links(self) -> Links:
        """Linked prompts."""
        return read_links(self.store)

    def on_each(
        self, read: Callable[[Condition, Condition], T], benchmarks: Sequence[str] = ()
    ) -> OnBenchmarks[T]:
        """Both models as read on each benchmark (`find`); a MisuseError stands in its
        place."""
        found, missing = self.find(benchmarks)
        runs = {}
        for index, both in enumerate(found):
            runs[index] = list(
                chain.from_iterable(condition.runs for condition in both)
            )
        per_benchmark = tuple(
            self.on_one(read, *found[index]) for index, _ in in_blocks(self.store, runs)
        )
        return OnBenchmarks(per_benchmark, missing)

    def on_one(
        self, read: Callable[[Condition, Condition], T], a: Condition, b: Condition
    ) -> OnBenchmark[T]:
        """Two conditions as read."""
        shared = sorted(set(a.run_ids) & set(b.run_ids))
        if shared:
            return OnBenchmark(
                a, b, NotComparable(f"both references mean run {shared[0]}")
            )
        try:
            return OnBenchmark(a, b, read(a, b))
        except MisuseError as error:
            return OnBenchmark(a, b, error)

    def find(
        self, benchmarks: Sequence[str]
    ) -> tuple[list[tuple[Condition, ...]], tuple[str, ...]]:
        """Both conditions on each benchmark; the benchmarks that only one has.

        Args:
            benchmarks: names; none for that of the selection, or for all that both
                have.

        Raises:
            MisuseError: an unknown or ambiguous reference, a benchmark that one of them
                lacks, or none in common.
        """
        found: list[tuple[Condition, ...]] = []
        missing: list[str] = []
        for name in dict.fromkeys(benchmarks) or [self.selection.benchmark]:
            conditions, lacking = self._find_on(name)
            found += conditions
            missing += lacking
        return found, tuple(missing)

    def _find_on(
        self, name: str | None
    ) -> tuple[list[tuple[Condition, ...]], list[str]]:
        if name is None:
            ids = None
        else:
            ids = find_among(self.store, self._names, name).ids
        where: Sequence[str] = self.selection.where
        if self.selection.some_prompts:
            where = run_conditions(where)
        filters = parse_where(where)
        if isinstance(self.store, SharedReads) and self.store.kept is not None:
            read_all_runs(self.store)
        metric = self.selection.metric
        rules = self.selection.rows
        of_a, of_b = (
            rows_by_split(
                self.store,
                with_scores(by_benchmark_split(self.store, text, ids, filters)),
                metric,
                rules,
            )
            for text in (self.a, self.b)
        )
        if self.across_links:
            return self._find_linked(of_a, of_b)
        splits = common_benchmarks(self.a, of_a, self.b, of_b)
        missing = sorted((of_a.keys() | of_b.keys()) - set(splits))
        found = pick_all(
            self.store,
            splits,
            ((self.a, of_a), (self.b, of_b)),
            latest=self.selection.latest,
        )
        return found, [
            f"{in_words(split)}: only one of them has it" for split in missing
        ]

    def _find_linked(
        self, of_a: BySplit, of_b: BySplit
    ) -> tuple[list[tuple[Condition, ...]], list[str]]:
        """Both conditions on each two benchmarks that links join; where each has one
        benchmark, on these.

        Raises:
            MisuseError: there are none, or an ambiguous reference.
        """
        ends: dict[
            str, set[str]
        ] = {}  # of chains of links, the benchmark itself among them
        for row in self.store.rows(query_text("store", "linked_benchmarks")):
            ends.setdefault(row["benchmark"], {row["benchmark"]}).add(
                row["canonical_benchmark"]
            )
        both = []
        for x in of_a:
            for y in of_b:
                if x[0] != y[0] or (x != y and "" in (x[1], y[1])):
                    both.append((x, y))
        if len(of_a) * len(of_b) > 1:
            both = [
                (x, y)
                for x, y in both
                if ends.get(x[0], {x[0]}) & ends.get(y[0], {y[0]})
            ]
        if self.a == self.b:  # each two once
            both = [(x, y) for x, y in both if x < y]
        if not both:
            lists = "; ".join(
                f"{name} has {listed(list(of))}"
                for name, of in ((self.a, of_a), (self.b, of_b))
            )
            raise MisuseError(
                f"{self.a} and {self.b} have no two linked benchmarks: {lists} "
                "(warehouse fix link A B --by id joins the prompts of two; conditions of "
                "one benchmark need no --across-links, which goes without --benchmark)"
            )
        found: list[tuple[Condition, ...]] = []
        for x, y in both:
            latest = self.selection.latest
            a = pick_one(self.store, of_a[x], self.a, latest=latest)
            b = pick_one(self.store, of_b[y], self.b, latest=latest)
            found.append((a, b))
        return found, []

    def scored(self, a: Condition, b: Condition) -> ScoredTwice:
        """The scores of two conditions by the metric that both have scores of, else the
        first of each.

        Raises:
            NotComparable: one of them has no scored prompt, or they should not be
                compared.
            MisuseError: unknown metric.
        """
        ids = sorted({a.setting("benchmark_id"), b.setting("benchmark_id")})
        metrics = metrics_of(self.store, ids)
        chosen = self.chosen_metrics(a, b)
        if self.second_metric is None:
            by_side = self.scores_by_metric(a, b, chosen)
            labels = (chosen[0].label, chosen[0].label)
        else:
            of_second = choose_metrics(
                metrics, self.second_metric, b.setting("benchmark")
            )
            of_a, _ = self.scores_by_metric(a, b, chosen)
            _, of_b = self.scores_by_metric(a, b, of_second)
            by_side = (of_a, of_b)
            labels = (chosen[0].label, of_second[0].label)
        for condition, scores, label in zip((a, b), by_side, labels, strict=True):
            if not scores:
                raise self._without_scores(condition, label, metrics, (a, b))
        (metric_a, members_a), (metric_b, members_b) = (scores[0] for scores in by_side)
        refuse_incomparable(
            a, b, metric_a, self._as_of_first(metric_a, metric_b), self.force
        )
        row_a, row_b = (
            self.row_of(a, metric_a, members_a),
            self.row_of(b, metric_b, members_b),
        )
        scores_a, scores_b = (self.finite_scores(row) for row in (row_a, row_b))
        label_a, label_b = self.labels(a, b)
        if self.across_links:  # what was recorded is what they are on
            label_a, label_b = (
                label.replace("benchmark_recorded=", "benchmark=")
                for label in (label_a, label_b)
            )
        scorers = self._scorers(metric_a, chosen, (a, b), ids)
        return ScoredTwice(
            a,
            b,
            metric_a,
            metric_b,
            scores_a,
            scores_b,
            (label_a, label_b),
            (row_a, row_b),
            scorers,
        )

    def chosen_metrics(self, a: Condition, b: Condition) -> list[Metric]:
        """The metrics that were named, else the headline metrics, of the benchmark of
        two conditions.

        Raises:
            MisuseError: unknown metric.
        """
        ids = sorted({a.setting("benchmark_id"), b.setting("benchmark_id")})
        metrics = metrics_of(self.store, ids)
        return choose_metrics(metrics, self.selection.metric, a.setting("benchmark"))

    def labels(self, a: Condition, b: Condition) -> list[str]:
        """What sets two conditions apart, in words."""
        return label_conditions(
            self.store, [_without_seeds(condition) for condition in (a, b)]
        )

    def _as_of_first(self, first: Metric, second: Metric) -> Metric:
        """The metric of the second under the name of the first, where somebody said
        that they are one.

        Raises:
            NotComparable: they cannot be.
        """
        if self.second_metric is None:
            return second
        for what, of_first, of_second in (
            ("kind", first.kind, second.kind),
            ("bounds", first.bounds, second.bounds),
            ("direction", first.higher_is_better, second.higher_is_better),
        ):
            if of_first != of_second and None not in (of_first, of_second):
                raise NotComparable(
                    f"{first.label} and {second.label} are not one metric: their "
                    f"{what} differs"
                )
        return replace(second, name=first.name, filter=first.filter)

    def _without_scores(
        self,
        condition: Condition,
        label: str,
        metrics: Sequence[Metric],
        both: tuple[Condition, Condition],
    ) -> NotComparable:
        """The refusal of a condition without a score by a metric, and by which it has
        some."""
        ids = sorted({one.setting("benchmark_id") for one in both})
        scored = scored_metrics(run_metrics_of(self.store, ids), metrics, both)
        common = {other for other, holders in scored.items() if holders == 2} - {label}
        own = scored_metrics(run_metrics_of(self.store, ids), metrics, (condition,))
        if not own:
            return self._without_samples(condition, label, both)
        why = f", but by {some_of(sorted(own))}"
        advice = advise_metric("both have", common)
        alike = _like(label, sorted(own), metrics)
        if alike and not common and self.second_metric is None:
            name = alike[0]
            of_a, of_b = name, label
            if condition is both[1]:
                of_a, of_b = label, name
            for_all = alias_command(name, label, condition.setting("benchmark"))
            advice = (
                "; if these are two names of one metric, this once: --metric "
                f"{shlex.quote(of_a)} --metric {shlex.quote(of_b)}; for every question: "
                f"{for_all}"
            )
        return NotComparable(
            f"{condition.model} has no scored prompt by {label}{why}{advice}"
        )

    def _without_samples(
        self, condition: Condition, label: str, both: tuple[Condition, Condition]
    ) -> NotComparable:
        """The refusal of a condition without any score, and how its published figure
        may be compared."""
        return NotComparable(
            f"{condition.model} has no scored prompt by {label}: what is stored of it "
            f"is a published figure, which cannot be paired{way_out(self, *both)}"
        )

    def _scorers(
        self,
        metric: Metric,
        chosen: Sequence[Metric],
        both: Sequence[Condition],
        ids: Sequence[int],
    ) -> str:
        """Which of several scorers of the same runs is taken, and how the others are;
        empty where there is one."""
        alike = {other.id: other for other in chosen if other.label == metric.label}
        if len(alike) < 2:
            return ""
        runs = set(chain.from_iterable(condition.run_ids for condition in both))
        scored: dict[int, int] = {}
        for row in run_metrics_of(self.store, ids):
            if row["run_id"] in runs and row["metric_id"] in alike:
                key = row["metric_id"]
                scored[key] = max(scored.get(key, 0), row["n_scored"] or 0)
        order = sorted(scored, key=lambda key: (key != metric.id, key))
        found = [
            Scorer(
                scorer_in_words(alike[key].scored_by, alike[key].scorer_kind),
                scored[key],
            )
            for key in order
        ]
        if len({one.name for one in found}) < 2:
            return ""
        benchmark = both[0].setting("benchmark")
        why = "the headline metric"
        return taken_in_words(benchmark, found, why, can_choose=False)

    def finite_scores(self, row: ScoredCondition) -> PromptScores:
        """The scores of a row.

        Raises:
            NotComparable: some are infinite, where only a finite mean will do.
        """
        scores = row.usable or row.infinite
        assert scores is not None
        if scores.has_infinite and not self.infinite_ok:
            raise NotComparable(
                f"{row.condition.model} has {len(scores.infinite_prompts)} infinite "
                "scores, so that no difference of means has an error; paired tests of "
                "signs: warehouse compare"
            )
        return scores

    def row_of(
        self, condition: Condition, metric: Metric, members: Mapping[str, PromptScores]
    ) -> ScoredCondition:
        """The row of a condition, over its seeds and repeats.

        Raises:
            NotComparable: it has no one figure.
        """
        by_key = {own.key: own for own in condition.members or (condition,)}
        entries = [
            ScoredCondition(by_key[key], "", metric, scores, None)
            for key, scores in members.items()
        ]
        rules = self.selection.rows
        if rules is None:
            return entries[0]
        try:
            return row_of_condition(
                self.store,
                condition,
                entries,
                self.clusters(condition, condition),
                rules,
            )
        except MisuseError as error:
            raise NotComparable(str(error)) from None

    def scores_by_metric(
        self, a: Condition, b: Condition, metrics: Sequence[Metric]
    ) -> tuple[list[tuple[Metric, dict[str, PromptScores]]], ...]:
        """The metrics of each with its scores, of each of its seeds; only the first
        that both have, if there is one."""
        members = [(0, own) for own in a.members or (a,)]
        members += [(1, own) for own in b.members or (b,)]
        groups = {}
        for number, (_, member) in enumerate(members):
            for run in member.run_ids:
                groups[run] = number
        with_repeats = self.selection.rows is not None
        found: tuple[list[tuple[Metric, dict[str, PromptScores]]], ...] = ([], [])
        with_mean = {metric.id: metric for metric in metrics if metric.link != "none"}
        for alike in of_one(with_mean.values()):
            usable: dict[int, dict[str, PromptScores]] = {}
            by: dict[int, Metric] = {}
            for metric in alike:
                read = read_scores(
                    self.store,
                    groups,
                    [metric.id],
                    links=self.links,
                    with_repeats=with_repeats,
                )
                for number, own in sorted(read.items()):
                    side, condition = members[number]
                    if own.n or own.has_infinite:
                        usable.setdefault(side, {}).setdefault(condition.key, own)
                        by.setdefault(side, metric)
            if len(usable) == 2:
                return [(by[0], usable[0])], [(by[1], usable[1])]
            for side, scores in usable.items():
                found[side].append((by[side], scores))
        return found

    def clusters(self, a: Condition, b: Condition) -> ClusterMap:
        """The clusters of the prompts of two conditions, links followed.

        Raises:
            MisuseError: unknown clustering.
        """
        ids = sorted({a.setting("benchmark_id"), b.setting("benchmark_id")})
        return self._clusters(
            ids, find_among(self.store, self._names, a.setting("benchmark")).clusterings
        )

    def _clusters(self, ids: Sequence[int], defaults: Sequence[int]) -> ClusterMap:
        return clusters_under_links(
            cluster_map(self.store, ids, defaults, self.selection.cluster), self.links
        )

    def pair(self, a: Condition, b: Condition) -> Pair:
        """Two conditions on the prompts that both have.

        Raises:
            NotComparable: they have nothing in common, or should not be compared.
            MisuseError: unknown metric or clustering.
        """
        self._refuse_stopped(a, b)
        both = self.scored(a, b)
        scores_a, scores_b = both.scores_a, both.scores_b
        if scores_a.has_infinite or scores_b.has_infinite:
            scores_a, scores_b = scores_a.with_infinite, scores_b.with_infinite
        only = self._only_prompts(a, b)
        if only is not None:
            scores_a = scores_of(scores_a, only.ids)
            scores_b = scores_of(scores_b, only.ids)
        clusters = self.clusters(a, b)
        try:
            pair = pair_up(
                a,
                b,
                both.metric_a,
                scores_a,
                scores_b,
                clusters,
                (self.a, self.b),
            )
        except NotComparable as error:
            prompts = (scores_a.prompts.tolist(), scores_b.prompts.tolist())
            why = why_none_in_common(self.store, a, b, prompts)
            said = str(error)
            if "fix link" in why:  # by which it is known which joins them
                said = said.partition(" (`warehouse fix link")[0]
            raise NotComparable(f"{said}{why}") from None
        notes = dict.fromkeys(chain.from_iterable(row.row_notes for row in both.rows))
        if only is not None:
            notes[only.note] = None
        if both.scorers:
            notes[both.scorers] = None
        if both.metric_a.label != both.metric_b.label:
            notes[
                f"b by {both.metric_b.label}, which was said to be "
                f"{both.metric_a.label}"
            ] = None
        by_name = ((a.model, both.metric_a), (b.model, both.metric_b))
        notes |= dict.fromkeys(names_notes(by_name))
        notes |= dict.fromkeys(read_twice(self.store, (*a.run_ids, *b.run_ids)))
        flags = dict.fromkeys(chain.from_iterable(row.row_flags for row in both.rows))
        pair = replace(
            pair,
            labels=both.labels,
            note="; ".join(filter(None, (pair.note, *notes))),
            row_flags=tuple(flags),
            trained=(both.rows[0].is_trained, both.rows[1].is_trained),
            pair_seeds=self.pair_seeds,
            policy=self._policy(both),
        )
        if pair.over_seeds or pair.has_infinite or only is not None:
            return pair
        return replace(pair, plans=self._plans(pair))

    def refuse_policy(self, condition: Condition, metric: Metric, what: str) -> None:
        """Refuse a benchmark that is under a policy, for an answer that knows none.

        Args:
            condition: on it.
            metric: by which it is judged.
            what: the answer, with what to leave out: ``--unpaired``.

        Raises:
            NotComparable: it is.
        """
        name = condition.setting("benchmark")
        ids = [(condition.setting("benchmark_id"), metric.id)]
        stored = policy_in_force(self.store.under(None), ids, name)
        if stored.text:
            own = shlex.quote(name)
            raise NotComparable(
                f"{name} is under policy {stored.text}, of which {what} knows nothing: "
                f"leave it out, or: warehouse fix policy {own} --undo"
            )

    def _policy(self, both: ScoredTwice) -> PolicyInForce:
        """What unscored samples count as on both sides.

        Raises:
            NotComparable: not the same, or a run cannot be read so.
        """
        sides = ((both.a, both.metric_a), (both.b, both.metric_b))
        ids = [(one.setting("benchmark_id"), metric.id) for one, metric in sides]
        runs = [(run, metric.id) for one, metric in sides for run in one.runs]
        try:
            in_force = policy_in_force(self.store, ids, both.a.setting("benchmark"))
            if in_force.policy is not None:
                require_readable(self.store, in_force.policy, runs)
        except MisuseError as error:
            raise NotComparable(str(error)) from None
        return in_force

    def _only_prompts(self, a: Condition, b: Condition) -> OnlyPrompts | None:
        """The prompts that conditions choose, links followed; None where none is on
        prompts.

        Raises:
            NotComparable: no prompt of the benchmark is so.
        """
        if not self.selection.some_prompts:
            return None
        name = a.setting("benchmark")
        ids = sorted({a.setting("benchmark_id"), b.setting("benchmark_id")})
        where = self.selection.where
        try:
            found = only_prompts(self.store, ids, name, where)
        except MisuseError as error:
            raise NotComparable(str(error)) from None
        if found is None:
            return None
        return replace(found, ids=follow_links(found.ids, self.links))

    def _refuse_stopped(self, a: Condition, b: Condition) -> None:
        """Refuse runs that were ended early because of their scores: no test with a
        fixed n holds."""
        stopped = read_stopped(self.store, (a, b))
        for condition in (a, b):
            if condition.key in stopped:
                raise NotComparable(
                    f"{condition.model} was stopped early by "
                    f"{stopped[condition.key].rule}, so that tests and intervals for a "
                    "fixed number of prompts do not hold; see: warehouse gate "
                    "--sequential"
                )

    def _plans(self, pair: Pair) -> PossiblePlans | None:
        """The plans that one of a pair may have been asked."""
        if pair.is_ratio:
            return None
        benchmark = find_among(self.store, self._names, pair.a.setting("benchmark"))
        label = pair.metric.label
        scores = ((pair.a, label, pair.scores_a), (pair.b, label, pair.scores_b))
        plans = possible_plans(self.store, benchmark, scores)
        if plans is None:
            return None
        return PossiblePlans(
            plans, self.links, self._clusters(benchmark.ids, benchmark.clusterings)
        )


def _like(label: str, others: Sequence[str], metrics: Sequence[Metric]) -> list[str]:
    """Those labels whose metric may be that of a label under another name."""
    shown = [metric for metric in metrics if metric.label == label]
    return [
        other
        for other in others
        if any(
            metric.label == other and may_be_one(metric, shown[0]) for metric in metrics
        )
    ]


#: Characters of a text where all are wanted: as many as engines count.
ALL = 2**31 - 1
