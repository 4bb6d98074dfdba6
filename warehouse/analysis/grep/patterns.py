"""A pattern as it is matched: by RE2, in time linear in the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import re2

from warehouse.analysis.grep.question import Grep
from warehouse.errors import MisuseError
from warehouse.store.columns import pc

#: What is no letter, digit or _, of any script; RE2's own ``\b`` knows ASCII alone.
_BESIDE = r"[^\pL\pM\pN_]"


@dataclass(frozen=True)
class Pattern:
    """A pattern that is fit to be matched."""

    text: str  #: as RE2 takes it; the first group is the match.
    compiled: Any  #: the same, compiled.

    def matches(self, texts: pa.Array) -> pa.Array:
        """Which texts match, shape as ``texts``; null where there is no text."""
        return pc.match_substring_regex(texts, self.text)

    def any_of(self, texts: Sequence[str]) -> bool:
        """Whether one of a few texts matches."""
        return any(self.compiled.search(text) is not None for text in texts)

    def span(self, text: str) -> tuple[int, int] | None:
        """Where the first match stands, in characters; None: nowhere."""
        found = self.compiled.search(text)
        if found is None:
            return None
        start, end = found.span(1)
        return int(start), int(end)


def pattern_of(question: Grep) -> Pattern:
    """The pattern of a question (MisuseError: RE2 does not take it, and says why)."""
    asked = question.pattern
    _require_text(asked)
    if question.fixed_strings:
        asked = re2.escape(asked)
    _compiled(asked, question.pattern)  # alone: brackets that close too early are seen
    text = f"({asked})"
    if question.word_regexp:
        text = f"(?:^|{_BESIDE})({asked})(?:$|{_BESIDE})"
    flags = "m"
    if question.ignore_case:
        flags += "i"
    text = f"(?{flags}){text}"
    return Pattern(text, _compiled(text, question.pattern))


def _require_text(pattern: str) -> None:
    """Refuse what no UTF-8 can say, such as bytes of a command line that are none
    (MisuseError: says where)."""
    try:
        pattern.encode()
    except UnicodeEncodeError as error:
        raise MisuseError(
            f"character {error.start + 1} of the pattern is no Unicode, and stands in no "
            "stored text; give it as UTF-8"
        ) from None


def _compiled(text: str, shown: str) -> Any:
    """A pattern for RE2 (MisuseError: it is none)."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error as error:
        said = error.args[0] if error.args else error
        if isinstance(said, bytes):
            said = said.decode(errors="replace")
        raise MisuseError(
            f"{shown[:80]!r} is no regular expression: {said}; expected the syntax of "
            "RE2 (https://github.com/google/re2/wiki/Syntax), or with --fixed-strings a "
            "text as it stands"
        ) from None
