"""Who scored is part of a figure: every command takes the headline scorer, or the one
that was asked for."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from tests.support.cli import Caller
from warehouse import connect
from warehouse.analysis.selection.scorers import others_in_words
from warehouse.api import Warehouse
from warehouse.errors import MisuseError


def judged(
    path: Path, column: str, name: str, models: dict[str, float], n: int
) -> Path:
    """A table of verdicts of one scorer."""
    dice = random.Random(name)
    lines = [f"model,benchmark,prompt_id,{column},score"]
    for model, right in models.items():
        lines += [
            f"{model},faq,q{i},{name},{int(dice.random() < right)}" for i in range(n)
        ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def judge(tmp_path: Path) -> Path:
    return judged(
        tmp_path / "judge.csv",
        "judge_model",
        "gpt-4o",
        {"ada": 0.9, "bob": 0.3, "cy": 0.4},
        40,
    )


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return judged(
        tmp_path / "people.csv", "annotator", "ann", {"ada": 0.5, "bob": 0.5}, 20
    )


def fill(url: str, *paths: Path) -> Warehouse:
    store = connect(url)
    for path in paths:
        store.ingest(path)
    return store


@pytest.mark.parametrize("turned", [False, True])
def test_the_headline_scorer_is_taken_in_any_order_of_sources(
    duckdb_url: str,
    judge: Path,
    people: Path,
    caplog: pytest.LogCaptureFixture,
    *,
    turned: bool,
) -> None:
    store = fill(duckdb_url, *((people, judge) if turned else (judge, people)))
    board = store.leaderboard("faq")
    assert board.rows[0].model == "ada" and board.rows[0].condition == "by gpt-4o"
    assert any("by gpt-4o; also scored by people" in note for note in board.notes)
    assert store.compare("ada", "bob").rows[0].n_prompts == 40
    assert store.gate("ada", "bob", margin=0.1).rows[0].n_prompts == 40
    assert store.power("ada", "bob").rows
    assert (
        "faq: scored by gpt-4o (40 questions) and by people (20 questions). Taken: "
        "gpt-4o, the headline metric. people instead: --where scorer=people; both: "
        "warehouse judge agreement faq --judge gpt-4o --human people"
    ) in caplog.text
    pairs = store.pairs("faq")
    assert pairs.rows[0].n_prompts == 40 and any(
        "also scored by people" in note for note in pairs.notes
    )


def test_the_scorer_that_is_asked_for_is_taken(
    duckdb_url: str, judge: Path, people: Path
) -> None:
    store = fill(duckdb_url, judge, people)
    (row,) = store.compare("ada", "bob", where=["scorer=people"]).rows
    assert row.n_prompts == 20
    assert {
        row.n_prompts for row in store.leaderboard("faq", where=["scorer=people"]).rows
    } == {20}
    assert {
        row.n_prompts for row in store.leaderboard("faq", where=["scorer!=people"]).rows
    } == {40}
    with pytest.raises(MisuseError, match="did you mean people"):
        store.leaderboard("faq", where=["scorer=peple"])


def of_kind(folder: Path, kind: str, direction: str, models: str) -> tuple[Path, Path]:
    """A table with a mapping by which one without a name has scored."""
    table, mapping = folder / f"{kind}.csv", folder / f"{kind}.toml"
    rows = [
        f"{model},q{number},{number % 2}" for model in models for number in range(6)
    ]
    table.write_text("\n".join(["model,question,score", *rows]) + "\n")
    mapping.write_text(
        '[run]\nmodel = "model"\nbenchmark = { const = "quiz" }\n[sample]\nprompt_id = "question"\n'
        '[[scores]]\nmetric = "score"\nvalue = "score"\n'
        f'[metrics.score]\nscorer_kind = "{kind}"\n{direction}'
    )
    return table, mapping


@pytest.mark.parametrize("turned", [False, True])
def test_a_judge_without_a_name_is_not_ranked_with_a_program(
    duckdb_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, *, turned: bool
) -> None:
    """And what one source says of the direction of a metric another, by another scorer,
    does not take back."""
    by_program = of_kind(tmp_path, "match", "higher_is_better = true\n", "ab")
    by_judge = of_kind(tmp_path, "model", "", "cd")
    store = connect(duckdb_url)
    for table, mapping in sorted((by_program, by_judge), reverse=turned):
        store.ingest(table, mapping=mapping)
    board = store.leaderboard("quiz")
    assert board.higher_is_better
    assert any(
        "differ in judge or scorer (a comparison, a judge)" in note
        for note in board.notes
    )
    assert not any("not known whether" in note for note in board.notes)
    assert [row.rank for row in board.rows] == [1, 1, 1, 1]
    told = [(row.model, row.condition) for row in board.rows]
    assert told == [("a", ""), ("b", ""), ("c", "by a judge"), ("d", "by a judge")]
    stored = store.query("select distinct higher_is_better from score_summary")
    assert stored.records() == [{"higher_is_better": True}]
    assert store.compare("c", "d").rows[0].difference == 0
    with pytest.raises(
        MisuseError, match="they differ in scorer 'none' against 'a judge'"
    ):
        store.compare("a", "c")


def test_after_labels_of_people_everything_goes_on_as_before(
    run: Caller, duckdb_url: str, judge: Path, tmp_path: Path
) -> None:
    store = fill(duckdb_url, judge)
    asked = {
        "leaderboard": lambda: [row.to_dict() for row in store.leaderboard("faq").rows],
        "compare": lambda: [store.compare("ada", "bob").rows[0].difference],
        "gate": lambda: [store.gate("ada", "bob", margin=0.1).rows[0].verdict],
        "power": lambda: [row.to_dict() for row in store.power("ada", "bob").rows],
        "pairs": lambda: [
            row.to_dict()["difference"] for row in store.pairs("faq").rows
        ],
    }
    before = {name: ask() for name, ask in asked.items()}
    sheet = tmp_path / "sheet.csv"
    run(
        "judge",
        "next",
        "faq",
        "--judge",
        "gpt-4o",
        "--n",
        "10",
        "--out",
        str(sheet),
        db=duckdb_url,
    )
    rows = list(csv.DictReader(sheet.read_text().splitlines()))
    assert len(rows) == 30
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(
            {**row, "label": str(number % 2)} for number, row in enumerate(rows)
        )
    run("ingest", str(sheet), "--map", "label_sheet", db=duckdb_url)
    after = {name: ask() for name, ask in asked.items()}
    for row in after["leaderboard"]:
        assert row["condition"] == "by gpt-4o"
        row["condition"] = ""
    for one, other in zip(before["leaderboard"], after["leaderboard"], strict=True):
        assert {**one, "other_metrics": None} == {**other, "other_metrics": None}
    for name in ("compare", "gate", "power", "pairs"):
        assert before[name] == after[name], name
    page = tmp_path / "page.html"
    run("report", "-o", str(page), db=duckdb_url)
    assert "gpt-4o" in page.read_text()
    agreement = store.judge("faq", judge="gpt-4o", human="people")
    assert agreement.rows[0].n_labels == 30


def test_scorers_without_a_name_are_told_apart_by_their_kind() -> None:
    """And nobody is told to name one that has no name."""
    assert (
        others_in_words([(0, ""), (1, "")])
        == "by a comparison; also scored by an execution"
    )
    assert others_in_words([(0, ""), (3, ""), (3, "Ada")]) == (
        "by a comparison; also scored by people, Ada (--where scorer=NAME takes one "
        "alone)"
    )
    assert others_in_words([(2, "gpt"), (2, "gpt")]) == ""
