"""The error of a figure that counts other settings too: templates, judges, backends.

Estimands and formulas: statistics.md §27. The figure is the mean over prompts and over
the conditions there are, all alike. *Prompts* (E2) counts other prompts; *prompts and
settings* (E3) counts other levels of the random facets as well; *other setting* (E4)
says where a single other run on the same prompts would land. E3 needs three levels of a
facet: with fewer it is named as not in the error. Coverage of E3 over the cells that
were simulated: .939 to .999.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Bounds,
    FloatArray,
    as_floats,
    as_level,
    check_within,
    finite_bounds,
)
from warehouse.stats.core.quantiles import t_quantile, z_quantile
from warehouse.stats.core.results import Interval, NamedFigures, ends_text, flags_of
from warehouse.stats.facets.conditions import (
    Combinations,
    Levels,
    Roles,
    combine,
    roles_of,
)
from warehouse.stats.facets.fit import ConditionFit, as_table, fit_conditions
from warehouse.stats.facets.parts import (
    FacetParts,
    Facets,
    facet_parts,
    subsets_of,
    variance_parts,
)
from warehouse.stats.facets.reach import FacetReach, facet_reach, half_width
from warehouse.stats.intervals.closed_form import (
    interval_wilson,
    interval_wilson_bounded,
)
from warehouse.stats.intervals.estimate_mean import estimate_mean
from warehouse.stats.rows.seed_fit import squared_error
from warehouse.stats.rows.seed_row import interval_over_parts

Number = TypeVar("Number", int, float)

#: Times the interval of the prompts from which on more prompts do not help.
DOMINATING = 2.0
#: Levels from which on a single other run can be foretold.
FEWEST_TO_FORETELL = 3


@dataclass(frozen=True)
class FacetLevels(NamedFigures):
    """The levels of one random facet."""

    facet: str  #: its name.
    levels: tuple[Hashable, ...]  #: its levels, in the order in which they came.
    means: tuple[float, ...]  #: figure of each, as if it had every prompt.


@dataclass(frozen=True)
class TotalError(NamedFigures):
    """A figure with its error by prompts, and by prompts and settings."""

    estimate: float  #: mean over prompts and conditions, all alike.
    n_prompts: int  #: prompts with a score in some condition that counts.
    n_clusters: int | None  #: clusters among them; None without.
    n_conditions: int  #: conditions that count.
    facets: tuple[FacetLevels, ...]  #: the random facets.
    fixed: tuple[str, ...]  #: facets that were averaged over.
    nested: tuple[str, ...]  #: random facets within another, whose spread holds theirs.
    #: facets that were asked for, with too few levels, and how many they have.
    not_in_error: tuple[tuple[str, int], ...]
    left_out: tuple[
        int, ...
    ]  #: conditions that do not count: not run in all fixed ones.
    standard_error: float | None  #: of E3: sqrt(max(V_I, sum of the parts above 0)).
    standard_error_prompts: float | None  #: of E2: sqrt(V_I).
    ci_low: float | None  #: lower end of E3.
    ci_high: float | None  #: upper end of E3.
    prompts_low: float | None  #: lower end of E2, today's interval.
    prompts_high: float | None  #: upper end of E2.
    other_low: float | None  #: lower end of E4; None with fewer than 3 levels, or gaps.
    other_high: float | None  #: upper end of E4.
    level: float  #: nominal coverage of the three.
    v_prompts: float | None  #: V_I.
    df_prompts: float | None  #: ν_I.
    v: dict[str, float]  #: V_A by facets.
    r: dict[str, float]  #: R_A by facets.
    df: dict[str, int]  #: df_A by facets.
    v_all: float  #: V_F.
    r_all: float  #: R_F.
    t: float  #: T, at ``level``.
    df_facets: float  #: ν_W, or L − 1 of a single facet.
    parts: dict[str, float]  #: what Var(m) is made of; some may be below 0.
    flags: tuple[
        str, ...
    ]  #: ``two_levels``, ``settings_dominate``, ``conditions_missing``, ``unlinked``.

    def __str__(self) -> str:
        ends = "no interval"
        if self.ci_low is not None and self.ci_high is not None:
            ends = ends_text(self.ci_low, self.ci_high)
        names = ", ".join(f"{len(one.levels)} {one.facet}" for one in self.facets)
        return f"{self.estimate:.4g} {ends} (n={self.n_prompts}, {names})"

    @property
    def shares(self) -> dict[str, float]:
        """Share of each part in the sum of those above 0."""
        above = {name: max(0.0, value) for name, value in self.parts.items()}
        total = sum(above.values())
        if not total:
            return dict.fromkeys(above, math.nan)
        return {name: value / total for name, value in above.items()}


@dataclass(frozen=True)
class Fitted:
    """What the intervals of a table are made of."""

    mean: float
    values: FloatArray  #: m + z_i: what the figure of each prompt is, shape (n,).
    v_prompts: float | None
    df_prompts: float | None
    clusters: ArrayLike | None  #: of the prompts that count.
    fit: ConditionFit
    roles: Roles
    combined: Combinations
    parts: FacetParts
    reach: FacetReach
    draws: float | None


def total_error(
    cells: ArrayLike,
    levels: Levels,
    *,
    over: Sequence[str] | None = None,
    clusters: ArrayLike | None = None,
    bounds: Bounds | None = None,
    level: float = 0.95,
    two_levels: bool = False,
    variances: ArrayLike | None = None,
    n_draws: ArrayLike | None = None,
    method: str = "auto",
) -> TotalError:
    """The mean over prompts and conditions, with the error that counts other settings.

    Args:
        cells: mean score over draws of each prompt in each condition, NaN where there is
            none, shape (n, J).
        levels: of each facet (by name) the level of each condition, J of them.
        over: facets that are a sample of their kind, at most three; None: all. The
            others are averaged over.
        clusters: cluster of each prompt, integers or strings, shape (n,), or None.
        bounds: smallest and largest possible score; None or an infinite end for none.
        level: nominal coverage, in (0, 1).
        two_levels: take facets of two levels as random too: t with one degree of
            freedom.
        variances: variance of the draws within each cell, shape (n, J), NaN where it
            has fewer than two; with ``n_draws``, for the part of the draws.
        n_draws: draws of each cell, shape (n, J).
        method: of the interval of the prompts, as of `estimate_mean`.

    Raises:
        StatisticsError: another shape, infinite scores, facets with too few levels, more
            than three random facets, conditions or facets that cannot be told apart.

    Examples:
        >>> scores = [[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 0], [0, 1, 0]]
        >>> print(total_error(scores, {"template": ["a", "b", "c"]}, bounds=(0, 1)))
        0.5 [0.03851, 0.9615] (n=6, 3 template)
    """
    level, limits = as_level(level), finite_bounds(bounds)
    fitted = fit_table(
        cells, levels, over, clusters, limits, two_levels, variances, n_draws
    )
    return error_of(fitted, limits, level, method)


def error_of(
    fitted: Fitted,
    limits: tuple[float, float] | None,
    level: float,
    method: str = "auto",
) -> TotalError:
    """The error of a fit, as of `total_error`.

    Args:
        fitted: of `fit_table`.
        limits: bounds of the scores, or None.
    """
    parts = fitted.parts
    made_of: dict[str, float] = {}
    error = None
    if fitted.v_prompts is not None:
        made_of = variance_parts(parts, fitted.v_prompts, fitted.draws)
        above = sum(max(0.0, value) for value in made_of.values())
        error = math.sqrt(max(fitted.v_prompts, above)) or None
    of_prompts = _interval_of_prompts(fitted, limits, level, method)
    interval = _interval(fitted, of_prompts, limits, level)
    other = _other_setting(fitted, limits, level)
    return TotalError(
        estimate=fitted.mean,
        n_prompts=fitted.fit.n_prompts,
        n_clusters=None if fitted.fit.clusters is None else fitted.fit.clusters.n,
        n_conditions=len(fitted.combined.kept),
        facets=_levels_of(fitted),
        fixed=tuple(
            name for name in fitted.roles.fixed if name not in dict(_short(fitted))
        ),
        nested=fitted.combined.nested,
        not_in_error=fitted.roles.not_in_error,
        left_out=tuple(int(condition) for condition in fitted.combined.left_out),
        standard_error=error,
        standard_error_prompts=_root(fitted.v_prompts),
        ci_low=None if interval is None else interval.low,
        ci_high=None if interval is None else interval.high,
        prompts_low=None if of_prompts is None else of_prompts.low,
        prompts_high=None if of_prompts is None else of_prompts.high,
        other_low=None if other is None else other.low,
        other_high=None if other is None else other.high,
        level=level,
        v_prompts=fitted.v_prompts,
        df_prompts=fitted.df_prompts,
        v=_named(parts.v),
        r=_named(parts.r),
        df=_named(parts.df),
        v_all=parts.v_all,
        r_all=parts.r_all,
        t=fitted.reach.squared(level),
        df_facets=fitted.reach.df,
        parts=made_of,
        flags=_flags(fitted, interval, of_prompts),
    )


def fit_table(
    cells: ArrayLike,
    levels: Levels,
    over: Sequence[str] | None,
    clusters: ArrayLike | None,
    limits: tuple[float, float] | None,
    two_levels: bool = False,
    variances: ArrayLike | None = None,
    n_draws: ArrayLike | None = None,
) -> Fitted:
    """The fit of a table with its parts, as of `total_error`."""
    table = as_table(cells)
    for name, of_facet in levels.items():
        if len(of_facet) != table.shape[1]:
            raise StatisticsError(
                f"facet {name}: {len(of_facet)} levels for {table.shape[1]} conditions"
            )
    if limits is not None:
        check_within(table[np.isfinite(table)], limits)
    roles = roles_of(levels, over, two_levels)
    combined = combine(levels, roles)
    table = table[:, combined.kept]
    has_any = np.asarray(np.isfinite(table).any(axis=1))
    if not has_any.any() or not np.isfinite(table).any(axis=0).all():
        raise StatisticsError("`cells`: a condition has no score; leave it out")
    table = table[has_any]
    of_prompts = None if clusters is None else np.asarray(clusters)[has_any]
    fit = fit_conditions(table, of_prompts)
    if fit.is_unlinked and len(combined.facets) > 1:
        raise StatisticsError(
            "conditions share no prompts: then only one facet can be random"
        )
    parts = facet_parts(fit.condition_parts, fit.noise, combined)
    weights = combined.average.T @ parts.weights
    if fit.is_unlinked:
        values = fit.prompt_parts
        v_prompts: float | None = parts.r_all
        df_prompts: float | None = float(len(table) - table.shape[1])
    else:
        moved = fit.residuals @ (fit.inverse @ (weights - fit.shares))
        values = fit.prompt_parts + fit.n_prompts * moved
        values = values + float(weights @ fit.condition_parts)
        _, v_prompts, df_prompts = squared_error(values, of_prompts, None)
    two = [
        name
        for name, count in zip(combined.facets, combined.counts, strict=True)
        if count == 2
    ]
    return Fitted(
        mean=float(values.mean()),
        values=values,
        v_prompts=v_prompts,
        df_prompts=df_prompts,
        clusters=of_prompts,
        fit=fit,
        roles=roles,
        combined=combined,
        parts=parts,
        reach=facet_reach(parts, two),
        draws=_draws(table, has_any, combined, variances, n_draws),
    )


def _draws(
    table: FloatArray,
    has_any: NDArray[np.bool_],
    combined: Combinations,
    variances: ArrayLike | None,
    n_draws: ArrayLike | None,
) -> float | None:
    """What draws alone make of Var(m); cells of one draw are taken to vary as others
    do on average."""
    if variances is None or n_draws is None:
        return None
    scored = np.isfinite(table)
    within = as_floats(variances, "variances")[has_any][:, combined.kept]
    counts = as_floats(n_draws, "n_draws")[has_any][:, combined.kept]
    is_known = np.isfinite(within) & scored
    if not is_known.any():
        return None
    filled = np.where(is_known, within, within[is_known].mean())
    cells_of_prompt = scored.sum(axis=1)
    of_cells = filled[scored] / counts[scored]
    of_cells /= np.broadcast_to(cells_of_prompt[:, None], table.shape)[scored] ** 2
    return float(of_cells.sum()) / len(table) ** 2


def _interval_of_prompts(
    fitted: Fitted, limits: tuple[float, float] | None, level: float, method: str
) -> Interval | None:
    """E2: the default interval of the figures of the prompts; where gaps bring one
    beyond the bounds, Wilson's."""
    if fitted.v_prompts is None or fitted.df_prompts is None:
        return None
    if limits is None:
        reach = t_quantile(level, fitted.df_prompts) * math.sqrt(fitted.v_prompts)
        return Interval(fitted.mean - reach, fitted.mean + reach, level, "t")
    low, high = limits
    tolerance = 1e-9 * (high - low)
    inside = fitted.values.min() >= low - tolerance
    inside = inside and fitted.values.max() <= high + tolerance
    if not inside or fitted.fit.is_unlinked:
        return interval_wilson_bounded(
            fitted.mean,
            math.sqrt(fitted.v_prompts),
            fitted.df_prompts,
            bounds=limits,
            level=level,
        )
    default = estimate_mean(
        np.clip(fitted.values, low, high),
        clusters=fitted.clusters,
        bounds=limits,
        n_draws=len(fitted.combined.kept),
        level=level,
        method=method,
    )
    if default.ci_low is None or default.ci_high is None:
        return None
    return Interval(default.ci_low, default.ci_high, level, default.method)


