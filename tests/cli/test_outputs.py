"""Files that commands write: never over the store, a source or somebody else's file,
and whole."""

from __future__ import annotations

import contextlib
import os
import resource
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pyarrow.parquet as pq
import pytest

from tests.support.cli import Caller, in_fork
from tests.support.stores import store_at
from warehouse import connect
from warehouse.cli.command_table import COMMANDS
from warehouse.cli.ui.output_files import Command, OutputFile
from warehouse.cli.ui.reference_docs import context_of
from warehouse.errors import MisuseError

ROWS = "".join(f"m{j},b,p{i},acc,{i * j % 2}\n" for i in range(12) for j in (1, 2, 3))
#: Calls that write a file, which stands last; a store is named by ``--db``.
WRITING = (
    *(
        "list runs --parquet",
        "query score_summary --parquet",
        "leaderboard b --parquet",
    ),
    *(
        "noise reliability b --resamples 5 --svg",
        "compare m1 m2 -b b --parquet",
        "report -o",
        "claim 'leaderboard b' -o",
    ),
    *(
        "subset plan b --size 4 --no-store -o",
        "card m1 -o",
        "store publish",
        "mapping data.csv -o",
        "config --parquet",
    ),
    *(
        "schedule --once --report",
        "schedule --once --publish",
        "schedule --cron '0 * * * *' --health",
    ),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of one source, which the ledger names as seen from there."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "data.csv").write_text(f"model,benchmark,prompt_id,metric,score\n{ROWS}")
    store_at(folder / "s.duckdb")
    with contextlib.chdir(folder):
        connect("s.duckdb").ingest("data.csv")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, where calls run."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WAREHOUSE_URL", "s.duckdb")
    return tmp_path


def test_every_command_that_writes_says_so() -> None:
    """An option that names a file to be written has the type that is looked at; all
    others name files to be read."""
    named: dict[str, set[str]] = {}
    for name in COMMANDS:
        command = context_of(name).command
        assert isinstance(command, Command | click.Group)
        for param in command.params:
            if isinstance(param.type, click.Path):
                written = isinstance(param.type, OutputFile)
                named.setdefault("written" if written else "read", set()).add(
                    str(param.name)
                )
    assert named["written"] == {
        "parquet",
        "out",
        "output",
        "plan",
        "publish",
        "path",
        "report",
        "health",
        "svg",
        "html",
    }
    assert named["read"] >= {
        "against",
        "bundle",
        "dumps",
        "file",
        "follow",
        "mapping",
        "paths",
        "watch",
    }
    assert not named["read"] & named["written"] - {
        "out",
        "path",
    }  # the folder of an export; the file of a plan


@pytest.mark.parametrize("call", WRITING)
def test_nothing_costs_the_store(folder: Path, run: Caller, call: str) -> None:
    before = (folder / "s.duckdb").read_bytes()
    (folder / "soft").symlink_to("s.duckdb")
    os.link("s.duckdb", "hard")
    os.chmod("s.duckdb", 0o444)
    targets = (
        "s.duckdb",
        str(folder / "s.duckdb"),
        f"../{folder.name}/s.duckdb",
        "soft",
        "hard",
        "s.duckdb.wal",
    )
    for target in targets[3:] if "--once" in call else targets:
        outcome = run(*shlex.split(call), target)
        assert outcome.code and "Traceback" not in outcome.err, (target, outcome.err)
        assert not (folder / "s.duckdb.wal").exists(), target
        if "--once" not in call:  # which refreshes first
            assert (folder / "s.duckdb").read_bytes() == before, target
    (folder / "s.duckdb").chmod(0o644)
    assert (
        connect("s.duckdb", create=False)
        .arrow("select count(*) as n from score")["n"][0]
        .as_py()
        == 36
    )
    assert "database" in outcome.err


@pytest.mark.parametrize("call", WRITING)
def test_nothing_costs_a_source_or_a_file_of_others(
    folder: Path, run: Caller, call: str
) -> None:
    before = (folder / "data.csv").read_bytes()
    (folder / "notes.txt").write_text("mine")
    (folder / "sub").mkdir()
    os.link("data.csv", "hard")
    for target, force in (("data.csv", True), ("hard", True), ("notes.txt", False)):
        has_force = force and not call.startswith(("schedule", "mapping"))
        outcome = run(*shlex.split(call), target, *(["--force"] if has_force else []))
        assert outcome.code and "Traceback" not in outcome.err, (target, outcome.err)
        assert (folder / "data.csv").read_bytes() == before and (
            folder / "notes.txt"
        ).read_text() == "mine"


@pytest.mark.parametrize(
    "call", [call for call in WRITING if not call.startswith("schedule --cron")]
)
def test_an_earlier_one_is_replaced_and_by_force_another(
    folder: Path, run: Caller, call: str
) -> None:
    again = 2 if call.startswith(("mapping", "card m1 -o")) else 0  # which people edit
    for code in (0, again):
        assert run(*shlex.split(call), "out").code == code
    if not call.startswith("schedule"):
        (folder / "notes.txt").write_text("mine")
        assert run(*shlex.split(call), "notes.txt", "--force").code == 0
        assert (folder / "notes.txt").read_bytes()[:4] != b"mine"
    assert not [*folder.glob(".*.part")]


