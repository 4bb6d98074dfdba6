"""Votes between two models: loaded in whichever order they stand, counted once, and
taken away again."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest

from warehouse.errors import InputError
from warehouse.records import VOTE_SCHEMA
from warehouse.store.lake import contents
from warehouse.store.load.source_ledger import forget

Row = dict[str, Any]
COLUMNS = "a.name, b.name, first, voter, outcome, draw"
SQL = f"""select {COLUMNS} from preference
join checkpoint ca on ca.id = checkpoint_a_id join training_seed sa on sa.id = ca.training_seed_id
join checkpoint cb on cb.id = checkpoint_b_id join training_seed sb on sb.id = cb.training_seed_id
join model a on a.id = sa.model_id join model b on b.id = sb.model_id order by source_id, voter, prompt_id, draw"""


def vote(
    outcome: str | None,
    *,
    a: str = "m",
    b: str = "n",
    prompt: str | None = "q1",
    **more: Any,
) -> Row:
    row = {
        "benchmark": "arena",
        "prompt_id": prompt,
        "model_a": a,
        "model_b": b,
        "first": "a",
        "scorer": "people",
    }
    return row | {"outcome": outcome, "voter": "u1"} | more


def load(kit: Any, rows: list[Row], **options: Any) -> Any:
    batches = [pa.RecordBatch.from_pylist(rows, schema=VOTE_SCHEMA)]
    return kit.load((), dump={"votes": batches}, **options)


def test_a_dump_may_hold_votes_and_no_runs(kit: Any, whole: Any) -> None:
    report = load(
        kit, [vote("a"), vote("tie", prompt="q2"), vote(None, prompt=None, voter=None)]
    )
    assert (report.n_votes, report.n_runs, report.n_scores, report.notes) == (
        3,
        0,
        0,
        (),
    )
    assert kit.all(SQL) == [
        ("m", "n", "a", "", None, 0),
        ("m", "n", "a", "u1", "a", 0),
        ("m", "n", "a", "u1", "tie", 0),
    ]
    assert kit.all("select key, key_kind, tool_id, text from prompt order by key") == [
        ("q1", "id", "q1", None),
        ("q2", "id", "q2", None),
    ]
    assert kit.one("select n_votes from source") == 3


def test_the_order_of_a_source_plays_no_part(kit: Any, whole: Any) -> None:
    both = {
        "covariates_a": '{"length": 1}',
        "covariates_b": '{"length": 2}',
        "weight": 2.0,
    }
    load(
        kit,
        [
            vote("a", a="n", b="m", **both),
            vote("b", first=None, prompt="q2"),
            vote("b", a="z", prompt="q3"),
        ],
    )
    assert kit.all(SQL) == [
        ("m", "n", "b", "u1", "b", 0),
        ("m", "n", "unknown", "u1", "b", 0),
        ("n", "z", "b", "u1", "a", 0),
    ]
    said = kit.all(
        "select cast(covariates as varchar), weight from preference where covariates "
        "is not null"
    )
    assert [(text.replace(" ", ""), weight) for text, weight in said] == [
        ('{"a":{"length":2},"b":{"length":1}}', 2.0)
    ]


def test_a_vote_that_stands_twice_is_one(kit: Any, whole: Any) -> None:
    twice = [
        vote("a"),
        vote("a"),
        vote("b", first=None),
        vote("a", a="n", b="m", first=None),
    ]
    report = load(kit, twice)
    assert report.n_votes == 2
    assert report.notes == (
        "2 votes that stand in it again, by the same on the same: counted once",
    )


@pytest.mark.parametrize(
    ("policy", "outcomes"),
    [("first", ["a"]), ("last", ["b"]), ("draws", ["a", "a", "b"])],
)
def test_votes_that_contradict_each_other_are_settled_by_the_user(
    kit: Any, policy: str, outcomes: list[str]
) -> None:
    rows = [vote("a"), vote("a"), vote("b")]
    with pytest.raises(
        InputError,
        match=r"votes 1 and 3 are by the same on the same answers, and differ \(1 such case",
    ):
        load(kit, rows)
    assert load(kit, rows, on_duplicate=policy).n_votes == len(outcomes)
    assert [row[4] for row in kit.all(SQL)] == outcomes


def test_people_who_are_not_told_apart_are_several(kit: Any, whole: Any) -> None:
    load(kit, [vote("a", voter=None), vote("b", voter=None), vote("a", voter=None)])
    assert [(row[4], row[5]) for row in kit.all(SQL)] == [("a", 0), ("b", 1), ("a", 2)]


def test_a_judge_is_one_whatever_its_draws(kit: Any, whole: Any) -> None:
    judge = {
        "scorer": "gpt-4",
        "scorer_kind": "model",
        "judge_model": "gpt-4",
        "voter": None,
    }
    load(kit, [vote("a", **judge), vote("a", **judge), vote("b", draw=1, **judge)])
    assert [(row[4], row[5]) for row in kit.all(SQL)] == [("a", 0), ("b", 1)]
    assert kit.all("select name, kind, judge_model from scorer") == [
        ("gpt-4", "model", "gpt-4")
    ]


def test_votes_of_two_sources_are_not_counted_twice_without_a_word(
    kit: Any, whole: Any
) -> None:
    load(kit, [vote("a"), vote("b", prompt="q2")], path="one.csv")
    report = load(kit, [vote("a"), vote("a", prompt="q2")], path="two.csv")
    assert report.notes == (
        "1 vote in source 1 (one.csv) too, by the same voters on the same answers: "
        "they count twice until one is removed (warehouse fix forget 1)",
    )


def test_questions_of_runs_are_those_of_votes(kit: Any, whole: Any) -> None:
    kit.load(
        kit.header(benchmark="arena", split="test"),
        [kit.row("q1", 1.0, identity='["what?"]', text="what?")],
    )
    load(
        kit,
        [
            vote("a"),
            vote("a", prompt="q9", text="New?"),
            vote("b", prompt=None, identity='["what?"]', a="o"),
        ],
    )
    keys = kit.all("select split, tool_id, text from prompt order by split, tool_id")
    assert keys == [("", "q9", "New?"), ("test", "q1", "what?")]
    assert (
        kit.one(
            "select count(*) from preference join prompt on prompt.id = prompt_id "
            "where split = 'test'"
        )
        == 2
    )


def test_a_forgotten_source_takes_its_votes_along(kit: Any, whole: Any) -> None:
    load(kit, [vote("a")], path="one.csv")
    kit.load(
        kit.header(model="m", benchmark="arena"), [kit.row("q1", 1.0)], path="run.json"
    )
    load(kit, [vote("b", prompt="q2", created_at=datetime(2026, 1, 1))], path="two.csv")
    kit.do("update preference set run_a_id = 1 where outcome = 'a'")
    before = contents.marks(kit.store, "preference_marks")[0]
    forget(kit.store, "two.csv")
    assert kit.counts("preference", "prompt") == (1, 1)
    forget(kit.store, "run.json")
    assert kit.all("select outcome, run_a_id from preference") == [
        ("a", None)
    ] and kit.counts("prompt") == (1,)
    after = contents.marks(kit.store, "preference_marks")[0]
    assert set(before) == {1, 3} and set(after) == {1} and after[1] != before[1]
    forget(kit.store, "one.csv")
    assert kit.counts("preference", "prompt") == (0, 0)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"outcome": "left"}, "one of a, b, tie, both_bad"),
        ({"weight": 0.0}, "a weight above 0"),
        ({"first": "x"}, "a"),
    ],
)
def test_what_no_store_can_hold_is_refused(
    kit: Any, whole: Any, fault: Row, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load(kit, [vote("a"), vote("a", prompt="q2") | fault])
    assert kit.counts("preference") == (0,)


def test_a_dry_run_leaves_nothing(kit: Any, whole: Any) -> None:
    assert load(kit, [vote("a")], dry_run=True).n_votes == 1
    assert kit.counts("preference", "model", "prompt") == (0, 0, 0)
    assert load(kit, [vote("a")]).n_votes == 1
