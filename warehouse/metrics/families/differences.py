"""Family ``differences``: paired, with named baselines and from one checkpoint to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warehouse.metrics.conditions import SETTINGS, Condition
from warehouse.metrics.families.base import Settings, Unit, Value, pair_of
from warehouse.metrics.families.data import BenchmarkData

#: Settings in which two checkpoints of one training may differ.
_OF_CHECKPOINTS = {"position", "revision", "checkpoint", "model_recorded"}


class Differences:
    """One question for each condition and baseline, and for each checkpoint with one before it."""

    name, version = "differences", "3"

    def units(self, data: BenchmarkData, settings: Settings) -> Sequence[Unit]:
        """Pairs of one split and task version; of a baseline's conditions the newest counts."""
        told = {"level": settings.level, "links": data.links_digest}
        found: dict[str, Unit] = {}
        for kind, first, second in [*_with_baselines(data), *_steps(data)]:
            name = f"{kind} {pair_of(first, second)}"
            found[name] = Unit(name, (first.key, second.key), told | {"kind": kind})
        return list(found.values())

    def compute(self, data: BenchmarkData, unit: Unit, settings: Settings) -> Sequence[Value]:
        """The difference by the first metric that both are judged by.

        Raises:
            Unlike: nothing in common.
        """
        from warehouse.metrics.families.difference_values import difference_of

        return [difference_of(data, unit, settings)]


def _alike(one: Condition, other: Condition) -> bool:
    """Whether two conditions can be compared as the leaderboard ranks them."""
    names = ("split", "task_version")
    return all((one.setting(name) or "") == (other.setting(name) or "") for name in names)


def _with_baselines(data: BenchmarkData) -> Iterator[tuple[str, Condition, Condition]]:
    for keys in data.baselines.values():
        own = [data.conditions[key] for key in data.conditions if key in keys]
        for condition in data.conditions.values():
            like = [one for one in own if _alike(one, condition) and one is not condition]
            if like and condition.key not in keys:
                yield "pair", condition, max(like, key=lambda one: one.newest)


def _steps(data: BenchmarkData) -> Iterator[tuple[str, Condition, Condition]]:
    """Each checkpoint with the one before it in the same training, all else being equal."""
    trainings: dict[tuple[object, ...], list[Condition]] = {}
    for condition in data.conditions.values():
        if condition.setting("position") is not None:
            same = [condition.setting(name) for name in SETTINGS if name not in _OF_CHECKPOINTS]
            unit = condition.setting("position_unit")
            trainings.setdefault((condition.model, unit, *same), []).append(condition)
    for members in trainings.values():
        members.sort(key=lambda one: one.setting("position"))
        for before, after in zip(members, members[1:], strict=False):
            if before.setting("position") < after.setting("position"):
                yield "step", after, before


FAMILY = Differences()
