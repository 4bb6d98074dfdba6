"""What becomes of each field of an Inspect log. The logs are the real writer's
(``tests/writers/inspect_logs.py``); what is expected here stands in that script."""

from __future__ import annotations

import json
import shutil
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tests.support.inspect_logs import FIXTURES, Row, by_draw, scores_by, take
from tests.support.stores import store_at
from warehouse.importers.inspect.log import times_in
from warehouse.ingest.discover import discover
from warehouse.ingest.pipeline import ingest
from warehouse.store.load.state import LoadOptions
from warehouse.store.open import open_store

GRID = ("grid.eval", "grid.json", "grid_chunked.eval")
TEXTS = {
    "q/1": ["2", "It is 2", "three"],
    "7": ["Lima", "Cuzco", "Lima"],
    "last": ["nothing", "hm", "?"],
}


@pytest.fixture(params=GRID)
def grid(request: pytest.FixtureRequest) -> Any:
    return take(FIXTURES / request.param)


def test_who_was_evaluated_and_how(grid: Any) -> None:
    (run,) = grid.dump.runs
    assert (run.harness, run.model, run.benchmark) == (
        "inspect",
        "mockllm/grid-model",
        "grid",
    )
    assert (run.revision, run.task_version, run.harness_version) == (
        "rev-5",
        "7-b",
        "0.3.285",
    )
    assert (run.temperature, run.top_p, run.max_tokens) == (0.7, 0.9, 333)
    assert (run.reasoning_effort, run.sampling_seed) == ("high", 11)
    assert run.endpoint == "api.grid.example"
    assert run.sampling == {"top_k": 40, "message_limit": 21}
    assert (run.formulation, run.agent, run.split) == ("generate_until", None, "")
    assert (run.n_benchmark, run.n_requested, run.status) == (3, 3, "complete")
    assert sorted(run.tags) == ["blue", "red"]
    assert run.configuration["metadata"] == {"campaign": "spring"}
    assert run.started_at is not None and run.started_at.tzinfo is None
    # nine responses, number n of which costs n + 0.5
    assert run.cost == sum(number + 0.5 for number in range(1, 10))


def test_each_epoch_is_a_draw_with_its_own_counts(grid: Any) -> None:
    for place, name in enumerate(TEXTS):
        for draw, text in enumerate(TEXTS[name]):
            number = 3 * place + draw + 1
            row = by_draw(grid)[name, draw]
            assert (row["response"], row["position"]) == (text, place)
            assert row["output_tokens"] == 200 + number
            # cached tokens are not among Inspect's input tokens
            assert row["input_tokens"] == 100 + number + 21_000 * number
            assert row["cost"] == number + 0.5
            assert row["finish_reason"] == "stop" and row["error"] is None
            assert 0 < row["latency"] < 1


def test_prompts(grid: Any) -> None:
    first, second = by_draw(grid)["q/1", 0], by_draw(grid)["7", 1]
    assert (first["text"], first["target"]) == ("What is 1+1?", "2")
    assert json.loads(first["metadata"]) == {"subject": "sums", "level": 3}
    assert json.loads(first["prompt_sent"]) == [
        {"role": "system", "content": "Think of sums."},
        {"role": "user", "content": "What is 1+1?"},
    ]
    assert second["text"] == "system: Answer shortly.\n\nuser: Capital of Peru?"
    assert json.loads(second["target"]) == ["LIMA", "Lima"]
    assert json.loads(second["identity"]) == {
        "input": [
            {"role": "system", "content": "Answer shortly."},
            {"role": "user", "content": "Capital of Peru?"},
        ],
        "choices": [],
        "target": ["LIMA", "Lima"],
    }
    assert (
        len(
            {row["prompt_sent"] for row in grid.rows if row["prompt_id"] == "7"}
            - {None}
        )
        == 1
    )


def test_scores_of_letters_objects_and_numbers(grid: Any) -> None:
    row = by_draw(grid)["q/1", 1]  # "It is 2": 7 characters
    scores = scores_by(row)
    assert (scores["match", ""]["value"], scores["match", ""]["raw"]) == (1.0, "C")
    assert scores["match", ""]["origin"] == "mapped"
    assert (scores["rubric.style", ""]["value"], scores["rubric.style", ""]["raw"]) == (
        7 / 64,
        None,
    )
    assert scores["rubric.facts", ""]["value"] == 1.0
    assert scores["length", ""]["value"] == 7.25
    assert scores["length", ""]["origin"] == "recorded"
    assert scores_by(by_draw(grid)["7", 0])["rubric.facts", ""]["value"] == 0.5
    assert row["extracted_answer"] == "It is 2"
    assert row["explanation"] == "match: It is 2\n\nrubric: rubric of 7"


