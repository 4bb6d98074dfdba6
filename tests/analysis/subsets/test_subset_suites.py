"""Suites whose leaves were asked planned subsets, and plans from another warehouse."""

from __future__ import annotations

import json
import math
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy

import warehouse
from tests.support.cli import Caller
from tests.support.subsets import answers, asked_in, load, rows_of, whole
from warehouse.analysis.subsets.plan import SubsetPlans
from warehouse.api import Warehouse
from warehouse.errors import InputError, MisuseError
from warehouse.records.clock import utc_now

SUITE = "quiz,words"
QUIZ, WORDS = answers(2)[8], answers(5)[6]
LATER = {"started_at": (utc_now() + timedelta(hours=1)).isoformat()}


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Warehouse, SubsetPlans]:
    """A suite with a plan, and models that were asked it, a part of it, and no part of
    it."""
    folder = tmp_path_factory.mktemp("suites")
    url = load(folder, [*whole(1), *whole(4, "words")])
    house = warehouse.connect(url)
    plans = house.subset_plan(SUITE, size=60, now=utc_now() + timedelta(seconds=1))
    quiz, words = (asked_in(plan) for plan in plans.rows)
    rows = rows_of("new/both", QUIZ, only=quiz, **LATER)
    rows += rows_of("new/both", WORDS, benchmark="words", only=words, **LATER)
    rows += rows_of("new/mixed", QUIZ, **LATER)
    rows += rows_of("new/mixed", WORDS, benchmark="words", only=words, **LATER)
    rows += rows_of("new/cut", QUIZ, only=quiz, **LATER) + rows_of(
        "new/cut", WORDS, benchmark="words", only=range(50)
    )
    rows += rows_of("new/one", QUIZ, only=quiz, **LATER)
    rows += rows_of("new/half", QUIZ, only=quiz[:20], **LATER)
    rows += rows_of("new/half", WORDS, benchmark="words", only=words, **LATER)
    load(folder, rows, url)
    return house, plans


def by_hand(
    plans: SubsetPlans, scores: list[np.ndarray], weights: list[float]
) -> tuple[float, float, float]:
    """Figure, error and half-width out of the formulas, stratum by stratum; weight 1
    each if all was asked."""
    theta, parts = 0.0, []
    for plan, y, weight in zip(plans.rows, scores, weights, strict=True):
        v, freedom = 0.0, 0
        for h in range(plan.design.n_strata):
            own = [row for row in plan.rows if row.stratum == h]
            seen = [y[int(row.tool_id)] for row in own if row.selected]
            theta += weight * len(own) / plan.n_prompts * float(np.mean(seen))
            share = len(own) / plan.n_prompts
            v += (
                share**2
                * (1 - len(seen) / len(own))
                * float(np.var(seen, ddof=1))
                / len(seen)
            )
            freedom += len(seen) - 1
        parts.append((weight**2 * v, freedom))
    total = sum(v for v, _ in parts)
    df = total**2 / sum(v**2 / freedom for v, freedom in parts)
    return (
        theta,
        math.sqrt(total),
        float(scipy.stats.t.ppf(0.975, df)) * math.sqrt(total),
    )


def rows_by_model(house: Warehouse, **options: Any) -> dict[str, Any]:
    return {row.model: row for row in house.leaderboard(group=SUITE, **options).rows}


def test_the_figure_of_a_suite_is_that_of_its_plans(
    planned: tuple[Warehouse, SubsetPlans],
) -> None:
    house, plans = planned
    found = rows_by_model(house)
    row = found["new/both"]
    theta, error, half = by_hand(plans, [QUIZ, WORDS], [0.5, 0.5])
    assert (row.estimate, row.standard_error) == (
        pytest.approx(theta),
        pytest.approx(error),
    )
    assert (row.ci_low, row.ci_high) == (
        pytest.approx(theta - half),
        pytest.approx(theta + half),
    )
    assert (
        row.flags[:1] == ("planned",)
        and row.statistical_rank is None
        and row.n_prompts == 60
    )
    others = [one.estimate for one in found.values() if one.model.startswith("lab/")]
    assert row.rank == 1 + sum(one > row.estimate for one in others)
    assert (row.rank_low, row.rank_high) == (
        1 + sum(one > row.ci_high for one in others),
        1 + sum(one >= row.ci_low for one in others),
    )
    assert sorted(
        one.rank for one in found.values() if one.model.startswith("lab/")
    ) == list(range(1, 13))
    alone = house.leaderboard("quiz").rows
    (leaf,) = [one.estimate for one in alone if one.model == "new/both"]
    assert row.leaf_estimates[0] == leaf


