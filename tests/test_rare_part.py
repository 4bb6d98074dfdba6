"""Of the rare tests CI runs a part, and each falls into one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILE = "tests/cli/test_options_of_rows.py"


def collected(*options: str) -> list[str]:
    """Names of the tests of a file that a run would choose."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *options, FILE]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in run.stdout.split("\n") if "::" in line]


@pytest.mark.rare
def test_each_falls_into_one_part_and_others_into_all() -> None:
    everything = collected("-m", "not slow")
    rare = collected("-m", "rare")
    parts = [collected("-m", "not slow", "--rare-part", f"{k}/3") for k in range(3)]
    n_parts = {name: sum(name in part for part in parts) for name in everything}
    assert 0 < len(rare) < len(everything)
    for name, n in n_parts.items():
        assert n == (1 if name in rare else 3), name
    assert min(map(len, parts)) > len(everything) - len(rare)


@pytest.mark.rare
@pytest.mark.parametrize("part", ["4/4", "1/0", "half"])
def test_a_part_that_is_none_is_refused(part: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        collected("--rare-part", part)
    assert "expected K/N" in refused.value.stderr
