"""Which run is which: seen again, superseded, repeated, in conflict, forgotten (design
§4.3)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from warehouse.errors import ConflictError, MisuseError
from warehouse.importers.base import batch_of
from warehouse.records import Dump
from warehouse.store.curate import catalogue
from warehouse.store.load import overlaps, source_ledger
from warehouse.store.load.state import LoadOptions, NotTogetherError
from warehouse.store.schema.migrate import check

SCORES = {"a": 1.0, "b": 0.0, "c": 1.0}
#: condition, run and content of one small dump
KEYS = (
    "c4b5d7e8afc79ea9d325e4f79a6d920fa571642009a80822489e7d63b499795a",
    "70b585b449d92cb1fe5661c0dfd2c6f846f4d9f5bd7132a1d79a700cf818622b",
    "0b4d49896338e0a1bb82e193c256bf3d55843ef7ae570a431a226c32e37bfbb4",
)


def test_an_unchanged_source_is_not_claimed_twice(kit: Any) -> None:
    report = kit.load(kit.header(), kit.rows(SCORES))
    ((sha256, key),) = source_ledger.loaded(kit.store)
    assert key == source_ledger.settings_key("tool", "1", {})
    again = {"path": "elsewhere.json", "size": 1, "sha256": sha256, "importer": "tool"}
    assert source_ledger.claim(kit.store, version="1", settings={}, **again) is None
    others = [
        source_ledger.claim(kit.store, version="2", settings={}, **again),
        source_ledger.claim(kit.store, version="1", settings={"model": "b"}, **again),
    ]
    assert {report.source_id, *(item.id for item in others if item)} == {1, 2, 3}


def test_the_same_run_in_another_file_is_seen_again(kit: Any) -> None:
    first = kit.load(kit.header(place="x.json"), kit.rows(SCORES))
    again = kit.load(kit.header(place="y.json"), kit.rows(SCORES)[::-1])
    without_id = kit.load(kit.header(None), kit.rows(SCORES))
    assert (first.n_runs, first.n_seen_again, first.n_samples, first.n_scores) == (
        1,
        0,
        3,
        3,
    )
    assert (again.n_runs, again.n_seen_again, again.n_scores) == (0, 1, 0)
    assert without_id.n_seen_again == 1
    assert kit.counts("run", "score", "prompt") == (1, 3, 3)
    assert kit.all("select run_id, source_id, place from run_source order by 2") == [
        (1, 1, "x.json"),
        (1, 2, "y.json"),
        (1, 3, None),
    ]


#: What tells two executions apart, though all their scores are equal.
TELLING: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"run_id": "1"}, {"run_id": "2"}),
    ({"sampling_seed": 1}, {"sampling_seed": 2}),
    ({"started_at": datetime(2026, 1, 1)}, {"started_at": datetime(2026, 1, 2)}),
    ({"cost": 0.25}, {"cost": 0.5}),
    ({"configuration": {"job_id": "x"}}, {"configuration": {"job_id": "y"}}),
]


@pytest.mark.parametrize(("marks", "others"), TELLING)
def test_equal_scores_of_two_executions_are_repeats(
    kit: Any, marks: dict[str, Any], others: dict[str, Any]
) -> None:
    first = kit.load(replace(kit.header(None), **marks), kit.rows(SCORES))
    second = kit.load(replace(kit.header(None), **others), kit.rows(SCORES))
    copies = [
        kit.load(replace(kit.header(None), **told), kit.rows(SCORES))
        for told in (others, marks)
    ]
    assert (first.n_runs, second.n_runs, second.n_repeats) == (1, 1, 1)
    assert [(copy.n_runs, copy.n_seen_again) for copy in copies] == [(0, 1), (0, 1)]
    assert kit.one("select count(distinct condition_key) from run") == 1
    assert check(kit.store).integrity == ()


def test_equal_scores_of_two_executions_in_one_dump_are_repeats(kit: Any) -> None:
    headers = [kit.header(str(number)) for number in range(3)]
    report = kit.load(
        headers, [row for run in range(3) for row in kit.rows(SCORES, run=run)]
    )
    assert (report.n_runs, report.n_repeats, report.n_seen_again) == (3, 2, 0)


#: As they were made, and the other way around; the others walk no other way.
DIFFERENT = ((0, 1, 2), (2, 1, 0))
ORDERS = [
    pytest.param(order, marks=() if order in DIFFERENT else pytest.mark.slow)
    for order in permutations(range(3))
]


@pytest.mark.parametrize("order", ORDERS)
def test_what_an_execution_is_known_by_does_not_depend_on_the_order(
    kit: Any, order: tuple[int, ...]
) -> None:
    """One that nothing marks is one of the two that something does."""
    tries = [
        kit.header(None),
        kit.header(None, sampling_seed=1),
        kit.header(None, sampling_seed=2),
    ]
    for number in order:
        kit.load(tries[number], kit.rows(SCORES))
    assert kit.counts("run", "run_source") == (2, 3)
    assert kit.all("select cast(marks as varchar) from run order by 1") == [
        ('{"sampling_seed":"1"}',),
        ('{"sampling_seed":"2"}',),
    ]


def test_nothing_tells_equal_scores_apart_and_a_note_says_so(kit: Any) -> None:
    kit.load(kit.header(None), kit.rows(SCORES))
    report = kit.load(kit.header(None), kit.rows(SCORES))
    assert (
        "run 1 has the same scores" in report.notes[0]
        and "--set run_id=NAME" in report.notes[0]
    )
    kit.load(kit.header(None, temperature=0.0), kit.rows(SCORES))
    assert kit.load(kit.header(None, temperature=0.0), kit.rows(SCORES)).notes == ()


def test_an_id_of_the_tool_names_one_run_of_each_condition(kit: Any) -> None:
    """Checkpoints of a training, or temperatures of an experiment, may share it."""
    steps = [
        kit.load(kit.header("exp1", step=step), kit.rows(SCORES)) for step in (100, 200)
    ]
    warm = kit.load(kit.header("exp1", step=200, temperature=1.0), kit.rows({"a": 0.0}))
    assert [report.n_runs for report in (*steps, warm)] == [1, 1, 1]
    assert kit.current() == [1, 2, 3] and steps[1].notes == ()
    assert "temperature not said there, 1 here" in warm.notes[0]


def test_figures_stated_anew_hold_in_either_order(kit: Any) -> None:
    """A board that is fetched again makes no further draw."""
    days = [datetime(2026, 1, day) for day in (1, 2, 3)]
    for order in permutations(range(3)):
        benchmark = f"board{order}"
        for number in order:
            header = kit.header(
                f"{benchmark}{number}", benchmark=benchmark, started_at=days[number]
            )
            kit.load(replace(header, published=(kit.figure("acc", number / 10),)))
        rows = kit.all(
            "select run.started_at, newer.started_at from run join benchmark on "
            "benchmark.id = run.benchmark_id"
            " left join run newer on newer.id = run.superseded_by where benchmark.name "
            f"= '{benchmark}' order by 1"
        )
        assert rows == [(days[0], days[1]), (days[1], days[2]), (days[2], None)]
    assert check(kit.store).integrity == ()


GONE = [
    pytest.param(*one.values, gone, marks=one.marks)
    for one in ORDERS
    for gone in range(3)
]


@pytest.mark.parametrize(("order", "gone"), GONE)
def test_a_statement_that_is_forgotten_gives_way_to_those_that_are_left(
    kit: Any, order: tuple[int, ...], gone: int
) -> None:
    days = [datetime(2026, 1, day) for day in (1, 2, 3)]
    for number in order:
        header = kit.header(
            f"fetch{number}",
            started_at=days[number],
            published=(kit.figure("acc", number / 10),),
        )
        kit.load(header, path=f"{number}.json")
    source_ledger.forget(kit.store, f"{gone}.json")
    left = [day for number, day in enumerate(days) if number != gone]
    rows = kit.all(
        "select run.started_at, newer.started_at from run"
        " left join run newer on newer.id = run.superseded_by order by 1"
    )
    assert rows == [(left[0], left[1]), (left[1], None)]
    assert check(kit.store).integrity == ()


def test_published_figures_of_reruns_stand_beside_each_other(kit: Any) -> None:
    headers = [
        kit.header(f"score_{number}", published=(kit.figure("acc", 0.5),))
        for number in range(3)
    ]
    report = kit.load(headers)
    assert (report.n_runs, report.n_repeats) == (3, 2)


def test_keys_are_the_same_in_every_store(kit: Any) -> None:
    """They tell a run when stores are merged: they must not change from version to
    version."""
    kit.load(kit.header(temperature=0.5), kit.rows(SCORES, response="x"))
    assert kit.one("select condition_key, run_key, content_digest from run") == KEYS


def test_what_does_not_change_the_measurement_does_not_make_another_run(
    kit: Any,
) -> None:
    kit.load(kit.header(), kit.rows(SCORES))
    moved = kit.header(
        hardware="8 x H100", configuration={"batch_size": 3}, harness_commit="ab"
    )
    assert kit.load(moved, kit.rows(SCORES)).n_seen_again == 1


def test_what_changes_the_measurement_makes_another_condition(kit: Any) -> None:
    fields: list[dict[str, Any]] = [
        {},
        {"temperature": 0.7},
        {"fewshot": 5},
        {"step": 100},
        {"task_version": "2"},
        {"agent": "x"},
        {"split": "test"},
        {"sampling": {"top_k": 3}},
        {"model": "org/b"},
        {"metrics": (kit.spec("acc", judge_model="org/judge"),)},
    ]
    headers = [kit.header(str(number), **field) for number, field in enumerate(fields)]
    report = kit.load(
        headers, [row for run in range(10) for row in kit.rows(SCORES, run=run)]
    )
    assert (report.n_runs, report.n_repeats) == (10, 0)
    assert kit.one("select count(distinct condition_key) from run") == 10


def test_a_file_that_holds_every_stored_row_supersedes(kit: Any) -> None:
    completed, metric, draw, told = (kit.rows(SCORES, run=run) for run in range(4))
    headers = [kit.header(model=f"org/{run}") for run in range(4)]
    kit.load(headers, [*completed, *metric, *draw, *told])
    completed += kit.rows({"d": 1.0})
    metric[0]["scores"].append({"metric": "f1", "value": 0.5})
    draw.append(draw[0] | {"draw": 1})
    told[0]["response"] = "yes"
    report = kit.load(headers, [*completed, *metric, *draw, *told])
    assert (report.n_runs, report.n_superseded, report.n_repeats) == (4, 4, 0)
    assert kit.current() == [5, 6, 7, 8]
    assert kit.all("select superseded_by from run where id < 5 order by id") == [
        (5,),
        (6,),
        (7,),
        (8,),
    ]


def test_a_retried_sample_supersedes(kit: Any) -> None:
    failed = [*kit.rows({"a": 1.0}), kit.row("b", None, error="timeout")]
    kit.load(kit.header(), failed)
    report = kit.load(
        kit.header(), [*kit.rows({"a": 1.0}), kit.row("b", 1.0, response="yes")]
    )
    assert (report.n_superseded, kit.current()) == (1, [2])


# three tries of one run: each holds all that the one before had settled
TRIES: tuple[dict[str, float | None], ...] = (
    {"a": 1.0, "b": None},
    {"a": 1.0, "b": 0.0},
    {"a": 1.0, "b": 0.0, "c": 1.0},
)


@pytest.mark.parametrize("order", ORDERS)
def test_tries_make_the_same_chain_in_whichever_order_they_come(
    kit: Any, order: tuple[int, ...]
) -> None:
    reports = [kit.load(kit.header(), kit.rows(TRIES[number])) for number in order]
    sizes = "select n_found, n_scores, content_digest from run where id = {}"
    ids = {number: place + 1 for place, number in enumerate(order)}
    assert [report.n_runs for report in reports] == [1, 1, 1]
    assert kit.one(sizes.format(ids[2]))[:2] == (3, 3)
    assert kit.current() == [ids[2]]
    assert kit.one(f"select superseded_by from run where id = {ids[1]}") == ids[2]
    assert kit.one(f"select superseded_by from run where id = {ids[0]}") == ids[1]
    assert sum(report.n_superseded for report in reports) == 2
    assert check(kit.store).ok


def test_a_shorter_try_says_what_became_of_it(kit: Any) -> None:
    kit.load(kit.header(), kit.rows(SCORES))
    late = kit.load(kit.header(), kit.rows({"a": 1.0}), path="late.json")
    assert (late.n_runs, late.n_superseded, late.n_repeats) == (1, 1, 0)
    assert late.notes == (
        "quiz: run 1 holds all of this one, which is superseded by it",
    )
    assert source_ledger.forget(kit.store, "dump1.json") == (1, 0)
    assert kit.current() == [2]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_tries_that_settled_the_same_the_longer_stays_and_then_the_later(
    kit: Any, order: tuple[int, int]
) -> None:
    day = datetime(2026, 1, 1)
    short, long = kit.rows({"a": 1.0}), kit.rows({"a": 1.0, "b": None})
    early, late = (
        [*kit.rows({"a": 1.0}), kit.row("b", None, error="x", response=text)]
        for text in "xy"
    )
    for number in order:
        kit.load(kit.header("1"), (short, long)[number])
        kit.load(
            kit.header("2", fewshot=1, started_at=day + timedelta(number)),
            (early, late)[number],
        )
    assert kit.all(
        "select fewshot, n_found, started_at from run_current order by fewshot nulls "
        "first"
    ) == [
        (None, 2, None),
        (1, 2, day + timedelta(1)),
    ]


def test_a_shorter_file_replaces_what_it_is_told_to_replace(kit: Any) -> None:
    kit.load(kit.header(), kit.rows(SCORES))
    kit.load(kit.header(), kit.rows({"a": 1.0}), on_conflict="supersede")
    assert kit.current() == [2]


def test_many_runs_are_held_against_many(
    kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In blocks: every second one is completed, every third one was longer before."""
    monkeypatch.setattr(overlaps, "BLOCK", 4)
    headers = [kit.header(model=f"org/{run:02}") for run in range(12)]

    def rows(longer: int) -> list[dict[str, Any]]:
        return [
            row
            for run in range(12)
            for row in kit.rows(SCORES if run % longer == 0 else {"a": 1.0}, run=run)
        ]

    kit.load(headers, rows(3))
    report = kit.load(headers, rows(2))
    assert (report.n_runs, report.n_seen_again, report.n_superseded) == (6, 6, 6)
    found = kit.all(
        "select model.name, run.id from run_current join run on run.id = "
        "run_current.run_id "
        "join model on model.id = run_current.model_id where run.n_found = 3 order by 1"
    )
    assert [name for name, _ in found] == [
        f"org/{n:02}" for n in (0, 2, 3, 4, 6, 8, 9, 10)
    ]
    assert len(kit.current()) == 12


