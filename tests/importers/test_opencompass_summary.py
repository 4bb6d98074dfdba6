"""Summaries of OpenCompass, made as ``DefaultSummarizer`` of 0.5.4 writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.importers.test_opencompass import CONFIG, STAMP, repeated, write
from tests.support import lm_eval
from tests.support.ingested import ingested
from tests.support.lm_eval import Taken
from tests.support.stores import select
from warehouse.errors import InputError
from warehouse.importers.opencompass.files import read_table
from warehouse.importers.opencompass.importer import IMPORTER
from warehouse.ingest.pipeline import ingest

LINES = [
    "dataset,version,metric,mode,tiny-hf,other",
    "######## Exams ########,-,-,-,-,-",
    "math,0a1b2c,accuracy,gen,50.00,-",
    "math,0a1b2c,G-Pass@2_1.0,gen,33.25,-",
    "mc,3d4e5f,accuracy,ppl,61.50,62.25",
    "exams,-,naive_average,mixed,55.75,62.25",
    "exams,-,standard_deviation,mixed,5.75,nan",
]
NAME = f"summary/summary_{STAMP}"


def as_text(lines: list[str]) -> str:
    """The text file: the table for people, the one with commas, what stands in the
    results."""
    rule, end = "^" * 128, "$" * 128
    parts = [
        "tabulate format",
        rule,
        "dataset  version",
        end,
        "",
        "csv format",
        rule,
        *lines,
        end,
        "",
        "raw format",
        rule,
        "math: {'accuracy': 50.0}",
        end,
    ]
    return "\n".join([STAMP, *parts, ""])


def summary(
    work: Path, lines: list[str] | None = None, name: str = f"{NAME}.csv"
) -> Path:
    content = lines or LINES
    text = as_text(content) if name.endswith(".txt") else "\n".join(content) + "\n"
    write(work, "configs/20260304_050607_7.py", CONFIG)
    return write(work, name, text)


def taken_of(work: Path, name: str) -> Taken:
    """What is made of the source that a file begins."""
    paths = [path for path in work.rglob("*") if path.is_file()]
    sources = lm_eval.claimed(*paths, importer=IMPORTER)
    source = next(item for item in sources if item.files[0].name == name)
    return lm_eval.Taken(IMPORTER.read(source, lm_eval.ImportSettings({})))


def figures(taken: Taken) -> dict[tuple[str, str], list[tuple[str, Any, str]]]:
    return {
        (run.benchmark, run.model): [
            (item.metric, item.value, item.statistic) for item in run.published
        ]
        for run in taken.dump.runs
    }


def test_a_summary_alone(tmp_path: Path) -> None:
    taken = taken_of(summary(tmp_path), f"summary_{STAMP}.csv")
    assert figures(taken) == {
        ("math", "org/tiny"): [
            ("accuracy", 50.0, "mean"),
            ("G-Pass@2_1.0", 33.25, "mean"),
        ],
        ("mc", "org/tiny"): [("accuracy", 61.5, "mean")],
        ("mc", "org/other"): [("accuracy", 62.25, "mean")],
        ("exams", "org/tiny"): [
            ("naive_average", 55.75, "mean"),
            ("standard_deviation", 5.75, "aggregate"),
        ],
        ("exams", "org/other"): [
            ("naive_average", 62.25, "mean"),
            ("standard_deviation", None, "aggregate"),
        ],
    }
    runs = {(run.benchmark, run.model): run for run in taken.dump.runs}
    math, group = runs["math", "org/tiny"], runs["exams", "org/tiny"]
    assert (math.task_version, math.formulation, math.run_id) == (
        "0a1b2c",
        "gen",
        STAMP,
    )
    assert (math.temperature, math.revision, math.sampling["abbr"]) == (
        0.25,
        "step30",
        "tiny-hf",
    )
    assert (group.task_version, group.formulation) == (None, None)
    assert [metric.is_default for metric in math.metrics] == [True, False]
    assert runs["exams", "org/other"].published[1].raw == "nan"
    assert taken.dump.batches == ()


def test_beside_results_only_groups_are_taken_from_it(tmp_path: Path) -> None:
    work = summary(repeated(tmp_path))
    assert {name for name, _ in figures(taken_of(work, f"summary_{STAMP}.csv"))} == {
        "exams"
    }
    (run,) = taken_of(work, "math.json").dump.runs
    assert (run.task_version, run.formulation) == ("0a1b2c", "gen")


def test_the_text_file_says_the_same(tmp_path: Path) -> None:
    table = summary(tmp_path / "a")
    text = summary(tmp_path / "b", name=f"{NAME}.txt")
    assert figures(taken_of(text, f"summary_{STAMP}.txt")) == figures(
        taken_of(table, f"summary_{STAMP}.csv")
    )


def test_the_newest_counts_and_the_table_before_the_text(tmp_path: Path) -> None:
    for name in (f"{NAME}.txt", f"{NAME}.csv", "summary/summary_20260303_000000.csv"):
        summary(tmp_path, name=name)
    paths = [path for path in tmp_path.rglob("*") if path.is_file()]
    (source,) = lm_eval.claimed(*paths, importer=IMPORTER)
    assert [path.name for path in source.files] == [
        f"summary_{STAMP}.csv",
        "20260304_050607_7.py",
    ]


def test_lines_that_are_none(tmp_path: Path) -> None:
    taken = taken_of(
        summary(tmp_path, [*LINES, "math,0a1b2c,f1,gen,50.00"]), f"summary_{STAMP}.csv"
    )
    (fault,) = taken.dump.rejections
    assert (fault.place, fault.found) == (
        f"summary_{STAMP}.csv line 8",
        "math,0a1b2c,f1,gen,50.00",
    )


def test_a_damaged_summary_takes_nothing_from_the_results(tmp_path: Path) -> None:
    work = summary(repeated(tmp_path))
    path = work / STAMP / f"{NAME}.csv"
    path.write_bytes(path.read_bytes() + b"\xff\xfe")
    with pytest.raises(InputError, match="cannot be read"):
        read_table(path)
    taken = taken_of(work, "math.json")
    assert taken.dump.runs[0].task_version is None
    assert "the summary is left out" in taken.dump.notes[0]
    path.write_text("nothing\n")
    with pytest.raises(
        InputError, match="no line begins with 'dataset,version,metric,mode,'"
    ):
        read_table(path)


def test_in_a_store(tmp_path: Path, store_url: str) -> None:
    first, whole = summary(tmp_path / "first"), summary(repeated(tmp_path / "whole"))
    with ingested(store_url, first) as (store, report):
        assert report.total("n_runs") == 5
        later = ingest(store, [whole])  # now with the results of one data set
        assert (later.refused, later.total("n_superseded")) == ((), 1)
        current = select(
            store,
            "select task_version, n_found from run where superseded_by is null "
            "order by n_found, task_version nulls last",
        )
        assert [(row["task_version"], row["n_found"]) for row in current] == [
            ("3d4e5f", 0),
            ("3d4e5f", 0),
            (None, 0),
            (None, 0),
            ("0a1b2c", 3),
        ]
