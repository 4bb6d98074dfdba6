"""Every Eval Ever: evaluations of other tools, held against the published schema when
they are made (``tests/support/every_eval_ever.py``), and what ``warehouse store export``
writes, held to it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller
from tests.support.every_eval_ever import (
    STEM,
    evaluation,
    result,
    sample,
    schema,
    take,
    write,
)
from tests.support.lm_eval import FIXTURES as LM_EVAL
from tests.support.lm_eval import candidates
from tests.support.mutants import swapped
from tests.support.stores import select, store_at
from warehouse import connect
from warehouse.errors import InputError, MisuseError
from warehouse.importers import importers
from warehouse.importers.every_eval_ever.importer import IMPORTER
from warehouse.ingest.pipeline import ingest
from warehouse.interchange.every_eval_ever import export
from warehouse.store.connection import Store
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check

LIGHTEVAL = LM_EVAL.parent / "lighteval"
#: Of lm_eval, what is enough to fill every table of samples.
VERSIONS = ("v0_4_13", "v0_4_9", "v0_4_5", "v0_3")


# --- of other tools --------------------------------------------------------------------------


def test_what_an_evaluation_says(tmp_path: Path) -> None:
    (run,) = take(write(tmp_path, evaluation(), sample())).dump.runs
    assert (run.harness, run.harness_version, run.model) == (
        "lm_eval",
        "0.4.13",
        "org/m",
    )
    assert (run.developer, run.endpoint, run.revision, run.step) == (
        "Org",
        "host",
        "step50",
        50,
    )
    assert (run.benchmark, run.suite, run.split) == ("geo maps", ("maps",), "test")
    assert (run.temperature, run.top_p, run.max_tokens) == (0.75, 0.875, 77)
    assert run.sampling["top_k"] == 5 and run.sampling["reasoning"] is True
    assert (
        run.configuration["generation_config"]["generation_args"]["max_attempts"] == 3
    )
    assert run.template_hash is not None
    assert (run.run_id, run.n_requested) == ("maps/org_m/1750000001", 7)
    assert (
        run.started_at is not None
        and run.started_at.isoformat() == "2025-06-15T15:06:40"
    )
    (spec,) = run.metrics
    assert (spec.name, spec.kind, spec.low, spec.high) == (
        "accuracy",
        "bounded",
        0.0,
        1.0,
    )
    assert (spec.higher_is_better, spec.unit, spec.is_default) == (
        True,
        "proportion",
        True,
    )
    (row,) = run.published
    assert (row.metric, row.value, row.standard_error, row.n) == (
        "accuracy",
        0.5,
        0.25,
        2,
    )


def test_a_sample(tmp_path: Path) -> None:
    (row,) = take(write(tmp_path, evaluation(), sample(3, 0.25))).rows
    assert (row["prompt_id"], row["text"], row["target"]) == (
        "q3",
        "question 3",
        "right 3",
    )
    assert json.loads(row["choices"]) == ["x", "right 3"]
    assert (row["prompt_sent"], row["response"]) == ("sent 3", "I say 3")
    assert row["extracted_answer"] == "say 3"
    assert (row["input_tokens"], row["output_tokens"], row["latency"]) == (
        13,
        23,
        1.503,
    )
    assert json.loads(row["metadata"]) == {"subject": "subject 3"}
    (score,) = row["scores"]
    assert (score["metric"], score["value"]) == ("accuracy", 0.25)


def test_rows_of_several_metrics_go_to_their_results(tmp_path: Path) -> None:
    judge = {
        "llm_scoring": {
            "input_prompt": "rate",
            "aggregation_method": "median",
            "judges": [
                {
                    "model_info": {
                        "name": "J",
                        "id": "org/judge",
                        "additional_details": {
                            "deployment_type": "unknown",
                            "model_availability": "unknown",
                        },
                    }
                }
            ],
        },
        "metric_id": "f1",
        "lower_is_better": True,
        "score_type": "binary",
    }
    document = evaluation(result(), result("f1", metric_config=judge))
    lines = [sample(1), sample(1, 0.0, evaluation_result_id="maps,f1")]
    taken = take(write(tmp_path, document, *lines))
    (run,) = taken.dump.runs
    spec = run.metrics[1]
    assert (spec.scorer_kind, spec.judge_model, spec.kind) == (
        "model",
        "org/judge",
        "binary",
    )
    assert (
        spec.higher_is_better is False
        and spec.scorer_parameters["aggregation_method"] == "median"
    )
    assert [
        (row["position"], row["scores"][0]["metric"], row["scores"][0]["value"])
        for row in taken.rows
    ] == [
        (0, "accuracy", 1.0),
        (0, "f1", 0.0),
    ]


@pytest.mark.parametrize(
    "ids", [("match:acc", "includes:acc"), ("includes:acc", "match:acc")]
)
def test_scorers_of_one_metric_are_told_apart_in_any_order(
    tmp_path: Path, ids: tuple[str, str]
) -> None:
    """As converters of Inspect write them; reducers of one scorer even share the id."""
    document = evaluation(
        *(result(evaluation_result_id=name) for name in (*ids, ids[1]))
    )
    taken = take(write(tmp_path, document, sample(evaluation_result_id=ids[0])))
    assert [spec.filter for spec in taken.dump.runs[0].metrics] == [*ids, f"{ids[1]} 2"]
    assert taken.rows[0]["scores"][0]["filter"] == ids[0]


@pytest.mark.parametrize(
    ("error", "status"), [("sandbox down", "error"), (None, "not_scalar")]
)
def test_a_sample_that_counts_in_no_result_has_no_score(
    tmp_path: Path, error: str | None, status: str
) -> None:
    """Converters fill in 0 for what failed and for values that are no numbers."""
    failed = sample(2, 0.0, error=error)
    del failed["evaluation_result_id"]
    (score,) = take(write(tmp_path, evaluation(), sample(1), failed)).rows[1]["scores"]
    assert (score["metric"], score["value"], score["status"]) == (
        "accuracy",
        None,
        status,
    )


def test_a_scorers_name_does_not_join_benchmarks(tmp_path: Path) -> None:
    """Converters of Inspect put the scorer where the evaluation's name belongs."""
    first = result(evaluation_name="choice", evaluation_result_id="1")
    other = result(
        evaluation_name="choice",
        evaluation_result_id="2",
        source_data={"dataset_name": "seas", "source_type": "other"},
    )
    runs = take(write(tmp_path, evaluation(first, other))).dump.runs
    assert [run.benchmark for run in runs] == ["maps/choice", "seas/choice"]
    assert [run.split for run in runs] == ["test", ""]


