"""The time horizon of a model."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.horizon.lengths import length_in_words
from warehouse.analysis.results import Row
from warehouse.stats import HorizonBin


@dataclass(frozen=True)
class HorizonRow(Row):
    """The horizon of a model for one probability of success."""

    model: str  #: name of the model.
    condition: str  #: settings that tell the row from others.
    benchmark: str  #: suite or benchmark, as asked for.
    metric: str  #: what success is.
    q: float  #: probability of success.
    #: minutes that people need for tasks that it does with that probability; None with
    #: a ``reason``.
    estimate: float | None
    #: lower end of the interval, ``high`` the upper; None where it is open.
    low: float | None
    high: float | None
    level: float  #: nominal coverage.
    interval: str  #: ``"ftr"`` or ``"fieller"``.
    p50: float | None  #: the horizon for 0.5; ``p80`` for 0.8.
    p80: float | None
    metr: float | None  #: as METR's code writes it: 0 where nothing was solved.
    slope: float | None  #: of the curve on log2 minutes, with its ``intercept``.
    intercept: float | None
    penalty: float  #: of the slope.
    unpenalised: float | None  #: the estimate with a penalty of 0.00001.
    weights: str  #: how much a task counts.
    n_tasks: int  #: tasks with runs and minutes, of ``n_families``.
    n_families: int
    n_runs: int  #: runs, of which ``n_solved`` succeeded.
    n_solved: int
    n_unscored: int  #: runs without a score, which do not count.
    n_without_minutes: int  #: tasks with scores that have no minutes, and do not count.
    #: weighted mean of −ln of the probability of what happened.
    cross_entropy: float | None
    #: coefficient of the square of log2 minutes, where the curve has one; two-sided
    #: ``curvature_p``.
    curvature: float | None
    curvature_p: float | None
    bins: tuple[HorizonBin, ...]  #: tasks by length: what was solved beside the curve.
    #: day of release, ISO 8601; None where the store does not know it.
    release_date: str | None
    #: ``extrapolated``: beyond the shortest or longest task; ``unbounded_below``,
    #: ``unbounded_above``: the interval is open; ``few_families``: fewer than 10;
    #: ``subset``: not all tasks of the others.
    flags: tuple[str, ...]
    reason: str  #: why there is no horizon.
    run_ids: tuple[int, ...]  #: ids of the runs.

    @property
    def one_line(self) -> str:
        """The horizon in a sentence."""
        who = f"{self.model}{f' ({self.condition})' if self.condition else ''}"
        if self.estimate is None:
            return f"{who}: no horizon for {self.q:.0%}: {self.reason}."
        ends = [
            None if end is None else length_in_words(end)
            for end in (self.low, self.high)
        ]
        interval = f"[{ends[0] or 'open'}, {ends[1] or 'open'}]"
        beyond = ""
        if "extrapolated" in self.flags:
            beyond = ", beyond the tasks that there are"
        return (
            f"{who} does tasks of {length_in_words(self.estimate)} {interval} with a "
            f"chance of {self.q:.0%}{beyond}."
        )
