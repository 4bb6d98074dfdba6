"""Prompts as results show them: where they stand, what they ask, what is expected."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import MisuseError
from warehouse.stats.core.sample import components, distinct
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text
from warehouse.tables.words import listed


def prompts_by_id(store: Store, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Some prompts with benchmark, text, target and choices, by id."""
    return {
        row["id"]: row
        for row in store.rows(query_text("analysis", "prompts"), {"prompt_ids": ids})
    }


def keyed_prompts(
    store: Store, ids: Collection[int] | NDArray[np.int64]
) -> dict[int, dict[str, Any]]:
    """Some prompts with tool's id and text, by id; ``order`` is the natural key, to
    sort by."""
    rows = store.rows(
        query_text("analysis", "matrix_prompts").format(condition="id in (:ids)"),
        {"ids": ids},
    )
    return {row["id"]: row | {"order": natural_key(row)} for row in rows}


def natural_key(row: Mapping[str, Any]) -> tuple[str, str, int, int]:
    """What orders prompts the same in every store: split, key and occurrence; then the
    id."""
    return str(row["split"]), str(row["key"]), row["occurrence"], row["id"]


def options(choices: Any) -> list[str]:
    """Texts of the options, from the column ``prompt.choices``; empty where none are
    stored."""
    parsed = json.loads(choices) if isinstance(choices, str) else choices
    if isinstance(parsed, list):
        return [str(item) for item in parsed]
    return []


def expected_answer(prompt: Mapping[str, Any]) -> str | None:
    """The target in words: a letter means the option that stands there."""
    target: str | None = prompt["target"]
    offered = options(prompt["choices"])
    letter = str(target).strip()
    if target is None or target in offered or len(letter) != 1:
        return target
    index = ord(letter.upper()) - ord("A")
    if 0 <= index < len(offered):
        return offered[index]
    return target


def find_prompt(
    store: Store, text: str, benchmark_ids: Sequence[int] | None
) -> int | None:
    """The prompt that ``text`` names: ``prompt:ID``, its id, the tool's own id, or its
    key.

    Args:
        benchmark_ids: look among their prompts only; None: among all.

    Returns:
        its id; None where no prompt is called so.

    Raises:
        MisuseError: several are, or ``prompt:ID`` names none.
    """
    if text.startswith("prompt:"):
        number = text.removeprefix("prompt:")
        if number.isdecimal() and prompts_by_id(store, [int(number)]):
            return int(number)
        raise MisuseError(f"no prompt has the id {number!r}; see: warehouse show RUN")
    condition = "benchmark_id in (:benchmark_ids)"
    if benchmark_ids is None:
        condition = "1 = 1"
    query = query_text("analysis/selection", "prompts_called").format(
        condition=condition
    )
    rows = store.rows(query, {"text": text, "benchmark_ids": benchmark_ids or ()})
    by_tool = [row for row in rows if row["tool_id"] == text]
    by_id = [row for row in rows if str(row["id"]) == text]
    chosen = by_tool if len(by_tool) == 1 else by_id or by_tool or rows
    if len(chosen) > 1:
        ids = ", ".join(f"prompt:{row['id']}" for row in chosen)
        raise MisuseError(f"{text!r} names several prompts; choose one: {ids}")
    if chosen:
        return int(chosen[0]["id"])
    return None


Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]

#: Runs of numbers that ids are read by.
_MOST_RUNS = 100
#: Benchmarks that a sentence names.
_MOST_NAMED = 3


