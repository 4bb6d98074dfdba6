"""Two models on forty prompts, to claim something of."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from warehouse.cli.main import main

HEADER = "model,benchmark,prompt_id,metric,passage,score\n"


def dump(path: Path, model: str, wrong: int) -> None:
    """40 prompts in ten passages, of which some are wrong."""
    lines = [f"{model},quiz,p{i},acc,{i // 4},{int(i >= wrong)}\n" for i in range(40)]
    path.parent.mkdir(exist_ok=True)
    path.write_text(HEADER + "".join(lines))


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store ``s.db`` of the dumps of ``new``, and ``other.db`` of
    others, to be copied."""
    folder = tmp_path_factory.mktemp("made")
    dump(folder / "new" / "a.csv", "lab/a", 5)
    dump(folder / "new" / "b.csv", "lab/b", 17)
    with pytest.MonkeyPatch.context() as here:
        here.chdir(folder)
        assert main(["--db", "s.db", "ingest", "new", "--higher-is-better"]) == 0
        shutil.copytree("new", "other")
        dump(folder / "other" / "b.csv", "lab/b", 18)  # one answer less is right
        assert main(["--db", "other.db", "ingest", "other", "--higher-is-better"]) == 0
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, which is the current folder."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path
