"""``docs/reference/cli.md`` is what --help prints; completion works."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import COMMAND
from warehouse.cli.ui.reference_docs import renewed

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reference" / "cli.md"


def test_the_reference_is_what_help_prints() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text == renewed(text), (
        "run: python -m warehouse.cli.ui.reference_docs docs/reference/cli.md"
    )


@pytest.mark.parametrize(
    "line", ["warehouse lea", "warehouse store ch", "warehouse leaderboard --me"]
)
def test_completion_offers_what_can_follow(line: str) -> None:
    words = line.split()
    environment = os.environ | {
        "_WAREHOUSE_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [str(COMMAND)], env=environment, text=True, capture_output=True
    )
    assert any(words[-1] in offered for offered in done.stdout.splitlines()), done


@pytest.mark.parametrize(
    ("shell", "word"),
    [("bash", "complete "), ("zsh", "compdef"), ("fish", "complete ")],
)
def test_the_completion_script_is_there(shell: str, word: str) -> None:
    done = subprocess.run(
        [str(COMMAND), "completion", shell], text=True, capture_output=True
    )
    assert (
        done.returncode == 0
        and word in done.stdout
        and "_WAREHOUSE_COMPLETE" in done.stdout
    )
