"""Scores of 0 and 100 only: what is said of them, and bounds that a person declares."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from tests.support.cli import Caller


def write_scores(
    folder: Path, name: str, models: str, values: tuple[float, ...] = (0, 100)
) -> str:
    path, random = folder / name, np.random.default_rng(1)
    with path.open("w", newline="") as out:
        lines = csv.writer(out)
        lines.writerow(["model", "benchmark", "id", "prompt", "score"])
        for model in models:
            shares = (0.05, *[0.95 / (len(values) - 1)] * (len(values) - 1))
            for number, value in enumerate(random.choice(values, 100, p=shares)):
                lines.writerow([model, "marks", number, f"question {number}", value])
    return str(path)


def test_two_values_are_told_with_the_command_that_bounds_them(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    assert run("ingest", write_scores(tmp_path, "a.csv", "ab"), db=store_url).code == 0
    before = run("leaderboard", "marks", "--json", db=store_url)
    assert ["unbounded_interval" in row["flags"] for row in before.rows] == [
        True,
        False,
    ]  # 3 and 5 of 100 are 0
    note = "score: only 0 and 100 occur"
    command = "warehouse fix metric marks --metric score --bounds 0 100"
    for ask in (("leaderboard", "marks"), ("compare", "a", "b", "-b", "marks")):
        said = run(*ask, db=store_url).err
        assert note in said and command in " ".join(said.split())
    run("fix", "metric", "marks", "--bounds", "0", "50", db=store_url).fails(
        2, "from 0 to 100"
    )
    run("fix", "metric", "marks", "--bounds", "100", "0", db=store_url).fails(
        2, "the smaller first"
    )
    declared = run(*command.split()[1:], "--json", db=store_url).rows
    assert [(row["metric"], row["low"], row["high"]) for row in declared] == [
        ("score", 0, 100)
    ]
    after = run("leaderboard", "marks", "--json", db=store_url)
    assert all(0 <= row["ci_low"] <= row["ci_high"] <= 100 for row in after.rows)
    assert (
        note not in after.err and note not in run("compare", "a", "b", db=store_url).err
    )
    assert run("ingest", write_scores(tmp_path, "c.csv", "c"), db=store_url).code == 0
    again = run("leaderboard", "marks", "--json", db=store_url)
    assert len(again.rows) == 3 and max(row["ci_high"] for row in again.rows) <= 100


def test_scores_that_reach_from_0_to_100_are_told_and_others_are_not(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    assert (
        run(
            "ingest", write_scores(tmp_path, "a.csv", "a", (0, 50, 100)), db=store_url
        ).code
        == 0
    )
    assert (
        "score: scores lie between 0 and 100"
        in run("leaderboard", "marks", db=store_url).err
    )
    assert (
        run(
            "ingest", write_scores(tmp_path, "b.csv", "b", (0, 50, 120)), db=store_url
        ).code
        == 0
    )
    assert "--bounds" not in run("leaderboard", "marks", db=store_url).err
