"""Suites by name: the benchmarks below a node of the benchmark tree, and their weights."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from warehouse.analysis.selection.arrow import one_of
from warehouse.analysis.selection.benchmarks import Benchmark, canonical_names, find_benchmark
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

_ALL_WITH_RUNS = "select distinct benchmark_id from run_current"
_WITH_RUNS = "select distinct benchmark_id from run_current where "

#: What makes a name a list of names.
_LIST = re.compile(r"[,*?\[]")
#: How leaves are weighted, besides given weights.
EQUAL, BY_PROMPTS = "equal", "prompts"


@dataclass(frozen=True)
class Suite:
    """A suite and its leaves.

    Attributes:
        name: as given, or as shown.
        ids: of the rows of ``benchmark`` that are the suite itself; empty for a list of names.
        leaves: the benchmarks below it that have runs, by name.
        empty: names of those that have none, sorted.
    """

    name: str
    ids: tuple[int, ...]
    leaves: tuple[Benchmark, ...]
    empty: tuple[str, ...]


def find_suite(store: Store, name: str) -> Suite:
    """The suite called ``name``, or the one made of names, globs among them, with commas between.

    Leaves are the benchmarks below it, at any depth, that have runs of their own.

    Raises:
        MisuseError: an unknown name, a benchmark with nothing below it, or no runs anywhere.
    """
    tree = _Tree(store.arrow(query_text("analysis", "suite_tree")).to_pylist())
    single = name in tree.shown or not _LIST.search(name)
    names = [name] if single else tree.listed(name)
    found = {leaf for part in names for leaf in tree.leaves(part, alone=not single)}
    with_runs = _with_runs(store, sorted({key for leaf in found for key in tree.ids[leaf]}))
    leaves = sorted(leaf for leaf in found if with_runs & set(tree.ids[leaf]))
    if not leaves:
        raise MisuseError(f"{name} has no runs on any of its benchmarks; see: warehouse runs")
    ids = tuple(tree.ids[tree.shown[name]]) if single else ()
    empty = tuple(sorted(found - set(leaves)))
    benchmarks = tuple(tree.benchmark(leaf) for leaf in leaves)
    return Suite(tree.shown[name] if single else name, ids, benchmarks, empty)


def is_suite(store: Store, name: str) -> bool:
    """Whether a benchmark has others below it and no runs of its own."""
    tree = _Tree(store.arrow(query_text("analysis", "suite_tree")).to_pylist())
    if name not in tree.shown:
        return False
    ids = tree.ids[tree.shown[name]]
    return bool(tree.below(ids)) and not _with_runs(store, ids)


def benchmarks_named(store: Store, names: Iterable[str]) -> list[Benchmark]:
    """Benchmarks by name; a suite, a glob or a list with commas stands for its leaves that have runs.

    Args:
        names: in any order, also twice; one may stand alone.

    Returns:
        each benchmark once, in order of names.

    Raises:
        MisuseError: an unknown name.
    """
    known, found = canonical_names(store), {}
    for name in [names] if isinstance(names, str) else names:
        several = is_suite(store, name) if name in known else bool(_LIST.search(name))
        for leaf in find_suite(store, name).leaves if several else (find_benchmark(store, name),):
            found[leaf.name] = leaf
    return [found[name] for name in sorted(found)]


def ids_named(store: Store, names: Iterable[str]) -> list[int] | None:
    """Ids of the rows of the benchmarks that `benchmarks_named` finds; None, for all, without names."""
    return [number for one in benchmarks_named(store, names) for number in one.ids] or None


def list_suites(store: Store) -> dict[str, set[str]]:
    """Every suite with runs below it and none of its own, by name, with its leaves."""
    tree = _Tree(store.arrow(query_text("analysis", "suite_tree")).to_pylist())
    with_runs = {row["benchmark_id"] for row in store.arrow(_ALL_WITH_RUNS).to_pylist()}
    found = {}
    for name, ids in sorted(tree.ids.items()):
        if with_runs & set(ids) or not tree.below(ids):
            continue
        leaves = {leaf for leaf in tree.leaves(name, alone=False) if with_runs & set(tree.ids[leaf])}
        if leaves:
            found[name] = leaves
    return found


def scenario_names(store: Store, name: str) -> dict[str, str]:
    """For each leaf of a suite the scenario that it belongs to: what lies right below the suite and
    above the leaf, or of a list of names the one that was named.

    Raises:
        MisuseError: an unknown name, or a single benchmark.
    """
    tree = _Tree(store.arrow(query_text("analysis", "suite_tree")).to_pylist())
    single = name in tree.shown or not _LIST.search(name)
    if not single:
        return {leaf: part for part in tree.listed(name) for leaf in sorted(tree.leaves(part, alone=True))}
    tree.leaves(name, alone=False)
    parts = {tree.rows[child]["shown_as"] for key in tree.ids[tree.shown[name]] for child in tree.children.get(key, [])}
    return {leaf: part for part in sorted(parts) for leaf in sorted(tree.leaves(part, alone=True))}


def leaf_shares(weights: str | Mapping[str, float], leaves: Sequence[str], sizes: Sequence[int]) -> dict[str, float]:
    """Weight of each leaf, above 0; leaves with weight 0 are left out.

    Args:
        weights: ``"equal"`` (each leaf the same), ``"prompts"`` (as many as it has prompts), or a
            weight for every leaf by name.
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
            raise MisuseError(f"the number of prompts of {', '.join(without)} is not known: give the weights")
        return dict(zip(leaves, map(float, sizes), strict=True))
    if isinstance(weights, str):
        raise MisuseError(f"weights {weights!r}; expected {EQUAL}, {BY_PROMPTS}, or a weight for each benchmark")
    return _given(weights, leaves)


