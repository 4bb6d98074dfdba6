"""Do runs that claim one condition look like repeats of it? (statistics.md §20 C)

Cochran's Q for scores of any kind and prompts that not all runs have: with D_r the sum
over prompts of run r's score less the mean of the runs that have the prompt, Q = Dᵀ Σ⁺
D is χ² with R − 1 degrees of freedom where runs differ by draws alone. At .001 its size
over 80 cells was .0007 on average, .0015 at most. A pass is no proof: two settings five
points apart pass more often than not at 1 000 prompts unless difficulty is spread out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import (
    TIE,
    Bounds,
    FloatArray,
    as_clusters,
    as_floats,
    finite_bounds,
)
from warehouse.stats.core.quantiles import SMALLEST_P
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.intervals.closed_form import interval_clopper_pearson
from warehouse.stats.paired.sign_flip import binomial_p_value

#: p up to which runs are no mere draws of one another: the interval is widened, or the
#: runs are told apart.
DOUBTFUL, DIFFERENT = 0.01, 0.001
#: Share of the metric's range by which means must differ for runs to be told apart.
LEAST_SPREAD = 0.02
#: Prompts that differ between two runs below which p cannot reach .001.
FEWEST_DIFFERING = 11
POOLED, WIDENED, SPLIT = "pooled", "widened", "split"
VERDICTS = (POOLED, WIDENED, SPLIT)
# Share of the largest variance below which that of a direction is rounding.
_SINGULAR = 1e-10


@dataclass(frozen=True)
class RepeatsTest(NamedFigures):
    """Whether R runs differ by more than draws of the same prompts do."""

    #: of Cochran's Q, or of McNemar's exact test; 1 where no score differs.
    p_value: float
    statistic: float | None  #: Q; None with McNemar's test, and where no score differs.
    degrees_of_freedom: int  #: R − 1.
    n_runs: int  #: R.
    n_prompts: int  #: prompts that two runs have at least (with clusters: all runs).
    n_differ: int  #: prompts among them on which runs differ.
    #: of each run on these prompts; NaN for a run that has none.
    means: tuple[float, ...]
    spread: float  #: largest less smallest of ``means``.
    method: str  #: ``"cochran_q"``, ``"cochran_q_clustered"``, ``"mcnemar_exact"`` or ``"no_difference"``.
    verdict: str  #: ``"pooled"`` (draws of the same prompts), ``"widened"`` (runs count like seeds) or ``"split"``.
    #: ``repeats_doubtful``, ``repeats_differ``, ``too_few_to_tell``.
    flags: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"p={self.p_value:.3g} ({self.method}, {self.n_runs} runs, {self.n_differ} "
            f"of {self.n_prompts} differ)"
        )


def repeats_test(
    runs: ArrayLike, *, clusters: ArrayLike | None = None, bounds: Bounds | None = None
) -> RepeatsTest:
    """Whether runs of one condition differ by more than draws do.

    Args:
        runs: mean score of each run on each prompt, NaN where it has none, shape (R,
            n), R at least 2. Draws of one run by their position are taken the same way.
        clusters: cluster of each prompt, integers or strings, shape (n,), or None. With
            clusters only prompts that all runs have count, and their sums by cluster.
        bounds: smallest and largest possible score, for what spread of the means is
            small; None where unknown.

    Raises:
        StatisticsError: another shape, infinite scores, fewer than two runs.

    Examples:
        >>> print(repeats_test([[1, 1, 0, 1], [1, 0, 0, 1]], bounds=(0, 1)))
        p=1 (mcnemar_exact, 2 runs, 1 of 4 differ)
    """
    table = _as_runs(runs)
    scored = np.isfinite(table)
    least, groups = 2, None
    if clusters is not None:
        least = len(table)
    kept = scored.sum(axis=0) >= least
    table = table[:, kept]
    if clusters is not None:
        groups = np.asarray(clusters)[kept]
    means = _means(table)
    n_differ = _n_differ(table)
    p, statistic, method = _tested(table, groups, n_differ)
    spread = 0.0
    if n_differ:
        spread = max(means) - min(means)
    verdict = repeats_verdict(p, spread, bounds)
    return RepeatsTest(
        p_value=p,
        statistic=statistic,
        degrees_of_freedom=len(table) - 1,
        n_runs=len(table),
        n_prompts=table.shape[1],
        n_differ=n_differ,
        means=means,
        spread=spread,
        method=method,
        verdict=verdict,
        flags=flags_of(
            repeats_doubtful=DIFFERENT < p <= DOUBTFUL,
            repeats_differ=p <= DIFFERENT,
            too_few_to_tell=len(table) == 2 and n_differ < FEWEST_DIFFERING,
        ),
    )


def repeats_verdict(p_value: float, spread: float, bounds: Bounds | None = None) -> str:
    """What becomes of runs that claim one condition: ``pooled``, ``widened`` or
    ``split``.

    Args:
        p_value: of `repeats_test`.
        spread: largest less smallest mean of the runs.
        bounds: of the metric; where unknown, runs are never split.
    """
    if p_value > DOUBTFUL:
        return POOLED
    limits = finite_bounds(bounds)
    if (
        p_value > DIFFERENT
        or limits is None
        or spread < LEAST_SPREAD * (limits[1] - limits[0])
    ):
        return WIDENED
    return SPLIT


def _as_runs(runs: ArrayLike) -> FloatArray:
    table = as_floats(runs, "runs")
    if table.ndim != 2 or len(table) < 2:
        raise StatisticsError(
            "`runs` must be runs x prompts with two runs at least, found shape "
            f"{table.shape}"
        )
    if np.isinf(table).any():
        row, column = np.argwhere(np.isinf(table))[0]
        raise StatisticsError(
            f"`runs` holds infinite scores (first: run {row}, prompt {column})"
        )
    return table


def _means(table: FloatArray) -> tuple[float, ...]:
    scored = np.isfinite(table)
    sums = np.where(scored, table, 0.0).sum(axis=1)
    counts = scored.sum(axis=1)
    means = np.divide(sums, counts, out=np.full(len(table), np.nan), where=counts > 0)
    return tuple(means.tolist())


def _n_differ(table: FloatArray) -> int:
    """Prompts on which runs differ by more than rounding."""
    if not table.shape[1]:
        return 0
    scale = max(float(np.nanmax(np.abs(table))), 1e-300)
    return int(
        (np.nanmax(table, axis=0) - np.nanmin(table, axis=0) > TIE * scale).sum()
    )


def _tested(
    table: FloatArray, groups: ArrayLike | None, n_differ: int
) -> tuple[float, float | None, str]:
    """p, the statistic and the test's name."""
    if not n_differ:
        return 1.0, None, "no_difference"
    if groups is not None:
        return _clustered(table, groups)
    scored = np.isfinite(table)
    values = table[scored]
    if len(table) == 2 and bool(((values == 0) | (values == 1)).all()):
        better = int((table[0] > table[1]).sum())
        worse = int((table[1] > table[0]).sum())
        return binomial_p_value(better, worse), None, "mcnemar_exact"
    has = scored.astype(np.float64)
    m = has.sum(axis=0)
    filled = np.where(scored, table, 0.0)
    centred = np.where(scored, table - filled.sum(axis=0) / m, 0.0)
    variances = (centred**2).sum(axis=0) / (m - 1)
    sums = centred.sum(axis=1)
    covariance = np.diag(has @ variances) - (has * (variances / m)) @ has.T
    sizes, directions = np.linalg.eigh(covariance)
    # the sums add to 0, so one direction has none
    kept = sizes > _SINGULAR * sizes.max()
    along = (directions.T @ sums)[kept]
    statistic = float((along**2 / sizes[kept]).sum())
    return _chi_squared(statistic, int(kept.sum())), statistic, "cochran_q"


