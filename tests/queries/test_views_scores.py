"""Scores and their errors out of SQL: equal to `warehouse.stats`, and to goldens.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.support.builders import StoreRows
from tests.support.stores import ENGINES, filled_store, select
from tests.support.world import build_world
from warehouse.analysis.leaderboard.leaderboard import leaderboard
from warehouse.errors import StatisticsError
from warehouse.stats import Estimate, estimate_mean
from warehouse.store.connection import Store

ROWS = build_world()
ERRORS = ("se_clt", "se_bernoulli", "se_clustered", "se_cr0", "se_cr1", "se_cr2")
Z = 1.959963984540054


@pytest.fixture(scope="module", params=ENGINES)
def world(request: pytest.FixtureRequest) -> Iterator[Store]:
    with filled_store(request, request.param, ROWS) as store:
        yield store


def python_estimate(rows: StoreRows, run: int, metric: int, perturbation: str) -> Estimate | None:
    """The same figure from the builder's rows, by `warehouse.stats`; None if there is none."""
    facts = [
        fact
        for fact in rows.rows["prompt_score"]
        if (fact["run_id"], fact["metric_id"], fact["perturbation"]) == (run, metric, perturbation)
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
    kept = [fact["raw"] for fact in ROWS.rows["score"] if (fact["run_id"], fact["metric_id"]) == (run_id, metric_id)]
    return [float(raw) for raw in kept if raw is not None]


def test_every_row_equals_the_python_figure(world: Store) -> None:
    found = select(world, "select * from score_by_perturbation")
    assert len(found) > 60
    assert sum(bool(infinite_scores(row["run_id"], row["metric_id"])) for row in found) == 3
    for row in found:
        infinite = set(infinite_scores(row["run_id"], row["metric_id"]))
        if infinite:
            estimate = infinite.pop() if len(infinite) == 1 else None
            assert (row["estimate"], row["standard_error"]) == (estimate, None)
            continue
        expected = python_estimate(ROWS, row["run_id"], row["metric_id"], row["perturbation"])
        if expected is None:
            assert (row["estimate"], row["standard_error"]) == (None, None)
            continue
        assert row["estimate"] == pytest.approx(expected.estimate, rel=1e-9)
        assert (row["n_prompts"], row["n_clusters"]) == (expected.n_prompts, expected.n_clusters)
        for name in ERRORS:
            assert row[name] == _close(getattr(expected, name)), (row["run_id"], name)
        headline = expected.se_clt if expected.n_clusters is None else expected.se_cr2
        assert row["standard_error"] == _close(headline or None)
        if headline:
            assert row["ci_normal_low"] == pytest.approx(row["estimate"] - Z * headline, rel=1e-9)
            assert row["ci_normal_high"] == pytest.approx(row["estimate"] + Z * headline, rel=1e-9)


def test_the_summary_is_the_headline_form(world: Store) -> None:
    headline = select(
        world,
        "select run_id, metric_id, estimate, method from score_by_perturbation"
        " where perturbation = '' order by run_id, metric_id",
    )
    summary = select(world, "select run_id, metric_id, estimate, method from score_summary order by run_id, metric_id")
    assert summary == headline
    typos = select(world, "select run_id from score_by_perturbation where perturbation = 'typo'")
    assert len(typos) == 5


def test_golden_g1(world: Store) -> None:
    row, part = select(world, "select * from score_summary where benchmark = 'golden' order by 1")
    assert row["estimate"] == pytest.approx(0.6, abs=1e-12)
    assert {name: round(row[name], 12) for name in ERRORS} == {
        "se_clt": 0.163299316186,
        "se_bernoulli": 0.154919333848,
        "se_clustered": 0.19663841605,
        "se_cr0": 0.18973665961,
        "se_cr1": 0.219089023002,
        "se_cr2": 0.220389266008,
    }
    assert (row["n_prompts"], row["n_clusters"], row["method"]) == (10, 4, "cr2")
    assert row["standard_error"] == row["se_cr2"]
    assert (part["n_clusters"], part["standard_error"]) == (1, None)
    assert part["method"] == "none: a single cluster"


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


def test_prompts_outside_the_clustering_are_clusters_of_their_own(world: Store) -> None:
    found = select(world, "select n_prompts, n_clusters from score_summary where metric = 'chrf'")
    assert found == [{"n_prompts": 60, "n_clusters": 9 + 15}] * 2


def test_what_cannot_be_computed_is_null_with_its_reason(world: Store) -> None:
    found = select(
        world,
        "select estimate, standard_error, n_prompts, n_unscored, n_prompts_unscored, method"
        " from score_summary where benchmark in ('edges', 'balanced') order by run_id",
    )
    assert [tuple(row.values()) for row in found] == [
        (1.0, None, 1, 0, 0, "none: a single prompt"),
        (pytest.approx(0.1), None, 3, 0, 0, "none: all scores are equal"),
        (None, None, 0, 3, 2, "none: no prompt was scored"),
        (None, None, 2, 0, 0, "none: the figure is no mean of these scores"),
        (None, None, 2, 0, 0, "none: the link overflows"),
        (0.5, None, 4, 0, 0, "none: the error is 0"),
        (pytest.approx(0.5), None, 4, 0, 0, "none: the error is 0"),
    ]


def test_unscored_samples_and_draws_are_counted(world: Store) -> None:
    (row,) = select(world, "select * from score_summary where model = 'org/d' and benchmark = 'quiz'")
    assert (row["n_prompts"], row["n_prompts_unscored"]) == (32, 8)
    assert (row["n_draws"], row["n_unscored"]) == (32, 48)
    rates = select(world, "select n_draws from score_summary where model = 'org/b' and benchmark = 'draws'")
    assert rates == [{"n_draws": 40}]


def test_superseded_and_invalidated_runs_are_hidden(world: Store) -> None:
    for view in ("run_current", "score_summary", "performance_matrix"):
        where = "where model = 'org/f' and benchmark = 'quiz'"
        assert len(select(world, f"select distinct run_id from {view} {where}")) == 1


def test_an_alias_shows_under_its_canonical_name(world: Store) -> None:
    found = select(
        world,
        "select model, model_recorded, benchmark, benchmark_recorded from run_current"
        " where model_recorded = 'old/a' or benchmark_recorded = 'quiz_2024' order by run_id",
    )
    assert [tuple(row.values()) for row in found] == [
        ("org/a", "old/a", "quiz", "quiz"),
        ("org/g", "org/g", "quiz", "quiz_2024"),
    ]


def test_run_score_takes_published_figures_where_samples_are_missing(world: Store) -> None:
    found = select(
        world,
        "select r.model, r.position from run_score s join run_current r"
        " on r.run_id = s.run_id where s.origin = 'published' order by 1, 2",
    )
    assert [tuple(row.values()) for row in found] == [
        *[("lab/seeds", 3000.0)] * 3,
        ("told/only", None),
        ("told/short", None),
    ]
    (row,) = select(
        world, "select s.* from run_score s join run_current r on r.run_id = s.run_id where r.model = 'told/only'"
    )
    assert (row["estimate"], row["standard_error"], row["origin"]) == (0.3, None, "published")


def _close(value: float | None) -> Any:
    return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-15)


def test_weights_that_few_prompts_hold_are_seen(world: Store) -> None:
    found = select(world, "select * from weighted_error where perturbation = ''")
    assert found
    for row in found:
        facts = [
            fact
            for fact in ROWS.rows["prompt_score"]
            if (fact["run_id"], fact["metric_id"], fact["perturbation"]) == (row["run_id"], row["metric_id"], "")
            and fact["value"] is not None
        ]
        weights = np.array([fact["weight"] for fact in facts])
        assert row["n_kish"] == pytest.approx(weights.sum() ** 2 / (weights @ weights), rel=1e-9)
        assert row["n_effective_units"] <= row["n_kish"] * (1 + 1e-9)
        assert weights.max() / weights.sum() <= row["largest_share"] * (1 + 1e-9) <= 1
