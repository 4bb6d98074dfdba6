"""``horizon``: from metadata to minutes, what does not count, and what is said instead
of a number."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import warehouse
from tests.support.cli import Caller
from tests.support.stores import filled_once, store_at
from warehouse.errors import MisuseError
from warehouse.questions.question import UnusedError
from warehouse.stats import time_horizons

FOLDER = Path(__file__).parents[2] / "data" / "metr"
MINUTES = [1, 2, 5, 16, 40, 120, 600, 1500]
RIGHT = {"a": "11110100", "b": "11111010", "none": "00000000", "all": "11111111"}


def frame(models: str = "a b", **more: Any) -> pd.DataFrame:
    rows = [
        {
            "model": f"org/{name}",
            "benchmark": "jobs",
            "prompt_id": f"t{n}",
            "score": float(right),
        }
        | {"human_minutes": MINUTES[n], "task_family": f"f{n // 2}"}
        for name in models.split()
        for n, right in enumerate(RIGHT[name])
    ]
    return pd.DataFrame(rows).assign(**more)


def stored(tmp_path: Path, *frames: pd.DataFrame) -> warehouse.Warehouse:
    store = warehouse.connect(f"duckdb:///{tmp_path}/h.duckdb")
    for one in frames:
        store.ingest(one)
    return store


@pytest.fixture
def metr(tmp_path: Path) -> str:
    """A store of the small dump."""
    url = store_at(tmp_path / "m.duckdb")
    return filled_once(url, FOLDER, lambda: warehouse.connect(url).ingest(FOLDER))


def test_the_figures_are_those_of_the_statistics(tmp_path: Path) -> None:
    report = stored(tmp_path, frame()).horizon("jobs", q=[0.5, 0.8], seed=3)
    solved = [[int(right) for right in RIGHT[name]] for name in "ab"]
    fits = time_horizons(
        MINUTES, [n // 2 for n in range(8)], solved, [[1] * 8] * 2, seed=3
    )
    assert [row.q for row in report.rows] == [0.5, 0.8, 0.5, 0.8]
    assert [row.model for row in report.rows] == [
        "org/b",
        "org/b",
        "org/a",
        "org/a",
    ]  # the longest first
    for row, at in zip(
        report.rows, [at for fit in fits[::-1] for at in fit.horizons], strict=True
    ):
        assert (row.estimate, row.low, row.high, row.unpenalised) == pytest.approx(
            (at.estimate, at.low, at.high, at.unpenalised)
        )
    assert report.rows[0].flags[-1] == "few_families" and report.n_tasks == 8
    assert report.rows[0].one_line.startswith("org/b does tasks of ")


def test_suites_are_one_set_of_tasks(tmp_path: Path) -> None:
    whole = frame()
    halves = whole.assign(benchmark=[f"part{n % 2}" for n in range(len(whole))])
    both = stored(tmp_path, halves).horizon("part0,part1", interval="fieller")
    (tmp_path / "one").mkdir()
    one = stored(tmp_path / "one", whole).horizon("jobs", interval="fieller")
    assert [row.estimate for row in both.rows] == pytest.approx(
        [row.estimate for row in one.rows]
    )


def test_several_runs_of_a_task_are_counted(tmp_path: Path) -> None:
    again = pd.concat([frame("a", draw=0), frame("b", draw=1, model="org/a")])
    row = stored(tmp_path, again).horizon("jobs", q=[0.5]).rows[0]
    solved = [
        int(one) + int(two) for one, two in zip(RIGHT["a"], RIGHT["b"], strict=True)
    ]
    (fit,) = time_horizons(MINUTES, [n // 2 for n in range(8)], [solved], [[2] * 8])
    assert (row.n_runs, row.n_tasks, row.estimate) == (
        16,
        8,
        pytest.approx(fit.horizons[0].estimate),
    )


def test_nothing_and_everything_solved(tmp_path: Path) -> None:
    every, none = stored(tmp_path, frame("none all")).horizon("jobs", q=[0.5]).rows
    assert (none.estimate, none.metr, none.reason) == (None, 0.0, "nothing solved")
    assert (every.estimate, every.metr, every.reason) == (
        None,
        None,
        "everything solved",
    )
    assert none.one_line == "org/none: no horizon for 50%: nothing solved."


def test_tasks_without_minutes_or_family_are_counted(tmp_path: Path) -> None:
    odd = frame("a")
    odd["human_minutes"] = [*map(str, MINUTES[:6]), "a day", None]
    odd["task_family"] = ["x", "x", None, None, "y", "y", "y", "y"]
    report = stored(tmp_path, odd).horizon("jobs", q=[0.5])
    row = report.rows[0]
    assert (row.n_tasks, row.n_families, row.n_without_minutes) == (6, 4, 2)
    assert report.notes == (
        "up to 2 tasks of a model have no human_minutes, and do not count",
        "2 tasks name no task_family: each is a family of its own",
    )


def test_no_minutes_at_all(tmp_path: Path, run: Caller) -> None:
    stored(tmp_path, frame().drop(columns="human_minutes"))
    run("horizon", "jobs", db=f"{tmp_path}/h.duckdb").fails(
        2, "human_minutes", "[metadata]"
    )


def test_scores_in_between_are_no_success(metr: str) -> None:
    store = warehouse.connect(metr)
    with pytest.raises(
        MisuseError, match=r"right or wrong.*other metrics: score_binarized"
    ):
        store.horizon("metr_horizon", metric="score")


def test_a_trend_over_days(metr: str) -> None:
    store = warehouse.connect(metr)
    report = store.horizon("metr_horizon", q=[0.5], trend=True)
    (trend,) = report.trends
    assert report.to_dict()["trends"] == [asdict(trend)]
    rows = {row.model: row for row in report.rows}
    assert rows["Tiny 0"].release_date is None and trend.n_models == 3
    assert trend.doubling_days is not None and trend.slope == pytest.approx(
        1 / trend.doubling_days
    )
    logs = [math.log2(rows[f"Tiny {n}"].estimate or 0) for n in (1, 2, 3)]
    assert trend.slope == pytest.approx(np.polyfit([0, 182, 366], logs, 1)[0])
    with pytest.raises(UnusedError, match="interval ftr"):
        store.horizon("metr_horizon", interval="fieller", trend=True)


def test_the_command(metr: str, run: Caller) -> None:
    brief = run("horizon", "metr_horizon", "--trend", db=metr)
    assert brief.out.startswith("Tiny 3 does the longest tasks: of ")
    assert "overlaps with that of Tiny 2 and 1 more" in brief.out
    assert "Horizons for 50% double in " in brief.out.splitlines()[1]
    assert "no penalty" not in brief.out and "Tiny 0: nothing solved" in brief.err
    shown = run("horizon", "metr_horizon", "--trend", "--explain", db=metr).out
    assert (
        "Tiny 2 does tasks of " in shown
        and "Horizons for 50% double in " in shown
        and "no penalty" in shown
    )
    assert "Tiny 0: no horizon for 50%: nothing solved." in shown
    rows = run("horizon", "metr_horizon", "--q", ".3", "--json", db=metr).rows
    assert [row["q"] for row in rows] == [0.3] * 4 and {
        "p50",
        "p80",
        "low",
        "high",
        "bins",
        "slope",
    } <= rows[0].keys()
    run("horizon", "metr_horizon", "--q", "half", db=metr).fails(2, "0.5,0.8")
    run("horizon", "metr_horizon", "--q", "1.5", db=metr).fails(2, "q")
    run(
        "horizon", "metr_horizon", "--interval", "fieller", "--seed", "2", db=metr
    ).fails(2, "--seed")


def test_the_picture(metr: str, tmp_path: Path, run: Caller) -> None:
    run("horizon", "metr_horizon", "--trend", "--svg", f"{tmp_path}/h.svg", db=metr)
    drawn = (tmp_path / "h.svg").read_text()
    assert (
        "success by human time; horizons for 50%" in drawn
        and "15 min" in drawn
        and "released" in drawn
    )


def test_a_claim_holds(metr: str, tmp_path: Path, run: Caller) -> None:
    run(
        "claim",
        "horizon metr_horizon --q 0.5,0.8",
        "-o",
        f"{tmp_path}/claim.json",
        db=metr,
    )
    assert "holds" in run("claim", "verify", f"{tmp_path}/claim.json", db=metr).out


def test_days_that_a_person_says(metr: str, run: Caller) -> None:
    for model, day in (("Tiny 0", "2023-05-06"), ("Tiny 1", "2023-06-07")):
        said = run("fix", "released", model, day, db=metr)
        assert said.out == f"{model}: released {day}\n"
    rows = run("list", "models", "--json", db=metr).rows
    assert {row["model"]: row["release_date"] for row in rows}["Tiny 1"] == "2023-06-07"
    found = {
        row["model"]: row["release_date"]
        for row in run("horizon", "metr_horizon", "--json", db=metr).rows
    }
    assert found == {
        "Tiny 0": "2023-05-06",
        "Tiny 1": "2023-06-07",
        "Tiny 2": "2024-07-01",
        "Tiny 3": "2025-01-01",
    }
    taken_back = run("fix", "released", "Tiny 1", "--undo", db=metr)
    assert taken_back.out == "Tiny 1: no release date\n"
    again = {
        row["model"]: row["release_date"]
        for row in run("horizon", "metr_horizon", "--json", db=metr).rows
    }
    assert again["Tiny 1"] == "2024-01-01"
    run("fix", "released", "Tiny 1", "May", db=metr).fails(2, "2024-01-31")
    run("fix", "released", "Tiny 9", "2024-01-01", db=metr).fails(2, "Tiny 9")
    run("fix", "released", "Tiny 1", "2024-01-01", "--undo", db=metr).fails(
        2, "one of the two"
    )
