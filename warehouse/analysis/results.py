"""The base of all results: rows, a frame, a dictionary."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from inspect import get_annotations, getattr_static
from itertools import chain
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    Self,
    TypeVar,
    overload,
)

from warehouse.errors import MisuseError
from warehouse.field_docs import document_fields
from warehouse.questions.saying import in_python_words
from warehouse.tables.markup import in_latex, in_markdown, in_percent
from warehouse.tables.text import in_text
from warehouse.tables.view import Part, Table, TableNote, View, in_html
from warehouse.tables.words import WrittenNumber

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from warehouse.charts.chart import Chart
    from warehouse.charts.picture import Picture

T = TypeVar("T")

#: Rows that a notebook shows.
NOTEBOOK_ROWS = 200
#: Rows of a query that are turned into objects at once.
_BATCH_ROWS = 10_000
#: Columns that name the runs behind a row, by their ids in the store.
RUN_COLUMNS = {"run_ids", "runs_a", "runs_b", "run_a", "run_b", "run_id"}


def finite_or_none(value: float) -> float | None:
    """A number, None for NaN and infinities."""
    if math.isfinite(value):
        return float(value)
    return None


def plain(value: Any) -> Any:
    """A value as JSON holds it: rows and other dataclasses by name, tuples as lists."""
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, Row):
        return value.to_dict()
    if is_dataclass(value):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    return value


def run_ids_in(rows: Iterable[Mapping[str, Any]]) -> set[int]:
    """Ids of the runs that rows of an answer name."""
    found: set[int] = set()
    for row in rows:
        for name in RUN_COLUMNS & row.keys():
            value = row[name]
            values = value if isinstance(value, list | tuple) else [value]
            found.update(item for item in values if isinstance(item, int))
    return found


class Column(Generic[T]):
    """A column of a row that stands in one of the row's parts.

    Declare it as ``name: ClassVar[Column[type]] = Column("part.attribute")``: the row
    then has the attribute, and `Row.columns` the name, in the order of declaration.

    Args:
        path: attributes from the row on.
        absent: what the column is where a part on the way is None.
    """

    def __init__(self, path: str, absent: Any = None) -> None:
        self.names = tuple(path.split("."))
        self.absent = absent

    @overload
    def __get__(self, row: None, owner: type) -> Column[T]: ...
    @overload
    def __get__(self, row: object, owner: type) -> T: ...
    def __get__(self, row: object | None, owner: type) -> Any:
        if row is None:
            return self
        value: Any = row
        for name in self.names:
            value = getattr(value, name)
            if value is None:
                return self.absent
        return value


class Row:
    """Base of one row of a result: a frozen dataclass whose fields and `Column` are the
    columns."""

    #: fields that hold the parts in which columns stand, and are no columns themselves.
    PARTS: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        document_fields(cls)

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return _columns(cls)  # type: ignore[arg-type]  # a class has a hash

    def to_dict(self) -> dict[str, Any]:
        """The columns by name; tuples become lists."""
        return {name: plain(getattr(self, name)) for name in self.columns()}


@dataclass(frozen=True)
class BenchmarkRow(Row):
    """A row about one benchmark."""

    benchmark: str  #: name of the benchmark.
    split: str  #: part of the benchmark.
    metric: str  #: name of the metric, with its filter.


@dataclass(frozen=True)
class PairedRow(BenchmarkRow):
    """A row about two conditions on a benchmark."""

    model_a: str  #: the first model.
    condition_a: str  #: settings that tell it from the second.
    model_b: str  #: the second model.
    condition_b: str  #: settings that tell it from the first.


@dataclass(frozen=True)
class RecipeRow(BenchmarkRow):
    """A row about the training runs of one recipe on a benchmark. Figures are in the
    metric's reported unit."""

    model: str  #: name of the model.
    recipe: str  #: data mix or hyperparameters.
    setting: str  #: settings in which this row differs from others of the same model and recipe.


