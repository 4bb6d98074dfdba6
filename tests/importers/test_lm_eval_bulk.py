"""The bulk query gives what reading row by row gives, and fails where it cannot know."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.support.lm_eval import (
    FIXTURES,
    STAMP,
    Row,
    alike,
    claimed,
    run_query,
    take,
    take_slowly,
)
from warehouse.importers.lm_eval.importer import IMPORTER
from warehouse.records import BulkQuery, ImportSettings

SAMPLES = FIXTURES / "v0_4_13" / "org__demo-model"
BULK = ("v0_4_13", "v0_4_9", "samples_only")
Change = Callable[[list[Row]], object]


def altered(folder: Path, task: str, change: Change) -> Path:
    """The 0.4.13 run with the rows of one task alone, which a function has changed."""
    folder.mkdir(exist_ok=True)
    name = f"samples_{task}_{STAMP}.jsonl"
    shutil.copy(SAMPLES / f"results_{STAMP}.json", folder)
    path = folder / name
    rows = [json.loads(line) for line in (SAMPLES / name).read_text().splitlines()]
    change(rows)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return folder


def far_down(change: Change) -> Change:
    """The change, in a file whose last row is beyond the rows that its form is found
    from."""

    def changed(rows: list[Row]) -> None:
        first = [
            json.loads(json.dumps(rows[0])) | {"doc_id": 100 + n} for n in range(40)
        ]
        rows[:0] = first
        change(rows)

    return changed


def readings(folder: Path) -> list[BulkQuery]:
    (source,) = claimed(folder)
    dump = IMPORTER.read(source, ImportSettings({"model": "org/m"}))
    return [batch for batch in dump.batches if isinstance(batch, BulkQuery)]


def fails(folder: Path) -> bool:
    """Whether any bulk query of a folder fails, as it must before rows go wrong."""
    for reading in readings(folder):
        try:
            run_query(reading)
        except duckdb.Error:
            return True
    return False


@pytest.mark.parametrize("version", BULK)
def test_both_ways_give_the_same_rows(version: str) -> None:
    taken = take(FIXTURES / version, model="org/m")
    assert taken.bulk == taken.rows != []
    assert alike(taken.bulk) == alike(taken.slow)


def test_files_of_one_form_share_a_query(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES, tmp_path, dirs_exist_ok=True)
    shutil.copy(
        tmp_path / f"samples_demo_mc_{STAMP}.jsonl",
        tmp_path / f"samples_twin_{STAMP}.jsonl",
    )
    document = json.loads((tmp_path / f"results_{STAMP}.json").read_text())
    for part in ("results", "configs"):
        document[part]["twin"] = document[part]["demo_mc"]
    (tmp_path / f"results_{STAMP}.json").write_text(json.dumps(document))
    found = readings(tmp_path)
    assert sorted(len(reading.parameters["files"]) for reading in found) == [1, 1, 2]
    taken = take(tmp_path)
    assert len(taken.rows_of("twin")) == len(taken.rows_of("demo_mc")) == 3


def test_names_with_quotes_blanks_and_wildcards(tmp_path: Path) -> None:
    def rename(rows: list[Row]) -> None:
        for row in rows:
            row["metrics"] = ['it\'s "acc", really']
            row['it\'s "acc", really'] = row.pop("acc")

    folder = altered(tmp_path / "a [b] *?'s", "demo_mc", rename)
    taken = take(folder)
    assert taken.bulk != []
    assert alike(taken.bulk) == alike(taken.slow)
    assert taken.mean("demo_mc", 'it\'s "acc", really') == pytest.approx(2 / 3)


def set_key(key: str, value: Any) -> Change:
    return lambda rows: rows[-1].__setitem__(key, value)


def set_doc(value: Any) -> Change:
    return lambda rows: rows[-1]["doc"].__setitem__("extra", value)


HARMLESS: dict[str, tuple[str, Change]] = {
    "a null metric": ("demo_mc", set_key("acc", None)),
    "a truth value": ("demo_mc", set_key("acc", True)),
    "a metric that is text": ("demo_mc", set_key("acc", "0.5")),
    "a large number": ("demo_mc", set_key("acc", 1e300)),
    "a small number": ("demo_mc", set_key("acc", 1e-7)),
    "NaN": ("demo_mc", set_key("acc", float("nan"))),
    "infinity": ("demo_mc", set_key("acc", float("-inf"))),
    "a pair instead of a number": ("demo_mc", set_key("acc", [1, 2])),
    "a metric that is missing": ("demo_mc", lambda rows: rows[-1].pop("acc")),
    "a metric beside the list": ("demo_mc", set_key("verdict", {"why": [1]})),
    "an index out of range": ("demo_mc", set_key("target", "7")),
    "no index": ("demo_mc", set_key("target", "coal")),
    "minus infinity as likelihood": (
        "demo_mc",
        lambda rows: (
            rows[-1]["filtered_resps"][0].__setitem__(0, "-inf")
            or rows[-1]["resps"][0][0].__setitem__(0, "-inf")
        ),
    ),
    "the word NaN in a text": ("demo_mc", set_doc("a NaN, or Infinity")),
    "a long number in a text": ("demo_mc", set_doc("id 12345678901234567890123")),
    "a large integer": ("demo_mc", set_doc(2**53 + 1)),
    "no question": ("demo_mc", lambda rows: rows[-1]["doc"].pop("question")),
    "an empty question": ("demo_mc", lambda rows: rows[-1]["doc"].update(question="")),
    "a question that is a list": (
        "demo_mc",
        lambda rows: rows[-1]["doc"].update(question=[1, 2]),
    ),
    "nul in a text": ("demo_gen", set_doc("a\x00b")),
    "a response that is empty": (
        "demo_gen",
        lambda rows: rows[0]["resps"][0].__setitem__(0, ""),
    ),
    "one response only": ("demo_gen", lambda rows: rows[0]["resps"][0].pop()),
    "no words": ("demo_ppl", set_key("word_perplexity", [-1.5, 0])),
    "a pair that is none": ("demo_ppl", set_key("word_perplexity", -1.5)),
    "a null pair": ("demo_ppl", set_key("word_perplexity", None)),
}


@pytest.mark.parametrize(("task", "change"), HARMLESS.values(), ids=HARMLESS)
def test_odd_values_come_out_the_same(
    tmp_path: Path, task: str, change: Change
) -> None:
    folder = altered(tmp_path, task, change)
    taken = take(folder)
    assert alike(taken.bulk) == alike(taken.slow)
    assert taken.dump.rejections == []


BEYOND: dict[str, tuple[str, Change]] = {
    "another metric": ("demo_mc", lambda rows: rows[-1]["metrics"].append("late")),
    "another filter": ("demo_mc", set_key("filter", "late")),
    "no filter": ("demo_mc", lambda rows: rows[-1].pop("filter")),
    "more options": (
        "demo_mc",
        lambda rows: rows[-1].update(
            filtered_resps=[["-1.0", "False"]] * 40, resps=[[["-1.0", "False"]]] * 40
        ),
    ),
    "more responses": ("demo_gen", lambda rows: rows[-1]["resps"][0].append("third")),
    "two requests": ("demo_gen", lambda rows: rows[-1]["resps"].append(["x", "y"])),
    "no responses": ("demo_gen", lambda rows: rows[-1].pop("resps")),
    "an integer beyond 64 bits": ("demo_mc", set_doc(2**70)),
    "NaN in a document": ("demo_mc", set_doc([float("nan")])),
    "a document that is text": ("demo_mc", set_key("doc", "text")),
    "a document that is missing": ("demo_mc", lambda rows: rows[-1].pop("doc")),
    "no id": ("demo_mc", lambda rows: rows[-1].pop("doc_id")),
    "an id that is text": ("demo_mc", set_key("doc_id", "mc/7' --")),
    "arguments of another form": ("demo_mc", set_key("arguments", [["a", "b"]])),
    "a row that is a list": ("demo_mc", lambda rows: rows.append([1])),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("task", sorted({task for task, _ in BEYOND.values()}))
def test_the_query_reads_as_many_rows_of_one_form(tmp_path: Path, task: str) -> None:
    assert not fails(altered(tmp_path, task, far_down(lambda rows: None)))


@pytest.mark.parametrize(("task", "change"), BEYOND.values(), ids=BEYOND)
def test_the_query_fails_on_rows_of_another_form(
    tmp_path: Path, task: str, change: Change
) -> None:
    assert fails(altered(tmp_path, task, far_down(change)))


def test_row_by_row_takes_what_the_query_refuses(tmp_path: Path) -> None:
    def change(rows: list[Row]) -> None:
        rows[-1]["metrics"].append("late")
        rows[-1].update(late=0.25, filter="other", doc_id="mc/7' --")

    taken = take_slowly(altered(tmp_path, "demo_mc", change))
    last = taken.rows_of("demo_mc")[-1]
    assert (last["prompt_id"], last["position"]) == ("mc/7' --", None)
    assert taken.scores("demo_mc")["mc/7' --", 0, "late", "other"] == 0.25


def test_a_late_row_with_more_options(tmp_path: Path) -> None:
    def change(rows: list[Row]) -> None:
        pairs = [[f"-{n}.5", "False"] for n in range(10)]
        rows[-1].update(
            filtered_resps=pairs,
            resps=[[pair] for pair in pairs],
            arguments={
                f"gen_args_{n}": {"arg_0": "Q", "arg_1": f" {n}"} for n in range(10)
            },
        )

    taken = take(altered(tmp_path, "demo_mc", far_down(change)))
    assert len(taken.rows_of("demo_mc")[-1]["choice_scores"]) == 10
    assert alike(taken.bulk) == alike(taken.slow)
