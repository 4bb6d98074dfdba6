"""Which prompt is which, and which texts are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from warehouse.importers.base import batch_of
from warehouse.records import BulkQuery, Dump, content_key
from warehouse.store.load import facts, prompt_completion, source_ledger, staging
from warehouse.store.load.scratch import lone_parser
from warehouse.store.load.state import LoadOptions


def identity(**document: Any) -> str:
    return json.dumps(document)


def test_the_position_is_that_in_its_source_where_several_are_loaded_together(
    kit: Any,
) -> None:
    nameless = [
        {"run": 0, "scores": [{"metric": "acc", "value": 1.0}]} for _ in range(2)
    ]
    dumps = [
        Dump((kit.header(str(run), model=f"org/{run}"),), [batch_of(nameless)])
        for run in range(3)
    ]
    parsed = kit.loader.parse_all(dumps, LoadOptions())
    reports = kit.loader.load_all(parsed, [kit.claim() for _ in dumps], LoadOptions())
    assert [report.n_samples for report in reports] == [2, 2, 2]
    assert kit.all("select key, key_kind from prompt order by key") == [
        ("0", "position"),
        ("1", "position"),
    ]


def test_so_it_is_where_queries_over_files_give_the_rows(kit: Any) -> None:
    sql = (
        "select cast(0 as integer) as run, [{'metric': 'acc', 'value': 1.0}] as scores "
        "from range(2)"
    )
    dumps = [
        Dump(
            (kit.header(str(run), model=f"org/{run}"),),
            [BulkQuery(sql, {}, lambda: iter(()))],
        )
        for run in range(3)
    ]
    parsed = kit.loader.parse_all(dumps, LoadOptions())
    reports = kit.loader.load_all(parsed, [kit.claim() for _ in dumps], LoadOptions())
    assert [report.n_samples for report in reports] == [2, 2, 2]
    assert kit.all("select key, key_kind from prompt order by key") == [
        ("0", "position"),
        ("1", "position"),
    ]


def test_queries_over_files_give_rows_in_the_order_of_the_file(
    kit: Any, tmp_path: Path
) -> None:
    # the order tells prompts apart that have no id, and which of two rows is the last;
    # threads read groups of rows
    n_rows = 200_000
    numbers = pa.array(range(n_rows))
    ids, identities = (
        numbers.cast(pa.string()),
        pc.binary_join_element_wise("q", numbers.cast(pa.string()), ""),
    )
    table = pa.table(
        {
            "run": pa.array([0] * n_rows, pa.int32()),
            "prompt_id": ids,
            "identity": identities,
        }
    )
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=2048)
    sql = (
        "select *, [{'metric': 'acc', 'value': 1.0}] as scores from read_parquet($file)"
    )
    reading = BulkQuery(sql, {"file": str(tmp_path / "rows.parquet")}, lambda: iter(()))
    with lone_parser() as parser:
        parser.run("set threads = 4")
        staging.fill(parser, [Dump((kit.header(),), [reading])])
        moved = parser.value(
            "select count(*) from stage_sample where cast(prompt_id as bigint) <> rowid"
        )
    assert moved == 0


def test_the_key_is_the_content_else_the_id_else_the_position(kit: Any) -> None:
    kit.load(
        kit.header(),
        [
            kit.row(
                "a",
                1.0,
                identity='{"q": 1,  "t": "x"}',
                position=4,
                text="Q 1",
                target="x",
                choices='["x", "y"]',
                metadata='{"topic": {"name": "t"}}',
            ),
            kit.row("b", 1.0, position=5),
        ],
    )
    nameless = {"run": 0, "position": 6, "scores": [{"metric": "acc", "value": 0.0}]}
    kit.load(kit.header("2", model="org/b"), [nameless], path="nameless.json")
    assert kit.all(
        "select key, key_kind, tool_id, text, target from prompt order by id"
    ) == [
        (content_key('{"t":"x","q":1}'), "content", "a", "Q 1", "x"),
        ("b", "id", "b", None, None),
        ("6", "position", None, None, None),
    ]


def test_prompts_are_shared_by_runs_and_sources(kit: Any) -> None:
    ask = {"identity": identity(q=1), "text": "What is\n 1 + 1?"}
    kit.load(kit.header("1"), [kit.row("a", 1.0, **ask)])
    kit.load(kit.header("2", model="org/b"), [kit.row("other id", 0.0, **ask)])
    kit.load(kit.header("3", split="test"), [kit.row("a", 0.0, **ask)])
    assert kit.all("select split, tool_id from prompt order by id") == [
        ("", "a"),
        ("test", "a"),
    ]
    assert kit.one("select count(distinct text_hash) from prompt") == 1


@pytest.mark.parametrize("remembered", [500_000, 2])
def test_questions_keep_their_keys_when_a_loader_forgets_them(
    kit: Any, monkeypatch: pytest.MonkeyPatch, remembered: int
) -> None:
    monkeypatch.setattr(staging, "KNOWN_KEYS", remembered)
    for run in range(4):
        asked = [identity(q=n) for n in (*range(3), 10 + run)]
        rows = [kit.row(text, 1.0, identity=text) for text in asked]
        kit.load(kit.header(str(run), model=f"org/{run}"), rows)
    held = dict(kit.all("select tool_id, key from prompt"))
    assert held == {
        identity(q=n): content_key(identity(q=n)) for n in (0, 1, 2, 10, 11, 12, 13)
    }
    assert kit.one("select count(*), count(distinct prompt_id) from score") == (16, 7)


def test_more_prompts_than_are_written_at_a_time(
    kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is written once, with its own question, in the order of the source; those
    that are stored already lie between the new ones."""
    monkeypatch.setattr(facts, "ROWS_OF_A_GROUP", 2)
    monkeypatch.setattr(staging, "KEY_BLOCK", 3)

    def rows(*numbers: int) -> list[Any]:
        return [
            kit.row(
                f"{n}", 1.0, identity=identity(q=n), text=f"What is {n}?", target=f"{n}"
            )
            for n in numbers
        ]

    kit.load(kit.header("1"), rows(4, 1, 7))
    kit.load(kit.header("2", model="org/b"), rows(*range(9)))
    stored = kit.all("select tool_id, key, text, target from prompt order by id")
    order = (4, 1, 7, 0, 2, 3, 5, 6, 8)
    assert stored == [
        (f"{n}", content_key(identity(q=n)), f"What is {n}?", f"{n}") for n in order
    ]
    assert kit.one("select count(*), count(distinct prompt_id) from score") == (12, 9)


