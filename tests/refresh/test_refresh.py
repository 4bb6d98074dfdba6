"""Refreshes: figures of the commands, only what is stale is computed, kills do no harm."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa

from tests.support.builders import StoreRows
from tests.support.stores import select
from warehouse.analysis.families import choose_families, family_names
from warehouse.analysis.families.family import (
    FamilySettings,
    RefreshQuestion,
    Value,
    subject_of,
)
from warehouse.analysis.families.scores import FAMILY as SCORES
from warehouse.api import Warehouse, connect
from warehouse.errors import (
    MisuseError,
    StatisticsError,
    StoreLockedError,
    WarehouseError,
)
from warehouse.refresh import run as running
from warehouse.refresh.run import RefreshRequest, list_stale, refresh
from warehouse.store.computed import metric_values
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener

BASE = "org/base"
WORK = RefreshRequest(settings=FamilySettings(baselines=(BASE,)))
KEY = "subject_kind, subject, benchmark, metric, statistic"


def build() -> StoreRows:
    """Three models on two benchmarks, one of them clustered, one training with three
    steps."""
    rows, dice = StoreRows(), random.Random(5)
    for name in ("quiz", "essay"):
        rows.describe(name, rows.metric())
        for model, skill in ((BASE, 0.5), ("org/b", 0.8), ("org/c", 0.3)):
            scores = {
                f"{name}{i}": [float(dice.random() < skill) for _ in range(3)]
                for i in range(40)
            }
            rows.scores(rows.run(model, name), scores)
    rows.clusters(
        "essay",
        {
            f"c{label}": [f"essay{4 * label + i}" for i in range(4)]
            for label in range(10)
        },
    )
    rows.describe("course", rows.metric())
    for step, skill in ((100.0, 0.2), (200.0, 0.9), (300.0, 0.85)):
        scores = {f"course{i}": float(dice.random() < skill) for i in range(30)}
        rows.scores(rows.run("org/train", "course", step=step), scores)
    return rows


def current(
    house: Warehouse, statistic: str = "", benchmark: str = ""
) -> list[dict[str, Any]]:
    with house._reading() as store:
        found = select(store, f"select * from metric_current order by {KEY}")
    return [
        row
        for row in found
        if statistic in ("", row["statistic"]) and benchmark in ("", row["benchmark"])
    ]


def change_run(house: Warehouse, run: int, value: float | None = None) -> None:
    """Other content of a run, and so another digest."""
    with house._writing() as store, store.begin() as connection:
        told = {"digest": f"other {run} {value}", "run": run}
        connection.execute(
            sa.text("update run set content_digest = :digest where id = :run"), told
        )
        if value is not None:
            connection.execute(
                sa.text("update prompt_score set value = :value where run_id = :run"),
                {"value": value, "run": run},
            )


def test_figures_are_those_of_the_commands(house: Warehouse) -> None:
    found = refresh(house._opener, WORK)
    assert found.failures == () and found.notes == ()
    for benchmark in ("quiz", "essay", "course"):
        board = house.leaderboard(benchmark)
        scores = {
            row["subject"].split("#")[0]: row
            for row in current(house, "score", benchmark)
        }
        places = current(house, "statistical_rank", benchmark)
        for row in board.rows if benchmark != "course" else ():
            stored = scores[row.model]
            assert (stored["estimate"], stored["standard_error"]) == pytest.approx(
                (row.estimate, row.standard_error), rel=1e-12
            )
            assert (stored["low"], stored["high"]) == pytest.approx(
                (row.ci_low, row.ci_high), rel=1e-12
            )
            assert (stored["n"], stored["n_clusters"]) == (
                row.n_prompts,
                row.n_clusters,
            )
            (place,) = [one for one in places if one["subject"] == stored["subject"]]
            assert (place["estimate"], place["low"], place["high"]) == (
                row.statistical_rank,
                row.rank_low,
                row.rank_high,
            )
    for row in current(house, "difference"):
        if row["subject_kind"] == "pair":
            model = row["subject"].split("#")[0]
            (expected,) = house.compare(model, BASE, benchmark=row["benchmark"]).rows
            assert row["estimate"] == pytest.approx(expected.difference, rel=1e-12)
            assert row["low"] == pytest.approx(expected.ci_low, rel=1e-12)
            assert row["high"] == pytest.approx(expected.ci_high, rel=1e-12)
    assert (
        len(
            [
                row
                for row in current(house, "difference")
                if row["subject_kind"] == "pair"
            ]
        )
        == 4
    )
    for row in current(house, "share_within", "essay"):
        (split,) = house.variance(row["subject"].split("#")[0], benchmark="essay").rows
        assert row["estimate"] == pytest.approx(split.share_within, rel=1e-12)


def test_checkpoints_are_compared_with_the_one_before(house: Warehouse) -> None:
    refresh(house._opener, WORK)
    steps = [
        row for row in current(house, "difference") if row["subject_kind"] == "step"
    ]
    expected = {
        house.compare(f"org/train@step={after}", f"org/train@step={before}")
        .rows[0]
        .difference
        for before, after in ((100, 200), (200, 300))
    }
    assert {round(row["estimate"], 12) for row in steps} == {
        round(one, 12) for one in expected
    }


def test_nothing_changed_computes_nothing(house: Warehouse) -> None:
    first = refresh(house._opener, WORK)
    before = current(house)
    again = refresh(house._opener, WORK)
    assert (
        again.total("recomputed") == again.total("values") == again.total("gone") == 0
    )
    assert again.total("fresh") == first.total("recomputed") > 0
    assert current(house) == before
    assert list_stale(house._opener, WORK).rows == ()


def test_one_changed_run_costs_what_it_touches(house: Warehouse) -> None:
    refresh(house._opener, WORK)
    before = {row["subject"]: row for row in current(house, "score")}
    change_run(house, 2, 0.25)  # org/b on quiz
    listed = list_stale(house._opener, WORK)
    assert {row.why for row in listed.rows} == {"the data changed"}
    assert {(row.family, row.benchmark) for row in listed.rows} == {
        ("scores", "quiz"),
        ("variance", "quiz"),
        ("differences", "quiz"),
        ("ranks", "quiz"),
    }
    assert len(listed.rows) == 4
    found = refresh(house._opener, WORK)
    assert found.total("recomputed") == 4
    after = {row["subject"]: row for row in current(house, "score")}
    changed = [subject for subject in after if after[subject] != before[subject]]
    (subject,) = changed
    assert subject.startswith("org/b#") and after[subject]["estimate"] == 0.25
    assert after[subject]["previous_estimate"] == before[subject]["estimate"]


def test_a_changed_baseline_touches_all_that_are_compared_with_it(
    house: Warehouse,
) -> None:
    refresh(house._opener, WORK)
    change_run(house, 1, 0.25)
    stale = [
        row
        for row in list_stale(house._opener, WORK).rows
        if row.family == "differences"
    ]
    assert {row.subject.split("#")[0] for row in stale} == {"pair org/b", "pair org/c"}


def test_settings_clusters_and_links_make_figures_stale(house: Warehouse) -> None:
    refresh(house._opener, WORK)
    wider = replace(WORK, settings=FamilySettings(level=0.99, baselines=(BASE,)))
    assert {row.why for row in list_stale(house._opener, wider).rows} == {
        "the settings changed"
    }
    with house._writing() as store, store.begin() as connection:
        connection.execute(sa.text("update benchmark set default_clustering_id = null"))
    stale = list_stale(house._opener, WORK).rows
    assert {row.benchmark for row in stale} == {"essay"} and len(stale) == 3 + 3 + 2 + 1


@dataclass(frozen=True)
class Fake:
    """A family of a test: a value per condition, or an error."""

    name: str = "fake"
    version: str = "1"
    raises: BaseException | None = None
    values: Sequence[float | None] = (1.0,)
    only: str = ""
    hurt_units: bool = field(default=False)

    def questions(self, data: Any, settings: FamilySettings) -> list[RefreshQuestion]:
        if self.hurt_units:
            raise ZeroDivisionError("no units")
        return [
            RefreshQuestion(subject_of(one), (key,))
            for key, one in data.conditions.items()
        ]

    def compute(
        self, data: Any, question: RefreshQuestion, settings: FamilySettings
    ) -> list[Value]:
        if self.raises is not None and self.only in question.subject:
            raise self.raises
        return [
            Value(
                "condition",
                question.subject,
                "",
                f"fake{place}",
                "fake",
                estimate=value,
            )
            for place, value in enumerate(self.values)
        ]


def test_a_raised_version_makes_its_family_stale(house: Warehouse) -> None:
    refresh(house._opener, RefreshRequest((Fake(), SCORES)))
    stale = list_stale(house._opener, RefreshRequest((Fake(version="2"), SCORES))).rows
    assert {(row.family, row.why) for row in stale} == {
        ("fake", "version 1 of the method, now 2")
    }
    refresh(house._opener, RefreshRequest((Fake(version="2", values=(3.0,)),)))
    assert {row["estimate"] for row in current(house, "fake0")} == {3.0}
    assert {row["method_version"] for row in current(house, "fake0")} == {"2"}


def test_a_family_that_raises_does_not_stop_the_others(house: Warehouse) -> None:
    broken = Fake(raises=RuntimeError("boom"), only="org/b#")
    found = refresh(house._opener, RefreshRequest((broken, SCORES)))
    assert len(found.failures) == 2 and "RuntimeError: boom" in found.failures[0]
    assert "fake of org/b#" in found.failures[0]
    # nine conditions, and the row of the model with checkpoints
    assert len(current(house, "score")) == 10 and len(current(house, "fake0")) == 7
    with house._reading() as store:
        assert select(store, "select state from refresh") == [{"state": "failed"}]
    healed = refresh(house._opener, RefreshRequest((Fake(), SCORES)))
    assert healed.total("recomputed") == 2 and len(current(house, "fake0")) == 9
    unlisted = refresh(house._opener, RefreshRequest((Fake(hurt_units=True), SCORES)))
    assert len(unlisted.failures) == 3 and len(current(house, "fake0")) == 9


def test_what_data_do_not_allow_is_stored_with_the_reason(house: Warehouse) -> None:
    refused = Fake(raises=StatisticsError("too few prompts"), only="org/c")
    for expected in (9, 0):
        assert (
            refresh(house._opener, RefreshRequest((refused,))).total("recomputed")
            == expected
        )
    rows = [row for row in current(house) if row["subject_kind"] == "question"]
    assert {(row["estimate"], row["reason"]) for row in rows} == {
        (None, "too few prompts")
    }


def test_no_number_is_stored_that_is_none(house: Warehouse) -> None:
    refresh(
        house._opener,
        RefreshRequest((Fake(values=(float("nan"), float("inf"), None)),)),
    )
    rows = current(house)
    assert {row["estimate"] for row in rows} == {None}
    assert {row["reason"] for row in rows if row["statistic"] != "fake2"} == {
        "not finite: estimate"
    }
    assert (
        len(
            refresh(house._opener, RefreshRequest((Fake("empty", values=()),))).failures
        )
        == 9
    )


def test_what_is_gone_leaves_the_current_figures_but_not_the_history(
    house: Warehouse,
) -> None:
    refresh(house._opener, WORK)
    with house._writing() as store, store.begin() as connection:
        connection.execute(
            sa.text("update run set status = 'invalidated' where id = 3")
        )
    listed = list_stale(house._opener, WORK).rows
    assert {row.subject.split("#")[0] for row in listed if row.why == "gone"} == {
        "org/c"
    }
    found = refresh(house._opener, WORK)
    assert (
        found.total("gone") == 1 + 1 + 4 + 2
    )  # score, difference, variance, two ranks
    assert not [
        row for row in current(house, benchmark="quiz") if "org/c" in row["subject"]
    ]
    gone = house.history("org/c", "quiz", statistic="score").rows
    assert [row.method for row in gone] == ["gone", "gaffke"]
    assert refresh(house._opener, WORK).total("gone") == 0
    with house._writing() as store, store.begin() as connection:
        connection.execute(sa.text("update run set status = 'complete' where id = 3"))
    refresh(house._opener, WORK)
    history = house.history("org/c", "quiz", statistic="score").rows
    assert [row.method == "gone" for row in history] == [False, True, False]
    assert history[0].estimate == history[2].estimate


def test_fewer_figures_of_one_question_leave_none_behind(house: Warehouse) -> None:
    refresh(house._opener, RefreshRequest((Fake(values=(1.0, 2.0)),)))
    found = refresh(house._opener, RefreshRequest((Fake(version="2", values=(1.0,)),)))
    assert found.total("gone") == 9 and current(house, "fake1") == []


def test_families_and_benchmarks_that_are_not_named_stay_as_they_are(
    house: Warehouse,
) -> None:
    refresh(house._opener, WORK)
    before = current(house)
    part = RefreshRequest(("scores",), ("quiz",), WORK.settings)
    assert refresh(house._opener, part).total("fresh") == 3
    assert current(house) == before
    with pytest.raises(
        MisuseError, match="no metric family 'nothing'; there are: differences"
    ):
        refresh(house._opener, RefreshRequest(("nothing",)))
    with pytest.raises(MisuseError, match="no benchmark with runs is called 'nothing'"):
        refresh(house._opener, RefreshRequest(benchmarks=("nothing",)))
    with pytest.raises(StatisticsError, match="level"):
        FamilySettings(level=1.5)
    with pytest.raises(WarehouseError, match="is no metric family"):
        choose_families([object()])  # type: ignore[list-item]
    assert family_names() == [
        "differences",
        "matrix",
        "ranks",
        "reliability",
        "scores",
        "training",
        "variance",
    ]


def test_an_unknown_baseline_is_a_note(house: Warehouse) -> None:
    work = RefreshRequest(settings=FamilySettings(baselines=("org/nobody", BASE)))
    found = refresh(house._opener, work)
    assert len(found.notes) == 1 and "'org/nobody' left out" in found.notes[0]
    assert (
        len(
            [
                row
                for row in current(house, "difference")
                if row["subject_kind"] == "pair"
            ]
        )
        == 4
    )


def test_matrix_tests_are_made_on_request(house: Warehouse) -> None:
    work = RefreshRequest(
        ("matrix",), ("quiz", "course"), FamilySettings(permutations=50, seed=3)
    )
    found = refresh(house._opener, work)
    assert found.failures == ()
    expected = {
        f"{row.similarity}_{row.statistic}": row.observed
        for row in house.matrix("course", fresh=True).test(permutations=50, seed=3).rows
    }
    assert {
        row["statistic"]: row["estimate"] for row in current(house, benchmark="course")
    } == (pytest.approx(expected))


#: Openings at which a refresh of four answers is killed: the first, the last before an
#: answer is written, one between answers, the last. All of them at leisure.
SPREAD = [
    pytest.param((1, 5, 8, 10), id="spread", marks=pytest.mark.rare),
    pytest.param(range(1, 11), id="all", marks=pytest.mark.slow),
]
#: Answers that are written when it is killed at an opening; behind the first, runs are
#: held against those before them.
WRITTEN = (0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4)


class Killed(BaseException):
    """A process that ends."""


def killing(house: Warehouse, at: int) -> StoreOpener:
    """A store whose `at`-th opening is the last thing that a process does."""
    opened = iter(range(1, 10**6))

    def guarded(
        door: Callable[[], AbstractContextManager[Store]],
    ) -> Callable[[], AbstractContextManager[Store]]:
        def enter() -> AbstractContextManager[Store]:
            if next(opened) >= at:
                raise Killed
            return door()

        return enter

    return StoreOpener(guarded(house._reading), guarded(house._writing))


@pytest.mark.parametrize("points", SPREAD)
def test_killed_anywhere_history_has_whole_refreshes_only(
    house: Warehouse, monkeypatch: pytest.MonkeyPatch, points: Sequence[int]
) -> None:
    monkeypatch.setattr(
        running, "WRITE_AFTER", -1.0
    )  # every question is written at once
    refresh(house._opener, WORK)
    for point in points:
        change_run(house, 2, point / 16)
        before = current(house)
        with pytest.raises(Killed):
            refresh(killing(house, point), WORK)
        assert current(house) == before
        resumed = refresh(house._opener, WORK).total("resumed")
        assert resumed == WRITTEN[point]
        (row,) = [
            one for one in current(house, "score", "quiz") if "org/b#" in one["subject"]
        ]
        assert row["estimate"] == point / 16
    with house._reading() as store:
        states = select(
            store, "select state, count(*) as n from refresh group by state"
        )
        doubled = select(
            store,
            f"select {KEY}, refresh_id from metric_value group by {KEY}, refresh_id "
            "having count(*) > 1",
        )
    assert [one["state"] for one in states] == ["complete"] and doubled == []


def test_figures_of_half_a_refresh_that_changed_since_are_made_anew(
    house: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "WRITE_AFTER", -1.0)
    with pytest.raises(Killed):
        refresh(killing(house, 20), WORK)
    change_run(house, 2, 0.125)
    found = refresh(house._opener, WORK)
    assert found.total("resumed") > 0 and found.refresh_id == 1
    (row,) = [
        one for one in current(house, "score", "quiz") if "org/b#" in one["subject"]
    ]
    assert row["estimate"] == 0.125
    assert list_stale(house._opener, WORK).rows == ()


def test_one_refresh_at_a_time(house: Warehouse) -> None:
    with metric_values.holding(house._reading, 0):
        with pytest.raises(
            StoreLockedError, match="is refreshed by another process; waited 0 s"
        ):
            refresh(house._opener, WORK, wait=0)
        assert len(list_stale(house._opener, WORK).rows) > 0  # looking is free
    assert refresh(house._opener, WORK, wait=0).failures == ()


def test_a_refresh_that_was_taken_over_writes_nothing_more(house: Warehouse) -> None:
    now = datetime(2026, 1, 1)
    with house._writing() as store:
        number = metric_values.begin(store, {"holder": "one"}, "1", now, None)
        assert metric_values.begin(store, {"holder": "two"}, "1", now, number) == number
        with pytest.raises(WarehouseError, match="taken over"):
            metric_values.finish(
                store, number, "one", [], state="complete", summary={}, now=now
            )
        metric_values.finish(
            store, number, "two", [], state="complete", summary={}, now=now
        )


def test_the_clock_may_go_back(house: Warehouse) -> None:
    moments = iter(
        [
            datetime(2026, 5, 1),
            datetime(2026, 5, 1),
            datetime(2026, 1, 1),
            datetime(2026, 1, 1),
        ]
    )
    refresh(house._opener, WORK, clock=lambda: next(moments))
    change_run(house, 2, 0.5)
    refresh(house._opener, WORK, clock=lambda: next(moments))
    history = house.history("org/b", "quiz", statistic="score").rows
    assert [row.refresh_id for row in history] == [2, 1] and history[0].estimate == 0.5


def test_pruning_keeps_the_newest_of_each(house: Warehouse) -> None:
    day = datetime(2026, 1, 1)
    for place in range(4):
        if place < 3:
            change_run(house, 2, place / 4)
        at = day + timedelta(days=place)
        refresh(house._opener, WORK, clock=lambda at=at: at)  # type: ignore[misc]
    before = [{**row, "previous_estimate": 0, "change": 0} for row in current(house)]
    with house._writing() as store:
        values, empty = metric_values.prune(store, day + timedelta(days=10))
    assert (
        values == 2 * (1 + 1 + 4 + 6) and empty == 2
    )  # the second, and the last, which is empty
    assert [
        {**row, "previous_estimate": 0, "change": 0} for row in current(house)
    ] == before
    assert len(house.history("org/b", "quiz", statistic="score").rows) == 1
    assert refresh(house._opener, WORK).total("recomputed") == 0


def test_history_names_what_there_is(house: Warehouse) -> None:
    with pytest.raises(MisuseError, match="run: warehouse refresh"):
        house.history("org/b", "quiz")
    found = house.refresh(baselines=BASE)
    assert found.one_line.startswith("refresh 1: ")
    with pytest.raises(
        MisuseError,
        match="no statistic 'x' of 'org/b' on quiz; there are: difference, rank",
    ):
        house.history("org/b", "quiz", statistic="x")
    assert {
        row.subject_kind for row in house.history("org/b", "quiz", last=1).rows
    } == {"condition", "pair"}


def test_a_pair_without_a_common_prompt_is_a_pair_with_a_reason(store_url: str) -> None:
    house = connect(store_url)
    apart = [
        {"model": model, "benchmark": "apart", "prompt_id": model, "acc": 1.0}
        for model in (BASE, "org/b")
    ]
    house.ingest(pa.Table.from_pylist(apart))
    house.refresh(baselines=[BASE])
    (row,) = house.history("org/b", "apart", statistic="difference").rows
    assert (row.subject_kind, row.estimate) == (
        "pair",
        None,
    ) and "no prompt in common" in row.reason
    with pytest.raises(MisuseError, match=r"figures are stored of: org/b, org/base;"):
        house.history("nobody")


def test_a_list_is_no_path(house: Warehouse) -> None:
    with pytest.raises(
        MisuseError, match=r"found \['a\.csv'\]; of a list: ingest\(\*paths\)"
    ):
        house.ingest(["a.csv"])  # type: ignore[arg-type]


def test_an_empty_store_has_nothing_to_refresh(store_url: str) -> None:
    found = connect(store_url).refresh()
    assert found.total("recomputed") == 0 and found.failures == ()
