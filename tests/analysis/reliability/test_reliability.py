"""Reliability, Flash and anchors of small stores: what is read, what is left out, what
people see."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from tests.support.stores import store_at
from warehouse import connect
from warehouse.analysis.flash.answer import flash
from warehouse.analysis.reliability.answer import reliability
from warehouse.analysis.reliability.suite_data import read_suite
from warehouse.analysis.selection.selection import Selection
from warehouse.errors import MisuseError
from warehouse.stats.suites.score_table import mean_win_rate
from warehouse.store.connection import Store
from warehouse.store.open import open_store

MODELS = tuple(f"org/m{i}" for i in range(9))
SIZE = 30
#: Leaves of the suite ``exam``, each with its scenario.
LEAVES = {"exam/a/one": "exam/a", "exam/a/two": "exam/a"} | {
    f"exam/{c}": f"exam/{c}" for c in "bcdef"
}


def chance(model: int, scenario: int) -> float:
    return 0.15 + 0.08 * model + 0.05 * ((model * 7 + scenario * 3) % 5 - 2) / 2


def answers(
    dice: random.Random, model: int, scenario: int, keys: list[str]
) -> dict[str, float]:
    return {key: float(dice.random() < chance(model, scenario)) for key in keys}


def build_rows() -> StoreRows:
    rows = StoreRows()
    for part in (_quiz, _exam, _seeds, _few):
        part(rows, random.Random(part.__name__))
    for prompt in rows.rows["prompt"]:
        prompt.setdefault("metadata", None)
    return rows


def _exam(rows: StoreRows, dice: random.Random) -> None:
    """Six scenarios, one of two parts, one judged by errors; a model lacks one, another
    has half of one."""
    rows.benchmark("exam/a", "exam")
    for place, leaf in enumerate(LEAVES):
        rows.benchmark(leaf, "exam/a" if leaf.startswith("exam/a") else "exam")
        errors = leaf == "exam/f"
        metric = rows.metric("errors" if errors else "acc")
        rows.describe(leaf, metric, higher=not errors)
        keys = [f"{leaf}{i:02}" for i in range(SIZE)]
        for m, model in enumerate(MODELS):
            scores = answers(dice, m, place, keys)
            if errors:
                scores = {key: 1 - value for key, value in scores.items()}
            if (m, leaf) == (1, "exam/b"):
                continue
            if (m, leaf) == (2, "exam/c"):
                scores = dict(list(scores.items())[: SIZE // 2])
            rows.scores(rows.run(model, leaf, n_benchmark=SIZE), scores, metric)


def _quiz(rows: StoreRows, dice: random.Random) -> None:
    """One benchmark, whose prompts have a topic and a level, and a clustering."""
    rows.describe("quiz", rows.metric())
    keys = [f"q{i:03}" for i in range(120)]
    for i, key in enumerate(keys):
        number = rows.prompt("quiz", key)
        topic = {"topic": "abcdef"[i % 6], "level": i % 2} if i < 114 else {"level": 1}
        rows.rows["prompt"][number - 1]["metadata"] = topic
    halves = {"first": keys[:60], "second": keys[60:]}
    rows.clusters("quiz", halves, name="half", default=False)
    for m, model in enumerate(MODELS):
        rows.scores(rows.run(model, "quiz"), answers(dice, m, 0, keys))


def _seeds(rows: StoreRows, dice: random.Random) -> None:
    """Few-shot seeds as runs of their own (``shots``), and as draws within a run
    (``helm``)."""
    for benchmark in ("shots", "helm"):
        rows.describe(benchmark, rows.metric())
        keys = [f"{benchmark}{i:02}" for i in range(40)]
        for m, model in enumerate(MODELS[:4]):
            three = [answers(dice, 2 * m, seed, keys) for seed in range(3)]
            if benchmark == "shots":
                for seed, scores in enumerate(three):
                    rows.scores(
                        rows.run(model, benchmark, fewshot_seed=seed + 1), scores
                    )
                continue
            run = rows.run(model, benchmark)
            rows.scores(run, {key: [one[key] for one in three] for key in keys})
            for row in rows.rows["score"]:
                if row["run_id"] == run:
                    draw = str(row["draw"])
                    row["variant_id"] = rows.add(
                        "prompt_variant",
                        ("", draw),
                        perturbation="",
                        fewshot_draw=draw,
                        template="",
                    )


def _few(rows: StoreRows, dice: random.Random) -> None:
    """A benchmark of one model, one whose models tie, one that a new model has begun."""
    for name in ("solo", "even", "begun"):
        rows.describe(name, rows.metric())
    rows.scores(rows.run("org/m0", "solo"), answers(dice, 3, 0, ["s1", "s2", "s3"]))
    for model in MODELS[:3]:
        rows.scores(rows.run(model, "even"), {f"e{i}": 1.0 for i in range(10)})
    keys = [f"b{i:02}" for i in range(50)]
    for m, model in enumerate(MODELS[:6]):
        rows.scores(rows.run(model, "begun", n_benchmark=50), answers(dice, m, 0, keys))


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    return build_rows()


def test_a_suite_is_read_as_its_tree_every_score_oriented(world: Store) -> None:
    data = read_suite(world, "exam", Selection())
    assert (
        data.scores.scenarios == tuple(sorted(set(LEAVES.values())))
        and data.models == MODELS
    )
    assert [one.name for one in data.scores.subscenarios] == list(LEAVES)
    sign = {
        row["benchmark"]: -1 if row["benchmark"] == "exam/f" else 1
        for row in _means(world)
    }
    for row in _means(world):
        place, model = list(LEAVES).index(row["benchmark"]), MODELS.index(row["model"])
        if (model, row["benchmark"]) != (2, "exam/c"):
            assert data.scores.means[place, model] == pytest.approx(
                sign[row["benchmark"]] * row["mean"]
            )
    assert np.isnan(data.scores.means[2, 1]) and np.isnan(data.scores.means[3, 2])
    told = " ".join(data.notes)
    assert (
        "org/m2" in told
        and "--subset" in told
        and "2 model(s) lack scenarios (org/m1, org/m2)" in told
    )
    whole = read_suite(world, "exam", Selection(subset_ok=True))
    assert not np.isnan(whole.scores.means[3, 2])


def _means(store: Store) -> list[dict[str, object]]:
    query = (
        "select run_current.model, run_current.benchmark, avg(prompt_score.value) as "
        "mean from prompt_score"
        " join run_current on run_current.run_id = prompt_score.run_id where "
        "run_current.benchmark like 'exam/%'"
        " group by run_current.model, run_current.benchmark"
    )
    return store.arrow(query).to_pylist()


def test_figures_are_those_of_the_arrays(world: Store) -> None:
    report = reliability(world, "exam", n_resamples=50)
    data = read_suite(world, "exam", Selection())
    rates = mean_win_rate(data.scores.scores(data.scores.means))
    assert {row.model: row.mean_win_rate for row in report.models} == pytest.approx(
        dict(zip(MODELS, rates.tolist(), strict=True))
    )
    assert [row.mean_win_rate or 0 for row in report.models] == sorted(
        rates, reverse=True
    )
    assert {(row.granularity, row.size) for row in report.rows} == {
        *[("scenarios", size) for size in (1, 2, 3, 4, 5, None)],
        *[("subscenarios", size) for size in (1, None)],
        *[("prompts", size) for size in (10, 20, 50, None)],
        ("seeds", None),
    }
    by = {(row.granularity, row.size): row for row in report.rows}
    assert by["seeds", None].reason and by["prompts", None].n_prompts == 7 * SIZE
    assert by["prompts", 10].n_prompts == 60 and len(by["prompts", 10].best_errors) == 5
    assert (
        report.tau_within is not None
        and len(report.agreement) == 21
        and len(report.pool) == 9
    )
    view = world.arrow(
        "select model, mean_win_rate from mean_win_rate where suite = 'exam'"
    ).to_pylist()
    theirs = {row["model"]: row["mean_win_rate"] for row in view}
    ours = {
        row.model: row.mean_win_rate
        for row in reliability(world, "exam", subset_ok=True, n_resamples=5).models
    }
    assert ours == pytest.approx(theirs)  # SQL and Python


def test_prompts_of_few_clusters_are_drawn_singly_and_that_is_said(
    world: Store,
) -> None:
    report = reliability(
        world, "quiz", scenarios="topic", cluster="half", n_resamples=5
    )
    assert any(
        "fewer than 5 clusters are drawn singly (6 of 6" in note
        for note in report.notes
    )


def test_standalone_and_lists(world: Store) -> None:
    report = reliability(world, "exam", standalone=True, n_resamples=20)
    assert (report.n_scenarios, report.n_subscenarios) == (7, 7)
    listed = reliability(world, "exam/b,exam/a/*,exam/d", n_resamples=20)
    assert (listed.n_scenarios, listed.n_subscenarios) == (4, 4)
    assert all(
        row.ranking is None for row in listed.rows if row.granularity == "scenarios"
    )
    with pytest.raises(
        MisuseError,
        match="no subscenarios that could stand alone; leave out --standalone",
    ):
        reliability(world, "exam/b,exam/a/*,exam/d", standalone=True, n_resamples=20)
    node = reliability(world, "exam/a,exam/b", n_resamples=20)
    assert (node.n_scenarios, node.n_subscenarios) == (2, 3)


def test_one_benchmark_by_a_field_of_its_prompts(world: Store) -> None:
    report = reliability(world, "quiz", scenarios="topic", n_resamples=20)
    assert (report.n_scenarios, report.n_prompts, report.scenarios_by) == (
        6,
        114,
        "topic",
    )
    assert any("6 of 120 prompts without topic" in note for note in report.notes)
    both = reliability(world, "quiz", scenarios="topic,level", n_resamples=20)
    assert (both.n_scenarios, both.n_subscenarios) == (
        6,
        6,
    )  # a topic has one level here
    halves = reliability(world, "quiz", scenarios="half", n_resamples=20)
    assert (halves.n_scenarios, halves.n_prompts) == (2, 120)
    whole = reliability(world, "quiz", n_resamples=20)
    assert whole.n_scenarios == 1 and any(
        "--scenarios FIELD" in note for note in whole.notes
    )
    assert (
        whole.rows[0].reason.startswith("1 scenario:")
        and whole.prompt_rows[-1].ranking is not None
    )


@pytest.mark.parametrize("name", ["shots", "helm"])
def test_few_shot_seeds(world: Store, name: str) -> None:
    report = reliability(world, name, n_resamples=60)
    assert report.n_models == 4 and [row.budget for row in report.seed_designs] == 2 * [
        30,
        60,
        120,
    ]
    seeds = [row for row in report.rows if row.granularity == "seeds"]
    assert [row.size for row in seeds] == [1, 2, None] and seeds[-1].ranking is not None
    mean = (
        "select avg(value) as mean from prompt_score join run_current using (run_id) "
        "where model = 'org/m3'"
    )
    (row,) = world.arrow(f"{mean} and benchmark = '{name}'").to_pylist()
    assert {one.model: one.mean for one in report.models}["org/m3"] == pytest.approx(
        row["mean"]
    )


def test_bad_input_is_one_line(run: Caller, url: str) -> None:
    run("noise", "reliability", "solo", db=url).fails(
        2, "1 model(s) with scores of prompts; 2 are needed"
    )
    run("noise", "reliability", "nowhere", db=url).fails(2, "nowhere")
    run("noise", "reliability", "quiz", "--scenarios", "colour", db=url).fails(
        2, "no prompt of quiz has the field 'colour'", "topic"
    )
    run("noise", "reliability", "quiz", "--scenarios", "a,b,c", db=url).fails(
        2, "expected a field, or two"
    )
    run("noise", "reliability", "exam", "--scenarios", "topic", db=url).fails(
        2, "leave --scenarios out"
    )
    run("noise", "reliability", "exam", "--where", "temperature=7", db=url).fails(
        2, "0 model(s)"
    )
    run("subset", "flash", "exam", "--model", "org/m99", db=url).fails(
        2, "no answers of 'org/m99'", "org/m"
    )
    run("subset", "flash", "exam", "--model", "org/m3", "--new", db=url).fails(
        2, "leave --new out"
    )
    run("subset", "flash", "exam", "--new", db=url).fails(2, "--new goes with --model")
    run("subset", "flash", "exam", "--tiers", "1,2,3", db=url).fails(2, "must fall")
    run("subset", "anchors", "begun", db=url).fails(2, "need 8 models, found 6")
    run("subset", "anchors", "quiz", "--sizes", "500", db=url).fails(
        2, "500 anchors of 120 prompts"
    )
    run("subset", "anchors", "quiz", "--model", "3pl", db=url).fails(
        2, "3PL is not fitted"
    )
    ties = run("noise", "reliability", "even", "--resamples", "20", db=url)
    assert (
        ties.code == 0
        and "Whether the order of 3 models holds cannot be told" in ties.out
        and "same mean win rate" in ties.err
    )


def test_what_people_see(run: Caller, url: str) -> None:
    shown = run("noise", "reliability", "exam", "--resamples", "20", db=url)
    first, second, third, *_ = shown.out.splitlines()
    assert first.startswith("The order of 9 models is") and first.endswith(".")
    assert second.startswith("org/m") and "told apart" in second
    assert third.startswith(
        "exam by acc, errors: 9 models, 6 scenarios in 7 subscenarios, 210 prompts"
    )
    explained = run(
        "noise", "reliability", "exam", "--resamples", "20", "--explain", db=url
    ).out
    assert "the top two" in explained.splitlines()[0] and "quality" in explained
    for part, heading in {
        "sizes": "Other prompts of a scenario:",
        "models": "by BT",
        "pool": "pairs turned",
        "switches": "2 models",
        "ranks": "(1-",
        "datasets": "enough",
        "agreement": "Mean tau within scenarios",
    }.items():
        assert (
            heading
            in run(
                "noise",
                "reliability",
                "exam/a,exam/b",
                "--part",
                part,
                "--resamples",
                "20",
                db=url,
            ).out
        ), part
    assert (
        "width, uniform"
        in run(
            "noise",
            "reliability",
            "shots",
            "--part",
            "seeds",
            "--resamples",
            "20",
            db=url,
        ).out
    )
    assert (
        "no runs with several"
        in run(
            "noise",
            "reliability",
            "exam/a,exam/b",
            "--part",
            "seeds",
            "--resamples",
            "20",
            db=url,
        ).out
    )
    rows = run(
        "noise", "reliability", "exam", "--json", "--resamples", "20", db=url
    ).rows
    assert {"granularity", "ranking", "ranking_low", "best_errors", "reason"} <= set(
        rows[0]
    )
    assert (
        len(
            run(
                "noise",
                "reliability",
                "exam/a,exam/b",
                "--part",
                "pool",
                "--json",
                "--resamples",
                "20",
                db=url,
            ).rows
        )
        == 9
    )


def test_each_data_set_by_itself_is_asked_as_if_it_were_all(
    run: Caller, url: str, world: Store
) -> None:
    rows = run(
        "noise",
        "reliability",
        "exam",
        "--part",
        "datasets",
        "--json",
        "--resamples",
        "40",
        db=url,
    ).rows
    assert list(dict.fromkeys(row["subscenario"] for row in rows)) == list(LEAVES)
    assert {row["n_models"] for row in rows if row["subscenario"] == "exam/b"} == {
        8
    }  # one lacks it
    alone = reliability(world, "exam/d", n_resamples=40)
    figures = [
        {name: row[name] for name in alone.rows[0].columns()}
        for row in rows
        if row["subscenario"] == "exam/d"
    ]
    assert figures == [row.to_dict() for row in alone.prompt_rows]
    assert {row["leader"] for row in rows if row["subscenario"] == "exam/d"} == {
        alone.models[0].model
    }
    assert reliability(world, "exam", n_resamples=20).datasets == ()


def test_pictures(run: Caller, url: str, tmp_path: Path) -> None:
    path = tmp_path / "suite.svg"
    for part in ("ranks", "switches", "agreement"):
        done = run(
            "noise",
            "reliability",
            "exam/a,exam/b",
            "--part",
            part,
            "--svg",
            path,
            "--resamples",
            "20",
            db=url,
        )
        assert done.code == 0 and str(path) in done.err  # replaces ours
        assert (path.read_text().count("org/m") == len(MODELS)) == (part == "ranks")
    run(
        "noise",
        "reliability",
        "shots",
        "--part",
        "seeds",
        "--svg",
        path,
        "--resamples",
        "20",
        db=url,
    )
    assert "uniform, subsample" in path.read_text()
    run(
        "noise",
        "reliability",
        "exam/b",
        "--part",
        "seeds",
        "--svg",
        path,
        "--resamples",
        "20",
        db=url,
    ).fails(2, "nothing here can be drawn")
    run("noise", "reliability", "exam", "--part", "pool", "--svg", path, db=url).fails(
        2, "--svg draws ranks", "not pool"
    )
    path.write_text("mine")
    run("noise", "reliability", "exam", "--svg", path, db=url).fails(
        2, "no picture that this program wrote"
    )
    assert (
        connect(url).reliability("exam/a,exam/b", n_resamples=20).plot().spec["vconcat"]
    )


def test_flash_of_a_stored_model_and_of_all(
    run: Caller, url: str, world: Store
) -> None:
    report = flash(world, "quiz", model="org/m0", sizes=(20, 60), n_resamples=40)
    assert (
        report.is_settled and report.rows[-1].size is None and report.rows[-1].rank == 9
    )
    assert report.n_models == 8 and len(report.check) == 8 and "settled" in str(report)
    assert report.saving == 120 / next(
        row.n_prompts for row in report.rows if row.is_enough
    )
    shown = run("subset", "flash", "quiz", "--resamples", "20", db=url)
    assert (
        shown.out.startswith("Ranked as if new, the 9 models of quiz end")
        and "stops here" in shown.out
    )
    assert (
        len(run("subset", "flash", "quiz", "--resamples", "20", "--json", db=url).rows)
        == 9
    )
    small = run("subset", "flash", "even", "--resamples", "20", db=url)
    assert "No check: no scenario has more than 20 prompts" in small.out


def test_flash_tells_a_new_model_what_comes_next(
    run: Caller, url: str, tmp_path: Path
) -> None:
    ids = run(
        "subset",
        "flash",
        "begun",
        "--model",
        "org/new",
        "--new",
        "--ids",
        "--sizes",
        "10,30",
        db=url,
    ).out.split()
    assert len(ids) == len(set(ids)) == 10
    other = run(
        "subset",
        "flash",
        "begun",
        "--model",
        "org/new",
        "--new",
        "--ids",
        "--sizes",
        "10,30",
        "--seed",
        "1",
        db=url,
    )
    assert other.out.split() != ids
    # the answers come in, one could not be scored: the first step is done
    begun = StoreRows()
    _few(begun, random.Random("_few"))
    own = begun.run("org/new", "begun", n_benchmark=50)
    begun.scores(own, dict.fromkeys(ids, 0.0) | {"of another version": 1.0})
    with open_store(store_at(tmp_path / "begun.duckdb"), write=True) as store:
        begun.write(store)
        report = flash(store, "begun", model="org/new", sizes=(10, 30), n_resamples=50)
    assert (
        [row.size for row in report.rows] == [10]
        and report.rows[0].rank == 7
        and report.n_prompts == 50
    )
    assert any("1 prompts that one model alone has" in note for note in report.notes)
    assert report.is_settled == report.rows[0].is_enough
    following = flash(
        connect_store(tmp_path),
        "begun",
        model="org/new",
        sizes=(10, 30),
        tiers=(7, 2),
        n_resamples=50,
    )
    if not following.is_settled:
        assert following.next_size == 30 and len(following.next_prompts) == 20
        assert not {row.key for row in following.next_prompts} & set(ids)


def test_a_rank_needs_two_models_beside_it(tmp_path: Path) -> None:
    pair = StoreRows()
    pair.describe("pair", pair.metric())
    for model in ("org/a", "org/b"):
        pair.scores(pair.run(model, "pair"), {f"p{i}": float(i % 2) for i in range(40)})
    with open_store(store_at(tmp_path / "pair.duckdb"), write=True) as store:
        pair.write(store)
        with pytest.raises(
            MisuseError,
            match="pair has 1 model beside org/a on all prompts; a rank needs two",
        ):
            flash(store, "pair", model="org/a")


def connect_store(folder: Path) -> Store:
    return open_store(f"duckdb:///{folder / 'begun.duckdb'}")


def test_anchors_of_a_benchmark(run: Caller, url: str) -> None:
    report = connect(url).anchors("quiz", sizes=(10, 30))
    assert (report.n_models, report.n_items, report.model) == (9, 120, "1pl")
    assert [(row.n_items, row.method) for row in report.rows[:2]] == [
        (10, "random"),
        (10, "scores"),
    ]
    assert (
        sum(row.weight for row in report.anchors) == pytest.approx(1)
        and len(report.anchors) == 30
    )
    assert sum(row.n_items for row in report.anchors) == 120
    shown = run("subset", "anchors", "quiz", db=url)
    assert (
        "24 anchors" in shown.out
        and "gp-irt" in shown.out
        and "biased by design" in shown.err
    )
    assert (
        len(
            run(
                "subset", "anchors", "quiz", "--ids", "--sizes", "7", db=url
            ).out.split()
        )
        == 7
    )
    assert {"weight", "n_items"} <= set(
        run(
            "subset", "anchors", "quiz", "--list", "--sizes", "7", "--json", db=url
        ).rows[0]
    )
    with pytest.raises(MisuseError, match="unknown by .* irt, scores"):
        connect(url).anchors("quiz", by="chance")


def test_anchors_where_each_model_lacks_some_prompts(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    rows = [
        {
            "model": f"org/m{m}",
            "benchmark": "quiz",
            "prompt_id": f"q{i}",
            "acc": int(rng.random() < (m + 1) / 12),
        }
        for m in range(10)
        for i in range(60)
        if (i + 6 * m) % 40 > 3  # each lacks a tenth, all together more than half
    ]
    store = connect(f"duckdb:///{tmp_path}/gaps.duckdb")
    store.ingest(pd.DataFrame(rows))
    report = store.anchors("quiz", sizes=[3])
    assert (
        report.n_models == 10
        and report.n_items < 30
        and "not all models answered" in " ".join(report.notes)
    )


def test_anchors_by_several_dimensions_and_each_model(
    run: Caller, url: str, tmp_path: Path
) -> None:
    usual, two = (
        connect(url).anchors("quiz", sizes=[30], dimensions=n, models=True)
        for n in (None, 2)
    )
    assert two.model == "2pl of 2 dimensions" and usual.rows != two.rows
    for method in ("irt", "p_irt", "gp_irt"):
        row = next(row for row in two.rows if row.method == method)
        scores, found = (
            [one for one in two.models if one.method == name]
            for name in ("all", method)
        )
        off = [
            abs(one.estimate - score.estimate)
            for one, score in zip(found, scores, strict=True)
        ]
        assert np.mean(off) == pytest.approx(row.error) and all(
            (one.standard_error or 0) > 0.01 for one in found
        )
    one = next(row for row in two.models if row.method == "all")
    assert one.standard_error == pytest.approx(
        np.sqrt(one.estimate * (1 - one.estimate) / 119)
    )
    run(
        "subset", "anchors", "quiz", "--dimensions", "2", "--model", "2pl", db=url
    ).fails(2, "--model chooses between")
    run("subset", "anchors", "quiz", "--models", "--list", db=url).fails(
        2, "give one of"
    )
    assert (
        "gp-irt"
        in run("subset", "anchors", "quiz", "--models", "--sizes", "7", db=url).out
    )
    assert {"training", "method"} <= set(
        run(
            "subset", "anchors", "quiz", "--models", "--sizes", "7", "--json", db=url
        ).rows[0]
    )
    assert not run(
        "subset",
        "anchors",
        "quiz",
        "--sizes",
        "7,30",
        "--svg",
        str(tmp_path / "a.svg"),
        db=url,
    ).code
    assert "by score" in (tmp_path / "a.svg").read_text()
    trained = [replace(row, position=float(i)) for row in two.models for i in (1, 2)]
    curves = replace(two, models=tuple(trained)).charts()
    assert [one.title for one in curves if one] == [
        f"{n}, 30 anchors" for n in ("all prompts", "IRT", "p-IRT", "gp-IRT")
    ]


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    reports, plans = [], []
    for order in (1, -1):
        rows = StoreRows()
        rows.describe("quiz", rows.metric())
        keys = [f"q{i:03}" for i in range(60)]
        if order < 0:
            rows.describe("first", rows.metric("other"))
            rows.scores(rows.run("org/z", "first"), {"x": 1.0}, rows.metric("other"))
        for m, model in list(enumerate(MODELS[:5]))[::order]:
            dice = random.Random(m)
            scores = answers(dice, m, 0, keys)
            rows.scores(
                rows.run(model, "quiz"), {key: scores[key] for key in keys[::order]}
            )
        with open_store(store_at(tmp_path / f"{order}.duckdb"), write=True) as store:
            rows.write(store)
            reports.append(reliability(store, "quiz", n_resamples=50))
            plans.append(
                flash(store, "quiz", model="org/new", new=True, n_resamples=10)
            )
    assert reports[0] == reports[1]
    assert [row.key for row in plans[0].next_prompts] == [
        row.key for row in plans[1].next_prompts
    ]
    assert plans[0].check == plans[1].check
