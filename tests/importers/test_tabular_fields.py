"""Expressions: where values come from and how they change on the way; scores and
choices."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.tabular import Taken, read_toml, scores

RUN = """
[run]
model = { const = "m" }
benchmark = { const = "b" }
"""
SCORE = """
[[scores]]
metric = "acc"
value = "score"
"""


def take(folder: Path, table: str, mapping: str, **values: Any) -> Taken:
    """Read one CSV file."""
    (folder / "r.csv").write_text(table)
    return read_toml(folder, mapping, **values)


def values_of(folder: Path, cells: str, expression: str) -> list[Any]:
    """What an expression over the column `x` makes of some cells."""
    table = "x\n" + "\n".join(cells.split()) + "\n"
    mapping = f'{RUN}\n[[scores]]\nmetric = "acc"\nvalue = {expression}\n'
    return scores(take(folder, table, mapping).rows)


def test_value_map_keeps_the_letter(tmp_path: Path) -> None:
    mapping = (
        RUN
        + '[[scores]]\nmetric = "acc"\nvalue = { path = "x", values = { C = 1, I = 0 } }'
    )
    taken = take(tmp_path, "x\nC\nI\n", mapping)
    found = [row["scores"][0] for row in taken.rows]
    assert [(s["value"], s["raw"], s["origin"]) for s in found] == [
        (1, "C", "mapped"),
        (0, "I", "mapped"),
    ]


def test_value_outside_the_map_is_rejected(tmp_path: Path) -> None:
    mapping = (
        RUN + '[[scores]]\nmetric = "acc"\nvalue = { path = "x", values = { C = 1 } }'
    )
    taken = take(tmp_path, "x\nC\nP\n", mapping)
    assert scores(taken.rows) == [1]
    (rejection,) = taken.rejections
    assert rejection.place == "r.csv row 3"
    assert "'P'" in rejection.found and "'C'" in rejection.expected


@pytest.mark.parametrize(
    ("cells", "expression", "expected"),
    [
        ("50 12.5", '{ path = "x", scale = 0.01 }', [0.5, 0.125]),
        ("1 2", '{ path = "x", add = -1 }', [0, 1]),
        ("1 2", '{ path = "x", scale = 10, add = 5 }', [15, 25]),
        ("1 - 2", '{ path = "x", null = ["-"] }', [1, None, 2]),
        ("1 - 2", '{ path = "x", null = "-", default = 9 }', [1, 9, 2]),
        ("n=3 n=4", '{ path = "x", pattern = "n=(.)" }', [3, 4]),
        ("n=3 none", '{ path = "x", pattern = "n=(.)", default = 0 }', [3, 0]),
        ("yes no", '{ path = "x", values = { yes = 1 }, otherwise = 0 }', [1, 0]),
        ("True false", '"x"', [1, 0]),
        ("[1] [2]", '{ path = "x", json = true, pattern = "[0-9]" }', [1, 2]),
        ("['1'] ['2']", '{ path = "x", json = true, pattern = "[0-9]" }', [1, 2]),
    ],
)
def test_changes_of_a_value(
    tmp_path: Path, cells: str, expression: str, expected: list[float | None]
) -> None:
    assert values_of(tmp_path, cells, expression) == expected


def test_equality_of_two_columns(tmp_path: Path) -> None:
    mapping = (
        RUN + '[[scores]]\nmetric = "acc"\nvalue = { equals = ["pred", "gold"] }\n'
        'if_null = { value = 0, status = "no_answer" }'
    )
    taken = take(tmp_path, "pred,gold\nA,A\nB,A\n,A\na,A\n", mapping)
    assert scores(taken.rows) == [1, 0, 0, 0]
    assert [row["scores"][0]["status"] for row in taken.rows] == [
        None,
        None,
        "no_answer",
        None,
    ]


def test_normalised_equality_must_be_one_of_the_options(tmp_path: Path) -> None:
    table = 'said,x,y,gold\n"the MAN.",The man,A man,0\na  man,The man,A man,0\n'
    table += "nobody,The man,A man,0\nthe man,The man,the man,0\n"
    mapping = (
        RUN + '[sample]\ntarget = { pick = "gold", from = ["x", "y"] }\n'
        "[[scores]]\n"
        'metric = "acc"\n'
        'value = { equals = ["said", { pick = "gold", from = ["x", "y"] }], normalise '
        '= true, among = ["x", "y"] }\n'
    )
    taken = take(tmp_path, table, mapping)
    assert scores(taken.rows) == [1, 0, None, None]
    assert [row["target"] for row in taken.rows] == ["The man"] * 4


def test_path_pattern_fills_fields_and_templates(tmp_path: Path) -> None:
    folder = tmp_path / "org__model" / "step_400"
    folder.mkdir(parents=True)
    (folder / "gsm8k.csv").write_text("id,score\nq,1\n")
    taken = read_toml(
        tmp_path,
        """
        [path]
        pattern = '(?P<org>[^/]+)__(?P<name>[^/]+)/step_(?P<step>\\d+)/(?P<benchmark>\\w+)\\.csv'
        [run]
        model = { template = "{org}/{name}" }
        recipe = { group = "name", values = { model = "plain" } }
        [sample]
        prompt_id = { template = "{org}-{id}" }
        [[scores]]
        metric = "acc"
        value = "score"
        """,
    )
    (run,) = taken.runs
    assert (run.model, run.step, run.benchmark, run.recipe) == (
        "org/model",
        400,
        "gsm8k",
        "plain",
    )
    assert taken.rows[0]["prompt_id"] == "org-q"


def test_header_fields_have_their_types(tmp_path: Path) -> None:
    taken = take(
        tmp_path,
        "id,score,when,steps,final,temp\nq,1,2025-03-01T10:00:00+02:00,4e2,true,0.60\n",
        RUN
        + """
