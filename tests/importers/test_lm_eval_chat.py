"""A run of a chat model, written by lm-eval 0.4.13 itself
(``tests/writers/lm_eval_runs.py``)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.lm_eval import FIXTURES, take
from warehouse.ingest.pipeline import ingest
from warehouse.store.open import open_store

RUN = FIXTURES / "v0_4_13_chat"


@pytest.fixture(scope="module")
def taken() -> Any:
    return take(RUN)


def rows(taken: Any, benchmark: str) -> list[dict[str, Any]]:
    number = [run.benchmark for run in taken.dump.runs].index(benchmark)
    return [row for row in taken.rows if row["run"] == number]


def test_who_was_asked_and_how(taken: Any) -> None:
    runs = {run.benchmark: run for run in taken.dump.runs}
    assert list(runs) == [
        "quiz_maps",
        "quiz_seas",
        "sums_chat",
        "pronouns",
        "last_word",
    ]
    chat = runs["sums_chat"]
    assert (chat.model, chat.revision, chat.step, chat.harness_version) == (
        "org/scripted",
        "step2000",
        2000,
        "0.4.13",
    )
    assert (chat.fewshot, chat.temperature, chat.sampling["fewshot_as_multiturn"]) == (
        2,
        0.5,
        True,
    )
    assert runs["quiz_maps"].suite == runs["quiz_seas"].suite == ("quiz",)
    assert len({run.system_prompt_hash for run in runs.values()}) == 1


def test_messages_draws_and_votes(taken: Any) -> None:
    chat = rows(taken, "sums_chat")
    first = chat[0]
    roles = [message["role"] for message in json.loads(first["prompt_sent"])]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    assert first["text"] == "0+0?"
    texts = {
        (row["prompt_id"], row["draw"]): row["response"]
        for row in chat
        if row["draw"] >= 0
    }
    assert [texts["0", draw] for draw in range(3)] == [
        "It is 0.",
        "It is 1.",
        "It is 0.",
    ]
    assert len(texts) == 12
    voted = [row["scores"][0] for row in chat if row["draw"] == -1]
    assert [(score["filter"], score["n_draws"], score["value"]) for score in voted] == [
        ("maj@3", 3, value) for value in (1.0, 1.0, 1.0, 0.0)
    ]


def test_options_that_stand_in_the_prompt_have_likelihoods_and_no_target(
    taken: Any,
) -> None:
    first = rows(taken, "pronouns")[0]
    assert [item["loglikelihood"] for item in first["choice_scores"]] == [
        -5.318359375,
        -6.185546875,
    ]
    assert [item["is_target"] for item in first["choice_scores"]] == [None, None]
    assert first["choices"] is None


def test_every_figure_is_found_again(tmp_path: Path) -> None:
    with open_store(f"duckdb:///{tmp_path}/x.duckdb", create=True) as store:
        report = ingest(store, [RUN])
    assert [row.verdict for row in report.reconciliation] == ["exact"] * 9


def _changed(tmp_path: Path, **changes: Any) -> Any:
    """The few-shot settings of the chat task, some of them changed."""
    folder = tmp_path / "dump"
    shutil.copytree(RUN, folder)
    (path,) = folder.glob("*/results_*.json")
    document = json.loads(path.read_text())
    config = document["configs"]["sums_chat"]["fewshot_config"]
    for name, value in changes.items():
        config[name] = value
        if value is None:
            del config[name]
    path.write_text(json.dumps(document))
    return take(folder).run("sums_chat").sampling.get("fewshot_config")


@pytest.mark.rare
def test_other_examples_are_another_condition(tmp_path: Path, taken: Any) -> None:
    usual = taken.run("sums_chat").sampling["fewshot_config"]
    assert (
        _changed(tmp_path / "a", samples=[{"question": "9+0?", "answer": "9"}] * 3)
        != usual
    )
    assert _changed(tmp_path / "b", sampler="default") != usual
    assert _changed(tmp_path / "e", doc_to_text="Q: {{question}}") != usual
    assert (
        _changed(
            tmp_path / "f",
            doc_to_text="<function ask at 0x7f>",
            process_docs="<function clean at 0x7f>",
        )
        == usual
    )
    # what the task says already, and what is usual, are listed after 0.4.9 only
    spoken = dict.fromkeys(
        (
            "doc_to_text",
            "doc_to_target",
            "target_delimiter",
            "fewshot_delimiter",
            "split",
        )
    )
    assert _changed(tmp_path / "c", **spoken) == usual
    assert _changed(tmp_path / "d", samples=None, sampler="default") is None


def test_without_examples_their_choice_is_none(taken: Any) -> None:
    assert all(
        "fewshot_config" not in run.sampling
        for run in taken.dump.runs
        if run.fewshot == 0
    )
