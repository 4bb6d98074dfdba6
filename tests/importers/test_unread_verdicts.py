"""Judges whose verdict could not be read: tools write the lowest score for it; how many
is told, with bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import inspect_logs, lm_eval
from tests.support.lm_eval import Taken
from warehouse.importers.common.unread_verdicts import UnreadVerdicts
from warehouse.importers.deepeval import IMPORTER as DEEPEVAL
from warehouse.importers.evalscope.rows import _is_unread
from warehouse.importers.opencompass.files import OpenCompassOutput
from warehouse.importers.promptfoo import IMPORTER as PROMPTFOO
from warehouse.records import ImportSettings


def read(importer: Any, path: Path, document: Any) -> Taken:
    path.write_text(json.dumps(document))
    (source,) = importer.claim(lm_eval.candidates([path]))
    taken = Taken(
        importer.read(source, ImportSettings({"model": "org/m", "benchmark": "bot"}))
    )
    taken.rows = [row for batch in taken.dump.batches for row in batch.to_pylist()]  # type: ignore[union-attr]
    return taken


def test_the_bounds_of_what_is_not_known() -> None:
    unread = UnreadVerdicts("a tool")
    for value, is_unread in [(1.0, False)] * 6 + [(0.0, False)] * 2 + [(0.0, True)] * 2:
        unread.add("acc", value, is_unread)
    unread.add("acc", None, True)  # missing anyway
    (note,) = unread.notes()
    assert note.startswith("acc: of 2 of 10 scores no verdict could be read")
    assert note.endswith("between 0.6 and 0.8")


def test_a_verdict_above_the_lowest_score_was_read() -> None:
    unread = UnreadVerdicts("a tool")
    unread.add("acc", 0.0, False)
    unread.add("acc", 1.0, True)
    assert not list(unread.notes())


@pytest.mark.parametrize(
    "explanation",
    ["Grade not found in model output: hm", "Grade not found in model output after 3"],
)
def test_grades_that_inspect_did_not_find(tmp_path: Path, explanation: str) -> None:
    log = json.loads((inspect_logs.FIXTURES / "grid.json").read_text())
    samples = log["samples"]
    scorer = next(iter(samples[0]["scores"]))
    for number, sample in enumerate(samples):
        sample["scores"] = {
            scorer: {"value": "C", "answer": "a", "explanation": "GRADE: C"}
        }
        if number < 2:
            sample["scores"][scorer] = {"value": "I", "explanation": explanation}
    path = tmp_path / "2026-01-02T03-04-05_sums_abc.json"
    path.write_text(json.dumps(log))
    taken = inspect_logs.take(path)
    (note,) = (note for note in taken.dump.notes if "no verdict" in note)
    assert note.startswith(f"{scorer}: of 2 of {len(samples)} scores")


def test_graders_of_promptfoo_that_wrote_no_json(tmp_path: Path) -> None:
    def result(number: int, passed: bool, reason: str) -> dict[str, Any]:
        part = {
            "pass": passed,
            "score": float(passed),
            "reason": reason,
            "assertion": {"type": "llm-rubric"},
        }
        return {
            "promptIdx": 0,
            "testIdx": number,
            "provider": {"id": "acme:fox"},
            "prompt": {"raw": "ask", "label": "ask"},
            "response": {"output": "yes"},
            "gradingResult": {
                "pass": passed,
                "score": float(passed),
                "reason": reason,
                "componentResults": [part],
            },
            "success": passed,
            "score": float(passed),
            "latencyMs": 5,
            "testCase": {
                "vars": {"q": str(number)},
                "assert": [{"type": "llm-rubric", "value": "polite"}],
            },
            "vars": {"q": str(number)},
        }

    results = [
        result(0, True, "fine"),
        result(1, False, "not polite"),
        result(2, False, "Could not extract JSON from llm-rubric response"),
        result(3, True, "fine"),
    ]
    document = {"evalId": "eval-1", "results": {"results": results}, "config": {}}
    notes = read(PROMPTFOO, tmp_path / "out.json", document).dump.notes
    assert [note.partition(":")[0] for note in notes if "no verdict" in note] == [
        "pass",
        "score",
    ]
    assert "1 of 4" in notes[-1] and "between 0.5 and 0.75" in notes[-1]


def test_metrics_of_deepeval_that_broke_off(tmp_path: Path) -> None:
    def case(number: int, metric: dict[str, Any]) -> dict[str, Any]:
        return {
            "name": f"case {number}",
            "input": f"question {number}",
            "actualOutput": "yes",
            "success": metric["success"],
            "metricsData": [
                {
                    "name": "Relevancy",
                    "threshold": 0.5,
                    "evaluationModel": "gpt",
                    **metric,
                }
            ],
        }

    document = {
        "datasetAlias": "bot",
        "testCases": [
            case(0, {"success": True, "score": 0.9}),
            case(1, {"success": False, "score": 0.1}),
            case(
                2,
                {
                    "success": False,
                    "score": None,
                    "error": "Evaluation LLM outputted an invalid JSON",
                },
            ),
        ],
    }
    (note,) = (
        note
        for note in read(DEEPEVAL, tmp_path / "test_run.json", document).dump.notes
        if "no verdict" in note
    )
    assert "1 of 3" in note


@pytest.mark.parametrize(
    ("explanation", "is_unread"),
    [
        ("LLM judge: ", True),
        ("LLM judge: [ERROR] connection refused", True),
        ("LLM judge: I cannot say", True),
        ("LLM judge: A", False),
        ("LLM judge: The answer is INCORRECT", False),
        ("LLM judge: [[0.5]]", False),
        ("rule: no match", False),
        ("None", False),
    ],
)
def test_replies_that_evalscope_scores_as_zero(
    explanation: str, is_unread: bool
) -> None:
    assert _is_unread(explanation) is is_unread


def test_grades_that_opencompass_takes_for_not_attempted() -> None:
    work = OpenCompassOutput.__new__(OpenCompassOutput)
    assert work.is_unread({"origin_grade_response": "no idea", "correct": False})
    assert not work.is_unread({"origin_grade_response": "B", "correct": False})
    assert not work.is_unread(
        {"origin_grade_response": "C: not attempted", "correct": False}
    )
