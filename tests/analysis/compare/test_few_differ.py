"""Statements against a margin where few prompts differ: over benchmarks, by weight, and
on planned subsets."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.support.builders import StoreRows
from tests.support.stores import store_at
from tests.support.subsets import answers, asked_in, load, rows_of, whole
from warehouse import connect
from warehouse.api import Warehouse
from warehouse.records.clock import utc_now
from warehouse.store.open import open_store

OLD, NEW, N = "lab/old", "lab/new", 56


@pytest.fixture(scope="module")
def near(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A candidate that loses one prompt of each benchmark; half of the prompts of one
    weigh three."""
    rows = StoreRows()
    acc = rows.metric()
    for name in ("first", "second", "heavy"):
        rows.describe(name, acc)
        weights = {
            f"{name}{i}": 3.0 if name == "heavy" and i < N // 2 else 1.0
            for i in range(N)
        }
        for model in (OLD, NEW):
            scores = {
                f"{name}{i}": float(i % 7 > 0 and (model == OLD or i != 8))
                for i in range(N)
            }
            run = rows.run(f"{model}-heavy" if name == "heavy" else model, name)
            rows.scores(run, scores, weights=weights)
    url = store_at(tmp_path_factory.mktemp("near") / "near.duckdb")
    with open_store(url, write=True) as store:
        rows.write(store)
    return connect(url)


def test_a_mean_over_benchmarks_is_not_equal_by_t_alone(near: Warehouse) -> None:
    """Two benchmarks of one size are one of twice the prompts: the binomial test of
    those lost."""
    found = near.compare(NEW, OLD, equivalence=0.05)
    row = found.overall
    assert row is not None and row.standard_error is not None
    by_t = stats.t.sf((0.05 - 1 / N) / row.standard_error, row.degrees_of_freedom)
    assert row.p_equivalence == pytest.approx(stats.binom.cdf(2, 2 * N, 0.05), rel=1e-6)
    assert by_t < 0.05 and row.equivalent is False
    wide = near.compare(NEW, OLD, equivalence=0.08).overall
    assert wide is not None and wide.equivalent is True


def test_with_the_prompts_fixed_a_draw_of_one_prompt_shows_no_equality(
    tmp_path: Path,
) -> None:
    """p by drawing Gaffke's exponential weights; t, by the one prompt that varies,
    would say .003."""
    rows, n, margin = StoreRows(), 60, 0.03
    for benchmark in ("first", "second"):
        rows.describe(benchmark, rows.metric())
        for model in (OLD, NEW):
            draws = {
                f"{benchmark}{i}": [1.0, 1.0, 1.0, float(i > 0 or model == OLD)]
                for i in range(n)
            }
            rows.scores(rows.run(model, benchmark), draws)
    url = store_at(tmp_path / "draws.duckdb")
    with open_store(url, write=True) as store:
        rows.write(store)
    found = connect(url).compare(NEW, OLD, equivalence=margin, estimand="prompts-fixed")
    row, random = found.rows[0], np.random.default_rng(2)
    differences = np.where(np.arange(n) == 0, -0.25, 0.0)
    p = float(
        np.mean(
            random.exponential(size=(100_000, n + 1))
            @ np.append(differences + margin, margin - 1)
            <= 0
        )
    )
    assert row.standard_error is not None and row.degrees_of_freedom == pytest.approx(3)
    assert stats.t.sf((margin - 0.25 / n) / row.standard_error, 3) < 0.01
    assert row.p_equivalence == pytest.approx(p, abs=0.005) and row.equivalent is False
    assert (
        found.overall is not None and found.overall.p_equivalence > 0.01
    )  # of 120 prompts


def test_prompts_weigh_in_a_gate(near: Warehouse) -> None:
    """p by drawing the exponential weights, the unseen prompt being one of those that
    weigh three in three of four."""
    (row,) = near.gate(f"{NEW}-heavy", f"{OLD}-heavy", 0.1).rows
    weights = np.repeat([3.0, 1.0], N // 2)
    points = weights * (0.1 - (np.arange(N) == 8))
    drawn = np.random.default_rng(1).exponential(size=(100_000, N + 1))
    unseen = float(weights @ weights / weights.sum())
    p = float(np.mean(drawn @ np.append(points, (0.1 - 1) * unseen) <= 0))
    assert (
        row.p_pass == pytest.approx(p, abs=4 * (p / 100_000) ** 0.5)
        and "Gaffke" in row.method
    )
    assert row.standard_error is not None and row.p_pass is not None
    assert row.p_pass > 2 * stats.t.sf((0.1 - 3 / (2 * N)) / row.standard_error, N - 1)


def test_a_planned_subset_passes_nothing_by_t_alone(tmp_path: Path) -> None:
    """Strata of one size: the binomial test of one prompt lost among those asked."""
    url = load(tmp_path, whole())
    store = connect(url)
    plan = store.subset_plan(
        "quiz", size=40, now=utc_now() + timedelta(seconds=1)
    ).rows[0]
    sample, later = (
        asked_in(plan),
        {"started_at": (utc_now() + timedelta(hours=1)).isoformat()},
    )
    one = answers(2)[8].astype(float)
    other = one.copy()
    other[next(p for p in sample if one[p])] = 0
    rows = rows_of("new/one", one, only=sample, **later) + rows_of(
        "new/other", other, only=sample, **later
    )
    load(tmp_path, rows, url)
    (row,) = store.gate("new/other", "new/one", 0.085, benchmarks=["quiz"]).rows
    assert row.standard_error is not None and row.difference == pytest.approx(-1 / 40)
    by_t = stats.t.sf((0.085 - 1 / 40) / row.standard_error, 30)
    assert row.p_pass == pytest.approx(stats.binom.cdf(1, 40, 0.085), rel=1e-6)
    assert by_t < 0.05 and row.verdict == "undecided" and "Gaffke" in row.method
    assert row.low == pytest.approx(-stats.beta.ppf(0.95, 2, 39), abs=1e-6)
    (compared,) = store.compare(
        "new/one", "new/other", benchmark="quiz", equivalence=0.085
    ).rows
    assert (
        compared.p_equivalence == pytest.approx(row.p_pass, rel=1e-6)
        and compared.equivalent is False
    )
    assert (
        store.gate("new/other", "new/one", 0.13, benchmarks=["quiz"]).verdict == "pass"
    )