def test_the_old_file_is_still_known_after_it_was_superseded(kit: Any) -> None:
    kit.load(kit.header(), kit.rows({"a": 1.0}))
    kit.load(kit.header(), kit.rows(SCORES))
    report = kit.load(kit.header(), kit.rows({"a": 1.0}))
    assert (report.n_runs, report.n_seen_again, kit.current()) == (0, 1, [2])


def test_other_rows_under_the_same_id_are_a_conflict(kit: Any) -> None:
    kit.load(
        kit.header(),
        [
            kit.row("a", 1.0, response="x", choice_scores=option(-1.0)),
            kit.row("b", 0.0),
        ],
    )
    changed = [
        [
            kit.row("a", 0.0, response="x", choice_scores=option(-1.0)),
            kit.row("b", 0.0),
        ],
        [
            kit.row("a", 1.0, response="x", choice_scores=option(-1.0)),
            kit.row("c", 0.0),
        ],
        [
            kit.row("a", 1.0, response="y", choice_scores=option(-1.0)),
            kit.row("b", 0.0),
        ],
        [
            kit.row("a", 1.0, response="x", choice_scores=option(-1.5)),
            kit.row("b", 0.0),
        ],
    ]
    for rows in changed:
        with pytest.raises(
            ConflictError, match=r"new\.json.*run 1 of org/a on quiz.*supersede"
        ):
            kit.load(kit.header(), rows, path="new.json")
    assert kit.counts("run", "score", "run_source") == (1, 2, 1)


