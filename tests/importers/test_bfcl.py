"""Results of BFCL. Those of ``tests/data/bfcl`` were made by hand after the functions
that write them (``bfcl_eval`` 2026.3.23) and published files of 2024."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support import lm_eval
from tests.support.ingested import ingested
from tests.support.lm_eval import Taken
from tests.support.stores import select
from warehouse.errors import InputError
from warehouse.importers.bfcl import IMPORTER
from warehouse.ingest.pipeline import ingest
from warehouse.store.open import open_store

DUMPS = Path(__file__).parents[1] / "data" / "bfcl"
OLD = DUMPS / "2024-08-10"


def take(root: Path, category: str) -> Taken:
    """The source of one category."""
    paths = [path for path in root.rglob("*.json") if f"{category}_" in path.name]
    return lm_eval.take(*paths, importer=IMPORTER)


def outcomes(taken: Taken) -> dict[str, tuple[Any, ...]]:
    return {
        row["prompt_id"]: tuple(
            row["scores"][0][key] for key in ("value", "status", "origin", "raw")
        )
        for row in taken.rows
    }


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DUMPS, tmp_path / "bfcl"))


def test_what_is_not_among_the_failures_is_right() -> None:
    taken = take(DUMPS / "2026", "simple_python")
    (header,) = taken.dump.runs
    assert (header.model, header.formulation) == ("org/tiny", "function_calling")
    assert (header.benchmark, header.suite, header.task_version) == (
        "bfcl_simple_python",
        ("bfcl", "non_live"),
        "v4",
    )
    assert [(item.value, item.n) for item in header.published] == [(0.4, 5)]
    assert outcomes(taken) == {
        "simple_python_0": (1.0, None, "implied", None),
        "simple_python_2": (
            0.0,
            None,
            None,
            "simple_function_checker:unexpected_param",
        ),
        "simple_python_1": (1.0, None, "implied", None),
        "simple_python_3": (0.0, "no_answer", None, "ast_decoder:decoder_failed"),
        "simple_python_4": (
            0.0,
            "error",
            None,
            "ast_decoder:decoder_failed",
        ),  # the service, not the model
    }
    rows = {row["prompt_id"]: row for row in taken.rows}
    assert (
        rows["simple_python_4"]["error"] == "Error during inference: 429 quota exceeded"
    )
    row = rows["simple_python_2"]
    assert (row["text"], row["target"]) == (
        "Area of a triangle?",
        '[{"area":{"base":[3]}}]',
    )
    assert (row["extracted_answer"], row["explanation"]) == (
        '[{"area":{}}]',
        "simple_function_checker:unexpected_param: Wrong.",
    )
    assert (row["input_tokens"], row["output_tokens"], row["latency"]) == (20, 5, 0.25)


def test_counts_of_turns_and_steps_are_added() -> None:
    taken = take(DUMPS / "2026", "multi_turn_base")
    row = taken.rows[1]
    assert (row["input_tokens"], row["output_tokens"], row["latency"]) == (180, 18, 1.0)
    assert row["text"] == "List files.\n\nAnd again."
    assert outcomes(taken)["multi_turn_base_1"] == (
        0.0,
        "limit",
        None,
        "multi_turn:force_terminated",
    )


def test_ids_of_2024_are_counted_from_1_in_scores_and_from_0_in_results() -> None:
    simple, rest = take(OLD, "simple"), take(OLD, "rest")
    assert simple.dump.runs[0].task_version == "v1"
    assert {name: found[0] for name, found in outcomes(simple).items()} == {
        "simple_0": 0.0,
        "simple_1": 1.0,
        "simple_2": 1.0,
        "simple_3": 1.0,
    }
    assert outcomes(rest)["rest_2"] == (
        0.0,
        "error",
        None,
        "executable_checker:execution_error",
    )
    assert (simple.dump.runs[0].run_id, simple.dump.runs[0].formulation) == (
        "2024-08-10/tiny",
        "prompting",
    )


def test_a_score_file_that_lacks_failures_is_refused(dumps: Path) -> None:
    (path,) = (dumps / "2026").rglob("*simple_python_score.json")
    lines = path.read_text().splitlines(keepends=True)
    for text, message in (
        ("".join(lines[:-1]), "2 failures, and the first line says 2 right of 5"),
        ("".join(lines)[:-30], "line 4"),
        ("".join([*lines[:-1], lines[1]]), "a failure stands twice"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            take(dumps / "2026", "simple_python")


def test_ids_counted_from_0_in_scores_are_refused(dumps: Path) -> None:
    path = dumps / OLD.name / "score" / "tiny" / "simple_score.json"
    path.write_text(path.read_text().replace('"id": 1,', '"id": 0,'))
    with pytest.raises(InputError, match="a failure with the id 0"):
        take(dumps / OLD.name, "simple")


def test_of_several_numbers_in_an_id_the_first_counts(dumps: Path) -> None:
    root = dumps / "2024-08-20"
    ids = [f"live_simple_{number}-{number // 2}-0" for number in range(4)]
    result = (
        root
        / "result"
        / "tiny"
        / "gorilla_openfunctions_v1_test_live_simple_result.json"
    )
    result.parent.mkdir(parents=True)
    result.write_text("".join(f'{{"id": "{name}", "result": "x"}}\n' for name in ids))
    score = root / "score" / "tiny" / "live_simple_score.json"
    score.parent.mkdir(parents=True)
    score.write_text(
        '{"accuracy": 0.75, "correct_count": 3, "total_count": 4}\n'
        '{"id": 3, "valid": false}\n'
    )
    found = outcomes(take(root, "live_simple"))
    assert {name: outcome[0] for name, outcome in found.items()} == dict(
        zip(ids, (1, 1, 0, 1), strict=True)
    )


def test_scores_of_other_questions_or_of_fewer_are_refused(dumps: Path) -> None:
    (path,) = (dumps / "2026").rglob("*simple_python_score.json")
    text = path.read_text()
    fewer = text.replace(
        '"correct_count": 2, "total_count": 5', '"correct_count": 1, "total_count": 4'
    )
    for changed in (text.replace('"simple_python_3"', '"simple_3"'), fewer):
        path.write_text(changed)
        with pytest.raises(InputError, match="the score file counts"):
            take(dumps / "2026", "simple_python")


def test_a_result_that_stands_twice_is_twice_what_it_is(dumps: Path) -> None:
    (path,) = (dumps / "2026").rglob("*simple_python_result.json")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(
        "".join([*lines, *(line for line in lines if "simple_python_3" in line)])
    )
    taken = take(dumps / "2026", "simple_python")
    assert [
        row["scores"][0]["value"]
        for row in taken.rows
        if row["prompt_id"] == "simple_python_3"
    ] == [0, 0]


def test_either_file_alone(dumps: Path) -> None:
    root = dumps / "2026"
    (result,) = root.rglob("*simple_python_result.json")
    text = result.read_text()
    result.unlink()
    taken = take(root, "simple_python")
    assert (
        not taken.rows
        and taken.dump.runs[0].published
        and "no result file" in taken.dump.notes[0]
    )
    result.write_text(text)
    next(root.rglob("*simple_python_score.json")).unlink()
    taken = take(root, "simple_python")
    assert (
        [row["scores"] for row in taken.rows] == [[]] * 5
        and "no score file" in taken.dump.notes[0]
        and "below one path" in taken.dump.notes[0]
    )


def test_a_result_file_cut_short_leaves_what_failed_and_says_what_lacks(
    dumps: Path,
) -> None:
    (path,) = (dumps / "2026").rglob("*simple_python_result.json")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    taken = take(dumps / "2026", "simple_python")
    assert {name: found[0] for name, found in outcomes(taken).items()} == {
        "simple_python_0": 1.0,
        "simple_python_2": 0.0,
        "simple_python_3": 0.0,
        "simple_python_4": 0.0,
    }
    assert taken.dump.runs[0].n_requested == 5
    assert taken.dump.notes == [
        "BFCL_v4_simple_python_result.json: 2 results, and the score file counts 5"
    ]


def test_forms_of_a_question_are_one_prompt(tmp_path: Path, store_url: str) -> None:
    """BFCL asks 200 questions in 26 forms each, and counts 5200."""
    ids = [
        f"format_sensitivity_{n}:{form}:{asked}"
        for n, form in enumerate("xy")
        for asked in ("a_0", "b_0", "c_0")
    ]
    failures = [
        # what was asked stands alone where an answer is sought; a call where none
        # should be is no missing answer
        {
            "id": ids[0],
            "error_type": "irrelevance_error:decoder_success",
            "prompt": [[{"role": "user", "content": "Q?"}]],
        }
    ]
    counts = {"accuracy": 5 / 6, "correct_count": 5, "total_count": 6}
    for kind, rows in (
        ("result", [{"id": name, "result": "[f()]"} for name in ids]),
        ("score", [counts, *failures]),
    ):
        path = tmp_path / kind / "m" / f"BFCL_v4_format_sensitivity_{kind}.json"
        path.parent.mkdir(parents=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with ingested(store_url, tmp_path) as (store, report):
        assert [item.verdict for item in report.reconciliation] == ["exact"]
        rows = select(
            store, "select estimate, n_prompts, standard_error from score_summary"
        )
        assert list(rows[0].values()) == pytest.approx(
            [5 / 6, 3, 1 / 6]
        )  # means of the questions: .5, 1, 1
        assert [
            row["status"]
            for row in select(store, "select status from score where value = 0")
        ] == ["scored"]
        assert [
            row["text"]
            for row in select(store, "select text from prompt where text is not null")
        ] == ["Q?"]


def test_a_table_is_figures_of_every_system() -> None:
    taken = lm_eval.take(DUMPS / "2024-07-06" / "score-BFCL", importer=IMPORTER)
    found = {
        (
            run.model,
            run.formulation,
            run.sampling.get("variant"),
            run.benchmark,
        ): run.published[0].value
        for run in taken.dump.runs
    }
    assert found["Large-1", "function_calling", "Any", "bfcl_overall"] == pytest.approx(
        0.9018
    )
    assert found["Large-1", "prompting", None, "bfcl_relevance_detection"] == 0.1
    assert found["Tiny", None, None, "bfcl_ast_summary"] == 0.125
    assert len(found) == 4 + 3 + 4  # "N/A" and what is no share are no figures
    assert {run.task_version for run in taken.dump.runs} == {"2024-07-06"}
    costs = [run.published[1] for run in taken.dump.runs if len(run.published) > 1]
    assert [(cost.metric, cost.value) for cost in costs] == [
        ("cost", 0.0022)
    ]  # of a call; N/A is none


def test_columns_of_one_name_in_two_tables_are_two_benchmarks(tmp_path: Path) -> None:
    for part, share in (("Live", "70%"), ("Non-Live", "90%")):
        name = part.lower().replace("-", "_")
        text = f"Rank,Model,{part} Overall Acc,AST Summary\n1,A (FC),80%,{share}\n"
        (tmp_path / f"data_{name}.csv").write_text(text)
    tables = [
        lm_eval.take(path, importer=IMPORTER).dump
        for path in sorted(tmp_path.glob("*.csv"))
    ]
    assert {
        run.benchmark: run.published[0].value for dump in tables for run in dump.runs
    } == {
        "bfcl_live_overall_acc": 0.8,
        "bfcl_live_ast_summary": 0.7,
        "bfcl_non_live_overall_acc": 0.8,
        "bfcl_non_live_ast_summary": 0.9,
    }


def test_a_table_with_too_few_fields_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("Rank,Overall Acc,Model,Model Link\n1,90.18%,A,x\n2,10%\n")
    with pytest.raises(InputError, match="line 3"):
        lm_eval.take(path, importer=IMPORTER)


def test_names_alone_are_no_dump(tmp_path: Path) -> None:
    folder = tmp_path / "score" / "m"
    folder.mkdir(parents=True)
    (folder / "simple_score.json").write_text('{"score": 1}\n')
    assert lm_eval.claimed(tmp_path, importer=IMPORTER) == []


def test_in_a_store(dumps: Path, store_url: str) -> None:
    with ingested(store_url, dumps) as (store, report):
        assert report.unclaimed == ()
        # the file of August that is that of July is no other run
        assert (report.total("n_runs"), report.total("n_seen_again")) == (15, 1)
        assert {item.verdict for item in report.reconciliation} == {
            "exact",
            "not_recomputable",
        }
        statuses = select(store, "select status, count(*) as n from score group by 1")
        assert {row["status"]: row["n"] for row in statuses} == {
            "scored": 10,
            "error": 2,
            "no_answer": 1,
            "limit": 1,
        }


def test_answers_that_are_scored_later_are_no_second_run(
    dumps: Path, store_url: str
) -> None:
    root = dumps / "2026"
    for path in (root / "score").rglob(
        "*.json"
    ):  # the folder's name is not that of the model where it has a slash
        path.write_text(path.read_text().replace("org/tiny", "org_tiny"))
    (root / "score").rename(dumps / "later")
    with open_store(store_url, create=True, write=True) as store:
        first = ingest(store, [root])
        (dumps / "later").rename(root / "score")
        second = ingest(store, [root])
        assert (
            first.total("n_runs")
            == second.total("n_superseded")
            == len(select(store, "select 1 from run_current"))
        )


def test_the_figures_of_real_files(data_dir: Path, tmp_path: Path) -> None:
    folder = data_dir / "bfcl"
    if not folder.is_dir():
        pytest.skip("no real dumps of BFCL")
    with open_store(
        f"duckdb:///{tmp_path / 'real.duckdb'}", create=True, write=True
    ) as store:
        report = ingest(store, [folder])
        assert report.refused == ()
        exact = {
            item.benchmark: item.recomputed
            for item in report.reconciliation
            if item.verdict == "exact"
        }
        assert exact == {
            "bfcl_simple_python": pytest.approx(55 / 60),
            "bfcl_parallel": 0.9,
        }
        kinds = select(
            store,
            "select raw, count(*) as n from score where raw is not null group by 1",
        )
        assert {row["raw"]: row["n"] for row in kinds} == {
            "ast_decoder:decoder_failed": 5,
            "simple_function_checker:unexpected_param": 2,
            "parallel_function_checker_no_order:wrong_count": 1,
            "parallel_function_checker_no_order:cannot_find_match": 1,
        }
        overall = (
            "select r.model, p.value from published_score p join run_current r on "
            "r.run_id = p.run_id "
        )
        overall += (
            "join metric m on m.id = p.metric_id and m.name = 'accuracy' where "
            "r.benchmark = 'bfcl_overall' "
        )
        rows = select(store, overall + "order by p.value desc")
        assert len(rows) == 49
        assert rows[0] == {
            "model": "Claude-3.5-Sonnet-20240620",
            "value": pytest.approx(0.9018),
        }
        assert len(select(store, "select run_id from run_current")) == 835
