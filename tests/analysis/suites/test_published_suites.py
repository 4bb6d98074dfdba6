"""Suites of published figures alone: read as columns, they have the board that they
have run by run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.builders import StoreRows
from warehouse.analysis.selection.benchmarks import runs_table
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.suites.answer import suite_leaderboard
from warehouse.analysis.suites.entries import ids_of
from warehouse.analysis.suites.published_runs import read_published
from warehouse.analysis.suites.tree import find_suite
from warehouse.errors import WarehouseError
from warehouse.store.connection import Store

#: Holds for every run, and is asked of every run by itself: what the answer was before
#: there were columns.
RUN_BY_RUN = "harness=tool"
LEAVES = ("one", "two", "three")


@dataclass
class Told:
    """A suite of published figures that is being made."""

    rows: StoreRows
    name: str
    dice: random.Random

    def leaf(self, name: str) -> str:
        return f"{self.name}/{name}"

    def describe(self, name: str, **known: Any) -> None:
        self.rows.benchmark(self.leaf(name), self.name)
        self.rows.describe(
            self.leaf(name), self.rows.metric(), **({"kind": "bounded"} | known)
        )

    def figure(
        self,
        model: str,
        name: str,
        *,
        error: float | None = None,
        n: int | None = None,
        **run: Any,
    ) -> int:
        """A run with a figure; rounded, so that some are equal."""
        number = self.rows.run(model, self.leaf(name), **run)
        value = round(self.dice.random(), 2)
        self.rows.published(
            number, value, benchmark=self.leaf(name), standard_error=error, n=n
        )
        return number

    def all_figures(self, n_models: int = 6, **run: Any) -> None:
        for name in LEAVES:
            self.describe(name)
            for model in range(n_models):
                self.figure(f"org/m{model}", name, **run)


def plain(told: Told) -> None:
    told.all_figures()


def some_missing(told: Told) -> None:
    for place, name in enumerate(LEAVES):
        told.describe(name)
        for model in range(8):
            if (model + place) % 3 or model == 7:
                told.figure(f"org/m{model}", name, n=model)


def with_errors(told: Told) -> None:
    """All are tested against one another but those that lack an error."""
    for name in LEAVES:
        told.describe(name)
        for model in range(6):
            told.figure(
                f"org/m{model}",
                name,
                error=None if model == 2 else 0.0 if model == 3 else 0.01,
                n=100,
            )


def lower_is_better(told: Told) -> None:
    for name in LEAVES:
        told.describe(name, higher=False)
        for model in range(5):
            told.figure(f"org/m{model}", name)


def unknown_direction(told: Told) -> None:
    for name in LEAVES:
        told.describe(name, higher=None)
        for model in range(5):
            told.figure(f"org/m{model}", name)


def outside_bounds(told: Told) -> None:
    for name in LEAVES:
        told.describe(name, high=0.5)
        for model in range(5):
            told.figure(f"org/m{model}", name)


def mixed_scales(told: Told) -> None:
    """Refused, unless they are mixed by force."""
    for name, high in zip(LEAVES, (1.0, 100.0, None), strict=True):
        told.describe(name, high=high)
        for model in range(5):
            told.figure(f"org/m{model}", name)


def settings_of_leaves(told: Told) -> None:
    """Few-shot examples differ between benchmarks, and models lack different ones."""
    for place, name in enumerate(LEAVES):
        told.describe(name)
        for model in range(6):
            if model != place:
                told.figure(
                    f"org/m{model}",
                    name,
                    fewshot=5 * place,
                    temperature=0.0,
                    n_benchmark=10 * place or None,
                )


def other_metrics(told: Told) -> None:
    told.all_figures()
    other = told.rows.metric("f1")
    for name in LEAVES[:2]:
        told.rows.describe(told.leaf(name), other, default=False)
        alone = told.rows.run("org/alone", told.leaf(name))
        told.rows.published(alone, 0.5, other, benchmark=told.leaf(name))
        for run in range(1, 4):
            told.rows.published(
                _run_on(told, name, run), 0.25, other, benchmark=told.leaf(name)
            )


def of_the_suite(told: Told) -> None:
    """Sources publish a figure of the suite itself, and one of them two that differ."""
    for name in LEAVES:
        told.describe(name)
        for model in range(5):
            told.figure(f"org/m{model}", name, group=f"{told.name}-{model}")
    for model, value in ((0, 0.5), (1, 0.6), (2, 0.7), (2, 0.8)):
        told.rows.published(
            None,
            value,
            benchmark=told.name,
            standard_error=0.1,
            group=f"{told.name}-{model}",
        )


def names_and_aliases(told: Told) -> None:
    """A benchmark and a model under two names each, and models with a revision and a
    recipe."""
    told.all_figures(4)
    told.rows.benchmark(told.leaf("old"), told.name, alias_of=told.leaf("one"))
    told.rows.model("org/former", alias_of="org/now")
    told.figure("org/former", "old")
    told.figure("org/now", "two")
    told.figure("org/at", "two", revision="abc", recipe="mix")
    told.figure("org/at", "three", revision="abc", recipe="mix")


def left_out_leaves(told: Told) -> None:
    """Benchmarks without runs, without a metric and without figures by it, and one with
    two headline metrics."""
    told.all_figures(4)
    told.rows.benchmark(told.leaf("empty"), told.name)
    told.rows.benchmark(told.leaf("without"), told.name)
    told.rows.run("org/m0", told.leaf("without"))
    told.describe("silent")
    told.rows.run("org/m0", told.leaf("silent"))
    told.describe("double")
    told.rows.describe(told.leaf("double"), told.rows.metric("f1"))
    told.figure("org/m0", "double")
    told.rows.published(
        told.figure("org/m1", "double"),
        0.5,
        told.rows.metric("f1"),
        benchmark=told.leaf("double"),
    )


def aggregates(told: Told) -> None:
    """The figure of the harness stands before an aggregate."""
    told.all_figures(4)
    for name in LEAVES:
        run = told.rows.run("org/both", told.leaf(name))
        told.rows.published(
            run,
            0.9,
            benchmark=told.leaf(name),
            statistic="aggregate",
            standard_error=0.2,
        )
        told.rows.published(run, 0.1, benchmark=told.leaf(name))
        told.rows.published(run, 0.3, benchmark=told.leaf(name), perturbation="typos")


PLAIN: tuple[Callable[[Told], None], ...] = (
    *(
        plain,
        some_missing,
        with_errors,
        lower_is_better,
        unknown_direction,
        outside_bounds,
        mixed_scales,
    ),
    *(
        settings_of_leaves,
        other_metrics,
        of_the_suite,
        names_and_aliases,
        left_out_leaves,
        aggregates,
    ),
)


def seeds(told: Told) -> None:
    told.all_figures(3)
    for label in ("0", "1"):
        for name in LEAVES:
            told.figure("org/trained", name, seed=label)


def places(told: Told) -> None:
    told.all_figures(3)
    for name in LEAVES:
        told.figure("org/trained", name, step=100.0)


def repeated(told: Told) -> None:
    told.all_figures(3)
    told.figure("org/m0", "one", repeat=1)


def two_conditions(told: Told) -> None:
    told.all_figures(3)
    told.figure("org/m0", "one", fewshot=5)


def two_revisions(told: Told) -> None:
    told.all_figures(3)
    told.figure("org/new", "one", revision="a")
    told.figure("org/new", "two", revision="b")


def settings_on_a_leaf(told: Told) -> None:
    told.all_figures(3)
    told.figure("org/other", "one", fewshot=5)


def versions_on_a_leaf(told: Told) -> None:
    told.all_figures(3)
    told.figure("org/other", "one", task_version="2")


def agents(told: Told) -> None:
    told.all_figures(3)
    told.figure("org/m9", "one", agent="scaffold")


def truncated(told: Told) -> None:
    told.all_figures(3)
    told.figure("org/m9", "one", status="truncated")


def infinite(told: Told) -> None:
    told.all_figures(3)
    run = told.rows.run("org/m9", told.leaf("one"))
    told.rows.published(run, None, benchmark=told.leaf("one"))
    told.rows.rows["published_score"][-1]["raw"] = "inf"


def scored(told: Told) -> None:
    told.all_figures(3)
    told.rows.scores(
        told.rows.run("org/m9", told.leaf("one")),
        {f"{told.name}{i}": float(i % 2) for i in range(9)},
    )


def scored_unsaid(told: Told) -> None:
    """Scores of a run that says that it has none."""
    scored(told)
    told.rows.rows["run"][-1]["n_scores"] = 0


MORE: tuple[Callable[[Told], None], ...] = (
    *(
        seeds,
        places,
        repeated,
        two_conditions,
        two_revisions,
        settings_on_a_leaf,
        versions_on_a_leaf,
        agents,
    ),
    *(truncated, infinite, scored, scored_unsaid),
)


def _run_on(told: Told, name: str, model: int) -> int:
    """The run of a model of `all_figures` on a leaf."""
    benchmark = told.rows.benchmark(told.leaf(name))
    return [
        run["id"] for run in told.rows.rows["run"] if run["benchmark_id"] == benchmark
    ][model]


def build_rows() -> StoreRows:
    rows = StoreRows()
    for make in (*PLAIN, *MORE):
        make(Told(rows, make.__name__, random.Random(make.__name__)))
    return rows


ROWS = build_rows()

#: What is asked of every suite.
QUESTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"partial_ok": True, "level": 0.9},
    {"force": True, "latest": True},
    {"metric": "acc", "weights": "prompts", "force": True},
    {"each": "seed", "cluster": "none"},
    {"each": "checkpoint", "repeats": "split", "latest": True},
    {"metric": "f1", "force": True},
)


def answer(store: Store, suite: str, **question: Any) -> object:
    """The board, and what people are shown of it; of a refusal what it says."""
    try:
        board = suite_leaderboard(store, suite, **question)
    except WarehouseError as error:
        return type(error), str(error)
    return board, str(board), board.to_dict(), board.view(verbose=True)


def asked() -> Iterator[object]:
    """By default the plain question and two others of each suite that is read as
    columns, which take turns; of the others, which are read run by run either way, the
    plain one."""
    for place, make in enumerate((*PLAIN, *MORE)):
        turns = {0, 1 + place % 6, 1 + (place + 3) % 6} if make in PLAIN else {0}
        for number, question in enumerate(QUESTIONS):
            marks = () if number in turns else pytest.mark.slow
            name = f"{make.__name__}-{question}"
            yield pytest.param(make, question, marks=marks, id=name)


@pytest.mark.parametrize(("make", "question"), list(asked()))
def test_columns_and_runs_say_the_same(
    world: Store, make: Callable[[Told], None], question: dict[str, Any]
) -> None:
    suite = make.__name__
    run_by_run = answer(world, suite, where=RUN_BY_RUN, **question)
    assert answer(world, suite, **question) == run_by_run


def test_weights_that_are_given_leave_benchmarks_out(world: Store) -> None:
    weights = {"with_errors/one": 3.0, "with_errors/two": 1.0, "with_errors/three": 0.0}
    found = answer(world, "with_errors", weights=weights)
    assert found == answer(world, "with_errors", weights=weights, where=RUN_BY_RUN)


@pytest.mark.parametrize("make", [*PLAIN, *MORE])
def test_only_plain_suites_are_read_as_columns(
    world: Store, make: Callable[[Told], None]
) -> None:
    suite = find_suite(world, make.__name__)
    runs = runs_table(world, ids_of(suite.leaves))
    found = read_published(world, suite.leaves, Selection(), runs)
    assert (found is not None) == (make in PLAIN)
    assert (
        read_published(world, suite.leaves, Selection(where=(RUN_BY_RUN,)), runs)
        is None
    )
