"""The data of a leaderboard and of a comparison of all pairs: conditions with their
scores, in groups of what can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Benchmark, BenchmarkFacts, Metric
from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.conditions import Condition, Run, label_conditions
from warehouse.analysis.selection.hooks import StoppedRun, StoredPlans, read_stopped
from warehouse.analysis.selection.other_metrics import (
    OtherMetric,
    advise_names,
    others_among,
)
from warehouse.analysis.selection.policies import PolicyInForce
from warehouse.analysis.selection.published_figures import PublishedFigure
from warehouse.analysis.selection.scorers import others_in_words, place_of
from warehouse.analysis.selection.scores import PromptScores, RunFigures
from warehouse.store.connection import Store

#: Flags that keep a row from being ranked with rows that lack them.
PARTIAL = ("subset", "truncated", "failed")

#: What rows agree in that are ranked together, and the words for each part of it.
Group = tuple[str, ...]
_PARTS = (
    "split",
    "task version",
    "metric",
    "unit",
    "scale",
    "scorer",
    "judge",
    "settings of the scorer",
)
#: Those whose values are for programs.
_CODED = ("scale", "settings of the scorer")
#: The same as they are told.
_TOLD = (
    "split",
    "task version",
    "metric",
    "unit",
    "scale",
    "judge or scorer",
    "settings of the scorer",
)


@dataclass(frozen=True)
class BenchmarkCoverage:
    """The prompts that a complete run of a group of rows covers."""

    size: int  #: prompts.
    prompts: bytes  #: the ids that most complete runs saw, as bytes; empty if none is complete.
    is_declared: bool = False  #: a source says how many prompts there are.

    def shares_none(self, seen: NDArray[np.int64]) -> bool:
        """True where nobody says how many prompts there are, and these are all others
        than those of complete runs: they are a part of nothing that is known."""
        if self.is_declared or not self.prompts or not len(seen):
            return False
        whole = np.frombuffer(self.prompts, dtype=seen.dtype)
        return not np.isin(seen, whole).any()


@dataclass(frozen=True)
class ScoredCondition:
    """A condition with everything that its row is made of."""

    condition: Condition
    label: str
    metric: Metric
    scores: PromptScores | None
    published: PublishedFigure | None
    #: of a run that was ended early because of its scores; then no mean of them is a
    #: figure with an error.
    stopped: StoppedRun | None = None
    row_flags: tuple[str, ...] = ()  #: of its seeds, checkpoints and repeats.
    row_notes: tuple[str, ...] = ()  #: what was left out, or did not look like repeats.
    n_checkpoints: int = 1  #: places in training that its model has.
    is_trained: bool = False  #: a training seed is known, so that another would have given another figure.
    no_place: str = ""  #: why it has no place beside others; empty where it has.
    #: of harness, libraries and drivers, where those of its runs differ.
    versions: str = ""

    @cached_property
    def group(self) -> Group:
        """Rows are ranked among those that agree in this."""
        return (
            self.condition.setting("split"),
            self.condition.setting("task_version") or "",
            self.metric.label,
            *self.metric.scale,
        )

    @property
    def usable(self) -> PromptScores | None:
        """The scores, if a finite mean of them is the figure."""
        if self.scores is None:
            return None
        has_mean = self.scores.n and self.metric.link != "none"
        if self.infinite is not None:
            return None
        if has_mean and self.stopped is None:
            return self.scores
        return None

    @property
    def infinite(self) -> PromptScores | None:
        """The scores, where one of them is infinite: then the mean is, and has no
        error."""
        if (
            self.scores is None
            or not self.scores.has_infinite
            or self.stopped is not None
        ):
            return None
        if self.metric.link != "none":
            return self.scores
        return None

    @property
    def why_none(self) -> str:
        """Why no prompt has a score that counts, where none has."""
        scores = self.scores
        weightless = (
            scores is not None and not scores.n and scores.n_samples > scores.n_unscored
        )
        if weightless:
            return "all weights are 0"
        return "no prompt was scored"

    @property
    def is_cut(self) -> bool:
        """True if a published figure covers more than the samples, which a truncated
        run lacks."""
        if self.published is None or self.usable is None:
            return False
        truncated = [run["status"] == "truncated" for run in self.condition.runs]
        if self.published.n:
            return any(truncated) and len(self.usable.seen) < self.published.n
        return all(truncated)


def list_differences(groups: Collection[Group]) -> list[str]:
    """In what groups of rows differ, with the values that people know; empty for one
    group."""
    differences = []
    told = [_told(group) for group in groups]
    for number, name in enumerate(_TOLD):
        several = sorted({values[number] for values in told})
        if len(several) > 1:
            if name in _CODED:
                given = []
            else:
                given = [value or "none" for value in several]
            label = name
            if given:
                label = f"{name} ({', '.join(given)})"
            differences.append(label)
    return differences


def _told(group: Group) -> Group:
    """The setting that is told of a group: a judge and the scorer that it is are
    one."""
    parts = dict(zip(_PARTS, group, strict=False))
    parts["judge or scorer"] = (
        parts.pop("judge", "") or parts.get("scorer", "") or "a comparison"
    )
    return tuple(parts.get(name, "") for name in _TOLD)


def group_differences(groups: Collection[Group]) -> dict[Group, str]:
    """In what each group of rows differs from the others, in values that people know;
    empty for one group."""
    told = {group: _told(group) for group in groups}
    several = []
    for number, name in enumerate(_TOLD):
        if len({values[number] for values in told.values()}) > 1 and name not in _CODED:
            several.append(number)
    words = {}
    for group, values in told.items():
        words[group] = ", ".join(
            f"{_TOLD[number]} {values[number] or 'none'}" for number in several
        )
    return words


def list_editions(entries: Iterable[ScoredCondition]) -> str:
    """The versions of a benchmark that entries are of, with what chooses one, for a
    note; empty if there is only one."""
    versions = {entry.condition.setting("benchmark_version") for entry in entries} - {
        None,
        "",
    }
    editions = (
        f"the benchmark's version ({', '.join(sorted(versions))}): --where "
        "benchmark_version=..."
    )
    if len(versions) > 1:
        return editions
    return ""


@dataclass(frozen=True)
class BenchmarkScores:
    """The entries of one benchmark."""

    benchmark: Benchmark
    #: those that are shown; several only where benchmarks that an alias joins, judges
    #: or scales differ.
    metrics: tuple[Metric, ...]
    entries: tuple[ScoredCondition, ...]
    clusters: ClusterMap  #: for the errors.
    #: runs on a part of the benchmark stand among complete ones.
    subset_ok: bool = False
    plans: StoredPlans | None = None  #: that entries may be on; None for none.
    #: all that were asked for, also those without figures.
    conditions: tuple[Condition, ...] = ()
    facts: BenchmarkFacts = BenchmarkFacts()  #: what the store says of the benchmark.
    #: of the conditions behind the entries, if rows over several.
    shown_keys: frozenset[str] = frozenset()
    #: what every answer that counts all entries has to say.
    notes: tuple[str, ...] = ()
    is_part: bool = False  #: only some prompts are meant, of which runs cover all.
    policy: PolicyInForce = PolicyInForce()  #: what unscored samples count as.
    #: many samples have no score, and policy ``attempts`` says what they count as.
    can_read_attempts: bool = False
    #: what several parts of a page ask of these scores (`LastPairs`).
    worked_out: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def metric(self) -> Metric:
        """The first of the metrics."""
        return self.metrics[0]

    @cached_property
    def coverages(self) -> dict[Group, BenchmarkCoverage]:
        """The prompts that a complete run covers, by group."""
        coverages = {}
        for group, members in self.groups().items():
            coverages[group] = coverage_of(members, is_part=self.is_part)
        return coverages

    @cached_property
    def others(self) -> tuple[OtherMetric, ...]:
        """The metrics that are not shown."""
        shown = self.shown_keys or {entry.condition.key for entry in self.entries}
        return others_among(
            self.facts.run_metrics,
            self.facts.metrics,
            self.conditions,
            shown,
            self.metric.label,
        )

    @property
    def names_advice(self) -> str:
        """What to do about conditions that may have the metric under another name;
        empty where there are none."""
        return advise_names(
            self.others, self.facts.metrics, self.metric, self.benchmark.name
        )

    @property
    def runs(self) -> list[Run]:
        """The runs of all entries."""
        return list(chain.from_iterable(entry.condition.runs for entry in self.entries))

    def groups(self) -> dict[Group, list[ScoredCondition]]:
        """Entries that can be compared, in the order of their first."""
        return group_entries(self.entries)

    def largest_group(self) -> tuple[list[ScoredCondition], list[str]]:
        """The headline scorer's entries with usable scores that can stand side by side,
        and notes on the others."""
        usable = [
            [entry for entry in members if entry.usable is not None]
            for members in self.groups().values()
        ]
        groups = [members for members in usable if members]
        groups.sort(key=lambda members: headline_first(members[0].metric, len(members)))
        largest, *others = groups or [[]]
        n = sum(map(len, others))
        note = (
            f"{n} models of another split, task version, metric or scorer are left out "
            "(--where chooses)"
        )
        scorers = scorers_in_words([*largest, *chain.from_iterable(others)])
        told = []
        if n:
            told = [note]
        if scorers:
            extra = [scorers]
        else:
            extra = []
        return largest, [*told, *extra]


#: Entries below which a group is no table of models.
_FEWEST = 3


def headline_first(metric: Metric, n_entries: int) -> tuple[bool, int, int, str]:
    """To order groups: those of a few last, then by the kind of whoever scored, the
    largest, the name of the scorer."""
    return (
        n_entries < _FEWEST,
        place_of(metric.scorer_kind),
        -n_entries,
        metric.scored_by,
    )


def group_entries(
    entries: Iterable[ScoredCondition],
) -> dict[Group, list[ScoredCondition]]:
    """Entries by what must agree for them to be compared, those of the headline scorer
    first."""
    groups: dict[Group, list[ScoredCondition]] = {}
    for entry in entries:
        groups.setdefault(entry.group, []).append(entry)
    first = {group: members[0].metric for group, members in groups.items()}
    order = sorted(
        groups,
        key=lambda group: (place_of(first[group].scorer_kind), first[group].scored_by),
    )
    return {group: groups[group] for group in order}


def notes_of_row(entry: ScoredCondition) -> list[str]:
    """Notes of a row on its seeds, checkpoints, repeats and versions, each with the
    name of the model."""
    model = entry.condition.model
    name = model
    if entry.label:
        name = f"{model} ({entry.label})"
    return [
        note if note.startswith(f"{model}:") else f"{name}: {note}"
        for note in entry.row_notes
    ]


def scorers_in_words(entries: Iterable[ScoredCondition]) -> str:
    """``by gpt-4o; also scored by people``, the headline's scorer first; empty where
    one scored all."""
    return others_in_words(
        [
            (place_of(entry.metric.scorer_kind), entry.metric.scored_by)
            for entry in entries
        ]
    )


def coverage_flags(entry: ScoredCondition, whole: BenchmarkCoverage) -> tuple[str, ...]:
    """Flags of what an entry covers: ``truncated``, ``failed``, ``subset``,
    ``other_prompts``, ``unscored``."""
    states = {run["status"] for run in entry.condition.runs}
    flags = [state for state in ("truncated", "failed") if state in states]
    if entry.scores is not None:
        seen = entry.scores.seen
        is_apart = whole.shares_none(seen)
        if len(seen) < whole.size and not is_apart:
            flags += ["subset"]
        is_other = len(seen) == whole.size and seen.tobytes() != whole.prompts
        if is_other or is_apart:
            flags += ["other_prompts"]
        if entry.scores.n_unscored:
            flags += ["unscored"]
    elif entry.published is not None and 0 < entry.published.n < whole.size:
        flags += ["subset"]
    return tuple(flags)


def is_partial(flags: Sequence[str]) -> bool:
    """True if a row covers a part of its benchmark only."""
    return any(flag in PARTIAL for flag in flags)


def read_entries(
    store: Store,
    conditions: Sequence[Condition],
    metrics: Sequence[Metric],
    *,
    with_repeats: bool = False,
) -> list[ScoredCondition]:
    """A condition has one entry for each metric that it has figures of.

    Args:
        with_repeats: also the scores of each run of a condition that has several.
    """
    return read_all_entries(store, [(conditions, metrics)], with_repeats=with_repeats)[
        0
    ]


def read_all_entries(
    store: Store,
    groups: Sequence[tuple[Sequence[Condition], Sequence[Metric]]],
    *,
    with_repeats: bool = False,
) -> list[list[ScoredCondition]]:
    """`read_entries` of several benchmarks, read together."""
    numbered = []
    for number, (conditions, _) in enumerate(groups):
        numbered += [(number, condition) for condition in conditions]
    runs = {}
    for index, (_, condition) in enumerate(numbered):
        for run in condition.run_ids:
            runs[run] = index
    all_metrics = chain.from_iterable(metrics for _, metrics in groups)
    metric_ids = {metric.id for metric in all_metrics}
    figures = RunFigures(store, runs, metric_ids)
    by_benchmark: list[list[_Member]] = [[] for _ in groups]
    for metric_id in sorted(metric_ids):
        owned = [
            {metric.benchmark_id: metric for metric in own if metric.id == metric_id}
            for _, own in groups
        ]
        scored, published = (
            figures.scores(metric_id, with_repeats=with_repeats),
            figures.published(metric_id),
        )
        for index in sorted(scored.keys() | published.keys()):
            number, condition = numbered[index]
            if own := owned[number]:
                metric = own.get(condition.setting("benchmark_id")) or next(
                    iter(own.values())
                )
                by_benchmark[number].append(
                    (index, metric, scored.get(index), published.get(index))
                )
    stopped = read_stopped(store, [condition for _, condition in numbered])
    entries: list[list[ScoredCondition]] = []
    for members in map(_by_own_name, by_benchmark):
        indices = sorted({index for index, *_ in members})
        chosen = {index: numbered[index][1] for index in indices}
        labels = dict(
            zip(chosen, label_conditions(store, [*chosen.values()]), strict=True)
        )
        entries.append(
            [
                ScoredCondition(
                    chosen[index],
                    labels[index],
                    metric,
                    scores,
                    figure,
                    stopped.get(chosen[index].key),
                )
                for index, metric, scores, figure in members
            ]
        )
    return entries


#: A condition by its number, and what it has by a metric.
_Member = tuple[int, Metric, PromptScores | None, PublishedFigure | None]


def _by_own_name(members: Sequence[_Member]) -> list[_Member]:
    """What conditions have by their metrics; of one that has a metric by its own name
    and by another one, what it has by its own."""
    own = {
        (index, metric.label) for index, metric, *_ in members if not metric.recorded
    }
    return [
        member
        for member in members
        if not member[1].recorded or (member[0], member[1].label) not in own
    ]


def coverage_of(
    members: Sequence[ScoredCondition], *, is_part: bool = False
) -> BenchmarkCoverage:
    """The whole benchmark: as declared, else the most that a run covers.

    Args:
        members: rows of a group.
        is_part: scores are those of some prompts, of which no size is declared.
    """
    declared = []
    if is_part:
        counted: Sequence[ScoredCondition] = ()
    else:
        counted = members
    for entry in counted:
        for run in entry.condition.runs:
            declared.append(run["n_benchmark"] or 0)
    seen = [entry.scores.seen for entry in members if entry.scores is not None]
    size = max([*declared, *map(len, seen)], default=0)
    is_declared = any(declared)
    sets = Counter(prompts.tobytes() for prompts in seen if len(prompts) == size)
    if sets:
        commonest = sets.most_common(1)[0][0]
    else:
        commonest = b""
    return BenchmarkCoverage(size, commonest, is_declared)