started_at = "when"
step = "steps"
is_final = "final"
temperature = "temp"
suite = ["outer", "inner"]
system_prompt_hash = { const = "Be brief.", sha256 = true }

[run.sampling]
top_k = 5
mode = { const = "greedy" }

[sample]
prompt_id = "id"
"""
        + SCORE,
    )
    (run,) = taken.runs
    assert run.started_at == datetime(2025, 3, 1, 8, 0)
    assert (run.step, run.is_final, run.temperature) == (400, True, 0.6)
    assert run.suite == ("outer", "inner")
    assert run.sampling == {"top_k": 5, "mode": "greedy"}
    assert run.system_prompt_hash == hashlib.sha256(b"Be brief.").hexdigest()


def test_set_values_hold_against_the_mapping(tmp_path: Path) -> None:
    table = "m,score\na,1\nb,0\n"
    mapping = (
        '[run]\nmodel = "m"\nbenchmark = { const = "b" }\n[sample]\nprompt_id = "m"\n'
        + SCORE
    )
    taken = take(tmp_path, table, mapping, model="org/one", step=7)
    assert [(run.model, run.step) for run in taken.runs] == [("org/one", 7)]
    assert scores(taken.rows) == [1, 0]


def test_each_reads_a_row_once_per_system(tmp_path: Path) -> None:
    taken = take(
        tmp_path,
        "question,a_ok,b_ok\n1+1,1,0\n2+2,1,1\n",
        """
        key = ["text"]
        [each]
        column = ["a", "b"]
        name = ["org/a", "org/b"]
        [run]
        model = { const = "{name}" }
        benchmark = { const = "sums" }
        [sample]
        text = "question"
        [[scores]]
        metric = "acc"
        value = "{column}_ok"
        """,
    )
    assert taken.values("model") == {("org/a",): [1, 1], ("org/b",): [0, 1]}
    assert [row["position"] for row in taken.rows] == [0, 1, 0, 1]


def test_several_metrics_and_absent_scores(tmp_path: Path) -> None:
    taken = take(
        tmp_path,
        "first,second,k\n0.5,,10\n0.25,1,4\n",
        RUN
        + """
