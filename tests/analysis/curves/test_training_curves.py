"""Curves from a store: against the statistics on arrays that the test reads itself."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.support.cli import Caller, on_a_terminal
from tests.support.tabular import ROOT
from warehouse.analysis.curves.answer import curves
from warehouse.errors import MisuseError
from warehouse.ingest.pipeline import ingest
from warehouse.stats import estimate_mean
from warehouse.stats.multiple.adjust import holm
from warehouse.stats.training.seed_means import seed_mean
from warehouse.store.connection import Store
from warehouse.store.open import open_store

N, STEPS = 150, (100, 200, 400, 800, 1600)
#: Share of right answers by step: ``cloze`` is ahead early, ``choice`` late, and falls
#: once.
SHARES = {
    "cloze": (0.25, 0.40, 0.48, 0.50, 0.52),
    "choice": (0.25, 0.25, 0.30, 0.80, 0.60),
}
MAPPING = """
files = ["*.jsonl"]
[run]
model = "model"
recipe = "recipe"
training_seed = "seed"
step = "step"
benchmark = "benchmark"
[sample]
prompt_id = "id"
choices = "options"
[[scores]]
metric = "acc"
value = "ok"
[metrics.acc]
kind = "binary"
higher_is_better = true
is_default = true
"""


def answers(
    model: str, benchmark: str, seed: int, shares: tuple[float, ...]
) -> Iterator[dict[str, object]]:
    dice = np.random.default_rng([seed, len(model), len(benchmark)])
    for step, share in zip(STEPS, shares, strict=True):
        for prompt, ok in enumerate(dice.random(N) < share):
            row = {
                "model": model,
                "recipe": model,
                "seed": str(seed),
                "step": step,
                "benchmark": benchmark,
            }
            yield row | {
                "id": f"q{prompt}",
                "options": ["a", "b", "c", "d"],
                "ok": int(ok),
            }


def write(folder: Path) -> Path:
    rows = [
        row
        for model, seeds in (("org/many", (1, 2, 3, 4, 5)), ("org/one", (1,)))
        for formulation, shares in SHARES.items()
        for seed in seeds
        for row in answers(model, formulation, seed, shares)
    ]
    (folder / "answers.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    (folder / "mapping.toml").write_text(MAPPING)
    return folder


def fill(url: str, folder: Path, mapping: Path) -> None:
    with open_store(url, create=True, write=True) as store:
        assert not ingest(store, [folder], mapping=mapping).refused


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = write(tmp_path_factory.mktemp("curves"))
    found = f"duckdb:///{folder / 'store.duckdb'}"
    fill(found, folder, folder / "mapping.toml")
    return found


def right(store: Store, model: str, benchmark: str) -> np.ndarray:
    """Scores, seeds x steps x prompts."""
    rows = store.arrow(
        "select training_seed, position, prompt_id, value from prompt_score p join "
        "run_current r on"
        f" r.run_id = p.run_id where r.model = '{model}' and r.benchmark = "
        f"'{benchmark}' order by 1, 2, 3"
    ).to_pylist()
    return np.array([row["value"] for row in rows]).reshape(-1, len(STEPS), N)


def test_one_seed_is_tested_exactly_over_its_prompts(world: Store) -> None:
    found = curves(world, "choice", ["one"])
    (row,), x = found.rows, right(world, "org/one", "choice")[0]
    assert (row.chance, row.chance_from, row.n_prompts, row.band) == (
        0.25,
        "options",
        N,
        "prompts",
    )
    p = holm(
        [
            stats.binomtest(int(k), N, 0.25, alternative="greater").pvalue
            for k in x.sum(axis=1)
        ]
    )
    assert [point.p_above_chance for point in found.checkpoints] == pytest.approx(p)
    assert (row.above_chance_at, row.above_chance_from) == (
        STEPS[np.flatnonzero(p <= 0.05)[0]],
        800,
    )
    falls = [
        stats.binomtest(
            int((a > b).sum()), int((a != b).sum()), 0.5, alternative="greater"
        ).pvalue
        for a, b in zip(x, x[1:], strict=False)
    ]
    assert [point.p_drop for point in found.checkpoints[1:]] == pytest.approx(
        holm(falls)
    )
    assert (row.n_drops, row.largest_drop_at) == (1, 1600)
    assert row.largest_drop == pytest.approx(x[4].mean() - x[3].mean())


def test_several_seeds_have_the_band_of_both(world: Store) -> None:
    found = curves(world, "choice", ["many"])
    x = right(world, "org/many", "choice")
    for place, point in enumerate(found.checkpoints):
        oracle = seed_mean(x[:, place])
        assert (
            point.score == pytest.approx(x[:, place].mean())
            and point.band == "seeds and prompts"
        )
        assert (point.ci_low, point.ci_high) == pytest.approx(oracle.interval())
    assert found.rows[0].above_chance_from == 800 and found.rows[0].n_seeds == 5


def test_a_band_in_clusters_is_no_narrower_than_that_of_the_prompts(
    tmp_path: Path, run: Caller
) -> None:
    """.95 right, 3 to 5 seeds, 5 to 8 clusters: seeds and CR2 alone covered .87 to .91,
    now .98."""
    x = np.ones((3, 80))
    x[:, :3] = x[1, 11] = 0
    lines = ["model,benchmark,training_seed,step,prompt_id,score,topic"]
    lines += [
        f"m,quiz,{s},{step},p{i},{int(x[s, i])},t{i // 10}"
        for s in range(3)
        for step in (5, 6)
        for i in range(80)
    ]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    db = str(tmp_path / "s.duckdb")
    assert (
        run("ingest", str(tmp_path / "scores.csv"), "--cluster-by", "topic", db=db).code
        == 0
    )
    with open_store(f"duckdb:///{db}") as store:
        point = curves(store, "quiz").checkpoints[1]
    labels = np.arange(80) // 10
    own = estimate_mean(
        x.mean(axis=0), clusters=labels, bounds=(0, 1), n_draws=np.full(80, 2.0)
    )
    alone = seed_mean(x, clusters=labels).interval()
    assert alone and own.ci_low is not None and own.ci_low < alone[0]
    assert point.ci_low == pytest.approx(own.ci_low) and point.ci_high == 1


def test_two_formulations_cross(world: Store) -> None:
    found = curves(world, "choice", against="cloze")
    assert (
        len(found.rows) == 4 and found.kendall is None
    )  # two recipes are too few to correlate
    for row in found.rows:
        assert (row.crossing_low, row.crossing_high) == (
            400,
            800,
        ) and row.crossing is not None
        assert "cloze is ahead until step 400, choice from 800" in row.crossing_in_words
    assert {(row.benchmark, row.other) for row in found.rows} == {
        ("choice", "cloze"),
        ("cloze", "choice"),
    }
    # choice has 0.80, then 0.60 against 0.50 and 0.52: the first change is the one
    # shown
    other = curves(world, "cloze", against="choice")
    assert {row.crossing for row in other.rows} == {row.crossing for row in found.rows}


def test_two_models_that_do_not_cross(world: Store) -> None:
    found = curves(world, "cloze", ["many", "one"])
    assert [row.other for row in found.rows] == [found.rows[1].name, found.rows[0].name]
    assert all("none of 5 checkpoints" in row.crossing_in_words for row in found.rows)
    alone = curves(world, "cloze", ["one@step=400"])
    assert alone.rows[0].n_checkpoints == 3 and alone.rows[0].other == ""


def test_a_chance_that_is_given_stands_above_the_options(world: Store) -> None:
    (row,) = curves(world, "choice", ["one"], chance=0.7).rows
    assert (row.chance, row.chance_from, row.above_chance_at) == (0.7, "given", 800)
    assert row.above_chance_from is None
    with pytest.raises(MisuseError, match="chance must be a number"):
        curves(world, "choice", chance=math.nan)


def test_what_cannot_be_answered(world: Store) -> None:
    with pytest.raises(MisuseError, match="did you mean"):
        curves(world, "choices")
    with pytest.raises(MisuseError, match="no model with runs"):
        curves(world, "choice", ["nobody"])
    with pytest.raises(MisuseError, match="two checkpoints on choice"):
        curves(world, "choice", where=["step=100"])


def published(tmp_path: Path, lines: list[str], more: str = "") -> Store:
    """A store of published figures: model, benchmark, seed, place, unit and figure."""
    (tmp_path / "figures.csv").write_text(
        "model,seed,step,tokens,value\n" + "\n".join(lines) + "\n"
    )
    mapping = (
        'files = ["figures.csv"]\n'
        "[run]\n"
        'model = "model"\n'
        'training_seed = "seed"\n'
        'step = "step"\n'
        'tokens = "tokens"\n'
        'benchmark = { const = "quiz" }\n'
        "[[published]]\n"
        'metric = "acc"\n'
        'value = "value"\n'
        "[metrics.acc]\n"
        'kind = "bounded"\nlow = 0\nhigh = 1\nis_default = true\n' + more
    )
    url = f"duckdb:///{tmp_path / 's.duckdb'}"
    (tmp_path / "mapping.toml").write_text(mapping)
    fill(url, tmp_path, tmp_path / "mapping.toml")
    return open_store(url)


UP = "higher_is_better = true\nchance_level = 0.2\n"


def test_figures_of_seeds_without_prompts(tmp_path: Path) -> None:
    values = {1: (0.21, 0.5, 0.7), 2: (0.19, 0.52, 0.71), 3: (0.2, 0.51, 0.68)}
    lines = [
        f"m,{s},{t},,{v}"
        for s, row in values.items()
        for t, v in zip((1, 2, 3), row, strict=True)
    ]
    with published(tmp_path, [*lines, "m,1,4,,0.9"], UP) as store:
        found = curves(store, "quiz")
    (row,) = found.rows
    assert (row.band, row.chance, row.chance_from, row.above_chance_from) == (
        "seeds",
        0.2,
        "metric",
        2,
    )
    assert (row.n_checkpoints, row.n_left_out) == (3, 1)
    t = stats.ttest_1samp([0.7, 0.71, 0.68], 0).confidence_interval()
    assert (row.ci_low, row.ci_high) == pytest.approx((t.low, t.high))
    by_seed = np.array(list(values.values()))
    falls = [
        stats.ttest_1samp(d, 0, alternative="less").pvalue for d in np.diff(by_seed).T
    ]
    assert [point.p_drop for point in found.checkpoints[1:]] == pytest.approx(
        holm(falls)
    )


def test_a_constant_curve_and_one_without_errors_have_no_test(tmp_path: Path) -> None:
    lines = [f"flat,{s},{t},,0.5" for s in (1, 2) for t in (1, 2)] + [
        "lone,1,1,,0.5",
        "lone,1,2,,0.4",
    ]
    with published(tmp_path, lines, UP) as store:
        flat, lone = curves(store, "quiz").rows
    assert (
        flat.n_drops is None
        and flat.above_chance_at is None
        and "nothing changes" in flat.reason
    )
    assert (
        flat.ci_low is None
        and lone.ci_low is None
        and "nothing can be tested" in lone.reason
    )


def test_seeds_that_share_no_checkpoint_and_units_that_differ(tmp_path: Path) -> None:
    lines = [
        "apart,1,1,,0.5",
        "apart,2,2,,0.6",
        "steps,1,1,,0.5",
        "steps,1,2,,0.6",
        "tokens,1,,5,0.5",
    ]
    with published(
        tmp_path, [*lines, "tokens,1,,6,0.4", "seeds,1,1,,0.5", "seeds,2,1,,0.5"], UP
    ) as store:
        with pytest.raises(
            MisuseError, match="by its headline metric; a mapping or --set"
        ):
            curves(store, "quiz", where=["model=seeds"])
        apart = next(row for row in curves(store, "quiz").rows if row.model == "apart")
        with pytest.raises(
            MisuseError, match="counted in step, those of tokens in tokens"
        ):
            curves(store, "quiz", ["steps", "tokens"])
    assert "no checkpoint in common" in apart.reason and apart.last is None


def test_no_direction_no_drop(tmp_path: Path) -> None:
    lines = [
        f"{m},{s},{t},,{m == 'm2' and t == 2 or 0.1 * t + 0.01 * s * t}"
        for m in ("m", "m2")
        for s in (1, 2, 3)
        for t in (1, 2)
    ]
    with published(tmp_path, lines) as store:
        row, other = curves(store, "quiz", chance=0.05).rows
    assert other.crossing_in_words.endswith(
        "m2 is significantly above at 1 of 2 checkpoints, m at none"
    )
    assert row.n_drops is None and row.chance is None
    assert (
        "not known whether a higher" in row.reason
        and "not known whether" in row.chance_reason
    )


def test_the_command(run: Caller, url: str) -> None:
    said = run("training", "curves", "choice", "one", db=url).out
    heading, finding = said.splitlines()[:2]
    assert heading.startswith("choice · ") and heading.endswith(" · 1 curve over step")
    assert finding.startswith("org/one")
    assert "above chance (25.0 % by the options) from step 800 on" in finding
    assert "1 significant drop, by" in finding
    explained = run("training", "curves", "choice", "one", "--explain", db=url).out
    assert "tests are corrected over checkpoints (Holm)" in explained
    assert "Spearman" in explained
    assert "Spearman" not in said
    assert (
        max(map(len, on_a_terminal(80, "--db", url, "training", "curves", "choice")))
        <= 80
    )
    rows = run(
        "training", "curves", "choice", "one", "--checkpoints", "--json", db=url
    ).rows
    assert [row["position"] for row in rows] == list(STEPS) and rows[4]["is_drop"]
    assert (
        run(
            "training", "curves", "choice", "--against", "cloze", "--json", db=url
        ).rows[0]["crossing_low"]
        == 400
    )
    assert (
        "they cross between"
        in run("training", "curves", "choice", "--against", "cloze", db=url).out
    )
    run("training", "curves", "other", db=url).fails(2, "no benchmark")


def test_published_curves_of_two_runs(data_dir: Path, tmp_path: Path) -> None:
    """The README of the training curves: 62 common checkpoints, tr12a ahead at 38 on
    hellaswag acc_norm."""
    url = f"duckdb:///{tmp_path / 's.duckdb'}"
    fill(
        url,
        data_dir / "training_curves",
        ROOT / "docs" / "mappings" / "training_curves.toml",
    )
    with open_store(url) as store:
        found = curves(store, "hellaswag", metric="acc_norm")
    first, second = (
        {p.position: p.score for p in found.checkpoints if p.model == row.model}
        for row in found.rows
    )
    differences = [first[u] - second[u] for u in first if u in second]
    assert len(differences) == 62 and sum(d > 0 for d in differences) == 38
    assert np.mean(differences) == pytest.approx(0.002165100127850126)
    assert (found.rows[0].first, found.rows[0].last) == (
        0.3716391157140012,
        0.5030870344552878,
    )
