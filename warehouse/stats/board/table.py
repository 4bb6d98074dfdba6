"""A board: entries, columns, and cells as they were printed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.board.cells import (
    Figure,
    has_decimal_commas,
    is_nothing,
    parse_figure,
)
from warehouse.stats.core.inputs import FloatArray

#: Words of names of columns that count, measure or cost something, and score nothing.
_COUNTING = frozenset(
    ("n", "num", "count", "counts", "size", "length", "token", "tokens", "cost")
    + ("costs", "price", "second", "seconds", "latency", "year", "date", "version")
    + ("output", "outputs", "ask", "asks", "comment", "comments", "error", "errors")
    + ("timeout", "timeouts", "window", "windows", "wins", "draws", "rank")
    + ("experiment", "experiments", "params", "parameters", "time", "#", "votes")
    + ("runtime", "duration", "throughput", "flops", "memory", "gpu", "seed", "step")
    + ("steps", "epoch", "epochs", "id", "uuid", "ranking", "shot", "shots", "n-shot")
)
#: Share of the cells of a column that have at most its usual decimals.
_MOST_DECIMALS = 0.75
_WORD_ENDS = re.compile(r"[\s_|()\[\]{}/,:$]+")
#: Rows that are no entries: people, chance, sums of the others.
_NO_ENTRY = re.compile(
    r"(?<![a-z])(?:humans?|random|chance|guess\w*|average|total|others?)(?![a-z])"
    r"|^\W*(?:mean|median|min|minimum|max|maximum|std|sd|stdev|standard deviation"
    r"|variance|range|sum|count|n)\W*$",
    re.IGNORECASE,
)
#: Rows that hold the means of those above.
_MEANS = frozenset(("avg", "average", "mean", "avg.", "overall average"))
#: Names of errors: that of the figure is before or behind it, or nowhere.
_ERROR = re.compile(r"(?:^|[\s_,|.-])(?:stderr|standard_error|std_err|se)(?=$|[,|])")


@dataclass(frozen=True, eq=False)
class FigureColumn:
    """A column of a board that holds numbers."""

    name: str
    figures: tuple[Figure | None, ...]  #: one a row; None where there is none.

    @cached_property
    def values(self) -> FloatArray:
        """Of each row, NaN where there is none."""
        return np.array(
            [np.nan if one is None else float(one.value) for one in self.figures]
        )

    @cached_property
    def tolerances(self) -> FloatArray:
        """How far true values may lie from what was printed; NaN where there is none."""
        return np.array(
            [np.nan if one is None else float(one.tolerance) for one in self.figures]
        )

    @cached_property
    def fine_tolerances(self) -> FloatArray:
        """The same at the decimals of most of the column, where a cell has fewer: a
        writer that drops zeros prints 1 for 1.000."""
        decimals = [one.decimals for one in self.figures if one and not one.is_exact]
        if not decimals:
            return self.tolerances
        usual = float(np.quantile(decimals, _MOST_DECIMALS, method="lower"))
        usual_tolerance = 0.55 * 10.0**-usual + 1e-9 * np.abs(self.values)
        return np.asarray(np.minimum(self.tolerances, usual_tolerance))

    @cached_property
    def exact(self) -> NDArray[np.bool_]:
        """Which were written with all their digits."""
        return np.array([one is not None and one.is_exact for one in self.figures])

    @cached_property
    def there(self) -> NDArray[np.bool_]:
        """Which rows have one."""
        return np.array([one is not None for one in self.figures], dtype=bool)

    @cached_property
    def is_integer(self) -> bool:
        """True if all values are integers."""
        return all(one is None or one.value.denominator == 1 for one in self.figures)

    @cached_property
    def is_count(self) -> bool:
        """True if by its name it counts, measures or costs something."""
        name = self.name.casefold().strip()
        if name.startswith(("n_", "num_")):
            return True
        return not _COUNTING.isdisjoint(_WORD_ENDS.split(name))

    @cached_property
    def is_error(self) -> bool:
        """True if by its name it holds standard errors."""
        return _ERROR.search(self.name.casefold()) is not None

    @cached_property
    def scale(self) -> int | None:
        """1 or 100 where figures are shares or per cent; None where they are neither."""
        values = self.values[self.there]
        if not len(values) or values.min() < 0:
            return None
        top = float(np.quantile(values, 0.9))
        if top <= 1:
            return 1
        if top <= 100:
            return 100
        return None

    @cached_property
    def is_score(self) -> bool:
        """True if its figures are scores on a scale: no counts, no errors, no few
        integers."""
        if self.is_count or self.is_error or self.scale is None:
            return False
        if not self.is_integer:
            return True
        n_values = len(np.unique(self.values[self.there]))
        return self.scale == 100 and n_values > 3


@dataclass(frozen=True, eq=False)
class Board:
    """A table that somebody published: a row an entry, a column a metric of a task."""

    entries: tuple[str, ...]  #: names of the rows.
    columns: tuple[str, ...]  #: names of the columns.
    #: texts of each column in the order of the rows; empty where a cell is.
    cells: tuple[tuple[str, ...], ...]
    is_ordered: bool = True  #: whether the order of the rows means something.
    #: items that a column is known to have, by its name.
    sizes: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def figures(self) -> tuple[FigureColumn, ...]:
        """The columns that hold numbers, in their order."""
        found = []
        for name, texts in zip(self.columns, self.cells, strict=True):
            column = FigureColumn(name, _figures_of(texts))
            if column.there.sum() >= self._fewest(name):
                found.append(column)
        return tuple(found)

    def _fewest(self, name: str) -> float:
        """Cells with a number that make a column of figures."""
        if name in self.sizes:
            return 1
        return max(3.0, 0.3 * len(self.entries))

    @cached_property
    def scores(self) -> tuple[FigureColumn, ...]:
        """The columns of scores."""
        return tuple(column for column in self.figures if column.is_score)

    @cached_property
    def texts(self) -> dict[str, tuple[str, ...]]:
        """The columns that hold no numbers, by name."""
        names = {column.name for column in self.figures}
        return {
            name: texts
            for name, texts in zip(self.columns, self.cells, strict=True)
            if name not in names
        }

    @cached_property
    def is_entry(self) -> NDArray[np.bool_]:
        """Which rows are entries; not people, chance, or sums of others."""
        return np.array([not is_no_entry(name) for name in self.entries], dtype=bool)

    @cached_property
    def n_figures(self) -> int:
        """Numbers of all columns of figures."""
        return int(sum(column.there.sum() for column in self.figures))

    def figure(self, name: str) -> FigureColumn | None:
        """The column of figures of this name; None where there is none."""
        for column in self.figures:
            if column.name == name:
                return column
        return None


def is_no_entry(name: str) -> bool:
    """Whether a row of this name is people, chance, or a sum of the others."""
    return is_mean_row(name) or _NO_ENTRY.search(name) is not None


def is_mean_row(name: str) -> bool:
    """Whether a row of this name holds the means of those above."""
    return name.strip().strip("*_").casefold() in _MEANS


def _figures_of(texts: Sequence[str]) -> tuple[Figure | None, ...]:
    commas = has_decimal_commas([text for text in texts if "," in text])
    return tuple(parse_figure(text, decimal_comma=commas) for text in texts)


_OF = r"(?P<count>\d{1,9})\s*/\s*(?P<n>\d{1,9})"
_SHARE = r"(?P<share>\d{1,3}(?:\.\d+)?\s*%)"
_COUNTED = (
    re.compile(_OF),
    re.compile(rf"{_OF}\s*[(=,]?\s*{_SHARE}\s*\)?"),
    re.compile(rf"{_SHARE}\s*[(=,]?\s*{_OF}\s*\)?"),
)


def make_board(
    entries: Sequence[str],
    columns: Mapping[str, Sequence[str]],
    *,
    is_ordered: bool = True,
    sizes: Mapping[str, int] | None = None,
) -> Board:
    """A board of texts.

    Args:
        entries: names of the rows.
        columns: texts of each column by its name, one a row, as they were printed; a
            cell ``58 / 130`` becomes two columns, ``… count`` and ``… n``.
        is_ordered: whether the order of the rows means something.
        sizes: items that a column is known to have, by its name.

    Raises:
        StatisticsError: a column has not one text a row.
    """
    names: list[str] = []
    cells: list[tuple[str, ...]] = []
    for name, texts in columns.items():
        if len(texts) != len(entries):
            raise StatisticsError(
                f"column {name!r} must have one text a row, found {len(texts)} texts "
                f"and {len(entries)} rows"
            )
        plain = tuple("" if is_nothing(text) else text for text in texts)
        for part, of_part in _parted(name, plain).items():
            names.append(part)
            cells.append(of_part)
    return Board(
        tuple(entries), tuple(names), tuple(cells), is_ordered, dict(sizes or {})
    )


def _parted(name: str, texts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """A column, or the columns that its cells ``58 / 130`` make."""
    filled = [text for text in texts if text]
    n_slashes = sum("/" in text for text in filled)
    if not filled or 2 * n_slashes < len(filled):
        return {name: texts}
    found = [_counted(text) for text in texts]
    if 2 * sum(one is not None for one in found) <= len(filled):
        return {name: texts}
    parts: dict[str, tuple[str, ...]] = {}
    for group, ending in (("share", ""), ("count", " count"), ("n", " n")):
        of_group = tuple("" if one is None else one[group] for one in found)
        if any(of_group):
            parts[f"{name}{ending}"] = of_group
    return parts


def _counted(text: str) -> dict[str, str] | None:
    for pattern in _COUNTED:
        found = pattern.fullmatch(text.strip())
        if found:
            return {"share": "", **found.groupdict()}
    return None
