"""Success against the minutes that people need: how long tasks may be for an agent to
do them (statistics.md §18).

A weighted logistic curve on log2 of the minutes, its slope penalised as METR does (Kwa
et al. 2025, "Measuring AI ability to complete long tasks"). Weights sum to 1, so that a
penalty of 0.1 is not small: it flattens the curve, and the horizon without it
(`NO_PENALTY`) stands beside. The interval is for what this fit tends to with many
tasks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_level
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.items.horizon_curve import (
    FLAT,
    NO_PENALTY,
    Agent,
    crossing,
    curvature,
    fieller,
    finite_or_none,
    newton,
    percentiles,
    resampled,
)

#: How much a run counts: 1/√(tasks of the family) split over the runs of a task, the
#: same split so, or 1.
WEIGHTS = ("invsqrt", "equal", "none")
#: Families, tasks and runs drawn anew; Fieller's, by families left out in turn; or
#: Fieller's for agents with one run of each task, which drawn anew says too little (.91
#: to .94 of 95 %; Fieller's .95 to .98), and the former for others.
INTERVALS = ("auto", "ftr", "fieller")
#: Families below which an interval says so.
FEW_FAMILIES = 10
#: Minutes between bins.
EDGES = (1.0, 4.0, 16.0, 64.0, 256.0, 960.0)
NOTHING_SOLVED = "nothing solved"
ALL_SOLVED = "everything solved"
NO_SLOPE = "slope not negative"


@dataclass(frozen=True)
class HorizonBin:
    """Tasks of like length: what was solved, and what the curve says."""

    low: float  #: minutes, included; ``high`` excluded, None where nothing is above.
    high: float | None
    n_tasks: int  #: tasks in it.
    success: float  #: weighted share of runs that succeeded; ``fitted``: weighted mean of the curve.
    fitted: float


@dataclass(frozen=True)
class Horizon:
    """How long tasks are that an agent does with probability q."""

    q: float  #: the probability.
    estimate: float | None  #: minutes; None with a reason.
    #: lower end of the interval, ``high`` the upper; None where it is open.
    low: float | None
    high: float | None
    unpenalised: float | None  #: the estimate with `NO_PENALTY`.
    #: ``extrapolated`` beyond the shortest and the longest task, ``unbounded_below``,
    #: ``unbounded_above``.
    flags: tuple[str, ...]
    #: log2 minutes in each resample, ±∞ where a curve has none; NaN where no task was
    #: drawn. Empty where none was made.
    samples: FloatArray = field(repr=False, compare=False)


@dataclass(frozen=True)
class HorizonFit(NamedFigures):
    """The curve of an agent."""

    intercept: float | None  #: α, on log2 minutes; None with a reason.
    slope: float | None  #: β of p = 1/(1 + exp(−α − βx)).
    #: runs, of which ``n_solved`` succeeded, on ``n_tasks`` of ``n_families``.
    n_runs: int
    n_tasks: int
    n_families: int
    n_solved: int
    horizons: tuple[Horizon, ...]  #: one for each q.
    bins: tuple[HorizonBin, ...]  #: of those with tasks.
    #: weighted mean of −ln of the probability of what happened.
    cross_entropy: float | None
    #: coefficient of x² in a curve with one, without penalty; None where a family left
    #: out leaves too little, and beyond 20 million families × tasks.
    curvature: float | None
    curvature_p: float | None  #: two-sided, t of families left out in turn.
    flags: tuple[str, ...]  #: ``few_families`` below 10.
    reason: str  #: why there is no horizon; empty if there is one.
    interval: str = "ftr"  #: what the intervals are by, ``ftr`` or ``fieller``.


def time_horizons(
    minutes: ArrayLike,
    families: ArrayLike,
    solved: ArrayLike,
    runs: ArrayLike,
    *,
    q: Sequence[float] = (0.5, 0.8),
    penalty: float = 0.1,
    weights: str = "invsqrt",
    interval: str = "auto",
    resample: bool = False,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> tuple[HorizonFit, ...]:
    """The time horizons of agents on the same tasks.

    Args:
        minutes: that people need for each task, above 0, shape (T,).
        families: number of the family of each task, shape (T,).
        solved: runs that succeeded, shape (A, T).
        runs: runs of each agent on each task, 0 for none, shape (A, T).
        q: probabilities of success, each in (0, 1).
        penalty: λ above 0, half of which times the squared slope is taken off the
            weighted log-likelihood.
        weights: one of `WEIGHTS`.
        interval: one of `INTERVALS`.
        resample: also where no interval is by it, for `horizon_trend`.
        level: nominal coverage.
        n_resamples: of ``ftr``; all agents share them.
        seed: of the draws.

    Raises:
        StatisticsError: other shapes, numbers out of range, another word.

    Examples:
        >>> fit, = time_horizons([1, 2, 8, 30, 120, 480], [0, 1, 2, 3, 4, 5], [[4, 4, 3, 2, 1, 0]], [[4] * 6])
        >>> round(fit.horizons[0].estimate, 1), fit.flags
        (31.9, ('few_families',))
    """
    level = as_level(level)
    length = np.asarray(minutes, np.float64)
    family = np.unique(np.asarray(families), return_inverse=True)[1]
    right = np.atleast_2d(np.asarray(solved, np.float64))
    total = np.atleast_2d(np.asarray(runs, np.float64))
    _check_tasks(length, family, right, total)
    if not all(0 < share < 1 for share in q) or not 0 < penalty < math.inf:
        raise StatisticsError("`q` must be in (0, 1), and `penalty` above 0")
    if weights not in WEIGHTS or interval not in INTERVALS:
        raise StatisticsError(
            f"`weights` is one of {', '.join(WEIGHTS)}, `interval` one of "
            f"{', '.join(INTERVALS)}"
        )
    rng = np.random.default_rng(seed)
    chosen = [_interval_of(interval, own) for own in total]
    draws = None
    if resample or "ftr" in chosen:
        draws = _draw_tasks(family, n_resamples, rng)
    fits = []
    for own_right, own_total, own_interval in zip(right, total, chosen, strict=True):
        has = own_total > 0
        agent = _agent(
            np.log2(length[has]), family[has], own_right[has], own_total[has], weights
        )
        copies = None
        if draws is not None and (resample or own_interval == "ftr"):
            copies = draws[:, has]
        fits.append(_fit(agent, copies, own_interval, [*q], penalty, level, rng))
    return tuple(fits)


def _check_tasks(
    length: FloatArray, family: NDArray[np.intp], right: FloatArray, total: FloatArray
) -> None:
    """Refuse shapes that differ, lengths of 0 and more successes than runs."""
    shape = (len(total), len(length))
    if right.shape != shape or total.shape != shape or family.shape != length.shape:
        raise StatisticsError(
            f"`solved` and `runs` must be of agents × tasks, found {right.shape} and "
            f"{total.shape}"
        )
    has_length = np.isfinite(length) & (length > 0)
    has_runs = (right >= 0) & (right <= total)
    if not has_length.all() or not has_runs.all():
        raise StatisticsError(
            "`minutes` must be above 0, and `solved` between 0 and `runs`"
        )


def _interval_of(interval: str, runs: FloatArray) -> str:
    """Which interval an agent with these runs of tasks gets."""
    if interval != "auto":
        return interval
    if runs.max(initial=0) == 1:
        return "fieller"
    return "ftr"


def _agent(
    x: FloatArray,
    family: NDArray[np.int64],
    solved: FloatArray,
    runs: FloatArray,
    weights: str,
) -> Agent:
    if weights == "none":
        weight = np.ones(len(x))
    else:
        weight = 1 / runs
    if len(x):
        if weights == "invsqrt":
            weight = weight / np.sqrt(np.bincount(family)[family])
        weight = weight / (weight @ runs)
    return Agent(x, family, solved, runs, weight)


def _draw_tasks(
    family: NDArray[np.int64], n: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """How often each task is drawn: as many families as there are, and of each copy as
    many tasks, shape (n, T)."""
    sizes = np.bincount(family)
    n_families = len(sizes)
    alike = np.full(n_families, 1 / n_families)
    copies = rng.multinomial(n_families, alike, size=n)
    counts = np.zeros((n, len(family)), np.int64)
    for number, size in enumerate(sizes.tolist()):
        drawn = copies[:, number] * size
        counts[:, family == number] = rng.multinomial(drawn, np.full(size, 1 / size))
    return counts


def _fit(
    agent: Agent,
    copies: NDArray[np.int64] | None,
    interval: str,
    q: Sequence[float],
    penalty: float,
    level: float,
    rng: np.random.Generator,
) -> HorizonFit:
    n_families = len(np.unique(agent.family))
    nothing = HorizonFit(
        intercept=None,
        slope=None,
        n_runs=int(agent.runs.sum()),
        n_tasks=len(agent.x),
        n_families=n_families,
        n_solved=int(agent.solved.sum()),
        horizons=tuple(
            Horizon(share, None, None, None, None, (), np.empty(0)) for share in q
        ),
        bins=(),
        cross_entropy=None,
        curvature=None,
        curvature_p=None,
        flags=flags_of(few_families=n_families < FEW_FAMILIES),
        reason=_why_none(agent),
        interval=interval,
    )
    if nothing.reason:
        return nothing
    sums = agent.sums()
    curve = newton(agent.x, *sums, penalty)[0]
    chances = 1 / (1 + np.exp(-curve[0] - curve[1] * agent.x))
    fit = replace(
        nothing,
        intercept=float(curve[0]),
        slope=float(curve[1]),
        bins=tuple(_bins(agent, chances)),
        cross_entropy=_cross_entropy(chances, *sums),
    )
    if curve[1] >= FLAT:
        return replace(fit, reason=NO_SLOPE)
    found = _horizons(agent, curve, copies, interval, q, penalty, level, rng)
    bend, p_value = curvature(agent)
    return replace(fit, horizons=tuple(found), curvature=bend, curvature_p=p_value)


def _horizons(
    agent: Agent,
    curve: FloatArray,
    copies: NDArray[np.int64] | None,
    interval: str,
    q: Sequence[float],
    penalty: float,
    level: float,
    rng: np.random.Generator,
) -> list[Horizon]:
    """Where a curve that falls passes each probability, with the interval."""
    bare = newton(agent.x, *agent.sums(), NO_PENALTY)[0]
    samples = left = None
    if copies is not None:
        samples = resampled(agent, copies, penalty, rng)
    if interval == "fieller":
        left = agent.jackknife(penalty)
    found = []
    for share in q:
        logs = np.empty(0)
        if samples is not None:
            logs = crossing(samples, share)
        if interval == "ftr":
            ends = percentiles(logs, level)
        else:
            ends = fieller(curve, left, share, level)
        found.append(_horizon(agent, share, curve, bare, ends, logs))
    return found


def _why_none(agent: Agent) -> str:
    """Why no curve can be drawn; empty where one can."""
    if not len(agent.x):
        return "no task was tried"
    if not agent.solved.any():
        return NOTHING_SOLVED
    if (agent.solved == agent.runs).all():
        return ALL_SOLVED
    if len(np.unique(agent.x)) == 1:
        return "all tasks take people equally long"
    return ""


def _horizon(
    agent: Agent,
    q: float,
    curve: FloatArray,
    bare: FloatArray,
    ends: tuple[float | None, float | None],
    samples: FloatArray,
) -> Horizon:
    at = float(crossing(curve[None], q)[0])
    outside = not agent.x.min() <= at <= agent.x.max()
    low, high = ends
    flags = flags_of(
        extrapolated=outside, unbounded_below=low is None, unbounded_above=high is None
    )
    return Horizon(
        q=q,
        estimate=_minutes(at),
        low=_minutes(low),
        high=_minutes(high),
        unpenalised=_minutes(float(crossing(bare[None], q)[0])),
        flags=flags,
        samples=samples,
    )


def _minutes(log2: float | None) -> float | None:
    """None where it is no number that can be held."""
    if log2 is None or not -1000 < log2 < 1000:
        return None
    return float(2.0**log2)


def _bins(agent: Agent, chances: FloatArray) -> list[HorizonBin]:
    found = []
    total, right = (part[0] for part in agent.sums())
    minutes = np.exp2(agent.x)
    for low, high in zip((0.0, *EDGES), (*EDGES, math.inf), strict=True):
        has = (minutes >= low * (1 - 1e-12)) & (minutes < high * (1 - 1e-12))
        if has.any():
            mass = float(total[has].sum())
            own = HorizonBin(
                low=low,
                high=finite_or_none(high),
                n_tasks=int(has.sum()),
                success=float(right[has].sum()) / mass,
                fitted=float(total[has] @ chances[has]) / mass,
            )
            found.append(own)
    return found


def _cross_entropy(chances: FloatArray, total: FloatArray, right: FloatArray) -> float:
    parts = right * np.log(chances) + (total - right) * np.log1p(-chances)
    return float(-parts.sum() / total.sum())
