"""Suites and means over benchmarks have one row a model: the mean over benchmarks
within a seed, then over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import Caller
from warehouse import connect
from warehouse.api import Warehouse

#: Scores of each seed on each benchmark, by model and name of the benchmark; None for a
#: seed without label.
Models = Mapping[str, Mapping[str, Mapping[str, np.ndarray]]]
Filled = Callable[..., Warehouse]
_SIZES = {"sums": 40, "words": 60}


def drawn(
    seed: int, shift: float = 0.0, seeds: int = 3, spread: float = 0.3
) -> dict[str, dict[str, np.ndarray]]:
    """A model whose seeds move both benchmarks."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(shift, spread, seeds)
    return {
        name: {
            str(s): (rng.random(n) < 1 / (1 + np.exp(rng.normal(0, 1, n) - skill[s])))
            * 1.0
            for s in range(seeds)
        }
        for name, n in _SIZES.items()
    }


def as_table(models: Models, *, turned: bool = False) -> str:
    lines = []
    for model, benchmarks in models.items():
        for name, by_seed in benchmarks.items():
            for seed, scores in by_seed.items():
                lines += [
                    f"{model},{seed},{name},{name}{i},{score:g}"
                    for i, score in enumerate(scores)
                ]
    return (
        "\n".join(
            [
                "model,seed,benchmark,prompt_id,score",
                *(lines[::-1] if turned else lines),
            ]
        )
        + "\n"
    )


#: A mapping of figures without samples.
_FIGURES = """
files = ["figures.csv"]
[run]
model = "model"
benchmark = "benchmark"
training_seed = "seed"
[[published]]
metric = "accuracy"
value = "accuracy"
n = "n"
[metrics.accuracy]
kind = "binary"
higher_is_better = true
"""


@pytest.fixture
def filled(duckdb_url: str, tmp_path: Path) -> Filled:
    """Makes a store of models."""

    def fill(models: Models, *, turned: bool = False) -> Warehouse:
        store = connect(duckdb_url)
        path = tmp_path / "scores.csv"
        path.write_text(as_table(models, turned=turned))
        store.ingest(path)
        return store

    return fill


SUITE = ["sums", "words"]


def test_a_suite_has_one_row_a_model(filled: Filled) -> None:
    models = {"ours": drawn(1, 0.5), "base": drawn(2)}
    board = filled(models).leaderboard(SUITE)
    assert [row.model for row in board.rows] == ["ours", "base"]
    for row in board.rows:
        own = models[row.model]
        means = [np.mean([own[name][seed].mean() for name in SUITE]) for seed in "012"]
        assert row.seed_means == pytest.approx(means) and row.estimate == pytest.approx(
            np.mean(means)
        )
        assert (row.n_seeds, row.seeds, len(row.run_ids)) == (3, ("0", "1", "2"), 6)
        assert row.standard_error >= np.std(means, ddof=1) / np.sqrt(3) - 1e-12
    assert any("training seeds count as noise" in note for note in board.notes)
    assert "3: 64.2 - 70.0" in str(board)  # seeds, and between which figures they lie


def test_the_order_of_rows_in_a_file_changes_nothing(
    filled: Filled, tmp_path: Path
) -> None:
    models = {"ours": drawn(1, 0.5), "base": drawn(2)}
    boards = []
    for turned in (False, True):
        store = connect(f"duckdb:///{tmp_path / f'turned{turned}.duckdb'}")
        path = tmp_path / "table.csv"
        path.write_text(as_table(models, turned=turned))
        store.ingest(path)
        boards.append(store.leaderboard(SUITE))
    for one, other in zip(*(board.rows for board in boards), strict=True):
        assert (one.model, one.statistical_rank, one.flags) == (
            other.model,
            other.statistical_rank,
            other.flags,
        )
        assert (one.estimate, one.ci_low, one.ci_high) == pytest.approx(
            (other.estimate, other.ci_low, other.ci_high)
        )


def test_each_seed_stands_apart_where_asked_for(filled: Filled) -> None:
    board = filled({"ours": drawn(1)}).leaderboard(SUITE, each="seed")
    assert {row.condition for row in board.rows} == {
        f"training_seed={s}" for s in "012"
    }
    sampled = filled({"ours": drawn(1)}).leaderboard(SUITE, seeds_are="sampling")
    assert len(sampled.rows) == 1 and sampled.rows[0].n_seeds is None


def test_a_seed_without_every_benchmark_is_left_out_and_named(filled: Filled) -> None:
    own = drawn(3)
    own["words"].pop("2")
    (row,) = filled({"ours": own}).leaderboard(SUITE).rows
    means = [np.mean([own[name][seed].mean() for name in SUITE]) for seed in "01"]
    assert row.estimate == pytest.approx(np.mean(means)) and row.n_seeds == 2
    assert any("seed 2 left out: it has sums" in note for note in row.notes)


