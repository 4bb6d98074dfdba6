"""The page of published tables: its table has the answer that stands below it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.cli import Caller

PAGE = Path(__file__).parents[2] / "docs" / "board.md"


def test_the_table_of_the_page_has_its_answer(run: Caller, tmp_path: Path) -> None:
    table, answer = re.findall(r"```\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[:2]
    path = tmp_path / "leaderboard.csv"
    path.write_text(table, encoding="utf-8")
    command, _, printed = answer.partition("\n")
    assert command == "$ warehouse board leaderboard.csv"
    assert run("board", str(path)).out.strip() == printed.strip()
