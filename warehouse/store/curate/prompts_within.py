"""Questions that stand whole within a longer prompt: with examples before them, or
instructions around, as another version of a tool sends them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Characters below which a text stands in others by chance.
LEAST = 40


@dataclass
class AskedText:
    """A prompt with its text, blanks made one, and the runs that were asked it."""

    id: int
    benchmark: int
    text: str
    target: str | None
    runs: set[int] = field(default_factory=set)


def read_texts(store: Store, benchmarks: Sequence[int]) -> list[AskedText]:
    """The prompts of some benchmarks that have a text."""
    rows = store.rows(
        query_text("store", "prompts_asked_of_benchmark"),
        {"benchmarks": list(benchmarks)},
    )
    return _asked(rows)


def _asked(rows: Iterable[Mapping[str, Any]]) -> list[AskedText]:
    found: dict[int, AskedText] = {}
    for row in rows:
        asked = found.get(row["id"])
        if asked is None:
            text = " ".join(row["text"].split())
            asked = AskedText(row["id"], row["benchmark_id"], text, row["target"])
            found[row["id"]] = asked
        if row["run_id"] is not None:
            asked.runs.add(row["run_id"])
    return list(found.values())


@dataclass(frozen=True)
class Within:
    """Which prompts are one question."""

    #: the longer prompt and the question that stands in it.
    pairs: tuple[tuple[int, int], ...]
    #: prompts of the first that hold several questions, or one of another target.
    n_ambiguous: int


def questions_within(
    prompts: Sequence[AskedText], others: Sequence[AskedText]
) -> Within:
    """The prompts of one side in which a question of the other stands whole, or the
    reverse, once and with an equal target.

    A prompt that holds several questions of the other side is left alone, and so is a
    question that several hold; two that one run was asked are two questions.

    Args:
        prompts: of the first side.
        others: of the second; may be the same.
    """
    found = _held(prompts, others) | _held(others, prompts)
    holders: dict[int, set[int]] = {}
    held: dict[int, set[int]] = {}
    for longer, shorter in found:
        held.setdefault(longer, set()).add(shorter)
        holders.setdefault(shorter, set()).add(longer)
    by_id = {asked.id: asked for asked in (*prompts, *others)}
    pairs, doubtful = [], set()
    for longer, shorter in sorted(found):
        is_single = len(held[longer]) == 1 and len(holders[shorter]) == 1
        if is_single and _are_one(by_id[longer], by_id[shorter]):
            pairs.append((longer, shorter))
        else:
            doubtful |= {longer, shorter}
    own = {asked.id for asked in prompts}
    return Within(tuple(pairs), len(doubtful & own))


def _are_one(one: AskedText, other: AskedText) -> bool:
    """Whether two prompts may be one question: no other target, and asked by no run
    twice."""
    targets = {one.target, other.target} - {None}
    return len(targets) < 2 and not one.runs & other.runs


def _held(
    longer: Sequence[AskedText], shorter: Sequence[AskedText]
) -> set[tuple[int, int]]:
    """Each prompt with the questions that stand whole in it, and are shorter; found by
    how these begin, so that no prompt is held against all questions."""
    begun: dict[str, list[AskedText]] = {}
    for asked in shorter:
        if len(asked.text) >= LEAST:
            begun.setdefault(asked.text[:LEAST], []).append(asked)
    found = set()
    for prompt in longer:
        text = prompt.text
        for at in range(len(text) - LEAST + 1):
            for asked in begun.get(text[at : at + LEAST], ()):
                is_longer = len(text) > len(asked.text)
                if is_longer and text.startswith(asked.text, at):
                    found.add((prompt.id, asked.id))
    return found
