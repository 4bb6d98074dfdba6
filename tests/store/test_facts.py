"""From samples to facts: keys, draws, duplicates, values without numbers, means per prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from warehouse.errors import ConflictError, InputError
from warehouse.importers.base import batch_of
from warehouse.records import Reading, Rejection, content_key
from warehouse.store import ledger
from warehouse.store.check import check

NAN, INF = float("nan"), float("inf")


@pytest.fixture
def whole(kit: Any) -> Any:
    """After the test, the store keeps its word."""
    yield
    assert check(kit.store).ok


def identity(**document: Any) -> str:
    return json.dumps(document)


# --- prompts ---------------------------------------------------------------------------------


def test_the_key_is_the_content_else_the_id_else_the_position(kit: Any) -> None:
    kit.load(kit.header(), [
        kit.row("a", 1.0, identity='{"q": 1,  "t": "x"}', position=4, text="Q 1", target="x",
                choices='["x", "y"]', metadata='{"topic": {"name": "t"}}'),
        kit.row("b", 1.0, position=5),
        {"run": 0, "position": 6, "scores": [{"metric": "acc", "value": 0.0}]},
    ])  # fmt: skip
    assert kit.all("select key, key_kind, tool_id, text, target from prompt order by id") == [
        (content_key('{"t":"x","q":1}'), "content", "a", "Q 1", "x"),
        ("b", "id", "b", None, None),
        ("6", "position", None, None, None),
    ]  # fmt: skip


def test_prompts_are_shared_by_runs_and_sources(kit: Any) -> None:
    ask = {"identity": identity(q=1), "text": "What is\n 1 + 1?"}
    kit.load(kit.header("1"), [kit.row("a", 1.0, **ask)])
    kit.load(kit.header("2", model="org/b"), [kit.row("other id", 0.0, **ask)])
    kit.load(kit.header("3", split="test"), [kit.row("a", 0.0, **ask)])
    assert kit.all("select split, tool_id from prompt order by id") == [("", "a"), ("test", "a")]
    assert kit.one("select count(distinct text_hash) from prompt") == 1


def test_repeated_questions_are_numbered(kit: Any, whole: Any) -> None:
    def asked(*order: str) -> list[Any]:
        return [kit.row(item, 1.0, identity=identity(q="same"), position="xyz".index(item))
                for item in order]  # fmt: skip

    kit.load(kit.header("1"), asked("x", "y", "z"))
    kit.load(kit.header("2", model="org/b"), asked("z", "y", "x"))
    kit.load(kit.header("3", model="org/c"), asked("x", "y"))
    assert kit.all("select occurrence, tool_id from prompt order by 1") == [
        (0, "x"), (1, "y"), (2, "z")
    ]  # fmt: skip
    assert kit.all("select run_id, count(*) from prompt_score group by 1 order by 1") == [
        (1, 3), (2, 3), (3, 2)
    ]  # fmt: skip


def test_rows_of_one_item_are_joined(kit: Any, whole: Any) -> None:
    """One row per filter, the generation on the first only."""
    rows = [
        kit.row("a", identity=identity(q=1), response="so 4",
                scores=[{"metric": "acc", "filter": "strict", "value": 0.0}]),
        kit.row("a", identity=identity(q=1),
                scores=[{"metric": "acc", "filter": "flexible", "value": 1.0}]),
    ]  # fmt: skip
    kit.load(kit.header(), rows)
    assert kit.counts("prompt", "generation", "score") == (1, 1, 2)
    assert kit.all(
        "select filter, value from score join metric on metric.id = metric_id order by 1"
    ) == [("flexible", 1.0), ("strict", 0.0)]


ODD = [
    "a/b\\c", "it's \"quoted\"", "'; drop table run; --", "%s %(x)s :name $1 ?", "日本\u200b🙂",
    "  ", "a\tb\nc", "x" * 3000, "{}", "null",
]  # fmt: skip


def test_odd_texts_survive(kit: Any) -> None:
    headers = [
        kit.header(odd, model=odd, note=odd, tags=(odd,), configuration={odd: [odd]}) for odd in ODD
    ]
    rows = [
        kit.row(odd, 1.0, run=run, text=odd, target=odd, response=odd, prompt_sent=odd,
                perturbation=odd, identity=identity(q=odd))
        for run, odd in enumerate(ODD)
    ]  # fmt: skip
    kit.load(headers, rows, path=ODD[2])
    odd = [(text,) for text in sorted(ODD)]
    for column in ("prompt.tool_id", "prompt.text", "model.name", "run.note", "content.text"):
        table, name = column.split(".")
        assert sorted(kit.all(f"select {name} from {table}")) == odd
    assert sorted(kit.all("select perturbation from prompt_score")) == odd
    assert kit.load(headers, rows, path=ODD[2]).n_seen_again == len(ODD)


# --- draws, variants, weights ----------------------------------------------------------------


def means(kit: Any) -> dict[str, tuple[Any, ...]]:
    rows = kit.all(
        "select key, value, weight, n_draws, within_variance, n_scored, n_unscored, is_binary "
        "from prompt_score join prompt on prompt.id = prompt_id"
    )
    return {row[0]: row[1:] for row in rows}


def test_draws_are_averaged(kit: Any) -> None:
    kit.load(kit.header(), [kit.row("a", value, draw=number, response=f"r{number}")
                            for number, value in enumerate([1.0, 0.0, 1.0, 1.0])])  # fmt: skip
    assert means(kit)["a"] == pytest.approx((0.75, 1.0, 4, 0.25, 4, 0, True), rel=1e-12)
    assert kit.counts("generation", "content") == (4, 4)


def test_a_value_of_all_draws_together_stands_apart(kit: Any) -> None:
    rows = [kit.row("a", 0.0, draw=number) for number in range(3)]
    kit.load(kit.header(), [*rows, kit.row("a", 1.0, metric="maj@3", draw=-1)])
    assert kit.all(
        "select name, value, n_draws from prompt_score join metric on metric.id = metric_id "
        "order by name"
    ) == [("acc", 0.0, 3), ("maj@3", 1.0, 1)]
    assert kit.all("select draw from score order by 1") == [(-1,), (0,), (1,), (2,)]


def test_draws_of_examples_are_averaged_and_perturbations_are_not(kit: Any, whole: Any) -> None:
    kit.load(kit.header(), [
        kit.row("a", 1.0, fewshot_draw="1"),
        kit.row("a", 0.0, fewshot_draw="2"),
        kit.row("a", 1.0, perturbation="typos"),
        kit.row("a", 1.0, perturbation="dialect", template="t2"),
    ])  # fmt: skip
    assert kit.all(
        "select perturbation, value, n_draws from prompt_score order by perturbation"
    ) == [("", 0.5, 2), ("dialect", 1.0, 1), ("typos", 1.0, 1)]
    assert kit.counts("prompt", "prompt_variant", "score") == (1, 4, 4)


#: prompt: its scores, and what prompt_score makes of them
MEANS: dict[str, Any] = {
    "rate": ([{"value": 0.3, "n_draws": 10}], (0.3, 1.0, 10, 0.3 * 0.7 * 10 / 9, 1, 0, False)),
    "count": ([{"value": 3.0, "n_draws": 10}], (3.0, 1.0, 10, None, 1, 0, False)),
    "two rates": ([{"value": 1.0, "n_draws": 2}, {"value": 0.0, "n_draws": 6}],
                  (0.25, 1.0, 8, 0.25 * 0.75 * 8 / 7, 2, 0, True)),
    "weights": ([{"value": 2.0, "weight": 1.0}, {"value": 5.0, "weight": 3.0}],
                (4.25, 2.0, 2, 4.5, 2, 0, False)),
    "one missing": ([{"value": 1.0}, {"value": None}], (1.0, 1.0, 1, None, 1, 1, True)),
    "all missing": ([{"value": None}, {"value": NAN}], (None, 1.0, 0, None, 0, 2, False)),
    "one": ([{"value": 0.5}], (0.5, 1.0, 1, None, 1, 0, False)),
}  # fmt: skip


def test_the_mean_of_a_prompt(kit: Any, whole: Any) -> None:
    rows = [
        kit.row(prompt, draw=draw, scores=[{"metric": "acc"} | score])
        for prompt, (scores, _) in MEANS.items()
        for draw, score in enumerate(scores)
    ]
    kit.load(kit.header(), rows)
    for prompt, found in means(kit).items():
        for value, expected in zip(found, MEANS[prompt][1], strict=True):
            assert value == (expected if expected is None else pytest.approx(expected)), prompt


# --- values that are no numbers --------------------------------------------------------------


def test_what_is_no_number_is_null_with_its_reason(kit: Any, whole: Any) -> None:
    given = [
        {"value": 1.0}, {"value": NAN}, {"value": INF}, {"value": -INF}, {"value": None},
        {"value": None, "status": "refused"}, {"value": 0.0, "status": "no_answer"},
        {"value": None, "status": "not_scalar", "raw": "[1, 2]"}, {"value": NAN, "status": "limit"},
        {"value": NAN, "status": "scored"}, {"value": 1.0, "origin": "implied", "raw": "yes"},
    ]  # fmt: skip
    kit.load(kit.header(), [
        kit.row(f"{place:02}", scores=[{"metric": "acc"} | score])
        for place, score in enumerate(given)
    ])  # fmt: skip
    assert kit.all(
        "select value, status, raw, origin from score join prompt on prompt.id = prompt_id "
        "order by key"
    ) == [
        (1.0, "scored", None, "recorded"),
        (None, "error", "nan", "recorded"),
        (None, "error", "inf", "recorded"),
        (None, "error", "-inf", "recorded"),
        (None, "error", None, "recorded"),
        (None, "refused", None, "recorded"),
        (0.0, "no_answer", None, "recorded"),
        (None, "not_scalar", "[1, 2]", "recorded"),
        (None, "limit", "nan", "recorded"),
        (None, "error", "nan", "recorded"),
        (1.0, "scored", "yes", "implied"),
    ]


def test_options_are_stored_as_they_are(kit: Any, whole: Any) -> None:
    options = [
        {"choice_index": 0, "loglikelihood": -1.5, "unconditional_loglikelihood": -3.0,
         "is_greedy": True, "n_tokens": 2, "n_bytes": 7, "is_target": False},
        {"choice_index": 1, "loglikelihood": None, "is_target": None},
    ]  # fmt: skip
    kit.load(kit.header(), [kit.row("a", 1.0, choice_scores=options), kit.row("b", 0.0)])
    assert kit.all(
        "select choice_index, loglikelihood, unconditional_loglikelihood, is_greedy, n_tokens, "
        "n_bytes, is_target from choice order by 1"
    ) == [(0, -1.5, -3.0, True, 2, 7, False), (1, None, None, None, None, None, None)]
    assert kit.one("select n_choices, n_scores, n_generations from run") == (2, 2, 0)


def test_what_is_known_of_a_generation_is_stored(kit: Any) -> None:
    told = {
        "extracted_answer": "4", "finish_reason": "stop", "input_tokens": 2**40,
        "output_tokens": 0, "latency": 0.25, "cost": 1e-6, "error": "none", "explanation": "ok",
    }  # fmt: skip
    kit.load(kit.header(), [kit.row("a", 1.0, **told), kit.row("b", 1.0, output_tokens=3)])
    columns = ", ".join(told)
    assert kit.all(f"select {columns} from generation order by prompt_id") == [
        tuple(told.values()), (None, None, None, 3, None, None, None, None)
    ]  # fmt: skip


# --- texts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "stored"),
    [("all", {"Say x", "x", "y"}), ("responses", {"x", "y"}), ("none", set())],
)
def test_texts_are_stored_once_and_only_those_wanted(kit: Any, policy: str, stored: Any) -> None:
    rows = [
        kit.row(prompt, 1.0, prompt_sent="Say x", response=response)
        for prompt, response in [("a", "x"), ("b", "x"), ("c", "y")]
    ]
    kit.load(kit.header("1"), rows, text=policy)
    kit.load(kit.header("2", model="org/b"), rows, text=policy)
    assert {text for (text,) in kit.all("select text from content")} == stored
    assert kit.counts("content", "generation") == (len(stored), 6)
    assert kit.one("select count(distinct response_hash) from generation") == 2


def test_texts_can_be_added_later(kit: Any, whole: Any) -> None:
    rows = [kit.row("a", 1.0, response="x")]
    kit.load(kit.header("1"), rows, text="none")
    kit.load(kit.header("2", model="org/b"), rows)
    assert kit.all("select text from content") == [("x",)]


# --- duplicates ------------------------------------------------------------------------------


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
    with pytest.raises(ConflictError, match=r"prompt a, draw 0, rows 1 and 2.*--on-duplicate"):
        kit.load(kit.header(), rows)
    assert kit.counts("run", "score", "run_source") == (0, 0, 0)
    kit.load(kit.header(), rows, on_duplicate=policy)
    assert kit.all("select value, draw from score order by draw") == expected
    assert kit.all(
        "select text from content join generation on sha256 = response_hash order by draw"
    ) == [("x",)] * (policy != "last") + [("y",)] * (policy != "first")


def test_equal_rows_are_draws_where_the_user_says_so(kit: Any, whole: Any) -> None:
    rows = [kit.row("a", 1.0), kit.row("a", 1.0), kit.row("b", 0.0)]
    report = kit.load(kit.header(), rows, on_duplicate="draws")
    assert report.notes == ()
    assert kit.all("select key, draw from score join prompt on id = prompt_id order by 1, 2") == [
        ("a", 0), ("a", 1), ("b", 0)
    ]  # fmt: skip


# --- faults ----------------------------------------------------------------------------------


def test_bad_rows_refuse_the_source_unless_allowed(kit: Any) -> None:
    bad = [Rejection("line 3", "{nonsense", "a JSON object"), Rejection("line 9", "]", "JSON")]
    with pytest.raises(InputError, match=r"d\.json.*2 rows.*line 3.*nonsense.*--max-rejected 2"):
        kit.load(kit.header(), kit.rows({"a": 1.0}), dump={"rejections": bad}, path="d.json",
                 max_rejected=1)  # fmt: skip
    assert kit.counts("run", "score", "rejection") == (0, 0, 0)
    report = kit.load(kit.header(), kit.rows({"a": 1.0}), dump={"rejections": bad}, max_rejected=2)
    assert (report.n_runs, report.n_rejected) == (1, 2)
    assert kit.all("select place, found, expected from rejection order by 1") == [
        ("line 3", "{nonsense", "a JSON object"), ("line 9", "]", "JSON")
    ]  # fmt: skip


LINES = """
select 0 as run, id as prompt_id, [{metric: 'acc', value: v}] as scores
from read_json($file, columns = {id: 'varchar', v: 'double'}, format = 'newline_delimited')
"""


def test_a_reading_is_done_in_bulk_and_row_by_row_where_it_fails(kit: Any, tmp_path: Path) -> None:
    path = tmp_path / "it's.jsonl"
    path.write_text('{"id": "a", "v": 1}\n{"id": "b", "v": 0.5}\n')
    reading = Reading(LINES, {"file": str(path)}, fallback=lambda: pytest.fail("not needed"))
    assert kit.load(kit.header("1"), dump={"batches": [reading]}).n_scores == 2
    path.write_text('{"id": "a", "v": 1}\n{"id": "b", "v": \n')
    bad: list[Rejection] = []

    def fallback() -> Iterator[Any]:
        yield batch_of(kit.rows({"a": 1.0}))
        bad.append(Rejection("line 2", '{"id": "b", "v":', "a JSON object"))

    slow = {"batches": [Reading(LINES, {"file": str(path)}, fallback)], "rejections": bad}
    report = kit.load(kit.header("2"), dump=slow, max_rejected=1)
    assert (report.n_runs, report.n_scores, report.n_rejected) == (1, 1, 1)


def test_an_identity_that_is_no_json_is_refused(kit: Any) -> None:
    with pytest.raises(InputError, match="not valid JSON"):
        kit.load(kit.header(), [kit.row("a", 1.0, identity="{")])
    assert kit.counts("run", "score", "prompt") == (0, 0, 0)


def test_fewer_prompts_than_declared_is_truncated(kit: Any) -> None:
    kit.load(kit.header("1", n_requested=3, n_benchmark=9), kit.rows({"a": 1.0, "b": 0.0}))
    kit.load(kit.header("2", n_requested=2, n_benchmark=9, fewshot=1),
             kit.rows({"a": 1.0, "b": 0.0}))  # fmt: skip
    kit.load(kit.header("3", n_requested=2, status="failed", fewshot=2), kit.rows({"a": 1.0}))
    assert kit.all("select status, status_reason, n_found, n_benchmark from run order by id") == [
        ("truncated", "2 prompts found, 3 declared", 2, 9),
        ("complete", None, 2, 9),
        ("failed", None, 1, None),
    ]


def test_a_rehearsal_tells_and_stores_nothing(kit: Any) -> None:
    rows = kit.rows({"a": 1.0, "b": 0.0}, response="x")
    told = kit.load(kit.header(), rows, dry_run=True)
    assert (told.n_runs, told.n_scores) == (1, 2)
    names = ("run", "score", "prompt", "model", "content", "benchmark", "prompt_variant")
    assert kit.counts(*names) == (0,) * len(names)
    assert kit.load(kit.header(), rows).n_runs == 1
    kit.do("delete from source where state = 'loading'")


def test_a_dump_without_samples_is_a_run_without_facts(kit: Any, whole: Any) -> None:
    report = kit.load(kit.header(published=(kit.figure("acc", 0.5),), n_requested=10))
    assert (report.n_runs, report.n_samples) == (1, 0)
    assert kit.one("select status, n_found from run") == ("complete", 0)


def test_a_path_that_is_no_unicode_is_shown_readably(kit: Any) -> None:
    kit.load(kit.header(), kit.rows({"a": 1.0}), path="caf\udce9.json")
    assert kit.one("select path from source") == "caf\\udce9.json"
    assert ledger.forget(kit.store, "caf\udce9.json") == (1, 0)


def test_nul_characters(kit: Any) -> None:
    """One engine has no such character in its texts; nothing else of them may be lost."""
    report = kit.load(kit.header(), [kit.row("a", 1.0, response="x\0y", target="p\0q\0")])
    stored = kit.one("select content.text, target from content, prompt")
    if kit.store.dialect.embedded:
        assert (stored, report.notes) == (("x\0y", "p\0q\0"), ())
    else:
        assert stored == ("x\ufffdy", "p\ufffdq\ufffd")
        assert [note.split(" became")[0] for note in report.notes] == [
            "2 characters U+0000 of target", "1 characters U+0000 of text"
        ]  # fmt: skip
