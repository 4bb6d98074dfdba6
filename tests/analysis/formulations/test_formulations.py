"""``formulations``, and ``compare --across-links``: two formulations of one benchmark
over finished models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import warehouse
from tests.support.builders import StoreRows
from tests.support.cli import Caller, filled_url
from tests.support.stores import ENGINES, empty_store
from warehouse.errors import MisuseError

MODELS, PROMPTS = 6, 60


def _frame(
    name: str, seed: int, *, models: int = MODELS, flip: bool = False, **more: Any
) -> pd.DataFrame:
    """Model m is right on prompts below a bound that rises with m (falls, where
    ``flip``), with noise."""
    rng = np.random.default_rng(seed)
    rows = []
    for model in range(models):
        share = 0.2 + 0.12 * (models - 1 - model if flip else model)
        for prompt in range(PROMPTS):
            right = rng.random() < share
            rows.append(
                {"model": f"org/m{model}", "prompt_id": f"q{prompt}", "acc": int(right)}
            )
    return pd.DataFrame(rows).assign(benchmark=name, **more)


@pytest.fixture(scope="module", params=ENGINES)
def original(request: pytest.FixtureRequest) -> Iterator[str]:
    with empty_store(request, request.param) as url:
        store = warehouse.connect(url)
        store.ingest(_frame("mc", 1))
        store.ingest(_frame("cloze", 2))
        yield url


@pytest.fixture
def url(own_url: str) -> str:
    """A copy of it: tests link its prompts."""
    return own_url


def test_models_agree_and_a_link_pairs_their_prompts(run: Caller, url: str) -> None:
    store = warehouse.connect(url)
    apart = store.formulations("mc", "cloze")
    assert apart.models[
        0
    ].difference is None and "warehouse fix link mc cloze --by id" in " ".join(
        apart.notes
    )
    run("fix", "link", "mc", "cloze", "--by", "id", db=url)
    report = store.formulations("mc", "cloze")
    pearson, kendall, spearman = report.rows
    means = np.array([[row.mean_first, row.mean_second] for row in report.models])
    assert pearson.estimate == pytest.approx(np.corrcoef(means.T)[0, 1])
    assert (
        pearson.prompts_low < pearson.prompts_high <= 1
        and pearson.models_low < pearson.estimate
    )
    assert (pearson.n_models, pearson.n_linked, report.n_pairs) == (6, 60, 15)
    for row in report.models:
        assert (
            row.difference == pytest.approx(row.mean_first - row.mean_second)
            and row.n_prompts == 60
        )
    frame = pd.concat([_frame("mc", 1), _frame("cloze", 2)])
    best = frame[frame.model == "org/m5"].pivot(
        index="prompt_id", columns="benchmark", values="acc"
    )
    error = (best.mc - best.cloze).std() / np.sqrt(60)
    assert next(
        row for row in report.models if row.model == "org/m5"
    ).standard_error == pytest.approx(error)


def test_models_that_change_places_are_shown(store_url: str) -> None:
    store = warehouse.connect(store_url)
    store.ingest(_frame("mc", 1))
    store.ingest(_frame("cloze", 2, flip=True))
    report = store.formulations("mc", "cloze")
    assert report.n_shown > 0 and report.rows[0].estimate < -0.8
    shown = report.crossings[0]
    assert shown.is_shown and shown.difference_first > 0 > shown.difference_second
    assert {shown.model_a, shown.model_b} <= {row.model for row in report.models}
    assert "by more than noise can make" in report.one_line
    first, last = report.models[0], report.models[-1]
    assert (first.rank_change, last.rank_change) == (5, -5)


def test_conditions_of_one_benchmark(store_url: str) -> None:
    store = warehouse.connect(store_url)
    store.ingest(_frame("mc", 1, fewshot=0))
    store.ingest(_frame("mc", 2, fewshot=5))
    with pytest.raises(
        MisuseError, match="several conditions of org/m0, .*first_where"
    ):
        store.formulations("mc", "mc")
    report = store.formulations(
        "mc", "mc", first_where=["fewshot=0"], second_where=["fewshot=5"]
    )
    assert (report.first, report.second) == ("mc (fewshot=0)", "mc (fewshot=5)")
    assert report.rows[0].n_linked == 60


def test_a_side_where_lower_is_better_is_turned_and_what_was_published_has_one_interval(
    request: pytest.FixtureRequest,
) -> None:
    rows = StoreRows()
    loss = rows.metric("loss")
    rows.describe("mc", rows.metric())
    rows.describe("loss", loss, kind="continuous", low=None, high=None, higher=False)
    for number, wrong in enumerate((30, 24, 20, 13, 9, 3)):
        right = {f"q{prompt}": float(prompt >= wrong) for prompt in range(40)}
        rows.scores(rows.run(f"org/m{number}", "mc"), right)
        rows.published(
            rows.run(f"org/m{number}", "loss"), wrong / 10, loss, benchmark="loss"
        )
    with filled_url(request, "duckdb", rows) as url:
        report = warehouse.connect(url).formulations("mc", "loss")
    assert report.rows[0].estimate == pytest.approx(1) and not report.crossings
    assert [row.rank_second for row in report.models] == [1, 2, 3, 4, 5, 6]
    assert (
        report.models[0].model.startswith("org/m5")
        and report.models[0].reason == "published figures cannot be paired"
    )
    assert (
        report.rows[0].prompts_low is None
        and "published figures have no prompts" in report.rows[0].reason
    )


def test_few_or_no_models(run: Caller, url: str) -> None:
    store = warehouse.connect(url)
    run("fix", "link", "mc", "cloze", "--by", "id", db=url)
    alone = store.formulations("mc", "cloze", where=["model=org/m1"])
    assert alone.rows[0].estimate is None and "a correlation needs 3" in alone.one_line
    assert alone.models[0].ci_low is not None
    with pytest.raises(MisuseError, match="the same runs of org/m0"):
        store.formulations("mc", "mc")
    store.ingest(_frame("other", 3, models=1).assign(model="org/z"))
    with pytest.raises(
        MisuseError, match="no model has both: mc has org/m0, .*; other has org/z"
    ):
        store.formulations("mc", "other")


def test_one_model_across_links(run: Caller, url: str) -> None:
    numbers = {
        (row["benchmark"], row["model"]): row["run_id"]
        for row in run("list", "runs", "--json", db=url).rows
    }
    own, other = (f"run:{numbers[name, 'org/m0']}" for name in ("mc", "cloze"))
    run("compare", own, other, db=url).fails(2, "--across-links")
    run("compare", own, other, "--across-links", db=url).fails(
        2, "warehouse fix link mc cloze --by id"
    )
    run("fix", "link", "cloze", "mc", "--by", "id", db=url)
    (row,) = run("compare", own, other, "--across-links", "--json", db=url).rows
    assert (row["benchmark"], row["n_prompts"]) == ("mc / cloze", 60)
    same = run("compare", "org/m0", "org/m0", "--across-links", "--json", db=url).rows
    assert len(same) == 1 and abs(same[0]["difference"]) == pytest.approx(
        abs(row["difference"])
    )
    same_benchmark = f"run:{numbers['mc', 'org/m1']}"
    run("compare", own, same_benchmark, "--across-links", db=url).fails(
        2, "no two linked"
    )
    warehouse.connect(url).ingest(_frame("other", 3))
    run("fix", "link", "other", "mc", "--by", "id", db=url)
    rows = run(
        "compare", "org/m0", "org/m0", "--across-links", "--json", db=url
    ).rows  # also two that a third joins
    assert [row["benchmark"] for row in rows] == [
        "cloze / mc",
        "cloze / other",
        "mc / other",
    ]  # and no mean of them
    assert (
        "benchmark="
        not in run("compare", "org/m0", "org/m0", "--across-links", db=url).out
    )


def test_metrics_of_two_scales_have_no_difference_and_an_unknown_direction_is_said(
    run: Caller, url: str
) -> None:
    frame = _frame("loss", 3).rename(columns={"acc": "score"})
    warehouse.connect(url).ingest(frame.assign(score=frame.score * 1e9 - 0.5))
    run("fix", "link", "mc", "loss", "--by", "id", db=url)
    report = warehouse.connect(url).formulations("mc", "loss")
    assert {(row.difference, row.n_prompts) for row in report.models} == {
        (None, PROMPTS)
    }
    assert "ranked as if higher were better" in " ".join(
        report.notes
    ) and "warehouse list links" not in str(report.notes)


def test_curves_of_finished_models_name_the_way_on(run: Caller, url: str) -> None:
    run("training", "curves", "mc", "--against", "cloze", db=url).fails(
        2, "warehouse noise formulations mc cloze"
    )


def test_the_command(run: Caller, url: str) -> None:
    run("fix", "link", "mc", "cloze", "--by", "id", db=url)
    shown = run("noise", "formulations", "mc", "cloze", db=url).out
    assert shown.startswith(
        "mc and cloze put 1 of 15 pairs of their 6 models in opposite"
    )
    assert "org/m" in shown.splitlines()[1] and "Pearson" not in shown
    explained = run("noise", "formulations", "mc", "cloze", "--explain", db=url).out
    assert "mc and cloze over 6 models: Pearson" in explained
    assert "other prompts" in explained
    rows = run("noise", "formulations", "mc", "cloze", "--json", db=url).rows
    assert [row["statistic"] for row in rows] == ["pearson", "kendall", "spearman"]
    assert (
        len(
            run(
                "noise", "formulations", "mc", "cloze", "--models", "--json", db=url
            ).rows
        )
        == 6
    )
    assert (
        "moves: rank in the second"
        in run("noise", "formulations", "mc", "cloze", "--models", db=url).out
    )
    run(
        "noise", "formulations", "mc", "cloze", "--models", "--crossings", db=url
    ).fails(2, "one of --models")
