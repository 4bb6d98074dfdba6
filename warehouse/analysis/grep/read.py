"""Which samples of runs match a pattern, read in parts: no text stays longer than its
part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.analysis.grep.patterns import Pattern
from warehouse.analysis.grep.pieces import (
    Piece,
    Wanted,
    error_piece,
    question_piece,
    response_piece,
    sent_pieces,
    texts_of,
    transcript_pieces,
)
from warehouse.analysis.grep.question import (
    ERROR,
    MESSAGE,
    PROMPT,
    RESPONSE,
    TOOL_CALL,
    TOOL_RESULT,
)
from warehouse.store.columns import pc
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: Texts, samples without texts, and texts that are taken apart, at a time.
TEXTS, SAMPLES, WHOLE = 2_048, 100_000, 128
_FOLDER = "analysis/grep"
_KEY = ("run_id", "prompt_id", "variant_id", "draw")
#: The order in which samples are shown; ids of prompts are others in every store.
_ORDER = ("run_id", "tool_id", "key", "occurrence", "draw", "variant_id")
#: Run, prompt, variant and draw of a sample.
SampleKey = tuple[int, int, int, int]


@dataclass(frozen=True)
class Kind:
    """Texts that are stored under their hash."""

    column: str  #: of the hash.
    fact: str  #: the table of that column.
    places: tuple[str, ...]  #: of the pieces of such a text.
    pieces: Callable[[str], Iterable[Piece]]  #: takes a text apart.


def _response_pieces(text: str) -> list[Piece]:
    return [response_piece(text)]


KINDS = (
    Kind("prompt_hash", "generation", (PROMPT,), sent_pieces),
    Kind("response_hash", "generation", (RESPONSE,), _response_pieces),
    Kind(
        "messages_hash",
        "transcript",
        (MESSAGE, TOOL_CALL, TOOL_RESULT, ERROR),
        transcript_pieces,
    ),
)


@dataclass(frozen=True)
class Hit:
    """A sample that matches, and which of its texts do."""

    key: SampleKey
    order: tuple[Any, ...]  #: its values of `_ORDER`, as they are compared.
    #: hashes of texts that match, by the column of `KINDS`.
    hashes: Mapping[str, bytes]
    is_asked: bool  #: what the prompt asks matches.
    error: str | None  #: of the harness, where that matches.


@dataclass
class Matches:
    """Samples that have a text to be looked at, and whether one matches."""

    rows: list[NDArray[np.int32]] = field(
        default_factory=list
    )  #: which row of the answer each is of.
    prompts: list[Ints] = field(default_factory=list)  #: id of its prompt.
    matched: list[Flags] = field(default_factory=list)
    #: the first of each model, by the number of the model.
    hits: dict[int, list[Hit]] = field(default_factory=dict)

    def columns(self) -> tuple[Ints, Ints, Flags]:
        """Rows, prompts and whether it matches, of all samples, shape (n,) each."""
        return (
            np.concatenate([np.empty(0, np.int64), *self.rows]),
            np.concatenate([np.empty(0, np.int64), *self.prompts]),
            np.concatenate([np.empty(0, np.bool_), *self.matched]),
        )


@dataclass(frozen=True)
class Runs:
    """Runs whose samples are looked at."""

    ids: Ints  #: ascending, shape (n,).
    benchmarks: frozenset[int]  #: ids of what they were run on.
    rows: NDArray[np.int32]  #: row of the answer of each, shape (n,).
    models: NDArray[np.int32]  #: number of the model of each, shape (n,).

    @property
    def parameters(self) -> dict[str, Any]:
        """Of a SELECT of their samples."""
        return {"run_ids": self.ids.tolist()}


@dataclass(frozen=True)
class _Found:
    """What matches, by what names it."""

    hashes: Mapping[str, pa.Array]  #: of texts, by the column of `KINDS`.
    asking: Ints  #: ids of prompts that say what they ask.
    asked: Ints  #: those of which that matches.
    in_errors: bool  #: errors of the harness are looked at.


def read_matches(
    store: Store, pattern: Pattern, wanted: Wanted, runs: Runs, most: int
) -> Matches:
    """The samples of runs, and whether they match.

    Args:
        most: samples of a model that are kept to be shown.
    """
    hashes = {
        kind.column: _matching_texts(store, pattern, wanted, runs, kind)
        for kind in KINDS
        if wanted.has(*kind.places)
    }
    asking, asked = _matching_prompts(store, pattern, wanted, runs)
    in_errors = wanted.holds(error_piece(""))
    found = _Found(hashes, asking, asked, in_errors)
    matches = Matches()
    query = query_text(_FOLDER, "samples")
    for part in store.batches(query, runs.parameters, n_rows=SAMPLES):
        _add_samples(matches, part, pattern, found, runs, most)
    return matches


def _matching_texts(
    store: Store, pattern: Pattern, wanted: Wanted, runs: Runs, kind: Kind
) -> pa.Array:
    """Hashes of the texts of a kind that match."""
    template = query_text(_FOLDER, "texts")
    query = template.format(column=kind.column, fact=kind.fact)
    found: list[pa.Array] = []
    for part in store.batches(query, runs.parameters, n_rows=TEXTS):
        texts = part.column("text").combine_chunks()
        mask = _matching(texts, pattern, wanted, kind.pieces)
        found.append(part.column("sha256").combine_chunks().filter(mask))
    return pa.concat_arrays([pa.array([], pa.binary()), *map(_binary, found)])


def _binary(hashes: pa.Array) -> pa.Array:
    return hashes.cast(pa.binary())


def _matching(
    texts: pa.Array,
    pattern: Pattern,
    wanted: Wanted,
    pieces: Callable[[str], Iterable[Piece]],
) -> pa.Array:
    """Which texts have a piece that is wanted and matches, shape as ``texts``."""
    if pieces is _response_pieces:  # that is the text itself
        if wanted.holds(response_piece("")):
            return pattern.matches(texts)
        return pa.array(np.zeros(len(texts), np.bool_))
    found: list[Flags] = [np.empty(0, np.bool_)]
    for start in range(0, len(texts), WHOLE):
        some = texts.slice(start, WHOLE).to_pylist()
        found.append(_any_piece(some, pattern, wanted, pieces))
    return pa.array(np.concatenate(found))


def _any_piece(
    texts: Sequence[str],
    pattern: Pattern,
    wanted: Wanted,
    pieces: Callable[[str], Iterable[Piece]],
) -> Flags:
    """Whether each of a few texts has a piece that is wanted and matches."""
    said: list[str] = []
    ends: list[int] = []
    for text in texts:
        said += texts_of(pieces(text), wanted)
        ends.append(len(said))
    matched = _flags(pattern.matches(pa.array(said, pa.string())))
    up_to = np.concatenate([[0], np.cumsum(matched)])[ends]
    return np.diff(up_to, prepend=0) > 0


def _matching_prompts(
    store: Store, pattern: Pattern, wanted: Wanted, runs: Runs
) -> tuple[Ints, Ints]:
    """Ids of prompts that say what they ask, and of those of which that matches."""
    asking: list[Ints] = [np.empty(0, np.int64)]
    asked: list[Ints] = [np.empty(0, np.int64)]
    if wanted.holds(question_piece("")):
        query = query_text(_FOLDER, "questions")
        named = {"benchmark_ids": sorted(runs.benchmarks)}
        for part in store.batches(query, named, n_rows=TEXTS):
            ids = part.column("id").to_numpy()
            asking.append(ids)
            asked.append(ids[_flags(pattern.matches(part.column("text")))])
    return np.concatenate(asking), np.concatenate(asked)


def _flags(values: pa.Array | pa.ChunkedArray) -> Flags:
    """Truth values as an array; null is False."""
    filled = pc.fill_null(values, False)
    return np.asarray(filled.to_numpy(zero_copy_only=False), np.bool_)


def _add_samples(
    matches: Matches,
    part: pa.Table,
    pattern: Pattern,
    found: _Found,
    runs: Runs,
    most: int,
) -> None:
    """Take in a part of the samples."""
    prompts = part.column("prompt_id").to_numpy()
    at = np.searchsorted(runs.ids, part.column("run_id").to_numpy())
    marks = {
        name: _flags(pc.is_in(part.column(name), value_set=hashes))
        for name, hashes in found.hashes.items()
    }
    marks["asked"] = np.isin(prompts, found.asked)
    is_there = np.isin(prompts, found.asking)
    for name in found.hashes:
        is_there |= _flags(pc.is_valid(part.column(name)))
    if found.in_errors:
        marks["error"] = _flags(pattern.matches(part.column("error")))
        is_there[:] = True
    matched = np.any(list(marks.values()), axis=0)
    matches.rows.append(runs.rows[at][is_there])
    matches.prompts.append(prompts[is_there])
    matches.matched.append(matched[is_there])
    if most:
        _keep_first(matches.hits, part, marks, matched, runs.models[at], most)


def _keep_first(
    hits: dict[int, list[Hit]],
    part: pa.Table,
    marks: Mapping[str, Flags],
    matched: Flags,
    models: NDArray[np.int32],
    most: int,
) -> None:
    """Keep so many samples of each model, the first of them."""
    where = np.flatnonzero(matched)
    columns = {name: part.column(name).take(where) for name in _ORDER}
    table = pa.table({"model": models[where], **columns})
    by = [(name, "ascending") for name in table.column_names]
    in_order = pc.sort_indices(table, sort_keys=by).to_numpy()
    groups, starts = np.unique(models[where][in_order], return_index=True)
    ends = np.append(starts, len(in_order))[1:]
    for model, start, end in zip(groups.tolist(), starts, ends, strict=True):
        kept = hits.setdefault(model, [])
        for index in where[in_order[start : min(end, start + most)]].tolist():
            kept.append(_hit(part, marks, index))
        kept.sort(key=lambda hit: hit.order)
        del kept[most:]


def _hit(part: pa.Table, marks: Mapping[str, Flags], index: int) -> Hit:
    row = part.slice(index, 1).to_pylist()[0]
    hashes = {
        kind.column: row[kind.column]
        for kind in KINDS
        if kind.column in marks and marks[kind.column][index]
    }
    error = None
    if "error" in marks and marks["error"][index]:
        error = row["error"]
    run, prompt, variant, draw = (int(row[name]) for name in _KEY)
    return Hit(
        key=(run, prompt, variant, draw),
        order=tuple((row[name] is None, row[name]) for name in _ORDER),
        hashes=hashes,
        is_asked=bool(marks["asked"][index]),
        error=error,
    )


def read_texts(
    store: Store, hashes: Sequence[bytes], at_a_time: int = 500
) -> Iterator[tuple[bytes, str]]:
    """Texts by their hashes, in any order."""
    query = query_text(_FOLDER, "texts_called")
    for start in range(0, len(hashes), at_a_time):
        some = {"hashes": hashes[start : start + at_a_time]}
        for part in store.batches(query, some, n_rows=TEXTS):
            for row in part.to_pylist():
                yield row["sha256"], row["text"]
