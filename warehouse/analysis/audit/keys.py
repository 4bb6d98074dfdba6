"""The recorded key and the options of each prompt, and why a prompt has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from warehouse.analysis.audit.options import Options, first_number, free_form_keys, is_letter
from warehouse.analysis.audit.stored_answers import ChoiceRows
from warehouse.analysis.selection.prompts import options as option_texts
from warehouse.stats.labels.votes import KEY_NO_OPTION, NO_OPTION_COUNT

NO_KEY = "no key is stored"
SEVERAL_KEYS = "several options are right"


@dataclass(frozen=True)
class Key:
    """What is known of the right answer of one prompt.

    Attributes:
        options: None where answers are free-form, or their number is not known.
        option: recorded option, from 0; None without.
        texts: forms of a free-form key, the first to be shown; empty otherwise.
        reason: why the prompt cannot be judged; empty if it can.
    """

    options: Options | None = None
    option: int | None = None
    texts: tuple[str, ...] = ()
    reason: str = ""


def keys_of(prompts: Sequence[Mapping[str, Any]], choices: ChoiceRows, n_options: int | None) -> list[Key]:
    """The keys of some prompts.

    Args:
        prompts: rows with ``id``, ``target`` and ``choices``.
        choices: options as models scored them: their number, and which is the target.
        n_options: options of a prompt of which the store does not tell; None: unknown.
    """
    widths, targets = _widths(choices), _targets(choices)
    options = [_options(row, widths.get(row["id"], 0)) for row in prompts]
    if n_options is not None:
        options = [of or Options(n_options) for of in options]
    known = [(of, row["target"]) for of, row in zip(options, prompts, strict=True) if of is not None]
    base = first_number([of for of, _ in known], [target for _, target in known])
    letters = bool(known) or _mostly_letters([row["target"] for row in prompts])
    return [
        _key(row, None if of is None else replace(of, base=base), targets.get(row["id"], ()), letters)
        for row, of in zip(prompts, options, strict=True)
    ]


def _mostly_letters(targets: Sequence[str | None]) -> bool:
    """Whether targets are letters of options, and not just a few answers of one letter."""
    known = [target for target in targets if target is not None]
    return 2 * sum(map(is_letter, known)) > len(known)


def _options(prompt: Mapping[str, Any], width: int) -> Options | None:
    texts = option_texts(prompt["choices"])
    if len(texts) >= 2:
        return Options(max(len(texts), width), tuple(texts) if len(texts) >= width else ())
    return Options(width) if width >= 2 else None


def _key(prompt: Mapping[str, Any], options: Options | None, targets: Sequence[int], letters: bool) -> Key:
    target = prompt["target"]
    if options is None:
        if letters and target is not None and is_letter(target):
            return Key(reason=NO_OPTION_COUNT)
        texts = free_form_keys(target)
        return Key(texts=texts, reason="" if texts else NO_KEY)
    if len(targets) > 1:
        return Key(options, reason=SEVERAL_KEYS)
    if targets:
        return Key(options, targets[0])
    place = options.place(target)
    if place is None:
        return Key(options, reason=NO_KEY if target is None else KEY_NO_OPTION)
    return Key(options, place)


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
        pairs = np.unique(np.stack([choices.prompts[marked], choices.option[marked]], axis=1), axis=0)
        for prompt, option in pairs.tolist():
            targets.setdefault(prompt, []).append(option)
    return targets