def test_reducers_are_values_of_all_draws(grid: Any) -> None:
    values = {
        (row["prompt_id"], *key): score
        for row in grid.rows
        if row["draw"] == -1
        for key, score in scores_by(row).items()
    }
    # two of three, two of three, one of three are right: 1 - C(3 - c, 2) / C(3, 2)
    assert values["q/1", "match", "pass_at_2"]["value"] == 1.0
    assert values["last", "match", "pass_at_2"]["value"] == pytest.approx(2 / 3)
    assert values["last", "match", "max"]["value"] == 1.0
    assert values["7", "rubric.style", "max"]["value"] == 5 / 64
    assert {score["n_draws"] for score in values.values()} == {3}
    assert {key[2] for key in values} == {"pass_at_2", "max"}
    identities = {
        row["prompt_id"]: row["identity"] for row in grid.rows if row["draw"] == 0
    }
    for row in grid.rows:
        assert row["identity"] == identities[row["prompt_id"]]


def test_published_figures_stand_with_metric_reducer_and_error(grid: Any) -> None:
    (run,) = grid.dump.runs
    found = {(row.metric, row.filter, row.statistic): row for row in run.published}
    # accuracy and its error over the three means 2/3, 2/3, 1/3
    mean = found["match", "", "mean"]
    assert mean.value == pytest.approx(5 / 9) and mean.n == 3
    assert mean.standard_error == pytest.approx(1 / 9)
    assert found["match", "pass_at_2", "mean"].value == pytest.approx(8 / 9)
    assert found["rubric.facts", "", "mean"].standard_error is None
    assert ("length", "max", "mean") in found
    specs = {(spec.name, spec.filter): spec for spec in run.metrics}
    assert specs["match", ""].is_default and not specs["length", ""].is_default
    assert specs["match", ""].scorer_parameters == {"location": "any"}
    assert specs["rubric.style", "max"].scorer == "rubric"
    assert specs["match", ""].scorer_kind == "match"
    assert specs["match", ""].higher_is_better is True
    assert specs["length", ""].higher_is_better is None


def test_a_figure_of_an_object_as_a_whole_is_no_metric_of_samples(
    tmp_path: Path,
) -> None:
    """Metrics of a scorer that read its whole object stand under the scorer's name,
    before those of its keys."""
    log = json.loads((FIXTURES / "grid.json").read_text())
    scores = [
        entry for entry in log["results"]["scores"] if entry["scorer"] == "rubric"
    ]
    whole = {
        "name": "rubric",
        "scorer": "rubric",
        "reducer": "mean",
        "metrics": {"best": {"name": "best", "value": 0.4}},
    }
    log["results"] |= {"scores": [whole, *scores], "headline": None}
    path = tmp_path / "2026-01-01T00-00-00_grid_x.json"
    path.write_text(json.dumps(log))
    taken = take(path)
    (run,) = taken.dump.runs
    assert [spec.name for spec in run.metrics if spec.is_default] == ["rubric.style"]
    names = {name for row in taken.rows for name, _ in scores_by(row)}
    assert names == {"rubric.style", "rubric.facts", "match", "length"}
    assert [
        row.value
        for row in run.published
        if (row.metric, row.statistic) == ("rubric", "best")
    ] == [0.4]


def test_all_containers_of_a_log_give_the_same_rows() -> None:
    whole, text, chunked = (take(FIXTURES / name) for name in GRID)

    def sorted_rows(taken: Any) -> list[Row]:
        return sorted(
            taken.rows,
            key=lambda row: (row["prompt_id"], row["draw"], str(scores_by(row).keys())),
        )

    assert sorted_rows(whole) == sorted_rows(chunked)
    for row in whole.rows:  # the text was rid of its events
        row["transcript"] = row["transcript"] and {
            **row["transcript"],
            "n_events": None,
        }
    assert sorted_rows(whole) == sorted_rows(text)