def _interval(
    fitted: Fitted,
    of_prompts: Interval | None,
    limits: tuple[float, float] | None,
    level: float,
) -> Interval | None:
    """E3."""
    if of_prompts is None or fitted.v_prompts is None or fitted.df_prompts is None:
        return None
    r_all = fitted.parts.r_all
    if limits is None:
        reach = half_width(
            fitted.v_prompts, fitted.df_prompts, r_all, fitted.reach, level
        )
        return Interval(fitted.mean - reach, fitted.mean + reach, level, "settings")
    of_facets = wilson_reach(fitted.mean, fitted.reach.squared(level), limits, level)
    if of_facets is None:
        return of_prompts
    share = 0.0
    if fitted.v_prompts > 0:
        share = max(0.0, 1 - r_all / fitted.v_prompts)
    return interval_over_parts(fitted.mean, of_prompts, share, of_facets, limits)


def wilson_reach(
    mean: float, squared: float, limits: tuple[float, float], level: float
) -> tuple[float, float] | None:
    """From a mean to both ends of Wilson's interval whose squared half-width in the
    middle of the scale is T; None where there is nothing to add.

    Args:
        mean: within the bounds.
        squared: T.
        limits: bounds of the scores.
    """
    low, width = limits[0], limits[1] - limits[0]
    share = (mean - low) / width
    t = squared / width**2
    if not 0 < share < 1 or t <= 0:
        return None
    n = share * (1 - share) * z_quantile(level) ** 2 / t
    unit = interval_wilson(share * n, n, level=level)
    return width * (share - unit.low), width * (unit.high - share)


