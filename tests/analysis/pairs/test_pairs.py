"""All pairs of a benchmark: the leaderboard's conditions, the comparison's figures."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.support.cli import Caller
from warehouse.analysis.compare.answer import compare
from warehouse.analysis.comparison.pair_rows import PairRow
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.analysis.pairs.answer import pairs
from warehouse.api import Warehouse
from warehouse.errors import MisuseError, StatisticsError
from warehouse.stats import benjamini_hochberg, holm
from warehouse.store.connection import Store


def runs_of(*ids: tuple[int, ...]) -> list[str]:
    return [f"run:{members[0]}" for members in ids]


@pytest.mark.parametrize("benchmark", ["quiz", "golden", "words", "draws", "judged"])
def test_each_row_is_the_comparison_of_the_two(world: Store, benchmark: str) -> None:
    found = pairs(world, benchmark, n_resamples=99, subset_ok=True)
    apart = [row for row in found.rows if not row.n_prompts]
    assert all(
        row.reason == "no common prompt" and row.difference is None for row in apart
    )
    single = [
        row
        for row in found.rows
        if row.n_prompts and len(row.runs_a) == len(row.runs_b) == 1
    ]
    assert single
    for row in single:
        (one,) = compare(
            world,
            *runs_of(row.runs_a, row.runs_b),
            benchmark=benchmark,
            metric=row.metric,
        ).rows
        assert row.difference == pytest.approx(one.difference, rel=1e-9, abs=1e-12)
        assert (row.n_prompts, row.flags) == (one.n_prompts, one.flags), (
            row.model_a,
            row.model_b,
        )
        for name in ("standard_error", "p_value", "correlation"):
            ours, theirs = getattr(row, name), getattr(one, name)
            assert ours == (
                None if theirs is None else pytest.approx(theirs, rel=1e-7)
            ), name
    assert any(row.flags for row in single) or benchmark not in ("quiz", "golden")


def test_adjustments_are_over_the_pairs_of_a_group(world: Store) -> None:
    found = pairs(world, "judged", n_resamples=99)
    assert len(found.groups) >= 2
    assert any("adjusted alone" in note for note in found.notes)
    start = 0
    for group in found.groups:
        rows = found.rows[start : start + len(group.pairs)]
        start += len(group.pairs)
        raw = [np.nan if row.p_value is None else row.p_value for row in rows]
        for name, adjust in (("p_holm", holm), ("p_bh", benjamini_hochberg)):
            ours = [
                np.nan if getattr(row, name) is None else getattr(row, name)
                for row in rows
            ]
            assert ours == pytest.approx(adjust(raw).tolist(), nan_ok=True)
        assert {(row.split, row.metric) for row in rows} == {
            (group.split, group.metric)
        }
    assert start == len(found.rows)


def test_conditions_are_those_that_the_leaderboard_ranks(world: Store) -> None:
    for benchmark, subset_ok in (("quiz", False), ("quiz", True), ("draws", False)):
        board = leaderboard(world, benchmark, subset_ok=subset_ok)
        ranked = {
            row.run_ids for row in board.rows if row.rank and row.method != "published"
        }
        found = pairs(world, benchmark, subset_ok=subset_ok, n_resamples=0)
        assert {
            runs for row in found.rows for runs in (row.runs_a, row.runs_b)
        } == ranked
    assert any("part of the benchmark" in note for note in pairs(world, "quiz").notes)


def test_the_better_one_comes_first(world: Store) -> None:
    for row in pairs(world, "quiz", n_resamples=0).rows:
        assert (row.mean_a or 0) >= (row.mean_b or 0)
        assert row.better in ("a", "")
    found = pairs(world, "words", n_resamples=0)
    assert found.higher_is_better is False
    assert all((row.mean_a or 0) < (row.mean_b or 0) for row in found.rows)


def test_unknown_direction_names_nobody_better_and_missing_pairs_say_why(
    world: Store,
) -> None:
    for benchmark in ("quiz", "draws", "edges"):
        try:
            found = pairs(world, benchmark, n_resamples=99)
        except MisuseError:
            continue
        for row in found.rows:
            assert (row.p_value is None) == bool(row.reason)
            assert (row.standard_error is None) == bool(row.reason)


def test_without_draws_there_are_no_simultaneous_intervals(world: Store) -> None:
    (row, *_) = pairs(world, "draws", n_resamples=0).rows
    assert (row.ci_low, row.p_step_down, row.critical_value, row.n_resamples) == (
        None,
        None,
        None,
        0,
    )
    (row, *_) = pairs(world, "draws", n_resamples=199, seed=3).rows
    assert row.seed == 3
    assert row.ci_low is not None and row.ci_low <= (row.difference or 0)


@pytest.mark.parametrize(
    ("benchmark", "keywords", "kind", "message"),
    [
        ("suite", {}, MisuseError, "is a suite"),
        ("quizz", {}, MisuseError, "did you mean quiz"),
        (
            "told",
            {},
            MisuseError,
            "no two conditions that can be compared.*no scored prompts",
        ),
        (
            "quiz",
            {"where": ["model=org/a", "fewshot=99"]},
            MisuseError,
            "no current run",
        ),
        ("quiz", {"cluster": "nope"}, MisuseError, "no clustering 'nope'"),
        ("quiz", {"level": 95}, StatisticsError, "level"),
        ("quiz", {"n_resamples": 5}, StatisticsError, "at least 19"),
    ],
)
def test_what_cannot_be_meant_is_said(
    world: Store, benchmark: str, keywords: dict[str, object], kind: type, message: str
) -> None:
    with pytest.raises(kind, match=message):
        pairs(world, benchmark, **keywords)  # type: ignore[arg-type]


def test_from_python(url: str) -> None:
    found = Warehouse(url).pairs("draws", n_resamples=99)
    assert "differ by Holm" in found.one_line
    assert list(found.to_frame().columns) == list(PairRow.columns())
    assert found.to_dict()["benchmark"] == "draws"


# --- the command -----------------------------------------------------------------------------


def test_the_matrix_marks_who_differs_and_changes_sign(run: Caller, url: str) -> None:
    text = run("pairs", "quiz", "--matrix", "--resamples", "0", db=url).out
    pairs_ = Warehouse(url).pairs("quiz", n_resamples=0).groups[0]
    _, below = re.split(r"^-[ -]+$", text, flags=re.MULTILINE)
    lines = below.splitlines()[1 : 1 + len(pairs_.models)]
    assert text.count("*") - 1 == 2 * int(
        np.sum(pairs_.pairs.p_holm <= 0.05)
    )  # the legend has one
    for place, line in enumerate(lines):
        assert pairs_.models[place] in line
        assert f" {pairs_.groups[place]} " in line
    rows = run("pairs", "quiz", "--matrix", "--resamples", "0", "--json", db=url).rows
    assert [row["model"] for row in rows] == list(pairs_.labels)
    square = np.array([[row[label] or 0.0 for label in pairs_.labels] for row in rows])
    assert square == pytest.approx(-square.T)
    assert rows[0][pairs_.labels[0]] is None


def test_mistakes_of_the_command_are_told(run: Caller, url: str) -> None:
    run("pairs", "nope", db=url).fails(2, "no benchmark")
    run("pairs", "quiz", "--resamples", "3", db=url).fails(2, "at least 19")
    run("pairs", "judged", "--matrix", "--csv", db=url).fails(2, "narrow with --where")