def test_percent_with_bounds_of_shares_has_no_bounds(tmp_path: Path) -> None:
    dump = take(write(tmp_path, evaluation(result(score=82.5)))).dump
    (spec,) = dump.runs[0].metrics
    assert (spec.kind, spec.low, spec.high) == (None, None, None)
    assert "82.5 is outside of the stated bounds [0.0, 1.0]" in dump.notes[0]


def test_conversations_and_several_texts(tmp_path: Path) -> None:
    said = [
        {"turn_idx": 0, "role": "user", "content": "hello"},
        {"turn_idx": 1, "role": "assistant", "content": "done"},
    ]
    talk = sample(
        1, interaction_type="multi_turn", output=None, messages=said, error="timeout"
    )
    lines = [
        talk,
        sample(2, output={"raw": ["one", "two"]}),
        sample(3, metadata={"epoch": "2"}),
    ]
    rows = take(write(tmp_path, evaluation(), *lines)).rows
    assert (rows[0]["response"], rows[0]["error"]) == ("done", "timeout")
    assert json.loads(rows[0]["prompt_sent"]) == said[:1]
    assert [(row["draw"], row["response"]) for row in rows[1:4]] == [
        (0, "one"),
        (1, "two"),
        (-1, None),
    ]
    assert rows[3]["scores"][0]["value"] == 1.0 and not rows[1]["scores"]
    assert (rows[4]["prompt_id"], rows[4]["draw"]) == ("q3", 1)


