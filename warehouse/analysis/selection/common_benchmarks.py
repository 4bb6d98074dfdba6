"""Two references on every benchmark that both have: which conditions are meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warehouse.analysis.selection.conditions import Condition, describe
from warehouse.analysis.selection.reference import Where, find_conditions, pick_one
from warehouse.errors import MisuseError
from warehouse.store.connection import Store

Place = tuple[str, str]
Places = Mapping[Place, Sequence[Condition]]
#: Benchmarks that a message names.
NAMED = 8


def by_place(
    store: Store, text: str, ids: Sequence[int] | None, where: Sequence[Where]
) -> dict[Place, list[Condition]]:
    """The conditions of one model by benchmark and split, by name.

    Raises:
        MisuseError: nothing fits, or several models do.
    """
    found = find_conditions(store, text, benchmark_ids=ids, where=where)
    models = sorted({condition.model for condition in found})
    if len(models) > 1:
        raise MisuseError(f"{text!r} means {len(models)} models, choose one: {', '.join(models)}")
    places: dict[Place, list[Condition]] = {}
    for condition in found:
        places.setdefault(condition.place, []).append(condition)
    return dict(sorted(places.items()))


def common_places(a: str, of_a: Places, b: str, of_b: Places) -> list[Place]:
    """Benchmarks and splits that both have.

    Raises:
        MisuseError: there is none; lists what each has.
    """
    places = [place for place in of_a if place in of_b]
    if places:
        return places
    lists = "; ".join(f"{name} has {_named(list(of))}" for name, of in ((a, of_a), (b, of_b)))
    raise MisuseError(f"{a} and {b} have no benchmark in common: {lists}")


def pick_all(
    places: Sequence[Place], sides: Sequence[tuple[str, Places]], *, latest: bool
) -> list[tuple[Condition, ...]]:
    """For each place the one condition of each side.

    Args:
        sides: reference as given, and its conditions.
        latest: take the one that ran last instead of asking.

    Raises:
        MisuseError: somewhere several fit; lists all such places with the conditions there.
    """
    several = [(text, place, of[place]) for text, of in sides for place in places if len(of[place]) > 1]
    if len(several) > 1 and not latest:
        raise MisuseError(_ambiguous(several))
    return [tuple(pick_one(of[place], text, latest=latest) for text, of in sides) for place in places]


def in_words(place: Place) -> str:
    """``benchmark (split)``."""
    benchmark, split = place
    return f"{benchmark} ({split})" if split else benchmark


def _named(places: Sequence[Place]) -> str:
    more = f" and {len(places) - NAMED} more" if len(places) > NAMED else ""
    return ", ".join(map(in_words, places[:NAMED])) + more


def _ambiguous(several: Sequence[tuple[str, Place, Sequence[Condition]]]) -> str:
    """One line for the places of a reference at which the same conditions are to choose from."""
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[Place, Sequence[Condition]]]] = {}
    for text, place, conditions in several:
        groups.setdefault((text, tuple(describe(conditions))), []).append((place, conditions))
    lines = []
    for (text, labels), members in groups.items():
        places = [place for place, _ in members]
        lines.append(f"  {text!r} on {_named(places)} means {len(labels)} conditions:")
        for number, label in enumerate(labels):
            runs = [run for _, conditions in members for run in conditions[number].run_ids]
            ids = ", ".join(f"run:{run}" for run in runs[:NAMED])
            lines.append(f"    {label}  ({ids}{', ...' if len(runs) > NAMED else ''})")
    return (
        f"{len(several)} choices are open; narrow them with --where field=value, give run:ID for"
        " one benchmark, or take the newest with --latest:\n" + "\n".join(lines)
    )
