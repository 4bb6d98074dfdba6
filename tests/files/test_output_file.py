"""What a file that is written may replace."""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from warehouse.errors import DiskFullError, MisuseError
from warehouse.files import ANSWER, CLAIM, MAPPING, REPORT, require_output, write_output

PAGE = b"<!DOCTYPE html>\n<footer><p>Made by eval-warehouse 1.0</p></footer>"


@pytest.fixture
def database(empty_file: Path, tmp_path: Path) -> Path:
    path = tmp_path / "s.duckdb"
    path.write_bytes(empty_file.read_bytes())
    return path


def test_a_database_is_never_replaced_however_it_is_spelled(
    database: Path, tmp_path: Path
) -> None:
    before, inner = database.read_bytes(), tmp_path / "inner"
    inner.mkdir()
    soft, hard, chain = (tmp_path / name for name in ("soft", "hard", "chain"))
    soft.symlink_to(database.name)
    chain.symlink_to(soft)
    os.link(database, hard)
    (inner / "folder").symlink_to(tmp_path)
    for path in (
        database,
        soft,
        hard,
        chain,
        inner / ".." / "s.duckdb",
        inner / "folder" / "s.duckdb",
    ):
        with pytest.raises(
            MisuseError, match="is a database, which would be lost; name another file"
        ):
            write_output(path, PAGE, REPORT, force=True)
    assert database.read_bytes() == before and soft.is_symlink()


@pytest.mark.parametrize(
    "name",
    [
        "s.duckdb.wal",
        "s.duckdb.refresh",
        "s.duckdb.tmp",
        "s.duckdb-journal",
        "s.duckdb.WAL",
    ],
)
def test_nor_is_what_lies_beside_one(database: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(MisuseError, match="belongs to the database s.duckdb beside it"):
        write_output(tmp_path / name, PAGE, REPORT, force=True)
    assert [*tmp_path.iterdir()] == [database]


def test_nor_its_log_under_another_name(database: Path, tmp_path: Path) -> None:
    code = (
        f"import duckdb, os; c = duckdb.connect({str(database)!r}); c.execute('create "
        "table t as select 1 as a'); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    os.link(f"{database}.wal", tmp_path / "log")
    with pytest.raises(MisuseError, match="is a database"):
        write_output(tmp_path / "log", PAGE, REPORT, force=True)


def test_nor_that_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table t (a)")
    connection.close()
    with pytest.raises(MisuseError, match="is a database"):
        write_output(path, PAGE, REPORT, force=True)


def test_nor_a_part_of_a_lake(tmp_path: Path) -> None:
    (tmp_path / "lake" / "run" / "_delta_log").mkdir(parents=True)
    with pytest.raises(MisuseError, match="is a part of a lake"):
        write_output(
            tmp_path / "lake" / "run" / "part.parquet", PAGE, REPORT, force=True
        )


def test_what_is_known_is_replaced_and_the_rest_by_force(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_output(path, PAGE, REPORT)
    path.chmod(0o640)
    assert write_output(path, PAGE + b" ", REPORT) == len(PAGE) + 1
    assert path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(
        MisuseError,
        match="is no claim that this program wrote; name another file, or say --force",
    ):
        write_output(path, b"{}", CLAIM)
    quoting = tmp_path / "quoting.txt"
    quoting.write_bytes(b"see " + PAGE)
    for kind in (REPORT, ANSWER, MAPPING):
        with pytest.raises(MisuseError, match="is there already"):
            require_output(quoting, kind)
    write_output(quoting, PAGE, REPORT, force=True)
    write_output(quoting, PAGE, REPORT)
    empty = tmp_path / "empty"
    empty.touch()
    write_output(empty, PAGE, REPORT)


def test_what_the_store_knows_is_not_replaced_by_force(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(PAGE)
    with pytest.raises(
        MisuseError, match=r"page.html is source 3 of the store, and would be lost"
    ):
        require_output(
            path,
            REPORT,
            force=True,
            known_as=lambda _path, ours: "source 3" if ours else "",
        )


def test_a_link_stays_one(tmp_path: Path) -> None:
    link, far = tmp_path / "link.html", tmp_path / "far.html"
    link.symlink_to(far)
    write_output(link, PAGE, REPORT)
    assert link.is_symlink() and far.read_bytes() == PAGE
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(MisuseError):
        write_output(loop, PAGE, REPORT)


def test_devices_and_pipes_take_what_comes(tmp_path: Path) -> None:
    assert write_output("/dev/null", PAGE, REPORT) == len(PAGE)
    assert Path("/dev/null").is_char_device()
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen(["cat", str(fifo)], stdout=subprocess.PIPE) as reader:
        write_output(fifo, PAGE, REPORT)
        assert reader.communicate()[0] == PAGE
    out, put = os.pipe()
    write_output(f"/dev/fd/{put}", lambda file: file.write(PAGE), REPORT)
    os.close(put)
    with os.fdopen(out, "rb") as pipe:
        assert pipe.read() == PAGE


def test_a_file_that_is_shut_is_left(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(PAGE)
    path.chmod(0o000)
    if os.access(path, os.R_OK):
        pytest.skip("this user may do everything")
    with pytest.raises(MisuseError, match="cannot be read"):
        write_output(path, PAGE, REPORT, force=True)


def test_a_disk_without_room_leaves_the_old_file(tmp_path: Path) -> None:
    path, limits = tmp_path / "page.html", resource.getrlimit(resource.RLIMIT_FSIZE)
    write_output(path, PAGE, REPORT)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(DiskFullError, match="page.html"):
            write_output(path, PAGE + b"x" * 10_000, REPORT)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == PAGE and [*tmp_path.iterdir()] == [path]
