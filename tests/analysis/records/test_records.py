"""Records of a benchmark over time: of a store, by the command and the method."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest

import warehouse
from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse.analysis.records.answer import records
from warehouse.errors import MisuseError
from warehouse.stats import mcnemar_test, paired_difference
from warehouse.store.connection import Store

N = 120
START = datetime(2024, 3, 1, 12)
#: Questions that each of the models m0 … m5 gets right, a day apart.
RIGHT = (40, 38, 44, 80, 60, 84)


def verdicts(n_right: int) -> np.ndarray:
    """The first are right."""
    values = np.zeros(N)
    values[:n_right] = 1
    return values


def build() -> StoreRows:
    """Models a day apart; the same as losses; of one day; alike; by release."""
    rows = StoreRows()
    rows.group("g")
    rows.rows["run_group"][0]["started_at"] = None
    metric = rows.metric()
    loss = rows.metric("loss")
    keys = [f"q{place:03}" for place in range(N)]

    def score(
        benchmark: str,
        model: str,
        values: np.ndarray,
        day: int | None,
        of: int = metric,
    ) -> None:
        start = None
        if day is not None:
            start = START + timedelta(days=day)
        run = rows.run(model, benchmark, started_at=start)
        rows.scores(run, dict(zip(keys, values.tolist(), strict=True)), of)

    for benchmark in ("jumps", "clustered", "one day", "alike", "released", "undated"):
        rows.describe(benchmark, metric)
    rows.describe("errors", loss, kind="continuous", high=None, higher=False)
    rows.describe("unsaid", loss, kind="continuous", high=None, higher=None)
    for number, n_right in enumerate(RIGHT):
        values = verdicts(n_right)
        model = f"lab/m{number}"
        score("jumps", model, values, number)
        score("clustered", model, values, number)
        score("errors", model, 3 - values, number, loss)
        score("unsaid", model, values, number, loss)
        score("one day", model, values, 0)
        score("alike", model, verdicts(50), number)
    score("jumps", "lab/nobody-knows", verdicts(110), None)
    members = {f"t{start}": keys[start : start + 6] for start in range(0, N, 6)}
    rows.clusters("clustered", members)
    rows.model("lab/old", release_date="2023-01-31")
    rows.model("lab/new", release_date="2023-09-30")
    score("released", "lab/old", verdicts(30), None)
    score("released", "lab/new", verdicts(60), None)
    score("undated", "lab/nobody-knows", verdicts(30), None)
    score("undated", "lab/m0", verdicts(30), 0)
    for row in rows.rows["model"]:
        row.setdefault("release_date", None)
    return rows


ROWS = build()


def test_records_are_held_against_the_last_that_stands(world: Store) -> None:
    found = records(world, benchmark="jumps")
    small, large, last = found.rows
    assert [row.model for row in found.rows] == ["lab/m2", "lab/m3", "lab/m5"]
    assert (found.first, found.first_day) == ("lab/m0", "2024-03-01")
    assert (found.n_entries, found.n_days) == (6, 6)
    assert [row.stands for row in found.rows] == [False, True, False]
    assert (small.standing, small.n_entries) == ("lab/m0", 2)
    assert (large.standing, large.replaced) == ("lab/m0", "lab/m2")
    p = mcnemar_test(verdicts(80), verdicts(40)).p_value
    assert large.p_value == pytest.approx(p)
    assert large.p_times_entries == pytest.approx(3 * p)
    assert large.gain == pytest.approx(40 / N)
    assert (large.test, large.n_prompts) == ("mcnemar", N)
    assert (last.standing, last.n_entries) == ("lab/m3", 2)
    assert last.p_times_entries == pytest.approx(2 * 0.125)
    assert [row.needed for row in found.rows] == pytest.approx([0.025, 0.025, 0.05 / 6])


def test_clusters_are_tested_by_t(world: Store) -> None:
    row = records(world, benchmark="clustered").rows[1]
    codes = np.arange(N) // 6
    t = paired_difference(verdicts(80), verdicts(40), clusters=codes, bounds=(0, 1))
    assert (row.test, row.n_clusters) == ("t", 20)
    assert row.p_value == pytest.approx(t.p_value)
    plain = records(world, benchmark="clustered", cluster="none").rows[1]
    assert plain.test == "mcnemar"


def test_lower_is_better_is_mirrored(world: Store) -> None:
    of_errors = records(world, benchmark="errors")
    of_right = records(world, benchmark="jumps")
    assert [row.model for row in of_errors.rows] == [row.model for row in of_right.rows]
    gains = [row.gain for row in of_right.rows]
    assert [row.gain for row in of_errors.rows] == pytest.approx(gains)
    assert of_errors.rows[1].estimate == pytest.approx(3 - 80 / N)


def test_who_has_no_day_is_left_out_and_named(world: Store) -> None:
    found = records(world, benchmark="jumps")
    assert found.undated == ("lab/nobody-knows",)
    assert "left out, without a day: 1 (lab/nobody-knows)" in found.notes


def test_the_day_of_a_release_is_taken_where_no_run_has_one(world: Store) -> None:
    found = records(world, benchmark="released")
    (row,) = found.rows
    assert (row.model, row.day, row.day_of) == ("lab/new", "2023-09-30", "release")
    assert found.by_release == ("lab/new", "lab/old")
    assert any("day of the model's release" in note for note in found.notes)


def test_equal_figures_are_no_records(world: Store) -> None:
    found = records(world, benchmark="alike")
    assert found.rows == ()
    assert "No record on alike after its first day" in str(found)


def test_what_it_cannot_say_is_refused(run: Caller, url: str) -> None:
    run("records", "one day", db=url).fails(2, "of 1 day; records over time need two")
    run("records", "undated", db=url).fails(2, "without a day: lab/nobody-knows")
    run("records", "unsaid", db=url).fails(2, "--higher-is-better")


def test_the_command_says_it(run: Caller, url: str) -> None:
    said = run("records", "jumps", db=url).out
    assert max(map(len, said.splitlines())) <= 80
    line = " ".join(said.split())
    assert "Of 3 records on jumps (120) 1 stands: lab/m3. lab/m5 is not shown" in line
    assert "first record: lab/m0, 33.3 %, on 2024-03-01" in line
    assert "no progress" not in line
    told = run("records", "jumps", "-v", db=url).out
    assert "held against" in told and "mcnemar" in told
    rows = run("records", "jumps", "--json", db=url).rows
    assert [row["stands"] for row in rows] == [False, True, False]


def test_steps_are_held_against_what_they_replaced(run: Caller, url: str) -> None:
    said = run("records", "jumps", "--steps", db=url).out
    assert "over the record before it" in said and "p Holm" in said
    assert max(map(len, said.splitlines())) <= 80
    rows = run("records", "jumps", "--steps", "--json", db=url).rows
    assert rows[0]["step_p_holm"] == pytest.approx(0.25)
    assert [row["step_stands"] for row in rows] == [False, True, False]


def test_the_method_says_the_same(url: str) -> None:
    store = warehouse.connect(url)
    found = store.records("jumps")
    assert "1 stands: lab/m3." in " ".join(str(found).split())
    with pytest.raises(MisuseError, match="no benchmark"):
        store.records("jump")
