"""How few questions, clusters and seeds carry the lead of one of two models: of a store,
by the command and the method."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warehouse
from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse.analysis.handful.answer import handful
from warehouse.analysis.handful.row import CLUSTERS, QUESTIONS, SEEDS
from warehouse.errors import MisuseError
from warehouse.store.connection import Store

#: Questions of ``quiz``: those that ``a`` has right alone, ``b`` alone, both, nobody.
WON, LOST, BOTH = 29, 11, 60
N = 200


def build() -> StoreRows:
    """Two models on several benchmarks, and a third that has the last wins right."""
    rows = StoreRows()
    metric = rows.metric()
    rows.describe("quiz", metric)
    keys = [f"q{place:03}" for place in range(N)]
    a = [1.0] * WON + [0.0] * LOST + [1.0] * BOTH + [0.0] * (N - WON - LOST - BOTH)
    b = [0.0] * WON + [1.0] * LOST + a[WON + LOST :]
    for model, scores in (("lab/a", a), ("lab/b", b)):
        rows.scores(rows.run(model, "quiz"), dict(zip(keys, scores, strict=True)))
    others = {key: float(place >= WON - 10) for place, key in enumerate(keys)}
    rows.scores(rows.run("lab/c", "quiz"), others)
    rows.clusters(
        "quiz",
        {f"topic {start // 20}": keys[start : start + 20] for start in range(0, N, 20)},
        default=False,
    )
    essay = rows.metric("rating")
    rows.describe("essay", essay, kind="continuous", high=10.0)
    numbers = np.random.default_rng(4).normal(0.9, 1.5, 60)
    for model, spread in (("lab/a", numbers), ("lab/b", 0 * numbers)):
        scores = {f"e{place}": 5 + float(value) for place, value in enumerate(spread)}
        rows.scores(rows.run(model, "essay"), scores, essay)
    loss = rows.metric("loss")
    rows.describe("loss", loss, kind="continuous", high=None, higher=False)
    for model, values in (("lab/a", (1.0, 1.0, 4.0)), ("lab/b", (2.0, 2.0, 3.0))):
        named = {f"l{place}": value for place, value in enumerate(values)}
        rows.scores(rows.run(model, "loss"), named, loss)
    rows.describe("equal", metric)
    for model in ("lab/a", "lab/b"):
        rows.scores(rows.run(model, "equal"), {f"t{at}": at % 2.0 for at in range(12)})
    rows.describe("seeds", metric)
    for model, seeds in (("lab/a", (9, 8, 3)), ("lab/b", (5, 5, 4))):
        for seed, right in enumerate(seeds):
            run = rows.run(model, "seeds", seed=str(seed))
            rows.scores(run, {f"s{at}": float(at < right) for at in range(10)})
    return rows


ROWS = build()


def test_questions_of_single_verdicts(world: Store) -> None:
    found = handful(world, "lab/a", "lab/b", benchmark="quiz")
    (row,) = found.rows
    assert (row.unit, row.leads, row.n_units) == (QUESTIONS, "a", N)
    assert (row.count, row.tie_at, row.n_for, row.n_differ) == (19, 18, WON, 40)
    assert (row.p_count, row.exact, row.p_method) == (6, True, "mcnemar")
    assert row.p_value == pytest.approx(0.006426576096)
    assert (row.verdicts_to_turn, row.verdicts_to_pass, row.keys_to_turn) == (19, 5, 10)
    assert (found.count, found.p_count, found.exact) == (19, 6, True)
    first = [item.tool_id for item in found.items]
    assert len(first) == 19
    assert [item.place for item in found.items] == [*range(1, 20)]
    assert all(item.contribution == 1 for item in found.items)
    # those that the third has wrong too come first
    assert {item.others for item in found.items} == {0.0}
    turned = handful(world, "lab/b", "lab/a", benchmark="quiz").rows[0]
    assert (turned.leads, turned.count, turned.p_count) == ("b", 19, 6)
    assert turned.difference == -row.difference


def test_clusters_of_questions(world: Store) -> None:
    found = handful(world, "lab/a", "lab/b", benchmark="quiz", cluster="topic")
    questions, clusters = found.rows
    assert (questions.count, questions.p_count) == (19, None)
    assert questions.verdicts_to_pass is None and questions.verdicts_to_turn == 19
    assert (clusters.unit, clusters.n_units, clusters.p_method) == (CLUSTERS, 10, "cr2")
    assert clusters.count == 1 and clusters.first_left_out == ("topic 0",)
    assert clusters.p_count == 0
    (listed,) = [item for item in found.items if item.unit == CLUSTERS]
    assert (listed.name, listed.contribution) == ("topic 0", 20)


def test_real_scores_lower_is_better_and_ties(world: Store) -> None:
    essay = handful(world, "lab/a", "lab/b", benchmark="essay").rows[0]
    assert essay.p_method == "t" and essay.p_count and essay.verdicts_to_turn is None
    assert essay.p_at_least == essay.p_count < (essay.count or 0)
    loss = handful(world, "lab/a", "lab/b", benchmark="loss").rows[0]
    assert (loss.leads, loss.count, loss.tie_at) == ("a", 2, 1)
    assert loss.difference == pytest.approx(-1 / 3) and loss.p_count is None
    equal = handful(world, "lab/a", "lab/b", benchmark="equal").rows[0]
    assert (equal.leads, equal.count, equal.reason) == ("", 0, "tied")


def test_training_seeds(world: Store) -> None:
    questions, seeds = handful(world, "lab/a", "lab/b", benchmark="seeds").rows
    assert seeds.unit == SEEDS and seeds.n_units == 6
    assert seeds.count == 2 and seeds.first_left_out == ("2 of the one that leads",)
    assert questions.p_count is None and "training seeds" in questions.reason


def test_the_command_says_what_would_turn_it(run: Caller, url: str) -> None:
    said = run("compare", "lab/a", "lab/b", "-b", "quiz", "--handful", db=url).out
    assert max(map(len, said.splitlines())) <= 80
    said = " ".join(said.split())
    assert (
        "lab/a leads (p 0.0064): without 6 of the 40 questions that differ p passes "
        "0.05; without 19 questions lab/b leads." in said
    )
    assert "any 19 of 29" in said and "no test" in said
    explained = run(
        "compare", "lab/a", "lab/b", "-b", "quiz", "--handful", "--explain", db=url
    ).out
    assert "the first 19 of 19" in explained and "McNemar" in explained
    tied = run("compare", "lab/a", "lab/b", "-b", "equal", "--handful", db=url).out
    assert "lab/a and lab/b are tied on equal." in tied
    rows = run("compare", "lab/a", "lab/b", "--handful", "--json", db=url).rows
    benchmarks = {row["benchmark"] for row in rows}
    assert benchmarks == {"quiz", "essay", "loss", "equal", "seeds"}


def test_what_it_cannot_say_is_refused(run: Caller, url: str) -> None:
    both = ("compare", "lab/a", "lab/b", "-b", "quiz", "--handful")
    run(*both, "--unpaired", db=url).fails(2, "--unpaired changes nothing")
    run(*both, "--method", "wilcoxon", db=url).fails(2, "--method changes nothing")
    run(*both, "--flips", db=url).fails(2, "--flips changes nothing")


def test_the_method_says_the_same(url: str) -> None:
    store = warehouse.connect(url)
    found = store.handful("lab/a", "lab/b", benchmark="quiz")
    assert (found.count, found.tie_at, found.p_count) == (19, 18, 6)
    assert "without 19 questions lab/b leads" in str(found)
    assert len(found.to_frame()) == 1
    with pytest.raises(MisuseError, match="several benchmarks"):
        assert store.handful("lab/a", "lab/b").count


@pytest.mark.rare
def test_g26_2_of_a_store(data_dir: Path, tmp_path: Path) -> None:
    mapping = Path(__file__).parents[3] / "docs" / "mappings" / "mmlu_pro_matrix.toml"
    store = warehouse.connect(tmp_path / "store.duckdb")
    store.ingest(data_dir / "mmlu_pro_matrix", mapping=mapping)
    row = store.handful("Meta-Llama-3_1-8B", "Meta-Llama-3-8B").rows[0]
    assert (row.count, row.p_count, row.verdicts_to_pass) == (96, 24, 23)
    assert (row.verdicts_to_turn, row.keys_to_turn) == (96, 48)


@pytest.mark.rare
def test_g26_9_of_a_store(data_dir: Path, tmp_path: Path, run: Caller) -> None:
    mapping = Path(__file__).parents[3] / "docs" / "mappings" / "llmfao.toml"
    db = str(tmp_path / "store.duckdb")
    store = warehouse.connect(db)
    store.ingest(data_dir / "llmfao" / "crowd-comparisons.csv", mapping=mapping)
    votes, voters, prompts = store.prefer_handful("llmfao").rows
    assert (votes.count, votes.n_units, votes.first) == (13, 8931, "GPT 4")
    assert votes.rival == "Platypus-2 Instruct (70B)" and votes.n_votes == 13
    assert votes.gap == pytest.approx(59.684, abs=0.001)
    assert (voters.count, voters.rival) == (7, "command")
    assert (prompts.count, prompts.rival) == (3, "command-nightly")
    said = run("prefer", "llmfao", "--handful", db=db).out
    assert (
        "13 of 8931 votes are enough to put Platypus-2 Instruct (70B) before GPT 4."
        in said
    )
    assert run("prefer", "llmfao", "--handful", "--json", db=db).rows[0]["count"] == 13
    run("prefer", "llmfao", "--handful", "--elo", db=db).fails(2, "--elo changes")
