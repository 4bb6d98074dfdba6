"""Keys and passwords that a dump's configuration holds, left out before anything is stored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: What stands in a text in place of a key or password.
MASK = "***"
_NAME = (
    r"(?:api|access|secret|private|subscription)[_-]?key|(?:api|auth|access|bearer|hf|hub|secret)[_-]?token"
    r"|(?:client|api)?[_-]?secret|password|passwd|authorization|credentials?"
)
_NAMED = re.compile(rf"(?:.*[^a-z])?(?:{_NAME})|.+(?:apikey|password)|token", re.IGNORECASE)
#: ``api_key=...``, ``"api_key": "..."`` and ``--api-key ...`` within one text.
_STATED = re.compile(
    rf"((?<![a-z])(?:{_NAME})(?:\s*=\s*[\"']?|[\"']\s*:\s*[\"'])|--(?:[\w-]*-)?(?:{_NAME})\s+)([^\s,;&\"']+)",
    re.IGNORECASE,
)
_USER = re.compile(r"(://)[^/@\s]+@")
#: Keys of usual services, by their looks.
_LOOKS = re.compile(
    r"\b(?:sk|rk|pk)-(?=[\w-]*\d)[\w-]{16,}|\bhf_\w{20,}|\bgh[pousr]_\w{20,}|\bxox[abp]-[\w-]{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|(?<=\bBearer )[\w.~+/=-]{16,}"
)


def without_credentials(value: Any) -> Any:
    """What a dump says of a run without keys and passwords: entries with such a name are left out, and in
    texts :data:`MASK` stands for what is stated as one or looks like one.

    Args:
        value: what JSON can hold; mappings become dictionaries.
    """
    if isinstance(value, str):
        return _masked(value)
    if isinstance(value, Mapping):
        return {
            name: without_credentials(item)
            for name, item in value.items()
            if not (isinstance(name, str) and _is_secret(name, item))
        }
    if isinstance(value, list | tuple):
        return [without_credentials(item) for item in value]
    return value


def _is_secret(name: str, item: Any) -> bool:
    return isinstance(item, str | list | tuple) and _NAMED.fullmatch(name) is not None


def _masked(text: str) -> str:
    text = _STATED.sub(rf"\g<1>{MASK}", _USER.sub(rf"\g<1>{MASK}@", text))
    return _LOOKS.sub(MASK, text)
