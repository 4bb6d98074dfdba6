"""Rows of one prompt that contradict each other: the column that tells them apart is
named before one of them is thrown away, and two scorers are never two draws."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.stores import store_at
from warehouse.ingest.pipeline import ingest
from warehouse.store.connection import Store
from warehouse.store.load.state import LoadOptions
from warehouse.store.open import open_store

MAPPING = """
[run]
model = { const = "m" }
benchmark = { const = "b" }
[sample]
prompt_id = "id"
response = { path = "said", optional = true }
[[scores]]
metric = "acc"
value = "s"
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(store_at(tmp_path / "s.duckdb"), write=True) as opened:
        yield opened


def refusal(
    store: Store, folder: Path, files: Mapping[str, Sequence[Any]], before: str = ""
) -> str:
    """Why files of records are refused under :data:`MAPPING`."""
    data = folder / "data"
    data.mkdir()
    for name, records in files.items():
        (data / name).write_text("\n".join(map(json.dumps, records)))
    (folder / "m.toml").write_text(before + MAPPING)
    reports = ingest(store, [data], mapping=folder / "m.toml").sources
    return next(report.error for report in reports if report.error)


def rows(column: str, values: Sequence[Any], *, one_answer: bool = False) -> list[Any]:
    """Twenty prompts, each once for each value of a column."""
    found = []
    for number in range(20):
        for place, value in enumerate(values):
            said = f"answer {number}" if one_answer else f"answer {number} {place}"
            score = (number + place) % 2
            found.append({"id": number, column: value, "said": said, "s": score})
    return found


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("trial", [0, 1, 2], 'trial (0, 1, 2) tells them apart: map it as the draw ([sample] draw = "trial")'),
        ("style", ["terse", "long"], 'a setting ([run.configuration] style = "style") or the scorer'),
        ("grader", ["x", "y"], 'map it as the scorer ([scorer] scorer = "grader") or a setting'),
        ("temperature", [0.0, 0.7], 'map it as [run] temperature = "temperature"'),
    ],
)  # fmt: skip
def test_a_column_that_makes_rows_unique_is_named_with_what_it_may_be(
    store: Store, tmp_path: Path, column: str, values: list[Any], said: str
) -> None:
    found = refusal(store, tmp_path, {"r.jsonl": rows(column, values)})
    assert said in found
    assert found.index(said) < found.index("; else --on-duplicate draws")


def test_a_name_inside_an_object_is_a_column_too(store: Store, tmp_path: Path) -> None:
    records = rows("judge", [{"name": "x"}, {"name": "y"}])
    found = refusal(store, tmp_path, {"r.jsonl": records})
    assert '[scorer] scorer = "judge.name"' in found


def test_two_columns_may_be_needed(store: Store, tmp_path: Path) -> None:
    records = rows("style", ["a", "b"])
    doubled = [{**r, "lang": lang, "said": lang} for r in records for lang in "cd"]
    for place, record in enumerate(doubled):
        record["s"] = place // 2 % 2 ^ place % 2
    found = refusal(store, tmp_path, {"r.jsonl": doubled})
    assert "style (a, b) and lang (c, d) together tell them apart" in found


def test_ids_of_rows_tell_nothing(store: Store, tmp_path: Path) -> None:
    records = rows("note", ["same", "same"])
    for number, record in enumerate(records):
        record["uuid"] = f"row-{number}"
    found = refusal(store, tmp_path, {"r.jsonl": records})
    assert "tells them apart" not in found and "--on-duplicate draws" in found


def scored_by(file: str) -> list[Any]:
    """Twenty answers, one in five of which a loose scorer likes and a strict does
    not."""
    is_loose = file.startswith("loose")
    return [
        {"id": n, "said": f"answer {n}", "s": int(n % 2 or (is_loose and n % 5 == 0))}
        for n in range(20)
    ]


def test_one_answer_with_two_scores_has_two_scorers(
    store: Store, tmp_path: Path
) -> None:
    files = {name: scored_by(name) for name in ("loose.jsonl", "strict.jsonl")}
    found = refusal(store, tmp_path, files, before="together = true\n")
    assert "several scorers of one answer, no draws" in found
    assert "(?P<scorer>…) of [path] pattern" in found
    assert "--on-duplicate draws" not in found


@pytest.mark.parametrize("together", [True, False])
def test_two_scorers_are_not_taken_for_draws_of_one_content(
    store: Store, tmp_path: Path, together: bool
) -> None:
    files = {name: scored_by(name) for name in ("loose.jsonl", "strict.jsonl")}
    before = 'key = ["text"]\n'
    if together:
        before += "together = true\n"
    files = {
        name: [{**record, "text": f"q {record['id']}"} for record in records]
        for name, records in files.items()
    }
    mapping = MAPPING.replace('prompt_id = "id"', 'text = "text"')
    data = tmp_path / "data"
    data.mkdir()
    for name, records in files.items():
        (data / name).write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "m.toml").write_text(before + mapping)
    reports = ingest(store, [data], mapping=tmp_path / "m.toml").sources
    (error,) = (report.error for report in reports if report.error)
    assert "(?P<scorer>…)" in error and "scores" in error
    pattern = "[path]\npattern = '(?P<scorer>\\w+)\\.jsonl'\n"
    (tmp_path / "m.toml").write_text(before + mapping + pattern)
    reports = ingest(store, [data], mapping=tmp_path / "m.toml", force=True).sources
    assert not any(report.error for report in reports)
    figures = "select round(avg(value), 3) as mean from score group by metric_id"
    assert sorted(row["mean"] for row in store.rows(figures)) == [0.5, 0.6]


def test_two_scorers_are_no_draws_even_where_a_person_says_so(
    store: Store, tmp_path: Path
) -> None:
    records = scored_by("strict") + scored_by("loose")
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "m.toml").write_text(MAPPING)
    draws = LoadOptions(on_duplicate="draws")
    (report,) = ingest(
        store, [tmp_path / "r.jsonl"], mapping=tmp_path / "m.toml", options=draws
    ).sources
    assert "their responses are the same, and their scores are not" in report.error


def test_nearly_the_same_answers_with_other_scores_are_refused(
    store: Store, tmp_path: Path
) -> None:
    strict = scored_by("strict")
    loose = scored_by("loose")
    loose[3]["said"] = "another answer"
    found = refusal(store, tmp_path, {"a.jsonl": strict, "b.jsonl": loose})
    assert "or nearly all, are those of run 1" in found


def test_a_second_run_whose_answers_differ_is_a_repeat(
    store: Store, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    strict = scored_by("strict")
    loose = scored_by("loose")
    for number in (0, 10):  # whose scores differ
        loose[number]["said"] = "another answer"
    for name, records in {"a": strict, "b": loose}.items():
        (data / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "m.toml").write_text(MAPPING)
    reports = ingest(store, [data], mapping=tmp_path / "m.toml").sources
    assert [report.n_repeats for report in reports] == [0, 1]


def test_what_several_people_say_of_an_answer_are_draws(
    store: Store, tmp_path: Path
) -> None:
    records = scored_by("strict") + scored_by("loose")
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, records)))
    people = '[metrics.acc]\nscorer_kind = "human"\n'
    (tmp_path / "m.toml").write_text(MAPPING + people)
    path = tmp_path / "m.toml"
    (refused,) = ingest(store, [tmp_path / "r.jsonl"], mapping=path).sources
    assert "--on-duplicate draws takes them" in refused.error
    draws = LoadOptions(on_duplicate="draws")
    (taken,) = ingest(
        store, [tmp_path / "r.jsonl"], mapping=path, options=draws
    ).sources
    assert taken.n_scores == 40
