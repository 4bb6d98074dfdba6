"""The mapping language where it was too narrow: lists, columns by position, two layouts
of paths, joins that may be missing, lines of text, published errors, numbers of draws.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.tabular import Taken, read_toml, scores
from warehouse.errors import InputError, MappingError

HEAD = """
[run]
model = { const = "m" }
benchmark = { const = "b" }
"""
BODY = """
[sample]
prompt_id = "id"
[[scores]]
metric = "acc"
value = "s"
"""


def table(folder: Path, text: str, mapping: str, name: str = "r.csv") -> Taken:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return read_toml(folder, f'files = ["{Path(name).name}"]\n{mapping}')


def test_lists_of_names_take_expressions(tmp_path: Path) -> None:
    suite = HEAD + 'suite = ["x", { path = "category" }]\ntags = ["seen"]\n'
    taken = table(tmp_path, "id,category,s\n1,c,1\n2,,0\n", suite + BODY)
    assert [run.suite for run in taken.runs] == [
        ("x", "c"),
        ("x",),
    ]  # nothing there, no name
    assert {run.tags for run in taken.runs} == {("seen",)}


@pytest.mark.parametrize(
    "line", ['revision = ["v", { path = "id" }]', 'hardware = [["a"]]']
)
def test_lists_where_one_value_is_meant_are_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(
        MappingError, match="expected one value, or a list of constants"
    ):
        table(tmp_path, "id,s\n1,1\n", f"{HEAD}{line}\n{BODY}")


def test_tables_in_lists_of_texts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MappingError, match="null = .* expected texts"):
        table(tmp_path, "id,s\n1,1\n", f'null = [{{ path = "id" }}]\n{HEAD}{BODY}')


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_by_position(tmp_path: Path, kind: str) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": ["p", "q"], "s": [1.0, 0.0], "b": ["x", "y"]})
    if kind == "csv":
        frame.to_csv(tmp_path / "r.csv", index=False)
    else:
        frame.to_parquet(tmp_path / "r.parquet")
    sample = (
        "[sample]\n"
        'prompt_id = "[0]"\n'
        'text = "[-1]"\n'
        "[[scores]]\n"
        'metric = "acc"\n'
        'value = "[1]"'
    )
    taken = read_toml(tmp_path, HEAD + sample)
    assert [(row["prompt_id"], row["text"]) for row in taken.rows] == [
        ("p", "x"),
        ("q", "y"),
    ]
    assert scores(taken.rows) == [1, 0]
    with pytest.raises(MappingError, match=r"'\[3\]': no such column"):
        read_toml(tmp_path, HEAD + sample.replace("[-1]", "[3]"))


def test_the_run_may_come_from_a_column_by_position(tmp_path: Path) -> None:
    head = '[run]\nmodel = "[1]"\nbenchmark = { const = "b" }\n'
    taken = table(tmp_path, "id,who,s\n1,m,1\n2,n,0\n", head + BODY)
    assert taken.values("model") == {("m",): [1], ("n",): [0]}


def test_a_table_without_header(tmp_path: Path) -> None:
    sample = (
        '[sample]\nprompt_id = "column_1"\n[[scores]]\nmetric = "acc"\nvalue = "[1]"\n'
    )
    taken = table(
        tmp_path,
        "q1,1\nq2,bad\nq3\nq4,0\n",
        "[table]\nheader = false\n" + HEAD + sample,
    )
    assert [row["prompt_id"] for row in taken.rows] == ["q1", "q2", "q4"]
    assert [item.place for item in taken.rejections] == ["r.csv row 3"]


def test_a_column_whose_name_is_no_path(tmp_path: Path) -> None:
    sample = (
        "[sample]\n"
        'prompt_id = "id"\n'
        "[[scores]]\n"
        'metric = "acc"\n'
        "value = '\"a.b [1]\"'\n"
    )
    taken = table(
        tmp_path,
        "id,a.b [1]\n1,0.5\n",
        '[run]\nmodel = "id"\nbenchmark = "id"\n' + sample,
    )
    assert scores(taken.rows) == [0.5]


def test_two_layouts_of_paths(tmp_path: Path) -> None:
    (tmp_path / "b" / "s3").mkdir(parents=True)
    (tmp_path / "b" / "s3" / "r.csv").write_text("id,s\n1,1\n")
    mapping = r"""
