"""Decisions with one seed a recipe: thresholds, pools, words and sentences, from tables
of published figures."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

import warehouse
from tests.support.cli import Caller, on_a_terminal
from tests.support.stores import store_at
from warehouse.analysis.decide.answer import decide
from warehouse.analysis.decide.row import DecisionRow
from warehouse.analysis.training.pools import Noise, pool_for, published_spreads
from warehouse.analysis.training.trajectories import SHARED, RecipeScores
from warehouse.ingest.pipeline import ingest
from warehouse.stats.training.noise_floor import seed_pool
from warehouse.stats.training.seed_means import (
    difference_of_figures,
    difference_of_seed_means,
)
from warehouse.store.open import open_store

MAPPING = """
files = ["runs.csv"]
[run]
model = "model"
training_seed = "seed"
parameter_count = "size"
step = "step"
benchmark = "benchmark"
[[published]]
metric = { path = "metric" }
value = "value"
[metrics.acc]
kind = "bounded"
low = 0
high = 1
higher_is_better = true
is_default = true
[metrics.ppl]
kind = "continuous"
higher_is_better = false
[metrics.odd]
kind = "continuous"
"""


def store_of(folder: Path, lines: list[str]) -> str:
    (folder / "runs.csv").write_text(
        "model,seed,size,step,benchmark,metric,value\n" + "\n".join(lines) + "\n"
    )
    (folder / "mapping.toml").write_text(MAPPING)
    url = store_at(folder / "store.duckdb")
    with open_store(url, write=True) as store:
        assert not ingest(store, [folder], mapping=folder / "mapping.toml").refused
    return url


def pair(
    benchmark: str, a: float, b: float, metric: str = "acc", size: str = "7e9"
) -> list[str]:
    return [
        f"m-{name},1,{size},5,{benchmark},{metric},{value}"
        for name, value in (("a", a), ("b", b))
    ]


def rows_of(url: str, metric: str | None = None) -> dict[str, DecisionRow]:
    with open_store(url) as store:
        return {
            row.benchmark: row
            for row in decide(store, "m-a", "m-b", metric=metric).rows
        }


def test_published_spreads_and_their_words(tmp_path: Path, run: Caller) -> None:
    lines = [
        *pair("hellaswag", 0.700, 0.690),
        *pair("COPA", 0.80, 0.77),
        *pair("quiz", 0.53, 0.50),
        *pair("exam", 0.30, 0.55),
        *pair("small", 0.500, 0.501),
        *pair("even", 0.5, 0.5),
    ]
    url = store_of(tmp_path, lines)
    rows = rows_of(url)
    spreads = published_spreads()
    prior = seed_pool([one.standard_deviation for one in spreads], [9.0] * len(spreads))
    assert prior.standard_deviation is not None and prior.degrees_of_freedom is not None
    # its own spread at its size counts with the pool
    own = rows["hellaswag"]
    sd, nu = prior.with_own(0.0012, 9) or (0.0, 0.0)
    assert (own.seed_sd, own.degrees_of_freedom, own.flags) == (
        pytest.approx(sd),
        pytest.approx(nu),
        (),
    )
    assert own.p_wrong_sign == pytest.approx(
        stats.t.cdf(-0.01 / (math.sqrt(2) * sd), nu)
    )
    assert own.noise_if_sd_above == pytest.approx(
        0.01 / (stats.norm.ppf(0.975) * math.sqrt(2))
    )
    assert (own.verdict, own.better, own.runs_to_settle, own.pool_own_sd) == (
        "decides",
        "a",
        0,
        0.0012,
    )
    assert (own.pool_size, own.pool_quantiles) == (14, prior.quantiles)
    # another benchmark: the pool alone, which leans, and decides only far beyond its
    # largest spread
    other = rows["quiz"]
    assert (other.seed_sd, other.flags) == (
        pytest.approx(prior.standard_deviation),
        ("pool_not_matched",),
    )
    assert (other.verdict, other.floor_from) == (
        "leans",
        "pool",
    ) and other.runs_to_settle == 2
    assert (rows["exam"].verdict, rows["exam"].better) == ("decides", "b")
    assert (rows["small"].verdict, rows["small"].better) == ("cannot tell", "")
    assert (
        rows["even"].p_wrong_sign == 0.5 and "the same figure" in rows["even"].sentence
    )
    assert other.sentence == (
        "quiz leans: m-a is ahead of m-b by 0.03, which is the wrong order with a "
        f"probability of {100 * (other.p_wrong_sign or 0):.2g} %; random seeds alone "
        "explain the gap only if they make runs spread by more than 0.011 (standard "
        "deviation), and on 14 benchmarks of a 7B model (Madaan et al. 2024) they did "
        "by 0.0012 to 0.019; 2 seeds of each would settle it in 8 of 10 cases (2 more "
        "runs); how many prompts these figures rest on is not said (`n`): of fewer "
        "than 100 that spread says nothing."
    )
    brief = " ".join(run("training", "decide", "m-a", "m-b", db=url).out.split())
    assert "m-a may be better (leans) on quiz" in brief and "of a 7B model" in brief
    assert "of fewer than 100 that spread says nothing" in brief
    words = ("--explain", "training", "decide", "m-a", "m-b")
    said = " ".join(run(*words, db=url).out.split())
    assert "decides on 2, leans on" in said and other.sentence in said
    assert (
        max(
            map(len, on_a_terminal(80, "--db", url, "training", "decide", "m-a", "m-b"))
        )
        <= 80
    )


def test_another_size_is_not_matched(tmp_path: Path) -> None:
    (row,) = rows_of(
        store_of(tmp_path, pair("hellaswag", 0.7, 0.69, size="1e9"))
    ).values()
    assert (row.verdict, row.flags, row.pool_own_sd) == (
        "cannot tell",
        ("pool_not_matched",),
        0.0012,
    )


def test_a_single_run_is_taken_to_spread_like_the_others(tmp_path: Path) -> None:
    lines = [
        *pair("quiz", 0.5, 0.6),
        "m-b,2,7e9,5,quiz,acc,0.61",
        "m-b,3,7e9,5,quiz,acc,0.60",
    ]
    (row,) = rows_of(store_of(tmp_path, lines)).values()
    assert (
        row.verdict == "decides"
        and "the recipe with one run being taken to spread like the other's"
        in row.sentence
    )


def test_the_stores_own_spreads(tmp_path: Path) -> None:
    lines = [*pair("new", 0.50, 0.44, size="1e8"), *pair("old", 0.50, 0.42, size="1e8")]
    for place, name in enumerate(("old", "older", "oldest")):
        lines += [
            f"other,{seed},1e8,5,{name},acc,{0.5 + 0.01 * (place + 1) * seed}"
            for seed in (1, 2, 3)
        ]
    rows = rows_of(store_of(tmp_path, lines))
    assert (rows["new"].floor_from, rows["new"].pool, rows["new"].pool_size) == (
        "pool",
        "in this store",
        3,
    )
    assert rows["new"].pool_quantiles[2] == pytest.approx(0.02) and rows[
        "new"
    ].flags == ("pool_not_matched",)
    # the same benchmark's own recipes come first
    assert (
        rows["old"].floor_from,
        rows["old"].degrees_of_freedom,
        rows["old"].flags,
    ) == ("other_recipes", 2.0, ())
    assert (
        rows["old"].seed_sd == pytest.approx(0.01)
        and "other recipes here do by 0.01" in rows["old"].sentence
    )


def test_without_a_pool_only_the_threshold_is_told(tmp_path: Path) -> None:
    url = store_of(
        tmp_path, [*pair("lambada", 11.0, 12.0, "ppl"), *pair("oddity", 3, 5, "odd")]
    )
    row = rows_of(url, "ppl")["lambada"]
    assert (row.verdict, row.p_wrong_sign, row.noise_floor, row.pool) == (
        "cannot tell",
        None,
        None,
        "",
    )
    assert row.sentence == (
        "lambada cannot tell: m-a is ahead of m-b by 1; random seeds alone explain the "
        "gap if they make runs spread by more than 0.36 (standard deviation), which "
        "nothing tells; a second training seed of each would show how much is chance "
        "(2 more runs)."
    )
    assert "m-b is above m-a by 2" in rows_of(url, "odd")["oddity"].sentence


def test_spreads_on_many_prompts_say_nothing_of_few(
    store_url: str, run: Caller
) -> None:
    rows = [
        {
            "model": f"m-{name}",
            "benchmark": f"of {n}",
            "prompt_id": i,
            "score": int(i < share * n),
        }
        for n in (10, 200)
        for name, share in (("a", 0.3), ("b", 0.7))
        for i in range(n)
    ]
    assert not warehouse.connect(store_url).ingest(pd.DataFrame(rows)).refused
    ten, many = json.loads(
        run("training", "decide", "m-a", "m-b", "--json", db=store_url).out
    )
    assert (ten["verdict"], ten["p_wrong_sign"], ten["pool"]) == (
        "cannot tell",
        None,
        "",
    )
    assert (many["verdict"], many["pool_size"]) == ("decides", 14)


def equal_models(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Two models that are right as often on prompts like these n."""
    return (rng.random((2, n)) < 1 / (1 + np.exp(rng.normal(0, 1.2, n)))).astype(float)


