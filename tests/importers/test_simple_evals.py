"""simple-evals: results made after its source (``tests/support/simple_evals.py``)."""

from __future__ import annotations

import filecmp
import json
import shutil
import statistics
from pathlib import Path
from typing import Any

import pytest

from tests.support import lm_eval, simple_evals
from tests.support.ingested import ingested
from tests.support.lm_eval import Taken
from tests.support.simple_evals import HEALTH, MMLU, message
from tests.support.stores import select
from warehouse.errors import InputError
from warehouse.importers.simple_evals.importer import IMPORTER

MADE = Path(__file__).parents[1] / "data" / "simple_evals"


def take(path: Path, **values: Any) -> Taken:
    return lm_eval.take(path, importer=IMPORTER, **values)


def whole(stem: str) -> Path:
    return MADE / f"{stem}_allresults.json"


def written(
    folder: Path, found: dict[str, Any], name: str = "gpqa_m_allresults.json"
) -> Path:
    path = folder / name
    path.write_text(json.dumps(found, indent=2))
    return path


def test_files_of_the_repository_are_those_that_are_made(tmp_path: Path) -> None:
    simple_evals.main(tmp_path)
    names = sorted(path.name for path in MADE.iterdir())
    assert filecmp.cmpfiles(MADE, tmp_path, names, shallow=False) == (names, [], [])


def test_header() -> None:
    (header,) = take(whole(HEALTH)).dump.runs
    assert (header.harness, header.benchmark, header.model) == (
        "simple-evals",
        "healthbench_hard",
        "tiny-3m",
    )
    assert header.run_id == "20260304_050607"
    assert str(header.started_at) == "2026-03-04 05:06:07"
    assert (header.n_requested, header.tags, header.system_prompt_hash) == (2, (), None)
    score, *others = header.metrics
    assert (score.name, score.scorer_kind, score.is_default) == ("score", "model", True)
    assert (score.kind, score.low, score.high) == (None, None, 1)
    assert {(metric.name, metric.link) for metric in others} == {
        ("overall_score", "none"),
        ("axis:care", "none"),
    }
    assert {
        (item.metric, item.statistic, item.value, item.standard_error, item.n)
        for item in header.published
    } == {
        ("score", "mean", 0.25, 0.1875, 2),
        ("overall_score", "aggregate", 0.25, 0.1875, 2),
        ("axis:care", "aggregate", 0.5, 0.0625, 1),
    }


def test_rows_with_records_of_samples() -> None:
    first, second = take(whole(HEALTH)).rows
    assert [row["scores"][0]["value"] for row in (first, second)] == [0.625, -0.125]
    assert (second["prompt_id"], second["identity"]) == ("prompt-1", None)
    assert (second["text"], second["response"]) == ("since 1 days", "rest 1")
    assert [part["content"] for part in json.loads(second["prompt_sent"])] == [
        "ill 1",
        "since when 1",
        "since 1 days",
    ]
    assert (second["input_tokens"], second["output_tokens"]) == (101, 201)
    assert json.loads(second["explanation"])[0]["explanation"] == "because 1"
    assert second["metadata"] is None


def test_pages_are_read_where_there_are_no_records() -> None:
    taken = take(whole(f"{MMLU}_DEBUG"))
    (header,) = taken.dump.runs
    assert (header.benchmark, header.model, header.tags) == (
        "mmlu",
        "tiny-3m_assistant",
        ("debug",),
    )
    assert (header.run_id, header.n_requested, header.started_at) == (None, 3, None)
    assert header.system_prompt_hash is not None
    assert [(row["position"], row["draw"]) for row in taken.rows] == [
        (place, draw) for draw in (0, 1) for place in range(3)
    ]
    assert [row["scores"][0]["value"] for row in taken.rows] == [1, 1, 0, 0, 0, 1]
    assert [row["scores"][0]["status"] for row in taken.rows] == [
        None,
        None,
        "no_answer",
        None,
        None,
        None,
    ]
    assert [row["extracted_answer"] for row in taken.rows] == [
        "A",
        "B & C",
        None,
        "B",
        "A",
        "D",
    ]
    second = taken.rows[1]
    assert (second["target"], second["text"]) == ("B & C", "two <b>?")
    assert second["response"] == "draw 0: <p>Score: 7</p> Answer: B & C"
    assert json.loads(json.loads(second["identity"])["messages"]) == [
        ["user", "two <b>?"]
    ]
    figures = {(item.metric, item.statistic): item.value for item in header.published}
    assert figures == {
        ("score", "mean"): 0.5,
        ("stem", "aggregate"): 0.25,
        ("stem", "std"): 0.75,
        ("score", "std"): statistics.pstdev([1, 1, 0, 0, 0, 1]),
    }
    assert {item.standard_error for item in header.published} == {
        None
    }  # a spread is no error


