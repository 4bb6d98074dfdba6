"""Dumps that are read on executors: the store is what it is without them, row for row."""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.cli import COMMAND, Caller
from tests.support.lakes import MARKS, rows_of, table_versions
from tests.support.races import dumps
from tests.support.same_stores import store_differences
from warehouse.api import connect
from warehouse.errors import StoreError
from warehouse.importers.common.file_walk import stamp
from warehouse.ingest import parse_elsewhere
from warehouse.ingest.discover import discover
from warehouse.ingest.reading import Reading
from warehouse.records import ImportSettings
from warehouse.store import engines
from warehouse.store.lake.check import check
from warehouse.store.load.state import LoadOptions
from warehouse.store.open import open_store

pytestmark = MARKS
ROOT = Path(__file__).resolve().parents[2]


def ingest(run: Caller, db: str, *line: str, code: int = 0) -> tuple[str, str]:
    """What an ingest says, without what it measures."""
    done = run("ingest", *line, db=db)
    assert done.code == code, done.err
    out = [
        re.sub(r" in [\d.]+ s", "", text)
        for text in done.out.splitlines()
        if not text.startswith("lake")
    ]
    return "\n".join(out), done.err.replace(db, "STORE")


@pytest.fixture
def urls(tmp_path: Path) -> tuple[str, str]:
    """A store for what is read here, and one for what is read on executors."""
    return (
        f"duckdb:///{tmp_path / 'here.duckdb'}",
        f"duckdb:///{tmp_path / 'there.duckdb'}",
    )