def test_repeated_questions_are_numbered(kit: Any, whole: Any) -> None:
    def asked(*order: str) -> list[Any]:
        return [
            kit.row(item, 1.0, identity=identity(q="same"), position="xyz".index(item))
            for item in order
        ]

    kit.load(kit.header("1"), asked("x", "y", "z"))
    kit.load(kit.header("2", model="org/b"), asked("z", "y", "x"))
    kit.load(kit.header("3", model="org/c"), asked("x", "y"))
    assert kit.all("select occurrence, tool_id from prompt order by 1") == [
        (0, "x"),
        (1, "y"),
        (2, "z"),
    ]
    assert kit.all(
        "select run_id, count(*) from prompt_score group by 1 order by 1"
    ) == [(1, 3), (2, 3), (3, 2)]


def test_rows_of_one_item_are_joined(kit: Any, whole: Any) -> None:
    """One row per filter, the generation on the first only."""
    rows = [
        kit.row(
            "a",
            identity=identity(q=1),
            response="so 4",
            scores=[{"metric": "acc", "filter": "strict", "value": 0.0}],
        ),
        kit.row(
            "a",
            identity=identity(q=1),
            scores=[{"metric": "acc", "filter": "flexible", "value": 1.0}],
        ),
    ]
    kit.load(kit.header(), rows)
    assert kit.counts("prompt", "generation", "score") == (1, 1, 2)
    assert kit.all(
        "select filter, value from score join metric on metric.id = metric_id order by "
        "1"
    ) == [
        ("flexible", 1.0),
        ("strict", 0.0),
    ]


