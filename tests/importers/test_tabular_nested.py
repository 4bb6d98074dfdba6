"""Records that lie deep, lists of generations, parallel lists, maps keyed by id, joined
files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.cli import Caller
from tests.support.tabular import read_toml, scores
from warehouse.errors import InputError

RUN = """
[run]
model = { const = "m" }
benchmark = { const = "b" }
"""


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


NESTED = {
    "model": "org/a",
    "sets": [
        {
            "name": "sums",
            "items": [
                {
                    "q": "1+1",
                    "tries": [{"a": "2", "ok": True}, {"a": "3", "ok": False}],
                },
                {"q": "2+2", "tries": [{"a": "4", "ok": True}]},
            ],
        },
        {"name": "words", "items": [{"q": "x", "tries": []}]},
    ],
}


def test_generations_of_records_in_lists_of_lists(tmp_path: Path) -> None:
    write(tmp_path / "r.json", NESTED)
    taken = read_toml(
        tmp_path,
        """
        key = ["text"]
        [rows]
        at = "sets[].items[]"
        draws = "tries[]"
        [run]
        model = "$.model"
        benchmark = "^.name"
        [sample]
        text = "q"
        response = "tries[].a"
        [[scores]]
        metric = "acc"
        value = "tries[].ok"
        """,
    )
    assert [(run.model, run.benchmark) for run in taken.runs] == [("org/a", "sums")]
    shown = [
        (row["position"], row["draw"], row["text"], row["response"])
        for row in taken.rows
    ]
    assert shown == [(0, 0, "1+1", "2"), (0, 1, "1+1", "3"), (1, 0, "2+2", "4")]
    assert scores(taken.rows) == [1, 0, 1]
    assert json.loads(taken.rows[0]["identity"]) == {"text": "1+1"}
    assert taken.notes == ["r.json: 1 records without anything at 'tries[]'"]


def test_maps_by_id_and_parallel_lists(tmp_path: Path) -> None:
    stored = {
        "verdicts": {"s1": [True, False], "s0": [False, False]},
        "texts": {"s0": ["a", "b"], "s1": ["c", "d"]},
    }
    write(tmp_path / "r.json", stored)
    taken = read_toml(
        tmp_path,
        RUN
        + """
        [rows]
        at = "verdicts{}"
        draws = "[]"
        [sample]
        prompt_id = "@key"
        response = "$.texts[@key][@draw]"
        [[scores]]
        metric = "acc"
        value = "[]"
        """.replace("\n        ", "\n"),
    )
    found = {
        (r["prompt_id"], r["draw"]): (r["response"], *scores([r])) for r in taken.rows
    }
    assert found == {
        ("s1", 0): ("c", 1),
        ("s1", 1): ("d", 0),
        ("s0", 0): ("a", 0),
        ("s0", 1): ("b", 0),
    }


def test_parallel_lists_inside_a_line(tmp_path: Path) -> None:
    lines = [
        {"id": "x", "texts": ["u", "v"], "marks": [1, 0]},
        {"id": "y", "texts": ["w"], "marks": [0.5]},
    ]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, lines)))
    taken = read_toml(
        tmp_path,
        RUN
        + """
[rows]
draws = "texts[]"
[sample]
prompt_id = "id"
response = "texts[]"
[[scores]]
metric = "acc"
value = "marks[@draw]"
""",
    )
    assert [(r["prompt_id"], r["draw"], r["response"]) for r in taken.rows] == [
        ("x", 0, "u"),
        ("x", 1, "v"),
        ("y", 0, "w"),
    ]
    assert scores(taken.rows) == [1, 0, 0.5]


def test_object_of_objects_reaches_the_level_above(tmp_path: Path) -> None:
    write(
        tmp_path / "r.json",
        {
            "1": {"marks": {"q1": 1.5, "q2": -3}, "said": {"q1": "yes"}},
            "2": {"marks": {"q1": 2}, "said": {}},
        },
    )
    taken = read_toml(
        tmp_path,
        RUN
        + """
[rows]
at = "{}.marks{}"
[sample]
prompt_id = "@key"
draw = { path = "^@key", add = -1 }
response = "^.said[@key]"
[[scores]]
metric = "points"
value = "@"
""",
    )
    assert [
        (r["prompt_id"], r["draw"], r["response"], *scores([r])) for r in taken.rows
    ] == [
        ("q1", 0, "yes", 1.5),
        ("q2", 0, None, -3),
        ("q1", 1, None, 2),
    ]


def test_keys_with_dots_and_blanks(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(
        '{"i.d": "a", "my score": 1, "in": {"x.y": "t"}}\n'
    )
    taken = read_toml(
        tmp_path,
        RUN
        + '[sample]\nprompt_id = \'"i.d"\'\ntext = \'in."x.y"\'\n[[scores]]\nmetric = "s"\nvalue = "my score"\n',
    )
    assert (taken.rows[0]["prompt_id"], taken.rows[0]["text"]) == ("a", "t")


JOIN = (
    RUN
    + """
