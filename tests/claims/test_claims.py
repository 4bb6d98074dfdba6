"""Claims: made, checked on a store and from dumps, and bundles that nobody should
trust."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.support.cli import Caller
from warehouse.claims import bundle
from warehouse.claims.bundle import Claim, read_claim, write_claim
from warehouse.claims.questions import accepted, checked, kinds
from warehouse.errors import InputError, MisuseError
from warehouse.records.canonical_json import canonical_digest

QUESTIONS = [
    "leaderboard quiz --level 0.9",
    "compare lab/a lab/b -b quiz --method permutation",
    "pairs quiz --resamples 99",
    "noise variance quiz",
    'query --sql "select model, estimate from score_summary order by model"',
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_claim_holds_where_its_data_are_and_not_where_they_differ(
    run: Caller, place: Path, question: str
) -> None:
    made = run("claim", question, "-o", "c.json", db="s.db")
    assert made.code == 0 and "wrote c.json" in made.err
    held = run("claim", "verify", "c.json", db="s.db")
    assert held.code == 0 and "the claim holds" in held.out, held
    other = run("claim", "verify", "c.json", db="other.db")
    assert other.code == 1 and "does not hold" in other.out
    rows = run("claim", "verify", "c.json", "--json", db="other.db").rows
    assert "figure" in {row["what"] for row in rows}
    if not question.startswith("query"):
        (changed,) = [row for row in rows if row["what"] == "run"]
        assert (
            changed["where"] == "lab/b on quiz"
            and changed["claimed"] != changed["found"]
        )
        assert "1 of 2 source files are others: b.csv" in other.err


def test_a_claim_says_what_it_rests_on_and_no_path(run: Caller, place: Path) -> None:
    run("claim", "leaderboard quiz", "-o", "c.json", db="s.db")
    claim = read_claim(place / "c.json")
    assert [row["path"] for row in claim.sources] == ["a.csv", "b.csv"] or len(
        claim.sources
    ) == 2
    assert {len(row["sha256"]) for row in claim.sources} == {64}
    assert [
        (row["model"], row["n_samples"])
        for row in sorted(claim.runs, key=lambda row: row["model"])
    ] == [
        ("lab/a", 40),
        ("lab/b", 40),
    ]
    board = run("leaderboard", "quiz", "--json", db="s.db").rows
    assert [row["estimate"] for row in claim.rows] == [row["estimate"] for row in board]
    assert (
        "run_ids" not in claim.rows[0]
        and str(place) not in (place / "c.json").read_text()
    )


@pytest.mark.rare
def test_a_claim_is_recomputed_from_dumps_with_its_clusters(
    run: Caller, place: Path
) -> None:
    (place / "map.json").touch()
    run("claim", "leaderboard quiz", "-o", "plain.json", db="s.db")
    assert run("claim", "verify", "plain.json", "--from", "new").code in (0, 1)
    demo = Path(__file__).resolve().parents[2] / "docs" / "demo" / "results"
    assert run("ingest", str(demo), db="d.db").code == 0
    assert run("fix", "cluster", "reading", "passage", "--default", db="d.db").code == 0
    assert run("claim", "leaderboard reading", "-o", "c.json", db="d.db").code == 0
    assert [row["name"] for row in read_claim(place / "c.json").clusterings] == [
        "passage"
    ]
    found = run("claim", "verify", "c.json", "--from", str(demo))
    assert found.code == 0 and "the claim holds" in found.out, found
    run("claim", "verify", "c.json", "--from", "nowhere").fails(2, "nowhere")


def test_a_store_without_the_data_says_so(run: Caller, place: Path) -> None:
    run("claim", "leaderboard quiz", "-o", "c.json", db="s.db")
    assert run("store", "init", db="empty.db").code == 0
    found = run("claim", "verify", "c.json", db="empty.db")
    assert found.code == 1 and "no benchmark is called 'quiz'" in found.out.replace(
        "\n", " "
    )


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("fix forget 1", "nothing can be claimed of 'fix forget'"),
        ("", "nothing can be claimed of ''"),
        ("leaderboard 'quiz", "No closing quotation"),
        ("compare lab/a lab/b --unpaired", "cannot have --unpaired"),
        ("noise variance quiz --seeds", "cannot have --seeds"),
        ("leaderboard", "on one benchmark, or on one group"),
        ("query score_summary", "query cannot have --name"),
        ("leaderboard nowhere", "nowhere"),
        (
            "judge plan quiz --judge x --width 1",
            "nothing can be claimed of 'judge plan'",
        ),
    ],
)
def test_what_cannot_be_claimed_is_refused(
    run: Caller, place: Path, question: str, part: str
) -> None:
    run("claim", question, "-o", "c.json", db="s.db").fails(2, part)
    assert not (place / "c.json").exists()


def claim(**changed: Any) -> Claim:
    plain: dict[str, Any] = {
        **{
            "command": "leaderboard quiz",
            "kind": "leaderboard",
            "parameters": {"benchmark": "quiz"},
        },
        **{"program": "0", "answer": "one", "rows": [{"model": "m", "estimate": 0.5}]},
    }
    return Claim(**plain | changed)


def sealed(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """A bundle that somebody changed, and gave the right digest."""
    write_claim(claim(), path)
    content = json.loads(path.read_text())
    content.pop("digest")
    change(content)
    path.write_text(json.dumps(content | {"digest": canonical_digest(content)}))


BAD: list[Callable[[dict[str, Any]], Any]] = [
    lambda content: content.update(version=2),
    lambda content: content.update(code="import os"),
    lambda content: content.update(kind="ingest"),
    lambda content: content.update(kind="forget"),
    lambda content: content.update(parameters={"benchmark": "quiz", "store": "x"}),
    lambda content: content.update(
        parameters={"benchmark": "quiz", "n_resamples": 10**9}
    ),
    lambda content: content.update(parameters={"benchmark": "quiz", "level": "high"}),
    lambda content: content.update(parameters={"benchmark": ["quiz"]}),
    lambda content: content.update(kind="compare"),
    lambda content: content.update(rows=[[1]]),
    lambda content: content.update(rows=[{"a": {"b": 1}}]),
    lambda content: content.update(rows=[{"a": "x" * 200_000}]),
    lambda content: content.update(rows=[{}] * 6_000),
    lambda content: content.update(command=1),
    lambda content: content.pop("runs"),
]


@pytest.mark.parametrize("change", BAD, ids=range(len(BAD)))
def test_a_bad_bundle_is_bad_input(
    run: Caller, tmp_path: Path, change: Callable[[dict[str, Any]], Any]
) -> None:
    sealed(tmp_path / "c.json", change)
    run("claim", "verify", str(tmp_path / "c.json"), db=str(tmp_path / "s.db")).fails(
        3, "c.json"
    )
    assert not (tmp_path / "s.db").exists()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"format": "warehouse-claim"}', "[" * 100_000, "\ud800"],
)
def test_what_is_no_bundle_is_bad_input(run: Caller, tmp_path: Path, text: str) -> None:
    (tmp_path / "c.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    run("claim", "verify", str(tmp_path / "c.json")).fails(3, "c.json")


def test_bounds_and_damage_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.json"
    write_claim(claim(), path)
    path.write_text(path.read_text().replace("0.5", "0.6"))
    with pytest.raises(InputError, match="damaged or changed"):
        read_claim(path)
    monkeypatch.setattr(bundle, "MOST_BYTES", 50)
    with pytest.raises(InputError, match="more than 50 bytes"):
        read_claim(path)
    with pytest.raises(MisuseError, match="narrow it"):
        write_claim(claim(), tmp_path / "d.json")
    run_of = {"condition_key": ["x"], "sha256": ["y"]}
    monkeypatch.undo()
    write_claim(claim(runs=[run_of], sources=[run_of]), path)
    assert read_claim(path).runs == [run_of]  # odd values are compared as texts


def test_every_kind_names_its_parameters() -> None:
    for kind in kinds():
        assert accepted(kind)
    assert checked("leaderboard", {"benchmark": "x", "where": ["a=b"]}) == {
        "benchmark": "x",
        "where": ("a=b",),
    }


def test_conditions_of_an_earlier_rule_are_said_and_rows_found_by_their_words(
    run: Caller, place: Path
) -> None:
    """All figures come out; what differs is how the condition is called."""
    run("claim", "leaderboard quiz", "-o", "c.json", db="s.db")
    content = json.loads((place / "c.json").read_text())
    del content["digest"]
    for row in content["runs"]:
        row["condition_key"] = "0" + row["condition_key"][1:] + "e"
    for row in content["rows"]:
        row["condition"] = "as it was called"
    (place / "c.json").write_text(
        json.dumps(content | {"digest": canonical_digest(content)})
    )
    found = run("claim", "verify", "c.json", "--json", db="s.db")
    assert found.code == 1
    runs = [row for row in found.rows if row["what"] == "run"]
    assert sorted(row["where"] for row in runs) == ["lab/a on quiz", "lab/b on quiz"]
    assert all("another rule" in row["claimed"] for row in runs)
    others = [row["where"] for row in found.rows if row["what"] != "run"]
    assert [name.endswith(": condition") for name in others] == [True, True]
    assert "other keys by now" in run("claim", "verify", "c.json", db="s.db").err


@pytest.mark.parametrize("question", ["compare lab/a lab/b -b quiz", QUESTIONS[-1]])
def test_nothing_is_claimed_of_scores_that_were_changed_alike(
    run: Caller, place: Path, question: str
) -> None:
    assert run("claim", question, "-o", "before.json", db="s.db").code == 0
    with duckdb.connect("s.db") as raw:
        for table in ("score", "prompt_score"):
            raw.execute(f"update {table} set value = 1 where run_id = 2")
    assert run("store", "check", db="s.db").code == 0
    found = run("store", "check", "--deep", db="s.db")
    assert found.code == 1 and "run 2 (lab/b on quiz): content_digest" in found.out
    assert [
        row["check"]
        for row in run("store", "check", "--deep", "--json", db="s.db").rows
    ][0] == "content_digest"
    run("claim", question, "-o", "after.json", db="s.db").fails(
        4, "run 2 (lab/b on quiz)"
    )
    assert not Path("after.json").exists()
    run("claim", "verify", "before.json", db="s.db").fails(4, "run 2 (lab/b on quiz)")