def _other_setting(
    fitted: Fitted, limits: tuple[float, float] | None, level: float
) -> Interval | None:
    """E4: where one other combination of levels would land on these prompts."""
    parts = fitted.parts
    if not parts.is_full or min(parts.counts) < FEWEST_TO_FORETELL:
        return None
    if fitted.fit.is_unlinked:
        return None
    by_name = dict(zip(parts.facets, parts.counts, strict=True))
    weighted = {}
    for outer in subsets_of(parts.facets):
        coefficient = 0.0
        for inner in subsets_of(outer):
            sign = -1 if (len(outer) - len(inner)) % 2 else 1
            coefficient += sign * (math.prod(by_name[name] for name in inner) + 1)
        weighted[outer] = coefficient * parts.v[outer]
    largest, reach = 0.0, 0.0
    for _, count, v, _ in parts.singles():
        largest = max(largest, v * (count + 1))
        reach = max(reach, t_quantile(level, count - 1) ** 2 * v * (count + 1))
    spread = max(sum(weighted.values()), largest)
    of_spread = sum(v**2 / parts.df[facets] for facets, v in weighted.items())
    df = float(parts.fewest_df)
    if of_spread > 0:
        df = max(df, spread**2 / of_spread)
    half = math.sqrt(max(t_quantile(level, df) ** 2 * spread, reach))
    low, high = fitted.mean - half, fitted.mean + half
    if limits is not None:
        low, high = max(low, limits[0]), min(high, limits[1])
    return Interval(low, high, level, "other_setting")


