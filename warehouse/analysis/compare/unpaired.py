"""Two models on prompts that they do not share: the unpaired difference (Miller 2024
§4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from warehouse.analysis.compare.question import CompareUnpaired
from warehouse.analysis.comparison.pairing import NotComparable
from warehouse.analysis.comparison.read import ScoredTwice, TwoModels
from warehouse.analysis.comparison.row import which_better, with_holm
from warehouse.analysis.comparison.words import (
    WIDTH,
    better_in_words,
    column_of,
    difference_cells,
    difference_in_words,
    direction_remarks,
    models_of,
)
from warehouse.analysis.leaderboard.row import usable_bounds
from warehouse.analysis.results import Column, PairedRow, Result, SingleTest, Tested
from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.clusterings import ClusterMap, outside_clusters
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.scores import PromptScores
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import (
    Estimate,
    UnpairedDifference,
    estimate_mean,
    unpaired_difference,
)
from warehouse.store.connection import Store
from warehouse.store.shared_reads import SharedReads
from warehouse.tables.view import Table, TableNote, View
from warehouse.tables.words import meanings, p_value


@dataclass(frozen=True)
class UnpairedRow(Tested, PairedRow):
    """The difference on one benchmark and split, first minus second, each on its own
    prompts."""

    #: figure of the first over all its scored prompts.
    mean_a: ClassVar[Column[float]] = Column("unpaired.estimate_a")
    #: figure of the second over all its scored prompts.
    mean_b: ClassVar[Column[float]] = Column("unpaired.estimate_b")
    #: ``mean_a - mean_b``.
    difference: ClassVar[Column[float]] = Column("unpaired.difference")
    #: sqrt(se_a² + se_b²) (Miller eq. 5); None where not defined or 0.
    standard_error: ClassVar[Column[float | None]] = Column("unpaired.standard_error")
    #: lower end of Welch's t interval.
    ci_low: ClassVar[Column[float | None]] = Column("unpaired.ci_low")
    #: upper end of it.
    ci_high: ClassVar[Column[float | None]] = Column("unpaired.ci_high")
    #: nominal coverage of the intervals.
    level: ClassVar[Column[float]] = Column("unpaired.level")
    #: difference / standard_error, z in Miller eq. 6.
    statistic: ClassVar[Column[float | None]] = Column("unpaired.statistic")
    #: Welch and Satterthwaite's.
    degrees_of_freedom: ClassVar[Column[float | None]] = Column(
        "unpaired.degrees_of_freedom"
    )
    #: two-sided, Welch's t.
    p_value: ClassVar[Column[float | None]] = Column("unpaired.p_value")
    #: ``p_value`` adjusted for the number of benchmarks (Holm); None with one.
    p_holm: float | None
    #: lower end of the paper's normal interval.
    z_ci_low: ClassVar[Column[float | None]] = Column("unpaired.z_ci_low")
    #: upper end of it.
    z_ci_high: ClassVar[Column[float | None]] = Column("unpaired.z_ci_high")
    #: two-sided, standard normal (eq. 6).
    z_p_value: ClassVar[Column[float | None]] = Column("unpaired.z_p_value")
    #: ``"a"`` or ``"b"`` where ``p_value`` (``p_holm``, where there is one) is at most
    #: 1 - level, by the metric's direction; empty where it is not, or none is known.
    better: str
    #: error of the first, CR2 with clusters.
    se_a: ClassVar[Column[float | None]] = Column("figure_a.standard_error")
    #: error of the second.
    se_b: ClassVar[Column[float | None]] = Column("figure_b.standard_error")
    #: scored prompts of the first.
    n_prompts_a: ClassVar[Column[int]] = Column("unpaired.n_prompts_a")
    #: scored prompts of the second.
    n_prompts_b: ClassVar[Column[int]] = Column("unpaired.n_prompts_b")
    n_shared: int  #: prompts that both have a score of; 0 unless it was forced.
    #: clusters of the first; None without clusters.
    n_clusters_a: ClassVar[Column[int | None]] = Column("figure_a.n_clusters")
    #: clusters of the second.
    n_clusters_b: ClassVar[Column[int | None]] = Column("figure_b.n_clusters")
    n_draws_a: int  #: generations of the first.
    n_draws_b: int  #: generations of the second.
    unscored_a: int  #: samples of the first without a score.
    unscored_b: int  #: samples of the second without a score.
    #: ``welch_t`` or ``welch_t_hull``.
    method: ClassVar[Column[str]] = Column("unpaired.method")
    #: warnings of the statistics, with ``_a`` or ``_b``; ``shared_prompts``.
    flags: tuple[str, ...]
    #: why there is no interval, or what the errors take for granted.
    reason: ClassVar[Column[str]] = Column("unpaired.reason")
    runs_a: tuple[int, ...]  #: ids of the runs of the first.
    runs_b: tuple[int, ...]  #: ids of the runs of the second.
    unpaired: UnpairedDifference  #: the difference that the columns from ``mean_a`` on come from.
    figure_a: Estimate  #: of the first, on its own prompts.
    figure_b: Estimate  #: of the second.

    PARTS = ("unpaired", "figure_a", "figure_b")


@dataclass(frozen=True)
class UnpairedComparison(SingleTest, Result):
    """Unpaired differences, one row per benchmark and split."""

    a: str  #: the first reference, as given.
    b: str  #: the second reference, as given.
    rows: tuple[UnpairedRow, ...]
    left_out: tuple[str, ...]  #: what was not compared, each with the reason.

    @property
    def one_line(self) -> str:
        if len(self.rows) > 1:
            return (
                f"{self.a} against {self.b}, unpaired, on {len(self.rows)} benchmarks"
            )
        (row,) = self.rows
        difference, p = difference_in_words(row)
        prompts = f"{row.n_prompts_a} and {row.n_prompts_b} prompts"
        return (
            f"{row.model_a} - {row.model_b} on {row.benchmark}, unpaired: {difference} "
            f"({prompts}{p})"
        )

    def view(self, *, verbose: bool = False) -> View:
        """The command's table, and how the figures were made."""
        hide_empty = (
            "split",
            "p Holm",
            "clusters a",
            "clusters b",
            "unscored a",
            "unscored b",
            "flags",
        )
        table = Table.of(
            [_cells(row) for row in self.rows], hide_empty=hide_empty, minor=MINOR
        )
        lines = [
            TableNote(line, column_of(line), WIDTH) for line in _explain(self.rows)
        ]
        reasons = (
            f"{row.benchmark}: {row.reason}" for row in self.rows if row.ci_low is None
        )
        return View(
            (*models_of(self.rows[0]), "", table, "", *lines),
            (*direction_remarks(self.rows), *reasons),
        )


