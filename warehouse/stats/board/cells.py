"""Figures as they were printed: a text stands for all numbers that round to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

#: Longest text that is looked at as a figure, and digits of its exponent.
_LONGEST, _MOST_EXPONENT = 60, 30
#: Significant digits or decimals from which a figure was not rounded for people.
EXACT_DIGITS = 10
_NOTHING = frozenset(
    ("", "-", "--", "---", "–", "—", "−", "?", "/", "n/a", "n.a.", "na", "nan", "none")
    + ("null", "nil", "tbd", "tba", "pending", "missing", "inf", "-inf", "infinity")
    + ("not available", "not reported", "unknown", "oom", "✗", "❌", "...", "…", "#n/a")
)
_DASHES = str.maketrans(
    {"−": "-", "–": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " "}
)
#: Marks of Markdown, HTML and LaTeX around a text: bold, code, links, tags.
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_TAG = re.compile(r"<[^<>]{0,200}>")
_COMMAND = re.compile(r"\\(?:textbf|underline|textit|emph|mathbf)\s*\{([^{}]*)\}")
_MARKS = re.compile(r"\*\*|__|`|~~")
#: What follows a figure and is not part of it: an error, a remark in brackets, a mark.
_BEHIND = re.compile(
    r"\s*(?:(?:±|\+/-|\+-|\\pm|&plusmn;).*|[\[({].*[\])}]|[*†‡§]+)$", re.DOTALL
)
_NUMBER = re.compile(
    r"(?P<sign>[-+]?)(?P<whole>\d*)(?:\.(?P<part>\d*))?(?:[eE](?P<power>[-+]?\d+))?"
)
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
#: A comma that can only part decimals.
_DECIMAL_COMMA = re.compile(r"[-+]?(?:\d+,(?:\d{1,2}|\d{4,})|\d{4,},\d+|0,\d+)")
_COMMA = re.compile(r"[-+]?\d+,\d+")


@dataclass(frozen=True)
class Figure:
    """A number as it was printed."""

    value: Fraction  #: what the text says.
    decimals: int  #: decimals that were printed, of this cell.
    is_exact: bool  #: True if it was written with all its digits.

    @property
    def half(self) -> Fraction:
        """Half a unit of the last printed decimal."""
        return Fraction(1, 2) / Fraction(10) ** self.decimals

    @property
    def tolerance(self) -> Fraction:
        """How far a true value may lie from what was printed: two roundings of the last
        decimal, or the last digits of an exact figure (§25.0)."""
        if self.is_exact:
            return Fraction(2, 10**9) * abs(self.value)
        return Fraction(11, 10) * self.half + Fraction(1, 10**9) * abs(self.value)


def is_nothing(text: str) -> bool:
    """Whether a cell says that there is nothing: empty, a dash, ``N/A``."""
    return without_marks(text).casefold() in _NOTHING


def without_marks(text: str) -> str:
    """A text without what only makes it look otherwise: bold, links, tags."""
    if len(text) > 2000:
        return text.strip()
    plain = _COMMAND.sub(r"\1", _LINK.sub(r"\1", text))
    plain = _MARKS.sub("", _TAG.sub("", plain)).strip()
    if len(plain) > 2 and plain[0] == plain[-1] and plain[0] in "*_":
        plain = plain[1:-1]
    return plain.strip()


def has_decimal_commas(texts: list[str]) -> bool:
    """Whether the commas of a column part decimals, as in ``71,4``: one of its cells can
    be read in no other way."""
    for text in texts:
        plain = _numeral(text)
        if plain and _DECIMAL_COMMA.fullmatch(plain):
            return True
    return False


def parse_figure(text: str, *, decimal_comma: bool = False) -> Figure | None:
    """The figure that a cell shows; None where it shows none.

    Signs of per cent and of money, an error behind ``±`` and a remark in brackets are no
    part of it.

    Args:
        text: of the cell, as it was printed.
        decimal_comma: whether a comma parts decimals, and not thousands.

    Examples:
        >>> parse_figure("**71.4** ± 1.2 %")
        Figure(value=Fraction(357, 5), decimals=1, is_exact=False)
    """
    plain = _numeral(text)
    if not plain:
        return None
    if decimal_comma and _COMMA.fullmatch(plain):
        plain = plain.replace(",", ".")
    elif _THOUSANDS.fullmatch(plain):
        plain = plain.replace(",", "")
    found = _NUMBER.fullmatch(plain)
    if found is None or not (found["whole"] or found["part"]):
        return None
    power = found["power"] or "0"
    if len(power.lstrip("+-")) > 3 or abs(int(power)) > _MOST_EXPONENT:
        return None
    part = found["part"] or ""
    digits = found["whole"] + part
    value = Fraction(int(digits)) / Fraction(10) ** len(part)
    value *= Fraction(10) ** int(power)
    if found["sign"] == "-":
        value = -value
    decimals = len(part) - int(power)
    significant = len(digits.lstrip("0"))
    is_exact = significant >= EXACT_DIGITS or decimals >= EXACT_DIGITS
    return Figure(value, decimals, is_exact)


def _numeral(text: str) -> str:
    """A cell without marks, errors, units; empty where it is too long."""
    if len(text) > 2000:
        return ""
    plain = without_marks(text).translate(_DASHES)
    plain = _BEHIND.sub("", plain).strip()
    plain = plain.lstrip("🥇🥈🥉🏆⭐$€£ ").removesuffix("%").removesuffix("\\").rstrip()
    plain = plain.removesuffix("$").rstrip()
    if len(plain) > _LONGEST:
        return ""
    return plain
