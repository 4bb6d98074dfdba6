"""Runs that join runs of their condition look like repeats, or it is said that they do
not: at ingest, on the row."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller
from warehouse.analysis.repeats.joined import FEWEST_OF_MORE, FEWEST_OF_TWO
from warehouse.api import Warehouse, connect
from warehouse.stats import equal_responses
from warehouse.stats.rows.repeats import repeats_test
from warehouse.store.open import open_store

MAPPING = """
files = ["*.jsonl"]
key = ["text"]
[path]
pattern = '(?P<run_id>[^/]+)[.]jsonl'
[run]
model = { const = "ada" }
benchmark = { const = "quiz" }
temperature = "temperature"
started_at = "started_at"
[sample]
text = "question"
response = "answer"
target = "target"
[[scores]]
metric = "right"
value = "right"
[metrics.right]
kind = "binary"
higher_is_better = true
"""


@pytest.fixture
def house(store_url: str) -> Warehouse:
    """An empty store of this test alone."""
    with open_store(store_url, create=True):
        pass  # made
    return connect(store_url)


def rows(
    scores: Sequence[float],
    answers: Iterable[str],
    *,
    target: str | None = None,
    day: int = 1,
) -> list[dict[str, Any]]:
    """One sample a line."""
    return [
        {
            "question": f"What is {number}?",
            "answer": answer,
            "target": target,
            "right": score,
            "temperature": 0,
            "started_at": f"2026-05-{day:02}T00:00:00",
        }
        for number, (score, answer) in enumerate(zip(scores, answers, strict=True))
    ]


def write(folder: Path, name: str, lines: Sequence[dict[str, Any]]) -> Path:
    """A file of one run."""
    path = folder / f"{name}.jsonl"
    path.write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    mapping = folder / "mapping.toml"
    mapping.write_text(MAPPING, encoding="utf-8")
    return path


def said(house: Warehouse, *paths: Path) -> str:
    """What was said of runs that are no mere repeats, in either order of the files."""
    report = house.ingest(*paths, mapping=paths[0].parent / "mapping.toml")
    assert {source.state for source in report.sources} == {"loaded"}, report
    about = [
        note
        for note in report.changed
        if "claim the same" in note or "equal responses" in note
    ]
    return "\n".join(about)


LONG = [f"the answer to question {number} is {number}" for number in range(60)]
STRICT = [float(number % 3 > 0) for number in range(60)]
LOOSE = [float(number % 3 > 0 or number % 2 > 0) for number in range(60)]


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_repeats_that_differ_are_said(
    house: Warehouse, store_url: str, tmp_path: Path, order: tuple[str, str]
) -> None:
    scores = {"a": [1.0] * 40 + [0.0] * 20, "b": [0.0] * 40 + [1.0] * 20}
    for number, name in enumerate(order, start=1):
        answers = [f"{text} by {name}" for text in LONG]
        note = said(
            house, write(tmp_path, name, rows(scores[name], answers, day=number))
        )
    # where each load has a loader of its own, a server gives the second another id
    with open_store(store_url) as store:
        first, second = (
            row["id"] for row in store.rows("select id from run order by 1")
        )
    runs = f"runs {first} and {second} of ada on quiz"
    assert note.startswith(f"{runs} claim the same settings, but ")
    assert "temperature 0, yet 60 of 60 tasks scored otherwise" in note
    assert "fields in which they differ: date" in note


def test_a_difference_beyond_chance_has_its_p(house: Warehouse, tmp_path: Path) -> None:
    for number, (name, score) in enumerate((("a", 1.0), ("b", 0.0)), start=1):
        lines = rows([score] * 60, [f"{text} by {name}" for text in LONG], day=number)
        note = said(
            house,
            write(tmp_path, name, [{**line, "temperature": 0.7} for line in lines]),
        )
    assert "differ by more than chance (p 2e-18): something else changed" in note


def test_real_repeats_are_not_said(house: Warehouse, tmp_path: Path) -> None:
    for number in range(1, 4):
        dice = random.Random(number)
        scores = [float(dice.random() < 0.7) for _ in range(60)]
        lines = rows(scores, [f"{text} in {number}" for text in LONG], day=number)
        assert (
            said(
                house,
                write(
                    tmp_path,
                    f"r{number}",
                    [{**line, "temperature": 1} for line in lines],
                ),
            )
            == ""
        )
    (row,) = house.leaderboard("quiz").rows
    assert row.runs == 3 and "scored_differently" not in row.flags


@pytest.mark.parametrize("together", [True, False])
def test_two_scorers_of_one_set_of_responses(
    house: Warehouse, tmp_path: Path, together: bool
) -> None:
    paths = [
        write(tmp_path, "strict", rows(STRICT, LONG)),
        write(tmp_path, "loose", rows(LOOSE, LONG)),
    ]
    note = (
        said(house, *paths)
        if together
        else "".join(said(house, path) for path in paths)
    )
    assert "score 10 of 60 equal responses differently: two scorers" in note
    board = house.leaderboard("quiz")
    assert sorted(row.estimate for row in board.rows) == pytest.approx([2 / 3, 5 / 6])
    assert all(
        "scored_differently" in row.flags and row.rank is None for row in board.rows
    )
    assert any("two scorers" in text for text in board.notes)


@pytest.mark.parametrize(
    ("answers", "target", "is_said"),
    [
        (["A"] * 60, None, False),  # whose letter it is depends on the options
        (["A"] * 60, "A", True),
        ([""] * 60, "A", False),  # nothing was answered
        (
            [str(number) for number in range(60)],
            None,
            True,
        ),  # short, but no letters of options
        (LONG, None, True),
    ],
)
def test_which_responses_count(
    house: Warehouse,
    tmp_path: Path,
    answers: list[str],
    target: str | None,
    is_said: bool,
) -> None:
    paths = [
        write(tmp_path, "strict", rows(STRICT, answers, target=target)),
        write(tmp_path, "loose", rows(LOOSE, answers, target=target)),
    ]
    assert ("two scorers" in said(house, *paths)) == is_said


def test_other_targets_are_no_scorers(house: Warehouse, tmp_path: Path) -> None:
    paths = [
        write(tmp_path, "strict", rows(STRICT, ["A"] * 60, target="A")),
        write(tmp_path, "loose", rows(LOOSE, ["A"] * 60, target="B")),
    ]
    assert "two scorers" not in said(house, *paths)


def test_few_that_differ_are_no_scorers(house: Warehouse, tmp_path: Path) -> None:
    scores = [1.0 - STRICT[0], 1.0 - STRICT[1], *STRICT[2:]]
    paths = [
        write(tmp_path, "a", rows(STRICT, LONG)),
        write(tmp_path, "b", rows(scores, LONG)),
    ]
    assert "two scorers" not in said(house, *paths)
    board = house.leaderboard("quiz")
    assert [row.runs for row in board.rows] == [2]
    assert any(
        "score 2 of 60 equal responses differently (0.033): too few for two scorers"
        in n
        for n in board.notes
    )


def test_a_judge_that_changes_its_mind_is_no_second_judge(
    house: Warehouse, tmp_path: Path
) -> None:
    """Eight of sixty, as often up as down: one row, which counts them."""
    right = [position for position, score in enumerate(STRICT) if score][:4]
    wrong = [position for position, score in enumerate(STRICT) if not score][:4]
    changed = [
        1.0 - score if position in (*right, *wrong) else score
        for position, score in enumerate(STRICT)
    ]
    paths = [
        write(tmp_path, "a", rows(STRICT, LONG)),
        write(tmp_path, "b", rows(changed, LONG)),
    ]
    judged = f'{MAPPING}[scorer]\njudge_model = {{ const = "acme/judge" }}\n'
    (tmp_path / "mapping.toml").write_text(judged, encoding="utf-8")
    assert "two scorers" not in said(house, *paths)
    board = house.leaderboard("quiz")
    assert [row.runs for row in board.rows] == [2]
    note = (
        "score 8 of 60 equal responses differently (0.13): how often the judge changes "
        "its mind"
    )
    assert any(note in text for text in board.notes)


def test_quiet_keeps_what_changes_figures(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    call = ("--map", str(tmp_path / "mapping.toml"), "-q")
    first = write(tmp_path, "strict", rows(STRICT, LONG))
    assert run("ingest", str(first), *call, db=store_url).err == ""
    done = run(
        "ingest", str(write(tmp_path, "loose", rows(LOOSE, LONG))), *call, db=store_url
    )
    assert done.code == 0 and "CHECK:" in done.err and "two scorers" in done.err


def test_fewer_differing_prompts_than_are_looked_for_can_tell_nothing() -> None:
    """What the statement leaves out, the test would not flag."""
    all_right = [1.0] * FEWEST_OF_TWO
    one_fewer = [0.0] * (FEWEST_OF_TWO - 1) + [1.0]
    assert "repeats_differ" in repeats_test([all_right, [0.0] * FEWEST_OF_TWO]).flags
    assert "repeats_differ" not in repeats_test([all_right, one_fewer]).flags
    for n_runs in (3, 5, 20, 60):
        runs = [[1.0] * 4 for _ in range(n_runs)]
        runs[0][: FEWEST_OF_MORE - 1] = [0.0] * (FEWEST_OF_MORE - 1)
        assert "repeats_differ" not in repeats_test(runs).flags


def test_gr18_equal_responses_give_no_false_alarm(
    data_dir: Path, duckdb_url: str
) -> None:
    """Of two runs of letters 19 of 20 are equal, and scored alike."""
    folder = data_dir / "lm_eval_logs" / "negotiationtom"
    if not folder.exists():
        pytest.skip(f"no {folder}")
    by_run = []
    for began in ("18-15-33", "17-52-34"):
        (path,) = folder.rglob(f"samples_negotiationtom_intention_*{began}*.jsonl")
        lines = path.read_text(encoding="utf-8").splitlines()
        by_run.append({row["doc_hash"]: row for row in map(json.loads, lines)})
    first, second = by_run
    assert first.keys() == second.keys() and len(first) == 20
    equal = [key for key in first if first[key]["resps"] == second[key]["resps"]]
    scores = [(first[key]["exact_match"], second[key]["exact_match"]) for key in equal]
    n_otherwise = sum(one != other for one, other in scores)
    assert (len(equal), n_otherwise) == (19, 0)
    assert not equal_responses(len(equal), n_otherwise).scored_differently
    report = connect(duckdb_url).ingest(folder)
    assert report.total("n_repeats")
    assert not [note for note in report.changed if "equal responses" in note]


def test_gr18_empty_responses_tell_nothing(data_dir: Path, duckdb_url: str) -> None:
    """33 equal pairs, all empty, of which 5 are scored otherwise: that is not used."""
    folder = data_dir / "verifiers" / "mmmu"
    if not folder.exists():
        pytest.skip(f"no {folder}")
    report = connect(duckdb_url).ingest(folder)
    assert report.total("n_runs")
    assert not [note for note in report.changed if "equal responses" in note]