def test_pages_that_cannot_be_trusted_give_no_scores(tmp_path: Path) -> None:
    found = simple_evals.mmlu()
    found["htmls"][0] = found["htmls"][0].replace(
        "Answer: A", "<h3>Results</h3><p>Extracted Answer: A</p><p>Score: 1.0</p>"
    )
    found["htmls"][1] = "<p>Score: 1.0</p>"
    found["htmls"][2] = found["htmls"][2].replace("Score: 0.0", "Score: high")
    found["htmls"][3] = found["htmls"][3].replace("Score: 0.0", "Score: True")
    rows = take(written(tmp_path, found)).rows
    assert [row["scores"][0]["value"] for row in rows[:4]] == [None, None, None, 1.0]
    assert [row["scores"][0]["status"] for row in rows[:4]] == [
        "error",
        "error",
        "error",
        None,
    ]
    found["htmls"] = []
    taken = take(written(tmp_path, found))
    assert [row["scores"] for row in taken.rows] == [[]] * 6
    assert taken.dump.notes == [
        "no sample has a score that can be read: responses without scores"
    ]


def test_questions_that_stand_twice_are_repeats_only_in_blocks(tmp_path: Path) -> None:
    found = simple_evals.mmlu()
    for name in ("convos", "htmls"):
        found[name] = [found[name][place] for place in (0, 1, 2, 0, 1)]
    found["metadata"] = None
    rows = take(written(tmp_path, found)).rows
    assert [(row["position"], row["draw"]) for row in rows] == [
        (place, 0) for place in range(5)
    ]


def made(
    folder: Path, evaluation: str, convos: list[list[dict[str, Any]]], score: float
) -> Taken:
    pages = [
        simple_evals.page(convo, None, "x", value)
        for convo, value in zip(convos, (True, False), strict=False)
    ]
    found = {
        "score": score,
        "metrics": {"score:bootstrap_std": 0.25},
        "htmls": pages,
        "convos": convos,
    }
    return take(
        written(folder, found, f"{evaluation}_m_20260304_050607_allresults.json")
    )


def test_several_answers_of_a_prompt_are_draws(tmp_path: Path) -> None:
    """HumanEval appends all that it sampled to the one prompt, and scores them
    together."""
    convo = [
        message("user", "def f"),
        *(message("assistant", f"return {n}") for n in range(3)),
    ]
    rows = made(tmp_path, "humaneval", [convo], 1.0).rows
    assert [(row["draw"], row["response"]) for row in rows] == [
        *((n, f"return {n}") for n in range(3)),
        (-1, None),
    ]
    assert {row["identity"] for row in rows} == {
        json.dumps({"messages": '[["user","def f"]]'}, separators=(",", ":"))
    }
    assert [
        (score["value"], score["n_draws"])
        for row in rows
        for score in row["scores"] or ()
    ] == [(1.0, 3)]


def test_examples_of_drop_are_no_part_of_the_question(tmp_path: Path) -> None:
    """Threads draw them in any order: each run has others."""
    asked = [f"# Examples\n{n}\n# Your Task\n\n---\nWho won?" for n in range(2)]
    first, second = made(
        tmp_path,
        "drop",
        [[message("user", text), message("assistant", "x")] for text in asked],
        0.5,
    ).rows
    assert (
        first["identity"] == second["identity"] and first["text"] == "\n---\nWho won?"
    )
    assert first["prompt_sent"] != second["prompt_sent"]