def test_a_leaf_of_which_all_was_asked_has_no_error(
    planned: tuple[Warehouse, SubsetPlans],
) -> None:
    house, plans = planned
    row = rows_by_model(house)["new/mixed"]
    words = by_hand(SubsetPlans("", None, 0.95, plans.rows[1:], ()), [WORDS], [1.0])
    assert row.estimate == pytest.approx(0.5 * float(QUIZ.mean()) + 0.5 * words[0])
    assert (row.standard_error, row.ci_high - row.estimate) == (
        pytest.approx(words[1] / 2),
        pytest.approx(words[2] / 2),
    )


@pytest.mark.parametrize(("new", "n_on_plans"), [("new/both", 2), ("new/mixed", 1)])
def test_the_overall_difference_is_that_of_the_plans(
    planned: tuple[Warehouse, SubsetPlans], run: Caller, new: str, n_on_plans: int
) -> None:
    house, _ = planned
    found = house.compare(new, "lab/m00")
    row = found.overall
    assert row is not None and row.flags == ("planned",)
    assert sum("planned" in one.flags for one in found.rows) == n_on_plans
    assert row.difference == pytest.approx(
        np.mean([one.difference for one in found.rows])
    )
    parts = np.array([(one.standard_error / 2) ** 2 for one in found.rows])
    freedom = parts.sum() ** 2 / np.sum(
        parts**2 / [one.degrees_of_freedom for one in found.rows]
    )
    error = math.sqrt(parts.sum())
    t = scipy.stats.t(freedom)
    assert (row.standard_error, row.degrees_of_freedom) == (
        pytest.approx(error),
        pytest.approx(freedom),
    )
    # no nearer than t, nor than the distances of the parts' own ends
    lower = math.hypot(*((one.difference - one.ci_low) / 2 for one in found.rows))
    upper = math.hypot(*((one.ci_high - one.difference) / 2 for one in found.rows))
    by_t = error * t.ppf(0.975)
    assert row.ci_low == pytest.approx(row.difference - max(by_t, lower))
    assert row.ci_high == pytest.approx(row.difference + max(by_t, upper))
    assert row.p_value >= 2 * t.sf(abs(row.difference) / error) * (1 - 1e-9)
    assert {one.partition(":")[0] for one in row.not_applicable} == {
        "permutation",
        "mcnemar",
        "wilcoxon",
    }
    assert not [one for one in found.left_out if one.startswith("overall")]
    (last,) = run(
        "compare",
        new,
        "lab/m00",
        "--method",
        "permutation",
        "--overall",
        "--json",
        db=house.url,
    ).rows
    assert last["p_value"] is None and last["difference"] == pytest.approx(
        row.difference
    )


def test_no_overall_difference_over_plans_that_share_texts(tmp_path: Path) -> None:
    """Where nothing tells how the errors of two benchmarks go together."""
    rows = [
        row | {"question": f"{row['prompt_id']}?"}
        for row in (*whole(1), *whole(4, "words"))
    ]
    house = warehouse.connect(load(tmp_path, rows))
    plan = house.subset_plan(
        "quiz", size=60, now=utc_now() + timedelta(seconds=1)
    ).rows[0]
    new = [
        *rows_of("new/one", QUIZ, only=asked_in(plan), **LATER),
        *rows_of("new/one", WORDS, benchmark="words"),
    ]
    load(
        tmp_path, [row | {"question": f"{row['prompt_id']}?"} for row in new], house.url
    )
    found = house.compare("new/one", "lab/m00", cluster="same_text")
    (reason,) = [one for one in found.left_out if one.startswith("overall")]
    assert (
        found.overall is None
        and "60 prompts or clusters stand in several benchmarks" in reason
    )


def test_what_is_said_and_refused(
    planned: tuple[Warehouse, SubsetPlans], run: Caller
) -> None:
    house, _ = planned
    board = house.leaderboard(group=SUITE)
    notes, basis = "\n".join(board.notes), "\n".join(board.basis)
    assert (
        "planned subsets" in basis
        and "new/both: quiz 30 of 120, words 30 of 120 prompts" in basis
    )
    assert "new/cut: words was asked in part, and on no plan" in notes
    assert (
        "new/half: quiz: plan" in notes and "no figure of the whole benchmark" in notes
    )
    found = {row.model: row for row in board.rows}
    for name in ("new/cut", "new/half"):
        assert "planned" not in found[name].flags and found[name].rank is None
    assert found["new/one"].rank is None and {"planned", "missing_leaves"} <= set(
        found["new/one"].flags
    )
    assert found["new/one"].estimate == found["new/both"].leaf_estimates[0]
    shown = run(
        "leaderboard",
        "--group",
        SUITE,
        "--columns",
        "rank,rank set,model,flags",
        db=house.url,
    )
    assert "planned" in shown.out and "rank set" in shown.out
    first = board.rows[0]
    assert ("estimated from a planned subset" in shown.out) == (
        "planned" in first.flags
    )


