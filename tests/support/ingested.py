"""A new store with what some files of a tool hold, which is sound."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warehouse.ingest.pipeline import ingest
from warehouse.ingest.report import IngestReport
from warehouse.store.connection import Store
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check


@contextmanager
def ingested(url: str, *paths: Path) -> Iterator[tuple[Store, IngestReport]]:
    """The store and the report. No source is refused; `db check` finds nothing at the
    end of the block."""
    with open_store(url, create=True, write=True) as store:
        report = ingest(store, paths)
        assert report.refused == ()
        yield store, report
        assert check(store, deep=True).ok
