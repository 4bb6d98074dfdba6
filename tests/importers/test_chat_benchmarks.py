"""AlpacaEval and promptfoo. Annotations are built from what AlpacaEval writes and
publishes; the evaluation of promptfoo was written by the real package
(``tests/writers/promptfoo``)."""

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
from warehouse.importers.alpaca_eval import IMPORTER as ALPACA
from warehouse.importers.promptfoo import IMPORTER as PROMPTFOO
from warehouse.ingest.pipeline import ingest
from warehouse.records import ImportSettings, SourceFiles
from warehouse.store.open import open_store

QUIZ = Path(__file__).parents[1] / "data" / "promptfoo"


def take(importer: Any, *paths: Path, **values: Any) -> Taken:
    return lm_eval.take(*paths, importer=importer, **values)


# --- AlpacaEval --------------------------------------------------------------------------------


def annotation(number: int, preference: Any, **more: Any) -> dict[str, Any]:
    return {
        "instruction": f"do {number}",
        "output_1": f"theirs {number}",
        "generator_1": "reference",
        "dataset": f"set {number}",
        "output_2": f"ours {number}",
        "generator_2": "tiny",
        "annotator": "judge",
        "preference": preference,
    } | more


def alpaca(folder: Path, annotations: list[dict[str, Any]] | None = None) -> Path:
    run = folder / "tiny" / "judge"
    run.mkdir(parents=True)
    made = [
        annotation(
            0, 2, price_per_example=0.25, time_per_example=9.5, raw_completion="Model 2"
        ),
        annotation(1, 1.0, price_per_example=0.5, raw_completion={"choice": "m"}),
        annotation(2, 1.75),
        annotation(3, 0),
        annotation(4, None),
        annotation(5, -1),
    ]
    (run / "annotations.json").write_text(json.dumps(annotations or made, indent=4))
    (run / "leaderboard.csv").write_text(
        ",win_rate,standard_error,n_wins,n_wins_base,n_draws,n_total,discrete_win_rate,mode,"
        "avg_length,length_controlled_winrate,lc_standard_error\n"
        "other,1,1,1,1,1,1,1,c,1,1,1\n"
        "tiny,56.25,21.5,2,1,1,4,50.0,community,33,61.5,1.25\n"
    )
    return run


def test_alpaca_eval_header(tmp_path: Path) -> None:
    (header,) = take(ALPACA, alpaca(tmp_path)).dump.runs
    assert (header.model, header.opponent, header.cost) == ("tiny", "reference", 0.75)
    metric, controlled = header.metrics
    assert (metric.name, metric.judge_model, metric.scorer_kind) == (
        "win_rate",
        "judge",
        "model",
    )
    assert (metric.kind, metric.low, metric.high, metric.chance_level) == (
        "bounded",
        0,
        1,
        0.5,
    )
    assert (controlled.name, controlled.link) == ("length_controlled_winrate", "none")
    plain, fitted = header.published
    assert (plain.value, plain.standard_error, plain.n) == (0.5625, 0.215, 4)
    assert (fitted.value, fitted.standard_error) == (0.615, 0.0125)
    assert (fitted.statistic, fitted.raw) == ("fitted", "61.5")


@pytest.mark.parametrize(
    ("folder", "file", "told"),
    [("falcon-7b", "falcon-40b", True), ("falcon_40b", "tiiuae/Falcon-40B", False)],
)
def test_alpaca_eval_folder_of_another_model(
    tmp_path: Path, folder: str, file: str, told: bool
) -> None:
    run = alpaca(tmp_path, [annotation(0, 2, generator_2=file)])
    run.parent.rename(tmp_path / folder)
    for judge in (
        "judge",
        "other",
    ):  # or the model's answers tell which folder is its own
        (tmp_path / folder / "model_outputs.json").write_text("[]")
        taken = take(ALPACA, tmp_path / folder / judge)
        (header,) = taken.dump.runs
        assert header.model == file
        expected = (
            f"the folder says that the model is '{folder}', the data say '{file}': the "
            "latter"
        )
        assert [note.startswith(expected) for note in taken.dump.notes] == [True] * told
        if judge == "judge":
            (tmp_path / folder / "judge").rename(tmp_path / folder / "other")


def test_alpaca_eval_rows(tmp_path: Path) -> None:
    rows = take(ALPACA, alpaca(tmp_path)).rows
    assert [row["scores"][0]["value"] for row in rows] == [
        1.0,
        0.0,
        0.75,
        0.5,
        None,
        None,
    ]
    assert [row["scores"][0]["raw"] for row in rows] == [
        "2",
        "1.0",
        "1.75",
        "0",
        None,
        "-1",
    ]
    assert [row["scores"][0]["status"] for row in rows] == [None] * 4 + ["error"] * 2
    assert (rows[2]["text"], rows[2]["response"]) == ("do 2", "ours 2")
    assert json.loads(rows[2]["metadata"]) == {"dataset": "set 2"}
    assert json.loads(rows[2]["identity"]) == {"instruction": "do 2"}
    assert [row["explanation"] for row in rows[:3]] == [
        "Model 2",
        '{"choice":"m"}',
        None,
    ]


