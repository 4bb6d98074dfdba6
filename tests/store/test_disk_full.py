"""A disk without room: what is told, and that the store is as it was."""

from __future__ import annotations

import csv
import hashlib
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli import in_fork
from warehouse.errors import DiskFullError
from warehouse.store import engines
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check

MEGABYTE = 2**20


def dump(path: Path, model: str, n: int, length: int) -> Path:
    """A table of so many prompts, with responses that cannot be compressed."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(
            ["model", "benchmark", "prompt_id", "response", "metric", "score"]
        )
        for number in range(n):
            text = "".join(
                hashlib.sha512(f"{number} {part}".encode()).hexdigest()
                for part in range(length // 128)
            )
            rows.writerow([model, "quiz", f"p{number}", text, "acc", number % 2])
    return path


def limited(size: int) -> Callable[[], None]:
    """No file of the process may become larger: what a full disk does, without one."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.engine
@pytest.mark.parametrize(
    "size",
    [
        pytest.param(size, marks=pytest.mark.rare if size == 3 else pytest.mark.slow)
        for size in (2.2, 3, 4.5)
    ],
)
def test_a_load_without_room_leaves_the_store_as_it_was(
    tmp_path: Path, size: float
) -> None:
    small = dump(tmp_path / "small.csv", "org/a", 4, 128)
    large = dump(tmp_path / "large.csv", "org/b", 3000, 2048)
    ingest = ("--db", "s.duckdb", "ingest")
    assert in_fork(*ingest, str(small), folder=tmp_path).returncode == 0
    full = in_fork(
        *ingest, str(large), folder=tmp_path, preexec_fn=limited(int(size * MEGABYTE))
    )
    assert full.returncode == 4, full.stderr
    assert "Traceback" not in full.stderr
    assert full.stderr.count("Error: no room on the disk: ") == 1
    assert "make room" in full.stderr
    with open_store(str(tmp_path / "s.duckdb")) as store:
        assert store.arrow("select name from model join run_current on model = name")[
            "name"
        ].to_pylist() == ["org/a"]
        assert store.arrow("select count(*) as n from score")["n"].to_pylist() == [4]
        assert check(store).ok
    assert in_fork(*ingest, str(large), folder=tmp_path).returncode == 0
    with open_store(str(tmp_path / "s.duckdb")) as store:
        assert store.arrow("select count(*) as n from score")["n"].to_pylist() == [3004]


@pytest.mark.rare
@pytest.mark.engine
def test_a_store_for_which_there_is_no_room(tmp_path: Path) -> None:
    made = in_fork(
        "--db",
        "s.duckdb",
        "store",
        "init",
        folder=tmp_path,
        preexec_fn=limited(100_000),
    )
    assert made.returncode == 4 and "Traceback" not in made.stderr
    assert "File too large" in made.stderr
    again = in_fork("--db", "s.duckdb", "store", "init", folder=tmp_path)
    assert again.returncode == 0, again.stderr


def test_words_of_systems_and_engines() -> None:
    assert engines.disk_full(OSError(28, "No space left on device"))
    assert engines.disk_full(RuntimeError("IO Error: ... Disk quota exceeded"))
    try:
        try:
            raise OSError(27, "File too large")
        except OSError as error:
            raise ValueError("the importer failed") from error
    except ValueError as error:
        assert "File too large" in engines.disk_full(error)
    assert not engines.disk_full(OSError(2, "No such file or directory"))
    assert not engines.disk_full(None)


@pytest.mark.engine
def test_next_to_no_room_keeps_from_writing_not_from_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = str(tmp_path / "s.duckdb")
    with open_store(url, create=True) as store:
        monkeypatch.setattr("warehouse.store.room.MIN_FREE_BYTES", 2**62)
        with pytest.raises(DiskFullError, match=r"has \d+ MiB left"), store.begin():
            pass
        assert store.arrow("select count(*) as n from run")["n"].to_pylist() == [0]
    with open_store(url) as store:
        assert check(store).ok


@pytest.mark.engine
def test_a_copy_without_room_leaves_the_one_before(tmp_path: Path) -> None:
    ingest, publish = (
        ("--db", "s.duckdb", "ingest"),
        ("--db", "s.duckdb", "store", "publish", "copy.duckdb"),
    )
    assert (
        in_fork(
            *ingest, str(dump(tmp_path / "small.csv", "org/a", 4, 128)), folder=tmp_path
        ).returncode
        == 0
    )
    assert in_fork(*publish, folder=tmp_path).returncode == 0
    before = (tmp_path / "copy.duckdb").read_bytes()
    assert (
        in_fork(
            *ingest,
            str(dump(tmp_path / "large.csv", "org/b", 2000, 1024)),
            folder=tmp_path,
        ).returncode
        == 0
    )
    for size in (1024, 600_000):
        full = in_fork(*publish, folder=tmp_path, preexec_fn=limited(size))
        assert full.returncode == 4, full.stderr
        assert full.stderr.startswith(
            "Error: no room on the disk: the copy copy.duckdb was not written"
        ), full.stderr
        assert ".part" not in full.stderr and "make room" in full.stderr
        assert (tmp_path / "copy.duckdb").read_bytes() == before
    assert [path for path in tmp_path.iterdir() if ".part" in path.name] == []
    assert in_fork(*publish, folder=tmp_path).returncode == 0


@pytest.mark.engine
@pytest.mark.parametrize("size", [1024, pytest.param(4096, marks=pytest.mark.rare)])
def test_where_files_may_hold_next_to_nothing_a_load_is_refused(
    tmp_path: Path, size: int
) -> None:
    """A limit or a quota, which the free room of the disk does not show: the engine
    would end the process."""
    ingest = ("--db", "s.duckdb", "ingest")
    one = dump(tmp_path / "one.csv", "org/a", 2, 128)
    other = dump(tmp_path / "other.csv", "org/b", 2, 128)
    assert in_fork(*ingest, str(one), folder=tmp_path).returncode == 0
    full = in_fork(*ingest, str(other), folder=tmp_path, preexec_fn=limited(size))
    assert (full.returncode, full.stderr.count("Error: no room on the disk: ")) == (
        4,
        1,
    ), full.stderr
    with open_store(str(tmp_path / "s.duckdb")) as store:
        assert store.arrow("select path, state from source")["state"].to_pylist() == [
            "loaded"
        ]
        assert check(store).ok
    assert in_fork(*ingest, str(other), folder=tmp_path).returncode == 0
