"""``warehouse board``: what is printed, written for programs, and the exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.boards import names, scores
from tests.support.cli import Caller


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A leaderboard with one average that its parts contradict."""
    columns = scores(20, (500, 400, 300), seed=3)
    average = sum(columns.values()) / 3
    average[4] += 5
    rows = ["model,average," + ",".join(columns)]
    for i, name in enumerate(names(20)):
        cells = [f"{values[i]:.2f}" for values in (average, *columns.values())]
        rows.append(",".join([name, *cells]))
    path = tmp_path / "leaderboard.csv"
    path.write_text("\n".join(rows))
    return path


def test_what_people_read(run: Caller, published: Path) -> None:
    lines = run("board", str(published)).out.splitlines()
    assert lines[0] == (
        "1 finding cannot be right, 0 to ask about, 0 notes: 80 figures, 20 entries."
    )
    assert lines[2] == "cannot be right"
    assert lines[3].startswith("  fir-a                   average ")
    assert lines[-1] == "Nothing was rerun. A file without hits may still be wrong."
    assert max(map(len, lines)) <= 80


def test_the_rules_are_explained(run: Caller, published: Path) -> None:
    told = run("board", str(published), "--explain").out
    assert "B2: a rule between columns that nearly all rows keep." in told


def test_programs_get_every_figure(run: Caller, published: Path) -> None:
    (row,) = run("board", str(published), "--json").rows
    assert (row["grade"], row["rule"], row["entries"]) == ("wrong", "B2", ["fir-a"])
    assert row["column"] == "average"
    assert float(row["printed"]) - row["expected"] == pytest.approx(5, abs=0.02)
    assert run("board", str(published), "--csv").out.startswith("board,grade,rule,")


def test_a_contradiction_fails_where_that_is_asked_for(
    run: Caller, published: Path
) -> None:
    failed = run("board", str(published), "--fail")
    assert (failed.code, "cannot be right" in failed.out) == (3, True)
    text = published.read_text().splitlines()
    published.write_text("\n".join(text[:5] + text[6:]))
    told = run("board", str(published), "--fail")
    assert told.code == 0
    assert told.out.startswith("Nothing found: 76 figures, 19 entries.")


def test_a_file_that_is_no_table(run: Caller, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing")
    run("board", str(path)).fails(3, "notes.txt: no table with names of entries")
    run("board", str(tmp_path / "absent.csv")).fails(2, "no file or folder")


def test_items_of_a_column_are_stated(run: Caller, published: Path) -> None:
    told = run("board", str(published), "--items", "task A=500", "--json").rows
    assert {row["rule"] for row in told} == {"B2"}
    wrong = run("board", str(published), "--items", "task A=37", "--json").rows
    assert {(row["grade"], row["column"]) for row in wrong} >= {("wrong", "task A")}
    run("board", str(published), "--items", "absent=37").fails(
        2, "no table has a column"
    )
    run("board", str(published), "--items", "task A").fails(2, "is not COLUMN=N")


def test_what_changed_since_an_earlier_version(run: Caller, published: Path) -> None:
    later = published.with_name("later.csv")
    lines = published.read_text().splitlines()
    cells = lines[5].split(",")
    cells[1] = f"{float(cells[1]) - 5:.2f}"
    lines[5] = ",".join(cells)
    later.write_text("\n".join(lines))
    told = run("board", str(later), "--before", str(published)).out
    assert "1 cell changed since the earlier version; 1 of them had been found." in told
    assert "(had been found)" in told
