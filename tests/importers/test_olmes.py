"""OLMES. Files are built as its source writes them (``compute_save_metrics``,
``MCAccuracy``, ``PassAtK``) and as the records of DataDecide are published; values
differ from field to field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller
from tests.support.lm_eval import Taken, take
from tests.support.stores import store_at
from warehouse.errors import InputError
from warehouse.importers.olmes import IMPORTER
from warehouse.ingest.pipeline import ingest
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check

MIX = "dclm-baseline/150M/seed-14/step-25000"


def choices(
    doc: int, label: int, raw: int, uncond: int | None = 0, native: Any = "id"
) -> dict[str, Any]:
    metrics = {
        "predicted_index_raw": 1,
        "predicted_index_uncond": uncond,
        "correct_choice": label,
        "acc_raw": raw,
    }
    metrics |= {
        "acc_uncond": uncond,
        "no_answer": 0,
        "sum_logits_corr": -8.5,
        "bits_per_byte_corr": 0.75,
    }
    outputs = [
        {
            "sum_logits": -3.5 - index,
            "num_tokens": 4 + index,
            "is_greedy": index == 1,
            "sum_logits_uncond": -9.5 - index,
        }
        for index in range(3)
    ]
    hashes = {"task_hash": "t", "model_hash": "m"}
    native_id = f"{native}{doc}" if native else None
    return {
        "doc_id": doc,
        "native_id": native_id,
        "metrics": metrics,
        "model_output": outputs,
        "label": label,
        **hashes,
    }


def metrics_of(
    task: str, primary: str, figures: dict[str, Any], alias: str = "", **model: Any
) -> dict[str, Any]:
    config = {
        "task_name": task, "primary_metric": primary, "num_shots": 5, "fewshot_seed": 1234, "split": "test",
        "generation_kwargs": {"temperature": 0.8, "top_p": 0.95, "max_gen_toks": 512, "repeats": 3},
        "fewshot_source": "OLMES:x", "metadata": {"alias": alias or f"{task}:rc::olmes"},
    }  # fmt: skip
    return {
        "task_name": task,
        "task_hash": "t",
        "model_hash": "m",
        "model_config": {
            "model": "org/tiny",
            "revision": "step1000-tokens4B",
            "model_path": None,
        }
        | model,
        "task_config": config,
        "current_date": "2024-12-19 12:16:07 UTC",
        "num_instances": 2,
        "metrics": figures
        | {"primary_score": figures[primary], "extra_metrics": {"num_tokens": 3.0}},
        "task_idx": 0,
    }


def write(
    folder: Path, stem: str, rows: list[dict[str, Any]], metrics: dict[str, Any] | None
) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{stem}-predictions.jsonl"] if rows else []
    for path in paths:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if metrics:
        paths.append(folder / f"{stem}-metrics.json")
        paths[-1].write_text(json.dumps(metrics))
    return paths


def arc(folder: Path, **model: Any) -> list[Path]:
    rows = [choices(0, 2, 0, 1), choices(1, 1, 1, 0)]
    figures = {
        "acc_raw": 0.5,
        "acc_uncond": 0.5,
        "sum_logits_corr": -8.5,
        "bits_per_byte_corr": 0.75,
    }
    return write(
        folder,
        "task-000-arc_challenge",
        rows,
        metrics_of("arc_challenge", "acc_uncond", figures, **model),
    )


def values(taken: Taken, metric: str) -> dict[tuple[str, int], Any]:
    return {
        (row["prompt_id"], row["draw"]): score["value"]
        for row in taken.rows
        for score in row["scores"]
        if score["metric"] == metric
    }


def test_options_of_a_task(tmp_path: Path) -> None:
    paths = arc(tmp_path)
    paths.append(tmp_path / "task-000-arc_challenge-requests.jsonl")
    asked = {"query": "Which?", "choices": ["a", "b", "c"]}
    lines = [
        {
            "doc_id": 0,
            "idx": n,
            "doc": asked,
            "request": {"context": "Q: Which?", "continuation": " a"},
        }
        for n in (0, 1)
    ]
    paths[-1].write_text("".join(json.dumps(line) + "\n" for line in lines))
    taken = take(*paths, importer=IMPORTER)
    (run,) = taken.dump.runs
    assert (run.model, run.revision, run.step) == (
        "org/tiny",
        "step1000-tokens4B",
        1000,
    )
    assert (run.benchmark, run.formulation, run.fewshot, run.split) == (
        "arc_challenge",
        "cloze",
        5,
        "test",
    )
    assert (run.temperature, run.top_p, run.max_tokens, run.sampling) == (
        0.8,
        0.95,
        512,
        {"repeats": 3},
    )
    assert str(run.started_at) == "2024-12-19 12:16:07"
    found = {
        spec.name: (spec.kind, spec.higher_is_better, spec.is_default)
        for spec in run.metrics
    }
    assert found == {
        "acc_raw": ("binary", True, False),
        "acc_uncond": ("binary", True, True),
        "sum_logits_corr": ("continuous", True, False),
        "bits_per_byte_corr": ("continuous", False, False),
    }
    assert {figure.metric: (figure.value, figure.n) for figure in run.published}[
        "acc_uncond"
    ] == (0.5, 2)
    assert values(taken, "acc_uncond") == {("id0", 0): 1.0, ("id1", 0): 0.0}
    first, second = taken.rows
    assert (first["text"], json.loads(first["choices"]), first["prompt_sent"]) == (
        "Which?",
        ["a", "b", "c"],
        "Q: Which?",
    )
    assert (first["target"], second["text"]) == ("2", None)
    assert [
        (c["loglikelihood"], c["n_tokens"], c["is_target"])
        for c in first["choice_scores"]
    ] == [
        (-3.5, 4, False),
        (-4.5, 5, False),
        (-5.5, 6, True),
    ]


def test_generations_together_and_the_first(tmp_path: Path) -> None:
    outputs = [
        {"continuation": f"said {n}", "model_answer": str(n), "num_tokens": 7 + n}
        for n in range(3)
    ]
    metrics = {
        "pass_at_1": 1 / 3,
        "exact_match": 1.0,
        "num_tokens": 8.0,
        "maj_at_3": 0.0,
        "voted_ans_at_3": "2",
    }
    row = {
        "doc_id": 0,
        "native_id": "a",
        "metrics": metrics,
        "model_output": outputs,
        "label": "4",
    }
    figures = {"pass_at_1": 1 / 3, "exact_match": 1.0, "maj_at_3": 0.0}
    taken = take(
        *write(
            tmp_path, "task-001-gsm8k", [row], metrics_of("gsm8k", "pass_at_1", figures)
        ),
        importer=IMPORTER,
    )
    assert taken.dump.runs[0].formulation == "generate_until"
    assert [
        (row["draw"], row["response"], row["output_tokens"]) for row in taken.rows
    ] == [
        (0, "said 0", 7),
        (1, "said 1", 8),
        (2, "said 2", 9),
        (-1, None, None),
    ]
    assert values(taken, "exact_match") == {("a", 0): 1.0}
    assert values(taken, "pass_at_1") == {("a", -1): 1 / 3}
    assert {score["n_draws"] for score in taken.rows[3]["scores"]} == {3}


@pytest.mark.parametrize(
    ("name", "path", "model", "step"),
    [
        ("/weights/org/tiny/step81352-hf", None, "tiny", 81352),
        ("/weights/org/tiny-hf", None, "tiny-hf", None),
        (None, "/weights/tiny/step7", "tiny", 7),
    ],
)
def test_a_model_by_the_folder_of_its_weights(
    tmp_path: Path, name: Any, path: Any, model: str, step: Any
) -> None:
    (run,) = take(
        *arc(tmp_path, model=name, model_path=path, revision=None), importer=IMPORTER
    ).dump.runs
    assert (run.model, run.step) == (model, step)


def test_letters_are_another_formulation_of_the_same_benchmark(tmp_path: Path) -> None:
    metrics = metrics_of(
        "arc_challenge:mc", "acc_raw", {"acc_raw": 0.5}, alias="arc_challenge:mc::olmes"
    )
    paths = write(
        tmp_path, "task-000-arc_challenge:mc", [choices(0, 1, 1, None)], metrics
    )
    (run,) = take(*paths, importer=IMPORTER).dump.runs
    assert (run.benchmark, run.formulation) == ("arc_challenge", "multiple_choice")
    assert "acc_uncond" not in {spec.name for spec in run.metrics}


@pytest.mark.parametrize("native", ["", "same"])
def test_prompts_without_ids_of_their_own_go_by_the_number(
    tmp_path: Path, native: str
) -> None:
    rows = [choices(0, 1, 1, native=native), choices(5, 1, 0, native=native)]
    rows[1]["native_id"] = rows[0]["native_id"]
    taken = take(*write(tmp_path, "x", rows, None), importer=IMPORTER, model="m")
    assert values(taken, "acc_raw") == {("0", 0): 1.0, ("5", 0): 0.0}


def test_either_alone(tmp_path: Path) -> None:
    predictions, metrics = arc(tmp_path)
    with pytest.raises(InputError, match="names the model"):
        take(predictions, importer=IMPORTER)
    assert len(take(predictions, importer=IMPORTER, model="m").rows) == 2
    taken = take(metrics, importer=IMPORTER)
    assert (
        taken.rows,
        len(taken.dump.runs[0].published),
        taken.dump.runs[0].formulation,
    ) == ([], 4, None)


def test_a_release_of_datadecide(tmp_path: Path, run: Caller) -> None:
    """Recipe, size, seed and step are those of the folders; the metrics call the model
    by its makers' folder."""
    for mix, good in (("dclm-baseline", 1), ("c4", 0)):
        for seed in (14, 15):
            rows = [
                choices(n, 1, good if n % 3 else int(seed == 14), good)
                for n in range(40)
            ]
            folder = (
                tmp_path
                / "models"
                / MIX.replace("dclm-baseline", mix).replace("14", str(seed))
            )
            share = sum(row["metrics"]["acc_raw"] for row in rows) / 40
            metrics = metrics_of(
                "mmlu_law", "acc_raw", {"acc_raw": share}, model="/internal/x"
            )
            write(folder, "mmlu_law", rows, metrics)
    url = store_at(tmp_path / "store.duckdb")
    with open_store(url, write=True) as store:
        report = ingest(store, [tmp_path / "models"])
        assert (report.refused, report.unclaimed, report.total("n_runs")) == ((), (), 4)
        assert {row.verdict for row in report.reconciliation} == {"exact"}
        columns = "model, recipe, training_seed, position, parameter_count"
        first = store.rows(
            f"select {columns} from run_current order by model, training_seed"
        )[0]
        assert list(first.values()) == ["c4-150M", "c4", "14", 25000, 150_000_000]
        assert check(store).ok
    assert (
        "dclm-baseline may be better (leans) on mmlu_law"
        in run("training", "decide", "dclm-baseline", "c4", db=url).out
    )


def test_a_damaged_row_is_rejected_with_its_place(tmp_path: Path) -> None:
    predictions, _ = arc(tmp_path)
    predictions.write_text(
        predictions.read_text()
        + '{"doc_id": {}, "metrics": {}, "model_output": []}\n{"doc_id": 3}\n'
    )
    taken = take(*predictions.parent.glob("task*"), importer=IMPORTER)
    assert [item.place.rpartition(" ")[2] for item in taken.dump.rejections] == [
        "3",
        "4",
    ]
