"""Work folders of OpenCompass, made from the description of the format, as read in the
source of 0.5.4 (output handlers of the inferencers, ``BaseEvaluator.evaluate``,
``format_details``); every field that is read has a value of its own."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support import lm_eval
from tests.support.ingested import ingested
from tests.support.lm_eval import candidates
from tests.support.stores import select
from warehouse.importers import importers
from warehouse.importers.opencompass.importer import IMPORTER
from warehouse.records import ImportSettings

Document = dict[str, Any]
STAMP = "20260304_050607"
CONFIG = """
import os
models = [
    dict(abbr='other', path='org/other'),
    dict(abbr='tiny-hf', path='org/tiny', max_out_len=77, revision='step30', type='x.HuggingFace',
         generation_kwargs=dict(temperature=0.25, top_p=0.75, top_k=3, do_sample=True),
         run_cfg=dict(num_gpus=os.cpu_count()), low=-1),
]
raise SystemExit('never run')
"""


take = partial(lm_eval.take, importer=IMPORTER)


def asked(number: int, **more: Any) -> Document:
    messages = [
        {"role": "SYSTEM", "prompt": "Be brief."},
        {"role": "HUMAN", "prompt": f"q{number}"},
    ]
    found = {
        "origin_prompt": messages,
        "prediction": f"I say {number}",
        "gold": f"gold {number}",
        "res_length": 20 + number,
        "all_input_length": 10 + number,
    }
    return found | more


def write(work: Path, path: str, document: Any) -> Path:
    target = work / STAMP / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(document if isinstance(document, str) else json.dumps(document))
    return work


def repeated(work: Path) -> Path:
    """Three samples asked twice; details, an average of runs, and figures of both
    together."""
    predictions = {
        str(place): asked(place % 3, prediction=f"I say {place}") for place in range(6)
    }
    rights = [[True, False], [True, True], [False, False]]
    details = [
        {
            "example_abbr": f"test_{place}",
            "pred": [f"p{place}", f"r{place}"],
            "answer": [f"gold {place}"] * 2,
            "correct": rights[place],
        }
        for place in range(3)
    ]
    write(work, "configs/20260304_050607_7.py", CONFIG)
    write(work, "predictions/tiny-hf/math.json", predictions)
    return write(
        work,
        "results/tiny-hf/math.json",
        {"accuracy (2 runs average)": 50.0, "G-Pass@2_1.0": 33.25, "details": details},
    )


def test_what_a_work_folder_says(tmp_path: Path) -> None:
    (run,) = take(repeated(tmp_path)).dump.runs
    assert (run.harness, run.model, run.benchmark) == (
        "opencompass",
        "org/tiny",
        "math",
    )
    assert (run.revision, run.step, run.formulation) == ("step30", 30, "gen")
    assert (run.temperature, run.top_p, run.max_tokens) == (0.25, 0.75, 77)
    assert run.sampling == {"top_k": 3, "abbr": "tiny-hf"}
    assert (run.run_id, run.n_requested, run.status) == (STAMP, 3, "complete")
    assert (
        run.started_at is not None
        and run.started_at.isoformat() == "2026-03-04T05:06:07"
    )
    first, other = run.metrics
    assert (first.name, first.kind, first.is_default, first.high) == (
        "accuracy",
        "binary",
        True,
        1,
    )
    assert (other.name, other.link) == ("G-Pass@2_1.0", "none")
    accuracy, passed = run.published
    assert (accuracy.value, accuracy.raw, accuracy.n) == (0.5, "50 percent", 3)
    assert (passed.value, passed.statistic) == (33.25, "aggregate")


def test_blocks_of_the_predictions_are_repeats(tmp_path: Path) -> None:
    rows = {
        (row["position"], row["draw"]): row for row in take(repeated(tmp_path)).rows
    }
    assert len(rows) == 6
    row = rows[1, 1]
    assert (row["response"], row["extracted_answer"], row["target"]) == (
        "I say 4",
        "r1",
        "gold 1",
    )
    assert (row["prompt_id"], row["text"]) == ("test_1", "q1")
    assert json.loads(row["prompt_sent"])[0] == {
        "role": "SYSTEM",
        "prompt": "Be brief.",
    }
    assert (row["input_tokens"], row["output_tokens"]) == (11, 21)
    assert {place: row["scores"][0]["value"] for place, row in rows.items()} == {
        (0, 0): 1.0,
        (0, 1): 0.0,
        (1, 0): 1.0,
        (1, 1): 1.0,
        (2, 0): 0.0,
        (2, 1): 0.0,
    }
    assert rows[0, 0]["identity"] == rows[0, 1]["identity"] != row["identity"]


def test_options_by_their_perplexities(tmp_path: Path) -> None:
    row = {
        "in-context examples": "shots",
        "origin_prompt": "which?",
        "prediction": "B",
        "gold": "A",
        "label: A": {"testing input": "a", "prompt": "pa", "PPL": 1.5},
        "label: B": {"testing input": "b", "prompt": "pb", "PPL": 1.25},
    }
    write(tmp_path, "predictions/m/mc.json", {"0": row})
    details = {
        "type": "PPL",
        "0": {"predictions": "B", "references": "A", "correct": False},
    }
    taken = take(
        write(tmp_path, "results/m/mc.json", {"accuracy": 0.0, "details": details})
    )
    (found,) = taken.rows
    assert json.loads(found["response"]) == {"PPL": {"A": 1.5, "B": 1.25}}
    assert (found["extracted_answer"], found["target"], found["text"]) == (
        "B",
        "A",
        "which?",
    )
    assert json.loads(found["choices"]) == ["A", "B"]
    assert found["scores"][0]["value"] == 0.0
    (run,) = taken.dump.runs
    assert (run.model, run.formulation) == ("m", "ppl")


def test_conditional_probabilities(tmp_path: Path) -> None:
    row = {
        "testing input": "t",
        "prompt": "which?",
        "choices": ["x", "y"],
        "prediction": [0.25, 0.75],
        "pred_label": 1,
        "gold": 1,
    }
    (found,) = take(write(tmp_path, "predictions/m/clp.json", {"0": row})).rows
    assert (found["extracted_answer"], found["target"], found["text"]) == (
        "y",
        "1",
        "which?",
    )
    assert json.loads(found["response"]) == {"probabilities": [0.25, 0.75]}
    assert found["scores"] in (None, [])


def test_details_of_the_formatter_and_a_judge(tmp_path: Path) -> None:
    row = {
        "prompt": "p?",
        "origin_prediction": "long",
        "predictions": "short",
        "references": "ref",
        "correct": True,
    }
    document = {"score": 100.0, "accuracy": 93.5, "details": {"type": "GEN", "0": row}}
    taken = take(write(tmp_path, "results/m_judged-by--j/chat.json", document))
    (found,) = taken.rows
    assert (found["text"], found["response"], found["extracted_answer"]) == (
        "p?",
        "long",
        "short",
    )
    (run,) = taken.dump.runs
    assert (run.model, run.metrics[0].name) == ("m", "score")
    assert (run.metrics[0].scorer_kind, run.metrics[0].judge_model) == ("model", "j")
    assert [row.value for row in run.published] == [1.0, 93.5]


RULE = {
    "rule_evaluation": [
        {"pred": "p", "answer": "a", "correct": True, "evaluation_method": "rule"}
    ]
}


@pytest.mark.parametrize(
    ("details", "accuracy", "scores"),
    [
        (
            [{"prediction": ["A"]}, {"prediction": ["[B]"]}, {"prediction": ["?"]}],
            100 / 3,
            [1.0, 0.0, 0.0],
        ),
        (
            [{"prediction": ["A"]}, {"prediction": ["B"]}, {"prediction": ["B"]}],
            75.0,
            [],
        ),  # other grades are right
        ([RULE] * 3, 100.0, [1.0, 1.0, 1.0]),  # a cascade that never asked its judge
        (
            [{"correct": [1]}, {"correct": [0]}, {"correct": [1]}],
            200 / 3,
            [1.0, 0.0, 1.0],
        ),
        (
            [{"correct": [True]}, {"correct": [False]}],
            100 / 3,
            [],
        ),  # one is left out: whose are these?
    ],
)
def test_what_stands_for_a_verdict(
    tmp_path: Path, details: list[Document], accuracy: float, scores: list[float]
) -> None:
    named = [
        detail | {"example_abbr": f"x_{place}"} for place, detail in enumerate(details)
    ]
    write(
        tmp_path, "results/m/x_replica0.json", {"0": asked(0, prediction="A")}
    )  # what the judge was asked
    write(
        tmp_path,
        "predictions/m/x.json",
        {str(place): asked(place) for place in range(3)},
    )
    taken = take(
        write(tmp_path, "results/m/x.json", {"accuracy": accuracy, "details": named})
    )
    assert [
        score["value"] for row in taken.rows for score in row["scores"] or ()
    ] == scores
    assert [(row["position"], row["draw"]) for row in taken.rows] == [
        (0, 0),
        (1, 0),
        (2, 0),
    ]
    unread = [note for note in taken.dump.notes if "no verdict could be read" in note]
    assert len(unread) == ({"prediction": ["?"]} in details)
    assert len(taken.dump.notes) - len(unread) == (len(details) < 3)


def test_parts_are_joined_in_order(tmp_path: Path) -> None:
    for part in (0, 1, 10, 2):
        write(tmp_path, f"predictions/m/big_{part}.json", {"0": asked(part)})
    write(tmp_path, "predictions/m/set_7.json", {"0": asked(7)})
    sources = lm_eval.claimed(tmp_path, importer=IMPORTER)
    dumps = [IMPORTER.read(source, ImportSettings({})) for source in sources]
    assert [dump.runs[0].benchmark for dump in dumps] == ["big", "set_7"]
    rows = [row for batch in dumps[0].batches for row in batch.to_pylist()]
    assert [row["text"] for row in rows] == ["q0", "q1", "q2", "q10"]


def test_what_an_interrupted_run_left(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({"idx": place, **asked(place)}) for place in (2, 0))
    taken = take(write(tmp_path, "predictions/m/tmp_math.jsonl", lines))
    assert [(row["position"], row["response"]) for row in taken.rows] == [
        (0, "I say 0"),
        (2, "I say 2"),
    ]
    (run,) = taken.dump.runs
    assert (run.benchmark, run.status, run.n_requested) == ("math", "truncated", None)


def test_a_failed_evaluation_keeps_the_answers(tmp_path: Path) -> None:
    write(tmp_path, "predictions/m/math.json", {"0": asked(0)})
    taken = take(write(tmp_path, "results/m/math.json", {"error": "no match"}))
    (run,) = taken.dump.runs
    assert run.note == "the evaluation failed: no match" and run.published == ()
    assert (
        taken.rows[0]["scores"] in (None, []) and taken.rows[0]["response"] == "I say 0"
    )


def test_figures_without_verdicts_are_kept_as_they_are(tmp_path: Path) -> None:
    taken = take(
        write(tmp_path, "results/m/bleu.json", {"bleu": 23.5, "details": [{"x": 1}]})
    )
    (row,) = taken.dump.runs[0].published
    assert (row.metric, row.value, row.raw) == ("bleu", 23.5, None)
    assert not taken.rows[0]["scores"]


def test_only_its_own_files_are_claimed(tmp_path: Path) -> None:
    repeated(tmp_path)
    (source,) = IMPORTER.claim(candidates([tmp_path]))
    assert [path.suffix for path in source.files] == [".json", ".json", ".py"]
    others = [lm_eval.FIXTURES, lm_eval.FIXTURES.parent / "lighteval"]
    assert not list(IMPORTER.claim(candidates(others)))
    for name, other in importers().items():
        if name not in ("opencompass", "tabular"):
            assert not list(other.claim(candidates([tmp_path]))), name


def test_an_entry_that_is_no_object_is_rejected_with_its_place(tmp_path: Path) -> None:
    repeated(tmp_path)
    path = tmp_path / STAMP / "predictions" / "tiny-hf" / "math.json"
    path.write_text(json.dumps({"0": asked(0), "1": 7, "2": asked(2)}))
    taken = take(tmp_path)
    assert [item.place for item in taken.dump.rejections] == ["math.json entry 1"]


def test_a_folder_in_a_store(tmp_path: Path, store_url: str) -> None:
    with ingested(store_url, repeated(tmp_path / "work")) as (store, report):
        assert (report.unclaimed, report.total("n_runs")) == ((), 1)
        assert {item.metric: item.verdict for item in report.reconciliation} == {
            "accuracy": "exact",
            "G-Pass@2_1.0": "not_recomputable",
        }
        (row,) = select(
            store,
            "select estimate, n_prompts, n_draws from score_summary where estimate is "
            "not null",
        )
        assert row == {"estimate": 0.5, "n_prompts": 3, "n_draws": 6}
