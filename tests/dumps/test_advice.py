"""Advice on files that are asked without a store."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import warehouse
from tests.support.cli import Caller
from warehouse.dumps.advice import without_store

ROOT = Path(warehouse.__file__).parent


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        (
            "so: `warehouse fix forget` the sources, and ingest again with a mapping "
            "that has another prompt_id",
            "so: ask again with a mapping (--map FILE) that has another prompt_id",
        ),
        (
            "on others: `warehouse fix forget` this source, and ingest it with --set "
            "benchmark=NAME of its own",
            "on others: ask each by itself (--from FILE)",
        ),
        (
            "compares the two; warehouse fix forget 1 && warehouse fix forget 2, then "
            "ingest again with a mapping that has `scale = 0.01`",
            "compares the two; ask again with a mapping (--map FILE) that has "
            "`scale = 0.01`",
        ),
        (
            "models: warehouse fix forget 3, then name each by itself, or with a "
            "mapping from its file's name",
            "models: ask each by itself (--from FILE), or all with a mapping from its "
            "file's name",
        ),
        (
            "until one is removed (warehouse fix forget 2)",
            "until one is removed (leaving one of the files out of --from)",
        ),
        ("nothing of that", "nothing of that"),
    ],
)
def test_what_a_store_is_advised_is_said_of_files(said: str, instead: str) -> None:
    assert without_store(said) == instead


def test_no_note_on_files_names_what_needs_a_store(run: Caller, tmp_path: Path) -> None:
    lines = ["model,benchmark,prompt_id,score"]
    lines += [f"a,quiz,a{n},{n % 2}" for n in range(12)]
    lines += [f"b,quiz,b{n},{n % 2}" for n in range(12)]
    table = tmp_path / "quiz.csv"
    table.write_text("\n".join(lines) + "\n")
    kept = run("ingest", str(table), db=f"duckdb:///{tmp_path / 's.duckdb'}")
    asked = run("leaderboard", "--from", str(table))
    assert "warehouse fix forget" in kept.err
    assert "share next to none" in asked.err
    assert "fix forget" not in asked.err
    assert "ask again with a mapping (--map FILE)" in asked.err
    notes = " ".join(warehouse.read(table).notes)
    assert "share next to none" in notes and "fix forget" not in notes


def test_every_note_that_forgets_can_be_said_of_files() -> None:
    """What the program writes of ``fix forget`` is caught whole: nothing of the command
    is left."""
    for path in [*ROOT.rglob("*.py")]:
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.search(r"warehouse fix forget", line) and "compile" not in line:
                assert "fix forget" not in without_store(line), (path, line)
