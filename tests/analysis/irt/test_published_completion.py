"""``irt complete``: what would be published of models on benchmarks that they were not
run on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import warehouse
from tests.support.cli import Caller
from tests.support.stores import filled_once
from warehouse.errors import StatisticsError
from warehouse.stats import published_completion
from warehouse.stats.items.published_figures import as_figures

MAPPING = """
[run]
harness = "source"
model = "model"
benchmark = "benchmark"
run_id = "id"
[[published]]
metric = { path = "metric" }
value = "value"
[metrics.wrong]
kind = "bounded"
low = 0
high = 100
higher_is_better = false
[metrics.share]
kind = "bounded"
low = 0
high = 1
higher_is_better = true
"""


def shares() -> pd.DataFrame:
    """Fourteen models on nine benchmarks, three in ten absent, and a model of three."""
    rng = np.random.default_rng(5)
    means = rng.normal(0, 1, 14)[:, None] + rng.normal(0, 1, 9)
    drawn = expit(means + rng.normal(0, 0.3, means.shape))
    rows = []
    for m, j in np.argwhere(rng.random(means.shape) < 0.7).tolist():
        rows.append({"model": f"m{m:02}", "benchmark": f"b{j}", "share": drawn[m, j]})
    for j in range(3):
        rows.append({"model": "few", "benchmark": f"b{j}", "share": 0.5})
    return pd.DataFrame(rows)


def filled(url: str, folder: Path) -> Any:
    """A store of these figures, of which b2 counts mistakes in per cent."""
    frame = shares()
    is_wrong = frame.benchmark == "b2"
    frame["value"] = np.where(is_wrong, 100 * (1 - frame.share), frame.share)
    frame["metric"] = np.where(is_wrong, "wrong", "share")
    frame = frame.assign(source="a", id=range(len(frame))).drop(columns="share")
    frame.to_csv(folder / "figures.csv", index=False)
    (folder / "figures.toml").write_text(MAPPING)
    opened = warehouse.connect(url)
    mapping = folder / "figures.toml"
    assert not opened.ingest(folder / "figures.csv", mapping=mapping).refused
    return opened


@pytest.fixture
def url(store_url: str, tmp_path: Path) -> Iterator[str]:
    yield filled_once(store_url, __file__, lambda: filled(store_url, tmp_path))


def test_the_rows_are_those_of_the_figures(url: str) -> None:
    report = warehouse.connect(url).published_completion(["b?"])
    frame = shares()
    names = frame.model.tolist(), frame.benchmark.tolist()
    found = published_completion(as_figures(frame.share, *names))
    assert len(report.rows) == 14 * 9 - report.n_figures
    for row in report.rows:
        said = found.predicted(row.model, row.benchmark)
        assert (row.predicted, row.support) == (said.reason is None, said.support)
        if said.estimate is None or said.ci_low is None or said.ci_high is None:
            assert row.estimate is None
            continue
        expected = [said.estimate, said.ci_low, said.ci_high]
        if row.benchmark == "b2":
            expected = [100 * (1 - expected[k]) for k in (0, 2, 1)]
        assert [row.estimate, row.ci_low, row.ci_high] == pytest.approx(expected)
    assert "1 model: fewer than four figures" in report.left_out


def test_a_person_reads_what_would_be_expected(url: str, run: Caller) -> None:
    report = warehouse.connect(url).published_completion(["b?"])
    row = next(row for row in report.rows if row.predicted and row.is_share)
    asked = ("--db", url, "irt", "complete", "b?", "--model", row.model)
    shown = run(*asked, "--benchmark", row.benchmark)
    assert shown.code == 0
    assert f"{row.model} would be expected at " in shown.out
    assert f" % on {row.benchmark} (95 %: " in shown.out
    assert "it was not run." in shown.out
    assert "Assumes that it was not left out because it did badly." in shown.out
    assert "run next: b" in shown.out
    assert "held-out figures of this table are off by" in shown.out
    of_all = run(*asked)
    assert "What would be expected where a model was not run" in of_all.out
    (told,) = json.loads(run(*asked, "--benchmark", row.benchmark, "--json").out)
    assert told["predicted"] and told["estimate"] == pytest.approx(row.estimate)
    assert "score" not in told


def test_what_was_run_is_not_expected(url: str, run: Caller) -> None:
    first = shares().iloc[0]
    asked = ("--db", url, "irt", "complete", "b?", "--model", first.model)
    shown = run(*asked, "--benchmark", first.benchmark)
    assert f"{first.model} was run on {first.benchmark}: " in shown.out


def test_too_few_figures_are_an_error(url: str, run: Caller) -> None:
    with pytest.raises(StatisticsError, match="few has 3 figures: four are needed"):
        warehouse.connect(url).published_completion(["b?"], model="few")
    shown = run("--db", url, "irt", "complete", "b0", "b1")
    assert shown.code == 2 and "too few figures" in shown.err