#: Columns that a narrow terminal does without, the first of them first.
MINOR = (
    *(
        "p z",
        "metric",
        "unscored a",
        "unscored b",
        "split",
        "clusters a",
        "clusters b",
        "prompts a",
        "prompts b",
    ),
    *("se", "better"),
)


def _cells(row: UnpairedRow) -> dict[str, Any]:
    return {
        **difference_cells(row),
        "p": p_value(row.p_value),
        "p z": p_value(row.z_p_value),
        "p Holm": p_value(row.p_holm),
        "better": better_in_words(row),
        "prompts a": row.n_prompts_a,
        "prompts b": row.n_prompts_b,
        "clusters a": row.n_clusters_a,
        "clusters b": row.n_clusters_b,
        "unscored a": row.unscored_a,
        "unscored b": row.unscored_b,
        "flags": row.flags,
    }


def _explain(rows: tuple[UnpairedRow, ...]) -> list[str]:
    clustered = any(
        row.n_clusters_a is not None or row.n_clusters_b is not None for row in rows
    )
    hull = any(row.method == "welch_t_hull" for row in rows)
    careful = ""
    if hull:
        careful = "; where few are off a bound, neither is surer than the figures' own intervals"
    lines = [
        "Unpaired: each figure is over its own prompts, and the errors are taken as "
        "independent: se = sqrt(se_a² + se_b²) (Miller 2024, eq. 5)"
        f"{', by cluster (CR2) where prompts are clustered' if clustered else ''}.",
        f"p: Welch's t, as of the interval{careful}.",
        "p z: the paper's normal test (eq. 6).",
    ]
    adjusted = sum(row.p_holm is not None for row in rows)
    if adjusted:
        lines.append(
            f"p Holm: p adjusted for {adjusted} benchmarks; better goes by it."
        )
    if any(row.n_shared for row in rows):
        shared = max(row.n_shared for row in rows)
        lines.append(
            f"shared_prompts: up to {shared} prompts are shared; pairing them says "
            "more."
        )
    flags = chain.from_iterable(row.flags for row in rows)
    return lines + meanings(
        flag.removesuffix("_a").removesuffix("_b") for flag in flags
    )


