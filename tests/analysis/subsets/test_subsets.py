"""Plans of a store, and what runs on them say of the whole benchmark."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warehouse
from tests.support.cli import Caller
from tests.support.subsets import (
    MODELS,
    PROMPTS,
    answers,
    asked_in,
    load,
    rows_of,
    whole,
)
from warehouse.analysis.subsets.plan import SubsetPlan, SubsetPlans, read_plans
from warehouse.analysis.subsets.stored import store_plan
from warehouse.errors import InputError, MisuseError, StatisticsError
from warehouse.records.clock import utc_now
from warehouse.stats.subsets.differences import subset_against_baseline, subset_pair
from warehouse.stats.subsets.estimate import estimate_subset

ASKED = 40
NAN = float("nan")


TRUTH = answers(1)
NEW = answers(2)[8]
OTHER = answers(3)[5]


@dataclass(frozen=True)
class World:
    """A store with a plan and runs on it."""

    url: str
    folder: Path
    plan: SubsetPlan

    def of(self, scores: np.ndarray) -> np.ndarray:
        """Scores of the sample in the order of the plan, NaN elsewhere."""
        return np.array(
            [
                scores[int(row.tool_id)] if row.selected else NAN
                for row in self.plan.rows
            ]
        )

    def all(self, scores: np.ndarray) -> np.ndarray:
        return np.array([scores[int(row.tool_id)] for row in self.plan.rows], float)


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("subsets")
    url = load(folder, whole())
    trial = warehouse.connect(url).subset_plan("quiz", size=ASKED, store_result=False)
    load(folder, rows_of("new/early", NEW, only=asked_in(trial.rows[0])), url)
    plans = warehouse.connect(url).subset_plan(
        "quiz", size=ASKED, now=utc_now() + timedelta(seconds=1)
    )
    plan = plans.rows[0]
    assert asked_in(plan) == asked_in(trial.rows[0])
    sample = asked_in(plan)
    later = {"started_at": (utc_now() + timedelta(hours=1)).isoformat()}
    outside = [p for p in range(PROMPTS) if p not in sample]
    rows = rows_of("new/one", NEW, only=sample, **later)
    rows += rows_of("new/other", OTHER, only=sample, **later)
    rows += rows_of("new/extra", NEW, only=[*sample, *outside[:5]], **later)
    rows += rows_of("new/lacks", NEW, only=sample[1:], **later)
    rows += rows_of("new/half", NEW, only=sample[:20], **later)
    rows += rows_of("new/first", NEW, only=range(40), **later)
    rows += rows_of("lab/m03", TRUTH[3], only=sample, temperature=0.7, **later)
    load(folder, rows, url)
    return World(url, folder, plan)


def board(world: World, **options: Any) -> Any:
    return warehouse.connect(world.url).leaderboard("quiz", **options)


def row_of(found: Any, model: str) -> Any:
    return next(
        row for row in found.rows if row.model == model and "subset" in row.flags
    )


def test_a_plan_says_what_it_draws_and_what_that_will_tell(
    planned: World, run: Caller
) -> None:
    plan = planned.plan
    assert (plan.n_prompts, plan.size, plan.design.n_strata, len(plan.history)) == (
        PROMPTS,
        ASKED,
        10,
        MODELS,
    )
    shares = {row.stratum: row.inclusion for row in plan.rows}
    assert shares == dict.fromkeys(range(10), 4 / 12)
    assert [row.prediction for row in plan.rows] == pytest.approx(
        planned.all(TRUTH.mean(axis=0))
    )
    assert (
        0.15 < (plan.width or 0) < 0.35
        and (plan.gain or 0) > 1
        and plan.n_left_out == MODELS
    )
    again = run("subset", "plan", "quiz", "--size", str(ASKED), db=planned.url)
    assert f"Ask {ASKED} of {PROMPTS} prompts of quiz, plan {plan.key}." in again.out
    assert "nothing has changed since" in again.err
    other = warehouse.connect(planned.url).subset_plan(
        "quiz", size=ASKED, seed=1, store_result=False
    )
    assert other.rows[0].key != plan.key and asked_in(other.rows[0]) != asked_in(plan)


def test_estimate_of_the_whole_benchmark_on_the_leaderboard(planned: World) -> None:
    found, plan = board(planned), planned.plan
    row = row_of(found, "new/one")
    expected = estimate_subset(
        planned.of(NEW), plan.stratum, plan.selected, bounds=(0, 1)
    )
    assert (row.estimate, row.ci_low, row.ci_high) == (
        expected.estimate,
        expected.ci_low,
        expected.ci_high,
    )
    assert {"planned", "subset"} <= set(row.flags) and row.estimand == "full_benchmark"
    figures = [
        other.estimate
        for other in found.rows
        if other.rank is not None and "planned" not in other.flags
    ]
    assert row.rank == 1 + sum(one > row.estimate for one in figures)
    assert row.rank_low == 1 + sum(one > row.ci_high for one in figures)
    assert row.rank_high == 1 + sum(one >= row.ci_low for one in figures)
    assert len(figures) == MODELS and row.statistical_rank is None
    ranked = [other.estimate for other in found.rows if other.rank is not None]
    assert ranked == sorted(ranked, reverse=True)
    text = "\n".join(found.basis)
    assert (
        f"new/one: {ASKED} of {PROMPTS} prompts, plan {plan.key}" in text
        and "stratified sample" in text
    )
    whole_rows = [
        other
        for other in found.rows
        if other.model.startswith("lab/") and "subset" not in other.flags
    ]
    assert sorted(other.rank for other in whole_rows) == sorted(
        1 + sum(b.estimate > a.estimate for b in whole_rows) for a in whole_rows
    )


def test_what_a_plan_refuses_or_ignores(planned: World) -> None:
    found = board(planned)
    notes = "\n".join(found.notes)
    assert row_of(found, "new/extra").estimate == row_of(found, "new/one").estimate
    assert "new/extra: 40 of 120 prompts" in "\n".join(found.basis)
    assert "5 prompts outside the plan are ignored" in "\n".join(found.basis)
    lacks = row_of(found, "new/lacks")
    assert {"planned", "missing_in_sample"} <= set(
        lacks.flags
    ) and lacks.n_prompts == ASKED - 1
    assert (
        lacks.unscored_low <= lacks.estimate <= lacks.unscored_high
        and lacks.unscored_ci_low <= lacks.ci_low
    )
    assert (
        "new/half" in notes and "20 of 40 prompts have no score; it lies in [" in notes
    )
    assert "lab/m03 is in the plan's own history" in notes
    assert "new/early: plan" in notes and "after the run" in notes
    for model in ("new/half", "new/early", "lab/m03", "new/first"):
        row = row_of(found, model)
        assert row.rank is None and "planned" not in row.flags
    assert "new/first" not in notes
    (alone,) = board(planned, where=["model=new/one"]).rows
    assert (
        alone.estimate == row_of(found, "new/one").estimate
        and "planned" in alone.flags
        and alone.rank is None
    )
    fixed = board(planned, estimand="prompts_fixed")
    assert row_of(fixed, "new/one").rank is None
    assert "two draws" in "\n".join(fixed.notes)


def test_compare_on_the_whole_benchmark(planned: World, run: Caller) -> None:
    store, plan = warehouse.connect(planned.url), planned.plan
    found = store.compare("new/one", "lab/m05", benchmark="quiz")
    settings: dict[str, Any] = {"bounds": (0, 1), "estimand": "prompts_sampled"}
    expected = subset_against_baseline(
        planned.of(NEW), planned.all(TRUTH[5]), plan.stratum, plan.selected, **settings
    )
    row = found.rows[0]
    assert (row.difference, row.ci_low, row.p_value) == (
        expected.difference,
        expected.ci_low,
        expected.p_value,
    )
    assert (
        row.mean_b == TRUTH[5].mean()
        and "planned" in row.flags
        and row.n_prompts == ASKED
    )
    turned = store.compare("lab/m05", "new/one", benchmark="quiz").rows[0]
    assert (turned.difference, turned.ci_high, turned.mean_a) == (
        -row.difference,
        -row.ci_low,
        row.mean_b,
    )
    here = subset_against_baseline(
        planned.of(NEW),
        planned.all(TRUTH[5]),
        plan.stratum,
        plan.selected,
        bounds=(0, 1),
    )
    assert (
        f"{here.difference:+.3g} [{here.ci_low:.3g}, {here.ci_high:.3g}]"
        in found.notes[0]
    )
    fresh = store.compare("new/one", "new/other", benchmark="quiz").rows[0]
    pair = subset_pair(
        planned.of(NEW), planned.of(OTHER), plan.stratum, plan.selected, **settings
    )
    assert (fresh.difference, fresh.ci_high) == (pair.difference, pair.ci_high)
    refused = store.compare("new/early", "lab/m05", benchmark="quiz")
    assert (
        "planned" not in refused.rows[0].flags
        and "on common prompts only" in refused.notes[0]
    )
    shown = run(
        "compare",
        "new/one",
        "lab/m05",
        "-b",
        "quiz",
        "--method",
        "mcnemar",
        db=planned.url,
    )
    assert "planned" in shown.out and f"plan {plan.key}" in shown.err


def test_gate_on_the_whole_benchmark(planned: World) -> None:
    store = warehouse.connect(planned.url)
    found = store.gate("new/one", "lab/m00", 0.01, benchmarks=["quiz"])
    row = found.rows[0]
    compared = store.compare("new/one", "lab/m00", benchmark="quiz").rows[0]
    assert (row.difference, row.standard_error) == (
        compared.difference,
        compared.standard_error,
    )
    assert row.candidate == compared.mean_a and row.baseline == TRUTH[0].mean()
    assert (
        found.verdict == "pass"
        and row.n_prompts == ASKED
        and row.method == "t of a planned subset"
    )
    assert store.gate("new/one", "lab/m11", 0.0, benchmarks=["quiz"]).verdict == "fail"
    with pytest.raises(MisuseError, match="finite number from 0"):
        store.gate("new/one", "lab/m11", float("inf"), benchmarks=["quiz"])
    half = store.gate("new/half", "lab/m00", 0.01, benchmarks=["quiz"])
    assert half.verdict == "undecided" and "no score of" in half.rows[0].reason


def test_extension_only_before_results(
    planned: World, tmp_path: Path, run: Caller
) -> None:
    url = load(tmp_path, whole())
    out, more = tmp_path / "plan.json", tmp_path / "more.json"
    run("subset", "plan", "quiz", "--size", "40", "--out", str(out), db=url)
    first = run(
        "subset", "extend", str(out), "--size", "60", "--out", str(more), db=url
    )
    before, after = read_plans(out).rows[0], read_plans(more).rows[0]
    assert "Ask 60 of 120 prompts" in first.out and after.extends == before.key
    assert (
        set(asked_in(before)) < set(asked_in(after))
        and before.stratum.tolist() == after.stratum.tolist()
    )
    run("subset", "extend", before.key, "--size", "20", db=url).fails(2, "not shrink")
    refusal = run("subset", "extend", planned.plan.key, "--size", "60", db=planned.url)
    refusal.fails(2, "more prompts after scores are known bias the figure")


def test_exports(planned: World, tmp_path: Path, run: Caller) -> None:
    file, plan = tmp_path / "plan.json", planned.plan
    SubsetPlans("", None, 0.95, (plan,), ()).write(file)
    theirs = tmp_path / "scores.csv"
    theirs.write_text("id,score\n")
    with pytest.raises(
        MisuseError,
        match="no plan of a subset .* name another file, or remove it first",
    ):
        SubsetPlans("", None, 0.95, (plan,), ()).write(theirs)
    assert theirs.read_text() == "id,score\n"
    sample = asked_in(plan)
    lm = run("subset", "export", str(file), "--to", "lm-eval")
    assert (
        json.loads(lm.out) == {"quiz": sample} and "are they those of lm-eval" in lm.err
    )
    assert (
        run("subset", "export", plan.key, "--to", "inspect", db=planned.url).out
        == ",".join(map(str, sample)) + "\n"
    )
    lines = list(
        csv.DictReader(
            io.StringIO(run("subset", "export", str(file), "--to", "csv").out)
        )
    )
    assert sorted(int(line["prompt_id"]) for line in lines) == sample
    assert {line["inclusion"] for line in lines} == {f"{1 / 3:.12g}"}
    assert len(run("subset", "export", str(file), "--to", "helm").out.split()) == ASKED
    assert json.loads(run("subset", "export", str(file), "--to", "lighteval").out) == {
        "quiz": sample
    }
    out = tmp_path / "ids.txt"
    assert (
        run("subset", "export", str(file), "--to", "inspect", "--out", str(out)).out
        == ""
        and out.read_text()
    )
    run("subset", "export", "deadbeef", "--to", "csv", db=planned.url).fails(
        2, f"stored plans: {plan.key}"
    )


def test_width_budget_and_baseline(planned: World) -> None:
    store = warehouse.connect(planned.url)
    wide = store.subset_plan(
        "quiz", width=0.2, where=["model=lab/*"], store_result=False
    )
    assert (
        wide.width is not None
        and wide.width <= 0.2
        and ASKED < wide.rows[0].size < PROMPTS
    )
    spent = store.subset_plan("quiz", budget=100, draws=4, store_result=False)
    assert spent.rows[0].size == 25
    against = store.subset_plan(
        "quiz",
        size=ASKED,
        against="lab/m08",
        store_result=False,
        latest=False,
        where=["temperature="],
    )
    plan = against.rows[0]
    rest = np.delete(TRUTH, 8, axis=0).mean(axis=0)
    assert plan.baseline == "lab/m08" and "lab/m08" not in plan.history
    assert [row.prediction for row in plan.rows] == pytest.approx(
        planned.all((rest + TRUTH[8]) / 2)
    )
    part = store.subset_plan(
        "quiz", size=10, where=["model=new/one"], store_result=False
    ).rows[0]
    assert (
        part.n_prompts == ASKED
        and "120 prompts of quiz are stored, these runs show 40" in part.notes[0]
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "one of size=, width= and budget="),
        ({"size": 10, "width": 0.1}, "one of size="),
        ({"width": float("inf")}, "number above 0"),
        ({"width": NAN}, "number above 0"),
        ({"width": -0.1}, "number above 0"),
        ({"budget": float("inf")}, "number of generations above 0"),
        ({"budget": 1, "draws": 4}, "from 1 to all 120 prompts, found 0"),
        ({"size": 121}, "from 1 to all 120"),
        ({"size": 0}, "from 1 to all 120"),
        ({"size": 10, "draws": 0}, "draws must be at least 1, found 0"),
        ({"size": 10, "draws": 2}, "draws goes with budget"),
        ({"size": 10, "against": "nobody"}, "no model with runs is called"),
        ({"size": 10, "against": "new/one"}, "no score of 80 of 120 prompts"),
        ({"size": 10, "level": 1.0}, "level must be in .0, 1., found 1"),
    ],
)
def test_plans_without_sense(
    planned: World, options: dict[str, Any], message: str
) -> None:
    with pytest.raises((MisuseError, StatisticsError), match=message):
        warehouse.connect(planned.url).subset_plan(
            "quiz", store_result=False, **options
        )


def test_plan_files_that_are_none(planned: World, tmp_path: Path, run: Caller) -> None:
    good = SubsetPlans("", None, 0.95, (planned.plan,), ()).to_dict()
    first = good["rows"][0]
    bad: list[tuple[Any, str]] = [
        ([], "a list"),
        ({"schema": "other/1"}, "schema 'other/1'"),
        ({key: value for key, value in good.items() if key != "seed"}, "no field seed"),
        (
            good | {"rows": [first | {"id": "changed"}, *good["rows"][1:]]},
            "it was changed",
        ),
        (
            good
            | {
                "rows": [first | {"selected": not first["selected"]}, *good["rows"][1:]]
            },
            "not those it says",
        ),
        (
            good | {"rows": [first | {"prediction": float("inf")}, *good["rows"][1:]]},
            "is no number",
        ),
        (good | {"rows": [{"id": "a"}]}, "expected a plan file"),
    ]
    for number, (content, message) in enumerate(bad):
        file = tmp_path / f"bad{number}.json"
        file.write_text(json.dumps(content))
        with pytest.raises(InputError, match=message):
            read_plans(file)
        run("subset", "export", str(file), "--to", "csv").fails(3, message)


def test_plan_for_another_version(planned: World, tmp_path: Path) -> None:
    """A plan of a benchmark of which this store has other prompts."""
    fewer = [row for row in whole() if row["prompt_id"] < 110]
    url = load(tmp_path, fewer)
    store = warehouse.connect(url)
    _, note = store_plan(store._opener, planned.plan)
    assert not note
    sample = [p for p in asked_in(planned.plan) if p < 110]
    load(
        tmp_path,
        rows_of(
            "new/one", NEW, only=sample, started_at=datetime(2099, 1, 1).isoformat()
        ),
        url,
    )
    notes = "\n".join(store.leaderboard("quiz").notes)
    assert (
        "10 of its 120 prompts are not in the store: it is for another version" in notes
    )
