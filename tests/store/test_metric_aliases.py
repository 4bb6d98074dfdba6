"""Two names of one metric, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

from tests.support.builders import StoreRows
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.curate.aliases import alias
from warehouse.store.curate.declarations import declarations
from warehouse.store.curate.metric_aliases import alias_metric, unalias_metric
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check

DAY = datetime(2026, 5, 3)


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    """A quiz scored by metrics of several names, directions and scales."""
    rows = StoreRows()
    acc, match = rows.metric(), rows.metric("match", "strict")
    loss, part = rows.metric("loss"), rows.metric("part")
    judged = rows.metric("rating", judge="gpt")
    rows.describe("quiz", acc)
    for metric in (match, judged):
        rows.describe("quiz", metric, default=None)
    rows.describe("quiz", loss, default=None, higher=False)
    rows.describe("quiz", part, default=None, kind="bounded", high=5.0)
    rows.describe("other", acc)
    one, two, both = (rows.run(f"org/{name}", "quiz") for name in "abc")
    rows.scores(one, {"p1": 1.0, "p2": 0.0}, acc)
    rows.scores(two, {"p1": 0.0, "p2": 0.0}, match)
    for metric in (acc, match):
        rows.scores(both, {"p1": 1.0, "p2": 0.0 if metric == acc else 1.0}, metric)
    rows.benchmark("quiz_old", alias_of="quiz")
    rows.describe("quiz_old", rows.metric("correct"), default=None)
    return rows


@pytest.fixture
def store(own_url: str) -> Iterator[Store]:
    with open_store(own_url, write=True) as opened:
        yield opened


def said(store: Store) -> list[tuple[str, str, str | None]]:
    return [(one.benchmark, one.subject, one.said) for one in declarations(store)]


def test_an_alias_is_said_and_taken_back(store: Store) -> None:
    made = alias_metric(store, "correct", "acc", benchmark="quiz_old", at=DAY)
    assert str(made) == "correct counts as acc on quiz"
    (one,) = declarations(store, "quiz_old")
    assert (one.about, one.declared_at, one.digest) == ("metric alias", DAY, None)
    assert declarations(store, "other") == []
    with pytest.raises(MisuseError, match="counts as acc on quiz already"):
        alias_metric(store, "correct", "acc", benchmark="quiz")
    assert "duplicate_keys" not in {one.check for one in check(store).integrity}
    assert unalias_metric(store, "correct", benchmark="quiz_old") == made
    assert said(store) == []
    with pytest.raises(MisuseError, match="nobody said of quiz that correct"):
        unalias_metric(store, "correct", benchmark="quiz")
    with pytest.raises(MisuseError, match="nobody said of every benchmark"):
        unalias_metric(store, "correct")


def test_an_alias_holds_on_every_benchmark_where_none_is_named(store: Store) -> None:
    assert str(alias_metric(store, "correct", "acc")).endswith("on every benchmark")
    assert said(store) == [("", "correct", "acc")]
    assert len(declarations(store, "other")) == 1
    with pytest.raises(MisuseError, match="an alias has no alias; take it back"):
        alias_metric(store, "rating", "correct", benchmark="quiz")


def test_an_alias_stays_with_a_benchmark_that_gets_another_name(store: Store) -> None:
    alias_metric(store, "correct", "acc", benchmark="quiz")
    alias(store, "benchmark", "quiz", "other")
    assert len(declarations(store, "other")) == 1
    assert unalias_metric(store, "correct", benchmark="other").name == "correct"


REFUSED = {
    ("match", "acc", "quiz"): r"different scores: run:3 \(org/c on quiz\) on 1 of 2",
    ("match", "acc", ""): r"different scores: run:3 \(org/c on quiz\) on 1 of 2",
    ("loss", "acc", "quiz"): "direction .lower is better against higher is better",
    ("part", "acc", "quiz"): "kind .bounded against binary., bounds .0 to 5 against 0",
    ("rating", "acc", "quiz"): "scorer .a judge gpt against a program",
    ("acc", "acc", "quiz"): "'acc' is that metric itself",
    ("nothing", "acc", "quiz"): "no metric 'nothing' of quiz",
    ("acc", "nothing", ""): "no metric 'nothing'; there are: acc, correct, loss",
    ("match", "acc", "other"): "no metric 'match' of other",
    ("acc", "match", "nowhere"): "no benchmark 'nowhere'",
}


@pytest.mark.parametrize("names", REFUSED, ids=" ".join)
def test_two_metrics_that_are_not_one_are_refused(
    store: Store, names: tuple[str, str, str]
) -> None:
    name, other, benchmark = names
    with pytest.raises(MisuseError, match=REFUSED[names]):
        alias_metric(store, name, other, benchmark=benchmark)
    assert said(store) == []
