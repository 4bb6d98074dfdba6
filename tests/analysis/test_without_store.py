"""Sections of a report need no store: they are functions of what was read, made by hand
here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from tests.support.simulated_votes import simulate
from warehouse.analysis.audit.answer import audit_of
from warehouse.analysis.audit.keys import (
    Key,
    LikeliestOptions,
    PromptOptions,
    TextAnswers,
)
from warehouse.analysis.audit.read import StoredAnswers, Voter
from warehouse.analysis.decide.answer import decide_of
from warehouse.analysis.recipes.answer import recipes_of
from warehouse.analysis.seeds.answer import recipe_seeds
from warehouse.analysis.selection.benchmarks import Benchmark, BenchmarkNames, Metric
from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.prompts import SharedPrompts
from warehouse.analysis.selection.reference import by_split
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
    coverage_of,
    group_entries,
)
from warehouse.analysis.selection.scores import PromptScores
from warehouse.analysis.suites.answer import suite_board
from warehouse.analysis.suites.entries import LeafEntries
from warehouse.analysis.suites.question import OnSuite
from warehouse.analysis.suites.read import Leaf, SuiteEntries
from warehouse.analysis.suites.tree import Suite, list_suites
from warehouse.analysis.suites.units import UnitMap
from warehouse.analysis.training.trajectories import SHARED, RecipeScores, Trajectory
from warehouse.errors import MisuseError
from warehouse.records.run_fields import COMMON_FIELDS, WHO_FIELDS
from warehouse.store.computed.prompt_vectors import PromptVectors

LETTERS = "ABCD"
ACC = Metric(
    1, 1, "acc", "", "", "identity", "", "", "", True, 6, "binary", 0.0, 1.0, True
)
NOBODY = np.empty(0, np.int64)


def recipe(model: str, finals: Sequence[float], runs: Sequence[int]) -> RecipeScores:
    """One run of two checkpoints for each seed."""
    seeds = tuple(
        Trajectory(
            str(run), (1.0, 2.0), (0.1, final), (0.01, 0.01), ((run,), (run + 1,))
        )
        for run, final in zip(runs, finals, strict=True)
    )
    settings = {**dict.fromkeys(SHARED), "split": ""}
    return RecipeScores(
        "quiz", "acc", True, model, "", "step", settings, seeds, (1,), (1,)
    )


GOOD = recipe("good", (0.70, 0.72, 0.74), (10, 20, 30))
POOR = recipe("poor", (0.50, 0.52, 0.54), (40, 50, 60))


def runs_of(one: RecipeScores) -> list[Condition]:
    ids = [run for seed in one.trajectories for place in seed.runs for run in place]
    return [
        Condition(str(run), ({"run_id": run, "benchmark": "quiz", "split": ""},))
        for run in ids
    ]


def test_seeds_of_recipes() -> None:
    found = recipe_seeds(
        [GOOD, replace(POOR, trajectories=(POOR.trajectories[0].at(2.0),))]
    )
    (row,) = found.rows
    assert (row.model, row.n_seeds, found.left_out) == ("good", 3, 1)
    assert row.seed_sd == pytest.approx(np.std([0.70, 0.72, 0.74], ddof=1))


def test_recipes_of_what_was_read() -> None:
    found = recipes_of([GOOD, POOR])
    assert found is not None
    assert found.rows[0].recipe_sd == pytest.approx(np.std([0.72, 0.52], ddof=1))
    assert recipes_of([GOOD]) is None


def test_decide_of_what_was_read() -> None:
    good, poor = ((one.model, by_split(runs_of(one))) for one in (GOOD, POOR))
    (row,) = decide_of(good, poor, [GOOD, POOR]).rows
    assert row.difference == pytest.approx(0.2)
    assert (row.verdict, row.better, row.floor_from) == ("decides", "a", "seeds")
    with pytest.raises(MisuseError, match="'poor' has no figure"):
        decide_of(good, poor, [GOOD])


def test_suites_among_names() -> None:
    rows = [
        ("s", None),
        ("s/x", 1),
        ("s/y", 1),
        ("lone", None),
        ("bare", None),
        ("bare/z", 5),
    ]
    names = BenchmarkNames(
        [
            {
                "id": place,
                "name": name,
                "canonical": name,
                "parent_id": parent,
                "default_clustering_id": None,
            }
            for place, (name, parent) in enumerate(rows, 1)
        ]
    )
    (suite,) = list_suites(names, {2, 4}).values()
    assert (suite.name, suite.ids, suite.empty) == ("s", (1,), ("s/y",))
    assert suite.leaves == (Benchmark("s/x", (2,), ()),)
    assert list_suites(names, {1, 2, 4}) == {}


def test_what_is_below_itself_is_found_once() -> None:
    ring = [
        {
            "id": place,
            "name": name,
            "canonical": name,
            "parent_id": parent,
            "default_clustering_id": None,
        }
        for place, name, parent in ((1, "a", 2), (2, "b", 1))
    ]
    assert sorted(row["name"] for row in BenchmarkNames(ring).descendants([1])) == [
        "a",
        "b",
    ]


def leaf(name: str, first: int, shares: Sequence[float], n: int = 50) -> Leaf:
    """A benchmark on which models have some shares right, each by one run."""
    entries = []
    for model, share in enumerate(shares):
        ids, values = (
            np.arange(first, first + n),
            (np.arange(n) < share * n).astype(float),
        )
        flat = np.ones(n)
        scores = PromptScores(
            ids,
            values,
            flat,
            flat,
            np.full(n, np.nan),
            flat > 0,
            ids,
            np.zeros(n),
            0,
            n,
        )
        run = {
            **dict.fromkeys((*WHO_FIELDS, *COMMON_FIELDS)),
            "model": f"m{model}",
            "split": "",
            "task_version": "",
        }
        run |= {
            "run_id": first + model,
            "run_group_id": None,
            "benchmark": name,
            "started_at": None,
        }
        run |= {"status": "complete", "n_benchmark": n}
        entries.append(
            ScoredCondition(Condition(f"{name} {model}", (run,)), "", ACC, scores, None)
        )
    groups = group_entries(entries)
    coverages = {group: coverage_of(members) for group, members in groups.items()}
    return Leaf(
        1.0, LeafEntries(Benchmark(name, (first,), ()), tuple(entries), coverages)
    )


def test_the_board_of_a_suite_in_hand() -> None:
    leaves = (leaf("s/x", 0, (0.9, 0.5)), leaf("s/y", 1000, (0.7, 0.6)))
    ids = np.concatenate([np.arange(50), np.arange(1000, 1050)])
    suite = Suite("s", (7,), tuple(one.leaf_entries.benchmark for one in leaves), ())
    board = suite_board(
        SuiteEntries(
            suite,
            "equal",
            leaves,
            UnitMap(ids, -1 - ids, ids, SharedPrompts(ids, ids, ids, ids >= 0)),
            (),
            (),
        ),
        OnSuite(),
    )
    assert [row.model for row in board.rows] == ["m0", "m1"]
    assert [row.estimate for row in board.rows] == pytest.approx([0.8, 0.55])
    variance = sum(p * (1 - p) / 49 for p in (0.9, 0.7)) / 4
    assert board.rows[0].se_independent == pytest.approx(variance**0.5)


def answers(n: int = 200, models: int = 6) -> tuple[StoredAnswers, np.ndarray]:
    """Simulated answers in words, and which keys are wrong."""
    said, keys, wrong = simulate(n, models, 4, rate=0.04, seed=3)
    ids = np.arange(n)
    prompts = tuple(
        {
            "id": one,
            "split": "",
            "key": f"p{one:03}",
            "tool_id": None,
            "occurrence": 0,
            "target": LETTERS[keys[one]],
        }
        | {
            "text_hash": str(one),
            "text": f"case {one}",
            "choices": None,
            "metadata": None,
        }
        for one in range(n)
    )
    entries, texts = [], []
    for model in range(models):
        values = (said[:, model] == keys).astype(float)
        flat = np.ones(n)
        scores = PromptScores(
            ids,
            values,
            flat,
            flat,
            np.full(n, np.nan),
            np.ones(n, bool),
            ids,
            np.zeros(n),
            0,
            n,
        )
        run = {
            "run_id": model,
            "model": f"m{model}",
            "benchmark": "quiz",
            "split": "",
            "task_version": "",
        }
        run |= {
            "position": None,
            "started_at": datetime(2026, 1, 1),
            "status": "complete",
            "n_benchmark": n,
        }
        entries.append(
            ScoredCondition(Condition(str(model), (run,)), "", ACC, scores, None)
        )
        words: list[str | None] = [LETTERS[one] for one in said[:, model]]
        texts.append(TextAnswers(ids, np.full(n, model), words, values))
    found = BenchmarkScores(
        Benchmark("quiz", (1,), ()), (ACC,), tuple(entries), ClusterMap(NOBODY, NOBODY)
    )
    voters = tuple(
        Voter(entry, entry.scores, True)
        for entry in entries
        if entry.scores is not None
    )
    stored = StoredAnswers(
        scores=found,
        entries=tuple(entries),
        voters=voters,
        prompts=prompts,
        keys=tuple(Key(PromptOptions(4), int(key)) for key in keys),
        likeliest=LikeliestOptions(NOBODY, NOBODY, NOBODY),
        texts=tuple(texts),
        near=None,
        labels={},
        notes=(),
    )
    return stored, np.asarray(wrong)


def test_an_audit_of_answers_in_hand() -> None:
    stored, wrong = answers()
    found = audit_of(stored)
    planted = {f"prompt:{item}" for item in np.flatnonzero(wrong)}
    first = {row.prompt for row in found.rows[: len(planted)]}
    assert len(first & planted) > 0.5 * len(planted) > 5  # 7 % of the keys are wrong
    assert found.models == tuple(f"m{model}" for model in range(6))


def test_prompts_with_one_vector_and_two_keys_contradict() -> None:
    stored, _ = answers()
    options = PromptOptions(2, ("yes", "no"))
    keys = (Key(options, 0), Key(options, 1), *stored.keys[2:])
    vectors = PromptVectors(
        np.array([0, 1]), np.array([[1.0, 0.0], [1.0, 0.0]], np.float32)
    )
    found = audit_of(replace(stored, keys=keys, near=(vectors, "tiny@1")))
    rows = {row.prompt: row for row in found.rows}
    assert rows["prompt:0"].contradicts == "prompt:1"
    assert any("alike by tiny@1" in note for note in found.notes)
    assert all(row.contradicts is None for row in audit_of(stored).rows)
