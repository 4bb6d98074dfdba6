"""What more prompts, levels or draws would make of an interval (statistics.md §27,
"Parts and what to add").

Parts of Var(m) are carried over to another design; parts below 0 count as 0. A forecast
from few levels is rough: it stands with the range that the spread of the levels allows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.facets.conditions import FEWEST_LEVELS
from warehouse.stats.facets.parts import Facets, subsets_of
from warehouse.stats.facets.reach import NOISE_SHARE, FacetReach, half_width
from warehouse.stats.facets.total import TotalError

#: Quantiles of χ² that the range of a forecast is made of.
_RANGE = (0.9, 0.1)
#: Times as many levels, prompts and draws as there are that a search looks at.
MOST_LEVELS, MOST_PROMPTS, MOST_DRAWS = 4, 16, 16


@dataclass(frozen=True)
class Design(NamedFigures):
    """A forecast: an interval's half-width with other numbers."""

    n_prompts: int  #: n'.
    levels: dict[str, int]  #: L' of each random facet.
    n_draws: int  #: K'.
    half_width: float  #: of E3, scaled so that today's numbers give today's interval.
    low: float  #: if the levels vary less than they seem to.
    high: float  #: if they vary more.
    n_answers: int  #: n'·ΠL'·K', of each fixed combination.


@dataclass(frozen=True)
class DesignStudy(NamedFigures):
    """What to add to what was run."""

    now: Design  #: today's numbers.
    designs: tuple[
        Design, ...
    ]  #: each facet with a level more and doubled, prompts and draws doubled.
    wanted: float | None  #: half-width that was asked for.
    cheapest: Design | None  #: of fewest answers that reaches it; None: none does.
    #: half-width that no number of prompts gets below, levels as they are.
    floor: float


@dataclass(frozen=True)
class _Parts:
    """Parts of Var(m) by what they depend on, none below 0."""

    facets: tuple[str, ...]
    counts: Mapping[str, int]
    n_prompts: int
    n_draws: int
    df_prompts: float
    prompts: float
    of_facets: Mapping[Facets, float]
    of_noise: Mapping[Facets, float]  #: without draws.
    draws: float
    v: Mapping[str, float]  #: V_f of each facet.
    raw: Mapping[str, float]  #: part of each facet, below 0 where it came out so.
    level: float


def design_study(
    error: TotalError,
    *,
    n_draws: int = 1,
    wanted: float | None = None,
) -> DesignStudy:
    """Half-widths that other numbers of prompts, levels and draws would give.

    Args:
        error: of `total_error`, of facets that are fully crossed, three levels or more
            each.
        n_draws: draws of each cell now.
        wanted: half-width to look for the cheapest design of.

    Raises:
        StatisticsError: conditions are missing, a facet has two levels, or there is no
            interval.

    Examples:
        >>> from warehouse.stats import total_error
        >>> scores = [[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 0], [0, 1, 0]]
        >>> error = total_error(scores, {"template": ["a", "b", "c"]}, bounds=(0, 1))
        >>> [design.n_answers for design in design_study(error).designs]
        [24, 36, 36]
    """
    parts = _parts_of(error, n_draws)
    low, high = error.ci_low, error.ci_high
    if low is None or high is None:
        raise StatisticsError("there is no interval to compare a design with")
    now = _forecast(parts, parts.n_prompts, dict(parts.counts), n_draws)
    scale = (high - low) / 2 / now.half_width if now.half_width else 1.0
    designs = [
        _scaled(_forecast(parts, *numbers), scale) for numbers in _rows(parts, error)
    ]
    endless = _forecast(parts, 10**9 * parts.n_prompts, dict(parts.counts), n_draws)
    cheapest = None
    if wanted is not None:
        cheapest = _cheapest(parts, wanted, scale)
    return DesignStudy(
        now=_scaled(now, scale),
        designs=tuple(designs),
        wanted=wanted,
        cheapest=cheapest,
        floor=scale * endless.half_width,
    )


def _parts_of(error: TotalError, n_draws: int) -> _Parts:
    if "conditions_missing" in error.flags or "unlinked" in error.flags:
        raise StatisticsError(
            "what to add is not defined where combinations of settings are missing"
        )
    counts = {one.facet: len(one.levels) for one in error.facets}
    few = [name for name, count in counts.items() if count < FEWEST_LEVELS]
    if few:
        raise StatisticsError(
            f"two levels of {', '.join(few)} say nothing of what more would give"
        )
    if error.v_prompts is None or error.df_prompts is None:
        raise StatisticsError("a single prompt or cluster says nothing of others")
    facets = tuple(counts)
    of_facets, of_noise = {}, {}
    for subset in subsets_of(facets):
        of_facets[subset] = max(0.0, error.parts[" x ".join(subset)])
        of_noise[subset] = max(0.0, error.parts[" x ".join(("prompts", *subset))])
    return _Parts(
        facets=facets,
        counts=counts,
        n_prompts=error.n_prompts,
        n_draws=n_draws,
        df_prompts=error.df_prompts,
        prompts=max(0.0, error.parts["prompts"]),
        of_facets=of_facets,
        of_noise=of_noise,
        draws=max(0.0, error.parts.get("draws", 0.0)),
        v={name: error.v[name] for name in facets},
        raw={name: error.parts[name] for name in facets},
        level=error.level,
    )


