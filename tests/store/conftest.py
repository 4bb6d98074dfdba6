"""Stores that are filled through the real loader, with dumps made by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
import sqlalchemy as sa

from warehouse.importers.base import batch_of
from warehouse.records import Dump, MetricSpec, PublishedScore, RunHeader
from warehouse.store.connection import Store
from warehouse.store.load import source_ledger
from warehouse.store.load.loader import Loader
from warehouse.store.load.state import LoadOptions, LoadReport, SourceClaim
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import checks, run_check

Row = dict[str, Any]


@dataclass
class Kit:
    """An open, migrated store, its loader, and short ways to load and to look."""

    store: Store
    loader: Loader
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    # what a dump is made of

    @staticmethod
    def header(run_id: str | None = "1", **fields: Any) -> RunHeader:
        given = {"harness": "tool", "model": "org/a", "benchmark": "quiz"} | fields
        return RunHeader(run_id=run_id, **given)

    @staticmethod
    def row(
        prompt: str, value: float | None = None, metric: str = "acc", **fields: Any
    ) -> Row:
        """A sample of run 0 with one score."""
        scores = [{"metric": metric, "value": value}]
        return {"run": 0, "prompt_id": prompt, "scores": scores} | fields

    def rows(self, scores: dict[str, float | None], **fields: Any) -> list[Row]:
        return [self.row(prompt, value, **fields) for prompt, value in scores.items()]

    spec = staticmethod(MetricSpec)
    figure = staticmethod(PublishedScore)

    # loading

    def claim(self, path: str = "", sha256: str = "") -> SourceClaim:
        number = next(self._numbers)
        claim = source_ledger.claim(
            self.store,
            path=path or f"dump{number}.json",
            size=1,
            sha256=sha256 or f"{number:064}",
            importer="tool",
            version="1",
            settings={},
        )
        assert claim is not None
        return claim

    def load(
        self,
        headers: RunHeader | Sequence[RunHeader],
        rows: Sequence[Row] = (),
        *,
        path: str = "",
        dump: dict[str, Any] | None = None,
        dry_run: bool = False,
        **options: Any,
    ) -> LoadReport:
        """Load one source of its own; `dump` holds more fields of the dump, `options`
        the rest."""
        runs = (headers,) if isinstance(headers, RunHeader) else tuple(headers)
        batches = {"batches": [batch_of(rows)] if rows else []}
        made = Dump(runs, **(batches | (dump or {})))
        return self.loader.load(
            made, self.claim(path), LoadOptions(**options), dry_run=dry_run
        )

    # looking

    def all(self, sql: str, **params: Any) -> list[tuple[Any, ...]]:
        with self.store.begin() as connection:
            return [tuple(row) for row in connection.execute(sa.text(sql), params)]

    def one(self, sql: str, **params: Any) -> Any:
        (row,) = self.all(sql, **params)
        return row[0] if len(row) == 1 else row

    def do(self, sql: str, **params: Any) -> None:
        with self.store.begin() as connection:
            connection.execute(sa.text(sql), params)

    def current(self) -> list[int]:
        return [row[0] for row in self.all("select run_id from run_current order by 1")]

    def counts(self, *names: str) -> tuple[int, ...]:
        return tuple(self.one(f"select count(*) from {name}") for name in names)


@contextmanager
def _kit(url: str) -> Iterator[Kit]:
    with open_store(url, write=True) as store:
        loader = Loader(store)
        loader.scratch.run("set threads = 1")  # for a handful of rows threads only cost
        yield Kit(store, loader)
        loader.close()


@pytest.fixture(scope="session")
def open_kit() -> Callable[[str], AbstractContextManager[Kit]]:
    """For fixtures of a wider scope: open a migrated store by URL."""
    return _kit


@pytest.fixture
def kit(store_url: str) -> Iterator[Kit]:
    """A store of this test alone, open for writing, on each engine."""
    with _kit(store_url) as made:
        yield made


@pytest.fixture
def whole(kit: Kit) -> Iterator[None]:
    """After the test, the rows of the store keep its word; half of a whole check is
    about the schema, which no load touches (`test_migrations.py`)."""
    yield
    with kit.store.begin() as connection:
        found = [
            run_check(connection, query) for query in checks(kit.store.dialect.name)
        ]
    assert [
        finding for finding in found if finding and finding.severity == "error"
    ] == []
