"""The recorded key and the options of each prompt, and why a prompt has none."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.prompts import options as option_texts
from warehouse.records.answer_text import normalised, number_of_text
from warehouse.stats.labels.votes import KEY_NO_OPTION, NO_OPTION_COUNT

NO_KEY = "no key is stored"
SEVERAL_KEYS = "several options are right"


@dataclass(frozen=True)
class Key:
    """The recorded right answer of one prompt."""

    #: None where answers are free-form, or their number is not known.
    options: PromptOptions | None = None
    option: int | None = None  #: recorded option, from 0; None without.
    #: forms of a free-form key, the first to be shown; empty otherwise.
    texts: tuple[str, ...] = ()
    reason: str = ""  #: why the prompt cannot be judged; empty if it can.


def keys_of(
    prompts: Sequence[Mapping[str, Any]], choices: ChoiceRows, n_options: int | None
) -> list[Key]:
    """The keys of some prompts.

    Args:
        prompts: rows with ``id``, ``target`` and ``choices``.
        choices: options as models scored them: their number, and which is the target.
        n_options: options of a prompt of which the store does not tell; None: unknown.
    """
    widths = _widths(choices)
    targets = _targets(choices)
    options = [_options(row, widths.get(row["id"], 0)) for row in prompts]
    if n_options is not None:
        options = [of or PromptOptions(n_options) for of in options]
    options_and_targets = [
        (of, row["target"])
        for of, row in zip(options, prompts, strict=True)
        if of is not None
    ]
    base = first_number(
        [of for of, _ in options_and_targets],
        [target for _, target in options_and_targets],
    )
    letters = bool(options_and_targets) or _mostly_letters(
        [row["target"] for row in prompts]
    )
    return [
        _key(
            row,
            None if of is None else replace(of, base=base),
            targets.get(row["id"], ()),
            letters,
        )
        for row, of in zip(prompts, options, strict=True)
    ]


def _mostly_letters(targets: Sequence[str | None]) -> bool:
    """True if targets are letters of options, and not just a few answers of one letter."""
    given = [target for target in targets if target is not None]
    return 2 * sum(map(is_letter, given)) > len(given)


def _options(prompt: Mapping[str, Any], width: int) -> PromptOptions | None:
    texts = option_texts(prompt["choices"])
    if len(texts) >= 2:
        return PromptOptions(
            max(len(texts), width), tuple(texts) if len(texts) >= width else ()
        )
    if width >= 2:
        return PromptOptions(width)
    return None


def _key(
    prompt: Mapping[str, Any],
    options: PromptOptions | None,
    targets: Sequence[int],
    letters: bool,
) -> Key:
    target = prompt["target"]
    if options is None:
        if letters and target is not None and is_letter(target):
            return Key(reason=NO_OPTION_COUNT)
        texts = free_form_keys(target)
        reason = NO_KEY
        if texts:
            reason = ""
        return Key(texts=texts, reason=reason)
    if len(targets) > 1:
        return Key(options, reason=SEVERAL_KEYS)
    if targets:
        return Key(options, targets[0])
    index = options.index_of(target)
    if index is None:
        why = KEY_NO_OPTION
        if target is None:
            why = NO_KEY
        return Key(options, reason=why)
    return Key(options, index)


def _widths(choices: ChoiceRows) -> dict[int, int]:
    """Options of each prompt that models scored."""
    prompts, owners = np.unique(choices.prompts, return_inverse=True)
    most = np.zeros(len(prompts), dtype=np.int64)
    np.maximum.at(most, owners, choices.option + 1)
    return dict(zip(prompts.tolist(), most.tolist(), strict=True))


def _targets(choices: ChoiceRows) -> dict[int, list[int]]:
    """Options of each prompt that a dump calls right."""
    marked = choices.is_target == 1
    targets: dict[int, list[int]] = {}
    if marked.any():
        pairs = np.unique(
            np.stack([choices.prompts[marked], choices.option[marked]], axis=1), axis=0
        )
        for prompt, option in pairs.tolist():
            targets.setdefault(prompt, []).append(option)
    return targets


#: Characters of the longest free-form answer; longer texts are responses, and name no
#: answer.
LONGEST = 200
_LETTER = re.compile(r"\W*([A-Za-z])\W*")
_LETTERED = re.compile(r"\(?([A-Za-z])(?:[).:]\s*\S|\s*[).:]$)")
_DIGITS = re.compile(r"\W*(\d{1,2})\W*")
_NO_PROSE = re.compile(r"[\\^=+*/<>{}\[\]()_|&%]|\s-|-\d")
_MARKED = re.compile(r"(?:####|A:|Answer:|The answer is:?)\s*(\S.*)", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\s*\{")


@dataclass(frozen=True)
class PromptOptions:
    """The options of one prompt."""

    n: int  #: how many there are.
    texts: tuple[str, ...] = ()  #: of each, in order; empty where they are not stored.
    base: int = 0  #: number of the first option, where options are numbers: 0 or 1.

    def index_of(self, text: str | None) -> int | None:
        """The option that a text names, from 0: by its text, its letter (``B``,
        ``(b)``, ``B. Paris``) or its number; None where it names none."""
        if text is None:
            return None
        by_text = self.index_of_text(text)
        if by_text is not None:
            return by_text
        letter = _LETTER.fullmatch(text) or _LETTERED.match(text.strip())
        if letter is not None:
            return self._within(ord(letter[1].upper()) - ord("A"))
        number = _DIGITS.fullmatch(text)
        if number is None:
            return None
        return self._within(int(number[1]) - self.base)

    def index_of_text(self, text: str) -> int | None:
        """The option that says this; None for none."""
        return self._indices.get(_plain(text))

    def name(self, index: int) -> str | None:
        """Letter of an option, with its text where that is stored; None for none."""
        if not 0 <= index < self.n:
            return None
        if index < 26:
            letter = chr(ord("A") + index)
        else:
            letter = f"option {index}"
        text = ""
        if self.texts:
            text = self.texts[index]
        if not text or text == letter:
            return letter
        return f"{letter}. {text}"

    def _within(self, index: int) -> int | None:
        if 0 <= index < self.n:
            return index
        return None

    @cached_property
    def _indices(self) -> dict[str, int]:
        """The first option of each text."""
        return {
            _plain(text): index for index, text in reversed(list(enumerate(self.texts)))
        }


def first_number(options: Sequence[PromptOptions], keys: Sequence[str | None]) -> int:
    """The first number, 0 or 1, of keys that are numbers of options.

    From 1 if one is the number of options of its prompt, and none is 0.
    """
    numbers = []
    for of, key in zip(options, keys, strict=True):
        if key is None or of.index_of_text(key) is not None:
            continue
        digits = _DIGITS.fullmatch(key)
        if digits:
            numbers.append((int(digits[1]), of.n))
    return int(
        any(number == n for number, n in numbers)
        and all(number > 0 for number, _n in numbers)
    )


def is_letter(text: str) -> bool:
    """True if a text is nothing but the letter of an option."""
    return len(text.strip()) <= 3 and _LETTER.fullmatch(text.strip()) is not None


def _boxed(text: str) -> str:
    """The contents of the first box of TeX that ends in its line; the text where there
    is none. Linear in its length."""
    position = 0
    while box := _BOXED.search(text, position):
        end = text.find("\n", box.end())
        position = end
        if end < 0:
            position = len(text)
        closing = text.rfind("}", box.end(), position)
        if closing >= 0:
            return text[box.end() : closing]
    return text


def free_form(text: str | None) -> str | None:
    """A free-form answer in the form that is compared: a number exactly, else words in
    lower case without punctuation; None where there is no answer, or a text too long to
    be one."""
    if text is None:
        return None
    if len(text) <= _SHORT:
        return _form_of_short(text)
    return _form(text)


#: Characters up to which the form of an answer is remembered: many models give the
#: same.
_SHORT = 80


@lru_cache(maxsize=1 << 15)
def _form_of_short(text: str) -> str | None:
    return _form(text)


def _form(text: str) -> str | None:
    stripped = unicodedata.normalize("NFKC", text).strip()
    inner = _boxed(stripped).strip().strip("$").removesuffix(".").strip()
    if not inner or len(inner) > LONGEST:
        return None
    number = number_of_text(inner)
    # Words alone would make "x+1" and "x-1" one answer, and 'A' and 'a' of code.
    if number is not None:
        return str(number)
    if _is_prose(inner):
        return normalised(inner)
    return " ".join(inner.split())


def free_form_keys(target: str | None) -> tuple[str, ...]:
    """The forms of a recorded answer, the first of them to be shown: what the last line
    of a worked solution marks (``#### 18``, ``A: 18``), all of a JSON list of equally
    right ones."""
    if target is None:
        return ()
    last = _MARKED.fullmatch(target.strip().rpartition("\n")[2])
    texts: Iterable[str] = _listed(target) or (last[1] if last else target,)
    return tuple(
        dict.fromkeys(form for text in texts if (form := free_form(text)) is not None)
    )


def _listed(target: str) -> list[str]:
    if not target.lstrip().startswith("["):
        return []
    try:
        parsed = json.loads(target)
    except ValueError:
        return []
    if isinstance(parsed, list):
        return [str(item) for item in parsed]
    return []


def _is_prose(text: str) -> bool:
    """True if punctuation may be left out: a text of words, not a formula or code."""
    return text[0] not in "'\"`" and not _NO_PROSE.search(text)


def _plain(text: str) -> str:
    """A text normalised for comparison: Unicode NFKC, lower case, single blanks."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TextAnswers:
    """Answers in words, one for each draw."""

    prompts: Ints  #: prompt of each, shape (n,).
    runs: Ints  #: run of each, shape (n,).
    #: extracted answer, or the beginning of the response; None where there is none.
    texts: list[str | None]
    values: Floats  #: score of each draw, NaN without, shape (n,).


@dataclass(frozen=True)
class ChoiceRows:
    """Options as runs scored them; the rows of one draw stand together, by option."""

    prompts: Ints  #: prompt of each row, shape (n,).
    runs: Ints  #: run of each row.
    draw: Ints  #: number of the draw that the row is of, ascending from 0.
    option: Ints  #: from 0.
    loglikelihood: Floats  #: nats, NaN if unknown.
    unconditional: Floats  #: nats of the option alone, NaN if unknown.
    n_tokens: Floats  #: NaN if unknown, like the next.
    n_bytes: Floats  #: length of the option.
    is_target: Floats  #: 1, 0, NaN if unknown.


@dataclass(frozen=True)
class LikeliestOptions:
    """The option that a run finds likeliest, one for each draw."""

    prompts: Ints
    runs: Ints
    option: Ints


#: Ways to compare options, as metrics do (``acc``, ``acc_norm``, ``acc_mutual_info``
#: ...).
_MEASURES: tuple[Callable[[ChoiceRows], Floats], ...] = (
    lambda rows: rows.loglikelihood,
    lambda rows: rows.loglikelihood / rows.n_bytes,
    lambda rows: rows.loglikelihood / rows.n_tokens,
    lambda rows: rows.loglikelihood - rows.unconditional,
)


def likeliest_options(
    rows: ChoiceRows, keys: Mapping[int, int], right: Mapping[tuple[int, int], bool]
) -> LikeliestOptions:
    """The likeliest option of each draw, by the measure that the metric's scores agree
    with best.

    Args:
        keys: option of the recorded key by prompt.
        right: whether the metric says that run and prompt are right, where it is all or
            nothing.

    Returns:
        draws with several options, all of them with a likelihood; of equals the first
        option.
    """
    sizes = np.bincount(rows.draw) if len(rows.draw) else np.empty(0, np.int64)
    starts = np.cumsum(sizes) - sizes
    parts: list[LikeliestOptions] = []
    # an empty option has no length: NaN or infinite
    with np.errstate(divide="ignore", invalid="ignore"):
        measured = [
            _best_of(measure(rows), rows, starts, sizes) for measure in _MEASURES
        ]
    runs_of_draws = rows.runs[starts]
    prompts = rows.prompts[starts]
    key = np.array(
        [keys.get(prompt, -9) for prompt in prompts.tolist()], dtype=np.int64
    )
    answers = np.array(
        [
            right.get(pair, np.nan)
            for pair in zip(runs_of_draws.tolist(), prompts.tolist(), strict=True)
        ],
        dtype=float,
    )
    for run in np.unique(runs_of_draws).tolist():
        own = runs_of_draws == run
        chosen = max(
            (best[own] for best in measured),
            key=lambda options: (
                np.sum((options == key[own]) == answers[own]),
                np.sum(options >= 0),
            ),
        )
        kept = chosen >= 0
        parts.append(
            LikeliestOptions(prompts[own][kept], runs_of_draws[own][kept], chosen[kept])
        )
    empty = np.empty(0, np.int64)
    return LikeliestOptions(
        np.concatenate([empty, *(part.prompts for part in parts)]),
        np.concatenate([empty, *(part.runs for part in parts)]),
        np.concatenate([empty, *(part.option for part in parts)]),
    )


def _best_of(values: Floats, rows: ChoiceRows, starts: Ints, sizes: Ints) -> Ints:
    """The option with the largest value in each draw; −1 where there is one option
    only, or a value is unknown."""
    if not len(starts):
        return np.empty(0, np.int64)
    top = np.maximum.reduceat(values, starts)  # NaN where any is
    hits = np.flatnonzero(values == np.repeat(top, sizes))
    draws, first = np.unique(rows.draw[hits], return_index=True)
    best = np.full(len(starts), -1, dtype=np.int64)
    best[draws] = rows.option[hits[first]]
    best[(sizes < 2) | np.isnan(top)] = -1
    return best