def test_prompts_count_where_the_spread_is_that_of_others(store_url: str) -> None:
    """Spreads of whole benchmarks say too little of one's own 300 prompts: `compare`
    finds the same order."""
    scores, house = (
        equal_models(300, np.random.default_rng(5)),
        warehouse.connect(store_url),
    )
    rows = [
        {"model": model, "benchmark": "mmlu", "prompt_id": str(i), "score": score}
        for model, own in zip(("m-a", "m-b"), scores, strict=True)
        for i, score in enumerate(own)
    ]
    assert not house.ingest(pd.DataFrame(rows)).refused
    (row,), (pair,) = house.decide("m-a", "m-b").rows, house.compare("m-a", "m-b").rows
    assert (
        row.prompt_sd is not None
        and pair.standard_error is not None
        and row.seed_sd is not None
    )
    assert (
        row.prompt_sd == pytest.approx(pair.standard_error / math.sqrt(2))
        and row.seed_sd < row.prompt_sd / 4
    )
    seeds, prompts = 2 * row.seed_sd**2, pair.standard_error**2
    prior = seed_pool(
        [one.standard_deviation for one in published_spreads()], [9.0] * 14
    ).degrees_of_freedom
    nu = (seeds + prompts) ** 2 / (seeds**2 / (prior or 0) + prompts**2 / 299)
    assert row.degrees_of_freedom == pytest.approx(nu)
    assert row.p_wrong_sign == pytest.approx(
        stats.t.cdf(-abs(row.difference) / math.sqrt(seeds + prompts), nu)
    )
    assert (
        row.verdict == "leans" and "other prompts do by another 0.026" in row.sentence
    )


