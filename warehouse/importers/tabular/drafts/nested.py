"""Leaderboards whose entries hold figures inside objects, as a starting mapping takes
them: ``{"llm": {"name": …}, "test_hard": {"level 1": {"goal": 9.3}}}``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warehouse.importers.tabular.column_names import plain_name
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import (
    inline_table,
    texts,
    toml_text,
)

#: Names of objects that describe what ran a model.
_AGENTS = frozenset("agent method scaffold system framework harness".split())
#: Objects of figures from which on they are benchmarks, and figures of each at most.
_PLACES, _FIGURES = 2, 12


@dataclass(frozen=True)
class NestedFigures:
    """Entries of a leaderboard: who, and figures by the objects that they lie in."""

    model: str
    agent: str  #: empty where no column names one.
    #: path of an object of figures -> the benchmark that it is of.
    places: dict[str, str]
    metrics: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """The sections of the mapping."""
        yield "# Figures that entries state: a benchmark for each object of them."
        yield "[each]"
        yield f"benchmark = {texts(self.places.values())}"
        yield f"place = {texts(self.places)}"
        yield ""
        yield "[run]"
        yield f"model = {toml_text(self.model)}"
        if self.agent:
            yield f"agent = {toml_text(self.agent)}"
        yield f"benchmark = {inline_table({'const': '{benchmark}'})}"
        yield ""
        for metric in self.metrics:
            value = {"path": f"{{place}}.{metric}", "optional": True}
            yield "[[published]]"
            yield f"metric = {toml_text(metric)}"
            yield f"value = {inline_table(value)}"
            yield ""


def nested_figures(table: TableProfile, fields: Fields) -> NestedFigures | None:
    """The figures of entries that each name a model; None where rows are anything
    else."""
    model = fields.run.get("model")
    is_of_prompts = bool({"text", "target", "response", "draw"} & {*fields.sample})
    if model is None or is_of_prompts or table.location.draws or table.rows < 2:
        return None
    agent = _agent(table)
    if not _are_entries(table, model, agent):
        return None
    places = _places(table)
    if len(places) < _PLACES:
        return None
    shared = set.intersection(*(set(columns) for columns in places.values()))
    metrics = [
        name
        for name in next(iter(places.values()))
        if name in shared and _differs(places, name)
    ]
    if not metrics or len(metrics) > _FIGURES:
        return None
    return NestedFigures(
        model.path,
        "" if agent is None else agent.path,
        {path: path.replace('"', "").replace(".", " / ") for path in places},
        tuple(metrics),
    )


def _agent(table: TableProfile) -> ColumnProfile | None:
    """The column that names what ran the model."""
    for column in table.columns:
        is_name = plain_name(column.name) in ("name", "id") and column.kind == "text"
        if is_name and {*map(plain_name, column.parents[-1:])} & _AGENTS:
            return column
    return None


def _are_entries(
    table: TableProfile, model: ColumnProfile, agent: ColumnProfile | None
) -> bool:
    """True if each row is another model, or another agent with one."""
    columns = [model] if agent is None else [model, agent]
    by_row = zip(*(table.values(column) for column in columns), strict=True)
    return len({tuple(map(str, row)) for row in by_row}) == table.rows


def _places(table: TableProfile) -> dict[str, dict[str, ColumnProfile]]:
    """Objects that hold numbers, by path: the name of each number and its column."""
    places: dict[str, dict[str, ColumnProfile]] = {}
    for column in table.columns:
        if not column.parents or column.path.startswith("^") or not column.is_number:
            continue
        path = column.path.removesuffix(column.name).removesuffix(".")
        if path + f".{column.name}" == column.path:
            places.setdefault(path, {})[column.name] = column
    return places


def _differs(places: dict[str, dict[str, ColumnProfile]], name: str) -> bool:
    """True if a number is another in some rows, and broken in some."""
    columns = [columns[name] for columns in places.values()]
    is_broken = any(number % 1 for column in columns for number in column.numbers)
    return is_broken and any(len(column.values) > 1 for column in columns)