def _clustered(table: FloatArray, groups: ArrayLike) -> tuple[float, float | None, str]:
    """Σ = ΣT²/(R−1)·(I − 11ᵀ/R), T the sums by run and cluster: of sums that add to 0,
    Q = ΣD²·(R−1)/ΣT²."""
    clusters = as_clusters(groups, table.shape[1])
    centred = table - table.mean(axis=0)
    totals = np.array([clusters.sums(row) for row in centred])
    squares = float((totals**2).sum())
    if squares <= (TIE * float(np.abs(centred).sum())) ** 2:
        return 1.0, None, "no_difference"
    sums = totals.sum(axis=1)
    statistic = float(sums @ sums) * (len(table) - 1) / squares
    return _chi_squared(statistic, len(table) - 1), statistic, "cochran_q_clustered"


def _chi_squared(statistic: float, df: int) -> float:
    """P(χ²_df ≥ statistic)."""
    return max(float(special.chdtrc(df, statistic)), SMALLEST_P)


#: What gave a score, by how a change of it on an equal response is judged.
DETERMINISTIC, JUDGE = "deterministic", "judge"
_FEWEST_CHANGED, _LEAST_SHARE = 3, 0.02


@dataclass(frozen=True)
class EqualResponses(NamedFigures):
    """Responses that two runs share word for word, and how many of them have another
    score."""

    n_equal: int  #: pairs of equal responses.
    n_differ: int  #: of these with another score.
    share: float | None  #: of these; None without any pair. Of a judge its flip rate.
    share_low: float | None  #: lower end of the Clopper–Pearson interval of the share.
    share_high: float | None  #: upper end of it.
    #: of a judge: exact sign test of which run it scored higher; else None.
    p_value: float | None
    scored_differently: bool  #: two scorers: the runs are no draws of one another.
    #: ``scored_differently``, or ``some_scored_differently`` where a few are.
    flags: tuple[str, ...]


