"""Shapes of older logs, states of runs, and what the header says in its corners."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.inspect_logs import FIXTURES, by_draw, scores_by, take
from tests.support.tabular import candidate
from warehouse.errors import InputError
from warehouse.importers.inspect.header import n_requested
from warehouse.importers.inspect.importer import IMPORTER
from warehouse.importers.inspect.sample_fields import as_score
from warehouse.records import parse_json

Document = dict[str, Any]


@pytest.fixture
def document() -> Document:
    """The grid's log, with what strict JSON lacks as null."""
    found: Document = parse_json((FIXTURES / "grid.json").read_bytes())
    return found


def written(folder: Path, document: Document, **layout: Any) -> Path:
    path = folder / "a.json"
    path.write_text(json.dumps(document, **layout), encoding="utf-8")
    return path


def first_of(document: Document) -> Document:
    """The sample q/1 in its first epoch."""
    found: Document = next(
        item
        for item in document["samples"]
        if (item["id"], item["epoch"]) == ("q/1", 1)
    )
    return found


def run_of(folder: Path, document: Document) -> Any:
    return take(written(folder, document)).dump.runs[0]


def test_the_oldest_shape_has_one_score_and_one_scorer(
    tmp_path: Path, document: Document
) -> None:
    for sample in document["samples"]:
        sample["score"] = sample.pop("scores")["match"]
    document["results"] = {
        "scorer": {"name": "match", "params": {"location": "end"}},
        "metrics": {
            "accuracy": {"name": "accuracy", "value": 0.25, "options": {}},
            "stderr": {"name": "stderr", "value": 0.125, "options": {}},
        },
        "sample_reductions": document.pop("reductions"),
    }
    del (
        document["eval"]["eval_id"],
        document["eval"]["scorers"],
        document["eval"]["packages"],
    )
    taken = take(written(tmp_path, document))
    (run,) = taken.dump.runs
    assert scores_by(by_draw(taken)["q/1", 0])["match", ""]["value"] == 1.0
    (figure,) = run.published
    assert (figure.metric, figure.value, figure.standard_error) == (
        "match",
        0.25,
        0.125,
    )
    assert run.metrics[0].scorer_parameters == {"location": "end"}
    assert {row["draw"] for row in taken.rows} == {-1, 0, 1, 2}


def test_the_bootstrapped_standard_error_of_old_logs(
    tmp_path: Path, document: Document
) -> None:
    document["results"]["scores"] = [
        {
            "name": "match",
            "scorer": "match",
            "params": {},
            "metrics": {
                "accuracy": {"name": "accuracy", "value": 0.25, "options": {}},
                "bootstrap_std": {
                    "name": "bootstrap_std",
                    "value": 0.125,
                    "options": {},
                },
            },
        }
    ]
    (figure,) = run_of(tmp_path, document).published
    assert (figure.statistic, figure.value, figure.standard_error) == (
        "mean",
        0.25,
        0.125,
    )


def test_other_orders_blanks_and_a_mark_do_not_matter(
    tmp_path: Path, document: Document
) -> None:
    expected = take(FIXTURES / "grid.json").rows
    samples = document.pop("samples")
    document["samples"] = samples
    assert take(written(tmp_path, document, indent=4)).rows == expected
    path = written(tmp_path, document)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    taken = take(path)
    assert taken.rows == expected
    assert taken.dump.notes == ["begins with a byte-order mark"]


def test_a_log_whose_keys_were_sorted(tmp_path: Path, document: Document) -> None:
    plain = take(FIXTURES / "grid.json")
    found = take(written(tmp_path, document, sort_keys=True))
    for name in ("prompt_id", "draw", "response", "output_tokens"):
        assert [row[name] for row in found.rows] == [row[name] for row in plain.rows]
    assert [scores_by(row) for row in found.rows] == [
        scores_by(row) for row in plain.rows
    ]
    assert found.dump.runs[0].published == plain.dump.runs[0].published


def test_other_documents_with_eval_first_are_no_logs(tmp_path: Path) -> None:
    path = written(
        tmp_path, {"eval": {"HumanEval/0": [{"base_status": "pass"}]}, "hash": "x"}
    )
    assert not list(IMPORTER.claim([candidate(path)]))


