"""A verdict that rests on few groups of the questions, as `compare` says it."""

from __future__ import annotations

import numpy as np

import warehouse
from tests.stats.test_rests_on_few import broken
from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse.analysis.compare.answer import compare
from warehouse.store.connection import Store

TOPICS = {f"topic {place}": range(40 * place, 40 * place + 40) for place in range(10)}


def build() -> StoreRows:
    """``quiz``, where one topic carries the lead, with its topics; ``bare`` is the same
    without."""
    rows = StoreRows()
    metric = rows.metric()
    d = broken(2)
    a, b = (d > 0).astype(float), (d < 0).astype(float)
    keys = [f"q{place:03}" for place in range(len(d))]
    for benchmark in ("quiz", "bare"):
        rows.describe(benchmark, metric)
        for model, scores in (("lab/a", a), ("lab/b", b)):
            named = dict(zip(keys, scores.tolist(), strict=True))
            rows.scores(rows.run(model, benchmark), named)
    members = {name: [keys[at] for at in own] for name, own in TOPICS.items()}
    rows.clusters("quiz", members, default=False)
    return rows


ROWS = build()


def test_the_groups_are_named(world: Store) -> None:
    (row,) = compare(world, "lab/a", "lab/b", benchmark="quiz").rows
    assert row.better == "a" and row.rests_on_few
    assert (row.carried_by, row.carried_count, row.carried_of) == ("topic", 2, 10)
    assert row.carried_units[0] == "topic 9" and "rests_on_few" in row.flags
    assert row.p_varies is not None and row.p_varies <= 0.01
    clustered = compare(world, "lab/a", "lab/b", benchmark="quiz", cluster="topic")
    assert np.isclose(row.p_by_units or 0, clustered.rows[0].p_value or 1)
    assert "2 of 10 groups by topic carry the lead: topic 9, " in str(
        compare(world, "lab/a", "lab/b", benchmark="quiz")
    )


def test_where_there_is_nothing_to_look_at(world: Store) -> None:
    (bare,) = compare(world, "lab/a", "lab/b", benchmark="bare").rows
    assert bare.better == "a" and bare.rests_on_few is None and not bare.carried_by
    # the error is by this field already, and nobody is better by it
    clustered = compare(world, "lab/a", "lab/b", benchmark="quiz", cluster="topic")
    assert clustered.rows[0].rests_on_few is None


def test_the_command_says_so(run: Caller, url: str) -> None:
    said = run("compare", "lab/a", "lab/b", "-b", "quiz", db=url).out
    assert "2 of 10 groups by topic carry the lead: topic 9, " in said
    assert "With these groups as clusters p is" in said and "rests_on_few" in said
    (row,) = run("compare", "lab/a", "lab/b", "-b", "quiz", "--json", db=url).rows
    assert row["rests_on_few"] is True and row["carried_units"][0] == "topic 9"
    several = run("compare", "lab/a", "lab/b", db=url).out
    assert "carry the lead on quiz: topic 9, " in several


def test_declared_slices_are_looked_at(own_url: str) -> None:
    store = warehouse.connect(own_url)
    before = store.compare("lab/a", "lab/b", benchmark="bare").rows[0]
    store.declare_slices("bare", "split")
    after = store.compare("lab/a", "lab/b", benchmark="bare").rows[0]
    assert before.to_dict() == after.to_dict()  # of one value, which says nothing
