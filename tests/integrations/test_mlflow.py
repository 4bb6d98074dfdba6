"""Leaderboards and comparisons in a real tracking store of MLflow."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.pages import ROOT
from warehouse import connect
from warehouse.api import Warehouse
from warehouse.errors import MisuseError
from warehouse.integrations.mlflow import log_comparison, log_leaderboard

mlflow = pytest.importorskip("mlflow", reason="needs the extra mlflow")
pytestmark = pytest.mark.filterwarnings("ignore")  # warnings of others


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    found = connect(str(tmp_path_factory.mktemp("mlflow") / "store.duckdb"))
    found.ingest(ROOT / "docs" / "demo" / "results")
    return found


@pytest.fixture(scope="module")
def tracking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A tracking store in a file, with its artifacts beside it."""
    folder = tmp_path_factory.mktemp("tracking")
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'runs.db'}")
    mlflow.set_experiment(
        experiment_id=mlflow.create_experiment(
            "evals", artifact_location=folder.as_uri()
        )
    )
    yield folder
    mlflow.set_tracking_uri("")


def artifact(run: Any, name: str) -> str:
    place = mlflow.artifacts.download_artifacts(
        run_id=run.info.run_id, artifact_path=f"warehouse/{name}"
    )
    return Path(place).read_text(encoding="utf-8")


def test_a_leaderboard_becomes_metrics_and_artifacts(
    store: Warehouse, tracking: Path
) -> None:
    board = store.leaderboard("sums")
    with mlflow.start_run() as run:
        logged = log_leaderboard(board, step=7)
    found = mlflow.get_run(run.info.run_id).data
    assert found.metrics == logged
    first = board.rows[0]
    assert logged["sums/model-a"] == first.estimate
    assert (
        logged["sums/model-b/ci_high"] == board.rows[1].ci_high
        and logged["sums/model-a/rank"] == 1
    )
    assert len(logged) == 10 and "warehouse.version" in found.tags
    (history,) = mlflow.MlflowClient().get_metric_history(
        run.info.run_id, "sums/model-a"
    )
    assert (history.step, history.value) == (7, first.estimate)
    assert artifact(run, "leaderboard.txt") == f"{board}\n"
    assert (
        json.loads(artifact(run, "leaderboard.json"))["rows"][0]["estimate"]
        == first.estimate
    )
    assert "<table" in artifact(run, "leaderboard.html")


def test_a_comparison_goes_to_the_run_that_is_named(
    store: Warehouse, tracking: Path
) -> None:
    result = store.compare("model-a", "model-b")
    run = mlflow.MlflowClient().create_run(
        mlflow.get_experiment_by_name("evals").experiment_id
    )
    logged = log_comparison(result, run_id=run.info.run_id)
    assert mlflow.get_run(run.info.run_id).data.metrics == logged
    assert logged["reading/model-a - model-b"] == result.rows[0].difference
    assert (
        result.overall is not None
        and logged["overall/model-a - model-b/p"] == result.overall.p_value
    )
    assert len(logged) == 15
    assert json.loads(artifact(run, "comparison.json"))["a"] == result.a


def test_all_benchmarks_of_one_model_and_suites(
    store: Warehouse, tracking: Path
) -> None:
    with mlflow.start_run() as run:
        one = log_leaderboard(store.leaderboard(), models=["model-b"])
        both = log_leaderboard(store.leaderboard(group="reading,sums"))
    assert {name.partition("/ci")[0].partition("/se")[0].partition("/rank")[0] for name in one} == {
        "reading/model-b", "sums/model-b"
    }  # fmt: skip
    assert any(name.endswith("/model-a") for name in both)
    assert len(mlflow.get_run(run.info.run_id).data.metrics) == len(one | both)


def test_names_that_mlflow_does_not_take(tmp_path: Path, tracking: Path) -> None:
    store = connect(str(tmp_path / "store.duckdb"))
    rows = [
        {"model": model, "benchmark": "a,b", "prompt_id": str(n), "acc": n % k}
        for k, model in ((2, "m@1"), (3, "m+1"))
        for n in range(12)
    ]
    import pandas as pd

    frame = pd.DataFrame(rows)
    frame["acc"] = (frame["acc"] > 0).astype(float)
    store.ingest(frame, higher_is_better=True)
    with mlflow.start_run():
        logged = log_leaderboard(store.leaderboard("a,b"))
    assert {name for name in logged if "/" not in name.removeprefix("a_b/")} == {
        "a_b/m_1",
        "a_b/m_1 2",
    }


def test_what_is_missing_is_said(
    store: Warehouse, tracking: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = store.leaderboard("sums")
    with pytest.raises(MisuseError, match="no run of MLflow is active"):
        log_leaderboard(board)
    with mlflow.start_run(), pytest.raises(MisuseError, match="no model 'model-c'"):
        log_leaderboard(board, models=["model-c"])
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(
        MisuseError, match="the package mlflow is not installed; run: .* -m pip install"
    ):
        log_leaderboard(board)