def _rows(
    parts: _Parts, error: TotalError
) -> Iterator[tuple[int, dict[str, int], int]]:
    counts = dict(parts.counts)
    for name, count in counts.items():
        for more in (count + 1, 2 * count):
            yield parts.n_prompts, counts | {name: more}, parts.n_draws
    yield 2 * parts.n_prompts, counts, parts.n_draws
    if "draws" in error.parts:
        yield parts.n_prompts, counts, 2 * parts.n_draws


def _forecast(
    parts: _Parts, n_prompts: int, levels: dict[str, int], n_draws: int
) -> Design:
    middle = _half_width(parts, n_prompts, levels, n_draws)
    ends = [
        _half_width(_spread_by(parts, quantile), n_prompts, levels, n_draws)
        for quantile in _RANGE
    ]
    answers = n_prompts * math.prod(levels.values()) * n_draws
    return Design(n_prompts, levels, n_draws, middle, min(ends), max(ends), answers)


def _scaled(design: Design, scale: float) -> Design:
    return replace(
        design,
        half_width=scale * design.half_width,
        low=scale * design.low,
        high=scale * design.high,
    )


def _spread_by(parts: _Parts, quantile: float) -> _Parts:
    """The same where each facet's V_f is what its own spread allows."""
    moved = dict(parts.of_facets)
    for name, count in parts.counts.items():
        factor = (count - 1) / float(special.chdtri(count - 1, 1 - quantile))
        raw = parts.raw[name] + (factor - 1) * parts.v[name]
        moved[(name,)] = max(0.0, raw)
    return replace(parts, of_facets=moved)


def _sums(
    of_sets: Mapping[Facets, float], facets: tuple[str, ...]
) -> dict[Facets, float]:
    """Of each set of facets, with the larger ones that hold it."""
    return {
        inner: sum(
            value for outer, value in of_sets.items() if set(inner) <= set(outer)
        )
        for inner in subsets_of(facets)
    }


def _half_width(
    parts: _Parts, n_prompts: int, levels: Mapping[str, int], n_draws: int
) -> float:
    of_prompts = parts.n_prompts / n_prompts
    of_draws = parts.n_draws / n_draws
    of_facets, of_noise = {}, {}
    for subset in subsets_of(parts.facets):
        ratio = math.prod(parts.counts[name] / levels[name] for name in subset)
        of_facets[subset] = parts.of_facets[subset] * ratio
        of_noise[subset] = parts.of_noise[subset] * ratio * of_prompts
    every = math.prod(parts.counts[name] / levels[name] for name in parts.facets)
    of_noise[parts.facets] += parts.draws * every * of_prompts * of_draws
    r = _sums(of_noise, parts.facets)
    clean = _sums(of_facets, parts.facets)
    v = {subset: clean[subset] + r[subset] for subset in r}
    v_all = _alternating(v)
    r_all = _alternating(r)
    reach = _reach(v, r, v_all, r_all, levels)
    v_prompts = parts.prompts * of_prompts + r_all
    df = (parts.df_prompts + 1) * n_prompts / parts.n_prompts - 1
    return half_width(v_prompts, df, r_all, reach, parts.level)


def _alternating(of_sets: Mapping[Facets, float]) -> float:
    total = 0.0
    for subset, value in of_sets.items():
        total += value if len(subset) % 2 else -value
    return total


def _reach(
    v: Mapping[Facets, float],
    r: Mapping[Facets, float],
    v_all: float,
    r_all: float,
    levels: Mapping[str, int],
) -> FacetReach:
    singles = []
    for name, count in levels.items():
        spread = max(0.0, v[(name,)] - NOISE_SHARE * r[(name,)])
        singles.append((spread, count - 1))
    fewest = min(levels.values()) - 1
    if len(singles) == 1:
        return FacetReach(tuple(singles), None, fewest)
    joint = max(v_all - NOISE_SHARE * r_all, max(spread for spread, _ in singles))
    of_joint = 0.0
    for subset, value in v.items():
        of_joint += value**2 / math.prod(levels[name] - 1 for name in subset)
    df = max(float(fewest), joint**2 / of_joint) if of_joint > 0 else float(fewest)
    return FacetReach(tuple(singles), joint, df)


def _cheapest(parts: _Parts, wanted: float, scale: float) -> Design | None:
    """Of all numbers of levels and draws within reach the fewest answers, prompts as
    many as each needs."""
    choices: Sequence[range] = [
        range(count, MOST_LEVELS * count + 1) for count in parts.counts.values()
    ]
    draws = [parts.n_draws]
    if parts.draws > 0:
        draws = [parts.n_draws * times for times in (1, 2, 4, 8, MOST_DRAWS)]
    best: Design | None = None
    for numbers in product(*choices):
        levels = dict(zip(parts.facets, numbers, strict=True))
        for n_draws in draws:
            n_prompts = _prompts_for(parts, levels, n_draws, wanted / scale)
            if n_prompts is None:
                continue
            answers = n_prompts * math.prod(numbers) * n_draws
            if best is None or answers < best.n_answers:
                best = _forecast(parts, n_prompts, levels, n_draws)
    return None if best is None else _scaled(best, scale)


def _prompts_for(
    parts: _Parts, levels: Mapping[str, int], n_draws: int, wanted: float
) -> int | None:
    """The fewest prompts, not fewer than there are, that reach a half-width."""
    low, high = parts.n_prompts, MOST_PROMPTS * parts.n_prompts
    if _half_width(parts, high, levels, n_draws) > wanted:
        return None
    while low < high:
        middle = (low + high) // 2
        if _half_width(parts, middle, levels, n_draws) <= wanted:
            high = middle
        else:
            low = middle + 1
    return high
