"""One row of a leaderboard: a condition with its figure, interval and warnings, also
where it was stopped early or has unscored samples."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from warehouse.analysis.leaderboard.estimates import (
    NO_BOUNDS,
    InfiniteEstimate,
    PublishedEstimate,
    UnscoredBounds,
    infinite_estimate,
    unscored_bounds,
)
from warehouse.analysis.leaderboard.question import Ranking
from warehouse.analysis.results import Column, Row
from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.clusterings import ClusterMap, outside_clusters
from warehouse.analysis.selection.hooks import StoppedEstimate, StoppedRun
from warehouse.analysis.selection.published_figures import PublishedFigure
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkCoverage,
    ScoredCondition,
    coverage_flags,
)
from warehouse.analysis.selection.scores import PromptScores, unscored_flags
from warehouse.errors import StatisticsError
from warehouse.stats import (
    Estimate,
    estimate_mean,
    estimate_mean_prompts_fixed,
    interval_normal,
)
from warehouse.stats.core.draws import PROMPTS_FIXED, PROMPTS_SAMPLED
from warehouse.stats.core.inputs import Bounds
from warehouse.stats.intervals.closed_form import FixedPromptsEstimate
from warehouse.stats.rows.infinite import InfiniteScores
from warehouse.stats.rows.seed_row import TOO_FEW as TOO_FEW
from warehouse.stats.rows.seed_row import SeedRow, figures_over_seeds, row_over_seeds

if TYPE_CHECKING:
    from warehouse.stats.subsets.estimate import SubsetEstimate

#: Flag of a row that was ended early because of its scores.
STOPPED = "stopped_early"
#: Flag of a row whose figure is that of the whole benchmark, from a planned subset.
PLANNED = "planned"


_PUBLISHED_WITH_ERROR = (
    "as its source publishes it; normal interval from its standard error"
)
_PUBLISHED_WITHOUT_ERROR = "as its source publishes it, without a standard error"
_PUBLISHED_WITH_ZERO = (
    "as its source publishes it, with a standard error of 0: no interval"
)


@dataclass(frozen=True)
class RowRanks:
    """Statistical ranks of a row, as in `LeaderboardRow`; by default a row has none."""

    statistical_rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    rank_low_joint: int | None = None
    rank_high_joint: int | None = None
    group: str = ""
    rank_draws: int = 0
    rank_reason: str = ""
    n_not_compared: int = 0
    #: whether the difference from the row that follows has an error, so that a
    #: comparison of them can be planned.
    next_has_error: bool = False
    handful: int | None = None


#: What the estimate of a row comes from.
Figure: TypeAlias = (
    "InfiniteEstimate | SeedRow | Estimate | FixedPromptsEstimate | PublishedEstimate "
    "| StoppedEstimate | SubsetEstimate"
)

NO_RANKS = RowRanks()


@dataclass(frozen=True)
class LeaderboardRow(Row):
    """One condition on one metric."""

    #: place among comparable rows, 1 is best, ties share it; None for what cannot be
    #: ranked: no figure; a part of the benchmark, a single prompt or a published figure
    #: beside rows that have scores of all of it.
    rank: int | None
    model: str  #: name of the model.
    condition: str  #: settings that tell the row from others, such as ``"fewshot=5"``.
    metric: str  #: name of the metric, with its filter.
    #: the figure, in the metric's reported unit; None with a ``reason``.
    estimate: ClassVar[Column[float | None]] = Column("figure.estimate")
    #: headline error; None where not defined or 0.
    standard_error: ClassVar[Column[float | None]] = Column("figure.standard_error")
    #: lower end of the interval.
    ci_low: ClassVar[Column[float | None]] = Column("figure.ci_low")
    #: upper end of the interval.
    ci_high: ClassVar[Column[float | None]] = Column("figure.ci_high")
    level: float  #: nominal coverage of the interval.
    n_prompts: int  #: prompts with a score.
    #: clusters among them; None without clusters.
    n_clusters: ClassVar[Column[int | None]] = Column("sampled.n_clusters")
    n_draws: int  #: generations behind the scores, over all repeats.
    n_unscored: int  #: samples without a score.
    share_unscored: float  #: their share of all samples, in [0, 1].
    runs: int  #: repeats that were pooled.
    #: of the interval, or ``"published"``.
    method: ClassVar[Column[str]] = Column("figure.method", "none")
    #: warnings of the statistics, and ``subset``, ``truncated``, ``failed``,
    #: ``unscored``, ``many_unscored``, ``other_prompts``, ``published``,
    #: ``outside_bounds``, ``prompts_outside_clusters``, ``stopped_early``,
    #: ``mixed_scales``; ``planned``: the figure is that of all prompts, estimated from
    #: a planned subset.
    flags: tuple[str, ...]
    reason: str  #: why this method, or why there is no figure or interval.
    #: error as if prompts were independent (Miller eq. 1).
    se_naive: ClassVar[Column[float | None]] = Column("sampled.se_clt")
    #: squared ratio of the headline error to ``se_naive``, with clusters.
    design_effect: ClassVar[Column[float | None]] = Column("sampled.design_effect")
    benchmark: str  #: name of the benchmark.
    split: str  #: part of the benchmark.
    run_ids: tuple[int, ...]  #: ids of the repeats.
    #: ``"prompts_sampled"`` (the benchmark's prompts stand for others like them),
    #: ``"full_benchmark"`` (a planned subset: these prompts as they were scored) or
    #: ``"prompts_fixed"`` (only the draws are random).
    estimand: str = PROMPTS_SAMPLED
    #: 1 + number of rows that are significantly better (Holm over all pairs of
    #: comparable rows, on common prompts); None with a ``rank_reason``.
    statistical_rank: ClassVar[Column[int | None]] = Column("ranks.statistical_rank")
    #: best rank in the row's own confidence set (Mogstad et al., by max-|T|).
    rank_low: ClassVar[Column[int | None]] = Column("ranks.rank_low")
    #: worst rank in it.
    rank_high: ClassVar[Column[int | None]] = Column("ranks.rank_high")
    #: best rank in the set that holds for all rows together.
    rank_low_joint: ClassVar[Column[int | None]] = Column("ranks.rank_low_joint")
    #: worst rank in it.
    rank_high_joint: ClassVar[Column[int | None]] = Column("ranks.rank_high_joint")
    #: fewest questions without which the row that follows leads this one, on those that
    #: both have; 0 where they are tied; None of the last, of figures that are no mean of
    #: questions, and where no number of questions makes it lead.
    handful: ClassVar[Column[int | None]] = Column("ranks.handful")
    #: letters; comparable rows that share one cannot be told apart (Holm).
    group: ClassVar[Column[str]] = Column("ranks.group")
    #: draws behind the rank sets.
    rank_draws: ClassVar[Column[int]] = Column("ranks.rank_draws")
    #: why there is no statistical rank, else empty.
    rank_reason: ClassVar[Column[str]] = Column("ranks.rank_reason")
    #: the figure with every missing score at the smallest possible one; None where all
    #: is scored or a score has no bounds.
    unscored_low: ClassVar[Column[float | None]] = Column("unscored.low")
    #: the figure with every missing score at the largest possible one.
    unscored_high: ClassVar[Column[float | None]] = Column("unscored.high")
    #: lower end of the interval around the two: the hull of the default intervals with
    #: the missing scores at either end.
    unscored_ci_low: ClassVar[Column[float | None]] = Column("unscored.ci_low")
    #: upper end of it.
    unscored_ci_high: ClassVar[Column[float | None]] = Column("unscored.ci_high")
    #: a second method of scores without bounds: ``"wild_bootstrap"`` for few clusters,
    #: else ``"t"`` (``"cr2_t"``); else empty.
    beside_method: ClassVar[Column[str]] = Column("sampled.beside.method", "")
    #: lower end of the second interval.
    beside_ci_low: ClassVar[Column[float | None]] = Column("sampled.beside.low")
    #: upper end of it.
    beside_ci_high: ClassVar[Column[float | None]] = Column("sampled.beside.high")
    #: of the standard error: n - 1, or Satterthwaite's with clusters.
    degrees_of_freedom: ClassVar[Column[float | None]] = Column(
        "sampled.degrees_of_freedom"
    )
    #: of a truncated run whose source publishes the figure, which then is ``estimate``:
    #: the figure of the samples that are stored; else None.
    part_estimate: ClassVar[Column[float | None]] = Column("part.estimate")
    #: lower end of its interval.
    part_ci_low: ClassVar[Column[float | None]] = Column("part.ci_low")
    #: upper end of it.
    part_ci_high: ClassVar[Column[float | None]] = Column("part.ci_high")
    #: prompts with a score among these samples.
    part_n_prompts: ClassVar[Column[int | None]] = Column("part.n_prompts")
    #: ``design_effect`` of the paper's clustered error (Miller eq. 4).
    design_effect_miller: ClassVar[Column[float | None]] = Column(
        "sampled.design_effect_miller"
    )
    #: the metrics that the benchmark has figures of and the leaderboard does not show,
    #: for ``--metric``; the same in every row.
    other_metrics: tuple[str, ...] = ()
    #: rows beside which it stands that have no rank: on a part of the benchmark,
    #: stopped, without a figure; the same in every row of a group.
    n_left_out: int = 0
    #: of these the number with a better figure than this one's: higher, or lower where
    #: lower is better.
    left_out_higher: int = 0
    #: ranked rows beside it that have no prompt in common with it.
    n_not_compared: ClassVar[Column[int]] = Column("ranks.n_not_compared")
    #: training seeds that the figure is the mean of; None where none is known.
    n_seeds: int | None = None
    #: labels of the seeds (or repeats that count like seeds) behind ``seed_means``.
    seeds: tuple[str, ...] = ()
    #: figure of each seed, as if it had every prompt; empty for a single one.
    seed_means: ClassVar[Column[tuple[float, ...]]] = Column(
        "over_seeds.seed_means", ()
    )
    #: standard deviation of these.
    seed_sd: ClassVar[Column[float | None]] = Column("over_seeds.seed_sd")
    #: the same without what draws alone would make.
    seed_sd_net: ClassVar[Column[float | None]] = Column("over_seeds.seed_sd_net")
    n_checkpoints: int = 1  #: places in training that the model has; the figure is that of the last whole one.
    #: seeds, checkpoints and runs that were left out or told apart, in words.
    notes: tuple[str, ...] = ()
    #: why the row is not ranked although it has a figure; empty where it is.
    no_place: str = ""
    #: samples that count as wrong by the policy that was asked for; they are scored.
    n_filled: int = 0
    #: of harness, libraries and drivers where those of its runs differ, such as
    #: ``harness 0.4.9, 0.4.11``.
    versions: str = ""
    #: share of the prompts whose score is infinite; None where no score is.
    share_infinite: ClassVar[Column[float | None]] = Column("infinite.share_infinite")
    #: lower end of its interval.
    share_infinite_low: ClassVar[Column[float | None]] = Column("infinite.share_low")
    #: upper end of it.
    share_infinite_high: ClassVar[Column[float | None]] = Column("infinite.share_high")
    #: median of the scores, which may be infinite; None where no score is.
    median: ClassVar[Column[float | None]] = Column("infinite.median")
    #: lower end of its interval.
    median_low: ClassVar[Column[float | None]] = Column("infinite.median_low")
    #: upper end of it.
    median_high: ClassVar[Column[float | None]] = Column("infinite.median_high")
    #: mean of the finite scores, which is no figure of the model; None where no score
    #: is infinite.
    mean_finite: ClassVar[Column[float | None]] = Column("infinite.mean_finite")
    #: prompts behind it.
    n_finite: ClassVar[Column[int | None]] = Column("infinite.n_finite")
    #: the estimate that the columns from ``estimate`` on come from; None without one.
    figure: Figure | None = None
    ranks: RowRanks = NO_RANKS  #: that the statistical ranks come from.
    #: that the bounds of unscored samples come from.
    unscored: UnscoredBounds = NO_BOUNDS
    #: of a truncated run whose source publishes the figure: the row of the samples that
    #: are stored; else None.
    part: LeaderboardRow | None = None

    PARTS = ("figure", "ranks", "unscored", "part")

    @property
    def sampled(self) -> Estimate | None:
        """The figure, where its error is that of prompts drawn from others like them."""
        if isinstance(self.figure, SeedRow):
            return self.figure.pooled
        if isinstance(self.figure, Estimate):
            return self.figure
        return None

    @property
    def infinite(self) -> InfiniteScores | None:
        """A remark on scores of which some are infinite."""
        if isinstance(self.figure, InfiniteEstimate):
            return self.figure.scores
        return None

    @property
    def over_seeds(self) -> SeedRow | None:
        """The figure, where it is a mean over seeds."""
        if isinstance(self.figure, SeedRow):
            return self.figure
        return None


def make_row(
    entry: ScoredCondition,
    clusters: ClusterMap,
    options: Ranking,
    whole: BenchmarkCoverage,
) -> LeaderboardRow:
    """The row of an entry, not ranked yet (StatisticsError: the data do not allow the
    method asked for).

    Args:
        whole: the prompts of the whole benchmark.
    """
    bare = _bare_row(entry, options, whole)
    if entry.stopped is not None:
        return _stopped_row(
            replace(bare, flags=(*bare.flags, STOPPED)), entry, entry.stopped
        )
    if entry.infinite is not None:
        found = infinite_estimate(entry, clusters, options.level)
        n_prompts = found.scores.n
        words = found.scores.reason
        n_draws = bare.n_draws + n_prompts - found.scores.n_finite
        bare = replace(bare, n_draws=n_draws)
        return replace(
            bare,
            figure=found,
            n_prompts=n_prompts,
            flags=(*bare.flags, "infinite"),
            reason=words,
        )
    if entry.is_cut and entry.published is not None and entry.usable is not None:
        part = _estimated(bare, entry.usable, entry.metric, clusters, options)
        return replace(_as_published(bare, entry.published, entry.metric), part=part)
    if entry.scores is not None and entry.scores.n_unscored:
        bare = replace(
            bare,
            unscored=unscored_bounds(entry.scores, entry.metric, clusters, bare.level),
        )
    if entry.usable is not None:
        return _estimated(bare, entry.usable, entry.metric, clusters, options)
    if entry.published is not None:
        return _as_published(bare, entry.published, entry.metric)
    reason = "the figure is no mean of these scores"
    if entry.metric.link != "none":
        reason = entry.why_none
    return replace(bare, reason=reason)


def _stopped_row(
    bare: LeaderboardRow, entry: ScoredCondition, stopped: StoppedRun
) -> LeaderboardRow:
    """The row of an entry that was ended early."""
    scores = entry.scores
    if scores is None or not scores.n or entry.metric.link == "none":
        return replace(bare, reason=entry.why_none)
    figure, reason = stopped.estimate(scores, entry.metric, bare.level)
    return replace(bare, figure=figure, reason=reason)


def _bare_row(
    entry: ScoredCondition, options: Ranking, whole: BenchmarkCoverage
) -> LeaderboardRow:
    scores, condition = entry.scores, entry.condition
    n_samples = scores.n_samples if scores else 0
    n_unscored = scores.n_unscored if scores else 0
    share = n_unscored / n_samples if n_samples else 0.0
    flags = coverage_flags(entry, whole) + unscored_flags(
        n_unscored, n_samples, options.max_unscored
    )
    flags += tuple(flag for flag in entry.row_flags if flag not in flags)
    n_seeds = None
    if entry.is_trained:
        n_seeds = len({run["training_seed"] for run in condition.runs})
        if n_seeds == 1:
            flags += ("one_seed",)
    return LeaderboardRow(
        rank=None,
        model=condition.model,
        condition=entry.label,
        metric=entry.metric.label,
        level=options.level,
        n_prompts=scores.n if scores else 0,
        n_draws=int(scores.n_draws.sum()) if scores else 0,
        n_unscored=n_unscored,
        n_filled=scores.n_filled if scores else 0,
        share_unscored=share,
        runs=len(condition.runs),
        flags=flags,
        reason="",
        benchmark=condition.benchmark_split[0],
        split=condition.benchmark_split[1],
        run_ids=condition.run_ids,
        estimand=options.estimand,
        n_seeds=n_seeds,
        n_checkpoints=entry.n_checkpoints,
        notes=entry.row_notes,
        no_place=entry.no_place,
        versions=entry.versions,
    )


def _estimated(
    bare: LeaderboardRow,
    scores: PromptScores,
    metric: Metric,
    clusters: ClusterMap,
    options: Ranking,
) -> LeaderboardRow:
    bounds, outside = usable_bounds(scores, metric)
    bare = replace(bare, flags=bare.flags + outside)
    try:
        if scores.seeds is not None:
            return _over_seeds(bare, scores, metric, bounds, clusters, options)
        if options.estimand == PROMPTS_FIXED:
            return _prompts_fixed(bare, scores, metric, bounds)
        return _prompts_sampled(bare, scores, metric, bounds, clusters, options.method)
    except StatisticsError as error:
        if options.method != "auto":
            raise StatisticsError(f"{bare.model}: {error}") from None
        return replace(bare, reason=str(error))


def _over_seeds(
    bare: LeaderboardRow,
    scores: PromptScores,
    metric: Metric,
    bounds: Bounds | None,
    clusters: ClusterMap,
    options: Ranking,
) -> LeaderboardRow:
    """The mean over training seeds, or over repeats that count like seeds."""
    assert scores.seeds is not None
    labels = clusters.labels(scores.prompts)
    figure = row_over_seeds(
        scores.seeds.cells,
        clusters=labels,
        weights=scores.uneven_weights,
        link=metric.link,
        bounds=bounds,
        level=bare.level,
        estimand=options.estimand,
        method=options.method,
    )
    flags = bare.flags + figure.flags + outside_clusters(labels)
    no_place = "too few seeds"
    if TOO_FEW not in figure.flags:
        no_place = bare.no_place
    return replace(
        bare,
        figure=figure,
        flags=flags,
        reason=figure.reason,
        seeds=scores.seeds.labels,
        no_place=no_place,
    )


def _prompts_sampled(
    bare: LeaderboardRow,
    scores: PromptScores,
    metric: Metric,
    bounds: Bounds | None,
    clusters: ClusterMap,
    method: str,
) -> LeaderboardRow:
    labels = clusters.labels(scores.prompts)
    figure = estimate_mean(
        scores.values,
        clusters=labels,
        weights=scores.uneven_weights,
        link=metric.link,
        bounds=bounds,
        n_draws=scores.n_draws,
        level=bare.level,
        method=method,
    )
    flags = bare.flags + figure.flags + outside_clusters(labels)
    return replace(bare, figure=figure, flags=flags, reason=figure.reason)


def _prompts_fixed(
    bare: LeaderboardRow, scores: PromptScores, metric: Metric, bounds: Bounds | None
) -> LeaderboardRow:
    if metric.link != "identity" or scores.uneven_weights is not None:
        raise StatisticsError(
            "prompts fixed: only for plain means, not for ratios of sums"
        )
    figure = estimate_mean_prompts_fixed(
        scores.values, scores.within, scores.n_draws, bounds=bounds, level=bare.level
    )
    return replace(
        bare, figure=figure, flags=bare.flags + figure.flags, reason=figure.reason
    )


def usable_bounds(
    scores: PromptScores, metric: Metric
) -> tuple[Bounds | None, tuple[str, ...]]:
    """The declared bounds, unless the scores themselves break them."""
    bounds = metric.bounds_of(scores.values.min(), scores.values.max())
    return bounds, ("outside_bounds",) if bounds != metric.bounds else ()


def _as_published(
    bare: LeaderboardRow, published: PublishedFigure, metric: Metric
) -> LeaderboardRow:
    if published.seeds and not np.isfinite(published.seeds).all():
        published = replace(published, seeds=())  # no spread of them is one
    if published.seeds:
        bounds = None
        if metric.link == "identity":
            bounds = metric.bounds_of(min(published.seeds), max(published.seeds))
        figure = replace(
            figures_over_seeds(published.seeds, bounds=bounds, level=bare.level),
            method="published",
        )
        reason, own_flags = figure.reason, figure.flags
        if bare.n_seeds is None:  # repeats
            reason = reason.replace("of the seeds", "of the runs").replace(
                "the seeds are", "the runs are"
            )
            own_flags = tuple(flag for flag in own_flags if flag != "two_seeds")
        flags = (*bare.flags, "published", *own_flags)
        n_prompts = published.n or bare.n_prompts
        return replace(
            bare, figure=figure, n_prompts=n_prompts, flags=flags, reason=reason
        )
    is_finite = math.isfinite(published.value)
    interval = None
    if is_finite:
        interval = interval_normal(
            published.value, published.standard_error, level=bare.level
        )
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return replace(
        bare,
        figure=PublishedEstimate(
            published.value, published.standard_error if is_finite else None, low, high
        ),
        n_prompts=published.n or bare.n_prompts,
        flags=(*bare.flags, "published", *(() if is_finite else ("infinite",))),
        reason=_reason_of(published, interval is not None),
    )


def _reason_of(figure: PublishedFigure, has_interval: bool) -> str:
    if math.isinf(figure.value):
        return "infinite"
    if has_interval:
        return _PUBLISHED_WITH_ERROR
    if figure.standard_error is None:
        return _PUBLISHED_WITHOUT_ERROR
    return _PUBLISHED_WITH_ZERO