def test_alpaca_eval_newer_fields_and_bad_preferences(tmp_path: Path) -> None:
    run = alpaca(
        tmp_path,
        [
            annotation(
                0,
                1.5,
                preference_price_per_example=0.125,
                preference_version="0.6.6",
                preference_date="2024-05-06T07:08:09",
                preference_raw_completion="both",
            ),
            annotation(1, 3),
            annotation(2, True),
            annotation(3, 1, generator_2="small"),
        ],
    )
    taken = take(ALPACA, run)
    first, second = taken.dump.runs
    assert (first.model, second.model) == ("tiny", "small")
    assert (first.harness_version, first.cost) == ("0.6.6", 0.125)
    assert first.started_at is not None
    assert first.started_at.isoformat() == "2024-05-06T07:08:09"
    assert [(row["run"], row["scores"][0]["value"]) for row in taken.rows] == [
        (0, 0.5),
        (1, 0.0),
    ]
    assert taken.rows[0]["explanation"] == "both"
    assert [item.found for item in taken.dump.rejections] == [
        "preference is 3, not between 1 and 2",
        "preference is true, not between 1 and 2",
    ]


# --- promptfoo ---------------------------------------------------------------------------------


def quiz(folder: Path) -> Path:
    return Path(shutil.copy(QUIZ / "out.json", folder / "out.json"))


def test_promptfoo_headers(tmp_path: Path) -> None:
    cold, hot = take(PROMPTFOO, quiz(tmp_path)).dump.runs
    assert (cold.harness, cold.harness_version) == ("promptfoo", "0.121.20")
    assert (cold.model, cold.benchmark) == ("org:tiny", "quiz of capitals")
    assert (cold.temperature, cold.top_p, cold.max_tokens, cold.sampling_seed) == (
        0.25,
        0.75,
        64,
        11,
    )
    assert (cold.sampling, hot.sampling) == ({"label": "cold"}, {"label": "hot"})
    assert hot.temperature == 1.5
    assert cold.template_hash == hot.template_hash is not None
    document = json.loads((QUIZ / "out.json").read_text())
    assert (cold.run_id, hot.run_id) == (
        f"{document['evalId']}/0",
        f"{document['evalId']}/1",
    )
    assert cold.started_at is not None
    assert document["results"]["timestamp"].startswith(cold.started_at.isoformat()[:19])
    assert {item.metric: item.value for item in cold.published} == {
        "pass": 0.25,
        "score": 0.3125,
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        ("{}".encode("utf-16"), "text in UTF-16"),
        (b'{"results": {"res', "cannot be read: .*; expected a complete JSON object"),
        (b"[1]", "a JSON list; expected a JSON object"),
    ],
    ids=["nothing", "pointer", "UTF-16", "cut", "list"],
)
def test_what_is_no_document_is_refused_by_what_it_is(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "out.json").write_bytes(content)
    source = SourceFiles("out.json", tmp_path, (tmp_path / "out.json",))
    with pytest.raises(InputError, match=message):
        PROMPTFOO.read(source, ImportSettings())


def test_promptfoo_rows(tmp_path: Path) -> None:
    rows = [row for row in take(PROMPTFOO, quiz(tmp_path)).rows if row["run"] == 0]
    assert [row["draw"] for row in rows] == [0, 1] * 4  # --repeat 2
    first = rows[0]
    assert (first["prompt_sent"], first["response"]) == ("Capital of France?", "Paris")
    assert (first["input_tokens"], first["output_tokens"], first["cost"]) == (
        42,
        7,
        0.125,
    )
    assert first["finish_reason"] == "stop"
    item = json.loads((QUIZ / "out.json").read_text())["results"]["results"][0]
    assert first["latency"] == item["latencyMs"] / 1000
    assert json.loads(first["metadata"]) == {
        "description": "first",
        "level": "easy",
        "country": "France",
        "say": "Paris",
    }
    assert json.loads(first["identity"])["vars"] == {
        "country": "France",
        "say": "Paris",
    }
    reasons = [part["reason"] for part in json.loads(first["explanation"])]
    assert reasons == ["Assertion passed", 'Expected output to contain "London"']
    found = {
        (json.loads(row["identity"])["vars"]["country"], score["metric"]): (
            score["value"],
            score["status"],
        )
        for row in rows
        for score in row["scores"]
    }
    assert found == {
        ("France", "pass"): (0.0, None),
        ("France", "score"): (0.25, None),
        ("France", "naming"): (1.0, None),
        ("Spain", "pass"): (1.0, None),
        ("Spain", "score"): (1.0, None),
        ("Peru", "pass"): (None, "error"),
        ("Peru", "score"): (None, "error"),
        ("Chile", "pass"): (0.0, "refused"),
        ("Chile", "score"): (0.0, "refused"),
    }
    spain, peru = rows[2], rows[4]
    assert (spain["target"], spain["explanation"]) == (
        "Madrid",
        "All assertions passed",
    )
    assert (peru["error"], peru["response"], peru["cost"]) == (
        "the model is out",
        None,
        None,
    )