def test_samples_alone_and_evaluations_alone(tmp_path: Path) -> None:
    others = [
        sample(evaluation_result_id="maps,f1", score=0.5),
        sample(evaluation_name="geo seas"),
    ]
    taken = take(write(tmp_path / "a", None, sample(), *others))
    run, seas = taken.dump.runs
    assert (run.model, run.benchmark, run.harness) == (
        "org/m",
        "geo maps",
        "every_eval_ever",
    )
    assert ([spec.name for spec in run.metrics], seas.benchmark) == (
        ["maps,accuracy", "maps,f1"],
        "geo seas",
    )
    scores = [
        (row["run"], row["scores"][0]["metric"], row["scores"][0]["value"])
        for row in taken.rows
    ]
    assert scores == [
        (0, "maps,accuracy", 1.0),
        (0, "maps,f1", 0.5),
        (1, "maps,accuracy", 1.0),
    ]
    taken = take(write(tmp_path / "b", evaluation()))
    assert taken.rows == [] and taken.dump.runs[0].published[0].value == 0.5


def test_bad_lines_are_rejected_with_their_number(tmp_path: Path) -> None:
    out = write(tmp_path, evaluation(), sample(1))
    path = next(out.rglob("*.jsonl"))
    unscored = sample(2)
    del unscored["evaluation"]
    path.write_text(path.read_text() + "{broken\n" + json.dumps(unscored) + "\n")
    taken = take(out)
    assert len(taken.rows) == 1
    found = [
        item.place.removeprefix(f"{STEM}_samples.jsonl ")
        for item in taken.dump.rejections
    ]
    assert found == ["line 2", "sample 2"]


def test_only_its_own_files_are_claimed(tmp_path: Path) -> None:
    out = write(tmp_path, evaluation(), sample())
    (source,) = IMPORTER.claim(candidates([out]))
    assert [path.suffix for path in source.files] == [".json", ".jsonl"]
    assert not list(IMPORTER.claim(candidates([LM_EVAL, LIGHTEVAL])))
    for name, other in importers().items():
        if name not in ("every_eval_ever", "tabular"):
            assert not list(other.claim(candidates([out]))), name


# --- of our own ------------------------------------------------------------------------------

FACTS = """
select condition_key, content_digest, n_found, n_generations, n_choices, n_scores, formulation,
    fewshot, temperature, sampling_seed, n_benchmark, n_requested, status
from run order by condition_key, content_digest
"""
SCORES = """
select run.condition_key, prompt.key, prompt.occurrence, prompt.text, prompt.target,
    variant.template, fact.draw, metric.name, metric.filter, metric.link, fact.value, fact.weight,
    fact.n_draws,
    fact.raw, fact.status, fact.origin
from score fact
join run on run.id = fact.run_id
join prompt on prompt.id = fact.prompt_id
join metric on metric.id = fact.metric_id
join prompt_variant variant on variant.id = fact.variant_id
order by 1, 2, 3
"""
SAID = """
select run.condition_key, prompt.key, fact.draw, sent.text as sent, answer.text as answer,
    fact.extracted_answer, fact.finish_reason, fact.input_tokens, fact.output_tokens, fact.error,
    fact.explanation
from generation fact
join run on run.id = fact.run_id
join prompt on prompt.id = fact.prompt_id
left join content sent on sent.sha256 = fact.prompt_hash
left join content answer on answer.sha256 = fact.response_hash
order by 1, 2, 3, 5
"""
OPTIONS = """
select run.condition_key, prompt.key, fact.choice_index, fact.loglikelihood, fact.is_target,
    fact.unconditional_loglikelihood, fact.is_greedy, fact.n_tokens, fact.n_bytes
from choice fact
join run on run.id = fact.run_id
join prompt on prompt.id = fact.prompt_id
order by 1, 2, 3
"""
FIGURES = """
select benchmark, metric, estimate, standard_error, n_prompts, is_default, higher_is_better
from score_summary order by 1, 2, 3
"""


