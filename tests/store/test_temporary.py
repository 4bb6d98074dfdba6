"""Temporary folders go with their process, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from warehouse.store.temporary import TemporaryFolder, temporary_folder

HOLD = """
import time
from warehouse.store.temporary import TemporaryFolder
folder = TemporaryFolder()
(folder.path / "big").write_text("x")
print(folder.path, flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def grow_old(folder: Path) -> None:
    os.utime(folder, (0, 0))


def test_the_folder_of_a_killed_process_is_swept_and_a_living_one_is_not(
    place: Path,
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(place)},
    )
    with process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        grow_old(folder)
        with temporary_folder() as own:
            assert folder.is_dir() and own != folder
        process.send_signal(signal.SIGKILL)
    grow_old(folder)
    with temporary_folder():
        assert not folder.exists()
    assert list(place.iterdir()) == []


def test_what_is_not_ours_stays(place: Path) -> None:
    for name in ("warehouse-of-mine", "warehouse-young", "other"):
        (place / name).mkdir()
    (place / "warehouse-young" / "in-use").touch()
    (place / "warehouse-link").symlink_to(place / "other")
    (place / "other" / "in-use").touch()
    grow_old(place / "warehouse-of-mine")
    TemporaryFolder().close()
    assert len(list(place.iterdir())) == 4
