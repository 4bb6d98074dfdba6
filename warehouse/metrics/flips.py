"""The prompts on which two models disagree, with what they were asked and what they said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warehouse.metrics.pairing import Pair
from warehouse.metrics.results import Row
from warehouse.metrics.selecting import one_of
from warehouse.store.engine import Store

_PROMPTS = "select id, tool_id, key, text, target from prompt where "
_LINKED = "select prompt_id, canonical_prompt_id from prompt_link where "
_RESPONSES = """
select fact.run_id, fact.prompt_id, fact.draw,
    coalesce(answer.text, fact.extracted_answer) as response
from generation fact
join prompt_variant on prompt_variant.id = fact.variant_id
left join content answer on answer.sha256 = fact.response_hash
where prompt_variant.perturbation = '' and {runs} and {prompts}
order by fact.run_id nulls last, fact.prompt_id nulls last, fact.draw nulls last
"""


@dataclass(frozen=True)
class Flip(Row):
    """A prompt on which the scores of two models differ.

    Attributes:
        benchmark: name of the benchmark.
        split: part of the benchmark.
        metric: name of the metric, with its filter.
        prompt_id: id in the store; ``show RUN PROMPT_ID`` shows all draws.
        tool_id: the tool's own id of the prompt; None if it has none.
        difference: ``score_a - score_b``.
        score_a: mean over the draws of the first, in the metric's unit per prompt.
        score_b: mean over the draws of the second.
        n_draws_a: generations behind ``score_a``.
        n_draws_b: generations behind ``score_b``.
        text: the question; None if it is not stored.
        target: the expected answer.
        response_a: first stored response of the first model, else the answer taken from it.
        response_b: first stored response of the second model.
        run_a: newest run of the first.
        run_b: newest run of the second.
    """

    benchmark: str
    split: str
    metric: str
    prompt_id: int
    tool_id: str | None
    difference: float
    score_a: float
    score_b: float
    n_draws_a: int
    n_draws_b: int
    text: str | None
    target: str | None
    response_a: str | None
    response_b: str | None
    run_a: int
    run_b: int


def read_flips(store: Store, pair: Pair, limit: int) -> list[Flip]:
    """The prompts of a pair with the largest differences.

    Args:
        limit: rows at most.

    Returns:
        largest \\|difference\\| first, then by prompt; no prompt without a difference.
    """
    score_a, score_b = pair.scores_a.values[pair.of_a], pair.scores_b.values[pair.of_b]
    difference = score_a - score_b
    order = np.lexsort((pair.prompts, -np.abs(difference)))
    chosen = [int(place) for place in order[:limit] if difference[place] != 0]
    ids = [int(pair.prompts[place]) for place in chosen]
    prompts = _by_id(store, ids)
    said = _responses(store, pair, ids)
    run_a, run_b = (condition.newest[1] for condition in (pair.a, pair.b))
    return [
        Flip(
            benchmark=pair.a.place[0], split=pair.a.place[1], metric=pair.metric.label,
            prompt_id=prompt, tool_id=prompts[prompt]["tool_id"],
            difference=float(difference[place]), score_a=float(score_a[place]),
            score_b=float(score_b[place]),
            n_draws_a=int(pair.scores_a.n_draws[pair.of_a[place]]),
            n_draws_b=int(pair.scores_b.n_draws[pair.of_b[place]]),
            text=prompts[prompt]["text"], target=prompts[prompt]["target"],
            response_a=said.get((0, prompt)), response_b=said.get((1, prompt)), run_a=run_a,
            run_b=run_b,
        )
        for place, prompt in zip(chosen, ids, strict=True)
    ]  # fmt: skip


def _by_id(store: Store, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    condition, parameters = one_of("id", ids, "p")
    return {row["id"]: row for row in store.arrow(_PROMPTS + condition, parameters).to_pylist()}


def _responses(store: Store, pair: Pair, ids: Sequence[int]) -> dict[tuple[int, int], str]:
    """First response of each side (0, 1) to each prompt; prompts linked to it count as it."""
    condition, parameters = one_of("canonical_prompt_id", ids, "p")
    links = store.arrow(_LINKED + condition, parameters).to_pylist()
    canonical = {key: key for key in ids}
    canonical |= {row["prompt_id"]: row["canonical_prompt_id"] for row in links}
    sides = dict.fromkeys(pair.a.run_ids, 0) | dict.fromkeys(pair.b.run_ids, 1)
    runs, _ = one_of("fact.run_id", list(sides), "r")
    prompts, _ = one_of("fact.prompt_id", list(canonical), "p")
    found: dict[tuple[int, int], str] = {}
    for row in store.arrow(_RESPONSES.format(runs=runs, prompts=prompts)).to_pylist():
        if row["response"] is not None:
            found.setdefault((sides[row["run_id"]], canonical[row["prompt_id"]]), row["response"])
    return found