def option(loglikelihood: float) -> list[dict[str, float]]:
    return [{"choice_index": 0, "loglikelihood": loglikelihood}]


@pytest.mark.parametrize("field", ["fewshot_draw", "perturbation", "template"])
def test_values_that_changed_places_are_other_values(kit: Any, field: str) -> None:
    """Of two variants of a prompt: the same numbers in other places are no run that is
    seen again."""
    there, swapped = (
        [
            kit.row("a", value, **{field: name})
            for name, value in zip("xy", values, strict=True)
        ]
        for values in ((1.0, 0.0), (0.0, 1.0))
    )
    kit.load(kit.header(), there)
    assert kit.load(kit.header(), there[::-1]).n_seen_again == 1
    with pytest.raises(ConflictError):
        kit.load(kit.header(), swapped)


def test_a_conflict_may_be_skipped(kit: Any) -> None:
    kit.load(kit.header(), kit.rows(SCORES))
    report = kit.load(
        [kit.header(), kit.header(benchmark="other")],
        [*kit.rows({"a": 0.0}), *kit.rows({"z": 1.0}, run=1)],
        on_conflict="skip",
    )
    assert (report.n_runs, report.n_superseded) == (1, 0)
    assert any("left out" in note for note in report.notes)
    assert kit.all("select source_id, run_id from run_source order by 1, 2") == [
        (1, 1),
        (2, 2),
    ]
    assert check(kit.store).integrity == ()


