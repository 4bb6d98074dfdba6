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
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_level
from warehouse.stats.core.quantiles import t_p_value, t_quantile
from warehouse.stats.core.results import NamedFigures, flags_of

#: How much a run counts: 1/√(tasks of the family) split over the runs of a task, the
#: same split so, or 1.
WEIGHTS = ("invsqrt", "equal", "none")
#: Families, tasks and runs drawn anew; Fieller's, by families left out in turn; or
#: Fieller's for agents with one run of each task, which drawn anew says too little (.91
#: to .94 of 95 %; Fieller's .95 to .98), and the former for others.
INTERVALS = ("auto", "ftr", "fieller")
#: The penalty that stands for none; families below which an interval says so; minutes
#: between bins.
NO_PENALTY, FEW_FAMILIES, EDGES = 1e-5, 10, (1.0, 4.0, 16.0, 64.0, 256.0, 960.0)
NOTHING_SOLVED, ALL_SOLVED, NO_SLOPE = (
    "nothing solved",
    "everything solved",
    "slope not negative",
)
_FLAT = -1e-9  # a slope that is 0 but for rounding
_STEPS, _CLOSE = 200, 1e-10
#: Samples × tasks that are fitted at once; families × tasks above which the bend is not
#: asked for.
_CELLS, _MOST = 1 << 20, 20_000_000


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


@dataclass(frozen=True)
class HorizonTrend(NamedFigures):
    """Horizons over days of release: least squares of log2 minutes."""

    q: float  #: probability of success.
    slope: float | None  #: doublings a day; None with a reason.
    intercept: float | None  #: log2 minutes on the first day of all.
    doubling_days: float | None  #: 1/slope; None where that is not above 0.
    #: lower end of its interval, ``high`` the upper, over the resamples that all agents
    #: share: of tasks alone, not of agents about the line; None where it is open.
    low: float | None
    high: float | None
    n_models: int  #: agents with a horizon and a day.
    reason: str  #: why there is no figure.


@dataclass(frozen=True)
class _Agent:
    """What an agent did: tasks with runs; weights are of a run."""

    x: FloatArray
    family: NDArray[np.int64]
    solved: FloatArray
    runs: FloatArray
    weight: FloatArray

    def sums(self) -> tuple[FloatArray, FloatArray]:
        """Σw and Σwy of each task, shape (1, T)."""
        return (self.runs * self.weight)[None], (self.solved * self.weight)[None]

    def jackknife(self, penalty: float, *, bend: bool = False) -> FloatArray | None:
        """Curves without each family in turn, shape (G, 2 or 3); None where one is left
        with one outcome or length."""
        names, (total, right), curves = np.unique(self.family), self.sums(), []
        for block in _blocks(len(names), len(self.x)):
            kept = names[block, None] != self.family
            solved, runs = kept @ self.solved, kept @ self.runs
            lengths = min(len(np.unique(self.x[group])) for group in kept)
            if ((solved == 0) | (solved == runs)).any() or lengths < 2 + bend:
                return None
            curves.append(
                _newton(self.x, kept * total, kept * right, penalty, bend=bend)
            )
        return np.concatenate(curves)


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
    length, family = (
        np.asarray(minutes, np.float64),
        np.unique(np.asarray(families), return_inverse=True)[1],
    )
    right, total = (
        np.atleast_2d(np.asarray(solved, np.float64)),
        np.atleast_2d(np.asarray(runs, np.float64)),
    )
    shape = (len(total), len(length))
    if right.shape != shape or total.shape != shape or family.shape != length.shape:
        raise StatisticsError(
            f"`solved` and `runs` must be of agents × tasks, found {right.shape} and "
            f"{total.shape}"
        )
    if (
        not (np.isfinite(length) & (length > 0)).all()
        or not ((right >= 0) & (right <= total)).all()
    ):
        raise StatisticsError(
            "`minutes` must be above 0, and `solved` between 0 and `runs`"
        )
    if not all(0 < share < 1 for share in q) or not 0 < penalty < math.inf:
        raise StatisticsError("`q` must be in (0, 1), and `penalty` above 0")
    if weights not in WEIGHTS or interval not in INTERVALS:
        raise StatisticsError(
            f"`weights` is one of {', '.join(WEIGHTS)}, `interval` one of "
            f"{', '.join(INTERVALS)}"
        )
    rng = np.random.default_rng(seed)
    chosen = [_interval_of(interval, own) for own in total]
    draws = (
        _draw_tasks(family, n_resamples, rng) if resample or "ftr" in chosen else None
    )
    fits = []
    for own_right, own_total, own_interval in zip(right, total, chosen, strict=True):
        has = own_total > 0
        agent = _agent(
            np.log2(length[has]), family[has], own_right[has], own_total[has], weights
        )
        is_drawn = resample or own_interval == "ftr"
        copies = draws[:, has] if draws is not None and is_drawn else None
        fits.append(_fit(agent, copies, own_interval, [*q], penalty, level, rng))
    return tuple(fits)


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
) -> _Agent:
    if weights == "none":
        weight = np.ones(len(x))
    else:
        weight = 1 / runs
    if weights == "invsqrt" and len(x):
        weight = weight / np.sqrt(np.bincount(family)[family])
    return _Agent(x, family, solved, runs, weight / (weight @ runs if len(x) else 1))


