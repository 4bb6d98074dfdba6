"""Plans of benchmarks of many kinds: ids, orders, suites, engines, losses."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warehouse
from tests.support.subsets import PROMPTS, answers, asked_in, load, rows_of, whole
from warehouse.analysis.subsets.plan import read_plans
from warehouse.errors import MisuseError, StatisticsError
from warehouse.records.clock import utc_now
from warehouse.stats.subsets.estimate import estimate_subset
from warehouse.store.curate.headline_metric import direct

NAN = float("nan")


def test_ids_that_a_harness_cannot_take(tmp_path: Path) -> None:
    rows = [
        row | {"prompt_id": f"task/{row['prompt_id']}[a]"}
        for row in whole()
        if row["model"] < "lab/m03"
    ]
    store = warehouse.connect(load(tmp_path, rows))
    plan = store.subset_plan("quiz", size=10).rows[0]
    with pytest.raises(
        MisuseError, match="takes row numbers, and quiz has ids such as 'task/"
    ):
        store.subset_export(plan.key, to="lm-eval")
    text = store.subset_export(plan.key, to="inspect").text
    assert text.count("[[]a]") == 10
    with pytest.raises(MisuseError, match="there are: lm_eval, inspect"):
        store.subset_export(plan.key, to="nothing")
    comma = [
        row | {"prompt_id": f"{row['prompt_id']},x", "benchmark": "comma"}
        for row in rows
    ]
    key = (
        warehouse.connect(load(tmp_path, comma))
        .subset_plan("comma", size=10)
        .rows[0]
        .key
    )
    with pytest.raises(MisuseError, match="a comma or blanks"):
        store.subset_export(key, to="inspect")


def test_plan_is_the_same_whatever_came_first(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, two = (
        [row for row in rows if row["model"] < "lab/m05"]
        for rows in (whole(), whole(4, "words"))
    )
    first = load(tmp_path / "a", one)
    load(tmp_path / "a", two, first)
    second = load(tmp_path / "b", two[::-1])
    load(tmp_path / "b", one[::-1], second)
    plans = [
        warehouse.connect(url).subset_plan("quiz,words", size=60, seed=3)
        for url in (first, second)
    ]
    assert [plan.key for plan in plans[0].rows] == [plan.key for plan in plans[1].rows]
    assert [plan.size for plan in plans[0].rows] == [30, 30] and plans[
        0
    ].suite == "quiz,words"
    assert plans[0].width is not None and plans[0].width < min(
        plan.width or 1 for plan in plans[0].rows
    )
    file = tmp_path / "suite.json"
    plans[0].write(file)
    assert [plan.key for plan in read_plans(file).rows] == [
        plan.key for plan in plans[0].rows
    ]
    text = warehouse.connect(first).subset_export(str(file), to="lm-eval").text
    assert set(json.loads(text)) == {"quiz", "words"}
    scoped = warehouse.connect(first).subset_export(str(file), to="inspect").text
    assert scoped.startswith("quiz:") and "words:" in scoped


def test_benchmarks_that_cannot_be_planned(tmp_path: Path) -> None:
    declared = [
        row | {"n_benchmark": 500} for row in whole() if row["model"] < "lab/m03"
    ]
    url = load(tmp_path, declared)
    store = warehouse.connect(url)
    try:
        plan = store.subset_plan("quiz", size=10)
    except MisuseError as error:
        assert "ingest a run of the whole benchmark first" in str(error)
    else:  # the table does not say how many prompts there are
        assert plan.rows[0].n_prompts == PROMPTS
    load(
        tmp_path,
        [row | {"score": 1} for row in whole(2, "same") if row["model"] < "lab/m03"],
        url,
    )
    same = store.subset_plan("same", size=10).rows[0]
    assert same.design.n_strata == 1 and "simple random sample" in same.notes[-1]
    load(tmp_path, rows_of("lab/only", answers(1)[0], benchmark="alone"), url)
    alone = store.subset_plan("alone", size=10, against="lab/only").rows[0]
    assert alone.history == () and alone.n_left_out == 0 and alone.width is None
    with pytest.raises(StatisticsError, match="nothing tells how wide"):
        store.subset_plan("alone", width=0.1, against="lab/only", store_result=False)
    with pytest.raises(MisuseError, match="no benchmark is called"):
        store.subset_plan("none", size=10)


def test_on_both_engines_with_draws_and_lower_is_better(
    store_url: str, tmp_path: Path
) -> None:
    """Losses without bounds, two draws of each, on DuckDB and PostgreSQL."""
    dice = np.random.default_rng(7)
    hard = dice.normal(2, 1, 80)
    losses = [hard + m / 4 + dice.normal(0, 0.5, 80) for m in range(6)]

    def twice(
        model: str, own: np.ndarray, only: Collection[int] | None = None, **fields: Any
    ) -> list[dict[str, Any]]:
        return [
            row
            | {"draw": draw, "score": row["score"] + (draw - 0.5) / 5, "metric": "loss"}
            for draw in range(2)
            for row in rows_of(model, own, benchmark="loss", only=only, **fields)
        ]

    load(
        tmp_path,
        [row for m, own in enumerate(losses) for row in twice(f"lab/m{m}", own)],
        store_url,
    )
    store = warehouse.connect(store_url)
    with store._writing() as opened:
        direct(opened, "loss", "loss", higher_is_better=False)
    plan = store.subset_plan(
        "loss", size=30, now=utc_now() - timedelta(seconds=1)
    ).rows[0]
    later = {"started_at": (utc_now() + timedelta(hours=1)).isoformat()}
    new = hard + 0.6 + dice.normal(0, 0.5, 80)
    load(tmp_path, twice("new/model", new, asked_in(plan), **later), store_url)
    found = store.leaderboard("loss")
    row = next(one for one in found.rows if one.model == "new/model")
    y = np.array([new[int(one.tool_id)] if one.selected else NAN for one in plan.rows])
    expected = estimate_subset(y, plan.stratum, plan.selected)
    assert (
        row.estimate == pytest.approx(expected.estimate) and row.method == "hull_subset"
    )
    figures = [one.estimate for one in found.rows if one.model.startswith("lab/")]
    assert row.rank == 1 + sum(one < row.estimate for one in figures)
    assert row.rank_low == 1 + sum(one < row.ci_low for one in figures)
    assert row.rank_high == 1 + sum(one <= row.ci_high for one in figures)
    others = store.leaderboard("loss", estimand="prompts_fixed").rows
    fixed = next(one for one in others if one.model == "new/model")
    assert fixed.estimate == row.estimate and fixed.standard_error > row.standard_error
    verdict = store.gate("new/model", "lab/m5", 0.1, benchmarks=["loss"])
    assert verdict.verdict == "pass" and verdict.rows[0].difference == pytest.approx(
        losses[5].mean() - row.estimate
    )
