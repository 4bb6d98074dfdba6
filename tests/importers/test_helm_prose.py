"""HELM's language modelling: likelihoods of texts, of which one takes two requests. The
package itself wrote the folder (``tests/writers/helm_runs.py``)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.support.helm import FIXTURES, take
from tests.support.ingested import ingested
from tests.support.stores import select

(PROSE,) = FIXTURES.glob("prose*")


def tokens_of(name: str) -> list[tuple[str, float]]:
    """Text and log-probability of the tokens of an instance that were predicted, not
    given."""
    states = json.loads((PROSE / "scenario_state.json").read_text())["request_states"]
    return [
        (token["text"], token["logprob"])
        for state in states
        if state["instance"]["id"] == name
        for token in state["result"]["completions"][0]["tokens"][
            state["num_conditioning_tokens"] :
        ]
    ]


def scores_of(row: dict[str, Any]) -> dict[str, tuple[float, float]]:
    return {
        score["metric"]: (score["value"], score["weight"]) for score in row["scores"]
    }


@pytest.mark.parametrize("name", ["id0", "id1"])
def test_values_are_by_token_and_byte_over_all_requests(name: str) -> None:
    taken = take(PROSE)
    row = next(row for row in taken.rows if row["prompt_id"] == name)
    found = tokens_of(name)
    total = sum(logprob for _, logprob in found)
    size = sum(len(text.encode()) for text, _ in found)
    assert scores_of(row) == {
        "bits_per_byte": (pytest.approx(total / size, rel=1e-12), size),
        "logprob_per_byte": (pytest.approx(total / size, rel=1e-12), size),
        "perplexity": (pytest.approx(total / len(found), rel=1e-12), len(found)),
    }


def test_header_and_rows() -> None:
    taken = take(PROSE)
    (run,) = taken.dump.runs
    assert (run.benchmark, run.formulation) == ("prose:part=made", "language_modeling")
    assert [
        (metric.name, metric.link, metric.unit, metric.higher_is_better)
        for metric in run.metrics
    ] == [
        ("bits_per_byte", "neg_over_ln2", "nats/byte", False),
        ("perplexity", "exp_neg", "nats/token", False),
        ("logprob_per_byte", "identity", "nats/byte", True),
    ]
    assert [metric.is_default for metric in run.metrics] == [True, False, False]
    assert {item.metric: item.n for item in run.published} == {
        "bits_per_byte": 2,
        "perplexity": 2,
        "logprob_per_byte": 2,
    }
    short, long = taken.rows
    assert (short["draw"], long["draw"], long["response"]) == (0, 0, None)
    assert short["prompt_sent"] == "<s>1 short text"
    assert [text[:9] for text in json.loads(long["prompt_sent"])] == [
        "<s>2 wörd",
        "2 wörd0 w",
    ]
    assert (short["latency"], long["latency"]) == (1.25, 1.25 + 2.25)
    stated = {
        stat["name"]["name"]
        for entry in json.loads((PROSE / "per_instance_stats.json").read_text())
        for stat in entry["stats"]
    }
    used = {"logprob", "num_bytes", "num_perplexity_tokens", "num_prompt_tokens"}
    assert used < stated
    assert taken.dump.notes == [
        f"{len(stated - used)} bookkeeping statistics are no scores: dropped"
    ]


def test_figures_of_the_package_come_out(store_url: str) -> None:
    tokens = [token for name in ("id0", "id1") for token in tokens_of(name)]
    total = sum(logprob for _, logprob in tokens)
    size = sum(len(text.encode()) for text, _ in tokens)
    with ingested(store_url, PROSE) as (store, report):
        assert {(item.metric, item.verdict) for item in report.reconciliation} == {
            (name, "exact")
            for name in ("bits_per_byte", "perplexity", "logprob_per_byte")
        }
        found = select(store, "select metric, estimate from score_summary")
        assert {row["metric"]: row["estimate"] for row in found} == {
            "bits_per_byte": pytest.approx(-total / size / math.log(2), rel=1e-12),
            "perplexity": pytest.approx(math.exp(-total / len(tokens)), rel=1e-12),
            "logprob_per_byte": pytest.approx(total / size, rel=1e-12),
        }


def test_a_text_without_tokens_is_unscored(tmp_path: Path) -> None:
    for path in PROSE.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    path = tmp_path / "per_instance_stats.json"
    entries = json.loads(path.read_text())
    for stat in entries[0]["stats"]:
        if stat["name"]["name"] in ("logprob", "num_bytes", "num_perplexity_tokens"):
            stat |= {"sum": 0, "mean": 0.0}
    path.write_text(json.dumps(entries))
    row = next(row for row in take(tmp_path).rows if row["prompt_id"] == "id0")
    assert {
        (score["value"], score["weight"], score["status"]) for score in row["scores"]
    } == {(None, None, "error")}