def equal_responses(
    n_equal: int,
    n_differ: int,
    *,
    scorer: str = DETERMINISTIC,
    n_up: int = 0,
    n_down: int = 0,
    level: float = 0.95,
) -> EqualResponses:
    """Whether equal responses with other scores mean two scorers.

    A matcher, exact match or the execution of code scores equal responses alike: three
    that it does not, and a share above .02 for certain, are two scorers. A judge may
    change its mind; it is two judges only where one run is scored higher throughout (p
    ≤ .001).

    Args:
        n_equal: pairs of draws of one prompt, of two runs, with equal responses that
            are not empty and equal targets.
        n_differ: of these with scores that differ by more than 1e-9.
        scorer: ``deterministic`` or ``judge``.
        n_up: of a judge: pairs that the first run has the higher score of.
        n_down: pairs that the second has it of.
        level: of the interval of the share.

    Raises:
        StatisticsError: counts out of range, or another scorer.

    Examples:
        >>> equal_responses(412, 37).flags
        ('scored_differently',)
        >>> equal_responses(500, 2).flags
        ('some_scored_differently',)
    """
    if scorer not in (DETERMINISTIC, JUDGE):
        raise StatisticsError(
            f"`scorer` must be {DETERMINISTIC!r} or {JUDGE!r}, found {scorer!r}"
        )
    if not 0 <= n_differ <= n_equal:
        raise StatisticsError(
            f"`n_differ` must lie between 0 and n_equal = {n_equal}, found {n_differ}"
        )
    if not n_equal:
        return EqualResponses(0, 0, None, None, None, None, False, ())
    interval = interval_clopper_pearson(n_differ, n_equal, level=level)
    p_value = None
    is_split = n_differ >= _FEWEST_CHANGED and interval.low > _LEAST_SHARE
    if scorer == JUDGE:
        p_value = binomial_p_value(n_up, n_down)
        is_split = p_value <= DIFFERENT
    return EqualResponses(
        n_equal=n_equal,
        n_differ=n_differ,
        share=n_differ / n_equal,
        share_low=interval.low,
        share_high=interval.high,
        p_value=p_value,
        scored_differently=is_split,
        flags=flags_of(
            scored_differently=is_split,
            some_scored_differently=not is_split
            and scorer == DETERMINISTIC
            and n_differ > 0,
        ),
    )


@dataclass(frozen=True)
class GreedyRepeats(NamedFigures):
    """Repeats of a run without sampling, that should be equal."""

    n_prompts: int  #: prompts that two runs have at least.
    n_differ: int  #: of these scored otherwise by some run.
    flags: tuple[str, ...]  #: ``greedy_differs``.


def greedy_repeats(test: RepeatsTest, temperature: float | None) -> GreedyRepeats:
    """Whether repeats at temperature 0 (or with sampling off) differ at all; the
    verdict is by p all the same.

    Args:
        test: of the repeats.
        temperature: of all of them; None where unknown: nothing is said then.
    """
    greedy = temperature is not None and math.isclose(temperature, 0.0, abs_tol=TIE)
    return GreedyRepeats(
        test.n_prompts,
        test.n_differ,
        flags_of(greedy_differs=greedy and test.n_differ > 0),
    )
