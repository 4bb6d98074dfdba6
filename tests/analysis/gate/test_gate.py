"""The release gate on stored runs, and on the command line."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from tests.support.stores import store_at
from warehouse import connect
from warehouse.analysis.gate.view import GateRow
from warehouse.api import Warehouse
from warehouse.errors import MisuseError, StatisticsError
from warehouse.store.open import open_store

OLD, NEW = "lab/old", "lab/new"


def build() -> StoreRows:
    """Benchmarks on which the new model is as good, far worse, better where lower is
    better ..."""
    rows, dice = StoreRows(), random.Random(3)
    acc, loss, odd = rows.metric(), rows.metric("loss"), rows.metric("odd")
    wanted = {"same": (400, 0.7, 0.7), "worse": (400, 0.8, 0.4), "few": (25, 0.6, 0.6)}
    for name, (n, old, new) in wanted.items():
        rows.describe(name, acc)
        for model, skill in ((OLD, old), (NEW, new)):
            rows.scores(
                rows.run(model, name),
                {
                    f"{name}{i}": [float(dice.random() < skill) for _ in range(4)]
                    for i in range(n)
                },
            )
    rows.describe("loss", loss, kind="continuous", low=0.0, high=None, higher=False)
    rows.describe("odd", odd, higher=None)
    rows.describe("twin", acc)
    rows.describe("holes", acc)
    rows.describe("only|old", acc)
    rows.describe("ruin", acc)
    rows.clusters(
        "loss",
        {
            f"c{label}": [f"loss{5 * label + i}" for i in range(5)]
            for label in range(20)
        },
    )
    for model in (OLD, NEW):
        shift = 0.0 if model == OLD else -0.5
        rows.scores(
            rows.run(model, "loss"),
            {f"loss{i}": 2 + shift + dice.gauss(0, 0.3) for i in range(100)},
            loss,
        )
        rows.scores(
            rows.run(model, "odd"), {f"odd{i}": dice.random() for i in range(50)}, odd
        )
        rows.scores(
            rows.run(model, "twin"), {f"twin{i}": float(i % 3 > 0) for i in range(300)}
        )
        rows.scores(
            rows.run(model, "ruin"),
            {f"ruin{i}": float(model == OLD) for i in range(20)},
        )
        gaps = {
            f"holes{i}": None if model == NEW and i < 30 else 1.0 for i in range(100)
        }
        rows.scores(rows.run(model, "holes"), gaps)
    rows.scores(rows.run(OLD, "only|old"), {f"o{i}": 1.0 for i in range(10)})
    return rows


ROWS = build()


def verdict(house: Warehouse, name: str, margin: float = 0.05) -> GateRow:
    (row,) = house.gate(NEW, OLD, margin, benchmarks=[name]).rows
    return row


def test_p_is_that_of_a_one_sided_t_test(house: Warehouse) -> None:
    for name in ("same", "worse", "few"):
        row = verdict(house, name)
        a, b = (
            [
                fact["value"]
                for fact in ROWS.rows["prompt_score"]
                if fact["run_id"] == run
            ]
            for run in (row.runs_candidate[0], row.runs_baseline[0])
        )
        differences = np.subtract(a, b)
        test = stats.ttest_1samp(differences, -0.05, alternative="greater")
        assert row.p_pass == pytest.approx(test.pvalue, rel=1e-9, abs=1e-12)
        assert row.p_fail == pytest.approx(1 - test.pvalue, rel=1e-9, abs=1e-12)
        assert row.difference == pytest.approx(differences.mean())
        low = test.confidence_interval(0.95).low
        assert row.low == pytest.approx(low, rel=1e-9)


def test_three_verdicts(house: Warehouse) -> None:
    assert verdict(house, "same").verdict == "pass"
    assert verdict(house, "worse").verdict == "fail"
    few = verdict(house, "few", 0.01)
    assert few.verdict == "undecided" and few.prompts_if_equal > few.n_prompts  # type: ignore[operator]
    assert verdict(house, "same").prompts_if_equal is None
    all_of_them = house.gate(NEW, OLD, 0.05, benchmarks=["same", "few", "worse"])
    assert (all_of_them.verdict, all_of_them.exit_code) == ("fail", 1)
    assert [row.overall for row in all_of_them.rows] == ["fail"] * 3
    assert house.gate(NEW, OLD, 0.01, benchmarks=["same", "few"]).exit_code == 5
    assert house.gate(NEW, OLD, 0.2, benchmarks=["same", "twin"]).exit_code == 0


def test_lower_is_better_and_clusters(house: Warehouse) -> None:
    row = verdict(house, "loss", 0.1)
    assert row.verdict == "pass" and row.difference > 0.3 and row.n_clusters == 20
    assert row.method == "paired CR2 t and bootstrap-t"
    (back,) = house.gate(OLD, NEW, 0.1, benchmarks=["loss"]).rows
    assert back.verdict == "fail" and back.difference == pytest.approx(-row.difference)


def test_equal_scores_everywhere_pass_by_the_exact_test(house: Warehouse) -> None:
    row = verdict(house, "twin", 0.05)
    assert row.verdict == "pass" and row.method == "exact binomial"
    assert row.p_pass == pytest.approx(stats.binom.pmf(0, 300, 0.05))
    assert verdict(house, "twin", 0.001).verdict == "undecided"
    assert verdict(house, "twin", 0).verdict == "undecided"


def test_a_candidate_that_loses_everywhere_fails(house: Warehouse) -> None:
    row = verdict(house, "ruin")
    assert (row.verdict, row.method, row.difference) == ("fail", "exact binomial", -1.0)
    assert row.p_fail == pytest.approx((1.05 / 2) ** 20) and row.p_pass == 1


def test_doubt_is_undecided_with_the_reason(house: Warehouse) -> None:
    row = verdict(house, "holes")
    assert row.verdict == "undecided" and row.p_pass is None
    assert row.reason == "30.0% of the candidate's samples have no score"
    assert (row.missing, row.share_unscored) == (30, 0.3)
    (allowed,) = house.gate(NEW, OLD, 0.05, benchmarks=["holes"], max_unscored=0.5).rows
    assert allowed.p_pass == pytest.approx(0.95**70) and allowed.verdict == "pass"
    assert "higher odd is better" in verdict(house, "odd").reason


def test_margins_by_benchmark(house: Warehouse) -> None:
    found = house.gate(
        NEW, OLD, None, margins={"same": 0.05, "few": 0.4}, benchmarks=["same", "few"]
    )
    assert [row.margin for row in found.rows] == [0.05, 0.4] and found.verdict == "pass"
    with pytest.raises(MisuseError, match="no margin for few"):
        house.gate(NEW, OLD, None, margins={"same": 0.05}, benchmarks=["same", "few"])
    with pytest.raises(MisuseError, match="a margin is given for typo"):
        house.gate(NEW, OLD, 0.1, margins={"typo": 0.05}, benchmarks=["same"])


def test_what_is_named_has_to_be_there(house: Warehouse) -> None:
    with pytest.raises(MisuseError, match=r"no current run on only"):
        house.gate(NEW, OLD, 0.1, benchmarks=["only|old"])
    found = house.gate(NEW, OLD, 0.1)
    assert [row.benchmark for row in found.rows] == [
        "few",
        "holes",
        "loss",
        "odd",
        "ruin",
        "same",
        "twin",
        "worse",
    ]
    assert found.left_out == ("only|old: only one of them has it",)
    with pytest.raises(MisuseError, match="max_unscored must be in"):
        house.gate(NEW, OLD, 0.1, max_unscored=2)
    with pytest.raises((MisuseError, StatisticsError), match="alpha"):
        house.gate(NEW, OLD, 0.1, alpha=0.7, benchmarks=["same"])


def test_the_command_has_three_exit_codes(run: Caller, url: str) -> None:
    who = ("gate", "--candidate", NEW, "--baseline", OLD)
    passed = run(*who, "--margin", "0.05", "--benchmark", "same", db=url)
    assert passed.code == 0 and f"PASS: may {NEW} replace {OLD}" in passed.out
    assert run(*who, "--margin", "0.05", "--benchmark", "worse", db=url).code == 1
    open_question = run(*who, "--margin", "0.01", "--benchmark", "few", db=url)
    assert open_question.code == 5 and open_question.out.startswith("UNDECIDED: ")
    assert "questions would decide, if it is as bad as it looks" in open_question.out
    words = (*who, "--margin", "1%", "--benchmark", "few")
    assert run(*words, db=url).out == open_question.out
    explained = run("--explain", *words, db=url).out
    assert "if equal: prompts with which" in explained
    (row,) = run(*who, "--margin", "0.05", "--benchmark", "same", "--json", db=url).rows
    assert (
        row == connect(url).gate(NEW, OLD, 0.05, benchmarks=["same"]).rows[0].to_dict()
    )


def test_markdown_is_one_table_whatever_names_hold(run: Caller, url: str) -> None:
    text = run(
        "gate",
        "--candidate",
        NEW,
        "--baseline",
        OLD,
        "--margin",
        "0.05",
        "--markdown",
        db=url,
    ).out
    lines = text.splitlines()
    assert lines[0] == "### ❌ fail: lab/new against lab/old"
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + 8 and {line.count("|") for line in table} == {11}
    assert "left out only\\|old" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--margin", "much"), "is not a number"),
        (("--margin", "-1"), "below 0"),
        (
            ("--margin", "1", "--benchmark", "same"),
            "a margin of 1 on same could not fail: acc goes from 0 to 1",
        ),
        (("--margin", "0.1", "--margin", "0.2"), "given twice"),
        (("--margin", "0.1", "--markdown", "--json"), "give one of"),
        (("--margin", "0.1", "--benchmark", "nothing"), "no benchmark is called"),
        ((), "--margin"),
    ],
)
def test_a_mistake_is_named(
    run: Caller, url: str, options: tuple[str, ...], message: str
) -> None:
    run("gate", "--candidate", NEW, "--baseline", OLD, *options, db=url).fails(
        2, message
    )


def test_a_direction_that_was_left_out_can_be_said_later(
    run: Caller, tmp_path: Path
) -> None:
    """What the reason tells to do makes the gate decide."""
    table, store = tmp_path / "t.csv", str(tmp_path / "s.duckdb")
    rows = [
        f"{model},b,{i},{(i % 3 > 0) / 2}" for model in (OLD, NEW) for i in range(300)
    ]
    table.write_text("\n".join(["model,benchmark,prompt_id,score", *rows]))
    call = ["gate", "--candidate", NEW, "--baseline", OLD, "--margin", "0.05", "--json"]
    assert run("ingest", str(table), db=store).code == 0
    undecided = run(*call, db=store)
    assert undecided.code == 5
    advice = (
        json.loads(undecided.out)[0]["reason"]
        .partition(": warehouse ")[2]
        .replace("BENCHMARK", "b")
    )
    assert run(*advice.split(), db=store).code == 0
    assert run(*call, db=store).code == 0


def test_one_prompt_lost_of_56_shows_neither_a_small_loss_nor_equality(
    tmp_path: Path,
) -> None:
    """A loss of .05 shows itself by one lost prompt or none in 22 % of such samples."""
    lines = [
        f"{m},near,q{i},{int(i % 7 > 0 and (m, i) != (NEW, 1))}"
        for m in (OLD, NEW)
        for i in range(56)
    ]
    (tmp_path / "near.csv").write_text(
        "\n".join(["model,benchmark,prompt_id,score", *lines])
    )
    store = connect(f"duckdb:///{tmp_path / 'near.duckdb'}")
    store.ingest(tmp_path / "near.csv")
    chance = stats.binom.cdf(1, 56, 0.06)
    (row,) = store.gate(NEW, OLD, 0.06).rows
    assert (row.verdict, row.p_pass) == ("undecided", pytest.approx(chance))
    assert (
        row.low == pytest.approx(-stats.beta.ppf(0.95, 2, 55))
        and "Gaffke" in row.reason + row.method
    )
    assert row.prompts_if_equal is not None and row.prompts_if_equal > 56
    (compared,) = store.compare(OLD, NEW, equivalence=0.06).rows
    assert (
        compared.p_equivalence == pytest.approx(chance) and compared.equivalent is False
    )
    assert store.gate(NEW, OLD, 0.12).verdict == "pass"


def test_losses_with_a_long_tail_are_said_beside_a_pass(tmp_path: Path) -> None:
    rows = StoreRows()
    rows.describe(
        "loss", rows.metric("loss"), kind="continuous", low=0.0, high=None, higher=False
    )
    for model in (OLD, NEW):
        lost = stats.lognorm.ppf((np.arange(60) + 0.5) / 60, 0.8) * (model == NEW) / 10
        rows.scores(
            rows.run(model, "loss"),
            {f"q{i}": 2 + x for i, x in enumerate(lost.tolist())},
            rows.metric("loss"),
        )
    url = store_at(tmp_path / "loss.duckdb")
    with open_store(url, write=True) as store:
        rows.write(store)
    (row,) = connect(url).gate(NEW, OLD, 1.0).rows
    assert row.verdict == "pass" and "losses are skewed" in row.reason
    assert connect(url).gate(OLD, NEW, 1.0).rows[0].reason == ""