@dataclass(frozen=True)
class SharedPrompts:
    """Prompts of several benchmarks by the question that each is.

    Prompts are one question where their texts are equal, and where sources of equal
    bytes call them alike. A text that stands several times in one benchmark (*Which of
    these is true?*) is one question only with the same choices and target, and where
    these stand several times too with the same name; any other is one with whatever
    choices.
    """

    prompts: Ids  #: ids, ascending, shape (n,).
    questions: Ids  #: number of the question of each, shape (n,).
    #: of prompts without a text, and of those that a source calls like one, the number
    #: (below 0) of the name, which may be another question in another benchmark; the
    #: question for the others, shape (n,).
    names: Ids
    has_text: Mask  #: shape (n,).

    def counted(self, parts: Sequence[Ids]) -> list[Mask]:
        """Which prompts of each part are the first of their question."""
        if not parts:
            return []
        questions = np.concatenate([self.questions_of(prompts) for prompts in parts])
        names, codes = distinct(questions)
        first_index = np.empty(len(names), np.intp)
        first_index[codes[::-1]] = np.arange(len(codes))[
            ::-1
        ]  # of several the last one that is written counts
        is_first = np.zeros(len(questions), bool)
        is_first[first_index] = True
        return np.split(is_first, np.cumsum([*map(len, parts)])[:-1])

    def untold(self, parts: Sequence[Ids]) -> list[bool]:
        """Of which parts it is not known whether they share prompts with the others:
        those without texts (or without prompts), unless all of their questions are
        known to stand in every other."""
        has_texts = [
            bool(self.has_text[self._indices(prompts)].all()) for prompts in parts
        ]
        if all(has_texts):
            return [len(prompts) == 0 for prompts in parts]
        questions = [np.unique(self.questions_of(prompts)) for prompts in parts]
        everywhere = reduce(np.intersect1d, questions)
        return [
            len(own) == 0 or (not has_text and len(own) > len(everywhere))
            for has_text, own in zip(has_texts, questions, strict=True)
        ]

    def joined(self, prompts: Ids, units: Ids) -> Ids:
        """Units made one where they hold the same question, shape (n,).

        Prompts that sources call alike are joined too where they are units of their own
        and one of them has no text: whether they are one is not known, and errors hold
        either way.

        Args:
            prompts: of all parts, one after the other, shape (n,).
            units: cluster of each (at least 0), else a number of its own below 0, shape
                (n,).
        """
        questions, names = (
            self.questions_of(prompts),
            self.names[self._indices(prompts)],
        )
        joined = join(units, questions)
        if not np.array_equal(names, questions):
            alone = joined < 0
            joined[alone] = join(joined[alone], names[alone])
        return joined

    def questions_of(self, prompts: Ids) -> Ids:
        """Number of the question of each of ``prompts``, shape (m,)."""
        return self.questions[self._indices(prompts)]

    def content(self, prompts: Ids, values: Sequence[NDArray[np.float64]]) -> bytes:
        """Equal where the same questions have the same scores, whatever their order.

        Args:
            values: of the prompts, each of shape (n,).
        """
        rows = np.column_stack([self.questions_of(prompts), *values])
        return rows[np.lexsort(rows.T[::-1])].tobytes()

    def copies(
        self, parts: Sequence[tuple[Ids, Sequence[NDArray[np.float64]]]]
    ) -> list[int]:
        """`same_contents` of the contents of parts, which are made only of those that
        are alike in what is counted."""
        counts = [
            (len(prompts), *map(np.count_nonzero, values)) for prompts, values in parts
        ]
        return same_contents(
            [
                self.content(*part) if counts.count(own) > 1 else own
                for own, part in zip(counts, parts, strict=True)
            ]
        )

    def _indices(self, prompts: Ids) -> NDArray[np.intp]:
        n = len(self.prompts)
        if n and self.prompts[-1] - self.prompts[0] == n - 1:  # numbered without a gap
            indices: NDArray[np.intp] = np.clip(prompts - self.prompts[0], 0, n)
            return indices
        return np.searchsorted(self.prompts, prompts)


def same_contents(contents: Sequence[object]) -> list[int]:
    """For each the place of the first with the same contents."""
    return [contents.index(content) for content in contents]


def join(units: Ids, others: Ids) -> Ids:
    """Units made one where any of their elements agree in the other numbers: each gets
    the largest of its units."""
    if not len(units):
        return units
    other_names, other_codes = distinct(others)
    if len(other_names) == len(
        others
    ):  # nothing to join by, as where no two benchmarks share a prompt
        return units.copy()
    names, codes = distinct(units)
    if len(names) == len(units):
        largest = np.full(len(other_names), np.iinfo(np.int64).min)
        np.maximum.at(largest, other_codes, units)
        return largest[other_codes]
    n = len(names) + int(other_codes.max()) + 1
    found = components(codes, len(names) + other_codes, n)
    largest = np.full(n, np.iinfo(np.int64).min)
    np.maximum.at(largest, found[: len(names)], names)
    joined: Ids = largest[found[codes]]
    return joined


