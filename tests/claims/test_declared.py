"""What people had said of a benchmark is part of a claim on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Caller
from warehouse.claims.bundle import read_claim


@pytest.fixture
def two_names(run: Caller, place: Path) -> Path:
    """A third model, which another tool scored by another name of the metric."""
    lines = [f"lab/c,quiz,p{i},acc,{i // 4},{int(i > 3)}" for i in range(40)]
    header = "model,benchmark,prompt_id,metric,passage,score"
    (place / "c").mkdir()
    text = "\n".join([header, *lines]).replace(",acc,", ",correct,")
    (place / "c" / "c.csv").write_text(f"{text}\n")
    return place


def test_a_claim_holds_what_was_said_of_a_metric(run: Caller, two_names: Path) -> None:
    read = ("ingest", "c", "--higher-is-better")
    assert run(*read, db="s.db").code == 0
    assert run("claim", "leaderboard quiz", "-o", "plain.json", db="s.db").code == 0
    plain = (two_names / "plain.json").read_text()
    assert '"declared"' not in plain
    made = run("fix", "alias", "correct", "acc", "--metric", "--on", "quiz", db="s.db")
    assert made.out == "correct counts as acc on quiz\n", made.err
    assert run("claim", "leaderboard quiz", "-o", "c.json", db="s.db").code == 0
    claim = read_claim(two_names / "c.json")
    (said,) = claim.declared
    assert (said["about"], said["subject"], said["said"]) == (
        "metric alias",
        "correct",
        "acc",
    )
    assert len(claim.rows) == 3
    assert run("claim", "verify", "c.json", db="s.db").code == 0
    before = run("claim", "verify", "plain.json", "--json", db="s.db")
    assert {row["what"] for row in before.rows} >= {"declared", "row"}
    undone = run(
        "fix", "alias", "correct", "--metric", "--on", "quiz", "--undo", db="s.db"
    )
    assert undone.code == 0
    assert run("claim", "verify", "plain.json", db="s.db").code == 0
    other = run("claim", "verify", "c.json", "--json", db="s.db")
    (gone,) = [row for row in other.rows if row["what"] == "declared"]
    assert (gone["where"], gone["claimed"], gone["found"]) == (
        "metric alias of quiz: correct",
        "there",
        "missing",
    )


def test_from_dumps_it_is_said_again(run: Caller, two_names: Path) -> None:
    assert run("ingest", "c", "--higher-is-better", db="s.db").code == 0
    run("fix", "alias", "correct", "acc", "--metric", "--on", "quiz", db="s.db")
    run("fix", "slices", "quiz", "passage", db="s.db")
    assert run("claim", "leaderboard quiz", "-o", "c.json", db="s.db").code == 0
    found = run("claim", "verify", "c.json", "--from", "new", "--from", "c", "--json")
    assert [row for row in found.rows if row["what"] == "declared"] == []


def test_a_claim_holds_the_policy_of_its_benchmark(run: Caller, place: Path) -> None:
    policy = ("fix", "policy", "quiz", "attempts")
    said = run(*policy, db="s.db")
    assert said.out.startswith("quiz is under policy attempts: "), said
    assert run("claim", "compare lab/a lab/b", "-o", "c.json", db="s.db").code == 0
    (declared,) = read_claim(place / "c.json").declared
    assert (declared["about"], declared["said"]) == ("policy", "attempts")
    assert len(declared["digest"]) == 16 and declared["declared_at"]
    assert run("claim", "verify", "c.json", db="s.db").code == 0
    run(*policy[:3], "all-wrong", db="s.db")
    other = run("claim", "verify", "c.json", "--json", db="s.db").rows
    assert {
        (row["where"], row["found"]) for row in other if row["what"] == "declared"
    } >= {("policy of quiz: said", "all-wrong")}
    assert run(*policy[:3], "--undo", db="s.db").code == 0
    run(*policy[:3], "--undo", db="s.db").fails(2, "quiz has no policy of its own")
    run(*policy, "--undo", db="s.db").fails(2, "name it alone, without attempts")
    run(*policy[:3], db="s.db").fails(2, "Missing argument 'POLICY'")