@pytest.mark.parametrize("cut", [1, 50, 20_000])
def test_a_file_cut_short_is_refused(
    tmp_path: Path, document: Document, cut: int
) -> None:
    path = written(tmp_path, document)
    path.write_text(path.read_text()[:-cut])
    with pytest.raises(InputError, match="complete JSON object"):
        take(path)


def test_a_bad_sample_of_a_json_log_is_rejected_with_its_line(
    tmp_path: Path, document: Document
) -> None:
    document["samples"][4]["id"] = None
    taken = take(written(tmp_path, document, indent=0))
    (rejection,) = taken.dump.rejections
    assert rejection.place.startswith("sample 5, line ")
    line = int(rejection.place.rpartition(" ")[2])
    assert (tmp_path / "a.json").read_text().splitlines()[line - 1] == "{"
    assert sum(row["draw"] >= 0 for row in taken.rows) == 8


def test_states_of_a_run(tmp_path: Path, document: Document) -> None:
    def status(**changes: Any) -> str:
        return str(run_of(tmp_path, {**document, **changes}).status)

    few = document["samples"][:4]
    assert status() == "complete"
    assert status(samples=few) == "truncated"
    assert status(status="error") == "failed"
    assert status(status="cancelled") == "complete"  # all its samples were done
    assert status(status="cancelled", results=None, samples=few) == "truncated"
    assert status(status="started", results=None, samples=few) == "truncated"
    assert status(status="started", results=None, samples=[]) == "truncated"
    assert status(samples=[]) == "complete"  # figures without samples


def test_a_run_without_samples_keeps_its_figures(
    tmp_path: Path, document: Document
) -> None:
    taken = take(written(tmp_path, {**document, "samples": None}))
    assert taken.rows == []
    assert (
        taken.dump.runs[0].published
        == take(FIXTURES / "grid.json").dump.runs[0].published
    )


def test_a_run_that_nothing_scored_has_no_metrics(
    tmp_path: Path, document: Document
) -> None:
    for sample in document["samples"]:
        sample["scores"] = None
    document |= {
        "results": {"total_samples": 9, "completed_samples": 9, "scores": []},
        "reductions": None,
    }
    taken = take(written(tmp_path, document))
    assert taken.dump.runs[0].metrics == ()
    assert {len(row["scores"]) for row in taken.rows} == {0}


def test_an_invalidated_sample_does_not_count(
    tmp_path: Path, document: Document
) -> None:
    first_of(document)["invalidation"] = {"author": "ada", "reason": "wrong prompt"}
    taken = take(written(tmp_path, document))
    row = by_draw(taken)["q/1", 0]
    score = scores_by(row)["match", ""]
    assert (score["value"], score["status"], score["raw"]) == (None, "error", "C")
    assert row["error"] == "invalidated: wrong prompt"
    assert taken.dump.notes == ["1 samples were invalidated: not scored"]


def test_an_object_that_is_unscored_stands_for_each_of_its_keys(
    tmp_path: Path, document: Document
) -> None:
    first_of(document)["scores"]["rubric"]["value"] = None
    row = by_draw(take(written(tmp_path, document)))["q/1", 0]
    scores = scores_by(row)
    assert scores["rubric.style", ""]["value"] is None
    assert scores["rubric.facts", ""]["status"] == "error"
    assert ("rubric", "") not in scores


def test_two_scores_of_one_name_are_rejected(
    tmp_path: Path, document: Document
) -> None:
    first_of(document)["scores"]["rubric.style"] = {"value": 9.0}
    taken = take(written(tmp_path, document))
    (rejection,) = taken.dump.rejections
    assert rejection.found == "two of its scores would be called rubric.style"
    assert ("q/1", 0) not in by_draw(taken)


