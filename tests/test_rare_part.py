"""Of the rare tests CI runs a part, and each falls into one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import dear

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


def test_what_costs_much_is_listed_on_average_over_its_parameters() -> None:
    before = frozenset({"tests/a.py::old", "tests/a.py::gone_cheap"})
    seconds = {
        "tests/a.py::pair[x]": 0.9,
        "tests/a.py::pair[y]": 0.2,
        "tests/a.py::first[x]": 0.8,
        "tests/a.py::first[y]": 0.01,
        "tests/a.py::gone_cheap": 0.1,
        "tests/test_layers.py::kept": 9.0,
    }
    found = dear.listed(seconds, before)
    assert found == ["tests/a.py::old", "tests/a.py::pair"]


def test_the_list_names_functions_that_there_are() -> None:
    for function in dear.dear_functions():
        file, _, name = function.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        assert f"def {name.rpartition('::')[2]}(" in text, function