def test_what_is_left_out_tells_the_store_nothing_of_a_metric(kit: Any) -> None:
    kit.load(kit.header(), kit.rows(SCORES))
    f1 = {"scores": [{"metric": "acc", "value": 7.0}, {"metric": "f1", "value": 0.5}]}
    kit.load(kit.header(), [{**kit.row("a"), **f1}], on_conflict="skip")
    described = (
        "select name, low, high from benchmark_metric join metric on metric.id = "
        "metric_id"
    )
    assert kit.all(described) == [("acc", 0.0, 1.0)]


def test_a_conflict_may_supersede(kit: Any) -> None:
    kit.load(kit.header(), kit.rows(SCORES))
    report = kit.load(kit.header(), kit.rows({"a": 0.0}), on_conflict="supersede")
    assert (report.n_superseded, kit.current()) == (1, [2])


def test_one_conflict_keeps_the_whole_source_out(kit: Any) -> None:
    kit.load(kit.header(), kit.rows(SCORES))
    with pytest.raises(ConflictError):
        kit.load(
            [kit.header(benchmark="other"), kit.header()],
            [*kit.rows({"z": 1.0}), *kit.rows({"a": 0.0}, run=1)],
        )
    assert kit.counts("run", "score", "run_source") == (1, 3, 1)


