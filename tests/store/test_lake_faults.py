"""What can be wrong with a lake, or with the place for one: a line that says what to
do, nothing half-visible."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.support.cli import Caller
from tests.support.lakes import MARKS, files_of, rows_of, table_versions
from tests.support.races import dumps
from warehouse.api import connect
from warehouse.errors import StoreError
from warehouse.store.lake.sync import sync
from warehouse.store.load.source_ledger import forget
from warehouse.store.open import open_store

pytestmark = MARKS


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two runs with a lake of two versions, to be copied."""
    folder = tmp_path_factory.mktemp("made")
    url = f"duckdb:///{folder / 'store.duckdb'}"
    for file in dumps(folder / "dumps", 2):
        connect(url).ingest(file)
        with open_store(url) as store:
            sync(store, str(folder / "lake"))
    return folder


@pytest.fixture
def lake(made: Path, tmp_path: Path) -> Iterator[Path]:
    """A lake of this test alone, with its store beside it."""
    shutil.copytree(made / "lake", tmp_path / "lake")
    shutil.copy(made / "store.duckdb", tmp_path / "store.duckdb")
    yield tmp_path / "lake"


def store_of(lake: Path) -> str:
    return f"duckdb:///{lake.with_name('store.duckdb')}"


def change_version(lake: Path, **values: Any) -> None:
    """A version that another program would have written."""
    from deltalake import DeltaTable, write_deltalake

    table = DeltaTable(lake / "lake_version").to_pyarrow_dataset().to_table()
    for name, value in values.items():
        place = table.column_names.index(name)
        table = table.set_column(
            place,
            name,
            pa.array([value] * table.num_rows, table.schema.field(name).type),
        )
    write_deltalake(lake / "lake_version", table, mode="overwrite")


def log_of(lake: Path, table: str) -> list[Path]:
    return sorted((lake / table / "_delta_log").glob("*.json"))


def heals(run: Caller, lake: Path) -> None:
    """The command that the message names does what it says."""
    done = run("lake", "sync", str(lake), "--anew", db=store_of(lake))
    assert done.code == 0, done.err
    assert run("lake", "check", str(lake), db=store_of(lake)).code == 0
    assert len(rows_of(lake, "score")) == 80


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            {"schema_revision": "9999"},
            ("9999", "pip install --upgrade eval-warehouse", "made by a newer version"),
        ),
        (
            {"form": 2},
            (
                "is of form 2, this program reads form 1",
                "pip install --upgrade eval-warehouse",
            ),
        ),
    ],
)
def test_a_lake_of_a_newer_program_is_left_alone(
    run: Caller, lake: Path, values: dict[str, Any], words: tuple[str, ...]
) -> None:
    change_version(lake, **values)
    run("lake", "sync", str(lake), db=store_of(lake)).fails(4, *words)
    assert table_versions(lake) == table_versions(lake, 1)


def test_a_lake_of_an_older_schema_is_written_anew(run: Caller, lake: Path) -> None:
    change_version(lake, schema_revision="0003")
    done = run("lake", "sync", str(lake), "--json", db=store_of(lake))
    assert {row["written"] for row in done.rows} == {"whole"}
    assert run("lake", "check", str(lake), db=store_of(lake)).code == 0


def test_a_missing_data_file_is_named_and_healed(run: Caller, lake: Path) -> None:
    (gone,) = files_of(lake, "score", 0)
    Path(gone).unlink()
    found = run("lake", "check", str(lake), db=store_of(lake))
    found.fails(
        4,
        "the table score of the lake",
        "lacks a file",
        Path(gone).name,
        f"lake sync {lake} --anew",
    )
    heals(run, lake)


def test_a_log_that_was_cut_short_is_told_and_healed(run: Caller, lake: Path) -> None:
    log_of(lake, "score")[-1].unlink()
    for command in ("check", "sync"):
        if command == "sync":
            with open_store(store_of(lake), write=True) as store:
                forget(store, "1")
        found = run("lake", command, str(lake), db=store_of(lake))
        found.fails(
            4,
            "the table score of the lake",
            "ends at version 0, and version 1",
            "cut short",
            "--anew",
        )
    assert run("lake", "sync", str(lake), "--anew", db=store_of(lake)).code == 0
    assert run("lake", "check", str(lake), db=store_of(lake)).code == 0


def test_a_log_that_is_no_log_is_told_and_healed(run: Caller, lake: Path) -> None:
    log_of(lake, "score")[0].write_text("{ no json\n")
    run("lake", "check", str(lake), db=store_of(lake)).fails(
        4, "the table score of the lake", "--anew"
    )
    heals(run, lake)
    assert (lake / "score.damaged-1").is_dir()


def test_a_version_table_that_is_no_table_is_told_and_healed(
    run: Caller, lake: Path
) -> None:
    log_of(lake, "lake_version")[0].write_text("{ no json\n")
    run("lake", "versions", str(lake)).fails(4, "the table lake_version of the lake")
    heals(run, lake)


def test_a_table_that_was_removed_is_told_and_healed(run: Caller, lake: Path) -> None:
    shutil.rmtree(lake / "prompt")
    run("lake", "check", str(lake), db=store_of(lake)).fails(
        4, "has no table prompt", "--anew"
    )
    heals(run, lake)