@pytest.mark.parametrize("remembered", [500_000, 0])
@pytest.mark.rare
def test_what_a_prompt_lacks_is_filled_and_what_differs_is_told_every_time(
    kit: Any, monkeypatch: pytest.MonkeyPatch, remembered: int
) -> None:
    """By one loader, which remembers what it has held against the store."""
    monkeypatch.setattr(prompt_completion, "SETTLED", remembered)
    first = {"text": "One?", "target": "1"}
    steps: list[tuple[dict[str, Any], str]] = [
        (first, ""),
        (first, ""),
        (first | {"target": "2"}, "another target"),
        (first | {"target": "2"}, "another target"),
        (first | {"text": "Two?"}, "another question"),
        (first | {"text": " ONE?"}, ""),
        (first | {"metadata": '{"topic": "a", "level": null}'}, ""),
        (first | {"metadata": '{"topic": "b"}'}, "another field topic"),
        (first | {"metadata": '{"level": 3}'}, ""),
        (first | {"metadata": '{"level": 4}'}, "another field level"),
        ({"choices": '["1", "2"]'}, ""),
        (first | {"choices": '["1", "3"]'}, "another list of options"),
        (first, ""),
    ]
    for number, (said, expected) in enumerate(steps):
        rows = [kit.row("a", 1.0, **said), kit.row(f"b{number}", 0.0, **said)]
        notes = kit.load(kit.header(str(number), model=f"org/{number}"), rows).notes
        assert [expected in note for note in notes] == [True] * bool(expected), (
            number,
            notes,
        )
    stored = kit.one(
        "select text, target, cast(choices as varchar), cast(metadata as varchar) from "
        "prompt where key = 'a'"
    )
    assert (*stored[:2], *map(json.loads, stored[2:])) == (
        "One?",
        "1",
        ["1", "2"],
        {"topic": "a", "level": 3},
    )


def test_a_prompt_that_was_known_by_its_content_gets_the_id_of_a_later_source(
    kit: Any,
) -> None:
    said = {"identity": identity(q=1), "text": "One?"}
    nameless = {"run": 0, "scores": [{"metric": "acc", "value": 1.0}], **said}
    kit.load(kit.header("1"), [nameless])
    assert kit.all("select tool_id from prompt") == [(None,)]
    kit.load(kit.header("2"), [kit.row("a", 1.0, **said, target="1")])
    assert kit.all("select tool_id, target from prompt") == [("a", "1")]
    kit.load(kit.header("3"), [kit.row("b", 1.0, **said, choices='["1", "2"]')])
    assert kit.all("select tool_id, target from prompt") == [
        ("a", "1")
    ]  # the first id stays


def test_a_field_without_a_value_says_nothing_against_the_stored_one(kit: Any) -> None:
    kit.load(
        kit.header("1"), [kit.row("a", 1.0, metadata='{"topic": "x", "level": null}')]
    )
    for number, said in enumerate(
        ({"topic": None}, {"topic": None, "level": None, "new": None}), start=2
    ):
        report = kit.load(
            kit.header(str(number)), [kit.row("a", 0.0, metadata=json.dumps(said))]
        )
        assert report.notes == ()
        assert json.loads(kit.one("select cast(metadata as varchar) from prompt")) == {
            "topic": "x",
            "level": None,
        }


def test_items_of_one_prompt_are_each_held_against_it(kit: Any) -> None:
    """The first that says something counts for a source; the next source may lead with
    the other."""
    kit.load(kit.header("1"), [kit.row("a", 1.0, target="1")])
    for number, targets in enumerate((["1", "2"], ["2", "1"], ["2", "2"], ["1", "1"])):
        runs = [
            kit.header(f"{number}{place}", model=f"org/{number}{place}")
            for place in range(2)
        ]
        rows = [
            kit.row("a", 1.0, target=target) | {"run": place}
            for place, target in enumerate(targets)
        ]
        assert len(kit.load(runs, rows).notes) == (targets[0] != "1")