def test_a_second_run_of_a_condition_is_a_repeat(kit: Any) -> None:
    kit.load(kit.header("1"), kit.rows(SCORES))
    report = kit.load(kit.header("2", sampling_seed=7), kit.rows({"a": 0.0}))
    assert (report.n_runs, report.n_repeats, report.n_superseded) == (1, 1, 0)
    assert kit.current() == [1, 2]
    assert len(kit.all("select distinct condition_key from run")) == 1


def test_repeats_within_one_dump_are_counted(kit: Any) -> None:
    headers = [kit.header(str(number)) for number in range(5)]
    rows = [kit.row("a", number / 10, run=number) for number in range(5)]
    report = kit.load(headers, rows)
    assert (report.n_runs, report.n_repeats) == (5, 4)


def test_a_run_that_stands_twice_in_a_dump_is_one(kit: Any) -> None:
    headers = [kit.header(place="x"), kit.header(place="y")]
    report = kit.load(headers, [*kit.rows(SCORES), *kit.rows(SCORES, run=1)])
    assert (report.n_runs, report.n_seen_again, report.n_scores) == (1, 1, 3)
    assert kit.all("select run_id, place from run_source order by 2") == [
        (1, "x"),
        (1, "y"),
    ]
    assert check(kit.store).integrity == ()


def test_a_dump_without_run_ids_never_conflicts(kit: Any) -> None:
    kit.load(kit.header(None), kit.rows(SCORES))
    report = kit.load(kit.header(None), kit.rows({"a": 0.0}))
    assert (report.n_runs, report.n_repeats, kit.current()) == (1, 1, [1, 2])


@pytest.mark.parametrize("order", ORDERS)
def test_rows_that_nothing_tells_apart_are_no_further_draws(
    kit: Any, order: tuple[int, ...]
) -> None:
    parts = ({"a": 1.0}, {"b": 0.0, "c": 1.0}, SCORES)
    reports = [
        kit.load(kit.header(None), kit.rows(parts[number]), path=f"{number}.csv")
        for number in order
    ]
    assert kit.all("select n_found from run where superseded_by is null") == [(3,)]
    notes = [note for report in reports for note in report.notes]
    assert sum(report.n_repeats for report in reports) == (2 not in order[:2]) and notes
    assert all("--set run_id" in note for note in notes)
    source_ledger.forget(kit.store, "2.csv")
    assert check(kit.store).integrity == ()


#: Rows of equal scores that say less or more about each sample.
DETAILS: dict[str, dict[str, Any]] = {
    "whole": {"response": "so", "latency": 1.5},
    "seconds": {"latency": 1.5},
    "words": {"response": "so"},
    "bare": {},
}