@answers(CompareUnpaired)
def compare_unpaired(store: Store, question: CompareUnpaired) -> UnpairedComparison:
    """Row by row: each model's figure is over its own prompts."""
    models = TwoModels(
        SharedReads(store),
        question.a,
        question.b,
        selection_of(question),
        question.force,
    )
    both = models.on_each(partial(_read, models))
    rows, refused = both.compute(partial(_row, level=question.level))
    if not rows:
        raise MisuseError("; ".join(refused))
    made = [row for row, _ in rows]
    adjusted = made
    if len(rows) > 1:
        adjusted = with_holm(made, (direction for _, direction in rows))
    return UnpairedComparison(
        question.a, question.b, tuple(adjusted), (*refused, *both.missing)
    )


@dataclass(frozen=True, eq=False)
class _Unpaired:
    """Parts of a row: scores, the prompts among them that both have, clusters."""

    both: ScoredTwice
    n_shared: int
    clusters: ClusterMap


def _read(models: TwoModels, a: Condition, b: Condition) -> _Unpaired:
    both = models.scored(a, b)
    models.refuse_policy(both, "--unpaired")
    n_shared = len(np.intersect1d(both.scores_a.prompts, both.scores_b.prompts))
    if n_shared and not models.force:
        raise NotComparable(
            f"they share {n_shared} scored prompts: leave out --unpaired, and these "
            "are paired, which says more; --force takes them as independent all the "
            "same"
        )
    return _Unpaired(both, n_shared, models.clusters(a, b))


def _row(read: _Unpaired, level: float) -> tuple[UnpairedRow, bool | None]:
    """The row of two conditions, and the direction of their metric."""
    both = read.both
    a, b = both.a, both.b
    first = _estimate(both.scores_a, both.metric_a, read.clusters, level)
    second = _estimate(both.scores_b, both.metric_b, read.clusters, level)
    bounds = both.metric_a.bounds if both.metric_a.link == "identity" else None
    unpaired = unpaired_difference(first, second, bounds=bounds, level=level)
    outside = (
        outside_clusters(read.clusters.labels(scores.prompts))
        for scores in (both.scores_a, both.scores_b)
    )
    row = UnpairedRow(
        benchmark=a.benchmark_split[0],
        split=a.benchmark_split[1],
        metric=both.metric_a.label,
        model_a=a.model,
        condition_a=both.labels[0],
        model_b=b.model,
        condition_b=both.labels[1],
        p_holm=None,
        better=which_better(
            unpaired.p_value, unpaired.difference, both.metric_a.higher_is_better, level
        ),
        n_shared=read.n_shared,
        n_draws_a=int(both.scores_a.n_draws.sum()),
        n_draws_b=int(both.scores_b.n_draws.sum()),
        unscored_a=both.scores_a.n_unscored,
        unscored_b=both.scores_b.n_unscored,
        flags=(
            *unpaired.flags,
            *dict.fromkeys(chain.from_iterable(outside)),
            *(("shared_prompts",) if read.n_shared else ()),
        ),
        runs_a=a.run_ids,
        runs_b=b.run_ids,
        unpaired=unpaired,
        figure_a=first,
        figure_b=second,
    )
    return row, both.metric_a.higher_is_better


def _estimate(
    scores: PromptScores, metric: Metric, clusters: ClusterMap, level: float
) -> Estimate:
    return estimate_mean(
        scores.values,
        clusters=clusters.labels(scores.prompts),
        weights=scores.uneven_weights,
        link=metric.link,
        bounds=usable_bounds(scores, metric)[0],
        n_draws=scores.n_draws,
        level=level,
    )
