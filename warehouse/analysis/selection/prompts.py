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

#: A row of ``prompt``.
Prompt = dict[str, Any]


def prompts_by_id(store: Store, ids: Sequence[int]) -> dict[int, Prompt]:
    """Some prompts with benchmark, text, target and choices, by id."""
    query = query_text("analysis", "prompts")
    rows = store.rows(query, {"prompt_ids": ids})
    return {row["id"]: row for row in rows}


def keyed_prompts(
    store: Store, ids: Collection[int] | NDArray[np.int64]
) -> dict[int, Prompt]:
    """Some prompts with tool's id and text, by id; ``order`` is the natural key, to
    sort by."""
    template = query_text("analysis", "matrix_prompts")
    query = template.format(condition="id in (:ids)")
    rows = store.rows(query, {"ids": ids})
    for row in rows:
        row["order"] = natural_key(row)
    return {row["id"]: row for row in rows}


def natural_key(row: Mapping[str, Any]) -> tuple[str, str, int, int]:
    """A key that orders prompts the same in every store: split, key and occurrence;
    then the id."""
    split = str(row["split"])
    key = str(row["key"])
    return split, key, row["occurrence"], row["id"]


def options(choices: Any) -> list[str]:
    """Texts of the options, from the column ``prompt.choices``; empty where none are
    stored."""
    parsed = choices
    if isinstance(choices, str):
        parsed = json.loads(choices)
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
        if number.isdecimal():
            prompt_id = int(number)
            if prompts_by_id(store, [prompt_id]):
                return prompt_id
        raise MisuseError(f"no prompt has the id {number!r}; see: warehouse show RUN")
    rows = _prompts_called(store, text, benchmark_ids)
    by_tool = [row for row in rows if row["tool_id"] == text]
    by_id = [row for row in rows if str(row["id"]) == text]
    chosen = by_id or by_tool or rows
    if len(by_tool) == 1:
        chosen = by_tool
    if len(chosen) > 1:
        names = [f"prompt:{row['id']}" for row in chosen]
        several = ", ".join(names)
        raise MisuseError(f"{text!r} names several prompts; choose one: {several}")
    if chosen:
        return int(chosen[0]["id"])
    return None


def _prompts_called(
    store: Store, text: str, benchmark_ids: Sequence[int] | None
) -> list[Prompt]:
    """The prompts whose id, tool's id or key is a text."""
    condition = "benchmark_id in (:benchmark_ids)"
    if benchmark_ids is None:
        condition = "1 = 1"
    template = query_text("analysis/selection", "prompts_called")
    query = template.format(condition=condition)
    parameters = {"text": text, "benchmark_ids": benchmark_ids or ()}
    return store.rows(query, parameters)


Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]
Scores = NDArray[np.float64]

#: Runs of numbers that ids are read by.
_MOST_RUNS = 100
#: Benchmarks that a sentence names.
_MOST_NAMED = 3
#: Less than any number of a unit.
_LEAST = np.iinfo(np.int64).min


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
        asked = [self.questions_of(prompts) for prompts in parts]
        names, codes = distinct(np.concatenate(asked))
        n = len(codes)
        # of several the last one that is written counts
        backwards = np.arange(n)[::-1]
        first_index = np.empty(len(names), np.intp)
        first_index[codes[::-1]] = backwards
        is_first = np.zeros(n, bool)
        is_first[first_index] = True
        ends = np.cumsum([len(own) for own in asked])
        return np.split(is_first, ends[:-1])

    def untold(self, parts: Sequence[Ids]) -> list[bool]:
        """Parts of which it is not known whether they share prompts with the others:
        those without texts (or without prompts), unless all of their questions are
        known to stand in every other."""
        has_texts: list[bool] = []
        for prompts in parts:
            has_text = self.has_text[self._indices(prompts)]
            has_texts.append(bool(has_text.all()))
        if all(has_texts):
            return [len(prompts) == 0 for prompts in parts]
        questions = [self._distinct_questions(prompts) for prompts in parts]
        n_everywhere = len(reduce(np.intersect1d, questions))
        untold: list[bool] = []
        for own, is_told in zip(questions, has_texts, strict=True):
            has_others = not is_told and len(own) > n_everywhere
            untold.append(len(own) == 0 or has_others)
        return untold

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
        indices = self._indices(prompts)
        questions = self.questions[indices]
        names = self.names[indices]
        joined = join(units, questions)
        if not np.array_equal(names, questions):
            alone = joined < 0
            own = joined[alone]
            joined[alone] = join(own, names[alone])
        return joined

    def questions_of(self, prompts: Ids) -> Ids:
        """Number of the question of each of ``prompts``, shape (m,)."""
        return self.questions[self._indices(prompts)]

    def _distinct_questions(self, prompts: Ids) -> Ids:
        return np.unique(self.questions_of(prompts))

    def content(self, prompts: Ids, values: Sequence[Scores]) -> bytes:
        """Equal where the same questions have the same scores, whatever their order.

        Args:
            values: of the prompts, each of shape (n,).
        """
        questions = self.questions_of(prompts)
        rows = np.column_stack([questions, *values])
        columns = rows.T
        order = np.lexsort(columns[::-1])
        return rows[order].tobytes()

    def copies(self, parts: Sequence[tuple[Ids, Sequence[Scores]]]) -> list[int]:
        """`same_contents` of the contents of parts, which are made only of those that
        are alike in what is counted."""
        counts: list[tuple[int, ...]] = []
        for prompts, values in parts:
            others = map(np.count_nonzero, values)
            counts.append((len(prompts), *map(int, others)))
        contents: list[object] = []
        for own, (prompts, values) in zip(counts, parts, strict=True):
            if counts.count(own) > 1:
                contents.append(self.content(prompts, values))
            else:
                contents.append(own)
        return same_contents(contents)

    def _indices(self, prompts: Ids) -> NDArray[np.intp]:
        n = len(self.prompts)
        if n == 0:
            return np.searchsorted(self.prompts, prompts)
        first = self.prompts[0]
        last = self.prompts[-1]
        if last - first == n - 1:  # numbered without a gap
            indices: NDArray[np.intp] = np.clip(prompts - first, 0, n)
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
    if len(other_names) == len(others):
        # nothing to join by, as where no two benchmarks share a prompt
        return units.copy()
    names, codes = distinct(units)
    n_names = len(names)
    if n_names == len(units):
        largest = np.full(len(other_names), _LEAST)
        np.maximum.at(largest, other_codes, units)
        return largest[other_codes]
    n = n_names + int(other_codes.max()) + 1
    found = components(codes, n_names + other_codes, n)
    of_names = found[:n_names]
    largest = np.full(n, _LEAST)
    np.maximum.at(largest, of_names, names)
    joined: Ids = largest[found[codes]]
    return joined


