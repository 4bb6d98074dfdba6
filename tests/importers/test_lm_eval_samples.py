"""Sample rows of lm-evaluation-harness: prompts, draws, filters, scores, likelihoods."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.lm_eval import FIXTURES, Row, Taken, alike, take


@pytest.fixture(scope="module")
def newest() -> Taken:
    return take(FIXTURES / "v0_4_13")


def brief(row: Row, *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def score(row: Row, metric: str) -> dict[str, Any]:
    (found,) = [item for item in row["scores"] if item["metric"] == metric]
    return {name: value for name, value in found.items() if value is not None}


def test_what_a_prompt_is(newest: Taken) -> None:
    _, row, _ = alike(newest.rows_of("demo_mc"))
    doc = {
        "question": "Which is “green”?",
        "choices": ["blood", "grass", "coal"],
        "label": 1,
        "passage_id": "p1",
    }
    assert row["identity"] == {"doc": doc, "target": "1"}
    assert row["metadata"] == doc
    assert brief(row, "position", "prompt_id", "text", "target", "choices", "draw") == (
        1,
        "1",
        "Which is “green”?",
        "1",
        ["blood", "grass", "coal"],
        0,
    )
    assert row["prompt_sent"] == "Question: Which is “green”?\nAnswer:"
    assert row["response"] is None


def test_likelihoods_of_options(newest: Taken) -> None:
    first, second, _ = newest.rows_of("demo_mc")
    assert [
        brief(
            item, "choice_index", "loglikelihood", "is_greedy", "n_bytes", "is_target"
        )
        for item in second["choice_scores"]
    ] == [
        (0, -2.75, False, 5, False),
        (1, -3.125, False, 5, True),
        (2, -4.0, False, 4, False),
    ]
    assert first["choice_scores"][0]["is_greedy"] is True
    assert {
        item["unconditional_loglikelihood"] for item in second["choice_scores"]
    } == {None}


def test_values_that_are_no_number(newest: Taken) -> None:
    first, second, third = newest.rows_of("demo_mc")
    assert score(second, "f1") == {
        "metric": "f1",
        "filter": "",
        "raw": "[1,0]",
        "status": "not_scalar",
    }
    assert score(second, "verdict")["raw"] == '"unsure é"'
    assert json.loads(score(first, "parts")["raw"]) == {"a": True, "b": [1, 2.5]}
    assert score(first, "brier_score")["raw"] == '[0,"[0.78 0.22]"]'
    assert score(third, "acc_norm") == {
        "metric": "acc_norm",
        "filter": "",
        "status": "error",
    }
    assert score(first, "acc") == {"metric": "acc", "filter": "", "value": 1.0}


def test_repeats_are_draws_and_a_filter_scores_one_or_all(newest: Taken) -> None:
    rows = newest.rows_of("demo_gen")
    written = [
        brief(row, "prompt_id", "draw", "response") for row in rows if row["response"]
    ]
    assert sorted(written) == [
        ("0", 0, "It is 3 pens. #### 3"),
        ("0", 1, "So #### 4"),
        ("1", 0, "no idea"),
        ("1", 1, "It leaves #### 1"),
    ]
    assert newest.scores("demo_gen") == {
        ("0", 0, "exact_match", "strict-match"): 1.0,
        ("1", 0, "exact_match", "strict-match"): 0.0,
        ("0", -1, "exact_match", "maj@2"): 1.0,
        ("1", -1, "exact_match", "maj@2"): 1.0,
        ("0", -1, "exact_match", "keep-all"): 0.5,
        ("1", -1, "exact_match", "keep-all"): 0.25,
    }
    together = [row for row in rows if row["draw"] == -1]
    assert {row["scores"][0]["n_draws"] for row in together} == {2}
    assert {row["prompt_sent"] for row in together} == {None}


def test_texts_of_generations(newest: Taken) -> None:
    row = next(row for row in newest.rows_of("demo_gen") if row["response"])
    assert row["text"] == "Ann has 2 pens and buys 1.\nHow many pens?"
    assert row["extracted_answer"] == "3"
    assert row["prompt_sent"] == "Ann has 2 pens and buys 1. How many pens?"


def test_no_match_is_no_answer(newest: Taken) -> None:
    row = next(
        row for row in newest.rows_of("demo_gen") if row["response"] == "no idea"
    )
    assert row["extracted_answer"] is None
    assert score(row, "exact_match") == {
        "metric": "exact_match",
        "filter": "strict-match",
        "value": 0.0,
        "status": "no_answer",
    }


def test_perplexities_are_nats_per_unit_with_weight(newest: Taken) -> None:
    first, second = newest.rows_of("demo_ppl")
    assert score(first, "word_perplexity") == {
        "metric": "word_perplexity",
        "filter": "",
        "value": -1.9,
        "weight": 5.0,
        "raw": "[-9.5,5]",
    }
    assert score(second, "bits_per_byte")["value"] == -6.25 / 14
    (whole,) = second["choice_scores"]
    assert brief(whole, "loglikelihood", "n_bytes", "is_target") == (-6.25, 14, True)
    assert second["text"] == "another doc é"


def test_a_prompt_of_chat_messages_and_two_filters_of_one_response() -> None:
    taken = take(FIXTURES / "v0_4_9")
    rows = taken.rows_of("chat_math")
    assert [row["prompt_sent"] for row in rows] == [
        '[{"role": "user", "content": "2+3"}]',
        '[{"role": "user", "content": "9-1"}]',
        None,
        None,
    ]
    assert taken.scores("chat_math") == {
        ("0", 0, "exact_match", "strict-match"): 1.0,
        ("1", 0, "exact_match", "strict-match"): 0.0,
        ("0", 0, "exact_match", "flexible-extract"): 1.0,
        ("1", 0, "exact_match", "flexible-extract"): 1.0,
    }
    assert [row["text"] for row in rows] == ["2+3", "9-1", "2+3", "9-1"]


def test_mutual_information_has_unconditional_halves() -> None:
    first, second = take(FIXTURES / "v0_4_9").rows_of("mutual")
    assert [
        brief(item, "loglikelihood", "unconditional_loglikelihood", "is_target")
        for item in second["choice_scores"]
    ] == [(-1.25, -5.5, True), (-2.25, -6.75, False)]
    assert json.loads(first["choices"]) == ["low", "high"]


def test_rows_without_labels_are_in_filter_order_for_each_document() -> None:
    taken = take(FIXTURES / "v0_4_5")
    exact = {
        key: value
        for key, value in taken.scores("sums").items()
        if key[2] == "exact_match"
    }
    assert exact == {
        ("0", 0, "exact_match", "strict"): 1.0,
        ("0", 0, "exact_match", "loose"): 1.0,
        ("1", 0, "exact_match", "strict"): 0.0,
        ("1", 0, "exact_match", "loose"): 0.0,
        ("2", 0, "exact_match", "strict"): 0.0,
        ("2", 0, "exact_match", "loose"): 1.0,
    }
    assert sum(row["response"] is not None for row in taken.rows_of("sums")) == 3
    # names that differ in case alone are two metrics
    assert taken.mean("sums", "rougeL", "strict") == 0.625
    assert taken.mean("sums", "ROUGEL", "strict") == 1.0
    # a continuous score of an unparsed answer is still a score
    third = [row for row in taken.rows_of("sums") if row["prompt_id"] == "2"][0]
    assert score(third, "rougeL") == {
        "metric": "rougeL",
        "filter": "strict",
        "value": 0.75,
    }


def test_arrays_of_the_oldest_version() -> None:
    taken = take(FIXTURES / "v0_4_2")
    first, second = taken.rows_of("yes_no")
    assert [
        brief(item, "loglikelihood", "is_greedy", "is_target")
        for item in first["choice_scores"]
    ] == [
        (-1.5, False, False),
        (-0.5, True, True),
    ]
    assert json.loads(second["identity"]) == {
        "doc": {"question": "Down?", "choices": ["no", "yes"]},
        "target": "1",
    }
    (listed,) = taken.rows_of("lists")
    assert listed["target"] == "['a', 'b']"  # as later versions write it
    assert score(listed, "em") == {"metric": "em", "filter": "", "value": 1.0}


def test_samples_alone_keep_their_filters() -> None:
    taken = take(FIXTURES / "samples_only", model="org/echo")
    assert taken.scores("echo") == {
        ("0", 0, "match", ""): 0.0,
        ("1", 0, "match", ""): 0.5,
        ("0", 0, "match", "upper"): 0.0,
        ("1", 0, "match", "upper"): 0.5,
    }
    assert [row["response"] for row in taken.rows] == ["0.", "1.", None, None]