@pytest.mark.rare
def test_a_store_comes_back_as_it_was(tmp_path: Path, store_url: str) -> None:
    with open_store(store_url, create=True, write=True) as store:
        ingest(store, [LIGHTEVAL / "v0.13", *(LM_EVAL / name for name in VERSIONS)])
        report = export(store, tmp_path / "out", now=1e9)
        before = [
            told(store, query) for query in (FACTS, SCORES, SAID, OPTIONS, FIGURES)
        ]
        again = ingest(store, [tmp_path / "out"])
        assert again.total("n_runs") == 0 and again.unclaimed == ()
        assert again.total("n_seen_again") == report.n_runs == len(before[0]) > 10
    assert report.n_rows > 50 and report.n_unscored > 0
    hold_to_schema(tmp_path / "out")
    with open_store(store_at(tmp_path / "other.duckdb"), write=True) as store:
        back = ingest(store, [tmp_path / "out"])
        assert (back.total("n_runs"), back.refused) == (report.n_runs, ())
        after = [
            told(store, query) for query in (FACTS, SCORES, SAID, OPTIONS, FIGURES)
        ]
        assert after == before and all(after)
        assert {item.verdict for item in back.reconciliation} == {
            "exact",
            "not_recomputable",
        }
        assert check(store).ok
        twice = export(store, tmp_path / "twice", now=1e9)
        assert names(twice.folder) == names(report.folder)


