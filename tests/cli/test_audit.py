"""``audit``: what people and programs get to see."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import warehouse
from tests.analysis.test_audit import N, lines, store_of, write_verdicts
from tests.support.cli import Caller, on_a_terminal
from warehouse.analysis.audit.report import AuditAgreementRow, AuditRow, EffectRow


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return store_of(tmp_path_factory.mktemp("audit"), lines())


def test_people_see_the_list_in_80_columns(run: Caller, url: str) -> None:
    call = ("audit", "quiz", "--strata", "category", "--top", "2")
    seen = on_a_terminal(80, "--db", url, *call)
    assert " of 300 keys are suspect at 0.1, about " in seen[0] and max(map(len, seen)) <= 80
    assert "stratum" not in seen[3] and "stratum" in seen[-1] and seen[-1].endswith("--wide)")
    shown = run(*call, db=url)
    assert shown.out.splitlines()[0].endswith("(quiz, 6 models).")
    assert len([line for line in shown.out.splitlines() if line.startswith("prompt:")]) == 2
    assert "more suspects: --top 0 has all" in shown.err and "a clean list proves no clean key" in shown.err
    assert "stratum" in shown.out
    none = run("audit", "quiz", "--threshold", "1", db=url)
    assert none.out == "None of 300 keys is suspect at 1 (quiz, 6 models); that proves none right.\n"


def test_programs_get_the_librarys_rows(run: Caller, url: str, tmp_path: Path) -> None:
    verdicts = write_verdicts(tmp_path / "people.csv")
    library = warehouse.connect(url).audit("quiz", effect=True, against=verdicts)
    rows = run("audit", "quiz", "--json", db=url).rows
    assert list(rows[0]) == list(AuditRow.columns()) and len(rows) == N
    assert [row | {"wrong": None} for row in map(AuditRow.to_dict, library.rows)] == rows
    effect = run("audit", "quiz", "--effect", "--json", db=url).rows
    assert list(effect[0]) == list(EffectRow.columns()) and effect == [row.to_dict() for row in library.effect]
    agreed = run("audit", "quiz", "--against", str(verdicts), "--json", db=url).rows
    assert list(agreed[0]) == list(AuditAgreementRow.columns()) and agreed == [
        row.to_dict() for row in library.agreement
    ]
    assert json.loads(json.dumps(library.to_dict()))["strata"][0]["n_prompts"] == N


def test_effect_and_people_in_words(run: Caller, url: str, tmp_path: Path) -> None:
    verdicts = write_verdicts(tmp_path / "people.csv")
    shown = run("audit", "quiz", "--effect", "--against", str(verdicts), db=url).out
    assert " suspects scores change by +" in shown and " ranks change." in shown
    assert "Against the audit: " in shown and "average precision" in shown and "expected FDR" in shown


def test_a_plan_is_not_written_over(run: Caller, url: str, tmp_path: Path) -> None:
    plan = tmp_path / "cleaned.json"
    assert f"wrote {plan}" in run("audit", "quiz", "--plan", str(plan), db=url).err
    written = json.loads(plan.read_text())
    assert written["n_prompts"] + written["n_left_out"] == N and written["left_out"][0]["posterior"] > 0.1
    run("audit", "quiz", "--plan", str(plan), db=url).fails(2, "is there already", "--force")
    assert run("audit", "quiz", "--plan", str(plan), "--force", "--threshold", "1", db=url).code == 0
    assert json.loads(plan.read_text())["n_left_out"] == 0


def test_mistakes_end_in_one_line(run: Caller, url: str, tmp_path: Path) -> None:
    run("audit", "quizz", db=url).fails(2, "did you mean")
    run("audit", "quiz", "--strata", "subject", db=url).fails(2, "there are: category")
    run("audit", "quiz", "--where", "model=org/m1", db=url).fails(2, "answers of 3 models; quiz has those of 1")
    (tmp_path / "odd.csv").write_text("name,wrong\np001,1\n")
    run("audit", "quiz", "--against", str(tmp_path / "odd.csv"), db=url).fails(
        3, "expected a column that names the prompt"
    )
    run("audit", "quiz", "--effect", "--against", str(tmp_path / "odd.csv"), "--json", db=url).fails(2, "give one of")
