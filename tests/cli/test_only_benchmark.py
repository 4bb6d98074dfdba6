"""A command of one benchmark that is not told which: the only one of the store, else it
says which there are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import Caller

_ROWS = "model,benchmark,prompt_id,score,topic\n"


def _table(path: Path, *benchmarks: str) -> str:
    lines = [_ROWS]
    for benchmark in benchmarks:
        for model, right in (("a", 6), ("b", 9)):
            for number in range(12):
                score = int(number < right)
                topic = "even" if number % 2 == 0 else "odd"
                lines.append(f"{model},{benchmark},q{number},{score},{topic}\n")
    path.write_text("".join(lines))
    return str(path)


@pytest.fixture
def one(run: Caller, tmp_path: Path) -> Iterator[str]:
    url = str(tmp_path / "one.db")
    table = _table(tmp_path / "one.csv", "quiz")
    assert run("ingest", table, db=url).code == 0
    yield url


@pytest.mark.parametrize(
    "line",
    [
        "pairs",
        "items difficulty",
        "irt fit",
        "leaderboard --by topic",
        "gate b a --margin 10% --by topic --no-slice-worse-than 90%",
    ],
)
@pytest.mark.rare
def test_the_only_one_is_taken(run: Caller, one: str, line: str) -> None:
    unnamed = run(*line.split(), db=one)
    words = line.split()
    at = ["-b"] if words[0] in ("pairs", "gate", "leaderboard") else []
    place = 3 if words[0] == "gate" else len(words) if at or len(words) == 2 else 1
    named = run(*words[:place], *at, "quiz", *words[place:], db=one)
    assert unnamed.out
    assert (unnamed.code, unnamed.out) == (named.code, named.out)


@pytest.mark.parametrize(
    "line", ["pairs", "items difficulty", "irt fit", "leaderboard --by topic"]
)
def test_of_several_it_says_which_there_are(
    run: Caller, tmp_path: Path, line: str
) -> None:
    url = str(tmp_path / "two.db")
    run("ingest", _table(tmp_path / "two.csv", "quiz", "exam"), db=url)
    run(*line.split(), db=url).fails(2, "here: exam, quiz (warehouse list benchmarks)")


def test_an_empty_store_says_so(run: Caller, tmp_path: Path) -> None:
    url = str(tmp_path / "none.db")
    run("store", "init", db=url)
    run("pairs", db=url).fails(2, "the store holds no benchmark yet")
