"""A wrong mapping: everything that is wrong in one message, before anything is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.tabular import read_toml
from warehouse.errors import InputError, MappingError
from warehouse.importers.tabular.importer import load_mapping

GOOD = """
[path]
pattern = '(?P<model>\\w+)\\.csv'
[run]
benchmark = "task"
[sample]
prompt_id = "id"
[[scores]]
metric = "acc"
value = "score"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.csv").write_text("id,task,score\nq,t,1\n")
    return tmp_path


def message(folder: Path, mapping: str, **values: object) -> str:
    with pytest.raises(MappingError) as caught:
        read_toml(folder, mapping, **values)
    return str(caught.value)


def test_everything_at_once(folder: Path) -> None:
    found = message(
        folder,
        """
        filess = "x"
        key = ["question"]
        [path]
        pattern = '(?P<model>.+)_run\\d+\\.csv'
        [run]
        modle = "model"
        benchmark = { group = "bench" }
        text = "question"
        [sample]
        prompt_id = "idd"
        draw = { path = "draw", scale = "x", foo = 1 }
        response = "&answers.text"
        [[scores]]
        metric = "acc"
        valeu = "score"
        if_null = "skip"
        [metrics.acc]
        kind = "binar"
        [[rows.skip]]
        path = "Task"
        matching = "("
        """,
    )
    assert found.startswith("mapping.toml: 17 mistakes")
    for part in (
        "filess: no such key; did you mean 'files'?",
        "key: 'question' is not mapped in [sample] or [metadata]; mapped: prompt_id, "
        "draw",
        "pattern = '(?P<model>.+)_run\\\\d+\\\\.csv' does not match 'm.csv'",
        "[run] modle: no such field; did you mean 'model'?",
        "[run] benchmark group = 'bench': no such group in [path] pattern; groups: "
        "model",
        "[run] text: no such field; it belongs to [sample]",
        "[sample] draw scale = 'x': expected a number",
        "[sample] draw foo: no such key",
        "[sample] response = '&answers.text': no [join.answers]; joins: none",
        "[[scores]] 1 valeu: no such key; did you mean 'value'?",
        "[[scores]] 1: expected `metric` and `value`",
        "[[scores]] 1 if_null = 'skip'",
        "[metrics.acc] kind = 'binar': expected one of binary, bounded, continuous",
        "[[rows.skip]] 1 matching = '(': no regular expression",
        "[sample] prompt_id = 'idd': no such column in 'm.csv'; did you mean 'id'?",
        "[sample] draw = 'draw': no such column in 'm.csv'; there are: id, task, score",
        "[[rows.skip]] 1 path = 'Task': no such column in 'm.csv'",
    ):
        assert part in found


def test_columns_that_are_not_there(folder: Path) -> None:
    wrong = GOOD.replace('"id"', '"idd"').replace('"score"', '"points"')
    wrong = wrong.replace("(?P<model>", "run_(?P<model>")
    wrong += '[[rows.skip]]\npath = "Task"\nnull = true\n'
    found = message(folder, wrong)
    assert "4 mistakes" in found
    assert (
        "[sample] prompt_id = 'idd': no such column in 'm.csv'; did you mean 'id'?"
        in found
    )
    assert "[[scores]] 1 value = 'points'" in found
    assert "there are: id, task, score" in found
    assert "[[rows.skip]] 1 path = 'Task'" in found


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (('benchmark = "task"', ""), "nothing says what the benchmark is"),
        (('prompt_id = "id"', ""), "nothing says which prompt a row is about"),
        (('"score"', '"a[b"'), "no such column"),
        (('"score"', "{ path = 'x', const = 1 }"), "path and const together"),
        (('"score"', "{ scale = 2 }"), "expected one of path, const"),
        (('"score"', "{ equals = ['id'] }"), "expected a list of two, found 1"),
        (('"score"', "{ pick = 'id' }"), "the list to pick from"),
        (('metric = "acc"', ""), "expected `metric` and `value`"),
        (("[[scores]]", "[scores]"), "[scores]: one of several; write [[scores]]"),
        (
            ("[sample]", "[sample]\nchoices = 3\n[choice_scores]\n[unused]\n[sample2]"),
            "unused",
        ),
        (("[path]", "format = 'xls'\n[path]"), "format = 'xls': expected one of csv"),
        (("[path]", "[table]\ndelimiter = ';;'\n[path]"), "expected one character"),
        (
            ("[path]", "[each]\na = ['x']\nb = []\n[path]"),
            "expected lists of one length",
        ),
        (
            ("[path]", "[matrix]\norientation = 'sideways'\n[path]"),
            "expected one of prompts_by",
        ),
        (
            ("[path]", "[join.x]\nfile = 'f'\nkey = 'k'\n[path]"),
            "`key` together with `on`",
        ),
        (("[path]", "together = 'yes'\n[path]"), "expected true or false"),
        (('"acc"', '"acc"\nif_null = { status = "lost" }'), '"omit_absent" or a table'),
    ],
)
def test_single_mistakes(folder: Path, change: tuple[str, str], expected: str) -> None:
    assert expected in message(folder, GOOD.replace(*change))


