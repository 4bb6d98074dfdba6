"""Texts behind the scores of a pair's prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from warehouse.analysis.comparison.pairing import (
    Pair,
)
from warehouse.analysis.comparison.read import ALL
from warehouse.analysis.selection.prompts import (
    options,
)
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

_PROMPTS = (
    "select id, tool_id, substr(text, 1, :most) as text, substr(target, 1, :most) as "
    "target, choices from prompt where id in (:ids)"
)
_LINKED = (
    "select prompt_id, canonical_prompt_id from prompt_link where canonical_prompt_id "
    "in (:ids)"
)


@dataclass(frozen=True)
class PairTexts:
    """Texts behind the scores of some prompts of a pair."""

    prompts: Mapping[int, Mapping[str, Any]]  #: rows of ``prompt`` by id.
    #: first stored response of each side (0, 1) to each prompt.
    responses: Mapping[tuple[int, int], str]
    #: most likely option of each side to each prompt, where several were scored.
    choices: Mapping[tuple[int, int], str]


def read_texts(
    store: Store, chosen: Sequence[tuple[Pair, Sequence[int]]], most: int = ALL
) -> list[PairTexts]:
    """The texts of some prompts of each pair, links followed; as many reads for all
    pairs as for one.

    Args:
        most: characters of each that are read.
    """
    ids = sorted(set(chain.from_iterable(own for _, own in chosen)))
    prompts = {
        row["id"]: row for row in store.rows(_PROMPTS, {"ids": ids, "most": most})
    }
    linked = {
        row["prompt_id"]: row["canonical_prompt_id"]
        for row in store.rows(_LINKED, {"ids": ids})
    }
    canonical = {prompt: prompt for prompt in ids} | linked
    sides = chain.from_iterable((pair.a, pair.b) for pair, _ in chosen)
    runs = sorted(set(chain.from_iterable(side.run_ids for side in sides)))

    def rows_of(query: str) -> Iterator[tuple[tuple[int, int], Mapping[str, Any]]]:
        """Rows with their run and the prompt that they count as."""
        sql = query_text("analysis", query)
        for row in store.rows(
            sql, {"run_ids": runs, "prompt_ids": [*canonical], "most": most}
        ):
            yield (row["run_id"], canonical[row["prompt_id"]]), row

    responses: dict[tuple[int, int], str] = {}
    for key, row in rows_of("paired_responses"):
        if row["response"] is not None:
            responses.setdefault(key, row["response"])
    scored: dict[tuple[int, int], list[int]] = {}  # the likeliest comes last
    for key, row in rows_of("likeliest_choices"):
        scored.setdefault(key, []).append(row["choice_index"])
    return [_texts_of(pair, own, prompts, responses, scored) for pair, own in chosen]


def _texts_of(
    pair: Pair,
    ids: Sequence[int],
    prompts: Mapping[int, Mapping[str, Any]],
    responses: Mapping[tuple[int, int], str],
    scored: Mapping[tuple[int, int], Sequence[int]],
) -> PairTexts:
    """Texts that the first run of each side said, and found likeliest, of what each run
    did by its id and prompt."""
    said, choices = {}, {}
    for side, condition in enumerate((pair.a, pair.b)):
        for prompt in ids:
            keys = [
                (run, prompt) for run in sorted(condition.run_ids, reverse=True)
            ]  # the first run comes last
            if answers := [responses[key] for key in keys if key in responses]:
                said[side, prompt] = answers[-1]
            indices = list(chain.from_iterable(scored.get(key, ()) for key in keys))
            if len(set(indices)) > 1:
                choices[side, prompt] = _option(prompts[prompt]["choices"], indices[-1])
    return PairTexts(prompts, said, choices)


def _option(choices: Any, index: int) -> str:
    """Text of an option; its number from 0 where the texts are not stored."""
    offered = options(choices)
    if 0 <= index < len(offered):
        return offered[index]
    return f"option {index}"