def test_models_that_do_not_differ_are_told_apart_in_one_case_of_twenty() -> None:
    """2 000 pairs on 300 prompts; by the pool alone, which has this benchmark, in more
    than half."""
    settings = dict.fromkeys(SHARED)
    recipe = RecipeScores(
        "mmlu", "acc", True, "m", "", "", settings, (), (), (), 7e9, True
    )
    pool = pool_for(recipe, ())
    assert pool is not None and pool.figures is not None and pool.own is not None
    rng, alone, both = np.random.default_rng(5), 0, 0
    for _ in range(2_000):
        a, b = equal_models(300, rng)
        noise = Noise((a[:1], b[:1]), 1, "pool", *pool.figures, pool, True, None)
        gap = float(a.mean() - b.mean())
        counted = noise.with_prompts(difference_of_seed_means(a[None], b[None]))
        for_one, for_both = noise.weigh(gap, 0.95), counted.weigh(gap, 0.95)
        assert for_one is not None and for_both is not None
        alone, both = (
            alone + (for_one.word == "decides"),
            both + (for_both.word == "decides"),
        )
        assert (
            noise.with_prompts(difference_of_figures(a[:1], b[:1], [0.03], [0.03]))
            is noise
        )  # not of the pair
    assert alone > 1_000 and both == pytest.approx(100, abs=30)


def test_shares_beside_per_cent_are_no_gap(tmp_path: Path, run: Caller) -> None:
    url = store_of(tmp_path, pair("quiz", 0.71, 72, "odd"))
    row = rows_of(url, "odd")["quiz"]
    assert (
        row.flags == ("mixed_scales",)
        and "by 71, if all scores are on one scale" in row.sentence
    )
    assert (
        "note: mixed_scales: scores of 0 to 1 beside others of up to 100: per cent?"
        in run("training", "decide", "m-a", "m-b", "-m", "odd", db=url).err
    )


