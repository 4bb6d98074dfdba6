"""Findings of scanners in generations of other sources, and the scores that are made of
it.

Every scan keeps its own values (``scan_value``); the scores of a run's metric are made
anew from all of them whenever a scan or a run comes or goes, so that the order in which
they come plays no part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from warehouse.records import MetricSpec
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.load.benchmark_metrics import write_described
from warehouse.store.load.metric_statements import described
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.staging import TRANSCRIPT
from warehouse.store.load.state import _Load
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

#: Unit of a metric that counts what a scanner found: it has no upper bound, whatever
#: was seen of it.
ITEMS = "items"


def push(scratch: Scratch, state: _Load) -> None:
    """The values of the scans of a load."""
    rows: list[dict[str, Any]] = []
    for number, part in enumerate(state.parts):
        scan = part.dump.scan
        if scan is None:
            continue
        for index, spec in enumerate(scan.metrics):
            rows.append(
                {
                    "part": number,
                    "metric": index,
                    "metric_id": state.metric_ids[spec],
                    "unit": spec.unit,
                    "higher_is_better": spec.higher_is_better,
                    "source_id": part.source.id,
                    "scan_id": scan.scan_id,
                }
            )
    if rows:
        scratch.put("scan_metric", pa.Table.from_pylist(rows, schema=_METRICS))
        scratch.push("scan_value", query_text("ingest", "scan_values"))
        scratch.drop(["scan_metric"])


_METRICS = pa.schema(
    {
        "part": pa.int32(),
        "metric": pa.int32(),
        "metric_id": pa.int64(),
        "unit": pa.string(),
    }
    | {"higher_is_better": pa.bool_(), "source_id": pa.int64(), "scan_id": pa.string()}
)


def join(store: Store, scratch: Scratch, state: _Load, run_ids: Iterable[int]) -> None:
    """Give the runs of a load what stored scans say of them, and stored runs what its
    scans say.

    Args:
        store: with the transaction of the load.
        scratch: with the transcripts of the load.
        state: the load.
        run_ids: of its runs, new or stored before.
    """
    scans = [part.source.id for part in state.parts if part.dump.scan is not None]
    runs: list[int] = []
    if TRANSCRIPT in state.columns and _names_generations(scratch):
        runs = sorted(set(run_ids))
    if not scans and not (runs and _any_stored(store.connection)):
        return
    with _pairs(store.connection, scans, runs) as n_pairs:
        if n_pairs:
            _settle(store)
    _note_scans(store, state, scans)
    if runs:
        _note_runs(store, state, runs, own=bool(scans))


def forget(store: Store, source_id: int) -> None:
    """Remove the values of a source, and the scores that were made of them alone."""
    connection = store.connection
    gone = sa.delete(tables.scan_value).where(
        tables.scan_value.c.source_id == source_id
    )
    if not _any_stored(connection):
        return
    with _pairs(connection, [source_id], []) as n_pairs:
        connection.execute(gone)
        if n_pairs:
            _settle(store)


def _names_generations(scratch: Scratch) -> bool:
    return bool(
        scratch.value(
            "select exists (select 1 from stage_transcript where coalesce(uuid, place) "
            "is not null)"
        )
    )


def _any_stored(connection: sa.Connection) -> bool:
    return (
        connection.exec_driver_sql("select 1 from scan_value limit 1").first()
        is not None
    )


@contextmanager
def _pairs(
    connection: sa.Connection, sources: Sequence[int], runs: Sequence[int]
) -> Iterator[int]:
    """``scanned_pair``: the runs and metrics whose scores may change; gives how many."""
    connection.execute(
        sa.text(query_text("scans", "pairs")),
        {"sources": list(sources), "runs": list(runs)},
    )
    yield int(
        connection.exec_driver_sql("select count(*) from scanned_pair").scalar_one()
    )
    connection.exec_driver_sql("drop table scanned_pair")


#: (table, what of it is made of scans)
_MADE = (
    ("score", "origin = 'scanned'"),
    ("prompt_score", "true"),
    ("draw_score", "true"),
    ("run_metric", "true"),
)


def _settle(store: Store) -> None:
    """Make the scores of ``scanned_pair`` anew, and all that follows from them."""
    connection = store.connection
    for table, condition in _MADE:
        connection.exec_driver_sql(
            query_text("scans", "clear").format(table=table, condition=condition)
        )
    for name in ("scores", "prompt_scores", "run_metrics"):
        connection.exec_driver_sql(query_text("scans", name))
    described = {
        (row.benchmark_id, row.metric_id): _described(row)
        for row in connection.exec_driver_sql(query_text("scans", "benchmark_metrics"))
    }
    write_described(store, described)


def described_of_scans(
    connection: sa.Connection, benchmarks: Collection[int]
) -> dict[tuple[int, int], dict[str, Any]]:
    """Metrics of scanners by their scores on some benchmarks, by benchmark and
    metric."""
    if not benchmarks or not _any_stored(connection):
        return {}
    connection.execute(
        sa.text(query_text("scans", "scanned_pairs")),
        {"benchmarks": sorted(benchmarks)},
    )
    rows = connection.exec_driver_sql(query_text("scans", "benchmark_metrics")).all()
    connection.exec_driver_sql("drop table scanned_pair")
    return {(row.benchmark_id, row.metric_id): _described(row) for row in rows}


def _described(row: Any) -> dict[str, Any]:
    """The metric of a scanner on a benchmark by its scores; they never are its
    headline."""
    counts = row.unit == ITEMS
    spec = MetricSpec(
        "",
        kind="continuous" if counts else None,
        low=0.0 if counts else None,
        higher_is_better=row.higher_is_better,
    )
    if row.low is None:
        seen = None
    else:
        seen = (row.low, row.high, row.is_binary)
    return {**described(spec, seen), "default_by": "scan"}


def _note_scans(store: Store, state: _Load, scans: Sequence[int]) -> None:
    """A note to each source of scans: what its values belong to, and whether others say
    the same."""
    if not scans:
        return
    found = {
        row["source_id"]: row
        for row in store.rows(query_text("scans", "joined"), {"sources": list(scans)})
    }
    for part in state.parts:
        if part.source.id in found and part.dump.scan is not None:
            part.dump.notes += _in_words(found[part.source.id])


def _in_words(row: Mapping[str, Any]) -> Iterator[str]:
    waiting = row["n_values"] - row["n_joined"]
    scanners = _several(row["n_scanners"], "scanner")
    if row["n_joined"]:
        joined = _several(row["n_joined"], "value")
        rest = ""
        if waiting == 1:
            rest = "; 1 waits for its run"
        elif waiting:
            rest = f"; {waiting} wait for their runs"
        yield (
            f"{joined} of {scanners} joined to "
            f"{_several(row['n_generations'], 'generation')}{rest}"
        )
    else:
        values = _several(row["n_values"], "value")
        yield (
            f"{values} of {scanners} wait for their runs: ingest the logs that were "
            "scanned, now or later"
        )
    if row["n_same"]:
        yield (
            f"{_several(row['n_same'], 'value')} known from another scan: counted once"
        )
    if row["n_other"]:
        yield (
            f"{_several(row['n_other'], 'value')} other than in another scan of the "
            "same: the later scan counts"
        )


def _note_runs(store: Store, state: _Load, runs: Sequence[int], own: bool) -> None:
    """A note to each source of runs which scans that came before have looked at."""
    if own:  # told of the scans of this load
        return
    found = {
        row["run_id"]: row
        for row in store.rows(query_text("scans", "of_runs"), {"runs": list(runs)})
    }
    links = tables.run_source
    sources = [part.source.id for part in state.parts]
    held = store.connection.execute(
        sa.select(links.c.source_id, links.c.run_id).where(
            links.c.source_id.in_(sources), links.c.run_id.in_(list(found))
        )
    ).all()
    for part in state.parts:
        rows = [
            found[run_id] for source_id, run_id in held if source_id == part.source.id
        ]
        if rows:
            n_scanners = max(row["n_scanners"] for row in rows)
            said = _several(sum(row["n_values"] for row in rows), "value")
            part.dump.notes.append(
                f"{said} of {_several(n_scanners, 'scanner')} from stored scans joined"
            )


def _several(count: int, word: str) -> str:
    if count == 1:
        return f"1 {word}"
    return f"{count} {word}s"