def test_what_was_only_rehearsed_is_not_taken_for_stored(kit: Any) -> None:
    kit.load(kit.header("0"), [kit.row("z", 1.0, text="Nought?")])
    kit.load(kit.header("1"), [kit.row("a", 1.0, text="One?")], dry_run=True)
    kit.load(kit.header("2"), [kit.row("a", 1.0)])
    kit.load(kit.header("3"), [kit.row("a", 0.0, text="One?")])
    assert kit.one("select text from prompt where key = 'a'") == "One?"


def test_an_id_that_asks_several_questions_is_told(kit: Any) -> None:
    """Its rows are draws of one prompt, and errors are then those of other prompts than
    were asked."""
    rows = [kit.row("a", 1.0, draw=draw, text=f"What is {draw}?") for draw in range(3)]
    rows += [kit.row("b", 1.0, draw=draw, text="What is it?") for draw in range(3)]
    rows += [kit.row("c", 1.0), kit.row("c", 0.0, draw=1, text="Which?")]
    (note,) = kit.load(kit.header("1"), rows).notes
    assert note.startswith("1 prompt id asks different questions") and note.endswith(
        "first: prompt a"
    )
    assert kit.all("select key, text from prompt where key = 'a'") == [
        ("a", "What is 0?")
    ]


@pytest.mark.parametrize(
    "other",
    [
        {
            "draw": 1,
            "text": "One?",
            "identity": identity(q=1),
        },  # told apart by its content
        {"perturbation": "typos", "text": "Oen?"},
        {"text": "One?", "scores": [{"metric": "f1", "value": 0.5}]},
    ],
)
def test_an_id_that_asks_one_question_is_no_matter(
    kit: Any, other: dict[str, Any]
) -> None:
    first = kit.row("a", 1.0, text="One?") | (
        {"identity": identity(q=0)} if "identity" in other else {}
    )
    assert kit.load(kit.header("1"), [first, kit.row("a", 0.0) | other]).notes == ()


ODD = [
    "a/b\\c",
    'it\'s "quoted"',
    "'; drop table run; --",
    "%s %(x)s :name $1 ?",
    "日本\u200b🙂",
    "  ",
    "a\tb\nc",
    "x" * 3000,
    "{}",
    "null",
]


def test_odd_texts_survive(kit: Any) -> None:
    headers = [
        kit.header(odd, model=odd, note=odd, tags=(odd,), configuration={odd: [odd]})
        for odd in ODD
    ]
    rows = [
        kit.row(
            odd,
            1.0,
            run=run,
            text=odd,
            target=odd,
            response=odd,
            prompt_sent=odd,
            perturbation=odd,
            identity=identity(q=odd),
        )
        for run, odd in enumerate(ODD)
    ]
    kit.load(headers, rows, path=ODD[2])
    odd = [(text,) for text in sorted(ODD)]
    for column in (
        "prompt.tool_id",
        "prompt.text",
        "model.name",
        "run.note",
        "content.text",
    ):
        table, name = column.split(".")
        assert sorted(kit.all(f"select {name} from {table}")) == odd
    assert sorted(kit.all("select perturbation from prompt_score")) == odd
    assert kit.load(headers, rows, path=ODD[2]).n_seen_again == len(ODD)


# --- texts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "stored"),
    [("all", {"Say x", "x", "y"}), ("responses", {"x", "y"}), ("none", set())],
)
def test_texts_are_stored_once_and_only_those_wanted(
    kit: Any, policy: str, stored: Any
) -> None:
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


