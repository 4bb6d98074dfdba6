"""Leaderboards whose entries hold figures inside objects, as a starting mapping takes
them: ``{"llm": {"name": …}, "test_hard": {"level 1": {"goal": 9.3}}}``, and
``{"gpt-4": {"pass@1": {"humaneval": 88.4}}}``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from warehouse.importers.common.messages import listed
from warehouse.importers.tabular.column_names import (
    MODEL_LABELS,
    SIZE,
    WEAK_LABELS,
    Grade,
    are_benchmarks,
    are_models,
    are_numbered,
    grade_of,
    is_metric,
    is_setting,
    path_of,
    plain_name,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.figure_errors import ERROR
from warehouse.importers.tabular.drafts.long_tables import key_fields
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.record_locations import AROUND_FIGURES
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    inline_table,
    texts,
    toml_text,
)
from warehouse.importers.tabular.field_paths import parse_path
from warehouse.importers.tabular.runs import is_summary

#: Names of objects that describe what ran a model.
_AGENTS = frozenset("agent method scaffold system framework harness".split())
#: Objects of figures from which on they are benchmarks, and figures of each at most.
_PLACES, _FIGURES = 2, 12
#: Keys of records from which on they may be prompts.
_MANY_KEYS = 30
#: What figures are called where nothing names their metric.
_METRIC = "score"


@dataclass(frozen=True)
class NestedFigures:
    """Entries of a leaderboard: who, and figures by the objects that they lie in."""

    at: str  #: path of the entries; empty where they are the rows.
    row: str  #: path of what names an entry.
    agent: str  #: path of the agent; empty where no column names one.
    is_by_model: bool  #: True if an entry is a model, False if it is a benchmark.
    #: what an entry has figures of, benchmarks or models -> the path of each of its
    #: metrics, with ``{place}`` for where they lie.
    places: dict[str, str]
    metrics: dict[str, str]  #: name of a metric -> path, with ``{place}``.
    keys: dict[str, Any]  #: of an expression that makes numbers of the values.
    #: name of a metric -> paths of its standard error and number of prompts.
    beside: dict[str, dict[str, str]]
    choices: tuple[Choice, ...] = ()

    def lines(self) -> Iterator[str]:
        """The sections of the mapping."""
        each, own = "benchmark", "model"
        if not self.is_by_model:
            each, own = own, each
        if self.at:
            yield "[rows]"
            yield f"at = {toml_text(self.at)}  # where the entries are"
            yield ""
        yield f"# Figures that entries state: a {each} for each place of them."
        yield "[each]"
        yield f"{each} = {texts(self.places)}"
        yield f"place = {texts(self.places.values())}"
        yield ""
        yield "[run]"
        yield f"{own} = {toml_text(self.row)}"
        if self.agent:
            yield f"agent = {toml_text(self.agent)}"
        yield f"{each} = {inline_table({'const': f'{{{each}}}'})}"
        yield ""
        for metric, path in self.metrics.items():
            yield "[[published]]"
            yield f"metric = {toml_text(metric)}"
            value = {"path": path, "optional": True} | self.keys
            yield f"value = {inline_table(value)}"
            for name, other in self.beside.get(metric, {}).items():
                number = {"path": other, "optional": True}
                yield f"{name} = {inline_table(number)}"
            yield ""

    def roles(self) -> str:
        """What names and numbers were taken for, in a few words."""
        each, own = "benchmarks", "model"
        if not self.is_by_model:
            each, own = "models", "benchmark"
        shown = listed(list(self.places), 4)
        metrics = listed(list(self.metrics), 4)
        return f"{own} = {self.row}, {each} {shown}, published figures = {metrics}"


@dataclass(frozen=True)
class _Grid:
    """Figures of an entry by two names: places, benchmarks or models, and metrics."""

    places: dict[str, str]
    metrics: dict[str, str]
    is_told: bool = False  #: True if places are objects of several figures each.
    choices: tuple[Choice, ...] = ()
    beside: dict[str, dict[str, str]] = field(default_factory=dict)


def nested_figures(table: TableProfile, fields: Fields) -> NestedFigures | None:
    """The figures of entries that each name a model, or a benchmark; None where rows
    are anything else."""
    is_of_prompts = bool({"text", "target", "response", "draw"} & {*fields.sample})
    if is_of_prompts or table.location.draws or table.rows < 2:
        return None
    agent = _agent(table)
    row = _names_of_entries(table, fields)
    if row is None or not _are_entries(table, row, agent):
        return None
    is_key = row.path == "@key"
    grid = _grid(table, is_key)
    if grid is None:
        return None
    keys, places = list(map(str, row.values)), list(grid.places)
    if is_key and _may_be_prompts(keys, places):
        return None
    is_by_model = not is_key or are_models(keys) or not are_models(places)
    _take_names(row, "model" if is_by_model else "benchmark", fields)
    choices = [*grid.choices]
    if is_key and are_models(keys) == are_models(places):
        choices.append(_what_keys_are(keys, grid))
    further = _further_metrics(table, grid)
    if not choices and grid.is_told and further and not are_benchmarks(places):
        choices.append(_what_places_are(places, further))
    benchmarks = places if is_by_model else keys
    if not choices and not grid.is_told and not are_benchmarks(benchmarks):
        choices.append(_what_benchmarks_are(benchmarks, is_by_model, row.path))
    return NestedFigures(
        table.location.at,
        row.path,
        "" if agent is None else agent.path,
        is_by_model,
        grid.places,
        grid.metrics,
        key_fields(list(_columns_of(grid, table)), table),
        grid.beside,
        tuple(choices),
    )


def _further_metrics(table: TableProfile, grid: _Grid) -> list[str]:
    """Names of numbers of an entry that stand outside the objects of its figures, and
    are called as metrics are."""
    numbers = _numbers_of_records(table)
    named = [name for name in numbers if is_metric(name) and name not in grid.metrics]
    return [name for name in named if _are_figures([numbers[name]])]


def _what_places_are(places: Sequence[str], further: Sequence[str]) -> Choice:
    """The question whether objects of figures, beside which others stand, are
    benchmarks."""
    shown = listed(list(map(toml_text, places)), 3)
    others = listed(list(map(toml_text, further)), 3)
    return Choice(
        f"what {shown} are, beside which entries have {others}",
        ("benchmarks", "ways to score or conditions of one benchmark"),
        (
            "leave [each] and [run] as they are",
            '[run] benchmark = NAME, and metric = "{benchmark} …" in each of the '
            "[[published]]; [[published]] for the others as well",
        ),
    )


def _take_names(row: ColumnProfile, role: str, fields: Fields) -> None:
    """Take what names the entries for models, or for benchmarks."""
    if fields.run.get(role) is not row:
        fields.forget(row)
        fields.run[role] = row
        fields.say(row, f"{role}: names entries of figures")


def _columns_of(grid: _Grid, table: TableProfile) -> Iterator[ColumnProfile]:
    """The columns of the figures."""
    paths = {
        path.replace("{place}", place)
        for path in grid.metrics.values()
        for place in grid.places.values()
    }
    return (column for column in table.columns if column.path in paths)


def _names_of_entries(table: TableProfile, fields: Fields) -> ColumnProfile | None:
    """What names the entries: the column of models, or the keys that they lie under."""
    if "model" in fields.run:
        return fields.run["model"]
    if "benchmark" in fields.run or table.location.at.count("{}") > 1:
        return None
    for column in table.columns:
        if column.path == "@key":
            return column
    for column in table.columns:
        name = plain_name(column.name)
        is_label = MODEL_LABELS.fullmatch(name) or WEAK_LABELS.fullmatch(name)
        if is_label and not column.parents and are_models(_words(column)):
            return column
    return None


def _words(column: ColumnProfile) -> list[str]:
    """The values of a column as texts; none where they are lists or objects."""
    if column.kind != "text":
        return []
    return list(map(str, column.values))


def _agent(table: TableProfile) -> ColumnProfile | None:
    """The column that names what ran the model."""
    for column in table.columns:
        is_name = plain_name(column.name) in ("name", "id") and column.kind == "text"
        if is_name and {*map(plain_name, column.parents[-1:])} & _AGENTS:
            return column
    return None


def _are_entries(
    table: TableProfile, row: ColumnProfile, agent: ColumnProfile | None
) -> bool:
    """True if each row is another model, or another agent with one."""
    columns = [row] if agent is None else [row, agent]
    by_row = zip(*(table.values(column) for column in columns), strict=True)
    return len({tuple(map(str, row)) for row in by_row}) == table.rows


def _may_be_prompts(keys: Sequence[str], places: Sequence[str]) -> bool:
    """True if the keys of records, or of the figures in them, may name prompts:
    numbered, or many that name no models."""
    if are_numbered(keys) or are_numbered(places):
        return True
    return any(
        len(names) >= _MANY_KEYS and not are_models(names) for names in (keys, places)
    )


# --- what figures lie under -----------------------------------------------------------


def _grid(table: TableProfile, is_keyed: bool) -> _Grid | None:
    """The figures of each entry; None where it has none, or what their names are is
    not known."""
    objects = _objects(table)
    around = {path: c for path, c in objects.items() if _is_around_figures(path)}
    of_metrics = {
        path: c
        for path, c in objects.items()
        if path not in around and is_metric(_last(path))
    }
    if of_metrics:
        grid = _metrics_of_places(of_metrics)
    elif around:
        grid = _places_inside(around)
    elif objects:
        grid = _places_of_metrics(objects, is_keyed)
    elif is_keyed:
        grid = _places_inside({"": _numbers_of_records(table)})
    else:
        grid = None
    if grid is None or len(grid.places) < _PLACES or len(grid.metrics) > _FIGURES:
        return None
    return grid


def _objects(table: TableProfile) -> dict[str, dict[str, ColumnProfile]]:
    """Objects that hold numbers, by path: the name of each number and its column."""
    objects: dict[str, dict[str, ColumnProfile]] = {}
    for column in table.columns:
        is_inside = bool(column.parents) and not column.path.startswith("^")
        if not is_inside or not column.is_figures or is_setting(column.parents):
            continue
        path = ".".join(map(path_of, column.parents))
        if f"{path}.{path_of(column.name)}" == column.path:
            objects.setdefault(path, {})[column.name] = column
    return objects


def _numbers_of_records(table: TableProfile) -> dict[str, ColumnProfile]:
    """The numbers that stand in the records themselves."""
    return {
        column.name: column
        for column in table.columns
        if not column.parents and column.is_figures and "@" not in column.path
    }


def _steps(path: str) -> list[str]:
    """The names of a path, without quotes."""
    return [str(step) for step in parse_path(path).steps]


def _last(path: str) -> str:
    """The last name of a path."""
    return _steps(path)[-1]


def _is_around_figures(path: str) -> bool:
    return plain_name(_last(path)) in AROUND_FIGURES


def _metrics_of_places(
    objects: Mapping[str, Mapping[str, ColumnProfile]],
) -> _Grid | None:
    """A metric for each object, and a place for each number in it: ``pass@1`` with a
    figure for each benchmark."""
    names = [
        name
        for name in dict.fromkeys(chain.from_iterable(objects.values()))
        if not is_summary(name)
    ]
    columns = [column for inner in objects.values() for column in inner.values()]
    if any(map(is_metric, names)) or not _are_figures(columns):
        return None
    return _Grid(
        {name: path_of(name) for name in names},
        {_last(path): f"{path}.{{place}}" for path in objects},
    )


def _places_inside(
    objects: Mapping[str, Mapping[str, ColumnProfile]],
) -> _Grid | None:
    """A place for each number of one object: ``scores`` with a figure for each
    benchmark."""
    ((path, inner), *others) = objects.items()
    figures = {name: column for name, column in inner.items() if _may_be_figure(name)}
    is_plain = not others and not any(map(is_metric, figures))
    if not is_plain or not _are_figures([*figures.values()]):
        return None
    metric = "{place}" if path == "" else f"{path}.{{place}}"
    known = [name for name in figures if are_benchmarks([name])]
    unknown = [name for name in figures if name not in known]
    choices: tuple[Choice, ...] = ()
    if known and unknown and not are_models(list(figures)):
        choices = (_what_else_is(unknown),)
    return _Grid(
        {name: path_of(name) for name in figures}, {_METRIC: metric}, choices=choices
    )


def _may_be_figure(name: str) -> bool:
    """True if a number may be that of one benchmark or model: neither a property of
    what was evaluated nor a mean of the others."""
    is_named = are_models([name]) or grade_of(name) is not Grade.NEVER
    return is_named and not SIZE.fullmatch(plain_name(name)) and not is_summary(name)


def _places_of_metrics(
    objects: Mapping[str, Mapping[str, ColumnProfile]], is_keyed: bool
) -> _Grid | None:
    """A place for each object, and a metric for each number that they all hold."""
    shared = set.intersection(*(set(columns) for columns in objects.values()))
    first = next(iter(objects.values()))
    beside = [name for name in first if name in shared and _is_beside(name)]
    metrics = [
        name
        for name in first
        if name in shared and name not in beside and _differs(objects.values(), name)
    ]
    are_named = all(map(is_metric, metrics))
    if not metrics or is_keyed and not are_named:
        return None
    return _Grid(
        {" / ".join(_steps(path)): path for path in objects},
        {name: _in_place(name) for name in metrics},
        is_told=not is_keyed,
        beside={name: _error_and_size(name, metrics, beside) for name in metrics},
    )


def _in_place(name: str) -> str:
    return f"{{place}}.{path_of(name)}"


def _is_beside(name: str) -> bool:
    """True if a number is called as the error of a figure, or as a number of
    prompts."""
    called = plain_name(name)
    return bool(ERROR.fullmatch(called) or SIZE.fullmatch(called))


def _error_and_size(
    metric: str, metrics: Sequence[str], beside: Sequence[str]
) -> dict[str, str]:
    """Paths of the standard error and the number of prompts of a metric."""
    found = {}
    for name in beside:
        called = plain_name(name)
        is_error = bool(ERROR.fullmatch(called))
        is_its_own = called.startswith(f"{plain_name(metric)}_")
        if is_error and (is_its_own or len(metrics) == 1):
            found["standard_error"] = _in_place(name)
        elif not is_error:
            found["n"] = _in_place(name)
    return found


def _differs(objects: Iterable[Mapping[str, ColumnProfile]], name: str) -> bool:
    """True if a number is another in some rows, and broken in some."""
    columns = [columns[name] for columns in objects]
    is_varied = any(len(column.values) > 1 for column in columns)
    return is_varied and _are_figures(columns)


def _are_figures(columns: Sequence[ColumnProfile]) -> bool:
    """True if some of the numbers are broken or percentages, as means are and verdicts
    are not."""
    is_broken = any(number % 1 for column in columns for number in column.numbers)
    return is_broken or any(column.is_percent for column in columns)


def _what_else_is(names: Sequence[str]) -> Choice:
    """The question whether numbers beside figures are some as well."""
    return Choice(
        f"what the numbers {listed(list(map(toml_text, names)), 3)} are, beside "
        "figures of benchmarks",
        ("benchmarks as well", "properties of what was evaluated"),
        ("leave [each] as it is", "take them and their places out of [each]"),
    )


def _what_benchmarks_are(names: Sequence[str], is_by_model: bool, path: str) -> Choice:
    """The question whether names that are those of no known benchmark name prompts."""
    prompt = inline_table({"const": "{benchmark}"}) if is_by_model else toml_text(path)
    return Choice(
        f"what {listed(list(map(toml_text, names)), 3)} name",
        ("benchmarks, of which figures are published", "prompts of one benchmark"),
        (
            "leave [run] and [[published]] as they are",
            f"[sample] prompt_id = {prompt}, [run] benchmark = "
            f"{inline_table({'const': 'NAME'})}, and [[scores]] for [[published]]",
        ),
    )


def _what_keys_are(keys: Sequence[str], grid: _Grid) -> Choice:
    """The question which of two kinds of names are models."""
    outer = listed(list(map(toml_text, keys)), 3)
    inner = listed(list(map(toml_text, grid.places)), 3)
    return Choice(
        f"what the keys {outer} name, each of which has figures of {inner}",
        (
            "models, and their figures on benchmarks",
            "benchmarks, and figures of models",
        ),
        (
            "leave [each] and [run] as they are",
            "exchange the words benchmark and model in [each] and [run]",
        ),
    )