def test_rows_that_were_changed_are_found(run: Caller, lake: Path) -> None:
    """As somebody would with another tool, and a version table that takes it for what
    was synced."""
    from deltalake import DeltaTable

    table = DeltaTable(lake / "score")
    table.update(updates={"value": "1.0 - value"}, predicate="run_id = 2")
    named = (
        DeltaTable(lake / "lake_version").to_pyarrow_dataset().to_table().to_pylist()
    )
    rows = [
        row | {"table_version": table.version()}
        if row["table_name"] == "score"
        else row
        for row in named
    ]
    from deltalake import write_deltalake

    write_deltalake(
        lake / "lake_version",
        pa.Table.from_pylist(rows),
        mode="overwrite",
        schema_mode="overwrite",
    )
    found = run("lake", "check", str(lake), db=store_of(lake))
    assert (
        found.code == 1
        and "does not hold what was synced in score" in found.out
        and "--anew" in found.out
    )
    rows = run("lake", "check", str(lake), "--json", db=store_of(lake)).rows
    told = {
        row["table"]: (row["n_differing"], row["verdict"])
        for row in rows
        if row["verdict"] != "same"
    }
    assert told == {"score": (1, "differs")}
    heals(run, lake)


def test_a_place_that_is_none_is_refused(
    run: Caller, lake: Path, tmp_path: Path
) -> None:
    db = store_of(lake)
    run("lake", "sync", str(tmp_path / "store.duckdb"), db=db).fails(
        2, "is a file; expected the folder of a lake"
    )
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("x")
    run("lake", "sync", str(tmp_path / "full"), db=db).fails(
        2, "is no lake and holds other things: thesis.tex"
    )
    run("lake", "sync", "  ", db=db).fails(2, "a lake without a place")
    for command in ("check", "versions", "vacuum"):
        found = run("lake", command, str(tmp_path / "none"), db=db)
        found.fails(
            4, "no lake at", f"make one: warehouse lake sync {tmp_path / 'none'}"
        )
    assert not (tmp_path / "none").exists()


def test_a_place_that_cannot_be_written_is_told(run: Caller, lake: Path) -> None:
    run("lake", "sync", "/proc/none/lake", db=store_of(lake)).fails(
        4, "cannot be written", "this user may write"
    )


def test_a_place_without_permission_is_told(run: Caller, lake: Path) -> None:
    """Also where the tests run as somebody who may write everywhere."""
    with open_store(store_of(lake), write=True) as store:
        forget(store, "1")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "lake"
        shutil.copytree(lake, place)
        (place / "lake_unit" / "_delta_log").chmod(0o555)
        os.chmod(folder, 0o755)
        with (
            open_store(store_of(lake)) as store,
            somebody(),
            pytest.raises(StoreError) as caught,
        ):
            sync(store, str(place))
    assert "permission" in str(caught.value) and "give this user the right" in str(
        caught.value
    )


@contextmanager
def somebody() -> Iterator[None]:
    """As a user without powers."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


def test_another_store_is_refused_unless_it_is_meant(
    run: Caller, lake: Path, tmp_path: Path
) -> None:
    other = f"duckdb:///{tmp_path / 'other.duckdb'}"
    for file in reversed(dumps(tmp_path / "others", 2)):
        connect(other).ingest(file)
    for command in ("sync", "check"):
        found = run("lake", command, str(lake), db=other)
        found.fails(
            2, "was made from another store", f"warehouse lake sync {lake} --anew"
        )
    assert run("lake", "sync", str(lake), "--anew", db=other).code == 0
    assert run("lake", "check", str(lake), db=other).code == 0


def test_a_store_that_is_older_than_the_lake_is_refused(
    run: Caller, lake: Path, tmp_path: Path
) -> None:
    before = tmp_path / "before.duckdb"
    shutil.copy(tmp_path / "store.duckdb", before)
    connect(store_of(lake)).ingest(dumps(tmp_path / "more", 3)[2])
    assert run("lake", "sync", str(lake), db=store_of(lake)).code == 0
    found = run("lake", "sync", str(lake), db=f"duckdb:///{before}")
    found.fails(
        4, "the store is older than the lake", "sync from the newer store", "--anew"
    )
    with open_store(
        store_of(lake), write=True
    ) as store:  # forgotten is not the same as never had
        forget(store, "3")
    assert run("lake", "sync", str(lake), db=store_of(lake)).code == 0


def test_without_the_extra_it_is_said_what_to_install(
    run: Caller, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "deltalake", None)
    found = run("lake", "sync", str(lake), db=store_of(lake))
    found.fails(
        2,
        "a lake needs the package deltalake, which is not installed; run: ",
        "-m pip install 'deltalake",
    )


def test_versions_and_reports_come_in_every_form(run: Caller, lake: Path) -> None:
    rows = run("lake", "versions", str(lake), "--json").rows
    assert [(row["version"], row["runs"], row["scores"]) for row in rows] == [
        (1, 2, 80),
        (0, 1, 40),
    ]
    assert datetime.fromisoformat(rows[0]["synced_at"]) < datetime.now(UTC).replace(
        tzinfo=None
    )
    (row,) = run("lake", "vacuum", str(lake), "--older-than", "0h", "--json").rows
    assert (row["n_versions"], row["oldest"]) == (1, 1)
    run("lake", "vacuum", str(lake), "--older-than", "soon").fails(
        2, "'soon' is not an age such as 90d, 12h or 4w"
    )
    connect(store_of(lake)).ingest(dumps(lake.with_name("more"), 3)[2])
    told = run("lake", "sync", str(lake), db=store_of(lake)).out
    assert "is at version 3: 1 run written, 0 removed; " in told and "score" in told
    assert (
        run("lake", "sync", str(lake), db=store_of(lake)).out
        == f"{lake} is up to date at version 3\n"
    )