def told(store: Store, query: str) -> list[str]:
    """Rows as texts, in an order that is not the engine's; figures to 12 digits."""
    rows = (
        {
            name: float(f"{value:.12g}") if isinstance(value, float) else value
            for name, value in row.items()
        }
        for row in select(store, query)
    )
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def names(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def hold_to_schema(folder: Path) -> None:
    kinds = {".json": "eval", ".jsonl": "instance_level_eval"}
    found = dict.fromkeys(kinds, 0)
    for path in (folder / "data").rglob("*.*"):
        if path.suffix in kinds:
            texts = (
                path.read_text().splitlines()
                if path.suffix == ".jsonl"
                else [path.read_text()]
            )
            for text in texts:
                schema(kinds[path.suffix]).validate(json.loads(text))
                found[path.suffix] += 1
    assert all(found.values())


def test_what_an_export_says_to_others(tmp_path: Path) -> None:
    url = store_at(tmp_path / "one.duckdb")
    with open_store(url, write=True) as store:
        ingest(store, [write(tmp_path, evaluation(), sample(1, 1.0), sample(2, 0.25))])
        export(store, tmp_path / "out", now=1e9)
    (path,) = (tmp_path / "out" / "data").rglob("*.json")
    document = json.loads(path.read_text())
    assert path.parent == tmp_path / "out" / "data" / "geo_maps" / "org" / "m"
    assert (document["model_info"]["id"], document["retrieved_timestamp"]) == (
        "org/m",
        "1000000000.0",
    )
    (entry,) = document["evaluation_results"]
    assert entry["score_details"]["score"] == 0.625
    assert entry["score_details"]["uncertainty"]["standard_error"]["value"] == 0.375
    assert entry["metric_config"]["max_score"] == 1.0
    assert entry["generation_config"]["generation_args"]["temperature"] == 0.75
    samples = path.with_name(f"{path.stem}_samples.jsonl")
    detailed = document["detailed_evaluation_results"]
    assert detailed["file_path"] == samples.relative_to(tmp_path / "out").as_posix()
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    assert detailed["total_rows"] == len(lines) == 2
    assert [line["evaluation"] for line in lines] == [
        {"score": 1.0, "is_correct": True},
        {"score": 0.25, "is_correct": False},
    ]
    assert lines[0]["sample_id"] == "q1" and lines[0]["output"]["raw"] == ["I say 1"]
    assert lines[0]["input"]["formatted"] == "sent 1"
    assert lines[0]["token_usage"]["total_tokens"] == 32


def test_export_from_the_command_line(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    run("ingest", str(write(tmp_path, evaluation(), sample())), db=store_url)
    out = tmp_path / "out"
    done = run("store", "export", "--format", "every-eval-ever", str(out), db=store_url)
    assert done.code == 0 and done.out.startswith("1 evaluations, 1 sample rows")
    run("store", "export", "--format", "every-eval-ever", str(out), db=store_url).fails(
        2, "not empty"
    )
    run("store", "export", "--format", "every-eval-ever", db=store_url).fails(
        2, "say one folder"
    )
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    again = ("store", "export", "--overwrite", "--format", "every-eval-ever")
    assert run(*again, str(out), db=store_url).code == 0
    run(*again, str(tmp_path / "full"), db=store_url).fails(2, "left alone")


def test_an_export_from_python_is_that_of_the_command(
    run: Caller, duckdb_url: str, tmp_path: Path
) -> None:
    run("ingest", str(write(tmp_path, evaluation(), sample())), db=duckdb_url)
    report = connect(duckdb_url).export_every_eval_ever(tmp_path / "python", now=1e9)
    assert (report.n_runs, report.n_rows) == (1, 1)
    run(
        "store",
        "export",
        "--format",
        "every-eval-ever",
        str(tmp_path / "shell"),
        db=duckdb_url,
    )
    (ours,), (theirs,) = (
        sorted((tmp_path / name / "data").rglob("*_samples.jsonl"))
        for name in ("python", "shell")
    )
    assert ours.name == theirs.name and ours.read_text() == theirs.read_text()


def test_a_store_without_runs_has_nothing_to_export(tmp_path: Path) -> None:
    with (
        open_store(store_at(tmp_path / "none.duckdb"), write=True) as store,
        pytest.raises(MisuseError, match="nothing to export"),
    ):
        export(store, tmp_path / "out", now=1e9)
    assert not (tmp_path / "out").exists()


def test_parts_of_our_own_details_replaced_at_random_stop_nothing(
    tmp_path: Path,
) -> None:
    """They are JSON inside a text, which `tests/ingest/test_broken_dumps.py` does not
    look into."""
    out = write(tmp_path, evaluation(), sample(1), sample(2, 0.5))
    with open_store(store_at(tmp_path / "m.duckdb"), write=True) as store:
        ingest(store, [out])
        out = export(store, tmp_path / "out", now=1e9).folder
    rng = random.Random(True)
    texts = {
        path: path.read_text().splitlines()
        if path.suffix == ".jsonl"
        else [path.read_text()]
        for path in sorted(out.rglob("*.json*"))
        if path.name[0] != "."
    }
    for _ in range(50):
        path = rng.choice(sorted(texts))
        changed = [changed_line(text, rng) for text in texts[path]]
        path.write_text("\n".join(changed) + "\n")
        try:
            for source in IMPORTER.claim(candidates([out])):
                read_all(source)
        except InputError as error:
            assert str(tmp_path) in str(error)
        path.write_text("\n".join(texts[path]) + "\n")


def changed_line(text: str, rng: random.Random) -> str:
    """A document with one part changed, or one inside of the details."""
    document: Any = json.loads(text)
    holder = document.get("metadata") or document.get("eval_library", {}).get(
        "additional_details"
    )
    if holder and rng.random() < 0.6:
        holder["eval_warehouse"] = json.dumps(
            swapped(json.loads(holder["eval_warehouse"]), rng)
        )
    else:
        document = swapped(document, rng)
    return json.dumps(document)


def read_all(source: Any) -> None:
    from warehouse.records import ImportSettings

    dump = IMPORTER.read(source, ImportSettings({"model": "org/m"}))
    for _ in dump.batches:
        pass
    assert all(item.place and item.found for item in dump.rejections)