def test_one_reducer_of_one_epoch_is_the_value_itself(tmp_path: Path) -> None:
    document = parse_json((FIXTURES / "grid.json").read_bytes())
    document["eval"]["config"] |= {"epochs": 1, "epochs_reducer": ["mode"]}
    document["samples"] = [item for item in document["samples"] if item["epoch"] == 1]
    document["results"]["scores"] = [
        {**entry, "reducer": "mode"}
        for entry in document["results"]["scores"]
        if entry["reducer"] == "mean"
    ]
    taken = take(written(tmp_path, document))
    assert {row["draw"] for row in taken.rows} == {0}
    assert {row.filter for row in taken.dump.runs[0].published} == {""}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {
                "dataset": {"samples": 100, "sample_ids": [1, 2, 3]},
                "config": {"limit": 3},
            },
            3,
        ),
        ({"dataset": {"samples": 100}, "config": {"limit": 7}}, 7),
        ({"dataset": {"samples": 5}, "config": {"limit": 7}}, 5),
        ({"dataset": {"samples": 100}, "config": {"limit": [10, 25]}}, 15),
        ({"dataset": {"samples": 100}, "config": {"sample_id": ["a", "b"]}}, 2),
        ({"dataset": {"samples": 100}, "config": {"sample_id": 4}}, 1),
        ({"dataset": {"samples": 100}, "config": None}, 100),
        ({"dataset": {}}, None),
    ],
)
def test_how_many_prompts_were_asked_for(spec: Document, expected: int | None) -> None:
    assert n_requested(spec) == expected


def test_agents_roles_shots_and_arguments_make_the_condition(
    tmp_path: Path, document: Document
) -> None:
    document["plan"]["steps"] = [
        {
            "solver": "inspect_evals/react",
            "params": {"attempts": 3, "tools": [{"name": "bash"}]},
        }
    ]
    document["eval"] |= {
        "task_args": {"fewshot": 5, "fewshot_seed": 42, "level": "hard"},
        "model_args": {
            "revision": "step-4000",
            "device": "cuda:1",
            "dtype": "bfloat16",
        },
        "model_roles": {
            "critic": {"model": "org/critic", "args": {}},
            "grader": [{"model": "org/a"}, {"model": "org/b"}],
        },
        "model_base_url": "http://localhost:8000/v1",
    }
    run = run_of(tmp_path, document)
    assert (run.agent, run.agent_parameters) == ("react", {"attempts": 3})
    assert (run.fewshot, run.fewshot_seed, run.endpoint) == (5, 42, None)
    assert (run.revision, run.step) == ("step-4000", 4000)
    assert run.sampling["model_args"] == {"dtype": "bfloat16"}
    assert run.sampling["task_args"] == {
        "fewshot": 5,
        "fewshot_seed": 42,
        "level": "hard",
    }
    assert run.sampling["model_roles"] == {"critic": "org/critic"}
    specs = {spec.name: spec for spec in run.metrics}
    assert (
        specs["length"].judge_model == "org/a, org/b"
    )  # a scorer of the user's may ask it
    assert specs["match"].judge_model == ""


def test_a_log_must_name_model_and_task(tmp_path: Path, document: Document) -> None:
    for name, value in (("model", "org/m"), ("benchmark", "b")):
        key = {"model": "model", "benchmark": "task"}[name]
        damaged = {**document, "eval": {**document["eval"], key: None}}
        with pytest.raises(InputError, match=f"--default {name}="):
            take(written(tmp_path, damaged))
        assert take(written(tmp_path, damaged), **{name: value}).rows


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("C", 1.0),
        ("I", 0.0),
        ("P", 0.5),
        ("N", 0.0),
        ("True", 1.0),
        ("no", 0.0),
        ("1e-2", 0.01),
        (3, 3.0),
        (False, 0.0),
        ("c", None),
        ("nan", None),
        ("inf", None),
        (float("inf"), None),
        ({}, None),
        (None, None),
    ],
)
def test_numbers_of_values_are_those_of_the_reference(
    value: Any, number: float | None
) -> None:
    """As ``inspect_ai.scorer.value_to_float``, which makes 0 of what it cannot read."""
    score = as_score("m", value)
    assert score["value"] == number
    assert (number is None) == (score["status"] in ("error", "not_scalar"))
