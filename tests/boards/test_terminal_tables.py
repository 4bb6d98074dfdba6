"""Tables as a program drew them on a terminal, in a log."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Caller
from warehouse.boards.reading import read_boards

RULE = (
    "+-----------+---------+-----------------+----------+-------+---------+---------+"
)
HEAD = (
    "| Model     | Dataset | Metric          | Subset   |   Num |   Score | Cat.0   |"
)
SCORES = {
    "qwen-plus": (0.9, 0.66),
    "qwen-max": (0.94, 0.7),
    "qwen-turbo": (0.86, 0.575),
}


def drawn(split: bool = False) -> str:
    """The report of EvalScope, with the lines of its log around it."""
    lines = ["2025-01-17 15:41:30 - evalscope - INFO - Overall report table:", RULE]
    lines += [HEAD, RULE.replace("-", "=")]
    for model, (sums, words) in SCORES.items():
        for task, n, score in (("gsm8k", 50, sums), ("arc", 50, words)):
            first, rest = (model[:5], model[5:]) if split else (model, "")
            lines.append(
                f"| {first:9} | {task:7} | AverageAccuracy | main     | {n:5} | "
                f"{score:7} | default |"
            )
            if rest:
                lines.append(f"| {rest:9} |         |   |    |       |   |  |")
            lines.append(RULE)
    return "\n".join([*lines, "2025-01-17 15:41:31 - evalscope - INFO - Done.", ""])


@pytest.mark.parametrize("suffix", [".log", ".txt", ".md"])
def test_a_grid_of_evalscope_is_a_board(
    run: Caller, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"report{suffix}"
    path.write_text(drawn())
    (named,) = read_boards([path]).boards
    assert list(named.board.entries) == [*SCORES]
    found = run("board", str(path))
    assert found.code == 0
    assert "6 figures, 3 entries" in found.out
    assert "gsm8k: qwen-max has the highest figure, 0.94" in found.out
    assert "(n 50, Holm)" in found.out


def test_a_cell_on_two_lines_is_one(tmp_path: Path) -> None:
    path = tmp_path / "report.log"
    path.write_text(drawn(split=True))
    (named,) = read_boards([path]).boards
    assert list(named.board.entries) == ["qwen- plus", "qwen- max", "qwen- turbo"]


def test_a_grid_of_a_few_rows_says_what_is_expected(
    run: Caller, tmp_path: Path
) -> None:
    path = tmp_path / "report.log"
    path.write_text("\n".join([RULE, HEAD, RULE, ""]))
    run("board", str(path)).fails(3, "no table with names of entries", "a terminal")
