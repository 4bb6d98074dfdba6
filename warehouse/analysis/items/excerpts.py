"""Excerpts of prompts: the part that differs, not the template that all share."""

from __future__ import annotations

from collections.abc import Collection, Sequence

#: Texts of which at least so many are needed to tell a template from a coincidence.
LEAST = 3
#: Words that all share, from which on they are left out.
SHARED = 6


def distinctive(
    texts: Sequence[str | None], others: Sequence[str | None] = ()
) -> list[str]:
    """Each text on one line, without the words that all begin or end with.

    Left out are at least six words, and only where three texts that differ share them;
    an ellipsis stands in their place. What lies between is not touched.

    Args:
        texts: of prompts; None is empty.
        others: further prompts of the same benchmark, which say what is a template.
    """
    words = [(text or "").split() for text in texts]
    other_words = [(text or "").split() for text in others]
    distinct = {tuple(split) for split in (*words, *other_words) if split}
    begin, end = shared_words(distinct)
    return [_without(split, begin, end) for split in words]


def shared_words(
    texts: Collection[tuple[str, ...]], *, kept: int = 0
) -> tuple[int, int]:
    """How many words all texts begin with, and end with; 0 below six, and for fewer
    than three texts.

    Args:
        texts: split into words, each once.
        kept: words that every text keeps at least.
    """
    if len(texts) < LEAST:
        return 0, 0
    shortest = min(map(len, texts)) - kept
    # what the extremes share at the front, all share
    begin = min(_shared(min(texts), max(texts)), shortest)
    turned = [words[::-1] for words in texts]
    end = min(
        _shared(min(turned), max(turned)), shortest - (begin if begin >= SHARED else 0)
    )
    return begin if begin >= SHARED else 0, end if end >= SHARED else 0


def _shared(a: Sequence[str], b: Sequence[str]) -> int:
    """Words at the front of both."""
    return next(
        (index for index, (x, y) in enumerate(zip(a, b, strict=False)) if x != y),
        min(len(a), len(b)),
    )


def _without(words: Sequence[str], begin: int, end: int) -> str:
    if not words:
        return ""
    kept = list(words[begin : len(words) - end])
    if begin > 0:
        kept.insert(0, "…")
    if end > 0:
        kept.append("…")
    return " ".join(kept)


#: Characters of a text in a table.
TEXT = 240


def excerpt(full: str | None) -> str:
    """The beginning of a text on one line."""
    words = " ".join((full or "").split())
    if len(words) <= TEXT:
        return words
    return f"{words[: TEXT - 1]}…"
