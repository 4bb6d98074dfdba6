"""Rows that stand twice, contradict each other, cannot be read or are missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from warehouse.errors import ConflictError, InputError
from warehouse.importers.base import batch_of
from warehouse.records import BulkQuery, Rejection


def test_rows_that_stand_twice_are_collapsed_and_counted(kit: Any, whole: Any) -> None:
    rows = [kit.row("a", 1.0, response="x"), kit.row("b", 0.0)]
    report = kit.load(kit.header(), [*rows, rows[0], rows[0]])
    assert (report.n_scores, kit.counts("score", "generation")) == (2, (2, 1))
    assert any("collapsed" in note for note in report.notes)
    assert kit.load(kit.header(), rows).n_seen_again == 1


@pytest.mark.parametrize(
    ("policy", "expected"),
    [("first", [(1.0, 0)]), ("last", [(0.0, 0)]), ("draws", [(1.0, 0), (0.0, 1)])],
)
def test_rows_that_contradict_each_other(kit: Any, policy: str, expected: Any) -> None:
    rows = [kit.row("a", 1.0, response="x"), kit.row("a", 0.0, response="y")]
    with pytest.raises(
        ConflictError, match=r"prompt a, draw 0, rows 1 and 2.*--on-duplicate"
    ):
        kit.load(kit.header(), rows)
    assert kit.counts("run", "score", "run_source") == (0, 0, 0)
    kit.load(kit.header(), rows, on_duplicate=policy)
    assert kit.all("select value, draw from score order by draw") == expected
    assert kit.all(
        "select text from content join generation on sha256 = response_hash order by "
        "draw"
    ) == [("x",)] * (policy != "last") + [("y",)] * (policy != "first")


@pytest.mark.parametrize(("policy", "same", "other"), [("first", 2, 1), ("last", 1, 2)])
def test_contradicting_rows_are_counted_apart_from_equal_ones(
    kit: Any, policy: str, same: int, other: int
) -> None:
    rows = [kit.row("a", value) for value in (1.0, 1.0)]
    rows += [kit.row("b", value) for value in (1.0, 1.0, 0.0)]
    report = kit.load(kit.header(), rows, on_duplicate=policy)
    (first, second) = report.notes
    assert first.startswith(f"{same} duplicate row") and first.endswith("collapsed")
    assert (
        second.startswith(f"{other} duplicate row")
        and f"the {policy} one was kept" in second
    )


def test_duplicates_are_counted_by_rows_not_by_what_each_says(kit: Any) -> None:
    whole = kit.row("a", 1.0, response="x")
    (note,) = kit.load(kit.header(), [whole, whole, whole]).notes
    assert note == "2 duplicate rows collapsed"


def test_equal_rows_are_draws_where_the_user_says_so(kit: Any, whole: Any) -> None:
    rows = [kit.row("a", 1.0), kit.row("a", 1.0), kit.row("b", 0.0)]
    report = kit.load(kit.header(), rows, on_duplicate="draws")
    assert report.notes == ()
    assert kit.all(
        "select key, draw from score join prompt on id = prompt_id order by 1, 2"
    ) == [
        ("a", 0),
        ("a", 1),
        ("b", 0),
    ]


@pytest.mark.parametrize(
    ("n_other", "expected"), [(0, "refused"), (1, "refused"), (4, "a repeat")]
)
def test_a_second_scorer_of_nearly_the_same_responses_is_no_repeat(
    kit: Any, n_other: int, expected: str
) -> None:
    """Of 20 responses so many are others, and of those that are the same one score."""
    first = [kit.row(f"p{n}", float(n % 2), response=f"r{n}") for n in range(20)]
    second = [
        kit.row(f"p{n}", float(n % 2 or n == 10), response=f"{'x' * (n < n_other)}r{n}")
        for n in range(20)
    ]
    kit.load(kit.header(None), first)
    if expected == "refused":
        with pytest.raises(ConflictError, match="nearly all, are those of run"):
            kit.load(kit.header(None), second)
    else:
        assert kit.load(kit.header(None), second).n_repeats == 1


# --- faults ----------------------------------------------------------------------------------


def test_bad_rows_refuse_the_source_unless_allowed(kit: Any) -> None:
    bad = [
        Rejection("line 3", "{nonsense", "a JSON object"),
        Rejection("line 9", "]", "JSON"),
    ]
    with pytest.raises(
        InputError, match=r"d\.json.*2 rows.*line 3.*nonsense.*--max-rejected 2"
    ):
        kit.load(
            kit.header(),
            kit.rows({"a": 1.0}),
            dump={"rejections": bad},
            path="d.json",
            max_rejected=1,
        )
    assert kit.counts("run", "score", "rejection") == (0, 0, 0)
    report = kit.load(
        kit.header(), kit.rows({"a": 1.0}), dump={"rejections": bad}, max_rejected=2
    )
    assert (report.n_runs, report.n_rejected) == (1, 2)
    assert kit.all("select place, found, expected from rejection order by 1") == [
        ("line 3", "{nonsense", "a JSON object"),
        ("line 9", "]", "JSON"),
    ]


LINES = """
select 0 as run, id as prompt_id, [{metric: 'acc', value: v}] as scores
from read_json($file, columns = {id: 'varchar', v: 'double'}, format = 'newline_delimited')
"""


def test_a_reading_is_done_in_bulk_and_row_by_row_where_it_fails(
    kit: Any, tmp_path: Path
) -> None:
    path = tmp_path / "it's.jsonl"
    path.write_text('{"id": "a", "v": 1}\n{"id": "b", "v": 0.5}\n')
    reading = BulkQuery(
        LINES, {"file": str(path)}, fallback=lambda: pytest.fail("not needed")
    )
    assert kit.load(kit.header("1"), dump={"batches": [reading]}).n_scores == 2
    path.write_text('{"id": "a", "v": 1}\n{"id": "b", "v": \n')
    bad: list[Rejection] = []

    def fallback() -> Iterator[Any]:
        yield batch_of(kit.rows({"a": 1.0}))
        bad.append(Rejection("line 2", '{"id": "b", "v":', "a JSON object"))

    slow = {
        "batches": [BulkQuery(LINES, {"file": str(path)}, fallback)],
        "rejections": bad,
    }
    report = kit.load(kit.header("2"), dump=slow, max_rejected=1)
    assert (report.n_runs, report.n_scores, report.n_rejected) == (1, 1, 1)


def test_a_reading_is_done_row_by_row_where_a_question_is_unfit_for_it(
    kit: Any,
) -> None:
    scores = "[{metric: 'acc', value: 1.0}] as scores"
    sql = (
        f"select 0 as run, q as identity, {scores} from (values ('1'), (QUESTION)) as "
        "t(q)"
    )
    slow = [kit.row("a", 0.0), kit.row("b", 0.0), kit.row("c", 0.0)]

    def n_scores(question: str, unfit: str) -> int:
        reading = BulkQuery(
            sql.replace("QUESTION", question), {}, lambda: iter([batch_of(slow)]), unfit
        )
        return int(kit.load(kit.header(question), dump={"batches": [reading]}).n_scores)

    assert [n_scores("'2'", "identity = '3'"), n_scores("'3'", "identity = '3'")] == [
        2,
        3,
    ]
    assert (
        n_scores("null", "identity = '3'") == 2
    )  # a row may be about no question that is known by its content


def test_a_value_that_the_store_cannot_hold_refuses_the_source(kit: Any) -> None:
    row = kit.row("a", 1.0)
    unfit = [
        (kit.header(), row | {"choices": "[1,"}),
        (kit.header(fewshot=2**40), row),
        (kit.header(sampling_seed=2**63), row),
        (kit.header(), row | {"scores": [{"metric": None, "value": 1.0}]}),
        *([] if kit.store.dialect.embedded else [(kit.header(note="a\0b"), row)]),
    ]
    for header, sample in unfit:
        with pytest.raises(
            InputError, match=r"^d\.json: a value that the store cannot hold"
        ):
            kit.load(header, [sample], path="d.json")
    assert kit.counts("run", "score", "run_source") == (0, 0, 0)
    assert kit.load(kit.header(), [row]).n_runs == 1


def test_rejected_texts_are_kept_readably(kit: Any) -> None:
    bad = [Rejection("line 1", "a\0b\udcff", "JSON")]
    kit.load(
        kit.header(), kit.rows({"a": 1.0}), dump={"rejections": bad}, max_rejected=1
    )
    assert kit.one("select found from rejection") == "a\ufffdb\\udcff"


def test_an_identity_that_is_no_json_is_refused(kit: Any) -> None:
    with pytest.raises(InputError, match="not valid JSON"):
        kit.load(kit.header(), [kit.row("a", 1.0, identity="{")])
    assert kit.counts("run", "score", "prompt") == (0, 0, 0)


def test_fewer_prompts_than_declared_is_truncated(kit: Any) -> None:
    kit.load(
        kit.header("1", n_requested=3, n_benchmark=9), kit.rows({"a": 1.0, "b": 0.0})
    )
    kit.load(
        kit.header("2", n_requested=2, n_benchmark=9, fewshot=1),
        kit.rows({"a": 1.0, "b": 0.0}),
    )
    kit.load(
        kit.header("3", n_requested=2, status="failed", fewshot=2), kit.rows({"a": 1.0})
    )
    assert kit.all(
        "select status, status_reason, n_found, n_benchmark from run order by id"
    ) == [
        ("truncated", "2 prompts found, 3 declared", 2, 9),
        ("complete", None, 2, 9),
        ("failed", None, 1, None),
    ]


def test_a_rehearsal_tells_and_stores_nothing(kit: Any) -> None:
    rows = kit.rows({"a": 1.0, "b": 0.0}, response="x")
    told = kit.load(kit.header(), rows, dry_run=True)
    assert (told.n_runs, told.n_scores) == (1, 2)
    names = (
        "run",
        "score",
        "prompt",
        "model",
        "content",
        "benchmark",
        "prompt_variant",
    )
    assert kit.counts(*names) == (0,) * len(names)
    assert kit.load(kit.header(), rows).n_runs == 1
    kit.do("delete from source where state = 'loading'")


def test_a_dump_without_samples_is_a_run_without_facts(kit: Any, whole: Any) -> None:
    report = kit.load(kit.header(published=(kit.figure("acc", 0.5),), n_requested=10))
    assert (report.n_runs, report.n_samples) == (1, 0)
    assert kit.one("select status, n_found from run") == ("complete", 0)
