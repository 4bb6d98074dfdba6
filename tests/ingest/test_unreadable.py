"""Files and folders that cannot or must not be opened: named, never waited for."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import forked
from tests.support.cli import COMMAND, Caller
from warehouse.ingest.pipeline import ingest
from warehouse.ingest.report import IngestReport
from warehouse.store.open import open_store

ROWS = "model,benchmark,prompt_id,score\nm,b,q1,1\n"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12345\n"
MAPPING = """
files = "*.csv"
[run]
model = "model"
benchmark = "benchmark"
[sample]
prompt_id = "prompt_id"
[[scores]]
metric = "acc"
value = "score"
"""
INCAPABLE = Path(__file__).parents[1] / "support" / "incapable.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "ok.csv").write_text(ROWS)
    return tmp_path / "in"


def load(url: str, *paths: Path, **more: object) -> IngestReport:
    with open_store(url, create=True) as store:
        return ingest(store, paths, **more)  # type: ignore[arg-type]


def unread(report: IngestReport) -> dict[str, str]:
    return {item.path.name: item.reason for item in report.unread}


@pytest.mark.timeout(60)
def test_what_is_no_regular_file_is_named_and_never_opened(
    folder: Path, duckdb_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(folder / "pipe.csv")
    (folder / "endless.json").symlink_to("/dev/zero")
    (folder / "linked.jsonl").symlink_to("pipe.csv")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(folder)  # such a path is short
        listener.bind("ear.parquet")
        report = load(duckdb_url, folder)
    assert (report.total("n_runs"), report.refused) == (1, ())
    assert unread(report) == {
        "pipe.csv": "a FIFO (named pipe), which is not read",
        "linked.jsonl": "a link to a FIFO (named pipe), which is not read",
        "endless.json": "a link to a device, which is not read",
        "ear.parquet": "a socket, which is not read",
    }


@pytest.mark.timeout(60)
def test_what_is_named_by_itself_was_meant(
    run: Caller, folder: Path, duckdb_url: str
) -> None:
    os.mkfifo(folder / "pipe.csv")
    done = run(
        "ingest", str(folder / "ok.csv"), str(folder / "pipe.csv"), db=duckdb_url
    )
    done.fails(3, "pipe.csv: a FIFO (named pipe), which is not read")
    assert ": 1 run" in done.out
    run("ingest", "/dev/null", db=duckdb_url).fails(
        3, "/dev/null: a device, which is not read"
    )


@pytest.mark.parametrize(
    "name", ["r.csv", "r.json", "any.jsonl", "x.parquet", "y.eval"]
)
def test_pointers_of_any_name_are_said_for_what_they_are(
    run: Caller, folder: Path, duckdb_url: str, name: str
) -> None:
    (folder / name).write_text(POINTER)
    (folder / "logo.png").write_text(POINTER)
    done = run("ingest", str(folder), db=duckdb_url)
    done.fails(3, name, "a Git LFS pointer, not the data", "git lfs pull")
    assert ": 1 run" in done.out
    assert "logo.png: a Git LFS pointer" in done.err


def test_a_pointer_among_the_files_of_a_source_refuses_all_of_it(
    folder: Path, duckdb_url: str
) -> None:
    run_folder = folder / "suite" / "mmlu"
    run_folder.mkdir(parents=True)
    (run_folder / "run_spec.json").write_text('{"adapter_spec": {"model": "m"}}')
    (run_folder / "scenario_state.json").write_text(POINTER)
    (refused,) = load(duckdb_url, folder).refused
    assert "scenario_state.json: a Git LFS pointer" in refused.error
    assert "git lfs pull" in refused.error


def test_a_link_that_leads_nowhere_is_missed_where_it_names_data(
    folder: Path, duckdb_url: str
) -> None:
    (folder / "gone.csv").symlink_to(".git/annex/objects/x")
    (folder / "gone.txt").symlink_to("nowhere")
    report = load(duckdb_url, folder)
    assert [item.error for item in report.refused] == [
        f"{folder / 'gone.csv'}: a link to what is not there"
    ]
    assert unread(report) == {"gone.txt": "a link to what is not there"}


def test_files_that_a_mapping_does_not_name(
    folder: Path, duckdb_url: str, tmp_path: Path
) -> None:
    (tmp_path / "m.toml").write_text(MAPPING)
    (folder / "other.jsonl").write_text("{}\n")
    report = load(duckdb_url, folder, mapping=tmp_path / "m.toml")
    assert report.total("n_runs") == 1
    assert unread(report) == {
        "other.jsonl": "not among the files that the mapping names (files, exclude)"
    }


def incapable(*arguments: str, url: str) -> subprocess.CompletedProcess[str]:
    return forked.run(
        [sys.executable, str(INCAPABLE), str(COMMAND), "--db", url, *arguments]
    )


@pytest.mark.parametrize(
    "mode",
    [
        pytest.param(0, id="closed"),
        pytest.param(0o100, id="entered only", marks=pytest.mark.rare),
        pytest.param(0o400, id="listed only", marks=pytest.mark.rare),
    ],
)
def test_files_and_folders_without_permission(
    folder: Path, duckdb_url: str, mode: int
) -> None:
    (folder / "locked").mkdir()
    (folder / "locked" / "r.csv").write_text(ROWS)
    (folder / "locked" / "deeper").mkdir()
    (folder / "secret.csv").write_text(ROWS)
    (folder / "notes.md").write_text("hello")
    for name in ("secret.csv", "notes.md", "locked"):
        (folder / name).chmod(0)
    (folder / "locked").chmod(mode)
    try:
        done = incapable("ingest", str(folder), url=duckdb_url)
        alone = incapable("ingest", str(folder / "locked"), url=duckdb_url)
    finally:
        (folder / "locked").chmod(0o755)
    assert done.returncode == 3, done.stderr
    assert "read 1 of " in done.stdout
    said = done.stderr.splitlines()
    secret = f"Error: {folder}/secret.csv: cannot be read: Permission denied"
    if mode == 0o400:
        assert f"{secret} [and 1 more like it: locked/r.csv]" in said
    else:
        assert {
            secret,
            f"Error: {folder}/locked: a folder that cannot be read: Permission denied",
        } <= {*said}
    assert f"  {folder}/notes.md: cannot be read: Permission denied" in said
    assert alone.returncode == 3 and "cannot be read" in alone.stderr
    assert mode != 0o400 or "r.csv: cannot be read" in alone.stderr


def test_a_file_that_loses_its_permission_is_the_fault_of_nobody(
    folder: Path, duckdb_url: str
) -> None:
    """Claimed by its name, unreadable when it is hashed."""
    path = folder / "samples_x_2024-01-01T00-00-00.000000.jsonl"
    path.symlink_to(path.name)  # a ring
    report = load(duckdb_url, folder)
    (refused,) = report.refused
    assert "Too many levels of symbolic links" in refused.error
    assert "defect" not in refused.error
