"""``frontier``, ``compare --cost`` and ``gate --cheaper``: scores against costs."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import warehouse
from tests.support.cli import Caller
from tests.support.stores import filled_once
from warehouse.analysis.frontier.question import Frontier
from warehouse.errors import MisuseError
from warehouse.stats import cheaper_sample_size, cost_per_solved, cost_ratio, mean_cost
from warehouse.store.open import open_store
from warehouse.testing.same_rows import difference_from_sql

#: Chance of a right answer, mean cost, and spread of its logarithm.
MODELS = {
    "dear": (0.72, 1, 0.4),
    "cheap": (0.71, 0.15, 0.4),
    "poor": (0.4, 0.3, 0.4),
    "wild": (0.7, 0.5, 2),
}
MODELS |= {"half": (0.6, 0.2, 0.4), "free": (0.3, 0, 0.4)}
N = 300


@cache
def _frame() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    ease, rows = rng.random(N), []
    for model, (right, dollars, spread) in MODELS.items():
        for prompt in range(N):
            cost = dollars * rng.lognormal(0, spread)
            rows.append(
                {
                    "model": model,
                    "benchmark": "quiz",
                    "prompt_id": f"q{prompt}",
                    "score": int(0.9 * ease[prompt] + 0.1 * rng.random() < right),
                    "cost": None if model == "half" and prompt % 2 else cost,
                    "input_tokens": 1000,
                    "output_tokens": int(100 + 1000 * cost),
                }
            )
    rows += [row | {"model": "part", "score": 1, "cost": 0.01} for row in rows[:60]]
    return pd.DataFrame(rows)


@pytest.fixture
def url(store_url: str, run: Caller) -> str:
    def fill() -> None:
        warehouse.connect(store_url).ingest(_frame())
        run(
            "fix",
            "metric",
            "quiz",
            "--metric",
            "score",
            "--higher-is-better",
            db=store_url,
        )

    return filled_once(store_url, __file__, fill)


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.csv"
    path.write_text(
        "model,date,input,output\ndear,2020-01-01,10,50\ncheap,2020-01-01,1,5\n"
    )
    return path


def _figures(model: str, column: str) -> Any:
    frame = _frame()
    return frame[frame.model == model][column].to_numpy(dtype=float)


def test_each_model_with_what_beats_it(url: str) -> None:
    report = warehouse.connect(url).frontier("quiz")
    rows = {row.model: row for row in report.rows}
    assert [row.model for row in report.rows] == [
        "dear",
        "cheap",
        "wild",
        "poor",
        "free",
    ]
    dear, cheap = rows["dear"], rows["cheap"]
    assert dear.mean_cost == pytest.approx(_figures("dear", "cost").mean())
    mean = mean_cost(_figures("cheap", "cost"))
    assert (cheap.cost_low, cheap.cost_high) == pytest.approx((mean.low, mean.high))
    solved = cost_per_solved(_figures("cheap", "cost"), _figures("cheap", "score"))
    assert (cheap.cost_per_solved, cheap.solved_high) == pytest.approx(
        (solved.estimate, solved.high)
    )
    ratio = cost_ratio(_figures("cheap", "cost"), _figures("dear", "cost"))
    assert (cheap.cost_ratio, cheap.ratio_low) == pytest.approx(
        (ratio.estimate, ratio.low)
    )
    assert [row.on_frontier for row in report.rows] == [True, True, False, False, True]
    assert (rows["poor"].excluded_by, rows["poor"].in_frontier_set) == ("cheap", False)
    assert rows["wild"].in_frontier_set and {"heavy_tail", "skew_gate"} <= {
        *rows["wild"].flags
    }
    assert (rows["free"].mean_cost, rows["free"].cost_low) == (0, None) and rows[
        "free"
    ].p_on_frontier == 1
    assert any(
        "more than 5 % of the costs are missing" in note and "half, 50 %" in note
        for note in report.notes
    )
    assert any(
        "a part of the benchmark only" in note and "part" in note
        for note in report.notes
    )
    assert "cheap against dear (-" in report.one_line and "× less [" in report.one_line
    assert report.one_line.startswith("quiz: 3 of 5 rows are on the frontier")
    assert report.to_markdown().startswith(
        "quiz: nobody is as good for less, or better for as little, as dear, cheap, free"
    )


#: What was spent for each prompt that a model solved, and for each answer.
IN_SQL = (
    "select * from cost_per_solved where benchmark = :benchmark and cost = '{}'",
    "select model, whole.mean_cost, whole.n_missing as n_missing_cost "
    "from cost_summary as whole join cost_per_solved using (run_id, model, cost) "
    "where whole.benchmark = :benchmark and cost = '{}'",
)


@pytest.mark.engine
@pytest.mark.parametrize("cost", ["cost", "cost_priced", "tokens"])
def test_the_views_say_the_same_on_both_engines(
    url: str, prices: Path, cost: str, run: Caller
) -> None:
    run("fix", "prices", str(prices), db=url)
    kind = {"cost": {"cost": "dollars"}, "cost_priced": {"prices": "stored"}}.get(
        cost, {"cost": cost}
    )
    question = Frontier("quiz", allow_missing_cost=True, subset_ok=True, **kind)
    with open_store(url) as store:
        found = question.ask(store)
        for sql in IN_SQL:
            assert difference_from_sql(store, question, found, sql.format(cost)) == ""
        total = store.rows(f"select * from cost_summary where cost = '{cost}'")
    assert len(total) == len(MODELS) + 1
    assert all(
        row["n_known"] + row["n_missing"] == row["n_generations"] for row in total
    )


def test_missing_costs_are_counted_and_a_part_stands_beside(url: str) -> None:
    report = warehouse.connect(url).frontier(
        "quiz", allow_missing_cost=True, subset_ok=True
    )
    rows = {row.model: row for row in report.rows}
    half = rows["half"]
    assert (half.n_prompts, half.n_missing_cost) == (
        N // 2,
        N // 2,
    ) and "missing_cost" in half.flags
    scores = _figures("half", "score")
    assert (half.estimate, half.score_missing) == pytest.approx(
        (scores[::2].mean(), scores[1::2].mean())
    )
    assert (
        rows["part"].n_prompts == 60
        and rows["part"].on_frontier
        and "subset" in rows["part"].flags
    )


def test_draws_without_a_cost_are_missing_too(store_url: str, run: Caller) -> None:
    rows = [
        {
            "model": "a",
            "benchmark": name,
            "prompt_id": f"q{i}",
            "draw": d,
            "score": (i + d) % 2,
            "cost": cost,
        }
        for name in ("quiz", "whole")
        for i in range(30)
        for d in range(3)
        for cost in [None if d == 2 and name == "quiz" else 1.0 + i % 7]
    ]
    store = warehouse.connect(store_url)
    store.ingest(pd.DataFrame(rows))
    for name in ("quiz", "whole"):
        run(
            "fix",
            "metric",
            name,
            "--metric",
            "score",
            "--higher-is-better",
            db=store_url,
        )
    with pytest.raises(MisuseError, match=r"costs are missing .*: a, 33\.3 %"):
        store.frontier("quiz")
    assert (
        store.frontier("whole").one_line
        == "whole: a alone has score and cost; there is nothing to hold it against."
    )


def test_costs_below_0_are_left_out_and_equal_ones_are_not_less(
    store_url: str, run: Caller
) -> None:
    rng = np.random.default_rng(1)
    rows = [
        {
            "model": model,
            "benchmark": "quiz",
            "prompt_id": f"q{i}",
            "score": int(rng.random() < right),
            "cost": cost,
        }
        for model, right in (("a", 0.8), ("b", 0.5), ("odd", 0.9))
        for i in range(100)
        for cost in [
            -1.0
            if model == "odd"
            else (1 + 7 * i % 10) * (0.999 if model == "b" else 1) + rng.random()
        ]
    ]
    store = warehouse.connect(store_url)
    store.ingest(pd.DataFrame(rows))
    run(
        "fix",
        "metric",
        "quiz",
        "--metric",
        "score",
        "--higher-is-better",
        db=store_url,
    )
    report = store.frontier("quiz")
    assert any("a cost below 0: odd" in note for note in report.notes)
    assert {row.model: row.on_frontier for row in report.rows} == {"a": True, "b": True}
    assert report.one_line == "quiz: 2 of 2 rows are on the frontier; 2 of 2 may be."


def test_as_good_for_less_needs_a_margin(url: str) -> None:
    store = warehouse.connect(url)
    report = store.frontier("quiz", margin=0.08, cheaper=3)
    assert "cheap is as good as dear (" in report.one_line
    assert {row.model: row for row in report.rows}["cheap"].p_as_good < 0.05
    assert (
        "None is shown to be as good as dear"
        in store.frontier("quiz", margin=0.08, cheaper=12).one_line
    )
    with pytest.raises(MisuseError, match="goes with"):
        store.frontier("quiz", cheaper=3)


def test_recorded_and_priced_are_two(url: str, prices: Path) -> None:
    store = warehouse.connect(url)
    report = store.frontier("quiz", prices=str(prices))
    assert {(row.model, row.cost_metric) for row in report.rows} == {
        ("dear", "cost_priced"),
        ("cheap", "cost_priced"),
    }
    tokens = _figures("dear", "output_tokens")
    assert report.rows[0].mean_cost == pytest.approx(
        (1000 * 10 + tokens.mean() * 50) / 1e6
    )
    digest = report.rows[0].prices_digest
    assert len(digest) == 64 and digest in report.prices
    with pytest.raises(MisuseError, match="has no prices"):
        store.frontier("quiz", prices="stored")
    with pytest.raises(MisuseError, match="dollars of tokens"):
        store.frontier("quiz", cost="tokens", prices=str(prices))
    with pytest.raises(MisuseError, match="no answer with known seconds") as refused:
        store.frontier("quiz", cost="seconds")
    assert 'other costs: cost="dollars" or cost="tokens"; left' in str(refused.value)


def test_compare_and_gate_by_cost(url: str) -> None:
    store = warehouse.connect(url)
    (row,) = store.compare("cheap", "dear", cost="dollars").rows
    ratio = cost_ratio(_figures("cheap", "cost"), _figures("dear", "cost"))
    assert (row.cost_ratio, row.ratio_high, row.n_missing_cost) == pytest.approx(
        (ratio.estimate, ratio.high, 0)
    )
    (bare,) = store.compare("cheap", "dear").rows
    assert (bare.cost_ratio, bare.cost_metric) == (None, "")
    verdicts = {x: store.gate("cheap", "dear", 0.08, cheaper=x) for x in (None, 4, 12)}
    assert [one.verdict for one in verdicts.values()] == ["pass", "pass", "undecided"]
    assert verdicts[12].rows[0].p_pass == verdicts[12].rows[0].p_cost > 0.9
    assert "not shown to be 12 times cheaper" in verdicts[12].rows[0].reason
    shown = str(verdicts[12])
    assert "cost: dollars for an answer, of the candidate over those of" in shown
    assert " ×" in shown
    assert (
        "not shown to be cheaper"
        in store.gate("wild", "dear", 0.2, cheaper=1).rows[0].reason
    )
    missing = store.gate("half", "dear", 0.3, cheaper=2)
    assert missing.verdict == "undecided" and "have no cost" in missing.rows[0].reason


def test_a_cost_is_planned_by_a_pilot(url: str, run: Caller) -> None:
    store = warehouse.connect(url)
    plan = store.cost_power(
        ["poor", "dear"], cost="dollars", benchmark="quiz", cheaper=2
    )
    expected = cheaper_sample_size(
        _figures("poor", "cost"), _figures("dear", "cost"), times=2
    )
    assert expected is not None and plan.rows[0].n == expected.n_prompts
    assert (plan.rows[0].power, plan.rows[0].factor) == (
        expected.power,
        expected.factor,
    )
    assert (
        "2 times cheaper is shown with power 0.8 (one-sided test at 0.05) by "
        f"{expected.n_prompts} pro" in plan.one_line
    )
    words = ("power", "--from", "cheap", "dear", "-b", "quiz", "--cost", "dollars")
    hopeless = run(*words, "--cheaper", "50", db=url)
    assert (
        hopeless.code == 1 and "No number of prompts like these shows" in hopeless.out
    )
    assert run(*words, "--n", "40", "--json", db=url).rows[0]["n"] == 40
    assert (
        "the very least"
        in run("power", "--from", "dear", "wild", *words[4:], db=url).out
    )
    lacks = run("power", "--from", "half", "dear", *words[4:], "--n", "40", db=url)
    assert "150 common prompts lack a cost" in lacks.err
    for wrong in (
        ("--delta", "1"),
        ("--metric", "score"),
        ("--cost", "tokens", "--prices", "x"),
    ):
        assert run(*words, *wrong, db=url).code == 2


def test_command_picture_and_claim(url: str, tmp_path: Path, run: Caller) -> None:
    rows = run("frontier", "quiz", "--json", db=url).rows
    assert rows[0]["model"] == "dear" and rows[1]["on_frontier"] is True
    drawn, claim = tmp_path / "frontier.svg", tmp_path / "claim.json"
    assert "beaten by" in run("frontier", "quiz", "--svg", str(drawn), db=url).out
    assert "cheap" in drawn.read_text() and "var(" not in drawn.read_text()
    assert run("claim", "frontier quiz", "-o", str(claim), db=url).code == 0
    assert json.loads(claim.read_text())["kind"] == "frontier"
    assert run("claim", "verify", str(claim), db=url).code == 0


def test_a_claim_by_prices_holds_until_they_change(
    url: str, prices: Path, tmp_path: Path, run: Caller
) -> None:
    claim, words = tmp_path / "claim.json", "frontier quiz --prices "
    assert (
        "warehouse fix prices FILE"
        in run("claim", words + str(prices), "-o", str(claim), db=url).err
    )
    run("fix", "prices", str(prices), db=url)
    assert run("claim", words + "stored", "-o", str(claim), db=url).code == 0
    assert run("claim", "verify", str(claim), db=url).code == 0
    prices.write_text(prices.read_text().replace("1,5", "1,6"))
    run("fix", "prices", str(prices), db=url)
    assert run("claim", "verify", str(claim), db=url).code == 1


def test_as_good_is_not_shown_by_one_prompt_lost_of_56(
    store_url: str, run: Caller
) -> None:
    """As the gate has it: a loss of .06 shows itself by one lost prompt or none in 15 %
    of such samples."""
    rows = [
        {
            "model": model,
            "benchmark": "near",
            "prompt_id": f"q{i}",
            "score": int(i % 7 > 0 and (model, i) != ("new", 1)),
        }
        | {"cost": (1.0 if model == "new" else 5.0) + i % 5 / 10}
        for model, lost, cost in (("old", None, 5.0), ("new", 1, 1.0))
        for i in range(56)
    ]
    store = warehouse.connect(store_url)
    store.ingest(pd.DataFrame(rows))
    run(
        "fix",
        "metric",
        "near",
        "--metric",
        "score",
        "--higher-is-better",
        db=store_url,
    )
    (new,) = [
        row
        for row in store.frontier("near", margin=0.06, cheaper=2).rows
        if row.model == "new"
    ]
    assert new.p_as_good == pytest.approx(stats.binom.cdf(1, 56, 0.06))


def test_scores_are_in_percent_and_costs_have_a_unit(url: str, run: Caller) -> None:
    frontier = run("frontier", "quiz", db=url).out
    assert re.search(r"^dear +\d\d\.\d % ", frontier, re.MULTILINE)
    assert "cost, US$" in frontier
    assert "tokens an answer" in run("frontier", "quiz", "--cost", "tokens", db=url).out
    compared = run("compare", "dear", "cheap", "--cost", "dollars", db=url).out
    assert re.search(r"\d US\$ ", compared)
