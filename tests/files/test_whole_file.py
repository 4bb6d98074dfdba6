"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import BinaryIO

import pytest

from warehouse.files import draft_beside, in_place_of, put_back, replace_file


@pytest.mark.parametrize(
    "name", ["n" * 240 + ".html", "名" * 80, "\U0001f600" * 60, "b\udcff.html"]
)
def test_a_file_is_replaced_and_no_draft_stays(tmp_path: Path, name: str) -> None:
    target = tmp_path / name
    target.write_bytes(b"before")
    assert replace_file(target, b"after") == 5
    assert target.read_bytes() == b"after" and [*tmp_path.iterdir()] == [target]


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_bytes(b"before")

    def half(file: BinaryIO) -> None:
        file.write(b"af")
        raise ValueError

    with pytest.raises(ValueError):
        replace_file(target, half)
    assert target.read_bytes() == b"before" and [*tmp_path.iterdir()] == [target]
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "missing" / "file", b"x")


def test_drafts_of_processes_that_are_gone_are_removed(tmp_path: Path) -> None:
    target = tmp_path / "file"
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    mine = draft_beside(target).name
    gone = tmp_path / mine.replace(f".{os.getpid()}-", f".{dead.pid}-")
    theirs = tmp_path / mine.replace(f".{os.getpid()}-", f".{os.getppid()}-")
    for draft in (gone, theirs):
        draft.write_bytes(b"half")
    replace_file(target, b"x")
    assert not gone.exists() and theirs.exists()


def test_a_draft_of_a_killed_process_that_had_our_number_is_removed(
    tmp_path: Path,
) -> None:
    """As in containers, in each of which the command is process 1; what another thread
    writes stays."""
    theirs = tmp_path / f".file.{os.getpid()}-{threading.get_native_id()}.part"
    ours = draft_beside(tmp_path / "file")
    for draft in (theirs, ours):
        draft.write_bytes(b"half")
    replace_file(tmp_path / "file", b"x")
    assert not theirs.exists() and ours.exists()


@pytest.mark.parametrize("is_there", [True, False])
def test_what_killed_processes_have_left_of_a_folder_is_undone(
    tmp_path: Path, is_there: bool
) -> None:
    """A folder that one had just moved away comes back; drafts of folders go."""
    folder = tmp_path / "folder"
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for name in (
        f".folder.{dead.pid}-1.part",
        f".folder.{dead.pid}-2.part.old",
        *["folder"] * is_there,
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    live = tmp_path / f".folder.{os.getppid()}-1.part.old"
    live.mkdir()
    put_back(folder)
    assert {*tmp_path.iterdir()} == {folder, live}
    assert (folder / "file").read_text() == (
        "folder" if is_there else f".folder.{dead.pid}-2.part.old"
    )


def test_a_folder_is_replaced_once_its_draft_is_done(tmp_path: Path) -> None:
    folder, draft = tmp_path / "folder", tmp_path / "draft"
    for text in ("one", "two"):
        with in_place_of(folder, draft):
            draft.mkdir()
            (draft / "file").write_text(text)
        assert (folder / "file").read_text() == text
    with pytest.raises(ValueError), in_place_of(folder, draft):
        draft.mkdir()
        raise ValueError
    assert (folder / "file").read_text() == "two" and [*tmp_path.iterdir()] == [folder]
