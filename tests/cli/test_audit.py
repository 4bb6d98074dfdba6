"""``audit``: what people and programs get to see."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import warehouse
from tests.analysis.audit.test_audit import WRONG, N, lines, store_of, write_verdicts
from tests.support.cli import Caller, on_a_terminal
from warehouse.analysis.audit.rows import (
    AuditAgreementRow,
    AuditRow,
    EffectRow,
    JudgedRow,
)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return store_of(tmp_path_factory.mktemp("audit"), lines())


def test_people_see_the_list_in_80_columns(run: Caller, url: str) -> None:
    call = ("items", "audit", "quiz", "--strata", "category", "--top", "2")
    seen = on_a_terminal(80, "--db", url, *call)
    assert (
        " of 300 keys of quiz look wrong, by what 6 models answer; how many" in seen[0]
        and max(map(len, seen)) <= 80
    )
    assert "models say" in seen[3] and seen[-1].endswith("--wide)")
    assert "stratum" in run(*call, "--wide", db=url).out
    brief = run(*call, db=url)
    assert "stratum" not in brief.out and "slope" not in brief.err
    shown = run(*call, "--explain", db=url)
    assert shown.out.splitlines()[0].endswith(
        "(quiz, 6 models); how many of them are wrong is not known."
    )
    assert (
        "not calibrated: slope .7 on one half of an audit by people, above 1 on another"
        in shown.err
    )
    assert (
        len([line for line in shown.out.splitlines() if line.startswith("prompt:")])
        == 2
    )
    assert (
        "more suspects: --top 0 has all" in shown.err
        and "a clean list proves no clean key" in shown.err
    )
    assert "stratum" in shown.out
    none = run("items", "audit", "quiz", "--threshold", "1", db=url)
    assert (
        none.out
        == "None of 300 keys of quiz looks wrong, by what 6 models answer; that proves "
        "none right.\n"
    )


def test_programs_get_the_librarys_rows(run: Caller, url: str, tmp_path: Path) -> None:
    verdicts = write_verdicts(tmp_path / "people.csv")
    library = warehouse.connect(url).audit("quiz", effect=True, against=verdicts)
    rows = run("items", "audit", "quiz", "--json", db=url).rows
    assert list(rows[0]) == list(AuditRow.columns()) and len(rows) == N
    assert [
        row | {"wrong": None} for row in map(AuditRow.to_dict, library.rows)
    ] == rows
    effect = run("items", "audit", "quiz", "--effect", "--json", db=url).rows
    assert list(effect[0]) == list(EffectRow.columns()) and effect == [
        row.to_dict() for row in library.effect
    ]
    agreed = run(
        "items", "audit", "quiz", "--against", str(verdicts), "--json", db=url
    ).rows
    assert list(agreed[0]) == list(AuditAgreementRow.columns()) and agreed == [
        row.to_dict() for row in library.agreement
    ]
    assert json.loads(json.dumps(library.to_dict()))["strata"][0]["n_prompts"] == N


def test_effect_and_people_in_words(run: Caller, url: str, tmp_path: Path) -> None:
    verdicts = write_verdicts(tmp_path / "people.csv")
    shown = run(
        "items", "audit", "quiz", "--effect", "--against", str(verdicts), db=url
    ).out
    assert " suspects scores change by +" in shown and " ranks change." in shown
    assert (
        "Against the audit: " in shown
        and "average precision" in shown
        and "mean of 1 - P(wrong)" in shown
    )


def test_a_plan_is_not_written_over(run: Caller, url: str, tmp_path: Path) -> None:
    plan = tmp_path / "cleaned.json"
    assert (
        f"wrote {plan}"
        in run("items", "audit", "quiz", "--plan", str(plan), db=url).err
    )
    written = json.loads(plan.read_text())
    assert (
        written["n_prompts"] + written["n_left_out"] == N
        and written["left_out"][0]["posterior"] > 0.1
    )
    run("items", "audit", "quiz", "--plan", str(plan), db=url).fails(
        2, "is there already", "--force"
    )
    assert (
        run(
            "items",
            "audit",
            "quiz",
            "--plan",
            str(plan),
            "--force",
            "--threshold",
            "1",
            db=url,
        ).code
        == 0
    )
    assert json.loads(plan.read_text())["n_left_out"] == 0


def drawn(run: Caller, url: str, path: Path) -> list[dict[str, str]]:
    """The table of a sample, in a file and as its rows."""
    call = ("--strata", "category", "--sample", "120", "--certain", "20", "--seed", "5")
    assert (
        "fill in the column wrong"
        in run("items", "audit", "quiz", *call, "--out", str(path), db=url).err
    )
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [
        str(row["wrong"])
        for row in run("items", "audit", "quiz", *call, "--json", db=url).rows
    ] == [""] * 120
    return rows


def judge(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return path


def verdict(row: dict[str, str]) -> str:
    return str(int(WRONG[int(row["id"].removeprefix("p"))]))


def test_a_judged_sample_says_how_many_keys_are_wrong(
    run: Caller, url: str, tmp_path: Path
) -> None:
    rows = drawn(run, url, tmp_path / "judge.csv")
    assert (
        len(rows) == 120
        and "posterior" not in rows[0]
        and "A. red of " in rows[0]["options"]
    )
    run(
        "items",
        "audit",
        "quiz",
        "--sample",
        "9",
        "--out",
        str(tmp_path / "judge.csv"),
        db=url,
    ).fails(2, "is there already")
    judged = judge(
        tmp_path / "judged.csv", [row | {"wrong": verdict(row)} for row in rows]
    )
    options = ("items", "audit", "quiz", "--verdicts", str(judged))
    brief = run(*options, db=url)
    assert "120 keys judged" in brief.out and "within strata" not in brief.out
    shown = run(*options, "--explain", db=url)
    assert (
        "120 keys judged" in shown.out
        and "Of all 300:" in shown.out
        and "within strata" in shown.out
    )
    assert (
        "said: " in shown.out
        and "missing" not in shown.out
        and " of them wrong" in shown.out
    )
    assert "not calibrated" not in shown.err
    answers = run(
        "items", "audit", "quiz", "--verdicts", str(judged), "--json", db=url
    ).rows
    assert (
        answers[0]["low"] <= WRONG.mean() <= answers[0]["high"]
        and answers[0]["bound_low"] is None
    )
    assert list(answers[0]) == list(JudgedRow.columns())
    numbers = tmp_path / "judged.jsonl"
    judgements = [
        row | {"probability": float(row["probability"]), "wrong": int(verdict(row))}
        for row in rows
    ]
    numbers.write_text("\n".join(map(json.dumps, judgements)))
    assert (
        run("items", "audit", "quiz", "--verdicts", str(numbers), "--json", db=url).rows
        == answers
    )


def test_missing_verdicts_are_counted_and_are_no_right_keys(
    run: Caller, url: str, tmp_path: Path
) -> None:
    rows = drawn(run, url, tmp_path / "judge.csv")
    gaps = [
        row | {"wrong": "" if place % 4 == 0 else verdict(row)}
        for place, row in enumerate(rows)
    ]
    call = (
        "items",
        "audit",
        "quiz",
        "--verdicts",
        str(judge(tmp_path / "gaps.csv", gaps)),
    )
    everything = run(*call, "--json", db=url).rows[0]
    assert everything["n_judged"] == 90 and everything["n_missing"] == 30
    assert (
        everything["bound_low"] <= everything["low"]
        and everything["bound_high"] > everything["high"] + 0.1
    )
    assert (
        "90 keys judged" in run(*call, db=url).out
        and "30 more have no verdict" in run(*call, db=url).out
    )


def test_a_table_that_is_not_the_sample_is_refused(
    run: Caller, url: str, tmp_path: Path
) -> None:
    rows = [
        row | {"wrong": verdict(row)} for row in drawn(run, url, tmp_path / "judge.csv")
    ]
    chance = next(
        place for place, row in enumerate(rows) if row["probability"] != "1.0"
    )

    def refused(
        changed: list[dict[str, str]],
        code: int,
        *words: str,
        options: tuple[str, ...] = (),
    ) -> None:
        run(
            "items",
            "audit",
            "quiz",
            "--verdicts",
            str(judge(tmp_path / "odd.csv", changed)),
            *options,
            db=url,
        ).fails(code, *words)

    def with_cell(name: str, value: str) -> list[dict[str, str]]:
        return [
            row | {name: value} if place == chance else row
            for place, row in enumerate(rows)
        ]

    refused(rows[1:], 3, "119 rows; expected the 120", "without a verdict")
    refused(with_cell("wrong", "perhaps"), 3, "verdict 'perhaps'", f"row {chance + 2}")
    refused(with_cell("benchmark", "exam"), 3, "benchmark 'exam'; expected 'quiz'")
    refused(with_cell("probability", "0.5"), 2, "this key was drawn with 0.357")
    refused(with_cell("probability", "1"), 2, "rows or probabilities were changed")
    refused(with_cell("probability", "nan"), 2, "this key was drawn with 0.357")
    refused(with_cell("probability", "often"), 2, "'often' is no number")
    refused([*rows[1:], rows[1]], 2, "are not those that seed 5 draws")
    refused(
        [row | {"sample": row["sample"].replace("seed=5", "seed=6")} for row in rows],
        2,
        "seed 6 draws",
    )
    refused([row | {"wrong": "unknown"} for row in rows], 3, "no verdict")
    refused(rows, 2, "drawn with strata category", options=("--strata", "split"))
    refused(
        [{"key": row["key"], "wrong": row["wrong"]} for row in rows],
        3,
        "no column benchmark",
        "--against",
    )
    refused(
        [
            row | {"sample": row["sample"].replace("keys=300", "keys=299")}
            for row in rows
        ],
        2,
        "299 keys, and 300",
    )
    run("items", "audit", "quiz", "--sample", "5", "--certain", "9", db=url).fails(
        2, "cannot hold 9 for certain"
    )
    run("items", "audit", "quiz", "--sample", "900", db=url).fails(
        2, "from 1 to all 300"
    )
    run("items", "audit", "quiz", "--certain", "9", db=url).fails(
        2, "--certain goes with --sample"
    )
    run(
        "items",
        "audit",
        "quiz",
        "--sample",
        "9",
        "--out",
        "judge.csv",
        "--csv-safe",
        db=url,
    ).fails(2, "--out writes the table")


def test_mistakes_end_in_one_line(run: Caller, url: str, tmp_path: Path) -> None:
    run("items", "audit", "quizz", db=url).fails(2, "did you mean")
    run("items", "audit", "quiz", "--strata", "subject", db=url).fails(
        2, "there are: category"
    )
    run("items", "audit", "quiz", "--where", "model=org/m1", db=url).fails(
        2, "answers of 3 models; quiz has those of 1"
    )
    (tmp_path / "odd.csv").write_text("name,wrong\np001,1\n")
    run("items", "audit", "quiz", "--against", str(tmp_path / "odd.csv"), db=url).fails(
        3, "expected a column that names the prompt"
    )
    run(
        "items",
        "audit",
        "quiz",
        "--effect",
        "--against",
        str(tmp_path / "odd.csv"),
        "--json",
        db=url,
    ).fails(2, "give one of")
