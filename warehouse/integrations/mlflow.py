"""MLflow: log a leaderboard or comparison with the run that it evaluates.

    import mlflow, warehouse
    from warehouse.integrations.mlflow import log_comparison

    store = warehouse.connect("evals.duckdb")
    with mlflow.start_run(): log_comparison(store.compare("tuned", "base"))

The figures become metrics, each with its error and interval, which MLflow charts and
compares; the whole answer becomes artifacts: as text, as the page of a notebook, and as
JSON. Needs ``pip install eval-warehouse[mlflow]``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from warehouse.analysis.compare.answer import Comparison
from warehouse.analysis.leaderboard.answer import Leaderboard
from warehouse.analysis.leaderboard.every import Leaderboards
from warehouse.analysis.results import Result, plain
from warehouse.analysis.suites.answer import SuiteBoard
from warehouse.errors import MisuseError
from warehouse.extras import install_command

#: Folder of the artifacts, and what the tags begin with.
PREFIX = "warehouse"
#: Columns that become metrics, and how those end.
_BOARD = {
    "estimate": "",
    "standard_error": "se",
    "ci_low": "ci_low",
    "ci_high": "ci_high",
    "rank": "rank",
}
_PAIR = {
    "difference": "",
    "standard_error": "se",
    "ci_low": "ci_low",
    "ci_high": "ci_high",
    "p_value": "p",
}
_NO_NAME = re.compile(r"[^\w\-. /:]")

Metrics = Iterator[tuple[str, float]]


def log_leaderboard(
    result: Leaderboard | SuiteBoard | Leaderboards,
    *,
    run_id: str | None = None,
    step: int = 0,
    models: Sequence[str] = (),
    tracking_uri: str | None = None,
) -> dict[str, float]:
    """Log a leaderboard to a run of MLflow.

    Args:
        result: of ``store.leaderboard(...)``.
        run_id: the run; None: the active one.
        step: of the metrics, such as the step of training that a checkpoint is of.
        models: only the figures of these models become metrics; empty: all. Artifacts
            are whole.
        tracking_uri: the tracking server or store; None: what MLflow is set to.

    Returns:
        the metrics as logged, ``benchmark/model`` and what of it: the estimate by
        itself, and ``/se``, ``/ci_low``, ``/ci_high``, ``/rank``. What is missing is
        not logged. Signs that MLflow does not take in a name become ``_``.

    Raises:
        MisuseError: MLflow is not installed, no run is active, or a model is not on the
            leaderboard.
    """
    boards = result.boards if isinstance(result, Leaderboards) else (result,)
    rows = []
    for board in boards:
        rows += [_named(row.to_dict(), board) for row in board.rows]
    unknown = set(models) - {row["model"] for row in rows}
    if unknown:
        raise MisuseError(f"the leaderboard has no model {sorted(unknown)[0]!r}")
    chosen = [row for row in rows if not models or row["model"] in models]
    named = [
        (f"{row['benchmark']}/{_with_condition(row, 'model', 'condition')}", row)
        for row in chosen
    ]
    return _log(
        "leaderboard", result, _figures(named, _BOARD), run_id, step, tracking_uri
    )


def log_comparison(
    result: Comparison,
    *,
    run_id: str | None = None,
    step: int = 0,
    tracking_uri: str | None = None,
) -> dict[str, float]:
    """Log a comparison of two models to a run of MLflow.

    Args:
        result: of ``store.compare(...)``.
        run_id, step, tracking_uri: as of :func:`log_leaderboard`.

    Returns:
        the metrics as logged, ``benchmark/a - b`` and what of it: the difference by
        itself, and ``/se``, ``/ci_low``, ``/ci_high``, ``/p``; ``overall`` stands for
        all benchmarks together.

    Raises:
        MisuseError: MLflow is not installed, or no run is active.
    """
    rows = [row.to_dict() for row in result.rows]
    if result.overall:
        rows.append(result.overall.to_dict())
    named = [
        (f"{row['benchmark']}/{_with_condition(row, 'model_a', 'condition_a')}"
         f" - {_with_condition(row, 'model_b', 'condition_b')}", row)
        for row in rows
    ]  # fmt: skip
    return _log(
        "comparison", result, _figures(named, _PAIR), run_id, step, tracking_uri
    )


def _named(row: dict[str, Any], board: Any) -> dict[str, Any]:
    """A row with what it is on: rows of a suite do not say."""
    return {
        "benchmark": getattr(board, "suite", "") or getattr(board, "benchmark", ""),
        **row,
    }


def _with_condition(row: Mapping[str, Any], model: str, condition: str) -> str:
    return " ".join(filter(None, (row[model], row.get(condition))))


def _figures(
    rows: Sequence[tuple[str, Mapping[str, Any]]], columns: Mapping[str, str]
) -> Metrics:
    """Name and value of each figure that is defined."""
    for name, row in rows:
        for column, end in columns.items():
            value = row.get(column)
            if isinstance(value, int | float) and math.isfinite(value):
                yield _NO_NAME.sub("_", f"{name}/{end}" if end else name), float(value)


def _log(
    kind: str,
    result: Result,
    figures: Metrics,
    run_id: str | None,
    step: int,
    tracking_uri: str | None,
) -> dict[str, float]:
    client, run = _client(run_id, tracking_uri)
    metrics: dict[str, float] = {}
    for name, value in figures:
        metrics[_free(name, metrics)] = value
    for name, value in metrics.items():
        client.log_metric(run, name, value, step=step)
    client.set_tag(run, f"{PREFIX}.version", version("eval-warehouse"))
    client.log_text(run, f"{result}\n", f"{PREFIX}/{kind}.txt")
    client.log_text(run, result._repr_html_(), f"{PREFIX}/{kind}.html")
    client.log_dict(run, plain(result.to_dict()), f"{PREFIX}/{kind}.json")
    return metrics


def _free(name: str, taken: Mapping[str, float]) -> str:
    """The name, or with a number where two became one."""
    free_name, number = name, 1
    while free_name in taken:
        number += 1
        free_name = f"{name} {number}"
    return free_name


def _client(run_id: str | None, tracking_uri: str | None) -> tuple[Any, str]:
    try:
        import mlflow
    except ImportError as error:
        missing = error.name or "mlflow"
        raise MisuseError(
            f"the package {missing} is not installed; run: {install_command('mlflow')}"
        ) from None
    if run_id:
        active: Any = None
    else:
        active = mlflow.active_run()
    if not run_id and active is None:
        raise MisuseError(
            "no run of MLflow is active; call it inside `with mlflow.start_run():`, or "
            "give run_id"
        )
    return mlflow.MlflowClient(tracking_uri=tracking_uri), run_id or str(
        active.info.run_id
    )
