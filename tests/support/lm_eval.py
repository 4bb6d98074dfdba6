"""Reading dumps of lm-evaluation-harness in tests: files in, run headers and sample
rows out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from warehouse.importers.lm_eval.importer import IMPORTER
from warehouse.importers.lm_eval.v03 import IMPORTER as IMPORTER_V03
from warehouse.records import (
    SAMPLE_SCHEMA,
    BulkQuery,
    Candidate,
    Dump,
    ImportSettings,
    RunHeader,
    SourceFiles,
    parse_json,
)

FIXTURES = Path(__file__).parents[1] / "data" / "lm_eval"
STAMP = "2026-03-04T05-06-07.890123"

Row = dict[str, Any]


@dataclass
class Taken:
    """What an importer made of one source. ``bulk`` and ``slow`` are the rows of the
    readings, in the two ways; ``rows`` are all rows."""

    dump: Dump
    rows: list[Row] = field(default_factory=list)
    bulk: list[Row] = field(default_factory=list)
    slow: list[Row] = field(default_factory=list)

    def run(self, benchmark: str) -> RunHeader:
        return next(run for run in self.dump.runs if run.benchmark == benchmark)

    def rows_of(self, benchmark: str) -> list[Row]:
        number = [run.benchmark for run in self.dump.runs].index(benchmark)
        return [row for row in self.rows if row["run"] == number]

    def scores(self, benchmark: str) -> dict[tuple[Any, ...], Any]:
        """Value of each score by prompt, draw, metric and filter."""
        return {
            (row["prompt_id"], row["draw"], score["metric"], score["filter"]): score[
                "value"
            ]
            for row in self.rows_of(benchmark)
            for score in row["scores"] or ()
        }

    def mean(self, benchmark: str, metric: str, filter: str = "") -> float:
        values = [
            value
            for key, value in self.scores(benchmark).items()
            if key[2:] == (metric, filter) and value is not None
        ]
        return float(sum(values) / len(values))


def candidates(paths: Iterable[Path]) -> list[Candidate]:
    files = (file for path in paths for file in _files(path))
    return [
        Candidate(file, file.read_bytes()[:65_536], file.stat().st_size)
        for file in files
    ]


def claimed(*paths: Path, importer: Any = IMPORTER) -> list[SourceFiles]:
    return sorted(importer.claim(candidates(paths)), key=lambda source: source.name)


def take(*paths: Path, importer: Any = IMPORTER, **values: Any) -> Taken:
    """The one source that some paths hold, read in every way there is."""
    (source,) = claimed(*paths, importer=importer)
    taken = Taken(importer.read(source, ImportSettings(values)))
    for batch in taken.dump.batches:
        if isinstance(batch, BulkQuery):
            bulk = run_query(batch)
            taken.bulk += bulk
            taken.slow += [row for part in batch.fallback() for row in part.to_pylist()]
            taken.rows += bulk
        else:
            taken.rows += batch.to_pylist()
    return taken


def take_v03(*paths: Path, **values: Any) -> Taken:
    return take(*paths, importer=IMPORTER_V03, **values)


def take_slowly(path: Path, **values: Any) -> Taken:
    """As :func:`take`, but every row goes the way that a failed query leads to."""
    (source,) = claimed(path)
    taken = Taken(IMPORTER.read(source, ImportSettings(values)))
    for batch in taken.dump.batches:
        parts = batch.fallback() if isinstance(batch, BulkQuery) else [batch]
        taken.rows += [row for part in parts for row in part.to_pylist()]
    return taken


def run_query(reading: BulkQuery) -> list[Row]:
    """The rows of a reading, as the loader takes them."""
    with duckdb.connect() as connection:
        connection.register("empty", SAMPLE_SCHEMA.empty_table())
        connection.execute("create table stage as select * from empty")
        held = (
            f"select * from ({reading.sql}) where case when {reading.unfit} then "
            "error('unfit') else true end"
        )
        connection.execute(
            f"insert into stage by name {held}", dict(reading.parameters)
        )
        table = connection.sql("select * from stage").to_arrow_table()
    return list(table.cast(SAMPLE_SCHEMA).to_pylist())


def alike(rows: Iterable[Row]) -> list[Row]:
    """Rows with their JSON texts parsed: blanks and the way of writing numbers do not
    count."""
    return [_parsed(row) for row in rows]


def _parsed(row: Mapping[str, Any]) -> Row:
    texts = {name: row[name] for name in ("identity", "metadata", "choices")}
    parsed = {
        name: None if text is None else parse_json(text) for name, text in texts.items()
    }
    return {**row, **parsed}


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file())