def test_promptfoo_writes_0_where_it_knows_no_price_and_no_time(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (QUIZ / "out.jsonl").read_text().splitlines()]
    lines[0] |= {
        "cost": 0,
        "latencyMs": 0,
        "response": lines[0]["response"] | {"cost": None},
    }
    lines[1] |= {"cost": 0, "response": lines[1]["response"] | {"cost": 0}}
    (tmp_path / "out.jsonl").write_text("\n".join(map(json.dumps, lines)))
    rows = take(PROMPTFOO, tmp_path / "out.jsonl").rows
    assert (rows[0]["cost"], rows[0]["latency"], rows[1]["cost"]) == (None, None, 0)


def test_promptfoo_lines_hold_the_same_rows(tmp_path: Path) -> None:
    lines = take(
        PROMPTFOO, Path(shutil.copy(QUIZ / "out.jsonl", tmp_path / "quiz.jsonl"))
    )
    assert {run.benchmark for run in lines.dump.runs} == {"quiz"}
    named = take(
        PROMPTFOO, tmp_path / "quiz.jsonl", benchmark="mine"
    )  # what the user says goes before a file's name
    assert {run.benchmark for run in named.dump.runs} == {"mine"}
    key = lambda row: (row["run"], row["identity"], row["draw"])  # noqa: E731
    whole = take(PROMPTFOO, quiz(tmp_path))
    assert sorted(lines.rows, key=key) == sorted(whole.rows, key=key)


def test_promptfoo_says_what_passes_unchecked(tmp_path: Path) -> None:
    path = quiz(tmp_path)
    document = json.loads(path.read_text())
    assert not take(PROMPTFOO, path).dump.notes
    document["results"]["results"][0]["gradingResult"] = {
        "pass": True,
        "score": 1,
        "reason": "No assertions",
    }
    path.write_text(json.dumps(document))
    assert take(PROMPTFOO, path).dump.notes == [
        "out.json: 1 results have no assertions; they count as passed, as in promptfoo"
    ]


def test_promptfoo_select_best_of_two_models_is_a_vote(
    tmp_path: Path, store_url: str
) -> None:
    lines = (QUIZ / "best.jsonl").read_text()
    path = tmp_path / "best.jsonl"
    path.write_text(lines)
    with open_store(store_url, create=True, write=True) as store:
        ingest(store, [path])
        votes = store.rows(
            "select p.text, v.model_a, v.model_b, v.outcome, v.first, v.scorer, "
            "v.scorer_kind from preference_current v"
            " join prompt p on p.id = v.prompt_id"
        )
        joined = store.rows("select count(*) as n from prompt")[0]["n"]
    assert joined == 5  # the questions of the votes are those of the runs
    assert {tuple(row.values())[1:3] + tuple(row.values())[4:] for row in votes} == {
        ("org:large", "org:small", "unknown", "select-best", "model")
    }
    topics = {json.loads(row["text"])["topic"]: row["outcome"] for row in votes}
    assert topics == {
        "cats": "a",
        "dogs": "b",
        "birds": None,
        "fish": None,
    }  # no verdict; one that failed
    third = [json.loads(line) | {"promptIdx": 2} for line in lines.splitlines()[:2]]
    path.write_text(lines + "".join(json.dumps(row) + "\n" for row in third))
    dump = take(PROMPTFOO, path).dump
    assert "select-best: 1 of 4 tests give no vote" in dump.notes[-1]


# --- both --------------------------------------------------------------------------------------


def test_in_a_store(tmp_path: Path, store_url: str) -> None:
    with ingested(store_url, alpaca(tmp_path), quiz(tmp_path)) as (store, report):
        assert (report.unclaimed, report.total("n_runs")) == ((), 3)
        verdicts = {row.metric: row.verdict for row in report.reconciliation}
        assert verdicts["win_rate"] == "exact"
        assert (verdicts["pass"], verdicts["score"]) == (
            "null_as_worst",
            "null_as_worst",
        )
        found = select(
            store, "select metric, estimate from score_summary where model = 'tiny'"
        )
        assert found == [{"metric": "win_rate", "estimate": 0.5625}]
        prompts = select(store, "select n_found from run order by n_found")
        assert [row["n_found"] for row in prompts] == [4, 4, 6]


def test_an_instruction_that_is_asked_twice_is_two_prompts(
    tmp_path: Path, duckdb_url: str
) -> None:
    run = alpaca(tmp_path, [annotation(0, 2), annotation(0, 1), annotation(1, 2)])
    with open_store(duckdb_url, create=True, write=True) as store:
        report = ingest(store, [run])
        assert (report.refused, report.total("n_samples")) == ((), 3)
        assert select(store, "select n_found from run") == [{"n_found": 3}]
