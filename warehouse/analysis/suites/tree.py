"""Suites by name: the benchmarks below a node of the benchmark tree, and their weights."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain

from warehouse.analysis.selection.benchmarks import (
    Benchmark,
    BenchmarkNames,
    find_among,
    read_names,
)
from warehouse.errors import MisuseError, did_you_mean
from warehouse.store.connection import Store

_WITH_RUNS = (
    "select distinct benchmark_id from run_current where benchmark_id in "
    "(:benchmark_ids)"
)

#: What makes a name a list of names.
_LIST = re.compile(r"[,*?\[]")
#: How leaves are weighted, besides given weights.
EQUAL, BY_PROMPTS = "equal", "prompts"


@dataclass(frozen=True)
class Suite:
    """A suite and its leaves."""

    name: str  #: as given, or as shown.
    #: of the rows of ``benchmark`` that are the suite itself; empty for a list of
    #: names.
    ids: tuple[int, ...]
    leaves: tuple[Benchmark, ...]  #: the benchmarks below it that have runs, by name.
    empty: tuple[str, ...]  #: names of those that have none, sorted.


def find_suite(store: Store, name: str) -> Suite:
    """The suite called ``name``, or the one made of names, globs among them, with
    commas between.

    Leaves are the benchmarks below it, at any depth, that have runs of their own.

    Raises:
        MisuseError: an unknown name, a benchmark with nothing below it, or no runs
            anywhere.
    """
    return suite_among(store, read_names(store), name)


def suite_among(store: Store, catalogue: BenchmarkNames, name: str) -> Suite:
    """`find_suite` where all names were read."""
    single = name in catalogue.canonical or not _LIST.search(name)
    if single:
        names = [name]
    else:
        names = _listed(catalogue, name)
    leaves = set(
        chain.from_iterable(
            _leaves(catalogue, part, alone=not single) for part in names
        )
    )
    benchmarks = [catalogue.benchmark(leaf) for leaf in sorted(leaves)]
    with_runs = _with_runs(
        store, sorted(set(chain.from_iterable(leaf.ids for leaf in benchmarks)))
    )
    suite = _suite(
        catalogue.benchmark(name) if single else Benchmark(name, (), ()),
        benchmarks,
        with_runs,
    )
    if not suite.leaves:
        raise MisuseError(
            f"{name} has no runs on any of its benchmarks; see: warehouse list runs"
        )
    return suite


def _suite(
    whole: Benchmark, descendants: Sequence[Benchmark], with_runs: Set[int]
) -> Suite:
    leaves = tuple(leaf for leaf in descendants if not with_runs.isdisjoint(leaf.ids))
    names = {leaf.name for leaf in leaves}
    return Suite(
        whole.name,
        whole.ids,
        leaves,
        tuple(leaf.name for leaf in descendants if leaf.name not in names),
    )


def is_suite(store: Store, name: str) -> bool:
    """True if a benchmark has others below it and no runs of its own."""
    return _is_suite(store, read_names(store), name)


def _is_suite(store: Store, catalogue: BenchmarkNames, name: str) -> bool:
    if name in catalogue.canonical:
        ids = catalogue.benchmark(name).ids
    else:
        ids = ()
    return bool(catalogue.descendants(ids)) and not _with_runs(store, ids)


def benchmarks_named(store: Store, names: Iterable[str]) -> list[Benchmark]:
    """Benchmarks by name; a suite, a glob or a list with commas stands for its leaves
    that have runs.

    Args:
        names: in any order, also twice; one may stand alone.

    Returns:
        each benchmark once, in order of names.

    Raises:
        MisuseError: an unknown name.
    """
    catalogue, by_name = read_names(store), {}
    listed = names
    if isinstance(names, str):
        listed = [names]
    for name in listed:
        if name in catalogue.canonical:
            several = _is_suite(store, catalogue, name)
        else:
            several = bool(_LIST.search(name))
        for leaf in (
            suite_among(store, catalogue, name).leaves
            if several
            else (find_among(store, catalogue, name),)
        ):
            by_name[leaf.name] = leaf
    return [by_name[name] for name in sorted(by_name)]


def ids_named(store: Store, names: Iterable[str]) -> list[int] | None:
    """Ids of the rows of the benchmarks that `benchmarks_named` finds; None, for all,
    without names."""
    return (
        list(
            chain.from_iterable(
                benchmark.ids for benchmark in benchmarks_named(store, names)
            )
        )
        or None
    )


def list_suites(catalogue: BenchmarkNames, with_runs: Set[int]) -> dict[str, Suite]:
    """Every suite with runs below it and none of its own, by name.

    Args:
        catalogue: all benchmarks and suites.
        with_runs: ids of the rows of ``benchmark`` that have current runs.
    """
    benchmarks = {name: catalogue.benchmark(name) for name in sorted(catalogue.joined)}
    suites: dict[str, Suite] = {}
    for name, own in benchmarks.items():
        if with_runs.isdisjoint(own.ids) and catalogue.descendants(own.ids):
            suite = _suite(
                own,
                [
                    benchmarks[leaf]
                    for leaf in sorted(_leaves(catalogue, name, alone=False))
                ],
                with_runs,
            )
            suites |= {name: suite} if suite.leaves else {}
    return suites


def scenario_names(store: Store, name: str) -> dict[str, str]:
    """For each leaf of a suite the scenario that it belongs to: what lies right below
    the suite and above the leaf, or of a list of names the one that was named.

    Raises:
        MisuseError: an unknown name, or a single benchmark.
    """
    catalogue = read_names(store)
    if name not in catalogue.canonical and _LIST.search(name):
        parts = _listed(catalogue, name)
    else:
        _leaves(catalogue, name, alone=False)
        rows = chain.from_iterable(
            catalogue.children.get(key, []) for key in catalogue.benchmark(name).ids
        )
        parts = sorted({row["canonical"] for row in rows})
    part_of = {}
    for part in parts:
        for leaf in sorted(_leaves(catalogue, part, alone=True)):
            part_of[leaf] = part
    return part_of


def leaf_shares(
    weights: str | Mapping[str, float], leaves: Sequence[str], sizes: Sequence[int]
) -> dict[str, float]:
    """Weight of each leaf, above 0; leaves with weight 0 are left out.

    Args:
        weights: ``"equal"`` (each leaf the same), ``"prompts"`` (as many as it has
            prompts), or a weight for every leaf by name.
        leaves: names.
        sizes: prompts of each.

    Raises:
        MisuseError: another word, unknown or missing names, weights below 0 or all 0.
    """
    if weights == EQUAL:
        return dict.fromkeys(leaves, 1.0)
    if weights == BY_PROMPTS:
        without = [leaf for leaf, size in zip(leaves, sizes, strict=True) if not size]
        if without:
            raise MisuseError(
                f"the number of prompts of {', '.join(without)} is not known: give the "
                "weights"
            )
        return dict(zip(leaves, map(float, sizes), strict=True))
    if isinstance(weights, str):
        raise MisuseError(
            f"weights {weights!r}; expected {EQUAL}, {BY_PROMPTS}, or a weight for "
            "each benchmark"
        )
    return _given(weights, leaves)


def _given(weights: Mapping[str, float], leaves: Sequence[str]) -> dict[str, float]:
    unknown = sorted(set(weights) - set(leaves))
    missing = [leaf for leaf in leaves if leaf not in weights]
    if unknown:
        raise MisuseError(
            f"weights for {', '.join(unknown)}, which the suite does not have; it has: "
            f"{', '.join(leaves)}"
        )
    if missing:
        raise MisuseError(
            f"no weight for {', '.join(missing)} (0 leaves a benchmark out)"
        )
    wrong = [
        f"{name}={value}"
        for name, value in weights.items()
        if not 0 <= value < float("inf")
    ]
    if wrong or not any(weights.values()):
        raise MisuseError(
            f"weights must be at least 0, and not all 0: {', '.join(wrong)}"
        )
    return {leaf: float(weights[leaf]) for leaf in leaves if weights[leaf] > 0}


def _listed(catalogue: BenchmarkNames, text: str) -> list[str]:
    """Names in a list with commas; a glob stands for all names that it fits."""
    names: list[str] = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        if part in catalogue.canonical:
            fitting = [part]
        else:
            fitting = sorted(n for n in catalogue.joined if fnmatchcase(n, part))
        if not fitting and _LIST.search(part):
            raise MisuseError(
                f"no benchmark fits {part!r}; see: warehouse list benchmarks"
            )
        names += fitting or [part]
    if not names:
        raise MisuseError(
            f"{text!r} names no benchmark; see: warehouse list benchmarks"
        )
    return names


def _leaves(catalogue: BenchmarkNames, name: str, *, alone: bool) -> set[str]:
    """Canonical names of the benchmarks below ``name`` that have nothing below them; of
    a leaf itself, if ``alone`` allows it."""
    if name not in catalogue.canonical:
        hint = did_you_mean(name, catalogue.canonical, "see: warehouse list benchmarks")
        raise MisuseError(f"no suite is called {name!r}; {hint}")
    rows = catalogue.descendants(catalogue.benchmark(name).ids)
    leaves = {
        str(row["canonical"]) for row in rows if row["id"] not in catalogue.children
    }
    if not leaves and not alone:
        raise MisuseError(
            f"{name!r} is no suite but a single benchmark; see: warehouse leaderboard "
            f"{name}"
        )
    return leaves or {catalogue.canonical[name]}


def _with_runs(store: Store, ids: Sequence[int]) -> set[int]:
    return {
        row["benchmark_id"] for row in store.rows(_WITH_RUNS, {"benchmark_ids": ids})
    }