[[scores]]
metric = "first"
filter = "strict"
value = "first"
n_draws = "k"
weight = "k"
[[scores]]
metric = "second"
value = "second"
if_null = "omit"
[metrics.first]
kind = "bounded"
low = 0
high = 1
unit = "share"
""",
    )
    found = [
        [
            (s["metric"], s["filter"], s["value"], s["n_draws"], s["weight"])
            for s in row["scores"]
        ]
        for row in taken.rows
    ]
    assert found == [
        [("first", "strict", 0.5, 10, 10)],
        [("first", "strict", 0.25, 4, 4), ("second", "", 1, None, None)],
    ]
    specs = {(spec.name, spec.filter): spec for spec in taken.runs[0].metrics}
    assert (
        specs["first", "strict"].kind == "bounded"
        and specs["first", "strict"].unit == "share"
    )
    assert specs["second", ""].kind is None


def test_metric_named_by_a_column(tmp_path: Path) -> None:
    mapping = (
        RUN
        + '[sample]\nprompt_id = "id"\n[[scores]]\nmetric = { path = "metric" }\nvalue = "v"'
    )
    taken = take(tmp_path, "id,metric,v\nq,f1,0.5\nq,em,0\n", mapping)
    assert taken.values(metric="f1") == {(): [0.5]}
    assert [spec.name for spec in taken.runs[0].metrics] == ["f1", "em"]


def test_scores_that_are_no_numbers_are_kept_as_text(tmp_path: Path) -> None:
    taken = take(tmp_path, "score\n1\nNaN\ninf\nbad\n\n,\n"[:-2], RUN + SCORE)
    found = [
        (s["value"], s["raw"], s["status"]) for r in taken.rows for s in r["scores"]
    ]
    assert found == [
        (1, None, None),
        (None, "NaN", None),
        (None, "inf", None),
        (None, "bad", "not_scalar"),
    ]
    (tmp_path / "r.csv").unlink()
    (tmp_path / "r.jsonl").write_text(
        '{"score": [1, 2]}\n{"score": NaN}\n{"score": true}\n'
    )
    found = [s for r in read_toml(tmp_path, RUN + SCORE).rows for s in r["scores"]]
    assert [(s["value"], s["raw"], s["status"]) for s in found] == [
        (None, "[1,2]", "not_scalar"),
        (None, None, None),
        (1, None, None),
    ]


def test_status_of_a_score(tmp_path: Path) -> None:
    value = '{ path = "answer", default = "no_answer", otherwise = "scored" }'
    taken = take(
        tmp_path, "score,answer\n1,A\n0,\n", RUN + SCORE + f"status = {value}\n"
    )
    assert [s["status"] for r in taken.rows for s in r["scores"]] == [
        "scored",
        "no_answer",
    ]
    wrong = take(tmp_path, "score,answer\n1,A\n", RUN + SCORE + 'status = "answer"\n')
    assert "one of scored, no_answer" in wrong.rejections[0].expected


def test_loglikelihoods_of_options(tmp_path: Path) -> None:
    taken = take(
        tmp_path,
        "a,b,c,gold\n-1,-2.5,-3,1\n-4,,-6,0\n",
        RUN
        + '[choice_scores]\nloglikelihood = ["a", "b", "c"]\nn_tokens = [1, 2, 3]\n'
        + 'target = "gold"\n',
    )
    rows = [row["choice_scores"] for row in taken.rows]
    assert [[c["loglikelihood"] for c in row] for row in rows] == [
        [-1, -2.5, -3],
        [-4, None, -6],
    ]
    assert [[c["is_target"] for c in row] for row in rows] == [
        [False, True, False],
        [True, False, False],
    ]
    assert [c["n_tokens"] for c in rows[0]] == [1, 2, 3]
    assert [c["choice_index"] for c in rows[1]] == [0, 1, 2]
    assert [row["position"] for row in taken.rows] == [0, 1]


def test_options_of_unequal_length_are_rejected(tmp_path: Path) -> None:
    lines = [
        {"ll": [-1, -2], "n": [3, 4]},
        {"ll": [-1, -2, -3], "n": [3]},
        {"ll": None, "n": None},
    ]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, lines)))
    taken = read_toml(
        tmp_path, RUN + '[choice_scores]\nloglikelihood = "ll"\nn_tokens = "n"\n'
    )
    assert [len(row["choice_scores"]) for row in taken.rows] == [2, 0]
    assert taken.rejections[0].place == "r.jsonl line 2"


def test_metadata_choices_and_key(tmp_path: Path) -> None:
    taken = take(
        tmp_path,
        "q,a,b,topic,score\nx?,yes,no,t,1\n",
        'key = ["text", "choices", "topic"]\n'
        + RUN
        + '[sample]\ntext = "q"\nchoices = ["a", "b"]\n'
        '[metadata]\ntopic = "topic"\ngroup = { template = "{topic}/{q}" }\n' + SCORE,
    )
    (row,) = taken.rows
    assert json.loads(row["choices"]) == ["yes", "no"]
    assert json.loads(row["metadata"]) == {"topic": "t", "group": "t/x?"}
    assert json.loads(row["identity"]) == {
        "text": "x?",
        "choices": ["yes", "no"],
        "topic": "t",
    }


def test_text_is_the_same_whatever_wrote_it(tmp_path: Path) -> None:
    """Whole numbers stay whole among others, in every chunk."""
    lines = [
        {"id": 1, "score": 1},
        {"id": 2.5, "score": 1},
        {"id": "x", "score": 1},
        {"id": True, "score": 1},
        {"id": {"a": 1}, "score": 1},
    ]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, lines)))
    taken = read_toml(tmp_path, RUN + '[sample]\nprompt_id = "id"\n' + SCORE)
    assert [row["prompt_id"] for row in taken.rows] == [
        "1",
        "2.5",
        "x",
        "true",
        '{"a":1}',
    ]


def test_null_words(tmp_path: Path) -> None:
    mapping = 'null = ["N/A", "none"]\n' + RUN + '[sample]\ntarget = "t"\n' + SCORE
    taken = take(tmp_path, "t,score\nN/A,1\nnone,N/A\nx,0\n", mapping)
    assert [row["target"] for row in taken.rows] == [None, None, "x"]
    assert scores(taken.rows) == [1, None, 0]


def test_optional_paths(tmp_path: Path) -> None:
    mapping = (
        RUN + 'run_id = { path = "uid", optional = true }\n[sample]\nprompt_id = "id"\n'
    )
    assert take(tmp_path, "id,score\nq,1\n", mapping + SCORE).runs[0].run_id is None
    assert (
        take(tmp_path, "id,score,uid\nq,1,u1\n", mapping + SCORE).runs[0].run_id == "u1"
    )
