"""Scores and their errors out of SQL: equal to `warehouse.stats`, and to goldens.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.builders import StoreRows
from tests.support.stores import select
from tests.support.world import the_world
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.errors import StatisticsError
from warehouse.stats import Estimate, estimate_mean
from warehouse.store.connection import Store

ROWS = the_world()
ERRORS = ("se_clt", "se_bernoulli", "se_clustered", "se_cr0", "se_cr1", "se_cr2")
Z = 1.959963984540054


def python_estimate(
    rows: StoreRows, run: int, metric: int, perturbation: str
) -> Estimate | None:
    """The same figure from the builder's rows, by `warehouse.stats`; None if there is
    none."""
    facts = [
        fact
        for fact in rows.rows["prompt_score"]
        if (fact["run_id"], fact["metric_id"], fact["perturbation"])
        == (run, metric, perturbation)
        and fact["value"] is not None
    ]
    benchmark = rows.rows["benchmark"][rows.rows["run"][run - 1]["benchmark_id"] - 1]
    members = {
        row["prompt_id"]: row["cluster_id"]
        for row in rows.rows["prompt_cluster"]
        if row["clustering_id"] == benchmark["default_clustering_id"]
    }
    labels = [members.get(fact["prompt_id"], -fact["prompt_id"]) for fact in facts]
    try:
        return estimate_mean(
            [fact["value"] for fact in facts],
            clusters=labels if any(label > 0 for label in labels) else None,
            weights=[fact["weight"] for fact in facts],
            link=rows.rows["metric"][metric - 1]["link"],
            n_draws=[fact["n_draws"] for fact in facts],
        )
    except StatisticsError:
        return None


def infinite_scores(run_id: int, metric_id: int) -> list[float]:
    """Scores of a run that are kept as text."""
    kept = [
        fact["raw"]
        for fact in ROWS.rows["score"]
        if (fact["run_id"], fact["metric_id"]) == (run_id, metric_id)
    ]
    return [float(raw) for raw in kept if raw is not None]


def test_every_row_equals_the_python_figure(world: Store) -> None:
    found = select(world, "select * from score_by_perturbation")
    assert len(found) > 60
    assert (
        sum(bool(infinite_scores(row["run_id"], row["metric_id"])) for row in found)
        == 3
    )
    for row in found:
        infinite = set(infinite_scores(row["run_id"], row["metric_id"]))
        if infinite:
            estimate = infinite.pop() if len(infinite) == 1 else None
            assert (row["estimate"], row["standard_error"]) == (estimate, None)
            continue
        expected = python_estimate(
            ROWS, row["run_id"], row["metric_id"], row["perturbation"]
        )
        if expected is None:
            assert (row["estimate"], row["standard_error"]) == (None, None)
            continue
        assert row["estimate"] == pytest.approx(expected.estimate, rel=1e-9)
        assert (row["n_prompts"], row["n_clusters"]) == (
            expected.n_prompts,
            expected.n_clusters,
        )
        for name in ERRORS:
            assert row[name] == _close(getattr(expected, name)), (row["run_id"], name)
        headline = expected.se_clt if expected.n_clusters is None else expected.se_cr2
        assert row["standard_error"] == _close(headline or None)
        if headline:
            assert row["ci_normal_low"] == pytest.approx(
                row["estimate"] - Z * headline, rel=1e-9
            )
            assert row["ci_normal_high"] == pytest.approx(
                row["estimate"] + Z * headline, rel=1e-9
            )


def test_the_summary_is_the_headline_form(world: Store) -> None:
    headline = select(
        world,
        "select run_id, metric_id, estimate, method from score_by_perturbation"
        " where perturbation = '' order by run_id, metric_id",
    )
    summary = select(
        world,
        "select run_id, metric_id, estimate, method from score_summary order by "
        "run_id, metric_id",
    )
    assert summary == headline
    typos = select(
        world, "select run_id from score_by_perturbation where perturbation = 'typo'"
    )
    assert len(typos) == 5


def test_the_error_of_clustered_runs_is_the_leaderboards(world: Store) -> None:
    compared = 0
    found = select(
        world,
        "select run_id, benchmark, standard_error, n_clusters from score_summary"
        " where is_default and n_clusters is not null",
    )
    errors = {row["run_id"]: row for row in found}
    for benchmark in sorted({row["benchmark"] for row in found}):
        for row in leaderboard(world, benchmark, n_resamples=0).rows:
            if len(row.run_ids) == 1 and row.n_clusters is not None:
                own = errors[row.run_ids[0]]
                assert own["n_clusters"] == row.n_clusters
                assert own["standard_error"] == _close(row.standard_error)
                compared += row.standard_error is not None
    assert compared > 2


def _close(value: float | None) -> Any:
    return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-15)


def test_weights_that_few_prompts_hold_are_seen(world: Store) -> None:
    found = select(world, "select * from weighted_error where perturbation = ''")
    assert found
    for row in found:
        facts = [
            fact
            for fact in ROWS.rows["prompt_score"]
            if (fact["run_id"], fact["metric_id"], fact["perturbation"])
            == (row["run_id"], row["metric_id"], "")
            and fact["value"] is not None
        ]
        weights = np.array([fact["weight"] for fact in facts])
        assert row["n_kish"] == pytest.approx(
            weights.sum() ** 2 / (weights @ weights), rel=1e-9
        )
        assert row["n_effective_units"] <= row["n_kish"] * (1 + 1e-9)
        assert weights.max() / weights.sum() <= row["largest_share"] * (1 + 1e-9) <= 1
