"""A judge held against people, out of stores: scores whose truth is known, and real
votes with published counts."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warehouse
from tests.support.builders import StoreRows
from tests.support.cli import Caller
from tests.support.judged import biased, ingest_judged, take_labels, truth
from tests.support.stores import filled_once
from warehouse.api import Warehouse
from warehouse.errors import MisuseError
from warehouse.stats import (
    judge_agreement,
    prediction_powered_difference,
    prediction_powered_mean,
)
from warehouse.stats.leaving_out.labels import handful_of_labels
from warehouse.store.open import open_store

PEOPLE = truth({"ma": 0.6, "mb": 0.5, "mc": 0.3})
JUDGE = {model: biased(labels, 1) for model, labels in PEOPLE.items()}


@pytest.fixture
def store(store_url: str, tmp_path: Path) -> Warehouse:
    return warehouse.connect(
        filled_once(
            store_url,
            __file__,
            lambda: ingest_judged(store_url, tmp_path, {"gpt": JUDGE}),
        )
    )


def labelled(store: Warehouse, folder: Path, n: int, without: Any = ()) -> None:
    """Draw prompts and take in their labels."""
    take_labels(
        store, store.judge_next("essays", judge="gpt", n=n), folder, PEOPLE, without
    )


@pytest.fixture
def judged(store: Warehouse, store_url: str, tmp_path: Path) -> Warehouse:
    """The same with labels of 120 prompts."""
    return warehouse.connect(
        filled_once(
            store_url, f"{__file__} judged", lambda: labelled(store, tmp_path, 120)
        )
    )


def test_agreement_and_the_corrected_mean_are_those_of_the_arrays(
    judged: Warehouse,
) -> None:
    drawn = [
        int(row["prompt_id"][1:])
        for row in judged.judge_next("essays", judge="gpt").sheet
    ]
    labels = {
        model: np.where(np.isin(np.arange(400), drawn), truth, np.nan)
        for model, truth in PEOPLE.items()
    }
    report = judged.judge("essays", judge="gpt", human="people")
    assert [row.model for row in report.rows] == ["", "ma", "mb", "mc"]
    whole, *models = report.rows
    assert (whole.n_units, whole.n_labels, whole.n_prompts) == (1200, 360, 120)
    for row in models:
        h, g = labels[row.model], JUDGE[row.model]
        there = ~np.isnan(h)
        agreement = judge_agreement(h[there], g[there])
        assert row.agreement == pytest.approx(agreement.figure("agreement").estimate)
        assert row.kappa == pytest.approx(agreement.figure("kappa").estimate)
        figure = prediction_powered_mean(h, g)
        assert (row.estimate, row.low, row.weight) == pytest.approx(
            (figure.estimate, figure.low, figure.weight)
        )
        assert row.low < PEOPLE[row.model].mean() < row.high
        assert (row.judge_estimate, row.label_estimate) == pytest.approx(
            (g.mean(), np.nanmean(h))
        )
        assert row.bias == pytest.approx((g - h)[there].mean())
    (one,) = judged.judge("essays", ["ma", "mb"]).differences
    expected = prediction_powered_difference(
        labels["ma"], labels["mb"], JUDGE["ma"], JUDGE["mb"]
    )
    assert (one.estimate, one.p_value, one.n_labels) == pytest.approx(
        (expected.estimate, expected.p_value, 120)
    )
    assert "κ" in report.one_line


def test_how_few_labels_put_a_mean_on_the_other_side_of_a_bar(
    judged: Warehouse, run: Caller
) -> None:
    drawn = [
        int(row["prompt_id"][1:])
        for row in judged.judge_next("essays", judge="gpt").sheet
    ]
    report = judged.judge("essays", judge="gpt", bar=0.45)
    for row in report.rows[1:]:
        h = np.where(np.isin(np.arange(400), drawn), PEOPLE[row.model], np.nan)
        found = handful_of_labels(h, JUDGE[row.model], 0.45)
        assert (row.bar, row.handful_labels) == (0.45, found.count)
        assert row.handful_exact and row.estimate == pytest.approx(found.estimate)
    call = ("judge", "agreement", "essays", "--judge", "gpt", "--bar", "0.45")
    said = run(*call, db=judged.url).out
    n = report.rows[1].handful_labels
    assert f"ma is above 0.45 with {report.rows[1].estimate:.3f}: with {n} of" in said
    assert "labels the other way it would be below." in said
    rows = run(*call, "--json", db=judged.url).rows
    assert [row["handful_labels"] for row in rows[1:]] == [
        row.handful_labels for row in report.rows[1:]
    ]
    without = judged.judge("essays", judge="gpt").rows[1]
    assert (without.bar, without.handful_labels, without.handful_exact) == (None,) * 3
    run(*call[:-1], "inf", db=judged.url).fails(2, "finite")
    far = run(*call[:-1], "7", db=judged.url).out
    assert "no number of labels puts it above" in far


def test_some_labels_that_are_missing(store: Warehouse, tmp_path: Path) -> None:
    labelled(store, tmp_path, 100, without=range(9))
    rows = store.judge("essays").rows[1:]
    assert any("labels_missing" in row.flags for row in rows)
    assert all(row.low < PEOPLE[row.model].mean() < row.high for row in rows)


def test_labels_that_were_not_drawn_correct_nothing(
    store: Warehouse, tmp_path: Path
) -> None:
    sheet = tmp_path / "own.csv"
    rows = [f"ma,essays,,p{i},Question {i}?,,{int(PEOPLE['ma'][i])}" for i in range(40)]
    sheet.write_text(
        "\n".join(
            ["model,benchmark,split,prompt_id,question,response,label", *rows, ""]
        )
    )
    store.ingest(sheet, mapping="label_sheet")
    report = store.judge("essays")
    ma = next(row for row in report.rows if row.model == "ma")
    assert (ma.n_labels, ma.estimate) == (40, None)
    assert ma.agreement is not None
    assert "labels_not_random" in ma.flags
    assert "warehouse judge next essays" in report.notes[0]


def test_rates_by_another_sample(judged: Warehouse, tmp_path: Path) -> None:
    pilot = tmp_path / "pilot"
    pilot.mkdir()
    ingest_judged(judged.url, pilot, {"gpt": JUDGE}, benchmark="other")
    with pytest.raises(MisuseError, match="transportable"):
        judged.judge("other", judge="gpt", rogan_gladen="essays")
    report = judged.judge(
        "other", judge="gpt", rogan_gladen="essays", transportable=True
    )
    assert report.sample is not None
    assert 0 < report.sample.specificity < report.sample.sensitivity <= 1
    for row in report.rows[1:]:
        assert row.rate_low < row.rate < row.rate_high
        assert row.n_labels == 0
        assert row.estimate is None


def test_nobody_who_judged_and_models_that_are_not_there(
    store: Warehouse, request: pytest.FixtureRequest
) -> None:
    with pytest.raises(MisuseError, match="no scores by a human"):
        store.judge("essays")
    judged = request.getfixturevalue("judged")
    with pytest.raises(MisuseError, match="nobody called 'gpt5'"):
        judged.judge("essays", judge="gpt5")
    with pytest.raises(MisuseError, match="mz"):
        judged.judge("essays", ["ma", "mz"])
    with pytest.raises(MisuseError, match="are one model"):
        judged.judge("essays", ["ma", "ma"])
    with pytest.raises(MisuseError, match="name two models"):
        judged.judge("essays", ["ma"])


def test_the_command_shows_judge_labels_and_both(
    run: Caller, judged: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, drawn = judged.url, tmp_path / "judge.svg"
    call = ("judge", "essays", "ma", "mb", "--judge", "gpt")
    shown = run(*call, "--svg", str(drawn), db=db).out
    assert (
        "corrected" in shown
        and "κ" in shown
        and "ma - mb: judge" in shown
        and "gpt scores mc higher than people." in shown.splitlines()[1]
    )
    explained = run("--explain", *call, db=db).out
    assert "narrower" in explained and "Cohen's kappa" in explained
    assert "narrower" not in shown and "Cohen's kappa" not in shown
    assert "Judge minus people" in drawn.read_text()
    rows = run("judge", "--judge", "gpt", "essays", "--json", db=db).rows
    assert [row["model"] for row in rows] == ["", "ma", "mb", "mc"]
    (difference,) = run(
        "judge", "agreement", "essays", "ma", "mb", "--json", db=db
    ).rows
    assert difference["n_labels"] == 120 and "other_prompts" not in difference["flags"]
    run("judge", "essays", "--transportable", db=db).fails(
        2, "goes with --rogan-gladen"
    )
    monkeypatch.setattr("warehouse.cli.ui.next_step.reads_along", lambda: True)
    step, how = run("judge", "essays", "--judge", "gpt", db=db).err.splitlines()[-2:]
    assert how.startswith("how, and every column:") and how.endswith("--explain")
    words = shlex.split(step.partition(": warehouse ")[2])
    assert "half as wide" in step and run(*words).code == 0


def test_scores_that_are_missing_and_labels_of_a_single_prompt(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    """What the judge left out is said; a pair on one prompt is a pair; without an AC1
    none is claimed."""
    own = {m: PEOPLE[m][:150] for m in ("ma", "mb")}
    scores = {
        m: np.where(np.arange(150) % 3 == 0, np.nan, np.linspace(0, 1, 150))
        for m in own
    }
    judged = ingest_judged(store_url, tmp_path, {"gpt": scores}, kind="continuous")
    sheet = tmp_path / "one.csv"
    sheet.write_text(
        "model,benchmark,prompt_id,label\n"
        + "".join(f"{m},essays,p{i},.5\n" for m in own for i in range(150))
    )
    judged.ingest(sheet, mapping="label_sheet")
    report = judged.judge("essays")
    assert "no AC1" in report.one_line and "unscored" in report.rows[1].flags
    assert "unscored" in run("judge", "essays", db=store_url).out
    noted = run("leaderboard", "essays", "--corrected", db=store_url)
    assert "no score of some answers" in noted.out + noted.err


# --- votes ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def votes(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    store = warehouse.connect(
        f"duckdb:///{tmp_path_factory.mktemp('votes')}/votes.duckdb"
    )
    natural = data_dir / "llmbar" / "Natural"
    store.ingest(natural / "evaluators", mapping="llmbar")
    store.ingest(natural / "dataset.json", mapping="llmbar_labels")
    store.ingest(data_dir / "llmfao", mapping="llmfao")
    return store


@pytest.mark.rare
def test_llmbar_s_counts_in_both_orders_are_as_published(
    votes: Warehouse, data_dir: Path
) -> None:
    files = sorted((data_dir / "llmbar/Natural/evaluators").glob("*/*/statistics.json"))
    assert len(files) >= 15
    for file in files[2::3]:
        order = votes.judge(
            "llmbar_Natural", judge=f"{file.parts[-3]} {file.parts[-2]}"
        ).order
        assert order is not None
        published = json.loads(file.read_text())
        right = [
            int(published[f"correct_{swap}"].split(" / ")[0])
            for swap in ("False", "True")
        ]
        assert [one for _, _, one in order.in_order] == right, file
        if file.parts[-3:-1] == ("GPT-4", "Vanilla"):
            assert (order.n_both_right, order.n_both - order.n_changed) == (93, 95)


def test_llmfao_s_error_by_prompts_is_four_times_the_naive_one(
    votes: Warehouse,
) -> None:
    report = votes.judge("llmfao")
    whole = report.rows[0]
    assert (whole.n_labels, whole.n_prompts) == (2139, 13)
    assert report.agreement is not None
    assert whole.kappa == pytest.approx(0.219, abs=5e-4)
    assert whole.kappa_error == pytest.approx(0.062, abs=5e-4)
    table = np.array(report.agreement.table).round().astype(int)
    h, g = (np.repeat(one.ravel(), table.ravel()) for one in np.indices((3, 3)))
    assert judge_agreement(h, g).figure("kappa").standard_error == pytest.approx(
        0.016, abs=5e-4
    )
    assert "few_clusters" in whole.flags
    biases = [
        row.bias_p_simultaneous
        for row in report.rows
        if row.bias_p_simultaneous is not None
    ]
    assert len(report.rows) == 60 and len(biases) > 40


def test_several_judges_are_named_and_votes_have_no_corrected_mean(
    votes: Warehouse,
) -> None:
    with pytest.raises(
        MisuseError, match="several have voted, name one with judge=: ChatGPT CoT"
    ):
        votes.judge("llmbar_Natural")
    with pytest.raises(
        MisuseError, match="nobody called 'nobody' has voted, name one with judge="
    ):
        votes.judge("llmbar_Natural", judge="nobody")
    with pytest.raises(MisuseError, match="votes are held against votes"):
        votes.judge("llmfao", estimand="prompts_fixed")


@pytest.mark.parametrize(
    ("theirs", "own", "agreement", "kappa"),
    [
        ("abab" * 8, "abab" * 8, 1.0, 1.0),
        ("t" * 30, "t" * 30, 1.0, None),  # all ties: κ is 0/0
        ("a" * 30, "a" * 29 + "b", 29 / 30, 0.0),
        ("a", "b", 0.0, 0.0),  # one prompt
    ],
)
def test_votes_of_a_few_kinds(
    store_url: str, theirs: str, own: str, agreement: float, kappa: float | None
) -> None:
    """Also read in both orders: people see the one first, the judge the other."""
    rows, words = StoreRows(), {"t": "tie", "a": "a", "b": "b"}
    rows.votes(1, "duels", ("x", "y"), [words[one] for one in theirs])
    rows.votes(
        1, "duels", ("x", "y"), [words[one] for one in own], judge="j", first="b"
    )
    with open_store(store_url, create=True) as store:
        rows.write(store)
    report = warehouse.connect(store_url).judge("duels")
    whole = report.rows[0]
    assert (whole.agreement, whole.kappa) == (
        pytest.approx(agreement),
        kappa and pytest.approx(kappa, abs=1e-12),
    )
    assert report.order is None
    assert [row.model for row in report.rows] == ["", "x", "y"]
    if whole.kappa is None:
        assert "0/0" in whole.reason


def test_a_judge_that_never_answers(store_url: str) -> None:
    rows = StoreRows()
    rows.votes(1, "duels", ("x", "y"), ["a", "b"])
    rows.votes(1, "duels", ("x", "y"), [None, None], judge="j")
    with open_store(store_url, create=True) as store:
        rows.write(store)
    with pytest.raises(
        MisuseError, match="no vote of j on duels counts; left out .*: 2 no verdict"
    ):
        warehouse.connect(store_url).judge("duels")


def test_several_votes_of_people_are_one_verdict_and_that_is_said(
    run: Caller, store_url: str
) -> None:
    rows = StoreRows()
    for _ in range(3):  # one prompt has votes of three, another is split evenly
        rows.votes(1, "duels", ("x", "y"), ["a", "b", "a"])
    rows.votes(1, "duels", ("x", "y"), ["b", "b"])
    rows.votes(1, "duels", ("x", "y"), [None, "a", "b"])
    rows.votes(1, "duels", ("x", "y"), ["a", "b", "a"], judge="j")
    with open_store(store_url, create=True) as store:
        rows.write(store)
    told = " ".join(run("judge", "duels", db=store_url).err.split())
    assert "people: several voted on 3 of 3 pairs of answers" in told
    assert "what most of them say counts as one verdict" in told


def test_of_many_models_those_whose_bias_is_surest_are_shown(
    run: Caller, store_url: str
) -> None:
    rows = StoreRows()
    for number in range(24):
        said = "ab" * 6
        by_judge = said
        if number == 23:
            by_judge = "a" * 12
        pair = (f"m{number:02}", "base")
        rows.votes(1, "duels", pair, list(said))
        rows.votes(1, "duels", pair, list(by_judge), judge="j")
    with open_store(store_url, create=True) as store:
        rows.write(store)
    lines = run("judge", "duels", db=store_url).out.splitlines()
    body = [line.split()[0] for line in lines if line[:1] in ("m", "b", "a", "…")]
    assert body[:2] == ["model", "all"] and "m23" in body[:5] and body[-1] == "…"
    assert len(body) <= 20
    whole = run("judge", "duels", "--all", db=store_url).out
    assert all(f"m{number:02}" in whole for number in range(24))
