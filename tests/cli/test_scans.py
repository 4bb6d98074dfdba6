"""Scans on the command line: what a stranger sees of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import Caller

DATA = Path(__file__).parents[1] / "data"
LOGS = [str(DATA / "inspect" / f"{name}.eval") for name in ("grid", "faults")]
SCAN = str(DATA / "inspect_scout")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("scans") / "scans.duckdb")


@pytest.fixture(autouse=True)
def _filled(run: Caller, db: str) -> None:
    if not Path(db).exists():
        assert run("ingest", *LOGS, SCAN, db=db).code == 0


@pytest.mark.rare
def test_the_report_says_what_was_joined(run: Caller, tmp_path: Path) -> None:
    told = run("ingest", SCAN, db=str(tmp_path / "x.duckdb"))
    assert "117 values of 7 scanners wait for their runs" in told.err
    told = run("ingest", *LOGS, db=str(tmp_path / "x.duckdb"))
    assert (
        "81 values of 7 scanners from stored scans joined" in told.err
        and told.code == 0
    )


def test_scanners_are_metrics_of_a_leaderboard(run: Caller, db: str) -> None:
    (row,) = run("leaderboard", "grid", "--metric", "words", "--json", db=db).rows
    assert (
        row["metric"] == "words,scan"
        and row["estimate"] == pytest.approx(11 / 9)
        and row["n_draws"] == 9
    )
    assert "judge,scan v2 mockllm/model" in run("leaderboard", "grid", db=db).out
    (row,) = run("leaderboard", "grid", "--json", db=db).rows
    assert row["metric"] == "match"
    # a scorer of the log has the name of a scanner
    (own,) = run("leaderboard", "grid", "--metric", "length", "--json", db=db).rows
    (scanned,) = run(
        "leaderboard", "grid", "--metric", "length,scan", "--json", db=db
    ).rows
    assert own["metric"] == "length" and scanned["estimate"] == pytest.approx(26 / 3)


def test_show_lists_scores_and_findings(run: Caller, db: str) -> None:
    runs = {
        row["benchmark"]: row["run_id"]
        for row in run("list", "runs", "--json", db=db).rows
    }
    shown = run("show", f"run:{runs['grid']}", "7", db=db).out
    assert (
        "--- found by scanners" in shown and "capital" in shown and "scanned" in shown
    )
    (view,) = run("show", f"run:{runs['grid']}", "7", "--json", db=db).rows
    letters = [item for item in view["findings"] if item["metric"] == "letters"]
    assert [(item["draw"], item["item"], item["raw"]) for item in letters] == [
        (0, 1, "L"),
        (1, 1, "C"),
        (2, 1, "L"),
    ]
    failed = run("show", f"run:{runs['faults']}", "bad", db=db).out
    assert "nothing was said" in failed


def test_a_claim_names_the_scan(run: Caller, db: str, tmp_path: Path) -> None:
    bundle = str(tmp_path / "c.json")
    assert (
        run("claim", "leaderboard grid --metric words", "-o", bundle, db=db).code == 0
    )
    claim = json.loads(Path(bundle).read_text())
    assert sorted(row["format"] for row in claim["sources"]) == [
        "inspect",
        "inspect_scout",
    ]
    held = run("claim", "verify", bundle, "--from", LOGS[0], "--from", SCAN)
    assert held.code == 0 and "the claim holds" in held.out
    assert run("claim", "verify", bundle, "--from", LOGS[0]).code != 0


def test_a_direction_is_a_persons_word(run: Caller, db: str) -> None:
    assert (
        run(
            "fix",
            "metric",
            "grid",
            "--metric",
            "words,scan",
            "--lower-is-better",
            db=db,
        ).code
        == 0
    )
    listed = {
        row["metric"]: row
        for row in run("list", "metrics", "grid", "--json", db=db).rows
    }
    assert (
        listed["words,scan"]["higher_is_better"] is False
        and listed["words,scan"]["chosen_by"] == "scan"
    )


def test_a_forgotten_scan_leaves_no_metric(run: Caller, tmp_path: Path) -> None:
    db = str(tmp_path / "x.duckdb")
    run("ingest", *LOGS, SCAN, db=db)
    assert (
        run("fix", "forget", next(iter(Path(SCAN).iterdir())).as_posix(), db=db).code
        == 0
    )
    assert "words" not in run("leaderboard", "grid", db=db).out
    assert run("store", "check", db=db).code == 0
