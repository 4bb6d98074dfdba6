"""Notes below a table: a reason that many rows share is said once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from warehouse.cli.state import State
from warehouse.tables.words import SHOWN, reasons


def row(model: str, condition: str = "") -> Any:
    return SimpleNamespace(model=model, condition=condition)


def test_a_reason_is_said_once_with_the_rows_it_holds_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seeds = [(row("m", f"seed={number}"), "no error") for number in range(100)]
    State().notes(reasons([*seeds, (row("n"), "one prompt"), (row("o"), "")]))
    assert capsys.readouterr().err.splitlines() == [
        "note: m seed=0, m seed=1, m seed=2 and 97 more: no error",
        "note: n: one prompt",
    ]


def test_of_many_reasons_the_first_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    State().notes(
        reasons([(row("m"), f"reason {number}") for number in range(SHOWN + 2)])
    )
    said = capsys.readouterr().err.splitlines()
    assert said[-2:] == [
        "note: m: reason 4",
        "note: and 2 more reasons; --json has all",
    ]