def test_nothing_to_take(folder: Path) -> None:
    wrong = '[run]\nmodel = { const = "m" }\nbenchmark = { const = "b" }\n'
    assert (
        "expected [[scores]], [choice_scores], [[published]], [votes] or [matrix]"
        in message(folder, wrong)
    )


def test_files_that_match_nothing(folder: Path) -> None:
    named = 'files = ["*.jsonl"]\n' + GOOD
    assert len(read_toml(folder, named).rows) == len(
        read_toml(folder, GOOD).rows
    )  # of the mapping's shape
    found = message(folder, named.replace('"score"', '"points"'))
    assert (
        "files = ['*.jsonl'] matches no file, and no other fits: [[scores]] 1 value"
        in found
    )
    assert found.endswith("there are: m.csv")


def test_json_path_that_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text('{"rows": [{"id": 1, "ok": 1}], "title": "t"}')
    mapping = (
        GOOD.replace("csv", "json")
        .replace('"task"', '"$.titel"')
        .replace('"score"', '"ok"')
    )
    found = message(tmp_path, mapping + '[rows]\nat = "rows[]"\n')
    assert (
        "no such key in the first records in 'm.json'; did you mean 'title'?; there "
        "are: rows, title" in found
    )
    inner = (
        mapping.replace("titel", "title").replace('"ok"', '"rows[0].okk"')
        + '[rows]\nat = "{}"\n'
    )
    assert "there are: none, as what stands there is no object" in message(
        tmp_path, inner
    )
    found = message(
        tmp_path, mapping.replace("titel", "title") + '[rows]\nat = "results[]"\n'
    )
    assert (
        "[rows] at = 'results[]': nothing there in 'm.json'; there are: rows[], title; "
        "where it lies deeper say so, as 'data[].results[]'" in found
    )
    draws = (
        mapping.replace("titel", "title") + '[rows]\nat = "rows[]"\ndraws = "outs[]"\n'
    )
    assert "[rows] at = 'rows[]' with draws = 'outs[]': nothing there" in message(
        tmp_path, draws
    )
    found = message(
        tmp_path, mapping.replace('"$.titel"', '"^^.x"') + '[rows]\nat = "rows[]"\n'
    )
    assert "climbs above the document" in found


def test_unknown_set_field(folder: Path) -> None:
    assert "--set modell: no such field; did you mean 'model'?" in message(
        folder, GOOD, modell="x"
    )


def test_mapping_file_itself(tmp_path: Path) -> None:
    with pytest.raises(MappingError, match="cannot be read"):
        load_mapping(tmp_path / "none.toml")
    (tmp_path / "m.toml").write_text('model = "x\n')
    with pytest.raises(MappingError, match=r"m\.toml: not TOML: .*line 1"):
        load_mapping(tmp_path / "m.toml")
    (tmp_path / "m.toml").write_bytes(b"a = '\xff'")
    with pytest.raises(MappingError, match="byte 5 is not UTF-8"):
        load_mapping(tmp_path / "m.toml")


def test_constant_that_does_not_fit_its_field(folder: Path) -> None:
    run = 'benchmark = { const = "b" }\nstep = { group = "model" }'
    mapping = GOOD.replace('benchmark = "task"', run)
    with pytest.raises(
        InputError, match=r"m\.csv: 'm'; expected \[run\] step: a number"
    ):
        read_toml(folder, mapping)


SOURCE = """
[run]
model = { const = "m" }
benchmark = { const = "b" }
[sample]
prompt_id = "idx"
"""


@pytest.mark.parametrize(
    ("text", "mapping", "said"),
    [
        (
            '[{"idx": 0, "infos": [{"r": 1}]}, {"idx": 1, "infos": []}]',
            '[rows]\ndraws = "accs[]"\n[[scores]]\nmetric = "a"\nvalue = "accs[]"\n',
            "2 records without anything at 'accs[]'; there are: idx, infos[]",
        ),
        (
            "[]",
            '[[scores]]\nmetric = "a"\nvalue = "a"\n',
            "expected rows with scores; there are no rows",
        ),
        (
            '[{"idx": 0, "a": 1}]',
            '[[scores]]\nmetric = "a"\nvalue = "a"\n'
            '[[rows.skip]]\npath = "idx"\nmatching = "."\n',
            "1 rows skipped, [[rows.skip]] 1); expected rows with scores; "
            "there are: idx, a",
        ),
        (
            '[{"idx": 0, "a": 1}]',
            '[[published]]\nmetric = "a"\nvalue = { path = "b", optional = true }\n',
            "expected a figure at 'b'; there are: idx, a",
        ),
    ],
)
def test_a_source_without_rows_and_figures_is_refused(
    tmp_path: Path, text: str, mapping: str, said: str
) -> None:
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(InputError) as caught:
        read_toml(tmp_path, SOURCE + mapping)
    assert said in str(caught.value)