def _given(weights: Mapping[str, float], leaves: Sequence[str]) -> dict[str, float]:
    unknown = sorted(set(weights) - set(leaves))
    missing = [leaf for leaf in leaves if leaf not in weights]
    if unknown:
        raise MisuseError(
            f"weights for {', '.join(unknown)}, which the suite does not have; it has: {', '.join(leaves)}"
        )
    if missing:
        raise MisuseError(f"no weight for {', '.join(missing)} (0 leaves a benchmark out)")
    wrong = [f"{name}={value}" for name, value in weights.items() if not 0 <= value < float("inf")]
    if wrong or not any(weights.values()):
        raise MisuseError(f"weights must be at least 0, and not all 0: {', '.join(wrong)}")
    return {leaf: float(weights[leaf]) for leaf in leaves if weights[leaf] > 0}


class _Tree:
    """The benchmark tree under the names that views show."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows = {row["id"]: row for row in rows}
        self.shown: dict[str, str] = {row["name"]: row["shown_as"] for row in rows}
        self.ids: dict[str, list[int]] = {}
        self.children: dict[int, list[int]] = {}
        for row in rows:
            self.ids.setdefault(row["shown_as"], []).append(row["id"])
            if row["parent_id"] is not None:
                self.children.setdefault(row["parent_id"], []).append(row["id"])

    def benchmark(self, name: str) -> Benchmark:
        """The benchmark that is shown as ``name``."""
        ids = self.ids[name]
        clusterings = (self.rows[key]["default_clustering_id"] for key in ids)
        return Benchmark(name, tuple(ids), tuple(key for key in clusterings if key is not None))

    def listed(self, text: str) -> list[str]:
        """Names in a list with commas; a glob stands for all names that it fits."""
        names: list[str] = []
        for part in filter(None, (piece.strip() for piece in text.split(","))):
            fitting = [part] if part in self.shown else _fitting(self.ids, part)
            if not fitting and _LIST.search(part):
                raise MisuseError(f"no benchmark fits {part!r}; see: warehouse benchmarks")
            names += fitting or [part]
        if not names:
            raise MisuseError(f"{text!r} names no benchmark; see: warehouse benchmarks")
        return names

    def below(self, ids: Sequence[int]) -> list[int]:
        """Ids of everything below some rows; a ring in the tree is walked once."""
        found: list[int] = []
        waiting = list(ids)
        while waiting:
            children = self.children.get(waiting.pop(), [])
            new = [key for key in children if key not in found]
            found += new
            waiting += new
        return found

    def leaves(self, name: str, *, alone: bool) -> set[str]:
        """Shown names of the benchmarks below ``name`` that have nothing below them, or that
        have children with runs of their own; of a leaf itself, if ``alone`` allows it."""
        if name not in self.shown:
            close = get_close_matches(name, self.shown)
            hint = f"did you mean {' or '.join(close)}?" if close else "see: warehouse benchmarks"
            raise MisuseError(f"no suite is called {name!r}; {hint}")
        ids = self.ids[self.shown[name]]
        found = {self.rows[key]["shown_as"] for key in self.below(ids) if key not in self.children}
        if not found and not alone:
            raise MisuseError(f"{name!r} is no suite but a single benchmark; see: warehouse leaderboard {name}")
        return found or {self.shown[name]}


def _fitting(names: Iterable[str], pattern: str) -> list[str]:
    """The names that a glob fits, sorted."""
    return sorted(name for name in names if fnmatchcase(name, pattern))


def _with_runs(store: Store, ids: Sequence[int]) -> set[int]:
    condition, parameters = one_of("benchmark_id", ids, "b")
    table = store.arrow(_WITH_RUNS + condition, parameters)
    return {row["benchmark_id"] for row in table.to_pylist()}