def test_no_better_one_without_a_direction_and_lengths_that_differ_are_noted(
    tmp_path: Path, run: Caller
) -> None:
    url = store_of(
        tmp_path,
        [
            f"m-{m},{seed},7e9,{5 + seed},odd,odd,{seed + 90 * (m == 'a')}"
            for m in "ab"
            for seed in (1, 2)
        ],
    )
    row = rows_of(url, "odd")["odd"]
    assert (row.verdict, row.better, row.flags) == ("decides", "", ("mixed_lengths",))
    said = run("training", "decide", "m-a", "m-b", "-m", "odd", db=url)
    assert (
        "they differ on odd, whose direction nobody has said" in said.out
        and "different places in training on 1 benchmark;" in said.err
    )


def test_two_recipes_of_one_model(
    tmp_path: Path, run: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    lines = [
        f"{size},{seed},7e9,5,quiz,acc,{base + off + seed / 100},{recipe}"
        for size, off in (("small", 0.0), ("large", 0.2))
        for recipe, base in (("mix-a", 0.5), ("mix-b", 0.4))
        for seed in (1, 2, 3)
    ]
    (tmp_path / "runs.csv").write_text(
        "model,seed,size,step,benchmark,metric,value,mix\n" + "\n".join(lines) + "\n"
    )
    (tmp_path / "mapping.toml").write_text(
        MAPPING.replace('model = "model"', 'model = "model"\nrecipe = "mix"')
    )
    url = store_at(tmp_path / "store.duckdb")
    with open_store(url, write=True) as store:
        assert not ingest(store, [tmp_path], mapping=tmp_path / "mapping.toml").refused
    assert (
        "means 2 models, choose one: large mix-a, small mix-a"
        in run("training", "decide", "mix-a", "mix-b", db=url).err
    )
    named = run("training", "decide", "small", "small", db=url).err
    assert (
        "means 2 recipes or settings (small mix-a, small mix-b); say one of these"
        in named
    )
    for words in (
        ("small mix-a", "small mix-b"),
        ("mix-a", "mix-b", "--where", "model=small"),
    ):
        assert (
            "mix-a is better on quiz." in run("training", "decide", *words, db=url).out
        )
    assert (
        "mix-b@step=5 is better"
        in run("training", "decide", "small mix-a", "large mix-b@step=5", db=url).out
    )
    assert not caplog.messages
    (tmp_path / "later.csv").write_text(
        "model,seed,size,step,benchmark,metric,value,mix\norg/mix-a,1,9,5,quiz,acc,1,\n"
    )
    with open_store(url, write=True) as store:
        ingest(store, [tmp_path / "later.csv"], mapping=tmp_path / "mapping.toml")
    assert (
        "mix-a is better on quiz"
        in run("training", "decide", "mix-a", "small mix-b", db=url).out
    )
    assert caplog.messages == [
        "note: 'mix-a' is taken for the model; as a recipe say large mix-a, small mix-a"
    ]


def test_jitter_is_no_spread_over_seeds(tmp_path: Path) -> None:
    lines = [
        f"m-{name},1,7e9,{step},quiz,{metric},{base + 0.02 * ((step * 7919) % 13 - 6) / 6}"
        for name, base in (("a", 0.5), ("b", 0.6))
        for metric in ("acc", "ppl")
        for step in range(20, 60)
    ]
    lines += [
        f"m-{name},1,7e9,{step},far,ppl,{base + 0.01 * (step % 3)}"
        for name, base in (("a", 3), ("b", 1))
        for step in range(40)
    ]
    url = store_of(tmp_path, lines)
    alone, pooled = rows_of(url, "ppl")["quiz"], rows_of(url, "acc")["quiz"]
    assert (alone.verdict, alone.floor_from, alone.p_wrong_sign) == (
        "cannot tell",
        "jitter",
        None,
    )
    assert (
        alone.jitter is not None
        and "times the spread of checkpoints of one run" in alone.sentence
    )
    assert alone.noise_if_sd_above < 4.2 * alone.jitter
    far = rows_of(url, "ppl")[
        "far"
    ]  # beyond twice what was seen of spreads in multiples of jitter
    assert (far.verdict, far.better, far.p_wrong_sign, far.runs_to_settle) == (
        "leans",
        "b",
        None,
        None,
    )
    assert far.jitter is not None and far.noise_if_sd_above > 4.2 * far.jitter
    # with a pool that spreads by less, jitter is what the spread is at least
    assert (pooled.floor_from, pooled.seed_sd) == (
        "pool",
        pooled.jitter,
    ) and "checkpoints of one run" in pooled.sentence
