"""Rows that are no data are rejected: bare elements, rows without a key, summaries, a
header that stands again."""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support.tabular import documented, read, read_toml, scores

RUN = '[run]\nmodel = { const = "m" }\nbenchmark = { const = "b" }\n'
SCORE = """
[[scores]]
metric = "acc"
value = { equals = ["pred", "answer"] }
if_null = { value = 0, status = "no_answer" }
"""
RECORDS = [
    {"id": "q1", "pred": "A", "answer": "A"},
    {"id": "q2", "pred": "B", "answer": "B"},
]
BY_ID = RUN + '[sample]\nprompt_id = "id"\n' + SCORE
BY_PLACE = RUN + SCORE


def places(
    folder: Path, mapping: str, name: str, text: str
) -> tuple[list[float], list[tuple[str, str]]]:
    """Scores that were taken, and where which rows were rejected."""
    (folder / name).write_text(text)
    taken = read_toml(folder, mapping)
    return scores(taken.rows), [(item.place, item.found) for item in taken.rejections]


@pytest.mark.parametrize("mapping", [BY_ID, BY_PLACE])
@pytest.mark.parametrize("stray", ["total", None, 3, [], {}, {"summary": 1}])
def test_elements_of_another_shape(tmp_path: Path, mapping: str, stray: object) -> None:
    values, rejected = places(
        tmp_path, mapping, "a.json", json.dumps([RECORDS[0], stray, RECORDS[1]])
    )
    assert values == [1, 1]
    ((place, found),) = rejected
    assert place == "a.json [1]" and (repr(stray) in found)


@pytest.mark.parametrize("missing", [None, "", "  ", "nan", "<NA>"])
def test_records_without_an_id(tmp_path: Path, missing: object) -> None:
    lines = [*RECORDS, {"id": missing, "pred": None, "answer": "A"}]
    values, rejected = places(
        tmp_path, BY_ID, "a.jsonl", "\n".join(map(json.dumps, lines))
    )
    assert values == [1, 1] and [place for place, _ in rejected] == ["a.jsonl line 3"]


def test_ids_that_may_be_missing_are_by_place_where_all_are(tmp_path: Path) -> None:
    mapping = RUN + '[sample]\nprompt_id = { path = "id", optional = true }\n' + SCORE
    values, rejected = places(
        tmp_path, mapping, "a.json", json.dumps([{"pred": "A", "answer": "B"}] * 3)
    )
    assert values == [0, 0, 0] and not rejected


def test_nulls_of_records_known_by_place_keep_their_place(tmp_path: Path) -> None:
    values, rejected = places(
        tmp_path,
        BY_PLACE,
        "a.json",
        json.dumps([{"pred": None, "answer": None}, RECORDS[0]]),
    )
    assert values == [0, 1] and not rejected


@pytest.mark.parametrize(
    ("text", "n_rejected"), [('"q"', 2), ('{ path = "q", optional = true }', 0)]
)
def test_records_without_a_question_that_are_known_by_place(
    tmp_path: Path, text: str, n_rejected: int
) -> None:
    mapping = f"{RUN}[sample]\ntext = {text}\n" + SCORE
    lines = [
        {"q": "1+1", "pred": "2", "answer": "2"},
        {"pred": "x", "answer": "y"},
        {"q": " ", "pred": "x"},
    ]
    values, rejected = places(
        tmp_path, mapping, "a.jsonl", "\n".join(map(json.dumps, lines))
    )
    assert values == [1, 0, 0][: 3 - n_rejected] and len(rejected) == n_rejected


@pytest.mark.parametrize(
    ("part", "rejected"),
    [
        ('"answer"', 2),
        ('{ path = "answer", optional = true }', 1),
        ('{ path = "answer", default = "none" }', 1),
    ],
)
def test_rows_that_lack_a_part_of_their_key(
    tmp_path: Path, part: str, rejected: int
) -> None:
    mapping = (
        f'key = ["text", "target"]\n{RUN}[sample]\ntext = "q"\ntarget = {part}\n'
        + SCORE
    )
    lines = [
        {"q": "1+1", "pred": "2", "answer": "2"},
        {"q": "say", "pred": "x"},
        {"q": " ", "pred": "x"},
    ]
    _, places_of = places(
        tmp_path, mapping, "a.jsonl", "\n".join(map(json.dumps, lines))
    )
    assert len(places_of) == rejected


@pytest.mark.parametrize(
    "word", ["overall", "Average", "TOTAL", "macro avg", "**Mean**", "Grand Total"]
)
def test_rows_that_sum_up_others(tmp_path: Path, word: str) -> None:
    mapping = (
        RUN + '[sample]\nprompt_id = "id"\n[[scores]]\nmetric = "acc"\nvalue = "acc"\n'
    )
    values, rejected = places(
        tmp_path, mapping, "a.csv", f"id,acc\nq1,1\nq2,0\n{word},0.5\n"
    )
    assert values == [1, 0] and [place for place, _ in rejected] == ["a.csv row 4"]


