"""What is built of parts, out of stores: flags reach rows and tables; curves,
agreement, templates, bounds."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import warehouse
from tests.support.builders import StoreRows
from tests.support.cli import Caller
from tests.support.judged import ingest_judged, take_labels, truth
from tests.support.page_reader import PageReader
from tests.support.stores import filled_once
from warehouse.analysis.judge.corrected_figures import _p_values
from warehouse.api import Warehouse
from warehouse.serve.app import create_app
from warehouse.store.open import open_store

MODELS = ("org/a", "org/b")


def few_and_many() -> Iterator[dict[str, Any]]:
    """A benchmark of 6 passages, 95 % right, and two of 600 prompts alone."""
    dice = np.random.default_rng(3)
    for model, skill in zip(MODELS, (0.95, 0.9), strict=True):
        for passage, chance in enumerate(dice.beta(4 * skill, 4 * (1 - skill), 6)):
            for n in range(20):
                row = {
                    "model": model,
                    "benchmark": "few",
                    "prompt_id": f"f{passage}-{n}",
                    "passage": f"p{passage}",
                }
                yield row | {"score": int(dice.random() < chance)}
        for name in ("many", "more"):
            for n in range(600):
                row = {
                    "model": model,
                    "benchmark": name,
                    "prompt_id": f"{name}{n}",
                    "passage": "",
                }
                yield row | {"score": int(dice.random() < skill - 0.05)}


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("composed")
    rows = list(few_and_many())
    with (folder / "rows.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return folder


@pytest.fixture
def parts(run: Caller, db: Path) -> str:
    store = str(db / "store.duckdb")
    if not (db / "store.duckdb").exists():
        assert (
            run(
                "ingest", str(db / "rows.csv"), "--cluster-by", "passage", db=store
            ).code
            == 0
        )
    return store


FLAG, WORDS = (
    "few_informative_clusters",
    "few_informative_clusters: too few clusters (11, by weight)",
)


def test_a_suite_that_rests_on_few_clusters_is_marked_in_row_table_and_report(
    run: Caller, parts: str, tmp_path: Path
) -> None:
    marked = run("leaderboard", "--group", "few,many", "--json", db=parts).rows
    assert [FLAG in row["flags"] for row in marked] == [True, True]
    shown = run("leaderboard", "--group", "few,many", db=parts).out
    assert WORDS in shown
    good = run("leaderboard", "--group", "many,more", "--json", db=parts).rows
    assert [row["flags"] for row in good] == [[], []]
    assert "few_" not in run("leaderboard", "--group", "many,more", db=parts).out
    hardly = tmp_path / "weights.json"
    hardly.write_text(json.dumps({"few": 0.01, "many": 1}))
    by_weight = run(
        "leaderboard",
        "--group",
        "few,many",
        "--weights",
        str(hardly),
        "--json",
        db=parts,
    )
    if by_weight.code == 0:
        assert [FLAG in row["flags"] for row in by_weight.rows] == [False, False]


def test_the_report_shows_the_flags_of_a_suite(store_url: str, tmp_path: Path) -> None:
    rows, dice = StoreRows(), np.random.default_rng(3)
    for leaf, size in (("exam/few", 120), ("exam/many", 600)):
        rows.benchmark(leaf, "exam")
        rows.describe(leaf, rows.metric())
        keys = [f"{leaf}{n}" for n in range(size)]
        if leaf == "exam/few":
            rows.clusters(
                leaf,
                {f"p{n}": keys[20 * n : 20 * n + 20] for n in range(6)},
                name="passage",
            )
        for model, skill in zip(MODELS, (0.95, 0.9), strict=True):
            rows.scores(
                rows.run(model, leaf),
                {key: float(dice.random() < skill) for key in keys},
            )
    with open_store(store_url, create=True, write=True) as opened:
        rows.write(opened)
    store = warehouse.connect(store_url)
    assert [row.flags for row in store.leaderboard(group="exam").rows] == [
        (FLAG,),
        (FLAG,),
    ]
    store.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.count("few informative clusters") > 1  # of the suite and the benchmark


def test_pages_show_the_flags_of_differences(
    run: Caller, parts: str, tmp_path: Path
) -> None:
    """The table of differences in the report and on the page of a benchmark had none,
    and `pairs` has them."""
    told = {
        flag.replace("_", " ")
        for row in run("pairs", "few", "--json", db=parts).rows
        for flag in row["flags"]
    }
    assert told == {"few clusters", "too few units"}
    page = tmp_path / "report.html"
    run("report", "few", "many", "-o", str(page), db=parts)
    with PageReader(
        create_app(f"duckdb:///{parts}"), base_url="http://127.0.0.1:8321"
    ) as client:
        shown = client.whole("/benchmark/few")
        calm = client.whole("/benchmark/many")
        compared = client.get("/compare", params={"a": MODELS[0], "b": MODELS[1]}).text
    for text in (page.read_text(), shown, compared):
        assert "few clusters, too few units" in text
    assert "few clusters" not in calm


def test_the_mean_over_benchmarks_carries_what_it_rests_on(
    run: Caller, parts: str
) -> None:
    (overall,) = run("compare", *MODELS, "--overall", "--json", db=parts).rows
    assert overall["benchmark"] == "overall" and "few_clusters" in overall["flags"]
    assert (
        "few_clusters: fewer than 20 clusters"
        in run("compare", *MODELS, "--overall", db=parts).out
    )
    (calm,) = run(
        "compare", *MODELS, "-b", "many", "-b", "more", "--overall", "--json", db=parts
    ).rows
    assert calm["flags"] == []


def test_a_gate_says_which_of_its_tests_rest_on_few(run: Caller, parts: str) -> None:
    rows = {
        row["benchmark"]: row
        for row in json.loads(
            run("gate", *MODELS, "--margin", "0.1", "--json", db=parts).out
        )
    }
    assert rows["few"]["flags"] == ["few_clusters"] and rows["many"]["flags"] == []
    assert (
        "few_clusters: fewer than 20 clusters"
        in run("gate", *MODELS, "--margin", "0.1", db=parts).out
    )


# --- curves --------------------------------------------------------------------------------------


def test_seeds_on_one_flat_path_are_not_called_rising(store_url: str) -> None:
    """Five seeds that follow one path, up at its end by chance: each rises, and
    together they show little."""
    dice, path = np.random.default_rng(8), np.empty(20)
    path[0] = dice.standard_normal()
    for step in range(1, 20):
        path[step] = 0.8 * path[step - 1] + 0.6 * dice.standard_normal()
    path, rows = 0.5 + 0.1 * path, []
    for shape, curve in (("common", path), ("own", None)):
        for seed in range(5):
            noise = dice.normal(0, 0.01, len(path))
            levels = (
                curve + noise
                if curve is not None
                else np.linspace(0.4, 0.6, len(path)) + 5 * noise
            )
            for step, level in enumerate(levels):
                own = {
                    "model": f"org/{shape}",
                    "benchmark": "quiz",
                    "training_seed": str(seed),
                    "step": step,
                }
                rows += [own | {"prompt_id": "q0", "score": float(level)}]
    store = warehouse.connect(store_url)
    store.ingest(pd.DataFrame(rows))
    p = {row.model: row.p_monotone for row in store.seeds().rows}
    signs_alone = 2.0**-5
    assert p["org/common"] is not None and p["org/common"] > signs_alone
    assert p["org/own"] is not None and p["org/own"] == pytest.approx(signs_alone)


# --- agreement -----------------------------------------------------------------------------------


def test_a_judge_who_hardly_ever_errs_has_an_interval_and_a_flag(
    store_url: str, tmp_path: Path
) -> None:
    people = truth({"ma": 0.6, "mb": 0.5})
    judge = {model: labels.copy() for model, labels in people.items()}
    judge["ma"][::97] = 1 - judge["ma"][::97]  # 5 of 400
    url = filled_once(
        store_url,
        f"{__file__} agreed",
        lambda: ingest_judged(store_url, tmp_path, {"gpt": judge}),
    )
    store: Warehouse = warehouse.connect(url)
    take_labels(
        store, store.judge_next("essays", judge="gpt", n=100), tmp_path, people, ()
    )
    whole = store.judge("essays", judge="gpt", human="people").rows[0]
    assert "few_disagreements" in whole.flags
    assert whole.kappa_low is not None and whole.kappa_high is not None
    assert (
        -1 <= whole.kappa_low < whole.kappa <= whole.kappa_high <= 1
        and whole.kappa_low < 0.995
    )
    (row,) = store.compare_corrected("ma", "mb", benchmark="essays", judge="gpt").rows
    lopsided = replace(
        row,
        method="prediction_powered_hull",
        estimate=0.1,
        low=-0.4,
        high=0.2,
        standard_error=0.1,
    )
    for margin in (0.2, 0.3, 0.39, 0.41, 0.5):  # a gate by a hull agrees with its ends
        assert (_p_values(lopsided, margin)[0] <= 0.025) == (margin > 0.4)


# --- templates -----------------------------------------------------------------------------------


def test_few_templates_that_differ_reach_further_than_t(store_url: str) -> None:
    dice = np.random.default_rng(5)
    rows = [
        {
            "model": "org/a",
            "benchmark": "quiz",
            "prompt_id": f"q{n}",
            "template": f"t{t}",
            "score": int(ok),
        }
        for t, chance in enumerate((0.98, 0.95, 0.9, 0.75, 0.99, 0.97, 0.94, 0.85))
        for n, ok in enumerate(dice.random(40) < chance)
    ]
    store = warehouse.connect(store_url)
    store.ingest(pd.DataFrame(rows))
    (row,) = store.templates("quiz").rows
    assert row.flags == ("few_templates",) and row.n_templates == 8
    assert (
        row.estimate is not None and row.ci_low is not None and row.ci_high is not None
    )
    assert row.ci_high <= 1 and row.estimate - row.ci_low > row.ci_high - row.estimate


MAPPING = """
files = ["figures.jsonl"]
[run]
model = "model"
benchmark = { const = "quiz" }
configuration = "config"
[[published]]
metric = "accuracy"
value = "accuracy"
[metrics.accuracy]
kind = "bounded"
low = 0
high = 1
higher_is_better = true
"""
ACCURACIES = {
    "ma": (0.61, 0.55, 0.70),
    "mb": (0.51, 0.42, 0.66),
    "mc": (0.97, 0.93, 0.99),
}


def test_published_accuracies_by_template_give_parts_and_possible_intervals(
    run: Caller, tmp_path: Path
) -> None:
    (tmp_path / "mapping.toml").write_text(MAPPING)
    lines = [
        {"model": model, "config": {"template": f"t{t}"}, "accuracy": value}
        for model, values in ACCURACIES.items()
        for t, value in enumerate(values)
    ]
    (tmp_path / "figures.jsonl").write_text(
        "".join(f"{json.dumps(line)}\n" for line in lines)
    )
    db = str(tmp_path / "store.duckdb")
    where = (
        "ingest",
        str(tmp_path / "figures.jsonl"),
        "--map",
        str(tmp_path / "mapping.toml"),
    )
    assert run(*where, db=db).code == 0
    rows = run("noise", "templates", "quiz", "--se", "0.02", "--json", db=db).rows
    assert [row["model"] for row in rows] == ["ma", "mb", "mc"]
    found = warehouse.stats.template_figures(list(ACCURACIES.values()), bounds=(0, 1))
    for row, low, high in zip(rows, found.ci_low, found.ci_high, strict=True):
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high))
        assert 0 <= row["ci_low"] < row["estimate"] < row["ci_high"] <= 1
        assert (
            row["variance_templates"] == pytest.approx(found.variance_templates)
            and row["variance_prompts"] is None
        )
        assert row["flags"] == ["few_templates", "published"] and row[
            "templates_needed"
        ] == found.templates_needed(0.02)
    said = run("noise", "templates", "quiz", db=db)
    assert "these prompts are all there are" in said.out + said.err
    run("noise", "templates", "quiz", "--random", "prompts", db=db).fails(
        2, "no prompt scored"
    )


def test_templates_are_told_by_their_whole_text_and_in_any_order(
    run: Caller, tmp_path: Path
) -> None:
    """Texts that begin alike, are longer than a label shows, and hold signs that labels
    are made of."""
    (tmp_path / "mapping.toml").write_text(MAPPING)
    texts = [
        f"Answer the question below as well as you can, mode={mode}, x=1: {{q}}"
        for mode in ("a", "b", "c")
    ]
    lines = [
        {"model": model, "config": {"prompt_template": texts[t]}, "accuracy": values[t]}
        for model, values in ACCURACIES.items()
        for t in range(3)
        if (model, t) != ("mc", 2)
    ]
    found = []
    for name, order in (("forth", lines), ("back", lines[::-1])):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "figures.jsonl").write_text(
            "".join(f"{json.dumps(line)}\n" for line in order)
        )
        db = str(folder / "store.duckdb")
        assert (
            run(
                "ingest", str(folder), "--map", str(tmp_path / "mapping.toml"), db=db
            ).code
            == 0
        )
        found.append(run("noise", "templates", "quiz", "--json", db=db).rows)
    own = (
        "model",
        "estimate",
        "n_templates",
        "best",
        "best_template",
        "ci_low",
        "ci_high",
    )
    forth, back = ([[row[name] for name in own] for row in rows] for rows in found)
    assert forth == back
    assert [(row["n_templates"], row["best_template"]) for row in found[0]] == [
        (2, texts[0])
    ] * 3


# --- what can be ---------------------------------------------------------------------------------


def test_differences_of_few_answers_stay_within_their_range(store_url: str) -> None:
    scores = {"org/a": (1, 1, 1, 0), "org/b": (0, 0, 1, 0)}
    rows = [
        {
            "model": model,
            "benchmark": "quiz",
            "prompt_id": f"q{n}",
            "draw": draw,
            "score": value if draw else 1 - value,
        }
        for model, values in scores.items()
        for n, value in enumerate(values)
        for draw in range(3)
    ]
    rows += [
        {
            "model": model,
            "benchmark": "apart",
            "prompt_id": f"{model}{n}",
            "draw": 0,
            "score": value,
        }
        for model, values in scores.items()
        for n, value in enumerate(values)
    ]
    store = warehouse.connect(store_url)
    store.ingest(pd.DataFrame(rows))
    found = [
        *store.compare(*MODELS, benchmark="quiz").rows,
        *store.compare(*MODELS, benchmark="quiz", estimand="prompts_fixed").rows,
        *store.compare_unpaired(*MODELS, benchmark="apart").rows,
    ]
    for row in found:
        assert (
            row.ci_low is not None
            and row.ci_high is not None
            and -1 <= row.ci_low < row.ci_high <= 1
        )
    (gate,) = store.gate(*MODELS, margin=0.1, benchmarks=["quiz"]).rows
    assert gate.low is None or gate.low >= -1