def test_a_benchmark_with_one_run_is_said(filled: Filled) -> None:
    own = drawn(3)
    own["words"] = {"0": own["words"]["0"]}
    board = filled({"ours": own}).leaderboard(SUITE)
    (row,) = board.rows
    sums = np.mean([scores.mean() for scores in own["sums"].values()])
    assert row.estimate == pytest.approx((sums + own["words"]["0"].mean()) / 2)
    assert "one_seed" in row.flags and row.n_seeds == 3
    assert any("one run on words" in note for note in board.notes)


def test_other_seeds_on_each_benchmark_count_as_independent(filled: Filled) -> None:
    own = drawn(4)
    own["words"] = {str(int(seed) + 5): scores for seed, scores in own["words"].items()}
    board = filled({"ours": own}).leaderboard(SUITE)
    (row,) = board.rows
    assert row.seed_means == () and row.n_seeds == 3
    assert any("count as independent" in note for note in board.notes)


def test_two_seeds_that_say_nothing_take_no_place(filled: Filled) -> None:
    apart = {
        name: {"0": np.arange(n) % 10 < 4, "1": np.arange(n) % 10 < 9}
        for name, n in _SIZES.items()
    }
    board = filled({"apart": apart, "base": drawn(2)}).leaderboard(SUITE)
    row = next(row for row in board.rows if row.model == "apart")
    assert (
        row.rank is None
        and row.no_place == "too few seeds"
        and "seeds_too_few" in row.flags
    )
    assert any(
        "too few for an interval, and for a place" in note for note in board.notes
    )


def test_a_comparison_has_a_mean_over_benchmarks_that_knows_of_the_seeds(
    filled: Filled,
) -> None:
    models = {"ours": drawn(1, 0.5), "base": drawn(2)}
    comparison = filled(models).compare("ours", "base")
    overall = comparison.overall
    assert overall is not None
    means = {
        model: [np.mean([own[name][seed].mean() for name in SUITE]) for seed in "012"]
        for model, own in models.items()
    }
    of_seeds = sum(np.var(own, ddof=1) / 3 for own in means.values())
    assert overall.difference == pytest.approx(
        np.mean(means["ours"]) - np.mean(means["base"])
    )
    assert overall.standard_error >= np.sqrt(of_seeds)
    assert overall.p_permutation is None and overall.method.startswith("seeds_and_")
    board = filled(models).leaderboard(SUITE)
    assert overall.p_value < 0.05 or {row.statistical_rank for row in board.rows} == {1}
    paired = filled(models).compare("ours", "base", pair_seeds=True).overall
    assert paired is not None and paired.p_value != overall.p_value
    turned = filled(models).compare("base", "ours").overall
    assert turned is not None and turned.p_value == pytest.approx(overall.p_value)


def test_a_comparison_leaves_out_a_seed_without_every_benchmark(filled: Filled) -> None:
    ours, base = drawn(1, 0.5), drawn(2)
    ours["words"].pop("2")
    comparison = filled({"ours": ours, "base": base}).compare("ours", "base")
    assert comparison.overall is not None
    kept = np.mean(
        [np.mean([ours[name][seed].mean() for seed in "01"]) for name in SUITE]
    )
    assert comparison.overall.mean_a == pytest.approx(kept)
    assert any("seed 2 of ours left out" in why for why in comparison.left_out)


def test_repeats_that_differ_have_no_figure_on_a_suite(
    duckdb_url: str, tmp_path: Path, run: Caller
) -> None:
    rows = ["model,run_id,benchmark,prompt_id,score"]
    for model in ("good", "odd"):
        for run_id in ("r1", "r2"):
            for name in SUITE:
                right = 0.2 if (model, run_id, name) == ("odd", "r2", "sums") else 0.8
                rows += [
                    f"{model},{run_id}{name},{name},{name}{i},{int(i % 10 < right * 10)}"
                    for i in range(60)
                ]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(rows) + "\n")
    store = connect(duckdb_url)
    store.ingest(path)
    board = store.leaderboard(SUITE)
    odd = next(row for row in board.rows if row.model == "odd")
    assert odd.rank is None and odd.n_missing == 1
    assert any("sums: no one figure: odd: runs" in note for note in board.notes)
    pooled = store.leaderboard(SUITE, repeats="pool")
    assert all(row.n_missing == 0 for row in pooled.rows)


def test_published_figures_of_seeds_have_the_error_of_the_seeds(
    duckdb_url: str, tmp_path: Path
) -> None:
    figures = {"sums": (0.5, 0.6, 0.7), "words": (0.4, 0.6, 0.5)}
    rows = ["model,seed,benchmark,accuracy,n"]
    for name, own in figures.items():
        rows += [f"ours,{seed},{name},{value},200" for seed, value in enumerate(own)]
    path = tmp_path / "figures.csv"
    path.write_text("\n".join(rows) + "\n")
    (tmp_path / "figures.toml").write_text(_FIGURES)
    store = connect(duckdb_url)
    store.ingest(path, mapping=tmp_path / "figures.toml")
    (row,) = store.leaderboard(SUITE).rows
    means = np.mean(list(figures.values()), axis=0)
    assert row.seed_means == pytest.approx(means.tolist())
    assert row.standard_error == pytest.approx(means.std(ddof=1) / np.sqrt(3))
    assert "published" in row.flags and row.ci_low is not None
