"""Words by which tables call what sums up their rows."""

from __future__ import annotations

import re

_OF_ALL = re.compile(
    r"(?:(?:grand|sub|macro|micro|weighted|overall)[ _-]*)?(?:total|overall|average|avg|mean)"
    r"|all|sum|summary|aggregate",
    re.IGNORECASE,
)


def is_summary(word: object) -> bool:
    """Whether a text is a name for all the others together, such as ``Overall`` or ``macro avg``."""
    return isinstance(word, str) and _OF_ALL.fullmatch(word.strip(" *_:.")) is not None
