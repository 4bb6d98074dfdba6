"""From the rows of a file to batches of the sample schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow as pa

from warehouse.importers.tabular.columns import Column, Converted, as_list, to_integer, to_number, to_text
from warehouse.importers.tabular.expressions import At, Source
from warehouse.importers.tabular.mapping import TabularMapping, Variant
from warehouse.importers.tabular.runs import RunColumns
from warehouse.importers.tabular.scores import Faults, choices_of, scores_of
from warehouse.importers.tabular.values import Unfit, text_of
from warehouse.importers.tabular.view import View
from warehouse.records import SAMPLE_SCHEMA

#: Told of a row that cannot be taken: its number in the view, what was found, what was expected.
RowFault = Callable[[int, str, str], None]


@dataclass
class Projection:
    """Rows of one variant of a mapping as batches."""

    mapping: TabularMapping
    variant: Variant
    runs: RunColumns

    def batch(self, view: View, reject: RowFault) -> pa.RecordBatch | None:
        """The rows of a view, without those that are rejected; ``None`` if none is left."""
        runs, faults = self.runs.runs(view)
        columns: dict[str, pa.Array] = {"run": pa.array(runs, pa.int32())}
        for name, source in self._sources().items():
            columns[name] = self._field(name, source, view, faults)
        columns.update(self._documents(view, columns, faults))
        if self.variant.scores:
            columns["scores"] = scores_of(view, self.variant.scores, faults)
        if self.variant.choices:
            columns["choice_scores"] = choices_of(view, self.variant.choices, faults)
        for row, fault in sorted(faults.items()):
            reject(row, fault.found, fault.expected)
        return _batch(columns, view.size, faults)

    def _sources(self) -> dict[str, Source]:
        """The mapped fields, and position and number of generation where they go without saying."""
        sources = dict(self.variant.sample)
        if self.mapping.rules.draws is not None:
            sources.setdefault("draw", At("[rows] draws", "@draw"))
        if "prompt_id" not in sources and not self.variant.is_long:
            sources.setdefault("position", At("[rows]", "@index"))
        return sources

    def _field(self, name: str, source: Source, view: View, faults: Faults) -> pa.Array:
        kind = SAMPLE_SCHEMA.field(name).type
        column = source.column(view)
        converted = _converted(name, kind, column, view.size)
        for row, fault in converted.faults.items():
            faults.setdefault(row, Unfit(fault.found, f"{source.where}: {fault.expected}"))
        return converted.array

    def _documents(self, view: View, columns: Mapping[str, pa.Array], faults: Faults) -> dict[str, pa.Array]:
        """The columns ``metadata`` and ``identity``, as JSON texts."""
        named = {name: as_list(source.column(view), view.size) for name, source in self.variant.metadata.items()}
        found: dict[str, pa.Array] = {}
        if named:
            found["metadata"] = _json_rows(named, faults)
        if self.mapping.key:
            parts = {
                name: named[name] if name in named else _key_part(name, columns[name]) for name in self.mapping.key
            }
            found["identity"] = _json_rows(parts, faults)
            for row, values in enumerate(zip(*parts.values(), strict=True)):
                if all(value is None for value in values):
                    faults.setdefault(row, Unfit("nothing", f"key: {' or '.join(parts)}"))
        return found


def _converted(name: str, kind: pa.DataType, column: Column, size: int) -> Converted:
    if name == "choices":
        return _to_choices(column, size)
    if pa.types.is_integer(kind):
        return to_integer(column, size, kind)
    return to_number(column, size) if pa.types.is_floating(kind) else to_text(column, size)


def _to_choices(column: Column, size: int) -> Converted:
    """Lists of option texts as JSON; an object counts as the list of its values."""
    texts: list[str | None] = []
    faults: dict[int, Unfit] = {}
    for row, value in enumerate(as_list(column, size)):
        options = list(value.values()) if isinstance(value, dict) else value
        if isinstance(options, list):
            words = [word if type(word) is str else text_of(word) for word in options]
            texts.append(orjson.dumps(words).decode())
            continue
        texts.append(None)
        if isinstance(options, Unfit) or options is not None:
            wanted = Unfit(repr(value)[:60], "a list of options")
            faults[row] = options if isinstance(options, Unfit) else wanted
    return Converted(pa.array(texts, pa.string()), faults)


def _key_part(name: str, array: pa.Array) -> list[Any]:
    values: list[Any] = array.to_pylist()
    if name != "choices":
        return values
    return [None if value is None else orjson.loads(value) for value in values]


def _json_rows(columns: Mapping[str, Sequence[Any]], faults: Faults) -> pa.Array:
    """One JSON object per row. Rows next to each other are often about one prompt: the same."""
    names = list(columns)
    texts: list[str | None] = []
    last, text = None, None
    for row, values in enumerate(zip(*columns.values(), strict=True)):
        if values != last:
            last, text = values, None
            if not any(isinstance(value, Unfit) for value in values):
                document = dict(zip(names, values, strict=True))
                text = orjson.dumps(document, default=str).decode()
        if text is None:
            faults.setdefault(row, next(value for value in values if isinstance(value, Unfit)))
        texts.append(text)
    return pa.array(texts, pa.string())


def _batch(columns: Mapping[str, pa.Array], size: int, faults: Faults) -> pa.RecordBatch | None:
    names = [name for name in SAMPLE_SCHEMA.names if name in columns]
    schema = pa.schema([SAMPLE_SCHEMA.field(name) for name in names])
    batch = pa.RecordBatch.from_arrays([columns[name] for name in names], schema=schema)
    if not faults:
        return batch
    rows = [row for row in range(size) if row not in faults]
    return batch.take(pa.array(rows, pa.int64())) if rows else None