def _levels_of(fitted: Fitted) -> tuple[FacetLevels, ...]:
    combined = fitted.combined
    found = []
    for name, levels in zip(combined.facets, combined.levels, strict=True):
        added = fitted.parts.levels[name]
        means = tuple(float(fitted.mean + part) for part in added)
        found.append(FacetLevels(name, levels, means))
    return tuple(found)


def _short(fitted: Fitted) -> tuple[tuple[str, int], ...]:
    """Facets that have one level only: nothing was averaged."""
    return tuple((name, n) for name, n in fitted.roles.not_in_error if n == 1)


def _named(of_facets: Mapping[Facets, Number]) -> dict[str, Number]:
    return {" x ".join(facets): value for facets, value in of_facets.items()}


def _root(squared: float | None) -> float | None:
    if not squared:
        return None
    return math.sqrt(squared)


def _flags(
    fitted: Fitted, interval: Interval | None, of_prompts: Interval | None
) -> tuple[str, ...]:
    dominate = False
    if interval is not None and of_prompts is not None:
        width = of_prompts.high - of_prompts.low
        dominate = interval.high - interval.low > DOMINATING * width
    return flags_of(
        two_levels=2 in fitted.parts.counts,
        settings_dominate=dominate,
        conditions_missing=not fitted.parts.is_full,
        unlinked=fitted.fit.is_unlinked,
    )