@dataclass(frozen=True)
class ConditionRow(Row):
    """A row about one condition."""

    model: str  #: name of the model.
    condition: str  #: settings that tell the row from others.
    benchmark: str  #: name of the benchmark.
    split: str  #: part of the benchmark.
    metric: str  #: name of the metric, with its filter.


@cache
def _columns(row: type[Row]) -> tuple[str, ...]:
    own = {item.name for item in fields(row)} - set(row.PARTS)  # type: ignore[arg-type]
    declared = list(
        chain.from_iterable(get_annotations(base) for base in reversed(row.__mro__))
    )
    return tuple(
        name
        for name in declared
        if name in own or isinstance(getattr_static(row, name, None), Column)
    )


def part_fields(part: object | None, *names: str, **renamed: str) -> dict[str, Any]:
    """Fields of a row that stand in a part of it: by the same name in both, or
    ``field="attribute"``; all None without the part."""
    attributes = dict(zip(names, names, strict=True)) | renamed
    return {
        field: None if part is None else getattr(part, own)
        for field, own in attributes.items()
    }


def shared_fields(source: Any, kind: type[Any], **own: Any) -> dict[str, Any]:
    """Values of the fields that a result is made with: its own, and those that another
    has by the same name."""
    alike = (
        item.name for item in fields(kind) if item.init and hasattr(source, item.name)
    )
    return {name: getattr(source, name) for name in alike} | own


class ConfidenceInterval(NamedTuple):
    """Both ends, by the names that scipy gives them."""

    low: float | None
    high: float | None


class Tested:
    """Names that scipy has for the parts of a comparison's row; of fields that the row
    has."""

    @property
    def pvalue(self) -> float | None:
        """Two-sided p-value of the test that was asked for; None where it does not
        apply."""
        p_value: float | None = self._named("p_value")
        return p_value

    @property
    def statistic(self) -> float | None:
        """t: the difference over its standard error; None without one, or where another
        test was asked for."""
        error = self._named("standard_error")
        if not error or getattr(self, "test", "t") != "t":
            return None
        return float(self._named("difference") / error)

    @property
    def confidence_interval(self) -> ConfidenceInterval:
        """Interval of the difference."""
        return ConfidenceInterval(self._named("ci_low"), self._named("ci_high"))

    def _named(self, column: str) -> Any:
        """A column of the row."""
        return getattr(self, column)


class SingleTest:
    """The same of a result with one row."""

    rows: tuple[Any, ...]

    @property
    def pvalue(self) -> float | None:
        """Two-sided p-value; see :class:`Tested`."""
        p_value: float | None = self._only.pvalue
        return p_value

    @property
    def statistic(self) -> float | None:
        """t; see :class:`Tested`."""
        statistic: float | None = self._only.statistic
        return statistic

    @property
    def confidence_interval(self) -> ConfidenceInterval:
        """Interval of the difference."""
        interval: ConfidenceInterval = self._only.confidence_interval
        return interval

    @property
    def _only(self) -> Any:
        if len(self.rows) != 1:
            raise MisuseError(
                f"{len(self.rows)} rows have a p-value each: take it of rows[i], or "
                "name one benchmark"
            )
        return self.rows[0]


