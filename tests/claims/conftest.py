"""Two models on forty prompts, to claim something of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Caller

HEADER = "model,benchmark,prompt_id,metric,passage,score\n"


def dump(path: Path, model: str, wrong: int) -> None:
    """40 prompts in ten passages, of which some are wrong."""
    lines = [f"{model},quiz,p{i},acc,{i // 4},{int(i >= wrong)}\n" for i in range(40)]
    path.parent.mkdir(exist_ok=True)
    path.write_text(HEADER + "".join(lines))


@pytest.fixture
def place(tmp_path: Path, run: Caller, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a store ``s.db`` of the dumps of ``new``."""
    monkeypatch.chdir(tmp_path)
    dump(tmp_path / "new" / "a.csv", "lab/a", 5)
    dump(tmp_path / "new" / "b.csv", "lab/b", 17)
    assert run("ingest", "new", "--higher-is-better", db="s.db").code == 0
    return tmp_path
