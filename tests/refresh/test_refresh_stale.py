"""After any change of a store a refresh gives what one from scratch gives."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from tests.refresh.test_refresh import BASE, KEY, Fake, build, change_run, current
from tests.support.builders import StoreRows
from tests.support.races import dumps
from tests.support.stores import select
from warehouse.analysis import families
from warehouse.analysis.families.benchmark_data import read_all
from warehouse.analysis.families.family import FamilySettings
from warehouse.analysis.families.scores import FAMILY as SCORES
from warehouse.api import Warehouse, connect
from warehouse.errors import MisuseError
from warehouse.refresh import plan
from warehouse.refresh import run as running
from warehouse.refresh.plan import computed, make_plan, row_of
from warehouse.refresh.run import RefreshRequest, list_stale, refresh
from warehouse.store.connection import Store
from warehouse.store.curate.aliases import alias, unalias
from warehouse.store.curate.catalogue import invalidate
from warehouse.store.curate.field_clusters import Members, store_clustering
from warehouse.store.curate.prompt_links import link, unlink
from warehouse.store.load.dimensions import allocate
from warehouse.store.load.source_ledger import forget

FAMILIES = ("scores", "differences", "ranks", "variance", "matrix")
WORK = RefreshRequest(
    FAMILIES, (), FamilySettings(baselines=(BASE,), n_resamples=0, permutations=1)
)
QUICK = RefreshRequest(("scores", "differences"), (), WORK.settings)
FIGURES = (
    *(
        "subject_kind",
        "subject",
        "benchmark",
        "metric",
        "statistic",
        "method",
        "method_version",
        "estimate",
    ),
    *("standard_error", "low", "high", "n", "n_clusters", "reason"),
)


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    """The store of `test_refresh`, with a benchmark that repeats the questions of
    another."""
    rows, dice = build(), random.Random(8)
    rows.describe("retold", rows.metric())
    for model in (BASE, "org/b"):
        keys = [f"quiz{i}" for i in range(40)]
        rows.scores(
            rows.run(model, "retold"), {key: float(dice.random() < 0.6) for key in keys}
        )
    rows.published(rows.run("org/told", "quiz"), 0.5, standard_error=0.01, n=40)
    return rows


def shown(house: Warehouse) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in FIGURES) for row in current(house)]


def from_scratch(house: Warehouse, work: RefreshRequest) -> list[tuple[Any, ...]]:
    """What a refresh of a store without stored figures would show."""
    chosen = families.choose_families(work.families)
    with house._reading() as store:
        read = read_all(store, house._opener, work.settings.baselines)
        questions = make_plan(chosen, read.benchmarks, work.settings, [], []).questions
        for data in read.benchmarks:
            data.fetch(store, data.conditions)
        rows = [
            row_of(one, value)
            for one in questions
            for value in computed(one, work.settings)
        ]
    rows.sort(key=lambda row: [row[name] for name in KEY.split(", ")])
    return [tuple(row[name] for name in FIGURES) for row in rows]


def run_sql(*statements: str) -> Callable[[Store], object]:
    def change(store: Store) -> None:
        with store.begin() as connection:
            for statement in statements:
                connection.execute(sa.text(statement))

    return change


def swap_clusters(store: Store) -> None:
    """Two prompts change places: as many prompts, and the same clusters, as before."""
    first, second = select(
        store,
        "select min(prompt_id) as prompt, cluster_id from prompt_cluster group by "
        "cluster_id"
        " order by cluster_id limit 2",
    )
    with store.begin() as connection:
        for prompt, cluster in ((first["prompt"], second), (second["prompt"], first)):
            connection.execute(
                sa.text(
                    "update prompt_cluster set cluster_id = :c where prompt_id = :p"
                ),
                {"c": cluster["cluster_id"], "p": prompt},
            )


def new_clusters(store: Store) -> None:
    (row,) = select(store, "select id from benchmark where name = 'quiz'")
    prompts = [
        one["id"]
        for one in select(
            store, f"select id from prompt where benchmark_id = {row['id']}"
        )
    ]
    clusters = np.arange(len(prompts)) % 8
    with store.begin() as connection:
        for table in ("clustering", "cluster"):
            allocate(
                connection, table, 100
            )  # ids that the builder has given out itself
    members = Members(np.array(prompts), clusters, np.zeros(len(prompts)), np.arange(8))
    store_clustering(
        store, row["id"], "topic", "semantic", members, parameters={}, default=True
    )


#: Name -> what happens to the store.
CHANGES: dict[str, Callable[[Store], object]] = {
    "a run is invalidated": lambda store: invalidate(store, "run:2", "wrong"),
    "and counts again": run_sql("update run set status = 'complete' where id = 2"),
    "a run is superseded": run_sql("update run set superseded_by = 5 where id = 6"),
    "a run is truncated": run_sql("update run set status = 'truncated' where id = 5"),
    "a benchmark is declared larger": run_sql(
        "update run set n_benchmark = 50 where id = 3"
    ),
    "a model is an alias": lambda store: alias(store, "model", "org/c", "org/b"),
    "and is none any more": lambda store: unalias(store, "model", "org/c"),
    "the baseline is an alias": lambda store: alias(store, "model", BASE, "org/train"),
    "and none any more": lambda store: unalias(store, "model", BASE),
    "two benchmarks are one": lambda store: alias(store, "benchmark", "retold", "quiz"),
    "prompts are linked": lambda store: link(store, "retold", "quiz"),
    "prompts are no longer linked": lambda store: unlink(store, "retold"),
    "and they are two": lambda store: unalias(store, "benchmark", "retold"),
    "prompts change clusters": swap_clusters,
    "a new clustering": new_clusters,
    "computed anew": new_clusters,
    "no clustering": run_sql("update benchmark set default_clustering_id = null"),
    "lower is better": run_sql("update benchmark_metric set higher_is_better = false"),
    "a metric has no bounds": run_sql(
        "update benchmark_metric set kind = 'continuous', low = null, high = null"
    ),
    "a figure behind a link": run_sql("update metric set link = 'exp_neg'"),
}


#: Those that every call of the tests makes.
MAIN = (
    "a run is invalidated",
    "a model is an alias",
    "two benchmarks are one",
    "prompts change clusters",
    "a metric has no bounds",
)


def follow(house: Warehouse, names: Iterable[str], work: RefreshRequest) -> None:
    """Change the store, refresh, and compare with a refresh from scratch, name by name."""
    refresh(house._opener, work)
    before = shown(house)
    for name in names:
        with house._writing() as store:
            CHANGES[name](store)
        refresh(house._opener, work)
        after = shown(house)
        assert after == from_scratch(house, work), name
        assert after != before or name == "computed anew", name
        before = after


def test_after_a_change_figures_are_those_from_scratch(house: Warehouse) -> None:
    follow(house, MAIN, QUICK)


@pytest.mark.slow
def test_after_every_change_figures_are_those_from_scratch(house: Warehouse) -> None:
    follow(house, CHANGES, WORK)


def test_sources_that_come_and_go(store_url: str, tmp_path: Path) -> None:
    house = connect(store_url)
    files = dumps(
        tmp_path / "dumps", 18
    )  # two models on eight benchmarks, the first ones twice
    house.ingest(*files[:10])
    work = replace(QUICK, settings=replace(QUICK.settings, baselines=("org/model-0",)))
    refresh(house._opener, work)
    house.ingest(*files[10:])
    refresh(house._opener, work)
    assert shown(house) == from_scratch(house, work)
    pairs = [
        row for row in current(house, "difference") if row["subject_kind"] == "pair"
    ]
    assert len(pairs) == 8 + 2
    with house._writing() as store:
        forget(store, "1")
    assert {row.benchmark for row in list_stale(house._opener, work).rows} == {"quiz-0"}
    refresh(house._opener, work)
    assert shown(house) == from_scratch(house, work)
    old = len(house.history("org/model-1", "quiz-1").rows)
    house.ingest(files[0])
    refresh(house._opener, work)
    assert shown(house) == from_scratch(house, work) and old > 0


def test_other_baselines_other_pairs(house: Warehouse) -> None:
    refresh(house._opener, QUICK)
    other = replace(QUICK, settings=replace(QUICK.settings, baselines=("org/b",)))
    found = refresh(house._opener, other)
    assert found.total("gone") > 0 and shown(house) == from_scratch(house, other)


def test_a_benchmark_whose_runs_are_gone_loses_its_figures(house: Warehouse) -> None:
    refresh(house._opener, WORK)
    with house._writing() as store:
        run_sql("update run set status = 'invalidated' where id in (4, 5, 6)")(store)
    assert current(house, benchmark="essay")
    found = refresh(house._opener, replace(WORK, benchmarks=("essay",)))
    assert found.total("gone") > 0 and current(house, benchmark="essay") == []
    with pytest.raises(MisuseError, match="no benchmark with runs is called 'nothing'"):
        refresh(house._opener, replace(WORK, benchmarks=("nothing",)))


def test_a_benchmark_may_be_named_by_its_alias(house: Warehouse) -> None:
    with house._writing() as store:
        alias(store, "benchmark", "retold", "quiz")
    found = refresh(house._opener, replace(QUICK, benchmarks=("retold",)))
    assert found.total("recomputed") > 0
    assert {row["benchmark"] for row in current(house)} == {"quiz"}


def test_families_that_are_left_alone_are_named_where_they_are_out_of_date(
    house: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    refresh(house._opener, WORK)
    assert refresh(house._opener, QUICK).notes == ()  # matrix, ranks and variance hold
    assert refresh(house._opener, replace(QUICK, settings=FamilySettings())).notes == ()
    change_run(house, 2, 0.25)
    stale = {"matrix": 1, "ranks": 1, "variance": 1}
    told = tuple(
        f"{count} answers of the family {name!r} are out of date; --family {name}"
        for name, count in stale.items()
    )
    assert refresh(house._opener, QUICK).notes == told
    assert list_stale(house._opener, replace(QUICK, benchmarks=("essay",))).notes == ()
    refresh(house._opener, RefreshRequest((Fake("mine"),)))
    (note,) = [one for one in list_stale(house._opener, WORK).notes if "mine" in one]
    assert (
        note == "12 figures of the family 'mine' stay as they are: it is not installed"
    )
    monkeypatch.setattr(families, "family_names", lambda: ["mine"])
    monkeypatch.setattr(plan, "family_names", lambda: ["mine"])
    (note,) = [one for one in list_stale(house._opener, WORK).notes if "mine" in one]
    assert note.startswith("12 figures stay as they are: no metric family 'mine'")


def test_runs_that_change_under_a_refresh_are_left_for_the_next(
    house: Warehouse,
) -> None:
    """A run is forgotten after the plan was made and is there again, with equal content
    but as another run, before the figures are written: read in between, it had no
    scores."""

    class Meddler(Fake):
        def compute(
            self, data: Any, question: Any, settings: FamilySettings
        ) -> list[Any]:
            if question.subject.startswith("org/b#") and data.benchmark.name == "quiz":
                with house._writing() as store:
                    run_sql("update run set id = 777 where id = 2")(store)
            return super().compute(data, question, settings)

    found = refresh(house._opener, RefreshRequest((Meddler(), SCORES)))
    # asked of the run: the family that meddles, and the scores
    assert found.notes == (
        "2 answers are left for the next refresh: their runs changed while they were "
        "computed",
    )
    assert (
        found.total("recomputed") == 2 * 12 + 1 - 2
    )  # with the row of the model that has checkpoints
    assert len(list_stale(house._opener, RefreshRequest((Fake(), SCORES))).rows) == 2


def test_figures_that_became_fewer_are_gone_also_where_half_a_refresh_said_so(
    house: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "WRITE_AFTER", -1.0)
    refresh(house._opener, RefreshRequest((Fake(values=(1.0, 2.0)),)))
    fewer = RefreshRequest((Fake(version="2", values=(1.0,)),))
    dying = RefreshRequest(
        (Fake(version="2", values=(1.0,), raises=KeyboardInterrupt(), only="org/c"),)
    )
    with pytest.raises(KeyboardInterrupt):
        refresh(house._opener, dying)
    found = refresh(house._opener, fewer)
    assert found.total("resumed") > 0 and found.total("recomputed") > 0
    assert current(house, "fake1") == []


def test_what_half_a_refresh_found_is_not_shown_unless_it_is_still_asked_for(
    house: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "WRITE_AFTER", -1.0)
    with pytest.raises(KeyboardInterrupt):
        refresh(
            house._opener,
            RefreshRequest((Fake(raises=KeyboardInterrupt(), only="org/c"),)),
        )
    change_run(house, 1, 0.5)
    refresh(house._opener, RefreshRequest((SCORES,)))
    assert current(house, "fake0") == []


def test_rows_are_a_store() -> None:
    """The changes above rest on these ids."""
    rows = build()
    assert isinstance(rows, StoreRows)
    runs = [
        rows.rows["benchmark"][run["benchmark_id"] - 1]["name"]
        for run in rows.rows["run"]
    ]
    assert runs[:6] == ["quiz"] * 3 + ["essay"] * 3
