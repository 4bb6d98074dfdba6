"""Recipes at two scales: accuracies, ceilings and plans against figures worked out
here."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import Caller, on_a_terminal
from tests.support.stores import store_at
from tests.support.tabular import ROOT
from warehouse.analysis.recipes.answer import recipes
from warehouse.analysis.recipes.row import RecipesRow
from warehouse.errors import MisuseError, StatisticsError
from warehouse.ingest.pipeline import ingest
from warehouse.stats.training.seed_planning import (
    cheapest_plan,
    decision_accuracy,
    decision_ceiling,
)
from warehouse.stats.training.signal_to_noise import signal_to_noise
from warehouse.store.connection import Store
from warehouse.store.curate.field_clusters import cluster_by
from warehouse.store.open import open_store

MIXES, SEEDS, STEPS = 7, 3, tuple(range(100, 900, 100))
MAPPING = """
files = ["runs.csv"]
[run]
model = "model"
recipe = "mix"
training_seed = "seed"
parameter_count = "size"
step = "step"
benchmark = "benchmark"
[[published]]
metric = "acc"
value = "value"
[metrics.acc]
kind = "bounded"
low = 0
high = 1
higher_is_better = true
is_default = true
"""


def figures() -> dict[tuple[int, str], np.ndarray]:
    """By size and benchmark: mixes x seeds x steps (one run of each mix at the large
    size)."""
    dice = np.random.default_rng(11)
    found = {}
    for name, spread in (("clear", 0.05), ("noise", 0.0)):
        quality = np.linspace(-1, 1, MIXES) * spread
        for size, seeds in ((100, SEEDS), (900, 1)):
            shape = (MIXES, seeds, len(STEPS))
            seed_part = dice.normal(0, 0.01, shape[:2])[:, :, None]
            found[size, name] = (
                0.5 + quality[:, None, None] + seed_part + dice.normal(0, 0.005, shape)
            )
    return found


def fill(folder: Path, lines: list[str]) -> str:
    (folder / "runs.csv").write_text(
        "model,mix,seed,size,step,benchmark,value\n" + "\n".join(lines) + "\n"
    )
    (folder / "mapping.toml").write_text(MAPPING)
    url = store_at(folder / "store.duckdb")
    with open_store(url, write=True) as store:
        assert not ingest(store, [folder], mapping=folder / "mapping.toml").refused
    return url


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    lines = [
        f"m{mix}-{size},mix-{mix},{seed},{size},{step},{name},{float(x[mix, seed, place])!r}"
        for (size, name), x in figures().items()
        for mix in range(MIXES)
        for seed in range(x.shape[1])
        for place, step in enumerate(STEPS)
    ]
    return fill(tmp_path_factory.mktemp("recipes"), lines)


SMALL, LARGE = ["parameter_count=100"], ["parameter_count=900"]


def by_name(rows: tuple[RecipesRow, ...]) -> dict[str, RecipesRow]:
    return {row.benchmark: row for row in rows}


def test_accuracy_and_ceiling(world: Store) -> None:
    rows, x = by_name(recipes(world, small=SMALL, large=LARGE).rows), figures()
    for name, row in rows.items():
        small, large = x[100, name][:, :, -1], x[900, name][:, 0, -1]
        oracle = decision_accuracy(small.mean(axis=1), large)
        assert (row.accuracy, row.accuracy_low, row.n_both) == (
            oracle.accuracy,
            oracle.ci_low,
            MIXES,
        )
        noise, spread = (
            small.var(axis=1, ddof=1).mean() / SEEDS,
            small.mean(axis=1).var(ddof=1),
        )
        assert (row.noise_sd, row.recipe_sd) == (
            pytest.approx(math.sqrt(noise)),
            pytest.approx(math.sqrt(spread)),
        )
        # the large scale has neither seeds nor sixteen checkpoints: taken without noise
        assert row.ceiling == pytest.approx(
            decision_ceiling(max(0, 1 - noise / spread), 1)
        )
    clear = rows["clear"]
    assert (
        clear.verdict == "better than chance"
        and clear.accuracy is not None
        and clear.n_decides is not None
    )
    assert (
        clear.accuracy > 0.9
        and clear.noise_from == "seeds"
        and clear.n_decides == clear.n_decides_right > 0
    )
    assert clear.sentence.startswith(
        "clear ranks recipes better than chance: the small scale has"
    )
    assert (
        rows["noise"].verdict != "decides"
        and "`warehouse training decide` at the small scale" in rows["noise"].sentence
    )
    snr = signal_to_noise(x[100, "clear"].mean(axis=1)[:, -4:])
    assert (
        rows["clear"].signal_to_noise,
        rows["clear"].signal_to_noise_low,
    ) == pytest.approx((snr.snr, snr.ci_low))


def test_the_plan_is_that_of_the_pooled_variances(world: Store) -> None:
    row = by_name(
        recipes(world, small=SMALL, delta=0.02, run_cost=10, checkpoint_cost=1).rows
    )["clear"]
    x = figures()[100, "clear"][:, :, -4:]
    residual = (
        x
        - x.mean(axis=2, keepdims=True)
        - x.mean(axis=1, keepdims=True)
        + x.mean(axis=(1, 2), keepdims=True)
    )
    error = (residual**2).sum() / (MIXES * (SEEDS - 1) * 3)
    between = x.mean(axis=2).var(axis=1, ddof=1).mean() - error / 4
    assert (row.jitter, row.seed_sd) == (
        pytest.approx(math.sqrt(error)),
        pytest.approx(math.sqrt(between)),
    )
    oracle = cheapest_plan(
        0.02,
        seed_variance=between,
        jitter_variance=error,
        most_averaged=4,
        run_cost=10,
        checkpoint_cost=1,
    )
    assert (row.n_seeds, row.averaged, row.cost) == (
        oracle.n_seeds,
        oracle.averaged,
        oracle.cost,
    )
    assert row.power is not None and row.power >= 0.8 and row.least_prompts is None
    poor = by_name(recipes(world, small=SMALL, delta=0.02, budget=3).rows)["clear"]
    assert poor.power_in_budget == 0 and "beyond the budget" in poor.plan_reason


def test_one_seed_cannot_be_planned_for(world: Store) -> None:
    row = recipes(world, small=LARGE, delta=0.02).rows[0]
    assert (row.n_seeds, row.ceiling, row.verdict, row.noise_from) == (
        None,
        None,
        "cannot tell",
        "",
    )
    assert (
        "second training seed" in row.plan_reason
        and "a second training seed of one would show" in row.sentence
    )


def test_runs_of_different_lengths_are_told(tmp_path: Path) -> None:
    lines = [f"m{mix},mix-{mix},1,1,{100 * (1 + mix)},quiz,0.{mix}" for mix in range(3)]
    with open_store(fill(tmp_path, lines)) as store:
        (row,) = recipes(store, large=["step=100"]).rows
    assert row.flags == ("mixed_lengths",) and (row.n_both, row.accuracy) == (1, None)
    assert row.accuracy_reason == "1 recipe at both scales"


def test_what_cannot_be_answered(world: Store) -> None:
    with pytest.raises(
        MisuseError, match="no benchmark has two recipes with parameter_count=5"
    ):
        recipes(world, small=["parameter_count=5"])
    with pytest.raises(MisuseError, match="did you mean"):
        recipes(world, ["clears"])
    for wrong in ({"delta": 0.0}, {"run_cost": 0.0}):
        with pytest.raises(MisuseError, match="found"):
            recipes(world, **{"delta": 0.02, **wrong})
    for outside in ({"power": 1.0}, {"averaged": 0}, {"budget": -1.0}):
        with pytest.raises(StatisticsError, match="must be .*, found"):
            recipes(world, **outside)  # type: ignore[arg-type]
    rows = recipes(world, small=SMALL, delta=0.02, prompts_sampled=True).rows
    assert all(
        "scores of the prompts are not stored" in row.plan_reason for row in rows
    )


def test_prompts_as_a_sample(tmp_path: Path) -> None:
    dice = np.random.default_rng(12)
    lines = ["model,recipe,benchmark,seed,step,prompt_id,score,topic"]
    for mix, share in (("a", 0.4), ("b", 0.6)):
        for seed in (1, 2, 3):
            right = np.repeat(dice.random(8), 10) * 0.7 + dice.random(80) * 0.3 < share
            lines += [
                f"{mix},{mix},quiz,{seed},5,p{n},{int(ok)},t{n // 10}"
                for n, ok in enumerate(right)
            ]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    with open_store(store_at(tmp_path / "s.duckdb"), write=True) as store:
        assert not ingest(store, [tmp_path]).refused
        fixed, sampled = (
            recipes(store, delta=0.3, prompts_sampled=flag).rows[0]
            for flag in (False, True)
        )
        cluster_by(store, "quiz", ["topic"], default=True)
        in_clusters = recipes(store, delta=0.3, prompts_sampled=True).rows[0]
    assert (
        fixed.n_prompts == 80
        and fixed.least_prompts is not None
        and fixed.jitter is None
    )
    assert (
        fixed.n_seeds is not None
        and sampled.n_seeds is not None
        and sampled.n_seeds >= fixed.n_seeds
    )
    assert (
        in_clusters.least_prompts is not None
        and in_clusters.least_prompts > 3 * fixed.least_prompts
    )


def test_the_command(run: Caller, url: str) -> None:
    call = (
        "training",
        "recipes",
        "--small",
        SMALL[0],
        "--large",
        LARGE[0],
        "--delta",
        "0.02",
        "--run-cost",
        "10",
    )
    said = run(*call, db=url).out
    assert (
        said.startswith("clear ranks recipes better than chance")
        and "can be found with 80 % power on 2 of 2" in said
    )
    assert max(map(len, on_a_terminal(80, "--db", url, *call))) <= 80
    rows = run(
        "training", "recipes", "clear", "--small", SMALL[0], "--json", db=url
    ).rows
    assert rows[0]["verdict"] == "may decide" and rows[0]["accuracy"] is None
    nowhere = run(
        "training",
        "recipes",
        "clear",
        "--small",
        SMALL[0],
        "--large",
        "parameter_count=5",
        "--json",
        db=url,
    ).rows
    assert (
        nowhere[0]["verdict"] == "cannot tell"
    )  # what noise allows is no answer to what a large scale says
    run("training", "recipes", "--small", "parameter_count=5", db=url).fails(
        2, "two recipes"
    )


#: Share of pairs that two scales order alike, by the README of the data, where nothing
#: is tied.
S_TO_L = {
    "low_variance_datasets": 14,
    "Core": 13,
    "Extended": 13,
    "hellaswag": 11,
    "arc_easy": 13,
    "arc_challenge": 12,
    "piqa": 12,
    "lambada_openai": 13,
    "coqa": 15,
    "boolq": 4,
    "mmlu_fewshot": 8,
}
M_TO_L = {
    "low_variance_datasets": 32,
    "Core": 31,
    "Extended": 29,
    "hellaswag": 32,
    "arc_easy": 30,
    "arc_challenge": 33,
    "piqa": 29,
    "lambada_openai": 33,
    "coqa": 31,
    "boolq": 24,
    "mmlu_fewshot": 19,
}


@pytest.mark.slow  # test_accuracy_and_ceiling and tests/stats/test_seed_pool.py have oracles by day
def test_decision_accuracies_of_dclm(data_dir: Path, tmp_path: Path) -> None:
    url = f"duckdb:///{tmp_path / 's.duckdb'}"
    mapping = ROOT / "docs" / "mappings" / "dclm_database.toml"
    with open_store(url, create=True, write=True) as store:
        assert not ingest(store, [data_dir / "dclm_database"], mapping=mapping).refused
    small = ["parameter_count=411616256", "tokens=8232325120"]
    middle = ["parameter_count=1.4B", "tokens=28.8B"]
    large = ["parameter_count=6889410560", "tokens=137788211200"]
    with open_store(url) as store:
        for scale, hits, n_pairs, tied in (
            (
                small,
                S_TO_L,
                15,
                {"winogrande": (6, 14), "copa": (7, 11), "gsm8k": (3, 6)},
            ),
            (
                middle,
                M_TO_L,
                36,
                {"winogrande": (30, 33), "copa": (22, 33), "gsm8k": (11, 21)},
            ),
        ):
            rows = by_name(
                recipes(store, [*hits, *tied], small=scale, large=large).rows
            )
            for name, count in hits.items():
                assert (rows[name].accuracy, rows[name].n_pairs) == (
                    pytest.approx(count / n_pairs),
                    n_pairs,
                )
                assert rows[name].agreements == count
            # without pairs tied at either scale, as the README counts
            for name, (hits_there, of) in tied.items():
                row = rows[name]
                assert row.n_pairs is not None and row.ties_small is not None
                assert (row.agreements, row.n_pairs - row.ties_small) == (
                    hits_there,
                    of,
                )
        assert rows["gsm8k"].n_both == 7
        arc = rows["arc_challenge"]
        assert (arc.verdict, arc.n_decides, arc.n_decides_right) == (
            "better than chance",
            19,
            19,
        )
        assert (
            "about 19 recipes at both scales would show whether it is 80 %"
            in arc.sentence
        )