def test_a_prompt_that_is_called_as_summaries_are_has_a_question(
    tmp_path: Path,
) -> None:
    mapping = (
        RUN
        + '[sample]\nprompt_id = "id"\ntext = "q"\n[[scores]]\nmetric = "acc"\nvalue = "acc"\n'
    )
    values, rejected = places(
        tmp_path, mapping, "a.csv", "id,q,acc\nmean,what is mean?,1\nsum,,0\n"
    )
    assert values == [1] and len(rejected) == 1


@pytest.mark.parametrize("orientation", ["prompts_by_models", "models_by_prompts"])
def test_summaries_of_a_matrix(tmp_path: Path, orientation: str) -> None:
    mapping = (
        "[matrix]\n"
        f'orientation = "{orientation}"\n'
        "[run]\n"
        f'benchmark = {{ const = "b" }}\n'
    )
    mapping += (
        'model = "@column"\n'
        if orientation == "prompts_by_models"
        else 'model = "@row"\n'
    )
    (tmp_path / "a.csv").write_text(
        "name,x,y,Average\nu,1,0,.5\nv,1,1,1\nmean,1,.5,.75\n"
    )
    taken = read_toml(tmp_path, mapping)
    assert scores(taken.rows) == [1, 1, 0, 1] and len(taken.rejections) == 5
    assert {run.model for run in taken.runs} == (
        {"x", "y"} if orientation == "prompts_by_models" else {"u", "v"}
    )


@pytest.mark.parametrize("columns", ["id,model,acc,note", "model,id,acc"])
def test_a_header_that_stands_again(tmp_path: Path, columns: str) -> None:
    mapping = (
        "[run]\n"
        'model = "model"\n'
        'benchmark = { const = "b" }\n'
        "[sample]\n"
        'prompt_id = "id"\n'
        "[[scores]]\n"
        'metric = "acc"\n'
        'value = "acc"\n'
    )
    row = {"id": "q", "model": "m", "acc": "1", "note": ""}
    line = ",".join(row[name] for name in columns.split(","))
    (tmp_path / "a.csv").write_text(
        f"{columns}\n{line}\n{columns}\n{line.replace('q', 'r')}\n"
    )
    taken = read_toml(tmp_path, mapping)
    assert scores(taken.rows) == [1, 1] and [run.model for run in taken.runs] == ["m"]
    assert [(item.place, item.expected) for item in taken.rejections] == [
        ("a.csv row 3", "data")
    ]


def test_rows_of_empty_cells_and_footers(tmp_path: Path) -> None:
    mapping = RUN + '[[scores]]\nmetric = "acc"\nvalue = "acc"\n'
    text = "name,acc\nq1,1\n\n,\nq2,0\nTotal,0.5\n(3 rows)\n"
    values, rejected = places(tmp_path, mapping, "a.csv", text)
    assert values == [1, 0]
    assert [found for _, found in rejected][:2] == [
        "an empty row",
        "'Total', a row that sums up others",
    ]


def test_lines_that_are_drawn_between_rows(tmp_path: Path) -> None:
    mapping = RUN.replace('{ const = "m" }', '"model"') + '[sample]\nprompt_id = "id"\n'
    mapping += '[[scores]]\nmetric = "acc"\nvalue = "acc"\n'
    values, rejected = places(
        tmp_path, mapping, "a.csv", "id,model,acc\n---,:---:,----\nq--1,m,1\n--,-m-,0\n"
    )
    assert values == [1, 0] and rejected == [("a.csv row 2", "a drawn line")]


def test_bare_texts_in_a_published_dump(tmp_path: Path) -> None:
    """A file of MMLU-Pro answers had 43 of them; as prompts by their place they met the
    ids of others."""
    record = {
        "question": "?",
        "options": ["x"],
        "answer": "A",
        "pred": "A",
        "category": "c",
        "src": "s",
    }
    record |= {"generated_text": "A"}
    records = [record | {"question_id": number} for number in range(4)]
    with ZipFile(tmp_path / "model_outputs_m_5shots.zip", "w") as archive:
        archive.writestr(
            "model_outputs_m_5shots.json",
            json.dumps([*records[:2], "business", *records[2:], "law"]),
        )
    taken = read(tmp_path, documented("mmlu_pro"))
    assert scores(taken.rows) == [1] * 4
    assert [item.found for item in taken.rejections] == ["'business'", "'law'"]
