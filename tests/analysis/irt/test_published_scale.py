"""``irt scale``: models on one scale by what others published of them, and by stored
samples."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import warehouse
from tests.support.cli import Caller
from tests.support.stores import filled_once, store_at
from warehouse.api.connection import Connection
from warehouse.errors import MisuseError, StatisticsError

MAPPING = """
[run]
harness = "source"
model = "model"
benchmark = "benchmark"
run_id = "id"
[run.configuration]
release_date = "day"
[[published]]
metric = { path = "metric" }
value = "value"
standard_error = "se"
[metrics.acc]
kind = "bounded"
low = 0
high = 1
chance_level = 0.25
higher_is_better = true
[metrics.wrong]
kind = "bounded"
low = 0
high = 100
chance_level = 80
higher_is_better = false
[metrics.share]
higher_is_better = true
link = "none"
[metrics.score]
low = 0
high = 1
[metrics.ppl]
kind = "continuous"
low = 1
higher_is_better = false
"""
ABILITY = np.linspace(-1.2, 1.2, 10)


def _figures() -> pd.DataFrame:
    """Ten models on six benchmarks: b1 with chance .25, b2 counts mistakes in percent,
    of b3 no range is known."""
    rng = np.random.default_rng(4)
    rows = []
    for m, ability in enumerate(ABILITY):
        for j in range(6):
            share = float(
                np.clip(
                    expit(1.5 * ability - 0.6 + 0.3 * j) + rng.normal(0, 0.03),
                    0.01,
                    0.99,
                )
            )
            metric, value = {
                1: ("acc", 0.25 + 0.75 * share),
                2: ("wrong", 80 * (1 - share)),
            }.get(j, ("share", share))
            rows.append(
                {
                    "model": f"m{m}",
                    "benchmark": f"b{j}",
                    "metric": metric,
                    "value": value,
                    "source": "a",
                }
            )
    rows += [
        {**row, "value": 0.02, "source": "b"}
        for row in rows
        if row["benchmark"] == "b0"
    ]  # lower: not taken
    rows += [
        {
            "model": f"m{m}",
            "benchmark": "text",
            "metric": "ppl",
            "value": 9.0,
            "source": "a",
        }
        for m in range(10)
    ]
    frame = pd.DataFrame(rows).assign(se=None, id=range(len(rows)))
    days = {f"m{m}": f"20{20 + m // 2}-0{1 + m % 2}-01" for m in range(9)}
    return frame.assign(day=frame.model.map(days))


@pytest.fixture
def store(store_url: str, tmp_path: Path) -> Iterator[Connection]:
    yield warehouse.connect(
        filled_once(
            store_url, __file__, lambda: _filled(store_url, tmp_path, _figures())
        )
    )


def _filled(url: str, folder: Path, frame: pd.DataFrame) -> Any:
    frame.to_csv(folder / "figures.csv", index=False)
    (folder / "figures.toml").write_text(MAPPING)
    opened = warehouse.connect(url)
    assert not opened.ingest(
        folder / "figures.csv", mapping=folder / "figures.toml"
    ).refused
    return opened


def test_models_are_ordered_by_all_that_was_published(store: Any) -> None:
    report = store.published_scale(["b?", "text"])
    assert [row.model for row in report.rows] == [f"m{m}" for m in range(9, -1, -1)]
    abilities = np.array([row.estimate for row in report.rows])
    truth = ABILITY[::-1] / ABILITY.std()
    assert abilities == pytest.approx(truth, abs=0.35)
    assert report.n_figures == 60 and report.n_merged == 10 and report.n_clipped == 0
    assert report.reference == "m9" and report.rows[0].difference is None
    last = report.rows[-1]
    assert (last.difference or 0) == pytest.approx(
        last.estimate - report.rows[0].estimate
    )
    assert (last.difference_high or 0) < 0 and last.release_date == "2020-01-01"
    assert [why.partition(";")[0] for why in report.left_out] == [
        "text: ppl has no lowest and highest value that are known"
    ]
    ranges = {row.benchmark: row.chance for row in report.benchmarks}
    assert ranges["b1"] == 0.25 and ranges["b2"] == 80 and ranges["b3"] == 0
    assert report.held_out.scale < report.held_out.means
    assert (
        report.trend is not None
        and report.trend.ci_low > 0
        and report.trend.n_models == 9
    )


def test_a_missing_figure_is_predicted_in_the_unit_of_its_metric(
    store_url: str, tmp_path: Path
) -> None:
    frame = _figures()
    gone = (frame.model == "m4") & frame.benchmark.isin(["b1", "b2"])
    predictions = (
        _filled(store_url, tmp_path, frame[~gone])
        .published_scale(["b?"], predict="m4")
        .predictions
    )
    assert [row.benchmark for row in predictions] == ["b1", "b2"]
    for row, (_, true) in zip(predictions, frame[gone].iterrows(), strict=True):
        assert row.ci_low < true.value < row.ci_high and row.metric == true.metric
        assert row.estimate == pytest.approx(true.value, rel=0.2)


def test_samples_come_before_what_was_published(store: Any) -> None:
    before = store.published_scale(["b?"]).rows[-1]
    samples = pd.DataFrame(
        {"model": "m0", "benchmark": "b3", "prompt_id": range(40), "metric": "share"}
    )
    assert not store.ingest(samples.assign(value=[1] * 30 + [0] * 10)).refused
    after = next(row for row in store.published_scale(["b?"]).rows if row.model == "m0")
    assert (before.n_samples, after.n_samples, after.n_benchmarks) == (0, 1, 6)
    assert (
        after.estimate > before.estimate + 0.1
    )  # .75 of the prompts are right, where .2 had been published


def test_what_is_left_out_is_said(store: Any) -> None:
    late = store.published_scale(["b?"], since="2022-01-01", min_models=2)
    assert {row.model for row in late.rows} == {"m4", "m5", "m6", "m7", "m8"}
    with pytest.raises(
        MisuseError, match="none of 10 models has figures on 7 benchmarks"
    ):
        store.published_scale(["b?"], min_benchmarks=7)
    with pytest.raises(MisuseError, match="a day is known of 9"):
        store.published_scale(["b?"], since="2040-01-01")
    with pytest.raises(MisuseError, match="a day such as"):
        store.published_scale(["b?"], since="yesterday")
    with pytest.raises(MisuseError, match="'m77' is not on the scale; did you mean m7"):
        store.published_scale(["b?"], reference="m77")
    with pytest.raises(MisuseError, match="text: ppl has no lowest"):
        store.published_scale(["text"])
    with pytest.raises(
        StatisticsError, match="9 figures are too few for 3 models and 3 benchmarks"
    ):
        store.published_scale(
            ["b0", "b1", "b2"], since="2023-01-01", min_benchmarks=2, min_models=2
        )
    with pytest.raises(
        MisuseError, match="0 model.s. with scores .*warehouse irt scale"
    ):
        store.irt(["b0", "b1"]).abilities()


def test_what_a_metric_lacks_is_said_with_the_command_that_says_it(
    store_url: str, tmp_path: Path, run: Caller
) -> None:
    frame = _figures()
    frame.loc[frame.benchmark == "b3", "value"] *= (
        100  # no mean of samples, as link = "none" says, and no known ends
    )
    frame.loc[frame.benchmark == "b4", "metric"] = "score"
    store = _filled(store_url, tmp_path, frame)
    ends, direction = store.published_scale(["b?"]).left_out
    assert ends.startswith("b3: share has no lowest") and direction.startswith(
        "b4: it is not known whether a higher"
    )
    says = "warehouse fix metric b3 --metric share --bounds "
    assert (
        says in ends and "fix metric b4 --metric score --higher-is-better" in direction
    )
    assert run("--db", store_url, *says.split()[1:], "0", "100").code == 0
    assert len(store.published_scale(["b?"]).benchmarks) == 5


def test_order_of_rows_changes_nothing(store: Any, tmp_path: Path) -> None:
    shuffled = _filled(
        store_at(tmp_path / "shuffled.duckdb"),
        tmp_path,
        _figures().sample(frac=1, random_state=1),
    )
    assert shuffled.published_scale(["b?"]) == store.published_scale(["b?"])


def test_the_chart_has_abilities_over_days(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    spec = store.published_scale(["b?"]).plot().to_dict()
    assert (
        len(spec["data"]["values"]) == 9
        and spec["data"]["values"][0]["day"] == "2024-01-01"
    )


def test_the_command(store: Any, store_url: str, run: Caller) -> None:
    shown = run("--db", store_url, "irt", "scale", "b?", "--top", "3")
    assert shown.code == 0 and "10 models on 6 benchmarks by 60 figures" in shown.out
    assert shown.out.startswith("m9 has the highest ability; all others can be told")
    assert "Ability rises by" in shown.out and "… 7 more (--top 0)" in shown.out
    explained = run("--db", store_url, "irt", "scale", "b?", "--explain").out
    assert "10 of the figures are the largest of several" in explained
    assert "m9" in shown.out and "m5 " not in shown.out
    rows = json.loads(run("--db", store_url, "irt", "scale", "b?", "--json").out)
    assert (
        len(rows) == 10 and rows[0]["model"] == "m9" and rows[0]["difference"] is None
    )
    benchmarks = run(
        "--db", store_url, "irt", "scale", "b?", "--by-benchmark", "--csv"
    ).out.splitlines()
    assert (
        benchmarks[0].startswith("benchmark,metric,n_models,difficulty,slope")
        and len(benchmarks) == 7
    )
    nothing = run("--db", store_url, "irt", "scale", "b?", "--predict", "m3")
    assert nothing.code == 0 and "it has a figure on each of them" in nothing.out
    both = run(
        "--db", store_url, "irt", "scale", "b?", "--predict", "m3", "--by-benchmark"
    )
    assert both.code == 2 and "--by-benchmark and --predict" in both.err


@pytest.mark.slow  # tests/stats/test_published_scale.py has these goldens by day, from the same files
def test_epoch_by_command(store_url: str, data_dir: Path) -> None:
    """Goldens of statistics.md §13b, out of a store."""
    opened = warehouse.connect(store_url)
    for name in ("benchmark_stitching", "benchmark_stitching_runs"):
        assert not opened.ingest(data_dir / "benchmark_stitching", mapping=name).refused
    report = opened.published_scale(["benchmark_stitching"], since="2022-11-01")
    assert (report.n_figures, len(report.rows), len(report.benchmarks)) == (
        1324,
        179,
        38,
    )
    assert report.misfit == pytest.approx(0.0802, abs=1e-4)
    first = [
        (row.model, round(row.estimate, 2), row.n_benchmarks) for row in report.rows[:3]
    ]
    assert first == [
        ("gpt-5-pro-2025-10-06_high", 1.85, 4), ("gpt-5.1_high", 1.85, 6), ("gpt-5-2025-08-07_high", 1.84, 12)
    ]  # fmt: skip
    assert report.trend is not None and report.trend.r_squared == pytest.approx(
        0.774, abs=0.01
    )
