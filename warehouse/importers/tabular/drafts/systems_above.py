"""Systems of one document, each with the same figures some steps below its name:
``{"one": {"scores": {"f1": 0.7}}, "two": {"scores": {"f1": 0.9}}}``."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.importers.tabular.column_names import path_of
from warehouse.importers.tabular.drafts.answers import ScoreColumn
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import Choice, toml_text


def systems_above(
    table: TableProfile, candidates: Sequence[ScoreColumn]
) -> Choice | None:
    """What names some steps above the same figures are; None where they stand right
    above these, or anywhere else."""
    place = _place_of_systems(table, candidates)
    if place is None:
        return None
    return _of_systems_above(table, candidates, place)


def _place_of_systems(
    table: TableProfile, candidates: Sequence[ScoreColumn]
) -> int | None:
    """At which of the steps to the same figures of one document the only other names
    stand, where that is not the last: 0 of ``one.scores.f1`` and ``two.scores.f1``."""
    parents = [candidate.column.parents for candidate in candidates]
    if table.rows != 1 or table.location.at or len({*map(len, parents)}) != 1:
        return None
    steps = list(zip(*parents, strict=True))
    places = [place for place, names in enumerate(steps) if len({*names}) > 1]
    if len(places) != 1 or places[0] == len(steps) - 1:
        return None
    are_apart = len({*steps[places[0]]}) == len(candidates)
    if not are_apart:
        return None
    return places[0]


def _of_systems_above(
    table: TableProfile, candidates: Sequence[ScoreColumn], place: int
) -> Choice:
    """What names some steps above the same figures are: systems, most likely."""
    first = candidates[0].column
    names = ", ".join(
        toml_text(candidate.column.parents[place]) for candidate in candidates
    )
    figures = [
        toml_text(own.name)
        for own in table.columns
        if own.parents == first.parents and own.is_number
    ]
    before = "".join(f"{path_of(step)}." for step in first.parents[:place])
    after = "".join(f"{path_of(step)}." for step in first.parents[place + 1 :])
    value = f"{before}{{system}}.{after}NAME"
    return Choice(
        f"what {names} are, each of which has its own {toml_text(after + first.name)}",
        (
            "models or systems, of which figures are published",
            "parts of one prompt, of which these are scores",
        ),
        (
            f'[each] system = [{names}], [run] model = {{ const = "{{system}}" }}, and '
            f"for [[scores]], [[published]] metric = NAME, value = {toml_text(value)}, "
            f"one for each of {', '.join(figures)}",
            "uncomment the [[scores]] of each",
        ),
    )