def test_repeats_with_shuffled_options_are_draws(tmp_path: Path) -> None:
    """GPQA: ten repeats of a question are not ten questions."""
    texts = [
        f"Think.\n\nWhy?\n\nA) {a}\nB) {b}\nC) odd\nD) no"
        for a, b in (("yes", "so"), ("so", "yes"))
    ]
    convos = [
        [message("user", text), message("assistant", "Answer: A")] for text in texts
    ]
    pages = [
        simple_evals.page(convo, right, "A", right == "A")
        for convo, right in zip(convos, "AB", strict=True)
    ]
    found = {
        "score": 0.5,
        "metrics": {"score:std": 0.5},
        "htmls": pages,
        "convos": convos,
    }
    rows = take(written(tmp_path, found)).rows
    assert [
        (row["position"], row["draw"], row["target"], row["extracted_answer"])
        for row in rows
    ] == [
        (0, 0, "yes", "yes"),
        (0, 1, "yes", "so"),
    ]
    assert (
        len({row["identity"] for row in rows})
        == len({row["text"] for row in rows})
        == 1
    )


def test_what_a_judged_judge_says_is_not_its_score(tmp_path: Path) -> None:
    convos = [
        [message("user", f"grade {n}"), message("assistant", "x")] for n in range(2)
    ]
    taken = made(tmp_path, "healthbench_meta", convos, 0.75)
    assert {item.standard_error for item in taken.dump.runs[0].published} == {None}
    assert [row["scores"][0]["metric"] for row in taken.rows] == [
        "model_predicted_positive"
    ] * 2
    (header,) = taken.dump.runs
    assert [(item.metric, item.value, item.statistic) for item in header.published][
        -1
    ] == ("score", 0.75, "aggregate")
    assert (
        header.metrics[0].name,
        header.metrics[0].link,
        header.metrics[0].is_default,
    ) == ("score", "none", True)


def test_figures_alone(tmp_path: Path) -> None:
    taken = take(MADE / "mgsm_tiny-3m.json")
    (header,) = taken.dump.runs
    assert (taken.rows, header.benchmark, header.model) == ([], "mgsm", "tiny-3m")
    assert {(item.metric, item.statistic): item.value for item in header.published} == {
        ("score", "mean"): 0.6875,
        ("score", "std"): 0.4375,
        ("bn", "aggregate"): 0.0,
        ("bn", "std"): 0.0,
        ("group_latin", "aggregate"): 1.0,
        ("group_latin", "std"): 0.0,
    }
    with pytest.raises(InputError, match="names the model"):
        take(Path(shutil.copy(MADE / "mgsm_tiny-3m.json", tmp_path / "mgsm.json")))


@pytest.mark.parametrize(
    "content",
    [
        {"score": 0.5, "loss": 1.0},
        {"score": 0.5, "score:std": "wide"},
        [{"score:std": 1}],
        {"acc:std": 1.0, "acc": 0.5},
        {"metrics": {}, "score": 1, "htmls": []},
    ],
)
def test_other_files_are_left_alone(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "other_file.json"
    path.write_text(json.dumps(content))
    assert lm_eval.claimed(path, importer=IMPORTER) == []


def test_lists_that_do_not_belong_together(tmp_path: Path) -> None:
    found = simple_evals.mmlu()
    found["htmls"].pop()
    with pytest.raises(
        InputError, match="messages, metadata and pages have 6, 6, 5 entries"
    ):
        take(written(tmp_path, found))


def test_in_a_store(tmp_path: Path, store_url: str) -> None:
    made = tmp_path / "made"
    shutil.copytree(MADE, made)
    with ingested(store_url, made) as (store, report):
        assert (report.total("n_runs"), len(report.sources)) == (3, 3)
        assert {Path(path).suffix for path in report.unclaimed} == {".html"}
        verdicts = {
            (row.benchmark, row.metric, row.verdict) for row in report.reconciliation
        }
        assert {
            ("mmlu", "score", "exact"),
            ("healthbench_hard", "score", "exact"),
        } <= verdicts
        found = select(
            store,
            "select benchmark, estimate, n_prompts from score_summary where metric = "
            "'score' order by benchmark",
        )
        assert [
            (row["benchmark"], row["estimate"], row["n_prompts"]) for row in found
        ] == [
            ("healthbench_hard", 0.25, 2),
            ("mmlu", 0.5, 3),
        ]