def test_an_edited_score_counts_as_edited_and_is_noted() -> None:
    taken = take(FIXTURES / "grid_edited.eval")
    assert scores_by(by_draw(taken)["last", 1])["match", ""]["value"] == 1.0
    assert taken.dump.notes == ["1 scores were edited after the run"]


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
@pytest.mark.rare
def test_of_copies_of_a_log_the_one_edited_later_comes_later_whatever_its_name(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    paths = [tmp_path / f"{name}.eval" for name in names]
    for path, log in zip(paths, ("grid", "grid_edited"), strict=True):
        shutil.copy(FIXTURES / f"{log}.eval", path)
    (tmp_path / "c.eval").write_bytes(
        paths[0].read_bytes()[:999]
    )  # of which nothing can be said
    (tmp_path / "d.eval").write_bytes(paths[0].read_bytes())
    ordered = [job.files.files[0] for job in discover([tmp_path]).jobs]
    assert ordered == [paths[0], tmp_path / "d.eval", tmp_path / "c.eval", paths[1]]
    with open_store(store_at(tmp_path / "refused.duckdb"), write=True) as store:
        reports = ingest(store, sorted(paths)).sources
        assert [(report.source, report.state) for report in reports] == [
            (str(paths[0]), "loaded"),
            (str(paths[1]), "refused"),
        ]
    with open_store(store_at(tmp_path / "superseded.duckdb"), write=True) as store:
        ingest(store, sorted(paths), options=LoadOptions(on_conflict="supersede"))
        current = (
            "select path from source join run_source on source.id = source_id where "
            "superseded_by is null"
        )
        assert store.rows(current) == [{"path": str(paths[1])}]


def test_times_of_a_log_are_found_in_pieces_of_it(tmp_path: Path) -> None:
    path, piece = tmp_path / "log.json", 1 << 16
    day = [f'"timestamp": "2025-01-{day:02d}T00:00:00+00:00"' for day in (1, 3, 2)]
    path.write_text(
        day[0] + " " * (piece - len(day[0]) - 20) + day[1] + " " * piece + day[2]
    )
    tracemalloc.start()
    assert [time.day for time in times_in(path)] == [3, 2, 1]
    path.write_text(" " * 40 * piece)
    tracemalloc.reset_peak()
    assert times_in(path) == []
    assert tracemalloc.get_traced_memory()[1] < 5 * piece
    tracemalloc.stop()


def test_letters_of_options_become_their_texts() -> None:
    rows = by_draw(take(FIXTURES / "choices.eval"))
    assert (
        rows["1", 0]["target"] == "rose" and rows["1", 0]["extracted_answer"] == "rose"
    )
    assert json.loads(rows["1", 0]["choices"]) == ["sky", "rose", "grass"]
    assert json.loads(rows["1", 0]["identity"]) == {
        "input": "Which is red?",
        "choices": ["grass", "rose", "sky"],
        "target": "rose",
    }
    assert json.loads(rows["2", 0]["target"]) == ["2", "4"]
    assert json.loads(rows["2", 0]["extracted_answer"]) == ["2", "4"]
    assert rows["3", 0]["extracted_answer"] == "fire"
    assert [scores_by(rows[name, 0])["choice", ""]["value"] for name in "123"] == [
        1.0,
        1.0,
        0.0,
    ]
    assert rows["3", 0]["prompt_sent"].startswith(
        "Answer the following multiple choice question"
    )


def test_a_judge_is_part_of_the_scorer_and_its_tokens_are_not_the_models() -> None:
    taken = take(FIXTURES / "judged.eval")
    (spec,) = taken.dump.runs[0].metrics
    assert (spec.scorer, spec.scorer_kind) == ("model_graded_qa", "model")
    assert spec.judge_model == "mockllm/judge-model"
    assert spec.scorer_parameters == {"partial_credit": True}
    rows = by_draw(taken)
    assert [rows[name, 0]["output_tokens"] for name in "123"] == [201, 202, 203]
    scores = [scores_by(rows[name, 0])["model_graded_qa", ""] for name in "123"]
    assert [score["value"] for score in scores] == [1.0, 0.5, None]
    assert scores[2]["status"] == "error"
    assert rows["3", 0]["explanation"].startswith("grader_failed: Grade not found")
    assert rows["2", 0]["explanation"] == "GRADE: P"


def test_awkward_values() -> None:
    rows = by_draw(take(FIXTURES / "odd.eval"))
    found = {name: scores_by(row)["odd_values", ""] for (name, _), row in rows.items()}
    assert {
        name: (score["value"], score["status"], score["raw"])
        for name, score in found.items()
    } == {
        "nan": (None, "error", None),
        "list": (None, "not_scalar", '[1,2.5,"x"]'),
        "text": (None, "not_scalar", "maybe"),
        "yes": (1.0, "scored", "yes"),
        "bool": (1.0, "scored", "true"),
        "digits": (0.75, "scored", "0.75"),
        "none": (0.0, "no_answer", "N"),
    }


def test_errors_limits_and_refusals_are_states() -> None:
    taken = take(FIXTURES / "faults.eval")
    rows = by_draw(taken)
    scores = {name: scores_by(row)["match", ""] for (name, _), row in rows.items()}
    assert {
        name: (score["value"], score["status"]) for name, score in scores.items()
    } == {
        "good": (1.0, "scored"),
        "bad": (None, "error"),
        "long": (1.0, "limit"),
        "refused": (0.0, "refused"),
    }
    assert rows["bad", 0]["error"] == "ValueError('no answer for bad')"
    assert rows["bad", 0]["response"] is None
    assert rows["long", 0]["finish_reason"] == "message_limit"
    # five requests of 205 tokens each
    assert rows["long", 0]["output_tokens"] == 5 * 205
    assert rows["refused", 0]["finish_reason"] == "content_filter"
    assert taken.dump.runs[0].status == "complete"
