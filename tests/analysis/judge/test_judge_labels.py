"""Labels beside a judge: draws, sheets, corrected figures, in a store whose truth is
known."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warehouse
from tests.support.cli import Caller
from tests.support.judged import biased, ingest_judged, label_sheet, take_labels, truth
from tests.support.stores import filled_once
from warehouse.analysis.judge.next import LabelWave
from warehouse.api import Warehouse
from warehouse.errors import MisuseError
from warehouse.stats import prediction_powered_difference, prediction_powered_mean
from warehouse.stats.subsets.design import hashed
from warehouse.store.load.source_ledger import forget
from warehouse.store.open import open_store

PEOPLE = truth({"ma": 0.6, "mb": 0.5})
JUDGES = {
    "gpt": {model: biased(labels, 1) for model, labels in PEOPLE.items()},
    "own": {
        model: biased(labels, 2, up=0.9 if model == "mb" else 0.0)
        for model, labels in PEOPLE.items()
    },
}


@pytest.fixture
def store(store_url: str, tmp_path: Path) -> Warehouse:
    return warehouse.connect(
        filled_once(
            store_url, __file__, lambda: ingest_judged(store_url, tmp_path, JUDGES)
        )
    )


@pytest.fixture
def judged(store: Warehouse, store_url: str, tmp_path: Path) -> Warehouse:
    """The same with labels of 120 prompts."""
    return warehouse.connect(
        filled_once(
            store_url, f"{__file__} judged", lambda: labelled(store, tmp_path, 120)
        )
    )


def labelled(
    store: Warehouse, folder: Path, n: int, without: Any = (), **how: Any
) -> LabelWave:
    """A wave with the labels of its answers."""
    wave = store.judge_next("essays", judge="gpt", n=n, **how)
    take_labels(store, wave, folder, PEOPLE, without)
    return wave


def rows_of(store: Warehouse, sql: str) -> list[Any]:
    with open_store(store.url) as opened:
        return opened.rows(sql)


def drawn(store: Warehouse) -> list[tuple[int, int, int, str, float]]:
    rows = rows_of(
        store,
        "select run_id, prompt_id, wave, stratum, probability from label_draw order by "
        "1, 3, 2",
    )
    return [tuple(row.values()) for row in rows]


def test_a_wave_is_the_smallest_hashes_with_the_answers_of_all_models(
    store: Warehouse,
) -> None:
    wave = store.judge_next("essays", judge="gpt", n=30, seed=4)
    benchmark = rows_of(store, "select min(benchmark_id) as id from prompt")[0]["id"]
    names = [f"p{i}" for i in range(400)]
    hashes = hashed("draw", 4, [f"{benchmark}/{name}" for name in names])
    expected = {name for _, name in sorted(zip(hashes, names, strict=True))[:30]}
    assert {row["prompt_id"] for row in wave.sheet} == expected
    assert len(wave.sheet) == 60 and {row["label"] for row in wave.sheet} == {""}
    assert {row["response"] for row in wave.sheet} >= {
        f"ma says {name[1:]}" for name in expected
    }
    rows = drawn(store)
    assert len(rows) == 60 and {row[2:] for row in rows} == {(1, "", 30 / 400)}


def test_a_later_wave_draws_nothing_again_and_states_the_chance_of_all(
    store: Warehouse,
) -> None:
    first = store.judge_next("essays", judge="gpt", n=30)
    second = store.judge_next("essays", judge="gpt", n=50, seed=7)
    asked = [{row["prompt_id"] for row in wave.sheet} for wave in (first, second)]
    assert not asked[0] & asked[1] and len(asked[1]) == 50
    newest = [row for row in drawn(store) if row[2] == 2]
    assert len(newest) == 2 * 80
    assert {row[3:] for row in newest} == {("", 80 / 400)}
    (row,) = second.rows
    assert (row.n_drawn, row.n_new, row.probability) == (80, 50, 0.2)
    again = store.judge_next("essays", judge="gpt")
    assert {row["prompt_id"] for row in again.sheet} == asked[0] | asked[1]
    with pytest.raises(MisuseError, match="320 prompts are left to draw"):
        store.judge_next("essays", judge="gpt", n=321)


def test_a_dry_run_writes_nothing(store: Warehouse) -> None:
    wave = store.judge_next("essays", judge="gpt", n=30, dry_run=True)
    assert not wave.written and not wave.sheet and not drawn(store)
    with pytest.raises(MisuseError, match="nothing of essays was drawn"):
        store.judge_next("essays", judge="gpt")


def test_corrected_figures_hold_the_truth_where_the_judge_does_not(
    judged: Warehouse,
) -> None:
    board = judged.leaderboard_corrected("essays", judge="gpt")
    for row in board.rows:
        true = PEOPLE[row.model_a].mean()
        assert (row.low or 1) <= true <= (row.high or 0)
        assert not (row.judge_low or 0) <= true <= (row.judge_high or 1)
        assert row.judge_estimate == pytest.approx(JUDGES["gpt"][row.model_a].mean())
        assert (row.n_labels, row.n_units, row.n_missing) == (120, 400, 0)
    two = judged.compare_corrected("ma", "mb", benchmark="essays", judge="gpt").rows[0]
    true = PEOPLE["ma"].mean() - PEOPLE["mb"].mean()
    assert (two.low or 1) <= true <= (two.high or 0)
    other = judged.compare_corrected("ma", "mb", benchmark="essays", judge="own").rows[
        0
    ]
    assert (
        other.judge_estimate < 0 < (other.estimate or 0)
    )  # a judge that likes mb, turned by the labels of all
    turned = judged.compare_corrected("mb", "ma", benchmark="essays", judge="gpt").rows[
        0
    ]
    assert turned.estimate == pytest.approx(-(two.estimate or 0))


def test_models_labelled_on_different_prompts_have_their_errors_added(
    store: Warehouse, tmp_path: Path
) -> None:
    labelled(store, tmp_path, 60, where=["model=ma"], seed=1)
    labelled(store, tmp_path, 70, where=["model=mb"], seed=2)
    row = store.compare_corrected("ma", "mb", benchmark="essays", judge="gpt").rows[0]
    ma, mb = sorted(
        store.leaderboard_corrected("essays", judge="gpt").rows,
        key=lambda one: one.model_a,
    )
    assert "other_prompts" in row.flags and row.n_labels == 60
    assert row.estimate == pytest.approx((ma.estimate or 0) - (mb.estimate or 0))
    assert row.standard_error == pytest.approx(
        np.hypot(ma.standard_error or 0, mb.standard_error or 0)
    )
    (same,) = store.judge("essays", ["ma", "mb"], judge="gpt").differences
    assert same == row


def test_the_gate_goes_by_the_corrected_difference(judged: Warehouse) -> None:
    ask: Any = {"benchmarks": ["essays"], "judge": "own"}
    good, bad = (
        judged.gate_corrected(*two, 0.02, **ask) for two in (("ma", "mb"), ("mb", "ma"))
    )
    assert (good.verdict, bad.verdict) == ("pass", "fail")
    assert good.rows[0].judge_estimate < -0.2  # by the judge alone it had failed
    assert good.rows[0].p_pass == pytest.approx(1 - (bad.rows[0].p_pass or 0), abs=0.05)


def test_few_or_missing_labels_decide_nothing(store: Warehouse, tmp_path: Path) -> None:
    labelled(store, tmp_path, 40, without=range(12))
    gate = store.gate_corrected("ma", "mb", 0.02, benchmarks=["essays"], judge="gpt")
    assert gate.verdict == "undecided" and "label" in gate.rows[0].reason
    row = store.leaderboard_corrected("essays", judge="gpt").rows[0]
    assert "labels_missing" in row.flags and row.n_labels + row.n_missing == 40


def test_labels_that_were_not_drawn_correct_nothing(
    store: Warehouse, tmp_path: Path
) -> None:
    sheet = tmp_path / "mine.csv"
    with sheet.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["model", "benchmark", "prompt_id", "label"])
        writer.writerows(
            [model, "essays", f"p{i}", int(PEOPLE[model][i])]
            for model in PEOPLE
            for i in range(50)
        )
    store.ingest(sheet, mapping="label_sheet")
    with pytest.raises(MisuseError, match="judge_next draws"):
        store.leaderboard_corrected("essays", judge="gpt")
    plan = store.judge_plan("essays", judge="gpt", human="people", width=0.15)
    assert "labels_not_random" in plan.rows[0].flags and plan.rows[0].n_pilot == 50


def test_a_plan_by_few_labels_says_that_it_is_rough(
    store: Warehouse, tmp_path: Path
) -> None:
    sheet = tmp_path / "few.csv"
    rows = [
        f"ma,essays,p{i},{int(PEOPLE['ma'][i])}" for i in range(15)
    ]  # .5 of either kind give 3.75 to a cell at most
    sheet.write_text("\n".join(["model,benchmark,prompt_id,label", *rows]))
    store.ingest(sheet, mapping="label_sheet")
    plan = store.judge_plan("essays", judge="gpt", human="people", width=0.15)
    (row,) = [row for row in plan.rows if row.n_pilot]
    assert (row.low, row.correlation is None) == (
        None,
        False,
    ) and "rough_pilot" in row.flags
    assert any("half as wide again" in note for note in plan.notes)
    supposed = store.judge_plan("essays", judge="gpt", width=0.15, correlation=0.6)
    assert not any("rough_pilot" in row.flags for row in supposed.rows)


def test_labels_of_a_part_correct_no_judge_of_more(
    store_url: str, tmp_path: Path
) -> None:
    part = {
        model: np.where(np.arange(400) < 200, scores, np.nan)
        for model, scores in JUDGES["gpt"].items()
    }
    store = ingest_judged(store_url, tmp_path, {"gpt": part, "own": JUDGES["own"]})
    labelled(store, tmp_path, 60)
    with pytest.raises(
        MisuseError, match="drawn from 200 prompts, and this judge has scored 400"
    ):
        store.leaderboard_corrected("essays", judge="own")
    with pytest.raises(MisuseError, match="drawn from 200 prompts"):
        store.judge_next("essays", judge="own", n=10)


def test_a_plan_from_labels_and_one_that_is_supposed(judged: Warehouse) -> None:
    by_name = {
        row.model_a: row
        for row in judged.judge_plan(
            "essays", judge="gpt", human="people", width=0.15
        ).rows
    }
    row = by_name["ma"]
    assert (row.low or 1) < (row.correlation or 0) < (
        row.high or 0
    ) and row.n_pilot == 120
    assert (row.n_labels or 0) < (row.n_labels_alone or 0) <= 400
    assert (row.n_labels_high or 0) <= (row.n_labels or 0) <= (row.n_labels_low or 0)
    pair = judged.judge_plan(
        "essays", ["ma", "mb"], judge="gpt", correlation=0.6, difference=0.1
    ).rows
    assert [(one.model_a, one.model_b) for one in pair] == [
        ("ma", "mb")
    ] and "sd_of_judge" in pair[0].flags
    d = JUDGES["gpt"]["ma"] - JUDGES["gpt"]["mb"]
    assert pair[0].sd == pytest.approx(d.std(ddof=1))
    with pytest.raises(MisuseError, match="one of width= and difference="):
        judged.judge_plan("essays", judge="gpt", correlation=0.5)


def test_no_number_where_nothing_says_a_spread(store_url: str, tmp_path: Path) -> None:
    judges = {"flat": {model: np.ones(400) for model in PEOPLE}, "gpt": JUDGES["gpt"]}
    store = ingest_judged(store_url, tmp_path, judges)
    row = store.judge_plan("essays", judge="flat", correlation=0.5, width=0.1).rows[0]
    assert row.n_labels is None and "--sd" in row.reason
    wave = store.judge_next("essays", judge="gpt", n=50)
    take_labels(store, wave, tmp_path, {model: np.ones(400) for model in PEOPLE})
    row = store.judge_plan("essays", judge="gpt", human="people", width=0.1).rows[0]
    assert row.n_labels is None and row.reason == "all labels are equal"


def test_judges_are_a_factor(store: Warehouse) -> None:
    report = store.templates("essays", factor="judge", judges=["gpt", "own"])
    row = next(row for row in report.rows if row.model == "mb")
    assert {row.best_template, row.worst_template} == {
        "gpt-model",
        "own-model",
    } and row.n_prompts == 400
    means = [JUDGES[judge]["mb"].mean() for judge in JUDGES]
    assert row.estimate == pytest.approx(np.mean(means))
    (flip,) = report.flips
    assert flip.is_shown and (flip.judge_a, flip.model_a) == ("gpt-model", "ma")
    with pytest.raises(MisuseError, match="no metric that several models judge"):
        store.templates("essays", factor="judge")


def test_what_the_commands_say_and_refuse(
    store: Warehouse, tmp_path: Path, run: Caller
) -> None:
    none = run(
        "judge",
        "plan",
        "essays",
        "--judge",
        "gpt",
        "--correlation",
        "0.5",
        "--width",
        "0.01",
        db=store.url,
    )
    assert none.code == 1 and "all 400 answers labelled" in none.out
    sheet = str(tmp_path / "sheet.csv")
    ask = ("judge", "next", "essays", "--judge", "gpt")
    assert (
        "--dry-run"
        in run(*ask, "--n", "5", "--dry-run", "--out", sheet, db=store.url).err
    )
    assert "--n K" in run(*ask, db=store.url).err
    said = run(*ask, "--n", "60", "--out", sheet, db=store.url)
    assert (
        said.code == 0
        and "60 prompts are drawn" in said.out
        and "--map label_sheet" in said.out
    )
    label_sheet(Path(sheet), PEOPLE)
    store.ingest(sheet, mapping="label_sheet")
    two = ("ma", "mb", "-b", "essays", "--corrected", "--judge", "own")
    assert run("gate", *two, "--margin", "0.02", db=store.url).code == 0
    shown = run("compare", *two, db=store.url).out
    assert all(word in shown for word in ("judge", "labels", "corrected"))
    claim = str(tmp_path / "claim.json")
    for question in (
        f"compare {' '.join(two)}",
        "leaderboard essays --corrected --judge own",
        "judge essays ma mb --judge own",
    ):
        made = run("claim", question, "-o", claim, db=store.url)
        assert made.code == 0 and "of 2 sources" in made.err.replace("\n", " "), (
            made.err
        )
        assert run("claim", "verify", claim, db=store.url).code == 0
    for words, refused in (
        (("compare", *two, "--equivalence", "0.1"), "--equivalence"),
        (("gate", *two, "--margin", "0.02", "--sequential"), "--sequential"),
        (("leaderboard", "essays", "--corrected", "--resamples", "9"), "--resamples"),
        (("leaderboard", "essays", "--judge", "gpt"), "--judge goes with --corrected"),
        (("leaderboard", "essays", "--corrected"), "several, name one with --judge"),
    ):
        assert refused in run(*words, db=store.url).err


def test_labels_by_strata_count_for_what_they_stand_for(
    store: Warehouse, tmp_path: Path
) -> None:
    wave = labelled(store, tmp_path, 80, strata=8)
    score = (JUDGES["gpt"]["ma"] + JUDGES["gpt"]["mb"]) / 2
    assert [(row.stratum, row.n_prompts) for row in wave.rows] == [
        ("", 400), *((repr(cut), int((score == cut).sum())) for cut in (0.0, 0.5, 1.0))
    ]  # fmt: skip
    assert sum(row.n_new for row in wave.rows[1:]) == wave.rows[0].n_new == 80
    assert {row[3:] for row in drawn(store)} == {
        (row.stratum, row.probability) for row in wave.rows[1:]
    }
    codes = np.searchsorted([0.0, 0.5, 1.0], score)
    asked = {int(row["prompt_id"][1:]) for row in wave.sheet}
    there = np.isin(np.arange(400), list(asked))
    known = {model: np.where(there, labels, np.nan) for model, labels in PEOPLE.items()}
    for judge in (
        "gpt",
        "own",
    ):  # another judge is corrected by the strata of the first
        for row in store.leaderboard_corrected("essays", judge=judge).rows:
            expected = prediction_powered_mean(
                known[row.model_a],
                JUDGES[judge][row.model_a],
                strata=codes,
                bounds=None,
            )
            assert row.estimate == pytest.approx(expected.estimate, abs=1e-12)
            assert (row.low, row.high) == pytest.approx(
                (expected.low, expected.high), abs=1e-12
            )
    row = store.compare_corrected("ma", "mb", benchmark="essays", judge="gpt").rows[0]
    two = prediction_powered_difference(
        known["ma"], known["mb"], JUDGES["gpt"]["ma"], JUDGES["gpt"]["mb"], strata=codes
    )
    assert (row.estimate, row.p_value) == pytest.approx(
        (two.estimate, two.p_value), abs=1e-12
    )


def test_a_later_wave_has_more_where_judge_and_people_differ(
    store: Warehouse, tmp_path: Path
) -> None:
    first = labelled(store, tmp_path, 80, strata=3)
    for ask, refused in (
        ({"strata": 2}, "leave it out"),
        ({"where": ["model=ma"]}, "go on with the judge="),
    ):
        with pytest.raises(MisuseError, match=refused):
            store.judge_next("essays", judge="gpt", n=20, **ask)
    second = labelled(store, tmp_path, 100)
    assert "more where they vary more" in " ".join(second.notes)
    assert sum(row.n_drawn for row in second.rows[1:]) == 180
    assert all(
        later.n_drawn >= row.n_drawn
        for row, later in zip(first.rows, second.rows, strict=True)
    )
    rules = {
        row["rule"]: row["n"]
        for row in rows_of(
            store, "select rule, count(*) as n from label_draw group by rule"
        )
    }
    assert rules == {"proportional": 160, "neyman": 360}
    for row in store.leaderboard_corrected("essays", judge="gpt").rows:
        assert row.n_labels == 180 and (row.low or 1) <= PEOPLE[row.model_a].mean() <= (
            row.high or 0
        )
    assert store.judge("essays", judge="gpt").rows[0].n_labels == 360
    with open_store(store.url, write=True) as opened, opened.begin() as connection:
        connection.exec_driver_sql(
            "update label_draw set stratum = '0.75' where stratum = '0.5'"
        )
    assert len({row[4] for row in drawn(store) if row[2] == 2}) > 1
    for row in store.leaderboard_corrected(
        "essays", judge="gpt"
    ).rows:  # by their chances
        assert "strata_lost" in row.flags and row.n_labels == 180
        assert (row.low or 1) <= PEOPLE[row.model_a].mean() <= (row.high or 0)


def test_a_simple_wave_goes_on_without_strata(judged: Warehouse) -> None:
    with pytest.raises(MisuseError, match="without strata"):
        judged.judge_next("essays", judge="gpt", n=20, strata=3)


def test_a_win_rate_against_one_opponent_is_corrected(
    store_url: str, tmp_path: Path
) -> None:
    rng, people = np.random.default_rng(3), {}
    for model in ("ma", "mb"):
        wins = rng.random(200) < 0.4
        people[model] = {f"do {i}": float(won) for i, won in enumerate(wins)}
        said = np.where(rng.random(200) < 0.7, wins, rng.random(200) < 0.8)
        rows = [
            {"instruction": f"do {i}", "output_1": "x", "output_2": "y", "generator_1": "base", "generator_2": model,
             "annotator": "gpt", "preference": 1.0 + won} for i, won in enumerate(said.tolist())
        ]  # fmt: skip
        (tmp_path / f"{model}.json").write_text(json.dumps(rows))
    store = Warehouse(store_url)
    store.ingest(tmp_path)
    wave = store.judge_next("alpaca_eval", judge="gpt", n=80)
    labels = [f"{row['model']},alpaca_eval,{row['prompt_id']},{people[row['model']][row['question']]}"
              for row in wave.sheet]  # fmt: skip
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("\n".join(["model,benchmark,prompt_id,label", *labels]))
    store.ingest(sheet, mapping="label_sheet")
    board = store.leaderboard_corrected("alpaca_eval")
    for row in board.rows:
        truth_of = np.mean(list(people[row.model_a].values()))
        assert row.low < truth_of < row.high and row.judge_estimate > truth_of + 0.05  # type: ignore[operator]


def test_ranks_of_a_board_hold_for_all_pairs_together(
    store_url: str, tmp_path: Path
) -> None:
    people = truth({"ma": 0.7, "mb": 0.69, "mc": 0.4})
    judge = {model: biased(labels, 1, 0.8) for model, labels in people.items()}
    store = ingest_judged(store_url, tmp_path, {"gpt": judge})
    take_labels(store, store.judge_next("essays", judge="gpt", n=100), tmp_path, people)
    ranks = {
        row.model_a: (row.rank_low, row.rank_high)
        for row in store.leaderboard_corrected("essays").rows
    }
    assert ranks == {"ma": (1, 2), "mb": (1, 2), "mc": (3, 3)}
    alone = store.leaderboard_corrected("essays", where=["model=ma"]).rows[0]
    assert alone.rank_low is None
    with open_store(store.url, write=True) as opened, opened.begin() as connection:
        connection.exec_driver_sql(
            "update benchmark_metric set higher_is_better = false"
        )
    ranks = {
        row.model_a: (row.rank_low, row.rank_high)
        for row in store.leaderboard_corrected("essays").rows
    }
    assert ranks == {"ma": (2, 3), "mb": (2, 3), "mc": (1, 1)}


def test_ranks_are_among_the_models_of_one_split(
    store_url: str, tmp_path: Path
) -> None:
    people, table = truth({"ma": 0.9, "mb": 0.3}), tmp_path / "judged.csv"
    rows = [
        f"{model},essays,{split},{split[0]}{i},{label / 2}\n"
        for model, labels in people.items()
        for split in ("dev", "test")
        for i, label in enumerate(labels[:60])
    ]
    table.write_text("model,benchmark,split,prompt_id,score\n" + "".join(rows))
    store = Warehouse(store_url)
    store.ingest(table)
    for split in ("dev", "test"):
        wave = store.judge_next("essays", judge="score", n=50, where=[f"split={split}"])
        take_labels(store, wave, tmp_path, people)
    found = store.leaderboard_corrected("essays", judge="score")
    assert [(row.model_a, row.rank_low, row.rank_high) for row in found.rows] == [
        ("ma", 1, 1),
        ("mb", 2, 2),
    ] * 2
    assert (
        "each group is ranked alone" in found.notes[0]
        and "not known whether a higher" in found.notes[1]
    )


def test_a_judge_whose_source_is_removed_is_none_any_more(
    store_url: str, tmp_path: Path
) -> None:
    folders = [tmp_path / judge for judge in JUDGES]
    for folder, (judge, scores) in zip(folders, JUDGES.items(), strict=True):
        folder.mkdir()
        store = ingest_judged(
            store_url,
            folder,
            {judge: {model: own[:60] for model, own in scores.items()}},
        )
    with pytest.raises(MisuseError, match="several, name one with judge="):
        store.judge("essays", human="own")
    with open_store(store.url, write=True) as opened:
        forget(opened, "2")
    assert store.judge_next("essays", judge="gpt", n=30).rows
    labelled(store, tmp_path, 20)
    assert store.leaderboard_corrected("essays").judge == "gpt-model"


def test_votes_become_scores_that_can_be_corrected(
    store_url: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    won = {scorer: rng.random(60) < 0.6 for scorer in ("gpt", "people")}
    table = tmp_path / "votes.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            [
                "benchmark",
                "question_id",
                "model_a",
                "model_b",
                "winner",
                "scorer",
                "scorer_kind",
            ]
        )
        for scorer, wins in won.items():
            kind = "model" if scorer == "gpt" else "human"
            rows = [
                ["arena", f"q{i}", "ma", "mb", "ab"[not first], scorer, kind]
                for i, first in enumerate(wins)
            ]
            writer.writerows(rows)
    store = Warehouse(store_url)
    store.ingest(table)
    for ask in (
        store.leaderboard_corrected,
        partial(store.judge_next, judge="gpt", n=5),
    ):
        with pytest.raises(
            MisuseError,
            match="warehouse judge arena .* votes are corrected as scores of runs",
        ):
            ask("arena")
    scores = tmp_path / "scores.csv"
    store.query("vote_scores", benchmark="arena", scorer="gpt").to_frame().to_csv(
        scores, index=False
    )
    store.ingest(scores)
    store.query("vote_scores", benchmark="arena", scorer="people").to_frame().to_csv(
        scores, index=False
    )
    store.ingest(scores)  # another judge, whose votes are none of the first one's
    sheet = tmp_path / "sheet.csv"
    wave = store.judge_next("arena wins", judge="gpt", n=40, where=["model=ma"])
    rows = list(csv.DictReader(wave.sheet_csv().splitlines()))
    assert rows[0]["prompt_id"][0] == "q"  # the question's own
    said = (
        store.query("vote_scores", benchmark="arena", scorer="people")
        .to_frame()
        .query("model == 'ma'")
    )
    people = dict(zip(said["prompt_id"], said["score"], strict=True))
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])  # type: ignore[assignment]
        writer.writeheader()  # type: ignore[attr-defined]
        writer.writerows([row | {"label": people[row["prompt_id"]]} for row in rows])
    store.ingest(sheet, mapping="label_sheet")
    row = store.leaderboard_corrected(
        "arena wins", judge="gpt", where=["model=ma"]
    ).rows[0]
    assert row.judge_estimate == pytest.approx(won["gpt"].mean())
    assert row.n_labels == 40 and (row.low or 1) < won["people"].mean() < (
        row.high or 0
    )


def test_labels_do_not_become_the_headline(store_url: str, tmp_path: Path) -> None:
    table = tmp_path / "judged.csv"
    table.write_text(
        "model,benchmark,prompt_id,score\n"
        + "".join(f"m,essays,p{i},{i % 2}\n" for i in range(30))
    )
    store = Warehouse(store_url)
    store.ingest(table)
    take_labels(
        store,
        store.judge_next("essays", judge="score", n=30),
        tmp_path,
        {"m": np.ones(30)},
    )
    assert store.leaderboard("essays").metric == "score"


def test_two_models_stand_behind_the_benchmark(
    store: Warehouse, store_url: str, run: Caller
) -> None:
    words = (
        "judge",
        "plan",
        "essays",
        "ma",
        "mb",
        "--judge",
        "gpt",
        "--correlation",
        "0.5",
        "--difference",
        "0.1",
    )
    rows = run(*words, "--json", db=store_url).rows
    assert [(row["model_a"], row["model_b"]) for row in rows] == [("ma", "mb")]