@pytest.mark.parametrize(
    "order",
    ["whole seconds", "seconds whole", "seconds words", "words seconds whole bare"],
)
def test_rows_that_say_less_about_their_samples_are_no_further_draws(
    kit: Any, order: str
) -> None:
    for name in order.split():
        kit.load(kit.header(None), kit.rows(SCORES, **DETAILS[name]))
    assert len(kit.current()) == 1
    responses = (
        "select count(response_hash) from generation join run_current using (run_id)"
    )
    assert kit.one(responses) == 3


def test_whether_rows_say_less_is_told_of_sources_that_are_loaded_one_by_one(
    kit: Any,
) -> None:
    dumps = [
        Dump((kit.header(None),), [batch_of(kit.rows(SCORES, **DETAILS[name]))])
        for name in ("seconds", "words")
    ]
    parsed = kit.loader.parse_all(dumps, LoadOptions())
    with pytest.raises(NotTogetherError):
        kit.loader.load_all(parsed, [kit.claim() for _ in dumps], LoadOptions())


@pytest.mark.parametrize(
    "telling",
    [{"sampling_seed": 1}, {"started_at": datetime(2026, 1, 1)}, {"run_id": "r"}],
)
def test_rows_of_another_execution_are_further_draws(
    kit: Any, telling: dict[str, Any]
) -> None:
    kit.load(kit.header(None), kit.rows(SCORES))
    assert (
        kit.load(replace(kit.header(None), **telling), kit.rows({"a": 1.0})).n_repeats
        == 1
    )


def test_figures_of_a_run_whose_samples_are_stored_add_no_run(kit: Any) -> None:
    kit.load(kit.header(), kit.rows(SCORES))
    figures = kit.header(published=(kit.figure("acc", 0.5),))
    report = kit.load(figures)
    assert (report.n_runs, report.n_seen_again) == (0, 1)
    assert "figures only" in report.notes[0]


def test_samples_supersede_a_run_that_had_figures_only(kit: Any) -> None:
    kit.load(kit.header(published=(kit.figure("acc", 0.5),)))
    report = kit.load(kit.header(), kit.rows(SCORES))
    assert (report.n_superseded, kit.current()) == (1, [2])


# --- equal content under two ids -------------------------------------------------------------

#: (id of the tool, scores) of a run, its equal under another id (or none), and a retry
#: of that one.
EQUALS: tuple[tuple[str | None, dict[str, float | None]], ...] = (
    ("1", {"a": 1.0, "b": None}),
    ("2", {"a": 1.0, "b": None}),
    ("2", SCORES),
)


EQUALS_ORDERS = [
    pytest.param(first, *one.values, marks=one.marks)
    for first in ("1", None)
    for one in ORDERS
]


@pytest.mark.parametrize(("first", "order"), EQUALS_ORDERS)
@pytest.mark.rare
def test_a_retry_replaces_a_run_under_its_own_id_alone(
    kit: Any, first: str | None, order: tuple[int, ...]
) -> None:
    tries = [(first, EQUALS[0][1]), *EQUALS[1:]]
    for number in order:
        kit.load(
            kit.header(tries[number][0]),
            kit.rows(tries[number][1]),
            path=f"{number}.json",
        )
    found = "select n_found from run where superseded_by is null order by 1"
    n_runs = 3 if first else 2  # two ids are two executions, whatever came out
    assert kit.all(found) == [(2,), (3,)] and kit.counts("run", "run_source") == (
        n_runs,
        3,
    )
    assert check(kit.store).integrity == ()
    if first:  # the equal run is retried too
        kit.load(kit.header(first), kit.rows(SCORES | {"c": 0.0}), path="3.json")
        assert kit.all(found) == [(3,), (3,)] and kit.counts("run") == (4,)
        assert source_ledger.forget(kit.store, "3.json") == (1, 0)
    source_ledger.forget(kit.store, "0.json")
    assert kit.all(found) == [(3,)]
    source_ledger.forget(kit.store, "2.json")
    assert kit.all(found) == [(2,)] and kit.counts("run", "run_source") == (1, 1)
    assert check(kit.store).integrity == ()


