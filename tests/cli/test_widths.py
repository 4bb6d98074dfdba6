"""What commands say to a terminal of 80 columns fits it, whatever they are asked."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support.cli import on_a_terminal
from tests.support.full_store import CALLS, STORE, copy_filled

WIDTH = 80
#: Commands whose answer is a document for somebody else: lines of Markdown, of a
#: script, of TOML.
DOCUMENTS = ("card", "completion", "mapping")
#: Further questions that have a table.
MORE = (
    *(
        "leaderboard",
        "leaderboard exam --each checkpoint",
        "pairs exam",
        "compare model-a model-b --flips 5",
    ),
    *(
        "gate model-a model-b --margin 0.05",
        "training curves cloze",
        "noise variance exam",
        "matrix weights exam --draws 50",
    ),
    *(
        "query ingest_log",
        "query published_against_recomputed",
        "list sources",
        "list settings exam",
    ),
    *(
        "items datamap org/m0 -b gens --suspects",
        "noise reliability exam --scenarios category",
        "store check --deep",
    ),
)


@pytest.mark.parametrize(
    "share",
    [pytest.param(4, marks=pytest.mark.rare), pytest.param(1, marks=pytest.mark.slow)],
)
def test_no_line_is_wider_than_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: int
) -> None:
    monkeypatch.chdir(tmp_path)
    copy_filled(tmp_path)
    monkeypatch.setenv("WAREHOUSE_URL", f"duckdb:///{STORE}")
    writing = (
        "store downgrade",
        "fix forget",
        "fix invalidate",
        "fix alias",
        "fix alias",
        "refresh",
        "text embed",
        "subset",
        "claim",
    )
    calls = [
        call
        for call in CALLS
        if not call.startswith((*DOCUMENTS, *writing)) and "--json" not in call
    ]
    assert len(calls) > 40
    wide: dict[str, list[str]] = {}
    for call in [*calls, *MORE][::share]:
        shown = on_a_terminal(
            WIDTH, *shlex.split(call), codes=(0, 1, 5)
        )  # yes, no, undecided
        lines = [line for line in shown if len(line) > WIDTH]
        if lines:
            wide[call] = lines
    assert wide == {}
