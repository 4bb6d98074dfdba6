"""Stored figures of families that a refresh leaves alone: said where they are out of date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from warehouse.analysis.families import choose_families, family_names
from warehouse.analysis.families.benchmark_data import BenchmarkData
from warehouse.analysis.families.family import Family, Settings
from warehouse.errors import WarehouseError
from warehouse.refresh.plan import StoredValue, family_of, make_plan

#: Reasons that do not mean that a stored figure is wrong.
_HARMLESS = ("", "new", "the settings changed")


def notes_on_others(
    chosen: Sequence[Family],
    benchmarks: Sequence[BenchmarkData],
    settings: Settings,
    current: Sequence[StoredValue],
    named: Collection[str] | None,
) -> Iterator[str]:
    """A line for each family that is not chosen and has figures which do not hold any more.

    Args:
        current: rows of ``metric_current``.
        named: names of the only benchmarks that are meant; None: all.
    """
    mine = {family.name for family in chosen}
    figures = Counter(
        name
        for one in current
        if (named is None or one["benchmark"] in named) and (name := family_of(one["input_fingerprint"])) not in mine
    )
    installed = family_names()
    for name, count in sorted(figures.items()):
        if name not in installed:
            yield f"{count} figures of the family {name!r} stay as they are: it is not installed"
            continue
        try:
            plan = make_plan(choose_families([name]), benchmarks, settings, current, [], named)
        except WarehouseError as error:
            yield f"{count} figures stay as they are: {error}"
            continue
        stale = sum(one.why not in _HARMLESS for one in plan.questions)
        # pairs depend on which baselines are named
        stale += sum(one["subject_kind"] != "pair" for one in plan.gone)
        if stale:
            yield f"{stale} answers of the family {name!r} are out of date; --family {name}"
