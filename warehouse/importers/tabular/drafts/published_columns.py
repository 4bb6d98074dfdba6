"""Which columns of a table hold published figures, and the sections of a mapping that say so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warehouse.importers.tabular.column_names import (
    plain_name,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.matrix import (
    LEFT_OUT,
)
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    inline_table,
    safe,
    short,
    texts,
    toml_text,
)
from warehouse.importers.tabular.runs import is_summary

#: Names of all parts together, among those of parts.
_ALL = frozenset("all any both combined everything alle todos tous tutti".split())


@dataclass(frozen=True)
class PublishedColumns:
    """Which columns of a table are what."""

    label: ColumnProfile | None  #: names the rows.
    values: Sequence[ColumnProfile]  #: columns of figures.
    size: ColumnProfile | None = None  #: prompts behind it, or None.
    #: standard errors, by the path of their column.
    errors: Mapping[str, ColumnProfile] = field(default_factory=dict)
    #: of an expression that makes numbers of them.
    keys: Mapping[str, Any] = field(default_factory=dict)
    is_wide: bool = False  #: whether every column of figures is a benchmark (or, if ``is_turned``, a model).
    is_turned: bool = False
    is_keyed: bool = False  #: whether the keys of the records name benchmarks.
    #: whether all columns of figures are figures, whichever the first.
    is_stated: bool = False
    #: of the column that names the metric of each row; empty without one.
    metric_path: str = ""
    benchmark: ColumnProfile | None = None  #: names the benchmark of each row.
    left_out: Sequence[ColumnProfile] = ()  #: columns that sum up the others.
    choices: tuple[Choice, ...] = ()
    #: prompts behind figures that have another number of them, by the figure's path;
    #: None where it is not known.
    sizes: Mapping[str, ColumnProfile | None] = field(default_factory=dict)
    parts: Sequence[ColumnProfile] = ()  #: columns that tell rows of a model apart.

    @property
    def metric(self) -> str:
        """The metric of the figures."""
        if self.is_wide:
            return "score"
        return self._metric_of(self.values[0])

    @property
    def columns(self) -> list[ColumnProfile]:
        """All of them."""
        columns = (self.label, *self.values, *self.errors.values(), self.size)
        return [column for column in columns if column is not None]

    @property
    def read(self) -> list[ColumnProfile]:
        """The columns of figures that a mapping takes; others stand in comments."""
        if self.is_wide or self.is_stated:
            return [*self.values]
        first = self.values[:1]
        others = self.values[1:]
        return [*first, *(column for column in others if column.path in self.errors)]

    def run(self) -> dict[str, str]:
        """Fields of a run and the path of each."""
        if self.is_wide:
            row, column = ("model", "benchmark")
            if self.is_turned:
                row, column = ("benchmark", "model")
            return {row: "@row", column: "@column"}
        keyed = {}
        if self.is_keyed:
            keyed = {"benchmark": "@key"}
        if self.label is None:
            return keyed
        return keyed | {"model": self.label.path}

    def rows(self) -> Iterator[str]:
        """The sections that leave out what is no model, and make a row of each cell."""
        for column in (self.label, self.benchmark, *self.parts):
            sums = []
            if column is not None:
                sums = [
                    str(value)
                    for value in column.values
                    if is_summary(value) or column in self.parts and _is_of_all(value)
                ]
            if column is not None and sums and len(sums) < len(column.values):
                yield (
                    f"[[rows.skip]]  # {LEFT_OUT}: {_shown(sums)}; without this "
                    "[[rows.skip]] it is taken too"
                )
                yield from (
                    f"path = {toml_text(column.path)}",
                    f"equal_to = {texts(sums)}",
                    "",
                )
        if self.is_wide and self.label is not None:
            kinds = ("model", "benchmark (or metric)")
            if self.is_turned:
                kinds = ("benchmark", "model")
            yield (
                f"# A row per {kinds[0]}, a column per {kinds[1]}: each cell becomes a "
                "figure."
            )
            yield "[matrix]"
            yield (
                f"label = {toml_text(self.label.name)}  # the column that names the "
                "rows"
            )
            names = "|".join(re.escape(column.name) for column in self.values)
            yield f"cells = {toml_text(names)}  # the columns with figures"
            if self.left_out:
                sums = [column.name for column in self.left_out]
                yield (
                    f"# {LEFT_OUT}: {_shown(sums)}; add to cells what is to be a "
                    "benchmark of its own"
                )
            yield ""

    def published(self) -> Iterator[str]:
        """The section of the figures themselves."""
        yield (
            "[[published]]  # figures that the table states; there are no scores of "
            "prompts behind them"
        )
        if self.is_wide:
            yield from (
                'metric = "score"',
                f"value = {self._value('@cell', self.keys)}",
                "",
            )
            return
        if self.is_stated and self.left_out:
            sums = [column.name for column in self.left_out]
            yield f"# {LEFT_OUT}: {_shown(sums)}; add a [[published]] for what is to be one"
        for number, column in enumerate(self.values):
            if column not in self.read:
                yield f"# [[published]]  # if {toml_text(column.name)} is a figure too"
                yield from (
                    f"# metric = {toml_text(self._metric_of(column))}",
                    f"# value = {toml_text(column.path)}",
                    "",
                )
                continue
            if number:
                yield "[[published]]"
            named = {"path": self.metric_path}
            metric = toml_text(self._metric_of(column))
            if self.metric_path:
                metric = inline_table(named)
            yield f"metric = {metric}"
            yield f"value = {self._value(column.path, self.keys)}"
            error = self.errors.get(column.path)
            size = None
            if self.is_stated or not number:
                size = self.sizes.get(column.path, self.size)
            if error is not None:
                keys = error.reading()[0]
                yield f"standard_error = {self._value(error.path, keys)}"
            if size is not None:
                yield f"n = {toml_text(size.path)}"
            yield ""

    def _metric_of(self, column: ColumnProfile) -> str:
        """The name of a figure, with those of the objects around it where another has
        the same: ``strict.acc``."""
        names = [other.name for other in self.values]
        if names.count(column.name) < 2:
            return column.name
        return ".".join((*column.parents, column.name))

    def _value(self, path: str, keys: Mapping[str, Any]) -> str:
        if keys:
            return inline_table({"path": path} | dict(keys))
        return toml_text(path)


def _is_of_all(value: object) -> bool:
    """True if the name of a part is that of all parts together."""
    return plain_name(str(value)) in _ALL


def _shown(names: Sequence[str]) -> str:
    return safe(", ".join(map(short, names)))