class Result:
    """Base of a result: a frozen dataclass with ``rows``."""

    #: fields of the rows that a notebook shows; empty for all.
    notebook_columns: ClassVar[tuple[str, ...]] = ()
    #: ``module:function`` that draws it, loaded when it is drawn; empty where it has no
    #: charts of its own.
    DRAWN_BY: ClassVar[str] = ""
    rows: tuple[Any, ...]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):
            # a dataclass writes one of all its fields where the class has none
            cls.__repr__ = Result.__repr__  # type: ignore[method-assign]
        document_fields(cls)

    @classmethod
    def kind_of(cls, part: str = "rows") -> Any:
        """Class of the records that a field holds, as it is declared: ``tuple[Class,
        ...]``; None for no such field."""
        return _kind_of(cls, part)  # type: ignore[arg-type]  # a class has a hash

    def to_dict(self) -> dict[str, Any]:
        """All fields by name; those that hold records are lists of dictionaries."""
        own = {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]
        held = {
            name for name in own if name == "rows" or is_dataclass(self.kind_of(name))
        }
        for name in own:
            if name in held:
                own[name] = [plain(record) for record in own[name]]
        return own

    def records(self) -> list[dict[str, Any]]:
        """The rows, a dictionary each."""
        return [plain(row) for row in self.rows]

    def to_frame(self) -> pd.DataFrame:
        """The rows as a pandas frame.

        Raises:
            MisuseError: pandas is not installed.
        """
        frame: pd.DataFrame = _package("pandas").DataFrame(self.records())
        return frame

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        import pyarrow as pa

        return pa.Table.from_pylist(self.records())

    def to_polars(self) -> pl.DataFrame:
        """The rows as a polars frame.

        Raises:
            MisuseError: polars is not installed.
        """
        frame: pl.DataFrame = _package("polars").from_arrow(self.to_arrow())
        return frame

    def charts(self) -> Sequence[Chart | Picture | None]:
        """Charts and pictures of the answer by itself, in the order in which they stand
        below each other.

        Without any, :meth:`plot` draws the estimates of the rows with their intervals.
        """
        if not self.DRAWN_BY:
            return ()
        module, _, name = self.DRAWN_BY.partition(":")
        return tuple(getattr(import_module(module), name)(self))

    def plot(self) -> Any:
        """The result as a chart: estimates with their intervals, or what the report
        draws of it.

        Returns:
            an ``altair`` chart where Altair is installed, else a
            :class:`~warehouse.charts.plot.VegaLite`, which a notebook shows too;
            ``spec`` of the latter is the specification of Vega-Lite.

        Raises:
            MisuseError: there is nothing that could be drawn.
        """
        from warehouse.charts.plot import plot

        return plot(self)

    @property
    def one_line(self) -> str:
        """The answer in one line; empty where it has none."""
        if type(self).__str__ is Result.__str__:
            return ""
        return str(self)

    def view(self, *, verbose: bool = False) -> View:
        """The result as people are shown it: the command's sentences and tables.

        Args:
            verbose: with everything that there is to say.
        """
        rows = [plain(row) for row in self._notebook_rows()]
        names = self.notebook_columns or (tuple(rows[0]) if rows else ())
        filled = []
        for name in names:
            if any(_says_something(row[name]) for row in rows):
                filled.append(name)
        cells = []
        for row in rows:
            cells.append(tuple(_in_words(row[name]) for name in filled))
        table = Table(tuple(filled), tuple(cells), minor=tuple(reversed(filled[1:])))
        return View((*filter(None, (self.one_line,)), table))

    def __str__(self) -> str:
        return in_text(_in_python(self.view()))

    def __repr__(self) -> str:
        """What `str` says: a prompt of Python shows the answer."""
        return str(self)

    def _notebook_rows(self) -> tuple[Any, ...]:
        """Rows that a notebook shows."""
        return self.rows

    def to_markdown(self, *, percent: bool = False) -> str:
        """The view as Markdown: each estimate with its standard error in brackets.

        Args:
            percent: shares of 1 in per cent, as in 65.5 % (0.7 %).

        Raises:
            MisuseError: in per cent, a figure above 1.
        """
        if percent:
            shown = in_percent(self.view())
        else:
            shown = self.view()
        return in_markdown(shown)

    def to_latex(self, *, percent: bool = False) -> str:
        r"""The same for a paper, as tables of LaTeX; needs ``\usepackage{booktabs}``."""
        if percent:
            shown = in_percent(self.view())
        else:
            shown = self.view()
        return in_latex(shown)

    def _repr_html_(self) -> str:
        """HTML for a notebook: the same as HTML, with intervals drawn."""
        return in_html(_in_python(self.view()), rows=NOTEBOOK_ROWS)


