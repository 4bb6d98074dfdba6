"""What `kills.py` kills: how a store is made ready for it, how it runs, what must hold
whenever it was killed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tests.support import races
from tests.support.lakes import rows_of
from tests.support.naturals import differences, picture
from tests.support.same_stores import Rows, rows_in_text, store_differences, stored_rows
from warehouse.analysis.families.family import FamilySettings
from warehouse.ingest.pipeline import ingest
from warehouse.refresh import run as refreshing
from warehouse.store import snapshot
from warehouse.store.curate.upkeep import vacuum
from warehouse.store.lake import versions
from warehouse.store.lake.contents import TABLES
from warehouse.store.load.source_ledger import forget
from warehouse.store.open import StoreOpener, open_store
from warehouse.store.schema import migrate

#: Files that are ingested before the work; fewer than there are benchmarks, so some
#: prompts are of the others alone.
EARLY = 6
FIRST_REVISION = "0001"
FACTS = (
    "run",
    "run_source",
    "prompt",
    "content",
    "generation",
    "score",
    "prompt_score",
)

for _name in (
    "pandas",
    "pyarrow.dataset",
    "scipy.stats",
    "yaml",
    "zoneinfo",
    "deltalake",
):
    with suppress(
        ImportError
    ):  # what is loaded late, and would be in every process that is forked
        importlib.import_module(_name)


@dataclass(frozen=True)
class Place:
    """A store, and the folder of what is made of it."""

    url: str
    folder: Path

    @property
    def copy(self) -> Path:
        return self.folder / "copy.duckdb"

    @property
    def lake(self) -> Path:
        return self.folder / "lake"


@dataclass(frozen=True)
class Work:
    """One thing that can be killed.

    Attributes:
        prepare: makes the store that it is done to, of the files of dumps.
        run: does it.
        seen: what its readers see, which is always that of before or that of after it;
            None: whole sources.
        keeps: tables of which no row may be lost; all, where `seen` is not of the
            store.
        differences: between the store after it and one on which it ran undisturbed.
        is_beside: whether others may read what it makes while it runs.
    """

    prepare: Callable[[Place, list[Path]], None]
    run: Callable[[Place, list[Path]], None]
    seen: Callable[[Place], Rows] | None
    keeps: tuple[str, ...] = ()
    differences: Callable[[str, str], list[Any]] = store_differences
    is_beside: bool = False


def dumps(folder: Path, count: int, prompts: int) -> list[Path]:
    """Files of one run each, with answers of their own."""
    made = races.dumps(folder, count, prompts)
    for file in made:
        file.write_text(file.read_text().replace("answer", file.stem))
    return made


def whole_sources(now: str, after: str) -> None:
    """A source is there with all that it holds, or not at all."""
    sql = (
        "select source.sha256, source.state, run.content_digest, count(*) as n from "
        "source "
        "join run_source on run_source.source_id = source.id join run on run.id = "
        "run_source.run_id "
        "join score on score.run_id = run.id group by source.sha256, source.state, "
        "run.content_digest"
    )
    with open_store(now, wait=60) as one, open_store(after, wait=60) as other:
        held, whole = one.rows(sql), other.rows(sql)
        assert [row for row in held if row not in whole] == []
        assert one.rows("select count(*) as n from run") == [{"n": len(held)}]


# --- stores before the work ----------------------------------------------------------------------


def _load(place: Place, files: list[Path]) -> None:
    with open_store(place.url, create=True, wait=60) as store:
        report = ingest(store, files)
    assert report.refused == (), report.refused


def _early(place: Place, files: list[Path]) -> None:
    _load(place, files[:EARLY])


def _late_after(
    first: Callable[[Place, list[Path]], None],
) -> Callable[[Place, list[Path]], None]:
    """The work was done once, and then more was ingested."""

    def prepare(place: Place, files: list[Path]) -> None:
        _early(place, files)
        first(place, files)
        _load(place, files)

    return prepare


def _of_the_first_revision(place: Place, files: list[Path]) -> None:
    _load(place, files)
    _refresh(place, files)
    with open_store(place.url, write=True) as store:
        migrate.downgrade(store, FIRST_REVISION)


def _unheld(place: Place, files: list[Path]) -> None:
    """What a `forget` beside a load leaves."""
    _load(place, files)
    with open_store(place.url, write=True) as store:
        store.dialect = replace(
            store.dialect, no_source_reserved=lambda _connection: False
        )
        for file in files[EARLY:]:
            forget(store, str(file))


# --- the works -----------------------------------------------------------------------------------


def _refresh(place: Place, _files: list[Path]) -> None:
    """It writes after every question."""
    refreshing.WRITE_AFTER = -1.0
    opener = StoreOpener(
        partial(open_store, place.url, wait=60),
        partial(open_store, place.url, write=True, wait=60),
    )
    settings = FamilySettings(baselines=("org/model-0",), n_resamples=99)
    assert (
        refreshing.refresh(
            opener, refreshing.RefreshRequest(settings=settings), wait=60
        ).failures
        == ()
    )


def _upgrade(place: Place, _files: list[Path]) -> None:
    with open_store(place.url, write=True, check=False, wait=60) as store:
        migrate.upgrade(store)


def _vacuum(place: Place, _files: list[Path]) -> None:
    with open_store(place.url, write=True, wait=60) as store:
        vacuum(store, wait=60)


def _sync(place: Place, _files: list[Path]) -> None:
    from warehouse.store.lake.sync import sync

    with open_store(place.url, wait=60) as store:
        sync(store, str(place.lake))


def _publish(place: Place, _files: list[Path]) -> None:
    snapshot.publish(place.url, place.copy, wait=60)
    assert [path.name for path in place.folder.iterdir()] == [
        place.copy.name
    ]  # no draft of a killed one


def _figures(place: Place) -> Rows:
    with open_store(place.url, wait=60) as store:
        return {
            "metric_current": rows_in_text(store.rows("select * from metric_current"))
        }


def _in_store(place: Place) -> Rows:
    return stored_rows(place.url)


def _in_copy(place: Place) -> Rows:
    return stored_rows(str(place.copy))


def _in_lake(place: Place) -> Rows:
    from deltalake import DeltaTable

    newest = DeltaTable(place.lake / versions.NAME).version()
    return {
        table.name: rows_in_text(rows_of(place.lake, table.name, newest))
        for table in TABLES
    }


def _up_to_ids(one: str, other: str) -> list[str]:
    """A killed load leaves numbers that nobody bears."""
    pictures = []
    for url in (one, other):
        with open_store(url, wait=60) as store:
            pictures.append(picture(store, boards=1))
    return differences(pictures[0], pictures[1])


#: A refresh says who ran it, how long, and what it has taken up; one that finds nothing
#: to do counts too.
_but_refreshes = partial(store_differences, without={"refresh", "id_counter"})

WORKS = {
    "ingest": Work(_early, _load, None, FACTS, _up_to_ids),
    "refresh": Work(
        _late_after(_refresh),
        _refresh,
        _figures,
        (*FACTS, "metric_value", "source"),
        _but_refreshes,
    ),
    "upgrade": Work(_of_the_first_revision, _upgrade, _in_store),
    "vacuum": Work(_unheld, _vacuum, _in_store),
    "sync": Work(
        _late_after(_sync), _sync, _in_lake, (*FACTS, "source"), is_beside=True
    ),
    "publish": Work(
        _late_after(_publish), _publish, _in_copy, (*FACTS, "source"), is_beside=True
    ),
}
