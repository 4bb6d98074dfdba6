"""Scores, options and generations as stored, and their means per prompt."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from warehouse.store.load.scratch import open_scratch
from warehouse.store.open import open_store

NAN, INF = float("nan"), float("inf")


def means(kit: Any) -> dict[str, tuple[Any, ...]]:
    rows = kit.all(
        "select key, value, weight, n_draws, within_variance, n_scored, n_unscored, "
        "is_binary "
        "from prompt_score join prompt on prompt.id = prompt_id"
    )
    return {row[0]: row[1:] for row in rows}


def test_draws_are_averaged(kit: Any) -> None:
    kit.load(
        kit.header(),
        [
            kit.row("a", value, draw=number, response=f"r{number}")
            for number, value in enumerate([1.0, 0.0, 1.0, 1.0])
        ],
    )
    assert means(kit)["a"] == pytest.approx((0.75, 1.0, 4, 0.25, 4, 0, True), rel=1e-12)
    assert kit.counts("generation", "content") == (4, 4)


def test_a_value_of_all_draws_together_stands_apart(kit: Any) -> None:
    rows = [kit.row("a", 0.0, draw=number) for number in range(3)]
    kit.load(kit.header(), [*rows, kit.row("a", 1.0, metric="maj@3", draw=-1)])
    assert kit.all(
        "select name, value, n_draws from prompt_score join metric on metric.id = "
        "metric_id order by name"
    ) == [("acc", 0.0, 3), ("maj@3", 1.0, 1)]
    assert kit.all("select draw from score order by 1") == [(-1,), (0,), (1,), (2,)]


def test_draws_of_examples_are_averaged_and_perturbations_are_not(
    kit: Any, whole: Any
) -> None:
    kit.load(
        kit.header(),
        [
            kit.row("a", 1.0, fewshot_draw="1"),
            kit.row("a", 0.0, fewshot_draw="2"),
            kit.row("a", 1.0, perturbation="typos"),
            kit.row("a", 1.0, perturbation="dialect", template="t2"),
        ],
    )
    assert kit.all(
        "select perturbation, value, n_draws from prompt_score order by perturbation"
    ) == [
        ("", 0.5, 2),
        ("dialect", 1.0, 1),
        ("typos", 1.0, 1),
    ]
    assert kit.counts("prompt", "prompt_variant", "score") == (1, 4, 4)


#: prompt: its scores, and what prompt_score makes of them
MEANS: dict[str, Any] = {
    "rate": (
        [{"value": 0.3, "n_draws": 10}],
        (0.3, 1.0, 10, 0.3 * 0.7 * 10 / 9, 1, 0, False),
    ),
    "count": ([{"value": 3.0, "n_draws": 10}], (3.0, 1.0, 10, None, 1, 0, False)),
    "two rates": (
        [{"value": 1.0, "n_draws": 2}, {"value": 0.0, "n_draws": 6}],
        (0.25, 1.0, 8, 0.25 * 0.75 * 8 / 7, 2, 0, True),
    ),
    "weights": (
        [{"value": 2.0, "weight": 1.0}, {"value": 5.0, "weight": 3.0}],
        (4.25, 2.0, 2, 4.5, 2, 0, False),
    ),
    "one missing": ([{"value": 1.0}, {"value": None}], (1.0, 1.0, 1, None, 1, 1, True)),
    "all missing": (
        [{"value": None}, {"value": NAN}],
        (None, 1.0, 0, None, 0, 2, False),
    ),
    "one": ([{"value": 0.5}], (0.5, 1.0, 1, None, 1, 0, False)),
}


def test_the_mean_of_a_prompt(kit: Any, whole: Any) -> None:
    rows = [
        kit.row(prompt, draw=draw, scores=[{"metric": "acc"} | score])
        for prompt, (scores, _) in MEANS.items()
        for draw, score in enumerate(scores)
    ]
    kit.load(kit.header(), rows)
    for prompt, found in means(kit).items():
        for value, expected in zip(found, MEANS[prompt][1], strict=True):
            assert value == (
                expected if expected is None else pytest.approx(expected)
            ), prompt


# --- values that are no numbers --------------------------------------------------------------


def test_what_is_no_number_is_null_with_its_reason(kit: Any, whole: Any) -> None:
    given = [
        {"value": 1.0},
        {"value": NAN},
        {"value": INF},
        {"value": -INF},
        {"value": None},
        {"value": None, "status": "refused"},
        {"value": 0.0, "status": "no_answer"},
        {"value": None, "status": "not_scalar", "raw": "[1, 2]"},
        {"value": NAN, "status": "limit"},
        {"value": NAN, "status": "scored"},
        {"value": 1.0, "origin": "implied", "raw": "yes"},
        {"value": 0.5, "n_draws": 0},
        {"value": 0.5, "weight": -1.0},
        {"value": 0.5, "weight": NAN},
    ]
    kit.load(
        kit.header(),
        [
            kit.row(f"{place:02}", scores=[{"metric": "acc"} | score])
            for place, score in enumerate(given)
        ],
    )
    assert kit.all(
        "select value, status, raw, origin from score join prompt on prompt.id = "
        "prompt_id order by key"
    ) == [
        (1.0, "scored", None, "recorded"),
        (None, "error", "nan", "recorded"),
        (None, "error", "inf", "recorded"),
        (None, "error", "-inf", "recorded"),
        (None, "error", None, "recorded"),
        (None, "refused", None, "recorded"),
        (0.0, "no_answer", None, "recorded"),
        (None, "not_scalar", "[1, 2]", "recorded"),
        (None, "limit", "nan", "recorded"),
        (None, "error", "nan", "recorded"),
        (1.0, "scored", "yes", "implied"),
        *[(None, "error", "0.5", "recorded")] * 3,
    ]


def test_options_are_stored_as_they_are(kit: Any, whole: Any) -> None:
    options = [
        {
            "choice_index": 0,
            "loglikelihood": -1.5,
            "unconditional_loglikelihood": -3.0,
            "is_greedy": True,
            "n_tokens": 2,
            "n_bytes": 7,
            "is_target": False,
        },
        {"choice_index": 1, "loglikelihood": None, "is_target": None},
        {"choice_index": 2, "loglikelihood": NAN, "unconditional_loglikelihood": -INF},
    ]
    kit.load(
        kit.header(), [kit.row("a", 1.0, choice_scores=options), kit.row("b", 0.0)]
    )
    assert kit.all(
        "select choice_index, loglikelihood, unconditional_loglikelihood, is_greedy, "
        "n_tokens, "
        "n_bytes, is_target from choice order by 1"
    ) == [
        (0, -1.5, -3.0, True, 2, 7, False),
        (1, None, None, None, None, None, None),
        (2, None, -INF, None, None, None, None),
    ]
    assert kit.one("select n_choices, n_scores, n_generations from run") == (3, 2, 0)


def test_what_is_known_of_a_generation_is_stored(kit: Any) -> None:
    told = {
        "extracted_answer": "4",
        "finish_reason": "stop",
        "input_tokens": 2**40,
        "output_tokens": 0,
        "latency": 0.25,
        "cost": 1e-6,
        "error": "none",
        "explanation": "ok",
    }
    kit.load(
        kit.header(), [kit.row("a", 1.0, **told), kit.row("b", 1.0, output_tokens=3)]
    )
    columns = ", ".join(told)
    assert kit.all(f"select {columns} from generation order by prompt_id") == [
        tuple(told.values()),
        (None, None, None, 3, None, None, None, None),
    ]


@pytest.mark.parametrize("said", ["", "abc", "\N{SNOWMAN}" * 50])
def test_the_hash_that_stored_digests_are_made_of(kit: Any, said: str) -> None:
    scratch = open_scratch(kit.store)
    found = scratch.rows(
        "select hash_64($said), hash_64(encode($said))", {"said": said}
    )[0]
    scratch.close()
    assert set(found) == {
        int.from_bytes(hashlib.md5(said.encode()).digest()[8:], "little")
    }


def test_how_columns_are_compressed(duckdb_url: str) -> None:
    """Texts by the method that makes them smallest; hashes, which none makes smaller,
    by none."""
    with open_store(duckdb_url, write=True) as store:
        raw = store.connection.connection.driver_connection
        texts = "sha256(range::varchar)"
        raw.execute(
            f"insert into content select unhex({texts}), {texts} || repeat(' and so "
            "on', 40) from range(20000)"
        )
        raw.execute("checkpoint")
        used = raw.execute(
            "select distinct column_name, compression from "
            "pragma_storage_info('content')"
            " where segment_type <> 'VALIDITY' order by 1"
        ).fetchall()
    assert used == [("sha256", "Uncompressed"), ("text", "ZSTD")]
