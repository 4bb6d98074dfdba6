"""Curves along training: the leaderboard's figures in the order of the checkpoints."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from scipy import stats

from tests.support.builders import StoreRows
from tests.support.sections import build as build_sections
from tests.support.stores import ENGINES, filled_store
from warehouse.analysis.curves.on_leaderboard import BenchmarkCurves, training_curves
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.store.connection import Store


def build() -> StoreRows:
    """Losses that fall, with a bump; a flat model, a lone checkpoint, and one without a
    place."""
    rows = build_sections()
    rows.describe(
        "loss",
        rows.metric("loss"),
        kind="continuous",
        low=None,
        high=None,
        higher=False,
    )
    figures = {
        "lab/falls": [4.0, 2.0, 3.0, 1.0],
        "lab/flat": [2.0] * 4,
        "lab/lone": [1.5],
    }
    for model, means in figures.items():
        for place, mean in enumerate(means):
            for fewshot in (0, 5) if model == "lab/falls" else (0,):
                run = rows.run(model, "loss", step=10.0**place, fewshot=fewshot)
                rows.scores(
                    run, {"a": mean - 0.1, "b": mean + 0.1}, rows.metric("loss")
                )
    rows.scores(
        rows.run("lab/plain", "loss", fewshot=0),
        {"a": 1.0, "b": 2.0},
        rows.metric("loss"),
    )
    return rows


@pytest.fixture(scope="module", params=ENGINES)
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    with filled_store(request, request.param, build()) as filled:
        yield filled


def curves(store: Store, benchmark: str) -> BenchmarkCurves:
    board = leaderboard(store, benchmark, n_resamples=0, each="checkpoint")
    return training_curves(board, store.rows("select * from run_current"))


def test_points_are_the_rows_of_the_leaderboard(store: Store) -> None:
    board = leaderboard(store, "steps", n_resamples=0, each="checkpoint")
    found = training_curves(board, store.rows("select * from run_current"))
    assert {(row.model, row.condition) for row in found.rows} == {
        (model, f"training_seed={seed}")
        for model in ("lab/a", "lab/b")
        for seed in ("s0", "s1")
    }
    told = sorted(
        (p.estimate, p.ci_low, p.ci_high) for row in found.rows for p in row.points
    )
    assert told == sorted((row.estimate, row.ci_low, row.ci_high) for row in board.rows)
    for row in found.rows:
        assert [point.position for point in row.points] == [0.0, 100.0, 1000.0, 30000.0]
        figures = [point.estimate for point in row.points]
        assert (row.first, row.last, row.best) == (
            figures[0],
            figures[-1],
            max(figures),
        )
        tau = stats.kendalltau(range(4), figures).statistic
        assert row.monotonicity == pytest.approx(tau, abs=1e-12)
        assert row.unit == "step" and row.n_checkpoints == 4
    assert [row.last for row in found.rows] == sorted(
        (r.last for r in found.rows), reverse=True
    )
    assert found.one_line == "steps: 4 curves of 16 checkpoints"


def test_lower_can_be_better(store: Store) -> None:
    found = curves(store, "loss")
    by_name = {(row.model, row.condition): row for row in found.rows}
    assert set(by_name) == {
        ("lab/falls", "fewshot=0"),
        ("lab/falls", "fewshot=5"),
        ("lab/flat", "fewshot=0"),
    }
    falls = by_name["lab/falls", "fewshot=5"]
    assert (falls.best, falls.best_position, falls.last) == (1.0, 1000.0, 1.0)
    assert falls.monotonicity == pytest.approx(4 / 6)  # 5 of 6 pairs fall, 1 rises
    assert by_name["lab/flat", "fewshot=0"].monotonicity is None
    assert found.rows[-1].model == "lab/flat"
    assert found.to_dict()["rows"][-1]["monotonicity"] is None


def test_a_benchmark_without_checkpoints_has_no_curves(store: Store) -> None:
    assert curves(store, "exam").rows == ()
    assert len(curves(store, "gens").to_frame()) == 0
