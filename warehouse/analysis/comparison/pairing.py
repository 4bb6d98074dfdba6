"""Two conditions on one benchmark with the prompts that both have a score of, and what
may not be paired."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.hooks import StoredPlans
from warehouse.analysis.selection.policies import PolicyInForce, one_policy
from warehouse.analysis.selection.prompt_links import Links
from warehouse.analysis.selection.score_ranges import are_mixed
from warehouse.analysis.selection.scores import PromptScores, unscored_flags
from warehouse.errors import MisuseError
from warehouse.stats.core.inputs import is_constant
from warehouse.stats.core.sample import find_link
from warehouse.tables.words import MIXED_SCALES

if TYPE_CHECKING:
    from warehouse.stats import PairedDifference

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


class NotComparable(MisuseError):
    """Two runs that should not be compared; ``--force`` overrides where that can be."""


@dataclass(frozen=True, eq=False)
class PossiblePlans:
    """Plans that one of two conditions may have been asked."""

    of_benchmark: StoredPlans  #: all of the benchmark that fit by size.
    links: Links  #: that the prompts of the scores were put under.
    clusters: ClusterMap  #: of the whole benchmark.


@dataclass(frozen=True)
class Pair:
    """Two conditions on one benchmark and split, and the prompts that both have a score
    of."""

    a: Condition  #: the first condition.
    b: Condition  #: the second.
    metric: Metric  #: that both are judged by.
    scores_a: PromptScores  #: all scores of the first.
    scores_b: PromptScores  #: all scores of the second.
    prompts: NDArray[np.int64]  #: ids of the common prompts, ascending, shape (n,).
    of_a: NDArray[np.intp]  #: place of each in ``scores_a``.
    of_b: NDArray[np.intp]  #: place of each in ``scores_b``.
    #: cluster of each, below 0 for one of its own; None without clusters.
    clusters: NDArray[np.int64] | None
    note: str = ""  #: what a reader must know of the clusters, empty for nothing.
    labels: tuple[str, str] = ("", "")  #: what tells either condition from the other.
    #: that one of them may have been asked; None for none.
    plans: PossiblePlans | None = None
    row_flags: tuple[str, ...] = ()  #: of the seeds, checkpoints and repeats of both.
    #: whether each could have had another training seed.
    trained: tuple[bool, bool] = (
        False,
        False,
    )
    pair_seeds: bool = False  #: seeds of equal labels go together in both.
    policy: PolicyInForce = PolicyInForce()  #: what unscored samples count as.

    @property
    def has_infinite(self) -> bool:
        """True if a score of either is infinite."""
        return self.scores_a.has_infinite or self.scores_b.has_infinite

    @property
    def over_seeds(self) -> bool:
        """True if either is a mean over several training seeds."""
        return self.scores_a.seeds is not None or self.scores_b.seeds is not None

    @property
    def n(self) -> int:
        """Common prompts."""
        return len(self.prompts)

    @property
    def unscored_flags(self) -> tuple[str, ...]:
        """``many_unscored`` where either lacks many scores."""
        a, b = self.scores_a, self.scores_b
        return unscored_flags(a.n_unscored, a.n_samples) or unscored_flags(
            b.n_unscored, b.n_samples
        )

    @property
    def scale_flags(self) -> tuple[str, ...]:
        """``mixed_scales`` where scores look like shares of 1 here, like per cent
        there."""
        is_mixed = (
            not self.has_infinite
            and self.metric.link == "identity"
            and are_mixed(scores.spans for _, _, scores in self.scored)
        )
        return (MIXED_SCALES,) * is_mixed

    @property
    def benchmark(self) -> str:
        """Name of the benchmark; of two that are linked both."""
        return " / ".join(
            dict.fromkeys((self.a.benchmark_split[0], self.b.benchmark_split[0]))
        )

    @property
    def split(self) -> str:
        """The part of it; of two benchmarks both, where they differ."""
        return " / ".join(
            dict.fromkeys((self.a.benchmark_split[1], self.b.benchmark_split[1]))
        )

    @property
    def is_ratio(self) -> bool:
        """The figure is no plain mean of the prompts: weights differ, or there is a
        link."""
        weights = (self.scores_a.weights[self.of_a], self.scores_b.weights[self.of_b])
        return self.metric.link != "identity" or not all(map(is_constant, weights))

    @property
    def is_zero_one(self) -> bool:
        """Every common prompt has one draw in both, 0 or 1."""
        sides = ((self.scores_a, self.of_a), (self.scores_b, self.of_b))
        return all(
            bool(np.all(side.zero_one[rows]) and np.all(side.n_draws[rows] == 1))
            for side, rows in sides
        )

    @property
    def filled(self) -> tuple[tuple[str, int, int], ...]:
        """Of both models the name, samples that count as wrong by a policy, and all."""
        a, b = self.scores_a, self.scores_b
        return (
            (self.a.model, a.n_filled, a.n_samples),
            (self.b.model, b.n_filled, b.n_samples),
        )

    @property
    def scored(self) -> tuple[tuple[str, Metric, PromptScores], ...]:
        """Benchmark, metric and scores of each."""
        return tuple(
            (self.a.benchmark_split[0], self.metric, scores)
            for scores in (self.scores_a, self.scores_b)
        )

    @property
    def n_draws(self) -> tuple[int, int]:
        """Generations of each on the common prompts."""
        return (
            int(self.scores_a.n_draws[self.of_a].sum()),
            int(self.scores_b.n_draws[self.of_b].sum()),
        )

    @cached_property
    def values(self) -> tuple[Floats, Floats]:
        """One number per common prompt of each, whose mean is the reported figure."""
        from warehouse.stats.paired.paired import (
            figure_values,
        )  # only where pairs are formed

        link = find_link(self.metric.link)
        a, b = (figure_values(scores, weights, link) for scores, weights in self.sides)
        return a, b

    @property
    def sides(self) -> tuple[tuple[Floats, Floats], ...]:
        """Scores and weights of each on the common prompts."""
        sides = ((self.scores_a, self.of_a), (self.scores_b, self.of_b))
        return tuple((side.values[rows], side.weights[rows]) for side, rows in sides)

    def difference(
        self, level: float, *, seed: int = 0, turned: bool = False
    ) -> PairedDifference:
        """The paired difference, prompts sampled.

        Args:
            level: nominal coverage of its interval.
            seed: of the bootstrap of scores without bounds.
            turned: second minus first.

        Raises:
            StatisticsError: ``level`` or ``seed`` out of range.
        """
        of_one = partial(self._of_one_seed, seed=seed)
        if self.over_seeds:  # several seeds have a spread: nothing is drawn
            return self.seed_difference(level, turned=turned)
        return of_one(level, turned=turned)

    def _of_one_seed(
        self, level: float, *, seed: int, turned: bool
    ) -> PairedDifference:
        """`difference` where neither is a mean over seeds."""
        from warehouse.stats import paired_difference  # only where pairs are formed

        if turned:
            (a, weights_a), (b, weights_b) = self.sides[::-1]
        else:
            (a, weights_a), (b, weights_b) = self.sides
        return paired_difference(
            a,
            b,
            clusters=self.clusters,
            level=level,
            weights_a=weights_a,
            weights_b=weights_b,
            link=self.metric.link,
            bounds=self.metric.bounds_of(min(a.min(), b.min()), max(a.max(), b.max())),
            seed=seed,
        )

    def seed_difference(
        self, level: float, *, turned: bool = False, estimand: str = "prompts_sampled"
    ) -> PairedDifference:
        """The difference over training seeds, of which others would have given other
        figures.

        Args:
            level: nominal coverage of its interval.
            turned: second minus first.
            estimand: ``prompts_sampled``, or ``prompts_fixed``: other seeds alone.

        Raises:
            StatisticsError: ``level`` out of range.
        """
        from warehouse.stats import (
            PairedDifference,
            difference_over_paired_seeds,
            difference_over_seeds,
        )

        sides = ((self.scores_a, self.of_a), (self.scores_b, self.of_b))
        weights = (self.sides[0][1] + self.sides[1][1]) / 2
        is_weighted = not is_constant(weights) and self.metric.link == "identity"
        cells = [
            cells_of_seeds(scores, rows, self.metric.link) for scores, rows in sides
        ]
        trained = list(self.trained)
        if turned:
            cells, trained = cells[::-1], trained[::-1]
        bounds = None
        if self.metric.link == "identity":
            bounds = self.metric.bounds_of(*_range(cells))
        how: dict[str, Any] = {
            "clusters": self.clusters,
            "weights": weights if is_weighted else None,
            "bounds": bounds,
            "level": level,
            "estimand": estimand,
        }
        shared = self.shared_seeds
        if len(shared) > 1:
            places = []
            for scores, _ in sides:
                places.append([_labels(scores).index(name) for name in shared])
            a, b = (
                own[at]
                for own, at in zip(
                    cells, places[::-1] if turned else places, strict=True
                )
            )
            found = difference_over_paired_seeds(a, b, **how)
        else:
            found = difference_over_seeds(
                *cells, fixed_a=not trained[0], fixed_b=not trained[1], **how
            )
        error = found.standard_error
        return PairedDifference.of(
            found,
            statistic=found.difference / error if error else None,
            degrees_of_freedom=found.df_prompts,
            draws=found.reach,
        )

    @property
    def shared_seeds(self) -> list[str]:
        """Labels of the seeds that go together; empty where nobody says so."""
        if not self.pair_seeds:
            return []
        return [
            name for name in _labels(self.scores_a) if name in _labels(self.scores_b)
        ]

    @property
    def differences(self) -> Floats:
        """First minus second, per common prompt."""
        return self.values[0] - self.values[1]

    @property
    def score_range(self) -> float | None:
        """Largest difference that two scores can have; None where the figure is no
        plain mean, or scores have no bounds."""
        if self.is_ratio:
            return None
        return self.figure_range

    @property
    def figure_range(self) -> float | None:
        """Largest difference of two figures, which weighted means have too; None behind
        a link, or without bounds."""
        low, high = self.metric.bounds or (None, None)
        if self.metric.link != "identity" or low is None or high is None:
            return None
        return high - low

    @property
    def units(self) -> NDArray[np.int64]:
        """The independent units: the cluster of each common prompt, else the prompt
        (below 0)."""
        if self.clusters is None:
            return -1 - self.prompts
        return self.clusters


def _labels(scores: PromptScores) -> list[str]:
    if scores.seeds is None:
        return []
    return [*scores.seeds.labels]


def cells_of_seeds(scores: PromptScores, rows: NDArray[np.intp], link: str) -> Floats:
    """The cells of one side on the common prompts, on the scale of the figure where
    that is behind a link."""
    from warehouse.stats.core.sample import linearise_figure

    if scores.seeds is None:
        cells = scores.values[None, rows]
    else:
        cells = scores.seeds.at(rows)
    if link == "identity":
        return cells
    return np.array(
        [linearise_figure(own, scores.weights[rows], find_link(link)) for own in cells]
    )


def _range(cells: Sequence[Floats]) -> tuple[float, float]:
    """Smallest and largest score."""
    return min(float(np.nanmin(own)) for own in cells), max(
        float(np.nanmax(own)) for own in cells
    )


def pair_up(
    a: Condition,
    b: Condition,
    metric: Metric,
    scores_a: PromptScores,
    scores_b: PromptScores,
    clusters: ClusterMap,
    references: tuple[str, str] | None = None,
) -> Pair:
    """Two conditions whose scores are read, with links followed, on the prompts that
    both have.

    Args:
        references: what they were called by whoever asked; None: their models.

    Raises:
        NotComparable: there is none.
    """
    common, of_a, of_b = _common(scores_a.prompts, scores_b.prompts)
    if not len(common):
        names = [c.benchmark_split[0] for c in (a, b)]
        # of one benchmark without its name: what holds on several is said once
        link = f"warehouse fix link {shlex.join(names)} --by id"
        if names[0] == names[1]:
            link = "warehouse fix link BENCHMARK BENCHMARK"
        called = references or (a.model, b.model)
        call = shlex.join(["warehouse", "compare", *called, "--unpaired"])
        raise NotComparable(
            f"no prompt in common: {a.model} has {scores_a.n} scored prompts, "
            f"{b.model} has {scores_b.n}, none of them the same (`{link}` joins equal "
            f"prompts; `{call}` compares them all the same)"
        )
    labels = clusters.labels(common)
    return Pair(
        a, b, metric, scores_a, scores_b, common, of_a, of_b, labels, clusters.note
    )


def _common(a: Ids, b: Ids) -> tuple[Ids, Ids, Ids]:
    """The prompts of both, ascending, and the position of each in either; without a
    sort where they are the same."""
    if np.array_equal(a, b):
        return a, (positions := np.arange(len(a))), positions
    return np.intersect1d(a, b, assume_unique=True, return_indices=True)


def refuse_incomparable(
    a: Condition, b: Condition, metric_a: Metric, metric_b: Metric, force: bool
) -> None:
    """Refuse what differs in scale, judge, metric or version, unless forced
    (NotComparable: names what differs)."""
    parts = ("unit", "link", "scorer", "judge model", "scorer settings")
    differ = [
        f"{part} {scale_a or 'none'!r} against {scale_b or 'none'!r}"
        for part, scale_a, scale_b in zip(
            parts, metric_a.scale, metric_b.scale, strict=True
        )
        if scale_a != scale_b
    ]
    versions = (a.setting("task_version"), b.setting("task_version"))
    # else they mean nothing
    if versions[0] != versions[1] and a.benchmark_split[0] == b.benchmark_split[0]:
        differ.append(
            f"task version {versions[0] or 'none'!r} against {versions[1] or 'none'!r}"
        )
    editions = (a.setting("benchmark_version"), b.setting("benchmark_version"))
    if (
        all(editions)
        and editions[0] != editions[1]
        and a.benchmark_split[0] == b.benchmark_split[0]
    ):
        differ.append(f"benchmark version {editions[0]!r} against {editions[1]!r}")
    if metric_a.label != metric_b.label:
        differ.append(f"metric {metric_a.label!r} against {metric_b.label!r}")
    if differ and not force:
        raise NotComparable(
            f"they differ in {', '.join(differ)}; --force compares them all the same"
        )


def policy_over(pairs: Iterable[Pair]) -> PolicyInForce:
    """What unscored samples count as in all of some pairs (MisuseError: not the same in
    all)."""
    return one_policy([(pair.benchmark, pair.policy) for pair in pairs])


def filled_over(pairs: Iterable[Pair]) -> list[tuple[str, int, int]]:
    """Of each model of some pairs the name, samples that count as wrong by a policy, and
    all, over all pairs."""
    filled: Counter[str] = Counter()
    samples: Counter[str] = Counter()
    for name, n, of in chain.from_iterable(pair.filled for pair in pairs):
        filled[name] += n
        samples[name] += of
    return [(name, filled[name], samples[name]) for name in samples]