@pytest.mark.parametrize("late", [True, False])
def test_what_contradicts_a_run_is_refused_though_its_equal_came_first(
    kit: Any, late: bool
) -> None:
    other = kit.rows(SCORES | {"a": 0.0})
    kit.load(kit.header("1"), kit.rows(SCORES))
    kit.load(kit.header("2"), kit.rows(SCORES) if late else other)
    with pytest.raises(
        ConflictError, match=r"run . of org/a on quiz has the same id of the tool \(2\)"
    ):
        kit.load(kit.header("2"), other if late else kit.rows(SCORES))


# --- forgetting ------------------------------------------------------------------------------


def test_forgetting_a_source_removes_its_runs(kit: Any) -> None:
    kit.load(kit.header("1"), kit.rows(SCORES, response="r"), path="one.json")
    kit.load(kit.header("2", fewshot=1), kit.rows(SCORES), path="two.json")
    assert source_ledger.forget(kit.store, "one.json") == (1, 0)
    assert kit.current() == [2]
    assert kit.counts(
        "source", "score", "generation", "prompt_score", "run_source"
    ) == (1, 3, 0, 3, 1)
    assert check(kit.store).integrity == ()


def test_a_forgotten_source_can_be_loaded_again(kit: Any) -> None:
    for _ in range(2):
        report = kit.load(kit.header(), kit.rows(SCORES), path="one.json")
        assert (report.n_runs, report.n_seen_again) == (1, 0)
        source_ledger.forget(kit.store, "one.json")
    assert kit.counts("run", "score", "source") == (0, 0, 0)


def test_a_run_that_another_source_holds_stays(kit: Any) -> None:
    header = kit.header(published=(kit.figure("acc", 0.66),))
    kit.load(header, kit.rows(SCORES), path="one.json")
    kit.load(header, kit.rows(SCORES), path="two.json")
    assert source_ledger.forget(kit.store, "1") == (0, 1)
    assert kit.counts("run", "score", "published_score") == (1, 3, 1)
    assert check(kit.store).integrity == ()
    assert source_ledger.forget(kit.store, "two.json") == (1, 0)
    assert kit.counts("run", "score", "published_score") == (0, 0, 0)


def test_what_a_forgotten_run_had_superseded_is_current_again(kit: Any) -> None:
    kit.load(kit.header(), kit.rows({"a": 1.0}))
    kit.load(kit.header(), kit.rows(SCORES), path="newer.json")
    source_ledger.forget(kit.store, "newer.json")
    assert kit.current() == [1]


def test_a_link_taken_out_of_a_chain_leaves_one_current_run(kit: Any) -> None:
    kit.load(kit.header(), kit.rows({"a": 1.0}))
    kit.load(kit.header(), kit.rows({"a": 1.0, "b": 0.0}), path="middle.json")
    kit.load(kit.header(), kit.rows(SCORES))
    source_ledger.forget(kit.store, "middle.json")
    assert kit.current() == [3]
    assert kit.one("select superseded_by from run where id = 1") == 3


def test_forgetting_needs_one_source(kit: Any) -> None:
    kit.load(kit.header("1"), kit.rows({"a": 1.0}), path="same.json")
    kit.load(kit.header("2"), kit.rows({"a": 0.0}), path="same.json")
    with pytest.raises(MisuseError, match="no source 'other.json'"):
        source_ledger.forget(kit.store, "other.json")
    with pytest.raises(MisuseError, match=r"1 \(same.json\), 2 \(same.json\)"):
        source_ledger.forget(kit.store, "same.json")
    assert source_ledger.forget(kit.store, "2") == (1, 0)


def runs(kit: Any) -> list[tuple[int, str, int | None]]:
    return [
        tuple(row)
        for row in kit.all("select id, status, superseded_by from run order by id")
    ]


NO_ID = (
    "select id from run where superseded_by is null and status <> 'invalidated' order "
    "by id"
)


def test_an_invalidated_run_supersedes_nothing(kit: Any) -> None:
    """Whether a part came before it or comes after it."""
    part, whole = {"a": 1.0, "b": 0.0}, SCORES
    kit.load(kit.header(None), kit.rows(part))
    kit.load(kit.header(None), kit.rows(whole))
    assert runs(kit) == [(1, "complete", 2), (2, "complete", None)]
    catalogue.invalidate(kit.store, "run:2", "c is wrong")
    assert runs(kit) == [(1, "complete", None), (2, "invalidated", None)]
    (note,) = kit.load(kit.header(None), kit.rows({"c": 1.0})).notes
    assert "run 2" in note and "invalidated" in note
    assert [row[0] for row in kit.all(NO_ID)] == [1, 3]
    catalogue.validate(kit.store, "run:2")
    assert runs(kit) == [(1, "complete", 2), (2, "complete", None), (3, "complete", 2)]
    assert check(kit.store).ok