def test_devices_pipes_and_folders(folder: Path, run: Caller) -> None:
    for call in WRITING[:7]:
        run(*shlex.split(call), "/dev/null")
        assert Path("/dev/null").is_char_device()
        holds = (
            "holds the database"
            if call.startswith("report")
            else "is a folder; name a file"
        )
        run(*shlex.split(call), ".").fails(2, holds)
        run(*shlex.split(call), "none/out").fails(2, "does not exist; create it first")
    piped = in_fork("report", "-o", "/dev/stdout", folder=folder)
    assert piped.stdout.startswith("<!DOCTYPE html>") and piped.returncode == 0, (
        piped.stderr
    )


def test_two_outputs_or_an_input_and_an_output_are_not_one_file(
    folder: Path, run: Caller
) -> None:
    run("report", "-o", "x", "--parquet", "./x").fails(
        2, "--out and --parquet name one file", "x"
    )
    run("schedule", "--once", "--report", "x", "--publish", "x").fails(
        2, "--report and --publish name one file"
    )
    run("mapping", "data.csv", "-o", "data.csv", "--force").fails(
        2, "names a file that is read: data.csv"
    )
    run("list", "runs", "--force").fails(2, "--force goes with --parquet")
    assert not (folder / "x").exists()


def test_a_disk_without_room_leaves_the_old_file(folder: Path, run: Caller) -> None:
    assert run("query", "score_summary", "--parquet", "out").code == 0
    before, limits = (
        (folder / "out").read_bytes(),
        resource.getrlimit(resource.RLIMIT_FSIZE),
    )
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, limits[1]))
    try:
        outcome = run("query", "score_summary", "--parquet", "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    outcome.fails(4, "no room on the disk")
    assert (folder / "out").read_bytes() == before and not [*folder.glob(".out*")]


def test_an_answer_keeps_the_metadata_of_others(folder: Path, run: Caller) -> None:
    assert run("list", "runs", "--parquet", "out").code == 0
    assert b"eval-warehouse.answer" in pq.read_schema("out").metadata


@pytest.mark.rare
def test_folders_that_hold_a_store_or_files_of_others(
    folder: Path, run: Caller
) -> None:
    run("report", "--split", "-o", ".").fails(2, "holds the database s.duckdb")
    run("store", "export", "--parquet", ".", "--overwrite").fails(
        2, "no earlier export"
    )
    assert run("store", "export", "--parquet", "out").code == 0
    assert run("store", "export", "--parquet", "out", "--overwrite").code == 0
    (folder / "out" / "tables" / "notes.txt").write_text("mine")
    run("store", "export", "--parquet", "out", "--overwrite").fails(
        2, "besides: tables/notes.txt; move that out of it first"
    )
    assert (folder / "out" / "tables" / "notes.txt").read_text() == "mine"
    assert run("store", "export", "--format", "every-eval-ever", "eee").code == 0
    assert (
        run("store", "export", "--format", "every-eval-ever", "eee", "--overwrite").code
        == 0
    )
    (folder / "eee" / "data" / "mine.json").write_text("{}")
    run("store", "export", "--format", "every-eval-ever", "eee", "--overwrite").fails(
        2, "besides: data/mine.json"
    )
    assert run("report", "--split", "-o", "pages").code == 0
    assert run("report", "--split", "-o", "pages").code == 0
    for page in ("b.html", "index.html"):
        (folder / "pages" / page).write_text("mine")
        run("report", "--split", "-o", "pages").fails(2, f"{page} is there already")
    assert run("report", "--split", "-o", "pages", "--force").code == 0


def test_python_is_guarded_too(folder: Path) -> None:
    house = connect("s.duckdb")
    plans = house.subset_plan("b", size=4, store_result=False)
    (folder / "notes.txt").write_text("mine")
    for write in (house.report, house.publish, plans.write):
        for target in ("s.duckdb", "notes.txt"):
            with pytest.raises(
                MisuseError, match="database|store itself|is there already"
            ):
                write(target)
    for write in (house.report, house.publish):
        with pytest.raises(MisuseError, match=r"is source 1"):
            write("data.csv", force=True)
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_source_of_several_files_is_kept_whole(folder: Path, run: Caller) -> None:
    demo = Path(__file__).parents[2] / "docs" / "demo" / "results"
    shutil.copytree(demo, folder / "demo")
    assert run("ingest", "demo").code == 0
    for file in [*(folder / "demo").rglob("*.json*")][:4]:
        before = file.read_bytes()
        run("report", "-o", str(file), "--force").fails(2, "source")
        assert file.read_bytes() == before


def test_a_source_is_kept_while_the_store_cannot_be_asked(
    folder: Path, run: Caller
) -> None:
    before = (folder / "data.csv").read_bytes()
    (folder / "other.csv").write_bytes(before)
    holder = (
        "import duckdb, sys; held = duckdb.connect('s.duckdb'); print('held', "
        "flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == b"held\n"
        run("--wait", "0", "mapping", "other.csv", "-o", "data.csv", "--force").fails(
            4, "s.duckdb"
        )
        assert run("--wait", "0", "mapping", "other.csv", "-o", "new.toml").code == 0
        other.communicate(b"")
    assert (folder / "data.csv").read_bytes() == before