def test_every_format_gives_the_same_store(
    run: Caller, urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what is refused, and why; under names that are relative to where the caller
    stands."""
    monkeypatch.chdir(ROOT)
    folders = [
        f"tests/data/{name}"
        for name in ("lm_eval", "inspect", "helm", "tabular", "promptfoo", "swe_bench")
    ]
    here, there = (
        ingest(run, url, "docs/demo/results", *folders, *more, code=3)
        for url, more in zip(urls, ((), ("--on", "sail:")), strict=True)
    )
    assert here == there and "NOT READ" in here[1] and here[1].count("Error: ") > 1
    assert store_differences(*urls) == []


def test_what_is_known_superseded_repeated_or_told_by_hand_is_the_same(
    run: Caller, urls: tuple[str, str], tmp_path: Path
) -> None:
    files = dumps(tmp_path / "dumps", 10)
    for url, more in zip(urls, ((), ("--on", "sail:")), strict=True):
        ingest(run, url, *map(str, files[:6]), *more)
    changed = [
        text.replace(",0,", ",1,") for text in files[2].read_text().splitlines(True)
    ]
    (tmp_path / "dumps" / "again.csv").write_text("".join(changed))
    (tmp_path / "dumps" / "broken.csv").write_text(
        "model,benchmark,prompt_id,metric,score\n"
        "org/x,quiz,p,acc,1\n"
        "org/x,quiz,p,acc,0\n"
    )
    (tmp_path / "dumps" / "same.csv").write_bytes(files[9].read_bytes())
    line = (
        str(tmp_path / "dumps"),
        "--on-conflict",
        "supersede",
        "--default",
        "step=3",
        "--set",
        "temperature=0.5",
    )
    for _ in range(2):
        told = [
            ingest(run, url, *line, *more, code=3)
            for url, more in zip(urls, ((), ("--on", "sail:")), strict=True)
        ]
        assert told[0] == told[1] and "broken.csv" in told[0][1]
    assert store_differences(*urls) == []


def test_a_large_source_comes_whole(
    run: Caller, urls: tuple[str, str], tmp_path: Path
) -> None:
    """One that is loaded by itself, in more pieces than one."""
    lines = ["model,benchmark,prompt_id,metric,score,response"]
    lines += [
        f"org/m,quiz,p{row},acc,{row % 3 == 0:d},{os.urandom(30).hex()}"
        for row in range(20_000)
    ]
    (tmp_path / "dump.csv").write_text("\n".join(lines))
    for url, more in zip(urls, ((), ("--on", "sail:")), strict=True):
        ingest(run, url, str(tmp_path / "dump.csv"), *more)
    assert store_differences(*urls) == []


def test_a_lake_is_brought_up_in_one_version(
    run: Caller, urls: tuple[str, str], tmp_path: Path
) -> None:
    files, lake = dumps(tmp_path / "dumps", 3), str(tmp_path / "lake")
    told = run(
        "ingest", *map(str, files[:2]), "--on", "sail:", "--lake", lake, db=urls[0]
    )
    assert (
        f"lake: {lake} is at version 0: 2 runs written" in told.out and told.code == 0
    )
    report = connect(urls[0]).ingest(files[2], on="sail:", lake=lake)
    assert report.lake is not None and (report.lake.version, report.lake.n_runs) == (
        1,
        1,
    )
    assert (
        f"{lake} is up to date at version 1"
        in run("ingest", *map(str, files), "--lake", lake, db=urls[0]).out
    )
    run("ingest", str(files[0]), "--lake", lake, "--dry-run", db=urls[0]).fails(
        2, "neither --publish nor --lake"
    )
    assert len(rows_of(Path(lake), "score")) == 120 and table_versions(Path(lake), 1)
    held = connect(urls[0])
    assert held.lake_check(lake).verdict == "same" and not held.lake_sync(lake).is_new
    assert [version.number for version in held.lake_versions(lake)] == [1, 0]
    assert held.lake_vacuum(lake, older_than=timedelta(0)).oldest == 1


def test_a_lake_of_another_store_is_refused_before_anything_is_read(
    run: Caller, urls: tuple[str, str], tmp_path: Path
) -> None:
    files, lake = dumps(tmp_path / "dumps", 2), str(tmp_path / "lake")
    for url, file in zip(urls, files, strict=True):
        ingest(run, url, str(file))
    ingest(run, urls[0], str(files[0]), "--lake", lake)
    found = run("ingest", str(files[0]), "--lake", lake, "--on", "sail:", db=urls[1])
    found.fails(2, "was made from another store", "--anew")
    assert connect(urls[1]).arrow("select count(*) as n from run").to_pylist() == [
        {"n": 1}
    ]


@pytest.mark.parametrize(
    ("address", "code", "words"),
    [
        (
            "spark://there:7077",
            2,
            "executors whose server cannot be read; expected sail: or sc://HOST:PORT",
        ),
        ("sail:?lake=/x", 2, "expected sail: or sc://HOST:PORT"),
        (
            "sc://127.0.0.1:1",
            4,
            "no server at 127.0.0.1:1: Connection refused; start it, or read in this "
            "process: --on",
        ),
    ],
)
def test_a_server_that_is_none_is_told(
    run: Caller,
    urls: tuple[str, str],
    tmp_path: Path,
    address: str,
    code: int,
    words: str,
) -> None:
    run(
        "ingest", *map(str, dumps(tmp_path / "d", 1)), "--on", address, db=urls[0]
    ).fails(code, words)
    assert not (tmp_path / "here.duckdb").exists()


def test_watching_goes_without_executors(run: Caller, tmp_path: Path) -> None:
    run("ingest", str(tmp_path), "--watch", "--on", "sail:").fails(
        2, "--watch goes with neither --on nor --lake"
    )


def readings(folder: Path) -> list[Reading]:
    jobs = discover(dumps(folder, 2)).jobs
    return [
        Reading(
            job.importer,
            job.files,
            tuple((path, stamp(path)) for path in job.files.files),
        )
        for job in jobs
    ]


def archive(path: Path, packed: bytes) -> Path:
    path.write_bytes(b"".join(parse_elsewhere.parse(packed)))
    return path


def test_a_file_that_is_another_on_the_executor_is_not_taken(tmp_path: Path) -> None:
    sources = readings(tmp_path / "dumps")
    packed = parse_elsewhere.pack(sources, ImportSettings(), LoadOptions())
    assert not isinstance(parse_elsewhere.arrived(archive(tmp_path / "a", packed)), str)
    sources[1].files.files[0].write_text(
        "model,benchmark,prompt_id,metric,score\norg/x,quiz,p0,acc,1\n"
    )
    found = parse_elsewhere.arrived(archive(tmp_path / "b", packed))
    assert (
        found
        == f"ValueError: {sources[1].files.files[0]} is another file on the executor"
    )
    sources[1].files.files[0].unlink()
    assert "No such file" in str(
        parse_elsewhere.arrived(archive(tmp_path / "c", packed))
    )


def test_executors_of_another_version_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = parse_elsewhere.pack(readings(tmp_path), ImportSettings(), LoadOptions())
    monkeypatch.setattr(parse_elsewhere, "_version", lambda: "9.9")
    with pytest.raises(
        StoreError, match="executors have version 9.9 of eval-warehouse, the caller"
    ):
        next(iter(parse_elsewhere.parse(packed)))


class Foreign:
    """What a dump has no part of."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, ("exit 1",)


def test_nothing_but_records_is_taken_from_executors(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "a", "w") as file:
        file.writestr("dumps", pickle.dumps(([0], [Foreign()], 1)))
    with pytest.raises(
        StoreError, match=r"executors sent posix.system, which is no part of a dump"
    ):
        parse_elsewhere.arrived(tmp_path / "a")
    reaching = (
        b"\x80\x04\x8c\x16warehouse.records.dump\x8c\x15dataclass.__globals__\x93."
    )
    with zipfile.ZipFile(tmp_path / "b", "w") as file:
        file.writestr("dumps", reaching)
    with pytest.raises(
        StoreError, match=r"executors sent warehouse.records.dump.dataclass.__globals__"
    ):
        parse_elsewhere.arrived(tmp_path / "b")
    with zipfile.ZipFile(tmp_path / "c", "w") as file:
        file.writestr("dumps", pickle.dumps(([], [], 0)))
        file.writestr("run as select 1; drop table run", b"")
    came = parse_elsewhere.arrived(tmp_path / "c")
    assert not isinstance(came, str) and list(came.rows()) == []


def fails(_task: bytes) -> Iterator[bytes]:
    raise StoreError("it is Tuesday")
    yield b""


def test_what_executors_say_is_told() -> None:
    executors = engines.Executors("sail:")
    executors.open()
    with pytest.raises(
        StoreError,
        match=(
            "the executors of sail: ended early: .*it is Tuesday; see that the server"
        ),
    ):
        list(executors.each(fails, [b"a"]))
    executors.close()


def test_files_that_executors_cannot_read_are_read_here(
    run: Caller, urls: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a machine that does not see them: there are as many descriptors as it takes
    for none."""
    monkeypatch.setattr(parse_elsewhere, "stamps", _Blind)
    told = ingest(run, urls[0], *map(str, dumps(tmp_path / "d", 3)), "--on", "sail:")
    assert (
        "note: 3 sources were read by this process, since executors could not: "
        "FileNotFoundError" in told[1]
    )
    assert ": 3 runs of" in told[0]


class _Blind:
    @staticmethod
    def stamp(path: Path) -> None:
        raise FileNotFoundError(2, "No such file or directory", str(path))


def test_a_kill_half_way_leaves_the_last_whole_version(
    urls: tuple[str, str], tmp_path: Path
) -> None:
    files, lake = dumps(tmp_path / "dumps", 24, prompts=400), tmp_path / "lake"
    connect(urls[0]).ingest(files[0], lake=str(lake))
    call = [
        COMMAND,
        "--db",
        urls[0],
        "ingest",
        tmp_path / "dumps",
        "--on",
        "sail:",
        "--lake",
        lake,
    ]
    for seconds in (1.2, 2.0, 2.6):
        process = subprocess.Popen(
            call,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with open_store(f"sail:?lake={lake}") as asked:
            assert asked.arrow("select count(*) as n from score").to_pylist()[0][
                "n"
            ] in (400, 9600)
    subprocess.run(call, check=True, capture_output=True)
    connect(urls[1]).ingest(*files)
    sql = (
        "select model, benchmark, metric, estimate, n_prompts from score_summary order "
        "by all"
    )
    assert connect(urls[0]).arrow(sql).equals(connect(urls[1]).arrow(sql))
    with open_store(urls[0]) as store:
        assert check(store, str(lake)).verdict == "same"
    assert sorted(path.name for path in lake.iterdir()) == sorted(
        {*table_versions(lake), "lake_version"}
    )
