"""Two references on every benchmark that both have: which conditions are meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from warehouse.analysis.selection.conditions import Condition, label_conditions
from warehouse.analysis.selection.reference import Where, find_conditions, pick_one
from warehouse.errors import MisuseError
from warehouse.store.connection import Store

BenchmarkSplit = tuple[str, str]
BySplit = Mapping[BenchmarkSplit, Sequence[Condition]]
#: Benchmarks that a message names.
NAMED = 8


def by_benchmark_split(
    store: Store, text: str, ids: Sequence[int] | None, where: Sequence[Where]
) -> dict[BenchmarkSplit, list[Condition]]:
    """The conditions of one model by benchmark and split, by name.

    Raises:
        MisuseError: nothing fits, or several models do.
    """
    conditions = find_conditions(store, text, benchmark_ids=ids, where=where)
    models = sorted({condition.model for condition in conditions})
    if len(models) > 1:
        raise MisuseError(f"{text!r} means {len(models)} models, choose one: {', '.join(models)}")
    return by_split(conditions)


def by_split(conditions: Iterable[Condition]) -> dict[BenchmarkSplit, list[Condition]]:
    """Conditions by benchmark and split, by name."""
    splits: dict[BenchmarkSplit, list[Condition]] = {}
    for condition in conditions:
        splits.setdefault(condition.benchmark_split, []).append(condition)
    return dict(sorted(splits.items()))


def common_benchmarks(a: str, of_a: BySplit, b: str, of_b: BySplit) -> list[BenchmarkSplit]:
    """Benchmarks and splits that both have.

    Raises:
        MisuseError: there is none; lists what each has.
    """
    splits = [split for split in of_a if split in of_b]
    if splits:
        return splits
    lists = "; ".join(f"{name} has {_named(list(of))}" for name, of in ((a, of_a), (b, of_b)))
    raise MisuseError(f"{a} and {b} have no benchmark in common: {lists}")


def pick_all(
    store: Store, splits: Sequence[BenchmarkSplit], sides: Sequence[tuple[str, BySplit]], *, latest: bool
) -> list[tuple[Condition, ...]]:
    """For each split the one condition of each side.

    Args:
        sides: reference as given, and its conditions.
        latest: take the one that ran last instead of asking.

    Raises:
        MisuseError: somewhere several fit; lists all such splits with the conditions there.
    """
    several = [(text, split, of[split]) for text, of in sides for split in splits if len(of[split]) > 1]
    if len(several) > 1 and not latest:
        raise MisuseError(_ambiguous(store, several))
    return [tuple(pick_one(store, of[split], text, latest=latest) for text, of in sides) for split in splits]


def in_words(split: BenchmarkSplit) -> str:
    """``benchmark (split)``."""
    benchmark, part = split
    return f"{benchmark} ({part})" if part else benchmark


def _named(splits: Sequence[BenchmarkSplit]) -> str:
    more = f" and {len(splits) - NAMED} more" if len(splits) > NAMED else ""
    return ", ".join(map(in_words, splits[:NAMED])) + more


def _ambiguous(store: Store, several: Sequence[tuple[str, BenchmarkSplit, Sequence[Condition]]]) -> str:
    """One line for the splits of a reference at which the same conditions are to choose from."""
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[BenchmarkSplit, Sequence[Condition]]]] = {}
    for text, split, conditions in several:
        groups.setdefault((text, tuple(label_conditions(store, conditions))), []).append((split, conditions))
    lines = []
    for (text, labels), members in groups.items():
        splits = [split for split, _ in members]
        lines.append(f"  {text!r} on {_named(splits)} means {len(labels)} conditions:")
        for number, label in enumerate(labels):
            runs = [run for _, conditions in members for run in conditions[number].run_ids]
            ids = ", ".join(f"run:{run}" for run in runs[:NAMED])
            lines.append(f"    {label}  ({ids}{', ...' if len(runs) > NAMED else ''})")
    return (
        f"{len(several)} choices are open; narrow them with --where field=value, give run:ID for"
        " one benchmark, or take the newest with --latest:\n" + "\n".join(lines)
    )
