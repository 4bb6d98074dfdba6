"""Published figures that are none: over no sample, as nothing was asked, and words
where a number is expected."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from warehouse.errors import InputError
from warehouse.records import Dump, PublishedScore

#: Infinity as a text, which is a figure.
_INFINITE = re.compile(r'"?\s*[+-]?inf(inity)?\s*"?', re.IGNORECASE)
#: Characters of a word that a note shows.
_SHOWN = 40


def drop_unmeasured(dump: Dump, name: str) -> None:
    """Take figures over 0 samples out of a dump, with a note; so also runs of a dump
    without samples that say no more.

    Args:
        dump: as its importer made it.
        name: of the source, for messages.

    Raises:
        InputError: nothing is left.
    """
    of_runs = chain.from_iterable(run.published for run in dump.runs)
    left_out = [item for item in dump.published if item.n == 0]
    left_out += [item for item in of_runs if item.n == 0]
    if not left_out:
        return
    named = []
    for run in dump.runs:
        unmeasured = [item for item in run.published if item.n == 0]
        named += [item.benchmark or run.benchmark for item in unmeasured]
    named += [item.benchmark for item in dump.published if item.n == 0]
    dump.published = _measured(dump.published)
    are_figures_only = isinstance(dump.batches, Sequence) and not dump.batches
    kept = []
    for run in dump.runs:
        published = _measured(run.published)
        says_nothing = are_figures_only and bool(run.published) and not published
        if not says_nothing:
            kept.append(replace(run, published=published))
    if not kept and dump.runs and dump.scan is None:
        raise InputError(
            f"all its {len(left_out)} figures are over 0 samples",
            path=name,
            expected="a figure over at least one sample",
            advice="nothing was asked; leave this file out",
        )
    dump.runs = tuple(kept)
    shown = ", ".join(dict.fromkeys(named))
    dump.notes.append(
        f"{len(left_out)} figures over 0 samples are none, and left out: {shown[:300]}"
    )


def _measured(figures: Sequence[PublishedScore]) -> tuple[PublishedScore, ...]:
    return tuple(item for item in figures if item.n != 0)


def note_words_for_figures(dump: Dump) -> None:
    """Note the published figures that are no numbers: they are kept as texts, and no
    mean counts them."""
    words: dict[str, list[str]] = {}
    for item in (
        *dump.published,
        *chain.from_iterable(run.published for run in dump.runs),
    ):
        if (
            item.value is None
            and item.raw is not None
            and not _INFINITE.fullmatch(item.raw)
        ):
            words.setdefault(item.metric, []).append(item.raw)
    for metric, said in words.items():
        noun = "figure"
        if len(said) > 1:
            noun = "figures"
        dump.notes.append(
            f"{len(said)} published {noun} of {metric!r}, no number "
            f"({said[0][:_SHOWN]!r}): kept as text, in no mean"
        )
