"""What a completed table says of one cell, of two models, and of what to run next
(statistics.md §24 C, D)."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.stats.core.results import NamedFigures

#: Beyond all models that ran the benchmark; run mostly by strong, or by weak models.
EXTRAPOLATED, STRONG_ONLY, WEAK_ONLY = "extrapolated", "strong_only", "weak_only"
#: Why there is no prediction: too few runs link the two; there is a figure.
TOO_FAR, PUBLISHED = "too_far", "published"
#: To be said with every prediction.
ASSUMES = "Assumes that it was not left out because it did badly."


@dataclass(frozen=True)
class PredictedFigure(NamedFigures):
    """The figure that would be expected of a model on a benchmark that it was not run
    on. No score: never to be ranked, averaged or stored as one."""

    model: str  #: name.
    benchmark: str  #: name.
    estimate: float | None  #: p, a median, in [0, 1]; None with a reason.
    ci_low: (
        float | None
    )  #: lower end for what would be published; None with a reason, or of too few figures held out.
    ci_high: float | None  #: upper end.
    level: float  #: 1 − α.
    published: float | None  #: the figure, where there is one; it is never replaced.
    n_of_model: int  #: figures of the model.
    n_of_benchmark: int  #: figures of the benchmark.
    support: int  #: c, runs of other models that link the two.
    support_needed: int  #: of them, for an estimate.
    flags: tuple[str, ...]  #: of `extrapolated`, `strong_only`, `weak_only`.
    reason: str | None  #: why there is no estimate: `too_far` or `published`.
    median_error: float  #: by how much held-out figures of this table are off (median).


@dataclass(frozen=True)
class PredictedPair(NamedFigures):
    """Which of two models would be expected above on one benchmark, if that can be
    said."""

    a: str  #: name.
    b: str  #: name.
    benchmark: str  #: name.
    above: str | None  #: the model that would be expected above; None: not stated.
    n_predicted: int  #: of the two figures.
    difference: (
        float | None
    )  #: of the expected logits, a less b, where both are predicted.
    needed: float | None  #: what its size must exceed.
    reason: str | None  #: why nothing can be said: `too_far`, or both are `published`.


@dataclass(frozen=True)
class NextBenchmark(NamedFigures):
    """A benchmark that a model was not run on, and what a run would be expected to
    give."""

    benchmark: str  #: name.
    narrows_by: float  #: by how much the model's other intervals shrink, on average.


@dataclass(frozen=True)
class NextBenchmarks(NamedFigures):
    """What to run next for a model; to be asked anew after each real figure."""

    model: str  #: name.
    mean_width: (
        float | None
    )  #: of the intervals of its absent figures now, by the variances that the falls go by; None without intervals.
    benchmarks: tuple[NextBenchmark, ...]  #: those that narrow most first.
