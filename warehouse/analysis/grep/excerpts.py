"""The lines in which samples match."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from warehouse.analysis.grep.patterns import Pattern
from warehouse.analysis.grep.pieces import Piece, Wanted, error_piece, question_piece
from warehouse.analysis.grep.read import KINDS, Hit, SampleKey, read_texts
from warehouse.analysis.selection.prompts import Prompt
from warehouse.store.connection import Store
from warehouse.tables.words import visible

#: Characters before and after a match, and of the match, that an excerpt has.
BESIDE, WITHIN = 80, 200


@dataclass(frozen=True)
class Excerpt:
    """Where a sample matches first."""

    place: str  #: one of ``question.PLACES``.
    role: str  #: who said it.
    tool: str  #: of a call, or a result.
    line: int  #: of the text, from 1.
    before: str  #: what stands before the match on its line.
    match: str  #: the match.
    after: str  #: what stands behind it on its last line.


def excerpts_of(
    store: Store,
    hits: Sequence[Hit],
    pattern: Pattern,
    wanted: Wanted,
    prompts: Mapping[int, Prompt],
) -> dict[SampleKey, Excerpt]:
    """The first match of each sample: in the prompt, the response, on the way, in the
    error.

    Args:
        prompts: those of the samples, by id.
    """
    by_hash: dict[tuple[str, bytes], Excerpt] = {}
    for kind in KINDS:
        hashes = {hit.hashes[kind.column] for hit in hits if kind.column in hit.hashes}
        for name, text in read_texts(store, sorted(hashes)):
            excerpt = _first(kind.pieces(text), pattern, wanted)
            if excerpt is not None:
                by_hash[kind.column, name] = excerpt
    found: dict[SampleKey, Excerpt] = {}
    for hit in hits:
        excerpt = _of_sample(hit, by_hash, pattern, wanted, prompts)
        if excerpt is not None:
            found[hit.key] = excerpt
    return found


def _of_sample(
    hit: Hit,
    by_hash: Mapping[tuple[str, bytes], Excerpt],
    pattern: Pattern,
    wanted: Wanted,
    prompts: Mapping[int, Prompt],
) -> Excerpt | None:
    pieces: list[Piece] = []
    if hit.is_asked:
        pieces.append(question_piece(str(prompts[hit.key[1]]["text"])))
    if hit.error is not None:
        pieces.append(error_piece(hit.error))
    own = _first(pieces, pattern, wanted)
    if own is not None:
        return own
    for kind in KINDS:
        excerpt = by_hash.get((kind.column, hit.hashes.get(kind.column, b"")))
        if excerpt is not None:
            return excerpt
    return None


def _first(pieces: Iterable[Piece], pattern: Pattern, wanted: Wanted) -> Excerpt | None:
    """The first match in pieces; None: there is none."""
    for piece in pieces:
        if not wanted.holds(piece):
            continue
        span = pattern.span(piece.text)
        if span is not None:
            return _excerpt(piece, *span)
    return None


def _excerpt(piece: Piece, start: int, end: int) -> Excerpt:
    text = piece.text
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    if line_end < 0:
        line_end = len(text)
    before = text[max(line_start, start - BESIDE) : start]
    after = text[end : min(line_end, end + BESIDE)]
    return Excerpt(
        place=piece.place,
        role=piece.role,
        tool=piece.tool,
        line=text.count("\n", 0, start) + 1,
        before=_shown(before).lstrip(),
        match=_shown(text[start : min(end, start + WITHIN)]),
        after=_shown(after).rstrip(),
    )


def _shown(text: str) -> str:
    """A part of a text on one line, control characters spelled out."""
    return visible(text.replace("\r\n", " ").replace("\n", " ").replace("\t", " "))