def test_what_was_sent_is_brought_once_by_the_sources_of_one_session(kit: Any) -> None:
    """The second source is parsed before the first one is stored; only what is stored
    need not be brought again."""

    def dump(number: int) -> Dump:
        rows = [kit.row("a", 1.0, prompt_sent="Say x", response=f"x {number}")]
        return Dump((kit.header(str(number), model=f"org/{number}"),), [batch_of(rows)])

    def parsed(number: int, slot: int) -> Any:
        return kit.loader.parse(dump(number), LoadOptions(), slot)

    def elsewhere(number: int) -> Any:
        with lone_parser() as parser:
            n_rows, _ = staging.parse(parser, [dump(number)], "error", "all")
            rows = staging.parsed_rows(parser, [dump(number)], n_rows)
            return kit.loader.receive([dump(number)], n_rows, rows, 0)

    first, second = parsed(1, 0), parsed(2, 1)
    kit.loader.load(first, kit.claim(), LoadOptions(), dry_run=True)
    kit.loader.load(
        elsewhere(0), kit.claim(), LoadOptions()
    )  # of it no other hash is known than what is stored
    kit.loader.load(second, kit.claim(), LoadOptions())
    kit.loader.load(elsewhere(4), kit.claim(), LoadOptions())
    third, brought = parsed(3, 0), "select text from scratch.slot_0.stage_text"
    if kit.store.dialect.embedded:
        assert kit.loader.scratch.rows(brought) == [("x 3",)]
    kit.loader.load(third, kit.claim(), LoadOptions())
    sent = (
        "select c.text from generation as g join content as c on c.sha256 = "
        "g.prompt_hash order by g.run_id"
    )
    assert kit.all(sent) == [("Say x",)] * 4
    assert kit.one("select count(*) from content where text = 'Say x'") == 1


def test_rows_stay_in_their_order_where_what_was_sent_is_looked_up(kit: Any) -> None:
    """Their places are what they are known by, and the first of several draws is the
    first in the file."""
    batches = [
        pa.RecordBatch.from_pydict(
            {
                "run": pa.array([0] * 2000, pa.int32()),
                "position": pa.array(range(first, first + 2000), pa.int64()),
                "prompt_sent": [
                    f"Say {number}" for number in range(first, first + 2000)
                ],
            }
        )
        for first in range(0, 60_000, 2000)
    ]
    kit.loader.parser.run("set threads = 2")
    parsed = kit.loader.parse(Dump((kit.header(),), batches), LoadOptions())
    kit.loader.scratch.use(parsed.slot)
    assert (
        kit.loader.scratch.value(
            "select count(*) from stage_sample where rowid <> position"
        )
        == 0
    )


def test_no_more_of_what_was_sent_is_remembered_than_fits(
    kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "KNOWN_TEXTS", 3)
    for number in range(3):
        rows = [
            kit.row(f"{n}", 1.0, prompt_sent=f"Say {n}")
            for n in range(2 * number, 2 * number + 4)
        ]
        kit.load(kit.header(str(number), model=f"org/{number}"), rows)
    known = kit.loader.scratch.value("select count(*) from scratch.main.known_text")
    assert known == (3 if kit.store.dialect.embedded else 0)
    assert kit.one(
        "select count(*), count(text) from generation left join content on sha256 = "
        "prompt_hash"
    ) == (12, 12)


def test_a_path_that_is_no_unicode_is_shown_readably(kit: Any) -> None:
    kit.load(kit.header(), kit.rows({"a": 1.0}), path="caf\udce9.json")
    assert kit.one("select path from source") == "caf\\udce9.json"
    assert source_ledger.forget(kit.store, "caf\udce9.json") == (1, 0)


def test_nul_characters(kit: Any) -> None:
    """One engine has no such character in its texts; nothing else of them may be lost."""
    report = kit.load(
        kit.header(), [kit.row("a", 1.0, response="x\0y", target="p\0q\0")]
    )
    stored = kit.one("select content.text, target from content, prompt")
    if kit.store.dialect.embedded:
        assert (stored, report.notes) == (("x\0y", "p\0q\0"), ())
    else:
        assert stored == ("x\ufffdy", "p\ufffdq\ufffd")
        assert [note.split(" became")[0] for note in report.notes] == [
            "2 characters U+0000 of target",
            "1 characters U+0000 of text",
        ]
