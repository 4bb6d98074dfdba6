"""Metric families that a refresh keeps fresh, found through the entry points
``warehouse.metrics``.

A family is one object with a name, a version, and two functions: which questions it has
on a benchmark, and how to answer one of them. Raising its version makes all its figures
stale.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from warehouse.analysis.families.family import Family
from warehouse.errors import MisuseError, WarehouseError

GROUP = "warehouse.metrics"
#: Families that take long, or that few benchmarks have, computed where they are asked
#: for by name.
ON_REQUEST = ("matrix", "reliability", "training")


def family_names() -> list[str]:
    """Every installed family."""
    return sorted(_points())


def choose_families(names: Sequence[str | Family]) -> list[Family]:
    """Families by name, or themselves; for no names all but those that take long.

    Raises:
        MisuseError: an unknown name; says which there are.
        WarehouseError: one does not load, or is no family.
    """
    families = _points()
    unknown = sorted({name for name in names if isinstance(name, str)} - set(families))
    if unknown:
        raise MisuseError(
            f"no metric family {', '.join(map(repr, unknown))}; there are: "
            f"{', '.join(families)}"
        )
    chosen = names or [name for name in families if name not in ON_REQUEST]
    return [
        _load(families[key]) if isinstance(key, str) else _checked(key, repr(key))
        for key in dict.fromkeys(chosen)
    ]


@cache
def _points() -> dict[str, EntryPoint]:
    return {
        point.name: point
        for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)
    }


@cache
def _load(point: EntryPoint) -> Family:
    try:
        family = point.load()
    except Exception as error:
        raise WarehouseError(
            f"the metric family '{point.name}' ({point.value}) does not load: {error}"
        ) from error
    return _checked(family, f"the entry point '{point.name}' ({point.value})")


def _checked(family: object, name: str) -> Family:
    if not isinstance(family, Family) or "/" in family.name + family.version:
        raise WarehouseError(
            f"{name} is no metric family; expected an object with name and version "
            "(without '/'), questions and compute"
        )
    return family