@dataclass(frozen=True)
class Listing(Result):
    """Things of one kind that a store holds: records by the names of their fields,
    which can be counted and gone through."""

    rows: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def view(self, *, verbose: bool = False) -> View:
        """The table of the command that lists them."""
        from warehouse.analysis.listing_view import listing_table

        return View((listing_table(self.rows) if self.rows else "nothing yet",))


@dataclass(frozen=True, repr=False)
class QueryResult(Result):
    """What a query found: a table, which can be counted and gone through."""

    table: pa.Table  #: as Arrow.

    @property
    def rows(self) -> tuple[dict[str, Any], ...]:  # type: ignore[override]  # made when they are asked for
        """Its rows, a dictionary each."""
        return tuple(self.table.to_pylist())

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self.table.to_batches(max_chunksize=_BATCH_ROWS):
            yield from batch.to_pylist()

    @property
    def one_line(self) -> str:
        return f"{len(self)} rows of {', '.join(self.table.column_names)}"

    def records(self) -> list[dict[str, Any]]:
        """Its rows, a dictionary each."""
        return list(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Its rows as plain values."""
        return {"rows": [plain(row) for row in self]}

    def to_arrow(self) -> pa.Table:
        """The table itself."""
        return self.table

    def to_frame(self) -> pd.DataFrame:
        """The table as a pandas frame."""
        _package("pandas")
        return self.table.to_pandas()

    def view(self, *, verbose: bool = False) -> View:
        """The first rows, and how many there are."""
        shown = self.table.slice(0, NOTEBOOK_ROWS)
        columns = dict(zip(shown.column_names, shown.to_pydict().values(), strict=True))
        more = len(self) - shown.num_rows
        notes: tuple[str, ...] = ()
        if more > 0:
            notes = (f"{more} more rows: to_frame() has all",)
        return View((Table.of_columns(columns),), notes)


class StoredResult(Result):
    """A result that is stored once computed, and read back."""

    def to_dict(self) -> dict[str, Any]:
        """All fields by name; rows are dictionaries, tuples lists."""
        return {item.name: plain(getattr(self, item.name)) for item in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """The result that `to_dict` stored of."""
        return cls(
            **{name: _typed(value, cls.kind_of(name)) for name, value in stored.items()}
        )


def _package(name: str) -> Any:
    """A package of frames, which the program itself does not need."""
    try:
        return import_module(name)
    except ImportError:
        raise MisuseError(
            f"the package {name} is not installed; run: python -m pip install {name}"
        ) from None


@cache
def _kind_of(result: type[Result], part: str) -> Any:
    for base in result.__mro__:
        member = vars(base).get(part)
        # of a property, or a cached one
        getter = getattr(member, "fget", None) or getattr(member, "func", None)
        if getter:
            declared = get_annotations(getter)["return"]
        else:
            declared = get_annotations(base).get(part)
        if declared is not None:
            return vars(sys.modules[base.__module__]).get(
                str(declared).removeprefix("tuple[").removesuffix(", ...]")
            )
    return None


def _typed(value: Any, row: type[Row] | None) -> Any:
    if isinstance(value, list):
        return tuple(row(**item) if row else item for item in value)
    return value


def _says_something(value: Any) -> bool:
    return not (
        value is None or value != value or (isinstance(value, str | list) and not value)
    )


def _in_python(view: View) -> View:
    """A view whose advice names methods and their arguments: it is read in Python."""
    parts: list[Part] = []
    for part in view.parts:
        if isinstance(part, TableNote):
            part = replace(part, line=in_python_words(part.line))
        elif type(part) is str:
            part = in_python_words(part)
        parts.append(part)
    return replace(
        view, parts=tuple(parts), notes=tuple(map(in_python_words, view.notes))
    )


def _in_words(value: Any) -> Any:
    if not _says_something(value):
        return ""
    if isinstance(value, float):
        return WrittenNumber(f"{value:.4g}")
    return value