def _draw_tasks(
    family: NDArray[np.int64], n: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """How often each task is drawn: as many families as there are, and of each copy as
    many tasks, shape (n, T)."""
    sizes = np.bincount(family)
    copies = rng.multinomial(len(sizes), np.full(len(sizes), 1 / len(sizes)), size=n)
    counts = np.zeros((n, len(family)), np.int64)
    for number, size in enumerate(sizes.tolist()):
        counts[:, family == number] = rng.multinomial(
            copies[:, number] * size, np.full(size, 1 / size)
        )
    return counts


def _fit(
    agent: _Agent,
    copies: NDArray[np.int64] | None,
    interval: str,
    q: Sequence[float],
    penalty: float,
    level: float,
    rng: np.random.Generator,
) -> HorizonFit:
    names = np.unique(agent.family)
    sums = agent.sums()
    reason = _why_none(agent)
    curve, bare = (
        _newton(agent.x, *sums, strength)[0] if not reason else None
        for strength in (penalty, NO_PENALTY)
    )
    if curve is not None and curve[1] >= _FLAT:
        reason = NO_SLOPE
    found: list[Horizon] = []
    if curve is None or reason:
        found = [Horizon(share, None, None, None, None, (), np.empty(0)) for share in q]
    else:
        samples = None if copies is None else _resampled(agent, copies, penalty, rng)
        left = agent.jackknife(penalty) if interval == "fieller" else None
        for share in q:
            logs = np.empty(0) if samples is None else _crossing(samples, share)
            ends = (
                _percentiles(logs, level)
                if interval == "ftr"
                else _fieller(curve, left, share, level)
            )
            found.append(_horizon(agent, share, curve, bare, ends, logs))
    chances = (
        None if curve is None else 1 / (1 + np.exp(-curve[0] - curve[1] * agent.x))
    )
    bend, p_value = _curvature(agent) if not reason else (None, None)
    return HorizonFit(
        intercept=None if curve is None else float(curve[0]),
        slope=None if curve is None else float(curve[1]),
        n_runs=int(agent.runs.sum()),
        n_tasks=len(agent.x),
        n_families=len(names),
        n_solved=int(agent.solved.sum()),
        horizons=tuple(found),
        bins=() if chances is None else tuple(_bins(agent, chances)),
        cross_entropy=None if chances is None else _cross_entropy(chances, *sums),
        curvature=bend,
        curvature_p=p_value,
        flags=("few_families",) if len(names) < FEW_FAMILIES else (),
        reason=reason,
        interval=interval,
    )


def _why_none(agent: _Agent) -> str:
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


# --- the curve -----------------------------------------------------------------------------------


def _newton(
    x: FloatArray,
    total: FloatArray,
    right: FloatArray,
    penalty: float,
    *,
    bend: bool = False,
) -> FloatArray:
    """Coefficients of 1, x (and x²) that maximise Σ(right·η − total·ln(1 + e^η)) −
    penalty/2·β², shape (B, 2 or 3).

    Args:
        x: of each task, shape (T,).
        total: Σw of each sample and task, shape (B, T).
        right: Σwy; each sample has some of both outcomes.
    """
    columns = [np.ones_like(x), x] + ([(x - x.mean()) ** 2] if bend else [])
    design = np.stack(columns, axis=1)
    ridge = np.array([0.0, penalty, 1e-12][: len(columns)])
    squares = (design[:, :, None] * design[:, None, :]).reshape(len(x), -1)
    theta, active = np.zeros((len(total), len(columns))), np.arange(len(total))
    for _ in range(_STEPS):
        own, weight = theta[active], total[active]
        chance = 1 / (1 + np.exp(-np.clip(own @ design.T, -700, 700)))
        slope = (right[active] - weight * chance) @ design - ridge * own
        is_open = np.abs(slope).max(axis=1) > _CLOSE
        active, slope = active[is_open], slope[is_open]
        if not len(active):
            break
        curve = (weight * chance * (1 - chance))[is_open] @ squares
        curve = curve.reshape(-1, len(ridge), len(ridge)) + np.diag(ridge + 1e-15)
        step = np.linalg.solve(curve, slope[:, :, None])[:, :, 0]
        # shortened so that it always goes up (Sun and Tran-Dinh 2019, the damped step
        # of logistic losses)
        reach = np.abs(step @ design.T).max(axis=1, keepdims=True) + 1e-300
        theta[active] += step * (np.log1p(reach) / reach)
    return theta


def _crossing(curves: FloatArray, q: float) -> FloatArray:
    """Where curves pass q, in log2 minutes; +∞ where they do not fall."""
    falling = (curves[:, 1] < _FLAT) & np.isfinite(curves[:, 1])
    at = np.full(len(curves), math.inf)
    at[falling] = (_logit(q) - curves[falling, 0]) / curves[falling, 1]
    flat = np.isinf(curves[:, 0]) | np.isnan(
        curves[:, 0]
    )  # of one outcome only, or of no task
    return np.where(flat, curves[:, 0], at)


def _horizon(
    agent: _Agent,
    q: float,
    curve: FloatArray,
    bare: FloatArray | None,
    ends: tuple[float | None, float | None],
    samples: FloatArray,
) -> Horizon:
    at = float(_crossing(curve[None], q)[0])
    outside = not agent.x.min() <= at <= agent.x.max()
    low, high = ends
    flags = flags_of(
        extrapolated=outside, unbounded_below=low is None, unbounded_above=high is None
    )
    if bare is None:
        plain = math.inf
    else:
        plain = float(_crossing(bare[None], q)[0])
    minutes, low, high, plain_minutes = (
        None if end is None else _minutes(end) for end in (at, low, high, plain)
    )
    return Horizon(q, minutes, low, high, plain_minutes, flags, samples)


def _minutes(log2: float) -> float | None:
    """None where it is no number that can be held."""
    return 2.0**log2 if -1000 < log2 < 1000 else None


# --- intervals -----------------------------------------------------------------------------------


def _resampled(
    agent: _Agent, copies: NDArray[np.int64], penalty: float, rng: np.random.Generator
) -> FloatArray:
    """Curves of resamples, shape (B, 2). Copies of a task draw their runs anew:
    together a binomial.

    ∓∞ for both coefficients where all runs of a sample failed or succeeded, NaN where
    it has none.
    """
    n = copies * agent.runs.astype(np.int64)
    solved = rng.binomial(n, agent.solved / agent.runs)
    curves = np.full((len(n), 2), np.nan)
    curves[(solved == 0).all(axis=1)], curves[(solved == n).all(axis=1)] = (
        -math.inf,
        math.inf,
    )
    curves[~n.any(axis=1)] = np.nan
    mixed = (solved > 0).any(axis=1) & (solved < n).any(axis=1)
    chosen = np.flatnonzero(mixed)
    for block in _blocks(len(chosen), len(agent.x)):
        rows = chosen[block]
        curves[rows] = _newton(
            agent.x, n[rows] * agent.weight, solved[rows] * agent.weight, penalty
        )
    return curves


def _blocks(n: int, size: int) -> list[slice]:
    """Slices of n rows of a size, each of which takes little memory."""
    step = max(1, _CELLS // max(1, size))
    return [slice(at, at + step) for at in range(0, n, step)]


def _percentiles(logs: FloatArray, level: float) -> tuple[float | None, float | None]:
    """Both ends; None where too many samples are beyond all numbers."""
    defined = logs[~np.isnan(logs)]
    if not len(defined):
        return None, None
    ends = np.quantile(
        defined, [(1 - level) / 2, (1 + level) / 2], method="nearest"
    ).tolist()
    low, high = (end if math.isfinite(end) else None for end in ends)
    return low, high


def _cv3(curves: FloatArray) -> FloatArray:
    """Covariance of coefficients by families left out in turn."""
    apart = curves - curves.mean(axis=0)
    variance: FloatArray = (len(curves) - 1) / len(curves) * apart.T @ apart
    return variance


def _fieller(
    curve: FloatArray, left: FloatArray | None, q: float, level: float
) -> tuple[float | None, float | None]:
    """All h with (α + βh − logit q)² ≤ t²(V_αα + 2hV_αβ + h²V_ββ), of curves that fall;
    None for an open end."""
    if left is None:
        return None, None
    v, t2 = _cv3(left), t_quantile(level, len(left) - 1) ** 2
    above = curve[0] - _logit(q)
    a, b, c = (
        curve[1] ** 2 - t2 * v[1, 1],
        above * curve[1] - t2 * v[0, 1],
        above**2 - t2 * v[0, 0],
    )
    inside = b * b - a * c
    if inside <= 0 or a == 0:
        return None, None
    first, second = sorted(((-b - math.sqrt(inside)) / a, (-b + math.sqrt(inside)) / a))
    if a > 0:
        return float(first), float(second)
    # the slope may be 0: of the two parts of the set the other one is of curves that
    # rise
    if -above / curve[1] >= second:
        return (float(second), None)
    return (None, float(first))


def _logit(q: float) -> float:
    return math.log(q / (1 - q))


# --- how well the curve fits ---------------------------------------------------------------------


def _curvature(agent: _Agent) -> tuple[float | None, float | None]:
    """The coefficient of x² and its two-sided p-value.

    Without the penalty: that flattens the line, and x² would make up for it.
    """
    few = len(np.unique(agent.family)) * len(agent.x) <= _MOST
    left = None
    if few:
        left = agent.jackknife(NO_PENALTY, bend=True)
    if left is None:
        variance = 0.0
    else:
        variance = float(_cv3(left)[2, 2])
    if left is None or not variance > 0:
        return None, None
    bend = float(_newton(agent.x, *agent.sums(), NO_PENALTY, bend=True)[0, 2])
    return bend, t_p_value(bend / math.sqrt(variance), len(left) - 1)


def _bins(agent: _Agent, chances: FloatArray) -> list[HorizonBin]:
    found = []
    total, right = (part[0] for part in agent.sums())
    minutes = np.exp2(agent.x)
    for low, high in zip((0.0, *EDGES), (*EDGES, math.inf), strict=True):
        has = (minutes >= low * (1 - 1e-12)) & (minutes < high * (1 - 1e-12))
        if has.any():
            mass, top = float(total[has].sum()), high if math.isfinite(high) else None
            means = (
                float(right[has].sum()) / mass,
                float(total[has] @ chances[has]) / mass,
            )
            found.append(HorizonBin(low, top, int(has.sum()), *means))
    return found


def _cross_entropy(chances: FloatArray, total: FloatArray, right: FloatArray) -> float:
    parts = right * np.log(chances) + (total - right) * np.log1p(-chances)
    return float(-parts.sum() / total.sum())


# --- over time -----------------------------------------------------------------------------------


def horizon_trend(
    days: ArrayLike, horizons: Sequence[Horizon], *, level: float = 0.95
) -> HorizonTrend:
    """How fast horizons of one q grow.

    Args:
        days: of release of each agent, as a number; NaN where unknown.
        horizons: of the same agents and the same call of `time_horizons`, by ``ftr`` or
            with ``resample``.
        level: nominal coverage.

    Raises:
        StatisticsError: not as many days as horizons.
    """
    dated, q = np.asarray(days, np.float64), horizons[0].q
    if dated.shape != (len(horizons),):
        raise StatisticsError(
            f"`days` must be one for each horizon, found {dated.shape} for "
            f"{len(horizons)}"
        )
    used = [
        number
        for number, horizon in enumerate(horizons)
        if horizon.estimate and math.isfinite(dated[number])
    ]
    at = dated[used]
    if len(used) < 3 or len(np.unique(at)) < 2:
        reason = (
            "a trend needs 3 models with a horizon and a day of release, of 2 days at "
            "least"
        )
        return HorizonTrend(q, None, None, None, None, None, len(used), reason)
    centred = at - at.mean()
    pull = centred / (centred @ centred)
    logs = np.array([math.log2(horizons[number].estimate or 1) for number in used])
    slope = float(pull @ logs)
    start = float(logs.mean() + slope * (at.min() - at.mean()))
    samples = np.stack([horizons[number].samples for number in used])
    low = high = None
    if samples.shape[1]:
        finite = np.isfinite(samples).all(axis=0)
        slopes = pull @ np.where(finite, samples, 0.0)
        with np.errstate(divide="ignore"):
            doubling = np.where(slopes > 0, 1 / slopes, math.inf)
        # a sample in which some horizon is no number may be of any growth: it counts
        # against either end
        low = _percentiles(np.where(finite, doubling, -math.inf), level)[0]
        high = _percentiles(np.where(finite, doubling, math.inf), level)[1]
    if slope <= 0:
        return HorizonTrend(
            q, slope, start, None, None, None, len(used), "horizons do not grow"
        )
    return HorizonTrend(q, slope, start, 1 / slope, low, high, len(used), "")