def read_shared_prompts(store: Store, prompts: Iterable[Ids]) -> SharedPrompts:
    """Which of some prompts are one question.

    Args:
        prompts: ids, in any number of arrays, links followed.
    """
    ids, _ = distinct(np.concatenate([np.empty(0, np.int64), *prompts]))
    columns = store.columns(
        query_text("analysis/selection", "prompt_identities").format(
            condition=_condition(ids)
        )
    )
    order = np.argsort(columns.whole_numbers("id"))
    names = ("id", "benchmark_id", "has_text", "of_text", "of_name")
    found, benchmarks, has_text, of_text, of_name = (
        columns.whole_numbers(name)[order] for name in names
    )
    has_any_text = has_text > 0
    questions = of_text.copy()
    for group in _twins(store, benchmarks):
        own = np.isin(benchmarks, sorted(group))
        questions[own] = join(questions[own], of_name[own])
    is_named = np.isin(
        of_name, of_name[~has_any_text]
    )  # also of a prompt without a text
    return SharedPrompts(
        found, questions, np.where(is_named, -1 - of_name, questions), has_any_text
    )


def _condition(ids: Ids) -> str:
    """That ``id`` is among these, ascending: where they are a few runs of numbers by
    their ends, as a list of a hundred thousand takes longer to read than they do."""
    starts = np.flatnonzero(np.diff(ids, prepend=-2) != 1)
    if not 0 < len(starts) <= _MOST_RUNS:
        return f"id in ({', '.join(map(str, ids.tolist())) or 'null'})"
    ends = np.append(starts[1:], len(ids)) - 1
    runs = zip(ids[starts].tolist(), ids[ends].tolist(), strict=True)
    return f"({' or '.join(f'id between {first} and {last}' for first, last in runs)})"


def _twins(store: Store, benchmarks: Ids) -> list[frozenset[int]]:
    """Pairs of benchmarks that the same bytes were read as: where several took one
    another's place, which is which is not known."""
    ids, _ = distinct(benchmarks)
    if len(ids) < 2:
        return []
    rows = store.rows(
        query_text("analysis/selection", "twin_sources"), {"benchmark_ids": ids}
    )
    by_bytes: dict[str, dict[int, set[int]]] = {}
    for row in rows:
        by_bytes.setdefault(row["sha256"], {}).setdefault(row["twin_id"], set()).add(
            row["benchmark_id"]
        )
    pairs = set()
    for sources in by_bytes.values():
        for a, b in combinations(sources.values(), 2):
            if len(a - b) == len(b - a) == 1:
                pairs.add(frozenset(a - b | b - a))
    return sorted(pairs, key=sorted)


def notes_on_shared(store: Store, parts: Mapping[str, Ids]) -> list[str]:
    """Which benchmarks share prompts, for figures that take each by itself.

    Args:
        parts: ids of the prompts by the name of the benchmark, links followed.
    """
    if len(parts) > 1:
        return shared_in_words(read_shared_prompts(store, parts.values()), parts)
    return []


def shared_in_words(shared: SharedPrompts, parts: Mapping[str, Ids]) -> list[str]:
    """The same of what was read."""
    questions = {
        name: np.unique(shared.questions_of(prompts)) for name, prompts in parts.items()
    }
    pairs = [
        f"{n} in {name} and {other}"
        for name, other in combinations(questions, 2)
        if (n := len(np.intersect1d(questions[name], questions[other])))
    ]
    more = [f"{len(pairs) - _MOST_NAMED} more"] if len(pairs) > _MOST_NAMED else []
    found = ", ".join([*pairs[:_MOST_NAMED], *more])
    if pairs:
        return [
            f"prompts stand in several benchmarks ({found}): these are not evidence twice"
        ]
    return []


def sharing_in_words(n_shared: int, untold: Sequence[str]) -> str:
    """What is known of prompts that stand in several benchmarks, and what errors make
    of it.

    Args:
        n_shared: units (prompts or clusters) that stand in more than one.
        untold: names of the benchmarks without texts.
    """
    if untold:
        names = [*untold[:_MOST_NAMED]]
        if len(untold) > _MOST_NAMED:
            names.append(f"{len(untold) - _MOST_NAMED} more")
        joint = "errors are added up as if not"
        if n_shared:
            joint = f"errors are joint over {n_shared} of equal names"
        verb = "have"
        if len(untold) == 1:
            verb = "has"
        return (
            f"not known whether benchmarks share prompts ({listed(names)} {verb} no "
            f"texts): {joint}"
        )
    if n_shared:
        return (
            f"errors paired on {n_shared} prompts or clusters in several benchmarks, "
            "each of which counts once"
        )
    return "benchmarks share no prompt: errors are independent"


def copies_in_words(names: Sequence[str], copies: Sequence[int]) -> str:
    """Which benchmarks are another one under a second name; empty for none.

    Args:
        copies: from `same_contents`.
    """
    again = [
        f"{names[index]} is {names[of]}"
        for index, of in enumerate(copies)
        if index != of
    ]
    if again:
        return f"{listed(again)} under another name"
    return ""