def test_a_plan_of_another_warehouse(
    planned: tuple[Warehouse, SubsetPlans], tmp_path: Path, run: Caller
) -> None:
    _, plans = planned
    file = tmp_path / "plans.json"
    plans.write(file)
    url = load(tmp_path, [*whole(1), *whole(4, "words")])
    house = warehouse.connect(url)
    quiz, words = (asked_in(plan) for plan in plans.rows)
    now = utc_now()
    rows = rows_of(
        "new/before",
        QUIZ,
        only=quiz,
        started_at=(now + timedelta(minutes=10)).isoformat(),
    )
    rows += rows_of(
        "new/after", QUIZ, only=quiz, started_at=(now + timedelta(hours=2)).isoformat()
    )
    load(tmp_path, rows, url)
    assert "planned" not in {
        flag for row in house.leaderboard("quiz").rows for flag in row.flags
    }
    taken = house.subset_import(file, now=now + timedelta(hours=1))
    assert [plan.key for plan in taken.rows] == [
        plan.key for plan in plans.rows
    ] and "from now on" in taken.notes[-1]
    flags = {row.model: row.flags for row in house.leaderboard("quiz").rows}
    assert "planned" in flags["new/after"] and "planned" not in flags["new/before"]
    again = run("subset", "import", str(file), "--as-dated", db=url)
    assert again.code == 0 and "for which nothing but the file speaks" in again.err
    flags = {row.model: row.flags for row in house.leaderboard("quiz").rows}
    assert "planned" in flags["new/before"]
    assert (
        words
        and "nothing has changed since"
        in run("subset", "import", str(file), db=url).err
    )


def test_plans_that_were_changed(
    planned: tuple[Warehouse, SubsetPlans], tmp_path: Path, run: Caller
) -> None:
    house, plans = planned
    good = json.loads(json.dumps(plans.rows[0].to_dict()))
    rows = good["rows"]
    one = next(row for row in rows if row["selected"])
    other = next(
        row for row in rows if not row["selected"] and row["stratum"] == one["stratum"]
    )

    def with_rows(**changes: dict[str, Any]) -> dict[str, Any]:
        return good | {"rows": [row | changes.get(row["id"], {}) for row in rows]}

    bad: list[tuple[dict[str, Any], str, int]] = [
        (
            with_rows(
                **{one["id"]: {"selected": False}, other["id"]: {"selected": True}}
            ),
            "a sample that does not",
            3,
        ),
        (
            with_rows(**{one["id"]: {"prediction": 0.999}}),
            "strata that do not follow",
            3,
        ),
        (with_rows(**{one["id"]: {"inclusion": 0.9}}), "probabilities that are not", 3),
        (with_rows(**{one["id"]: {"stratum": "0"}}), "stratum is '0'", 3),
        (good | {"seed": 7}, "it was changed", 3),
        (good | {"seed": -1}, "a seed below 0", 3),
        (good | {"level": 1.5}, "a level that is not", 3),
        (good | {"low": 2.0}, "scores from 2.0 to 1.0", 3),
        (good | {"history": "everybody"}, "history is 'everybody'", 3),
        (good | {"created_at": "yesterday"}, "expected a plan file", 3),
        (good | {"created_at": "2026-01-01T00:00:00+02:00"}, "no time in UTC", 3),
        (good | {"created_at": "2099-01-01T00:00:00"}, "still to come", 2),
        (good | {"high": 5.0}, "is here from 0.0 to 1.0", 2),
    ]
    for number, (content, message, code) in enumerate(bad):
        file = tmp_path / f"bad{number}.json"
        file.write_text(json.dumps(content))
        with pytest.raises((InputError, MisuseError), match=message):
            house.subset_import(file)
        run("subset", "import", str(file), db=house.url).fails(code, message)


def test_an_extension_says_what_it_brings(
    planned: tuple[Warehouse, SubsetPlans], tmp_path: Path
) -> None:
    house, _ = planned
    plan = house.subset_plan("words", size=24, seed=9).rows[0]
    more = house.subset_extend(plan.key, size=60)
    ratio = math.sqrt((1 / 60 - 1 / 120) / (1 / 24 - 1 / 120))
    assert (
        more.width == pytest.approx((plan.width or 0) * ratio)
        and more.rows[0].gain == plan.gain
    )
    file = tmp_path / "more.json"
    more.write(file)
    assert house.subset_import(file).rows[0].key == more.rows[0].key
