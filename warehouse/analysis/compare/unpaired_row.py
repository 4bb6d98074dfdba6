"""One row of an unpaired comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from warehouse.analysis.results import Column, PairedRow, Tested
from warehouse.stats import Estimate, UnpairedDifference
from warehouse.stats.intervals.published import PUBLISHED


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

    @property
    def is_of_published(self) -> bool:
        """Whether one of the figures at least is as its source prints it."""
        return PUBLISHED in (self.figure_a.method, self.figure_b.method)