[join.problem]
file = "problems/list.jsonl"
key = "id"
on = "pid"
[sample]
prompt_id = "pid"
text = "&problem.question"
[[scores]]
metric = "acc"
value = "ok"
"""
)


def test_joined_records_by_key(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "r.csv").write_text("pid,ok\n7,1\n8,0\n9,1\n")
    (tmp_path / "problems").mkdir()
    (tmp_path / "problems" / "list.jsonl").write_text(
        '{"id": 8, "question": "eight?"}\n{"id": 7, "question": "seven?"}\n'
    )
    taken = read_toml(tmp_path, 'files = ["runs/*"]\n' + JOIN)
    assert [row["text"] for row in taken.rows] == ["seven?", "eight?", None]


def test_joined_file_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("pid,ok\n7,1\n")
    with pytest.raises(
        InputError, match=r"r\.csv: \[join\.problem\] file 'problems/list\.jsonl'"
    ):
        read_toml(tmp_path, JOIN)
    optional = JOIN.replace('on = "pid"', 'on = "pid"\noptional = true')
    optional = optional.replace(
        '"&problem.question"', '{ path = "&problem.question", optional = true }'
    )
    assert read_toml(tmp_path, optional).rows[0]["text"] is None


def test_joined_document_by_a_group_of_the_path(tmp_path: Path) -> None:
    for name, tokens in (("small", 10), ("large", 20)):
        (tmp_path / f"eval_{name}.csv").write_text("id,ok\nq,1\n")
        write(tmp_path / "models" / f"{name}.json", {"trained": {"tokens": tokens}})
    taken = read_toml(
        tmp_path,
        """
        files = ["eval_*.csv"]
        [path]
        pattern = 'eval_(?P<model>\\w+)\\.csv'
        [join.card]
        file = "models/{model}.json"
        [run]
        benchmark = { const = "b" }
        tokens = "&card.trained.tokens"
        [sample]
        prompt_id = "id"
        [[scores]]
        metric = "acc"
        value = "ok"
        """,
    )
    assert {run.model: run.tokens for run in taken.runs} == {"small": 10, "large": 20}


def test_parquet_with_nested_columns(tmp_path: Path) -> None:
    rows = [
        {"doc": {"id": "a", "q": "?"}, "tries": [{"ok": 1.0}, {"ok": 0.0}]},
        {"doc": {"id": "b", "q": "!"}, "tries": [{"ok": 0.5}]},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "r.parquet")
    with_draws = read_toml(
        tmp_path,
        RUN + '[rows]\ndraws = "tries[]"\n[sample]\nprompt_id = "doc.id"\n'
        '[[scores]]\nmetric = "acc"\nvalue = "tries[].ok"\n',
    )
    assert [(r["prompt_id"], r["draw"], *scores([r])) for r in with_draws.rows] == [
        ("a", 0, 1),
        ("a", 1, 0),
        ("b", 0, 0.5),
    ]
    flat = read_toml(
        tmp_path,
        RUN
        + '[sample]\nprompt_id = "doc.id"\n[[scores]]\nmetric = "acc"\nvalue = "tries[0].ok"\n',
    )
    assert scores(flat.rows) == [1, 0.5]


def test_draws_of_several_models_in_one_file_are_of_one_prompt_each(
    tmp_path: Path, run: Caller
) -> None:
    """Prompts told by their text became one prompt for each draw."""
    records = [
        {
            "model": model,
            "problem": f"p{prompt}",
            "tries": [{"ok": prompt % 2 == 0}, {"ok": True}],
        }
        for model in ("a", "b")
        for prompt in range(4)
    ]
    (tmp_path / "r.json").write_text(json.dumps(records))
    (tmp_path / "m.toml").write_text(
        'key = ["text"]\nrows = { draws = "tries[]" }\n'
        'run = { model = "model", benchmark = { const = "b" } }\n'
        'sample = { text = "problem" }\n'
        'scores = [{ metric = "ok", value = "tries[].ok" }]\n'
    )
    db = f"duckdb:///{tmp_path / 's.db'}"
    done = run(
        "ingest", str(tmp_path / "r.json"), "--map", str(tmp_path / "m.toml"), db=db
    )
    assert done.code == 0
    rows = run("leaderboard", "b", "--json", db=db).rows
    assert [row["n_prompts"] for row in rows] == [4, 4]
    assert [row["estimate"] for row in rows] == [0.75, 0.75]
