"""Whether two texts name one model: a folder and a file seldom write its name alike."""

from __future__ import annotations

import re

_MARKS = re.compile(r"[\W_]+")


def same_model(first: str, second: str) -> bool:
    """Whether two names may mean one model: without case, punctuation and the organisation.

    >>> same_model("openai_o3-mini", "openai/o3-mini"), same_model("o3-mini", "openai/o3-mini")
    (True, True)
    >>> same_model("falcon-7b", "falcon-40b")
    False
    """
    return not _forms(first).isdisjoint(_forms(second))


def disagreement(taken: str, source: str, other: str) -> str:
    """A note on a second name of a model.

    Args:
        taken: the name that is taken.
        source: what gives the other one (``"the folder"``).
        other: that name.
    """
    return f"{source} says that the model is {other!r}, the data say {taken!r}: the latter holds"


def _forms(name: str) -> set[str]:
    """The name, and what follows an organisation in it."""
    text = name.lower()
    rests = (text, text.rpartition("/")[2], text.rpartition("__")[2], text.partition("_")[2])
    return {plain for rest in rests if (plain := _MARKS.sub("", rest))}
