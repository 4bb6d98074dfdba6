"""What an answer or a recorded key means: the option of a prompt, or a free-form answer in one form."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from warehouse.records.answer_text import normalised, number_of_text

#: Characters of the longest free-form answer; longer texts are responses, and name no answer.
LONGEST = 200
_LETTER = re.compile(r"\W*([A-Za-z])\W*")
_LETTERED = re.compile(r"\(?([A-Za-z])(?:[).:]\s*\S|\s*[).:]$)")
_DIGITS = re.compile(r"\W*(\d{1,2})\W*")
_NO_PROSE = re.compile(r"[\\^=+*/<>{}\[\]()_|&%]|\s-|-\d")
_MARKED = re.compile(r"(?:####|A:|Answer:|The answer is:?)\s*(\S.*)", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\s*\{")


@dataclass(frozen=True)
class Options:
    """The options of one prompt.

    Attributes:
        n: how many there are.
        texts: of each, in order; empty where they are not stored.
        base: number of the first option, where options are numbers: 0 or 1.
    """

    n: int
    texts: tuple[str, ...] = ()
    base: int = 0

    def place(self, text: str | None) -> int | None:
        """The option that a text names, from 0: by its text, its letter (``B``, ``(b)``, ``B. Paris``)
        or its number; None where it names none."""
        if text is None:
            return None
        by_text = self.place_of_text(text)
        if by_text is not None:
            return by_text
        letter = _LETTER.fullmatch(text) or _LETTERED.match(text.strip())
        if letter is not None:
            return self._within(ord(letter[1].upper()) - ord("A"))
        number = _DIGITS.fullmatch(text)
        return None if number is None else self._within(int(number[1]) - self.base)

    def place_of_text(self, text: str) -> int | None:
        """The option that says this; None for none."""
        return self._places.get(_plain(text))

    def name(self, place: int) -> str | None:
        """Letter of an option, with its text where that is stored; None for none."""
        if not 0 <= place < self.n:
            return None
        letter = chr(ord("A") + place) if place < 26 else f"option {place}"
        text = self.texts[place] if self.texts else ""
        return letter if not text or text == letter else f"{letter}. {text}"

    def _within(self, place: int) -> int | None:
        return place if 0 <= place < self.n else None

    @cached_property
    def _places(self) -> dict[str, int]:
        """The first option of each text."""
        return {_plain(text): place for place, text in reversed(list(enumerate(self.texts)))}


def first_number(options: Sequence[Options], keys: Sequence[str | None]) -> int:
    """Whether keys that are numbers of options count from 0 or from 1.

    From 1 if one is the number of options of its prompt, and none is 0.
    """
    numbers = [
        (int(digits[1]), of.n)
        for of, key in zip(options, keys, strict=True)
        if key is not None and of.place_of_text(key) is None and (digits := _DIGITS.fullmatch(key))
    ]
    return int(any(number == n for number, n in numbers) and all(number > 0 for number, _n in numbers))


def is_letter(text: str) -> bool:
    """Whether a text is nothing but the letter of an option."""
    return len(text.strip()) <= 3 and _LETTER.fullmatch(text.strip()) is not None


def _boxed(text: str) -> str:
    """What the first box of TeX holds that ends in its line; the text where there is none. Linear in its length."""
    place = 0
    while box := _BOXED.search(text, place):
        end = text.find("\n", box.end())
        place = len(text) if end < 0 else end
        closing = text.rfind("}", box.end(), place)
        if closing >= 0:
            return text[box.end() : closing]
    return text


def free_form(text: str | None) -> str | None:
    """A free-form answer in the form that is compared: a number exactly, else words in lower case without
    punctuation; None where there is no answer, or a text too long to be one."""
    if text is None:
        return None
    stripped = unicodedata.normalize("NFKC", text).strip()
    inner = _boxed(stripped).strip().strip("$").removesuffix(".").strip()
    if not inner or len(inner) > LONGEST:
        return None
    number = number_of_text(inner)
    # Words alone would make "x+1" and "x-1" one answer, and 'A' and 'a' of code.
    return str(number) if number is not None else normalised(inner) if _is_prose(inner) else " ".join(inner.split())


def free_form_keys(target: str | None) -> tuple[str, ...]:
    """The forms of a recorded answer, the first of them to be shown: what the last line of a worked solution
    marks (``#### 18``, ``A: 18``), all of a JSON list of equally right ones."""
    if target is None:
        return ()
    last = _MARKED.fullmatch(target.strip().rpartition("\n")[2])
    texts: Iterable[str] = _listed(target) or (last[1] if last else target,)
    return tuple(dict.fromkeys(form for text in texts if (form := free_form(text)) is not None))


def _listed(target: str) -> list[str]:
    if not target.lstrip().startswith("["):
        return []
    try:
        parsed = json.loads(target)
    except ValueError:
        return []
    return [str(one) for one in parsed] if isinstance(parsed, list) else []


def _is_prose(text: str) -> bool:
    """Whether punctuation may be left out: a text of words, not a formula or code."""
    return text[0] not in "'\"`" and not _NO_PROSE.search(text)


def _plain(text: str) -> str:
    """A text without what no one tells apart: Unicode NFKC, lower case, single blanks."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
