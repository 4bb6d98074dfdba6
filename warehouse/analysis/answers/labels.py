"""Stored texts as labels: which classes the targets of a benchmark are, and which of
them an answer names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from string import ascii_uppercase
from typing import Any

from warehouse.analysis.answers.question import CLASSES, NUMBERS
from warehouse.analysis.audit.keys import (
    ChoiceRows,
    PromptOptions,
    free_form,
    free_form_keys,
    keys_of,
)
from warehouse.errors import MisuseError
from warehouse.stats.classification.confusion import class_order
from warehouse.tables.words import excerpt

#: What stands for an answer that names no class; no text of a store holds U+0000.
UNCLEAR = "\0"
#: Classes above which targets are no classification.
MOST_CLASSES = 100
#: Different numbers above which targets are numbers, and no classes.
MOST_NUMBERED_CLASSES = 20
#: Numbers beyond which there is no finite square.
_LARGEST = 1e150
#: Characters of an answer that a message quotes.
_QUOTED = 40


@dataclass(frozen=True)
class Labels:
    """How targets and answers of a benchmark are read."""

    kind: str  #: ``classes`` or ``numbers``.
    targets: Mapping[int, str]  #: label of the target of each prompt, by its id.
    classes: tuple[
        str, ...
    ]  #: the labels that targets have, in order; of numbers none.
    #: options of the prompts whose answers name one of them.
    options: Mapping[int, PromptOptions] = field(default_factory=dict)
    #: label of each option of these prompts.
    option_labels: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    #: label of each form of an answer in words.
    forms: Mapping[str, str] = field(default_factory=dict)
    #: whether classes are places of options whose texts differ from prompt to prompt.
    are_positions: bool = False
    by_letter: bool = (
        False  #: whether a letter is that of an option, whatever options say.
    )
    unused: tuple[str, ...] = ()  #: options that are no prompt's target.
    left_out: Mapping[str, int] = field(default_factory=dict)  #: prompts, by reason.

    def of_option(self, prompt: int, option: int) -> str | None:
        """The label of an option; None where the prompt has no such one."""
        labels = self.option_labels.get(prompt, ())
        if 0 <= option < len(labels):
            return labels[option]
        return None

    def of_text(self, prompt: int, text: str | None) -> str | None:
        """The class that a text names, or `UNCLEAR`; None where there is no text."""
        if text is None or not text.strip():
            return None
        for candidate in (text, _marked(text)):
            if candidate is None:
                continue
            label = self._named(prompt, candidate)
            if label is not None:
                return label
        return UNCLEAR

    def _named(self, prompt: int, text: str) -> str | None:
        options = self.options.get(prompt)
        if options is not None:
            option = None
            if self.by_letter:
                option = _letter(text, options.n)
            if option is None:
                option = options.index_of(text)
            if option is None:
                return None
            return self.of_option(prompt, option)
        return self.forms.get(free_form(text) or "")


def _letter(text: str, n: int) -> int | None:
    """The option of n whose letter a text is, from 0; None where it is none."""
    letter = text.strip().upper()
    if len(letter) == 1 and letter in ascii_uppercase[:n]:
        return ascii_uppercase.index(letter)
    return None


def _marked(text: str) -> str | None:
    """What the last line of a longer answer marks as the answer (``ANSWER: yes``)."""
    last = text.strip().rpartition("\n")[2]
    found = free_form_keys(last)
    if len(found) == 1 and found[0] != free_form(last):
        return found[0]
    return None


def number_in(text: str | None) -> float | None:
    """The number that an answer is; None where it is none, or has no finite square."""
    found = free_form(text)
    if found is None and text is not None:
        found = _marked(text)
    try:
        value = float(Fraction(found or ""))
    except (ValueError, OverflowError, ZeroDivisionError):
        return None
    if abs(value) > _LARGEST:
        return None
    return value


def labels_of(
    name: str,
    prompts: Sequence[Mapping[str, Any]],
    choices: ChoiceRows,
    kind: str | None,
) -> Labels:
    """How the targets of some prompts are read.

    Args:
        name: of the benchmark.
        prompts: rows with ``id``, ``target`` and ``choices``.
        choices: options as models scored them.
        kind: ``classes`` or ``numbers``; None: by what the targets are.

    Raises:
        MisuseError: no targets, or they are no classes and no numbers.
    """
    with_target = [row for row in prompts if row["target"] is not None]
    n_letters = _n_letters(with_target)
    keys = keys_of(prompts, choices, n_letters)
    chosen: list[tuple[Mapping[str, Any], PromptOptions, int]] = []
    for row, key in zip(prompts, keys, strict=True):
        if key.options is None or key.option is None:
            continue
        option = key.option
        if n_letters is not None:
            letter = _letter(row["target"] or "", key.options.n)
            if letter is not None:
                option = letter
        chosen.append((row, key.options, option))
    if not with_target and not chosen:
        raise MisuseError(
            f"no targets are stored for {name}: metrics of classes need stored answers "
            "and targets, scores alone do not tell; ingest a dump, or a mapping with "
            "`target`, that has them"
        )
    if kind != NUMBERS and 2 * len(chosen) >= len(with_target):
        return _of_options(chosen, len(prompts), by_letter=n_letters is not None)
    return _of_words(name, with_target, len(prompts), kind)


def _n_letters(prompts: Sequence[Mapping[str, Any]]) -> int | None:
    """How many options there are, where all targets are letters from A on; None where
    they are other texts."""
    letters = {str(row["target"]).strip().upper() for row in prompts}
    if "A" not in letters or not all(
        len(letter) == 1 and letter in ascii_uppercase for letter in letters
    ):
        return None
    return max(2, *(ascii_uppercase.index(letter) + 1 for letter in letters))


def _of_options(
    chosen: Sequence[tuple[Mapping[str, Any], PromptOptions, int]],
    n_prompts: int,
    *,
    by_letter: bool,
) -> Labels:
    """Classes that are options: by their texts where all prompts offer the same, else
    by their place."""
    options = {row["id"]: of for row, of, _ in chosen}
    shared = _shared_texts(list(options.values()))
    labels: dict[int, tuple[str, ...]] = {}
    for prompt, of in options.items():
        if shared:
            labels[prompt] = tuple(shared[_plain(text)] for text in of.texts)
        else:
            labels[prompt] = tuple(_place(index) for index in range(of.n))
    targets = {row["id"]: labels[row["id"]][option] for row, _, option in chosen}
    left_out = {}
    if n_prompts > len(chosen):
        left_out["have no target that is one of their options"] = n_prompts - len(
            chosen
        )
    names = set(chain.from_iterable(labels.values()))
    return Labels(
        kind=CLASSES,
        targets=targets,
        classes=_in_order(targets.values()),
        options=options,
        option_labels=labels,
        are_positions=not shared or names <= set(ascii_uppercase),
        by_letter=by_letter,
        unused=_in_order(names - set(targets.values())),
        left_out=left_out,
    )


def _shared_texts(options: Sequence[PromptOptions]) -> dict[str, str]:
    """Texts of the options, as the first prompt writes them, by their plain form; empty
    where prompts offer different ones."""
    shared = {_plain(text): text.strip() for text in options[0].texts}
    for of in options:
        own = {_plain(text) for text in of.texts}
        if own != shared.keys() or len(own) != of.n:
            return {}
    return shared


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _place(index: int) -> str:
    if index < len(ascii_uppercase):
        return ascii_uppercase[index]
    return f"option {index + 1}"


def _in_order(labels: Any) -> tuple[str, ...]:
    return tuple(sorted(set(labels), key=class_order))


def _of_words(
    name: str, prompts: Sequence[Mapping[str, Any]], n_prompts: int, kind: str | None
) -> Labels:
    """Targets in words or numbers."""
    forms: dict[int, str] = {}
    shown: dict[str, Counter[str]] = {}
    left_out: Counter[str] = Counter()
    if n_prompts > len(prompts):
        left_out["have no target"] = n_prompts - len(prompts)
    for row in prompts:
        own = free_form_keys(row["target"])
        if len(own) == 1:
            forms[row["id"]] = own[0]
            written = shown.setdefault(own[0], Counter())
            written[_written(row["target"], own[0])] += 1
        elif own:
            left_out["have several right answers"] += 1
        else:
            left_out["have a target that is no short answer"] += 1
    if not forms:
        why = ", ".join(f"{n} {reason}" for reason, n in left_out.items())
        raise MisuseError(f"{name} has no targets that could be counted: {why}")
    if kind == NUMBERS or kind is None and _are_numbers(forms):
        return _of_numbers(name, forms, left_out)
    _refuse_free_text(name, shown, len(forms))
    labels = {form: texts.most_common(1)[0][0] for form, texts in shown.items()}
    targets = {prompt: labels[form] for prompt, form in forms.items()}
    return Labels(
        kind=CLASSES,
        targets=targets,
        classes=_in_order(targets.values()),
        forms=labels,
        left_out=left_out,
    )


def _written(target: str, form: str) -> str:
    """A target as it is shown: a worked solution or a list by what it comes to."""
    text = target.strip()
    if "\n" in text or text.startswith("["):
        return form
    return text


def _are_numbers(forms: Mapping[int, str]) -> bool:
    """Whether targets are numbers of a scale, and no numbers of classes."""
    distinct = set(forms.values())
    if any(number_in(form) is None for form in distinct):
        return False
    return len(distinct) > MOST_NUMBERED_CLASSES or _mostly_unique(
        len(distinct), len(forms)
    )


def _mostly_unique(n_distinct: int, n_prompts: int) -> bool:
    return n_distinct > 2 and 2 * n_distinct > n_prompts


def _of_numbers(name: str, forms: Mapping[int, str], left_out: Counter[str]) -> Labels:
    numbers = {}
    for prompt, form in forms.items():
        if number_in(form) is not None:
            numbers[prompt] = form
    if not numbers:
        raise MisuseError(
            f"no target of {name} is a number (the first: "
            f"{excerpt(next(iter(forms.values())), _QUOTED)!r}); --as classes counts them"
        )
    if len(numbers) < len(forms):
        left_out["have a target that is no number"] += len(forms) - len(numbers)
    return Labels(NUMBERS, numbers, (), left_out=left_out)


def _refuse_free_text(
    name: str, shown: Mapping[str, Counter[str]], n_prompts: int
) -> None:
    """Refuse targets that are free text.

    Raises:
        MisuseError: so many differ that they are no classes.
    """
    n = len(shown)
    if n <= MOST_CLASSES and not _mostly_unique(n, n_prompts):
        return
    first = excerpt(next(iter(next(iter(shown.values())))), _QUOTED)
    raise MisuseError(
        f"{name} has {n} different targets on {n_prompts} prompts (such as {first!r}): "
        "free text is no classification, and has no precision or recall; rank its "
        f"scores: warehouse leaderboard {name}"
    )