def test_what_equals_an_invalidated_run_says_so(kit: Any) -> None:
    kit.load(kit.header("1"), kit.rows(SCORES))
    catalogue.invalidate(kit.store, "1", "wrong")
    report = kit.load(kit.header("1"), kit.rows(SCORES))
    assert report.n_seen_again == 1
    (note,) = report.notes
    assert "run 1" in note and "--undo" in note


def test_an_invalidated_run_takes_its_place_in_a_chain_again(kit: Any) -> None:
    tries = [{"a": 1.0}, {"a": 1.0, "b": 0.0}, SCORES]
    for scores in tries:
        kit.load(kit.header("1"), kit.rows(scores))
    before = runs(kit)
    catalogue.invalidate(kit.store, "run:2", "wrong")
    assert [row[2] for row in runs(kit)] == [3, None, None]
    catalogue.validate(kit.store, "run:2")
    assert runs(kit) == before


def test_a_run_that_came_under_the_id_of_an_invalidated_one_is_in_its_way(
    kit: Any,
) -> None:
    kit.load(kit.header("1"), kit.rows({"a": 1.0, "b": 0.0}))
    catalogue.invalidate(kit.store, "run:1", "wrong")
    assert kit.load(kit.header("1"), kit.rows({"a": 0.0, "b": 0.0})).n_runs == 1
    with pytest.raises(MisuseError, match="run:2"):
        catalogue.validate(kit.store, "run:1")
    assert [row[1] for row in runs(kit)] == ["invalidated", "complete"]


def test_a_truncated_run_is_truncated_again(kit: Any) -> None:
    kit.load(kit.header("1", n_requested=5), kit.rows(SCORES))
    before = kit.all("select status, status_reason from run")
    catalogue.invalidate(kit.store, "run:1", "wrong")
    catalogue.validate(kit.store, "run:1")
    assert (
        kit.all("select status, status_reason from run")
        == before
        == [("truncated", "3 prompts found, 5 declared")]
    )
    with pytest.raises(MisuseError, match="not invalidated"):
        catalogue.validate(kit.store, "run:1")


def test_a_part_does_not_come_back_beside_another_run_that_holds_it(kit: Any) -> None:
    part, one, other = {"a": 1.0}, {"a": 1.0, "b": 0.0}, {"a": 1.0, "c": 0.0}
    sources = [
        kit.load(kit.header(None), kit.rows(scores)).source_id
        for scores in (one, other, part)
    ]
    superseded_by = kit.one("select superseded_by from run where id = 3")
    source_ledger.forget(kit.store, str(sources[superseded_by - 1]))
    left = {1, 2} - {superseded_by}
    assert {row[0] for row in kit.all(NO_ID)} == left
    source_ledger.forget(kit.store, str(sources[min(left) - 1]))
    assert [row[0] for row in kit.all(NO_ID)] == [3]


def test_an_invalidated_checkpoint_is_given_back_beside_those_that_share_its_id(
    kit: Any,
) -> None:
    """An id of a training stands for none of its checkpoints alone."""
    for step in (100, 200):
        kit.load(
            kit.header("exp1", step=step), kit.rows({"a": 1.0, "b": float(step == 100)})
        )
    before = runs(kit)
    for run_id in (1, 2):
        catalogue.invalidate(kit.store, f"run:{run_id}", "to be looked at")
        catalogue.validate(kit.store, f"run:{run_id}")
    assert runs(kit) == before


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_executions_of_one_file_are_no_less_where_one_without_marks_is_stored(
    kit: Any, order: tuple[int, ...]
) -> None:
    """It is one of them: which of several cannot be told."""
    bare = ([kit.header(None)], kit.rows(SCORES))
    seeds = [kit.header(None, sampling_seed=seed) for seed in (1, 2)]
    both = (seeds, [*kit.rows(SCORES), *kit.rows(SCORES, run=1)])
    for number in order:
        kit.load(*(bare, both)[number])
    assert (
        len({row[0] for row in kit.all("select cast(marks as varchar) from run")}) == 2
    )
    assert kit.current() == [1, 2] and check(kit.store).ok