[path]
pattern = ['(?P<model>[^/]+)/s(?P<training_seed>\d+)/r\.csv', '(?P<name>[^/]+)/r\.csv']
[run]
model = { first = [{ group = "model" }, { template = "org/{name}" }] }
benchmark = { const = "b" }
"""
    taken = table(tmp_path, "id,s\n1,0\n", mapping + BODY, "a/r.csv")
    assert {(run.model, run.training_seed) for run in taken.runs} == {
        ("org/a", None),
        ("b", "3"),
    }
    assert not taken.notes
    with pytest.raises(MappingError, match=r"pattern = 'x' and 'y' does not match"):
        table(tmp_path, "id,s\n1,0\n", f"[path]\npattern = ['x', 'y']\n{HEAD}{BODY}")


def test_an_optional_join_may_be_missing(tmp_path: Path) -> None:
    join = '[join.q]\nfile = "q.jsonl"\nkey = "id"\non = "id"\noptional = true\n'
    mapping = join + HEAD + BODY.replace("[[scores]]", 'text = "&q.text"\n[[scores]]')
    assert [row["text"] for row in table(tmp_path, "id,s\n1,1\n", mapping).rows] == [
        None
    ]
    (tmp_path / "q.jsonl").write_text('{"id": 1, "text": "one"}\n')
    assert [row["text"] for row in table(tmp_path, "id,s\n1,1\n", mapping).rows] == [
        "one"
    ]
    with pytest.raises(MappingError, match="'&q.txt': no such"):
        table(tmp_path, "id,s\n1,1\n", mapping.replace("&q.text", "&q.txt"))


def test_a_join_whose_file_is_named_by_a_group_that_is_not_there(
    tmp_path: Path,
) -> None:
    mapping = (
        "[path]\npattern = '(?:(?P<seed>s\\d)_)?r\\.csv'\n"
        '[join.q]\nfile = "{seed}.json"\noptional = true\n'
        + HEAD
        + 'revision = "&q.revision"\n'
        + BODY
    )
    assert table(tmp_path, "id,s\n1,1\n", mapping).runs[0].revision is None
    with pytest.raises(InputError, match="the path has no 'seed'; say optional = true"):
        table(tmp_path, "id,s\n1,1\n", mapping.replace("optional = true\n", ""))


@pytest.mark.parametrize(
    ("keys", "numbers"), [('on = "@index"', "01"), ('key = "@line"\non = "id"', "12")]
)
def test_lines_of_text_are_joined_by_number(
    tmp_path: Path, keys: str, numbers: str
) -> None:
    (tmp_path / "q.txt").write_bytes("\ufeffone?\r\ntwo, \u00e9?".encode())
    join = f'[join.q]\nfile = "q.txt"\nformat = "text"\n{keys}\n'
    mapping = join + HEAD + BODY.replace("[[scores]]", 'text = "&q"\n[[scores]]')
    rows = table(tmp_path, f"id,s\n{numbers[0]},1\n{numbers[1]},0\n", mapping).rows
    assert [row["text"] for row in rows] == ["one?", "two, \u00e9?"]


def test_lines_of_text_have_no_other_key(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("one\n")
    join = '[join.q]\nfile = "q.txt"\nformat = "text"\nkey = "id"\non = "id"\n'
    with pytest.raises(MappingError, match="expected one of @index, @line"):
        table(tmp_path, "id,s\n1,1\n", join + HEAD + BODY)
    with pytest.raises(MappingError, match="format = 'words': expected one of"):
        table(tmp_path, "id,s\n1,1\n", join.replace('"text"', '"words"') + HEAD + BODY)


def test_published_errors_and_counts_by_key(tmp_path: Path) -> None:
    document = {
        "acc": {"x": 0.5, "y": 0.6},
        "se": {"x": 0.1, "y": None},
        "n": {"x": 3, "z": 4},
    }
    (tmp_path / "r.json").write_text(json.dumps(document))
    rule = (
        "[[published]]\n"
        'metric = "acc"\n'
        'benchmark = "{key}"\n'
        'value = "acc{}"\n'
        'standard_error = "se{}"\n'
        'n = "n{}"\n'
    )
    (run,) = read_toml(tmp_path, HEAD + rule).runs
    found = [(p.benchmark, p.value, p.standard_error, p.n) for p in run.published]
    assert found == [("x", 0.5, 0.1, 3), ("y", 0.6, None, None)]
    with pytest.raises(MappingError, match="goes with a `value` that ends so"):
        read_toml(tmp_path, HEAD + rule.replace('value = "acc{}"', 'value = "acc"'))


def test_published_errors_in_parallel_lists(tmp_path: Path) -> None:
    document = {"acc": [0.5, 0.6], "se": [0.1, 0.2], "n": 7}
    (tmp_path / "r.json").write_text(json.dumps(document))
    rule = (
        "[[published]]\n"
        'metric = "acc"\n'
        'statistic = "draw {key}"\n'
        'value = "acc[]"\n'
        'standard_error = "se[]"\n'
        'n = "n"\n'
    )
    (run,) = read_toml(tmp_path, HEAD + rule).runs
    found = [(p.statistic, p.value, p.standard_error, p.n) for p in run.published]
    assert found == [("draw 0", 0.5, 0.1, 7), ("draw 1", 0.6, 0.2, 7)]


def test_numbers_of_draws_by_path_list_and_group(tmp_path: Path) -> None:
    document = {"k": 4, "rows": [{"id": "1", "s": 0.5, "all": [1, 0]}]}
    (tmp_path / "r_9.json").write_text(json.dumps(document))
    base = (
        "[path]\npattern = 'r_(?P<n_draws>\\d+)\\.json'\n[rows]\nat = \"rows[]\"\n"
        + HEAD
        + BODY
    )
    for line, expected in (
        ("", 9),
        ('n_draws = "$.k"', 4),
        ('n_draws = "all"', 2),
        ('n_draws = { path = "$.k", add = 1 }', 5),
    ):
        taken = read_toml(tmp_path, base + line)
        assert [row["scores"][0]["n_draws"] for row in taken.rows] == [expected]


def test_decimal_commas(tmp_path: Path) -> None:
    body = BODY.replace('value = "s"', 'value = { path = "s", decimal = "," }')
    taken = table(
        tmp_path,
        "id;s\n1;0,5\n2;1.234,5\n3;1\n4;0.9\n5;0.125\n6;12.34\n7;-1.234.567\n",
        HEAD + body,
    )
    assert scores(taken.rows) == [0.5, 1234.5, 1, 0.9, 0.125, 12.34, -1234567]


TWO = """
[path]
pattern = '(?P<folder>[^/]+)/r\\.csv'
[run]
model = {{ path = "who"{check} }}
benchmark = {{ const = "b" }}
"""


@pytest.mark.parametrize(
    "folder", ["falcon-40b", "org_Falcon-40B", "tiiuae__falcon_40b"]
)
def test_two_sources_of_a_name_that_agree(tmp_path: Path, folder: str) -> None:
    check = ', must_equal = { group = "folder" }'
    taken = table(
        tmp_path,
        "id,who,s\n1,tiiuae/falcon-40b,1\n",
        TWO.format(check=check) + BODY,
        f"{folder}/r.csv",
    )
    assert not taken.notes and not taken.rejections and len(taken.rows) == 1


def test_two_sources_of_a_name_that_differ(tmp_path: Path) -> None:
    text, name = "id,who,s\n1,falcon-40b,1\n2,falcon-7b,0\n", "falcon-7b/r.csv"
    note = TWO.format(check=', compare_with = { group = "folder" }')
    taken = table(tmp_path, text, note + BODY, name)
    assert taken.values("model") == {("falcon-40b",): [1], ("falcon-7b",): [0]}
    assert taken.notes == [
        "the path says model 'falcon-7b', 'who' says 'falcon-40b': the latter holds"
    ]
    strict = TWO.format(check=', must_equal = { group = "folder" }')
    taken = table(tmp_path, text, strict + BODY, name)
    assert taken.values("model") == {("falcon-7b",): [0]}
    (rejection,) = taken.rejections
    assert rejection.place == "r.csv row 2"
    assert "'falcon-7b', as the path says" in rejection.expected


def test_a_group_with_the_name_of_a_field_that_is_mapped_is_compared(
    tmp_path: Path,
) -> None:
    mapping = TWO.replace("folder", "model").format(check="")
    taken = table(tmp_path, "id,who,s\n1,a,1\n", mapping + BODY, "b/r.csv")
    assert taken.runs[0].model == "a" and "the path says model 'b'" in taken.notes[0]
    steps = mapping.replace("(?P<model>[^/]+)/", "m_(?P<step>\\d+)/") + 'step = "at"\n'
    (tmp_path / "b" / "r.csv").unlink()
    taken = table(tmp_path, "id,who,at,s\n1,a,400.0,1\n", steps + BODY, "m_0400/r.csv")
    assert not taken.notes
    taken = table(tmp_path, "id,who,at,s\n1,a,800,1\n", steps + BODY, "m_0400/r.csv")
    assert "the path says step '0400', 'at' says '800'" in taken.notes[0]


@pytest.mark.parametrize(
    "source",
    [
        '{ pick = { group = "model" }, from = ["zero", "one"] }',
        '{ equals = [{ group = "model" }, "one"] }',
        '{ first = [{ group = "model", values = { "0" = "x" }, otherwise = "y" }, '
        '"one"] }',
    ],
)
def test_a_group_inside_an_expression_is_not_compared_with_it(
    tmp_path: Path, source: str
) -> None:
    mapping = (
        TWO.replace("folder", "model")
        .format(check="")
        .replace('{ path = "who" }', source)
    )
    taken = table(tmp_path, "id,zero,one,s\n1,a,b,1\n", mapping + BODY, "1/r.csv")
    assert len(taken.rows) == 1 and not taken.notes


def test_a_field_that_the_user_sets_is_not_compared(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "r.csv").write_text("id,who,s\n1,a,1\n")
    strict = TWO.format(check=', must_equal = { group = "folder" }')
    taken = read_toml(tmp_path, strict + BODY, model="c")
    assert [run.model for run in taken.runs] == ["c"] and not taken.rejections
