"""Rows of published dumps, by the commands that people use: figures worked out by
independent code."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from warehouse import connect
from warehouse.stats import paired_difference, repeats_test, row_over_seeds
from warehouse.store.open import open_store


def needs(folder: Path) -> Path:
    if not folder.exists():
        pytest.skip(f"no {folder.name} in {folder.parent}")
    return folder


def rewards(path: Path) -> dict[str, list[float]]:
    """Rewards of each prompt of a verifiers run, in the order of its draws."""
    found: dict[str, list[float]] = {}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        found.setdefault(json.dumps(row["prompt"]), []).append(row["reward"])
    return found


def test_gr10_published_figures_of_ten_seeds(data_dir: Path, duckdb_url: str) -> None:
    store = connect(duckdb_url)
    store.ingest(
        needs(data_dir / "pythia" / "polypythias"), mapping="pythia_training_maps"
    )
    (row,) = store.leaderboard("training_map").rows
    assert row.estimate == pytest.approx(0.9532805961, rel=1e-9)
    assert row.seed_sd == pytest.approx(0.2684499881, rel=1e-9)
    assert (row.ci_high - row.ci_low) / 2 == pytest.approx(0.1920375529, rel=1e-9)
    assert (row.n_seeds, row.n_checkpoints) == (10, 27)


def test_gr11_the_last_of_27_checkpoints(data_dir: Path, duckdb_url: str) -> None:
    """The row is the last checkpoint, never the best; how the earlier ones were spread
    over devices says nothing."""
    store = connect(duckdb_url)
    store.ingest(needs(data_dir / "pythia") / "evals" / "pythia-v1" / "pythia-70m")
    (row,) = store.leaderboard("lambada_openai", metric="acc").rows
    assert (row.estimate, row.n_checkpoints) == (
        pytest.approx(0.1845526878, rel=1e-9),
        27,
    )
    (best, *_) = store.leaderboard(
        "lambada_openai", metric="acc", each="checkpoint"
    ).rows
    assert (best.estimate, "step=53000" in best.condition) == (
        pytest.approx(0.2534445954, rel=1e-9),
        True,
    )
    (averaged,) = store.seeds(["lambada_openai"], metric="acc", averaged=4).rows
    assert averaged.seed_mean == pytest.approx(0.1995924704, rel=1e-9)


def test_gr15_draws_that_are_no_seeds(data_dir: Path) -> None:
    folder = needs(data_dir / "verifiers")
    path = (
        folder
        / "math_python/outputs/evals/math-python--gpt-4.1-mini/49a7458f/results.jsonl"
    )
    cells = np.array([own for _, own in sorted(rewards(path).items())]).T
    assert cells.shape == (3, 5)
    row = row_over_seeds(cells, bounds=(0, 1))
    assert row.estimate == pytest.approx(0.7933333333, rel=1e-9)
    assert (row.v_prompts, row.v_seeds, row.v_interaction) == pytest.approx(
        (0.01715555556, 4.444444444e-05, 0.01115555556), rel=1e-9
    )
    assert (row.ci_low, row.ci_high) == pytest.approx(
        (0.3515613076, 0.9677713159), rel=1e-7
    )
    test = repeats_test(cells)
    assert (test.statistic, test.p_value) == pytest.approx(
        (0.009950248756, 0.9950372311), rel=1e-7
    )


def test_gr15_one_run_against_another(data_dir: Path) -> None:
    folder = needs(data_dir / "verifiers") / "wiki_search/outputs/evals"
    sides = [
        rewards(next(folder.glob(f"wiki-search--{name}/*/results.jsonl")))
        for name in ("gpt-4.1", "gpt-4.1-mini")
    ]
    common = sorted(sides[0].keys() & sides[1].keys())
    a, b = (np.array([np.mean(side[key]) for key in common]) for side in sides)
    found = paired_difference(a, b)
    assert found.difference == pytest.approx(0.1, rel=1e-9)
    # the golden is by t; the interval of rewards 0 and 1 is another by default
    half = scipy.stats.t.ppf(0.975, found.degrees_of_freedom) * found.standard_error
    assert (0.1 - half, 0.1 + half) == pytest.approx(
        (0.03385943495, 0.1661405651), rel=1e-8
    )
    assert found.p_value == pytest.approx(0.003415507922, rel=1e-8)


def test_gr16_edit_formats_are_rows_of_their_own(
    data_dir: Path, duckdb_url: str
) -> None:
    store = connect(duckdb_url)
    store.ingest(needs(data_dir / "aider") / "polyglot_leaderboard.yml")
    with open_store(duckdb_url) as opened:
        ((name,),) = (
            row.values()
            for row in opened.rows("select distinct benchmark from run_current")
        )
    rows = [
        row
        for row in store.leaderboard(name).rows
        if row.model.endswith("Qwen2.5-Coder-32B-Instruct")
    ]
    assert sorted(round(row.estimate * 225) for row in rows) == [18, 37]
    assert {row.runs for row in rows} == {1}
