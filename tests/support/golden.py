"""What commands print, as text files beside the tests: made anew by ``pytest
--write-golden`` and reviewed as a diff.

A file holds what a shell would show: each command after ``$``, what it printed, lines
for people on standard error after ``!``, and last how it ended, where that was not with
0.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.cli import Caller

_NAME = "golden"


@dataclass(frozen=True)
class Golden:
    """The file of one test."""

    path: Path
    is_written: bool

    def __call__(self, text: str) -> None:
        """Hold a text against the file."""
        if self.is_written:
            self.path.parent.mkdir(exist_ok=True)
            self.path.write_text(text, encoding="utf-8")
        expected = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        assert text == expected, (
            f"{self.path}: if what is printed now is meant, write it anew: pytest "
            "--write-golden"
        )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """The file of this test, named by it."""
    name = request.node.originalname.removeprefix("test_")
    return Golden(
        request.path.parent / _NAME / f"{name}.txt",
        request.config.getoption("--write-golden"),
    )


def shown(run: Caller, *calls: str) -> str:
    """What a shell would show of commands. The store is that of the environment, as
    tests have it anywhere."""
    return "\n".join(line for call in calls for line in _lines(run, call)) + "\n"


def _lines(run: Caller, call: str) -> Iterator[str]:
    done = run(*shlex.split(call))
    yield f"$ warehouse {call}"
    yield from done.out.splitlines()
    yield from (f"! {line}" for line in done.err.splitlines())
    if done.code:
        yield f"[{done.code}]"
    yield ""


def golden_files(tests: Path) -> list[Path]:
    """All that there are."""
    return sorted(tests.glob(f"**/{_NAME}/*.txt"))
