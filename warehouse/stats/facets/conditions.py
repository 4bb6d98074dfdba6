"""Which conditions of a table count, and how they are averaged to combinations of the
facets that are random.

A condition is one combination of settings. Its facets are random (taken as a sample of
their kind) or fixed (averaged over, all levels alike). See statistics.md §27, "Facets
and rows" and step 2.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray

#: Random facets at most.
MOST_FACETS = 3
#: Levels from which on a facet can be taken as random.
FEWEST_LEVELS = 3

Levels = Mapping[str, Sequence[Hashable]]


@dataclass(frozen=True)
class Roles:
    """What each facet of a table is taken as."""

    random: tuple[str, ...]  #: taken as a sample of their kind.
    fixed: tuple[str, ...]  #: averaged over.
    #: asked for as random, and not in the error for want of levels, with the number of
    #: their levels.
    not_in_error: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Combinations:
    """The conditions that count, and how they make combinations of the random facets."""

    facets: tuple[str, ...]  #: random facets whose levels make the combinations.
    #: random facets that lie within another, each level of them in one level of it;
    #: their spread is in that of the other.
    nested: tuple[str, ...]
    levels: tuple[tuple[Hashable, ...], ...]  #: of each of ``facets``.
    kept: NDArray[np.intp]  #: conditions that count.
    left_out: NDArray[np.intp]  #: those without some fixed combination.
    #: level of each facet in each combination, shape (J', k).
    codes: NDArray[np.intp]
    #: C: weight of each condition that counts in each combination, shape (J', J).
    average: FloatArray

    @property
    def counts(self) -> tuple[int, ...]:
        """L of each facet."""
        return tuple(len(levels) for levels in self.levels)

    @property
    def is_full(self) -> bool:
        """Whether every combination of levels is there."""
        return len(self.codes) == int(np.prod(self.counts))


def roles_of(
    levels: Levels, over: Sequence[str] | None, two_levels: bool = False
) -> Roles:
    """What each facet is taken as.

    Args:
        levels: of each facet, the level of each condition.
        over: facets that are to be random; None: all.
        two_levels: a facet of two levels may be random.

    Raises:
        StatisticsError: an unknown facet, no facet with enough levels, or more than
            three.
    """
    wanted = tuple(levels) if over is None else tuple(dict.fromkeys(over))
    unknown = [name for name in wanted if name not in levels]
    if unknown:
        raise StatisticsError(
            f"no facet {', '.join(unknown)}; there are: {', '.join(levels)}"
        )
    fewest = 2 if two_levels else FEWEST_LEVELS
    random, short = [], []
    for name in wanted:
        n_levels = len(set(levels[name]))
        if n_levels < fewest:
            short.append((name, n_levels))
        else:
            random.append(name)
    if not random:
        found = ", ".join(f"{name} ({count})" for name, count in short)
        raise StatisticsError(
            f"too few levels to say what others would give: {found or 'no facet'}; "
            f"{FEWEST_LEVELS} are needed, or 2 with two_levels=True"
        )
    if len(random) > MOST_FACETS:
        raise StatisticsError(
            f"{len(random)} facets are random ({', '.join(random)}); at most "
            f"{MOST_FACETS} can be: fix some"
        )
    fixed = tuple(name for name in levels if name not in random)
    return Roles(tuple(random), fixed, tuple(short))


def combine(levels: Levels, roles: Roles) -> Combinations:
    """The conditions that count, averaged over fixed facets.

    A combination of random levels counts only if all combinations of the fixed facets
    are there.

    Raises:
        StatisticsError: facets that name the same conditions, a random facet within a
            fixed one, or no combination that counts.
    """
    _check_not_within_fixed(levels, roles)
    nested = tuple(name for name in roles.random if _parent(name, levels, roles.random))
    facets = tuple(name for name in roles.random if name not in nested)
    kept = _complete(levels, roles)
    n_conditions = len(next(iter(levels.values())))
    left_out = np.setdiff1d(np.arange(n_conditions), kept)
    if not len(kept):
        raise StatisticsError(
            f"no combination of {', '.join(facets)} was run in all of "
            f"{', '.join(roles.fixed)}"
        )
    coded = []
    names = []
    for name in facets:
        of_facet, codes = _coded([levels[name][condition] for condition in kept])
        names.append(of_facet)
        coded.append(codes)
    found, which = np.unique(np.stack(coded, axis=1), axis=0, return_inverse=True)
    which = which.reshape(-1)
    average = np.zeros((len(found), len(kept)))
    average[which, np.arange(len(kept))] = 1
    average /= average.sum(axis=1, keepdims=True)
    return Combinations(facets, nested, tuple(names), kept, left_out, found, average)


def _coded(values: list[Hashable]) -> tuple[tuple[Hashable, ...], NDArray[np.intp]]:
    """Levels in the order in which they come, and the number of each value's."""
    numbers: dict[Hashable, int] = {}
    codes = [numbers.setdefault(value, len(numbers)) for value in values]
    return tuple(numbers), np.array(codes, dtype=np.intp)


def _parent(name: str, levels: Levels, others: Sequence[str]) -> str | None:
    """The facet within which another lies: each of its levels is in one level of it."""
    for other in others:
        if other != name and _lies_within(levels[name], levels[other]):
            return other
    return None


def _lies_within(inner: Sequence[Hashable], outer: Sequence[Hashable]) -> bool:
    pairs = set(zip(inner, outer, strict=True))
    return len(pairs) == len(set(inner)) > len(set(outer))


def _check_not_within_fixed(levels: Levels, roles: Roles) -> None:
    for name in roles.random:
        parent = _parent(name, levels, roles.fixed)
        if parent is not None and len(set(levels[parent])) > 1:
            raise StatisticsError(
                f"each {name} was run with one {parent} only, which is fixed: what "
                f"others would give is not defined; take {parent} as random too"
            )


def _complete(levels: Levels, roles: Roles) -> NDArray[np.intp]:
    """Conditions whose random levels were run in all fixed combinations."""
    random = _tuples(levels, roles.random)
    fixed = _tuples(levels, roles.fixed)
    needed = set(fixed)
    run_in: dict[tuple[Hashable, ...], set[tuple[Hashable, ...]]] = {}
    for of_random, of_fixed in zip(random, fixed, strict=True):
        run_in.setdefault(of_random, set()).add(of_fixed)
    counting = [run_in[of_random] == needed for of_random in random]
    return np.flatnonzero(counting)


def _tuples(levels: Levels, names: Sequence[str]) -> list[tuple[Hashable, ...]]:
    n_conditions = len(next(iter(levels.values())))
    return [tuple(levels[name][i] for name in names) for i in range(n_conditions)]
