"""The prompts on which two models disagree, with what they were asked and what they said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warehouse.analysis.comparison.pairing import Pair
from warehouse.analysis.results import Row
from warehouse.analysis.selection.prompts import options
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

_PROMPTS = "select id, tool_id, text, target, choices from prompt where id in (:ids)"
_LINKED = "select prompt_id, canonical_prompt_id from prompt_link where canonical_prompt_id in (:ids)"


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
        choice_a: answer option that the first model finds most likely (largest log-likelihood),
            where several were scored.
        choice_b: the same of the second model.
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
    choice_a: str | None
    choice_b: str | None
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
    sources = _Sources(store, pair, ids)
    responses, picked = sources.responses(), sources.choices(prompts)
    run_a, run_b = (condition.newest[1] for condition in (pair.a, pair.b))
    return [
        Flip(
            benchmark=pair.a.benchmark_split[0],
            split=pair.a.benchmark_split[1],
            metric=pair.metric.label,
            prompt_id=prompt,
            tool_id=prompts[prompt]["tool_id"],
            difference=float(difference[place]),
            score_a=float(score_a[place]),
            score_b=float(score_b[place]),
            n_draws_a=int(pair.scores_a.n_draws[pair.of_a[place]]),
            n_draws_b=int(pair.scores_b.n_draws[pair.of_b[place]]),
            text=prompts[prompt]["text"],
            target=prompts[prompt]["target"],
            response_a=responses.get((0, prompt)),
            response_b=responses.get((1, prompt)),
            choice_a=picked.get((0, prompt)),
            choice_b=picked.get((1, prompt)),
            run_a=run_a,
            run_b=run_b,
        )
        for place, prompt in zip(chosen, ids, strict=True)
    ]


def _by_id(store: Store, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    return {row["id"]: row for row in store.rows(_PROMPTS, {"ids": ids})}


class _Sources:
    """Where the texts of some prompts are: the runs of both sides, and prompts linked to them."""

    def __init__(self, store: Store, pair: Pair, ids: Sequence[int]) -> None:
        links = store.rows(_LINKED, {"ids": ids})
        self.store = store
        self.canonical = {key: key for key in ids}
        self.canonical |= {row["prompt_id"]: row["canonical_prompt_id"] for row in links}
        self.sides = dict.fromkeys(pair.a.run_ids, 0) | dict.fromkeys(pair.b.run_ids, 1)

    def responses(self) -> dict[tuple[int, int], str]:
        """First stored response of each side (0, 1) to each prompt."""
        responses: dict[tuple[int, int], str] = {}
        for side, row in self._rows(query_text("analysis", "paired_responses")):
            if row["response"] is not None:
                responses.setdefault(side, row["response"])
        return responses

    def choices(self, prompts: Mapping[int, Mapping[str, Any]]) -> dict[tuple[int, int], str]:
        """Most likely option of each side to each prompt, where several were scored."""
        seen: dict[tuple[int, int], set[int]] = {}
        best: dict[tuple[int, int], int] = {}
        # the likeliest of the first run comes last
        for side, row in self._rows(query_text("analysis", "likeliest_choices")):
            seen.setdefault(side, set()).add(row["choice_index"])
            best[side] = row["choice_index"]
        return {
            side: _option(prompts[side[1]]["choices"], index) for side, index in best.items() if len(seen[side]) > 1
        }

    def _rows(self, query: str) -> Iterator[tuple[tuple[int, int], Mapping[str, Any]]]:
        """Rows with their side and the prompt that they count as."""
        for row in self.store.rows(query, {"run_ids": list(self.sides), "prompt_ids": list(self.canonical)}):
            yield (self.sides[row["run_id"]], self.canonical[row["prompt_id"]]), row


def _option(choices: Any, index: int) -> str:
    """Text of an option; its number from 0 where the texts are not stored."""
    offered = options(choices)
    return offered[index] if 0 <= index < len(offered) else f"option {index}"
