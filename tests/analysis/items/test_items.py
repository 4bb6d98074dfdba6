"""Prompts as items: figures of a table that is ingested as a user would."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.support.cli import Caller
from tests.support.stores import store_at
from warehouse.analysis.items.answer import items
from warehouse.analysis.items.pruning import item_pruning, item_splits
from warehouse.errors import MisuseError
from warehouse.ingest.pipeline import ingest
from warehouse.stats.items.pruning import difficulty_split, split_agreement
from warehouse.store.curate.field_clusters import Members, store_clustering
from warehouse.store.open import open_store

MODELS, PROMPTS = 40, 30


def answers() -> np.ndarray:
    """Prompt 0 goes against ability, prompt 1 is right for all, the others follow it."""
    dice = np.random.default_rng(5)
    theta, difficulty = np.linspace(-2, 2, MODELS), np.linspace(-1.5, 1.5, PROMPTS)
    right = dice.random((MODELS, PROMPTS)) < 1 / (
        1 + np.exp(-2 * (theta[:, None] - difficulty))
    )
    right[:, 0] = theta < 0.2
    right[:, 1] = True
    return right.astype(int)


def store_of(folder: Path, scores: np.ndarray) -> str:
    lines = ["model,benchmark,prompt_id,question,score"]
    lines += [
        f"m{m:02},quiz,p{p:02},what is {p}?,{scores[m, p]}"
        for m in range(len(scores))
        for p in range(scores.shape[1])
        if scores[m, p] >= 0
    ]
    (folder / "quiz.csv").write_text("\n".join(lines) + "\n")
    url = store_at(folder / "items.duckdb")
    with open_store(url, write=True) as store:
        assert not ingest(store, [folder / "quiz.csv"]).refused
    return url


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return store_of(tmp_path_factory.mktemp("items"), answers())


def test_prompts_that_go_against_the_rest_come_first(url: str) -> None:
    scores = answers()
    with open_store(url) as store:
        report = items(store, "quiz")
    first, last = report.rows[0], report.rows[-1]
    assert (first.key, first.negative) == ("p00", True) and (
        last.key,
        last.constant,
    ) == ("p01", True)
    assert sum(row.negative for row in report.rows) == 1 and report.model == "2pl"
    assert first.text == "what is 0?"
    row = next(row for row in report.rows if row.key == "p10")
    rest = scores.sum(axis=1) - scores[:, 10]
    assert row.r_corrected == pytest.approx(np.corrcoef(scores[:, 10], rest)[0, 1])
    assert row.mean_score == pytest.approx(scores[:, 10].mean())
    hard = {row.key: row.difficulty for row in report.rows if row.key > "p01"}
    assert (
        np.corrcoef([hard[key] for key in sorted(hard)], range(len(hard)))[0, 1] > 0.9
    )


def test_prompts_that_some_models_lack_are_kept(tmp_path: Path) -> None:
    scores = answers()
    scores[1::2, 15:] = -1  # half of the models did not answer half of the prompts
    with open_store(store_of(tmp_path, scores)) as store:
        report = items(store, "quiz")
    assert len(report.rows) == PROMPTS and report.n_models == MODELS
    row = next(row for row in report.rows if row.key == "p20")
    assert row.n_models == 20 and row.mean_score == pytest.approx(
        scores[::2, 20].mean()
    )
    known = np.where(scores >= 0, scores, np.nan)
    rest = np.nanmean(np.delete(known, 20, axis=1), axis=1)[::2]
    assert row.r_corrected == pytest.approx(np.corrcoef(scores[::2, 20], rest)[0, 1])
    assert any(
        "15 of 30 prompts have a score of every model" in note for note in report.notes
    )


def test_a_block_of_wrong_keys_shows_against_the_fitted_ability(
    tmp_path: Path, run: Caller
) -> None:
    dice = np.random.default_rng(3)
    theta, difficulty = dice.standard_normal(60), dice.standard_normal(100)
    right = dice.random((60, 100)) < 1 / (1 + np.exp(difficulty - 1.5 * theta[:, None]))
    right[:, :45] = ~right[:, :45]
    url = store_of(tmp_path, right.astype(int))
    with open_store(url) as store:
        rows = items(store, "quiz").rows
    found = {row.key for row in rows if row.reversed}
    assert found <= {f"p{p:02}" for p in range(45)} and len(found) > 30
    against = {
        row.key for row in rows if row.negative
    }  # oriented: plain sums of scores show fewer
    assert against <= {f"p{p:02}" for p in range(45)} and len(against) > 30
    assert all(
        row.free_discrimination < 0 < row.discrimination for row in rows if row.reversed
    )
    fitted = run("irt", "fit", "quiz", "--top", "2", db=url)
    assert f"{len(found)} of 100 prompts go against what" in fitted.out


def test_nothing_found_says_what_could_have_been(tmp_path: Path) -> None:
    with open_store(store_of(tmp_path, answers()[::4, 2:])) as store:
        report = items(store, "quiz")
    (note,) = (
        line for line in report.notes if line.startswith("none goes against the rest")
    )
    tested = sum(row.r_corrected is not None for row in report.rows)
    t = float(stats.t.ppf(0.05 / tested, 8))
    assert (
        f"{t / np.sqrt(t * t + 8):.2f} or lower (power below .1 at 10 models" in note
        and f"{tested} prompts 10 models" in note
    )


@pytest.mark.parametrize(
    "scores",
    [np.eye(2, 12, dtype=int), np.ones((5, 12), dtype=int)],
    ids=["two models", "alike"],
)
def test_where_nothing_can_be_tested_none_is_cleared(
    run: Caller, tmp_path: Path, scores: np.ndarray
) -> None:
    """Nor is 1PL or 2PL better, where the models are all right."""
    url = store_of(tmp_path, scores)
    with open_store(url) as store:
        notes = items(store, "quiz").notes
    assert any(
        note.startswith("no prompt could be tested for going against the rest")
        for note in notes
    )
    assert (
        len(scores) == 2
        or "predicts better" not in run("irt", "fit", "quiz", db=url).out
    )


def test_few_models_are_said_to_be_noise(tmp_path: Path) -> None:
    with open_store(store_of(tmp_path, answers()[::5])) as store:
        report = items(store, "quiz")
        assert report.model == "1pl" and any(
            "mostly noise" in note for note in report.notes
        )
        without = items(store, "quiz", irt="none")
    assert without.model == "" and all(
        row.difficulty is None and row.r_implied is None for row in without.rows
    )


def test_partial_credit_is_cut_and_other_scales_are_not_fitted(tmp_path: Path) -> None:
    scores = answers() * 0.5 + np.random.default_rng(1).random((MODELS, PROMPTS)) * 0.4
    for scale, note in ((1.0, "count as right"), (100.0, "not between 0 and 1")):
        folder = tmp_path / f"{scale:g}"
        folder.mkdir()
        with open_store(store_of(folder, np.round(scores * scale, 3))) as store:
            report = items(store, "quiz")
        assert any(note in line for line in report.notes), report.notes
        assert (report.model == "") is (scale > 1)


def test_the_command(run: Caller, url: str) -> None:
    shown = run("items", "difficulty", "quiz", "--top", "3", db=url)
    assert (
        "1 go against the rest, 1 against the fitted ability, 1 have one score for all"
        in shown.out
    )
    assert (
        len([line for line in shown.out.splitlines() if line.startswith("prompt:")])
        == 3
    )
    assert "27 more prompts" in shown.err
    assert len(run("items", "difficulty", "quiz", "--json", db=url).rows) == PROMPTS
    run("items", "difficulty", "quizz", db=url).fails(2, "did you mean")
    with (
        open_store(url) as store,
        pytest.raises(MisuseError, match="unknown irt .* 1pl, 2pl, none"),
    ):
        items(store, "quiz", irt="3pl")


def trained(folder: Path) -> str:
    """Eight models, and two seeds of a recipe with three checkpoints each; two prompts
    have one text."""
    scores, dice = answers(), np.random.default_rng(8)
    lines = ["model,training_seed,step,benchmark,prompt_id,question,score"]
    runs = [(f"m{m:02}", "", "", scores[5 * m]) for m in range(8)]
    runs += [
        ("mix", seed, 100 * t, scores[12 * t + seed])
        for seed in (1, 2)
        for t in (1, 2, 3)
    ]
    for place in dice.permutation(len(runs)):
        name, seed, step, row = runs[place]
        lines += [
            f"{name},{seed},{step},quiz,p{p:02},what is {max(p, 1)}?,{row[p]}"
            for p in range(PROMPTS)
        ]
    (folder / "trained.csv").write_text("\n".join(lines) + "\n")
    url = store_at(folder / "trained.duckdb")
    with open_store(url, write=True) as store:
        assert not ingest(store, [folder / "trained.csv"]).refused
    return url


def test_splits_of_models(url: str, run: Caller) -> None:
    with open_store(url) as store:
        by_difficulty, at_random = item_splits(store, "quiz", n_splits=5).rows
        again = item_splits(store, "quiz", n_splits=5).rows
    scores = answers()
    expected = split_agreement(scores, difficulty_split(scores))
    assert (by_difficulty.n_train, by_difficulty.n_test) == (32, 8)
    assert (
        by_difficulty.pearson == pytest.approx(expected.pearson)
        and by_difficulty.pearson_low is None
    )
    assert at_random.n_splits == 5 and again[1] == at_random
    assert at_random.pearson_low < at_random.pearson < at_random.pearson_high
    shown = run("items", "difficulty", "quiz", "--splits", db=url)
    assert "difficulty" in shown.out and max(map(len, shown.out.splitlines()[1:])) <= 85
    run("items", "difficulty", "quiz", "--splits", "--pruning", db=url).fails(
        2, "give one of"
    )
    run("items", "difficulty", "quiz", "--pruning", "--svg", "x.svg", db=url).fails(
        2, "--svg draws the prompts"
    )
    run("items", "difficulty", "quiz", "--splits", "--irt", "1pl", db=url).fails(
        2, "--irt goes with"
    )


def test_pruning_beside_random_drops(tmp_path: Path, url: str, run: Caller) -> None:
    with open_store(trained(tmp_path)) as store:
        report = item_pruning(store, "quiz", shares=[0.2], n_random=20)
        first = items(store, "quiz").rows
    assert (report.n_models, report.n_trainings, report.n_recipes) == (8, 2, 1)
    assert [row.figure for row in report.rows] == 2 * [
        "mean",
        "error",
        "tau",
        "monotonicity",
        "snr",
    ]
    assert {row.n_dropped for row in report.rows} == {6}
    assert {row.key: row.same_text for row in first if row.same_text} == {
        "p00": 1,
        "p01": 1,
    }
    assert all(row.near is None for row in first)
    with open_store(f"duckdb:///{tmp_path / 'trained.duckdb'}", write=True) as store:
        (benchmark,) = (
            store.arrow("select id from benchmark where name = 'quiz'")
            .column("id")
            .to_pylist()
        )
        four = np.sort(
            [int(row.prompt.partition(":")[2]) for row in first if row.key < "p04"]
        )
        members = Members(
            four, np.zeros(4, dtype=int), np.zeros(4), np.zeros(1, dtype=int)
        )
        store_clustering(store, benchmark, "topic", "semantic", members, parameters={})
        found = {row.key: row.near for row in items(store, "quiz").rows}
    assert [found[f"p{p:02}"] for p in (0, 3, 4)] == [3, 3, 0]
    shown = run("items", "difficulty", "quiz", "--pruning", db=url)
    assert "never report its scores" in shown.err and "no signal-to-noise" in shown.err
    assert (
        len(run("items", "difficulty", "quiz", "--pruning", "--json", db=url).rows)
        == 2 * 5 * 3
    )


def test_too_few_models_to_split(tmp_path: Path, run: Caller) -> None:
    few = store_of(tmp_path, answers()[:5])
    for option in ("--splits", "--pruning"):
        run("items", "difficulty", "quiz", option, db=few).fails(
            2, "5 models", "needs 6"
        )
