"""Conditions that only a hash tells apart say what differs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.builders import StoreRows
from warehouse.analysis.compare.answer import compare
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.analysis.listing_view import runs_table
from warehouse.analysis.selection.listed_runs import list_runs
from warehouse.errors import MisuseError
from warehouse.records import RunHeader
from warehouse.records.settings import settings_of
from warehouse.store.open import open_store

SAME: dict[str, Any] = {"model_args": {"dtype": "float16"}, "date": 1}


def labels_of(
    url: str, configurations: list[dict[str, Any]], **column: list[str]
) -> set[str]:
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    for number, configuration in enumerate(configurations):
        run = rows.run("lab/a", "quiz", n_requested=number)
        rows.scores(run, {"q1": 1.0, "q2": float(number)})
        rows.rows["run"][-1] |= {"n_requested": None, "configuration": configuration}
        columns = {name: values[number] for name, values in column.items()}
        header = RunHeader(
            "tool", "lab/a", "quiz", configuration=configuration, **columns
        )
        rows.rows["run"][-1] |= columns | {
            "settings": dict(settings_of(header).settings)
        }
    with open_store(url, create=True) as store:
        rows.write(store)
        return {row.condition for row in leaderboard(store, "quiz").rows}


def test_look_alikes_are_told_by_what_differs_in_their_configuration(
    store_url: str,
) -> None:
    other = {"model_args": {"dtype": "bfloat16"}, "date": 2, "api_key": "secret"}
    assert labels_of(store_url, [SAME, other]) == {"dtype=float16", "dtype=bfloat16"}


def test_a_prompt_that_differs_is_quoted(store_url: str) -> None:
    two = [
        SAME | {"system_instruction": text}
        for text in ("Be brief.", "Think step by step.")
    ]
    found = labels_of(store_url, two, system_prompt_hash=["a" * 64, "b" * 64])
    assert found == {
        "system_instruction=Be brief.",
        "system_instruction=Think step by step.",
    }


@pytest.mark.parametrize("other", [SAME, SAME | {"date": 7, "output_path": "x"}])
def test_what_nothing_explains_keeps_its_hash(
    store_url: str, other: dict[str, Any]
) -> None:
    found = labels_of(store_url, [SAME, other])
    assert all(label.startswith("condition=") for label in found) and len(found) == 2


def test_comparisons_and_refusals_say_what_differs(store_url: str) -> None:
    labels_of(store_url, [SAME, {"model_args": {"dtype": "bfloat16"}}])
    with open_store(store_url) as store:
        (row,) = compare(store, "run:1", "run:2").rows
        assert (row.condition_a, row.condition_b) == ("dtype=float16", "dtype=bfloat16")
        with pytest.raises(
            MisuseError,
            match=r"run:1  lab/a, dtype=float16\n  run:2  lab/a, dtype=bfloat16",
        ):
            compare(store, "lab/a", "run:2")


def test_a_comparison_says_that_prompts_of_one_text_are_clusters(
    store_url: str,
) -> None:
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    for model in ("lab/a", "lab/b"):
        rows.scores(
            rows.run(model, "quiz"),
            {f"q{n}": float(n % len(model) == 0) for n in range(12)},
        )
    for prompt in rows.rows["prompt"]:
        prompt["text_hash"] = b"t" * 32
    with open_store(store_url, create=True) as store:
        rows.write(store)
        found = compare(store, "lab/a", "lab/b")
    assert found.rows[0].n_clusters == 1
    assert found.notes == (
        "quiz: 12 of 12 prompts have the same text as another, 12 of them one text: "
        "errors take prompts of one text as a cluster (same_text); --cluster none does "
        "not",
    )


def test_runs_of_one_name_are_listed_with_what_differs(store_url: str) -> None:
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    for seed, temperature in (("1", 0.5), ("2", 0.5), ("2", 1.0)):
        rows.run("lab/a", "quiz", seed=seed, temperature=temperature)
    rows.run("lab/a", "quiz", seed="3", temperature=0.5, status="invalidated")
    with open_store(store_url, create=True) as store:
        rows.write(store)
        assert [run.condition for run in list_runs(store)] == [
            "training_seed=1, temperature=0.5",
            "training_seed=2, temperature=0.5",
            "training_seed=2, temperature=1.0",
        ]
        assert [run.run_id for run in list_runs(store, where=["training_seed=2"])] == [
            2,
            3,
        ]
        assert list_runs(store, everything=True)[3].condition == ""


def two_harnesses(url: str, *metrics: str) -> list[str]:
    """Labels of two conditions by other harnesses, on the first metric; each has a
    metric of its own."""
    rows = StoreRows()
    for metric in dict.fromkeys(metrics):
        rows.describe("quiz", rows.metric(metric))
    configurations: list[dict[str, Any]] = [
        {"backend": "hf", "num_fewshot": 5, "max_length": 4},
        {"engine": "vllm"},
    ]
    for number, (metric, configuration) in enumerate(
        zip(metrics, configurations, strict=True)
    ):
        harness = ("lm_eval", "lighteval")[number]
        rows.group(harness)
        rows.rows["run_group"][-1]["harness"] = harness
        run = rows.run("lab/a", "quiz", group=harness, n_requested=number)
        rows.scores(run, {"q1": 1.0, "q2": float(number)}, metric=rows.metric(metric))
        fewshot = 5 if number == 0 else None
        header = RunHeader(
            harness, "lab/a", "quiz", configuration=configuration, fewshot=fewshot
        )
        rows.rows["run"][-1] |= {
            "n_requested": None,
            "fewshot": fewshot,
            "configuration": configuration,
        }
        rows.rows["run"][-1] |= {"settings": dict(settings_of(header).settings)}
    with open_store(url, create=True) as store:
        rows.write(store)
        return [
            row.condition for row in leaderboard(store, "quiz", metric=metrics[0]).rows
        ]


def test_of_two_harnesses_the_harness_tells_rows_apart(store_url: str) -> None:
    assert set(two_harnesses(store_url, "acc", "acc")) == {
        "harness=lm_eval",
        "harness=lighteval",
    }


@pytest.mark.parametrize("judges", [("gpt", "claude"), ("claude", "gpt")])
def test_a_run_that_two_scorers_judged_has_no_single_figure(
    store_url: str, judges: tuple[str, str]
) -> None:
    rows = StoreRows()
    both, one = rows.run("lab/both", "quiz"), rows.run("lab/one", "quiz")
    for judge in judges:
        metric = rows.metric("quality", judge=judge)
        rows.describe("quiz", metric)
        rows.scores(both, {"q1": 1.0, "q2": float(judge == "gpt")}, metric)
    rows.scores(one, {"q1": 1.0, "q2": 0.0}, metric)
    with open_store(store_url, create=True) as store:
        rows.write(store)
        listed = {run.model: run for run in list_runs(store)}
        shown = str(runs_table(list(listed.values())))
    assert (listed["lab/both"].score, listed["lab/both"].n_scorers) == (None, 2)
    assert listed["lab/both"].metric == listed["lab/one"].metric == "quality"
    assert (listed["lab/one"].score, listed["lab/one"].n_scorers) == (0.5, 1)
    assert "by 2 scorers" in shown