def read_shared_prompts(store: Store, prompts: Iterable[Ids]) -> SharedPrompts:
    """Which of some prompts are one question.

    Args:
        prompts: ids, in any number of arrays, links followed.
    """
    none = np.empty(0, np.int64)
    ids, _ = distinct(np.concatenate([none, *prompts]))
    template = query_text("analysis/selection", "prompt_identities")
    condition = _condition(ids)
    columns = store.columns(template.format(condition=condition))
    found = columns.whole_numbers("id")
    order = np.argsort(found)
    benchmarks = columns.whole_numbers("benchmark_id")[order]
    has_text = columns.whole_numbers("has_text")[order] > 0
    of_text = columns.whole_numbers("of_text")[order]
    of_name = columns.whole_numbers("of_name")[order]
    questions = of_text.copy()
    for group in _twins(store, benchmarks):
        own = np.isin(benchmarks, sorted(group))
        by_text = questions[own]
        questions[own] = join(by_text, of_name[own])
    without_text = of_name[~has_text]
    is_named = np.isin(of_name, without_text)  # also of a prompt without a text
    names = np.where(is_named, -1 - of_name, questions)
    return SharedPrompts(found[order], questions, names, has_text)


def _condition(ids: Ids) -> str:
    """The SQL condition that ``id`` is among these, ascending: where they are a few
    runs of numbers by their ends, as a list of a hundred thousand takes longer to read
    than they do."""
    steps = np.diff(ids, prepend=-2)
    starts = np.flatnonzero(steps != 1)
    if not 0 < len(starts) <= _MOST_RUNS:
        numbers = map(str, ids.tolist())
        listed_ids = ", ".join(numbers) or "null"
        return f"id in ({listed_ids})"
    ends = np.append(starts[1:], len(ids))
    firsts = ids[starts].tolist()
    lasts = ids[ends - 1].tolist()
    runs: list[str] = []
    for first, last in zip(firsts, lasts, strict=True):
        runs.append(f"id between {first} and {last}")
    return f"({' or '.join(runs)})"


#: Ids of the benchmarks that each source was read as.
_ReadAs = dict[int, set[int]]


def _twins(store: Store, benchmarks: Ids) -> list[frozenset[int]]:
    """Pairs of benchmarks that the same bytes were read as: where several took one
    another's place, which is which is not known."""
    ids, _ = distinct(benchmarks)
    if len(ids) < 2:
        return []
    query = query_text("analysis/selection", "twin_sources")
    by_bytes: dict[str, _ReadAs] = {}
    for row in store.rows(query, {"benchmark_ids": ids}):
        sources = by_bytes.setdefault(row["sha256"], {})
        read_as = sources.setdefault(row["twin_id"], set())
        read_as.add(row["benchmark_id"])
    pairs: set[frozenset[int]] = set()
    for sources in by_bytes.values():
        for a, b in combinations(sources.values(), 2):
            only_a = a - b
            only_b = b - a
            if len(only_a) == 1 and len(only_b) == 1:
                pairs.add(frozenset(only_a | only_b))
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
    questions: dict[str, Ids] = {}
    for name, prompts in parts.items():
        own = shared.questions_of(prompts)
        questions[name] = np.unique(own)
    pairs: list[str] = []
    for name, other in combinations(questions, 2):
        both = np.intersect1d(questions[name], questions[other])
        if len(both):
            pairs.append(f"{len(both)} in {name} and {other}")
    if not pairs:
        return []
    found = ", ".join(_first_of(pairs))
    note = (
        f"prompts stand in several benchmarks ({found}): these are not evidence twice"
    )
    return [note]


def _first_of(words: Sequence[str]) -> list[str]:
    """The first words, and how many more there are."""
    first = list(words[:_MOST_NAMED])
    n_more = len(words) - _MOST_NAMED
    if n_more > 0:
        first.append(f"{n_more} more")
    return first


def sharing_in_words(n_shared: int, untold: Sequence[str]) -> str:
    """A note on prompts that stand in several benchmarks, and what errors make of it.

    Args:
        n_shared: units (prompts or clusters) that stand in more than one.
        untold: names of the benchmarks without texts.
    """
    if untold:
        names = listed(_first_of(untold))
        joint = "errors are added up as if not"
        if n_shared:
            joint = f"errors are joint over {n_shared} of equal names"
        verb = "have"
        if len(untold) == 1:
            verb = "has"
        return (
            f"not known whether benchmarks share prompts ({names} {verb} no texts): "
            f"{joint}"
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
    again: list[str] = []
    for index, of in enumerate(copies):
        if index != of:
            again.append(f"{names[index]} is {names[of]}")
    if again:
        return f"{listed(again)} under another name"
    return ""
