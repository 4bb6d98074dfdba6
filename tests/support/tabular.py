"""Reading tabular dumps in tests: a mapping and files in, run headers and rows out."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warehouse.importers.tabular.importer import IMPORTER, load_mapping
from warehouse.records import (
    SAMPLE_SCHEMA,
    Candidate,
    ImportSettings,
    Rejection,
    RunHeader,
)

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Taken:
    """What the importer made of a folder: runs (numbered through all sources) and rows."""

    sources: list[str] = field(default_factory=list)
    runs: list[RunHeader] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)

    def run_of(self, row: Mapping[str, Any]) -> RunHeader:
        return self.runs[row["run"]]

    def values(
        self, *fields: str, metric: str | None = None
    ) -> dict[tuple[Any, ...], list[Any]]:
        """Score values by fields of their run (or, after a dot, of the row)."""
        found: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
        for row in self.rows:
            header = self.run_of(row)
            key = tuple(
                row[f[1:]] if f[0] == "." else getattr(header, f) for f in fields
            )
            for score in row["scores"] or ():
                if metric in (None, score["metric"]):
                    found[key].append(score["value"])
        return dict(found)

    def means(
        self, *fields: str, metric: str | None = None
    ) -> dict[tuple[Any, ...], float]:
        """Mean score by fields of the run, over the rows that have one."""
        return {
            key: sum(scored) / len(scored)
            for key, values in self.values(*fields, metric=metric).items()
            if (scored := [value for value in values if value is not None])
        }


def read(
    folder: Path,
    mapping: Mapping[str, Any],
    values: Mapping[str, Any] | None = None,
    only: Sequence[str] = SAMPLE_SCHEMA.names,
) -> Taken:
    """Everything that a mapping takes from a folder; of the rows, only some columns."""
    importer = IMPORTER.for_mapping(mapping, "mapping.toml")
    taken = Taken()
    for source in importer.claim(candidates(folder)):
        dump = importer.read(source, ImportSettings(values or {}))
        first = len(taken.runs)
        taken.sources.append(source.name)
        taken.runs += dump.runs
        for batch in dump.batches:
            assert (
                batch.schema
                == SAMPLE_SCHEMA.empty_table().select(batch.schema.names).schema
            )
            empty = dict.fromkeys(SAMPLE_SCHEMA.names)
            shown = batch.select([name for name in batch.schema.names if name in only])
            taken.rows += [
                empty | row | {"run": row["run"] + first} for row in shown.to_pylist()
            ]
        taken.notes += dump.notes
        taken.rejections += dump.rejections
    return taken


def read_toml(folder: Path, text: str, **values: Any) -> Taken:
    """As :func:`read`, with the mapping as TOML text."""
    return read(folder, tomllib.loads(text), values)


def documented(name: str) -> dict[str, Any]:
    """A mapping of the documentation."""
    return load_mapping(ROOT / "docs" / "mappings" / f"{name}.toml")


def candidates(folder: Path) -> list[Candidate]:
    """All files under a folder, as the walk offers them."""
    return [candidate(path) for path in sorted(folder.rglob("*")) if path.is_file()]


def candidate(path: Path) -> Candidate:
    """One file, as the walk offers it."""
    with path.open("rb") as handle:
        return Candidate(path, handle.read(65_536), path.stat().st_size)


def scores(rows: Iterable[Mapping[str, Any]]) -> list[Any]:
    """The value of the only score of each row."""
    return [score["value"] for row in rows for score in row["scores"]]
