"""Regular expressions of others, matched in time that is linear in the length of a
text.

A pattern of a mapping meets texts of a dump, and one like ``(a+)+`` keeps a backtracking engine busy for
ever. `RE2 <https://github.com/google/re2/wiki/Syntax>`_ cannot be: it has no look-around (look-aheads at the
beginning of a text are asked apart) and no back-references. Everything else means what it means in Python's
:mod:`re`, but for ``\\b``, which knows ASCII letters only.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache, partial
from typing import Any

import re2

#: What Python's classes hold, as the inside of brackets of RE2, whose own are ASCII.
_CLASSES = {
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "w": r"\p{L}\p{N}_",
    "s": r"\t-\r\x1c-\x20\x85\p{Z}",
    "S": r"\x00-\x08\x0e-\x1b!-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}"
    r"\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff}",
    "W": r"\p{M}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\p{S}\p{Z}\p{C}"
    r"\x{203f}\x{2040}\x{2054}\x{fe33}\x{fe34}\x{fe4d}-\x{fe4f}\x{ff3f}",  # Pc but for the underscore
}
_LOOK_AHEAD = re.compile(r"\(\?([=!])")
_BRACKETS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_TOKEN = re.compile(
    rf"{_BRACKETS.pattern}|{_ESCAPE.pattern}|\(\?(?:P?<?[=!]|.)|[*+?}}][+]|\{{,|\$",
    re.DOTALL,
)
_PARENTHESIS = re.compile(rf"{_BRACKETS.pattern}|{_ESCAPE.pattern}|[()]", re.DOTALL)
_HALVES = re.compile("[\ud800-\udfff]")
#: What RE2 does not have, by how it begins, and what to write instead.
_UNSUPPORTED = {
    "(?=": (
        "look-ahead",
        "put what is wanted into a group ( ) and let the pattern go on behind it",
    ),
    "(?!": (
        "look-ahead",
        "say what may stand there, as in [^x], or skip rows by another pattern",
    ),
    "(?<=": (
        "look-behind",
        "let the pattern begin before it, and put what is wanted into a group ( )",
    ),
    "(?<!": (
        "look-behind",
        "say what may stand there, as in (?:^|[^x]), and put what is wanted into a "
        "group ( )",
    ),
    "(?P=": ("a back-reference", "write out what is repeated"),
    "(?(": ("a condition", "write both cases, parted by |"),
    "(?>": ("an atomic group", "write (?: ); it takes no longer"),
    "(?#": ("a comment", "leave it out"),
}
_POSSESSIVE = ("a possessive repetition", "leave out the last +; it takes no longer")
#: RE2 knows classes of POSIX, where Python reads their letters.
_POSIX = re.compile(r"\[:\^?\w+:\]")
_BACK_REFERENCE = ("a back-reference", "write out what is repeated")


class PatternError(ValueError):
    """A text that is no regular expression, or one that cannot be matched in linear
    time."""


class Pattern:
    """A regular expression, compiled; what it offers of :class:`re.Pattern` means the
    same.

    Args:
        text: as Python writes it.
        whole: it is matched with whole texts only, so that it begins where they do.

    Raises:
        PatternError: no regular expression, or one with what RE2 does not have; says
            what to write instead.
    """

    def __init__(self, text: str, *, whole: bool = False) -> None:
        self.pattern, self._whole = text, whole
        self._ahead, self._compiled = _compiled(text, whole)
        self.groups: int = self._compiled.groups
        self.groupindex: dict[str, int] = self._compiled.groupindex

    def search(self, text: str) -> Match | None:
        """The first match anywhere in a text."""
        return self._match(self._compiled.search, text)

    def fullmatch(self, text: str) -> Match | None:
        """The match of a whole text."""
        return self._match(self._compiled.fullmatch, text)

    def _match(self, how: Any, text: str) -> Match | None:
        # half of a pair, or a byte of a file name, is no text of UTF-8; what stands for
        # it is as long
        plain = _HALVES.sub("\ufffd", text)
        if any(
            (pattern.match(plain) is None) is must_match
            for must_match, pattern in self._ahead
        ):
            return None
        found = how(plain)
        if found is None:
            return None
        return Match(found, text)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Pattern, whole=self._whole), (self.pattern,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and other.pattern == self.pattern

    def __hash__(self) -> int:
        return hash(self.pattern)

    def __repr__(self) -> str:
        return f"Pattern({self.pattern!r})"


class Match:
    """A match, with its groups as they stand in the text."""

    def __init__(self, found: Any, text: str) -> None:
        self._found, self._text = found, text

    def group(self, number: int = 0) -> str | None:
        """The text of a group, ``None`` where it took no part."""
        start, end = self._found.span(number)
        if start < 0:
            return None
        return self._text[start:end]

    def groupdict(self) -> dict[str, str | None]:
        """The texts of the named groups."""
        return {
            name: self.group(number)
            for name, number in self._found.re.groupindex.items()
        }


@lru_cache(maxsize=256)
def _compiled(text: str, whole: bool) -> tuple[tuple[tuple[bool, Any], ...], Any]:
    """The look-ahead at the beginning, compiled, and the rest."""
    try:
        with warnings.catch_warnings():
            # of brackets that later versions may read otherwise
            warnings.simplefilter("ignore", FutureWarning)
            re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise PatternError(f"no regular expression ({error})") from None
    anchor = ""
    if text.startswith("^"):
        anchor = "^"
    ahead = []
    rest = text.removeprefix("^")
    while (whole or anchor) and (begins := _LOOK_AHEAD.match(rest)):
        inner, rest = _parted(rest)
        ahead.append((begins[1] == "=", _by_re2(f"(?:{inner})")))
    return tuple(ahead), _by_re2(anchor + rest)


def _parted(text: str) -> tuple[str, str]:
    """The content of a look-ahead at the beginning of a pattern, and what follows
    it."""
    depth = 0
    for token in _PARENTHESIS.finditer(text):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0 and token[0] == ")":
            return text[3 : token.start()], text[token.end() :]
    return text, ""  # never: the pattern is one of Python's


def _by_re2(text: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(_translated(text), options)
    except (re2.error, UnicodeEncodeError) as error:
        if isinstance(error.args[0], bytes):
            said = error.args[0].decode()
        else:
            said = str(error)
        raise PatternError(
            f"not supported: {said}; expected what RE2 reads "
            "(https://github.com/google/re2/wiki/Syntax)"
        ) from None


def _translated(text: str) -> str:
    """A pattern of Python as RE2 writes it (PatternError: with what RE2 does not
    have)."""
    many_lines = re.search(r"\(\?[a-zA-Z]*m", text) is not None

    def part(found: re.Match[str]) -> str:
        token = found[0]
        if token.startswith("["):
            if _POSIX.search(token, 1):
                raise PatternError(
                    f"{token}: Python has no such class; write \\d, \\w, \\s, or the "
                    "letters, as in [A-Za-z]"
                )
            return "[" + _ESCAPE.sub(
                lambda escape: _escape(escape[0], inside=True), token[1:]
            )
        if token.startswith("\\"):
            return _escape(token, inside=False)
        if token == "$":
            if many_lines:
                return token
            return r"(?:\n?\z)"
        if token == "{,":
            return "{0,"
        if token[0] in "*+?}" and token != "(?+":
            raise _unsupported(*_POSSESSIVE)
        if token in _UNSUPPORTED:
            raise _unsupported(*_UNSUPPORTED[token])
        return token

    return _TOKEN.sub(part, text)


def _escape(token: str, inside: bool) -> str:
    """An escape, in brackets or outside."""
    letter = token[1]
    if letter in _CLASSES:
        if inside:
            return _CLASSES[letter]
        return f"[{_CLASSES[letter]}]"
    if letter in "uU":
        return f"\\x{{{token[2:]}}}"
    if letter == "Z":
        return r"\z"
    if letter in "123456789" and not inside:
        raise _unsupported(*_BACK_REFERENCE)
    return token


def _unsupported(what: str, instead: str) -> PatternError:
    return PatternError(
        f"{what} is not supported, as patterns are matched in linear time; {instead}"
    )
