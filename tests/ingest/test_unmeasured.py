"""Figures over 0 samples: nothing was measured, whatever number stands there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.ingested import ingested
from tests.support.stores import select
from warehouse import connect
from warehouse.errors import InputError
from warehouse.ingest.unmeasured import drop_unmeasured, note_words_for_figures
from warehouse.records import Dump, PublishedScore, RunHeader


def run(benchmark: str, *figures: PublishedScore) -> RunHeader:
    return RunHeader("tool", "org/m", benchmark, published=figures)


def test_a_figure_over_no_sample_is_left_out_and_said() -> None:
    dump = Dump(
        (
            run("sums", PublishedScore("acc", 0.4, n=60)),
            run("words", PublishedScore("acc", 0.0, n=0)),
        ),
        (),
    )
    drop_unmeasured(dump, "file")
    assert [header.benchmark for header in dump.runs] == ["sums"]
    assert dump.notes == ["1 figures over 0 samples are none, and left out: words"]


def test_figures_without_a_count_stay() -> None:
    dump = Dump((run("sums", PublishedScore("acc", 0.0)),), ())
    drop_unmeasured(dump, "file")
    assert dump.runs[0].published
    assert not dump.notes


def test_a_source_of_which_nothing_was_asked_is_refused() -> None:
    with pytest.raises(InputError, match="over 0 samples"):
        drop_unmeasured(
            Dump((run("sums", PublishedScore("acc", 0.0, n=0)),), ()), "file"
        )


def test_words_for_figures_are_said_and_infinity_is_a_figure() -> None:
    words = [PublishedScore("acc", None, raw=word) for word in ("C", "pending")]
    figures = [
        PublishedScore("ppl", None, raw="Infinity"),
        PublishedScore("f1", 0.5, raw="50 percent"),
    ]
    dump = Dump((run("sums", *words, *figures),), ())
    note_words_for_figures(dump)
    assert dump.notes == [
        "2 published figures of 'acc', no number ('C'): kept as text, in no mean"
    ]


def test_a_word_in_a_table_of_published_figures_is_said(tmp_path: Path) -> None:
    """The mean of ten reruns became that of nine without a word."""
    table = tmp_path / "runs.csv"
    table.write_text(
        "model,benchmark,run_id,score\norg/m,sums,r1,0.4\norg/m,sums,r2,C\n"
    )
    mapping = tmp_path / "map.toml"
    mapping.write_text(
        '[run]\nmodel = "model"\nbenchmark = "benchmark"\nrun_id = "run_id"\n'
        '[[published]]\nmetric = "acc"\nvalue = "score"\n'
    )
    report = connect(tmp_path / "s.duckdb").ingest(table, mapping=mapping)
    assert any(
        "1 published figure of 'acc', no number ('C')" in note
        for note in report.all_notes
    )


def lm_eval_results(folder: Path) -> Path:
    results = {"sums": {"acc,none": 0.4}, "words": {"acc,none": 0.0}}
    counts = {
        "sums": {"original": 60, "effective": 60},
        "words": {"original": 60, "effective": 0},
    }
    document = {
        "results": results,
        "n-samples": counts,
        "config": {"model_args": "pretrained=org/m"},
    }
    path = folder / "results_2026-01-02T03-04-05.000006.json"
    path.write_text(json.dumps(document))
    return path


def evalscope_report(folder: Path) -> Path:
    path = folder / "20260304_050607" / "reports" / "m" / "quiz.json"
    path.parent.mkdir(parents=True)
    subsets = [
        {"name": "sums", "score": 0.4, "num": 60},
        {"name": "words", "score": 0.0, "num": 0},
    ]
    metric = {
        "name": "acc",
        "num": 60,
        "score": 0.4,
        "categories": [{"name": ["default"], "subsets": subsets}],
    }
    report = {
        "name": "m@quiz",
        "dataset_name": "quiz",
        "model_name": "m",
        "score": 0.4,
        "metrics": [metric],
    }
    path.write_text(json.dumps(report))
    return path


@pytest.mark.parametrize("write", [lm_eval_results, evalscope_report])
def test_importers_take_no_figure_over_no_sample(tmp_path: Path, write: Any) -> None:
    path = write(tmp_path)
    with ingested(f"duckdb:///{tmp_path}/s.duckdb", path) as (store, report):
        found = select(
            store, "select value, n from published_score where run_id is not null"
        )
        assert found == [{"value": 0.4, "n": 60}]
        assert any("0 samples" in note for note in report.all_notes)
